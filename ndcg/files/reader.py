"""Read files of rankings as columns and mappings; the format is detected from the content.

| format | content |
|---|---|
| TREC run | `query Q0 document rank score tag` |
| TREC qrels | `query 0 document relevance`, or `query document relevance` |
| CSV, TSV | a header with names of columns that are in `NAMES`; also BEIR's qrels and CSV with semicolons |
| JSON | `{query: {document: value}}`, a list of records, pandas tables, MTEB's predictions |
| JSONL | a record or a mapping per line |
| Parquet, Arrow | a table with these columns, or the hits of a query per row; also a folder of Parquet files |
| LETOR | `relevance qid:query feature:value ... # comment`; its scores are in a file of one a line |

The first bytes and the first line determine the format; the name matters only between CSV and TREC. Each may be
compressed with gzip or Zstandard. A file is read once, from the first byte to the last, so it may be
a pipe. Text is parsed in chunks of whole lines, in threads.
"""

import os
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from ..inputs.fields import names_of_side
from ..inputs.hashes import Columns, best_rows, hashes_of, repeated_row
from ..inputs.ids import once
from ..inputs.tables import values_by_order
from ..measure.labels import Labels
from ..measure.messages import InputError, of_file, warn
from ..measure.options import Options
from .content import (
    BYTE_ORDER_MARK,
    NO_LIMITS,
    VALUE,
    FilePart,
    Limits,
    ReadRequest,
    naming_file,
    shown_cell,
    unpacked_stream,
)
from .detection import START, TABLES, form_of
from .lines import from_lines
from .tables import OTHERS_NAMED, OTHERS_UNNAMED, from_json, from_table

JSON_BYTES = 5  # JSON takes this many times more memory as Python objects than as text
JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[\]\[{"])')


def read_columns(
    path: str | os.PathLike[str],
    kind: str,
    limits: Limits = NO_LIMITS,
    fields: Any = None,
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
) -> Columns:
    """Read a file; its errors name the file and the place.

    The kind is ``"run"``, ``"qrels"``, or ``"exclude"`` for ids alone, in which documents may be repeated or missing.
    Columns and fields have the names that `fields` gives, or else known ones. In ascending order, ranks and distances
    are scores. Text in place of a relevance is one of the labels. A document with an empty or null value was not
    retrieved, or not judged.
    """
    path = os.fsdecode(path)
    request = ReadRequest(names_of_side(kind, fields, score_order, labels, keep), limits)
    parts: list[FilePart] = []
    kept = None
    # the pool is closed here and not by a generator, because after an error, a generator may be closed in any thread
    with naming_file(path), _opened(path, limits) as file, ThreadPoolExecutor(pa.cpu_count()) as pool:
        unit, found = _file_parts(file, path, request, pool)
        rows = 0
        for part in _in_sequence(found, unit):
            parts.append(part)
            rows += len(part.table)
            limits.check("rows", rows)
            if part.problem:
                break
        place = _place(parts, unit)
        columns = _joined(parts, request, pool) if rows else _no_rows() if kind == "exclude" else None
        if columns is not None:
            limits.check("queries", len(columns.query_ids))
            if (keep := request.names.keep) is not None:
                kept = best_rows(columns, columns.present, keep, request.names.ascending)
            elif kind != "exclude" and (repeated := repeated_row(columns)):
                again, first = map(place, repeated)
                document, query = columns.words(repeated[0], shown_cell)
                raise InputError(f"document {document} of query {query} is in {first} already; {once(kind)}", again)
        if parts and parts[-1].problem:
            raise InputError(parts[-1].problem, place(rows))
        if columns is None:
            raise ValueError(f"holds no {VALUE[kind]}s; give at least one query with a document")
    if notice := next((part.notice for part in parts if part.notice), ""):
        warn(f"{path}: {notice}")
    counts = {name: sum(part.total for part in parts if part.counted == name) for name in ("query", "document")}
    numbers = np.arange(len(columns.query))
    if kept is not None:
        numbers, columns = numbers[kept], columns.only(kept)
    if columns.present is not None:
        numbers, present = numbers[columns.present], columns.present
        columns = columns.retrieved(present) if kind == "run" else columns.only(present)
        columns = columns._replace(present=None)
    return columns._replace(
        place=lambda row: f"{of_file(path)}: {place(int(numbers[row]))}",
        positions=counts["query"] or None,
        are_rows=counts["document"] > 0,
        has_fields=any(part.has_fields for part in parts if len(part.table)),
        unnamed=[each for part in parts for each in part.unnamed],
    )


def read_run(
    path: str | os.PathLike[str],
    limits: Limits = NO_LIMITS,
    score_order: str = "descending",
    *,
    duplicates: str = "raise",
    ties: str | None = None,
) -> dict[str, dict[str, float]]:
    """Return the scores of a run file, in TREC or another format: ``{query: {document: score}}``.

    With ``score_order="ascending"``, a column of ranks or distances is read as scores, and ids without scores have
    their ranks; then score them with ``score_order="ascending"`` too. With ``duplicates="best"``, a document that a
    query lists several times has its best score, in the first such row, or in the last with ``ties="last"``.

    Raises:
        ValueError: as in ``read_columns``.
        FileNotFoundError: there is no such file; this error is also a ValueError.
    """
    options = Options.parse(score_order=score_order, duplicates=duplicates, ties=ties)
    columns = read_columns(path, "run", limits, **options.sides)
    if columns.are_rows:
        raise InputError("has scores alone; give the file and that of LETOR to compute", of_file(os.fsdecode(path)))
    return _mapping(columns)


def read_qrels(
    path: str | os.PathLike[str], limits: Limits = NO_LIMITS, *, gain: Any = None
) -> dict[str, dict[str, Any]]:
    """Return the relevance in a qrels file: ``{query: {document: relevance}}``, as integers if all are integers.

    With ``gain={"relevant": 3, "no": 0}``, relevances may be these labels; score them with the same ``gain``.

    Raises:
        ValueError: as in ``read_columns``.
        FileNotFoundError: there is no such file; this error is also a ValueError.
    """
    labels = Options.parse(gain=gain).labels
    columns = read_columns(path, "qrels", limits, labels=labels)
    if labels is not None:
        words = {number: label for label, number in labels.as_numbers.gains}
        return {q: {d: words.get(value, value) for d, value in of.items()} for q, of in _mapping(columns).items()}
    if (columns.value == np.trunc(columns.value)).all() and np.abs(columns.value).max() < 2**63:
        columns = columns._replace(value=columns.value.astype(np.int64))
    return _mapping(columns)


def _mapping(columns: Columns) -> dict[str, dict[str, Any]]:
    order = np.argsort(columns.query, kind="stable")
    ends = np.cumsum(np.bincount(columns.query, minlength=len(columns.query_ids))).tolist()
    documents = columns.document.take(pa.array(order)).to_pylist()
    values = columns.value[order].tolist()
    starts = [0, *ends][: len(ends)]
    return {
        query: dict(zip(documents[start:end], values[start:end], strict=True))
        for query, start, end in zip(columns.query_ids.to_pylist(), starts, ends, strict=True)
    }


def _in_sequence(parts: Iterator[FilePart], unit: str) -> Iterator[FilePart]:
    """Yield the parts, with numbers from 0 over all parts as the ids that their file lacks, or with an error.

    Either all queries have ids or none has, and the documents of a query are in one list.
    """
    first: dict[str, int] = {}
    before, ids, counted = 0, 0, None
    for part in parts:
        for query, number in part.lists:
            if query in first:
                there, here = (unit.format(each) for each in (first[query], before + number))
                again = f"is in {there} already" if there != here else "is there twice"
                problem = f"query {shown_cell(query)} {again}; give each query once"
                raise ValueError(f"{here}: {problem}" if here else problem)
            first[query] = before + number
        if part.total or len(part.table):
            counted = part.counted if counted is None else counted
        if (part.total or len(part.table)) and part.counted != counted:
            part = part._replace(table=part.table[:0], problem=OTHERS_NAMED if part.counted else OTHERS_UNNAMED)
        elif part.total and counted:
            at = np.arange(part.total)
            if counted == "query":
                at = part.table["query"].cast(pa.string()).cast(pa.int64()).to_numpy()
            field, names = part.table.schema.field(counted), part.table.column_names
            column = pa.array(at + ids).cast(pa.string()).cast(field.type)
            part = part._replace(table=part.table.set_column(names.index(counted), field, column))
        before, ids = before + part.span, ids + part.total
        yield part


def _joined(parts: list[FilePart], request: ReadRequest, pool: ThreadPoolExecutor) -> Columns:
    table = pa.concat_tables([part.table for part in parts]).unify_dictionaries()
    query = np.concatenate([chunk.indices for chunk in table["query"].chunks], dtype=np.int64)
    ids, column = table["query"].chunk(0).dictionary, table["value"]
    present = column.is_valid().to_numpy() if column.null_count else None
    values = (column if present is None else column.fill_null(0)).to_numpy()
    if request.names.has_no_value:
        values = values_by_order(len(query), request.names)
    hashes, until = np.empty(len(query), np.uint64), np.cumsum([len(part.table) for part in parts])

    def write_hashes(part: FilePart, end: int) -> None:
        hashes[end - len(part.table) : end] = hashes_of(part.table["document"])

    deque(pool.map(write_hashes, parts, until.tolist()), 0)
    return Columns(query, ids, table["document"], values, hashes, present=present)


def _no_rows() -> Columns:
    """Return the columns of an empty file."""
    none = pa.array([], pa.string())  # made only when needed, because making an array imports pandas
    return Columns(np.empty(0, np.int64), none, pa.chunked_array([none]), np.empty(0), np.empty(0, np.uint64))


def _place(parts: list[FilePart], unit: str) -> Callable[[int], str]:
    """Return a function that describes the place of a row, or of the row after the last."""
    first_rows = [0, *np.cumsum([len(part.table) for part in parts]).tolist()][: len(parts)]
    first_numbers = [0, *np.cumsum([part.span for part in parts]).tolist()]
    numbers_of_parts = [part.numbers for part in parts]  # without keeping the tables, which are large

    def place(row: int) -> str:
        at = bisect_right(first_rows, row) - 1
        number = row - first_rows[at]
        numbers = numbers_of_parts[at]
        return unit.format(first_numbers[at] + (number if numbers is None else int(numbers[number])))

    return place


def _opened(path: str, limits: Limits) -> AbstractContextManager[BinaryIO | None]:
    """Return an open file; None for a folder of files, if there are no limits."""
    return nullcontext() if os.path.isdir(path) and limits == NO_LIMITS else open(path, "rb")


def _file_parts(
    file: BinaryIO | None, path: str, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Detect the format from the first bytes; return what to call a place in the file, and the file's parts."""
    limits = request.limits
    if file is None:
        return "row {} (from 0)", from_table("folder", path, request)
    stream, is_packed = unpacked_stream(file, limits)
    start = stream.peek(START)
    form = form_of(start)
    if form in TABLES.values():
        if is_packed or not file.seekable():
            return "row {} (from 0)", from_table(form, pa.BufferReader(stream.read()), request)
        limits.check("bytes", file.seek(0, os.SEEK_END))
        file.seek(0)
        return "row {} (from 0)", from_table(form, file, request)
    if start.startswith(BYTE_ORDER_MARK):
        stream.read(len(BYTE_ORDER_MARK))
    if form == "json" and (JSON.match(start) or ".json" in os.path.basename(path).lower()):
        if limits.uncompressed is not None:
            stream.limits = limits._replace(uncompressed=limits.uncompressed // JSON_BYTES)
        return from_json(stream, request, pool)
    return from_lines(stream, path, request, pool)
