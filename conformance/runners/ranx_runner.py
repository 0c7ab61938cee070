"""ranx, with its linear and its exponential gain."""

from typing import Any

from ranx import Qrels, Run, evaluate

MODULE = "ranx"
PRESETS = ("ranx", "ranx_burges")
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query of the qrels, which are added to a run if they are missing from it."""
    run = Run(case["run"])
    _evaluate(case, preset, run)
    (values,) = run.scores.values()
    return {query: float(value) for query, value in values.items()}


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG."""
    return _evaluate(case, preset, Run(case["run"]))


def _evaluate(case: dict[str, Any], preset: str, run: Run) -> float:
    """Return the mean nDCG, and keep that of each query in the run."""
    name = {"ranx": "ndcg", "ranx_burges": "ndcg_burges"}[preset]
    measure = name if case["k"] is None else f"{name}@{case['k']}"
    return float(evaluate(Qrels(case["qrels"]), run, measure, make_comparable=True))
