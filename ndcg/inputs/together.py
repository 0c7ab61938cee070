"""What only both sides together tell: which queries are the same, and whether their ids fit."""

import ast
import re
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..measure.messages import InputError, mark, shown
from .beside_ids import with_ids_of_letor, with_ids_on_both
from .columns import check_queries_equal
from .documents import ById, has_ids, ids_of_queries
from .fields import Names
from .hashes import Columns
from .ids import id_kind
from .joins import another_kind

WRITTEN_LIST = re.compile(r"\s*[\[({].*[\])}]\s*", re.DOTALL)
SEPARATOR = re.compile(r"\s*[,;|]\s*|\s+")
FIRST_IDS = 1 << 8  # which may be lists written as text


def together(inputs: Any, names: Names) -> Any:
    """Return inputs of which both sides have ids, or none has.

    Args:
        inputs: both sides as they were read, and the ids beside them.
        names: the names of the run.
    """
    qrels = inputs.references
    run = with_ids_of_letor(inputs.predictions, qrels, inputs.query_ids)
    inputs = inputs._replace(predictions=run)
    if not has_ids(run) or not has_ids(qrels):
        inputs = with_ids_on_both(inputs, names)
    if inputs.query_ids is not None:
        inputs = _with_query_ids(inputs)
    run, qrels = inputs.predictions, inputs.references
    if not has_ids(run) or not has_ids(qrels):
        return inputs
    # Lists number their queries with integers, and files with text.
    if isinstance(qrels, ById):
        run = _with_integers(run)
    if isinstance(run, ById):
        qrels = _with_integers(qrels)
    _refuse_one_by_position(run, qrels)
    refuse_lists_in_ids("predictions", run, qrels)
    refuse_lists_in_ids("references", qrels, run)
    return inputs._replace(predictions=run, references=qrels)


# The ids of queries


def _with_query_ids(inputs: Any) -> Any:
    """Return queries by position with the ids that `query_ids` has for them."""
    sides = {"predictions": inputs.predictions, "references": inputs.references}
    if not all(has_ids(side) for side in sides.values()):
        return inputs
    unnamed = [name for name, side in sides.items() if side.positions is not None]
    if not unnamed:
        return inputs
    for name in unnamed:
        ids = ids_of_queries(inputs.query_ids, sides[name].positions)
        sides[name] = _named(sides[name], ids)
    return inputs._replace(**sides, query_ids=None)


def _named(side: ById | Columns, ids: list[Any]) -> ById | Columns:
    """Return queries by position with ids that are given in their order."""
    fields = {"query": "query_ids", **side.fields}
    if isinstance(side, ById):
        queries = dict(zip(ids, side.queries.values(), strict=True))
        return replace(side, queries=queries, by_position=False, fields=fields)
    columns: Columns = _with_integers(side)
    return columns._replace(query_ids=pa.array(ids), positions=None, fields=fields)


def _with_integers(side: Any) -> Any:
    """Return a file whose queries have no ids with integers for them, as lists have.

    Queries with an empty list, which have no row, are among them.
    """
    if isinstance(side, Columns) and side.positions is not None:
        numbers = side.query_ids.cast(pa.int64()).to_numpy()
        query_ids = pa.array(range(side.positions))
        return side._replace(query=numbers[side.query], query_ids=query_ids)
    return side


def _refuse_one_by_position(run: ById | Columns, qrels: ById | Columns) -> None:
    """Raise an error if one side names its queries and the other does not, or has more queries."""
    ranked, judged = run.positions, qrels.positions
    if isinstance(run, ById) and not run.queries:
        return  # a run without queries, such as that of IDCG
    if ranked is not None and judged is not None:
        check_queries_equal(ranked, judged)
        return
    if ranked == judged:  # both have ids
        return
    argument = "references" if ranked is None else "predictions"
    problem = "the queries have no ids, which those of the other side have"
    ids_in_order = mark("query_ids", after=", the query of each list, or ")
    words = f"{problem}; give {ids_in_order}{{query: ...}}"
    ids = (run.first_id, qrels.first_id)
    if None not in ids and len({id_kind(type(document)) for document in ids}) > 1:
        words += f"; {another_kind(('document', *ids)).problem}"  # which would be the next error
    raise InputError(words, argument)


# Ids that hold several


def refuse_lists_in_ids(argument: str, side: ById | Columns, other: ById | Columns) -> None:
    """Raise an error for ids that are lists written as text, or several ids in one cell."""
    if isinstance(side, Columns):
        ids = side.document[:FIRST_IDS].to_pylist()
    else:
        ids = list(islice(side.ids(), FIRST_IDS))
    text = "".join(document for document in ids if isinstance(document, str))
    # One search in all text is faster than one in every id.
    if any(bracket in text for bracket in "[({"):
        for document in ids:
            if _is_written_list(str(document)):
                problem = f"the id {shown(document)} is a list written as text"
                hint = "give lists, as json.loads or ast.literal_eval reads them"
                raise InputError(f"{problem}; {hint}", argument)
    if isinstance(side, Columns) and _hold_any(side.document, b" \t\n,;|"):
        _refuse_several_in_cells(argument, side, other)


def _hold_any(ids: pa.ChunkedArray, characters: bytes) -> bool:
    """Return whether any id holds one of some characters, faster than Arrow's search."""
    if not pa.types.is_string(ids.type):
        return False
    for chunk in ids.chunks:
        text = bytes(chunk.buffers()[2] or b"")
        if any(character in text for character in characters):
            return True
    return False


def _is_written_list(document: str) -> bool:
    """Return whether text is a list, a tuple, a set or a mapping in Python's notation or JSON's.

    >>> _is_written_list("['a', 'b']"), _is_written_list("(1967) [draft]")
    (True, False)
    """
    if not WRITTEN_LIST.fullmatch(document):
        return False
    try:
        return isinstance(ast.literal_eval(document.strip()), (list, tuple, set, dict))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _refuse_several_in_cells(argument: str, side: Columns, other: ById | Columns) -> None:
    """Raise an error for a cell that holds several ids, of which one is an id of the other side.

    The others are ids of the other side too, or hold digits: the titles "Paris" and "Paris, Texas"
    are two ids.
    """
    has_parts = pc.match_substring_regex(side.document, r"[^\s,;|][\s,;|]+[^\s,;|]")
    several = side.document.filter(has_parts)
    if not len(several):
        return
    # Only now, since few sides hold such ids, and the other may have millions.
    known = set(map(str, other.ids()))
    for document in dict.fromkeys(several.to_pylist()):
        parts = [part for part in SEPARATOR.split(document) if part]
        known_parts = [part for part in parts if part in known]
        if document in known or not known_parts:
            continue
        if all(part in known or any(map(str.isdigit, part)) for part in parts):
            problem = f"the id {shown(document)} holds several ids"
            known_part = f"{shown(known_parts[0])} is one of the other side"
            hint = "give a list of ids in each cell, or a row for each document"
            raise InputError(f"{problem}, of which {known_part}; {hint}", argument)
