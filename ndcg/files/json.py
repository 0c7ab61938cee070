"""Read JSON and JSON Lines: objects, mappings of queries, lists of ids and of hits, and records."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.fields import Names
from ..inputs.ids import NO_ID
from ..inputs.object_reader import ObjectReader
from ..inputs.objects import LOOKED_AT
from ..inputs.sides import (
    RowReader,
    are_queries,
    are_responses,
    is_ranking,
    is_single_object,
    refuse_table_by_index,
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
    is_id,
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
    if request.format != "json" and _are_lines(head):
        values = _first_values(head)
        kind = _kind_of_first(values, request.names)
        reader = ValueReader(values, kind, request, "JSON Lines")
        parts = parts_in_threads(pool, reader.part_of_lines, chain([head], chunks))
        notice, has_ranks = reader.fit_of_ranks(values)
        # Lines are counted from 1.
        begin = FilePart(ROWS.empty_table(), 1, notice=notice, has_ranks=has_ranks)
        return "line {}", chain([begin], parts)
    try:
        value = parse_json(head + b"".join(chunks))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"{place}: not JSON: {error.msg}") from None
    if _is_saved(value):
        raise SavedResultError(value)
    unit, part = _part_of_value(value, request)
    return unit, iter([part])


def _part_of_value(value: Any, request: ReadRequest) -> tuple[str, FilePart]:
    """Return how messages name a row of a JSON value, and the value with its rows."""
    frame = table_of("", value, request.names)
    if frame is not None:
        values, unit = rows_of_frame(frame), "row {} (from 0)"
    elif isinstance(value, list):
        values, unit = value, "record {} (from 0)"
    else:
        values, unit = [value], ""
    request.limits.check("rows", len(values))
    is_whole = isinstance(value, dict) and frame is None
    if is_whole:
        kind = kind_of_whole(value, request.names)
    else:
        kind = _kind_of_first(values, request.names)
    reader = ValueReader(values[:LOOKED_AT], kind, request, "JSON", is_whole)
    part = reader.part_of_values(list(enumerate(values)), len(values))
    notice, has_ranks = reader.fit_of_ranks(values)
    return unit, part._replace(notice=part.notice or notice, has_ranks=has_ranks)


def _kind_of_first(values: Sequence[Any], names: Names) -> str:
    """Return the kind of the first value that is not empty, which all others must be of."""
    for value in values:
        if value:
            return kind_of(value, names)
    return "lists"


def _are_lines(head: bytes) -> bool:
    """Return whether the first line is a value, and others follow it."""
    line, _, rest = head.lstrip().partition(b"\n")
    if not rest.strip() or not line.startswith((b"{", b"[")):
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # the value continues on the next lines
        return False
    return not _is_saved(value)


def _first_values(head: bytes) -> list[Any]:
    """Return the values in the first lines up to a faulty one, where parsing raises the error."""
    values: list[Any] = []
    for line in filter(bytes.strip, head.split(b"\n")):
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            break
        if len(values) == LOOKED_AT:
            break
    return values


def _is_saved(value: Any) -> bool:
    """Return whether a value is a result of `to_dict`, or several of them by name."""
    if not isinstance(value, dict):
        return False
    results = [value] if "signature" in value else list(value.values())
    return len(results) > 0 and all(map(_is_result, results))


def _is_result(value: Any) -> bool:
    """Return whether a value is a result of `to_dict`, by two of its names."""
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("signature"), str) and isinstance(value.get("scores"), dict)


# Values


def _excluded(number: int, value: Mapping[str, Any]) -> list[QueryDocuments]:
    """Return the documents to exclude, by query; they may be repeated."""
    queries = []
    for query, ids in value.items():
        place = f"query {shown_cell(query)}"
        if not isinstance(ids, (list, dict)):
            raise ValueError(f"{place}: must be a list of ids; got {shown_cell(ids)}")
        for document in ids:
            if not is_id(document):
                raise ValueError(f"{place}: the document {shown_cell(document)} {NO_ID}")
        queries.append(QueryDocuments(number, query, dict.fromkeys(ids, 1.0), are_listed=False))
    return queries


def _check_fields(row: Mapping[str, Any], reader: ObjectReader) -> None:
    """Raise an error for a row without a field that is read."""
    for path, keys in reader.paths.items():
        if keys[0] not in row:
            raise ValueError(f"has no {path!r}, which the first record has")


class ValueReader:
    """Reads values of JSON, all of one kind.

    | kind | a value |
    |---|---|
    | `objects` | a row or a query, with fields |
    | `responses` | objects by their queries |
    | `queries` | `{query: documents}`: lists of ids, of hits, or mappings to numbers |
    | `rankings` | `{document: number}`, of a query without an id |
    | `lists` | the documents of a query without an id |
    """

    def __init__(
        self,
        values: Sequence[Any],
        kind: str,
        request: ReadRequest,
        form: str,
        is_whole: bool = False,
    ) -> None:
        names = request.names
        self.names = names
        self.container = form
        self.kind = kind
        self.objects: ObjectReader | None = None
        self.rows: RowReader | None = None
        alike: list[Any] = [value for value in values if isinstance(value, CONTAINERS[kind])]
        if kind in ("objects", "queries"):
            refuse_table_by_index(alike[0])
        if kind == "objects":
            request.limits.check("columns", len(alike[0]))
            self.objects = ObjectReader(alike, names, is_whole=is_whole)
        elif kind == "responses":
            self.objects = ObjectReader(list(alike[0].values()), names, have_queries=True)
        elif names.kind == "exclude":
            pass  # these documents have no values, and may be repeated: `_excluded` reads them
        elif kind == "queries":
            self.rows = RowReader(chain.from_iterable(value.values() for value in alike), names)
        else:
            self.rows = RowReader(alike, names)
        # Objects that are rows of one document; else values hold all documents of a query.
        self.records: ObjectReader | None = None
        if self.objects is not None and self.objects.are_rows:
            self.records = self.objects

    def _described(self, part: FilePart) -> FilePart:
        """Return a part with what `preview` says about it."""
        reader = self.rows if self.objects is None else self.objects
        if reader is None:
            return part._replace(form=f"{self.container}: lists of ids")
        return part._replace(
            form=f"{self.container}: {reader.form}",
            fields=dict(reader.fields),
            others=reader.others,
            has_values=reader.has_values,
            notice=reader.lists.warning,
        )

    def fit_of_ranks(self, values: Sequence[Any]) -> tuple[str, bool]:
        """Return what a warning says about rows with ranks, and whether ranks tell an order."""
        if self.kind != "objects" or self.records is None:
            return "", False
        cells = self.records.rows_with_ranks(values)
        if cells is None:
            return "", False
        return fit_of_ranks(cells, self.names)

    # Lines

    def part_of_lines(self, text: bytes) -> FilePart:
        """Return the rows of whole lines."""
        plain = self._plain_records(text)
        if plain is not None:
            return self._described(plain)
        lines = text.removesuffix(b"\n").split(b"\n")
        values: list[tuple[int, Any]] = []
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                values.append((number, parse_json(line)))
            except json.JSONDecodeError as error:
                problem = f"not JSON: {error.msg}, at column {error.colno}"
                return self.part_of_values(values, len(lines), number, problem)
            except ValueError as error:
                return self.part_of_values(values, len(lines), number, marked(error))
        return self.part_of_values(values, len(lines))

    def _plain_records(self, text: bytes) -> FilePart | None:
        """Return the rows of flat objects, read by Arrow; None if one is not plain."""
        if self.objects is None or not self.objects.are_flat_rows:
            return None
        from pyarrow import json as arrow_json  # only when it is needed

        columns = list(self.objects.roles.fields.values())
        lines = text.removesuffix(b"\n").count(b"\n") + 1
        types = dict(zip(columns, (pa.string(), pa.string(), pa.float64()), strict=False))
        parse = arrow_json.ParseOptions(
            explicit_schema=pa.schema(types), unexpected_field_behavior="ignore"
        )
        read = arrow_json.ReadOptions(block_size=len(text) + 1, use_threads=False)
        try:
            text.decode()
            source = pa.BufferReader(text)
            parsed = arrow_json.read_json(source, read_options=read, parse_options=parse)
        except (pa.ArrowInvalid, UnicodeError):
            return None  # reading the lines one by one raises the error
        table = id_table(*(parsed[name].combine_chunks() for name in columns))
        value = table["value"]
        # Arrow skips empty lines, and an object may go on in the next line.
        if len(value) != lines or value.null_count or faulty_rows(table).any():
            return None
        # Arrow rounds larger integers, which are refused.
        if pc.max(pc.abs(value)).as_py() >= 2**53:
            return None
        return FilePart(table, lines)

    # Values

    def part_of_values(
        self, values: Sequence[tuple[int, Any]], span: int, number: int = 0, problem: str = ""
    ) -> FilePart:
        """Return the rows of values with their numbers, and the error in the next one, if any."""
        if not problem:
            number = span
        rows: list[tuple[int, Any]] = []
        queries: list[QueryDocuments] = []
        for position, value in values:
            try:
                self._refuse_other_kind(value)
                if self.records is None:
                    queries += self._queries(position, value)
                else:
                    for row in self._rows(value, self.records):
                        rows.append((position, row))
            except ValueError as error:
                problem, number = _without_position(error), position
                break
        if self.records is None:
            part = part_of_queries(queries, span, self.names, number, problem)
            return self._described(part)
        cells = self.records.rows([row for _, row in rows])
        if self.kind == "responses":
            cells = {"query": list(values[0][1]), **cells}
        numbers = [position for position, _ in rows]
        part = part_of_cells(cells, [*numbers, number], span, self.names)
        if not part.problem:
            part = part._replace(problem=problem)
        return self._described(part)

    def _rows(self, value: Any, records: ObjectReader) -> Iterator[Any]:
        """Yield the rows in an object, or in all objects by their queries."""
        if self.kind == "responses":
            yield from records.within(list(value.values()))
            return
        for row in records.within([value]):
            _check_fields(row, records)
            yield row

    def _refuse_other_kind(self, value: Any) -> None:
        """Raise an error for a value that is unlike the first ones."""
        if not isinstance(value, (dict, list)):
            raise ValueError(f"{shown_cell(value)} is neither an object nor a list")
        if not isinstance(value, CONTAINERS[self.kind]):
            words = "a list" if self.kind == "lists" else "an object"
            raise ValueError(f"{shown_cell(value)} is not {words}, as the first value is")

    def _queries(self, number: int, value: Any) -> list[QueryDocuments]:
        """Return the documents of the queries in a value, which has this number in the file."""
        if self.objects is not None:
            return self._queries_of_objects(number, value, self.objects)
        if self.rows is None:
            return _excluded(number, value)
        if self.kind != "queries":
            return [QueryDocuments(number, None, self.rows.documents(number, value))]
        queries = []
        for query, row in value.items():
            documents = self.rows.documents(query, [] if row is None else row)
            queries.append(QueryDocuments(number, query, documents))
        return queries

    def _queries_of_objects(
        self, number: int, value: Any, objects: ObjectReader
    ) -> list[QueryDocuments]:
        """Return the documents in an object, which is a query, or in objects by their queries."""
        if self.kind == "responses":
            responses = [{} if row is None else row for row in value.values()]
            by_query = objects.queries(responses, list(value))
        else:
            by_query = objects.queries([value])
        queries = [QueryDocuments(number, query, documents) for query, documents in by_query]
        if self.kind != "responses" and objects.roles.query is None:
            return [query._replace(query=None) for query in queries]
        return queries


CONTAINERS: dict[str, type] = {
    "objects": dict,
    "responses": dict,
    "queries": dict,
    "rankings": dict,
    "lists": list,
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
