"""Files that are too large are rejected before they fill the memory."""

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from file_helpers import FORMS, Write
from file_helpers import write as write
from refusals import refusal
from sources import PACKED, as_arrow

from ndcg.files import reader
from ndcg.files.content import Limits

MOST = {"bytes": 20, "uncompressed": 20, "rows": 2, "queries": 1, "columns": 2}
# the limits of each file, whose names are in its errors
FORMATS = {
    "file.txt": ["bytes", "uncompressed", "rows", "queries"],
    "file.csv": [*MOST],
    "file.json": ["bytes", "uncompressed", "rows", "queries"],
    "file.jsonl": [*MOST],
    "file.parquet": [*MOST],
    "file.arrow": ["rows", "queries", "columns"],
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("form", FORMATS)
def test_limits_bound_every_format(write: Write, form: str, packed: str) -> None:
    path = write(PACKED[packed](FORMS[form]), form + packed)
    uncompressed = None if form == "file.arrow" else 10_000
    assert len(reader.read_columns(path, "run", Limits(10_000, uncompressed, 3, 2, 3)).value) == 3
    for limit in FORMATS[form]:
        with pytest.raises(ValueError, match=limit):
            reader.read_columns(path, "run", Limits(**{limit: MOST[limit]}))


@pytest.mark.parametrize("packed", PACKED)
def test_the_size_of_an_arrow_file_is_bounded_where_it_is_known(write: Write, packed: str) -> None:
    path = write(PACKED[packed](FORMS["file.arrow"]), "file.arrow" + packed)
    with pytest.raises(ValueError, match=r"uncompressed|Parquet"):
        reader.read_columns(path, "run", Limits(uncompressed=20))


def test_a_file_that_unpacks_to_more_than_the_limit_is_not_unpacked_whole(write: Write) -> None:
    limits = Limits(bytes=1 << 20, uncompressed=1 << 22)
    for pack in (PACKED[".gz"], PACKED[".zst"]):
        for content in (bytes(1 << 24), b"q Q0 d 1 1 tag\n" * (1 << 20), b"[" + b" " * (1 << 24)):
            with pytest.raises(ValueError, match=r"uncompressed|line"):
                reader.read_columns(write(pack(content), "bomb"), "run", limits)


def parquet(query: Any, rows: int = 10_000, **how: Any) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table(
        {"query": query, "document": list(map(str, range(rows))), "score": np.ones(rows)}
    )
    pa.parquet.write_table(table, sink, **{"compression": "zstd", **how})
    content: bytes = sink.getvalue().to_pybytes()
    return content


ZEROS = "0" * 10_000
TABLE_BOMBS = {
    "a text of many rows": lambda: parquet(
        pa.repeat(ZEROS, 10_000).dictionary_encode(), store_schema=False
    ),
    "a category of many rows": lambda: parquet(pa.repeat(ZEROS, 10_000).dictionary_encode()),
    "a long text": lambda: parquet([*["q"] * 9_999, "0" * (1 << 25)], use_dictionary=False),
    "the beginning of many texts": lambda: parquet(
        [f"{ZEROS}{row}" for row in range(10_000)],
        use_dictionary=False,
        column_encoding={"query": "DELTA_BYTE_ARRAY"},
    ),
    "an Arrow file": lambda: as_arrow(
        partial(pa.ipc.new_file, options=pa.ipc.IpcWriteOptions(compression="zstd")),
        pa.table({"query": ["q"], "document": ["0" * (1 << 25)], "score": [1.0]}),
    ),
}


@pytest.mark.parametrize("packed", ["", ".zst"])
@pytest.mark.parametrize("bomb", TABLE_BOMBS)
def test_a_small_table_that_unpacks_to_much_is_rejected_before(
    write: Write, bomb: str, packed: str
) -> None:
    path = write(PACKED[packed](TABLE_BOMBS[bomb]()), "bomb" + packed)
    assert path.stat().st_size < 1 << 20
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match=r"uncompressed|Parquet|DELTA_BYTE_ARRAY"):
        reader.read_columns(path, "run", Limits(bytes=1 << 20, uncompressed=1 << 22))
    assert pa.total_allocated_bytes() - before < 1 << 23


@pytest.mark.parametrize(
    ("compression", "version", "dictionary"),
    [
        *(
            ("zstd", version, dictionary)
            for version in ("1.0", "2.0")
            for dictionary in (True, False)
        ),
        *(
            (compression, "1.0", True)
            for compression in ("none", "snappy", "gzip", "lz4", "brotli")
        ),
    ],
)
def test_limits_accept_a_file_that_fits_from_every_writer(
    write: Write, version: str, compression: str, dictionary: bool
) -> None:
    how = {"compression": compression, "data_page_version": version, "use_dictionary": dictionary}
    pages = {"data_page_size": 1000, "row_group_size": 3000, "write_page_checksum": True}
    path = write(
        parquet([f"query {row % 7}" for row in range(10_000)], **how, **pages), "a.parquet"
    )
    limits = Limits(1 << 20, 1 << 20, 10_000, 7, 3)
    assert reader.read_run(path, limits) == reader.read_run(path)
    with pytest.raises(ValueError, match="uncompressed"):
        reader.read_run(path, limits._replace(uncompressed=50_000))


def test_the_schema_of_a_table_is_bounded_before_it_is_read(write: Write) -> None:
    sink = pa.BufferOutputStream()
    schema = pa.schema([(str(at), pa.int8()) for at in range(1 << 16)])
    pa.parquet.ParquetWriter(sink, schema, store_schema=False).close()
    path = write(sink.getvalue().to_pybytes(), "wide.parquet")
    with pytest.raises(OSError, match="limit"):
        reader.read_run(path, Limits(uncompressed=1 << 22))
    with refusal("", str(path)):  # names all that it lacks
        reader.read_run(path)
