"""Rows with ids, as in a file or a table.

Sorting hashes tells which rows have the same query and document.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..measure.messages import shown
from ..measure.scoring import in_threads
from ..measure.ties import Mask
from .columns import mask_of, negated, taken
from .ids import FEW_IDS, Order, RowNumbers, grouped, ordinals

HASHES_AT_A_TIME = 1 << 16  # rows that are sorted at a time: few enough for the processor's cache
ODD = np.uint64(0x9E3779B97F4A7C15)
UNITS = ["s", "ms", "us", "ns"]  # of times
NO_ROWS: RowNumbers = np.empty(0, np.int64)


class Columns(NamedTuple):
    """One side with ids, one row per document: of a file, a table, or of flat columns."""

    query: RowNumbers  # the queries of the rows, as indices into `query_ids`
    query_ids: pa.Array  # the distinct query ids
    document: pa.ChunkedArray  # the ids of the documents
    value: NDArray[Any]  # the scores or the relevances; integers only beyond 2**53
    hashes: NDArray[np.uint64]  # the hashes of the document ids, from `hashes_of`
    # a function from the number of a row in its table or file to the words for it
    place_of: Callable[[int], str] | None = None
    numbers: RowNumbers | None = None  # the numbers of these rows in their table or file
    lacking: RowNumbers = NO_ROWS  # the numbers of its rows without a value, which are not here
    positions: int | None = None  # the number of queries without ids, numbered from 0; else None
    are_rows: bool = False  # whether the documents are the rows of LETOR, counted from 0, as text
    present: Mask | None = None  # False for a missing value; None if none is missing
    padding: Mask | None = None  # True for padding in a mapping; None if no value is known to be
    form: str = ""  # what held the rows
    fields: Mapping[str, str] = {}  # the columns by role
    others: Sequence[str] = ()  # the columns that are not read
    has_values: bool = True  # whether documents have values; else their order makes them
    has_ranks: bool = False  # whether scores were held against ranks beside them

    @property
    def first_id(self) -> Any:
        """The first id of a document; None if there is none."""
        return next(iter(self.first_ids(1)), None)

    @property
    def first_query(self) -> Any:
        """The id of the first query; None if there is none."""
        return next(iter(self.query_ids[:1].to_pylist()), None)

    def first_ids(self, count: int) -> list[Any]:
        """Return so many ids of documents."""
        return list(self.document[:count].to_pylist())

    def ids(self) -> list[Any]:
        """Return the ids of all documents."""
        return list(self.document.to_pylist())

    def place(self, row: int) -> str:
        """Return the words for a row's place in its table or file."""
        if self.place_of is None or self.numbers is None:
            return f"row {row}"
        return self.place_of(int(self.numbers[row]))

    def only(self, kept: Mask) -> "Columns":
        """Return the rows for which a mask is True."""
        return self._replace(
            query=self.query[kept],
            document=self.document.filter(pa.array(kept)),
            value=self.value[kept],
            hashes=self.hashes[kept],
            numbers=taken(self.numbers, kept),
            present=taken(self.present, kept),
            padding=taken(self.padding, kept),
        )

    def retrieved(self, present: Mask | None) -> "Columns":
        """Return the rows of a run that have a score, and the queries that have such rows."""
        if present is None:
            return self
        run = self.only(present)
        used = np.unique(run.query)
        query_ids = run.query_ids.take(pa.array(used))
        return run._replace(query=np.searchsorted(used, run.query), query_ids=query_ids)

    def documents(self, rows: RowNumbers) -> list[Any]:
        """Return the ids of the documents of some rows."""
        return list(self.document.take(pa.array(rows)).to_pylist())

    def ordinals(self, rows: RowNumbers) -> RowNumbers:
        """Return the positions of the documents of some rows in the order of their ids."""
        return ordinals(self.document.take(pa.array(rows)))

    def query_id(self, index: int) -> Any:
        """Return the id of a query."""
        return self.query_ids[index].as_py()

    def words(self, row: int, show: Callable[[Any], str] = shown) -> tuple[str, str]:
        """Return the ids of the document and of the query of a row, as messages show them."""
        return show(self.documents(np.array([row]))[0]), show(self.query_id(int(self.query[row])))


def repeated_row(columns: Columns) -> tuple[int, int] | None:
    """Return the first row with the query and document of an earlier row, and that earlier row."""
    first, again = same_rows(columns)
    return min(zip(again.tolist(), first.tolist(), strict=True), default=None)


def best_rows(columns: Columns, keep: str, ascending: bool, present: Mask | None = None) -> Mask:
    """Return a mask of the best rows of the documents of queries.

    `keep` tells which of equal scores is the best, the "first" or the "last". A row without a
    score, where `present` is False, is the best only if the document has no other.
    """
    before = first_rows(columns)
    is_again = before != np.arange(len(before))
    rows = np.union1d(before[is_again], np.flatnonzero(is_again))
    scores = columns.value[rows]
    lowest_first = scores if ascending else negated(scores)
    in_order = rows if keep == "first" else -rows
    is_lacking = ~mask_of(len(rows), taken(present, rows))
    # A score that is nan comes first, so that it is kept, and refused later.
    keys = (in_order, lowest_first, ~np.isnan(lowest_first), is_lacking, before[rows])
    order = np.lexsort(keys)
    # Rows are now by document, the best one of a document first.
    document = before[rows][order]
    is_best = np.ones(len(rows), bool)
    is_best[1:] = document[1:] != document[:-1]
    kept = np.ones(len(columns.query), bool)
    kept[rows[order[~is_best]]] = False
    return kept


def first_rows(*sides: Columns) -> RowNumbers:
    """Return for every row the first of its query and document, numbered over all sides."""
    first, again = same_rows(*sides)
    row = np.arange(sum(len(side.query) for side in sides))
    row[again] = first
    while (row[row] != row).any():  # every row leads to the one before it, and so to the first
        row = row[row]
    return row


def same_rows(*sides: Columns) -> tuple[RowNumbers, RowNumbers]:
    """Return pairs of rows with the same query and document: a row and the next one.

    They are numbered over all sides.
    """
    query = np.concatenate([side.query for side in sides])
    if len(query) <= FEW_IDS:
        documents = chain(*(side.document.to_pylist() for side in sides))
        return _one_by_one(range(len(query)), query.tolist(), documents)
    document = _together([side.document for side in sides])
    queries = int(query.max()) + 1
    groups = [grouped(side.query, queries) for side in sides]
    until = np.sum([offsets for _, offsets in groups], axis=0)
    blocks = [0, *(np.flatnonzero(np.diff(until // HASHES_AT_A_TIME)) + 1).tolist(), queries]
    alike = in_threads(partial(_rows_of_one_hash, sides, groups), blocks[:-1], blocks[1:])
    first, second, common, have_one_query = map(np.concatenate, zip(*alike, strict=True))

    def have_one_document(first: RowNumbers, second: RowNumbers) -> NDArray[np.bool_]:
        are_equal = pc.equal(document.take(pa.array(first)), document.take(pa.array(second)))
        return np.asarray(are_equal.to_numpy())

    several = pa.cpu_count() if len(first) > HASHES_AT_A_TIME else 1
    parts = (np.array_split(rows, several) for rows in (first, second))
    same = np.concatenate(in_threads(have_one_document, *parts)) & have_one_query
    if same.all():
        return first, second
    unlike = np.isin(common, common[~same])  # pairs with a hash that different ids share
    rows = np.union1d(first[unlike], second[unlike])
    documents = document.take(pa.array(rows)).to_pylist()
    more_first, more_second = _one_by_one(rows.tolist(), query[rows].tolist(), documents)
    first = np.concatenate([first[~unlike], more_first])
    second = np.concatenate([second[~unlike], more_second])
    return first, second


def _one_by_one(
    rows: Iterable[int], queries: Iterable[int], documents: Iterable[Any]
) -> tuple[RowNumbers, RowNumbers]:
    """Return the pairs of `same_rows` among a few rows, whose ids are compared by Python."""
    last: dict[tuple[int, Any], int] = {}
    first = []
    second = []
    for row, key in zip(rows, zip(queries, documents, strict=True), strict=True):
        if key in last:
            first.append(last[key])
            second.append(row)
        last[key] = row
    return np.array(first, np.int64), np.array(second, np.int64)


def _rows_of_one_hash(
    sides: Sequence[Columns], groups: Sequence[tuple[Order, RowNumbers]], start: int, stop: int
) -> tuple[RowNumbers, RowNumbers, NDArray[np.uint64], NDArray[np.bool_]]:
    """Return pairs of rows with equal hashes among some queries.

    Also the bits that their hashes have in common, and whether their queries are equal.
    """
    rows = []
    queries = []
    keys = []
    before = 0
    for side, (order, offsets) in zip(sides, groups, strict=True):
        span = slice(*offsets[[start, stop]].tolist())
        if isinstance(order, slice):  # rows are grouped by query already
            places: Order = span  # no copy
            rows.append(before + np.arange(span.start, span.stop))
        else:
            places = order[span]
            rows.append(before + places)
        queries.append(side.query[places])
        keys.append(queries[-1].view(np.uint64) * ODD + side.hashes[places])
        before += len(side.query)
    row = np.concatenate(rows)
    query = np.concatenate(queries)
    key = np.concatenate(keys)
    # The lowest bits of a hash give way to the number of its row, so that sorting keeps it.
    row_bits = np.uint64((1 << len(key).bit_length()) - 1)
    key &= ~row_bits
    key |= np.arange(len(key), dtype=np.uint64)
    key.sort()
    starts = np.flatnonzero((key[1:] ^ key[:-1]) <= row_bits)
    first = (key[starts] & row_bits).view(np.int64)
    second = (key[starts + 1] & row_bits).view(np.int64)
    return row[first], row[second], key[starts] & ~row_bits, query[first] == query[second]


def _together(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the ids of all columns, which are of one kind, in a type that holds all of them."""
    filled = [column for column in columns if len(column)]  # the type of others may be any
    types = {column.type for column in filled}
    kind = max(types, key=lambda kind: UNITS.index(getattr(kind, "unit", "s")))
    if len(types) > 1 and not pa.types.is_timestamp(kind):  # integers with and without a sign
        kind = pa.string()
    chunks = chain.from_iterable(column.cast(kind).chunks for column in filled)
    return pa.chunked_array(list(chunks), kind)


def digest_of(columns: Columns) -> str:
    """Return a digest of rows that does not depend on their order: a sum over their hashes."""
    query = hashes_of(pa.chunked_array([columns.query_ids]))[columns.query]
    value = columns.value.astype(np.float64) + 0.0  # 0.0 for -0.0
    mixed = _mixed((query * ODD ^ columns.hashes) * ODD ^ value.view(np.uint64))
    return f"{int(mixed.sum(dtype=np.uint64)):016x}"


def hashes_of(ids: pa.ChunkedArray) -> NDArray[np.uint64]:
    """Return a 64-bit hash of every id, the same for equal ids of any type."""
    if pa.types.is_string(ids.type) or pa.types.is_binary(ids.type):
        hashes = [_hashes_of_text(chunk) for chunk in ids.chunks if len(chunk)]
        return np.concatenate([np.empty(0, np.uint64), *hashes])
    if pa.types.is_timestamp(ids.type):
        ids = ids.cast(pa.timestamp("s", ids.type.tz), safe=False)
    if pa.types.is_date(ids.type):
        ids = ids.cast(pa.int32())
    if not pa.types.is_uint64(ids.type):
        ids = ids.cast(pa.int64())
    return _mixed(ids.to_numpy().astype(np.uint64, copy=False).copy())


def _hashes_of_text(ids: pa.Array) -> NDArray[np.uint64]:
    """Return a 64-bit hash of every id, the sum over its words of eight bytes."""
    _, ends, text = ids.buffers()
    offsets = np.frombuffer(ends, np.int32)[ids.offset : ids.offset + len(ids) + 1]
    data = np.zeros(text.size + 8, np.uint8)
    data[:-8] = np.frombuffer(text, np.uint8)
    words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # that start at every byte
    lengths = (offsets[1:] - offsets[:-1]).astype(np.int64)
    counts = np.maximum((lengths + 7) // 8, 1)
    start = np.zeros(1, np.int64)  # the positions of words in their ids
    places = offsets[:-1]
    left = lengths
    has_several = counts.max() > 1
    if has_several:
        first = np.cumsum(counts) - counts
        start = 8 * (np.arange(counts.sum()) - np.repeat(first, counts))
        places = np.repeat(places, counts) + start
        left = np.repeat(lengths, counts) - start
    mixed = words[places]
    mixed <<= 8 * np.maximum(8 - left, 0).view(np.uint64)  # without the bytes of the next id
    mixed ^= start.view(np.uint64) * ODD
    mixed = _mixed(mixed)
    if has_several:
        mixed = np.add.reduceat(mixed, first)
    return np.asarray(mixed ^ lengths.view(np.uint64))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers in place, and return them."""
    for _ in range(2):
        numbers *= ODD
        numbers ^= numbers >> np.uint64(32)
    return numbers
