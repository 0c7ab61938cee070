"""Read the slice of each query, such as its language, from a file of queries or from a column of the qrels."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ..inputs.fields import QUERY, spelled
from ..measure.messages import brief, shown
from .cells import Line, read_cells
from .content import NO_LIMITS, Limits, naming_file, read_content

STANDARD_INPUT = "/dev/stdin"


def path_of(file: str) -> str:
    """Return the path of a file; - is standard input."""
    return STANDARD_INPUT if file == "-" else os.path.expanduser(file)


def file_and_column(by: str) -> tuple[str | None, str | None]:
    """Return the file and the column that `by` names: a file, FILE:COLUMN, or a column of the qrels.

    >>> file_and_column("-"), file_and_column("-:language"), file_and_column("language")
    (('-', None), ('-', 'language'), (None, 'language'))
    """

    def is_file(path: str) -> bool:
        return path == "-" or (os.path.exists(path_of(path)) and not os.path.isdir(path_of(path)))

    file, _, column = by.rpartition(":")
    if is_file(by):
        return by, None
    return (file, column) if column and is_file(file) else (None, by)


def read_groups(
    by: str,
    qrels: str | os.PathLike[str] | None = None,
    query: str | None = None,
    limits: Limits = NO_LIMITS,
) -> dict[str, Any]:
    """Return the slice of each query, by its id; None for an empty cell.

    They are in a file of queries and their slices (CSV, TSV, two columns with spaces, JSON, JSON Lines, Parquet,
    Arrow), in FILE:COLUMN for one of several columns, or in a column of the qrels.
    """
    file, column = file_and_column(by)
    if file is None and qrels is None:
        raise ValueError(
            f"{shown(by)} names no file; if it names a column, give its DataFrame as data"
        )
    known = (*QUERY[0], *QUERY[1])
    names = known if query is None else (query, *(known if file is not None else ()))
    path = os.fsdecode(file or qrels or "")
    with naming_file(path):
        found = read_cells(read_content(path_of(path), limits))
        if isinstance(found, Iterator):
            found = _table_of_lines(found, names)
        elif isinstance(found, list):
            found = pa.Table.from_pylist(
                found if all(isinstance(each, dict) for each in found) else []
            )
        limits.check("rows", len(found))
        if isinstance(found, pa.Table):
            limits.check("columns", found.num_columns)
            return _one_each(*_chosen(found, names, column, file, by))
        if file is None:
            raise ValueError(f"has no columns, and there is no file {shown(by)}")
        if column is not None:
            raise ValueError(
                f"maps queries to slices, so it has no column {shown(column)}; give {file}"
            )
        return dict(found)


def _chosen(
    table: pa.Table, names: Sequence[str], column: str | None, file: str | None, by: str
) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return the columns of queries and of slices; a column is chosen by its name if there are several."""
    own = next(iter(spelled(table.column_names, names)), None)
    others = [name for name in table.column_names if name != own]
    if own is None:
        problem = "" if file else f", and there is no file {shown(by)}"
        raise ValueError(f"has no column of queries{problem}; name it {names[0]}")
    has = f"has the columns {brief(map(shown, table.column_names), ', ')}"
    if column is None and len(others) != 1:
        raise ValueError(
            f"{has}; choose the one of slices, such as {file}:{others[0] if others else 'language'}"
        )
    column = column or next(iter(others), "")
    if column not in others:
        problem = (
            f"but not {shown(column)}"
            if file
            else f"but not {shown(by)}, and there is no such file"
        )
        raise ValueError(f"{has}, {problem}")
    return table[own].cast(pa.string()), table[column]


def _one_each(queries: pa.ChunkedArray, values: pa.ChunkedArray) -> dict[str, Any]:
    """Return the slice of each query, from rows in which queries may repeat."""
    slices: dict[str, Any] = {}
    for row, (query, value) in enumerate(zip(queries.to_pylist(), values.to_pylist(), strict=True)):
        if slices.setdefault(query, value) != value:
            problem = f"query {shown(query)} is in slice {shown(value)}, but in {shown(slices[query])} before"
            raise ValueError(f"row {row} (from 0): {problem}; give each query one slice")
    return slices


def _table_of_lines(lines: Iterator[Line], queries: Sequence[str]) -> pa.Table:
    """Return the cells of lines, in which an empty cell is null; lines of two cells need no header."""
    rows: list[list[str]] = []
    for line in lines:
        if rows and len(line.cells) != len(rows[0]):
            raise ValueError(
                f"line {line.number}: {_columns(len(line.cells))}; the first line has {len(rows[0])}"
            )
        rows.append(line.cells)
    if not rows:
        raise ValueError("holds no slices")
    header, width = rows[0], len(rows[0])
    if spelled(header, queries):
        rows = rows[1:]
    elif width == 2:
        header = [queries[0], "slice"]
    else:
        hint = f"give a query and its slice, or name the columns, such as {queries[0]}"
        raise ValueError(f"line 1: {_columns(width)}, none of which is called a query; {hint}")
    columns = list(zip(*rows, strict=True)) or [()] * width
    return pa.table(
        [_whole(pa.array([cell or None for cell in cells], pa.string())) for cells in columns],
        header,
    )


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def _whole(cells: pa.StringArray) -> pa.Array:
    """Return cells of text as integers if each is written as one, so that slices are in the order of their numbers."""
    try:
        numbers = cells.cast(pa.int64())
        return numbers if numbers.cast(pa.string()).equals(cells) else cells
    except pa.ArrowInvalid:
        return cells
