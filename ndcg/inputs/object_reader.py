"""Read the documents of queries from objects, by paths that are chosen once for all of a side."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from types import NoneType
from typing import Any

from ..measure.messages import InputError, in_place, mark, shown, within
from .columns import as_number
from .documents import WITH_DOCUMENTS, documents_of_query, refuse_no_score
from .fields import Field, Fields, Keys, Names, or_another
from .ids import id_kind, once
from .no_rankings import contradiction
from .objects import (
    LOOKED_AT,
    fields_among,
    first_no_object,
    is_list,
    is_object,
    value_at,
    values_at,
)
from .roles import (
    Roles,
    are_pairs,
    other_ids,
    roles_of_hits,
    roles_of_objects,
    split_pairs,
    those_of_one_system,
)


class ListReader:
    """Reads the documents of one query after another, from lists of ids with their values."""

    def __init__(self, names: Names, hint: Callable[[], str] = str) -> None:
        self.names = names
        self.hint = hint  # returns that of errors about the ids, if they are in a field
        self.once = ""  # what an error about a repeated document says to do, if not as usual
        self.warning = ""  # about the first query whose list is in another order than its values
        self.has_values = False  # whether some documents have values

    @property
    def are_held_to_order(self) -> bool:
        """Whether scores were held against the order of documents; those of `fields` may differ."""
        return self.has_values and self.names.name("score") is None

    def read(
        self,
        query: Any,
        ids: Iterable[Any],
        values: Iterable[Any] = (),
        ranks: Iterable[Any] = (),
    ) -> dict[Any, Any]:
        """Return the values of a query's documents by their ids."""
        numbers = [] if self.names.has_no_value else list(map(as_number, values))
        self.has_values |= len(numbers) > 0
        if self.names.kind == "run":
            self._hold_against_order(query, numbers, ranks)
        try:
            if self.names.kind == "run" and NoneType in set(map(type, numbers)):
                refuse_no_score(list(ids), numbers, self.names)
            return documents_of_query(ids, numbers, self.names, self.once)
        except InputError as error:
            error.hint = self.hint()
            raise

    def _hold_against_order(self, query: Any, scores: Sequence[Any], ranks: Iterable[Any]) -> None:
        """Note what a warning says if scores rank documents in another order than they are in."""
        # One query is enough for a warning; in the others the fault is the same.
        if self.warning:
            return
        problem = contradiction(scores, list(map(as_number, ranks)), self.names)
        if problem:
            self.warning = f"query {shown(query)}: {problem}"


class HitReader:
    """Reads the fields of hits, which have the same paths in all of them."""

    def __init__(self, hits: Iterable[Any], names: Names, rows: Sequence[Any]) -> None:
        self.names = names
        self.roles = roles_of_hits(fields_among(hits), names, rows[:LOOKED_AT])
        self.ranks = _path_of_ranks(self.roles, names)
        self.hint = partial(_hint_on_ids, self.roles, names)  # of errors about the ids
        self.other_ids = partial(other_ids, self.roles, names)

    def columns(self, hits: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the ids of a query's hits, their values and their ranks, as far as they have any.

        Raises:
            InputError: one is no object.
        """
        position = first_no_object(hits)
        if position is not None:
            problem = f"{shown(hits[position])} is among hits that are objects; give objects alone"
            raise InputError(problem, position=position)
        _refuse_late_fields(hits, self.roles, self.names)
        values = self.roles.values(_all_at(hits, self.roles.value))
        return self.ids(hits), values, _all_at(hits, self.ranks)

    def ids(self, hits: Sequence[Any]) -> list[Any]:
        """Return the ids of hits."""
        return values_at(hits, self.roles.document)


def _refuse_late_fields(objects: Iterable[Any], roles: Roles, names: Names) -> None:
    """Raise an error for a field that none of the first objects has, beside ids alone."""
    if roles.beside_ids is None:
        return
    for position, value in enumerate(objects):
        with in_place(f"position {position}"):
            roles.refuse_late_field(value, names)


def _all_at(hits: Sequence[Any], keys: Keys | None) -> list[Any]:
    """Return the field of all hits at a path; nothing if there is no path."""
    return [] if keys is None else values_at(hits, keys)


def _path_of_ranks(roles: Roles, names: Names) -> Keys | None:
    """Return the path of the ranks beside the documents of a run; None if they have none."""
    if names.kind != "run":
        return None
    # Ranks in other lists may be of other documents.
    ranks = roles.beside_document(["rank"])
    return roles.all_fields[ranks[0]].keys if ranks else None


def _hint_on_ids(roles: Roles, names: Names) -> str:
    """Return what an error about ids says of their field, which may be in an outer list."""
    path = roles.fields["document"]
    another = or_another("document", other_ids(roles, names))
    hint = f"the ids are in {path!r}{another}"
    return "; ".join([hint, *those_of_one_system(roles.all_fields[path])])


class ObjectReader:
    """Reads objects that are rows or queries, in all of which the fields have the same paths.

    Args:
        objects: the objects of a side.
        fields: their fields, by their paths.
        names: the names that the fields may have.
        have_queries: whether their queries are known, as in a mapping by query.
        is_whole: whether the side is a single object, which may hold all queries in a list.

    Attributes:
        roles: where the objects have the query, the documents and their values.
        fields: the paths by role.
        paths: the keys of the fields that are read, by their paths.
        are_rows: whether objects are rows with one document.
        ranks: the keys of the ranks beside the documents; None if there are none.
        are_flat_rows: whether they are rows whose fields are in no other object.
        form: what was read, as `preview` says it.
    """

    def __init__(
        self,
        objects: Sequence[Any],
        fields: Fields,
        names: Names,
        have_queries: bool = False,
        is_whole: bool = False,
    ) -> None:
        # The path of the query may lead through a list that holds the queries, as `cases.id`.
        query = fields.get(names.name("query"), Field(()))
        self.wrapper = query.list_path
        have_queries = have_queries and not self.wrapper
        fields, self.roles = _chosen(objects, self.wrapper, fields, names, have_queries)
        document = fields[self.roles.fields["document"]]
        if is_whole and self.roles.query is None and len(document.lists) == 2:
            # One object around all queries, which have no ids, as `responses.hits.id`.
            self.wrapper = document.keys[: document.lists[0]]
            fields, self.roles = _chosen(objects, self.wrapper, fields, names, have_queries)
            document = fields[self.roles.fields["document"]]
        self.names = names
        self.fields = self.roles.fields
        self.paths = {path: fields[path].keys for path in self.fields.values()}
        # The documents of a query may be in several lists, as `spans.chunks.id`.
        self.are_in_lists = len(document.lists) == 2
        _refuse_other_lists(fields, self.fields, names)
        self.are_hits = document.holder == "hits"
        self.place = document.list_path
        self.are_rows = not document.holder
        self.ranks = _path_of_ranks(self.roles, names)
        self.are_flat_rows = self.are_rows and all(len(keys) == 1 for keys in self.paths.values())
        self.lists = ListReader(names, partial(_hint_on_ids, self.roles, names))
        self.other_ids = partial(other_ids, self.roles, names)
        if self.are_in_lists:
            # Of several rankings, the best rank in any tells nothing.
            self.lists.once = once("qrels")
        self.form = WITH_DOCUMENTS
        if self.are_rows:
            self.form = "objects, one per document"
            if self.roles.query is None and not have_queries:
                problem = "each row needs the id of its query; give the name of its field"
                raise InputError(f"{mark('fields', {'query': None})}: {problem}")

    @property
    def others(self) -> Sequence[str]:
        """The paths of the fields that are not read."""
        return self.roles.others

    @property
    def has_values(self) -> bool:
        """Whether documents have values, in a field, in pairs or in a mapping by their ids."""
        return self.roles.value is not None or self.lists.has_values

    def within(self, objects: Sequence[Any]) -> Sequence[Any]:
        """Return the objects that have the query, which may be in an outer list."""
        return _within_lists(objects, self.wrapper)

    def rows(self, objects: Sequence[Any]) -> dict[str, list[Any]]:
        """Return the columns of rows that `within` gives, by their roles."""
        _refuse_late_fields(objects, self.roles, self.names)
        paths = {role: self.paths[path] for role, path in self.fields.items()}
        columns = {role: values_at(objects, keys) for role, keys in paths.items()}
        if self.roles.value is not None:
            columns[self.names.value] = self.roles.values(columns[self.names.value])
        return columns

    def rows_with_ranks(self, objects: Sequence[Any]) -> dict[str, list[Any]] | None:
        """Return the columns of rows with their ranks; None if they have none.

        Ranks in an outer list have no place beside the rows, and without the field of a query every
        row is the only one of its query.
        """
        if self.ranks is None or self.wrapper or "query" not in self.fields:
            return None
        return {**self.rows(objects), "rank": values_at(objects, self.ranks)}

    def queries(
        self, objects: Sequence[Any], ids: Sequence[Any] | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield queries with their documents; a query without an id has its number from 0."""
        objects = _within_lists(objects, self.wrapper)
        called: Mapping[Any, Any] = {}
        # Ids that are given are those of the objects around the queries, if these have a field.
        if self.roles.query is not None:
            ids = values_at(objects, self.roles.query)
        elif ids is None:
            ids = range(len(objects))
            called = self.names.query_of_number
        paths = (self.roles.document, self.roles.value, self.ranks)
        columns = [self._column(objects, keys) for keys in paths]
        rows = zip(ids, objects, *columns, strict=True)
        for position, (query, row, *cells) in enumerate(rows):
            if not id_kind(type(query)):
                problem = f"the query is {shown(query)}, and not an id"
                hint = (
                    f"leave it out, or give {mark('fields', {'query': None})} if no query has one"
                )
                raise InputError(f"{problem}; {hint}", f"position {position}")
            name = called.get(query, query)
            try:
                documents = self._documents(name, row, *cells)
            except ValueError as error:
                raise within(error, f"query {shown(name)}") from None
            yield query, documents

    def _documents(
        self, query: Any, row: Any, documents: Any, values: Any, ranks: Any
    ) -> dict[Any, Any]:
        """Return the values of the documents of a query by their ids."""
        if documents is None:
            # Only the first objects have been looked at.
            if not is_object(row):
                raise InputError(f"got {shown(row)} among objects; give objects alone")
            self._note_failure(query, row)
            return {}
        if isinstance(documents, Mapping):
            return self.lists.read(query, documents, documents.values())
        if not is_list(documents) and not isinstance(documents, Set):
            path = self.fields["document"]
            raise InputError(f"{path} is {shown(documents)}; give a list of ids")
        # the hits of a query, which may be in lists within a list, or the object with a list of ids
        hits = one_after_another(one_after_another([value_at(row, self.place)]))
        _refuse_late_fields(hits, self.roles, self.names)
        if not self.are_hits and are_pairs(documents):
            return self.lists.read(query, *split_pairs(documents))
        ranks = ranks if is_list(ranks) else ()
        if isinstance(values, Mapping):
            # That of relevances holds all judged documents, also those that are not in the list.
            ids = values if self.names.kind == "qrels" else documents
            return self.lists.read(query, ids, map(values.get, ids), ranks)
        return self.lists.read(query, documents, self._values(values, documents), ranks)

    def _note_failure(self, query: Any, row: Any) -> None:
        """Note what a warning says about a query that has an error in place of documents."""
        error = value_at(row, ("error",))
        if error:
            problem = f"it has an error in place of documents, {shown(error)}"
            hint = "if it is judged, it counts as if nothing was retrieved"
            self.lists.warning = f"query {shown(query)}: {problem}; {hint}"

    def _column(self, objects: Sequence[Any], keys: Keys | None) -> list[Any]:
        """Return what objects have at some keys, one after the other; None without keys."""
        if keys is None:
            return [None] * len(objects)
        values = values_at(objects, keys)
        return list(map(one_after_another, values)) if self.are_in_lists else values

    def _values(self, values: Any, ids: Collection[Any]) -> Sequence[Any]:
        """Return the values of the documents of a query, one per id; none without their field."""
        if self.roles.value is None or (values is None and not ids):
            return ()
        if not is_list(values) or len(values) != len(ids):
            path = self.fields[self.names.value]
            problem = f"the number of documents is {len(ids)}, but {path} is {shown(values)}"
            raise InputError(f"{problem}; give a value for each")
        return self.roles.values(values)


def _chosen(
    objects: Sequence[Any],
    wrapper: Keys,
    fields: Fields,
    names: Names,
    have_queries: bool,
) -> tuple[Fields, Roles]:
    """Return the fields of the objects in the lists at a path, and their roles."""
    inner = _within_lists(objects, wrapper)
    if wrapper:
        fields = fields_among(inner, wrapper)
    return fields, roles_of_objects(inner[:LOOKED_AT], fields, names, have_queries)


def _refuse_other_lists(
    fields: Mapping[str, Field], paths: Mapping[str, str], names: Names
) -> None:
    """Raise an error for documents in three lists within each other, or with values elsewhere."""
    document = fields[paths["document"]]
    value = fields[paths.get(names.value, paths["document"])]
    are_beside = value.list_path == document.list_path
    if len(document.lists) > 2 or (len(document.lists) == 2 and not are_beside):
        problem = f"{paths['document']} is in lists within lists"
        hint = "give an object for each query, with its documents in one list"
        raise InputError(f"{problem}; {hint}")


def one_after_another(lists: Any) -> Any:
    """Return the elements of lists, one after another; None for none.

    >>> one_after_another([["a", "b"], None, ["c"]])
    ['a', 'b', 'c']
    """
    if not is_list(lists):
        return lists
    joined: list[Any] = []
    for values in lists:
        if is_list(values):
            joined += values
        elif values is not None:
            joined.append(values)
    return joined


def _within_lists(objects: Sequence[Any], path: Keys) -> Sequence[Any]:
    """Return the objects in the lists at a path; the objects themselves if there is none."""
    if not path:
        return objects
    inner = values_at(objects, path)
    while any(map(is_list, inner)):
        inner = one_after_another(inner)
    return inner
