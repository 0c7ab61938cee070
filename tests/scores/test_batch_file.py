"""Batches score as they were given, whether they are kept in a file, in memory, or handed over."""

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import MetricFactory
from forks import files_of_at_most, nameless_files
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

from ndcg import NDCG

PADDING = 0.1  # which 32-bit floats round
TYPES = ["float32", "float64", "int8"]
ONE = {"predictions": [[2.0, 1.0]], "references": [[0.0, 1.0]]}


def batch_of(queries: int, dtype: str, seed: int) -> dict[str, Any]:
    """Lists of four documents, of which some are padding in floats, and some have no score."""
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.tile(np.arange(4), (queries, 1)), axis=1)
    relevance = rng.integers(0, 4, (queries, 4)).astype(dtype)
    if dtype != "int8":
        relevance[:, seed % 4] = PADDING
    return {
        "predictions": np.ma.array(scores.astype(dtype), mask=scores == seed % 3),
        "references": relevance,
    }


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 1, 2, 5]), st.sampled_from(TYPES)), min_size=1, max_size=8
    ),
    st.booleans(),
)
def test_batches_keep_their_values_and_their_types(
    tmp_path_factory: pytest.TempPathFactory, shapes: list[tuple[int, str]], rejects: bool
) -> None:
    """Padding is found in the type of each batch."""
    folder = str(tmp_path_factory.mktemp("cache"))
    how: dict[str, Any] = {
        "ignore_index": PADDING,
        "measures": ["nDCG", "DCG"],
        "use_aggregator": False,
    }
    batches = [batch_of(queries, dtype, seed) for seed, (queries, dtype) in enumerate(shapes)]
    alone = [NDCG().compute(**batch, **how) for batch in batches]
    expected = {name: [value for values in alone for value in values[name]] for name in alone[0]}
    first, second = (
        NDCG(cache_dir=folder, num_process=2, process_id=each, timeout=10) for each in (0, 1)
    )
    in_memory, in_file = NDCG(keep_in_memory=True), NDCG(cache_dir=folder)
    for metric in (in_memory, in_file):
        for batch in batches:
            metric.add_batch(**batch)
            if rejects:
                with refusal("sample_weight"):
                    metric.compute(sample_weight=[], **how)
        assert metric.compute(**how) == expected
    with ThreadPoolExecutor(1) as pool:
        empty = pool.submit(first.add_batch, predictions=[], references=[])
        for batch in batches:
            second.add_batch(**batch)
        second.compute()
        empty.result()
    assert first.compute(**how) == expected
    assert not [path for path in Path(folder).rglob("*") if path.is_file()]


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_thousands_of_single_queries_score_as_they_were_added(
    fresh_metric: MetricFactory, keep_in_memory: bool
) -> None:
    """Of two types, in turns of several lengths, and between batches."""
    metric = fresh_metric(keep_in_memory=keep_in_memory)
    expected = []
    for at in range(2500):
        relevant = at % 3
        dtype = np.float32 if at % 700 < 350 else np.float64
        metric.add(
            prediction=np.array([3, 2, 1], dtype), reference=np.eye(3, dtype=dtype)[relevant]
        )
        expected.append(1 / np.log2(relevant + 2))
        if at % 800 == 0:
            metric.add_batch(predictions=[[2, 1], [2, 1]], references=[[1, 0], [1, 0]])
            expected += [1.0, 1.0]
    assert len(metric) == len(expected)
    assert metric.compute(use_aggregator=False) == {"nDCG": pytest.approx(expected, rel=1e-14)}


def test_thousands_of_single_queries_take_little_more_space_than_their_numbers(
    fresh_metric: MetricFactory,
) -> None:
    metric, queries = fresh_metric(), 3000
    with files_of_at_most(queries * 2 * (8 + 8 + 8)):
        for _ in range(queries):
            metric.add(prediction=ONE["predictions"][0], reference=ONE["references"][0])
    assert len(metric.compute(use_aggregator=False)["nDCG"]) == queries


def test_batches_are_in_a_file_without_a_name_until_they_are_scored(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    for then in ("compute", "delete"):
        metric = fresh_metric()
        metric.add_batch(predictions=np.ones((100, 10)), references=np.eye(100, 10))
        (size,) = nameless_files(tmp_path)
        assert size > 100 * 10 * (8 + 8)
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
        if then == "compute":
            metric.compute()
            assert nameless_files(tmp_path) == []
        del metric
        gc.collect()
        assert nameless_files(tmp_path) == []


def test_a_file_that_was_handed_over_and_cut_off_is_never_a_part_of_a_mean(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    """At any byte, also between two streams, and where all rows are there."""
    first, second = (fresh_metric(num_process=2, process_id=each, timeout=10) for each in (0, 1))
    with ThreadPoolExecutor(1) as pool:
        added = pool.submit(first.add_batch, **ONE)
        for dtype in (np.float64, np.float32):
            second.add_batch(predictions=np.ones((2, 2), dtype), references=np.ones((2, 2), dtype))
        second.compute()
        added.result()
    (path,) = tmp_path.rglob("*.arrow")
    whole = path.read_bytes()
    rejected = 0
    for size in range(0, len(whole), 8):
        path.write_bytes(whole[:size])
        try:
            values = first.compute(use_aggregator=False, sample_weight=[])
        except ValueError as error:
            if "sample_weight" in str(error):
                break  # only the end of the last stream is cut off
            assert str(error).startswith("the file of process 1 cannot be read: ")  # noqa: PT017
            assert str(error).endswith("; run all processes again")  # noqa: PT017
            assert len(first) == 1
            rejected += 1
        else:
            pytest.fail(f"a score of {values} for {size} bytes")
    assert rejected >= len(whole) // 8 - 2
    assert len(first.compute(use_aggregator=False)["nDCG"]) == 1 + 4
