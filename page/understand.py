"""The place Understand: one ranking as a picture, beside it the steps, below it 28 libraries."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .address import RANKING, Address, Choice, Note, choices_of, csv_text
from .explanation import Libraries, libraries
from .guide import OPENING, SOLVED, STEPS, query_of_documents
from .html import csv_address, number, render
from .metric import ndcg
from .picture import (
    SHOWS,
    Drawing,
    Entry,
    Line,
    Scale,
    entries_of,
    label_names,
    lines_between,
    scale_of,
)
from .ranking import (
    Marks,
    Ranking,
    Step,
    discounts_of,
    ideal_steps,
    ideal_sums,
    marks_of,
    scores_by_name,
    steps_of,
)
from .settings import CONVENTIONS, LABELS, Settings, snippet

TITLE = "nDCG: how good is this ranking?"
NUMBERS = ("rank", "document", "relevance", "gain", "discount", "adds", "the ideal adds")


class Thread(NamedTuple):
    """What is said beside the figure."""

    title: str
    text: str
    guess: str
    choices: tuple[tuple[str, str], ...]  # each with its link
    verdict: str
    answer: str
    place: str  # such as "2 of 7"
    links: tuple[tuple[str, str], ...]


class Figure(NamedTuple):
    """A ranking beside its ideal order."""

    left: list[Entry]
    right: list[Entry]
    lines: list[Line]
    missed: list[Entry]
    removed: list[Entry]
    highest: int
    labels: list[str]
    cut: int | None  # the row after which nothing counts; None if every row counts
    shows_numbers: bool
    shows_scores: bool
    has_tray: bool
    query: str
    live: str  # what the browser needs to sum an order that is not sent yet

    @property
    def rows(self) -> int:
        """The number of rows of both orders."""
        return max(len(self.left), len(self.right), 1)


class Score(NamedTuple):
    """A score, where it stands, and what it is made of."""

    name: str
    text: str
    others: tuple[tuple[str, float], ...]  # at other cutoffs
    marks: Marks | None  # None if no document is relevant
    scale: Scale
    dcg: float
    ideal: float
    is_hidden: bool
    hides_ties: bool


def understand(address: Address, notes: Sequence[Note]) -> dict[str, Any]:
    """Return what the template of the place shows."""
    settings, ranking = address.settings, address.ranking()
    options = settings.drawn
    steps = steps_of(ranking, options)
    best = ideal_steps(ranking, steps, options)
    score = score_of(address, ranking, steps)
    in_step = bool(address.step)
    return {
        "address": address,
        "notes": notes,
        "score": score,
        "figure": figure_of(address, ranking, steps, best),
        "thread": thread_of(address, score),
        "choices": choices_with_scores(address, ranking),
        "strips": [] if in_step and not _is_last(address) else [libraries_of(address, ranking)],
        "numbers": [] if in_step else numbers_of(ranking, steps, best),
        "own_text": own_text(address),
        "signature": ndcg.signature(**settings.options),
        "code": snippet(ranking.given(options), settings),
    }


def _is_last(address: Address) -> bool:
    """Return whether the step of the libraries is answered, which their scores would do."""
    return address.step == "libraries" and bool(address.guess)


def score_of(address: Address, ranking: Ranking, steps: Sequence[Step]) -> Score:
    """Return the score of a ranking at its largest cutoff."""
    options = address.settings.drawn
    ((name, value),) = scores_by_name(ranking, options).items()
    every = scores_by_name(ranking, address.settings.options)
    others = tuple((each, score) for each, score in every.items() if each != name)
    cutoff = address.settings.cutoff or len(ranking.documents)
    ideal = ideal_sums(ranking, options)[min(cutoff, len(ranking.documents)) - 1]
    marks = marks_of(ranking, steps, options) if ideal > 0 else None
    step = STEPS.get(address.step)
    return Score(
        name,
        "no score" if math.isnan(value) else number(value),
        others,
        marks,
        scale_of(marks) if marks else Scale(0.0, 1.0),
        sum(step.added for step in steps),
        ideal,
        is_hidden=hides_score(address),
        hides_ties=not address.guess and step is not None and step.hides_ties,
    )


def figure_of(
    address: Address, ranking: Ranking, steps: Sequence[Step], best: Sequence[Step]
) -> Figure:
    """Return a ranking beside its ideal order."""
    settings = address.settings
    labels = label_names(settings.options)
    drawing = Drawing.of([ranking], [*steps, *best], labels)
    ranked = [step for step in steps if step.ranks is not None]
    without_rank = [step for step in steps if step.ranks is None]
    missed = [step for step in without_rank if _is_missed(ranking, step.at)]
    removed = [step for step in without_rank if not _is_missed(ranking, step.at)]
    left = entries_of(ranking, ranked, drawing)
    right = entries_of(ranking, best, drawing)
    cutoff = settings.cutoff
    rows = max(len(left), len(right))
    is_own = not address.is_of_example
    return Figure(
        left,
        right,
        [] if settings.word("ideal") == "full" else lines_between(left, right),
        entries_of(ranking, missed, drawing),
        entries_of(ranking, removed, drawing),
        drawing.highest,
        labels,
        cut=None if cutoff is None or cutoff >= rows else cutoff,
        shows_numbers=(is_own or bool(address.step)) and not hides_score(address),
        shows_scores=is_own or any(entry.is_tied for entry in left),
        has_tray=bool(missed) or is_own or address.step == "missing",
        query=query_of_documents(document.name for document in ranking.documents),
        live=live_of(ranking, drawing, settings),
    )


def hides_score(address: Address) -> bool:
    """Return whether the score would answer the guess of the step."""
    return not address.guess and address.step in STEPS and STEPS[address.step].hides_score


def _is_missed(ranking: Ranking, at: int) -> bool:
    """Return whether a document without a rank was not retrieved, not one that was removed."""
    if ranking.order is not None:
        return at not in ranking.order
    return ranking.documents[at].score is None


def live_of(ranking: Ranking, drawing: Drawing, settings: Settings) -> str:
    """Return what the browser needs to sum an order: the discounts, and the ideal DCG by cutoff.

    Where an ideal depends on what was retrieved, or ranks on what was judged, only the metric can
    sum an order with another number of documents.
    """
    options = settings.drawn
    size = len(ranking.documents)
    ranked = [at for at in range(size) if not _is_missed(ranking, at)]
    is_fixed = options["judged_only"] or options["ideal"] in ("retrieved", "truncated")
    values = {
        "discounts": discounts_of(size, options),
        "ideals": ideal_sums(ranking, options),
        "cutoff": settings.cutoff,
        "averages": options["ties"] == "average",
        "count": len(ranked) if is_fixed else None,
        "base": [step.at for step in steps_of(ranking._replace(order=None), options) if step.ranks],
        "widest": drawing.widest,
        "steepest": drawing.steepest,
    }
    return json.dumps(values)


def thread_of(address: Address, score: Score) -> Thread:
    """Return what is said beside the figure, and where it goes on."""
    names = list(STEPS)
    first = ("Next: Gain", Address(step="gain").link())
    if not address.is_of_example:
        text = "This is your own ranking. Drag a card, or press its dots."
        example = ("Back to the example", Address(settings=address.settings).link())
        return Thread("Your ranking", text, "", (), "", "", "", (example,))
    if not address.step:
        is_solved = score.marks is not None and score.marks.score > 1 - SHOWS
        text = OPENING
        if is_solved and score.marks is not None:
            text = SOLVED.format(random=number(score.marks.random))
        title = "Solved" if is_solved else "How good is this order?"
        return Thread(title, text, "", (), "", "", "", (first,))
    step = STEPS[address.step]
    at = names.index(address.step)
    links = [("Back", Address(step=names[at - 1]).link() if at else Address().link())]
    if at + 1 < len(names):
        links.append((f"Next: {STEPS[names[at + 1]].title}", Address(step=names[at + 1]).link()))
    else:
        links.append(("To the start", Address().link()))
    # by alphabet, so that the place does not give the right answer away
    choices = tuple((choice, address.link(guess=choice)) for choice in sorted(step.choices))
    verdict, answer = "", ""
    if address.guess:
        is_right = address.guess == step.choices[0]
        verdict = "Right." if is_right else f"Not quite: {_lower(step.choices[0])}."
        answer = step.answer
    place = f"{at + 1} of {len(names)}"
    return Thread(step.title, step.text, step.guess, choices, verdict, answer, place, tuple(links))


def _lower(text: str) -> str:
    """Return a choice within a sentence."""
    return text if text.startswith("nDCG") else f"{text[0].lower()}{text[1:]}"


def choices_with_scores(address: Address, ranking: Ranking) -> dict[str, list[Choice]]:
    """Return the words of each option, with the score of each, unless that answers the guess."""
    choices = choices_of(address)
    if not address.step or address.guess:
        choices = choices_of(address, lambda *word: _score_with(address, ranking, *word))
    del choices["missing"]  # of other queries
    return choices


def _score_with(address: Address, ranking: Ranking, name: str, word: str) -> str:
    """Return the score of a ranking with another word of an option."""
    options = address.settings.with_word(name, word).drawn
    try:
        (value,) = scores_by_name(ranking, options).values()
    except ValueError:  # such as a full ideal without a cutoff
        return "no score"
    return "no score" if math.isnan(value) else number(value)


def libraries_of(address: Address, ranking: Ranking) -> Libraries:
    """Return the scores of a ranking in 28 libraries."""
    given = ranking.by_id(address.settings.drawn)
    return libraries("", given, address.got, address.settings)


def numbers_of(
    ranking: Ranking, steps: Sequence[Step], best: Sequence[Step]
) -> list[tuple[Any, ...]]:
    """Return every number of the figure as rows, each with what the ideal adds at its place."""
    rows: list[tuple[Any, ...]] = []
    for place, step in enumerate(steps):
        document = ranking.documents[step.at]
        relevance = "not judged" if document.relevance is None else document.relevance
        rank = step.rank or ("not retrieved" if _is_missed(ranking, step.at) else "removed")
        ideal = best[place].added if place < len(best) else 0.0
        figures = (step.gain, step.discount, step.added, ideal)
        rows.append((rank, document.name, relevance, *figures))
    return rows


def own_text(address: Address) -> str:
    """Return the ranking as a text to edit."""
    return "\n".join(csv_text(cell or "-" for cell in row) for row in address.shown_rows)


def page(address: Address, notes: Sequence[Note], shown: Mapping[str, Any]) -> str:
    """Return the place as HTML."""
    values = understand(address, notes)
    return render(
        "understand.html",
        **values,
        **shown,
        title=TITLE,
        numbers_file=csv_address(NUMBERS, values["numbers"]),
        headers=NUMBERS,
        conventions=CONVENTIONS,
        labels=LABELS,
        own_fields=(*RANKING, "step", "guess", "paste"),
    )
