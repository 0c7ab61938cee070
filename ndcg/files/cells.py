"""Read small files, such as the slices or the values of queries: a table, JSON, or lines."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from .content import delimiter_of, parse_json, utf8_text
from .detection import START, form_of


class Line(NamedTuple):
    """A line of a small file of text."""

    number: int  # from 1
    text: str
    cells: list[str]  # without the spaces around them


def read_cells(content: bytes) -> Any:
    """Return the content of a small file: a table, the value of JSON, or its lines one by one.

    JSON Lines are a list of values.

    >>> list(read_cells(b"q1, en"))
    [Line(number=1, text='q1, en', cells=['q1', 'en'])]
    """
    form = form_of(content[:START])
    if form == "json":
        return _json_or_lines(content)
    if form == "lines":
        return _lines(utf8_text(content).splitlines())
    if form == "parquet":
        from pyarrow import parquet  # only when it is needed, since the import takes long

        return parquet.read_table(pa.BufferReader(content))
    if form == "arrow":
        return pa.ipc.open_file(content).read_all()
    return pa.ipc.open_stream(content).read_all()


def _lines(lines: Sequence[str]) -> Iterator[Line]:
    """Yield the lines that are not empty, in CSV, TSV or with spaces between the cells."""
    first = next(filter(str.strip, lines), "")
    delimiter = " "
    if re.search("[\t,;]", first):
        delimiter = delimiter_of(first)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            cells = row
            if delimiter == " ":
                # Several spaces, as in aligned columns, are one delimiter.
                cells = list(filter(None, row))
            cells = list(map(str.strip, cells))
            if any(cells):
                yield Line(reader.line_num, lines[reader.line_num - 1].strip(), cells)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _json_or_lines(content: bytes) -> Any:
    """Return the value of JSON, or a list of the values of JSON Lines."""
    lines = content.splitlines()
    numbers = [number for number, line in enumerate(lines, start=1) if line.strip()]
    if len(numbers) < 2 or not _is_value(lines[numbers[0] - 1]):
        return _value(content)
    return [_value(lines[number - 1], number) for number in numbers]


def _is_value(line: bytes) -> bool:
    try:
        parse_json(line)
    except ValueError:  # the value goes on in the next lines, or is faulty
        return False
    return True


def _value(content: bytes, line: int | None = None) -> Any:
    """Return the value of JSON; an error names the line, which is given for JSON Lines."""
    try:
        return parse_json(content)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {line or error.lineno}: not JSON: {error.msg}") from None
