"""Join rankings by ids, query by query: flat rows with the id of their query, mappings, and files.

Each join puts predictions and references into the same order: all queries of the references, or all queries of flat
rows.
"""

from collections.abc import Callable, Mapping
from itertools import chain, repeat
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..measure.messages import shown
from ..measure.scoring import in_threads
from .columns import Column, beyond_2_53, in_dtype, is_padding, offsets_of, read_flat_column, read_numbers
from .exclusion import excluded_counts, excluded_rows, without
from .hashes import Columns, hashes_of, same_rows
from .ids import (
    THREADED,
    Ids,
    Order,
    RowNumbers,
    ascending,
    check_ids,
    family,
    float_hint,
    grouped,
    id_column,
    id_kind,
    index_among,
    ordinals,
    read_ids,
)
from .rankings import Rankings

Side = Mapping[Any, Mapping[Any, Any]]
UNRETRIEVED = {"descending": -np.inf, "ascending": np.inf}  # the score of a document that was not retrieved


# Flat rows


def join_rows(
    predictions: Any,
    references: Any,
    query_ids: Any,
    document_ids: Any = None,
    exclude: Any = None,
    *,
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    ignore_index: float | None = None,
) -> Rankings:
    """Group rows by query. Rows of a query keep their order, except ties, which are ordered by document id."""
    queries = read_ids("query_ids", query_ids)
    documents = None if document_ids is None else read_ids("document_ids", document_ids)
    codes, ids = queries.codes, queries.distinct

    def row_of(_: int, row: int | None) -> str:
        if row is None or row >= queries.rows:
            return f"row {row}"
        return f"query {shown(ids[int(codes[row])].as_py())}, row {row}"

    score = read_flat_column("predictions", predictions, row_of).without_unretrieved(score_order)
    relevance = read_flat_column("references", references, row_of, ignore_index)
    _check_lengths(score, relevance, queries, documents)
    order, offsets = queries.grouped()
    if documents is not None:
        _refuse_repeated(codes, documents, row_of)
        if by_docid:
            text, document = ordinals(documents.distinct), documents.codes
            order = _sort_ties(order, codes, in_dtype(score.values, score_dtype), lambda tied: text[document[tied]])

    def rows_of(query: int) -> NDArray[np.int64]:
        return np.arange(len(codes))[order][offsets[query] : offsets[query + 1]]

    def place(query: int, position: int | None) -> str:
        name = f"query {shown(ids[query].as_py())}"
        if position is None:
            return name
        row = int(rows_of(query)[position])
        id_ = "" if documents is None else f", document {shown(documents.distinct[int(documents.codes[row])].as_py())}"
        return f"{name}, row {row}{id_}"

    def documents_of(query: int) -> list[Any]:
        rows = rows_of(query)
        return list(rows.tolist() if documents is None else documents.distinct.take(documents.codes[rows]).to_pylist())

    threads = None if len(codes) > THREADED else 1
    score, relevance = in_threads(lambda side: side.reordered(order, offsets), (score, relevance), threads=threads)
    rankings = Rankings.of(score, relevance, place=place, query_ids=ids, documents=documents_of)
    if exclude is None or documents is None:
        return rankings
    kept = ~excluded_rows(exclude, queries, documents)[order]
    given = Rankings(relevance.values, score.values, offsets, relevance.present, score.present)  # padding too
    had, has = given.counts(), given.only(kept).counts()
    counts = np.stack([had[name] - has[name] for name in ("retrieved", "judged")], axis=1)
    return rankings.only(kept)._replace(excluded=counts)


def _check_lengths(score: Column, relevance: Column, queries: Ids, documents: Ids | None) -> None:
    """Raise an error unless all columns have the same number of rows."""
    rows = {"predictions": len(score.values), "references": len(relevance.values), "query_ids": queries.rows}
    if documents is not None:
        rows["document_ids"] = documents.rows
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{name} {length}" for name, length in rows.items())
        hint = "first join tables with different rows by query and document, with an outer join (docs/inputs.md)"
        sizes = queries.distinct.take(pa.array(queries.codes)).to_pylist() if queries.rows < len(score.values) else []
        if all(isinstance(each, int) for each in sizes) and len(score.values) in (sum(sizes), max(sizes, default=0)):
            hint = (
                "for sizes of groups give numpy.repeat(range(len(sizes)), sizes), for their ends numpy.diff(ends) first"
            )
        raise ValueError(
            "with query_ids, all columns must be flat and have the same length, one row per document; got "
            f"{lengths} rows; {hint}"
        )


def _refuse_repeated(query: RowNumbers, documents: Ids, row_of: Callable[[int, int], str]) -> None:
    """Raise an error for a document that appears in two rows of a query."""
    pairs = query * len(documents.distinct) + documents.codes
    ascending = np.sort(pairs)
    if (repeated := ascending[1:][ascending[1:] == ascending[:-1]]).size:
        first, second = np.flatnonzero(pairs == repeated[0])[:2].tolist()
        document = shown(documents.distinct[int(documents.codes[second])].as_py())
        place = f"{row_of(0, second)}: document {document}"
        raise ValueError(f"document_ids: {place} is in row {first} already; give it once for a query")


def refuse_open_ties(rankings: Rankings, score_dtype: str) -> None:
    """Raise an error if the order of equal scores in flat rows matters, since the rows have no document ids."""
    if rankings.place is None:
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
    unlike |= relevance[first] > relevance[second]  # NaN is neither above nor equal; it is rejected elsewhere
    if (open_ties := together & unlike).any():
        at = int(open_ties.argmax())
        places = [rankings.place(int(query[row]), int(row - begins[query[row]])) for row in (first[at], second[at])]
        same = "the same score" if score_dtype == "given" else f"the same score in {score_dtype}"
        raise ValueError(
            f'document_ids are missing: {places[0]} and {places[1]} have {same}, and ties="docid" (which '
            'convention="trec_eval" means) ranks them by the ids of their documents; give these as document_ids, or '
            'other ties, such as ties="average"'
        )


# Mappings and files


def join_by_id(
    predictions: Any,
    references: Any,
    exclude: Any = None,
    *,
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    ignore_index: float | None = None,
) -> Rankings:
    """Join mappings or files: for each query of the references, first the retrieved documents, then the others."""
    given = predictions, references
    if exclude is not None:
        predictions, references = without(exclude, *given)
    if isinstance(predictions, Mapping) and isinstance(references, Mapping):
        rankings = _join_mappings(predictions, references, by_docid, ignore_index)
    else:
        kind = next(side for side in (predictions, references) if isinstance(side, Columns)).query_ids.type
        run = _side_columns("predictions", predictions, kind, score_order=score_order)
        qrels = _side_columns("references", references, kind, ignore_index)
        rankings = _join_columns(run, qrels, by_docid, score_dtype, score_order, ignore_index)
    if exclude is None:
        return rankings
    return rankings._replace(excluded=excluded_counts(given, (predictions, references)))


def _join_mappings(predictions: Side, references: Side, by_docid: bool, ignore_index: float | None) -> Rankings:
    if predictions and references and predictions.keys().isdisjoint(references):
        raise _nothing_shared(next(iter(predictions)), next(iter(references)))
    scores: list[Any] = []
    relevances: list[Any] = []
    is_retrieved = bytearray()
    lengths = []
    id_types: set[type] = set()
    value_types: set[type] = {NoneType}
    for query, judged in references.items():
        run = predictions.get(query, {})
        id_types.update(map(type, run), map(type, judged))
        value_types.update(map(type, judged.values()))
        if by_docid:
            run = {document: run[document] for document in ascending(run)}
        scores.extend(run.values())
        relevances.extend(map(judged.get, run))  # None if not judged
        missing = [document for document in judged if document not in run]
        scores.extend(repeat(0, len(missing)))
        relevances.extend(map(judged.__getitem__, missing))
        is_retrieved += b"\1" * len(run) + b"\0" * len(missing)
        lengths.append(len(run) + len(missing))
    if not all(map(id_kind, id_types)):
        check_ids("predictions", predictions)
        check_ids("references", references)

    names = list(references)

    def documents(query: int) -> list[Any]:
        run = predictions.get(names[query], {})
        ranked = ascending(run) if by_docid else list(run)
        return [*ranked, *(document for document in references[names[query]] if document not in run)]

    def place(query: int, position: int | None) -> str:
        document = "" if position is None else f", document {shown(documents(query)[position])}"
        return f"query {shown(names[query])}{document}"

    offsets = offsets_of(lengths)
    score = read_numbers("predictions", [scores], offsets, place)
    relevance = read_numbers("references", [relevances], offsets, place, ignore_index, value_types)
    retrieved = np.frombuffer(is_retrieved, bool)
    both = retrieved if relevance.present is None else retrieved & relevance.present
    if not both.any() and (types := _id_types(predictions, references)):
        problem = f"ids are {types[0]} in the predictions, {types[1]} in the references"
        raise ValueError(f"predictions: no document is in the references; {problem}; give both the same type")
    are_empty = (query in predictions and not predictions[query] for query in references)
    answered = np.fromiter(are_empty, bool, len(names))
    of_queries = {"place": place, "query_ids": names, "answered": answered, "documents": documents}
    return Rankings.of(score.only(retrieved), relevance, **of_queries)


def _nothing_shared(predicted: Any, referred: Any) -> ValueError:
    """Return the error for predictions and references without a query in common."""
    ids = f"{shown(predicted)} in the predictions, {shown(referred)} in the references"
    hint = float_hint(shown(predicted), shown(referred))
    return ValueError(f"predictions: no query is in the references; ids are such as {ids}{hint}")


def _id_types(*sides: Side) -> list[str] | None:
    """Return the types of document ids, if predictions and references share none."""
    types = [{type(document) for documents in side.values() for document in documents} for side in sides]
    if not all(types) or types[0] & types[1]:
        return None
    return [" and ".join(sorted(each.__name__ for each in side)) for side in types]


def _side_columns(
    argument: str, side: Any, kind: pa.DataType, ignore_index: float | None = None, score_order: str = "descending"
) -> Columns:
    """Return one side as columns; padding in them is ``ignore_index`` in float64, whatever its original type.

    `kind` is the type of ids on the other side. Columns are returned unchanged.
    """
    if isinstance(side, Columns):
        return side
    queries = _ids(argument, "query ids", list(side), kind)
    lengths = [len(documents) for documents in side.values()]
    try:
        documents = _ids(argument, "document ids", list(chain.from_iterable(side.values())), kind)
    except ValueError:  # name the query
        for query, of_query in side.items():
            _ids(f"{argument}: query {shown(query)}", "document ids", list(of_query), kind)
        raise

    def place(query: int, position: int | None) -> str:
        name = list(side)[query]
        return f"query {shown(name)}, document {shown(list(side[name])[position or 0])}"

    given = list(chain.from_iterable(each.values() for each in side.values()))
    offsets = offsets_of(lengths)
    column = read_numbers(argument, [given], offsets, place, ignore_index)
    query = np.repeat(np.arange(len(lengths)), lengths)
    if column.values.dtype.kind in "iu" and (large := np.flatnonzero(beyond_2_53(column.values))).size:
        at = int(large[0])
        problem = f"{shown(given[at])} may be rounded next to a file's numbers; give both sides as mappings"
        raise ValueError(f"{argument}: {place(int(query[at]), at - int(offsets[query[at]]))}: {problem}")
    values = column.values.astype(np.float64)
    if column.padding is not None:
        values[column.padding] = ignore_index
    if column.present is not None and argument == "predictions":  # a row shows that its query is not an empty list
        values[~column.present] = UNRETRIEVED[score_order]
    columns = Columns(query, queries.combine_chunks(), documents, values, hashes_of(documents))
    return columns if column.present is None or argument == "predictions" else columns.only(column.present)


def _ids(argument: str, side: str, ids: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    """Return ids as an Arrow column; beside text, only strings that a file can hold."""
    if id_kind(kind) != "text":
        return id_column(f"{argument}: {side}", ids)
    if not all(isinstance(each, str) for each in ids):
        first = next(each for each in ids if not isinstance(each, str))
        hint = "give both as files or both as tables"
        raise ValueError(f"{argument}: {side} must be strings, as in a file; got {shown(first)}; {hint}")
    try:
        found = pa.array(ids, pa.string())
        return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
    except UnicodeEncodeError as error:
        problem = f"got {shown(error.object)}, which UTF-8 cannot encode"
        hint = "decode ids in their own encoding, without errors='surrogateescape'"
        raise ValueError(f"{argument}: {side} must be Unicode text, as in a file; {problem}; {hint}") from None


def _join_columns(
    run: Columns, qrels: Columns, by_docid: bool, score_dtype: str, score_order: str, ignore_index: float | None
) -> Rankings:
    _refuse_other_kinds(run, qrels)
    known = index_among(run.query_ids, qrels.query_ids)
    if len(known) and len(qrels.query_ids) and (known < 0).all():
        raise _nothing_shared(run.query_ids[0].as_py(), qrels.query_ids[0].as_py())
    if (known != np.arange(len(known))).any():
        run = run._replace(query=known[run.query])
    if (known < 0).any():  # skip queries without judgments
        run = run.only(run.query >= 0)
    first, second = same_rows(run, qrels)
    second -= len(run.query)
    retrieved = np.zeros(len(qrels.query), bool)
    retrieved[second] = True
    order, until = grouped(run.query, len(qrels.query_ids))
    if by_docid and not run.are_rows:  # rows without ids of documents keep their order
        score = in_dtype(run.value, score_dtype)
        order = _sort_ties(order, run.query, score, lambda tied: ordinals(run.document.take(pa.array(tied))))
    # for each query, the documents of the run come first, then those that are missing from it
    lacked = np.flatnonzero(~retrieved)
    in_order, until_lacked = grouped(qrels.query[lacked], len(qrels.query_ids))
    lacked = lacked[in_order]
    at = until[qrels.query[lacked] + 1]

    def documents(index: int) -> list[Any]:
        rows = np.arange(len(run.query))[order][until[index] : until[index + 1]]
        missed = lacked[until_lacked[index] : until_lacked[index + 1]]
        return [*run.document.take(pa.array(rows)).to_pylist(), *qrels.document.take(pa.array(missed)).to_pylist()]

    def place(index: int, position: int | None) -> str:
        document = "" if position is None else f", document {shown(documents(index)[position])}"
        return f"query {shown(qrels.query_ids[index].as_py())}{document}"

    offsets = until + until_lacked
    score, is_whole = run.value[order], run.value.dtype.kind in "iu"
    if len(lacked):
        score = np.insert(score, at, 0 if is_whole else UNRETRIEVED[score_order])
    before = until_lacked[run.query[first]]
    if not isinstance(order, slice):
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first = rank[first]
    rows = np.concatenate([first + before, at + np.arange(len(lacked))])
    judged, relevance = np.zeros(len(score), bool), np.zeros(len(score), qrels.value.dtype)
    judged[rows], relevance[rows] = True, qrels.value[np.concatenate([second, lacked])]
    answered = np.zeros(len(qrels.query_ids), bool)
    answered[known[known >= 0]] = True
    answered &= until[1:] == until[:-1]  # queries with an empty list
    padding = is_padding(relevance, ignore_index)
    references = Column(relevance, offsets, padding=padding).only(judged)
    of_queries = {"place": place, "query_ids": qrels.query_ids, "answered": answered, "documents": documents}
    scores = Column(score, offsets)
    if is_whole and len(lacked):  # no integer marks a document that was not retrieved
        retrieved = np.ones(len(score), bool)
        retrieved[at + np.arange(len(lacked))] = False
        scores = scores.only(retrieved)
    return Rankings.of(scores, references, **of_queries)


def _refuse_other_kinds(run: Columns, qrels: Columns) -> None:
    """Raise an error for ids of two kinds, such as text and integers."""
    for noun, of_run, of_qrels in (
        ("query", run.query_ids, qrels.query_ids),
        ("document", run.document, qrels.document),
    ):
        if len(of_run) and len(of_qrels) and family(of_run.type) != family(of_qrels.type):
            ids = f"{shown(of_run[0].as_py())} in the predictions, {shown(of_qrels[0].as_py())} in the references"
            hint = "give both the same type; ids in files are text"
            raise ValueError(f"predictions: {noun} ids are of another type than in the references: {ids}; {hint}")


# The order of rows


def _sort_ties(
    order: Order,
    query: NDArray[np.int64],
    score: NDArray[Any],
    ordinals: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> Order:
    """Return an order by query in which tied rows are sorted by their documents' ordinals, ascending."""
    at = tied_rows(query[order], score[order])
    if not len(at):
        return order
    order = np.arange(len(query))[order]
    tied = order[at]
    order[at] = tied[np.lexsort((ordinals(tied), query[tied]))]
    return order


def tied_rows(query: NDArray[np.int64], score: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows of retrieved documents that are tied with another document of their query.

    >>> tied_rows(np.array([0, 0, 0, 1]), np.array([.5, .1, .5, .5])).tolist()
    [0, 2]
    >>> tied_rows(np.array([0, 0, 0, 1]), np.array([.5, .5, .1, .5])).tolist()
    [0, 1]
    """
    are_in_order = (query[1:] > query[:-1]) | ((query[1:] == query[:-1]) & (score[1:] <= score[:-1]))
    order: Order = slice(None) if are_in_order.all() else np.lexsort((score, query))
    query, score = query[order], score[order]
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    member = np.zeros(len(query), bool)
    member[1:] = same
    member[:-1] |= same
    member &= score > -np.inf
    return np.flatnonzero(member) if isinstance(order, slice) else np.sort(order[member])
