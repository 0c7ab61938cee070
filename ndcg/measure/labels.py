"""Labels in place of relevances, with their gains: `gain={"relevant": 3, "not relevant": 0}`.

Where values are read, text becomes numbers that no relevance has. Once the documents of both sides
are joined, a label, text or number, becomes its gain, which the kernel uses as it is.
"""

import hashlib
import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .messages import brief, mark, nearest, shown
from .ties import Array, Floats

MOST_SHOWN = 6  # labels in a message
LONGEST_LABEL = 40  # characters: a longer text is a passage, as in a column of references
# the numbers of text are at most this, and whole numbers that float64 tells apart
OF_TEXT = -(2.0**52)
WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")  # read as an integer, which float64 might round
FLAGS = {"true": 1.0, "false": 0.0}
# What stands where nobody judged, as programs and people write it, in lower case.
NOT_JUDGED = {"na", "n/a", "nan", "null", "none", "nil", "\\n", "-", "?"}
LEFT_EMPTY = "leave it empty where nobody judged"


class Labels(NamedTuple):
    """The gains of labels: numbers or text; text that is a number or a flag is that number."""

    gains: tuple[tuple[str | float, float], ...]

    def numbers(self, values: Iterable[Any]) -> list[Any]:
        """Return values with a number for every text that is a label; other values as they are.

        >>> Labels((("no", 0.0),)).numbers(["1.5", "true", 2, None, "yes"])
        [1.5, 1.0, 2, None, 'yes']
        """
        values = list(values)
        number_by_label: dict[Any, Any] = {label: number_of(label) for label, _ in self.gains}
        number_by_text: dict[str, Any] = {}
        for text in {value for value in values if isinstance(value, str)}:
            label = label_of(text)
            number_by_text[text] = number_by_label.get(label, label)
        return [number_by_text[value] if isinstance(value, str) else value for value in values]

    def gains_of(self, relevance: Array) -> Floats:
        """Return the gains of labels, in numbers; nan for a label without one.

        >>> Labels(((0.5, 1.0), (2.0, 7.0))).gains_of(np.array([2, 0.5, 1])).tolist()
        [7.0, 1.0, nan]
        """
        gain_by_number = dict(sorted((number_of(label), gain) for label, gain in self.gains))
        labels, gains = np.array(list(gain_by_number)), np.array([*gain_by_number.values()])
        if relevance.dtype.kind == "f":
            # Labels are compared in the type of the relevances, which may have rounded them.
            with np.errstate(over="ignore"):
                labels = labels.astype(relevance.dtype)
        index = np.minimum(np.searchsorted(labels, relevance), len(labels) - 1)
        return np.where(labels[index] == relevance, gains[index], np.nan)

    def unknown(self, label: Any, values: Iterable[Any] = ()) -> str:
        """Return what an error says about a label without a gain: the nearest one, and all.

        The texts among `values` that lack a gain, too, are named at once.
        """
        labels = {label_of(text) for text in values if isinstance(text, str)}
        others = sorted(labels - {*dict(self.gains), "", label_of(label)}, key=str)
        problem = "is a label without a gain"
        if others:
            problem += f" (others: {brief(map(_named, others), ', ')})"
        hint = ""
        if is_not_judged(label):
            hint = f"{LEFT_EMPTY}; "
        elif isinstance(label, str):
            name = nearest(label, map(str, dict(self.gains)))
            if name:
                hint = f"did you mean {name!r}? "
        return f"{problem}; {hint}{mark('gain')} has {self}"

    @property
    def as_numbers(self) -> "Labels":
        """The same labels, with their numbers in place of gains: how batches keep them."""
        return Labels(tuple((label, number_of(label)) for label, _ in self.gains))

    def __str__(self) -> str:
        return ", ".join(_named(label) for label, _ in self.gains)

    @property
    def signature(self) -> str:
        """The labels and their gains in the signature of a score, with its separators escaped.

        >>> Labels((("a|b", 0.0), ("relevant", 1.5))).signature
        'a%7Cb=0,relevant=1.5'
        """
        labels = [label for label, _ in self.gains]
        gains = [_plain(gain) for _, gain in self.gains]
        if labels == [*range(len(labels))]:  # as a list of gains
            return ",".join(gains)
        parts = []
        for label, gain in zip(labels, gains, strict=True):
            name = label if isinstance(label, str) else _plain(label)
            escaped = re.sub(r"[|:,=%+]", lambda match: f"%{ord(match[0]):02X}", name)
            parts.append(f"{escaped}={gain}")
        return ",".join(parts)


def _named(label: str | float) -> str:
    return shown(label).removesuffix(".0")


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")


def label_of(value: Any) -> str | float:
    """Return a label as labels are compared: numbers and flags, also in text, as floats.

    >>> label_of(" relevant"), label_of("2"), label_of(True), label_of("false")
    ('relevant', 2.0, 1.0, 0.0)
    """
    if not isinstance(value, str):
        return float(value)
    text = str(value).strip()
    number = FLAGS.get(text.lower(), number_of_text(text))
    if number is None or not math.isfinite(number):
        return text
    return float(number)


def number_of_text(text: str) -> float | None:
    """Return the number that text is; None for other text, such as "1_0", a number only in Python.

    >>> number_of_text("1e3"), number_of_text("20"), number_of_text("1_0"), number_of_text("high")
    (1000.0, 20, None, None)
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        if WHOLE.fullmatch(text):
            return int(text)
        return float(text)
    except ValueError:
        return None


def number_of(label: str | float) -> float:
    """Return the number of a label: of text a hash of it, the same in every process."""
    if isinstance(label, float):
        return label
    digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).digest()
    return OF_TEXT - int.from_bytes(digest[:6], "big")


def is_not_judged(value: Any) -> bool:
    """Return whether a value is text that stands where nobody judged.

    >>> is_not_judged("N/A"), is_not_judged("no"), is_not_judged(0)
    (True, False, False)
    """
    return isinstance(value, str) and value.strip().lower() in NOT_JUDGED


def instead_of_text(value: Any, values: Iterable[Any], left_empty: str = LEFT_EMPTY) -> str:
    """Return what an error says about text in place of a relevance, among other documents' values.

    >>> instead_of_text("NA", ["2", "NA"])
    'leave it empty where nobody judged'
    """
    if is_not_judged(value):
        return left_empty
    return to_label([value, *values])


def to_label(values: Iterable[Any]) -> str:
    """Return what an error says about text in place of relevances: how to write their gains.

    >>> "gain={'relevant': ..., 'no': ...}" in to_label(["relevant", "no", "relevant"])
    True
    """
    texts = dict.fromkeys(value.strip() for value in values if isinstance(value, str))
    short = [text for text in texts if 0 < len(text) <= LONGEST_LABEL]
    labels = [shown(text) for text in short if number_of_text(text) is None][:MOST_SHOWN]
    if not labels:
        return f"give a number{mark('None', before=' or ')}"
    gains = ", ".join(f"{label}: ..." for label in labels)
    without_quotes = {label[1:-1]: "..." for label in labels}
    call = mark("gain", without_quotes, said=f"gain={{{gains}}}")
    return f"for labels, give their gains, {call}"
