"""TREC run and qrels files <-> columns and mappings.

A run has six columns, ``query Q0 document rank score tag``; qrels have four, ``query 0
document relevance``. Columns are separated by spaces or tabs; lines that are empty or begin
with ``#`` are skipped; files that end in ``.gz`` are decompressed. The rank column is not
looked at: as in trec_eval, the score alone orders the documents. A number is what Arrow's parser
takes for one. A file is read once, from the first byte to the last: it may be a pipe.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from .messages import shown

CHUNK = 1 << 22  # bytes of a file that are parsed at a time: little enough that their memory is used again
LINE = 1 << 20  # bytes of the longest line
ODD = np.uint64(0x9E3779B97F4A7C15)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"  # by which its files begin
QUERY = pa.dictionary(pa.int32(), pa.string())
COLUMNS = {
    "run": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iteration", "document", "relevance"),
}
NO_TEXT = {  # what no line may hold, and why
    b"\r": "holds a carriage return; end lines in a line feed, with or without one before it",
    b"\0": "holds a NUL byte, which no text does; save the file in UTF-8",
}
VALUE = {"run": 4, "qrels": 3}  # where the score or the relevance stands
LAYOUT = {
    "run": f"a run has 6: {' '.join(COLUMNS['run'])}",
    "qrels": f"qrels have 4: {' '.join(COLUMNS['qrels'])}",
}


class Columns(NamedTuple):
    """The lines of a run or of qrels.

    Attributes:
        query: of each line, an index into ``query_ids``.
        query_ids: distinct strings, in the order of the file.
        document: the id of each line's document.
        value: the score or the relevance of each line.
    """

    query: NDArray[np.int64]
    query_ids: pa.StringArray
    document: pa.ChunkedArray
    value: NDArray[np.float64]


def read_columns(path: str | os.PathLike[str], kind: str) -> Columns:
    """Read a file.

    Args:
        path: the file.
        kind: ``"run"`` or ``"qrels"``.

    Raises:
        ValueError: a line that is malformed, a value that is not a finite number, a document
            that occurs twice for a query, no lines at all. Names the file and the line.
        OSError: the file cannot be read.
    """
    path = os.fsdecode(path)
    tables: list[pa.Table] = []
    skipped = [np.empty(0, np.int64)]  # numbers of the lines that are no rows
    rows = lines = 0
    problem = ""
    for chunk in _chunks(path):
        text, blank, problem = _plain(chunk)
        if len(blank):
            skipped.append(lines + blank)
        if text:
            table, refused = _parse(text, kind)
            tables.append(table)
            rows, problem = rows + len(table), refused or problem
            lines += len(table)
        lines += len(blank)
        if problem:
            break

    def place(row: int) -> str:
        numbers = np.concatenate(skipped)
        before = np.searchsorted(numbers - np.arange(len(numbers)), row + 1, side="right")
        return f"line {row + 1 + before}"

    if rows:
        columns = _columns(tables, kind)
        if repeated := _repeated(columns):
            first, again = repeated
            document = shown(columns.document[again].as_py())
            query = shown(columns.query_ids[columns.query[again]].as_py())
            raise ValueError(
                f"{path}: {place(again)}: document {document} of query {query} is in {place(first)} already"
            )
    if problem:
        raise ValueError(f"{path}: {place(rows)}: {problem}")
    if not rows:
        raise ValueError(f"{path}: holds no lines of columns; {LAYOUT[kind]}")
    return columns


def read_run(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """The scores of a TREC run: ``{query: {document: score}}``.

    Raises:
        ValueError: as ``read_columns``.
    """
    return _mapping(read_columns(path, "run"))


def read_qrels(path: str | os.PathLike[str]) -> dict[str, dict[str, int]]:
    """The relevances of TREC qrels: ``{query: {document: relevance}}``, integers where all are.

    Raises:
        ValueError: as ``read_columns``.
    """
    columns = read_columns(path, "qrels")
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


def _columns(tables: list[pa.Table], kind: str) -> Columns:
    table = pa.concat_tables(tables).unify_dictionaries()
    query = np.concatenate([chunk.indices for chunk in table["query"].chunks]).astype(np.int64)
    value = table[COLUMNS[kind][VALUE[kind]]].to_numpy()
    return Columns(query, table["query"].chunk(0).dictionary, table["document"], value)


def _repeated(columns: Columns) -> tuple[int, int] | None:
    """The first row whose query and document an earlier row has, after that one."""
    pairs = _hashes(columns.document) * ODD + columns.query.view(np.uint64)
    ascending = np.sort(pairs)
    if (ascending[1:] != ascending[:-1]).all():
        return None
    order = np.argsort(pairs, kind="stable")
    suspected = np.sort(order[1:][pairs[order][1:] == pairs[order][:-1]])
    for row in suspected.tolist():  # others may share a hash
        for earlier in np.flatnonzero(pairs[:row] == pairs[row]).tolist():
            same_query = columns.query[earlier] == columns.query[row]
            if same_query and columns.document[earlier] == columns.document[row]:
                return earlier, row
    return None


def _hashes(ids: pa.ChunkedArray) -> NDArray[np.uint64]:
    """A number of 64 bits for each id, of its bytes alone: the mixed sum of its words of eight bytes."""
    hashes = []
    for chunk in ids.chunks:
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = np.append(np.frombuffer(chunk.buffers()[2], np.uint8), np.zeros(8, np.uint8))
        words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # the eight bytes from each byte on
        lengths = np.diff(offsets).astype(np.int64)
        counts = (lengths + 7) // 8
        first = np.cumsum(counts) - counts
        start = 8 * (np.arange(counts.sum()) - np.repeat(first, counts))  # of each word in its id
        mixed = words[np.repeat(offsets[:-1], counts) + start]
        beyond = np.maximum(start + 8 - np.repeat(lengths, counts), 0)  # bytes of the next id
        mixed <<= 8 * beyond.view(np.uint64)
        mixed ^= start.view(np.uint64) * ODD
        for _ in range(2):
            mixed *= ODD
            mixed ^= mixed >> np.uint64(32)
        hashes.append(np.add.reduceat(mixed, first) ^ lengths.view(np.uint64))
    return np.concatenate(hashes)


def _chunks(path: str) -> Iterator[bytes]:
    """The file in chunks of whole lines; of a line that is too long only its beginning."""
    compression = "gzip" if path.endswith(".gz") else None
    try:
        with open(path, "rb") as file, pa.input_stream(file, compression=compression) as lines:
            rest = (lines.read(len(BYTE_ORDER_MARK)) or b"").removeprefix(BYTE_ORDER_MARK)
            if rest.startswith(GZIP):
                raise ValueError(f"{path}: is compressed by gzip; let its name end in .gz, or decompress it")
            while data := lines.read(CHUNK):
                data = rest + data
                end = data.rfind(b"\n") + 1
                if len(data) - end > LINE + 1:  # and a carriage return
                    end = len(data)
                rest = data[end:]
                if end:
                    yield data[:end]
            yield rest
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, str(error).splitlines()[0], path) from None  # of decompression


def _plain(text: bytes) -> tuple[bytes, NDArray[np.int64], str]:
    """The rows of whole lines, their columns separated by one space.

    Returns:
        The rows as text; the numbers of the lines that are no rows, from 1; what is wrong with
        the line that comes next, if rows end at one that cannot be parsed.
    """
    problem = ""
    if b"\t" in text:
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
    white = np.frombuffer(text, np.uint8) <= ord(" ")
    irregular = (white[1:] & white[:-1]).any() or white[:1].any() or text.endswith(b" ")
    if irregular:
        while b"  " in text:
            text = text.replace(b"  ", b" ")
        text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    blank: list[int] = []
    empty = irregular and (text.startswith(b"\n") or b"\n\n" in text)  # two bytes are slow to find
    if empty or (b"#" in text and (text.startswith(b"#") or b"\n#" in text)):
        lines = text.removesuffix(b"\n").split(b"\n")
        blank = [number for number, line in enumerate(lines, 1) if not line or line.startswith(b"#")]
        text = b"\n".join(line for line in lines if line and not line.startswith(b"#"))
    return text, np.array(blank, np.int64), problem


def _parse(text: bytes, kind: str) -> tuple[pa.Table, str]:
    """The rows before the first that is at fault, and what is wrong with that one."""
    name, problem = COLUMNS[kind][VALUE[kind]], ""
    try:
        table = _parse_rows(text, kind)
    except pa.ArrowInvalid:
        rows = text.split(b"\n")
        good, bad = 0, len(rows)  # rows[:good] can be parsed, rows[:bad] cannot
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                _parse_rows(b"\n".join(rows[good:middle]), kind)
                good = middle
            except pa.ArrowInvalid:
                bad = middle
        text, problem = b"\n".join(rows[:good]), _problem(rows[good], kind)
        table = _parse_rows(text, kind)
    finite = np.isfinite(table[name])
    if not finite.all():
        row = int(finite.argmin())
        cell = text.split(b"\n")[row].split(b" ")[VALUE[kind]].decode("utf-8", "replace")
        table, problem = table[:row], f"the {name} {shown(cell)} is not finite"
    return table, problem


def _parse_rows(text: bytes, kind: str) -> pa.Table:
    """Rows as a table.

    Raises:
        pa.ArrowInvalid: a row of other columns, an id that is not UTF-8, a value that is no number.
    """
    value = COLUMNS[kind][VALUE[kind]]
    types = {"query": QUERY, "document": pa.string(), value: pa.float64()}
    if not text:
        return pa.schema(types).empty_table()
    if text.startswith(BYTE_ORDER_MARK):
        text = BYTE_ORDER_MARK + text  # Arrow takes one off, also in the middle of a file
    longest = len(BYTE_ORDER_MARK) + LINE + 1  # with the end of the line
    return pa.csv.read_csv(
        pa.BufferReader(text),
        read_options=pa.csv.ReadOptions(column_names=COLUMNS[kind], block_size=longest),
        parse_options=pa.csv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
    )


def _problem(row: bytes, kind: str) -> str:
    """Return what is wrong with a row that cannot be parsed."""
    cells, names = row.split(b" "), COLUMNS[kind]
    if len(cells) != len(names):
        return f"{len(cells)} column{'s' * (len(cells) > 1)}; {LAYOUT[kind]}"
    texts = [cell.decode("utf-8", "replace") for cell in cells]
    for name in ("query", "document"):
        at = names.index(name)
        if texts[at].encode() != cells[at]:
            return f"{name} {shown(texts[at])} is not text in UTF-8; save the file in UTF-8"
    return f"the {names[VALUE[kind]]} {shown(texts[VALUE[kind]])} is not a number"
