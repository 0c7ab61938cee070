"""Uploaded runs: their names, their audit, and a query of theirs as a ranking."""

import math
import re

import pandas as pd
import pytest

from page.beside import query_bars, side_by_side
from page.choices import DOCUMENTS, bar_of, options_of
from page.figures import Ranking
from page.found import audit_row, compare_runs, missing_text, report_on, rows_of_query, run_names, verdict_on

QRELS = {"q1": {"a": 1.0, "b": 0.0}, "q2": {"a": 2.0}}
RUN = {"q1": {"a": 1.0, "x": 1.0, "b": 0.5}, "q3": {"a": 1.0}}


def test_runs_are_named_by_their_files_each_by_a_name_of_its_own() -> None:
    paths = ["1/bm25.run", "2/bm25.txt.gz", "3/bm25.CSV", "4/.run", "5/bm25.jsonl.zst", "6/v1.2"]
    assert run_names(paths) == dict(
        zip(["bm25", "bm25 (2)", "bm25 (3)", ".run", "bm25 (4)", "v1.2"], paths, strict=True)
    )


@pytest.mark.parametrize(
    ("convention", "k", "unjudged"),
    [("sklearn", "1", "0.5 of 1"), ("trec_eval", "1", "1 of 1"), ("ranx", "", "1 of 3")],
)
def test_an_audit_counts_as_the_report_does(convention: str, k: str, unjudged: str) -> None:
    score, *_ = report_on(RUN, QRELS, options_of(k, *bar_of(convention)[1:])).scores.values()
    assert audit_row("run", RUN, QRELS, score) == ["run", 4, 2, 1, 1, 1, unjudged]


def test_a_query_opens_with_what_was_retrieved_and_what_was_missed() -> None:
    qrels = {"q": {"a": 2.0, "missed": 1.0, **{f"m{at}": 0.0 for at in range(DOCUMENTS)}}}
    rows, what = rows_of_query({"q": {"x": 1.5, "a": 2.0}}, qrels, "q", "one")
    assert rows[:3] == [["a", "2", "2"], ["x", "", "1.5"], ["missed", "1", ""]]
    assert len(rows) == DOCUMENTS
    assert what == f"Query q by one, {DOCUMENTS} of {DOCUMENTS + 3} documents"
    rows, what = rows_of_query({"p": {"x": 1.0}}, qrels, "q", "two")
    assert rows[0] == ["a", "2", ""]
    assert what.startswith("Query q by two")


def test_the_verdict_says_which_run_is_better_and_how_sure_that_is() -> None:
    qrels = {f"q{at}": {"a": 1.0, "b": 0.0} for at in range(10)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    bad = {query: {"a": 1.0, "b": 2.0} for query in qrels}
    for systems in ({"good": good, "bad": bad}, {"bad": bad, "good": good}):
        (pair,) = compare_runs(systems, qrels, options_of(*bar_of("sklearn"))).pairs
        sign = 1 if pair.system == "good" else -1
        low, high = sorted((sign * pair.low, sign * pair.high))
        # 1 - 1 / log2(3) in each query; of 2^10 exchanges 2 are as extreme
        sure = f"95% interval {low:.3f} to {high:.3f}, p = 0.002; won 10, tied 0, lost 0"
        assert verdict_on(pair, False) == f"good beats bad by 0.369 in nDCG@10 ({sure})."
    (pair,) = compare_runs({"one": good, "two": {**good, "q0": bad["q0"]}}, qrels, options_of(*bar_of("sklearn"))).pairs
    assert "one is 0.037 above two in nDCG@10, which may be chance" in verdict_on(pair, False)


def test_what_is_missing_is_named() -> None:
    assert missing_text("dense", ["q3"]) == "One query, q3, is missing from dense."
    assert missing_text("dense", list("abcd")) == "4 queries are missing from dense: a, b, c, …."


def test_bars_are_on_the_side_of_the_better_run() -> None:
    values = pd.DataFrame({"query": ["a", "b", "<i>"], "difference": [0.5, -0.25, float("nan")]})
    html = query_bars(values, "nDCG: x less y", ("x", "y"), {"b": "y"})
    assert re.findall("class='(first|second)' style='width:(.*?)%'", html) == [
        ("first", "49.6"),
        ("second", "24.8"),
        ("first", "0"),
    ]
    assert re.findall("<td>([^<]*?)</td></tr>", html) == ["+0.5000", "-0.2500", "left out"]
    assert ">b</button> <small>not in y</small>" in html
    assert "<i>" not in html


def test_a_document_says_where_the_other_run_has_it() -> None:
    rankings = {
        "x": Ranking(["a", "<b>", "c"], [3.0, None, 1.0], [2.0, 1.0, None]),
        "y": Ranking(["<b>", "c", "a"], [None, 1.0, 3.0], [2.0, 1.0, 0.5]),
    }
    html = side_by_side("q", rankings, {"x": "nDCG@2 0.9", "y": "nDCG@2 0.1"}, options_of("2", *bar_of("sklearn")[1:]))
    assert re.findall("<small>(.*?)</small>", html) == ["3 in y", "1 in y", "2 in x", "not in x", "1 in x"]
    assert "Relevant, not retrieved: c (relevance 1)" in html
    # the gains of ranks 1 and 2, by 1 and 1 / log2(3), and of the ideal, 3 and 1
    discount = 1 / math.log2(3)
    for dcg in (3.0, discount):
        assert f"DCG {dcg:.4f} ÷ ideal {3 + discount:.4f}" in html
    assert "<b>" not in re.sub("<b data-term=.*?</b>", "", html)
