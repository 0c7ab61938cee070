"""The roles of fields: where objects have the query, the documents and their values.

An object is a row with one document if the path of the document leads to an id, and a query with
its documents if it leads to a list of ids, or to a mapping of ids to values.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from ..measure.labels import number_of_text
from ..measure.messages import InputError, mark, shown
from .columns import as_number
from .documents import give_values
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
from .objects import (
    LOOKED_AT,
    fields_of,
    first_in,
    is_empty,
    is_list,
    is_nested,
    is_object,
    to_list,
    values_at,
)

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
    all_fields: Fields  # of the objects, by their paths
    have_lists: bool = False  # whether each document has its value in a list, as a choice of one
    # the names of the fields beside ids alone, and of no others later; None if the value is known
    beside_ids: Collection[Any] | None = None

    def beside_document(self, names: Collection[str]) -> list[str]:
        """Return the fields with one of some names beside the document that are not read.

        They are in the same list, or in none.
        """
        fields = self.all_fields
        place = fields[self.fields["document"]].list_path
        unread = filter(self.others.__contains__, fields_called(names, fields))
        return [path for path in unread if fields[path].list_path == place]

    @classmethod
    def chosen(cls, fields: Fields, candidates: Candidates, names: Names, there: str) -> "Roles":
        """Return the roles, for which there must be a single candidate.

        Raises:
            UnknownFieldError: there is none for a role, or more than one.
        """
        listed = to_list(fields)
        try:
            paths = chosen_fields(candidates, names, listed, there)
        except UnknownFieldError as error:
            error.add_decimals("write a point")
            raise
        keys = {role: fields[path].keys for role, path in paths.items()}
        others = fields_without_role(listed, paths)
        document = fields[paths["document"]]
        value = fields[paths.get(names.value, paths["document"])]
        is_said = names.value in {*paths, *names.given}
        return cls(
            keys.get("query"),
            keys["document"],
            keys.get(names.value),
            paths,
            others,
            fields,
            _has_lists_of_values(document, value),
            None if is_said else fields.names_at(document.list_path),
        )

    def values(self, cells: list[Any]) -> list[Any]:
        """Return the values of single documents, also from lists of one."""
        if not self.have_lists:
            return cells
        return list(map(single_value, cells))

    def refuse_late_field(self, value: Any, names: Names) -> None:
        """Raise an error for a field that none of the first objects has, if these have ids alone.

        Whatever has more than its ids must say its value. Beside a list of ids, only a list under a
        standard name could have the values.
        """
        if self.beside_ids is None:
            return
        late = fields_of(value).keys() - self.beside_ids
        if self.all_fields[self.fields["document"]].holder in ("list", "mapping"):
            standard = plain_names(*names.values_in_lists)
            late = {name for name in late if plain_name(name) in standard}
        if late:
            problem = f"has {shown(min(late))}, and the first objects have ids alone"
            raise InputError(f"{problem}; {give_values(names)}")


def _has_lists_of_values(document: Field, value: Field) -> bool:
    """Return whether a field has a list of values for each document, and not for each query."""
    is_list_of_one = is_list(value.example) or len(value.lists) > len(document.lists)
    return is_list_of_one and document.holder in ("", "hits")


def single_value(cell: Any) -> Any:
    """Return the only value in a list, which may lie in other lists; None for an empty one.

    >>> single_value([["Relevant"]]), single_value([]), single_value([1, 2])
    ('Relevant', None, [1, 2])
    """
    while is_list(cell) and len(cell) < 2:
        cell = first_in(cell)
    return cell


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


def roles_of_hits(fields: Fields, names: Names, rows: Sequence[Any]) -> Roles:
    """Return where the hits in the rows of queries have the documents and their values."""
    outside_lists = fields.leaves.outside_lists
    documents = names.candidates("document", outside_lists, DOCUMENT_OF_HITS)
    own = _id_of_hits(rows, outside_lists, documents, names)
    candidates: Candidates = {"document": [*documents, *own]}
    others = len(fields.leaves) - 1  # beside one id
    candidates |= _values_beside(outside_lists, others, names)
    try:
        roles = Roles.chosen(fields, candidates, names, "its hits have")
    except UnknownFieldError as error:
        possible = outside_lists.among(documents) or outside_lists
        hits = list(map(_objects_in_row, filter(is_list, rows)))
        error.add(*_way_of_repeated(error, hits, possible, names))
        raise
    names.refuse_unknown_order(roles.fields.get("score"), "field")
    return roles


def _objects_in_row(row: Sequence[Any]) -> list[Any]:
    """Return the hits of a query, which may be in pairs with their values."""
    return [first_in(hit) if is_list(hit) else hit for hit in row]


def _way_of_repeated(
    error: UnknownFieldError, queries: Sequence[Any], possible: Fields, names: Names
) -> list[str]:
    """Return what an error says if a field that could be the document has an id several times.

    Args:
        error: the error, which says what is not clear.
        queries: the objects, or the lists of hits, of a query each.
        possible: the fields that could be the document.
        names: the names of the side.
    """
    if names.kind != "run" or names.keep is not None:
        return []
    columns = [values_at(queries, field.keys) for field in possible.values()]
    if not any(map(_repeat_ids, columns)):
        return []
    problem = "if a query lists a document several times, such as for each of its chunks"
    best = mark("duplicates", "best")
    return [f"{problem}, give {best} too, which counts it once, at its best rank"]


def _repeat_ids(rows: Sequence[Any]) -> bool:
    """Return whether the values of a field are ids, and a query has one of them twice."""
    lists = list(filter(is_list, rows))
    values = list(chain.from_iterable(lists))
    if not all(map(id_kind, map(type, values))):
        return False
    are_repeated = any(len(set(row)) < len(row) for row in lists)
    # A few values in all queries are languages, say, or the names of sources.
    return are_repeated and len(set(values)) > len(lists)


# Objects


def roles_of_objects(
    objects: Sequence[Any], fields: Fields, names: Names, have_queries: bool
) -> Roles:
    """Return where objects, which are rows or queries, have the query, documents and values.

    The objects may have their queries already, as in a mapping by query.
    """
    # First the documents: where they are tells what could be the query and the values.
    held = fields.by_holder
    kinds: list[tuple[Fields, Groups]] = [
        (held["hits"], DOCUMENT_OF_HITS),
        (held["list"], _document_or_list(names.kind)),
        (held[""], DOCUMENT),
    ]
    documents = names.candidates_among("document", fields, kinds)
    candidates: Candidates = {}
    if not have_queries:
        are_ids = held[""].keys() >= {*documents}
        standard = QUERY if are_ids else QUERY_OF_LISTS
        queries = names.candidates("query", held[""], standard)
        if queries or not names.has_query_ids:
            candidates["query"] = queries
    own = _id_of_hits(objects, fields, documents, names)
    candidates["document"] = [*documents, *own, *_rankings_elsewhere(fields, documents, names)]
    candidates |= _values(objects, fields, candidates, names)
    try:
        roles = Roles.chosen(fields, candidates, names, "the objects have")
    except UnknownFieldError as error:
        error.add(*_ways_without_roles(error, objects, fields, names))
        possible = fields.among(documents) or fields.leaves
        error.add(*_way_of_repeated(error, objects, possible, names))
        raise
    names.refuse_unknown_order(roles.fields.get("score"), "field")
    _refuse_values_of_other_ids(fields, roles.fields, names.value)
    if names.name(names.value) == roles.fields["document"]:
        roles.fields[names.value] = roles.fields["document"]  # a mapping of ids to values
    return roles


def _ways_without_roles(
    error: UnknownFieldError, objects: Sequence[Any], fields: Fields, names: Names
) -> list[str]:
    """Return what an error says to do for objects that lack a query, or some of the documents."""
    ways = []
    if "query" in error.roles:
        are_flat = fields.by_holder[""].keys() == fields.keys()
        ways.append(_way_without_query(names, are_flat))
    if "document" in error.chosen:
        documents = values_at(objects, fields[error.chosen["document"]].keys)
        lacking = documents.count(None)
        if lacking > 0:
            others = "leave those out whose queries others have"
            ways.append(f"{lacking} of {len(documents)} objects have no documents; {others}")
        if len(objects) > 1:  # a single one may hold all queries
            ways += those_of_one_system(fields[error.chosen["document"]])
    else:
        ways += _ways_of_rows(error.examples)
    return ways


def _ways_of_rows(examples: Mapping[Any, Any]) -> list[str]:
    """Return what an error says of rows without names, as in a response of Databricks."""
    table = "give a table, pandas.DataFrame(rows, columns=[...]), with a column of the query"
    rows = [path for path, example in examples.items() if _is_row(first_in(example))]
    return [f"if {path!r} has the documents, {table}" for path in rows]


def _is_row(value: Any) -> bool:
    """Return whether a value is a list of text and other values, as a row of a table."""
    return is_list(value) and {str} < set(map(type, value))


def those_of_one_system(document: Field) -> list[str]:
    """Return what an error says about documents in several lists of a query, if they are."""
    if len(document.lists) < 2:
        return []
    lists = ".".join(document.keys[: document.lists[0]])
    return [f"if the {lists!r} of a query are of several systems, give those of one"]


def _way_without_query(names: Names, are_flat: bool) -> str:
    """Return what an error says to do for objects without a query: rows, or others with lists."""
    if are_flat:
        single = "{query: hits}, or [hits] beside a list of one query"
        return f"if they are the hits of a single query, give {single}"
    by_order = f"{mark('fields', {'query': None})} matches queries by their order"
    return f"{names.way_without_query} names queries; if neither side names queries, {by_order}"


def _refuse_values_of_other_ids(fields: Fields, paths: Mapping[str, str], role: str) -> None:
    """Raise an error for values in another list of objects, or beside another list of ids."""
    document = fields[paths["document"]]
    value = fields[paths.get(role, paths["document"])]
    if not document.holder:
        return
    if isinstance(value.example, Mapping):
        return
    # Values may stand in the same list, or in a list beside that of the documents.
    beside = (document.list_path or document.keys)[:-1]
    if (value.list_path or value.keys[:-1]) in (document.list_path, beside):
        return
    names_of_ids = NAMES_OF_IDS | {document.name}
    lists = fields.by_holder["list"]
    places = [lists[path].keys[:-1] for path in fields_called(names_of_ids, lists)]
    if value.lists or value.keys[:-1] in places:
        problem = f"the {role} {paths[role]!r} is in another list than {paths['document']!r}"
        raise InputError(f"{problem}, the document; name both of one list")


def other_ids(roles: Roles, names: Names) -> list[str]:
    """Return the fields beside the document that could be it, such as the id of a chunk of it."""
    is_named = names.name("document") is not None
    return [] if is_named else roles.beside_document(NAMES_OF_IDS)


@cache
def _document_or_list(kind: str) -> Groups:
    """Return the names of an id of a document, or of a list of ids."""
    groups = zip_longest(DOCUMENT, LISTS_OF_IDS[kind], fillvalue=())
    return tuple((*names, *names_of_lists) for names, names_of_lists in groups)


def _id_of_hits(
    objects: Sequence[Any], fields: Fields, documents: Sequence[str], names: Names
) -> list[str]:
    """Return the `_id` of hits whose document is in what they store, as `_source.doc_id`.

    A search engine finds chunks and variants by their `_id`, and may have stored the id of the
    whole document in each. Nothing tells which one is judged, unless they are the same.
    """
    if names.kind != "run":
        return []
    if len(documents) != 1:
        return []
    (path,) = documents
    hit, stored, _ = path.rpartition("_source.")
    if not stored:
        return []
    if names.name("document") is not None:
        return []
    own = f"{hit}_id"
    if own not in fields.leaves:
        return []
    ids, stored_ids = [_flat(values_at(objects, fields[one].keys)) for one in (own, path)]
    for id_, stored_id in islice(zip(ids, stored_ids, strict=False), LOOKED_AT):
        # A number is text in `_id`.
        if id_kind(type(id_)) and str(id_) != str(stored_id):
            return [own]
    return []


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    """Yield values one after another, also from lists within lists."""
    for value in values:
        if is_list(value):
            yield from _flat(value)
        else:
            yield value


def _rankings_elsewhere(fields: Fields, documents: Sequence[str], names: Names) -> list[str]:
    """Return ids in other lists than that of the document, which could be those of this side.

    There are such only if the chosen list has values of the other side: a log may hold the run
    under other names, and the references under standard ones.
    """
    if len(documents) != 1:
        return []
    if names.name("document") is not None:
        return []
    chosen = fields[documents[0]]
    values_of_other_side = PLAIN_RELEVANCES if names.kind == "run" else PLAIN_SCORES
    values = fields_called(values_of_other_side, fields.leaves)
    if chosen.list_path not in [fields[path].list_path for path in values]:
        return []
    inside = fields.within(chosen.list_path)
    held = fields.by_holder
    elsewhere = [path for path in (*held["hits"], *held["list"]) if path not in inside]
    possible = [path for path in elsewhere if _may_be_documents(fields[path].example)]
    # A list of ids raises no question, since it may be of tags, but it may be the answer to one.
    lists = [path for path in held["list"] if _may_be_documents(first_in(fields[path].example))]
    return [*lists, *possible] if possible else []


def _may_be_documents(example: Any) -> bool:
    return bool(id_kind(type(example))) or are_pairs(example)


# The values of documents


def _values(
    objects: Sequence[Any], fields: Fields, candidates: Candidates, names: Names
) -> Candidates:
    """Return the fields that could hold the values of documents; nothing if there need be none."""
    documents = candidates["document"]
    role = names.value
    places = {fields[path].list_path for path in documents}
    if len(places) != 1:  # one error names all that is not clear
        return _values_beside(fields.leaves, 1, names)
    document = fields[documents[0]]
    if isinstance(document.example, Mapping):
        return {}
    if are_pairs(document.example):
        return {}
    if role in names.given:
        return {role: names.candidates(role, fields, ())}
    within = fields.leaves.within(document.list_path)
    others = within.keys() - {documents[0], *candidates.get("query", ())}
    # Hits that have ids alone may have their values in a list beside them.
    if document.holder == "list" or (len(document.lists) == 1 and not others):
        return _lists_beside(objects, fields, document, names)
    return _values_beside(fields.leaves.beside(document), len(others), names)


def _values_beside(beside_id: Fields, number_beside: int, names: Names) -> Candidates:
    """Return the fields beside the id of a document that could hold its value.

    Args:
        beside_id: the fields of the object that has the id.
        number_beside: how many other fields stand beside the id, also in lists.
        names: the names of the side.
    """
    role = names.value
    if role in names.given:
        return {role: names.candidates(role, beside_id, ())}
    # Of ids alone the order counts, or all are relevant.
    if number_beside == 0:
        return {}
    values = names.candidates(role, beside_id, names.values(number_beside))
    if role == "score" and values:
        # All fields that are called scores could be it, as that of a reranker beside another, but
        # no text, as of an explanation.
        called = [path for path, field in beside_id.items() if field.name.endswith("score")]
        examples = {path: as_number(beside_id[path].example) for path in called}
        scores = [path for path, example in examples.items() if not isinstance(example, str)]
        values = list(dict.fromkeys([*values, *filter(beside_id.tells, scores)]))
    return {role: values}


def _lists_beside(
    objects: Sequence[Any], fields: Fields, document: Field, names: Names
) -> Candidates:
    """Return the lists and mappings beside a list of ids, or of hits, that could hold their values.

    There need be none.
    """
    list_of_ids = document.list_path or document.keys
    start = list_of_ids[:-1]
    in_lists = fields.by_holder["hits"].items()
    graded = Fields((path, field) for path, field in in_lists if field.list_path[:-1] == start)
    # Nothing tells if objects with values stand beside a list of ids.
    if names.candidates(names.value, graded, names.values(len(graded))):
        return {names.value: []}
    ids = values_at(objects, document.keys)
    names_of_lists = NAMES_OF_LISTS | {plain_name(list_of_ids[-1])}
    beside = []
    for path, field in to_list(fields).items():
        is_beside = field.keys[:-1] == start and field.name not in names_of_lists
        if is_beside and _fits(field, objects, ids, names):
            beside.append(path)
    if not beside:
        return {}
    standard = (*names.values_in_lists, *names.values(1))
    return {names.value: names.candidates(names.value, fields.among(beside), standard)}


def _fits(field: Field, objects: Sequence[Any], ids: Sequence[Any], names: Names) -> bool:
    """Return whether a field could hold the values of ids in one of the objects at least.

    Text must do so in all of them: contexts, for example, may be as many as the ids by chance.
    """
    fits = all if _holds_text(field.example) else any
    rows = zip(ids, values_at(objects, field.keys), strict=True)
    # Arrays, and the missing value of pandas, are neither true nor false.
    filled = [row for row in rows if not any(map(is_empty, row))]
    return fits(_could_be_values(values, ids_of_row, names) for ids_of_row, values in filled)


def _holds_text(values: Any) -> bool:
    return isinstance(first_in(values), str)


def _could_be_values(values: Any, ids: Any, names: Names) -> bool:
    """Return whether a list is as long as a list of ids, or a mapping has the ids as keys."""
    if not isinstance(ids, (list, tuple, Set)):
        return False
    if isinstance(values, Mapping):
        return {*ids} <= values.keys()
    if not is_list(values):
        return False
    if len(values) != len(ids) or is_nested(values[0]):
        return False
    if names.kind == "run" and _holds_text(values):
        # Text beside what was retrieved is content, unless it is the same ids in another order.
        return {*values} == {*ids}
    return True  # text of references may be a judge's word
