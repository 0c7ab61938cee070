"""The tab of search runs in a browser: files and pasted texts, compared, with their queries; and the tab of a batch.

That the numbers are right is proven without a browser, in tests/page.
"""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import evaluate
import pytest

from .conftest import EVIL, RUNS, Opener
from .visits import (
    BROWSER,
    cells,
    expect,
    field,
    open_tab,
    scored,
    unfold,
    upload,
    wait_for,
    wait_for_address,
)

pytestmark = [*BROWSER, pytest.mark.xdist_group("other tabs")]
VIEW = "#runs-view"


def rows(page: Any) -> dict[str, list[str]]:
    """The mean of each run, and its difference from the base with p, in the order of the page."""
    script = "rows => rows.map(row => ['th', '.mean', '.difference'].map(each => row.querySelector(each).innerText))"
    found = page.eval_on_selector_all(".standings tbody tr", script)
    return {name.strip(): [mean, difference.split()[0]] for name, mean, difference in found}


def headline(page: Any, text: str) -> None:
    expect(page.locator(f"{VIEW} h2")).to_have_text(text)


def test_samples_are_shown_and_go_into_a_ticket_until_there_are_files(
    visit: Opener, files: Path
) -> None:
    page = visit("?k=5")
    open_tab(page, "Search runs")
    expect(page.locator("body")).to_contain_text(
        "A link to this tab keeps the options, not the files"
    )
    wait_for(page, "These are two sample runs. Upload or paste yours above.", VIEW)
    headline(page, "dense is better than bm25.")
    middles = (
        "all => all.map(each => each.getBoundingClientRect()).map(({ x, width }) => x + width / 2)"
    )
    ticks, lines = (
        page.eval_on_selector_all(f"{VIEW} tr:first-child {each}", middles)
        for each in (".track span", ".rule")
    )
    assert ticks == pytest.approx(lines, abs=1)
    unfold(page, "All numbers")
    text = page.input_value("#runs-markdown textarea")
    assert text.startswith("dense is better than bm25.")
    assert re.search(r"^\| bm25 – dense \|", text, re.MULTILINE)
    assert re.search(r"Signature: `nDCG@5\|gain:linear.*`$", text)
    assert "\\begin{tabular}" in page.input_value("#runs-latex textarea")
    names = [row[0] for row in cells(page, "#runs-numbers figure:first-child") if row]
    assert names == ["a\xa0\xa0bm25", "b\xa0\xa0dense"]
    for name, title in (("summary.csv", "Summary as CSV"), ("queries.csv", "Every query as CSV")):
        with page.expect_download() as kept:
            page.get_by_role("link", name=title).click()
        assert kept.value.suggested_filename == name
        assert "dense" in kept.value.path().read_text()
    unfold(page, "Paste instead")
    page.press("#take-texts", "Enter")
    wait_for(page, "These are two sample runs.", VIEW)
    upload(page, "#qrels", files / "qrels.txt")
    wait_for(page, "Upload the qrels and at least one run.", VIEW)
    expect(page.locator(".standings")).to_have_count(0)


def test_runs_are_compared_when_their_files_are_there(
    visit: Opener, ndcg: evaluate.Metric, files: Path, tmp_path: Path
) -> None:
    (tmp_path / "groups.csv").write_text("query,language\nq1,de\nq2,fr\nq3,de\n")
    page = visit()
    scored(page, files / "qrels.txt", *(files / f"{name}.run" for name in RUNS))
    headline(page, "bm25 and dense cannot be told apart.")
    given = {
        "systems": {name: files / f"{name}.run" for name in RUNS},
        "references": files / "qrels.txt",
        "k": 10,
    }
    found = ndcg.compare(**given, missing="empty")
    means = {name: f"{each['nDCG@10'].value:.3f}" for name, each in found.scores.items()}
    assert rows(page) == {
        "bm25": [means["bm25"], "best"],
        "dense": [means["dense"], f"−{found.pairs[0].difference:.3f}"],
    }
    wait_for(page, f"bm25 has nDCG@10 {means['bm25']}, dense {means['dense']}: ", ".evidence")
    unfold(page, "Paste instead")
    upload(page, "#groups", tmp_path / "groups.csv")
    unfold(page, "All numbers")
    wait_for(page, "Comparison: slice", "#runs-numbers")
    expect(page.locator("li[data-query=q3] small")).to_have_text("missing")
    wait_for(page, "One query, q3, is missing from dense and counts as 0.", VIEW)
    page.get_by_role("button", name="Compare only the queries that all runs have").press("Enter")
    wait_for_address(page, "missing=skip")
    skipping = ndcg.compare(**given, missing="skip")
    wait_for(page, f"dense {skipping.scores['dense']['nDCG@10'].value:.3f}", ".evidence")
    page.get_by_role("button", name="Open query q2").press("Enter")
    wait_for(page, "Query q2", "#beside .query")
    for name in RUNS:
        column = page.locator("#beside section").filter(
            has=page.locator(f"h3:has-text('{name}: nDCG@10')")
        )
        expect(column).to_contain_text("÷ ideal")
    expect(page.locator("#beside .document", has_text=EVIL).first).to_be_visible()
    page.get_by_role("button", name="Open bm25 of query q2 in One ranking").click()
    wait_for(page, "Query q2 by bm25", "#ranking-title")
    page.wait_for_function("scrollY === 0")
    wait_for(page, EVIL, "#picture")
    assert page.locator("#picture img").count() == 0


def test_the_measure_the_base_and_the_run_that_is_compared_are_chosen_by_keys(
    visit: Opener, tmp_path: Path
) -> None:
    paths = {name: tmp_path / f"{name}.run" for name in ("bad", "good", "middle")}
    for name, rank in (("bad", 4), ("good", 1), ("middle", 2)):
        lists = ([*["x", "y", "z"][: rank - 1], "a"] for _ in range(12))
        lines = [
            f"q{q} Q0 {d} 1 {-at} t\n" for q, each in enumerate(lists) for at, d in enumerate(each)
        ]
        paths[name].write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("".join(f"q{at} 0 a 1\n" for at in range(12)))
    page = visit("?k=1,3")
    scored(page, tmp_path / "qrels.txt", *paths.values())
    headline(page, "good is best: better than each of the 2 others.")
    assert list(rows(page)) == ["good", "bad", "middle"]  # both have 0 at 1
    page.get_by_label("Measure", exact=True).select_option("nDCG@3")
    wait_for(page, "good has nDCG@3 1.000, middle 0.631", ".evidence")
    assert [mean for mean, _ in rows(page).values()] == ["1.000", "0.631", "0.000"]
    page.get_by_role("button", name="bad", exact=True).press("Enter")
    wait_for(page, "good has nDCG@3 1.000, bad 0.000", ".evidence")
    page.get_by_label("Difference from", exact=True).select_option("middle")
    wait_for(page, "good has nDCG@3 1.000, middle 0.631", ".evidence")
    assert [difference for _, difference in rows(page).values()] == ["+0.369", "–", "−0.631"]
    field(page, "Cutoffs").fill("2")
    wait_for(page, "nDCG@2", ".evidence")


def test_files_in_each_others_place_are_swapped_by_a_press(
    visit: Opener, ndcg: evaluate.Metric, files: Path
) -> None:
    page = visit()
    scored(page, files / "bm25.run", files / "qrels.txt")
    wait_for(page, "in each other's place", VIEW)
    page.get_by_role("button", name="Swap them").press("Enter")
    mean = ndcg.compute(predictions=files / "bm25.run", references=files / "qrels.txt", k=10)[
        "nDCG@10"
    ]
    headline(page, f"bm25 has nDCG@10 {mean:.3f}.")
    expect(page.locator("#qrels a")).to_have_attribute("href", re.compile("qrels.txt"))


def test_pasted_texts_are_scored_as_files_are(visit: Opener, ndcg: evaluate.Metric) -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2, "d": 1}}
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"d": 2.0}}
    beir = "query-id\tcorpus-id\tscore\n" + "".join(
        f"{q}\t{d}\t{r}\n" for q in qrels for d, r in qrels[q].items()
    )
    page = visit()
    open_tab(page, "Search runs")
    unfold(page, "Paste instead")
    page.fill("#qrels-text textarea", beir)
    page.fill("#run-text textarea", json.dumps(run))
    page.press("#take-texts", "Enter")
    mean = ndcg.compute(predictions=run, references=qrels, k=10)["nDCG@10"]
    headline(page, f"pasted run has nDCG@10 {mean:.3f}.")
    expect(page.locator("#run-text textarea")).to_have_value("")
    page.fill("#run-text textarea", "q1: a b\nq2: c")  # ids, best first
    page.press("#take-texts", "Enter")
    better = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    mean = ndcg.compute(predictions=better, references=qrels, k=10)["nDCG@10"]
    wait_for(page, f"pasted run (2) has nDCG@10 {mean:.3f}", ".evidence")


def test_twenty_runs_are_compared_on_a_phone(visit: Opener, files: Path, tmp_path: Path) -> None:
    lines = RUNS["bm25"].splitlines(keepends=True)
    paths = [tmp_path / f"a_run_with_a_long_name_{at:02}.run" for at in range(20)]
    for at, path in enumerate(paths):
        path.write_text("".join(lines[: 1 + at % len(lines)]))
    page = visit("", 390)
    page.get_by_role("tab", name="Search runs", exact=True).click()
    scored(page, files / "qrels.txt", *paths)
    expect(page.locator(".standings tbody tr")).to_have_count(20)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    right = "all => Math.max(...all.map(each => each.getBoundingClientRect().right))"
    assert page.eval_on_selector_all(".standings :is(th, td, select, circle)", right) <= 390
    high = "all => Math.max(...all.map(each => each.offsetHeight))"
    assert page.eval_on_selector_all(".standings tbody tr", high) <= 90


def test_a_batch_is_scored_with_every_policy(
    visit: Opener, ndcg: evaluate.Metric, tmp_path: Path
) -> None:
    page = visit()
    open_tab(page, "Batch")
    ragged = {
        "predictions": [[0.9, 0.8, 0.1], [0.5], [0.2, 0.4]],
        "references": [[0, 1, 1], [1], [0, 0]],
    }
    wait_for(page, f"{ndcg.compute(**ragged, k=10)['nDCG@10']:.4f}", "#batch-score .value")
    for policy, meant in (("1", 1.0), ("skipped", float("nan"))):
        expected = ndcg.compute(**ragged, k=10, zero_division=meant)["nDCG@10"]
        wait_for(page, f"{policy}: {expected:.4f}", "#batch-score")
    flat = {
        "predictions": [0.9, 0.2, 0.4, 0.8],
        "references": [0, 1, 1, 0],
        "query_ids": ["a", "b", "a", "b"],
    }
    table = io.StringIO()
    csv.writer(table).writerows(
        [["prediction", "reference", "query_id"], *zip(*flat.values(), strict=True)]
    )
    (tmp_path / "flat.csv").write_text(table.getvalue())
    page.set_input_files("#batch-file input[type=file]", tmp_path / "flat.csv")
    wait_for(page, f"{ndcg.compute(**flat, k=10)['nDCG@10']:.4f}", "#batch-score")
    page.wait_for_selector("#batch-queries td")
    assert [row[0] for row in cells(page, "#batch-queries") if row] == ["a", "b"]
