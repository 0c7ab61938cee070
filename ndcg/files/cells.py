"""Read small files, such as the slice or the value of each query: a table, JSON, or lines."""

import csv
import json
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
    """Return the content of a small file: a table, the parsed JSON (a list for JSON Lines), or its lines one by one.

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
    return (pa.ipc.open_file if form == "arrow" else pa.ipc.open_stream)(content).read_all()


def _lines(lines: Sequence[str]) -> Iterator[Line]:
    """Yield the lines that are not empty, in CSV, TSV or with spaces between the cells."""
    first = next(filter(str.strip, lines), "")
    delimiter = delimiter_of(first) if any(each in first for each in "\t,;") else " "
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row if cell or delimiter != " "]
            if any(cells):
                yield Line(reader.line_num, lines[reader.line_num - 1].strip(), cells)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _json_or_lines(content: bytes) -> Any:
    """Return the value of JSON, or a list with those of JSON Lines; an error names the line."""
    lines = [
        (number, line) for number, line in enumerate(content.splitlines(), start=1) if line.strip()
    ]
    try:
        are_values = len(lines) > 1 and parse_json(lines[0][1]) is not None
    except ValueError:  # the value goes on in the next lines, or is faulty
        are_values = False
    values = []
    for number, text in lines if are_values else [(0, content)]:
        try:
            values.append(parse_json(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number or error.lineno}: not JSON: {error.msg}") from None
    return values if are_values else values[0]
