"""The address of the page: it holds everything that is shown, so that a link shows the same."""

import csv
import io
import urllib.parse
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from .columns import NO_COLUMNS, read_columns, with_column
from .guide import LESSONS, STEPS, query_of_documents
from .html import sentence
from .metric import tables
from .paste import pasted_rows, usual_columns
from .ranking import Ranking, Row, ranking_of
from .settings import (
    CHOICES,
    CONVENTIONS,
    NO_WORDS,
    Settings,
    Words,
    in_words,
    label_names,
    whole_number,
)

PLACES = ("understand", "compare")
LONGEST = 6000  # characters in an address that browsers and servers accept
LONGEST_SCORE = 30
RANKING = ("rel", "ids", "scores", "order", "grade")
FILES = ("files", "judgments", "groups", "columns")
# of runs; and in Understand, from where in Compare its ranking was opened
CHOSEN = (*FILES, "measure", "base", "other", "query", "sort", "libraries", "run", "all")
SETTINGS = ("convention", "k", *CHOICES, "log_base")
ONE_OF = {"convention": list(CONVENTIONS), **CHOICES}
del ONE_OF["gain"]  # which may be one for every label
NOTHING = "-"  # an order without documents
OF_OTHERS = ("__", "utm_")  # parameters of Gradio and of trackers begin with these


class Note(NamedTuple):
    """A remark on what is shown, and a link that changes it."""

    text: str
    link: str = ""
    does: str = ""  # the text of the link
    pasted: str | None = None  # the text at fault, which stays in its box


class Address(NamedTuple):
    """What the page shows."""

    place: str = "understand"
    settings: Settings = Settings()
    step: str = ""
    guess: str = ""
    rows: tuple[Row, ...] = ()  # of the reader's ranking; empty for the ranking of the step
    order: str = ""  # of a reader, such as "3,1*,2"; empty: by score
    got: str = ""  # the score of a paper
    chosen: Words = NO_WORDS  # the files, and what is looked at, of runs

    @property
    def run(self) -> str:
        """The run whose ranking of a query is shown; empty for any other ranking."""
        if not self.rows:
            return ""
        return self.chosen.get("run", "")

    @property
    def search(self) -> str:
        """The search of the example, if all documents are its, in whatever order."""
        return query_of_documents(row[0] for row in self.shown_rows)

    @property
    def shown_rows(self) -> Sequence[Row]:
        """The documents, with relevance and score as text, before any was moved."""
        return self.rows or STEPS[self.step].rows

    def ranking(self) -> Ranking:
        """Return the ranking that is shown."""
        ranking = ranking_of(self.shown_rows, self.settings.drawn)
        if not self.order:
            return ranking
        order, moved = order_of(len(ranking.documents), self.order)
        return replace(ranking, order=order, moved=moved)

    def query(self, **changes: Any) -> str:
        """Return the address, after its ?, with some changes."""
        return urllib.parse.urlencode(self._replace(**changes)._parameters(), safe=",*")

    def link(self, **changes: Any) -> str:
        """Return a link to the page with some changes."""
        return f"?{self.query(**changes)}"

    def choose(self, **chosen: str) -> str:
        """Return a link to the page with another choice within the runs."""
        return self.link(chosen={**self.chosen, **chosen})

    def read_as(self, file: str, column: str | None, role: str) -> str:
        """Return a link to the page with a column of a file in another role."""
        columns = self.chosen.get("columns", NO_COLUMNS)
        return self.choose(columns=with_column(columns, file, role, column))

    def set(self, name: str, word: str) -> str:
        """Return a link to the page with another word of an option, or another convention."""
        return self.link(settings=self.settings.with_word(name, word))

    @property
    def start(self) -> str:
        """A link to the example in Understand, with the settings."""
        return Address(settings=self.settings).link()

    @property
    def comparison(self) -> str:
        """A link to the comparison from which a ranking was opened, as it was left."""
        chosen = {**self.chosen, "run": "", "all": ""}
        return Address(place="compare", settings=self.settings, chosen=chosen).link()

    def hidden_fields(self, fields: Collection[str] = SETTINGS) -> list[tuple[str, str]]:
        """Return the parts of the address that a form with some fields has none for."""
        parameters = self._parameters()
        return [(name, text) for name, text in parameters.items() if name not in fields]

    def _parameters(self) -> dict[str, str]:
        settings = self.settings
        rows = self.rows
        parameters = {"tab": self.place, "step": self.step, "guess": self.guess}
        for place, name in enumerate(("ids", "rel", "scores")):
            parameters[name] = csv_text(row[place] for row in rows)
        parameters |= {"order": self.order, "k": settings.k, "convention": settings.convention}
        parameters |= settings.chosen
        parameters |= {"got": self.got, **self.chosen}
        # defaults are left out, so that the plain address is that of the start
        usual = {"tab": "understand", "k": "10", "convention": "sklearn"}
        usual["ids"], usual["scores"] = map(csv_text, usual_columns(len(rows)))
        shown = {}
        for name, text in parameters.items():
            if text not in ("", usual.get(name)):
                shown[name] = text
        return shown


def csv_text(cells: Iterable[str]) -> str:
    """Return cells as a line of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def read_address(parameters: Words) -> tuple[Address, list[Note]]:
    """Return what an address shows, and a note for every part that cannot be read.

    Such a part has its default.
    """
    reader = _Reader(parameters)
    place = reader.choice("tab", "understand", PLACES)
    step = reader.choice("step", "", list(LESSONS))
    settings = reader.settings()
    guess = reader.choice("guess", "", STEPS[step].choices)
    address = Address(place, settings, step, guess)
    # whether the files have what is chosen is seen in Compare, which reads them
    chosen = {**parameters, "columns": reader.read("columns", "", columns_text)}
    if place == "understand":
        address = reader.ranking(address)
    address = address._replace(
        got=reader.read("got", "", score_text),
        chosen={name: chosen[name] for name in CHOSEN if chosen.get(name)},
    )
    return address, [*reader.notes, *reader.unknown()]


class _Reader:
    """Read the parts of an address, and note the faults."""

    def __init__(self, parameters: Words) -> None:
        self.parameters = parameters
        self.notes: list[Note] = []

    def note(self, name: str, problem: Any) -> None:
        """Note that a part is at fault, and with which link it is not."""
        link = getattr(problem, "link", ())
        # It may be of a link, or was typed into a field.
        says, pasted = f"{name}={self.parameters.get(name, ''):.40} was not read:", None
        if name == "paste":
            says, pasted = "The ranking was not read:", self.parameters[name]
        note = Note(sentence(f"{says} {in_words(problem)}"), *link)
        self.notes.append(note._replace(pasted=pasted))

    def read(self, name: str, otherwise: Any, value_of: Callable[[str], Any]) -> Any:
        """Return a part, or its default."""
        if name not in self.parameters:
            return otherwise
        try:
            return value_of(self.parameters[name])
        except (ValueError, csv.Error) as problem:
            self.note(name, problem)
            return otherwise

    def choice(self, name: str, otherwise: str, choices: Iterable[str]) -> Any:
        """Return a part that is one of some words, or its default."""
        return self.read(name, otherwise, partial(one_of, list(choices)))

    def settings(self) -> Settings:
        """Return the settings; an option that fits no other has its default."""
        settings = Settings()
        # one after another, so that the first that does not fit the others is noted
        for name in SETTINGS:
            settings = self.read(name, settings, partial(with_word, settings, name))
        return settings

    def ranking(self, address: Address) -> Any:
        """Return the address with its ranking; a faulty one is that of the step."""
        rows = self._rows()
        address = self.read("rel", address, lambda _: with_rows(address, rows))
        address = self.read("paste", address, partial(with_pasted, address))
        address = self.read("grade", address, partial(graded, address))
        try:
            address.ranking()
        except ValueError as problem:  # such as relevances without a gain
            self.note("gain", problem)
            usual = Settings(address.settings.k, address.settings.convention)
            address = address._replace(settings=usual, rows=())
        return self.read("order", address, partial(ordered, address))

    def _rows(self) -> tuple[Row, ...]:
        relevance = self.read("rel", [], cells_of)
        ids, scores = usual_columns(len(relevance))
        beside = partial(cells_beside, relevance)
        ids, scores = self.read("ids", ids, beside), self.read("scores", scores, beside)
        return tuple(zip(ids, relevance, scores, strict=True))

    def unknown(self) -> list[Note]:
        """Return a note on every part that the page does not know."""
        names = {"tab", "step", "guess", "got", "paste", *RANKING, *SETTINGS, *CHOSEN}
        unknown = sorted(self.parameters.keys() - names)
        return [
            Note(f"The address has {name:.40}, which this page does not know.")
            for name in unknown
            if not name.startswith(OF_OTHERS)
        ]


def one_of(choices: Sequence[str], text: str) -> str:
    """Return one of some words, after a check."""
    if not choices:
        raise ValueError("nothing is asked here")
    if text not in choices:
        raise ValueError(f"it must be one of {', '.join(choices)}")
    return text


def score_text(text: str) -> str:
    """Return the score of a paper, after a check of its length."""
    if len(text) > LONGEST_SCORE:
        raise ValueError(f"it must have at most {LONGEST_SCORE} characters")
    return text.strip()


def columns_text(text: str) -> str:
    """Return the columns of files as text, after a check."""
    read_columns(text)
    return text


def with_word(settings: Settings, name: str, word: str) -> Settings:
    """Return settings with another word of an option, after a check."""
    if name in ONE_OF:
        one_of(ONE_OF[name], word)
    changed = settings.with_word(name, word)
    changed.check()
    return changed


def cells_of(text: str) -> list[str]:
    """Return the cells of a column."""
    lines: list[list[str]] = [*csv.reader(text.splitlines()), []]
    cells = list(map(str.strip, lines[0]))
    if len(lines) > 2:
        raise ValueError("it must be one line")
    # half of a surrogate pair could not be sent
    return [cell.encode("utf-8", "replace").decode() for cell in cells]


def cells_beside(relevance: Sequence[str], text: str) -> list[str]:
    """Return the cells of a column beside that of the relevances."""
    cells, size = cells_of(text), len(relevance)
    if len(cells) != size:
        raise ValueError(f"it must have as many cells as rel, {size}; it has {len(cells)}")
    return cells


def with_rows(address: Address, rows: tuple[Row, ...]) -> Address:
    """Return an address with another ranking, after a check."""
    changed = address._replace(rows=rows)
    try:
        changed.ranking()
    except tables.InputError as problem:  # of a negative relevance
        problem.link = changed.set("negative_relevance", "clip"), "Count it as 0"
        raise
    return changed


def with_pasted(address: Address, text: str) -> Address:
    """Return an address with a pasted ranking, after a check."""
    labels = label_names(address.settings.options)
    return with_rows(address._replace(step="", guess=""), pasted_rows(text, labels))


def graded(address: Address, text: str) -> Address:
    """Return an address with the relevance of some documents changed, as in "4:3,1:0"."""
    rows = [list(row) for row in address.shown_rows]
    for part in text.split(","):
        number, _, relevance = part.partition(":")
        rows[place_of(len(rows), number)][1] = relevance
    return with_rows(address, tuple(map(tuple, rows)))


def ordered(address: Address, text: str) -> Address:
    """Return an address with another order, after a check."""
    changed = address._replace(order=text)
    changed.ranking()
    return changed


def order_of(size: int, text: str) -> tuple[tuple[int, ...], frozenset[int]]:
    """Return the places of the ranked documents, and of the moved ones, from "3,1*,2"."""
    if text == NOTHING:
        return (), frozenset()
    parts = text.split(",")
    order = tuple(map(partial(place_of, size), parts))
    if len(set(order)) < len(order):
        raise ValueError("it has a document twice")
    moved = {place for place, part in zip(order, parts, strict=True) if part.endswith("*")}
    return order, frozenset(moved)


def place_of(size: int, part: str) -> int:
    """Return the place of a document from its number, which may end in a star."""
    number = whole_number(part.removesuffix("*"), size)
    if not number:
        raise ValueError(f"{part[:10]!r} is not the number of a document, 1 to {size}")
    return number - 1
