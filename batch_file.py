"""Tables in a file or in memory: each is added whole or not at all, whatever interrupts it.

The file holds Arrow streams, one after the other, a new one where the types of the columns
change, so that values keep the type in which they came. A store remembers nothing of what it
holds: its owner keeps a `Contents`, and gets a new one with each table. Bytes beyond the end
that it names, of a table that was interrupted or did not fit on the disk, do not count and are
cut off before the next table is written.
"""

import io
import os
from typing import Any, NamedTuple

import pyarrow as pa

END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # by which an Arrow stream ends
TOGETHER = 1000  # rows that came alone and are written as one batch


class Contents(NamedTuple):
    """What a store holds; never changed, only replaced.

    Attributes:
        rows: of all tables.
        end: where the bytes of the file that count end.
        schema: of the last stream in the file.
        pending: tables that are not yet in the file.
        kept: tables in memory, of a store without a file.
    """

    rows: int = 0
    end: int = 0
    schema: pa.Schema | None = None
    pending: tuple[pa.Table, ...] = ()
    kept: tuple[pa.Table, ...] = ()


class Store:
    """Where tables are put.

    Args:
        path: a file, which is emptied; None for memory.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._file = None if path is None else io.FileIO(path, "w+")

    def add(self, contents: Contents, table: pa.Table) -> Contents:
        """Return the contents with a table.

        Raises:
            OSError: the file cannot hold it; what it held stays.
            ValueError: the file was removed, replaced or cut off.
        """
        if contents.pending and contents.pending[0].schema != table.schema:
            contents = self._written(contents)
        contents = contents._replace(rows=contents.rows + table.num_rows, pending=(*contents.pending, table))
        return self._written(contents) if table.num_rows > 1 or len(contents.pending) >= TOGETHER else contents

    def tables(self, contents: Contents) -> list[pa.Table]:
        """Return what it holds, memory-mapped where it is in the file: a table for each change of types.

        Raises:
            ValueError: the file was removed, replaced or cut off.
        """
        if self.path is None:
            return [*contents.kept, *contents.pending]
        if not self.is_whole(contents):
            raise self._lost()
        return [*_mapped(self.path, contents.end), *contents.pending]

    def finish(self, contents: Contents) -> None:
        """Write what is pending and the mark by which another process knows that the file is whole.

        What is added later takes the place of the mark.

        Raises:
            OSError: the file cannot hold it; what it held stays.
            ValueError: the file was removed, replaced or cut off.
        """
        self._append(self._written(contents), [END_OF_STREAM])

    def is_whole(self, contents: Contents) -> bool:
        """Return whether the path still leads to the open file, and all bytes that count are in it."""
        if self.path is None or self._file is None:
            return True
        opened = os.fstat(self._file.fileno())
        try:
            return opened.st_size >= contents.end and os.path.samestat(opened, os.stat(self.path))
        except FileNotFoundError:
            return False

    def _written(self, contents: Contents) -> Contents:
        """Return the contents once all pending tables are in the file, or kept."""
        if not contents.pending:
            return contents
        table = pa.concat_tables(contents.pending)
        if self.path is None:
            return contents._replace(kept=(*contents.kept, table), pending=())
        messages = [batch.serialize() for batch in table.combine_chunks().to_batches()]
        if table.schema != contents.schema:
            ended = [] if contents.schema is None else [END_OF_STREAM]
            messages = [*ended, table.schema.serialize(), *messages]
        end = self._append(contents, messages)
        return contents._replace(end=end, schema=table.schema, pending=())

    def _append(self, contents: Contents, messages: list[Any]) -> int:
        """Put messages behind the bytes that count; return where they end."""
        if self._file is None or not self.is_whole(contents):
            raise self._lost()
        self._file.truncate(contents.end)
        self._file.seek(contents.end)
        for message in messages:
            left = memoryview(message).cast("B")
            while left:
                left = left[self._file.write(left) :]
        return self._file.tell()

    def _lost(self) -> ValueError:
        problem = f"the cache file was removed, replaced or cut off by another: {self.path}"
        return ValueError(f"{problem}; its batches are lost: reload the metric and add them again")

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # if the file could be opened
            self.close()


def is_finished(path: str) -> bool:
    """Return whether a file has the mark at its end; False if there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - len(END_OF_STREAM)))
            return file.read() == END_OF_STREAM
    except FileNotFoundError:
        return False


def read_finished(path: str, process: int) -> list[pa.Table]:
    """Return what another process has written, memory-mapped: a table for each change of types.

    Raises:
        ValueError: the file is gone, or the process did not finish it.
    """
    try:
        if is_finished(path):
            return _mapped(path, os.path.getsize(path) - len(END_OF_STREAM))
        found = "is cut off: the process died before its compute, or another took its place"
        found = found if os.path.exists(path) else "is gone"
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"the cache file of process {process} cannot be read: {path}: {error}") from None
    raise ValueError(f"the cache file of process {process} {found}: {path}; run all processes again")


def _mapped(path: str, end: int) -> list[pa.Table]:
    """Return the tables of the streams in the first bytes of a file."""
    if not end:
        return []
    with pa.memory_map(path) as file:
        source = pa.BufferReader(file.read_buffer(end))
    tables = []
    while source.tell() < end:
        tables.append(pa.ipc.open_stream(source).read_all())
    return tables
