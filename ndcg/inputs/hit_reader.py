"""Read the hits of one query after another, and account for each of their fields.

Whatever could be a score or a relevance has a known name, or one that `fields=` gives, or is an error: a hit without a
known value must have nothing that could be one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from numbers import Real
from typing import Any

from ..measure.messages import InputError, brief, mark, shown, within
from .columns import as_number
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
    is_last_resort,
    is_unknown,
    plain_name,
    spelled,
    unknown_error,
)
from .hits import (
    Hits,
    by_id,
    contradicts_order,
    hits_of,
    list_in,
    not_called,
    query_of,
)
from .ids import id_kind
from .objects import (
    DEEPEST,
    WITHIN,
    FieldPath,
    field_at,
    field_names,
    fields_of,
    has_field,
    is_object,
    leaves_of,
    path_named,
    path_to,
    path_to_list,
)

OF_QRELS = re.compile("relevan|gold|truth|expect|positive|correct|referen|judg|qrel|label")  # lists of what is relevant
FIRST_ROWS = 1000  # rows that tell under which name they have their lists


class HitReader:
    """Reads the documents of one query after another, and sees to it that all have the same fields."""

    def __init__(self, names: Names, rows: Iterable[Any] = (), are_named: bool = False) -> None:
        self.names = names
        self.list_path: FieldPath = ()  # to the list of objects with ids, if its name is no known one
        paths = [name for name in names.given.get("document") or () if "." in name]
        for row in filter(fields_of, islice(rows, FIRST_ROWS)):
            if not self.list_path and (are_named or query_of(row, names) is not None):
                self.list_path = next(filter(None, (path_to_list(row, name) for name in paths)), ())
                if not self.list_path and (name := self._own_list(row)):
                    self.list_path = path_named(row, name)
        self.names = names.within(self.list_path)
        self.warning = ""  # about the first hits in another order than their scores or ranks
        self.have_values: bool | None = None  # whether the hits so far have values; None if there is no hit so far
        self.queries_named, self.documents_named = OneToOne(), OneToOne()  # whose ids have two names
        self.have_fields = False  # whether some row so far has a field with a known or a given name

    def _own_list(self, row: Any) -> str:
        """Return the name of the only list of objects with ids in an object of a query; its error names the query."""
        try:
            return own_list(row, self.names, is_named=True)
        except ValueError as error:
            query = query_of(row, self.names)
            raise error if query is None else within(error, f"query {shown(query)}") from None

    def hits(self, row: Any) -> Hits | None:
        """Return the hits of a query, also from an object with its list under a name of its own; None for others."""
        if self.list_path and has_field(row, self.list_path):
            row = field_at(row, self.list_path) or []
        return Hits(()) if row == [] else hits_of(row, self.names)

    def query(self, row: Any) -> Any:
        """Return the query id of an object with hits; a second name for the query must group the rows alike."""
        found = query_of(row, self.names)
        if found is None and (given := self.names.given.get("query")) and (fields := fields_of(row)):
            raise InputError(not_called("query", given[0], self.names, list(fields), "object has"))
        self.have_fields |= found is not None
        if found is not None and isinstance(row, Mapping) and "query" not in self.names.given:
            several = [name for name in alternatives("query", tuple(row)) if id_kind(type(row[name]))]
            if len(several) > 1 and not self.queries_named.agree(*(row[name] for name in several[:2])):
                raise InputError(ambiguous("query", *several[:2]))
        return found

    def documents(self, query: str, row: Any, hits: Hits | None) -> dict[Any, Any]:
        """Return the values of the documents of a query by their ids, from its hits or a list of ids."""
        names = self.names
        try:
            if hits is None and (name := own_list(row, names, is_named=True)):
                self.list_path = path_named(row, name)
                hits = self.hits(row)
            if hits is None and isinstance(row, list) and row and isinstance(row[-1], float):
                raise ValueError(f"{shown(row)} are not ids; name the columns, as to_json(orient='records') does")
            if hits is None and (self.have_fields or not isinstance(row, list)):
                other = f"an object {{document: {names.value}}}, a list of ids or hits"
                what = "a list of hits, as those before" if self.have_fields else other
                raise ValueError(f"must be {what}; got {shown(row)}")
            hits = hits or Hits(row)
            if hits.problem:
                raise hits.problem
            may_have_others = hits.ids and "document" not in names.given and fields_of(row)
            if may_have_others and (problem := other_list(row, hits, names)):
                raise InputError(problem)
            self.have_fields |= len(hits.objects) > 0
            if names.has_no_value:
                hits = Hits(hits.ids)
            elif hits.ids:
                self._account(hits)
            if names.kind == "run" and not self.warning:
                self.warning = contradiction(query, hits, names.ascending, "score" in names.given)
            return by_id(hits.ids, hits.values, names.kind, names.ascending, keep=names.keep)
        except ValueError as error:
            raise within(error, f"query {query}") from None

    def _account(self, hits: Hits) -> None:
        """Raise an error if hits have what could be their value under an unknown name, or two names for their ids."""
        names, word, has_values = self.names, self.names.value, hits.values is not None
        first = hits.objects[0] if hits.objects else None
        present, known = field_names(first), names.of_hits[word]
        for name in spelled(present, known) if hits.objects and not has_values else ():
            if (value := field_at(first, (name,))) is not None:
                raise ValueError(f"the {word} {shown(value)} of a hit is not a number; give a number")
        if hits.objects and not has_values and (given := names.given.get(word)):
            raise InputError(not_called(word, given[0], names, present, "hits have"))
        if self.have_values is not None and has_values is not self.have_values and hits.objects:
            other = "those before have none" if has_values else f"those before have a {word}"
            raise ValueError(f"its hits have {'a' if has_values else 'no'} {word}, but {other}; give it to all or none")
        self.have_values = has_values
        if not isinstance(first, Mapping) and not is_object(first):
            return
        several = () if "document" in names.given else alternatives("document", tuple(present), of_hits=True)
        for each in hits.objects if len(several) > 1 else ():
            one, other = (field_at(each, (name,)) for name in several[:2])
            if id_kind(type(one)) and id_kind(type(other)) and not self.documents_named.agree(one, other):
                raise InputError(ambiguous("document", *several[:2]))
        if not has_values:
            _refuse_unknown_values(hits.objects, names, bool(hits.ranks))
        elif names.ascending and "score" not in names.given:
            _refuse_two_orders(hits.objects, names)
        elif names.kind == "qrels" and is_last_resort(present, known):
            _refuse_unknown_values(hits.objects, names, nulls=False)


def _refuse_unknown_values(objects: Sequence[Any], names: Names, have_ranks: bool = False, nulls: bool = True) -> None:
    """Raise an error if a hit without a known relevance or score has something that could be one.

    In a run, the order of hits counts, and a fraction that falls from hit to hit changes nothing.
    """
    known = {plain_name(name) for name in names.of_hits[names.value]}
    columns: dict[FieldPath, list[Any]] = {}
    for each in objects:
        for path in _unknown_paths(each, DEEPEST if names.kind == "qrels" else 0):
            columns.setdefault(path, []).append(field_at(each, path))
    unknown = [
        path
        for path, values in columns.items()
        if (plain_name(path[-1]) not in known or path[0] not in (path[-1], *WITHIN))
        and all(could_be_value(each) or (names.kind == "qrels" and _is_verdict(path[-1], each)) for each in values)
        and (nulls or any(value is not None for value in values))
    ]
    if names.kind == "run":
        unknown = [] if have_ranks else [path for path in unknown if contradicts_order(columns[path], names.ascending)]
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
        return any(could_be_value(field_at(each, more)) and are_of_judges((*path, *more)) for more in inner)

    return all(is_grade(each) for of_hit in lists for each in of_hit)


def _unknown_paths(hit: Any, depth: int = 0) -> list[FieldPath]:
    """Return the paths to the fields of no known meaning in a hit, and in the objects in it that may have its id.

    To a depth, also in other objects, if the path has a word for judgments.
    """
    shape = tuple(
        (name, tuple(field_names(field_at(hit, (name,)))) if name in WITHIN else ())
        for name in field_names(hit)
        if isinstance(name, str)
    )
    paths = list(_unknown_paths_of(shape))
    for name, _ in shape if depth else ():
        inner = _unknown_paths(field_at(hit, (name,)), depth - 1) if name not in WITHIN else ()
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
    fields = spelled(field_names(objects[0]), names.of_hits["score"])
    lowest = [name for name in fields if plain_name(name) in LOWEST_FIRST]
    scores = [name for name in fields if plain_name(name) not in LOWEST_FIRST]
    if not lowest or not scores:
        return
    one, other = lowest[0], scores[0]
    both = [[as_number(field_at(each, (name,))) for each in objects] for name in (one, other)]
    if all(isinstance(each, Real) for side in both for each in side) and _order(both[0]) != _order(both[1]):
        say = f"give {names.call(one)} or {names.call(other)}"
        raise InputError(f"{shown(one)} and {shown(other)} rank its hits in different orders, lowest first; {say}")


def _order(values: Sequence[Any]) -> list[int]:
    """Return the positions of values from the lowest to the highest."""
    return sorted(range(len(values)), key=values.__getitem__)


def contradiction(query: str, hits: Hits, ascending: bool = False, are_named: bool = False) -> str:
    """Return what a warning says about hits in another order than their scores or ranks; empty if they agree.

    Scores that `fields` names count in any order, but if they are in the opposite one they may be distances.

    >>> contradiction("q1", Hits(["d2", "d1"], ranks=[2, 1]))[:60]
    'query q1: its hits are in another order than their ranks, an'
    """
    numbers = [value for value in map(as_number, hits.ranks or hits.values or ()) if isinstance(value, Real)]
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


def other_list(row: Any, hits: Hits, names: Names) -> str:
    """Return what an error says about a list in an object that may hold its documents, beside its hits; empty if none.

    In a run, the list has the same ids in another order. In qrels, it has grades, or it has some of the ids, and hits
    are in a list that may also hold what was retrieved.

    >>> print(InputError(other_list({"docs": ["a", "b"], "mine": ["b"]}, Hits(["a", "b"]), Names("qrels", {}))))
    its documents may be those in 'docs' or in 'mine'; say which are relevant, fields={'document': 'mine'}, or \
{'document': ('docs', 'mine')} if the run is in the same log
    """
    found = {name: each for name, each in leaves_of(row).items() if isinstance(each, (list, tuple)) and each}
    if len(found) < 2 or names.kind == "exclude":
        return ""
    lists: dict[str, tuple[list[Any], str, bool]] = {}  # the ids, the name that selects them, whether they have grades
    grades = [name for name in names.of_hits.get("relevance", ()) if not is_last_resort([name], [name])]
    for name, each in found.items():
        path = path_to(each[0], names.of_hits["document"])
        ids = list(each) if path is None else [field_at(of, path) for of in each]
        if isinstance(name, str) and all(isinstance(of, str) for of in ids):  # numbers may be values
            call = name if path is None else ".".join((name, *path))
            lists[name] = ids, call, path is not None and path_to(each[0], grades) is not None
    chosen = next((name for name, (ids, *_) in lists.items() if ids == list(hits.ids)), None)
    if chosen is None:
        return ""
    own, is_of_qrels = set(hits.ids), OF_QRELS.search(plain_name(chosen)) is not None
    for name, (ids, call, have_grades) in lists.items():
        calls = {"document": lists[chosen][1]}, {"document": call}, {"document": (lists[chosen][1], call)}
        is_ranking = names.kind == "run" and hits.values is None and not OF_QRELS.search(plain_name(name))
        if is_ranking and set(ids) == own and ids != list(hits.ids):
            problem = f"{shown(chosen)} and {shown(name)} have its documents in different orders; say which one counts"
            return f"{problem}, {mark('fields', *calls[:2])}"
        is_part = set(ids) < own and not is_of_qrels
        if names.kind == "qrels" and (is_part or (have_grades and hits.values is None and not own.isdisjoint(ids))):
            problem = f"its documents may be those in {shown(chosen)} or in {shown(name)}; say which are relevant"
            one_log = mark("fields", calls[2], said=f"{calls[2]!r}")
            return f"{problem}, {mark('fields', calls[1])}, or {one_log} if the run is in the same log"
    return ""


def own_list(row: Any, names: Names, is_named: bool) -> str:
    """Return the name of the only list of objects with ids in an object without a known list; empty if it has none.

    `is_named` tells whether the id of its query is known.

    >>> own_list({"query_id": "q", "found": [{"id": "a"}]}, Names("run", {}), is_named=True)
    'found'

    Raises:
        InputError: such an object has no query under a known name, or its lists hold ids alone or objects without one.
    """
    if is_named and (spelled(fields_of(row), names.columns["document"]) or list_in(row, names) is not row):
        return ""
    fields = leaves_of(row)
    lists = {name: each for name, each in fields.items() if isinstance(each, (list, tuple)) and each}
    ids = [name for name, each in fields.items() if isinstance(name, str) and id_kind(type(each))]
    if not lists or (not is_named and (not ids or len(ids) + len(lists) < len(fields) - 1 or _are_by_query(row))):
        return ""
    call = {} if is_named else {"query": ids[0] if len(ids) == 1 else "..."}
    firsts = {name: each[0] for name, each in lists.items()}
    objects = [name for name, first in firsts.items() if path_to(first, names.of_hits["document"]) is not None]
    if is_named and len(objects) == 1:
        return str(objects[0])
    if is_named and objects:
        calls = (".".join((name, *(path_to(firsts[name], names.of_hits["document"]) or ()))) for name in objects)
        have = " and ".join(map(shown, objects))
        say = mark("fields", *({"document": each} for each in calls))
        raise InputError(
            f"holds lists under {have}, which are no known names; say which one holds its documents, {say}"
        )
    (name, first), *more = firsts.items()
    if not objects and not more and (of_first := fields_of(first)):
        own = brief(map(shown, of_first), ", ")
        problem = f"no document under a known name, but the hits in {shown(name)} have {own}"
        raise InputError(f"{problem}; give {mark('fields', {**call, 'document': '...'})}")
    # in {query: {document: [1]}}, which is faulty, numbers are no ids
    kinds = ("text",) if query_of(row, names) is None else ("text", "integers")
    if is_named and (of_ids := [name for name, first in firsts.items() if id_kind(type(first)) in kinds]):
        several, of_other = len(of_ids) > 1, names.given.get("document") or of_ids[1:]
        problem = "lists under {}, which are no known names" if several else "a list under {}, which is no known name"
        hint = f"if {'one' if several else 'it'} holds its documents, give {mark('fields', {'document': of_ids[0]})}"
        if of_other:
            pair = (of_other[0], of_ids[0]) if names.kind == "qrels" and not several else (of_ids[0], of_other[0])
            hint = f"give the lists of the run and of the references, such as {mark('fields', {'document': pair})}"
        raise InputError(f"holds {problem.format(' and '.join(map(shown, of_ids)))}; {hint}")
    are_flat = names.kind != "exclude" and all(id_kind(type(each)) or could_be_value(each) for each in firsts.values())
    if not is_named and (objects or are_flat):
        texts = [name for name, each in firsts.items() if isinstance(each, str)]
        call = call if objects else {**call, "document": texts[0] if len(texts) == 1 else "..."}
        have_fields = brief(map(shown, fields), ", ")
        raise InputError(f"no query under a known name, but {have_fields}; give {mark('fields', call)}")
    return ""


def _are_by_query(row: Any) -> bool:
    """Return whether an object maps queries to objects: these have field names in common, or there is only one."""
    inner = [set(fields_of(each)) for each in fields_of(row).values() if fields_of(each)]
    return len(inner) > 0 and (len(inner) == len(fields_of(row)) == 1 or len(set.union(*inner)) < sum(map(len, inner)))
