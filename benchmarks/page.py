"""How long the page takes: to its first score, from an edit to the new one, and between frames.

Run it as `python benchmarks/page.py http://127.0.0.1:7860/`, with the address of a page that runs.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import sync_playwright

REPEATS = 20
DOCUMENTS = 20
RANKING = f"?rel={','.join(str((at * 7) % 4) for at in range(DOCUMENTS))}"
FIRST_NUMBER = """
const seen = () => {
  if (document.querySelector("#picture .value")) window.firstNumber = performance.now();
  else requestAnimationFrame(seen);
};
requestAnimationFrame(seen);
"""
NEXT_NUMBER = """
() => {
  const before = document.querySelector("#picture .value").innerText;
  window.took = null;
  addEventListener("keydown", () => {
    const start = performance.now();
    const seen = () => {
      const now = document.querySelector("#picture .value")?.innerText;
      if (now && now !== before) window.took = performance.now() - start;
      else requestAnimationFrame(seen);
    };
    seen();
  }, { capture: true, once: true });
}
"""
FRAMES = """
() => {
  window.frames_ = [];
  window.drawing = true;
  const frame = now => {
    window.frames_.push(now);
    if (window.drawing) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
"""


def first_number(browser: Any, url: str) -> float:
    """Return the milliseconds from asking for the page to its first score, in a new browser."""
    page = browser.new_context().new_page()
    page.add_init_script(FIRST_NUMBER)
    page.goto(url)
    page.wait_for_function("window.firstNumber")
    took: float = page.evaluate("window.firstNumber")
    page.context.close()
    return took


def after_key(page: Any, key: str) -> float:
    """Return the milliseconds from a key to another number."""
    page.wait_for_timeout(300)
    page.evaluate(NEXT_NUMBER)
    page.keyboard.press(key)
    page.wait_for_function("window.took !== null")
    took: float = page.evaluate("window.took")
    return took


def move(page: Any, key: str) -> float:
    """Return the milliseconds from moving the first document by a key to the new score."""
    page.focus("#picture li[data-document=d1] .grip")
    return after_key(page, key)


def edit(page: Any, row: int, grade: int) -> float:
    """Return the milliseconds from the end of an edit of the table to the new score."""
    cell = f"#table [data-testid=cell-{row}-1]"
    page.dblclick(cell)
    page.wait_for_selector(f"{cell} textarea, {cell} input")
    page.keyboard.press("Control+A")
    page.keyboard.type(f"{grade}")
    return after_key(page, "Enter")


def dragged(page: Any) -> list[float]:
    """Return the milliseconds between frames while a card is dragged over the others and back."""
    start, end = (page.locator("#picture .order .card").nth(at).bounding_box() for at in (0, 8))
    page.mouse.move(start["x"] + 60, start["y"] + 20)
    page.mouse.down()
    page.evaluate(FRAMES)
    for y in (end["y"], start["y"] + 20):
        page.mouse.move(start["x"] + 60, y, steps=60)
    page.evaluate("window.drawing = false")
    times = page.evaluate("window.frames_")
    page.mouse.up()
    return [after - before for before, after in pairwise(times)]


def row(what: str, times: Sequence[float]) -> str:
    """Return the median and the ninth decile of the times as a row of a table."""
    return f"| {what} | {median(times):.0f} ms | {quantiles(times, n=10)[-1]:.0f} ms |"


def main(url: str) -> None:
    """Measure the page, and print a table."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        print("| | median | 90% below |\n|---|---|---|")
        print(
            row(
                "first number, in a new browser",
                [first_number(browser, url) for _ in range(REPEATS // 2)],
            )
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1600})
        page.goto(url + RANKING)
        page.locator(f"#picture .order > li:nth-child({DOCUMENTS})").wait_for()
        page.wait_for_timeout(2000)
        print(row(f"frame of a drag, {DOCUMENTS} documents", dragged(page)))
        page.wait_for_timeout(2000)
        page.locator("#picture .grip").first.focus()
        print(
            row(
                "move by a key to number",
                [after_key(page, key) for key in ["ArrowDown", "ArrowUp"] * (REPEATS // 2)],
            )
        )
        page.get_by_role("button", name="Edit as a table").click()
        print(row("edit of a cell to number", [edit(page, 4, 1 - at % 2) for at in range(REPEATS)]))
        browser.close()
    print(f"\nLoad of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main(sys.argv[1])
