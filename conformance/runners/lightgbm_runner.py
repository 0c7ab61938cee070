"""LightGBM's `ndcg`, the mean over groups, of scores given as initial scores."""

from typing import Any

import lightgbm
import numpy as np
from lists import joined

MODULE = "lightgbm"
PRESETS = ("lightgbm",)
TOLERANCE = 1e-9
HOW = {"objective": "lambdarank", "metric": "ndcg", "verbose": -1, "num_threads": 1}


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    return {query: _mean(case, [query]) for query in case["qrels"]}


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG over the queries."""
    return _mean(case, list(case["qrels"]))


def _mean(case: dict[str, Any], queries: list[str]) -> float:
    """Return the mean nDCG over some queries."""
    scores, relevance, lengths = joined(case, queries)
    how = {**HOW, "eval_at": [case["k"] or max(lengths)]}
    data = lightgbm.Dataset(
        np.arange(len(scores), dtype=float)[:, None],
        np.array(relevance, float),
        group=lengths,
        init_score=np.array(scores),
        params={"min_data_in_leaf": 1, "min_data_in_bin": 1, **how},
    )
    return float(lightgbm.Booster(how, data).eval_train()[0][2])
