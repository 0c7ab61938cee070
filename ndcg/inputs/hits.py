"""Hits: what a retriever returned for a query, a list of objects with an id and perhaps a score, best first.

An object is a dict, as in JSON, an object of a client's library, or a pair of an id and a score. Its fields have the
names of `ID_FIELDS` and `VALUE_FIELDS`, also one level down, as in ``document.id`` and ``metadata.id``. The list may be
in a response, as in ``hits.hits`` and ``response.docs``; lists of ids and of scores next to each other are hits, too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, repeat
from numbers import Real
from typing import Any, NamedTuple

from ..measure.messages import shown
from .ids import id_kind, types_of_no_ids
from .tables import ID_NAMES, LOWEST_FIRST, NAMES, plain_name

FieldPath = tuple[str, ...]  # the names that lead from a hit to one of its fields

ID_FIELDS = ("id", "_id", *ID_NAMES["document"], "node_id", "id_", "uuid", "objectid", "file_id")
VALUE_FIELDS = {
    "run": ("_score", *NAMES["run"]["score"], "_rankingscore", "@search.score", "certainty"),
    "qrels": ("has_answer", *NAMES["qrels"]["relevance"]),
}
WITHIN = ("document", "node", "metadata", "entity", "hit", "doc", "_additional")  # objects in a hit with its fields
AS_TEXT = "give others as text"
CONTAINERS = (list, tuple, Mapping)
QUERY_FIELDS = (*ID_NAMES["query"], "id", "_id", "question")  # of an object with the hits of a query
# the lists of hits, and the lists of ids and of their values, of a query
LISTS = (
    *("hits", "matches", "points", "results", "result", "response", "docs", "ctxs", "retrieved", "ratings"),
    *("candidates", "root", "children", "objects", "documents", "value", "data"),
)
ANSWERS = ("responses", "results", "result", "requests")  # lists of the answers to several queries
IDS = ("ids", "doc_ids", "docids", "document_ids", "item_ids", "items", "recommendations")
IDS_OF = {
    "run": ("retrieved_ids", "retrieved_doc_ids", *IDS),
    "qrels": ("relevant_ids", "relevant_doc_ids", "ground_truth_doc_ids", "expected_ids", "gold_doc_ids", *IDS),
}
VALUES_OF = {"run": ("scores", "similarities"), "qrels": ("relevances", "relevance", "labels", "ratings", "grades")}


class Hits(NamedTuple):
    """The documents of a query."""

    ids: Sequence[Any]  # their ids, best first in a run
    values: Sequence[Any] | None = None  # their scores or relevances; None if they have none
    are_indices: bool = False  # whether the ids are positions in the list of documents that was ranked
    ranks: Sequence[Any] = ()  # their ranks, if they have no scores


def hits_of(row: Any, kind: str, ascending: bool = False) -> Hits | None:
    """Return the hits of a query, from a list of hits or a response with one; None for anything else.

    With `ascending`, a distance or a rank is the score if there is one.

    >>> hits_of({"hits": {"hits": [{"_id": "d2", "_score": 0.9}]}}, "run")
    Hits(ids=['d2'], values=[0.9], are_indices=False, ranks=())
    >>> hits_of([("d2", 0.9), ("d1", 0.8)], "run").values
    [0.9, 0.8]
    >>> hits_of([0.9, 0.8], "run") is None
    True
    """
    if isinstance(row, Mapping) or _is_object(row):
        row, given = _list_in(row, kind), row
        if isinstance(row, Hits):
            return row
        if row == [] and row is not given:
            return Hits(row)
    if (
        isinstance(row, Mapping)
        and (path := _path(next(iter(row.values()), None), VALUE_FIELDS[kind], within=())) is not None
    ):
        return Hits(list(row), _fields(list(row.values()), path, VALUE_FIELDS[kind], "score"))
    if not isinstance(row, (list, tuple)) or not row:
        return None
    if (pairs := _pairs(row)) is not None:
        return pairs
    first = row[0]
    if not isinstance(first, Mapping) and not _is_object(first):
        return None
    document = _path(first, ID_FIELDS) or _path(first, ("index",))
    if document is None:
        return None
    names = (*LOWEST_FIRST, *VALUE_FIELDS[kind]) if ascending else VALUE_FIELDS[kind]
    value = _path(first, names)
    hits = Hits(_fields(row, document, ID_FIELDS, "id"), are_indices=document == ("index",))
    if value is not None:
        return hits._replace(values=_fields(row, value, names, "score"))
    ranks = _path(first, ("rank",)) if kind == "run" else None
    return hits if ranks is None else hits._replace(ranks=[_field(each, ranks) for each in row])


def are_hits(row: Any, kind: str) -> bool:
    """Return whether a query has hits, even if one of them is faulty."""
    try:
        return hits_of(row, kind) is not None
    except ValueError:
        return True


def answers_in(response: Mapping[Any, Any], kind: str) -> Any:
    """Return the answers to several queries in a response, as a list; other mappings unchanged.

    >>> answers_in({"took": 3, "responses": [{"hits": {"hits": []}}]}, "run")
    [{'hits': {'hits': []}}]
    >>> answers_in({"ids": [["d2"], ["d1", "d3"]], "documents": None}, "run")
    [{'ids': ['d2']}, {'ids': ['d1', 'd3']}]
    """
    for name in ANSWERS:
        rows = response.get(name)
        if not isinstance(rows, (list, tuple)) or not rows:
            continue
        if all(isinstance(row, Mapping) and _list_in(row, kind) is not row for row in rows):
            return list(rows)
    ids = response.get("ids")
    if kind != "run" or not isinstance(ids, (list, tuple)) or not ids:
        return response
    if not all(isinstance(row, (list, tuple)) for row in ids):
        return response
    lists = {name: of for name, of in response.items() if isinstance(of, (list, tuple)) and len(of) == len(ids)}
    return [{name: of[at] for name, of in lists.items()} for at in range(len(ids))]


def query_of(row: Any) -> Any:
    """Return the id of the query of an object with its hits; None if it has none.

    >>> query_of({"query_id": "q1", "hits": []}), query_of({"hits": []})
    ('q1', None)
    """
    path = _path(row, QUERY_FIELDS, within=("query",))
    return None if path is None else _field(row, path)


def by_id(
    ids: Collection[Any], values: Iterable[Any] | None, kind: str, ascending: bool = False, advice: str = AS_TEXT
) -> dict[Any, Any]:
    """Return the values of a query's documents by their ids, which must differ.

    Without values, the order of a run makes them: they fall by one from rank to rank, or rise. A relevance is 1.

    >>> by_id(["d2", "d1"], None, "run"), by_id(["d2", "d1"], ["0.9", 0.8], "run"), by_id({"d1"}, None, "qrels")
    ({'d2': -1, 'd1': -2}, {'d2': 0.9, 'd1': 0.8}, {'d1': 1})
    """
    step = 1 if ascending else -1
    ranks = range(step, step * (len(ids) + 1), step) if kind == "run" else repeat(1, len(ids))
    wrong = types_of_no_ids(ids)
    found = {} if wrong else dict(zip(ids, ranks if values is None else map(_number, values), strict=True))
    if len(found) == len(ids):
        return found
    first: dict[Any, int] = {}
    for at, each in enumerate(ids):
        if type(each) in wrong:
            raise PositionError(at, f"an id must be text or an integer; got {shown(each)}; {advice}")
        if not wrong and first.setdefault(each, at) < at:
            problem = f"document {shown(each)} is in position {first[each]} already; give it once for a query"
            raise PositionError(at, problem)
    return found


class PositionError(ValueError):
    """An error in the document at a position of a query."""

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(f"position {position}: {problem}")


def in_query(place: str, error: ValueError) -> ValueError:
    """Return an error in a query's documents with the place of the query before it."""
    mark = "," if isinstance(error, PositionError) else ":"
    return ValueError(f"{place}{mark} {error}")


def contradiction(query: str, hits: Hits, ascending: bool = False) -> str:
    """Return what a warning says about hits in another order than their scores or ranks; empty if they agree.

    >>> contradiction("q1", Hits(["d2", "d1"], ranks=[2, 1]))[:60]
    'query q1: its hits are in another order than their ranks, an'
    """
    numbers = [value for value in map(_number, hits.ranks or hits.values or ()) if isinstance(value, Real)]
    lowest_first = bool(hits.ranks) or ascending
    if not any(after < before if lowest_first else after > before for before, after in pairwise(numbers)):
        return ""
    if hits.ranks:
        problem = "its hits are in another order than their ranks, and their order counts"
        return f'query {query}: {problem}; if the ranks count, give score_order="ascending"'
    order = "" if ascending else '; if the lowest score is best, give score_order="ascending"'
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


def _field(value: Any, path: FieldPath) -> Any:
    """Return a field of a hit; None if it has none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return None if callable(value) else value


def _path(hit: Any, names: Sequence[str], within: Sequence[str] = WITHIN) -> FieldPath | None:
    """Return the path to the first field that a hit has under one of the names, in the hit or in an object within."""
    if not isinstance(hit, Mapping) and not _is_object(hit):
        return None
    for outer in ((), *((each,) for each in within)):
        inner = _field(hit, outer) if outer else hit
        spelled = (
            {plain_name(name): name for name in inner if isinstance(name, str)} if isinstance(inner, Mapping) else {}
        )
        if inner is None or not (isinstance(inner, Mapping) or _is_object(inner)):
            continue
        for name in names:
            path = (*outer, spelled.get(name, name))
            if (
                (value := _field(hit, path)) is not None
                and not isinstance(value, (list, tuple, Mapping))
                and not _is_object(value)
            ):
                return path
    return None


def _fields(hits: Sequence[Any], path: FieldPath, names: Sequence[str], word: str) -> list[Any]:
    """Return a field of each hit, under the path of the first one or another path."""
    found = [_field(hit, path) for hit in hits]
    for position, value in enumerate(found):
        if value is None:
            other = _path(hits[position], names)
            if other is None:
                raise PositionError(position, f"the hit has no {word} (the first has {'.'.join(path)})")
            found[position] = _field(hits[position], other)
    return found


def _list_in(row: Any, kind: str) -> Any:
    """Return the list of hits in a response, or the hits of lists of ids and of values; None if there is neither."""
    if (ids := _first_list(row, IDS_OF[kind])) is not None:
        values = _first_list(row, VALUES_OF[kind])
        if values is not None and len(values) != len(ids):
            raise ValueError(f"holds {len(ids)} ids and {len(values)} values; give one for each")
        return Hits(ids, values)
    for _ in range(3):
        found = next(
            (each for name in LISTS if isinstance(each := _field(row, (name,)), CONTAINERS) or _is_object(each)), None
        )
        if found is None:
            break
        row = found
        if not isinstance(row, Mapping) and not _is_object(row):
            break
    return row


def _first_list(row: Any, names: Sequence[str]) -> Any:
    """Return the first list of ids or numbers that a response has under one of the names."""
    for name in names:
        each = _field(row, (name,))
        each = each.tolist() if hasattr(each, "tolist") else each
        if isinstance(each, (list, tuple)) and len(each) == 1 and isinstance(each[0], (list, tuple)):
            each = each[0]  # Chroma's answer to one query
        if isinstance(each, (list, tuple)) and not any(isinstance(of, (list, tuple, Mapping)) for of in each[:1]):
            return each
    return None


def _pairs(row: Sequence[Any]) -> Hits | None:
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
    path = _path(one, ID_FIELDS) if isinstance(one, Mapping) or _is_object(one) else None
    if path is None:
        return None
    return Hits(_fields([each for each, _ in row], path, ID_FIELDS, "id"), [score for _, score in row])
