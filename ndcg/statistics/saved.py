"""Read results that were saved as JSON: figures are checked and believed; those of 2.x are computed again."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product
from types import NoneType
from typing import Any, NamedTuple, get_type_hints

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
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"values must be the result of {kind}.to_dict(), whole and unchanged ({problem})") from error


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
                raise ValueError(f"{place}: must be all strings" + " or all integers" * (name == "query"))
            arrays[name] = pa.array(values)
        elif name == "slice":
            arrays[name] = pa.array(values)
        elif name == "weight":
            arrays[name] = pa.array([saved_weight(value, place) for value in values], pa.float64())
        else:
            arrays[name] = pa.array(saved_numbers(values, place), from_pandas=True)
    return pa.table(arrays)


def saved_numbers(values: Sequence[Any], place: str) -> Floats:
    """Return a column of saved numbers, nan for None."""
    if {float, NoneType}.issuperset(map(type, values)):
        numbers = np.array(values, np.float64)
        if np.count_nonzero(~np.isfinite(numbers)) == values.count(None):
            return numbers
    # Some value is an integer, or is wrong, which the error names.
    return np.array([saved_number(value, place) for value in values], np.float64)


def saved_number(value: Any, place: str) -> float:
    """Return a saved number, nan for None."""
    if value is None:
        return math.nan
    if not is_real(value) or not math.isfinite(value) or float(value) != value:
        raise ValueError(f"{place}: must be a finite number, or None; got {shown(value)}")
    return float(value)


def saved_weight(value: Any, place: str) -> float:
    """Return a saved weight, which no query lacks."""
    if value is None or not saved_number(value, place) >= 0:
        raise ValueError(f"{place}: must be a number that is not negative; got {shown(value)}")
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


class Saved(NamedTuple):
    """How a result was scored, from its signature."""

    signature: str
    options: Options  # with its measures
    is_of_2: bool  # whether version 2 saved it


def saved_signature(signature: Any) -> Saved:
    """Return how a saved result was scored."""
    measures, _, version = signature.partition("|v:") if isinstance(signature, str) else ("", "", "")
    if not version:
        raise ValueError(f"signature: must begin with the measures and end with the version; got {shown(signature)}")
    if version.startswith("1."):
        problem = "this version reads results of 2.0 and later"
        raise OldResultError(f"values were saved by version {version}; {problem}: score the rankings again")
    return Saved(signature, Options.parse(measures=measures.split("|")[0].split("+")), version.startswith("2."))


def saved_resampling(values: Mapping[str, Any]) -> Resampling:
    """Return the saved options of intervals and tests."""
    if not isinstance(values["exact"], bool):
        raise ValueError(f"resampling: exact: must be True or False; got {shown(values['exact'])}")
    return Resampling.parse(values["confidence"], values["seed"])._replace(exact=values["exact"])


def choices_in(signature: str) -> dict[str, str]:
    """Return the options in a signature by the names that it uses."""
    measures, *options = signature.split("|")
    return {"measures": measures, **dict(each.split(":", 1) for each in options)}


def saved_scores(saved: Mapping[str, Any], names: Sequence[str], place: str = "scores") -> dict[str, Score]:
    """Return the saved scores of these names."""
    return {name: saved_figures(Score, saved[name], f"{place}: {name}") for name in names}


def saved_scores_and_pairs(
    saved: Mapping[str, Any],
    systems: Iterable[str],
    names: Sequence[str],
    pairs: Sequence[tuple[str, str, str]],
    place: str = "",
) -> dict[str, Any]:
    """Return the saved scores of systems, and their pairs, which must be those of these measures and systems."""
    scores = {system: saved_scores(saved["scores"][system], names, f"{place}scores: {system}") for system in systems}
    read = tuple(saved_figures(Pair, pair, f"{place}pairs") for pair in saved["pairs"])
    if [pair[:3] for pair in read] != list(pairs):
        raise ValueError(f"{place}pairs: must be those of the measures in the signature and of the systems in queries")
    return {"scores": scores, "pairs": read}


def with_figures_of_documents(results: dict[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison computed again with the saved figures that the values of the queries do not determine."""

    def completed(scores: Mapping[str, Mapping[str, Score]], saved: Mapping[str, Any]) -> dict[str, dict[str, Score]]:
        return {
            system: {name: _with_documents(score, saved[system][name]) for name, score in of_system.items()}
            for system, of_system in scores.items()
        }

    of_slices = {each["slice"]: each["scores"] for each in saved["slices"]}
    slices = {
        value: compared._replace(scores=completed(compared.scores, of_slices[value]))
        for value, compared in results["slices"].items()
    }
    return {**results, "scores": completed(results["scores"], saved["scores"]), "slices": slices}


def _with_documents(score: Score, saved: Mapping[str, Any]) -> Score:
    types = _types_of(Score)
    return score._replace(**{name: _saved_figure(saved[name], types[name], f"scores: {name}") for name in OF_DOCUMENTS})


def saved_figures(kind: Any, saved: Mapping[str, Any], place: str) -> Any:
    """Return a saved named tuple; a figure with a default may be missing, since versions before do not have it."""
    figures = {}
    for name, hint in _types_of(kind).items():
        if name in saved or name not in kind._field_defaults:
            figures[name] = _saved_figure(saved[name], hint, f"{place}: {name}")
    return kind(**figures)


_types_of = cache(get_type_hints)


def _saved_figure(value: Any, hint: Any, place: str) -> Any:
    """Return a saved figure of a type; None is nan where there must be a number."""
    if hint in (str, bool):
        if type(value) is not hint:
            raise ValueError(f"{place}: must be of type {hint.__name__}; got {shown(value)}")
        return value
    if value is None and hint in (int | None, float | None):
        return None
    if hint in (int, int | None):
        return saved_count(value, place)
    return saved_number(value, place)


def saved_slices(saved: Sequence[Mapping[str, Any]], table: pa.Table) -> dict[Value, Mapping[str, Any]]:
    """Return what is saved of each slice, by its value; each must have as many rows of queries as it had."""
    sizes = pc.value_counts(table["slice"]).to_pylist() if "slice" in table.column_names else []
    rows = {each["values"]: each["counts"] for each in sizes}
    for each in saved:
        check_rows(each["queries"], rows.get(each["slice"], 0), f"slices: {shown(each['slice'])}")
    return {each["slice"]: each for each in saved}


def check_scores(scores: Mapping[str, Score], columns: PerQuery, place: str = "scores") -> None:
    """Raise an error unless as many queries have a value as each score is the mean of."""
    for name, score in scores.items():
        counted = ~np.isnan(columns[name])
        if "weight" in columns:
            counted &= columns["weight"] > 0
        check_rows(score.queries, int(np.count_nonzero(counted)), f"{place}: {name}")


def check_rows(saved: Any, there: int, place: str) -> None:
    """Raise an error unless a saved number of queries is the number of their rows."""
    if saved_count(saved, f"{place}: queries") != there:
        raise ValueError(f"{place}: is of {saved} queries, but queries has {there} such rows; rows are missing")


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
        each: table[each].to_numpy().copy() for each in table.column_names if each not in ("system", "query", "slice")
    }
    for name, order in product(names, ("", *(f"{order} " for order in ORDERED))):
        values = columns.setdefault(f"{order}{name}", np.full(len(table), np.nan))
        outside = (values < 0) | (values > 1 + ROUNDING)
        if measure_of(name) == "nDCG" and outside.any() and _has_bounds(choices_in(signature)):
            at = int(np.flatnonzero(outside)[0])
            raise ValueError(f"queries: {order}{name}: query {shown(ids[at])}: must be from 0 to 1; got {values[at]}")
    return {**columns, "ideal": np.ones(len(table))}


def _has_bounds(choices: Mapping[str, str]) -> bool:
    """Return whether an nDCG with the options in a signature is from 0 to 1."""
    is_known = choices.get("gain", "linear") in GAINS and choices.get("empty", "0") in ("0", "1", "nan")
    return is_known and choices.get("negative") != "keep"
