"""scikit-learn's `ndcg_score` and `dcg_score`, by query: they accept lists of one length."""

from collections.abc import Callable
from typing import Any

from lists import lists
from sklearn.metrics import dcg_score, ndcg_score

MODULE = "sklearn"
PRESETS = ("sklearn",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    return {query: _scored(ndcg_score, case, query) for query in case["qrels"]}


def sums(case: dict[str, Any], preset: str) -> dict[str, dict[str, float]]:
    """Return the DCG of each query."""
    return {query: {"DCG": _scored(dcg_score, case, query)} for query in case["qrels"]}


def _scored(function: Callable[..., float], case: dict[str, Any], query: str) -> float:
    """Return the result of a function for a query."""
    scores, relevance = lists(case, query)
    return float(function([relevance], [scores], k=case["k"]))
