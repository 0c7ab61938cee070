"""The rows of a file in parts: tables of a query, a document and a value, and what is wrong."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inputs.columns import as_number, whole_or_float
from ..inputs.fields import DECIMAL_COMMA, VALUE, Names
from ..inputs.ids import NO_ID, SURROGATE, id_kind
from ..measure.labels import Labels, instead_of_text
from .content import Limits, shown_cell

TYPE_OF_QUERY = pa.dictionary(pa.int32(), pa.string())
ROWS = pa.schema({"query": TYPE_OF_QUERY, "document": pa.string(), "value": pa.float64()})
NO_NUMBER = float("nan")  # in place of a value that is refused


class ReadRequest(NamedTuple):
    """How to read a file."""

    names: Names  # the kind of file, and the names that its columns and fields may have
    limits: Limits  # how much the file may contain
    format: str | None = None  # the format, if it is given; else the file tells


class FilePart(NamedTuple):
    """Consecutive rows of a file."""

    table: pa.Table  # the columns query, document and value
    span: int  # the number of lines, rows or records of the file in this part
    # the number of every row among these, and of the next one; None if every line is a row
    numbers: NDArray[np.int64] | None = None
    problem: str = ""  # the error in the row after these; empty if there is none
    notice: str = ""  # what a warning says about these rows; empty if there is none
    # the queries whose documents are in one list, with their numbers: no other list may be of the
    # same query
    lists: Sequence[tuple[str, int]] = ()
    # the ids that the file lacks, "query" or "document", which are numbers from 0 in this part
    counted: str = ""
    total: int = 0  # how many lines, or queries with lists, there are, whose ids may be numbers
    form: str = ""  # what held the rows
    fields: Mapping[str, str] = {}  # the fields by role
    others: Sequence[str] = ()  # the fields that are not read
    has_values: bool = True  # whether documents have values
    has_ranks: bool = False  # whether scores were held against ranks beside them


def parts_in_threads(
    pool: ThreadPoolExecutor, work: Callable[[bytes], FilePart], chunks: Iterable[bytes]
) -> Iterator[FilePart]:
    """Yield the results of a function for chunks, in order, computed a few chunks ahead."""
    waiting: deque[Future[FilePart]] = deque()
    for chunk in chunks:
        waiting.append(pool.submit(work, chunk))
        if len(waiting) > pa.cpu_count():
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


# Tables of rows


def id_table(query: pa.Array, document: pa.Array, value: pa.Array | None = None) -> pa.Table:
    """Return rows as a table, with the value 1 if there are no values."""
    values = np.ones(len(query)) if value is None else value
    return pa.table([query.cast(TYPE_OF_QUERY), document, values], schema=ROWS)


def faulty_rows(table: pa.Table) -> NDArray[np.bool_]:
    """Return a mask of rows without an id, or with a value that is no finite number.

    A null is a missing value.
    """
    value = table["value"]
    if value.null_count:
        value = value.fill_null(0)
    faults: NDArray[np.bool_] = ~np.isfinite(value.to_numpy())
    for ids in (table["query"].cast(pa.string()), table["document"]):
        faults |= pc.equal(pc.fill_null(pc.binary_length(ids), 0), 0).to_numpy()
    return faults


def checked_part(
    part: FilePart, cells_of: Callable[[int], Sequence[Any]], names: Names, seen: Iterable[Any]
) -> FilePart:
    """Return the rows before the first faulty one, and the error in that row's cells."""
    faults = faulty_rows(part.table)
    if not faults.any():
        return part
    row = int(faults.argmax())
    problem = problem_in(cells_of(row), names, seen)
    return part._replace(table=part.table[:row], problem=problem)


def problem_in(cells: Sequence[Any], names: Names, seen: Iterable[Any]) -> str:
    """Return the error in the cells of a row, among the values seen."""
    query, document, value = (*cells, None)[:3]
    for name, cell in (("query", query), ("document", document)):
        if cell in (None, ""):
            return f"has no {name}; give each row its id"
        if not is_id(cell):
            return f"the {name} {shown_cell(cell)} {NO_ID}"
    place = f"document {shown_cell(document)} of query {shown_cell(query)}"
    fault = fault_of(value, names.kind, names.labels, seen)
    return f"the {VALUE[names.kind]} {shown_cell(value)} of {place} {fault}"


def fault_of(value: Any, kind: str, labels: Labels | None, seen: Iterable[Any]) -> str:
    """Return why a value is refused; for text in place of a relevance, also what to write."""
    if isinstance(value, (int, float)):
        if value - value != 0:  # inf and nan, but no integer, however large
            return "is not finite"
        return "has more digits than float64 holds"
    if not isinstance(value, str):
        return "is not a number"
    if DECIMAL_COMMA.fullmatch(value):
        return "has a comma; write a point for decimals, and no mark between thousands"
    if kind != "qrels":
        return "is not a number"
    if labels is not None:
        return labels.unknown(value, seen)
    return f"is not a number; {instead_of_text(value, seen)}"


# Rows of objects


class QueryDocuments(NamedTuple):
    """The documents of a query, in a line or a record of a file."""

    number: int  # of the line or record
    query: Any  # its id; None if it has none
    documents: Mapping[Any, Any]  # the values of the documents by their ids
    are_listed: bool = True  # whether the query may have no other list of documents


def part_of_queries(
    queries: Sequence[QueryDocuments], span: int, names: Names, next_number: int, problem: str = ""
) -> FilePart:
    """Return the documents of queries as rows, and the error in the line of the next number."""
    ids: list[Any] = []
    lists: list[tuple[str, int]] = []
    documents: list[Any] = []
    values: list[Any] = []
    for item in queries:
        ids.append(item.query)
        documents.extend(item.documents)
        values.extend(item.documents.values())
        if item.are_listed:
            lists.append((str(item.query), item.number))
    counted = ""
    if None in ids:
        ids = list(range(len(queries)))
        lists = []
        counted = "query"
    if names.labels is not None:
        values = names.labels.numbers(values)
    rows = np.repeat(np.arange(len(queries)), [len(item.documents) for item in queries])
    numbers = np.array([item.number for item in queries], np.int64)[rows]
    # Ids are made text once for every query, and not for every document.
    texts = pc.dictionary_encode(texts_of_ids(ids))
    query = pa.DictionaryArray.from_arrays(texts.indices.take(pa.array(rows)), texts.dictionary)
    part = FilePart(
        id_table(query, texts_of_ids(documents), floats(values)),
        span,
        np.append(numbers, next_number),
        problem,
        lists=lists,
        counted=counted,
        total=len(queries),
    )
    return checked_part(
        part, lambda row: (ids[rows[row]], documents[row], values[row]), names, values
    )


def part_of_cells(
    cells: Mapping[str, Sequence[Any]], numbers: Sequence[int], span: int, names: Names
) -> FilePart:
    """Return rows of one document, from their columns by role."""
    query, document = cells["query"], cells["document"]
    values = list(map(as_number, cells.get(names.value, [1.0] * len(query))))
    if names.labels is not None:
        values = names.labels.numbers(values)
    table = id_table(
        texts_of_ids(query).dictionary_encode(), texts_of_ids(document), floats(values)
    )
    part = FilePart(table, span, np.array(numbers, np.int64))
    return checked_part(part, lambda row: (query[row], document[row], values[row]), names, values)


def texts_of_ids(ids: Sequence[Any]) -> pa.StringArray:
    """Return ids as text, null for what is neither text nor an integer."""
    if set(map(type, ids)) <= {str}:
        with suppress(UnicodeEncodeError):  # one has the replacement of bytes that are not UTF-8
            return pa.array(ids, pa.string())
    return pa.array([str(value) if is_id(value) else None for value in ids], pa.string())


def is_id(value: Any) -> bool:
    """Return whether a value of JSON may be an id."""
    if isinstance(value, str):
        return SURROGATE.search(value) is None
    return bool(id_kind(type(value)))


def floats(values: Sequence[Any]) -> pa.DoubleArray:
    """Return numbers, null for None, and nan for what is refused: also what float64 would round."""
    if set(map(type, values)) <= {float, type(None)}:
        return pa.array(values, pa.float64())
    return pa.array([None if value is None else _float(value) for value in values], pa.float64())


def _float(value: Any) -> float:
    """Return a number as a float; nan for other values and for an integer that would be rounded."""
    if isinstance(value, Decimal):
        value = whole_or_float(value)
    if not isinstance(value, (int, float)):
        return NO_NUMBER
    with suppress(OverflowError):  # of an integer that no float holds
        if float(value) == value:
            return float(value)
    return NO_NUMBER


def numerals(cells: pa.Array, labels: Labels | None) -> pa.Array:
    """Return text with the numbers of labels in their place, and numbers as Python's."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    packed = cells.dictionary_encode()
    texts = packed.dictionary.to_pylist()
    numbers = (labels or Labels(())).numbers(texts)
    written = [None if number is None else str(number) for number in numbers]
    return pa.array(written, pa.string()).take(packed.indices)
