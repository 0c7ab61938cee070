"""Any form of rankings -> aligned arrays of relevance and score.

People hold rankings as nested lists, as arrays, as Arrow columns. ``read`` turns each
form into :class:`Rankings`: the values of all queries one after the other, where each
query begins, and two masks that say which documents were judged and which retrieved.
Arrays and Arrow columns are used where they lie; only nested lists are converted.
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# Queries of a chunked column are handed on in parts of about this many documents.
PART = 1 << 20
BIG_INTEGER = "an integer beyond 2**53 beside numbers that are none would be rounded; give all of one kind"


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
            return np.diff(self.offsets)
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
    if len(score.lengths) != len(relevance.lengths):
        raise ValueError(
            f"predictions hold {len(score.lengths)} queries and references {len(relevance.lengths)}; "
            "give both for every query"
        )
    different = np.flatnonzero(score.lengths != relevance.lengths)
    if different.size:
        query = int(different[0])
        raise ValueError(
            f"query {query}: {score.lengths[query]} predictions and {relevance.lengths[query]} references; give "
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
        values = values.tolist()
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
    present = None
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        present, values = (~mask if mask.any() else None), values.data
    return _Column(_numeric(argument, values), None, present)


def _from_arrays(argument: str, rows: "list[NDArray[Any]] | tuple[NDArray[Any], ...]") -> _Column:
    """One 1-D array per query."""
    for query, row in enumerate(rows):
        if row.ndim != 1:
            raise ValueError(f"{argument}: query {query}: must be a 1-D array of documents; got {row.ndim}-D")
        _numeric(f"{argument}: query {query}", row)
    present = None
    if any(np.ma.is_masked(row) for row in rows):
        present = ~np.concatenate([np.ma.getmaskarray(row) for row in rows])
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    values = np.concatenate([np.ma.getdata(row) for row in rows])
    if values.dtype.kind == "f":
        for query, row in enumerate(rows):
            if row.dtype.kind in "iu" and row.size and max(-int(row.min()), int(row.max())) > 2**53:
                raise ValueError(f"{argument}: query {query}: {BIG_INTEGER}")
    return _Column(values, offsets, present)


def _from_arrow(argument: str, lists: pa.Array) -> _Column:
    """An Arrow list array, its values where they lie."""
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        raise ValueError(f"{argument} must be an Arrow array of lists, one per query; got {lists.type}")
    if lists.null_count:
        query = int(np.flatnonzero(lists.is_null())[0])
        raise ValueError(f"{argument}: query {query}: is None; give a list, empty if nothing was retrieved or judged")
    values = lists.flatten()
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)):
        raise ValueError(f"{argument} must hold numbers; got Arrow lists of {values.type}")
    present = None
    if values.null_count:
        present = values.is_valid().to_numpy(zero_copy_only=False)
        values = values.fill_null(False if pa.types.is_boolean(values.type) else 0)
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return _Column(values.to_numpy(zero_copy_only=False), offsets - offsets[0], present)


def _from_lists(argument: str, rows: "list[Any] | tuple[Any, ...]") -> _Column:
    """Nested sequences of numbers and None."""
    if not any(isinstance(row, (str, bytes, bytearray)) for row in rows):
        try:
            return _from_arrow(argument, pa.array(rows, pa.large_list(pa.float64())))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            pass  # one value at a time, below, to convert what Arrow does not or to say where it stands
    converted = []
    for query, row in enumerate(rows):
        if isinstance(row, Real):
            raise ValueError(
                f"{argument}: query {query}: is the number {row!r}, not a list of documents; "
                "for a single query, wrap it in a list"
            )
        if not isinstance(row, (list, tuple, np.ndarray)):
            raise ValueError(f"{argument}: query {query}: must be a list of documents; got {type(row).__name__}")
        for position, value in enumerate(row):
            if not isinstance(value, Real) and value is not None:
                place = f"{argument}: query {query}, position {position}"
                raise ValueError(f"{place}: {value!r} is not a number; give a number or None")
        integers = [value for value in row if isinstance(value, Integral)]
        if any(abs(int(value)) > 2**53 for value in integers) and len(integers) + list(row).count(None) < len(row):
            raise ValueError(f"{argument}: query {query}: {BIG_INTEGER}")
        array = np.array([0 if value is None else value for value in row])
        converted.append(array if array.dtype.kind in "iu" else array.astype(np.float64))
    column = _from_arrays(argument, converted)
    present = np.array([value is not None for row in rows for value in row], bool)
    return column._replace(present=None if present.all() else present)


def _numeric(argument: str, values: NDArray[Any]) -> NDArray[Any]:
    """The array, if its values are real numbers of at most 64 bits."""
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise ValueError(f"{argument} must hold real numbers of at most 64 bits; got {values.dtype}")
    return values
