"""`_compute`, the method that evaluate documents: called by hand, and overridden by a subclass."""

import inspect
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest
from conftest import BUNDLE, METRIC
from refusals import refusal
from sklearn.metrics import ndcg_score

SCORES = [[0.9, 0.4, 0.4], [0.1, 0.7, 0.2], [0.5, 0.6, 0.3]]
LABELS = [[0, 2, 1], [1, 0, 3], [1, 0, 0]]
WEIGHTS = [1.0, 2.0, 0.5]


class WithQueries(type(METRIC)):  # type: ignore[misc]
    """Adds the number of queries to every result."""

    def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
        return {**super()._compute(predictions, references, **options), "queries": len(references)}


class TopDocument(type(METRIC)):  # type: ignore[misc]
    """A measure of its own, with an option of its own: how often a relevant document is first."""

    def _compute(
        self, predictions: Any, references: Any, k: int = 1, *, least: float = 1
    ) -> dict[str, Any]:
        ranked = [
            [label for _, label in sorted(zip(*each, strict=True), reverse=True)]
            for each in zip(_lists(predictions), _lists(references), strict=True)
        ]
        return {f"top@{k}": float(np.mean([max(labels[:k]) >= least for labels in ranked]))}


def _lists(side: Any) -> list[list[float]]:
    """Batches come as Arrow lists, the inputs of one call as they are given."""
    return side if isinstance(side, list) else side.to_pylist()


@pytest.mark.parametrize(
    ("k", "weights", "ignore_ties"), [(None, None, False), (1, WEIGHTS, False), (2, WEIGHTS, True)]
)
def test_called_by_hand_it_is_the_function_of_scikit_learn(
    ndcg: evaluate.Metric, k: int | None, weights: list[float] | None, ignore_ties: bool
) -> None:
    scores = [
        [3.0, 2.0, 1.0],
        *SCORES[1:],
    ]  # without ties, which scikit-learn ignores in no fixed order
    result = ndcg._compute(scores, LABELS, k, weights, ignore_ties)
    expected = ndcg_score(LABELS, scores, k=k, sample_weight=weights, ignore_ties=ignore_ties)
    assert [*result.values()] == [pytest.approx(expected, rel=1e-12)]


def test_it_names_every_option_with_its_default() -> None:
    options = BUNDLE.OPTIONS
    own = inspect.signature(METRIC._compute).parameters
    assert {name: own[name].default for name in options} == {
        name: each.default for name, each in options.items()
    }
    rankings = {"predictions", "references", "query_ids", "document_ids", "exclude", "fields"}
    assert {*own} - {*options} == {"sample_weight", *rankings}


def test_a_subclass_adds_to_the_result_of_one_call() -> None:
    inputs: dict[str, Any] = {
        "predictions": SCORES,
        "references": LABELS,
        "k": [1, None],
        "sample_weight": WEIGHTS,
    }
    assert WithQueries().compute(**inputs) == {**METRIC.compute(**inputs), "queries": 3}
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert WithQueries().compute(
        predictions=run, references={"q": {"b": 1}}, exclude={"q": ["a"]}
    ) == {
        "nDCG": 1.0,
        "queries": 1,
    }


def test_a_subclass_adds_to_the_result_of_batches(tmp_path: Path) -> None:
    metric = WithQueries(cache_dir=str(tmp_path))
    metric.add_batch(predictions=SCORES[:2], references=LABELS[:2])
    metric.add(prediction=SCORES[2], reference=LABELS[2])
    result = metric.compute(k=2, ties="last")
    assert result == {
        **METRIC.compute(predictions=SCORES, references=LABELS, k=2, ties="last"),
        "queries": 3,
    }
    assert len(metric) == 0


def test_a_subclass_may_replace_the_measure_and_take_options_of_its_own(tmp_path: Path) -> None:
    metric = TopDocument(cache_dir=str(tmp_path))
    assert metric.compute(predictions=SCORES, references=LABELS) == {"top@1": 0.0}
    assert metric.compute(predictions=SCORES, references=LABELS, k=2, least=2) == {"top@2": 2 / 3}
    metric.add_batch(predictions=SCORES, references=LABELS)
    assert metric.compute(k=2, least=2) == {"top@2": 2 / 3}
    with refusal("compute has no option lest"):
        metric.compute(predictions=SCORES, references=LABELS, lest=2)


@pytest.mark.parametrize("batches", [False, True])
def test_a_subclass_gets_predictions_and_references_by_name(tmp_path: Path, batches: bool) -> None:
    class Swapped(type(METRIC)):  # type: ignore[misc]
        def _compute(self, references: Any, predictions: Any, **options: Any) -> dict[str, Any]:
            return {"first": _lists(references)[0], **options}

    class Named(type(METRIC)):  # type: ignore[misc]
        def _compute(self, *, predictions: Any, references: Any, own: Any = 1) -> dict[str, Any]:
            return {"first": _lists(references)[0], "own": own}

    for metric, options in (
        (Swapped(cache_dir=str(tmp_path)), {"k": 2}),
        (Named(cache_dir=str(tmp_path)), {"own": None}),
    ):
        inputs: dict[str, Any] = {"predictions": SCORES, "references": LABELS}
        if batches:
            metric.add_batch(**inputs)
        assert metric.compute(**({} if batches else inputs), **options) == {
            "first": LABELS[0],
            **options,
        }
        with refusal("compute has no option options"):
            metric.compute(**inputs, options=1)


def test_batches_stay_and_an_error_keeps_its_class_if_a_subclass_raises(tmp_path: Path) -> None:
    metric = TopDocument(cache_dir=str(tmp_path))
    metric.add_batch(predictions=SCORES, references=LABELS)
    with pytest.raises(TypeError, match="'>='"):
        metric.compute(least="much")
    assert len(metric) == 3
    assert metric.compute() == {"top@1": 0.0}
