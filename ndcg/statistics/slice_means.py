"""The mean of the means of slices, in which each slice counts the same, however many queries it has."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..inputs.slices import MEAN_OF_SLICES, Value, slice_name
from ..scores.means import mean
from .measured import Score, Slice, greatest_value
from .significance import Sample
from .stratified import Combined, combine


def mean_of_slices(
    samples: Mapping[Value, Mapping[str, Sample]], slices: Mapping[Value, Slice], confidence: float
) -> dict[str, Score]:
    """Return the mean of the slices' means by name, from the samples of each slice, by name, and its scores.

    Empty if no query is in a slice: None is none. A slice without a value is not in the mean.
    """
    named = [value for value in slices if value is not None]
    if not named:
        return {}
    means = {}
    for name in samples[named[0]]:
        counted = [value for value in named if slices[value].scores[name].queries]
        scores = [slices[value].scores[name] for value in counted]
        combined = None
        if scores and min(score.queries for score in scores) > 1:
            of_name = [samples[value][name] for value in counted]
            (combined,) = combine(of_name, greatest=greatest_value(name), confidence=confidence)
        means[name] = mean_of_scores(name, scores, combined)
    return means


def mean_of_scores(name: str, scores: Sequence[Score], combined: Combined | None) -> Score:
    """Return the mean of scores, each of which counts the same, with its interval; None if it has none."""
    value = mean(name, np.array([score.value for score in scores])) if scores else math.nan
    low = high = error = math.nan
    if combined is not None:
        low, high, error = (
            min(combined.low, value),
            max(combined.high, value),
            combined.standard_error,
        )
    return Score(
        value=value,
        low=low,
        high=high,
        standard_error=error,
        queries=sum(score.queries for score in scores),
        **figures_of_documents(scores),
    )


def figures_of_documents(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the figures of a mean of scores that depend on documents, by their names in a `Score`."""
    orders = [(score.worst, score.best, score.random_order) for score in scores]
    worst, best, random_order = np.mean(orders, axis=0).tolist() if orders else [math.nan] * 3
    return {
        "worst": worst,
        "best": best,
        "random_order": random_order,
        "tied": sum(score.tied for score in scores),
        "ranked": sum(score.ranked for score in scores),
        "unjudged": math.fsum(score.unjudged for score in scores),
    }


def slice_rows(
    slices: Mapping[Value, Slice], means: Mapping[str, Score], most: int | None = None
) -> list[tuple[str, Mapping[str, Score], int]]:
    """Return the names, the scores and the numbers of queries of slices, at most so many, and then of their mean."""
    rows: list[tuple[str, Mapping[str, Score], int]] = [
        (slice_name(value), part.scores, part.queries)
        for value, part in islice(slices.items(), most)
    ]
    if means:
        rows.append((MEAN_OF_SLICES, means, queries_in_slices(slices)))
    return rows


def slices_in_mean(slices: Mapping[Value, Any]) -> int:
    """Return the number of slices that count in their mean."""
    return sum(value is not None for value in slices)


def queries_in_slices(slices: Mapping[Value, Any]) -> int:
    """Return the number of queries that are in a slice; None is none."""
    return sum(part.queries for value, part in slices.items() if value is not None)
