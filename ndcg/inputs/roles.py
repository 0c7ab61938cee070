"""The roles of fields: where objects have the query, the documents and their values.

An object is a row with one document if the path of the document leads to an id, and a query with
its documents if it leads to a list of ids, or to a mapping of ids to values.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from ..measure.labels import number_of_text
from ..measure.messages import InputError, mark, shown
from .fields import (
    DOCUMENT,
    DOCUMENT_OF_HITS,
    LISTS_OF_IDS,
    PLAIN_RELEVANCES,
    PLAIN_SCORES,
    QUERY,
    QUERY_OF_LISTS,
    Field,
    Fields,
    Groups,
    Keys,
    Names,
    UnknownFieldError,
    chosen_fields,
    columns_as_fields,
    fields_called,
    fields_without_role,
    plain_name,
    plain_names,
    refuse_repeated_names,
)
from .ids import id_kind
from .objects import SINGLE, first_in, is_list, is_nested, is_object, to_list, values_at

NAMES_OF_LISTS = plain_names(*chain(*LISTS_OF_IDS.values()))
NAMES_OF_IDS = NAMES_OF_LISTS | plain_names(*DOCUMENT_OF_HITS)
Candidates = dict[str, Sequence[Any]]  # the fields that could have a role


class Roles(NamedTuple):
    """Where the objects of a side have the query, the documents and their values."""

    query: Keys | None
    document: Keys
    value: Keys | None
    fields: dict[str, str]  # the paths by role
    others: Sequence[str]  # the paths that are not read

    @classmethod
    def chosen(cls, fields: Fields, candidates: Candidates, names: Names, there: str) -> "Roles":
        """Return the roles, for which there must be a single candidate.

        Raises:
            UnknownFieldError: there is none for a role, or more than one.
        """
        listed = to_list(fields)
        paths = chosen_fields(candidates, names, listed, there)
        keys = {role: fields[path].keys for role, path in paths.items()}
        others = fields_without_role(listed, paths)
        return cls(keys.get("query"), keys["document"], keys.get(names.value), paths, others)


def are_pairs(row: Any) -> bool:
    """Return whether a query's documents are pairs of an id, or an object, and a value."""
    pair = first_in(row)
    if not _is_pair(pair):
        return False
    first, value = pair
    if isinstance(value, str) and number_of_text(value) is not None:
        # Ids that are digits, as in the lists of Chroma, would be read as values.
        return False
    return is_object(first) or bool(id_kind(type(first)))


def _is_pair(value: Any) -> bool:
    return is_list(value) and len(value) == 2


def split_pairs(row: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the ids, or the objects, of pairs, and their values.

    Raises:
        InputError: one is no pair.
    """
    for position, pair in enumerate(row):
        if not _is_pair(pair):
            hint = "give pairs of an id and a value, or a table with a row for each document"
            raise InputError(f"{shown(pair)} is no pair; {hint}", position=position)
    return [first for first, _ in row], [value for _, value in row]


# Tables


def columns_of_table(
    columns: Sequence[Any], names: Names, there: str, examples: Callable[[], Mapping[Any, Any]]
) -> dict[str, Any]:
    """Return the columns of the roles, as `chosen_columns` does.

    The examples, which may take long to read, are for the error.
    """
    refuse_repeated_names(columns)
    try:
        return chosen_columns(columns_as_fields(dict.fromkeys(columns)), names, there)
    except UnknownFieldError:
        return chosen_columns(columns_as_fields(examples()), names, there)


def chosen_columns(columns: Fields, names: Names, there: str) -> dict[str, Any]:
    """Return the columns of the roles.

    A table of two columns, of queries and documents, needs no values.

    Raises:
        UnknownFieldError: a role has no column, or more than one.
    """
    candidates: Candidates = {
        "query": names.candidates("query", columns, QUERY),
        "document": names.candidates("document", columns, _document_or_list(names.kind)),
    }
    if names.has_no_query:
        call = mark("fields", {"query": None})
        hint = f"give its column; for the other side, {names.way_without_query} may name queries"
        raise InputError(f"{call}: each row of a table needs the id of its query; {hint}")
    others = max(0, len(columns) - 2)  # beside the query and the document
    candidates |= _values_beside(columns, others, names)
    chosen = chosen_fields(candidates, names, columns, there)
    names.refuse_unknown_order(chosen.get("score"))
    return chosen


# Hits


def roles_of_hits(fields: Fields, names: Names) -> Roles:
    """Return where the hits of a query have the documents and their values."""
    outside_lists = fields.leaves.outside_lists
    documents = names.candidates("document", outside_lists, DOCUMENT_OF_HITS)
    candidates: Candidates = {"document": documents}
    others = len(fields.leaves) - 1  # beside one id
    candidates |= _values_beside(outside_lists, others, names)
    roles = Roles.chosen(fields, candidates, names, "its hits have")
    names.refuse_unknown_order(roles.fields.get("score"), "field")
    return roles


# Objects


def roles_of_objects(
    objects: Sequence[Any], fields: Fields, names: Names, have_queries: bool
) -> Roles:
    """Return where objects, which are rows or queries, have the query, documents and values.

    The objects may have their queries already, as in a mapping by query.
    """
    # First the documents: where they are tells what could be the query and the values.
    held = _by_holder(fields)
    documents = _documents(fields, held, names)
    candidates: Candidates = {}
    if not have_queries:
        are_ids = held[""].keys() >= {*documents}
        standard = QUERY if are_ids else QUERY_OF_LISTS
        queries = names.candidates("query", held[""], standard)
        if queries or not names.has_query_ids:
            candidates["query"] = queries
    candidates["document"] = [*documents, *_rankings_elsewhere(fields, documents, names)]
    candidates |= _values(objects, fields, candidates, names)
    try:
        roles = Roles.chosen(fields, candidates, names, "the objects have")
    except UnknownFieldError as error:
        if "query" in error.roles:
            if held[""].keys() == fields.keys():
                single = "{query: hits}, or [hits] beside a list of one query"
                error.add(f"if they are the hits of a single query, give {single}")
            else:
                by_order = f"{mark('fields', {'query': None})} matches queries by their order"
                ids = names.way_without_query
                error.add(f"{ids} names queries; if neither side names queries, {by_order}")
        raise
    names.refuse_unknown_order(roles.fields.get("score"), "field")
    _refuse_values_of_other_ids(fields, roles, names.value)
    if names.name(names.value) == roles.fields["document"]:
        roles.fields[names.value] = roles.fields["document"]  # a mapping of ids to values
    return roles


def _refuse_values_of_other_ids(fields: Fields, roles: Roles, role: str) -> None:
    """Raise an error for values in another list of objects, or in one that has ids beside it."""
    paths = roles.fields
    document = fields[paths["document"]]
    value = fields[paths.get(role, paths["document"])]
    if not holds_documents(document) or isinstance(value.example, Mapping):
        return
    # Values may stand in the same list, or in a list beside that of the documents.
    place = _place_of(value)
    if place in (_place_of(document), (document.list_path or document.keys)[:-1]):
        return
    ids = fields_called(NAMES_OF_IDS | {plain_name(document.keys[-1])}, fields)
    lists = [_place_of(fields[path]) for path in ids if holds_documents(fields[path])]
    if value.lists or place in lists:
        problem = f"the {role} {paths[role]!r} is in another list than {paths['document']!r}"
        raise InputError(f"{problem}, the document; name both of one list")


def other_ids(fields: Fields, roles: Roles, names: Names) -> list[str]:
    """Return the fields beside the document that could be it, such as the id of a chunk of it."""
    if names.name("document") is not None:
        return []
    start = fields[roles.fields["document"]].list_path
    ids = fields_called(NAMES_OF_IDS, fields.among(roles.others))
    return [path for path in ids if fields[path].list_path == start]


def _place_of(field: Field) -> Keys:
    """Return the path to the innermost list or object that holds a field."""
    return field.list_path or field.keys[:-1]


def _holder(field: Field) -> str:
    """Return what holds the documents of a field: "hits", "list" or "mapping"; "" for a value."""
    if field.lists:
        return "hits"
    if type(field.example) in SINGLE:  # usually, and much faster
        return ""
    if is_list(field.example) or isinstance(field.example, Set):
        return "list"
    return "mapping" if isinstance(field.example, Mapping) else ""


def holds_documents(field: Field) -> bool:
    """Return whether a field holds several documents: in a list, a set or a mapping."""
    return _holder(field) != ""


@cache
def _document_or_list(kind: str) -> Groups:
    """Return the names of an id of a document, or of a list of ids."""
    groups = zip_longest(DOCUMENT, LISTS_OF_IDS[kind], fillvalue=())
    return tuple((*names, *names_of_lists) for names, names_of_lists in groups)


def _by_holder(fields: Fields) -> dict[str, Fields]:
    """Return the fields without fields, by what holds the documents of each."""
    held = {"hits": Fields(), "list": Fields(), "mapping": Fields(), "": Fields()}
    for path, field in fields.leaves.items():
        held[_holder(field)][path] = field
    return held


def _documents(fields: Fields, held: Mapping[str, Fields], names: Names) -> list[str]:
    name = names.name("document")
    if name is not None:
        named = _named("document", name, fields, names)
        if named or not names.given["document"].is_shared:
            return named
    kinds: list[tuple[Fields, Groups]] = [
        (held["hits"], DOCUMENT_OF_HITS),
        (held["list"], _document_or_list(names.kind)),
        (held[""], DOCUMENT),
    ]
    kinds = [kind for kind in kinds if kind[0]]  # nearly always one
    # Full names come before bare ones, wherever they stand.
    for level in range(2):
        present: list[str] = []
        for possible, groups in kinds:
            present += names.candidates("document", possible, groups[level : level + 1])
        if present:
            return present
    return []


def _named(role: str, name: str, fields: Fields, names: Names) -> list[str]:
    """Return the fields with a name that `fields` gives, also a mapping of ids to values."""
    if name in fields and isinstance(fields[name].example, Mapping):
        return [name]
    return names.candidates(role, fields.leaves, ())


def _rankings_elsewhere(fields: Fields, documents: Sequence[str], names: Names) -> list[str]:
    """Return ids in other lists than that of the document, which could be those of this side.

    There are such only if the chosen list has values of the other side: a log may hold the run
    under other names, and the references under standard ones.
    """
    if len(documents) != 1 or names.name("document") is not None:
        return []
    chosen = fields[documents[0]]
    values_of_other_side = PLAIN_RELEVANCES if names.kind == "run" else PLAIN_SCORES
    if not chosen.lists or not fields_called(values_of_other_side, _beside(chosen, fields)):
        return []
    elsewhere = []
    for path, field in fields.leaves.items():
        is_outside = field.keys[: chosen.lists[0]] != chosen.keys[: chosen.lists[0]]
        is_id = field.lists and id_kind(type(field.example))
        if is_outside and (is_id or are_pairs(field.example)):
            elsewhere.append(path)
    return elsewhere


def _beside(field: Field, fields: Fields) -> Fields:
    """Return the fields in the list of a field, or outside all lists if it is in none."""
    leaves = fields.leaves.items()
    return Fields((path, one) for path, one in leaves if one.list_path == field.list_path)


# The values of documents


def _values(
    objects: Sequence[Any], fields: Fields, candidates: Candidates, names: Names
) -> Candidates:
    """Return the fields that could hold the values of documents; nothing if there need be none."""
    documents = candidates["document"]
    role = names.value
    if names.has_no_value:
        return {}
    if len(documents) != 1:  # one error names all that is not clear
        return {role: names.candidates(role, fields.leaves, names.values(1))}
    document = fields[documents[0]]
    if isinstance(document.example, Mapping):
        return {}
    name = names.name(role)
    if are_pairs(document.example) and name in (None, documents[0]):
        return {}
    if name is not None:
        return {role: _named(role, name, fields, names)}
    start = document.list_path
    leaves = fields.leaves.items()
    within = {path for path, field in leaves if field.list_path[: len(start)] == start}
    others = within.difference(documents, candidates.get("query", ()))
    # Hits that have ids alone may have their values in a list beside them.
    if _holder(document) == "list" or (len(document.lists) == 1 and not others):
        return _lists_beside(objects, fields, document, names)
    return _values_beside(_beside(document, fields), len(others), names)


def _values_beside(beside_id: Fields, number_beside: int, names: Names) -> Candidates:
    """Return the fields beside the id of a document that could hold its value.

    Args:
        beside_id: the fields of the object that has the id.
        number_beside: how many other fields stand beside the id, also in lists.
        names: the names of the side.
    """
    role = names.value
    is_named = names.name(role) is not None
    # Of ids alone the order counts, or all are relevant.
    if names.has_no_value or (number_beside == 0 and not is_named):
        return {}
    values = names.candidates(role, beside_id, names.values(number_beside))
    if role == "score" and values and not is_named:
        values = list(dict.fromkeys([*values, *_called_scores(beside_id, names)]))
    return {role: values}


def _called_scores(fields: Fields, names: Names) -> list[str]:
    """Return all fields that are called scores, as that of a reranker beside another."""
    scores = [path for path, name in fields.names.items() if name.endswith("score")]
    return [path for path in scores if path not in names.given_names and fields.tells(path)]


def _lists_beside(
    objects: Sequence[Any], fields: Fields, document: Field, names: Names
) -> Candidates:
    """Return the lists and mappings beside a list of ids, or of hits, that could hold their values.

    Those are as long as the list, or have the ids as keys, in one of the objects at least. Text
    must be so in all of them. There need be none.
    """
    list_of_ids = document.list_path or document.keys
    start = list_of_ids[:-1]
    in_lists = _by_holder(fields)["hits"].items()
    graded = Fields((path, field) for path, field in in_lists if field.list_path[:-1] == start)
    # Nothing tells if objects with values stand beside a list of ids.
    if names.candidates(names.value, graded, names.values(len(graded))):
        return {names.value: []}
    ids = values_at(objects, document.keys)
    beside = []
    for path, field in to_list(fields).items():
        is_beside = field.keys[:-1] == start and field.keys != list_of_ids
        if not is_beside or plain_name(field.keys[-1]) in NAMES_OF_LISTS:
            continue
        fitting = {
            _could_be_values(values, row, names)
            for row, values in zip(ids, values_at(objects, field.keys), strict=True)
            if row and values
        }
        # Text, such as contexts, may be as long as the ids by chance.
        if fitting == {True} or (True in fitting and not _holds_text(field.example)):
            beside.append(path)
    if not beside:
        return {}
    standard = (*names.values_in_lists, *names.values(1))
    return {names.value: names.candidates(names.value, fields.among(beside), standard)}


def _holds_text(values: Any) -> bool:
    return isinstance(first_in(values), str)


def _could_be_values(values: Any, ids: Any, names: Names) -> bool:
    """Return whether a list is as long as a list of ids, or a mapping has the ids as keys."""
    if not isinstance(ids, (list, tuple, Set)):
        return False
    if isinstance(values, Mapping):
        return {*ids} <= values.keys()
    if not is_list(values) or len(values) != len(ids) or is_nested(values[0]):
        return False
    if names.kind == "run" and _holds_text(values):
        # Text beside what was retrieved is content, unless it is the same ids in another order.
        return {*values} == {*ids}
    return True  # text of references may be a judge's word
