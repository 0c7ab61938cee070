"""Uploaded runs: their names, their audit, and a query of theirs as a ranking."""

import html
import math
import re
from pathlib import Path

import gradio as gr
import pandas as pd
import pytest
from conftest import NOTHING_IN_COMMON

from page.choices import DOCUMENTS, bar_of, options_of
from page.contributions import Ranking
from page.metric import ndcg
from page.queries import query_bars, side_by_side
from page.run_results import (
    audit_row,
    best_first,
    compare_runs,
    compare_several,
    look_swapped,
    misplaced,
    missing_texts,
    report_on,
    rows_of_query,
    run_names,
    score_one,
    verdict_on,
)
from page.runs import files_or_samples, groups_html, query_html, results_of, show_samples

BAR = bar_of("sklearn")
QRELS = {"q1": {"a": 1.0, "b": 0.0}, "q2": {"a": 2.0}}
RUN = {"q1": {"a": 1.0, "x": 1.0, "b": 0.5}, "q3": {"a": 1.0}}


def test_runs_are_named_by_their_files_each_by_a_name_of_its_own() -> None:
    paths = ["1/bm25.run", "2/bm25.txt.gz", "3/bm25.CSV", "4/.run", "5/bm25.jsonl.zst", "6/v1.2"]
    assert run_names(paths) == dict(
        zip(["bm25", "bm25 (2)", "bm25 (3)", ".run", "bm25 (4)", "v1.2"], paths, strict=True)
    )


def test_the_tab_opens_with_samples_unless_it_has_files_or_results() -> None:
    verdict, *_ = show_samples("asked", "", None, None, None, *BAR)
    assert "These are two sample runs." in verdict
    assert "is missing from dense and counts as 0" in verdict
    assert "judged queries" not in verdict  # a note of the comparison, on the query that the verdict names
    for signature, qrels, runs in (("nDCG@10|…", None, None), ("", "qrels", None), ("", None, ["run"])):
        assert all(each == gr.skip() for each in show_samples("asked", signature, qrels, runs, None, *BAR))
    assert files_or_samples("qrels", None) == ("qrels", None)


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


@NOTHING_IN_COMMON
@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("runs", [["other"], ["other", "same"]])
def test_a_note_says_that_a_run_has_no_document_in_common_with_the_qrels(
    tmp_path: Path, queries: int, runs: list[str]
) -> None:
    for name, line in {"qrels": "q{} 0 7 1\n", "other": "q{} Q0 doc7 1 0.5 t\n", "same": "q{} Q0 7 1 0.5 t\n"}.items():
        (tmp_path / f"{name}.txt").write_text("".join(map(line.format, range(queries))))
    shown = results_of("", str(tmp_path / "qrels.txt"), [str(tmp_path / f"{name}.txt") for name in runs], None, *BAR)
    ids = "first retrieved: query 'q0', document 'doc7'; first judged: query 'q0', document '7'"
    assert html.escape(f"No document was both retrieved and judged; {ids}") in shown[0]


def test_the_verdict_says_which_run_is_better_and_how_sure_that_is() -> None:
    qrels = {f"q{at}": {"a": 1.0, "b": 0.0} for at in range(10)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    bad = {query: {"a": 1.0, "b": 2.0} for query in qrels}
    for systems in ({"good": good, "bad": bad}, {"bad": bad, "good": good}):
        report = best_first(compare_runs(systems, qrels, options_of(*bar_of("sklearn"))), "nDCG@10")
        (pair,) = report.pairs
        assert (list(report.scores), pair.system, pair.wins) == (["good", "bad"], "good", 10)
        assert report.scores["good"]["nDCG@10"].value - report.scores["bad"]["nDCG@10"].value == pair.difference
        low, high = pair.low, pair.high
        # 1 - 1 / log2(3) in each query; of 2^10 permutations 2 are as extreme
        sure = f"95% interval {low:.3f} to {high:.3f}, p = 0.002; won 10, tied 0, lost 0"
        assert verdict_on(pair, False) == f"good beats bad by 0.369 in nDCG@10 ({sure})."
    (pair,) = compare_runs({"one": good, "two": {**good, "q0": bad["q0"]}}, qrels, options_of(*bar_of("sklearn"))).pairs
    assert "one is 0.037 above two in nDCG@10, which may be due to chance" in verdict_on(pair, False)


def test_missing_files_are_named() -> None:
    qrels = {query: {"d": 1.0} for query in "abcde"}
    runs = {"bm25": qrels, "dense": {q: each for q, each in qrels.items() if q != "c"}, "none": {"e": {"d": 1.0}}}
    assert missing_texts(runs, qrels, {"missing": "empty"}) == [
        "One query, c, is missing from dense and counts as 0.",
        "4 queries are missing from none and count as 0: a, b, c, ….",
    ]
    assert missing_texts(runs, qrels, {"missing": "skip"}) == [
        "One query, c, is missing from dense and is skipped.",
        "4 queries are missing from none and are skipped: a, b, c, ….",
    ]


def test_every_difference_of_three_runs_is_the_better_less_the_other() -> None:
    qrels = {f"q{at}": {"a": 2.0, "b": 1.0, "c": 0.0} for at in range(5)}
    orders = {"low": "cba", "high": "abc", "middle": "bac"}
    runs = {name: {query: {d: 9.0 - at for at, d in enumerate(ids)} for query in qrels} for name, ids in orders.items()}
    runs["high"]["q1"] = runs["low"]["q1"]  # where the best loses
    found = compare_several(runs, qrels, options_of("1, 3", *BAR[1:]), dict.fromkeys(qrels, "all"), "nDCG@3")
    differences = [each for each in found.table.columns if "−" in each]
    assert differences == [f"high − {other} nDCG@{k}" for k in (1, 3) for other in ("middle", "low")]
    means = {name: each["nDCG@3"].value for name, each in found.scores.items()}
    assert list(means) == ["high", "middle", "low"]
    pairs = [*found.report.pairs, *found.report.slices["all"].pairs]
    for pair in pairs:
        values = (
            found.report.scores[pair.system][pair.measure].value,
            found.report.scores[pair.other][pair.measure].value,
        )
        assert pair.difference == pytest.approx(values[0] - values[1])
        assert pair.low <= pair.difference <= pair.high
        assert list(means).index(pair.system) < list(means).index(pair.other)
    assert found.drawn.columns[1] == "high − middle"
    assert found.drawn["query"].iloc[0] == "q1"  # the losses of the best come first
    assert "high" in found.verdict[0]
    assert found.report.to_markdown().count("high – middle") >= 1


def test_the_effect_of_ties_on_a_score_is_shown_next_to_trec_evals() -> None:
    qrels = {"q1": {"a": 1.0, "b": 0.0}, "q2": {"a": 1.0, "b": 0.0}}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    options = options_of(*BAR)
    found = score_one({"mine": run}, qrels, options, None, "")
    here, there = (
        ndcg.compute(predictions=run, references=qrels, k=10, convention=name)["nDCG@10"]
        for name in ("sklearn", "trec_eval")
    )
    assert found.tied == [
        f"One query has tied documents in mine, and their order matters: with tied documents set to average, nDCG@10 "
        f"is {here:.4f}; trec_eval orders them by id and gets {there:.4f}."
    ]
    by_id = options_of("10", *bar_of("trec_eval")[1:])
    assert score_one({"mine": run}, qrels, by_id, None, "").tied == []
    untied = {**run, "q1": run["q2"]}
    assert score_one({"mine": untied}, qrels, options, None, "").tied == []


def test_bars_are_on_the_side_of_the_better_run() -> None:
    values = pd.DataFrame({"query": ["a", "b", "<i>"], "difference": [0.5, -0.25, float("nan")]})
    html = query_bars(values, "nDCG: x less y", ("x", "y"), {"b": "y"})
    assert re.findall("class='(first|second)' style='width:(.*?)%'", html) == [
        ("first", "49.6"),
        ("second", "24.8"),
        ("first", "0"),
    ]
    assert re.findall("<td>([^<]*?)</td></tr>", html) == ["+0.5000", "-0.2500", "skipped"]
    assert ">b</button> <small>not in y</small>" in html
    assert "<i>" not in html


def test_a_document_says_where_the_other_run_has_it() -> None:
    rankings = {
        "x": Ranking(["a", "<b>", "c"], [3.0, None, 1.0], [2.0, 1.0, None]),
        "y": Ranking(["<b>", "c", "a"], [None, 1.0, 3.0], [2.0, 1.0, 0.5]),
    }
    sums = {"x": {"nDCG@2": 0.9, "DCG@2": 3.0, "IDCG@2": 3.6}, "y": {"nDCG@2": 0.1, "DCG@2": 0.6, "IDCG@2": 3.6}}
    html = side_by_side("<q>", rankings, sums, options_of("2", *bar_of("sklearn")[1:]))
    where = [("up", "↑ 3 in y"), ("down", "↓ 1 in y"), ("up", "↑ 2 in x"), ("up", "not in x"), ("down", "↓ 1 in x")]
    assert re.findall("<small class='(.*?)'>(.*?)</small>", html) == where
    assert "Relevant, not retrieved: c (relevance 1)" in html
    assert re.findall("<h3>(.*?)</h3><p>(.*?) <", html) == [
        ("x: nDCG@2 0.9000", "DCG 3.0000 ÷ ideal 3.6000"),
        ("y: nDCG@2 0.1000", "DCG 0.6000 ÷ ideal 3.6000"),
    ]
    assert re.findall("aria-label='(relevance .*?|not judged)'>(.*?)</span>", html)[:2] == [
        ("relevance 3", "<i class=on></i>" * 3),
        ("not judged", "not judged"),
    ]
    assert not {"<b>", "<q>"} & set(re.findall("<.*?>", html))


def test_a_query_that_is_missing_from_a_run_says_so() -> None:
    rankings = {"x": Ranking(["a"], [1.0], [2.0]), "y": Ranking(["a"], [1.0], [None])}
    found = {"nDCG": 1.0, "DCG": 1.0, "IDCG": 1.0}
    html = side_by_side("q", rankings, {"x": found, "y": dict.fromkeys(found, math.nan)}, options_of("", *BAR[1:]))
    assert html.count("This query is missing from y: nothing was retrieved.") == 1
    assert "missing from x" not in html
    assert "<h3>y: nDCG skipped</h3>" in html


def written(folder: Path, **texts: str) -> dict[str, str]:
    """The paths of files with these texts, by their names."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: str(folder / name) for name in texts}


def test_a_run_uploaded_as_qrels_is_noticed(tmp_path: Path) -> None:
    trec = written(tmp_path, qrels="q 0 a 1\nq 0 b 0\n", run="q Q0 a 1 2.5 t\n", other="q Q0 b 1 0.5 t\n")
    table = written(tmp_path, beir="query-id\tcorpus-id\tscore\nq\ta\t1\n", json='{"q": {"a": 0.5, "b": 0.1}}')
    assert misplaced(trec["run"], [trec["qrels"]]) == 0
    assert misplaced(trec["run"], [trec["other"], trec["qrels"]]) == 1
    assert misplaced(trec["run"], [table["beir"]]) == 0
    assert misplaced(table["json"], [trec["qrels"]]) == 0
    for qrels_file, run_files in (
        (trec["qrels"], [trec["run"]]),
        (trec["run"], [trec["other"]]),
        (trec["run"], None),
        (None, [trec["qrels"]]),
        (table["json"], [table["beir"]]),  # each could be either: the numbers speak
    ):
        assert misplaced(qrels_file, run_files) is None


def test_fractions_in_the_qrels_alone_look_swapped() -> None:
    whole, fractions = {"q": {"a": 1.0, "b": 0.0}}, {"q": {"a": 0.5, "b": 2.0}}
    assert look_swapped(fractions, {"run": whole}) == 0
    assert look_swapped(fractions, {"one": fractions, "two": whole}) == 1
    assert look_swapped(whole, {"run": whole}) is None
    assert look_swapped(whole, {"run": fractions}) is None
    assert look_swapped(fractions, {"run": fractions}) is None
    assert look_swapped(fractions, {"one": whole, "two": whole}) is None


def test_each_query_has_every_cutoff_of_every_run() -> None:
    qrels = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 2.0}, "q3": {"a": 1.0}}
    runs = {"x": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}, "y": {"q1": {"b": 2.0}, "q3": {"z": 1.0}}}
    options = options_of("1,10", *BAR[1:])
    found = compare_several(runs, qrels, options, None, "nDCG@10")
    values = {
        name: ndcg.compute(predictions=run, references=qrels, **options, use_aggregator=False)
        for name, run in runs.items()
    }
    names = [f"{run} nDCG@{k}" for k in (1, 10) for run in runs]
    assert list(found.table.columns) == ["query", *names, "x − y nDCG@1", "x − y nDCG@10"]
    for k in (1, 10):
        for run in runs:
            assert found.table[f"{run} nDCG@{k}"].tolist() == pytest.approx(values[run][f"nDCG@{k}"])
        less = found.table[f"x nDCG@{k}"] - found.table[f"y nDCG@{k}"]
        assert found.table[f"x − y nDCG@{k}"].tolist() == pytest.approx(less.tolist())
    assert found.measure == "nDCG@10"
    assert found.lacks == {"q3": "x", "q2": "y"}
    assert set(found.drawn["query"]) == set(qrels)


def test_the_numbers_of_a_query_are_of_all_its_documents() -> None:
    """Only a part of them is drawn."""
    size = DOCUMENTS + 100
    qrels = {"q": {f"d{at}": float(at % 4) for at in range(size)}}
    run = {"q": {f"d{at}": float(at * 7 % size) for at in range(size)}}
    html = query_html("q", {"run": run}, qrels, options_of("", *BAR[1:]), "nDCG")
    found = ndcg.compute(predictions=run, references=qrels, measures=["nDCG", "DCG", "IDCG"])
    assert f"run: nDCG {found['nDCG']:.4f}" in html
    assert f"DCG {found['DCG']:.4f} ÷ ideal {found['IDCG']:.4f}" in html


def test_groups_have_means_and_intervals_of_the_report() -> None:
    qrels = {f"q{at}": {"a": 1.0, "b": 2.0} for at in range(6)}
    run = {query: {"a": float(at % 3), "b": 1.0} for at, query in enumerate(qrels)}
    by = {query: "odd" if at % 2 else "even" for at, query in enumerate(qrels)}
    options = options_of("10", *BAR[1:])
    html = groups_html(score_one({"run": run}, qrels, options, by, "").groups)
    slices = ndcg.report(predictions=run, references=qrels, k=10, by=by).slices
    rows = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", html or "", re.DOTALL)]
    assert [[*row[:6], row[-1]] for row in rows if row] == [
        [group, "run", name, *(f"{value:.4f}" for value in (score.value, score.low, score.high)), "3"]
        for group, each in slices.items()
        for name, score in each.scores.items()
    ]
    assert groups_html({}) is None


def test_documents_that_share_ranks_have_the_one_in_the_middle() -> None:
    one = Ranking(["a", "b", "c"], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0])
    other = one._replace(score=[3.0, 2.0, 2.0])
    sums = {"nDCG": 1.0, "DCG": 1.0, "IDCG": 1.0}
    html = side_by_side("q", {"one": one, "two": other}, {"one": sums, "two": sums}, options_of("", *BAR[1:]))
    where = [("same", "1 in two"), ("up", "↑ 2–3 in two"), ("down", "↓ 2–3 in two")]
    where += [("same", "1 in one"), ("down", "↓ 2 in one"), ("up", "↑ 3 in one")]
    assert re.findall("<small class='(.*?)'>(.*?)</small>", html) == where
    assert html.count("<li class='tied' data-tied='2–3'>") == 2


def test_the_query_that_is_shown_is_marked() -> None:
    values = pd.DataFrame({"query": ["a", "b"], "difference": [0.5, -0.25]})
    html = query_bars(values, "nDCG: x less y", ("x", "y"), {}, "b")
    assert re.findall("<tr data-query='(.)'( class='chosen')?>", html) == [("a", ""), ("b", " class='chosen'")]
