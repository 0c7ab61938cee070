"""Compute columns with a row per query, for one or several systems, and scores from these columns.

For each query there are its numbers of documents and, for each result, its value, the range of the value over the
orders of ties, and the expected value of a random order. Scores are means over all queries, or over slices.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs
from ..inputs.slices import Slices, Value
from ..measure.options import Options, between_0_and_1, measure_of, result_name, whole
from ..measure.scoring import discounts, measure_queries, sign
from ..scores.means import mean, weights
from ..scores.queries import Notify, describe_queries, measure_rankings, warn_unmatched
from ..show.tables import Table, count_text, counted_text, interval_text, level_text, number_text
from .parts import Parts
from .significance import Intervals, differences, intervals

COUNTS = ("retrieved", "judged", "relevant")
# Up to this many documents, sorting them is faster than scoring them in the worst and the best order.
SORTED = 2_000
EXCLUDED = ("excluded retrieved", "excluded judged")  # numbers of documents, with `exclude`
SHOWN = 50  # the most slices in tables and plots
PIECE = 1 << 19  # documents described at a time: few enough that their memory is reused
SLICED = 1 << 14  # approximate number of queries in slices that are computed together, so that arrays stay small

PerQuery = dict[str, NDArray[Any]]  # columns by name, with a row for each query


class Score(NamedTuple):
    """A mean over queries, its confidence interval, and figures on ties, judgments and a random order.

    Attributes:
        value: the mean.
        low: the lower end of its confidence interval; nan if there is none.
        high: the upper end.
        standard_error: the standard error of the mean.
        worst: the mean under the worst order of all ties.
        best: the mean under the best order of all ties.
        tied: the number of queries with a value that depends on the order of ties.
        ranked: the number of documents within the cutoff, over all queries.
        unjudged: the number of these that were not judged; an expected number if it depends on the order of ties.
        random_order: the expected mean of a random order of the same documents.
        queries: the number of queries in the mean; None in a result that an earlier version saved.

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
    random_order: float = math.nan
    queries: int | None = None

    def left_out(self, queries: int) -> int | None:
        """Return the number of queries that are not in the mean."""
        return None if self.queries is None else queries - self.queries

    def cells(self, level: str, places: int = 4, *, queries: int) -> dict[str, str]:
        """Return the cells of tables by their headings; `queries` are all queries, in the mean or not."""
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


def mean_cells(rows: Sequence[tuple[Mapping[str, Score], int]], level: str, places: int = 4) -> list[list[list[str]]]:
    """Return the cells of means and their intervals: first the headings, then a list for each row.

    Before each mean is the number of its queries; if all measures of a row have the same number, only before the first.
    """
    alike = all(len({score.queries for score in scores.values()}) == 1 for scores, _ in rows)

    def columns(at: int) -> list[str]:
        return ["queries", "mean", level] if at == 0 or not alike else ["mean", level]

    names = list(rows[0][0])
    cells = [[[name if each == "mean" else each for each in columns(at)] for at, name in enumerate(names)]]
    for scores, queries in rows:
        of_row = [score.cells(level, places, queries=queries) for score in scores.values()]
        cells.append([[of_score[each] for each in columns(at)] for at, of_score in enumerate(of_row)])
    return cells


def mean_table(
    names: Sequence[Sequence[str]], rows: Sequence[tuple[Mapping[str, Score], int]], level: str, places: int = 4
) -> Table:
    """Return a table of means and their intervals: names, then the cells of `mean_cells`, the headings first."""
    cells = mean_cells(rows, level, places)
    return [[*name, *chain.from_iterable(row)] for name, row in zip(names, cells, strict=True)]


class Slice(NamedTuple):
    """The scores of the queries with the same value of `by`.

    Attributes:
        queries: the number of these queries.
        scores: the scores by name; without an interval if fewer than two of the queries have a value.
    """

    queries: int
    scores: dict[str, Score]


class Resampling(NamedTuple):
    """The confidence of the intervals, and the settings of a comparison's randomization test; a report has no test.

    Attributes:
        confidence: the confidence level of the intervals.
        seed: the random seed of the test.
        exact: whether all permutations were tried.
    """

    confidence: float
    seed: int
    exact: bool = False

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


def query_columns(inputs: Inputs, options: Options, notify: Notify = warn_unmatched) -> PerQuery:
    """Return the columns of a report's table of queries.

    It has `query` only if queries have ids, and `weight` only if there are weights. `ideal`, the highest IDCG of all
    judged documents, is 0 for queries with no relevant documents. `notify` is called as in `describe_queries`.
    """
    columns = describe_queries(partial(_describe, options), inputs, options, PIECE, notify)
    weight = weights(inputs.sample_weight, len(columns["ideal"]), columns.get("query"))
    return columns if weight is None else {**columns, "weight": weight}


def _describe(options: Options, part: Rankings) -> PerQuery:
    measures = tuple(dict.fromkeys([*options.measures, "IDCG"]))
    chosen = options.scoring["ties"]
    may_tie = len(part.score) > SORTED or len(part.queries_of_ties())
    orders = {chosen, "worst", "best"} if may_tie else {chosen}
    by_ties = {ties: measure_rankings(part, options, measures=measures, ties=ties) for ties in orders}
    found = by_ties[chosen]
    no_order = part._replace(score=np.where(part.score > -np.inf, np.float32(0), np.float32(-np.inf)))
    by_chance = measure_rankings(no_order, options, ties="average")
    columns: PerQuery = part.counts()
    if part.query_ids is not None:
        columns["query"] = np.fromiter(part.names(), object, part.queries)
    for name, measure, row in options.results:
        columns[name] = found[measure][row]
        values = np.stack([each[measure][row] for each in by_ties.values()])
        columns[f"worst {name}"], columns[f"best {name}"] = values.min(axis=0), values.max(axis=0)
        columns[f"random order {name}"] = by_chance[measure][row]
    for k, unjudged in zip(options.cutoffs, _unjudged(options, part), strict=True):
        columns[result_name("unjudged", k)] = unjudged
    is_judged = columns["retrieved and judged"] == columns["retrieved"]
    columns["all relevant"] = is_judged & (columns["relevant"] == columns["judged"]) & (columns["retrieved"] > 0)
    if part.excluded is not None:
        columns |= dict(zip(EXCLUDED, part.excluded.T, strict=True))
    columns["missing"] = part.missing
    ideal = found["IDCG"]
    if options.ideal != "judged" or options.missing == "skip":  # may be 0 although documents are relevant
        how = {**options.scoring, "measures": ("IDCG",), "ideal": "judged"}
        ideal = measure_queries(**part.arrays(), **how)["IDCG"]
    columns["ideal"] = (ideal * sign(discounts(1, options.log_base, options.discount))).max(axis=0)
    return columns


def _unjudged(options: Options, part: Rankings) -> NDArray[np.float64]:
    """Return the unjudged documents within each cutoff, of shape ``(cutoffs, queries)``."""
    if part.judged is None:
        return np.zeros((len(options.cutoffs), part.queries))
    # computed as the CG with gain 1 for unjudged documents and 0 for the others
    arrays = {**part.arrays(), "relevance": np.where(part.judged, 0.0, 1.0), "judged": None}
    ties = options.scoring["ties"]
    # in the best order, unjudged documents rank last among tied ones, since they have no gain
    ties = {"best": "worst", "worst": "best"}.get(ties, ties)
    how = {**options.scoring, "measures": ("CG",), "gain": "linear", "ties": ties}
    return np.asarray(measure_queries(**arrays, **how)["CG"])


def leave_out_alike(columns: Mapping[str, PerQuery], names: Sequence[str]) -> None:
    """Exclude queries that have no value for some system from the means of all, so that all have the same queries.

    A query has no value for a system if the system lacks it and missing queries are skipped, or if the system retrieved
    nothing for it and the ideal depends on the retrieved documents.
    """
    for name in names:
        lacking = np.logical_or.reduce([np.isnan(each[name]) for each in columns.values()])
        if lacking.any():
            for each in columns.values():
                for column in (name, f"worst {name}", f"best {name}", f"random order {name}"):
                    each[column] = np.where(lacking, np.nan, each[column])


def with_slices(columns: PerQuery, parts: Slices) -> PerQuery:
    """Return the columns, with the slice of each query as the first one."""
    return {"slice": np.array(parts.values, object)[parts.code], **columns}


def query_table(columns: PerQuery) -> pa.Table:
    """Return the table of a report: ids or indices first, missing values as nulls."""
    ids = columns.get("query", np.arange(len(columns["ideal"])))
    hidden = ("query", "ideal", "missing", "retrieved and judged", "all relevant", *EXCLUDED)
    kept = {name: column for name, column in columns.items() if name not in hidden}
    return pa.table(
        {"query": _saved_ids(ids), **{name: pa.array(column, from_pandas=True) for name, column in kept.items()}}
    )


def _saved_ids(ids: NDArray[Any]) -> pa.Array:
    """Return ids as 64-bit integers if all of them are, else as text with invalid Unicode escaped."""
    values = ids.tolist()
    kinds = set(map(type, values))
    with suppress(OverflowError, UnicodeError, pa.ArrowException):
        if all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds):
            return pa.array(list(map(int, values)), pa.int64())
        if kinds == {str}:
            return pa.array(values, pa.string())
    return pa.array([str(each).encode("utf-8", "backslashreplace").decode() for each in values])


def score_system(
    columns: PerQuery, options: Options, confidence: float, parts: Parts | None = None
) -> list[dict[str, Score]]:
    """Return the scores by name for each part of a system's queries; without parts, for all, or an error."""
    values, weight = np.stack([columns[name] for name in options.names]), columns.get("weight")
    split = Parts([values.shape[1]]) if parts is None else parts
    ends = intervals(values, weight, greatest=greatest_values(options), confidence=confidence, parts=split)
    scores = make_scores(columns, options, ends, split)
    if parts is None:
        for name, score in scores[0].items():
            if not score.queries:
                mean(name, columns[name], weight)  # raises the error
    return scores


def score_slices(parts: Slices, columns: PerQuery, options: Options, confidence: float) -> dict[Value, Slice]:
    """Return the scores of each slice, computed from its queries alone."""
    slices: list[Slice] = []
    for part in in_pieces(parts):
        own = {name: column[part.queries] for name, column in columns.items()}
        scores = score_system(own, options, confidence, part.parts)
        slices += map(Slice, part.parts.sizes.tolist(), scores)
    return dict(zip(parts.values, slices, strict=True))


def make_scores(
    columns: PerQuery, options: Options, ends: Intervals, parts: Parts | None = None
) -> list[dict[str, Score]]:
    """Return the scores by name for each part of the queries, from columns and the intervals of their means."""
    queries, weight = len(columns["ideal"]), columns.get("weight")
    parts = Parts([queries]) if parts is None else parts
    low, high, error = (each.reshape(-1, parts.number) for each in ends)
    scores: list[dict[str, Score]] = [{} for _ in range(parts.number)]
    for at, (name, _, row) in enumerate(options.results):
        k = options.cutoffs[row]
        worst, best = columns[f"worst {name}"], columns[f"best {name}"]
        counted = ~np.isnan(columns[name]) & (True if weight is None else weight > 0)
        none = np.zeros(queries)  # for values without rankings
        retrieved = columns.get("retrieved", none)
        ranked = np.minimum(retrieved, retrieved if k is None else min(k, 2**62))
        value = _means(name, columns[name], weight, counted, parts)
        figures: dict[str, NDArray[Any]] = {
            "value": value,
            "low": np.minimum(value, low[at]),
            "high": np.maximum(value, high[at]),
            "standard_error": error[at],
            "worst": _means(name, worst, weight, counted, parts),
            "best": _means(name, best, weight, counted, parts),
            "tied": parts.sums(affected_by_ties(worst, best) & counted),
            "ranked": parts.sums(np.where(counted, ranked, 0).astype(np.int64)),
            "unjudged": parts.float_sums(columns.get(result_name("unjudged", k), none), counted),
            "random_order": _means(name, columns[f"random order {name}"], weight, counted, parts),
            "queries": parts.sums(counted),
        }
        lists = (plain_list(figures[each]) for each in Score._fields)
        for of_part, score in zip(scores, zip(*lists, strict=True), strict=True):
            of_part[name] = Score._make(score)
    return scores


def affected_by_ties(worst: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each query whether its value depends on the order of ties."""
    return differences(best, worst) > 0


def _means(
    name: str, values: NDArray[np.float64], weight: NDArray[np.float64] | None, counted: NDArray[np.bool_], parts: Parts
) -> NDArray[np.float64]:
    """Return the mean of each part over the queries that have a value; nan if there are none."""
    valued = ~np.isnan(values)
    means = np.full(parts.number, np.nan)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for block in parts.blocks(valued):
            if not block.size:
                continue
            own = values[block.queries]
            if weight is None:
                means[block.parts] = own.mean(axis=1)
            else:
                weights = weight[block.queries]
                means[block.parts] = (own * weights).sum(axis=1) / weights.sum(axis=1)
    has_mean = parts.sums(valued & counted) > 0
    for part in np.flatnonzero(has_mean & ~np.isfinite(means)).tolist():
        queries = slice(parts.first[part], parts.first[part] + parts.sizes[part])
        mean(name, values[queries], None if weight is None else weight[queries])  # raises the error
    return np.where(has_mean, means, np.nan)


def greatest_values(options: Options) -> NDArray[np.float64]:
    """Return the greatest value that a query can have in each result."""
    return np.array([1.0 if measure_of(name) == "nDCG" else np.inf for name in options.names])


class Piece(NamedTuple):
    """Some slices that follow each other."""

    values: list[Value]  # the values of the slices
    queries: NDArray[np.intp]  # all their queries, slice after slice
    parts: Parts  # the slices as parts of these queries


def in_pieces(slices: Slices) -> Iterator[Piece]:
    """Yield slices with their queries; small slices are yielded several at a time."""
    order = np.argsort(slices.code, kind="stable")
    sizes = np.bincount(slices.code, minlength=len(slices.values))
    end = np.cumsum(sizes)
    pieces = np.split(np.arange(len(sizes)), np.flatnonzero(np.diff((end - 1) // SLICED)) + 1)
    for own in pieces:
        first, last = own[0], own[-1]
        yield Piece(slices.values[first : last + 1], order[end[first] - sizes[first] : end[last]], Parts(sizes[own]))


def plain_list(figures: NDArray[Any], missing: float | None = math.nan) -> list[Any]:
    """Return figures as Python numbers, with a single nan object, so that lists with nan compare equal."""
    return [missing if each != each else each for each in figures.tolist()]
