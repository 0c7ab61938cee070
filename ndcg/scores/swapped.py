"""Warn about predictions and references that seem to be swapped."""

import numpy as np

from ..measure.messages import mark, warn
from ..measure.ties import Array

COMPARED = 1000  # documents that tell whether both sides are swapped
LABELS_FIRST = (
    "hold only 0 and 1, and the references fractions; the scores of a model are predictions"
)


def warn_if_swapped(score: Array, relevance: Array) -> None:
    """Warn if scores are labels, 0 and 1, and relevances fractions, as scores are."""
    is_label = (score == 0) | (score == 1)
    if not is_label.all() or len(np.unique(score)) < 2:
        return
    is_share = (relevance >= 0) & (relevance <= 1)
    # With fewer fractions they may well be judgments.
    if is_share.all() and np.mean(relevance % 1 > 0) > 0.5:
        warn(f"{mark('predictions')}: {LABELS_FIRST}")
