"""Read predictions or references from any library: values, queries, missing values and padding.

They are a 2-D array or tensor, nested lists, a list of 1-D arrays, a column of lists that Arrow
can read or, if a row is a document, a flat column. Arrays, tensors and Arrow columns are used
without a copy; only lists are converted.
"""

import math
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from itertools import chain
from numbers import Integral, Real
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.labels import Labels, instead_of_text, number_of_text
from ..measure.messages import InputError, mark, raise_unless_of_values, shown
from ..measure.ties import Mask
from .fields import DECIMAL_COMMA, WITH_POINTS
from .sources import Widened, converted, in_python, is_one_column, plain_in_order

# describes a query, by its index, and a document in it, by its position or None
Place = Callable[[int, int | None], str]


class Column(NamedTuple):
    """Predictions or references, query after query."""

    values: NDArray[Any]  # the values of the documents
    offsets: NDArray[np.int64]  # the starts of the queries, from 0, and the end of the last one
    present: Mask | None = None  # False for a missing value; None if none is missing
    padding: Mask | None = None  # True for a value that marks padding; None if no value can

    def reordered(self, order: Any, offsets: NDArray[np.int64]) -> "Column":
        """Return the documents in another order, and with other offsets."""
        present = taken(self.present, order)
        padding = taken(self.padding, order)
        return Column(self.values[order], offsets, present, padding)

    def without_unretrieved(self, score_order: str) -> "Column":
        """Return the same scores; in ascending order, inf marks a document not retrieved."""
        if score_order == "descending":
            return self
        return self.only(self.values != np.inf)

    def only(self, present: Mask) -> "Column":
        """Return the same values; where a mask is False, they are missing."""
        return self._replace(present=unless_all(in_both(present, self.present)))


def taken(values: Any, rows: Any) -> Any:
    """Return some rows of an array or a column; None if there is none."""
    return None if values is None else values[rows]


def in_both(mask: Any, other: Any) -> Any:
    """Return where both masks, arrays or tensors, are True; None for the other is everywhere."""
    return mask if other is None else mask & other


def unless_all(mask: Mask) -> Mask | None:
    """Return a mask; None if it is True everywhere, as nearly all are."""
    return None if mask.all() else mask


def mask_of(rows: int, mask: Mask | None) -> Mask:
    """Return the mask of so many rows, also if it is None, which is True everywhere."""
    return np.ones(rows, bool) if mask is None else mask


def offsets_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of queries of these lengths, and the end of the last one.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.add.accumulate(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def place_among(offsets: NDArray[np.int64], row: int) -> tuple[int, int]:
    """Return the query of a document, and its position there, from its row among all documents.

    >>> place_among(offsets_of([2, 0, 3]), 3)
    (2, 1)
    """
    # Queries without documents start where the next one does; the last of them has the row.
    query = int(np.searchsorted(offsets, row, side="right")) - 1
    return query, int(row - offsets[query])


def check_queries_equal(
    queries: int | None,
    others: int | None,
    argument: str = "predictions",
    other: str = "references",
) -> None:
    """Raise an error if two arguments have different numbers of queries; None if these have ids."""
    if queries != others:
        problem = f"{mark(argument)} and {other} differ in the number of queries"
        raise InputError(f"{problem}, {queries} and {others}; give both for every query")


# Formats


def read_column(
    argument: str,
    values: Any,
    ignore_index: float | None = None,
    labels: Labels | None = None,
    place: Place | None = None,
) -> Column:
    """Read values with a row for a query; text in them is one of the labels."""
    values = _combined(values)
    if isinstance(values, pa.Array):
        values, offsets = _values_of_lists(argument, values)
        return _read(argument, values, offsets, place or numbered, ignore_index, labels)
    values = _array_or_list(values)
    if isinstance(values, np.ndarray):
        return _from_array(argument, values, ignore_index)
    if not isinstance(values, (list, tuple)):
        raise InputError(
            f"{mark(argument)} must hold one list of documents per query: nested lists, a 2-D "
            "array or tensor, a list of 1-D arrays, a column of lists, a mapping or a TREC file; "
            f"got {type(values).__name__}"
        )
    if set(map(type, values)) <= {list, tuple}:
        return _from_lists(argument, values, ignore_index, labels)
    return _from_rows(argument, values, ignore_index, labels)


def read_flat_column(
    argument: str,
    values: Any,
    place: Place,
    ignore_index: float | None = None,
    labels: Labels | None = None,
) -> Column:
    """Read values with a row for a document, as if all belonged to one query.

    Text in them is one of the labels.
    """
    values = _combined(values)
    if is_one_column(values):
        values = values.reshape(-1)
    _refuse_nested(argument, values)
    offsets = offsets_of([len(values)])
    return _read(argument, values, offsets, place, ignore_index, labels, may_be_text=True)


def _refuse_nested(argument: str, values: Any) -> None:
    """Raise an error for values that are not one per document."""
    is_sequence = isinstance(values, (list, tuple, np.ndarray, pa.Array))
    if is_sequence and getattr(values, "ndim", 1) == 1:
        return  # a list in it is not a number, as reading it says
    form = f"shape {values.shape}" if hasattr(values, "shape") else shown(values)
    problem = f"{mark(argument)} must be flat, one number per document"
    raise InputError(f"{problem}; got {form}{logits_hint(argument, values)}")


def _read(
    argument: str,
    values: Any,
    offsets: NDArray[np.int64],
    place: Place,
    ignore_index: float | None,
    labels: Labels | None,
    may_be_text: bool = False,
) -> Column:
    """Read values of several queries, one after the other, in an array, a list or Arrow's array."""
    values = _array_or_list(values)
    if isinstance(values, np.ndarray):
        return _of_array(argument, values, offsets, ignore_index)
    return read_numbers(
        argument, [values], offsets, place, ignore_index, labels, may_be_text=may_be_text
    )


def _of_array(
    argument: str, values: NDArray[Any], offsets: NDArray[np.int64], ignore_index: float | None
) -> Column:
    """Read an array of the values of several queries."""
    present = ~np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
    numbers = numeric_array(argument, values)
    return Column(numbers, offsets, present, is_padding(values, ignore_index))


def _array_or_list(values: Any) -> Any:
    """Return texts and objects of an array, or of Arrow's, as a list, and numbers as an array."""
    if isinstance(values, pa.Array):
        return _array_of_arrow(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in TEXTS_AND_OBJECTS:
        return values.tolist()  # None if masked
    return values


def _array_of_arrow(values: pa.Array) -> Any:
    """Return numbers as an array, which is masked where they are null; others as a list."""
    if pa.types.is_decimal(values.type):
        with suppress(pa.ArrowInvalid):  # reading one by one raises the error
            values = without_decimals(values)
    if not pa.types.is_primitive(values.type) or pa.types.is_temporal(values.type):
        return values.to_pylist()
    if not values.null_count:
        return values.to_numpy(zero_copy_only=False)
    mask = values.is_null().to_numpy(zero_copy_only=False)
    zero = pa.scalar(0).cast(values.type)
    return np.ma.MaskedArray(values.fill_null(zero).to_numpy(zero_copy_only=False), mask)


def logits_hint(argument: str, values: Any) -> str:
    """Return the hint for an error on outputs per document; an empty string for other values.

    >>> logits_hint("predictions", np.zeros((8, 5, 1)))
    '; give the output of each document, logits[..., 0]'
    """
    outputs = getattr(values, "shape", ())[1:][-1:]
    if argument != "predictions" or outputs not in ((1,), (2,)):
        return ""
    if outputs == (1,):
        return "; give the output of each document, logits[..., 0]"
    way = "give the difference of two logits, logits[..., 1] - logits[..., 0]"
    return f"; {way}, in a Trainer by preprocess_logits_for_metrics (docs/training.md)"


def _combined(values: Any) -> Any:
    """Combine the chunks of an Arrow column into one array; return other values unchanged."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)  # without a copy
    return values.combine_chunks()


TEXTS_AND_OBJECTS = "OUT"  # kinds of types of arrays that are read as lists


def _one_query(argument: str, values: Any) -> Any:
    """Return one query of a list, an array of another library as a NumPy array."""
    return _array_or_list(_combined(plain_in_order(argument, values)))


def _from_array(argument: str, values: NDArray[Any], ignore_index: float | None) -> Column:
    """Read a 2-D array, without a copy if its rows are contiguous."""
    if values.ndim != 2:
        problem = f"{mark(argument)} must be 2-D, one row of documents per query"
        hint = NOT_NESTED if values.ndim == 1 else ""
        shape = f"{values.ndim}-D of shape {values.shape}{logits_hint(argument, values)}"
        raise InputError(f"{problem}; got {shape}", hint=hint)
    offsets = np.arange(len(values) + 1) * values.shape[1]
    # copied only if rows are not adjacent in memory
    return _of_array(argument, np.ravel(values), offsets, ignore_index)


def _from_rows(
    argument: str,
    rows: Sequence[Any],
    ignore_index: float | None,
    labels: Labels | None = None,
) -> Column:
    """Read one array of any library, or one list, per query."""
    if not all(issubclass(kind, np.ndarray) for kind in set(map(type, rows))):
        rows = [_one_query(f"{argument}: query {query}", row) for query, row in enumerate(rows)]
    types = {getattr(row, "dtype", np.dtype(object)) for row in rows}
    if any(dtype.kind in TEXTS_AND_OBJECTS for dtype in types):
        return _from_lists(argument, rows_as_lists(argument, rows), ignore_index, labels)
    _refuse_matrices(argument, rows)
    kinds = set(map(type, rows))
    if len(types) == 1 and Widened not in kinds:
        offsets = offsets_of(np.fromiter(map(len, rows), np.int64))
        concatenated = _concatenated if kinds == {np.ndarray} else np.ma.concatenate
        return _of_array(argument, concatenated(rows), offsets, ignore_index)
    column = _from_lists(argument, rows_as_lists(argument, rows), None, labels)
    if ignore_index is None:
        return column
    # Padding is compared in the type of its row, which is not the type of all values.
    return column._replace(padding=np.concatenate([is_padding(row, ignore_index) for row in rows]))


def _refuse_matrices(argument: str, rows: Sequence[NDArray[Any]]) -> None:
    """Raise an error for an array of a query that is not one value per document."""
    dimensions = [row.ndim for row in rows]
    if set(dimensions) <= {1}:
        return
    query = int(np.not_equal(dimensions, 1).argmax())
    problem = f"must be a 1-D array of documents; got {dimensions[query]}-D"
    hint = _hint_on_matrices(argument, rows)
    raise InputError(problem, argument, f"query {query}", hint=hint)


def _hint_on_matrices(argument: str, rows: Sequence[NDArray[Any]]) -> str:
    """Return how to give arrays with several dimensions, which batches and models have."""
    if len({row.ndim for row in rows}) > 1:
        return f"if the first has the values of all queries, give {argument}[0]"
    batches = f"if they are batches, give [row for batch in {argument} for row in batch]"
    if argument == "references":
        return batches
    shapes = {row.shape[1:] for row in rows}
    probabilities = "of predict_proba with several outputs, give np.stack"
    if shapes == {(2,)}:
        return f"{probabilities}([output[:, 1] for output in predictions], axis=1)"
    if shapes == {(1,), (2,)}:  # in training, an output with one column had a single class
        return (
            f"{probabilities}([output[:, -1] * (1 in classes) "
            "for output, classes in zip(predictions, model.classes_)], axis=1)"
        )
    if shapes == {(1,)}:
        return (
            "give np.hstack(predictions) if each is an output of a model, "
            "or np.vstack(predictions) if they are batches"
        )
    return batches


def _concatenated(arrays: Sequence[Any]) -> NDArray[Any]:
    """Concatenate arrays of one type by their bytes, which is faster if they are short."""
    with suppress(TypeError, BufferError):  # raised for arrays with strides
        return np.frombuffer(b"".join(arrays), arrays[0].dtype)
    return np.concatenate(arrays)


def _values_of_lists(argument: str, lists: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the values in an Arrow array of lists, without a copy, and their offsets."""
    if not any(is_kind(lists.type) for is_kind in KINDS_OF_LISTS):
        kind = shown(str(lists.type))[1:-1]
        problem = f"{mark(argument)} must be a column of lists, one per query; got {kind}"
        raise InputError(f"{problem}; for a row per document give {mark('query_ids')}")
    if lists.null_count:
        query = int(np.flatnonzero(lists.is_null())[0])
        raise InputError(f"query {query} is None; {EMPTY_LIST}", argument)
    return lists.flatten(), offsets_of(pc.list_value_length(lists).to_numpy(zero_copy_only=False))


def without_decimals(values: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """Return a column of decimals as integers if all are whole, else as the nearest floats.

    A column of DuckDB's HUGEINT is one of whole decimals.

    >>> without_decimals(pa.array([Decimal("0.1"), None])).to_pylist()
    [0.1, None]

    Raises:
        pa.ArrowInvalid: it has integers beyond 2**53 among others that are not whole, or beyond 64
            bits.
    """
    for kind in (pa.int64(), pa.uint64()):
        with suppress(pa.ArrowInvalid):
            return values.cast(kind)
    # A direct cast may miss the nearest float.
    floats = values.cast(pa.string()).cast(pa.float64())
    if beyond_2_53(pc.drop_null(floats).to_numpy(zero_copy_only=False)).any():
        raise pa.ArrowInvalid("float64 would round integers")
    return floats


EMPTY_LIST = "give a list, empty if nothing was retrieved or judged"
NOT_NESTED = (
    f"for a single query, wrap it in a list, for a row per document give {mark('query_ids')}"
)
KINDS_OF_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column, also if it is a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _from_lists(
    argument: str,
    rows: Sequence[Any],
    ignore_index: float | None,
    labels: Labels | None,
) -> Column:
    """Read nested lists of numbers and None."""
    offsets = offsets_of(np.fromiter(map(len, rows), np.int64))
    return read_numbers(argument, rows, offsets, ignore_index=ignore_index, labels=labels)


def rows_as_lists(argument: str, rows: Iterable[Any]) -> list[Sequence[Any]]:
    """Return the values of queries, in lists or arrays, as lists, with None for masked ones."""
    lists = list(map(in_python, rows))
    are_lists = [isinstance(row, (list, tuple)) for row in lists]
    if not all(are_lists):
        query = are_lists.index(False)
        problem = f"must be a list of documents; got {shown(lists[query])}"
        hint = EMPTY_LIST if any(are_lists) else NOT_NESTED
        raise InputError(f"{problem}; {hint}", argument, f"query {query}")
    return lists


# Numbers


MANY = 1 << 9  # fewer numbers are read faster one by one


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
    may_be_text: bool = False,
) -> Column:
    """Read numbers and None of several queries, one after the other, in lists of any lengths.

    Text is one of the labels. Without labels, text of a number is this number if it `may_be_text`,
    as in the column of a table or a mapping, but not in a list, where it may be an id. The types
    of all numbers are `kinds`, if they are known. It is an error if a value would be rounded.
    """
    if offsets[-1] >= MANY:
        column = _plain_numbers(rows, offsets, ignore_index, kinds)
        if column is not None:
            return column
    values = list(chain.from_iterable(rows))
    # NumPy finds a common type, in which some numbers may be rounded: `_holds_all` tells.
    try:
        array = np.array(values)
    except BaseException as error:  # noqa: BLE001 - of any library: not all are plain numbers
        raise_unless_of_values(error)
        array = np.empty(0, object)
    present = None
    if not _holds_all(array):
        array, present = _one_by_one(argument, values, offsets, place, labels, may_be_text)
    return Column(array, offsets, present, is_padding(array, ignore_index))


def _plain_numbers(
    rows: Sequence[Sequence[Any]],
    offsets: NDArray[np.int64],
    ignore_index: float | None,
    kinds: Set[type] | None,
) -> Column | None:
    """Return plain numbers and None, read all at once; None if some have other types.

    None, too, if some would be rounded.
    """
    # Bools are not integers here; beside a None, the types of all numbers tell.
    if type(next(chain.from_iterable(rows))) not in (int, float, NoneType):
        return None
    try:
        types = kinds or _types_of_numbers(rows)
        if types == {int}:
            # Grades are small, and bytes are the fastest way to read them.
            with suppress(ValueError):  # integers that do not fit into a byte
                array = np.frombuffer(b"".join(map(bytes, rows)), np.uint8).astype(np.int64)
                return Column(array, offsets, padding=is_padding(array, ignore_index))
        if types <= {int, float, NoneType}:
            number_type = pa.float64() if float in types else pa.int64()
            numbers = pa.array(rows, pa.large_list(number_type)).flatten()
            return _of_array("", _array_of_arrow(numbers), offsets, ignore_index)
    except BaseException as error:  # noqa: BLE001 - reading one by one raises the error
        raise_unless_of_values(error)
    return None


def _types_of_numbers(rows: Sequence[Sequence[Any]]) -> set[type]:
    """Return the types of numbers, or only the type of their sum, which depends on all types."""
    try:
        with np.errstate(all="ignore"):
            return {type(sum(map(sum, rows)))}
    except TypeError:  # because of a None
        return set(map(type, chain.from_iterable(rows)))


def _holds_all(array: NDArray[Any]) -> bool:
    """Return whether NumPy stored all numbers exactly, although they may have several types."""
    if array.ndim != 1 or not _is_of_numbers(array.dtype):
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
    may_be_text: bool,
) -> tuple[NDArray[Any], Mask | None]:
    """Return numbers as an array, and a mask that is False for None; reject other values.

    Rounding is rejected too.
    """

    def refused(row: int, problem: str) -> InputError:
        where = place(*place_among(offsets, row))
        return InputError(f"{where}: {shown(given[row])} {problem}", argument)

    values = _python_values(given, labels, may_be_text)
    mask = unless_all(np.array([value is not None for value in values], bool))
    values = [0 if value is None else value for value in values]
    kinds = list(map(type, values))
    wrong = [kinds.index(kind) for kind in set(kinds) if not _is_number(kind)]
    if wrong:
        row = min(wrong)
        raise refused(row, _not_a_number(argument, given, values[row], labels))
    array = _exact(values)
    if array is None:
        row = next(row for row, value in enumerate(values) if not _are_held([value], np.float64))
        raise refused(row, "would be rounded; give floats, or all integers of at most 64 bits")
    return array, mask


def _exact(values: list[Any]) -> NDArray[Any] | None:
    """Return an array that holds numbers of Python exactly; None if no type does."""
    array = np.array(values)
    if _holds_all(array):
        return array
    for dtype in (np.float64, np.int64, np.uint64):
        if _are_held(values, dtype):
            return np.array(values, dtype)
    return None


def _python_values(values: list[Any], labels: Labels | None, may_be_text: bool) -> list[Any]:
    """Return values, of which text and numbers of other libraries become Python's numbers."""
    values = list(map(number, values))
    if labels is None:
        return list(map(as_number, values)) if may_be_text else values
    if may_be_text:
        # An empty cell is no label, as in files.
        values = [None if value == "" else value for value in values]
    return labels.numbers(values)


def _are_held(values: list[Any], dtype: type) -> bool:
    """Return whether an array of a type holds numbers exactly."""
    try:
        held = np.array(values, dtype).tolist()
    except (OverflowError, ValueError):  # an integer is too large, or NaN is no integer
        return False
    return all(map(_is_same, held, values))


def _is_same(held: float, value: Any) -> bool:
    """Return whether a number of Python is exactly another, or both are NaN."""
    # NumPy would compare its integers with floats as floats.
    exact = int(value) if isinstance(value, Integral) else value
    return bool(held == exact or exact != exact)


NONE_INSTEAD = "give None where nobody judged"
LEFT_AS_THEY_ARE = (NoneType, int, float, str, np.number)  # types of plain values


def _not_a_number(argument: str, values: Iterable[Any], value: Any, labels: Labels | None) -> str:
    """Return why a value is refused; for text in place of a relevance, what to write for labels."""
    if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value):
        return f"has a comma; {WITH_POINTS}"
    if not argument.startswith("references") or not isinstance(value, str):
        return f"is not a number; give a number{mark('None', before=' or ')}"
    if labels is None:
        return f"is not a number; {instead_of_text(value, values, NONE_INSTEAD)}"
    return labels.unknown(value, values)


def _is_number(kind: type) -> bool:
    return issubclass(kind, Real) and not issubclass(kind, np.timedelta64)


def number(value: Any) -> Any:
    """Convert a Decimal, or a number of another library such as a 0-d tensor, to Python's.

    A masked number is None.

    >>> number(np.ma.masked), number(np.array(0.5)), number(Decimal("0.5")), number("0.5")
    (None, 0.5, 0.5, '0.5')
    """
    if isinstance(value, LEFT_AS_THEY_ARE):
        return value
    try:
        if isinstance(value, Decimal):
            return whole_or_float(value)
        array = converted(value)
        if array.ndim > 0:
            return value
        if np.ma.is_masked(array):
            return None
        return numeric_array("number", array).item()
    except BaseException as error:  # noqa: BLE001 - of any library: it is not a number
        raise_unless_of_values(error)
        return value


def whole_or_float(value: Decimal) -> float:
    """Return a decimal as an integer if it is whole, else as the nearest float.

    An integer loses no digit.
    """
    if value.is_finite() and value == value.to_integral_value():
        return int(value)
    return float(value)


def as_number(value: Any) -> Any:
    """Return text that is a number as this number; other values unchanged.

    >>> as_number("0.5"), as_number("high"), as_number(2)
    (0.5, 'high', 2)
    """
    if not isinstance(value, str):
        return value
    number = number_of_text(value)
    return value if number is None else number


def in_dtype(scores: NDArray[Any], score_dtype: str) -> NDArray[Any]:
    """Return scores in the type in which they are compared; too large ones become infinite.

    >>> in_dtype(np.array([1.00000001, 1.0, 1e39]), "float32").tolist()
    [1.0, 1.0, inf]
    """
    if score_dtype == "given":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(score_dtype, copy=False)


def negated(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores in the opposite order: their negatives, or complements of large integers.

    >>> negated(np.array([7, 0], np.uint8)).tolist()
    [-7, 0]
    >>> negated(np.array([2**64 - 1, 2**63], np.uint64)).tolist()
    [0, 9223372036854775807]
    """
    if scores.dtype.kind == "f":
        return -scores
    if -(2**63) < int(scores.min(initial=0)) <= int(scores.max(initial=0)) < 2**63:
        return -scores.astype(np.int64)
    # A negative of these would be beyond 64 bits; complements have the same order.
    return ~scores


def beyond_2_53(values: NDArray[Any]) -> Mask:
    """Return a mask of integers that float64 may not tell apart from their neighbors."""
    if values.dtype.kind != "f":
        return (values >= 2**53) | (values <= -(2**53))
    if values.dtype != np.float64:  # narrower floats were not rounded
        return np.zeros(values.shape, bool)
    size = np.abs(values)
    return np.asarray((size >= 2**53) & (size < math.inf))


def numeric_array(argument: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the array without its mask, if its values are real numbers of at most 64 bits."""
    if _is_narrow(values.dtype):
        values = values.astype(np.float32)
    if not _is_of_numbers(values.dtype):
        problem = f"{mark(argument)} must hold real numbers of at most 64 bits"
        raise InputError(f"{problem}; got {values.dtype}")
    return np.asarray(values, values.dtype.newbyteorder("="))


# Padding, compared in the original type of an array


def is_padding(values: NDArray[Any], ignore_index: float | None) -> Mask | None:
    """Return a mask of padding, values equal to `ignore_index`; None if there is no `ignore_index`.

    It is rounded to the type of the values.

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


def _is_of_numbers(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return whether it is a float type of JAX or TensorFlow that float32 holds exactly."""
    return dtype.isbuiltin == 2 and dtype.name.startswith(("bfloat16", "float8"))
