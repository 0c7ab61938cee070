"""Convert results to the types that JSON has."""

import math
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any

import numpy as np


def without_nan(value: Any, instead: Callable[[float], Any] = lambda number: None) -> Any:
    """Return a value in JSON types: named tuples as dicts, and values of other types as text.

    `instead` gives what stands for a number that is not finite.
    """
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: without_nan(item, instead) for name, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [without_nan(item, instead) for item in value]
    # JSON has no inf and no nan.
    if isinstance(value, float) and not math.isfinite(value):
        return instead(value)
    if isinstance(value, (str, int, float, NoneType)):
        return value
    return str(value)
