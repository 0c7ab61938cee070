"""Faults of real machines end in an error: nothing is lost, counted twice or averaged in part.

Processes, signals and full disks are real.
"""

import json
import os
import pickle
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, MetricFactory, Processes
from refusals import refusal

GOOD = {"predictions": [[3, 2, 1], [1, 2, 3]], "references": [[1, 0, 2], [0, 0, 1]]}
PREAMBLE = f"""
import json, os, signal
import evaluate


def load(process_id=0, num_process=1, timeout=500):
    how = {{"process_id": process_id, "num_process": num_process, "timeout": timeout}}
    return evaluate.load(path, cache_dir=cache, **how)


GOOD = {GOOD}
"""


@pytest.fixture(autouse=True)
def _preamble(processes: Processes) -> None:
    processes.preamble = PREAMBLE


@pytest.fixture(scope="module")
def right(ndcg: evaluate.Metric) -> float:
    return ndcg.compute(**GOOD)["nDCG"]


# Several processes


@pytest.mark.parametrize("batches", [1, 2])
def test_a_process_that_died_is_an_error_and_never_a_part_of_the_mean(
    processes: Processes, batches: int
) -> None:
    second = processes.start(
        f"""
        metric = load(1, 2)
        for _ in range({batches}):
            metric.add_batch(**GOOD)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    printed = processes.run(
        """
        metric = load(0, 2)
        metric.add_batch(**GOOD)
        metric.timeout = 0.5
        for _ in range(2):
            try:
                metric.compute()
            except ValueError as error:
                print(error)
        """
    )
    message, next_message = printed.splitlines()
    assert second.await_death() == -signal.SIGKILL
    assert message.startswith(
        "process 1 has not called compute within 0.5 seconds of process 0, or has died; "
    )
    assert next_message == message


def test_a_process_0_that_died_is_an_error_of_the_next_round(processes: Processes) -> None:
    first = processes.start(
        """
        metric = load(0, 2)
        metric.add_batch(**GOOD)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    printed = processes.run(
        """
        metric = load(1, 2)
        metric.add_batch(**GOOD)
        print(metric.compute())
        metric.timeout = 0.5
        for _ in range(2):
            try:
                metric.add_batch(**GOOD)
            except ValueError as error:
                print(error)
        """
    )
    scored, message, next_message = printed.splitlines()
    assert first.await_death() == -signal.SIGKILL
    assert scored == "None"
    assert message.startswith("process 0 has not scored the last round within 0.5 seconds: ")
    assert next_message == message


@pytest.mark.parametrize("then", ["", "metric.compute()"], ids=["adding", "handed over"])
def test_the_files_of_a_killed_run_neither_block_the_next_nor_enter_it(
    processes: Processes, right: float, then: str
) -> None:
    killed = [
        processes.start(
            f"""
            metric = load({process_id}, 2)
            metric.add_batch(predictions=[[1, 2]] * 50, references=[[1, 0]] * 50)
            {then if process_id else ""}
            meet()
            """
        )
        for process_id in (0, 1)
    ]
    for process in killed:
        process.await_meeting()
    for process in killed:
        process.kill()
    assert [path for path in processes.cache.rglob("*") if path.is_file()]
    second = processes.start("metric = load(1, 2)\nmetric.add_batch(**GOOD)\nmetric.compute()")
    assert processes.run(
        "metric = load(0, 2)\nmetric.add_batch(**GOOD)\nprint(metric.compute())"
    ) == str({"nDCG": right})
    second.output()
    assert not [path for path in processes.cache.rglob("*") if path.is_file()]


def assert_whole_rounds(found: list[list[float]]) -> None:
    """Each round has the values of its own queries, of both processes."""
    ndcg = evaluate.load(str(ROOT / "ndcg.py"))
    for at, values in enumerate(found):
        references = [[0, at, 1]] * (at + 1) + [[1, at, 1]] * (at + 1)
        both = {"predictions": [[0.1, 0.2, 0.3]] * (2 * at + 2), "references": references}
        assert values == ndcg.compute(**both, use_aggregator=False)


def test_processes_that_reload_the_metric_for_each_round_may_be_ahead(processes: Processes) -> None:
    """Under one experiment id."""
    rounds = """
        values = []
        for at in range(3):
            metric = load({0}, 2)
            scores, relevances = [0.1, 0.2, 0.3], [{0}, at, 1]
            metric.add_batch(
                predictions=[scores] * (at + 1), references=[relevances] * (at + 1)
            )
            if {0} == 0:
                meet()
            values.append(metric.compute(use_aggregator=False))
        print(json.dumps(values))
        """
    first, second = (processes.start(rounds.format(process_id)) for process_id in (0, 1))
    for _ in range(3):
        first.await_meeting()
        time.sleep(
            0.1
        )  # for the second to begin its next round; were it late, less would be tested
        first.release()
    assert_whole_rounds(json.loads(first.output()))
    second.output()


def test_a_process_that_is_ahead_waits_until_its_last_round_is_read(processes: Processes) -> None:
    """Round after round under one experiment id; process 0 computes when the other goes on."""
    rounds = """
        metric = load({0}, 2)
        values = []
        for at in range(4):
            if {0} == 1 and at:
                meet()
            scores, relevances = [0.1, 0.2, 0.3], [{0}, at, 1]
            metric.add_batch(
                predictions=[scores] * (at + 1), references=[relevances] * (at + 1)
            )
            if {0} == 0 and at < 3:
                meet()
            values.append(metric.compute(use_aggregator=False))
        print(json.dumps(values))
        """
    first, second = (processes.start(rounds.format(process_id)) for process_id in (0, 1))
    for _ in range(3):
        first.await_meeting()
        second.await_meeting()
        second.release()
        time.sleep(0.1)  # for the second to run into its wait; were it late, less would be tested
        first.release()
    assert_whole_rounds(json.loads(first.output()))
    second.output()


# A metric that leaves its batches to evaluate, and answers how many queries it is given
OWN = """
import datasets


class Own(evaluate.Metric):
    def _info(self):
        lists = datasets.Sequence(datasets.Value("float64"))
        features = datasets.Features({"predictions": lists, "references": lists})
        texts = dict.fromkeys(["description", "citation", "inputs_description"], "")
        return evaluate.MetricInfo(**texts, features=features)

    def _compute(self, predictions, references):
        return len(predictions)


metric = Own(cache_dir=cache, num_process=2, process_id=process_id, timeout=500)
for batch in range(batches):
    # more than a file's buffer holds
    metric.add_batch(predictions=[[2.0, 1.0]] * 1500, references=[[1.0, 0.0]] * 1500)
    if batch == 2:
        os.kill(os.getpid(), signal.SIGKILL)
print(metric.compute())
"""


@pytest.mark.slow
def test_evaluates_own_processes_score_the_batches_of_a_killed_one(processes: Processes) -> None:
    """The reason for a protocol of our own: docs/processes.md compares them."""
    second = processes.start(OWN, process_id=1, batches=5)
    found = int(processes.run(OWN, process_id=0, batches=1))
    assert second.await_death() == -signal.SIGKILL
    assert 1500 <= found < 6 * 1500  # without an error


# Disks


def replace(path: Path) -> None:
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    os.replace(copy, path)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (Path.unlink, "process 1"),
        (lambda path: os.truncate(path, path.stat().st_size - 24), "the file of process 1"),
        (lambda path: os.truncate(path, 0), "the file of process 1"),
        (replace, ""),
    ],
    ids=["removed", "cut off", "emptied", "replaced"],
)
def test_a_file_that_another_removes_or_cuts_is_an_error(
    fresh_metric: MetricFactory,
    tmp_path: Path,
    right: float,
    spoil: Callable[[Path], None],
    problem: str,
) -> None:
    """Only process 0 reads it, once it was handed over."""
    first, second = (fresh_metric(num_process=2, process_id=each) for each in (0, 1))
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(first.add_batch, **GOOD)
        second.compute(**GOOD)
        begun.result()
    spoil(next(tmp_path.rglob("*.arrow")))
    first.timeout = 0.2
    if problem:
        for _ in range(2):
            with refusal(problem):
                first.compute()
        assert len(first) == 2
    else:
        assert first.compute() == {"nDCG": pytest.approx(right)}


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("metric.compute()", 0),
        ("raise SystemExit(3)", 3),
        ("del metric", 0),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_a_run_of_one_process_leaves_nothing_in_the_cache_however_it_ends(
    processes: Processes, end: str, status: int
) -> None:
    """Also while another metric has batches in the same folder."""
    other = processes.start(
        "metric = load()\nmetric.add_batch(**GOOD)\nmeet()\nprint(metric.compute())"
    )
    other.await_meeting()
    run = processes.start(f"metric = load()\nmetric.add_batch(**GOOD)\n{end}")
    assert run.await_death() == status
    assert [path for path in processes.cache.rglob("*") if path.is_file()] == []
    other.release()
    assert "nDCG" in other.output()


# Copies and threads


@pytest.mark.parametrize(
    ("method", "workers"),
    [
        ("fork", 2),
        # each worker that is spawned takes seconds to import evaluate
        pytest.param("spawn", 1, marks=pytest.mark.slow),
    ],
)
def test_workers_may_be_given_the_metric(
    processes: Processes, right: float, method: str, workers: int
) -> None:
    script = f"""
        from functools import partial
        from multiprocessing import get_context
        from forks import add_and_compute
        with get_context({method!r}).Pool({workers}) as pool:
            print(pool.map(partial(add_and_compute, inputs=GOOD), [load()] * 4))
        """
    assert processes.run(script) == str([{"nDCG": right}] * 4)


def test_a_metric_is_pickled_while_it_holds_nothing(
    fresh_metric: MetricFactory, right: float
) -> None:
    metric = fresh_metric()
    assert pickle.loads(pickle.dumps(metric)).compute(**GOOD) == {"nDCG": right}
    metric.add_batch(**GOOD)
    with pytest.raises(TypeError, match="batches"):
        pickle.dumps(metric)
    assert metric.compute() == {"nDCG": right}


def test_two_threads_may_not_add_to_one_metric_at_the_same_time(
    fresh_metric: MetricFactory,
) -> None:
    metric = fresh_metric()
    errors: list[str] = []
    added: list[int] = []

    def add(_: int) -> None:
        for _ in range(30):
            try:
                metric.add_batch(predictions=2 * np.eye(50, 200), references=np.eye(50, 200))
                added.append(50)
            except RuntimeError as error:
                errors.append(str(error))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    assert len(metric) == sum(added)
    assert all("in use by another thread" in error for error in errors)
    assert metric.compute() == {"nDCG": 1.0}


# Extremes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*have one document each:UserWarning")
def test_one_query_of_millions_of_documents_and_a_million_of_one(
    fresh_metric: MetricFactory,
) -> None:
    rng, documents, queries = np.random.default_rng(0), 17_000_000, 1_000_000
    # every number once, since they have no common divisor
    scores = (np.arange(documents) * 7_654_321 % documents).astype(float)
    relevance = (rng.random(documents, np.float32) < 1e-3).astype(np.float32)
    metric = fresh_metric()
    one = {"predictions": scores[np.newaxis], "references": relevance[np.newaxis]}
    metric.add_batch(**one, score_order="descending")
    ranks = documents - scores[relevance > 0]
    dcg, ideal = ((1 / np.log2(rank + 1)).sum() for rank in (ranks, np.arange(1, len(ranks) + 1)))
    assert metric.compute()["nDCG"] == pytest.approx(dcg / ideal, rel=1e-12)
    scores, relevance = scores[:queries], relevance[:queries]
    of_one = np.arange(queries + 1)  # as Arrow lists: a matrix of one column is refused
    sides = (pa.LargeListArray.from_arrays(of_one, pa.array(side)) for side in (scores, relevance))
    metric.add_batch(**dict(zip(("predictions", "references"), sides, strict=True)))
    assert metric.compute()["nDCG"] == pytest.approx(relevance.mean(dtype=np.float64), rel=1e-12)
