"""Convert results to JSON and back; what follows from the values of the queries is computed again."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.messages import shown
from ..measure.options import is_real
from .measured import COUNTS, PerQuery, Resampling


@contextmanager
def as_saved(kind: str) -> Iterator[None]:
    """Raise a ValueError, never another error, for values that `to_dict` did not return."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"values must be the result of {kind}.to_dict(), whole and unchanged ({problem})") from error


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists, with values as float64, and text and counts unchanged."""
    arrays = {}
    for name, values in columns.items():
        place = f"queries: {name}"
        if not isinstance(name, str) or not isinstance(values, (list, tuple)):
            raise ValueError(f"{place}: must be a list; got {shown(values)}")
        if name in COUNTS:
            arrays[name] = pa.array([saved_count(each, place) for each in values], pa.int64())
        elif name in ("system", "query"):
            if len(kinds := {type(each) for each in values}) != 1 or not kinds <= (
                {str, int} if name == "query" else {str}
            ):
                raise ValueError(f"{place}: must be all strings" + " or all integers" * (name == "query"))
            arrays[name] = pa.array(values)
        elif name == "slice":
            arrays[name] = pa.array(values)
        else:
            arrays[name] = pa.array([saved_number(each, place) for each in values], pa.float64(), from_pandas=True)
    return pa.table(arrays)


def saved_number(value: Any, place: str) -> float:
    """Return a saved number, nan for None."""
    if value is None:
        return math.nan
    if not is_real(value) or not math.isfinite(value) or float(value) != value:
        raise ValueError(f"{place}: must be a finite number, or None; got {shown(value)}")
    return float(value)


def saved_count(value: Any, place: str) -> int:
    """Return a saved number of queries or documents."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{place}: must be a count; got {shown(value)}")
    return value


def saved_notes(notes: Any) -> tuple[str, ...]:
    """Return saved notes."""
    if not isinstance(notes, (list, tuple)) or not all(isinstance(each, str) for each in notes):
        raise ValueError(f"notes: must be a list of strings; got {shown(notes)}")
    return tuple(notes)


def saved_signature(signature: Any, names: Iterable[str]) -> str:
    """Return a saved signature, which begins with the measures."""
    if not isinstance(signature, str) or signature.split("|")[0] != "+".join(names) or "|v:" not in signature:
        raise ValueError(f"signature: must begin with the measures {', '.join(names)}; got {shown(signature)}")
    return signature


def saved_resampling(values: Mapping[str, Any]) -> Resampling:
    """Return the saved options of intervals and tests."""
    return Resampling.parse(values["confidence"], values["seed"])


def saved_columns(table: pa.Table, names: Sequence[str]) -> PerQuery:
    """Return the columns of a saved table; columns that it does not have are nan."""
    if lacking := [name for name in names if name not in table.column_names]:
        raise ValueError(f"queries: has no column {lacking[0]}")
    columns = {
        each: table[each].to_numpy().copy() for each in table.column_names if each not in ("system", "query", "slice")
    }
    of_names = (f"{order} {name}" for name in names for order in ("worst", "best", "random order"))
    nothing = np.full(len(table), np.nan)
    return {**columns, **{each: nothing for each in of_names if each not in columns}, "ideal": np.ones(len(table))}
