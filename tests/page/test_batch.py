"""A batch as the page shows it: its queries by their ids, and errors in the words of the page."""

import html
import json
import re
from pathlib import Path

import pytest

from page.batch import fill_batch, score_batch
from page.choices import bar_of

BAR = bar_of("sklearn")


def test_queries_have_the_ids_that_were_given() -> None:
    shown = score_batch("[1, 2, 3, 4]", "[1, 0, 0, 1]", "", '["b", "a", "b", "a"]', *BAR)
    rows = [re.findall("<td>(.*?)</td>", row) for row in shown.queries.split("<tr>")]
    assert [row for row in rows if row] == [["b", "0.6309"], ["a", "1.0000"]]


def test_mappings_are_scored_query_by_query() -> None:
    shown = score_batch(
        '{"q1": {"a": 2}, "q2": {"a": 2, "b": 1}}', "{'q2': {'b': 1}, 'q1': {'a': 1}}", "", "", *BAR
    )
    rows = [re.findall("<td>(.*?)</td>", row) for row in shown.queries.split("<tr>")]
    assert [row for row in rows if row] == [["q2", "0.6309"], ["q1", "1.0000"]]


def test_a_file_may_hold_mappings(tmp_path: Path) -> None:
    batch = {"predictions": {"q1": {"a": 2}}, "references": {"q1": {"a": 1}}}
    (tmp_path / "batch.json").write_text(json.dumps(batch))
    assert [json.loads(text) for text in fill_batch(str(tmp_path / "batch.json"))[-4:-2]] == [
        *batch.values()
    ]


def test_an_upload_that_cannot_be_read_leaves_no_result_of_before(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    error, *others = fill_batch(str(tmp_path / "bad.csv"))
    assert "bad.csv: has no predictions" in error
    assert others[:4] == [None] * 4


def test_a_file_of_labels_is_scored_by_their_gains(tmp_path: Path) -> None:
    (tmp_path / "batch.csv").write_text(
        "prediction,reference,query_id\n3,no,a\n2,yes,a\n1,,a\n5,2,b\n"
    )
    _, *filled = fill_batch(str(tmp_path / "batch.csv"))[-5:]
    assert json.loads(filled[1]) == ["no", "yes", None, 2.0]
    shown = score_batch(*filled, *BAR[:2], "yes=2, no=0, 2=1", *BAR[3:])
    assert re.findall(r"<td>([\d.]+)</td>", shown.queries) == ["0.6309", "1.0000"]
    assert "gain={'yes': 2.0, ' no': 0.0, ' 2': 1.0}" in shown.code
    assert "|" not in shown.signature.partition("gain:2=1,no=0,yes=2")[0].partition("|")[2]


NONE = (
    "2 queries, 1 with no relevant documents. nDCG@10 if these count as 1: 1.0000, skipped: 1.0000"
)
NEGATIVE = (
    "position 1: the relevance -1 is negative; in Python: ignore_index=-1 removes padding; Negative relevance set to "
    '"clip" counts it as gain 0, as Convention set'
)
SKIPPED = 'nDCG@10: no query of positive weight has a value: No relevant documents set to "skipped" excludes those with'
TWICE = 'once for a query, or Listed several times set to "at the best rank" to count it once, at its best rank </p>'
NO_NUMBER = "predictions: query 'q', document 'a': 'x' is not a number; give a number or null"
FULL = "The full ideal has as many documents as there are ranks: give Cut"
FLAT = "for a row per document give Query ids"
LABELS = "references: query 0, position 0: 'yes' is not a number; for labels, give the gain of each, in Gain: yes=..."
UNKNOWN = "references: query 0, position 0: 'yes' is a label without a gain; Gain has 'no'"
NOT_A_GAIN = 'Gain must be "linear", "exponential", "binary", the finite gains of labels 0, 1, 2, ... as 0, 1, 3, or '
TREC = "predictions: these are lines of a TREC file. Paste them in the tab Search runs."


@pytest.mark.parametrize(
    ("predictions", "references", "bar", "said"),
    [
        ("[[2, 1], [1]]", "[[1, 0], [0]]", BAR, NONE),
        ("[[2, 1]]", "[[1, 0]]", BAR, "1 query, 0 with no relevant documents.</p>"),
        ("[[2, 1]]", "[[1, -1]]", BAR, NEGATIVE),
        ("[2, 1]", "[1, 0]", BAR, FLAT),
        ("[[0.2, 0.1]]", "[['yes', 'no']]", BAR, LABELS),
        ("[[2, 1]]", "[['yes', 'no']]", [*BAR[:2], "no=0", *BAR[3:]], UNKNOWN),
        ("[[2, 1]]", "[[1, 0]]", [*BAR[:2], "liner", *BAR[3:]], NOT_A_GAIN),
        ("[[2, 1]]", "[[0, 0]]", [*BAR[:7], "nan", *BAR[8:]], SKIPPED),
        ("{'q': ['a', 'a']}", "{'q': ['a']}", BAR, TWICE),
        ("{'q': {'a': 'x'}}", "{'q': {'a': 1}}", BAR, NO_NUMBER),
        ("[[2, 1]]", "[[1, 0]]", ["", *BAR[1:4], "full", *BAR[5:]], FULL),
        ("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t", "q1 0 d1 1", BAR, TREC),
    ],
)
def test_results_and_errors_are_in_the_words_of_the_page(
    predictions: str, references: str, bar: list[object], said: str
) -> None:
    assert said in html.unescape(score_batch(predictions, references, "", "", *bar).score)
