"""Documents that take no rank and are in no ideal, such as items a user has seen -> both sides without them."""

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .by_id import encode_ids
from .columns import ARROW, Mask, plain, settled
from .files import Columns
from .messages import shown


class Pairs(NamedTuple):
    """Documents to exclude, a row each, as columns of any library.

    Attributes:
        query_ids: the id of each row's query.
        document_ids: the id of each row's document.
    """

    query_ids: Any
    document_ids: Any


class _Rows(NamedTuple):
    """Ids of queries and documents, a row each, as indices into the distinct ids."""

    query: NDArray[np.int64]
    queries: pa.Array
    document: NDArray[np.int64]
    documents: pa.Array


class Exclusion:
    """Which documents of which queries to leave out.

    Args:
        exclude: ``{query: ids}``, the ``Pairs`` of a frame, or a file's ``Columns``.

    >>> Exclusion({"q": ["a", "c"]}).without({"q": {"a": .9, "b": .1}}, {"q": {"b": 1}})
    ({'q': {'b': 0.1}}, {'q': {'b': 1}})
    """

    def __init__(self, exclude: Any) -> None:
        if not isinstance(exclude, (Mapping, Pairs, Columns)):
            forms = "{query: ids}, a file, or beside data a frame with columns of the same names"
            raise ValueError(f"exclude must be {forms}; got {shown(exclude)}")
        self.exclude = exclude

    def without(self, predictions: Any, references: Any) -> tuple[Any, Any]:
        """Return both sides, mappings or files, without the documents to exclude.

        Raises:
            ValueError: ids that cannot be read, ids of another type than the rankings', no query in common.
        """
        by_columns = isinstance(references, Columns)
        excluded = self._rows.queries.to_pylist() if by_columns else list(self._by_query)
        _check_queries(excluded, references.query_ids.to_pylist() if by_columns else references)
        return self._without(predictions), self._without(references)

    def rows(
        self, query: NDArray[np.int64], queries: pa.Array, document: NDArray[np.int64], documents: pa.Array
    ) -> Mask:
        """Return of each row whether its document is to be excluded.

        Args:
            query: of each row, an index into ``queries``.
            queries: distinct ids.
            document: of each row, an index into ``documents``.
            documents: distinct ids.

        Raises:
            ValueError: as `without`.
        """
        _check_queries(self._rows.queries.to_pylist(), queries.to_pylist())
        return self._among(_Rows(query, queries, document, documents))

    def _without(self, side: Any) -> Any:
        if isinstance(side, Columns):
            kept = ~self._among(_Rows(side.query, side.query_ids, *encode_ids("document_ids", side.document)))
            document = side.document.filter(pa.array(kept))
            return side._replace(query=side.query[kept], document=document, value=side.value[kept])
        _check_documents(*(next(chain.from_iterable(each.values()), None) for each in (self._by_query, side)))
        return {
            query: {each: value for each, value in documents.items() if each not in self._by_query.get(query, ())}
            for query, documents in side.items()
        }

    def _among(self, own: _Rows) -> Mask:
        excluded = self._rows
        if len(excluded.documents) and len(own.documents):
            _check_documents(excluded.documents[0].as_py(), own.documents[0].as_py())
        query = _places(excluded.queries, own.queries)[excluded.query]
        document = _places(excluded.documents, own.documents)[excluded.document]
        known = (query >= 0) & (document >= 0)
        pairs = query[known] * len(own.documents) + document[known]
        return np.isin(own.query * len(own.documents) + own.document, pairs)

    @cached_property
    def _rows(self) -> _Rows:
        """The documents to exclude, row by row."""
        exclude = self.exclude
        if isinstance(exclude, Columns):
            return _Rows(exclude.query, exclude.query_ids, *encode_ids("exclude", exclude.document))
        if isinstance(exclude, Mapping):
            queries = [query for query, documents in self._by_query.items() for _ in documents]
            exclude = Pairs(queries, list(chain.from_iterable(self._by_query.values())))
        query, document = (encode_ids("exclude", ids) for ids in settled(**exclude._asdict()))
        if len(query[0]) != len(document[0]):
            lengths = f"{len(query[0])} query ids and {len(document[0])} document ids"
            raise ValueError(f"exclude: has {lengths}; give both in each row")
        return _Rows(*query, *document)

    @cached_property
    def _by_query(self) -> Mapping[Any, Set[Any]]:
        """The documents to exclude of each query."""
        if isinstance(self.exclude, Mapping):
            return {query: _ids(query, documents) for query, documents in self.exclude.items()}
        query, queries, document, documents = self._rows
        found: dict[Any, set[Any]] = {each: set() for each in queries.to_pylist()}
        columns = queries.take(pa.array(query)).to_pylist(), documents.take(pa.array(document)).to_pylist()
        for of_query, of_document in zip(*columns, strict=True):
            found[of_query].add(of_document)
        return found


def by_position(exclude: Any, queries: int) -> dict[int, Any]:
    """Return ``{query: ids}`` of a list of ids for each query, by position.

    Raises:
        ValueError: it is no list with an entry for each query.
    """
    rows = exclude.to_pylist() if isinstance(exclude, ARROW) else exclude
    if not isinstance(rows, (list, tuple, np.ndarray)):
        problem = f"got {shown(exclude)}, but the predictions are ranked ids, whose queries have no ids"
        raise ValueError(f"exclude: {problem}; give a list or a set of ids for each query, in the same order")
    if len(rows) != queries:
        raise ValueError(f"exclude holds {len(rows)} queries and predictions {queries}; give a list of ids for each")
    return dict(enumerate(rows))


def _ids(query: Any, documents: Any) -> Set[Any]:
    """Return the ids of a query's documents."""
    found = documents
    if not isinstance(found, (list, tuple, Set, Mapping, str, bytes)):
        found = plain("exclude", found)
        found = found.tolist() if isinstance(found, (np.ndarray, *ARROW)) else None
    if not isinstance(found, (list, tuple, Set, Mapping)):
        raise ValueError(f"exclude: query {shown(query)}: must be a list or a set of ids; got {shown(documents)}")
    try:
        return frozenset(found)
    except TypeError:
        problem = f"must hold ids, text or integers; got {shown(documents)}"
        raise ValueError(f"exclude: query {shown(query)}: {problem}") from None


def _places(ids: pa.Array, among: pa.Array) -> NDArray[np.int64]:
    """Return of each id where it is among others; -1 where it is not."""
    values, own = (
        each.cast(pa.large_binary() if pa.types.is_binary(each.type) else pa.large_string()).cast(pa.large_binary())
        for each in (ids, among)
    )
    return np.asarray(pc.fill_null(pc.index_in(values, own), -1).to_numpy().astype(np.int64))


def _check_queries(excluded: Iterable[Any], own: Iterable[Any]) -> None:
    """Raise an error for queries that are all of other ids than the rankings'."""
    theirs, ours = dict.fromkeys(excluded), dict.fromkeys(own)
    if theirs and ours and theirs.keys().isdisjoint(ours):
        ids = f"{shown(next(iter(theirs)))} in exclude, {shown(next(iter(ours)))} in the references"
        raise ValueError(f"exclude: no query is one of the references'; ids are such as {ids}")


def _check_documents(excluded: Any, own: Any) -> None:
    """Raise an error for a document's id that is text where those of the rankings are not, or the other way round."""
    if None not in (excluded, own) and isinstance(excluded, str) != isinstance(own, str):
        ids = f"{shown(excluded)} in exclude, {shown(own)} in the rankings"
        raise ValueError(f"exclude: ids of documents are of another type, such as {ids}; give one type for both")
