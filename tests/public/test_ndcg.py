"""The metric as users have it: loaded by evaluate, computed at once, by batch, by processes."""

import doctest
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import datasets
import evaluate
import numpy as np
import pytest
from conftest import BUNDLE, METRIC, NOTHING_IN_COMMON, ROOT, MetricFactory
from sklearn.metrics import ndcg_score

EXAMPLE: dict[str, Any] = {
    "predictions": [[0.1, 0.2, 0.3, 4, 70]],
    "references": [[10, 0, 0, 1, 5]],
}
TIED: dict[str, Any] = {"predictions": [[1, 1, 0, 0, 0]], "references": [[1, 0, 0, 0, 0]]}
RAGGED: dict[str, Any] = {
    "predictions": [[0.9, 0.8, 0.1], [0.5], [0.2, 0.4], [0.3, None, 0.1]],
    "references": [[0, 1, 1], [1], [0, 0], [None, 2, 1]],
}
SECOND = 1 / math.log2(2 + 1)  # the nDCG of one relevant document at the second rank
TWO_OF_THREE = (SECOND + 1 / math.log2(3 + 1)) / (1 + SECOND)  # of two at ranks 2 and 3


# --- Figures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "options", "expected"),
    [
        (EXAMPLE, {}, {"nDCG": 0.6956940443813076}),
        (EXAMPLE, {"k": 3}, {"nDCG@3": 0.4123818817534531}),
        (TIED, {"k": 1}, {"nDCG@1": 0.5}),
        (TIED, {"k": 1, "ignore_ties": True}, {"nDCG@1": 0.0}),
        (
            {"predictions": [[0.1234567891, 0.1234567892]], "references": [[0, 1]]},
            {},
            {"nDCG": 1.0},
        ),  # not tied
    ],
)
def test_figures_to_the_last_digit_at_once_and_in_batches(
    fresh_metric: MetricFactory,
    inputs: dict[str, Any],
    options: dict[str, Any],
    expected: dict[str, float],
) -> None:
    assert fresh_metric().compute(**inputs, **options) == expected
    for keep_in_memory in (False, True):
        metric = fresh_metric(keep_in_memory=keep_in_memory)
        metric.add_batch(**inputs)
        metric.add(prediction=inputs["predictions"][0], reference=inputs["references"][0])
        assert metric.compute(**options) == expected


def test_ignoring_ties_puts_the_last_of_equal_scores_first(ndcg: evaluate.Metric) -> None:
    batch = {
        "predictions": [[1, 1, 0, 0], [2, 2, 2, 2]],
        "references": [[1, 0, 2, 1], [0, 1, 2, 3]],
    }
    last = ndcg.compute(**batch, ties="last")
    assert (
        ndcg.compute(**batch, ignore_ties=True)
        == ndcg.compute(**batch, ignore_ties=True, ties="last")
        == last
    )
    assert ndcg.compute(**batch, ties="first") != last


# --- The engine of scikit-learn -------------------------------------------------------------------


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"ignore_ties": True}, {"sample_weight": [1.0, 0.0, 2.5]}], ids=str
)
def test_the_engine_sklearn_is_sklearn_itself(
    fresh_metric: MetricFactory, options: dict[str, Any], stored: bool
) -> None:
    rng = np.random.default_rng(8)
    # lists on which scikit-learn's own order of ties is not the metric's
    score, relevance = (
        rng.integers(0, 3, (3, 40)).astype(float),
        rng.integers(0, 3, (3, 40)).astype(float),
    )
    metric = fresh_metric()
    inputs = {"predictions": score, "references": relevance}
    if stored:
        metric.add_batch(**inputs)
        inputs = {}
    result = metric.compute(**inputs, **options, k=[3, None], measures=["nDCG"], engine="sklearn")
    expected = {
        name: ndcg_score(relevance, score, k=k, **options)
        for name, k in (("nDCG@3", 3), ("nDCG", None))
    }
    assert result == expected
    assert {type(value) for value in result.values()} == {float}


def test_the_engine_sklearn_leaves_the_scoring_to_sklearn(
    ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("scored in NumPy too")

    monkeypatch.setattr(BUNDLE, "measure_queries", refuse)
    expected = ndcg_score(np.array(EXAMPLE["references"]), np.array(EXAMPLE["predictions"]))
    assert ndcg.compute(**EXAMPLE, engine="sklearn") == {"nDCG": expected}
    truths = {"predictions": np.array([[True, False]]), "references": [[1, 0]]}
    assert ndcg.compute(**truths, engine="sklearn") == {"nDCG": 1.0}
    with pytest.raises(AssertionError, match="NumPy"):
        ndcg.compute(**EXAMPLE, engine="numpy")


# --- The result -----------------------------------------------------------------------------------


def test_the_keys_are_measures_outer_and_cutoffs_inner_in_the_order_given(
    ndcg: evaluate.Metric,
) -> None:
    result = ndcg.compute(**EXAMPLE, measures=["DCG", "nDCG", "CG", "IDCG"], k=[10, 1, None])
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


def test_without_the_aggregator_there_is_a_list_of_one_float_per_query(
    ndcg: evaluate.Metric,
) -> None:
    result = ndcg.compute(**RAGGED, k=[1, None], measures=["nDCG", "DCG"], use_aggregator=False)
    assert list(result) == ["nDCG@1", "nDCG", "DCG@1", "DCG"]
    assert all(type(values) is list and len(values) == 4 for values in result.values())
    assert {type(value) for values in result.values() for value in values} == {float}
    one_of_two = SECOND / (2 + SECOND)
    assert result["nDCG"] == pytest.approx([TWO_OF_THREE, 1.0, 0.0, one_of_two], rel=1e-14)
    mean = ndcg.compute(**RAGGED, k=[1, None], measures=["nDCG", "DCG"])
    assert mean == {
        name: pytest.approx(np.mean(values), rel=1e-14) for name, values in result.items()
    }


@pytest.mark.parametrize(
    "weight", [[1, 2, 3, 4], (0.5, 0, 0, 0.25), np.array([1e300] * 4), [5e-324, 0, 0, 5e-324]]
)
def test_sample_weights_weigh_the_mean(ndcg: evaluate.Metric, weight: Any) -> None:
    values = ndcg.compute(**RAGGED, measures=["nDCG", "DCG"], use_aggregator=False)
    relative = np.asarray(weight) / np.max(weight)
    expected = {
        name: pytest.approx(np.average(each, weights=relative), rel=1e-12)
        for name, each in values.items()
    }
    assert ndcg.compute(**RAGGED, measures=["nDCG", "DCG"], sample_weight=weight) == expected


def test_sample_weights_count_stored_queries_first(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add(prediction=[2, 1], reference=[1, 0])
    metric.add_batch(predictions=[[1, 2]], references=[[1, 0]])
    result = metric.compute(predictions=[[2, 1]], references=[[0, 0]], sample_weight=[1, 2, 5])
    assert result == {"nDCG": pytest.approx((1 * 1 + 2 * SECOND + 5 * 0) / (1 + 2 + 5), rel=1e-14)}


def test_a_measure_may_have_a_cutoff_of_its_own(ndcg: evaluate.Metric) -> None:
    all_values = ndcg.compute(**EXAMPLE, measures=["nDCG", "DCG"], k=[1, 3, None])
    own = ndcg.compute(**EXAMPLE, measures=["DCG@1", "nDCG@3", "nDCG@1"])
    assert list(own.items()) == [(name, all_values[name]) for name in ("DCG@1", "nDCG@3", "nDCG@1")]
    mixed = ndcg.compute(**EXAMPLE, measures=["nDCG", "DCG@3"], k=[1, None])
    assert list(mixed.items()) == [(name, all_values[name]) for name in ("nDCG@1", "nDCG", "DCG@3")]
    assert ndcg.compute(**EXAMPLE, measures="nDCG@3", engine="sklearn") == pytest.approx(
        {"nDCG@3": own["nDCG@3"]}
    )
    assert ndcg.signature(measures=["nDCG@3", "DCG@5"]).startswith("nDCG@3+DCG@5|gain:")
    assert ndcg.signature(measures=["nDCG@3"]) == ndcg.signature(k=3)
    assert ndcg.compute(**EXAMPLE, measures="nDCG@" + "9" * 18) == {
        "nDCG@" + "9" * 18: all_values["nDCG"]
    }


@pytest.mark.parametrize(
    ("zero_division", "mean"), [(0.0, 0.5), (1.0, 1.0), (0.5, 0.75), (math.nan, 1.0)]
)
def test_queries_with_nothing_relevant_count_as_zero_division_says(
    ndcg: evaluate.Metric, zero_division: float, mean: float
) -> None:
    batch = {
        "predictions": [[2, 1], [2, 1]],
        "references": [[1, 0], [0, 0]],
        "zero_division": zero_division,
    }
    assert ndcg.compute(**batch) == {"nDCG": mean}
    assert ndcg.compute(**batch, use_aggregator=False)["nDCG"] == pytest.approx(
        [1.0, zero_division], nan_ok=True
    )


def test_a_gain_function_is_not_called_where_nothing_was_judged(ndcg: evaluate.Metric) -> None:
    unjudged = {"predictions": [[2, 1]], "references": [[None, None]]}
    assert ndcg.compute(**unjudged, gain=lambda relevance: relevance / relevance.max()) == {
        "nDCG": 0.0
    }


# Each query retrieved nothing, or only documents that nobody judged; b alone has a document to
# find.
FOUND_NOTHING = {"a": {}, "b": {}, "c": {"x": 0.5}}
JUDGED = {"a": {"d": 1}, "b": {"d": 2}, "c": {"d": 1}}
PERFECT_IF_EMPTY: dict[str, Any] = {"gain": [0, 0, 3], "zero_division": "perfect_if_empty", "k": 2}


@NOTHING_IN_COMMON
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1, 0, 0]),
        ({"judged_only": True}, [1, 0, 1]),  # removed documents were not retrieved
        ({"exclude": {"c": ["x"]}}, [1, 0, 1]),
        ({"missing": "skip"}, [1, 0, 0]),  # an empty answer is not missing
        ({"ideal": "truncated"}, [1, 0, 0]),
    ],
    ids=str,
)
def test_an_empty_answer_is_worth_the_same_in_a_report_and_a_comparison(
    ndcg: evaluate.Metric, options: dict[str, Any], expected: list[float]
) -> None:
    options = {**PERFECT_IF_EMPTY, **options}
    inputs = {"predictions": FOUND_NOTHING, "references": JUDGED, **options}
    assert ndcg.compute(**inputs, use_aggregator=False) == {"nDCG@2": expected}
    report = ndcg.report(**inputs)
    assert report.queries["nDCG@2"].to_pylist() == expected
    systems = {"one": FOUND_NOTHING, "other": {**FOUND_NOTHING, "b": {"d": 1.0}}}
    compared = ndcg.compare(systems=systems, references=JUDGED, **options).scores
    assert (
        compared["one"]["nDCG@2"].value
        == report.scores["nDCG@2"].value
        == pytest.approx(sum(expected) / 3)
    )
    assert compared["other"]["nDCG@2"].value == pytest.approx((sum(expected) + 1) / 3)


@NOTHING_IN_COMMON
def test_a_missing_query_is_an_empty_answer_unless_it_is_skipped(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": {"c": {"x": 0.5}}, "references": JUDGED, **PERFECT_IF_EMPTY}
    assert ndcg.compute(**inputs) == {"nDCG@2": pytest.approx(1 / 3)}
    assert ndcg.compute(**inputs, missing="skip") == {"nDCG@2": 0}


# --- evaluate -------------------------------------------------------------------------------------


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
    mean = (1.0 + SECOND + 1.0) / 3
    assert both.compute() == {"nDCG": pytest.approx(mean, rel=1e-14), "documents": 6}


def test_combined_with_itself_under_two_names(fresh_metric: MetricFactory) -> None:
    both = evaluate.combine({"one": fresh_metric(), "other": fresh_metric()})
    assert both.compute(**EXAMPLE, k=3) == {
        "one_nDCG@3": 0.4123818817534531,
        "other_nDCG@3": 0.4123818817534531,
    }


def test_the_metric_introduces_itself(ndcg: evaluate.Metric) -> None:
    assert (ndcg.name, ndcg.module_type) == ("ndcg", "metric")
    assert "cumulative gain" in ndcg.description
    assert "@article" in ndcg.citation
    assert ndcg.inputs_description.strip()
    assert ndcg.info.license
    assert ndcg.info.reference_urls
    lists = {name: feature.feature for name, feature in ndcg.features.items()}
    assert lists == dict.fromkeys(("predictions", "references"), datasets.Value("float64"))


@pytest.mark.parametrize(
    ("module", "least"), [(sys.modules[type(METRIC).__module__], 6), (BUNDLE, 40)]
)
def test_the_doctests_of_the_loaded_modules_pass(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, least: int
) -> None:
    monkeypatch.chdir(ROOT)
    outcome = doctest.testmod(module)
    assert outcome.attempted >= least
    assert outcome.failed == 0
