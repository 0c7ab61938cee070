"""Any form of rankings -> aligned arrays of relevance and score.

People hold rankings as nested lists, as arrays, as Arrow columns. ``read`` turns each
form into :class:`Rankings`: the values of all queries one after the other, where each
query begins, and two masks that say which documents were judged and which retrieved.
Arrays and Arrow columns are used where they lie; only nested lists are converted.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Queries of a chunked column are handed on in parts of about this many documents.
PART = 1 << 20


class Rankings(NamedTuple):
    """Queries and their documents, as the arrays that the kernel takes.

    Attributes:
        relevance: shape ``(queries, documents)``, or 1-D with ``offsets``.
        score: as ``relevance``.
        offsets: where each query begins, from 0, and the last one ends: int64 of shape
            ``(queries + 1,)``; None for 2-D arrays.
        judged: False where the relevance is missing; None if none is.
        retrieved: False where the score is missing; None if none is.
    """

    relevance: NDArray[Any]
    score: NDArray[Any]
    offsets: NDArray[np.int64] | None = None
    judged: NDArray[np.bool_] | None = None
    retrieved: NDArray[np.bool_] | None = None

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.relevance) if self.offsets is None else len(self.offsets) - 1


class _Column(NamedTuple):
    """One side of the rankings."""

    values: NDArray[Any]
    offsets: NDArray[np.int64] | None
    present: NDArray[np.bool_] | None

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of documents of each query."""
        if self.offsets is not None:
            return self.offsets[1:] - self.offsets[:-1]
        return np.full(len(self.values), self.values.shape[1], np.int64)

    def flat(self) -> "_Column":
        """The same documents in 1-D arrays."""
        if self.offsets is not None:
            return self
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        return _Column(self.values.ravel(), offsets, None if self.present is None else self.present.ravel())


def read(predictions: Any, references: Any) -> Rankings:
    """Align predictions and references.

    Args:
        predictions: the score of each document of each query: a 2-D array (masked too), a
            sequence of 1-D arrays or of sequences, or an Arrow list array. None, a masked
            value or ``-inf`` marks a document that was not retrieved.
        references: their relevance, likewise. None or a masked value marks a document that
            was not judged.

    Returns:
        The rankings. Arrays are not copied, but for ragged lists of them.

    Raises:
        ValueError: values that are no numbers, or other queries or documents on one side
            than on the other. Names the argument, query and position.

    >>> read([[.9, None], [.1]], [[1, 2], [0]]).retrieved.tolist()
    [True, False, True]
    """
    score, relevance = _column("predictions", predictions), _column("references", references)
    scored, judged = score.lengths, relevance.lengths
    if len(scored) != len(judged):
        raise ValueError(
            f"predictions hold {len(scored)} queries and references {len(judged)}; give both for every query"
        )
    if (different := scored != judged).any():
        query = int(np.flatnonzero(different)[0])
        raise ValueError(
            f"query {query}: {scored[query]} predictions and {judged[query]} references; give "
            "both for every document, None for the score of one not retrieved or the relevance of one not judged"
        )
    if score.offsets is not None or relevance.offsets is not None:
        score, relevance = score.flat(), relevance.flat()
    return Rankings(relevance.values, score.values, score.offsets, relevance.present, score.present)


def parts(predictions: Any, references: Any) -> Iterator[Rankings]:
    """Align predictions and references, in parts if both are columns of one chunked table.

    >>> table = pa.table({"predictions": [[.9, .1]], "references": [[1., 0.]]})
    >>> [part.queries for part in parts(table["predictions"], table["references"])]
    [1]
    """
    if not (isinstance(predictions, pa.ChunkedArray) and isinstance(references, pa.ChunkedArray)):
        yield read(predictions, references)
        return
    pending: list[pa.RecordBatch] = []
    documents = 0
    for batch in pa.table({"predictions": predictions, "references": references}).to_batches():
        pending.append(batch)
        documents += len(batch["predictions"].flatten())
        if documents >= PART:
            yield _joined(pending)
            pending, documents = [], 0
    if pending:
        yield _joined(pending)


def _joined(batches: list[pa.RecordBatch]) -> Rankings:
    """Batches as one; a single one is not copied."""
    columns = [[batch[name] for batch in batches] for name in ("predictions", "references")]
    return read(*(column[0] if len(column) == 1 else pa.concat_arrays(column) for column in columns))


def to_arrow(rankings: Rankings) -> tuple[pa.Array, pa.Array]:
    """Predictions and references as Arrow lists of float64, missing values as nulls.

    Raises:
        ValueError: integers that float64 cannot tell apart.
    """
    score = _Column(rankings.score, rankings.offsets, rankings.retrieved).flat()
    relevance = _Column(rankings.relevance, rankings.offsets, rankings.judged).flat()
    lists = []
    for argument, column in (("predictions", score), ("references", relevance)):
        missing = None if column.present is None else ~column.present
        try:
            values = pa.array(column.values, mask=missing).cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise ValueError(f"{argument}: integers beyond 2**53 cannot be stored exactly: {error}") from None
        lists.append(pa.ListArray.from_arrays(pa.array(column.offsets, pa.int32()), values))
    return lists[0], lists[1]


def _column(argument: str, values: Any) -> _Column:
    """One side of the rankings from any form it comes in."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        return _from_arrow(argument, values)
    if not isinstance(values, np.ndarray) and hasattr(values, "__array__"):
        values = np.asarray(values)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return _from_array(argument, values)
    if isinstance(values, np.ndarray):
        values = values.tolist()  # None where masked
    if not isinstance(values, (list, tuple)):
        raise ValueError(
            f"{argument} must hold one list of documents per query: nested lists, a 2-D array, a list of 1-D arrays "
            f"or an Arrow list array; got {type(values).__name__}"
        )
    if values and all(isinstance(row, np.ndarray) and row.dtype != object for row in values):
        return _from_arrays(argument, values)
    return _from_lists(argument, values)


def _from_array(argument: str, values: NDArray[Any]) -> _Column:
    """A 2-D array, used where it lies."""
    if values.ndim != 2:
        raise ValueError(
            f"{argument} must be 2-D, one row of documents per query; got {values.ndim}-D of shape {values.shape}"
            + ("; for a single query, wrap it in a list" if values.ndim == 1 else "")
        )
    present = ~np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
    return _Column(_numeric(argument, values), None, present)


def _from_arrays(argument: str, rows: "list[NDArray[Any]] | tuple[NDArray[Any], ...]") -> _Column:
    """One 1-D array per query."""
    arrays = []
    for query, row in enumerate(rows):
        if row.ndim != 1:
            raise ValueError(f"{argument}: query {query}: must be a 1-D array of documents; got {row.ndim}-D")
        arrays.append(_numeric(f"{argument}: query {query}", row))
    present = None
    if any(np.ma.is_masked(row) for row in rows):
        present = ~np.concatenate([np.ma.getmaskarray(row) for row in rows])
    values = np.concatenate(arrays)
    column = _Column(values, _offsets(rows), present)
    if values.dtype.kind == "f":
        for row, array in zip(rows, arrays, strict=True):
            if array.dtype.kind in "iu" and _large(array).any():
                return _from_lists(argument, [row.tolist() for row in rows])
    return column


def _from_arrow(argument: str, lists: pa.Array) -> _Column:
    """An Arrow list array, its values where they lie."""
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        raise ValueError(f"{argument} must be an Arrow array of lists, one per query; got {lists.type}")
    if lists.null_count:
        query = int(np.flatnonzero(lists.is_null())[0])
        raise ValueError(f"{argument}: query {query}: is None; give a list, empty if nothing was retrieved or judged")
    offsets = lists.offsets.to_numpy().astype(np.int64)
    values = lists.values[offsets[0] : offsets[-1]]
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)):
        raise ValueError(f"{argument} must hold numbers; got Arrow lists of {values.type}")
    present = None
    if values.null_count:
        present = values.is_valid().to_numpy(zero_copy_only=False)
        values = values.fill_null(False if pa.types.is_boolean(values.type) else 0)
    return _Column(values.to_numpy(zero_copy_only=False), offsets - offsets[0], present)


def _from_lists(argument: str, rows: "list[Any] | tuple[Any, ...]") -> _Column:
    """Nested sequences of numbers and None."""
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]  # None where masked
    for query, row in enumerate(rows):
        if isinstance(row, (list, tuple)):
            continue
        if isinstance(row, Real):
            problem = f"is the number {row!r}, not a list of documents; for a single query, wrap it in a list"
        else:
            problem = f"must be a list of documents; got {type(row).__name__}"
        raise ValueError(f"{argument}: query {query}: {problem}")
    values = list(chain.from_iterable(rows))
    offsets, present = _offsets(rows), None
    try:
        array = np.array(values)
    except (ValueError, OverflowError):  # something among them is no number
        array = np.empty(0, object)
    usual = array.dtype.kind in "biuf" and array.dtype.itemsize <= 8
    if array.ndim != 1 or not usual or (array.dtype.kind == "f" and _large(array).any()):
        array, present = _one_by_one(argument, values, offsets)
    lengths = offsets[1:] - offsets[:-1]
    if len(rows) and (lengths == lengths[0]).all():
        shape = len(rows), int(lengths[0])
        return _Column(array.reshape(shape), None, None if present is None else present.reshape(shape))
    return _Column(array, offsets, present)


def _one_by_one(argument: str, values: list[Any], offsets: NDArray[np.int64]) -> tuple[NDArray[Any], Any]:
    """The values as an array, and where they are not None; refuses what is no number or would be rounded."""
    present = np.array([value is not None for value in values], bool)
    given = None if present.all() else present
    values = [0 if value is None else value for value in values]

    def refuse(at: int, problem: str) -> ValueError:
        query = int(np.searchsorted(offsets, at, side="right")) - 1
        return ValueError(f"{argument}: query {query}, position {at - offsets[query]}: {problem}")

    kinds = set(map(type, values))
    for kind in kinds:
        if not issubclass(kind, (Real, np.bool_)) or issubclass(kind, np.timedelta64):
            at = next(at for at, value in enumerate(values) if type(value) is kind)
            raise refuse(at, f"{values[at]!r} is not a number; give a number or None")
    if all(issubclass(kind, (Integral, np.bool_)) for kind in kinds):
        for dtype in ("int64", "uint64"):
            if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
                return np.array(values, dtype), given
    try:
        array = np.array(values, np.float64)
    except OverflowError:  # an integer beyond all floats is refused below
        array = np.array([value if abs(value) < 2**1023 else math.inf for value in values], np.float64)
    usual = all(issubclass(kind, (float, Integral, np.bool_, np.float32, np.float16)) for kind in kinds)
    for at in np.flatnonzero(_large(array)).tolist() if usual else range(len(values)):
        value = int(values[at]) if isinstance(values[at], Integral) else values[at]
        if float(array[at]) != value and value == value:  # and it is no NaN
            raise refuse(at, f"{values[at]!r} would be rounded; give floats, or all integers of at most 64 bits")
    return array, given


def _large(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where integers may be such that float64 cannot tell them from their neighbours."""
    return (values >= 2**53) | (values <= -(2**53))


def _offsets(rows: Sequence[Any]) -> NDArray[np.int64]:
    """Where each row begins, and the last one ends."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return offsets


def _numeric(argument: str, values: NDArray[Any]) -> NDArray[Any]:
    """The array without its mask, if its values are real numbers of at most 64 bits."""
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise ValueError(f"{argument} must hold real numbers of at most 64 bits; got {values.dtype}")
    return np.asarray(values, values.dtype.newbyteorder("="))
