"""Read results that were saved as JSON.

Figures are checked and believed; those that 2.x saved are computed again from the values of the
queries.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from ..inputs.slices import Slices, Value, slices_of
from ..measure.arguments import GAINS
from ..measure.messages import shown
from ..measure.options import Options, is_real, measure_of
from ..measure.ties import Floats
from .measured import COUNTS, PerQuery, Resampling, Score, Scores, columns_of_values, row_counts
from .pairs import Pair
from .significance import ROUNDING

# Figures of a score that depend on documents, so that the values of queries do not determine them.
DOCUMENT_FIGURES = ("worst", "best", "tied", "ranked", "unjudged", "random_order")
Saved = Mapping[str, Any]  # a dict that was saved, or a part of it


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
        raise ValueError(
            f"values must be the result of {kind}.to_dict(), whole and unchanged "
            f"({type(error).__name__}: {error})"
        ) from error


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists: figures as float64, text and counts unchanged."""
    table = {}
    for name, values in columns.items():
        table[name] = _saved_column(name, values, f"queries: {name}")
    return pa.table(table)


def _saved_column(name: str, values: Any, place: str) -> pa.Array:
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"{place}: must be a list; got {shown(values)}")
    kinds = set(map(type, values))
    if name == "query" and kinds not in ({str}, {int}):
        raise ValueError(f"{place}: must be all strings or all integers")
    if name == "system" and kinds != {str}:
        raise ValueError(f"{place}: must be all strings")
    if name in ("query", "system", "slice"):
        return pa.array(values)
    if name in COUNTS:
        return pa.array([saved_count(value, place) for value in values], pa.int64())
    # Nearly all are floats, which this loop passes without a call for each.
    for value in values:
        if type(value) is not float or not math.isfinite(value):
            saved_number(value, place)
    numbers = np.array(values, np.float64)
    is_valid = numbers >= 0
    if name == "weight" and not is_valid.all():
        value = shown(values[is_valid.argmin()])
        raise ValueError(f"{place}: must be a number that is not negative; got {value}")
    return pa.array(numbers, from_pandas=True)


def saved_number(value: Any, place: str) -> float:
    """Return a saved number, nan for None."""
    if value is None:
        return math.nan
    # A float does not hold each integer above 2**53.
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
    if not isinstance(notes, (list, tuple)) or not all(isinstance(note, str) for note in notes):
        raise ValueError(f"notes: must be a list of strings; got {shown(notes)}")
    return tuple(notes)


def saved_signature(signature: Any) -> tuple[str, Options, bool]:
    """Return a saved signature, options with its measures, and whether version 2 wrote it."""
    version = ""
    if isinstance(signature, str):
        _, _, version = signature.partition("|v:")
    if not version:
        raise ValueError(
            "signature: must begin with the measures and end with the version; got "
            f"{shown(signature)}"
        )
    if version.startswith("1."):
        raise OldResultError(
            f"values were saved by version {version}; this version reads results of 2.0 and "
            "later: score the rankings again"
        )
    measures, _, _ = signature.partition("|")
    return signature, Options.parse(measures=measures.split("+")), version.startswith("2.")


def saved_resampling(values: Saved) -> Resampling:
    """Return the saved options of intervals and tests."""
    if not isinstance(values["exact"], bool):
        raise ValueError(f"resampling: exact: must be True or False; got {shown(values['exact'])}")
    return Resampling.parse(values["confidence"], values["seed"])._replace(exact=values["exact"])


def choices_in(signature: str) -> dict[str, str]:
    """Return the options in a signature by the names that it uses."""
    measures, *options = signature.split("|")
    return {"measures": measures, **dict(option.split(":", 1) for option in options)}


def saved_figures(kind: Any, saved: Saved, place: str, names: Iterable[str] = ()) -> dict[str, Any]:
    """Return the saved figures of a named tuple, all or some."""
    types = kind.__annotations__
    return {
        name: _saved_figure(saved[name], types[name], f"{place}: {name}") for name in names or types
    }


def _saved_figure(value: Any, kind: Any, place: str) -> Any:
    """Return a saved figure of a type; None is nan where there must be a number."""
    if kind in (str, bool):
        if type(value) is not kind:
            raise ValueError(f"{place}: must be of type {kind.__name__}; got {shown(value)}")
        return value
    if value is None and kind in (int | None, float | None):
        return None
    if kind in (int, int | None):
        return saved_count(value, place)
    return saved_number(value, place)


def saved_scores(saved: Saved, names: Sequence[str], place: str = "scores") -> Scores:
    """Return the saved scores of these names."""
    return {name: Score(**saved_figures(Score, saved[name], f"{place}: {name}")) for name in names}


def add_figures_of_documents(scores: Mapping[str, Scores], saved: Saved) -> None:
    """Add to the scores of systems the saved figures that depend on documents."""
    for system, system_scores in scores.items():
        for name, score in system_scores.items():
            place = f"scores: {system}: {name}"
            figures = saved_figures(Score, saved[system][name], place, DOCUMENT_FIGURES)
            system_scores[name] = score._replace(**figures)


def saved_pairs(saved: Sequence[Any], expected: Sequence[tuple[str, str, str]]) -> tuple[Pair, ...]:
    """Return saved pairs, which must be those of the expected measures and systems."""
    pairs = tuple(Pair(**saved_figures(Pair, pair, "pairs")) for pair in saved)
    if [pair[:3] for pair in pairs] != expected:
        raise ValueError(
            "pairs: must be those of the measures in the signature and of the systems in queries"
        )
    return pairs


def saved_slices(saved: Sequence[Saved], table: pa.Table) -> dict[Value, Saved]:
    """Return what is saved of every slice, by its value; no row of its queries may be missing."""
    rows: dict[Value, int] = {}
    if "slice" in table.column_names:
        rows = row_counts(table["slice"])
    slices = {}
    for part in saved:
        value = part["slice"]
        check_row_count(part["queries"], rows.get(value, 0), f"slices: {shown(value)}")
        slices[value] = part
    return slices


def slices_in(table: pa.Table) -> Slices | None:
    """Return the slices in a table of queries, if there are any."""
    if "slice" not in table.column_names:
        return None
    return slices_of(table["slice"], None, len(table))


def check_scores(scores: Scores, columns: PerQuery, place: str = "scores") -> None:
    """Raise an error unless every score is the mean of as many queries as have a value."""
    for name, score in scores.items():
        counted = ~np.isnan(columns[name])
        if "weight" in columns:
            counted &= columns["weight"] > 0
        check_row_count(score.queries, int(np.count_nonzero(counted)), f"{place}: {name}")


def check_row_count(saved: Any, there: int, place: str) -> None:
    """Raise an error unless a saved number of queries is the number of their rows."""
    if saved_count(saved, f"{place}: queries") != there:
        raise ValueError(
            f"{place}: the number of queries is {saved}, of their rows {there}; rows are missing"
        )


def saved_columns(table: pa.Table, names: Sequence[str], signature: str) -> PerQuery:
    """Return the columns of a saved table, nan where values without rankings have none."""
    for name in ("query", *names):
        if name not in table.column_names:
            raise ValueError(f"queries: has no column {name}")
    ids = table["query"].to_pylist()
    for query, count in Counter(ids).items():
        if count > 1:
            raise ValueError(f"queries: query {shown(query)} is given {count} times")
    if "weight" in table.column_names and not any(table["weight"].to_pylist()):
        raise ValueError("queries: weight: is 0 for every query")
    columns = {"ideal": np.ones(len(table))}
    for column in table.column_names:
        if column not in ("system", "query", "slice"):
            columns[column] = table[column].to_numpy().copy()
    for name in names:
        for column in columns_of_values(name):
            values = columns.setdefault(column, np.full(len(table), np.nan))
            if measure_of(name) == "nDCG":
                _check_bounds(column, values, ids, signature)
    return columns


def _check_bounds(name: str, values: Floats, ids: Sequence[Any], signature: str) -> None:
    """Raise an error for a saved nDCG that is not from 0 to 1, if its options have these bounds."""
    outside = (values < 0) | (values > 1 + ROUNDING)
    if not outside.any():
        return
    choices = choices_in(signature)
    has_bounds = choices.get("negative") != "keep"
    has_bounds &= choices.get("gain", "linear") in GAINS  # not a gain of the user's own
    has_bounds &= choices.get("empty", "0") in ("0", "1", "nan")
    if has_bounds:
        query = int(outside.argmax())
        raise ValueError(
            f"queries: {name}: query {shown(ids[query])}: must be from 0 to 1; got {values[query]}"
        )
