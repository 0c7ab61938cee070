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
from ..files.content import read_content
from ..inputs.fields import QUERY, spelled
from ..inputs.rankings import Rankings
from ..inputs.sources import converted
from ..measure.messages import InputError, brief, mark, shown
from ..measure.options import is_real, result_name
from .evidence import Evidence

HALF_UNIT = 0.5000005  # of the last digit: half of it may be rounded up or down
# How far off a score may be, however many digits it has: some libraries compute with 32 bits
LOSS_OF_32_BITS = 1e-6
WITHOUT_VALUE = ("nan", "none", "null", "-", "")  # texts that mean that a query has no value
# The names that programs give nDCG: nDCG@10, ndcg_at_10 (MTEB), ndcg_cut_10 (trec_eval), ndcg_10
NDCG = re.compile(r"ndcg(?:(?:@|_at_|_cut[_.]|_)([1-9]\d*))?", re.IGNORECASE)
# In place of a query in the line of the mean: of trec_eval, of gdeval
ALL_QUERIES = ("all", "amean")
# A mean with its name, as in the log of BEIR: INFO - NDCG@10: 0.3146
LOGGED = re.compile(rf"(?:^|\s)(?P<name>{NDCG.pattern})\s*[:=]\s*(?P<value>\S+)$", re.IGNORECASE)
SCORE_AT_CUTOFF = re.compile(r"([^@,]+)@([1-9]\d*)\s*")
# as 0.31@5,0.283@10
SCORES_AT_CUTOFFS = re.compile(rf"{SCORE_AT_CUTOFF.pattern}(,{SCORE_AT_CUTOFF.pattern})*")
QUERY_NAMES = (*QUERY[0], *QUERY[1])
OTHER_COLUMNS = ("run", "runid", "slice", "measure")  # which hold neither queries nor values
_Cutoff = tuple[int | None, ...]  # a score's; empty if unknown


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
    values: Any  # the value of every query, in order or by id; None if scores were reported
    k: int | None
    highest: float = 1  # a score above it is a percentage

    @classmethod
    def read(cls, got: Any, k: Any) -> "Reported":
        """Read a score, scores by name, or the value of every query, also as a file or text."""
        content, name = _content_of(got)
        is_list = isinstance(content, (list, tuple)) or getattr(content, "ndim", 0) == 1
        reported = cls({(): got}, None, k)
        if is_list or isinstance(content, (bytes, Mapping)):
            reported = _Results(content, name).reported(k)
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
        if self.values is not None:
            return "these values of queries"
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
        if self.values is None:
            scores, half_unit, *_ = np.array(self.scores(), np.float64, order="F").T
            return Evidence(scores, half_unit + LOSS_OF_32_BITS, self.cutoffs)
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
        return Evidence(scores, half_unit + LOSS_OF_32_BITS, by_query=True)


def _in_order_of_queries(values: Mapping[Any, Any], rankings: Rankings) -> list[Any]:
    """Return the values in the order of the queries; None for queries that programs omit."""
    names = rankings.names()
    if not isinstance(names[0], str):
        # The names in a file are text, also where they are numbers.
        values = {int(name) if str(name).isdecimal() else name: values[name] for name in values}
    unknown = values.keys() - set(names)
    if unknown:
        name = shown(min(unknown, key=str))
        raise InputError(f"{name} is neither an nDCG nor a query of the references", "got")
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
    """Return the content of a file or of text, else what was given, and its name in errors."""
    # A number is never the name of a file.
    is_number = _decimal(got).is_finite()
    if isinstance(got, (str, os.PathLike)) and not is_number and os.path.exists(got):
        path = os.fsdecode(got)
        return read_content(path), f"got: {path}"
    is_series = hasattr(got, "to_dict") and hasattr(got, "index")
    if is_series and list(got.index) != list(range(len(got))):
        # It has the ids of queries in place of the numbers of rows.
        return got.to_dict(), "got"
    if isinstance(got, str):
        if "\n" in got or NDCG.match(got.strip()):
            return got.encode(), "got"
        if SCORES_AT_CUTOFFS.fullmatch(got):
            pairs = SCORE_AT_CUTOFF.findall(got)
            return {f"nDCG@{cutoff}": score for score, cutoff in pairs}, "got"
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
    # Beyond these exponents, the unit of the last digit is 0 as a float, or above 100.
    if not (number.is_finite() and -300 < _exponent(number) < 3 and -100 <= number <= 100):
        file = mark("file of got", said="a file with the value of each query", before=", or ")
        raise InputError(
            f"{mark('got')} must be an nDCG, such as 0.5921, or in percent, such as 59.21{file}; "
            f"got {shown(got)}"
        )
    exponent = _exponent(number)
    percent = abs(number) > highest or str(got).strip().endswith("%")
    if exponent >= 0 and abs(number) <= 1 and not percent:
        raise InputError(
            f"{mark('got')} must have digits after the point, such as 1.000; "
            f"many scores round to {shown(got)}"
        )
    scale = 100 if percent else 1
    value = float(number / scale)
    return _Number(value, HALF_UNIT * 10.0**exponent / scale, is_percent=percent)


# The results of programs


class _Row(NamedTuple):
    """A value that somebody reported."""

    query: Any  # the id of its query, or one of `ALL_QUERIES`; None in the order of the queries
    value: Any  # the value, a number or text
    measure: str | None = None  # the name of the measure; None if it has none


class _Results:
    """The values of queries, or else the means, in text, a mapping or a list of a program."""

    def __init__(self, content: Any, name: str) -> None:
        self.name = name  # what errors call it
        # The values of every nDCG by query, by its cutoff; by () for rows without a measure. Rows
        # without a query are a list there, by None.
        self.by_query: dict[_Cutoff, dict[Any, Any]] = {}
        self.means: dict[_Cutoff, dict[Any, Any]] = {}
        self.other_measures: dict[str, None] = {}
        try:
            rows = list(_rows_of(content))
        except ValueError as error:
            raise InputError(
                f"{error}; give JSON of values by query, or lines of a query and its value", name
            ) from None
        for row in rows:
            cutoff = _cutoff_of(row.measure)
            # A mean may have the name of its measure in place of the query.
            cutoff_of_mean = _cutoff_of(row.query)
            if row.measure is not None and not cutoff:
                self.other_measures[str(row.measure)] = None
            elif cutoff_of_mean or row.query in ALL_QUERIES:
                self._add(self.means.setdefault(cutoff or cutoff_of_mean, {}), "the mean", row)
            else:
                self._add(self.by_query.setdefault(cutoff, {}), row.query, row)

    def _add(self, values: dict[Any, Any], query: Any, row: _Row) -> None:
        value = row.value
        if str(value).lower() in WITHOUT_VALUE:
            value = None
        if query is None:
            values.setdefault(None, []).append(value)
            return
        first = values.setdefault(query, value)
        if repr(first) != repr(value) and _decimal(first) != _decimal(value):
            raise InputError(
                f"{shown(query)} has two values, {shown(first)} and {shown(value)}; "
                "give one of them",
                self.name,
            )

    def reported(self, k: Any) -> Reported:
        """Return the means at k, or at all cutoffs; beside the values of queries, these."""
        # Beside the names of means, rows without a measure are other means, such as MAP.
        means = dict(self.means)
        means.pop((), None)
        if means and not any(self.by_query):
            cutoffs: Iterable[_Cutoff] = means
            if k is not None:
                cutoffs = [(k,)]
            scores = {cutoff: self._at(cutoff, means)["the mean"] for cutoff in cutoffs}
            return Reported(scores, None, next(iter(scores))[0])
        cutoff: _Cutoff = (k,)
        if cutoff not in self.by_query and () in self.by_query:
            cutoff = ()
        elif k is None and len(self.by_query) == 1:
            (cutoff,) = self.by_query
        values = self._at(cutoff, self.by_query)
        if None in values and len(values) > 1:
            raise InputError(
                "some values have a query, others none; give each of them its query", self.name
            )
        return Reported({}, values.get(None, values), next(iter(cutoff), k))

    def _at(self, cutoff: _Cutoff, known: Mapping[_Cutoff, Any]) -> Any:
        if cutoff in known:
            return known[cutoff]
        names = [result_name("nDCG", *cutoff_of_values) for cutoff_of_values in known]
        there = brief(names or self.other_measures, " and ") or "no value"
        hint = ""
        if known:
            (k,) = next(iter(known))
            hint = f"; choose {mark('cutoff of nDCG', k, said=f'k={k}')}"
        raise InputError(f"holds {there}, not {result_name('nDCG', *cutoff)}{hint}", self.name)


def _cutoff_of(measure: Any) -> _Cutoff:
    """Return the cutoff of an nDCG by its name; empty for another measure."""
    match = NDCG.fullmatch(str(measure))
    if match is None:
        return ()
    if match[1] is None:
        return (None,)
    return (int(match[1]),)


def _rows_of(content: Any) -> Iterator[_Row]:
    """Yield the values in a file or text, or in the results of programs."""
    if isinstance(content, bytes):
        content = read_cells(content)
    if isinstance(content, Iterator):
        yield from _rows_of_lines(list(content))
        return
    if isinstance(content, pa.Table):
        content = content.to_pylist()
    if isinstance(content, tuple) and isinstance(next(iter(content), None), Mapping):
        # BEIR returns the means of nDCG, before those of MAP, recall and precision.
        content = content[0]
    if isinstance(content, Mapping):
        yield from _rows_of_mapping(content)
        return
    for value in content:
        if isinstance(value, Mapping):
            yield from _rows_of_record(value)
        else:
            yield _Row(None, value)


def _rows_of_lines(lines: Sequence[Line]) -> Iterator[_Row]:
    """Yield the values in lines, of which the first may be a header."""
    logged = list(filter(None, (LOGGED.search(line.text) for line in lines)))
    for match in logged:
        yield _Row(ALL_QUERIES[0], match["value"], match["name"])
    if logged:
        return
    header: list[str] = []
    for index, (number, text, cells) in enumerate(lines):
        *words, value = cells
        has_value = value.lower() in WITHOUT_VALUE or _decimal(value).is_finite()
        # trec_eval may begin with the name of the run.
        has_names = not has_value and set(ALL_QUERIES).isdisjoint(words)
        if index == 0 and (cells[0] == "" or has_names):
            # In a Series of pandas, the column of ids has no name, and that of values may be 0.
            header = cells
        elif len(cells) == len(header):
            yield from _rows_of_record(dict(zip(header, cells, strict=True)))
        elif header or len(words) > 2:
            raise ValueError(f"line {number}: {shown(text)} is not a query and its value")
        else:
            if len(words) == 2 and NDCG.fullmatch(words[1]):
                # ir_measures prints the query first.
                words.reverse()
            measure, query = [None, None, *words][-2:]
            yield _Row(query, value, measure)


def _rows_of_mapping(content: Mapping[Any, Any]) -> Iterator[_Row]:
    """Yield the values in a result of a program, or by query, by measure, or by both."""
    columns = content.get("queries")
    splits = content.get("scores")
    details = content.get("details")
    if isinstance(columns, Mapping):
        # a saved report
        for cells in zip(*columns.values(), strict=True):
            yield from _rows_of_record(dict(zip(columns, cells, strict=True)))
    elif isinstance(splits, Mapping) and set(map(type, splits.values())) == {list}:
        # a file of MTEB, with the means of every subset of every split
        for means in chain.from_iterable(splits.values()):
            for name, mean in means.items():
                yield _Row(ALL_QUERIES[0], mean, name)
    elif "metric_score" in content and isinstance(details, Mapping):
        yield from _rows_of_elasticsearch(details)
    else:
        for name, values in content.items():
            yield from _rows_of_item(name, values)


def _rows_of_item(name: Any, values: Any) -> Iterator[_Row]:
    if not isinstance(values, Mapping):
        yield _Row(name, values)
    elif isinstance(values.get("queries"), Mapping):
        # saved reports by run
        yield from _rows_of_mapping(values)
    elif _cutoff_of(name) and not any(map(_cutoff_of, values)):
        # values by measure, then by query, as ranx has them
        for query, value in values.items():
            yield _Row(query, value, name)
    else:
        for measure, value in values.items():
            yield _Row(name, value, measure)


def _rows_of_elasticsearch(details: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield the values in a response of _rank_eval; only a normalized DCG is an nDCG."""
    metrics = [result.get("metric_details") or {} for result in details.values()]
    measure = None
    # A query with nothing relevant has no normalized DCG in its details.
    if not any("normalized_dcg" in metric.get("dcg", ()) for metric in metrics):
        measure = next(chain.from_iterable(metrics), None)
    for query, result in details.items():
        yield _Row(query, result.get("metric_score"), measure)


def _rows_of_record(record: Mapping[Any, Any]) -> Iterator[_Row]:
    """Yield the values in a row of a table: of every nDCG, else of the only column with values."""
    query_column = next(iter(spelled(record, QUERY_NAMES)), None)
    other_columns = [query_column, *spelled(record, OTHER_COLUMNS)]
    columns = [name for name in record if name not in other_columns]
    if query_column is None and len(columns) == 2:
        query_column = columns.pop(0)
    query = record.get(query_column)
    ndcgs = list(filter(_cutoff_of, columns))
    for name in ndcgs:
        yield _Row(query, record[name], name)
    if ndcgs:
        return
    if len(columns) != 1:
        names = ", ".join(map(shown, record))
        raise ValueError(f"the columns are {names}; one must be an nDCG, such as nDCG@10")
    measure = None
    for name in spelled(record, ("measure",)):
        measure = record[name]
        if query_column is None:
            # a measure and its mean
            query = ALL_QUERIES[0]
    yield _Row(query, record[columns[0]], measure)
