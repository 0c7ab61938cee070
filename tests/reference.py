"""The measure by the book, a document at a time in exact fractions: slow, and obvious.

With random rankings for it, and an example's numbers.
and an example's numbers.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

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
    in_order = sorted(
        documents, key=lambda document: document[0], reverse=True
    )  # of equals, the first stays first
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
        Fraction(gain(r))
        for r, s in zip(relevance, score, strict=True)
        if None not in (r, s) and s != -math.inf
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


# --- Each option beside its meaning: what the metric is given, and what the slow reference calls --

TIES = ("average", "first", "last", "best", "worst")
GAINS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "linear": ("linear", lambda r: r),
    "exponential": ("exponential", lambda r: 2.0**r - 1),
    "binary": ("binary", lambda r: int(r > 0)),
    "a list": ([0, 1, 10, 2.5, 7], lambda r: [0, 1, 10, 2.5, 7][int(r)]),
    "a list of few gains": ([0, 0, 3, 5, 5], lambda r: [0, 0, 3, 5, 5][int(r)]),
    "a function": (lambda r: r * r + 1, lambda r: r * r + 1),
}
DISCOUNTS: dict[str, tuple[Any, Callable[[int, float], float]]] = {
    "log": ("log", lambda rank, base: 1 / math.log(rank + 1, base)),
    "reciprocal": ("reciprocal", lambda rank, base: 1 / rank),
    "jarvelin": ("jarvelin", lambda rank, base: 1 / max(1, math.log(rank, base))),
    "a list": ([1 - rank / 2000 for rank in range(1, 2001)], lambda rank, base: 1 - rank / 2000),
    "a function": (lambda ranks: 0.99**ranks, lambda rank, base: 0.99**rank),
}
LOG_BASES = st.sampled_from([2, math.e, 10, 1.5, 0.5])


# --- Random rankings ------------------------------------------------------------------------------

Shape = tuple[int, int]
Document = tuple[
    Any, Any
]  # its relevance, None if not judged, and its score, None if not retrieved


def near_ties(rng: np.random.Generator, shape: Shape, dtype: Any) -> NDArray[Any]:
    """Scores that differ in their last bits only."""
    dtype = np.dtype(dtype)
    if dtype.kind == "i":
        return (
            np.iinfo(dtype).max // 2 * rng.choice([-1, 1], (shape[0], 1))
            + rng.integers(0, 6, shape)
        ).astype(dtype)
    base = rng.choice([1.0, -1.0, 0.1, -0.1, 1e-4, -3e4], (shape[0], 1)).astype(dtype)
    bits = base.view(f"i{dtype.itemsize}")
    return (bits + rng.integers(0, rng.choice([2, 6, 200]), shape).astype(bits.dtype)).view(dtype)


RANDOM_SCORES: dict[str, Callable[[np.random.Generator, Shape], NDArray[Any]]] = {
    "no ties": lambda rng, shape: rng.normal(0, 100, shape),
    "light ties": lambda rng, shape: rng.normal(0, 3, shape).round(1),
    "heavy ties": lambda rng, shape: rng.integers(-1, 3, shape).astype(float),
    "negative": lambda rng, shape: -rng.gamma(1, 50, shape),
    "constant rows": lambda rng, shape: np.repeat(
        rng.normal(0, 9, (shape[0], 1)), shape[1], axis=1
    ),
    "signed zeros": lambda rng, shape: rng.choice([0.0, -0.0, 0.0, 1.0, -1.0], shape),
    "subnormal": lambda rng, shape: rng.choice([0.0, -0.0, 5e-324, -5e-324, 1e-323, 1e-310], shape),
    "extremes": lambda rng, shape: rng.choice(
        [-1.7976931348623157e308, 1.7976931348623157e308, 0.0, 1e300], shape
    ),
    "every magnitude": lambda rng, shape: (
        rng.choice([-1, 1], shape) * 10.0 ** rng.integers(-320, 308, shape)
    ),
    "big integers": lambda rng, shape: 2.0**60 + rng.integers(-3, 4, shape) * 256.0,
}
GRADES: dict[str, Callable[[np.random.Generator, Shape], NDArray[Any]]] = {
    "binary": lambda rng, shape: rng.integers(0, 2, shape),
    "graded": lambda rng, shape: rng.integers(0, 5, shape),
    "sparse": lambda rng, shape: rng.integers(1, 4, shape) * (rng.random(shape) < 0.05),
    "constant rows": lambda rng, shape: np.repeat(
        rng.integers(0, 3, (shape[0], 1)), shape[1], axis=1
    ),
    "all-zero rows": lambda rng, shape: (
        rng.integers(0, 3, shape) * rng.integers(0, 2, (shape[0], 1))
    ),
    "nothing relevant": lambda rng, shape: np.zeros(shape, int),
}
REAL_RELEVANCES: dict[str, Callable[[np.random.Generator, Shape], NDArray[Any]]] = {
    "continuous": lambda rng, shape: rng.gamma(1, 2, shape),
    "huge": lambda rng, shape: rng.random(shape) * 1e303,
    # only so far below the smallest normal number that products with discounts keep 12 digits
    "small": lambda rng, shape: rng.integers(0, 3, shape) * (1e-300 if shape[1] > 99 else 1e-308),
}


def cast(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The nearest values that the type has, the lowest or highest for those beyond."""
    info: Any = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    if np.dtype(dtype).kind in "iu":
        values = np.rint(values)
        # float64 has no 2**63 - 1; and scikit-learn negates scores, which the lowest integer does
        # not survive
        return (
            np.clip(values, -(2.0**62), 2.0**62)
            .clip(-float(info.max), float(info.max))
            .astype(dtype)
        )
    with np.errstate(over="ignore"):
        return np.clip(values, info.min, info.max).astype(dtype)


@st.composite
def arrays(
    draw: st.DrawFn,
    documents: st.SearchStrategy[int],
    queries: st.SearchStrategy[int],
    graded: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Relevance and score of queries of one length, in several types and distributions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(queries), draw(documents)
    dtype = draw(st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int32]))
    kind = draw(st.sampled_from(["near ties", *RANDOM_SCORES]))
    score = (
        near_ties(rng, shape, dtype)
        if kind == "near ties"
        else cast(RANDOM_SCORES[kind](rng, shape), dtype)
    )
    kinds = GRADES if graded else {**GRADES, **REAL_RELEVANCES}
    relevance = kinds[draw(st.sampled_from(sorted(kinds)))](rng, shape)
    if relevance.dtype.kind == "i":
        relevance = relevance.astype(
            draw(st.sampled_from([np.int64, np.uint8, np.float64, np.float32, np.float16]))
        )
    return relevance, score


@st.composite
def rankings(
    draw: st.DrawFn,
    documents: st.SearchStrategy[int],
    queries: int = 5,
    graded: bool = False,
    negative: bool = False,
) -> list[list[Document]]:
    """Queries of several lengths; documents may be unjudged, unretrieved or judged below 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    unjudged, unretrieved = (draw(st.sampled_from([0.0, 0.02, 0.3, 0.97, 1.0])) for _ in range(2))
    found = []
    for relevance, score in draw(
        st.lists(arrays(documents, st.just(1), graded), min_size=1, max_size=queries)
    ):
        signs = rng.choice([1, -1] if negative else [1], relevance.shape[1])
        row = zip(
            (relevance[0].astype(float) * signs).tolist(),
            score[0].astype(float).tolist(),
            strict=True,
        )
        found.append(
            [
                (None if rng.random() < unjudged else r, None if rng.random() < unretrieved else s)
                for r, s in row
            ]
        )
    return found
