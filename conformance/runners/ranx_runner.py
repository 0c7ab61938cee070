"""ranx, with its linear and its exponential gain."""

from typing import Any

from ranx import Qrels, Run, evaluate

PACKAGE = "ranx"
PRESETS = ("ranx", "ranx_burges")
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query of the qrels, which it adds to a run that lacks them."""
    name = {"ranx": "ndcg", "ranx_burges": "ndcg_burges"}[preset]
    measure = name if case["k"] is None else f"{name}@{case['k']}"
    qrels, run = Qrels(case["qrels"]), Run(case["run"])
    evaluate(qrels, run, measure, make_comparable=True)
    return {query: float(value) for query, value in run.scores[measure].items()}
