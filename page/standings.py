"""Runs as a table, the best first: each with its place, its mean, and its difference from one of them."""

import math
from collections.abc import Sequence
from html import escape

from .metric import tables
from .verdict import Standing, p_text, signed


def standing_html(standing: Standing, measures: Sequence[str]) -> str:
    """Return the table of runs: a row for each, with the interval of its difference from the base.

    Args:
        standing: the runs in the measure that is shown.
        measures: all measures, to choose from.
    """
    base = standing.scores[standing.base].value
    marks = {run: _mark(standing, run, base) for run in standing.scores}
    ends = [end for value, low, high, _ in marks.values() for end in (value, low, high) if not math.isnan(end)]
    axis = Axis(min(ends), max(ends))
    several = len(standing.scores) > 1
    places = standing.places() if standing.pairs else {}
    ticks = "".join(f"<span style='left:{axis.at(tick):.4g}%'>{axis.text(tick)}</span>" for tick in axis.ticks)
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
    kind = ("better" if pair.difference > 0 else "worse") if standing.differ(run, standing.base) else "open"
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
    words = "".join(f"<option{' selected' if each == chosen else ''}>{escape(each)}</option>" for each in choices)
    return f"<select aria-label='{label}' data-choose='{name}' data-chosen='{escape(chosen)}'>{words}</select>"


class Axis:
    """The axis of means, on which values have places in percent.

    Attributes:
        ticks: the round values that are marked.
    """

    def __init__(self, low: float, high: float) -> None:
        """Let the axis reach a little beyond its lowest and its highest value."""
        beyond = (high - low or 0.1) * 0.06
        self.low, self.high = low - beyond, high + beyond
        width = self.high - self.low
        self.gap = width / 100
        power = 10.0 ** math.floor(math.log10(width / 3))
        step = next(each * power for each in (5, 2, 1) if width / (each * power) >= 3)
        self.places = max(0, -math.floor(math.log10(step)))
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        self.ticks = [at * step for at in range(first, last + 1)]

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
                low, high = (low, min(high, base - self.gap)) if value < base else (max(low, base + self.gap), high)
        if not math.isnan(low):
            rules += f"<line class='{kind}' x1='{self.at(low):.5g}%' x2='{self.at(high):.5g}%' y1='50%' y2='50%'/>"
        dot = f"<circle class='{kind}' cx='{self.at(value):.5g}%' cy='50%' r='6'/>"
        return f"<svg aria-hidden='true'>{rules}{dot}</svg>"

    def _rule(self, kind: str, value: float) -> str:
        return f"<line class='{kind}' x1='{self.at(value):.5g}%' x2='{self.at(value):.5g}%' y1='0' y2='100%'/>"
