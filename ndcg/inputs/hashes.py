"""Rows with ids, as in a file or a table; rows with the same query and document are found by sorting hashes."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.messages import shown
from ..measure.scoring import in_threads
from ..measure.ties import Mask
from .columns import negated
from .ids import FEW_IDS, Order, RowNumbers, ascending, grouped, ordinals

HASHES_AT_A_TIME = 1 << 16  # rows that are sorted at a time: few enough for the processor's cache
ODD = np.uint64(0x9E3779B97F4A7C15)
UNITS = ["s", "ms", "us", "ns"]  # of times
NO_ROWS: RowNumbers = np.empty(0, np.int64)


class Columns(NamedTuple):
    """One side with ids, one row per document: of a file, a table, or of flat columns."""

    query: RowNumbers  # the query of each row, as an index into `query_ids`
    # the distinct query ids: an Arrow array of a file or table, a list of a mapping
    query_ids: Any
    document: pa.ChunkedArray  # the id of each row's document; or the number of a name
    value: NDArray[Any]  # the score or the relevance of each row; integers only beyond 2**53
    hashes: NDArray[np.uint64]  # the hashes of the document ids, from `hashes_of`
    # a function from the number of a row in its table or file to the words for it
    place_of: Callable[[int], str] | None = None
    numbers: RowNumbers | None = None  # the numbers of these rows in their table or file
    lacking: RowNumbers = NO_ROWS  # the numbers of its rows without a value, which are not here
    positions: int | None = None  # the number of queries without ids, numbered from 0; else None
    are_rows: bool = False  # whether the documents are the rows of LETOR, counted from 0, as text
    present: Mask | None = None  # False for a missing value; None if none is missing
    padding: Mask | None = None  # True for padding in a mapping; None if no value is known to be
    names: Sequence[Any] | None = None  # ids of several kinds, by their numbers; None for one kind
    form: str = ""  # what held the rows
    fields: Mapping[str, str] = {}  # the column of each role
    has_values: bool = True  # whether documents have values, in place of those by their order

    def place(self, row: int) -> str:
        """Return the words for a row's place in its table or file."""
        if self.place_of is None or self.numbers is None:
            return f"row {row}"
        return self.place_of(int(self.numbers[row]))

    def only(self, kept: Mask) -> "Columns":
        """Return the rows for which a mask is True."""
        present, padding = (
            None if mask is None else mask[kept] for mask in (self.present, self.padding)
        )
        rows = {name: getattr(self, name)[kept] for name in ("query", "value", "hashes")}
        document = self.document.filter(pa.array(kept))
        numbers = None if self.numbers is None else self.numbers[kept]
        return self._replace(
            **rows, document=document, present=present, padding=padding, numbers=numbers
        )

    def retrieved(self, present: Mask | None) -> "Columns":
        """Return the rows of a run that have a score, and the queries that have such rows."""
        if present is None:
            return self
        run = self.only(present)
        used = np.unique(run.query)
        return run._replace(
            query=np.searchsorted(used, run.query), query_ids=run.query_ids.take(pa.array(used))
        )

    def documents(self, rows: RowNumbers) -> list[Any]:
        """Return the ids of the documents of some rows."""
        found: list[Any] = self.document.take(pa.array(rows)).to_pylist()
        return found if self.names is None else [self.names[each] for each in found]

    def ordinals(self, rows: RowNumbers) -> RowNumbers:
        """Return the position of each of these rows' documents in the order of their ids."""
        if self.names is None:
            return ordinals(self.document.take(pa.array(rows)))
        rank = dict(zip(ascending(self.names), count(), strict=False))
        return np.array([rank[each] for each in self.documents(rows)], np.int64)

    def query_id(self, index: int) -> Any:
        """Return the id of a query."""
        found = self.query_ids[index]
        return found.as_py() if isinstance(found, pa.Scalar) else found

    def words(self, row: int, show: Callable[[Any], str] = shown) -> tuple[str, str]:
        """Return the ids of the document and of the query of a row, as messages show them."""
        return show(self.documents(np.array([row]))[0]), show(self.query_id(int(self.query[row])))


def repeated_row(columns: Columns) -> tuple[int, int] | None:
    """Return the first row that repeats the query and document of an earlier row, and that earlier row."""
    first, again = same_rows(columns)
    return min(zip(again.tolist(), first.tolist(), strict=True), default=None)


def best_rows(
    columns: Columns, keep: str, ascending: bool, present: Mask | None = None
) -> Mask | None:
    """Return a mask of the best row of each document of a query; None if no document is repeated.

    `keep` tells which of equal scores is the best, the "first" or the "last". A row without a
    score, where `present` is False, is the best only if the document has no other.
    """
    before = first_rows(columns)
    is_again = before != np.arange(len(before))
    if not is_again.any():
        return None
    rows = np.union1d(before[is_again], np.flatnonzero(is_again))
    scores = columns.value[rows]
    lowest_first = scores if ascending else negated(scores)
    in_order = rows if keep == "first" else -rows
    is_lacking = np.zeros(len(rows), bool) if present is None else ~present[rows]
    # A score that is nan comes first, so that it is kept, and refused later.
    keys = (in_order, lowest_first, ~np.isnan(lowest_first), is_lacking, before[rows])
    order = np.lexsort(keys)
    document = before[rows][order]
    is_best = np.ones(len(rows), bool)
    is_best[1:] = document[1:] != document[:-1]
    kept = np.ones(len(columns.query), bool)
    kept[rows[order[~is_best]]] = False
    return kept


def first_rows(*sides: Columns) -> RowNumbers:
    """Return for each row the first row with the same query and document, numbered over all inputs."""
    first, again = same_rows(*sides)
    row = np.arange(sum(len(side.query) for side in sides))
    row[again] = first
    while (row[row] != row).any():  # each row leads to the one before it, and so to the first
        row = row[row]
    return row


def same_rows(*sides: Columns) -> tuple[RowNumbers, RowNumbers]:
    """Return pairs of rows with the same query and document: each row with the next one, numbered over all inputs."""
    query, document = (
        np.concatenate([side.query for side in sides]),
        _together([side.document for side in sides]),
    )
    if len(query) <= FEW_IDS:
        return _one_by_one(np.arange(len(query)), query, document)
    queries = int(query.max()) + 1
    groups = [grouped(side.query, queries) for side in sides]
    until = np.sum([offsets for _, offsets in groups], axis=0)
    blocks = [0, *(np.flatnonzero(np.diff(until // HASHES_AT_A_TIME)) + 1).tolist(), queries]
    of_one_hash = in_threads(partial(_rows_of_one_hash, sides, groups), blocks[:-1], blocks[1:])
    first, second, common, of_one_query = map(np.concatenate, zip(*of_one_hash, strict=True))

    def are_of_one_document(first: RowNumbers, second: RowNumbers) -> NDArray[np.bool_]:
        return np.asarray(
            pc.equal(document.take(pa.array(first)), document.take(pa.array(second))).to_numpy()
        )

    several = pa.cpu_count() if len(first) > HASHES_AT_A_TIME else 1
    parts = (np.array_split(rows, several) for rows in (first, second))
    same = np.concatenate(in_threads(are_of_one_document, *parts)) & of_one_query
    if same.all():
        return first, second
    unlike = np.isin(common, common[~same])  # pairs with a hash that different ids share
    settled = _one_by_one(np.union1d(first[unlike], second[unlike]), query, document)
    first, second = (
        np.concatenate([rows[~unlike], others])
        for rows, others in zip((first, second), settled, strict=True)
    )
    return first, second


def _one_by_one(
    rows: RowNumbers, query: RowNumbers, document: pa.ChunkedArray
) -> tuple[RowNumbers, RowNumbers]:
    """Return the pairs of `same_rows` among a few rows."""
    last: dict[tuple[int, Any], int] = {}
    first, second = [], []
    for row, *ids in zip(
        rows.tolist(), query[rows].tolist(), document.take(pa.array(rows)).to_pylist(), strict=True
    ):
        if (before := last.get(key := tuple(ids))) is not None:
            first.append(before)
            second.append(row)
        last[key] = row
    return np.array(first, np.int64), np.array(second, np.int64)


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


def _together(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the ids of all columns, which are of one kind, in a type that holds each of them."""
    types = {each.type for each in columns if len(each)} or {columns[0].type}
    kind = max(types, key=lambda each: UNITS.index(getattr(each, "unit", "s")))
    if len(types) > 1 and not pa.types.is_timestamp(kind):  # integers with and without a sign
        kind = pa.string()
    return pa.chunked_array(
        [chunk for each in columns if len(each) for chunk in each.cast(kind).chunks], kind
    )


def digest_of(columns: Columns) -> str:
    """Return a digest of rows that does not depend on their order: a sum over their hashes."""
    of_query = hashes_of(pa.chunked_array([columns.query_ids]))[columns.query]
    value = columns.value.astype(np.float64) + 0.0  # 0.0 for -0.0
    mixed = _mixed((of_query * ODD ^ columns.hashes) * ODD ^ value.view(np.uint64))
    return f"{int(mixed.sum(dtype=np.uint64)):016x}"


def hashes_of(ids: pa.ChunkedArray) -> NDArray[np.uint64]:
    """Return a number of 64 bits for each id, the same for equal ids of any type."""
    if not pa.types.is_string(ids.type) and not pa.types.is_binary(ids.type):
        number = (
            ids.cast(pa.timestamp("s", ids.type.tz), safe=False)
            if pa.types.is_timestamp(ids.type)
            else ids
        )
        number = number.cast(pa.int32()) if pa.types.is_date(ids.type) else number
        whole = number if pa.types.is_uint64(number.type) else number.cast(pa.int64())
        return _mixed(whole.to_numpy().astype(np.uint64, copy=False).copy())
    hashes: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
    for chunk in filter(len, ids.chunks):
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[
            chunk.offset : chunk.offset + len(chunk) + 1
        ]
        data = np.append(np.frombuffer(chunk.buffers()[2], np.uint8), np.zeros(8, np.uint8))
        words = np.ndarray(
            len(data) - 7, "<u8", data, strides=(1,)
        )  # the eight bytes that start at each byte
        lengths = np.diff(offsets).astype(np.int64)
        counts = np.maximum((lengths + 7) // 8, 1)
        first = np.cumsum(counts) - counts
        start, at, left = np.zeros(1, np.int64), offsets[:-1], lengths
        if several := counts.max() > 1:
            start = 8 * (
                np.arange(counts.sum()) - np.repeat(first, counts)
            )  # the position of each word in its id
            at, left = np.repeat(at, counts) + start, np.repeat(lengths, counts) - start
        mixed = words[at]
        mixed <<= 8 * np.maximum(8 - left, 0).view(np.uint64)  # without the bytes of the next id
        mixed ^= start.view(np.uint64) * ODD
        mixed = _mixed(mixed)
        if several:
            mixed = np.add.reduceat(mixed, first)
        hashes.append(np.asarray(mixed ^ lengths.view(np.uint64)))
    return np.concatenate(hashes)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers in place, and return them."""
    for _ in range(2):
        numbers *= ODD
        numbers ^= numbers >> np.uint64(32)
    return numbers
