"""What only both sides together tell: which queries are the same, and whether their ids fit."""

import ast
import re
from collections.abc import Set
from dataclasses import replace
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..measure.messages import InputError, mark, shown
from .beside_ids import with_ids_of_letor, with_ids_on_both
from .columns import check_queries_equal
from .documents import ById, has_ids, ids_of_queries
from .fields import Names
from .hashes import Columns
from .ids import read_ids

# an id in brackets, among ids after each of which "\0" stands
IN_BRACKETS = re.compile(r"\0(\s*[\[({][^\0]*[\])}]\s*)(?=\0)")
SIGNS_OF_LISTS = b"[({ \t\n,;|"  # the brackets of a list written as text, and between ids
PART_OF_CELL = re.compile(r"[^\s,;|]+")
FIRST_IDS = 1 << 8  # which may be lists written as text


def together(inputs: Any, names: Names) -> Any:
    """Return inputs of which both sides have ids, or none has.

    Args:
        inputs: both sides as they were read, and the ids beside them.
        names: the names of the run.
    """
    qrels = inputs.references
    run = with_ids_of_letor(inputs.predictions, qrels, inputs.query_ids)
    inputs = with_ids_on_both(inputs._replace(predictions=run), names)
    run, qrels = inputs.predictions, inputs.references
    if not has_ids(run) or not has_ids(qrels):
        return inputs
    if inputs.query_ids is not None and {run.positions, qrels.positions} != {None}:
        run, qrels = (_named(side, inputs.query_ids) for side in (run, qrels))
        inputs = inputs._replace(query_ids=None)
    # Lists number their queries with integers, and files with text.
    if ById in (type(run), type(qrels)):
        run, qrels = _with_integers(run), _with_integers(qrels)
    _refuse_one_by_position(run, qrels)
    refuse_lists_in_ids("predictions", run, qrels)
    refuse_lists_in_ids("references", qrels, run)
    return inputs._replace(predictions=run, references=qrels)


# The ids of queries


def _named(side: ById | Columns, query_ids: Any) -> ById | Columns:
    """Return queries by position with the ids that `query_ids` has in their order."""
    if side.positions is None:
        return side
    ids = ids_of_queries(query_ids, side.positions)
    fields = {"query": "query_ids", **side.fields}
    if isinstance(side, ById):
        queries = dict(zip(ids, side.queries.values(), strict=True))
        return replace(side, queries=queries, by_position=False, fields=fields)
    columns: Columns = _with_integers(side)
    return columns._replace(
        query_ids=read_ids("query_ids", ids).distinct, positions=None, fields=fields
    )


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
    if run.first_query is None:
        return  # a run without queries, such as that of IDCG
    if (ranked is None) != (judged is None):
        argument = "references" if ranked is None else "predictions"
        problem = "the queries have no ids, but those of the other side have"
        ids_in_order = mark("query_ids", after=", the query of each list, or ")
        raise InputError(f"{problem}; give {ids_in_order}{{query: ...}}", argument)
    check_queries_equal(ranked, judged)


# Ids that hold several


def refuse_lists_in_ids(argument: str, side: ById | Columns, other: ById | Columns) -> None:
    """Raise an error for ids that are lists written as text, or several ids in one cell."""
    # One look at the text of all rows is faster than one at every id.
    if isinstance(side, Columns) and not _hold_any(side.document, SIGNS_OF_LISTS):
        return
    ids = side.first_ids(FIRST_IDS)
    # One search in all ids is faster than one in every id.
    for document in IN_BRACKETS.findall("\0".join(["", *map(str, ids), ""])):
        if _is_written_list(document):
            problem = f"the id {shown(document)} is a list written as text"
            hint = "give lists, as json.loads or ast.literal_eval reads them"
            raise InputError(f"{problem}; {hint}", argument)
    if isinstance(side, Columns):
        _refuse_several_in_cells(argument, side, other)


def _hold_any(ids: pa.ChunkedArray, characters: bytes) -> bool:
    """Return whether any id holds one of some characters, faster than Arrow's search."""
    if not pa.types.is_string(ids.type):
        return False
    texts = [bytes(chunk.buffers()[2] or b"") for chunk in ids.chunks]
    return any(text != text.translate(None, characters) for text in texts)


def _is_written_list(document: str) -> bool:
    """Return whether text is a list, a tuple, a set or a mapping in Python's notation or JSON's.

    >>> _is_written_list("['a', 'b']"), _is_written_list("(1967) [draft]")
    (True, False)
    """
    try:
        return isinstance(ast.literal_eval(document.strip()), (list, tuple, set, dict))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _refuse_several_in_cells(argument: str, side: Columns, other: ById | Columns) -> None:
    """Raise an error for a cell that holds several ids, of which one is an id of the other side.

    The others are ids of the other side too, or hold digits: the titles "Paris" and "Paris, Texas"
    are two ids. Without an id in common, the cells of the other side may hold several, too.
    """
    has_parts = pc.match_substring_regex(side.document, r"[^\s,;|][\s,;|]+[^\s,;|]")
    several = side.document.filter(has_parts)
    if not len(several):
        return
    # Only now, since few sides hold such ids, and the other may have millions.
    known = set(map(str, other.ids()))
    if known.isdisjoint(side.document.to_pylist()):
        # Parts that are words alone would be those of titles.
        known |= _with_digits(set(chain.from_iterable(map(PART_OF_CELL.findall, known))))
    for document in dict.fromkeys(several.to_pylist()):
        parts = set(PART_OF_CELL.findall(document))
        unknown = parts - known
        if document in known or unknown == parts:
            continue
        if unknown == _with_digits(unknown):
            problem = f"the id {shown(document)} holds several ids"
            known_part = f"{shown(min(parts & known))} is one of the other side"
            hint = "give a list of ids in each cell, or a row for each document"
            raise InputError(f"{problem}, of which {known_part}; {hint}", argument)


def _with_digits(parts: Set[str]) -> set[str]:
    """Return the parts of ids that hold a digit."""
    return {part for part in parts if any(map(str.isdigit, part))}
