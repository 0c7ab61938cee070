"""The place Compare: what it says of files is what the comparison found."""

import base64
import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import evaluate
import pytest
from conftest import NOTHING_IN_COMMON
from visitor import Page, look, send

from page.html import signed

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 a 2\nq3 0 a 1\n"
JUDGED = {"q1": {"a": 1, "b": 2}, "q2": {"a": 2}, "q3": {"a": 1}}
RUNS = {
    "x": {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}},
    "y": {"q1": {"b": 1}, "q3": {"z": 1}, "q4": {"a": 1}},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path


def trec(run: dict[str, dict[str, float]]) -> str:
    return "".join(f"{q} Q0 {d} 1 {score} t\n" for q in run for d, score in run[q].items())


def compared(runs: Any = RUNS, qrels: str = QRELS, query: str = "", **others: str) -> Page:
    files = {f"{name}.run": trec(run) for name, run in runs.items()}
    return send(f"?tab=compare{query}", **{"qrels.txt": qrels, **files, **others})


def sheets(page: Page) -> list[list[list[str]]]:
    tables = re.findall("(?s)<table>(.*?)</table>", page.part("folds"))
    rows = [re.findall("(?s)<tr>(.*?)</tr>", table) for table in tables]
    cells = [[re.findall("<td>(.*?)</td>", row) for row in table] for table in rows]
    return [[row for row in table if row] for table in cells]


def rows(page: Page) -> list[list[str]]:
    """The table of places: place, run, mean, difference."""
    (table,) = re.findall('(?s)<table class="standings">(.*?)</table>', page.source)
    found = re.findall("(?s)<tr.*?</tr>", table)[1:]
    return [Page(row).text.split() for row in found]


# --- What is said ---------------------------------------------------------------------------------


def test_samples_are_shown_until_there_are_files() -> None:
    page = look("?tab=compare")
    assert "These are two sample runs." in page.text
    assert "dense is better than bm25." in page.says("verdict")
    assert "Missing queries count as 0: 1 from dense." in page.says("verdict")
    assert page.found("(?s)<title>(.*?)</title>") == ["nDCG: which run is better?"]


def test_all_numbers_are_those_of_the_comparison(ndcg: evaluate.Metric) -> None:
    page = compared(**{"languages.csv": "q1,de\nq2,fr\nq3,de\n"})
    by = {"q1": "de", "q2": "fr", "q3": "de"}
    given = {"systems": RUNS, "references": JUDGED, "k": 10, "missing": "empty"}
    expected = ndcg.compare(**given, by=by)
    *tables, audit = sheets(page)
    shown = [[[Page(cell).text for cell in row] for row in table] for table in tables]
    stripped = [
        [[" ".join(str(cell).split()) for cell in row] for row in t[1:]] for t in expected.tables()
    ]
    assert shown == stripped
    assert audit == [
        ["x", "3", "2", "0", "1", "0", "0 of 3"],
        ["y", "3", "3", "1", "1", "0", "1 of 2"],
    ]
    (pair,) = expected.pairs
    texts = [base64.b64decode(data).decode() for data in page.found('href="data:.*?base64,(.*?)"')]
    summary, queries = (list(csv.DictReader(io.StringIO(text))) for text in texts)
    assert [float(row["low_holm"]) for row in summary if row["low_holm"]] == pytest.approx(
        [pair.low_holm]
    )
    assert [float(row["value"]) for row in summary if row["value"]][:2] == pytest.approx(
        [expected.scores[run]["nDCG@10"].value for run in "xy"]
    )
    values = {row["query"]: float(row["x nDCG@10"]) for row in queries}
    by_query = ndcg.compute(predictions=RUNS["x"], references=JUDGED, k=10, use_aggregator=False)
    assert list(values.values()) == pytest.approx(by_query["nDCG@10"])
    assert expected.signature in page.text
    assert "\\begin{tabular}" in page.text


def test_the_table_has_places_means_and_differences(ndcg: evaluate.Metric) -> None:
    page = compared()
    found = ndcg.compare(systems=RUNS, references=JUDGED, k=10, missing="empty")
    means = {run: f"{found.scores[run]['nDCG@10'].value:.3f}" for run in RUNS}
    (pair,) = found.pairs
    best, other = sorted(RUNS, key=lambda run: -found.scores[run]["nDCG@10"].value)
    assert rows(page)[0] == ["1–2", best, means[best], "–"]
    assert rows(page)[1][:4] == ["1–2", other, means[other], signed(-abs(pair.difference))]
    assert "cannot be told apart" in page.says("verdict")


def test_one_run_has_the_values_that_it_has_among_several(ndcg: evaluate.Metric) -> None:
    alone, both = compared({"x": RUNS["x"]}), compared()
    cell = r'data-query="(q\d)".*?data-run="x"[^>]*><span>(.*?)<'
    values = ndcg.compute(predictions=RUNS["x"], references=JUDGED, k=10, use_aggregator=False)
    expected = dict(zip(JUDGED, (f"{value:.3f}" for value in values["nDCG@10"]), strict=True))
    for page in (alone, both):
        assert dict(re.findall(f"(?s){cell}", page.source)) == expected
    assert "x is weakest on q3, which it lacks." in alone.text
    assert "Query q1" in alone.text
    assert "place" not in alone.says("verdict").split()


def test_the_measure_the_base_and_the_other_run_are_chosen_by_the_address() -> None:
    runs = {
        "good": {f"q{at}": {"a": 9} for at in range(12)},
        "middle": {f"q{at}": {"x": 10, "a": 9} for at in range(12)},
        "bad": {f"q{at}": {"x": 10, "y": 10, "z": 10, "a": 9} for at in range(12)},
    }
    page = compared(runs, "".join(f"q{at} 0 a 1\n" for at in range(12)), "&k=1,3")
    assert "good is better than bad and middle." in page.text
    third = look(f"{page.address}&measure=nDCG@3")
    assert "good has nDCG@3 1.000, middle 0.631" in third.text
    assert "good has nDCG@3 1.000, bad 0.000" in third.follow("bad").text
    based = look(f"{page.address}&measure=nDCG@3&base=middle")
    assert [row[3] for row in rows(based)] == ["+0.369", "–", "−0.631"]


def test_the_same_run_twice_is_said_to_be_the_same() -> None:
    assert "Are they the same run?" in compared({**RUNS, "again": RUNS["x"]}).text


def test_too_few_queries_are_told() -> None:
    judged = "".join(f"{query} 0 a 1\n" for query in "1234")
    runs = {"x": {q: {"a": 2, "b": 1} for q in "1234"}, "y": {q: {"a": 1, "b": 2} for q in "1234"}}
    # 4 queries that differ have 2^4 permutations, of which 2 are as extreme
    said = "cannot be significant: p (Holm) is at least 0.125"
    assert f"1 of 1 pairs {said}" in compared(runs, judged).text


def test_missing_queries_are_told_and_left_out_by_one_press(ndcg: evaluate.Metric) -> None:
    assert "Missing queries count as 0: 1 from x and 1 from y." in compared().text
    runs = {**RUNS, "y": {**RUNS["y"], "q2": {"z": 2, "a": 1}}}
    page = compared(runs)
    assert "Missing queries count as 0: 1 from x." in page.text
    skipped = page.follow("Score only the queries that all runs have")
    found = ndcg.compare(systems=runs, references=JUDGED, k=10, missing="skip")
    for run in runs:
        assert f"{run} {found.scores[run]['nDCG@10'].value:.3f}" in skipped.text
    assert "skipped" in skipped.text


def test_one_query_is_compared_without_intervals() -> None:
    runs = {"bad": {"q1": {"a": 2, "b": 1}}, "good": {"q1": {"a": 1, "b": 2}}}
    page = compared(runs, "q1 0 a 1\nq1 0 b 2\n")
    assert "One query cannot tell the 2 runs apart." in page.text
    assert "Intervals and tests need more than one query." in page.text
    assert "Query q1" in page.text
    alone = compared({"good": runs["good"]}, "q1 0 a 1\nq1 0 b 2\n")
    assert "95% interval" not in alone.says("verdict")


def test_which_intervals_are_corrected_is_said() -> None:
    three = compared({**RUNS, "z": {"q1": {"b": 1}, "q2": {"a": 1}}})
    said = "The intervals of differences are of one pair each; those above are corrected for 3"
    assert said in three.says("folds")
    assert "of one pair each" not in compared().says("folds")


@NOTHING_IN_COMMON
def test_a_warning_says_that_a_run_has_no_document_in_common_with_the_judgments() -> None:
    runs = {"other": {"q0": {"doc7": 1}, "q1": {"doc7": 1}}}
    page = compared(runs, "q0 0 7 1\nq1 0 7 1\n")
    ids = "first retrieved: query 'q0', document 'doc7'; first judged: query 'q0', document '7'"
    assert ids in page.says("verdict")


def test_relevance_may_be_labels() -> None:
    words = {"1": "partly", "2": "very relevant"}
    lines = [line.split() for line in QRELS.splitlines()]
    labeled = "query,document,label\n" + "".join(f"{q},{d},{words[r]}\n" for q, _, d, r in lines)
    by_label = compared(qrels=labeled, query="&gain=partly=1,very relevant=2")
    assert rows(by_label) == rows(compared())
    assert "very relevant" in by_label.says("queries")
    said = (
        "qrels.txt: line 2: the relevance 'partly' is not a number; "
        "for labels, give their gains, in Gain: "
    )
    assert said in compared(qrels=labeled).text


def test_distances_are_scored_as_scores_are_once_the_lowest_ranks_first() -> None:
    distances = {
        run: {q: {d: -s for d, s in ds.items()} for q, ds in qs.items()} for run, qs in RUNS.items()
    }
    lowest = compared(distances, query="&score_order=ascending")
    assert rows(lowest) == rows(compared())
    assert "order:ascending" in lowest.text


# --- The grid -------------------------------------------------------------------------------------


def test_the_grid_begins_where_the_best_run_loses_most() -> None:
    runs = {**RUNS, "y": {"q1": {"b": 2, "a": 1}, "q2": {"z": 2, "a": 1}}}
    page = compared(runs)
    best = rows(page)[0][1]
    other = ({*runs} - {best}).pop()
    queries = page.found('<tr data-query="(.*?)"')
    values = {
        (query, run): value
        for query in queries
        for run, value in re.findall(
            r'data-run="(\w)"[^>]*><span>([\d.]+)<',
            page.source.partition(f'<tr data-query="{query}"')[2].partition("</tr>")[0],
        )
    }
    losses = [max(0.0, float(values[q, other]) - float(values[q, best])) for q in queries]
    assert losses == sorted(losses, reverse=True)
    assert page.found("<h2>(\\w) loses most on (.*?)[ :]") == [(best, queries[0])]


def test_the_grid_is_sorted_by_the_weakest_or_by_what_is_missing() -> None:
    page = compared()
    best = rows(page)[0][1]
    weakest = page.follow("Its weakest")
    assert f"{best} is weakest on " in weakest.text
    missing = page.follow("Missing")
    (query, run_count) = re.findall(r"(q\d) is missing from (\d) of 2 runs\.", missing.text)[0]
    assert query in ("q2", "q3")
    assert run_count == "1"
    complete = {"x": {q: {"a": 1} for q in JUDGED}}
    assert compared(complete).links("Missing") == []


def test_a_long_grid_has_its_extremes() -> None:
    size = 230
    run = {f"q{at}": {"x": size - at, "a": size / 2} for at in range(size)}
    page = compared({"run": run}, "".join(f"q{at} 0 a 1\n" for at in range(size)))
    assert len(page.found('<tr data-query="(.*?)"')) == 200
    assert "30 queries between; every query is in All numbers, as CSV" in page.text


def test_a_query_opens_both_rankings() -> None:
    page = look(f"{compared().address}&query=q1&other=y&base=x")
    assert "Query q1" in page.text
    assert page.found('<ol class="(?:left|right)">\\s*<li data-at="\\d+" data-gain="(.*?)"') == [
        "1.0",
        "2.0",
    ]
    assert "Not retrieved, with relevance in brackets: a (1)." in page.text
    missing = look(f"{compared().address}&query=q3&base=x&other=y")
    assert "Nothing was retrieved for this query." in missing.text
    assert "<line" not in missing.part("queries")


def test_a_ranking_of_a_query_opens_in_understand() -> None:
    page = look(f"{compared().address}&query=q1&other=y&base=x")
    there = page.follow("understand")
    assert there.value == re.findall(r"x ([\d.]+) <a", page.source)[0]
    assert there.found('aria-label="(\\w), rank') == ["a", "b"]
    assert there.notes == []
    assert there.says("thread").startswith("x on q1")
    back = there.follow("Back to the comparison")
    assert back.part("queries") == page.part("queries")
    assert there.follow("Compare").address == back.address


def test_the_heading_of_the_queries_follows_the_chosen_run_and_query() -> None:
    page = compared()
    assert page.says("queries").startswith("x is the best on every query.")
    chosen = look(f"{page.address}&query=q1&other=y&base=x")
    values = re.findall(r"h4 class=\"of-\w+\">(\w) ([\d.]+)", chosen.source)
    scores = " and ".join(f"{value} in {run}" for run, value in values)
    assert chosen.found("<h2>(q1 has .*?)</h2>") == [f"q1 has {scores}."]


def test_a_chosen_query_has_a_link_back_to_where_the_base_loses_most() -> None:
    said = "dense loses most on q17, which it lacks."
    assert look("?tab=compare").links(said) == []
    chosen = look("?tab=compare&query=q01&other=bm25")
    assert chosen.found("<h2>(q01) has ") == ["q01"]
    back = chosen.follow(said)
    assert said in back.found("<h2>(.*?)</h2>")
    assert "Query q13" in back.text
    assert "Query q17" in back.follow("Missing").text


def test_a_run_that_loses_only_what_it_lacks_opens_what_it_has() -> None:
    runs = {"x": {"q1": {"b": 2, "a": 1}, "q2": {"a": 1}}, "y": {"q1": {"a": 1}, "q3": {"a": 1}}}
    page = compared(runs)
    assert "x loses most on q3, which it lacks." in page.text
    assert "Query q1" in page.text


def test_the_scale_says_whose_the_score_is() -> None:
    mark = 'class="mark yours.*?<span>(.*?)</span>'
    opened = look("?tab=compare&query=q01&other=bm25").follow("understand")
    assert opened.found(mark) == ["this run"]
    assert look().found(mark) == ["yours"]


def test_what_a_random_order_would_have_is_the_mean_over_queries_of_understand() -> None:
    judged = {**JUDGED, "q3": {"a": 1, "b": 3}}
    lines = "".join(f"{q} 0 {d} {judged[q][d]}\n" for q in judged for d in judged[q])
    page = compared({"x": {**RUNS["x"], "q3": {"b": 1, "a": 2, "z": 3}}}, lines)
    marks = []
    for query in judged:
        there = look(f"{page.address}&query={query}").follow("understand")
        marks += there.found("random order ([\\d.]+), ideal 1")
    mean = sum(map(float, marks)) / 3
    (said,) = re.findall(r"A random order of the documents of x would have ([\d.]+)\.", page.text)
    assert float(said) == pytest.approx(mean, abs=1e-3)
    two = compared({"x": RUNS["x"], "y": RUNS["y"]})
    assert re.search(r"A random order of the documents of [xy] would have 0\.\d{3}\.", two.text)


def test_what_is_not_judged_and_the_measure_are_explained() -> None:
    page = compared()
    assert "normalized discounted cumulative gain, top 10" in page.says("verdict")
    unjudged = look(f"{page.address}&query=q3&base=y&other=x")
    assert "not judged, counts as 0" in unjudged.says("queries")
    assert "not judged, counts as 0" not in look(f"{page.address}&query=q1").says("queries")
    assert "could be in any place from 1 to 2" in page.says("verdict")


def test_how_long_files_are_kept_is_said_before_the_upload() -> None:
    assert "They are kept for a day" in look("?tab=compare").says("files")
    assert "Kept for a day" in compared().says("files")


def test_a_ranking_is_drawn_up_to_the_cutoff_and_what_is_tied_there() -> None:
    size = 40
    ranked = {
        "q": {f"d{at}": (3 if 4 <= at <= 6 else size - at) for at in range(size)},
        "p": {"d1": 1},
    }
    judged = "".join(f"q 0 d{at} {at % 4}\n" for at in range(size)) + "p 0 d1 1\n"
    page = look(f"{compared({'run': ranked}, judged, '&k=5').address}&query=q")
    assert page.part("queries").count('class="card') == 5
    assert "35 more follow." in page.text


RISING = {query: {f"d{at}": at / 10 for at in range(12)} for query in ("q1", "q2")}
HITS = [[{"id": name, "score": score} for name, score in RISING[q].items()] for q in RISING]


@pytest.mark.filterwarnings("always:.*scores")
@pytest.mark.parametrize(
    ("name", "text", "begins"),
    [
        ("up.run", trec(RISING), "up: the scores of 2 of 2 queries rise in the order"),
        (
            "hits.json",
            json.dumps(dict(zip(RISING, HITS, strict=True))),
            "hits.json: query 'q1': the scores rank its hits in another order",
        ),
    ],
    ids=["run", "hits"],
)
def test_scores_that_seem_to_be_distances_are_told_until_the_reader_says_their_order(
    name: str, text: str, begins: str
) -> None:
    judged = "".join(f"{query} 0 d{at} {at % 3}\n" for query in RISING for at in range(12))
    page = send(**{"qrels.txt": judged, name: text})
    assert begins in page.says("verdict")
    mean = re.findall(r"has nDCG@10 ([\d.]+)", page.says("verdict"))
    highest = page.follow("The highest score is first")
    assert "score_order=descending" in highest.address
    assert re.findall(r"has nDCG@10 ([\d.]+)", highest.says("verdict")) == mean
    lowest = page.follow("Rank the lowest first")
    assert "score_order=ascending" in lowest.address
    assert re.findall(r"has nDCG@10 ([\d.]+)", lowest.says("verdict")) != mean
    for chosen in (highest, lowest):
        assert begins not in chosen.says("verdict")


# --- Links ----------------------------------------------------------------------------------------


def test_a_shared_link_shows_the_same() -> None:
    page = look(
        f"{compared(query='&k=5&convention=trec_eval').address}&query=q2&other=y&base=x&sort=weakest"
    )
    again = look(page.address)
    assert again.source == page.source
    assert "Query q2" in again.text
    assert "as trec_eval" in again.text


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("base=gone", "The address has base=gone, but these files have x and y."),
        ("other=gone", "The address has other=gone, but these files have x and y."),
        ("measure=nDCG@7", "The address has measure=nDCG@7, but these files have nDCG@10."),
        ("query=q99", "The address has query=q99, but these files have q1, q2 and q3."),
        (
            "sort=worst",
            "The address has sort=worst, but the orders here are loses, weakest and missing.",
        ),
        (
            "judgments=no.txt",
            "The address has judgments=no.txt, but the files are qrels.txt, x.run and y.run.",
        ),
    ],
)
def test_a_choice_that_the_files_do_not_have_gets_a_note(chosen: str, said: str) -> None:
    page = look(f"{compared().address}&{chosen}")
    assert page.notes == [said]
    assert len(rows(page)) == 2


def test_no_difference_is_nan_and_no_axis_goes_beyond_1() -> None:
    page = compared()
    assert not math.isnan(float(rows(page)[0][2]))
    ticks = page.found('<span style="left:[\\d.e-]+%">(.*?)</span>')
    assert all(0 <= float(tick) <= 1 for tick in ticks)
    assert "nan" not in page.text.lower().split()
