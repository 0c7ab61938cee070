"""The definitions of nDCG that explain the answers of a function: conventions, known slips, and constant factors.

Rankings without ties show the gain, the discount, the ideal and most slips. The others then show the order of tied
documents and the precision of scores, and those with nothing relevant show the value of such a query.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import combinations, groupby, permutations, product
from typing import Any, NamedTuple

import numpy as np

from ..measure.arguments import DISCOUNTS, GAINS, IDEALS, PERFECT_IF_EMPTY
from ..measure.conventions import CONVENTIONS
from ..measure.ties import Floats, Mask
from ..scores.progress import tracked
from .slip_terms import Queries, Query, Slip, Term
from .slips import OWN_DOCUMENT, SLIPS, SWAPPED, slip_named

VISIBLE = 1e-4  # the least difference that a reader sees
FIRST_ORDERED = 4
MOST_ARRANGEMENTS = 150  # of the tied documents of a ranking
BASES = {2.0: "2", math.e: "e", 10.0: "10"}
FACTORS = {100.0: "The scores are percentages."} | {
    math.log(a)
    / math.log(b): f"The logarithm has base {BASES[a]} in the DCG and {BASES[b]} in the ideal."
    for a, b in permutations(BASES, 2)
}


class Match(NamedTuple):
    """A definition with which all answers agree.

    Attributes:
        convention: its name.
        slips: the names of the slips on it; empty for the convention itself.
        factor: the factor by which all scores are multiplied.
    """

    convention: str
    slips: tuple[str, ...] = ()
    factor: float = 1.0


class Answers(NamedTuple):
    """The answers of a function."""

    queries: Queries
    values: Floats  # two answers for each, of shape (2, rankings)
    plain: Mask  # which rankings have neither ties nor close scores
    close: Mask  # which have close scores
    tolerance: float  # how far an answer may differ from the value that it was rounded from

    def agree(self, expected: Floats) -> Mask:
        """Return which answers agree with the values of a definition; both answers must."""
        first, second = np.isclose(
            self.values, expected, rtol=0, atol=self.tolerance, equal_nan=True
        )
        both: Mask = first & second
        return both


class Definition(NamedTuple):
    """Options and slips, whatever the order of ties and the value of queries with nothing relevant."""

    options: Mapping[
        str, Any
    ]  # the gain, the discount, the ideal, and whether only judged documents count
    slips: tuple[Slip, ...] = ()  # the slips, the first one first

    def scores(
        self, queries: Queries, precision: Slip | None = None, order: Slip | None = None
    ) -> Floats:
        """Return the value of each query, nan if its ideal DCG is 0, by a precision of scores and an order of ties."""
        before = None if ASCENDING_ORDER in self.slips else order  # which reverses it
        changes = [each for each in (precision, before, *self.slips, order) if each is not None]
        together = reduce(lambda done, slip: slip.over(done), changes, Slip("", ""))
        return together.scores(
            queries, {**self.options, "zero_division": math.nan, "negative_relevance": "keep"}
        )

    def tied(self, queries: Queries) -> Mask:
        """Return which queries have ties, before or after the slips."""
        changes = tuple(
            change for slip in self.slips for change in (*slip.both.changes, *slip.dcg.changes)
        )
        return queries.tied(()) | queries.tied(changes)


class Empty(NamedTuple):
    """The value of a query with nothing relevant."""

    value: float | str  # the value, as in `zero_division`
    factor: float

    def fill(self, expected: Floats, queries: Sequence[Query]) -> Floats:
        """Return values in which this one replaces nan."""
        value: Any = self.value
        if isinstance(value, str):
            value = [
                not query.run and not any(each > 0 for each in query.qrels.values())
                for query in queries
            ]
        return np.where(np.isnan(expected), self.factor * np.asarray(value), expected)


class Fit(NamedTuple):
    """A definition that explains the answers."""

    definition: Definition
    factor: float  # of its values
    # the values of queries with nothing relevant, orders of ties and precisions of scores that agree; empty words for
    # an order or a precision that no ranking shows, or an order that is not fixed
    choices: Sequence[tuple[float | str, str, str]]
    unordered: int = 0  # the number of rankings with ties that no single order explains


# Orders of tied documents


def _in_order(query: Query, documents: Iterable[Any]) -> Query:
    """Return a ranking in which documents with equal scores differ in the last digit, in an order."""
    if len(set(query.run.values())) == len(query.run):
        return query
    run, last = dict(query.run), math.inf
    for document in sorted(documents, key=lambda each: -query.run[each]):
        run[document] = last = min(run[document], math.nextafter(last, -math.inf))
    return query._replace(run=run)


def _order(of: Callable[[Query], Iterable[Any]]) -> Slip:
    return Slip("", "", both=Term((lambda query: _in_order(query, of(query)),)))


ORDERS: dict[str, Slip | None] = {
    "first": _order(lambda query: query.run),
    "last": _order(lambda query: reversed(list(query.run))),
    "docid": _order(lambda query: sorted(query.run, reverse=True)),
    "ascending": _order(lambda query: sorted(query.run)),
    "best": _order(lambda query: sorted(query.run, key=lambda each: -query.qrels.get(each, 0))),
    "worst": _order(lambda query: sorted(query.run, key=lambda each: query.qrels.get(each, 0))),
    "average": None,
}


def _arrangements(query: Query) -> list[Query]:
    """Return a ranking with its tied documents in each order that may change its score; none if there are too many.

    >>> [list(each.run.values()) for each in _arrangements(Query({"a": 1.0, "b": 1.0}, {"b": 1}, None))]
    [[0.9999999999999999, 1.0], [1.0, 0.9999999999999999]]
    """
    by_score, groups, count = sorted(query.run, key=lambda each: -query.run[each]), [], 1
    for _, tied in groupby(by_score, key=lambda each: query.run[each]):
        group = list(tied)
        relevant = [each for each in group if query.qrels.get(each, 0) > 0]
        count *= math.perm(len(group), len(relevant))
        groups.append((relevant, [each for each in group if each not in relevant]))
    if count > MOST_ARRANGEMENTS:
        return []
    orders = product(*(list(_orders_of(*group)) for group in groups))
    return [
        _in_order(query, [document for group in order for document in group]) for order in orders
    ]


def _orders_of(relevant: Sequence[Any], others: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the orders of documents that differ in the ranks of relevant ones."""
    size = len(relevant) + len(others)
    for ranks in permutations(range(size), len(relevant)):
        at, rest = dict(zip(ranks, relevant, strict=True)), iter(others)
        yield [at[rank] if rank in at else next(rest) for rank in range(size)]


# Definitions to try

ASCENDING_ORDER = slip_named("ascending order")
IN_32_BITS, ASCENDING = "scores rounded to 32 bits", "ties by ascending document id"
PRECISIONS: dict[str, Slip | None] = {
    "given": None,
    "float32": slip_named(IN_32_BITS),
    **{
        slip.name: slip
        for slip in SLIPS
        if slip.name.startswith("scores rounded") and slip.name != IN_32_BITS
    },
}
SLIP_OF_OPTION = {  # of values that conventions have, or that are an order or a precision here
    **{
        (name, str(value)): slip.name
        for slip in SLIPS
        if slip.is_option
        for name, value in slip.both.options.items()
    },
    **{("score_dtype", name): slip.name for name, slip in PRECISIONS.items() if slip is not None},
    ("ties", "ascending"): ASCENDING,
}
OTHER_SLIPS = [  # than options, orders and precisions; no ranking has a negative relevance
    slip
    for slip in SLIPS
    if not slip.is_option
    # A function may take the relevance first, and never the id of the query.
    and slip not in (*PRECISIONS.values(), SWAPPED, OWN_DOCUMENT)
    and slip.name not in (ASCENDING, "negative relevance removed")
]


def _options(**values: Iterable[Any]) -> list[dict[str, Any]]:
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


GRID = _options(gain=GAINS, discount=DISCOUNTS, ideal=IDEALS, judged_only=(False, True))
OF_CONVENTIONS = [
    options
    for options in GRID
    if any(
        options.items() <= {**each.options, "judged_only": False}.items()
        for each in CONVENTIONS.values()
    )
]


@cache
def usual_definitions() -> list[Definition]:
    """Return combinations of options, and each slip on the options of each convention."""
    slips = [Definition(options, (slip,)) for slip in OTHER_SLIPS for options in OF_CONVENTIONS]
    return [*map(Definition, GRID), *slips]


@cache
def rare_definitions() -> list[Definition]:
    """Return each slip on options that differ in one from those of a convention, and two slips at once."""
    one_off = [
        options
        for options in GRID
        if min(sum(options[name] != of[name] for name in of) for of in OF_CONVENTIONS) == 1
    ]
    gains = [
        options
        for options in OF_CONVENTIONS
        if (options["discount"], options["ideal"]) == ("log", "judged")
    ]
    pairs = [
        Definition(options, pair) for pair in combinations(OTHER_SLIPS, 2) for options in gains
    ]
    return [*(Definition(options, (slip,)) for options in one_off for slip in OTHER_SLIPS), *pairs]


# Comparison


def explain_answers(answers: Answers, first: Answers) -> tuple[list[Match], int]:
    """Return the definitions with the fewest slips that explain answers, and how many rankings with ties no order does.

    The first answers, to rankings without ties, rule out most definitions.
    """
    stages = [*product((usual_definitions, rare_definitions), (False, True))]
    for definitions, scaled in tracked(stages, "Comparing", " sets of definitions"):
        factors, known, agree = compared(definitions, first, scaled=scaled)
        rows = np.flatnonzero((agree == known).all(axis=1) & np.isfinite(factors)).tolist()
        if fits := list(
            _fits([(definitions()[row], float(factors[row])) for row in rows], answers)
        ):
            unordered = min(fit.unordered for fit in fits)
            return _named([fit for fit in fits if fit.unordered == unordered]), unordered
    return [], 0


@lru_cache(maxsize=16)
def expected_values(definitions: Callable[[], Sequence[Definition]], queries: Queries) -> Floats:
    """Return the value of each query by each definition, nan if ties or a query with nothing relevant decide it."""
    return np.array(
        [
            np.where(definition.tied(queries), np.nan, definition.scores(queries))
            for definition in definitions()
        ]
    )


def factors_of(values: Floats, expected: Floats, tolerance: float) -> Floats:
    """Return the factor by which values differ from those of each definition; nan if there is none.

    >>> factors_of(np.array([69.3, 100]), np.array([[0.693, 1], [1, 0.5]]), 0.05).tolist()
    [100.0, nan]
    """
    known = np.isfinite(expected) & np.isfinite(values)
    of = np.where(known, expected, 0)
    with np.errstate(all="ignore"):
        factors = (of * np.where(known, values, 0)).sum(axis=1) / (of**2).sum(axis=1)
    exact = tolerance <= VISIBLE
    for factor in FACTORS:
        factors[np.abs(factors / factor - 1) < (VISIBLE if exact else 0.02)] = factor
    usable = (
        (factors > VISIBLE)
        & (np.abs(factors - 1) > VISIBLE)
        & (exact | np.isin(factors, list(FACTORS)))
    )
    return np.where(usable, factors, np.nan)


def compared(
    definitions: Callable[[], Sequence[Definition]], first: Answers, *, scaled: bool
) -> tuple[Floats, Mask, Mask]:
    """Compare answers with definitions, one in each row, whose values may differ by a factor if they are scaled.

    Returns:
        The factors, which of the values are known and have an answer without ties, and which of these agree.
    """
    expected, values = expected_values(definitions, first.queries), first.values[0]
    factors = factors_of(values, expected, first.tolerance) if scaled else np.ones(len(expected))
    known = np.isfinite(expected) & first.plain
    return factors, known, known & (np.abs(values - factors[:, None] * expected) <= first.tolerance)


def _fits(screened: Iterable[tuple[Definition, float]], answers: Answers) -> Iterator[Fit]:
    """Yield the definitions that explain answers; those with the same values explain the same."""
    known: dict[bytes, Fit | None] = {}
    for definition, factor in screened:
        values = (factor * definition.scores(answers.queries)).round(9).tobytes()
        if values not in known:
            known[values] = _fit(definition, factor, answers)
        if (fit := known[values]) is not None:
            yield fit._replace(definition=definition)


def _fit(definition: Definition, factor: float, answers: Answers) -> Fit | None:
    """Return how a definition explains answers; None if it does not."""
    queries = answers.queries.changed(())
    free = answers.plain & ~definition.tied(answers.queries)

    def agreeing(
        among: Sequence[Empty], rows: Mask, precision: str = "", order: str = ""
    ) -> list[Empty]:
        expected = factor * definition.scores(
            answers.queries, PRECISIONS.get(precision), ORDERS.get(order)
        )
        return [
            empty for empty in among if answers.agree(empty.fill(expected, queries))[rows].all()
        ]

    emptiness = [
        Empty(value, each)
        for value in (0.0, 1.0, math.nan, PERFECT_IF_EMPTY)
        for each in {1.0, factor}
    ]
    emptiness = agreeing(emptiness, free)
    if not emptiness or not free.any():
        return None
    tied, close = ~free & ~answers.close, ~free & answers.close
    choices = [
        (empty.value, order, precision)
        for order in (ORDERS if tied.any() else [""])
        if (kept := agreeing(emptiness, tied, order=order))
        for precision in (PRECISIONS if close.any() else [""])
        for empty in agreeing(kept, close, precision, order)
    ]
    if choices:
        return Fit(definition, factor, choices)
    if not answers.queries.tied(()).any() or 2 * np.count_nonzero(free) < np.count_nonzero(
        answers.plain
    ):
        return None
    for empty in emptiness:
        if _has_some_order(definition, factor, answers, tied, "given", empty):
            for precision in PRECISIONS:
                if _has_some_order(definition, factor, answers, close, precision, empty):
                    return Fit(
                        definition,
                        factor,
                        [(empty.value, "", precision)],
                        int(np.count_nonzero(~free)),
                    )
    return None


def _has_some_order(
    definition: Definition,
    factor: float,
    answers: Answers,
    rows: Mask,
    precision: str,
    empty: Empty,
) -> bool:
    """Return whether each answer is the value of its ranking with tied documents in some order."""
    rounded = answers.queries.changed(
        () if (change := PRECISIONS[precision]) is None else change.both.changes
    )
    every = np.flatnonzero(rows).tolist()
    for some in (
        every[:FIRST_ORDERED],
        every[FIRST_ORDERED:],
    ):  # most definitions fail on the first ones
        in_orders = {row: _arrangements(rounded[row]) for row in some}
        row = np.repeat(some, [len(each) for each in in_orders.values()]).astype(int)
        queries = [query for each in in_orders.values() for query in each]
        if not queries:
            continue
        expected = empty.fill(factor * definition.scores(Queries(queries)), queries)
        agree = np.isclose(
            answers.values[:, row], expected, rtol=0, atol=answers.tolerance, equal_nan=True
        )
        if not all((np.bincount(row, each)[row] > 0).all() for each in agree):
            return False
    return True


def _named(fits: Sequence[Fit]) -> list[Match]:
    """Return the conventions that fits amount to, or else the slips on conventions, those reported most often first."""
    found: dict[tuple[Any, ...], Match] = {}
    for fit in fits:
        for match in _names_of(fit):
            found.setdefault(match if not match.slips else match[1:], match)
    fewest = min((len(match.slips) for match in found.values()), default=0)
    matches = [match for match in found.values() if len(match.slips) == fewest]
    if not fewest:
        return sorted(matches, key=lambda match: list(CONVENTIONS).index(match.convention))
    return sorted(
        matches, key=lambda match: -sum(slip_named(name).reports[0] for name in match.slips)
    )


def _names_of(fit: Fit) -> Iterator[Match]:
    """Yield the conventions from which a fit differs by slips only."""
    slips = tuple(slip.name for slip in fit.definition.slips)
    for convention, (empty, order, precision) in product(CONVENTIONS, fit.choices):
        own = {**CONVENTIONS[convention].options, "judged_only": False}
        chosen = {
            **fit.definition.options,
            "zero_division": empty,
            "ties": order,
            "score_dtype": precision,
        }
        differing = [
            (name, str(value))
            for name, value in chosen.items()
            if str(value) not in ("", str(own[name]))
        ]
        if all(each in SLIP_OF_OPTION for each in differing):
            yield Match(
                convention, (*(SLIP_OF_OPTION[each] for each in differing), *slips), fit.factor
            )
