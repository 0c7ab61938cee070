"""TREC files and CSV as people write them: layouts, comments, spellings of numbers, any ids.

test_fuzz_files.py reads random files in chunks of any size, from pipes and compressed, as a slow
reader does.
"""

import math
from collections.abc import Callable
from typing import Any

import pytest
from conftest import MetricFactory
from file_helpers import (
    KINDS,
    QRELS,
    QRELS_READ,
    READERS,
    RUN,
    RUN_READ,
    Write,
    assert_refused,
    line,
)
from file_helpers import write as write
from hypothesis import given, settings
from hypothesis import strategies as st
from sources import ODD_IDS, SPELLINGS

from ndcg.files import reader

LAYOUTS: dict[str, Callable[[str], str]] = {
    "single spaces": lambda text: text,
    "tabs": lambda text: text.replace(" ", "\t"),
    "spaces and tabs": lambda text: text.replace(" ", " \t  \t "),
    "leading tabs": lambda text: "".join("\t" + each for each in text.splitlines(keepends=True)),
    "CRLF after spaces": lambda text: text.replace("\n", "  \r\n"),
    "CRLF and blank lines": lambda text: "\r\n" + text.replace("\n", "\r\n\r\n"),
    "no final newline": lambda text: text.removesuffix("\n"),
    "no final newline after leading spaces": lambda text: (
        "  " + text.removesuffix("\n").replace("\n", "\n  ")
    ),
    "comments with tabs and CRLF": lambda text: "#\ta\r\n" + text.replace("\n", "\r\n#\tb c\r\n"),
    "indented comments": lambda text: "  # a comment\n" + text.replace("\n", "\n\t# another\n"),
    "empty comments": lambda text: "#\n" + text + "#\n#",
    "a byte order mark before a comment": lambda text: "\ufeff# a comment\n" + text,
}
CHUNKS = (1, 7, 1 << 26)  # bytes that are read at a time


@pytest.fixture(params=CHUNKS)
def _chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", request.param)


@pytest.mark.usefixtures("_chunk")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_lines_is_read(write: Write, layout: str) -> None:
    assert reader.read_run(write(LAYOUTS[layout](RUN))) == RUN_READ
    assert reader.read_qrels(write(LAYOUTS[layout](QRELS))) == QRELS_READ


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_text_whatever_they_look_like(write: Write, kind: str) -> None:
    for text in ODD_IDS:
        path = write(line(kind, query=text, document=text) + "\n")
        assert READERS[kind](path) == {text: {text: 1}}, text
    path = write(
        "".join(line(kind, query, document) + "\n" for query in ODD_IDS for document in ODD_IDS)
    )
    assert READERS[kind](path) == {query: dict.fromkeys(ODD_IDS, 1) for query in ODD_IDS}


COMMENT, TWO = "# one query more of four words\n", {"#q": {"d": 1}, "#p": {"d": 2}}
MARKED_RUN = "#q Q0 d 1 2 tag\n# comment with six words here ok\n#q Q0 #d 2 .5 tag more\n"


@pytest.mark.usefixtures("_chunk")
@pytest.mark.parametrize(
    ("kind", "text", "read"),
    [
        ("run", MARKED_RUN, {"#q": {"d": 2, "#d": 0.5}}),
        ("qrels", f"# TREC 2019\n#q 0 d 1\nq 0 d 2\n{COMMENT}", {"#q": {"d": 1}, "q": {"d": 2}}),
        ("qrels", "# depth 100\n#q\t0\td\t1\r\n \n  #p 0 d 2\n# end", TWO),
        ("qrels", "#q 0 d high\n#q 0 d\nq 0 d 1\n", {"q": {"d": 1}}),
        ("exclude", "#q d\n# none\n# of three words\nq d\n", {"#q": {"d": 1}, "q": {"d": 1}}),
    ],
)
def test_a_line_with_the_columns_of_a_row_is_no_comment(
    write: Write, kind: str, text: str, read: Any
) -> None:
    columns = reader.read_columns(write(text), kind)
    queries = [columns.query_ids[each].as_py() for each in columns.query]
    rows = list(zip(queries, columns.document.to_pylist(), columns.value.tolist(), strict=True))
    assert rows == [(query, *row) for query, documents in read.items() for row in documents.items()]


@pytest.mark.usefixtures("_chunk")
def test_a_byte_order_mark_is_removed_from_a_file_but_not_from_ids(write: Write) -> None:
    marked = "\ufeffq"
    path = write(
        "\ufeff"
        + "".join(line("run", query) + "\n" for query in ("q", marked, "p", "\ufeff" + marked))
    )
    assert reader.read_run(path) == {
        query: {"d": 1.0} for query in ("q", marked, "p", "\ufeff" + marked)
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_number_in_any_spelling_is_the_nearest_float(
    write: Write, kind: str, spelling: str
) -> None:
    # next to a fraction, relevances are floats
    good = (
        line(kind, document="a", value=spelling)
        + "\n"
        + line(kind, document="b", value="0.1")
        + "\n"
    )
    assert READERS[kind](write(good)) == {"q": {"a": float(spelling), "b": 0.1}}
    path = write(good + line(kind, document="c", value="x"))
    assert_refused(kind, path, "line 3")


@settings(max_examples=30)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_scores_are_read_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, scores: list[float]
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.txt"
    path.write_text(
        "".join(
            line("run", document=f"d{at}", value=repr(each)) + "\n"
            for at, each in enumerate(scores)
        )
    )
    actual = list(reader.read_run(path)["q"].values())
    assert list(map(repr, actual)) == list(map(repr, scores))


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["0", "1", "-2"], [0, 1, -2]),
        (["1e2", "0.0"], [100, 0]),
        (["0.5", "1"], [0.5, 1.0]),
        (["1e300", "1"], [1e300, 1.0]),
    ],
)
def test_relevances_are_integers_if_all_are_whole_and_scores_are_floats(
    write: Write, values: list[str], read: list[float]
) -> None:
    for kind, kept in (("qrels", read), ("run", list(map(float, read)))):
        path = write(
            "".join(
                line(kind, document=f"d{at}", value=value) + "\n" for at, value in enumerate(values)
            )
        )
        assert list(map(repr, READERS[kind](path)["q"].values())) == list(map(repr, kept))


def test_rows_keep_their_order_and_other_columns_are_not_looked_at(write: Write) -> None:
    # the lines of a query need not be next to each other
    path = write("q2 Q0 b 1\nq10 NA c 1\nq2 0 a 2\nq1 0 z 0\nq10 0 a 1\n")
    actual = [
        (query, list(documents.items())) for query, documents in reader.read_qrels(path).items()
    ]
    assert actual == [
        ("q2", [("b", 1), ("a", 2)]),
        ("q10", [("c", 1), ("a", 1)]),
        ("q1", [("z", 0)]),
    ]
    assert reader.read_run(write("q x d1 9 0.5 #tag\nq - d2 first 2 #tag\n")) == {
        "q": {"d1": 0.5, "d2": 2.0}
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_larger_than_what_arrow_parses_at_a_time_is_read_whole(
    write: Write, kind: str
) -> None:
    documents = {
        f"q{query}": {f"d{query * at}": at / 4 for at in range(1, 401)} for query in range(1, 201)
    }
    path = write(
        "".join(
            line(kind, q, d, value) + "\n"
            for q, each in documents.items()
            for d, value in each.items()
        )
    )
    assert path.stat().st_size > 1 << 20
    assert READERS[kind](path) == documents


def test_files_may_be_added_as_batches(fresh_metric: MetricFactory, write: Write) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=[[1, 0]], references=[[0, 1]])
    metric.add_batch(predictions=write(RUN, "run"), references=write(QRELS, "qrels"))
    assert len(metric) == 3
    expected = [1 / math.log2(3), 1 / (2 + 1 / math.log2(3)), 0.0]
    assert metric.compute(use_aggregator=False)["nDCG"] == pytest.approx(expected, rel=1e-15)


SEMICOLONS = {
    "plain": "qid;docid;score\nq;d,1;1.5\nq;e;0.5\n",
    "quoted, spaced": '"qid"; "docid" ;"score"\n"q";d,1;"1.5"\nq ; e; 0.5\n',
    "more columns": "note;qid;docid;score, raw;score\nx, y;q;d,1;9;1.5\n,;q;e;9;0.5\n",
    "CRLF": "\ufeffqid;docid;score\r\nq;d,1;1.5\r\nq;e;0.5\r\n",
}


@pytest.mark.parametrize(
    "scores", [["1.340", "980.000"], ["1.340", "2.1", "980"], ["0.340", "980"], ["1.340", "98"]]
)
def test_a_point_of_decimals_is_not_taken_for_one_of_thousands(
    write: Write, scores: list[str]
) -> None:
    rows = "".join(f"q,d{rank},{score}\n" for rank, score in enumerate(scores))
    run = reader.read_run(write(f"qid,docid,score\n{rows}", "a.csv"))
    assert list(run["q"].values()) == list(map(float, scores))


@pytest.mark.parametrize("name", ["a.csv", "a"])
@pytest.mark.parametrize("content", SEMICOLONS)
def test_csv_with_semicolons_is_read_if_the_header_has_them(
    write: Write, content: str, name: str
) -> None:
    assert reader.read_run(write(SEMICOLONS[content], name)) == {"q": {"d,1": 1.5, "e": 0.5}}


@pytest.mark.parametrize(
    "rows",
    [
        [
            ("0", "d1", 1234567890),
            ("Q0", "d2", 2345678901),
        ],  # iterations, and amounts for relevances
        [
            ("1", "d1", 1),
            ("2", "d1b", 0),
            ("0.5", "d2", 2),
        ],  # subtopics of diversity, rounds of TREC-COVID
        [("1", "20240101", 3), ("2", "1700000000", 0)],  # documents of numbers
        [("1", "d1", 123456789), ("2", "d2", 0)],  # not all large
    ],
)
def test_qrels_with_iterations_or_large_relevances_are_read(write: Write, rows: Any) -> None:
    text = "".join(
        f"q {iteration} {document} {relevance}\n" for iteration, document, relevance in rows
    )
    assert reader.read_qrels(write(text)) == {
        "q": {document: relevance for _, document, relevance in rows}
    }


def test_ratings_with_times_are_read_with_a_header(write: Write) -> None:
    path = write("user_id\titem_id\trating\ttime\n196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    assert reader.read_qrels(path) == {"196": {"242": 3}, "186": {"302": 3}}
