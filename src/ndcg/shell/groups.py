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

from ..inputs.file_content import BYTE_ORDER_MARK, NAMES, check_encoding, parse_json, plain_name, read_content
from ..measure.messages import in_short, shown

STANDARD_INPUT = "/dev/stdin"
DELIMITERS = {"csv": ",", "tsv": "\t"}
TABLES = {"jsonl": "json", "ndjson": "json", "json": "json", "parquet": "parquet", "arrow": "arrow", "feather": "arrow"}


def path_of(file: str) -> str:
    """Return the path of a file; - is standard input."""
    return STANDARD_INPUT if file == "-" else file


def read_groups(by: str, qrels: str, query: str | None) -> dict[str, Any]:
    """Return the slice of each query, by its id.

    Args:
        by: a file of queries and their slices, or a column of the qrels.
        qrels: the file of the qrels.
        query: the name of their column of queries, if it has one of its own.

    Raises:
        ValueError: no such file or column, a line that has not two columns, a query with two slices.
        OSError: the file cannot be read.
    """
    if by == "-" or (os.path.exists(by) and not os.path.isdir(by)):
        return _one_each(by, _from_file(by))
    return _one_each(qrels, _from_column(by, qrels, NAMES["qrels"]["query"] if query is None else (query,)))


def _one_each(file: str, places: Iterable[tuple[str, str, Any]]) -> dict[str, Any]:
    """Return the slice of each query, from places that have a query and its slice."""
    slices: dict[str, Any] = {}
    for place, query, value in places:
        if slices.setdefault(query, value) != value:
            problem = f"query {shown(query)} is in slice {shown(value)}, but in {shown(slices[query])} before"
            raise ValueError(f"{file}: {place}: {problem}; give each query one slice")
    return slices


def _from_file(file: str) -> Iterator[tuple[str, str, Any]]:
    """Yield places, queries and slices of a JSON mapping, or of lines that a tab, comma or space splits in two."""
    content = _mapping_or_text(file)
    if isinstance(content, dict):
        yield from (("", query, value) for query, value in content.items())
        return
    first = content.partition("\n")[0]
    delimiter = next((each for each in "\t," if each in first), " ")
    reader = csv.reader(content.splitlines(), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            place = f"line {reader.line_num}"
            if len(row) != 2 and row:
                raise ValueError(f"{file}: {place}: {len(row)} columns; give a query and its slice")
            query, value = map(str.strip, row or ("", ""))
            is_header = reader.line_num == 1 and plain_name(query) in NAMES["qrels"]["query"]
            if row and not is_header:
                yield place, query, value or None
    except csv.Error as error:
        raise ValueError(f"{file}: line {reader.line_num}: {error}") from None


def _mapping_or_text(file: str) -> dict[str, Any] | str:
    """Return the content of a file or a pipe: a JSON object, or text.

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


def _from_column(by: str, qrels: str, names: Sequence[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield places, queries and slices of the qrels, with the possible names of their column of queries."""
    names = tuple(map(plain_name, names))
    table = _table(qrels, names)
    query = next((each for name in names for each in table.column_names if plain_name(each) == name), None)
    if query is None or by not in table.column_names:
        columns = ", ".join(map(repr, table.column_names)) if query else "none"
        raise ValueError(f"--by {by}: neither a file nor a column of {qrels}, which has {columns}")
    pairs = zip(table[query].cast(pa.string()).to_pylist(), table[by].to_pylist(), strict=True)
    yield from ((f"row {row} (from 0)", *pair) for row, pair in enumerate(pairs))


def _table(file: str, queries: Sequence[str]) -> pa.Table:
    """Return a table of CSV, TSV, JSON, JSONL, Parquet or Arrow, by the file's name; other files have no columns.

    Raises:
        ValueError: the file cannot be read.
    """
    from pyarrow import dataset

    form = re.sub(r"\.(gz|zst)$", "", file.lower()).rpartition(".")[2]
    try:
        if form in DELIMITERS:
            return _delimited(file, DELIMITERS[form], queries)
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


def _delimited(file: str, delimiter: str, queries: Sequence[str]) -> pa.Table:
    """Return a table of CSV or TSV without the spaces around cells; ids of queries stay text."""
    from pyarrow import csv as arrow_csv
    from pyarrow import dataset

    parse = arrow_csv.ParseOptions(delimiter=delimiter)
    names = dataset.dataset(file, format=dataset.CsvFileFormat(parse)).schema.names
    ids = [name for name in names if plain_name(name) in queries]
    text = arrow_csv.ConvertOptions(column_types=dict.fromkeys(ids, pa.string()))
    table = dataset.dataset(file, format=dataset.CsvFileFormat(parse, convert_options=text)).to_table()
    cells = [pc.utf8_trim_whitespace(each) if pa.types.is_string(each.type) else each for each in table.columns]
    return pa.table(cells, [name.strip() for name in names])
