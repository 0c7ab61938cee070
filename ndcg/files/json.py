"""Read JSON and JSON Lines: objects, mappings of queries, lists of ids and of hits, and records."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.fields import Names
from ..inputs.object_reader import ObjectReader
from ..inputs.objects import LOOKED_AT, fields_among
from ..inputs.sides import (
    RowReader,
    are_queries,
    are_responses,
    is_ranking,
    is_single_object,
    refuse_table_by_index,
    responses_of,
)
from ..inputs.tables import fit_of_ranks, rows_of_frame, table_of
from ..measure.messages import InputError, marked
from .content import ByteStream, SavedResultError, line_chunks, parse_json, shown_cell
from .parts import (
    ROWS,
    FilePart,
    QueryDocuments,
    ReadRequest,
    faulty_rows,
    id_table,
    part_of_cells,
    part_of_queries,
    parts_in_threads,
)


def from_json(
    stream: ByteStream, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return the unit of places, and the parts of JSON Lines, or of one value in the whole file."""
    chunks = line_chunks(stream, math.inf)
    head = next(chunks) + next(chunks, b"")  # a last line without its end is another chunk
    values: list[Any] = []
    if request.format != "json":
        values = _first_values(head)
    if values and not _is_saved(values[0]):
        kind = _kind_of_first(values, request.names)
        reader = reader_of(values, kind, request, "JSON Lines")
        parts = parts_in_threads(pool, reader.part_of_lines, chain([head], chunks))
        notice, has_ranks = reader.fit_of_ranks(values)
        # Lines are counted from 1.
        begin = FilePart(ROWS.empty_table(), 1, notice=notice, has_ranks=has_ranks)
        return "line {}", chain([begin], parts)
    value = parse_json(head + b"".join(chunks))
    if _is_saved(value):
        raise SavedResultError(value)
    unit, part = _part_of_value(value, request)
    return unit, iter([part])


def _part_of_value(value: Any, request: ReadRequest) -> tuple[str, FilePart]:
    """Return how messages name a row of a JSON value, and the value with its rows."""
    unit = "record {} (from 0)"
    frame = table_of("", value, request.names)
    if frame is not None:
        value, unit = rows_of_frame(frame), "row {} (from 0)"
    is_whole = isinstance(value, dict)
    if is_whole:
        kind = kind_of_whole(value, request.names)
        if kind == "responses":
            return "", _part_of_responses(value, request.names)
        values, unit = [value], ""
    else:
        values = value if isinstance(value, list) else [value]
        kind = _kind_of_first(values, request.names)
    request.limits.check("rows", len(values))
    reader = reader_of(values[:LOOKED_AT], kind, request, "JSON", is_whole)
    part = reader.part_of_values(list(enumerate(values)), len(values), len(values))
    notice, has_ranks = reader.fit_of_ranks(values)
    return unit, part._replace(notice=part.notice or notice, has_ranks=has_ranks)


def _part_of_responses(value: Mapping[Any, Any], names: Names) -> FilePart:
    """Return the rows of objects by their queries."""
    objects = responses_of(value)
    reader = ObjectReader(objects, fields_among(objects), names, have_queries=True)
    if reader.are_rows:
        cells = {"query": list(value), **reader.rows(reader.within(objects))}
        part = part_of_cells(cells, [0] * (len(objects) + 1), 1, names)
    else:
        queries = []
        for query, documents in reader.queries(objects, list(value)):
            queries.append(QueryDocuments(0, query, documents))
        part = part_of_queries(queries, 1, names, 1)
    return described(part, reader, "JSON")


def _kind_of_first(values: Sequence[Any], names: Names) -> str:
    """Return the kind of the first value that is not empty, which all others must be of."""
    return kind_of(next(filter(None, values), []), names)


def _first_values(head: bytes) -> list[Any]:
    """Return the values of the first lines; none if there is a single line, or no JSON Lines."""
    lines = list(filter(bytes.strip, head.split(b"\n")))
    values: list[Any] = []
    if len(lines) > 1:
        # A value may go on in the next lines, and parsing raises the error of a faulty one.
        with suppress(ValueError, RecursionError):
            for line in lines[:LOOKED_AT]:
                values.append(json.loads(line))
    return values


def _is_saved(value: Any) -> bool:
    """Return whether a value is a result of `to_dict`, or several of them by name."""
    values = [value]
    if isinstance(value, dict):
        values += value.values()
    return any(map(_is_result, values))


def _is_result(value: Any) -> bool:
    """Return whether a value is a result of `to_dict`, by two of its names."""
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("signature"), str) and isinstance(value.get("scores"), dict)


# Values


class ValueReader:
    """Reads values of JSON, all of one kind and so in a container of one type.

    | kind | a value |
    |---|---|
    | `objects` | a row or a query, with fields |
    | `queries` | `{query: documents}`: lists of ids, of hits, or mappings to numbers |
    | `rankings` | `{document: number}`, of a query without an id |
    | `lists` | the documents of a query without an id |
    """

    container: type = dict
    container_in_words = "an object"

    def __init__(self, reader: Any, names: Names, form: str) -> None:
        self.reader = reader
        self.names = names
        self.form = form

    @classmethod
    def of(
        cls, values: Sequence[Any], request: ReadRequest, form: str, is_whole: bool
    ) -> "ValueReader":
        """Return a reader of values, of which the first ones are given."""
        return cls(RowReader(cls.rows_in(values), request.names), request.names, form)

    @classmethod
    def rows_in(cls, values: Sequence[Any]) -> list[Any]:
        """Return the documents of queries in values."""
        return list(values)

    def fit_of_ranks(self, values: Sequence[Any]) -> tuple[str, bool]:
        """Return what a warning says about rows with ranks, and whether ranks tell an order."""
        return "", False

    def part_of_lines(self, text: bytes) -> FilePart:
        """Return the rows of whole lines."""
        lines = text.removesuffix(b"\n").split(b"\n")
        values: list[tuple[int, Any]] = []
        following, problem = len(lines), ""
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                values.append((number, parse_json(line, "")))
            except ValueError as error:
                following, problem = number, marked(error)
                break
        return self.part_of_values(values, len(lines), following, problem)

    def part_of_values(
        self, values: Sequence[tuple[int, Any]], span: int, number: int, problem: str = ""
    ) -> FilePart:
        """Return the rows of values with their numbers, and the error in the next one, if any."""
        read: list[Any] = []
        for position, value in values:
            try:
                self._refuse_other_kind(value)
                read += self._read(position, value)
            except ValueError as error:
                problem, number = _without_position(error), position
                break
        return described(self._part(read, span, number, problem), self.reader, self.form)

    def _refuse_other_kind(self, value: Any) -> None:
        """Raise an error for a value that is unlike the first ones."""
        if not isinstance(value, self.container):
            problem = f"{shown_cell(value)} is not {self.container_in_words}"
            hint = "give all queries in one form"
            if type(value) in (int, float) and self.names.kind != "exclude":
                hint += "; if these are the numbers of one query, give {query: {document: number}},"
                hint += " and name the query on both sides"
            raise ValueError(f"{problem}; {hint}")

    def _read(self, number: int, value: Any) -> Sequence[Any]:
        """Return the documents of the queries in a value, which has this number in the file."""
        return [QueryDocuments(number, None, self.reader.documents(number, value))]

    def _part(self, read: Sequence[Any], span: int, number: int, problem: str) -> FilePart:
        return part_of_queries(read, span, self.names, number, problem)


class Lists(ValueReader):
    """Reads lists of the documents of a query."""

    container = list
    container_in_words = "a list"


class MappingsOfQueries(ValueReader):
    """Reads mappings of queries to their documents."""

    @classmethod
    def rows_in(cls, values: Sequence[Any]) -> list[Any]:
        """Return the documents of queries in mappings."""
        refuse_table_by_index(values[0])
        return list(chain.from_iterable(value.values() for value in values))

    def _read(self, number: int, value: Any) -> Sequence[Any]:
        queries = []
        for query, row in value.items():
            documents = self.reader.documents(query, [] if row is None else row)
            queries.append(QueryDocuments(number, query, documents, self.names.kind != "exclude"))
        return queries


class ObjectsOfQueries(ValueReader):
    """Reads objects that are queries with their documents."""

    @classmethod
    def of(
        cls, values: Sequence[Any], request: ReadRequest, form: str, is_whole: bool
    ) -> ValueReader:
        """Return a reader of objects, of which the first ones are given: of rows or of queries."""
        refuse_table_by_index(values[0])
        request.limits.check("columns", len(values[0]))
        objects = ObjectReader(values, fields_among(values), request.names, is_whole=is_whole)
        reader = Records if objects.are_rows else ObjectsOfQueries
        return reader(objects, request.names, form)

    def _read(self, number: int, value: Any) -> Sequence[Any]:
        queries = []
        for query, documents in self.reader.queries([value]):
            name = None if self.reader.roles.query is None else query
            queries.append(QueryDocuments(number, name, documents))
        return queries


class Records(ValueReader):
    """Reads objects that are rows of one document."""

    def fit_of_ranks(self, values: Sequence[Any]) -> tuple[str, bool]:
        """Return what a warning says about rows with ranks, and whether ranks tell an order."""
        cells = self.reader.rows_with_ranks(values)
        return ("", False) if cells is None else fit_of_ranks(cells, self.names)

    def part_of_lines(self, text: bytes) -> FilePart:
        """Return the rows of whole lines, of flat objects read by Arrow if all are plain."""
        if self.reader.are_flat_rows:
            # Reading the lines one by one raises the error.
            with suppress(pa.ArrowInvalid, UnicodeError):
                return self._plain(text)
        return super().part_of_lines(text)

    def _read(self, number: int, value: Any) -> Sequence[Any]:
        rows = []
        for row in self.reader.within([value]):
            for path, keys in self.reader.paths.items():
                if keys[0] not in row:
                    raise ValueError(f"has no {path!r}, which the first record has")
            self.reader.roles.refuse_late_field(row, self.names)
            rows.append((number, row))
        return rows

    def _part(self, read: Sequence[Any], span: int, number: int, problem: str) -> FilePart:
        cells = self.reader.rows([row for _, row in read])
        numbers = [position for position, _ in read]
        part = part_of_cells(cells, [*numbers, number], span, self.names)
        return part._replace(problem=part.problem or problem)

    def _plain(self, text: bytes) -> FilePart:
        """Return the rows of flat objects, read by Arrow; an error if one is not plain."""
        from pyarrow import json as arrow_json  # only when it is needed

        columns = list(self.reader.fields.values())
        lines = text.removesuffix(b"\n").count(b"\n") + 1
        types = dict(zip(columns, (pa.string(), pa.string(), pa.float64()), strict=False))
        may_be_late = self.reader.roles.beside_ids is not None
        parse = arrow_json.ParseOptions(
            explicit_schema=pa.schema(types),
            unexpected_field_behavior="error" if may_be_late else "ignore",
        )
        read = arrow_json.ReadOptions(block_size=len(text) + 1, use_threads=False)
        text.decode()
        source = pa.BufferReader(text)
        parsed = arrow_json.read_json(source, read_options=read, parse_options=parse)
        table = id_table(*(parsed[name].combine_chunks() for name in columns))
        value = table["value"]
        # Arrow skips empty lines, and an object may go on in the next line.
        if len(value) != lines or value.null_count or faulty_rows(table).any():
            raise pa.ArrowInvalid("not a number and two ids in each line")
        # Larger integers, which are refused.
        if pc.max(pc.abs(value)).as_py() >= 2**53:
            raise pa.ArrowInvalid("rounds an integer")
        return described(FilePart(table, lines), self.reader, self.form)


def reader_of(
    values: Sequence[Any], kind: str, request: ReadRequest, form: str, is_whole: bool = False
) -> ValueReader:
    """Return a reader of values of a kind, of which the first ones are given."""
    alike = [value for value in values if isinstance(value, READERS[kind].container)]
    return READERS[kind].of(alike, request, form, is_whole)


def described(part: FilePart, reader: RowReader | ObjectReader, form: str) -> FilePart:
    """Return a part with what `preview` says about it."""
    return part._replace(
        form=f"{form}: {reader.form}",
        fields=dict(reader.fields),
        others=reader.others,
        has_values=reader.has_values,
        notice=reader.lists.warning,
    )


READERS: dict[str, type[ValueReader]] = {
    "objects": ObjectsOfQueries,
    "queries": MappingsOfQueries,
    "rankings": ValueReader,
    "lists": Lists,
}


def kind_of(value: Any, names: Names) -> str:
    """Return the kind of one of several values: a query, a row or a mapping."""
    if not isinstance(value, dict):
        return "lists"
    if are_queries(value, names):
        return "queries"
    if is_ranking(value, names):
        return "rankings"
    return "objects"


def kind_of_whole(value: dict[str, Any], names: Names) -> str:
    """Return the kind of an object that holds all queries."""
    if is_single_object(value, names):
        return "objects"
    if are_responses(value):
        return "responses"
    return "queries"


def _without_position(error: ValueError) -> str:
    """Return the words of an error in a value, which its number places."""
    if isinstance(error, InputError) and not any(error.places):
        error.position = None
    return marked(error)
