"""Rows of one query and document are found, whatever their order, and whichever ids share a hash."""

import datetime
import doctest
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ndcg import compute
from ndcg.inputs import hashes as room


def test_the_hash_of_an_id_is_of_its_bytes_alone() -> None:
    ids = [text * times for text in ("a", "\0", "é", "doc") for times in (1, 2, 3, 7, 8, 9, 15, 16, 17, 1000)]
    ids += ["", *(f"doc{at}" for at in range(1000)), ""]
    together = room.hashes_of(pa.chunked_array([ids]))
    assert room.hashes_of(pa.chunked_array([[each] for each in ids])).tolist() == together.tolist()
    assert len(set(together.tolist())) == len(set(ids))


@pytest.mark.parametrize("block", [1, 50, 1 << 16])
@pytest.mark.parametrize("hashes", [1, 3, 1 << 63])
@pytest.mark.parametrize("sides", [1, 2, 3])
@pytest.mark.parametrize("are_grouped", [True, False])
def test_each_row_is_paired_with_the_next_of_its_query_and_document(
    monkeypatch: pytest.MonkeyPatch, block: int, hashes: int, sides: int, are_grouped: bool
) -> None:
    monkeypatch.setattr(room, "HASHES_AT_A_TIME", block)
    rng = np.random.default_rng(sides)
    given = []
    for rows in (0, 90, 150)[-sides:]:
        query = rng.integers(0, 7, rows)
        query = np.sort(query) if are_grouped else query
        ids = [f"{'d' * (at % 20)}{at}" for at in rng.integers(0, 40, rows).tolist()]
        document = pa.chunked_array([ids[: rows // 2], ids[rows // 2 :]], pa.string())
        hashed = room.hashes_of(document) % np.uint64(hashes)
        given.append(room.Columns(query, pa.array(map(str, range(7))), document, rng.random(rows), hashed))
    last: dict[tuple[int, str], int] = {}
    expected = []
    keys = [key for side in given for key in zip(side.query.tolist(), side.document.to_pylist(), strict=True)]
    for row, key in enumerate(keys):
        if key in last:
            expected.append((last[key], row))
        last[key] = row
    assert expected
    first, second = room.same_rows(*given)
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == sorted(expected)


@pytest.mark.parametrize("bits", [1, 8, 63])
def test_a_large_query_and_small_ones_are_searched_alike(bits: int) -> None:
    query = np.repeat([0, 1, 2], [70_000, 3, 70_000])
    ids = [str(at) for at in range(len(query))]
    ids[70_001], ids[-1] = ids[70_000], ids[70_003]
    document = pa.chunked_array([ids])
    hashes = room.hashes_of(document) >> np.uint64(64 - bits)
    side = room.Columns(query, pa.array("abc"), document, np.zeros(len(query)), hashes)
    assert [rows.tolist() for rows in room.same_rows(side)] == [[70_000, 70_003], [70_001, len(query) - 1]]


def test_the_doctests_of_the_module_pass() -> None:
    outcome = doctest.testmod(room)
    assert outcome.attempted > 0
    assert outcome.failed == 0


TIME = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
KINDS: dict[str, tuple[list[Any], list[pa.DataType]]] = {
    "text": (["a", "", np.str_("a")], [pa.string(), pa.large_string(), pa.string_view()]),
    "integers": ([7, 2**70, np.int8(7), np.uint64(7)], [pa.int8(), pa.uint64()]),
    "bytes": ([b"a", np.bytes_(b"a")], [pa.binary(), pa.large_binary()]),
    "dates": ([TIME.date()], [pa.date32(), pa.date64()]),
    "times": ([TIME, pd.Timestamp(TIME)], [pa.timestamp("s"), pa.timestamp("ns", "UTC")]),
    "": (
        [None, math.nan, 1.0, True, np.bool_(True), np.float32(1), np.timedelta64(1, "s"), pd.NaT, pd.NA, ("a", 1), 1j],
        [pa.null(), pa.float64(), pa.bool_(), pa.duration("s"), pa.decimal128(5), pa.list_(pa.string())],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_id_is_text_an_integer_bytes_a_date_or_a_time(kind: str) -> None:
    values, types = KINDS[kind]
    assert {room.id_kind(type(each)) for each in values} | {room.id_kind(each) for each in types} == {kind}


@pytest.mark.parametrize(
    "ids", [[b"1", "1"], ["1", b"1"], [datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 5)]]
)
def test_rows_have_ids_of_one_kind(ids: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"^query_ids must be .* in row 0 and .* in row 1; give all as text"):
        compute(predictions=[1.0, 2.0], references=[1, 0], query_ids=ids)
