"""Six steps from a gain to a score: each a guess and a ranking to try it on, with an address of its own.

Like the first ranking, they are of one search, for documents that can be judged by their titles.
"""

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

import gradio as gr

from .choices import text_of
from .events import ASK, QUIET, follow

JS = (
    ASK
    + """
element.addEventListener("click", event => {
  const guess = event.target.closest("[data-guess]");
  if (guess) {
    element.querySelector(".verdict").textContent = guess.dataset.guess;
    element.querySelector(".answer").hidden = false;
    for (const each of element.querySelectorAll("[data-guess]")) each.ariaPressed = each === guess;
  }
  const link = event.target.closest("a[data-step]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  ask("step", { name: link.dataset.step });
});
"""
)


QUERY = "how do bees make honey"
RELEVANCE = {  # of each document, by its title; of one that nobody judged, empty
    "From nectar to honey": "3",
    "How honey is made": "3",
    "Inside a beehive": "2",
    "Honey bees at work": "2",
    "Bees and flowers": "1",
    "Kinds of honey": "1",
    "Honey cake recipe": "0",
    "The Bee Gees": "0",
    "Bees in town": "",
}


def ranked(titles: str, scores: str = "") -> list[list[str]]:
    """Return the rows of documents: titles between semicolons, and scores, which fall by 1; "-" is not retrieved."""
    documents = titles.split("; ")
    given = scores.split() or [f"{len(documents) - at}" for at in range(len(documents))]
    return [
        [d, RELEVANCE[d], each.replace("-", "")] for d, each in zip(documents, given, strict=True)
    ]


def query_of_documents(documents: Iterable[str]) -> str:
    """Return the query that documents are ranked for, if all of them are those of the example; else none."""
    return QUERY if RELEVANCE.keys() >= {*documents} else ""


FIRST_RANKING = ranked(
    "From nectar to honey; Inside a beehive; How honey is made; Honey cake recipe; Bees and flowers; Honey bees at work"
)


class Step(NamedTuple):
    """A step of the guide."""

    title: str
    text: str  # an explanation, and something to try
    guess: str
    choices: tuple[str, str]  # the right one first
    answer: str
    rows: list[list[str]]  # document, relevance, score


STEPS = {
    "gain": Step(
        "Gain",
        "The more relevant a document is, the higher its gain: the length of its dashed bar. Press the third dot of "
        "“Honey cake recipe”, as if it answered the query: its gain rises, and so does the DCG of the best order, "
        "where it now belongs higher up.",
        "If “Honey cake recipe” becomes as relevant as “From nectar to honey”, does nDCG rise or fall?",
        ("It rises", "It falls"),
        "from 0.9608 to 0.9725, for the DCG of this order rises by 1.29, and that of the best order by only 1.24.",
        FIRST_RANKING,
    ),
    "discount": Step(
        "Discount",
        "People look at the first ranks first, so a gain counts less the lower its rank is: all of it at rank 1, 0.63 "
        "of it at rank 2, half at rank 3. Move “From nectar to honey” up to rank 1, where its 3 counts fully. That is "
        "why swapping two documents changes nDCG, and why swapping two that are equally relevant, ranks 1 and 4, does "
        "not. Why a logarithm? It falls fast at first and then ever more slowly, as attention does: from rank 1 to 2 a "
        "third is lost, from 9 to 10 hardly anything, and every rank counts for something. The line across the bars "
        "is the curve of the discount. It is a convention rather than a measurement; the options offer others.",
        "Which swap wins more?",
        ("Ranks 1 and 3", "Ranks 2 and 3"),
        "nDCG is 0.6480 now; ranks 1 and 3 make it 1.0000, ranks 2 and 3 only 0.6788: the first ranks are worth most.",
        ranked("Honey cake recipe; Inside a beehive; From nectar to honey; The Bee Gees"),
    ),
    "ideal": Step(
        "Ideal",
        "The best order has the most relevant documents first, and no order has a higher DCG. nDCG is the DCG of your "
        "order divided by the DCG of the best one: 1 is the maximum, whether a query has one relevant document or a "
        "hundred. This order is the worst of its documents; move “From nectar to honey” up to rank 1 and see how much "
        "comes back.",
        "This is the worst order of these four documents. What does it score?",
        ("More than half", "Less than half"),
        "0.6138: every order has all the gains, and the discount of a low rank is far from 0.",
        ranked("Honey cake recipe; Bees and flowers; Inside a beehive; From nectar to honey"),
    ),
    "ties": Step(
        "Ties",
        "The system gave three documents the same score, 5, so nothing says which of them comes first; a bracket marks "
        "them. They share ranks 2 to 4, and each gets the mean of these discounts. "
        "Many libraries keep their input order, which may help or hurt: see Tied documents in the options.",
        "Would another order of the three change this score?",
        ("No", "Yes"),
        "0.9579 in each order. If they are taken as they come, it is anything from 0.9159 to 1.0000.",
        ranked(
            "From nectar to honey; Honey cake recipe; Bees and flowers; Inside a beehive; The Bee Gees",
            "9 5 5 5 1",
        ),
    ),
    "missing": Step(
        "What is missing",
        "“How honey is made” and “Honey bees at work” are relevant and were not retrieved. They gain nothing, but the "
        "ideal order has them, so nDCG falls: put “How honey is made” back into the ranking. “Bees in town”, "
        "hatched, was not judged: its relevance is unknown, so it counts as 0, takes rank 3 from “Kinds of honey”, "
        "and is not in the ideal order. The options can remove it.",
        "Which wins more?",
        ("Retrieving “How honey is made”", "Removing “Bees in town”"),
        "nDCG is 0.5036; “How honey is made” at rank 1 makes it 0.8469, removing “Bees in town” only 0.5150.",
        ranked(
            "Inside a beehive; Bees and flowers; Bees in town; Kinds of honey; How honey is made; Honey bees at work",
            "4 3 2 1 - -",
        ),
    ),
    "exponential": Step(
        "Exponential gain",
        "So far, relevance r has gain r. Many papers and libraries use 2^r − 1: relevance 1 gains 1, 2 gains "
        "3 and 3 gains 7, so one highly relevant document outweighs several that are partly relevant. Choose "
        "exponential next to the formula and watch “How honey is made”, the most relevant document, in the last place. "
        "The two gains give two scores of the same ranking, so a report has to say which it uses.",
        "With exponential gain, does this ranking score more or less?",
        ("Less", "More"),
        "0.7768 instead of 0.8878, since half of all gains are in the last place.",
        ranked("Inside a beehive; Honey bees at work; Bees and flowers; How honey is made"),
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
    steps = f"<span>New here? Six short steps:</span><ol>{''.join(links)}</ol>"
    return f"<nav class='guide' aria-label='Six steps'>{steps}</nav>{_step_html(step) if step in STEPS else ''}"


def _step_html(name: str) -> str:
    """Return the text of a step, its guess with a folded answer, and the way to the next step."""
    step, names = STEPS[name], [*STEPS]
    choices = sorted(step.choices)  # so that the place does not give the right answer away
    verdicts = {step.choices[0]: "Right.", step.choices[1]: "Not quite."}
    buttons = "".join(
        f"<button type='button' class='offer' data-guess='{verdicts[each]}'>{escape(each)}</button> "
        for each in choices
    )
    following = names[(names.index(name) + 1) % len(names)]
    return (
        f"<p class='guess'>Guess first: {escape(step.guess)} {buttons}"
        f"<span class='answer' role='status' hidden><span class='verdict'></span> <b>{escape(step.choices[0])}:</b> "
        f"{escape(step.answer)}</span></p>"
        f"<p role='status'>{escape(step.text)}</p>"
        f"<p><a href='?step={following}' data-step='{following}'>Next: {escape(STEPS[following].title)} →</a></p>"
    )


def is_begun_with(rows: list[list[Any]], step: str) -> bool:
    """Return whether rows are those that the page begins with at a step, or without one."""
    return [[text_of(cell) for cell in row] for row in rows] == rows_at(step)


def rows_at(step: str) -> list[list[str]]:
    """Return the rows that the page begins with at a step, or without one."""
    return STEPS[step].rows if step in STEPS else FIRST_RANKING
