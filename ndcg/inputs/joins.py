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

from ..measure.labels import Labels
from ..measure.messages import InputError, mark, shown
from ..measure.scoring import in_threads
from .columns import Column, in_dtype, is_padding, offsets_of, read_flat_column, read_numbers
from .exclusion import are_excluded, without
from .hashes import Columns, best_rows, hashes_of, repeated_row, same_rows
from .ids import (
    THREADED,
    Ids,
    Order,
    ascending,
    check_ids,
    family,
    float_hint,
    grouped,
    id_column,
    id_kind,
    index_among,
    once,
    read_ids,
)
from .rankings import Rankings

Side = Mapping[Any, Mapping[Any, Any]]


# Flat rows


def join_rows(
    predictions: Any,
    references: Any,
    query_ids: Any,
    document_ids: Any = None,
    exclude: Any = None,
    *,
    exclude_from: str = "both",
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    ignore_index: float | None = None,
    labels: Labels | None = None,
    keep: str | None = None,
) -> Rankings:
    """Group rows by query. Rows of a query keep their order, except ties, which are ordered by document id."""
    queries = read_ids("query_ids", query_ids)
    documents = None if document_ids is None else id_column("document_ids", document_ids)
    codes, ids = queries.codes, queries.distinct

    def row_of(_: int, row: int | None) -> str:
        if row is None or row >= queries.rows:
            return f"row {row}"
        return f"query {shown(ids[int(codes[row])].as_py())}, row {row}"

    score = read_flat_column("predictions", predictions, row_of).without_unretrieved(score_order)
    relevance = read_flat_column("references", references, row_of, ignore_index, labels)
    _check_lengths(score, relevance, queries, documents)
    order, offsets = queries.grouped()
    rows: Columns | None = None
    if keep is not None and documents is None:
        needed = f"{mark('document_ids')}, the ids by which documents are the same"
        raise InputError(f"{mark('duplicates', 'best')} needs {needed}")
    if documents is not None:
        rows = Columns(codes, ids, documents, score.values, hashes_of(documents))
        if keep is None and (repeated := repeated_row(rows)) is not None:
            again = f"{row_of(0, repeated[0])}: document {rows.words(repeated[0])[0]}"
            raise InputError(f"{again} is in row {repeated[1]} already; {once('run')}", "document_ids")
        if keep and (best := best_rows(rows, score.present, keep, score_order == "ascending")) is not None:
            _refuse_two_judgments(rows, relevance, row_of)
            order, offsets = grouped(codes[best], len(ids))
            order = np.flatnonzero(best)[order]
        if by_docid:
            order = _sort_ties(order, codes, in_dtype(score.values, score_dtype), rows.ordinals)

    def rows_of(query: int) -> NDArray[np.int64]:
        return np.arange(len(codes))[order][offsets[query] : offsets[query + 1]]

    def place(query: int, position: int | None) -> str:
        name = f"query {shown(ids[query].as_py())}"
        if position is None:
            return name
        row = int(rows_of(query)[position])
        return f"{name}, row {row}" + ("" if rows is None else f", document {rows.words(row)[0]}")

    def documents_of(query: int) -> list[Any]:
        at = rows_of(query)
        return list(at.tolist() if rows is None else rows.documents(at))

    threads = None if len(codes) > THREADED else 1
    score, relevance = in_threads(lambda side: side.reordered(order, offsets), (score, relevance), threads=threads)
    rankings = Rankings.of(score, relevance, place=place, query_ids=ids, documents=documents_of)
    if exclude is None or rows is None:
        return rankings
    kept = ~are_excluded(rows, exclude)[order]
    given = Rankings(relevance.values, score.values, offsets, relevance.present, score.present)  # padding too
    had, has = given.counts(), given.only(kept).counts()
    counts = np.stack([had[name] - has[name] for name in ("retrieved", "judged")], axis=1)
    return rankings.only(kept, exclude_from)._replace(excluded=counts)


def _refuse_two_judgments(rows: Columns, relevance: Column, row_of: Callable[[int, int], str]) -> None:
    """Raise an error for a document whose rows have different relevances."""
    first, again = same_rows(rows)
    judged = np.ones(len(rows.query), bool) if relevance.present is None else relevance.present
    unlike = (judged[first] != judged[again]) | (judged[first] & (relevance.values[first] != relevance.values[again]))
    for at in np.flatnonzero(unlike)[:1].tolist():
        document = rows.words(int(again[at]))[0]
        problem = f"document {document} has another relevance than in row {first[at]}; give it one"
        raise ValueError(f"references: {row_of(0, int(again[at]))}: {problem}")


def _check_lengths(score: Column, relevance: Column, queries: Ids, documents: Any) -> None:
    """Raise an error unless all columns have the same number of rows."""
    rows = {"predictions": len(score.values), "references": len(relevance.values), "query_ids": queries.rows}
    if documents is not None:
        rows["document_ids"] = len(documents)
    if len(set(rows.values())) > 1:
        lengths = ", ".join(f"{mark(name)} {length}" for name, length in rows.items())
        hint = "first join tables with different rows by query and document, with an outer join (docs/inputs.md)"
        sizes = queries.distinct.take(pa.array(queries.codes)).to_pylist() if queries.rows < len(score.values) else []
        if all(isinstance(each, int) for each in sizes) and len(score.values) in (sum(sizes), max(sizes, default=0)):
            hint = (
                "for sizes of groups give numpy.repeat(range(len(sizes)), sizes), for their ends numpy.diff(ends) first"
            )
        raise InputError(
            f"with {mark('query_ids')}, all columns must be flat and have the same length, one row per document; got "
            f"{lengths} rows; {hint}"
        )


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
        raise InputError(
            f"{mark('document_ids')} are missing: {places[0]} and {places[1]} have {same}, and "
            f"{mark('ties', 'docid')} (which {mark('convention', 'trec_eval')} means) ranks them by the ids of their "
            f"documents; give these as {mark('document_ids')}, or other ties, such as {mark('ties', 'average')}"
        )


# Mappings, tables and files


def join_by_id(
    predictions: Any,
    references: Any,
    exclude: Any = None,
    *,
    exclude_from: str = "both",
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    ignore_index: float | None = None,
    labels: Labels | None = None,
) -> Rankings:
    """Join both sides by ids: for each query of the references, first the retrieved documents, then the others."""
    if exclude is None and isinstance(predictions, Mapping) and isinstance(references, Mapping):
        return _join_mappings(predictions, references, by_docid, ignore_index, labels)
    run, qrels = _both_columns(predictions, references, ignore_index, labels)
    if exclude is None:
        return _join_columns(run, qrels, by_docid, score_dtype, ignore_index)
    run, qrels, counts = without(exclude, run, qrels, exclude_from)
    return _join_columns(run, qrels, by_docid, score_dtype, ignore_index)._replace(excluded=counts)


def _join_mappings(
    predictions: Side, references: Side, by_docid: bool, ignore_index: float | None, labels: Labels | None
) -> Rankings:
    """Join mappings by their own keys: faster than as columns, above all for a few queries."""
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
    if not all(map(id_kind, id_types.union(map(type, predictions), map(type, references)))):
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
    relevance = read_numbers("references", [relevances], offsets, place, ignore_index, labels, value_types)
    retrieved = np.frombuffer(is_retrieved, bool)
    both = retrieved if relevance.present is None else retrieved & relevance.present
    if not both.any():
        found = [list(chain.from_iterable(side.values())) for side in (predictions, references)]
        kinds = [{id_kind(type(each)) for each in documents} for documents in found]
        if all(kinds) and kinds[0].isdisjoint(kinds[1]):
            raise _another_kind("document", found[0][0], found[1][0])
    are_empty = (query in predictions and not predictions[query] for query in references)
    answered = np.fromiter(are_empty, bool, len(names))
    of_queries = {"place": place, "query_ids": names, "answered": answered, "documents": documents}
    return Rankings.of(score.only(retrieved), relevance, **of_queries)


def _both_columns(
    predictions: Any, references: Any, ignore_index: float | None, labels: Labels | None
) -> tuple[Columns, Columns]:
    """Return both sides as columns; of two mappings, only the queries of the references."""
    are_mappings = isinstance(predictions, Mapping) and isinstance(references, Mapping)
    if are_mappings:
        if predictions and references and predictions.keys().isdisjoint(references):
            raise _nothing_shared(next(iter(predictions)), next(iter(references)))
        predictions = {query: predictions[query] for query in references if query in predictions}
    run, qrels = (
        side if isinstance(side, Columns) else _of_mapping(argument, side, ignore_index, own, are_mappings)
        for argument, side, own in (("predictions", predictions, None), ("references", references, labels))
    )
    if run.names is None and qrels.names is None:
        return run, qrels
    ids = [side.documents(np.arange(len(side.query))) for side in (run, qrels)]
    names = list(dict.fromkeys(chain(*ids)))
    numbers = [pa.chunked_array([pa.array(index_among(each, names))]) for each in ids]
    run, qrels = (
        side._replace(document=document, hashes=hashes_of(document), names=names)
        for side, document in zip((run, qrels), numbers, strict=True)
    )
    return run, qrels


def _of_mapping(
    argument: str, side: Side, ignore_index: float | None, labels: Labels | None, may_differ: bool
) -> Columns:
    """Return a mapping as columns; its ids may be of several kinds only if it `may_differ` from a column."""
    queries = list(side)
    given = list(chain.from_iterable(each.values() for each in side.values()))
    lengths = np.fromiter(map(len, side.values()), np.int64, len(side))

    def place(query: int, position: int | None) -> str:
        return f"query {shown(queries[query])}, document {shown(list(side[queries[query]])[position or 0])}"

    column = read_numbers(argument, [given], offsets_of(lengths), place, ignore_index, labels)
    documents = list(chain.from_iterable(side.values()))
    ids, names = queries, None
    if not all(map(id_kind, set(map(type, documents)))):
        check_ids(argument, side)
    try:
        found = id_column(argument, documents)
        ids = queries if may_differ else id_column(f"{argument}: query ids", queries).combine_chunks()
    except ValueError:
        if not may_differ:
            for query, of_query in side.items():  # name the query
                id_column(f"{argument}: query {shown(query)}: document ids", list(of_query))
            raise
        names, found = documents, pa.chunked_array([pa.array(np.arange(len(documents)))])
    query = np.repeat(np.arange(len(lengths)), lengths)
    return Columns(query, ids, found, column.values, hashes_of(found), None, None, False, *column[2:], names=names)


def _nothing_shared(predicted: Any, referred: Any) -> ValueError:
    """Return the error for predictions and references without a query in common."""
    ids = f"{shown(predicted)} in the {mark('predictions')}, {shown(referred)} in the {mark('references')}"
    hint = float_hint(shown(predicted), shown(referred))
    return InputError(f"no query is in the {mark('references')}; ids are such as {ids}{hint}", "predictions")


def _join_columns(
    run: Columns, qrels: Columns, by_docid: bool, score_dtype: str, ignore_index: float | None
) -> Rankings:
    _refuse_other_kinds(run, qrels)
    known = index_among(run.query_ids, qrels.query_ids)
    if len(known) and len(qrels.query_ids) and (known < 0).all():
        raise _nothing_shared(run.query_id(0), qrels.query_id(0))
    if (known != np.arange(len(known))).any():
        run = run._replace(query=known[run.query])
    if (known < 0).any():  # skip queries without judgments
        run = run.only(run.query >= 0)
    first, second = same_rows(run, qrels)
    second -= len(run.query)
    missed = np.ones(len(qrels.query), bool)
    missed[second] = False
    order, until = grouped(run.query, len(qrels.query_ids))
    if by_docid:
        order = _sort_ties(order, run.query, in_dtype(run.value, score_dtype), run.ordinals)
    # for each query, the documents of the run come first, then those that are missing from it
    lacked = np.flatnonzero(missed)
    in_order, until_lacked = grouped(qrels.query[lacked], len(qrels.query_ids))
    lacked = lacked[in_order]
    at = until[qrels.query[lacked] + 1]
    offsets = until + until_lacked

    def documents(index: int) -> list[Any]:
        rows = np.arange(len(run.query))[order][until[index] : until[index + 1]]
        return [*run.documents(rows), *qrels.documents(lacked[until_lacked[index] : until_lacked[index + 1]])]

    def place(index: int, position: int | None) -> str:
        document = "" if position is None else f", document {shown(documents(index)[position])}"
        return f"query {shown(qrels.query_id(index))}{document}"

    score, retrieved = run.value[order], None if run.present is None else run.present[order]
    if len(lacked):
        retrieved = np.insert(np.ones(len(score), bool) if retrieved is None else retrieved, at, False)
        score = np.insert(score, at, 0)
    before = until_lacked[run.query[first]]
    if not isinstance(order, slice):
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first = rank[first]
    rows, of_rows = np.concatenate([first + before, at + np.arange(len(lacked))]), np.concatenate([second, lacked])

    def in_place(values: NDArray[Any]) -> NDArray[Any]:
        found = np.zeros(len(score), values.dtype)
        found[rows] = values[of_rows]
        return found

    relevance = in_place(qrels.value)
    judged = in_place(np.ones(len(qrels.query), bool) if qrels.present is None else qrels.present)
    padding = is_padding(relevance, ignore_index) if qrels.padding is None else in_place(qrels.padding)
    answered = np.zeros(len(qrels.query_ids), bool)
    answered[known[known >= 0]] = True
    answered &= until[1:] == until[:-1]  # queries with an empty list
    of_queries = {"place": place, "query_ids": qrels.query_ids, "answered": answered, "documents": documents}
    relevances = Column(relevance, offsets, padding=padding).only(judged)
    return Rankings.of(Column(score, offsets, retrieved), relevances, **of_queries)


def _refuse_other_kinds(run: Columns, qrels: Columns) -> None:
    """Raise an error for ids of two kinds, such as text and integers."""
    for noun, of_run, of_qrels in (
        ("query", run.query_ids, qrels.query_ids),
        ("document", run.document, qrels.document),
    ):
        are_columns = not isinstance(of_run, list)  # the ids of mappings are compared by Python
        if are_columns and len(of_run) and len(of_qrels) and family(of_run.type) != family(of_qrels.type):
            raise _another_kind(noun, of_run[0].as_py(), of_qrels[0].as_py())


def _another_kind(noun: str, of_run: Any, of_qrels: Any) -> ValueError:
    """Return the error for ids of queries or of documents that are text on one side and, say, integers on the other."""
    ids = f"{shown(of_run)} in the {mark('predictions')}, {shown(of_qrels)} in the {mark('references')}"
    hint = "give both the same type; ids in files are text"
    return InputError(f"{noun} ids are of another type than in the {mark('references')}: {ids}; {hint}", "predictions")


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
