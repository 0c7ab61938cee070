"""Tell the form of a file from its first bytes, and read files that are small, such as the slice of each query."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from .content import BYTE_ORDER_MARK, check_encoding, delimiter_of, parse_json, utf8_text

START = 1 << 12  # bytes that tell the form
TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "stream"}
OTHER_FILES = {  # files of other kinds, by the bytes that they begin with, and what to do with them
    rb"(?!\0{3})(?s:.){3}\0{5}": "is a TFRecord file; read it by TensorFlow, and give the arrays that it holds",
    rb"PK\x03\x04": "is a ZIP archive or an Excel workbook; give the file that is in it, or save the sheet as CSV",
    rb"\xd0\xcf\x11\xe0": "is an Excel workbook; save the sheet as CSV",
    rb"SQLite format 3\0": "is a SQLite database; give the rows of a query, such as pandas.read_sql(query, connection)",
    rb"\x93NUMPY": "is a NumPy array; give numpy.load(path)",
    rb"\x80[\x02-\x05]": "is a pickle; load it, and give what it holds",
    rb"Obj\x01": "is an Avro file; save it as Parquet, or give its records",
    rb"\x89HDF": "is an HDF5 file; give the DataFrame or the arrays that it holds",
    rb"ORC(?s:.){0,4}[\0-\x08]": "is an ORC file; save it as Parquet, or give pyarrow.orc.read_table(path)",
}


class Line(NamedTuple):
    """A line of a small file of text."""

    number: int  # from 1
    text: str
    cells: list[str]  # without the spaces around them


def form_of(start: bytes) -> str:
    """Return the form of a file that begins with these bytes: one of `TABLES`, "json" or "lines".

    >>> form_of(b"PAR1"), form_of(b' {"q1": {'), form_of(b"q1 Q0 d1 1 0.5 tag")
    ('parquet', 'json', 'lines')
    """
    for mark, form in TABLES.items():
        if start.startswith(mark):
            return form
    for beginning, problem in OTHER_FILES.items():
        if re.match(beginning, start):
            raise ValueError(problem)
    text = start.removeprefix(BYTE_ORDER_MARK)
    check_encoding(text)
    return "json" if text.lstrip()[:1] in (b"{", b"[") else "lines"


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
    lines = [(number, line) for number, line in enumerate(content.splitlines(), start=1) if line.strip()]
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
