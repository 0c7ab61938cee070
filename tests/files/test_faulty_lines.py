"""Each fault of a TREC file is named by file and line, and nothing of the file is added.

test_fuzz_files.py has random faults among skipped lines, carriage returns, and ids of every length.
"""

import gzip
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import MetricFactory
from evaluate import Metric
from file_helpers import (
    ARGUMENTS,
    GOOD,
    KINDS,
    QRELS,
    READERS,
    RUN,
    Write,
    assert_nothing_was_added,
    line,
    refused,
    refused_by_metric,
)
from file_helpers import filled as filled
from file_helpers import write as write

from ndcg.files import reader
from ndcg.inputs.fields import VALUE

# each fault: its line in a run and in qrels, and the words of its error
FAULTY_LINES: list[tuple[str, str, str]] = [
    ("q Q0 d 1 1.5", "q 0 d", " columns; "),
    ("q", "q", ": 1 column; "),
    ("q d 1 1.5 tag", "q 0 d 1 more", " columns; "),
    ("q Q0 d # good", "q 0 d 1 # good", " columns; "),
    ("q Q0 good 2 1 tag", "q 0 good 0", "document 'good' of query 'q' is in line 2 already"),
    ("q\tx  good 1 1.5 other", "q\t9  good 1", "is in line 2 already"),
]
BAD_VALUES = {
    "has a decimal comma; write a point": ["1,5"],
    "is not a number": ["high", "0x10", "1_000", "１", "NA"],
    "is not finite": ["nan", "NaN(1)", "nan(ind)", "-nan", "inf", "-inf", "+Infinity", "1e400"],
}
for problem, texts in BAD_VALUES.items():
    FAULTY_LINES += [(line("run", value=each), line("qrels", value=each), f"'{each}' {problem}") for each in texts]
for document in ("\0", "b\0", "\0b"):
    problem = "holds a NUL byte, which no text does; save the file in UTF-8"
    FAULTY_LINES.append((line("run", document=document), line("qrels", document=document), problem))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTY_LINES, ids=repr)
def test_a_faulty_line_is_rejected_by_its_number_and_adds_nothing(
    filled: Metric, write: Write, kind: str, fault: tuple[str, str, str]
) -> None:
    text = f"# comment\n{GOOD[kind]}\n\n{fault[KINDS.index(kind)]}\n{line(kind, 'other')}\n"
    for path in (
        write(text),
        write(gzip.compress(text.encode()), "file.gz"),
        write(text.replace("\n", "\r\n"), "crlf"),
    ):
        message = refused(kind, path)
        assert message.startswith(f"{path}: line 4: "), message
        assert fault[2] in message
    assert refused_by_metric(filled, kind, path) == f"{ARGUMENTS[kind]}: {message}"
    assert_nothing_was_added(filled)


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_is_found_twice_however_far_apart(write: Write, kind: str) -> None:
    # the ids grow longer from chunk to chunk
    lines = [line(kind, "q1", f"doc{at}", at % 7) for at in range(10, 110_000)]
    path = write("\n".join([line(kind, "q1", "doc1", 2), *lines, line(kind, "q1", "doc1", 1), ""]))
    problem = "document 'doc1' of query 'q1' is in line 1 already"
    assert refused(kind, path).startswith(f"{path}: line 109992: {problem}; give it once for a query")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hashes", [reader.hashes_of, lambda ids: np.zeros(len(ids), np.uint64)])
def test_documents_with_the_same_hash_or_ids_that_join_alike_are_not_duplicates(
    write: Write, monkeypatch: pytest.MonkeyPatch, kind: str, hashes: Any
) -> None:
    monkeypatch.setattr(reader, "hashes_of", hashes)
    lines = [line(kind, query, document) for query in ("q", "qa") for document in ("a", "aa", "b")]
    path = write("\n".join(lines))
    assert READERS[kind](path) == {query: dict.fromkeys(("a", "aa", "b"), 1) for query in ("q", "qa")}
    path = write("\n".join([*lines, line(kind, "qa", "aa"), line(kind, "q", "a")]))
    assert "line 7: document 'aa' of query 'qa' is in line 5 already; give it" in refused(kind, path)


TOO_LONG = "is longer than 1,048,576 bytes; give each document a line of its own"
WITHOUT_LINES = ["", "\n", " \n\t\r\n", "# only\n# comments\n", "# no newline"]
SWAPPED = {
    "run": "4 columns; a run has 6: query Q0 document rank score tag; are the run and the qrels swapped?",
    "qrels": "6 columns; qrels have 4: query iteration document relevance; are the run and the qrels swapped?",
}


def faulty_files(kind: str) -> list[tuple[bytes, str]]:
    """The content of files, and the beginning of the error."""
    good, twice, no_number = GOOD[kind], line(kind, document="good"), line(kind, value="x")
    texts = [
        *((each, f"holds no {VALUE[kind]}s; give at least one query with a document") for each in WITHOUT_LINES),
        (GOOD["qrels" if kind == "run" else "run"], f"line 1: {SWAPPED[kind]}"),
        (f"{good}\n{no_number}\n{twice}", "line 2: "),
        (f"{good}\n{twice}\n{no_number}", "line 2: "),
        (f"# comment\n#\0\n{good}\n", "line 2: holds a NUL byte"),
        (f"# short\n#{'y' * (1 << 20)}\n# short\n", f"line 2: {TOO_LONG}"),
    ]
    ids = [(f"{good}\n{line(kind, **{column: 'dé'})}\n".encode("latin-1"), column) for column in ("query", "document")]
    return [
        *((text.encode(), problem) for text, problem in texts),
        *((text, f"line 2: {column} 'd�' is not text in UTF-8; save the file in UTF-8") for text, column in ids),
        (bytes(range(256)) * 9, "line 1: "),
        (bytes(10_000), "line 1: "),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_fault_of_a_file_is_named_by_its_line(write: Write, kind: str) -> None:
    for content, problem in faulty_files(kind):
        for path in (write(content), write(gzip.compress(content), "file.gz")):
            assert refused(kind, path).startswith(f"{path}: {problem}")


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        ("run", "# généré\nq Q0 d 1 1 modèle".encode("latin-1")),
        ("qrels", "# généré\nq modèle d 1".encode("latin-1")),
        *((kind, line(kind, document=f"a{space}b").encode()) for kind in KINDS for space in "\u00a0\u3000\u2028\x85"),
    ],
)
def test_a_line_that_can_be_read_is_not_blamed_for_a_later_one(write: Write, kind: str, good: bytes) -> None:
    assert len(READERS[kind](write(good))["q"]) == 1
    path = write(good + b"\n" + line(kind, document="c", value="x").encode())
    assert refused(kind, path).startswith(f"{path}: line {len(good.splitlines()) + 1}: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("end", "before"), [("", 0), ("\n", 1), ("\r\n", 100), ("\n", 1 << 20), ("\r\n", (1 << 22) - 3)]
)
def test_a_line_of_more_than_a_mebibyte_is_rejected_wherever_it_is(
    write: Write, kind: str, end: str, before: int
) -> None:
    lines = [f"{line(kind, document=f'{at}-' + 'x' * min(before, 1 << 19))}\n" for at in range(before // (1 << 19) + 1)]
    longest = (1 << 20) - len(line(kind, document=""))
    path = write("".join([*lines, line(kind, document="y" * longest), end]))
    assert len(READERS[kind](path)["q"]) == len(lines) + 1
    path = write("".join([*lines, line(kind, document="y" * (longest + 1)), end]))
    assert refused(kind, path) == f"{path}: line {len(lines) + 1}: {TOO_LONG}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_is_short_however_long_the_cell(write: Write, kind: str) -> None:
    long = "x" * 500_000
    for text in (line(kind, value=long), line(kind, value="9" * 500_000), f"{line(kind, long, long)}\n" * 2):
        assert len(refused(kind, write(text))) < 500 + len(str(write(text)))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("content", [RUN, "qid,docid,score\nq,d,1\n", '{"q": {"d": 1}}'], ids=["TREC", "CSV", "JSON"])
def test_utf16_is_rejected_by_name(write: Write, content: str, encoding: str) -> None:
    encoded = content.encode(encoding)
    for path in (write(encoded), write(gzip.compress(encoded), "file.gz")):
        for kind in ("run", "qrels", "exclude"):
            with pytest.raises(
                ValueError, match=f"^{re.escape(str(path))}: is text in UTF-16; save the file in UTF-8$"
            ):
                reader.read_columns(path, kind)


LONG = "".join(f"q Q0 d{at * 7919 % 10007} 1 {at} tag\n" for at in range(2000)).encode()
WHOLE = gzip.compress(LONG)
UNREADABLE_GZ = {"cut": WHOLE[:5000], "cut in the header": WHOLE[:5], "a wrong check sum": WHOLE[:-8] + bytes(8)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", UNREADABLE_GZ)
def test_a_gz_that_cannot_be_decompressed_is_rejected_by_name(
    filled: Metric, write: Write, kind: str, content: str
) -> None:
    path = write(UNREADABLE_GZ[content], "file.gz")
    assert refused_by_metric(filled, kind, path) == f"{ARGUMENTS[kind]}: {refused(kind, path)}"
    assert refused(kind, path).startswith(f"{path}: ")
    assert_nothing_was_added(filled)


@pytest.mark.parametrize("chunk", [1000, 1 << 26])
def test_a_gz_that_is_cut_is_never_half_read(write: Write, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    for size in (*range(1, len(WHOLE), 1997), len(WHOLE) - 8):
        with pytest.raises((OSError, ValueError)):
            reader.read_run(write(WHOLE[:size], "run.gz"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "problem", "types"),
    [
        ("missing.txt", "No such file or directory", (FileNotFoundError, ValueError)),
        ("folder.gz", "Is a directory without files of Parquet", (OSError, ValueError)),
    ],
)
def test_a_file_that_cannot_be_opened_is_rejected_by_name_and_type(
    filled: Metric, tmp_path: Path, kind: str, name: str, problem: str, types: tuple[type, ...]
) -> None:
    path = tmp_path / name
    (tmp_path / "folder.gz").mkdir()
    for expected in types:  # as `open` raises it, and as for any other error of an argument
        with pytest.raises(expected) as caught:
            READERS[kind](path)
        assert str(caught.value) == f"{path}: {problem}"
        with pytest.raises(expected) as caught:
            filled.compute(predictions=path, references=path)
    assert str(pickle.loads(pickle.dumps(caught.value))) == f"predictions: {path}: {problem}"
    assert refused_by_metric(filled, kind, path) == f"{ARGUMENTS[kind]}: {path}: {problem}"
    assert_nothing_was_added(filled)


def test_a_first_file_that_is_rejected_leaves_an_empty_metric(
    fresh_metric: MetricFactory, write: Write, tmp_path: Path
) -> None:
    metric = fresh_metric()
    path = write(f"{GOOD['run']}\nq Q0 d 1 high tag\n")
    with pytest.raises(ValueError, match="line 2"):
        metric.add_batch(predictions=path, references=write(QRELS, "qrels"))
    assert len(metric) == 0
    assert not list((tmp_path / "cache").rglob("*.arrow"))
