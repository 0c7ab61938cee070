"""XGBoost's `ndcg`, a query at a time, of scores given as base margins."""

from typing import Any

import numpy as np
import xgboost
from lists import lists

MODULE = "xgboost"
PRESETS = ("xgboost",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    found = {}
    for query in case["qrels"]:
        scores, relevance = lists(case, query)
        data = xgboost.DMatrix(np.zeros((len(scores), 1)), relevance, group=[len(scores)], base_margin=scores)
        metric = "ndcg" if case["k"] is None else f"ndcg@{case['k']}"
        how = {"objective": "rank:ndcg", "eval_metric": metric, "base_score": 0.0, "nthread": 1, "verbosity": 0}
        found[query] = float(xgboost.Booster(how, [data]).eval(data).rpartition(":")[2])
    return found
