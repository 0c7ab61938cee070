"""The tab of search runs: files and pasted texts, audited, scored and compared."""

import csv
import io
import json
import re
from pathlib import Path

import evaluate
import pytest
from conftest import ROOT

from .conftest import EVIL, RUNS, Opener, come_to_rest
from .visits import (
    BROWSER,
    cells,
    choose,
    expect,
    field,
    open_tab,
    scored,
    unfold,
    upload,
    value,
    wait_for,
    wait_for_address,
)

pytestmark = [*BROWSER, pytest.mark.xdist_group("other tabs")]


def test_scoring_nothing_shows_samples_and_scoring_half_says_what_to_upload(visit: Opener, files: Path) -> None:
    page = visit("?k=5")
    open_tab(page, "Search runs")
    unfold(page, "Paste instead")
    page.press("#take-texts", "Enter")
    come_to_rest(page)  # the samples were there before
    wait_for(page, "These are two sample runs. Upload or paste yours above.", "#runs-score")
    upload(page, "#qrels", files / "qrels.txt")
    wait_for(page, "Press Score.", "#runs-score")
    page.press("#score-runs", "Enter")
    wait_for(page, "Upload the qrels and at least one run.", "#runs-score")


def test_runs_are_audited_scored_compared_and_opened(visit: Opener, ndcg: evaluate.Metric, files: Path) -> None:
    page = visit()
    open_tab(page, "Search runs")
    upload(page, "#qrels", files / "qrels.txt")
    upload(page, "#runs", files / "bm25.run", files / "dense.run")
    page.press("#score-runs", "Enter")
    page.wait_for_selector("#runs-score .value")
    means = {}
    for name in RUNS:
        inputs = {"predictions": files / f"{name}.run", "references": files / "qrels.txt", "k": 10}
        means[name] = ndcg.compute(**inputs)["nDCG@10"]
    assert value(page, "#runs-score") == f"{max(means.values()):.4f}"
    wait_for(page, f"{min(means.values()):.4f}", "#runs-score")
    wait_for(page, "bm25 is", "#runs-score .verdict")
    wait_for(page, "One query, q3, is missing from dense and counts as 0.", "#runs-score .verdict")
    page.wait_for_selector("#audit td")
    audit = [row for row in cells(page, "#audit") if row]
    assert audit[0] == ["bm25", "6", "3", "0", "0", "1", "2 of 6"]  # d1 and d2 are tied; d5 and d3 were not judged
    assert audit[1] == ["dense", "4", "3", "1", "1", "0", "1 of 3"]
    qrels, runs = ndcg.read_qrels(files / "qrels.txt"), {n: ndcg.read_run(files / f"{n}.run") for n in RUNS}
    systems = {name: {query: run.get(query, {}) for query in qrels} for name, run in runs.items()}
    (pair,) = ndcg.compare(systems=systems, references=qrels, k=10).pairs
    page.wait_for_selector("#pairs td")
    shown = next(row for row in cells(page, "#pairs") if row)
    assert float(shown[3]) == pytest.approx(pair.difference, abs=1e-4)
    bars = {row[0]: row[2] for row in cells(page, "#by-query") if row}
    wait_for(page, "Query q2", "#beside .query")  # the query with the largest difference among those in both runs
    assert bars.keys() == {"q1", "q2", "q3 not in dense"}
    assert sum(map(float, bars.values())) / 3 == pytest.approx(pair.difference, abs=1e-4)
    assert float(shown[5]) == pytest.approx(pair.p, abs=1e-4)
    assert shown[4] == f"{pair.low:.4f} to {pair.high:.4f}"
    assert shown[-1] == f"{pair.wins}, {pair.ties}, {pair.losses}"
    page.locator("#queries [data-testid=cell-0-2]").click()  # of q1, by the other run
    wait_for(page, "Query q1 by dense", "#ranking-title")
    page.wait_for_function("scrollY === 0")
    unfold(page, "Edit as a table")
    wait_for(page, "Query q1 by dense", "#table")
    of_q1 = ndcg.compute(predictions=runs["dense"], references=qrels, k=10, use_aggregator=False)["nDCG@10"]
    wait_for(page, f"{of_q1[0]:.4f}")
    open_tab(page, "Search runs")
    page.locator("#queries [role=gridcell]").filter(has_text="q2").first.click()
    wait_for(page, "Query q2 by bm25", "#table")
    open_tab(page, "Search runs")
    field(page, "Cutoffs").fill("9")
    wait_for(page, "Press Score.", "#runs-score")  # no number that the choices above did not make
    field(page, "Cutoffs").fill("10")
    choose(page, "Convention", "trec_eval")
    page.press("#score-runs", "Enter")
    inputs = {"predictions": files / "bm25.run", "references": files / "qrels.txt", "k": 10}
    wait_for(page, f"{ndcg.compute(**inputs, convention='trec_eval')['nDCG@10']:.4f}", "#runs-score")
    choose(page, "Convention", "sklearn")
    open_tab(page, "One ranking")
    by_query = ndcg.compute(predictions=runs["bm25"], references=qrels, k=10, use_aggregator=False)["nDCG@10"]
    wait_for(page, f"{by_query[1]:.4f}")
    wait_for(page, EVIL, "#table")
    assert page.locator("#table img").count() == 0


def test_sample_runs_are_scored_when_the_tab_opens_and_shown_query_by_query(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit()
    open_tab(page, "Search runs")
    wait_for(page, "These are two sample runs. Upload or paste yours above.", "#runs-score")
    samples = ROOT / "page" / "samples"
    qrels, runs = ndcg.read_qrels(samples / "qrels.txt"), {}
    for name in ("bm25", "dense"):
        runs[name] = ndcg.read_run(samples / f"{name}.txt")
        mean = ndcg.compute(predictions=runs[name], references=qrels, k=10)["nDCG@10"]
        wait_for(page, f"{mean:.4f}", "#runs-score")
    wait_for(page, "dense beats bm25", "#runs-score .verdict")
    wait_for(page, "One query, q17, is missing from dense and counts as 0.", "#runs-score .verdict")
    expect(page.locator("#by-query tr[data-query]")).to_have_count(len(qrels))
    how = {"references": qrels, "k": 10, "use_aggregator": False}
    dense, bm25 = (ndcg.compute(predictions=runs[name], **how)["nDCG@10"] for name in ("dense", "bm25"))
    less = {query: one - other for query, one, other in zip(qrels, dense, bm25, strict=True)}
    bars = {row[0].split()[0]: float(row[2]) for row in cells(page, "#by-query") if row}
    assert bars == pytest.approx(less, abs=5e-5)
    assert list(bars.values()) == sorted(bars.values())  # queries in which the better run loses come first
    first = max((query for query in qrels if query in runs["dense"]), key=lambda query: abs(less[query]))
    expect(page.locator("#beside .query")).to_contain_text(f"Query {first}")
    for query in ("q17", "q05"):
        page.get_by_role("button", name=f"Open query {query}").press("Enter")
        wait_for(page, f"Query {query}", "#beside .query")
        for name, run in runs.items():
            of_query = {"predictions": {query: run.get(query, {})}, "references": {query: qrels[query]}, "k": 10}
            sums = ndcg.compute(**of_query, measures=["nDCG", "DCG", "IDCG"])
            column = page.locator("#beside section").filter(has=page.locator(f"h3:has-text('{name}: ')"))
            expect(column.locator("h3")).to_have_text(f"{name}: nDCG@10 {sums['nDCG@10']:.4f}")
            expect(column).to_contain_text(f"DCG {sums['DCG@10']:.4f} ÷ ideal {sums['IDCG@10']:.4f}")
            ranked = sorted(run.get(query, {}), key=run.get(query, {}).get, reverse=True)
            expect(column.locator("li")).to_have_count(len(ranked))
            assert set(column.locator(".document").all_inner_texts()) == set(ranked)
    page.get_by_role("button", name="Open bm25 of query q05 in One ranking").click()
    wait_for(page, "Query q05 by bm25", "#ranking-title")
    mean = ndcg.compute(predictions={"q05": runs["bm25"]["q05"]}, references={"q05": qrels["q05"]}, k=10)["nDCG@10"]
    wait_for(page, f"{mean:.4f}")
    expect(page.get_by_role("tab", name="One ranking")).to_have_attribute("aria-selected", "true")


def test_each_cutoff_is_shown_query_by_query(visit: Opener, ndcg: evaluate.Metric, files: Path) -> None:
    page = visit()
    field(page, "Cutoffs").fill("1, 10")
    scored(page, files / "qrels.txt", *(files / f"{name}.run" for name in RUNS))
    wait_for(page, "nDCG@1: ", "#by-query figcaption")
    page.get_by_label("nDCG@10", exact=True).check()
    wait_for(page, "nDCG@10: ", "#by-query figcaption")
    systems = {name: ndcg.read_run(files / f"{name}.run") for name in RUNS}
    how = {"references": ndcg.read_qrels(files / "qrels.txt"), "k": [1, 10], "missing": "empty"}
    pairs = {pair.measure: pair.difference for pair in ndcg.compare(systems=systems, **how).pairs}
    bars = [float(row[2]) for row in cells(page, "#by-query") if row]
    assert abs(sum(bars) / len(bars)) == pytest.approx(abs(pairs["nDCG@10"]), abs=1e-4)
    assert {row[1] for row in cells(page, "#means") if row} == {"nDCG@1", "nDCG@10"}
    assert [row[0] for row in cells(page, "#pairs") if row] == ["nDCG@1", "nDCG@10"]
    wait_for(page, "nDCG@10", "#beside h3:not(.query)")
    heads = page.locator("#queries th").all_inner_texts()
    assert {f"{name} nDCG@{k}" for name in RUNS for k in (1, 10)} <= {each.strip() for each in heads}


def test_every_difference_is_the_better_run_less_the_other(visit: Opener) -> None:
    page = visit()
    samples = ROOT / "page" / "samples"
    scored(page, samples / "qrels.txt", samples / "bm25.txt", samples / "dense.txt")  # the worse one first
    wait_for(page, "dense beats bm25", "#runs-score .verdict")
    page.wait_for_selector("#pairs td")
    (pair,) = [row for row in cells(page, "#pairs") if row]
    assert pair[1:3] == ["dense", "bm25"]
    assert float(pair[3]) > 0
    heads = page.locator("#queries th").all_inner_texts()
    assert "dense − bm25 nDCG@10" in {each.strip() for each in heads}
    wait_for(page, "nDCG@10: dense − bm25", "#by-query figcaption")


def test_the_largest_number_is_of_the_measure_that_the_verdict_speaks_of(visit: Opener) -> None:
    page = visit("?k=1,10")
    wait_for_address(page, "k=1,10")
    expect(field(page, "Cutoffs")).to_have_value("1,10")
    open_tab(page, "Search runs")
    wait_for(page, "in nDCG@1 ", "#runs-score .verdict")
    page.get_by_label("nDCG@10", exact=True).check()
    wait_for(page, "in nDCG@10 ", "#runs-score .verdict")
    expect(page.locator("#runs-score .score .name")).to_have_text("dense: nDCG@10")


def test_the_effect_of_ties_on_a_run_is_shown_and_trec_evals_score_is_one_press_away(
    visit: Opener, ndcg: evaluate.Metric, files: Path
) -> None:
    page = visit()
    scored(page, files / "qrels.txt", files / "bm25.run")
    run = {"predictions": files / "bm25.run", "references": files / "qrels.txt", "k": 10}
    here, there = (f"{ndcg.compute(**run, convention=name)['nDCG@10']:.4f}" for name in ("sklearn", "trec_eval"))
    wait_for(page, "One query has tied documents in bm25, and their order matters", "#runs-score .verdict")
    wait_for(page, f"{here}; trec_eval orders them by id and gets {there}.", "#runs-score .verdict")
    page.get_by_role("button", name="Score as trec_eval does").press("Enter")
    page.wait_for_function("text => document.querySelector('#runs-score .value')?.innerText === text", arg=there)
    come_to_rest(page)
    assert value(page, "#runs-score") == there
    expect(page.get_by_role("button", name="Score as trec_eval does")).to_have_count(0)
    wait_for_address(page, "convention=trec_eval")
    choose(page, "Tied documents", "average")
    wait_for(page, "Press Score.", "#runs-score")


@pytest.mark.parametrize(("presses", "shown"), [(1, "Press Score."), (2, "nDCG@5")])
def test_results_of_options_that_have_changed_since_are_not_shown(
    visit: Opener, files: Path, presses: int, shown: str
) -> None:
    page = visit()
    open_tab(page, "Search runs")
    upload(page, "#qrels", files / "qrels.txt")
    upload(page, "#runs", files / "bm25.run")
    unfold(page, "Options")
    page.route("**/queue/join**", lambda route: None)  # holds it
    with page.expect_request("**/queue/join**"):
        page.press("#score-runs", "Enter")
    field(page, "Cutoffs").fill("5")
    wait_for_address(page, "k=5")
    for _ in range(presses - 1):
        page.press("#score-runs", "Enter")  # is answered after the first
    page.unroute_all()  # lets it go on
    come_to_rest(page)
    expect(page.locator("#runs-score")).to_contain_text(shown)


def test_a_comparison_goes_into_a_ticket(visit: Opener) -> None:
    page = visit()
    open_tab(page, "Search runs")
    expect(page.locator("body")).to_contain_text("A link to this tab keeps the options, not the files")
    wait_for(page, "dense beats bm25", "#runs-score .verdict")
    unfold(page, "Copy or download the results")
    text = page.input_value("#runs-markdown textarea")
    assert text.startswith(page.inner_text("#runs-score .verdict"))
    assert re.search(r"^\| dense – bm25 \|", text, re.MULTILINE)
    assert re.search(r"Signature: `nDCG@10\|gain:linear.*`$", text)
    for name, title in (("summary.csv", "Summary as CSV"), ("queries.svg", "Bars as a picture (SVG)")):
        with page.expect_download() as kept:
            page.get_by_role("link", name=title).click()
        assert kept.value.suggested_filename == name
        content = kept.value.path().read_text()
        assert "dense" in content
        if name.endswith("svg"):
            picture = page.context.new_page()
            picture.set_content(content)
            assert picture.locator("svg rect").count() == 1 + page.locator("#by-query tr[data-query]").count()
            picture.close()


def test_groups_of_queries_have_means_of_their_own(
    visit: Opener, ndcg: evaluate.Metric, files: Path, tmp_path: Path
) -> None:
    groups = {"q1": "de", "q2": "fr", "q3": "de"}
    (tmp_path / "groups.csv").write_text("query,language\n" + "".join(f"{q},{g}\n" for q, g in groups.items()))
    page = visit()
    open_tab(page, "Search runs")
    unfold(page, "Paste instead")
    upload(page, "#groups", tmp_path / "groups.csv")
    scored(page, files / "qrels.txt", files / "bm25.run")
    page.wait_for_selector("#slices td")
    values = ndcg.compute(predictions=files / "bm25.run", references=files / "qrels.txt", k=10, use_aggregator=False)[
        "nDCG@10"
    ]
    by_group = {row[0]: float(row[3]) for row in cells(page, "#slices") if row}
    assert by_group["de"] == pytest.approx((values[0] + values[2]) / 2, abs=1e-4)
    assert by_group["fr"] == pytest.approx(values[1], abs=1e-4)


def test_a_run_uploaded_as_qrels_can_be_swapped(visit: Opener, ndcg: evaluate.Metric, files: Path) -> None:
    page = visit()
    scored(page, files / "bm25.run", files / "qrels.txt")
    wait_for(page, "in each other's place", "#runs-score")
    page.locator("#swap-files").press("Enter")
    mean = ndcg.compute(predictions=files / "bm25.run", references=files / "qrels.txt", k=10)["nDCG@10"]
    wait_for(page, f"{mean:.4f}", "#runs-score")
    expect(page.locator("#swap-files")).to_have_count(0)
    expect(page.locator("#qrels a")).to_have_attribute("href", re.compile("qrels.txt"))


def test_pasted_texts_are_scored_as_files_are(visit: Opener, ndcg: evaluate.Metric) -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}}
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"d": 2.0}}
    beir = "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{r}\n" for q in qrels for d, r in qrels[q].items())
    page = visit()
    open_tab(page, "Search runs")
    unfold(page, "Paste instead")
    page.fill("#qrels-text textarea", beir)
    page.fill("#run-text textarea", json.dumps(run))
    page.press("#take-texts", "Enter")
    wait_for(page, f"{ndcg.compute(predictions=run, references=qrels, k=10)['nDCG@10']:.4f}", "#runs-score")
    wait_for(page, "pasted run", "#runs")
    expect(page.locator("#run-text textarea")).to_have_value("")
    page.fill("#run-text textarea", "q1: a b\nq2: c")  # ids, best first
    page.press("#take-texts", "Enter")
    better = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    wait_for(page, "pasted run (2) is", "#runs-score .verdict")
    wait_for(page, f"{ndcg.compute(predictions=better, references=qrels, k=10)['nDCG@10']:.4f}", "#runs-score")


def test_one_query_is_shown_side_by_side(
    visit: Opener, expected: list[str], ndcg: evaluate.Metric, tmp_path: Path
) -> None:
    expected.append("Intervals and tests need more than one query")
    (tmp_path / "qrels.txt").write_text("q 0 a 2\nq 0 b 1\n")
    (tmp_path / "good.run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")
    (tmp_path / "bad.run").write_text("q Q0 b 1 2 t\nq Q0 a 2 1 t\n")
    page = visit()
    scored(page, tmp_path / "qrels.txt", tmp_path / "bad.run", tmp_path / "good.run")
    scores = {}
    for name in ("good", "bad"):
        given = {"predictions": tmp_path / f"{name}.run", "references": tmp_path / "qrels.txt"}
        scores[name] = f"{ndcg.compute(**given, k=10)['nDCG@10']:.4f}"
        wait_for(page, f"{name}: nDCG@10 {scores[name]}", "#beside")
    wait_for(page, "Intervals and tests need more than one query", "#runs-score")
    alone = visit()
    scored(alone, tmp_path / "qrels.txt", tmp_path / "bad.run")
    wait_for(alone, scores["bad"])
    expect(alone.get_by_role("tab", name="One ranking")).to_have_attribute("aria-selected", "true")
    expect(alone.locator(".toast-body")).to_contain_text(expected)


def test_a_wrong_upload_is_one_sentence(visit: Opener, files: Path, tmp_path: Path) -> None:
    page = visit()
    open_tab(page, "Search runs")
    (tmp_path / "bad.run").write_text("q1 Q0 d1 1 high tag\n")
    upload(page, "#qrels", files / "qrels.txt")
    upload(page, "#runs", tmp_path / "bad.run")
    page.press("#score-runs", "Enter")
    wait_for(page, "bad.run", "#runs-score")
    expect(page.locator("#runs-score")).to_have_text(re.compile(r"bad\.run.*line 1.*high", re.DOTALL))


def test_a_batch_is_scored_with_every_policy(visit: Opener, ndcg: evaluate.Metric, tmp_path: Path) -> None:
    page = visit()
    open_tab(page, "Batch")
    ragged = {"predictions": [[0.9, 0.8, 0.1], [0.5], [0.2, 0.4]], "references": [[0, 1, 1], [1], [0, 0]]}
    for policy, meant in (("0", 0.0), ("1", 1.0), ("skipped", float("nan"))):
        expected = ndcg.compute(**ragged, k=10, zero_division=meant)["nDCG@10"]
        wait_for(page, f"{policy}: {expected:.4f}", "#batch-score")
    page.get_by_label("References", exact=False).first.fill("[[0, 1, 1], [1], [0]]")
    wait_for(page, "query 2: 2 predictions and 1 references", "#batch-score")
    flat = {"predictions": [0.9, 0.2, 0.4, 0.8], "references": [0, 1, 1, 0], "query_ids": ["a", "b", "a", "b"]}
    table = io.StringIO()
    csv.writer(table).writerows([["prediction", "reference", "query_id"], *zip(*flat.values(), strict=True)])
    (tmp_path / "flat.csv").write_text(table.getvalue())
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    page.set_input_files("#batch-file input[type=file]", tmp_path / "bad.csv")
    wait_for(page, "bad.csv: has no predictions", "#batch-score")
    expect(page.locator("#batch-queries td")).to_have_count(0)  # of the batch before
    page.click("#batch-file [aria-label='Clear'], #batch-file [aria-label='Remove this file']")
    page.set_input_files("#batch-file input[type=file]", tmp_path / "flat.csv")
    wait_for(page, f"{ndcg.compute(**flat, k=10)['nDCG@10']:.4f}", "#batch-score")
    expect(page.locator("#batch-score .error")).to_have_count(0)
    page.wait_for_selector("#batch-queries td")
    assert [row[0] for row in cells(page, "#batch-queries") if row] == ["a", "b"]
