"""Which of several runs is best, and how sure that is: in sentences, and as rows of a table."""

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .files import OFFERS
from .html import listed, number, sentence, signed, span
from .metric import tables
from .picture import Axis
from .reading import LIMITS
from .results import Results, Scores
from .settings import Offer, Words, in_words, said

ORDERS = (OFFERS["score_order"], Offer("score_order", "descending", "The highest score is first"))


class Standing(NamedTuple):
    """The runs in one measure."""

    measure: str
    scores: dict[str, Any]  # best first
    pairs: dict[tuple[str, str], Any]  # by two runs in either order; empty for one run or query
    base: str  # the run from which the others differ
    other: str  # the run that is compared with the base; empty if there is one run

    @classmethod
    def of(cls, scores: Scores, pairs: Iterable[Any], choice: Words) -> "Standing":
        """Return the runs in the chosen measure; what is not chosen is the first or the best."""
        measure = chosen_of(choice, "measure", next(iter(scores.values())))
        best_first = sorted(scores, key=lambda run: -scores[run][measure].value)
        base = chosen_of(choice, "base", best_first)
        rivals = list(best_first)
        rivals.remove(base)
        other = chosen_of(choice, "other", rivals)
        by_name = {}
        for pair in pairs:
            if pair.measure == measure:
                by_name[pair.system, pair.other] = pair
                by_name[pair.other, pair.system] = pair.turned()
        return cls(measure, {run: scores[run][measure] for run in best_first}, by_name, base, other)

    @property
    def together(self) -> int:
        """The number of pairs for which p-values and intervals are corrected."""
        return len(self.pairs) // 2

    @property
    def winner_first(self) -> tuple[str, ...]:
        """The base and the other run, the better first; the only run."""
        return tuple(run for run in self.scores if run in (self.base, self.other))

    def differ(self, one: str, other: str) -> bool:
        """Return whether two runs differ significantly."""
        return bool(self.pairs[one, other].p_holm < tables.SIGNIFICANT)

    def places(self) -> dict[str, str]:
        """Return the places that the runs could have, such as "2–4", by significant differences."""
        runs = list(self.scores)
        if not self.pairs:
            return dict.fromkeys(runs, "")
        places = {}
        for place, run in enumerate(runs):
            first = 1 + sum(self.differ(run, better) for better in runs[:place])
            last = len(runs) - sum(self.differ(run, worse) for worse in runs[place + 1 :])
            places[run] = span(first, last)
        return places

    def headline(self) -> str:
        """Return which run is best, in a sentence."""
        best, *others = self.scores
        if not others:
            return f"{best} has {self.measure} {number(self.scores[best].value)}."
        if not self.pairs:
            return f"One query cannot tell the {len(self.scores)} runs apart."
        as_good = [run for run in others if not self.differ(best, run)]
        if not any(itertools.starmap(self.differ, self.pairs)):
            return f"{listed([*self.scores], 'runs')} cannot be told apart."
        if as_good:
            return f"{best} is ahead, but {listed(as_good, most=len(as_good))} may be as good."
        return f"{best} is better than {listed(others, 'runs')}."

    def evidence(self) -> str:
        """Return what the headline stands on, and how many queries would show the difference."""
        best, *others = self.winner_first
        score = self.scores[best]
        by_chance = number(score.random_order)
        by_chance = f"A random order of the documents of {best} would have {by_chance}."
        if score.queries < 2:
            return f"Intervals and tests need more than one query. {by_chance}"
        if not others:
            ends = f"95% interval {number(score.low)} to {number(score.high)}"
            return f"{ends}, {score.queries:,} queries. {by_chance}"
        other = others[0]
        means = f"{best} has {self.measure} {number(score.value)}"
        means = f"{means}, {other} {number(self.scores[other].value)}"
        pair = self.pairs[best, other]
        interval = f"95% interval {signed(pair.low_holm)} to {signed(pair.high_holm)}"
        tested = f"{interval}, {p_text(pair.p_holm)}"
        if self.together > 1:
            tested = f"{tested}, both corrected for {self.together} pairs"
        wins = f"Better on {counted(pair.wins)}"
        sentences = [
            f"{means}: {signed(pair.difference)} ({tested}).",
            f"{wins}, worse on {pair.losses:,}, equal on {pair.ties:,}.",
        ]
        needed = pair.queries_needed or 0
        # fewer queries suffice only without the correction; so many more say that runs are alike
        if not self.differ(best, other) and pair.queries < needed <= LIMITS.queries:
            about = f"With about {rounded_up(needed):,} queries"
            found = "a test of these two runs alone would find such a difference (80% power)"
            sentences.append(f"{about}, {found}.")
        return " ".join([*sentences, by_chance])


def chosen_of(choice: Words, name: str, values: Collection[str]) -> str:
    """Return what is chosen of some values; else the first, or nothing if there are none."""
    if choice.get(name) in values:
        return choice[name]
    return next(iter(values), "")


def rounded_up(count: int) -> int:
    """Return a number of queries in two digits, rounded up.

    >>> rounded_up(7), rounded_up(213), rounded_up(28_391)
    (7, 220, 29000)
    """
    unit: int = 10 ** max(0, len(f"{count}") - 2)
    return -(-count // unit) * unit


class Remark(NamedTuple):
    """A warning, and what a press does about it."""

    text: str
    offers: tuple[Offer, ...] = ()


def order_remarks(results: Results, base: str) -> list[Remark]:
    """Return what the metric says of scores that seem to be distances, if nobody has said so."""
    remarks = []
    for warning in results.warnings:
        # a comparison names its systems, a report has one run
        text = sentence(in_words(warning, {"predictions": base}))
        offers = tuple(order for order in ORDERS if f'"{said(*order[:2])}"' in text)
        # the metric warns of other things too, which no order mends
        if ORDERS[-1] in offers:
            remarks.append(Remark(text, offers))
    return remarks


def missing_remarks(missing: Mapping[str, Sequence[str]], option: str) -> list[Remark]:
    """Return how many queries are missing from which runs, and how they count."""
    counts = [f"{len(queries):,} from {run}" for run, queries in missing.items() if queries]
    if not counts:
        return []
    counting, offer = (
        "count as 0",
        Offer("missing", "skip", "Score only the queries that all runs have"),
    )
    if option == "skip":
        counting, offer = "are skipped", Offer("missing", "empty", "Count them as 0")
    return [Remark(f"Missing queries {counting}: {listed(counts, 'runs')}.", (offer,))]


def counted(queries: int) -> str:
    """Return a number of queries.

    >>> counted(1), counted(2000)
    ('1 query', '2,000 queries')
    """
    if queries == 1:
        return "1 query"
    return f"{queries:,} queries"


def p_text(p: float) -> str:
    """Return a p-value in two digits; in more if they show on which side of 0.05 it is.

    >>> p_text(1.0), p_text(0.0214), p_text(0.04997), p_text(2e-5)
    ('p > 0.99', 'p = 0.021', 'p = 0.04997', 'p < 0.001')
    """
    if p < 0.001:
        return "p < 0.001"
    # "p = 1" looks like certainty, or like a fault
    if p > 0.99:
        return "p > 0.99"
    digits = 2
    # 0.04997 would round to the threshold, as if it were not significant
    while (float(f"{p:.{digits}g}") < tables.SIGNIFICANT) != (p < tables.SIGNIFICANT):
        digits += 1
    return f"p = {p:.{digits}g}"


# --- The table ---------------------------------------------------------------------------------


class Row(NamedTuple):
    """A run in the table: its mean, and the interval of its difference from the base."""

    run: str
    place: str
    mean: float
    kind: str = "base"  # or "better", "worse", "open"
    interval: tuple[float, ...] = ()  # its ends: of the mean, or of the difference around the base
    difference: str = ""
    p: str = ""
    exact_p: str = ""


def rows_of(standing: Standing) -> tuple[list[Row], Axis]:
    """Return a row for every run, the best first, and the axis of the means.

    The ends of intervals are shares of the axis.
    """
    rows: list[Row] = []
    means: list[float] = []
    ends: list[float] = []
    for run, place in standing.places().items():
        row = _row(standing, run, place)
        rows.append(row)
        means.append(row.mean)
        ends += row.interval
    axis = axis_over(means, ends)
    for at, row in enumerate(rows):
        interval = np.clip(list(map(axis.place, row.interval)), 0.0, 1.0)
        rows[at] = row._replace(interval=tuple(interval.tolist()))
    return rows, axis


def axis_over(means: Sequence[float], ends: Sequence[float]) -> Axis:
    """Return an axis that reaches a little beyond means and the ends of intervals.

    It ends at 0 and 1 unless a mean lies beyond.
    """
    values = [*means, *ends]
    # a value alone has no range, and gets a width too
    margin = (max(values) - min(values) or 0.1) * 0.06
    low = max(min(values) - margin, min(0.0, *means))
    high = min(max(values) + margin, max(1.0, *means))
    return Axis(low, high)


def _row(standing: Standing, run: str, place: str) -> Row:
    score, base = standing.scores[run], standing.scores[standing.base]
    row = Row(run, place, score.value)
    if not standing.pairs:
        # a single query has no interval
        if math.isnan(score.low):
            return row
        return row._replace(interval=(score.low, score.high))
    if run == standing.base:
        return row._replace(difference="–")
    pair = standing.pairs[run, standing.base]
    kind = "open"
    if standing.differ(run, standing.base):
        kind = "better" if pair.difference > 0 else "worse"
    return row._replace(
        kind=kind,
        interval=(base.value + pair.low_holm, base.value + pair.high_holm),
        difference=signed(pair.difference),
        p=p_text(pair.p_holm),
        exact_p=f"p = {pair.p_holm:.6g}",
    )
