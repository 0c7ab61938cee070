"""The place Understand: one ranking as a picture, beside it the steps, below it 28 libraries."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .address import RANKING, Address, Choice, Note, choices_of, csv_text
from .explanation import Libraries, libraries
from .guide import OF_RUN, OPENING, READERS, SOLVED, STEPS, asked, query_of_documents
from .html import csv_address, number, number_or, render
from .metric import ndcg
from .picture import (
    SHOWS,
    Drawing,
    Entry,
    Line,
    Scale,
    drawn,
    entries_of,
    folded,
    label_names,
    lines_between,
    scale_of,
)
from .ranking import (
    Marks,
    Ranking,
    Step,
    by_rank,
    discounts_of,
    ideal_steps,
    ideal_sums,
    marks_of,
    scores_by_name,
    steps_of,
)
from .settings import CONVENTIONS, LABELS, Settings, snippet

TITLE = "nDCG: how good is this ranking?"
LONG = 20  # documents that are drawn without a fold
SHORT_NAME = 14  # letters of a run that fit above the scale of a narrow window
NUMBERS = ("rank", "document", "relevance", "gain", "discount", "adds", "the ideal adds")


class Thread(NamedTuple):
    """What is said beside the figure."""

    title: str
    text: str
    links: tuple[tuple[str, str], ...]  # texts and addresses, and so are the choices
    guess: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    verdict: str = ""
    answer: str = ""
    is_wrong: bool = False
    place: str = ""  # such as "Lesson 2 of 7"


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
        """The number of rows that are drawn of both orders."""
        return max(len(drawn(self.left)), len(drawn(self.right)), 1)

    @property
    def folded(self) -> int:
        """The number of retrieved documents that are not drawn."""
        return len(self.left) - len(drawn(self.left))

    @property
    def missed_folded(self) -> int:
        """The number of documents that were not retrieved and are not drawn."""
        return len(self.missed) - len(drawn(self.missed))


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
    numbers: list[tuple[Any, ...]] = []
    strips: list[Libraries] = []
    if not address.step:
        numbers = numbers_of(ranking, steps, best)
    if not address.step or _is_last(address):
        strips = [libraries_of(address, ranking)]
    return {
        "address": address,
        "notes": notes,
        "score": score,
        "whose": whose_ranking(address),
        "figure": figure_of(address, ranking, steps, best),
        "thread": thread_of(address, score),
        "choices": choices_with_scores(address, ranking),
        "strips": strips,
        "numbers": numbers,
        "own_text": own_text(address),
        "signature": ndcg.signature(**settings.options),
        "code": snippet(ranking.given(options), settings),
    }


def whose_ranking(address: Address) -> str:
    """Return whose score is on the scale, in a word or two."""
    if not address.run:
        return "yours"
    if len(address.run) > SHORT_NAME:
        return "this run"
    return address.run


def _is_last(address: Address) -> bool:
    """Return whether the step of the libraries is answered, which their scores would do."""
    return address.step == "libraries" and bool(address.guess)


def score_of(address: Address, ranking: Ranking, steps: Sequence[Step]) -> Score:
    """Return the score of a ranking at its largest cutoff."""
    options = address.settings.drawn
    ((name, value),) = scores_by_name(ranking, options).items()
    others = scores_by_name(ranking, address.settings.options)
    del others[name]
    size = len(ranking.documents)
    cutoff = min(address.settings.cutoff or size, size)
    ideal = ideal_sums(ranking, options)[cutoff - 1]
    marks, scale = None, Scale(0.0, 1.0)
    if ideal > 0:
        marks = marks_of(ranking, steps, options)
        scale = scale_of(marks)
    waiting = asked(address.step, address.guess)
    return Score(
        name,
        number_or(value, "no score"),
        tuple(others.items()),
        marks,
        scale,
        sum(step.added for step in steps),
        ideal,
        is_hidden=waiting.hides_score,
        hides_ties=waiting.hides_ties,
    )


def figure_of(
    address: Address, ranking: Ranking, steps: Sequence[Step], best: Sequence[Step]
) -> Figure:
    """Return a ranking beside its ideal order."""
    settings = address.settings
    labels = label_names(settings.options)
    drawing = Drawing.of([ranking], [*steps, *best], labels)
    ranked, others = by_rank(steps)
    missed, removed = [], []
    for step in others:
        if _is_missed(ranking, step.at):
            missed.append(step)
        else:
            removed.append(step)
    left = entries_of(ranking, ranked, drawing)
    right = entries_of(ranking, best, drawing)
    tray = entries_of(ranking, missed, drawing)
    if len(ranking.documents) > LONG and not address.chosen.get("all"):
        cutoff = settings.cutoff or len(ranking.documents)
        left, tray = folded(left, cutoff), folded(tray, 0)
        # below the cutoff, not even a relevant document adds to the ideal
        right = [entry._replace(is_folded=at >= cutoff) for at, entry in enumerate(right)]
    lines = lines_between(drawn(left), drawn(right))
    if settings.word("ideal") == "full":
        lines = []  # since its documents are none of the ranking
    cut = settings.cutoff
    if cut is not None and cut >= max(len(left), len(right)):
        cut = None
    is_own = not address.is_of_example
    is_hidden = asked(address.step, address.guess).hides_score
    return Figure(
        left,
        right,
        lines,
        tray,
        entries_of(ranking, removed, drawing),
        drawing.highest,
        labels,
        cut=cut,
        shows_numbers=(is_own or bool(address.step)) and not is_hidden,
        shows_scores=is_own or any(entry.is_tied for entry in left),
        has_tray=bool(missed) or is_own or address.step == "missing",
        query=query_of_documents(document.name for document in ranking.documents),
        live=live_of(ranking, drawing, settings),
    )


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
    if address.run:
        back = ("Back to the comparison", address.comparison)
        return Thread(f"{address.run} on {address.chosen['query']}", OF_RUN, (back,))
    if not address.is_of_example:
        example = ("Back to the example", Address(settings=address.settings).link())
        return Thread("Your ranking", READERS, (example,))
    if address.step:
        return thread_of_step(address)
    links = (("Next: Gain", Address(step="gain").link()),)
    if score.marks is not None and score.marks.score > 1 - SHOWS:
        return Thread("Solved", SOLVED.format(random=number(score.marks.random)), links)
    return Thread("How good is this order?", OPENING, links)


def thread_of_step(address: Address) -> Thread:
    """Return what is said at a step; without a guess, nothing that answers it."""
    names = list(STEPS)
    step, number_of_step = STEPS[address.step], names.index(address.step) + 1
    before = ["", *names][number_of_step - 1]
    back = ("Back", Address(step=before).link())
    onward = ("To the start", Address().link())
    if number_of_step < len(names):
        after = names[number_of_step]
        onward = (f"Next: {STEPS[after].title}", Address(step=after).link())
    verdict, answer = "", ""
    right = step.choices[0]
    is_wrong = address.guess not in ("", right)
    if address.guess:
        verdict, answer = "Right.", step.answer
        if is_wrong:
            verdict = f"Not quite: {_within_sentence(right)}."
    return Thread(
        step.title,
        step.text,
        (back, onward),
        step.guess,
        # by alphabet, so that the place does not give the right answer away
        tuple((choice, address.link(guess=choice)) for choice in sorted(step.choices)),
        verdict,
        answer,
        is_wrong,
        f"Lesson {number_of_step} of {len(names)}, with a list of its own",
    )


def _within_sentence(choice: str) -> str:
    if choice.startswith("nDCG"):
        return choice
    return f"{choice[0].lower()}{choice[1:]}"


def choices_with_scores(address: Address, ranking: Ranking) -> dict[str, list[Choice]]:
    """Return the words of every option, with their scores unless these answer the guess."""
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
    return number_or(value, "no score")


def libraries_of(address: Address, ranking: Ranking) -> Libraries:
    """Return the scores of a ranking in 28 libraries."""
    given = ranking.by_id(address.settings.drawn)
    return libraries("", given, address.got, address.settings)


def numbers_of(
    ranking: Ranking, steps: Sequence[Step], best: Sequence[Step]
) -> list[tuple[Any, ...]]:
    """Return every number of the figure as rows, with what the ideal order adds at this rank."""
    # the ideal order may have fewer places
    ideal = [step.added for step in best] + [0.0] * len(steps)
    rows: list[tuple[Any, ...]] = []
    for step, ideal_adds in zip(steps, ideal, strict=False):
        document = ranking.documents[step.at]
        rank, relevance = step.rank, document.relevance
        if relevance is None:
            relevance = "not judged"
        if step.ranks is None:
            rank = "removed"
            if _is_missed(ranking, step.at):
                rank = "not retrieved"
        figures = (step.gain, step.discount, step.added, ideal_adds)
        rows.append((rank, document.name, relevance, *figures))
    return rows


def own_text(address: Address) -> str:
    """Return the ranking as a text to edit."""
    lines = []
    for row in address.shown_rows:
        # an empty cell would be lost when the text is read again
        lines.append(csv_text(cell or "-" for cell in row))
    return "\n".join(lines)


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
        own_fields=(*RANKING, "step", "guess", "paste", "run", "all"),
    )
