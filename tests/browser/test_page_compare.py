"""The place Compare in a browser: files and pasted texts, the grid, and both rankings of a query.

That the numbers are right is proven without a browser, in tests/page.
"""

from pathlib import Path
from typing import Any

import evaluate
import pytest

from .conftest import EVIL, RUNS, Opener, come_to_rest
from .visits import BROWSER, address, expect, on_a_slow_line, pause, upload, wait_for_address

pytestmark = [*BROWSER, pytest.mark.xdist_group("compare")]
HERE = "?tab=compare"


def headline(page: Any, text: str) -> None:
    expect(page.locator(".verdict h2")).to_have_text(text)


def compared(visit: Opener, files: Path, query: str = HERE, width: int = 1280) -> Any:
    """The page with the files of both runs."""
    page = visit(query, width)
    upload(page, files / "qrels.txt", *(files / f"{name}.run" for name in RUNS))
    return page


def test_files_are_chosen_added_and_removed(
    visit: Opener, ndcg: evaluate.Metric, files: Path
) -> None:
    page = visit(HERE)
    headline(page, "dense is better than bm25.")
    upload(page, files / "qrels.txt", files / "bm25.run")
    given = {"predictions": files / "bm25.run", "references": files / "qrels.txt"}
    headline(page, f"bm25 has nDCG@10 {ndcg.compute(**given, k=10)['nDCG@10']:.3f}.")
    upload(page, files / "dense.run")
    headline(page, "bm25 and dense cannot be told apart.")
    page.get_by_role("button", name="Remove bm25.run").click()
    dense = ndcg.compute(predictions=files / "dense.run", references=files / "qrels.txt", k=10)
    headline(page, f"dense has nDCG@10 {dense['nDCG@10']:.3f}.")
    page.go_back()
    headline(page, "bm25 and dense cannot be told apart.")


DROP = """
([name, text]) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([text], name));
  for (const kind of ["dragenter", "dragover", "drop"])
    document.querySelector("main").dispatchEvent(
      new DragEvent(kind, { dataTransfer: dropped, bubbles: true, cancelable: true }));
}
"""


def test_files_are_dropped_and_texts_are_pasted(visit: Opener) -> None:
    page = visit(HERE)
    page.evaluate(DROP, ["judged.txt", "q1 0 a 1\nq1 0 b 0\n"])
    headline(page, "There is no run yet: add its file.")
    page.get_by_text("or paste").click()
    page.locator("#text").fill("q1: b a")
    page.get_by_role("button", name="Add this text").click()
    headline(page, "pasted has nDCG@10 0.631.")
    wait_for_address(page, "files=")


def test_another_file_is_taken_for_the_judgments(visit: Opener, tmp_path: Path) -> None:
    for name, relevance in (("one", "1"), ("qrels", "0")):
        text = f"query-id\tcorpus-id\tscore\nq\ta\t{relevance}\nq\tb\t1\n"
        (tmp_path / f"{name}.tsv").write_text(text)
    page = visit(HERE)
    upload(page, tmp_path / "one.tsv", tmp_path / "qrels.tsv")
    field = page.get_by_label("Judgments")
    expect(field).to_have_value("qrels.tsv")
    field.select_option("one.tsv")
    wait_for_address(page, "judgments=one.tsv")
    expect(page.locator(".chip")).to_contain_text("qrels")


def test_columns_are_chosen_above_the_first_rows(
    visit: Opener, files: Path, tmp_path: Path
) -> None:
    (tmp_path / "odd.csv").write_text("topic,url,points\nq1,d1,3.5\nq1,d2,2\nq3,d1,1\n")
    page = visit(HERE)
    upload(page, files / "qrels.txt", tmp_path / "odd.csv")
    expect(page.locator(".problem")).to_contain_text("no document or score under a standard name")
    page.get_by_label("What the column url of odd.csv holds").select_option(label="document")
    expect(page.locator(".problem")).to_contain_text("no score under a standard name")
    page.get_by_label("What the column points of odd.csv holds").select_option(label="score")
    expect(page.locator(".verdict h2")).to_contain_text("odd has nDCG@10")
    again = visit(address(page))
    expect(again.locator(".verdict h2")).to_contain_text("odd has nDCG@10")


def test_a_cell_opens_both_rankings_by_mouse_and_by_keys(visit: Opener, files: Path) -> None:
    page = compared(visit, files)
    page.locator("tr[data-query=q2] td[data-run=dense]").click()
    expect(page.locator(".pair h3")).to_have_text("Query q2")
    assert page.locator(".pair .card", has_text=EVIL).count() > 0
    page.locator(".grid td[tabindex='0'], .grid a[tabindex='0']").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    come_to_rest(page)
    query = page.evaluate("document.activeElement.closest('tr').dataset.query")
    expect(page.locator(".pair h3")).to_have_text(f"Query {query}")
    pause(page)
    page.get_by_role("link", name="understand", exact=True).first.click()
    expect(page.locator(".thread h2")).to_contain_text(f" on {query}")
    page.go_back()
    expect(page.locator(".pair h3")).to_have_text(f"Query {query}")


def test_the_old_result_is_marked_while_the_new_one_is_computed(visit: Opener, files: Path) -> None:
    page = visit(HERE)
    opacity = "getComputedStyle(document.querySelector('.verdict')).opacity"
    assert page.evaluate(opacity) == "1"
    with on_a_slow_line(page):
        paths = [files / "qrels.txt", *(files / f"{name}.run" for name in RUNS)]
        page.set_input_files(".zone input[type=file]", paths)
        expect(page.locator(".note")).to_have_text(
            "Comparing 3 files … The result below is the one before."
        )
        assert float(page.evaluate(opacity)) < 0.5
        headline(page, "bm25 and dense cannot be told apart.")
        expect(page.locator(".note")).to_have_count(0)
    come_to_rest(page)
    assert page.evaluate(opacity) == "1"


@pytest.mark.parametrize("width", [1280, 390])
def test_understand_begins_at_the_number_and_leads_back_to_the_query(
    visit: Opener, files: Path, width: int
) -> None:
    page = compared(visit, files, width=width)
    page.get_by_role("link", name="understand", exact=True).first.click()
    expect(page.locator(".figure .value")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0
    expect(page.locator("header [aria-current]")).to_have_text("Understand")
    title = page.inner_text(".thread h2")
    expect(page.locator(".query")).to_contain_text(title)
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()
    page.get_by_role("link", name="back to the comparison", exact=True).click()
    expect(page.locator(".queries h2")).to_be_in_viewport()
    run, query = title.split(" on ")
    expect(page.locator(".pair h3")).to_have_text(f"Query {query}")
    expect(page.locator(".queries h2")).to_contain_text(f"in {run}")
    headline(page, "bm25 and dense cannot be told apart.")


def test_the_header_of_the_grid_covers_the_rows_that_scroll_under_it(
    visit: Opener, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"q{at:02} 0 a 1\n" for at in range(40)))
    for name in ("one", "two"):
        lines = (f"q{at:02} Q0 a 1 1 t\n" for at in range(40))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    page = visit(HERE)
    upload(page, *(tmp_path / name for name in ("qrels.txt", "one.run", "two.run")))
    expect(page.locator(".queries .hint")).to_have_text(
        "40 queries; scroll in the table to see more"
    )
    sheet = page.locator(".grid-sheet")
    end = "sheet => sheet.getBoundingClientRect().bottom"
    ends = "all => all.map(row => row.getBoundingClientRect().bottom)"
    rows = page.eval_on_selector_all(".grid tbody tr", ends)
    assert min(abs(sheet.evaluate(end) - row) for row in rows) < 2.5  # none is cut
    sheet.evaluate("sheet => { sheet.scrollTop = 100; sheet.scrollIntoView(); }")
    script = """
    cell => {
      const { x, y, width, height } = cell.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2).closest("th").textContent;
    }
    """
    assert page.locator(".grid thead th").first.evaluate(script) == "query"


def test_the_order_of_the_grid_the_base_and_the_measure_are_chosen(
    visit: Opener, files: Path
) -> None:
    page = compared(visit, files, f"{HERE}&k=1,3")
    page.get_by_label("Measure").select_option("nDCG@3")
    wait_for_address(page, "measure=nDCG@3")
    expect(page.locator(".verdict > p").first).to_contain_text("nDCG@3")
    page.get_by_label("Difference from").select_option("dense")
    wait_for_address(page, "base=dense")
    page.get_by_role("link", name="Its weakest").click()
    expect(page.locator(".queries h2")).to_contain_text("dense is weakest on")
    page.get_by_role("link", name="Missing").click()
    expect(page.locator(".queries h2")).to_have_text("q3 is missing from 1 of 2 runs.")


def test_a_shared_link_shows_tab_options_pair_and_query(visit: Opener, files: Path) -> None:
    page = compared(visit, files, f"{HERE}&k=3&convention=trec_eval")
    page.locator("tr[data-query=q2] td[data-run=dense]").click()
    expect(page.locator(".pair h3")).to_have_text("Query q2")
    come_to_rest(page)
    again = visit(address(page))
    for part in (".pair", ".verdict", ".queries h2"):
        assert again.inner_text(part) == page.inner_text(part)
    expect(again.locator("select[name=convention]")).to_have_value("trec_eval")


def test_ticks_stand_above_their_lines(visit: Opener) -> None:
    page = visit(HERE)
    middles = (
        "all => all.map(part => part.getBoundingClientRect()).map(({ x, width }) => x + width / 2)"
    )
    ticks = page.eval_on_selector_all(".standings thead .track span", middles)
    lines = page.eval_on_selector_all(".standings tbody tr:first-child u", middles)
    assert ticks == pytest.approx(lines, abs=1)


def test_names_of_runs_end_where_their_values_end(visit: Opener) -> None:
    page = visit(HERE)
    ends = "all => all.map(part => part.getBoundingClientRect().right)"
    names = page.eval_on_selector_all(".grid thead th:not(:first-child) span", ends)
    values = page.eval_on_selector_all(".grid tr[data-query=q17] td span", ends)
    assert names == pytest.approx(values, abs=1)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_chosen_row_has_one_background(
    visit: Opener, files: Path, tmp_path: Path, width: int
) -> None:
    (tmp_path / "third.run").write_text(RUNS["dense"])
    page = visit(HERE, width)
    upload(
        page, files / "qrels.txt", *(files / f"{run}.run" for run in RUNS), tmp_path / "third.run"
    )
    colors = "all => all.map(part => getComputedStyle(part).backgroundColor)"
    (of_row,) = page.eval_on_selector_all(".standings .chosen", colors)
    transparent = "rgba(0, 0, 0, 0)"
    assert of_row != transparent
    assert set(page.eval_on_selector_all(".standings .chosen > *", colors)) == {transparent}


def test_files_that_cannot_be_sent_are_said(
    visit: Opener, expected: list[str], files: Path
) -> None:
    expected.append("Failed to load resource")
    page = visit(HERE)
    page.route("**/files*", lambda route: route.abort())
    page.set_input_files(".zone input[type=file]", files / "qrels.txt")
    expect(page.locator(".note")).to_contain_text("The files were not added; try it again.")
    page.unroute_all()


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_long_names_leave_the_axis_its_width(
    visit: Opener, files: Path, tmp_path: Path, width: int
) -> None:
    names = [
        "long_" + "z" * 106,
        "sentence-transformers_all-mpnet-base-v2_rerank_bge-reranker-large",
    ]
    for name, run in zip(names, RUNS, strict=True):
        (tmp_path / f"{name}.run").write_text(RUNS[run])
    page = visit(HERE, width)
    upload(page, files / "qrels.txt", *(tmp_path / f"{name}.run" for name in names))
    expect(page.locator(".standings tbody tr")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    widths = "all => all.map(part => part.offsetWidth)"
    assert min(page.eval_on_selector_all(".standings .axis", widths)) >= 128
    assert min(page.eval_on_selector_all(".standings tbody th", widths)) >= 112


def test_twenty_runs_are_compared_on_a_phone(visit: Opener, files: Path, tmp_path: Path) -> None:
    lines = RUNS["bm25"].splitlines(keepends=True)
    paths = [tmp_path / f"a_run_with_a_long_name_{at:02}.run" for at in range(20)]
    for at, path in enumerate(paths):
        path.write_text("".join(lines[: 1 + at % len(lines)]))
    page = visit(HERE, 390)
    upload(page, files / "qrels.txt", *paths)
    expect(page.locator(".standings tbody tr")).to_have_count(20)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    right = "all => Math.max(...all.map(part => part.getBoundingClientRect().right))"
    assert page.eval_on_selector_all(".standings :is(th, td, select, i)", right) <= 390
    high = "all => Math.max(...all.map(part => part.offsetHeight))"
    assert page.eval_on_selector_all(".standings tbody tr", high) <= 90
