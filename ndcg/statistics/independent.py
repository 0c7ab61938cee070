"""Means of independent samples: their mean, as of slices, and their difference, with intervals."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..inputs.slices import Value
from ..measure.ties import Floats
from ..scores.means import mean
from .measured import Score, Slice, greatest_value
from .significance import (
    NO_INTERVAL,
    ROUNDING,
    Estimate,
    Interval,
    Sample,
    detectable_t,
    distance_beyond,
    estimates,
    power_of_two,
    scipy_special,
    t_test,
)


def combine(
    samples: Sequence[Sample], *, greatest: float = 1.0, confidence: float = 0.95
) -> list[Interval]:
    """Return the mean of every row over independent samples, and then of every difference.

    Each sample counts the same. All samples have the same rows and pairs, and at least two queries.
    The variances of independent means add; for the degrees of freedom see Satterthwaite (1946) and
    Welch (1947).
    The ends of the interval are the means of the ends of the samples' intervals, which are
    `intervals` with a smaller t: as far from the mean of all as t of the combined degrees of
    freedom times the combined error (Yan & Su, Statistics in Biopharmaceutical Research 2010, for
    proportions). So one sample has the interval that it has alone, and no end is beyond a bound.
    """
    rows = zip(*(estimates(sample, greatest) for sample in samples), strict=True)
    # Relative to the largest, so that no sum overflows.
    scales = np.array([sample.scale for sample in samples])
    unit = float(scales.max())
    relative = (scales / unit).tolist()
    return [_combined(row, relative, unit, (1 + confidence) / 2) for row in rows]


def _combined(
    row: Sequence[Estimate], scales: Sequence[float], unit: float, quantile: float
) -> Interval:
    errors = []
    for estimate, scale in zip(row, scales, strict=True):
        errors.append(math.sqrt(estimate.square) * scale)
    total = math.hypot(*errors)
    if total > 0:
        inverse = []
        for estimate, error in zip(row, errors, strict=True):
            inverse.append((error / total) ** 4 / estimate.freedom)
        freedom = 1 / sum(inverse)
        t = float(scipy_special().stdtrit(freedom, quantile))
    else:
        # All values of a sample are equal, but for some that underflow beside another sample:
        # its interval is as long as its queries are few.
        freedom = sum(estimate.freedom for estimate in row)
        t = min(estimate.t(quantile) for estimate in row)
        errors = [1 / math.sqrt(estimate.effective) for estimate in row]
        total = math.hypot(*errors)
    t *= total / sum(errors)
    scaled = []
    for estimate, error, scale in zip(row, errors, scales, strict=True):
        if error > 0:
            low, high = estimate.ends(t)
        elif estimate.is_mean:
            low, high = estimate.ends(min(t, estimate.t(quantile)))
        else:
            # Of differences, as in Student's t: equal ones have no error if others do.
            low = high = estimate.value
        scaled.append(estimate.interval(low, high, scale))
    *columns, standard_errors, _ = zip(*scaled, strict=True)
    value, low, high = (sum(column) / len(row) * unit for column in columns)
    return Interval(value, low, high, math.hypot(*standard_errors) / len(row) * unit, freedom)


def mean_of_slices(
    samples: Mapping[Value, Mapping[str, Sample]], slices: Mapping[Value, Slice], confidence: float
) -> Slice | None:
    """Return the mean of slices, from the samples of their results and their scores.

    None if no query is in a slice: None is none. It has no interval if a slice has a single value.
    """
    named = [value for value in slices if value is not None]
    if not named:
        return None
    means = {}
    for name in samples[named[0]]:
        scores = [slices[value].scores[name] for value in named]
        counted = [samples[value][name] for value in named if slices[value].scores[name].queries]
        interval = NO_INTERVAL
        if min((len(sample.weight) for sample in counted), default=0) > 1:
            greatest = greatest_value(name)
            (interval,) = combine(counted, greatest=greatest, confidence=confidence)
        means[name] = mean_of_scores(name, scores, interval)
    return Slice(sum(slices[value].queries for value in named), means)


def mean_of_scores(name: str, scores: Sequence[Score], interval: Interval) -> Score:
    """Return the mean of scores that have a value, all of which count the same."""
    rows = np.array(scores)
    counted = rows[rows[:, -1] > 0]  # by the number of queries
    if not len(counted):
        return scores[0]
    # A score of arrays, with an element for every slice.
    figures: Any = Score(*counted.T.copy())
    value = mean(name, figures.value)
    orders = np.stack([figures.worst, figures.best, figures.random_order], axis=1)
    worst, best, random_order = orders.mean(axis=0).tolist()
    return Score(
        value=value,
        # The value is summed otherwise than the ends, which may differ from it by rounding.
        low=min(interval.low, value),
        high=max(interval.high, value),
        standard_error=interval.standard_error,
        worst=worst,
        best=best,
        tied=int(figures.tied.sum()),
        ranked=int(figures.ranked.sum()),
        unjudged=math.fsum(figures.unjudged),
        random_order=random_order,
        queries=int(figures.queries.sum()),
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
    size = power_of_two(np.abs(np.concatenate(samples)).max())
    one, other = samples[0] / size, samples[1] / size
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
