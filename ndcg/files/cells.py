"""Read small files, such as the slices or the values of queries: a table, JSON, or lines."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from .content import DECODER, NO_LIMITS, delimiter_of, utf8_text
from .detection import START, form_of
from .tables import table_in

NOT_BLANK = re.compile(r"\S")


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
        return _values(utf8_text(content))
    if form == "lines":
        return _lines(utf8_text(content).splitlines())
    source = table_in(form, pa.BufferReader(content), NO_LIMITS)
    return pa.Table.from_batches(source.batches(None), source.schema)


def _lines(lines: Sequence[str]) -> Iterator[Line]:
    """Yield the lines that are not empty, in CSV, TSV or with spaces between the cells."""
    first = next(filter(str.strip, lines), "")
    delimiter = " "
    if re.search("[\t,;]", first):
        delimiter = delimiter_of(first)
    # Several spaces, as in aligned columns, are one delimiter.
    stripped = (line.strip(" ") for line in lines)
    reader = csv.reader(stripped, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            cells = list(map(str.strip, row))
            if any(cells):
                yield Line(reader.line_num, lines[reader.line_num - 1].strip(), cells)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _values(text: str) -> Any:
    """Return the value of JSON, or a list of the values of JSON Lines."""
    values = []
    end = 0
    while start := NOT_BLANK.search(text, end):
        try:
            value, end = DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            raise ValueError(f"line {error.lineno}: not JSON: {error.msg}") from None
        values.append(value)
    return values[0] if len(values) == 1 else values
