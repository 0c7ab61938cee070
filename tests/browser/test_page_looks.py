"""The page in light and dark, narrow and wide, by keys and by rules of accessibility."""

from pathlib import Path

import pytest

from .conftest import Opener, come_to_rest
from .visits import BROWSER, scored, unfold, wait_for

pytestmark = [*BROWSER, pytest.mark.xdist_group("other tabs")]
TABS = ["ranking", "runs", "batch", "explain", "card", "api"]
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
GRADIOS_NAMES = {"Clear", "Copy", "copy"}  # of its own fields, which take no other names


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_keeps_the_rules_of_wcag_2_2_aa(
    visit: Opener, tab: str, scheme: str, files: Path
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.base", reason="make check installs axe"
    ).AXE_FILE_PATH
    page = visit(f"?tab={tab}" + ("&__theme=dark" if scheme == "dark" else ""), 1280, scheme)
    if tab == "runs":
        scored(page, files / "qrels.txt", files / "bm25.run", files / "dense.run")
        wait_for(page, "missing from dense", "#runs-view")
    for folded in page.locator("button.label-wrap:not(.open)").element_handles():
        if folded.is_visible():
            folded.click()
    page.evaluate(Path(axe).read_text(encoding="utf-8"))
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        come_to_rest(page)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        broken = page.evaluate(RULES)
        ours = [
            each
            for each in broken
            if not any(rule == each[0] and of in each[1] for rule, of in GRADIOS_RULES)
        ]
        assert ours == []
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
def test_the_element_with_the_focus_is_marked(visit: Opener, scheme: str) -> None:
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
