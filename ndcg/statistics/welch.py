"""The difference of the means of two independent samples of queries, by Welch's t (1947)."""

import math
from collections.abc import Sequence

import numpy as np

from ..measure.ties import Floats
from .significance import (
    ROUNDING,
    Interval,
    detectable_t,
    distance_beyond,
    power_of_two,
    scipy_special,
    t_test,
)


def welch(
    samples: Sequence[Floats],
    intervals: Sequence[tuple[float, float]],
    *,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    margin: float = 0.0,
) -> tuple[Interval, float, float]:
    """Return the difference of two means, the p-value of Welch's test, and its minimum detectable.

    The result equals that of `scipy.stats.ttest_ind` with ``equal_var=False``, unless neither
    sample has any variance. Then p is that of the permutation test, and the interval follows from
    the means' intervals (Newcombe, Statistics in Medicine 1998). A sample has at least two values.
    """
    two_sided = alternative == "two-sided"
    size = power_of_two(max(np.abs(sample).max() for sample in samples))
    one, other = (sample / size for sample in samples)
    mean, mean_other = float(one.mean()), float(other.mean())
    variance = float(one.var(ddof=1)) / len(one)
    variance_other = float(other.var(ddof=1)) / len(other)
    difference = mean - mean_other
    error = math.sqrt(variance + variance_other)
    beyond = distance_beyond(difference, alternative, margin / size)
    if error <= ROUNDING * max(abs(mean), abs(mean_other)):
        (low, high), (low_other, high_other) = intervals
        below = math.hypot(mean - low / size, high_other / size - mean_other)
        above = math.hypot(high / size - mean, mean_other - low_other / size)
        freedom = min(len(one), len(other)) - 1.0
        detected = math.nan
        # No other division of all queries into two samples gives such a difference.
        least = (1 + two_sided) / math.comb(len(one) + len(other), len(one))
        p = max(t_test(beyond, 0.0, freedom, two_sided), min(1.0, least))
    else:
        squares = variance**2 / (len(one) - 1) + variance_other**2 / (len(other) - 1)
        freedom = error**4 / squares
        t = float(scipy_special().stdtrit(freedom, (1 + confidence) / 2))
        below = above = t * error
        p = t_test(beyond, error, freedom, two_sided)
        detected = detectable_t(freedom + 1, two_sided) * error
    low, high = difference - below, difference + above
    interval = Interval(difference * size, low * size, high * size, error * size, freedom)
    return interval, p, detected * size
