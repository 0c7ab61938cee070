"""The definitions of nDCG that explain answers of a function: conventions, slips, and factors.

Rankings without ties show the gain, the discount, the ideal and most slips. The others then show
the order of tied documents and the precision of scores, and queries with nothing relevant show
their value.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import chain, combinations, groupby, permutations, product, starmap
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..measure.arguments import DISCOUNTS, GAINS, IDEALS, PERFECT_IF_EMPTY
from ..measure.conventions import CONVENTIONS
from ..measure.ties import Floats, Mask
from ..scores.progress import tracked
from .search import changes_of, least, usual_options
from .slip_terms import NO_SLIP, Change, Queries, Query, Slip, Term, has_ties, ranked
from .slips import NOT_OPTIONS, OWN_DOCUMENT, SLIPS, slip_named

VISIBLE = 1e-4  # the least difference that a reader sees
MOST_ARRANGEMENTS = 150  # of the tied documents of a ranking
BASES = {2.0: "2", math.e: "e", 10.0: "10"}


def _factors() -> dict[float, str]:
    factors = {100.0: "The scores are percentages."}
    for dcg, ideal in permutations(BASES, 2):
        bases = f"base {BASES[dcg]} in the DCG and {BASES[ideal]} in the ideal"
        factors[math.log(dcg) / math.log(ideal)] = f"The logarithm has {bases}."
    return factors


FACTORS = _factors()


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
    values: Floats  # the two answers to every query, of shape (2, rankings)
    plain: Mask  # which rankings have neither ties nor close scores
    close: Mask  # which have close scores
    tolerance: float  # how far an answer may differ from the value that it was rounded from

    def agree(self, expected: Floats) -> Mask:
        """Return which answers agree with the values of a definition; both answers must."""
        agreeing = np.isclose(self.values, expected, rtol=0, atol=self.tolerance, equal_nan=True)
        return np.asarray(agreeing.all(axis=0))


class Definition(NamedTuple):
    """Options, slips and a factor, whatever the order of ties and the value of empty queries."""

    # the gain, the discount, the ideal, and whether only judged documents count
    options: Mapping[str, Any]
    slips: tuple[Slip, ...] = ()  # the slips, the first one first
    factor: float = 1.0  # of all values

    def scores(self, queries: Queries, precision: str = "", order: str = "") -> Floats:
        """Return the value of every query, nan if its ideal DCG is 0.

        Scores have a precision, and their ties an order, before the slips and after them; without
        a word, they are as given, and ties count by their average.
        """
        in_order = ORDERS.get(order, NO_SLIP)
        slips = [in_order, *self.slips, in_order]
        if ASCENDING_ORDER in self.slips:
            # This slip would reverse the order.
            del slips[0]
        definition = PRECISIONS.get(precision, NO_SLIP)
        for slip in slips:
            definition = slip.over(definition)
        options = {**self.options, "zero_division": math.nan, "negative_relevance": "keep"}
        return self.factor * definition.scores(queries, options)

    def tied(self, queries: Queries) -> Mask:
        """Return which queries have ties, before or after the slips."""
        changes: list[Change] = []
        for slip in self.slips:
            changes += slip.both.changes
            changes += slip.dcg.changes
        return queries.tied(()) | queries.tied(tuple(changes))


class Empty(NamedTuple):
    """The value of a query with nothing relevant."""

    value: float | str  # the value, as in `zero_division`
    factor: float

    def fill(self, expected: Floats, queries: Sequence[Query]) -> Floats:
        """Return values in which this one replaces nan."""
        value: Any = self.value
        if value == PERFECT_IF_EMPTY:
            value = [not query.run and not query.relevant for query in queries]
        return np.where(np.isnan(expected), self.factor * np.asarray(value), expected)


class Fit(NamedTuple):
    """A definition that explains the answers."""

    definition: Definition
    # What agrees with the answers: the value of queries with nothing relevant, the order of ties,
    # the precision of scores. A word is empty if no ranking shows it, or if ties have no fixed
    # order.
    choices: Sequence[tuple[float | str, str, str]]
    unordered: int = 0  # the number of rankings with ties that no single order explains


# Orders of tied documents


def _in_order(query: Query, documents: Iterable[Any]) -> Query:
    """Return a ranking in which equal scores differ in the last digit, in an order."""
    if not has_ties(query):
        return query
    run = dict(query.run)
    last = math.inf
    for document in sorted(documents, key=lambda document: -query.run[document]):
        last = min(run[document], math.nextafter(last, -math.inf))
        run[document] = last
    return query._replace(run=run)


def _relevance_of(query: Query) -> Callable[[Any], float]:
    return lambda document: query.qrels.get(document, 0)


def _order(documents: Callable[[Query], Iterable[Any]]) -> Slip:
    return NO_SLIP._replace(both=Term((lambda query: _in_order(query, documents(query)),)))


ORDERS = {
    "first": _order(lambda query: query.run),
    "last": _order(lambda query: reversed(list(query.run))),
    "docid": _order(lambda query: sorted(query.run, reverse=True)),
    "ascending": _order(lambda query: sorted(query.run)),
    "best": _order(lambda query: sorted(query.run, key=_relevance_of(query), reverse=True)),
    "worst": _order(lambda query: sorted(query.run, key=_relevance_of(query))),
    "average": NO_SLIP,
}


def _arrangements(query: Query) -> list[Query]:
    """Return a ranking with ties in every order that may change its score; none if too many."""
    groups = []
    count = 1
    for _, tied in groupby(ranked(query), key=lambda document: query.run[document]):
        group = list(tied)
        relevant = [document for document in group if query.qrels.get(document, 0) > 0]
        others = [document for document in group if document not in relevant]
        groups.append((relevant, others))
        count *= math.perm(len(group), len(relevant))
    if count > MOST_ARRANGEMENTS:
        return []
    orders = product(*starmap(_orders_of, groups))
    return [_in_order(query, chain.from_iterable(order)) for order in orders]


def _orders_of(relevant: Sequence[Any], others: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the orders of documents that differ in the ranks of relevant ones."""
    size = len(relevant) + len(others)
    for ranks in permutations(range(size), len(relevant)):
        at_ranks = dict(zip(ranks, relevant, strict=True))
        rest = iter(others)
        yield [at_ranks[rank] if rank in at_ranks else next(rest) for rank in range(size)]


# Definitions to try

ASCENDING_ORDER = slip_named("ascending order")
ASCENDING_TIES = slip_named("ties by ascending document id")
IN_32_BITS = slip_named("scores rounded to 32 bits")

# The slip of every precision of scores, by the name that it has in an option or here
PRECISIONS = {
    "given": NO_SLIP,
    "float32": IN_32_BITS,
    "scores rounded to 16 bits": slip_named("scores rounded to 16 bits"),
    **{slip.name: slip for slip in SLIPS if slip.name.endswith("decimals")},
}


def _slip_of_option() -> dict[tuple[str, str], str]:
    """Return the slips that are the value of an option, or an order or a precision here."""
    names = {("ties", "ascending"): ASCENDING_TIES.name}
    for slip in SLIPS:
        if slip.is_option:
            for option, value in slip.both.options.items():
                names[option, str(value)] = slip.name
    for name, precision in PRECISIONS.items():
        if precision != NO_SLIP:
            names["score_dtype", name] = precision.name
    return names


SLIP_OF_OPTION = _slip_of_option()
NOT_ASKED = (
    *PRECISIONS.values(),
    ASCENDING_TIES,
    slip_named("scores and relevance swapped"),  # a function may take the relevance first
    OWN_DOCUMENT,  # a function never takes the id of the query
    slip_named("negative relevance removed"),  # no ranking has a negative relevance
)
OTHER_SLIPS = [slip for slip in NOT_OPTIONS if slip not in NOT_ASKED]

GRID: list[dict[str, Any]] = [
    {"gain": gain, "discount": discount, "ideal": ideal, "judged_only": judged_only}
    for gain, discount, ideal, judged_only in product(GAINS, DISCOUNTS, IDEALS, (False, True))
]
OPTIONS_OF_CONVENTIONS = [options for options in GRID if changes_of(options).min() == 0]
OPTIONS_WITH_A_CHANGE = [options for options in GRID if changes_of(options).min() == 1]
# Pairs of slips are many, so they are tried with the most usual discount and ideal only.
MOST_USUAL_OPTIONS = [
    options
    for options in OPTIONS_OF_CONVENTIONS
    if (options["discount"], options["ideal"]) == ("log", "judged")
]


@cache
def usual_definitions() -> list[Definition]:
    """Return combinations of options, and every slip on the options of every convention."""
    definitions = list(map(Definition, GRID))
    for slip, options in product(OTHER_SLIPS, OPTIONS_OF_CONVENTIONS):
        definitions.append(Definition(options, (slip,)))
    return definitions


@cache
def rare_definitions() -> list[Definition]:
    """Return every slip on one change of a convention, and two slips at once."""
    definitions = []
    for options, slip in product(OPTIONS_WITH_A_CHANGE, OTHER_SLIPS):
        definitions.append(Definition(options, (slip,)))
    for pair, options in product(combinations(OTHER_SLIPS, 2), MOST_USUAL_OPTIONS):
        definitions.append(Definition(options, pair))
    return definitions


# Comparison


def explain_answers(answers: Answers, first: Answers) -> tuple[list[Match], int]:
    """Return the definitions with the fewest slips that explain answers.

    Also return how many rankings with ties no single order explains. The first answers, to rankings
    without ties, rule out most definitions.
    """
    stages = [*product((usual_definitions, rare_definitions), (False, True))]
    for definitions, scaled in tracked(stages, "Comparing", " sets of definitions"):
        factors, known, agree = compared(definitions, first, scaled=scaled)
        rows = np.flatnonzero((agree == known).all(axis=1) & np.isfinite(factors)).tolist()
        fits = []
        # Definitions with the same values explain the same.
        fits_by_values: dict[bytes, list[Fit]] = {}
        for row in rows:
            definition = definitions()[row]._replace(factor=float(factors[row]))
            values = definition.scores(answers.queries).round(9).tobytes()
            if values not in fits_by_values:
                fits_by_values[values] = _fit(definition, answers)
            fits += [fit._replace(definition=definition) for fit in fits_by_values[values]]
        if fits:
            fits = least(fits, attrgetter("unordered"))
            return _named(fits), fits[0].unordered
    return [], 0


@lru_cache(maxsize=16)
def expected_values(definitions: Callable[[], Sequence[Definition]], queries: Queries) -> Floats:
    """Return the values of queries by every definition; nan if ties decide, or nothing relevant."""
    rows = []
    for definition in definitions():
        values = definition.scores(queries)
        rows.append(np.where(definition.tied(queries), np.nan, values))
    return np.array(rows)


def factors_of(values: Floats, expected: Floats, tolerance: float) -> Floats:
    """Return the factor by which values differ from every definition; nan if there is none.

    >>> factors_of(np.array([69.3, 100]), np.array([[0.693, 1], [1, 0.5]]), 0.05).tolist()
    [100.0, nan]
    """
    known = np.isfinite(expected) & np.isfinite(values)
    known_expected = np.where(known, expected, 0)
    known_values = np.where(known, values, 0)
    # the factors with the least squares
    with np.errstate(all="ignore"):
        factors = (known_expected * known_values).sum(axis=1) / (known_expected**2).sum(axis=1)
    is_exact = tolerance <= VISIBLE
    nearby = VISIBLE if is_exact else 0.02
    for factor in FACTORS:
        factors[np.abs(factors / factor - 1) < nearby] = factor
    usable = (factors > VISIBLE) & (np.abs(factors - 1) > VISIBLE)
    if not is_exact:
        # Rounded values agree with many definitions by some factor.
        usable &= np.isin(factors, list(FACTORS))
    return np.where(usable, factors, np.nan)


def compared(
    definitions: Callable[[], Sequence[Definition]], first: Answers, *, scaled: bool
) -> tuple[Floats, Mask, Mask]:
    """Return the factors of definitions, a row a definition, and which known values agree.

    Known are those that have an answer without ties. Scaled definitions may differ by a factor.
    """
    values = first.values[0]
    expected = expected_values(definitions, first.queries)
    factors = np.ones(len(expected))
    if scaled:
        factors = factors_of(values, expected, first.tolerance)
    known = np.isfinite(expected) & first.plain
    agree = known & (np.abs(values - factors[:, None] * expected) <= first.tolerance)
    return factors, known, agree


def _fit(definition: Definition, answers: Answers) -> list[Fit]:
    """Return how a definition explains answers; empty if it does not."""
    queries = answers.queries.changed(())
    free = answers.plain & ~definition.tied(answers.queries)

    def agreeing(
        emptiness: Sequence[Empty], rows: Mask, precision: str = "", order: str = ""
    ) -> list[Empty]:
        """Return the values of empty queries with which some answers agree."""
        expected = definition.scores(answers.queries, precision, order)
        return [
            empty for empty in emptiness if answers.agree(empty.fill(expected, queries))[rows].all()
        ]

    zero_divisions: tuple[float | str, ...] = (0.0, 1.0, math.nan, PERFECT_IF_EMPTY)
    emptiness = list(starmap(Empty, product(zero_divisions, {1.0, definition.factor})))
    emptiness = agreeing(emptiness, free)
    if not emptiness or not free.any():
        return []
    tied, close = ~free & ~answers.close, ~free & answers.close
    # Empty words if no ranking shows them
    orders = list(ORDERS) if tied.any() else [""]
    precisions = list(PRECISIONS) if close.any() else [""]
    choices = []
    for order in orders:
        agreeing_if_tied = agreeing(emptiness, tied, order=order)
        if not agreeing_if_tied:
            continue
        for precision in precisions:
            emptiness_if_close = agreeing(agreeing_if_tied, close, precision, order)
            choices += [(empty.value, order, precision) for empty in emptiness_if_close]
    if choices:
        return [Fit(definition, choices)]
    # No fixed order explains the answers, but every ranking may have another order.
    has_few_free = 2 * np.count_nonzero(free) < np.count_nonzero(answers.plain)
    if has_few_free or not answers.queries.tied(()).any():
        return []
    some_order = partial(_has_some_order, definition, answers)
    emptiness = [empty for empty in emptiness if some_order(tied, "given", empty)]
    for empty, precision in product(emptiness, PRECISIONS):
        if some_order(close, precision, empty):
            unordered = int(np.count_nonzero(~free))
            return [Fit(definition, [(empty.value, "", precision)], unordered)]
    return []


def _has_some_order(
    definition: Definition, answers: Answers, rows: Mask, precision: str, empty: Empty
) -> bool:
    """Return whether every answer is the value of its ranking with tied documents in some order."""
    rounded = answers.queries.changed(PRECISIONS[precision].both.changes)
    queries: list[Query] = []
    ranking: list[int] = []  # the number of the ranking of every query
    for number in np.flatnonzero(rows).tolist():
        arrangements = _arrangements(rounded[number])
        queries += arrangements
        ranking += [number] * len(arrangements)
    if not queries:
        return True
    expected = empty.fill(definition.scores(Queries(queries)), queries)
    values = answers.values[:, ranking]
    agree = np.isclose(values, expected, rtol=0, atol=answers.tolerance, equal_nan=True)
    # For each of the two answers, some order of every ranking agrees.
    return all(np.bincount(ranking, agrees)[ranking].all() for agrees in agree)


def _named(fits: Sequence[Fit]) -> list[Match]:
    """Return the conventions of fits, else their slips, the most often reported first."""
    by_definition: dict[tuple[Any, ...], Match] = {}
    for fit in fits:
        for match in _matches_of(fit):
            # The same slips are named on the first convention only.
            by_definition.setdefault(match[1:] if match.slips else match, match)
    matches = least(list(by_definition.values()), lambda match: len(match.slips))
    if not any(match.slips for match in matches):
        order = list(CONVENTIONS)
        return sorted(matches, key=lambda match: order.index(match.convention))

    def reports(match: Match) -> int:
        return sum(slip_named(name).reports[0] for name in match.slips)

    return sorted(matches, key=reports, reverse=True)


def _matches_of(fit: Fit) -> Iterator[Match]:
    """Yield the conventions from which a fit differs by slips only."""
    slips = [slip.name for slip in fit.definition.slips]
    for convention, (empty, order, precision) in product(CONVENTIONS, fit.choices):
        chosen = {
            **fit.definition.options,
            "zero_division": empty,
            "ties": order,
            "score_dtype": precision,
        }
        usual = usual_options(convention)
        names: list[Any] = [
            SLIP_OF_OPTION.get((name, str(value)))
            for name, value in chosen.items()
            if str(value) not in ("", str(usual[name]))
        ]
        if None not in names:
            yield Match(convention, (*names, *slips), fit.definition.factor)
