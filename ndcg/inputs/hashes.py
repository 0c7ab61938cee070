"""Rows with ids, as read from a file. Sorting hashes finds rows with the same query and document."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.scoring import in_threads
from .ids import Order, RowNumbers, grouped

HASHES_AT_A_TIME = 1 << 16  # rows that are sorted at a time: few enough for the processor's cache
ODD = np.uint64(0x9E3779B97F4A7C15)


class Columns(NamedTuple):
    """Predictions or references with ids, one row per document, as read from a file.

    Attributes:
        query: the query of each row, as an index into ``query_ids``.
        query_ids: the distinct query ids, strings in the order of the file.
        document: the id of each row's document, a string.
        value: the score or the relevance of each row.
        hashes: the hashes of the document ids, from ``hashes_of``.
        place: a function from a row to the words for its place in the file; None for rows that are not in a file.
    """

    query: RowNumbers
    query_ids: pa.StringArray
    document: pa.ChunkedArray
    value: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    place: Callable[[int], str] | None = None

    def only(self, kept: NDArray[np.bool_]) -> "Columns":
        """Return the rows for which a mask is True."""
        document = self.document.filter(pa.array(kept))
        return Columns(self.query[kept], self.query_ids, document, self.value[kept], self.hashes[kept])


def same_rows(*sides: Columns) -> tuple[RowNumbers, RowNumbers]:
    """Return pairs of rows with the same query and document: each row with the next one, numbered over all inputs."""
    queries = max(int(side.query.max(initial=-1)) for side in sides) + 1
    groups = [grouped(side.query, queries) for side in sides]
    until = np.sum([offsets for _, offsets in groups], axis=0)
    blocks = [0, *(np.flatnonzero(np.diff(until // HASHES_AT_A_TIME)) + 1).tolist(), queries]
    document = pa.chunked_array([chunk for side in sides for chunk in side.document.chunks], pa.string())
    of_one_hash = in_threads(partial(_rows_of_one_hash, sides, groups), blocks[:-1], blocks[1:])
    first, second, common, of_one_query = map(np.concatenate, zip(*of_one_hash, strict=True))

    def are_of_one_document(first: RowNumbers, second: RowNumbers) -> NDArray[np.bool_]:
        return np.asarray(pc.equal(document.take(pa.array(first)), document.take(pa.array(second))).to_numpy())

    several = pa.cpu_count() if len(first) > HASHES_AT_A_TIME else 1
    parts = (np.array_split(rows, several) for rows in (first, second))
    same = np.concatenate(in_threads(are_of_one_document, *parts)) & of_one_query
    if same.all():
        return first, second
    query = np.concatenate([side.query for side in sides])
    unlike = np.isin(common, common[~same])  # pairs with a hash that different ids share
    rows = np.union1d(first[unlike], second[unlike])
    last: dict[tuple[int, str], int] = {}
    settled = []
    for row, *ids in zip(rows.tolist(), query[rows].tolist(), document.take(pa.array(rows)).to_pylist(), strict=True):
        settled += [(last[key], row)] if (key := tuple(ids)) in last else []
        last[key] = row
    pairs = np.stack([first, second], axis=1)[~unlike]
    first, second = np.concatenate([pairs, np.array(settled, np.int64).reshape(-1, 2)]).T
    return first, second


def _rows_of_one_hash(
    sides: Sequence[Columns], groups: Sequence[tuple[Order, RowNumbers]], start: int, stop: int
) -> tuple[RowNumbers, RowNumbers, NDArray[np.uint64], NDArray[np.bool_]]:
    """Return pairs of rows with equal hashes among some queries, their common bits, and if their queries are equal."""
    rows, queries, keys, before = [], [], [], 0
    for side, (order, offsets) in zip(sides, groups, strict=True):
        span = slice(*offsets[[start, stop]].tolist())
        at = span if isinstance(order, slice) else order[span]
        rows.append(before + (np.arange(span.start, span.stop) if isinstance(at, slice) else at))
        queries.append(side.query[at])
        keys.append(queries[-1].view(np.uint64) * ODD + side.hashes[at])
        before += len(side.query)
    row, query, key = np.concatenate(rows), np.concatenate(queries), np.concatenate(keys)
    of_row = np.uint64((1 << len(key).bit_length()) - 1)
    key &= ~of_row
    key |= np.arange(len(key), dtype=np.uint64)
    key.sort()
    starts = np.flatnonzero((key[1:] ^ key[:-1]) <= of_row)
    pair = [(key[each] & of_row).view(np.int64) for each in (starts, starts + 1)]
    first, second = (row[each] for each in pair)
    return first, second, key[starts] & ~of_row, query[pair[0]] == query[pair[1]]


def digest_of(columns: Columns) -> str:
    """Return a digest of rows that does not depend on their order: a sum over their hashes."""
    of_query = hashes_of(pa.chunked_array([columns.query_ids]))[columns.query]
    mixed = (of_query * ODD ^ columns.hashes) * ODD ^ (columns.value + 0.0).view(np.uint64)  # turns -0.0 into 0.0
    for _ in range(2):
        mixed *= ODD
        mixed ^= mixed >> np.uint64(32)
    return f"{int(mixed.sum(dtype=np.uint64)):016x}"


def hashes_of(ids: pa.ChunkedArray) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each id's bytes: the mixed sum of its eight-byte words."""
    hashes: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
    for chunk in filter(len, ids.chunks):
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = np.append(np.frombuffer(chunk.buffers()[2], np.uint8), np.zeros(8, np.uint8))
        words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # the eight bytes that start at each byte
        lengths = np.diff(offsets).astype(np.int64)
        counts = np.maximum((lengths + 7) // 8, 1)
        first = np.cumsum(counts) - counts
        start, at, left = np.zeros(1, np.int64), offsets[:-1], lengths
        if several := counts.max() > 1:
            start = 8 * (np.arange(counts.sum()) - np.repeat(first, counts))  # the position of each word in its id
            at, left = np.repeat(at, counts) + start, np.repeat(lengths, counts) - start
        mixed = words[at]
        mixed <<= 8 * np.maximum(8 - left, 0).view(np.uint64)  # without the bytes of the next id
        mixed ^= start.view(np.uint64) * ODD
        for _ in range(2):
            mixed *= ODD
            mixed ^= mixed >> np.uint64(32)
        if several:
            mixed = np.add.reduceat(mixed, first)
        hashes.append(np.asarray(mixed ^ lengths.view(np.uint64)))
    return np.concatenate(hashes)
