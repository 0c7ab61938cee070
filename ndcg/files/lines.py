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

from ..inputs.fields import VALUE
from ..measure.labels import Labels
from ..measure.messages import mark
from .content import (
    BYTE_ORDER_MARK,
    CHUNK,
    LINE,
    NO_TEXT,
    NOT_UTF_8,
    NUMBER,
    ByteStream,
    line_chunks,
    shown_cell,
)
from .layouts import (
    LAYOUTS,
    OTHER_SIDE,
    RATINGS,
    RUN,
    Layout,
    cells_in,
    cells_of,
    cells_of_trec,
    layout_of,
    notice_of,
)
from .letor import as_qrels, no_row
from .parts import (
    ROWS,
    FilePart,
    ReadRequest,
    fault_of,
    faulty_rows,
    id_table,
    numerals,
    parts_in_threads,
)

SAMPLE = 100  # lines
FIRST_LINE = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*+([ \t\r]*[^ \t\r\n#][^\n]*)\n?")
# A cell with the spaces around its quotes, and with its end.
CELL = r'[{1}]*+(?:("(?:[^"\n]|"")*+")[{1}]*+(?=[{0}\n]|\Z)|([^{0}\n]*+))([{0}\n]|\Z)'
FLAG = re.compile(rb"(?i)\b(?:true|false)\b")
COMMENT = re.compile(rb"#[^\n]*")
EXTRA = re.compile(rb"(?m)^((?:[^ \n]+ ){5}[^ \n]+) .*$")  # the text after the tag of a run


def from_lines(
    stream: ByteStream, path: str, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return the rows of a TREC, CSV or TSV file, in the layout that its first line tells.

    A line that begins with ``#`` is a comment unless it is a row of TREC. It tells the layout only
    if no other line does, because a comment may look like a row of another layout.
    """
    chunks = line_chunks(stream, LINE)
    layouts = LAYOUTS[request.names.kind]
    layout = layouts[0]
    head = b""
    before = 1  # lines are counted from 1
    notice = ""
    for chunk in chunks:
        head += chunk
        first = FIRST_LINE.match(head)
        if first:
            layout = layout_of(first[1].removesuffix(b"\r"), head[first.end() :], path, request)
            lines = head[first.start(1) :].split(b"\n", SAMPLE)[:SAMPLE]
            notice = notice_of(lines, layout, request)
            if not layout.is_trec:
                before += head.count(b"\n", 0, first.end())
                head = head[first.end() :]
            break
        lines = head.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")
        if _hold_no_text(lines):
            break  # parsing raises the error
        cells = list(map(cells_of_trec, lines))
        rows = [sum(map(layout.is_row, cells)) for layout in layouts]
        layout = layouts[rows.index(max(rows))]
        if not any(rows):
            before += head.count(b"\n")
            head = b""
        elif len(head) >= CHUNK:
            break
    parse = partial(_parse_lines, layout=layout, labels=request.names.labels)
    begin = FilePart(ROWS.empty_table(), before, notice=notice)
    return "line {}", chain([begin], parts_in_threads(pool, parse, chain([head], chunks)))


def _hold_no_text(lines: Sequence[bytes]) -> bool:
    """Return whether a line holds a character that no text has, or is too long."""
    if max(map(len, lines)) > LINE:
        return True
    return any(character in line for line in lines for character in NO_TEXT)


def _parse_lines(chunk: bytes, layout: Layout, labels: Labels | None) -> FilePart:
    """Return the rows of whole lines."""
    plain = _plain_lines(chunk, layout)
    text, problem = plain.text, plain.problem
    rows: list[bytes] = []
    try:
        table = _parse_rows(text, layout, labels)
    except pa.ArrowInvalid:
        if layout is RUN:
            text = EXTRA.sub(rb"\1", text)
        rows = text.removesuffix(b"\n").split(b"\n")
        table = _parseable(rows, layout, labels)
        if len(table) < len(rows):
            problem = _problem(rows[len(table) :], layout, labels)
    faults = ~np.isfinite(table["value"]) if layout.is_trec else faulty_rows(table)
    if faults.any():
        row = int(faults.argmax())
        rows = rows or text.split(b"\n")
        problem = _problem(rows[row:], layout, labels)
        table = table[:row]
    part = FilePart(table, plain.span, plain.numbers, problem, form=layout.form)
    if layout.is_letor:
        part = part._replace(counted="document", total=len(table))
    return part._replace(fields=layout.fields, has_values=len(layout.at) > 2)


# The text of rows


class _PlainLines(NamedTuple):
    """The rows of whole lines as text, with one space between the columns of TREC."""

    text: bytes
    span: int  # the number of lines
    # the number of each row, and of the next line, among the lines; None if every line is a row
    numbers: NDArray[np.int64] | None = None
    problem: str = ""  # the error in the next line, if the rows end at one that cannot be parsed


def _plain_lines(text: bytes, layout: Layout) -> _PlainLines:
    """Return the rows of whole lines, without comments and empty lines."""
    if layout.is_trec and b"\t" in text:
        text = text.replace(b"\t", b" ")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    text, problem = _before_no_text(text)
    # Counting bytes by NumPy is faster than bytes.count.
    span = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))
    if text and not text.endswith(b"\n"):
        span += 1
    if layout.is_letor and b"#" in text:
        text = COMMENT.sub(b"", text)
    may_have_empty = not layout.is_trec or _has_spaces_to_spare(text)
    if may_have_empty and layout.is_trec:
        text = _with_single_spaces(text)
    if may_have_empty:
        may_have_empty = text.startswith(b"\n") or b"\n\n" in text
    may_have_comments = layout.is_trec and _may_have_comments(text, layout)
    if not may_have_empty and not may_have_comments:
        return _PlainLines(text, span, None, problem)
    lines: list[bytes] = []
    numbers: list[int] = []
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n")):
        if may_have_comments and line.startswith(b"#") and not layout.is_row(line.split(b" ")):
            continue
        if line:
            lines.append(line)
            numbers.append(number)
    return _PlainLines(b"\n".join(lines), span, np.array([*numbers, span], np.int64), problem)


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


def _has_spaces_to_spare(text: bytes) -> bool:
    """Return whether text has two spaces or line feeds side by side, or a space at its ends."""
    is_white = np.frombuffer(text, np.uint8) <= ord(" ")
    if (is_white[1:] & is_white[:-1]).any():
        return True
    return bool(is_white[:1].any()) or text.endswith(b" ")


def _with_single_spaces(text: bytes) -> bytes:
    """Return text with one space between the columns, and none around a line."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")


def _may_have_comments(text: bytes, layout: Layout) -> bool:
    """Return whether a line of TREC begins with #, and not all lines parse as rows."""
    if b"#" not in text:  # searching for two bytes is slow
        return False
    if not text.startswith(b"#") and b"\n#" not in text:
        return False
    return not _are_rows(text, layout)


def _are_rows(text: bytes, layout: Layout) -> bool:
    """Return whether all lines parse as rows with a value."""
    # Checking each would take ten times as long.
    if len(layout.at) < 3:
        return False
    try:
        return len(_parse_rows(text, layout, None)) > 0
    except pa.ArrowInvalid:
        return False


# Parsing


def _parse_rows(text: bytes, layout: Layout, labels: Labels | None) -> pa.Table:
    if not text:
        return ROWS.empty_table()
    if layout.is_letor:
        triples = as_qrels(text, layout.kind)
        if triples is None:
            raise pa.ArrowInvalid("a line is no row")
        text = triples
    if text.startswith(BYTE_ORDER_MARK):
        # Arrow removes a byte order mark, even in the middle of a file.
        text = BYTE_ORDER_MARK + text
    is_padded = not layout.is_trec and any(space.encode() in text for space in layout.padding)
    if is_padded and _has_padded_quotes(text, layout):
        # Arrow reads a quote as text unless the cell begins with one.
        cell = CELL.format(layout.delimiter, layout.padding)
        text = re.sub(cell.encode(), rb"\1\2\3", text)
    try:
        return _read_cells(text, layout, is_padded, ROWS.types[2])
    except pa.ArrowInvalid:
        has_flags = not layout.is_trec and FLAG.search(text)
        if labels is None and not has_flags:
            raise
    return _read_cells(text, layout, is_padded, pa.string(), labels)


def _has_padded_quotes(text: bytes, layout: Layout) -> bool:
    """Return whether a quote may stand beside a space that is not part of its cell."""
    pairs = [pair for space in layout.padding for pair in (f'{space}"', f'"{space}')]
    return any(pair.encode() in text for pair in pairs)


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
    parse_options = pa.csv.ParseOptions(delimiter=layout.delimiter, quote_char=False)
    convert_options = pa.csv.ConvertOptions(
        column_types=types, include_columns=included, null_values=[]
    )
    if not layout.is_trec:
        convert_options.null_values = [""]  # an empty cell is a missing value
        parse_options.quote_char = '"' if b'"' in text else False
    table = pa.csv.read_csv(pa.BufferReader(text), read_options, parse_options, convert_options)
    query, document, *values = table.columns
    if values and type_of_value == pa.string():
        cells = numerals(values[0], labels or Labels(()))
        values = [pc.if_else(pc.equal(cells, ""), None, cells).cast(pa.float64())]
    if is_padded:
        query = pc.utf8_trim(query, characters=layout.padding)
        document = pc.utf8_trim(document, characters=layout.padding)
    table = id_table(query, document, *values)
    if b'"' in text and len(table) != text.removesuffix(b"\n").count(b"\n") + 1:
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
    if layout.is_letor:
        if as_qrels(rows[0], layout.kind) is None:
            return no_row(rows[0], layout.kind)
        triples = [as_qrels(row, layout.kind) for row in rows[:SAMPLE]]
        rows = [triple for triple in triples if triple]
    text = rows[0].decode("utf-8", "surrogateescape")
    cells = text.split(layout.delimiter)
    if not layout.is_trec and '"' in text:
        if text.count('"') % 2:
            return (
                "has a quoted cell that continues on the next line; put each row on a single line"
            )
        cells = cells_of(text, layout.delimiter)
    if len(cells) != len(layout.names):
        return _other_columns(text, len(cells), layout)
    for name, at in zip(("query", "document"), layout.at, strict=False):
        if not cells[at].strip(" \t"):
            return f"has no {name}; give each row its id"
        if not _is_utf_8(cells[at]):
            return f"{name} {shown_cell(cells[at])} {NOT_UTF_8}"
    value = cells[layout.at[2]]
    fault = "is not finite"
    stripped = value.strip(" ")
    if not NUMBER.fullmatch(stripped.encode("utf-8", "surrogateescape")):
        values = chain.from_iterable(cells_in(rows[:SAMPLE], layout.delimiter, layout.at[2:]))
        fault = fault_of(stripped, layout.kind, labels, values)
    return f"the {VALUE[layout.kind]} {shown_cell(value)} {fault}"


def _other_columns(text: str, columns: int, layout: Layout) -> str:
    if not _is_utf_8(text):  # such as a picture
        return NOT_UTF_8
    count = f"{columns} columns" if columns > 1 else "1 column"
    problem = f"{count}; {layout.words}"
    if "::" in text:  # as MovieLens separates ratings
        return f"{problem}; {RATINGS}"
    if layout in OTHER_SIDE.get(columns, ()):
        return problem + mark("swapped", said="; are the run and the qrels swapped?")
    return problem


def _is_utf_8(text: str) -> bool:
    """Return whether no character stands for a byte that is not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
