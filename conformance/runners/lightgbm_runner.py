"""LightGBM's `ndcg`, a query at a time, of scores given as initial scores."""

from typing import Any

import lightgbm
import numpy as np
from lists import lists

MODULE = "lightgbm"
PRESETS = ("lightgbm",)
TOLERANCE = 1e-9
HOW = {"objective": "lambdarank", "metric": "ndcg", "verbose": -1, "num_threads": 1}


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    found = {}
    for query in case["qrels"]:
        scores, relevance = lists(case, query)
        how = {**HOW, "eval_at": [case["k"] or len(scores)]}
        data = lightgbm.Dataset(
            np.arange(len(scores), dtype=float)[:, None],
            np.array(relevance, float),
            group=[len(scores)],
            init_score=np.array(scores),
            params={"min_data_in_leaf": 1, "min_data_in_bin": 1, **how},
        )
        found[query] = float(lightgbm.Booster(how, data).eval_train()[0][2])
    return found
