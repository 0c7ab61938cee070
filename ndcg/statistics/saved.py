"""Read results that were saved as JSON: figures are checked and believed; those of 2.x are computed again."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import product
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.slices import Value
from ..measure.arguments import GAINS
from ..measure.messages import shown
from ..measure.options import Options, is_real, measure_of
from ..measure.ties import Floats
from .measured import COUNTS, ORDERED, PerQuery, Resampling, Score
from .pairs import Pair
from .significance import ROUNDING

# Figures of a score that depend on documents, so that the values of queries do not determine them.
OF_DOCUMENTS = ("worst", "best", "tied", "ranked", "unjudged", "random_order")


class OldResultError(ValueError):
    """A result that a version saved which this one does not read."""


@contextmanager
def as_saved(kind: str) -> Iterator[None]:
    """Raise a ValueError, never another error, for values that `to_dict` did not return."""
    try:
        yield
    except OldResultError:
        raise
    except (
        KeyError,
        TypeError,
        AttributeError,
        ValueError,
        OverflowError,
        pa.ArrowException,
    ) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"values must be the result of {kind}.to_dict(), whole and unchanged ({problem})"
        ) from error


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists, with values as float64, and text and counts unchanged."""
    arrays = {}
    for name, values in columns.items():
        place = f"queries: {name}"
        if not isinstance(values, (list, tuple)):
            raise ValueError(f"{place}: must be a list; got {shown(values)}")
        if name in COUNTS:
            arrays[name] = pa.array([saved_count(value, place) for value in values], pa.int64())
        elif name in ("system", "query"):
            kinds = {type(value) for value in values}
            if len(kinds) != 1 or not kinds <= ({str, int} if name == "query" else {str}):
                raise ValueError(
                    f"{place}: must be all strings" + " or all integers" * (name == "query")
                )
            arrays[name] = pa.array(values)
        elif name == "slice":
            arrays[name] = pa.array(values)
        else:
            arrays[name] = pa.array(_saved_numbers(values, place), from_pandas=True)
            if (
                name == "weight"
                and not pc.all(pc.greater_equal(arrays[name], 0), skip_nulls=False).as_py()
            ):
                wrong = next(value for value in values if value is None or value < 0)
                raise ValueError(
                    f"{place}: must be a number that is not negative; got {shown(wrong)}"
                )
    return pa.table(arrays)


def _saved_numbers(values: Sequence[Any], place: str) -> Floats:
    for value in values:
        if type(value) is not float or not math.isfinite(value):
            saved_number(value, place)
    return np.array(values, np.float64)


def saved_number(value: Any, place: str) -> float:
    """Return a saved number, nan for None."""
    if value is None:
        return math.nan
    if not is_real(value) or not math.isfinite(value) or float(value) != value:
        raise ValueError(f"{place}: must be a finite number, or None; got {shown(value)}")
    return float(value)


def saved_count(value: Any, place: str) -> int:
    """Return a saved number of queries or documents."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{place}: must be a count; got {shown(value)}")
    return value


def saved_notes(notes: Any) -> tuple[str, ...]:
    """Return saved notes."""
    if not isinstance(notes, (list, tuple)) or not all(isinstance(each, str) for each in notes):
        raise ValueError(f"notes: must be a list of strings; got {shown(notes)}")
    return tuple(notes)


def saved_signature(signature: Any) -> tuple[str, Options, bool]:
    """Return a saved signature, options with its measures, and whether version 2 wrote it."""
    measures, _, version = (
        signature.partition("|v:") if isinstance(signature, str) else ("", "", "")
    )
    if not version:
        raise ValueError(
            f"signature: must begin with the measures and end with the version; got {shown(signature)}"
        )
    if version.startswith("1."):
        problem = "this version reads results of 2.0 and later"
        raise OldResultError(
            f"values were saved by version {version}; {problem}: score the rankings again"
        )
    return (
        signature,
        Options.parse(measures=measures.split("|")[0].split("+")),
        version.startswith("2."),
    )


def saved_resampling(values: Mapping[str, Any]) -> Resampling:
    """Return the saved options of intervals and tests."""
    if not isinstance(values["exact"], bool):
        raise ValueError(f"resampling: exact: must be True or False; got {shown(values['exact'])}")
    return Resampling.parse(values["confidence"], values["seed"])._replace(exact=values["exact"])


def choices_in(signature: str) -> dict[str, str]:
    """Return the options in a signature by the names that it uses."""
    measures, *options = signature.split("|")
    return {"measures": measures, **dict(each.split(":", 1) for each in options)}


def saved_figures(
    kind: Any, saved: Mapping[str, Any], place: str, names: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the saved figures of a named tuple, all or some; one with a default may be missing."""
    types = _types_of(kind)
    names = names or [name for name in types if name in saved or name not in kind._field_defaults]
    return {name: _saved_figure(saved[name], types[name], f"{place}: {name}") for name in names}


_types_of = cache(get_type_hints)


def _saved_figure(value: Any, kind: Any, place: str) -> Any:
    """Return a saved figure of a type; None is nan where there must be a number."""
    if kind in (str, bool) and type(value) is not kind:
        raise ValueError(f"{place}: must be of type {kind.__name__}; got {shown(value)}")
    if kind in (str, bool) or (value is None and kind in (int | None, float | None)):
        return value
    return saved_count(value, place) if kind in (int, int | None) else saved_number(value, place)


def saved_scores(
    saved: Mapping[str, Any], names: Sequence[str], place: str = "scores"
) -> dict[str, Score]:
    """Return the saved scores of these names."""
    return {name: Score(**saved_figures(Score, saved[name], f"{place}: {name}")) for name in names}


def with_figures_of_documents(
    scores: Mapping[str, Mapping[str, Score]], saved: Mapping[str, Any]
) -> dict[str, dict[str, Score]]:
    """Return the scores of systems with the saved figures that the values of the queries do not determine."""
    read = partial(saved_figures, Score, names=OF_DOCUMENTS)
    return {
        system: {
            name: score._replace(**read(saved[system][name], f"scores: {system}: {name}"))
            for name, score in of_system.items()
        }
        for system, of_system in scores.items()
    }


def saved_pairs(saved: Sequence[Any], expected: Sequence[tuple[str, str, str]]) -> tuple[Pair, ...]:
    """Return saved pairs, which must be those of the expected measures and systems."""
    pairs = tuple(Pair(**saved_figures(Pair, pair, "pairs")) for pair in saved)
    if [pair[:3] for pair in pairs] != expected:
        raise ValueError(
            "pairs: must be those of the measures in the signature and of the systems in queries"
        )
    return pairs


def saved_slices(
    saved: Sequence[Mapping[str, Any]], table: pa.Table
) -> dict[Value, Mapping[str, Any]]:
    """Return what is saved of each slice, by its value; each must have as many rows of queries as it had."""
    sizes = pc.value_counts(table["slice"]).to_pylist() if "slice" in table.column_names else []
    rows = {each["values"]: each["counts"] for each in sizes}
    for each in saved:
        check_row_count(
            each["queries"], rows.get(each["slice"], 0), f"slices: {shown(each['slice'])}"
        )
    return {each["slice"]: each for each in saved}


def check_scores(scores: Mapping[str, Score], columns: PerQuery, place: str = "scores") -> None:
    """Raise an error unless as many queries have a value as each score is the mean of."""
    for name, score in scores.items():
        counted = ~np.isnan(columns[name])
        if "weight" in columns:
            counted &= columns["weight"] > 0
        check_row_count(score.queries, int(np.count_nonzero(counted)), f"{place}: {name}")


def check_row_count(saved: Any, there: int, place: str) -> None:
    """Raise an error unless a saved number of queries is the number of their rows."""
    if saved_count(saved, f"{place}: queries") != there:
        raise ValueError(
            f"{place}: is of {saved} queries, but queries has {there} such rows; rows are missing"
        )


def saved_columns(table: pa.Table, names: Sequence[str], signature: str) -> PerQuery:
    """Return the columns of a saved table; columns that values without rankings do not have are nan."""
    if lacking := [name for name in ("query", *names) if name not in table.column_names]:
        raise ValueError(f"queries: has no column {lacking[0]}")
    ids = table["query"].to_pylist()
    if twice := [query for query, count in Counter(ids).items() if count > 1]:
        raise ValueError(f"queries: query {shown(twice[0])} is given {ids.count(twice[0])} times")
    if "weight" in table.column_names and not any(table["weight"].to_pylist()):
        raise ValueError("queries: weight: is 0 for every query")
    columns = {
        each: table[each].to_numpy().copy()
        for each in table.column_names
        if each not in ("system", "query", "slice")
    }
    for name, order in product(names, ("", *(f"{order} " for order in ORDERED))):
        values = columns.setdefault(f"{order}{name}", np.full(len(table), np.nan))
        outside = (values < 0) | (values > 1 + ROUNDING)
        if measure_of(name) == "nDCG" and outside.any() and _has_bounds(choices_in(signature)):
            at = int(np.flatnonzero(outside)[0])
            raise ValueError(
                f"queries: {order}{name}: query {shown(ids[at])}: must be from 0 to 1; got {values[at]}"
            )
    return {**columns, "ideal": np.ones(len(table))}


def _has_bounds(choices: Mapping[str, str]) -> bool:
    """Return whether an nDCG with the options in a signature is from 0 to 1."""
    is_known = choices.get("gain", "linear") in GAINS and choices.get("empty", "0") in (
        "0",
        "1",
        "nan",
    )
    return is_known and choices.get("negative") != "keep"
