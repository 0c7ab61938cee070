"""Asking a function of nDCG for a score, and watching its side effects."""

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import filterfalse
from typing import Any, NamedTuple

import numpy as np

from ..inputs.sources import ARROW, converted
from ..measure.interrupts import interruptible
from ..measure.messages import in_short, shown
from .forms import FORMS, Call, NDCGFunction, arguments_text
from .slip_terms import Query

PREFIXES = [letter * times for times in (1, 2, 3) for letter in "efgh"]  # of ids
OF_A_SET = "gives another answer for other ids, since it depends on the order of a set"
FLOAT32 = 2e-6  # the tolerance of a value: some functions compute in 32 bits
NO_VALUE = ("returns nan", "returns None")  # as for a query that is left out of the mean


class Answer(NamedTuple):
    """The answer of a function for a ranking."""

    value: float  # the score; nan if there is none
    # the reason for a missing score, such as an error, in words; empty if the function returns a score
    problem: str = ""
    returned: str = ""  # the value that is not a score, or the words of the error, as text
    again: float = math.nan  # the score when it is asked once more, with other ids where these must not matter


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
            answers = f"{_shown_value(first)} and {_shown_value(second)}"
            habits[unlike] = f"{answers} for {arguments_text(query, self.call.form)}"
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

    def value(self, query: Query) -> float:
        """Return the score that it gives a ranking, without counting habits; nan if there is none."""
        return self._ask(self.form.of(query), query.k, {}).value

    def counts_duplicates(self) -> bool:
        """Return whether a function that takes ranked ids counts a document twice that is listed twice."""
        if not self.form.has_ids or self.form.shows.scores or self.form.is_batch:
            return False
        query = Query({}, {"d1": 1, "d2": 0}, 3)
        lists = ["d1", "d2"], ["d1", "d1", "d2"]
        once, twice = (self._ask((ids, self.form.of(query)[1]), 3, {}) for ids in lists)
        return twice.value > once.value + FLOAT32

    def in_form(self, form: str) -> "Asker":
        """Return an asker of the same function in another form."""
        return Asker(self.function, self.call._replace(form=form))

    def depends_on_sets(self, queries: Sequence[Query]) -> bool:
        """Return whether answers depend on the order of a set, which follows from the ids in it."""
        if not self.form.has_ids:
            return False
        for query in queries:
            self.answer(query)
        if OF_A_SET in self.habits or not self.form.shows.several:
            return OF_A_SET in self.habits
        k = queries[0].k or 1
        half_cut = Query({"d0": 1.0}, {f"d{at}": 1 for at in range(2 * k)}, k)  # if a function cuts the set at k
        one, other = ([self.value(_with_prefix(half_cut, prefix)) for prefix in PREFIXES] for _ in range(2))
        return np.array_equal(one, other, equal_nan=True) and len(np.unique(one)) > 1

    def _ask(self, arguments: tuple[Any, ...], k: int | None, habits: dict[str, str]) -> Answer:
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
                    answer = _read_answer(self.call.of(self.function, arguments, k), is_batch=self.form.is_batch)
            except BaseException as error:  # noqa: BLE001  # an error is also an answer, and SystemExit too
                answer = Answer(math.nan, f"raises {type(error).__name__}", in_short(error)[:80])
        if printed.getvalue():
            habits["prints"] = ""
        for each in warned:
            habits[f"warns ({each.category.__name__}: {' '.join(str(each.message).split())[:80]})"] = ""
        if [_as_text(each) for each in arguments] != before:
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


def _shown_value(answer: Answer) -> str:
    return "no score" if math.isnan(answer.value) else f"{answer.value:.6g}"


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


def _as_text(argument: Any) -> str:
    """Return an argument as text that shows each change, whatever a function writes into it.

    Its values cannot be compared with `==`: for an array in a list, that is an array of bools.
    """
    if hasattr(argument, "tolist"):  # an array or a tensor
        return f"{argument.dtype}{argument.shape}{argument.tolist()}"
    return repr(sorted(argument, key=repr) if isinstance(argument, set) else argument)


def _read_answer(returned: Any, *, is_batch: bool) -> Answer:
    """Read what a function returned."""
    value = _only_value(returned, is_batch=is_batch)
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


def _only_value(returned: Any, *, is_batch: bool = False) -> Any:
    """Return the value in an array or tensor of one, or that of both copies in a batch; None if it is masked.

    >>> _only_value(np.array([[0.5]])), _only_value([0.5]), _only_value({"q1": 0.5, "q2": 0.5}, is_batch=True)
    (0.5, [0.5], 0.5)
    """
    with suppress(Exception):  # whatever its library raises, it is not an array of numbers
        array = converted(list(returned.values()) if is_batch and isinstance(returned, Mapping) else returned)
        if isinstance(array, (np.ndarray, *ARROW)) or (is_batch and isinstance(array, list)):
            values = np.ma.asanyarray(array).reshape(-1).tolist()
            if len({*map(str, values)}) == 1 and len(values) <= 1 + is_batch:
                return values[0]
    return returned
