"""The metric as a user has it: loaded by evaluate, computed at once, in batches, in several processes."""

import doctest
import gc
import inspect
import json
import math
import os
import re
import sys
import uuid
import weakref
from functools import partial
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import BUNDLE, METRIC, NOTHING_IN_COMMON, ROOT, MetricFactory, Processes
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

EXAMPLE: dict[str, Any] = {"predictions": [[0.1, 0.2, 0.3, 4, 70]], "references": [[10, 0, 0, 1, 5]]}
TIED: dict[str, Any] = {"predictions": [[1, 1, 0, 0, 0]], "references": [[1, 0, 0, 0, 0]]}
TEXTBOOK: dict[str, Any] = {"predictions": [[6, 5, 4, 3, 2, 1]], "references": [[3, 2, 3, 0, 1, 2]]}
RAGGED: dict[str, Any] = {
    "predictions": [[0.9, 0.8, 0.1], [0.5], [0.2, 0.4], [0.3, None, 0.1]],
    "references": [[0, 1, 1], [1], [0, 0], [None, 2, 1]],
}


# --- Figures ---------------------------------------------------------------------------------------------------------


def test_the_example_of_the_metric_card_to_the_last_digit(ndcg: evaluate.Metric) -> None:
    assert ndcg.compute(**EXAMPLE) == {"nDCG": 0.6956940443813076}
    assert ndcg.compute(**EXAMPLE, k=3) == {"nDCG@3": 0.4123818817534531}


def test_two_tied_documents_at_the_cutoff_to_the_last_digit(ndcg: evaluate.Metric) -> None:
    assert ndcg.compute(**TIED, k=1) == {"nDCG@1": 0.5}
    assert ndcg.compute(**TIED, k=1, ignore_ties=True) == {"nDCG@1": 0.0}


def test_the_figures_are_the_same_through_batches_to_the_last_digit(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    for options, expected in (
        ({}, {"nDCG": 0.6956940443813076}),
        ({"k": 3}, {"nDCG@3": 0.4123818817534531}),
    ):
        metric.add_batch(**EXAMPLE)
        assert metric.compute(**options) == expected
    for ignore_ties, expected in ((False, {"nDCG@1": 0.5}), (True, {"nDCG@1": 0.0})):
        metric.add_batch(**TIED)
        assert metric.compute(k=1, ignore_ties=ignore_ties) == expected


def test_ignoring_ties_puts_the_last_of_equal_scores_first_whatever_the_length(ndcg: evaluate.Metric) -> None:
    for documents in range(2, 201):
        tied = [[1, 1] + [0] * (documents - 2)]
        for relevant, expected in ((0, 0.0), (1, 1.0)):
            references = [[int(document == relevant) for document in range(documents)]]
            result = ndcg.compute(predictions=tied, references=references, k=1, ignore_ties=True)
            assert result == {"nDCG@1": expected}, documents
            constant = ndcg.compute(predictions=[[0.5] * documents], references=references, k=1, ignore_ties=True)
            assert constant == {"nDCG@1": float(relevant == documents - 1)}, documents


def test_ignoring_ties_is_to_order_them_last(ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(4)
    batch = {"predictions": rng.integers(0, 4, (30, 20)), "references": rng.integers(0, 3, (30, 20))}
    last = ndcg.compute(**batch, ties="last", use_aggregator=False)
    assert ndcg.compute(**batch, ignore_ties=True, use_aggregator=False) == last
    assert ndcg.compute(**batch, ignore_ties=True, ties="last", use_aggregator=False) == last
    assert ndcg.compute(**batch, ties="first", use_aggregator=False) != last


def test_two_scores_that_differ_in_the_10th_digit_are_not_tied(fresh_metric: MetricFactory) -> None:
    close = {"predictions": [[0.1234567891, 0.1234567892]], "references": [[0, 1]]}
    assert fresh_metric().compute(**close) == {"nDCG": 1.0}
    for keep_in_memory in (False, True):
        metric = fresh_metric(keep_in_memory=keep_in_memory)
        metric.add_batch(**close)
        metric.add(prediction=close["predictions"][0], reference=close["references"][0])
        assert metric.compute(use_aggregator=False) == {"nDCG": [1.0, 1.0]}


# --- scikit-learn ----------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(2, 80),
    st.none() | st.integers(1, 90),
    st.booleans(),
    st.sampled_from([np.float64, np.float32, np.int64]),
    st.sampled_from([1, 4, 1000]),
    st.sampled_from(["arrays", "lists", "stored"]),
)
def test_equals_sklearn(
    ndcg: evaluate.Metric,
    seed: int,
    queries: int,
    documents: int,
    k: int | None,
    weighted: bool,
    dtype: Any,
    levels: int,
    form: str,
) -> None:
    rng = np.random.default_rng(seed)
    score = (rng.integers(-levels, levels, (queries, documents)) * 0.7).astype(dtype)
    relevance = rng.integers(0, 4, (queries, documents))
    weight = rng.random(queries) if weighted else None
    expected = ndcg_score(relevance, score, k=k, sample_weight=weight)
    if form == "stored":
        ndcg.add_batch(predictions=score, references=relevance)
        result = ndcg.compute(k=k, sample_weight=weight)
    else:
        predictions, references = (score.tolist(), relevance.tolist()) if form == "lists" else (score, relevance)
        result = ndcg.compute(predictions=predictions, references=references, k=k, sample_weight=weight)
    name = "nDCG" if k is None else f"nDCG@{k}"
    assert result == {name: pytest.approx(expected, rel=1e-12, abs=0)}


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("options", [{}, {"k": 3}, {"ignore_ties": True}, {"sample_weight": [1.0, 0.0, 2.5]}])
def test_the_engine_sklearn_is_sklearn_itself(
    fresh_metric: MetricFactory, options: dict[str, Any], stored: bool
) -> None:
    rng = np.random.default_rng(8)
    # lists on which scikit-learn's own order of ties is not the metric's
    score, relevance = rng.integers(0, 3, (3, 40)).astype(float), rng.integers(0, 3, (3, 40)).astype(float)
    metric = fresh_metric()
    inputs = {"predictions": score, "references": relevance}
    if stored:
        metric.add_batch(**inputs)
        inputs = {}
    name = "nDCG@3" if "k" in options else "nDCG"
    result = metric.compute(**inputs, **options, engine="sklearn")
    assert result == {name: ndcg_score(relevance, score, **options)}
    assert type(result[name]) is float


def test_the_engine_sklearn_accepts_several_cutoffs(ndcg: evaluate.Metric) -> None:
    expected = {
        f"nDCG@{k}": ndcg_score(np.array(EXAMPLE["references"]), np.array(EXAMPLE["predictions"]), k=k) for k in (1, 3)
    }
    assert ndcg.compute(**EXAMPLE, k=[1, 3], engine="sklearn") == expected
    assert ndcg.compute(**EXAMPLE, k=[1, 3], engine="numpy") == pytest.approx(expected, rel=1e-12)


FOREIGN_TO_SKLEARN: list[tuple[dict[str, Any], str]] = [
    ({"measures": "DCG"}, "measures"),
    ({"measures": ["nDCG", "CG"]}, "measures"),
    ({"gain": "exponential"}, "gain"),
    ({"convention": "ranx"}, "convention"),
    ({"discount": "reciprocal"}, "discount"),
    ({"ideal": "judged"}, "ideal"),
    ({"ignore_index": -100}, "ignore_index"),
    ({"judged_only": True}, "judged_only"),
    ({"missing": "skip"}, "missing"),
    ({"log_base": 10}, "log_base"),
    ({"score_dtype": "given"}, "score_dtype"),
    ({"ties": "first"}, "ties"),
    ({"zero_division": 1.0}, "zero_division"),
    ({"negative_relevance": "keep"}, "negative_relevance"),
    ({"use_aggregator": False}, "use_aggregator"),
]


@pytest.mark.parametrize(("options", "name"), FOREIGN_TO_SKLEARN)
def test_the_engine_sklearn_rejects_options_that_sklearn_does_not_have(
    ndcg: evaluate.Metric, options: dict[str, Any], name: str
) -> None:
    with pytest.raises(ValueError, match=rf'engine="sklearn".*\b{name}\b'):
        ndcg.compute(**EXAMPLE, **options, engine="sklearn")


@pytest.mark.parametrize("weights", [[-1, 2], [math.nan, 2], [0, 0], ["1", 1], [1]])
def test_the_engine_sklearn_gets_no_weights_without_a_meaning(ndcg: evaluate.Metric, weights: Any) -> None:
    with pytest.raises(ValueError, match=r"^sample_weight"):
        ndcg.compute(predictions=[[2, 1], [1, 2]], references=[[1, 0]] * 2, sample_weight=weights, engine="sklearn")


def test_the_engine_sklearn_leaves_the_scoring_to_sklearn(
    ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("scored in NumPy too")

    monkeypatch.setattr(BUNDLE, "score_queries", refuse)
    expected = ndcg_score(np.array(EXAMPLE["references"]), np.array(EXAMPLE["predictions"]))
    assert ndcg.compute(**EXAMPLE, engine="sklearn") == {"nDCG": expected}
    with pytest.raises(AssertionError, match="scored in NumPy too"):
        ndcg.compute(**EXAMPLE, engine="numpy")


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"predictions": [[1, 2], [1]], "references": [[1, 0], [1]]}, "query 1 has 1"),
        ({"predictions": [[1, None]], "references": [[1, 0]]}, "None"),
        ({"predictions": [[1, 2]], "references": [[1, None]]}, "None"),
        ({"predictions": np.ma.MaskedArray([[1, 2]], [[0, 1]]), "references": [[1, 0]]}, "masked"),
        ({"predictions": [[1]], "references": [[1]]}, "1 document"),
        ({"predictions": [[1, math.nan]], "references": [[1, 0]]}, "^predictions: query 0, position 1: nan"),
        ({"predictions": [[1, 2]] * 2, "references": [[1, 0], [0, -1]]}, "^references: query 1, position 1:.* -1.*neg"),
        ({"predictions": np.ones((1, 2)), "references": np.array([[0, -1]])}, "^references: query 0, position 1:.*neg"),
        ({"predictions": [[1, 2]], "references": [[1, 0]] * 2}, "^predictions hold 1 queries and references 2"),
        ({"predictions": [], "references": []}, "hold no queries; there is nothing to score"),
        (
            {"predictions": [[3, 2, 1]], "references": [[1e308] * 3]},
            r'^engine="sklearn": nDCG: sums overflow in scikit-learn; scale the relevances',
        ),
    ],
    ids=str,
)
def test_the_engine_sklearn_names_the_argument_at_fault(ndcg: evaluate.Metric, inputs: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ndcg.compute(**inputs, engine="sklearn")


def test_the_engine_sklearn_takes_its_one_measure_in_a_list_and_truth_values(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": np.array([[True, False]]), "references": [[1, 0]]}
    assert ndcg.compute(**inputs, measures=["nDCG"], engine="sklearn") == {"nDCG": 1.0}


# --- The shape of the result -----------------------------------------------------------------------------------------


def test_the_keys_are_measures_outer_and_cutoffs_inner_in_the_order_given(ndcg: evaluate.Metric) -> None:
    result = ndcg.compute(**TEXTBOOK, measures=["DCG", "nDCG", "CG", "IDCG"], k=[10, 1, None])
    assert list(result) == [
        *("DCG@10", "DCG@1", "DCG"),
        *("nDCG@10", "nDCG@1", "nDCG"),
        *("CG@10", "CG@1", "CG"),
        *("IDCG@10", "IDCG@1", "IDCG"),
    ]
    assert type(result) is dict
    assert {type(value) for value in result.values()} == {float}
    assert result["DCG@10"] == result["DCG"]


@pytest.mark.parametrize("k", [[5], (5,), 5, np.int64(5), np.array([5]), range(5, 6), [5, 5]])
def test_a_cutoff_may_come_as_any_integer_or_sequence(ndcg: evaluate.Metric, k: Any) -> None:
    assert ndcg.compute(**EXAMPLE, k=k) == {"nDCG@5": 0.6956940443813076}


def test_without_the_aggregator_there_is_a_list_of_one_float_per_query(ndcg: evaluate.Metric) -> None:
    result = ndcg.compute(**RAGGED, k=[1, None], measures=["nDCG", "DCG"], use_aggregator=False)
    assert list(result) == ["nDCG@1", "nDCG", "DCG@1", "DCG"]
    assert all(type(values) is list and len(values) == 4 for values in result.values())
    assert {type(value) for values in result.values() for value in values} == {float}
    two_of_three = (1 / math.log2(2 + 1) + 1 / math.log2(3 + 1)) / (1 / math.log2(1 + 1) + 1 / math.log2(2 + 1))
    one_of_two = (1 / math.log2(2 + 1)) / (2 / math.log2(1 + 1) + 1 / math.log2(2 + 1))
    assert result["nDCG"] == pytest.approx([two_of_three, 1.0, 0.0, one_of_two], rel=1e-14)
    mean = ndcg.compute(**RAGGED, k=[1, None], measures=["nDCG", "DCG"])
    assert mean == {name: pytest.approx(np.mean(values), rel=1e-14) for name, values in result.items()}


@pytest.mark.parametrize(
    "weight", [[1, 2, 3, 4], (0.5, 0, 0, 0.25), np.array([1e300, 1e300, 1e300, 1e300]), [5e-324, 0, 0, 5e-324]]
)
def test_sample_weights_weigh_the_mean(ndcg: evaluate.Metric, weight: Any) -> None:
    values = ndcg.compute(**RAGGED, measures=["nDCG", "DCG"], use_aggregator=False)
    relative = np.asarray(weight) / np.max(weight)
    expected = {name: pytest.approx(np.average(each, weights=relative), rel=1e-12) for name, each in values.items()}
    assert ndcg.compute(**RAGGED, measures=["nDCG", "DCG"], sample_weight=weight) == expected


def test_sample_weights_count_stored_queries_first(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add(prediction=[2, 1], reference=[1, 0])
    metric.add_batch(predictions=[[1, 2]], references=[[1, 0]])
    result = metric.compute(predictions=[[2, 1]], references=[[0, 0]], sample_weight=[1, 2, 5])
    assert result == {"nDCG": pytest.approx((1 * 1 + 2 / math.log2(2 + 1) + 5 * 0) / (1 + 2 + 5), rel=1e-14)}


def test_a_measure_may_have_a_cutoff_of_its_own(ndcg: evaluate.Metric) -> None:
    all_values = ndcg.compute(**EXAMPLE, measures=["nDCG", "DCG"], k=[1, 3, None])
    own = ndcg.compute(**EXAMPLE, measures=["DCG@1", "nDCG@3", "nDCG@1"])
    assert list(own.items()) == [(name, all_values[name]) for name in ("DCG@1", "nDCG@3", "nDCG@1")]
    mixed = ndcg.compute(**EXAMPLE, measures=["nDCG", "DCG@3"], k=[1, None])
    assert list(mixed.items()) == [(name, all_values[name]) for name in ("nDCG@1", "nDCG", "DCG@3")]
    assert ndcg.compute(**EXAMPLE, measures="nDCG@3", engine="sklearn") == pytest.approx({"nDCG@3": own["nDCG@3"]})
    assert ndcg.signature(measures=["nDCG@3", "DCG@5"]).startswith("nDCG@3+DCG@5|gain:")
    assert ndcg.signature(measures=["nDCG@3"]) == ndcg.signature(k=3)
    assert ndcg.compute(**EXAMPLE, measures="nDCG@" + "9" * 18) == {"nDCG@" + "9" * 18: all_values["nDCG"]}


def test_queries_with_nothing_relevant_count_as_zero_division_says(ndcg: evaluate.Metric) -> None:
    batch = {"predictions": [[2, 1], [2, 1]], "references": [[1, 0], [0, 0]]}
    assert ndcg.compute(**batch) == {"nDCG": 0.5}
    assert ndcg.compute(**batch, zero_division=1.0) == {"nDCG": 1.0}
    assert ndcg.compute(**batch, zero_division=0.5) == {"nDCG": 0.75}
    assert ndcg.compute(**batch, zero_division=math.nan) == {"nDCG": 1.0}
    assert ndcg.compute(**batch, zero_division=math.nan, sample_weight=[1, 5]) == {"nDCG": 1.0}
    values = ndcg.compute(**batch, zero_division=math.nan, use_aggregator=False)["nDCG"]
    assert values[0] == 1.0
    assert math.isnan(values[1])


def test_a_gain_may_be_a_list_of_labels_or_a_function(ndcg: evaluate.Metric) -> None:
    dcg = 3 / math.log2(1 + 1) + 0 / math.log2(2 + 1) + 9 / math.log2(3 + 1)
    inputs = {"predictions": [[3, 2, 1]], "references": [[1, 0, 2]], "measures": "DCG"}
    for gain in ([0, 3, 9], (0.0, 3.0, 9.0), np.array([0, 3, 9]), lambda r: r * (r + 3) * (1.2 - 0.3 * (r - 1) * 1.0)):
        if callable(gain):
            expected = {
                "DCG": pytest.approx(sum(gain(r) / math.log2(i + 1) for i, r in ((1, 1), (2, 0), (3, 2))), rel=1e-14)
            }
        else:
            expected = {"DCG": pytest.approx(dcg, rel=1e-14)}
        assert ndcg.compute(**inputs, gain=gain) == expected


def test_several_inputs_in_one_call_do_not_change_them(ndcg: evaluate.Metric) -> None:
    predictions, references = np.array([[0.5, -0.0, 0.5]]), np.array([[1, 2, 0]])
    predictions.flags.writeable = references.flags.writeable = False
    ndcg.compute(predictions=predictions, references=references, ties="first")
    assert predictions.tolist() == [[0.5, -0.0, 0.5]]
    assert references.tolist() == [[1, 2, 0]]


# --- Batches ---------------------------------------------------------------------------------------------------------


def random_rankings(seed: int, queries: int) -> tuple[list[list[float | None]], list[list[float | None]]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, queries)
    scores = [[None if rng.random() < 0.1 else rng.normal() for _ in range(n)] for n in lengths]
    relevances = [[None if rng.random() < 0.1 else float(rng.integers(0, 4)) for _ in range(n)] for n in lengths]
    return scores, relevances


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_batches_single_queries_and_given_ones_score_as_all_at_once(
    fresh_metric: MetricFactory, keep_in_memory: bool
) -> None:
    scores, relevances = random_rankings(seed=1, queries=40)
    options: dict[str, Any] = {"k": [1, 5, None], "measures": ["nDCG", "CG"], "use_aggregator": False}
    metric = fresh_metric(keep_in_memory=keep_in_memory)
    expected = metric.compute(predictions=scores, references=relevances, **options)
    for _ in range(2):  # a computed metric starts afresh
        assert len(metric) == 0
        metric.add_batch(predictions=scores[:20], references=relevances[:20])
        assert len(metric) == 20
        metric.add(prediction=scores[20], reference=relevances[20])
        metric.add(predictions=scores[21], references=relevances[21])
        assert len(metric) == 22
        metric.add_batch(predictions=scores[22:23], references=relevances[22:23])
        metric.add_batch(predictions=[], references=[])
        metric.add_batch(predictions=scores[23:30], references=relevances[23:30])
        assert len(metric) == 30
        actual = metric.compute(predictions=scores[30:], references=relevances[30:], **options)
        np.testing.assert_equal(actual, expected)


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_thousands_of_single_queries_score_as_all_at_once(fresh_metric: MetricFactory, keep_in_memory: bool) -> None:
    scores, relevances = random_rankings(seed=2, queries=2500)
    metric = fresh_metric(keep_in_memory=keep_in_memory)
    for score, relevance in zip(scores, relevances, strict=True):
        metric.add(prediction=score, reference=relevance)
    assert len(metric) == 2500
    expected = metric_values(fresh_metric(), scores, relevances)
    np.testing.assert_equal(metric.compute(use_aggregator=False)["nDCG"], expected)


def metric_values(metric: evaluate.Metric, predictions: Any, references: Any) -> list[float]:
    return metric.compute(predictions=predictions, references=references, use_aggregator=False)["nDCG"]


@pytest.mark.parametrize("keep_in_memory", [False, True])
@settings(max_examples=30)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=30))
def test_stored_values_are_exact(keep_in_memory: bool, values: list[float]) -> None:
    metric = evaluate.load(str(ROOT / "ndcg.py"), keep_in_memory=keep_in_memory, experiment_id=uuid.uuid4().hex)
    predictions = [[value, float(np.nextafter(value, 0)), -value] for value in values]
    references = [[float(query % 3), 1 + abs(math.frexp(value)[0]), 0.1] for query, value in enumerate(values)]
    metric.add_batch(predictions=predictions, references=references)
    stored = metric.compute(use_aggregator=False, measures=["DCG", "IDCG"])
    assert stored == metric.compute(
        predictions=predictions, references=references, use_aggregator=False, measures=["DCG", "IDCG"]
    )


def test_a_compute_of_inputs_alone_touches_no_disk(fresh_metric: MetricFactory, tmp_path: Path) -> None:
    metric = fresh_metric()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    metric.compute(**EXAMPLE)
    metric.compute(predictions=np.random.default_rng(0).random((50, 50)), references=np.ones((50, 50)), k=[1, 10])
    with pytest.raises(ValueError, match="nan"):
        metric.compute(predictions=[[math.nan]], references=[[1]])
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_in_memory_nothing_touches_the_disk(fresh_metric: MetricFactory, tmp_path: Path) -> None:
    metric = fresh_metric(keep_in_memory=True)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    metric.add_batch(**EXAMPLE)
    metric.compute()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_batches_are_kept_in_the_cache_directory_in_a_file_without_a_name(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    metric = fresh_metric()
    for _ in range(2):
        metric.add_batch(**EXAMPLE)
        file = os.fstat(metric._state.store._file.fileno())
        assert file.st_dev == tmp_path.stat().st_dev
        assert file.st_nlink == 0
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
        metric.compute(**EXAMPLE)


def test_two_metrics_of_one_experiment_do_not_mix_their_queries(fresh_metric: MetricFactory) -> None:
    one, other = fresh_metric(), fresh_metric()
    one.add_batch(predictions=[[2, 1]], references=[[1, 0]])
    other.add_batch(predictions=[[1, 2]], references=[[1, 0]])
    one.add_batch(predictions=[[2, 1]], references=[[1, 0]])
    assert one.compute(use_aggregator=False) == {"nDCG": [1.0, 1.0]}
    assert other.compute(use_aggregator=False) == {"nDCG": [pytest.approx(1 / math.log2(2 + 1), rel=1e-14)]}


def test_a_metric_computed_and_deleted_releases_its_cache(fresh_metric: MetricFactory, tmp_path: Path) -> None:
    for then in ("compute", "delete"):
        metric = fresh_metric()
        metric.add_batch(**EXAMPLE)
        store = weakref.ref(metric._state.store)
        if then == "compute":
            metric.compute()
            assert store() is None
        del metric
        gc.collect()
        assert store() is None
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_compute_needs_something_to_score(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    with pytest.raises(ValueError, match="nothing to score"):
        metric.compute()
    metric.add_batch(predictions=[], references=[])
    with pytest.raises(ValueError, match="no queries"):
        metric.compute()
    metric.add_batch(**EXAMPLE)
    assert metric.compute() == {"nDCG": 0.6956940443813076}


# --- Rejected: the message names the place, and earlier batches are still there --------------------------------------

TWO = {"predictions": [[2, 1], [1, 2]], "references": [[1, 0], [0, 1]]}


def inputs(**changed: Any) -> dict[str, Any]:
    return {**TWO, **changed}


NOT_EVEN_STORED: list[tuple[str, dict[str, Any], str]] = [
    ("nan score", inputs(predictions=[[2, 1], [1, math.nan]]), r"predictions: query 1, position 1: nan"),
    ("nan in an array", inputs(predictions=np.array([[2, np.nan], [1, 2]])), r"predictions: query 0, position 1: nan"),
    ("nan relevance", inputs(references=[[1, 0], [math.nan, 1]]), r"references: query 1, position 0: nan"),
    ("infinite score", inputs(predictions=[[2, 1], [math.inf, 2]]), r"predictions: query 1, position 0: inf"),
    ("infinite relevance", inputs(references=[[1, math.inf], [0, 1]]), r"references: query 0, position 1: inf"),
    ("infinite below", inputs(references=[[1, -math.inf], [0, 1]]), r"references: query 0, position 1: .*-inf"),
    ("more queries", inputs(predictions=[[2, 1]]), r"predictions hold 1 queries and references 2"),
    ("more documents", inputs(references=[[1, 0], [0, 1, 0]]), r"query 1: 2 predictions and 3 references"),
    ("text", inputs(predictions=[[2, 1], ["1", 2]]), r"predictions: query 1, position 0: '1'"),
    ("text relevance", inputs(references=[[1, "bad"], [0, 1]]), r"references: query 0, position 1: 'bad'"),
    ("text for a list", inputs(references=[[1, 0], "01"]), r"references: query 1: .*str"),
    ("text for all", inputs(predictions="12"), r"predictions: 12: No such file or directory; if it names"),
    ("text array", inputs(predictions=np.array([["2", "1"], ["1", "2"]])), r"predictions hold text and"),
    ("a flat list", inputs(predictions=[2, 1]), r"predictions: query 0: .*wrap it in a list"),
    ("a flat array", inputs(references=np.array([1, 0])), r"references must be 2-D.*wrap it in a list"),
    ("too deep", inputs(predictions=np.ones((2, 2, 1))), r"predictions must be 2-D"),
    ("a missing list", inputs(references=[[1, 0], None]), r"references: query 1: .*None"),
    ("no references", inputs(references=None), r"references .*(missing|NoneType)"),
    ("no predictions", inputs(predictions=None), r"predictions .*(missing|NoneType)"),
]
NOT_SCORED: list[tuple[str, dict[str, Any], str]] = [
    ("negative relevance", inputs(references=[[1, 0], [0, -1]]), r"references: query 1, position 1: .*-1.* negative"),
    (
        "overflowing gain",
        inputs(references=[[1, 5000], [0, 1]], gain="exponential"),
        r"references: query 0, position 1: .*5000",
    ),
    (
        "overflowing sum",
        inputs(references=[[1, 0], [1.7e308, 1.7e308]], measures="CG"),
        r"references: query 1: .*overflow",
    ),
    (
        "overflowing function",
        inputs(references=[[1, 0], [7, 1]], gain=lambda r: np.where(r == 7, np.inf, r)),
        r"references: query 1, position 0: .*gain of relevance 7",
    ),
    (
        "label without a gain",
        inputs(references=[[1, 0], [5, 0]], gain=[0, 1, 3]),
        r"references: query 1, position 0: .*5",
    ),
    ("no queries", {"predictions": [], "references": []}, r"predictions and references hold no queries"),
    ("no rows", {"predictions": np.ones((0, 3)), "references": np.ones((0, 3))}, r"predictions and references hold no"),
]
BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    *(({"k": k}, r"^k must be a positive integer") for k in (0, -1, 1.5, 3.0, True, False, "3", math.nan, b"3", {3})),
    *(({"k": k}, r"^k must be a positive integer") for k in ([1, 0], [1, True], [None, -3], [[1]], np.array([1.0]))),
    ({"k": []}, r"^k is empty"),
    ({"k": np.True_}, r"^k must be a positive integer"),
    ({"k": np.timedelta64(3, "s")}, r"^k must be a positive integer"),
    ({"k": np.array(5)}, r"^k must be a positive integer"),
    ({"sample_weight": [1, -1]}, r"^sample_weight: query 1: .*-1"),
    ({"sample_weight": [math.nan, 1]}, r"^sample_weight: query 0: .*nan"),
    ({"sample_weight": [1, math.inf]}, r"^sample_weight: query 1: .*inf"),
    ({"sample_weight": [0, 0]}, r"^sample_weight is 0 for every query"),
    ({"sample_weight": [1, 1, 1]}, r"^sample_weight must hold one weight for each of 2 queries"),
    ({"sample_weight": [1]}, r"^sample_weight must hold one weight for each of 2 queries"),
    ({"sample_weight": []}, r"^sample_weight must hold one weight for each of 2 queries"),
    ({"sample_weight": {0: 1, 1: 1}}, r"^sample_weight must be a sequence of weights in the order of the queries"),
    ({"sample_weight": 1}, r"^sample_weight must hold one weight for each of 2 queries"),
    ({"sample_weight": "ab"}, r"^sample_weight must hold one weight for each of 2 queries"),
    ({"sample_weight": np.ones((2, 1))}, r"^sample_weight must hold one weight for each of 2 queries.*\(2, 1\)"),
    ({"sample_weight": ["1", 1]}, r"^sample_weight: query 0: must be a number; got '1'"),
    ({"sample_weight": [[1], [1, 2]]}, r"^sample_weight: query 0: must be a number; got \[1\]"),
    ({"sample_weight": [None, 1]}, r"^sample_weight: query 0: must be a number; got None"),
    ({"sample_weight": [10**400, 1]}, r"^sample_weight: query 0: must be a number; got 1000"),
    ({"sample_weight": [1j, 1]}, r"^sample_weight: query 0: must be a number; got 1j"),
    *(
        ({"log_base": base}, r"^log_base must be a positive number other than 1")
        for base in (0, -2, 1, 1.0, True, math.nan, math.inf, "2", [2], 2j, 10**400, np.timedelta64(2, "s"))
    ),
    ({"ignore_ties": True, "ties": "first"}, r'^ignore_ties=True means ties="last".*first'),
    ({"ignore_ties": True, "ties": "average"}, r'^ignore_ties=True means ties="last".*average'),
    ({"ignore_ties": "yes"}, r"^ignore_ties must be True or False; got 'yes'"),
    ({"ignore_ties": 1}, r"^ignore_ties must be True or False; got 1"),
    ({"ignore_ties": None}, r"^ignore_ties must be True or False; got None"),
    ({"ties": "avergae"}, r'^ties must be one of .*got \'avergae\'; did you mean "average"\?'),
    ({"ties": 1}, r"^ties must be one of .*got 1"),
    ({"measures": "NDCG"}, r'^measures must be one of .*got \'NDCG\'; did you mean "nDCG"\?'),
    ({"measures": ["nDCG", "recall"]}, r"^measures must be one of .*got 'recall'"),
    ({"measures": []}, r"^measures is empty"),
    ({"measures": "nDCG@0"}, r"^measures must have a positive integer after the @, as in nDCG@10; got 'nDCG@0'"),
    ({"measures": "nDCG@"}, r"^measures must have a positive integer after the @"),
    ({"measures": "nDCG@²"}, r"^measures must have a positive integer after the @"),
    *(
        ({"measures": "nDCG@" + "9" * digits}, r"^measures must have a positive integer after the @")
        for digits in (19, 5000)
    ),
    ({"measures": "ndcg@10"}, r'^measures must be one of .*got \'ndcg\'; did you mean "nDCG"\?'),
    ({"measures": ["nDCG@5", "DCG@3"], "k": 10}, r"^k=10 and measures=\['nDCG@5', 'DCG@3'\] both give cutoffs"),
    ({"measures": np.array("nDCG")}, r"^measures must be one of"),
    ({"measures": None}, r"^measures must be one of .*got None"),
    ({"measures": [["nDCG"]]}, r"^measures must be one of"),
    ({"discount": "reciprocl"}, r'^discount must be one of .*got \'reciprocl\'; did you mean "reciprocal"\?'),
    ({"discount": []}, r'^discount must be "log", .*, a list .* or a function; got \[\]'),
    ({"discount": [1, 0.5, 0.7]}, r"^discount must be .*, which rises from 0.5 at rank 2 to 0.7 at rank 3"),
    ({"discount": [1, math.nan]}, r"^discount must be .*; got \[1, nan\]"),
    ({"discount": [0, 0]}, r"^discount must be .*, which is 0 at rank 1, so nothing counts"),
    ({"discount": "jarvelin", "log_base": 0.5}, r'^log_base must be above 1 for discount="jarvelin"; got 0.5'),
    ({"gain": "exp"}, r'^gain must be .*"exponential"'),
    ({"gain": []}, r"^gain must be"),
    ({"gain": [0, math.nan]}, r"^gain must be"),
    ({"gain": [0, "1"]}, r"^gain must be"),
    ({"gain": [[0, 1]]}, r"^gain must be"),
    ({"gain": [[0], [1, 2]]}, r"^gain must be"),
    ({"gain": 2}, r"^gain must be"),
    ({"gain": np.array(2)}, r"^gain must be"),
    ({"zero_division": "warn"}, r"^zero_division must be a finite number, nan .*; got 'warn'"),
    ({"zero_division": math.inf}, r"^zero_division must be a finite number, nan"),
    ({"zero_division": True}, r"^zero_division must be a finite number, nan"),
    ({"ideal": "retreived"}, r'^ideal must be one of .*got \'retreived\'; did you mean "retrieved"\?'),
    ({"ideal": "full", "k": [3, None]}, r'^k must be given for ideal="full", since its ideal has k documents'),
    ({"convention": "rectools"}, r'^k must be given for convention="rectools", since its ideal has k documents'),
    ({"negative_relevance": "ignore"}, r"^negative_relevance must be one of .*got 'ignore'"),
    ({"negative_relevance": True}, r"^negative_relevance must be one of .*got True"),
    ({"use_aggregator": "no"}, r"^use_aggregator must be True or False; got 'no'"),
    ({"use_aggregator": None}, r"^use_aggregator must be True or False; got None"),
    ({"engine": "torch"}, r'^engine must be one of "numpy", "sklearn"; got \'torch\''),
    ({"engine": None}, r"^engine must be one of"),
    *(({**options, "engine": "sklearn"}, rf'^engine="sklearn".*\b{name}\b') for options, name in FOREIGN_TO_SKLEARN),
]


HUGE = 10**5000  # an integer that Python does not print
SHARED = {"ignore_ties", "measures", "convention", "gain", "discount", "log_base", "ties", "zero_division"}
SHARED |= {"ideal", "score_dtype", "negative_relevance", "judged_only", "ignore_index"}
OPTIONS = sorted({"k", "missing", "use_aggregator", "engine", *SHARED})


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("value", [HUGE, [HUGE], "x" * 10**6, ["x"] * 10**6, 10**400], ids=range(5))
def test_a_value_of_any_size_is_rejected_in_few_words(ndcg: evaluate.Metric, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} .*; got ") as caught:
        ndcg.signature(**{name: value})
    assert len(str(caught.value)) < 500


ROWS = {"references", "k", "sample_weight", "query_ids", "document_ids", "data", "exclude", "missing"}
OF_METHODS: dict[str, set[str]] = {
    "report": {"predictions", "by", "confidence", *ROWS},
    "compare": {"systems", "baseline", "by", "confidence", "seed", *ROWS} | {"alternative", "margin", "corrected_over"},
    "compute_spark": {"df", "prediction", "reference", "query", "document", "sample_weight", "exclude"}
    | {"k", "use_aggregator", "missing"},
    "trainer_metrics": {"k", "query_ids", "references", "main_input", "ignore_index"},
    "sentence_transformers_evaluator": {"queries", "corpus", "relevant_docs", "k", "candidates", "exclude"}
    | {"sample_weight", "by", "confidence", "name", "batch_size", "corpus_chunk_size", "score_function"}
    | {"truncate_dim", "max_active_dims", "query_prompt", "query_prompt_name", "corpus_prompt", "corpus_prompt_name"}
    | {"show_progress_bar", "write_csv", "missing"},
    "meter": {"k", "ignore_index", "missing"},
    "scorer": {"k", "ignore_index", "missing"},
    "lightgbm_metric": {"k", "ignore_index", "missing"},
    "xgboost_metric": {"k", "ignore_index", "missing"},
    "signature": {"k", "sample_weight", "exclude", "missing", "use_aggregator", "engine"},
}
REQUIRED = {
    "compare": {"systems": {}, "references": {}},
    "compute_spark": {"df": None, "prediction": "p", "reference": "r"},
    "sentence_transformers_evaluator": {"queries": {}, "corpus": {}, "relevant_docs": {}, "k": None},
}


@pytest.mark.parametrize(
    ("method", "unknown"),
    [
        (method, name)
        for method in OF_METHODS
        for name in ("alpha", "engine", "x" * 10**6)
        if name not in OF_METHODS[method]
    ],
    ids=lambda text: text[:20],
)
def test_an_unknown_option_is_answered_with_those_of_the_method(
    ndcg: evaluate.Metric, method: str, unknown: str
) -> None:
    with pytest.raises(TypeError, match=f"^{method} has no option {unknown[:100]}; it has ") as caught:
        getattr(ndcg, method)(**{**REQUIRED.get(method, {}), unknown: 1})
    listed = str(caught.value).partition("; it has ")[2].split(", ")
    assert len(listed) == len(set(listed))
    assert set(listed) == OF_METHODS[method] | SHARED


@pytest.mark.parametrize(
    ("method", "option", "where"),
    [
        ("compute", "by", "report and compare have it"),
        ("report", "baseline", "compare has it"),
        ("compare", "got", "explain has it"),
        ("compute", "label_gain", r"LightGBM's label_gain is gain=\[0, 1, 3, 7, ...\], by label; its default is .*"),
        ("lightgbm_metric", "label_gain", r"LightGBM's label_gain is gain=.*"),
        ("report", "exp_gain", r'XGBoost\'s ndcg_exp_gain is gain="exponential" if it is true, else gain="linear"'),
        ("xgboost_metric", "ndcg_exp_gain", "XGBoost's ndcg_exp_gain is .*"),
        ("compare", "type", r'CatBoost\'s type=Exp is gain="exponential", and its type=Base is gain="linear"'),
        ("compute", "denominator", r'CatBoost\'s denominator=Position is discount="reciprocal", LogPosition .*'),
        ("compute", "top", "CatBoost's top is k"),
    ],
)
def test_an_option_of_another_method_is_answered_with_that_method(
    ndcg: evaluate.Metric, method: str, option: str, where: str
) -> None:
    with pytest.raises(TypeError, match=f"^{method} has no option {option}; {where}$"):
        getattr(ndcg, method)(**{**REQUIRED.get(method, {}), option: 1})


@pytest.mark.parametrize(("wrong", "meant"), [("gian", "gain"), ("Ties", "ties"), ("zero_devision", "zero_division")])
@pytest.mark.parametrize("method", OF_METHODS)
def test_an_option_that_is_nearly_one_of_the_method_is_answered_with_that(
    ndcg: evaluate.Metric, method: str, wrong: str, meant: str
) -> None:
    with pytest.raises(TypeError, match=rf"^{method} has no option {wrong}; did you mean {meant}\?$"):
        getattr(ndcg, method)(**{**REQUIRED.get(method, {}), wrong: 1})


@pytest.mark.parametrize("method", OF_METHODS)
def test_a_rejected_option_is_named_by_every_method_before_it_scores(ndcg: evaluate.Metric, method: str) -> None:
    known, required = OF_METHODS[method] | SHARED, {**REQUIRED, "report": {"predictions": [], "references": []}}
    problems = [each for each in BAD_OPTIONS if "sample_weight" not in each[0] and each[0].keys() <= known]
    assert len(problems) > 50
    for options, problem in problems:
        with pytest.raises(ValueError, match=problem):
            getattr(ndcg, method)(**{**required.get(method, {}), **options})


@pytest.fixture(params=[False, True], ids=["on disk", "in memory"])
def holding(request: pytest.FixtureRequest, fresh_metric: MetricFactory) -> evaluate.Metric:
    """A metric that holds one batch and one query."""
    metric = fresh_metric(keep_in_memory=request.param)
    metric.add_batch(predictions=[[2, 1, 0], [1, 2]], references=[[0, 1, 1], [2, None]])
    metric.add(prediction=[3.5], reference=[1])
    return metric


def holds_what_it_held(metric: evaluate.Metric) -> bool:
    """Whether it still scores as the fixture's metric does, and may go on."""
    first = (1 / math.log2(2 + 1) + 1 / math.log2(3 + 1)) / (1 / math.log2(1 + 1) + 1 / math.log2(2 + 1))
    expected = pytest.approx([first, 1 / math.log2(2 + 1), 1.0], rel=1e-14)
    length = len(metric)
    values = metric.compute(use_aggregator=False)["nDCG"]
    return (length, len(metric)) == (3, 0) and values == expected


@pytest.mark.parametrize(
    ("arguments", "problem"), [case[1:] for case in NOT_EVEN_STORED], ids=[case[0] for case in NOT_EVEN_STORED]
)
def test_inputs_without_a_meaning_are_rejected_everywhere_and_change_nothing(
    holding: evaluate.Metric, fresh_metric: MetricFactory, tmp_path: Path, arguments: dict[str, Any], problem: str
) -> None:
    empty = fresh_metric()
    for metric, length in ((empty, 0), (holding, 3)):
        for refuse in (metric.compute, metric.add_batch):
            with pytest.raises(ValueError, match=f"^{problem}"):
                refuse(**arguments)
            assert len(metric) == length
    assert not list(tmp_path.rglob("*.arrow"))
    assert holds_what_it_held(holding)
    empty.add_batch(**EXAMPLE)
    assert empty.compute() == {"nDCG": 0.6956940443813076}


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"prediction": [1, math.nan], "reference": [1, 0]}, "predictions: query 0, position 1: nan"),
        ({"prediction": [1, 2], "reference": [math.inf, 0]}, "references: query 0, position 0: inf"),
        ({"prediction": [1, 2], "reference": [0]}, "query 0: 2 predictions and 1 references"),
        ({"prediction": [1, "x"], "reference": [1, 0]}, "predictions: query 0, position 1: 'x'"),
        ({"prediction": "xy", "reference": [1, 0]}, "predictions: query 0: .*str"),
        ({"prediction": 1.0, "reference": 0.0}, "predictions: query 0: .*1.0"),
        ({"prediction": [[1, 2]], "reference": [1]}, r"predictions: query 0, position 0: \[1, 2\]"),
        ({"prediction": [1, 2]}, "references"),
        ({"reference": [1, 2]}, "predictions"),
        ({}, "predictions"),
    ],
)
def test_a_rejected_query_changes_nothing(holding: evaluate.Metric, query: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}"):
        holding.add(**query)
    assert holds_what_it_held(holding)


@pytest.mark.parametrize(
    ("arguments", "problem"), [case[1:] for case in NOT_SCORED], ids=[case[0] for case in NOT_SCORED]
)
def test_rankings_that_the_options_do_not_allow_are_rejected_at_their_place(
    ndcg: evaluate.Metric, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=f"^{problem}"):
        ndcg.compute(**arguments)


@pytest.mark.parametrize(
    ("arguments", "problem"), [case[1:] for case in NOT_SCORED[:5]], ids=[case[0] for case in NOT_SCORED[:5]]
)
def test_a_rejected_compute_of_given_and_stored_rankings_keeps_the_stored(
    holding: evaluate.Metric, arguments: dict[str, Any], problem: str
) -> None:
    # the tests of positions in a single compute check which query it is
    argument, _, rest = problem.partition(": ")
    with pytest.raises(ValueError, match=f"^{argument}: .*" + re.sub(r"query \d", r"query \\d", rest)):
        holding.compute(**arguments)
    assert holds_what_it_held(holding)


@pytest.mark.parametrize(
    ("arguments", "problem"), [case[1:] for case in NOT_SCORED[:5]], ids=[case[0] for case in NOT_SCORED[:5]]
)
@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_a_rejected_compute_of_stored_rankings_keeps_them(
    fresh_metric: MetricFactory, keep_in_memory: bool, arguments: dict[str, Any], problem: str
) -> None:
    metric = fresh_metric(keep_in_memory=keep_in_memory)
    given_inputs = {name: arguments[name] for name in ("predictions", "references")}
    how = {name: value for name, value in arguments.items() if name not in given_inputs}
    metric.add_batch(**given_inputs)
    for _ in range(2):
        with pytest.raises(
            ValueError, match=f"^{problem}.* \\(2 queries added before, .* are kept; .* reload the metric"
        ):
            metric.compute(**how)
        assert len(metric) == 2
    metric.add_batch(predictions=[[1]], references=[[1]])
    assert len(metric) == 3
    values = metric.compute(use_aggregator=False, negative_relevance="keep", k=1, measures=["nDCG", "DCG"])
    assert [len(each) for each in values.values()] == [3, 3]
    assert values["DCG@1"][2] == 1.0


def test_a_negative_relevance_stored_may_be_clipped_or_kept(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=[[2, 1]], references=[[-1, 1]])
    with pytest.raises(ValueError, match=r"references: query 0, position 0: .*negative.*clip.*keep"):
        metric.compute()
    assert metric.compute(negative_relevance="clip") == {"nDCG": pytest.approx(1 / math.log2(2 + 1), rel=1e-14)}


@pytest.mark.parametrize(("options", "problem"), BAD_OPTIONS, ids=[f"{options}" for options, _ in BAD_OPTIONS])
def test_a_rejected_option_is_named(ndcg: evaluate.Metric, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ndcg.compute(**TWO, **options)


def test_rejected_options_change_nothing(holding: evaluate.Metric) -> None:
    for options, problem in BAD_OPTIONS:
        weight = options.get("sample_weight")
        wrong_length = "must hold" in problem  # of the weights: it stays wrong; others get weights for stored queries
        for given_inputs, queries in (({}, 3), (TWO, 5)):
            if isinstance(weight, list) and not wrong_length:
                options = {**options, "sample_weight": [*weight, *[0] * (queries - 2)]}
            elif wrong_length and np.shape(weight) == (queries,):
                options = {**options, "sample_weight": [1]}
            with pytest.raises(ValueError, match=problem.replace("2 queries", f"{queries} queries")):
                holding.compute(**given_inputs, **options)
            assert len(holding) == 3
    assert holds_what_it_held(holding)


def test_an_unknown_option_is_named_and_changes_nothing(holding: evaluate.Metric) -> None:
    with pytest.raises(TypeError, match="top_k"):
        holding.compute(top_k=10)
    with pytest.raises(TypeError, match="top_k"):
        holding.compute(**TWO, top_k=10)
    with pytest.raises(TypeError, match="scores"):
        holding.add_batch(**TWO, scores=[[1]])
    with pytest.raises(TypeError, match="score"):
        holding.add(prediction=[1], reference=[1], score=[1])
    assert holds_what_it_held(holding)


def test_an_error_in_a_gain_function_changes_nothing(holding: evaluate.Metric) -> None:
    def gain(relevance: np.ndarray) -> np.ndarray:
        raise KeyError("no such grade")

    with pytest.raises(KeyError, match="no such grade"):
        holding.compute(gain=gain)
    with pytest.raises(KeyError, match="no such grade"):
        holding.compute(**TWO, gain=gain)
    assert holds_what_it_held(holding)


@pytest.mark.parametrize(
    "gain",
    [
        lambda relevance: relevance[:-1],
        lambda relevance: np.ones((len(relevance), 2)),
        lambda relevance: 1.0,
        lambda relevance: None,
        lambda relevance: [[1], [1, 2]],
        lambda relevance: ["3"] * len(relevance),
        lambda relevance: relevance + 1j,
        lambda relevance: relevance.astype("m8[s]"),
        lambda relevance: np.ma.masked_less(relevance, 1),
    ],
)
def test_a_gain_function_without_a_number_for_each_is_named_and_changes_nothing(
    ndcg: evaluate.Metric, holding: evaluate.Metric, gain: Any
) -> None:
    with pytest.raises(ValueError, match=r"^gain gets an array of relevances and must return an array"):
        ndcg.compute(**TWO, gain=gain)
    with pytest.raises(ValueError, match=r"^gain gets an array of relevances and must return an array"):
        holding.compute(gain=gain)
    assert holds_what_it_held(holding)


def test_a_function_that_returns_a_tensor_with_a_gradient_is_named_and_changes_nothing(
    ndcg: evaluate.Metric, holding: evaluate.Metric
) -> None:
    torch = pytest.importorskip("torch")
    weight = torch.tensor(2.0, requires_grad=True)
    problem = "gets an array of {} and must return an array of as many numbers: it returned a Tensor that NumPy cannot"
    for option, what in (("gain", "relevances"), ("discount", "ranks")):
        for metric, inputs in ((ndcg, TWO), (holding, {})):
            with pytest.raises(ValueError, match=f"^{option} {problem.format(what)} read .*detach"):
                metric.compute(**inputs, **{option: lambda values: weight / torch.tensor(values)})
    assert holds_what_it_held(holding)


def test_a_gain_function_is_not_asked_about_nothing(ndcg: evaluate.Metric) -> None:
    unjudged = {"predictions": [[2, 1]], "references": [[None, None]]}
    assert ndcg.compute(**unjudged, gain=lambda relevance: relevance / relevance.max()) == {"nDCG": 0.0}


def test_a_sum_that_nobody_asked_for_may_overflow(ndcg: evaluate.Metric) -> None:
    huge = {"predictions": [[2.0, 1.0]], "references": [[1e308, 1e308]]}
    assert ndcg.compute(**huge, measures=["DCG", "nDCG"]) == pytest.approx(
        {"DCG": 1e308 * (1 + 1 / math.log2(3)), "nDCG": 1.0}
    )
    with pytest.raises(ValueError, match="CG overflows"):
        ndcg.compute(**huge, measures="CG")


def test_one_query_is_named_in_one_way(holding: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="not as both"):
        holding.add(prediction=[1, 2], reference=[0, 1], predictions=[2, 1], references=[0, 1])
    assert holds_what_it_held(holding)


def test_a_mean_of_nothing_is_rejected(ndcg: evaluate.Metric, fresh_metric: MetricFactory) -> None:
    irrelevant = {"predictions": [[2, 1], [1, 2]], "references": [[0, 0], [1, 0]]}
    with pytest.raises(ValueError, match=r"^nDCG: .*zero_division"):
        ndcg.compute(**irrelevant, zero_division=math.nan, sample_weight=[1, 0])
    metric = fresh_metric()
    metric.add_batch(predictions=[[2, 1]], references=[[0, 0]])
    with pytest.raises(ValueError, match=r"^nDCG@3: .*zero_division"):
        metric.compute(k=3, zero_division=math.nan)
    assert metric.compute(zero_division=1.0) == {"nDCG": 1.0}


def test_a_mean_that_overflows_is_rejected(ndcg: evaluate.Metric) -> None:
    huge = {"predictions": [[1]] * 3, "references": [[1.5e308]] * 3}
    with pytest.raises(ValueError, match=r"^DCG: .*overflow"):
        ndcg.compute(**huge, measures="DCG")
    assert ndcg.compute(**huge) == {"nDCG": 1.0}


def test_integers_that_float64_would_round_are_scored_at_once_and_rejected_for_storage(
    ndcg: evaluate.Metric, holding: evaluate.Metric
) -> None:
    big = {"predictions": [[2**53, 2**53 + 1]], "references": [[0, 1]]}
    assert ndcg.compute(**big) == {"nDCG": 1.0}
    for refuse in (holding.add_batch, holding.compute):
        with pytest.raises(ValueError, match=r"^predictions: .*2\*\*53"):
            refuse(**big)
    assert holds_what_it_held(holding)


# --- evaluate --------------------------------------------------------------------------------------------------------


class Documents(evaluate.Metric):
    """A second metric of the same features."""

    def _info(self) -> evaluate.MetricInfo:
        lists = datasets.Sequence(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description="How many documents there are.",
            citation="-",
            inputs_description="-",
            features=datasets.Features({"predictions": lists, "references": lists}),
        )

    def _compute(self, predictions: Any, references: Any) -> dict[str, int]:
        return {"documents": sum(map(len, predictions))}


def test_combined_with_another_metric(fresh_metric: MetricFactory, tmp_path: Path) -> None:
    both = evaluate.combine([fresh_metric(), Documents(cache_dir=str(tmp_path / "other"))])
    assert both.compute(**EXAMPLE) == {"nDCG": 0.6956940443813076, "documents": 5}
    both.add_batch(predictions=[[2.0, 1.0]], references=[[1.0, 0.0]])
    both.add(predictions=[1.0, 2.0], references=[1.0, 0.0])
    both.add([1.0, 2.0], [0.0, 1.0])
    mean = (1.0 + 1 / math.log2(2 + 1) + 1.0) / 3
    assert both.compute() == {"nDCG": pytest.approx(mean, rel=1e-14), "documents": 6}


def test_combined_with_itself_under_two_names(fresh_metric: MetricFactory) -> None:
    both = evaluate.combine({"one": fresh_metric(), "other": fresh_metric()})
    assert both.compute(**EXAMPLE, k=3) == {"one_nDCG@3": 0.4123818817534531, "other_nDCG@3": 0.4123818817534531}


PROCESS = """
import json
import evaluate

results = []


def refused(compute, **arguments):
    try:
        compute(**arguments)
    except ValueError as error:
        results.append(str(error))
    else:
        raise AssertionError("not refused")


for number, (way, share) in enumerate(scenarios):
    metric = evaluate.load(
        path,
        process_id=process_id,
        num_process=num_process,
        experiment_id=f"experiment-{number}",
        cache_dir=cache,
        timeout=500,
    )
    inputs = {"predictions": [p for p, _ in share], "references": [r for _, r in share]}
    options = {"k": [1, 3, None], "use_aggregator": False}
    first = process_id == 0
    if way == "one batch, stored":
        metric.add_batch(**inputs)
        inputs = {}
    elif way == "one query after the other":
        for prediction, reference in share:
            metric.add(prediction=prediction, reference=reference)
        inputs = {}
    elif way == "half stored, half given":
        metric.add_batch(**{name: values[:1] for name, values in inputs.items()})
        inputs = {name: values[1:] for name, values in inputs.items()}
    elif way == "after a refused one":
        if first:
            refused(metric.compute, predictions=[[2, 1]], references=[[-1, 1]])
    elif way == "refused, then clipped":
        metric.add_batch(**inputs)
        inputs = {}
        if first:
            refused(metric.compute, **options)
        options["negative_relevance"] = "clip"
    elif way == "given, refused with the others, then clipped":
        if first:
            refused(metric.compute, **inputs, **options)
        options["negative_relevance"] = "clip"
    results.append(metric.compute(**inputs, **options))
print(json.dumps(results))
"""

Share = list[tuple[Any, Any]]


def in_processes(processes: Processes, scenarios: list[tuple[str, list[Share]]]) -> list[list[Any]]:
    """The answers of several processes that share a cache, in each scenario."""
    number = len(scenarios[0][1])
    for process in range(number):
        shares = [(way, each[process]) for way, each in scenarios]
        processes.start(PROCESS, process_id=process, num_process=number, scenarios=shares)
    return [json.loads(process.output()) for process in processes.running]


def in_one_process(metric: evaluate.Metric, shares: list[Share], **options: Any) -> dict[str, list[float]]:
    queries = [query for share in shares for query in share]
    predictions, references = [p for p, _ in queries], [r for _, r in queries]
    return metric.compute(
        predictions=predictions, references=references, k=[1, 3, None], use_aggregator=False, **options
    )


def test_four_processes_on_one_cache_give_the_result_of_one(fresh_metric: MetricFactory, processes: Processes) -> None:
    queries = list(zip(*random_rankings(seed=3, queries=37), strict=True))
    shares = [queries[:20], queries[20:21], queries[21:30], queries[30:]]
    one_has_none = [queries[:20], queries[20:36], [], queries[36:]]
    scenarios = [
        ("one batch, stored", shares),
        ("one batch, stored", one_has_none),
        ("one query after the other", shares),
        ("one batch, given", shares),
        ("half stored, half given", shares),
    ]
    results = in_processes(processes, scenarios)
    expected = in_one_process(fresh_metric(), shares)
    assert results[0] == [expected] * len(scenarios)
    assert results[1:] == [[None] * len(scenarios)] * 3
    assert not list(processes.cache.rglob("*.arrow"))


@pytest.mark.parametrize(
    "way", ["after a refused one", "refused, then clipped", "given, refused with the others, then clipped"]
)
def test_a_batch_that_one_of_two_processes_rejects_changes_nothing(
    fresh_metric: MetricFactory, processes: Processes, way: str
) -> None:
    shares: list[Share] = [[([2, 1], [0, 1]), ([3, 1], [2, 1])], [([1, 2, 3], [3, 0, 1])]]
    if way.endswith("refused, then clipped") or "with the others" in way:
        shares[1].append(([2, 1], [-1, 1]))
    results = in_processes(processes, [(way, shares)])
    error, result = results[0]
    assert re.match(r"references: query \d, position 0: .*-1.* negative", error)
    assert result == in_one_process(fresh_metric(), shares, negative_relevance="clip")
    assert results[1] == [None]


def test_the_metric_introduces_itself(ndcg: evaluate.Metric) -> None:
    assert ndcg.name == "ndcg"
    assert ndcg.module_type == "metric"
    for text in (ndcg.description, ndcg.citation, ndcg.inputs_description, ndcg.info.license):
        assert text.strip()
    assert "cumulative gain" in ndcg.description
    assert "@article" in ndcg.citation
    assert ndcg.info.reference_urls
    assert set(ndcg.features) == {"predictions", "references"}
    for feature in ndcg.features.values():
        assert feature.feature == datasets.Value("float64")


def test_every_option_is_described(ndcg: evaluate.Metric) -> None:
    parameters = inspect.signature(type(ndcg).compute).parameters
    arguments = re.findall(r"^    (\w+)\b.*?:", ndcg.inputs_description.partition("Returns:")[0], re.MULTILINE)
    assert arguments == [name for name in parameters if name != "self"]
    assert ndcg.inputs_description in ndcg.compute.__doc__


@pytest.mark.parametrize("method", OF_METHODS)
def test_help_describes_every_argument_of_a_method(ndcg: evaluate.Metric, method: str) -> None:
    function = getattr(ndcg, method)
    described = re.findall(r"^    \**(\w+): ", inspect.getdoc(function) or "", re.MULTILINE)
    assert set(inspect.signature(function).parameters) <= set(described)


@pytest.mark.parametrize(("module", "least"), [(sys.modules[type(METRIC).__module__], 6), (BUNDLE, 40)])
def test_the_doctests_of_the_loaded_modules_pass(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, least: int
) -> None:
    monkeypatch.chdir(ROOT)
    outcome = doctest.testmod(module)
    assert outcome.attempted >= least
    assert outcome.failed == 0


# The signature

SIGNATURE = "nDCG@10|gain:linear|log:2|ties:average|empty:0|negative:raise|unjudged:0|v:1.2.0"


def test_a_signature_names_every_choice(ndcg: evaluate.Metric) -> None:
    assert ndcg.signature(k=10) == SIGNATURE
    assert ndcg.signature(k=[1, None], measures=["nDCG", "DCG"]).startswith("nDCG@1+nDCG+DCG@1+DCG|gain:")


DIFFERENT: list[dict[str, Any]] = [
    {"k": 5},
    {"k": [5, 10]},
    {"measures": "DCG"},
    {"gain": "exponential"},
    {"gain": "binary"},
    {"gain": [0, 1, 3]},
    {"gain": [0, 1, 4]},
    {"gain": np.sqrt},
    {"gain": np.cbrt},
    {"gain": lambda r: r**2},
    {"gain": lambda r: r**3},
    {"gain": partial(np.power, 2)},
    {"gain": partial(np.power, 3)},
    {"gain": (lambda power: lambda r: r**power)(4)},
    {"gain": (lambda power: lambda r: r**power)(5)},
    {"gain": np.vectorize({0: 0.0, 1: 1.0}.__getitem__)},
    {"gain": np.vectorize({0: 0.0, 1: 2.0}.__getitem__)},
    {"ignore_index": 0},
    {"ignore_index": -100},
    {"log_base": 3},
    {"log_base": math.e},
    {"discount": "reciprocal"},
    {"discount": "jarvelin"},
    {"discount": "jarvelin", "log_base": 3},
    {"discount": [1, 0.5]},
    {"ideal": "truncated"},
    {"ideal": "retrieved"},
    {"zero_division": "perfect_if_empty"},
    {"score_dtype": "float32"},
    {"discount": lambda ranks: 1 / ranks**2},
    {"ties": "first"},
    {"ignore_ties": True},
    {"zero_division": 1},
    {"zero_division": 0.1},
    {"zero_division": math.nan},
    {"negative_relevance": "clip"},
    {"judged_only": True},
    {"sample_weight": [1, 2]},
    {"exclude": {"q": ["d"]}},
]


PERFECT_IF_EMPTY = {"gain": [0, 0, 3], "zero_division": "perfect_if_empty", "k": 2}
# Each query retrieved nothing, or only documents that nobody judged; b alone has a document to find.
FOUND_NOTHING = {"a": {}, "b": {}, "c": {"x": 0.5}}
JUDGED = {"a": {"d": 1}, "b": {"d": 2}, "c": {"d": 1}}


@NOTHING_IN_COMMON
@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, [1, 0, 0]),
        ({"judged_only": True}, [1, 0, 1]),  # removed documents were not retrieved
        ({"exclude": {"c": ["x"]}}, [1, 0, 1]),
        ({"missing": "skip"}, [1, 0, 0]),  # an empty answer is not missing
        ({"ideal": "truncated"}, [1, 0, 0]),
    ],
    ids=str,
)
def test_an_empty_answer_is_worth_the_same_in_scores_reports_and_comparisons(
    ndcg: evaluate.Metric, others: dict[str, Any], expected: list[float]
) -> None:
    inputs = {"predictions": FOUND_NOTHING, "references": JUDGED}
    options = {**PERFECT_IF_EMPTY, **others}
    mean = pytest.approx(sum(expected) / 3)
    assert ndcg.compute(**inputs, **options, use_aggregator=False) == {"nDCG@2": expected}
    report = ndcg.report(**inputs, **options)
    assert report.queries["nDCG@2"].to_pylist() == expected
    assert report.scores["nDCG@2"].value == mean
    systems = {"one": FOUND_NOTHING, "other": {**FOUND_NOTHING, "b": {"d": 1.0}}}
    compared = ndcg.compare(systems=systems, references=JUDGED, **options)
    assert compared.scores["one"]["nDCG@2"].value == mean
    assert compared.scores["other"]["nDCG@2"].value == pytest.approx((sum(expected) + 1) / 3)


@NOTHING_IN_COMMON
@pytest.mark.parametrize(("others", "expected"), [({}, [1, 0, 0]), ({"judged_only": True}, [1, 0, 1])], ids=str)
def test_an_empty_answer_is_worth_the_same_in_lists_rows_and_batches(
    ndcg: evaluate.Metric, fresh_metric: MetricFactory, others: dict[str, Any], expected: list[float]
) -> None:
    scores, labels = [[None, None], [None, None], [0.5, None]], [[None, 1], [None, 2], [None, 1]]
    options = {**PERFECT_IF_EMPTY, **others}
    mean = {"nDCG@2": pytest.approx(sum(expected) / 3)}
    assert ndcg.compute(predictions=scores, references=labels, **options) == mean
    flat = {"predictions": [*chain(*scores)], "references": [*chain(*labels)], "query_ids": [0, 0, 1, 1, 2, 2]}
    assert ndcg.compute(**flat, **options) == mean
    batches, meter = fresh_metric(keep_in_memory=True), ndcg.meter(**options)
    for query in range(3):
        batches.add_batch(predictions=scores[query : query + 1], references=labels[query : query + 1])
        meter.update(scores[query : query + 1], labels[query : query + 1])
    assert batches.compute(**options) == mean
    assert meter.compute() == mean


@NOTHING_IN_COMMON
def test_a_missing_query_is_an_empty_answer_unless_it_is_skipped(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": {"c": {"x": 0.5}}, "references": JUDGED, **PERFECT_IF_EMPTY}
    assert ndcg.compute(**inputs) == {"nDCG@2": pytest.approx(1 / 3)}
    assert ndcg.compute(**inputs, missing="skip") == {"nDCG@2": 0}


def test_other_choices_have_other_signatures(ndcg: evaluate.Metric) -> None:
    signatures = [ndcg.signature(**{"k": 10, **options}) for options in [{}, *DIFFERENT]]
    assert len(set(signatures)) == len(signatures)


@pytest.mark.parametrize(
    "options",
    [
        {"gain": "linear"},
        {"log_base": 2.0},
        {"discount": "log"},
        {"ties": "average", "zero_division": 0.0, "negative_relevance": "raise"},
        {"use_aggregator": False},  # options of transport and speed do not change the results
        {"engine": "sklearn"},
        {"k": np.int64(10)},
        {"convention": "sklearn"},
        {"convention": "lightgbm", "gain": "linear", "ties": "average", "zero_division": False + 0},
    ],
    ids=str,
)
def test_equal_choices_have_one_signature_however_they_are_given(
    ndcg: evaluate.Metric, options: dict[str, Any]
) -> None:
    assert ndcg.signature(**{"k": 10, **options}) == SIGNATURE
    assert ndcg.signature(k=10, ignore_ties=True) == ndcg.signature(k=10, ties="last")


def test_a_gain_function_has_one_signature_however_it_is_written(ndcg: evaluate.Metric) -> None:
    class Squared:
        def __call__(self, relevance: Any) -> Any:
            return np.square(relevance)

    squares = [lambda r: r**2, np.square, Squared(), np.vectorize(lambda r: r * r), lambda r: [x**2 for x in r]]
    assert len({ndcg.signature(gain=each) for each in squares}) == 1


def test_a_log_base_without_a_logarithm_is_not_in_the_signature(ndcg: evaluate.Metric) -> None:
    assert ndcg.signature(discount="reciprocal", log_base=3) == ndcg.signature(discount="reciprocal")
    assert "|discount:reciprocal|ties:" in ndcg.signature(discount="reciprocal")
    assert "|discount:jarvelin|log:2|" in ndcg.signature(discount="jarvelin")


def test_a_gain_without_labels_has_no_signature(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match=r"^gain .* has no value for any of the labels"):
        ndcg.signature(gain=np.array([0.0, 1.0]).take)  # which takes no floats


@pytest.mark.parametrize("kind", [pa.null(), pa.float64()])
def test_a_column_may_be_all_missing(ndcg: evaluate.Metric, kind: pa.DataType) -> None:
    missing = pa.array([None, None], kind)
    assert ndcg.compute(predictions=missing, references=[1, 0], query_ids=[1, 1]) == {"nDCG": 0}
    assert ndcg.compute(predictions=pa.array([[None], []], pa.list_(kind)), references=[[1], []]) == {"nDCG": 0}
