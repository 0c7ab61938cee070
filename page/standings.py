"""Which of several runs is best, and how sure that is: in sentences, and as a table with the best first."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import combinations
from typing import Any, NamedTuple

from .metric import tables

NAMED = 3  # runs or queries in a sentence


class Standing(NamedTuple):
    """The runs in one measure."""

    measure: str
    scores: dict[str, Any]  # best first
    pairs: dict[
        tuple[str, str], Any
    ]  # by the names of two runs in either order; empty for one run, or for one query
    base: str  # the run from which the others differ
    other: str  # the run that is compared with the base; empty if there is one run

    @classmethod
    def of(
        cls,
        scores: Mapping[str, Mapping[str, Any]],
        pairs: Iterable[Any],
        choice: Mapping[str, str],
    ) -> "Standing":
        """Return the runs in the measure that is chosen, else the first; of runs that are not chosen, the best two."""
        measures = list(next(iter(scores.values())))
        measure = choice["measure"] if choice.get("measure") in measures else measures[0]
        best_first = sorted(scores, key=lambda run: -scores[run][measure].value)
        base = choice["base"] if choice.get("base") in scores else best_first[0]
        others = [run for run in best_first if run != base]
        other = choice["other"] if choice.get("other") in others else next(iter(others), "")
        both = [
            turned for pair in pairs if pair.measure == measure for turned in (pair, pair.turned())
        ]
        by_name = {(pair.system, pair.other): pair for pair in both}
        return cls(measure, {run: scores[run][measure] for run in best_first}, by_name, base, other)

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
        """Return the places that each run could have if only significant differences count, such as "2–4"."""
        runs = list(self.scores)
        found = {}
        for at, run in enumerate(runs):
            first = 1 + sum(self.differ(run, better) for better in runs[:at])
            last = len(runs) - sum(self.differ(run, worse) for worse in runs[at + 1 :])
            found[run] = f"{first}" if first == last else f"{first}–{last}"
        return found

    def headline(self) -> str:
        """Return which run is best, in a sentence."""
        best, *others = self.scores
        if not others:
            return f"{best} has {self.measure} {self.scores[best].value:.3f}."
        if not self.pairs:
            return f"One query cannot tell the {len(self.scores)} runs apart."
        alike = [run for run in others if not self.pairs[best, run].differing]
        unsure = [run for run in others if run not in alike and not self.differ(best, run)]
        behind = [run for run in others if run not in alike and run not in unsure]
        if len(alike) == len(others):
            runs = f"{best} and {others[0]}" if len(others) == 1 else f"The {len(self.scores)} runs"
            return f"{runs} have the same {self.measure} in each of {self.queries:,} queries."
        if len(others) == 1:
            return (
                f"{best} and {others[0]} cannot be told apart."
                if unsure
                else f"{best} is better than {others[0]}."
            )
        if not any(self.differ(*two) for two in combinations(self.scores, 2)):
            return f"These {self.queries:,} queries cannot tell the {len(self.scores)} runs apart."
        leaders = listed([best, *alike])
        are = "are" if alike else "is"
        if unsure:
            return f"{leaders} {are} ahead, but {listed(unsure)} may be as good."
        than = f"each of the {len(behind)} others" if len(behind) > 1 else behind[0]
        return f"{leaders} {are} best: better than {than}."

    def evidence(self) -> str:
        """Return what the headline stands on: the means of the base and the other run, and how they differ."""
        best, *others = self.winner_first
        if not others:
            score = self.scores[best]
            by_chance = f"A random order of the same documents would have {score.random_order:.3f}."
            if score.queries < 2:
                return f"Intervals need more than one query. {by_chance}"
            return f"95% interval {score.low:.3f} to {score.high:.3f}, {score.queries:,} queries. {by_chance}"
        first, second = (f"{self.scores[name].value:.3f}" for name in (best, others[0]))
        means = f"{best} has {self.measure} {first}, {others[0]} {second}"
        if not self.pairs:
            return f"{means}. Intervals and tests need more than one query."
        pair = self.pairs[best, others[0]]
        interval = f"95% interval {signed(pair.low_holm)} to {signed(pair.high_holm)}"
        corrected = f", both corrected for {self.together} pairs" if self.together > 1 else ""
        counts = (
            f"Better on {counted(pair.wins)}, worse on {pair.losses:,}, equal on {pair.ties:,}."
        )
        found = f"{means}: {signed(pair.difference)} ({interval}, {p_text(pair.p_holm)}{corrected}). {counts}"
        return found if self.differ(best, others[0]) else f"{found} {self._findable(pair)}".strip()

    def _findable(self, pair: Any) -> str:
        """Return which difference the queries can find, and how many would find this one."""
        if pair.min_detectable is None:
            return ""
        alone = self.together == 1
        find = "find" if alone else "would find"
        trials = f"{counted(pair.queries)} {find} a difference of {pair.min_detectable:.2f} in 4 of 5 trials"
        needs = (
            f"; one of {abs(pair.difference):.3f} needs {pair.queries_needed:,}"
            if pair.queries_needed
            else ""
        )
        return f"{'' if alone else 'If only these two were compared, '}{trials}{needs}."


class Remark(NamedTuple):
    """A warning, and what a button does about it: the name of an option, its choice, and the text of the button."""

    text: str
    offer: tuple[str, str, str] | None = None


def missing_remarks(missing: Mapping[str, Sequence[str]], option: str) -> list[Remark]:
    """Return which queries are missing from which runs, and whether they count as the option says: empty, or skip."""
    lacking = {run: queries for run, queries in missing.items() if queries}
    if not lacking:
        return []
    skipped = option == "skip"
    one, several = ("is skipped", "are skipped") if skipped else ("counts as 0", "count as 0")
    (run, queries), *others = lacking.items()
    if others:
        some = listed([f"{len(each):,} from {run}" for run, each in lacking.items()], "runs")
        text = f"Queries are missing from {len(lacking)} runs and {several}: {some}."
    elif len(queries) == 1:
        text = f"One query, {queries[0]}, is missing from {run} and {one}."
    else:
        some = ", ".join(queries[:NAMED]) + (", …" if len(queries) > NAMED else "")
        text = f"{len(queries):,} queries are missing from {run} and {several}: {some}"
    only = (
        "Compare only the queries that all runs have"
        if len(missing) > 1
        else "Score only the queries that it has"
    )
    return [
        Remark(
            text, ("missing", "empty", "Count them as 0") if skipped else ("missing", "skip", only)
        )
    ]


def tie_remarks(here: Mapping[str, Any], there: Mapping[str, float], measure: str) -> list[Remark]:
    """Return how the scores of runs differ from those of trec_eval, which orders tied documents, if they do."""
    both = {run: (f"{here[run].value:.4f}", f"{value:.4f}") for run, value in there.items()}
    differing = [
        f"{other} instead of {one} for {run}" for run, (one, other) in both.items() if one != other
    ]
    if not differing:
        return []
    text = f"The order of ties matters: trec_eval, which orders by id, has {measure} {listed(differing, 'runs')}."
    return [Remark(text, ("convention", "trec_eval", "Score as trec_eval does"))]


def listed(names: Sequence[str], what: str = "") -> str:
    """Return names in a sentence; of many the first.

    >>> listed(["a"]), listed(["a", "b"]), listed([*"abcd"]), listed([*"abcde"], "runs")
    ('a', 'a and b', 'a, b, c and d', 'a, b, c and 2 more runs')
    """
    some = list(names) if len(names) <= NAMED + 1 else list(names[:NAMED])
    if len(some) < len(names):
        some.append(f"{len(names) - NAMED} more{f' {what}' if what else ''}")
    return " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))


def counted(queries: int) -> str:
    """Return a number of queries.

    >>> counted(1), counted(2000)
    ('1 query', '2,000 queries')
    """
    return f"{queries:,} {'query' if queries == 1 else 'queries'}"


def signed(value: float) -> str:
    """Return a difference with its sign, in three digits; one that they do not show is above or below 0.

    >>> signed(0.5), signed(-0.0423), signed(0.0), signed(-1e-9)
    ('+0.500', '−0.042', '0.000', 'below 0')
    """
    text = f"{value:+.3f}".replace("-", "−")
    if float(text[1:]):
        return text
    return "0.000" if value == 0 else "above 0" if value > 0 else "below 0"


def p_text(p: float) -> str:
    """Return a p-value in two digits; in as many more as show on which side of 0.05 it is.

    >>> p_text(1.0), p_text(0.0214), p_text(0.04997), p_text(2e-5)
    ('p = 1', 'p = 0.021', 'p = 0.04997', 'p < 0.001')
    """
    if p < 0.001:
        return "p < 0.001"
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    significant = p < tables.SIGNIFICANT
    return (
        f"p = {next(each for each in texts if (float(each) < tables.SIGNIFICANT) == significant)}"
    )


def standing_html(standing: Standing, measures: Sequence[str]) -> str:
    """Return a row for each run, with the interval of its difference from the base; one of the measures is chosen."""
    base = standing.scores[standing.base].value
    marks = {run: _mark(standing, run, base) for run in standing.scores}
    ends = [
        end
        for value, low, high, _ in marks.values()
        for end in (value, low, high)
        if not math.isnan(end)
    ]
    axis = Axis(min(ends), max(ends))
    several = len(standing.scores) > 1
    places = standing.places() if standing.pairs else {}
    ticks = "".join(
        f"<span style='left:{axis.at(tick):.4g}%'>{axis.text(tick)}</span>" for tick in axis.ticks
    )
    measure = _select("measure", "Measure", measures, standing.measure)
    bases = list(standing.scores) if len(standing.scores) > 2 else []
    base_name = _select("base", "Difference from", bases, standing.base)
    rows = []
    for run, score in standing.scores.items():
        name = escape(run)
        if run != standing.base:
            name = f"<button type='button' data-choose='other' data-value='{name}'>{name}</button>"
        mark = axis.svg(*marks[run], base if standing.pairs else None)
        chosen = " class='chosen'" if run == standing.other else ""
        rows.append(
            f"<tr{chosen}><td class='place'>{places.get(run, '')}</td><th scope='row'>{name}</th>"
            f"<td class='mean'>{score.value:.3f}</td><td class='track'>{mark}</td>"
            f"<td class='difference'>{_difference(standing, run)}</td></tr>"
        )
    heads = (
        f"<th scope='col' class='place'>{'place' if places else ''}</th><th scope='col'>run</th>"
        f"<th scope='col' class='mean'>{measure}</th><th scope='col' class='track'>{ticks}</th>"
        f"<th scope='col' class='difference'>{f'difference from {base_name}' if several else ''}</th>"
    )
    return (
        f"<table class='standings'><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"<p class='key'>{_key(standing)}</p>"
    )


def _mark(standing: Standing, run: str, base: float) -> tuple[float, float, float, str]:
    """Return the mean of a run, the ends of its line, and how it is drawn."""
    score = standing.scores[run]
    if not standing.pairs:
        return score.value, score.low, score.high, "base"
    if run == standing.base:
        return base, math.nan, math.nan, "base"
    pair = standing.pairs[run, standing.base]
    kind = (
        ("better" if pair.difference > 0 else "worse")
        if standing.differ(run, standing.base)
        else "open"
    )
    return score.value, base + pair.low_holm, base + pair.high_holm, kind


def _difference(standing: Standing, run: str) -> str:
    """Return how a run differs from the base, and p."""
    if not standing.pairs:
        return ""
    if run == standing.base:
        return "best" if run == next(iter(standing.scores)) else "–"
    pair = standing.pairs[run, standing.base]
    return f"{signed(pair.difference)} <small>{escape(p_text(pair.p_holm))}</small>"


def _key(standing: Standing) -> str:
    """Return what dots, lines and places mean."""
    if not standing.pairs:
        return "line: 95% interval of the mean" if len(standing.scores) == 1 else ""
    together = standing.together
    corrected = f" after Holm’s correction for {together} pairs" if together > 1 else ""
    keys = [
        f"<i class='filled'></i>differs from {escape(standing.base)}: p &lt; {tables.SIGNIFICANT}{corrected}",
        "<i class='open'></i>may be as good",
        f"line: 95% interval of the difference{', corrected alike' if together > 1 else ''}",
        "place: those that a run could have, by the pairs that differ",
    ]
    return "".join(f"<span>{each}</span>" for each in keys)


def _select(name: str, label: str, choices: Sequence[str], chosen: str) -> str:
    """Return a field to choose one of several; if there are not several, the one."""
    if len(choices) < 2:
        return escape(chosen)
    words = "".join(
        f"<option{' selected' if each == chosen else ''}>{escape(each)}</option>"
        for each in choices
    )
    return f"<select aria-label='{label}' data-choose='{name}' data-chosen='{escape(chosen)}'>{words}</select>"


class Axis:
    """The axis of means, on which values have places in percent, and round ticks."""

    def __init__(self, low: float, high: float) -> None:
        """Let the axis reach a little beyond its lowest and its highest value."""
        beyond = (high - low or 0.1) * 0.06
        self.low, self.high = low - beyond, high + beyond
        width = self.high - self.low
        self.gap = width / 100
        power = 10.0 ** math.floor(math.log10(width / 3))
        step = next(each * power for each in (5, 2, 1) if width / (each * power) >= 3)
        self.places = max(0, -math.floor(math.log10(step)))
        self.ticks = [
            at * step for at in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        ]

    def at(self, value: float) -> float:
        """Return the place of a value in percent of the width."""
        return 100 * (value - self.low) / (self.high - self.low)

    def text(self, tick: float) -> str:
        """Return a tick in as many digits as its step has."""
        return f"{tick + 0.0:.{self.places}f}"

    def svg(self, value: float, low: float, high: float, kind: str, base: float | None) -> str:
        """Return a value as a dot on its line, next to the ticks and the base."""
        rules = "".join(self._rule("rule", tick) for tick in self.ticks)
        if base is not None:
            rules += self._rule("of-base", base)
            if kind in ("worse", "better"):  # a line that touches that of the base would not differ
                low, high = (
                    (low, min(high, base - self.gap))
                    if value < base
                    else (max(low, base + self.gap), high)
                )
        if not math.isnan(low):
            rules += f"<line class='{kind}' x1='{self.at(low):.5g}%' x2='{self.at(high):.5g}%' y1='50%' y2='50%'/>"
        dot = f"<circle class='{kind}' cx='{self.at(value):.5g}%' cy='50%' r='6'/>"
        return f"<svg aria-hidden='true'>{rules}{dot}</svg>"

    def _rule(self, kind: str, value: float) -> str:
        return f"<line class='{kind}' x1='{self.at(value):.5g}%' x2='{self.at(value):.5g}%' y1='0' y2='100%'/>"
