"""PyTorch-Ignite's `NDCG`, a query at a time; it leaves out queries with nothing relevant."""

from typing import Any

import torch
from ignite.metrics.rec_sys.ndcg import NDCG
from lists import lists

MODULE = "ignite"
PRESETS = ("ignite",)
TOLERANCE = 2e-6  # it computes in 32 bits


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; what nobody judged is given as relevance 0."""
    found = {}
    for query in case["qrels"]:
        scores, relevance = lists(case, query)
        measure = NDCG(top_k=[case["k"] or len(scores)])
        measure.update((torch.tensor([scores], dtype=torch.float64), torch.tensor([relevance])))
        if measure._num_examples:
            found[query] = float(measure.compute()[0])
    return found
