"""The address of the page: it names what is shown, and a link and Back bring that back."""

import json
import re
import time
from typing import Any

import evaluate
import pytest

from .conftest import PLAIN, Opener, come_to_rest
from .visits import (
    BROWSER,
    address,
    card,
    choose,
    columns,
    edit,
    expect,
    field,
    on_a_slow_line,
    open_tab,
    score,
    unfold,
    wait_for,
    wait_for_address,
)

pytestmark = [*BROWSER, pytest.mark.xdist_group("ranking")]
WRITERS_OF_THE_ADDRESS = """() => {
  const { components, dependencies } = window.gradio_config;
  const { id } = components.find(each => each.props.elem_id === "address");
  return dependencies.filter(each => each.outputs.includes(id)).map(each => each.id);
}"""


def test_the_address_is_short_and_always_names_what_is_shown(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    choose(page, "Convention", "xgboost")
    wait_for_address(page, "convention=xgboost")
    field(page, "Cutoffs").fill("3, 5")
    edit(page, 0, 0, "näme & <b>")
    edit(page, 3, 1, "")
    wait_for_address(page, "rel=3,2,3,,1,2&ids=näme+&+<b>,d2,")
    wait_for(page, "nDCG@5")
    shown = page.inner_text("#picture .score")
    again = visit(address(page))
    expect(again.locator("#picture .score")).to_have_text(shown, use_inner_text=True)
    expect(card(again, "d2")).to_have_count(1)
    expect(again.locator("#picture .order .document").first).to_have_text("näme & <b>")
    unfold(again, "Options")
    expect(again.get_by_label("Convention", exact=True).first).to_have_value("xgboost")
    unfold(again, "Use it in code")
    expect(again.locator("#link textarea")).to_have_value(re.compile("convention=xgboost"))


def test_back_undoes_a_change_and_forward_makes_it_again_however_fast(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    orders = ["3,2,3,0,1,2", "2,3,3,0,1,2", "2,3,3,1,0,2"]
    for document, relevance in zip(("d1", "d4"), orders[1:], strict=True):
        time.sleep(1.1)  # sooner changes belong to the same step
        card(page, document).locator(".grip").press("ArrowDown")
        wait_for_address(page, f"rel={relevance}&")
    with on_a_slow_line(page):
        at = 2
        for step in (-1, 1, -1, -1, 1, -1, 1):
            at += step
            page.evaluate("step => history.go(step)", step)
            wait_for_address(page, f"rel={orders[at]}&")
        come_to_rest(page)
        for step in (0, 1, -2):
            at += step
            page.evaluate("step => step && history.go(step)", step)
            wait_for_address(page, f"rel={orders[at]}&")
            wait_for(page, score(ndcg, references=[[int(each) for each in orders[at].split(",")]]))


def test_a_change_of_the_ranking_can_be_undone_by_the_button_and_by_keys(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    undo = page.get_by_role("button", name="Undo")
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    expect(undo).to_have_count(0)  # there is nothing to undo
    moves = [[2, 3, 3, 0, 1, 2], [2, 3, 0, 3, 1, 2]]
    for document, relevance in zip(("d1", "d3"), moves, strict=True):
        time.sleep(1.1)  # sooner changes belong to the same step
        card(page, document).locator(".grip").press("ArrowDown")
        wait_for(page, score(ndcg, references=[relevance]))
        wait_for_address(page, f"rel={','.join(map(str, relevance))}&ids=")
    undo.click()
    wait_for(page, score(ndcg, references=[moves[0]]))
    expect(undo).to_be_visible()
    page.keyboard.press("Control+z")
    wait_for(page, score(ndcg))
    expect(undo).to_have_count(0)
    page.keyboard.press("Control+z")
    come_to_rest(page)
    assert address(page) == "?rel=3,2,3,0,1,2&k=10"


def test_the_address_names_the_tab_the_score_to_explain_and_its_batch(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit("?tab=batch")
    page.get_by_label("Predictions", exact=False).first.fill("[[3, 2, 1]]")
    page.get_by_label("References", exact=False).first.fill("[[0, 1, 2]]")
    open_tab(page, "Explain a score")
    page.get_by_label("The batch").check()
    page.locator("#got input, #got textarea").fill("0.6199")
    given = {"predictions": [[3, 2, 1]], "references": [[0, 1, 2]]}
    *others, last = ndcg.explain(**given, k=10, got="0.6199").matches
    said = f"0.6199 is the nDCG@10 of {', '.join(others)} and {last}."
    wait_for(page, said, "#explained")
    wait_for_address(page, "&tab=explain&data=batch&got=0.6199&batch=")
    again = visit(address(page))
    expect(again.get_by_role("tab", name="Explain a score")).to_have_attribute(
        "aria-selected", "true"
    )
    wait_for(again, said, "#explained")
    again.wait_for_function("given => location.search === given", arg=address(page))
    open_tab(again, "Batch")
    again.get_by_label("Predictions", exact=False).first.fill(f"[{[1] * 2000}]")
    wait_for_address(again, "&batch=long")


def test_a_late_answer_does_not_take_back_the_address(visit: Opener) -> None:
    page = visit()
    wait_for_address(page, "?k=10")
    writers = page.evaluate(WRITERS_OF_THE_ADDRESS)
    held: list[Any] = []

    def writes_the_address(request: Any) -> bool:
        return "/run/" in request.url and json.loads(request.post_data)["fn_index"] in writers

    def hold_the_first(route: Any) -> None:
        held.append(route) if writes_the_address(route.request) and not held else route.continue_()

    page.route("**/run/**", hold_the_first)
    with page.expect_request(writes_the_address):
        page.reload()
    tab = page.get_by_role("tab", name="Batch", exact=True)
    tab.click()
    expect(tab).to_have_attribute("aria-selected", "true")
    page.wait_for_timeout(1000)  # enough for an answer that overtakes the first
    held[0].continue_()
    wait_for_address(page, "tab=batch")
    come_to_rest(page)
    assert address(page) == "?k=10&tab=batch"
    page.unroute_all()


def test_a_ranking_too_long_for_an_address_is_not_promised(visit: Opener) -> None:
    page = visit(columns([[f"d{at}" * 5, "1", str(at)] for at in range(100)]))
    unfold(page, "Use it in code")
    wait_for(page, "Link to this ranking", "#link")
    unfold(page, "Edit as a table")
    page.wait_for_selector("#table [data-testid=cell-0-0]")
    edit(page, 0, 0, "d" * 1500)
    wait_for(page, "the ranking is too long for a link", "#link")
    assert "rel=" not in address(page)


def test_a_broken_address_breaks_nothing_and_names_its_missing_parts(visit: Opener) -> None:
    page = visit("?rel=1,2&ids=a&convention=none&gain=<b>&log_base=e&k=0")
    unfold(page, "Edit as a table")
    page.wait_for_selector("#table [data-testid=cell-0-0]")
    unread = "could not be read and have their defaults: ids, convention, log_base, gain. Relevance is empty"
    wait_for(page, f"These parts of the link {unread}", "#table")
    wait_for(page, "is not a cutoff")
