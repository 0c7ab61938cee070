"""Compute columns with a row per query, for one or several systems, and scores from these columns.

A query has its numbers of documents and, for every result, its value, the range of the value over
the orders of ties, and the expected value of a random order.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs
from ..inputs.slices import MEAN_OF_SLICES, Slices, Value, slice_name, slices_of
from ..measure.messages import shown
from ..measure.options import Options, between_0_and_1, measure_of, result_name, whole
from ..measure.scoring import discounts, measure_queries, sign
from ..measure.ties import Array, Floats, Mask
from ..scores.means import mean, weights
from ..scores.queries import Notify, describe_queries, measure_rankings
from ..show.tables import Table, count_text, counted_text, interval_text, level_text, number_text
from .significance import Interval, Sample, differences, intervals

COUNTS = ("retrieved", "judged", "relevant")
# Up to this many documents, a search for ties, by sorting, takes less time than scoring them in the
# worst and the best order.
SORTED = 2_000
EXCLUDED = ("excluded retrieved", "excluded judged")  # numbers of documents, with `exclude`
SHOWN = 50  # the most slices in tables and plots
PIECE = 1 << 19  # documents described at a time: few enough that their memory is reused

NO_SLICES = Slices([], np.empty(0, np.int64))

PerQuery = dict[str, Array]  # columns by name, with a row for every query
BySystem = dict[str, PerQuery]


class Score(NamedTuple):
    """A mean over queries, its interval, and figures on ties, judgments and a random order.

    Attributes:
        value: the mean.
        low: the lower end of its confidence interval; nan if there is none.
        high: the upper end.
        standard_error: the standard error of the mean.
        worst: the mean under the worst order of all ties.
        best: the mean under the best order of all ties.
        tied: the number of queries with a value that depends on the order of ties.
        ranked: the number of documents within the cutoff, over all queries.
        unjudged: the number of these that were not judged; an expected number if it depends on the
            order of ties.
        random_order: the expected mean of a random order of the same documents.
        queries: the number of queries in the mean.

    Queries with weight 0, or without a value, are not counted.
    """

    value: float
    low: float
    high: float
    standard_error: float
    worst: float
    best: float
    tied: int
    ranked: int
    unjudged: float
    random_order: float
    queries: int

    def cells(self, level: str, places: int = 4, *, queries: int) -> dict[str, str]:
        """Return the cells of tables by their headings; `queries` are all, in the mean or not."""
        return {
            "queries": counted_text(self.queries, queries),
            "mean": number_text(self.value, places),
            level: interval_text(self.low, self.high, places),
            "random order": number_text(self.random_order, places),
            "standard error": number_text(self.standard_error, places),
            "min–max over tie orders": interval_text(self.worst, self.best, places),
            "queries affected by ties": count_text(self.tied),
            "unjudged": f"{count_text(self.unjudged)} of {count_text(self.ranked)}",
        }


Scores = dict[str, Score]  # by name


def range_text(counts: Collection[int]) -> str:
    """Return numbers of queries as text: one, or a range if they differ.

    >>> range_text([5, 5]), range_text([12, 1000, 7])
    ('5', '7 to 1,000')
    """
    least, most = min(counts), max(counts)
    if least == most:
        return count_text(least)
    return f"{count_text(least)} to {count_text(most)}"


class Slice(NamedTuple):
    """The scores of the queries with the same value of `by`.

    Attributes:
        queries: the number of these queries.
        scores: the scores by name; without an interval if fewer than two of the queries have a
            value.
    """

    queries: int
    scores: Scores

    @property
    def counted(self) -> set[int]:
        """The numbers of queries in the means."""
        return {score.queries for score in self.scores.values()}


class SliceRow(NamedTuple):
    """A slice of a result, or the mean of all, for tables and plots."""

    title: str
    part: Any
    cells: dict[str, Any]  # what names it in machine-readable rows


def slice_rows(result: Any, most: int | None = None) -> list[SliceRow]:
    """Return the slices of a result, at most so many, and then their mean."""
    rows = []
    for value, part in islice(result.slices.items(), most):
        rows.append(SliceRow(slice_name(value), part, {"slice": value}))
    if result.mean_of_slices is not None:
        cells = {"slices": len(result.slices.keys() - {None})}
        rows.append(SliceRow(MEAN_OF_SLICES, result.mean_of_slices, cells))
    return rows


def mean_table(
    headings: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Slice]],
    level: str,
    places: int = 4,
) -> Table:
    """Return a table of means and their intervals; a row begins with its names.

    The number of queries comes before every mean, or, if it is the same, only before the first.
    """
    table = [list(headings), *(list(names) for names, _ in rows)]
    differ = max(len(part.counted) for _, part in rows) > 1
    for measure in rows[0][1].scores:
        has_queries = differ or len(table[0]) == len(headings)
        cells = [["queries", measure, level]]
        for _, part in rows:
            texts = part.scores[measure].cells(level, places, queries=part.queries)
            cells.append([texts["queries"], texts["mean"], texts[level]])
        for row, row_cells in zip(table, cells, strict=True):
            row.extend(row_cells if has_queries else row_cells[1:])
    return table


def plotted_names(measure: str | None, names: Sequence[str]) -> list[str]:
    """Return the results to plot: of a measure, by default the first, or a single one."""
    if measure is None:
        measure = measure_of(names[0])
    plotted = [name for name in names if measure in (name, measure_of(name))]
    if not plotted:
        raise ValueError(f"{shown(measure)} is not in this result, which has {', '.join(names)}")
    return plotted


class Resampling(NamedTuple):
    """The confidence of intervals, and the settings of a comparison's randomization test.

    Attributes:
        confidence: the confidence level of the intervals.
        seed: the random seed of the test; a report has no test.
    """

    confidence: float
    seed: int

    @classmethod
    def parse(cls, confidence: Any, seed: Any = 0) -> "Resampling":
        """Check the options of intervals and tests."""
        return cls(between_0_and_1("confidence", confidence, 0.95), whole("seed", seed, 0))

    @property
    def level(self) -> str:
        """The name of the intervals, such as "95% interval"."""
        return level_text(self.confidence)

    def __str__(self) -> str:
        return f"{self.level}s: Wilson-type t for means, Student's t for differences"


def query_columns(inputs: Inputs, options: Options, notify: Notify) -> PerQuery:
    """Return the columns of a report's table of queries.

    It has `query` only if queries have ids, and `weight` only if there are weights. `ideal`, the
    IDCG at cutoff 1 of all judged documents, is above 0 for queries with relevant documents.
    `notify` is called as in `describe_queries`.
    """
    columns = describe_queries(partial(_describe, options), inputs, options, PIECE, notify)
    weight = weights(inputs.sample_weight, len(columns["ideal"]), columns.get("query"))
    if weight is None:
        return columns
    return {**columns, "weight": weight}


def _describe(options: Options, part: Rankings) -> PerQuery:
    values = measure_rankings(part, options)
    values_by_order = [values]
    if len(part.score) > SORTED or len(part.queries_of_ties()):
        for order in {"worst", "best"} - {options.scoring["ties"]}:
            values_by_order.append(measure_rankings(part, options, ties=order))
    # A random order is the average over all orders of documents with the same score.
    same_scores = np.where(part.score > -np.inf, np.float32(0), np.float32(-np.inf))
    by_chance = measure_rankings(part._replace(score=same_scores), options, ties="average")
    columns: PerQuery = part.counts()
    if part.query_ids is not None:
        columns["query"] = np.fromiter(part.names(), object, part.queries)
    for name, measure, row in options.results:
        columns[name] = values[measure][row]
        by_order = np.stack([by_measure[measure][row] for by_measure in values_by_order])
        # With a negative discount, the best order has the lowest value.
        columns[f"worst {name}"] = by_order.min(axis=0)
        columns[f"best {name}"] = by_order.max(axis=0)
        columns[f"random order {name}"] = by_chance[measure][row]
    for k, unjudged in zip(options.cutoffs, _unjudged(options, part), strict=True):
        columns[result_name("unjudged", k)] = unjudged
    is_judged = columns["retrieved and judged"] == columns["retrieved"]
    columns["all relevant"] = (
        is_judged & (columns["relevant"] == columns["judged"]) & (columns["retrieved"] > 0)
    )
    if part.excluded is not None:
        columns |= dict(zip(EXCLUDED, part.excluded.T, strict=True))
    columns["missing"] = part.missing
    # At a later cutoff, negative gains may outweigh those of relevant documents.
    scoring = {**options.scoring, "measures": ("IDCG",), "cutoffs": (1,), "ideal": "judged"}
    (ideal,) = measure_queries(**part.arrays(), **scoring)["IDCG"]
    columns["ideal"] = ideal * sign(discounts(1, options.log_base, options.discount))
    return columns


def _unjudged(options: Options, part: Rankings) -> Floats:
    """Return the unjudged documents within every cutoff, of shape ``(cutoffs, queries)``."""
    if part.judged is None:
        return np.zeros((len(options.cutoffs), part.queries))
    # Computed as the CG with gain 1 for unjudged documents and 0 for the others.
    arrays = {**part.arrays(), "relevance": np.where(part.judged, 0.0, 1.0), "judged": None}
    # In the best order, unjudged documents rank last among tied ones, since they have no gain.
    ties = options.scoring["ties"]
    ties = {"best": "worst", "worst": "best"}.get(ties, ties)
    scoring = {**options.scoring, "measures": ("CG",), "gain": "linear", "ties": ties}
    return np.asarray(measure_queries(**arrays, **scoring)["CG"])


def query_slices(by: Any, columns: PerQuery) -> Slices:
    """Return the slices of queries, of which there may be none."""
    if by is None:
        return NO_SLICES
    return slices_of(by, columns.get("query"), len(columns["ideal"]))


def slices_in(table: pa.Table) -> Slices:
    """Return the slices in a table of queries, of which there may be none."""
    if "slice" not in table.column_names:
        return NO_SLICES
    return slices_of(table["slice"], None, len(table))


def leave_out_alike(columns: BySystem, options: Options) -> None:
    """Exclude queries that have no value for some system from the means of all.

    A query has no value for a system if the system lacks it and missing queries are skipped, or if
    the system retrieved nothing for it and the ideal depends on the retrieved documents.
    """
    for name in options.names:
        lacking = np.isnan(column_of_systems(columns, name)).any(axis=0)
        for system_columns in columns.values():
            for column in columns_of_values(name):
                system_columns[column] = np.where(lacking, np.nan, system_columns[column])
    if options.missing == "skip":
        # What one system lacks is skipped for all.
        missing = np.any(column_of_systems(columns, "missing"), axis=0)
        for system_columns in columns.values():
            system_columns["missing"] = missing


def column_of_systems(columns: BySystem, name: str) -> Array:
    """Return a column of all systems, with a row for every system."""
    return np.array([system_columns[name] for system_columns in columns.values()])


def array_of(columns: PerQuery, names: Sequence[str]) -> Array:
    """Return columns as an array, with a row for every column."""
    return np.array([columns[name] for name in names])


def lacks_value(columns: PerQuery, names: Sequence[str]) -> Mask:
    """Return for every query whether it lacks a value in one of the results."""
    is_lacking: Mask = np.any(np.isnan(array_of(columns, names)), axis=0)
    return is_lacking


def columns_of_values(name: str) -> list[str]:
    """Return the columns of a result: its values as they are, and for other orders of documents."""
    return [name, f"worst {name}", f"best {name}", f"random order {name}"]


def query_table(columns: PerQuery, slices: Slices) -> pa.Table:
    """Return the table of a report: ids or indices and slices first, missing values as nulls."""
    ids = columns.get("query", np.arange(len(columns["ideal"])))
    hidden = ("query", "ideal", "missing", "retrieved and judged", "all relevant", *EXCLUDED)
    table = {"query": _saved_ids(ids)}
    if slices.values:
        table["slice"] = pa.array(np.array(slices.values, object)[slices.code], from_pandas=True)
    for name, column in columns.items():
        if name not in hidden:
            table[name] = pa.array(column, from_pandas=True)
    return pa.table(table)


def select_present(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return those of the columns that a table has."""
    return table.select([name for name in names if name in table.column_names])


def row_counts(column: pa.ChunkedArray) -> dict[Any, int]:
    """Return the values of a column, and how many rows have them."""
    values, counts = pc.value_counts(column).flatten()
    return dict(zip(values.to_pylist(), counts.to_pylist(), strict=True))


def _saved_ids(ids: Array) -> pa.Array:
    """Return ids as integers of 64 bits if all are, else as text with invalid Unicode escaped."""
    values = ids.tolist()
    kinds = set(map(type, values))
    # Integers may have more bits, and text may be invalid.
    with suppress(OverflowError, UnicodeError, pa.ArrowException):
        if all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds):
            return pa.array(list(map(int, values)), pa.int64())
        if kinds == {str}:
            return pa.array(values, pa.string())
    return pa.array([str(value).encode("utf-8", "backslashreplace").decode() for value in values])


def query_figures(columns: PerQuery, names: Sequence[str]) -> PerQuery:
    """Return the figures of queries that the scores of a system are made of.

    Those of a result have shape ``(10, queries)``. The first row is the value. The others are to be
    summed, and 0 for a query that is not in the mean: the values as they are, in the worst, the
    best and a random order, times the weight; whether the value depends on the order of ties; the
    numbers of ranked and of unjudged documents; 1; and the weight.
    """
    ones = np.ones(len(columns["ideal"]))
    zeros = np.zeros(len(columns["ideal"]))
    weight = columns.get("weight", ones)
    figures: PerQuery = {"ideal": columns["ideal"], "weight": weight}
    retrieved = columns.get("retrieved", zeros)  # 0 for values without rankings
    for name in names:
        _, at, k = name.partition("@")
        ranked = retrieved
        if k:
            # A larger cutoff would not fit into 64 bits.
            ranked = np.minimum(retrieved, min(int(k), 2**62))
        unjudged = columns.get(f"unjudged{at}{k}", zeros)
        values = array_of(columns, columns_of_values(name))
        is_tied = affected_by_ties(values[1], values[2])
        is_counted = ~np.isnan(values[0]) & (weight > 0)
        summed = [*(values * weight), is_tied, ranked, unjudged, ones, weight]
        figures[name] = np.array([values[0], *np.where(is_counted, summed, 0.0)])
    return figures


def score_system(figures: PerQuery, samples: Mapping[str, Sample], confidence: float) -> Scores:
    """Return the scores of a system by name, nan if no query has a value."""
    scores = {}
    for name, sample in samples.items():
        (interval,) = intervals(sample, greatest=greatest_value(name), confidence=confidence)
        scores[name] = make_score(name, figures[name], interval)
    return scores


def samples_of(figures: PerQuery, names: Sequence[str]) -> dict[str, Sample]:
    """Return the values of every result as a sample with one row."""
    return {name: Sample.of(figures[name][:1], figures["weight"]) for name in names}


def make_score(name: str, figures: Floats, interval: Interval) -> Score:
    """Return the score of a system in one result, from its figures and its interval."""
    # So they are summed as by `compute`.
    figures = np.compress(~np.isnan(figures[0]), figures, axis=1)
    with np.errstate(over="ignore"):
        sums = figures[1:].sum(axis=1)
    overflows = ~np.isfinite(sums[:4]) & ~np.isnan(figures[1:5]).all(axis=1)
    for values in figures[1:5][overflows]:
        mean(name, values)  # raises the error
    *means, tied, ranked, unjudged, queries, weight = sums.tolist()
    value, worst, best, random_order = [total / weight if queries else math.nan for total in means]
    return Score(
        value=value,
        low=min(interval.low, value),
        high=max(interval.high, value),
        standard_error=interval.standard_error,
        worst=worst,
        best=best,
        tied=int(tied),
        ranked=int(ranked),
        unjudged=unjudged,
        random_order=random_order,
        queries=int(queries),
    )


def affected_by_ties(worst: Floats, best: Floats) -> Mask:
    """Return for every query whether its value depends on the order of ties."""
    return differences(best, worst) > 0


def greatest_value(name: str) -> float:
    """Return the greatest value that a query can have in a result."""
    return 1.0 if measure_of(name) == "nDCG" else math.inf


def in_slices(figures: PerQuery, slices: Slices) -> Iterator[tuple[Value, PerQuery]]:
    """Yield the figures of every slice, whose queries keep their order."""
    order = np.argsort(slices.code, kind="stable")
    ends = np.bincount(slices.code, minlength=len(slices.values)).cumsum().tolist()
    in_order = {name: values.take(order, axis=-1) for name, values in figures.items()}
    for value, start, end in zip(slices.values, [0, *ends], ends, strict=False):
        yield value, {name: values[..., start:end] for name, values in in_order.items()}
