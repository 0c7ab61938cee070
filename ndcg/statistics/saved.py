"""Convert results to JSON and back; what follows from the values of the queries is computed again."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.messages import shown
from ..measure.options import is_real, measure_of
from .measured import COUNTS, PerQuery, Resampling, Score

# Names that version 1.1 gave to figures.
RENAMED = {"chance": "random_order", "exchanges": "permutations", "detectable": "min_detectable"}
# Figures of a score that depend on documents, so that the values of queries do not determine them.
OF_DOCUMENTS = ("worst", "best", "random_order", "tied", "ranked", "unjudged")


@contextmanager
def as_saved(kind: str) -> Iterator[None]:
    """Raise a ValueError, never another error, for values that `to_dict` did not return."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"values must be the result of {kind}.to_dict(), whole and unchanged ({problem})") from error


def without_nan(value: Any) -> Any:
    """Return a value in JSON types: a named tuple as a dict, and None for a number that is not finite."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: without_nan(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def saved_scores(scores: Mapping[str, Mapping[str, Any]], place: str) -> dict[str, dict[str, Any]]:
    """Return the figures of saved scores by the names of the scores."""
    counts = ("tied", "ranked", "queries")
    return {
        name: {
            RENAMED.get(figure, figure): saved_count(value, f"{place}: {name}: {figure}")
            if figure in counts
            else saved_number(value, f"{place}: {name}: {figure}")
            for figure, value in score.items()
            if (figure, value) != ("queries", None)
        }
        for name, score in scores.items()
    }


def with_figures_of_documents(scores: Mapping[str, Score], saved: Mapping[str, Mapping[str, Any]]) -> dict[str, Score]:
    """Return scores with the saved figures that the values of the queries do not determine."""
    return {
        name: score._replace(**{figure: saved[name][figure] for figure in OF_DOCUMENTS if figure in saved[name]})
        for name, score in scores.items()
    }


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
    nothing = np.full(len(table), np.nan)
    columns = {
        each: table[each].to_numpy().copy() if each in table.column_names else nothing
        for name in names
        for each in (name, f"worst {name}", f"best {name}", f"random order {name}")
    }
    for name in names:
        if name not in table.column_names:
            raise ValueError(f"queries: has no column {name}")
    others = [each for each in table.column_names if each in (*COUNTS, "weight") or measure_of(each) == "unjudged"]
    return {**columns, **{each: table[each].to_numpy() for each in others}, "ideal": np.ones(len(table))}


def lacks_weights(signature: str, table: pa.Table) -> bool:
    """Return whether a result lacks its weights, which versions 1.0 to 1.2 did not save; its figures are kept."""
    return "|weights:given" in signature and "weight" not in table.column_names
