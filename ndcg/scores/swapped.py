"""Tell predictions and references that seem to be swapped."""

import numpy as np

from ..measure.ties import Array

MOST_GRADES = 6  # different whole numbers among relevances, as 0 to 5
COMPARED = 1000  # documents that tell whether both sides are swapped
LABELS_FIRST = (
    "the scores are only 0 and 1, and the relevances fractions; the scores of a model are "
    "predictions"
)
GRADES_FIRST = (
    "the scores are few whole numbers, and the relevances many fractions; the scores of a model "
    "are predictions"
)


def doubt_if_swapped(score: Array, relevance: Array) -> str:
    """Return what a warning says if scores are labels or grades, and relevances fractions."""
    if (score != np.trunc(score)).any():
        return ""
    grades = np.unique(score)
    # With fewer fractions they may well be judgments.
    if len(grades) < 2 or np.mean(relevance != np.trunc(relevance)) <= 0.5:
        return ""
    if np.isin(grades, (0, 1)).all():
        if ((relevance >= 0) & (relevance <= 1)).all():
            return LABELS_FIRST
        return ""
    # Scores seldom repeat, and judgments often do.
    if len(grades) <= MOST_GRADES and len(np.unique(relevance)) > 2 * MOST_GRADES:
        return GRADES_FIRST
    return ""
