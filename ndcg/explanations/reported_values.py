"""Read the value of each query in the formats that programs write: files, text and mappings."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ..files.content import check_encoding, delimiter_of, parse_json_or_lines, read_content
from ..inputs.fields import IDS, plain_name, spelled
from ..measure.messages import InputError, mark, shown
from ..measure.options import result_name

WITHOUT_VALUE = ("nan", "none", "null", "-", "")  # texts that mean that a query has no value
NDCG = re.compile(r"ndcg(?:(?:_cut[_.]|@)([1-9]\d*))?", re.IGNORECASE)  # including trec_eval's name
OTHERS = ("run", "slice", "measure")  # columns that contain neither queries nor values


class _Row(NamedTuple):
    """A value that somebody reported."""

    query: Any  # the id of its query; None if the values are in the order of the queries
    value: Any  # the value, a number or text
    measure: str | None = None  # the name of the measure; None if it has none
    run: Any = None  # the name of the run; None if it has none


def values_in_file(path: str, k: Any) -> tuple[Any, Any]:
    """Return the values of queries in a file, by query or in order, and their cutoff.

    The file may be compressed, or a pipe. It contains lines of `query value`, of `measure query value` as printed by
    trec_eval -q, or of values alone; or CSV, TSV, JSON or JSON Lines, as written by ndcg score -q. A query without a
    value has nan, None, null, a dash or nothing.

    Args:
        path: the file.
        k: the cutoff of the nDCG; None for the whole list, or for the cutoff of the only nDCG.

    Raises:
        ValueError: names the file, and the line.
    """
    try:
        content = read_content(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", "got") from None
    except ValueError as error:
        raise InputError(f"{error}", "got") from None
    return _chosen(f"got: {path}", _rows_of_text(content), k)


def values_in_text(text: str, k: Any) -> tuple[Any, Any]:
    """Return the values of queries in text, as `values_in_file` does."""
    return _chosen("got", _rows_of_text(text.encode()), k)


def values_in_mapping(values: Mapping[Any, Any], k: Any) -> tuple[Any, Any]:
    """Return the values in a saved report or in `{query: {measure: value}}`, as `values_in_file` does."""
    return _chosen("got", _rows_of_json(values), k)


def _chosen(name: str, rows: Iterable[_Row], k: Any) -> tuple[Any, Any]:
    """Return the values of the nDCG at a cutoff, by query or in order, and the cutoff.

    Raises:
        ValueError: there is no such nDCG or several, there are several runs, or two values of a query.
    """
    ndcgs: dict[str, list[_Row]] = {}  # by the name that the measure has here; "" without a measure
    others: dict[str, None] = {}
    try:
        for row in rows:
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
    """Yield the values in text."""
    check_encoding(content[:4])
    text = content.decode("utf-8-sig")
    if text.lstrip()[:1] in ("{", "["):
        yield from _rows_of_json(parse_json_or_lines(content))
    else:
        lines = enumerate(text.splitlines(), start=1)
        yield from _rows_of_lines((number, line) for number, line in lines if line.strip())


def _rows_of_lines(lines: Iterable[tuple[int, str]]) -> Iterator[_Row]:
    """Yield the values in numbered lines, of which the first may be a header."""
    header: list[str] | None = None
    for at, (number, line) in enumerate(lines):
        *others, value = cells = _cells_of_line(line)
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
            raise ValueError(f"line {number}: {shown(line.strip())} is not a query and its value")
        yield _Row(query, value, measure)


def _cells_of_line(line: str) -> list[str]:
    if not any(mark in line for mark in "\t,;"):
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter_of(line), skipinitialspace=True))]


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
    query = next(iter(spelled(record, IDS["query"])), None)
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
