"""Keep batches until `compute` scores them, in this process and in others.

All that a metric remembers is one state, which is replaced as a whole and never modified. So an
interrupt leaves either the old state or the new one.
"""

import math
import os
import threading
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.rankings import Rankings, to_arrow
from ..inputs.reading import Inputs, without_padding
from ..measure.labels import OF_TEXT
from ..measure.messages import InputError, mark, marked, warn
from .batch_file import TablesInFile, TablesInMemory, merged
from .batch_ids import IdSets, refuse_added_before, refuse_added_twice, spelled_id, with_more_ids
from .exchange import Exchange

Result = TypeVar("Result")

SIDES = ["predictions", "references"]
NO_QUERIES = pa.table({side: pa.array([], pa.list_(pa.float64())) for side in SIDES})
TOGETHER = 1000  # single queries that are written together


class Traits(NamedTuple):
    """What `compute` must know of batches besides their rows."""

    # In which the scores were given; the table has them in descending order. Empty without any.
    score_order: str = ""
    is_order_given: bool = False  # by a caller, also as "descending"
    exclude_from: str = ""  # where documents were excluded; empty without `exclude`
    # The error if `exclude` has none of the queries; empty if it has some; None without `exclude`.
    unmatched: str | None = None
    unmatched_ids: str | None = None  # `unmatched` of their rankings

    def together(self, later: "Traits") -> "Traits":
        """Return the traits of these batches and later ones."""
        unmatched = [self.unmatched, later.unmatched]
        return Traits(
            later.score_order or self.score_order,
            later.is_order_given or self.is_order_given,
            self.exclude_from or later.exclude_from,
            min((problem for problem in unmatched if problem is not None), default=None),
            self.unmatched_ids or later.unmatched_ids,
        )


class Batch(NamedTuple):
    """Queries that are added together."""

    # Arrow lists of scores and relevances, and the ids of the queries.
    table: pa.Table = NO_QUERIES
    ids: frozenset[bytes] = frozenset()  # these ids, if the queries have any
    traits: Traits = Traits()


class BatchState(NamedTuple):
    """What a metric holds since its last `compute`."""

    pid: int = 0  # the process in which it is
    store: Any = None  # `TablesInMemory` or `TablesInFile`; None before the first batch
    end: int = 0  # the end of the valid tables in the store
    pending: tuple[pa.Table, ...] = ()  # single queries that are not in the store yet
    rows: int = 0  # the number of queries
    ids: IdSets = ()
    traits: Traits = Traits()
    # Of several processes, as `Exchange` describes them: the token of this process, then, in
    # process 0, the tokens of all others, and elsewhere the token of process 0.
    tokens: tuple[str, ...] = ()
    is_handing_over: bool = False  # whether the temporary file is complete
    has_handed_over: bool = False  # whether the batches of the last round were handed over
    # In process 0, the batches of process 1, 2, … once all have handed theirs over; None before.
    others: list[list[pa.Table]] | None = None

    def with_batch(self, batch: Batch) -> "BatchState":
        """Return the state with a batch, whose rows are stored."""
        rows = batch.table.num_rows
        if not rows:
            return self
        end = self.end
        pending = (*self.pending, batch.table)
        if rows > 1 or len(pending) == TOGETHER:
            # Single queries before a batch are written first, so that the order stays.
            for table in merged(pending):
                end = self.store.write(end, table)
            pending = ()
        return self._replace(
            end=end,
            pending=pending,
            rows=self.rows + rows,
            ids=with_more_ids(self.ids, batch.ids),
            traits=self.traits.together(batch.traits),
        )

    def tables(self) -> list[pa.Table]:
        """Return the batches of this process."""
        if self.store is None:
            return []
        return [*self.store.read(self.end), *merged(self.pending)]

    @property
    def queries(self) -> int:
        """The number of queries, also of other processes, that were added and not yet scored."""
        queries = self.rows
        for tables in self.others or ():
            queries += sum(table.num_rows for table in tables)
        return queries


class Batches:
    """The part of a metric that keeps batches, and hands them from one process to another.

    evaluate also has a protocol for several processes. It is not used, because it scores what a
    killed process had written as if it were complete
    (`test_evaluates_own_processes_score_the_batches_of_a_killed_one`).
    """

    data_dir: str
    experiment_id: str
    keep_in_memory: bool
    num_process: int
    process_id: int
    timeout: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Nothing here is random, and the seed that evaluate draws would make equal metrics differ
        # between processes.
        self.seed = kwargs.get("seed") or 0
        for name in ("compute", "add_batch", "add"):
            # evaluate copies these methods to add to their docstrings, and datasets cannot hash
            # the copies.
            vars(self).pop(name, None)
        self._state = BatchState()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        if self._holds_batches():
            raise TypeError(
                "this metric holds batches, which cannot be copied to another process; compute "
                "them before"
            )
        return {**self.__dict__, "_state": self._state._replace(pid=0, tokens=()), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of queries added and not yet computed."""
        return self._state.queries

    def _holds_batches(self) -> bool:
        return self._state.store is not None

    def _batch(self, rankings: Rankings, traits: Traits) -> Batch:
        """Return queries as a batch, if they can be added to the batches before."""
        self._check_same("score_order", traits.score_order)
        predictions, references = to_arrow(rankings)
        ids: list[bytes] = []
        column = pa.nulls(len(predictions))
        if rankings.query_ids is not None:
            ids = list(map(spelled_id, rankings.names()))
            column = pa.array(ids, pa.large_binary())
        refuse_added_before(ids, self._state.ids)
        table = pa.table([predictions, references, column], [*SIDES, "query_id"])
        return Batch(table, frozenset(ids), traits)

    def _check_same(self, option: str, value: str) -> None:
        """Raise an error if the batches before were added with another value of an option."""
        before = getattr(self._state.traits, option)
        if before not in ("", value):
            problem = f'the batches before were added with "{before}", so it cannot be "{value}"'
            raise InputError(f"{problem}; give it to add_batch, the same for all batches", option)

    def _alone(self, step: Callable[[], tuple[BatchState, Result]]) -> Result:
        """Run a step, keep the state that it leads to, and return its result.

        Python may run a signal handler at any call, including the one that releases the lock. If
        the caller does not get the result, the metric still has the batches that it came from.
        """
        if self._holds_batches() and self._state.pid != os.getpid():
            raise RuntimeError(
                f"this metric holds batches that process {self._state.pid} has added; compute them "
                "there, and reload the metric in all processes"
            )
        if self._lock.locked():
            raise RuntimeError("this metric is in use by another thread; load one per thread")
        before = None
        try:
            with self._lock:
                if self._state.pid != os.getpid():
                    self._state = self._state._replace(pid=os.getpid(), tokens=())
                after, result = step()
                before, self._state = self._state, after
        except BaseException:
            if before is not None:
                self._state = before
            raise
        return result

    def _add(self, read: Callable[[], Batch]) -> None:
        def step() -> tuple[BatchState, None]:
            self._settle()
            batch = read()
            return self._open().with_batch(batch), None

        self._alone(step)

    def _score(
        self,
        read: Callable[[], Batch],
        check: Callable[[Inputs], Any],
        score: Callable[[Inputs], Result],
        ignore_index: float | None,
    ) -> Result | None:
        """Score the queries that `read` returns and the batches added before.

        Only process 0 has a result; the others return None. `check` rejects queries that cannot be
        scored, before they are combined with the queries of other processes. The reference of
        padding is compared in the type of its batch.
        """

        def step() -> tuple[BatchState, Result | None]:
            if self._settle():
                return self._state, None
            batch = read()
            if self.process_id > 0:
                self._hand_over(batch, check)
                return BatchState(has_handed_over=True), None
            if self.num_process > 1:
                self._collect(batch, check)
                result = self._result(batch, score, ignore_index)
                self._exchange().finish()
                return BatchState(), result
            # Rankings without batches before never come here: their call scores them.
            if not self._holds_batches():
                raise ValueError(
                    "there is nothing to score: give predictions and references, or add batches "
                    "before"
                )
            return BatchState(), self._result(batch, score, ignore_index)

        return self._alone(step)

    def _result(
        self, batch: Batch, score: Callable[[Inputs], Result], ignore_index: float | None
    ) -> Result:
        """Return the result of a batch, the batches before, and the batches of other processes."""
        state = self._state
        others = state.others or []
        traits = state.traits.together(batch.traits)
        refuse_added_twice((*state.ids, batch.ids), others)
        # Of several processes, another one may have the queries to exclude from.
        if self.num_process == 1 and traits.unmatched:
            hint = "reload the metric and add the batches again, with ids that match"
            raise ValueError(f"{traits.unmatched}; the same holds for every batch: {hint}")
        queries = _together([*state.tables(), batch.table, *chain(*others)], ignore_index)
        if traits.unmatched_ids and not _have_document_in_common(queries):
            warn(f"{mark('predictions')}: {traits.unmatched_ids}")
        try:
            return score(Inputs(queries["predictions"], queries["references"]))
        except ValueError as error:
            # Only subclasses of the metric raise errors of other types.
            if type(error) not in (ValueError, InputError):
                raise
            if not state.queries:
                raise
            hint = "to do without them, reload the metric"
            raise InputError(
                f"{marked(error)} (the queries added before, which count from 0, are kept; {hint})"
            ) from None

    # Several processes

    def _open(self) -> BatchState:
        """Return the state with a store, in a round that all processes have begun."""
        if self._state.others is not None:
            raise ValueError(
                "process 0 has read the batches of all processes and not scored them; compute "
                "them before more are added"
            )
        if self._state.store is not None:
            return self._state
        if self.num_process > 1:
            self._meet()
        store: TablesInMemory | TablesInFile
        if self.keep_in_memory:
            store = TablesInMemory()
        else:
            store = TablesInFile(self.data_dir)
        self._state = self._state._replace(store=store)
        return self._state

    def _meet(self) -> None:
        """Begin a round with the other processes.

        Tokens are kept before others read them, so that a call after an interrupt has the same.
        """
        exchange = self._exchange()
        if self.process_id == 0:
            if not self._state.tokens:
                tokens = (uuid4().hex, *exchange.meet_others())
                self._state = self._state._replace(tokens=tokens)
            exchange.answer(self._state.tokens)
            return
        if self._state.has_handed_over:
            exchange.await_scored()
        if not self._state.tokens:
            self._state = self._state._replace(tokens=(uuid4().hex,), has_handed_over=False)
        token = self._state.tokens[0]
        tokens = (token, exchange.meet_process_0(token))
        self._state = self._state._replace(tokens=tokens)

    def _hand_over(self, batch: Batch, check: Callable[[Inputs], Any]) -> None:
        """Hand the batches of this process, and a last one, over to process 0."""
        _check_rows(batch, check)
        state = self._open()
        tables = state.tables()
        if batch.table.num_rows:
            tables.append(batch.table)
        exchange = self._exchange()
        exchange.prepare(state.tokens[1], tables)
        self._state = state._replace(is_handing_over=True)
        exchange.hand_over()

    def _collect(self, batch: Batch, check: Callable[[Inputs], Any]) -> None:
        """Read the batches that the other processes hand over, unless an earlier call has."""
        if self._state.others is None:
            _check_rows(batch, check)
            state = self._open()
            others = self._exchange().collect(state.tokens)
            self._state = state._replace(others=others)

    def _settle(self) -> bool:
        """Return whether a call that was interrupted has handed the batches over.

        If so, the metric forgets them. If not, it still has them.
        """
        if not self._state.is_handing_over:
            return False
        if self._exchange().is_prepared():
            self._state = self._state._replace(is_handing_over=False)
            return False
        self._state = BatchState(os.getpid(), has_handed_over=True)
        return True

    def _exchange(self) -> Exchange:
        return Exchange(
            self.data_dir, self.experiment_id, self.num_process, self.process_id, self.timeout
        )


def _check_rows(batch: Batch, check: Callable[[Inputs], Any]) -> None:
    if batch.table.num_rows:
        check(Inputs(batch.table["predictions"], batch.table["references"]))


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
    if not pa.types.is_float64(values.type):
        return False  # narrower numbers are no labels
    lowest = pc.min(values).as_py()
    return lowest is not None and bool(lowest <= OF_TEXT)


def _have_document_in_common(queries: pa.Table) -> bool:
    """Return whether a document of any batch was both retrieved and judged."""
    score, relevance = (pc.list_flatten(queries[side]) for side in SIDES)
    retrieved = pc.not_equal(score, -math.inf)
    return bool(pc.any(pc.and_(retrieved, pc.is_valid(relevance))).as_py())


def _together(tables: Iterable[pa.Table], ignore_index: float | None) -> pa.Table:
    """Concatenate predictions and references without padding; mixed types become the wider one."""
    filled = [table.select(SIDES) for table in tables if table.num_rows] or [NO_QUERIES]
    types = {side: _widest({table[side].type for table in filled}) for side in SIDES}
    schema = pa.schema(types)
    converted = []
    for table in filled:
        if table.schema == schema:
            converted.append(table)
        elif ignore_index is None:
            converted.append(table.cast(schema))
        else:
            # In a wider type, the reference of padding may not equal `ignore_index`.
            converted.append(without_padding(table, ignore_index).cast(schema))
    return pa.concat_tables(converted)


def _widest(types: set[pa.DataType]) -> pa.DataType:
    """Return the type of lists; of several float64 if it is among them, else float32."""
    if len(types) == 1:
        return next(iter(types))
    if pa.list_(pa.float64()) in types:
        return pa.list_(pa.float64())
    return pa.list_(pa.float32())
