"""Find the convention that gives a score: score the rankings under all of them, and explain their differences.

Two libraries differ in a few choices: gain, discount, ideal, ties, queries with no relevant documents, negative
relevance, missing queries. The effect of a choice is its Shapley value: the change in the score when this choice
is changed, averaged over all orders in which the choices could be changed (Shapley, 1953). So the effects add up
to the whole difference, and no effect depends on which choice is changed first.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, SupportsIndex, Unpack

import numpy as np
from numpy.typing import NDArray

from ..files.paths import from_files
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, read
from ..measure.conventions import CHOICES, CONVENTIONS, empty_text
from ..measure.messages import InputError, Message, mark, marked, shown, within
from ..measure.options import AGGREGATION_OPTIONS, ExplainOptions, Options, choice, result_name
from ..scores.frames import from_frame
from ..scores.means import mean, weights
from ..scores.progress import tracked
from ..scores.queries import (
    NOTHING_TO_SCORE,
    are_mostly_missing,
    measure_rankings,
    refuse_missing,
    sentence_on_missing,
    user_terms,
    warn_of_predictions,
)
from ..show.drawing import figure_of
from ..show.json_types import without_nan
from ..show.tables import Readable, number_text
from .combination import Combination
from .properties import in_common, properties_of
from .reported import Reported
from .search import FoundSlip, Searched, SlipSearch, conventions_with, search

NOT_IN_EXPLAIN = ("measures", "convention", *AGGREGATION_OPTIONS)
SHOWN_COMBINATIONS = 5
LIKELY = 0.1  # with this many matches expected by chance, a single match proves little


class Choice(NamedTuple):
    """A choice in which two conventions differ.

    Attributes:
        name: the name of the option; "slip" for a slip.
        before: its value in the first convention.
        after: its value in the second convention.
        effect: its share of the difference between their scores.
    """

    name: str
    before: Any
    after: Any
    effect: float


@dataclass(frozen=True)
class Explanation(Readable):
    """The score of rankings under every convention, and why two of these scores differ.

    Attributes:
        signature: the signature of the first convention or combination that matches, else of the second in `between`
            if it was given. Without a reported score, the signature of the first convention that has a score; empty if
            nothing matches, or only a slip does.
        measure: the name of the result, such as ``"nDCG@10"``.
        scores: the score under each convention, by its name; None if it has none.
        errors: why a convention has no score, by its name.
        got: the reported score, if one was given.
        percent: whether it was given in percent.
        matches: the conventions that give this score, to its digits.
        reported: the reported scores, in words.
        subject: the same at the beginning of a sentence, with its verb.
        combinations: options that give the reported scores, if no convention does; those that change the fewest options
            of a convention come first.
        tried: the number of combinations that were tried.
        without_score: options that were not tried, such as `ties=docid`, because the rankings have no score under them,
            each with the error.
        distinct: how many of the matching combinations give different values to some query.
        by_chance: how many combinations would match by chance; nan if unknown.
        slips: known slips that give the reported scores, if no convention does, each with a convention, and with
            `zero_division` if that differs from the convention's.
        nearest: the combination that gives most of the reported values of queries, if nothing gives all of them.
        disagreeing: the queries with another value under the nearest combination.
        in_common: the common trait of these queries, in words.
        between: the two conventions with the difference that `choices` explain; the second "with a slip" if no
            convention gives the reported scores and a slip does.
        choices: the options in which they differ, and the slip, with their effects, which add up to the difference.
        notes: sentences with further facts for the reader.
    """

    signature: str
    measure: str
    scores: dict[str, float | None]
    errors: dict[str, str]
    got: float | None = None
    percent: bool = False
    matches: tuple[str, ...] = ()
    reported: str = ""
    subject: str = ""
    combinations: tuple[Combination, ...] = ()
    tried: int = 0
    without_score: Mapping[str, str] = field(default_factory=dict)
    distinct: int = 0
    by_chance: float = math.nan
    slips: tuple[tuple[str, str], ...] = ()
    nearest: Combination | None = None
    disagreeing: tuple[Any, ...] = ()
    in_common: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

    def _tables(self) -> list[list[list[str]]]:
        scores = [["convention", self.measure]]
        if self.got is not None:
            scores[0] += ["difference from yours", ""]
        for name, score in self._nearest_first():
            cells = [name, number_text(score)]
            if self.got is not None:
                cells += [number_text(score - self.got, sign="+"), "match" if name in self.matches else ""]
            scores.append(cells)
        tables = [scores]
        if self.between is not None:
            rows = [
                [name, *map(empty_text if name == "zero_division" else str, both), number_text(effect, sign="+")]
                for name, *both, effect in self.choices
            ]
            total = ["total", "", "", number_text(sum(choice.effect for choice in self.choices), sign="+")]
            tables.append([["choice", *self.between, "effect"], *rows, total])
        return tables

    def _remarks(self) -> list[str]:
        conventions: dict[str, list[str]] = {}
        for name, error in self.errors.items():
            conventions.setdefault(error, []).append(name)
        errors = [f"No score under {_enumerated(names)}: {marked(error)}." for error, names in conventions.items()]
        got, percent = self.got or 0.0, []
        if self.percent:
            percent = [f"Your score was read as a percentage: {100 * got:g}% is {got:g}."]
        return list(map(Message, [*self._conclusion(), *percent, *self.notes, *errors]))

    def _conclusion(self) -> Iterator[str]:
        """Yield sentences on the conventions, options or slips that give the score."""
        if self.got is None:
            return
        if self.matches:
            yield f"{self.subject} the {self.measure} of {_enumerated(self.matches)}."
            return
        few = [each for each in self.combinations if len(each.changed) <= 1]
        ways = []
        for each in self.combinations:
            options = mark("options", each.call, each.flags, said=f"{each.call}; in the shell {each.flags}")
            ways.append((marked(each), f" ({options})"))
        ways[len(few) : len(few)] = [(_with_a_slip(marked(name)), f": {slip}") for slip, name in self.slips]
        for at, (way, details) in enumerate(ways[:SHOWN_COMBINATIONS]):
            yield f"{way} gives {'it' if at else self.reported}{details}."
        if self.combinations:
            yield from self._certainty()
        if not ways:
            name, number = self._nearest_first()[0]
            yield f"No convention gives {self.reported}; the nearest is {name}, {number_text(number)}."
            none = f"None of {self.tried:,} combinations of options gives it"
            yield f"{none}. Were other queries or documents scored, weighted or excluded?"
            discount = mark("known discount", said="discount=")
            yield f"To try slips with a discount that is not logarithmic, give {discount}."
        for option, error in self.without_score.items():
            is_shown_below = error in self.errors.values()
            reason = "" if is_shown_below else f": {marked(error)}"
            yield f"Combinations with {mark(*option.split('='), said=option)} have no score{reason}."
        if self.nearest is not None:
            some = ", ".join(map(str, self.disagreeing[:SHOWN_COMBINATIONS]))
            more = ", …" * (len(self.disagreeing) > SHOWN_COMBINATIONS)
            count = len(self.disagreeing)
            differ = "1 query differs" if count == 1 else f"{count:,} queries differ"
            yield f"The nearest combination is {marked(self.nearest)}: {differ} from it: {some}{more}."
            yield from self.in_common

    def _certainty(self) -> Iterator[str]:
        """Yield how many combinations match, and how certain that makes the result."""
        count = len(self.combinations)
        chance = "" if math.isnan(self.by_chance) else f"; by chance, about {self.by_chance:,.1f} would"
        yield f"{count:,} of {self.tried:,} combinations of options give it{chance}."
        if count > 1 and self.distinct == 1:
            yield "These give the same value for every query, so the queries do not distinguish them."
        elif count > 1:
            yield "Scores at more cutoffs, or the value of each query, would distinguish these."
        elif self.by_chance > LIKELY:
            yield "Scores at more cutoffs, or the value of each query, would show whether it is the right one."

    def _nearest_first(self) -> list[tuple[str, float]]:
        """Return the conventions that match first, the others by distance from the reported score, or by their own."""
        known, got = [(name, score) for name, score in self.scores.items() if score is not None], self.got
        if got is None:
            return sorted(known, key=lambda each: each[1])
        return sorted(known, key=lambda each: (each[0] not in self.matches, abs(each[1] - got)))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation in JSON types; a choice that JSON has no type for, such as nan, becomes a string."""
        by_chance = None if math.isnan(self.by_chance) else self.by_chance
        values: dict[str, Any] = without_nan({**vars(self), "by_chance": by_chance}, str)
        return values

    def plot(self) -> Any:
        """Return a Matplotlib figure: a dot for the score under each convention, filled if it equals yours."""
        known = sorted(self._nearest_first(), key=lambda each: each[1])
        figure, (axes,) = figure_of(1, height=1.2 + 0.24 * len(known))
        for at, (name, number) in enumerate(known):
            inside = "C0" if name in self.matches else axes.get_facecolor()
            axes.plot(number, at, "o", color="C0", markerfacecolor=inside)
        axes.set_yticks(range(len(known)), [name for name, _ in known])
        axes.grid(axis="x", alpha=0.3)
        axes.set_xlabel(self.measure)
        if self.got is not None:
            axes.axvline(self.got, color="gray", linewidth=1)
            axes.set_xlabel(f"{self.measure}; line: your score, {self.got:g}; filled: the same to its digits")
        return figure


def _with_a_slip(convention: str) -> str:
    return f"{convention}{',' * (',' in convention)} with a slip"


def explain(
    *,
    predictions: Any,
    references: Any,
    got: Any = None,
    k: SupportsIndex | None = None,
    between: Sequence[str] | None = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **options: Unpack[ExplainOptions],
) -> Explanation:
    """Find the conventions that give a score: score rankings under all of them, and show which options matter.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        got: the nDCG to find, from 0 to 1 or in percent. Its digits decide how close a match must be, so pass "0.5920"
            as a string to keep the last 0. Or scores at several cutoffs, `{"nDCG@5": 0.31, "nDCG@10": 0.283}`; or the
            value of each query, in order, by id, as `{query: {measure: value}}`, or in a file, such as the output of
            trec_eval -q or ndcg score -q.
        k: the cutoff; by default that of `got` if it has one, else the whole list.
        between: two conventions; explain the difference between them. By default scikit-learn's (or the first one that
            has a score) and the one that gives the reported score, or else the first slip that does.
        sample_weight: one weight per query for the mean, in the order of the references or as `{query: weight}`.
        query_ids: the query id of each row, for flat predictions and references.
        document_ids: the document id of each row, with `query_ids`.
        data: a DataFrame; then the arguments above may be names of its columns.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        fields: as in `compute`.
        **options: options of `compute` that are known of the score; they apply under every convention.

    Raises:
        ValueError: as in `compute`, for an error under every convention; `got` is not a score; `between` has an
            unknown convention, or one without a score.

    >>> scores, relevance = [[.5, .5, .2], [.9, .8, .7]], [[1, 0, 0], [0, 0, 0]]
    >>> found = explain(predictions=scores, references=relevance, got=0.9077)
    >>> found.matches, str(found.combinations[0])
    ((), 'sklearn, but zero_division=1.0')
    """
    reported = None if got is None else Reported.read(got, k)
    k = k if reported is None else reported.k
    pair: tuple[str, str] | None = None
    if between is not None:
        if not isinstance(between, (list, tuple)) or len(between) != 2:
            raise InputError(f"{mark('between')} must be the names of two conventions; got {shown(between)}")
        pair = choice("between", between[0], tuple(CONVENTIONS)), choice("between", between[1], tuple(CONVENTIONS))
    parsed = Options.of_method(explain, k, options, lacks=NOT_IN_EXPLAIN)
    if len(parsed.cutoffs) > 1:
        raise InputError(f"{mark('k')} must be one cutoff, since a score has one; got {shown(k)}")
    inputs = from_frame(
        data, Inputs(predictions, references, query_ids, document_ids, exclude, sample_weight, fields=fields)
    )
    scorer = _Scorer(from_files(inputs, **parsed.sides).settled(**parsed.sides), k, options)
    rankings = next(iter(scorer.rankings.values()))
    unmatched = rankings.unmatched
    missing = int(rankings.missing.sum())
    if unmatched:
        warn_of_predictions(unmatched)
    elif rankings.place is not None and are_mostly_missing(missing, rankings.queries, parsed):
        warn_of_predictions(sentence_on_missing(missing, rankings.queries))
    scores: dict[str, float | None] = {}
    errors: dict[str, str] = {}
    for name in tracked(list(CONVENTIONS), "Scoring", " conventions"):
        try:
            scores[name] = scorer.score(scorer.options_of(name))
        except ValueError as error:
            scores[name], errors[name] = None, Message(marked(error))
    if all(score is None for score in scores.values()):
        raise InputError(marked(next(iter(errors.values()))))
    for name in pair or ():
        if name in errors:
            raise within(InputError(f"{marked(errors[name])}"), "between", f"{name} has no score")
    first = next(name for name, score in scores.items() if score is not None)
    notes = (f"{unmatched[0].upper()}{unmatched[1:]}.",) if unmatched else ()
    measure = result_name("nDCG", scorer.cutoff)
    explanation = Explanation(scorer.signature(first), measure, scores, errors, notes=notes)
    slip = None
    if reported is not None:
        explanation, slip = _with_matches(explanation, scorer, reported)
    start = scorer.options_of(first if pair is None else pair[0])
    if pair is None and explanation.matches:  # the match that differs in the fewest choices
        pair = (first, min(explanation.matches, key=lambda name: len(_differing(start, scorer.options_of(name)))))
    if pair is not None:
        end, slip = scorer.options_of(pair[1]), None
        signature = explanation.signature if explanation.matches else end.signature(**scorer.given)
    elif slip is not None:
        pair, signature = (first, _with_a_slip(str(slip))), explanation.signature
        end = scorer.options_of(slip.convention, **slip.changed)
    if pair is None or pair[0] == pair[1]:
        return explanation
    try:
        choices = scorer.choices(start, end, slip)
    except ValueError as error:  # raised by a mixture of their options, such as ties by id among scores in 32 bits
        if between is None:
            return explanation
        both = f"some options of {pair[0]} with others of {pair[1]} have no score"
        raise within(error, "between", both) from None
    return replace(explanation, signature=signature, between=pair, choices=choices)


class _Scorer:
    """Score the same rankings under different options, and read them only once."""

    def __init__(self, inputs: Inputs, k: Any, options: Mapping[str, Any]) -> None:
        self.inputs, self.k, self.options = inputs, k, options
        (self.cutoff,) = Options.parse(k=k).cutoffs
        self.given = {"weighted": inputs.sample_weight is not None, "excluding": inputs.exclude is not None}
        self.rankings: dict[tuple[Any, ...], Rankings] = {}
        self.scores: dict[tuple[str, ...], float] = {}
        rankings = self.read(Options.parse(k=k, **options))
        if not rankings.queries:
            raise ValueError(NOTHING_TO_SCORE)
        self.weight: NDArray[np.float64] | None = weights(inputs.sample_weight, rankings.queries, rankings.query_ids)

    def signature(self, convention: str) -> str:
        """Return the signature of a convention."""
        return self.options_of(convention).signature(**self.given)

    def options_of(self, convention: str, **changed: Any) -> Options:
        """Return the options of a convention, overridden by those of the caller and by changes."""
        return Options.parse(k=self.k, convention=convention, **{**self.options, **changed})

    def score(self, options: Options) -> float:
        """Return the nDCG under some options.

        Raises:
            ValueError: the rankings have no nDCG under them.
        """
        key = tuple(repr(getattr(options, name)) for name in CHOICES)
        if key not in self.scores:
            rankings = self.read(options)
            if options.missing == "raise":
                refuse_missing(rankings)
            with user_terms(rankings):
                values = measure_rankings(rankings, options)["nDCG"][0]
            self.scores[key] = mean("nDCG", values, self.weight)
        return self.scores[key]

    def choices(self, before: Options, after: Options, slip: FoundSlip | None = None) -> tuple[Choice, ...]:
        """Return the choices in which two conventions differ, the slip among them, with their effects."""
        values = {name: (getattr(before, name), getattr(after, name)) for name in _differing(before, after)}
        if slip is not None:
            values["slip"] = ("none", slip.slip.name)

        def score(changed: Sequence[str]) -> float:
            options = replace(before, **{name: values[name][1] for name in changed if name != "slip"})
            return slip.score(options) if slip is not None and "slip" in changed else self.score(options)

        return tuple(Choice(name, *both, _shapley_value(name, list(values), score)) for name, both in values.items())

    def read(self, options: Options) -> Rankings:
        """Return the rankings as some options read them; each reading is done once."""
        key = tuple(options.reading.values())
        if key not in self.rankings:
            self.rankings[key] = read(**self.inputs.rankings, **options.reading)
        return self.rankings[key]


def _differing(before: Options, after: Options) -> list[str]:
    """Return the names of the choices in which two conventions differ."""
    return [name for name in CHOICES if repr(getattr(before, name)) != repr(getattr(after, name))]


def _shapley_value(name: str, names: Sequence[str], score: Callable[[Sequence[str]], float]) -> float:
    """Return the Shapley value of a choice: the effect of changing it, averaged over all orders of changing them."""
    others = [each for each in names if each != name]
    return math.fsum(
        (score([*changed, name]) - score(changed)) / (len(names) * math.comb(len(others), size))
        for size in range(len(names))
        for changed in combinations(others, size)
    )


def _with_matches(
    explanation: Explanation, scorer: _Scorer, reported: Reported
) -> tuple[Explanation, FoundSlip | None]:
    """Return an explanation with the conventions that give the reported scores, else with combinations and slips.

    Also return the first of these slips.
    """
    rankings = scorer.read(Options.parse(k=scorer.k, **scorer.options))
    evidence = reported.evidence(rankings)
    given = {name: value for name, value in scorer.options.items() if value is not None}
    if given.pop("ignore_ties", False):
        given["ties"] = "last"
    searched = Searched(scorer.read, given, scorer.cutoff, scorer.weight, evidence)
    exact = searched._replace(evidence=reported.evidence(rankings, exact=True))
    matches = tuple(conventions_with(exact) or conventions_with(searched))
    score = reported.score
    if math.isnan(score):  # if values of queries were reported, the table compares their mean
        score = mean("nDCG", evidence[0].scores, scorer.weight)
    explanation = replace(explanation, got=score, percent=reported.percent, matches=matches)
    explanation = replace(explanation, reported=reported.words, subject=reported.subject)
    if matches:
        return replace(explanation, signature=scorer.signature(matches[0])), None
    found, as_given = search(searched), reported.as_given()
    slips = SlipSearch(searched, scorer.inputs, as_given.evidence(rankings)).found()
    if not found.combinations and slips and all(each.as_given for each in slips):
        explanation = replace(explanation, got=as_given.score, percent=False, reported=as_given.words)
    explanation = replace(
        explanation,
        signature="",
        combinations=tuple(found.combinations),
        distinct=len(found.distinct),
        tried=found.tried,
        without_score=found.without_score,
        by_chance=found.by_chance,
        slips=tuple((each.slip.name, Message(marked(each))) for each in slips),
    )
    if found.combinations:
        signature = Options.parse(**found.combinations[0].options).signature(**scorer.given)
        explanation = replace(explanation, signature=signature)
    elif not slips and found.nearest is not None and found.agreeing is not None:
        ids, differing = rankings.names(), ~found.agreeing
        properties = properties_of(rankings, found.nearest.options["k"])
        explanation = replace(
            explanation,
            nearest=found.nearest,
            disagreeing=tuple(ids[at] for at in np.flatnonzero(differing)),
            in_common=tuple(map(Message, in_common(properties, differing, "queries", marked(found.nearest)))),
        )
    return explanation, slips[0] if slips else None


def _enumerated(names: Sequence[str]) -> str:
    """Return names as an enumeration in words."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
