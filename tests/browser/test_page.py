"""The page as people and programs use it: a real server, a real browser, real clients; each number from the metric."""

import asyncio
import csv
import gzip
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest
from conftest import ROOT, lean_environment
from reference import NUMBERS

from page.choices import CHOICES, LABELS, WORDS
from page.contributions import Ranking, place_discounts, steps

playwright = pytest.importorskip("playwright.sync_api", reason="make check installs Playwright")
expect = playwright.expect

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.filterwarnings("ignore"),  # of clients and event loops that are not ours
]
CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120_000  # milliseconds
expect.set_options(timeout=PATIENCE)
TEXTBOOK = {"predictions": [[6, 5, 4, 3, 2, 1]], "references": [[3, 2, 3, 0, 1, 2]]}
PLAIN = "?rel=3,2,3,0,1,2"  # the same relevance, of documents d1 to d6
EVIL = "<img/src=x/onerror=alert(1)>"
QRELS = f"q1 0 d1 2\nq1 0 d2 0\nq1 0 d9 1\nq2 0 {EVIL} 1\nq3 0 d1 1\nq3 0 d2 0\n"
RUNS = {
    "bm25": f"q1 Q0 d1 1 1 t\nq1 Q0 d2 2 1 t\nq1 Q0 d5 3 0.5 t\nq2 Q0 {EVIL} 2 1 t\nq2 Q0 d3 1 2 t\nq3 Q0 d1 1 3 t\n",
    "dense": "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d3 1 2 t\nq4 Q0 d1 1 3 t\n",
}


class Server:
    """The app of the tree that `make space` builds, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "app.log"
        environment = lean_environment(
            GRADIO_SERVER_NAME="127.0.0.1", GRADIO_TEMP_DIR=str(folder / "gradio"), PYTHONUNBUFFERED="1"
        )
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py"], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", self.log.read_text())):  # Gradio looks for a port
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        self.url = found[0] + "/"

    @property
    def memory(self) -> int:
        """Resident bytes of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    copy = tmp_path_factory.mktemp("space") / "project"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "tests"))
    subprocess.run(["make", "space", "NAME=nDCG"], cwd=copy, check=True, capture_output=True)
    running = Server(copy / "dist" / "space")
    yield running
    running.process.kill()
    running.process.wait()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


Opener = Callable[..., Any]
# each notice that the page pops up becomes an error of the console
NOTICES = """
new MutationObserver(() => {
  for (const each of document.querySelectorAll(".toast-body:not([data-noted])")) {
    each.dataset.noted = "";
    console.error(`notice: ${each.innerText}`);
  }
}).observe(document, { childList: true, subtree: true });
"""


class Tabs:
    """Tabs of the browser, used again: a page loads in half the time where it was loaded before."""

    def __init__(self, browser: Any, url: str) -> None:
        self.browser, self.url = browser, url
        self.contexts: dict[tuple[int, str], Any] = {}
        self.elsewhere: list[str] = []
        self.problems: list[str] = []

    def all(self, width: int, scheme: str) -> Iterator[Any]:
        """The tabs of this width and scheme, and new ones after them."""
        look = width, scheme
        if look not in self.contexts:
            self.contexts[look] = self.context(scheme)
        yield from self.contexts[look].pages
        while True:
            yield self.contexts[look].new_page()

    def context(self, scheme: str) -> Any:
        """Return what notes which other hosts any of its tabs asks, and each notice and error in them."""

        def note(request: Any) -> None:
            if not request.url.startswith((self.url, "data:", "blob:")):
                self.elsewhere.append(request.url)

        def note_console(message: Any) -> None:
            if message.type == "error":
                self.problems.append(message.text)

        context = self.browser.new_context(color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(NOTICES)
        context.on("request", note)
        context.on("console", note_console)
        context.on("weberror", lambda error: self.problems.append(f"page error: {error.error}"))
        context.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        return context


@pytest.fixture(scope="module")
def tabs(browser: Any, server: Server) -> Tabs:
    return Tabs(browser, server.url)


@pytest.fixture
def expected() -> list[str]:
    """A test adds to this what each notice or error of the console says that it expects of the page."""
    return []


@pytest.fixture
def visit(tabs: Tabs, expected: list[str]) -> Iterator[Opener]:
    """Opens the page, each time in another tab.

    Afterwards it asserts that nothing was asked of other hosts, and that no tab had a notice or an error, other than
    those that the test expects.
    """
    used: list[Any] = []

    def open_page(query: str = "", width: int = 1280, scheme: str = "light") -> Any:
        page = next(tab for tab in tabs.all(width, scheme) if tab not in used)
        used.append(page)
        page.bring_to_front()  # hidden tabs draw no frames
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(tabs.url + query)
        page.wait_for_selector("#picture .value, #picture .error", state="attached")  # its tab may be another
        if query == PLAIN:  # its documents come after those of the first ranking, with the same score
            expect(page.locator("#picture .document", has_text=re.compile("^d1$")).first).to_be_attached()
        if tab := re.search(r"[?&]tab=(\w+)", query):  # the page opens it after it has read the address
            expect(page.locator(f'[role=tab][data-tab-id="{tab[1]}"]:visible')).to_have_attribute(
                "aria-selected", "true"
            )
        return page

    yield open_page
    for page in used:
        page.bring_to_front()
        come_to_rest(page)
    problems = tabs.problems.copy()  # none of an answer that is cut off when the page is left
    for page in used:
        page.goto("about:blank")  # what it still asks for belongs to this test
    elsewhere = tabs.elsewhere.copy()
    tabs.elsewhere.clear()
    tabs.problems.clear()
    assert elsewhere == []
    # Gradio's own, when a table that is being laid out goes away
    problems = [each for each in problems if "offsetWidth" not in each]
    assert [each for each in problems if not any(text in each for text in expected)] == []
    assert [text for text in expected if not any(text in each for each in problems)] == []


def come_to_rest(page: Any) -> None:
    """Wait until the server has answered all that was asked, and half a second of frames asks for nothing more."""
    page.evaluate("window.framesSince = 0")  # those of an earlier rest tell nothing of what was done since
    page.wait_for_function(RESTED, polling="raf")


# counts the frames since the last request that was made or answered
RESTED = """
() => {
  const asked = performance.getEntriesByType("resource").length;
  if (asked !== window.askedBefore) { window.askedBefore = asked; window.framesSince = 0; }
  return ++window.framesSince > 30;
}
"""


def value(page: Any, where: str = "#picture") -> str:
    return str(page.inner_text(f"{where} .value"))


def wait_for(page: Any, text: str, where: str = "#picture") -> None:
    script = "([where, text]) => document.querySelector(where)?.innerText.includes(text)"
    page.wait_for_function(script, arg=[where, text])


def upload(page: Any, where: str, *paths: Path) -> None:
    """Give a field files and wait until the server has them all: each can be downloaded then."""
    page.set_input_files(f"{where} input[type=file]", paths)
    for path in paths:
        page.wait_for_selector(f"{where} a[href*='{path.name}']", state="attached")


def edit(page: Any, row: int, column: int, text: str) -> None:
    unfold(page, "Edit as a table")
    come_to_rest(page)  # while the table moves, a double click may be two
    cell = page.locator(f"#table [data-testid=cell-{row}-{column}]")
    cell.dblclick()
    editor = cell.locator("textarea, input")
    expect(editor).to_be_focused()  # keys that come sooner are lost
    editor.fill(text)
    expect(editor).to_have_value(text)
    editor.press("Enter")


def unfold(page: Any, name: str) -> None:
    """Open what is folded under a name, and wait until it is there: until then, Gradio takes away what is typed."""
    button = page.get_by_role("button", name=name)
    if "open" not in (button.get_attribute("class") or "").split():
        button.click()
        come_to_rest(page)


def field(page: Any, label: str, fold: str = "Options") -> Any:
    """Return a field by the start of its label, unfolded."""
    unfold(page, fold)
    return page.get_by_label(label, exact=False).first


def choose(page: Any, label: str, option: str) -> None:
    unfold(page, "take an example" if label == "Examples" else "Options")
    page.get_by_label(label, exact=True).first.click()
    page.locator("li[role=option]").filter(has_text=re.compile(f"^[✓\\s]*{re.escape(option)}$")).click()


def cells(page: Any, table: str) -> list[list[str]]:
    script = "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText.trim()))"
    found: list[list[str]] = page.eval_on_selector_all(f"{table} .sheet tr", script)
    return found


def score(ndcg: evaluate.Metric, k: int = 10, **options: Any) -> str:
    return f"{ndcg.compute(**{**TEXTBOOK, **options}, k=k)[f'nDCG@{k}']:.4f}"


def open_tab(page: Any, name: str) -> None:
    """Open a tab, and wait until what is in it is there: until then, Gradio takes away what is typed or unfolded."""
    page.get_by_role("tab", name=name, exact=True).click()
    come_to_rest(page)


# A first visit, at the plain address

CHOSEN = {LABELS[name]: [WORDS.get((name, each), each) for each in choices] for name, choices in CHOICES.items()}


@pytest.mark.parametrize(("label", "choices"), [*CHOSEN.items(), ("Convention", ["trec_eval", "custom"])])
def test_each_choice_of_an_option_is_answered_before_any_tab_is_opened(
    visit: Opener, label: str, choices: list[str]
) -> None:
    page = visit()
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


def test_scoring_nothing_shows_samples_and_scoring_half_says_what_to_upload(visit: Opener, files: Path) -> None:
    page = visit("?k=5")
    open_tab(page, "Search runs")
    unfold(page, "Paste instead")
    page.click("#take-texts")
    wait_for(page, "These are two sample runs. Upload or paste yours above.", "#runs-score")
    upload(page, "#qrels", files / "qrels.txt")
    wait_for(page, "Press Score.", "#runs-score")
    page.click("#score-runs")
    wait_for(page, "Upload the qrels and at least one run.", "#runs-score")


# One ranking


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


def test_what_is_pasted_from_a_spreadsheet_is_scored(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    unfold(page, "take an example")
    page.locator("#paste textarea").fill("id\trelevance\tscore\na\t1\t0.2\nb\t0\t0.9\nc\t2\t0.5")
    wait_for(page, score(ndcg, predictions=[[0.2, 0.9, 0.5]], references=[[1, 0, 2]]))
    assert page.locator("#picture .order .document").all_inner_texts() == ["b", "c", "a"]
    page.locator("#paste textarea").fill("query-id\tcorpus-id\tscore\nq\ta\t0\nq\tb\t2")  # one of BEIR's queries
    wait_for(page, score(ndcg, predictions=[[2, 1]], references=[[0, 2]]))


def card(page: Any, document: str) -> Any:
    return page.locator(f"#picture li[data-document='{document}']")


def drag(page: Any, document: str, other: str) -> None:
    """Drag a card by the mouse to just above another."""
    pull(page, document, other)
    page.mouse.up()


def pull(page: Any, document: str, other: str) -> None:
    """Drag a card, and do not let it go."""
    start, end = card(page, document).locator(".document").bounding_box(), card(page, other).bounding_box()
    page.mouse.move(start["x"] + 5, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 90, end["y"] + 30, steps=4)
    page.mouse.move(end["x"] + 90, end["y"] + 2, steps=4)


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


@contextmanager
def on_a_slow_line(page: Any) -> Iterator[None]:
    """Make every answer of the server take .3 s longer."""
    line = page.context.new_cdp_session(page)
    limits = {"offline": False, "latency": 300, "downloadThroughput": -1, "uploadThroughput": -1}
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", limits)
    yield
    line.detach()


def order(page: Any) -> list[str]:
    names: list[str] = page.locator("#picture .order .document").all_inner_texts()
    return names


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


def test_gain_and_cutoff_are_chosen_beside_the_formula(visit: Opener, ndcg: evaluate.Metric) -> None:
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


def test_what_each_option_changes_stands_with_the_ranking_that_it_is_of(visit: Opener) -> None:
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


def test_a_convention_sets_the_choices_and_a_choice_of_ones_own_is_custom(visit: Opener, ndcg: evaluate.Metric) -> None:
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
    wait_for(page, "k: '0' is no cutoff: write whole numbers from 1")


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


def address(page: Any) -> str:
    return str(page.evaluate("location.search"))


def wait_for_address(page: Any, text: str) -> None:
    try:
        page.wait_for_function("text => decodeURIComponent(location.search).includes(text)", arg=text)
    except playwright.TimeoutError as error:
        raise AssertionError(f"{text} is not in {address(page)}") from error


def test_the_address_is_short_and_always_names_what_is_shown(visit: Opener, ndcg: evaluate.Metric) -> None:
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
    for again in (visit(address(page)), page):
        if again is page:
            page.reload()
            page.wait_for_selector("#picture .value")
        expect(again.locator("#picture .score")).to_have_text(shown, use_inner_text=True)
        expect(card(again, "d2")).to_have_count(1)
        expect(again.locator("#picture .order .document").first).to_have_text("näme & <b>")
        unfold(again, "Options")
        expect(again.get_by_label("Convention", exact=True).first).to_have_value("xgboost")
        unfold(again, "Use it in code")
        expect(again.locator("#link textarea")).to_have_value(re.compile("convention=xgboost"))


def test_back_undoes_a_change_and_forward_makes_it_again(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    time.sleep(1.1)  # what comes sooner belongs to the same step
    card(page, "d1").locator(".grip").focus()
    page.keyboard.press("ArrowDown")
    wait_for_address(page, "rel=2,3,3,0,1,2&ids=d2,d1,")
    wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))
    page.go_back()
    wait_for(page, score(ndcg))
    assert address(page) == "?rel=3,2,3,0,1,2&k=10"
    page.go_forward()
    wait_for(page, score(ndcg, references=[[2, 3, 3, 0, 1, 2]]))


def test_back_and_forward_at_once_lead_where_they_say(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    orders = ["3,2,3,0,1,2", "2,3,3,0,1,2", "2,3,3,1,0,2"]
    for document, relevance in zip(("d1", "d4"), orders[1:], strict=True):
        time.sleep(1.1)  # what comes sooner belongs to the same step
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


@pytest.mark.parametrize("way", ["button", "keys"])
def test_a_change_of_the_ranking_can_be_undone(visit: Opener, ndcg: evaluate.Metric, way: str) -> None:
    page = visit(PLAIN)
    undo = page.get_by_role("button", name="Undo")
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    expect(undo).to_have_count(0)  # there is nothing to undo
    moves = [[2, 3, 3, 0, 1, 2], [2, 3, 0, 3, 1, 2]]
    for document, relevance in zip(("d1", "d3"), moves, strict=True):
        time.sleep(1.1)  # what comes sooner belongs to the same step
        card(page, document).locator(".grip").focus()
        page.keyboard.press("ArrowDown")
        wait_for(page, score(ndcg, references=[relevance]))
        wait_for_address(page, f"rel={','.join(map(str, relevance))}&ids=")
    for relevance in (moves[0], TEXTBOOK["references"][0]):
        expect(undo).to_be_visible()
        undo.click() if way == "button" else page.keyboard.press("Control+z")
        wait_for(page, score(ndcg, references=[relevance]))
    expect(undo).to_have_count(0)
    page.keyboard.press("Control+z")
    come_to_rest(page)
    assert address(page) == "?rel=3,2,3,0,1,2&k=10"


def test_the_address_keeps_whose_number_is_asked_for(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit("?tab=batch")
    page.get_by_label("Predictions", exact=False).first.fill("[[3, 2, 1]]")
    page.get_by_label("References", exact=False).first.fill("[[0, 1, 2]]")
    open_tab(page, "Whose number is it?")
    page.get_by_label("The batch").check()
    page.locator("#got input, #got textarea").fill("0.6199")
    given = {"predictions": [[3, 2, 1]], "references": [[0, 1, 2]]}
    *others, last = ndcg.explain(**given, k=10, got="0.6199").matches
    said = f"0.6199 is the nDCG@10 of {', '.join(others)} and {last}."
    wait_for(page, said, "#whose")
    wait_for_address(page, "&tab=whose&data=batch&got=0.6199&batch=")
    again = visit(address(page))
    wait_for(again, said, "#whose")
    again.wait_for_function("given => location.search === given", arg=address(page))
    open_tab(again, "Batch")
    again.get_by_label("Predictions", exact=False).first.fill(f"[{[1] * 2000}]")
    wait_for_address(again, "&batch=long")


def test_the_address_names_the_tab(visit: Opener) -> None:
    page = visit()
    open_tab(page, "Batch")
    wait_for_address(page, "tab=batch")
    again = visit(address(page))
    expect(again.get_by_role("tab", name="Batch")).to_have_attribute("aria-selected", "true")


def test_the_steps_have_addresses(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit(PLAIN)
    wait_for_address(page, "?rel=3,2,3,0,1,2&k=10")
    time.sleep(1.1)  # what comes sooner belongs to the same step
    page.get_by_role("link", name="4 Ties").click()
    tied = {"predictions": [[9, 5, 5, 5, 1]], "references": [[3, 0, 1, 2, 0]]}
    wait_for(page, score(ndcg, **tied))
    wait_for(page, "share ranks 2 to 4", "#guide")
    expect(page.locator("#picture li.tied")).to_have_count(3)
    wait_for_address(page, "?step=ties&k=10")
    again = visit(address(page))
    wait_for(again, score(ndcg, **tied))
    wait_for(again, "share ranks 2 to 4", "#guide")


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
def test_words_are_explained_where_they_stand_and_tied_scores_show_on_a_phone(visit: Opener, width: int) -> None:
    page = visit("?step=ties", width)
    wait_for(page, "share ranks 2 to 4", "#guide")
    expect(card(page, "Inside a beehive").locator(".at")).to_be_visible()
    for word in ("Relevance", "Score", "retrieved"):
        expect(page.locator("#picture b", has_text=re.compile(f"^{word}$"))).to_be_visible()
    judged = page.locator("#picture .words b", has_text="Judged")
    expect(judged).to_have_count(0)  # of documents that are all judged there is nothing to say
    page.get_by_role("link", name="What is missing").first.click()
    expect(judged).to_be_visible()


def test_the_page_opens_with_a_search_whose_documents_have_titles(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit()
    said = page.locator("#picture .query")
    expect(said).to_have_text("Search: how do bees make honey")
    titles = order(page)
    assert titles[:2] == ["From nectar to honey", "Inside a beehive"]
    wait_for_address(page, "?k=10")
    time.sleep(1.1)  # what comes sooner belongs to the same step
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


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("step", ["gain", "discount", "ideal", "ties", "missing", "exponential"])
def test_titles_can_be_read_to_the_end(visit: Opener, step: str, width: int) -> None:
    page = visit(f"?step={step}", width)
    expect(page.locator("#guide [aria-current]")).to_have_attribute("data-step", step)
    come_to_rest(page)
    cut = "all => all.filter(each => each.scrollHeight > each.clientHeight + 1).map(each => each.innerText)"
    for where in (".document", ".ideal [data-term^=document]"):
        assert page.locator(f"#picture {where}").evaluate_all(cut) == []


def scrub(page: Any, number: Any, by: int) -> None:
    """Drag a number of a sentence to the right, or to the left."""
    box = number.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 3 + by, box["y"] + 5, steps=6)


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
    time.sleep(1.1)  # what comes sooner belongs to the same step

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


def test_the_open_step_is_in_sight_on_a_phone(visit: Opener) -> None:
    page = visit("?step=missing", 390)
    expect(page.get_by_role("link", name="5 What is missing")).to_be_in_viewport(ratio=0.99)
    expect(page.get_by_role("link", name="1 Gain")).not_to_be_in_viewport(ratio=0.99)
    assert page.evaluate("scrollY") == 0


def test_a_step_can_be_left(visit: Opener, ndcg: evaluate.Metric) -> None:
    page = visit("?step=ties&k=10")
    tied = {"predictions": [[9, 5, 5, 5, 1]], "references": [[3, 0, 1, 2, 0]]}
    wait_for(page, score(ndcg, **tied))
    card(page, "Honey cake recipe").locator(".grade i").first.click()
    wait_for(page, score(ndcg, **{**tied, "references": [[3, 1, 1, 2, 0]]}))
    wait_for_address(page, "?step=ties&rel=3,1,1,2,0&ids=From+nectar+to+honey,Honey+cake+recipe,")
    wait_for_address(page, "&scores=9,5,5,5,1&k=10")


def columns(rows: list[list[str]]) -> str:
    """An address of rows of document, relevance and score."""
    lists = dict(zip(("ids", "rel", "scores"), map(",".join, zip(*rows, strict=True)), strict=True))
    return "?" + "&".join(f"{name}={urllib.request.quote(cells)}" for name, cells in lists.items())


def test_a_ranking_too_long_for_an_address_is_not_promised(visit: Opener) -> None:
    page = visit(columns([[f"d{at}" * 5, "1", str(at)] for at in range(100)]))
    unfold(page, "Use it in code")
    wait_for(page, "Link to this ranking", "#link")
    unfold(page, "Edit as a table")
    page.wait_for_selector("#table [data-testid=cell-0-0]")
    edit(page, 0, 0, "d" * 1500)
    wait_for(page, "the ranking is too long for a link", "#link")
    assert "rel=" not in address(page)


@pytest.mark.parametrize(
    ("query", "unread"),
    [
        ("?rel=1,2&ids=a&convention=none&gain=<b>&log_base=e", "ids, convention, log_base, gain"),
        ("?k=" + "9" * 999, ""),  # which the score refuses
    ],
    ids=["nothing to read", "a cutoff of 999 digits"],
)
def test_a_broken_address_breaks_nothing_and_says_what_it_lacks(visit: Opener, query: str, unread: str) -> None:
    page = visit(query)
    unfold(page, "Edit as a table")
    page.wait_for_selector("#table [data-testid=cell-0-0]")
    if unread:
        wait_for(page, f"Not readable in the link, and left as usual: {unread}. Relevance is empty", "#table")
        assert page.inner_text("#picture .value").strip()
    else:
        wait_for(page, "is no cutoff")
        assert "Not readable" not in page.inner_text("#table")


# Files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "qrels.txt").write_text(QRELS)
    for name, lines in RUNS.items():
        (folder / f"{name}.run").write_text(lines)
    return folder


def test_runs_are_audited_scored_compared_and_opened(visit: Opener, ndcg: evaluate.Metric, files: Path) -> None:
    page = visit()
    open_tab(page, "Search runs")
    upload(page, "#qrels", files / "qrels.txt")
    upload(page, "#runs", files / "bm25.run", files / "dense.run")
    page.click("#score-runs")
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
    (pair,) = ndcg.compare(systems=systems, references=qrels, k=10, resamples=2000).pairs
    page.wait_for_selector("#pairs td")
    shown = next(row for row in cells(page, "#pairs") if row)
    assert float(shown[3]) == pytest.approx(pair.difference, abs=1e-4)
    bars = {row[0]: row[2] for row in cells(page, "#by-query") if row}
    wait_for(page, "Query q2", "#beside .query")  # where they differ most of those that both have
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
    page.click("#score-runs")
    inputs = {"predictions": files / "bm25.run", "references": files / "qrels.txt", "k": 10}
    wait_for(page, f"{ndcg.compute(**inputs, convention='trec_eval')['nDCG@10']:.4f}", "#runs-score")
    choose(page, "Convention", "sklearn")
    open_tab(page, "One ranking")
    by_query = ndcg.compute(predictions=runs["bm25"], references=qrels, k=10, use_aggregator=False)["nDCG@10"]
    wait_for(page, f"{by_query[1]:.4f}")
    wait_for(page, EVIL, "#table")
    assert page.locator("#table img").count() == 0


def scored(page: Any, qrels: Path, *runs: Path) -> None:
    """Upload files in the tab of search runs, and score them."""
    open_tab(page, "Search runs")
    upload(page, "#qrels", qrels)
    upload(page, "#runs", *runs)
    page.click("#score-runs")


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
    assert list(bars.values()) == sorted(bars.values())  # where the better run loses comes first
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
    how = {"references": ndcg.read_qrels(files / "qrels.txt"), "k": [1, 10], "missing": "empty", "resamples": 100}
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


def test_what_ties_make_of_a_run_is_said_and_trec_evals_score_is_one_press_away(
    visit: Opener, ndcg: evaluate.Metric, files: Path
) -> None:
    page = visit()
    scored(page, files / "qrels.txt", files / "bm25.run")
    run = {"predictions": files / "bm25.run", "references": files / "qrels.txt", "k": 10}
    here, there = (f"{ndcg.compute(**run, convention=name)['nDCG@10']:.4f}" for name in ("sklearn", "trec_eval"))
    wait_for(page, "One query has tied documents in bm25, whose order matters", "#runs-score .verdict")
    wait_for(page, f"{here}; trec_eval orders them by id and has {there}.", "#runs-score .verdict")
    page.get_by_role("button", name="Score as trec_eval does").press("Enter")
    page.wait_for_function("text => document.querySelector('#runs-score .value')?.innerText === text", arg=there)
    come_to_rest(page)
    assert value(page, "#runs-score") == there
    expect(page.get_by_role("button", name="Score as trec_eval does")).to_have_count(0)
    wait_for_address(page, "convention=trec_eval")
    choose(page, "Tied documents", "average")
    wait_for(page, "Press Score.", "#runs-score")


def test_a_comparison_goes_into_a_ticket(visit: Opener) -> None:
    page = visit()
    open_tab(page, "Search runs")
    expect(page.locator("body")).to_contain_text("A link to this tab keeps the options, not the files")
    wait_for(page, "dense beats bm25", "#runs-score .verdict")
    unfold(page, "Take it into a ticket")
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


def test_files_in_each_others_place_can_be_swapped(visit: Opener, ndcg: evaluate.Metric, files: Path) -> None:
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
    page.click("#take-texts")
    wait_for(page, f"{ndcg.compute(predictions=run, references=qrels, k=10)['nDCG@10']:.4f}", "#runs-score")
    wait_for(page, "pasted run", "#runs")
    expect(page.locator("#run-text textarea")).to_have_value("")
    page.fill("#run-text textarea", "q1: a b\nq2: c")  # ids, best first
    page.click("#take-texts")
    better = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    wait_for(page, "pasted run (2) is", "#runs-score .verdict")
    wait_for(page, f"{ndcg.compute(predictions=better, references=qrels, k=10)['nDCG@10']:.4f}", "#runs-score")


def test_one_query_is_shown_side_by_side(
    visit: Opener, expected: list[str], ndcg: evaluate.Metric, tmp_path: Path
) -> None:
    expected.append("This is one query, which says nothing of others")
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
    wait_for(page, "This is one query", "#runs-score")
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
    page.click("#score-runs")
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


def test_whose_number_it_is(visit: Opener, ndcg: evaluate.Metric, files: Path) -> None:
    page = visit()
    open_tab(page, "Whose number is it?")
    wait_for(page, "Enter the score you want to identify.", "#whose")
    page.locator("#got input, #got textarea").fill("0.9488")
    *others, last = ndcg.explain(**TEXTBOOK, k=10, got="0.9488").matches
    wait_for(page, f"0.9488 is the nDCG@10 of {', '.join(others)} and {last}.", "#whose")
    expect(page.locator("#whose .yours")).to_have_count(1)
    page.get_by_label("The example of the metric card").check()
    wait_for(page, "No convention gives 0.9488", "#whose")
    rows = [row.locator("td").all_inner_texts() for row in page.locator("#whose .owners tbody tr").all()]
    shown = {name: number for names, number, *_ in rows for name in names.split(", ")}
    libraries = ("trec_eval", "sklearn", "ranx", "rax", "lightgbm")
    assert {name: float(shown[name]) for name in libraries} == {name: NUMBERS[name] for name in libraries}
    open_tab(page, "Search runs")
    upload(page, "#qrels", files / "qrels.txt")
    upload(page, "#runs", files / "bm25.run", files / "dense.run")
    open_tab(page, "Whose number is it?")
    page.get_by_label("The search runs").check()
    for name in RUNS:
        run = {"predictions": files / f"{name}.run", "references": files / "qrels.txt"}
        numbers = ndcg.explain(**run, k=10).scores
        wait_for(page, f"{name}: No convention gives 0.9488", "#whose")
        wait_for(page, f"{numbers['trec_eval']:.4f}", "#whose")


def test_true_scores_of_the_pages_example_and_of_a_pasted_ranking_are_known(
    visit: Opener, ndcg: evaluate.Metric
) -> None:
    page = visit("?tab=whose")
    got = page.locator("#got input, #got textarea")
    got.fill(f"{score(ndcg, 4)}@4")
    wait_for(page, f"The page's example: nDCG@4 {score(ndcg, 4)} is the nDCG@4 of sklearn", "#whose")
    got.fill(score(ndcg, 4))
    wait_for(page, f"No convention gives {score(ndcg, 4)}, but these do:", "#whose")
    wait_for(page, "sklearn, but k=4", "#whose")
    got.fill("6.86")
    wait_for(page, "No convention gives 6.86 (0.0686 as a percentage), but these do:", "#whose")
    wait_for(page, "sklearn with a slip: DCG called nDCG", "#whose")
    own = page.locator("#own textarea")
    own.fill("0 1")
    got.fill(score(ndcg, predictions=[[2, 1]], references=[[0, 1]]))
    wait_for(page, "0.6309 is the nDCG@10 of ", "#whose")
    assert "The page's example" not in page.inner_text("#whose")


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
    assert page.locator("#card-text code:text-is('docs/forms.md')").count() > 0


# Looks

CONTRAST = """
() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length == 3 || c[3] > .99) return c; } return [255, 255, 255]; };
  const low = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), e = walk.currentNode.parentElement;
    const seen = e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
    if (!text || !seen || e.closest('svg, [aria-hidden=true]')) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const size = parseFloat(getComputedStyle(e).fontSize), bold = getComputedStyle(e).fontWeight >= 700;
    if (ratio < (size >= 24 || (bold && size >= 18.66) ? 3 : 4.5)) low.push([text.slice(0, 40), ratio.toFixed(2)]);
  }
  return low;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_and_nothing_overflows(visit: Opener, scheme: str) -> None:
    page = visit("?__theme=dark" if scheme == "dark" else "", 390, scheme)

    def look(width: int) -> None:
        come_to_rest(page)
        assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [width, width]
        assert page.evaluate(CONTRAST) == []

    look(390)
    page.set_viewport_size({"width": 1280, "height": 900})
    look(1280)
    open_tab(page, "Batch")
    page.wait_for_selector("#batch-score .value", state="visible")
    look(1280)


TABS = ["ranking", "runs", "batch", "whose", "card", "api"]
# of the card's many pieces of code and tables the first three: all others look as they do
RULES = """
() => axe.run({ exclude: ["#card-text .code_wrap ~ .code_wrap ~ .code_wrap ~ .code_wrap",
  "#card-text table ~ table ~ table ~ table"] }, {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], rules: { "target-size": { enabled: true } },
}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(each => [id, each.html.slice(0, 200)])))
"""
NAMES = """
() => [...document.querySelectorAll("button, [role=button]")]
  .filter(each => each.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }))
  .filter(each => !each.closest("[aria-hidden=true]"))
  .map(each => (each.getAttribute("aria-label") || each.innerText || each.title).trim())
"""
GRADIOS_RULES = {  # its button for one more file holds a smaller button, and that the field of the file
    ("nested-interactive", 'aria-label="Runs: upload"'),
    ("target-size", 'aria-label="Runs: upload"'),
    ("target-size", "icon-mode"),
}
GRADIOS_NAMES = {
    "Clear",
    "Copy",
    "copy",
}  # of its own fields, which take no other names


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_keeps_the_rules_of_wcag_2_2_aa(visit: Opener, tab: str, scheme: str, files: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="make check installs axe").AXE_FILE_PATH
    page = visit(f"?tab={tab}" + ("&__theme=dark" if scheme == "dark" else ""), 1280, scheme)
    if tab == "runs":
        upload(page, "#qrels", files / "qrels.txt")
        upload(page, "#runs", files / "bm25.run", files / "dense.run")
        page.click("#score-runs")
        page.wait_for_selector("#runs-score .value")
    for folded in page.locator("button.label-wrap:not(.open)").element_handles():
        if folded.is_visible():
            folded.click()
    page.evaluate(Path(axe).read_text(encoding="utf-8"))
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        come_to_rest(page)
        broken = page.evaluate(RULES)
        assert [
            each for each in broken if not any(rule == each[0] and of in each[1] for rule, of in GRADIOS_RULES)
        ] == []
    names = [name for name in page.evaluate(NAMES) if name not in GRADIOS_NAMES]
    assert "" not in names
    assert [each for each in names if names.count(each) > 1] == []


FOCUS = """
() => {
  const e = document.activeElement, style = getComputedStyle(e);
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  let behind = e.parentElement;
  while (behind && (parse(getComputedStyle(behind).backgroundColor)[3] ?? 1) < .99) behind = behind.parentElement;
  const ground = behind ? parse(getComputedStyle(behind).backgroundColor) : [255, 255, 255];
  const [a, b] = [light(parse(style.outlineColor)), light(ground)];
  return [e.outerHTML.slice(0, 100), style.outlineStyle, parseFloat(style.outlineWidth),
    (Math.max(a, b) + .05) / (Math.min(a, b) + .05)];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_has_the_focus_is_marked(visit: Opener, scheme: str) -> None:
    page = visit("?__theme=dark" if scheme == "dark" else "", 1280, scheme)
    unfold(page, "Options")
    unfold(page, "take an example")
    come_to_rest(page)
    page.get_by_role("button", name="Options").focus()
    marked = set()
    for _ in range(50):
        page.keyboard.press("Tab")
        element, style, width, contrast = page.evaluate(FOCUS)
        if element.startswith("<body"):  # after the last, and after a list of Gradio's that folds
            continue
        assert style == "solid", element
        assert width >= 2, element
        assert contrast >= 3, element
        marked.add(element)
    assert len(marked) > 40


def test_motion_is_left_out_for_those_who_ask_for_it(visit: Opener) -> None:
    page = visit()
    page.emulate_media(reduced_motion="reduce")
    longest = """
    () => Math.max(...[...document.querySelectorAll("*")].flatMap(each => {
      const style = getComputedStyle(each);
      return `${style.transitionDuration},${style.animationDuration}`.split(",").map(parseFloat);
    }))
    """
    assert page.evaluate(longest) < 0.001
    page.emulate_media(reduced_motion="no-preference")


# Work


def test_the_first_score_is_there_before_any_event(visit: Opener, expected: list[str], server: Server) -> None:
    expected += ["Failed to load resource", "Connection"]
    page = visit().context.new_page()
    page.route("**/gradio_api/{run,queue}/**", lambda route: route.abort())
    page.goto(server.url)
    page.wait_for_selector("#picture .value")
    expect(page.locator(".toast-body")).to_contain_text("Connection to the server was lost")
    page.close()


def test_the_first_answer_is_compressed_and_the_card_comes_when_its_tab_opens(server: Server) -> None:
    request = urllib.request.Request(server.url, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=PATIENCE / 1000) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        content = answer.read()
    assert len(content) < 60_000
    assert "Metric Card for nDCG" not in gzip.decompress(content).decode()


def test_a_first_visit_shows_the_picture_before_its_cards_can_be_moved(
    visit: Opener, server: Server, ndcg: evaluate.Metric
) -> None:
    loaded = visit()
    expect(loaded.locator("#first")).to_have_count(0)
    page = loaded.context.new_page()
    page.route("**/assets/HTML-*.js", lambda route: None)  # by which Gradio draws it; it does not come
    page.goto(server.url)
    expect(page.locator("#first .value")).to_have_text(score(ndcg))
    page.close()


def test_an_edit_asks_the_server_for_little(visit: Opener) -> None:
    page = visit(columns([[f"d{at}", str(at % 4), str(at % 7)] for at in range(20)]))
    come_to_rest(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    for edits, grade in enumerate(("3", "0", "1"), 1):
        before = value(page)
        edit(page, 6, 1, grade)
        script = "before => document.querySelector('#picture .value').innerText != before"
        page.wait_for_function(script, arg=before)
        come_to_rest(page)
        assert len(asked) <= 8 * edits  # the clicked row, the score and the link, each once or twice


# Programs


@pytest.fixture(scope="module")
def client(server: Server) -> Any:
    from gradio_client import Client

    return Client(server.url, verbose=False)


another_client = client  # a client's own calls at the same time can lose an answer


def test_a_client_scores(client: Any, ndcg: evaluate.Metric) -> None:
    result = client.predict(**TEXTBOOK, k="3,10", api_name="/score")
    expected = ndcg.compute(**TEXTBOOK, k=[3, 10])
    assert result == {**expected, "signature": ndcg.signature(k=[3, 10])}
    result = client.predict(**TEXTBOOK, k="", convention="rax", api_name="/score")
    assert result["nDCG"] == ndcg.compute(**TEXTBOOK, convention="rax")["nDCG"]
    unlike = {"predictions": [[6, 5, 5, 3, 2, 1]], "references": [[3, -2, None, 0, 1, 2]]}
    chosen = {"gain": "exponential", "ties": "first", "negative_relevance": "keep", "log_base": 10, "judged_only": True}
    result = client.predict(**unlike, k="4", **chosen, api_name="/score")
    assert result == {**ndcg.compute(**unlike, k=4, **chosen), "signature": ndcg.signature(k=4, **chosen)}


def test_a_client_scores_and_compares_files(client: Any, ndcg: evaluate.Metric, files: Path) -> None:
    from gradio_client import handle_file

    run, qrels = files / "bm25.run", files / "qrels.txt"
    result = client.predict(handle_file(run), handle_file(qrels), "5,10", "sklearn", api_name="/score_run")
    expected = ndcg.report(predictions=run, references=qrels, k=[5, 10]).to_dict()
    assert result == {name: each for name, each in expected.items() if name != "queries"} | {"notes": result["notes"]}
    runs = [handle_file(files / f"{name}.run") for name in RUNS]
    result = client.predict(runs, handle_file(qrels), "10", "trec_eval", api_name="/compare")
    assert set(result["scores"]) == set(RUNS)
    expected = ndcg.compute(predictions=run, references=qrels, k=10, convention="trec_eval")["nDCG@10"]
    assert result["scores"]["bm25"]["nDCG@10"]["value"] == expected
    chosen = {"ties": "docid", "judged_only": True, "gain": "exponential", "negative_relevance": "clip", "log_base": 10}
    expected = ndcg.compute(predictions=run, references=qrels, k=10, **chosen)["nDCG@10"]
    result = client.predict(handle_file(run), handle_file(qrels), **chosen, api_name="/score_run")
    assert result["scores"]["nDCG@10"]["value"] == expected
    result = client.predict(runs, handle_file(qrels), **chosen, api_name="/compare")
    assert result["scores"]["bm25"]["nDCG@10"]["value"] == expected


def test_a_client_gives_texts_and_gets_every_query(client: Any, ndcg: evaluate.Metric, files: Path) -> None:
    result = client.predict(RUNS["bm25"], QRELS, per_query=True, api_name="/score_run")
    expected = ndcg.report(predictions=files / "bm25.run", references=files / "qrels.txt", k=10).to_dict()
    assert result["queries"] == expected["queries"]
    result = client.predict(RUNS, QRELS, per_query=True, api_name="/compare")
    assert list(result["scores"]) == list(RUNS)
    assert len(result["queries"]["nDCG@10"]) == len(RUNS) * len(ndcg.read_qrels(files / "qrels.txt"))


def test_a_path_of_the_server_is_never_read(server: Server, ndcg: evaluate.Metric) -> None:
    path = str(ROOT / "README.md")
    for given in ({"path": path}, {"path": path, "meta": {"_type": "gradio.FileData"}}, path):
        answer = ask(server.url, "score_run", {"run": given, "qrels": QRELS})
        assert answer.startswith("event: error"), answer
        assert "license" not in answer


def ask(url: str, name: str, given: dict[str, Any]) -> str:
    """Ask a function by HTTP, with the names of its parameters; return its events."""
    inputs, calls = json.dumps(given).encode(), f"{url}gradio_api/call"
    request = urllib.request.Request(f"{calls}/v2/{name}", inputs, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE / 1000) as response:
        event = json.load(response)["event_id"]
    with urllib.request.urlopen(f"{calls}/{name}/{event}", timeout=PATIENCE / 1000) as response:
        return str(response.read().decode())


def test_the_tab_shows_calls_to_its_own_address(visit: Opener, server: Server, ndcg: evaluate.Metric) -> None:
    page = visit("?tab=api")
    expect(page.locator("#calls")).to_contain_text(f'Client("{server.url}")')
    shell = page.locator("#calls pre").nth(1).inner_text()
    answer = subprocess.run(["bash", "-c", shell], check=True, capture_output=True, text=True, timeout=60).stdout
    expected = ndcg.compute(predictions=[[0.9, 0.1, 0.5]], references=[[1, 0, 2]], k=[1, 3])
    assert expected.items() <= json.loads(answer.partition("data: ")[2])[0].items()


def test_a_tool_of_an_agent_answers_in_json(server: Server, ndcg: evaluate.Metric, files: Path) -> None:
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def call() -> tuple[dict[str, Any], list[Any]]:
        address = f"{server.url}gradio_api/mcp/"
        async with streamablehttp_client(address) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name.removeprefix("nDCG_"): tool for tool in (await session.list_tools()).tools}
            coded = "data:;base64," + b64encode(gzip.compress(QRELS.encode())).decode()
            answers = [
                await session.call_tool(tools[name].name, given)
                for name, given in (
                    ("score", {**TEXTBOOK, "k": "10"}),
                    ("compare", {"runs": RUNS, "qrels": coded, "zero_division": "nan", "per_query": True}),
                    ("compare", {"runs": RUNS, "qrels": "junk"}),
                )
            ]
            return {name: tool.inputSchema for name, tool in tools.items()}, [each.content[0].text for each in answers]

    with ThreadPoolExecutor(1) as thread:  # Playwright has an event loop in this one
        schemas, (scored, compared, refused) = thread.submit(lambda: asyncio.run(call())).result()
    assert set(schemas) == {"score", "score_run", "compare", "explain"}
    for schema in schemas.values():
        assert all(each["description"] for each in schema["properties"].values())
        assert schema["properties"]["gain"]["enum"] == ["", "linear", "exponential", "binary"]
    assert json.loads(scored) == {**ndcg.compute(**TEXTBOOK, k=10), "signature": ndcg.signature(k=10)}
    inputs = {"references": files / "qrels.txt", "k": 10}
    bm25, dense = (ndcg.compute(predictions=files / f"{name}.run", **inputs)["nDCG@10"] for name in RUNS)
    (pair,) = json.loads(compared)["pairs"]
    assert pair["difference"] == pytest.approx(bm25 - dense)
    assert len(json.loads(compared)["queries"]["query"]) == 6
    assert "qrels: line 1: 1 column" in refused


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"k": "0"}, "is no cutoff"),
        ({"convention": "nobody"}, "convention must be one of"),
        ({"judged_only": "kept"}, "judged_only must be True or False"),
        ({"log_base": 0}, "log_base"),
        ({"zero_division": "x"}, 'zero_division must be a number, or one of "0", "1", "nan", "perfect_if_empty"'),
        ({"negative_relevance": "ignore"}, 'negative_relevance must be one of "", "raise", "clip", "keep"'),
        ({"predictions": [[1, 2]]}, "2 predictions and 6 references"),
        ({"references": [["a"] * 6]}, "predictions hold integers and references text"),
        ({"predictions": "many"}, "predictions must be a list of one list per query"),
        ({"predictions": "/etc/passwd", "references": "/etc/hostname"}, "predictions must be a list of one list"),
        ({"references": {"q": {"d": 1}}}, "references must be a list of one list per query"),
    ],
)
def test_a_client_is_told_what_is_wrong(client: Any, inputs: dict[str, Any], message: str) -> None:
    from gradio_client.exceptions import AppError

    with pytest.raises((AppError, ValueError), match=message):
        client.predict(**{**TEXTBOOK, "k": "10", **inputs}, api_name="/score")


@pytest.mark.parametrize(
    ("name", "given", "status", "message"),
    [
        ("v2/score", {"references": [[1]]}, 422, "score: predictions is missing; its parameters are pred"),
        ("v2/score", {**TEXTBOOK, "cutofs": "3"}, 422, "score: unknown parameter 'cutofs'; its parameters are pred"),
        ("v2/score_run", {"run": "", "empty": 1}, 422, "score_run: unknown parameter 'empty'; qrels is missing"),
        ("v2/compare", {}, 422, "compare: runs is missing; qrels is missing"),
        ("v2/scor", TEXTBOOK, 404, 'there is no function \'scor\'; call "score", "score_run", "compare"'),
        ("scor", {"data": []}, 404, "there is no function 'scor'"),
    ],
)
def test_a_wrong_call_is_told_which_parameter_is_missing_or_unknown(
    server: Server, name: str, given: dict[str, Any], status: int, message: str
) -> None:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}gradio_api/call/{name}", json.dumps(given).encode(), headers)
    with pytest.raises(urllib.error.HTTPError) as answered:
        urllib.request.urlopen(request, timeout=PATIENCE / 1000)
    assert answered.value.code == status
    assert json.load(answered.value)["detail"].startswith(message)


def bomb(path: Path) -> Path:
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(110):  # MB
            file.write(b"q1 Q0 d1 1 1.0 t\n" * 61_681)
    assert path.stat().st_size < 2_000_000
    return path


HOSTILE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "large.run": (lambda path: path.write_bytes(b"q1 Q0 d1 1 1.0 t\n" * 1_300_000), "413|exceed"),  # 22 MB
    "bomb.run.gz": (bomb, "bomb.run.gz: "),
    "rows.csv.gz": (
        lambda path: path.write_bytes(gzip.compress(b"query,document,score\n" + b"q,d,1\n" * 1_000_000)),
        "more than 500,000 rows",
    ),
    "wide.csv": (lambda path: path.write_text(",".join(map(str, range(10_000))) + "\n"), "more than 50 columns"),
    "junk.run": (lambda path: path.write_bytes(os.urandom(100_000)), "junk.run"),
    "junk.parquet": (lambda path: path.write_bytes(os.urandom(100_000)), "junk.parquet"),
    "broken.json": (lambda path: path.write_text('{"q": {"d": 1}'), "broken.json: line 1, column"),
    "deep.json": (lambda path: path.write_text('{"q":' * 100_000), "deep.json"),
    "empty.run": (lambda path: path.write_text(""), "empty.run"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_upload_is_refused_while_others_go_on(
    client: Any, another_client: Any, ndcg: evaluate.Metric, files: Path, tmp_path: Path, name: str
) -> None:
    from gradio_client import Client, handle_file

    make, message = HOSTILE[name]
    make(tmp_path / name)
    with ThreadPoolExecutor(1) as other:
        scores = other.map(lambda _: another_client.predict(**TEXTBOOK, k="10", api_name="/score"), range(10))
        with pytest.raises(Exception, match=f"(?i){message}") as caught:
            client.predict(handle_file(tmp_path / name), handle_file(files / "qrels.txt"), "10", api_name="/score_run")
        assert "Traceback" not in str(caught.value)
        assert {each["nDCG@10"] for each in scores} == {ndcg.compute(**TEXTBOOK, k=10)["nDCG@10"]}
    assert isinstance(client, Client)


def test_many_clients_at_once_get_right_answers(server: Server, ndcg: evaluate.Metric) -> None:
    expected = {k: ndcg.compute(**TEXTBOOK, k=k)[f"nDCG@{k}"] for k in range(1, 7)}

    def score_over_http(k: int) -> float:
        answer = ask(server.url, "score", {**TEXTBOOK, "k": str(k)})
        *beats, last = answer.strip().split("\n\n")  # a heartbeat for each while that a client waits
        assert all(beat.startswith("event: heartbeat") for beat in beats), answer
        assert last.startswith("event: complete"), answer
        return float(json.loads(last.partition("data: ")[2])[0][f"nDCG@{k}"])

    def ask_five_times(number: int) -> int:
        for request in range(5):
            k = 1 + (number + request) % 6
            assert score_over_http(k) == expected[k]
        return 5

    with ThreadPoolExecutor(50) as clients:
        assert sum(clients.map(ask_five_times, range(50))) == 250
        before = server.memory  # with a thread and its memory for each client
        assert sum(clients.map(ask_five_times, range(50))) == 250
    assert server.memory < 1.2 * before, (before, server.memory)
