"""Shared by the tests of files: a run and qrels, one ranking in every format, and refusals."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from refusals import refusal
from sources import FILES, ODD_FILES, RUN_FILES, as_parquet, records

from ndcg.files import reader

Write = Callable[..., Path]


RUN = "q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 -1 tag\nq2 Q0 d1 1 0.25 tag\n"
RUN_READ = {"q1": {"d1": 2.5, "d2": -1.0}, "q2": {"d1": 0.25}}
QRELS = "q1 0 d1 1\nq1 0 d3 2\nq2 0 d1 0\n"
QRELS_READ = {"q1": {"d1": 1, "d3": 2}, "q2": {"d1": 0}}
KINDS = ("run", "qrels")
READERS: dict[str, Callable[[Any], dict[str, dict[str, Any]]]] = {
    "run": reader.read_run,
    "qrels": reader.read_qrels,
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of the given content, as it is."""

    def to_file(content: str | bytes, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def line(kind: str, query: str = "q", document: str = "d", value: object = 1) -> str:
    return (
        f"{query} Q0 {document} 1 {value} tag" if kind == "run" else f"{query} 0 {document} {value}"
    )


GOOD = {"run": "q Q0 good 1 1.5 tag", "qrels": "q 0 good 1"}


def assert_refused(kind: str, path: Path, *places: str) -> None:
    """The function of the kind refuses the file at these places in it."""
    with refusal("", str(path), *places):
        READERS[kind](path)


def piped(content: bytes, path: Path, keep: bool = False) -> threading.Thread:
    """Makes a named pipe for one reader, unless it is kept: a second one would wait for ever."""
    os.mkfifo(path)

    def write_once() -> None:
        with open(path, "wb", buffering=0) as pipe:
            if not keep:
                path.unlink()
            try:
                pipe.write(content)
            except BrokenPipeError:
                return  # the reader has seen enough

    writer = threading.Thread(target=write_once, daemon=True)
    writer.start()
    return writer


AS_MAPPING = {"q1": {"d1": 2.5, "d2": -1.0}, "7": {"d1": 0.25}}
RECORDS = records(AS_MAPPING)
FORMS = {name: write(AS_MAPPING) for name, write in {**RUN_FILES, **FILES, **ODD_FILES}.items()}


def parquet_of(rows: list[dict[str, Any]]) -> bytes:
    return as_parquet(pa.Table.from_pylist(rows))
