"""Any form of rankings -> aligned arrays of relevance and score.

People hold rankings by position, as nested lists, arrays, tensors or columns of lists; flat,
one row per document with the id of its query; or by the ids of queries and documents. ``read``
turns each form into :class:`Rankings`: the values of all queries one after the other, where
each query begins, and two masks that say which documents were judged and which retrieved.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.ties import Mask
from .columns import Column, Place, read_column
from .exclusion import by_position, excluded_rows, without
from .joining import Joined, are_by_id, join_by_id, join_rows, tied_rows
from .ranked_ids import by_ranked_ids, check_queries_equal
from .sources import settled

# Queries of nested lists and of chunked columns are handed on in parts of about this many documents.
PART = 1 << 20


class Inputs(NamedTuple):
    """Rankings as people hold them, in any form that `read` takes.

    Attributes:
        predictions: scores.
        references: relevances.
        query_ids: of flat rows.
        document_ids: of flat rows.
        exclude: documents to leave out: ``{query: ids}``, of ranked ids a list of ids for each query, the
            ``Pairs`` of a frame, or a file's ``Columns``.
    """

    predictions: Any
    references: Any
    query_ids: Any = None
    document_ids: Any = None
    exclude: Any = None


class Rankings(NamedTuple):
    """Queries and their documents, as the arrays that the kernel takes.

    Attributes:
        relevance: shape ``(queries, documents)``, or 1-D with ``offsets``.
        score: as ``relevance``.
        offsets: where each query begins, from 0, and the last one ends: int64 of shape
            ``(queries + 1,)``; None for 2-D arrays.
        judged: False where the relevance is missing; None if none is.
        retrieved: False where the score is missing; None if none is.
        place: words for a query, by its index, and a document in it, by its position or None,
            where people know them by ids.
        query_ids: the id of each query, where they have ids.
        missing: True for each query that the predictions lack; None if ids do not tell.
    """

    relevance: NDArray[Any]
    score: NDArray[Any]
    offsets: NDArray[np.int64] | None = None
    judged: Mask | None = None
    retrieved: Mask | None = None
    place: Place | None = None
    query_ids: Sequence[Any] | pa.Array | None = None
    missing: Mask | None = None

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.relevance) if self.offsets is None else len(self.offsets) - 1

    def only(self, kept: Mask) -> "Rankings":
        """Return the same documents, neither judged nor retrieved where a mask is False."""
        judged, retrieved = (kept if mask is None else kept & mask for mask in (self.judged, self.retrieved))
        return self._replace(judged=judged, retrieved=retrieved)

    def arrays(self) -> dict[str, Any]:
        """Return what the kernel takes, by name."""
        not_arrays = ("place", "query_ids", "missing")
        return {name: value for name, value in self._asdict().items() if name not in not_arrays}

    def counts(self) -> dict[str, NDArray[np.int64]]:
        """Return how many documents of each query were retrieved, judged, and judged relevant.

        >>> {name: counts.tolist() for name, counts in read([[.9, None, .1]], [[1, 2, None]]).counts().items()}
        {'retrieved': [2], 'judged': [2], 'relevant': [2], 'retrieved and judged': [1]}
        """
        everything = np.ones(self.relevance.shape, bool)
        judged = everything if self.judged is None else self.judged
        retrieved = (everything if self.retrieved is None else self.retrieved) & (self.score > -np.inf)
        return {
            "retrieved": self._sums(retrieved),
            "judged": self._sums(judged),
            "relevant": self._sums(judged & (self.relevance > 0)),
            "retrieved and judged": self._sums(retrieved & judged),
        }

    def pieces(self, documents: int) -> Iterator["Rankings"]:
        """Yield the same queries in pieces of about so many documents each.

        >>> [piece.queries for piece in read(np.eye(5), np.eye(5)).pieces(documents=10)]
        [2, 2, 1]
        """
        offsets = np.arange(self.queries + 1) * self.relevance.shape[1] if self.offsets is None else self.offsets
        cuts = np.flatnonzero(np.diff(np.maximum(offsets - 1, 0) // documents)).tolist()
        for start, stop in pairwise(sorted({0, *cuts, self.queries})):
            rows = slice(start, stop) if self.offsets is None else slice(*offsets[[start, stop]].tolist())
            yield Rankings(
                self.relevance[rows],
                self.score[rows],
                None if self.offsets is None else offsets[start : stop + 1] - offsets[start],
                None if self.judged is None else self.judged[rows],
                None if self.retrieved is None else self.retrieved[rows],
                None if self.place is None else partial(_later, self.place, start),
                None if self.query_ids is None else self.query_ids[start:stop],
                None if self.missing is None else self.missing[start:stop],
            )

    def empty(self) -> Mask:
        """Return which queries have no documents at all, such as lists that are padding throughout.

        >>> read([[.9], []], [[1], []]).empty().tolist()
        [False, True]
        """
        if self.judged is None or self.retrieved is None:
            return np.asarray(self._sums(np.ones(self.relevance.shape, bool)) == 0)
        return np.asarray(self._sums(self.judged | self.retrieved) == 0)

    def _sums(self, mask: Mask) -> NDArray[np.int64]:
        if self.offsets is None:
            return np.asarray(mask.sum(axis=1, dtype=np.int64))
        until = np.concatenate([[0], np.cumsum(mask)])
        return np.asarray(until[self.offsets[1:]] - until[self.offsets[:-1]])


def _later(place: Place, queries: int, query: int, position: int | None) -> str:
    """Return the words for a place so many queries later."""
    return place(queries + query, position)


def read(
    predictions: Any,
    references: Any,
    query_ids: Any = None,
    document_ids: Any = None,
    exclude: Any = None,
    *,
    ignore_index: float | None = None,
    judged_only: bool = False,
    by_docid: bool = False,
) -> Rankings:
    """Align predictions and references.

    Args:
        predictions: the score of each document of each query: a 2-D array (masked too), a
            sequence of 1-D arrays or of sequences, a column of lists that Arrow can read; with
            ``query_ids`` one score after the other; or a mapping ``{query: {document: score}}``
            or a file's ``Columns``; or ranked ids, as ``by_ranked_ids`` takes them. None, a masked
            value or ``-inf`` marks a document that was not retrieved.
        references: their relevance, likewise. None or a masked value marks a document that
            was not judged.
        query_ids: for flat predictions and references, the id of each row's query: integers or
            strings. Rows of a query need not be next to each other.
        document_ids: with ``query_ids``, the id of each row's document, likewise.
        exclude: documents to leave out, as ``Inputs`` has them.
        ignore_index: the reference that marks padding: such a document is no part of the ranking.
            It is compared in the type of each reference: in float32, 1e30 marks what float32 makes of it.
        judged_only: leave out documents that were not judged.
        by_docid: give documents of equal score in ascending order of their ids, as text, so that a
            ranking that puts the last of them first ranks them as trec_eval does. Documents by
            position have no ids and keep their order.

    Returns:
        The rankings. Arrays are not copied, but for ragged lists of them. Queries are in the order
        of the references, flat ones in that of their first rows.

    Raises:
        ValueError: values that are no numbers, or other queries or documents on one side
            than on the other; a document twice in a query; with ``by_docid``, flat rows whose
            order only ``document_ids`` could tell. Names the argument, query and position.

    >>> read([[.9, None], [.1]], [[1, 2], [0]]).retrieved.tolist()
    [True, False, True]
    >>> read({"q": {"a": .9, "b": .1}}, {"q": {"b": 1, "c": 2}}).retrieved.tolist()
    [True, True, False]
    """
    inputs = _settled(Inputs(predictions, references, query_ids, document_ids, exclude))
    return _align(inputs, ignore_index=ignore_index, judged_only=judged_only, by_docid=by_docid)


def _settled(inputs: Inputs) -> Inputs:
    """Return inputs of other libraries as arrays."""
    return Inputs(*settled(**inputs._asdict()))


def _align(
    inputs: Inputs, *, ignore_index: float | None = None, judged_only: bool = False, by_docid: bool = False
) -> Rankings:
    """Align predictions and references that are settled, as `read` does."""
    rankings = _drop_padding(_join(inputs, by_docid, ignore_index), judged_only)
    if by_docid and inputs.query_ids is not None and inputs.document_ids is None:
        _refuse_ambiguous_ties(rankings)
    return rankings


def _join(inputs: Inputs, by_docid: bool, ignore_index: float | None) -> Joined:
    """Bring both sides into one order of queries and documents."""
    predictions, references, query_ids, document_ids, exclude = inputs
    for argument, side in (("predictions", predictions), ("references", references)):
        if side is None:
            raise ValueError(f"{argument} are missing; give predictions and references together")
    if query_ids is None and (ranked := by_ranked_ids(predictions, references)) is not None:
        if exclude is not None:
            ranked = without(by_position(exclude, len(predictions)), *ranked)
        return join_by_id(*ranked, by_docid, ignore_index)._replace(query_ids=None)
    by_id = are_by_id(predictions, references)
    if query_ids is not None and by_id:
        raise ValueError("query_ids are for flat predictions and references; a mapping or a file has ids of its own")
    if document_ids is not None and query_ids is None:
        raise ValueError("document_ids are for flat predictions and references; give query_ids too")
    if exclude is not None and document_ids is None and not by_id:
        raise ValueError("exclude: documents have no ids; give query_ids and document_ids, mappings, or ranked ids")
    if query_ids is not None:
        excluded = None if exclude is None else partial(excluded_rows, exclude)
        return join_rows(predictions, references, query_ids, document_ids, by_docid, ignore_index, excluded)
    if by_id:
        if exclude is not None:
            predictions, references = without(exclude, predictions, references)
        return join_by_id(predictions, references, by_docid, ignore_index)
    score, relevance = read_column("predictions", predictions), read_column("references", references, ignore_index)
    if score.offsets is None and relevance.offsets is None and score.values.shape == relevance.values.shape:
        return Joined(score, relevance)
    scored, judged = score.lengths, relevance.lengths
    check_queries_equal(len(scored), len(judged))
    if (different := scored != judged).any():
        query = int(np.flatnonzero(different)[0])
        raise ValueError(
            f"query {query}: {scored[query]} predictions and {judged[query]} references; give "
            "both for every document, None for the score of one not retrieved or the relevance of one not judged; or, "
            "if these are document ids, give the references as sets"
        )
    return Joined(score.flat(), relevance.flat())


def _drop_padding(joined: Joined, judged_only: bool) -> Rankings:
    """Return the rankings without padding, and without the unjudged if only the judged are asked for."""
    score, relevance = joined.score, joined.relevance
    if relevance.padding is not None and relevance.padding.any():
        kept = ~relevance.padding
        if relevance.present is not None:
            kept |= ~relevance.present  # what has no relevance is no padding
        score, relevance = score.only(kept), relevance.only(kept)
    if judged_only and relevance.present is not None:
        score = score.only(relevance.present | ~(score.values < np.inf))  # what is no score stays, to be refused
    rankings = Rankings(relevance.values, score.values, score.offsets, relevance.present, score.present)
    return rankings._replace(place=joined.place, query_ids=joined.query_ids, missing=joined.missing)


def _refuse_ambiguous_ties(rankings: Rankings) -> None:
    """Raise an error where the order of flat rows of equal score would decide, for want of document ids."""
    if rankings.offsets is None or rankings.place is None:
        return
    begins = rankings.offsets
    query = np.repeat(np.arange(rankings.queries), begins[1:] - begins[:-1])
    rows = np.arange(len(query)) if rankings.retrieved is None else np.flatnonzero(rankings.retrieved)
    rows = rows[tied_rows(query[rows], rankings.score[rows])]
    rows = rows[np.lexsort((rankings.score[rows], query[rows]))]
    judged = np.ones(len(query), bool) if rankings.judged is None else rankings.judged
    relevance = np.where(judged, rankings.relevance, 0)
    first, second = rows[:-1], rows[1:]
    together = (query[first] == query[second]) & (rankings.score[first] == rankings.score[second])
    unlike = (judged[first] != judged[second]) | (relevance[first] < relevance[second])
    unlike |= relevance[first] > relevance[second]  # NaN is neither, and refused elsewhere
    if (open_ties := together & unlike).any():
        at = int(open_ties.argmax())
        places = [rankings.place(int(query[row]), int(row - begins[query[row]])) for row in (first[at], second[at])]
        raise ValueError(
            f'document_ids are missing: {places[0]} and {places[1]} have the same score, and ties="docid" (which '
            'convention="trec_eval" means) ranks them by the ids of their documents; give these as document_ids, or '
            'other ties, such as ties="average"'
        )


def parts(inputs: Inputs, **how: Any) -> Iterator[Rankings]:
    """Align predictions and references, part by part where they are nested lists or chunked columns of lists.

    >>> table = pa.table({"predictions": [[.9, .1]], "references": [[1., 0.]]})
    >>> [part.queries for part in parts(Inputs(table["predictions"], table["references"]))]
    [1]
    """
    whole = _settled(inputs)
    for piece in _pieces(whole):
        try:
            rankings = _align(piece, **how)
        except ValueError:
            if piece is not whole:  # say the same of the query as all of them are counted
                _align(whole, **how)
            raise
        yield rankings


def _pieces(inputs: Inputs) -> Iterator[Inputs]:
    """Cut both sides into pieces of about PART documents where they are copied, so that the copies are small."""
    predictions, references, query_ids = inputs[:3]
    sides = predictions, references
    lengths = np.zeros(1, np.int64)
    if query_ids is not None:
        yield inputs
        return
    if all(map(_is_column_of_lists, sides)) and any(side.num_chunks > 1 for side in sides):
        lengths = pc.fill_null(pc.list_value_length(predictions), 0).to_numpy().astype(np.int64)
    elif all(isinstance(side, (list, tuple)) and side and isinstance(side[0], (list, tuple)) for side in sides):
        with suppress(TypeError):  # a row is no list, as reading all of them will say
            lengths = np.fromiter(map(len, predictions), np.int64)
    part = np.cumsum(lengths) // PART
    cuts = (np.flatnonzero(part[1:] != part[:-1]) + 1).tolist()
    if not cuts or len(predictions) != len(references):
        yield inputs
        return
    for start, end in pairwise([0, *cuts, len(predictions)]):
        yield inputs._replace(predictions=predictions[start:end], references=references[start:end])


def _is_column_of_lists(side: Any) -> bool:
    if not isinstance(side, pa.ChunkedArray):
        return False
    return bool(pa.types.is_list(side.type) or pa.types.is_large_list(side.type))


def to_arrow(rankings: Rankings) -> tuple[pa.Array, pa.Array]:
    """Predictions and references as Arrow lists; missing as nulls.

    Floats, and integers of up to 16 bits, keep their type, in which ``ignore_index`` is compared; others are float64.

    Raises:
        ValueError: integers that float64 cannot tell apart.
    """
    score = Column(rankings.score, rankings.offsets, rankings.retrieved).flat()
    relevance = Column(rankings.relevance, rankings.offsets, rankings.judged).flat()
    lists = []
    for argument, column in (("predictions", score), ("references", relevance)):
        missing = None if column.present is None else ~column.present
        kind = column.values.dtype
        narrow = kind.itemsize <= (4 if kind.kind == "f" else 2)
        try:
            values = pa.array(column.values, mask=missing)
            values = values if narrow else values.cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise ValueError(f"{argument}: integers beyond 2**53 cannot be stored exactly: {error}") from None
        lists.append(pa.ListArray.from_arrays(pa.array(column.offsets, pa.int32()), values))
    return lists[0], lists[1]


def without_padding(table: pa.Table, ignore_index: float) -> pa.Table:
    """Return columns ``predictions`` and ``references`` of lists with nulls for padding."""
    rankings = read(table["predictions"], table["references"], ignore_index=ignore_index)
    return pa.table(dict(zip(("predictions", "references"), to_arrow(rankings), strict=True)))
