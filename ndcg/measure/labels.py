"""Labels in place of relevances, with their gains: `gain={"relevant": 3, "partially": 1, "not relevant": 0}`.

Where values are read, text becomes numbers that no relevance has. Once the documents of both sides
are joined, each label, text or number, becomes its gain, which the kernel uses as it is.
"""

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .messages import mark, nearest, shown

MOST_SHOWN = 6  # labels in a message
OF_TEXT = -(
    2.0**52
)  # the numbers of text are at most this, and whole numbers that float64 tells apart
WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")  # read as an integer, which float64 might round
FLAGS = {"true": 1.0, "false": 0.0}


class Labels(NamedTuple):
    """The gains of labels: each label is a number or text, and text that is a number or a flag is that number."""

    gains: tuple[tuple[str | float, float], ...]

    def numbers(self, values: Iterable[Any]) -> list[Any]:
        """Return values with a number for each text that is a label; other values as they are.

        >>> Labels((("no", 0.0),)).numbers(["1.5", "true", 2, None, "yes"])
        [1.5, 1.0, 2, None, 'yes']
        """
        known: dict[Any, Any] = {
            label: number_of(label) for label, _ in self.gains if isinstance(label, str)
        }

        def number(text: str) -> Any:
            label = label_of(text)
            return known.setdefault(
                text, known.get(label, text) if isinstance(label, str) else label
            )

        return [number(each) if isinstance(each, str) else each for each in values]

    def gains_of(self, relevance: NDArray[Any]) -> NDArray[np.float64]:
        """Return the gain of each label, in numbers; nan for those that have none.

        >>> Labels(((0.5, 1.0), (2.0, 7.0))).gains_of(np.array([2, 0.5, 1])).tolist()
        [7.0, 1.0, nan]
        """
        known = dict(sorted((number_of(label), gain) for label, gain in self.gains))
        labels, gains = np.array(list(known)), np.array([*known.values()])
        if relevance.dtype.kind == "f":
            with np.errstate(over="ignore"):
                labels = labels.astype(relevance.dtype)
        at = np.minimum(np.searchsorted(labels, relevance), len(labels) - 1)
        return np.where(labels[at] == relevance, gains[at], np.nan)

    def unknown(self, label: Any) -> str:
        """Return what an error says about a label without a gain: the nearest label, and all that have one."""
        names = [each for each, _ in self.gains if isinstance(each, str)]
        near = nearest(label, names) if isinstance(label, str) else ""
        return f"is a label without a gain; {f'did you mean {near!r}? ' if near else ''}{mark('gain')} has {self}"

    @property
    def as_numbers(self) -> "Labels":
        """The same labels, with their numbers in place of gains: how batches keep them."""
        return Labels(tuple((label, number_of(label)) for label, _ in self.gains))

    def __str__(self) -> str:
        return ", ".join(
            shown(each) if isinstance(each, str) else f"{each:g}" for each, _ in self.gains
        )

    @property
    def signature(self) -> str:
        """The labels and their gains as the signature of a score has them, without its own marks.

        >>> Labels((("a|b", 0.0), ("relevant", 1.5))).signature
        'a%7Cb=0,relevant=1.5'
        """
        gains = [_plain(gain) for _, gain in self.gains]
        if [label for label, _ in self.gains] == [*range(len(gains))]:  # as a list of gains
            return ",".join(gains)
        names = (label if isinstance(label, str) else _plain(label) for label, _ in self.gains)
        names = (re.sub(r"[|:,=%+]", lambda mark: f"%{ord(mark[0]):02X}", name) for name in names)
        return ",".join(map("=".join, zip(names, gains, strict=True)))


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")


def label_of(value: Any) -> str | float:
    """Return a label as labels are compared: numbers and flags as floats, also in text, and other text.

    >>> label_of(" relevant"), label_of("2"), label_of(True), label_of("false")
    ('relevant', 2.0, 1.0, 0.0)
    """
    if not isinstance(value, str):
        return float(value)
    text = str(value).strip()
    number = FLAGS.get(text.lower(), number_of_text(text))
    return text if number is None or not math.isfinite(number) else float(number)


def number_of_text(text: str) -> float | None:
    """Return the number that text is; None for other text, such as "1_0", which only Python takes for a number.

    >>> number_of_text("1e3"), number_of_text("20"), number_of_text("1_0"), number_of_text("high")
    (1000.0, 20, None, None)
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        return int(text) if WHOLE.fullmatch(text) else float(text)
    except ValueError:
        return None


def number_of(label: str | float) -> float:
    """Return the number of a label: of text a hash of it, the same in every process."""
    if isinstance(label, float):
        return label
    digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).digest()
    return OF_TEXT - int.from_bytes(digest[:6], "big")


def to_label(values: Iterable[Any]) -> str:
    """Return what an error says about text in place of relevances: the gain to write for labels, if there are any.

    >>> "gain={'relevant': ..., 'no': ...}" in to_label(["relevant", "no", "relevant"])
    True
    """
    seen: dict[str, None] = {}
    for value in values:
        if isinstance(value, str) and isinstance(label := label_of(value), str) and label:
            seen[label] = None
            if len(seen) > MOST_SHOWN:
                break
    if not seen:
        return f"give a number{mark('None', before=' or ')}"
    labels = list(map(shown, seen))[:MOST_SHOWN]
    gains = ", ".join(f"{each}: ..." for each in labels) + ", ..." * (len(seen) > MOST_SHOWN)
    call = mark("gain", {each[1:-1]: "..." for each in labels}, said=f"gain={{{gains}}}")
    return f"for labels, give the gain of each, {call}"
