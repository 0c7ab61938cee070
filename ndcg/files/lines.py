"""Read rows from lines: TREC, CSV and TSV; LETOR is in `letor`."""

import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from ..inputs.fields import VALUE, Fields, are_names_of_fields, plain_name, refuse_repeated_names
from ..inputs.object_reader import equal_scores, query_of_equal_scores
from ..inputs.tables import chosen_columns
from ..measure.labels import Labels
from ..measure.messages import brief, mark, shown
from .content import (
    BYTE_ORDER_MARK,
    CHUNK,
    LINE,
    NO_TEXT,
    NOT_UTF_8,
    NUMBER,
    NUMERAL,
    ByteStream,
    delimiter_of,
    line_chunks,
    shown_cell,
)
from .letor import as_qrels, is_row, no_row
from .parts import ROWS, FilePart, ReadRequest, fault_of, faulty_rows, id_table, numerals, parts_in_threads

SAMPLE = 100  # lines
TIME = re.compile(rb"[0-9]{9,}(?:\.0*)?")  # in seconds since 1970, from 1973 on
RATINGS = (
    "give ratings as CSV or TSV with a first line that names the columns, such as "
    "user_id,item_id,rating"
)
FINITE = re.compile(rb"[+-]?[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
FIRST_LINE = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*+([ \t\r]*[^ \t\r\n#][^\n]*)\n?")
CELL = r'[{1}]*+(?:("(?:[^"\n]|"")*+")[{1}]*+(?=[{0}\n]|\Z)|([^{0}\n]*+))([{0}\n]|\Z)'  # including its end
FLAG = re.compile(rb"(?i)\b(?:true|false)\b")
COMMENT = re.compile(rb"#[^\n]*")
EXTRA = re.compile(rb"(?m)^((?:[^ \n]+ ){5}[^ \n]+) .*$")  # the text after the tag of a run


class _Layout(NamedTuple):
    """How to split the lines of a TREC, CSV or TSV file, and which columns to read."""

    kind: str
    names: Sequence[str]
    delimiter: str
    at: Sequence[int]
    is_letor: bool = False  # whether rows of LETOR, or scores, are to be written in this layout
    fields: Mapping[str, str] = {}  # the column of each role, if the columns have names

    @property
    def words(self) -> str:
        """A description of the contents of a line."""
        who = {6: "a run has", 4: "qrels have", 2: "ids alone are"}.get(len(self.names), "the first line has")
        who = who if self.delimiter == " " else "the header has"
        return f"{who} {len(self.names)}: {brief(self.names, ' ')}"

    @property
    def form(self) -> str:
        """What was read, as `preview` says it."""
        if self.is_letor:
            return "LETOR" if self.kind == "qrels" else "scores, one a line"
        if self.delimiter == " ":
            return "TREC"
        return "TSV" if self.delimiter == "\t" else "CSV"

    def fits(self, cells: Sequence[bytes]) -> bool:
        """Return whether a line of TREC has this layout, apart from its numbers."""
        return len(cells) == len(self.names) or (self.kind == "run" and len(cells) > len(self.names))

    def is_row(self, cells: Sequence[bytes]) -> bool:
        """Return whether a line that begins with ``#`` is a row and not a comment."""
        if len(self.at) == 2:  # lines of ids have no number; a space after the # marks a comment
            return self.fits(cells) and cells[0] != b"#"
        return self.fits(cells) and NUMBER.fullmatch(cells[self.at[2]]) is not None

    @property
    def padding(self) -> str:
        """The characters around a cell of CSV or TSV that are not part of it."""
        return " \t".replace(self.delimiter, "")


RUN = _Layout("run", ("query", "Q0", "document", "rank", "score", "tag"), " ", (0, 2, 4))
QRELS = _Layout("qrels", ("query", "iteration", "document", "relevance"), " ", (0, 2, 3))
PLAIN_QRELS = _Layout("qrels", ("query", "document", "relevance"), " ", (0, 1, 2))
PAIRS = _Layout("exclude", ("query", "document"), " ", (0, 1))
OTHER_SIDE = {len(QRELS.names): (RUN,), len(RUN.names): (QRELS, PLAIN_QRELS)}  # layouts by the number of columns
LETOR = {kind: _Layout(kind, PLAIN_QRELS.names, " ", (0, 1, 2), is_letor=True) for kind in ("run", "qrels")}
LAYOUTS = {"run": (RUN,), "qrels": (QRELS, PLAIN_QRELS), "exclude": (PAIRS,)}


def _cells_of_trec(line: bytes) -> list[bytes]:
    """Return the cells of a line of TREC."""
    return [cell for cell in line.replace(b"\t", b" ").removesuffix(b"\r").split(b" ") if cell]


def from_lines(
    stream: ByteStream, path: str, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return the rows of a TREC, CSV or TSV file, in the format of the first line that is not empty or a comment.

    A line that begins with ``#`` is a comment unless it is a row of TREC. It determines the format only if no other
    line does, because a comment may look like a row of another format.
    """
    chunks = line_chunks(stream, LINE)
    head, layouts, before, notice = b"", LAYOUTS[request.names.kind], 1, ""  # lines are counted from 1
    layout = layouts[0]
    for chunk in chunks:
        head += chunk
        if first := FIRST_LINE.match(head):
            layout = _layout(first[1].removesuffix(b"\r"), head[first.end() :], path, request)
            lines = head[first.start(1) :].split(b"\n", SAMPLE)[:SAMPLE]
            notice = _notice_of_ranks(lines, layout, request)
            if layout.delimiter != " ":
                before += head.count(b"\n", 0, first.end())
                head = head[first.end() :]
            break
        lines = head.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")
        cells = list(map(_cells_of_trec, lines))
        rows = [sum(map(each.is_row, cells)) for each in layouts]
        layout = layouts[rows.index(max(rows))]
        # comments must also be text, in lines of limited length; parsing raises the error
        if any(mark in line for mark in NO_TEXT for line in lines) or max(map(len, lines)) > LINE:
            break
        if not any(rows):
            before += head.count(b"\n")
            head = b""
        elif len(head) >= CHUNK:
            break
    parse = partial(_parse_lines, layout=layout, labels=request.names.labels)
    return "line {}", chain(
        [FilePart(ROWS.empty_table(), before, notice=notice)], parts_in_threads(pool, parse, chain([head], chunks))
    )


def _layout(line: bytes, rows: bytes, path: str, request: ReadRequest) -> _Layout:
    """Return the layout of a file with this first line, and these rows after it."""
    kind, given = request.names.kind, request.format
    if any(mark in line for mark in NO_TEXT):  # the line itself is rejected later, not its columns
        return LAYOUTS[kind][0]
    if given in (None, "letor") and is_row(line, kind):
        return LETOR[kind]
    cells = _cells_of_trec(line)
    has_commas = len(cells) > 1 and all(cell.endswith(b",") for cell in cells[:-1])
    fitting = [layout for layout in LAYOUTS[kind] if not has_commas and layout.fits(cells)]
    if given == "trec":
        return fitting[0] if fitting else LAYOUTS[kind][0]
    for layout in fitting if given is None else ():
        if len(layout.at) > 2 and layout.is_row(cells):
            return layout
    is_named = re.search(r"\.[ct]sv(\.|$)", os.path.basename(path).lower()) or given in ("csv", "tsv")
    header = line.decode("utf-8", "replace")
    delimiter = "," if has_commas and ";" not in header else delimiter_of(header)
    if given == "tsv":
        delimiter = "\t"
    try:
        names = _cells(header, delimiter)
    except csv.Error:
        names = []
    words = [cell.decode("utf-8", "replace") for cell in cells]
    if len(names) == 1 and are_names_of_fields(words):
        listed = brief(words, " ")
        problem = f"the header has spaces between the names, {listed}"
        raise ValueError(f"{problem}; separate columns by commas or tabs")
    if are_names_of_fields(names) or has_commas or (is_named and not fitting):
        return _named_layout(names, rows, delimiter, request)
    return fitting[0] if fitting else LAYOUTS[kind][0]


def _named_layout(
    names: Sequence[str], rows: bytes, delimiter: str, request: ReadRequest
) -> _Layout:
    """Return the layout of a table whose columns have these names."""
    request.limits.check("columns", len(names))  # first, so that no message lists thousands
    _refuse_no_header(names, request)
    refuse_repeated_names(names)
    first = next(_first_cells(rows.splitlines(), delimiter, range(len(names))), [])
    examples = dict(zip(names, [*first, *[None] * len(names)], strict=False))
    chosen = chosen_columns(Fields.of_table(examples), request.names, "the header has")
    at = [names.index(name) for name in chosen.values()]
    return _Layout(request.names.kind, names, delimiter, at, fields=chosen)


def _refuse_no_header(names: Sequence[str], request: ReadRequest) -> None:
    """Raise an error for a first line that is a row: it has a number and no name of a column."""
    given = [name.name for name in request.names.given.values()]
    if any(name in names for name in given) or are_names_of_fields(names):
        return
    if any(map(NUMERAL.fullmatch, names)):
        first = brief(map(shown_cell, names), ", ")
        header = ",".join(filter(None, ("query_id", "doc_id", VALUE.get(request.names.kind))))
        problem = f"has no header: the first line is {first}"
        raise ValueError(f"{problem}; name the columns there, such as {header}")


def _notice_of_ranks(lines: Sequence[bytes], layout: _Layout, request: ReadRequest) -> str:
    """Return what a warning says about the ranks of a run; raise an error for ids with spaces."""
    if layout is RUN:
        rows = [cells for cells in map(_cells_of_trec, lines) if layout.is_row(cells)]
        return _check_ranks(rows, request.names.score_order)
    if layout in (QRELS, PLAIN_QRELS):
        _refuse_no_qrels([cells for cells in map(_cells_of_trec, lines) if layout.is_row(cells)])
        return ""
    if request.names.kind != "run" or "score" not in layout.fields:
        return ""
    ranks = [name for name in layout.names if plain_name(name) == "rank"]
    if len(ranks) != 1 or ranks[0] == layout.fields["score"]:
        return ""
    columns = [layout.fields["query"], layout.fields["score"], ranks[0]]
    at = [layout.names.index(name) for name in columns]
    cells = list(_first_cells(lines[1:], layout.delimiter, at))
    if not cells:
        return ""
    query = query_of_equal_scores(*zip(*cells, strict=True))
    return "" if query is None else f"query {shown(query)}: {equal_scores()}"


def _refuse_no_qrels(rows: Sequence[Sequence[bytes]]) -> None:
    """Raise an error for lines whose last number is a time, or counts from 1 in each query."""
    if {row[1] for row in rows} <= {b"0", b"Q0"}:  # the iterations that qrels have
        return
    line = shown_cell(b" ".join(rows[0]))
    if all(TIME.fullmatch(row[-1]) for row in rows):
        raise ValueError(f"the line {line} ends in a time where qrels have the relevance; {RATINGS}")
    by_query: dict[bytes, list[bytes]] = {}
    for row in rows:
        by_query.setdefault(row[0], []).append(row[-1])
    counts = [[b"%d" % rank for rank in range(1, len(of) + 1)] for of in by_query.values()]
    if max(map(len, counts)) > 3 and counts == list(by_query.values()):
        problem = f"the line {line} ends in a rank where qrels have the relevance"
        raise ValueError(f"{problem}: each query counts from 1; is it a run?")


def _check_ranks(rows: Sequence[Sequence[bytes]], score_order: str) -> str:
    """Return what a warning says about ranks that contradict scores; raise an error for ids with spaces."""
    for row in rows:
        if len(row) > len(RUN.names) and not NUMBER.fullmatch(row[3]) and NUMBER.fullmatch(row[-2]):
            line = shown_cell(b" ".join(row))
            raise ValueError(f"the line {line} has no rank in its fourth column; replace the spaces in ids")
    sign = 1 if score_order == "ascending" else -1
    for before, after in pairwise(rows):
        if before[0] == after[0] and all(FINITE.fullmatch(each[at]) for each in (before, after) for at in (3, 4)):
            ranks, scores = (float(after[at]) - float(before[at]) for at in (3, 4))
            if ranks * scores * sign < 0:
                problem = "the ranks are in another order than the scores, and the scores count, as in trec_eval"
                hint = "" if sign > 0 else f"; if the lowest score is best, give {mark('score_order', 'ascending')}"
                return f"query {shown_cell(before[0])}: {problem}{hint}"
    finite = [row for row in rows if all(FINITE.fullmatch(row[column]) for column in (3, 4))]
    query = query_of_equal_scores(
        [row[0] for row in finite],
        [float(row[4]) for row in finite],
        [float(row[3]) for row in finite],
    )
    return "" if query is None else f"query {shown_cell(query)}: {equal_scores()}"


def _first_cells(rows: Iterable[bytes], delimiter: str, at: Sequence[int]) -> Iterator[list[str]]:
    """Yield the cells of the first rows in some columns, as far as they can be read."""
    for row in rows:
        with suppress(csv.Error, IndexError):  # parsing raises the error
            cells = _cells(row.decode("utf-8", "replace"), delimiter)
            yield [cells[each] for each in at]


def _cells(row: str, delimiter: str) -> list[str]:
    """Return the cells of a row, of CSV or TSV without the spaces around them."""
    if delimiter == " ":
        return row.split(" ")
    return [cell.strip(" \t") for cell in next(csv.reader([row], delimiter=delimiter, skipinitialspace=True))]


def _parse_lines(chunk: bytes, layout: _Layout, labels: Labels | None) -> FilePart:
    """Return the rows of whole lines."""
    text, span, numbers, problem = _plain_lines(chunk, layout)
    rows: list[bytes] = []
    try:
        table = _parse_rows(text, layout, labels)
    except pa.ArrowInvalid:
        if layout is RUN:
            text = EXTRA.sub(rb"\1", text)
        rows = text.removesuffix(b"\n").split(b"\n")
        table = _parseable(rows, layout, labels)
        problem = problem if len(table) == len(rows) else _problem(rows[len(table) :], layout, labels)
    faults = ~np.isfinite(table["value"]) if layout.delimiter == " " else faulty_rows(table)
    if faults.any():
        row = int(faults.argmax())
        table, problem = table[:row], _problem((rows or text.split(b"\n"))[row:], layout, labels)
    counted = "document" if layout.is_letor else ""
    form = layout.form
    total = len(table) if counted else 0
    part = FilePart(table, span, numbers, problem, counted=counted, total=total)
    return part._replace(form=form, fields=layout.fields, has_values=len(layout.at) > 2)


def _plain_lines(text: bytes, layout: _Layout) -> tuple[bytes, int, NDArray[np.int64] | None, str]:
    """Return the rows of whole lines as text, with one space between the columns of TREC.

    Also returned are the number of lines; the number of each row, and of the next line, among the lines, or None if
    every line is a row; and the error in the next line, if the rows end at a line that cannot be parsed.
    """
    problem, spaced = "", layout.delimiter == " "
    if spaced and b"\t" in text:
        text = text.replace(b"\t", b" ")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    for byte, words in NO_TEXT.items():
        if (at := text.find(byte)) >= 0:
            text, problem = text[: text.rfind(b"\n", 0, at) + 1], words
    start = 0
    while len(text) - start > LINE:
        end = text.rfind(b"\n", start, start + LINE + 1)
        if end < 0:
            text = text[:start]
            problem = f"is longer than {LINE:,} bytes; give each document a line of its own"
        start = end + 1
    span = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))  # faster than bytes.count
    span += text != b"" and not text.endswith(b"\n")
    if layout.is_letor and b"#" in text:
        text = COMMENT.sub(b"", text)
    irregular = True
    if spaced:
        white = np.frombuffer(text, np.uint8) <= ord(" ")
        irregular = bool((white[1:] & white[:-1]).any() or white[:1].any() or text.endswith(b" "))
        if irregular:
            while b"  " in text:
                text = text.replace(b"  ", b" ")
            text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    empty = irregular and (text.startswith(b"\n") or b"\n\n" in text)  # searching for two bytes is slow
    marked = spaced and b"#" in text and (text.startswith(b"#") or b"\n#" in text) and not _are_rows(text, layout)
    if empty or marked:
        lines = text.removesuffix(b"\n").split(b"\n")
        kept = (not (marked and line.startswith(b"#")) or layout.is_row(line.split(b" ")) for line in lines)
        rows = [number for number, (line, is_kept) in enumerate(zip(lines, kept, strict=True)) if line and is_kept]
        text = b"\n".join(lines[number] for number in rows)
        return text, span, np.array([*rows, span], np.int64), problem
    return text, span, None, problem


def _parse_rows(text: bytes, layout: _Layout, labels: Labels | None) -> pa.Table:
    """Return rows as a table."""
    if not text:
        return ROWS.empty_table()
    if layout.is_letor:
        if (written := as_qrels(text, layout.kind)) is None:
            raise pa.ArrowInvalid("a line is no row")
        text = written
    if text.startswith(BYTE_ORDER_MARK):
        text = BYTE_ORDER_MARK + text  # Arrow removes a byte order mark, even in the middle of a file
    is_padded = layout.delimiter != " " and any(mark.encode() in text for mark in layout.padding)
    if is_padded and any(pair.encode() in text for mark in layout.padding for pair in (f'{mark}"', f'"{mark}')):
        # Arrow reads a quote as text unless the cell begins with one
        text = re.sub(CELL.format(layout.delimiter, layout.padding).encode(), rb"\1\2\3", text)
    try:
        return _read_cells(text, layout, is_padded, ROWS.types[2])
    except pa.ArrowInvalid:
        if labels is None and (layout.delimiter == " " or not FLAG.search(text)):
            raise
    return _read_cells(text, layout, is_padded, pa.string(), labels)


def _read_cells(
    text: bytes, layout: _Layout, is_padded: bool, type_of_value: pa.DataType, labels: Labels | None = None
) -> pa.Table:
    """Return rows as a table; values that are read as text may be labels or flags, and empty ones are missing."""
    columns = list(map(str, range(len(layout.names))))
    read = [columns[at] for at in layout.at]
    types = [pa.string() if is_padded else ROWS.types[0], ROWS.types[1], type_of_value]
    are_cells = layout.delimiter != " "
    table = pa.csv.read_csv(
        pa.BufferReader(text),
        read_options=pa.csv.ReadOptions(column_names=columns, block_size=len(text) + 1, use_threads=False),
        parse_options=pa.csv.ParseOptions(
            delimiter=layout.delimiter, quote_char='"' if layout.delimiter != " " and b'"' in text else False
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict(zip(read, types, strict=False)),
            include_columns=read,
            null_values=[""] if are_cells else [],
        ),
    )
    query, document, *value = table.columns
    if value and type_of_value == pa.string():
        cells = numerals(value[0], labels or Labels(()))
        value = [pc.if_else(pc.equal(cells, ""), None, cells).cast(pa.float64())]
    if is_padded:
        query, document = (pc.utf8_trim(ids, characters=layout.padding) for ids in (query, document))
    table = id_table(query, document, *value)
    if b'"' in text and len(table) != text.removesuffix(b"\n").count(b"\n") + 1:
        raise pa.ArrowInvalid("a cell goes on in the next line")
    return table


def _are_rows(text: bytes, layout: _Layout) -> bool:
    """Return whether all lines parse as rows with a value. Checking each line would take ten times as long."""
    try:
        return len(layout.at) > 2 and len(_parse_rows(text, layout, None)) > 0
    except pa.ArrowInvalid:
        return False


def _parseable(rows: list[bytes], layout: _Layout, labels: Labels | None) -> pa.Table:
    """Return the rows before the first that cannot be parsed."""
    good, bad = 0, len(rows) + 1  # rows[:good] can be parsed, rows[:bad] cannot
    table, middle = ROWS.empty_table(), len(rows)
    while bad - good > 1:
        try:
            table, good = _parse_rows(b"\n".join(rows[:middle]), layout, labels), middle
        except pa.ArrowInvalid:
            bad = middle
        middle = (good + bad) // 2
    return table


def _problem(rows: Sequence[bytes], layout: _Layout, labels: Labels | None) -> str:
    """Return the error in the first of these rows, which cannot be parsed."""
    if layout.is_letor:
        if as_qrels(rows[0], layout.kind) is None:
            return no_row(rows[0], layout.kind)
        rows = list(filter(None, (as_qrels(each, layout.kind) for each in rows[:SAMPLE])))
    text = rows[0].decode("utf-8", "surrogateescape")
    cells = text.split(layout.delimiter)
    if layout.delimiter != " " and '"' in text:
        if text.count('"') % 2:
            return "has a quoted cell that continues on the next line; put each row on a single line"
        cells = _cells(text, layout.delimiter)
    if len(cells) != len(layout.names):
        if any("\udc80" <= each <= "\udcff" for each in text):  # such as a picture
            return NOT_UTF_8
        asked = mark("swapped", said="; are the run and the qrels swapped?")
        swapped = asked if layout in OTHER_SIDE.get(len(cells), ()) else ""
        hint = f"; {RATINGS}" if "::" in text else swapped  # as MovieLens separates ratings
        return f"{len(cells)} column{'s' * (len(cells) > 1)}; {layout.words}{hint}"
    for name, at in zip(("query", "document"), layout.at, strict=False):
        if not cells[at].strip(" \t"):
            return f"has no {name}; give each row its id"
        try:
            cells[at].encode()
        except UnicodeEncodeError:
            return f"{name} {shown_cell(cells[at])} {NOT_UTF_8}"
    value = cells[layout.at[2]]
    fault = "is not finite"
    if not NUMBER.fullmatch(value.strip(" ").encode("utf-8", "surrogateescape")):
        seen = chain.from_iterable(_first_cells(rows[:SAMPLE], layout.delimiter, layout.at[2:]))
        fault = fault_of(value.strip(" "), layout.kind, labels, seen)
    return f"the {VALUE[layout.kind]} {shown_cell(value)} {fault}"
