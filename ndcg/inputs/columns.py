"""Read predictions or references from any library: values, the start of each query, missing values and padding.

They are a 2-D array or tensor, nested lists, a list of 1-D arrays, a column of lists that Arrow can read or, if each
row is a document, a flat column. Arrays, tensors and Arrow columns are used without a copy; only lists are converted.
"""

import math
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from itertools import chain, islice
from numbers import Integral, Real
from operator import attrgetter
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.labels import Labels, number_of_text, to_label
from ..measure.messages import InputError, mark, raise_unless_of_values, shown
from ..measure.ties import Mask
from .ids import id_kind
from .sources import ARROW, Widened, converted, is_database_query, plain

# describes a query, by its index, and a document in it, by its position or None
Place = Callable[[int, int | None], str]


class Column(NamedTuple):
    """Predictions or references, query after query."""

    values: NDArray[Any]  # the values of the documents
    offsets: NDArray[np.int64]  # the start of each query, from 0, and the end of the last one
    present: Mask | None = None  # False for a missing value; None if none is missing
    padding: Mask | None = None  # True for a value that marks padding; None if no value can

    def reordered(self, order: Any, offsets: NDArray[np.int64]) -> "Column":
        """Return the documents in another order, and with other offsets."""
        present, padding = (
            None if mask is None else mask[order] for mask in (self.present, self.padding)
        )
        return Column(self.values[order], offsets, present, padding)

    def without_unretrieved(self, score_order: str) -> "Column":
        """Return the same scores, in ascending order with those missing that mark a document not retrieved, inf."""
        return self if score_order == "descending" else self.only(self.values != np.inf)

    def only(self, present: Mask) -> "Column":
        """Return the same values, but those for which a mask is False are missing."""
        present = present if self.present is None else present & self.present
        return self._replace(present=None if present.all() else present)


def offsets_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of queries of these lengths, and the end of the last one.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.add.accumulate(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def check_queries_equal(predicted: int, referred: int) -> None:
    """Raise an error if predictions and references have different numbers of queries."""
    if predicted != referred:
        counts = f"{mark('predictions')} hold {predicted} queries and references {referred}"
        raise InputError(f"{counts}; give both for every query")


# Formats


def read_column(
    argument: str,
    values: Any,
    ignore_index: float | None = None,
    labels: Labels | None = None,
    place: Place | None = None,
) -> Column:
    """Read values in which each row is a query; text in them is one of the labels."""
    values = _combined(values)
    if isinstance(values, pa.Array):
        return _from_arrow(argument, values, ignore_index, labels, place)
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in TEXTS_AND_OBJECTS:
            return _from_array(argument, values, ignore_index)
        values = values.tolist()  # None if masked
    if not isinstance(values, (list, tuple)):
        raise InputError(
            f"{mark(argument)} must hold one list of documents per query: nested lists, a 2-D array or tensor, a list "
            f"of 1-D arrays, a column of lists, a mapping or a TREC file; got {type(values).__name__}"
        )
    if not (kinds := set(map(type, values))) <= {list, tuple}:
        if not all(issubclass(kind, np.ndarray) for kind in kinds):
            values = [
                _one_query(f"{argument}: query {query}", row) for query, row in enumerate(values)
            ]
            kinds = set(map(type, values))
        if all(issubclass(kind, np.ndarray) for kind in kinds):
            return _from_arrays(argument, values, ignore_index, labels)
    return _from_lists(argument, values, ignore_index, labels)


def read_flat_column(
    argument: str,
    values: Any,
    place: Place,
    ignore_index: float | None = None,
    labels: Labels | None = None,
) -> Column:
    """Read values in which each row is a document, as if all belonged to one query; text is one of the labels."""
    values = _combined(values)
    if (
        isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1
    ):  # from a head with one logit
        values = values.reshape(-1)
    if isinstance(values, pa.Array) and not pa.types.is_nested(values.type):
        if id_kind(value_type(values.type)) == "text":
            values = values.to_pylist()
        else:
            query = pa.LargeListArray.from_arrays([0, len(values)], values)
            return _from_arrow(argument, query, ignore_index, labels, place)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        if values.dtype.kind not in TEXTS_AND_OBJECTS:
            return _from_arrays(argument, [values], ignore_index)
        values = values.tolist()  # None if masked
    flat = f"{mark(argument)} must be flat with {mark('query_ids')}, one number per document"
    if isinstance(values, (list, tuple)):
        if values and (isinstance(values[0], (list, tuple)) or getattr(values[0], "ndim", None)):
            raise InputError(f"{flat}; got lists in a list")
        offsets = offsets_of([len(values)])
        return read_numbers(
            argument, [values], offsets, place, ignore_index, labels, in_column=True
        )
    form = (
        f"shape {values.shape}"
        if isinstance(values, np.ndarray)
        else getattr(values, "type", type(values).__name__)
    )
    hint = logits_hint(argument, values)
    raise InputError(f"{flat}; got {form}{hint}")


def logits_hint(argument: str, values: Any) -> str:
    """Return the hint for an error on two logits per document; an empty string for other values.

    >>> logits_hint("predictions", np.zeros((8, 1)))
    ''
    """
    if argument != "predictions" or getattr(values, "ndim", 0) != 2 or values.shape[1] != 2:
        return ""
    way = "give the difference of two logits, logits[:, 1] - logits[:, 0]"
    return f"; {way}, in a Trainer by preprocess_logits_for_metrics (docs/training.md)"


def _combined(values: Any) -> Any:
    """Combine the chunks of an Arrow column into one array; return other values unchanged."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


DTYPE = attrgetter("dtype")
TEXTS_AND_OBJECTS = "OUT"  # kinds of types of arrays that are read as lists


def _one_query(argument: str, values: Any) -> Any:
    """Return one query of a list, converted to a NumPy array if it is an array of another library."""
    if is_database_query(values):
        raise InputError(
            f"is a query to a database ({type(values).__name__}), so its rows come in no fixed order; run "
            "it first and give the columns of its table: table = relation.to_arrow_table(); "
            "predictions=[table['score']], references=[table['relevance']]",
            argument,
        )
    values = plain(argument, values)
    if not isinstance(values, ARROW):
        return values
    if not values.null_count:
        return values.to_numpy(zero_copy_only=False)
    if not _is_numeric(values.type):
        return values.to_pylist()
    mask = values.is_null().to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(_filled(values).to_numpy(zero_copy_only=False), mask)


def _from_array(argument: str, values: NDArray[Any], ignore_index: float | None) -> Column:
    """Read a 2-D array, without a copy if its rows are contiguous."""
    if values.ndim != 2:
        shape = f"{values.ndim}-D of shape {values.shape}" + f"; {NOT_NESTED}" * (values.ndim == 1)
        raise InputError(
            f"{mark(argument)} must be 2-D, one row of documents per query; got {shape}"
        )
    offsets = np.arange(len(values) + 1) * values.shape[1]
    values = np.ravel(values)  # copied only if rows are not adjacent in memory
    present = ~np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
    return Column(
        numeric_array(argument, values), offsets, present, is_padding(values, ignore_index)
    )


def _from_arrays(
    argument: str,
    rows: Sequence[NDArray[Any]],
    ignore_index: float | None,
    labels: Labels | None = None,
) -> Column:
    """Read one 1-D array per query."""
    types_of_rows = list(map(DTYPE, rows))
    are_alike = types_of_rows.count(types_of_rows[0]) == len(types_of_rows)  # hashing types is slow
    first = {
        dtype: types_of_rows.index(dtype)
        for dtype in ([types_of_rows[0]] if are_alike else dict.fromkeys(types_of_rows))
    }  # the queries of these rows
    if any(dtype.kind in TEXTS_AND_OBJECTS for dtype in first):
        return _from_lists(argument, rows, ignore_index, labels)
    if set(dimensions := list(map(attrgetter("ndim"), rows))) != {1}:
        query, wrong = next((query, each) for query, each in enumerate(dimensions) if each != 1)
        raise InputError(
            f"must be a 1-D array of documents; got {wrong}-D", argument, f"query {query}"
        )
    dtypes = {
        dtype: numeric_array(f"{argument}: query {query}", rows[query]).dtype
        for dtype, query in first.items()
    }
    present, arrays = None, rows
    if set(map(type, rows)) != {np.ndarray} or any(old != new for old, new in dtypes.items()):
        if any(map(np.ma.is_masked, rows)):
            present = ~np.concatenate([np.ma.getmaskarray(row) for row in rows])
        arrays = [np.asarray(row, dtypes[row.dtype]) for row in rows]
    values = arrays[0] if len(arrays) == 1 else _concatenated(arrays, are_alike)
    mixed = len(dtypes) > 1 and values.dtype.kind == "f"
    if mixed and any(array.dtype.kind in "iu" and beyond_2_53(array).any() for array in arrays):
        return _from_lists(argument, rows, ignore_index, labels)
    if ignore_index is None or (
        set(dtypes) == {values.dtype} and Widened not in set(map(type, rows))
    ):
        padding = is_padding(values, ignore_index)
    else:  # the values have another type than the row
        padding = np.concatenate([is_padding(row, ignore_index) for row in rows])
    return Column(values, offsets_of(np.fromiter(map(len, rows), np.int64)), present, padding)


def _concatenated(arrays: Sequence[Any], are_alike: bool) -> NDArray[Any]:
    """Concatenate arrays; arrays of the same type by their bytes, which is faster if they are short."""
    with suppress(TypeError, BufferError):  # raised for arrays with strides
        if are_alike:
            return np.frombuffer(b"".join(arrays), arrays[0].dtype)
    return np.concatenate(arrays)


def _from_arrow(
    argument: str,
    lists: pa.Array,
    ignore_index: float | None,
    labels: Labels | None = None,
    place: Place | None = None,
) -> Column:
    """Read an Arrow list array, without a copy of its values."""
    if any(test(lists.type) for test in OTHER_LISTS):
        offsets = offsets_of(pc.fill_null(pc.list_value_length(lists), 0).to_pylist())
        lists = pa.LargeListArray.from_arrays(
            pa.array(offsets), lists.flatten(), mask=lists.is_null()
        )
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        kind = shown(str(lists.type))[1:-1]
        problem = f"must be a column of lists, one per query; got {kind}; for a row per document give {mark('query_ids')}"
        raise InputError(f"{mark(argument)} {problem}")
    if lists.null_count:
        query = int(np.flatnonzero(lists.is_null())[0])
        raise InputError(
            f"query {query} is None; give a list, empty if nothing was retrieved or judged",
            argument,
        )
    offsets = lists.offsets.to_numpy().astype(np.int64)
    values = lists.values[offsets[0] : offsets[-1]]
    if pa.types.is_null(values.type):  # all values are missing
        values = values.cast(pa.float64())
    kind = value_type(values.type)
    if pa.types.is_decimal(kind):
        with suppress(pa.ArrowInvalid):  # reading one by one raises the error
            values = without_decimals(values)
    if not _is_numeric(values.type):
        if id_kind(kind) == "text" or pa.types.is_decimal(kind):
            offsets -= offsets[0]
            return read_numbers(
                argument, [values.to_pylist()], offsets, place or numbered, ignore_index, labels
            )
        given = shown(str(values.type))[1:-1]
        raise InputError(
            f"{mark(argument)} must hold numbers; got {given}; convert them to float64"
        )
    present = None
    if values.null_count:
        present = values.is_valid().to_numpy(zero_copy_only=False)
        values = _filled(values)
    array = values.to_numpy(zero_copy_only=False)
    return Column(array, offsets - offsets[0], present, is_padding(array, ignore_index))


def without_decimals(values: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """Return a column of decimals as integers if all are whole, as DuckDB's HUGEINT, else as the nearest floats.

    >>> without_decimals(pa.array([Decimal("0.1"), None])).to_pylist()
    [0.1, None]

    Raises:
        pa.ArrowInvalid: it has integers beyond 2**53 among others that are not whole, or beyond 64 bits.
    """
    for kind in (pa.int64(), pa.uint64()):
        with suppress(pa.ArrowInvalid):
            return values.cast(kind)
    floats = values.cast(pa.string()).cast(
        pa.float64()
    )  # the nearest, which a direct cast may miss
    if beyond_2_53(pc.drop_null(floats).to_numpy(zero_copy_only=False)).any():
        raise pa.ArrowInvalid("float64 would round integers")
    return floats


NOT_NESTED = (
    f"for a single query, wrap it in a list, for a row per document give {mark('query_ids')}"
)
OTHER_LISTS = (pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view)


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column, also if it is a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_numeric(kind: pa.DataType) -> bool:
    """Return whether Arrow values of this type are numbers."""
    return any(
        test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    )


def _filled(values: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """Return numbers with 0 for nulls."""
    return values.fill_null(False if pa.types.is_boolean(values.type) else 0)


def _from_lists(
    argument: str,
    rows: Sequence[Any],
    ignore_index: float | None = None,
    labels: Labels | None = None,
) -> Column:
    """Read nested sequences of numbers and None, and arrays among them."""
    given = rows
    if not set(map(type, rows)) <= {list, tuple}:
        rows = [
            row.tolist() if isinstance(row, np.ndarray) else row for row in rows
        ]  # None if masked
        for query, row in enumerate(rows):
            if isinstance(row, (list, tuple)):
                continue
            if isinstance(row, (Real, str)):
                kind = "text" if isinstance(row, str) else "number"
                problem = f"is the {kind} {shown(row)}, not a list of documents; {NOT_NESTED}"
            else:
                problem = f"must be a list of documents; got {type(row).__name__}"
            raise InputError(problem, argument, f"query {query}")
    offsets = offsets_of(np.fromiter(map(len, rows), np.int64))
    column = read_numbers(argument, rows, offsets, ignore_index=ignore_index, labels=labels)
    if column.padding is not None:
        for query, row in enumerate(given):
            if isinstance(row, np.ndarray) and row.dtype != object:
                column.padding[offsets[query] : offsets[query + 1]] = is_padding(row, ignore_index)
    return column


# Numbers


MANY = 1 << 9  # fewer numbers are read faster one by one
OWN: dict[type, type] = {np.int64: int, np.float64: float}  # Python types that equal NumPy types


def numbered(query: int, position: int | None) -> str:
    """Describe a place in rankings that have no ids."""
    return f"query {query}, position {position}"


def read_numbers(
    argument: str,
    rows: Sequence[Sequence[Any]],
    offsets: NDArray[np.int64],
    place: Place = numbered,
    ignore_index: float | None = None,
    labels: Labels | None = None,
    kinds: Set[type] | None = None,
    in_column: bool = False,
) -> Column:
    """Read numbers and None of several queries, one after the other, in lists or tuples of any lengths.

    Text is one of the labels. Without labels, text of a number is this number in the column of a table, but not in a
    list or a mapping, where it may be an id. The types of all numbers are `kinds`, if they are known. It is an error if
    a value would be rounded.
    """
    if (
        offsets[-1] >= MANY
        and (column := _plain_numbers(rows, offsets, ignore_index, kinds)) is not None
    ):
        return column
    values = list(chain.from_iterable(rows))
    try:
        array = np.array(values)
    except BaseException as error:  # noqa: BLE001 - whatever NumPy or another library raises, some value is not a plain number
        raise_unless_of_values(error)
        array = np.empty(0, object)
    present = None
    if not _holds_all(array):
        array, present = _one_by_one(argument, values, offsets, place, labels, in_column)
    padding = None if ignore_index is None else _padding_in_list(values, array, ignore_index)
    return Column(array, offsets, present, padding)


def _plain_numbers(
    rows: Sequence[Sequence[Any]],
    offsets: NDArray[np.int64],
    ignore_index: float | None,
    kinds: Set[type] | None,
) -> Column | None:
    """Return plain numbers and None, read all at once; None if some have other types or would be rounded.

    NumPy's numbers count as plain among None, since NumPy makes objects of such lists.
    """
    head = list(islice(chain.from_iterable(rows), MANY))
    first = next((value for value in head if value is not None), None)
    if type(first) not in (int, float) and not (
        type(first) in OWN and None in head
    ):  # bools are not integers here
        return None
    try:
        with np.errstate(all="ignore"):
            try:
                found = kinds or {
                    type(sum(map(sum, rows)))
                }  # a number of another type changes the type of the sum
            except TypeError:  # because of a None
                found = set(map(type, chain.from_iterable(rows)))
        if kinds or NoneType in found:
            found = {OWN.get(kind, kind) for kind in found}
        if found == {int}:
            with suppress(ValueError):  # integers that do not fit into a byte
                array = np.frombuffer(b"".join(map(bytes, rows)), np.uint8).astype(np.int64)
                return Column(array, offsets, padding=is_padding(array, ignore_index))
        if found <= {int, float, NoneType}:
            kind = pa.float64() if float in found else pa.int64()
            return _from_arrow("", pa.array(rows, pa.large_list(kind)), ignore_index)._replace(
                offsets=offsets
            )
    except BaseException as error:  # noqa: BLE001 - reading one by one raises the error
        raise_unless_of_values(error)
    return None


def _holds_all(array: NDArray[Any]) -> bool:
    """Return whether NumPy stored all numbers exactly, although they may have several types."""
    if array.ndim != 1 or array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        return False
    if array.dtype.kind != "f" or float(np.abs(array).max(initial=0)) < 2**53:
        return True
    return not (beyond_2_53(array) | np.isnan(array)).any()  # NumPy turns masked numbers into NaN


def _one_by_one(
    argument: str,
    given: list[Any],
    offsets: NDArray[np.int64],
    place: Place,
    labels: Labels | None,
    in_column: bool,
) -> tuple[NDArray[Any], Mask | None]:
    """Return numbers as an array, and a mask of those that are not None; reject other values and rounding."""

    def refuse(at: int, problem: str) -> ValueError:
        query = int(np.searchsorted(offsets, at, side="right")) - 1
        return InputError(
            f"{place(query, int(at - offsets[query]))}: {shown(given[at])} {problem}", argument
        )

    foreign = {
        kind for kind in set(map(type, given)) if not _is_number(kind) and kind is not type(None)
    }
    values = (
        [number(value) if type(value) in foreign else value for value in given]
        if foreign
        else given
    )
    if any(issubclass(kind, str) for kind in foreign):
        if labels is not None:
            values = labels.numbers(values)
        elif in_column:
            values = list(map(as_number, values))
    present = np.array([value is not None for value in values], bool)
    mask = None if present.all() else present
    values = [0 if value is None else value for value in values]
    kinds = set(map(type, values))
    for kind in kinds:
        if not _is_number(kind):
            at = next(at for at, value in enumerate(values) if type(value) is kind)
            raise refuse(at, _not_a_number(argument, values, values[at], labels))
    if mask is not None and _holds_all(array := np.array(values)):
        return array, mask
    if all(issubclass(kind, Integral) for kind in kinds):
        for dtype in ("int64", "uint64"):
            if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
                return np.array(values, dtype), mask
    try:
        array = np.array(values, np.float64)
    except OverflowError:  # an integer that is too large is rejected below
        array = np.array(
            [value if abs(value) < 2**1023 else math.inf for value in values], np.float64
        )
    usual = all(issubclass(kind, (float, Integral, np.float32, np.float16)) for kind in kinds)
    for at in (
        np.flatnonzero(beyond_2_53(array) | np.isinf(array)).tolist()
        if usual
        else range(len(values))
    ):
        value = int(values[at]) if isinstance(values[at], Integral) else values[at]
        if float(array[at]) != value and value == value:  # and it is not NaN
            raise refuse(at, "would be rounded; give floats, or all integers of at most 64 bits")
    return array, mask


def _not_a_number(argument: str, values: Iterable[Any], value: Any, labels: Labels | None) -> str:
    """Return the reason why a value is refused; of text in place of a relevance, what to write for labels."""
    if not argument.startswith("references") or not isinstance(value, str):
        return f"is not a number; give a number{mark('None', before=' or ')}"
    return f"is not a number; {to_label(values)}" if labels is None else labels.unknown(value)


def _is_number(kind: type) -> bool:
    return issubclass(kind, Real) and not issubclass(kind, np.timedelta64)


def number(value: Any) -> Any:
    """Convert a Decimal, or a number of another library such as a 0-d tensor, to Python's, and a masked one to None.

    >>> number(np.ma.masked), number(np.array(0.5)), number(Decimal("0.5")), number("0.5")
    (None, 0.5, 0.5, '0.5')
    """
    if isinstance(value, Decimal):
        return whole_or_float(value)
    try:
        array = converted(value)
        if isinstance(array, np.ndarray) and array.ndim == 0:
            return None if np.ma.is_masked(array) else numeric_array("number", array).item()
    except BaseException as error:  # noqa: BLE001 - whatever its library raises, it is not a number
        raise_unless_of_values(error)
    return value


def whole_or_float(value: Decimal) -> float:
    """Return a decimal as an integer if it is whole, so that no digit is lost, else as the nearest float."""
    if value.is_nan():
        return math.nan
    is_whole = value.is_finite() and value == value.to_integral_value()
    return int(value) if is_whole else float(value)


def as_number(value: Any) -> Any:
    """Return text that is a number as this number; other values unchanged.

    >>> as_number("0.5"), as_number("high"), as_number(2)
    (0.5, 'high', 2)
    """
    if not isinstance(value, str):
        return value
    found = number_of_text(value)
    return value if found is None else found


def in_dtype(scores: NDArray[Any], score_dtype: str) -> NDArray[Any]:
    """Return scores in the type in which they are compared; those that are too large for it become infinite.

    >>> in_dtype(np.array([1.00000001, 1.0, 1e39]), "float32").tolist()
    [1.0, 1.0, inf]
    """
    if score_dtype == "given":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(score_dtype, copy=False)


def negated(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores in the opposite order: the negative of each, or the complement of integers too large for that.

    >>> negated(np.array([7, 0], np.uint8)).tolist(), negated(np.array([2**64 - 1, 2**63], np.uint64)).tolist()
    ([-7, 0], [0, 9223372036854775807])
    """
    if scores.dtype.kind == "f":
        return -scores
    fit = int(scores.min(initial=0)) > -(2**63) and int(scores.max(initial=0)) < 2**63
    return -scores.astype(np.int64) if fit else ~scores


def beyond_2_53(values: NDArray[Any]) -> Mask:
    """Return a mask of integers that float64 may not tell apart from their neighbors."""
    if values.dtype.kind == "f":  # narrower floats were not rounded
        size = np.abs(values) if values.dtype == np.float64 else np.zeros(values.shape)
        return np.asarray((size >= 2**53) & (size < math.inf))
    return (values >= 2**53) | (values <= -(2**53))


def numeric_array(argument: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the array without its mask, if its values are real numbers of at most 64 bits."""
    if _is_narrow(values.dtype):
        values = values.astype(np.float32)
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise InputError(
            f"{mark(argument)} must hold real numbers of at most 64 bits; got {values.dtype}"
        )
    return np.asarray(values, values.dtype.newbyteorder("="))


# Padding, compared in the original type of each value


def is_padding(values: NDArray[Any], ignore_index: float | None) -> Mask | None:
    """Return a mask of padding: values equal to `ignore_index`, rounded to their type; None if there is none.

    >>> is_padding(np.array([1, 1e30], np.float32), 1e30).tolist()
    [False, True]
    """
    if ignore_index is None:
        return None
    with np.errstate(over="ignore"):  # a float that is too large for the type becomes infinite
        if isinstance(values, Widened):
            ignore_index = values.rounded(ignore_index)
        elif _is_narrow(values.dtype):
            ignore_index = float(np.asarray(ignore_index, np.float64).astype(values.dtype))
            values = np.asarray(values).astype(np.float32)
        elif values.dtype == bool:  # NumPy compares bools with 64-bit integers only
            values = np.asarray(values).view(np.uint8)
        return np.asarray(np.asarray(values) == ignore_index)


def _padding_in_list(values: list[Any], array: NDArray[Any], ignore_index: float) -> Mask | None:
    """Return the mask of ``is_padding`` for a list, comparing each number in its own type."""
    if set(map(type, values)) <= {bool, int, float, NoneType}:
        return is_padding(array, ignore_index)

    def is_reference(value: Any, number: Any) -> bool:
        if isinstance(value, str):  # a label, or text of a number
            return bool(number == ignore_index)
        if value is None or (_is_number(type(value)) and not isinstance(value, np.generic)):
            return bool(value == ignore_index)
        return bool(is_padding(np.asanyarray(converted(value)), ignore_index))

    return np.array(list(map(is_reference, values, array.tolist())), bool)


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return whether it is a float type of JAX or TensorFlow whose values float32 represents exactly."""
    return dtype.isbuiltin == 2 and dtype.name.startswith(("bfloat16", "float8"))
