"""The tab of a ranking: its score, its picture, its cards, its options and its steps."""

import json
import math
import re
import time
from typing import Any

import evaluate
import numpy as np
import pytest

from page.choices import CHOICES, LABELS, WORDS
from page.contributions import Ranking, place_discounts, steps

from .conftest import PLAIN, Opener, come_to_rest
from .visits import (
    BROWSER,
    TEXTBOOK,
    address,
    card,
    cells,
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
CHOSEN = {LABELS[name]: [WORDS.get((name, each), each) for each in choices] for name, choices in CHOICES.items()}


def test_each_choice_of_an_option_is_answered_before_any_tab_is_opened(visit: Opener) -> None:
    page = visit()
    for label, choices in [*CHOSEN.items(), ("Convention", ["trec_eval", "custom"])]:
        for each in reversed(choices):
            choose(page, label, each)
            come_to_rest(page)
            expect(page.get_by_label(label, exact=True).first).to_have_value(each)


def test_a_pasted_text_that_is_not_a_ranking_is_answered_below_it(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    unfold(page, "take an example")
    page.locator("#paste textarea").fill("q1 0 a 1\nq2 0 b 1")
    wait_for(page, "These lines are of 2 queries, such as q1 and q2.", "#unread")
    assert value(page) == score(ndcg)  # of the ranking that was there
    page.locator("#paste textarea").fill("0 1")
    wait_for(page, score(ndcg, predictions=[[2, 1]], references=[[0, 1]]))
    expect(page.locator("#unread .error")).to_have_count(0)


def test_the_page_opens_with_an_example_scored(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    assert value(page) == score(ndcg)
    unfold(page, "Every number")
    page.wait_for_selector("#steps td")
    *steps, sums = [row for row in cells(page, "#steps") if len(row) == 8]
    exact = ndcg.compute(**TEXTBOOK, k=10, measures=["DCG", "IDCG"])
    assert [float(sums[at]) for at in (5, 6)] == pytest.approx(list(exact.values()), abs=5e-5)
    assert [row[:3] for row in steps[:2]] == [["1", "From nectar to honey", "3"], ["2", "Inside a beehive", "2"]]
    assert sum(float(row[5]) for row in steps) == pytest.approx(exact["DCG@10"], abs=3e-4)
    unfold(page, "Use it in code")
    expect(page.locator("#signature textarea, #signature input")).to_have_value(ndcg.signature(k=10))


EXAMPLES: list[tuple[str, list[int], list[Any], str]] = [
    ("Perfect", [3, 2, 1, 0], [4, 3, 2, 1], "No swap helps."),
    ("Reversed", [0, 1, 2, 3], [4, 3, 2, 1], "swap d1 and d4"),
    ("All tied", [3, 2, 1, 0], [1, 1, 1, 1], "anything from 0.6138 to 1.0000"),
    ("No relevant documents", [0, 0, 0], [3, 2, 1], "No relevant document was judged"),
    (
        "Relevant documents not retrieved",
        [3, 2, 3, 0, 1, 2, 3, 2],
        [6, 5, 4, 3, 2, 1, None, None],
        "retrieve d7 at rank 1",
    ),
]


def test_every_example_scores_as_the_metric_says(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    for name, relevance, scores, said in EXAMPLES:
        choose(page, "Examples", name)
        wait_for(page, score(ndcg, predictions=[scores], references=[relevance]))
        wait_for(page, said)


def test_columns_of_the_table_stay_as_they_are(visit: Opener) -> None:
    page = visit()
    unfold(page, "Edit as a table")
    page.click("#table [data-testid=cell-0-1]", button="right")
    page.wait_for_selector("[role=menuitem][aria-label='Delete row']")
    assert page.locator("[role=menuitem][aria-label*=olumn]").count() == 0
    page.keyboard.press("Escape")


def test_an_edited_cell_updates_the_number_and_a_bad_one_clears_it(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    unfold(page, "Every number")
    unfold(page, "Use it in code")
    edit(page, 3, 1, "3")
    wait_for(page, score(ndcg, references=[[3, 2, 3, 3, 1, 2]]))
    edit(page, 3, 1, "many")
    wait_for(page, "Row 4: relevance 'many' is not a number; leave it empty if it was not judged.")
    expect(page.locator("#picture .value")).to_have_count(0)
    expect(page.locator("#steps td")).to_have_count(0)
    expect(page.locator("#signature textarea, #signature input")).to_have_value("")
    edit(page, 3, 1, "")
    wait_for(page, score(ndcg, references=[[3, 2, 3, None, 1, 2]]))


def test_documents_are_added_and_removed(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    unfold(page, "Edit as a table")
    page.get_by_role("button", name="Remove").click()
    wait_for(page, score(ndcg, predictions=[[5, 4, 3, 2, 1]], references=[[2, 3, 0, 1, 2]]))
    page.get_by_role("button", name="Add").click()
    edit(page, 5, 1, "3")
    wait_for(page, score(ndcg, predictions=[[5, 4, 3, 2, 1, None]], references=[[2, 3, 0, 1, 2, 3]]))


def test_cells_pasted_from_a_spreadsheet_are_scored(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    unfold(page, "take an example")
    page.locator("#paste textarea").fill("id\trelevance\tscore\na\t1\t0.2\nb\t0\t0.9\nc\t2\t0.5")
    wait_for(page, score(ndcg, predictions=[[0.2, 0.9, 0.5]], references=[[1, 0, 2]]))
    assert page.locator("#picture .order .document").all_inner_texts() == ["b", "c", "a"]
    page.locator("#paste textarea").fill("query-id\tcorpus-id\tscore\nq\ta\t0\nq\tb\t2")  # one of BEIR's queries
    wait_for(page, score(ndcg, predictions=[[2, 1]], references=[[0, 2]]))


def test_a_card_that_is_dragged_is_scored_by_its_new_rank(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    drag(page, "d6", "d4")
    wait_for(page, score(ndcg, references=[[3, 2, 3, 2, 0, 1]]))
    shown = page.locator("#picture .order .document").all_inner_texts()
    assert shown == ["d1", "d2", "d3", "d6", "d4", "d5"]
    drag(page, "d1", "d3")
    wait_for(page, score(ndcg, references=[[2, 3, 3, 2, 0, 1]]))


def test_while_a_card_is_held_the_sums_are_those_of_its_rank_and_the_ideal_stays(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    ideal = page.inner_text("#picture .best")
    pull(page, "d3", "d2")
    held = [page.inner_text("#picture .score .value"), page.locator("#picture .order .sum").all_inner_texts()]
    assert held[0] == score(ndcg, references=[[3, 3, 2, 0, 1, 2]])
    change = float(held[0]) - float(score(ndcg))
    shown, was = page.inner_text("#picture .change").split(" from ")
    assert float(shown) == pytest.approx(change, abs=2e-4)
    assert was == score(ndcg)
    page.mouse.up()
    wait_for_address(page, "?rel=3,3,2,0,1,2&ids=d1,d3,d2,d4,d5,d6&k=10")
    come_to_rest(page)
    assert [page.inner_text("#picture .score .value"), page.locator("#picture .order .sum").all_inner_texts()] == held
    assert page.inner_text("#picture .best") == ideal
    expect(page.locator("#picture .change")).to_be_empty()


def test_the_sums_of_the_browser_are_those_of_the_metric_in_1000_rankings(visit: Opener, ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(0)
    page = visit()
    given, expected = [], []
    for at in range(1000):
        size = int(rng.integers(2, 9))
        ranking = Ranking([f"d{d}" for d in range(size)], rng.integers(0, 4, size).tolist(), [0.0] * size)
        ranking.relevance[0] = 3
        scores = rng.integers(0, 5 if at % 2 else 1000, size)  # half of them with ties
        ranking = ranking._replace(score=np.sort(scores)[::-1].astype(float).tolist())
        options = {"k": [int(rng.integers(1, 10))], "ideal": "judged", "judged_only": False, "ties": "average"}
        ranks = steps(ranking, options, options["k"][0])
        moved = ranking.reordered([ranking.documents[each] for each in rng.permutation(size)], [])
        gains = dict(zip(ranks["document"], ranks["gain"], strict=True))
        sums = {"discounts": place_discounts(ranks, options, options["k"][0]), "ideal": ranks["ideal"].sum(), "rest": 0}
        given.append([[gains[document] for document in moved.documents], sums])
        expected += ndcg.compute(**moved.inputs, k=options["k"][0], ties="average").values()
    summed = page.evaluate("given => given.map(([gains, sums]) => sumsOf(gains, sums).score)", given)
    assert summed == pytest.approx(expected)


def test_on_a_slow_line_every_change_counts(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
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


def test_an_answer_does_not_take_a_card_from_the_hand(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    with on_a_slow_line(page):
        for _ in range(2):
            card(page, "d1").locator(".grip").press("ArrowDown")
        pull(page, "d6", "d4")
        wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
        assert order(page) == ["d2", "d3", "d1", "d6", "d4", "d5"]
        page.mouse.up()
        wait_for(page, score(ndcg, references=[[2, 3, 3, 2, 0, 1]]))
        wait_for_address(page, "?rel=2,3,3,2,0,1&ids=d2,d3,d1,d6,d4,d5&k=10")


def test_a_card_in_the_hand_outlasts_an_answer_that_was_overtaken(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
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


def test_each_dot_sets_its_own_relevance_and_once_more_one_less(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    grade = card(page, "d4").locator(".grade")
    for dot, relevance in ((3, 3), (1, 1), (2, 2), (2, 1), (1, 0)):
        grade.locator("i").nth(dot - 1).click()
        expect(grade).to_have_attribute("aria-label", f"d4: relevance {relevance} of 3; press for more")
        wait_for(page, score(ndcg, references=[[3, 2, 3, relevance, 1, 2]]))
    for relevance in (1, 2, 3, 0):
        grade.press("Enter")
        expect(grade).to_have_attribute("aria-label", f"d4: relevance {relevance} of 3; press for more")


def test_a_decimal_comma_is_understood(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    edit(page, 0, 2, "0,95")
    wait_for(page, score(ndcg, predictions=[[0.95, 5, 4, 3, 2, 1]]))


def test_the_step_of_ties_names_no_card_and_stays_true_when_cards_are_moved(visit: Opener) -> None:
    page = visit("?step=ties&k=10")
    wait_for(page, "share ranks 2 to 4", "#guide")
    expect(page.locator("#picture .order > li.tied")).to_have_count(3)
    first, second, *_ = order(page)
    card(page, first).locator(".grip").press("ArrowDown")
    expect(page.locator("#picture .order .document").first).to_have_text(second)
    come_to_rest(page)
    assert page.locator("#picture .order > li.tied .document").all_inner_texts() == [first, *order(page)[2:4]]
    assert not [each for each in order(page) if each in page.inner_text("#guide")]


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_number_stays_in_sight_while_options_are_open(visit: Opener, width: int, height: int) -> None:
    page = visit("", width)
    page.set_viewport_size({"width": width, "height": height})
    unfold(page, "Options")
    assert page.evaluate("scrollY") == 0
    expect(page.locator("#picture .value")).to_be_in_viewport(ratio=1)
    page.get_by_label("Not judged", exact=True).first.scroll_into_view_if_needed()
    expect(page.locator("#picture .value")).to_be_in_viewport(ratio=1)


def test_gain_and_cutoff_are_chosen_next_to_the_formula(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    gain, k = page.locator(".formula select"), page.locator(".formula input")
    gain.select_option("exponential")
    wait_for(page, score(ndcg, gain="exponential"))
    k.fill("3")
    k.press("Tab")
    wait_for(page, score(ndcg, k=3, gain="exponential"))
    wait_for_address(page, "k=3&gain=exponential")
    choose(page, "Gain", "linear")
    wait_for(page, score(ndcg, k=3))
    expect(gain).to_have_value("linear")
    k.fill("")
    k.press("Tab")
    expect(page.locator("#picture .score .name")).to_have_text("nDCG")


def test_the_effect_of_each_option_is_shown_with_its_ranking(visit: Opener) -> None:
    page = visit()
    unfold(page, "What each option changes here")
    wait_for(page, "What each option changes here, in this one ranking", "#what-changes")
    open_tab(page, "Batch")
    expect(page.locator("#what-changes")).not_to_be_visible()


LONG = ",".join(f"clueweb22-en0000-04-{at:05d}-and-a-name-that-goes-on-and-on" for at in range(6))


@pytest.mark.parametrize("width", [1280, 390])
def test_long_ids_leave_the_ideal_in_sight(visit: Opener, width: int) -> None:
    page = visit(f"?rel=3,2,3,0,1,2&ids={LONG}", width)
    expect(page.locator("#picture .order .document").first).to_have_text(LONG.partition(",")[0])
    for each in page.locator("#picture .ideal .sum").all():
        number, around = each.locator("[data-term=ideal]").bounding_box(), each.bounding_box()
        assert number["x"] + number["width"] <= around["x"] + around["width"] + 1
        assert around["x"] + around["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_every_number_fits_a_phone(visit: Opener) -> None:
    page = visit(f"?rel=3,2,3,0,1,2&ids={LONG}", 390)
    expect(page.locator("#picture .order .document").first).to_have_text(LONG.partition(",")[0])
    unfold(page, "Every number")
    page.wait_for_selector("#steps td")
    sheet = page.locator("#steps .sheet")
    assert sheet.evaluate("each => each.scrollWidth - each.clientWidth") <= 0
    right = sheet.evaluate(
        "each => Math.max(...[...each.querySelectorAll('td')].map(td => td.getBoundingClientRect().right))"
    )
    assert right <= 390


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
    for name in ("Qrels", "Runs"):
        expect(page.get_by_role("button", name=f"{name}: Click to upload or drop files")).to_be_visible()
    unfold(page, "Paste instead")
    expect(page.get_by_role("button", name=re.compile("^Groups of queries.*: Click to upload"))).to_be_visible()


def test_a_convention_changes_many_fields_and_asks_for_each_answer_once(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
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


def test_on_a_slow_line_the_last_of_two_steps_opens(visit: Opener) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    with on_a_slow_line(page):
        for name in ("gain", "ties"):
            page.click(f"#guide [data-step={name}]")
        wait_for_address(page, "?step=ties")
        come_to_rest(page)
        assert address(page).startswith("?step=ties")


def test_a_finger_drags_a_card_by_its_grip(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN, 390)
    touch = page.context.new_cdp_session(page)
    start, end = card(page, "d6").locator(".grip").bounding_box(), card(page, "d4").bounding_box()
    for kind, y in (("touchStart", start["y"] + 9), ("touchMove", end["y"] + 30), ("touchMove", end["y"] + 2)):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": start["x"] + 9, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wait_for(page, score(ndcg, references=[[3, 2, 3, 2, 0, 1]]))


def test_keys_move_a_card_out_of_the_ranking_and_back(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    card(page, "d1").locator(".grip").focus()
    page.keyboard.press("ArrowDown")
    wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
    expect(card(page, "d1").locator(".grip")).to_be_focused()
    page.keyboard.press("ArrowDown")
    wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
    expect(card(page, "d1").locator(".grip")).to_have_attribute("aria-label", "Move d1, rank 3: arrow keys")
    page.keyboard.press("Delete")
    wait_for(page, score(ndcg, predictions=[[5, 4, 3, 2, 1, None]], references=[[2, 3, 0, 1, 2, 3]]))
    expect(page.locator("#picture .tray .document")).to_have_text(["d1"])
    page.keyboard.press("ArrowUp")
    wait_for(page, score(ndcg, references=[[2, 3, 0, 1, 2, 3]]))


def test_the_advice_does_what_it_says(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    swapped = ndcg.compute(predictions=[[6, 5, 4, 3, 2, 1]], references=[[3, 2, 3, 2, 1, 0]], k=10)["nDCG@10"]
    gained = swapped - ndcg.compute(**TEXTBOOK, k=10)["nDCG@10"]
    expect(page.locator("#picture .adds")).to_have_text(f"+{gained:.4f}")
    page.get_by_role("button", name="swap d4 and d6").click()
    wait_for(page, f"{swapped:.4f}")


def test_each_press_of_the_advice_adds_what_it_says_until_no_swap_helps(visit: Opener) -> None:
    page = visit("?rel=1,3,2&scores=5,5,5&ties=first&k=10")
    expect(page.locator("#picture .order > li")).to_have_count(3)
    come_to_rest(page)
    presses = 0
    while page.locator("#picture .advice").count():
        promised = float(value(page)) + float(page.inner_text("#picture .adds"))
        before = page.inner_html("#picture .picture")
        page.click("#picture .advice")
        page.wait_for_function("before => document.querySelector('#picture .picture').innerHTML !== before", arg=before)
        come_to_rest(page)
        assert float(value(page)) == pytest.approx(promised, abs=2e-4)
        presses += 1
        assert presses < 4
    wait_for(page, "No swap helps")
    assert value(page) == "1.0000"


def test_the_quotient_is_of_the_measures_at_the_largest_cutoff(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit("?k=1,3")
    wait_for(page, "nDCG@3")
    assert value(page) == score(ndcg, k=3)
    sums = ndcg.compute(**TEXTBOOK, k=3, measures=["DCG", "IDCG"]).values()
    assert page.locator("#picture .part b").all_inner_texts() == [f"{each:.4f}" for each in sums]
    expect(page.locator("#picture .others")).to_have_text(f"nDCG@1 {score(ndcg, k=1)}")
    unfold(page, "Every number")
    page.wait_for_selector("#steps td")
    discounts = [float(row[4]) for row in cells(page, "#steps") if len(row) == 8 and row[4]]
    assert discounts == pytest.approx([1 / math.log2(rank + 1) for rank in (1, 2, 3)] + [0, 0, 0], abs=5e-5)


def test_parts_of_the_picture_light_each_other_up(visit: Opener) -> None:
    page = visit(PLAIN)
    page.hover("#picture .formula [data-term=discount]")
    expect(page.locator("#picture .sum .lit")).to_have_count(6)
    card(page, "d3").locator(".card").hover()
    expect(page.locator("#picture .ideal .lit")).to_have_text("d3")


def test_the_score_and_the_picture_are_on_the_first_screen_of_a_phone(visit: Opener) -> None:
    page = visit("", 390)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator("#picture .value").bounding_box()["y"] < 320
    last = page.locator("#picture .order > li").last.bounding_box()
    assert last["y"] + last["height"] < 844


def test_a_keyboard_is_enough(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    unfold(page, "Edit as a table")
    page.focus("#table [data-testid=cell-0-1]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type("0")
    page.keyboard.press("Enter")
    wait_for(page, score(ndcg, references=[[3, 0, 3, 0, 1, 2]]))
    page.get_by_role("tab", name="One ranking").focus()
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").strip() == "Batch":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#batch-score .value", state="visible")


def test_a_convention_sets_the_options_and_a_changed_option_makes_it_custom(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit()
    page.get_by_role("button", name="Options").click()
    choose(page, "Convention", "lightgbm")
    wait_for(page, score(ndcg, convention="lightgbm"))
    expect(page.get_by_label("Gain", exact=True).first).to_have_value("exponential")
    wait_for(page, "− 1", "#picture .formula")  # of the gain 2^r - 1
    choose(page, "Gain", "binary")
    wait_for(page, score(ndcg, convention="lightgbm", gain="binary"))
    expect(page.get_by_label("Convention", exact=True).first).to_have_value("custom")
    unfold(page, "Use it in code")
    expect(page.locator("#code textarea")).to_have_value(re.compile("gain='binary'"))
    field(page, "Cutoffs").fill("1, 3,none")
    wait_for(page, "nDCG@3")
    field(page, "Cutoffs").fill("0")
    wait_for(page, "k: '0' is not a cutoff: write whole numbers from 1")


def test_the_page_comes_to_rest_after_a_choice(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    for name in ("trec_eval", "lightgbm"):
        choose(page, "Convention", name)
        wait_for(page, score(ndcg, convention=name))
        come_to_rest(page)
    assert 10 < len(asked) < 80


def test_the_code_that_is_shown_computes_the_number(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit("?k=3&convention=rax&log_base=10")
    unfold(page, "Use it in code")
    page.wait_for_selector("#code textarea")
    page.wait_for_function("document.querySelector('#code textarea').value.includes('k=3')")
    code = page.input_value("#code textarea").replace("import evaluate", "")
    lines = [line for line in code.splitlines() if not line.startswith("ndcg =")]
    wait_for(page, "nDCG@3")
    result = eval(compile("\n".join(lines).strip(), "code", "eval"), {"ndcg": ndcg})
    assert f"{result['nDCG@3']:.4f}" == value(page)


def test_each_step_asks_for_a_guess_and_leads_to_the_next(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit("?step=discount")
    wait_for(page, "Guess first: Which swap wins more?", "#guide")
    answer = page.locator("#guide .answer")
    expect(answer).not_to_be_visible()
    guess = page.get_by_role("button", name="Ranks 2 and 3")
    guess.click()
    expect(answer).to_contain_text("Ranks 1 and 3: nDCG is 0.6480 now; ranks 1 and 3 make it 1.0000")
    expect(guess).to_have_attribute("aria-pressed", "true")
    wait_for(page, "Why a logarithm?", "#guide")
    page.get_by_role("link", name="Next: Ideal").click()
    wait_for(page, score(ndcg, predictions=[[4, 3, 2, 1]], references=[[0, 1, 2, 3]]))
    expect(answer).not_to_be_visible()
    page.get_by_role("link", name="6 Exponential gain").click()
    last = {"predictions": [[4, 3, 2, 1]], "references": [[2, 2, 1, 3]]}
    wait_for(page, score(ndcg, **last))
    page.locator(".formula select").select_option("exponential")
    wait_for(page, score(ndcg, **last, gain="exponential"))


def test_the_curve_of_the_discount_crosses_the_bars_and_stays_with_its_ranks(visit: Opener) -> None:
    page = visit(PLAIN)
    at = "all => all.map(each => Number(each.getAttribute('points').split(' ')[1].split(',')[0]) / 100)"
    expected = [1 / math.log2(rank + 1) for rank in range(1, 7)]
    curve = page.locator("#picture .order polyline")
    assert curve.evaluate_all(at) == pytest.approx(expected, abs=1e-3)
    pull(page, "d6", "d2")
    assert curve.evaluate_all(at) == pytest.approx(expected, abs=1e-3)
    page.mouse.up()
    wait_for_address(page, "ids=d1,d6,d2,")


@pytest.mark.parametrize("width", [1280, 390])
def test_words_are_explained_at_their_place_and_tied_scores_show_on_a_phone(visit: Opener, width: int) -> None:
    page = visit("?step=ties", width)
    wait_for(page, "share ranks 2 to 4", "#guide")
    expect(card(page, "Inside a beehive").locator(".at")).to_be_visible()
    for word in ("Relevance", "Score", "retrieved"):
        expect(page.locator("#picture b", has_text=re.compile(f"^{word}$"))).to_be_visible()
    judged = page.locator("#picture .words b", has_text="Judged")
    expect(judged).to_have_count(0)  # of documents that are all judged there is nothing to say
    page.get_by_role("link", name="What is missing").first.click()
    expect(judged).to_be_visible()


def test_the_page_opens_with_a_search_for_documents_with_titles(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
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


@pytest.mark.parametrize("step", ["gain", "discount", "ideal", "ties", "missing", "exponential"])
def test_titles_can_be_read_to_the_end(visit: Opener, step: str) -> None:
    page = visit(f"?step={step}")
    expect(page.locator("#guide [aria-current]")).to_have_attribute("data-step", step)
    cut = "all => all.filter(each => each.scrollHeight > each.clientHeight + 1).map(each => each.innerText)"
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        come_to_rest(page)
        for where in (".document", ".ideal [data-term^=document]"):
            assert page.locator(f"#picture {where}").evaluate_all(cut) == []


def test_values_of_the_sentence_are_dragged(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
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


def test_a_card_that_is_held_stays_under_the_pointer(visit: Opener) -> None:
    page = visit(PLAIN)
    held = card(page, "d6").locator(".card")
    start = held.bounding_box()
    page.mouse.move(start["x"] + 60, start["y"] + 8)
    page.mouse.down()
    for up in (13, 55, 120):  # rows are 45 high
        page.mouse.move(start["x"] + 60, start["y"] + 8 - up)
        assert held.bounding_box()["y"] == pytest.approx(start["y"] - up, abs=1)
    page.mouse.up()
    wait_for_address(page, "ids=d1,d2,d3,d6,d4,d5")
    come_to_rest(page)
    assert page.locator("#picture [style*=transform]").count() == 0


NOTE_MOVES = """() => {
  window.moved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, ...how) {
    if (this.matches(".order > li")) window.moved.push(this.dataset.document);
    return animate.call(this, frames, ...how);
  };
}
"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_cards_move_to_their_ranks_whatever_moves_them(visit: Opener, motion: str) -> None:
    page = visit(PLAIN)
    page.emulate_media(reduced_motion=motion)
    page.evaluate(NOTE_MOVES)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    time.sleep(1.1)  # sooner changes belong to the same step

    def moved() -> set[str]:
        come_to_rest(page)
        names = set(page.evaluate("() => window.moved.splice(0)"))
        return names if motion == "no-preference" else names | {"still"}

    card(page, "d1").locator(".grip").press("ArrowDown")
    expected = {"d1", "d2"} if motion == "no-preference" else {"still"}
    assert moved() == expected
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#picture .order .document").first).to_have_text("d1")
    assert moved() == expected
    page.emulate_media(reduced_motion="no-preference")


def test_every_step_is_in_sight_on_a_phone(visit: Opener) -> None:
    page = visit("?step=missing", 390)
    for step in ("1 Gain", "5 What is missing", "6 Exponential gain"):
        expect(page.get_by_role("link", name=step)).to_be_in_viewport(ratio=0.99)
    assert page.evaluate("scrollY") == 0


def test_a_step_can_be_left(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit("?step=ties&k=10")
    tied = {"predictions": [[9, 5, 5, 5, 1]], "references": [[3, 0, 1, 2, 0]]}
    wait_for(page, score(ndcg, **tied))
    card(page, "Honey cake recipe").locator(".grade i").first.click()
    wait_for(page, score(ndcg, **{**tied, "references": [[3, 1, 1, 2, 0]]}))
    wait_for_address(page, "?step=ties&rel=3,1,1,2,0&ids=From+nectar+to+honey,Honey+cake+recipe,")
    wait_for_address(page, "&scores=9,5,5,5,1&k=10")
