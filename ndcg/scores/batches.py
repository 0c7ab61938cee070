"""Keep batches until `compute` scores them, in this process and in others.

The state is a single object that is replaced in one step, so an interrupt leaves either the old state or the new one.
The valid part of a file only grows; the state records where it ends. Batches are stored in
a file without a name in the metric's cache directory, or in memory. Each process other than 0 writes
a file with a name, and holds its lock until it hands the file over to process 0.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock, Timeout

from ..inputs.ids import id_kind
from ..inputs.rankings import Rankings, to_arrow
from ..inputs.reading import Inputs, without_padding
from ..measure.labels import OF_TEXT
from ..measure.messages import InputError, mark, marked, shown, warn
from .batch_file import Contents, Store, is_finished, read_finished

Result = TypeVar("Result")

SIDES = ["predictions", "references"]
NO_QUERIES = pa.table({side: pa.array([], pa.list_(pa.float64())) for side in SIDES})
LOOK_AGAIN = 0.02  # seconds between checks of another process


class Batch(NamedTuple):
    """Queries that are added together."""

    table: pa.Table = NO_QUERIES  # Arrow lists of scores and relevances, and the ids of the queries
    ids: frozenset[bytes] = frozenset()  # these ids, if the queries have any
    # the order in which the scores were given; those of the table are in descending order
    score_order: str = "descending"
    exclude_from: str = ""  # where documents were excluded; empty without `exclude`
    # the error if `exclude` has none of these queries; empty if it has some; None without `exclude`
    unmatched: str | None = None
    unmatched_ids: str | None = None  # `unmatched` of their rankings


class CacheFile(NamedTuple):
    """A file of a process, and its lock."""

    path: str
    lock: Any


class BatchState(NamedTuple):
    """The state of a metric."""

    pid: int = 0  # the process that added the batches
    # the cache files of the current round of several processes: in process 0 those of all processes, its own first; in
    # the others only their own
    files: tuple[CacheFile, ...] = ()
    store: Any = None  # the store of the batches; None before the first
    contents: Contents = Contents()  # the contents of the store
    ids: tuple[frozenset[bytes], ...] = ()  # the ids of the queries that were added, in sets of falling size
    score_order: str = ""  # as in `Batch`, of all batches of this process; empty before the first
    exclude_from: str = ""  # likewise, of all batches that exclude documents
    unmatched: str | None = None  # as in `Batch`, of all batches together
    unmatched_ids: str | None = None  # as in `Batch`, of the first batch that has any
    added: tuple[pa.Table, ...] = ()  # batches of this process that a `compute` has read but not yet scored
    rest: tuple[tuple[pa.Table, ...], ...] = ()  # the same batches of each other process
    read: tuple[CacheFile, ...] = ()  # the files that they were read from
    handed_over: str | None = None  # the file of the last round, which process 0 removes once it is scored

    @property
    def queries(self) -> int:
        """The number of queries that were added and not yet scored."""
        read: int = sum(table.num_rows for table in chain(self.added, *self.rest))
        return self.contents.rows + read

    def with_batch(self, batch: Batch) -> "BatchState":
        """Add a batch to the store, and return the new state."""
        if not batch.table.num_rows:
            return self
        ids, larger = batch.ids, list(self.ids)
        while ids and larger and len(larger[-1]) <= len(ids):
            ids |= larger.pop()
        contents = self.store.add(self.contents, batch.table)
        return self._replace(
            contents=contents,
            ids=(*larger, ids) if ids else self.ids,
            score_order=batch.score_order,
            exclude_from=self.exclude_from or batch.exclude_from,
            unmatched=_unmatched(self, batch),
            unmatched_ids=self.unmatched_ids or batch.unmatched_ids,
        )


class OwnLock(FileLock):  # type: ignore[misc, valid-type, unused-ignore]
    """A lock that only the process that made it can release; older versions of filelock also release it in a fork."""

    maker = 0  # the process that made it

    def release(self, force: bool = False) -> None:
        """Release the lock, in the process that made it."""
        if self.maker == os.getpid():
            super().release(force)


class Batches:
    """The part of a metric that stores batches and communicates with other processes.

    evaluate also has a protocol for several processes. It is not used, because it scores what a killed process had
    written as if it were complete (`test_evaluates_own_processes_score_the_batches_of_a_killed_one`).

    A round of several processes works as follows. Each process has a lock and, except for process 0, a file that it
    protects:

    1. Process 0 takes the rendez-vous lock and waits until all others have locked their files.
       Then it locks its own file and releases the rendez-vous lock.
    2. Each other process waits until the file of process 0 is locked. It probes that lock only
       while it holds the rendez-vous lock, so that a probe is never mistaken for a process.
    3. All add batches. A process other than 0 hands its batches over: it marks its file as whole
       and releases the lock.
    4. Process 0 takes the locks of the others, reads all files, scores them and removes them. A
       process may begin the next round once its file is gone.
    """

    data_dir: str
    experiment_id: str
    keep_in_memory: bool
    num_process: int
    process_id: int
    timeout: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # nothing here is random, and the seed that evaluate draws would make equal metrics differ between processes
        self.seed = kwargs.get("seed") or 0
        for name in ("compute", "add_batch", "add"):
            # evaluate copies these methods to add to their docstrings, and datasets cannot hash the copies
            vars(self).pop(name, None)
        self._state = BatchState()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        if self._holds_batches():
            raise TypeError("this metric holds batches, which cannot be copied to another process; compute them before")
        return {**self.__dict__, "_state": BatchState(handed_over=self._state.handed_over), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of queries added and not yet computed."""
        return self._state.queries

    def _holds_batches(self) -> bool:
        return self._state.store is not None or bool(self._state.added or self._state.rest)

    def _batch(self, rankings: Rankings, score_order: str) -> Batch:
        """Return queries as a batch, unless one was added before, or batches in another order of scores."""
        self._check_order(score_order)
        predictions, references = to_arrow(rankings)
        ids, column = [], pa.nulls(len(predictions))
        if rankings.query_ids is not None:
            ids = list(map(_spelled, rankings.names()))
            column = pa.array(ids, pa.large_binary())
        table = pa.table([predictions, references, column], [*SIDES, "query_id"])
        batch = Batch(table, frozenset(ids), score_order)
        for added in self._state.ids:
            if again := added & batch.ids:
                query = next(each for each in ids if each in again)
                hint = "add all documents of a query in one batch, or give all rows to compute at once"
                raise ValueError(f"query {_readable_id(query)} was added before; {hint}")
        return batch

    def _check_order(self, score_order: str) -> None:
        """Raise an error if scores in this order do not belong to the batches that were added before."""
        if (before := self._state.score_order or score_order) != score_order:
            problem = f'the batches before were added in "{before}" order, so they cannot be in "{score_order}" order'
            raise ValueError(f"score_order: {problem}; give add_batch the order of each batch, the same for all")

    def _check_exclusion(self, exclude_from: str) -> None:
        """Raise an error if the documents of batches that were added before were excluded from other sides."""
        if (before := self._state.exclude_from or exclude_from) != exclude_from:
            problem = f'the batches before were added with "{before}", so it cannot be "{exclude_from}"'
            hint = f"give it to add_batch with each {mark('exclude')}, the same for all"
            raise InputError(f"{problem}; {hint}", "exclude_from")

    def _alone(self, step: Callable[[], tuple[BatchState, Result]]) -> Result:
        """Run a step, keep the state that it leads to, and return its result.

        Python may run a signal handler at any call, including the one that releases the lock. If the caller does not
        get the result, the metric still has the batches that it came from.
        """
        before = None
        try:
            with self._lock_or_refuse():
                after, result = step()
                before, self._state = self._state, after
        except BaseException:
            if before is not None:
                self._state = before
            raise
        return result

    def _lock_or_refuse(self) -> threading.Lock:
        """Return the lock of this metric, unless another thread has it or another process has added the batches."""
        if self._state.pid not in (0, os.getpid()):
            if self._holds_batches():
                problem = f"this metric holds batches that process {self._state.pid} has added"
                raise RuntimeError(f"{problem}; compute them there, and reload the metric in each process")
            self._state = BatchState()
        if self._lock.locked():
            raise RuntimeError("this metric is in use by another thread; load one for each thread")
        return self._lock

    def _add(self, read: Callable[[], Batch]) -> None:
        """Add the batch that a function reads, completely or not at all."""

        def step() -> tuple[BatchState, None]:
            self._settle()
            batch = read()
            return self._open().with_batch(batch), None

        self._alone(step)

    def _score(
        self,
        read: Callable[[], Batch] | None,
        check: Callable[[Inputs], Any],
        score: Callable[[Inputs], Result],
        ignore_index: float | None,
    ) -> Result | None:
        """Score the queries that `read` returns and those added before; return None in processes other than 0.

        `check` rejects queries that cannot be scored, before they are combined with those of other processes. The
        reference of padding is compared in the type of each batch.
        """

        def step() -> tuple[BatchState, Result | None]:
            handed_over = self._settle()
            batch = Batch() if read is None or handed_over else read()
            if self.num_process > 1 and not self._state.read:
                if batch.table.num_rows:
                    check(Inputs(batch.table["predictions"], batch.table["references"]))
                if self.process_id > 0:
                    return self._state if handed_over else self._hand_over(batch), None
                self._open()
            if read is None and not self._holds_batches():
                raise ValueError("there is nothing to score: give predictions and references, or add batches before")
            state = self._collect()
            _check_distinct([*state.ids, batch.ids], state.rest)
            if self.num_process == 1 and (unmatched := _unmatched(state, batch)):  # other processes may have them
                hint = "reload the metric and add the batches again, with ids that match"
                raise ValueError(f"{unmatched}; the same holds for every batch: {hint}")
            queries = _together([*state.added, batch.table, *chain.from_iterable(state.rest)], ignore_index)
            if (unmatched_ids := state.unmatched_ids or batch.unmatched_ids) and not _have_document_in_common(queries):
                warn(f"{mark('predictions')}: {unmatched_ids}")
            try:
                result = score(Inputs(queries["predictions"], queries["references"]))
            except ValueError as error:
                if not state.queries or type(error) not in (ValueError, InputError):  # one of a subclass of the metric
                    raise
                kept = f"{state.queries} queries added before, which count from 0, are kept"
                raise InputError(f"{marked(error)} ({kept}; to do without them, reload the metric)") from None
            for file in state.read:
                if file.lock.is_locked:  # if not, an interrupted call has removed it, and a new file may have its name
                    Path(file.path).unlink(missing_ok=True)
                    file.lock.release(force=True)
            return BatchState(), result

        return self._alone(step)

    def _open(self) -> BatchState:
        """Return the state with a store, in a round that all processes have begun."""
        state = self._state
        if state.store is not None:
            return state
        if self.num_process == 1:
            store = Store(folder=None if self.keep_in_memory else self.data_dir)
            self._state = state = state._replace(pid=os.getpid(), store=store)
            return state
        if state.read:
            problem = "process 0 has read the batches of all processes and not scored them"
            raise ValueError(f"{problem}; compute them before more are added")
        end = time.monotonic() + self.timeout
        if state.handed_over is not None:
            self._await_scored(state.handed_over, end)
        if not state.files:  # stored before locking, so that an interrupt does not lose the locks
            files = tuple(map(self._file, range(self.num_process) if self.process_id == 0 else [self.process_id]))
            self._state = state = state._replace(pid=os.getpid(), files=files, handed_over=None)
        self._state = state = state._replace(store=self._begin(state.files, end))
        return state

    def _begin(self, files: Sequence[CacheFile], end: float) -> Store:
        """Return the store of this process, once all processes have begun; it has a named file except in process 0."""
        own, *others = files
        rendez_vous = self._file(f"{self.num_process}-rdv").lock
        try:
            if self.process_id == 0 and not own.lock.is_locked:  # if locked, an interrupted call has met the others
                problem = f"another process 0 waits for the others at {rendez_vous.lock_file}"
                _acquire(rendez_vous, end, f"{problem}; give each evaluation an experiment_id of its own")
                for process, file in enumerate(others, 1):
                    self._await(process, end, partial(_has_begun, file))
            problem = f"another metric uses the cache file {own.path}"
            _acquire(own.lock, end, f"{problem}; give each evaluation an experiment_id of its own")
            if self.process_id == 0:
                return Store(folder=self.data_dir)
            store = Store(own.path)
            self._await(0, end, partial(self._process_0_has_begun, rendez_vous))
            return store
        finally:
            rendez_vous.release(force=True)

    def _process_0_has_begun(self, rendez_vous: Any) -> bool:
        try:
            rendez_vous.acquire(timeout=0)
            return _is_locked(self._file(0))
        except Timeout:  # process 0 is waiting for others, or another process is checking
            return False
        finally:
            rendez_vous.release(force=True)

    def _await(self, process: int, end: float, begun: Callable[[], bool]) -> None:
        """Wait until a process has begun."""
        while not begun():
            if time.monotonic() > end:
                problem = f"not all of the {self.num_process} processes have begun within {self.timeout} seconds"
                raise ValueError(f"{problem}; each must add a batch or compute: process {process} has not, or has died")
            time.sleep(LOOK_AGAIN)

    def _await_scored(self, path: str, end: float) -> None:
        """Wait until process 0 has scored the batches that this process handed over in the last round."""
        while os.path.exists(path):
            if time.monotonic() > end:
                problem = f"process 0 has not computed the last round within {self.timeout} seconds"
                raise ValueError(f"{problem}: {path} is still there; compute in all processes")
            time.sleep(LOOK_AGAIN)

    def _hand_over(self, batch: Batch) -> BatchState:
        """Hand the batches, including a last one, over to process 0."""
        state = self._open().with_batch(batch)
        state.store.finish(state.contents)
        state.files[0].lock.release(force=True)
        return BatchState(handed_over=state.files[0].path)

    def _settle(self) -> bool:
        """Return whether process 0 has this process's file although the call that handed it over was interrupted.

        If not, this process takes the file back and removes the mark, because it may die before its next batches are
        written.
        """
        state = self._state
        if self.process_id == 0 or state.store is None:
            return False
        path, lock = state.files[0]
        if not lock.is_locked and not self._has_again(state):
            self._state = BatchState(handed_over=path)
            return True
        state.store.reopen()
        return False

    def _has_again(self, state: BatchState) -> bool:
        """Return whether this process got its lock back before process 0 read its file."""
        lock = state.files[0].lock
        try:
            lock.acquire(timeout=0)
        except Timeout:  # process 0 is reading the file
            return False
        if not state.store.is_whole(state.contents):
            lock.release(force=True)
            return False
        return True

    def _collect(self) -> BatchState:
        """Read the batches of this process and of the others; return the state with them, without a store."""
        state = self._state
        if state.store is None:
            return state
        others = state.files[1:]
        end = time.monotonic() + self.timeout
        try:
            for process, file in enumerate(others, 1):
                problem = f"process {process} has not called compute within {self.timeout} seconds of process 0"
                problem = f"{problem}, or has died in it; its batches are in {file.path}"
                _acquire(file.lock, end, problem)
            added = (*state.added, *state.store.tables(state.contents))
            rest = tuple(tuple(read_finished(file.path, process)) for process, file in enumerate(others, 1))
        except BaseException:
            for file in others:
                file.lock.release(force=True)
            raise
        read = state._replace(added=added, rest=rest, read=(*state.read, *state.files))
        self._state = read._replace(files=(), store=None, contents=Contents(), handed_over=None)
        return self._state

    def _file(self, process: int | str) -> CacheFile:
        """Return the cache file of a process, or the one with a name."""
        name = f"{self.num_process}-{process}" if isinstance(process, int) else process
        path = os.path.join(self.data_dir, f"{self.experiment_id}-{name}.arrow")
        lock = OwnLock(f"{path}.lock", thread_local=False)
        lock.maker = os.getpid()
        return CacheFile(path, lock)


def _acquire(lock: Any, end: float, problem: str) -> None:
    """Acquire a lock, unless this process has it already."""
    try:
        if not lock.is_locked:
            lock.acquire(timeout=max(0, end - time.monotonic()))
    except Timeout:
        raise ValueError(problem) from None


def _has_begun(file: CacheFile) -> bool:
    """Return whether another process has locked its file and removed what a killed run left in it."""
    return _is_locked(file) and not is_finished(file.path)


def _is_locked(file: CacheFile) -> bool:
    """Return whether another process holds the lock."""
    try:
        file.lock.acquire(timeout=0)
    except Timeout:
        return True
    finally:
        file.lock.release(force=True)
    return False


def _spelled(query: Any) -> bytes:
    """Return an id as bytes, which are equal if the ids are: hexadecimal digits, or text after a mark for its type."""
    kind = id_kind(type(query))
    if kind == "text":
        text: bytes = query.encode("utf-8", "surrogatepass")  # str() would drop a NUL at the end of NumPy's text
        return b"'" + text
    if kind == "integers":
        return b"%x" % int(query)
    if kind == "bytes":
        return b'"' + bytes(query)
    moment = query.astimezone(UTC) if getattr(query, "tzinfo", None) else query
    return b"@" + str(moment).encode()


def _readable_id(spelled: bytes) -> str:
    """Return an id as a message shows it."""
    mark, rest = spelled[:1], spelled[1:]
    if mark == b'"':
        return shown(rest)
    return shown(rest.decode("utf-8", "surrogatepass") if mark in (b"'", b"@") else int(spelled, 16))


def _unmatched(*batches: Batch | BatchState) -> str | None:
    """Return the error if `exclude` has no query of any batch; empty if it has one; None without `exclude`."""
    return min((each.unmatched for each in batches if each.unmatched is not None), default=None)


def _have_document_in_common(queries: pa.Table) -> bool:
    """Return whether a document of any batch was both retrieved and judged."""
    score, relevance = (pc.list_flatten(queries[side]) for side in SIDES)
    return bool(pc.any(pc.and_(pc.not_equal(score, -math.inf), pc.is_valid(relevance))).as_py())


def _check_distinct(own: Sequence[frozenset[bytes]], rest: Sequence[Sequence[pa.Table]]) -> None:
    """Raise an error for a query that two processes have added."""
    seen = [(0, ids) for ids in own]
    for process, tables in enumerate(rest, 1):
        columns = (table["query_id"] for table in tables)
        ids = frozenset(chain.from_iterable(each.to_pylist() for each in columns if each.type != pa.null()))
        for other, before in seen:
            if both := before & ids:
                problem = f"query {_readable_id(min(both))} was added by process {other} and by process {process}"
                raise ValueError(f"{problem}; add all documents of a query in one process, one batch")
        seen.append((process, ids))


def in_ascending_order(predictions: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return lists of scores that are stored in descending order as they were given.

    >>> in_ascending_order(pa.chunked_array([[[-0.5, None]]])).to_pylist()
    [[0.5, None]]
    """
    lists = (
        pa.ListArray.from_arrays(chunk.offsets, pc.negate(chunk.values.cast(pa.float64())))
        for chunk in predictions.chunks
    )
    return pa.chunked_array(lists, pa.list_(pa.float64()))


def has_text_labels(references: pa.ChunkedArray) -> bool:
    """Return whether lists of relevances hold the numbers of labels in text."""
    values = pc.list_flatten(references)
    lowest = pc.min(values).as_py() if pa.types.is_float64(values.type) else None  # narrower ones are no labels
    return lowest is not None and bool(lowest <= OF_TEXT)


def _together(tables: Sequence[pa.Table], ignore_index: float | None) -> pa.Table:
    """Concatenate predictions and references of tables, without padding; if their types differ, in the wider one."""
    filled = [table.select(SIDES) for table in tables if table.num_rows] or [NO_QUERIES]
    schema = pa.schema([(side, _widest({table[side].type for table in filled})) for side in SIDES])
    return pa.concat_tables(
        (table if ignore_index is None or table.schema == schema else without_padding(table, ignore_index)).cast(schema)
        for table in filled
    )


def _widest(kinds: set[pa.DataType]) -> pa.DataType:
    """Return the type of the lists; if there are several, float64 if it is among them, else float32."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return pa.list_(pa.float64() if pa.list_(pa.float64()) in kinds else pa.float32())
