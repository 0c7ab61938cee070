"""TREC run and qrels files <-> columns and mappings.

A run has six columns, ``query Q0 document rank score tag``; qrels have four, ``query 0
document relevance``. Columns are separated by spaces or tabs; lines that are empty or begin
with ``#`` are skipped; files that end in ``.gz`` are decompressed. The rank column is not
looked at: as in trec_eval, the score alone orders the documents.
"""

import gzip
import math
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

CHUNK = 1 << 22  # bytes of a file that are parsed at a time: little enough that their memory is used again
ODD = np.uint64(0x9E3779B97F4A7C15)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
QUERY = pa.dictionary(pa.int32(), pa.string())
COLUMNS = {
    "run": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iteration", "document", "relevance"),
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
    path = os.fspath(path)
    value = COLUMNS[kind][-1 if kind == "qrels" else -2]
    options = {
        "read_options": pa.csv.ReadOptions(column_names=COLUMNS[kind]),
        "parse_options": pa.csv.ParseOptions(delimiter=" ", quote_char=False),
        "convert_options": pa.csv.ConvertOptions(
            column_types={"query": QUERY, "document": pa.string(), value: pa.float64()},
            include_columns=["query", "document", value],
            null_values=[],
        ),
    }
    try:
        tables = [pa.csv.read_csv(pa.BufferReader(chunk), **options) for chunk in _chunks(path)]
    except pa.ArrowInvalid as error:
        _find_fault(path, kind)
        raise ValueError(f"{path}: not a {kind} file: {str(error).splitlines()[0]}") from None
    except OSError as error:
        if error.filename is not None:
            raise
        raise OSError(error.errno, str(error).splitlines()[0], path) from None  # of decompression
    if not tables:
        raise ValueError(f"{path}: holds no lines; {kind} have the columns {' '.join(COLUMNS[kind])}")
    table = pa.concat_tables(tables).unify_dictionaries()
    query = np.concatenate([chunk.indices for chunk in table["query"].chunks]).astype(np.int64)
    columns = Columns(query, table["query"].chunk(0).dictionary, table["document"], table[value].to_numpy())
    pairs = np.sort(_hashes(columns.document) * ODD + columns.query.view(np.uint64))
    if not np.isfinite(columns.value).all() or (pairs[1:] == pairs[:-1]).any():
        _find_fault(path, kind)  # nothing, if two pairs have but the same hash
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


def _hashes(ids: pa.ChunkedArray) -> NDArray[np.uint64]:
    """A number of 64 bits for each id, eight of its bytes at a time."""
    hashes = []
    for chunk in ids.chunks:
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = np.append(np.frombuffer(chunk.buffers()[2] or b"", np.uint8), np.zeros(8, np.uint8))
        words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # the eight bytes from each byte on
        lengths = np.diff(offsets)
        hashed = lengths.astype(np.uint64)
        for start in range(0, int(lengths.max(initial=0)), 8):
            word = words.take(offsets[:-1] + start, mode="clip")
            beyond = (64 - 8 * np.clip(lengths - start, 0, 8)).astype(np.uint64)  # bits of the next id
            hashed = (hashed ^ np.where(beyond < 64, word << (beyond & np.uint64(63)), 0)) * ODD
            hashed ^= hashed >> np.uint64(29)
        hashes.append(hashed)
    return np.concatenate(hashes)


def _chunks(path: str) -> Iterator[bytes]:
    """The file's whole lines in chunks, columns separated by one space, without comments."""
    with open(path, "rb") as file, pa.input_stream(file, compression="gzip" if path.endswith(".gz") else None) as lines:
        rest = (lines.read(len(BYTE_ORDER_MARK)) or b"").removeprefix(BYTE_ORDER_MARK)
        while data := lines.read(CHUNK):
            data = rest + data
            end = data.rfind(b"\n") + 1
            rest = data[end:]
            if data := _plain(data[:end]):
                yield data
        if rest := _plain(rest):
            yield rest


def _plain(data: bytes) -> bytes:
    """Lines whose columns are separated by one space, nothing around them."""
    if b"\t" in data:
        data = data.replace(b"\t", b" ")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").removesuffix(b"\r")
        if b"\r" in data:
            raise pa.ArrowInvalid("a carriage return within a line")
    white = np.frombuffer(data, np.uint8) <= ord(" ")
    if (white[1:] & white[:-1]).any() or white[:1].any() or data.endswith(b" "):
        while b"  " in data:
            data = data.replace(b"  ", b" ")
        data = re.sub(rb"(?m)^ | $", b"", data)
    if b"#" in data:
        data = re.sub(rb"(?m)^#.*\n?", b"", data)
    return b"" if data.isspace() and not data.strip(b" \n") else data


def _find_fault(path: str, kind: str) -> None:
    """Raise the error for the first line at fault: slowly, line by line."""
    seen: dict[tuple[str, str], int] = {}
    names = COLUMNS[kind]
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            place = f"{path}: line {number}"
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r"):
                raise ValueError(
                    f"{place}: holds a carriage return; lines end in a line feed, with one before it or not"
                )
            if not line.strip(b" \t\r\n") or line.lstrip(b" \t").startswith(b"#"):
                continue
            try:
                cells = [cell.decode("utf-8") for cell in re.split(rb"[ \t]+", line.strip(b" \t\r\n"))]
            except UnicodeDecodeError:
                raise ValueError(f"{place}: is not text in UTF-8") from None
            if len(cells) != len(names):
                columns = f"{len(cells)} columns where {kind} have {len(names)}: {' '.join(names)}"
                raise ValueError(f"{place}: {columns}")
            query, document, value = cells[0], cells[2], cells[3 if kind == "qrels" else 4]
            name = "relevance" if kind == "qrels" else "score"
            if not NUMBER.fullmatch(value):
                raise ValueError(f"{place}: the {name} {value!r} is not a number")
            if not math.isfinite(float(value)):
                raise ValueError(f"{place}: the {name} {value} is not finite")
            if (first := seen.setdefault((query, document), number)) != number:
                raise ValueError(f"{place}: document {document} of query {query} is in line {first} already")
