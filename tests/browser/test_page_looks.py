"""The page in light and dark, narrow and wide, by keys and by rules of accessibility."""

from pathlib import Path

import pytest

from .conftest import Opener
from .visits import BROWSER, expect, upload

pytestmark = [*BROWSER, pytest.mark.xdist_group("compare")]
DOCS = "docs/space.md"
PAGES = ["", "?step=ties&guess=No, it stays 0.96", "?tab=compare", f"docs/{DOCS}"]
RULES = """
() => axe.run(document, {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  rules: { "target-size": { enabled: true } },
}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(each => [id, each.html.slice(0, 200)])))
"""
UNFOLD = "all => all.forEach(details => { details.open = true; })"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", PAGES)
def test_every_page_keeps_the_rules_of_wcag_2_2_aa(
    visit: Opener, address: str, scheme: str, files: Path
) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="make check installs axe")
    page = visit(address, 1280, scheme)
    if address == "?tab=compare":
        (files / "bad.run").write_text("q1 Q0 d1 1 high t")
        names = ("qrels.txt", "bm25.run", "dense.run", "bad.run")
        upload(page, *(files / name for name in names))
        expect(page.locator(".chip.bad")).to_be_visible()
    page.eval_on_selector_all("details", UNFOLD)
    page.evaluate(Path(axe.AXE_FILE_PATH).read_text(encoding="utf-8"))
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(RULES) == []


FOCUS = """
() => {
  const e = document.activeElement, style = getComputedStyle(e);
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const linear = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(linear)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const opacity = element => parse(getComputedStyle(element).backgroundColor)[3] ?? 1;
  let behind = e.parentElement;
  while (behind && opacity(behind) < .99) behind = behind.parentElement;
  const ground = behind ? parse(getComputedStyle(behind).backgroundColor) : [255, 255, 255];
  const [a, b] = [light(parse(style.outlineColor)), light(ground)];
  return [e.outerHTML.slice(0, 100), style.outlineStyle, parseFloat(style.outlineWidth),
    (Math.max(a, b) + .05) / (Math.min(a, b) + .05)];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", ["", "?tab=compare"])
def test_the_element_with_the_focus_is_marked(visit: Opener, address: str, scheme: str) -> None:
    page = visit(address, 1280, scheme)
    page.eval_on_selector_all("details", UNFOLD)
    marked = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        element, style, width, contrast = page.evaluate(FOCUS)
        if element.startswith("<body"):  # after the last
            continue
        assert style == "solid", element
        assert width >= 2, element
        assert contrast >= 3, element
        marked.add(element)
    assert len(marked) > 30


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
