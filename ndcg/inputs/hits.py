"""Hits: what a retriever returned for a query, a list of objects with an id and perhaps a score, best first.

An object is a dict, as in JSON, an object of a client's library, or a pair of an id and a score. Its fields have the
names of `fields.py`, also one level down, as in ``document.id`` and ``metadata.id``. The list may be in a response, as
in ``hits.hits`` and ``response.docs``; lists of ids and of scores next to each other are hits, too. Rows of a file and
objects in memory are read here alike.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise, repeat
from numbers import Real
from typing import Any, NamedTuple

from ..measure.messages import InputError, brief, mark, nearest, shown
from .columns import as_number
from .fields import (
    Names,
    could_be_value,
    for_one_side,
    is_last_resort,
    is_unknown,
    plain_name,
    spelled,
    unknown_error,
)
from .ids import id_kind, once, types_of_no_ids
from .objects import (
    FieldPath,
    field_at,
    field_names,
    fields_at,
    first_path,
    has_field,
    is_object,
    leaves_of,
    path_named,
    path_to,
)

AS_TEXT = "give others as text"
LONGEST_ID = 100  # of a query under an unknown name, in characters; longer text is no id
CONTAINERS = (list, tuple, Mapping)
# the lists of hits, and the lists of ids and of their values, of a query
LISTS = (
    *("hits", "matches", "points", "results", "result", "response", "docs", "ctxs", "retrieved", "ratings"),
    *("candidates", "root", "children", "objects", "documents", "value", "data", "chunks"),
)
ANSWERS = ("responses", "results", "result", "requests", "judgment_ratings")  # lists of the answers to several queries
IDS_IN_LISTS = ("ids", "doc_ids", "document_ids", "item_ids", "items", "recommendations", "docs")
LISTS_OF_IDS = {
    "run": ("retrieved_ids", "retrieved_doc_ids", "retrieved_context_ids", *IDS_IN_LISTS),
    "qrels": (
        *(
            "relevant_ids",
            "relevant_doc_ids",
            "ground_truth_doc_ids",
            "expected_ids",
            "gold_doc_ids",
            "reference_context_ids",
        ),
        *IDS_IN_LISTS,
    ),
    "exclude": (),
}
LISTS_OF_VALUES = {
    "run": ("scores", "similarities"),
    "qrels": ("relevances", "relevance", "labels", "ratings", "grades", "relevance_scores"),
    "exclude": (),
}
LOWEST_LISTS = ("distances", "ranks")  # of numbers of which the lowest is best


class Hits(NamedTuple):
    """The documents of a query."""

    ids: Sequence[Any]  # their ids, best first in a run
    values: Sequence[Any] | None = None  # their scores or relevances; None if they have none
    are_indices: bool = False  # whether the ids are positions in the list of documents that was ranked
    ranks: Sequence[Any] = ()  # their ranks, if they have no scores
    objects: Sequence[Any] = ()  # the objects that they were read from
    problem: ValueError | None = None  # the error in one of them


class Unnamed(dict[str, tuple[str, str]]):
    """In place of the id of a query: the ids that its object has under unknown names, by the name as names compare."""


class ByPosition(list[Any]):
    """The documents of queries without a known id, in their order."""

    def __init__(self, rows: Iterable[Any], unnamed: Sequence[Unnamed]) -> None:
        super().__init__(rows)
        self.unnamed = unnamed  # what stands in place of the ids of the queries


def hits_of(row: Any, names: Names) -> Hits | None:
    """Return the hits of a query, or the error in one of them, from a list of hits or a response with one.

    Anything else is None. With ascending scores, a distance or a rank is the score if there is one.

    >>> found = hits_of({"hits": {"hits": [{"_id": "d2", "_score": 0.9}]}}, Names("run", {}))
    >>> found.ids, found.values
    (['d2'], [0.9])
    >>> hits_of([("d2", 0.9), ("d1", 0.8)], Names("run", {})).values
    [0.9, 0.8]
    >>> hits_of([0.9, 0.8], Names("run", {})) is None
    True
    """
    try:
        return _recognized(row, names)
    except ValueError as error:
        return Hits((), problem=error)


def _recognized(row: Any, names: Names) -> Hits | None:
    """Return the hits of a query; None for anything else.

    Raises:
        ValueError: a hit is faulty.
    """
    response = row
    if isinstance(row, Mapping) or is_object(row):
        row = list_in(row, names)
        if isinstance(row, Hits):
            return row
        if row == [] and row is not response:
            return Hits(row)
        if isinstance(row, CONTAINERS) and row is not response and row and query_of(response, names) is not None:
            if isinstance(row, Mapping) and all(
                could_be_value(each) or _may_be_label(each, names) for each in row.values()
            ):
                return Hits(list(row), list(row.values()))
            if not isinstance(row, Mapping) and not types_of_no_ids(row):
                return Hits(row)
    if isinstance(row, Mapping):
        return _values_by_id(row, names)
    if not isinstance(row, (list, tuple)) or not row:
        return None
    if (pairs := _pairs(row, names)) is not None:
        return pairs
    first = row[0]
    if not isinstance(first, Mapping) and not is_object(first):
        return None
    possible = names.of_hits["document"]
    document = path_to(first, possible) or path_to(first, () if "document" in names.given else ("index",))
    if document is None and (given := names.given.get("document")):
        raise InputError(not_called("document", given[0], names, field_names(first), "hits have"))
    if document is None:
        return None
    hits = Hits(fields_at(row, document, possible, "id"), are_indices=document == ("index",), objects=row)
    possible = names.of_hits.get(names.value, ())
    if (value := first_path(row, possible, nulls=names.kind == "qrels")) is not None:
        values = fields_at(row, value, possible, names.value, nulls=True)
        if any(each is not None for each in values) or not is_last_resort(field_names(first), possible):
            return hits._replace(values=values)
    if row is not response and names.kind == "qrels" and not names.has_no_value:
        named = names.given.get(names.value)
        if not named:
            return hits._replace(values=_values_beside(response, hits.ids, "", names, of_objects=True))
        if spelled(field_names(response), named) or has_field(response, path_named(response, named[0])):
            return hits._replace(values=_values_named(named[0], response, response, hits.ids, names))
    ranks = path_to(first, ("rank",)) if names.kind == "run" else None
    return hits if ranks is None else hits._replace(ranks=[field_at(each, ranks) for each in row])


def answers_in(response: Mapping[Any, Any], names: Names) -> Any:
    """Return the answers to several queries in a response, as a list; other mappings unchanged.

    >>> answers_in({"took": 3, "responses": [{"hits": {"hits": []}}]}, Names("run", {}))
    [{'hits': {'hits': []}}]
    >>> answers_in({"ids": [["d2"], ["d1", "d3"]], "documents": None}, Names("run", {}))
    [{'ids': ['d2']}, {'ids': ['d1', 'd3']}]
    """
    for name in spelled(response, ANSWERS):
        rows = response[name]
        if not isinstance(rows, (list, tuple)) or not rows:
            continue
        if all(isinstance(row, Mapping) and list_in(row, names) is not row for row in rows):
            return list(rows)
    ids = response.get("ids")
    if names.kind != "run" or not isinstance(ids, (list, tuple)) or not ids:
        return response
    if not all(isinstance(row, (list, tuple)) for row in ids):
        return response
    lists = {name: of for name, of in response.items() if isinstance(of, (list, tuple)) and len(of) == len(ids)}
    return [{name: of[at] for name, of in lists.items()} for at in range(len(ids))]


def query_of(row: Any, names: Names) -> Any:
    """Return the id of the query of an object with its hits; None if it has none.

    >>> query_of({"query_id": "q1", "hits": []}, Names("run", {})), query_of({"hits": []}, Names("run", {}))
    ('q1', None)
    """
    path = path_to(row, names.of_hits["query"], within=("query",))
    return None if path is None else field_at(row, path)


def unnamed(row: Any, names: Names) -> Unnamed:
    """Return what stands in place of the id of a query; nothing if `fields` says that there is no id.

    >>> unnamed({"input": {"caseNo": 1}, "hits": []}, Names("run", {}))
    {'input.caseno': ('input.caseNo', '1')}
    """
    found = Unnamed()
    for name, each in leaves_of(row).items() if "query" not in names.given else ():
        if isinstance(name, str) and id_kind(type(each)) and not (isinstance(each, str) and len(each) > LONGEST_ID):
            found[plain_name(name)] = name, str(each)
    return found


def names_of_unnamed(*sides: Any) -> list[str]:
    """Return the names, as names compare, under which each query without a known id has another id, on all sides."""
    rows: list[Sequence[Unnamed]] = [getattr(side, "unnamed", ()) for side in sides]
    if not all(rows):
        return []
    names = [name for name in rows[0][0] if all(name in row for of_side in rows for row in of_side)]
    return [name for name in names if all(len({row[name][1] for row in each}) == len(each) for each in rows)]


def hint_of_unnamed(side: Any) -> str:
    """Return what an error says about queries without a known id that may have one under another name."""
    names = [side.unnamed[0][name][0] for name in names_of_unnamed(side)]
    return f"; if {shown(names[0])} names the query, give {mark('fields', {'query': names[0]})}" if names else ""


def by_id(
    ids: Collection[Any],
    values: Iterable[Any] | None,
    kind: str,
    ascending: bool = False,
    advice: str = AS_TEXT,
    keep: str | None = None,
) -> dict[Any, Any]:
    """Return the values of a query's documents by their ids, which must differ unless `keep` says which one to keep.

    Without values, the order of a run makes them: they fall by one from rank to rank, or rise. A relevance is 1.

    >>> by_id(["d2", "d1"], None, "run"), by_id(["d2", "d1"], ["0.9", 0.8], "run"), by_id({"d1"}, None, "qrels")
    ({'d2': -1, 'd1': -2}, {'d2': 0.9, 'd1': 0.8}, {'d1': 1})
    """
    step = 1 if ascending else -1
    ranks = range(step, step * (len(ids) + 1), step) if kind == "run" else repeat(1, len(ids))
    wrong = types_of_no_ids(ids)
    numbers = ranks if values is None else list(map(as_number, values))
    found = {} if wrong else dict(zip(ids, numbers, strict=True))
    if len(found) == len(ids):
        return found
    if keep is not None and not wrong:
        return _best_by_id(zip(ids, numbers, strict=True), ascending, keep)
    first: dict[Any, int] = {}
    for at, each in enumerate(ids):
        if type(each) in wrong:
            raise InputError(f"an id must be text or an integer; got {shown(each)}; {advice}", position=at)
        if not wrong and first.setdefault(each, at) < at:
            problem = f"document {shown(each)} is in position {first[each]} already; {once(kind)}"
            raise InputError(problem, position=at)
    return found


def _best_by_id(pairs: Iterable[tuple[Any, Any]], ascending: bool, keep: str) -> dict[Any, Any]:
    """Return the best value of each id, in the order of these values; what is not a number is kept, to be refused."""
    found: dict[Any, Any] = {}
    for each, value in pairs:
        before = found.get(each)
        if before is not None and isinstance(before, Real) and before == before:
            if value is None:
                continue
            if isinstance(value, Real) and value == value:
                is_better = value < before if ascending else value > before
                if not is_better and not (keep == "last" and value == before):
                    continue
        elif before is not None:
            continue
        found.pop(each, None)
        found[each] = value
    return found


def not_called(field: str, name: str, names: Names, own: Sequence[Any], there: str) -> str:
    """Return what an error says about a name that `fields` gives, and that no field has."""
    near = nearest(name, [each for each in own if isinstance(each, str)])
    hint = f"; did you mean {near!r}?" if near else for_one_side(field, name, own, names.kind)
    return f"no field is called {name}; its {there} {brief(map(shown, own), ', ')}{hint}"


def contradicts_order(values: Sequence[Any], ascending: bool) -> bool:
    """Return whether numbers, fractions among them, contradict the order of the hits."""
    numbers = [as_number(getattr(each, "item", lambda each=each: each)()) for each in values if each is not None]
    numbers = [each for each in numbers if each == each]  # without nan, a missing value
    if not all(isinstance(each, (Real, Decimal)) and not isinstance(each, bool) for each in numbers):
        return False
    is_fraction = any(each % 1 for each in numbers)
    return is_fraction and any(after < before if ascending else after > before for before, after in pairwise(numbers))


def list_in(row: Any, names: Names) -> Any:
    """Return the list of hits in a response, or the hits of lists of ids and of values; None if there is neither."""
    possible = LISTS_OF_IDS[names.kind]
    name, whole = None, row
    for path in [path_named(row, given) for given in names.given.get("document") or ()]:
        if name is None and (name := _first_list(field_at(row, path[:-1]), path[-1:])) is not None:
            row = field_at(row, path[:-1])
    if name is not None or (name := _first_list(row, possible)) is not None:
        ids = _flat_list(field_at(row, (name,))) or []
        if names.has_no_value:
            return Hits(ids)
        try:
            if ids and (given := names.given.get(names.value)):
                return Hits(ids, _values_named(given[0], whole, row, ids, names))
            return Hits(ids, _values_beside(row, ids, name, names))
        except ValueError as error:
            return Hits(ids, problem=error)
    for _ in range(3):
        fields = spelled(row, LISTS) if isinstance(row, Mapping) else LISTS
        found = next(
            (each for name in fields if isinstance(each := field_at(row, (name,)), CONTAINERS) or is_object(each)), None
        )
        if found is None:
            break
        row = found
        if not isinstance(row, Mapping) and not is_object(row):
            break
    return row


def _values_named(name: str, whole: Any, row: Any, ids: Sequence[Any], names: Names) -> list[Any]:
    """Return the values of a list of ids under the name that `fields` gives: beside it, or by a path from the whole."""
    path = path_named(whole, name)
    places: list[tuple[Any, FieldPath]] = [(whole, path)] if has_field(whole, path) else []
    places[:0] = [(each, (own,)) for each in (row, whole) for own in spelled(field_names(each), [name])]
    values = next((each for each in (field_at(*place) for place in places) if each is not None), None)
    if not places:
        raise InputError(not_called(names.value, name, names, list(leaves_of(whole)), "object has"))
    if (found := _values_of(values, ids, names, True)) is None:
        raise InputError(f"{name} holds {shown(values)}, which is no {names.value} for each id")
    return _one_each(found, ids)


def _one_each(values: list[Any], ids: Sequence[Any]) -> list[Any]:
    """Return the values of ids; it is an error if they are more or fewer."""
    if len(values) != len(ids):
        raise ValueError(f"holds {len(ids)} ids and {len(values)} values; give one for each")
    return values


def _values_beside(row: Any, ids: Sequence[Any], name_of_ids: str, names: Names, of_objects: bool = False) -> Any:
    """Return the values of a list of ids, or of objects, from a list or a mapping beside it; None if there is none."""
    possible = LISTS_OF_VALUES[names.kind]
    possible = (*LOWEST_LISTS, *possible) if names.ascending else possible
    beside = {
        name: each
        for name in field_names(row)
        if name != name_of_ids
        and not plain_name(str(name)).endswith("ids")
        and (each := _values_of(field_at(row, (name,)), ids, names, len(spelled([name], possible)) > 0)) is not None
        and not all(value is None for value in each)
        and (len(each) == len(ids) or not of_objects)
    }
    for name in spelled(beside, (*possible, *names.of_hits[names.value])):
        return _one_each(beside[name], ids)
    unknown = [
        name
        for name, each in beside.items()
        if len(each) == len(ids) and is_unknown(name) and not all(isinstance(value, str) for value in each)
    ]
    if names.kind == "run":
        unknown = [name for name in unknown if contradicts_order(beside[name], names.ascending)]
    unknown = [name for name in unknown if plain_name(name) not in LOWEST_LISTS]
    if unknown:
        raise InputError(unknown_error(names, unknown, "beside its ids are"))
    return None


def _values_of(values: Any, ids: Sequence[Any], names: Names, is_known: bool) -> list[Any] | None:
    """Return the values of a list, or of a mapping by the ids, whose name may be known; None for anything else."""
    if isinstance(values, Mapping):
        found = [values[each] for each in ids] if values and set(ids) <= values.keys() else None
    else:
        found = _flat_list(values)
    if found is None or not all(could_be_value(each) or (is_known and _may_be_label(each, names)) for each in found):
        return None
    return found


def _may_be_label(value: Any, names: Names) -> bool:
    """Return whether a value could be a judge's word under a name that is known to be that of a relevance."""
    return names.kind == "qrels" and isinstance(value, str)


def _first_list(row: Any, names: Sequence[str]) -> str | None:
    """Return the first of the names under which a response has a list of ids."""
    for name in spelled(row, names) if isinstance(row, Mapping) else names:
        found = _flat_list(field_at(row, (name,)))
        if found is not None and all(id_kind(type(each)) for each in found[:1]):
            return name
    return None


def _flat_list(each: Any) -> list[Any] | None:
    """Return a list of ids or numbers; None for anything else."""
    each = each.tolist() if hasattr(each, "tolist") else each
    if isinstance(each, (list, tuple)) and len(each) == 1 and isinstance(each[0], (list, tuple)):
        each = each[0]  # Chroma's answer to one query
    if isinstance(each, (list, tuple)) and not any(
        isinstance(of, (list, tuple, Mapping)) or is_object(of) for of in each[:1]
    ):
        return list(each)
    return None


def _values_by_id(row: Mapping[Any, Any], names: Names) -> Hits | None:
    """Return the hits of a mapping of ids to objects with their values; None if its values are no objects."""
    objects = list(row.values())
    possible = names.of_hits.get(names.value, ())
    if not objects or not all(isinstance(each, Mapping) or is_object(each) for each in objects):
        return None
    path = first_path(objects, possible, nulls=names.kind == "qrels")
    return None if path is None else Hits(list(row), fields_at(objects, path, possible, names.value, nulls=True))


def _pairs(row: Sequence[Any], names: Names) -> Hits | None:
    """Return the hits of pairs of an id, or of an object with one, and a score; of (id, rank, score), too."""
    first = row[0]
    if not isinstance(first, (list, tuple)) or hasattr(first, "_fields"):
        return None
    if not all(isinstance(each, (list, tuple)) and len(each) == len(first) for each in row):
        return None
    if len(first) == 3 and [each[1] for each in row] == list(range(1, len(row) + 1)):  # ColBERT's rankings
        row = [(each[0], each[2]) for each in row]
    elif len(first) != 2:
        return None
    (one, score), is_tuple = row[0], isinstance(first, tuple)
    if not isinstance(score, Real) or (not is_tuple and isinstance(one, int) and isinstance(score, int)):
        return None
    if id_kind(type(one)):
        return Hits([each for each, _ in row], [value for _, value in row])
    possible = names.of_hits["document"]
    path = path_to(one, possible) if isinstance(one, Mapping) or is_object(one) else None
    if path is None:
        return None
    return Hits(fields_at([each for each, _ in row], path, possible, "id"), [score for _, score in row])
