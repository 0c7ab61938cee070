"""Read rows from objects and tables: JSON, JSONL, Parquet and Arrow."""

import errno
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.columns import as_number, value_type, whole_or_float, without_decimals
from ..inputs.fields import Names, UnknownColumnError, spelled
from ..inputs.hit_reader import HitReader, own_list
from ..inputs.hits import Unnamed, answers_in, hits_of, query_of, unnamed
from ..inputs.ids import NO_ID, SURROGATE, id_kind
from ..inputs.tables import Cells, are_columns, chosen_columns, table_records
from ..measure.labels import Labels
from ..measure.messages import brief, marked
from .content import (
    ROWS,
    VALUE,
    ByteStream,
    FilePart,
    Limits,
    ReadRequest,
    SavedResultError,
    fault_of,
    faulty_rows,
    id_table,
    line_chunks,
    numerals,
    parse_json,
    parts_in_threads,
    shown_cell,
)

OTHERS_NAMED = 'names no query; give each line its "query_id"'
OTHERS_UNNAMED = "names a query, but the ones before it do not; name all or none"
FILE_IDS = ("text", "integers", "bytes")  # ids with one spelling as text; a date has many
NUMBER_TYPES = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_null,
)


def from_json(stream: ByteStream, request: ReadRequest, pool: ThreadPoolExecutor) -> tuple[str, Iterator[FilePart]]:
    """Return the rows of JSON values: one per line if the first line is one, else one for the whole file.

    A list in the first line is one of several lines if others follow.
    """
    chunks = line_chunks(stream, math.inf)
    head = next(chunks) + next(chunks, b"")  # a last line without its end is a chunk of its own
    line = head.lstrip().split(b"\n", 1)[0]
    try:
        first = json.loads(line) if line.startswith((b"{", b"[")) else None
    except (ValueError, RecursionError):  # the JSON value continues on the next lines
        first = None
    if isinstance(first, list):
        first = first if head.lstrip()[len(line) :].strip() else None
    if first is not None and not _is_saved(first) and table_records(first, request.names.columns) is None:
        parse = partial(_parse_json_lines, reading=_JsonReader(first, request, partial(_objects_in, head)))
        return "line {}", chain([FilePart(ROWS.empty_table(), 1)], parts_in_threads(pool, parse, chain([head], chunks)))
    try:
        value = parse_json(head + b"".join(chunks))
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    if _is_saved(value):
        raise SavedResultError(value)
    value = table_records(value, request.names.columns) or value
    if not isinstance(value, list):
        return "", iter([_json_part([(0, value)], 1, _JsonReader(value, request, lambda: [value]))])
    request.limits.check("rows", len(value))
    reading = _JsonReader(value[0] if value else {}, request, lambda: value)
    return "record {} (from 0)", iter([_json_part(list(enumerate(value)), len(value), reading)])


def _is_saved(value: Any) -> bool:
    """Return whether a value is a result of `to_dict`, or several of them by name."""
    results = value.values() if isinstance(value, dict) and "signature" not in value else [value]
    fields = {"signature": str, "scores": dict}
    return len(results) > 0 and all(
        isinstance(each, dict) and all(isinstance(each.get(name), kind) for name, kind in fields.items())
        for each in results
    )


def _objects_in(lines: bytes) -> Iterator[Any]:
    """Yield the objects in lines of JSON, up to the first faulty one."""
    with suppress(ValueError, RecursionError):  # parsing all lines raises the error
        yield from map(json.loads, filter(bytes.strip, lines.split(b"\n")))


class _JsonReader:
    """Reads JSON values: as records, with the names of the first one, as the hits of a query, or as mappings."""

    def __init__(self, first: Any, request: ReadRequest, objects: Callable[[], Iterable[Any]]) -> None:
        self.names, self.columns = request.names, None
        self.hits = HitReader(request.names, objects())
        if isinstance(first, dict) and first and self.hits.hits(first) is None:
            possible = request.names.columns
            flat = {name for name, value in first.items() if not isinstance(value, (dict, list))}
            is_named = any(spelled(first, each) for each in possible.values())
            if not is_named and all(isinstance(each, (int, float)) for each in first.values()):
                raise ValueError("holds one query without its id; give {query: {document: value}}")
            if len(flat) == len(first) or are_columns(flat, possible):
                request.limits.check("columns", len(first))

                def cells(of: Sequence[str]) -> Iterator[list[Any]]:
                    return ([each.get(name) for name in of] for each in objects() if isinstance(each, dict))

                self.columns = [list(first)[at] for at in chosen_columns(list(first), request.names, cells)]

    def groups(self, at: int, value: Any) -> Iterator[tuple[Any, Iterable[Any], Iterable[Any], bool]]:
        """Yield each query in the value at a position with its documents and values, and if these are a list."""
        if isinstance(value, dict) and self.columns:
            for name in self.columns:
                if name not in value:
                    raise ValueError(f"has no {name!r}, which the first record has")
            query, document, *number = map(value.get, self.columns)
            yield query, [document], list(map(as_number, number)) or [1.0], False
            return
        names, is_query = self.names, self.names.kind != "exclude"
        is_named = isinstance(value, dict) and query_of(value, names) is not None
        if isinstance(value, dict) and not is_named and (answers := answers_in(value, names)) is not value:
            yield from chain.from_iterable(self.groups(each, answer) for each, answer in enumerate(answers))
            return
        hits = self.hits.hits(value) if is_query else None
        if is_query and (isinstance(value, list) or hits is not None):
            query = self.hits.query(value) if isinstance(value, dict) else None
            documents = self.hits.documents(shown_cell(str(at) if query is None else query), value, hits)
            yield unnamed(value, names) if query is None else query, documents.keys(), documents.values(), True
            return
        if not isinstance(value, dict):
            raise ValueError(f"{shown_cell(value)} is neither a JSON object nor a list")
        own_list(value, names, is_named)
        are_rows = is_query and hits_of(next(iter(value.values()), None), names) is not None
        if not are_rows and not any(isinstance(each, list) for each in value.values()):
            value = _only_ranking(value)
        for query, documents in value.items():
            if not is_query and not isinstance(documents, (list, dict)):
                raise ValueError(f"query {shown_cell(query)}: must be a list of ids; got {shown_cell(documents)}")
            if not is_query:
                yield query, documents, [1.0] * len(documents), False
                continue
            are_listed = not isinstance(documents, dict) or not _is_plain(documents)
            if are_listed:
                documents = self.hits.documents(shown_cell(query), documents, self.hits.hits(documents))
            yield query, documents.keys(), documents.values(), are_listed


def _is_plain(documents: dict[str, Any]) -> bool:
    """Return whether an object has a number for each document."""
    return not any(isinstance(each, (dict, list)) for each in documents.values())


def _only_ranking(objects: dict[str, Any]) -> dict[str, Any]:
    """Return the only ``{query: {document: value}}`` in nested mappings, such as MTEB's, by subset and split."""
    rankings = list(rankings_in({name: value for name, value in objects.items() if name != "mteb_model_meta"}))
    if len(rankings) == 1:
        return rankings[0][1]
    there = brief(("".join(f"[{shown_cell(key)}]" for key in keys) for keys, _ in rankings), ", ")
    keys = "".join(f"[{key!r}]" for key in rankings[0][0]) if rankings else ""
    raise ValueError(f"holds {len(rankings)} rankings: {there}; read it by json.load and give one, such as file{keys}")


def rankings_in(
    objects: dict[str, Any], keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield each ``{query: {document: value}}`` in nested mappings, with the keys that lead to it."""
    inner = [value for value in objects.values() if isinstance(value, dict) and value]
    if not inner or not all(isinstance(next(iter(value.values())), dict) for value in inner):
        yield keys, objects
        return
    for name, value in objects.items():
        if isinstance(value, dict) and value:
            yield from rankings_in(value, (*keys, name))


def _parse_json_lines(text: bytes, reading: _JsonReader) -> FilePart:
    """Return the rows of JSON Lines; Arrow reads plain records."""
    lines = text.removesuffix(b"\n").split(b"\n")
    if reading.columns:
        from pyarrow import json as arrow_json  # only when it is needed

        types = dict(zip(reading.columns, (pa.string(), pa.string(), pa.float64()), strict=False))
        how = arrow_json.ParseOptions(explicit_schema=pa.schema(types), unexpected_field_behavior="ignore")
        block = arrow_json.ReadOptions(block_size=len(text) + 1, use_threads=False)
        try:
            text.decode()
            parsed = arrow_json.read_json(pa.BufferReader(text), read_options=block, parse_options=how)
            table = id_table(*(parsed[name].combine_chunks() for name in reading.columns))
            value = table["value"]
            is_plain = len(value) == len(lines) and not value.null_count and not faulty_rows(table).any()
            if is_plain and pc.max(pc.abs(value)).as_py() < 2**53:
                return FilePart(table, len(lines))
        except (pa.ArrowInvalid, UnicodeError):
            pass  # reading the lines one by one raises the error
    values: list[tuple[int, Any]] = []
    problem = ""
    for number, line in enumerate(lines):
        try:
            if line.strip():
                values.append((number, parse_json(line)))
        except json.JSONDecodeError as error:
            problem = f"not JSON: {error.msg}, at column {error.colno}"
        except ValueError as error:
            problem = marked(error)
        if problem:
            break
    return _json_part(values, len(lines), reading, number, problem)


def _json_part(
    values: list[tuple[int, Any]], span: int, reading: _JsonReader, number: int = 0, problem: str = ""
) -> FilePart:
    """Return the rows of values with their numbers, and the error in the next value, if any."""
    queries: list[Any] = []
    documents: list[Any] = []
    cells: list[Any] = []
    lengths, of_query, are_counted = [], [], False
    in_place_of_ids: list[Unnamed] = []
    lists: list[tuple[str, int]] = []
    for at, value in values:
        try:
            for query, its_documents, its_values, are_listed in reading.groups(at, value):
                if queries and isinstance(query, Unnamed) is not are_counted:
                    raise ValueError(OTHERS_UNNAMED if are_counted else OTHERS_NAMED)
                if are_counted := isinstance(query, Unnamed):
                    in_place_of_ids.append(query)
                if are_listed and not are_counted:
                    lists.append((str(query), at))
                queries.append(len(queries) if are_counted else query)
                of_query.append(at)
                documents.extend(its_documents)
                cells.extend(its_values)
                lengths.append(len(documents))
        except ValueError as error:
            number, problem = at, marked(error)
            break
    if (labels := reading.names.labels) is not None:
        cells = labels.numbers(cells)
    rows = np.repeat(np.arange(len(queries)), np.diff(np.array([0, *lengths])))
    numbers = np.append(np.array(of_query, np.int64)[rows], number)
    texts = pc.dictionary_encode(_texts(queries))
    query = pa.DictionaryArray.from_arrays(texts.indices.take(pa.array(rows)), texts.dictionary)
    table = id_table(query, _texts(documents), _numbers(cells))
    counted, has_fields = "query" * are_counted, bool(reading.columns) or reading.hits.have_fields
    about = lists, counted, len(queries), has_fields, in_place_of_ids
    part = FilePart(table, span, numbers, problem, reading.hits.warning, *about)
    return _checked(part, lambda row: (queries[rows[row]], documents[row], cells[row]), reading.names, cells)


def _texts(ids: list[Any]) -> pa.StringArray:
    """Return ids as text, null for those that are neither text nor integers."""
    if set(map(type, ids)) <= {str}:
        try:
            return pa.array(ids, pa.string())
        except UnicodeEncodeError:
            pass
    return pa.array([str(each) if _is_id(each) else None for each in ids], pa.string())


def _is_id(value: Any) -> bool:
    return bool(id_kind(type(value))) and not (isinstance(value, str) and SURROGATE.search(value))


def _numbers(values: list[Any]) -> pa.DoubleArray:
    """Return numbers, null for None, and nan for other values and for integers that float64 would round."""
    if not set(map(type, values)) <= {float, NoneType}:
        values = [each if each is None else _float(each) for each in values]
    return pa.array(values, pa.float64())


def _float(value: Any) -> float:
    """Return a number as a float; nan for other values and for an integer that float64 would round."""
    if isinstance(value, Decimal):
        value = whole_or_float(value)
    is_number = isinstance(value, (int, float)) and -(2**1023) < value < 2**1023 and value == float(value)
    return float(value) if is_number else math.nan


# Parquet and Arrow


def from_table(form: str, file: Any, request: ReadRequest) -> Iterator[FilePart]:
    """Yield the rows of a Parquet or Arrow file, or of a folder of Parquet files; a row may be the hits of a query."""
    limits = request.limits
    uncompressed, bounded = 0, limits.uncompressed is not None
    if form == "parquet":
        from pyarrow import parquet as arrow_parquet  # only when it is needed, since the import takes long

        how = {"thrift_container_size_limit": 1 << 16} if bounded else {}  # columns and row groups
        parquet = arrow_parquet.ParquetFile(file, **how)
        first_rows = partial(_first_rows, lambda of: next(parquet.iter_batches(1 << 16, columns=of), None))
        chosen = _chosen_fields(parquet.schema_arrow, request, first_rows)
        limits.check("rows", parquet.metadata.num_rows)
        if bounded and chosen:  # text that is stored once may belong to many rows, so it is unpacked only once
            _check_packed(parquet.metadata, chosen, limits)
            parquet = arrow_parquet.ParquetFile(file, metadata=parquet.metadata, read_dictionary=chosen[:2])
        batches = parquet.iter_batches(1 << 16, columns=chosen)
    elif form == "folder":
        from pyarrow import dataset as arrow_dataset  # only when it is needed

        folder = arrow_dataset.dataset(file, format="parquet")
        if not folder.files:
            raise IsADirectoryError(errno.EISDIR, "Is a directory without files of Parquet")
        first_rows = partial(_first_rows, lambda of: folder.head(1 << 16, columns=of))
        chosen = _chosen_fields(folder.schema, request, first_rows)
        batches = folder.to_batches(columns=chosen)
    elif bounded:
        raise ValueError("is an Arrow file, which does not say how much it unpacks to; give Parquet")
    else:
        reader = pa.ipc.open_file(file) if form == "arrow" else pa.ipc.open_stream(file)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if form == "arrow" else reader
        first = next(iter(batches), None)
        chosen = _chosen_fields(reader.schema, request, partial(_first_rows, lambda of: first and first.select(of)))
        batches = batches if first is None else chain([first], batches)
    reading: _JsonReader | None = None
    for batch in batches:
        batch.validate(full=True)
        if chosen is None:
            rows = batch.to_pylist()
            reading = reading or _JsonReader({}, request, partial(iter, rows))
            yield _json_part(list(enumerate(rows)), len(rows), reading, len(rows))
            continue
        cells = [batch[name] for name in chosen]
        if bounded:
            uncompressed += sum(map(_unpacked, cells))
            limits.check("uncompressed", uncompressed)
        ids = (column.cast(value_type(column.type)).cast(pa.string()) for column in cells[:2])
        table = id_table(*ids, *(_number_column(each, request.names.labels) for each in cells[2:]))
        seen = chain.from_iterable(each.to_pylist() for each in cells[2:])
        yield _checked(FilePart(table, len(table)), partial(_cells_of, cells), request.names, seen)


def _first_rows(read: Callable[[Sequence[str]], Any], of: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the cells of the first rows in some columns."""
    rows = read(of)
    return iter(()) if rows is None else zip(*(rows[name].to_pylist() for name in of), strict=True)


def _chosen_fields(schema: pa.Schema, request: ReadRequest, cells: Cells) -> list[str] | None:
    """Return the names of a table's columns of queries, documents and values; None if each row has lists of them.

    Raises:
        ValueError: it lacks a column, or one does not hold ids or numbers.
    """
    request.limits.check("columns", len(schema.names))
    try:
        fields = [schema.field(at) for at in chosen_columns(schema.names, request.names, cells)]
    except UnknownColumnError:
        if request.limits.uncompressed is None and any(pa.types.is_nested(each) for each in schema.types):
            return None
        raise
    if request.limits.uncompressed is None and pa.types.is_nested(fields[1].type):
        return None
    for field in fields[:2]:
        kind = value_type(field.type)
        if id_kind(kind) not in FILE_IDS and not pa.types.is_null(kind):
            problem = f"holds {kind}; ids are text or integers, so convert it"
            raise ValueError(f"the column {field.name!r} {problem}")
    for field in fields[2:]:
        if id_kind(value_type(field.type)) == "text":
            continue  # numbers, or labels
        if not any(test(field.type) for test in NUMBER_TYPES):
            raise ValueError(f"the column {field.name!r} holds {field.type}; it must hold numbers, so convert it")
    return [field.name for field in fields]


def _check_packed(metadata: Any, chosen: Sequence[str], limits: Limits) -> None:
    """Raise an error for Parquet columns that exceed a limit when they are unpacked, according to the metadata."""
    limits.check("columns", metadata.num_columns)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    chunks = [group.column(at) for group in groups for at in range(metadata.num_columns)]
    chunks = [chunk for chunk in chunks if chunk.path_in_schema in chosen]
    limits.check("uncompressed", sum(chunk.total_uncompressed_size for chunk in chunks))
    if any(encoding.startswith("DELTA") and "BYTE" in encoding for chunk in chunks for encoding in chunk.encodings):
        raise ValueError("holds ids as DELTA_BYTE_ARRAY, which may unpack to any size; use another encoding")


def _unpacked(column: pa.Array) -> int:
    """Return the number of bytes of a column; a dictionary counts as plain text."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary.cast(pa.string()))
    return pc.sum(lengths.take(column.indices)).as_py() or 0


def _cells_of(cells: list[pa.Array], row: int) -> list[Any]:
    return [column[row].as_py() for column in cells]


def _number_column(column: pa.Array, labels: Labels | None) -> pa.DoubleArray:
    """Return a column of numbers or labels, null for other values and for integers that float64 would round."""
    if id_kind(value_type(column.type)) == "text":
        column = numerals(column.cast(pa.string()), labels)
    try:
        if pa.types.is_decimal(value_type(column.type)):
            column = without_decimals(column)
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return _numbers(list(map(as_number, column.to_pylist())))


def _checked(part: FilePart, cells: Callable[[int], Sequence[Any]], names: Names, seen: Iterable[Any]) -> FilePart:
    """Return the rows before the first faulty one, and the error in that row's cells, among the values seen."""
    faults = faulty_rows(part.table)
    if not faults.any():
        return part
    row = int(faults.argmax())
    return part._replace(table=part.table[:row], problem=_problem_in(cells(row), names, seen))


def _problem_in(cells: Sequence[Any], names: Names, seen: Iterable[Any]) -> str:
    """Return the error in the cells of a row."""
    query, document, value = (*cells, None)[:3]
    for name, cell in (("query", query), ("document", document)):
        if cell is None or cell == "":
            return f"has no {name}; give each row its id"
        if not _is_id(cell):
            return f"the {name} {shown_cell(cell)} {NO_ID}"
    of = f"document {shown_cell(document)} of query {shown_cell(query)}"
    return f"the {VALUE[names.kind]} {shown_cell(value)} of {of} {fault_of(value, names.kind, names.labels, seen)}"
