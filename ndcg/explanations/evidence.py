"""Reported scores as evidence: which values match them, and how many settings would by chance.

A score of another origin, such as that of another system, may be anything near the reported one.
How many settings match it by chance follows from the scores that settings give near it. How often
causes are named falsely is measured in benchmarks/EXPLANATIONS.md.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measure.ties import Floats, Mask

NEAR = 0.05  # how close to the reported score one of another origin is assumed to be
UNLIKELY = 0.03  # the most settings by chance with which one is named as the cause


class Evidence(NamedTuple):
    """Reported scores."""

    scores: Floats  # the mean at every cutoff; of values, that of every query, nan for one without
    tolerance: Floats  # for a match: half a unit of the last digit, and the error of 32 bits
    cutoffs: Sequence[int | None] = ()  # the cutoffs of the means; empty if one is unknown

    @property
    def by_query(self) -> bool:
        """Whether these are the values of the queries."""
        return False

    @property
    def is_single(self) -> bool:
        """Whether it is one score."""
        return len(self.scores) == 1

    def near(self, values: Floats) -> Mask:
        """Return which values match."""
        is_near = np.abs(values - self.scores) <= self.tolerance
        both_nan = np.isnan(values) & np.isnan(self.scores)
        return np.asarray(is_near | both_nan)

    def ranges(self) -> tuple[Floats, Floats]:
        """Return the range of the scores near every one; from 0 to 1 for one from 0 to 1."""
        low = np.maximum(self.scores - NEAR, np.minimum(self.scores, 0))
        return low, np.minimum(self.scores + NEAR, np.maximum(self.scores, 1))

    def shares(self) -> Floats:
        """Return the share of the values near every reported one that match it."""
        low, high = self.ranges()
        return np.asarray(np.minimum(1, 2 * self.tolerance / (high - low)))

    def scores_of(self, values: Floats, weight: Floats | None) -> Floats:
        """Return the means to compare of values of queries: a row a setting, a column a mean."""
        # If the cutoffs are known, all rows of values belong to one setting.
        return means_of(values, weight).reshape(-1, max(1, len(self.cutoffs)))

    def matching(self, values: Floats, scores: Floats) -> Mask:
        """Return which settings match, from the values of queries and the means of these."""
        return np.asarray(self.near(scores).all(axis=1))

    def leaves_out(self, queries: Mask) -> bool:
        """Return whether these are values of queries that leave out some."""
        return False

    def by_chance(self, scores: Floats) -> float:
        """Return how many of the scores of settings match if the reported ones have another origin.

        Settings with the same scores count once.
        """
        low, high = self.ranges()
        is_near = ((low <= scores) & (scores <= high)).all(axis=1)
        distinct = np.unique(scores[is_near].round(9), axis=0)
        return len(distinct) * float(np.prod(self.shares()))


class EvidenceByQuery(Evidence):
    """The reported values of all queries, whose settings have no scores to compare."""

    @property
    def by_query(self) -> bool:
        """That these are the values of the queries."""
        return True

    @property
    def is_single(self) -> bool:
        """That this is no score, even if there is one query."""
        return False

    def shares(self) -> Floats:
        """Return the shares of the values that tell something."""
        return super().shares()[tells(self.scores)]

    def scores_of(self, values: Floats, weight: Floats | None) -> Floats:
        """Return no mean of any setting."""
        return np.empty((len(values), 0))

    def matching(self, values: Floats, scores: Floats) -> Mask:
        """Return which settings give every query its value."""
        return np.asarray(self.near(values).all(axis=1))

    def leaves_out(self, queries: Mask) -> bool:
        """Return whether there are such queries, and none has a value."""
        return bool(queries.any() and np.isnan(self.scores[queries]).all())

    def by_chance(self, scores: Floats) -> float:
        """Return how many settings match by chance; every one counts."""
        return len(scores) * float(np.prod(self.shares()))


def tells(values: Floats) -> Mask:
    """Return which values tell something: many definitions give a query 0, 1 or no value alike."""
    return np.isfinite(values) & ~np.isin(values.round(6), (0, 1))


def means_of(values: Floats, weight: Floats | None) -> Floats:
    """Return the mean at every cutoff over the queries that have a value."""
    if weight is None:
        weight = np.ones(values.shape[1])
    has_value = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((np.where(has_value, values, 0) @ weight) / (has_value @ weight))


class Tried:
    """The settings that were tried: their scores, and their numbers of changes."""

    def __init__(self) -> None:
        self._scores: list[Floats] = []
        self._changes: list[NDArray[np.int64]] = []

    def add(self, scores: Floats, changes: NDArray[np.int64]) -> None:
        """Add settings: their scores, with a column for every reported one, and their changes."""
        has_score = ~np.isnan(scores).any(axis=1)
        self._scores.append(scores[has_score])
        self._changes.append(changes[has_score])

    def __len__(self) -> int:
        return sum(map(len, self._scores))

    def by_chance(self, evidence: Evidence, most: float = math.inf) -> float:
        """Return how many settings with so many changes at most match scores of another origin."""
        if not len(self):
            return 0.0
        scores = np.concatenate(self._scores)[np.concatenate(self._changes) <= most]
        return evidence.by_chance(scores)
