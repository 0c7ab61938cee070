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
from .questions import FLOAT32, FORMS_BY_FACTS, NO_VALUE, Answer, Asker, Call, NDCGFunction, possible_calls
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
    k: int | None
    cases: int  # the number of rankings that it was asked about
    refused: bool  # whether it gave no answer to most of the rankings, before it was asked again
    answers: Answers | None = None  # the answers; None if no score is among them


def ask(function: NDCGFunction, call: Call, k: int | None, cases: int, seed: int) -> Asked:
    """Ask about rankings, again about kinds with few answers, and about many more if these answers show little."""
    asker, kinds = Asker(function, call), kinds_of(call.form)

    def ask_about(numbers: Sequence[int], attempt: int = 0) -> Iterator[tuple[int, Query, Answer]]:
        with progress(len(numbers), "Asking", " rankings") as bar:
            for number, query in zip(numbers, random_rankings(numbers, k, call.form, seed, attempt), strict=True):
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
    asked = Asked(asker, k, len(rows), 2 * len(refused) > cases)
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


def likely_calls(
    function: NDCGFunction, k: int | None, forms: Sequence[str], seed: int
) -> Iterator[tuple[Call, Answers]]:
    """Yield calls of which some definition explains all answers, then those of which one explains most.

    Each comes with its answers for the first rankings without ties.
    """
    found: list[tuple[tuple[int, ...], Call, Answers]] = []
    for count in FIRST_ASKED:
        found = []
        for call in possible_calls(function, k, forms):
            queries, asker = plain_rankings(_first_numbers(count), k, call.form, seed), Asker(function, call)
            values = np.array([asker.value(query) for query in queries.changed(())])
            answered = np.isfinite(values)
            likely = _explained(values, expected_values(usual_definitions, queries)) if answered.any() else (0, 0, 0)
            first = Answers(queries, values[None], answered, np.zeros(count, bool), tolerance_of(values))
            found.append((likely, call, first))
        counts = [np.count_nonzero(first.plain) for *_, first in found]
        enough = any(counts) and not any(0 < each < LEAST_ANSWERS for each in counts)
        if enough or any(likely[0] for likely, *_ in found):
            break
    # Of few rankings, chance explains some answers to a call with the wrong arguments, whose sets are in no order.
    complete = [each for each in found if each[0][0] and not _depends_on_sets(function, *each[1:])]
    complete.sort(key=lambda each: (each[0], -FORMS_BY_FACTS.index(each[1].form)), reverse=True)
    for each in complete[:MOST_CALLS]:
        if each[0][0] == complete[0][0][0]:
            yield each[1:]
    explained = [call for _, call, _ in complete]
    if others := [each for each in found if each[1] not in explained]:
        yield from _likeliest_calls(function, others)


def _likeliest_calls(
    function: NDCGFunction, found: Sequence[tuple[tuple[int, ...], Call, Answers]]
) -> list[tuple[Call, Answers]]:
    """Return two calls of a function that no definition explains, in one form: with the fewest facts if in doubt."""
    counts = [np.count_nonzero(first.plain) for *_, first in found]

    def likelihood(each: tuple[tuple[int, ...], Call, Answers]) -> tuple[Any, ...]:
        explained, call, first = each
        answers = 4 * np.count_nonzero(first.plain) >= max(counts)
        of_sets = answers and _depends_on_sets(function, call, first)
        own = of_sets and call.form != "sets"  # the function makes these sets
        varied = len(np.unique(first.values[:, first.plain])) > 1
        return own, answers and not of_sets, explained, varied, varied and -FORMS_BY_FACTS.index(call.form)

    ordered = sorted(found, key=likelihood, reverse=True)
    answered = [each[1:] for each in ordered if each[1].form == ordered[0][1].form and each[2].plain.any()]
    return answered[:2] or [ordered[0][1:]]


def _depends_on_sets(function: NDCGFunction, call: Call, first: Answers) -> bool:
    """Return whether answers to the first rankings depend on the order of a set."""
    return Asker(function, call).depends_on_sets(first.queries.changed(()))


def _first_numbers(count: int) -> tuple[int, ...]:
    """Return the numbers of the first rankings without ties."""
    return tuple(islice(filter(is_plain, range(10**5)), count))


def _explained(values: Floats, expected: Floats) -> tuple[int, ...]:
    """Return how well the definition that explains values best does so, as a tuple that is higher if it does better.

    It has whether all values are explained, 2 if exactly and 1 if rounded; then the number of slips, negative; and how
    many values other than 0 and 1, which many definitions share, are explained: 0 if these are few.
    """
    answered = np.isfinite(values)
    varied, flags = len(np.unique(values[answered])) > 1, {0.0, 1.0}.issuperset(values[answered])
    known = np.isfinite(expected) & answered
    telling = known & (expected != 0) & (expected != 1)
    slips = np.array([len(definition.slips) for definition in usual_definitions()])
    best: list[tuple[int, ...]] = []
    for tolerance, scaled in product({FLOAT32, tolerance_of(values)}, (False, True)):
        factors = factors_of(values, expected, tolerance) if scaled else np.ones(len(expected))
        agree = known & (np.abs(values - factors[:, None] * expected) <= tolerance)
        some = 0 if flags and tolerance > FLOAT32 else (agree & telling).sum(axis=1) - scaled
        complete = varied & (flags | (some > 0)) & (agree == known).all(axis=1) & (known.sum(axis=1) >= LEAST_ANSWERS)
        complete = complete * (1 + (tolerance == FLOAT32))
        half = np.count_nonzero(answered & (values != 0) & (values != 1)) / 2
        many = (complete > 0) | (some >= max(half, LEAST_ANSWERS))
        columns = complete, (-slips - scaled) * (complete > 0), some * many
        best.append(max(zip(*(column.tolist() for column in columns), strict=True)))
    return max(best)
