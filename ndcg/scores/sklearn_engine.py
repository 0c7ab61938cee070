"""The engine "sklearn": the results of scikit-learn's function."""

import math

import numpy as np

from ..inputs.columns import in_both, place_among
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, user_terms
from ..measure.messages import InputError, mark, missing_library
from ..measure.options import Options
from ..measure.scoring import InvalidRankingError
from ..measure.ties import Array, Mask
from .means import weights
from .queries import NOTHING_TO_SCORE, checked_rankings


def score_by_sklearn(inputs: Inputs, options: Options) -> dict[str, float | list[float]]:
    """Return the results of `sklearn.metrics.ndcg_score` itself."""
    try:
        from sklearn.metrics import ndcg_score
    except ImportError:
        raise missing_library('engine="sklearn"', "scikit-learn", "scikit-learn") from None
    rankings = checked_rankings(inputs)
    if not rankings.queries:
        raise ValueError(NOTHING_TO_SCORE)
    weight = weights(inputs.sample_weight, rankings.queries, rankings.query_ids)
    relevance, score = _arrays_for_sklearn(rankings)
    ignore_ties = options.ties == "last"
    result: dict[str, float | list[float]] = {}
    for name, _, row in options.results:
        k = options.cutoffs[row]
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(
                ndcg_score(relevance, score, k=k, sample_weight=weight, ignore_ties=ignore_ties)
            )
        if not math.isfinite(value):
            raise InputError(
                f"{mark('engine', 'sklearn')}: {name}: sums overflow in scikit-learn; scale the "
                "relevances or weights"
            )
        result[name] = value
    return result


def _arrays_for_sklearn(rankings: Rankings) -> tuple[Array, Array]:
    """Return relevance and score in two dimensions.

    Documents that are neither judged nor retrieved are left out: some formats leave excluded
    documents in place like this.
    """
    engine = mark("engine", "sklearn")
    _, judged = rankings.sides()
    _refuse_what_sklearn_cannot_score(rankings, judged)
    lengths = np.diff(np.append(0, np.cumsum(judged))[rankings.offsets])
    unlike = (lengths != lengths[0]) | (lengths == 0)
    if unlike.any():
        query = int(np.argmax(unlike))
        name = rankings.place(query, None) if rankings.place is not None else f"query {query}"
        counts = f"the length of {name} is {lengths[query]}, of the first query {lengths[0]}"
        problem = f"scikit-learn needs lists of the same length, not empty; {counts}"
        raise InputError(f"{engine}: {problem}")
    if lengths[0] == 1:
        problem = "scikit-learn needs lists of two documents or more; got 1"
        raise InputError(f"{engine}: {problem}")
    shape = (rankings.queries, -1)
    score = rankings.score[judged].reshape(shape)
    if score.dtype == bool:
        score = score.astype(np.int8)  # scikit-learn negates the scores
    return rankings.relevance[judged].reshape(shape), score


def _refuse_what_sklearn_cannot_score(rankings: Rankings, judged: Mask) -> None:
    engine = mark("engine", "sklearn")
    relevance, score = rankings.relevance, rankings.score
    retrieved = in_both(score > -np.inf, rankings.retrieved)
    numpy = mark("engine", "numpy", said='"numpy"')
    lacks = f"does not support None, -inf or masked values; leave the document out or use {numpy}"
    missing = f"{engine} {lacks}"
    negative = f"the relevance {{value}} is negative, which {engine} does not support"
    for array, values, invalid, problem in (
        ("score", score, judged & ~retrieved, missing),
        ("relevance", relevance, retrieved & ~judged, missing),
        ("relevance", relevance, judged & (relevance < 0), negative),
    ):
        if invalid.any():
            row = int(invalid.argmax())
            text = problem.format(value=values[row])
            with user_terms(rankings):
                raise InvalidRankingError(array, *place_among(rankings.offsets, row), text)
