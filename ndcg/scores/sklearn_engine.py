"""The engine "sklearn": the results of scikit-learn's own function."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs
from ..measure.messages import InputError, mark, missing_library
from ..measure.options import Options
from ..measure.scoring import InvalidRankingError
from .means import weights
from .queries import NOTHING_TO_SCORE, checked_rankings, user_terms


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
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(
                ndcg_score(
                    relevance,
                    score,
                    k=options.cutoffs[row],
                    sample_weight=weight,
                    ignore_ties=ignore_ties,
                )
            )
        if not math.isfinite(value):
            problem = "sums overflow in scikit-learn; scale the relevances or weights"
            raise InputError(f"{mark('engine', 'sklearn')}: {name}: {problem}")
        result[name] = value
    return result


def _arrays_for_sklearn(rankings: Rankings) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return relevance and score in two dimensions.

    Documents that are neither judged nor retrieved are left out: some formats leave excluded
    documents in place like this.
    """
    engine = mark("engine", "sklearn")
    relevance, score, offsets = rankings.relevance, rankings.score, rankings.offsets
    judged = np.ones(relevance.size, bool)
    if rankings.judged is not None:
        judged = rankings.judged.reshape(-1)
    _refuse_what_sklearn_cannot_score(rankings, judged)
    if offsets is not None or not judged.all():
        lengths = np.diff(np.append(0, np.cumsum(judged))[_begins(rankings)])
        unlike = (lengths != lengths[0]) | (lengths == 0)
        if unlike.any():
            query = int(np.argmax(unlike))
            name = f"query {query}"
            if rankings.place is not None:
                name = rankings.place(query, None)
            counts = f"{name} has {lengths[query]} documents, the first query {lengths[0]}"
            problem = f"scikit-learn needs lists of the same length, not empty; {counts}"
            raise InputError(f"{engine}: {problem}")
        relevance = relevance.reshape(-1)[judged].reshape(rankings.queries, -1)
        score = score.reshape(-1)[judged].reshape(rankings.queries, -1)
    if relevance.shape[1] == 1:
        problem = "scikit-learn needs two documents or more in each list; got 1 document"
        raise InputError(f"{engine}: {problem}")
    if score.dtype == bool:
        score = score.astype(np.int8)  # scikit-learn negates the scores
    return relevance, score


def _begins(rankings: Rankings) -> NDArray[np.int64]:
    """Return where the documents of each query begin, and the end of the last one."""
    if rankings.offsets is not None:
        return rankings.offsets
    return np.arange(rankings.queries + 1) * rankings.relevance.shape[1]


def _refuse_what_sklearn_cannot_score(rankings: Rankings, judged: NDArray[np.bool_]) -> None:
    """Raise an error for a document without score or relevance, or with a negative relevance."""
    engine = mark("engine", "sklearn")
    relevance, score = rankings.relevance.reshape(-1), rankings.score.reshape(-1)
    retrieved = score > -np.inf
    if rankings.retrieved is not None:
        retrieved = rankings.retrieved.reshape(-1) & retrieved
    numpy = mark("engine", "numpy", said='"numpy"')
    lacks = f"does not support None, -inf or masked values; leave the document out or use {numpy}"
    missing = f"{engine} {lacks}"
    negative = f"the relevance {{value}} is negative, which {engine} does not support"
    begins = _begins(rankings)
    for array, values, invalid, problem in (
        ("score", score, judged & ~retrieved, missing),
        ("relevance", relevance, retrieved & ~judged, missing),
        ("relevance", relevance, judged & (relevance < 0), negative),
    ):
        if invalid.any():
            row = int(invalid.argmax())
            query = int(np.searchsorted(begins, row, side="right")) - 1
            position = row - int(begins[query])
            with user_terms(rankings):
                text = problem.format(value=values[row])
                raise InvalidRankingError(array, query, position, text)
