"""The documents of queries by their ids, and the rules for the documents of one query."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain, islice
from numbers import Real
from types import NoneType
from typing import Any
from uuid import UUID

from ..measure.messages import InputError, mark, shown
from .columns import number
from .fields import Names
from .hashes import NO_ROWS, Columns
from .ids import (
    RowNumbers,
    check_query_ids,
    id_kind,
    is_missing,
    once,
    refuse_batches,
    types_of_no_ids,
)
from .sources import in_python

# What an error says about numbers where a list should have ids.
NUMBERS_IN_LISTS = "if these are scores or relevances, give {document: number} in each query"
# Of the spans of a trace, only those of its retriever hold documents.
EACH_QUERY_ONCE = "give each query once, and leave out objects without documents"
# What held the documents of queries, in lists of which one log may have several.
WITH_DOCUMENTS = "objects, one per query, with its documents"
IDS_IN_LISTS = "lists of ids"
DocumentValues = Mapping[Any, Any]  # the values of a query's documents by their ids


@dataclass(frozen=True)
class ById:
    """The values of the documents of queries, by their ids."""

    queries: Mapping[Any, DocumentValues]  # by the ids of queries, or by their numbers from 0
    by_position: bool = False  # whether queries have no ids
    form: str = "mappings of documents to numbers"  # what held them
    fields: Mapping[str, str] = field(default_factory=dict)  # the fields by role
    has_values: bool = True  # whether documents have values; else their order makes them
    others: Sequence[str] = ()  # the fields that are not read
    has_ranks: bool = False  # whether scores were held against the order of documents
    # returns the fields that could be the document as well, as the id of a chunk of it
    other_ids: Callable[[], Sequence[str]] = tuple

    @property
    def positions(self) -> int | None:
        """The number of queries if they have no ids; None if they have."""
        return len(self.queries) if self.by_position else None

    @property
    def lacking(self) -> RowNumbers:
        """The numbers of rows without a value, as of `Columns`: there are no rows."""
        return NO_ROWS

    @property
    def query_ids(self) -> list[Any]:
        """The ids of the queries, or their numbers."""
        return list(self.queries)

    @property
    def first_id(self) -> Any:
        """The first id of a document; None if there is none."""
        return next(iter(self.first_ids(1)), None)

    @property
    def first_query(self) -> Any:
        """The id of the first query; None if there is none."""
        return next(iter(self.queries), None)

    def first_ids(self, count: int) -> list[Any]:
        """Return so many ids of documents."""
        return list(islice(self.ids(), count))

    def ids(self) -> Iterator[Any]:
        """Return the ids of all documents."""
        return chain.from_iterable(self.queries.values())


def has_ids(side: Any) -> bool:
    """Return whether the documents of a side have ids."""
    return isinstance(side, (ById, Columns))


def is_log(side: ById | Columns) -> bool:
    """Return whether a side was read from objects that each hold the documents of a query."""
    return _holder(side) == WITH_DOCUMENTS


def has_lists_of_ids(side: Any) -> bool:
    """Return whether a side was read from lists of ids alone."""
    return has_ids(side) and _holder(side) == IDS_IN_LISTS


def _holder(side: ById | Columns) -> str:
    """Return what held the documents of a side, in memory or in a file of any format."""
    return side.form.rpartition(": ")[2]


def has_no_documents(side: Any) -> bool:
    """Return whether a side holds no document, so that there is nothing that has fields."""
    if isinstance(side, ById):
        return not any(side.queries.values())
    if isinstance(side, list):
        return all(isinstance(row, list) and not row for row in side)
    return side is None


def no_values(names: Names) -> str:
    """Return what an error says about a side of which no document has a score, or a relevance."""
    return f"no document has a {names.value}; {give_values(names)}"


def give_values(names: Names) -> str:
    """Return what an error says to do about documents that lack scores, or relevances."""
    call = mark("fields", {names.value: None})
    if names.kind == "run":
        return f"give each document a score, or {call} if the order counts"
    return f"give relevances, or {call} if each is relevant"


def refuse_no_values(argument: str, side: Any, names: Names) -> None:
    """Raise an error for a mapping with documents, all of whose values are None."""
    if not isinstance(side, ById):
        return
    values = chain.from_iterable(documents.values() for documents in side.queries.values())
    first = next(values, 0)  # a side without documents is no fault here
    if first is None and all(value is None for value in values):
        raise InputError(no_values(names), argument)


def rows_by_query(argument: str, queries: Sequence[Any], rows: Sequence[Any]) -> dict[Any, Any]:
    """Return the documents of queries by their ids, which must differ."""
    documents = dict(zip(queries, rows, strict=True))
    if len(documents) == len(queries):
        return documents
    before, position = _first_repeated(queries)
    problem = f"query {shown(queries[position])} is in row {before} and in row {position}"
    raise InputError(f"{problem}; {EACH_QUERY_ONCE}", argument)


def _first_repeated(ids: Sequence[Any]) -> tuple[int, int]:
    """Return where an id is that is there again, and where it is again for the first time."""
    first: dict[Any, int] = {}
    for position, value in enumerate(ids):
        before = first.setdefault(value, position)
        if before < position:
            return before, position
    raise AssertionError("ids that are equal have equal hashes")


def ids_of_queries(query_ids: Any, queries: int) -> list[Any]:
    """Return the ids that `query_ids` has for queries in their order, which must differ."""
    values = in_python(query_ids)
    if not isinstance(values, Iterable) or isinstance(values, (Set, Mapping)):
        problem = f"must be in the order of the queries; got {shown(values)}"
        raise InputError(f"{problem}; give a list, an id for each query", "query_ids")
    ids = list(values)
    refuse_batches("query_ids", ids)
    check_query_ids("query_ids", ids)
    if len(ids) != queries:
        problem = f"must hold one id per query, {queries} in all; got {len(ids)}"
        raise InputError(problem, "query_ids")
    return list(rows_by_query("query_ids", ids, ids))


def documents_of_query(
    ids: Iterable[Any], values: Sequence[Any] | None, names: Names, hint: str = ""
) -> dict[Any, Any]:
    """Return the values of a query's documents by their ids.

    Without values, the order of a run makes them: they fall by one from rank to rank, or rise. A
    relevance is 1. The hint says what to do about a document that is there twice.

    >>> documents_of_query(["d2", "d1"], None, Names("run", "score"))
    {'d2': -1, 'd1': -2}
    >>> documents_of_query(["d1"], [0.5], Names("run", "score"))
    {'d1': 0.5}

    Raises:
        InputError: a value is no id, ids are of several kinds, or a document is there twice.
    """
    if isinstance(ids, Set) and names.kind == "run":
        raise InputError("a set has no order; give a list of ids, best first")
    ids = list(ids)
    numbers = values or values_by_order(len(ids), names)
    # Nearly all lists are of text alone, or of integers alone, which need no look at every id.
    if set(map(type, ids)) not in ({str}, {int}):
        # Clients of databases return UUIDs, which files and other systems hold as text.
        ids = [str(value) if isinstance(value, UUID) else value for value in ids]
        _check_kinds(ids, names)
    documents = dict(zip(ids, numbers, strict=True))
    if len(documents) == len(ids):
        return documents
    if names.keep is None:
        before, position = _first_repeated(ids)
        problem = f"document {shown(ids[position])} is in position {before} already"
        hint = hint or once(names.kind)
        if not values and isinstance(ids[position], Real):
            hint = f"{hint}; {NUMBERS_IN_LISTS}"
        raise InputError(f"{problem}; {hint}", position=position)
    return _best(ids, numbers, names)


def values_by_order(count: int, names: Names) -> Sequence[int]:
    """Return the values of documents that have none, in their order.

    >>> list(values_by_order(3, Names("run", "score")))
    [-1, -2, -3]
    """
    if names.kind != "run":
        return [1] * count
    if names.ascending:
        return range(1, count + 1)
    return range(-1, -count - 1, -1)


def refuse_no_score(ids: Sequence[Any], numbers: Sequence[Any], names: Names) -> None:
    """Raise an error for documents of a list of which some have a score and others have none."""
    position = list(map(type, numbers)).index(NoneType)
    problem = f"document {shown(ids[position])} has no score"
    raise InputError(f"{problem}; {give_values(names)}", position=position)


def _check_kinds(ids: Sequence[Any], names: Names) -> None:
    """Raise an error for a value that is no id, and for ids of several kinds."""
    wrong = types_of_no_ids(ids)
    first: dict[str, Any] = {}
    for position, document in enumerate(ids):
        if type(document) in wrong:
            problem = f"an id must be text or an integer; got {shown(document)}"
            raise InputError(f"{problem}; {_instead(document, names)}", position=position)
        first.setdefault(id_kind(type(document)), document)
    if len(first) > 1:
        several = " and ".join(map(shown, first.values()))
        raise InputError(f"ids must be of one kind; got {several}; give all as text")


def _instead(value: Any, names: Names) -> str:
    """Return what an error says to do about a value in a list that is no id."""
    if is_missing(value):
        return "leave it out"
    if isinstance(value, Real):
        return NUMBERS_IN_LISTS
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0:
        return f"give one id, or pairs of an id and its {names.value or 'value'}, [(id, ...), ...]"
    return "give others as text"


def _best(ids: Sequence[Any], numbers: Sequence[Any], names: Names) -> dict[Any, Any]:
    """Return the best scores of documents, at the first or the last of their places with it."""
    places = range(len(ids))
    if names.keep == "first":
        places = places[::-1]
    # The best of a document comes last, and so replaces the others.
    in_order = sorted(places, key=lambda place: _worth(number(numbers[place]), names.ascending))
    best = {ids[place]: place for place in in_order}
    return {ids[place]: numbers[place] for place in sorted(best.values())}


def _worth(score: Any, ascending: bool) -> tuple[int, Any]:
    """Return what orders scores, the best last: none before numbers, and these before others."""
    if score is None:
        return 0, 0
    if not isinstance(score, Real) or score != score:
        return 2, 0  # which is refused where values are read
    return 1, -score if ascending else score
