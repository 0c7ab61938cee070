"""The definition that a function of nDCG computes: of which libraries, and with which slips.

Its answers to some hundred small rankings are compared with every definition. If it differs from the convention that is
nearest, the smallest ranking on which it differs shows why.
"""

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from ..measure.arguments import OPTIONS
from ..measure.conventions import CONVENTIONS
from ..measure.messages import shown
from ..measure.options import Options, choice, result_name, whole
from ..measure.ties import Floats, Mask
from ..show.json_types import without_nan
from ..show.tables import Readable, Table, number_text
from .asking import FLOAT32, NO_VALUE, OF_A_SET, Asked, Asker, ask, decimals_of, likely_calls
from .definitions import FACTORS, VISIBLE, Answers, Match, explain_answers
from .forms import FORMS, NDCGFunction, Shows, arguments_text, possible_calls
from .properties import in_common, properties_of
from .slip_terms import Query, query_scores, ranked
from .slips import DUPLICATES_COUNTED, slip_named

DOUBTFUL = (
    0.2  # of the answers: if no convention agrees with as many, the arguments are probably wrong
)
NEAREST_SHOWN = 5  # conventions in the table
WITHOUT_ORDER = (
    "ranx",
    "ranx_burges",
    "allrank",
)  # libraries that order ties of longer lists in no fixed way


WRAPPER = (
    "  def wrapped(run, qrels, k):  # {document: score}, {document: relevance}, the cutoff",
    "      ranking = sorted(run, key=run.get, reverse=True)[:k]",
    "      return my_ndcg([qrels.get(document, 0) for document in ranking], list(qrels.values()))",
)


class Example(NamedTuple):
    """The smallest ranking on which a function and a convention differ.

    Attributes:
        query: the ranking.
        value: the score that the function returns.
        expected: the score by the convention.
        ideal: the ideal DCG by the convention.
        rows: for each document its id, score (None if not retrieved), relevance (None if not judged), gain, discount,
            and the product of the last two.
    """

    query: Query
    value: float
    expected: float
    ideal: float
    rows: tuple[tuple[str, float | None, float | None, float, float, float], ...]


@dataclass(frozen=True)
class Check(Readable):
    """The definition that a function of nDCG computes.

    Attributes:
        signature: the options of the convention that the function computes; empty if it has a slip, is unknown, or if
            the function refused most rankings.
        form: the form in which the function takes rankings.
        k: the cutoff; None if whole rankings were compared.
        cases: the number of rankings that it was asked about.
        answered: the number of these for which it returned a score, or nan or None for no score.
        matches: the definitions with which all answers agree: conventions; or else slips on conventions, the one that
            was reported most often first.
        agreeing: the number of answers that agree with each convention.
        wanted: the convention that the function should compute; empty for any.
        example: the smallest ranking on which the function and the nearest convention differ, if one is near.
        notes: side effects of the function, and the common trait of the rankings that differ.
        unordered: the number of answers for rankings with ties, if no order of tied documents explains them all, but
            each is the score of some order; else 0.
        refused: whether it returned no score for most rankings, so that the others do not show what it computes.
        is_binary: whether it was asked with a relevance of 0 and 1 only, since grades give values above 1 or none.
        called: the calls that were made to find the form, in words, if the best of them explains few answers.
    """

    signature: str
    form: str
    k: int | None
    cases: int
    answered: int
    matches: tuple[Match, ...]
    agreeing: dict[str, int]
    wanted: str = ""
    example: Example | None = None
    notes: tuple[str, ...] = ()
    unordered: int = 0
    refused: bool = False
    is_binary: bool = False
    called: tuple[str, ...] = ()

    @property
    def conventions(self) -> tuple[str, ...]:
        """The conventions that the function computes, for rankings without ties if its order of these is not fixed.

        Empty if it refused most rankings: a few scores that agree do not show what it computes.
        """
        return () if self.refused else self._agreed

    @property
    def _agreed(self) -> tuple[str, ...]:
        """The conventions with which all of its scores agree."""
        return tuple(
            match.convention for match in self.matches if not match.slips and match.factor == 1
        )

    @property
    def nearest(self) -> str:
        """The convention that was wanted, or else the one of the first match, or else the one that agrees most."""
        if self.wanted:
            return self.wanted
        if self.matches:
            return self.matches[0].convention
        return max(self.agreeing, key=self.agreeing.__getitem__, default="sklearn")

    @property
    def status(self) -> int:
        """0 if the function computes a convention, or the one that was wanted; 1 if not; 2 if it gave no score.

        3 if it gave no score for most rankings, or computes a convention only for a relevance of 0 and 1.
        """
        if not self.answered:
            return 2
        if self.refused:
            return 3
        wanted = self.wanted in self.conventions and (
            not self.unordered or self.wanted in WITHOUT_ORDER
        )
        if not (wanted if self.wanted else self.conventions):
            return 1
        return 3 if self.is_binary else 0

    @property
    def is_doubtful(self) -> bool:
        """Whether the function is probably called in another way: nothing explains its answers."""
        return (
            not self.matches and max(self.agreeing.values(), default=0) < DOUBTFUL * self.answered
        )

    def _tables(self) -> list[Table]:
        tables = []
        if self.example is not None:
            tables = [[["rank", "document", "score", "relevance", "gain", "discount", "product"]]]
            for rank, (document, score, relevance, *numbers) in enumerate(
                self.example.rows, start=1
            ):
                place = (
                    ["–", document, "–"] if score is None else [str(rank), document, f"{score:g}"]
                )
                tables[0].append(
                    [
                        *place,
                        "–" if relevance is None else f"{relevance:g}",
                        *map(number_text, numbers),
                    ]
                )
        best = sorted(self.agreeing.items(), key=lambda item: -item[1])[:NEAREST_SHOWN]
        counts = [
            ["convention", "rankings that agree"],
            *([name, f"{count:,}"] for name, count in best),
        ]
        return [*tables, *([counts] if best else [])]

    def _remarks(self) -> list[str]:
        return [*self._verdict(), *self._difference(), *self.notes]

    def _verdict(self) -> Iterator[str]:
        """Yield in words the definition and the slips of the function."""
        if not self.answered:
            yield f"The function returned no score for any of {self.cases:,} rankings."
            yield from self._how_to_wrap()
            return
        if self.is_doubtful:
            most = max(self.agreeing.values())
            yield f"Nothing explains its answers: with any convention, at most {most:,} of {self.answered:,} agree."
            yield from self._how_to_wrap()
        of = (
            f" for which it returned a score, of {self.cases:,}"
            if self.answered < self.cases
            else ""
        )
        agree = f"all {self.answered:,} rankings agree{of}"
        if self.unordered:
            agree = f"all {self.answered - self.unordered:,} rankings without ties agree{of}"
        if self.conventions:
            yield f"The function computes the nDCG of {', '.join(self.conventions)}: {agree}."
        if self.refused:
            yield f"The function returned a score for only {self.answered:,} of {self.cases:,} rankings."
            if self._agreed:
                agreed = ", ".join(self._agreed)
                yield f"They agree with the nDCG of {agreed}, but do not show what it computes."
        if self.wanted and self.wanted not in self._agreed:
            count = self.agreeing[self.wanted]
            yield f"It does not compute the nDCG of {self.wanted}: {count:,} of {self.answered:,} rankings agree."
        if not self.matches and not self.is_doubtful:
            count = self.agreeing[self.nearest]
            yield "No convention and no known slip explains it."
            yield f"The nearest convention is {self.nearest}: {count:,} of {self.answered:,} rankings agree."
        yield from self._slips(agree)
        if self.unordered:
            yield (
                f"Its order of tied documents is not fixed: no order explains its scores for the {self.unordered:,} "
                "rankings with ties, but each is the score of some order."
            )

    def _how_to_wrap(self) -> Iterator[str]:
        """Yield in words how the function was called, and how to call it in another way."""
        yield "It probably takes other arguments than those that it was called with, in any order:"
        yield from (f"  ({each})" for each in self.called)
        yield "Wrap it in a function that takes one of these, and check that one, for example:"
        yield from WRAPPER

    def _slips(self, agree: str) -> Iterator[str]:
        """Yield in words the slips and the factor of the function."""
        on_conventions: dict[tuple[Any, ...], list[str]] = {}
        for match in self.matches:
            if match.convention not in self._agreed:
                on_conventions.setdefault(match[1:], []).append(match.convention)
        for at, ((names, factor), conventions) in enumerate(on_conventions.items()):
            slips = [slip_named(name) for name in names]
            times = "" if factor == 1 else f"{factor:.5g} times "
            slip = (
                f" with {'a slip' if len(names) == 1 else 'slips'}: {' and '.join(names)}"
                if names
                else ""
            )
            yield f"{'Or it' if at else 'It'} computes {times}the nDCG of {', '.join(conventions)}{slip}: {agree}."
            yield from ([FACTORS[factor]] if factor in FACTORS else [])
            if round(factor, 3) == 2 and FORMS[self.form].is_batch:
                yield "It returns the sum over the rankings, not their mean."
            yield from (f"{slip.meaning}{slip.reported}" for slip in slips)

    def _difference(self) -> Iterator[str]:
        """Yield the sums of the smallest ranking on which the function differs."""
        if (example := self.example) is None:
            return
        name, documents = result_name("nDCG", example.query.k), len(example.rows)
        sums = f"{number_text(math.fsum(row[-1] for row in example.rows))} / {number_text(example.ideal)}"
        returned = "no score" if math.isnan(example.value) else number_text(example.value)
        smallest = (
            f"The smallest ranking on which it differs from {self.nearest} has {documents} document"
        )
        expected = f"{name} of {self.nearest} is {sums} = {number_text(example.expected)}"
        yield f"{smallest}{'s' * (documents != 1)}. {expected}; the function returns {returned}."
        yield arguments_text(example.query, self.form)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        values: dict[str, Any] = without_nan(vars(self))
        if self.example is not None:
            for name in ("missing", "name"):
                del values["example"]["query"][name]
        return values


def check(
    function: NDCGFunction,
    *,
    k: int | None = 10,
    form: str | None = None,
    convention: str | None = None,
    cases: int = 200,
    seed: int = 0,
) -> Check:
    """Find out which library's nDCG a function computes, or how it goes wrong.

    The function is asked for the nDCG of small random rankings, one query at a time: with ties, unjudged and
    unretrieved documents, graded relevance, no relevant documents, more and fewer documents than the cutoff. It is not
    asked about rankings that its form cannot express.

    Args:
        function: returns the nDCG of one query, from a ranking and the cutoff; if `k` is None, it may take the ranking
            only.
        k: the cutoff; None for the whole list.
        form: how the function takes a ranking, such as "mappings" (`{document: score}`, `{document: relevance}`, k) or
            "sets" (ids of documents, best first, the set of those that are relevant, k); docs/slips.md lists all. By
            default, the form in which some definition explains most answers. The arguments may have another order.
        convention: the convention that the function should compute; by default any.
        cases: the number of rankings.
        seed: the random seed of the rankings.

    Returns:
        What the function computes. `print(result)` says it in words, with the smallest ranking on which the function
        differs from the nearest convention.

    Raises:
        ValueError: names the argument, its value and the allowed ones.
        TypeError: `function` cannot be called.

    >>> import math
    >>> def ndcg_at(run, qrels, k):
    ...     grades = [qrels.get(document, 0) for document in sorted(run, key=run.get, reverse=True)][:k]
    ...     dcg = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades))
    ...     ideal = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(grades, reverse=True)))
    ...     return dcg / ideal if ideal else 0.0
    >>> result = check(ndcg_at)
    >>> result.matches[0].slips
    ('ideal from the top k retrieved',)
    >>> result.example.value, result.example.expected
    (1.0, 0.25)
    """
    if not callable(function):
        raise TypeError(f"function must be a function; got {shown(function)}")
    if inspect.iscoroutinefunction(function):
        raise ValueError(
            "function must return a score, but is async: wrap it in a function that calls asyncio.run"
        )
    if k is not None:
        whole("k", k, 1, 10**3)
    whole("cases", cases, 1, 10**5)
    whole("seed", seed, 0)
    for name, value, words in (
        ("form", form, tuple(FORMS)),
        ("convention", convention, tuple(CONVENTIONS)),
    ):
        if value is not None:
            choice(name, value, words)
    forms = tuple(FORMS) if form is None else (form,)
    calls = possible_calls(function, k, forms)
    if not calls:
        raise ValueError(
            "function must take a ranking and a cutoff; wrap it in a function of (run, qrels, k), which are "
            "{document: score}, {document: relevance} and the cutoff"
        )
    found: list[Check] = []
    for call, first, *_ in likely_calls(function, calls, seed):
        if call.is_binary and any(each.matches for each in found):
            break
        found.append(_compared(ask(function, call, cases, seed), first, convention or ""))
        if _slips(found[-1]) < 2:
            break
    best = min(found, key=_slips)
    if best.k is None and k is not None:
        best = replace(
            best, notes=("It takes no cutoff, so whole rankings were compared.", *best.notes)
        )
    if best.answered and not best.is_doubtful:
        return best
    return replace(
        best,
        called=tuple({each._replace(order=tuple(sorted(each.order))).text: None for each in calls}),
    )


def _slips(result: Check) -> float:
    """Return the fewest slips that explain the answers."""
    return min((len(match.slips) for match in result.matches), default=math.inf)


def _compared(asked: Asked, first: Answers, wanted: str) -> Check:
    """Compare answers with every definition."""
    call, notes = asked.asker.call, [*_notes(asked)]
    result = Check("", call.form, call.k, asked.cases, 0, (), {}, wanted, is_binary=call.is_binary)
    if asked.answers is None:
        return replace(result, notes=tuple(notes))
    rounded, of_0_and_1 = asked.answers.tolerance, {0.0, 1.0}.issuperset(asked.answers.values.flat)
    for tolerance in (
        {FLOAT32: None, rounded: None} if of_0_and_1 else (rounded,)
    ):  # some definitions give only these
        answers = asked.answers._replace(tolerance=tolerance)
        shows_nothing = asked.refused and len(np.unique(answers.values)) == 1
        matches, unordered = (
            ([], 0)
            if shows_nothing
            else explain_answers(answers, first._replace(tolerance=tolerance))
        )
        if matches:
            break
    queries = answers.queries
    expected = {name: queries.scores({"convention": name}) for name in CONVENTIONS}
    agree = {name: answers.agree(each) for name, each in expected.items()}
    result = replace(
        result,
        answered=len(answers.plain),
        refused=asked.refused,
        matches=tuple(matches),
        unordered=unordered,
        agreeing={name: int(np.count_nonzero(each)) for name, each in agree.items()},
    )
    differing = ~agree[result.nearest]
    if answers.tolerance > VISIBLE:
        decimals = decimals_of(answers.values)
        rounds = f"It rounds to {decimals} decimal{'s' * (decimals != 1)}"
        notes.insert(
            0, f"{rounds}, which hides differences below {answers.tolerance:g}; ask for more cases."
        )
    if differing.any() and not result.is_doubtful and not (unordered and result.status == 0):
        visible = differing & _differ_visibly(
            answers.values[0], expected[result.nearest], answers.tolerance
        )
        own = compress(queries.changed(()), visible if visible.any() else differing)
        result = replace(
            result, example=_smallest_example(asked.asker, own, result.nearest, answers.tolerance)
        )
        if not matches:
            properties = properties_of(
                queries.rankings(range(result.answered), (), Options.parse()), result.k
            )
            notes[:0] = in_common(properties, differing, "rankings", result.nearest)
    if asked.asker.counts_duplicates():
        notes.append(f"{DUPLICATES_COUNTED.meaning}{DUPLICATES_COUNTED.reported}")
    if result.form == "ids" and OF_A_SET not in asked.asker.habits:
        as_sets = Asker(asked.asker.function, asked.asker.call._replace(form="sets"))
        if as_sets.depends_on_sets(first.queries.changed(())):
            notes.append(
                "If the relevant ids are a set, its answers depend on the order of that set."
            )
    signature = _signature(result, answers) if result.conventions else ""
    return replace(result, notes=tuple(notes), signature=signature)


def _notes(asked: Asked) -> Iterator[str]:
    """Yield in words how a function was called, and its side effects."""
    call = asked.asker.call
    form = FORMS[call.form]
    if call.cutoff is None and call.k is not None:
        yield f"It takes no cutoff. It was compared with nDCG@{call.k}."
    if call.form in ("relevance", "relevance_rows"):
        lacking = "relevant documents that were not retrieved are not in its ideal"
        yield f"It takes only the relevance of a ranking: unless this has all judged documents, {lacking}."
    if call.is_binary:
        yield "It was asked with a relevance of 0 and 1: with grades, it returns values above 1 or no score."
    if form.is_batch:
        yield f"It takes several rankings at once. It was called with ({call.text}) of two copies of each."
    elif call.order != tuple(range(len(call.order))):
        yield f"It was called with ({call.text})."
    for name, habit in asked.asker.habits.items():
        example = f", such as {habit.example}" if habit.example else ""
        yield f"It {name}: {habit.times:,} of {asked.cases:,} rankings{example}."


def _signature(result: Check, answers: Answers) -> str:
    """Return the options of the first convention that answers agree with, without those that no answer shows."""
    name = result.conventions[0]
    own, seen = CONVENTIONS[name].options, {"v", "log"}
    rows = answers.plain if result.unordered else np.ones(len(answers.plain), bool)
    values = {
        option: tuple(each.words)
        for option, each in OPTIONS.items()
        if option in own and each.words
    }
    for option, others in {
        **values,
        "zero_division": (0.0, 1.0, math.nan),
        "judged_only": (False, True),
    }.items():
        chosen = own.get(option, False)
        changed = [
            answers.queries.scores({"convention": name, option: value})
            for value in others
            if str(value) != str(chosen)
        ]
        if not any(answers.agree(each)[rows].all() for each in changed):
            seen.add(OPTIONS[option].said_as)
    endless = result.k is None and own["ideal"] == "full"
    scores, *options = (
        Options.parse(k=1 if endless else result.k, convention=name).signature().split("|")
    )
    return "|".join([scores, *(each for each in options if each.partition(":")[0] in seen)])


def _differ_visibly(values: Floats, expected: Floats, tolerance: float) -> Mask:
    """Return which values differ so much that a reader sees it."""
    return ~np.isclose(values, expected, rtol=0, atol=max(tolerance, VISIBLE), equal_nan=True)


def _smallest_example(
    asker: Asker, queries: Iterable[Query], convention: str, tolerance: float
) -> Example:
    """Return a ranking on which a function differs from a convention, from which nothing can be taken away."""
    options = {"convention": convention}

    def differs(query: Query) -> bool:
        answer = asker.once(query)
        if answer.problem and answer.problem not in NO_VALUE:
            # It raises an error or returns no number, so it has no score that could differ.
            return False
        expected = query_scores([query], options)
        return bool(_differ_visibly(np.array([answer.value]), expected, tolerance).all())

    query = min(queries, key=lambda each: len({*each.run, *each.qrels}))
    while (simpler := next(filter(differs, _simpler(query, asker.call.shows)), None)) is not None:
        query = simpler
    return _example(query, asker.once(query).value, options)


def _simpler(query: Query, shows: Shows) -> Iterator[Query]:
    """Yield rankings with a document less, a judgment less, a smaller cutoff or plainer numbers."""
    for document in {**query.run, **query.qrels}:
        smaller = query._replace(
            run=_without(query.run, document), qrels=_without(query.qrels, document)
        )
        if smaller.qrels and (shows.several or any(smaller.qrels.values())):
            yield smaller
    if shows.documents:
        yield from (query._replace(run=_without(query.run, document)) for document in query.run)
        if len(query.qrels) > 1 and shows.several:
            yield from (
                query._replace(qrels=_without(query.qrels, document)) for document in query.qrels
            )
    if query.k is not None and query.k > 1:
        yield from (query._replace(k=k) for k in (1, query.k - 1))
    for document, relevance in query.qrels.items() if shows.several else ():
        yield from (
            query._replace(qrels={**query.qrels, document: each})
            for each in (0, 1)
            if relevance > each
        )
    if shows.scores:
        levels = sorted(set(query.run.values()))
        run = {document: float(levels.index(score) + 1) for document, score in query.run.items()}
        if run != query.run:
            yield query._replace(run=run)


def _without(documents: Mapping[Any, float], one: Any) -> dict[Any, float]:
    return {document: value for document, value in documents.items() if document != one}


def _example(query: Query, value: float, options: Mapping[str, Any]) -> Example:
    """Return a ranking with its sums by a convention."""
    rows = []
    for document in [*ranked(query), *(each for each in query.qrels if each not in query.run)]:
        relevance = query.qrels.get(document)
        gain = product = 0.0
        if relevance is not None:  # the DCG is the sum over documents of the DCG of each alone
            alone = [
                query._replace(qrels={document: relevance}),
                Query({document: 1}, {document: relevance}, 1),
            ]
            product, gain = (
                float(query_scores([each], options, measure)[0])
                for each, measure in zip(alone, ("DCG", "CG"), strict=True)
            )
        discount = product / gain if gain else math.nan
        rows.append((str(document), query.run.get(document), relevance, gain, discount, product))
    expected, ideal = (
        float(query_scores([query], options, measure)[0]) for measure in ("nDCG", "IDCG")
    )
    return Example(query, value, expected, ideal, tuple(rows))
