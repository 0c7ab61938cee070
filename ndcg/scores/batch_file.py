"""Store tables in a file or in memory. A table is added completely or not at all, even if something interrupts it.

The file contains a sequence of Arrow streams. A new stream starts whenever the types of the columns change, so values
keep their types. A store does not record its contents: its owner keeps a `Contents` and gets a new one with each table.
Bytes beyond the recorded end, left by a table that was interrupted or did not fit on the disk, are ignored, and cut off
before the next table is written.

A file for another process has a name. Its first bytes are 0 until it is complete; then they contain its length. A file
for this process alone has no name, so the system removes it when the process ends, even if it is killed.
"""

import io
import mmap
import os
import tempfile
from typing import Any, NamedTuple

import pyarrow as pa

MARK = 8  # bytes at the beginning: the length of the whole file, or 0
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # the end of an Arrow stream, before the next one
TOGETHER = 1000  # rows that were added one by one and are written as one batch


class Contents(NamedTuple):
    """The contents of a store, which are replaced and never modified."""

    rows: int = 0  # the number of rows of all tables
    end: int = MARK  # the end of the valid bytes of the file
    schema: pa.Schema | None = None  # the schema of the last stream in the file
    pending: tuple[pa.Table, ...] = ()  # tables that are not yet in the file
    kept: tuple[pa.Table, ...] = ()  # tables in memory, if the store has no file


class Store:
    """A store of tables.

    They are in a file at a path, which another process reads; or in a nameless file in a folder, for this process
    alone; else in memory.
    """

    def __init__(self, path: str | None = None, folder: str | None = None) -> None:
        self.path = path
        self._file = None
        if path is not None:
            self._file = io.FileIO(path, "w+")
        elif folder is not None:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - open until `close`
        if self._file is not None:
            self._file.truncate(MARK)

    def add(self, contents: Contents, table: pa.Table) -> Contents:
        """Return the contents with a table; if it does not fit into the file, the tables before it are kept."""
        if contents.pending and contents.pending[0].schema != table.schema:
            contents = self._written(contents)
        contents = contents._replace(rows=contents.rows + table.num_rows, pending=(*contents.pending, table))
        return self._written(contents) if table.num_rows > 1 or len(contents.pending) >= TOGETHER else contents

    def tables(self, contents: Contents) -> list[pa.Table]:
        """Return its tables, memory-mapped if they are in the file: one table for each Arrow stream."""
        if self._file is None:
            return [*contents.kept, *contents.pending]
        if not self.is_whole(contents):
            raise self._lost()
        return [*_mapped(self._file, contents.end), *contents.pending]

    def finish(self, contents: Contents) -> None:
        """Write the pending tables, then the mark that tells another process that the file is complete."""
        self._mark(self._append(self._written(contents), []))

    def reopen(self) -> None:
        """Remove the mark, so that more can be added."""
        if self._file is not None and _marked_end(self._file):
            self._mark(0)

    def is_whole(self, contents: Contents) -> bool:
        """Return whether the open file still has all valid bytes, and its path, if it has one, still leads to it."""
        if self._file is None:
            return True
        opened = os.fstat(self._file.fileno())
        try:
            is_same = self.path is None or os.path.samestat(opened, os.stat(self.path))
        except FileNotFoundError:
            return False
        return is_same and opened.st_size >= contents.end

    def _written(self, contents: Contents) -> Contents:
        """Return the contents once all pending tables are in the file, or kept."""
        if not contents.pending:
            return contents
        table = pa.concat_tables(contents.pending)
        if self._file is None:
            return contents._replace(kept=(*contents.kept, table), pending=())
        messages = [batch.serialize() for batch in table.combine_chunks().to_batches()]
        if table.schema != contents.schema:
            ended = [] if contents.schema is None else [END_OF_STREAM]
            messages = [*ended, table.schema.serialize(), *messages]
        end = self._append(contents, messages)
        return contents._replace(end=end, schema=table.schema, pending=())

    def _append(self, contents: Contents, messages: list[Any]) -> int:
        """Write messages after the valid bytes; return their end."""
        if self._file is None or not self.is_whole(contents):
            raise self._lost()
        self._file.truncate(contents.end)
        self._file.seek(contents.end)
        for message in messages:
            left = memoryview(message).cast("B")
            while left:
                left = left[self._file.write(left) :]
        return self._file.tell()

    def _mark(self, end: int) -> None:
        """Write the end of the file at its beginning."""
        if self._file is not None:
            self._file.seek(0)
            self._file.write(end.to_bytes(MARK, "little"))

    def _lost(self) -> ValueError:
        name = self.path or "one without a name"
        problem = f"the cache file was removed, replaced or cut off by another: {name}"
        return ValueError(f"{problem}; its batches are lost: reload the metric and add them again")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # unset if the file could not be opened
            self.close()


def is_finished(path: str) -> bool:
    """Return whether a file has the mark; False if there is none."""
    try:
        with io.FileIO(path) as file:
            return _marked_end(file) is not None
    except FileNotFoundError:
        return False


def read_finished(path: str, process: int) -> list[pa.Table]:
    """Return the tables that another process has written, memory-mapped: one for each Arrow stream."""
    problem = "is cut off: the process died before its compute, or another took its place"
    try:
        with io.FileIO(path) as file:
            if end := _marked_end(file):
                return _mapped(file, end)
    except FileNotFoundError:
        problem = "is gone"
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ValueError(f"the cache file of process {process} cannot be read: {path}: {error}") from None
    raise ValueError(f"the cache file of process {process} {problem}: {path}; run all processes again")


def _marked_end(file: io.FileIO) -> int | None:
    """Return the end of a file with a mark, else None; if the mark was only partly written, it names another end."""
    file.seek(0)
    end = int.from_bytes(file.read(MARK), "little")
    return end if end and end == os.fstat(file.fileno()).st_size else None


def _mapped(file: io.FileIO, end: int) -> list[pa.Table]:
    """Return the tables of the streams in the first bytes of a file; they stay valid after it is closed or removed."""
    if end == MARK:
        return []
    source = pa.BufferReader(pa.py_buffer(mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ)).slice(MARK))
    size = end - MARK
    tables = []
    while source.tell() < size:
        tables.append(pa.ipc.open_stream(source).read_all())
    return tables
