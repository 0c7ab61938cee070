"""A metric holds batches and their queries' ids whole or not at all, in one process or several."""

import datetime
import errno
import os
import re
import threading
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PosixPath
from typing import Any, ClassVar

import evaluate
import numpy as np
import pytest
from conftest import ONE_DOCUMENT_A_QUERY, MetricFactory
from forks import files_of_at_most, in_a_fork
from refusals import refusal

from ndcg import NDCG
from ndcg.scores.batch_ids import IdSets, with_more_ids

GOOD = {"predictions": [[3, 2, 1], [1, 2, 3]], "references": [[1, 0, 2], [0, 0, 1]]}


def add(metric: evaluate.Metric, *query_ids: Any) -> None:
    """One relevant document for each query."""
    metric.add_batch(
        predictions=[1.0] * len(query_ids),
        references=[1] * len(query_ids),
        query_ids=list(query_ids),
    )


def add_mapping(metric: evaluate.Metric, query_id: Any) -> None:
    metric.add_batch(predictions={query_id: {"a": 1.0}}, references={query_id: {"a": 1}})


# Ids of queries

EARLY, LATE = datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 1, 12)
ADDED = "^query {} was added before; add all documents of a query in one"


@pytest.mark.parametrize("how", [add, add_mapping])
@pytest.mark.parametrize(
    ("first", "again", "other"),
    [
        *(
            (-1, np.int64(-1), -2),
            (2**64 - 1, np.uint64(2**64 - 1), 4),
            (1, 1, "1"),
            ("e", "e", 14),
        ),
        *(("7", np.str_("7"), "'7"), ("é", "é", "A"), (b"a", b"a", "a"), (b"'", b"'", b"\xff")),
        *((EARLY, EARLY, LATE), (EARLY.date(), EARLY.date(), LATE.date() + datetime.timedelta(1))),
        (
            EARLY.replace(tzinfo=datetime.UTC),
            EARLY.replace(tzinfo=datetime.UTC),
            LATE.replace(tzinfo=datetime.UTC),
        ),
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


def test_a_query_that_was_added_may_be_added_to_the_next_evaluation(
    fresh_metric: MetricFactory,
) -> None:
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
        with refusal("", f"query {query}"):
            add(metric, query)


def test_few_sets_hold_the_ids_of_many_batches() -> None:
    """Each batch is compared with all of them."""
    sets: IdSets = ()
    for query in range(1000):
        sets = with_more_ids(sets, frozenset([b"%d" % query]))
        assert sum(map(len, sets)) == query + 1
        assert len(sets) <= np.log2(query + 2)


# Exclusions

RUN = {query: {"a": 2.0, "b": 1.0} for query in ("q1", "q2", "q3")}
QRELS = {query: {"a": 0, "b": 1} for query in RUN}
SECOND = pytest.approx(1 / np.log2(3))  # of the relevant document, behind one that is not excluded


def add_each(metric: evaluate.Metric, exclude: Any) -> None:
    for query in RUN:
        metric.add_batch(
            predictions={query: RUN[query]}, references={query: QRELS[query]}, exclude=exclude
        )


def add_each_as_rows(metric: evaluate.Metric, exclude: Any) -> None:
    for query, documents in RUN.items():
        rows = {"predictions": list(documents.values()), "references": list(QRELS[query].values())}
        metric.add_batch(
            **rows, query_ids=[query] * 2, document_ids=list(documents), exclude=exclude
        )


@pytest.mark.parametrize("add_all", [add_each, add_each_as_rows])
def test_exclusions_for_a_data_set_may_be_passed_with_each_of_its_batches(
    fresh_metric: MetricFactory, add_all: Callable[..., None]
) -> None:
    metric = fresh_metric()
    add_all(metric, {"q2": ["a"]})
    assert metric.compute(use_aggregator=False) == {"nDCG": [SECOND, 1.0, SECOND]}


def test_compute_accepts_exclusions_for_queries_of_earlier_batches(
    fresh_metric: MetricFactory,
) -> None:
    metric = fresh_metric()
    add_each(metric, {"q2": ["a"]})
    given = {
        "predictions": {"q4": RUN["q1"]},
        "references": {"q4": QRELS["q1"]},
        "exclude": {"q2": ["a"]},
    }
    assert metric.compute(**given, use_aggregator=False) == {"nDCG": [SECOND, 1.0, SECOND, SECOND]}


@pytest.mark.parametrize("add_all", [add_each, add_each_as_rows])
def test_queries_to_exclude_from_that_no_batch_has_are_an_error_of_compute(
    fresh_metric: MetricFactory, add_all: Callable[..., None]
) -> None:
    metric = fresh_metric()
    add_all(metric, {"u1": ["a"]})
    for _ in range(2):
        problem = (
            r"^exclude: no query is in the references; .* 'u1' in exclude, 'q1' .* every batch"
        )
        with pytest.raises(ValueError, match=problem):
            metric.compute()
        assert len(metric) == 3
    metric.add_batch(
        predictions={"u1": RUN["q1"]}, references={"u1": QRELS["q1"]}, exclude={"u1": ["a"]}
    )
    assert metric.compute(use_aggregator=False) == {"nDCG": [SECOND, SECOND, SECOND, 1.0]}


def test_ids_to_exclude_of_another_type_are_an_error_of_the_batch(
    fresh_metric: MetricFactory,
) -> None:
    metric = fresh_metric()
    for add_all in (add_each, add_each_as_rows):
        with refusal("exclude"):
            add_all(metric, {1: ["a"]})
    assert len(metric) == 0


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [(["a", "b"], {"b"}), ({"a": 2.0, "b": 1.0}, {"a": 0, "b": 1}), (["a", "b"], {"b": 1})],
)
def test_a_query_that_is_added_alone_may_exclude_documents_by_their_ids(
    fresh_metric: MetricFactory, prediction: Any, reference: Any
) -> None:
    metric = fresh_metric()
    for exclude in (["a"], {"c"}, None):
        metric.add(prediction=prediction, reference=reference, exclude=exclude)
    with refusal("exclude"):
        metric.add(prediction=prediction, reference=reference, exclude={"q": ["a"]})
    with refusal("exclude"):
        metric.add(prediction=[2.0, 1.0], reference=[0, 1], exclude=[0])
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0, SECOND, SECOND]}


@ONE_DOCUMENT_A_QUERY
def test_an_id_takes_about_100_bytes_until_it_is_scored(fresh_metric: MetricFactory) -> None:
    """Sizes of Python 3.11: integers take 93 bytes, names of 13 letters 110."""
    metric, queries = fresh_metric(), 50_000
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for first in range(0, queries, 5_000):
            add(metric, *(f"query-{query:07}" for query in range(first, first + 5_000)))
        taken = tracemalloc.get_traced_memory()[0] - before
        metric.compute()
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 50 < taken / queries < 150
    assert left / queries < 10


# A batch is in with its ids, or neither is


def test_a_cache_folder_that_cannot_be_written_is_an_error_that_names_it(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    """A file stands in the way, since permissions do not stop the root of a container."""
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    with pytest.raises(OSError, match=re.escape(str(in_the_way))):
        fresh_metric(cache_dir=str(in_the_way))


def test_a_cache_folder_that_disappears_is_an_error_until_it_is_back(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    metric = fresh_metric()
    (tmp_path / "cache").rename(tmp_path / "elsewhere")
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "cache"))):
        add(metric, "a")
    assert len(metric) == 0
    (tmp_path / "elsewhere").rename(tmp_path / "cache")
    add(metric, "a")
    assert metric.compute() == {"nDCG": 1.0}


@ONE_DOCUMENT_A_QUERY
@pytest.mark.parametrize("size", [0, 1000, 1500, 2000, 4096, 3 * 4096, 8 * 4096])
def test_a_batch_that_did_not_fit_left_no_id(fresh_metric: MetricFactory, size: int) -> None:
    metric = fresh_metric()
    add(metric, "a", "b")
    with files_of_at_most(size), pytest.raises(OSError) as caught:  # noqa: PT011
        add(metric, *map(str, range(1000)))
    assert caught.value.errno == errno.EFBIG
    assert len(metric) == 2
    add(metric, *map(str, range(1000)))
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0] * 1002}


@ONE_DOCUMENT_A_QUERY
def test_batches_can_be_computed_on_a_full_disk(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    add(metric, "a", "b")
    with files_of_at_most(0):
        with pytest.raises(OSError) as caught:  # noqa: PT011
            add(metric, *map(str, range(1000)))
        assert caught.value.errno == errno.EFBIG
        assert metric.compute(use_aggregator=False) == {"nDCG": [1.0, 1.0]}


def test_a_rejected_compute_of_given_queries_leaves_neither_them_nor_their_ids(
    fresh_metric: MetricFactory,
) -> None:
    metric = fresh_metric()
    add(metric, "a")
    given = {"predictions": [1.0, 2.0], "references": [1, 0], "query_ids": ["b", "b"]}
    for _ in range(2):
        with refusal("sample_weight"):
            metric.compute(**given, sample_weight=[1])
        assert len(metric) == 1
    assert metric.compute(**given, use_aggregator=False) == {"nDCG": [1.0, SECOND]}


def test_more_may_be_added_after_a_rejected_compute(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    metric = fresh_metric()
    for query in "abc":
        add(metric, query)
        with refusal("sample_weight"):
            metric.compute(sample_weight=[])
    assert metric.compute(use_aggregator=False) == {"nDCG": [1.0] * 3}
    assert not list(tmp_path.rglob("*.arrow"))


# Several processes: here metrics in threads, which exchange the same files


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


def evaluate_alone(inputs: dict[str, Any]) -> list[float]:
    """The values of queries that are scored at once."""
    values: list[float] = NDCG().compute(**inputs, use_aggregator=False)["nDCG"]
    return values


def test_batches_that_a_process_cannot_hand_over_are_not_in_and_a_retry_hands_them_over_once(
    pair: Any, tmp_path: Path
) -> None:
    first, second = pair
    added = {"predictions": [[2, 1], [1, 2]], "references": [[1, 0], [1, 0]]}
    given = {"predictions": [[1, 2], [2, 1]], "references": [[1, 0], [1, 0]]}

    def hand_over_when_it_fits() -> int:
        second.add_batch(**added)
        files = sorted(tmp_path.rglob("*"))
        size = 0
        while True:
            with files_of_at_most(size):
                try:
                    second.compute(**given)
                    break
                except OSError as error:
                    assert error.errno == errno.EFBIG  # noqa: PT017
            assert len(second) == 2  # those that were given to it are not kept
            assert sorted(tmp_path.rglob("*")) == files
            size += 100
        assert len(second) == 0
        return size

    values, size = both(
        lambda: first.compute(predictions=[[1]], references=[[1]], use_aggregator=False),
        hand_over_when_it_fits,
    )
    assert values == {"nDCG": [1.0, 1.0, SECOND, SECOND, 1.0]}
    assert size > 1000


def test_a_query_that_two_processes_have_added_is_rejected_with_both_named(pair: Any) -> None:
    first, second = pair
    error, other = both(
        lambda: first.compute(predictions={"a": {"x": 1.0}}, references={"a": {"x": 1}}),
        lambda: second.compute(predictions=[1.0, 1.0], references=[1, 1], query_ids=["b", "a"]),
    )
    assert other is None
    assert str(error).startswith(
        "query 'a' was added by process 0 and by process 1; add all documents of a query in"
    )
    # queries that process 0 passed to its own compute may be passed again in another way
    assert first.compute(predictions={"c": {"x": 1.0}}, references={"c": {"x": 1}}) == {"nDCG": 1.0}


def test_weights_begin_with_the_queries_of_process_0(pair: Any) -> None:
    first, second = pair
    weights = [1, 0, 0, 3]
    result, none = both(
        lambda: first.compute(**GOOD, sample_weight=weights), lambda: second.compute(**GOOD)
    )
    values = evaluate_alone(GOOD)
    assert none is None
    assert result == {"nDCG": pytest.approx((1 * values[0] + 3 * values[1]) / 4, rel=1e-15)}


def test_a_compute_that_did_not_wait_long_enough_may_be_called_again(pair: Any) -> None:
    first, second = pair
    assert both(lambda: first.add_batch(**GOOD), lambda: second.add_batch(**GOOD)) == [None, None]
    first.timeout = 0.1
    with refusal("process 1"):
        first.compute()
    first.timeout = 10
    values, none = both(lambda: first.compute(use_aggregator=False), second.compute)
    assert none is None
    assert len(values["nDCG"]) == 2 * len(GOOD["predictions"])


def test_process_0_takes_no_batch_between_reading_and_scoring_those_of_all(
    pair: Any, tmp_path: Path
) -> None:
    first, second = pair
    given = {"predictions": [1.0, 2.0], "references": [1, 0], "query_ids": ["q0", "q0"]}
    theirs = {"predictions": [1.0], "references": [1], "query_ids": ["q1"]}
    error, _ = both(
        lambda: first.compute(**given, sample_weight=[1]), lambda: second.compute(**theirs)
    )
    assert str(error).startswith("sample_weight must hold one weight per query, 2 in all")
    for path in tmp_path.rglob("*.arrow"):
        path.unlink()  # process 0 no longer needs it
    with pytest.raises(
        ValueError, match="has read the batches of all processes and not scored them; compute them"
    ):
        first.add_batch(**GOOD)
    assert first.compute(**given, use_aggregator=False) == {"nDCG": [SECOND, 1.0]}


def test_a_process_0_that_never_began_is_an_error_within_the_timeout(
    fresh_metric: MetricFactory,
) -> None:
    second = fresh_metric(num_process=2, process_id=1, timeout=0.1)
    problem = (
        r"^not all of the 2 processes have begun within 0\.1 seconds; .*: process 0 has not, "
        r"or has died"
    )
    with pytest.raises(ValueError, match=problem):
        second.compute(**GOOD)
    assert len(second) == 0


@pytest.mark.parametrize("begins", [False, True])
def test_what_a_killed_run_has_handed_over_is_not_of_the_next(
    fresh_metric: MetricFactory, begins: bool
) -> None:
    """Process 1 of the next run does not begin, or begins and dies."""
    killed = [fresh_metric(num_process=2, process_id=each, timeout=10) for each in (0, 1)]
    assert both(lambda: killed[0].add_batch(**GOOD), lambda: killed[1].compute(**GOOD)) == [
        None,
        None,
    ]
    first, second = (fresh_metric(num_process=2, process_id=each, timeout=10) for each in (0, 1))
    if begins:
        assert both(lambda: first.add_batch(**GOOD), lambda: second.add_batch(**GOOD)) == [
            None,
            None,
        ]
        problem = (
            r"^process 1 has not called compute within 0\.2 seconds of process 0, or has died; "
            r"call compute again"
        )
    else:
        problem = r"^not all of the 2 processes have begun .*: process 1 has not, or has died"
    first.timeout = 0.2
    for _ in range(2):
        with pytest.raises(ValueError, match=problem):
            first.compute()
    assert len(first) == 2 * begins


def test_a_process_0_that_forgot_a_round_does_not_score_the_next_in_its_place(
    pair: Any, fresh_metric: MetricFactory
) -> None:
    """It was reloaded, and adds its batches again; process 1 goes on."""
    first, second = pair
    assert both(lambda: first.add_batch(**GOOD), lambda: second.compute(**GOOD)) == [None, None]
    again = fresh_metric(num_process=2, timeout=0.5)
    second.timeout = 0.5
    errors = both(lambda: again.add_batch(**GOOD), lambda: second.add_batch(**GOOD))
    assert str(errors[0]).startswith("not all of the 2 processes have begun within 0.5 seconds; ")
    assert str(errors[1]).startswith("process 0 has not scored the last round within 0.5 seconds: ")
    assert str(errors[1]).endswith(
        "; compute in all processes, or reload the metric in all of them"
    )
    with pytest.raises(
        ValueError,
        match=r"^another process 0 uses the files .*-2-\*; give every evaluation another",
    ):
        first.compute()
    assert len(first) == 2


def test_a_process_of_a_killed_run_that_lives_on_is_not_of_the_next(
    pair: Any, fresh_metric: MetricFactory
) -> None:
    first, second = pair
    assert both(lambda: first.add_batch(**GOOD), lambda: second.add_batch(**GOOD)) == [None, None]
    again, other = (fresh_metric(num_process=2, process_id=each, timeout=10) for each in (0, 1))
    given = {"predictions": [[1, 2]], "references": [[1, 0]]}
    assert both(lambda: again.add_batch(**given), lambda: other.add_batch(**given)) == [None, None]
    second.compute()  # of the killed run

    def compute_later() -> None:
        # Process 0 finds only the file of the killed run meanwhile; were it late, less is tested.
        time.sleep(0.1)
        other.compute()

    assert both(lambda: again.compute(use_aggregator=False), compute_later) == [
        {"nDCG": [SECOND, SECOND]},
        None,
    ]


def test_two_evaluations_of_one_experiment_id_are_told_to_have_their_own(
    fresh_metric: MetricFactory,
) -> None:
    others = [fresh_metric(num_process=2, process_id=1, timeout=1) for _ in range(2)]

    def begin_later() -> None:
        time.sleep(0.2)  # while the other waits for process 0
        others[1].add_batch(**GOOD)

    error, _ = both(lambda: others[0].add_batch(**GOOD), begin_later)
    assert str(error).startswith("another process 1 uses the files ")
    assert str(error).endswith("-2-*; give every evaluation another experiment_id")


def test_processes_that_begin_together_meet_process_0_and_not_each_other(
    fresh_metric: MetricFactory,
) -> None:
    """All at the same moment; a token or an answer of one is not taken for that of another."""
    others = [fresh_metric(num_process=4, process_id=each, timeout=20) for each in (1, 2, 3)]
    first = fresh_metric(num_process=4, timeout=20)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(2):
            handed_over = [
                pool.submit(each.compute, predictions=[[1.0]], references=[[1]]) for each in others
            ]
            time.sleep(0.1)
            assert not any(each.done() for each in handed_over)
            assert first.compute(use_aggregator=False) == {"nDCG": [1.0] * 3}
            assert [each.result() for each in handed_over] == [None] * 3


class NetworkPath(PosixPath):
    """A path on a network mount, which remembers for a while that a file does not exist.

    As NFS does without `lookupcache=positive`: a new file of another machine is seen once the
    answer to the last look for it has expired.
    """

    seconds: ClassVar[float] = 0.3
    absent: ClassVar[dict[tuple[int, str], float]] = {}  # until when, by thread and path

    def open(self, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        """Open a file, or raise the error of the last look for it."""
        machine_and_path = threading.get_ident(), str(self)
        if "r" in mode and self.absent.get(machine_and_path, 0) > time.monotonic():
            raise FileNotFoundError(self)
        try:
            return super().open(mode, *args, **kwargs)
        except FileNotFoundError:
            self.absent[machine_and_path] = time.monotonic() + self.seconds
            raise


def test_processes_meet_where_new_files_are_seen_late_and_nothing_is_locked_or_linked(
    pair: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on several machines with NFS; a timeout that is shorter than the delay is an error."""

    def refuse(*_: Any) -> None:
        raise OSError("this mount has no locks and no links")

    for name in ("fcntl.flock", "fcntl.lockf", "os.link", "os.symlink"):
        monkeypatch.setattr(name, refuse)
    monkeypatch.setattr("ndcg.scores.exchange.Path", NetworkPath)
    first, second = pair
    for _ in range(2):
        values, none = both(lambda: first.compute(**GOOD), lambda: second.compute(**GOOD))
        assert (values, none) == (NDCG().compute(**GOOD), None)
    first.timeout = second.timeout = 0.1
    NetworkPath.absent.clear()

    def begin_once_the_first_has_looked() -> None:
        while not NetworkPath.absent:
            time.sleep(0.001)
        second.add_batch(**GOOD)

    error, _ = both(lambda: first.add_batch(**GOOD), begin_once_the_first_has_looked)
    assert str(error).startswith("not all of the 2 processes have begun within 0.1 seconds")


def interrupt_hand_over(pair: Any, monkeypatch: pytest.MonkeyPatch, is_done: bool) -> None:
    """Let both processes add a batch; the second is interrupted when it hands its own over."""
    first, second = pair
    assert both(lambda: first.add_batch(**GOOD), lambda: second.add_batch(**GOOD)) == [None, None]
    replace = os.replace

    def interrupt(*paths: Any) -> None:
        monkeypatch.undo()
        if is_done:
            replace(*paths)
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        second.compute()


@pytest.mark.parametrize("is_done", [False, True])
def test_a_hand_over_that_was_interrupted_is_done_or_not(
    pair: Any, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    first, second = pair
    interrupt_hand_over(pair, monkeypatch, is_done)
    more = []
    if not is_done:
        second.add(prediction=[2, 1], reference=[1, 0])
        more = [1.0]
    values, none = both(lambda: first.compute(use_aggregator=False), second.compute)
    alone = evaluate_alone(GOOD)
    assert values == {"nDCG": [*alone, *alone, *more]}
    assert none is None
    assert (len(first), len(second)) == (0, 0)


def test_a_process_begins_the_next_round_after_a_hand_over_that_was_interrupted(
    pair: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair
    interrupt_hand_over(pair, monkeypatch, is_done=True)

    def next_round() -> None:
        second.add(prediction=[1, 2], reference=[1, 0])
        second.compute()

    def two_rounds() -> list[Any]:
        return [first.compute(use_aggregator=False), first.compute(use_aggregator=False)]

    values, none = both(two_rounds, next_round)
    alone = evaluate_alone(GOOD)
    assert (values, none) == ([{"nDCG": [*alone, *alone]}, {"nDCG": [SECOND]}], None)


def test_exclusions_may_name_queries_of_another_process(pair: Any) -> None:
    first, second = pair
    exclude = {"q2": ["a"]}
    given = [
        {"predictions": {q: RUN[q]}, "references": {q: QRELS[q]}, "exclude": exclude}
        for q in ("q1", "q2")
    ]
    found = both(
        lambda: first.compute(**given[0], use_aggregator=False), lambda: second.compute(**given[1])
    )
    assert found == [{"nDCG": [SECOND, 1.0]}, None]


# Forks


ACTS: dict[str, Callable[[list[evaluate.Metric]], Any]] = {
    "add_batch": lambda metrics: metrics[0].add_batch(
        predictions=[[1, 2]] * 2, references=[[1, 0]] * 2
    ),
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
    problem = (
        f"RuntimeError: this metric holds batches that process {os.getpid()} has added; "
        "compute them there, and"
    )
    answer = in_a_fork(lambda: [ACTS[then](metrics), "done"][1])
    assert answer.startswith("done" if then == "delete" else problem)
    metrics[0].add_batch(predictions=[[1, 2]] * 2, references=[[1, 0]] * 2)
    assert metrics[0].compute(use_aggregator=False) == {"nDCG": [1.0, 1.0, SECOND, SECOND]}


@pytest.mark.filterwarnings("ignore")  # of threads that libraries have started
def test_a_fork_leaves_the_round_to_the_processes_that_began_it(
    fresh_metric: MetricFactory, pair: Any
) -> None:
    metrics = list(pair)
    assert both(*(partial(metric.add_batch, **GOOD) for metric in metrics)) == [None, None]
    assert in_a_fork(lambda: [metrics.clear(), "done"][1]) == "done"
    for metric in metrics:
        answer = in_a_fork(metric.compute)
        assert answer.startswith(
            f"RuntimeError: this metric holds batches that process {os.getpid()} has added"
        )
    values, _ = both(*(metric.compute for metric in metrics))
    assert values == pytest.approx(fresh_metric().compute(**GOOD))


@pytest.mark.filterwarnings("ignore")  # of threads that libraries have started
def test_a_fork_of_a_metric_that_holds_nothing_has_batches_of_its_own(
    fresh_metric: MetricFactory,
) -> None:
    metric = fresh_metric()
    metric.add_batch(**GOOD)
    expected = metric.compute()

    def act() -> Any:
        metric.add_batch(**GOOD)
        return metric.compute()

    assert in_a_fork(act) == expected
    assert act() == expected
