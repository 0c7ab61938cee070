"""`meter` has the mean over all batches of a loop, in one process or several, as if at once."""

import json
import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import forks
import numpy as np
import pytest
from conftest import NOTHING_IN_COMMON, ONE_DOCUMENT_A_QUERY, ROOT, Processes, lean_environment
from evaluate import Metric
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

from ndcg.loops import meter

Query = tuple[list[float], list[int]]  # the scores and the labels of its documents


def make_queries(number: int = 23, seed: int = 0) -> list[Query]:
    """Queries of 1 to 30 documents, with ties, and some with nothing relevant."""
    rng = np.random.default_rng(seed)
    queries = []
    for documents in rng.integers(1, 31, number):
        labels = rng.integers(0, 4, documents) * (rng.random() < 0.8)
        queries.append(((rng.integers(0, 12, documents) / 4).tolist(), labels.tolist()))
    return queries


def pad(queries: Sequence[Query]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, labels and the mask of a batch; reading the padding would change any result."""
    lengths = np.array([len(labels) for _, labels in queries])
    mask = np.arange(lengths.max()) < lengths[:, None]
    scores, labels = np.full(mask.shape, 99.0), np.full(mask.shape, 3)
    scores[mask], labels[mask] = (np.concatenate(column) for column in zip(*queries, strict=True))
    return scores, labels, mask


def rows_of(queries: Sequence[Query]) -> list[tuple[float, int, int]]:
    """The score, the label and the query of each document."""
    return [
        (*document, query)
        for query, each in enumerate(queries)
        for document in zip(*each, strict=True)
    ]


def lists_of(queries: Sequence[Query]) -> dict[str, Any]:
    return dict(
        zip(("predictions", "references"), map(list, zip(*queries, strict=True)), strict=True)
    )


def exact_means(ndcg: Metric, queries: Sequence[Query], **options: Any) -> dict[str, float]:
    """The values of the queries one by one, added without any rounding, then divided."""
    values = ndcg.compute(**lists_of(queries), use_aggregator=False, **options)
    valued = {
        name: [value for value in each if not math.isnan(value)] for name, each in values.items()
    }
    return {name: float(sum(map(Fraction, each))) / len(each) for name, each in valued.items()}


# --- One process ----------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    data=st.data(), options=st.sampled_from([{"k": [1, 5]}, {"k": 10, "convention": "lightgbm"}])
)
def test_the_mean_is_the_same_number_however_queries_are_split(
    ndcg: Metric, data: st.DataObject, options: dict[str, Any]
) -> None:
    queries = make_queries()
    order = data.draw(st.permutations(range(len(queries))))
    cuts = [0, *sorted(data.draw(st.sets(st.integers(1, len(queries) - 1)))), len(queries)]
    batches = ndcg.meter(**options)
    for start, end in pairwise(cuts):
        batches.update(*pad([queries[each] for each in order[start:end]]))
    assert batches.compute() == exact_means(ndcg, queries, **options)
    assert batches.compute() == pytest.approx(
        ndcg.compute(**lists_of(queries), **options), rel=1e-15
    )


@given(st.lists(st.floats(-1e300, 1e300), max_size=50))
def test_the_parts_of_a_sum_add_up_exactly(numbers: list[float]) -> None:
    assert sum(map(Fraction, meter.exact_parts(numbers))) == sum(map(Fraction, numbers))


def tensors(dtype: str) -> Callable[..., list[Any]]:
    def make(scores: np.ndarray, *others: np.ndarray) -> list[Any]:
        torch = pytest.importorskip("torch")
        made = [torch.from_numpy(each) for each in (scores, *others)]
        return [made[0].to(getattr(torch, dtype)).requires_grad_(), *made[1:]]

    return make


@pytest.mark.parametrize(
    "make",
    [
        lambda *arrays: arrays,
        lambda scores, labels, mask: (scores, labels, mask.astype(np.int64)),
        lambda scores, labels, mask: (scores, labels, mask.astype(np.float32)),
        lambda scores, labels, mask: (
            np.where(mask, scores, math.nan),
            np.where(mask, labels, math.nan),
            mask,
        ),
        tensors("float64"),
        tensors("bfloat16"),
    ],
    ids=[
        "arrays",
        "an integer mask",
        "a mask of floats",
        "nan in the padding",
        "tensors",
        "bfloat16",
    ],
)
def test_a_mask_ignore_index_and_ragged_lists_are_the_same(
    ndcg: Metric, make: Callable[..., Any]
) -> None:
    queries = make_queries()
    scores, labels, mask = pad(queries)
    padded, ragged, ignored = (ndcg.meter(k=5), ndcg.meter(k=5), ndcg.meter(k=5, ignore_index=-1))
    padded.update(*make(scores, labels, mask))
    ragged.update(*lists_of(queries).values())
    ignored.update(make(scores, labels, mask)[0], np.where(mask, labels, -1))
    assert (
        padded.compute() == ragged.compute() == ignored.compute() == exact_means(ndcg, queries, k=5)
    )


def test_a_query_that_is_padding_throughout_is_empty_or_skipped(ndcg: Metric) -> None:
    means = []
    for missing in ("empty", "skip"):
        batches = ndcg.meter(missing=missing)
        batches.update([[0.9, 0.1], [0.5, 0.5]], [[1, 0], [1, 0]], [[True, True], [False, False]])
        means.append(batches.compute()["nDCG"])
    assert means == [0.5, 1.0]


def test_rows_of_a_query_may_come_in_several_batches(ndcg: Metric) -> None:
    rows = rows_of(make_queries())
    order = np.random.default_rng(1).permutation(len(rows))
    masked, ignored = ndcg.meter(k=[1, 5]), ndcg.meter(k=[1, 5], ignore_index=-100)
    for start in range(0, len(rows), 7):
        scores, labels, ids = map(
            np.array, zip(*(rows[row] for row in order[start : start + 7]), strict=True)
        )
        scores, ids, mask = (
            np.append(scores, 99.0),
            np.append(ids, 0),
            np.append(np.ones(len(ids), bool), False),
        )
        masked.update(scores, np.append(labels, 3), mask, ids)
        ignored.update(scores, np.append(labels, -100), query_ids=ids)
    assert masked.compute() == ignored.compute() == exact_means(ndcg, make_queries(), k=[1, 5])


def test_queries_and_rows_add_up_until_a_reset(ndcg: Metric) -> None:
    queries = make_queries()
    batches = ndcg.meter(k=5)
    batches.update(*pad(queries[:9]))
    copied = pickle.loads(pickle.dumps(batches))
    for score, label, query in rows_of(queries[9:]):
        copied.update([score], [label], query_ids=[query])
    assert copied.compute() == copied.compute() == exact_means(ndcg, queries, k=5)
    assert batches.compute() == exact_means(ndcg, queries[:9], k=5)
    copied.reset()
    with refusal("predictions and references"):
        copied.compute()
    copied.update(*pad(queries[:3]))
    assert copied.compute() == exact_means(ndcg, queries[:3], k=5)


def test_a_batch_may_be_empty(ndcg: Metric) -> None:
    batches = ndcg.meter()
    batches.update(np.empty((0, 5)), np.empty((0, 5)))
    batches.update([], [], query_ids=[])
    batches.update([[0.9, 0.1]], [[1, 0]])
    assert batches.compute() == {"nDCG": 1.0}


def test_a_function_that_cannot_be_compared_works_in_one_process_only(
    ndcg: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = ndcg.meter(
        gain=lambda labels: np.array([{5000.0: 1.0, 6000.0: 2.0}[label] for label in labels])
    )
    batches.update([[0.9, 0.1]], [[6000, 5000]])
    assert batches.compute() == {"nDCG": 1.0}
    answers = {"is_initialized": True, "get_world_size": 2}
    two = SimpleNamespace(
        **{name: lambda answer=answer: answer for name, answer in answers.items()}
    )
    two.all_gather_object = None
    monkeypatch.setitem(sys.modules, "torch.distributed.distributed_c10d", two)
    problem = "^gain .* has no value for any of the labels "
    with pytest.raises(ValueError, match=problem):
        batches.compute()


def test_only_sums_of_queries_are_kept(ndcg: Metric) -> None:
    batches = ndcg.meter(k=[1, 5, 10], measures=["nDCG", "DCG"])
    for seed in range(20):
        batches.update(*pad(make_queries(100, seed)))
        assert len(pickle.dumps(batches)) < 2000  # a few numbers for each of six results


@ONE_DOCUMENT_A_QUERY
def test_each_row_leaves_a_score_a_label_and_a_query(ndcg: Metric) -> None:
    batches = ndcg.meter()
    whole = np.random.default_rng(0).random((10_000, 64))
    batches.update(
        whole[:, 0], np.ones(10_000, np.int8), query_ids=np.arange(10_000, dtype=np.int32)
    )
    assert len(pickle.dumps(batches)) < 10_000 * (8 + 1 + 4) + 3000
    expected = batches.compute()
    whole[:] = math.nan  # as a loop may use its memory again
    assert batches.compute() == expected == {"nDCG": 1.0}


def test_rows_that_a_meter_sorted_get_no_warning_of_their_order(ndcg: Metric) -> None:
    scores = np.random.default_rng(1).random((20, 10))
    labels = np.eye(20, 10)
    batches = ndcg.meter()
    batches.update(scores.ravel(), labels.ravel(), query_ids=np.repeat(np.arange(20), 10))
    assert batches.compute() == pytest.approx(ndcg.compute(predictions=scores, references=labels))


def test_a_query_without_a_score_in_any_batch_is_missing(ndcg: Metric) -> None:
    batches = ndcg.meter(missing="raise")
    batches.update([-math.inf, 0.9], [1, 1], query_ids=["a", "b"])
    batches.update([None], [2], query_ids=["a"])
    with refusal("predictions", "query 'a'"):
        batches.compute()
    batches.update([0.5], [0], query_ids=["a"])
    # of "a" the last row has rank 1 and no gain; of "b" the only document is relevant
    assert batches.compute() == {"nDCG": (0 + 1) / 2}


@pytest.mark.filterwarnings("ignore:.*all documents are padding:UserWarning")
@NOTHING_IN_COMMON
@settings(max_examples=100)
@given(data=st.data())
def test_rows_in_any_batches_have_the_mean_or_the_error_of_compute(
    ndcg: Metric, data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, 16))
    kinds = (
        st.sampled_from([-math.inf, None, -0.5, 0.25, 0.5, 1.0]),
        st.sampled_from([None, -1, 0, 1, 3]),
    )
    columns = [
        data.draw(st.lists(each, min_size=number, max_size=number))
        for each in (*kinds, st.integers(0, 3))
    ]
    choices: dict[str, list[Any]] = {
        "k": [1, 3, [2, 5]],
        "measures": ["nDCG", ["nDCG", "DCG", "IDCG", "CG"]],
        "judged_only": [False, True],
        "ignore_index": [None, 1, -1],
        "zero_division": [0.0, math.nan, "perfect_if_empty"],
        "missing": ["empty", "skip", "raise"],
        "ideal": ["judged", "truncated", "retrieved", "full"],
        "ties": ["average", "first", "last", "best", "worst", "docid"],
        "negative_relevance": ["raise", "clip", "keep"],
    }
    options = {name: data.draw(st.sampled_from(each)) for name, each in choices.items()}
    cuts = sorted({0, number, *data.draw(st.sets(st.integers(0, number)))})
    names = "predictions", "references", "query_ids"

    def by_batches() -> dict[str, float]:
        batches = ndcg.meter(**options)
        for start, end in pairwise(cuts):
            scores, labels, ids = (column[start:end] for column in columns)
            batches.update(scores, labels, query_ids=ids)
        return batches.compute()

    try:
        expected = ndcg.compute(**dict(zip(names, columns, strict=True)), **options)
    except ValueError:
        with pytest.raises(ValueError, match=r"^\w+"):
            by_batches()
    else:
        assert by_batches() == pytest.approx(expected, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize(
    ("scores", "labels", "mask", "query_ids", "error"),
    [
        ([[0.9, math.nan]], [[1, 0]], None, None, "predictions: query 0, position 1: nan"),
        (
            [[0.9, 0.2], [0.1, 0.3]],
            [[1, 0], [-1, 0]],
            None,
            None,
            "references: query 1, position 0: ",
        ),
        (
            [0.9, 0.1],
            [1, 0],
            None,
            None,
            "predictions: query 0: must be a list of documents; got 0.9",
        ),
        (None, [[1, 0]], None, None, "predictions are missing"),
        (np.array(0.5), np.array(1), None, None, "predictions"),
        ([[1.0]], [[1e308]], None, None, "CG: the sum over queries overflows; scale the gains"),
        ([[0.9, 0.1]], [[1, 0]], [[1, 2]], None, "mask: must be True or 1 for a document"),
        ([[0.9, 0.1]], [[1, 0]], [[0.5, 1.0]], None, "mask: must be True or 1"),
        ([[0.9, 0.1]], [[1, 0]], [[math.nan, 1.0]], None, "mask: must be True or 1"),
        (
            [[0.9, 0.1]],
            [[1, 0]],
            [[True]],
            None,
            r"got a mask of \(1, 1\), scores of \(1, 2\) and labels of \(1, 2\)",
        ),
        (
            [[0.9, 0.1], [0.3]],
            [[1, 0], [1]],
            [[1, 1], [1]],
            None,
            "scores: lists of different lengths .* take no mask",
        ),
        (
            [[0.9, 0.1]],
            [[1, 0]],
            np.ma.array([[1, 0]], mask=[[0, 1]]),
            None,
            "mask: must not be a masked array",
        ),
        (
            [[0.9, 0.1]],
            [[1, 0]],
            [[1, 0]],
            [1],
            r"same shape, .*; got query_ids of \(1,\) and a mask of \(1, 2\)",
        ),
        (
            [0.9, 0.1],
            [1, 0],
            None,
            [1],
            "references and ids are one per document; got predictions 2",
        ),
        (
            [[0.9, 0.1]],
            [[1, 0]],
            None,
            [1, 2],
            "with query_ids, predictions must be one per document",
        ),
        ([0.9, math.nan], [1, 0], None, [1, 2], "predictions: .*nan"),
        ([0.9], [1], None, ["1"], "query_ids must be all text or all integers"),
        ([2**53 + 1], [1], None, [3], "predictions: .*9007199254740993 would be"),
    ],
)
def test_a_batch_that_is_rejected_adds_nothing(
    ndcg: Metric, scores: Any, labels: Any, mask: Any, query_ids: Any, error: str
) -> None:
    batches = ndcg.meter(measures=["nDCG", "CG"])
    batches.update([[1.0, 0.5]], [[1e308, 0]])
    batches.update([0.5, 0.25], [0, 1], query_ids=[1, 2])
    expected = batches.compute()
    with pytest.raises(ValueError, match=error):
        batches.update(scores, labels, mask, query_ids)
    assert batches.compute() == expected


# --- Several processes ----------------------------------------------------------------------------

TWO_PROCESSES = """
import json, os
from datetime import timedelta
import evaluate, torch
import torch.distributed as dist

torch.set_num_threads(1)
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
meeting = {"init_method": f"file://{cache}.meeting", "timeout": timedelta(seconds=seconds)}
dist.init_process_group("gloo", rank=rank, world_size=2, **meeting)
ndcg = evaluate.load(path, cache_dir=f"{cache}-{rank}")
"""


def in_two_processes(
    training_processes: Processes, script: str, seconds: float = 60, **names: Any
) -> list[forks.Fork]:
    """Start a script in two processes of a group, which knows its `rank`."""
    training_processes.preamble = TWO_PROCESSES
    ranks = range(2)
    return [training_processes.start(script, rank=rank, seconds=seconds, **names) for rank in ranks]


@pytest.mark.training
@pytest.mark.xdist_group("torch")
def test_two_processes_have_the_number_of_one_whatever_the_split(
    ndcg: Metric, training_processes: Processes
) -> None:
    pytest.importorskip("torch")
    queries = make_queries(41)
    rows = rows_of(queries)
    every, order = list(range(41)), np.random.default_rng(1).permutation(41).tolist()
    splits: list[list[list[list[int]]]] = [  # of each process the batches, as queries
        [[every[0::2]], [every[1::2]]],
        [[], [every]],
        [[[each] for each in order[:40]], [order[40:], []]],
    ]
    shuffled = [rows[each] for each in np.random.default_rng(2).permutation(len(rows))]
    script = """
options = {"k": [1, 5], "gain": [0.1, 1.3, 2.7, 7.1]}
found = []
for split in splits:
    meter = ndcg.meter(**options)
    for batch in split[rank]:
        meter.update(*([queries[each][side] for each in batch] for side in (0, 1)))
    found.append(meter.compute())
meter = ndcg.meter(**options)
for at in range(rank, len(rows), 14):
    scores, labels, ids = map(torch.tensor, zip(*rows[at : at + 14 : 2]))
    meter.update(scores.double(), labels, query_ids=ids)
found.append(meter.compute())

errors = []
for options in ({"k": 1 + rank}, {"ties": "first"}, {}):
    meter = ndcg.meter(**options)
    if options:
        meter.update([.5], [1], query_ids=[7])
    try:
        errors.append(meter.compute())
    except ValueError as error:
        errors.append(str(error))
print(json.dumps([found, errors]))
dist.destroy_process_group()
"""
    sides = {"queries": queries, "splits": splits, "rows": shuffled}
    started = in_two_processes(training_processes, script, **sides)
    found = [process.output() for process in started]
    assert found[0] == found[1]
    (*numbers, of_rows), errors = json.loads(found[0])
    expected = exact_means(ndcg, queries, k=[1, 5], gain=[0.1, 1.3, 2.7, 7.1])
    assert numbers == [expected] * len(splits)
    assert of_rows == pytest.approx(expected, rel=1e-15)
    assert errors[0].startswith(
        "processes score by different options; give all the same: nDCG@1|gain:linear|"
    )
    assert errors[1].startswith(
        'ties="first" needs an order of rows, and two processes have rows of query 7; give one'
    )
    assert errors[2] == "predictions and references hold no queries; there is nothing to score"


@pytest.mark.training
@pytest.mark.xdist_group("torch")
@pytest.mark.parametrize(("fate", "seconds"), [("dies", 60), ("does not call compute", 3)])
def test_without_a_process_there_is_an_error_and_no_number(
    training_processes: Processes, fate: str, seconds: float
) -> None:
    pytest.importorskip("torch")
    script = """
meter = ndcg.meter()
meter.update([[.9, .1]], [[1, 0]])
dist.barrier()
if rank == 1:
    if fate == "dies":
        os._exit(0)
    meet()
try:
    print(meter.compute())
except RuntimeError as error:
    print(error)
"""
    first, second = in_two_processes(training_processes, script, seconds=seconds, fate=fate)
    message = (
        "the meters of 2 processes could not combine their states; each must call compute, and "
        "one may have died"
    )
    assert first.output().startswith(f"{message} (")
    second.kill()


@pytest.mark.training
def test_the_script_of_the_page_runs_in_two_processes(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    page = (ROOT / "docs" / "pytorch.md").read_text(encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(page.rpartition("```python\n")[2].partition("```")[0])
    launch = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--rdzv-backend=c10d"]
    where = ["--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    process = subprocess.run(
        [sys.executable, *launch, *where, str(script)],
        env=lean_environment(OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    epochs = re.findall(r"^epoch (\d): (\d\.\d{4})$", process.stdout, re.MULTILINE)
    assert [epoch for epoch, _ in epochs] == ["0", "1", "2", "3"]
    assert float(epochs[-1][1]) > float(epochs[0][1]) + 0.1
