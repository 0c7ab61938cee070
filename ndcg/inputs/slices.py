"""Slices: the queries with the same value of `by`, such as a language, a segment or a length."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.messages import InputError, mark, shown
from .ids import check_ids, decoded, id_kind
from .sources import ARROW, plain_in_order

Value = str | int | bool | None
MEAN_OF_SLICES = "mean of slices"  # as tables call it; the name of no slice
# The Arrow types that values may have, and the types that they are converted to.
TYPES = {
    pa.types.is_string: pa.large_string(),
    pa.types.is_large_string: pa.large_string(),
    pa.types.is_string_view: pa.large_string(),
    pa.types.is_integer: pa.int64(),
    pa.types.is_floating: pa.int64(),  # pandas stores whole numbers as floats if some are missing
    pa.types.is_boolean: pa.bool_(),
    pa.types.is_null: pa.null(),
}


class Slices(NamedTuple):
    """A value for each query."""

    values: list[
        Value
    ]  # the distinct values, ascending; None, for queries without a slice, is the last
    code: NDArray[np.int64]  # the value of each query, as an index into these


def slices_of(by: Any, query_ids: NDArray[Any] | None, queries: int) -> Slices:
    """Return the slices of queries, from a value for each, by position or by its id."""
    if isinstance(by, Mapping):
        by = in_order_of_ids("by", by, query_ids, "a value, None for no slice")
    slices = by if isinstance(by, Slices) else read_slices(by)
    if len(slices.code) != queries:
        raise ValueError(
            f"by must hold one value for each of {queries} queries; got {len(slices.code)}"
        )
    return slices


def read_slices(values: Any) -> Slices:
    """Return the slices of a sequence of values, one for each query or row."""
    column = _column(values)
    distinct = pc.unique(column).to_pylist()
    ordered = sorted(each for each in distinct if each is not None) + [None] * (None in distinct)
    code = pc.index_in(column, value_set=pa.array(ordered, column.type))
    return Slices(ordered, code.to_numpy().astype(np.int64))


def crossed(columns: Sequence[Any]) -> list[str | None]:
    """Return the slices of several columns together; None where one of them has none.

    >>> crossed([["shoes", "hats"], ["phone", None]]), crossed([["a, b"], ["c"]])
    (['shoes, phone', None], ["'a, b', c"])
    """

    def text(value: Value) -> str | None:
        if value is None:
            return None
        return shown(value) if isinstance(value, str) and ", " in value else slice_name(value)

    texts = [
        np.array([text(value) for value in values], object)[code]
        for values, code in map(read_slices, columns)
    ]
    return [None if None in row else ", ".join(row) for row in zip(*texts, strict=False)]


def slice_name(value: Value) -> str:
    """Return the value of a slice as tables show it, on one line.

    >>> slice_name("en"), slice_name(None), slice_name(""), slice_name("mean of slices")
    ('en', '(none)', "''", "'mean of slices'")
    """
    if value is None:
        return "(none)"
    reserved = ("(none)", MEAN_OF_SLICES)
    plain = (
        isinstance(value, str) and value.isprintable() and value.strip() and value not in reserved
    )
    return str(value) if plain else shown(value)


def in_order_of_ids(
    argument: str, by_id: Mapping[Any, Any], query_ids: Any, what: str
) -> list[Any]:
    """Return the values of a mapping by query id, in the order of the queries."""
    if query_ids is None:
        problem = "has an id for each value, but the queries have none; give a sequence in the order of the queries"
        raise InputError(f"{mark(argument)} {problem}")
    check_ids(argument, by_id, nested=False)
    ids = query_ids.to_pylist() if isinstance(query_ids, ARROW) else list(query_ids)
    if lacking := [each for each in ids if each not in by_id]:
        kinds = [{id_kind(type(each)) for each in side} for side in (by_id, ids)]
        if by_id and kinds[0].isdisjoint(kinds[1]):
            types = f"{shown(next(iter(by_id)))} in {argument}, {shown(ids[0])} in the {mark('references')}"
            raise InputError(
                f"ids of queries are of another type, such as {types}; give both the same type",
                argument,
            )
        problem = f"query {shown(lacking[0])} is missing ({len(lacking)} such queries)"
        raise InputError(f"{problem}; give each query of the {mark('references')} {what}", argument)
    return [by_id[each] for each in ids]


def _column(values: Any) -> "pa.Array | pa.ChunkedArray":
    """Return values as a column of text, integers of 64 bits, booleans or nulls."""
    values = list(values) if isinstance(values, range) else plain_in_order("by", values)
    if (
        isinstance(values, np.ndarray) and values.ndim == 1
    ):  # a list has None for masked values, but no times
        values = pa.array(values) if values.dtype.kind in "mM" else values.tolist()
    if not isinstance(values, (list, tuple, *ARROW)):
        given = f"shape {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
        raise ValueError(
            f"by must be a sequence with one value per query, or a mapping by their ids; got {given}"
        )
    try:
        column = values if isinstance(values, ARROW) else pa.array(values, from_pandas=True)
        column = decoded(column) if pa.types.is_dictionary(column.type) else column
        return column.cast(
            next(target for is_such, target in TYPES.items() if is_such(column.type))
        )
    except (pa.ArrowException, StopIteration, TypeError, OverflowError, UnicodeError):
        kinds = {type(each).__name__ for each in values if each is not None}
        given = str(values.type) if isinstance(values, ARROW) else " and ".join(sorted(kinds))
        problem = "must be all text, all integers of 64 bits or all booleans, None for no slice"
        raise ValueError(
            f"by {problem}; got {shown(given)[1:-1]}; give others as text, fractions as ranges"
        ) from None
