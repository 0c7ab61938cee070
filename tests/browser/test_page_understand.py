"""The place Understand in a browser: cards answer mouse, touch and keys, also on a slow line.

That the numbers are right is proven without a browser, in tests/page.
"""

import json
from typing import Any

import evaluate
import pytest

from .conftest import PLAIN, Opener, come_to_rest
from .visits import (
    BROWSER,
    TEXTBOOK,
    address,
    card,
    drag,
    expect,
    on_a_slow_line,
    order,
    pause,
    place_of,
    pull,
    score,
    shows,
    value,
    wait_for_address,
)

pytestmark = [*BROWSER, pytest.mark.xdist_group("understand")]


# --- The first screen -----------------------------------------------------------------------------


COUNTS = """
() => {
  const isSeen = element => {
    const { width, height, top, bottom } = element.getBoundingClientRect();
    return width && height && top < innerHeight && bottom > 0 && element.checkVisibility()
      && !element.closest(".unseen, [aria-hidden=true], option");
  };
  const controls = "a, button, input, select, textarea, summary, [role=slider]";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    if (text && isSeen(walker.currentNode.parentElement)) words += text.split(/\\s+/).length;
  }
  return [words, [...document.querySelectorAll(controls)].filter(isSeen).length];
}
"""


@pytest.mark.parametrize(("width", "height", "begins"), [(1280, 800, 260), (390, 844, 330)])
def test_the_first_screen_has_one_picture_few_words_and_few_controls(
    visit: Opener, width: int, height: int, begins: int
) -> None:
    page = visit("", width)
    page.set_viewport_size({"width": width, "height": height})
    words, controls = page.evaluate(COUNTS)
    assert words <= 120
    assert controls <= 12
    assert place_of(page.locator(".left > li").first)["y"] <= begins
    last = place_of(page.locator(".left > li").last)
    assert last["y"] + last["height"] < height
    for _ in range(5):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.card')"):
            break
    assert page.evaluate("document.activeElement.matches('.card')")
    assert page.evaluate("document.documentElement.scrollWidth") == width


OVERLAPS = """
() => {
  const parts = ".left :is(.rank, .card, .bar, .sum), .right :is(.bar, .grade, .sum), .orders h2";
  const boxes = [...document.querySelectorAll(parts)].filter(part => part.checkVisibility())
    .map(part => [part.className + part.textContent, part.getBoundingClientRect()]);
  const figure = document.querySelector(".figure").getBoundingClientRect(), faults = [];
  for (const [at, [name, one]] of boxes.entries()) {
    if (one.right > figure.right + 1 || one.left < figure.left - 1) faults.push(name + " is out");
    for (const [other, two] of boxes.slice(at + 1)) {
      const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (across > 1 && down > 3) faults.push(`${name} lies over ${other}`);
    }
  }
  for (const name of document.querySelectorAll(".left .name")) {
    if (name.scrollHeight > name.clientHeight + 1) faults.push(`${name.textContent} is cut`);
  }
  return faults;
}
"""


@pytest.mark.parametrize("ranking", ["", "?step=gain", "?step=ties", "?rel=3,,0.5&scores=2,2,1"])
def test_no_part_of_the_figure_lies_over_another_at_any_width(visit: Opener, ranking: str) -> None:
    page = visit(ranking)
    for width in (320, 360, 390, 600, 720, 768, 820, 1024, 1152, 1240, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(OVERLAPS) == [], width


def test_everything_can_be_read_without_scripts(
    browser: Any, server: Any, ndcg: evaluate.Metric
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url)
    first = score(ndcg, references=[[0, 3, 3, 2, 2, 1]])
    expect(page.locator(".figure .value")).to_have_text(first)
    page.get_by_role("link", name="Next: Gain").click()
    page.get_by_role("link", name="nDCG stays the same").click()
    expect(page.locator(".thread .answer")).to_contain_text("Right.")
    page.get_by_role("link", name="Compare").click()
    expect(page.locator(".verdict h2")).to_have_text("dense is better than bm25.")
    context.close()


def test_one_drag_solves_the_first_ranking_and_says_so(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit()
    titles = order(page)
    pull(page, "Honey cake recipe", "Bees and flowers")
    box = place_of(card(page, "Bees and flowers"))
    page.mouse.move(box["x"] + 40, box["y"] + 60, steps=3)
    shows(page, "1.000")  # while it is held
    expect(page.locator(".change")).to_have_text("+0.246")
    assert page.locator(".lines line.level").count() == 6
    page.mouse.up()
    wait_for_address(page, "?order=2,3,4,5,6,1*")
    expect(page.locator(".thread h2")).to_have_text("Solved")
    expect(page.locator(".left em")).to_have_text("moved")
    assert order(page) == [*titles[1:], titles[0]]
    again = visit(address(page))
    assert order(again) == [*titles[1:], titles[0]]
    page.bring_to_front()
    page.get_by_role("button", name="Undo").click()
    shows(page, score(ndcg, references=[[0, 3, 3, 2, 2, 1]]))
    assert order(page) == titles
    assert address(page) == ""


# --- Moving ---------------------------------------------------------------------------------------


NUMBERS = """
() => Object.fromEntries([
  ".value", ".dcg", ".ideal-sum", ".rank", ".discount", ".added",
].map(where =>
  [where, [...document.querySelectorAll(`.figure ${where}`)].map(part => part.textContent)]))
"""


@pytest.mark.parametrize("query", ["&scores=9,5,5,5,2,1", "&k=3", "&gain=exponential"])
def test_all_numbers_move_together_and_are_those_of_the_metric(visit: Opener, query: str) -> None:
    page = visit(PLAIN + query)
    pull(page, "d6", "d2")
    held = page.evaluate(NUMBERS)
    page.mouse.up()
    wait_for_address(page, "order=1,6*,2,3,4,5")
    come_to_rest(page)
    assert page.evaluate(NUMBERS) == held


def test_a_finger_drags_a_card_by_its_grip_and_taps_its_dots(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN, 390)
    touch = page.context.new_cdp_session(page)
    start = place_of(card(page, "d6").locator(".grip"))
    end = place_of(card(page, "d4"))
    points = (
        ("touchStart", start["y"] + 9),
        ("touchMove", end["y"] + 20),
        ("touchMove", end["y"] + 2),
    )
    for kind, y in points:
        point = {"x": start["x"] + 5, "y": y}
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    shows(page, score(ndcg, references=[[3, 2, 3, 2, 0, 1]]))


def test_keys_move_a_card_out_of_the_ranking_and_back(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    first = card(page, "d1")
    first.focus()
    page.keyboard.press("ArrowDown")
    shows(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(first).to_have_accessible_name("d1, rank 3, relevance 3 of 3")
    page.keyboard.press("Delete")
    missed = {"predictions": [[5, 4, 3, 2, 1, None]], "references": [[2, 3, 0, 1, 2, 3]]}
    shows(page, score(ndcg, **missed))
    expect(page.locator(".tray .name")).to_have_text(["d1"])
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    shows(page, score(ndcg, references=[[2, 3, 0, 1, 2, 3]]))
    page.keyboard.press("Home")
    shows(page, score(ndcg))


def test_keys_move_a_tied_card_within_its_tie_and_out_of_it(visit: Opener) -> None:
    page = visit("?step=ties")
    flowers = card(page, "Bees and flowers")
    for rank in ("2–4", "1"):
        flowers.press("ArrowUp")
        said = page.get_by_role("status").filter(has_text=f"Bees and flowers: rank {rank}")
        expect(said).to_have_count(1)
        come_to_rest(page)
        expect(flowers).to_have_accessible_name(f"Bees and flowers, rank {rank}, relevance 1 of 3")
    assert order(page)[:2] == ["Bees and flowers", "From nectar to honey"]


def test_a_document_of_the_example_that_is_deleted_keeps_the_focus(visit: Opener) -> None:
    page = visit()
    card(page, "Honey cake recipe").press("Delete")
    expect(page.locator(".tray .name")).to_have_text("Honey cake recipe")
    expect(card(page, "Honey cake recipe")).to_be_focused()
    come_to_rest(page)
    expect(card(page, "Honey cake recipe")).to_be_focused()


def test_escape_breaks_off_a_drag(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    before = order(page)
    pull(page, "d6", "d2")
    assert order(page) != before
    page.keyboard.press("Escape")
    shows(page, score(ndcg))
    page.mouse.up()
    come_to_rest(page)
    assert (order(page), address(page)) == (before, PLAIN)


def test_dots_and_digits_change_relevance(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    dots = card(page, "d4").locator(".grade i")
    for dot, relevance in ((3, 3), (1, 1), (2, 2), (2, 1), (1, 0)):  # once more is one less
        dots.nth(dot - 1).click()
        shows(page, score(ndcg, references=[[3, 2, 3, relevance, 1, 2]]))
    card(page, "d4").focus()
    for relevance in (1, 2, 3, 0):
        page.keyboard.press("Enter")
        shows(page, score(ndcg, references=[[3, 2, 3, relevance, 1, 2]]))
    page.keyboard.press("2")
    shows(page, score(ndcg, references=[[3, 2, 3, 2, 1, 2]]))


def test_a_label_is_pressed_for_the_next_one(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit("?rel=no,partly,yes&gain=yes=3,partly=1,no=0")
    given: dict[str, Any] = {"predictions": [[3, 2, 1]], "gain": {"yes": 3, "partly": 1, "no": 0}}
    card(page, "d2").locator(".grade").click()
    shows(page, score(ndcg, **given, references=[["no", "yes", "yes"]]))
    card(page, "d3").press("Enter")
    shows(page, score(ndcg, **given, references=[["no", "yes", "no"]]))


def test_the_cutoff_is_dragged_and_moved_by_keys(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    cut, third = page.get_by_role("slider", name="Cutoff"), place_of(card(page, "d3"))
    box = place_of(cut)
    page.mouse.move(box["x"] + 50, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 50, third["y"] + third["height"], steps=5)
    shows(page, score(ndcg, k=3))  # while it is held
    expect(page.locator(".measure span")).to_have_text("nDCG@3")
    expect(page.locator(".scale .of-worst")).to_be_hidden()  # that of another cutoff
    page.mouse.up()
    expect(page.locator(".scale .of-worst")).to_be_visible()
    wait_for_address(page, "k=3")
    come_to_rest(page)
    shows(page, score(ndcg, k=3))
    cut.focus()
    page.keyboard.press("ArrowUp")
    shows(page, score(ndcg, k=2))
    expect(cut).to_be_focused()
    expect(cut).to_have_attribute("aria-valuetext", "top 2")


def test_what_stands_for_one_document_lights_up_together(visit: Opener) -> None:
    page = visit(PLAIN)
    card(page, "d3").hover()
    assert page.locator("[data-at].lit").count() == 3  # the card, its place in the ideal, the line


# --- Options --------------------------------------------------------------------------------------


def test_options_are_changed_where_they_stand(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    page.locator("#settings > summary").click()
    page.get_by_label("gain,").select_option("exponential")
    shows(page, score(ndcg, gain="exponential"))
    expect(page.locator("#settings")).to_have_attribute("open", "")
    page.locator("select[name=convention]").select_option("lightgbm")
    shows(page, score(ndcg, convention="lightgbm"))
    wait_for_address(page, "convention=lightgbm")
    assert "gain=" not in address(page)
    page.locator("#more > summary").click()
    page.locator(".choices").get_by_role("link", name="all of the highest gain").click()
    shows(page, score(ndcg, convention="lightgbm", ideal="full"))
    cutoff = page.locator(".sentence input[name=k]")
    cutoff.fill("3")
    cutoff.press("Enter")
    shows(page, score(ndcg, k=3, convention="lightgbm", ideal="full"))


def test_a_cutoff_that_is_none_changes_nothing_and_is_said(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    page.locator("#settings > summary").click()
    cutoff = page.locator(".sentence input[name=k]")
    cutoff.fill("")
    cutoff.press("Tab")
    come_to_rest(page)
    expect(cutoff).to_have_value("10")
    assert page.locator(".note").count() == 0
    cutoff.fill("1.5")
    cutoff.press("Tab")
    expect(page.locator(".note")).to_contain_text("'1.5' is not a cutoff")
    assert value(page) == score(ndcg)


def test_a_pasted_ranking_and_a_papers_score_are_read(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    page.locator("#own > summary").click()
    page.locator("#paste").fill("3 2 3 0 1 2")
    page.get_by_role("button", name="Show this ranking").click()
    shows(page, score(ndcg))
    expect(page.locator(".figure")).to_be_focused()
    assert page.evaluate("scrollY") == 0
    page.locator("#paste").fill("a 1\nb 2 3")
    page.get_by_role("button", name="Show this ranking").click()
    expect(page.locator(".own .problem")).to_be_in_viewport()
    expect(page.locator("#paste")).to_have_value("a 1\nb 2 3")
    assert (value(page), address(page)) == (score(ndcg), PLAIN)
    page.get_by_label("A paper says").fill("0.9608")
    page.get_by_role("button", name="Whose score is it?").click()
    matches = ndcg.explain(**TEXTBOOK, k=10, got="0.9608").matches
    answer = page.locator(".libraries .answer")
    expect(answer).to_contain_text(f"{', '.join(matches)} give 0.9608.")
    page.locator("#paste").fill("d" * 5001)
    page.get_by_role("button", name="Show this ranking").click()
    assert page.locator("#paste:invalid").count() == 1
    page.locator("#paste").fill("3 2 3 -1 1 2")
    page.get_by_role("button", name="Show this ranking").click()
    page.get_by_role("link", name="Count it as 0").click()
    expect(page.locator(".figure")).to_be_focused()
    shows(page, score(ndcg))


# --- Back, and late answers -----------------------------------------------------------------------


def test_back_undoes_a_change_and_forward_makes_it_again_however_fast(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit(PLAIN)
    orders = {"": [3, 2, 3, 0, 1, 2], "order=2,1*,3": [2, 3, 3, 0, 1, 2]}
    orders["order=2,1*,3,5,4*"] = [2, 3, 3, 1, 0, 2]
    for document in ("d1", "d4"):
        pause(page)  # sooner changes belong to the same step
        card(page, document).press("ArrowDown")
    pause(page)
    with on_a_slow_line(page):
        at = 2
        for step in (-1, 1, -1, -1, 1, -1, 1):
            at += step
            page.evaluate("step => history.go(step)", step)
            wait_for_address(page, [*orders][at])
        shows(page, score(ndcg, references=[[*orders.values()][at]]))
    come_to_rest(page)
    page.keyboard.press("Control+z")
    shows(page, score(ndcg))
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()
    page.keyboard.press("Control+z")
    come_to_rest(page)
    assert address(page) == PLAIN


def test_on_a_slow_line_every_change_counts(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    with on_a_slow_line(page):
        for _ in range(3):
            card(page, "d1").press("ArrowDown")
        for document, relevance in (("d2", 3), ("d4", 1), ("d4", 2)):
            card(page, document).locator(".grade i").nth(relevance - 1).click()
        drag(page, "d6", "d5")
        assert order(page) == ["d2", "d3", "d4", "d1", "d6", "d5"]
        shows(page, score(ndcg, references=[[3, 3, 2, 3, 2, 1]]))
        come_to_rest(page)
        assert order(page) == ["d2", "d3", "d4", "d1", "d6", "d5"]
        assert value(page) == score(ndcg, references=[[3, 3, 2, 3, 2, 1]])


def test_an_answer_does_not_take_a_card_from_the_hand(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    with on_a_slow_line(page):
        for _ in range(2):
            card(page, "d1").press("ArrowDown")
        pull(page, "d6", "d4")
        come_to_rest(page)
        assert order(page) == ["d2", "d3", "d1", "d6", "d4", "d5"]
        page.mouse.up()
        shows(page, score(ndcg, references=[[2, 3, 3, 2, 0, 1]]))


def test_a_server_that_does_not_answer_is_said(
    visit: Opener, expected: list[str], ndcg: evaluate.Metric
) -> None:
    expected.append("Failed to load resource")
    page = visit(PLAIN)
    page.route("**/*order*", lambda route: route.abort())
    card(page, "d1").press("ArrowDown")
    expect(page.locator(".note")).to_contain_text("The server did not answer.")
    page.unroute_all()
    card(page, "d1").press("ArrowDown")
    shows(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))


def test_a_move_asks_the_server_once(visit: Opener) -> None:
    page = visit(PLAIN)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    drag(page, "d6", "d4")
    come_to_rest(page)
    assert len([address for address in asked if "static/" not in address]) == 1


# --- Steps ----------------------------------------------------------------------------------------


def test_a_step_asks_for_a_guess_and_is_tried_on_the_figure(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit("?step=ideal")
    shows(page, "?")
    page.get_by_role("link", name="Less than half").click()
    expect(page.locator(".thread .answer")).to_contain_text("Not quite: more than half.")
    worst = {"predictions": [[4, 3, 2, 1]], "references": [[0, 1, 2, 3]]}
    shows(page, score(ndcg, **worst))
    page.get_by_role("link", name="Next: Ties").click()
    expect(page.locator(".thread h2")).to_have_text("Ties")
    assert page.locator(".of-ties").count() == 0
    page.get_by_role("link", name="Yes, from 0.92 to 1").click()
    expect(page.locator(".of-ties")).to_be_visible()
    card(page, "Honey cake recipe").press("ArrowUp")
    expect(page.locator(".left .name").first).to_have_text("Honey cake recipe moved")
    expect(page.locator(".thread h2")).to_have_text("Ties")


def test_a_lesson_begins_with_nothing_to_undo_and_folded_settings(visit: Opener) -> None:
    page = visit()
    undo = page.get_by_role("button", name="Undo")
    card(page, "Honey cake recipe").press("End")
    expect(undo).to_be_visible()
    page.locator("#settings > summary").click()
    pause(page)
    page.get_by_role("link", name="Next: Gain").click()
    expect(page.locator(".thread h2")).to_have_text("Gain")
    expect(undo).to_be_hidden()
    assert page.locator("#settings[open]").count() == 0
    pause(page)
    page.get_by_role("link", name="nDCG doubles").click()
    expect(page.locator(".thread .answer.wrong")).to_be_visible()
    expect(undo).to_be_hidden()
    pause(page)
    card(page, "Honey cake recipe").press("End")
    expect(undo).to_be_visible()
    page.go_back()
    page.go_back()
    page.go_back()
    expect(page.locator(".thread h2")).to_have_text("Solved")
    expect(undo).to_be_visible()


def test_on_a_phone_the_answer_leaves_the_way_on_in_sight(visit: Opener) -> None:
    page = visit("?step=gain", 390)
    page.get_by_role("link", name="nDCG doubles").click()
    expect(page.locator(".thread .answer")).to_be_in_viewport()
    expect(page.get_by_role("link", name="Next: Discount")).to_be_in_viewport()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_card_dropped_on_the_last_one_becomes_the_last(visit: Opener, width: int) -> None:
    page = visit("", width)
    pull(page, "Honey cake recipe", "Bees and flowers")  # to just above the middle of it
    page.mouse.up()
    assert order(page)[-1] == "Honey cake recipe"
    shows(page, "1.000")
    drag(page, "Honey cake recipe", "From nectar to honey")
    assert order(page)[0] == "Honey cake recipe"


def test_undo_covers_and_moves_nothing(visit: Opener) -> None:
    page = visit("", 390)
    top = place_of(page.locator(".left > li").first)["y"]
    card(page, "Honey cake recipe").press("ArrowDown")
    come_to_rest(page)
    assert place_of(page.locator(".left > li").first)["y"] == top
    undo = place_of(page.get_by_role("button", name="Undo"))
    for part in (".query b", ".measure", ".yours span", ".scale > .axis"):
        other = place_of(page.locator(part))
        is_right = undo["x"] >= other["x"] + other["width"]
        assert is_right or undo["y"] + undo["height"] <= other["y"], part


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "ranking",
    ["?step=missing", "", "?rel=0,1,0,1,1,0,0,2", "?rel=1,0,0,0,0,0,0,0,0,0&k=1", "?rel=3,3,2,3,3"],
)
def test_no_label_of_the_scale_lies_over_a_tick_or_a_label(
    visit: Opener, ranking: str, width: int
) -> None:
    page = visit(ranking, width)
    labels = ".scale .label, .scale .zero span, .scale .ideal span"
    boxes = [label.bounding_box() for label in page.locator(labels).all()]
    ticks = [tick.bounding_box() for tick in page.locator(".scale .mark:not(.yours)").all()]
    assert (len(boxes), len(ticks)) == (4, 4)
    for place, one in enumerate(boxes):
        assert one["x"] + one["width"] <= width
        for other in [*boxes[place + 1 :], *ticks]:
            is_beside = (
                one["x"] + one["width"] <= other["x"] + 2
                or other["x"] + other["width"] <= one["x"] + 2
            )
            is_above = one["y"] + one["height"] <= other["y"] + 1
            is_below = other["y"] + other["height"] <= one["y"] + 1
            assert is_beside or is_above or is_below, (one, other)


def test_a_folded_ranking_is_moved_as_a_whole(visit: Opener, ndcg: evaluate.Metric) -> None:
    relevance = [2, *[0] * 23, 1, 0, 0, 0, 1, 0]
    page = visit(f"?rel={','.join(map(str, relevance))}&k=5")
    assert page.locator(".left > li:visible").count() == 7
    drag(page, "d29", "d3")
    moved = [2, 0, 1, *[0] * 22, 1, *[0] * 4]
    shows(page, score(ndcg, k=5, predictions=[[*range(30, 0, -1)]], references=[moved]))
    wait_for_address(page, "order=1,2,29*,3,4")
    come_to_rest(page)
    assert page.locator(".left > li:visible").count() == 6
    lines = "all => all.map(line => Number(line.getAttribute('y1')))"
    assert max(page.eval_on_selector_all(".lines line:not([hidden])", lines)) < 6
    page.get_by_role("link", name="show").click()
    expect(page.locator(".left > li:visible")).to_have_count(30)


LONG = ",".join(f"clueweb22-en0000-04-{at:05d}-and-a-name-that-goes-on-and-on" for at in range(6))


@pytest.mark.parametrize("width", [1280, 390])
def test_long_ids_leave_every_number_in_sight(visit: Opener, width: int) -> None:
    page = visit(f"?rel=3,2,3,0,1,2&ids={LONG}", width)
    page.locator("#numbers > summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    right = "all => Math.max(...all.map(part => part.getBoundingClientRect().right))"
    assert page.eval_on_selector_all(".figure :is(.bar, .sum, .grade, .value)", right) <= width


def test_screen_readers_hear_names_ranks_and_changes(visit: Opener) -> None:
    page = visit(PLAIN)
    expect(card(page, "d1")).to_have_accessible_name("d1, rank 1, relevance 3 of 3")
    described = "Arrow keys move the document, Home and End to either end"
    assert described in page.inner_text("#keys")
    card(page, "d1").press("ArrowDown")
    expect(page.get_by_role("status").filter(has_text="d1: rank 2")).to_have_count(1)
    live = json.loads(page.get_attribute(".figure", "data-live"))
    assert live["base"] == [0, 1, 2, 3, 4, 5]
