"""Read reported scores: a score, scores by name, or a value per query.

They may be in files, text and mappings that programs write, and have the tolerance of a match.
"""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..files.cells import Line, read_cells
from ..files.content import columns_text, read_content
from ..inputs.fields import QUERY_OF_LISTS, spelled
from ..inputs.rankings import Rankings
from ..inputs.sources import converted, values_by_query
from ..measure.messages import InputError, brief, in_place, mark, shown
from ..measure.options import is_real, result_name
from .evidence import Evidence, EvidenceByQuery

HALF_UNIT = 0.5000005  # of the last digit: half of it may be rounded up or down
# How far off a score may be, however many digits it has: some libraries compute with 32 bits
LOSS_OF_32_BITS = 1e-6
WITHOUT_VALUE = ("nan", "none", "null", "-", "")  # texts that mean that a query has no value
# The names that programs give nDCG: nDCG@10, ndcg_at_10 (MTEB), ndcg_cut_10 (trec_eval), ndcg_10
NDCG = re.compile(r"ndcg(?:(?:@|_at_|_cut[_.]|_)([1-9]\d*))?", re.IGNORECASE)
# What stands in place of a query beside a mean: in files of trec_eval, of gdeval and of BEIR, and
# None where the name of the measure stands alone
ALL_QUERIES = ("all", "amean", "ndcg", None)
# A mean after its name, as "nDCG@10 = 0.3146", or in the log of BEIR: "INFO - NDCG@10: 0.3146"
LOGGED = re.compile(rf"(?:^|\s)(?P<name>{NDCG.pattern})\s*[:=]\s*(?P<value>\S+)$", re.IGNORECASE)
# A mean before its cutoff, as in "0.31@5,0.283@10"
SCORE_AT_CUTOFF = re.compile(r"(?:^|,)\s*([-+.\de]+%?)\s*@([1-9]\d*)\s*(?=,|$)")
SEVERAL = re.compile(rf"\n|^\s*{NDCG.pattern}", re.IGNORECASE)  # in text
QUERY_NAMES = tuple(chain.from_iterable(QUERY_OF_LISTS))
_Cutoff = tuple[int | None, ...]  # a score's; empty if unknown
_ByCutoff = dict[_Cutoff, dict[Any, Any]]  # values by query, or the mean


class _Number(NamedTuple):
    """A score from 0 to 1, or the value of a query."""

    value: float
    half_unit: float  # of its last digit
    # whether a score was given in percent, or the digits of a value show that it was rounded
    is_percent: bool = False
    is_rounded: bool = False


class Reported(NamedTuple):
    """Scores that somebody reported."""

    given: Mapping[_Cutoff, Any]  # the scores as they were given
    k: int | None
    values: Any = None  # the value of every query, in order or by id, if these were reported
    highest: float = 1  # a score above it is a percentage

    @classmethod
    def read(cls, got: Any, k: Any) -> "Reported":
        """Read a score, scores by name, or the value of every query, also as a file or text."""
        content, place = _content_of(got)
        with in_place(place):
            reported = _reported(content, k)
        reported.scores()  # which refuses what is no score
        return reported

    def scores(self) -> list[_Number]:
        """Return the scores as numbers."""
        return [_score(score, self.highest) for score in self.given.values()]

    @property
    def cutoffs(self) -> list[int | None]:
        """The cutoffs of the scores; none if that of a score is unknown."""
        return list(chain.from_iterable(self.given))

    @property
    def percent(self) -> bool:
        """Whether a score was given in percent: with a percent sign, or above the highest."""
        return any(score.is_percent for score in self.scores())

    @property
    def words(self) -> str:
        """The scores as text."""
        words = []
        for cutoff, score in zip(self.given, self.scores(), strict=True):
            text = f"{score.value:g}"
            if cutoff:
                text = f"{result_name('nDCG', *cutoff)} {text}"
            words.append(text)
        return ", ".join(words)

    def as_given(self) -> "Reported":
        """Return the scores before they were read as percentages, since a DCG may be above 1."""
        return self._replace(highest=math.inf)

    def evidence(self, rankings: Rankings) -> Evidence:
        """Return the evidence that a definition must match."""
        # In this order, every column is contiguous.
        scores, half_unit, *_ = np.array(self.scores(), np.float64, order="F").T
        return Evidence(scores, half_unit + LOSS_OF_32_BITS, self.cutoffs)


class ReportedValues(Reported):
    """The value of every query that somebody reported, in order or by id, without scores."""

    @property
    def words(self) -> str:
        """The values as text."""
        return "these values of queries"

    def evidence(self, rankings: Rankings) -> Evidence:
        """Return the evidence that a definition must match."""
        values = self.values
        if isinstance(values, Mapping):
            values = _in_order_of_queries(values, rankings)
        if len(values) != rankings.queries:
            raise InputError(
                f"must hold one value per query, {rankings.queries} in all; got {len(values)}",
                "got",
            )
        numbers = np.array(list(map(_value_of_query, values)), np.float64, order="F")
        scores, half_unit, _, is_rounded = numbers.T
        # Values such as 0.5 show fewer digits than others.
        half_unit = half_unit.min(keepdims=True)
        if not is_rounded.any():
            half_unit = np.zeros(1)
        return EvidenceByQuery(scores, half_unit + LOSS_OF_32_BITS)


def _in_order_of_queries(values: Mapping[Any, Any], rankings: Rankings) -> list[Any]:
    """Return the values in the order of the queries; None for queries that programs omit."""
    names = rankings.names()
    # The names in a file are text, also where they are numbers.
    by_text = dict(zip(map(str, names), names, strict=True))
    values = {by_text.get(str(name), name): value for name, value in values.items()}
    unknown = values.keys() - set(names)
    if unknown:
        name = shown(min(unknown, key=str))
        raise InputError(
            f"{name} is neither an nDCG nor a query of the references; give {{query: value}}", "got"
        )
    may_be_omitted = rankings.lacking() | (rankings.counts()["relevant"] == 0)
    missing = [name for name in compress(names, ~may_be_omitted) if name not in values]
    if missing:
        none = mark("None", before=", ", after=" for a query without one")
        raise InputError(
            f"query {shown(missing[0])} is missing ({len(missing)} such queries); "
            f"give the value of each query{none}",
            "got",
        )
    return list(map(values.get, names))


# Files and text


def _content_of(got: Any) -> tuple[Any, str]:
    """Return the content of a file or of text, else what was given, and its place in errors."""
    # A number is never the name of a file.
    if not isinstance(got, (str, os.PathLike)) or _decimal(got).is_finite():
        return values_by_query("got", got, ()), "got"
    text = os.fsdecode(got)
    if os.path.exists(text):
        return read_content(text), f"got: {text}"
    text = SCORE_AT_CUTOFF.sub(r"nDCG@\2 \1\n", text)
    if SEVERAL.search(text):
        return text.encode(), "got"
    return got, "got"


# Numbers


def _value_of_query(value: Any) -> _Number:
    """Return the value of a query, which may be above 1, but is not a percentage."""
    if value is None:
        # a query without a value
        return _Number(math.nan, math.inf)
    decimal = _decimal(value)
    number = float(decimal)
    if not math.isfinite(number):
        raise InputError(f"{mark('got')} must hold a number for each query; got {shown(value)}")
    exponent = _exponent(decimal)
    # Numbers such as 1.0 and 0.5 may have few digits without being rounded.
    may_be_exact = decimal == Decimal(number) and exponent >= _exponent(_decimal(number))
    half_unit = HALF_UNIT * 10.0**exponent
    return _Number(number, half_unit, is_rounded=not may_be_exact)


def _decimal(value: Any) -> Decimal:
    """Return a number with all of its original digits; nan if it is not a number."""
    if getattr(value, "ndim", None) == 0:
        value = np.asarray(converted(value))[()]  # the number in an array or a tensor
    text = ""
    if isinstance(value, (str, Decimal, np.float16)):
        text = str(value).strip().removesuffix("%")
    elif is_real(value):
        number = float(value)
        with np.errstate(over="ignore"):
            single = np.float32(value)
        # A number that 32 bits hold has the digits that it needs there.
        text = str(single) if float(single) == number else repr(number)
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("nan")


def _exponent(number: Decimal) -> int:
    """Return the power of ten of the last digit of a finite number."""
    return int(number.as_tuple().exponent)


def _score(got: Any, highest: float) -> _Number:
    """Return a score, which is a percentage with a percent sign, or above the highest."""
    number = _decimal(got)
    if not abs(float(number)) <= 100:
        file = mark("file of got", said="a file with the value of each query", before=", or ")
        raise InputError(
            f"{mark('got')} must be an nDCG, such as 0.5921, or in percent, such as 59.21{file}; "
            f"got {shown(got)}"
        )
    percent = abs(number) > highest or str(got).strip().endswith("%")
    scale = 100 if percent else 1
    value = float(number / scale)
    half_unit = HALF_UNIT * float(f"1e{_exponent(number)}") / scale
    if half_unit >= HALF_UNIT and abs(value) <= 1:
        raise InputError(
            f"{mark('got')} must have digits after the point, such as 1.000; "
            f"many scores round to {shown(got)}"
        )
    return _Number(value, half_unit, is_percent=percent)


# Several scores


class _Row(NamedTuple):
    """A value that somebody reported."""

    query: Any  # the id of its query, or one of `ALL_QUERIES`
    measure: Any  # the name of the measure; None if it has none
    value: Any  # a number or text

    @classmethod
    def of(cls, value: Any, name: Any, other: Any = None) -> "_Row":
        """Return a value with its query and its measure, or one of them, in either order."""
        query, measure = sorted((name, other), key=_is_ndcg)
        return cls(query, measure, value)


def _reported(content: Any, k: Any) -> Reported:
    """Read a score, means by the names of measures, or values by query or in their order."""
    if isinstance(content, bytes):
        content = read_cells(content)
    if isinstance(content, pa.Table):
        content = content.to_pylist()
    if isinstance(content, Iterator):
        return _in_lines(list(content), k)
    if isinstance(content, Mapping):
        return _at_cutoff(_rows_of_mapping(content), k)
    if isinstance(content, (list, tuple)) or getattr(content, "ndim", 0) == 1:
        return _in_list(content, k)
    return Reported({(): content}, k)


def _in_lines(lines: Sequence[Line], k: Any) -> Reported:
    """Read means in a log, a table with or without a header, or a value in every line."""
    logged = list(filter(None, (LOGGED.search(line.text) for line in lines)))
    if logged:
        return _at_cutoff([_Row.of(match["value"], match["name"]) for match in logged], k)
    if any(len(line.cells) > 1 for line in lines):
        return _at_cutoff(_rows_of_lines(lines), k)
    return _in_list(list(chain.from_iterable(line.cells for line in lines)), k)


def _in_list(values: Iterable[Any], k: Any) -> Reported:
    """Read the values of queries in their order, rows of a table, or the means of BEIR."""
    if not all(isinstance(value, Mapping) for value in values):
        return ReportedValues({}, k, list(map(_known, values)))
    if isinstance(values, tuple):
        # BEIR returns the means of nDCG, MAP, recall and precision.
        return _at_cutoff(_rows_of_mappings(values), k)
    return _at_cutoff(_rows_of_records(values), k)


def _known(value: Any) -> Any:
    """Return a value; None for text that means that a query has none."""
    return None if str(value).lower() in WITHOUT_VALUE else value


# The nDCG at a cutoff


def _at_cutoff(rows: Iterable[_Row], k: Any) -> Reported:
    """Return the values of queries at k, or else the means at k; without k, all means."""
    rows = list(rows)
    by_query: _ByCutoff = {}
    means: _ByCutoff = {}
    for query, measure, value in _ndcgs(rows, result_name("nDCG", k)):
        cutoff = _cutoff_of(measure)
        if query in ALL_QUERIES:
            _add(means.setdefault(cutoff, {}), "the mean", value)
        else:
            _add(by_query.setdefault(cutoff, {}), query, value)
    known = by_query or means
    wanted: _Cutoff = (k,)
    if k is None and len(by_query) < 2:
        wanted = next(iter(known), wanted)
    if wanted not in known:
        raise _missing_cutoff(wanted, known, rows)
    if by_query:
        return ReportedValues({}, wanted[0], by_query[wanted])
    if k is not None:
        means = {wanted: means[wanted]}
    return Reported({cutoff: mean["the mean"] for cutoff, mean in means.items()}, wanted[0])


def _missing_cutoff(wanted: _Cutoff, known: _ByCutoff, rows: Sequence[_Row]) -> InputError:
    """Return the error for an nDCG at a cutoff that is not among those that are known."""
    missing = f", not {result_name('nDCG', *wanted)}"
    if not known:
        others = dict.fromkeys(str(row.measure or row.query) for row in rows)
        there = brief(others, " and ") or "no value of a query"
        return InputError(f"holds {there}{missing}; give {{query: value}}")
    names = [result_name("nDCG", *cutoff) for cutoff in known]
    (other,) = next(iter(known))
    hint = mark("cutoff of nDCG", other, said=f"k={other}")
    return InputError(f"holds {brief(names, ' and ')}{missing}; choose {hint}")


def _ndcgs(rows: Sequence[_Row], name: str) -> Sequence[_Row]:
    """Return the values of nDCG; if no measure is it, those of queries alone, with its name."""
    unnamed = [row for row in rows if row.measure is None and row.query not in ALL_QUERIES]
    named = [row for row in rows if _is_ndcg(row.measure)]
    return named or [row._replace(measure=name) for row in unnamed]


def _add(values: dict[Any, Any], query: Any, value: Any) -> None:
    """Add a value, which must be the same if a query has it twice."""
    value = _known(value)
    first = values.setdefault(query, value)
    if repr(first) != repr(value) and _decimal(first) != _decimal(value):
        raise InputError(
            f"{shown(query)} has two values, {shown(first)} and {shown(value)}; give one of them"
        )


def _cutoff_of(measure: Any) -> _Cutoff:
    """Return the cutoff of an nDCG by its name; empty for another measure."""
    match = NDCG.fullmatch(str(measure))
    if match is None:
        return ()
    if match[1] is None:
        return (None,)
    return (int(match[1]),)


def _is_ndcg(name: Any) -> bool:
    return bool(_cutoff_of(name))


# Rows of lines, mappings and tables


def _rows_of_lines(lines: Sequence[Line]) -> Iterable[_Row]:
    """Return the values in lines of a table, or in those of trec_eval and ir_measures."""
    header = lines[0].cells
    for line in lines:
        if len(line.cells) != len(header):
            raise InputError(
                f"line {line.number}: {shown(line.text)} has {columns_text(len(line.cells))}, "
                f"the first line has {len(header)}; give lines of a query and its value"
            )
    rows = [line.cells for line in lines]
    if header[0] == "" or len(header) > 3 or spelled(header, QUERY_NAMES):
        return _rows_of_records([dict(zip(header, row, strict=True)) for row in rows[1:]])
    # trec_eval prints the measure first.
    return [_Row.of(value, *reversed(names)) for *names, value in rows]


def _rows_of_mapping(content: Mapping[Any, Any]) -> Iterable[_Row]:
    """Return the values in a saved report, a result of MTEB or Elasticsearch, or by name."""
    columns = content.get("queries")
    if isinstance(columns, Mapping):
        # a saved report
        rows = zip(*columns.values(), strict=True)
        return _rows_of_records([dict(zip(columns, row, strict=True)) for row in rows])
    if "mteb_version" in content:
        # the means of every subset of every split
        return _rows_of_mappings(chain.from_iterable(content.get("scores", {}).values()))
    if "metric_score" in content:
        return _rows_of_elasticsearch(content.get("details", {}))
    return _rows_of_mappings([content])


def _rows_of_mappings(parts: Iterable[Mapping[Any, Any]]) -> Iterator[_Row]:
    """Yield means, or values by query, by query and measure, or by measure and query."""
    for name, value in chain.from_iterable(part.items() for part in parts):
        values = value if isinstance(value, Mapping) else {None: value}
        for other, number in values.items():
            yield _Row.of(number, name, other)


def _rows_of_elasticsearch(details: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield the values in a response of _rank_eval; only a normalized DCG is an nDCG."""
    metrics = [result.get("metric_details", {}) for result in details.values()]
    measure = next(chain.from_iterable(metrics), "metric_score")
    # A query with nothing relevant has no normalized DCG in its details.
    if any("normalized_dcg" in metric.get(measure, ()) for metric in metrics):
        measure = None
    for query, result in details.items():
        yield _Row(query, measure, result.get("metric_score"))


def _rows_of_records(records: Iterable[Mapping[Any, Any]]) -> Iterator[_Row]:
    """Yield the values in the rows of a table: of every measure, or in the only other column."""
    for record in records:
        values = dict(record)
        # A Series of pandas writes no name for its index.
        column = next(iter(spelled(values, QUERY_NAMES)), "")
        if column not in values:
            names = shown(list(values))
            raise InputError(f"has the columns {names}, but none of queries; call that query_id")
        query = values.pop(column)
        for name, value in values.items():
            yield _Row(query, name, value)
        if len(values) == 1:
            # It needs no name that is known.
            yield _Row(query, None, value)
