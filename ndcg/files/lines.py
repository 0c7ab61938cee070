"""Read rows from lines: TREC, CSV and TSV; LETOR is in `letor`."""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from ..inputs.fields import DECIMAL_COMMA, VALUE, instead_of_relevance
from ..inputs.ids import filled_down
from ..measure.labels import Labels
from ..measure.messages import mark
from .content import (
    BYTE_ORDER_MARK,
    LINE,
    NO_TEXT,
    NOT_UTF_8,
    NUMBER,
    ByteStream,
    columns_text,
    line_chunks,
    shown_cell,
)
from .layouts import (
    LAYOUTS,
    OTHER_SIDE,
    RATINGS,
    RUN,
    Layout,
    call_of_pandas,
    cells_in,
    layout_of,
    notice_of,
)
from .parts import (
    ROWS,
    FilePart,
    ReadRequest,
    fault_of,
    id_table,
    numerals,
    parts_in_threads,
)

SAMPLE = 100  # lines
FIRST_LINE = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*+([ \t\r]*[^ \t\r\n#][^\n]*)\n?")
# A cell with the spaces around its quotes, and with its end.
CELL = r'[{1}]*+(?:("(?:[^"\n]|"")*+")[{1}]*+(?=[{0}\n]|\Z)|([^{0}\n]*+))([{0}\n]|\Z)'
EXTRA = re.compile(rb"(?m)^((?:[^ \n]+ ){5}[^ \n]+) .*$")  # the text after the tag of a run


def from_lines(
    stream: ByteStream, path: str, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return the rows of a TREC, CSV or TSV file, in the layout that its first line tells.

    A line that begins with ``#`` is a comment unless it is a row of TREC. It does not tell the
    layout, because a comment may look like a row of another one.
    """
    chunks = line_chunks(stream, LINE)
    head = b""
    first = None
    while first is None and (chunk := next(chunks, b"")):
        head += chunk
        first = FIRST_LINE.match(head)
    layout: Layout = LAYOUTS[request.names.kind][0]
    before = 1  # lines are counted from 1
    notice, has_ranks = "", False
    if first is not None:
        layout = layout_of(first[1].removesuffix(b"\r"), head[first.end() :], path, request)
        lines = head[first.start(1) :].split(b"\n", SAMPLE)[:SAMPLE]
        notice, has_ranks = notice_of(lines, layout, request)
        begin_of_rows = layout.begins_at(first)
        before += head.count(b"\n", 0, begin_of_rows)
        head = head[begin_of_rows:]
    parse = partial(_parse_lines, layout=layout, labels=request.names.labels)
    begin = FilePart(ROWS.empty_table(), before, notice=notice, has_ranks=has_ranks)
    return "line {}", chain([begin], parts_in_threads(pool, parse, chain([head], chunks)))


def _parse_lines(chunk: bytes, layout: Layout, labels: Labels | None) -> FilePart:
    """Return the rows of whole lines."""
    plain = _plain_lines(chunk, layout)
    text, problem = plain.text, plain.problem
    try:
        table = _parse_rows(text, layout, labels)
        count = len(table)
    except pa.ArrowInvalid:
        if layout is RUN:
            text = EXTRA.sub(rb"\1", text)
        rows = text.removesuffix(b"\n").split(b"\n")
        table = _parseable(rows, layout, labels)
        count = len(rows)
    faults = layout.faults(table)
    if faults.any():
        table = table[: int(faults.argmax())]
    if len(table) < count:
        problem = _problem(text.split(b"\n")[len(table) :], layout, labels)
    return FilePart(
        table,
        plain.span,
        plain.numbers,
        problem,
        counted=layout.counted,
        total=len(table),
        form=layout.form,
        fields=layout.fields,
        others=layout.others,
        has_values=len(layout.at) > 2,
    )


# The text of rows


class _PlainLines(NamedTuple):
    """The rows of whole lines as text, with one space between the columns of TREC."""

    text: bytes
    span: int  # the number of lines
    # the number of every row, and of the next line, among the lines; None if every line is a row
    numbers: NDArray[np.int64] | None = None
    problem: str = ""  # the error in the next line, if the rows end at one that cannot be parsed


def _plain_lines(text: bytes, layout: Layout) -> _PlainLines:
    """Return the rows of whole lines, without comments and empty lines."""
    if b"\r" in text:  # searching for two bytes is slow
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    text, problem = _before_no_text(text)
    span = _number_of_lines(text)
    text, is_mixed = layout.plain(text)
    if not is_mixed:
        return _PlainLines(text, span, None, problem)
    rows: list[bytes] = []
    numbers: list[int] = []
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n")):
        if line and not layout.is_comment(line):
            rows.append(line)
            numbers.append(number)
    return _PlainLines(b"\n".join(rows), span, np.array([*numbers, span], np.int64), problem)


def _number_of_lines(text: bytes) -> int:
    # Counting bytes by NumPy is faster than bytes.count.
    count = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))
    if text and not text.endswith(b"\n"):
        count += 1
    return count


def _before_no_text(text: bytes) -> tuple[bytes, str]:
    """Return the lines before one that is no text or too long, and the error in that line."""
    problem = ""
    for character, words in NO_TEXT.items():
        at = text.find(character)
        if at >= 0:
            text = text[: text.rfind(b"\n", 0, at) + 1]
            problem = words
    start = 0
    while len(text) - start > LINE:
        end = text.rfind(b"\n", start, start + LINE + 1)
        if end < 0:
            problem = f"is longer than {LINE:,} bytes; give each document a line of its own"
            return text[:start], problem
        start = end + 1
    return text, problem


# Parsing


def _parse_rows(text: bytes, layout: Layout, labels: Labels | None) -> pa.Table:
    if not text:
        return ROWS.empty_table()
    # Arrow removes a byte order mark, even in the middle of a file, where it belongs to an id.
    text = BYTE_ORDER_MARK + layout.rows(text)
    is_padded = any(space.encode() in text for space in layout.padding)
    if is_padded:
        text = _with_bare_quotes(text, layout)
    try:
        return _read_cells(text, layout, is_padded, ROWS.types[2])
    except pa.ArrowInvalid:
        if labels is None and not layout.has_flags(text):
            raise
    return _read_cells(text, layout, is_padded, pa.string(), labels)


def _with_bare_quotes(text: bytes, layout: Layout) -> bytes:
    """Return CSV or TSV without spaces around quoted cells.

    Arrow reads a quote as text unless the cell begins with one.
    """
    if b'"' not in text:
        return text
    cell = CELL.format(layout.delimiter, layout.padding)
    return re.sub(cell.encode(), rb"\1\2\3", text)


def _read_cells(
    text: bytes,
    layout: Layout,
    is_padded: bool,
    type_of_value: pa.DataType,
    labels: Labels | None = None,
) -> pa.Table:
    """Return rows as a table; values that are read as text may be labels or flags."""
    columns = list(map(str, range(len(layout.names))))
    included = [columns[at] for at in layout.at]
    type_of_query = pa.string() if is_padded else ROWS.types[0]
    types = dict(zip(included, (type_of_query, ROWS.types[1], type_of_value), strict=False))
    read_options = pa.csv.ReadOptions(
        column_names=columns, block_size=len(text) + 1, use_threads=False
    )
    parse_options = pa.csv.ParseOptions(delimiter=layout.delimiter, quote_char=layout.quote)
    convert_options = pa.csv.ConvertOptions(
        column_types=types,
        include_columns=included,
        null_values=[""],  # an empty cell is a missing value
    )
    table = pa.csv.read_csv(pa.BufferReader(text), read_options, parse_options, convert_options)
    query, document, *values = table.columns
    if values and type_of_value == pa.string():
        cells = numerals(values[0], labels)
        values = [pc.if_else(pc.equal(cells, ""), None, cells).cast(pa.float64())]
    if is_padded:
        query = pc.utf8_trim(query, characters=layout.padding)
        document = pc.utf8_trim(document, characters=layout.padding)
    table = id_table(query, document, *values)
    # Arrow lets a quoted cell go on, but a document has one line here.
    if len(table) != text.removesuffix(b"\n").count(b"\n") + 1:
        raise pa.ArrowInvalid("a cell goes on in the next line")
    return table


# Errors


def _parseable(rows: list[bytes], layout: Layout, labels: Labels | None) -> pa.Table:
    """Return the rows before the first that cannot be parsed."""
    good, bad = 0, len(rows) + 1  # rows[:good] can be parsed, rows[:bad] cannot
    table = ROWS.empty_table()
    middle = len(rows)
    while bad - good > 1:
        try:
            table = _parse_rows(b"\n".join(rows[:middle]), layout, labels)
            good = middle
        except pa.ArrowInvalid:
            bad = middle
        middle = (good + bad) // 2
    return table


def _problem(rows: Sequence[bytes], layout: Layout, labels: Labels | None) -> str:
    """Return the error in the first of these rows, which cannot be parsed."""
    problem = layout.problem_in(rows[0])
    if problem:
        return problem
    rows = list(map(layout.rows, rows[:SAMPLE]))
    text = rows[0].decode("utf-8", "surrogateescape")
    cells = layout.cells(text)
    if len(cells) != len(layout.names):
        return _other_columns(text, len(cells), layout)
    if not any(cell.strip(" \t") for cell in cells):
        return "all cells are empty; leave such rows out"
    for name, at in zip(("query", "document"), layout.at, strict=False):
        if not cells[at].strip(" \t"):
            ids = list(chain.from_iterable(cells_in(rows, layout.cells, [at])))
            return f"has no {name}; give each row its id{filled_down(ids.count(''), len(ids))}"
        if not _is_utf_8(cells[at]):
            return f"{name} {shown_cell(cells[at])} {NOT_UTF_8}"
    value = cells[layout.at[2]]
    fault = "is not finite"
    stripped = value.strip(" ")
    if not NUMBER.fullmatch(stripped.encode("utf-8", "surrogateescape")):
        values = chain.from_iterable(cells_in(rows, layout.cells, layout.at[2:]))
        fault = fault_of(stripped, layout.kind, labels, values)
        if not DECIMAL_COMMA.fullmatch(stripped):
            fault += instead_of_relevance(layout.kind, layout.fields, layout.others)
        elif layout.fields:
            texts = [row.decode("utf-8", "surrogateescape") for row in rows[:SAMPLE]]
            ids = [layout.names[at] for at in layout.at[:2]]
            is_utf_8 = all(map(_is_utf_8, texts))
            fault += call_of_pandas(layout.delimiter, ids, is_utf_8, stripped)
    return f"the {VALUE[layout.kind]} {shown_cell(value)} {fault}"


def _other_columns(text: str, columns: int, layout: Layout) -> str:
    """Return the error in a row with more or fewer columns than the layout has."""
    if not _is_utf_8(text):  # such as a picture
        return NOT_UTF_8
    problem = f"{columns_text(columns)}; {layout.words}"
    if "::" in text:  # as MovieLens separates ratings
        return f"{problem}; {RATINGS}user_id,item_id,rating,timestamp"
    if layout in OTHER_SIDE.get(columns, ()):
        return problem + mark("swapped", said="are both sides swapped?", before="; ")
    return problem


def _is_utf_8(text: str) -> bool:
    """Return whether no character stands for a byte that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
