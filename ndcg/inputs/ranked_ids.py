"""Convert ranked ids to mappings: lists of document ids, best first, and the ids of relevant documents.

Both are lists in the order of the queries, or mappings by the queries' ids. Text is always an id. Integers can be ids,
scores or relevances. They are ids if the other argument has a set or a mapping for a query, which scores and relevances
never are.
"""

from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.labels import to_label
from ..measure.messages import InputError, mark, shown, within
from .hits import by_id
from .ids import check_ids, id_kind, types_of_no_ids
from .ids_as_values import refuse_pairs_of_ids
from .sources import ARROW, plain

IdMapping = Mapping[Any, Mapping[Any, Any]]
TABLE = "for the columns of a table also give data=, or query_ids and document_ids"
WITH_IDS = "if one argument has text, sets or mappings, both must be ids: predictions best first, or {id: score}"
KINDS = {"text": "text", "integers": "integers"}  # kinds of ids in lists


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
    kinds_of_ids = kind_of_ids(predictions), kind_of_ids(references)
    kinds = set(kinds_of_ids)
    if kinds == {"text", "integers"} and not any(isinstance(row, str) for row in chain(predictions, references)):
        hint = "give ids as all text or all integers, scores and relevances as numbers"
        if kinds_of_ids[1] == "text":
            hint += f"; {to_label(chain.from_iterable(row for row in references if row is not None))}"
        raise InputError(f"{mark('predictions')} hold {kinds_of_ids[0]} and references {kinds_of_ids[1]}; {hint}")
    if "other" in kinds or ("mapping" not in kinds and kinds - {None} != {"text"}):
        return None
    ranked, relevant = _ranked_rows(predictions), _ranked_rows(references)
    refuse_pairs_of_ids(ranked, relevant)
    check_queries_equal(len(ranked), len(relevant))
    sides = (
        {query: _by_id("predictions", query, row, score_order, keep) for query, row in enumerate(ranked)},
        {query: _by_id("references", query, row, score_order) for query, row in enumerate(relevant)},
    )
    types = set(map(type, chain.from_iterable(chain.from_iterable(side.values() for side in sides))))
    if len(set(map(id_kind, types))) > 1:
        raise _mixed_types(dict(zip(("predictions", "references"), sides, strict=True)))
    return sides


def with_ids_by_query(
    predictions: Any, references: Any, score_order: str = "descending", keep: str | None = None
) -> tuple[Any, Any]:
    """Return both sides, with ``{query: {document: value}}`` for mappings of queries to ids; others unchanged.

    The ids are as in `by_ranked_ids`; a list of integers in a mapping holds ids, as in a file.

    >>> with_ids_by_query({"u1": ["d7", "d9"]}, {"u1": {"d7"}})
    ({'u1': {'d7': -1, 'd9': -2}}, {'u1': {'d7': 1}})
    """
    sides = {"predictions": predictions, "references": references}
    listed = {
        argument: {query: _plain_row(argument, row) for query, row in side.items() if not isinstance(row, Mapping)}
        for argument, side in sides.items()
        if isinstance(side, Mapping) and not set(map(type, side.values())) <= {dict}
    }
    for argument, rows in listed.items():
        check_ids(argument, sides[argument], nested=False)
        try:
            sides_by_query = {query: _by_id(argument, query, row, score_order, keep) for query, row in rows.items()}
            if len({id_kind(type(document)) for documents in sides_by_query.values() for document in documents}) > 1:
                raise _mixed_types({argument: sides_by_query})
        except ValueError as error:
            raise ValueError(f"{error}; {TABLE}") from None
        sides[argument] = {query: sides_by_query.get(query, row) for query, row in sides[argument].items()}
    return sides["predictions"], sides["references"]


def _plain_row(argument: str, row: Any) -> Any:
    """Return the ids of a query as a list if they are in an array or a column."""
    row = row if isinstance(row, (list, tuple, Set, str, bytes)) else plain(argument, row)
    return row.to_pylist() if isinstance(row, ARROW) else row.tolist() if isinstance(row, np.ndarray) else row


def check_queries_equal(predicted: int, referred: int) -> None:
    """Raise an error if predictions and references have different numbers of queries."""
    if predicted != referred:
        raise InputError(
            f"{mark('predictions')} hold {predicted} queries and references {referred}; give both for every query"
        )


def _mixed_types(sides: Mapping[str, IdMapping]) -> ValueError:
    """Return the error for ids of several kinds, in arguments by their names."""
    examples: dict[str, str] = {}
    for argument, side in sides.items():
        for query, documents in side.items():
            for document in documents:
                examples.setdefault(id_kind(type(document)), f"{shown(document)} in {argument}, query {shown(query)}")
    places = ", and ".join(place for _, place in sorted(examples.items(), reverse=True))
    return ValueError(f"ids must be all text or all integers; got {places}")


def kind_of_ids(side: Any) -> str | None:
    """Return what the first nonempty query contains: "mapping" (or a set), "text", "integers" or "numbers".

    None if all queries are empty; "other" if it is not a list.
    """
    if isinstance(side, (pa.Array, pa.ChunkedArray)):
        kind = side.type
        while pa.types.is_nested(kind) and kind.num_fields == 1:
            kind = kind.field(0).type
        return None if pa.types.is_null(kind) else KINDS.get(id_kind(kind), "numbers")
    if isinstance(side, np.ndarray) and side.dtype.kind != "O":
        return {"U": "text", "T": "text", "i": "integers", "u": "integers"}.get(side.dtype.kind, "numbers")
    if not isinstance(side, (list, tuple, np.ndarray)):
        return "other"
    for row in side:
        if isinstance(row, (list, tuple, np.ndarray)):
            if len(row):
                return KINDS.get(id_kind(type(row[0])), "numbers")
        elif isinstance(row, (Set, Mapping)):
            return "mapping"
        elif row is not None:
            return "text" if isinstance(row, str) else "numbers"
    return None


def _ranked_rows(side: Any) -> list[Any]:
    """Return the rows of an argument as lists, sets and mappings."""
    if isinstance(side, (pa.Array, pa.ChunkedArray)):
        return list(side.to_pylist())
    rows = side.tolist() if isinstance(side, np.ndarray) else side
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]


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
