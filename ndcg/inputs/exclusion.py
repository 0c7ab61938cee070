"""Remove documents, such as items that a user has seen, from rankings and ideals."""

from collections.abc import Collection, Iterable, Mapping, Set
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..measure.messages import shown
from ..measure.ties import Mask
from .hashes import Columns
from .ids import Ids, RowNumbers, check_ids, family, id_kind, index_among, read_ids, types_of_no_ids
from .sources import ARROW, plain, settled

IdMapping = Mapping[Any, Mapping[Any, Any]]
Rows = tuple[Ids, Ids]  # the query and the document of each row


class Pairs(NamedTuple):
    """Documents to exclude, a row each, as columns of any library."""

    query_ids: Any  # the id of each row's query
    document_ids: Any  # the id of each row's document


class NothingExcludedError(ValueError):
    """No query of `exclude` is in the references, although their ids have the same type."""


def without(exclude: Any, predictions: Any, references: Any) -> tuple[Any, Any]:
    """Return predictions and references, mappings or files, without the excluded documents.

    They are excluded as ``{query: ids}``, the ``Pairs`` of a DataFrame, or the ``Columns`` of a file. Their ids must be
    of the type of the rankings' ids, and one of their queries must be in the rankings.

    >>> without({"q": ["a", "c"]}, {"q": {"a": .9, "b": .1}}, {"q": {"b": 1}})
    ({'q': {'b': 0.1}}, {'q': {'b': 1}})
    """
    sides = predictions, references
    by_query = _by_query(exclude) if any(isinstance(side, Mapping) for side in (exclude, *sides)) else {}
    own = next((side for side in sides if isinstance(side, Columns)), None)
    rows = None if own is None else _excluded_rows_of(exclude, own.query_ids, own.document)
    judged = references.query_ids.to_pylist() if isinstance(references, Columns) else references
    _check_queries(_queries(exclude, rows, by_query), judged, isinstance(exclude, Columns))
    if rows is None:
        _check_documents(by_query, _one_of_each_kind(sides))
    predictions, references = (
        _of_mapping(side, by_query)
        if rows is None or isinstance(side, Mapping)
        else side.only(~_are_among(_rows_of(side), rows))
        for side in sides
    )
    return predictions, references


def excluded_counts(before: tuple[Any, Any], after: tuple[Any, Any]) -> NDArray[np.int64]:
    """Return how many documents `without` removed for each query: from the predictions, and from the references.

    >>> before = {"q": {"a": 0.9}}, {"q": {"a": 1, "b": 1}, "r": {}}
    >>> excluded_counts(before, without({"q": ["a"]}, *before)).tolist()
    [[1, 1], [0, 0]]
    """
    queries = list(_document_counts(before[1]))
    columns = []
    for side, left in zip(before, after, strict=True):
        had, has = _document_counts(side), _document_counts(left)
        columns.append([had.get(query, 0) - has.get(query, 0) for query in queries])
    return np.array(columns, np.int64).T


def _document_counts(side: Any) -> dict[Any, int]:
    """Return how many documents each query of a mapping or a file has."""
    if isinstance(side, Mapping):
        return {query: len(documents) for query, documents in side.items()}
    counts = np.bincount(side.query, minlength=len(side.query_ids)).tolist()
    return dict(zip(side.query_ids.to_pylist(), counts, strict=True))


def excluded_rows(exclude: Any, queries: Ids, documents: Ids) -> Mask:
    """Return a mask of the rows to exclude, by their queries and documents."""
    rows = _excluded_rows_of(exclude, queries.distinct, documents.distinct)
    _check_queries(_queries(exclude, rows), queries.distinct.to_pylist(), isinstance(exclude, Columns))
    return _are_among((queries, documents), rows)


def are_excluded(columns: Columns, exclude: Any) -> Mask:
    """Return which rows of a file are to be excluded."""
    return _are_among(_rows_of(columns), _excluded_rows_of(exclude, columns.query_ids, columns.document))


def _of_mapping(side: IdMapping, excluded: Mapping[Any, Set[Any]]) -> IdMapping:
    """Return a mapping without the documents to exclude of each query."""
    return {
        query: {each: value for each, value in documents.items() if each not in excluded.get(query, ())}
        for query, documents in side.items()
    }


def _rows_of(columns: Columns) -> Rows:
    """Return the ids of a file's rows."""
    return Ids(columns.query_ids, columns.query), read_ids("document_ids", columns.document)


def _are_among(rows: Rows, excluded: Rows) -> Mask:
    """Return which rows have the same query and document as a row to exclude."""
    (queries, documents), (query, document) = rows, excluded
    of_query = _index_among("queries", query.distinct, queries.distinct)[query.codes]
    of_document = _index_among("documents", document.distinct, documents.distinct)[document.codes]
    known = (of_query >= 0) & (of_document >= 0)
    pairs = of_query[known] * len(documents.distinct) + of_document[known]
    return np.isin(queries.codes * len(documents.distinct) + documents.codes, pairs)


def _index_among(side: str, ids: pa.Array, among: pa.Array) -> RowNumbers:
    """Return the index of each id among the ids of the rankings, which must be of its kind; -1 if it is not there."""
    if len(ids) and len(among) and family(ids.type) != family(among.type):
        raise _another_type(side, ids[0].as_py(), among[0].as_py())
    return index_among(ids, among)


def _excluded_rows_of(exclude: Any, queries: pa.Array | None = None, documents: Any = None) -> Rows:
    """Return the rows of documents to exclude; from a mapping, only ids that the rankings' columns can hold."""
    if isinstance(exclude, Columns):
        return _rows_of(exclude)
    if not isinstance(exclude, Pairs):
        exclude = _pairs(_by_query(exclude), queries, documents)
    # an empty column may have a type that ids cannot have
    query, document = (read_ids("exclude", ids if len(ids) else []) for ids in settled(**exclude._asdict()))
    if query.rows != document.rows:
        lengths = f"{query.rows} query ids and {document.rows} document ids"
        raise ValueError(f"exclude: has {lengths}; give both in each row")
    return query, document


def _pairs(by_query: Mapping[Any, Set[Any]], queries: pa.Array, documents: Any) -> Pairs:
    """Return the documents to exclude as columns, without ids that the rankings' columns cannot hold."""
    _check_documents(by_query, {id_kind(documents.type): documents[0].as_py()} if len(documents) else {})
    held = _those_held_by(queries.type, by_query)
    rows = [(query, each) for query in held for each in _those_held_by(documents.type, by_query[query])]
    return Pairs([query for query, _ in rows], [document for _, document in rows])


def _those_held_by(kind: pa.DataType, ids: Iterable[Any]) -> list[Any]:
    """Return the ids that a column of this type can hold: ids of the same kind, and integers within its range."""
    alike = [each for each in ids if id_kind(type(each)) == id_kind(kind)]
    if id_kind(kind) != "integers":
        return alike
    limits = np.iinfo(kind.to_pandas_dtype())
    return [each for each in alike if limits.min <= each <= limits.max]


def _queries(exclude: Any, rows: Rows | None, by_query: Mapping[Any, Any] | None = None) -> Iterable[Any]:
    """Return the ids of queries that have documents to exclude."""
    if isinstance(exclude, Mapping) or rows is None:
        by_query = _by_query(exclude) if by_query is None else by_query
        return filter(by_query.get, by_query)
    return list(rows[0].distinct.to_pylist())


def _by_query(exclude: Any) -> Mapping[Any, Set[Any]]:
    """Return the documents to exclude of each query."""
    if isinstance(exclude, Mapping):
        check_ids("exclude", exclude, nested=False)
        return {query: _ids(query, documents) for query, documents in exclude.items()}
    if not isinstance(exclude, (Pairs, Columns)):
        forms = "{query: ids}, a file, or, together with data, a DataFrame with columns of the same names"
        raise ValueError(f"exclude must be {forms}; got {shown(exclude)}")
    rows = _excluded_rows_of(exclude)
    excluded_ids: dict[Any, set[Any]] = {each: set() for each in rows[0].distinct.to_pylist()}
    columns = (ids.distinct.take(pa.array(ids.codes)).to_pylist() for ids in rows)
    for of_query, of_document in zip(*columns, strict=True):
        excluded_ids[of_query].add(of_document)
    return excluded_ids


def by_position(exclude: Any, queries: int) -> dict[int, Any]:
    """Return ``{query: ids}``, by the position of queries, from a list of ids for each query."""
    rows = exclude.to_pylist() if isinstance(exclude, ARROW) else exclude
    if not isinstance(rows, (list, tuple, np.ndarray)) or isinstance(rows, (Pairs, Columns)):
        given = "a file or a DataFrame" if isinstance(rows, (Pairs, Columns)) else shown(exclude)
        problem = f"got {given}, but the predictions are ranked ids by position"
        raise ValueError(f"exclude: {problem}; give a list or a set of ids for each query, in the same order")
    if len(rows) != queries:
        raise ValueError(f"exclude holds {len(rows)} queries and predictions {queries}; give a list of ids for each")
    return dict(enumerate(rows))


def _ids(query: Any, documents: Any) -> Set[Any]:
    """Return the ids of a query's documents."""
    found = documents
    if not isinstance(found, (list, tuple, Set, Mapping, str, bytes)):
        found = plain("exclude", found)
        found = found.to_pylist() if isinstance(found, ARROW) else found
        found = found.tolist() if isinstance(found, np.ndarray) else found
    if not isinstance(found, (list, tuple, Set, Mapping)):
        raise ValueError(f"exclude: query {shown(query)}: must be a list or a set of ids; got {shown(documents)}")
    if wrong := types_of_no_ids(found):
        other = next(each for each in found if type(each) in wrong)
        raise ValueError(f"exclude: query {shown(query)}: must hold ids, text or integers; got {shown(other)}")
    return frozenset(found)


def _check_queries(excluded: Iterable[Any], own: Iterable[Any], is_file: bool) -> None:
    """Raise an error if no excluded query is in the rankings.

    It is a NothingExcludedError if the ids have the same type, so that other rankings may have these queries.
    """
    excluded_queries, own_queries = dict.fromkeys(excluded), dict.fromkeys(own)
    if excluded_queries and own_queries and excluded_queries.keys().isdisjoint(own_queries):
        one, other = next(iter(excluded_queries)), next(iter(own_queries))
        ids = f"{shown(one)} in exclude, {shown(other)} in the references"
        different = id_kind(type(one)) != id_kind(type(other))
        hint = "; give both the same type" * different
        hint += ": ids of files are text, so read the file and give its DataFrame" * (is_file and different)
        kind = ValueError if different else NothingExcludedError
        raise kind(f"exclude: no query is in the references; ids are such as {ids}{hint}")


def _check_documents(excluded: Mapping[Any, Collection[Any]], own: Mapping[str, Any]) -> None:
    """Raise an error for documents with another kind of ids than in the rankings, the same in any order of a set.

    For each kind of document ids in the rankings, `own` has one such id.
    """
    types = set(map(type, chain.from_iterable(excluded.values())))
    if own and (wrong := {each for each in types if id_kind(each) not in own}):
        others = [each for each in chain.from_iterable(excluded.values()) if type(each) in wrong]
        raise _another_type("documents", min(others, key=shown), next(iter(own.values())))


def _one_of_each_kind(sides: Iterable[IdMapping]) -> dict[str, Any]:
    """Return, for each kind of document ids in mappings, the first id of that kind."""
    examples: dict[str, Any] = {}
    for documents in chain.from_iterable(side.values() for side in sides):
        for kind in set(map(type, documents)):
            if id_kind(kind) not in examples:
                examples[id_kind(kind)] = next(each for each in documents if type(each) is kind)
    return examples


def _another_type(side: str, excluded: Any, own: Any) -> ValueError:
    ids = f"{shown(excluded)} in exclude, {shown(own)} in the rankings"
    return ValueError(f"exclude: ids of {side} are of another type, such as {ids}; give both the same type")
