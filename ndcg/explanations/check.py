"""The definition that a function of nDCG computes: of which libraries, and with which slips.

Its answers to some hundred small rankings are compared with every definition. If it differs from
the convention that is nearest, the smallest ranking on which it differs shows why.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..measure.arguments import OPTIONS
from ..measure.conventions import CONVENTIONS
from ..measure.messages import shown
from ..measure.options import Options, choice, result_name, whole
from ..measure.ties import Floats, Mask
from ..show.json_types import without_nan
from ..show.tables import Readable, Table, cell_text, number_text
from .asking import NO_VALUE, Asked, Asker, ask, likely_calls
from .definitions import FACTORS, VISIBLE, Answers, Match, explain_answers
from .forms import FORMS, NDCGFunction, Shows, arguments_text, possible_calls
from .search import usual_options
from .slip_terms import Documents, Queries, Query, ranked
from .slips import slip_named

LEAST_AGREEING = 0.2  # the share of the answers that some convention gives if arguments are right
NEAREST_SHOWN = 5  # conventions in the table
CONVENTION_ITSELF = ((), 1.0)  # no slips, and a factor of 1
# Libraries that order ties of longer lists in no fixed way.
WITHOUT_ORDER = ("ranx", "ranx_burges", "allrank")
# The values of options that are not words.
VALUES_WITHOUT_WORDS = {"zero_division": (0.0, 1.0, math.nan), "judged_only": (False, True)}
WRAP = (
    "wrap it in a function of (run, qrels, k), which are {document: score}, {document: relevance} "
    "and the cutoff"
)


class Example(NamedTuple):
    """The smallest ranking on which a function and a convention differ.

    Attributes:
        query: the ranking.
        value: the score that the function returns.
        expected: the score by the convention.
        ideal: the ideal DCG by the convention.
        rows: of every document its id, score (None if not retrieved), relevance (None if not
            judged), gain, discount, and the product of the last two.
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
        signature: the options of the convention that the function computes; empty without one.
        form: the form in which the function takes rankings.
        k: the cutoff; None if whole rankings were compared.
        cases: the number of rankings that it was asked about.
        answered: the number of these for which it returned a score, or nan or None for no score.
        matches: the definitions with which all answers agree: conventions; or else slips on
            conventions, the one that was reported most often first.
        agreeing: the number of answers that agree with a convention, by its name.
        wanted: the convention that the function should compute; empty for any.
        example: the smallest ranking on which the function and the nearest convention differ.
        notes: side effects of the function, and how it was called.
        unordered: the number of answers for rankings with ties, if no order of tied documents
            explains them all, but every one is the score of some order; else 0.
        refused: whether it returned no score for most rankings.
        contradiction: how its score of different rankings contradicts the matches, in words.
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
    contradiction: str = ""

    @property
    def conventions(self) -> tuple[str, ...]:
        """The conventions that the function computes, without ties if their order is not fixed.

        Empty if other scores contradict them, and if it refused most rankings.
        """
        if self.refused or self.contradiction:
            return ()
        return self._agreed

    @property
    def _agreed(self) -> tuple[str, ...]:
        """The conventions with which all of its scores agree."""
        return tuple(self._conventions().get(CONVENTION_ITSELF, ()))

    def _conventions(self) -> dict[tuple[tuple[str, ...], float], list[str]]:
        """Return the conventions of the matches by their slips and factor."""
        conventions: dict[tuple[tuple[str, ...], float], list[str]] = {}
        for convention, slips, factor in self.matches:
            conventions.setdefault((slips, factor), []).append(convention)
        return conventions

    @property
    def is_doubtful(self) -> bool:
        """Whether it may take other arguments: nothing explains its answers, and few agree."""
        most = max(self.agreeing.values(), default=0)
        return not self.matches and most < max(1, LEAST_AGREEING * self.answered)

    @property
    def nearest(self) -> str:
        """The convention that was asked for, else the first match, else the most similar one."""
        if self.wanted:
            return self.wanted
        if self.matches:
            return self.matches[0].convention
        return max(self.agreeing, key=self.agreeing.__getitem__, default="sklearn")

    @property
    def status(self) -> int:
        """0 if the function computes a convention, or the one that was wanted; 1 if not.

        2 if it gave no score; 3 if it gave none for most rankings.
        """
        if self.refused:
            return 3
        # Without a wanted convention, the nearest is the first of these.
        if self.nearest not in self.conventions:
            return 1
        # Every other convention that may be wanted has a fixed order of ties.
        if self.unordered and self.wanted not in ("", *WITHOUT_ORDER):
            return 1
        return 0

    def _tables(self) -> list[Table]:
        tables: list[Table] = []
        if self.example is not None:
            table = [["document", "score", "relevance", "gain", "discount", "product"]]
            table += [list(map(cell_text, row)) for row in self.example.rows]
            tables.append(table)
        most = Counter(self.agreeing).most_common(NEAREST_SHOWN)
        table = [["convention", "rankings that agree"]]
        table += [[name, f"{count:,}"] for name, count in most]
        return [*tables, table]

    def _remarks(self) -> list[str]:
        remarks = [*self._verdict(), *self._difference()]
        if self.is_doubtful:
            remarks.append(f"It may take other arguments than it was called with: {WRAP}.")
        return [*remarks, *self.notes]

    def _verdict(self) -> Iterator[str]:
        agree = f"all {self.answered:,} rankings agree"
        if self.unordered:
            agree = f"all {self.answered - self.unordered:,} rankings without ties agree"
        if self.answered < self.cases:
            agree += f", of {self.cases:,} that it was asked about"
        agreed = ", ".join(self._agreed)
        if self.refused:
            yield (
                f"Only {self.answered:,} of {self.cases:,} rankings can be compared: the function "
                "returned no score for the others."
            )
        if self.contradiction:
            yield self.contradiction
        # There are none after one of the two sentences above.
        if self.conventions:
            yield f"The function computes the nDCG of {agreed}: {agree}."
        elif agreed:
            yield f"Its scores agree with the nDCG of {agreed}, but do not show what it computes."
        if self.wanted and self.wanted not in self._agreed:
            yield f"It does not compute the nDCG of {self.wanted}: {self._count(self.wanted)}."
        if not self.matches:
            yield "No convention and no known slip explains it."
            yield f"The nearest convention is {self.nearest}: {self._count(self.nearest)}."
        yield from self._slips(agree)
        if self.unordered:
            yield (
                "Its order of tied documents is not fixed: no order explains its scores for the "
                f"{self.unordered:,} rankings with ties, but each is the score of some order."
            )

    def _count(self, convention: str) -> str:
        return f"{self.agreeing[convention]:,} of {self.answered:,} rankings agree"

    def _slips(self, agree: str) -> Iterator[str]:
        conventions = self._conventions()
        conventions.pop(CONVENTION_ITSELF, None)
        subject = "It"
        for (names, factor), on_conventions in conventions.items():
            yield f"{subject} computes {_definition(on_conventions, names, factor)}: {agree}."
            subject = "Or it"
            if factor in FACTORS:
                yield FACTORS[factor]
            if _is_sum(factor) and FORMS[self.form].is_batch and not self.contradiction:
                yield "It returns the sum over the rankings, not their mean."
            for name in names:
                yield slip_named(name).sentences

    def _difference(self) -> Iterator[str]:
        """Yield the sums of the smallest ranking on which the function differs."""
        example = self.example
        if example is None:
            return
        name = result_name("nDCG", example.query.k)
        dcg = math.fsum(product for *_, product in example.rows)
        yield (
            f"The table has the smallest ranking on which it differs from {self.nearest}, whose "
            f"{name} is {number_text(dcg)} / {number_text(example.ideal)} = "
            f"{number_text(example.expected)}; the function returns {number_text(example.value)}."
        )
        yield arguments_text(self.form, example.query)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        values: dict[str, Any] = without_nan(vars(self))
        return values


def _definition(conventions: Iterable[str], slips: Sequence[str], factor: float) -> str:
    """Return conventions with slips and a factor in words."""
    definition = f"the nDCG of {', '.join(conventions)}"
    if factor != 1:
        definition = f"{factor:.5g} times {definition}"
    if slips:
        definition += f" with a slip: {' and a slip: '.join(slips)}"
    return definition


class Unanswered(Check):
    """A function that returned no score."""

    @property
    def status(self) -> int:
        """2, since it gave no score."""
        return 2

    def _tables(self) -> list[Table]:
        return []

    def _verdict(self) -> Iterator[str]:
        yield f"The function returned no score for any of {self.cases:,} rankings."


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

    The function is asked for the nDCG of small random rankings, one query at a time, at the cutoff
    and at half of it: with ties, unjudged and unretrieved documents, graded relevance, no relevant
    documents, more and fewer documents than the cutoff. It is not asked about rankings that its
    form cannot express.

    Args:
        function: returns the nDCG of one query, from a ranking and the cutoff; if `k` is None, it
            may take the ranking only.
        k: the cutoff; None for the whole list.
        form: how the function takes a ranking, such as "mappings" (`{document: score}`,
            `{document: relevance}`, k) or "sets" (ids of documents, best first, the set of
            relevant ids, k); docs/slips.md lists all. By default, the form in which some
            definition explains most answers. The arguments may have another order.
        convention: the convention that the function should compute; by default any.
        cases: the number of rankings.
        seed: the random seed of the rankings.

    Returns:
        What the function computes. `print(result)` says it in words, with the smallest ranking on
        which the function differs from the nearest convention.

    Raises:
        ValueError: names the argument, its value and the allowed ones.
        TypeError: `function` cannot be called.

    >>> import math
    >>> def ndcg_at(run, qrels, k):
    ...     ranking = sorted(run, key=run.get, reverse=True)[:k]
    ...     grades = [qrels.get(document, 0) for document in ranking]
    ...     best = sorted(grades, reverse=True)
    ...     dcg = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades))
    ...     ideal = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(best))
    ...     return dcg / ideal if ideal else 0.0
    >>> result = check(ndcg_at)
    >>> result.matches[0].slips
    ('ideal from the top k retrieved',)
    >>> result.example.value, result.example.expected
    (1.0, 0.25)
    """
    if not callable(function):
        raise TypeError(f"function must be a function; got {shown(function)}")
    if k is not None:
        whole("k", k, 1, 10**3)
    whole("cases", cases, 1, 10**5)
    whole("seed", seed, 0)
    forms = tuple(FORMS)
    if form is not None:
        forms = (choice("form", form, forms),)
    if convention is not None:
        choice("convention", convention, tuple(CONVENTIONS))
    calls = possible_calls(function, k, forms)
    if not calls:
        raise ValueError(f"function must take a ranking and a cutoff; {WRAP}")
    results: list[Check] = []
    for call, first, *_ in likely_calls(function, calls, seed):
        results.append(_compared(ask(function, call, cases, seed), first, convention or ""))
        if _fewest_slips(results[-1]) < 2:
            break
    return min(results, key=_fewest_slips)


def _is_sum(factor: float) -> bool:
    """Return whether the answer for two copies of a ranking is the sum of their values."""
    return round(factor, 3) == 2


def _options(convention: str) -> dict[str, Any]:
    # No query that the function is asked about is missing from its run.
    return {"convention": convention, "missing": "empty"}


def _fewest_slips(result: Check) -> float:
    return min((len(match.slips) for match in result.matches), default=math.inf)


def _compared(asked: Asked, first: Answers, wanted: str) -> Check:
    asker = asked.asker
    call = asker.call
    notes = list(_notes(asked))
    asked_about = ("", call.form, call.k, asked.cases)
    if asked.answers is None:
        return Unanswered(*asked_about, 0, (), {}, wanted, notes=tuple(notes))
    answers = asked.answers
    matches, unordered = _matches(asked, answers, first)
    contradiction = ""
    if matches and FORMS[call.form].is_batch:
        is_sum = _is_sum(matches[0].factor)
        contradiction = asker.contradiction_of_mean(answers.tolerance, is_sum=is_sum)
    scores = {name: answers.queries.scores(_options(name)) for name in CONVENTIONS}
    agreeing = {name: int(answers.agree(scores[name]).sum()) for name in CONVENTIONS}
    result = Check(
        *asked_about,
        len(answers.plain),
        tuple(matches),
        agreeing,
        wanted,
        refused=asked.refused,
        unordered=unordered,
        contradiction=contradiction,
    )
    example = _example_of_difference(result, asker, answers, scores[result.nearest])
    if answers.tolerance > VISIBLE:
        hidden = f"differences below {answers.tolerance:g}"
        notes.insert(0, f"It rounds its scores, which hides {hidden}; ask for more cases.")
    if asker.counts_duplicates():
        notes.append("A document that is listed twice counts twice.")
    signature = _signature(result, answers) if result.conventions else ""
    return replace(result, example=example, notes=tuple(notes), signature=signature)


def _matches(asked: Asked, answers: Answers, first: Answers) -> tuple[list[Match], int]:
    """Return the definitions that explain answers, as `explain_answers` does.

    There are none if a few answers that are all the same show nothing.
    """
    if asked.refused and len(np.unique(answers.values)) < 2:
        return [], 0
    return explain_answers(answers, first._replace(tolerance=answers.tolerance))


def _example_of_difference(
    result: Check, asker: Asker, answers: Answers, expected: Floats
) -> Example | None:
    """Return the smallest ranking on which the function differs from the nearest convention.

    There is none if it computes this convention, also if only the order of its ties is not fixed.
    """
    differing = ~answers.agree(expected)
    if not differing.any() or (result.unordered and result.status == 0):
        return None
    visible = _differ_visibly(answers.values[0], expected, answers.tolerance) & differing
    if visible.any():
        differing = visible
    candidates = compress(answers.queries.changed(()), differing)
    return _smallest_example(asker, candidates, result.nearest, answers.tolerance)


def _notes(asked: Asked) -> Iterator[str]:
    call = asked.asker.call
    form = FORMS[call.form]
    if call.form in ("relevance", "relevance_rows"):
        yield (
            "It takes only the relevance of a ranking: unless this has all judged documents, "
            "relevant documents that were not retrieved are not in its ideal."
        )
    if call.cutoff is None:
        compared = f". It was compared with nDCG@{call.k}."
        if call.k is None:
            compared = ", so whole rankings were compared."
        yield f"It takes no cutoff{compared}"
    if form.is_batch:
        yield (
            "It takes several rankings at once. "
            f"It was called with ({call.text}) of two copies of each."
        )
    elif call.order != tuple(range(len(call.order))) or call.is_contradicted:
        yield f"It was called with ({call.text})."
    if call.is_contradicted:
        names = ", ".join(call.names)
        yield f"The names of its parameters, {names}, say another order: one of the two is wrong."
    for habit, rankings in asked.asker.habits.items():
        sentence = f"It {habit}: {len(rankings):,} of {asked.cases:,} rankings"
        _, example = min(rankings, key=itemgetter(0))
        if example:
            sentence += f", such as {example}"
        yield f"{sentence}."


def _signature(result: Check, answers: Answers) -> str:
    """Return the options of the first convention that agrees, as far as the answers show them."""
    convention = result.conventions[0]
    usual = usual_options(convention)
    rows = answers.plain
    if not result.unordered:
        rows = np.ones_like(rows)

    def changes_nothing(name: str, value: Any) -> bool:
        scores = answers.queries.scores({**_options(convention), name: value})
        return bool(answers.agree(scores)[rows].all())

    shown_names = {"v", "log"}
    for name, usual_value in usual.items():
        values: Iterable[Any] = VALUES_WITHOUT_WORDS.get(name, OPTIONS[name].words)
        others = [value for value in values if str(value) != str(usual_value)]
        if not any(changes_nothing(name, value) for value in others):
            shown_names.add(OPTIONS[name].said_as)
    # The ideal of some conventions needs a cutoff; that of a query was the length of its lists.
    _, *options = Options.parse(k=1, convention=convention).signature().split("|")
    options = [option for option in options if option.partition(":")[0] in shown_names]
    return "|".join([result_name("nDCG", result.k), *options])


def _differ_visibly(values: Floats, expected: Floats, tolerance: float) -> Mask:
    return ~np.isclose(values, expected, rtol=0, atol=max(tolerance, VISIBLE), equal_nan=True)


def _smallest_example(
    asker: Asker, queries: Iterable[Query], convention: str, tolerance: float
) -> Example:
    """Return a ranking on which a function differs, from which nothing can be taken away."""
    options = _options(convention)

    def differs(query: Query) -> bool:
        answer = asker.once(query)
        if answer.problem not in ("", *NO_VALUE):
            # It raises an error or returns no number, so it has no score that could differ.
            return False
        expected = Queries([query]).scores(options)
        return bool(_differ_visibly(np.array([answer.value]), expected, tolerance).all())

    smallest = min(queries, key=lambda query: len({*query.run, *query.qrels}))
    while simpler := next(filter(differs, _simpler(smallest, asker.call.shows)), None):
        smallest = simpler
    return _example(smallest, asker.once(smallest).value, options)


def _simpler(query: Query, shows: Shows) -> Iterator[Query]:
    """Yield simpler rankings that arguments can show."""
    for simpler in _changed(query, shows):
        if simpler != query and _keeps_judgments(simpler, query, shows):
            yield simpler


def _keeps_judgments(simpler: Query, query: Query, shows: Shows) -> bool:
    """Return whether some document stays judged, or relevant if there must be a relevant one."""
    if shows.several:
        return bool(simpler.qrels) == bool(query.qrels)
    return bool(simpler.relevant) == bool(query.relevant)


def _changed(query: Query, shows: Shows) -> Iterator[Query]:
    """Yield rankings with a document less, a judgment less, a smaller cutoff or plainer numbers."""
    removed_from: list[tuple[str, ...]] = [("run", "qrels")]
    # Else lists have a score and a relevance for every document.
    if shows.documents:
        removed_from += [("run",), ("qrels",)]
    for sides, document in product(removed_from, {**query.run, **query.qrels}):
        others: dict[str, Any] = {side: _without(getattr(query, side), document) for side in sides}
        yield query._replace(**others)
    for k in range(1, query.k or 1):
        yield query._replace(k=k)
    for (document, relevance), highest in product(query.qrels.items(), (0, 1)):
        yield query._replace(qrels={**query.qrels, document: min(relevance, highest)})
    if shows.scores:
        # the scores 1, 2, 3 and so on
        levels = sorted(set(query.run.values()))
        run = {document: levels.index(score) + 1.0 for document, score in query.run.items()}
        yield query._replace(run=run)


def _without(documents: Documents, document: Any) -> Documents:
    others = dict(documents)
    others.pop(document, None)
    return others


def _example(query: Query, value: float, options: Mapping[str, Any]) -> Example:

    def score(query: Query, measure: str) -> float:
        return float(Queries([query]).scores(options, measure)[0])

    rows = []
    # the retrieved documents, then the others that are judged
    for document in dict.fromkeys([*ranked(query), *query.qrels]):
        relevance = query.qrels.get(document)
        gain = product = 0.0
        if relevance is not None:
            # The DCG is the sum of the DCGs of single documents.
            judgment = {document: relevance}
            product = score(query._replace(qrels=judgment), "DCG")
            gain = score(Query({document: 1}, judgment, 1), "CG")
        discount = product / gain if gain else math.nan
        rows.append((str(document), query.run.get(document), relevance, gain, discount, product))
    expected, ideal = score(query, "nDCG"), score(query, "IDCG")
    return Example(query, value, expected, ideal, tuple(rows))
