"""Actions of a visitor of the page: choose, edit, drag, upload, and wait for the answer."""

import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import evaluate
import pytest

from .conftest import PATIENCE, come_to_rest

playwright = pytest.importorskip("playwright.sync_api", reason="make check installs Playwright")
expect = playwright.expect
expect.set_options(timeout=PATIENCE)
BROWSER = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore"),  # of clients and event loops that are not ours
]
TEXTBOOK = {"predictions": [[6, 5, 4, 3, 2, 1]], "references": [[3, 2, 3, 0, 1, 2]]}


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
    """Unfold a part of the page and wait until it is there: until then, Gradio removes typed text."""
    button = page.get_by_role("button", name=name)
    if "open" not in (button.get_attribute("class") or "").split():
        button.press("Enter")  # a click misses a button that moves between press and release
        come_to_rest(page)


def field(page: Any, label: str, fold: str = "Options") -> Any:
    """Return a field by the start of its label, unfolded."""
    unfold(page, fold)
    return page.get_by_label(label, exact=False).first


def choose(page: Any, label: str, option: str) -> None:
    unfold(page, "take an example" if label == "Examples" else "Options")
    page.get_by_label(label, exact=True).first.click()
    page.locator("li[role=option]").filter(
        has_text=re.compile(f"^[✓\\s]*{re.escape(option)}$")
    ).click()


def cells(page: Any, table: str) -> list[list[str]]:
    script = "rows => rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.innerText.trim()))"
    found: list[list[str]] = page.eval_on_selector_all(f"{table} .sheet tr", script)
    return found


def score(ndcg: evaluate.Metric, k: int = 10, **options: Any) -> str:
    return f"{ndcg.compute(**{**TEXTBOOK, **options}, k=k)[f'nDCG@{k}']:.4f}"


def open_tab(page: Any, name: str) -> None:
    """Open a tab and wait until its contents are there: until then, Gradio removes typed text and folds parts again."""
    page.get_by_role("tab", name=name, exact=True).click()
    come_to_rest(page)


def card(page: Any, document: str) -> Any:
    return page.locator(f"#picture li[data-document='{document}']")


def drag(page: Any, document: str, other: str) -> None:
    """Drag a card by the mouse to just above another."""
    pull(page, document, other)
    page.mouse.up()


def pull(page: Any, document: str, other: str) -> None:
    """Drag a card, and do not let it go."""
    start, end = (
        card(page, document).locator(".document").bounding_box(),
        card(page, other).bounding_box(),
    )
    page.mouse.move(start["x"] + 5, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 90, end["y"] + 30, steps=4)
    page.mouse.move(end["x"] + 90, end["y"] + 2, steps=4)


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


def address(page: Any) -> str:
    return str(page.evaluate("location.search"))


def wait_for_address(page: Any, text: str) -> None:
    try:
        page.wait_for_function(
            "text => decodeURIComponent(location.search).includes(text)", arg=text
        )
    except playwright.TimeoutError as error:
        raise AssertionError(f"{text} is not in {address(page)}") from error


def scrub(page: Any, number: Any, by: int) -> None:
    """Drag a number of a sentence to the right, or to the left."""
    come_to_rest(page)  # an answer that is drawn meanwhile may move it
    box = number.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 3 + by, box["y"] + 5, steps=6)


def columns(rows: list[list[str]]) -> str:
    """An address of rows of document, relevance and score."""
    lists = dict(zip(("ids", "rel", "scores"), map(",".join, zip(*rows, strict=True)), strict=True))
    return "?" + "&".join(f"{name}={urllib.request.quote(cells)}" for name, cells in lists.items())


def scored(page: Any, qrels: Path, *runs: Path) -> None:
    """Upload files in the tab of search runs."""
    open_tab(page, "Search runs")
    upload(page, "#qrels", qrels)
    upload(page, "#runs", *runs)
