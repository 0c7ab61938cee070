"""Read reported scores: one score, scores at several cutoffs, or a value per query, with the precision of a match."""

import math
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..files.content import parse_json
from ..inputs.rankings import Rankings
from ..measure.messages import shown
from ..measure.options import is_real
from .search import Evidence

# The tolerance of a score with any number of digits: some libraries compute in 32 bits.
PRECISION = 1e-6


class Reported(NamedTuple):
    """Scores that somebody reported.

    Attributes:
        words: the scores in words, as they were given.
        score: the score, or the first of several; nan for the values of queries.
        percent: whether the score was given in percent.
        scale: 100 if the score was read in percent although it has no percent sign; else 1.
        scores: each score with its precision, by its cutoff; by None if the cutoff is to be found.
        values: the value of each query, in order or by id; None if scores were reported.
        k: the cutoff.
    """

    words: str
    score: float
    percent: bool
    scale: int
    scores: tuple[tuple[tuple[int | None, ...], float, float], ...]
    values: Any
    k: int | None

    @classmethod
    def read(cls, got: Any, k: Any) -> "Reported":
        """Read the reported scores: a score, scores by name, or the value of each query, also as a file or its lines.

        Raises:
            ValueError: it is not one of these.
        """
        if isinstance(got, str) and "\n" in got:
            got = _values_in("got", got.splitlines(), k)
        elif isinstance(got, str) and "@" in got:
            got = dict(_named_score(each) for each in got.split(","))
        elif isinstance(got, (str, os.PathLike)) and os.path.isfile(got):
            got = _values_in_file(got, k)
        if isinstance(got, Mapping) and got and all(isinstance(name, str) and NAMED.fullmatch(name) for name in got):
            return cls._of_names(got, k)
        if isinstance(got, (Mapping, list, tuple)) or getattr(got, "ndim", 0) == 1:
            return cls("these values of queries", math.nan, False, 1, (), got, k)
        score, precision, percent = _number_and_precision(got)
        scale = 100 if percent and not _has_sign(got) else 1
        return cls(f"{score:g}", score, percent, scale, (((), score, precision),), None, k)

    @classmethod
    def _of_names(cls, got: Mapping[str, Any], k: Any) -> "Reported":
        if k is not None:
            raise ValueError(f"k={shown(k)} and got={shown(dict(got))} both give cutoffs; give one of the two")
        scores, percents = [], []
        for name, value in got.items():
            score, precision, percent = _number_and_precision(value)
            _, at, cutoff = name.partition("@")
            scores.append(((int(cutoff) if at else None,), score, precision))
            percents.append(percent)
        words = " and ".join(f"{name} {score:g}" for name, (_, score, _) in zip(got, scores, strict=True))
        scale = 100 if all(percents) and not any(map(_has_sign, got.values())) else 1
        return cls(words, scores[0][1], any(percents), scale, tuple(scores), None, scores[0][0][0])

    def as_given(self) -> list[Evidence]:
        """Return scores that were read in percent as they were given: a DCG may be above 1."""
        return [
            Evidence(np.array([self.scale * score]), self.scale * precision, cutoff)
            for cutoff, score, precision in self.scores
        ]

    def evidence(self, rankings: Rankings) -> list[Evidence]:
        """Return the evidence that a combination of options must match.

        Raises:
            ValueError: the values belong to other queries than the rankings.
        """
        if self.values is None:
            return [Evidence(np.array([score]), precision, cutoff) for cutoff, score, precision in self.scores]
        values = self.values
        if isinstance(values, Mapping):
            values = _in_order_of_queries(values, rankings)
        if len(values) != rankings.queries:
            raise ValueError(f"got: {len(values)} values for {rankings.queries} queries; give the value of each query")
        known = [(math.nan, 1.0) if value is None else _value_of_query(value) for value in values]
        scores = np.array([score for score, _ in known])
        # values such as 0.5 have fewer digits than those around them
        return [Evidence(scores, max(PRECISION, min(precision for _, precision in known)), of_queries=True)]


def _in_order_of_queries(values: Mapping[Any, Any], rankings: Rankings) -> list[Any]:
    """Return the values in the order of the queries; None for those that programs leave out if they have no value."""
    names = rankings.names()
    if names and not isinstance(names[0], str) and all(isinstance(each, str) for each in values):  # of a file
        values = {int(name) if name.isdecimal() else name: value for name, value in values.items()}
    may_lack = rankings.lacking() | (rankings.counts()["relevant"] == 0)
    missing = [name for name, may in zip(names, may_lack, strict=True) if name not in values and not may]
    if missing:
        some = f"query {shown(missing[0])} is missing ({len(missing)} such queries)"
        raise ValueError(f"got: {some}; give the value of each query, None for a query without one")
    if unknown := values.keys() - set(names):
        raise ValueError(f"got: query {shown(min(unknown, key=str))} is not in the references")
    return [values.get(name) for name in names]


JSON_START = re.compile(rb"(\xef\xbb\xbf)?\s*[{\[]")  # perhaps after a byte order mark
WITHOUT_VALUE = ("nan", "none", "null", "-", "")  # in a file, for a query without a value
NAMED = re.compile(r"nDCG(@[1-9]\d*)?")


def _named_score(text: str) -> tuple[str, str]:
    """Return the name and the score of text such as 0.31@5."""
    score, _, cutoff = text.strip().partition("@")
    if NAMED.fullmatch(name := f"nDCG@{cutoff}") is None:
        raise ValueError(f"got must be scores with their cutoffs, such as 0.31@5,0.283@10; got {shown(text)}")
    return name, score


def _values_in_file(path: str | os.PathLike[str], k: Any) -> Any:
    """Return the values in a file: JSON of values by query or in order, or lines.

    Raises:
        ValueError: names the file, and the line.
    """
    content, name = Path(path).read_bytes(), f"got: {os.fsdecode(path)}"
    is_json = JSON_START.match(content)
    try:
        values = parse_json(content) if is_json else content.decode("utf-8-sig").splitlines()
    except ValueError as error:
        raise ValueError(f"{name}: {error}; give JSON of values by query, or lines of a query and its value") from None
    return values if is_json else _values_in(name, values, k)


def _values_in(name: str, lines: Iterable[str], k: Any = None) -> dict[str, str | None] | list[str | None]:
    """Return the values in lines of `query value`, of `measure query value` as in trec_eval -q, or of values alone.

    A value may be nan, None, null, a dash or an empty cell, for a query without one.

    Args:
        name: the name of the file, for errors.
        lines: the lines of the file.
        k: the cutoff of the measure to read.

    Raises:
        ValueError: names the file and the line.
    """
    values: dict[str, str | None] = {}
    alone: list[str | None] = []
    for number, line in enumerate(lines, start=1):
        cells = re.split(r"[\s,;]+", line.strip())
        if cells == [""] or cells[-2:-1] == ["all"] or (number == 1 and not _is_value(cells[-1])):
            continue
        if len(cells) == 3 and cells[0] not in ("ndcg", f"ndcg_cut_{k}") and not cells[0].startswith("nDCG"):
            continue  # another measure
        if len(cells) not in (1, 2, 3) or not _is_value(cells[-1]):
            raise ValueError(f"{name}: line {number}: must hold a query and its value")
        value = None if cells[-1].lower() in WITHOUT_VALUE else cells[-1]
        if len(cells) == 1:
            alone.append(value)
        elif values.setdefault(cells[-2], value) != value:
            raise ValueError(f"{name}: line {number}: query {shown(cells[-2])} has another value above")
    if bool(values) == bool(alone):
        raise ValueError(f"{name}: {'lines with and without a query' if values else 'no line holds a value'}")
    return values or alone


def _is_value(text: str) -> bool:
    """Return whether text is a number, or shows that a query has no value."""
    with suppress(ValueError):
        return text.lower() in WITHOUT_VALUE or math.isfinite(float(text))
    return False


def _value_of_query(value: Any) -> tuple[float, float]:
    """Return the value of a query, which may be above 1 but not in percent, and half a unit of its last digit."""
    number = _decimal(value)
    if not number.is_finite() and not (is_real(value) and math.isnan(value)):  # nan is a query without a value
        raise ValueError(f"got must hold a number for each query; got {shown(value)}")
    exponent = number.as_tuple().exponent
    return float(number), 0.5 * 10.0**exponent * (1 + PRECISION) if isinstance(exponent, int) else 1.0


def _has_sign(got: Any) -> bool:
    return str(got).strip().endswith("%")


def _decimal(value: Any) -> Decimal:
    """Return a number with the digits that it was given with; nan if it is not a number."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value  # of an array or a tensor
    text = str(plain) if isinstance(plain, (str, Decimal)) else repr(float(plain)) if is_real(plain) else ""
    try:
        return Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        return Decimal("nan")


def _number_and_precision(got: Any) -> tuple[float, float, bool]:
    """Return a score from 0 to 1, how far from it one with the same digits may be, and whether it is in percent.

    Raises:
        ValueError: it is not a score.
    """
    number = _decimal(got)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or not -300 < exponent < 3 or not -100 <= number <= 100:
        file = ", or a file that holds the value of each query" if isinstance(got, (str, os.PathLike)) else ""
        raise ValueError(f"got must be an nDCG, such as 0.5921, or in percent, such as 59.21{file}; got {shown(got)}")
    percent = abs(number) > 1 or _has_sign(got)
    unit = 10.0**exponent / (100 if percent else 1)
    return float(number / 100 if percent else number), max(0.5 * unit * (1 + PRECISION), PRECISION), percent
