"""Actions of a visitor of the page: drag, press, upload, and wait for the answer."""

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


def score(ndcg: evaluate.Metric, k: int = 10, **options: Any) -> str:
    return f"{ndcg.compute(**{**TEXTBOOK, **options}, k=k)[f'nDCG@{k}']:.3f}"


def shows(page: Any, number: str) -> None:
    """Wait for the large number."""
    expect(page.locator(".figure .value")).to_have_text(number)


def value(page: Any) -> str:
    return str(page.inner_text(".figure .value"))


def card(page: Any, document: str) -> Any:
    return page.locator(f".figure button.card[title='{document}']")


def order(page: Any) -> list[str]:
    script = "all => all.map(card => card.title)"
    names: list[str] = page.eval_on_selector_all(".figure .left .card", script)
    return names


def drag(page: Any, document: str, other: str) -> None:
    """Drag a card by the mouse to just above another."""
    pull(page, document, other)
    page.mouse.up()


def place_of(element: Any) -> dict[str, float]:
    """Return the place of an element; it has none while a late answer takes its place."""
    places = (element.bounding_box() for _ in range(20))
    return next(place for place in places if place is not None)


def box(page: Any, document: str) -> dict[str, float]:
    """Return the place of a card."""
    return place_of(card(page, document))


def pull(page: Any, document: str, other: str) -> None:
    """Drag a card, and do not let it go."""
    start, end = box(page, document), box(page, other)
    page.mouse.move(start["x"] + 40, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 40, end["y"] + 30, steps=4)
    page.mouse.move(end["x"] + 40, end["y"] + 2, steps=4)


@contextmanager
def on_a_slow_line(page: Any) -> Iterator[None]:
    """Make every answer of the server take .3 s longer."""
    line = page.context.new_cdp_session(page)
    limits = {"offline": False, "latency": 300, "downloadThroughput": -1, "uploadThroughput": -1}
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", limits)
    yield
    line.detach()


def address(page: Any) -> str:
    return str(page.evaluate("location.search"))


def wait_for_address(page: Any, text: str) -> None:
    script = "text => decodeURIComponent(location.search).includes(text)"
    try:
        page.wait_for_function(script, arg=text)
    except playwright.TimeoutError as error:
        raise AssertionError(f"{text} is not in {address(page)}") from error


def pause(page: Any) -> None:
    """Wait until the next move is a step of its own."""
    come_to_rest(page)
    page.wait_for_timeout(1100)


def upload(page: Any, *paths: Path) -> None:
    """Choose files in Compare and wait until they are there."""
    before = address(page)
    page.set_input_files(".zone input[type=file]", paths)
    page.wait_for_function("before => location.search !== before", arg=before)
    come_to_rest(page)
