"""Read sparse matrices of SciPy on one side or on both: a row per query, a column per document."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import InputError
from ..measure.ties import Mask
from .columns import Column, check_queries_equal, is_padding, numeric_array, read_column, unless_all
from .rankings import Rankings
from .sources import is_sparse


def join_sparse(
    predictions: Any, references: Any, ignore_index: float | None, score_order: str
) -> Rankings:
    """Return rankings of two sides of which at least one is sparse, as `converted` returns it.

    Stored predictions, zeros too, are the scores of retrieved documents. A label that is not stored
    is 0. If both sides are sparse, documents that are stored on neither side are left out.
    """
    for argument, side in (("predictions", predictions), ("references", references)):
        if is_sparse(side):
            numeric_array(argument, side.data)
    if not (is_sparse(predictions) and is_sparse(references)):
        return _beside_dense(predictions, references, ignore_index, score_order)
    check_queries_equal(predictions.shape[0], references.shape[0])
    queries, documents = predictions.shape
    if documents != references.shape[1]:
        widths = f"{documents} and {references.shape[1]}"
        problem = f"predictions and references differ in the number of columns, {widths}"
        hint = "give both one column for each document, in the same order"
        raise ValueError(f"{problem}; {hint}")
    stored = _places(predictions)
    judged = _places(references)
    at = np.searchsorted(stored, judged)
    on_both = np.zeros(len(judged), bool)
    if len(stored):
        on_both = stored[np.minimum(at, len(stored) - 1)] == judged
    labels = np.zeros(len(stored), references.dtype)
    labels[at[on_both]] = references.data[on_both]
    # Documents that are judged only go to their places among the columns.
    missed = ~on_both
    at = at[missed]
    lacking = np.searchsorted(judged[missed], np.arange(queries + 1) * documents)
    offsets = predictions.indptr.astype(np.int64) + lacking
    score = Column(np.insert(predictions.data, at, 0), offsets)
    score = score.only(np.insert(np.ones(len(stored), bool), at, False))
    relevance = _with_padding(np.insert(labels, at, references.data[missed]), offsets, ignore_index)
    columns = np.insert(predictions.indices, at, references.indices[missed])

    def place(query: int, position: int | None) -> str:
        if position is None:
            return f"query {query}"
        return f"query {query}, column {columns[offsets[query] + position]}"

    def documents_of(query: int) -> list[int]:
        return list(columns[offsets[query] : offsets[query + 1]].tolist())

    score = score.without_unretrieved(score_order)
    return Rankings.of(score, relevance, place=place, documents=documents_of)


def _beside_dense(
    predictions: Any, references: Any, ignore_index: float | None, score_order: str
) -> Rankings:
    """Return rankings of which one side is sparse, as if it were a masked array."""
    if is_sparse(predictions):
        relevance = read_column("references", references, ignore_index)
        _check_columns("references", relevance, predictions.shape)
        score = Column(_dense(predictions), relevance.offsets, _stored(predictions))
    else:
        score = read_column("predictions", predictions)
        _check_columns("predictions", score, references.shape)
        relevance = _with_padding(_dense(references), score.offsets, ignore_index)
    return Rankings.of(score.without_unretrieved(score_order), relevance)


def dense_pieces(predictions: Any, references: Any, documents: int) -> Iterator[tuple[Any, Any]]:
    """Yield rows of a sparse and a dense side, with so many documents at a time, or one row."""
    sparse, dense = predictions, references
    if is_sparse(references):
        sparse, dense = references, predictions
    rows, columns = sparse.shape
    step = max(1, documents // max(1, columns))
    if not hasattr(dense, "__len__") or len(dense) != rows or rows <= step:
        yield predictions, references
        return
    for start, end in pairwise([*range(0, rows, step), rows]):
        yield predictions[start:end], references[start:end]


def _check_columns(argument: str, dense: Column, shape: tuple[int, int]) -> None:
    """Raise an error for a side that has not one value for every place of a sparse side."""
    queries, columns = shape
    other = {"predictions": "references", "references": "predictions"}[argument]
    lengths = np.diff(dense.offsets)
    check_queries_equal(len(lengths), queries, argument, other)
    wrong = lengths != columns
    if wrong.any():
        query = int(wrong.argmax())
        counts = f"its length is {lengths[query]}, the width of sparse {other} {columns}"
        hint = "give one for each column, or a sparse matrix of the same shape"
        raise InputError(f"query {query}: {counts}; {hint}", argument)


def _places(sparse: Any) -> NDArray[np.int64]:
    """Return the places of the stored values in the flat matrix, in ascending order."""
    rows, columns = sparse.shape
    if rows * columns >= 2**63:
        problem = f"a sparse matrix of {rows} × {columns} is too large"
        raise ValueError(f"{problem}; leave out columns that store nothing")
    starts = np.arange(rows, dtype=np.int64) * columns
    return np.asarray(np.repeat(starts, np.diff(sparse.indptr)) + sparse.indices)


def _dense(sparse: Any) -> NDArray[Any]:
    return np.asarray(sparse.toarray()).ravel()


def _stored(sparse: Any) -> Mask | None:
    """Return a mask of the stored values in the flat matrix; None if all are stored."""
    stored = np.zeros(sparse.shape[0] * sparse.shape[1], bool)
    stored[_places(sparse)] = True
    return unless_all(stored)


def _with_padding(
    labels: NDArray[Any], offsets: NDArray[np.int64], ignore_index: float | None
) -> Column:
    return Column(labels, offsets, padding=is_padding(labels, ignore_index))
