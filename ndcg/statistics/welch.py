"""The difference of the means of two independent samples of queries, by Welch's t (1947)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..measure.ties import Floats
from .significance import ROUNDING, detectable_t, scipy_special


def welch(
    samples: Sequence[Floats],
    intervals: Sequence[tuple[float, float]],
    *,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    margin: float = 0.0,
) -> dict[str, Any]:
    """Return the interval of the difference of two means and Welch's test of it, under the names of a `Pair`.

    The result equals that of `scipy.stats.ttest_ind` with ``equal_var=False``, unless neither
    sample has any variance. Then p is that of the permutation test, and the interval follows from
    those of the means (Newcombe, Statistics in Medicine 1998). Each sample has at least two values.
    """
    student, two_sided = scipy_special(), alternative == "two-sided"
    size = np.ldexp(
        1.0, np.frexp(max(np.abs(each).max() for each in samples))[1] - 1
    )  # no square overflows
    means = [float((each / size).mean()) for each in samples]
    variances = [float((each / size).var(ddof=1)) / len(each) for each in samples]
    difference, error = means[0] - means[1], math.sqrt(sum(variances))
    beyond = difference - {"two-sided": 0.0, "greater": -margin, "less": margin}[alternative] / size
    if error <= ROUNDING * max(map(abs, means)):
        (low, high), (low_other, high_other) = ([end / size for end in ends] for ends in intervals)
        below = math.hypot(means[0] - low, high_other - means[1])
        above = math.hypot(high - means[0], means[1] - low_other)
        freedom, detected = min(map(len, samples)) - 1.0, math.nan
        is_beyond = {"two-sided": beyond != 0, "greater": beyond > 0, "less": beyond < 0}[
            alternative
        ]
        p = (
            min(1.0, (1 + two_sided) / math.comb(sum(map(len, samples)), len(samples[0])))
            if is_beyond
            else 1.0
        )
    else:
        squares = (
            each**2 / (len(sample) - 1) for each, sample in zip(variances, samples, strict=True)
        )
        freedom = error**4 / sum(squares)
        below = above = float(student.stdtrit(freedom, (1 + confidence) / 2)) * error
        p = p_of_t(beyond / error, freedom, alternative)
        detected = detectable_t(freedom + 1, two_sided) * error
    figures = {
        "difference": difference,
        "low": difference - below,
        "high": difference + above,
        "standard_error": error,
    }
    scaled = {
        name: float(value * size) for name, value in {**figures, "min_detectable": detected}.items()
    }
    return {**scaled, "degrees_of_freedom": freedom, "p": p}


def p_of_t(t: float, freedom: float, alternative: str) -> float:
    """Return the p-value of a value of Student's t."""
    tail = {"two-sided": -abs(t), "greater": -t, "less": t}[alternative]
    return (1 + (alternative == "two-sided")) * float(scipy_special().stdtr(freedom, tail))
