"""Read reported scores: one score, scores at several cutoffs, or a value per query, with the precision of a match.

The values of queries may be in files, text and mappings that programs write.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..files.cells import Line, read_cells
from ..files.content import read_content
from ..inputs.fields import QUERY, plain_name, spelled
from ..inputs.rankings import Rankings
from ..measure.messages import InputError, mark, shown
from ..measure.options import is_real, result_name
from .search import Evidence

HALF_UNIT = 0.5000005  # of the last digit: half of it may be rounded up or down
# The least tolerances, however many digits a score has
OF_32_BITS = 1e-6  # of a score that 32 bits hold, because some libraries compute in these
MEAN_OF_32_BITS = 2e-7  # of any other, which may be the mean of values of 32 bits
REORDERED = 1e-9  # of the convention that comes closest: it may sum in another order
NAMED = re.compile(r"nDCG(@[1-9]\d*)?")
WITHOUT_VALUE = ("nan", "none", "null", "-", "")  # texts that mean that a query has no value
NDCG = re.compile(r"ndcg(?:(?:_cut[_.]|@)([1-9]\d*))?", re.IGNORECASE)  # including trec_eval's name
OTHERS = ("run", "slice", "measure")  # columns that contain neither queries nor values
_Cutoff = tuple[int | None, ...]  # of a score; empty if it is to be found


class _Number(NamedTuple):
    """A score from 0 to 1, or the value of a query."""

    value: float
    precision: float  # half a unit of its last digit
    least: float  # the tolerance of a match, however many digits it has


class Reported(NamedTuple):
    """Scores that somebody reported."""

    given: Mapping[_Cutoff, Any]  # the scores as they were given
    scores: Sequence[_Number]
    percent: bool  # whether a score was given in percent
    values: Any  # the value of each query, in order or by id; None if scores were reported
    k: int | None

    @classmethod
    def read(cls, got: Any, k: Any) -> "Reported":
        """Read the reported scores: a score, scores by name, or the value of each query, also as a file or its lines.

        Raises:
            ValueError: it is not one of these.
        """
        if isinstance(got, str) and "\n" in got:
            got, k = _values_of(got.encode(), k)
        elif _is_file(got):
            path = os.fsdecode(got)
            got, k = _values_of(_content_of(path), k, f"got: {path}")
        elif isinstance(got, str) and "@" in got:
            got = dict(_named_score(each) for each in got.split(","))
        elif isinstance(got, Mapping) and any(isinstance(each, Mapping) for each in got.values()):
            got, k = _values_of(got, k)
        of_names = isinstance(got, Mapping) and bool(got) and all(NAMED.fullmatch(str(name)) for name in got)
        if not of_names and (isinstance(got, (Mapping, list, tuple)) or getattr(got, "ndim", 0) == 1):
            return cls({}, (), False, got, k)
        if of_names and k is not None:
            raise ValueError(f"k={shown(k)} and got={shown(dict(got))} both give cutoffs; give one of the two")
        given: dict[_Cutoff, Any] = {(): got}
        if of_names:
            given = {(int(name[5:]) if name[5:] else None,): each for name, each in got.items()}
        first, *_ = next(iter(given)) or (k,)
        return cls._of(given, first)

    @classmethod
    def _of(cls, given: Mapping[_Cutoff, Any], k: int | None, highest: float = 1) -> "Reported":
        """Return scores, which are percentages if they have a percent sign or are above the highest."""
        scores, are_percents = zip(*(_score(each, highest) for each in given.values()), strict=True)
        return cls(given, scores, any(are_percents), None, k)

    @property
    def words(self) -> str:
        """The scores as text."""
        if self.values is not None:
            return "these values of queries"
        names = [f"{result_name('nDCG', *cutoff)} " if cutoff else "" for cutoff in self.given]
        return " and ".join(f"{name}{score.value:g}" for name, score in zip(names, self.scores, strict=True))

    @property
    def subject(self) -> str:
        """The scores at the beginning of a sentence, with its verb."""
        return f"{self.words[0].replace('t', 'T')}{self.words[1:]} {'is' if len(self.scores) == 1 else 'are'}"

    @property
    def score(self) -> float:
        """The score, or the first of several; nan for the values of queries."""
        return self.scores[0].value if self.scores else math.nan

    def as_given(self) -> "Reported":
        """Return the scores before they were read as percentages, since a DCG may be above 1."""
        return self if self.values is not None else self._of(self.given, self.k, math.inf)

    def evidence(self, rankings: Rankings, *, exact: bool = False) -> list[Evidence]:
        """Return the evidence that a combination of options must match, exactly or as other libraries compute.

        Raises:
            ValueError: the values belong to other queries than those of the rankings.
        """
        if self.values is None:
            return [
                Evidence(np.array([score.value]), max(REORDERED if exact else score.least, score.precision), cutoff)
                for cutoff, score in zip(self.given, self.scores, strict=True)
            ]
        values = self.values
        if isinstance(values, Mapping):
            values = _in_order_of_queries(values, rankings)
        if len(values) != rankings.queries:
            raise InputError(
                f"{len(values)} values for {rankings.queries} queries; give the value of each query", "got"
            )
        scores, are_rounded = zip(*map(_value_of_query, values), strict=True)
        numbers, precisions, tolerances = map(np.array, zip(*scores, strict=True))
        precision = precisions.min() if any(are_rounded) else 0.0  # values such as 0.5 show fewer digits than others
        return [Evidence(numbers, max(REORDERED if exact else tolerances.min(), precision), of_queries=True)]


def _in_order_of_queries(values: Mapping[Any, Any], rankings: Rankings) -> list[Any]:
    """Return the values in the order of the queries; None for queries that programs omit because they have no value."""
    names = rankings.names()
    if names and not isinstance(names[0], str) and all(isinstance(each, str) for each in values):  # values from a file
        values = {int(name) if name.isdecimal() else name: value for name, value in values.items()}
    may_lack = rankings.lacking() | (rankings.counts()["relevant"] == 0)
    missing = [name for name, may in zip(names, may_lack, strict=True) if name not in values and not may]
    if missing:
        some = f"query {shown(missing[0])} is missing ({len(missing)} such queries)"
        none = mark("None", before=", ", after=" for a query without one")
        raise InputError(f"{some}; give the value of each query{none}", "got")
    if unknown := values.keys() - set(names):
        raise InputError(f"query {shown(min(unknown, key=str))} is not in the references", "got")
    return [values.get(name) for name in names]


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


def _value_of_query(value: Any) -> tuple[_Number, bool]:
    """Return the value of a query, and whether its digits show that it was rounded.

    Numbers such as 1.0 and 0.5 may have few digits anyway. The value may be above 1, but is not a percentage.

    >>> [_value_of_query(each)[1] for each in (0.5, "0.5000")]
    [False, True]
    """
    if value is None or (is_real(value) and math.isnan(value)):  # a query without a value
        return _Number(math.nan, math.inf, OF_32_BITS), False
    number, exponent = _decimal(value), _exponent(value)
    if exponent is None or not math.isfinite(float(number)):
        raise InputError(f"{mark('got')} must hold a number for each query; got {shown(value)}")
    fewest = _exponent(float(number))
    may_be_exact = number == Decimal(float(number)) and fewest is not None and exponent >= fewest
    value = float(number)
    return _Number(value, HALF_UNIT * 10.0**exponent, _least_tolerance(value)), not may_be_exact


def _least_tolerance(number: float) -> float:
    """Return how much a score may differ from the same in 64 bits, however many digits it has.

    >>> [_least_tolerance(each) for each in (2 / 3, float(np.float32(2 / 3)), 0.6666667)]
    [2e-07, 1e-06, 1e-06]
    """
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return OF_32_BITS if number in (float(single), float(str(single))) else MEAN_OF_32_BITS


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


def _score(got: Any, highest: float) -> tuple[_Number, bool]:
    """Return a score, and whether it is a percentage: it has a percent sign, or is above the highest.

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
    percent = abs(number) > highest or str(got).strip().endswith("%")
    if exponent >= 0 and abs(number) <= 1 and not percent:
        raise InputError(
            f"{mark('got')} must have digits after the point, such as 1.000; many scores round to {shown(got)}"
        )
    scale = 100 if percent else 1
    score, least = float(number / scale), max(_least_tolerance(float(each)) for each in (number, number / scale))
    return _Number(score, HALF_UNIT * 10.0**exponent / scale, least), percent


# The values of queries


class _Row(NamedTuple):
    """A value that somebody reported."""

    query: Any  # the id of its query; None if the values are in the order of the queries
    value: Any  # the value, a number or text
    measure: str | None = None  # the name of the measure; None if it has none
    run: Any = None  # the name of the run; None if it has none


def _content_of(path: str) -> bytes:
    """Return the content of a file or a pipe, which may be compressed; an error names it."""
    try:
        return read_content(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", "got") from None
    except ValueError as error:
        raise InputError(f"{error}", "got") from None


def _values_of(content: bytes | Mapping[Any, Any], k: Any, name: str = "got") -> tuple[Any, Any]:
    """Return the values of queries in text or a mapping, by query or in order, and their cutoff.

    Text has lines of `query value`, of `measure query value` as printed by trec_eval -q, or of values alone; or it is
    CSV, TSV, JSON or JSON Lines, as written by ndcg score -q. A query without a value has nan, None, null, a dash or
    nothing. A mapping is a saved report or `{query: {measure: value}}`.

    Args:
        content: the text or the mapping.
        k: the cutoff of the nDCG; None for the whole list, or for the cutoff of the only nDCG.
        name: what errors call it.

    Raises:
        ValueError: there is no such nDCG or several, there are several runs, or two values of a query.
    """
    ndcgs: dict[str, list[_Row]] = {}  # by the name that the measure has here; "" without a measure
    others: dict[str, None] = {}
    try:
        for row in _rows_of_text(content) if isinstance(content, bytes) else _rows_of_json(content):
            measure = _ndcg_of(row.measure)
            if measure is None:
                others[str(row.measure)] = None
            else:
                ndcgs.setdefault(measure, []).append(row)
    except ValueError as error:
        hint = "give JSON of values by query, or lines of a query and its value"
        raise InputError(f"{error}; {hint}", name) from None
    asked = result_name("nDCG", k)
    possible = [asked, "", *(ndcgs if k is None and len(ndcgs) == 1 else ())]
    measure = next((each for each in possible if each in ndcgs), None)
    if measure is None:
        there = " and ".join(ndcgs or others) or "no value"
        cutoff = next(iter(ndcgs), "").partition("@")[2]
        call = mark("cutoff of nDCG", int(cutoff) if cutoff else None, said=f"k={cutoff or None}")
        hint = f"; choose {call}" if ndcgs else ""
        raise InputError(f"holds {there}, not {asked}{hint}", name)
    runs = dict.fromkeys(row.run for row in ndcgs[measure])
    if len(runs) > 1:
        raise InputError(f"holds the values of {' and '.join(map(str, runs))}; give those of one run", name)
    cutoff = measure.partition("@")[2]
    return _values_by_query(name, ndcgs[measure]), int(cutoff) if cutoff else k


def _ndcg_of(measure: str | None) -> str | None:
    """Return the name that an nDCG has here, empty for no name; None for another measure.

    >>> _ndcg_of("ndcg_cut_10"), _ndcg_of("ndcg"), _ndcg_of(None), _ndcg_of("map")
    ('nDCG@10', 'nDCG', '', None)
    """
    if measure is None:
        return ""
    found = NDCG.fullmatch(measure)
    return None if found is None else result_name("nDCG", int(found[1]) if found[1] else None)


def _values_by_query(name: str, rows: Iterable[_Row]) -> dict[Any, Any] | list[Any]:
    """Return values by query, or in order if they have no queries; None for a query without one."""
    values: dict[Any, Any] = {}
    alone: list[Any] = []
    for row in rows:
        has_none = isinstance(row.value, str) and row.value.lower() in WITHOUT_VALUE
        value = None if has_none else row.value
        if row.query is None:
            alone.append(value)
        elif repr(values.setdefault(row.query, value)) != repr(value):
            both = f"{shown(values[row.query])} and {shown(value)}"
            raise InputError(f"query {shown(row.query)} has two values, {both}", name)
    if values and alone:
        raise InputError("some values have a query, others none; give each of them its query", name)
    return values or alone


def _rows_of_text(content: bytes) -> Iterator[_Row]:
    """Yield the values in a file or in text."""
    found = read_cells(content)
    if isinstance(found, Iterator):
        yield from _rows_of_lines(found)
    else:
        yield from _rows_of_json(found.to_pylist() if isinstance(found, pa.Table) else found)


def _rows_of_lines(lines: Iterable[Line]) -> Iterator[_Row]:
    """Yield the values in lines, of which the first may be a header."""
    header: list[str] | None = None
    for at, (number, text, cells) in enumerate(lines):
        *others, value = cells
        if header is None and "all" in others:
            continue
        if at == 0 and not _is_value(value):
            header = cells
            continue
        if header is not None and len(cells) == len(header):
            yield from _rows_of_record(dict(zip(header, cells, strict=True)))
            continue
        if len(others) == 2 and NDCG.fullmatch(others[1]):  # ir_measures prints the measure after the query
            others.reverse()
        measure, query = [None, None, *others][-2:]
        if header is not None or len(others) > 2 or not (_is_value(value) or _ndcg_of(measure) is None):
            raise ValueError(f"line {number}: {shown(text)} is not a query and its value")
        yield _Row(query, value, measure)


def _is_value(text: str) -> bool:
    """Return whether text is a finite number, or shows that a query has no value."""
    with suppress(ValueError):
        return text.lower() in WITHOUT_VALUE or math.isfinite(float(text))
    return False


def _rows_of_json(value: Any, run: Any = None) -> Iterator[_Row]:
    """Yield the values in records, a saved report, `{query: {measure: value}}`, `{query: value}`, or a list."""
    if isinstance(value, list):
        for each in value:
            if isinstance(each, Mapping):
                yield from _rows_of_record(each)
            else:
                yield _Row(None, each)
    elif isinstance(columns := value.get("queries"), Mapping):
        for cells in zip(*columns.values(), strict=True):
            yield from _rows_of_record(dict(zip(columns, cells, strict=True)), run)
    else:
        for query, each in value.items():
            if not isinstance(each, Mapping):
                yield _Row(query, each)
            elif isinstance(each.get("queries"), Mapping):  # saved reports by run
                yield from _rows_of_json(each, query)
            else:
                yield from (_Row(query, number, measure) for measure, number in each.items())


def _rows_of_record(record: Mapping[str, Any], run: Any = None) -> Iterator[_Row]:
    """Yield the values in a row of a table: of each nDCG, or else of the only column that may hold them."""
    query = next(iter(spelled(record, (*QUERY[0], *QUERY[1]))), None)
    others = [name for name in record if name != query and plain_name(name) not in OTHERS]
    if query is None and len(others) == 2:
        query = others.pop(0)
    ndcgs = [name for name in others if NDCG.fullmatch(name)]
    if not ndcgs and len(others) != 1:
        raise ValueError(f"the columns are {', '.join(map(shown, record))}; one must be an nDCG, such as nDCG@10")
    query_id = None if query is None else record[query]
    if query_id == "all":
        return
    for name in ndcgs or others:
        measure = name if ndcgs else record.get(next(iter(spelled(record, ("measure",))), ""))
        yield _Row(query_id, record[name], measure, record.get("run", run))
