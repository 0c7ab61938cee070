"""A batch is in the file whole or not at all, in the type in which it came, and what is read back is what was added."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batch_file import END_OF_STREAM, Contents, Store, read_finished

TYPES = {name: pa.list_(kind) for name, kind in (("32", pa.float32()), ("64", pa.float64()))}


def table_of(rows: int, bits: str, value: float = 0.5) -> pa.Table:
    return pa.table({"predictions": pa.array([[value, None]] * rows, TYPES[bits])})


@given(st.lists(st.tuples(st.sampled_from([1, 1, 2, 5]), st.sampled_from(["32", "64"])), max_size=8), st.booleans())
def test_what_is_read_is_what_was_added_in_its_type(
    tmp_path_factory: pytest.TempPathFactory, added: list[tuple[int, str]], read_between: bool
) -> None:
    path = str(tmp_path_factory.mktemp("store") / "a.arrow")
    tables = [table_of(rows, bits, at) for at, (rows, bits) in enumerate(added)]
    found = []
    for store in (Store(path), Store(None)):
        contents = Contents()
        for table in tables:
            contents = store.add(contents, table)
            if read_between and store.path:
                store.tables(contents)
                store.finish(contents)
        assert contents.rows == sum(table.num_rows for table in tables)
        found.append(store.tables(contents))
        if store.path:
            store.finish(contents)
            found.append(read_finished(path, 0))
        store.close()
    for read in found:
        rows = [row for table in read for row in table["predictions"].to_pylist()]
        assert rows == [row for table in tables for row in table["predictions"].to_pylist()]
        assert {table["predictions"].type for table in read} == {TYPES[bits] for _, bits in added}


def test_thousands_of_single_queries_become_few_batches(tmp_path: Path) -> None:
    store, contents = Store(str(tmp_path / "a.arrow")), Contents()
    for at in range(2500):
        contents = store.add(contents, table_of(1, "64", at))
    store.finish(contents)
    (table,) = read_finished(str(tmp_path / "a.arrow"), 0)
    assert table.num_rows == 2500
    assert len(table.to_batches()) == 3


def test_bytes_beyond_the_contents_are_cut_off(tmp_path: Path) -> None:
    """What an interrupt left, and a table whose contents nobody took over."""
    path = tmp_path / "a.arrow"
    store = Store(str(path))
    contents = store.add(Contents(), table_of(2, "64"))
    with path.open("ab") as file:
        file.write(b"half a batch")
    store.add(contents, table_of(4, "64", 9))
    contents = store.add(contents, table_of(3, "64", 7))
    store.finish(contents)
    (table,) = read_finished(str(path), 0)
    assert table["predictions"].to_pylist() == [[0.5, None]] * 2 + [[7.0, None]] * 3


def test_what_was_read_stays_while_more_is_added_and_when_the_file_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    store = Store(str(path))
    contents = store.add(Contents(), table_of(2, "64"))
    (read,) = store.tables(contents)
    store.add(contents, table_of(1000, "32"))
    path.unlink()
    store.close()
    assert read["predictions"].to_pylist() == [[0.5, None]] * 2


@pytest.mark.parametrize("left", [0, 3, 200])
def test_a_file_without_its_end_is_refused(tmp_path: Path, left: int) -> None:
    path = tmp_path / "a.arrow"
    store = Store(str(path))
    store.finish(store.add(Contents(), table_of(2, "64")))
    assert path.read_bytes().endswith(END_OF_STREAM)
    os.truncate(path, left)
    with pytest.raises(ValueError, match="the cache file of process 3 is cut off"):
        read_finished(str(path), 3)
    path.unlink()
    with pytest.raises(ValueError, match="the cache file of process 3 is gone"):
        read_finished(str(path), 3)
