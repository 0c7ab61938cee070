"""Asking a function of nDCG: for a score, about random rankings, and in which form to ask it."""

import io
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..inputs.sources import converted
from ..measure.interrupts import interruptible
from ..measure.messages import in_short, shown
from ..measure.ties import Floats
from ..scores.progress import tracked
from ..show.tables import number_text
from .definitions import VISIBLE, Answers, compared, expected_values, usual_definitions
from .forms import FORMS, Call, NDCGFunction, argument_text, arguments_text
from .random_rankings import (
    is_at_other_cutoff,
    is_plain,
    kind_of_ranking,
    plain_rankings,
    random_rankings,
    with_relevant_rank,
)
from .slip_terms import Queries, Query

PREFIXES = [letter * times for times in (1, 2, 3) for letter in "efgh"]  # of ids
OF_A_SET = "gives another answer for other ids, since it depends on the order of a set"
FLOAT32 = 2e-6  # the tolerance of a value: some functions compute in 32 bits
NO_VALUE = ("returns nan", "returns None")  # as for a query that is left out of the mean
MOST_DECIMALS = 6  # to which a function may round; with more, FLOAT32 is the tolerance
FIRST_ASKED = 16  # rankings that tell the form and rule out most definitions
LEAST_ANSWERS = 6  # of these, and for every kind of rankings
MOST_CALLS = 3
IF_LITTLE_SHOWS = 5  # times as many rankings, if a function rounds to few decimals or answers few


# One ranking


class Answer(NamedTuple):
    """The answer of a function for a ranking."""

    value: float  # the score; nan if there is none
    # the reason for a missing score, such as an error, in words; empty if there is a score
    problem: str = ""
    returned: str = ""  # the value that is not a score, or the words of the error, as text
    # the score when it is asked once more, with other ids where these must not matter
    again: float = math.nan


class Asker:
    """Asks a function, and records its side effects."""

    def __init__(self, function: NDCGFunction, call: Call) -> None:
        self.function = function
        self.call = call
        self.form = FORMS[call.form]
        # By the side effects in words, for every ranking the number of its documents, and the
        # result or the arguments; these are empty if the ranking does not matter.
        self.habits: dict[str, list[tuple[int, str]]] = {}

    def answer(self, query: Query) -> Answer:
        """Ask for one ranking, twice, and count habits."""
        text = arguments_text(self.call.form, query)
        habits: dict[str, str] = {}
        first = self._ask(self.form.of(query), query.k, habits)
        second = self._ask(self.form.of(query), query.k, habits)
        difference = "gives another answer when it is asked twice"
        if self.form.has_ids and _same(first, second):
            # In about half of all sets, documents have another order then.
            second = self.once(_with_prefix(query, PREFIXES[0]))
            difference = OF_A_SET
        if not _same(first, second):
            habits[difference] = f"{first.value:.6g} and {second.value:.6g} for {text}"
        habits |= _faults_of(first, text)
        size = len({*query.run, *query.qrels})
        for habit, example in habits.items():
            self.habits.setdefault(habit, []).append((size, example))
        return first._replace(again=second.value)

    def once(self, query: Query) -> Answer:
        """Return the answer for a ranking, without counting habits."""
        return self._ask(self.form.of(query), query.k, {})

    def contradiction_of_mean(self, tolerance: float, *, is_sum: bool) -> str:
        """Return in words how the score of different rankings is not the mean of their scores.

        Empty if it is their mean, or if the function returns the value of each ranking.
        """
        k = self.call.at_cutoff(2)  # so that the rankings are short
        # The relevant document is the first, the second, or below the cutoff; or there is none.
        ranks = [1, 2, (k or 2) + 1]
        if self.form.shows.several:
            ranks.append(0)
        queries = [with_relevant_rank(rank, max(ranks), k) for rank in ranks]
        values = self._values(queries)
        counted = int(np.count_nonzero(np.isfinite(values)))
        expected = np.nansum(values) / (2 if is_sum else max(1, counted))
        answer = self._ask(self.form.of(*queries), k, {}).value
        # Each of the answers may be rounded.
        difference = abs(answer - expected)
        if math.isnan(difference) or difference <= 3 * tolerance:
            return ""
        single = ", ".join(map(number_text, values.tolist()))
        return (
            "The function does not return the mean of several rankings: for two copies of each of "
            f"these it returns {single}, for all of them together "
            f"{answer:.4f}: {arguments_text(self.call.form, *queries)}."
        )

    def counts_duplicates(self) -> bool:
        """Return whether a document counts twice that is listed twice in ranked ids."""
        if not self.form.has_ids or self.form.shows.scores or self.form.is_batch:
            return False
        query = Query({}, {"d1": 1, "d2": 0}, 3)
        once = self._ask((["d1", "d2"], self.form.of(query)[1]), 3, {})
        twice = self._ask((["d1", "d1", "d2"], self.form.of(query)[1]), 3, {})
        return twice.value > once.value + FLOAT32

    def depends_on_sets(self, queries: Sequence[Query]) -> bool:
        """Return whether answers depend on the order of a set, which follows from the ids in it."""
        if not self.form.has_ids or not self.form.shows.several:
            return False
        for query in queries:
            self.answer(query)
        if OF_A_SET in self.habits:
            return True
        # A function may cut the set at k, which keeps half of these relevant documents.
        k = queries[0].k or 1
        half_cut = Query({"d0": 1.0}, {f"d{number}": 1 for number in range(2 * k)}, k)
        renamed = [_with_prefix(half_cut, prefix) for prefix in PREFIXES]
        values, again = self._values(renamed), self._values(renamed)
        return np.array_equal(values, again, equal_nan=True) and len(np.unique(values)) > 1

    def _values(self, queries: Sequence[Query]) -> Floats:
        return np.array([self.once(query).value for query in queries])

    def _ask(self, arguments: tuple[Any, ...], k: int | None, habits: dict[str, str]) -> Answer:
        before = list(map(argument_text, arguments))
        printed = io.StringIO()
        with (
            interruptible(),
            redirect_stdout(printed),
            redirect_stderr(printed),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            try:
                with np.errstate(all="ignore"):
                    returned = self.call.of(self.function, arguments, k)
                    answer = _read_answer(returned, is_batch=self.form.is_batch)
            # An error is also an answer, and SystemExit too.
            except BaseException as error:  # noqa: BLE001
                answer = Answer(math.nan, f"raises {type(error).__name__}", in_short(error)[:80])
        # A function may close its output.
        if printed.closed or printed.getvalue():
            habits["prints"] = ""
        for warning in warned:
            message = " ".join(str(warning.message).split())[:80]
            habits[f"warns ({warning.category.__name__}: {message})"] = ""
        if list(map(argument_text, arguments)) != before:
            habits["changes its arguments"] = ""
        return answer


def _faults_of(answer: Answer, text: str) -> dict[str, str]:
    """Return in words why an answer is no nDCG, with an example; the arguments are in text."""
    if answer.value > 1 + FLOAT32:
        return {"returns a value above 1": ""}
    if answer.value < -FLOAT32:
        return {"returns a value below 0": ""}
    if not answer.problem:
        return {}
    if answer.returned and answer.problem.startswith("raises"):
        return {answer.problem: f"{answer.returned} for {text}"}
    return {answer.problem: answer.returned or text}


def _same(one: Answer, other: Answer) -> bool:
    # Answers without a score have the same object as nan, which lists compare as equal.
    return [one.value] == [other.value]


def _with_prefix(query: Query, prefix: str) -> Query:
    """Return a ranking with other ids in the same order."""
    run, qrels = query.run, query.qrels
    return query._replace(
        run=dict(zip(map(prefix.__add__, run), run.values(), strict=True)),
        qrels=dict(zip(map(prefix.__add__, qrels), qrels.values(), strict=True)),
    )


def _value_in(returned: Any, *, is_batch: bool) -> Any:
    """Return the value in an array of one, or of two copies of a query in a batch.

    Anything else is returned as it is.
    """
    with suppress(Exception):  # whatever its library raises, it is not an array of numbers
        values = returned
        if is_batch and isinstance(returned, Mapping):
            values = list(returned.values())
        numbers: Any = np.ma.asanyarray(converted(values)).reshape(-1).tolist()
        # As text, nan is the same as nan.
        if len(numbers) <= 1 + is_batch and len(set(map(str, numbers))) == 1:
            return numbers[0]
    return returned


def _read_answer(returned: Any, *, is_batch: bool) -> Answer:
    """Read a number, or say why it is none."""
    value = _value_in(returned, is_batch=is_batch)
    if value is None:
        return Answer(math.nan, "returns None")
    number = None
    if not isinstance(value, (str, bytes, bool)):
        with suppress(TypeError, ValueError):
            number = float(value)
    if number is None:
        kind = f"a value of type {type(value).__name__}, which is not a number"
        return Answer(math.nan, f"returns {kind}", shown(value))
    if not math.isfinite(number):
        return Answer(math.nan, f"returns {number}")
    return Answer(number)


# Many rankings


class Asked(NamedTuple):
    """The answers of a function to random rankings."""

    asker: Asker  # asked the function, and knows its side effects
    cases: int  # the number of rankings that it was asked about
    refused: bool  # whether it gave no answer to most of these
    answers: Answers | None = None  # the answers; None if no score is among them


def ask(function: NDCGFunction, call: Call, cases: int, seed: int) -> Asked:
    """Ask about rankings, and about more if the answers show little."""
    asker = Asker(function, call)
    kind = partial(kind_of_ranking, call.shows)
    half = call.at_cutoff((call.k or 0) // 2 or 2)
    answered: list[int] = []  # the numbers of rankings with answers
    refused: list[int] = []  # the numbers of the others
    queries: list[Query] = []  # the rankings with answers
    pairs: list[tuple[float, float]] = []  # their answers

    def ask_about(numbers: Sequence[int], attempt: int = 0) -> None:
        rankings = random_rankings(numbers, call.k, call.shows, seed, attempt)
        numbered = list(zip(numbers, rankings, strict=True))
        for number, ranking in tracked(numbered, "Asking", " rankings"):
            query = ranking
            if is_at_other_cutoff(number):
                query = ranking._replace(k=half)
            answer = asker.answer(query)
            # A convention may have no value for a query; a function may also leave out one
            # without documents.
            accepted = ("", *NO_VALUE) if query.run else ("",)
            if answer.problem in accepted:
                answered.append(number)
                queries.append(query)
                pairs.append((answer.value, answer.again))
            else:
                refused.append(number)

    ask_about(range(cases))
    refused_most = len(refused) > len(answered)
    values = np.array(pairs).reshape(-1, 2)[:, 0]
    if not np.isfinite(values).any():
        return Asked(asker, cases, refused_most)
    answers_by_kind = Counter(map(kind, answered))
    few = [number for number in refused if answers_by_kind[kind(number)] < LEAST_ANSWERS]
    # Kinds with few answers are asked about again.
    for attempt in (1, 2, 3):
        ask_about(few, attempt)
    if tolerance_of(values) > VISIBLE or refused_most:
        ask_about(range(cases, cases * IF_LITTLE_SHOWS))
    plain = np.array(list(map(is_plain, answered)))
    close = np.array(list(map(kind, answered))) == "close"
    values = np.array(pairs, order="F").T
    answers = Answers(Queries(queries), values, plain, close, tolerance_of(values))
    refused_most = len(refused) > len(answered)
    return Asked(asker, len(answered) + len(refused), refused_most, answers)


def tolerance_of(values: Floats) -> float:
    """Return how far a value may differ from the value that it was rounded from.

    >>> tolerance_of(np.array([0.63, 0.5])), tolerance_of(np.array([1 / 3, 0]))
    (0.005002, 2e-06)
    """
    numbers = np.unique(values[np.isfinite(values)])
    # Some definitions give values that are all the same, or 0 and 1.
    if len(numbers) < 2 or {0.0, 1.0}.issuperset(numbers):
        return FLOAT32
    for decimals in range(MOST_DECIMALS + 1):
        if np.allclose(numbers, numbers.round(decimals), rtol=1e-7, atol=1e-12):
            return FLOAT32 + 0.5 * 10.0**-decimals
    return FLOAT32


# The call


class Explained(NamedTuple):
    """How well some definition explains the first answers; the higher, the better."""

    completely: int = 0
    minus_slips: int = 0  # of a complete explanation
    # how many values other than 0 and 1, which many definitions share; 0 if these are few
    telling: int = 0


class Candidate(NamedTuple):
    """A call, and the answers to the first rankings without ties."""

    call: Call
    first: Answers
    explained: Explained
    answered: float  # the share of them that have an answer
    is_varied: bool  # whether the answers differ
    returned: int  # how many of the first rankings raised no error
    depends_on_sets: bool

    def likelihood(self, most: float) -> tuple[Any, ...]:
        """Return what makes a call likely, the most telling first.

        most: the highest share of answers of any call.
        """
        # The function makes sets itself, rather than that it is given one.
        makes_sets = self.depends_on_sets and self.call.form != "sets"
        answers_many = 4 * self.answered >= most
        return (
            makes_sets and self.answered >= most > 0,
            answers_many and not self.depends_on_sets,
            self.explained,
            self.is_varied,
            most == 0 and self.returned,
        )


def likely_calls(function: NDCGFunction, calls: Sequence[Call], seed: int) -> list[Candidate]:
    """Return the calls of which a definition explains all answers, then the likeliest other one."""
    candidates = [_asked_first(function, call, seed) for call in calls]
    varied = {candidate.call.form for candidate in candidates if candidate.is_varied}
    if not varied.isdisjoint(("sets", "ids")):
        # The function takes all relevant ids, of which one is a special case.
        candidates = [candidate for candidate in candidates if candidate.call.shows.several]
    most = max((candidate.answered for candidate in candidates), default=0)
    complete = _complete(candidates)
    others = [candidate for candidate in candidates if candidate not in complete]
    others.sort(key=lambda candidate: candidate.likelihood(most), reverse=True)
    return [*complete[:MOST_CALLS], *others[:1]]


def _complete(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the calls of which a definition explains all answers, the best first."""
    # Of a call with the wrong arguments, chance explains few answers by a slip or a factor, and
    # answers of only 0 or 1 or that depend on the order of a set.
    some_telling = any(candidate.explained.telling for candidate in candidates)
    complete = [
        candidate
        for candidate in candidates
        if candidate.explained.completely
        and bool(candidate.explained.telling) == some_telling
        and not candidate.depends_on_sets
    ]
    # Of calls explained as well, the form that shows the fewest facts comes first.
    forms = list(FORMS)
    complete.sort(key=lambda candidate: forms.index(candidate.call.form))
    return sorted(complete, key=lambda candidate: candidate.explained, reverse=True)


def _asked_first(function: NDCGFunction, call: Call, seed: int) -> Candidate:
    """Ask about the first rankings without ties."""
    numbers = tuple(islice(filter(is_plain, range(10**5)), FIRST_ASKED))
    asker = Asker(function, call)
    queries = plain_rankings(numbers, call.k, call.shows, seed)
    answers = list(map(asker.once, queries.changed(())))
    values = np.array([answer.value for answer in answers])
    answered = np.isfinite(values)
    first = Answers(queries, values[None], answered, np.zeros_like(answered), tolerance_of(values))
    explained = Explained()
    depends_on_sets = False
    if answered.any():
        explained = _explained(first)
        depends_on_sets = asker.depends_on_sets(queries.changed(()))
    is_varied = len(np.unique(values[answered])) > 1
    returned = sum(not answer.problem.startswith("raises") for answer in answers)
    share = float(answered.mean())
    return Candidate(call, first, explained, share, is_varied, returned, depends_on_sets)


def _explained(first: Answers) -> Explained:
    values, answered = first.values[0], first.plain
    is_varied = len(np.unique(values[answered])) > 1
    only_0_and_1 = {0.0, 1.0}.issuperset(values[answered])
    half = np.count_nonzero(answered & (values != 0) & (values != 1)) / 2
    slips = np.array([len(definition.slips) for definition in usual_definitions()])
    expected = expected_values(usual_definitions, first.queries)
    telling = (expected != 0) & (expected != 1)
    explained: list[list[int]] = []
    for scaled in (False, True):
        _, known, agree = compared(usual_definitions, first, scaled=scaled)
        # One of the values tells the factor.
        agreeing = (agree & telling).sum(axis=1) - scaled
        complete = (agree == known).all(axis=1) & (known.sum(axis=1) >= LEAST_ANSWERS)
        complete &= is_varied & (only_0_and_1 | (agreeing > 0))
        many = complete | (agreeing >= max(half, LEAST_ANSWERS))
        columns = complete, (-slips - scaled) * complete, agreeing * many
        explained += np.stack(columns, axis=1).tolist()
    return Explained(*max(explained))
