"""Interrupts at every call and processes killed: each batch is in whole, once.

`FUZZ_MINUTES` asks for the long run: interrupts anywhere in the package and processes killed, so
many minutes each.
"""

import dis
import itertools
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import evaluate
import numpy as np
import pytest
from conftest import MetricFactory
from refusals import refusal

import ndcg
from ndcg.scores import batch_file, batch_ids, batches, exchange

MINUTES = float(os.environ.get("FUZZ_MINUTES", "0"))
ROOMS = tuple(str(module.__file__) for module in (batches, batch_file, batch_ids, exchange))
PACKAGE = (os.path.dirname(str(ndcg.__file__)),)
# called as objects are dropped: Python only prints errors that are raised there
SWALLOWING = ("__del__", "close", "<genexpr>")


class Interrupted(KeyboardInterrupt):
    """By the test, not by whoever runs it."""


def callers(frame: FrameType | None) -> Iterator[str]:
    """The names of a function and of those that called it."""
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back


def interrupt() -> None:
    raise Interrupted


class Moments:
    """Runs a handler, which by default raises, at a moment at which Python runs a signal's.

    These are the entries of functions and the ends of calls, but for those of functions in
    Python, which end by a jump. Only moments in the code of some files count.
    """

    def __init__(
        self, folders: tuple[str, ...], at: int, handler: Callable[[], None] = interrupt
    ) -> None:
        self.folders, self.at, self.seen, self.handler = folders, at, 0, handler
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
            self.handler()

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_back is not None:
            self.calling.pop(frame.f_back, None)
        if not frame.f_code.co_filename.startswith(self.folders) or any(
            map(SWALLOWING.__contains__, callers(frame))
        ):
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


def batch_of(
    queries: int, documents: int, first: int = 0, kind: Any = np.float64
) -> dict[str, Any]:
    """Every query has one relevant document, at a rank that follows from the query's number."""
    scores = np.tile(np.arange(documents, 0, -1, dtype=kind), (queries, 1))
    relevance = np.zeros((queries, documents), kind)
    relevance[np.arange(queries), np.arange(first, first + queries) % documents] = 1
    return {"predictions": scores, "references": relevance}


def with_ids(batch: dict[str, Any], first: int) -> dict[str, Any]:
    """The same as flat columns; the ids are integers and strings."""
    queries, documents = batch["predictions"].shape
    ids = np.repeat(np.arange(first, first + queries), documents)
    return {name: side.ravel() for name, side in batch.items()} | {
        "query_ids": ids if first % 2 else ids.astype(str)
    }


def values_of(queries: int, documents: int) -> list[float]:
    return [1 / np.log2(query % documents + 2) for query in range(queries)]


class Subject:
    """A metric that adds and computes batches, and the batches that it must hold."""

    queries, documents = 3, 4

    def __init__(self, metric: evaluate.Metric, ids: bool) -> None:
        self.metric, self.ids, self.added = metric, ids, 0
        self.acts = {"add": self.add, "add_batch": self.add_batch, "compute": self.compute}

    def next_batch(self) -> dict[str, Any]:
        batch = batch_of(self.queries, self.documents, self.added)
        return with_ids(batch, self.added) if self.ids else batch

    def add_batch(self) -> None:
        self.metric.add_batch(**self.next_batch())
        self.added += self.queries

    def add(self) -> None:
        batch = batch_of(1, self.documents, self.added)
        self.metric.add(prediction=batch["predictions"][0], reference=batch["references"][0])
        self.added += 1

    def check(self) -> None:
        """It holds the added queries and no others."""
        assert len(self.metric) == self.added

    def compute(self) -> None:
        found = self.metric.compute(use_aggregator=False)
        added, self.added = self.added, 0
        assert found == {"nDCG": pytest.approx(values_of(added, self.documents), rel=1e-12)}


IDS = pytest.mark.parametrize("ids", [False, True], ids=["no ids", "ids"])


def moments_of(act: Callable[[], object], files: tuple[str, ...]) -> int:
    """The number of moments of a call."""
    with Moments(files, -1) as moments:
        act()
    return moments.seen


def random_moments(seen: int, rng: random.Random, least: int, minutes: float) -> Iterator[int]:
    """At least so many of some moments, for so many minutes."""
    end = time.monotonic() + 60 * minutes
    for count in itertools.count():
        if count >= least and time.monotonic() > end:
            return
        yield rng.randrange(seen)


@IDS
@pytest.mark.parametrize("keep_in_memory", [False, True], ids=["disk", "memory"])
@pytest.mark.parametrize("act", ["add", "add_batch", "compute"])
# if opening a file is interrupted, the garbage collector closes it
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning"
)
def test_an_interrupt_after_any_call_leaves_all_or_nothing(
    fresh_metric: MetricFactory, tmp_path: Path, ids: bool, keep_in_memory: bool, act: str
) -> None:
    """A signal's handler runs where Python calls something: raise there, at each place in turn."""
    subject = Subject(fresh_metric(keep_in_memory=keep_in_memory), ids)
    files, rng = PACKAGE if MINUTES else ROOMS, random.Random(0)
    run = subject.acts[act]
    subject.add_batch()
    seen = moments_of(run, files) + 10  # a metric that holds nothing has a few more
    interrupted = 0
    for at in random_moments(seen, rng, 1000, MINUTES / 16) if MINUTES else [*range(seen)] * 2:
        if not subject.added and (act == "compute" or rng.random() < 0.5):
            subject.add_batch()
        try:
            with Moments(files, at):
                run()
        except Interrupted:
            interrupted += 1
            subject.check()
            run()
        subject.check()
        if subject.ids and act == "add_batch":
            again = with_ids(batch_of(1, subject.documents), subject.added - subject.queries)
            (query,) = set(again["query_ids"].tolist())
            with refusal("", f"query {query!r}"):
                subject.metric.add_batch(**again)
        if subject.added and rng.random() < 0.5:
            subject.compute()
    print(f"{act}: {interrupted} interrupts at {seen} moments")
    assert interrupted > 10
    if subject.added:
        subject.compute()
    assert len(subject.metric) == 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def add_or_be_refused(metric: evaluate.Metric, outcomes: Counter[str]) -> None:
    """What the handler of a signal does, or another thread."""
    try:
        metric.add(prediction=[2, 1], reference=[1, 0])
        outcomes["kept"] += 1
    except RuntimeError as error:
        assert "in use by another thread" in str(error)  # noqa: PT017
        outcomes["refused"] += 1


@pytest.mark.parametrize("act", ["add", "add_batch", "compute"])
def test_a_query_that_a_handler_of_signals_adds_at_any_call_is_kept_or_refused(
    fresh_metric: MetricFactory, act: str
) -> None:
    totals = Counter[str]()
    for at in itertools.count():
        metric, outcomes = fresh_metric(keep_in_memory=True), Counter[str]()
        calls: dict[str, Callable[[], Any]] = {
            "add": partial(metric.add, prediction=[1, 2], reference=[1, 0]),
            "add_batch": partial(metric.add_batch, **batch_of(3, 4)),
            "compute": partial(metric.compute, use_aggregator=False),
        }
        queries = 1 if act == "add" else 3
        if act == "compute":
            metric.add_batch(**batch_of(queries, 4))
        with Moments(ROOMS, at, partial(add_or_be_refused, metric, outcomes)) as moments:
            result = calls[act]() or {"nDCG": []}
        if moments.seen <= at:
            break
        assert len(result["nDCG"]) + len(metric) == queries + outcomes["kept"]
        totals += outcomes
    assert min(totals["kept"], totals["refused"]) > 3


class Share:
    """A process's share of rounds: an added batch, an added query, a batch given to compute."""

    def __init__(self, metric: evaluate.Metric, ids: bool, first: int) -> None:
        batches = [batch_of(queries, 4, first + at) for queries, at in ((3, 0), (2, 4))]
        if ids:
            batches = [
                with_ids(batch, first + at) for batch, at in zip(batches, (0, 4), strict=True)
            ]
        query = batch_of(1, 4, first + 3)
        self.metric = metric
        self.calls = [
            partial(metric.add_batch, **batches[0]),
            partial(
                metric.add, prediction=query["predictions"][0], reference=query["references"][0]
            ),
            partial(metric.compute, **batches[1], use_aggregator=False),
        ]
        self.held = [0, 3, 4]  # before each call

    def round(self) -> Any:
        """The result of a round."""
        return [call() for call in self.calls][-1]

    def interrupted_round(self, moments: Moments) -> Any:
        """The result of a round in which a call is interrupted, and repeated."""
        result = None
        for call, held in zip(self.calls, self.held, strict=True):
            try:
                with moments:
                    result = call()
            except Interrupted:
                # in process 0, those of process 1 may have been read; in process 1, all may be
                # handed over
                assert len(self.metric) in (
                    (held, held + 6) if self.metric.process_id == 0 else (held, 0)
                )
                result = call()
        return result


@IDS
@pytest.mark.parametrize("process", [0, 1])
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning"
)
def test_an_interrupt_after_any_call_of_a_process_leaves_a_round_to_be_finished(
    fresh_metric: MetricFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ids: bool,
    process: int,
) -> None:
    """Interrupt and repeat any call, round after round: process 0 gets each query once."""
    metrics = [fresh_metric(num_process=2, process_id=each, timeout=60) for each in (0, 1)]
    shares = [Share(metric, ids, first) for metric, first in zip(metrics, (0, 6), strict=True)]
    interrupted, other = shares[process], shares[1 - process]
    expected = [{"nDCG": pytest.approx(values_of(12, 4), rel=1e-12)}, None]
    files, rng, count = PACKAGE if MINUTES else ROOMS, random.Random(0), 0
    monkeypatch.setattr("ndcg.scores.exchange.LOOK_AGAIN", 0.005)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(other.round)
        seen = moments_of(interrupted.round, files)
        running.result()
        for at in random_moments(seen, rng, 40, MINUTES / 16):
            running = pool.submit(other.round)
            moments = Moments(files, at)
            results = {
                process: interrupted.interrupted_round(moments),
                1 - process: running.result(),
            }
            assert [results[0], results[1]] == expected
            assert [len(metric) for metric in metrics] == [0, 0]
            count += moments.seen > at
    print(f"process {process}: {count} interrupts at {seen} moments")
    assert count > 10
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


# Kills


def outcome_of_a_killed_process(
    first: evaluate.Metric, second: evaluate.Metric, seconds: float
) -> str:
    """Kill process 1 while it adds batches or hands them over; compute in process 0."""
    kinds = ((2, np.float64), (200, np.float32)) * 4
    has_added, adds = os.pipe()
    writer = os.fork()
    if not writer:
        try:
            for at, (queries, kind) in enumerate(kinds):
                second.add_batch(**batch_of(queries, 4, kind=kind))
                if not at:
                    os.write(adds, b"1")
            second.compute(**batch_of(20, 4))
            time.sleep(60)
        finally:
            os._exit(1)
    first.add_batch(**batch_of(2, 4))
    os.read(has_added, 1)
    time.sleep(seconds)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    os.close(has_added)
    os.close(adds)
    first.timeout = 0.01
    expected = [
        *values_of(2, 4),
        *(value for queries, _ in kinds for value in values_of(queries, 4)),
        *values_of(20, 4),
    ]
    try:
        found = first.compute(use_aggregator=False)
    except ValueError as error:
        assert len(first) == 2
        return str(error).split(";")[0]
    assert found == {"nDCG": pytest.approx(expected, rel=1e-12)}
    return "all queries"


@pytest.mark.filterwarnings("ignore")  # of threads that libraries have started, as this forks
def test_a_process_killed_at_any_moment_has_handed_over_all_or_nothing(
    fresh_metric: MetricFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs follow one another under one experiment id: a killed one leaves nothing to the next."""
    kind, rng, outcomes = type(fresh_metric()), random.Random(0), Counter[str]()
    monkeypatch.setattr("ndcg.scores.exchange.LOOK_AGAIN", 0.001)
    died = "process 1 has not called compute within 0.01 seconds of process 0, or has died"
    end = time.monotonic() + 60 * MINUTES
    # On a busy machine, process 1 may have handed over its queries before it is killed.
    while outcomes.total() < 10 or outcomes[died] == 0 or time.monotonic() < end:
        how = {
            "cache_dir": str(tmp_path / "cache"),
            "num_process": 2,
            "experiment_id": "a",
            "timeout": 60,
        }
        first, second = (kind(**how, process_id=process) for process in (0, 1))
        outcomes[outcome_of_a_killed_process(first, second, rng.random() * 0.02)] += 1
        assert outcomes.keys() <= {died, "all queries"}
        assert outcomes.total() < 1000 or outcomes[died] > 0
    print("processes killed:", dict(outcomes))
