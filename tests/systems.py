"""Shared by the tests of statistics: small rankings, systems, a report and a comparison to show."""

from typing import Any

import evaluate
import numpy as np
import pytest

# Query 0 is tied at rank 1, query 1 has nothing relevant, query 2 an unjudged document at rank 2
# and a relevant one that was not retrieved, query 3 was not retrieved at all.
PREDICTIONS = [[3, 3, 1], [1, 2], [0.9, 0.8, 0.7, None], [None, None]]

REFERENCES = [[2, 0, 1], [0, 0], [1, None, 0, 2], [1, 0]]

SMALL: dict[str, Any] = {"predictions": PREDICTIONS, "references": REFERENCES}


def generated(
    seed: int = 0, queries: int = 60, weights: tuple[float, ...] = (0.2, 0.5, 0.55)
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Systems of rising quality with tied scores, and the relevance they are scored by."""
    rng = np.random.default_rng(seed)
    relevance = rng.integers(0, 4, (queries, 12)) * (rng.random((queries, 12)) < 0.4)
    return {
        name: np.round(relevance * weight + rng.normal(0, 1, relevance.shape), 1)
        for name, weight in zip(("bm25", "dense", "hybrid", "oracle"), weights, strict=False)
    }, relevance


SYSTEMS, RELEVANCE = generated()

SEVERAL: dict[str, Any] = {"k": [3, 10], "measures": ["nDCG", "DCG"]}


@pytest.fixture(scope="module")
def shown(ndcg: evaluate.Metric) -> tuple[Any, Any]:
    ids = [
        "<img src=x onerror=alert(1)>",
        "a|b",
        "50%_of $x$ & `code`",
        *(f"q{at}" for at in range(57)),
    ]
    qrels = {
        id_: {f"d{at}": int(r) for at, r in enumerate(row)}
        for id_, row in zip(ids, RELEVANCE, strict=True)
    }
    runs = {
        name: {
            id_: {f"d{at}": float(s) for at, s in enumerate(row)}
            for id_, row in zip(ids, scores, strict=True)
        }
        for name, scores in SYSTEMS.items()
    }
    runs["<b>|_&"] = {
        query: {d: -s for d, s in scores.items()} for query, scores in runs.pop("bm25").items()
    }
    report = ndcg.report(predictions=runs["dense"], references=qrels, **SEVERAL)
    return report, ndcg.compare(systems=runs, references=qrels, **SEVERAL)
