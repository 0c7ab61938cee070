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
    how = {"sample_weight": weight, "ignore_ties": options.ties == "last"}
    result: dict[str, float | list[float]] = {}
    for name, _, row in options.results:
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(ndcg_score(relevance, score, k=options.cutoffs[row], **how))
        if not math.isfinite(value):
            problem = "sums overflow in scikit-learn; scale the relevances or weights"
            raise InputError(f"{mark('engine', 'sklearn')}: {name}: {problem}")
        result[name] = value
    return result


def _arrays_for_sklearn(rankings: Rankings) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return relevance and score in two dimensions, without documents that are neither judged nor retrieved.

    Some formats leave excluded documents in place like this.
    """
    relevance, score = rankings.relevance, rankings.score
    retrieved = (
        score > -np.inf if rankings.retrieved is None else rankings.retrieved & (score > -np.inf)
    ).reshape(-1)
    judged = (
        np.ones(relevance.size, bool) if rankings.judged is None else rankings.judged.reshape(-1)
    )
    offsets = rankings.offsets
    begins = np.arange(rankings.queries + 1) * relevance.shape[1] if offsets is None else offsets
    numpy = mark("engine", "numpy", said='"numpy"')
    lacks = f"does not support None, -inf or masked values; leave the document out or use {numpy}"
    missing = f"{mark('engine', 'sklearn')} {lacks}"
    negative = (
        f"the relevance {{value}} is negative, which {mark('engine', 'sklearn')} does not support"
    )
    for array, values, invalid, problem in (
        ("score", score, judged & ~retrieved, missing),
        ("relevance", relevance, retrieved & ~judged, missing),
        ("relevance", relevance, judged & (relevance.reshape(-1) < 0), negative),
    ):
        if invalid.any():
            at = int(invalid.argmax())
            query = int(np.searchsorted(begins, at, side="right")) - 1
            with user_terms(rankings):
                value = values.reshape(-1)[at]
                raise InvalidRankingError(
                    array, query, at - int(begins[query]), problem.format(value=value)
                )
    if offsets is not None or not judged.all():
        lengths = np.diff(np.append(0, np.cumsum(judged))[begins])
        for query in np.flatnonzero((lengths != lengths[0]) | (lengths == 0))[:1].tolist():
            name = f"query {query}" if rankings.place is None else rankings.place(query, None)
            lengths_text = f"{name} has {lengths[query]} documents, the first query {lengths[0]}"
            problem = f"scikit-learn needs lists of the same length, not empty; {lengths_text}"
            raise InputError(f"{mark('engine', 'sklearn')}: {problem}")
        relevance, score = (
            each.reshape(-1)[judged].reshape(rankings.queries, -1) for each in (relevance, score)
        )
    if relevance.shape[1] == 1:
        problem = "scikit-learn needs two documents or more in each list; got 1 document"
        raise InputError(f"{mark('engine', 'sklearn')}: {problem}")
    return relevance, score.astype(
        np.int8
    ) if score.dtype == bool else score  # scikit-learn negates the scores
