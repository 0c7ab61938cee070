"""Which of several runs is best, and how sure that is: in sentences, and as rows of a table."""

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from .html import number, sentence, signed, some, span
from .metric import tables

CLEAR = 0.01  # of the axis, between the line of the base and that of a run that differs
NAMED = 3  # runs or queries in a sentence


class Standing(NamedTuple):
    """The runs in one measure."""

    measure: str
    scores: dict[str, Any]  # best first
    pairs: dict[tuple[str, str], Any]  # by two runs in either order; empty for one run or query
    base: str  # the run from which the others differ
    other: str  # the run that is compared with the base; empty if there is one run

    @classmethod
    def of(
        cls,
        scores: Mapping[str, Mapping[str, Any]],
        pairs: Iterable[Any],
        choice: Mapping[str, str],
    ) -> "Standing":
        """Return the runs in the chosen measure; what is not chosen is the first or the best."""
        measure = chosen_of(choice, "measure", list(next(iter(scores.values()))))
        best_first = sorted(scores, key=lambda run: -scores[run][measure].value)
        base = chosen_of(choice, "base", best_first)
        other = chosen_of(choice, "other", [run for run in best_first if run != base])
        by_name = {}
        for pair in pairs:
            if pair.measure == measure:
                by_name[pair.system, pair.other] = pair
                by_name[pair.other, pair.system] = pair.turned()
        by_run = {run: scores[run][measure] for run in best_first}
        return cls(measure, by_run, by_name, base, other)

    @property
    def queries(self) -> int:
        """The number of queries in the means."""
        return int(max(score.queries for score in self.scores.values()))

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
        for at, run in enumerate(runs):
            first = 1 + sum(self.differ(run, better) for better in runs[:at])
            last = len(runs) - sum(self.differ(run, worse) for worse in runs[at + 1 :])
            places[run] = span(first, last)
        return places

    def headline(self) -> str:
        """Return which run is best, in a sentence."""
        best, *others = self.scores
        if not others:
            return f"{best} has {self.measure} {number(self.scores[best].value)}."
        if not self.pairs:
            return f"One query cannot tell the {len(self.scores)} runs apart."
        if len(others) == 1:
            return self._headline_on_two(best, others[0])
        alike, unsure, behind = [], [], []
        for run in others:
            if not self.pairs[best, run].differing:
                alike.append(run)
            elif not self.differ(best, run):
                unsure.append(run)
            else:
                behind.append(run)
        if alike == others:
            return f"The {len(self.scores)} runs {self._have_the_same}"
        if not any(self.differ(*pair) for pair in combinations(self.scores, 2)):
            return f"These {self.queries:,} queries cannot tell the {len(self.scores)} runs apart."
        leaders = f"{best} is"
        if alike:
            leaders = f"{listed([best, *alike], most=len(alike) + 1)} are"
        if unsure:
            return f"{leaders} ahead, but {listed(unsure, most=len(unsure))} may be as good."
        if len(behind) == 1:
            return f"{leaders} best: better than {behind[0]}."
        return f"{leaders} best: better than each of the {len(behind)} others."

    def _headline_on_two(self, best: str, other: str) -> str:
        if not self.pairs[best, other].differing:
            return f"{best} and {other} {self._have_the_same}"
        if not self.differ(best, other):
            return f"{best} and {other} cannot be told apart."
        return f"{best} is better than {other}."

    @property
    def _have_the_same(self) -> str:
        return f"have the same {self.measure} in each of {self.queries:,} queries."

    def evidence(self) -> str:
        """Return what the headline stands on, and how many queries would settle it."""
        best, *others = self.winner_first
        score = self.scores[best]
        if not others:
            if score.queries < 2:
                return f"Intervals need more than one query. {by_chance(best, score)}"
            ends = f"95% interval {number(score.low)} to {number(score.high)}"
            return f"{ends}, {score.queries:,} queries. {by_chance(best, score)}"
        other = others[0]
        means = f"{best} has {self.measure} {number(score.value)}"
        means = f"{means}, {other} {number(self.scores[other].value)}"
        if not self.pairs:
            return (
                f"{means}. Intervals and tests need more than one query. {by_chance(best, score)}"
            )
        pair = self.pairs[best, other]
        interval = f"95% interval {signed(pair.low_holm)} to {signed(pair.high_holm)}"
        tested = f"{interval}, {p_text(pair.p_holm)}"
        if self.together > 1:
            tested = f"{tested}, both corrected for {self.together} pairs"
        wins = f"Better on {counted(pair.wins)}"
        counts = f"{wins}, worse on {pair.losses:,}, equal on {pair.ties:,}."
        if pair.wins < pair.losses and pair.difference > 0:
            counts = f"{counts} Its wins weigh more than its losses."
        text = f"{means}: {signed(pair.difference)} ({tested}). {counts}"
        if not self.differ(best, other) and pair.queries_needed:
            about = f"{rounded_up(pair.queries_needed):,} queries (80% power)"
            text = f"{text} To settle a gap this small you need about {about}."
        return f"{text} {by_chance(best, score)}"


def by_chance(run: str, score: Any) -> str:
    """Return what a random order of the documents of a run would have."""
    return f"A random order of the documents of {run} would have {number(score.random_order)}."


def chosen_of(choice: Mapping[str, str], name: str, values: Collection[str]) -> str:
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
    """A warning, and what a link does about it: an option, its word, and the text of the link."""

    text: str
    offer: tuple[str, str, str] | None = None


def missing_remarks(missing: Mapping[str, Sequence[str]], option: str) -> list[Remark]:
    """Return which queries are missing from which runs, and how they count."""
    lacking = {run: queries for run, queries in missing.items() if queries}
    if not lacking:
        return []
    offer = ("missing", "skip", "Compare only the queries that all runs have")
    if len(missing) == 1:
        offer = ("missing", "skip", "Score only the queries that it has")
    one_counts, they_count = "counts as 0", "count as 0"
    if option == "skip":
        offer = ("missing", "empty", "Count them as 0")
        one_counts, they_count = "is skipped", "are skipped"
    (run, queries), *others = lacking.items()
    if others:
        counts = [f"{len(queries):,} from {run}" for run, queries in lacking.items()]
        runs = f"{len(lacking)} runs and {they_count}: {listed(counts, 'runs')}"
        text = f"Queries are missing from {runs}"
    elif len(queries) == 1:
        text = f"One query, {queries[0]}, is missing from {run} and {one_counts}"
    else:
        missed = f"{run} and {they_count}: {some(queries, NAMED)}"
        text = f"{len(queries):,} queries are missing from {missed}"
    return [Remark(sentence(text), offer)]


def tie_remarks(here: Mapping[str, Any], there: Mapping[str, float], measure: str) -> list[Remark]:
    """Return how the scores of runs differ from trec_eval's, which orders tied documents."""
    differing = []
    for run, value in there.items():
        ours, theirs = number(here[run].value), number(value)
        if ours != theirs:
            differing.append(f"{theirs} instead of {ours} for {run}")
    if not differing:
        return []
    scores = listed(differing, "runs")
    text = f"The order of ties matters: trec_eval, which orders by id, has {measure} {scores}."
    return [Remark(text, ("convention", "trec_eval", "Score as trec_eval does"))]


def listed(names: Sequence[str], kind: str = "", most: int = NAMED + 1) -> str:
    """Return names in a sentence; of many the first.

    >>> listed(["a"]), listed(["a", "b"]), listed([*"abcd"]), listed([*"abcde"], "runs")
    ('a', 'a and b', 'a, b, c and d', 'a, b, c and 2 more runs')
    """
    *first, last = names
    if len(names) > most:
        first, last = [*names[:NAMED]], f"{len(names) - NAMED} more {kind}".strip()
    if not first:
        return last
    return f"{', '.join(first)} and {last}"


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


class Axis(NamedTuple):
    """The axis of means; it ends at 0 and 1 unless a mean lies beyond."""

    low: float
    high: float

    @classmethod
    def over(cls, means: Sequence[float], ends: Sequence[float]) -> "Axis":
        """Return an axis that reaches a little beyond means and the ends of intervals."""
        values = [*means, *ends]
        # a value alone has no range, and gets a width too
        margin = (max(values) - min(values) or 0.1) * 0.06
        low = max(min(values) - margin, min(0.0, *means))
        high = min(max(values) + margin, max(1.0, *means))
        return cls(low, high)

    def place(self, value: float) -> float:
        """Return the place of a value as a share of the axis; one beyond is at its end."""
        share = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round values on the axis, with their texts."""
        width = self.high - self.low
        power = 10.0 ** math.floor(math.log10(width / 3))
        step = next(unit * power for unit in (5, 2, 1) if width / (unit * power) >= 3)
        digits = max(0, -math.floor(math.log10(step)))
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [(at * step, f"{at * step + 0.0:.{digits}f}") for at in range(first, last + 1)]


class Row(NamedTuple):
    """A run in the table: its mean, and the interval of its difference from the base."""

    run: str
    place: str
    mean: float
    at: float  # the places of the mean and of the interval's ends on the axis
    interval: tuple[float, float] | None
    kind: str  # "base", "better", "worse" or "open"
    difference: str
    p: str
    exact_p: str


def rows_of(standing: Standing) -> tuple[list[Row], Axis]:
    """Return a row for every run, the best first, and the axis of the means."""
    intervals = {run: _interval(standing, run) for run in standing.scores}
    means = {run: score.value for run, score in standing.scores.items()}
    axis = Axis.over([*means.values()], [*itertools.chain(*intervals.values())])
    base = axis.place(means[standing.base])
    places = standing.places()
    rows = []
    for run, mean in means.items():
        kind, interval = _kind(standing, run), None
        if intervals[run]:
            low, high = map(axis.place, intervals[run])
            # a line that touches that of the base would not differ
            if kind == "worse":
                high = min(high, base - CLEAR)
            if kind == "better":
                low = max(low, base + CLEAR)
            interval = (low, high)
        difference = _difference(standing, run)
        rows.append(Row(run, places[run], mean, axis.place(mean), interval, kind, *difference))
    return rows, axis


def _interval(standing: Standing, run: str) -> tuple[float, ...]:
    """Return the ends of a run's interval: of its mean, or around the base of its difference.

    There are none for the base, nor for a mean of one query.
    """
    score = standing.scores[run]
    if not standing.pairs:
        return tuple(end for end in (score.low, score.high) if not math.isnan(end))
    if run == standing.base:
        return ()
    pair = standing.pairs[run, standing.base]
    base = standing.scores[standing.base].value
    return base + pair.low_holm, base + pair.high_holm


def _kind(standing: Standing, run: str) -> str:
    if not standing.pairs or run == standing.base:
        return "base"
    if not standing.differ(run, standing.base):
        return "open"
    return "better" if standing.pairs[run, standing.base].difference > 0 else "worse"


def _difference(standing: Standing, run: str) -> tuple[str, str, str]:
    """Return how a run differs from the base, p, and p with all its digits."""
    if not standing.pairs:
        return "", "", ""
    if run == next(iter(standing.scores)) == standing.base:
        return "best", "", ""
    if run == standing.base:
        return "–", "", ""
    pair = standing.pairs[run, standing.base]
    return signed(pair.difference), p_text(pair.p_holm), f"p = {pair.p_holm:.6g}"
