"""The measure by the book, one document at a time, in exact fractions: slow, and obvious; and an example's numbers."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

# The example of the metric card, and its number by the conventions of libraries.
RELEVANCE = [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [3, 2, 3, 0, 1, 2]]
SCORES = [[0.5, 0.5, 0.2, 0.1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], [6, 5, 4, 3, 2, 1]]
NUMBERS = {
    "trec_eval": 0.5306,
    "sklearn": 0.5921,
    "ranx": 0.6536,
    "rax": 0.6496,
    "catboost": 0.8639,
    "ignite": 0.9744,
    "lightgbm": 0.9829,
}


def gains_by_rank(documents: Sequence[tuple[Any, Fraction]], ties: str) -> list[Fraction]:
    """The gain at each rank, from the score and the gain of each document."""
    in_order = sorted(documents, key=lambda document: document[0], reverse=True)  # of equals, the first stays first
    ranked: list[Fraction] = []
    for _, group in itertools.groupby(in_order, key=lambda document: document[0]):
        gains = [g for _, g in group]
        ranked += {
            "average": [sum(gains, Fraction(0)) / len(gains)] * len(gains),
            "first": gains,
            "last": gains[::-1],
            "best": sorted(gains, reverse=True),
            "worst": sorted(gains),
        }[ties]
    return ranked


def slow_scores(
    relevance: Sequence[Any],
    score: Sequence[Any],
    k: int | None = None,
    gain: Callable[[Any], Any] = lambda r: r,
    log_base: float = 2.0,
    ties: str = "average",
    zero_division: float | str = 0.0,
    discount: Callable[[int], float] | None = None,
    over: str = "judged",
) -> dict[str, float]:
    """Every measure of one query; None: not judged or not retrieved."""
    documents = [
        (s, Fraction(0 if r is None else gain(r)))
        for r, s in zip(relevance, score, strict=True)
        if s is not None and s != -math.inf
    ]
    ranked = gains_by_rank(documents, ties)
    judged = sorted((Fraction(gain(r)) for r in relevance if r is not None), reverse=True)
    retrieved = [
        Fraction(gain(r)) for r, s in zip(relevance, score, strict=True) if None not in (r, s) and s != -math.inf
    ]
    ideal = {
        "judged": judged,
        "truncated": judged[: len(documents)],
        "retrieved": sorted(retrieved, reverse=True),
        "full": judged[:1] * (k or 0),
    }[over]
    if zero_division == "perfect_if_empty":
        zero_division = 0.0 if documents or any(g > 0 for g in judged) else 1.0

    def weight(rank: int) -> float:
        return 1 / math.log(rank + 1, log_base) if discount is None else discount(rank)

    def dcg(gains: list[Fraction]) -> float:
        return math.fsum(float(g) * weight(rank) for rank, g in enumerate(gains[:k], 1))

    # whether anything is relevant must not depend on the sign of the logarithm
    positive = dcg(ideal) * weight(1) > 0
    return {
        "nDCG": dcg(ranked) / dcg(ideal) if positive else zero_division,
        "DCG": dcg(ranked),
        "IDCG": dcg(ideal),
        "CG": float(sum(ranked[:k], Fraction(0))),
    }
