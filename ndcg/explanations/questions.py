"""Asking a function of nDCG: small random rankings, the forms that functions accept, and their side effects."""

import inspect
import io
import math
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..inputs.sources import ARROW, converted
from ..measure.interrupts import interruptible
from ..measure.messages import in_short, shown
from .slip_terms import Queries, Query, in_order, ranked

NDCGFunction = Callable[..., Any]

FUNCTION_FORMS = {  # the arguments of each form
    "mappings": "{document: score}, {document: relevance}, k",
    "lists": "scores, relevance, k",
    "arrays": "scores, relevance, k",
    "ranked": "ids, {document: relevance}, k",
    "sets": "ids, {relevant ids}, k",
}
WITHOUT_SCORES = ("ranked", "sets")
CUTOFF_NAMES = ("k", "top_k", "topk", "at", "at_k", "cutoff", "n")  # of parameters that are given by keyword
FLOAT32 = 2e-6  # the tolerance of a value: some functions compute in 32 bits
NO_VALUE = ("returns nan", "returns None")  # as for a query that is left out of the mean


class Answer(NamedTuple):
    """The answer of a function for a ranking.

    Attributes:
        value: the score; nan if there is none.
        problem: the reason for a missing score, such as an error, in words; empty if the function returns a score.
        returned: the value that is not a score, or the words of the error, as text.
    """

    value: float
    problem: str = ""
    returned: str = ""


class Habit(NamedTuple):
    """A side effect of a function.

    Attributes:
        times: on how many rankings.
        size: the number of documents of the smallest of them.
        example: the result for that ranking, or else its arguments; empty if the ranking does not matter.
    """

    times: int
    size: int
    example: str


class Asker:
    """Asks a function, and records its side effects.

    Attributes:
        habits: the side effects, in words.
        relevance_first: whether it takes the relevance before the scores or ids.
    """

    def __init__(self, function: NDCGFunction, k: int | None) -> None:
        self.function = function
        self.habits: dict[str, Habit] = {}
        self.relevance_first = False
        self._cutoff = _cutoff_parameter(function, k)

    @property
    def takes_cutoff(self) -> bool:
        """Whether it takes a cutoff, rather than only a ranking."""
        return self._cutoff is not None

    def answer(self, query: Query, form: str) -> Answer:
        """Ask for one ranking, twice, and count habits."""
        habits: set[str] = set()
        first, second = (self._ask(_arguments(query, form), query.k, habits) for _ in range(2))
        if not np.array_equal([first.value], [second.value], equal_nan=True):
            habits.add("gives another answer when it is asked twice")
        if first.value > 1 + FLOAT32:
            habits.add("returns a value above 1")
        if first.value < -FLOAT32:
            habits.add("returns a value below 0")
        size = len({*query.run, *query.qrels})
        for habit in sorted(habits):
            self._count(habit, size, "")
        if first.problem:
            raised = first.problem.startswith("raises")
            ranking = "" if first.returned and not raised else arguments_text(query, form)
            self._count(first.problem, size, " for ".join(filter(None, (first.returned, ranking))))
        return first

    def _count(self, habit: str, size: int, example: str) -> None:
        known = self.habits.get(habit, Habit(0, size, example))
        smallest = known if known.size <= size else Habit(0, size, example)
        self.habits[habit] = smallest._replace(times=known.times + 1)

    def value(self, query: Query, form: str) -> float:
        """Return the score that it gives a ranking, without counting habits; nan if there is none."""
        return self._ask(_arguments(query, form), query.k, set()).value

    def counts_duplicates(self, form: str) -> bool:
        """Return whether a function that takes ranked ids counts a document twice that is listed twice."""
        query = Query({}, {"d1": 1, "d2": 0}, 3)
        lists = ["d1", "d2"], ["d1", "d1", "d2"]
        once, twice = (self._ask((ids, _arguments(query, form)[1]), 3, set()) for ids in lists)
        return twice.value > once.value + FLOAT32

    def _called(self, arguments: tuple[Any, Any], k: int | None) -> Any:
        """Return the function's result."""
        first, second = reversed(arguments) if self.relevance_first else arguments
        if not self.takes_cutoff:
            return self.function(first, second)
        return self.function(first, second, **{self._cutoff: k}) if self._cutoff else self.function(first, second, k)

    def _ask(self, arguments: tuple[Any, Any], k: int | None, habits: set[str]) -> Answer:
        before, printed = [_as_text(each) for each in arguments], _Printed()
        with (
            interruptible(),
            redirect_stdout(_text_stream(printed)),
            redirect_stderr(_text_stream(printed)),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            try:
                with np.errstate(all="ignore"):
                    answer = _read_answer(self._called(arguments, k))
            except BaseException as error:  # noqa: BLE001  # an error is also an answer, and SystemExit too
                answer = Answer(math.nan, f"raises {type(error).__name__}", in_short(error)[:80])
        if printed.getvalue():
            habits.add("prints")
        habits.update(
            f"warns ({each.category.__name__}: {' '.join(str(each.message).split())[:80]})" for each in warned
        )
        if [_as_text(each) for each in arguments] != before:
            habits.add("changes its arguments")
        return answer


class _Printed(io.BytesIO):
    """What a function prints, also if it closes its output."""

    def close(self) -> None:
        """Keep what was printed."""


def _text_stream(printed: _Printed) -> io.TextIOWrapper:
    """Return a stream like `sys.stdout`, with its buffer, encoding and other attributes."""
    return io.TextIOWrapper(printed, "utf-8", "replace", write_through=True)


def _cutoff_parameter(function: NDCGFunction, k: int | None) -> str | None:
    """Return the keyword by which a function takes the cutoff, "" for the third place, or None if it takes none."""
    with suppress(ValueError, TypeError):  # of a built-in function nothing is known
        signature = inspect.signature(function)
        for arguments, name in [((None,) * 3, ""), *(((None,) * 2, name) for name in CUTOFF_NAMES)]:
            with suppress(TypeError):
                signature.bind(*arguments, **({name: k} if name else {}))
                return name
        signature.bind(None, None)
        return None
    return None if k is None else ""


def _arguments(query: Query, form: str) -> tuple[Any, Any]:
    """Return a ranking in a form, as new objects."""
    if form == "mappings":
        return dict(query.run), dict(query.qrels)
    if form == "ranked":
        return ranked(query), dict(query.qrels)
    if form == "sets":
        return ranked(query), {document for document, relevance in query.qrels.items() if relevance > 0}
    sides = [query.run[each] for each in query.run], [query.qrels.get(each) for each in query.run]
    return (np.array(sides[0]), np.array(sides[1])) if form == "arrays" else sides


def arguments_text(query: Query, form: str) -> str:
    """Return a ranking as the arguments of a function, to paste.

    >>> arguments_text(Query({"d1": 2.0}, {"d1": 1}, 3), "lists")
    'scores = [2.0], relevance = [1], k = 3'
    """
    names = {"mappings": ("run", "qrels"), "ranked": ("ids", "relevance"), "sets": ("ids", "relevant")}
    one, other = names.get(form, ("scores", "relevance"))
    first, second = _arguments(query, "lists" if form == "arrays" else form)
    if form == "sets":
        second = f"{{{', '.join(map(repr, sorted(second)))}}}" if second else "set()"
    return f"{one} = {first}, {other} = {second}, k = {query.k}"


def _as_text(argument: Any) -> str:
    """Return an argument as text that shows each change, whatever a function writes into it.

    Its values cannot be compared with `==`: for an array in a list, that is an array of bools.
    """
    if isinstance(argument, np.ndarray):
        return f"{argument.dtype}{argument.shape}{argument.tolist()}"
    return repr(sorted(argument, key=repr) if isinstance(argument, set) else argument)


def _read_answer(returned: Any) -> Answer:
    """Read what a function returned."""
    value = _only_value(returned)
    if value is None:
        return Answer(math.nan, "returns None")
    if isinstance(value, (str, bytes)):
        return Answer(math.nan, "returns text", shown(value))
    no_number = Answer(math.nan, f"returns a value of type {type(value).__name__}, which is not a number", shown(value))
    if isinstance(value, (bool, np.bool_)):
        return no_number
    try:
        number = float(value)
    except (TypeError, ValueError):
        return no_number
    if math.isnan(number):
        return Answer(math.nan, "returns nan")
    return Answer(number) if math.isfinite(number) else Answer(math.nan, "returns infinity")


def _only_value(returned: Any) -> Any:
    """Return the value in an array or tensor of one, None if it is masked; other results unchanged.

    >>> _only_value(np.array([[0.5]])), _only_value([0.5])
    (0.5, [0.5])
    """
    with suppress(Exception):  # whatever its library raises, it is not an array of numbers
        array = converted(returned)
        if isinstance(array, (np.ndarray, *ARROW)) and (array := np.ma.asanyarray(array)).size == 1:
            return array.reshape(-1).tolist()[0]
    return returned


def random_rankings(count: int, k: int | None, form: str, seed: int, *, plain: bool = False) -> list[Query]:
    """Return small random rankings that a form can express.

    Some have ties, documents that were not judged or not retrieved, graded relevance, no relevant documents, or more or
    fewer documents than the cutoff; plain ones have only distinct scores and judged documents.

    >>> random_rankings(1, 2, "lists", 0) == random_rankings(1, 2, "lists", 0)
    True
    """
    rng = np.random.default_rng(seed)
    return [_random_ranking(rng, k, form, plain) for _ in range(count)]


@lru_cache(maxsize=8)
def first_rankings(count: int, k: int | None, form: str, seed: int, *, plain: bool = False) -> Queries:
    """Return the first random rankings, which keep their scores by each definition for the next function."""
    return Queries(random_rankings(count, k, form, seed, plain=plain))


def _random_ranking(rng: "np.random.Generator", k: int | None, form: str, plain: bool) -> Query:
    size = int(rng.integers(2, (k or 8) + 6))
    documents = [f"d{number}" for number in rng.permutation(3 * size)[:size] + 1]
    relevance = rng.integers(0, rng.integers(2, 6), size) * (rng.random(size) < rng.uniform(0.3, 1))
    scores = np.round(rng.normal(0, 2, size), 3)
    retrieved, judged = np.ones((2, size), bool)
    if not plain:
        if rng.random() < 0.08:
            relevance[:] = 0
        if rng.random() < 0.3:
            scores = np.floor(scores)
        elif rng.random() < 0.2:  # close, but not so close that they are equal in 32 bits
            scores = 0.05 + rng.integers(0, 9, size) * 10.0 ** -rng.integers(3, 8)
        if rng.random() < 0.4:
            retrieved = rng.random(size) < rng.choice([0.0, 0.3, 0.7, 0.9], p=[0.1, 0.3, 0.3, 0.3])
        if rng.random() < 0.4:
            judged = rng.random(size) < rng.uniform(0.3, 0.9)
        judged[rng.integers(size)] = True
    if form in ("lists", "arrays"):
        retrieved, judged = np.ones((2, size), bool)
    if form == "sets":
        relevance = np.minimum(relevance, 1)
    run = {documents[at]: float(scores[at]) for at in np.flatnonzero(retrieved)}
    qrels = {documents[at]: int(relevance[at]) for at in rng.permutation(size) if judged[at]}
    query = Query(run, qrels, k)
    return query._replace(run=in_order(ranked(query))) if form in WITHOUT_SCORES else query
