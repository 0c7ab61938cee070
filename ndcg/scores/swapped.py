"""Warn about predictions that seem to be something else: the other side, or ranks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.no_rankings import FEWEST_OF_QUERY, FEWEST_RISING, highest_first
from ..measure.messages import mark, warn

COMPARED = 1000  # documents that tell whether both sides are swapped
LABELS_FIRST = (
    "hold only 0 and 1, and the references fractions; the scores of a model are predictions"
)


def warn_if_swapped(score: NDArray[Any], relevance: NDArray[Any]) -> None:
    """Warn if scores are labels, 0 and 1, and relevances fractions, as scores are."""
    is_label = (score == 0) | (score == 1)
    if not is_label.all() or len(np.unique(score)) < 2:
        return
    is_share = (relevance >= 0) & (relevance <= 1)
    # With fewer fractions they may well be judgments.
    if is_share.all() and np.mean(relevance % 1 > 0) > 0.5:
        warn(f"{mark('predictions')}: {LABELS_FIRST}")


def warn_if_ranks(score: NDArray[Any], offsets: NDArray[np.int64]) -> None:
    """Warn if the scores of each of several queries are the numbers from 0, or 1, in some order.

    In a few documents, or in pairs, scores may be such numbers by chance.
    """
    if len(score) < FEWEST_RISING or score[0] % 1 != 0:  # which most scores are not
        return
    lengths = np.diff(offsets)
    if len(lengths) < 2 or lengths[0] == 0:
        return
    first = score[: lengths[0]].min()
    if first not in (0, 1) or score[: lengths[0]].max() >= lengths[0] + first:
        return
    if lengths[lengths >= FEWEST_OF_QUERY].sum() < FEWEST_RISING:
        return
    query = np.repeat(np.arange(len(lengths)), lengths)
    numbers = np.arange(len(score)) - offsets[query] + first
    if not np.array_equal(score[np.lexsort((score, query))], numbers):
        return
    problem = f"the scores of each query count from {first:g}, as ranks and np.argsort do"
    scores = "give the scores that were sorted"
    lowest = f"if these are ranks, {mark('score_order', 'ascending')}"
    warn(f"{mark('predictions')}: {problem}; {scores}; {lowest}; {highest_first()}")
