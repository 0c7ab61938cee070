"""Remove documents, such as items that a user has seen, from rankings and ideals."""

from collections.abc import Mapping, Set
from itertools import chain, compress
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..measure.messages import InputError, mark, shown
from ..measure.ties import Mask
from .documents import ById
from .hashes import Columns, first_rows, hashes_of
from .ids import (
    SURROGATE,
    as_list,
    check_ids,
    family,
    id_column,
    id_kind,
    index_among,
    read_ids,
    types_of_no_ids,
)
from .sources import ARROW, plain, settled


class Pairs(NamedTuple):
    """Documents to exclude, a row each, as columns of any library."""

    query_ids: Any  # the id of each row's query
    document_ids: Any  # the id of each row's document


class NothingExcludedError(InputError):
    """No query of `exclude` is in the references, although their ids have the same type."""


def without(
    exclude: Any, run: Columns, qrels: Columns, exclude_from: str = "both"
) -> tuple[Columns, Columns, NDArray[np.int64]]:
    """Return both sides without the excluded documents, and how many of these each query has on each side.

    If they are excluded from the run only, the judgments stay as they are.

    They are excluded as ``{query: ids}``, the ``Pairs`` of a DataFrame, or the ``Columns`` of a file. Their ids must be
    of the type of the rankings' ids, and one of their queries must be in the rankings.
    """
    excluded = _columns(exclude, run, qrels)
    left, counts = [], np.zeros((len(qrels.query_ids), 2), np.int64)
    for at, side in enumerate((run, qrels)):
        mask = _are_among(side, excluded)
        stays = exclude_from == "run" and at == 1
        left.append(side if stays else side.only(~mask))
        known = index_among(side.query_ids, qrels.query_ids)
        counts[known[known >= 0], at] = np.bincount(side.query[mask], minlength=len(known))[
            known >= 0
        ]
    return left[0], left[1], counts


def are_excluded(rows: Columns, exclude: Any) -> Mask:
    """Return which rows are to be excluded."""
    return _are_among(rows, _columns(exclude, rows, rows))


def _are_among(side: Columns, excluded: Columns) -> Mask:
    """Return which rows have the same query and document as a row to exclude; a document may have several rows."""
    query = index_among(excluded.query_ids, side.query_ids)[excluded.query]
    excluded = excluded._replace(query=query).only(query >= 0)
    count = len(excluded.query)
    return first_rows(excluded, side)[count:] < count


def _columns(exclude: Any, run: Columns, judged: Columns) -> Columns:
    """Return the documents to exclude as columns, without ids that the rankings' columns cannot hold."""
    own = run if len(run.document) else judged
    if isinstance(exclude, ById):
        exclude = exclude.queries
    if isinstance(exclude, Mapping):
        check_ids("exclude", exclude, nested=False)
        by_query = {
            query: found
            for query, documents in exclude.items()
            if (found := _ids(query, documents))
        }
        queries: Any = list(by_query)
        query = np.repeat(np.arange(len(queries)), list(map(len, by_query.values())))
        documents: Any = list(chain.from_iterable(by_query.values()))
    elif isinstance(exclude, Columns):
        query, queries, documents = exclude[:3]
    elif isinstance(exclude, Pairs):
        # an empty column may have a type that ids cannot have
        of_query, of_document = (
            ids if len(ids) else [] for ids in settled(exclude._asdict()).values()
        )
        ids, documents = read_ids("exclude", of_query), id_column("exclude", of_document)
        query, queries = ids.codes, ids.distinct
        if len(query) != len(documents):
            lengths = f"{len(query)} query ids and {len(documents)} document ids"
            raise InputError(f"has {lengths}; give both in each row", "exclude")
    else:
        forms = "{query: ids}, a file, or, together with data, a DataFrame with columns of the same names"
        raise InputError(f"{mark('exclude')} must be {forms}; got {shown(exclude)}")
    _check_queries(as_list(queries), as_list(judged.query_ids), isinstance(exclude, Columns))
    _check_documents(documents, own)
    if own.names is not None:
        numbers = index_among(as_list(documents), list(own.names))  # -1 is no document
        documents = pa.chunked_array([pa.array(numbers)])
    elif isinstance(documents, list):
        held = _are_held_by(own.document.type, documents)
        query, documents = query[held], id_column("exclude", list(compress(documents, held)))
    return Columns(query, queries, documents, np.ones(len(query)), hashes_of(documents))


def _are_held_by(kind: pa.DataType, ids: list[Any]) -> Mask:
    """Return which ids a column of this type can hold: ids of its kind, integers in its range, and Unicode text."""
    name = id_kind(kind)
    limits = np.iinfo(kind.to_pandas_dtype()) if name == "integers" else None

    def is_held(each: Any) -> bool:
        if limits is not None and isinstance(each, Integral):
            return bool(limits.min <= int(each) <= limits.max)
        return id_kind(type(each)) == name and not (name == "text" and SURROGATE.search(each))

    return np.array(list(map(is_held, ids)), bool)


def by_position(exclude: Any, queries: int) -> dict[int, Any]:
    """Return ``{query: ids}``, by the position of queries, from a list of ids for each query."""
    rows = exclude.to_pylist() if isinstance(exclude, ARROW) else exclude
    if not isinstance(rows, (list, tuple, np.ndarray)) or isinstance(rows, (Pairs, Columns)):
        given = "a file or a DataFrame" if isinstance(rows, (Pairs, Columns)) else shown(exclude)
        problem = f"got {given}, but the predictions are ranked ids by position"
        raise InputError(
            f"{problem}; give a list or a set of ids for each query, in the same order", "exclude"
        )
    if len(rows) != queries:
        raise ValueError(
            f"exclude holds {len(rows)} queries and predictions {queries}; give a list of ids for each"
        )
    return dict(enumerate(rows))


def _ids(query: Any, documents: Any) -> Set[Any]:
    """Return the ids of a query's documents."""
    found = documents
    if not isinstance(found, (list, tuple, Set, Mapping, str, bytes)):
        found = plain("exclude", found)
        found = found.to_pylist() if isinstance(found, ARROW) else found
        found = found.tolist() if isinstance(found, np.ndarray) else found
    if not isinstance(found, (list, tuple, Set, Mapping)):
        raise InputError(
            f"must be a list or a set of ids; got {shown(documents)}",
            "exclude",
            f"query {shown(query)}",
        )
    if wrong := types_of_no_ids(found):
        other = next(each for each in found if type(each) in wrong)
        raise InputError(
            f"must hold ids, text or integers; got {shown(other)}",
            "exclude",
            f"query {shown(query)}",
        )
    return frozenset(found)


def _check_queries(excluded: list[Any], own: list[Any], is_file: bool) -> None:
    """Raise an error if no excluded query is in the rankings.

    It is a NothingExcludedError if the ids have the same type, so that other rankings may have these queries.
    """
    if excluded and own and set(excluded).isdisjoint(own):
        ids = f"{shown(excluded[0])} in {mark('exclude')}, {shown(own[0])} in the {mark('references')}"
        different = id_kind(type(excluded[0])) != id_kind(type(own[0]))
        hint = "; give both the same type" * different
        hint += ": ids of files are text, so read the file and give its DataFrame" * (
            is_file and different
        )
        kind = InputError if different else NothingExcludedError
        raise kind(
            f"no query is in the {mark('references')}; ids are such as {ids}{hint}", "exclude"
        )


def _check_documents(excluded: Any, own: Columns) -> None:
    """Raise an error for documents with another kind of ids than in the rankings, the same in any order of a set."""
    if not len(own.document) or not len(excluded):
        return
    if isinstance(excluded, list) or own.names is not None:
        first = own.documents(np.zeros(1, np.int64))[0]
        kinds = (
            {id_kind(type(each)) for each in own.names}
            if own.names is not None
            else {id_kind(own.document.type)}
        )
        excluded = as_list(excluded)
        wrong = {each for each in set(map(type, excluded)) if id_kind(each) not in kinds}
        others = [each for each in excluded if type(each) in wrong]
    else:
        first = own.document[0].as_py()
        others = [excluded[0].as_py()] if family(excluded.type) != family(own.document.type) else []
    if others:
        ids = f"{min(map(shown, others))} in {mark('exclude')}, {shown(first)} in the rankings"
        raise InputError(
            f"ids of documents are of another type, such as {ids}; give both the same type",
            "exclude",
        )
