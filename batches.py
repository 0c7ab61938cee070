"""Batches of rankings in a file or in memory: each is added whole or not at all, whatever interrupts it.

The file holds Arrow streams, one after the other, a new one where the type of the numbers
changes, so that values keep the type in which they came. What has been added is what the
writer's state says: bytes beyond that, of a batch that was interrupted or did not fit on the
disk, are cut off before the next one is written.
"""

import os
from typing import Any, NamedTuple

import pyarrow as pa

END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # by which an Arrow stream ends
TOGETHER = 1000  # queries that came alone and are written as one batch


class _State(NamedTuple):
    """What has been added; replaced as a whole."""

    rows: int = 0
    end: int = 0  # of the bytes in the file that count
    schema: pa.Schema | None = None  # of the last stream in the file
    pending: tuple[pa.Table, ...] = ()  # not yet written
    kept: tuple[pa.Table, ...] = ()  # in memory


class Writer:
    """Adds tables to a new file, or to memory.

    Args:
        path: the file, which is emptied; None for memory.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._state = _State()
        self._file = None if path is None else os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)

    def __len__(self) -> int:
        """The rows added."""
        return self._state.rows

    def write(self, table: pa.Table) -> None:
        """Add a table.

        Raises:
            OSError: the file cannot hold it; nothing is added then.
            ValueError: the file is no longer there, or no longer whole.
        """
        state = self._state
        if state.pending and state.pending[0].schema != table.schema:
            state = self._written(state)
        state = state._replace(rows=state.rows + table.num_rows, pending=(*state.pending, table))
        if table.num_rows > 1 or len(state.pending) >= TOGETHER:
            state = self._written(state)
        self._state = state

    def _written(self, state: _State) -> _State:
        """The state once all pending tables are in the file, or kept."""
        if not state.pending:
            return state
        table = pa.concat_tables(state.pending)
        if self.path is None:
            return state._replace(kept=(*state.kept, table), pending=())
        messages = [batch.serialize() for batch in table.combine_chunks().to_batches()]
        if state.schema is None or table.schema != state.schema:
            messages = [*([] if state.schema is None else [END_OF_STREAM]), table.schema.serialize(), *messages]
        return state._replace(end=self._append(state.end, messages), schema=table.schema, pending=())

    def _append(self, end: int, messages: list[Any]) -> int:
        """Put messages behind the bytes that count; returns where they end."""
        if self._file is None or self.path is None:
            raise ValueError(f"{self.path} is closed")
        if not _is_whole(self._file, self.path, end):
            problem = f"the cache file was removed, replaced or cut off by another: {self.path}"
            raise ValueError(f"{problem}; its batches are lost: load the metric anew and add them again")
        os.ftruncate(self._file, end)
        os.lseek(self._file, end, os.SEEK_SET)
        for message in messages:
            left = memoryview(message).cast("B")
            end += len(left)
            while left:
                left = left[os.write(self._file, left) :]
        return end

    def finalize(self) -> None:
        """End the file, so that it can be read; what is added later takes the place of the end."""
        self._state = self._written(self._state)
        if self.path is not None:
            self._append(self._state.end, [END_OF_STREAM])

    def tables(self) -> list[pa.Table]:
        """What was added to memory, once it is finished."""
        return list(self._state.kept)

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def __del__(self) -> None:
        self.close()


def _is_whole(file: int, path: str, end: int) -> bool:
    """Whether the path still leads to the open file, and all bytes that count are in it."""
    opened = os.fstat(file)
    try:
        return opened.st_size >= end and os.path.samestat(opened, os.stat(path))
    except FileNotFoundError:
        return False


def read_batches(path: str, process: int) -> list[pa.Table]:
    """What a process has written, memory-mapped: a table for each type of its numbers.

    Raises:
        ValueError: the file is gone, or the process did not finish it.
    """
    tables = []
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - len(END_OF_STREAM)))
            whole = file.read() == END_OF_STREAM
        if whole:
            source = pa.memory_map(path)
            while source.tell() < size and source.read(len(END_OF_STREAM)) != END_OF_STREAM:
                source.seek(source.tell() - len(END_OF_STREAM))
                tables.append(pa.ipc.open_stream(source).read_all())
            return tables
    except FileNotFoundError:
        raise ValueError(f"the cache file of process {process} is gone: {path}; run all processes again") from None
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"the cache file of process {process} cannot be read: {path}: {error}") from None
    problem = "is cut off: the process died before its compute, or another took its place"
    raise ValueError(f"the cache file of process {process} {problem}: {path}; run all processes again")
