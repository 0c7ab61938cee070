"""Asking a function of nDCG: for a score, with its side effects; about random rankings; in which form to ask it."""

import io
import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import filterfalse, islice, product
from typing import Any, NamedTuple

import numpy as np

from ..inputs.sources import ARROW, converted
from ..measure.interrupts import interruptible
from ..measure.messages import in_short, shown
from ..measure.ties import Floats
from ..scores.progress import tracked
from .definitions import VISIBLE, Answers, compared, expected_values, usual_definitions
from .forms import FORMS, Call, NDCGFunction, argument_text, arguments_text
from .random_rankings import is_plain, kinds_of, plain_rankings, random_rankings
from .slip_terms import Queries, Query

PREFIXES = [letter * times for times in (1, 2, 3) for letter in "efgh"]  # of ids
OF_A_SET = "gives another answer for other ids, since it depends on the order of a set"
FLOAT32 = 2e-6  # the tolerance of a value: some functions compute in 32 bits
NO_VALUE = ("returns nan", "returns None")  # as for a query that is left out of the mean
MOST_DECIMALS = 6  # to which a function may round; with more, FLOAT32 is the tolerance
FIRST_ASKED = (
    16,
    64,
)  # rankings that tell the form and rule out most definitions; more if few are answered
LEAST_ANSWERS = 6  # of these, and for each kind of rankings
MOST_CALLS = 3
IF_LITTLE_SHOWS = 5  # times as many rankings, if a function rounds to few decimals or answers few


# One ranking


class Answer(NamedTuple):
    """The answer of a function for a ranking."""

    value: float  # the score; nan if there is none
    # the reason for a missing score, such as an error, in words; empty if the function returns a score
    problem: str = ""
    returned: str = ""  # the value that is not a score, or the words of the error, as text
    again: float = (
        math.nan
    )  # the score when it is asked once more, with other ids where these must not matter


class Habit(NamedTuple):
    """A side effect of a function."""

    times: int  # on how many rankings
    size: int  # the number of documents of the smallest of them
    example: str  # the result for that ranking, or else its arguments; empty if the ranking does not matter


class Asker:
    """Asks a function, and records its side effects.

    Attributes:
        habits: the side effects, in words.
    """

    def __init__(self, function: NDCGFunction, call: Call) -> None:
        self.function, self.call, self.form = function, call, FORMS[call.form]
        self.habits: dict[str, Habit] = {}

    def answer(self, query: Query) -> Answer:
        """Ask for one ranking, twice, and count habits."""
        habits: dict[str, str] = {}
        first, second = (self._ask(self.form.of(query), query.k, habits) for _ in range(2))
        unlike = "gives another answer when it is asked twice"
        if self.form.has_ids and _same(first, second):
            second, unlike = self._ask(self.form.of(_renamed(query)), query.k, {}), OF_A_SET
        if not _same(first, second):
            values = (
                "no score" if math.isnan(each.value) else f"{each.value:.6g}"
                for each in (first, second)
            )
            habits[unlike] = f"{' and '.join(values)} for {arguments_text(query, self.call.form)}"
        if first.value > 1 + FLOAT32:
            habits["returns a value above 1"] = ""
        if first.value < -FLOAT32:
            habits["returns a value below 0"] = ""
        size = len({*query.run, *query.qrels})
        for habit in sorted(habits):
            self._count(habit, size, habits[habit])
        if first.problem:
            raised = first.problem.startswith("raises")
            ranking = "" if first.returned and not raised else arguments_text(query, self.call.form)
            self._count(first.problem, size, " for ".join(filter(None, (first.returned, ranking))))
        return first._replace(again=second.value)

    def _count(self, habit: str, size: int, example: str) -> None:
        known = self.habits.get(habit, Habit(0, size, example))
        smallest = known if known.size <= size else Habit(0, size, example)
        self.habits[habit] = smallest._replace(times=known.times + 1)

    def once(self, query: Query) -> Answer:
        """Return the answer for a ranking, without counting habits."""
        return self._ask(self.form.of(query), query.k, {})

    def counts_duplicates(self) -> bool:
        """Return whether a function that takes ranked ids counts a document twice that is listed twice."""
        if not self.form.has_ids or self.form.shows.scores or self.form.is_batch:
            return False
        query = Query({}, {"d1": 1, "d2": 0}, 3)
        lists = ["d1", "d2"], ["d1", "d1", "d2"]
        once, twice = (self._ask((ids, self.form.of(query)[1]), 3, {}) for ids in lists)
        return twice.value > once.value + FLOAT32

    def depends_on_sets(self, queries: Sequence[Query]) -> bool:
        """Return whether answers depend on the order of a set, which follows from the ids in it."""
        if not self.form.has_ids:
            return False
        for query in queries:
            self.answer(query)
        if OF_A_SET in self.habits or not self.form.shows.several:
            return OF_A_SET in self.habits
        k = queries[0].k or 1
        half_cut = Query(
            {"d0": 1.0}, {f"d{at}": 1 for at in range(2 * k)}, k
        )  # if a function cuts the set at k
        one, other = (
            [self.once(_with_prefix(half_cut, prefix)).value for prefix in PREFIXES]
            for _ in range(2)
        )
        return np.array_equal(one, other, equal_nan=True) and len(np.unique(one)) > 1

    def _ask(self, arguments: tuple[Any, ...], k: int | None, habits: dict[str, str]) -> Answer:
        before, printed = [argument_text(each) for each in arguments], _Printed()
        with (
            interruptible(),
            redirect_stdout(_text_stream(printed)),
            redirect_stderr(_text_stream(printed)),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            try:
                with np.errstate(all="ignore"):
                    answer = _read_answer(
                        self.call.of(self.function, arguments, k), is_batch=self.form.is_batch
                    )
            except BaseException as error:  # noqa: BLE001  # an error is also an answer, and SystemExit too
                answer = Answer(math.nan, f"raises {type(error).__name__}", in_short(error)[:80])
        if printed.getvalue():
            habits["prints"] = ""
        for each in warned:
            habits[
                f"warns ({each.category.__name__}: {' '.join(str(each.message).split())[:80]})"
            ] = ""
        if [argument_text(each) for each in arguments] != before:
            habits["changes its arguments"] = ""
        return answer


class _Printed(io.BytesIO):
    """What a function prints, also if it closes its output."""

    def close(self) -> None:
        """Keep what was printed."""


def _text_stream(printed: _Printed) -> io.TextIOWrapper:
    """Return a stream like `sys.stdout`, with its buffer, encoding and other attributes."""
    return io.TextIOWrapper(printed, "utf-8", "replace", write_through=True)


def _same(one: Answer, other: Answer) -> bool:
    return one.value == other.value or (math.isnan(one.value) and math.isnan(other.value))


def _renamed(query: Query) -> Query:
    """Return a ranking with other ids in the same order, of which sets have another order."""
    sides = [set(query.run), {each for each, relevance in query.qrels.items() if relevance > 0}]

    def keeps_order(prefix: str) -> bool:
        names = [[prefix + each for each in side] for side in sides if len(side) > 1]
        return any([*set(each)] == each for each in names)

    return _with_prefix(query, next(filterfalse(keeps_order, PREFIXES), PREFIXES[0]))


def _with_prefix(query: Query, prefix: str) -> Query:
    """Return a ranking whose ids begin with a prefix."""
    run, qrels = ({prefix + each: value for each, value in side.items()} for side in query[:2])
    return query._replace(run=run, qrels=qrels)


def _read_answer(returned: Any, *, is_batch: bool) -> Answer:
    """Read what a function returned."""
    value = _only_value(returned, is_batch=is_batch)
    if value is None:
        return Answer(math.nan, "returns None")
    if isinstance(value, (str, bytes)):
        return Answer(math.nan, "returns text", shown(value))
    no_number = Answer(
        math.nan,
        f"returns a value of type {type(value).__name__}, which is not a number",
        shown(value),
    )
    if isinstance(value, (bool, np.bool_)):
        return no_number
    try:
        number = float(value)
    except (TypeError, ValueError):
        return no_number
    if math.isnan(number):
        return Answer(math.nan, "returns nan")
    return Answer(number) if math.isfinite(number) else Answer(math.nan, "returns infinity")


def _only_value(returned: Any, *, is_batch: bool = False) -> Any:
    """Return the value in an array or tensor of one, or that of both copies in a batch; None if it is masked.

    >>> _only_value(np.array([[0.5]])), _only_value([0.5]), _only_value({"q1": 0.5, "q2": 0.5}, is_batch=True)
    (0.5, [0.5], 0.5)
    """
    with suppress(Exception):  # whatever its library raises, it is not an array of numbers
        array = converted(
            list(returned.values()) if is_batch and isinstance(returned, Mapping) else returned
        )
        if isinstance(array, (np.ndarray, *ARROW)) or (is_batch and isinstance(array, list)):
            values = np.ma.asanyarray(array).reshape(-1).tolist()
            if len({*map(str, values)}) == 1 and len(values) <= 1 + is_batch:
                return values[0]
    return returned


# Many rankings


class Asked(NamedTuple):
    """The answers of a function to random rankings."""

    asker: Asker  # asked the function, and knows its side effects
    cases: int  # the number of rankings that it was asked about
    refused: bool  # whether it gave no answer to most of these
    answers: Answers | None = None  # the answers; None if no score is among them


def ask(function: NDCGFunction, call: Call, cases: int, seed: int) -> Asked:
    """Ask about rankings, again about kinds with few answers, and about many more if these answers show little."""
    asker, kinds = Asker(function, call), kinds_of(call.shows)
    rows: list[tuple[int, Query, Answer]] = []
    refused: list[int] = []

    def ask_about(numbers: Sequence[int], attempt: int = 0) -> None:
        queries = random_rankings(numbers, call.k, call.shows, seed, attempt)
        for number, query in tracked([*zip(numbers, queries, strict=True)], "Asking", " rankings"):
            answer = asker.answer(query)
            # A convention may have no value for a query; a function may also leave out one without documents.
            if not answer.problem or (answer.problem in NO_VALUE and query.run):
                rows.append((number, query, answer))
            else:
                refused.append(number)

    def has_refused_most() -> bool:
        return len(refused) > len(rows)

    ask_about(range(cases))
    refused_most_at_first = has_refused_most()
    values = np.array([answer.value for _, _, answer in rows])
    of_kind = Counter(kinds[number % len(kinds)] for number, _, _ in rows)
    few = [number for number in refused if of_kind[kinds[number % len(kinds)]] < LEAST_ANSWERS]
    if np.isfinite(values).any():
        for attempt in (1, 2, 3):
            ask_about(few, attempt)
        if tolerance_of(values) > VISIBLE or refused_most_at_first:
            ask_about(range(cases, cases * IF_LITTLE_SHOWS))
    asked = Asked(asker, len(rows) + len(refused), has_refused_most())
    if not any(math.isfinite(answer.value) for _, _, answer in rows):
        return asked
    values = np.array([[answer.value, answer.again] for _, _, answer in rows]).T
    plain = np.array([is_plain(number) for number, _, _ in rows])
    close = np.array([kinds[number % len(kinds)] == "close" for number, _, _ in rows])
    queries = Queries(query for _, query, _ in rows)
    return asked._replace(answers=Answers(queries, values, plain, close, tolerance_of(values)))


def decimals_of(values: Floats) -> int | None:
    """Return the number of decimals to which values are rounded; None if they are not, or all are the same.

    >>> decimals_of(np.array([0.63, 0.5])), decimals_of(np.float32([0.1, 1])), decimals_of(np.array([1 / 3, 0]))
    (2, 1, None)
    """
    if len(numbers := np.unique(values[np.isfinite(values)])) < 2:
        return None
    rounded = (
        np.allclose(numbers, numbers.round(each), rtol=1e-7, atol=1e-12)
        for each in range(MOST_DECIMALS + 1)
    )
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
    telling: int = (
        0  # how many values other than 0 and 1, which many definitions share; 0 if these are few
    )


class Candidate(NamedTuple):
    """A call, and the answers to the first rankings without ties."""

    call: Call
    first: Answers
    explained: Explained
    answered: float  # the share of them that have an answer
    is_varied: bool  # whether the answers differ
    returned: int  # how many of the first rankings raised no error
    depends_on_sets: bool


def likely_calls(function: NDCGFunction, calls: Sequence[Call], seed: int) -> Iterator[Candidate]:
    """Yield those calls of which some definition explains all answers, then those of which one explains most.

    If grades of relevance give values above 1 or none, the last ones have no relevance above 1.
    """
    found = []
    for call in calls:
        candidate = _asked_first(function, call, FIRST_ASKED[0], seed)
        few = 0 < candidate.answered * FIRST_ASKED[0] < LEAST_ANSWERS
        found.append(_asked_first(function, call, FIRST_ASKED[1], seed) if few else candidate)
    if any(
        each.is_varied for each in found if each.call.form in ("sets", "ids")
    ):  # it finds several relevant ids
        found = [each for each in found if each.call.shows.several]
    # Chance explains few answers to a call with the wrong arguments by a slip or a factor, and those of only 0 or 1
    # or that depend on the order of a set.
    most = max((each.answered for each in found), default=0)
    telling = any(each.explained.telling for each in found)
    by_facts = sorted(found, key=lambda each: list(FORMS).index(each.call.form))
    complete = [
        each
        for each in by_facts
        if each.explained.completely
        and not each.depends_on_sets
        and bool(each.explained.telling) == telling
        if not each.explained.minus_slips or 4 * each.answered >= most
    ]
    complete.sort(key=lambda each: each.explained, reverse=True)
    yield from (
        each for each in complete[:MOST_CALLS] if each.explained[:2] == complete[0].explained[:2]
    )

    def likelihood(each: Candidate) -> tuple[Any, ...]:
        answers = 4 * each.answered >= most
        own = (
            each.answered >= most > 0 and each.depends_on_sets and each.call.form != "sets"
        )  # it makes these sets
        return (
            own,
            answers and not each.depends_on_sets,
            each.explained,
            each.is_varied,
            most == 0 and each.returned,
        )

    # two calls in one form, with the fewest facts if in doubt
    others = sorted((each for each in found if each not in complete), key=likelihood, reverse=True)
    others = [each for each in others if each.call.form == others[0].call.form and each.answered][
        :2
    ] or others[:1]
    yield from others
    for call, first, *_ in others:
        values = first.values[0]
        if call.shows.grades and ((values > 1 + FLOAT32).any() or first.plain.mean() < 0.5):
            yield _asked_first(function, call._replace(is_binary=True), len(values), seed)


def _asked_first(function: NDCGFunction, call: Call, count: int, seed: int) -> Candidate:
    """Ask about the first rankings without ties: a few of them if none of these has an answer."""
    numbers, asker = tuple(islice(filter(is_plain, range(10**5)), count)), Asker(function, call)
    queries = plain_rankings(numbers, call.k, call.shows, seed)
    answers = [asker.once(query) for query in queries.changed(())]
    values = np.array([answer.value for answer in answers])
    answered = np.isfinite(values)
    first = Answers(queries, values[None], answered, np.zeros(count, bool), tolerance_of(values))
    explained = _explained(first) if answered.any() else Explained()
    of_sets = bool(answered.any()) and asker.depends_on_sets(queries.changed(()))
    is_varied = len(np.unique(values[answered])) > 1
    returned = sum(not answer.problem.startswith("raises") for answer in answers)
    return Candidate(call, first, explained, float(answered.mean()), is_varied, returned, of_sets)


def _explained(first: Answers) -> Explained:
    """Return how well the definition that explains answers best does so."""
    values, answered = first.values[0], first.plain
    varied, flags = len(np.unique(values[answered])) > 1, {0.0, 1.0}.issuperset(values[answered])
    slips = np.array([len(definition.slips) for definition in usual_definitions()])
    expected, best = expected_values(usual_definitions, first.queries), []
    telling = (expected != 0) & (expected != 1)
    for tolerance, scaled in product({FLOAT32, first.tolerance}, (False, True)):
        _, known, agree = compared(
            usual_definitions, first._replace(tolerance=tolerance), scaled=scaled
        )
        some = 0 if flags and tolerance > FLOAT32 else (agree & telling).sum(axis=1) - scaled
        complete = (
            varied
            & (flags | (some > 0))
            & (agree == known).all(axis=1)
            & (known.sum(axis=1) >= LEAST_ANSWERS)
        )
        exact = complete & (tolerance == FLOAT32)
        half = np.count_nonzero(answered & (values != 0) & (values != 1)) / 2
        many = complete | (some >= max(half, LEAST_ANSWERS))
        columns = complete, exact, (-slips - scaled) * complete, some * many
        best.append(max(zip(*(column.tolist() for column in columns), strict=True)))
    return Explained(*max(best))
