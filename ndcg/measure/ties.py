"""Compute the gains at the first ranks of every query, exactly for ties, from scores and gains.

SIMD sorts values several times faster than indices, so every score is packed into one 64-bit key
with the number of its document, and unpacked after sorting.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LOWEST = np.finfo(np.float64).min  # the key of -inf, whose bits cannot hold a number


def ideal_gains(gains: Floats, ranks: int, lowest: float) -> Floats:
    """Return the ``ranks`` highest gains of every query, in descending order, as (queries, ranks).

    In memory, they lie from the last rank to the first. There are at least as many documents as
    ranks, and no gain is below ``lowest``.
    """
    shortlist = _shortlist(gains, ranks, exact=True)
    ordered: NDArray[np.floating[Any]]
    if shortlist is None:
        ordered = gains.copy()
    else:
        ordered = gains.take(shortlist)
    beyond = ordered.shape[1] - ranks
    if lowest >= 0 and beyond:
        # Exact for grades. The bits of floats that are not negative sort as integers in the same
        # order, and faster.
        in_32_bits = ordered.astype(np.float32, copy=False)
        if in_32_bits is ordered or (in_32_bits == ordered).all():
            in_32_bits.view(np.int32).sort(axis=1)
            return in_32_bits[:, beyond:].astype(np.float64, copy=False)[:, ::-1]
    ordered.sort(axis=1)
    return ordered[:, beyond:].astype(np.float64, copy=False)[:, ::-1]


def ranked_gains(score: Floats, gains: Floats, ranks: int, ties: str) -> tuple[Floats, float]:
    """Return the gain at ranks 1..``ranks`` by descending score, and the highest score.

    A score of ``-inf`` is that of a document without a rank. Ties are ``"average"``, so that
    documents with equal scores share their mean gain (McSherry & Najork, ECIR 2008), or which of
    them ranks first: ``"first"``, ``"last"``, ``"best"`` or ``"worst"``. In memory, the gains lie
    from the last rank to the first. The highest score lacks its last bits.

    One document more than ``ranks`` is sought, to see whether a tie crosses the cutoff.
    """
    if ties not in ("average", "last"):
        score, gains = _last_of_equals_first(score, gains, ties)
    count = min(ranks + 1, score.shape[1])
    if not score.size:
        return np.zeros((len(score), 0)), -np.inf
    keys, numbers, low_bits = _highest_scores(score, count, ties == "average")
    unretrieved = np.empty(0, np.intp)
    # Either fewer than count documents were retrieved, or some scores are extremely low.
    lacking = keys[:, 0] < LOWEST / 2
    if lacking.any():
        unretrieved = np.flatnonzero(keys < LOWEST / 2)
        retrieved = count * np.count_nonzero(lacking) - unretrieved.size
        if np.count_nonzero(score[lacking] > -np.inf) != retrieved:
            # Keys cannot tell -inf from such low scores, so every document is ranked: the ones
            # that were not retrieved last, with gain 0.
            unretrieved = unretrieved[:0]
            gains = np.where(score > -np.inf, gains, 0)
    bits = keys.view(np.int64).ravel()
    near = np.zeros(keys.shape, bool)  # equal to the one before in all bits that keys keep
    np.less_equal((bits[1:] ^ bits[:-1]).view(np.uint64), low_bits, out=near.ravel()[1:])
    near[:, :1] = False  # the one before belongs to another query
    near.put(unretrieved, False)
    if near.any():
        ranked = _settled_gains(score, gains, numbers, near, ranks, ties == "average")
    else:
        ranked = gains.take(numbers).astype(np.float64, copy=False)
    ranked.put(unretrieved, 0)
    return ranked[:, ::-1][:, :ranks], float(keys[:, -1].max())


def _last_of_equals_first(score: Floats, gains: Floats, ties: str) -> tuple[Floats, Floats]:
    """Rearrange documents so that ranking the last of equal scores first gives the order of ties.

    The order is ``"first"``, ``"best"`` or ``"worst"``.
    """
    if ties == "first":
        return np.ascontiguousarray(score[:, ::-1]), np.ascontiguousarray(gains[:, ::-1])
    order = np.argsort(gains if ties == "best" else -gains, axis=1)
    return np.take_along_axis(score, order, axis=1), np.take_along_axis(gains, order, axis=1)


def _highest_scores(
    score: Floats, count: int, averaged: bool
) -> tuple[Floats, NDArray[np.int64], int]:
    """Return the keys of every query's ``count`` highest scores, ascending, and document numbers.

    The lowest bits of every score, as many as it takes to number the documents of the block, are
    replaced with the document's number; a mask of these bits is returned too. Only neighbors that
    agree in all other bits can be tied or out of order.
    """
    shortlist = None
    if averaged:
        shortlist = _shortlist(score, count)
    if shortlist is None:
        numbers = np.arange(score.size).reshape(score.shape)
        keys = np.add(score, 0.0, dtype=np.float64)  # turns -0.0 into 0.0
    else:
        numbers = shortlist
        keys = np.add(score.take(shortlist), 0.0, dtype=np.float64)
    np.maximum(keys, LOWEST, out=keys)  # the bits of -inf cannot hold a number
    # The bits of a negative float grow as it falls. If ties are not averaged, their order matters,
    # so the numbers are inverted, with a spare bit that keeps the result from being -0.0.
    turned = not averaged and np.signbit(keys).any()
    low_bits = _low_bits(2 * score.size if turned else score.size)
    bits = keys.view(np.int64)
    bits &= ~low_bits
    if turned:
        bits |= numbers ^ np.signbit(keys) * low_bits
    else:
        bits |= numbers
    beyond = keys.shape[1] - count
    if 4 * count < keys.shape[1]:
        # So few are faster to partition off than to find by sorting all.
        keys.partition(beyond, axis=1)
        keys = np.ascontiguousarray(keys[:, beyond:])
        keys.sort(axis=1)
    else:
        keys.sort(axis=1)
        keys = np.ascontiguousarray(keys[:, beyond:])
    numbers = keys.view(np.int64) & low_bits
    if turned:
        numbers ^= np.signbit(keys) * low_bits
    return keys, numbers, low_bits


def _settled_gains(
    score: Floats,
    gains: Floats,
    numbers: NDArray[np.int64],
    near: Mask,
    ranks: int,
    averaged: bool,
) -> Floats:
    """Return the gains of the numbered documents, the best last, with ties and near ties resolved.

    ``near`` marks the ones with nearly the same score as the one before.
    """
    crossing = np.empty(0, np.intp)  # queries in which a near tie crosses the cutoff
    if numbers.shape[1] > ranks:
        crossing = np.flatnonzero(near[:, 1])
    members, tied = _sort_near(score, numbers, near)
    ranked = gains.take(numbers).astype(np.float64, copy=False)
    if averaged:
        ranked.ravel()[members] = _mean_of_groups(ranked.ravel()[members], ~tied)
    if not crossing.size:
        return ranked
    rows: slice | NDArray[np.intp] = crossing
    if crossing.size == len(score):
        rows = slice(None)  # a view instead of copies
    near_scores = score.take(numbers[rows, 1:])
    mean, above = _group_at_cutoff(score[rows], gains[rows], near_scores[:, 0])
    if averaged:
        is_last = near_scores == near_scores[:, :1]
        ranked[rows, 1:] = np.where(is_last, mean[:, np.newaxis], ranked[rows, 1:])
    # In these queries the cutoff parts near ties in the wrong place.
    missed = crossing[above != (near_scores > near_scores[:, :1]).sum(axis=1)]
    if missed.size:
        ties = "average" if averaged else "last"
        whole, _ = ranked_gains(score[missed], gains[missed], score.shape[1], ties)
        ranked[missed, 1:] = whole[:, :ranks][:, ::-1]
    return ranked


def _sort_near(
    score: Floats, numbers: NDArray[np.int64], near: Mask
) -> tuple[slice | NDArray[np.intp], Mask]:
    """Sort the numbers of documents with nearly equal scores by their scores; overwrite both.

    Returned are the positions, in the flat array, of documents that are nearly tied with a
    neighbor, and which of these have exactly the score of the one before.
    """
    tied = near.ravel()
    member = tied.copy()  # every document in a run of near ties, including the first
    member[:-1] |= tied[1:]
    members: slice | NDArray[np.intp]
    if 4 * np.count_nonzero(member) > member.size:
        members = slice(None)  # the others do no harm, and to pick so many takes longer
    else:
        members = np.flatnonzero(member)
    exact = score.take(numbers.ravel()[members])
    tied = tied[members]
    falls = 1 + np.flatnonzero(tied[1:] & (exact[1:] < exact[:-1]))
    if falls.size:  # sort these runs; documents of equal scores keep their order
        run = np.cumsum((~tied).astype(np.intp))
        unsorted = np.zeros(run[-1] + 1, bool)
        unsorted[run[falls]] = True
        places = np.flatnonzero(unsorted.take(run))
        order = places[np.lexsort((exact[places], run[places]))]
        sorted_numbers = numbers.ravel()[members]
        sorted_numbers[places] = sorted_numbers[order]
        exact[places] = exact[order]
        numbers.ravel()[members] = sorted_numbers
    tied[1:] &= exact[1:] == exact[:-1]
    return members, tied


def _mean_of_groups(gains: Floats, first: Mask) -> Floats:
    """Return the mean gain of every document's group; ``first`` marks the starts of groups."""
    # Groups are numbered from 1. The mask is cast, because on a mask cumsum would block threads.
    group = np.cumsum(first.astype(np.intp))
    sizes = np.diff(np.flatnonzero(first), prepend=-1, append=first.size)
    return np.asarray((np.bincount(group, gains) / sizes).take(group))


def _group_at_cutoff(
    score: Floats, gains: Floats, last: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the mean gain of all documents with the ``last`` score, and how many score higher."""
    reached = np.flatnonzero(score >= last[:, np.newaxis])
    row = reached // score.shape[1]
    level = score.take(reached) == last.take(row)
    above = np.bincount(row[~level], minlength=len(last))
    row, reached = row[level], reached[level]
    if (last < 0).any():  # added in the order of their keys, so that sums agree to the last bit
        falling = last.take(row) < 0
        turned = np.concatenate([np.flatnonzero(~falling), np.flatnonzero(falling)[::-1]])
        row, reached = row[turned], reached[turned]
    sums = np.bincount(row, gains.take(reached), minlength=len(last))
    return sums / np.bincount(row, minlength=len(last)), above


def _low_bits(documents: int) -> int:
    """Return a mask of the lowest bits, as many as are needed to number the documents."""
    return (1 << max(documents - 1, 0).bit_length()) - 1


def grid_height(documents: int, count: int) -> int:
    """Return the rows of the grid in which the ``count`` highest of ``documents`` are sought."""
    if not count:
        return 0
    # With this height the row of maxima has four times as many values as the shortlist. A value of
    # the shortlist takes longer, since it is gathered and sorted.
    return math.isqrt(documents // (4 * count))


def _shortlist(values: Floats, count: int, exact: bool = False) -> NDArray[np.int64] | None:
    """Return numbers of documents with the ``count`` highest values of every row.

    None if the list would not be short, or not be sure.

    If a row is laid out as a grid, its ``count`` highest values lie in the ``count`` columns with
    the highest maxima, because any of these columns has a value at least as high as any elsewhere.
    It does not matter which of several equal maxima is taken. Nearly equal ones can be mistaken for
    equal, unless ``exact``.
    """
    queries, documents = values.shape
    height = grid_height(documents, count)
    if height < 2:
        return None
    width = documents // height
    in_grid = width * height
    grid = values[:, :in_grid].reshape(queries, height, width)
    keys = np.maximum(grid.max(axis=1) + 0.0, LOWEST, dtype=np.float64)
    bits = keys.view(np.int64)
    low_bits = _low_bits(width)
    if exact and np.bitwise_or.reduce(bits, axis=None) & low_bits:
        return None
    bits &= ~low_bits
    bits |= np.arange(width)
    keys.partition(width - count, axis=1)
    row_starts = np.arange(queries)[:, np.newaxis] * documents
    columns = (bits[:, width - count :] & low_bits) + row_starts
    column_steps = np.arange(0, in_grid, width)[:, np.newaxis]
    shortlist = np.empty((queries, height * count + documents - in_grid), np.int64)
    shortlist[:, : height * count] = (columns[:, np.newaxis] + column_steps).reshape(
        queries, height * count
    )
    # The documents that do not fill another row of the grid.
    tail = np.arange(in_grid, documents)
    np.add(row_starts, tail, out=shortlist[:, height * count :])
    return shortlist
