"""Faults of real machines end in an error: nothing is lost or counted twice, and no mean is over a part of the queries.

Processes, signals, locks and full disks are real.
"""

import json
import math
import os
import pickle
import signal
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, MetricFactory, Processes

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

# A process 0 that has met the others and waits for batches that will not come.
FIRST = """
metric = load(0, 2)
try:
    metric.add_batch(**GOOD)
    metric.timeout = 0.5
    print(metric.compute())
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("when", ["between batches", "before its compute"])
def test_a_process_that_died_is_an_error_and_never_a_part_of_the_mean(processes: Processes, when: str) -> None:
    more = "metric.add_batch(**GOOD)" if when == "before its compute" else ""
    second = processes.start(
        f"""
        metric = load(1, 2)
        metric.add_batch(**GOOD)
        {more}
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    again = "try:\n    metric.compute()\nexcept ValueError as error:\n    print(error)\n"
    message, next_message = processes.run(FIRST.replace("metric.timeout = 0.5", "") + again).splitlines()
    assert second.await_death() == -signal.SIGKILL
    assert message.startswith("the cache file of process 1 is cut off: the process died before its compute")
    assert next_message == message


def test_the_files_of_a_killed_run_neither_block_the_next_nor_enter_it(processes: Processes, right: float) -> None:
    killed = [
        processes.start(
            f"""
            metric = load({process_id}, 2)
            metric.add_batch(predictions=[[1, 2]] * 50, references=[[1, 0]] * 50)
            meet()
            """
        )
        for process_id in (0, 1)
    ]
    for process in killed:
        process.await_meeting()  # both have begun
    for process in killed:
        process.kill()
    assert len(list(processes.cache.rglob("*.arrow"))) == 1  # the file of process 0 has no name
    second = processes.start(
        """
        metric = load(1, 2)
        metric.add_batch(**GOOD)
        metric.compute()
        """
    )
    assert processes.run(FIRST.replace("metric.timeout = 0.5", "")) == str({"nDCG": right})
    second.output()
    assert not list(processes.cache.rglob("*.arrow"))


def test_a_process_that_is_ahead_waits_until_its_last_round_is_read(processes: Processes) -> None:
    """Round after round under one experiment id; process 0 computes when the other begins its next round."""
    rounds = """
        metric = load({0}, 2)
        values = []
        for at in range(4):
            if {0} == 1 and at:
                meet()
            metric.add_batch(predictions=[[1, 2, 3]] * (at + 1), references=[[{0}, at, 1]] * (at + 1))
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
    found = json.loads(first.output())
    second.output()
    ndcg = evaluate.load(str(ROOT / "ndcg.py"))
    for at, values in enumerate(found):
        references = [[0, at, 1]] * (at + 1) + [[1, at, 1]] * (at + 1)
        both = {"predictions": [[1, 2, 3]] * (2 * at + 2), "references": references}
        assert values == ndcg.compute(**both, use_aggregator=False)


def test_rounds_of_one_experiment_id_are_mixed_up_if_the_metric_is_loaded_again(processes: Processes) -> None:
    """Process 1 writes the file of its rounds anew, so process 0 adds the last of them to its first round."""
    first = processes.start(
        """
        metric = load(0, 2)
        metric.add_batch(predictions=[[2, 1]], references=[[1, 0]])
        meet()
        print(metric.compute())
        try:
            load(0, 2, timeout=0.5).compute(predictions=[[2, 1]], references=[[1, 0]])
        except ValueError as error:
            print(error)
        """
    )
    processes.run(
        """
        for at in range(3):
            load(1, 2).compute(predictions=[[3, 2, 1]], references=[[int(rank == at) for rank in range(3)]])
        """
    )
    first.await_meeting()
    first.release()
    mean, error = first.output().splitlines()
    assert mean == str({"nDCG": (1 + 1 / math.log2(4)) / 2})
    assert error.startswith("not all of the 2 processes have begun")


def test_eight_processes_of_their_own_do_not_disturb_each_other(processes: Processes, ndcg: evaluate.Metric) -> None:
    for number in range(8):
        processes.start(
            f"""
            metric = load()
            for at in range(20):
                metric.add_batch(predictions=[[{number}, at, 3.0]], references=[[1, 2, {number}]])
            print(metric.compute())
            """
        )
    for number, process in enumerate(processes.running):
        rows = {"predictions": [[number, at, 3.0] for at in range(20)], "references": [[1, 2, number]] * 20}
        assert process.output() == str(ndcg.compute(**rows))
    assert not list(processes.cache.rglob("*.arrow"))


# A metric that leaves its batches to evaluate, and answers how many queries it is given
OWN = """
import datasets


class Own(evaluate.Metric):
    def _info(self):
        lists = datasets.Sequence(datasets.Value("float64"))
        features = datasets.Features({"predictions": lists, "references": lists})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references):
        return len(predictions)


def load(process_id, num_process):
    return Own(cache_dir=cache, num_process=num_process, process_id=process_id, timeout=500)


BATCH = {"predictions": [[2.0, 1.0]] * 1500, "references": [[1.0, 0.0]] * 1500}  # more than a file's buffer holds
"""


def test_evaluates_own_processes_score_the_batches_of_a_killed_one(processes: Processes) -> None:
    """The reason for a protocol of our own: docs/faults.md compares them."""
    second = processes.start(
        OWN
        + textwrap.dedent("""
        metric = load(1, 2)
        for batch in range(5):
            metric.add_batch(**BATCH)
            if batch == 2:
                os.kill(os.getpid(), signal.SIGKILL)
        """)
    )
    own = 1500
    found = int(processes.run(OWN + "metric = load(0, 2)\nmetric.add_batch(**BATCH)\nprint(metric.compute())"))
    assert second.await_death() == -signal.SIGKILL
    assert own <= found < own + 5 * 1500  # without an error


# Disks


@pytest.fixture
def second(fresh_metric: MetricFactory) -> evaluate.Metric:
    """Process 1 of two, which has added a batch: another process may come at its file, as it has a name."""
    first, second = (fresh_metric(num_process=2, process_id=each) for each in (0, 1))
    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(first.add_batch, **GOOD)
        second.add_batch(**GOOD)
        begun.result()
    return second


@pytest.mark.parametrize("what", ["removed", "replaced", "cut off"])
def test_a_cache_file_that_another_removes_replaces_or_cuts_is_an_error(
    second: evaluate.Metric, tmp_path: Path, what: str
) -> None:
    second.add_batch(**GOOD)
    path = next(tmp_path.rglob("*.arrow"))
    if what == "cut off":
        os.truncate(path, path.stat().st_size - 16)
    else:
        (tmp_path / "other").write_bytes(path.read_bytes())
        path.unlink()
        if what == "replaced":
            os.replace(tmp_path / "other", path)
    for then in (second.compute, lambda: second.add_batch(**GOOD)):
        with pytest.raises(ValueError, match=r"was removed, replaced or cut off by another: .*arrow; its"):
            then()


@pytest.mark.parametrize("end", ["computes", "raises", "computes nothing", "is killed"])
def test_a_run_of_one_process_leaves_nothing_in_the_cache_however_it_ends(processes: Processes, end: str) -> None:
    """Also while another metric has batches in the same folder."""
    other = processes.start("metric = load()\nmetric.add_batch(**GOOD)\nmeet()\nprint(metric.compute())")
    other.await_meeting()
    ends = {
        "computes": "metric.compute()",
        "raises": "raise SystemExit(3)",
        "computes nothing": "del metric",
        "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    }
    run = processes.start(f"metric = load()\nmetric.add_batch(**GOOD)\n{ends[end]}")
    assert run.await_death() == {"raises": 3, "is killed": -signal.SIGKILL}.get(end, 0)
    assert [path for path in processes.cache.rglob("*") if path.is_file()] == []
    other.release()
    assert "nDCG" in other.output()


# Copies and threads


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_may_be_given_the_metric(processes: Processes, right: float, method: str) -> None:
    script = f"""
        from functools import partial
        from multiprocessing import get_context
        from forks import add_and_compute
        with get_context({method!r}).Pool(2) as pool:
            print(pool.map(partial(add_and_compute, inputs=GOOD), [load()] * 4))
        """
    assert processes.run(script) == str([{"nDCG": right}] * 4)


def test_a_metric_is_pickled_while_it_holds_nothing(fresh_metric: MetricFactory, right: float) -> None:
    metric = fresh_metric()
    assert pickle.loads(pickle.dumps(metric)).compute(**GOOD) == {"nDCG": right}
    metric.add_batch(**GOOD)
    with pytest.raises(TypeError, match=r"holds batches.* compute them before"):
        pickle.dumps(metric)
    assert metric.compute() == {"nDCG": right}


def test_two_threads_may_not_add_to_one_metric_at_the_same_time(fresh_metric: MetricFactory, ndcg: Any) -> None:
    metric = fresh_metric()
    errors: list[str] = []

    def add(number: int) -> None:
        for _ in range(30):
            try:
                metric.add_batch(predictions=np.full((50, 200), number), references=np.ones((50, 200)))
                added.append(50)
            except RuntimeError as error:
                errors.append(str(error))

    added: list[int] = []
    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(metric) == sum(added)
    assert all("in use by another thread" in error for error in errors)
    assert metric.compute() == {"nDCG": 1.0}


# Extremes


@pytest.mark.parametrize(
    ("predictions", "references"),
    [(np.empty((3, 0)), np.empty((3, 0))), ([[], [], []], [[], [], []]), (np.empty((0, 3)), np.empty((0, 3)))],
    ids=["no documents", "no documents in lists", "no queries"],
)
def test_nothing_to_rank(fresh_metric: MetricFactory, predictions: Any, references: Any) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=predictions, references=references)
    assert len(metric) == len(predictions)
    if len(predictions):
        assert metric.compute() == {"nDCG": 0.0}
    else:
        with pytest.raises(ValueError, match="no queries"):
            metric.compute()


def test_one_query_of_millions_of_documents_and_millions_of_one(fresh_metric: MetricFactory) -> None:
    rng, documents = np.random.default_rng(0), 20_000_000
    scores = (np.arange(documents) * 7_654_321 % documents).astype(float)  # each once: no common divisor
    relevance = (rng.random(documents) < 1e-3).astype(np.float32)
    metric = fresh_metric()
    metric.add_batch(predictions=scores[np.newaxis], references=relevance[np.newaxis])
    ranks = documents - scores[relevance > 0]
    dcg, ideal = ((1 / np.log2(found + 1)).sum() for found in (ranks, np.arange(1, len(ranks) + 1)))
    assert metric.compute()["nDCG"] == pytest.approx(dcg / ideal, rel=1e-12)
    scores, relevance = scores[: documents // 4], relevance[: documents // 4]
    of_one = np.arange(len(scores) + 1)  # as Arrow lists: a matrix of one column is refused
    sides = (pa.LargeListArray.from_arrays(of_one, pa.array(side)) for side in (scores, relevance))
    metric.add_batch(**dict(zip(("predictions", "references"), sides, strict=True)))
    assert metric.compute()["nDCG"] == pytest.approx(relevance.mean(dtype=np.float64), rel=1e-12)
