"""A batch is in the file whole or not at all, in the type in which it came, and what is read back is what was added."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batches import END_OF_STREAM, Writer, read_batches

TYPES = {name: pa.list_(kind) for name, kind in (("32", pa.float32()), ("64", pa.float64()))}


def table_of(rows: int, bits: str, value: float = 0.5) -> pa.Table:
    return pa.table({"predictions": pa.array([[value, None]] * rows, TYPES[bits])})


@given(st.lists(st.tuples(st.sampled_from([1, 1, 2, 5]), st.sampled_from(["32", "64"])), max_size=8), st.booleans())
def test_what_is_read_is_what_was_added_in_its_type(
    tmp_path_factory: pytest.TempPathFactory, added: list[tuple[int, str]], read_between: bool
) -> None:
    path = str(tmp_path_factory.mktemp("batches") / "a.arrow")
    on_disk, in_memory = Writer(path), Writer(None)
    tables = [table_of(rows, bits, at) for at, (rows, bits) in enumerate(added)]
    for table in tables:
        for writer in (on_disk, in_memory):
            writer.write(table)
            if read_between:
                writer.finalize()
    for writer in (on_disk, in_memory):
        writer.finalize()
        assert len(writer) == sum(table.num_rows for table in tables)
    for found in (read_batches(path, 0), in_memory.tables()):
        rows = [row for table in found for row in table["predictions"].to_pylist()]
        assert rows == [row for table in tables for row in table["predictions"].to_pylist()]
        assert {table["predictions"].type for table in found} == {TYPES[bits] for _, bits in added}
    on_disk.close()


def test_thousands_of_single_queries_become_few_batches(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path / "a.arrow"))
    for at in range(2500):
        writer.write(table_of(1, "64", at))
    writer.finalize()
    (table,) = read_batches(str(tmp_path / "a.arrow"), 0)
    assert table.num_rows == 2500
    assert len(table.to_batches()) == 3


def test_bytes_that_an_interrupt_left_are_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    writer = Writer(str(path))
    writer.write(table_of(2, "64"))
    with path.open("ab") as file:
        file.write(b"half a batch")
    writer.write(table_of(3, "64", 7))
    writer.finalize()
    assert sum(table.num_rows for table in read_batches(str(path), 0)) == 5


@pytest.mark.parametrize("left", [0, 3, 200])
def test_a_file_without_its_end_is_refused(tmp_path: Path, left: int) -> None:
    path = tmp_path / "a.arrow"
    writer = Writer(str(path))
    writer.write(table_of(2, "64"))
    writer.finalize()
    assert path.read_bytes().endswith(END_OF_STREAM)
    os.truncate(path, left)
    with pytest.raises(ValueError, match="the cache file of process 3 is cut off"):
        read_batches(str(path), 3)
    path.unlink()
    with pytest.raises(ValueError, match="the cache file of process 3 is gone"):
        read_batches(str(path), 3)
