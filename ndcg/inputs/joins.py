"""Join both sides: lists by position, flat rows by the ids of their queries, and others by ids.

Each join puts predictions and references into the same order: all queries of the references, or
all queries of flat rows.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.labels import Labels
from ..measure.messages import InputError, mark, shown, within
from ..measure.scoring import in_threads
from .columns import (
    Column,
    Place,
    check_queries_equal,
    in_dtype,
    is_padding,
    mask_of,
    offsets_of,
    place_among,
    read_column,
    read_flat_column,
    read_numbers,
    taken,
)
from .documents import ById
from .doubts import TWO_IDS, in_another_spelling
from .exclusion import are_excluded, by_position, doubts_about_exclusion, without
from .fields import or_another
from .hashes import Columns, best_rows, hashes_of, repeated_row, same_rows
from .ids import (
    THREADED,
    Ids,
    Order,
    as_list,
    ascending,
    check_ids,
    family,
    grouped,
    id_column,
    id_kind,
    index_among,
    once,
    read_ids,
    refuse_empty_ids,
)
from .no_rankings import MANY_DOCUMENTS, refuse_no_rankings, warn_of_one_document
from .rankings import Rankings

LEADING_ZEROS = re.compile("0+[0-9]+")

# Lists, by position


def join_lists(
    predictions: Any,
    references: Any,
    ignore_index: float | None,
    score_order: str,
    labels: Labels | None = None,
    place: Place | None = None,
    are_known: bool = False,
) -> Rankings:
    """Return rankings of lists, one for a query, with the same documents on both sides.

    `place` describes the place of a label, if queries have other names than their numbers. Queries
    `are_known` if nobody can have taken the documents of one for several queries.
    """
    score = read_column("predictions", predictions).without_unretrieved(score_order)
    relevance = read_column("references", references, ignore_index, labels, place)
    check_queries_equal(len(score.offsets) - 1, len(relevance.offsets) - 1)
    if (score.offsets != relevance.offsets).any():
        raise _other_lengths(np.diff(score.offsets), np.diff(relevance.offsets))
    refuse_no_rankings(score, relevance)
    if place is None and not are_known:
        warn_of_one_document(score)
    return Rankings.of(score, relevance)


def _other_lengths(scored: NDArray[np.int64], judged: NDArray[np.int64]) -> InputError:
    query = int(np.flatnonzero(scored != judged)[0])
    lengths = f"{scored[query]} and {judged[query]}"
    problem = f"predictions and references differ in length, {lengths}"
    none = mark(
        "None",
        before=", ",
        after=" for the score of one not retrieved or the relevance of one not judged",
    )
    ids = "if these are document ids, give the references as sets, without padding"
    return InputError(f"query {query}: {problem}; give both for every document{none}; or, {ids}")


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
    """Group rows by query; rows of a query keep their order, except ties with ids of documents."""
    queries = read_ids("query_ids", query_ids)
    documents = None if document_ids is None else id_column("document_ids", document_ids)
    codes, ids = queries.codes, queries.distinct

    def row_of(_: int, row: int | None) -> str:
        if row is None or row >= len(codes):
            return f"row {row}"
        return f"query {shown(ids[int(codes[row])].as_py())}, row {row}"

    score = read_flat_column("predictions", predictions, row_of).without_unretrieved(score_order)
    relevance = read_flat_column("references", references, row_of, ignore_index, labels)
    _check_lengths(score, relevance, queries, documents)
    if keep is not None and documents is None:
        needed = f"{mark('document_ids')}, the ids by which documents are the same"
        raise InputError(f"{mark('duplicates', 'best')} needs {needed}")
    order, offsets = grouped(codes, len(ids))
    rows: Columns | None = None
    if documents is not None:
        rows = Columns(codes, ids, documents, score.values, hashes_of(documents))
        if keep is None:
            _refuse_repeated_rows(rows, row_of)
        else:
            best = best_rows(rows, keep, score_order == "ascending", score.present)
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
        document = "" if rows is None else f", document {rows.words(row)[0]}"
        return f"{name}, row {row}{document}"

    def documents_of(query: int) -> list[Any]:
        query_rows = rows_of(query)
        return list(query_rows.tolist() if rows is None else rows.documents(query_rows))

    def in_order(column: Column) -> Column:
        return column.reordered(order, offsets)

    # To start threads takes longer than to put a few rows in order.
    threads = None if len(codes) > THREADED else 1
    score, relevance = in_threads(in_order, (score, relevance), threads=threads)
    rankings = Rankings.of(score, relevance, place=place, query_ids=ids, documents=documents_of)
    if len(ids) == len(codes) >= MANY_DOCUMENTS:
        problem = f"{len(codes)} rows have as many queries, so no order matters"
        hint = f"if {mark('query_ids')} are ids of rows, give those of the queries"
        rankings = rankings._replace(doubts=(f"{problem}; {hint}",))
    if exclude is None or rows is None:
        return rankings
    kept = ~are_excluded(rows, exclude)[order]
    present = (relevance.present, score.present)
    given = Rankings(relevance.values, score.values, offsets, *present)  # padding too
    before, after = given.counts(), given.only(kept).counts()
    excluded = [before[name] - after[name] for name in ("retrieved", "judged")]
    counts = np.stack(excluded, axis=1)
    doubts = (*rankings.doubts, *doubts_about_exclusion(exclude, counts, rows))
    return rankings.only(kept, exclude_from)._replace(excluded=counts, doubts=doubts)


def _refuse_repeated_rows(rows: Columns, row_of: Callable[[int, int], str]) -> None:
    """Raise an error for a document that a query has in two rows."""
    repeated = repeated_row(rows)
    if repeated is not None:
        row, before = repeated
        again = f"{row_of(0, row)}: document {rows.words(row)[0]}"
        raise InputError(f"{again} is in row {before} already; {once('run')}", "document_ids")


def _refuse_two_judgments(
    rows: Columns, relevance: Column, row_of: Callable[[int, int], str]
) -> None:
    """Raise an error for a document whose rows have different relevances."""
    first, again = same_rows(rows)
    judged = mask_of(len(rows.query), relevance.present)
    values = relevance.values
    unlike = judged[first] != judged[again]
    unlike |= judged[first] & (values[first] != values[again])
    if unlike.any():
        at = int(unlike.argmax())
        row, before = int(again[at]), int(first[at])
        problem = f"document {rows.words(row)[0]} has another relevance than in row {before}"
        raise ValueError(f"references: {row_of(0, row)}: {problem}; give it one")


def _check_lengths(score: Column, relevance: Column, queries: Ids, documents: Any) -> None:
    rows = {
        "predictions": len(score.values),
        "references": len(relevance.values),
        "query_ids": len(queries.codes),
    }
    if documents is not None:
        rows["document_ids"] = len(documents)
    if len(set(rows.values())) == 1:
        return
    lengths = ", ".join(f"{mark(name)} {length}" for name, length in rows.items())
    raise InputError(
        f"with {mark('query_ids')}, all columns must be flat and have the same length, one row per "
        f"document; got {lengths}; first outer-join tables with different rows by query and "
        "document, and repeat the query of a group for each of its rows"
    )


def refuse_open_ties(rankings: Rankings, score_dtype: str) -> None:
    """Raise an error if the order of equal scores in flat rows without document ids matters."""
    if rankings.place is None:
        return
    score = rankings.score
    query = np.repeat(np.arange(rankings.queries), np.diff(rankings.offsets))
    # A tie changes a score only if its documents were retrieved and have different relevances.
    rows = np.flatnonzero(mask_of(len(query), rankings.retrieved))
    rows = rows[tied_rows(query[rows], score[rows])]
    judged = mask_of(len(query), rankings.judged)
    relevance = np.where(judged, rankings.relevance, -np.inf)
    rows = rows[np.lexsort((relevance[rows], score[rows], query[rows]))]
    first, second = rows[:-1], rows[1:]
    are_tied = (query[first] == query[second]) & (score[first] == score[second])
    # Relevances ascend in a tie; nan is the last of them, and refused elsewhere.
    are_open = are_tied & (relevance[first] < relevance[second])
    if not are_open.any():
        return
    at = int(are_open.argmax())
    rows_of_tie = sorted((int(first[at]), int(second[at])))
    places = [rankings.place(*place_among(rankings.offsets, row)) for row in rows_of_tie]
    same = "the same score" if score_dtype == "given" else f"the same score in {score_dtype}"
    docid = f"{mark('ties', 'docid')} (which {mark('convention', 'trec_eval')} means)"
    raise InputError(
        f"{mark('document_ids')} are missing: {places[0]} and {places[1]} have {same}, and {docid} "
        "ranks them by the ids of their documents; give these as "
        f"{mark('document_ids')}, or other ties, such as {mark('ties', 'average')}"
    )


# Mappings, tables and files, by ids


def join_by_id(
    run: ById | Columns,
    qrels: ById | Columns,
    exclude: Any = None,
    *,
    exclude_from: str = "both",
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    ignore_index: float | None = None,
    labels: Labels | None = None,
) -> Rankings:
    """Join both sides: of every judged query the retrieved documents, then the others."""
    if exclude is None and isinstance(run, ById) and isinstance(qrels, ById):
        refuse_empty_ids("predictions", run.queries)
        refuse_empty_ids("references", qrels.queries)
        _refuse_no_common_query(run, qrels)
        return _join_mappings(run, qrels, by_docid, score_dtype, ignore_index, labels)
    rows = _as_columns("predictions", run, ignore_index)
    judged = _as_columns("references", qrels, ignore_index, labels)
    _refuse_other_kinds(rows, judged, run)
    excluded = None
    doubts: tuple[str, ...] = ()
    if exclude is not None:
        if getattr(run, "by_position", False):
            exclude = by_position(exclude, len(rows.query_ids))
        rows, judged, excluded = without(exclude, rows, judged, exclude_from)
        doubts = (*doubts_about_exclusion(exclude, excluded, rows, judged),)
    rankings = _join_columns(rows, judged, by_docid, score_dtype, ignore_index)
    rankings = rankings._replace(excluded=excluded, doubts=doubts)
    if getattr(qrels, "by_position", False):  # its queries have numbers, and no ids
        return rankings._replace(query_ids=None)
    return rankings


def _join_mappings(
    run: ById,
    qrels: ById,
    by_docid: bool,
    score_dtype: str,
    ignore_index: float | None,
    labels: Labels | None,
) -> Rankings:
    """Join mappings by their keys: faster than as columns, above all for a few queries."""
    predictions, references = run.queries, qrels.queries
    scores: list[Any] = []
    relevances: list[Any] = []
    is_retrieved = bytearray()
    lengths = []
    id_types: set[type] = set()
    value_types: set[type] = {NoneType}
    for query, judged in references.items():
        ranked = predictions.get(query, {})
        id_types.update(map(type, ranked), map(type, judged))
        value_types.update(map(type, judged.values()))
        missing = [document for document in judged if document not in ranked]
        scores.extend(ranked.values())
        scores.extend(repeat(0, len(missing)))
        relevances.extend(map(judged.get, ranked))  # None if not judged
        relevances.extend(map(judged.__getitem__, missing))
        is_retrieved += b"\1" * len(ranked) + b"\0" * len(missing)
        lengths.append(len(ranked) + len(missing))
    # Types are few, so they are looked at before any id is.
    if len(set(map(id_kind, id_types))) > 1:
        _refuse_another_kind_in_a_query(run, references)
    id_types.update(map(type, predictions), map(type, references))
    if not all(map(id_kind, id_types)):
        check_ids("predictions", predictions)
        check_ids("references", references)
    names = list(references)

    def documents(query: int) -> list[Any]:
        ranked = predictions.get(names[query], {})
        ids = [*ranked, *(name for name in references[names[query]] if name not in ranked)]
        if isinstance(order, slice):
            return ids
        start, end = offsets[query : query + 2]
        return [ids[row] for row in (order[start:end] - start).tolist()]

    order: Order = slice(None)
    place = _place_by_ids(names.__getitem__, documents)
    offsets = offsets_of(lengths)
    score = read_numbers("predictions", [scores], offsets, place, may_be_text=True)
    relevance = read_numbers(
        "references",
        [relevances],
        offsets,
        place,
        ignore_index,
        labels,
        value_types,
        may_be_text=True,
    )
    retrieved = np.frombuffer(is_retrieved, bool)
    score = score.only(retrieved)
    if by_docid:
        ids = chain.from_iterable(map(documents, range(len(names))))
        order = _order_with_ties_by_id(score, score_dtype, list(ids))
        score, relevance = score.reordered(order, offsets), relevance.reordered(order, offsets)
    are_empty = (query in predictions and not predictions[query] for query in references)
    return Rankings.of(
        score,
        relevance,
        place=place,
        query_ids=None if qrels.by_position else names,
        answered=np.fromiter(are_empty, bool, len(names)),
        documents=documents,
    )


def _order_with_ties_by_id(score: Column, score_dtype: str, ids: Sequence[Any]) -> Order:
    """Return the order of documents in which the tied ones of a query ascend by their ids."""
    query = np.repeat(np.arange(len(score.offsets) - 1), np.diff(score.offsets))
    values = in_dtype(score.values, score_dtype)
    if score.present is not None:
        values = np.where(score.present, values, -np.inf)  # is tied with nothing

    def ordinals_of(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        tied_ids = [ids[row] for row in rows.tolist()]
        place = {document: at for at, document in enumerate(ascending(set(tied_ids)))}
        return np.array([place[document] for document in tied_ids])

    return _sort_ties(slice(None), query, values, ordinals_of)


def _place_by_ids(query_id: Callable[[int], Any], documents: Callable[[int], list[Any]]) -> Place:
    """Return a function that describes a query and a document, by its position, by their ids."""

    def place(query: int, position: int | None) -> str:
        words = f"query {shown(query_id(query))}"
        if position is None:
            return words
        return f"{words}, document {shown(documents(query)[position])}"

    return place


def _refuse_no_common_query(run: ById, qrels: ById) -> None:
    if not run.queries or not qrels.queries:
        return
    if not run.queries.keys().isdisjoint(qrels.queries):
        return
    firsts = {
        "query": ([run.first_query], [qrels.first_query]),
        "document": (run.first_ids(1), qrels.first_ids(1)),
    }
    unlike = []
    for noun, (run_ids, qrels_ids) in firsts.items():
        if _are_of_other_kinds(run_ids, qrels_ids):
            unlike.append((noun, *run_ids, *qrels_ids))
    if unlike:
        raise another_kind(run, *unlike)
    raise nothing_shared(run, qrels)


def _refuse_another_kind_in_a_query(run: ById, references: Mapping[Any, Any]) -> None:
    """Raise an error for a query whose documents are of two kinds, in the run and judged."""
    for query, judged in references.items():
        ranked = run.queries.get(query, {})
        if _are_of_other_kinds(ranked, judged):
            error = another_kind(run, ("document", next(iter(ranked)), next(iter(judged))))
            raise within(error, "predictions", f"query {shown(query)}", instead_of="predictions")


def _are_of_other_kinds(ids: Iterable[Any], other_ids: Iterable[Any]) -> bool:
    """Return whether ids and others, of both of which there are some, have no kind in common."""
    kinds = set(map(id_kind, set(map(type, ids))))
    other_kinds = set(map(id_kind, set(map(type, other_ids))))
    if "" in kinds | other_kinds:  # some are not ids; another error says so
        return False
    return min(len(kinds), len(other_kinds)) > 0 and kinds.isdisjoint(other_kinds)


def _as_columns(
    argument: str,
    side: ById | Columns,
    ignore_index: float | None,
    labels: Labels | None = None,
) -> Columns:
    """Return a mapping beside a table or a file as columns, too."""
    if isinstance(side, Columns):
        return side
    # Rows of tables and files were looked at where they were read.
    refuse_empty_ids(argument, side.queries)
    rows = side.queries
    queries = list(rows)
    lengths = np.fromiter(map(len, rows.values()), np.int64, len(rows))
    place = _place_by_ids(queries.__getitem__, lambda query: list(rows[queries[query]]))
    check_ids(argument, rows)
    values = list(chain.from_iterable(row.values() for row in rows.values()))
    offsets = offsets_of(lengths)
    column = read_numbers(
        argument, [values], offsets, place, ignore_index, labels, may_be_text=True
    )
    documents = list(chain.from_iterable(rows.values()))
    document = id_column(f"{argument}: document ids", documents)
    query_ids = id_column(f"{argument}: query ids", queries).combine_chunks()
    return Columns(
        np.repeat(np.arange(len(lengths)), lengths),
        query_ids,
        document,
        column.values,
        hashes_of(document),
        present=column.present,
        padding=column.padding,
    )


def nothing_shared(run: ById | Columns, qrels: ById | Columns) -> InputError:
    """Return the error for predictions and references without a query in common."""
    predicted, judged = run.first_query, qrels.first_query
    hint = "; give the same ids on both sides, of the same type"
    respelled = in_another_spelling(as_list(run.query_ids), as_list(qrels.query_ids))
    pair = next(respelled, None)
    if pair is not None:
        predicted, judged = pair
        hint = TWO_IDS
    in_run = f"{shown(predicted)} in the {mark('predictions')}{_in_field(run)}"
    ids = f"{in_run}, {shown(judged)} in the {mark('references')}{_in_field(qrels)}"
    problem = f"no query is in the {mark('references')}; ids are such as {ids}"
    if "query" in {**run.fields, **qrels.fields}:
        hint += f"; {mark('fields', {'query': '...'})} names another field"
    return InputError(f"{problem}{hint}", "predictions")


def _in_field(side: ById | Columns) -> str:
    """Return what an error says about the field of a side's queries."""
    return f" ({side.fields['query']!r})" if "query" in side.fields else ""


def _join_columns(
    run: Columns, qrels: Columns, by_docid: bool, score_dtype: str, ignore_index: float | None
) -> Rankings:
    """Join two sides of rows: of every query first the documents of the run, then the others."""
    run, known = _with_queries_of(run, qrels)
    queries = len(qrels.query_ids)
    first, second = same_rows(run, qrels)
    second -= len(run.query)  # rows are numbered over both sides
    missed = np.ones(len(qrels.query), bool)
    missed[second] = False
    order, until = grouped(run.query, queries)
    if by_docid:
        order = _sort_ties(order, run.query, in_dtype(run.value, score_dtype), run.ordinals)
    lacked = np.flatnonzero(missed)
    in_order, until_lacked = grouped(qrels.query[lacked], queries)
    lacked = lacked[in_order]
    at = until[qrels.query[lacked] + 1]  # where the documents go that the run lacks
    offsets = until + until_lacked

    def documents(index: int) -> list[Any]:
        start, end = until[index], until[index + 1]
        rows = np.arange(start, end) if isinstance(order, slice) else order[start:end]
        others = lacked[until_lacked[index] : until_lacked[index + 1]]
        return [*run.documents(rows), *qrels.documents(others)]

    score = run.value[order]
    retrieved = taken(run.present, order)
    if len(lacked):
        retrieved = np.insert(mask_of(len(score), retrieved), at, False)
        score = np.insert(score, at, 0)
    before = until_lacked[run.query[first]]
    if not isinstance(order, slice):
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first = rank[first]
    rows = np.concatenate([first + before, at + np.arange(len(lacked))])
    judgments = np.concatenate([second, lacked])

    def in_place(values: NDArray[Any]) -> NDArray[Any]:
        in_rows = np.zeros(len(score), values.dtype)
        in_rows[rows] = values[judgments]
        return in_rows

    relevance = in_place(qrels.value)
    judged = mask_of(len(qrels.query), qrels.present)
    if qrels.padding is None:
        padding = is_padding(relevance, ignore_index)
    else:
        padding = in_place(qrels.padding)
    answered = np.zeros(queries, bool)
    answered[known[known >= 0]] = True
    answered &= until[1:] == until[:-1]  # queries with an empty list
    return Rankings.of(
        Column(score, offsets, retrieved),
        Column(relevance, offsets, padding=padding).only(in_place(judged)),
        place=_place_by_ids(qrels.query_id, documents),
        query_ids=qrels.query_ids,
        answered=answered,
        documents=documents,
    )


def _with_queries_of(run: Columns, qrels: Columns) -> tuple[Columns, NDArray[np.int64]]:
    """Return a run with the queries of the references as indices, and the index of its queries."""
    known = index_among(run.query_ids, qrels.query_ids)
    if min(len(known), len(qrels.query_ids)) > 0 and (known < 0).all():
        raise nothing_shared(run, qrels)
    run = run._replace(query=known[run.query])
    if (known < 0).any():  # skip queries without judgments
        run = run.only(run.query >= 0)
    return run, known


def _refuse_other_kinds(rows: Columns, qrels: Columns, run: ById | Columns) -> None:
    """Raise an error if the ids of a run are text and those of the references, say, integers."""
    ids = {
        "query": (rows.query_ids, qrels.query_ids),
        "document": (rows.document, qrels.document),
    }
    unlike = []
    for noun, (run_ids, qrels_ids) in ids.items():
        are_unlike = family(run_ids.type) != family(qrels_ids.type)
        if are_unlike and min(len(run_ids), len(qrels_ids)) > 0:
            unlike.append((noun, run_ids[0].as_py(), qrels_ids[0].as_py()))
    if unlike:
        raise another_kind(run, *unlike)


def another_kind(run: Any, *unlike: tuple[str, Any, Any]) -> InputError:
    """Return the error for ids that are text on one side and, say, integers on the other.

    Args:
        run: the run, of which another field may have the ids of documents.
        *unlike: what has the ids, and an id of the run and of the references.
    """
    (noun, run_id, qrels_id), *others = unlike
    in_run = f"{shown(run_id)} in the {mark('predictions')}"
    ids = f"{in_run}, {shown(qrels_id)} in the {mark('references')}"
    problem = f"{noun} ids are of another type than in the {mark('references')}: {ids}"
    for other, run_other, qrels_other in others:
        problem += f"; {other} ids too, {shown(run_other)} and {shown(qrels_other)}"
    hint = "give both the same type; ids in files are text"
    by_kind = {id_kind(type(value)): value for value in (run_id, qrels_id)}
    text = by_kind.get("text", "")
    if "bytes" in by_kind:
        hint = f"give both as text, such as {shown(by_kind['bytes'])}.decode()"
    elif LEADING_ZEROS.fullmatch(text):
        hint = f"{text!r} has zeros that integers lose; read the ids of both as text (dtype=str)"
    elif isinstance(run_id, int) and not text.isdigit():
        hint = f"if {run_id} is an index, as of a reranker, give the id there, ids[{run_id}]"
    if unlike[-1][0] == "document":
        hint += or_another("document", getattr(run, "other_ids", tuple)())
    return InputError(f"{problem}; {hint}", "predictions")


# The order of rows


def _sort_ties(
    order: Order,
    query: NDArray[np.int64],
    score: NDArray[Any],
    ordinals: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> Order:
    """Return an order by query in which tied rows are sorted by their documents' ordinals."""
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
    same_query = query[1:] == query[:-1]
    are_in_order = (query[1:] > query[:-1]) | (same_query & (score[1:] <= score[:-1]))
    order: Order = slice(None) if are_in_order.all() else np.lexsort((score, query))
    query, score = query[order], score[order]
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    is_tied = np.zeros(len(query), bool)
    is_tied[1:] = same
    is_tied[:-1] |= same
    is_tied &= score > -np.inf
    # Rows in order need no sorting back.
    return np.flatnonzero(is_tied) if isinstance(order, slice) else np.sort(order[is_tied])
