"""Read reported scores: one score, scores by name, or a value per query, with the tolerance of a match.

They may be in files, text and mappings that programs write.
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
from ..measure.messages import InputError, brief, mark, shown
from ..measure.options import is_real, result_name
from .evidence import Evidence

HALF_UNIT = 0.5000005  # of the last digit: half of it may be rounded up or down
# What a score may be off, however many digits it has
OF_32_BITS = 1e-6  # one that 32 bits hold, because some libraries compute in these
MEAN_OF_32_BITS = 2e-7  # any other, which may be the mean of values of 32 bits
REORDERED = 1e-9  # that of the convention that comes closest: it may sum in another order
WITHOUT_VALUE = ("nan", "none", "null", "-", "")  # texts that mean that a query has no value
# The names that programs give nDCG: nDCG@10, ndcg_at_10 (MTEB), ndcg_cut_10 (trec_eval), ndcg_10
NDCG = re.compile(r"ndcg(?:(?:@|_at_|_cut[_.]|_)([1-9]\d*))?", re.IGNORECASE)
OF_ALL = ("all", "amean")  # in place of a query in the line of the mean: of trec_eval, of gdeval
OTHERS = ("run", "runid", "slice", "measure")  # columns that contain neither queries nor values
_Cutoff = tuple[int | None, ...]  # of a score; empty if it is to be found


class _Number(NamedTuple):
    """A score from 0 to 1, or the value of a query."""

    value: float
    half_unit: float  # of its last digit
    loss: float  # what it may be off, however many digits it has


class Reported(NamedTuple):
    """Scores that somebody reported."""

    given: Mapping[_Cutoff, Any]  # the scores as they were given
    scores: Sequence[_Number]
    percent: bool  # whether a score was given in percent
    values: Any  # the value of each query, in order or by id; None if scores were reported
    k: int | None

    @classmethod
    def read(cls, got: Any, k: Any) -> "Reported":
        """Read a score, scores by name, or the value of each query, also as a file or its lines.

        Raises:
            ValueError: it is not one of these.
        """
        content, name = got, "got"
        if _is_file(got):
            path = os.fsdecode(got)
            content, name = _content_of(path), f"got: {path}"
        elif isinstance(got, str) and ("\n" in got or NDCG.match(got.strip())):
            content = got.encode()
        elif isinstance(got, str) and "@" in got:
            content = dict(_named_score(each) for each in got.split(","))
        is_list = isinstance(content, (list, tuple)) or getattr(content, "ndim", 0) == 1
        of_results = is_list and len(content) > 0 and isinstance(content[0], Mapping)
        if isinstance(content, (bytes, Mapping)) or of_results:
            results = _Results(content, name)
            if scores := results.scores(k):
                return cls._of(scores, next(iter(scores))[0])
            return cls({}, (), False, *results.values(k))
        if is_list:
            return cls({}, (), False, got, k)
        return cls._of({(): got}, k)

    @classmethod
    def _of(cls, given: Mapping[_Cutoff, Any], k: int | None, highest: float = 1) -> "Reported":
        """Return scores; they are percentages if they have a percent sign or are above the highest."""
        scores, are_percents = zip(*(_score(each, highest) for each in given.values()), strict=True)
        return cls(given, scores, any(are_percents), None, k)

    @property
    def words(self) -> str:
        """The scores as text."""
        if self.values is not None:
            return "these values of queries"
        names = [f"{result_name('nDCG', *cutoff)} " if cutoff else "" for cutoff in self.given]
        scores = zip(names, self.scores, strict=True)
        return enumerated([f"{name}{score.value:g}" for name, score in scores])

    def subject(self, measure: str) -> str:
        """Return the beginning of a sentence on whose scores these are."""
        if self.values is not None:
            return f"These values of queries are the {measure} of"
        if () in self.given:
            return f"{self.words} is the {measure} of"
        return f"{self.words} {'is that' if len(self.scores) == 1 else 'are those'} of"

    @property
    def score(self) -> float:
        """The score, or the first of several; nan for the values of queries."""
        return self.scores[0].value if self.scores else math.nan

    def as_given(self) -> "Reported":
        """Return the scores before they were read as percentages, since a DCG may be above 1."""
        return self if self.values is not None else self._of(self.given, self.k, math.inf)

    def evidence(self, rankings: Rankings) -> list[Evidence]:
        """Return the evidence that a definition must match.

        Raises:
            ValueError: the values belong to other queries than those of the rankings.
        """
        if self.values is None:
            return [
                _evidence([score.value], score.half_unit, score.loss, cutoff)
                for cutoff, score in zip(self.given, self.scores, strict=True)
            ]
        values = self.values
        if isinstance(values, Mapping):
            values = _in_order_of_queries(values, rankings)
        if len(values) != rankings.queries:
            problem = f"{len(values)} values for {rankings.queries} queries"
            raise InputError(f"{problem}; give the value of each query", "got")
        numbers, are_rounded = zip(*map(_value_of_query, values), strict=True)
        scores, half_units, losses = zip(*numbers, strict=True)
        # Values such as 0.5 show fewer digits than others.
        half_unit = min(half_units) if any(are_rounded) else 0.0
        return [_evidence(scores, half_unit, min(losses), of_queries=True)]


def _evidence(
    scores: Sequence[float],
    half_unit: float,
    loss: float,
    cutoff: _Cutoff = (),
    *,
    of_queries: bool = False,
) -> Evidence:
    """Return evidence with the tolerances of a match."""
    exact = half_unit + REORDERED
    return Evidence(np.array(scores), half_unit + loss, exact, cutoff, of_queries)


def _in_order_of_queries(values: Mapping[Any, Any], rankings: Rankings) -> list[Any]:
    """Return the values in the order of the queries; None for queries that programs omit."""
    names = rankings.names()
    are_numbered = bool(names) and not isinstance(names[0], str)
    if are_numbered and all(isinstance(name, str) for name in values):  # values from a file
        values = {int(name) if name.isdecimal() else name: value for name, value in values.items()}
    may_lack = rankings.lacking() | (rankings.counts()["relevant"] == 0)
    missing = [
        name for name, may in zip(names, may_lack, strict=True) if name not in values and not may
    ]
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
    if NDCG.fullmatch(name := f"nDCG@{cutoff}") is None:
        raise InputError(
            f"{mark('got')} must be scores with their cutoffs, such as 0.31@5,0.283@10; "
            f"got {shown(text)}"
        )
    return name, score


def _is_file(got: Any) -> bool:
    """Return whether this is a file or a pipe, and not a number."""
    if not isinstance(got, (str, os.PathLike)):
        return False
    if isinstance(got, str) and ("\n" in got or _decimal(got).is_finite()):
        return False
    return os.path.exists(got) and not os.path.isdir(got)


def enumerated(words: Sequence[str]) -> str:
    """Return words as an enumeration.

    >>> enumerated(["ranx"]), enumerated(["ranx", "sklearn", "spark"])
    ('ranx', 'ranx, sklearn and spark')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


# Numbers


def _value_of_query(value: Any) -> tuple[_Number, bool]:
    """Return the value of a query, and whether its digits show that it was rounded.

    Numbers such as 1.0 and 0.5 may have few digits anyway. The value may be above 1, but is not a
    percentage.

    >>> [_value_of_query(each)[1] for each in (0.5, "0.5000", np.float32(0.63))]
    [False, True, True]
    """
    if value is None or (is_real(value) and math.isnan(value)):  # a query without a value
        return _Number(math.nan, math.inf, OF_32_BITS), False
    decimal, exponent = _decimal(value), _exponent(value)
    number = float(decimal)
    if exponent is None or not math.isfinite(number):
        raise InputError(f"{mark('got')} must hold a number for each query; got {shown(value)}")
    fewest = _exponent(number)
    may_be_exact = decimal == Decimal(number) and fewest is not None and exponent >= fewest
    return _Number(number, HALF_UNIT * 10.0**exponent, _loss(number)), not may_be_exact


def _loss(number: float) -> float:
    """Return how much a score may differ from the same in 64 bits, however many digits it has.

    >>> [_loss(each) for each in (2 / 3, float(np.float32(2 / 3)), 0.6666667)]
    [2e-07, 1e-06, 1e-06]
    """
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return OF_32_BITS if number in (float(single), float(str(single))) else MEAN_OF_32_BITS


def _decimal(value: Any) -> Decimal:
    """Return a number with all of its original digits; nan if it is not a number.

    A number that 32 bits hold has the digits that it needs there.

    >>> _decimal(np.float32(0.592)), _decimal(float(np.float32(0.592))), _decimal("0.5920")
    (Decimal('0.592'), Decimal('0.592'), Decimal('0.5920'))
    """
    if getattr(value, "ndim", None) == 0:  # the number in an array or a tensor
        is_numpy = isinstance(value, (np.ndarray, np.generic))
        value = np.asarray(value)[()] if is_numpy else value.item()
    text = ""
    if isinstance(value, (str, Decimal)):
        text = str(value).strip().removesuffix("%")
    elif isinstance(value, np.floating) and value.itemsize < 4:
        text = str(value)
    elif is_real(value):
        with np.errstate(over="ignore"):
            single = np.float32(value)
        number = float(value)
        text = str(single) if float(single) == number else repr(number)
    try:
        return Decimal(text)
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
        by_query = "a file that holds the value of each query"
        is_text = isinstance(got, (str, os.PathLike))
        file = mark("file of got", said=by_query, before=", or ") if is_text else ""
        raise InputError(
            f"{mark('got')} must be an nDCG, such as 0.5921, or in percent, such as 59.21{file}; "
            f"got {shown(got)}"
        )
    percent = abs(number) > highest or str(got).strip().endswith("%")
    if exponent >= 0 and abs(number) <= 1 and not percent:
        raise InputError(
            f"{mark('got')} must have digits after the point, such as 1.000; "
            f"many scores round to {shown(got)}"
        )
    scale = 100 if percent else 1
    loss = max(_loss(float(each)) for each in (number, number / scale))
    return _Number(float(number / scale), HALF_UNIT * 10.0**exponent / scale, loss), percent


# The results of programs


class _Row(NamedTuple):
    """A value that somebody reported."""

    query: Any  # the id of its query, or one of `OF_ALL`; None in the order of the queries
    value: Any  # the value, a number or text
    measure: str | None = None  # the name of the measure; None if it has none
    run: Any = None  # the name of the run; None if it has none


class _Results:
    """The values of queries, or the means, in text, a mapping or a list that a program wrote.

    Text has lines of `query value`, of `measure query value` as printed by trec_eval, or of values alone;
    or it is CSV, TSV, JSON or JSON Lines, as written by ndcg score -q, gdeval, BEIR, MTEB and
    Elasticsearch. A query without a value has nan, None, null, a dash or nothing. Means count only if
    there are no values of queries.
    """

    def __init__(self, content: Any, name: str) -> None:
        # name: what errors call it
        self.name = name
        self.of_queries: dict[str, list[_Row]] = {}  # of each nDCG, by the name that it has here
        self.means: dict[str, list[_Row]] = {}  # likewise
        self.others: dict[str, None] = {}  # the names of other measures
        rows = _rows_of_text(content) if isinstance(content, bytes) else _rows_of_json(content)
        try:
            for row in rows:
                self._add(row)
        except ValueError as error:
            hint = "give JSON of values by query, or lines of a query and its value"
            raise InputError(f"{error}; {hint}", name) from None

    def _add(self, row: _Row) -> None:
        of_query = _ndcg_of(row.query)
        measure = "" if row.measure is None else _ndcg_of(row.measure)
        if measure == "" and of_query:  # the name of a mean, and its value
            self.means.setdefault(of_query, []).append(row)
        elif measure is None:
            self.others[str(row.measure)] = None
        elif of_query or row.query in OF_ALL:
            self.means.setdefault(measure, []).append(row)
        else:
            self.of_queries.setdefault(measure, []).append(row)

    def scores(self, k: Any) -> dict[_Cutoff, Any]:
        """Return the means by their cutoffs, only that at k if it is given; none with values of queries.

        Raises:
            ValueError: there is none at the cutoff, there are several runs, or two values of one mean.
        """
        named = {name: rows for name, rows in self.means.items() if name}
        # Beside the names of means, those without a measure are other means, such as MAP.
        if not named or self.of_queries.keys() - {""}:
            return {}
        if k is not None:
            named = {result_name("nDCG", k): self._rows(named, k)}
        scores: dict[_Cutoff, Any] = {}
        for name, rows in named.items():
            self._refuse_runs(rows)
            values = [row.value for row in rows]
            others = [value for value in values if _decimal(value) != _decimal(values[0])]
            if others:
                both = f"{shown(values[0])} and {shown(others[0])}"
                raise InputError(f"has two values of {name}, {both}; give one of them", self.name)
            cutoff = name.partition("@")[2]
            scores[(int(cutoff) if cutoff else None,)] = values[0]
        return scores

    def values(self, k: Any) -> tuple[dict[Any, Any] | list[Any], Any]:
        """Return the values by query, or in order, and their cutoff; by default that of the only nDCG.

        Raises:
            ValueError: there is no such nDCG or several, there are several runs, or two values of a query.
        """
        asked, known = result_name("nDCG", k), self.of_queries
        only = next(iter(known)) if k is None and len(known) == 1 else asked
        if asked not in known:
            asked = "" if "" in known else only
        rows = self._rows(known, k, asked)
        self._refuse_runs(rows)
        cutoff = asked.partition("@")[2]
        return _values_by_query(self.name, rows), int(cutoff) if cutoff else k

    def _rows(
        self, known: Mapping[str, list[_Row]], k: Any, asked: str | None = None
    ) -> list[_Row]:
        """Return the rows of an nDCG, by default that at k; the error says which others there are."""
        asked = result_name("nDCG", k) if asked is None else asked
        if asked in known:
            return known[asked]
        there = brief(known or self.others, " and ") or "no value"
        hint = ""
        if known:
            cutoff = next(iter(known)).partition("@")[2]
            value = int(cutoff) if cutoff else None
            hint = f"; choose {mark('cutoff of nDCG', value, said=f'k={value}')}"
        raise InputError(f"holds {there}, not {asked}{hint}", self.name)

    def _refuse_runs(self, rows: Sequence[_Row]) -> None:
        runs = dict.fromkeys(row.run for row in rows)
        if len(runs) > 1:
            several = brief(map(str, runs), " and ")
            raise InputError(
                f"holds the values of {several}; give those of one of these", self.name
            )


def _content_of(path: str) -> bytes:
    """Return the content of a file or a pipe, which may be compressed; an error names it."""
    try:
        return read_content(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", "got") from None
    except ValueError as error:
        raise InputError(f"{error}", "got") from None


def _ndcg_of(measure: Any) -> str | None:
    """Return the name that an nDCG has here; None for another measure.

    >>> _ndcg_of("ndcg_cut_10"), _ndcg_of("NDCG"), _ndcg_of("ndcg_at_5"), _ndcg_of("map")
    ('nDCG@10', 'nDCG', 'nDCG@5', None)
    """
    found = NDCG.fullmatch(measure) if isinstance(measure, str) else None
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
    cells = read_cells(content)
    if isinstance(cells, Iterator):
        yield from _rows_of_lines(cells)
    else:
        yield from _rows_of_json(cells.to_pylist() if isinstance(cells, pa.Table) else cells)


def _rows_of_lines(lines: Iterable[Line]) -> Iterator[_Row]:
    """Yield the values in lines, of which the first may be a header."""
    lines = list(lines)
    logged = [(name[:-1], value) for name, value in map(_last_words, lines) if name.endswith(":")]
    if any(_ndcg_of(name) for name, _ in logged):  # as in the log of BEIR: INFO - NDCG@10: 0.3146
        yield from (_Row(OF_ALL[0], value, name) for name, value in logged)
        return
    header: list[str] | None = None
    for at, (number, text, cells) in enumerate(lines):
        *others, value = cells
        if header is None and not _is_value(value) and not {*OF_ALL}.isdisjoint(others):
            continue  # such as the name of the run, in the output of trec_eval
        if at == 0 and not _is_value(value):
            header = cells
            continue
        if header is not None and len(cells) == len(header):
            yield from _rows_of_record(dict(zip(header, cells, strict=True)))
            continue
        if len(others) == 2 and NDCG.fullmatch(others[1]):  # ir_measures prints the query first
            others.reverse()
        measure, query = [None, None, *others][-2:]
        is_row = _is_value(value) or (measure is not None and _ndcg_of(measure) is None)
        if header is not None or len(others) > 2 or not is_row:
            raise ValueError(f"line {number}: {shown(text)} is not a query and its value")
        yield _Row(query, value, measure)


def _last_words(line: Line) -> tuple[str, str]:
    first, second = ["", "", *line.text.split()][-2:]
    return first, second


def _is_value(text: str) -> bool:
    """Return whether text is a finite number, or shows that a query has no value."""
    with suppress(ValueError):
        return text.lower() in WITHOUT_VALUE or math.isfinite(float(text))
    return False


def _rows_of_json(value: Any, run: Any = None) -> Iterator[_Row]:
    """Yield the values in the results of programs: records, a saved report, mappings, or a list."""
    if isinstance(value, (list, tuple)):
        yield from _rows_of_list(value)
    elif "metric_score" in value and isinstance(value.get("details"), Mapping):
        yield from _rows_of_elasticsearch(value["details"])
    elif isinstance(splits := value.get("scores"), Mapping) and _are_lists(splits):  # of MTEB
        for split, of_subsets in splits.items():
            for scores in of_subsets:
                place = f"{split}/{scores.get('hf_subset', 'default')}"
                yield from (_Row(OF_ALL[0], score, name, place) for name, score in scores.items())
    elif isinstance(columns := value.get("queries"), Mapping):  # a saved report
        for cells in zip(*columns.values(), strict=True):
            yield from _rows_of_record(dict(zip(columns, cells, strict=True)), run)
    else:
        for name, each in value.items():
            if not isinstance(each, Mapping):
                yield _Row(name, each)
            elif isinstance(each.get("queries"), Mapping):  # saved reports by run
                yield from _rows_of_json(each, name)
            elif _ndcg_of(name) and not any(map(_ndcg_of, each)):
                # values by measure, then by query, as ranx has them
                yield from (_Row(query, number, name) for query, number in each.items())
            else:
                yield from (_Row(name, number, measure) for measure, number in each.items())


def _are_lists(splits: Mapping[str, Any]) -> bool:
    return bool(splits) and all(isinstance(each, list) for each in splits.values())


def _rows_of_list(values: Sequence[Any]) -> Iterator[_Row]:
    """Yield the values in records, in a list of values, or in the tuple that BEIR returns."""
    records = [each for each in values if isinstance(each, Mapping)]
    with_ndcg = [each for each in records if any(map(_ndcg_of, each))]
    if len(records) == len(values) > 1 and len(with_ndcg) == 1:
        (only,) = with_ndcg  # the means of nDCG, beside those of MAP, recall and precision
        if not list(spelled(only, (*QUERY[0], *QUERY[1]))):
            yield from _rows_of_json(only)
            return
    for each in values:
        if isinstance(each, Mapping):
            yield from _rows_of_record(each)
        else:
            yield _Row(None, each)


def _rows_of_elasticsearch(details: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield the values in a response of _rank_eval; only a normalized DCG is an nDCG."""
    of_queries = {query: each.get("metric_details") or {} for query, each in details.items()}
    # A query with nothing relevant has no normalized DCG in its details.
    is_ndcg = any("normalized_dcg" in each.get("dcg", ()) for each in of_queries.values())
    for query, each in of_queries.items():
        measure = None if is_ndcg else next(iter(each), None)
        yield _Row(query, details[query].get("metric_score"), measure)


def _rows_of_record(record: Mapping[str, Any], run: Any = None) -> Iterator[_Row]:
    """Yield the values in a row of a table: of each nDCG, or else of the only column that has values."""
    query = next(iter(spelled(record, (*QUERY[0], *QUERY[1]))), None)
    others = [name for name in record if name != query and plain_name(name) not in OTHERS]
    if query is None and len(others) == 2:
        query = others.pop(0)
    ndcgs = [name for name in others if NDCG.fullmatch(name)]
    if not ndcgs and len(others) != 1:
        columns = ", ".join(map(shown, record))
        raise ValueError(f"the columns are {columns}; one must be an nDCG, such as nDCG@10")
    query_id = None if query is None else record[query]
    run = record.get("run", record.get("runid", run))
    of_column = record.get(next(iter(spelled(record, ("measure",))), ""))
    if query is None and not ndcgs and of_column is not None:
        query_id = OF_ALL[0]  # a measure and its mean
    for name in ndcgs or others:
        yield _Row(query_id, record[name], name if ndcgs else of_column, run)
