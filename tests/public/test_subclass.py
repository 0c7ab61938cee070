"""`_compute`, the method that evaluate documents: called by hand, and overridden by a subclass."""

import inspect
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import evaluate
import pytest
import sklearn.metrics
from conftest import BUNDLE, METRIC
from sklearn.metrics import ndcg_score

SCORES = [[0.9, 0.4, 0.4], [0.1, 0.7, 0.2], [0.5, 0.6, 0.3]]
LABELS = [[0, 2, 1], [1, 0, 3], [1, 0, 0]]
WEIGHTS = [1.0, 2.0, 0.5]


class WithQueries(type(METRIC)):  # type: ignore[misc]
    """Adds the number of queries to every result."""

    def _compute(self, predictions: Any, references: Any, **options: Any) -> dict[str, Any]:
        return {**super()._compute(predictions, references, **options), "queries": len(references)}


class FirstLabels(type(METRIC)):  # type: ignore[misc]
    """A measure of its own, with an option of its own, and the sides in another order."""

    def _compute(self, references: Any, *, predictions: Any, k: int = 1, own: Any = 4) -> dict[str, Any]:
        # batches come as Arrow lists, the inputs of one call as they are given
        first = references[0] if isinstance(references, list) else references[0].as_py()
        return {f"first@{k}": first[:k], "own": own and own / 2}


def test_called_by_hand_it_is_the_function_of_scikit_learn(ndcg: evaluate.Metric) -> None:
    for k, weights, ignore_ties in product([None, 1, 2], [None, WEIGHTS], [False, True]):
        scores = [[3.0, 2.0, 1.0], *SCORES[1:]] if ignore_ties else SCORES  # scikit-learn orders ties in no fixed way
        result = ndcg._compute(scores, LABELS, k, weights, ignore_ties)
        options = {"k": k, "sample_weight": weights, "ignore_ties": ignore_ties}
        assert list(result.values()) == [pytest.approx(ndcg_score(LABELS, scores, **options), rel=1e-12)]
        assert result == ndcg.compute(predictions=scores, references=LABELS, **options)


def test_it_names_every_option_with_its_default() -> None:
    options = BUNDLE.OPTIONS
    own = inspect.signature(METRIC._compute).parameters
    assert {name: own[name].default for name in options} == {name: each.default for name, each in options.items()}
    assert {*own} - {*options} == {"predictions", "references", "sample_weight", "query_ids", "document_ids", "exclude"}


def test_the_engine_sklearn_delegates(ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def spy(*arguments: Any, **options: Any) -> float:
        called.append((options["k"], options["ignore_ties"]))
        return float(ndcg_score(*arguments, **options))

    monkeypatch.setattr(sklearn.metrics, "ndcg_score", spy)
    result = ndcg._compute(SCORES, LABELS, k=2, engine="sklearn")
    assert result == {"nDCG@2": ndcg_score(LABELS, SCORES, k=2)}
    assert called == [(2, False)]


# --- A subclass ------------------------------------------------------------------------------------------------------

INPUTS: dict[str, Any] = {"predictions": SCORES, "references": LABELS}


def test_a_subclass_adds_to_the_result_of_one_call() -> None:
    options = {"k": [1, None], "sample_weight": WEIGHTS}
    assert WithQueries().compute(**INPUTS, **options) == {**METRIC.compute(**INPUTS, **options), "queries": 3}
    by_id = {"predictions": {"q": {"a": 2.0, "b": 1.0}}, "references": {"q": {"b": 1}}, "exclude": {"q": ["a"]}}
    assert WithQueries().compute(**by_id) == {"nDCG": 1.0, "queries": 1}


def test_a_subclass_adds_to_the_result_of_batches(tmp_path: Path) -> None:
    for metric in (WithQueries(cache_dir=str(tmp_path)), WithQueries(keep_in_memory=True)):
        metric.add_batch(predictions=SCORES[:2], references=LABELS[:2])
        metric.add(prediction=SCORES[2], reference=LABELS[2])
        assert metric.compute(k=2, ties="last") == {**METRIC.compute(**INPUTS, k=2, ties="last"), "queries": 3}
        assert len(metric) == 0


def test_a_subclass_adds_to_the_result_of_several_processes(tmp_path: Path) -> None:
    how = {"cache_dir": str(tmp_path), "num_process": 2, "experiment_id": "one"}
    metrics = [WithQueries(process_id=each, **how) for each in range(2)]

    def act(process: int) -> Any:
        metrics[process].add_batch(predictions=SCORES[process::2], references=LABELS[process::2])
        return metrics[process].compute(k=2)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(act, range(2)))
    expected = METRIC.compute(**INPUTS, k=2)["nDCG@2"]
    assert results == [{"nDCG@2": pytest.approx(expected, rel=1e-15), "queries": 3}, None]


def test_a_subclass_may_replace_the_measure_and_take_options_of_its_own(tmp_path: Path) -> None:
    metric = FirstLabels(cache_dir=str(tmp_path))
    assert metric.compute(**INPUTS) == {"first@1": [0], "own": 2.0}
    assert metric.compute(**INPUTS, k=2, own=None) == {"first@2": [0, 2], "own": None}
    with pytest.raises(TypeError, match="has no option onw"):
        metric.compute(**INPUTS, onw=2)
    with pytest.raises(TypeError, match="has no option options"):
        WithQueries().compute(**INPUTS, options=1)
    metric.add_batch(**INPUTS)
    with pytest.raises(TypeError, match="unsupported operand"):
        metric.compute(own="much")
    assert len(metric) == 3
    assert metric.compute(k=2, own=None) == {"first@2": [0, 2], "own": None}


def test_an_error_of_a_subclass_keeps_its_class(tmp_path: Path) -> None:
    class OwnError(ValueError):
        pass

    class Fails(type(METRIC)):  # type: ignore[misc]
        def _compute(self, predictions: Any, references: Any) -> dict[str, Any]:
            raise OwnError

    metric = Fails(cache_dir=str(tmp_path))
    metric.add_batch(**INPUTS)
    with pytest.raises(OwnError):
        metric.compute()
    assert len(metric) == 3
