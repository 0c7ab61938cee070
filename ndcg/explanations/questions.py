"""Asking a function of nDCG: the forms that functions accept, and their side effects."""

import inspect
import io
import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import filterfalse, product
from typing import Any, NamedTuple

import numpy as np

from ..inputs.sources import ARROW, converted
from ..measure.interrupts import interruptible
from ..measure.messages import in_short, shown
from .slip_terms import Query, ranked

NDCGFunction = Callable[..., Any]

FUNCTION_FORMS = {  # the arguments of each form
    "mappings": "{document: score}, {document: relevance}, k",
    "lists": "scores, relevance, k",
    "arrays": "scores, relevance, k",
    "ranked": "ids, {document: relevance}, k",
    "sets": "ids, {relevant ids}, k",
    "ids": "ids, [relevant ids], k",
    "relevance": "relevance, best first, k",
}
FORMS_WITHOUT_IDS = ("lists", "arrays", "relevance")  # in which all documents are judged and retrieved
FORMS_WITH_IDS = ("sets", "ids", "ranked", "mappings")
FORMS_BY_FACTS = (*FORMS_WITH_IDS, *FORMS_WITHOUT_IDS)  # those that tell the fewest facts of a ranking first
FORMS_WITHOUT_SCORES = ("ranked", "sets", "ids", "relevance")
PREFIXES = [letter * times for times in (1, 2, 3) for letter in "efgh"]  # of ids
CUTOFF_NAMES = ("k", "top_k", "topk", "top_n", "topn", "at", "at_k", "cutoff", "n")
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
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


class Call(NamedTuple):
    """How a function is called."""

    form: str  # the form of the ranking
    cutoff: int | str | None = 2  # the position or the name of the cutoff, None if the function takes none
    relevance_first: bool = False  # whether the relevance comes before the scores or ids


class Asker:
    """Asks a function, and records its side effects.

    Attributes:
        habits: the side effects, in words.
    """

    def __init__(self, function: NDCGFunction, call: Call) -> None:
        self.function, self.call = function, call
        self.habits: dict[str, Habit] = {}

    def answer(self, query: Query) -> Answer:
        """Ask for one ranking, twice, and count habits."""
        habits: dict[str, str] = {}
        form = self.call.form
        first, second = (self._ask(_arguments(query, form), query.k, habits) for _ in range(2))
        unlike = "gives another answer when it is asked twice"
        if form in FORMS_WITH_IDS and _same(first, second):
            second, unlike = self._ask(_arguments(_renamed(query), form), query.k, {}), OF_A_SET
        if not _same(first, second):
            habits[unlike] = f"{_shown_value(first)} and {_shown_value(second)} for {arguments_text(query, form)}"
        if first.value > 1 + FLOAT32:
            habits["returns a value above 1"] = ""
        if first.value < -FLOAT32:
            habits["returns a value below 0"] = ""
        size = len({*query.run, *query.qrels})
        for habit in sorted(habits):
            self._count(habit, size, habits[habit])
        if first.problem:
            raised = first.problem.startswith("raises")
            ranking = "" if first.returned and not raised else arguments_text(query, form)
            self._count(first.problem, size, " for ".join(filter(None, (first.returned, ranking))))
        return first._replace(again=second.value)

    def _count(self, habit: str, size: int, example: str) -> None:
        known = self.habits.get(habit, Habit(0, size, example))
        smallest = known if known.size <= size else Habit(0, size, example)
        self.habits[habit] = smallest._replace(times=known.times + 1)

    def value(self, query: Query) -> float:
        """Return the score that it gives a ranking, without counting habits; nan if there is none."""
        return self._ask(_arguments(query, self.call.form), query.k, {}).value

    def counts_duplicates(self) -> bool:
        """Return whether a function that takes ranked ids counts a document twice that is listed twice."""
        if self.call.form not in FORMS_WITHOUT_SCORES or self.call.form in FORMS_WITHOUT_IDS:
            return False
        query = Query({}, {"d1": 1, "d2": 0}, 3)
        lists = ["d1", "d2"], ["d1", "d1", "d2"]
        once, twice = (self._ask((ids, _arguments(query, self.call.form)[1]), 3, {}) for ids in lists)
        return twice.value > once.value + FLOAT32

    def in_form(self, form: str) -> "Asker":
        """Return an asker of the same function in another form."""
        return Asker(self.function, self.call._replace(form=form))

    def depends_on_sets(self, queries: Sequence[Query]) -> bool:
        """Return whether answers depend on the order of a set, which follows from the ids in it."""
        if self.call.form not in FORMS_WITH_IDS:
            return False
        for query in queries:
            self.answer(query)
        k = queries[0].k or 1
        half_cut = Query({"d0": 1.0}, {f"d{at}": 1 for at in range(2 * k)}, k)  # if a function cuts the set at k
        one, other = ([self.value(_with_prefix(half_cut, prefix)) for prefix in PREFIXES] for _ in range(2))
        is_fixed = np.array_equal(one, other, equal_nan=True)
        return OF_A_SET in self.habits or (is_fixed and len(np.unique(one)) > 1)

    def _called(self, arguments: tuple[Any, ...], k: int | None) -> Any:
        """Return the function's result."""
        ordered: list[Any] = [*arguments[::-1]] if self.call.relevance_first else [*arguments]
        if isinstance(self.call.cutoff, str):
            return self.function(*ordered, **{self.call.cutoff: k})
        if self.call.cutoff is not None:
            ordered.insert(self.call.cutoff, k)
        return self.function(*ordered)

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
                    answer = _read_answer(self._called(arguments, k))
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


def possible_calls(function: NDCGFunction, k: int | None, forms: Sequence[str]) -> list[Call]:
    """Return the calls that a function may accept, in some forms.

    A function of one argument, or of one and the cutoff, takes the relevance in the order of the ranking.

    >>> possible_calls(lambda r, k, method=0: 0, 10, ("lists", "relevance"))
    [Call(form='relevance', cutoff=1, relevance_first=False)]
    """
    cutoffs, is_one = cutoff_parameters(function, k), len(forms) == 1
    if "relevance" in forms and (is_one or _takes_one_list(function)):
        return [Call("relevance", cutoff) for cutoff in cutoffs]
    calls = product(cutoffs, [form for form in forms if form != "relevance"], (False, True))
    return [Call(form, cutoff, relevance_first) for cutoff, form, relevance_first in calls]


def _takes_one_list(function: NDCGFunction) -> bool:
    """Return whether a function needs only one list and perhaps the cutoff; optional arguments may follow."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return False
    positional = [each for each in parameters if each.kind in POSITIONAL]
    others = [each for each in positional if each.name.lower() not in CUTOFF_NAMES]
    if not others or any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return False
    rest_is_optional = all(each.default is not each.empty for each in others[1:])
    return rest_is_optional and (len(others) == 1 or positional[1] not in others)


def cutoff_parameters(function: NDCGFunction, k: int | None) -> list[int | str | None]:
    """Return where a function may take the cutoff: a position, a keyword, or None for nowhere.

    >>> cutoff_parameters(lambda scores, relevance, base=2, k=10: 0, 5)
    ['k']
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):  # of a built-in function nothing is known
        return [None if k is None else 2]
    kinds = {each.kind for each in parameters}
    positional = [each for each in parameters if each.kind in POSITIONAL]
    for each in parameters:
        if each.name.lower() in CUTOFF_NAMES and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            return [positional.index(each) if each in positional[:3] else each.name]
    if len(positional) > 2:
        default = positional[2].default
        if default is inspect.Parameter.empty:
            return [2]
        return [2, None] if default is None or type(default) is int else [None]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return [2]
    return ["k" if inspect.Parameter.VAR_KEYWORD in kinds else None]


def _arguments(query: Query, form: str) -> tuple[Any, ...]:
    """Return a ranking in a form, as new objects."""
    if form == "relevance":
        return ([query.qrels[each] for each in ranked(query)],)
    if form == "mappings":
        return dict(query.run), dict(query.qrels)
    if form == "ranked":
        return ranked(query), dict(query.qrels)
    if form in ("sets", "ids"):
        relevant = [document for document, relevance in query.qrels.items() if relevance > 0]
        return ranked(query), set(relevant) if form == "sets" else relevant
    sides = [query.run[each] for each in query.run], [query.qrels.get(each) for each in query.run]
    return (np.array(sides[0]), np.array(sides[1])) if form == "arrays" else sides


def arguments_text(query: Query, form: str) -> str:
    """Return a ranking as the arguments of a function, to paste.

    >>> arguments_text(Query({"d1": 2.0}, {"d1": 1}, 3), "lists")
    'scores = [2.0], relevance = [1], k = 3'
    """
    names = {
        "mappings": ("run", "qrels"),
        "ranked": ("ids", "relevance"),
        "relevance": ("relevance",),
        **dict.fromkeys(("sets", "ids"), ("ids", "relevant")),
    }
    arguments = dict(zip(names.get(form, ("scores", "relevance")), _arguments(query, form), strict=True))
    if form == "arrays":
        arguments = {name: array.tolist() for name, array in arguments.items()}
    if form == "sets":
        relevant = sorted(arguments["relevant"])
        arguments["relevant"] = f"{{{', '.join(map(repr, relevant))}}}" if relevant else "set()"
    return ", ".join(f"{name} = {value}" for name, value in {**arguments, "k": query.k}.items())


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
