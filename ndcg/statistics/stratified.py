"""The mean of independent means, such as those of slices, and its interval."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from .significance import Estimate, Sample, estimates, scipy_special


class Combined(NamedTuple):
    """The mean of independent means with its interval.

    Attributes:
        value: the mean, in which each of the means counts the same.
        low: the lower end of its interval.
        high: the upper end.
        standard_error: its standard error; the variances of independent means add.
        freedom: its degrees of freedom (Satterthwaite, 1946; Welch, 1947).
    """

    value: float
    low: float
    high: float
    standard_error: float
    freedom: float


def combine(
    samples: Sequence[Sample], *, greatest: float = 1.0, confidence: float = 0.95
) -> list[Combined]:
    """Return the mean of each row over independent samples, and then of each difference.

    Each sample counts the same. All samples have the same rows and pairs, and at least two queries.
    The ends of the interval are the means of the ends of the samples' own intervals, which are
    `intervals` with a smaller t: as far from the mean of all as t of the combined degrees of
    freedom times the combined error (Yan & Su, Statistics in Biopharmaceutical Research 2010, for
    proportions). So the interval of one sample is its own, and no end is beyond a bound.
    """
    estimates_by_sample = [estimates(sample, greatest) for sample in samples]
    scales = [sample.scale for sample in samples]
    quantile = (1 + confidence) / 2
    return [_combined(row, scales, quantile) for row in zip(*estimates_by_sample, strict=True)]


def _combined(row: Sequence[Estimate], scales: Sequence[float], quantile: float) -> Combined:
    """Return the mean of independent estimates, each in units of its scale."""
    count = len(row)
    unit = max(scales)
    scales = [scale / unit for scale in scales]  # so that no sum overflows
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
        # All values of each sample are equal: its interval is as long as its queries are few.
        freedom = sum(estimate.freedom for estimate in row)
        t = row[0].t(quantile)
        errors = [1 / math.sqrt(estimate.effective) for estimate in row]
        total = math.hypot(*errors)
    t *= total / sum(errors)
    values = []
    lows = []
    highs = []
    standard_errors = []
    for estimate, error, scale in zip(row, errors, scales, strict=True):
        if error > 0:
            low, high = estimate.ends(t)
        elif estimate.is_mean:
            low, high = estimate.ends(min(t, estimate.t(quantile)))
        else:
            # Of differences, as in Student's t: equal ones have no error if others do.
            low = high = estimate.value
        values.append(estimate.value * scale)
        lows.append(low * scale)
        highs.append(high * scale)
        standard_errors.append(estimate.standard_error * scale)
    return Combined(
        value=sum(values) / count * unit,
        low=sum(lows) / count * unit,
        high=sum(highs) / count * unit,
        standard_error=math.hypot(*standard_errors) / count * unit,
        freedom=freedom,
    )
