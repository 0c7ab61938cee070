"""What a side holds, told once from its first documents, before both sides are put together."""

from collections.abc import Mapping, Set
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .hashes import Columns
from .ids import id_kind
from .sources import ARROW, is_sparse

LOOKED_AT = 9  # documents of as many queries that tell scores from ids and grades
OF_NUMBERS = ("scores", "integers", "numbers")
NESTED = (*OF_NUMBERS, "text", "sets")  # the kinds of lists with a row for each query
BY_ID = ("mapping", "columns")  # the kinds of sides that name their queries


class Indices(NamedTuple):
    """Hits of rerankers, by query, whose ids are positions in the lists of the references."""

    rows: Any


def kind_of(side: Any) -> str:
    """Return what one side holds.

    | kind | a side |
    |---|---|
    | `mapping`, `columns` | by the ids of its queries: a mapping, or the rows of a table or a file |
    | `positions`, `rows` | a file without ids of queries, or the rows of LETOR and their scores |
    | `indices` | what a reranker returns: positions of candidates |
    | `sparse` | a sparse matrix |
    | `text`, `sets` | a list for each query, of ids as text, or sets and mappings of ids |
    | `scores`, `integers`, `numbers` | a list for each query, with fractions, of integers, or of other numbers |
    | `flat` | a value for each row |
    | `empty`, `nothing`, `other` | no document at all, None, and anything else |

    >>> kind_of([["d3", "d1"]]), kind_of([[], [7, 1]]), kind_of([[1, 0.5]]), kind_of([{"d1"}]), kind_of([0.5])
    ('text', 'integers', 'scores', 'sets', 'flat')
    """
    if side is None:
        return "nothing"
    if isinstance(side, Columns):
        return "rows" if side.are_rows else "columns" if side.positions is None else "positions"
    if isinstance(side, Indices):
        return "indices"
    if isinstance(side, Mapping):
        return "mapping"
    if is_sparse(side):
        return "sparse"
    if isinstance(side, ARROW):
        return _kind_of_column(side.type)
    if isinstance(side, np.ndarray) and side.dtype.kind != "O":
        kinds = {"U": "text", "T": "text", "i": "integers", "u": "integers", "f": "scores"}
        return kinds.get(side.dtype.kind, "numbers") if side.ndim > 1 else "flat"
    return _kind_of_rows(side) if isinstance(side, (list, tuple, np.ndarray)) else "other"


def rows_of(side: Any) -> Any:
    """Return an array or a column as a list; other values unchanged."""
    return side.tolist() if isinstance(side, np.ndarray) else side.to_pylist() if isinstance(side, ARROW) else side


def _kind_of_column(kind: pa.DataType) -> str:
    """Return what a column of Arrow holds."""
    if not pa.types.is_nested(kind):
        return "flat"
    while pa.types.is_nested(kind) and kind.num_fields == 1:
        kind = kind.field(0).type
    if pa.types.is_null(kind):
        return "empty"
    return "scores" if pa.types.is_floating(kind) else _kind_of_documents(id_kind(kind))


def _kind_of_rows(rows: Any) -> str:
    """Return what a list of queries holds: of documents, the first nonempty query tells."""
    for row in rows:
        if isinstance(row, (Set, Mapping)):
            return "sets"
        if row is not None and (not isinstance(row, (list, tuple, np.ndarray)) or getattr(row, "ndim", 1) == 0):
            return "flat"
        if row is not None and len(row):
            found = _kind_of_documents(id_kind(type(row[0])))
            return "scores" if found != "text" and _have_fractions(rows) else found
    return "empty"


def _kind_of_documents(kind: str) -> str:
    """Return the kind of lists whose documents are given as values of this kind of ids."""
    return kind if kind in ("text", "integers") else "numbers"


def _have_fractions(rows: Any) -> bool:
    """Return whether one of the first documents is given as a float."""
    return any(
        isinstance(row, (list, tuple, np.ndarray)) and any(isinstance(each, (float, np.floating)) for each in row[:9])
        for row in islice(rows, LOOKED_AT)
    )
