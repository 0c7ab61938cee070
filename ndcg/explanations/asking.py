"""Asking a function about random rankings, in the form in which definitions explain most of its answers."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from ..measure.ties import Floats
from ..scores.progress import progress
from .definitions import VISIBLE, Answers, expected_values, factors_of, usual_definitions
from .forms import FORMS, Call, NDCGFunction, possible_calls
from .questions import FLOAT32, NO_VALUE, Answer, Asker
from .random_rankings import is_plain, kinds_of, plain_rankings, random_rankings
from .slip_terms import Queries, Query

MOST_DECIMALS = 6  # to which a function may round; with more, FLOAT32 is the tolerance
FIRST_ASKED = (16, 64)  # rankings that tell the form and rule out most definitions; more if few are answered
LEAST_ANSWERS = 6  # of these, and for each kind of rankings
MOST_CALLS = 3
IF_LITTLE_SHOWS = 5  # times as many rankings, if a function rounds to few decimals or answers few


class Asked(NamedTuple):
    """The answers of a function to random rankings."""

    asker: Asker  # asked the function, and knows its side effects
    cases: int  # the number of rankings that it was asked about
    refused: bool  # whether it gave no answer to most of the rankings, before it was asked again
    answers: Answers | None = None  # the answers; None if no score is among them


def ask(function: NDCGFunction, call: Call, cases: int, seed: int) -> Asked:
    """Ask about rankings, again about kinds with few answers, and about many more if these answers show little."""
    asker, kinds = Asker(function, call), kinds_of(call.shows)

    def ask_about(numbers: Sequence[int], attempt: int = 0) -> Iterator[tuple[int, Query, Answer]]:
        with progress(len(numbers), "Asking", " rankings") as bar:
            for number, query in zip(numbers, random_rankings(numbers, call.k, call.shows, seed, attempt), strict=True):
                yield number, query, asker.answer(query)
                bar.update(1)

    rows = list(ask_about(range(cases)))
    values = np.array([answer.value for _, _, answer in rows])
    refused = [number for number, query, answer in rows if not _is_comparable(query, answer)]
    of_kind = Counter(kinds[number % len(kinds)] for number, query, answer in rows if _is_comparable(query, answer))
    few = [number for number in refused if of_kind[kinds[number % len(kinds)]] < LEAST_ANSWERS]
    if np.isfinite(values).any():
        for attempt in (1, 2, 3):
            rows += ask_about(few, attempt)
        if tolerance_of(values) > VISIBLE or 2 * len(refused) > cases:
            rows += ask_about(range(cases, cases * IF_LITTLE_SHOWS))
    asked = Asked(asker, len(rows), 2 * len(refused) > cases)
    rows = [(number, query, answer) for number, query, answer in rows if _is_comparable(query, answer)]
    if not any(math.isfinite(answer.value) for _, _, answer in rows):
        return asked
    values = np.array([[answer.value, answer.again] for _, _, answer in rows]).T
    plain = np.array([is_plain(number) for number, _, _ in rows])
    close = np.array([kinds[number % len(kinds)] == "close" for number, _, _ in rows])
    queries = Queries(query for _, query, _ in rows)
    return asked._replace(answers=Answers(queries, values, plain, close, tolerance_of(values)))


def _is_comparable(query: Query, answer: Answer) -> bool:
    """Return whether an answer is a score, or no score for a query with retrieved documents.

    Conventions may leave such a query out; a function may also leave out one without retrieved documents.
    """
    return not answer.problem or (answer.problem in NO_VALUE and bool(query.run))


def decimals_of(values: Floats) -> int | None:
    """Return the number of decimals to which values are rounded; None if they are not, or all are the same.

    >>> decimals_of(np.array([0.63, 0.5])), decimals_of(np.float32([0.1, 1])), decimals_of(np.array([1 / 3, 0]))
    (2, 1, None)
    """
    if len(numbers := np.unique(values[np.isfinite(values)])) < 2:
        return None
    rounded = (np.allclose(numbers, numbers.round(each), rtol=1e-7, atol=1e-12) for each in range(MOST_DECIMALS + 1))
    return next((decimals for decimals, same in enumerate(rounded) if same), None)


def tolerance_of(values: Floats) -> float:
    """Return how far a value may differ from the value that it was rounded from.

    >>> tolerance_of(np.array([0.63, 0.5])) > 0.005
    True
    """
    decimals = decimals_of(values)
    return FLOAT32 + (0 if decimals is None else 0.5 * 10.0**-decimals)


# The call


class Explained(NamedTuple):
    """How well the definition that explains the first answers best does so; the higher, the better."""

    completely: bool = False
    exactly: bool = False  # rather than to the decimals to which the function may round
    minus_slips: int = 0  # of a complete explanation
    telling: int = 0  # how many values other than 0 and 1, which many definitions share; 0 if these are few


class Candidate(NamedTuple):
    """A call, and the answers to the first rankings without ties."""

    call: Call
    first: Answers
    explained: Explained
    answered: float  # the share of them that have an answer
    is_varied: bool  # whether the answers differ
    depends_on_sets: bool


def likely_calls(function: NDCGFunction, k: int | None, forms: Sequence[str], seed: int) -> Iterator[Candidate]:
    """Yield calls of which some definition explains all answers, then those of which one explains most.

    If grades of relevance give values above 1 or none, the last ones have no relevance above 1.
    """
    found = []
    for call in possible_calls(function, k, forms):
        candidate = _asked_first(function, call, FIRST_ASKED[0], seed)
        few = 0 < candidate.answered * FIRST_ASKED[0] < LEAST_ANSWERS
        found.append(_asked_first(function, call, FIRST_ASKED[1], seed) if few else candidate)
    if any(each.is_varied for each in found if each.call.form in ("sets", "ids")):  # it finds several relevant ids
        found = [each for each in found if each.call.shows.several]
    # Chance explains few answers to a call with the wrong arguments by a slip or a factor, and those of only 0 or 1
    # or that depend on the order of a set.
    most = max((each.answered for each in found), default=0)
    telling = any(each.explained.telling for each in found)
    by_facts = sorted(found, key=lambda each: list(FORMS).index(each.call.form))
    complete = [
        each
        for each in by_facts
        if each.explained.completely and not each.depends_on_sets and bool(each.explained.telling) == telling
        if not each.explained.minus_slips or 4 * each.answered >= most
    ]
    complete.sort(key=lambda each: each.explained, reverse=True)
    yield from (each for each in complete[:MOST_CALLS] if each.explained[:2] == complete[0].explained[:2])
    others = _likeliest([each for each in found if each not in complete])
    yield from others
    for call, first, *_ in others:
        values = first.values[0]
        if call.shows.grades and ((values > 1 + FLOAT32).any() or first.plain.mean() < 0.5):
            yield _asked_first(function, call._replace(is_binary=True), len(values), seed)


def _asked_first(function: NDCGFunction, call: Call, count: int, seed: int) -> Candidate:
    """Ask about the first rankings without ties: a few of them if none of these has an answer."""
    numbers, asker = tuple(islice(filter(is_plain, range(10**5)), count)), Asker(function, call)
    queries = plain_rankings(numbers, call.k, call.shows, seed)
    values = np.full(count, np.nan)
    for at, query in enumerate(queries.changed(())):
        values[at] = asker.value(query)
    answered = np.isfinite(values)
    explained = _explained(values, expected_values(usual_definitions, queries)) if answered.any() else Explained()
    first = Answers(queries, values[None], answered, np.zeros(count, bool), tolerance_of(values))
    of_sets = bool(answered.any()) and asker.depends_on_sets(queries.changed(()))
    is_varied = len(np.unique(values[answered])) > 1
    return Candidate(call, first, explained, float(answered.mean()), is_varied, of_sets)


def _likeliest(found: Sequence[Candidate]) -> list[Candidate]:
    """Return two calls of a function that no definition explains, in one form: with the fewest facts if in doubt."""
    most = max((each.answered for each in found), default=0)

    def likelihood(each: Candidate) -> tuple[Any, ...]:
        answers = 4 * each.answered >= most
        own = each.answered >= most > 0 and each.depends_on_sets and each.call.form != "sets"  # it makes these sets
        return own, answers and not each.depends_on_sets, each.explained, each.is_varied

    ordered = sorted(found, key=likelihood, reverse=True)
    answered = [each for each in ordered if each.call.form == ordered[0].call.form and each.answered]
    return answered[:2] or ordered[:1]


def _explained(values: Floats, expected: Floats) -> Explained:
    """Return how well the definition that explains values best does so."""
    answered = np.isfinite(values)
    varied, flags = len(np.unique(values[answered])) > 1, {0.0, 1.0}.issuperset(values[answered])
    known = np.isfinite(expected) & answered
    telling = known & (expected != 0) & (expected != 1)
    slips = np.array([len(definition.slips) for definition in usual_definitions()])
    best = []
    for tolerance, scaled in product({FLOAT32, tolerance_of(values)}, (False, True)):
        factors = factors_of(values, expected, tolerance) if scaled else np.ones(len(expected))
        agree = known & (np.abs(values - factors[:, None] * expected) <= tolerance)
        some = 0 if flags and tolerance > FLOAT32 else (agree & telling).sum(axis=1) - scaled
        complete = varied & (flags | (some > 0)) & (agree == known).all(axis=1) & (known.sum(axis=1) >= LEAST_ANSWERS)
        exact = complete & (tolerance == FLOAT32)
        half = np.count_nonzero(answered & (values != 0) & (values != 1)) / 2
        many = complete | (some >= max(half, LEAST_ANSWERS))
        columns = complete, exact, (-slips - scaled) * complete, some * many
        best.append(max(zip(*(column.tolist() for column in columns), strict=True)))
    return Explained(*max(best))
