"""Refuse what looks like rankings and is something else: rows of a table, ids, ranks as scores."""

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import InputError, mark, shown, warn
from .columns import Column, as_number
from .fields import Names
from .ids import id_kind

FEWEST_OF_QUERY = 3  # documents whose order tells something
HIGHEST_GRADE = 10
MANY_DOCUMENTS = 20  # in all queries: so many different numbers are hardly ranks or grades


def refuse_no_rankings(score: Column, relevance: Column) -> None:
    """Raise an error if both sides, lists of the same lengths, hold ids or rows of a table."""
    # Rows of a table, and lists of ids, have a value in each place.
    if score.present is not None or relevance.present is not None:
        return
    lengths = score.offsets[1:] - score.offsets[:-1]  # much faster than np.diff
    if len(lengths) > 1 and lengths[0] in (2, 3) and (lengths == lengths[0]).all():
        sides = (score.values, relevance.values)
        _refuse_rows(*(values.reshape(len(lengths), -1) for values in sides))
    refuse_ids(("predictions", "references"), (score.values, relevance.values), lengths)


def warn_of_one_document(score: Column) -> None:
    """Warn of queries of one document, which may be the documents of one query."""
    queries = len(score.offsets) - 1
    if queries < 2 or (score.offsets != np.arange(queries + 1)).any():
        return
    problem = f"{queries} queries have one document each, so no order matters"
    hint = (
        f"if these are documents of one query, wrap them in a list, else give {mark('query_ids')}"
    )
    warn(f"{mark('predictions')}: {problem}; {hint}")


def _refuse_rows(rows: NDArray[Any], others: NDArray[Any]) -> None:
    """Raise an error for rows of a user, an item and perhaps a value: each would be a query.

    Users and items are whole numbers, another pair in each row. Either the rows of both sides have
    the same pairs, as scores and relevances may have in a few queries of small numbers, hardly in
    five queries or with a 10; or both sides have the same users, some of them repeatedly, and only
    the third scores have fractions, or some items of both sides are above all grades.
    """
    pairs, other_pairs = rows[:, :2].astype(np.float64), others[:, :2].astype(np.float64)
    if not _are_distinct(pairs) or (rows == others).all():
        return
    if len(pairs) < 5 and (pairs < HIGHEST_GRADE).all():
        return
    if (pairs == other_pairs).all():
        raise _rows_of_a_table(rows[0], others[0])
    if not _have_same_users(pairs, other_pairs):
        return
    if min(pairs[:, 1].max(), other_pairs[:, 1].max()) > HIGHEST_GRADE:
        raise _rows_of_a_table(rows[0], others[0])
    values = rows[:, 2:]
    if values.size and np.mean(values != np.trunc(values)) > 0.5:  # mostly fractions
        raise _rows_of_a_table(rows[0], others[0])


def _rows_of_a_table(row: Sequence[Any], other: Sequence[Any]) -> ValueError:
    one, another = (", ".join(f"{value:.7g}" for value in cells) for cells in (row, other))
    names = ["user_id", "item_id", "score"][: len(row)]
    fields = "a user, an item and a value" if len(row) == 3 else "a user and an item"
    problem = f"both sides hold rows of {fields}, such as ({one}) and ({another})"
    columns = ", ".join(f'"{name}"' for name in names)
    hint = (
        "give tables with names of columns, such as "
        f"predictions=pd.DataFrame(rows, columns=[{columns}])"
    )
    return ValueError(f"{problem}, and each would be a query of its own; {hint}")


def refuse_tuples(predictions: Any, references: Any) -> None:
    """Raise an error for tuples of a user, an item and an estimate beside such of a relevance.

    >>> refuse_tuples([(1, 10, 1.5)], [(1, 11, 1)])
    Traceback (most recent call last):
    ...
    ValueError: both sides hold rows of a user, an item and a value, such as (1, 10, 1.5) and \
(1, 11, 1), and each would be a query of its own; give tables with names of columns, such as \
predictions=pd.DataFrame(rows, columns=["user_id", "item_id", "score"])
    """
    if types_of_tuples(predictions) != {(int, int, float)}:
        return
    if types_of_tuples(references) not in ({(int, int, int)}, {(int, int, float)}):
        return
    users = {row[0] for row in predictions}
    if not users.isdisjoint(row[0] for row in references):
        raise _rows_of_a_table(predictions[0], references[0])


def types_of_tuples(side: Any) -> set[tuple[type, ...]]:
    """Return the types in the rows of a side if all are tuples of three; else nothing."""
    if not isinstance(side, (list, tuple)):
        return set()
    if not all(type(row) is tuple and len(row) == 3 for row in side):
        return set()
    return {tuple(map(type, row)) for row in side}


def _have_same_users(pairs: NDArray[Any], others: NDArray[Any]) -> bool:
    """Return whether both sides have the same users, some of them repeatedly, and other items."""
    users, other_users = np.unique(pairs[:, 0]), np.unique(others[:, 0])
    are_repeated = len(users) < len(pairs)
    return are_repeated and np.array_equal(users, other_users) and _are_distinct(others)


def refuse_ids(
    arguments: tuple[str, str], sides: tuple[NDArray[Any], NDArray[Any]], lengths: NDArray[np.int64]
) -> None:
    """Raise an error, or warn, for ids on both sides: whole numbers, none of them twice in a query.

    Of -1, and of 0 if few values are 0, a query may have several, which fill up its row.

    In many documents the highest of each side is above the length of the longest query, which
    ranks and grades are not: that is an error. In few there is no 0, each query has at least three
    documents, and only the first side must go beyond that length: that is a warning.
    """
    if any(side.dtype.kind not in "iu" or len(side) == 0 for side in sides):
        return
    highest = [side.max() for side in sides]
    are_many = len(sides[0]) >= MANY_DOCUMENTS
    if are_many and min(highest) <= lengths.max():
        return
    if not are_many and (lengths.min() < FEWEST_OF_QUERY or highest[0] <= lengths.max()):
        return
    if not are_many and any((side == 0).any() for side in sides):
        return
    query = np.repeat(np.arange(len(lengths)), lengths)
    for side in sides:
        is_id = side != -1  # -1 is no document
        is_zero = side == 0
        if is_zero.mean() < 0.5:  # 0 may fill up rows; most grades are 0
            is_id &= ~is_zero
        rows = np.stack([query, side.astype(np.int64)], axis=1)
        if not _are_distinct(rows[is_id]):
            return
    first = [", ".join(map(str, side[: lengths[0]][:5].tolist())) for side in sides]
    problem = "hold other whole numbers in each place of a query, as ids are, such as"
    ids = "give the ids of relevant documents, without padding, as sets, references=[{...}, ...]"
    words = f"{problem} [{first[0]}, ...] and [{first[1]}, ...]; {ids}"
    if are_many:
        raise ValueError(f"{' and '.join(arguments)} {words}; if they are values, give floats")
    warn(f"{mark(arguments[0])}: both sides {words}; they are read as values")


def _are_distinct(rows: NDArray[Any]) -> bool:
    """Return whether rows are whole numbers, and all differ."""
    are_whole = (rows == np.trunc(rows)).all()
    return bool(are_whole) and len(np.unique(rows, axis=0)) == len(rows)


def refuse_counted_ranks(argument: str, name: Any, rows: Iterable[list[Any]]) -> None:
    """Raise an error for scores that count from 0 or 1 in each query, under the name of a rank.

    Args:
        argument: the argument that holds the scores.
        name: the name of the column or the field of scores.
        rows: the scores by query.
    """
    try:
        first = first_if_counted(map(sorted, rows))
    except (TypeError, ValueError):  # some are not numbers; another error says so
        return
    if first is not None:
        problem = f"the column {name!r} counts from {first:g} in each query, as ranks do"
        hint = f"give {mark('score_order', 'ascending')} if the lowest is best, else floats"
        raise InputError(f"{problem}; {hint}", argument)


def first_if_counted(rows: Iterable[list[Any]]) -> Any:
    """Return where the scores of all queries begin to count, 0 or 1; None if they do not count."""
    first = None
    for scores in rows:
        if not scores:
            continue
        if first is None:
            first = scores[0]
        if first not in (0, 1) or scores != list(range(int(first), int(first) + len(scores))):
            return None
    return first


# Scores beside ranks


def highest_first() -> str:
    """Return what a warning about the order of scores says if they are right."""
    return f"if the highest is, give {mark('score_order', 'descending')}"


def _are_numbers(values: Sequence[Any]) -> bool:
    """Return whether all values are numbers, and none is nan, which has no place in an order."""
    if not all(issubclass(kind, Real) for kind in set(map(type, values))):
        return False
    return not any(map(math.isnan, values))


def _equal_scores() -> str:
    """Return what a warning says about equal scores beside ranks."""
    call = mark("fields", {"score": None})
    return (
        f"its scores are all equal, but its documents have ranks; if the order counts, give {call}"
    )


def _other_order(ascending: bool) -> str:
    """Return what a warning says about ranks that contradict the scores."""
    problem = (
        "the ranks are in another order than the scores, and the scores count, as in trec_eval"
    )
    if ascending:
        return problem
    return f"{problem}; if the lowest score is best, give {mark('score_order', 'ascending')}"


def _unlike_ranks(documents: str) -> str:
    """Return what a warning says about hits or rows that are not in the order of their ranks."""
    problem = f"its {documents} are in another order than their ranks, and their order counts"
    ascending = mark("score_order", "ascending")
    return f"{problem}; if the ranks count, name them as the score and give {ascending}"


def _tell_order(ranks: Iterable[Any]) -> bool:
    """Return whether ranks tell an order; some runs have one number in all rows."""
    return len(set(ranks)) > 1


def beside_ranks(
    queries: Iterable[Any], scores: Iterable[Any], ranks: Iterable[Any], names: Names
) -> tuple[str, bool]:
    """Return what a warning says about the scores of rows beside ranks; empty for nothing.

    The scores of a query are all equal, or rank its documents in another order; or its rows are in
    another order, if the order counts. Return as well whether the ranks tell an order.
    """
    by_query: dict[Any, tuple[list[Any], list[Any]]] = {}
    numbers_of_ranks = _numbers_or_none(ranks)
    for query, score, rank in zip(queries, scores, numbers_of_ranks, strict=True):
        if not id_kind(type(query)):
            continue  # reading this row raises an error
        scores_of_query, ranks_of_query = by_query.setdefault(query, ([], []))
        scores_of_query.append(score)
        ranks_of_query.append(rank)
    return _misfit(by_query, names), _tell_order(numbers_of_ranks)


def _numbers_or_none(values: Iterable[Any]) -> list[Any]:
    """Return values with None in place of what is no number."""
    return [value if isinstance(value, Real) else None for value in values]


def _misfit(by_query: Mapping[Any, tuple[Sequence[Any], Sequence[Any]]], names: Names) -> str:
    """Return what a warning says about the scores and ranks of queries; empty if they fit."""
    for query, (scores, ranks) in by_query.items():
        problem = _beside_ranks([] if names.has_no_value else scores, ranks, names, "rows")
        if problem:
            return f"query {shown(query)}: {problem}"
    return ""


def _beside_ranks(scores: Sequence[Any], ranks: Sequence[Any], names: Names, documents: str) -> str:
    """Return what a warning says about the documents of a query beside ranks; empty if they fit.

    Without scores, their order counts.
    """
    if not scores:
        places = _real_numbers(ranks)
        return "" if places == sorted(places) else _unlike_ranks(documents)
    if len(ranks) != len(scores) or not _are_numbers((*scores, *ranks)):
        return ""
    if len(set(scores)) == 1 < len(scores) and first_if_counted([sorted(ranks)]) is not None:
        return _equal_scores()
    if _tell_order(ranks) and _contradict(scores, ranks, names.ascending):
        return _other_order(names.ascending)
    return ""


def _contradict(scores: Sequence[Any], ranks: Sequence[Any], ascending: bool) -> bool:
    """Return whether scores rank documents in another order than their ranks.

    Documents of one rank may be in any order: those of several systems, too, contradict others.
    """
    best_first = sorted(zip(scores, ranks, strict=True), reverse=not ascending, key=itemgetter(0))
    by_rank = [score for score, _ in sorted(best_first, key=itemgetter(1))]
    return by_rank != sorted(scores, reverse=not ascending)


def _real_numbers(values: Sequence[Any]) -> list[Any]:
    if set(map(type, values)) <= {int, float}:  # faster
        return list(values)
    return [value for value in values if isinstance(value, Real)]


def contradiction(values: Sequence[Any], ranks: Sequence[Any], names: Names) -> str:
    """Return what a warning says about hits whose order and values disagree; empty if they agree.

    Scores may be in any order if `fields` names them, or if `score_order` says which is best; with
    "ascending", scores that fall from hit to hit are still doubtful.
    """
    scores = _real_numbers(values)
    best_first = sorted(scores, reverse=not names.ascending)
    if scores == best_first:
        return _beside_ranks(scores, list(map(as_number, ranks)), names, "hits")
    if names.name("score") is not None:
        return ""
    # A similarity is listed highest first, and is not best where it is lowest.
    is_opposite = names.ascending and scores == best_first[::-1]
    if names.is_order_given and not (is_opposite and len(scores) >= FEWEST_OF_QUERY):
        return ""
    problem = "the scores rank its hits in another order than they are in, and the scores count"
    order = f"if the order counts, give {mark('fields', {'score': None})}"
    if names.ascending:
        highest = f"if the highest score is best, give {mark('score_order', 'descending')}"
        return f"{problem}; {order}; {highest}"
    lowest = f"if the lowest score is best, give {mark('score_order', 'ascending')}"
    return f"{problem}; {order}; {lowest}; {highest_first()}"
