"""A batch as the page shows it: its queries by their ids, and errors in the words of the page."""

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


def test_an_upload_that_cannot_be_read_leaves_no_result_of_before(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    error, *others = fill_batch(str(tmp_path / "bad.csv"))
    assert "bad.csv: has no predictions" in error
    assert others[:4] == [None] * 4


def test_policies_are_listed_if_they_change_the_score() -> None:
    shown = score_batch("[[2, 1], [1]]", "[[1, 0], [0]]", "", "", *BAR)
    assert (
        "2 queries, 1 with no relevant documents. nDCG@10 if these count as 1: 1.0000, skipped: 1.0000" in shown.score
    )
    shown = score_batch("[[2, 1]]", "[[1, 0]]", "", "", *BAR)
    assert "1 query, 0 with no relevant documents.</p>" in shown.score


def test_lines_of_a_run_are_sent_to_the_tab_of_runs() -> None:
    shown = score_batch("q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t", "q1 0 d1 1", "", "", *BAR)
    assert "predictions: these are lines of a TREC file. Paste them in the tab Search runs." in shown.score


@pytest.mark.parametrize(
    ("references", "bar", "said"),
    [
        (
            "[[1, -1]]",
            BAR,
            "references: query 0, position 1: the relevance -1 is negative; Negative relevance set to clip counts",
        ),
        (
            "[[0, 0]]",
            [*BAR[:7], "nan", *BAR[8:]],
            "nDCG@10: no query of positive weight has a value: No relevant documents set to nan excludes those with",
        ),
        (
            "[[1, 0]]",
            ["", *BAR[1:4], "full", *BAR[5:]],
            "The full ideal has as many documents as there are ranks: give Cut",
        ),
    ],
    ids=["negative", "skipped", "full"],
)
def test_errors_name_the_fields_of_the_page(references: str, bar: list[object], said: str) -> None:
    error, *_ = score_batch("[[2, 1]]", references, "", "", *bar)
    assert said in error
