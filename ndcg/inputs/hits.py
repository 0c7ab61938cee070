"""Hits: what a retriever returned for a query, a list of objects with an id and perhaps a score, best first.

An object is a dict, as in JSON, an object of a client's library, or a pair of an id and a score. Its fields have the
names of `fields.py`, also one level down, as in ``document.id`` and ``metadata.id``. The list may be in a response, as
in ``hits.hits`` and ``response.docs``; lists of ids and of scores next to each other are hits, too. Rows of a file and
objects in memory are read here alike.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import islice, pairwise, repeat
from numbers import Real
from typing import Any, NamedTuple

from ..measure.messages import InputError, brief, mark, nearest, shown
from .fields import (
    LONGEST_WORD,
    LOWEST_FIRST,
    VERDICTS,
    Names,
    OneToOne,
    alternatives,
    ambiguous,
    are_of_judges,
    could_be_value,
    for_one_side,
    is_last_resort,
    is_unknown,
    plain_name,
    spelled,
    unknown_error,
)
from .ids import id_kind, once, types_of_no_ids

FieldPath = tuple[str, ...]  # the names that lead from a hit to one of its fields

WITHIN = ("document", "node", "metadata", "entity", "hit", "doc", "_additional")  # objects in a hit with its fields
AS_TEXT = "give others as text"
DEEPEST = 3  # objects within objects of a hit
FIRST_ROWS = 1000  # rows that tell under which name they have their lists
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


def hits_of(row: Any, names: Names) -> Hits | None:
    """Return the hits of a query, from a list of hits or a response with one; None for anything else.

    With ascending scores, a distance or a rank is the score if there is one.

    >>> found = hits_of({"hits": {"hits": [{"_id": "d2", "_score": 0.9}]}}, Names("run", {}))
    >>> found.ids, found.values
    (['d2'], [0.9])
    >>> hits_of([("d2", 0.9), ("d1", 0.8)], Names("run", {})).values
    [0.9, 0.8]
    >>> hits_of([0.9, 0.8], Names("run", {})) is None
    True
    """
    if isinstance(row, Mapping) or _is_object(row):
        row, given = _list_in(row, names), row
        if isinstance(row, Hits):
            return row
        if row == [] and row is not given:
            return Hits(row)
        if isinstance(row, CONTAINERS) and row is not given and row and query_of(given, names) is not None:
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
    if not isinstance(first, Mapping) and not _is_object(first):
        return None
    possible = names.of_hits["document"]
    document = _path(first, possible) or _path(first, () if "document" in names.given else ("index",))
    if document is None and (given := names.given.get("document")):
        raise InputError(_not_called("document", given[0], names, _names_of(first), "hits have"))
    if document is None:
        return None
    hits = Hits(_fields(row, document, possible, "id"), are_indices=document == ("index",), objects=row)
    possible = names.of_hits.get(names.value, ())
    if (value := _first_path(row, possible, nulls=names.kind == "qrels")) is not None:
        values = _fields(row, value, possible, names.value, nulls=True)
        if any(each is not None for each in values) or not is_last_resort(_names_of(first), possible):
            return hits._replace(values=values)
    ranks = _path(first, ("rank",)) if names.kind == "run" else None
    return hits if ranks is None else hits._replace(ranks=[_field(each, ranks) for each in row])


def are_hits(row: Any, names: Names) -> bool:
    """Return whether a query has hits, even if one of them is faulty."""
    try:
        return hits_of(row, names) is not None
    except ValueError:
        return True


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
        if all(isinstance(row, Mapping) and _list_in(row, names) is not row for row in rows):
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
    path = _path(row, names.of_hits["query"], within=("query",))
    return None if path is None else _field(row, path)


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
    numbers = ranks if values is None else list(map(_number, values))
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


def unknown_object(row: Any, names: Names) -> str:
    """Return what an error says about an object with a list of documents, but no known names; empty for others.

    >>> print(InputError(unknown_object({"qkey": "Q-1", "found": [{"chunk_id": "a"}]}, Names("run", {}))))
    no query under a known name, but 'qkey', 'found'; give fields={'query': 'qkey'}
    """
    fields = _fields_of(row)
    if query_of(row, names) is not None:
        return ""
    ids = [name for name, each in fields.items() if isinstance(name, str) and id_kind(type(each))]
    lists = [name for name, each in fields.items() if isinstance(each, (list, tuple)) and each]
    if not ids or not lists or len(ids) + len(lists) < len(fields) - 1:
        return ""
    if any(_path(fields[name][0], names.of_hits["document"]) is not None for name in lists):
        have = brief(map(shown, fields), ", ")
        return f"no query under a known name, but {have}; give {mark('fields', {'query': ids[0]})}"
    if len(lists) == 1 and _fields_of(fields[lists[0]][0]):
        return _no_document(lists[0], fields[lists[0]][0], {"query": ids[0]})
    are_flat = all(id_kind(type(fields[name][0])) or could_be_value(fields[name][0]) for name in lists)
    if names.kind == "exclude" or not are_flat:
        return ""
    have = brief(map(shown, fields), ", ")
    return f"no query under a known name, but {have}; give {mark('fields', {'query': ids[0], 'document': '...'})}"


class HitReader:
    """Reads the documents of one query after another, and sees to it that all have the same fields."""

    def __init__(self, names: Names, rows: Iterable[Any] = ()) -> None:
        self.names = names
        # the name of the lists of objects with ids, if it is no known one
        self.own_list = next((name for row in islice(rows, FIRST_ROWS) if (name := _own_list(row, names))), "")
        self.warning = ""  # about the first hits in another order than their scores or ranks
        self.have_values: bool | None = None  # whether the hits so far have values; None if there is no hit so far
        self.documents, self.queries = OneToOne(), OneToOne()  # whose ids have two names
        self.have_fields = False  # whether some row so far has a field with a known or a given name

    def unwrapped(self, row: Any) -> Any:
        """Return the list of hits of an object that has it under a name of its own, and other rows unchanged."""
        if not self.own_list or self.own_list not in (fields := _fields_of(row)):
            return row
        return fields[self.own_list] or []

    def hits(self, row: Any) -> Hits | None:
        """Return the hits of a query; None for anything else."""
        row = self.unwrapped(row)
        return Hits(()) if row == [] else hits_of(row, self.names)

    def query(self, row: Any) -> Any:
        """Return the id of the query of an object with its hits, which must not have another one as well."""
        found = query_of(row, self.names)
        if found is None and (given := self.names.given.get("query")) and (fields := _fields_of(row)):
            raise InputError(_not_called("query", given[0], self.names, list(fields), "object has"))
        self.have_fields |= found is not None
        if found is not None and isinstance(row, Mapping) and "query" not in self.names.given:
            several = [name for name in alternatives("query", tuple(row)) if id_kind(type(row[name]))]
            if len(several) > 1 and not self.queries.agree(*(row[name] for name in several[:2])):
                raise InputError(ambiguous("query", *several[:2]))
        return found

    def read(self, query: str, hits: Hits) -> dict[Any, Any]:
        """Return the values of the documents of a query by their ids."""
        names = self.names
        self.have_fields |= len(hits.objects) > 0
        if names.has_no_value:
            hits = Hits(hits.ids)
        elif hits.ids:
            self._account(hits)
        if names.kind == "run" and not self.warning:
            self.warning = contradiction(query, hits, names.ascending, "score" in names.given)
        return by_id(hits.ids, hits.values, names.kind, names.ascending, keep=names.keep)

    def _account(self, hits: Hits) -> None:
        """Raise an error if hits have what could be their value under an unknown name, or two names for their ids."""
        has_values = hits.values is not None
        given = self.names.given.get(self.names.value)
        if not has_values and hits.objects and given and (value := _field(hits.objects[0], (given[0],))) is not None:
            raise ValueError(f"the {self.names.value} {shown(value)} of a hit is not a number; give a number")
        if not has_values and hits.objects and given:
            have = _names_of(hits.objects[0])
            raise InputError(_not_called(self.names.value, given[0], self.names, have, "hits have"))
        if self.have_values is not None and has_values is not self.have_values and hits.objects:
            word = self.names.value
            other = "those before have none" if has_values else f"those before have a {word}"
            raise ValueError(f"its hits have {'a' if has_values else 'no'} {word}, but {other}; give it to all or none")
        self.have_values = has_values
        first = hits.objects[0] if hits.objects else None
        if not isinstance(first, Mapping) and not _is_object(first):
            return
        present = _names_of(first)
        if (
            "document" not in self.names.given
            and len(several := alternatives("document", tuple(present), of_hits=True)) > 1
        ):
            for each in hits.objects:
                one, other = (_field(each, (name,)) for name in several[:2])
                if id_kind(type(one)) and id_kind(type(other)) and not self.documents.agree(one, other):
                    raise InputError(ambiguous("document", *several[:2]))
        known = self.names.of_hits[self.names.value]
        for name in spelled(present, known) if not has_values else ():
            if (value := _field(first, (name,))) is not None:
                raise ValueError(f"the {self.names.value} {shown(value)} of a hit is not a number; give a number")
        if not has_values:
            _refuse_unknown_values(hits.objects, self.names, bool(hits.ranks))
        elif self.names.ascending and "score" not in self.names.given:
            _refuse_two_orders(hits.objects, self.names)
        elif self.names.kind == "qrels" and is_last_resort(present, known):
            _refuse_unknown_values(hits.objects, self.names, nulls=False)


def _not_called(field: str, name: str, names: Names, own: Sequence[Any], there: str) -> str:
    """Return what an error says about a name that `fields` gives, and that no field has."""
    near = nearest(name, [each for each in own if isinstance(each, str)])
    hint = f"; did you mean {near!r}?" if near else for_one_side(field, name, own, names.kind)
    return f"no field is called {name}; its {there} {brief(map(shown, own), ', ')}{hint}"


def _refuse_unknown_values(objects: Sequence[Any], names: Names, have_ranks: bool = False, nulls: bool = True) -> None:
    """Raise an error if a hit without a known relevance or score has something that could be one.

    In a run, the order of hits counts, and a fraction that falls from hit to hit changes nothing.
    """
    known = {plain_name(name) for name in names.of_hits[names.value]}
    columns: dict[FieldPath, list[Any]] = {}
    for each in objects:
        for path in _unknown_paths(each, DEEPEST if names.kind == "qrels" else 0):
            columns.setdefault(path, []).append(_field(each, path))
    unknown = [
        path
        for path, values in columns.items()
        if (plain_name(path[-1]) not in known or path[0] not in (path[-1], *WITHIN))
        and all(could_be_value(each) or (names.kind == "qrels" and _is_verdict(path[-1], each)) for each in values)
        and (nulls or any(value is not None for value in values))
    ]
    if names.kind == "run":
        unknown = [] if have_ranks else [path for path in unknown if _contradicts(columns[path], names.ascending)]
    if unknown:
        raise InputError(unknown_error(names, list(map(".".join, unknown))))
    lists = [path for path, values in columns.items() if names.kind == "qrels" and _are_grades(path, values)]
    if lists:
        have = brief((shown(".".join(path)) for path in lists), ", ")
        hint = f"give one number for each document, such as their mean, or {names.call(None)} if each is relevant"
        raise InputError(f"no relevance under a known name, but its hits have lists of grades, {have}; {hint}")


def _is_verdict(name: str, value: Any) -> bool:
    """Return whether a value is a short text under a name that ends in a word for a judgment, such as "verdict"."""
    return isinstance(value, str) and len(value) <= LONGEST_WORD and plain_name(name).endswith(VERDICTS)


def _are_grades(path: FieldPath, values: Sequence[Any]) -> bool:
    """Return whether the lists of all hits under a path are grades of several judges, or objects with one each."""
    lists = [each.tolist() if hasattr(each, "tolist") else each for each in values if each is not None]
    if not any(lists) or not all(isinstance(each, (list, tuple)) for each in lists):
        return False

    def is_grade(each: Any) -> bool:
        inner: list[FieldPath] = [()] if could_be_value(each) else _unknown_paths(each, DEEPEST)
        return any(could_be_value(_field(each, more)) and are_of_judges((*path, *more)) for more in inner)

    return all(is_grade(each) for of_hit in lists for each in of_hit)


def _unknown_paths(hit: Any, depth: int = 0) -> list[FieldPath]:
    """Return the paths to the fields of no known meaning in a hit, and in the objects in it that may have its id.

    To a depth, also in other objects, if the path has a word for judgments.
    """
    shape = tuple(
        (name, tuple(_names_of(_field(hit, (name,)))) if name in WITHIN else ())
        for name in _names_of(hit)
        if isinstance(name, str)
    )
    paths = list(_unknown_paths_of(shape))
    for name, _ in shape if depth else ():
        inner = _unknown_paths(_field(hit, (name,)), depth - 1) if name not in WITHIN else ()
        paths += [path for each in inner if are_of_judges(path := (name, *each))]
    return paths


@lru_cache(1 << 10)
def _unknown_paths_of(shape: tuple[tuple[str, tuple[Any, ...]], ...]) -> Sequence[FieldPath]:
    """Return the paths to the fields of no known meaning in hits with these names, and names within them."""
    paths: list[FieldPath] = [(name,) for name, _ in shape]
    paths += [(name, each) for name, inner in shape for each in inner if isinstance(each, str)]
    return [path for path in paths if is_unknown(path[-1])]


def _refuse_two_orders(objects: Sequence[Any], names: Names) -> None:
    """Raise an error if hits have a rank or a distance and a score that rank them differently, lowest first."""
    fields = spelled(_names_of(objects[0]), names.of_hits["score"])
    lowest = [name for name in fields if plain_name(name) in LOWEST_FIRST]
    scores = [name for name in fields if plain_name(name) not in LOWEST_FIRST]
    for other in scores[:1] if lowest else ():
        one, both = lowest[0], [[_number(_field(each, (name,))) for each in objects] for name in (lowest[0], scores[0])]
        if not all(isinstance(each, Real) for side in both for each in side):
            continue
        if _order(both[0]) != _order(both[1]):
            say = f"give {names.call(one)} or {names.call(other)}"
            raise InputError(f"{shown(one)} and {shown(other)} rank its hits in different orders, lowest first; {say}")


def _order(values: Sequence[Any]) -> list[int]:
    """Return the positions of values from the lowest to the highest."""
    return sorted(range(len(values)), key=values.__getitem__)


def _contradicts(values: Sequence[Any], ascending: bool) -> bool:
    """Return whether numbers, fractions among them, contradict the order of the hits."""
    numbers = [_number(getattr(each, "item", lambda each=each: each)()) for each in values if each is not None]
    if not all(isinstance(each, (Real, Decimal)) and not isinstance(each, bool) for each in numbers):
        return False
    is_fraction = any(each % 1 for each in numbers)
    return is_fraction and any(after < before if ascending else after > before for before, after in pairwise(numbers))


def contradiction(query: str, hits: Hits, ascending: bool = False, are_named: bool = False) -> str:
    """Return what a warning says about hits in another order than their scores or ranks; empty if they agree.

    Scores that `fields` names count in any order, but if they are in the opposite one they may be distances.

    >>> contradiction("q1", Hits(["d2", "d1"], ranks=[2, 1]))[:60]
    'query q1: its hits are in another order than their ranks, an'
    """
    numbers = [value for value in map(_number, hits.ranks or hits.values or ()) if isinstance(value, Real)]
    lowest_first = bool(hits.ranks) or ascending
    if are_named and (len(numbers) < 2 or numbers != sorted(numbers, reverse=lowest_first)):
        return ""
    if not any(after < before if lowest_first else after > before for before, after in pairwise(numbers)):
        return ""
    if hits.ranks:
        problem = "its hits are in another order than their ranks, and their order counts"
        return f"query {query}: {problem}; if the ranks count, give {mark('score_order', 'ascending')}"
    order = "" if ascending else f"; if the lowest score is best, give {mark('score_order', 'ascending')}"
    return (
        f"query {query}: the scores rank its hits in another order than they are in, and the scores count; if the "
        f"order counts, give the ids alone{order}"
    )


def _number(value: Any) -> Any:
    """Return a score; text of a number as a number, as some retrievers write it."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


# Fields


def _is_object(value: Any) -> bool:
    """Return whether a value is an object of a client's library, which has fields as attributes."""
    if id_kind(type(value)) or isinstance(value, (Real, Mapping)) or value is None:
        return False
    if isinstance(value, (list, tuple)):
        return hasattr(value, "_fields")
    return hasattr(value, "__dict__") and not any(hasattr(value, each) for each in ("__array__", "__arrow_c_stream__"))


def _names_of(hit: Any) -> list[Any]:
    """Return the names of the fields of a hit."""
    return list(hit) if isinstance(hit, Mapping) else list(getattr(hit, "_fields", getattr(hit, "__dict__", ())))


def _field(value: Any, path: FieldPath) -> Any:
    """Return a field of a hit; None if it has none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return None if callable(value) else value


def _has(value: Any, path: FieldPath) -> bool:
    """Return whether a hit has a field, even if it is None."""
    for name in path[:-1]:
        value = _field(value, (name,))
    return path[-1] in value if isinstance(value, Mapping) else hasattr(value, path[-1])


def _path(hit: Any, names: Sequence[str], within: Sequence[str] = WITHIN, nulls: bool = False) -> FieldPath | None:
    """Return the path to the first field that a hit has under one of the names, in the hit or in an object within.

    With `nulls`, the field may be None. A name may be a path itself, such as "metadata.source".
    """
    if not isinstance(hit, Mapping) and not _is_object(hit):
        return None
    for outer in ((), *((each,) for each in within)):
        inner = _field(hit, outer) if outer else hit
        if inner is None or not (isinstance(inner, Mapping) or _is_object(inner)):
            continue
        own = {plain_name(name): name for name in _names_of(inner) if isinstance(name, str)}
        for name in names:
            path = (*outer, own.get(plain_name(name), name))
            value = _field(hit, path)
            if value is None:
                if nulls and _has(hit, path):
                    return path
            elif not isinstance(value, (list, tuple, Mapping)) and not _is_object(value):
                return path
    dotted = (tuple(name.split(".")) for name in names if "." in name)
    return next((path for path in dotted if _field(hit, path) is not None), None)


def _first_path(hits: Sequence[Any], names: Sequence[str], nulls: bool) -> FieldPath | None:
    """Return the path to a field under one of the names, in the first hit that has it, or else has it as None."""
    paths: dict[Any, FieldPath | None] = {}  # by the names of a hit, since nearly all hits have the same
    first = None
    for hit in hits:
        inner = tuple(tuple(_names_of(_field(hit, (name,)))) for name in WITHIN)
        shape = (*_names_of(hit), inner)
        if shape not in paths:
            paths[shape] = _path(hit, names, nulls=True)
        path = paths[shape]
        if path is not None and _field(hit, path) is None:
            first, path = first or path, _path(hit, names)
        if path is not None:
            return path
    return first if nulls else None


def _fields(hits: Sequence[Any], path: FieldPath, names: Sequence[str], word: str, nulls: bool = False) -> list[Any]:
    """Return a field of each hit, under the same path or another one; with `nulls`, it may be None."""
    if len(path) == 1 and set(map(type, hits)) == {dict}:  # by far the most frequent, and faster
        found = [hit.get(path[0]) for hit in hits]
    else:
        found = [_field(hit, path) for hit in hits]
    if None not in found:
        return found
    for position, value in enumerate(found):
        if value is None and not (nulls and _has(hits[position], path)):
            other = _path(hits[position], names, nulls=nulls)
            if other is None:
                others = "the first has" if _has(hits[0], path) else "others have"
                raise InputError(f"the hit has no {word} ({others} {'.'.join(path)})", position=position)
            found[position] = _field(hits[position], other)
    return found


def _list_in(row: Any, names: Names) -> Any:
    """Return the list of hits in a response, or the hits of lists of ids and of values; None if there is neither."""
    possible = LISTS_OF_IDS[names.kind]
    given = [name for name in names.given.get("document") or () if isinstance(_field(row, (name,)), (list, tuple))]
    if (name := _first_list(row, given or possible)) is not None:
        ids = _flat_list(_field(row, (name,))) or []
        if names.has_no_value:
            return Hits(ids)
        return Hits(ids, _values_beside(row, ids, name, names))
    for _ in range(3):
        fields = spelled(row, LISTS) if isinstance(row, Mapping) else LISTS
        found = next(
            (each for name in fields if isinstance(each := _field(row, (name,)), CONTAINERS) or _is_object(each)), None
        )
        if found is None:
            break
        row = found
        if not isinstance(row, Mapping) and not _is_object(row):
            break
    return row


def _own_list(row: Any, names: Names) -> str:
    """Return the name of the only list of objects with ids in an object without a known list; empty if it has none."""
    fields = _fields_of(row)
    lists = {name: each for name, each in fields.items() if isinstance(each, (list, tuple)) and each}
    if not lists or query_of(row, names) is None or spelled(fields, names.columns["document"]):
        return ""
    if _list_in(row, names) is not row:
        return ""
    objects = [name for name, each in lists.items() if _path(each[0], names.of_hits["document"]) is not None]
    if not objects and all(id_kind(type(each[0])) for each in lists.values()):
        have = " and ".join(map(shown, lists))
        problem = f"holds a list under {have}, which is no known name"
        if len(lists) > 1:
            problem = f"holds lists under {have}, which are no known names"
        call = mark("fields", {"document": next(iter(lists))})
        raise InputError(f"{problem}; if {'one' if len(lists) > 1 else 'it'} holds its documents, give {call}")
    if not objects and len(lists) == 1 and _fields_of(next(iter(lists.values()))[0]):
        ((name, hits),) = lists.items()
        raise InputError(_no_document(name, hits[0], {}))
    return str(objects[0]) if len(objects) == 1 else ""


def _no_document(name: str, hit: Any, query: Mapping[str, str]) -> str:
    """Return what an error says about hits, under this name, without an id under a known name."""
    have = brief(map(shown, _names_of(hit)), ", ")
    call = mark("fields", {**query, "document": "..."})
    return f"no document under a known name, but the hits in {shown(name)} have {have}; give {call}"


def _fields_of(row: Any) -> Mapping[Any, Any]:
    """Return the fields of an object by their names; none for other values."""
    if isinstance(row, Mapping):
        return row
    return {name: _field(row, (name,)) for name in _names_of(row)} if _is_object(row) else {}


def _values_beside(row: Any, ids: Sequence[Any], name_of_ids: str, names: Names) -> Any:
    """Return the values of a list of ids, from a list or a mapping beside it; None if there is none."""
    possible = LISTS_OF_VALUES[names.kind]
    possible = (*LOWEST_LISTS, *possible) if names.ascending else possible
    beside = {
        name: each
        for name in _names_of(row)
        if name != name_of_ids
        and not plain_name(str(name)).endswith("ids")
        and (each := _values_of(_field(row, (name,)), ids, names, name)) is not None
        and not all(value is None for value in each)
    }
    for name in spelled(beside, names.given.get(names.value) or (*possible, *names.of_hits[names.value])):
        if len(beside[name]) != len(ids):
            raise ValueError(f"holds {len(ids)} ids and {len(beside[name])} values; give one for each")
        return beside[name]
    unknown = [
        name
        for name, each in beside.items()
        if len(each) == len(ids) and is_unknown(name) and not all(isinstance(value, str) for value in each)
    ]
    if names.kind == "run":
        unknown = [name for name in unknown if _contradicts(beside[name], names.ascending)]
    unknown = [name for name in unknown if plain_name(name) not in LOWEST_LISTS]
    if unknown:
        raise InputError(unknown_error(names, unknown, "beside its ids are"))
    return None


def _values_of(values: Any, ids: Sequence[Any], names: Names, name: Any) -> list[Any] | None:
    """Return the values of a list, or of a mapping by the ids, under a name; None for anything else."""
    if isinstance(values, Mapping):
        found = [values[each] for each in ids] if values and set(ids) <= values.keys() else None
    else:
        found = _flat_list(values)
    known = names.given.get(names.value) or LISTS_OF_VALUES[names.kind]
    is_known = len(spelled([name], known)) > 0
    if found is None or not all(could_be_value(each) or (is_known and _may_be_label(each, names)) for each in found):
        return None
    return found


def _may_be_label(value: Any, names: Names) -> bool:
    """Return whether a value could be a judge's word under a name that is known to be that of a relevance."""
    return names.kind == "qrels" and isinstance(value, str)


def _first_list(row: Any, names: Sequence[str]) -> str | None:
    """Return the first of the names under which a response has a list of ids."""
    for name in spelled(row, names) if isinstance(row, Mapping) else names:
        found = _flat_list(_field(row, (name,)))
        if found is not None and all(id_kind(type(each)) for each in found[:1]):
            return name
    return None


def _flat_list(each: Any) -> list[Any] | None:
    """Return a list of ids or numbers; None for anything else."""
    each = each.tolist() if hasattr(each, "tolist") else each
    if isinstance(each, (list, tuple)) and len(each) == 1 and isinstance(each[0], (list, tuple)):
        each = each[0]  # Chroma's answer to one query
    if isinstance(each, (list, tuple)) and not any(
        isinstance(of, (list, tuple, Mapping)) or _is_object(of) for of in each[:1]
    ):
        return list(each)
    return None


def _values_by_id(row: Mapping[Any, Any], names: Names) -> Hits | None:
    """Return the hits of a mapping of ids to objects with their values; None if its values are no objects."""
    objects = list(row.values())
    possible = names.of_hits.get(names.value, ())
    if not objects or not all(isinstance(each, Mapping) or _is_object(each) for each in objects):
        return None
    path = _first_path(objects, possible, nulls=names.kind == "qrels")
    return None if path is None else Hits(list(row), _fields(objects, path, possible, names.value, nulls=True))


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
    path = _path(one, possible) if isinstance(one, Mapping) or _is_object(one) else None
    if path is None:
        return None
    return Hits(_fields([each for each, _ in row], path, possible, "id"), [score for _, score in row])
