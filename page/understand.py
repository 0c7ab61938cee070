"""The place Understand: one ranking as a picture, beside it the steps, below it 28 libraries."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from . import guide
from .address import RANKING, Address, Note, csv_text
from .explanation import libraries
from .guide import LESSONS, STEPS, Lesson
from .html import csv_address, number, render
from .metric import ndcg
from .paste import usual_columns
from .picture import SHOWS, Axis, Drawing, drawn, folded, lines_between
from .ranking import Ranking, Row
from .settings import CHOICES, NO_WORDS, Settings, label_names, snippet

TITLE = "nDCG: how good is this ranking?"
LONG = 20  # documents that are drawn without a fold
NUMBERS = ("rank", "document", "relevance", "gain", "discount", "adds", "the ideal adds")


# a ranking alone has no other queries, of which some may be missing
ONE_QUERY = {name: words for name, words in CHOICES.items() if name != "missing"}


class Thread(NamedTuple):
    """What is said beside the figure."""

    title: str
    text: str
    links: tuple[tuple[str, str], ...]  # texts and addresses
    place: str = ""  # such as "Lesson 2 of 7"
    restart: str = ""  # the address of the lesson as it began, if it was changed
    lesson: Lesson | None = None
    guesses: Mapping[str, str] = NO_WORDS  # addresses by choice
    verdict: str = ""  # on the guess, if there is one


def page(address: Address, notes: Sequence[Note], shown: Mapping[str, Any]) -> str:
    """Return the place as HTML."""
    settings, ranking = address.settings, address.ranking()
    labels = label_names(ranking.options)
    # after the guess, nothing is asked and hidden, as at the start
    asked = STEPS["" if address.guess else address.step]
    figure = figure_of(address, ranking, bool(labels), asked)
    score = score_of(address, ranking)
    numbers = numbers_of(ranking)
    scores, strips = {}, []
    # before the guess, other scores would answer it
    if not asked.guess:
        scores = scores_by_word(settings, ranking)
        if address.step in ("", "libraries"):
            strips = [libraries("", ranking.by_id, address.got, settings)]
    return render(
        "understand.html",
        **shown,
        address=address,
        notes=notes,
        title=TITLE,
        score=score,
        whose="this run" if address.run else "yours",
        asked=asked,
        figure=figure,
        labels=labels,
        live=live_of(ranking, figure["drawing"]),
        thread=thread_of(address, score),
        choices=ONE_QUERY,
        scores=scores,
        strips=strips,
        numbers=numbers,
        numbers_file=csv_address(NUMBERS, numbers),
        headers=NUMBERS,
        text=rows_as_text(address.shown_rows),
        text_fields=(*RANKING, "step", "guess", "paste", "run", "all"),
        signature=ndcg.signature(**settings.options),
        code=snippet(ranking.sides, settings),
    )


def rows_as_text(rows: Sequence[Row]) -> str:
    """Return the rows of a ranking as text that the page can read again."""
    columns = ["document", "relevance"]
    if has_scores(rows):
        columns.append("score")
    lines = [csv_text(columns)]
    for row in rows:
        # without a dash, an empty cell would be lost
        lines.append(csv_text(cell or "-" for cell in row[: len(columns)]))
    return "\n".join(lines)


def has_scores(rows: Sequence[Row]) -> bool:
    """Return whether the scores of a ranking are not those that the page fills in."""
    _, usual_scores = usual_columns(len(rows))
    return [score for _, _, score in rows] != usual_scores


def score_of(address: Address, ranking: Ranking) -> dict[str, Any]:
    """Return what is shown of the score at the largest cutoff, and where it stands."""
    ((name, value),) = ranking.scores.items()
    others = replace(ranking, options=address.settings.options).scores
    del others[name]
    dcg, ideal = sum(step.added for step in ranking.steps), ranking.ideal_sum
    score = {"name": name, "value": value, "others": others, "dcg": dcg, "ideal": ideal}
    # without a relevant document, all orders are alike
    if not ideal > 0:
        return {**score, "estimate": None}
    estimate, worst = ranking.estimate, ranking.worst
    ends = [estimate.value, worst, estimate.random_order, estimate.worst, estimate.best]
    return {**score, "estimate": estimate, "worst": worst, "axis": Axis.over(ends)}


def figure_of(
    address: Address, ranking: Ranking, has_labels: bool, asked: Lesson
) -> dict[str, Any]:
    """Return a ranking beside its ideal order, without what would answer a guess."""
    left, right = ranking.ranked, ranking.ideal
    missed, removed = [], []
    for step in ranking.unranked:
        if ranking.is_retrieved(step.at):
            removed.append(step)
        else:
            missed.append(step)
    cutoff = ranking.depth
    if len(ranking.documents) > LONG and not address.chosen.get("all"):
        # below the cutoff nothing counts, but a document above it in the ideal order could
        kept = {*ranking.moved, *(step.at for step in right[:cutoff])}
        left, missed = folded(left, cutoff, kept), folded(missed, 0, kept)
        right = folded(right, cutoff, ())
    lines = lines_between(drawn(left), drawn(right))
    if ranking.options["ideal"] == "full":
        lines = []  # since its documents are none of the ranking
    is_readers = not address.search
    is_tied = any(step.is_tied for step in left)
    rows = max(len(drawn(left)), len(drawn(right)), 1)
    return {
        "drawing": Drawing.of([*ranking.steps, *ranking.ideal], has_labels),
        "left": left,
        "right": right,
        "rows": rows,
        "lines": lines,
        "missed": missed,
        "removed": removed,
        "moved": ranking.moved,
        "cut": min(cutoff, rows),  # the last row that counts
        "shows_numbers": (is_readers or bool(address.step)) and not asked.hides_score,
        "shows_scores": is_tied or (is_readers and has_scores(address.shown_rows)),
    }


def live_of(ranking: Ranking, drawing: Drawing) -> str:
    """Return what the browser needs to sum an order: the discounts, and the ideal DCG by cutoff.

    Where an ideal depends on what was retrieved, or ranks on what was judged, only the metric can
    sum an order with another number of documents.
    """
    options, count = ranking.options, None
    if options["judged_only"] or options["ideal"] in ("retrieved", "truncated"):
        count = sum(map(ranking.is_retrieved, range(len(ranking.documents))))
    (cutoff,) = options["k"]
    values = {
        "discounts": ranking.discounts,
        "ideals": ranking.ideal_sums,
        "cutoff": cutoff,
        "averages": options["ties"] == "average",
        "count": count,
        "base": [step.at for step in replace(ranking, order=None).ranked],
        "widest": drawing.widest,
        "steepest": drawing.steepest,
    }
    return json.dumps(values)


def thread_of(address: Address, score: Mapping[str, Any]) -> Thread:
    """Return what is said beside the figure, and where it goes on."""
    if address.run:
        back = ("Back to the comparison", address.comparison)
        return Thread(f"{address.run} on {address.chosen.get('query')}", guide.OF_RUN, (back,))
    if address.step and address.search:
        return thread_of_step(address)
    if address.rows:
        back = ("Back to the example", address.start)
        return Thread("Your ranking", guide.READERS, (back,))
    onward = ("Next: Gain", Address(step="gain").link())
    estimate = score["estimate"]
    if estimate is None or estimate.value < 1 - SHOWS:
        return Thread("How good is this order?", guide.OPENING, (onward,))
    text = guide.SOLVED.format(random=number(estimate.random_order))
    return Thread("Solved", text, (onward,))


def thread_of_step(address: Address) -> Thread:
    """Return what is said at a step; without a guess, nothing that answers it."""
    lesson, names = LESSONS[address.step], ["", *LESSONS, ""]
    place = names.index(address.step)
    begun = Address(step=address.step, guess=address.guess)
    restart = ""
    if address._replace(got="", chosen=NO_WORDS) != begun:
        restart = begun.link()
    # a guess is about the lesson as it began
    guesses = {choice: begun.link(guess=choice) for choice in lesson.choices}
    before, after = names[place - 1], names[place + 1]
    verdict, goes_on = "", "Skip to"
    if address.guess:
        verdict, goes_on = "Right.", "Next:"
    right = lesson.choices[0]
    if address.guess not in ("", right):
        within = right[0].lower() + right[1:]
        verdict = f"Not quite: {within}."
    onward = f"{goes_on} {STEPS[after].title}"
    links = (("Back", Address(step=before).link()), (onward, Address(step=after).link()))
    where = f"Lesson {place} of {len(LESSONS)}, with a list of its own"
    return Thread(lesson.title, lesson.text, links, where, restart, lesson, guesses, verdict)


def scores_by_word(settings: Settings, ranking: Ranking) -> dict[tuple[str, str], float]:
    """Return the score of a ranking with every word of every option; nan if there is none."""
    scores = {}
    for name, words in CHOICES.items():
        for word in words:
            options = settings.with_word(name, word).drawn
            scores[name, word] = math.nan
            with suppress(ValueError):  # such as of a full ideal without a cutoff
                (scores[name, word],) = replace(ranking, options=options).scores.values()
    return scores


def numbers_of(ranking: Ranking) -> list[tuple[Any, ...]]:
    """Return every number of the figure as rows, with what the ideal order adds at this rank."""
    # the ideal order may have fewer places
    ideal = [step.added for step in ranking.ideal] + [0.0] * len(ranking.steps)
    rows: list[tuple[Any, ...]] = []
    for step, ideal_adds in zip(ranking.steps, ideal, strict=False):
        relevance = step.document.relevance
        if relevance is None:
            relevance = "not judged"
        figures = (step.gain, step.discount, step.added, ideal_adds)
        rows.append((step.rank or "not ranked", step.document.name, relevance, *figures))
    return rows
