"""The tab of a ranking in a browser: cards, options and steps answer mouse, touch and keys, also on a slow line.

That the numbers are right is proven without a browser, in tests/page.
"""

import json
import math
import re
import time
from typing import Any

import evaluate
import pytest

from page.choices import CHOICES, FIELDS, WORDS

from .conftest import PLAIN, Opener, come_to_rest
from .visits import (
    BROWSER,
    address,
    card,
    choose,
    drag,
    edit,
    expect,
    field,
    on_a_slow_line,
    open_tab,
    order,
    pull,
    score,
    scrub,
    unfold,
    value,
    wait_for,
    wait_for_address,
)

pytestmark = [*BROWSER, pytest.mark.xdist_group("ranking")]
AT = "?rel=3,2,3,0,1,2&k=10"  # the address of PLAIN
TIED = {"predictions": [[9, 5, 5, 5, 1]], "references": [[3, 0, 1, 2, 0]]}  # the step of ties


# --- What the page opens with ----------------------------------------------------------------------------------------


def test_the_page_opens_with_a_search_whose_titles_the_address_and_undo_keep(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit()
    assert value(page) == score(ndcg)
    said = page.locator("#picture .query")
    expect(said).to_have_text("Search: how do bees make honey")
    titles = order(page)
    assert titles[:2] == ["From nectar to honey", "Inside a beehive"]
    wait_for_address(page, "?k=10")
    time.sleep(1.1)  # sooner changes belong to the same step
    card(page, titles[0]).locator(".grip").press("ArrowDown")
    wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
    moved = [titles[1], titles[0], *titles[2:]]
    wait_for_address(page, f"?rel=2,3,3,0,1,2&ids={','.join(moved).replace(' ', '+')}&k=10")
    again = visit(address(page))
    expect(again.locator("#picture .order .document")).to_have_text(moved)
    expect(again.locator("#picture .query")).to_have_text("Search: how do bees make honey")
    page.bring_to_front()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#picture .order .document")).to_have_text(titles)
    assert address(page) == "?k=10"
    unfold(page, "take an example")
    page.locator("#paste textarea").fill("3 2 3 0 1 2")
    expect(page.locator("#picture .order .document").first).to_have_text("d1")
    expect(said).to_have_count(0)


# --- Options ---------------------------------------------------------------------------------------------------------


def test_every_option_is_answered_before_any_tab_is_opened(visit: Opener) -> None:
    page = visit()
    for name, choices in CHOICES.items():
        for each in (choices[-1], choices[0]):
            word = WORDS.get((name, each), each)
            choose(page, FIELDS[name], word)
            come_to_rest(page)
            expect(page.get_by_label(FIELDS[name], exact=True).first).to_have_value(word)
    choose(page, "Convention", "custom")


def test_a_convention_sets_the_options_and_a_changed_option_makes_it_custom(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit()
    unfold(page, "What each option changes here")
    choose(page, "Convention", "lightgbm")
    wait_for(page, score(ndcg, convention="lightgbm"))
    wait_for(page, "Gain is exponential: ", "#what-changes")
    expect(page.get_by_label(FIELDS["gain"], exact=True).first).to_have_value("exponential")
    wait_for(page, "− 1", "#picture .formula")  # of the gain 2^r - 1
    choose(page, FIELDS["gain"], "binary")
    wait_for(page, score(ndcg, convention="lightgbm", gain="binary"))
    expect(page.get_by_label("Convention", exact=True).first).to_have_value("custom")
    unfold(page, "Use it in code")
    expect(page.locator("#code textarea")).to_have_value(re.compile("gain='binary'"))
    field(page, "Cutoffs").fill("1, 3,none")
    wait_for(page, "nDCG@3")
    field(page, "Cutoffs").fill("0")
    wait_for(page, "Cutoffs k: '0' is not a cutoff: write whole numbers from 1")
    open_tab(page, "Batch")
    expect(page.locator("#what-changes")).not_to_be_visible()


def test_a_convention_changes_many_fields_and_asks_for_each_answer_once(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    wait_for_address(page, AT)
    unfold(page, "Options")
    asked: list[Any] = []

    def hold(route: Any) -> None:
        # the fields follow the choice, and everything else follows the fields
        is_choice = json.loads(route.request.post_data)["data"] == ["xgboost"]
        route.continue_() if is_choice else asked.append(route)

    page.route("**/run/**", hold)
    choose(page, "Convention", "xgboost")
    expect(page.get_by_label("Tied documents", exact=True).first).to_have_value("first")
    page.wait_for_timeout(1000)  # enough for all that follows
    functions = [json.loads(each.request.post_data)["fn_index"] for each in asked]
    page.unroute_all()  # lets them go on
    assert len(functions) >= 3  # the score, the batch, the address
    assert len(set(functions)) == len(functions)
    wait_for(page, score(ndcg, convention="xgboost"))


def test_gains_may_be_of_labels_and_a_label_is_pressed_for_the_next_one(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit("?rel=no,partly,yes")
    field(page, FIELDS["gain"]).fill("yes=3, partly=1, no=0")
    field(page, FIELDS["gain"]).press("Enter")
    inputs: dict[str, Any] = {"predictions": [[3, 2, 1]], "gain": {"yes": 3, "partly": 1, "no": 0}}
    wait_for(page, score(ndcg, **inputs, references=[["no", "partly", "yes"]]))
    card(page, "d2").locator(".grade").click()
    wait_for(page, score(ndcg, **inputs, references=[["no", "yes", "yes"]]))
    card(page, "d3").locator(".grade").press("Enter")
    wait_for(page, score(ndcg, **inputs, references=[["no", "yes", "no"]]))
    wait_for_address(page, "?rel=no,yes,no&k=10&gain=yes=3,+partly=1,+no=0")
    expect(page.locator(".formula select")).to_have_value("by label")


def test_gain_and_cutoff_are_chosen_next_to_the_formula(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit()
    gain, k = page.locator(".formula select"), page.locator(".formula input")
    gain.select_option("exponential")
    wait_for(page, score(ndcg, gain="exponential"))
    k.fill("3")
    k.press("Tab")
    wait_for(page, score(ndcg, k=3, gain="exponential"))
    wait_for_address(page, "k=3&gain=exponential")
    choose(page, FIELDS["gain"], "linear")
    wait_for(page, score(ndcg, k=3))
    expect(gain).to_have_value("linear")
    k.fill("")
    k.press("Tab")
    expect(page.locator("#picture .score .name")).to_have_text("nDCG")


# --- The table, examples and pasted texts ----------------------------------------------------------------------------


def test_the_table_is_edited_but_keeps_its_columns(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    for fold in ("Every number", "Use it in code", "Edit as a table"):
        unfold(page, fold)
    expect(page.locator("#signature textarea, #signature input")).to_have_value(
        ndcg.signature(k=10)
    )
    page.click("#table [data-testid=cell-0-1]", button="right")
    page.wait_for_selector("[role=menuitem][aria-label='Delete row']")
    assert page.locator("[role=menuitem][aria-label*=olumn]").count() == 0
    page.keyboard.press("Escape")
    edit(page, 3, 1, "3")
    wait_for(page, score(ndcg, references=[[3, 2, 3, 3, 1, 2]]))
    edit(page, 3, 1, "many")
    wait_for(page, "Row 4: relevance 'many' is not a number; leave it empty if it was not judged")
    expect(page.locator("#picture .value")).to_have_count(0)
    expect(page.locator("#steps td")).to_have_count(0)
    expect(page.locator("#signature textarea, #signature input")).to_have_value("")
    edit(page, 3, 1, "")
    wait_for(page, score(ndcg, references=[[3, 2, 3, None, 1, 2]]))
    page.click("#table [data-testid=cell-0-1]")
    page.get_by_role("button", name="Remove").click()
    wait_for(page, score(ndcg, predictions=[[5, 4, 3, 2, 1]], references=[[2, 3, None, 1, 2]]))
    page.get_by_role("button", name="Add").click()
    edit(page, 5, 1, "3")
    wait_for(
        page, score(ndcg, predictions=[[5, 4, 3, 2, 1, None]], references=[[2, 3, None, 1, 2, 3]])
    )


def test_an_example_or_a_pasted_ranking_is_scored_and_another_text_is_answered_below_it(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit()
    choose(page, "Examples", "Reversed")
    reverse = score(ndcg, predictions=[[4, 3, 2, 1]], references=[[0, 1, 2, 3]])
    wait_for(page, reverse)
    page.locator("#paste textarea").fill("q1 0 a 1\nq2 0 b 1")
    wait_for(page, "These lines are of 2 queries, such as q1 and q2.", "#unread")
    assert value(page) == reverse  # of the ranking that was there
    page.locator("#paste textarea").fill("id\trelevance\tscore\na\t1\t0.2\nb\t0\t0.9\nc\t2\t0.5")
    wait_for(page, score(ndcg, predictions=[[0.2, 0.9, 0.5]], references=[[1, 0, 2]]))
    expect(page.locator("#unread .error")).to_have_count(0)
    assert order(page) == ["b", "c", "a"]


# --- Cards -----------------------------------------------------------------------------------------------------------


def test_a_card_is_dragged_under_the_pointer_while_sums_are_those_of_its_rank(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    ideal, sums = page.inner_text("#picture .best"), page.locator("#picture .order .sum")
    curve = page.locator("#picture .order polyline")
    at = "all => all.map(each => Number(each.getAttribute('points').split(' ')[1].split(',')[0]) / 100)"
    discounts = pytest.approx([1 / math.log2(rank + 1) for rank in range(1, 7)], abs=1e-3)
    assert curve.evaluate_all(at) == discounts
    held = card(page, "d6").locator(".card")
    start = held.bounding_box()
    page.mouse.move(start["x"] + 60, start["y"] + 8)
    page.mouse.down()
    for up in (13, 55, 120):  # rows are 45 high
        page.mouse.move(start["x"] + 60, start["y"] + 8 - up)
        assert held.bounding_box()["y"] == pytest.approx(start["y"] - up, abs=1)
    expected = score(ndcg, references=[[3, 2, 3, 2, 0, 1]])
    change, was = page.inner_text("#picture .change").split(" from ")
    assert float(change) == pytest.approx(float(expected) - float(score(ndcg)), abs=2e-4)
    assert was == score(ndcg)
    assert curve.evaluate_all(at) == discounts
    shown = [value(page, "#picture .score"), sums.all_inner_texts()]
    assert shown[0] == expected
    page.mouse.up()
    wait_for_address(page, "?rel=3,2,3,2,0,1&ids=d1,d2,d3,d6,d4,d5&k=10")
    come_to_rest(page)
    assert [value(page, "#picture .score"), sums.all_inner_texts()] == shown
    assert order(page) == ["d1", "d2", "d3", "d6", "d4", "d5"]
    assert page.inner_text("#picture .best") == ideal
    expect(page.locator("#picture .change")).to_be_empty()
    assert page.locator("#picture [style*=transform]").count() == 0
    drag(page, "d1", "d3")
    wait_for(page, score(ndcg, references=[[2, 3, 3, 2, 0, 1]]))


NOTE_MOVES = """() => {
  window.moved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...how) {
    if (this.matches(".order > li")) window.moved.push(this.dataset.document);
    return animate.apply(this, how);
  };
}"""


@pytest.mark.parametrize(("motion", "moved"), [("no-preference", {"d1", "d2"}), ("reduce", set())])
def test_cards_move_to_their_ranks_whatever_moves_them_unless_motion_is_unwanted(
    visit: Opener, motion: str, moved: set[str]
) -> None:
    page = visit(PLAIN)
    page.emulate_media(reduced_motion=motion)
    page.evaluate(NOTE_MOVES)
    wait_for_address(page, AT)
    time.sleep(1.1)  # sooner changes belong to the same step
    card(page, "d1").locator(".grip").press("ArrowDown")
    come_to_rest(page)
    assert set(page.evaluate("() => window.moved.splice(0)")) == moved
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#picture .order .document").first).to_have_text("d1")
    come_to_rest(page)
    assert set(page.evaluate("() => window.moved.splice(0)")) == moved
    page.emulate_media(reduced_motion="no-preference")


def test_a_finger_drags_a_card_by_its_grip(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN, 390)
    touch = page.context.new_cdp_session(page)
    start, end = card(page, "d6").locator(".grip").bounding_box(), card(page, "d4").bounding_box()
    for kind, y in (
        ("touchStart", start["y"] + 9),
        ("touchMove", end["y"] + 30),
        ("touchMove", end["y"] + 2),
    ):
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": start["x"] + 9, "y": y}]},
        )
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wait_for(page, score(ndcg, references=[[3, 2, 3, 2, 0, 1]]))


def test_keys_move_a_card_out_of_the_ranking_and_back(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    grip = card(page, "d1").locator(".grip")
    grip.focus()
    page.keyboard.press("ArrowDown")
    wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
    expect(grip).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(grip).to_have_attribute("aria-label", "Move d1, rank 3: arrow keys")
    page.keyboard.press("Delete")
    wait_for(
        page, score(ndcg, predictions=[[5, 4, 3, 2, 1, None]], references=[[2, 3, 0, 1, 2, 3]])
    )
    expect(page.locator("#picture .tray .document")).to_have_text(["d1"])
    page.keyboard.press("ArrowUp")
    wait_for(page, score(ndcg, references=[[2, 3, 0, 1, 2, 3]]))


def test_relevance_and_cutoff_are_changed_by_dots_and_by_dragging_values(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    page.hover("#picture .formula [data-term=discount]")
    expect(page.locator("#picture .sum .lit")).to_have_count(6)
    card(page, "d3").locator(".card").hover()
    expect(page.locator("#picture .ideal .lit")).to_have_text("d3")
    grade = card(page, "d4").locator(".grade")
    for dot, relevance in ((3, 3), (1, 1), (2, 2), (2, 1), (1, 0)):  # once more is one less
        grade.locator("i").nth(dot - 1).click()
        expect(grade).to_have_attribute(
            "aria-label", f"d4: relevance {relevance} of 3; press for more"
        )
        wait_for(page, score(ndcg, references=[[3, 2, 3, relevance, 1, 2]]))
    for relevance in (1, 2, 3, 0):
        grade.press("Enter")
        expect(grade).to_have_attribute(
            "aria-label", f"d4: relevance {relevance} of 3; press for more"
        )
    wait_for(page, score(ndcg))
    gain = card(page, "d4").locator(".sum [data-scrub]")
    scrub(page, gain, 24)
    wait_for(page, score(ndcg, references=[[3, 2, 3, 2, 1, 2]]))  # while it is held
    page.mouse.move(0, 0)
    wait_for(page, score(ndcg))  # not below 0
    page.mouse.up()
    scrub(page, gain, 500)
    page.mouse.up()
    wait_for(page, score(ndcg, references=[[3, 2, 3, 3, 1, 2]]))  # as far as there are dots
    wait_for_address(page, "?rel=3,2,3,3,1,2&k=10")
    scrub(page, page.locator("#picture .formula [data-scrub]"), -84)
    page.mouse.up()
    wait_for(page, score(ndcg, k=3, references=[[3, 2, 3, 3, 1, 2]]))
    expect(page.locator(".formula input")).to_have_value("3")


def test_each_press_of_the_advice_adds_what_it_says_until_no_swap_helps(visit: Opener) -> None:
    page = visit("?rel=1,3,2,3&scores=5,5,5,&ties=first&k=10")  # d4 was not retrieved
    expect(page.locator("#picture .order > li")).to_have_count(3)
    come_to_rest(page)
    advice, presses = page.locator("#picture .advice"), []
    while advice.count():
        promised = float(value(page)) + float(page.inner_text("#picture .adds"))
        before = page.inner_html("#picture .picture")
        presses.append(advice.inner_text())
        advice.click()
        page.wait_for_function(
            "before => document.querySelector('#picture .picture').innerHTML !== before", arg=before
        )
        come_to_rest(page)
        assert float(value(page)) == pytest.approx(promised, abs=2e-4)
        assert len(presses) < 5, presses
    assert {each.split()[0] for each in presses} == {"retrieve", "swap"}
    wait_for(page, "No swap helps")
    assert value(page) == "1.0000"


# --- Late answers ----------------------------------------------------------------------------------------------------


def test_on_a_slow_line_every_change_counts(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, AT)
    with on_a_slow_line(page):
        for _ in range(3):
            card(page, "d1").locator(".grip").press("ArrowDown")
        for document, relevance in (("d2", 3), ("d4", 1), ("d4", 2)):
            card(page, document).locator(".grade i").nth(relevance - 1).click()
        drag(page, "d6", "d5")
        assert order(page) == ["d2", "d3", "d4", "d1", "d6", "d5"]
        wait_for(page, score(ndcg, references=[[3, 3, 2, 3, 2, 1]]))
        wait_for_address(page, "?rel=3,3,2,3,2,1&ids=d2,d3,d4,d1,d6,d5&k=10")
        come_to_rest(page)
        assert order(page) == ["d2", "d3", "d4", "d1", "d6", "d5"]
        assert value(page) == score(ndcg, references=[[3, 3, 2, 3, 2, 1]])
        for name in ("gain", "ties"):
            page.click(f"#guide [data-step={name}]")
        wait_for_address(page, "?step=ties")
        come_to_rest(page)
        assert address(page).startswith("?step=ties")


def test_an_answer_does_not_take_a_card_from_the_hand(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, AT)
    with on_a_slow_line(page):
        for _ in range(2):
            card(page, "d1").locator(".grip").press("ArrowDown")
        pull(page, "d6", "d4")
        wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
        assert order(page) == ["d2", "d3", "d1", "d6", "d4", "d5"]
        page.mouse.up()
        wait_for(page, score(ndcg, references=[[2, 3, 3, 2, 0, 1]]))
        wait_for_address(page, "?rel=2,3,3,2,0,1&ids=d2,d3,d1,d6,d4,d5&k=10")


def test_a_card_in_the_hand_outlasts_an_answer_that_was_overtaken(visit: Opener) -> None:
    page = visit(PLAIN)
    wait_for_address(page, AT)
    held: list[Any] = []

    def hold_the_score_after_one_edit(route: Any) -> None:
        table, edits, *_ = json.loads(route.request.post_data)["data"]
        held.append(route) if isinstance(table, dict) and edits == 1 else route.continue_()

    page.route("**/run/**", hold_the_score_after_one_edit)
    card(page, "d1").locator(".grip").press("ArrowDown")
    wait_for_address(page, "?rel=2,3,3,0,1,2&")
    card(page, "d1").locator(".grip").press("ArrowDown")
    wait_for_address(page, "?rel=2,3,3,0,1,2&ids=d2,d3,d1,")
    pull(page, "d6", "d4")
    assert len(held) == 1
    page.unroute_all()  # lets it go on; the picture with the second edit comes once more after it
    come_to_rest(page)
    page.mouse.up()
    wait_for_address(page, "?rel=2,3,3,2,0,1&ids=d2,d3,d1,d6,d4,d5&k=10")


# --- Guided steps ----------------------------------------------------------------------------------------------------


def test_each_step_asks_for_a_guess_and_leads_to_the_next(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit("?step=discount")
    wait_for(page, "Guess first: Which swap wins more?", "#guide")
    answer = page.locator("#guide .answer")
    expect(answer).not_to_be_visible()
    guess = page.get_by_role("button", name="Ranks 2 and 3")
    guess.click()
    expect(answer).to_contain_text(
        "Not quite. Ranks 1 and 3: nDCG is 0.6480 now; ranks 1 and 3 make it 1.0000"
    )
    expect(guess).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Ranks 1 and 3").click()
    expect(answer).to_contain_text("Right. Ranks 1 and 3: ")
    wait_for(page, "Why a logarithm?", "#guide")
    page.get_by_role("link", name="Next: Ideal").click()
    wait_for(page, score(ndcg, predictions=[[4, 3, 2, 1]], references=[[0, 1, 2, 3]]))
    expect(answer).not_to_be_visible()
    page.get_by_role("link", name="6 Exponential gain").click()
    last = {"predictions": [[4, 3, 2, 1]], "references": [[2, 2, 1, 3]]}
    wait_for(page, score(ndcg, **last))
    page.locator(".formula select").select_option("exponential")
    wait_for(page, score(ndcg, **last, gain="exponential"))


def test_a_step_can_be_left_and_stays_true_when_cards_are_moved(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit("?step=ties&k=10")
    wait_for(page, score(ndcg, **TIED))
    card(page, "Honey cake recipe").locator(".grade i").first.click()
    wait_for(page, score(ndcg, **{**TIED, "references": [[3, 1, 1, 2, 0]]}))
    wait_for_address(page, "?step=ties&rel=3,1,1,2,0&ids=From+nectar+to+honey,Honey+cake+recipe,")
    wait_for_address(page, "&scores=9,5,5,5,1&k=10")
    first, second, *_ = order(page)
    card(page, first).locator(".grip").press("ArrowDown")
    expect(page.locator("#picture .order .document").first).to_have_text(second)
    come_to_rest(page)
    assert page.locator("#picture .order > li.tied .document").all_inner_texts() == [
        first,
        *order(page)[2:4],
    ]
    assert not [each for each in order(page) if each in page.inner_text("#guide")]


# --- Screens and readers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
def test_words_are_explained_at_their_place_and_titles_can_be_read_to_the_end(
    visit: Opener, width: int
) -> None:
    page = visit("?step=ties", width)
    wait_for(page, "share ranks 2 to 4", "#guide")
    expect(
        card(page, "Inside a beehive").locator(".at")
    ).to_be_visible()  # the tied score, also on a phone
    for word in ("Relevance", "Score", "retrieved"):
        expect(page.locator("#picture b", has_text=re.compile(f"^{word}$"))).to_be_visible()
    judged = page.locator("#picture .words b", has_text="Judged")
    expect(judged).to_have_count(0)  # of documents that are all judged there is nothing to say
    cut = "all => all.filter(each => each.scrollHeight > each.clientHeight + 1).map(each => each.innerText)"
    for step in ("gain", "discount", "ideal", "ties", "exponential", "missing"):
        page.locator(f"#guide ol [data-step={step}]").click()
        expect(page.locator("#guide [aria-current]")).to_have_attribute("data-step", step)
        come_to_rest(page)
        for where in (".document", ".ideal [data-term^=document]"):
            assert page.locator(f"#picture {where}").evaluate_all(cut) == [], step
    expect(judged).to_be_visible()


LONG = ",".join(f"clueweb22-en0000-04-{at:05d}-and-a-name-that-goes-on-and-on" for at in range(6))


@pytest.mark.parametrize("width", [1280, 390])
def test_long_ids_leave_the_ideal_and_every_number_in_sight(visit: Opener, width: int) -> None:
    page = visit(f"?rel=3,2,3,0,1,2&ids={LONG}", width)
    expect(page.locator("#picture .order .document").first).to_have_text(LONG.partition(",")[0])
    for each in page.locator("#picture .ideal .sum").all():
        number, around = each.locator("[data-term=ideal]").bounding_box(), each.bounding_box()
        assert number["x"] + number["width"] <= around["x"] + around["width"] + 1
        assert around["x"] + around["width"] <= width
    unfold(page, "Every number")
    page.wait_for_selector("#steps td")
    assert (
        page.locator("#steps .sheet").evaluate("each => each.scrollWidth - each.clientWidth") <= 0
    )
    right = "all => Math.max(...all.map(td => td.getBoundingClientRect().right))"
    assert page.eval_on_selector_all("#steps .sheet td", right) <= width
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_number_stays_in_sight_while_options_are_open(
    visit: Opener, width: int, height: int
) -> None:
    page = visit("", width)
    page.set_viewport_size({"width": width, "height": height})
    unfold(page, "Options")
    assert page.evaluate("scrollY") == 0
    expect(page.locator("#picture .value")).to_be_in_viewport(ratio=1)
    page.get_by_label("Not judged", exact=True).first.scroll_into_view_if_needed()
    expect(page.locator("#picture .value")).to_be_in_viewport(ratio=1)


def test_the_score_the_picture_and_every_step_are_on_the_first_screen_of_a_phone(
    visit: Opener,
) -> None:
    page = visit("", 390)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator("#picture .value").bounding_box()["y"] < 320
    last = page.locator("#picture .order > li").last.bounding_box()
    assert last["y"] + last["height"] < 844
    page.get_by_role("link", name="5 What is missing").click()
    wait_for_address(page, "?step=missing")
    for step in ("1 Gain", "5 What is missing", "6 Exponential gain"):
        expect(page.get_by_role("link", name=step)).to_be_in_viewport(ratio=0.99)
    assert page.evaluate("scrollY") == 0


def test_a_cutoff_that_is_none_leaves_the_picture_and_is_said_at_the_field(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    cutoff, fault = page.locator("#picture [data-option=k]"), page.locator("#picture .fault")
    for wrong in ("0", "1.5", "1e9", "-3"):
        cutoff.fill(wrong)
        cutoff.press("Tab")
        expect(fault).to_have_text(
            "k: write a whole number, at most 100,000, or leave k empty for all ranks"
        )
        expect(cutoff).to_have_attribute("aria-invalid", "true")
        come_to_rest(page)
        assert value(page) == score(ndcg)
    cutoff.fill("2e0")
    cutoff.press("Tab")
    wait_for(page, score(ndcg, k=2))
    expect(fault).to_be_hidden()
    choose(page, "Ideal", "full")
    cutoff.fill("")
    cutoff.press("Tab")
    expect(fault).to_have_text("k: write a whole number, at most 100,000")
    come_to_rest(page)
    assert value(page) == score(ndcg, k=2, ideal="full")


def test_screen_readers_hear_names_states_and_units(visit: Opener) -> None:
    page = visit(PLAIN)
    fold = page.get_by_role("button", name="Every number")
    expect(fold).to_have_attribute("aria-expanded", "false")
    fold.click()
    expect(fold).to_have_attribute("aria-expanded", "true")
    expect(card(page, "d1")).to_match_aria_snapshot("""
        - 'button "Move d1, rank 1: arrow keys"'
        - text: d1
        - 'button "d1: relevance 3 of 3; press for more"'
        - text: score 6 3 × 1.00 = 3.00
    """)
    open_tab(page, "Search runs")
    unfold(page, "Paste instead")
    for name in ("Qrels", "Runs", "Groups of queries.*"):
        button = page.get_by_role("button", name=re.compile(f"^{name}: Click to upload"))
        expect(button).to_be_visible()


def test_a_keyboard_is_enough(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    unfold(page, "Edit as a table")
    page.focus("#table [data-testid=cell-0-1]")
    for key in ("ArrowDown", "Enter", "Control+A", "0", "Enter"):
        page.keyboard.press(key)
    wait_for(page, score(ndcg, references=[[3, 0, 3, 0, 1, 2]]))
    page.get_by_role("tab", name="One ranking").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").strip() == "Batch":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#batch-score .value", state="visible")
