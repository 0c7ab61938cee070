"""Asking a function that computes nDCG: small random rankings, the forms that functions take, and what else they do."""

import copy
import inspect
import io
import math
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from typing import Any, NamedTuple

import numpy as np

from ..measure.messages import in_short
from .slip_terms import Query, in_order, ranked

NDCGFunction = Callable[..., Any]

FUNCTION_FORMS = ("mappings", "lists", "arrays", "ranked")
FLOAT32 = 2e-6  # what a value may differ by: some functions compute in 32 bits
NO_VALUE = ("returns nan", "returns None")  # as for a query that is left out of the mean


class Answer(NamedTuple):
    """What a function answers for a ranking.

    Attributes:
        value: the score; nan if there is none.
        problem: what the function does instead of returning a score, in words; empty if it returns one.
    """

    value: float
    problem: str = ""


class Asker:
    """Asks a function, and keeps what else it does.

    Attributes:
        habits: what else it does, in words, with the number of rankings.
    """

    def __init__(self, function: NDCGFunction, k: int | None) -> None:
        self.function = function
        self.habits: dict[str, int] = {}
        self.takes_k = k is not None or _takes_three_arguments(function)

    def answer(self, query: Query, form: str) -> Answer:
        """Ask for one ranking, twice, and count habits."""
        habits: set[str] = set()
        first, second = (self._ask(_arguments(query, form), query.k, habits) for _ in range(2))
        if not np.array_equal([first.value], [second.value], equal_nan=True):
            habits.add("gives another answer when it is asked twice")
        if first.value > 1 + FLOAT32:
            habits.add("returns a value above 1")
        if first.problem:
            habits.add(first.problem)
        for habit in habits:
            self.habits[habit] = self.habits.get(habit, 0) + 1
        return first

    def value(self, query: Query, form: str) -> float:
        """Return the score that it gives a ranking, without counting habits; nan if there is none."""
        return self._ask(_arguments(query, form), query.k, set()).value

    def counts_duplicates(self) -> bool:
        """Return whether a function that takes ranked ids counts a document twice that is listed twice."""
        once, twice = (self._ask((ids, {"d1": 1, "d2": 0}), 3, set()) for ids in (["d1", "d2"], ["d1", "d1", "d2"]))
        return twice.value > once.value + FLOAT32

    def _ask(self, arguments: tuple[Any, Any], k: int | None, habits: set[str]) -> Answer:
        before, printed = copy.deepcopy(arguments), io.StringIO()
        try:
            with redirect_stdout(printed), np.errstate(all="ignore"):
                returned = self.function(*arguments, k) if self.takes_k else self.function(*arguments)
            answer = _read_answer(returned)
        except Exception as error:  # noqa: BLE001  # what a function raises is its answer
            answer = Answer(math.nan, f"raises {type(error).__name__}: {in_short(error)[:80]}")
        if printed.getvalue():
            habits.add("prints")
        if not all(map(_are_equal, arguments, before)):
            habits.add("changes its arguments")
        return answer


def _takes_three_arguments(function: NDCGFunction) -> bool:
    with suppress(ValueError, TypeError):  # of a built-in function nothing is known
        inspect.signature(function).bind(None, None, None)
        return True
    return False


def _arguments(query: Query, form: str) -> tuple[Any, Any]:
    """Return a ranking in a form, as new objects."""
    if form == "mappings":
        return dict(query.run), dict(query.qrels)
    if form == "ranked":
        return ranked(query), dict(query.qrels)
    sides = [query.run[each] for each in query.run], [query.qrels.get(each) for each in query.run]
    return (np.array(sides[0]), np.array(sides[1])) if form == "arrays" else sides


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other) and list(one) == list(other)  # with the order of a mapping


def _read_answer(returned: Any) -> Answer:
    """Read what a function returned."""
    if returned is None:
        return Answer(math.nan, "returns None")
    if isinstance(returned, (str, bytes)):
        return Answer(math.nan, "returns text")
    try:
        value = float(returned)
    except (TypeError, ValueError):
        return Answer(math.nan, f"returns a value of type {type(returned).__name__}, which is not a number")
    if math.isnan(value):
        return Answer(math.nan, "returns nan")
    return Answer(value) if math.isfinite(value) else Answer(math.nan, "returns infinity")


def random_rankings(count: int, k: int | None, form: str, seed: int, *, plain: bool = False) -> list[Query]:
    """Return small random rankings that a form can express.

    Some have ties, documents that were not judged or not retrieved, graded relevance, no relevant documents, or more or
    fewer documents than the cutoff; plain ones have only distinct scores and judged documents.

    >>> random_rankings(1, 2, "lists", 0) == random_rankings(1, 2, "lists", 0)
    True
    """
    rng = np.random.default_rng(seed)
    return [_random_ranking(rng, k, form, plain) for _ in range(count)]


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
    run = {documents[at]: float(scores[at]) for at in np.flatnonzero(retrieved)}
    qrels = {documents[at]: int(relevance[at]) for at in rng.permutation(size) if judged[at]}
    query = Query(run, qrels, k)
    return query._replace(run=in_order(ranked(query))) if form == "ranked" else query
