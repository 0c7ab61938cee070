"""CatBoost's `NDCG`, a query at a time."""

from typing import Any

from catboost.utils import eval_metric
from lists import lists

MODULE = "catboost"
PRESETS = ("catboost",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    found = {}
    top = -1 if case["k"] is None else case["k"]
    for query in case["qrels"]:
        scores, relevance = lists(case, query)
        how = {"group_id": [0] * len(scores), "thread_count": 1}
        found[query] = float(eval_metric(relevance, scores, f"NDCG:top={top};type=Base", **how)[0])
    return found
