"""The definition that a function of nDCG computes: of which libraries, and with which slips.

Its answers to some hundred small rankings are compared with every convention, with every slip on each, and with two
slips at once. If it differs, the smallest ranking on which it differs shows why.
"""

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measure.conventions import CONVENTIONS
from ..measure.messages import shown
from ..measure.options import Options, choice, result_name, whole
from ..measure.ties import Floats
from ..scores.queries import progress
from ..show.tables import Readable, Table, number_text
from .properties import in_common, properties_of
from .questions import (
    FLOAT32,
    FUNCTION_FORMS,
    NO_VALUE,
    WITHOUT_SCORES,
    Answer,
    Asker,
    NDCGFunction,
    arguments_text,
    first_rankings,
    random_rankings,
)
from .slip_terms import Queries, Query, Slip, query_scores, ranked
from .slips import DUPLICATES_COUNTED, IN_ORDER_OF_INPUT, SLIPS, SWAPPED, slip_named

MOST_DECIMALS = 6  # to which a function may round; with more, FLOAT32 is the tolerance
FIRST_ASKED = 16  # rankings that rule out most definitions
TRIED_IN_PAIRS = ("sklearn", "trec_eval", "lightgbm", "ranx")  # conventions on which two slips at once are tried
NEAREST_SHOWN = 5  # conventions in the table
VISIBLE = 1e-4  # the least difference in the smallest ranking


class Match(NamedTuple):
    """A definition with which all answers agree.

    Attributes:
        convention: its name.
        slips: the names of the slips on it; empty for the convention itself.
    """

    convention: str
    slips: tuple[str, ...] = ()


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
        signature: the options of the convention that the function computes; empty if it has a slip or is unknown.
        form: the form in which the function takes rankings.
        k: the cutoff.
        cases: the number of rankings that it was asked about.
        answered: the number of these for which it returned a score, or nan or None for no score.
        matches: the definitions with which all answers agree: conventions; or else slips on conventions, the one that
            was reported most often first.
        agreeing: the number of answers that agree with each convention.
        wanted: the convention that the function should compute; empty for any.
        example: the smallest ranking on which the function and the nearest convention differ.
        notes: side effects of the function, and the common trait of the rankings that differ.
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

    @property
    def conventions(self) -> tuple[str, ...]:
        """The conventions that the function computes."""
        return tuple(each.convention for each in self.matches if not each.slips)

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
        """0 if the function computes a convention, or the one that was wanted; 1 if not; 2 if it gave no score."""
        if not self.answered:
            return 2
        return 0 if (self.wanted in self.conventions if self.wanted else self.conventions) else 1

    def _tables(self) -> list[Table]:
        best = sorted(self.agreeing.items(), key=lambda item: -item[1])[:NEAREST_SHOWN]
        counts = [["convention", "rankings that agree"], *([name, f"{count:,}"] for name, count in best)]
        return [*self._example_tables(), *([counts] if best else [])]

    def _example_tables(self) -> list[Table]:
        if self.example is None:
            return []
        rows = [["rank", "document", "score", "relevance", "gain", "discount", "product"]]
        for rank, (document, score, relevance, *numbers) in enumerate(self.example.rows, start=1):
            place = ["–", document, "–"] if score is None else [str(rank), document, f"{score:g}"]
            rows.append([*place, "–" if relevance is None else f"{relevance:g}", *map(number_text, numbers)])
        return [rows]

    def _remarks(self) -> list[str]:
        return [*self._verdict(), *self._difference(), *self.notes]

    def _verdict(self) -> Iterator[str]:
        """Yield in words the definition and the slips of the function."""
        if not self.answered:
            yield f"The function returned no score for any of {self.cases:,} rankings."
            yield f"It was called with ({FUNCTION_FORMS[self.form]}), one query at a time."
            return
        agree = f"all {self.answered:,} rankings agree"
        if self.answered < self.cases:
            agree = f"all {self.answered:,} rankings agree for which it returned a score, of {self.cases:,}"
        if self.conventions:
            yield f"The function computes the nDCG of {', '.join(self.conventions)}: {agree}."
        if self.wanted and self.wanted not in self.conventions:
            count = self.agreeing[self.wanted]
            yield f"It does not compute the nDCG of {self.wanted}: {count:,} of {self.answered:,} rankings agree."
        if not self.matches:
            count = self.agreeing[self.nearest]
            yield "No convention and no known slip explains it."
            yield f"The nearest convention is {self.nearest}: {count:,} of {self.answered:,} rankings agree."
        on_conventions: dict[tuple[str, ...], list[str]] = {}
        for each in self.matches:
            if each.slips:
                on_conventions.setdefault(each.slips, []).append(each.convention)
        for at, (names, conventions) in enumerate(on_conventions.items()):
            slips = [slip_named(name) for name in names]
            slip = " and ".join(names)
            found = f"{'Or it' if at else 'It'} computes the nDCG of {', '.join(conventions)} with a slip: {slip}"
            yield f"{found}: {agree}."
            yield from (f"{slip.meaning}{slip.reported}" for slip in slips)

    def _difference(self) -> Iterator[str]:
        """Yield the sums of the smallest ranking on which the function differs."""
        if (example := self.example) is None:
            return
        name, documents = result_name("nDCG", example.query.k), len(example.rows)
        sums = f"{number_text(math.fsum(row[-1] for row in example.rows))} / {number_text(example.ideal)}"
        returned = "no score" if math.isnan(example.value) else number_text(example.value)
        smallest = f"The smallest ranking on which it differs from {self.nearest} has {documents} document"
        expected = f"{name} of {self.nearest} is {sums} = {number_text(example.expected)}"
        yield f"{smallest}{'s' * (documents != 1)}. {expected}; the function returns {returned}."
        yield arguments_text(example.query, self.form)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        example = self.example and self.example._asdict()
        if example:
            example["query"] = {name: getattr(example["query"], name) for name in ("run", "qrels", "k")}
        return {**vars(self), "matches": [each._asdict() for each in self.matches], "example": example}


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
        form: how the function takes a ranking: "mappings" (`{document: score}`, `{document: relevance}`, k), "lists"
            (scores, relevance, k), "arrays" (the same as NumPy arrays) or "ranked" (ids of documents, best first,
            `{document: relevance}`, k) or "sets" (ids, the set of those that are relevant, k). By default, the form
            that gives the most plausible answers, also with the relevance as the first argument.
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
    >>> len(result.example.rows), result.example.value, round(result.example.expected, 4)
    (2, 1.0, 0.6131)
    """
    if not callable(function):
        raise TypeError(f"function must be a function; got {shown(function)}")
    if inspect.iscoroutinefunction(function):
        raise ValueError("function must return a score, but is async: wrap it in a function that calls asyncio.run")
    if k is not None:
        whole("k", k, 1, 10**3)
    whole("cases", cases, 1, 10**5)
    whole("seed", seed, 0)
    for name, value, words in (("form", form, tuple(FUNCTION_FORMS)), ("convention", convention, tuple(CONVENTIONS))):
        if value is not None:
            choice(name, value, words)
    asker = Asker(function, k)
    form = form or _form_of(asker, k, seed)
    queries, answers = random_rankings(cases, k, form, seed), []
    with progress(cases, "Asking", " rankings") as bar:
        for query in queries:
            answers.append(asker.answer(query, form))
            bar.update(1)
    values = np.array([answer.value for answer in answers])
    answered = np.array([_is_comparable(*each) for each in zip(queries, answers, strict=True)])
    habits = tuple(
        f"It {name}: {habit.times:,} of {cases:,} rankings{habit.example and ', such as '}{habit.example}."
        for name, habit in asker.habits.items()
    )
    if asker.relevance_first:
        habits = ("It takes the relevance as its first argument, and was called so.", *habits)
    if k is not None and not asker.takes_cutoff:
        habits = (
            f"It takes no cutoff. It was compared with nDCG@{k}; k=None (-k all) compares whole rankings.",
            *habits,
        )
    result = Check("", form, k, cases, 0, (), {}, convention or "", notes=habits)
    if not np.isfinite(values).any():
        return result
    known = [query for query, has_answer in zip(queries, answered, strict=True) if has_answer]
    first = _First(first_rankings(min(cases, FIRST_ASKED), k, form, seed), answered[:FIRST_ASKED])
    return _compared(result, asker, known, values[answered], first)


class _First(NamedTuple):
    """The rankings that are compared first, since most definitions differ on one of them.

    Attributes:
        queries: the rankings.
        answered: which of them the function answered.
    """

    queries: Queries
    answered: NDArray[np.bool_]


def _is_comparable(query: Query, answer: Answer) -> bool:
    """Return whether an answer is a score, or no score for a query with retrieved documents.

    Conventions may leave such a query out; a function may also leave out one without retrieved documents.
    """
    return not answer.problem or (answer.problem in NO_VALUE and bool(query.run))


def _form_of(asker: Asker, k: int | None, seed: int) -> str:
    """Return the form in which the answers to plain rankings agree best with some definition."""
    queries, sets = (first_rankings(FIRST_ASKED, k, form, seed, plain=True) for form in ("lists", "sets"))
    conventions, of_sets = ([each.scores({"convention": name}) for name in CONVENTIONS] for each in (queries, sets))
    # a function that takes ranked ids ranks mappings by the order of their documents
    slips = [slip.scores(queries, {}) for slip in SLIPS if slip not in (IN_ORDER_OF_INPUT, SWAPPED)]
    points = {}
    for relevance_first, form in product((False, True), FUNCTION_FORMS):
        asker.relevance_first = relevance_first
        values = np.array([asker.value(query, form) for query in queries.changed(())])
        tolerance = _tolerance(values)
        answered = np.count_nonzero(np.isfinite(values))
        expected = of_sets if form == "sets" else conventions if relevance_first else [*conventions, *slips]
        agreeing = max(np.count_nonzero(_agree(values, each, tolerance)) for each in expected)
        points[relevance_first, form] = agreeing if answered else 0, answered
    asker.relevance_first, form = max(points, key=lambda each: points[each])
    return form


def _agree(values: Floats, expected: Floats, tolerance: float = FLOAT32) -> NDArray[np.bool_]:
    return np.isclose(values, expected, rtol=0, atol=tolerance, equal_nan=True)


def _decimals(values: Floats) -> int:
    """Return the number of decimals to which values are rounded; 0 if they are not, or are all integers.

    >>> _decimals(np.array([0.63, 0.5])), _decimals(np.float32([0.1, 1])), _decimals(np.array([1 / 3, 0]))
    (2, 1, 0)
    """
    numbers = values[np.isfinite(values)]
    rounded = (np.allclose(numbers, numbers.round(each), rtol=1e-7, atol=1e-12) for each in range(MOST_DECIMALS + 1))
    return next((decimals for decimals, same in enumerate(rounded) if same), 0)


def _tolerance(values: Floats) -> float:
    """Return how far a value may differ from the value that it was rounded from.

    >>> _tolerance(np.array([0.63, 0.5])) > 0.005
    True
    """
    decimals = _decimals(values)
    return FLOAT32 + (0.5 * 10.0**-decimals if decimals else 0)


def _compared(result: Check, asker: Asker, queries: Sequence[Query], values: Floats, first: _First) -> Check:
    """Compare scores with every definition."""
    tolerance = _tolerance(values)
    expected = {name: query_scores(queries, {"convention": name}) for name in CONVENTIONS}
    agree = {name: _agree(values, each, tolerance) for name, each in expected.items()}
    names = [name for name, each in agree.items() if each.all()]
    if result.form not in WITHOUT_SCORES:
        names = _told_apart(asker, result.form, queries, names, tolerance)
    matches = [Match(name) for name in names] or _slips_on(queries, values, first, expected, tolerance)
    result = replace(
        result,
        answered=len(queries),
        matches=tuple(matches),
        agreeing={name: int(np.count_nonzero(each)) for name, each in agree.items()},
    )
    differing = ~agree[result.nearest]
    notes, example = result.notes, None
    if tolerance > VISIBLE:
        decimals = _decimals(values)
        rounds = f"It rounds to {decimals} decimal{'s' * (decimals > 1)}"
        notes = (f"{rounds}, which hides differences below {0.5 * 10.0**-decimals:g}; ask for more cases.", *notes)
    if differing.any():
        own = [query for query, differs in zip(queries, differing, strict=True) if differs]
        example = _smallest_example(asker, result.form, own, result.nearest, tolerance)
        if not matches:
            properties = properties_of(Queries(queries).rankings(range(len(queries)), (), Options.parse()), result.k)
            notes = (*in_common(properties, differing, "rankings", result.nearest), *notes)
            parts = values / 100
            in_percent = [name for name, each in expected.items() if _agree(parts, each, _tolerance(parts)).all()]
            if in_percent:
                notes = (f"Divided by 100, all of its scores equal the scores of {', '.join(in_percent)}.", *notes)
    if result.form in WITHOUT_SCORES and asker.counts_duplicates(result.form):
        notes = (*notes, f"{DUPLICATES_COUNTED.meaning}{DUPLICATES_COUNTED.reported}")
    if names:
        endless = result.k is None and CONVENTIONS[names[0]].ideal == "full"
        result = replace(result, signature=Options.parse(k=1 if endless else result.k, convention=names[0]).signature())
    return replace(result, example=example, notes=notes)


def _told_apart(asker: Asker, form: str, queries: Sequence[Query], names: list[str], tolerance: float) -> list[str]:
    """Return the conventions that a function still computes if scores are equal in 32 bits; all of them if none."""
    if len({CONVENTIONS[name].score_dtype for name in names}) < 2:
        return names
    close = [_with_close_scores(query) for query in queries[:FIRST_ASKED]]
    values = np.array([asker.value(query, form) for query in close])
    kept = [name for name in names if _agree(values, query_scores(close, {"convention": name}), tolerance).all()]
    return kept or names


def _with_close_scores(query: Query) -> Query:
    """Return a ranking of the same order, in which all scores are equal in 32 bits."""
    ranks = {document: rank for rank, document in enumerate(ranked(query))}
    return query._replace(run={document: 1 - 1e-12 * ranks[document] for document in query.run})


def _slips_on(
    queries: Sequence[Query], values: Floats, first: _First, expected: Mapping[str, Floats], tolerance: float
) -> list[Match]:
    """Return the slips on conventions with which all values agree, or pairs of slips if no single one does."""
    distinct: dict[bytes, str] = {}
    for name, each in expected.items():
        distinct.setdefault(each.round(9).tobytes(), name)  # conventions that agree on all rankings are tried once
    singles = [(name, (slip,)) for slip in SLIPS for name in distinct.values()]
    found = _definitions_that_agree(queries, values, first, singles, tolerance)
    if not found:
        pairs = [(name, pair) for pair in combinations(SLIPS, 2) for name in TRIED_IN_PAIRS]
        found = _definitions_that_agree(queries, values, first, pairs, tolerance)
    return sorted(found, key=lambda match: -sum(len(slip_named(name).threads) for name in match.slips))


def _definitions_that_agree(
    queries: Sequence[Query],
    values: Floats,
    first: _First,
    candidates: Sequence[tuple[str, tuple[Slip, ...]]],
    tolerance: float,
) -> list[Match]:
    found, all_of = [], Queries(queries)
    first_values = values[: np.count_nonzero(first.answered)]
    with progress(len(candidates), "Comparing", " definitions") as bar:
        for convention, slips in candidates:
            slip = slips[0] if len(slips) == 1 else slips[1].over(slips[0])
            options = {"convention": convention}
            if (
                _agree(first_values, slip.scores(first.queries, options)[first.answered], tolerance).all()
                and _agree(values, slip.scores(all_of, options), tolerance).all()
            ):
                found.append(Match(convention, tuple(each.name for each in slips)))
            bar.update(1)
    return found


def _smallest_example(asker: Asker, form: str, queries: Sequence[Query], convention: str, tolerance: float) -> Example:
    """Return a ranking on which a function differs from a convention, from which nothing can be taken away."""
    options = {"convention": convention}

    def differs(query: Query) -> bool:
        value, expected = asker.value(query, form), float(query_scores([query], options)[0])
        if math.isnan(value) or math.isnan(expected):
            return math.isnan(value) != math.isnan(expected)
        return abs(value - expected) > max(tolerance, VISIBLE)

    plain = [query for query in queries if differs(query)] or list(queries)
    query = min(plain, key=lambda each: len({*each.run, *each.qrels}))
    while (simpler := next(filter(differs, _simpler(query, form)), None)) is not None:
        query = simpler
    return _example(query, asker.value(query, form), options)


def _simpler(query: Query, form: str) -> Iterator[Query]:
    """Yield rankings with a document less, a judgment less, a smaller cutoff or plainer numbers."""
    for document in {**query.run, **query.qrels}:
        smaller = query._replace(run=_without(query.run, document), qrels=_without(query.qrels, document))
        if smaller.qrels:
            yield smaller
    if form not in ("lists", "arrays"):
        yield from (query._replace(run=_without(query.run, document)) for document in query.run)
        if len(query.qrels) > 1:
            yield from (query._replace(qrels=_without(query.qrels, document)) for document in query.qrels)
    if query.k is not None and query.k > 1:
        yield from (query._replace(k=k) for k in (1, query.k - 1))
    for document, relevance in query.qrels.items():
        yield from (query._replace(qrels={**query.qrels, document: each}) for each in (0, 1) if relevance > each)
    if form not in WITHOUT_SCORES:
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
            alone = [query._replace(qrels={document: relevance}), Query({document: 1}, {document: relevance}, 1)]
            product, gain = (
                float(query_scores([each], options, measure)[0])
                for each, measure in zip(alone, ("DCG", "CG"), strict=True)
            )
        discount = product / gain if gain else math.nan
        rows.append((str(document), query.run.get(document), relevance, gain, discount, product))
    expected, ideal = (float(query_scores([query], options, measure)[0]) for measure in ("nDCG", "IDCG"))
    return Example(query, value, expected, ideal, tuple(rows))
