"""Read results that were saved as JSON.

Figures are checked and believed; what 2.x saved is computed again from the values of the queries.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Self

import numpy as np
import pyarrow as pa

from ..inputs.slices import Value
from ..measure.arguments import GAINS
from ..measure.messages import in_place, shown
from ..measure.options import Options, measure_of, real
from ..measure.ties import Floats
from ..show.json_types import without_nan
from ..show.tables import Readable
from .measured import COUNTS, PerQuery, Resampling, Score, Scores, columns_of_values, row_counts
from .significance import ROUNDING

# Figures of a score that depend on documents, so that the values of queries do not determine them.
DOCUMENT_FIGURES = ("worst", "best", "tied", "ranked", "unjudged", "random_order")
# The ends of figures that are not any number.
RANGES = {
    **dict.fromkeys(("p", "p_holm", "p_t", "p_t_holm"), (0.0, 1.0)),
    **dict.fromkeys(("standard_error", "degrees_of_freedom", "min_detectable"), (0.0, math.inf)),
}
# The types of values in columns of queries; other columns hold figures.
FIGURE_TYPES = {float, int, NoneType}
QUERY_TYPES: dict[str, set[type]] = {
    "query": {str, int},
    "system": {str},
    "slice": {str, int, bool, NoneType},
    "weight": {float, int},
    **{name: {int} for name in COUNTS},
}
NAMES_IN_ROWS = ("query", "system", "slice")
# The types of columns other than float64; None for that of the values.
ARROW_TYPES: dict[str, pa.DataType | None] = {
    **dict.fromkeys(NAMES_IN_ROWS),
    **dict.fromkeys(COUNTS, pa.int64()),
}
# The errors that reading values raises which `to_dict` did not return.
WRONG_VALUES = (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException)
Saved = Mapping[str, Any]  # a dict that was saved, or a part of it
# Versions that give the same scores (docs/upgrade.md), so that their results can be compared.
SAME_SCORES = ("2.0.", "2.1.", "3.0.")


class Evaluation(Readable):
    """A report or a comparison: it is shown as tables and saved as JSON."""

    queries: pa.Table
    slices: dict[Value, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the report or comparison as a dict of JSON types."""
        slices = [{"slice": value, **part._asdict()} for value, part in self.slices.items()]
        saved = without_nan({**vars(self), "queries": None, "slices": slices})
        # The values of the queries are of JSON types already.
        return {**saved, "queries": self.queries.to_pydict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the report or comparison that `to_dict` was called on.

        What any 2.x or 3.x saved is read. Means, intervals, pairs and slices that 2.x saved are
        computed again from the values of the queries, except for the figures of a comparison's
        scores that depend on documents.

        Raises:
            ValueError: an entry is missing, or has another type or range, or rows of queries are
                missing; names the entry. Another version saved the values; names it.
        """
        try:
            signature = values["signature"]
            options = saved_options(signature)
            queries = table_from_lists(values["queries"])
            saved = values["resampling"]
            resampling = Resampling.parse(saved["confidence"], saved["seed"])
            shared = {"signature": signature, "queries": queries, "resampling": resampling}
            shared["notes"] = saved_notes(values["notes"])
            return cls(**shared, **cls._read(values, options, queries, resampling))
        except WRONG_VALUES as error:
            raise ValueError(
                f"values must be the result of {cls.__name__}.to_dict(), whole and unchanged "
                f"({type(error).__name__}: {error})"
            ) from error

    @classmethod
    def _read(
        cls, values: Saved, options: Options, queries: pa.Table, resampling: Resampling
    ) -> dict[str, Any]:
        """Return the other fields of a saved result, checked against the values of the queries."""
        raise NotImplementedError


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists: figures as float64, text and counts unchanged."""
    table = {}
    for name, values in columns.items():
        with in_place(f"queries: {name}"):
            table[name] = _saved_column(name, values)
    return pa.table(table)


def _saved_column(name: str, values: Any) -> pa.Array:
    others = set(map(type, values)) - QUERY_TYPES.get(name, FIGURE_TYPES)
    if others:
        raise ValueError(
            f"must have no values of type {', '.join(sorted(kind.__name__ for kind in others))}"
        )
    column = pa.array(values, ARROW_TYPES.get(name, pa.float64()))
    if name in NAMES_IN_ROWS:
        return column
    numbers = column.drop_null().cast(pa.float64()).to_numpy()
    is_valid = np.isfinite(numbers)
    if name in QUERY_TYPES:
        is_valid &= numbers >= 0
    if not is_valid.all():
        raise ValueError(
            f"must be finite, and of weights and counts not negative; got {numbers[~is_valid][0]}"
        )
    return column


def saved_number(value: Any, place: str) -> float:
    """Return a saved number, nan for None."""
    if value is None:
        return math.nan
    if not math.isfinite(real(value)):
        raise ValueError(f"{place}: must be a finite number, or None; got {shown(value)}")
    return float(value)


def saved_count(value: Any, place: str) -> int:
    """Return a saved number of queries or documents."""
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(f"{place}: must be a count; got {shown(value)}")
    return value


def saved_notes(notes: Any) -> tuple[str, ...]:
    """Return saved notes."""
    if not isinstance(notes, (list, tuple)) or not all(isinstance(note, str) for note in notes):
        raise ValueError(f"notes: must be a list of strings; got {shown(notes)}")
    return tuple(notes)


def version_in(signature: str) -> str:
    """Return the version in a signature; empty if there is none."""
    return signature.partition("|v:")[2].partition("|")[0]


def saved_options(signature: str) -> Options:
    """Return options with the measures of a saved signature."""
    version = version_in(signature)
    if not version.startswith(("2.", "3.")):
        raise ValueError(
            f"signature: the version is {shown(version)}; this version reads results of 2.x and "
            "3.x: score the rankings again"
        )
    measures, _, _ = signature.partition("|")
    return Options.parse(measures=measures.split("+"))


def choices_in(signature: str) -> dict[str, str]:
    """Return the options in a signature by name; versions with the same scores are one."""
    measures, *options = signature.split("|")
    choices = {"measures": measures, **dict(option.split(":", 1) for option in options)}
    if choices["v"].startswith(SAME_SCORES):
        choices["v"] = "2.0 to 3.0"
    return choices


def saved_figures(kind: Any, saved: Saved, place: str, names: Iterable[str]) -> dict[str, Any]:
    """Return the saved figures of a named tuple of these names."""
    types = kind.__annotations__
    figures = {}
    for name in names:
        figure = _saved_figure(saved[name], types[name], f"{place}: {name}")
        least, greatest = RANGES.get(name, (-math.inf, math.inf))
        if real(figure) < least or real(figure) > greatest:
            raise ValueError(f"{place}: {name}: must be from 0 to {greatest:g}; got {figure}")
        figures[name] = figure
    return figures


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
    scores = {}
    for name in names:
        figures = saved_figures(Score, saved[name], f"{place}: {name}", Score._fields)
        scores[name] = Score(**figures)
    return scores


def check_counted(scores: Scores, columns: PerQuery, place: str) -> None:
    """Raise an error unless every score is the mean of as many queries as have a value."""
    for name, score in scores.items():
        counted = ~np.isnan(columns[name]) & (columns.get("weight", 1) > 0)
        check_row_count(score.queries, int(np.count_nonzero(counted)), f"{place}: {name}")


def add_figures_of_documents(scores: Mapping[str, Scores], saved: Saved) -> None:
    """Add to the scores of systems the saved figures that depend on documents."""
    for system, system_scores in scores.items():
        for name, score in system_scores.items():
            place = f"scores: {system}: {name}"
            figures = saved_figures(Score, saved[system][name], place, DOCUMENT_FIGURES)
            system_scores[name] = score._replace(**figures)


def saved_slices(saved: Saved, table: pa.Table, read: Callable[[Saved], Any]) -> dict[str, Any]:
    """Return the saved slices, by their values, and their mean; no row may be missing."""
    rows: dict[Value, int] = {}
    if "slice" in table.column_names:
        rows = row_counts(table["slice"])
    slices = {}
    named = 0
    for part in saved["slices"]:
        value = part["slice"]
        check_row_count(part["queries"], rows.get(value, 0), f"slices: {shown(value)}")
        slices[value] = read(part)
        if value is not None:
            named += part["queries"]
    mean = saved["mean_of_slices"]
    if mean is not None:
        check_row_count(mean["queries"], named, "mean_of_slices")
        mean = read(mean)
    return {"slices": slices, "mean_of_slices": mean}


def check_row_count(saved: Any, there: int, place: str) -> None:
    """Raise an error unless a saved number of queries is the number of their rows."""
    if saved_count(saved, f"{place}: queries") != there:
        raise ValueError(
            f"{place}: the number of queries is {saved}, of their rows {there}; rows are missing"
        )


def saved_columns(table: pa.Table, names: Sequence[str], signature: str) -> PerQuery:
    """Return the columns of a saved table, nan where values without rankings have none."""
    table.select(names)  # raises an error if one is lacking
    ids = table["query"].to_pylist()
    if len(set(ids)) < len(ids):
        ((query, count),) = Counter(ids).most_common(1)
        raise ValueError(f"queries: query {shown(query)} is given {count} times")
    if "weight" in table.column_names and not any(table["weight"].to_pylist()):
        raise ValueError("queries: weight: is 0 for every query")
    columns = {"ideal": np.ones(len(table))}
    for column in {*table.column_names}.difference(NAMES_IN_ROWS):
        columns[column] = table[column].to_numpy().copy()
    for name in names:
        for column in columns_of_values(name):
            values = columns.setdefault(column, np.full(len(table), np.nan))
            if measure_of(name) == "nDCG":
                _check_bounds(column, values, ids, signature)
    return columns


def _has_bounds(signature: str) -> bool:
    """Return whether an nDCG with these options cannot be below 0 or above 1."""
    choices = choices_in(signature)
    if choices.get("negative") == "keep" or choices.get("empty", "0") not in ("0", "1", "nan"):
        return False
    return choices.get("gain", "linear") in GAINS  # no gain that a user defined


def _check_bounds(name: str, values: Floats, ids: Sequence[Any], signature: str) -> None:
    """Raise an error for a saved nDCG that is not from 0 to 1, if its options have these bounds."""
    outside = (values < 0) | (values > 1 + ROUNDING)
    if outside.any() and _has_bounds(signature):
        query = int(outside.argmax())
        raise ValueError(
            f"queries: {name}: query {shown(ids[query])}: must be from 0 to 1; got {values[query]}"
        )
