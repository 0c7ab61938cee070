"""The roles of fields: where objects have the query, the documents and their values.

An object is a row with one document if the path of the document leads to an id, and a query with
its documents if it leads to a list of ids, or to a mapping of ids to values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain
from numbers import Real
from types import NoneType
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
    without_model_scores,
)
from .ids import id_kind
from .objects import first_in, is_list, is_nested, is_object, to_list, values_at

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
        return cls.at(paths, fields, listed, names)

    @classmethod
    def at(cls, paths: dict[str, str], fields: Fields, listed: Fields, names: Names) -> "Roles":
        """Return the roles of which the paths are given."""
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
        "document": _columns_of_documents(columns, names),
    }
    if names.has_no_query:
        call = mark("fields", {"query": None})
        hint = f"give its column; for the other side, {names.way_without_query} may name queries"
        raise InputError(f"{call}: each row of a table needs the id of its query; {hint}")
    others = max(0, len(columns) - 2)  # beside the query and the document
    candidates |= _values_beside(columns, (), others, names)
    chosen = chosen_fields(candidates, names, columns, there)
    names.refuse_unknown_order(chosen.get("score"))
    return chosen


def _columns_of_documents(columns: Fields, names: Names) -> list[Any]:
    """Return the columns that could hold the documents: an id per row, or a list of them."""
    for level in range(2):
        singular = names.candidates("document", columns, DOCUMENT[level : level + 1])
        lists = names.candidates("document", columns, LISTS_OF_IDS[names.kind][level : level + 1])
        if singular or lists:
            return list(dict.fromkeys([*singular, *lists]))
    return []


# Hits


def roles_of_hits(fields: Fields, names: Names) -> Roles:
    """Return where the hits of a query have the documents and their values."""
    outside_lists = fields.leaves.outside_lists
    documents = names.candidates("document", outside_lists, DOCUMENT_OF_HITS)
    candidates: Candidates = {"document": documents}
    others = len(fields.leaves) - 1  # beside one id
    candidates |= _values_beside(outside_lists, documents, others, names)
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
    there = "the objects have"
    if not have_queries and all(map(_is_single, fields.values())):  # as in a table
        try:
            columns = fields.leaves
            return Roles.at(chosen_columns(columns, names, there), fields, columns, names)
        except UnknownFieldError as error:
            if "query" in error.roles:
                single = "{query: hits}, or [hits] beside a list of one query"
                error.add(f"if they are the hits of a single query, give {single}")
            raise
    # First the documents: where they are tells what could be the query and the values.
    documents = _documents(fields, names)
    candidates: Candidates = {}
    if not have_queries:
        queries = _queries(fields, documents, names)
        documents = [path for path in documents if path not in queries]
        if queries or not names.has_query_ids:
            candidates["query"] = queries
    if names.name("document") is None and len(documents) == 1:
        documents = [*documents, *_rankings_elsewhere(fields, documents[0], names)]
    candidates["document"] = documents
    candidates |= _values(objects, fields, candidates, names)
    try:
        roles = Roles.chosen(fields, candidates, names, there)
    except UnknownFieldError as error:
        error.add(*_ways_of_documents(objects, fields, candidates["document"], names))
        if "query" in error.roles:
            by_order = f"{mark('fields', {'query': None})} matches queries by their order"
            ids = names.way_without_query
            error.add(f"{ids} names queries; if neither side names queries, {by_order}")
        raise
    names.refuse_unknown_order(roles.fields.get("score"), "field")
    if names.value in roles.fields:
        _refuse_values_of_other_ids(objects, fields, roles, names.value)
    if names.name(names.value) == roles.fields["document"]:
        roles.fields[names.value] = roles.fields["document"]  # a mapping of ids to values
    return roles


def _refuse_values_of_other_ids(
    objects: Sequence[Any], fields: Fields, roles: Roles, role: str
) -> None:
    """Raise an error for values that stand beside other ids than those of the documents."""
    paths = roles.fields
    document, value = fields[paths["document"]], fields[paths[role]]
    if not holds_documents(document) or isinstance(value.example, Mapping):
        return
    # Values may stand in the same list, or in a list beside that of the documents.
    beside_list = (document.list_path or document.keys)[:-1]
    if _place_of(value) in (_place_of(document), beside_list):
        return
    ids = values_at(objects, document.keys)
    for path in fields_called(NAMES_OF_IDS | {plain_name(document.keys[-1])}, fields):
        field = fields[path]
        are_beside = _place_of(field) == _place_of(value) and holds_documents(field)
        if are_beside and values_at(objects, field.keys) != ids:
            problem = f"the {role} {paths[role]!r} stands beside {path!r}"
            hint = f"whose ids differ from those of the document {paths['document']!r}"
            raise InputError(f"{problem}, {hint}; name both of one list")


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
    if is_list(field.example) or isinstance(field.example, Set):
        return "list"
    return "mapping" if isinstance(field.example, Mapping) else ""


def holds_documents(field: Field) -> bool:
    """Return whether a field holds several documents: in a list, a set or a mapping."""
    return _holder(field) != ""


def _ways_of_documents(
    objects: Sequence[Any], fields: Fields, documents: Sequence[str], names: Names
) -> Iterator[str]:
    """Yield what an error says about the fields that could be the documents: none, or one."""
    if len(documents) == 1:
        ids = values_at(objects, fields[documents[0]].keys)
        # The other spans of a trace are no queries.
        if None in ids:
            without = f"objects such as that at position {ids.index(None)} have no {documents[0]!r}"
            yield f"{without}; if they are no queries, leave them out"
    elif not documents and names.takes_query_ids:
        if sum(map(_is_list_of_numbers, fields.values())) > 1:
            call = 'data=..., predictions="...", references="..."'
            yield f"if documents have no ids, name the lists of scores and relevances, {call}"


def _is_list_of_numbers(field: Field) -> bool:
    values = field.example
    return is_list(values) and len(values) > 0 and all(isinstance(one, Real) for one in values)


def _is_single(field: Field) -> bool:
    """Return whether a field holds a single value outside all lists, as the query does."""
    return not holds_documents(field) and not field.has_fields


def _queries(fields: Fields, documents: Sequence[str], names: Names) -> list[str]:
    are_lists = any(holds_documents(fields[path]) for path in documents)
    single = Fields((path, field) for path, field in fields.items() if _is_single(field))
    return names.candidates("query", single, QUERY_OF_LISTS if are_lists else QUERY)


def _documents(fields: Fields, names: Names) -> list[str]:
    name = names.name("document")
    if name is not None:
        named = _named("document", name, fields, names)
        if named or not names.given["document"].is_shared:
            return named
    by_holder: dict[str, list[str]] = {"hits": [], "list": [], "mapping": [], "": []}
    list_of_values = _list_of_named_values(fields, names)
    for path in fields.leaves:
        if list_of_values in ((), fields[path].list_path):
            by_holder[_holder(fields[path])].append(path)
    in_lists = fields.among(by_holder["list"])
    standard: list[tuple[Fields, Groups]] = [
        (fields.among(by_holder["hits"]), DOCUMENT_OF_HITS),
        (fields.among([*by_holder["mapping"], *by_holder[""]]), DOCUMENT),
        (in_lists, LISTS_OF_IDS[names.kind]),
        (in_lists, DOCUMENT),
    ]
    # Full names come before bare ones, wherever they stand.
    for level in range(2):
        present: list[str] = []
        for possible, groups in standard:
            present += names.candidates("document", possible, groups[level : level + 1])
        if present:
            return present
    return []


def _named(role: str, name: str, fields: Fields, names: Names) -> list[str]:
    """Return the fields with a name that `fields` gives, also a mapping of ids to values."""
    if name in fields and isinstance(fields[name].example, Mapping):
        return [name]
    return names.candidates(role, fields.leaves, ())


def _list_of_named_values(fields: Fields, names: Names) -> Keys:
    """Return the path to the list of the values that `fields` names; empty if there is none."""
    if names.name(names.value) is None:
        return ()
    named = names.candidates(names.value, fields.leaves, ())
    return fields[named[0]].list_path if len(named) == 1 else ()


def _rankings_elsewhere(fields: Fields, document: str, names: Names) -> list[str]:
    """Return fields of other lists that could be the documents of this side.

    There are such only if the chosen list has values of the other side: a log may hold the run
    under other names, and the references under standard ones.
    """
    chosen = fields[document].list_path
    if not chosen:
        return []
    by_list: dict[Keys, list[str]] = {}
    for path, field in fields.leaves.items():
        by_list.setdefault(field.list_path, []).append(path)
    values_of_other_side = PLAIN_RELEVANCES if names.kind == "run" else PLAIN_SCORES
    if not fields_called(values_of_other_side, fields.among(by_list[chosen])):
        return []
    elsewhere = []
    for start, paths in by_list.items():
        depth = min(len(start), len(chosen))
        if not start:
            elsewhere += [path for path in paths if are_scored_pairs(fields[path].example)]
        elif start[:depth] == chosen[:depth]:
            continue  # one is within the other
        elif any(_is_number(fields[path].example) for path in paths):
            elsewhere += [path for path in paths if id_kind(type(fields[path].example))]
    return elsewhere


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def are_scored_pairs(row: Any) -> bool:
    """Return whether a list holds pairs of an id and a number."""
    return are_pairs(row) and _is_number(row[0][1])


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
        return {role: names.candidates(role, fields.leaves, names.values())}
    document = fields[documents[0]]
    holder = _holder(document)
    if holder == "mapping":
        return {}
    name = names.name(role)
    if are_pairs(document.example) and name in (None, documents[0]):
        return {}
    if name is not None:
        return {role: _named(role, name, fields, names)}
    if holder == "list":
        return _lists_beside(objects, fields, document, names)
    queries = candidates.get("query", ())
    beside = []
    others = 0
    depth = len(document.list_path)
    for path, field in fields.leaves.items():
        if path in queries or field.list_path[:depth] != document.list_path:
            continue
        others += path not in documents
        if field.list_path == document.list_path:
            beside.append(path)
    # Hits that have ids alone may have their values in a list beside them.
    if others == 0 and len(document.lists) == 1:
        return _lists_beside(objects, fields, document, names)
    return _values_beside(fields.among(beside), documents, others, names)


def _values_beside(
    beside_id: Fields, documents: Sequence[str], number_beside: int, names: Names
) -> Candidates:
    """Return the fields beside the id of a document that could hold its value.

    Args:
        beside_id: the fields of the object that has the id.
        documents: the fields that could hold the id.
        number_beside: how many other fields stand beside the id, also in lists.
        names: the names of the side.
    """
    role = names.value
    if names.has_no_value:
        return {}
    if number_beside == 0 and names.name(role) is None:
        return {}  # ids alone: their order counts, or all are relevant
    values = names.candidates(role, beside_id, names.values())
    values = [path for path in values if path not in documents]
    if role == "score" and values and names.name(role) is None:
        values += _other_scores(values, beside_id, names)
    return {role: without_model_scores(values, number_beside, beside_id, names)}


def _other_scores(scores: Sequence[Any], fields: Fields, names: Names) -> Iterator[Any]:
    """Yield the other fields of numbers that are called scores, as a cross-score of a reranker."""
    for path, name in fields.names.items():
        if path in scores or path in names.given_names or not name.endswith("score"):
            continue
        example = fields[path].example
        if isinstance(example, str):
            example = number_of_text(example)
            if example is None:
                continue
        # Columns are told by their names first; a field of objects that is always null is none.
        is_there = example is not None or fields.are_columns
        if is_there and isinstance(example, (Real, NoneType)):
            yield path


def _lists_beside(
    objects: Sequence[Any], fields: Fields, document: Field, names: Names
) -> Candidates:
    """Return the lists and mappings beside a list of ids, or of hits, that could hold their values.

    Those are as long as the list, or have the ids as keys, in the objects that have both: in all,
    or in half of them, where reading raises the error of the others. There need be none.
    Nothing tells if objects with values stand beside a list of ids.
    """
    list_of_ids = document.list_path or document.keys
    start = list_of_ids[:-1]
    ids = values_at(objects, document.keys)
    beside = []
    graded = Fields()  # in lists of objects beside it
    for path, field in fields.items():
        if not field.has_fields and field.list_path and field.list_path[:-1] == start:
            graded[path] = field
        if field.keys == list_of_ids or field.keys[:-1] != start:
            continue
        if plain_name(field.keys[-1]) in NAMES_OF_LISTS:
            continue
        values = values_at(objects, field.keys)
        pairs = [pair for pair in zip(ids, values, strict=True) if pair[0] and pair[1]]
        fitting = sum(_could_be_values(value, row, names) for row, value in pairs)
        # Lists of text, such as contexts, are more often as long as the ids without being values.
        needed = len(pairs) if _holds_text(field.example) else len(pairs) / 2
        if len(pairs) > 0 and fitting >= needed:
            beside.append(path)
    values_in_objects = names.candidates(names.value, graded, names.values())
    if without_model_scores(values_in_objects, len(graded), graded, names):
        return {names.value: []}
    if not beside:
        return {}
    standard = (*names.values(in_lists=True), *names.values())
    return {names.value: names.candidates(names.value, fields.among(beside), standard)}


def _holds_text(values: Any) -> bool:
    return is_list(values) and any(isinstance(value, str) for value in values)


def _could_be_values(values: Any, ids: Any, names: Names) -> bool:
    """Return whether a list is as long as a list of ids, or a mapping has the ids as keys."""
    if not isinstance(ids, (list, tuple, Set)):
        return False
    if isinstance(values, Mapping):
        return {*ids} <= values.keys()
    if not is_list(values) or len(values) != len(ids):
        return False
    if any(map(is_nested, values)):
        return False
    if names.kind == "run" and _holds_text(values):
        # Text beside what was retrieved is content, unless it is the same ids in another order.
        return {*values} == {*ids}
    return True  # text of references may be a judge's word
