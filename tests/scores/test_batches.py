"""A metric holds batches and the ids of their queries whole or not at all, in one process or several."""

import datetime
import os
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from filelock import FileLock, Timeout
from forks import in_a_fork

from ndcg.scores.batch_file import Contents, Store

GOOD = {"predictions": [[3, 2, 1], [1, 2, 3]], "references": [[1, 0, 2], [0, 0, 1]]}


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a disk that is full there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def add(metric: evaluate.Metric, *query_ids: Any) -> None:
    """One relevant document for each query."""
    metric.add_batch(predictions=[1.0] * len(query_ids), references=[1] * len(query_ids), query_ids=list(query_ids))


def add_mapping(metric: evaluate.Metric, query_id: Any) -> None:
    metric.add_batch(predictions={query_id: {"a": 1.0}}, references={query_id: {"a": 1}})


# Ids of queries

EARLY, LATE = datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 12)
ADDED = "^query {} was added before; add all documents of a query in one"


@pytest.mark.parametrize("how", [add, add_mapping])
@pytest.mark.parametrize(
    ("first", "again", "other"),
    [
        *((-1, np.int64(-1), -2), (2**64 - 1, np.uint64(2**64 - 1), 4), (1, 1, "1"), ("e", "e", 14)),
        *(("7", np.str_("7"), "'7"), ("é", "é", "A"), (b"a", b"a", "a"), (b"'", b"'", b"\xff")),
        *((EARLY, EARLY, LATE), (EARLY.date(), EARLY.date(), LATE.date() + datetime.timedelta(1))),
        (EARLY.replace(tzinfo=datetime.UTC), EARLY.replace(tzinfo=datetime.UTC), LATE.replace(tzinfo=datetime.UTC)),
    ],
    ids=repr,
)
def test_a_query_is_known_by_its_id_of_any_type(
    fresh_metric: MetricFactory, how: Any, first: Any, again: Any, other: Any
) -> None:
    metric, shown = fresh_metric(), ".*" if isinstance(first, datetime.date) else repr(first)
    how(metric, first)
    for add_again in (add, add_mapping):
        with pytest.raises(ValueError, match=ADDED.format(shown)):
            add_again(metric, again)
    how(metric, other)
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0, 1.0]}


def test_a_query_that_was_added_may_be_added_to_the_next_evaluation(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    add(metric, "ann", "bob")
    with pytest.raises(ValueError, match=ADDED.format("'ann'")):
        metric.compute(predictions={"ann": {"a": 1}}, references={"ann": {"a": 1}})
    metric.add_batch(predictions=[[1, 2]], references=[[1, 0]])  # a query without an id
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0, 1.0, SECOND]}
    add(metric, "ann")
    assert metric.compute() == {"nDCG": 1.0}


def test_many_batches_of_queries_are_all_known(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric(keep_in_memory=True)
    for first in range(0, 100, 5):
        add(metric, *range(first, first + 5))
    for query in range(0, 100, 3):
        with pytest.raises(ValueError, match=f"^query {query} was added before"):
            add(metric, query)
    assert len(metric._state.ids) <= 7  # each set of ids is larger than the next


# Exclusions

RUN = {query: {"a": 2.0, "b": 1.0} for query in ("q1", "q2", "q3")}
QRELS = {query: {"a": 0, "b": 1} for query in RUN}
SECOND = pytest.approx(1 / np.log2(3))  # of the relevant document, behind one that is not excluded


def add_each(metric: evaluate.Metric, exclude: Any) -> None:
    for query in RUN:
        metric.add_batch(predictions={query: RUN[query]}, references={query: QRELS[query]}, exclude=exclude)


def add_each_as_rows(metric: evaluate.Metric, exclude: Any) -> None:
    for query, documents in RUN.items():
        rows = {"predictions": list(documents.values()), "references": list(QRELS[query].values())}
        metric.add_batch(**rows, query_ids=[query] * 2, document_ids=list(documents), exclude=exclude)


@pytest.mark.parametrize("add_all", [add_each, add_each_as_rows])
def test_exclusions_for_a_data_set_may_be_passed_with_each_of_its_batches(
    fresh_metric: MetricFactory, add_all: Callable[..., None]
) -> None:
    metric = fresh_metric()
    add_all(metric, {"q2": ["a"]})
    assert metric.compute(use_aggregator=False) == {"nDCG": [SECOND, 1.0, SECOND]}


def test_compute_accepts_exclusions_for_queries_of_earlier_batches(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    add_each(metric, {"q2": ["a"]})
    given = {"predictions": {"q4": RUN["q1"]}, "references": {"q4": QRELS["q1"]}, "exclude": {"q2": ["a"]}}
    assert metric.compute(**given, use_aggregator=False) == {"nDCG": [SECOND, 1.0, SECOND, SECOND]}


@pytest.mark.parametrize("add_all", [add_each, add_each_as_rows])
def test_queries_to_exclude_from_that_no_batch_has_are_an_error_of_compute(
    fresh_metric: MetricFactory, add_all: Callable[..., None]
) -> None:
    metric = fresh_metric()
    add_all(metric, {"u1": ["a"]})
    for _ in range(2):
        problem = r"^exclude: no query is in the references; .* 'u1' in exclude, 'q1' .* every batch"
        with pytest.raises(ValueError, match=problem):
            metric.compute()
        assert len(metric) == 3
    metric.add_batch(predictions={"u1": RUN["q1"]}, references={"u1": QRELS["q1"]}, exclude={"u1": ["a"]})
    assert metric.compute(use_aggregator=False) == {"nDCG": [SECOND, SECOND, SECOND, 1.0]}


def test_ids_to_exclude_of_another_type_are_an_error_of_the_batch(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    for add_all in (add_each, add_each_as_rows):
        with pytest.raises(ValueError, match=r"^exclude: .* 1 in exclude, 'q1' in the .*; give both the same type"):
            add_all(metric, {1: ["a"]})
    assert len(metric) == 0


@pytest.mark.parametrize(
    ("prediction", "reference"), [(["a", "b"], {"b"}), ({"a": 2.0, "b": 1.0}, {"a": 0, "b": 1}), (["a", "b"], {"b": 1})]
)
def test_a_query_that_is_added_alone_may_exclude_documents_by_their_ids(
    fresh_metric: MetricFactory, prediction: Any, reference: Any
) -> None:
    metric = fresh_metric()
    for exclude in (["a"], {"c"}, None):
        metric.add(prediction=prediction, reference=reference, exclude=exclude)
    with pytest.raises(ValueError, match=r"^exclude: must be a list or a set of ids; give \{query: ids\} to add_batch"):
        metric.add(prediction=prediction, reference=reference, exclude={"q": ["a"]})
    with pytest.raises(ValueError, match=r"^exclude: documents have no ids"):
        metric.add(prediction=[2.0, 1.0], reference=[0, 1], exclude=[0])
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0, SECOND, SECOND]}


# A batch is in with its ids, or neither is


@pytest.mark.parametrize("left", [0, 8, 500, 4096, 3 * 4096, 8 * 4096])
def test_a_batch_that_did_not_fit_left_no_id(fresh_metric: MetricFactory, left: int) -> None:
    metric = fresh_metric()
    add(metric, "a", "b")
    with files_of_at_most(metric._state.contents.end + left), pytest.raises(OSError, match="too large"):
        add(metric, *map(str, range(1000)))
    assert len(metric) == 2
    add(metric, *map(str, range(1000)))
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0] * 1002}


def test_batches_can_be_computed_on_a_full_disk(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    add(metric, "a", "b")
    with files_of_at_most(metric._state.contents.end):
        with pytest.raises(OSError, match="too large"):
            add(metric, *map(str, range(1000)))
        assert metric.compute(use_aggregator=False) == {"nDCG": [1.0, 1.0]}


def test_a_rejected_compute_of_given_queries_leaves_neither_them_nor_their_ids(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    add(metric, "a")
    given = {"predictions": [1.0, 2.0], "references": [1, 0], "query_ids": ["b", "b"]}
    for _ in range(2):
        with pytest.raises(ValueError, match="sample_weight must hold one weight for each of 2 queries"):
            metric.compute(**given, sample_weight=[1])
        assert len(metric) == 1
    assert metric.compute(**given, use_aggregator=False) == {"nDCG": [1.0, SECOND]}


def test_more_may_be_added_after_a_rejected_compute(fresh_metric: MetricFactory, tmp_path: Path) -> None:
    metric = fresh_metric()
    for query in "abc":
        add(metric, query)
        with pytest.raises(ValueError, match="sample_weight"):
            metric.compute(sample_weight=[])
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0] * 3}
    assert not list(tmp_path.rglob("*.arrow"))


# Several processes: two metrics here, as the locks of files know no threads


@pytest.fixture
def pair(fresh_metric: MetricFactory) -> tuple[evaluate.Metric, evaluate.Metric]:
    first, second = (fresh_metric(num_process=2, process_id=each, timeout=10) for each in (0, 1))
    return first, second


def both(*calls: Callable[[], Any]) -> list[Any]:
    """The results or errors of two calls at the same time."""

    def answer(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:  # noqa: BLE001 - the test sees it
            return error

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(answer, calls, timeout=60))


def test_batches_that_a_process_cannot_hand_over_are_not_in_and_a_retry_writes_them_once(
    fresh_metric: MetricFactory, pair: Any
) -> None:
    first, second = pair
    given = {"predictions": [[1, 2], [2, 1]], "references": [[1, 0], [1, 0]]}
    alone = fresh_metric()
    alone.add_batch(**given)
    size = alone._state.contents.end

    def fail_and_retry() -> str:
        second.add_batch(predictions=[], references=[])  # process 0 has begun
        with files_of_at_most(size - 1), pytest.raises(OSError, match="too large"):  # all but the last byte fits
            second.compute(**given)
        assert len(second) == 0
        second.compute(**given)
        return "handed over"

    answers = both(lambda: first.compute(predictions=[[1]], references=[[1]], use_aggregator=False), fail_and_retry)
    assert answers == [{"nDCG": [1.0, SECOND, 1.0]}, "handed over"]


def test_a_query_that_two_processes_have_added_is_rejected_with_both_named(pair: Any) -> None:
    first, second = pair
    error, other = both(
        lambda: first.compute(predictions={"a": {"x": 1.0}}, references={"a": {"x": 1}}),
        lambda: second.compute(predictions=[1.0, 1.0], references=[1, 1], query_ids=["b", "a"]),
    )
    assert other is None
    assert str(error).startswith("query 'a' was added by process 0 and by process 1; add all documents of a query in")
    # queries that process 0 passed to its own compute may be passed again in another way
    assert first.compute(predictions={"c": {"x": 1.0}}, references={"c": {"x": 1}}) == {"nDCG": 1.0}


def test_a_compute_that_did_not_wait_long_enough_may_be_called_again(pair: Any) -> None:
    first, second = pair
    assert both(lambda: first.add_batch(**GOOD), lambda: second.add_batch(**GOOD)) == [None, None]
    first.timeout = 0.1
    with pytest.raises(ValueError, match=r"^process 1 has not called compute within 0\.1 seconds of"):
        first.compute()
    first.timeout = 10
    values, none = both(lambda: first.compute(use_aggregator=False), second.compute)
    assert none is None
    assert len(values["nDCG"]) == 2 * len(GOOD["predictions"])


def test_process_0_takes_no_batch_between_reading_and_scoring_those_of_all(pair: Any) -> None:
    first, second = pair
    given = {"predictions": [1.0, 2.0], "references": [1, 0], "query_ids": ["q0", "q0"]}
    theirs = {"predictions": [1.0], "references": [1], "query_ids": ["q1"]}
    error, _ = both(lambda: first.compute(**given, sample_weight=[1]), lambda: second.compute(**theirs))
    assert str(error).startswith("sample_weight must hold one weight for each of 2 queries")
    with pytest.raises(ValueError, match="has read the batches of all processes and not scored them; compute them"):
        first.add_batch(**GOOD)
    assert first.compute(**given, use_aggregator=False) == {"nDCG": [SECOND, 1.0]}


def test_a_process_0_that_never_began_is_an_error_within_the_timeout(fresh_metric: MetricFactory) -> None:
    second = fresh_metric(num_process=2, process_id=1, timeout=0.1)
    problem = r"^not all of the 2 processes have begun within 0\.1 seconds; .*: process 0 has not, or has died"
    with pytest.raises(ValueError, match=problem):
        second.compute(**GOOD)
    assert len(second) == 0


def test_a_process_that_died_before_it_emptied_its_file_has_not_begun(pair: Any, tmp_path: Path) -> None:
    """A killed run left a whole file; in the next, the process is killed between its lock and its file."""
    first, second = pair
    left = Store(second._file(1).path)
    left.finish(left.add(Contents(), pa.table({"predictions": [[1.0]], "references": [[1.0]], "query_id": [None]})))
    first.timeout = 0.2
    problem = r"^not all of the 2 processes have begun .*: process 1 has not, or has died"
    with FileLock(second._file(1).lock.lock_file), pytest.raises(ValueError, match=problem):
        first.add_batch(**GOOD)
    assert len(first) == 0


def test_processes_that_begin_together_meet_process_0_and_not_each_other(fresh_metric: MetricFactory) -> None:
    """Each looks for process 0's lock; none may take another's look for it."""
    others = [fresh_metric(num_process=4, process_id=each, timeout=20) for each in (1, 2, 3)]
    first = fresh_metric(num_process=4, timeout=20)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(2):
            handed_over = [pool.submit(each.compute, predictions=[[1.0]], references=[[1]]) for each in others]
            time.sleep(0.1)
            assert not any(each.done() for each in handed_over)
            assert first.compute(use_aggregator=False) == {"nDCG": [1.0] * 3}
            assert [each.result() for each in handed_over] == [None] * 3


def test_batches_added_after_an_interrupted_hand_over_are_not_handed_over_by_the_death_of_the_process(
    pair: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark was written and the lock not yet released: adding a batch takes the mark back first."""
    first, second = pair
    assert both(lambda: first.add_batch(**GOOD), lambda: second.add_batch(**GOOD)) == [None, None]

    def interrupt(lock: Any, force: bool = False) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr("ndcg.scores.batches.OwnLock.release", interrupt)
    with pytest.raises(KeyboardInterrupt):
        second.compute()
    second.add(prediction=[2, 1], reference=[1, 0])  # a single query, which is not yet in the file
    second._state.files[0].lock.release(force=True)  # as the system does for a process that dies
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^the cache file of process 1 is cut off"):
            first.compute()


def test_exclusions_may_name_queries_of_another_process(pair: Any) -> None:
    first, second = pair
    exclude = {"q2": ["a"]}
    given = [{"predictions": {q: RUN[q]}, "references": {q: QRELS[q]}, "exclude": exclude} for q in ("q1", "q2")]
    found = both(lambda: first.compute(**given[0], use_aggregator=False), lambda: second.compute(**given[1]))
    assert found == [{"nDCG": [SECOND, 1.0]}, None]


# Forks


ACTS: dict[str, Callable[[list[evaluate.Metric]], Any]] = {
    "add_batch": lambda metrics: metrics[0].add_batch(predictions=[[1, 2]] * 2, references=[[1, 0]] * 2),
    "compute": lambda metrics: metrics[0].compute(),
    "compute of inputs": lambda metrics: metrics[0].compute(**GOOD),
    "delete": lambda metrics: metrics.clear(),
}


@pytest.mark.filterwarnings("ignore")  # of threads that libraries have started
@pytest.mark.parametrize("keep_in_memory", [False, True])
@pytest.mark.parametrize("then", ACTS)
def test_a_fork_leaves_batches_to_the_process_that_added_them(
    fresh_metric: MetricFactory, keep_in_memory: bool, then: str
) -> None:
    metrics = [fresh_metric(keep_in_memory=keep_in_memory)]
    metrics[0].add_batch(predictions=[[2, 1]] * 2, references=[[1, 0]] * 2)
    problem = f"RuntimeError: this metric holds batches that process {os.getpid()} has added; compute them there, and"
    answer = in_a_fork(lambda: [ACTS[then](metrics), "done"][1])
    assert answer.startswith("done" if then == "delete" else problem)
    metrics[0].add_batch(predictions=[[1, 2]] * 2, references=[[1, 0]] * 2)
    assert metrics[0].compute(use_aggregator=False) == {"nDCG": [1.0, 1.0, SECOND, SECOND]}


@pytest.mark.filterwarnings("ignore")  # of threads that libraries have started
@pytest.mark.parametrize("then", ["delete", "release"])
def test_a_fork_leaves_the_locks_to_the_process_that_made_them(
    fresh_metric: MetricFactory, pair: Any, then: str
) -> None:
    metrics = list(pair)
    assert both(*(partial(metric.add_batch, **GOOD) for metric in metrics)) == [None, None]
    paths = [metric._state.files[0].lock.lock_file for metric in metrics]

    def act() -> str:
        if then == "release":  # as older releases of filelock do if a lock is garbage-collected
            for metric in metrics:
                metric._state.files[0].lock.release(force=True)
        metrics.clear()
        return "done"

    assert in_a_fork(act) == "done"
    for path in paths:
        with pytest.raises(Timeout):
            FileLock(path).acquire(timeout=0)
    values, _ = both(*(metric.compute for metric in metrics))
    assert values == pytest.approx(fresh_metric().compute(**GOOD))


@pytest.mark.filterwarnings("ignore")  # of threads that libraries have started
def test_a_fork_of_a_metric_that_holds_nothing_has_batches_of_its_own(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(**GOOD)
    expected = metric.compute()

    def act() -> Any:
        metric.add_batch(**GOOD)
        return metric.compute()

    assert in_a_fork(act) == expected
    assert act() == expected
