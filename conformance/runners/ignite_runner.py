"""PyTorch-Ignite's `NDCG`, a query at each update; it skips queries with nothing relevant."""

from typing import Any

import torch
from ignite.metrics.rec_sys.ndcg import NDCG
from lists import lists

MODULE = "ignite"
PRESETS = ("ignite",)
TOLERANCE = 2e-6  # it computes in 32 bits


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query that has one; what nobody judged is given as relevance 0."""
    measured = {query: _measured(case, [query]) for query in case["qrels"]}
    return {
        query: float(measure.compute()[0])
        for query, measure in measured.items()
        if measure._num_examples
    }


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG over the queries that have one."""
    return float(_measured(case, list(case["qrels"])).compute()[0])


def _measured(case: dict[str, Any], queries: list[str]) -> NDCG:
    """Return the measure after an update with each query."""
    ranked = [lists(case, query) for query in queries]
    measure = NDCG(top_k=[case["k"] or max(len(scores) for scores, _ in ranked)])
    for scores, relevance in ranked:
        measure.update((torch.tensor([scores], dtype=torch.float64), torch.tensor([relevance])))
    return measure
