"""Files of rankings <-> columns and mappings, by what the files hold.

| form | looks like |
|---|---|
| TREC run | `query Q0 document rank score tag` |
| TREC qrels | `query 0 document relevance`, or `query document relevance` |
| CSV, TSV | a header that names the columns, as `NAMES` has them; BEIR's qrels too |
| JSON | `{query: {document: value}}`, a list of records, MTEB's predictions |
| JSONL | a record or a mapping a line |
| Parquet, Arrow | a table with these columns |

The first bytes and the first line decide, and the name only between CSV and TREC. Each may be
compressed by gzip or Zstandard. A file is read once, from the first byte to the last, so it may be
a pipe. Text is parsed in chunks of whole lines, in threads.
"""

import csv
import io
import json
import math
import os
import re
import sys
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from .hashes import NO_ID, Columns, hashes_of, id_kind, same_rows

CHUNK = 1 << 20  # bytes of a file that are parsed at a time: little enough that their memory is used again
LINE = 1 << 20  # bytes of the longest line of TREC and CSV files
JSON_BYTES = 5  # how many times the memory of its text JSON takes as Python objects
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # by the bytes that their files begin with
TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "stream"}
ZIP = b"PK\x03\x04"
SURROGATE = re.compile("[\ud800-\udfff]")  # what stands for a byte that is not UTF-8
QUERY = pa.dictionary(pa.int32(), pa.string())
ROWS = pa.schema({"query": QUERY, "document": pa.string(), "value": pa.float64()})
NUMBER = re.compile(  # as Arrow's parser takes it, finite or not
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan(?:\(\w*\))?)", re.IGNORECASE
)
FIRST_LINE = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*+([^\n]*)\n?")
JSON = re.compile(rb'\s*(?:\{\s*["}]|\[\s*[\]{])')
CELL = r'[{1}]*+(?:("(?:[^"\n]|"")*+")[{1}]*+(?=[{0}\n]|\Z)|([^{0}\n]*+))([{0}\n]|\Z)'  # with what ends it
EXTRA = re.compile(rb"(?m)^((?:[^ \n]+ ){5}[^ \n]+) .*$")  # what follows the tag of a run
VALUE = {"run": "score", "qrels": "relevance", "exclude": "document"}
# The first that is there is taken: an id before what may be a text, a judgment before what may be a score.
ID_NAMES = {
    "query": ("query_id", "qid", "user_id", "query", "user"),
    "document": ("document_id", "docid", "doc_id", "corpus_id", "item_id", "document", "item"),
}
FILE_IDS = ("text", "integers", "bytes")  # what is the same as text; a date may be written in many ways
NUMBER_TYPES = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_null,
)
NAMES = {
    "run": {**ID_NAMES, "score": ("score", "prediction", "sim")},
    "qrels": {**ID_NAMES, "relevance": ("relevance", "rel", "reference", "label", "grade", "rating", "score")},
    "exclude": ID_NAMES,
}
NO_TEXT = {  # what no line may hold, and why
    b"\r": "holds a carriage return; end lines in a line feed, with or without one before it",
    b"\0": "holds a NUL byte, which no text does; save the file in UTF-8",
}


class Limits(NamedTuple):
    """How much a file may hold; None for as much as it likes.

    Attributes:
        bytes: of the file as it is.
        unpacked: bytes of its content, of JSON a fifth of them.
        rows: one per query and document.
        queries: distinct ones.
        columns: of a table.
    """

    bytes: int | None = None
    unpacked: int | None = None
    rows: int | None = None
    queries: int | None = None
    columns: int | None = None

    def check(self, what: str, count: int) -> None:
        """Raise an error for more of one thing than there may be."""
        limit = getattr(self, what)
        if limit is not None and count > limit:
            unit = "bytes unpacked" if what == "unpacked" else what
            raise ValueError(f"holds more than {limit:,} {unit}, the limit here; give a part of it")


NO_LIMITS = Limits()


class SavedResultError(ValueError):
    """A file holds what `to_dict` gave, of one run or of several, and no rankings.

    Attributes:
        value: what it holds.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__("is a saved result, which holds no documents; give the file that was scored")
        self.value = value


class _Wanted(NamedTuple):
    """What a file is read for.

    Attributes:
        kind: of file, as `read_columns` takes it.
        names: that the columns of a table may have, by what they hold.
        limits: how much it may hold.
    """

    kind: str
    names: dict[str, tuple[str, ...]]
    limits: Limits


class _Layout(NamedTuple):
    """How the lines of a TREC, CSV or TSV file are split, and which columns are read: query, document, any value."""

    kind: str
    names: Sequence[str]
    delimiter: str
    at: Sequence[int]

    @property
    def words(self) -> str:
        """What a line holds."""
        who = {6: "a run has", 4: "qrels have", 2: "ids alone are"}.get(len(self.names), "the first line has")
        who = who if self.delimiter == " " else "the header has"
        return f"{who} {len(self.names)}: {_brief(self.names, ' ')}"

    @property
    def padding(self) -> str:
        """The characters around a cell of CSV or TSV that are no part of it."""
        return " \t".replace(self.delimiter, "")


RUN = _Layout("run", ("query", "Q0", "document", "rank", "score", "tag"), " ", (0, 2, 4))
QRELS = _Layout("qrels", ("query", "iteration", "document", "relevance"), " ", (0, 2, 3))
PLAIN_QRELS = _Layout("qrels", ("query", "document", "relevance"), " ", (0, 1, 2))
PAIRS = _Layout("exclude", ("query", "document"), " ", (0, 1))
LAYOUTS = {"run": (RUN,), "qrels": (QRELS, PLAIN_QRELS), "exclude": (PAIRS,)}


class _Part(NamedTuple):
    """Rows that follow each other in a file.

    Attributes:
        table: query, document and value.
        span: how many lines, rows or records of the file these are.
        numbers: of each row among them, and of the one that comes next; None if they are all rows.
        problem: what is wrong with the row that comes next.
    """

    table: pa.Table
    span: int
    numbers: NDArray[np.int64] | None = None
    problem: str = ""


def read_columns(
    path: str | os.PathLike[str], kind: str, limits: Limits = NO_LIMITS, names: Mapping[str, str] | None = None
) -> Columns:
    """Read a file.

    Args:
        path: the file.
        kind: ``"run"``, ``"qrels"``, or ``"exclude"`` for ids alone, whose documents may be there more than once or
            not at all.
        limits: how much it may hold.
        names: of the columns of a table, by what they hold, where `NAMES` does not know them.

    Raises:
        ValueError: a line or row that is malformed, an id that is missing, a value that is not a
            finite number, a document that occurs twice for a query, no rows at all, a table
            without the columns, more than the limits allow. Names the file and the place.
        OSError: the file cannot be read.
    """
    path = os.fsdecode(path)
    given = {what: (plain_name(name),) for what, name in (names or {}).items()}
    wanted = _Wanted(kind, NAMES[kind] | given, limits)
    parts: list[_Part] = []
    # the pool is closed here, and by no generator: one that an error leaves behind is closed in any thread
    with _naming_file(path), open(path, "rb") as file, ThreadPoolExecutor(pa.cpu_count()) as pool:
        unit, found = _file_parts(file, path, wanted, pool)
        rows = 0
        for part in found:
            parts.append(part)
            rows += len(part.table)
            limits.check("rows", rows)
            if part.problem:
                break
        place = _place(parts, unit)
        columns = _joined(parts, pool) if rows else _no_rows() if kind == "exclude" else None
        if columns is not None:
            limits.check("queries", len(columns.query_ids))
            if kind != "exclude" and (repeated := _repeated(columns)):
                again, first = map(place, repeated)
                document = _shown_cell(columns.document[repeated[0]].as_py())
                query = _shown_cell(columns.query_ids[columns.query[repeated[0]]].as_py())
                raise ValueError(f"{again}: document {document} of query {query} is in {first} already")
        if parts and parts[-1].problem:
            raise ValueError(": ".join(filter(None, [place(rows), parts[-1].problem])))
        if columns is None:
            raise ValueError(f"holds no {VALUE[kind]}s; give at least one query with a document")
    return columns


def read_run(path: str | os.PathLike[str], limits: Limits = NO_LIMITS) -> dict[str, dict[str, float]]:
    """Return the scores of a run's file, TREC or another: ``{query: {document: score}}``.

    Raises:
        ValueError: as ``read_columns``.
    """
    return _mapping(read_columns(path, "run", limits))


def read_qrels(path: str | os.PathLike[str], limits: Limits = NO_LIMITS) -> dict[str, dict[str, int]]:
    """Return the relevances of a file, TREC or another: ``{query: {document: relevance}}``, integers where all are.

    Raises:
        ValueError: as ``read_columns``.
    """
    columns = read_columns(path, "qrels", limits)
    if (columns.value == np.trunc(columns.value)).all() and np.abs(columns.value).max() < 2**63:
        columns = columns._replace(value=columns.value.astype(np.int64))
    return _mapping(columns)


def _mapping(columns: Columns) -> dict[str, dict[str, Any]]:
    order = np.argsort(columns.query, kind="stable")
    ends = np.cumsum(np.bincount(columns.query, minlength=len(columns.query_ids))).tolist()
    documents = columns.document.take(pa.array(order)).to_pylist()
    values = columns.value[order].tolist()
    starts = [0, *ends[:-1]]
    return {
        query: dict(zip(documents[start:end], values[start:end], strict=True))
        for query, start, end in zip(columns.query_ids.to_pylist(), starts, ends, strict=True)
    }


def _joined(parts: list[_Part], pool: ThreadPoolExecutor) -> Columns:
    table = pa.concat_tables([part.table for part in parts]).unify_dictionaries()
    query = np.concatenate([chunk.indices for chunk in table["query"].chunks], dtype=np.int64)
    ids, values = table["query"].chunk(0).dictionary, table["value"].to_numpy()
    hashes, until = np.empty(len(query), np.uint64), np.cumsum([len(part.table) for part in parts])

    def write_hashes(part: _Part, end: int) -> None:
        hashes[end - len(part.table) : end] = hashes_of(part.table["document"])

    deque(pool.map(write_hashes, parts, until.tolist()), 0)
    return Columns(query, ids, table["document"], values, hashes)


def _no_rows() -> Columns:
    """Return the columns of a file that holds nothing."""
    none = pa.array([], pa.string())  # made when it is asked for, as an array imports pandas
    return Columns(np.empty(0, np.int64), none, pa.chunked_array([none]), np.empty(0), np.empty(0, np.uint64))


def _place(parts: list[_Part], unit: str) -> Callable[[int], str]:
    """Return what gives the words for a row, or for the one after the last."""
    first_rows = [0, *np.cumsum([len(part.table) for part in parts]).tolist()][: len(parts)]
    first_numbers = [0, *np.cumsum([part.span for part in parts]).tolist()]

    def place(row: int) -> str:
        at = bisect_right(first_rows, row) - 1
        number = row - first_rows[at]
        numbers = parts[at].numbers
        return unit.format(first_numbers[at] + (number if numbers is None else int(numbers[number])))

    return place


def _repeated(columns: Columns) -> tuple[int, int] | None:
    """Return the first row whose query and document an earlier row has, and that one."""
    first, again = same_rows(columns)
    return min(zip(again.tolist(), first.tolist(), strict=True), default=None)


# Opening


@contextmanager
def _naming_file(path: str) -> Iterator[None]:
    """Name the file in every error."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, str(error).splitlines()[0], path) from None  # of decompression or Parquet
    except pa.ArrowException as error:
        problem = "cannot be read, so it may be damaged or cut short"
        raise ValueError(f"{path}: {problem}: {str(error).splitlines()[0]}") from None
    except RecursionError:  # of values that JSON's own parser still takes
        raise ValueError(f"{path}: nests objects too deep") from None
    except SavedResultError as error:
        error.args = (f"{path}: {error}",)
        raise
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).splitlines()[0]}") from None


class _Stream(io.RawIOBase):
    """The bytes of a file, up to a limit; the first of them can be looked at before they are read."""

    def __init__(self, file: Any, limits: Limits, what: str) -> None:
        self.file, self.what, self.limits = file, what, limits
        self.head, self.count = b"", 0

    def readable(self) -> bool:
        """As pyarrow asks of a file."""
        return True

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        while len(self.head) < size and (more := self._next(size - len(self.head))):
            self.head += more
        return self.head[:size]

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, fewer only at the end, or all of them."""
        if size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        found, self.head = self.head[:size], self.head[size:]
        return found + self._next(size - len(found)) if len(found) < size else found

    def _next(self, size: int) -> bytes:
        found: bytes = self.file.read(size) or b""
        self.count += len(found)
        self.limits.check(self.what, self.count)
        return found


def read_content(path: str) -> bytes:
    """Return the bytes that a file or a pipe holds, unpacked if they are compressed.

    Raises:
        OSError: it cannot be read.
    """
    with _naming_file(path), open(path, "rb") as file:
        return _unpacked_stream(file, NO_LIMITS)[0].read()


def _unpacked_stream(file: BinaryIO, limits: Limits) -> tuple[_Stream, bool]:
    """Return the bytes of a file, unpacked if they are compressed, and whether they are."""
    packed = _Stream(file, limits, "bytes")
    compression = next((name for mark, name in COMPRESSIONS.items() if packed.peek(4).startswith(mark)), None)
    content = pa.CompressedInputStream(pa.PythonFile(packed, "r"), compression) if compression else packed
    return _Stream(content, limits, "unpacked"), compression is not None


def _file_parts(file: BinaryIO, path: str, wanted: _Wanted, pool: ThreadPoolExecutor) -> tuple[str, Iterator[_Part]]:
    """Return the words for a place in the file and its rows, by the first bytes of what it holds."""
    limits = wanted.limits
    stream, is_packed = _unpacked_stream(file, limits)
    for mark, form in TABLES.items():
        if stream.peek(len(mark)) == mark:
            if not is_packed and file.seekable():
                limits.check("bytes", file.seek(0, os.SEEK_END))
                file.seek(0)
                return "row {} (from 0)", _from_table(form, file, wanted)
            return "row {} (from 0)", _from_table(form, pa.BufferReader(stream.read()), wanted)
    if stream.peek(len(ZIP)) == ZIP:
        raise ValueError("is a ZIP archive or an Excel workbook; give the file that is in it, or save the sheet as CSV")
    if stream.peek(3) == BYTE_ORDER_MARK:
        stream.read(3)
    start = stream.peek(1 << 12)
    if JSON.match(start) or (start.lstrip()[:1] in (b"{", b"[") and ".json" in os.path.basename(path).lower()):
        if limits.unpacked is not None:
            stream.limits = limits._replace(unpacked=limits.unpacked // JSON_BYTES)
        return _from_json(stream, wanted, pool)
    return _from_lines(stream, path, wanted, pool)


def _chunks(stream: _Stream, longest: float) -> Iterator[bytes]:
    """Yield the file in chunks of whole lines; of a line that is too long only its beginning."""
    rest = b""
    while data := stream.read(CHUNK):
        data = rest + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > longest + 1:  # and a carriage return
            end = len(data)
        rest = data[end:]
        if end:
            yield data[:end]
    if rest:
        yield rest


def _in_threads(pool: ThreadPoolExecutor, work: Callable[[bytes], _Part], chunks: Iterable[bytes]) -> Iterator[_Part]:
    """Yield what a function makes of each chunk, in order, a few chunks ahead."""
    waiting: deque[Future[_Part]] = deque()
    for chunk in chunks:
        waiting.append(pool.submit(work, chunk))
        if len(waiting) > pa.cpu_count():
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def plain_name(name: str) -> str:
    """Return the name of a column as `NAMES` has it."""
    return name.strip().lower().replace("-", "_")


def _chosen(names: Sequence[str], wanted: _Wanted) -> list[int]:
    """Return where a table has its queries, documents and values."""
    wanted.limits.check("columns", len(names))
    known = [plain_name(name) for name in names]
    chosen = []
    for what, possible in wanted.names.items():
        name = next((each for each in possible if each in known), None)
        if name is None:
            there = f"has {_brief(map(_shown_cell, names), ', ')}" if names else "has none"
            is_given = len(possible) == 1
            problem = f"is called {possible[0]}" if is_given else f"holds the {what}; name it {' or '.join(possible)}"
            raise ValueError(f"no column {problem}; the file {there}")
        if known.count(name) > 1:
            raise ValueError(f"two columns are called {name}; leave one out")
        chosen.append(known.index(name))
    return chosen


def _are_columns(names: Iterable[str], wanted: _Wanted) -> bool:
    """Whether names are those of columns, at least two of the three."""
    known = set(map(plain_name, names))
    return sum(not known.isdisjoint(possible) for possible in wanted.names.values()) >= 2


# TREC, CSV and TSV: rows of lines


def _from_lines(stream: _Stream, path: str, wanted: _Wanted, pool: ThreadPoolExecutor) -> tuple[str, Iterator[_Part]]:
    """Return the rows of a TREC, CSV or TSV file; its first line, other than empty ones and comments, says which."""
    chunks = _chunks(stream, LINE)
    head, layout, before = b"", LAYOUTS[wanted.kind][0], 1  # lines are counted from 1
    for head in chunks:
        first = FIRST_LINE.match(head)
        if first and first[1]:
            layout = _layout(first[1].removesuffix(b"\r"), path, wanted)
            if layout.delimiter != " ":
                before += head.count(b"\n", 0, first.end())
                head = head[first.end() :]
            break
        if any(mark in head.replace(b"\r\n", b"\n").removesuffix(b"\r") for mark in NO_TEXT):
            break  # comments too must be text; parsing says where they are not
        before += head.count(b"\n")
        head = b""
    parse = partial(_parse_lines, layout=layout)
    return "line {}", chain([_Part(ROWS.empty_table(), before)], _in_threads(pool, parse, chain([head], chunks)))


def _layout(line: bytes, path: str, wanted: _Wanted) -> _Layout:
    """Return how a file with this first line is split."""
    kind = wanted.kind
    if any(mark in line for mark in NO_TEXT):  # which the line itself is rejected for, not the columns that it lacks
        return LAYOUTS[kind][0]
    cells = [cell for cell in line.replace(b"\t", b" ").split(b" ") if cell]
    has_commas = len(cells) > 1 and all(cell.endswith(b",") for cell in cells[:-1])
    fitting = [
        layout
        for layout in LAYOUTS[kind]
        if not has_commas and (len(cells) == len(layout.names) or (kind == "run" and len(cells) > 6))
    ]
    for layout in fitting:
        if len(layout.at) > 2 and NUMBER.fullmatch(cells[layout.at[2]]):
            return layout
    named = re.search(r"\.[ct]sv(\.|$)", os.path.basename(path).lower())
    delimiter = "\t" if b"\t" in line and not has_commas else ","
    try:
        names = _cells(line.decode("utf-8", "replace"), delimiter)
    except csv.Error:
        names = []
    if _are_columns(names, wanted) or has_commas or (named and not fitting):
        return _Layout(kind, names, delimiter, _chosen(names, wanted))
    return fitting[0] if fitting else LAYOUTS[kind][0]


def _cells(row: str, delimiter: str) -> list[str]:
    """Return the cells of a row of CSV or TSV, without the spaces around them."""
    return [cell.strip(" \t") for cell in next(csv.reader([row], delimiter=delimiter, skipinitialspace=True))]


def _parse_lines(chunk: bytes, layout: _Layout) -> _Part:
    """Return the rows of whole lines."""
    text, span, numbers, problem = _plain_lines(chunk, layout)
    rows: list[bytes] = []
    try:
        table = _parse_rows(text, layout)
    except pa.ArrowInvalid:
        if layout is RUN:
            text = EXTRA.sub(rb"\1", text)
        rows = text.removesuffix(b"\n").split(b"\n")
        table = _parseable(rows, layout)
        problem = problem if len(table) == len(rows) else _problem(rows[len(table)], layout)
    faults = ~np.isfinite(table["value"]) if layout.delimiter == " " else _faults(table)
    if faults.any():
        row = int(faults.argmax())
        table, problem = table[:row], _problem((rows or text.split(b"\n"))[row], layout)
    return _Part(table, span, numbers, problem)


def _plain_lines(text: bytes, layout: _Layout) -> tuple[bytes, int, NDArray[np.int64] | None, str]:
    """Return rows of whole lines, those of TREC with one space between columns.

    Returns:
        The rows as text; the number of lines; of each row, and of what comes next, its number among
        the lines, or None; what is wrong with the line that comes next, if rows end at one that
        cannot be parsed.
    """
    problem, spaced = "", layout.delimiter == " "
    if spaced and b"\t" in text:
        text = text.replace(b"\t", b" ")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    for mark, words in NO_TEXT.items():
        if (at := text.find(mark)) >= 0:
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
    irregular = True
    if spaced:
        white = np.frombuffer(text, np.uint8) <= ord(" ")
        irregular = bool((white[1:] & white[:-1]).any() or white[:1].any() or text.endswith(b" "))
        if irregular:
            while b"  " in text:
                text = text.replace(b"  ", b" ")
            text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    empty = irregular and (text.startswith(b"\n") or b"\n\n" in text)  # two bytes are slow to find
    if empty or (spaced and b"#" in text and (text.startswith(b"#") or b"\n#" in text)):
        comment = b"#" if spaced else b"\n"
        lines = text.removesuffix(b"\n").split(b"\n")
        rows = [number for number, line in enumerate(lines) if line and not line.startswith(comment)]
        text = b"\n".join(lines[number] for number in rows)
        return text, span, np.array([*rows, span], np.int64), problem
    return text, span, None, problem


def _parse_rows(text: bytes, layout: _Layout) -> pa.Table:
    """Return rows as a table.

    Raises:
        pa.ArrowInvalid: a row of other columns, an id that is not UTF-8, a value that is no number,
            a cell that goes on in the next line.
    """
    if not text:
        return ROWS.empty_table()
    if text.startswith(BYTE_ORDER_MARK):
        text = BYTE_ORDER_MARK + text  # Arrow takes one off, also in the middle of a file
    is_padded = layout.delimiter != " " and any(mark.encode() in text for mark in layout.padding)
    if is_padded and any(pair.encode() in text for mark in layout.padding for pair in (f'{mark}"', f'"{mark}')):
        # Arrow reads quotes as text unless the cell begins with one
        text = re.sub(CELL.format(layout.delimiter, layout.padding).encode(), rb"\1\2\3", text)
    columns = list(map(str, range(len(layout.names))))
    read = [columns[at] for at in layout.at]
    types = [pa.string(), *ROWS.types[1:]] if is_padded else ROWS.types
    table = pa.csv.read_csv(
        pa.BufferReader(text),
        read_options=pa.csv.ReadOptions(column_names=columns, block_size=len(text) + 1, use_threads=False),
        parse_options=pa.csv.ParseOptions(
            delimiter=layout.delimiter, quote_char='"' if layout.delimiter != " " and b'"' in text else False
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict(zip(read, types, strict=False)),
            include_columns=read,
            null_values=[],
        ),
    )
    query, document, *value = table.columns
    if is_padded:
        query, document = (pc.utf8_trim(ids, characters=layout.padding) for ids in (query, document))
    table = _id_table(query, document, *value)
    if b'"' in text and len(table) != text.removesuffix(b"\n").count(b"\n") + 1:
        raise pa.ArrowInvalid("a cell goes on in the next line")
    return table


def _parseable(rows: list[bytes], layout: _Layout) -> pa.Table:
    """Return the rows before the first that cannot be parsed."""
    good, bad = 0, len(rows) + 1  # rows[:good] can be parsed, rows[:bad] cannot
    table, middle = ROWS.empty_table(), len(rows)
    while bad - good > 1:
        try:
            table, good = _parse_rows(b"\n".join(rows[:middle]), layout), middle
        except pa.ArrowInvalid:
            bad = middle
        middle = (good + bad) // 2
    return table


def _problem(row: bytes, layout: _Layout) -> str:
    """Return what is wrong with a row that cannot be parsed."""
    text = row.decode("utf-8", "surrogateescape")
    cells = text.split(layout.delimiter)
    if layout.delimiter != " " and '"' in text:
        if text.count('"') % 2:
            return "holds a quote that another line closes; write each row in one line"
        cells = _cells(text, layout.delimiter)
    if len(cells) != len(layout.names):
        return f"{len(cells)} column{'s' * (len(cells) > 1)}; {layout.words}"
    for name, at in zip(("query", "document"), layout.at, strict=False):
        if not cells[at].strip(" \t"):
            return f"has no {name}; give each row its id"
        try:
            cells[at].encode()
        except UnicodeEncodeError:
            return f"{name} {_shown_cell(cells[at])} is not text in UTF-8; save the file in UTF-8"
    value = cells[layout.at[2]]
    fault = "not finite" if NUMBER.fullmatch(value.strip(" ").encode("utf-8", "surrogateescape")) else "not a number"
    return f"the {VALUE[layout.kind]} {_shown_cell(value)} is {fault}"


# JSON


def _from_json(stream: _Stream, wanted: _Wanted, pool: ThreadPoolExecutor) -> tuple[str, Iterator[_Part]]:
    """Return the rows of values line by line, if the first line is an object of its own, or else of one value."""
    chunks = _chunks(stream, math.inf)
    head = next(chunks)
    line = head.lstrip().split(b"\n", 1)[0]
    try:
        first = json.loads(line) if line.startswith(b"{") else None
    except (ValueError, RecursionError):  # it goes on in the next lines
        first = None
    if first is not None and not _is_saved(first):
        parse = partial(_parse_json_lines, reading=_Reading(first, wanted))
        return "line {}", chain([_Part(ROWS.empty_table(), 1)], _in_threads(pool, parse, chain([head], chunks)))
    try:
        value = parse_json(head + b"".join(chunks))
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    if _is_saved(value):
        raise SavedResultError(value)
    if not isinstance(value, list):
        return "", iter([_json_part([(0, value)], 1, _Reading(value, wanted))])
    wanted.limits.check("rows", len(value))
    reading = _Reading(value[0] if value else {}, wanted)
    return "record {} (from 0)", iter([_json_part(list(enumerate(value)), len(value), reading)])


def _is_saved(value: Any) -> bool:
    """Return whether a value is what `to_dict` gave, of one result or of several by name."""
    results = value.values() if isinstance(value, dict) and "signature" not in value else [value]
    fields = {"signature": str, "scores": dict}
    return len(results) > 0 and all(
        isinstance(each, dict) and all(isinstance(each.get(name), kind) for name, kind in fields.items())
        for each in results
    )


class _Reading:
    """How objects of JSON are read: as records, whose names are those of the first, or else as mappings."""

    def __init__(self, first: Any, wanted: _Wanted) -> None:
        self.kind, self.names = wanted.kind, None
        if isinstance(first, dict) and first:
            columns = {name for name, value in first.items() if not isinstance(value, (dict, list))}
            if len(columns) == len(first) or _are_columns(columns, wanted):
                self.names = [list(first)[at] for at in _chosen(list(first), wanted)]

    def groups(self, value: Any) -> Iterator[tuple[Any, Iterable[Any], Iterable[Any]]]:
        """Yield a query, documents and their values, for each query.

        Raises:
            ValueError: something that is no object, or has a name twice.
        """
        if not isinstance(value, dict):
            raise ValueError(f"{_shown_cell(value)} is no JSON object, {{...}}")
        if self.names:
            query, document, *number = map(value.get, self.names)
            yield query, [document], number or [1.0]
            return
        value = _only_ranking(value)
        for query, documents in value.items():
            if self.kind == "exclude" and isinstance(documents, (list, dict)):
                yield query, documents, [1.0] * len(documents)
                continue
            if not isinstance(documents, dict):
                wanted = "a list of ids" if self.kind == "exclude" else f"an object {{document: {VALUE[self.kind]}}}"
                raise ValueError(f"query {_shown_cell(query)}: must be {wanted}; got {_shown_cell(documents)}")
            yield query, documents.keys(), documents.values()


def parse_json(text: bytes) -> Any:
    """Return the value of JSON in UTF-8, with or without a byte order mark.

    ``NaN`` and ``Infinity``, which Python writes, are floats: whoever reads the value rejects them by their place.

    Raises:
        json.JSONDecodeError: a ValueError that has the line and the column; the text is not JSON.
        ValueError: the text is not UTF-8, nests too deep, or has a name twice in one object or an integer of more
            digits than Python reads. Says so without the name of the file.

    >>> parse_json(b'{"q1": {"d1": 0.5}}')
    {'q1': {'d1': 0.5}}
    """
    try:
        return json.loads(text.decode("utf-8-sig"), object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("nests objects too deep") from None
    except UnicodeDecodeError:
        raise ValueError("is not text in UTF-8; save the file in UTF-8") from None
    except (json.JSONDecodeError, _RepeatedNameError):
        raise
    except ValueError:  # a hook for integers would do without this, but takes half as long again
        raise _long_integer(text) from None


class _RepeatedNameError(ValueError):
    """An object of JSON has a name twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        problem = f"{_shown_cell(name)} is there twice in one object, {_shown_cell(found)}; give each id once"
        raise _RepeatedNameError(problem)
    return found


def _long_integer(text: bytes) -> ValueError:
    """Return the error for an integer of more digits than Python reads."""
    limit = sys.get_int_max_str_digits()
    digits = max(re.findall(rb"[0-9]+", text), key=len)
    line = text.count(b"\n", 0, text.index(digits)) + 1
    place = f"line {line}: " if b"\n" in text else ""
    problem = f"holds an integer of {len(digits):,} digits, {digits[:9].decode()}…, more than {limit:,}"
    return ValueError(f"{place}{problem}; write ids as text, and numbers as float64 holds them")


def _only_ranking(found: dict[str, Any]) -> dict[str, Any]:
    """Return the only ``{query: {document: value}}`` in a mapping of them, such as MTEB's of subsets and splits."""
    rankings = list(rankings_in({name: value for name, value in found.items() if name != "mteb_model_meta"}))
    if len(rankings) == 1:
        return rankings[0][1]
    there = _brief(("".join(f"[{_shown_cell(key)}]" for key in keys) for keys, _ in rankings), ", ")
    keys = "".join(f"[{key!r}]" for key in rankings[0][0]) if rankings else ""
    raise ValueError(f"holds {len(rankings)} rankings: {there}; read it by json.load and give one, such as file{keys}")


def rankings_in(found: dict[str, Any], keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield each ``{query: {document: value}}`` in a mapping of them, with the names that lead to it."""
    inner = [value for value in found.values() if isinstance(value, dict) and value]
    if not inner or not all(isinstance(next(iter(value.values())), dict) for value in inner):
        yield keys, found
        return
    for name, value in found.items():
        if isinstance(value, dict):
            yield from rankings_in(value, (*keys, name))


def _parse_json_lines(text: bytes, reading: _Reading) -> _Part:
    """Return the rows of lines of JSON; those of plain records by Arrow."""
    lines = text.removesuffix(b"\n").split(b"\n")
    if reading.names:
        from pyarrow import json as arrow_json  # when it is needed

        types = dict(zip(reading.names, (pa.string(), pa.string(), pa.float64()), strict=False))
        how = arrow_json.ParseOptions(explicit_schema=pa.schema(types), unexpected_field_behavior="ignore")
        block = arrow_json.ReadOptions(block_size=len(text) + 1, use_threads=False)
        try:
            text.decode()
            found = arrow_json.read_json(pa.BufferReader(text), read_options=block, parse_options=how)
            table = _id_table(*(found[name].combine_chunks() for name in reading.names))
            exact = pc.max(pc.abs(table["value"])).as_py()
            if len(table) == len(lines) and not _faults(table).any() and exact < 2**53:
                return _Part(table, len(lines))
        except (pa.ArrowInvalid, UnicodeError):
            pass  # as the lines one by one will say
    values: list[tuple[int, Any]] = []
    problem = ""
    for number, line in enumerate(lines):
        try:
            if line.strip():
                values.append((number, parse_json(line)))
        except json.JSONDecodeError as error:
            problem = f"not JSON: {error.msg}, at column {error.colno}"
        except ValueError as error:
            problem = str(error)
        if problem:
            break
    return _json_part(values, len(lines), reading, number, problem)


def _json_part(
    values: list[tuple[int, Any]], span: int, reading: _Reading, number: int = 0, problem: str = ""
) -> _Part:
    """Return the rows of values and their numbers; what is wrong with the one of a number, that comes after them."""
    queries: list[Any] = []
    documents: list[Any] = []
    cells: list[Any] = []
    lengths, of_query = [], []
    for at, value in values:
        try:
            for query, its_documents, its_values in reading.groups(value):
                queries.append(query)
                of_query.append(at)
                documents.extend(its_documents)
                cells.extend(its_values)
                lengths.append(len(documents))
        except ValueError as error:
            number, problem = at, str(error)
            break
    rows = np.repeat(np.arange(len(queries)), np.diff(np.array([0, *lengths])))
    numbers = np.append(np.array(of_query, np.int64)[rows], number)
    texts = pc.dictionary_encode(_texts(queries))
    query = pa.DictionaryArray.from_arrays(texts.indices.take(pa.array(rows)), texts.dictionary)
    table = _id_table(query, _texts(documents), _numbers(cells))
    return _checked(
        _Part(table, span, numbers, problem), lambda row: (queries[rows[row]], documents[row], cells[row]), reading.kind
    )


def _texts(ids: list[Any]) -> pa.StringArray:
    """Return ids as text, null where they are neither text nor integers."""
    if set(map(type, ids)) <= {str}:
        try:
            return pa.array(ids, pa.string())
        except UnicodeEncodeError:
            pass
    return pa.array([str(each) if _is_id(each) else None for each in ids], pa.string())


def _is_id(value: Any) -> bool:
    return bool(id_kind(type(value))) and not (isinstance(value, str) and SURROGATE.search(value))


def _numbers(values: list[Any]) -> pa.DoubleArray:
    """Return numbers, null where there are none, or integers that float64 would round."""
    if not set(map(type, values)) <= {float}:
        values = [
            float(each)
            if isinstance(each, (int, float)) and -(2**1023) < each < 2**1023 and each == float(each)
            else None
            for each in values
        ]
    return pa.array(values, pa.float64())


# Tables


def _from_table(form: str, file: Any, wanted: _Wanted) -> Iterator[_Part]:
    """Yield the rows of a Parquet or an Arrow file."""
    limits = wanted.limits
    unpacked, bounded = 0, limits.unpacked is not None
    if form == "parquet":
        from pyarrow import parquet as arrow_parquet  # when it is needed, since it takes long

        how = {"thrift_container_size_limit": 1 << 16} if bounded else {}  # of columns and row groups
        parquet = arrow_parquet.ParquetFile(file, **how)
        chosen = _chosen_fields(parquet.schema_arrow, wanted)
        limits.check("rows", parquet.metadata.num_rows)
        if bounded:  # a text that is there once may be that of many rows, so it is unpacked once
            _check_packed(parquet.metadata, chosen, limits)
            parquet = arrow_parquet.ParquetFile(file, metadata=parquet.metadata, read_dictionary=chosen[:2])
        batches = parquet.iter_batches(1 << 16, columns=chosen)
    elif bounded:
        raise ValueError("is an Arrow file, which does not say how much it unpacks to; give Parquet")
    else:
        reader = pa.ipc.open_file(file) if form == "arrow" else pa.ipc.open_stream(file)
        chosen = _chosen_fields(reader.schema, wanted)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if form == "arrow" else reader
    for batch in batches:
        batch.validate(full=True)
        cells = [batch[name] for name in chosen]
        if bounded:
            unpacked += sum(map(_unpacked, cells))
            limits.check("unpacked", unpacked)
        table = _id_table(*map(_text_column, cells[:2]), *map(_number_column, cells[2:]))
        yield _checked(_Part(table, len(table)), partial(_cells_of, cells), wanted.kind)


def _chosen_fields(schema: pa.Schema, wanted: _Wanted) -> list[str]:
    """Return the names of a table's queries, documents and values, once they are known to be ids and numbers."""
    fields = [schema.field(at) for at in _chosen(schema.names, wanted)]
    for field in fields[:2]:
        kind = _value_type(field.type)
        if id_kind(kind) not in FILE_IDS and not pa.types.is_null(kind):
            problem = f"holds {kind}; ids are text or integers, so convert it"
            raise ValueError(f"the column {field.name!r} {problem}")
    for field in fields[2:]:
        if not any(test(field.type) for test in NUMBER_TYPES):
            raise ValueError(f"the column {field.name!r} holds {field.type}; it must hold numbers, so convert it")
    return [field.name for field in fields]


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _check_packed(metadata: Any, chosen: Sequence[str], limits: Limits) -> None:
    """Raise an error for columns of Parquet that, by the file's own account, unpack to more than they may."""
    limits.check("columns", metadata.num_columns)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    chunks = [group.column(at) for group in groups for at in range(metadata.num_columns)]
    chunks = [chunk for chunk in chunks if chunk.path_in_schema in chosen]
    limits.check("unpacked", sum(chunk.total_uncompressed_size for chunk in chunks))
    if any(encoding.startswith("DELTA") and "BYTE" in encoding for chunk in chunks for encoding in chunk.encodings):
        raise ValueError("holds ids as DELTA_BYTE_ARRAY, which may unpack to any size; use another encoding")


def _unpacked(column: pa.Array) -> int:
    """Return how many bytes a column takes, one of a dictionary as plain text."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary.cast(pa.string()))
    return pc.sum(lengths.take(column.indices)).as_py() or 0


def _cells_of(cells: list[pa.Array], row: int) -> list[Any]:
    return [column[row].as_py() for column in cells]


def _text_column(column: pa.Array) -> pa.StringArray:
    """Return a column of ids as text."""
    return column.cast(_value_type(column.type)).cast(pa.string())


def _number_column(column: pa.Array) -> pa.DoubleArray:
    """Return a column of numbers, null where there are none, or integers that float64 would round."""
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return _numbers(column.to_pylist())


def _id_table(query: pa.Array, document: pa.Array, value: pa.Array | None = None) -> pa.Table:
    """Return rows; without values, that of each is 1."""
    return pa.table([query.cast(QUERY), document, np.ones(len(query)) if value is None else value], schema=ROWS)


def _faults(table: pa.Table) -> NDArray[np.bool_]:
    """Return where a row lacks an id or a finite number."""
    faults: NDArray[np.bool_] = ~np.isfinite(table["value"].to_numpy())
    for ids in (table["query"].cast(pa.string()), table["document"]):
        faults |= pc.equal(pc.fill_null(pc.binary_length(ids), 0), 0).to_numpy()
    return faults


def _checked(part: _Part, cells: Callable[[int], Sequence[Any]], kind: str) -> _Part:
    """Return the rows before the first that is at fault, and what is wrong with that one, by its cells."""
    faults = _faults(part.table)
    if not faults.any():
        return part
    row = int(faults.argmax())
    query, document, *values = cells(row)
    ids, value = (query, document), values[0] if values else None
    for name, cell in zip(("query", "document"), ids, strict=True):
        if cell is None or cell == "":
            return part._replace(table=part.table[:row], problem=f"has no {name}; give each row its id")
        if not _is_id(cell):
            problem = f"the {name} {_shown_cell(cell)} {NO_ID}"
            return part._replace(table=part.table[:row], problem=problem)
    fault = "is not a number"
    if isinstance(value, (int, float)):
        fault = "is not finite" if value - value != 0 else "has more digits than float64 holds"
    of = f"document {_shown_cell(ids[1])} of query {_shown_cell(ids[0])}"
    problem = f"the {VALUE[kind]} {_shown_cell(value)} of {of} {fault}"
    if value is None:
        problem = f"{of} has no {VALUE[kind]}; give it one, or leave it out"
    return part._replace(table=part.table[:row], problem=problem)


# Words


def _brief(names: Iterable[str], separator: str) -> str:
    """Return names one after the other, as many as a message has room for."""
    names = list(names)
    return separator.join(names[:9]) + (f"{separator}…" if len(names) > 9 else "")


def _shown_cell(cell: Any) -> str:
    """Return a cell as a message shows it, as much of it as there is room for."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    if not isinstance(cell, str):
        return _shown_cell(str(cell))[1:-1]
    text = SURROGATE.sub("\N{REPLACEMENT CHARACTER}", cell)
    return repr(text if len(text) <= 100 else text[:99] + "…")
