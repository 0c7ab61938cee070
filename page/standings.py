"""Which of several runs is best, and how sure that is: in sentences, and as rows of a table."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from .html import number, sentence, signed
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
        measures = list(next(iter(scores.values())))
        measure = choice["measure"] if choice.get("measure") in measures else measures[0]
        best_first = sorted(scores, key=lambda run: -scores[run][measure].value)
        base = choice["base"] if choice.get("base") in scores else best_first[0]
        others = [run for run in best_first if run != base]
        other = choice["other"] if choice.get("other") in others else next(iter(others), "")
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
        """Return the places that each run could have, such as "2–4", by significant differences."""
        runs = list(self.scores)
        places = {}
        for at, run in enumerate(runs):
            first = 1 + sum(self.differ(run, better) for better in runs[:at])
            last = len(runs) - sum(self.differ(run, worse) for worse in runs[at + 1 :])
            places[run] = f"{first}" if first == last else f"{first}–{last}"
        return places

    def headline(self) -> str:
        """Return which run is best, in a sentence."""
        best, *others = self.scores
        if not others:
            return f"{best} has {self.measure} {number(self.scores[best].value)}."
        if not self.pairs:
            return f"One query cannot tell the {len(self.scores)} runs apart."
        alike = [run for run in others if not self.pairs[best, run].differing]
        unsure = [run for run in others if run not in alike and not self.differ(best, run)]
        behind = [run for run in others if run not in alike and run not in unsure]
        if len(alike) == len(others):
            runs = f"The {len(self.scores)} runs"
            if len(others) == 1:
                runs = f"{best} and {others[0]}"
            return f"{runs} have the same {self.measure} in each of {self.queries:,} queries."
        if len(others) == 1 and unsure:
            return f"{best} and {others[0]} cannot be told apart."
        if len(others) == 1:
            return f"{best} is better than {others[0]}."
        if not any(self.differ(*pair) for pair in combinations(self.scores, 2)):
            runs = f"the {len(self.scores)} runs"
            return f"These {self.queries:,} queries cannot tell {runs} apart."
        leaders = listed([best, *alike])
        are = "are" if alike else "is"
        if unsure:
            return f"{leaders} {are} ahead, but {listed(unsure)} may be as good."
        than = f"each of the {len(behind)} others" if len(behind) > 1 else behind[0]
        return f"{leaders} {are} best: better than {than}."

    def evidence(self) -> str:
        """Return what the headline stands on, and how many queries would settle it."""
        best, *others = self.winner_first
        score = self.scores[best]
        if not others:
            by_chance = (
                f"A random order of the same documents would have {number(score.random_order)}."
            )
            if score.queries < 2:
                return f"Intervals need more than one query. {by_chance}"
            ends = f"95% interval {number(score.low)} to {number(score.high)}"
            return f"{ends}, {score.queries:,} queries. {by_chance}"
        other = others[0]
        means = (
            f"{best} has {self.measure} {number(score.value)}, "
            f"{other} {number(self.scores[other].value)}"
        )
        if not self.pairs:
            return f"{means}. Intervals and tests need more than one query."
        pair = self.pairs[best, other]
        interval = f"95% interval {signed(pair.low_holm)} to {signed(pair.high_holm)}"
        corrected = f", both corrected for {self.together} pairs" if self.together > 1 else ""
        tested = f"{interval}, {p_text(pair.p_holm)}{corrected}"
        counts = (
            f"Better on {counted(pair.wins)}, worse on {pair.losses:,}, equal on {pair.ties:,}."
        )
        sentence = f"{means}: {signed(pair.difference)} ({tested}). {counts}"
        if self.differ(best, other):
            return sentence
        return f"{sentence} {needed(pair)}".strip()


def needed(pair: Any) -> str:
    """Return how many queries would settle a gap that is not significant."""
    if not pair.queries_needed:
        return ""
    about = rounded_up(pair.queries_needed)
    return f"To settle a gap this small you need about {about:,} queries."


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
    is_skipped = option == "skip"
    (run, queries), *others = lacking.items()
    if others:
        counts = listed([f"{len(each):,} from {name}" for name, each in lacking.items()], "runs")
        count = "are skipped" if is_skipped else "count as 0"
        text = f"Queries are missing from {len(lacking)} runs and {count}: {counts}."
    elif len(queries) == 1:
        counts = "is skipped" if is_skipped else "counts as 0"
        text = f"One query, {queries[0]}, is missing from {run} and {counts}."
    else:
        counts = "are skipped" if is_skipped else "count as 0"
        some = ", ".join(queries[:NAMED]) + (", …" if len(queries) > NAMED else "")
        text = sentence(f"{len(queries):,} queries are missing from {run} and {counts}: {some}")
    if is_skipped:
        return [Remark(text, ("missing", "empty", "Count them as 0"))]
    does = "Score only the queries that it has"
    if len(missing) > 1:
        does = "Compare only the queries that all runs have"
    return [Remark(text, ("missing", "skip", does))]


def tie_remarks(here: Mapping[str, Any], there: Mapping[str, float], measure: str) -> list[Remark]:
    """Return how the scores of runs differ from those of trec_eval, which orders tied documents."""
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


def listed(names: Sequence[str], what: str = "") -> str:
    """Return names in a sentence; of many the first.

    >>> listed(["a"]), listed(["a", "b"]), listed([*"abcd"]), listed([*"abcde"], "runs")
    ('a', 'a and b', 'a, b, c and d', 'a, b, c and 2 more runs')
    """
    some = list(names)
    if len(names) > NAMED + 1:
        some = [*names[:NAMED], f"{len(names) - NAMED} more {what}".strip()]
    *first, last = some
    return f"{', '.join(first)} and {last}" if first else last


def counted(queries: int) -> str:
    """Return a number of queries.

    >>> counted(1), counted(2000)
    ('1 query', '2,000 queries')
    """
    return f"{queries:,} {'query' if queries == 1 else 'queries'}"


def p_text(p: float) -> str:
    """Return a p-value in two digits; in more if they show on which side of 0.05 it is.

    >>> p_text(1.0), p_text(0.0214), p_text(0.04997), p_text(2e-5)
    ('p = 1', 'p = 0.021', 'p = 0.04997', 'p < 0.001')
    """
    if p < 0.001:
        return "p < 0.001"
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    is_significant = p < tables.SIGNIFICANT
    return f"p = {next(t for t in texts if (float(t) < tables.SIGNIFICANT) == is_significant)}"


# --- The table ---------------------------------------------------------------------------------


class Axis(NamedTuple):
    """The axis of means; it ends at 0 and 1 unless a mean lies beyond."""

    low: float
    high: float

    @classmethod
    def over(cls, means: Sequence[float], ends: Sequence[float]) -> "Axis":
        """Return an axis that reaches a little beyond means and the ends of intervals."""
        values = [*means, *ends]
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
        """Round values on the axis, each with its text."""
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


def rows_of(standing: Standing) -> tuple[list[Row], Axis]:
    """Return a row for each run, the best first, and the axis of the means."""
    intervals = {run: _interval(standing, run) for run in standing.scores}
    means = [score.value for score in standing.scores.values()]
    ends = [end for interval in intervals.values() if interval for end in interval]
    axis = Axis.over(means, ends)
    places = standing.places() if standing.pairs else {}
    rows = []
    for run, score in standing.scores.items():
        interval = intervals[run]
        difference, p = _difference(standing, run)
        kind, drawn = _kind(standing, run), None
        if interval is not None:
            base = axis.place(standing.scores[standing.base].value)
            low, high = axis.place(interval[0]), axis.place(interval[1])
            # a line that touches that of the base would not differ
            if kind == "worse":
                high = min(high, base - CLEAR)
            if kind == "better":
                low = max(low, base + CLEAR)
            drawn = (low, high)
        at = axis.place(score.value)
        rows.append(Row(run, places.get(run, ""), score.value, at, drawn, kind, difference, p))
    return rows, axis


def _interval(standing: Standing, run: str) -> tuple[float, float] | None:
    """Return the ends of a run's interval: of its mean, or around the base of its difference."""
    score = standing.scores[run]
    if not standing.pairs:
        return None if math.isnan(score.low) else (score.low, score.high)
    if run == standing.base:
        return None
    pair = standing.pairs[run, standing.base]
    base = standing.scores[standing.base].value
    return base + pair.low_holm, base + pair.high_holm


def _kind(standing: Standing, run: str) -> str:
    if not standing.pairs or run == standing.base:
        return "base"
    if not standing.differ(run, standing.base):
        return "open"
    return "better" if standing.pairs[run, standing.base].difference > 0 else "worse"


def _difference(standing: Standing, run: str) -> tuple[str, str]:
    """Return how a run differs from the base, and p."""
    if not standing.pairs:
        return "", ""
    if run == standing.base:
        is_best = run == next(iter(standing.scores))
        return ("best" if is_best else "–"), ""
    pair = standing.pairs[run, standing.base]
    return signed(pair.difference), p_text(pair.p_holm)
