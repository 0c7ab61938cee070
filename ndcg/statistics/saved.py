"""Convert results to JSON and back; what follows from the values of the queries is computed again."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.arguments import GAINS
from ..measure.messages import shown
from ..measure.options import Options, is_real, measure_of
from .measured import COUNTS, ORDERED, PerQuery, Resampling, Score
from .significance import ROUNDING

# Figures of a score that depend on documents, so that the values of queries do not determine them.
OF_DOCUMENTS = ("worst", "best", "tied", "ranked", "unjudged", "random_order")


class OldResultError(ValueError):
    """A result that a version saved which this one does not read."""


@contextmanager
def as_saved(kind: str) -> Iterator[None]:
    """Raise a ValueError, never another error, for values that `to_dict` did not return."""
    try:
        yield
    except OldResultError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"values must be the result of {kind}.to_dict(), whole and unchanged ({problem})") from error


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists, with values as float64, and text and counts unchanged."""
    arrays = {}
    for name, values in columns.items():
        place = f"queries: {name}"
        if not isinstance(values, (list, tuple)):
            raise ValueError(f"{place}: must be a list; got {shown(values)}")
        if name in COUNTS:
            arrays[name] = pa.array([saved_count(each, place) for each in values], pa.int64())
        elif name in ("system", "query"):
            kinds = {type(each) for each in values}
            if len(kinds) != 1 or not kinds <= ({str, int} if name == "query" else {str}):
                raise ValueError(f"{place}: must be all strings" + " or all integers" * (name == "query"))
            arrays[name] = pa.array(values)
        elif name == "slice":
            arrays[name] = pa.array(values)
        elif name == "weight":
            arrays[name] = pa.array([saved_weight(each, place) for each in values], pa.float64())
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


def saved_weight(value: Any, place: str) -> float:
    """Return a saved weight, which no query lacks."""
    if value is None or not saved_number(value, place) >= 0:
        raise ValueError(f"{place}: must be a number that is not negative; got {shown(value)}")
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


def saved_signature(signature: Any) -> tuple[str, Options]:
    """Return a saved signature, and options with its measures."""
    measures, _, version = signature.partition("|v:") if isinstance(signature, str) else ("", "", "")
    if not version:
        raise ValueError(f"signature: must begin with the measures and end with the version; got {shown(signature)}")
    if version.startswith("1."):
        problem = "this version reads results of 2.0 and later"
        raise OldResultError(f"values were saved by version {version}; {problem}: score the rankings again")
    return signature, Options.parse(measures=measures.split("|")[0].split("+"))


def saved_resampling(values: Mapping[str, Any]) -> Resampling:
    """Return the saved options of intervals and tests."""
    return Resampling.parse(values["confidence"], values["seed"])


def choices_in(signature: str) -> dict[str, str]:
    """Return the options in a signature by the names that it uses."""
    measures, *options = signature.split("|")
    return {"measures": measures, **dict(each.split(":", 1) for each in options)}


def with_figures_of_documents(
    scores: Mapping[str, Mapping[str, Score]], saved: Mapping[str, Any]
) -> dict[str, dict[str, Score]]:
    """Return the scores of systems with the saved figures that the values of the queries do not determine."""

    def figures(system: str, name: str) -> dict[str, Any]:
        place, found = f"scores: {system}: {name}", saved[system][name]
        reading = {each: saved_count if each in ("tied", "ranked") else saved_number for each in OF_DOCUMENTS}
        return {each: read(found[each], f"{place}: {each}") for each, read in reading.items()}

    return {
        system: {name: score._replace(**figures(system, name)) for name, score in of_system.items()}
        for system, of_system in scores.items()
    }


def saved_columns(table: pa.Table, names: Sequence[str], signature: str) -> PerQuery:
    """Return the columns of a saved table; columns that values without rankings do not have are nan."""
    if lacking := [name for name in ("query", *names) if name not in table.column_names]:
        raise ValueError(f"queries: has no column {lacking[0]}")
    ids = table["query"].to_pylist()
    if twice := [query for query, count in Counter(ids).items() if count > 1]:
        raise ValueError(f"queries: query {shown(twice[0])} is given {ids.count(twice[0])} times")
    if "weight" in table.column_names and not any(table["weight"].to_pylist()):
        raise ValueError("queries: weight: is 0 for every query")
    columns = {
        each: table[each].to_numpy().copy() for each in table.column_names if each not in ("system", "query", "slice")
    }
    for name, order in product(names, ("", *(f"{order} " for order in ORDERED))):
        values = columns.setdefault(f"{order}{name}", np.full(len(table), np.nan))
        outside = (values < 0) | (values > 1 + ROUNDING)
        if measure_of(name) == "nDCG" and outside.any() and _has_bounds(choices_in(signature)):
            at = int(np.flatnonzero(outside)[0])
            raise ValueError(f"queries: {order}{name}: query {shown(ids[at])}: must be from 0 to 1; got {values[at]}")
    return {**columns, "ideal": np.ones(len(table))}


def _has_bounds(choices: Mapping[str, str]) -> bool:
    """Return whether an nDCG with the options in a signature is from 0 to 1."""
    is_known = choices.get("gain", "linear") in GAINS and choices.get("empty", "0") in ("0", "1", "nan")
    return is_known and choices.get("negative") != "keep"
