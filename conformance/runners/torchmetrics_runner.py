"""TorchMetrics' `RetrievalNormalizedDCG`, the mean over indexes, each of a query."""

from typing import Any

import torch
from lists import joined
from torchmetrics.retrieval import RetrievalNormalizedDCG

MODULE = "torchmetrics"
PRESETS = ("torchmetrics",)
TOLERANCE = 2e-6  # it computes in 32 bits


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    return {query: _mean(case, [query]) for query in case["qrels"]}


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG over the queries."""
    return _mean(case, list(case["qrels"]))


def _mean(case: dict[str, Any], queries: list[str]) -> float:
    """Return the mean nDCG over some queries."""
    scores, relevance, lengths = joined(case, queries)
    preds, target = torch.tensor(scores, dtype=torch.float64), torch.tensor(relevance)
    indexes = torch.tensor([at for at, length in enumerate(lengths) for _ in range(length)])
    return float(RetrievalNormalizedDCG(top_k=case["k"])(preds, target, indexes=indexes))
