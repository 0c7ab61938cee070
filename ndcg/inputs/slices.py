"""Slices: the queries with the same value of `by`, such as a language, a segment or a length."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.messages import InputError, mark, shown
from .ids import as_list, check_query_ids, decoded
from .sources import ARROW, in_python, plain_in_order

Value = str | int | bool | None
MEAN_OF_SLICES = "mean of slices"  # as tables call it; the name of no slice
NO_SLICE = "(none)"  # as tables call it, too
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
    """The values of the queries."""

    # the distinct values, ascending; None, for queries without a slice, is the last
    values: list[Value]
    code: NDArray[np.int64]  # the values of the queries, as indices into these


def slices_of(by: Any, query_ids: NDArray[Any] | None, queries: int) -> Slices:
    """Return the slices of queries, from their values, by position or by id."""
    if isinstance(by, Mapping):
        by = in_order_of_ids("by", by, query_ids, "a value, None for no slice")
    slices = by if isinstance(by, Slices) else read_slices(by)
    if len(slices.code) != queries:
        raise ValueError(
            f"by must hold one value per query, {queries} in all; got {len(slices.code)}"
        )
    return slices


def read_slices(values: Any) -> Slices:
    """Return the slices of a sequence of values, one for a query or a row."""
    column = _column(values)
    distinct = pc.unique(column)
    ordered = distinct.take(pc.sort_indices(distinct))
    code = pc.index_in(column, value_set=ordered)
    return Slices(ordered.to_pylist(), code.to_numpy().astype(np.int64))


def crossed(columns: Sequence[Any]) -> list[str | None]:
    """Return the slices of several columns together; None where one of them has none.

    >>> crossed([["shoes", "hats"], ["phone", None]]), crossed([["a, b"], ["c"]])
    (['shoes, phone', None], ["'a, b', c"])
    """

    def text(value: Value) -> str:
        return shown(value) if ", " in str(value) else slice_name(value)

    texts = []
    for values, code in map(read_slices, columns):
        texts.append(np.array(list(map(text, values)), object)[code])
    return [None if NO_SLICE in row else ", ".join(row) for row in zip(*texts, strict=False)]


def slice_name(value: Value) -> str:
    """Return the value of a slice as tables show it, on one line.

    >>> slice_name("en"), slice_name(None), slice_name(""), slice_name("mean of slices")
    ('en', '(none)', "''", "'mean of slices'")
    """
    if value is None:
        return NO_SLICE
    text = str(value)
    is_plain = text.isprintable() and text.strip() not in ("", NO_SLICE, MEAN_OF_SLICES)
    return text if is_plain else shown(value)


def in_order_of_ids(
    argument: str, by_id: Mapping[Any, Any], query_ids: Any, what: str
) -> list[Any]:
    """Return the values of a mapping by query id, in the order of the queries."""
    if query_ids is None:
        problem = "has an id for each value, but the queries have none"
        hint = "give a sequence in the order of the queries"
        raise InputError(f"{mark(argument)} {problem}; {hint}")
    check_query_ids(argument, by_id)
    ids = as_list(query_ids)
    lacking = [query for query in ids if query not in by_id]
    if not lacking:
        return [by_id[query] for query in ids]
    lacks = f"query {shown(lacking[0])} is missing from {shown(list(by_id))}"
    problem = f"{lacks} ({len(lacking)} such queries)"
    raise InputError(f"{problem}; give each query of the {mark('references')} {what}", argument)


def _column(values: Any) -> "pa.Array | pa.ChunkedArray":
    """Return values as a column of text, integers of 64 bits, booleans or nulls."""
    values = plain_in_order("by", values)
    if isinstance(values, np.ndarray):
        values = values.astype(values.dtype.newbyteorder("="))
    if not isinstance(values, (list, tuple, range, *ARROW)) and np.ndim(values) != 1:
        given = shown(values)
        must_be = "a sequence with one value per query, or a mapping by their ids"
        raise ValueError(f"by must be {must_be}; got {given}")
    try:
        column = values if isinstance(values, ARROW) else pa.array(values, from_pandas=True)
        if pa.types.is_dictionary(column.type):
            column = decoded(column)
        kind = next(kind for is_such, kind in TYPES.items() if is_such(column.type))
        return column.cast(kind)
    except (pa.ArrowException, StopIteration, TypeError, OverflowError, UnicodeError):
        kinds = {type(value).__name__ for value in in_python(values) if value is not None}
        given = " and ".join(sorted(kinds))
        must_be = "all text, all integers of 64 bits or all booleans, None for no slice"
        problem = f"by must be {must_be}; got {shown(given)[1:-1]}"
        raise ValueError(f"{problem}; give others as text, fractions as ranges") from None
