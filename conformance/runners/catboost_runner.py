"""CatBoost's `NDCG`, the mean over groups; a group is a query."""

from typing import Any

from catboost.utils import eval_metric
from lists import joined

MODULE = "catboost"
PRESETS = ("catboost",)
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
    top = -1 if case["k"] is None else case["k"]
    groups = [at for at, length in enumerate(lengths) for _ in range(length)]
    return float(
        eval_metric(
            relevance, scores, f"NDCG:top={top};type=Base", group_id=groups, thread_count=1
        )[0]
    )
