"""A batch is in the file whole or not at all, in its own type, and is read back unchanged."""

import os
import struct
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg.scores.batch_file import END_OF_STREAM, Contents, Store, is_finished, read_finished

TYPES = {name: pa.list_(kind) for name, kind in (("32", pa.float32()), ("64", pa.float64()))}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.arrow"


def table_of(rows: int, bits: str, value: float = 0.5) -> pa.Table:
    return pa.table({"predictions": pa.array([[value, None]] * rows, TYPES[bits])})


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from([1, 1, 2, 5]), st.sampled_from(["32", "64"])), max_size=8), st.booleans())
def test_batches_are_read_back_with_their_values_and_types(
    tmp_path_factory: pytest.TempPathFactory, added: list[tuple[int, str]], read_between: bool
) -> None:
    folder = tmp_path_factory.mktemp("store")
    path = str(folder / "a.arrow")
    tables = [table_of(rows, bits, at) for at, (rows, bits) in enumerate(added)]
    found = []
    for store in (Store(path), Store(folder=str(folder)), Store()):
        contents = Contents()
        for table in tables:
            contents = store.add(contents, table)
            if read_between:
                store.tables(contents)
                if store.path:
                    store.finish(contents)
                    store.reopen()
        assert contents.rows == sum(table.num_rows for table in tables)
        found.append(store.tables(contents))
        if store.path:
            store.finish(contents)
            found.append(read_finished(path, 0))
        store.close()
    assert [each.name for each in folder.iterdir()] == ["a.arrow"]
    for read in found:
        rows = [row for table in read for row in table["predictions"].to_pylist()]
        assert rows == [row for table in tables for row in table["predictions"].to_pylist()]
        assert {table["predictions"].type for table in read} == {TYPES[bits] for _, bits in added}


def test_thousands_of_single_queries_become_few_batches(path: Path) -> None:
    store, contents = Store(str(path)), Contents()
    for at in range(2500):
        contents = store.add(contents, table_of(1, "64", at))
    store.finish(contents)
    (table,) = read_finished(str(path), 0)
    assert table.num_rows == 2500
    assert len(table.to_batches()) == 3


def test_bytes_beyond_the_contents_are_cut_off(path: Path) -> None:
    """The rest of an interrupted write, and a table with contents that nobody took over."""
    store = Store(str(path))
    contents = store.add(Contents(), table_of(2, "64"))
    with path.open("ab") as file:
        file.write(b"half a batch")
    store.add(contents, table_of(4, "64", 9))
    contents = store.add(contents, table_of(3, "64", 7))
    store.finish(contents)
    (table,) = read_finished(str(path), 0)
    assert table["predictions"].to_pylist() == [[0.5, None]] * 2 + [[7.0, None]] * 3


def test_batches_that_were_read_stay_while_more_are_added_and_when_the_file_is_gone(path: Path) -> None:
    store = Store(str(path))
    contents = store.add(Contents(), table_of(2, "64"))
    (read,) = store.tables(contents)
    store.add(contents, table_of(1000, "32"))
    path.unlink()
    store.close()
    assert read["predictions"].to_pylist() == [[0.5, None]] * 2


@pytest.mark.parametrize("left", [0, 3, 200])
def test_a_file_without_its_end_is_rejected(path: Path, left: int) -> None:
    store = Store(str(path))
    store.finish(store.add(Contents(), table_of(2, "64")))
    os.truncate(path, left)
    with pytest.raises(ValueError, match="the cache file of process 3 is cut off"):
        read_finished(str(path), 3)
    path.unlink()
    with pytest.raises(ValueError, match="the cache file of process 3 is gone"):
        read_finished(str(path), 3)


def test_a_file_that_another_cut_off_is_not_read(path: Path) -> None:
    store = Store(str(path))
    contents = store.add(Contents(), table_of(2, "64"))
    os.truncate(path, contents.end - 1)
    with pytest.raises(ValueError, match=r"was removed, replaced or cut off by another: .*a\.arrow; its"):
        store.tables(contents)


def test_a_file_is_finished_by_nothing_but_its_mark(path: Path) -> None:
    """The end of a stream before another type does not finish it, nor do bytes that look like a mark."""
    store = Store(str(path))
    ids = pa.table({"query_id": pa.array([struct.pack("<q", length) for length in range(3000)], pa.large_binary())})
    contents = store.add(store.add(Contents(), table_of(2, "64")), table_of(2, "32"))
    contents = store.add(contents, ids)
    assert path.read_bytes().count(END_OF_STREAM) >= 2
    written, cut = path.read_bytes(), path.with_name("cut.arrow")
    cut.write_bytes(written)
    for end in range(len(written), -1, -1):
        if end < 3000 or end > len(written) - 100:
            os.truncate(cut, end)
            assert not is_finished(str(cut)), end
    store.finish(contents)
    assert is_finished(str(path))
    assert sum(table.num_rows for table in read_finished(str(path), 1)) == contents.rows == 3004


def test_a_mark_of_which_a_part_was_written_is_none(path: Path) -> None:
    store = Store(str(path))
    store.finish(store.add(Contents(), table_of(2, "64")))
    whole = path.read_bytes()
    for part in range(8):
        path.write_bytes(whole[:part] + bytes(8 - part) + whole[8:])
        assert is_finished(str(path)) == (whole[part:8] == bytes(8 - part))  # the rest is 0 in either


def test_a_file_that_is_reopened_is_not_finished(path: Path) -> None:
    store = Store(str(path))
    store.finish(store.add(Contents(), table_of(2, "64")))
    assert is_finished(str(path))
    store.reopen()
    assert not is_finished(str(path))
