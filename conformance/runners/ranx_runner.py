"""ranx, with its linear and its exponential gain: nDCG and DCG."""

from typing import Any

from ranx import Qrels, Run, evaluate

MODULE = "ranx"
PRESETS = ("ranx", "ranx_burges")
TOLERANCE = 1e-9
NDCG = {"ranx": "ndcg", "ranx_burges": "ndcg_burges"}


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query of the qrels; those that the run lacks are added to it."""
    return _values(case, NDCG[preset])


def sums(case: dict[str, Any], preset: str) -> dict[str, dict[str, float]]:
    """Return the DCG of each query."""
    return {
        query: {"DCG": value}
        for query, value in _values(case, NDCG[preset].removeprefix("n")).items()
    }


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG."""
    return _evaluate(case, NDCG[preset], Run(_padded(case["run"])))


def _values(case: dict[str, Any], name: str) -> dict[str, float]:
    """Return a measure of each query."""
    run = Run(_padded(case["run"]))
    _evaluate(case, name, run)
    (values,) = run.scores.values()
    return {query: float(value) for query, value in values.items()}


def _padded(side: dict[str, Any]) -> dict[str, Any]:
    """Return the same with ids of the same length: ranx compiles its code again for each length."""
    return {
        query: {each.ljust(8): value for each, value in documents.items()}
        for query, documents in side.items()
    }


def _evaluate(case: dict[str, Any], name: str, run: Run) -> float:
    """Return the mean of a measure, and keep the value of each query in the run."""
    measure = name if case["k"] is None else f"{name}@{case['k']}"
    return float(evaluate(Qrels(_padded(case["qrels"])), run, measure, make_comparable=True))
