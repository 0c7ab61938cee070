"""The first fault of a TREC file is named by its line, wherever it is.

tests/errors has the faults; test_fuzz_files.py has random ones among skipped lines, carriage
returns, and ids of every length.
"""

import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import MetricFactory
from evaluate import Metric
from file_helpers import GOOD, KINDS, QRELS, READERS, Write, assert_refused, line
from file_helpers import write as write
from refusals import refusal

from ndcg.files import reader


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_is_found_twice_however_far_apart(write: Write, kind: str) -> None:
    # the ids grow longer from chunk to chunk
    lines = [line(kind, "q1", f"doc{at}", at % 7) for at in range(10, 110_000)]
    path = write("\n".join([line(kind, "q1", "doc1", 2), *lines, line(kind, "q1", "doc1", 1), ""]))
    assert_refused(kind, path, "line 109992")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hashes", [reader.hashes_of, lambda ids: np.zeros(len(ids), np.uint64)])
def test_documents_with_the_same_hash_or_ids_that_join_alike_are_not_duplicates(
    write: Write, monkeypatch: pytest.MonkeyPatch, kind: str, hashes: Any
) -> None:
    monkeypatch.setattr(reader, "hashes_of", hashes)
    lines = [line(kind, query, document) for query in ("q", "qa") for document in ("a", "aa", "b")]
    path = write("\n".join(lines))
    assert READERS[kind](path) == {
        query: dict.fromkeys(("a", "aa", "b"), 1) for query in ("q", "qa")
    }
    path = write("\n".join([*lines, line(kind, "qa", "aa"), line(kind, "q", "a")]))
    assert_refused(kind, path, "line 7")


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        ("run", "# généré\nq Q0 d 1 1 modèle".encode("latin-1")),
        ("qrels", "# généré\nq modèle d 1".encode("latin-1")),
        *(
            (kind, line(kind, document=f"a{space}b").encode())
            for kind in KINDS
            for space in "\u00a0\u3000\u2028\x85"
        ),
    ],
)
def test_a_line_that_can_be_read_is_not_blamed_for_a_later_one(
    write: Write, kind: str, good: bytes
) -> None:
    assert len(READERS[kind](write(good))["q"]) == 1
    path = write(good + b"\n" + line(kind, document="c", value="x").encode())
    assert_refused(kind, path, f"line {len(good.splitlines()) + 1}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("end", "before"), [("", 0), ("\n", 1), ("\r\n", 100), ("\n", 1 << 20), ("\r\n", (1 << 22) - 3)]
)
def test_a_line_of_more_than_a_mebibyte_is_rejected_wherever_it_is(
    write: Write, kind: str, end: str, before: int
) -> None:
    lines = [
        f"{line(kind, document=f'{at}-' + 'x' * min(before, 1 << 19))}\n"
        for at in range(before // (1 << 19) + 1)
    ]
    longest = (1 << 20) - len(line(kind, document=""))
    path = write("".join([*lines, line(kind, document="y" * longest), end]))
    assert len(READERS[kind](path)["q"]) == len(lines) + 1
    path = write("".join([*lines, line(kind, document="y" * (longest + 1)), end]))
    assert_refused(kind, path, f"line {len(lines) + 1}")


LONG = "".join(f"q Q0 d{at * 7919 % 10007} 1 {at} tag\n" for at in range(2000)).encode()
WHOLE = gzip.compress(LONG)


@pytest.mark.parametrize("chunk", [1000, 1 << 26])
def test_a_gz_that_is_cut_is_never_half_read(
    write: Write, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    for size in (*range(1, len(WHOLE), 1997), len(WHOLE) - 8):
        with pytest.raises((OSError, ValueError)):
            reader.read_run(write(WHOLE[:size], "run.gz"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("missing.txt", (FileNotFoundError, ValueError)),
        ("folder.gz", (OSError, ValueError)),
    ],
)
def test_a_file_that_cannot_be_opened_is_rejected_by_name_and_type(
    ndcg: Metric, tmp_path: Path, kind: str, name: str, types: tuple[type, ...]
) -> None:
    path = tmp_path / name
    (tmp_path / "folder.gz").mkdir()
    for expected in types:  # as `open` raises it, and as for any other error of an argument
        with pytest.raises(expected) as read:
            READERS[kind](path)
        with pytest.raises(expected) as computed:
            ndcg.compute(predictions=path, references=path)
    assert str(read.value).startswith(f"{path}: ")
    assert str(pickle.loads(pickle.dumps(computed.value))) == f"predictions: {read.value}"


def test_a_first_file_that_is_rejected_leaves_an_empty_metric(
    fresh_metric: MetricFactory, write: Write, tmp_path: Path
) -> None:
    metric = fresh_metric()
    path = write(f"{GOOD['run']}\nq Q0 d 1 high tag\n")
    with refusal("predictions", str(path), "line 2"):
        metric.add_batch(predictions=path, references=write(QRELS, "qrels"))
    assert len(metric) == 0
    assert not list((tmp_path / "cache").rglob("*.arrow"))
