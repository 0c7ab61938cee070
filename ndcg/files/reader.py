"""Read files of rankings as columns and mappings; the format is detected from the content.

| format | content |
|---|---|
| TREC run | `query Q0 document rank score tag` |
| TREC qrels | `query 0 document relevance`, or `query document relevance` |
| CSV, TSV | a header with names of columns; also BEIR's qrels, and CSV with semicolons |
| JSON | `{query: {document: value}}`, `{query: [ids]}`, records, objects with lists of documents |
| JSON Lines | a line for every record, query or ranking |
| Parquet, Arrow | a table with a row for a document or a query; also a folder of Parquet |
| LETOR | `relevance qid:query feature:value ... # comment`; its scores are in a file, one a line |

The first bytes and the first line determine the format; the name matters only between CSV and
TREC. A file may be compressed with gzip or Zstandard. It is read once, from the first byte to the
last, so it may be a pipe. Text is parsed in chunks of whole lines, in threads.
"""

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inputs.documents import EACH_QUERY_ONCE, values_by_order
from ..inputs.fields import Names, names_of_side
from ..inputs.hashes import Columns, hashes_of
from ..inputs.tables import checked_rows
from ..measure.labels import Labels
from ..measure.messages import InputError, place_of_file, warn
from ..measure.options import Options
from ..measure.scoring import in_threads
from .content import BYTE_ORDER_MARK, NO_LIMITS, Limits, naming_file, shown_cell, unpacked_stream
from .detection import START, TABLES, check_format, form_of
from .json import from_json
from .lines import from_lines
from .parts import FilePart, ReadRequest
from .tables import from_table

JSON_BYTES = 5  # JSON takes this many times more memory as Python objects than as text
JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[\]\[{"])')
UNIT_OF_TABLES = "row {} (from 0)"
OTHERS_UNNAMED = "names a query, but the ones before it do not; name all or none"
OTHERS_NAMED = 'names no query; give each its "query_id"'


def read_columns(
    path: str | os.PathLike[str],
    kind: str,
    limits: Limits = NO_LIMITS,
    fields: Any = None,
    score_order: str | None = None,
    labels: Labels | None = None,
    keep: str | None = None,
    format: str | None = None,  # noqa: A002 - the name of the argument of `read_run`
    has_query_ids: bool | None = None,
) -> Columns:
    """Read a file; its errors name the file and the place.

    The kind is ``"run"``, ``"qrels"``, or ``"exclude"`` for ids alone, in which documents may be
    repeated or missing. Columns and fields have the names that `fields` gives, or else standard
    ones. In ascending order, ranks and distances are scores. Text in place of a relevance is one
    of the labels. A document with an empty or null value was not retrieved, or not judged. With
    `has_query_ids`, queries without ids are numbered; None: there can be no such argument.
    """
    path = os.fsdecode(path)
    names = names_of_side(kind, fields, score_order, labels, keep, has_query_ids)
    request = ReadRequest(names, limits, check_format(format))
    parts: list[FilePart] = []
    # The pool is closed here and not by a generator, because after an error a generator may be
    # closed in any thread.
    with (
        naming_file(path),
        _opened(path, limits) as file,
        ThreadPoolExecutor(pa.cpu_count()) as pool,
    ):
        unit, file_parts = _file_parts(file, path, request, pool)
        rows = 0
        for part in _with_ids(_with_queries_once(file_parts, unit)):
            parts.append(part)
            rows += len(part.table)
            limits.check("rows", rows)
            if part.problem:
                raise InputError(part.problem, _place(parts, unit)(rows))
        place = _place(parts, unit)
        columns = _joined(parts, request) if rows else _no_rows(kind)
        limits.check("queries", len(columns.query_ids))
        columns = checked_rows(columns, columns.present, names, place)
    notices = [part.notice for part in parts if part.notice]
    if notices:
        warn(f"{path}: {notices[0]}")
    return _described(columns, parts, path, place)._replace(has_values=_have_values(parts, names))


def _described(
    columns: Columns, parts: list[FilePart], path: str, place: Callable[[int], str]
) -> Columns:
    """Return columns with what the parts of the file say about them."""
    counts = Counter[str]()
    for part in parts:
        counts[part.counted] += part.total
    columns = columns._replace(
        present=None,
        place_of=lambda row: f"{place_of_file(path)}: {place(row)}",
        positions=counts["query"] or None,
        are_rows=counts["document"] > 0,
        form="",
        fields={},
        has_ranks=any(part.has_ranks for part in parts),
    )
    for part in parts:
        if part.form:  # the part before the first row has none
            return columns._replace(form=part.form, fields=part.fields, others=part.others)
    return columns


def read_run(
    path: str | os.PathLike[str],
    limits: Limits = NO_LIMITS,
    score_order: str | None = None,
    *,
    duplicates: str = "raise",
    ties: str | None = None,
    fields: Any = None,
    format: str | None = None,  # noqa: A002 - as in other libraries
) -> dict[str, dict[str, float]]:
    """Return the scores of a run file: ``{query: {document: score}}``.

    Args:
        path: the file, in TREC or another format.
        limits: how much it may hold.
        score_order: with ``"ascending"``, a column of ranks or distances is read as scores, and
            ids without scores have their ranks; then score them with ``"ascending"`` too.
        duplicates: with ``"best"``, a document that a query lists several times has its best
            score, in the first such row, or in the last with ``ties="last"``.
        ties: as in `compute`, for `duplicates`.
        fields: the names of fields and columns, if they are not standard ones.
        format: ``"trec"``, ``"csv"``, ``"tsv"``, ``"json"``, ``"jsonl"``, ``"parquet"``,
            ``"arrow"`` or ``"letor"``; by default the content tells.

    Raises:
        ValueError: as in ``read_columns``.
        FileNotFoundError: there is no such file; this error is also a ValueError.
    """
    options = Options.parse(score_order=score_order, duplicates=duplicates, ties=ties)
    columns = read_columns(path, "run", limits, fields, format=format, **options.sides)
    if columns.are_rows:
        problem = "has scores alone; give the file and that of LETOR to compute"
        raise InputError(problem, place_of_file(os.fsdecode(path)))
    return _mapping(columns)


def read_qrels(
    path: str | os.PathLike[str],
    limits: Limits = NO_LIMITS,
    *,
    gain: Any = None,
    fields: Any = None,
    format: str | None = None,  # noqa: A002 - as in other libraries
) -> dict[str, dict[str, Any]]:
    """Return the relevances in a qrels file: ``{query: {document: relevance}}``.

    They are integers if all are integers.

    Args:
        path: the file, in TREC or another format.
        limits: how much it may hold.
        gain: with ``{"relevant": 3, "no": 0}``, relevances may be these labels; score them with
            the same `gain`.
        fields: the names of fields and columns, if they are not standard ones.
        format: the format, as in `read_run`; by default the content tells.

    Raises:
        ValueError: as in ``read_columns``.
        FileNotFoundError: there is no such file; this error is also a ValueError.
    """
    labels = Options.parse(gain=gain).labels
    columns = read_columns(path, "qrels", limits, labels=labels, fields=fields, format=format)
    if labels is not None:
        words = {number: label for label, number in labels.as_numbers.gains}
        relevances = [words.get(value, value) for value in columns.value.tolist()]
        return _mapping(columns._replace(value=np.array(relevances, object)))
    are_whole = (columns.value == np.trunc(columns.value)).all()
    if are_whole and np.abs(columns.value).max() < 2**63:
        columns = columns._replace(value=columns.value.astype(np.int64))
    return _mapping(columns)


def _mapping(columns: Columns) -> dict[str, dict[str, Any]]:
    """Return columns as the values of the documents of every query."""
    order = np.argsort(columns.query, kind="stable")
    ends = np.cumsum(np.bincount(columns.query, minlength=len(columns.query_ids))).tolist()
    documents = columns.document.take(pa.array(order)).to_pylist()
    values = columns.value[order].tolist()
    by_query: dict[str, dict[str, Any]] = {}
    start = 0
    for query, end in zip(columns.query_ids.to_pylist(), ends, strict=True):
        by_query[query] = dict(zip(documents[start:end], values[start:end], strict=True))
        start = end
    return by_query


# Parts


def _opened(path: str, limits: Limits) -> AbstractContextManager[BinaryIO | None]:
    """Return an open file; None for a folder of files, if there are no limits."""
    if os.path.isdir(path) and limits == NO_LIMITS:
        return nullcontext()
    return open(path, "rb")


def _file_parts(
    file: BinaryIO | None, path: str, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return what to call a place in the file, and the file's parts."""
    if file is None:
        return UNIT_OF_TABLES, from_table("folder", path, request)
    limits = request.limits
    stream, is_packed = unpacked_stream(file, limits)
    start = stream.peek(START)
    form = form_of(start, request.format)
    if form in TABLES.values():
        content: Any = file
        if is_packed or not file.seekable():
            content = pa.BufferReader(stream.read())
        else:
            # Parquet and Arrow are read at several places, not as a stream that counts its bytes.
            limits.check("bytes", file.seek(0, os.SEEK_END))
            file.seek(0)
        return UNIT_OF_TABLES, from_table(form, content, request)
    if start.startswith(BYTE_ORDER_MARK):
        stream.read(len(BYTE_ORDER_MARK))
    is_said_to_be_json = request.format is not None or ".json" in os.path.basename(path).lower()
    # An id of TREC may also begin with a bracket.
    if form == "json" and (is_said_to_be_json or JSON.match(start)):
        if limits.uncompressed is not None:
            stream.limits = limits._replace(uncompressed=limits.uncompressed // JSON_BYTES)
        return from_json(stream, request, pool)
    return from_lines(stream, path, request, pool)


def _with_queries_once(parts: Iterator[FilePart], unit: str) -> Iterator[FilePart]:
    """Yield the parts; a query whose documents are in two lists is an error."""
    first: dict[str, str] = {}
    before = 0
    for part in parts:
        for query, number in part.lists:
            place = unit.format(before + number)
            if query in first:
                problem = f"query {shown_cell(query)} is there twice, first in {first[query]}"
                raise InputError(f"{problem}; {EACH_QUERY_ONCE}", place)
            first[query] = place
        before += part.span
        yield part


def _with_ids(parts: Iterator[FilePart]) -> Iterator[FilePart]:
    """Yield the parts, with numbers over all parts as ids that their file lacks.

    Either all queries have ids or none has; a part that differs from the first holds an error.
    """
    first = None
    ids = 0
    for part in parts:
        named = part
        if part.total:  # others, such as the lines of a header, tell nothing
            first = first or part
            if part.counted != first.counted:
                problem = OTHERS_NAMED if part.counted else OTHERS_UNNAMED
                named = part._replace(table=part.table[:0], problem=problem)
            elif part.counted:
                named = _numbered_on(part, ids)
        yield named
        ids += part.total


def _numbered_on(part: FilePart, before: int) -> FilePart:
    """Return a part with numbers as ids, counted on from the parts before."""
    counted = part.counted
    numbers = np.arange(part.total)
    if counted == "query":
        numbers = part.table["query"].cast(pa.string()).cast(pa.int64()).to_numpy()
    schema = part.table.schema
    column = pa.array(numbers + before).cast(pa.string()).cast(schema.field(counted).type)
    index = schema.get_field_index(counted)
    return part._replace(table=part.table.set_column(index, schema.field(counted), column))


def _joined(parts: list[FilePart], request: ReadRequest) -> Columns:
    """Return the rows of all parts as columns."""
    tables = [part.table for part in parts if len(part.table)]
    table = pa.concat_tables(tables).unify_dictionaries()
    query = np.concatenate([chunk.indices for chunk in table["query"].chunks], dtype=np.int64)
    ids = table["query"].chunk(0).dictionary
    column = table["value"]
    present = None
    if column.null_count:
        present = column.is_valid().to_numpy()
        column = column.fill_null(0)
    values = column.to_numpy()
    are_listed = any(part.lists or part.counted == "query" for part in parts)
    if not are_listed and not _have_values(parts, request.names):
        values = np.array(values_by_order(len(query), request.names), np.float64)
        present = None
    hashes = np.empty(len(query), np.uint64)
    ends = np.cumsum(list(map(len, tables))).tolist()

    def write_hashes(rows: pa.Table, end: int) -> None:
        hashes[end - len(rows) : end] = hashes_of(rows["document"])

    in_threads(write_hashes, tables, ends)
    return Columns(query, ids, table["document"], values, hashes, present=present)


def _have_values(parts: list[FilePart], names: Names) -> bool:
    """Return whether documents have values; else a run has them by the order of its rows."""
    if names.has_no_value:
        return False
    return any(part.has_values for part in parts if len(part.table))


def _no_rows(kind: str) -> Columns:
    """Return columns without rows; only a file of documents to exclude may be empty."""
    if kind != "exclude":
        kinds = "scores" if kind == "run" else "relevances"
        raise ValueError(f"holds no {kinds}; give at least one query with a document")
    none = pa.array([], pa.string())  # made only when needed: making an array imports pandas
    ids = pa.chunked_array([none])
    return Columns(np.empty(0, np.int64), none, ids, np.empty(0), np.empty(0, np.uint64))


def _place(parts: list[FilePart], unit: str) -> Callable[[int], str]:
    """Return a function that describes the place of a row, or of the row after the last."""
    rows = np.cumsum([0, *(len(part.table) for part in parts)])
    first_rows = rows[: len(parts)].tolist()
    first_numbers = np.cumsum([0, *(part.span for part in parts)]).tolist()
    # The numbers of parts alone are kept, and not their tables, which are large.
    numbers_of_parts: list[NDArray[np.int64] | None] = [part.numbers for part in parts]

    def place(row: int) -> str:
        part = bisect_right(first_rows, row) - 1
        number = row - first_rows[part]
        numbers = numbers_of_parts[part]
        if numbers is not None:
            number = int(numbers[number])
        return unit.format(first_numbers[part] + number)

    return place
