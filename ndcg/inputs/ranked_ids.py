"""Convert ranked ids to mappings: lists of document ids, best first, and the ids of relevant documents.

Both are lists in the order of the queries, or mappings by the queries' ids. Text is always an id. Integers can be ids,
scores or relevances. They are ids if the other argument has a set or a mapping for a query, which scores and relevances
never are.
"""

from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import Any

from ..measure.labels import to_label
from ..measure.messages import InputError, mark, marked, shown, within
from .hits import by_id
from .ids import check_ids, id_kind, types_of_no_ids
from .ids_as_values import refuse_pairs_of_ids
from .kinds import NESTED, kind_of, rows_of
from .sources import plain

IdMapping = Mapping[Any, Mapping[Any, Any]]
TABLE = mark("data", said="for the columns of a table also give data=, or query_ids and document_ids", before="; ")
WITH_IDS = "if one argument has text, sets or mappings, both must be ids: predictions best first, or {id: score}"
ALONE = {"text", "empty"}  # kinds that are ids on both sides, without sets or mappings


def by_ranked_ids(
    predictions: Any, references: Any, score_order: str = "descending", keep: str | None = None
) -> tuple[IdMapping, IdMapping] | None:
    """Return ``{query: {document: value}}`` for ranked ids and the ids of relevant documents; None for other formats.

    Predictions are the ids of each query's documents, best first, or a mapping of them to their scores; references a
    list or a set of the ids of its relevant documents, or a mapping of them to their relevances. Queries are numbered.
    Scores fall by one from rank to rank, or rise in ascending order; a listed document has the relevance 1.

    >>> by_ranked_ids([["d3", "d1"]], [["d1"]])
    ({0: {'d3': -1, 'd1': -2}}, {0: {'d1': 1}})
    >>> by_ranked_ids([[7, 1]], [{1: 3}])
    ({0: {7: -1, 1: -2}}, {0: {1: 3}})
    >>> by_ranked_ids([[7, 1]], [[0, 3]]) is None  # scores and relevances
    True
    """
    kinds = kind_of(predictions), kind_of(references)
    if set(kinds) == {"text", "integers"}:
        hint = "give ids as all text or all integers, scores and relevances as numbers"
        if kinds[1] == "text":
            hint += f"; {to_label(chain.from_iterable(row for row in references if row is not None))}"
        raise InputError(f"{mark('predictions')} hold {kinds[0]} and references {kinds[1]}; {hint}")
    are_lists = set(kinds) <= {*NESTED, "flat", "empty"}
    if not are_lists or not ("sets" in kinds or "text" in kinds) or not ("sets" in kinds or set(kinds) <= ALONE):
        return None
    ranked, relevant = ([_plain_row(row) for row in rows_of(side)] for side in (predictions, references))
    refuse_pairs_of_ids(ranked, relevant)
    check_queries_equal(len(ranked), len(relevant))
    sides = {"predictions": dict(enumerate(ranked)), "references": dict(enumerate(relevant))}
    found = _of_one_kind(sides, score_order, keep)
    return found["predictions"], found["references"]


def with_ids_by_query(
    predictions: Any, references: Any, score_order: str = "descending", keep: str | None = None
) -> tuple[Any, Any]:
    """Return both sides, with ``{query: {document: value}}`` for mappings of queries to ids; others unchanged.

    The ids are as in `by_ranked_ids`; a list of integers in a mapping holds ids, as in a file.

    >>> with_ids_by_query({"u1": ["d7", "d9"]}, {"u1": {"d7"}})
    ({'u1': {'d7': -1, 'd9': -2}}, {'u1': {'d7': 1}})
    """
    sides = {"predictions": predictions, "references": references}
    for argument, side in sides.items():
        if not isinstance(side, Mapping) or set(map(type, side.values())) <= {dict}:
            continue
        check_ids(argument, side, nested=False)
        listed = {query: _plain_row(row, argument) for query, row in side.items() if not isinstance(row, Mapping)}
        try:
            sides[argument] = {**side, **_of_one_kind({argument: listed}, score_order, keep)[argument]}
        except ValueError as error:
            raise InputError(f"{marked(error)}{TABLE}") from None
    return sides["predictions"], sides["references"]


def _plain_row(row: Any, argument: str = "") -> Any:
    """Return the ids of a query as a list if they are in an array or a column."""
    row = row if isinstance(row, (list, tuple, Set, str, bytes, Mapping)) or not argument else plain(argument, row)
    return rows_of(row)


def check_queries_equal(predicted: int, referred: int) -> None:
    """Raise an error if predictions and references have different numbers of queries."""
    if predicted != referred:
        raise InputError(
            f"{mark('predictions')} hold {predicted} queries and references {referred}; give both for every query"
        )


def _of_one_kind(
    sides: Mapping[str, Mapping[Any, Any]], score_order: str, keep: str | None
) -> dict[str, dict[Any, Mapping[Any, Any]]]:
    """Return the values of the documents of each query by their ids, which must all be of one kind."""
    found = {
        argument: {query: _by_id(argument, query, row, score_order, keep) for query, row in side.items()}
        for argument, side in sides.items()
    }
    types = set(map(type, chain.from_iterable(chain.from_iterable(side.values() for side in found.values()))))
    if len(set(map(id_kind, types))) > 1:
        examples: dict[str, str] = {}
        for argument, side in found.items():
            for query, documents in side.items():
                for document in documents:
                    place = f"{shown(document)} in {argument}, query {shown(query)}"
                    examples.setdefault(id_kind(type(document)), place)
        places = ", and ".join(place for _, place in sorted(examples.items(), reverse=True))
        raise ValueError(f"ids must be all text or all integers; got {places}")
    return found


def _by_id(argument: str, query: Any, row: Any, score_order: str, keep: str | None = None) -> Mapping[Any, Any]:
    """Return a query's documents with their values, from a mapping or by position."""
    kind = "run" if argument == "predictions" else "qrels"
    if row is None:
        raise InputError(f"query {shown(query)} is None; give [] if there is no document", argument)
    try:
        if not isinstance(row, (list, tuple, Set, Mapping)):
            raise ValueError(f"must be a list of ids, a set or a mapping; got {shown(row)}")
        if isinstance(row, Set) and kind == "run" and not types_of_no_ids(row):
            raise ValueError("a set has no order; give a list of ids, best first")
        if kind == "run" and isinstance(row, (list, tuple)) and row and row[-1] == -1:
            row = row[: len(row) - _fill(row)]
        found = by_id(row, None, kind, score_order == "ascending", WITH_IDS, keep if kind == "run" else None)
        return row if isinstance(row, Mapping) else found
    except ValueError as error:
        raise within(error, argument, f"query {shown(query)}") from None


def _fill(row: Sequence[Any]) -> int:
    """Return how many ids at the end are -1, with which FAISS fills up what it does not find."""
    return next((at for at, each in enumerate(reversed(row)) if each != -1), len(row))
