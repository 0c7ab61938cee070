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
    """Return the mean, over independent samples, of the mean of each row, and then of the difference of each pair.

    All samples have the same rows and pairs, and at least two queries. The ends of the interval are
    the means of the ends of the samples' own intervals, which are `intervals` with a smaller t: as
    far from the mean of all as t of the combined degrees of freedom times the combined error (Yan &
    Su, Statistics in Biopharmaceutical Research 2010, for proportions). So the interval of one
    sample is its own, and no end is beyond a bound.
    """
    of_samples = [estimates(sample, greatest) for sample in samples]
    scales = [sample.scale for sample in samples]
    quantile = (1 + confidence) / 2
    return [_combined(row, scales, quantile) for row in zip(*of_samples, strict=True)]


def _combined(of_samples: Sequence[Estimate], scales: Sequence[float], quantile: float) -> Combined:
    """Return the mean of independent estimates, each in units of its scale."""
    count, unit = len(of_samples), max(scales)
    relative = [scale / unit for scale in scales]  # so that no sum overflows
    errors = [
        math.sqrt(each.square) * scale for each, scale in zip(of_samples, relative, strict=True)
    ]
    total = math.hypot(*errors)
    if total > 0:
        shares = (error / total for error in errors)
        freedom = 1 / sum(
            share**4 / each.freedom for share, each in zip(shares, of_samples, strict=True)
        )
        t = float(scipy_special().stdtrit(freedom, quantile))
    else:
        # all values of each sample are equal: its interval is as long as its queries are few
        freedom = sum(each.freedom for each in of_samples)
        t = of_samples[0].t(quantile)
        errors = [1 / math.sqrt(each.effective) for each in of_samples]
        total = math.hypot(*errors)
    t *= total / sum(errors)
    lows, highs = [], []
    for each, error, scale in zip(of_samples, errors, relative, strict=True):
        if error > 0:
            low, high = each.ends(t)
        elif each.is_mean:
            low, high = each.ends(min(t, each.t(quantile)))
        else:
            # of differences, as in Student's t: equal ones have no error if others do
            low = high = each.value
        lows.append(low * scale)
        highs.append(high * scale)
    values = [each.value * scale for each, scale in zip(of_samples, relative, strict=True)]
    standard_errors = [
        each.standard_error * scale for each, scale in zip(of_samples, relative, strict=True)
    ]
    return Combined(
        value=sum(values) / count * unit,
        low=sum(lows) / count * unit,
        high=sum(highs) / count * unit,
        standard_error=math.hypot(*standard_errors) / count * unit,
        freedom=freedom,
    )
