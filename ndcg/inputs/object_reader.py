"""Read the documents of queries from objects, by paths that are chosen once for all objects of a side.

An object is a row with one document if the path of the document leads to an id, and a query with
its documents if it leads to a list of ids, or to a mapping of ids to values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, pairwise
from numbers import Real
from typing import Any, NamedTuple

from ..measure.messages import InputError, mark, shown, within
from .columns import as_number
from .documents import documents_of_query
from .fields import (
    DOCUMENT,
    DOCUMENT_OF_HITS,
    LISTS_OF_IDS,
    QUERY,
    QUERY_OF_LISTS,
    RELEVANCE,
    Fields,
    Given,
    Groups,
    Names,
    chosen_fields,
    plain_name,
)
from .ids import id_kind
from .objects import LOOKED_AT, Field, Keys, fields_among, is_list, is_object, leaves, value_at, values_at

LAST_RESORT = set(map(plain_name, RELEVANCE[-1]))


class Roles(NamedTuple):
    """Where the objects of a side have the query, the documents and their values."""

    query: Keys | None
    document: Keys
    value: Keys | None
    fields: dict[str, str]  # the path of each role


# Choosing the roles


def roles_of_hits(fields: Mapping[str, Field], names: Names) -> Roles:
    """Return where the hits of a query have the documents and their values."""
    outside = leaves(fields, [path for path, field in fields.items() if not field.in_list])
    documents = names.candidates("document", outside, DOCUMENT_OF_HITS)
    candidates: dict[str, Sequence[Any]] = {"document": documents}
    if names.value:
        candidates |= _values_beside(outside, documents, names)
    return _roles(fields, candidates, names, leaves(fields), "its hits have")


def roles_of_objects(
    objects: Sequence[Any], fields: Mapping[str, Field], names: Names, have_queries: bool
) -> Roles:
    """Return where objects, which are rows or queries, have the query, documents and values.

    The objects may have their queries already, such as those in a mapping by query.
    """
    documents = _documents(fields, names)
    ends = leaves(fields)
    outside = leaves(fields, [path for path, field in fields.items() if _may_be_id(field)])
    are_queries = any(_holds_documents(fields[path]) for path in documents)
    candidates: dict[str, Sequence[Any]] = {}
    if not have_queries:
        standard = QUERY_OF_LISTS if are_queries else QUERY
        candidates["query"] = names.candidates("query", outside, standard)
        documents = [path for path in documents if path not in candidates["query"]]
        if are_queries and "query" not in names.given:
            outside_lists = [path for path in ends.last if not fields[path].in_list]
            if set(outside_lists) <= {*documents, *_beside(fields, documents)}:
                del candidates["query"]  # nothing could name the query: its position does
    candidates["document"] = documents
    if names.value:
        query = candidates.get("query", [])
        candidates |= _values(objects, fields, documents, query, names)
    there = "the objects have"
    return _roles(fields, candidates, names, ends, there)


def _roles(
    fields: Mapping[str, Field],
    candidates: Mapping[str, Sequence[Any]],
    names: Names,
    ends: Fields,
    there: str,
) -> Roles:
    chosen = chosen_fields(candidates, names, ends, there)
    keys = {role: fields[path].keys for role, path in chosen.items()}
    return Roles(keys.get("query"), keys["document"], keys.get(names.value), chosen)


def _may_be_id(field: Field) -> bool:
    """Return whether a field could name the query: a single value outside all lists."""
    is_single = not is_list(field.example) and not isinstance(field.example, (Mapping, Set))
    return is_single and not field.in_list and not field.has_fields


def _holds_documents(field: Field) -> bool:
    """Return whether a field holds several documents: in a list, a set or a mapping."""
    return field.in_list or is_list(field.example) or isinstance(field.example, (Set, Mapping))


def _documents(fields: Mapping[str, Field], names: Names) -> list[str]:
    """Return the fields that could hold the documents."""
    name = names.name("document")
    if name is not None and name in fields and isinstance(fields[name].example, Mapping):
        return [name]  # a mapping of ids to values
    ends = leaves(fields)
    if name is not None:
        return names.candidates("document", ends, ())
    hits = [path for path in ends.last if fields[path].in_list]
    lists = [path for path in ends.last if not fields[path].in_list and _is_list_of_ids(fields[path])]
    rows = [path for path in ends.last if path not in hits and path not in lists]
    # Full names come before bare ones, wherever they stand.
    groups: list[tuple[list[str], Groups]] = [
        (hits, DOCUMENT_OF_HITS), (rows, DOCUMENT), (lists, LISTS_OF_IDS[names.kind]), (lists, DOCUMENT),
    ]
    for level in range(2):
        present: list[str] = []
        for paths, standard in groups:
            present += names.candidates("document", leaves(fields, paths), standard[level : level + 1])
        if present:
            return present
    return []


def _is_list_of_ids(field: Field) -> bool:
    return is_list(field.example) or isinstance(field.example, Set)


def _values(
    objects: Sequence[Any],
    fields: Mapping[str, Field],
    documents: Sequence[str],
    query: Sequence[str],
    names: Names,
) -> dict[str, Sequence[Any]]:
    """Return the fields that could hold the values of the documents; nothing if there need be none."""
    ends = leaves(fields)
    if len(documents) != 1:  # one error names all that is not clear
        return {names.value: names.candidates(names.value, ends, names.values())}
    if names.has_no_value:
        return {}
    document = fields[documents[0]]
    if isinstance(document.example, Mapping) and not document.in_list:
        return {}
    if names.name(names.value) is not None:
        named = names.candidates(names.value, leaves(fields, fields), ())
        if named or not names.given[names.value].of_both:
            return {names.value: named}
    if are_pairs(document.example):
        return {}
    if _is_list_of_ids(document) and not document.in_list:
        return _lists_beside(objects, fields, document, names)
    same_list = [path for path, field in fields.items() if field.list_path == document.list_path]
    beside = leaves(fields, [path for path in same_list if path not in query])
    return _values_beside(beside, documents, names)


def _values_beside(
    ends: Fields, documents: Sequence[str], names: Names
) -> dict[str, Sequence[Any]]:
    """Return the fields that could hold the values, among those of the same object as the id.

    There need be no value if nothing stands beside the id.
    """
    role = names.value
    others = [path for path in ends.last if path not in documents]
    if names.has_no_value or (not others and names.name(role) is None):
        return {}
    values = names.candidates(role, ends, names.values())
    values = [path for path in values if path not in documents]
    return {role: without_model_scores(values, len(others), ends, names)}


def without_model_scores(values: list[Any], others: int, fields: Fields, names: Names) -> list[Any]:
    """Return the candidates for a relevance without a score or a weight that may be a model's.

    It is a relevance, as in the qrels of BEIR, only if nothing else stands beside the ids.
    """
    is_named = names.name("relevance") is not None
    if names.kind != "qrels" or is_named or others == 1:
        return values
    return [path for path in values if fields.last[path] not in LAST_RESORT]


def _beside(fields: Mapping[str, Field], documents: Sequence[str]) -> list[str]:
    """Return the lists and mappings that stand beside a list of ids."""
    if len(documents) != 1 or not _is_list_of_ids(fields[documents[0]]):
        return []
    start = fields[documents[0]].keys[:-1]
    return [
        path
        for path, field in fields.items()
        if field.keys[:-1] == start and not _may_be_id(field)
    ]


def _lists_beside(
    objects: Sequence[Any], fields: Mapping[str, Field], document: Field, names: Names
) -> dict[str, Sequence[Any]]:
    """Return the lists and mappings beside a list of ids that could hold their values.

    Those are as long as the list, or have the ids as keys, in all objects that are looked at.
    There need be none.
    """
    lists_of_ids = {plain_name(name) for groups in LISTS_OF_IDS.values() for name in chain(*groups)}
    ids = values_at(objects, document.keys)
    beside = []
    for path, field in fields.items():
        if field.keys[:-1] != document.keys[:-1] or field is document:
            continue
        if plain_name(field.keys[-1]) in lists_of_ids:
            continue
        values = values_at(objects, field.keys)
        pairs = [pair for pair in zip(ids, values, strict=True) if pair[0] or pair[1]]
        if pairs and all(_could_be_values(value, row, names) for row, value in pairs):
            beside.append(path)
    if not beside:
        return {}
    ends = Fields(
        {path: fields[path].example for path in beside},
        {path: plain_name(fields[path].keys[-1]) for path in beside},
    )
    standard = (*names.values(in_lists=True), *names.values())
    return {names.value: names.candidates(names.value, ends, standard)}


def _could_be_values(values: Any, ids: Any, names: Names) -> bool:
    """Return whether a list is as long as a list of ids, or a mapping has the ids as keys."""
    if not is_list(ids) and not isinstance(ids, Set):
        return False
    if isinstance(values, Mapping):
        return len(values) > 0 and {*ids} <= values.keys()
    if not is_list(values) or len(values) != len(ids):
        return False
    if any(is_list(value) or is_object(value) for value in values):
        return False
    # Text beside what was retrieved is content; beside what is relevant it may be a judge's word.
    return names.kind == "qrels" or not any(isinstance(value, str) for value in values)


# Reading


def are_pairs(row: Any) -> bool:
    """Return whether a query's documents are pairs of an id, or an object, and a value."""
    if not is_list(row) or len(row) == 0 or not is_list(row[0]) or len(row[0]) != 2:
        return False
    return is_object(row[0][0]) or bool(id_kind(type(row[0][0])))


class ListReader:
    """Reads the documents of one query after another, from lists of ids with their values."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.warning = ""  # about the first query whose list is in another order than its values
        self.has_values = False  # whether some documents have values

    def read(
        self, query: Any, ids: Sequence[Any], values: Sequence[Any] | None, ranks: Sequence[Any] = ()
    ) -> dict[Any, Any]:
        """Return the values of a query's documents by their ids; errors name the query."""
        self.has_values |= values is not None
        if self.names.kind == "run" and not self.warning:
            problem = contradiction(values, ranks, self.names)
            if problem:
                self.warning = f"query {shown(query)}: {problem}"
        try:
            return documents_of_query(ids, values, self.names, in_list=True)
        except ValueError as error:
            raise within(error, f"query {shown(query)}") from None


def without_value(names: Names) -> Names:
    """Return the names for objects whose values are given beside them."""
    return replace(names, given={**names.given, names.value: Given(None, of_both=False)})


class HitReader:
    """Reads lists of hits, in all of which the fields have the same paths."""

    def __init__(self, hits: Iterable[Any], names: Names) -> None:
        fields = fields_among(hits)
        self.roles = roles_of_hits(fields, names)
        self.ranks = _path_of_ranks(fields, names)
        self.lists = ListReader(names)

    def read(self, query: Any, hits: Sequence[Any]) -> dict[Any, Any]:
        """Return the values of a query's documents by their ids."""
        for position, hit in enumerate(hits):
            if not is_object(hit):
                problem = f"{shown(hit)} is among hits that are objects; give objects alone"
                raise InputError(problem, f"query {shown(query)}", position=position)
        ids = self.ids(hits)
        values = None if self.roles.value is None else values_at(hits, self.roles.value)
        ranks = () if self.ranks is None else values_at(hits, self.ranks)
        return self.lists.read(query, ids, values, ranks)


    def ids(self, hits: Sequence[Any]) -> list[Any]:
        """Return the ids of hits."""
        return values_at(hits, self.roles.document)


def _path_of_ranks(fields: Mapping[str, Field], names: Names) -> Keys | None:
    """Return the path of the ranks of hits, beside their scores; None if they have none."""
    if names.kind != "run" or names.ascending:
        return None
    paths = [field.keys for field in fields.values() if plain_name(field.keys[-1]) == "rank"]
    return paths[0] if len(paths) == 1 else None


def are_equal_beside_ranks(scores: Sequence[Any], ranks: Sequence[Any]) -> bool:
    """Return whether several scores are all equal, but have the ranks 1, 2, 3, ..."""
    if len(scores) < 2 or len(set(scores)) > 1:
        return False
    return sorted(ranks) == list(range(1, len(scores) + 1))


def query_of_equal_scores(queries: Iterable[Any], scores: Iterable[Any], ranks: Iterable[Any]) -> Any:
    """Return the first query of rows whose scores are all equal beside ranks; None if there is none."""
    by_id: dict[Any, tuple[list[Any], list[Any]]] = {}
    for query, score, rank in zip(queries, scores, ranks, strict=True):
        scores_of_query, ranks_of_query = by_id.setdefault(query, ([], []))
        scores_of_query.append(as_number(score))
        ranks_of_query.append(as_number(rank))
    for query, (scores_of_query, ranks_of_query) in by_id.items():
        are_ranks = all(isinstance(rank, Real) for rank in ranks_of_query)
        if are_ranks and are_equal_beside_ranks(scores_of_query, ranks_of_query):
            return query
    return None


def equal_scores() -> str:
    """Return what a warning says about equal scores beside ranks."""
    call = mark("fields", {"score": None})
    return f"its scores are all equal, but it has ranks from 1; if the order counts, give {call}"


def contradiction(values: Sequence[Any] | None, ranks: Sequence[Any], names: Names) -> str:
    """Return what a warning says about hits whose order and values disagree; empty if they agree.

    Scores that `fields` names may be in any order, but in the opposite one they may be distances.
    """
    scores = [value for value in map(as_number, values or ()) if isinstance(value, Real)]
    places = [rank for rank in map(as_number, ranks) if isinstance(rank, Real)]
    if are_equal_beside_ranks(scores, places):
        return equal_scores()
    if not scores:
        if all(before < after for before, after in pairwise(places)):
            return ""
        hint = f"if the ranks count, give {mark('score_order', 'ascending')}"
        return f"its hits are in another order than their ranks, and their order counts; {hint}"
    best_first = sorted(scores, reverse=not names.ascending)
    if scores == best_first:
        return ""
    if names.name("score") is not None and scores != best_first[::-1]:
        return ""
    hint = f"if the order counts, give {mark('fields', {'score': None})}"
    if not names.ascending:
        hint += f"; if the lowest score is best, give {mark('score_order', 'ascending')}"
    return (
        "the scores rank its hits in another order than they are in, and the scores count; "
        f"{hint}"
    )


class ObjectReader:
    """Reads objects that are rows or queries, in all of which the fields have the same paths."""

    def __init__(self, objects: Sequence[Any], names: Names, have_queries: bool = False) -> None:
        fields = fields_among(objects)
        self.wrapper = _wrapper(fields, names)
        if self.wrapper:
            fields = fields_among(_within_lists(objects, self.wrapper), self.wrapper)
        self.names = names
        looked_at = _within_lists(objects, self.wrapper)[:LOOKED_AT]
        self.roles = roles_of_objects(looked_at, fields, names, have_queries)
        self.are_rows = not _holds_documents(fields[self.roles.fields["document"]])
        self.lists = ListReader(names)
        if self.are_rows and self.roles.query is None and not have_queries:
            problem = "each row needs the id of its query; give the name of its field"
            raise InputError(f"{mark('fields', {'query': None})}: {problem}")

    @property
    def form(self) -> str:
        """What was read, as `preview` says it."""
        if self.are_rows:
            return "objects, a document each"
        return "objects, a query with its documents each"

    @property
    def fields(self) -> Mapping[str, str]:
        """The field of each role."""
        return self.roles.fields

    @property
    def has_values(self) -> bool:
        """Whether documents have values, in a field, in pairs or in a mapping by their ids."""
        return self.roles.value is not None or self.lists.has_values

    @property
    def paths(self) -> dict[str, Keys]:
        """The keys of the fields that are read, by their paths."""
        keys = {
            "query": self.roles.query,
            "document": self.roles.document,
            self.names.value: self.roles.value,
        }
        return {path: keys[role] or () for role, path in self.roles.fields.items()}

    @property
    def are_flat_rows(self) -> bool:
        """Whether the objects are rows whose fields are in no other object."""
        return self.are_rows and all(len(keys) == 1 for keys in self.paths.values())

    def rows(self, objects: Sequence[Any]) -> dict[str, list[Any]]:
        """Return the columns of rows, by their roles."""
        objects = _within_lists(objects, self.wrapper)
        roles = {"query": self.roles.query, "document": self.roles.document}
        roles[self.names.value] = self.roles.value
        return {
            role: values_at(objects, keys) for role, keys in roles.items() if keys is not None
        }

    def queries(self, objects: Sequence[Any], ids: Sequence[Any] | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield each query with its documents; a query without an id has its number from 0."""
        objects = _within_lists(objects, self.wrapper)
        if ids is not None:
            queries = ids
        elif self.roles.query is None:
            queries = range(len(objects))
        else:
            queries = values_at(objects, self.roles.query)
        lists = values_at(objects, self.roles.document)
        for position, (query, row, documents) in enumerate(zip(queries, objects, lists, strict=True)):
            if not id_kind(type(query)):
                problem = f"the query is {shown(query)}, and not an id; give each query an id"
                raise InputError(problem, position=position)
            yield query, self._documents(query, row, documents)

    def _documents(self, query: Any, row: Any, documents: Any) -> dict[Any, Any]:
        """Return the values of the documents of a query by their ids."""
        if documents is None:
            return {}
        if isinstance(documents, Mapping):
            values = None if self.names.has_no_value else list(documents.values())
            return self.lists.read(query, list(documents), values)
        path = self.roles.fields["document"]
        if isinstance(documents, Set) and self.names.kind == "run":
            problem = f"{path} is a set, which has no order; give a list of ids, best first"
            raise InputError(problem, f"query {shown(query)}")
        if not is_list(documents) and not isinstance(documents, Set):
            problem = f"{path} is {shown(documents)}; give a list of ids"
            raise InputError(problem, f"query {shown(query)}")
        ids = list(documents)
        if are_pairs(ids):
            values = None if self.names.has_no_value else [value for _, value in ids]
            return self.lists.read(query, [document for document, _ in ids], values)
        return self.lists.read(query, ids, self._values(query, row, ids))

    def _values(self, query: Any, row: Any, ids: Sequence[Any]) -> Sequence[Any] | None:
        """Return the values of the documents of a query, one for each id."""
        if self.roles.value is None:
            return None
        values = value_at(row, self.roles.value)
        if isinstance(values, Mapping):
            return [values.get(document) for document in ids]
        if values is None and not ids:
            return []
        if not is_list(values) or len(values) != len(ids):
            path = self.roles.fields[self.names.value]
            problem = f"holds {len(ids)} documents, but {path} is {shown(values)}"
            raise InputError(f"{problem}; give a value for each", f"query {shown(query)}")
        return list(values)


def _wrapper(fields: Mapping[str, Field], names: Names) -> Keys:
    """Return the path to the list of objects that hold the queries, if `fields` says so.

    The path of the query leads through this list, such as `cases` for `cases.id`.
    """
    query = fields.get(names.name("query") or "")
    return () if query is None else query.list_path


def _within_lists(objects: Sequence[Any], path: Keys) -> Sequence[Any]:
    """Return the objects in the lists at a path; the objects themselves if there is none."""
    if not path:
        return objects
    inner: list[Any] = []
    for value in values_at(objects, path):
        inner += _flat(value)
    return inner


def _flat(values: Any) -> Iterator[Any]:
    """Yield the objects in lists of any depth."""
    if is_list(values):
        yield from chain.from_iterable(map(_flat, values))
    elif values is not None:
        yield values
