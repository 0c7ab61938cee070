"""Five steps from a gain to a score: each a ranking to try it on, with an address of its own."""

from html import escape
from typing import Any, NamedTuple

import gradio as gr

from .choices import text_of
from .events import ASK, QUIET, follow

JS = (
    ASK
    + """
element.addEventListener("click", event => {
  const link = event.target.closest("a[data-step]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  ask("step", { name: link.dataset.step });
});
// on a phone the steps are wider than the page
const showOpen = () => element.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
showOpen();
watch("value", () => requestAnimationFrame(showOpen));
"""
)


class Step(NamedTuple):
    """A step of the guide.

    Attributes:
        title: of the step.
        text: what it explains, and what to try.
        rows: of the table: document, relevance, score.
    """

    title: str
    text: str
    rows: list[list[str]]


def _rows(relevance: str, scores: str = "") -> list[list[str]]:
    """Return rows of documents d1, d2, … from their relevance and scores; "-" leaves a cell empty."""
    cells = relevance.split()
    given = scores.split() or [f"{len(cells) - at}" for at in range(len(cells))]
    pairs = zip(cells, given, strict=True)
    return [[f"d{at}", *(each.replace("-", "") for each in pair)] for at, pair in enumerate(pairs, 1)]


STEPS = {
    "gain": Step(
        "Gain",
        "The more relevant a document is, the more it gains: dashed bars are as long as gains. Press the third dot of "
        "d4, which is not relevant: it gains more then, and so does the best order, since d4 now belongs higher up.",
        _rows("3 2 3 0 1 2"),
    ),
    "discount": Step(
        "Discount",
        "People look at the first ranks first, so a gain counts less the lower its rank is: all of it at rank 1, 0.63 "
        "of it at rank 2, half at rank 3. Move d3 up to rank 1, where its 3 counts fully. That is why swapping two "
        "documents changes nDCG, and why swapping two that are equally relevant, d1 and d4, does not.",
        _rows("0 2 3 0"),
    ),
    "ideal": Step(
        "Ideal",
        "The best order has the most relevant documents first, and no order has a higher DCG. nDCG is the DCG of your "
        "order divided by that: 1 is the best there is, whether a query has one relevant document or a hundred. This "
        "order is the worst of its documents, and still gets more than half; move d4 up to rank 1 and see how much "
        "comes back.",
        _rows("0 1 2 3"),
    ),
    "ties": Step(
        "Ties",
        "The system gave three documents the same score, 5, so nothing says which of them comes first; a bracket marks "
        "them. They share ranks 2 to 4, and each gets the mean of these discounts, whatever order they are listed in. "
        "Many libraries take them as they come, which can be lucky or not: see Tied documents in the options.",
        _rows("3 0 1 2 0", "9 5 5 5 1"),
    ),
    "missing": Step(
        "What is missing",
        "d5 and d6 are relevant and were not retrieved. They gain nothing, but the ideal order has them, so nDCG "
        "falls: put d5 back into the ranking. d3, hatched, was not judged: nobody knows its relevance, so it counts "
        "as 0, keeps d4 from rank 3, and is not in the ideal order. The options can remove it.",
        _rows("2 1 - 1 3 2", "4 3 2 1 - -"),
    ),
}


def guide(table: gr.Dataframe, title: gr.HTML) -> gr.Textbox:
    """Lay out the steps, which fill the table and clear its title; return the field of the step's name, if any."""
    step = gr.Textbox("", visible="hidden")
    shown = gr.HTML(guide_html(""), js_on_load=JS, apply_default_css=False, elem_id="guide")
    shown.step(take_step, step, [step, table, title], **QUIET)
    follow([step.change], guide_html, step, shown)
    return step


def take_step(now: str, event: gr.EventData) -> list[Any]:
    """Return a step and its ranking; of the step that is open, none, and the ranking stays."""
    if event.name == now or event.name not in STEPS:
        return ["", gr.skip(), gr.skip()]
    return [event.name, STEPS[event.name].rows, ""]


def guide_html(step: str) -> str:
    """Return the steps as links, and what the open one explains."""
    links = [
        f"<li><a href='?step={name}' data-step='{name}'{' aria-current=step' if name == step else ''}>"
        f"{at} {escape(each.title)}</a></li>"
        for at, (name, each) in enumerate(STEPS.items(), 1)
    ]
    text = f"<p role='status'>{escape(STEPS[step].text)}</p>" if step in STEPS else ""
    return f"<nav class='guide' aria-label='Five steps'><ol>{''.join(links)}</ol></nav>{text}"


def is_of_step(rows: list[list[Any]], step: str) -> bool:
    """Return whether rows are those that a step begins with."""
    return step in STEPS and [[text_of(cell) for cell in row] for row in rows] == STEPS[step].rows
