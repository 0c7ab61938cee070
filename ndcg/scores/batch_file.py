"""Keep tables in memory or in a file, or hand them to another process in a file.

A file is a sequence of Arrow streams. A new stream begins where the types of the columns change, so
that values keep their types.

A store does not say what is valid in it: its owner remembers the `end` that the last write
returned. What is beyond this end, such as half a table that did not fit on the disk, is ignored,
and overwritten by the next write. So a table is added whole or not at all, even if an interrupt
ends the write.
"""

import mmap
import os
import tempfile
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class TablesInMemory:
    """Tables in a list; the end is the number of the valid ones."""

    def __init__(self) -> None:
        self._tables: list[pa.Table] = []

    def write(self, end: int, table: pa.Table) -> int:
        """Keep a table after the valid ones, and return the new end."""
        self._tables[end:] = [table]
        return end + 1

    def read(self, end: int) -> list[pa.Table]:
        """Return the valid tables: one for neighbours that have the same types."""
        return _concatenated(self._tables[:end])


class TablesInFile:
    """Tables in a file without a name; the end is the number of the valid bytes.

    The system removes the file when the process ends, even if it is killed.
    """

    def __init__(self, folder: str) -> None:
        # Without a buffer, which would write the rest of an interrupted table later.
        self._file: Any = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._last_stream: tuple[int, pa.Schema | None] = (0, None)  # its end and its schema

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # unset if the file could not be opened
            self._file.close()

    def write(self, end: int, table: pa.Table) -> int:
        """Write a table after the valid ones, and return the new end."""
        messages = [batch.serialize() for batch in table.to_batches()]
        if self._last_stream != (end, table.schema):
            # The types change, or an earlier write after this end was interrupted.
            messages.insert(0, table.schema.serialize())
            if end > 0:
                messages.insert(0, END_OF_STREAM)
        self._file.seek(end)
        for message in messages:
            rest = memoryview(message).cast("B")
            while rest:
                # If the disk becomes full, a part is written; the next call raises the error.
                rest = rest[self._file.write(rest) :]
        end = self._file.tell()
        self._last_stream = (end, table.schema)
        return end

    def read(self, end: int) -> list[pa.Table]:
        """Return the valid tables, memory-mapped: one for every stream."""
        return _read_streams(self._file.fileno(), end)


def write_tables(path: Path, token: str, tables: list[pa.Table]) -> None:
    """Write tables to a file, after a header with a token.

    If that fails, the file is removed, since the disk may be full.
    """
    rows = sum(table.num_rows for table in tables)
    header = pa.schema([], metadata={"token": token, "rows": str(rows)}).empty_table()
    try:
        with pa.OSFile(str(path), "wb") as file:
            for table in (header, *tables):
                with pa.ipc.new_stream(file, table.schema) as stream:
                    stream.write_table(table)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def read_tables(path: Path, token: str) -> list[pa.Table] | None:
    """Return the tables of a file, memory-mapped; None if there is no file with this token.

    They stay valid after the file is removed.

    Raises:
        OSError: the file cannot be read, or is cut off.
        pa.ArrowException: it is damaged.
    """
    try:
        with path.open("rb") as file:
            tables = _read_streams(file.fileno(), os.fstat(file.fileno()).st_size)
    except FileNotFoundError:
        return None
    if not tables:
        raise OSError("it is empty")
    header = tables.pop(0).schema.metadata or {}
    if header.get(b"token") != token.encode():
        return None
    if int(header[b"rows"]) != sum(table.num_rows for table in tables):
        raise OSError("it is cut off")
    return tables


def merged(tables: Iterable[pa.Table]) -> list[pa.Table]:
    """Return the same rows with one table, in one piece, for neighbours of the same types."""
    return [table.combine_chunks() for table in _concatenated(tables)]


def _concatenated(tables: Iterable[pa.Table]) -> list[pa.Table]:
    by_schema = groupby(tables, key=lambda table: table.schema)
    return [pa.concat_tables(neighbours) for _, neighbours in by_schema]


def _read_streams(file: int, end: int) -> list[pa.Table]:
    """Return the tables in the first bytes of an open file."""
    if end == 0:
        return []  # which cannot be mapped
    source = pa.BufferReader(pa.py_buffer(mmap.mmap(file, end, access=mmap.ACCESS_READ)))
    tables = []
    while source.tell() < end:
        tables.append(pa.ipc.open_stream(source).read_all())
    return tables
