"""What both places draw: two orders side by side, a scale with marks, and a strip of scores.

A length is a share of its width, from 0 to 1.
"""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .html import number
from .ranking import Step

LEAST_DOTS = 3  # so that a relevance up to this can be chosen if all documents have less
SHORT = 0.25  # of the width: a line of a document that only one order has
MOST_DOTS = 4  # the highest relevance that is shown as dots
SHOWS = 5e-4  # the smallest difference that shows in three digits


class Axis(NamedTuple):
    """An axis of scores."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> "Axis":
        """Return the axis of some values: it ends at 0 and 1 unless values go beyond."""
        ends = [0.0, 1.0, *values]
        return cls(min(ends), max(ends))

    def place(self, value: float) -> float:
        """Return the place of a value as a share of the axis."""
        return (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round values on the axis, with their texts."""
        width = self.high - self.low
        power = 10.0 ** math.floor(math.log10(width / 3))
        step = next(unit * power for unit in (5, 2, 1) if width / (unit * power) >= 3)
        digits = max(0, -math.floor(math.log10(step)))
        ticks = []
        for count in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            ticks.append((count * step, f"{count * step:z.{digits}f}"))
        return ticks


class Line(NamedTuple):
    """A line between both places of a document."""

    at: int
    left: int
    right: int
    gained: float  # how much more the document adds in the second order
    ends: tuple[float, float] = (0.0, 1.0)  # as shares of the width

    @property
    def is_level(self) -> bool:
        """Whether both orders have the document at the same place."""
        return self.left == self.right and self.ends == (0.0, 1.0)

    @property
    def kind(self) -> str:
        """Whether the document adds more or less in the second order."""
        if abs(self.gained) < SHOWS:
            return "same"
        return "gained" if self.gained > 0 else "lost"


class Drawing(NamedTuple):
    """What two orders share: the widths of bars, and how relevance is shown."""

    widest: float  # the contribution that fills the width
    steepest: float  # the discount that fills the width
    highest: int  # the relevance of all dots; 0 if text shows it

    @classmethod
    def of(cls, steps: Sequence[Step], has_labels: bool) -> "Drawing":
        """Return what orders of these documents have in common."""
        steepest = max((step.discount for step in steps), default=0.0) or 1.0
        largest = max((abs(step.gain) for step in steps), default=0.0) or 1.0
        widest = largest * steepest
        relevances: set[Any] = {step.document.relevance for step in steps} - {None}
        # labels are written out, and so are numbers that dots cannot show
        if has_labels or not relevances <= set(range(MOST_DOTS + 1)):
            return cls(widest, steepest, 0)
        return cls(widest, steepest, int(max([LEAST_DOTS, *relevances])))


def folded(steps: Sequence[Step], kept: int, others: Container[int]) -> list[Step]:
    """Return steps, folded after the first `kept` ones unless they are among some others."""
    return [
        step._replace(is_folded=place >= kept and step.at not in others)
        for place, step in enumerate(steps)
    ]


def drawn(steps: Iterable[Step]) -> list[Step]:
    """Return the steps that are not folded."""
    return [step for step in steps if not step.is_folded]


def lines_between(left: Sequence[Step], right: Sequence[Step]) -> list[Line]:
    """Return a line for the documents of both orders, and a short one where one order lacks it."""
    before = {step.document.name: place for place, step in enumerate(left)}
    lines = []
    for place, step in enumerate(right):
        there = before.pop(step.document.name, None)
        if there is None:
            lines.append(Line(step.at, place, place, step.added, (1.0 - SHORT, 1.0)))
        else:
            lines.append(Line(step.at, there, place, step.added - left[there].added))
    for place in before.values():
        lines.append(Line(left[place].at, place, place, -left[place].added, (0.0, SHORT)))
    return lines


class Dot(NamedTuple):
    """A score of a strip, with the names of all that have it."""

    value: float
    names: list[str]


class Strip(NamedTuple):
    """Distinct scores on one axis, the lowest first."""

    axis: Axis
    dots: list[Dot]
    without: list[str]  # names that have no score


def strip_of(scores: Mapping[str, float | None]) -> Strip:
    """Return the strip of scores by name; scores that look the same share a dot."""
    known = {name: score for name, score in scores.items() if score is not None}
    dots: dict[str, Dot] = {}
    for name in sorted(known, key=known.__getitem__):
        dots.setdefault(number(known[name]), Dot(known[name], [])).names.append(name)
    return Strip(Axis.over(known.values()), list(dots.values()), sorted(scores.keys() - known))
