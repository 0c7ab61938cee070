"""Read reported scores: one score, scores at several cutoffs, or a value per query, with the precision of a match."""

import math
import os
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np

from ..inputs.rankings import Rankings
from ..measure.messages import InputError, mark, shown
from ..measure.options import is_real, result_name
from .reported_values import values_in_file, values_in_mapping, values_in_text
from .search import Evidence

HALF_UNIT = 0.5000005  # of the last digit: half of it may be rounded up or down
# The least tolerances, however many digits a score has
OF_32_BITS = 1e-6  # of a score that 32 bits hold, because some libraries compute in these
MEAN_OF_32_BITS = 2e-7  # of any other, which may be the mean of values of 32 bits
REORDERED = 1e-9  # of the convention that comes closest: it may sum in another order


class Reported(NamedTuple):
    """Scores that somebody reported."""

    percent: bool  # whether the score was given in percent
    scale: int  # 100 if the score was read in percent although it has no percent sign; else 1
    # each score with its precision and its least tolerance, by its cutoff; by None if the cutoff is to be found
    scores: tuple[tuple[tuple[int | None, ...], float, float, float], ...]
    values: Any  # the value of each query, in order or by id; None if scores were reported
    k: int | None

    @classmethod
    def read(cls, got: Any, k: Any) -> "Reported":
        """Read the reported scores: a score, scores by name, or the value of each query, also as a file or its lines.

        Raises:
            ValueError: it is not one of these.
        """
        if isinstance(got, str) and "\n" in got:
            got, k = values_in_text(got, k)
        elif _is_file(got):
            got, k = values_in_file(os.fsdecode(got), k)
        elif isinstance(got, str) and "@" in got:
            got = dict(_named_score(each) for each in got.split(","))
        elif isinstance(got, Mapping) and any(isinstance(each, Mapping) for each in got.values()):
            got, k = values_in_mapping(got, k)
        if isinstance(got, Mapping) and got and all(isinstance(name, str) and NAMED.fullmatch(name) for name in got):
            return cls._of_names(got, k)
        if isinstance(got, (Mapping, list, tuple)) or getattr(got, "ndim", 0) == 1:
            return cls(False, 1, (), got, k)
        percent, *score = _number_and_precision(got)
        scale = 100 if percent and not _has_sign(got) else 1
        return cls(percent, scale, (((), *score),), None, k)

    @classmethod
    def _of_names(cls, got: Mapping[str, Any], k: Any) -> "Reported":
        if k is not None:
            raise ValueError(f"k={shown(k)} and got={shown(dict(got))} both give cutoffs; give one of the two")
        scores, percents = [], []
        for name, value in got.items():
            percent, *score = _number_and_precision(value)
            _, at, cutoff = name.partition("@")
            scores.append(((int(cutoff) if at else None,), *score))
            percents.append(percent)
        scale = 100 if all(percents) and not any(map(_has_sign, got.values())) else 1
        return cls(any(percents), scale, tuple(scores), None, scores[0][0][0])

    @property
    def words(self) -> str:
        """The scores as text."""
        if self.values is not None:
            return "these values of queries"
        names = [f"{result_name('nDCG', *cutoff)} " if cutoff else "" for cutoff, *_ in self.scores]
        return " and ".join(f"{name}{score:g}" for name, (_, score, *_) in zip(names, self.scores, strict=True))

    @property
    def subject(self) -> str:
        """The scores at the beginning of a sentence, with its verb."""
        if self.values is not None:
            return f"T{self.words[1:]} are"
        return f"{self.words} {'is' if len(self.scores) == 1 else 'are'}"

    @property
    def score(self) -> float:
        """The score, or the first of several; nan for the values of queries."""
        return self.scores[0][1] if self.scores else math.nan

    def as_given(self) -> "Reported":
        """Return the scores before they were read as percentages, since a DCG may be above 1."""
        scale = self.scale
        scores = (
            (cutoff, round(scale * score, 12), scale * precision, least)
            for cutoff, score, precision, least in self.scores
        )
        return self._replace(percent=self.percent and scale == 1, scale=1, scores=tuple(scores))

    def evidence(self, rankings: Rankings, *, exact: bool = False) -> list[Evidence]:
        """Return the evidence that a combination of options must match, exactly or as other libraries compute.

        Raises:
            ValueError: the values belong to other queries than those of the rankings.
        """
        if self.values is None:
            return [
                Evidence(np.array([score]), max(REORDERED if exact else least, precision), cutoff)
                for cutoff, score, precision, least in self.scores
            ]
        values = self.values
        if isinstance(values, Mapping):
            values = _in_order_of_queries(values, rankings)
        if len(values) != rankings.queries:
            raise InputError(
                f"{len(values)} values for {rankings.queries} queries; give the value of each query", "got"
            )
        scores, precisions, tolerances, are_rounded = zip(*map(_value_of_query, values), strict=True)
        precision = min(precisions) if any(are_rounded) else 0.0  # values such as 0.5 show fewer digits than others
        least = REORDERED if exact else min(tolerances)
        return [Evidence(np.array(scores), max(least, precision), of_queries=True)]


def _in_order_of_queries(values: Mapping[Any, Any], rankings: Rankings) -> list[Any]:
    """Return the values in the order of the queries; None for queries that programs omit because they have no value."""
    names = rankings.names()
    if names and not isinstance(names[0], str) and all(isinstance(each, str) for each in values):  # values from a file
        values = {int(name) if name.isdecimal() else name: value for name, value in values.items()}
    may_lack = rankings.lacking() | (rankings.counts()["relevant"] == 0)
    missing = [name for name, may in zip(names, may_lack, strict=True) if name not in values and not may]
    if missing:
        some = f"query {shown(missing[0])} is missing ({len(missing)} such queries)"
        raise InputError(f"{some}; give the value of each query, None for a query without one", "got")
    if unknown := values.keys() - set(names):
        raise InputError(f"query {shown(min(unknown, key=str))} is not in the references", "got")
    return [values.get(name) for name in names]


NAMED = re.compile(r"nDCG(@[1-9]\d*)?")


def _named_score(text: str) -> tuple[str, str]:
    """Return the name and the score of text such as 0.31@5."""
    score, _, cutoff = text.strip().partition("@")
    if NAMED.fullmatch(name := f"nDCG@{cutoff}") is None:
        raise InputError(f"{mark('got')} must be scores with their cutoffs, such as 0.31@5,0.283@10; got {shown(text)}")
    return name, score


def _is_file(got: Any) -> bool:
    """Return whether this is a file or a pipe, and not a number."""
    if not isinstance(got, (str, os.PathLike)) or (isinstance(got, str) and _decimal(got).is_finite()):
        return False
    return os.path.exists(got) and not os.path.isdir(got)


def _value_of_query(value: Any) -> tuple[float, float, float, bool]:
    """Return the value of a query, its precision, its least tolerance, and whether it was surely rounded.

    Numbers such as 1.0 and 0.5 may have few digits anyway. The value may be above 1, but is not a percentage.

    >>> _value_of_query(0.5), _value_of_query("0.5000")
    ((0.5, 0.05000005, 1e-06, False), (0.5, 5.000005e-05, 1e-06, True))
    """
    if value is None or (is_real(value) and math.isnan(value)):  # a query without a value
        return math.nan, math.inf, OF_32_BITS, False
    number, exponent = _decimal(value), _exponent(value)
    if exponent is None or not math.isfinite(float(number)):
        raise InputError(f"{mark('got')} must hold a number for each query; got {shown(value)}")
    fewest = _exponent(float(number))
    may_be_exact = number == Decimal(float(number)) and fewest is not None and exponent >= fewest
    return float(number), HALF_UNIT * 10.0**exponent, _least_tolerance(float(number)), not may_be_exact


def _least_tolerance(number: float) -> float:
    """Return how much a score may differ from the same in 64 bits, however many digits it has.

    >>> [_least_tolerance(each) for each in (2 / 3, float(np.float32(2 / 3)), 0.6666667)]
    [2e-07, 1e-06, 1e-06]
    """
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return OF_32_BITS if number in (float(single), float(str(single))) else MEAN_OF_32_BITS


def _has_sign(got: Any) -> bool:
    return str(got).strip().endswith("%")


def _decimal(value: Any) -> Decimal:
    """Return a number with all of its original digits; nan if it is not a number."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value  # the number in an array or a tensor
    text = str(plain) if isinstance(plain, (str, Decimal)) else repr(float(plain)) if is_real(plain) else ""
    try:
        return Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        return Decimal("nan")


def _exponent(value: Any) -> int | None:
    """Return the power of ten of the last digit of a number; None if it is not a finite number."""
    exponent = _decimal(value).as_tuple().exponent
    return exponent if isinstance(exponent, int) else None


def _number_and_precision(got: Any) -> tuple[bool, float, float, float]:
    """Return whether a score is a percentage, and from 0 to 1 with its precision and its least tolerance.

    Raises:
        ValueError: it is not a score.
    """
    number, exponent = _decimal(got), _exponent(got)
    if exponent is None or not -300 < exponent < 3 or not -100 <= number <= 100:
        by_query = mark("file of got", said="a file that holds the value of each query", before=", or ")
        file = by_query if isinstance(got, (str, os.PathLike)) else ""
        raise InputError(
            f"{mark('got')} must be an nDCG, such as 0.5921, or in percent, such as 59.21{file}; got {shown(got)}"
        )
    percent = abs(number) > 1 or _has_sign(got)
    if exponent >= 0 and not percent:
        raise InputError(
            f"{mark('got')} must have digits after the point, such as 1.000; many scores round to {shown(got)}"
        )
    scale = 100 if percent else 1
    score = float(number / scale)
    return percent, score, HALF_UNIT * 10.0**exponent / scale, max(map(_least_tolerance, (float(number), score)))
