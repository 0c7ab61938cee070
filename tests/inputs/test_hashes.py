"""Rows of one query and document are found in any order, whichever ids share a hash."""

import numpy as np
import pyarrow as pa
import pytest

from ndcg.inputs import hashes as room


def test_the_hash_of_an_id_is_of_its_bytes_alone() -> None:
    ids = [
        text * times
        for text in ("a", "\0", "é", "doc")
        for times in (1, 2, 3, 7, 8, 9, 15, 16, 17, 1000)
    ]
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
    monkeypatch.setattr(room, "FEW_IDS", 0)
    rng = np.random.default_rng(sides)
    given = []
    for rows in (0, 90, 150)[-sides:]:
        query = rng.integers(0, 7, rows)
        query = np.sort(query) if are_grouped else query
        ids = [f"{'d' * (at % 20)}{at}" for at in rng.integers(0, 40, rows).tolist()]
        document = pa.chunked_array([ids[: rows // 2], ids[rows // 2 :]], pa.string())
        hashed = room.hashes_of(document) % np.uint64(hashes)
        given.append(
            room.Columns(query, pa.array(map(str, range(7))), document, rng.random(rows), hashed)
        )
    last: dict[tuple[int, str], int] = {}
    expected = []
    keys = [
        key
        for side in given
        for key in zip(side.query.tolist(), side.document.to_pylist(), strict=True)
    ]
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
    assert [rows.tolist() for rows in room.same_rows(side)] == [
        [70_000, 70_003],
        [70_001, len(query) - 1],
    ]
