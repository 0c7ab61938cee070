"""Convert results to the types that JSON has."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..measure.options import is_real


def without_nan(value: Any, instead: Callable[[float], Any] = lambda number: None) -> Any:
    """Return a value in JSON types: named tuples as dicts, `instead` of numbers that are not finite, others as text."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: without_nan(each, instead) for name, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [without_nan(each, instead) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return instead(value)
    return (
        value if value is None or is_real(value) or isinstance(value, (str, bool)) else str(value)
    )
