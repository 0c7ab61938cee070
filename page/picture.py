"""What both places draw: two orders side by side, a scale with marks, and a strip of scores.

The values here are what the templates draw; a length is a share of its width, from 0 to 1.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .html import short
from .ranking import Document, Marks, Ranking, Step
from .settings import gains_by_label

LEAST_DOTS = 3  # so that a relevance up to this can be chosen if all documents have less
SHORT = 0.25  # of the width: a line of a document that only one order has
MOST_DOTS = 4  # the highest relevance that is shown as dots
SHOWS = 5e-4  # the smallest difference that shows in three digits


class Grade(NamedTuple):
    """A relevance as dots, or as text where dots cannot show it."""

    dots: tuple[bool, ...]
    text: str


class Entry(NamedTuple):
    """A document at a place of an order."""

    at: int  # its place in the documents; -1 in a full ideal
    name: str
    rank: str
    is_tied: bool
    is_judged: bool
    is_moved: bool
    grade: Grade
    score: float | None
    gain: float
    discount: float
    added: float
    band: float  # the discount as a share of the width
    bar: float  # what the document adds as a share of the width
    is_folded: bool = False  # whether it is not drawn until all documents are asked for


class Line(NamedTuple):
    """A line between both places of a document."""

    at: int
    left: int
    right: int
    gained: float  # how much more the document adds in the second order
    ends: tuple[float, float] = (0.0, 1.0)  # as shares of the width

    @property
    def kind(self) -> str:
        """Whether the document adds more or less in the second order."""
        if abs(self.gained) < SHOWS:
            return "same"
        return "gained" if self.gained > 0 else "lost"


class Scale(NamedTuple):
    """An axis that ends at 0 and 1 unless values go beyond."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> "Scale":
        """Return the axis of some values."""
        every = [0.0, 1.0, *values]
        return cls(min(every), max(every))

    def place(self, value: float) -> float:
        """Return the place of a value as a share of the axis."""
        return (value - self.low) / (self.high - self.low)


class Drawing(NamedTuple):
    """What the entries of two orders share: the widths of bars, and how relevance is shown."""

    widest: float  # the contribution that fills the width
    steepest: float  # the discount that fills the width
    highest: int  # the relevance of all dots; 0 if text shows it

    @classmethod
    def of(cls, rankings: Iterable[Ranking], steps: Iterable[Step], labels: Any) -> "Drawing":
        """Return what orders of these documents have in common."""
        gains, discounts = [0.0], [0.0]
        for step in steps:
            gains.append(abs(step.gain))
            discounts.append(step.discount)
        steepest = max(discounts) or 1.0
        highest = 0
        # labels are written out
        if not labels:
            documents = itertools.chain(*(ranking.documents for ranking in rankings))
            highest = _highest([document.relevance for document in documents])
        return cls((max(gains) or 1.0) * steepest, steepest, highest)

    def grade(self, relevance: float | str | None) -> Grade:
        """Return a relevance as it is shown."""
        if relevance is None:
            return Grade((), "not judged")
        if isinstance(relevance, str):
            return Grade((), relevance)
        if not self.highest:
            return Grade((), short(relevance))
        return Grade(tuple(dot < relevance for dot in range(self.highest)), "")

    def entry(self, document: Document, step: Step, *, is_moved: bool = False) -> Entry:
        """Return a document at its rank."""
        return Entry(
            at=step.at,
            name=document.name,
            rank=step.rank,
            is_tied="–" in step.rank,
            is_judged=document.relevance is not None,
            is_moved=is_moved,
            grade=self.grade(document.relevance),
            score=document.score,
            gain=step.gain,
            discount=step.discount,
            added=step.added,
            band=step.discount / self.steepest,
            bar=max(0.0, step.added) / self.widest,
        )


def _highest(grades: Sequence[float | str | None]) -> int:
    """Return how many dots show each relevance; 0 if only numbers can."""
    judged = [grade for grade in grades if grade is not None]
    if any(grade not in range(MOST_DOTS + 1) for grade in judged):
        return 0
    return int(max([LEAST_DOTS, *judged]))


def entries_of(ranking: Ranking, steps: Iterable[Step], drawing: Drawing) -> list[Entry]:
    """Return documents at their ranks."""
    entries = []
    for step in steps:
        document = Document("", None, None)  # of a full ideal, which holds none in particular
        if step.at >= 0:
            document = ranking.documents[step.at]
        entries.append(drawing.entry(document, step, is_moved=step.at in ranking.moved))
    return entries


def folded(entries: Sequence[Entry], kept: int) -> list[Entry]:
    """Return entries, folded after the first `kept` ones unless they are relevant or were moved."""
    every = []
    for place, entry in enumerate(entries):
        is_kept = place < kept or entry.gain > 0 or entry.is_moved
        every.append(entry._replace(is_folded=not is_kept))
    return every


def drawn(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries that are not folded."""
    return [entry for entry in entries if not entry.is_folded]


def lines_between(left: Sequence[Entry], right: Sequence[Entry]) -> list[Line]:
    """Return a line for each document of both orders, and a short one where one order lacks it."""
    before = {entry.name: place for place, entry in enumerate(left)}
    after = {entry.name: place for place, entry in enumerate(right)}
    lines = []
    for place, entry in enumerate(left):
        if entry.name not in after:
            lines.append(Line(entry.at, place, place, -entry.added, (0.0, SHORT)))
    for place, entry in enumerate(right):
        if entry.name not in before:
            lines.append(Line(entry.at, place, place, entry.added, (1.0 - SHORT, 1.0)))
        else:
            there = before[entry.name]
            lines.append(Line(entry.at, there, place, entry.added - left[there].added))
    return lines


class Dot(NamedTuple):
    """A score of a strip, with the names of all that have it."""

    value: float
    place: float
    names: tuple[str, ...]


class Strip(NamedTuple):
    """Distinct scores on one axis, the lowest first."""

    scale: Scale
    dots: tuple[Dot, ...]
    without: tuple[str, ...]  # names that have no score


def strip_of(scores: Mapping[str, float | None]) -> Strip:
    """Return the strip of scores by name; scores that look the same share a dot."""
    known = {name: score for name, score in scores.items() if score is not None}
    scale = Scale.over(known.values())
    by_text: dict[str, list[str]] = {}
    for name in sorted(known, key=known.__getitem__):
        # 0.0 is added so that -0.0 is no text beside 0.000
        by_text.setdefault(f"{known[name] + 0.0:.3f}", []).append(name)
    dots = []
    for names in by_text.values():
        score = known[names[0]]
        dots.append(Dot(score, scale.place(score), tuple(names)))
    return Strip(scale, tuple(dots), tuple(name for name in scores if name not in known))


def scale_of(marks: Marks) -> Scale:
    """Return the axis on which a score stands among other orders."""
    return Scale.over([marks.score, marks.worst, marks.random, *(marks.tie_range or ())])


def label_names(options: Mapping[str, Any]) -> list[str]:
    """Return the labels that a relevance may be, the lowest gain first; none if it is a number."""
    gains = gains_by_label(options)
    return [str(label) for label in sorted(gains, key=gains.__getitem__)]
