"""Refuse what looks like rankings and is something else: rows of a table, ids, ranks as scores."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from numbers import Real
from operator import itemgetter, ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import InputError, mark, shown, warn
from .columns import Column
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
    sides = (score.values, relevance.values)
    if len(lengths) > 1 and 2 <= lengths.min() == lengths.max() <= 3:
        _refuse_rows(*(values.reshape(len(lengths), -1) for values in sides))
    refuse_ids(("predictions", "references"), sides, lengths)


def warn_of_one_document(score: Column) -> None:
    """Warn of queries of one document, which may be the documents of one query."""
    queries = len(score.offsets) - 1
    if queries < 2:
        return
    if (score.offsets != np.arange(queries + 1)).any():
        return
    problem = f"{queries} queries have one document each, so no order matters"
    hint = (
        f"if these are documents of one query, wrap them in a list, else give {mark('query_ids')}"
    )
    warn(f"{mark('predictions')}: {problem}; {hint}")


def _refuse_rows(rows: NDArray[Any], others: NDArray[Any]) -> None:
    """Raise an error for rows of a user, an item and perhaps a value: each would be a query.

    Users and items are whole numbers, another pair in each row. Either the rows of both sides have
    the same pairs, as scores and relevances may have in a few queries of small numbers; or both
    sides have the same users, some of them repeatedly. Items of both sides are above all grades, or
    most of the scores of other pairs are fractions.
    """
    pairs, other_pairs = rows[:, :2].astype(np.float64), others[:, :2].astype(np.float64)
    if not _are_distinct(pairs) or (rows == others).all():
        return
    are_rows = min(pairs.max(axis=0)[1], other_pairs.max(axis=0)[1]) >= HIGHEST_GRADE
    if (pairs == other_pairs).all():
        are_rows |= len(pairs) >= 5  # hardly by chance
    else:
        values = rows[:, 2:]
        are_rows |= np.count_nonzero(values != np.trunc(values)) > len(rows) / 2  # mostly fractions
        users, other_users = np.unique(pairs[:, 0]), np.unique(other_pairs[:, 0])
        are_rows &= len(users) < len(pairs) and np.array_equal(users, other_users)
    if are_rows:
        raise _rows_of_a_table(rows[0], others[0])


def _rows_of_a_table(row: Sequence[Any], other: Sequence[Any]) -> ValueError:
    one, another = (", ".join(f"{value:.7g}" for value in cells) for cells in (row, other))
    columns = ["user_id", "item_id", "score"][: len(row)]
    problem = f"both sides hold rows of a user and an item, such as ({one}) and ({another})"
    hint = (
        "give tables with names of columns, such as "
        f"predictions=pd.DataFrame(rows, columns={columns})"
    )
    return ValueError(f"{problem}, and each would be a query of its own; {hint}")


def refuse_ids(
    arguments: tuple[str, str], sides: tuple[NDArray[Any], NDArray[Any]], lengths: NDArray[np.int64]
) -> None:
    """Raise an error, or warn, for ids on both sides: whole numbers, none of them twice in a query.

    Of -1, and of 0 if few values are 0, a query may have several, which fill up its row.

    In many documents the highest of each side is above the length of the longest query, which
    ranks and grades are not: that is an error. In few there is no 0, each query has at least three
    documents, and only the first side must go beyond that length: that is a warning.
    """
    if any(side.dtype.kind not in "iu" for side in sides):
        return
    highest = [side.max(initial=0) for side in sides]
    are_many = len(sides[0]) >= MANY_DOCUMENTS
    if are_many:
        may_be_ids = min(highest) > lengths.max()
    else:
        may_be_ids = highest[0] > lengths.max(initial=0) and lengths.min() >= FEWEST_OF_QUERY
        may_be_ids &= all(side.all() for side in sides)
    query = np.repeat(np.arange(len(lengths)), lengths)
    if not may_be_ids or not all(_are_distinct_in(query, side) for side in sides):
        return
    first = [", ".join(map(str, side[: lengths[0]][:5].tolist())) for side in sides]
    problem = "hold other whole numbers in each place of a query, as ids are, such as"
    ids = "give the ids of relevant documents, without padding, as sets, references=[{...}, ...]"
    words = f"{problem} [{first[0]}, ...] and [{first[1]}, ...]; {ids}"
    if are_many:
        raise ValueError(f"{' and '.join(arguments)} {words}; if they are values, give floats")
    warn(f"{mark(arguments[0])}: both sides {words}; they are read as values")


def _are_distinct_in(query: NDArray[np.int64], side: NDArray[Any]) -> bool:
    """Return whether no number is twice in a query, but for those that fill up its row."""
    is_id = side != -1  # -1 is no document
    is_zero = side == 0
    if is_zero.mean() < 0.5:  # 0 may fill up rows; most grades are 0
        is_id &= ~is_zero
    return _are_distinct(np.stack([query, side.astype(np.int64)], axis=1)[is_id])


def _are_distinct(rows: NDArray[Any]) -> bool:
    """Return whether rows are whole numbers, and all differ."""
    are_whole = (rows == np.trunc(rows)).all()
    return bool(are_whole) and len(np.unique(rows, axis=0)) == len(rows)


def counted_ranks(argument: str, name: Any, first: int) -> InputError:
    """Return the error for scores that count from 0 or 1 in each query, under a rank's name."""
    problem = f"the column {name!r} counts from {first} in each query, as ranks do"
    hint = f"give {mark('score_order', 'ascending')} if the lowest is best, else floats"
    return InputError(f"{problem}; {hint}", argument)


def do_count(numbers: Sequence[Any]) -> bool:
    """Return whether numbers are 0, 1, 2, ... or 1, 2, 3, ... in any order."""
    first, *others = sorted(numbers)
    return first in (0, 1) and others == [first + place for place in range(1, len(numbers))]


# Scores beside ranks


def highest_first() -> str:
    """Return what a warning about the order of scores says if they are right."""
    return f"if the highest is, give {mark('score_order', 'descending')}"


def _equal_scores() -> str:
    """Return what a warning says about equal scores beside ranks."""
    call = mark("fields", {"score": None})
    return (
        f"its scores are all equal, but its documents have ranks; if the order counts, give {call}"
    )


def _other_order() -> str:
    """Return what a warning says about ranks that contradict the scores."""
    problem = "the ranks are in another order than the scores, and the scores count"
    ascending = mark("score_order", "ascending")
    return f"{problem}, as in trec_eval; if the lowest score is best, give {ascending}"


def _unlike_ranks(documents: str) -> str:
    """Return what a warning says about hits or rows that are not in the order of their ranks."""
    problem = f"its {documents} are in another order than their ranks, and their order counts"
    ascending = mark("score_order", "ascending")
    return f"{problem}; if the ranks count, name them as the score and give {ascending}"


def beside_ranks(
    queries: Iterable[Any], scores: Iterable[Any], ranks: Sequence[Any], names: Names
) -> tuple[str, bool]:
    """Return what a warning says about the scores of rows beside ranks; empty for nothing.

    The scores of a query are all equal, or rank its documents in another order; or its rows are in
    another order, if the order counts; or several documents of every query have its first rank, as
    those of several systems. Return as well whether the ranks tell an order: some runs have one
    number in all rows.
    """
    by_query = ranks_by_query(zip(queries, scores, ranks, strict=True))
    tell_order = len(set(comparable(ranks))) > 1
    if tell_order and share_first_ranks(by_query):
        return several_first_ranks("every query"), tell_order
    for query, rows in by_query.items():
        scores_of_query, ranks_of_query = zip(*rows, strict=True)
        if names.has_no_value:
            scores_of_query = ()
        problem = _beside_ranks(scores_of_query, ranks_of_query, names, "rows")
        if problem:
            return f"query {shown(query)}: {problem}", tell_order
    return "", tell_order


def several_first_ranks(queries: str) -> str:
    """Return what a warning says about several documents with the first rank of such queries."""
    problem = f"in {queries}, several documents have the first rank"
    one = "if the rows are of several systems, give one at a time"
    # `query_ids` names it beside data too.
    call = mark("fields", {"query": "..."}, said='query_ids="..."')
    apart = f"name the field that tells them apart as the query, {call}"
    query = f"if a query has several rankings, {apart}"
    return f"{problem}; {one}; {query}"


def ranks_by_query(rows: Iterable[tuple[Any, ...]]) -> dict[Any, list[tuple[Any, Any]]]:
    """Return the scores and ranks of rows by their queries; reading other rows raises an error."""
    by_query: dict[Any, list[tuple[Any, Any]]] = {}
    for query, score, rank in rows:
        if id_kind(type(query)):
            by_query.setdefault(query, []).append((score, rank))
    return by_query


def share_first_ranks(by_query: Mapping[Any, Sequence[tuple[Any, Any]]]) -> bool:
    """Return whether several documents of every query have its first rank.

    The rows may end within the last query.
    """
    queries = list(by_query.values())
    return len(queries) > 0 and all(map(_share_first_rank, queries[:-1] or queries))


def _share_first_rank(rows: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether documents of a query with other scores have its first rank.

    A rank may be one number in all rows of a query.
    """
    ranks = [rank for _, rank in rows]
    first = min(ranks)
    scores = [score for score, rank in rows if rank == first]
    return first < max(ranks) and any(score not in (None, scores[0]) for score in scores)


def comparable(values: Sequence[Any]) -> Sequence[Any]:
    """Return values if all are numbers, which have an order; none if one is not, or is nan."""
    are_numbers = all(issubclass(kind, Real) for kind in set(map(type, values)))
    return () if not are_numbers or any(map(ne, values, values)) else values


def _beside_ranks(scores: Sequence[Any], ranks: Sequence[Any], names: Names, documents: str) -> str:
    """Return what a warning says about the documents of a query beside ranks; empty if they fit.

    Without scores, their order counts.
    """
    places = list(comparable(ranks))
    if not scores:
        return "" if places == sorted(places) else _unlike_ranks(documents)
    numbers = comparable(scores)
    if len(places) != len(numbers):
        return ""
    if len(set(numbers)) == 1 < len(numbers) and do_count(places):
        return _equal_scores()
    if _contradict(numbers, places, names.ascending):
        return _other_order()
    return ""


def _contradict(scores: Sequence[Any], ranks: Sequence[Any], ascending: bool) -> bool:
    """Return whether scores rank documents in another order than their ranks.

    Documents of one rank may be in any order: those of several systems, too, contradict others.
    """
    best_first = sorted(zip(scores, ranks, strict=True), reverse=not ascending, key=itemgetter(0))
    by_rank = [score for score, _ in sorted(best_first, key=itemgetter(1))]
    return by_rank != sorted(scores, reverse=not ascending)


@cache
def _unlike_order_of_hits() -> str:
    """Return what a warning says about scores; written once, since its marks take long."""
    problem = "the scores rank its hits in another order than they are in, and the scores count"
    order = f"if the order counts, give {mark('fields', {'score': None})}"
    lowest = f"if the lowest score is best, give {mark('score_order', 'ascending')}"
    return f"{problem}; {order}; {lowest}; {highest_first()}"


def contradiction(values: Sequence[Any], ranks: Sequence[Any], names: Names) -> str:
    """Return what a warning says about hits whose order and values disagree; empty if they agree.

    Scores may be in any order if `fields` names them, or if `score_order` says which is best; with
    "ascending", scores that fall from hit to hit are still doubtful.
    """
    scores = list(comparable(values))
    best_first = sorted(scores, reverse=not names.ascending)
    if scores == best_first:
        return _beside_ranks(values, ranks, names, "hits")
    return _unlike_order_of_hits() if _are_doubtful(scores, names) else ""


def _are_doubtful(scores: Sequence[Any], names: Names) -> bool:
    """Return whether scores are doubtful that are in another order than that of their hits."""
    if names.name("score") is not None:
        return False
    if not names.ascending:
        return not names.is_order_given
    # A similarity is listed highest first, and is not best where it is lowest.
    return len(scores) >= FEWEST_OF_QUERY and scores == sorted(scores, reverse=True)
