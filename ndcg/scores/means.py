"""The mean of a result over queries, and the weight of every query in it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..inputs.columns import number
from ..inputs.slices import in_order_of_ids
from ..inputs.sources import plain_in_order
from ..measure.messages import InputError, mark, shown
from ..measure.options import is_real
from ..measure.ties import Floats


def mean(name: str, values: Floats, weight: Floats | None = None) -> float:
    """Return the mean of a result over the queries that have a value; an error if none has."""
    if weight is None:
        with np.errstate(over="ignore", invalid="ignore"):  # no values have no mean
            value = float(values.sum() / len(values))
        if math.isfinite(value):  # nearly always accurate enough
            return value
        weight = np.ones(len(values))
    has_value = ~np.isnan(values)
    values, weight = values[has_value], weight[has_value]
    if not weight.any():
        raise InputError(
            f"no query of positive weight has a value: {mark('zero_division', math.nan)} excludes "
            f"queries with no relevant documents, {mark('missing', 'skip')} queries missing from "
            f"the {mark('predictions')}; {mark('zero_division', 0)}, or "
            f"{mark('missing', 'empty')}, gives them one",
            name,
        )
    with np.errstate(over="ignore"):
        value = float(np.average(values, weights=weight))
    if not math.isfinite(value):
        raise ValueError(f"{name}: the sum over queries overflows; scale the gains")
    return value


def weights(sample_weight: Any, queries: int, query_ids: Any = None) -> Floats | None:
    """Return a weight for every query, from a sequence or a mapping of their ids; None for None.

    Weights are divided by a power of two, so that none exceeds 1 and no sum overflows.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Mapping):
        sample_weight = in_order_of_ids("sample_weight", sample_weight, query_ids, "a weight")
    in_order = plain_in_order("sample_weight", sample_weight)
    if isinstance(in_order, (list, tuple)):
        shape: tuple[int, ...] = (len(in_order),)
    else:
        in_order = np.asanyarray(in_order)
        shape = in_order.shape
    if shape != (queries,):
        problem = f"must hold one weight per query, {queries} in all; got shape {shape}"
        raise InputError(f"{mark('sample_weight')} {problem}")
    weight = _as_floats(in_order)
    is_valid = (weight >= 0) & (weight < np.inf)
    if not is_valid.all():
        query = int(np.argmin(is_valid))
        problem = f"must be finite and not negative; got {weight[query]}"
        raise InputError(problem, "sample_weight", f"query {query}")
    if not weight.any():
        problem = "is 0 for every query; give at least one query a weight"
        raise InputError(f"{mark('sample_weight')} {problem}")
    return np.asarray(np.ldexp(weight, -np.frexp(weight.max())[1]))


def _as_floats(weights_in_order: Any) -> Floats:
    """Return weights as numbers; an error names the first that is none."""
    if isinstance(weights_in_order, np.ndarray) and weights_in_order.dtype.kind in "biuf":
        # A masked weight becomes nan, which is refused with its place.
        return np.asarray(np.ma.filled(weights_in_order.astype(np.float64), np.nan))
    numbers = list(map(number, weights_in_order))
    for query, value in enumerate(numbers):
        # Flags are weights of 1 and 0.
        if not isinstance(value, (bool, np.bool_)) and not is_real(value):
            problem = f"must be a number; got {shown(weights_in_order[query])}"
            raise InputError(problem, "sample_weight", f"query {query}")
    return np.asarray(numbers, np.float64)
