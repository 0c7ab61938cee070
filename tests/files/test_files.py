"""TREC files: every common way to write them is read, and malformed lines are rejected by file and line."""

import gzip
import io
import json
import math
import os
import pickle
import re
import threading
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import MetricFactory
from every_form import (
    EITHER_SIDE,
    ODD_IDS,
    PACKED,
    RUNS,
    SPELLINGS,
    as_arrow,
    as_json_lines,
    as_lines,
    as_parquet,
    as_trec,
    records,
)
from hypothesis import given
from hypothesis import strategies as st

from ndcg.files import reader
from ndcg.files.content import CHUNK, VALUE, Limits, parse_json

RUN = "q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 -1 tag\nq2 Q0 d1 1 0.25 tag\n"
RUN_READ = {"q1": {"d1": 2.5, "d2": -1.0}, "q2": {"d1": 0.25}}
QRELS = "q1 0 d1 1\nq1 0 d3 2\nq2 0 d1 0\n"
QRELS_READ = {"q1": {"d1": 1, "d3": 2}, "q2": {"d1": 0}}
KINDS = ("run", "qrels")
READERS: dict[str, Callable[[Any], dict[str, dict[str, Any]]]] = {"run": reader.read_run, "qrels": reader.read_qrels}
ARGUMENTS = {"run": "predictions", "qrels": "references"}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of the given content, as it is."""

    def to_file(content: str | bytes, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def line(kind: str, query: str = "q", document: str = "d", value: object = 1) -> str:
    return f"{query} Q0 {document} 1 {value} tag" if kind == "run" else f"{query} 0 {document} {value}"


GOOD = {"run": "q Q0 good 1 1.5 tag", "qrels": "q 0 good 1"}
# each fault: its line in a run and in qrels, and the words of its error
FAULTY_LINES: dict[str, tuple[str, str, str]] = {
    "a column is missing": ("q Q0 d 1 1.5", "q 0 d", " columns; "),
    "only one column": ("q", "q", ": 1 column; "),
    "a column too many": ("q d 1 1.5 tag", "q 0 d 1 more", " columns; "),
    "a comment after the columns": ("q Q0 d # good", "q 0 d 1 # good", " columns; "),
    "text": ("q Q0 d 1 high tag", "q 0 d high", "'high' is not a number"),
    "a decimal comma": ("q Q0 d 1 1,5 tag", "q 0 d 1,5", "'1,5' has a decimal comma; write a point"),
    "a hexadecimal number": ("q Q0 d 1 0x10 tag", "q 0 d 0x10", "'0x10' is not a number"),
    "an underscore": ("q Q0 d 1 1_000 tag", "q 0 d 1_000", "'1_000' is not a number"),
    "fullwidth digits": ("q Q0 d 1 １ tag", "q 0 d １", "'１' is not a number"),
    "no value but NA": ("q Q0 d 1 NA tag", "q 0 d NA", "'NA' is not a number"),
    "nan": ("q Q0 d 1 nan tag", "q 0 d nan", "'nan' is not finite"),
    "NaN": ("q Q0 d 1 NaN tag", "q 0 d NaN", "'NaN' is not finite"),
    "inf": ("q Q0 d 1 inf tag", "q 0 d inf", "'inf' is not finite"),
    "-inf": ("q Q0 d 1 -inf tag", "q 0 d -inf", "'-inf' is not finite"),
    "Infinity": ("q Q0 d 1 Infinity tag", "q 0 d Infinity", "'Infinity' is not finite"),
    "a number beyond floats": ("q Q0 d 1 1e400 tag", "q 0 d 1e400", "'1e400' is not finite"),
    "a document twice": ("q Q0 good 2 1 tag", "q 0 good 0", "document 'good' of query 'q' is in line 2 already"),
    "a document twice with one value": ("q Q0 good 1 1.5 tag", "q 0 good 1", "is in line 2 already"),
    "a document twice in other columns": ("q\tx  good 9 1.5 other", "q\t9  good 1", "is in line 2 already"),
}


def refused(kind: str, path: Path) -> str:
    """The message of the one-line error that the function of the kind refuses the file with."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - each test looks at the message
        READERS[kind](path)
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- Valid files -----------------------------------------------------------------------------------------------------

LAYOUTS: dict[str, Callable[[str], str]] = {
    "single spaces": lambda text: text,
    "tabs": lambda text: text.replace(" ", "\t"),
    "several spaces": lambda text: text.replace(" ", "    "),
    "spaces and tabs": lambda text: text.replace(" ", " \t  \t "),
    "leading spaces": lambda text: "".join("  " + each for each in text.splitlines(keepends=True)),
    "leading tabs": lambda text: "".join("\t" + each for each in text.splitlines(keepends=True)),
    "trailing spaces": lambda text: text.replace("\n", "   \n"),
    "trailing tabs": lambda text: text.replace("\n", "\t\n"),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CRLF after spaces": lambda text: text.replace("\n", "  \r\n"),
    "CRLF and no final newline": lambda text: text.replace("\n", "\r\n").removesuffix("\r\n"),
    "CRLF and blank lines": lambda text: "\r\n" + text.replace("\n", "\r\n\r\n"),
    "no final newline": lambda text: text.removesuffix("\n"),
    "no final newline but spaces": lambda text: text.removesuffix("\n") + "  ",
    "no final newline after leading spaces": lambda text: "  " + text.removesuffix("\n").replace("\n", "\n  "),
    "blank lines": lambda text: "\n\n" + text.replace("\n", "\n\n"),
    "lines of spaces": lambda text: " \n" + text.replace("\n", "\n  \t \n"),
    "comments": lambda text: "# a comment\n" + text.replace("\n", "\n#another one of words\n"),
    "comments with tabs and CRLF": lambda text: "#\ta\r\n" + text.replace("\n", "\r\n#\tb c\r\n"),
    "indented comments": lambda text: "  # a comment\n" + text.replace("\n", "\n\t# another\n"),
    "empty comments": lambda text: "#\n" + text + "#\n#",
    "a comment without a newline at the end": lambda text: text + "# the end",
    "a byte order mark": lambda text: "\ufeff" + text,
    "a byte order mark before a comment": lambda text: "\ufeff# a comment\n" + text,
}


@pytest.mark.parametrize("chunk", [1, 7, 1 << 26])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_lines_is_read(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, layout: str, chunk: int
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    assert reader.read_run(write(LAYOUTS[layout](RUN))) == RUN_READ
    assert reader.read_qrels(write(LAYOUTS[layout](QRELS))) == QRELS_READ


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_is_a_string_or_a_path_of_pathlib(write: Callable[..., Path], kind: str) -> None:
    path = write(RUN if kind == "run" else QRELS)
    assert READERS[kind](path) == READERS[kind](str(path)) == (RUN_READ if kind == "run" else QRELS_READ)


@pytest.mark.parametrize("chunk", [1, 7, 1 << 26])
def test_files_that_end_in_gz_are_decompressed(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    assert reader.read_run(write(gzip.compress(RUN.encode()), "run.gz")) == RUN_READ
    assert reader.read_qrels(str(write(gzip.compress(QRELS.encode()), "qrels.txt.gz"))) == QRELS_READ
    several = b"".join(gzip.compress(each.encode()) for each in RUN.splitlines(keepends=True))
    assert reader.read_run(write(several, "appended.gz")) == RUN_READ


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_text_whatever_they_look_like(write: Callable[..., Path], kind: str) -> None:
    for text in ODD_IDS:
        path = write(line(kind, query=text, document=text) + "\n")
        assert READERS[kind](path) == {text: {text: 1}}, text
    path = write("".join(line(kind, query, document) + "\n" for query in ODD_IDS for document in ODD_IDS))
    assert READERS[kind](path) == {query: dict.fromkeys(ODD_IDS, 1) for query in ODD_IDS}


@pytest.mark.parametrize("chunk", [1, 7, 1 << 26])
@pytest.mark.parametrize(
    ("kind", "text", "read"),
    [
        (
            "run",
            "#q Q0 d 1 2 tag\n# comment with six words here ok\n#q Q0 #d 2 .5 tag more\n",
            {"#q": {"d": 2, "#d": 0.5}},
        ),
        (
            "qrels",
            "# TREC 2019\n#q 0 d 1\nq 0 d 2\n# seven words of no use to anyone\n",
            {"#q": {"d": 1}, "q": {"d": 2}},
        ),
        ("qrels", "#q d 1\n# one query more of four words\n#p d 2", {"#q": {"d": 1}, "#p": {"d": 2}}),
        ("qrels", "# depth 100\n#q\t0\td\t1\r\n \n  #p 0 d 2\n# end", {"#q": {"d": 1}, "#p": {"d": 2}}),
        ("qrels", "#q 0 d high\n#q 0 d\nq 0 d 1\n", {"q": {"d": 1}}),
        ("exclude", "#q d\n# none\n# of three words\nq d\n", {"#q": {"d": 1}, "q": {"d": 1}}),
    ],
)
def test_a_line_with_the_columns_of_a_row_is_no_comment(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, kind: str, text: str, read: Any, chunk: int
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    columns = reader.read_columns(write(text), kind)
    queries = [columns.query_ids[each].as_py() for each in columns.query]
    rows = list(zip(queries, columns.document.to_pylist(), columns.value.tolist(), strict=True))
    assert rows == [(query, *row) for query, documents in read.items() for row in documents.items()]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 26])
def test_a_byte_order_mark_is_taken_off_a_file_and_not_off_ids(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    marked = "\ufeffq"
    path = write("\ufeff" + "".join(line("run", query) + "\n" for query in ("q", marked, "p", "\ufeff" + marked)))
    assert reader.read_run(path) == {query: {"d": 1.0} for query in ("q", marked, "p", "\ufeff" + marked)}
    path = write("\ufeff" + line("run", marked))
    assert reader.read_run(path) == {marked: {"d": 1.0}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_number_in_any_spelling_is_the_nearest_float(write: Callable[..., Path], kind: str, spelling: str) -> None:
    # next to a fraction, relevances are floats
    path = write(line(kind, document="a", value=spelling) + "\n" + line(kind, document="b", value="0.1") + "\n")
    assert READERS[kind](path) == {"q": {"a": float(spelling), "b": 0.1}}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_scores_are_read_to_the_last_bit(tmp_path_factory: pytest.TempPathFactory, scores: list[float]) -> None:
    path = tmp_path_factory.mktemp("run") / "run.txt"
    path.write_text("".join(line("run", document=f"d{at}", value=repr(each)) + "\n" for at, each in enumerate(scores)))
    actual = list(reader.read_run(path)["q"].values())
    assert list(map(repr, actual)) == list(map(repr, scores))


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["0", "1", "-2"], [0, 1, -2]),
        (["1.0", "2"], [1, 2]),
        (["1e2", "0"], [100, 0]),
        (["0.5", "1"], [0.5, 1.0]),
        (["1e300", "1"], [1e300, 1.0]),
    ],
)
def test_relevances_are_integers_where_all_are_whole(
    write: Callable[..., Path], values: list[str], read: list[float]
) -> None:
    path = write("".join(line("qrels", document=f"d{at}", value=value) + "\n" for at, value in enumerate(values)))
    actual = reader.read_qrels(path)
    assert actual == {"q": {f"d{at}": value for at, value in enumerate(read)}}
    assert set(map(type, actual["q"].values())) == {type(read[0])}


def test_scores_are_floats_where_all_are_whole(write: Callable[..., Path]) -> None:
    scores = reader.read_run(write(line("run", value=1)))["q"]
    assert set(map(type, scores.values())) == {float}


def test_queries_and_documents_keep_the_order_of_the_file(write: Callable[..., Path]) -> None:
    # the lines of a query need not be next to each other
    path = write("q2 0 b 1\nq10 0 c 1\nq2 0 a 2\nq1 0 z 0\nq10 0 a 1\n")
    actual = [(query, list(documents.items())) for query, documents in reader.read_qrels(path).items()]
    assert actual == [("q2", [("b", 1), ("a", 2)]), ("q10", [("c", 1), ("a", 1)]), ("q1", [("z", 0)])]


def test_the_rank_and_the_other_columns_are_not_looked_at(write: Callable[..., Path]) -> None:
    assert reader.read_run(write("q x d1 9 0.5 NA\nq - d2 first 2 #tag\n")) == {"q": {"d1": 0.5, "d2": 2.0}}
    assert reader.read_qrels(write("q Q0 d1 1\nq NA d2 0\n")) == {"q": {"d1": 1, "d2": 0}}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_hold_indices_into_distinct_queries_and_the_ids_of_documents(
    write: Callable[..., Path], kind: str
) -> None:
    rows = [("b", "y", 1.0), ("a", "x", 2.0), ("b", "x", 0.5)]
    columns = reader.read_columns(write("\n".join(line(kind, *row) for row in rows)), kind)
    assert columns.query.dtype == np.int64
    assert columns.value.dtype == np.float64
    assert (columns.query_ids.to_pylist(), columns.query.tolist()) == (["b", "a"], [0, 1, 0])
    assert columns.document.to_pylist() == ["y", "x", "x"]
    assert columns.value.tolist() == [1.0, 2.0, 0.5]


@pytest.mark.parametrize("compress", [False, True])
def test_chunks_may_end_anywhere(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, compress: bool) -> None:
    text = "# run\r\n" + "".join(
        f" q{at % 3}\tQ0  文書{at}   {at}\t{at / 8} tag \r\n" + "#  comment\n \n" * (at % 2) for at in range(9)
    )
    expected = {f"q{query}": {f"文書{at}": at / 8 for at in range(query, 9, 3)} for query in range(3)}
    path = write(text) if not compress else write(gzip.compress(text.encode()), "run.gz")
    for chunk in range(1, len(text.encode()) + 2):
        monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
        actual = reader.read_run(path)
        assert actual == expected, chunk
        assert list(actual) == list(expected), chunk


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_larger_than_what_arrow_parses_at_a_time_is_read_whole(write: Callable[..., Path], kind: str) -> None:
    documents = {f"q{query}": {f"d{query * at}": at / 4 for at in range(1, 201)} for query in range(1, 401)}
    path = write("".join(line(kind, q, d, value) + "\n" for q, each in documents.items() for d, value in each.items()))
    assert path.stat().st_size > 1 << 20
    assert READERS[kind](path) == documents


def piped(content: bytes, path: Path) -> threading.Thread:
    """Makes a named pipe that is there for one reader, as a second one would wait for ever, and writes into it."""
    os.mkfifo(path)

    def write_once() -> None:
        with open(path, "wb", buffering=0) as pipe:
            path.unlink()
            try:
                pipe.write(content)
            except BrokenPipeError:
                return  # the reader has seen enough

    writer = threading.Thread(target=write_once, daemon=True)
    writer.start()
    return writer


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_named_pipe_is_read_as_a_file_is(tmp_path: Path, kind: str, compress: bool) -> None:
    path = tmp_path / f"pipe{'.gz' * compress}"
    content = (RUN if kind == "run" else QRELS).encode()
    writer = piped(gzip.compress(content) if compress else content, path)
    assert READERS[kind](path) == (RUN_READ if kind == "run" else QRELS_READ)
    writer.join()


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTY_LINES)
def test_a_named_pipe_is_rejected_by_line_as_a_file_is(
    write: Callable[..., Path], tmp_path: Path, kind: str, fault: str, compress: bool
) -> None:
    text = f"# comment\n{GOOD[kind]}\n\n{FAULTY_LINES[fault][KINDS.index(kind)]}\n{line(kind, 'other')}\n".encode()
    content = gzip.compress(text) if compress else text
    path = tmp_path / f"pipe{'.gz' * compress}"
    writer = piped(content, path)
    message = refused(kind, path)
    writer.join()
    assert message.startswith(f"{path}: line 4: ")
    assert message == refused(kind, write(content, path.name))


def test_a_process_substitution_is_rejected_by_line(ndcg: evaluate.Metric) -> None:
    # ndcg.compute(predictions="/dev/stdin", …) and <(zcat run.gz) are such paths
    reading, writing = os.pipe()
    try:
        os.write(writing, f"{GOOD['run']}\nq Q0 d 1 high tag\n".encode())
        os.close(writing)
        with pytest.raises(ValueError, match=rf"^predictions: /dev/fd/{reading}: line 2: the score 'high' is not"):
            ndcg.compute(predictions=f"/dev/fd/{reading}", references={"q": {"good": 1}})
    finally:
        os.close(reading)


def test_the_metric_reads_files_as_the_functions_do(ndcg: evaluate.Metric, write: Callable[..., Path]) -> None:
    run, qrels = write(RUN, "run"), write(gzip.compress(QRELS.encode()), "qrels.gz")
    assert ndcg.read_run(run) == RUN_READ
    assert ndcg.read_qrels(str(qrels)) == QRELS_READ
    values = ndcg.compute(predictions=run, references=str(qrels), use_aggregator=False)
    assert values == ndcg.compute(predictions=RUN_READ, references=QRELS_READ, use_aggregator=False)
    # q1: d1 of relevance 1 ranks first, d3 of relevance 2 was not retrieved; q2: nothing is relevant
    assert values["nDCG"] == pytest.approx([1 / (2 + 1 / math.log2(3)), 0.0], rel=1e-15)


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_files_may_be_added_as_batches(
    fresh_metric: MetricFactory, write: Callable[..., Path], keep_in_memory: bool
) -> None:
    metric = fresh_metric(keep_in_memory=keep_in_memory)
    metric.add_batch(predictions=[[1, 0]], references=[[0, 1]])
    metric.add_batch(predictions=write(RUN, "run"), references=write(QRELS, "qrels"))
    assert len(metric) == 3
    expected = [1 / math.log2(3), 1 / (2 + 1 / math.log2(3)), 0.0]
    assert metric.compute(use_aggregator=False)["nDCG"] == pytest.approx(expected, rel=1e-15)


# --- Malformed files -------------------------------------------------------------------------------------------------


def refused_by_metric(metric: evaluate.Metric, kind: str, path: Path) -> str:
    """The message that the metric refuses the file with, as it does everywhere; its other file is in order."""
    sides = {"predictions": path.with_name("good.run"), "references": path.with_name("good.qrels")}
    for side, text in zip(sides.values(), (RUN, QRELS), strict=True):
        side.write_text(text)
    sides[ARGUMENTS[kind]] = path
    messages = set()
    for form in (path, str(path)):
        for method in (metric.compute, metric.add_batch):
            with pytest.raises(ValueError, match=rf"^{ARGUMENTS[kind]}: ") as caught:
                method(**{**sides, ARGUMENTS[kind]: form})
            messages.add(str(caught.value))
    assert len(messages) == 1
    assert "\n" not in messages.copy().pop()
    return messages.pop()


@pytest.fixture
def holding(fresh_metric: MetricFactory) -> evaluate.Metric:
    """A metric that holds a batch of one query."""
    metric = fresh_metric()
    metric.add_batch(predictions=[[2, 1]], references=[[0, 1]])
    return metric


def assert_nothing_was_added(metric: evaluate.Metric) -> None:
    assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx(1 / math.log2(3), rel=1e-15)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTY_LINES)
def test_a_faulty_line_is_rejected_by_its_number_and_changes_nothing(
    holding: evaluate.Metric, write: Callable[..., Path], kind: str, fault: str
) -> None:
    faulty, problem = FAULTY_LINES[fault][KINDS.index(kind)], FAULTY_LINES[fault][2]
    text = f"# comment\n{GOOD[kind]}\n\n{faulty}\n{line(kind, 'other')}\n"
    for path in (
        write(text),
        write(gzip.compress(text.encode()), "file.gz"),
        write(text.replace("\n", "\r\n"), "crlf"),
    ):
        message = refused(kind, path)
        assert message.startswith(f"{path}: line 4: "), message
        assert problem in message
        assert refused_by_metric(holding, kind, path) == f"{ARGUMENTS[kind]}: {message}"
    assert_nothing_was_added(holding)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULTY_LINES)
def test_a_faulty_line_is_rejected_by_its_number_wherever_chunks_end(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, kind: str, fault: str
) -> None:
    path = write(f"# comment\n{GOOD[kind]}\n\n{FAULTY_LINES[fault][KINDS.index(kind)]}")
    messages = set()
    for chunk in (1, 10, 20, 30, 1 << 26):
        monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
        messages.add(refused(kind, path))
    assert len(messages) == 1
    assert messages.pop().startswith(f"{path}: line 4: ")


@pytest.mark.parametrize("kind", KINDS)
def test_lines_are_counted_with_those_that_are_skipped(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    skipped = ["", "#", "  ", "# a comment of words", "\t#\t", " \r"]
    lines = [f"{each}\n" * (at % 3) + line(kind, document=f"d{at}") + "\n" for at, each in enumerate(skipped * 3)]
    for at in range(len(lines)):
        for faulty in (line(kind, value="x"), line(kind, document="d0")):
            text = "".join(lines[: at + 1]) + faulty + "\n" + "".join(lines[at + 1 :])
            path = write(text)
            number = text.split("\n").index(faulty, 1) + 1
            for chunk in (1, 30, 100, 1 << 26):
                monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
                assert refused(kind, path).startswith(f"{path}: line {number}: "), (text, chunk)


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_is_found_twice_however_far_apart(write: Callable[..., Path], kind: str) -> None:
    # the ids grow longer from chunk to chunk
    lines = [line(kind, "q1", f"doc{at}", at % 7) for at in range(10, 110_000)]
    path = write("\n".join([line(kind, "q1", "doc1", 2), *lines, line(kind, "q1", "doc1", 1), ""]))
    problem = "document 'doc1' of query 'q1' is in line 1 already"
    assert refused(kind, path) == f"{path}: line 109992: {problem}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 7, 8, 9, 16, 17, 100])
def test_a_document_is_found_twice_however_long_the_ids_around_it(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, kind: str, length: int
) -> None:
    for other in (1, 8, 9, 64, 130):
        documents = ["x" * length, "z", "y" * other, "x" * length]
        path = write("\n".join(line(kind, document=document) for document in documents))
        for chunk in (30, 150, 1 << 26):
            monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
            assert refused(kind, path).endswith(f"document '{'x' * length}' of query 'q' is in line 1 already")


@pytest.mark.parametrize("kind", KINDS)
def test_documents_with_the_same_hash_are_not_duplicates(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(reader, "hashes_of", lambda ids: np.zeros(len(ids), np.uint64))
    lines = [line(kind, query, document) for query in ("q1", "q2") for document in ("a", "b", "c")]
    path = write("\n".join(lines))
    assert READERS[kind](path) == {query: dict.fromkeys("abc", 1) for query in ("q1", "q2")}
    path = write("\n".join([*lines, line(kind, "q2", "b"), line(kind, "q1", "a")]))
    assert refused(kind, path).endswith("line 7: document 'b' of query 'q2' is in line 5 already")


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_names_the_columns_of_the_file(write: Callable[..., Path], kind: str) -> None:
    problem = {
        "run": "4 columns; a run has 6: query Q0 document rank score tag; are the run and the qrels swapped?",
        "qrels": "6 columns; qrels have 4: query iteration document relevance; are the run and the qrels swapped?",
    }[kind]
    path = write(line("qrels" if kind == "run" else "run"))
    assert refused(kind, path) == f"{path}: line 1: {problem}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_of_several_faults_is_named(write: Callable[..., Path], kind: str) -> None:
    path = write("\n".join([line(kind, document="a"), line(kind, document="b", value="x"), line(kind, document="a")]))
    assert refused(kind, path).startswith(f"{path}: line 2: ")
    path = write("\n".join([line(kind, document="a"), line(kind, document="a"), line(kind, document="b", value="x")]))
    assert refused(kind, path).startswith(f"{path}: line 2: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2028", "\x85"])
def test_a_line_that_is_read_is_not_blamed_for_a_later_one(write: Callable[..., Path], kind: str, space: str) -> None:
    good = line(kind, document=f"a{space}b")
    assert READERS[kind](write(good)) == {"q": {f"a{space}b": 1}}
    path = write(f"{good}\n{line(kind, document='c', value='x')}\n")
    assert refused(kind, path).startswith(f"{path}: line 2: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_number_that_is_read_is_not_blamed_for_a_later_line(
    write: Callable[..., Path], kind: str, spelling: str
) -> None:
    path = write(f"{line(kind, document='a', value=spelling)}\n{line(kind, document='b', value='x')}\n")
    assert refused(kind, path).startswith(f"{path}: line 2: ")


def test_a_column_that_is_not_looked_at_is_not_blamed_for_a_later_line(write: Callable[..., Path]) -> None:
    tagged = "q Q0 a 1 2 modèle\n".encode("latin-1")
    assert reader.read_run(write(tagged)) == {"q": {"a": 2.0}}
    path = write(tagged + b"q Q0 b 1 x tag\n")
    assert refused("run", path).startswith(f"{path}: line 2: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spelling", ["NaN(1)", "nan(ind)", "+inf", "-nan", "+Infinity"])
def test_every_spelling_that_is_not_finite_is_rejected_by_line(
    write: Callable[..., Path], kind: str, spelling: str
) -> None:
    path = write(f"{line(kind, document='a')}\n{line(kind, document='b', value=spelling)}\n")
    assert refused(kind, path).endswith(f"line 2: the {VALUE[kind]} '{spelling}' is not finite")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("before", [0, 1, 100, 1 << 20, (1 << 22) - 3])
def test_a_line_of_more_than_a_mebibyte_is_rejected_wherever_it_is(
    write: Callable[..., Path], kind: str, end: str, before: int
) -> None:
    lines = [f"{line(kind, document=f'{at}-' + 'x' * min(before, 1 << 19))}\n" for at in range(before // (1 << 19) + 1)]
    longest = (1 << 20) - len(line(kind, document=""))
    path = write("".join([*lines, line(kind, document="y" * longest), end]))
    assert len(READERS[kind](path)["q"]) == len(lines) + 1
    path = write("".join([*lines, line(kind, document="y" * (longest + 1)), end]))
    problem = "is longer than 1,048,576 bytes; give each document a line of its own"
    assert refused(kind, path) == f"{path}: line {len(lines) + 1}: {problem}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_comment_of_more_than_a_mebibyte_is_rejected_in_a_file_of_comments(
    write: Callable[..., Path], kind: str
) -> None:
    path = write(f"# short\n#{'y' * (1 << 20)}\n# short\n")
    problem = "is longer than 1,048,576 bytes; give each document a line of its own"
    assert refused(kind, path) == f"{path}: line 2: {problem}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_is_short_however_long_the_cell(write: Callable[..., Path], kind: str) -> None:
    long = "x" * 500_000
    for text in (line(kind, value=long), line(kind, value="9" * 500_000), f"{line(kind, long, long)}\n" * 2):
        assert len(refused(kind, write(text))) < 500 + len(str(write(text)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_comment_that_is_skipped_is_not_blamed_for_a_later_line(write: Callable[..., Path], kind: str) -> None:
    comment = "# généré\n".encode("latin-1")
    assert READERS[kind](write(comment + line(kind).encode())) == {"q": {"d": 1}}
    path = write(comment + line(kind, value="x").encode())
    assert refused(kind, path).startswith(f"{path}: line 2: ")


@pytest.mark.parametrize("kind", KINDS)
def test_one_document_in_two_queries_is_not_a_duplicate(write: Callable[..., Path], kind: str) -> None:
    path = write(f"{line(kind, 'q1')}\n{line(kind, 'q2')}\n")
    assert READERS[kind](path) == {"q1": {"d": 1}, "q2": {"d": 1}}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_not_run_together(write: Callable[..., Path], kind: str) -> None:
    path = write(f"{line(kind, 'a', 'bc')}\n{line(kind, 'ab', 'c')}\n{line(kind, 'a', 'b')}\n")
    assert READERS[kind](path) == {"a": {"bc": 1, "b": 1}, "ab": {"c": 1}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", ["\r", "\r\r\n", "\n#c\r", "\r#"])
def test_a_carriage_return_within_a_line_is_rejected(write: Callable[..., Path], kind: str, end: str) -> None:
    path = write(f"{line(kind, 'q', 'a')}\r\n{line(kind, 'q', 'b')}{end}{line(kind, 'q', 'c')}\n")
    at = 3 if end.startswith("\n") else 2
    assert refused(kind, path).startswith(f"{path}: line {at}: holds a carriage return; ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("document", ["\0", "b\0", "\0b"])
def test_a_nul_byte_is_rejected_by_line(write: Callable[..., Path], kind: str, document: str) -> None:
    path = write(f"{line(kind, 'q', 'a')}\n{line(kind, 'q', document)}\n{line(kind, 'q', 'c')}\r\r\n")
    assert refused(kind, path) == f"{path}: line 2: holds a NUL byte, which no text does; save the file in UTF-8"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "content",
    ["", "\n", " \n\t\r\n", "# only\n# comments\n", "# no newline"],
    ids=["empty", "\\n", "blank", "#", "#end"],
)
def test_a_file_without_lines_is_rejected(
    holding: evaluate.Metric, write: Callable[..., Path], kind: str, content: str
) -> None:
    for path in (write(content), write(gzip.compress(content.encode()), "file.gz")):
        message = refused(kind, path)
        assert message == f"{path}: holds no {VALUE[kind]}s; give at least one query with a document"
        assert refused_by_metric(holding, kind, path) == f"{ARGUMENTS[kind]}: {message}"
    assert_nothing_was_added(holding)


BINARY = {
    "all bytes": bytes(range(256)) * 9,
    "zeros": bytes(10_000),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", BINARY)
def test_a_binary_file_is_rejected_at_its_first_line(
    holding: evaluate.Metric, write: Callable[..., Path], kind: str, content: str
) -> None:
    path = write(BINARY[content])
    message = refused(kind, path)
    assert message.startswith(f"{path}: line 1: ")
    assert refused_by_metric(holding, kind, path) == f"{ARGUMENTS[kind]}: {message}"
    assert_nothing_was_added(holding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("content", [RUN, "qid,docid,score\nq,d,1\n", '{"q": {"d": 1}}'], ids=["TREC", "CSV", "JSON"])
def test_utf16_is_rejected_by_name(write: Callable[..., Path], content: str, encoding: str) -> None:
    encoded = content.encode(encoding)
    for path in (write(encoded), write(gzip.compress(encoded), "file.gz")):
        for kind in ("run", "qrels", "exclude"):
            with pytest.raises(
                ValueError, match=f"^{re.escape(str(path))}: is text in UTF-16; save the file in UTF-8$"
            ):
                reader.read_columns(path, kind)


SEMICOLONS = {
    "plain": "qid;docid;score\nq;d;1.5\nq;e;0.5\n",
    "quoted, spaced": '"qid"; "docid" ;"score"\n"q";d;"1.5"\nq ; e; 0.5\n',
    "more columns": "tag;qid;docid;score, raw;score\nx, y;q;d;9;1.5\n,;q;e;9;0.5\n",
    "CRLF": "\ufeffqid;docid;score\r\nq;d;1.5\r\nq;e;0.5\r\n",
}


@pytest.mark.parametrize("name", ["a.csv", "a"])
@pytest.mark.parametrize("content", SEMICOLONS)
def test_csv_with_semicolons_is_read_if_the_header_has_them(
    write: Callable[..., Path], content: str, name: str
) -> None:
    assert reader.read_run(write(SEMICOLONS[content], name)) == {"q": {"d": 1.5, "e": 0.5}}


def test_commas_are_part_of_ids_between_semicolons(write: Callable[..., Path]) -> None:
    path = write("query;document;relevance\nParis, Texas;d,1;2\n", "a.csv")
    assert reader.read_qrels(path) == {"Paris, Texas": {"d,1": 2}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["query", "document"])
def test_ids_that_are_not_utf8_are_rejected_by_line(
    holding: evaluate.Metric, write: Callable[..., Path], kind: str, column: str
) -> None:
    path = write(f"{GOOD[kind]}\n{line(kind, **{column: 'dé'})}\n".encode("latin-1"))
    message = refused(kind, path)
    assert message == f"{path}: line 2: {column} 'd�' is not text in UTF-8; save the file in UTF-8"
    assert refused_by_metric(holding, kind, path) == f"{ARGUMENTS[kind]}: {message}"
    assert_nothing_was_added(holding)


LONG = "".join(f"q Q0 d{at * 7919 % 10007} 1 {at} tag\n" for at in range(2000)).encode()
UNREADABLE_GZ = {
    "cut in the middle": gzip.compress(LONG)[:5000],
    "cut in the header": gzip.compress(LONG)[:5],
    "cut before its check sum": gzip.compress(LONG)[:-8],
    "of a wrong check sum": gzip.compress(LONG)[:-8] + bytes(8),
}


HEADER = "user_id\titem_id\trating\ttime\n"
LOGS = {
    "u.data": "196\t242\t3\t881250949\n186\t302\t3\t891717742\n",
    "ids from 0": "0 0 3.5 1260759144\n0 1 4.0 1260759179\n",
    "milliseconds as floats": "a x 3 1260759144000.0\na y 4 1260759179000.0\n",
    "clicks": "1 1193 978300760\n1 661 978302109\n",
}


@pytest.mark.parametrize("log", LOGS)
def test_a_file_of_ratings_or_clicks_with_times_is_not_read_as_qrels(
    ndcg: evaluate.Metric, write: Callable[..., Path], log: str
) -> None:
    path = write(LOGS[log], "u.data")
    message = refused_by_metric(ndcg, "qrels", path)
    line = " ".join(LOGS[log].splitlines()[0].split())
    assert f"the line '{line}' ends in a time where qrels have the relevance; give ratings as CSV or" in message


def test_ratings_are_read_with_the_header_that_the_error_names(write: Callable[..., Path]) -> None:
    assert reader.read_qrels(write(HEADER + LOGS["u.data"])) == {"196": {"242": 3}, "186": {"302": 3}}
    separated = LOGS["u.data"].replace("\t", "::")
    assert "; give ratings as CSV or TSV with a first line" in refused("qrels", write(separated, "ratings.dat"))


@pytest.mark.parametrize(
    "rows",
    [
        [("0", "d1", 1234567890), ("Q0", "d2", 2345678901)],  # iterations, and amounts for relevances
        [("1", "d1", 1), ("2", "d1b", 0), ("0.5", "d2", 2)],  # subtopics of diversity, rounds of TREC-COVID
        [("1", "20240101", 3), ("2", "1700000000", 0)],  # documents of numbers
        [("1", "d1", 123456789), ("2", "d2", 0)],  # not all large
    ],
)
def test_qrels_with_iterations_or_large_relevances_are_read(write: Callable[..., Path], rows: Any) -> None:
    text = "".join(f"q {iteration} {document} {relevance}\n" for iteration, document, relevance in rows)
    assert reader.read_qrels(write(text)) == {"q": {document: relevance for _, document, relevance in rows}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", UNREADABLE_GZ)
def test_a_gz_that_cannot_be_decompressed_is_rejected_by_name(
    holding: evaluate.Metric, write: Callable[..., Path], kind: str, content: str
) -> None:
    path = write(UNREADABLE_GZ[content], "file.gz")
    message = refused_by_metric(holding, kind, path)
    assert message.startswith(f"{ARGUMENTS[kind]}: {path}: ")
    with pytest.raises((OSError, ValueError), match=re.escape(str(path))) as caught:
        READERS[kind](path)
    assert "\n" not in str(caught.value)
    assert_nothing_was_added(holding)


@pytest.mark.parametrize("chunk", [64, 1000, 1 << 26])
def test_a_gz_that_is_cut_is_never_half_read(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    whole = gzip.compress(LONG)
    for size in range(1, len(whole), 997):
        with pytest.raises((OSError, ValueError)):
            reader.read_run(write(whole[:size], "run.gz"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "problem", "types"),
    [
        ("missing.txt", "No such file or directory", (FileNotFoundError, ValueError)),
        ("folder.gz", "Is a directory", (OSError, ValueError)),
    ],
)
def test_a_file_that_cannot_be_opened_is_rejected_by_name_and_type_alike_everywhere(
    holding: evaluate.Metric, tmp_path: Path, kind: str, name: str, problem: str, types: tuple[type, ...]
) -> None:
    path = tmp_path / name
    (tmp_path / "folder.gz").mkdir()
    for expected in types:  # as `open` raises it, and as for any other error of an argument
        with pytest.raises(expected) as caught:
            READERS[kind](path)
        assert str(caught.value) == f"{path}: {problem}"
        with pytest.raises(expected) as caught:
            holding.compute(predictions=path, references=path)
    assert str(pickle.loads(pickle.dumps(caught.value))) == f"predictions: {path}: {problem}"
    assert refused_by_metric(holding, kind, path) == f"{ARGUMENTS[kind]}: {path}: {problem}"
    assert_nothing_was_added(holding)


def test_a_missing_side_is_still_missing_next_to_a_file(holding: evaluate.Metric, write: Callable[..., Path]) -> None:
    for argument, path in (("predictions", write(RUN, "run")), ("references", write(QRELS, "qrels"))):
        other = ({"predictions", "references"} - {argument}).pop()
        with pytest.raises(ValueError, match=f"{other} are missing"):
            holding.compute(**{argument: path})
    assert_nothing_was_added(holding)


def test_a_first_file_that_is_rejected_leaves_an_empty_metric(
    fresh_metric: MetricFactory, write: Callable[..., Path], tmp_path: Path
) -> None:
    metric = fresh_metric()
    path = write(f"{GOOD['run']}\nq Q0 d 1 high tag\n")
    with pytest.raises(ValueError, match="line 2"):
        metric.add_batch(predictions=path, references=write(QRELS, "qrels"))
    assert len(metric) == 0
    assert not list((tmp_path / "cache").rglob("*.arrow"))


# --- Other forms -----------------------------------------------------------------------------------------------------

AS_MAPPING = {"q1": {"d1": 2.5, "d2": -1.0}, "7": {"d1": 0.25}}
RECORDS = records(AS_MAPPING)
TABLE = pa.Table.from_pylist(RECORDS)
FORMS = {
    **{name: write(AS_MAPPING) for name, write in {**RUNS, **EITHER_SIDE}.items()},
    "tagged.txt": as_trec(AS_MAPPING, '{} Q0 {} 1 {} my tag,  "#7\n'),
    "crlf.csv": as_lines(AS_MAPPING, ",", end="\r\n"),
    "blank.csv": as_lines(AS_MAPPING, ",", head="\n\n", end="\n\n"),
    "mark.csv": as_lines(AS_MAPPING, ",", head="\ufeff"),
    "quoted.csv": b'"","score","Query_ID","DocID"\n1,2.5,"q1","d1"\n2,"-1","q1","d2"\n3,.25,"7","d1"\n',
    "named.txt": as_lines(AS_MAPPING, ","),
    "beir.txt": as_lines(AS_MAPPING, "\t"),
    "indented.json": json.dumps(AS_MAPPING, indent=2).encode(),
    "blank.jsonl": as_json_lines(RECORDS).replace(b"\n", b"\n\n"),
    "integers.jsonl": as_json_lines([*RECORDS[:2], {**RECORDS[2], "query-id": 7}]),
    "category.parquet": as_parquet(TABLE.set_column(0, "user", pa.array(["q1", "q1", "7"]).dictionary_encode())),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize(
    ("form", "kind"),
    [(form, kind) for form in FORMS for kind in KINDS if kind == "run" or form not in ("file.txt", "tagged.txt")],
)
def test_every_form_of_the_same_rankings_holds_the_same(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, form: str, packed: str, kind: str
) -> None:
    content = FORMS[form]
    for chunk in (7, 1 << 20):
        monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
        for name in (form + packed, "unnamed"):
            if name == "unnamed" and form in ("file.csv",):
                continue
            columns = reader.read_columns(write(PACKED[packed](content), name), kind)
            assert columns.query.tolist() == [0, 0, 1]
            assert columns.query_ids.to_pylist() == ["q1", "7"]
            assert columns.document.to_pylist() == ["d1", "d2", "d1"]
            assert columns.value.tolist() == [2.5, -1.0, 0.25]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_may_be_a_pipe(tmp_path: Path, form: str) -> None:
    writer = piped(FORMS[form], tmp_path / form)
    assert reader.read_run(tmp_path / form) == AS_MAPPING
    writer.join()


def test_qrels_may_have_three_columns(write: Callable[..., Path]) -> None:
    assert reader.read_qrels(write("# q d r\nq1 d1 1\nq1\td3  2\nq2 d1 0\n")) == QRELS_READ
    path = write("q1 d1 1\nq1 0 d3 2\n")
    assert refused("qrels", path) == f"{path}: line 2: 4 columns; the first line has 3: query document relevance"


def test_integer_ids_of_tables_are_their_decimal_text(write: Callable[..., Path]) -> None:
    numbered = [{**each, "corpus-id": int(each["corpus-id"][1:])} for each in RECORDS]
    expected = {"q1": {"1": 2.5, "2": -1.0}, "7": {"1": 0.25}}
    for name, content in {
        "a.json": json.dumps(numbered).encode(),
        "a.parquet": as_parquet(pa.Table.from_pylist(numbered)),
        "a.arrow": as_arrow(pa.ipc.new_file, pa.Table.from_pylist(numbered)),
    }.items():
        assert reader.read_run(write(content, name)) == expected


def test_an_id_is_chosen_before_a_text_and_a_judgment_before_a_score(write: Callable[..., Path]) -> None:
    path = write("query,qid,document,item_id,score,label\nwhat?,q1,a text,d1,0.5,2\n", "a.csv")
    assert reader.read_run(path) == {"q1": {"d1": 0.5}}
    assert reader.read_qrels(path) == {"q1": {"d1": 2}}


TABLE_NAMES = {"run": "query-id{0}corpus-id{0}score", "qrels": "qid{0}docid{0}relevance"}
PADDED_ROWS = {  # of two documents of a query, as people and programs write them
    "spaces after commas": ("{header}\nq 1, d1, 2\nq 1, d2, 1\n", ", "),
    "spaces before commas": ("{header}\nq 1 ,d1 ,2\nq 1 ,d2 ,1 \n", " ,"),
    "some rows only": ("{header}\nq 1,d1,2\nq 1 , d2,1\n", ","),
    "columns of one width": ("{header}\n  q 1  ,  d1  ,  2\n  q 1  ,  d2  ,  1\n", "  ,  "),
    "tabs": ("{header}\n\tq 1,\td1,2\nq 1\t,d2\t,1\n", ",\t"),
    "quotes after spaces": ('"{header}"\n"q 1", "d1", 2\n"q 1" , "d2" , "1"\n', '", "'),
    "spaces in quotes": ('"{header}"\n" q 1","d1 ",2\n"q 1 "," d2 ",1\n', '"," '),
    "columns that nobody reads": ('{header},text\nq 1, d1, 2, "a, ""b"" c"\nq 1,d2,1, 3" disk\n', ","),
    "TSV": ("{header}\nq 1 \t d1 \t 2\nq 1\td2\t1\n", "\t "),
    "TSV with quotes": ('{header}\nq 1\t "d1"\t2\nq 1\t"d2" \t1\n', "\t"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", PADDED_ROWS)
def test_spaces_around_a_cell_of_csv_and_tsv_are_removed(write: Callable[..., Path], rows: str, kind: str) -> None:
    content, delimiter = PADDED_ROWS[rows]
    path = write(content.format(header=TABLE_NAMES[kind].format(delimiter)), "a.csv")
    assert READERS[kind](path) == {"q 1": {"d1": 2, "d2": 1}}


@pytest.mark.parametrize("form", ["run.csv", "run.tsv"])
def test_a_table_with_spaces_scores_as_one_without(
    ndcg: evaluate.Metric, write: Callable[..., Path], form: str
) -> None:
    rows = [("qid", "docid", "score"), ("q1", "d1", "1.5"), ("q1", "d2", "2.5"), ("q2", "d1", "0.5")]
    delimiter = "," if form.endswith("csv") else "\t"
    run, padded = (
        write("".join(f"{end}\n" for end in map(joined.join, rows)), f"{at}{form}")
        for at, joined in enumerate((delimiter, f" {delimiter}  "))
    )
    qrels = write("q1 0 d1 2\nq1 0 d2 1\nq2 0 d1 1\n", "qrels.txt")
    assert ndcg.compute(predictions=padded, references=qrels) == ndcg.compute(predictions=run, references=qrels)
    excluded = write("qid, docid\nq1, d2\n", "seen.csv")
    expected = ndcg.compute(predictions=run, references=qrels, exclude={"q1": ["d2"]})
    assert ndcg.compute(predictions=run, references=qrels, exclude=excluded) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_spaces_are_part_of_ids_that_nothing_but_their_type_delimits(write: Callable[..., Path], kind: str) -> None:
    assert READERS[kind](write('{" q": {"d ": 1}}', "a.json")) == {" q": {"d ": 1}}
    name = "score" if kind == "run" else "relevance"
    row = {"qid": " q", "docid": "d ", name: 1}
    assert READERS[kind](write(json.dumps(row), "a.jsonl")) == {" q": {"d ": 1}}
    assert READERS[kind](write(parquet_of([row]), "a.parquet")) == {" q": {"d ": 1}}


def test_ids_that_differ_in_spaces_around_them_are_one_in_a_table(write: Callable[..., Path]) -> None:
    path = write('qid,docid,score\nq,d,1\nq," d",2\n', "a.csv")
    assert refused("run", path) == f"{path}: line 3: document 'd' of query 'q' is in line 2 already"


@pytest.mark.parametrize(
    ("kind", "content", "names"),
    [
        ("qrels", "q1, d1, 1\n", "'q1', 'd1', '1'"),
        ("qrels", "q1, 0, d1, 1\n", "'q1', '0', 'd1', '1'"),
        ("run", "q1, Q0, d1, 1, 2.5, tag\n", "'q1', 'Q0', 'd1', '1', '2.5', 'tag'"),
    ],
)
def test_columns_with_commas_and_spaces_but_without_a_header_are_not_a_trec_file(
    write: Callable[..., Path], kind: str, content: str, names: str
) -> None:
    path = write(content)
    problem = f"has no header: the first line is {names}; name the columns there, such as query_id,document_id"
    assert refused(kind, path) == f"{path}: {problem},{VALUE[kind]}"


@pytest.mark.parametrize(
    "header",
    ["topic,docno,score", "uid,itemId,score", "userId,item-id,score", "qid,pid,score", "topic,query,docno,item,score"],
)
def test_columns_have_the_names_that_people_use(write: Callable[..., Path], header: str) -> None:
    cells = {"topic": "q", "query": "q" if header.count(",") == 2 else "the text", "item": "a text", "score": "2"}
    names = header.split(",")
    row = ",".join(cells.get(name, "q" if name in ("uid", "userId", "qid") else "d") for name in names)
    found = reader.read_run(write(f"{header}\n{row}\n", "a.csv"))
    assert found == {"the text" if "query" in names else "q": {"d": 2.0}}


def parquet_of(rows: list[dict[str, Any]]) -> bytes:
    return as_parquet(pa.Table.from_pylist(rows))


def zipped(name: str, content: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return archive.getvalue()


IS_ZIP = "is a ZIP archive or an Excel workbook; give the file that is in it, or save the sheet as CSV"

# each fault, after the form of its file: the contents, and the words of the error
FAULTY_FORMS: dict[str, tuple[str | bytes, str]] = {
    "csv: no document": (
        "qid,text,score\nq,x,1\n",
        (
            "no column holds the document; name it document_id or docid or doc_id or "
            "docno or corpus_id or pid or item_id or itemid or document or item; the file has 'qid', 'text', 'score'"
        ),
    ),
    "csv: no header": (
        "q1,d1,0.5\n",
        (
            "has no header: the first line is 'q1', 'd1', '0.5'; name the columns there, such as "
            "query_id,document_id,score"
        ),
    ),
    "csv: two columns": ("qid,QID,docid,score\nq,q,d,1\n", "two columns are called qid; remove one"),
    "csv: carriage returns only": (
        "qid,docid,score\rq,d,1\rq,e,1\r",
        "line 1: holds a carriage return; end lines in a line feed, with or without one before it",
    ),
    "csv: NUL": (b"qid,\0\1\2,score\n", "line 1: holds a NUL byte, which no text does; save the file in UTF-8"),
    "csv: a ZIP archive": (zipped("run.csv", "qid,docid,score\nq,d,1\n"), IS_ZIP),
    "xlsx: a workbook": (zipped("xl/workbook.xml", "<workbook/>"), IS_ZIP),
    "txt: a ZIP archive": (zipped("run.txt", "q Q0 d 1 1 tag\n"), IS_ZIP),
    "csv: columns": ("\nqid,docid,score\nq,d,1\nq,e\n", "line 4: 2 columns; the header has 3: qid docid score"),
    "csv: no number": ("qid,docid,score\nq,d,1\nq,e,high\n", "line 3: the score 'high' is not a number"),
    "csv: a decimal comma": (
        "qid;docid;score\nq;d;1\nq;e;0,5\n",
        "line 3: the score '0,5' has a decimal comma; write a point",
    ),
    "csv: a decimal comma in quotes": (
        'qid,docid,score\nq,d,"-,5e3"\n',
        "line 2: the score '-,5e3' has a decimal comma; write a point",
    ),
    "csv: semicolons without columns": (
        "qid;text;score\nq;x;1\n",
        (
            "no column holds the document; name it document_id or docid or doc_id or "
            "docno or corpus_id or pid or item_id or itemid or document or item; the file has 'qid', 'text', 'score'"
        ),
    ),
    "csv: no value": ("qid,docid,score\nq,d,\n", "line 2: the score '' is not a number"),
    "csv: infinite": ("qid,docid,score\nq,d,inf\n", "line 2: the score 'inf' is not finite"),
    "csv: no id": ("qid,docid,score\nq,d,1\nq,,1\n", "line 3: has no document; give each row its id"),
    "csv: spaces for an id": ("qid,docid,score\nq,d,1\nq,  ,1\n", "line 3: has no document; give each row its id"),
    "csv: twice": ("qid,docid,score\nq,d,1\n\nq,d,1\n", "line 4: document 'd' of query 'q' is in line 2 already"),
    "csv: goes on": (
        'qid,docid,score\nq,d,1\nq,"e\nf",1\n',
        "line 3: has a quoted cell that continues on the next line; put each row on a single line",
    ),
    "csv: Latin-1": (
        b"qid,docid,score\nq,d\xe9,1\n",
        "line 2: document 'd�' is not text in UTF-8; save the file in UTF-8",
    ),
    "csv: only a header": ("qid,docid,score\n", "holds no scores; give at least one query with a document"),
    "json: cut": ('{"q":\n{"d": 1', "line 2, column 8: not JSON: Expecting ',' delimiter"),
    "json: a list": ('{"q": ["d"]}', "line 1: query 'q': must be an object {document: score}; got ['d']"),
    "json: not all": ('{"q": {"d": 1}, "r": 2}', "line 1: query 'r': must be an object {document: score}; got 2"),
    "json: twice": ('{"q": {"d": 1, "d": 1}}', "line 1: 'd' appears twice in one object, {'d': 1}; give each id once"),
    "json: no number": ('{"q": {"d": "1"}}', "line 1: the score '1' of document 'd' of query 'q' is not a number"),
    "json: null": (
        '{"q": {"d": null}}',
        "line 1: document 'd' of query 'q' has no score; give it one, or remove it",
    ),
    "json: nan": ('{"q": {"d": NaN}}', "line 1: the score nan of document 'd' of query 'q' is not finite"),
    "json: digits": (
        '{"q": {"d": 9007199254740993}}',
        "line 1: the score 9007199254740993 of document 'd' of query 'q' has more digits than float64 holds",
    ),
    "json: beyond": (
        '{"q": {"d": 1' + "0" * 400 + "}}",
        f"line 1: the score 1{'0' * 98}… of document 'd' of query 'q' has more digits than float64 holds",
    ),
    "json: surrogate": (
        '{"q": {"\\ud800": 1}}',
        "line 1: the document '�' is neither text nor an integer, as ids must be",
    ),
    "json: empty": ("{}", "holds no scores; give at least one query with a document"),
    "json: a long integer": (
        '{"q": {"d": 1,\n"e": ' + "9" * 5000 + "}}",
        (
            "line 2: holds an integer of 5,000 digits, 999999999…, more than 4,300; write ids as text, "
            "and numbers as float64 holds them"
        ),
    ),
    "jsonl: a long integer": (
        '{"q": {"d": 1}}\n{"q": {"e": ' + "9" * 5000 + "}}",
        (
            "line 2: holds an integer of 5,000 digits, 999999999…, more than 4,300; write ids as text, "
            "and numbers as float64 holds them"
        ),
    ),
    "json: deep": ('{"q":' * 100_000, "nests objects too deep"),
    "json: a number": ("[1]", "record 0 (from 0): 1 is not a JSON object, {...}"),
    "json: a record": (
        '[{"qid": 1, "docid": 2, "score": 1},\n{"qid": 1, "docid": 2.5, "score": 1}]',
        "record 1 (from 0): the document 2.5 is neither text nor an integer, as ids must be",
    ),
    "json: MTEB": (
        json.dumps({"en": {"test": AS_MAPPING, "dev": AS_MAPPING}, "de": {"test": AS_MAPPING}}),
        (
            "line 1: holds 3 rankings: ['en']['test'], ['en']['dev'], ['de']['test']; read "
            "it by json.load and give one, such as file['en']['test']"
        ),
    ),
    "jsonl: cut": (
        '{"qid": "q", "docid": "d", "score": 1}\n{"qid"',
        "line 2: not JSON: Expecting ':' delimiter, at column 7",
    ),
    "jsonl: null": (
        '{"qid": "q", "docid": "d", "score": 1}\n\n{"qid": null, "docid": "d", "score": 1}',
        "line 3: has no query; give each row its id",
    ),
    "jsonl: twice": (
        '{"qid": "q", "docid": "d", "score": 1}\n\n{"qid": "q", "docid": "d", "score": 1}',
        "line 3: document 'd' of query 'q' is in line 1 already",
    ),
    "jsonl: twice in two": (
        '{"q": {"d": 1}}\n{"q": {"e": 1, "d": 1}}',
        "line 2: document 'd' of query 'q' is in line 1 already",
    ),
    "jsonl: Latin-1": (
        b'{"qid": "q", "docid": "d", "score": 1}\n{"qid": "\xe9", "docid": "d", "score": 1}',
        "line 2: is not text in UTF-8; save the file in UTF-8",
    ),
    "parquet: null": (
        parquet_of([*RECORDS, {"query-id": "q", "corpus-id": None, "score": 1.0}]),
        "row 3 (from 0): has no document; give each row its id",
    ),
    "parquet: no value": (
        parquet_of([*RECORDS, {"query-id": "q", "corpus-id": "d", "score": None}]),
        "row 3 (from 0): document 'd' of query 'q' has no score; give it one, or remove it",
    ),
    "parquet: nan": (
        parquet_of([*RECORDS, {"query-id": "q", "corpus-id": "d", "score": math.nan}]),
        "row 3 (from 0): the score nan of document 'd' of query 'q' is not finite",
    ),
    "parquet: twice": (
        parquet_of([*RECORDS, RECORDS[0]]),
        "row 3 (from 0): document 'd1' of query 'q1' is in row 0 (from 0) already",
    ),
    "parquet: floats": (
        parquet_of([{"query-id": 1.5, "corpus-id": "d", "score": 1.0}]),
        "the column 'query-id' holds double; ids are text or integers, so convert it",
    ),
    "parquet: text": (
        parquet_of([{"query-id": "q", "corpus-id": "d", "score": "1"}]),
        "the column 'score' holds string; it must hold numbers, so convert it",
    ),
    "parquet: columns": (
        parquet_of([{"q": "q", "score": 1.0}]),
        (
            "no column holds the query; name it query_id or qid or user_id or userid or uid or query or user or topic; "
            "the file has 'q', 'score'"
        ),
    ),
    "parquet: no rows": (as_parquet(TABLE[:0]), "holds no scores; give at least one query with a document"),
}


@pytest.mark.parametrize("text", ['{"q": {"d": 0.5}}', '\ufeff{"q":\r\n{"d": 0.5}}'])
def test_json_is_parsed_with_or_without_a_byte_order_mark(text: str) -> None:
    assert parse_json(text.encode()) == {"q": {"d": 0.5}}


def test_json_that_python_writes_keeps_values_that_are_not_finite() -> None:
    assert str(parse_json(json.dumps([math.nan, math.inf, -math.inf]).encode())) == "[nan, inf, -inf]"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"q": {"d": 1,\n"d": 2}}', "'d' appears twice in one object, {'d': 2}; give each id once"),
        (b'[[{"name": 1, "name": 1}]]', "'name' appears twice in one object, {'name': 1}; give each id once"),
        (b'{"q":' * 100_000, "nests objects too deep"),
        (b"[" * 100_000, "nests objects too deep"),
        (
            b'{"d": 1' + b"0" * 4300 + b"}",
            (
                "holds an integer of 4,301 digits, 100000000…, more than 4,300; write ids as text, "
                "and numbers as float64 holds them"
            ),
        ),
        ('{"q": "é"}'.encode("latin-1"), "is not text in UTF-8; save the file in UTF-8"),
        ('{"q": 1}'.encode("utf-16"), "is text in UTF-16; save the file in UTF-8"),
        (b'{"q":\n1', "Expecting ',' delimiter: line 2 column 2 (char 7)"),
        (b"", "Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_json_that_has_no_one_value_raises_value_error(text: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        parse_json(text)


@pytest.mark.parametrize("fault", FAULTY_FORMS)
def test_a_fault_in_any_form_is_named_with_its_file_and_place(
    holding: evaluate.Metric, write: Callable[..., Path], fault: str
) -> None:
    content, problem = FAULTY_FORMS[fault]
    path = write(content, f"a.{fault.partition(':')[0]}")
    assert refused("run", path) == f"{path}: {problem}"
    assert refused_by_metric(holding, "run", path) == f"predictions: {path}: {problem}"
    assert_nothing_was_added(holding)


@pytest.mark.parametrize("form", ["file.parquet", "file.arrow", "stream.arrow"])
def test_a_table_that_is_cut_short_is_rejected(write: Callable[..., Path], form: str) -> None:
    path = write(FORMS[form][:-200], form)
    assert refused("run", path).startswith(f"{path}: cannot be read, so it may be damaged or cut short: ")


LIMITS = {
    "bytes": (Limits(bytes=20), "holds more than 20 bytes"),
    "uncompressed": (Limits(uncompressed=20), "bytes uncompressed"),
    "rows": (Limits(rows=2), "holds more than 2 rows, the limit here"),
    "queries": (Limits(queries=1), "holds more than 1 queries, the limit here"),
    "columns": (Limits(columns=2), "holds more than 2 columns, the limit here"),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("form", ["file.txt", "file.csv", "file.json", "file.jsonl", "file.parquet", "file.arrow"])
def test_limits_bound_every_form(write: Callable[..., Path], form: str, limit: str, packed: str) -> None:
    limits, problem = LIMITS[limit]
    path = write(PACKED[packed](FORMS[form]), form + packed)
    uncompressed = None if form == "file.arrow" else 10_000
    assert len(reader.read_columns(path, "run", Limits(10_000, uncompressed, 3, 2, 3)).value) == 3
    if limit == "columns" and form in ("file.txt", "file.json"):
        return
    if limit == "uncompressed" and form == "file.arrow" and not packed:
        problem = "give Parquet"
    with pytest.raises(ValueError, match=problem):
        reader.read_columns(path, "run", limits)


def test_a_file_that_unpacks_to_more_than_the_limit_is_not_unpacked_whole(write: Callable[..., Path]) -> None:
    limits = Limits(bytes=1 << 20, uncompressed=1 << 22)
    for pack in (PACKED[".gz"], PACKED[".zst"]):
        for content in (bytes(1 << 26), b"q Q0 d 1 1 tag\n" * (1 << 22), b"[" + b" " * (1 << 26)):
            with pytest.raises(ValueError, match=r"bytes uncompressed|line 1: "):
                reader.read_columns(write(pack(content), "bomb"), "run", limits)


@pytest.mark.parametrize("head", ["", "query,document,score\n"])
def test_lines_are_counted_over_chunks_of_empty_lines(write: Callable[..., Path], head: str) -> None:
    empty = 2 * CHUNK + 7
    row = "q,d,x\n" if head else "q Q0 d 1 x t\n"
    with pytest.raises(ValueError, match=f"line {empty + len(head.splitlines()) + 1}: the score 'x' is not a number"):
        reader.read_run(write("\n" * empty + head + row, "file.csv" if head else "file.run"))


def test_a_list_of_empty_records_is_rejected_by_their_number(write: Callable[..., Path]) -> None:
    with pytest.raises(ValueError, match="holds more than 2 rows"):
        reader.read_run(write(json.dumps([RECORDS[0], {}, {}]), "a.json"), Limits(rows=2))


def parquet(query: Any, rows: int = 10_000, **how: Any) -> bytes:
    sink = pa.BufferOutputStream()
    table = pa.table({"query": query, "document": list(map(str, range(rows))), "score": np.ones(rows)})
    pa.parquet.write_table(table, sink, **{"compression": "zstd", **how})
    content: bytes = sink.getvalue().to_pybytes()
    return content


# --- Tables as pandas writes them in JSON ----------------------------------------------------------------------------

PANDAS_ROWS = {
    "run": [(1, 10, 0.9), (1, 11, 0.5), (2, 10, 0.2), (2, 11, 0.8)],
    "qrels": [(1, 10, 0), (1, 11, 1), (2, 10, 1), (2, 11, 0)],
}
PANDAS_NAMES = {
    "known": {"run": ["query_id", "doc_id", "score"], "qrels": ["query_id", "doc_id", "relevance"]},
    "in other spellings": {"run": ["userId", "item-id", "prediction"], "qrels": ["userId", "item-id", "Rating"]},
}
ORIENTS = ["columns", "index", "records", "split", "table"]
SCORED = [1 / math.log2(3)] * 2


def tables(names: str) -> dict[str, Any]:
    pd = pytest.importorskip("pandas")
    return {kind: pd.DataFrame(rows, columns=PANDAS_NAMES[names][kind]) for kind, rows in PANDAS_ROWS.items()}


@pytest.mark.parametrize("names", PANDAS_NAMES)
@pytest.mark.parametrize("orient", ORIENTS)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_of_pandas_is_read_as_the_table_that_it_is(
    ndcg: evaluate.Metric, write: Callable[..., Path], names: str, orient: str, indent: int | None
) -> None:
    frames = tables(names)
    run, qrels = (
        write(frames[kind].to_json(orient=orient, indent=indent), f"{kind}.json") for kind in ("run", "qrels")
    )
    assert ndcg.read_run(run) == {"1": {"10": 0.9, "11": 0.5}, "2": {"10": 0.2, "11": 0.8}}
    assert ndcg.read_qrels(qrels) == {"1": {"10": 0, "11": 1}, "2": {"10": 1, "11": 0}}
    assert ndcg.compute(predictions=run, references=qrels, use_aggregator=False) == {"nDCG": pytest.approx(SCORED)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("orient", [*ORIENTS, "dict", "list", "tight"])
def test_a_table_in_memory_is_not_read_as_rankings(ndcg: evaluate.Metric, kind: str, orient: str) -> None:
    frame = tables("known")[kind]
    side = json.loads(frame.to_json(orient=orient)) if orient in ORIENTS else frame.to_dict(orient)
    good = {"predictions": {"1": {"10": 1.0}}, "references": {"1": {"10": 1}}}
    seen = "must be one column; got a table of columns .*'query_id', 'doc_id'.*join both sides"
    for method in (ndcg.compute, ndcg.report, ndcg.add_batch):
        with pytest.raises(ValueError, match=f"^{ARGUMENTS[kind]}: {seen}"):
            method(**{**good, ARGUMENTS[kind]: side})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            {"userId": {"0": 1}, "movie": {"0": 2}, "score": {"0": 3}},
            "no column holds the document; name it document_id",
        ),
        ({"query": {"0": 1, "1": 1}, "doc_id": {"0": 2, "1": 2}, "score": {"0": 3, "1": 4}}, "record 1 .*in record 0"),
        (
            {"query": {"0": 1}, "doc_id": {"0": 2}, "score": {"0": None}},
            "record 0 .*: document 2 of query 1 has no",
        ),
        (
            {"columns": ["qid", "docid", "score"], "data": [[1, 2, 0.5], [1, 3]]},
            "record 1 .*document 3 of query 1 has no",
        ),
        ({"columns": ["qid", "docid", "score"], "data": [[1, 2, 0.5], 7]}, "must be an object"),
        ([[1, 2, 0.5]], r"record 0 .*name the columns, as to_json\(orient='records'\) does"),
    ],
)
def test_a_table_in_json_is_rejected_by_column_or_record(
    write: Callable[..., Path], content: Any, problem: str
) -> None:
    assert re.search(problem, refused("run", write(json.dumps(content), "table.json")))


@pytest.mark.parametrize(
    "rankings",
    [
        {"query": {"d1": 0.5}, "item": {"d2": 0.25}},  # queries with the names of columns, and other documents
        {"q1": {"item": 0.5, "word": 1.0}, "q2": {"item": 0.25}},  # documents
        {"q1": {"query": 0.5, "item": 1.0}, "q2": {"word": 0.25}},
        {"q1": {"user_id": 0.5, "item_id": 1.0, "rating": 2.0}, "q2": {"user_id": 1.0, "item_id": 0.25, "rating": 2.0}},
        {"user_id": {"d1": 0.5, "d2": 1.0}, "item_id": {"d1": 2.0, "d2": 1.0}},
        {"data": {"d1": 0.5}, "columns": {"d2": 0.25}},
    ],
)
def test_words_that_name_columns_may_be_ids(ndcg: evaluate.Metric, write: Callable[..., Path], rankings: Any) -> None:
    assert reader.read_run(write(json.dumps(rankings))) == rankings
    relevant = {query: {min(documents, key=documents.get): 1} for query, documents in rankings.items()}
    others = [
        {f"_{query}": {f"_{each}": side[query][each] for each in side[query]} for query in side}
        for side in (rankings, relevant)
    ]
    expected = ndcg.compute(predictions=others[0], references=others[1])
    assert ndcg.compute(predictions=rankings, references=relevant) == expected


ZEROS = "0" * 10_000
TABLE_BOMBS = {
    "a text of many rows": lambda: parquet(pa.repeat(ZEROS, 10_000).dictionary_encode(), store_schema=False),
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
    write: Callable[..., Path], bomb: str, packed: str
) -> None:
    path = write(PACKED[packed](TABLE_BOMBS[bomb]()), "bomb" + packed)
    assert path.stat().st_size < 1 << 20
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match=r"bytes uncompressed|give Parquet|DELTA_BYTE_ARRAY"):
        reader.read_columns(path, "run", Limits(bytes=1 << 20, uncompressed=1 << 22))
    assert pa.total_allocated_bytes() - before < 1 << 23


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_limits_accept_a_file_that_fits_from_every_writer(
    write: Callable[..., Path], version: str, compression: str, dictionary: bool
) -> None:
    queries = [f"query {row % 7}" for row in range(10_000)]
    content = parquet(
        queries,
        compression=compression,
        data_page_version=version,
        data_page_size=1000,
        row_group_size=3000,
        write_page_checksum=True,
        use_dictionary=dictionary,
    )
    path = write(content, "a.parquet")
    limits = Limits(1 << 20, 1 << 20, 10_000, 7, 3)
    assert reader.read_run(path, limits) == reader.read_run(path)
    with pytest.raises(ValueError, match="bytes uncompressed"):
        reader.read_run(path, limits._replace(uncompressed=50_000))


def test_the_schema_of_a_table_is_bounded_before_it_is_read(write: Callable[..., Path]) -> None:
    sink = pa.BufferOutputStream()
    schema = pa.schema([(str(at), pa.int8()) for at in range(1 << 16)])
    pa.parquet.ParquetWriter(sink, schema, store_schema=False).close()
    path = write(sink.getvalue().to_pybytes(), "wide.parquet")
    with pytest.raises(OSError, match="size limit"):
        reader.read_run(path, Limits(uncompressed=1 << 22))
    with pytest.raises(ValueError, match="no column holds the query"):
        reader.read_run(path)


def test_ids_of_integers_are_text_in_the_table_of_a_report(
    fresh_metric: MetricFactory, write: Callable[..., Path]
) -> None:
    path = write(as_parquet(pa.table({"qid": [7, 10], "docid": [1, 1], "score": [0.5, 0.5]})), "a.parquet")
    report = fresh_metric().report(predictions=path, references=path)
    assert report.queries["query"].to_pylist() == ["7", "10"]


NAMED_BY_OTHERS = {
    "comma.csv": b"member,film,stars\nann,alien,2.5\nbob,brazil,-1\n",
    "tab.tsv": b"member\tfilm\tstars\nann\talien\t2.5\nbob\tbrazil\t-1\n",
    "lines.jsonl": b'{"member":"ann","film":"alien","stars":2.5}\n{"member":"bob","film":"brazil","stars":-1}\n',
    "table.parquet": None,
}


@pytest.mark.parametrize("name", NAMED_BY_OTHERS)
def test_columns_of_any_name_are_read_by_the_names_given(write: Callable[..., Path], name: str) -> None:
    content = NAMED_BY_OTHERS[name]
    if content is None:
        content = as_parquet(pa.table({"member": ["ann", "bob"], "film": ["alien", "brazil"], "stars": [2.5, -1]}))
    path = write(content, name)
    columns = reader.read_columns(path, "run", names={"query": "member", "document": "Film", "score": "stars"})
    assert columns.query_ids.to_pylist() == ["ann", "bob"]
    assert columns.document.to_pylist() == ["alien", "brazil"]
    assert columns.value.tolist() == [2.5, -1]
    with pytest.raises(ValueError, match=r"no column is called user; the file has 'member', 'film', 'stars'$"):
        reader.read_columns(path, "run", names={"query": "user", "document": "film", "score": "stars"})


@pytest.mark.parametrize("chunk", [30, 1 << 22])
def test_comments_are_text_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chunk: int) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    path = tmp_path / "run.txt"
    path.write_bytes(
        b"# the run of today, in TREC form\n" * 3 + b"# \0\n" + b"# and more of it here and there\nq Q0 d 1 2 t\n"
    )
    with pytest.raises(ValueError, match=r"line 4: holds a NUL byte"):
        reader.read_run(path)
