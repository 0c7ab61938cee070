"""Compute columns with a row per query, for one or several systems, and scores from these columns.

For each query there are its numbers of documents and, for each result, its value, the range of the
value over the orders of ties, and the expected value of a random order. Scores are means over all
queries, or over slices.
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
from ..scores.queries import Notify, describe_queries, measure_rankings, warn_of_predictions
from ..show.tables import Table, count_text, counted_text, interval_text, level_text, number_text
from .significance import Intervals, Sample, differences, intervals

COUNTS = ("retrieved", "judged", "relevant")
ORDERED = ("worst", "best", "random order")  # of documents; each has a column for each result
# Up to this many documents, sorting them is faster than scoring them in the worst and the best order.
SORTED = 2_000
EXCLUDED = ("excluded retrieved", "excluded judged")  # numbers of documents, with `exclude`
SHOWN = 50  # the most slices in tables and plots
PIECE = 1 << 19  # documents described at a time: few enough that their memory is reused

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

    def left_out(self, queries: int) -> int:
        """Return the number of queries that are not in the mean."""
        return queries - self.queries

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


def mean_cells(
    rows: Sequence[tuple[Mapping[str, Score], int]], level: str, places: int = 4
) -> list[list[list[str]]]:
    """Return the cells of means and their intervals: first the headings, then a list for each row.

    Before each mean is the number of its queries; if all measures of a row have the same number,
    only before the first.
    """
    alike = all(len({score.queries for score in scores.values()}) == 1 for scores, _ in rows)

    def columns(at: int) -> list[str]:
        return ["queries", "mean", level] if at == 0 or not alike else ["mean", level]

    names = list(rows[0][0])
    cells = [
        [
            [name if each == "mean" else each for each in columns(at)]
            for at, name in enumerate(names)
        ]
    ]
    for scores, queries in rows:
        of_row = [score.cells(level, places, queries=queries) for score in scores.values()]
        cells.append(
            [[of_score[each] for each in columns(at)] for at, of_score in enumerate(of_row)]
        )
    return cells


def mean_table(
    names: Sequence[Sequence[str]],
    rows: Sequence[tuple[Mapping[str, Score], int]],
    level: str,
    places: int = 4,
) -> Table:
    """Return a table of means and their intervals: names, then the cells of `mean_cells`, the headings first."""
    cells = mean_cells(rows, level, places)
    return [[*name, *chain.from_iterable(row)] for name, row in zip(names, cells, strict=True)]


class Slice(NamedTuple):
    """The scores of the queries with the same value of `by`.

    Attributes:
        queries: the number of these queries.
        scores: the scores by name; without an interval if fewer than two of the queries have a
            value.
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


def query_columns(
    inputs: Inputs, options: Options, notify: Notify = warn_of_predictions
) -> PerQuery:
    """Return the columns of a report's table of queries.

    It has `query` only if queries have ids, and `weight` only if there are weights. `ideal`, the
    highest IDCG of all judged documents, is 0 for queries with no relevant documents. `notify` is
    called as in `describe_queries`.
    """
    columns = describe_queries(partial(_describe, options), inputs, options, PIECE, notify)
    weight = weights(inputs.sample_weight, len(columns["ideal"]), columns.get("query"))
    return columns if weight is None else {**columns, "weight": weight}


def _describe(options: Options, part: Rankings) -> PerQuery:
    measures = tuple(dict.fromkeys([*options.measures, "IDCG"]))
    chosen = options.scoring["ties"]
    may_tie = len(part.score) > SORTED or len(part.queries_of_ties())
    orders = {chosen, "worst", "best"} if may_tie else {chosen}
    by_ties = {
        ties: measure_rankings(part, options, measures=measures, ties=ties) for ties in orders
    }
    found = by_ties[chosen]
    no_order = part._replace(
        score=np.where(part.score > -np.inf, np.float32(0), np.float32(-np.inf))
    )
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
    columns["all relevant"] = (
        is_judged & (columns["relevant"] == columns["judged"]) & (columns["retrieved"] > 0)
    )
    if part.excluded is not None:
        columns |= dict(zip(EXCLUDED, part.excluded.T, strict=True))
    columns["missing"] = part.missing
    ideal = found["IDCG"]
    if (
        options.ideal != "judged" or options.missing == "skip"
    ):  # may be 0 although documents are relevant
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

    A query has no value for a system if the system lacks it and missing queries are skipped, or if
    the system retrieved nothing for it and the ideal depends on the retrieved documents.
    """
    for name in names:
        lacking = np.logical_or.reduce([np.isnan(each[name]) for each in columns.values()])
        if lacking.any():
            for each in columns.values():
                for column in (name, *(f"{order} {name}" for order in ORDERED)):
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
        {
            "query": _saved_ids(ids),
            **{name: pa.array(column, from_pandas=True) for name, column in kept.items()},
        }
    )


def stacked(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return the tables of queries of systems below each other, with the name of the system in the first column."""
    named = [
        each.add_column(0, "system", pa.repeat(system, len(each)))
        for system, each in tables.items()
    ]
    return pa.concat_tables(named, promote_options="default")


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


def query_figures(columns: PerQuery, names: Sequence[str]) -> PerQuery:
    """Return the figures of queries that the scores of a system are made of.

    Those of a result have shape ``(10, queries)``: the value, and nine to be summed, 0 for a query
    that is not in the
    mean: the value and those in the worst, the best and a random order, times the weight; whether
        the value depends on
    the order of ties; the numbers of ranked and of unjudged documents; 1; and the weight.
    """
    figures: PerQuery = {name: columns[name] for name in ("ideal", "weight") if name in columns}
    one, none = np.ones(len(columns["ideal"])), np.zeros(len(columns["ideal"]))
    weight, retrieved = (
        columns.get("weight", one),
        columns.get("retrieved", none),
    )  # 0 for values without rankings
    for name in names:
        _, _, k = name.partition("@")
        orders = [columns[each] for each in (name, *(f"{order} {name}" for order in ORDERED))]
        ranked = np.minimum(retrieved, min(int(k), 2**62)) if k else retrieved
        unjudged = columns.get(result_name("unjudged", int(k) if k else None), none)
        counts = affected_by_ties(orders[1], orders[2]), ranked, unjudged, one, weight
        counted = ~np.isnan(orders[0]) & (weight > 0)
        figures[name] = np.array(
            [orders[0], *np.where(counted, [*(each * weight for each in orders), *counts], 0.0)]
        )
    return figures


def score_system(
    figures: PerQuery, samples: Mapping[str, Sample], confidence: float
) -> dict[str, Score]:
    """Return the scores of a system by name, from its figures and `samples_of` them; nan if no query has a value."""
    return {
        name: score_result(figures, name, sample, confidence) for name, sample in samples.items()
    }


def samples_of(figures: PerQuery, names: Sequence[str]) -> dict[str, Sample]:
    """Return the values of each result as a sample with one row."""
    return {name: Sample.of(figures[name][:1], figures.get("weight")) for name in names}


def score_result(figures: PerQuery, name: str, sample: Sample, confidence: float) -> Score:
    """Return the score of one result."""
    ends = intervals(sample, greatest=greatest_value(name), confidence=confidence)
    return make_scores(name, figures[name][np.newaxis], ends)[0]


def make_scores(name: str, figures: NDArray[np.float64], ends: Intervals) -> list[Score]:
    """Return the score of each system in one result, from its figures; the first intervals are those of the means."""
    if not (valued := ~np.isnan(figures[0, 0])).all():
        figures = np.compress(valued, figures, axis=2)  # summed as by `compute`
    with np.errstate(over="ignore"):
        sums = figures[:, 1:].sum(axis=2)
    scores = []
    of_systems = zip(figures, sums.tolist(), *(each.tolist() for each in ends), strict=False)
    for rows, (*of_orders, tied, ranked, unjudged, queries, weight), *ends_of_mean in of_systems:
        for row, total in zip(rows[1:], of_orders, strict=False):
            if not math.isfinite(total) and not np.isnan(row).all():
                mean(name, row)  # raises the error
        value, worst, best, random_order = (
            each / weight if queries else math.nan for each in of_orders
        )
        low, high, error = (
            math.nan if math.isnan(each) else each for each in ends_of_mean
        )  # one nan, equal to itself
        score = Score(
            value=value,
            low=min(low, value),
            high=max(high, value),
            standard_error=error,
            worst=worst,
            best=best,
            tied=int(tied),
            ranked=int(ranked),
            unjudged=unjudged,
            random_order=random_order,
            queries=int(queries),
        )
        scores.append(score)
    return scores


def affected_by_ties(worst: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each query whether its value depends on the order of ties."""
    return differences(best, worst) > 0


def greatest_value(name: str) -> float:
    """Return the greatest value that a query can have in a result."""
    return 1.0 if measure_of(name) == "nDCG" else math.inf


def in_slices(figures: PerQuery, slices: Slices) -> Iterator[tuple[Value, PerQuery]]:
    """Yield the figures of each slice, whose queries keep their order."""
    order, sizes = (
        np.argsort(slices.code, kind="stable"),
        np.bincount(slices.code, minlength=len(slices.values)),
    )
    in_order = {name: each.take(order, axis=-1) for name, each in figures.items()}
    for value, end, size in zip(
        slices.values, np.cumsum(sizes).tolist(), sizes.tolist(), strict=True
    ):
        yield value, {name: each[..., end - size : end] for name, each in in_order.items()}
