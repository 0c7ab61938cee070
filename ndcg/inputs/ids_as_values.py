"""Refuse what cannot be rankings: a single query, rows of a table, and ids of documents in place of numbers.

Each rule needs what rankings hardly ever have, so that none of them refuses one.
"""

from collections.abc import Mapping
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import InputError, brief, mark, shown, within
from .columns import Column
from .fields import IDS_OF_HITS, VALUES_OF_HITS, Names, is_unknown, spelled
from .hit_reader import own_list
from .hits import query_of
from .ids import id_kind

SINGLE = "for a single query, wrap it in a list"
MANY_DOCUMENTS = 20  # in all queries: so many different numbers are hardly ranks or grades
ARE_SCORES = "if they are scores, give them as floats"


def refuse_other_rows(argument: str, side: Any, are_ids: bool) -> None:
    """Raise an error for a side that has something else in place of the documents of its first query.

    Args:
        argument: the name of the argument.
        side: the predictions or references.
        are_ids: whether the other side has ids, so that three numbers are not scores.

    >>> refuse_other_rows("predictions", {"d2": 0.9, "d1": 0.8}, True)
    Traceback (most recent call last):
    ...
    ValueError: predictions: query 'd2': is the number 0.9, not documents; for a single query, wrap it in a list
    """
    if not isinstance(side, (list, tuple, Mapping)):
        return
    if len(side) == 2 and all(getattr(each, "ndim", 0) == 2 for each in side):
        hint = f"give the scores as predictions and the ids as {mark('document_ids')}"
        raise InputError(f"holds two matrices, as of scores and of ids; {hint}", argument)
    query, row = next(iter(side.items() if isinstance(side, Mapping) else enumerate(side)), (None, None))
    if isinstance(row, (list, tuple)) and row and type(row[0]) is float:  # scores
        return
    place = f"{argument}: query {shown(query)}"
    if isinstance(row, str):
        hint = f"give a list of ids for each query, [{shown(row)}]" if isinstance(side, Mapping) else SINGLE
        hint += "; for the lines of a file, give its path" if any(map(str.isspace, row)) else ""
        raise ValueError(f"{place}: is the text {shown(row)}, not documents; {hint}")
    if isinstance(row, Real) and isinstance(side, Mapping):
        raise ValueError(f"{place}: is the number {shown(row)}, not documents; {SINGLE}")
    try:
        own_list(row, names := Names("run", {}), isinstance(side, Mapping) or query_of(row, names) is not None)
    except InputError as error:
        raise within(error, place) from None
    if isinstance(row, Mapping):
        has_id = any(id_kind(type(row[name])) for name in spelled(row, IDS_OF_HITS["document"]))
        if has_id and len(row) > 1 and spelled(row, chain(*VALUES_OF_HITS.values())):
            raise ValueError(f"{place}: is the hit {shown(row)}; give a list of hits for each query; {SINGLE}")
        if has_id and (ids := [name for name, each in row.items() if isinstance(each, str) and is_unknown(name)]):
            hint = f"if each row is a document, give the name of its query, {mark('fields', {'query': ids[0]})}"
            raise InputError(f"is {shown(row)}, not documents; {hint}; else give a list of hits for each query", place)
        if inner := next((name for name, each in row.items() if _has_objects(each)), None):
            problem = f"holds {shown(inner)} in place of documents, and no list of hits under a known name"
            raise ValueError(f"{place}: {problem}; give the list, or {{document: score}}")
    if isinstance(row, (list, tuple)) and row and isinstance(row[0], Mapping):
        fields = brief(map(shown, row[0]), ", ")
        call = mark("fields", {"document": "..."}, said="fields={'document': ...}")
        problem = f"the hit has no id under a known name, but {fields}; give {call}"
        raise InputError(problem, place, position=0)
    if isinstance(row, (list, tuple)) and len(row) == 3 and all(id_kind(type(each)) for each in row[:2]):
        has_text = any(isinstance(each, str) for each in row[:2])
        if isinstance(row[2], Real) and (has_text or (are_ids and not isinstance(row[2], int))):
            raise InputError(
                f"holds rows such as {shown(row)} in place of the documents of each query; give a table "
                'with names of columns, such as pd.DataFrame(rows, columns=["query_id", "document_id", "score"])',
                argument,
            )


def _has_objects(value: Any) -> bool:
    """Return whether a value is an object or a list of them, and not a number, text or a list of these."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and not isinstance(value[0], (Real, str))
    return isinstance(value, Mapping)


def refuse_pairs_of_ids(ranked: list[Any], relevant: list[Any]) -> None:
    """Raise an error for rows of a user and an item as text, in tuples: each would be a query of two documents."""
    if not all(isinstance(row, tuple) and len(row) == 2 for side in (ranked, relevant) for row in side):
        return
    users, items = ({row[at] for side in (ranked, relevant) for row in side} for at in (0, 1))
    if users.isdisjoint(items) and len({user for user, _ in ranked}) < len(ranked):
        raise _rows_of_pairs()


def refuse_ids_as_values(score: Column, relevance: Column, are_arrays: bool) -> None:
    """Raise an error if both sides, of the same lengths, hold ids or rows of a table in place of values."""
    queries = len(score.offsets) - 1
    if not queries or score.present is not None or relevance.present is not None:
        return
    lengths = score.offsets[1:] - score.offsets[:-1]
    if are_arrays and queries > 1 and (lengths == 1).all():
        hint = f"give {mark('query_ids')}, the query of each row, or, if these are ids, references as sets"
        raise InputError(f"predictions and references hold one document for each of {queries} queries; {hint}")
    if queries > 1 and (lengths == 3).all():
        _refuse_triples(*(side.values.reshape(-1, 3) for side in (score, relevance)))
    if queries > 4 and (lengths == 2).all():
        _refuse_pairs(*(side.values.reshape(-1, 2) for side in (score, relevance)))
    _refuse_ids(score, relevance, lengths)


def _refuse_triples(rows: NDArray[np.float64], others: NDArray[np.float64]) -> None:
    """Raise an error for rows of a user, an item and a value: each would be a query of three documents.

    Users and items are whole numbers, another pair in each row. Either the rows of both sides have the same pairs, as
    scores and relevances may have in a few queries of small numbers, hardly in five queries or with a 10; or
    both sides have the same users, some of them repeatedly, and only the third scores have fractions.
    """
    pairs, other_pairs = rows[:, :2].astype(np.float64), others[:, :2].astype(np.float64)
    if (len(pairs) < 5 and (pairs < 10).all()) or not _are_distinct(pairs):
        return
    if (pairs != other_pairs).any():
        users, other_users = np.unique(pairs[:, 0]), np.unique(other_pairs[:, 0])
        have_same_users = len(users) < len(pairs) and np.array_equal(users, other_users)
        have_fractions = np.mean(rows[:, 2] != np.trunc(rows[:, 2])) > 0.5
        if not have_same_users or not have_fractions or not _are_distinct(other_pairs):
            return
    elif (rows == others).all():
        return
    raise _rows_of_triples(*(f"({user:.0f}, {item:.0f}, {value:g})" for user, item, value in (rows[0], others[0])))


def _rows_of_triples(*examples: str) -> ValueError:
    """Return the error for rows of a user, an item and a value."""
    return ValueError(
        f"both sides hold rows of a user, an item and a value, such as {' and '.join(examples)}, and each would be "
        "a query of three documents; give tables with names of columns, such as "
        'predictions=pd.DataFrame(rows, columns=["user_id", "item_id", "score"])'
    )


def _refuse_pairs(rows: NDArray[np.float64], others: NDArray[np.float64]) -> None:
    """Raise an error for rows of a user and an item: each would be a query of two documents."""
    if not _are_whole(rows, others) or (others == 0).any() or others.max() < 10:
        return
    users, other_users = np.unique(rows[:, 0]), np.unique(others[:, 0])
    if len(users) == len(rows) or not np.array_equal(users, other_users):
        return
    if _are_distinct(rows) and _are_distinct(others):
        raise _rows_of_pairs()


def refuse_typed_triples(predictions: Any, references: Any) -> None:
    """Raise an error for rows of two integers and a fraction, beside rows of integers: a user, an item and a value.

    >>> refuse_typed_triples([(1, 10, 1.5)], [(1, 11, 1)])
    Traceback (most recent call last):
    ...
    ValueError: both sides hold rows of a user, an item and a value, such as (1, 10, 1.5) and (1, 11, 1), and each \
would be a query of three documents; give tables with names of columns, such as \
predictions=pd.DataFrame(rows, columns=["user_id", "item_id", "score"])
    """
    if not all(
        isinstance(side, (list, tuple)) and side and _types(side[0])[:2] == (int, int)
        for side in (predictions, references)
    ):
        return
    kinds = [set(map(_types, side)) for side in (predictions, references)]
    are_triples = kinds[0] == {(int, int, float)} and kinds[1] <= {(int, int, int), (int, int, float)}
    have_same_users = are_triples and {row[0] for row in predictions} == {row[0] for row in references}
    if have_same_users and predictions[0][2] % 1:
        raise _rows_of_triples(*(shown(tuple(side[0])) for side in (predictions, references)))


def _types(row: Any) -> tuple[type, ...]:
    """Return the types of three values in a tuple, as rows of a database are; nothing for other rows."""
    return tuple(map(type, row)) if isinstance(row, tuple) and len(row) == 3 else ()


def _rows_of_pairs() -> ValueError:
    """Return the error for rows of a user and an item."""
    return ValueError(
        "both sides hold rows of a user and an item, and each would be a query of two documents; give "
        "{user: [items]}, best first, as predictions and {user: {items}} as references"
    )


def _refuse_ids(score: Column, relevance: Column, lengths: NDArray[np.int64]) -> None:
    """Raise an error for ids on both sides: whole numbers, none twice in a query.

    In 20 documents or more, the highest of each side is above the length of the longest query, which ranks and grades
    are not. In fewer, each query has at least three documents, and there is no 0. The id -1 is no document.
    """
    if not _are_whole(score.values, relevance.values):
        return
    are_many = len(score.values) >= MANY_DOCUMENTS
    if are_many and min(score.values.max(), relevance.values.max()) <= lengths.max():
        return
    if not are_many and ((lengths < 3).any() or (score.values == 0).any() or (relevance.values == 0).any()):
        return
    query = np.repeat(np.arange(len(lengths)), lengths)
    sides = (np.stack([query, side.values.astype(np.int64)], axis=1)[side.values != -1] for side in (score, relevance))
    if all(map(_are_distinct, sides)):
        examples = (side.values[: lengths[0]].tolist() for side in (score, relevance))
        of_both, relevant = (", ".join(map(str, each[:5])) + ", ..." * (len(each) > 5) for each in examples)
        raise ValueError(
            "predictions and references hold other whole numbers in each place of a query, as ids are, such as "
            f"[{of_both}] and [{relevant}]; give the ids of relevant documents as sets, "
            f"references=[{{{relevant}}}, ...]; {ARE_SCORES}"
        )


def _are_whole(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Return whether both sides were given as integers."""
    return one.dtype.kind in "iu" and other.dtype.kind in "iu"


def _are_distinct(rows: NDArray[np.float64]) -> bool:
    """Return whether rows are whole numbers, another row each."""
    return bool((rows == np.trunc(rows)).all()) and len(np.unique(rows, axis=0)) == len(rows)
