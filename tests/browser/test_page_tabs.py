"""The tabs of a batch, of a score that is explained, and of the metric card."""

from pathlib import Path

import evaluate
import pytest
from reference import NUMBERS

from .conftest import RUNS, Opener
from .visits import BROWSER, TEXTBOOK, expect, open_tab, scored, wait_for

pytestmark = [*BROWSER, pytest.mark.xdist_group("other tabs")]


def test_the_conventions_that_give_a_score_are_shown(
    visit: Opener, ndcg: evaluate.Metric, files: Path
) -> None:
    page = visit()
    open_tab(page, "Explain a score")
    wait_for(page, "Enter the score you want to identify.", "#explained")
    page.locator("#got input, #got textarea").fill("0.9488")
    *others, last = ndcg.explain(**TEXTBOOK, k=10, got="0.9488").matches
    wait_for(page, f"0.9488 is the nDCG@10 of {', '.join(others)} and {last}.", "#explained")
    expect(page.locator("#explained td", has_text="match")).to_have_count(len(others) + 1)
    page.locator("#own textarea").fill("0 1")
    wait_for(page, "No convention gives 0.9488", "#explained")
    page.locator("#got input, #got textarea").fill("0.6309")
    wait_for(page, "0.6309 is the nDCG@10 of ", "#explained")
    page.locator("#got input, #got textarea").fill("0.9488")
    page.get_by_label("The example of the metric card").check()
    wait_for(page, f"{NUMBERS['trec_eval']}", "#explained")
    wait_for(page, "No convention gives 0.9488", "#explained")
    rows = [
        row.locator("td").all_inner_texts()
        for row in page.locator("#explained .sheet").first.locator("tr").all()
    ]
    shown = {name: number for name, number, *_ in filter(None, rows)}
    libraries = ("trec_eval", "sklearn", "ranx", "rax", "lightgbm")
    assert {name: float(shown[name]) for name in libraries} == {
        name: NUMBERS[name] for name in libraries
    }
    scored(page, files / "qrels.txt", files / "bm25.run", files / "dense.run")
    open_tab(page, "Explain a score")
    page.get_by_label("The search runs").check()
    for name in RUNS:
        run = {"predictions": files / f"{name}.run", "references": files / "qrels.txt"}
        numbers = ndcg.explain(**run, k=10).scores
        wait_for(page, f"{name}: No convention gives 0.9488", "#explained")
        wait_for(page, f"{numbers['trec_eval']:.4f}", "#explained")


def test_the_card_shows_its_formulas(visit: Opener) -> None:
    page = visit()
    open_tab(page, "Metric card")
    page.wait_for_selector("h1:has-text('Metric Card for nDCG')")
    page.wait_for_function("document.querySelectorAll('.katex').length > 3")
    links = page.locator("#card-text a:not(.md-header-anchor)").evaluate_all(
        """all => all.map(a => [a.getAttribute("href"),
            a.hash.length > 1 && document.querySelectorAll(`[id="${a.hash.slice(1)}"]`).length == 1])"""
    )
    assert [href for href, found in links if not found and not href.startswith("http")] == []
    assert page.locator("#card-text code:text-is('docs/inputs.md')").count() > 0
