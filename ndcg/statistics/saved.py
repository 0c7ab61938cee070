"""Results as JSON, and back: a saved result is read only if its figures follow from the values of its queries."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from ..inputs.slices import Slices, Value, read_slices
from ..measure.messages import shown
from ..measure.options import __version__, is_real, measure_of
from .measured import COUNTS, PerQuery, Resampling, Score
from .pairs import Pair
from .significance import differences

SAVED = 1e-9  # the relative tolerance of saved figures, which another machine may round otherwise


@contextmanager
def as_saved(kind: str) -> Iterator[None]:
    """Reject values that are not a result of `to_dict`, always with a ValueError."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"values must be the result of {kind}.to_dict(), whole and unchanged ({problem})") from error


def without_nan(value: Any) -> Any:
    """Return a value in JSON types: a named tuple as a dict, and None for a number that is not finite.

    >>> without_nan({"a": [0.5, math.nan], "b": {"c": math.inf}})
    {'a': [0.5, None], 'b': {'c': None}}
    """
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: without_nan(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def scores_from_dicts(scores: Mapping[str, Mapping[str, Any]], place: str, signature: str) -> dict[str, Score]:
    """Return saved scores by their names."""
    read = {}
    for name, score in scores.items():
        if is_of_this_version(signature) and "random_order" not in score:  # 1.0 did not save it
            raise ValueError(f"{place}: {name}: random_order is missing")
        kinds = dict.fromkeys(("tied", "ranked", "queries"), saved_count)
        checked: dict[str, Any] = {
            key: kinds.get(key, saved_number)(each, f"{place}: {name}: {key}")
            for key, each in score.items()
            if (key, each) != ("queries", None)
        }
        read[name] = Score(**checked)
    return read


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists: text and counts as they are, values as float64."""
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
    resampling = Resampling(**values)
    if not isinstance(resampling.exact, bool):
        raise ValueError(f"resampling: exact: must be True or False; got {shown(resampling.exact)}")
    return Resampling.parse(*resampling[:3])._replace(exact=resampling.exact)


def saved_pair(values: Mapping[str, Any], place: str) -> Pair:
    """Return a saved pair, after checking the types and ranges of its fields."""
    pair = Pair(**values)
    at = f"{place}: {shown(pair.system)} - {shown(pair.other)}, {shown(pair.measure)}"
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name in ("wins", "ties", "losses", "permutations") or (name == "queries_needed" and value is not None):
            checked[name] = saved_count(value, f"{at}: {name}")
        elif name == "exact" and not isinstance(value, bool):
            raise ValueError(f"{at}: exact: must be True or False; got {shown(value)}")
        elif name not in ("measure", "system", "other", "exact", "queries_needed") and (name, value) != (
            "min_detectable",
            None,
        ):
            checked[name] = saved_number(value, f"{at}: {name}")
            if math.isnan(checked[name]) or (name.startswith("p") and not 0 <= checked[name] <= 1):
                raise ValueError(f"{at}: {name}: is out of range; got {shown(value)}")
    if pair.permutations < 1:
        raise ValueError(f"{at}: permutations: must be at least 1; got {pair.permutations}")
    return pair._replace(**checked)


def saved_columns(table: pa.Table, names: Sequence[str]) -> PerQuery:
    """Return the columns of a saved table; columns that it does not have are nan."""
    nothing = np.full(len(table), np.nan)
    columns = {
        each: table[each].to_numpy().copy() if each in table.column_names else nothing
        for name in names
        for each in (name, f"worst {name}", f"best {name}", f"random order {name}")
    }
    others = [each for each in table.column_names if each in COUNTS or measure_of(each) == "unjudged"]
    return {**columns, **{each: table[each].to_numpy() for each in others}, "ideal": np.ones(len(table))}


def saved_slices(table: pa.Table, values: Iterable[Value], left_out: bool = False) -> Slices | None:
    """Return the slices of a saved table, if any; check that they are the slices of the values, or some of them."""
    slices = read_slices(table["slice"]) if "slice" in table.column_names else None
    known = [] if slices is None else [(type(each), each) for each in slices.values]
    given = [(type(each), each) for each in values]
    if given != (known if not left_out else [each for each in known if each in given]):
        raise ValueError("slices: must be the slices of the queries")
    return slices


def is_of_this_version(signature: str) -> bool:
    """Return whether figures were computed by this version."""
    return f"|v:{__version__}" in signature


def check_scores(
    scores: Mapping[str, Score], again: Mapping[str, Score], columns: PerQuery, signature: str, place: str
) -> None:
    """Raise an error unless saved scores equal those computed again from the values of queries."""
    if list(scores) != list(again):
        raise ValueError(f"{place}: must be {', '.join(again)}; got {', '.join(map(shown, scores))}")
    for name, score in scores.items():
        at, size = f"{place}: {name}", float(np.nanmax(np.abs(columns[name]), initial=0))
        if score.low > score.value or score.value > score.high or score.worst > score.best or score.unjudged < 0:
            raise ValueError(f"{at}: the ends of an interval or range are in the wrong order")
        fields = ["value", "low", "high", "standard_error"] if is_of_this_version(signature) else ["value"]
        fields += ["queries"] * (score.queries is not None)
        if "unjudged" in map(measure_of, columns):
            fields += ["ranked", "unjudged"]
        if f"worst {name}" in columns and not np.isnan(columns[f"worst {name}"]).all():
            fields += ["worst", "best", "tied", *["random_order"] * is_of_this_version(signature)]
        if "|weights:given" in signature:
            _check_weighted(score, name, columns, at, size)
        else:
            check_figures(score, again[name], fields, at, size)


def _check_weighted(score: Score, name: str, columns: PerQuery, place: str, size: float) -> None:
    """Raise an error if no weights of the queries could have given a score."""
    for figure, column in zip(
        ("value", "worst", "best", "random_order"), ("", "worst ", "best ", "random order "), strict=True
    ):
        values, mean = columns[column + name], getattr(score, figure)
        if np.isnan(values).all():  # not known, as in a comparison
            continue
        if not math.isnan(mean) and not np.nanmin(values) - SAVED * size <= mean <= np.nanmax(values) + SAVED * size:
            raise ValueError(f"{place}: {figure}: is outside the range of the queries' values; got {mean}")
    if math.isnan(score.value) != math.isnan(score.worst) or max(score.tied, score.queries or 0) > len(columns[name]):
        raise ValueError(f"{place}: does not follow from the values of the queries")


def check_figures(saved: Any, again: Any, fields: Iterable[str], place: str, size: float) -> None:
    """Raise an error unless saved figures equal those computed again, up to rounding relative to a size."""
    for name in fields:
        one, other = (math.nan if each is None else each for each in (getattr(saved, name), getattr(again, name)))
        if not (
            math.isclose(one, other, rel_tol=SAVED, abs_tol=SAVED * size) or (math.isnan(one) and math.isnan(other))
        ):
            raise ValueError(f"{place}: {name}: must be {other:.6g}, by the values of the queries; got {shown(one)}")


def check_pairs(
    pairs: Sequence[Pair],
    again: Sequence[Pair],
    scores: Mapping[str, Mapping[str, Score]],
    queries: int,
    signature: str,
    place: str,
) -> None:
    """Raise an error unless saved pairs equal those computed again from the values of queries.

    Args:
        pairs: the saved pairs.
        again: the pairs computed again.
        scores: the saved scores, by system and name.
        queries: the number of queries.
        signature: the saved signature.
        place: the place of the pairs in the saved result.
    """
    if [pair[:3] for pair in pairs] != [pair[:3] for pair in again]:
        raise ValueError(f"{place}pairs: must be the pairs of the systems, for each measure")
    fields = ["wins", "ties", "losses"]
    if is_of_this_version(signature):
        fields += ["low", "high", "standard_error", "p_t", "exact", "permutations", "min_detectable", "queries_needed"]
    for pair, other in zip(pairs, again, strict=True):
        at = f"{place}pairs: {pair.system} - {pair.other}, {pair.measure}"
        one, two = (scores[each][pair.measure].value for each in (pair.system, pair.other))
        size = max(abs(one), abs(two))
        mean = pair._replace(difference=float(differences(np.array(one), np.array(two))))
        check_figures(pair, mean, ["difference"], at, size)
        if not pair.low <= pair.difference <= pair.high or pair.wins + pair.ties + pair.losses > queries:
            raise ValueError(f"{at}: does not follow from the values of the queries")
        if "|weights:given" not in signature:
            check_figures(pair, other, fields, at, size)
            if is_of_this_version(signature) and abs(pair.p - other.p) > SAVED + 6 * other.p_error:
                raise ValueError(f"{at}: p: must be {other.p:.6g}, by the values of the queries; got {pair.p}")
