"""scikit-learn's `ndcg_score`, a query at a time, since it takes lists of one length."""

from typing import Any

from lists import lists
from sklearn.metrics import ndcg_score

MODULE = "sklearn"
PRESETS = ("sklearn",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    found = {}
    for query in case["qrels"]:
        scores, relevance = lists(case, query)
        found[query] = float(ndcg_score([relevance], [scores], k=case["k"]))
    return found
