"""The address of the page: it holds everything that is shown, so that a link shows the same."""

import csv
import io
import urllib.parse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .columns import read_columns, with_column
from .guide import STEPS, begun_rows, query_of_documents
from .html import is_number, sentence
from .metric import tables
from .paste import pasted_rows
from .ranking import MOST_DOCUMENTS, Ranking, Row, ranking_of
from .settings import CHOICES, CONVENTIONS, OTHERS, Settings, in_words, said

PLACES = ("understand", "compare")
LONGEST = 6000  # characters in an address that browsers and servers accept
LONGEST_SCORE = 30
RANKING = ("rel", "ids", "scores", "order", "grade")
CHOSEN = (  # of runs; and in Understand, from where in Compare its ranking was opened
    "files",
    "judgments",
    "groups",
    "columns",
    "measure",
    "base",
    "other",
    "query",
    "sort",
    "libraries",
    "run",
    "all",
)
NOTHING = "-"  # an order without documents
OF_OTHERS = ("__", "utm_")  # how parameters begin that are not the page's


class Note(NamedTuple):
    """A remark on what is shown, and a link that changes it."""

    text: str
    link: str = ""
    does: str = ""  # the text of the link


class Address(NamedTuple):
    """What the page shows."""

    place: str = "understand"
    settings: Settings = Settings()
    step: str = ""
    guess: str = ""
    rows: tuple[Row, ...] = ()  # of the reader's ranking; none for that of the step
    order: tuple[int, ...] | None = None  # the places of the ranked documents; None: by score
    moved: frozenset[int] = frozenset()
    got: str = ""  # the score of a paper
    chosen: Mapping[str, str] = {}  # the files, and what is looked at, of runs

    @property
    def run(self) -> str:
        """The run whose ranking of a query is shown; empty for any other ranking."""
        if not self.rows or not self.chosen.get("query"):
            return ""
        return self.chosen.get("run", "")

    @property
    def is_of_example(self) -> bool:
        """Whether the documents are those of the example, in whatever order."""
        return bool(query_of_documents(row[0] for row in self.shown_rows))

    @property
    def shown_rows(self) -> Sequence[Row]:
        """The documents, with relevance and score as text, before any was moved."""
        return self.rows or begun_rows(self.step)

    def ranking(self) -> Ranking:
        """Return the ranking that is shown."""
        ranking = ranking_of(self.shown_rows, self.settings.options)
        return ranking._replace(order=self.order, moved=self.moved)

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
        return self.choose(columns=with_column(self.chosen.get("columns", ""), file, role, column))

    def set(self, name: str, word: str) -> str:
        """Return a link to the page with another word of an option."""
        return self.link(settings=self.settings.with_word(name, word))

    def as_convention(self, convention: str) -> str:
        """Return a link to the page with the options of a convention."""
        return self.link(settings=Settings(self.settings.k, convention))

    def go(self, place: str) -> str:
        """Return a link to a place, with the settings; from a run, back to its comparison."""
        if place == "compare":
            return self.comparison
        return Address(place=place, settings=self.settings).link()

    @property
    def comparison(self) -> str:
        """A link to the comparison from which a ranking was opened, as it was left."""
        chosen = {**self.chosen, "run": "", "all": ""}
        return Address(place="compare", settings=self.settings, chosen=chosen).link()

    def said(self, name: str) -> str:
        """Return the word of an option as the page writes it."""
        return said(name, self.settings.word(name))

    def hidden_fields(self, *fields: str) -> list[tuple[str, str]]:
        """Return the parts of the address that a form has no fields for.

        Without `fields`, it is the form of the settings, which has all of theirs.
        """
        names = fields or ("k", "convention", *CHOICES, *OTHERS)
        parameters = self._parameters()
        return [(name, text) for name, text in parameters.items() if name not in names]

    def _parameters(self) -> dict[str, str]:
        settings = self.settings
        parameters = {"tab": self.place, "step": self.step, "guess": self.guess}
        parameters |= self._ranking_parameters()
        parameters |= {"k": settings.k, "convention": settings.convention, **settings.chosen}
        parameters |= {"got": self.got, **self.chosen}
        # defaults are left out, so that the plain address is that of the start
        usual = {"tab": "understand", "k": "10", "convention": "sklearn"}
        shown = {}
        for name, text in parameters.items():
            if text and text != usual.get(name):
                shown[name] = text
        return shown

    def _ranking_parameters(self) -> dict[str, str]:
        """Return what differs from the ranking that the step begins with."""
        parameters: dict[str, str] = {}
        if self.rows:
            parameters |= column_parameters(self.rows)
        if self.order is not None:
            parameters["order"] = order_text(self.order, self.moved)
        return parameters


def column_parameters(rows: Sequence[Row]) -> dict[str, str]:
    """Return the columns of a ranking, without usual names and scores."""
    ids, relevance, scores = map(list, zip(*rows, strict=True))
    usual_ids, usual_scores = usual_columns(len(rows))
    # one document that is not judged leaves nothing, which would be no ranking
    parameters = {"rel": csv_text(relevance) or '""'}
    if ids != usual_ids:
        parameters["ids"] = csv_text(ids)
    if scores != usual_scores:
        parameters["scores"] = csv_text(scores)
    return parameters


def usual_columns(size: int) -> tuple[list[str], list[str]]:
    """Return the names and the scores of documents that need not be in an address."""
    return [f"d{rank}" for rank in range(1, size + 1)], [str(score) for score in range(size, 0, -1)]


def order_text(order: Sequence[int], moved: Collection[int]) -> str:
    """Return an order as it is in an address, such as "3,1*,2"."""
    parts = []
    for place in order:
        part = f"{place + 1}"
        if place in moved:
            part += "*"
        parts.append(part)
    return ",".join(parts) or NOTHING


def csv_text(cells: Iterable[str]) -> str:
    """Return cells as a line of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def read_address(parameters: Mapping[str, str]) -> tuple[Address, list[Note]]:
    """Return what an address shows, and a note for each part that cannot be read.

    Such a part has its default.
    """
    reader = _Reader(parameters)
    place = reader.read("tab", "understand", one_of(PLACES))
    step = reader.read("step", "", one_of(STEPS))
    settings = reader.settings()
    address = Address(place, settings, step, reader.read("guess", "", guess_in(step)))
    # whether the files have what is chosen is seen in Compare, which reads them
    chosen = {name: parameters.get(name, "") for name in CHOSEN}
    chosen["columns"] = reader.read("columns", "", columns_text)
    if place == "understand":
        address = reader.ranking(address)
    address = address._replace(
        got=reader.read("got", "", at_most(LONGEST_SCORE)),
        chosen={name: text for name, text in chosen.items() if text},
    )
    return address, [*reader.notes, *reader.unknown()]


class _Reader:
    """Read the parts of an address, and note the faults."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self.parameters = parameters
        self.notes: list[Note] = []

    def note(self, name: str, problem: Any) -> None:
        """Note that a part is at fault."""
        if name == "paste":
            self.notes.append(Note(sentence(f"The ranking was not read: {in_words(problem)}")))
            return
        text = self.parameters.get(name, "")
        if len(text) > 40:
            text = f"{text[:40]}…"
        says = f"The address has {name}={text}, but {in_words(problem)}"
        self.notes.append(Note(sentence(says)))

    def read(self, name: str, otherwise: Any, value_of: Callable[[str], Any]) -> Any:
        """Return a part, or its default."""
        if name not in self.parameters:
            return otherwise
        try:
            return value_of(self.parameters[name])
        except (ValueError, csv.Error) as problem:
            self.note(name, problem)
            return otherwise

    def settings(self) -> Settings:
        """Return the settings; an option that fits no other has its default."""
        convention = self.read("convention", "sklearn", one_of(CONVENTIONS))
        settings = Settings(self.read("k", "10", cutoffs_text), convention)
        # one after another, so that the first that does not fit the others is noted
        for name in (*CHOICES, *OTHERS):
            usual = settings.word(name)
            changed = settings.with_word(name, self.read(name, usual, word_of(name)))
            try:
                changed.check()
                settings = changed
            except ValueError as problem:
                self.note(name if name in self.parameters else "k", problem)
        return settings

    def ranking(self, address: Address) -> Address:
        """Return the address with its ranking; a faulty one is that of the step."""
        name, rows = "rel", self._rows()
        if self.parameters.get("paste", "").strip():
            name = "paste"
            rows = self.read(name, rows, lambda text: tuple(map(tuple, pasted_rows(text))))
        if rows:
            address = self._with_rows(address, name, rows)
        if "grade" in self.parameters:
            address = self._graded(address)
        if name == "paste":
            # an order in the address would be that of the ranking before
            return address._replace(step="", guess="")
        try:
            size = len(address.ranking().documents)
        except ValueError as problem:  # such as relevances without a gain
            self.note("gain", problem)
            usual = Settings(address.settings.k, address.settings.convention)
            address = address._replace(settings=usual, rows=())
            size = len(address.ranking().documents)
        order, moved = self.read("order", (None, frozenset()), lambda text: order_of(text, size))
        return address._replace(order=order, moved=moved)

    def _with_rows(self, address: Address, name: str, rows: tuple[Row, ...]) -> Address:
        """Return the address with the rows of a part, unless they are no ranking."""
        with_rows = address._replace(rows=rows)
        try:
            ranking_of(rows, address.settings.options)
        except ValueError as problem:
            self.note(name, problem)
            self._offer_clip(with_rows, problem)
            return address
        return with_rows

    def _graded(self, address: Address) -> Address:
        """Return the address with the relevance of some documents changed, as in "4:3,1:0"."""

        def read(text: str) -> tuple[Row, ...]:
            rows = [list(row) for row in address.shown_rows]
            for part in text.split(","):
                number, _, relevance = part.partition(":")
                rows[place_of(number, len(rows))][1] = relevance
            ranking_of(rows, address.settings.options)
            return tuple(map(tuple, rows))

        return address._replace(rows=self.read("grade", address.rows, read))

    def _offer_clip(self, address: Address, problem: ValueError) -> None:
        """Give the last note a link that counts a negative relevance as 0, if that was at fault."""
        if isinstance(problem, tables.InputError) and "negative_relevance" in problem.options:
            link = address.set("negative_relevance", "clip")
            self.notes[-1] = self.notes[-1]._replace(link=link, does="Count it as 0")

    def _rows(self) -> tuple[Row, ...]:
        """Return the rows of relevance, ids and scores."""
        relevance = self.read("rel", [], cells_of)
        ids, scores = usual_columns(len(relevance))
        ids = self.read("ids", ids, cells_of_size(len(relevance)))
        scores = self.read("scores", scores, cells_of_size(len(relevance)))
        return tuple(zip(ids, relevance, scores, strict=True))

    def unknown(self) -> list[Note]:
        """Return a note on each part that the page does not know."""
        known = ("tab", "step", "guess", "got", "paste", "k", "convention")
        names = {*known, *RANKING, *CHOICES, *OTHERS, *CHOSEN}
        notes = []
        for name in self.parameters:
            if name not in names and not name.startswith(OF_OTHERS):
                text = f"The address has {name[:40]}, which this page does not know."
                notes.append(Note(text))
        return notes


def one_of(choices: Iterable[str]) -> Callable[[str], str]:
    """Return a reader of one of some words."""
    words = list(choices)

    def read(text: str) -> str:
        if not words:
            raise ValueError("nothing is asked here")
        if text not in words:
            raise ValueError(f"it must be one of {', '.join(words)}")
        return text

    return read


def guess_in(step: str) -> Callable[[str], str]:
    """Return a reader of a guess of a step."""
    return one_of(STEPS[step].choices if step in STEPS else ())


def at_most(characters: int) -> Callable[[str], str]:
    """Return a reader of a short text."""

    def read(text: str) -> str:
        if len(text) > characters:
            raise ValueError(f"it must have at most {characters} characters")
        return text.strip()

    return read


def cutoffs_text(text: str) -> str:
    """Return cutoffs as text, after a check."""
    settings = Settings(text[:200])
    settings.check()
    return text.strip()


def columns_text(text: str) -> str:
    """Return the columns of files as text, after a check."""
    read_columns(text)
    return text


def word_of(name: str) -> Callable[[str], str]:
    """Return a reader of a word of an option."""
    if name in ("gain", "log_base"):
        return lambda text: _checked_word(name, text)
    return one_of(CHOICES[name])


def _checked_word(name: str, text: str) -> str:
    """Return the base of the logarithm, or a gain, which may be one for each label."""
    if name == "log_base" and not is_number(text):
        raise ValueError("it must be a number above 1")
    Settings().with_word(name, text).check()
    return text


def cells_of(text: str) -> list[str]:
    """Return the cells of a column."""
    first, *others = text.splitlines() or [""]
    cells = [cell.strip() for cell in next(csv.reader([first]), [])]
    if others or len(cells) > MOST_DOCUMENTS:
        raise ValueError(f"it must be one line of at most {MOST_DOCUMENTS} documents")
    # half of a surrogate pair could not be sent
    return [cell.encode("utf-8", "replace").decode() for cell in cells]


def cells_of_size(size: int) -> Callable[[str], list[str]]:
    """Return a reader of the cells of a column that belongs to another."""

    def read(text: str) -> list[str]:
        cells = cells_of(text)
        if not size:
            raise ValueError("it belongs to rel, which is not there")
        if len(cells) != size:
            raise ValueError(f"it must have {size} cells, as rel has; it has {len(cells)}")
        return cells

    return read


def order_of(text: str, size: int) -> tuple[tuple[int, ...], frozenset[int]]:
    """Return the places of the ranked documents, and of the moved ones, from "3,1*,2"."""
    if text == NOTHING:
        return (), frozenset()
    order, moved = [], set()
    for part in text.split(","):
        place = place_of(part, size)
        order.append(place)
        if part.endswith("*"):
            moved.add(place)
    if len(set(order)) < len(order):
        raise ValueError("it has a document twice")
    return tuple(order), frozenset(moved)


def place_of(part: str, size: int) -> int:
    """Return the place of a document from its number, which may end in a star."""
    number = part.removesuffix("*")
    is_number = number.isascii() and number.isdigit()
    if not is_number or not 1 <= int(number) <= size:
        raise ValueError(f"{part[:10]!r} is none of the {size} documents")
    return int(number) - 1


class Choice(NamedTuple):
    """A word of an option, and the score with it; none where it is not shown."""

    word: str
    said: str
    link: str
    is_chosen: bool
    score: str


def choices_of(
    address: Address, score: Callable[[str, str], str] = lambda name, word: ""
) -> dict[str, list[Choice]]:
    """Return the words of every option, with their scores."""
    choices: dict[str, list[Choice]] = {}
    for name, words in CHOICES.items():
        choices[name] = []
        for word in words:
            is_chosen = word == address.settings.word(name)
            choice = Choice(
                word, said(name, word), address.set(name, word), is_chosen, score(name, word)
            )
            choices[name].append(choice)
    return choices
