"""Read rankings in any format as aligned arrays of relevance and score.

Rankings come by position, as nested lists, arrays, tensors or columns of lists; flat,
one row per document with the id of its query; or by the ids of queries and documents. ``read``
converts each format to :class:`Rankings`: the values of all queries one after the other, the start of
each query, and two masks of the documents that were judged and that were retrieved.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..measure.scoring import InvalidRankingError
from .columns import Column, numbered, read_column
from .exclusion import by_position
from .hashes import Columns
from .ids import check_ids
from .joins import join_by_id, join_rows, refuse_open_ties
from .ranked_ids import by_ranked_ids, check_queries_equal, with_ids_by_query
from .rankings import Rankings, to_arrow
from .sources import is_sparse, settled, table_error
from .sparse import dense_pieces, join_sparse
from .tables import NAMES, table_records

# Nested lists and chunked columns are read in parts of about this many documents.
PART = 1 << 20


class Inputs(NamedTuple):
    """Rankings in any format that `read` accepts.

    Attributes:
        predictions: the scores.
        references: the relevances.
        query_ids: the query ids of flat rows.
        document_ids: the document ids of flat rows.
        exclude: documents to exclude: ``{query: ids}``, for ranked ids a list of ids for each query, the
            ``Pairs`` of a DataFrame, or the ``Columns`` of a file.
        sample_weight: the weight of each query.
        by: the slice of each query.
    """

    predictions: Any
    references: Any
    query_ids: Any = None
    document_ids: Any = None
    exclude: Any = None
    sample_weight: Any = None
    by: Any = None

    @property
    def rankings(self) -> dict[str, Any]:
        """All but weights and slices, which are values of queries: the arguments of `read`."""
        return {name: getattr(self, name) for name in Inputs._fields[:5]}

    def settled(self) -> "Inputs":
        """Return rankings of other libraries as arrays."""
        return self._replace(**dict(zip(self.rankings, settled(**self.rankings), strict=True)))


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
    score_dtype: str = "given",
    score_order: str = "descending",
) -> Rankings:
    """Align predictions and references.

    Args:
        predictions: the score of each document of each query: a 2-D array (masked too), a
            sequence of 1-D arrays or of sequences, a column of lists that Arrow can read; with
            ``query_ids`` one score after the other; or a mapping ``{query: {document: score}}``
            or the ``Columns`` of a file; or a sparse matrix of SciPy; or ranked ids, as in ``by_ranked_ids`` and
            ``with_ids_by_query``. None, a masked value or ``-inf`` marks a document that was not retrieved.
        references: the relevance of the documents, in the same format. None or a masked value marks a
            document that was not judged.
        query_ids: for flat predictions and references, the id of each row's query: integers or
            strings. Rows of a query need not be next to each other.
        document_ids: with ``query_ids``, the id of each row's document: integers or strings.
        exclude: documents to exclude, as in ``Inputs``.
        ignore_index: the reference that marks padding: such a document is not part of the ranking.
            It is compared in the type of each reference: in float32, 1e30 marks 1e30 rounded to float32.
        judged_only: remove documents that were not judged.
        by_docid: put documents with equal scores in ascending order of their ids, compared as strings: a
            ranking with the last of them first then equals trec_eval's ranking. Documents by position have
            no ids and keep their order.
        score_dtype: the type in which scores are compared, ``"given"`` or ``"float32"``.
        score_order: ``"descending"``, or ``"ascending"`` if the lowest score ranks first and ``inf`` marks a document
            that was not retrieved. Ranked ids keep their order.

    Returns:
        The rankings, of which the highest score ranks first. Arrays are not copied, except for ragged lists of them and
        to change the type or the order of scores.
        Queries are in the order of the references, or, in flat columns, in the order of their first rows.

    Raises:
        ValueError: a value is not a number; the sides have different queries or documents; a document appears
            twice in a query; with ``by_docid``, flat rows have an order that only ``document_ids`` could decide;
            a score is too large for ``score_dtype``. Names the argument, query and position.

    >>> read([[.9, None], [.1]], [[1, 2], [0]]).retrieved.tolist()
    [True, False, True]
    >>> read({"q": {"a": .9, "b": .1}}, {"q": {"b": 1, "c": 2}}).retrieved.tolist()
    [True, True, False]
    """
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude)
    how: dict[str, Any] = {"score_dtype": score_dtype, "score_order": score_order}
    return _align(inputs.settled(), ignore_index=ignore_index, judged_only=judged_only, by_docid=by_docid, **how)


def _align(
    inputs: Inputs,
    *,
    ignore_index: float | None = None,
    judged_only: bool = False,
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    first_query: int = 0,
) -> Rankings:
    """Align predictions and references that are settled, as `read` does."""
    how: dict[str, Any] = {"score_dtype": score_dtype, "score_order": score_order}
    rankings = _join(inputs, by_docid=by_docid, ignore_index=ignore_index, **how)
    try:
        rankings = rankings.with_scores_in(score_dtype).with_highest_first(score_order)
    except InvalidRankingError as error:
        place, before = (numbered, first_query) if rankings.place is None else (rankings.place, 0)
        raise ValueError(f"predictions: {place(before + error.query, error.position)}: {error.problem}") from None
    if rankings.place is not None:
        rankings = rankings.matched()
    if judged_only:
        rankings = rankings.of_judged()
    if by_docid and inputs.query_ids is not None and inputs.document_ids is None:
        refuse_open_ties(rankings, score_dtype)
    return rankings


def _join(inputs: Inputs, **how: Any) -> Rankings:
    """Bring both sides into the same order of queries and documents, according to their format."""
    predictions, references, query_ids, document_ids, exclude = inputs.rankings.values()
    for argument, side in (("predictions", predictions), ("references", references)):
        if side is None:
            raise ValueError(f"{argument} are missing; give predictions and references together")
        kind = {"predictions": "run", "references": "qrels"}[argument]
        if (records := table_records(side, NAMES[kind])) is not None:
            raise table_error(argument, records[0])  # else its rows or its columns would be queries
    if query_ids is None and exclude is None and _are_columns(predictions, references):
        return join_sparse(predictions, references, how["ignore_index"], how["score_order"])
    if query_ids is None and (ranked := by_ranked_ids(predictions, references, how["score_order"])) is not None:
        exclude = None if exclude is None else by_position(exclude, len(predictions))
        return join_by_id(*ranked, exclude, **how)._replace(query_ids=None)
    predictions, references = with_ids_by_query(predictions, references, how["score_order"])
    by_id = _are_by_id(predictions, references)
    if query_ids is not None and by_id:
        raise ValueError("query_ids are for flat predictions and references; a mapping or a file has ids of its own")
    if document_ids is not None and query_ids is None:
        raise ValueError("document_ids are for flat predictions and references; give query_ids too")
    if exclude is not None and document_ids is None and not by_id:
        raise ValueError("exclude: documents have no ids; give query_ids and document_ids, mappings, or ranked ids")
    if query_ids is not None:
        return join_rows(**inputs.rankings, **how)
    if by_id:
        return join_by_id(predictions, references, exclude, **how)
    return join_lists(predictions, references, how["ignore_index"], how["score_order"])


def _are_columns(predictions: Any, references: Any) -> bool:
    """Return whether a side is sparse, and the other one too or no mapping or file."""
    return any(map(is_sparse, (predictions, references))) and not any(
        isinstance(side, (Mapping, Columns)) for side in (predictions, references)
    )


def _are_by_id(predictions: Any, references: Any) -> bool:
    """Return whether both sides are mappings or files.

    Raises:
        ValueError: only one side is, or a key of a mapping is not an id.
    """
    for argument, side in (("predictions", predictions), ("references", references)):
        if not isinstance(side, Mapping):
            continue
        check_ids(argument, side, nested=False)
    by_id = [isinstance(side, (Mapping, Columns)) for side in (predictions, references)]
    if by_id[0] != by_id[1]:
        kinds = [
            "by ids" if each else f"by position ({type(side).__name__})"
            for each, side in zip(by_id, (predictions, references), strict=True)
        ]
        raise ValueError(f"predictions are {kinds[0]} and references {kinds[1]}; give both in the same way")
    return by_id[0]


def join_lists(predictions: Any, references: Any, ignore_index: float | None, score_order: str) -> Rankings:
    """Return rankings in which each query is a list, with the same documents on both sides, and scores as given."""
    score = read_column("predictions", predictions).without_unretrieved(score_order)
    relevance = read_column("references", references, ignore_index)
    check_queries_equal(len(score.offsets) - 1, len(relevance.offsets) - 1)
    if (score.offsets != relevance.offsets).any():
        scored, judged = np.diff(score.offsets), np.diff(relevance.offsets)
        query = int(np.flatnonzero(scored != judged)[0])
        raise ValueError(
            f"query {query}: {scored[query]} predictions and {judged[query]} references; give "
            "both for every document, None for the score of one not retrieved or the relevance of one not judged; or, "
            "if these are document ids, give the references as sets"
        )
    _refuse_triples(score, relevance)
    return Rankings.of(score, relevance)


def _refuse_triples(score: Column, relevance: Column) -> None:
    """Raise an error for rows of a user, an item and a value on both sides: each would be a query of three documents.

    Users and items are whole numbers, the same pair on both sides and another one in each row. Scores and relevances
    of three documents may be like that in a few queries of small numbers, hardly in five queries or with a 10.
    """
    if len(score.offsets) < 3 or (np.diff(score.offsets) != 3).any():
        return
    rows, others = (side.values.reshape(-1, 3) for side in (score, relevance))
    pairs = rows[:, :2].astype(np.float64)
    may_be_scores = len(pairs) < 5 and (pairs < 10).all()
    if may_be_scores or (pairs != others[:, :2]).any() or (rows == others).all():
        return
    if (pairs == np.trunc(pairs)).all() and len(np.unique(pairs, axis=0)) == len(pairs):
        examples = (f"({user:.0f}, {item:.0f}, {value:g})" for user, item, value in (rows[0], others[0]))
        raise ValueError(
            f"both sides hold rows of a user, an item and a value, such as {' and '.join(examples)}, and each would be "
            "a query of three documents; give the columns: query_ids=users, document_ids=items, and the values as "
            "predictions and references, with the rows of both sides in the same order"
        )


def parts(inputs: Inputs, **how: Any) -> Iterator[Rankings]:
    """Align predictions and references, part by part if they are nested lists or chunked columns of lists.

    >>> table = pa.table({"predictions": [[.9, .1]], "references": [[1., 0.]]})
    >>> [part.queries for part in parts(Inputs(table["predictions"], table["references"]))]
    [1]
    """
    whole = inputs.settled()
    for piece in _pieces(whole):
        try:
            rankings = _align(piece, **how)
        except ValueError:
            if piece is not whole:  # raise the error with the index among all queries
                _align(whole, **how)
            raise
        yield rankings


def _pieces(inputs: Inputs) -> Iterator[Inputs]:
    """Cut both sides into pieces of about PART documents if they are copied, so that the copies are small."""
    predictions, references, query_ids = inputs[:3]
    sides = predictions, references
    lengths = np.zeros(1, np.int64)
    sparse = [is_sparse(side) for side in sides]
    if query_ids is not None or all(sparse):
        yield inputs
        return
    if any(sparse):
        for rows in dense_pieces(predictions, references, PART):
            yield inputs._replace(predictions=rows[0], references=rows[1])
        return
    if all(map(_is_column_of_lists, sides)) and any(side.num_chunks > 1 for side in sides):
        lengths = pc.fill_null(pc.list_value_length(predictions), 0).to_numpy().astype(np.int64)
    elif all(isinstance(side, (list, tuple)) and side and isinstance(side[0], (list, tuple)) for side in sides):
        with suppress(TypeError):  # a row is not a list: reading them all raises the error
            lengths = np.fromiter(map(len, predictions), np.int64)
    documents = lengths.cumsum()
    if len(documents) < 2 or documents[-1] < PART or len(predictions) != len(references):
        yield inputs
        return
    part = documents // PART
    cuts = ((part[1:] != part[:-1]).nonzero()[0] + 1).tolist()
    for start, end in pairwise([0, *cuts, len(predictions)]):
        yield inputs._replace(predictions=predictions[start:end], references=references[start:end])


def _is_column_of_lists(side: Any) -> bool:
    if not isinstance(side, pa.ChunkedArray):
        return False
    return bool(pa.types.is_list(side.type) or pa.types.is_large_list(side.type))


def without_padding(table: pa.Table, ignore_index: float) -> pa.Table:
    """Return the columns of lists ``predictions`` and ``references`` with nulls for padding."""
    rankings = read(table["predictions"], table["references"], ignore_index=ignore_index)
    return pa.table(dict(zip(("predictions", "references"), to_arrow(rankings), strict=True)))
