"""`--by`: the slice of each query, from a file of its own or from a column of the qrels."""

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..files.content import (
    BYTE_ORDER_MARK,
    NO_LIMITS,
    check_encoding,
    delimiter_of,
    parse_json,
    read_content,
    unpacked_stream,
)
from ..inputs.tables import NAMES, plain_name
from ..measure.messages import in_short, shown

STANDARD_INPUT = "/dev/stdin"
TABLES = {"jsonl": "json", "ndjson": "json", "json": "json", "parquet": "parquet", "arrow": "arrow", "feather": "arrow"}


def path_of(file: str) -> str:
    """Return the path of a file; - is standard input."""
    return STANDARD_INPUT if file == "-" else file


def file_and_column(by: str) -> tuple[str | None, str | None]:
    """Return the file and the column that `--by` names: a file, FILE:COLUMN, or a column of the qrels.

    >>> file_and_column("-"), file_and_column("-:language"), file_and_column("language")
    (('-', None), ('-', 'language'), (None, 'language'))
    """

    def is_file(path: str) -> bool:
        return path == "-" or (os.path.exists(path) and not os.path.isdir(path))

    file, _, column = by.rpartition(":")
    if is_file(by):
        return by, None
    return (file, column) if column and is_file(file) else (None, by)


def read_groups(by: str, qrels: str, query: str | None) -> dict[str, Any]:
    """Return the slice of each query, by its id.

    Args:
        by: a file of queries and their slices, FILE:COLUMN for a column of one, or a column of the qrels.
        qrels: the file of the qrels.
        query: the name of the query-id column, if it is not a known one.

    Raises:
        ValueError: no such file or column, a line with other columns than the first, a query with two slices.
        OSError: the file cannot be read.
    """
    file, column = file_and_column(by)
    known = NAMES["qrels"]["query"]
    if file is not None:
        names = known if query is None else (plain_name(query), *known)
        return _one_each(file, _from_file(file, column, names))
    names = known if query is None else (plain_name(query),)
    return _one_each(qrels, _from_table(qrels, column, names, f"--by {by}: neither a file nor a column of {qrels}"))


def _one_each(file: str, places: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    """Return the slice of each query, from places that have a query and its slice."""
    slices: dict[str, Any] = {}
    for place, query, value in places:
        if slices.setdefault(query, value) != value:
            problem = f"query {shown(query)} is in slice {shown(value)}, but in {shown(slices[query])} before"
            raise ValueError(f"{file}: {place}: {problem}; give each query one slice")
    return slices


def _from_file(file: str, column: str | None, names: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield places, queries and slices of a table, a JSON mapping, or lines of cells.

    Args:
        file: its path.
        column: the name of the column of slices; None if it is the only one next to the queries.
        names: the names that the column of queries may have.
    """
    if (form := _form(file)) in TABLES and (column is not None or form != "json"):
        yield from _from_table(file, column, names, f"--by {file}:{column}: not a column of {file}")
        return
    content = _mapping_or_text(file)
    if isinstance(content, dict):
        if column is not None:
            raise ValueError(f"--by {file}:{column}: {file} maps queries to slices; give --by {file}")
        yield from (("", query, value) for query, value in content.items())
        return
    first = content.partition("\n")[0]
    delimiter = delimiter_of(first) if any(each in first for each in "\t,;") else " "
    reader = csv.reader(content.splitlines(), delimiter=delimiter, skipinitialspace=True)
    chosen = None
    try:
        for row in reader:
            cells = list(map(str.strip, row))
            if not cells:
                continue
            place = f"line {reader.line_num}"
            if chosen is None:
                chosen, is_header, width = *_chosen(file, cells, column, names), len(cells)
                if is_header:
                    continue
            if len(cells) != width:
                problem = "give a query and its slice" if width == 2 else f"the first line has {width}"
                raise ValueError(f"{file}: {place}: {_columns(len(cells))}; {problem}")
            query, value = (cells[at] for at in chosen)
            yield place, query, value or None
    except csv.Error as error:
        raise ValueError(f"{file}: line {reader.line_num}: {error}") from None


def _chosen(file: str, first: Sequence[str], column: str | None, names: Sequence[str]) -> tuple[tuple[int, int], bool]:
    """Return the positions of query and slice in a row, from the first row, and whether that is a header.

    Raises:
        ValueError: there is no header, or no such column; or there are several columns and none is chosen.
    """
    known = list(map(plain_name, first))
    query = next((known.index(name) for name in names if name in known), None)
    if column is None and len(first) == 2:
        return (0, 1), query == 0
    there = ", ".join(map(shown, first))
    if column is None and len(first) < 2:
        raise ValueError(f"{file}: line 1: {_columns(len(first))}; give a query and its slice")
    if query is None:
        problem = f"has no header with a column of queries: line 1 is {there}"
        raise ValueError(f"{file}: {problem}; name the columns there, such as {names[0]}")
    if column is None:
        example = next(name for at, name in enumerate(first) if at != query)
        raise ValueError(f"{file}: has the columns {there}; choose the one of slices, such as --by {file}:{example}")
    if column not in first:
        raise ValueError(f"--by {file}:{column}: not a column of {file}, which has {there}")
    return (query, first.index(column)), True


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def _mapping_or_text(file: str) -> dict[str, Any] | str:
    """Return the content of a file or a pipe: a JSON object, or a string.

    Raises:
        ValueError: it is neither.
        OSError: it cannot be read.
    """
    content = read_content(path_of(file))
    try:
        check_encoding(content[:4])
        if content.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{"):
            mapping: dict[str, Any] = parse_json(content)
            return mapping
        return content.decode("utf-8-sig")
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}: not JSON: {error.msg}"
    except UnicodeDecodeError:
        problem = "is not text in UTF-8; save the file in UTF-8"
    except ValueError as error:
        problem = str(error)
    raise ValueError(f"{file}: {problem}")


def _from_table(file: str, column: str | None, names: Sequence[str], problem: str) -> Iterator[tuple[str, str, Any]]:
    """Yield places, queries and slices of a table.

    Args:
        file: its path.
        column: the name of the column of slices; None if it is the only one next to the queries.
        names: the names that the column of queries may have.
        problem: the beginning of the error if a column is missing; the names of the columns follow.
    """
    table = _table(file, names)
    query = next((each for name in names for each in table.column_names if plain_name(each) == name), None)
    there = ", ".join(map(repr, table.column_names)) or "none"
    if query is not None and column is None:
        others = [name for name in table.column_names if name != query]
        if len(others) != 1:
            raise ValueError(f"{file}: has the columns {there}; choose the one of slices, such as --by {file}:language")
        column = others[0]
    if query is None or column not in table.column_names:
        raise ValueError(f"{problem}, which has {there if query else 'none'}")
    pairs = zip(table[query].cast(pa.string()).to_pylist(), table[column].to_pylist(), strict=True)
    yield from ((f"row {row} (from 0)", *pair) for row, pair in enumerate(pairs))


def _form(file: str) -> str:
    """Return the ending of a file's name without the ending of its compression."""
    return re.sub(r"\.(gz|zst)$", "", file.lower()).rpartition(".")[2]


def _table(file: str, queries: Sequence[str]) -> pa.Table:
    """Return a table of CSV, TSV, JSON, JSONL, Parquet or Arrow, by the file's name; other files have no columns.

    Raises:
        ValueError: the file cannot be read.
    """
    from pyarrow import dataset

    form = _form(file)
    try:
        if form in ("csv", "tsv"):
            return _delimited(file, queries)
        if form in TABLES:
            return dataset.dataset(file, format=TABLES[form]).to_table()
        return pa.table({})
    except pa.ArrowException as error:
        problem = in_short(error)
    if TABLES.get(form) == "json":  # one value, not a record per line
        with suppress(ValueError, TypeError, OverflowError):  # Arrow's errors too
            records = parse_json(read_content(file))
            return pa.Table.from_pylist(records) if isinstance(records, list) else pa.table({})
    raise ValueError(f"{file}: cannot be read as a table of {form}: {problem}")


def _delimited(file: str, queries: Sequence[str]) -> pa.Table:
    """Return a table of CSV or TSV without the spaces around cells; query ids remain strings."""
    from pyarrow import csv as arrow_csv
    from pyarrow import dataset

    with open(file, "rb") as content:
        start = unpacked_stream(content, NO_LIMITS)[0].peek(1 << 16)
    delimiter = delimiter_of(start.decode("utf-8", "replace").partition("\n")[0])
    parse = arrow_csv.ParseOptions(delimiter=delimiter)
    names = dataset.dataset(file, format=dataset.CsvFileFormat(parse)).schema.names
    ids = [name for name in names if plain_name(name) in queries]
    text = arrow_csv.ConvertOptions(column_types=dict.fromkeys(ids, pa.string()))
    table = dataset.dataset(file, format=dataset.CsvFileFormat(parse, convert_options=text)).to_table()
    cells = [pc.utf8_trim_whitespace(each) if pa.types.is_string(each.type) else each for each in table.columns]
    return pa.table(cells, [name.strip() for name in names])
