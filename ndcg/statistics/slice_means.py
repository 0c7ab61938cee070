"""The mean of the means of slices: all slices count the same, however many queries they have."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..inputs.slices import MEAN_OF_SLICES, Value, slice_name
from ..scores.means import mean
from .independent import combine
from .measured import Score, Scores, Slice, greatest_value
from .significance import NO_INTERVAL, Interval, Sample


def mean_of_slices(
    samples: Mapping[Value, Mapping[str, Sample]], slices: Mapping[Value, Slice], confidence: float
) -> Scores:
    """Return the mean of the slices' means by name, from the samples and the scores of every slice.

    Empty if no query is in a slice: None is none. A slice without a value is not in the mean.
    """
    named = [value for value in slices if value is not None]
    if not named:
        return {}
    means = {}
    for name in samples[named[0]]:
        scores = []
        slice_samples = []
        for value in named:
            score = slices[value].scores[name]
            if score.queries:
                scores.append(score)
                slice_samples.append(samples[value][name])
        interval = NO_INTERVAL
        if scores and min(score.queries for score in scores) > 1:
            greatest = greatest_value(name)
            (interval,) = combine(slice_samples, greatest=greatest, confidence=confidence)
        means[name] = mean_of_scores(name, scores, interval)
    return means


def mean_of_scores(name: str, scores: Sequence[Score], interval: Interval) -> Score:
    """Return the mean of scores, all of which count the same, with its interval."""
    # A score of arrays, with an element for every slice.
    columns = np.array(scores).reshape(-1, len(Score._fields)).T.copy()
    figures: Any = Score(*columns)
    value = worst = best = random_order = math.nan
    if scores:
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


def slice_rows(
    slices: Mapping[Value, Any], mean: Any, most: int | None = None
) -> list[tuple[str, Any]]:
    """Return the slices by their names, at most so many, and then their mean, if there is one."""
    rows = [(slice_name(value), part) for value, part in islice(slices.items(), most)]
    if mean is not None:
        rows.append((MEAN_OF_SLICES, mean))
    return rows


def report_slices(report: Any, most: int | None = None) -> list[tuple[str, Slice]]:
    """Return the slices of a report by their names, at most so many, and then their mean."""
    mean = None
    if report.mean_of_slices:
        mean = Slice(queries_in_slices(report.slices), report.mean_of_slices)
    return slice_rows(report.slices, mean, most)


def queries_in_slices(slices: Mapping[Value, Any]) -> int:
    """Return the number of queries that are in a slice; None is none."""
    return sum(part.queries for value, part in slices.items() if value is not None)
