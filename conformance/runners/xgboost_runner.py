"""XGBoost's `ndcg`, the mean over groups, of scores given as base margins."""

from typing import Any

import numpy as np
import xgboost
from lists import joined

MODULE = "xgboost"
PRESETS = ("xgboost",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    return {query: _mean(case, [query]) for query in case["qrels"]}


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG over the queries."""
    return _mean(case, list(case["qrels"]))


def _mean(case: dict[str, Any], queries: list[str]) -> float:
    """Return the mean nDCG over some queries."""
    scores, relevance, lengths = joined(case, queries)
    data = xgboost.DMatrix(np.zeros((len(scores), 1)), relevance, group=lengths, base_margin=scores)
    metric = "ndcg" if case["k"] is None else f"ndcg@{case['k']}"
    how = {
        "objective": "rank:ndcg",
        "eval_metric": metric,
        "base_score": 0.0,
        "nthread": 1,
        "verbosity": 0,
    }
    return float(xgboost.Booster(how, [data]).eval(data).rpartition(":")[2])
