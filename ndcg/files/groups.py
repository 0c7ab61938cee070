"""Read the slices of queries, such as their languages, from a file or from a column of qrels."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from ..inputs.fields import QUERY, spelled
from ..measure.messages import brief, shown
from .cells import Line, read_cells
from .content import NO_LIMITS, Limits, columns_text, naming_file, read_content

STANDARD_INPUT = "/dev/stdin"


def path_of(file: str) -> str:
    """Return the path of a file; - is standard input."""
    return STANDARD_INPUT if file == "-" else os.path.expanduser(file)


def file_and_column(by: str) -> tuple[str | None, str | None]:
    """Return the file and the column that `by` names: FILE, FILE:COLUMN, or a column of the qrels.

    >>> file_and_column("-"), file_and_column("-:language"), file_and_column("language")
    (('-', None), ('-', 'language'), (None, 'language'))
    """
    if _is_file(by):
        return by, None
    file, _, column = by.rpartition(":")
    if _is_file(file):
        return file, column
    return None, by


def _is_file(name: str) -> bool:
    """Return whether there is such a file, which may be a pipe."""
    path = path_of(name)
    return os.path.exists(path) and not os.path.isdir(path)


def read_groups(
    by: str,
    qrels: str | os.PathLike[str] | None = None,
    query: str | None = None,
    limits: Limits = NO_LIMITS,
) -> dict[str, Any]:
    """Return the slices of queries by their ids; None for an empty cell.

    They are in a file of queries and their slices (CSV, TSV, two columns with spaces, JSON, JSON
    Lines, Parquet, Arrow), in FILE:COLUMN for one of several columns, or in a column of the qrels.
    """
    file, column = file_and_column(by)
    path = file or qrels
    if path is None:
        raise ValueError(
            f"{shown(by)} names no file; if it names a column, give its DataFrame as data"
        )
    path = os.fsdecode(path)
    names = [*filter(None, [query]), *QUERY[0], *QUERY[1]]
    with naming_file(path):
        content = _table_or_mapping(read_cells(read_content(path_of(path), limits)), names)
        limits.check("rows", len(content))
        if isinstance(content, pa.Table):
            limits.check("columns", content.num_columns)
            return _slice_by_query(*_chosen(content, names, column, by))
        if column is not None:
            problem = f"maps queries to values, so it has no column {shown(column)}"
            raise ValueError(f"{problem}; give a file of slices")
        return dict(content)


def _table_or_mapping(content: Any, names: Sequence[str]) -> "pa.Table | dict[str, Any]":
    """Return lines and records of a file as a table; a table, or a mapping, as it is."""
    if isinstance(content, Iterator):
        return _table_of_lines(content, names)
    if not isinstance(content, list):
        return content
    if set(map(type, content)) <= {dict}:
        return pa.Table.from_pylist(content)
    return pa.table({})  # other values have no columns, and so none of queries


def _chosen(
    table: pa.Table, names: Sequence[str], column: str | None, by: str
) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return the columns of queries and of slices; `column` names one of several."""
    queries = next(iter(spelled(table.column_names, names)), None)
    if queries is None:
        raise ValueError(f"has no column of queries; name it {names[0]}")
    others = [name for name in table.column_names if name != queries]
    if column is None and len(others) == 1:
        column = others[0]
    if column not in others:
        has = f"has the columns {brief(map(shown, table.column_names), ', ')}"
        raise ValueError(f"{has}; choose the one of slices, FILE:COLUMN; got {shown(by)}")
    return table[queries].cast(pa.string()), table[column]


def _slice_by_query(queries: pa.ChunkedArray, values: pa.ChunkedArray) -> dict[str, Any]:
    """Return the slices of queries, from rows in which queries may repeat."""
    slices: dict[str, Any] = {}
    rows = zip(queries.to_pylist(), values.to_pylist(), strict=True)
    for row, (query, value) in enumerate(rows):
        before = slices.setdefault(query, value)
        if before != value:
            both = f"is in slice {shown(value)}, but in {shown(before)} before"
            problem = f"row {row} (from 0): query {shown(query)} {both}"
            raise ValueError(f"{problem}; give each query one slice")
    return slices


def _table_of_lines(lines: Iterator[Line], queries: Sequence[str]) -> pa.Table:
    """Return the cells of lines as a table; lines of two cells need no header."""
    first = next(lines, None)
    if first is None:
        raise ValueError("holds no slices")
    rows, header = [first.cells], [queries[0], "slice"]
    if spelled(first.cells, queries) or len(first.cells) != 2:
        rows, header = [], first.cells
    for line in lines:
        if len(line.cells) != len(header):
            problem = f"{columns_text(len(line.cells))}; the first line has {len(header)}"
            raise ValueError(f"line {line.number}: {problem}")
        rows.append(line.cells)
    columns = [[row[position] for row in rows] for position in range(len(header))]
    return pa.table(list(map(_typed, columns)), header)


def _typed(cells: Sequence[str]) -> pa.Array:
    """Return cells as integers if all are written as such, else as text; an empty cell is null.

    Slices are so in the order of their numbers.
    """
    text = pa.array([cell or None for cell in cells], pa.string())
    with suppress(pa.ArrowInvalid):
        numbers = text.cast(pa.int64())
        if numbers.cast(pa.string()).equals(text):  # no cell such as 007
            return numbers
    return text
