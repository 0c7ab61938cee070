"""TorchMetrics' `RetrievalNormalizedDCG`, a query at a time, since it returns the mean."""

from typing import Any

import torch
from lists import lists
from torchmetrics.retrieval import RetrievalNormalizedDCG

MODULE = "torchmetrics"
PRESETS = ("torchmetrics",)
TOLERANCE = 2e-6  # it computes in 32 bits


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    found = {}
    for query in case["qrels"]:
        scores, relevance = lists(case, query)
        preds, target = torch.tensor(scores, dtype=torch.float64), torch.tensor(relevance)
        indexes = torch.zeros(len(scores), dtype=torch.int64)
        found[query] = float(RetrievalNormalizedDCG(top_k=case["k"])(preds, target, indexes=indexes))
    return found
