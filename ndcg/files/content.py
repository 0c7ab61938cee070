"""Read the content of files: decompressed and counted bytes, lines in chunks, and JSON."""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from ..inputs.ids import SURROGATE
from ..measure.messages import InputError, place_of_file, visible, within

CHUNK = 1 << 20  # bytes that are parsed at a time: few enough that their memory is reused
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The beginning of text in UTF-16 or UTF-32: a byte order mark, or ASCII between zero bytes.
UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff|(?:[\x01-\x7f]\0){2}|(?:\0[\x01-\x7f]){2}")
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # by their first bytes
NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
LINE = 1 << 20  # bytes of the longest line of TREC and CSV files
NUMBER = re.compile(  # numbers that Arrow's parser accepts, finite or not
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan(?:\(\w*\))?)",
    re.IGNORECASE,
)
NOT_UTF_8 = "is not text in UTF-8; save the file in UTF-8"
NO_TEXT = {  # characters that no line may contain, and why
    b"\r": "holds a carriage return; end lines in a line feed, with or without one before it",
    b"\0": "holds a NUL byte, which no text does; save the file in UTF-8",
}


class Limits(NamedTuple):
    """How much a file may contain; None for no limit.

    Attributes:
        bytes: the size of the file in bytes.
        uncompressed: the size of its uncompressed content in bytes; a fifth of it for JSON.
        rows: the number of rows, one per query and document.
        queries: the number of distinct queries.
        columns: the number of columns of a table.
    """

    bytes: int | None = None
    uncompressed: int | None = None
    rows: int | None = None
    queries: int | None = None
    columns: int | None = None

    def check(self, name: str, count: int) -> None:
        """Raise an error if a count exceeds its limit."""
        limit = getattr(self, name)
        if limit is not None and count > limit:
            unit = "bytes uncompressed" if name == "uncompressed" else name
            problem = f"holds too many {unit}: the limit here is {limit:,}"
            raise ValueError(f"{problem}; give a part of it")


NO_LIMITS = Limits()


class FileError(OSError, ValueError):
    """A file cannot be read.

    It is an OSError, as `open` raises, and a ValueError, like all other errors in an argument.
    Its `argument` names the file, with a colon; it is empty in functions that read one file.

    >>> print(FileError(21, "Is a directory", "runs"))
    runs: Is a directory
    """

    argument = ""

    def __str__(self) -> str:
        if len(self.filename) > 500:
            # Somebody passed the content of a file.
            name = shown_cell(self.filename)
        else:
            name = visible(self.filename)
        return f"{self.argument}{name}: {self.strerror}"


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class SavedResultError(InputError):
    """A file contains results of `to_dict`, for one run or several, instead of rankings."""

    def __init__(self, value: dict[str, Any]) -> None:
        problem = "is a saved result, which holds no documents"
        super().__init__(f"{problem}; give the file that was scored")
        self.value = value


# Bytes


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """Name the file in every error."""
    try:
        yield
    except OSError as error:
        # Decompression and Parquet give only a message.
        problem = error.strerror or _first_line(error)
        if isinstance(error, FileNotFoundError):
            raise MissingFileError(error.errno, problem, path) from None
        raise FileError(error.errno, problem, path) from None
    except pa.ArrowException as error:
        problem = "cannot be read, so it may be damaged or cut short"
        raise InputError(f"{problem}: {_first_line(error)}", place_of_file(path)) from None
    except RecursionError:  # raised for values that JSON's parser accepts
        raise InputError("nests objects too deep", place_of_file(path)) from None
    except ValueError as error:
        raise within(error, place_of_file(path)) from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


class ByteStream(io.RawIOBase):
    """The bytes of a file, up to a limit; `peek` shows the next ones before they are read."""

    def __init__(self, file: Any, limits: Limits, unit: str) -> None:
        self.file = file
        self.limits = limits
        self.unit = unit  # the limit that counts these bytes
        self.head = b""  # bytes that were shown, but not read
        self.count = 0

    def readable(self) -> bool:
        """Return True, as pyarrow expects of a file."""
        return True

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        while len(self.head) < size:
            more = self._next(size - len(self.head))
            if not more:
                break
            self.head += more
        return self.head[:size]

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, fewer only at the end, or all of them."""
        if size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        chunk = self.head[:size]
        self.head = self.head[size:]
        if len(chunk) < size:
            chunk += self._next(size - len(chunk))
        return chunk

    def _next(self, size: int) -> bytes:
        chunk: bytes = self.file.read(size) or b""
        self.count += len(chunk)
        self.limits.check(self.unit, self.count)
        return chunk


def read_content(path: str, limits: Limits = NO_LIMITS) -> bytes:
    """Return the bytes that a file or a pipe holds, decompressed if they are compressed."""
    with naming_file(path), open(path, "rb") as file:
        return unpacked_stream(file, limits)[0].read()


def unpacked_stream(file: BinaryIO, limits: Limits) -> tuple[ByteStream, bool]:
    """Return the decompressed bytes of a file, and whether it was compressed."""
    packed = ByteStream(file, limits, "bytes")
    start = packed.peek(4)
    for beginning, compression in COMPRESSIONS.items():
        if start.startswith(beginning):
            content = pa.CompressedInputStream(pa.PythonFile(packed, "r"), compression)
            return ByteStream(content, limits, "uncompressed"), True
    return ByteStream(packed, limits, "uncompressed"), False


def check_encoding(start: bytes) -> None:
    r"""Raise an error if the first bytes are text in UTF-16.

    >>> check_encoding("q1".encode("utf-16"))
    Traceback (most recent call last):
    ...
    ValueError: is text in UTF-16; save the file in UTF-8
    """
    if UTF_16.match(start):
        raise ValueError("is text in UTF-16; save the file in UTF-8")


def utf8_text(content: bytes) -> str:
    """Return text in UTF-8, with or without a byte order mark."""
    check_encoding(content[:4])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(NOT_UTF_8) from None


# Lines


def line_chunks(stream: ByteStream, longest: float) -> Iterator[bytes]:
    """Yield a file in chunks of whole lines, and only the beginning of a line that is too long."""
    rest = b""
    while data := stream.read(CHUNK):
        data = rest + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > longest + 1:  # including a carriage return
            end = len(data)
        rest = data[end:]
        if end:
            yield data[:end]
    if rest:
        yield rest


def delimiter_of(header: str) -> str:
    """Return the delimiter of a header: the most frequent of a comma, a semicolon and a tab.

    >>> delimiter_of("query;document;score, raw"), delimiter_of("query")
    (';', ',')
    """
    return max(",;\t", key=header.count)


# JSON


def parse_json(text: bytes, place: str = "line {0.lineno}, column {0.colno}") -> Any:
    """Return the value of JSON in UTF-8, with or without a byte order mark.

    The place is how an error names where the text is faulty; empty if the caller names it.

    ``NaN`` and ``Infinity``, which Python writes, are floats: the caller rejects them and names
    their place. Text that is not UTF-8, nests too deep, has a name twice in one object or an
    integer with more digits than Python reads is an error, without the name of the file.

    >>> parse_json(b'{"q1": {"d1": 0.5}}')
    {'q1': {'d1': 0.5}}
    """
    decoded = utf8_text(text)
    try:
        return DECODER.decode(decoded)
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}", place.format(error)) from None
    except RecursionError:
        raise ValueError("nests objects too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        problem = f"{shown_cell(name)} appears twice in one object, {shown_cell(value)}"
        raise ValueError(f"{problem}; give each id once")
    return value


DECODER = json.JSONDecoder(object_pairs_hook=_object)


# Words


def columns_text(count: int) -> str:
    """Return a number of columns in words."""
    return "1 column" if count == 1 else f"{count} columns"


def shown_cell(cell: Any) -> str:
    """Return a cell as a message shows it, shortened if it is long."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    if not isinstance(cell, str):
        return shown_cell(str(cell))[1:-1]
    text = SURROGATE.sub("\N{REPLACEMENT CHARACTER}", cell)
    if len(text) > 100:
        text = text[:99] + "…"
    return repr(text)
