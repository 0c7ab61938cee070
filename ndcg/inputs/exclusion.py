"""Remove documents, such as items that a user has seen, from rankings and ideals."""

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..measure.messages import InputError, mark, shown
from ..measure.ties import Mask
from .columns import check_queries_equal
from .documents import ById
from .doubts import FEWEST_QUERIES
from .hashes import Columns, first_rows, hashes_of
from .ids import (
    RowNumbers,
    as_list,
    check_ids,
    family,
    id_column,
    id_kind,
    index_among,
    read_ids,
)
from .no_rankings import MANY_DOCUMENTS
from .objects import is_list
from .sources import ARROW, in_python, plain, settled

SAME_TYPE = "give both the same type; ids in files are text"


class Pairs(NamedTuple):
    """Documents to exclude, one a row, as columns of any library."""

    query_ids: Any  # the ids of the queries
    document_ids: Any  # the ids of the documents


class NothingExcludedError(InputError):
    """No query of `exclude` is in the references, although their ids have the same type."""


def without(
    exclude: Any, run: Columns, qrels: Columns, exclude_from: str = "both"
) -> tuple[Columns, Columns, NDArray[np.int64]]:
    """Return both sides without the excluded documents, and how many a query had on either side.

    If they are excluded from the run only, the judgments stay as they are.

    They are excluded as ``{query: ids}``, the ``Pairs`` of a DataFrame, or the ``Columns`` of a
    file. Their ids must be of the type of the rankings' ids, and one of their queries must be in
    the rankings.
    """
    excluded = _columns(exclude, run, qrels)
    sides = [run, qrels]
    counts = np.zeros((len(qrels.query_ids), 2), np.int64)
    for index, side in enumerate((run, qrels)):
        mask = _are_among(side, excluded)
        stays = exclude_from == "run" and side is qrels
        if not stays:
            sides[index] = side.only(~mask)
        # Both sides may have their queries in another order, or other ones.
        known = index_among(side.query_ids, qrels.query_ids)
        by_query = np.bincount(side.query[mask], minlength=len(known))
        counts[known[known >= 0], index] = by_query[known >= 0]
    return sides[0], sides[1], counts


def are_excluded(rows: Columns, exclude: Any) -> Mask:
    """Return which rows are to be excluded."""
    return _are_among(rows, _columns(exclude, rows, rows))


def doubts_about_exclusion(
    exclude: Any, counts: NDArray[np.int64], *sides: Columns
) -> Iterator[str]:
    """Yield what a warning says if none of the documents to exclude is one of any query.

    A run may leave out seen items by itself, which others have seen or not.

    Args:
        exclude: the documents to exclude.
        counts: how many of them a query had.
        sides: what they were excluded from.
    """
    if counts.any():
        return
    _, queries, documents = _rows(exclude)
    # The items that a few users have seen may well be none of those that they were offered.
    if len(queries) < FEWEST_QUERIES:
        return
    if len(documents) < MANY_DOCUMENTS:
        return
    excluded = as_list(documents)
    known = set(chain.from_iterable(side.ids() for side in sides))
    if len(known) >= MANY_DOCUMENTS and known.isdisjoint(excluded):
        given = f"{min(map(shown, excluded))} in {mark('exclude')}"
        ids_are = f"{given}, {min(map(shown, known))} in the rankings"
        yield f"no document was excluded, since none is known; ids are such as {ids_are}"


def _are_among(side: Columns, excluded: Columns) -> Mask:
    """Return which rows have the same query and document as a row to exclude."""
    query = index_among(excluded.query_ids, side.query_ids)[excluded.query]
    excluded = excluded._replace(query=query).only(query >= 0)
    count = len(excluded.query)
    # The rows to exclude come first, so the first row like an excluded one is among them.
    return first_rows(excluded, side)[count:] < count


def _columns(exclude: Any, run: Columns, judged: Columns) -> Columns:
    """Return the documents to exclude as columns."""
    rankings = run if len(run.document) else judged
    query, queries, documents = _rows(exclude)
    _check_queries(as_list(queries), as_list(judged.query_ids))
    documents = id_column("exclude", documents)
    if len(rankings.document) and family(documents.type) != family(rankings.document.type):
        _refuse_documents(documents, rankings.first_id)
    return Columns(query, queries, documents, np.ones(len(query)), hashes_of(documents))


def _rows(exclude: Any) -> tuple[RowNumbers, Any, Any]:
    """Return the queries of the documents as indices, the ids of queries, and of documents."""
    if isinstance(exclude, ById):
        exclude = exclude.queries
    if isinstance(exclude, Mapping):
        return _rows_of_mapping(exclude)
    if isinstance(exclude, Columns):
        return exclude.query, exclude.query_ids, exclude.document
    if isinstance(exclude, Pairs):
        return _rows_of_pairs(exclude)
    forms = "{query: ids}, a file, or a DataFrame with a row for each query and document"
    given = type(exclude).__name__
    if isinstance(exclude, ARROW):
        given = "one column; of a Series of lists by query, give to_dict()"
    raise InputError(f"{mark('exclude')} must be {forms}; got {given}")


def _rows_of_mapping(exclude: Mapping[Any, Any]) -> tuple[RowNumbers, Any, Any]:
    by_query = {query: _ids(query, row) for query, row in exclude.items()}
    check_ids("exclude", by_query)
    queries = []
    lengths = []
    documents: list[Any] = []
    for query, row in by_query.items():
        ids = dict.fromkeys(row)
        if ids:
            queries.append(query)
            lengths.append(len(ids))
            documents.extend(ids)
    return np.repeat(np.arange(len(queries)), lengths), queries, documents


def _rows_of_pairs(exclude: Pairs) -> tuple[RowNumbers, Any, Any]:
    columns = settled(exclude._asdict())
    queries = read_ids("exclude", columns["query_ids"])
    documents = id_column("exclude", columns["document_ids"])
    if len(queries.codes) != len(documents):
        lengths = f"{len(queries.codes)} and {len(documents)}"
        problem = f"query ids and document ids differ in length, {lengths}"
        raise InputError(f"{problem}; give both in every row", "exclude")
    return queries.codes, queries.distinct, documents


def by_position(exclude: Any, queries: int) -> dict[int, Any]:
    """Return ``{query: ids}``, by the position of queries, from lists of ids in their order."""
    rows = in_python(exclude)
    if not is_list(rows):
        given = "a file or a DataFrame" if isinstance(rows, (Pairs, Columns)) else shown(exclude)
        problem = f"got {given}, but the predictions are ranked ids by position"
        hint = "give a list or a set of ids for each query, in the same order"
        raise InputError(f"{problem}; {hint}", "exclude")
    check_queries_equal(len(rows), queries, "exclude", "predictions")
    return dict(enumerate(rows))


def _ids(query: Any, documents: Any) -> Iterable[Any]:
    ids = in_python(plain("exclude", documents))
    if not isinstance(ids, (list, tuple, Set, Mapping)):
        problem = f"must be a list or a set of ids; got {shown(documents)}"
        raise InputError(problem, "exclude", f"query {shown(query)}")
    return ids


def _check_queries(excluded: list[Any], judged: list[Any]) -> None:
    """Raise an error if no excluded query is in the rankings.

    It is a NothingExcludedError if the ids have the same type, so that other rankings may have
    these queries.
    """
    if not excluded or not judged or not set(excluded).isdisjoint(judged):
        return
    ids = f"{shown(excluded[0])} in {mark('exclude')}, {shown(judged[0])} in the"
    problem = f"no query is in the {mark('references')}; ids are such as {ids} {mark('references')}"
    if id_kind(type(excluded[0])) == id_kind(type(judged[0])):
        raise NothingExcludedError(problem, "exclude")
    raise InputError(f"{problem}; {SAME_TYPE}", "exclude")


def _refuse_documents(excluded: pa.ChunkedArray, first: Any) -> None:
    """Raise an error for documents of another kind than the ids in the rankings."""
    if len(excluded) > 0:
        # The least of them is the same in any order of a set.
        ids = f"{min(map(shown, as_list(excluded)))} in {mark('exclude')}, {shown(first)}"
        problem = f"ids of documents are of another type, such as {ids} in the rankings"
        raise InputError(f"{problem}; {SAME_TYPE}", "exclude")
