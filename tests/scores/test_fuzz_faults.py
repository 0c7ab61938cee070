"""Interrupts at every call and writers killed: each batch is in whole, once.

`FUZZ_MINUTES` asks for the long run: interrupts in the code of locks, too, and 3,000 writers killed.
"""

import dis
import itertools
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import evaluate
import filelock
import numpy as np
import pytest
from conftest import MetricFactory

from ndcg.scores import batch_file, batches

LONG = "FUZZ_MINUTES" in os.environ
ROOMS = (str(batches.__file__), str(batch_file.__file__))
# called as objects are dropped: Python only prints errors that are raised there
SWALLOWING = ("__del__", "close", "<genexpr>")


class Interrupted(KeyboardInterrupt):
    """By the test, not by whoever runs it."""


def callers(frame: FrameType | None) -> Iterator[str]:
    """The names of a function and of those that called it."""
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back


class Moments:
    """Raises at one of the moments at which Python runs the handler of a signal.

    These are the entries of functions and the ends of calls, but for those of functions in
    Python, which end by a jump. Only moments in the code of some files count.
    """

    def __init__(self, folders: tuple[str, ...], at: int) -> None:
        self.folders, self.at, self.seen = folders, at, 0
        self.calling: dict[FrameType, str] = {}

    def __enter__(self) -> "Moments":
        self.before = sys.gettrace()  # of a debugger or a measurement of coverage
        sys.settrace(self.enter)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self.before)

    def moment(self) -> None:
        self.seen += 1
        if self.seen - 1 == self.at:
            sys.settrace(self.before)
            raise Interrupted

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_back is not None:
            self.calling.pop(frame.f_back, None)
        if not frame.f_code.co_filename.startswith(self.folders) or any(map(SWALLOWING.__contains__, callers(frame))):
            return None
        frame.f_trace_opcodes = True
        self.moment()
        return self.step

    def step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            if self.calling.pop(frame, ""):
                self.moment()
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if name.startswith("CALL"):
                self.calling[frame] = name
        return self.step


def batch_of(queries: int, documents: int, first: int = 0, kind: Any = np.float64) -> dict[str, Any]:
    """Every query has one relevant document, at a rank that follows from the number of the query."""
    scores = np.tile(np.arange(documents, 0, -1, dtype=kind), (queries, 1))
    relevance = np.zeros((queries, documents), kind)
    relevance[np.arange(queries), np.arange(first, first + queries) % documents] = 1
    return {"predictions": scores, "references": relevance}


def with_ids(batch: dict[str, Any], first: int) -> dict[str, Any]:
    """The same as flat columns; the ids are integers and strings."""
    queries, documents = batch["predictions"].shape
    ids = np.repeat(np.arange(first, first + queries), documents)
    return {name: side.ravel() for name, side in batch.items()} | {"query_ids": ids if first % 2 else ids.astype(str)}


def values_of(queries: int, documents: int) -> list[float]:
    return [1 / np.log2(query % documents + 2) for query in range(queries)]


class Subject:
    """A metric to which batches are added and which computes them, and the batches that it must hold."""

    queries, documents = 3, 4

    def __init__(self, metric: evaluate.Metric, ids: bool) -> None:
        self.metric, self.ids, self.added = metric, ids, 0

    def next_batch(self) -> dict[str, Any]:
        batch = batch_of(self.queries, self.documents, self.added)
        return with_ids(batch, self.added) if self.ids else batch

    def add(self) -> None:
        self.metric.add_batch(**self.next_batch())
        self.added += self.queries

    def check(self) -> None:
        """It holds the added queries and no others, and is not in use."""
        assert len(self.metric) == self.added
        assert not self.metric._lock.locked()
        known = sum(map(len, self.metric._state.ids))
        assert known == (self.added if self.ids else 0)

    def compute(self) -> None:
        found = self.metric.compute(use_aggregator=False)
        added, self.added = self.added, 0
        assert found == {"nDCG": pytest.approx(values_of(added, self.documents), rel=1e-12)}


IDS = pytest.mark.parametrize("ids", [False, True], ids=["no ids", "ids"])


@IDS
@pytest.mark.parametrize("keep_in_memory", [False, True], ids=["disk", "memory"])
@pytest.mark.parametrize("act", ["add", "compute"])
# if opening a file is interrupted, the garbage collector closes it
@pytest.mark.filterwarnings("ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_after_any_call_leaves_all_or_nothing(
    fresh_metric: MetricFactory, tmp_path: Path, ids: bool, keep_in_memory: bool, act: str
) -> None:
    """A handler of signals runs where Python calls something: raise there, at each place in turn."""
    subject = Subject(fresh_metric(keep_in_memory=keep_in_memory), ids)
    files = (*ROOMS, os.path.dirname(filelock.__file__)) if LONG else ROOMS
    for at in itertools.count():
        while act == "compute" and subject.added < subject.queries:
            subject.add()
        try:
            with Moments(files, at):
                getattr(subject, act)()
        except Interrupted:
            subject.check()
            getattr(subject, act)()
        else:
            break
        if at % 3 == 0 and subject.added:
            subject.compute()
        subject.check()
    assert at > 10
    if subject.added:
        subject.compute()
    assert len(subject.metric) == 0
    assert not list(tmp_path.rglob("*.arrow"))


@IDS
def test_an_interrupt_after_any_call_of_a_hand_over_leaves_it_done_or_not(
    fresh_metric: MetricFactory, tmp_path: Path, ids: bool
) -> None:
    """Process 1 is interrupted in its compute and repeats it: process 0 gets each query once."""
    first, second = (fresh_metric(num_process=2, process_id=each, timeout=20) for each in (0, 1))
    theirs = Subject(second, ids)
    added, given = theirs.next_batch(), with_ids(batch_of(2, 4, 3), 3) if ids else batch_of(2, 4, 3)
    expected = {"nDCG": pytest.approx([1.0, *values_of(5, 4)])}
    interrupted = 0
    with ThreadPoolExecutor(1) as pool:
        for at in itertools.count(random.Random(0).randrange(8), 1 if LONG else 8):
            own = pool.submit(first.compute, predictions=[[1.0]], references=[[1]], use_aggregator=False)
            second.add_batch(**added)
            try:
                with Moments(ROOMS, at):
                    second.compute(**given)
                break
            except Interrupted:
                interrupted += 1
                assert len(second) == 3  # those that were given to it are not kept
                second.compute(**given)
            assert own.result() == expected
            assert len(second) == 0
        assert own.result() == expected
    assert interrupted > 2
    assert not list(tmp_path.rglob("*.arrow"))


# Kills


def outcome_of_a_killed_writer(
    first: evaluate.Metric, second: evaluate.Metric, seconds: float
) -> tuple[str, dict[str, list[float]] | str]:
    """Kill process 1 while it adds batches with numbers of alternating types, and compute in process 0."""
    has_added, adds = os.pipe()
    writer = os.fork()
    if not writer:
        try:
            batches = [batch_of(queries, 4, kind=kind) for queries, kind in ((2, np.float64), (200, np.float32))]
            for at in range(10**6):
                second.add_batch(**batches[at % 2])
                if not at:
                    os.write(adds, b"1")
        finally:
            os._exit(1)
    first.add_batch(**batch_of(2, 4))
    os.read(has_added, 1)
    time.sleep(seconds)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    os.close(has_added)
    os.close(adds)
    try:
        return "a mean", first.compute(use_aggregator=False)
    except ValueError as error:
        return str(error).split(":")[0], ""


@pytest.mark.filterwarnings("ignore")  # of threads that libraries have started, as this forks
def test_a_writer_killed_between_types_of_numbers_is_never_a_part_of_a_mean(
    fresh_metric: MetricFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow ends a stream in the file when the type changes: the process may still add batches."""
    kind, rng, outcomes = type(fresh_metric()), random.Random(0), Counter[str]()
    monkeypatch.setattr("ndcg.scores.batches.LOOK_AGAIN", 0.001)
    for at in range(3000 if LONG else 10):
        how = {"cache_dir": str(tmp_path / "cache"), "num_process": 2, "experiment_id": str(at), "timeout": 60}
        first, second = (kind(**how, process_id=process) for process in (0, 1))
        outcome, values = outcome_of_a_killed_writer(first, second, rng.random() * 0.005)
        outcomes[outcome if not values else f"{outcome} over {len(values['nDCG'])} queries"] += 1
    print("writers killed:", dict(outcomes))
    assert outcomes == {"the cache file of process 1 is cut off": outcomes.total()}
