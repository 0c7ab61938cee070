"""Whose number it is: the same rankings by every convention, and which choice makes what difference.

Two libraries differ in a handful of choices: gain, discount, ideal, ties, empty queries, negative
relevance, missing queries. What each of these adds to the difference is its Shapley value: what
changing it adds, averaged over all orders in which the choices could be changed (Shapley, 1953).
So the parts add up to the whole difference, and none depends on which choice is changed first.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, SupportsIndex, Unpack

import numpy as np
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, read
from ..inputs.sources import settled
from ..measure.conventions import CHOICES, CONVENTIONS, empty_text
from ..measure.messages import shown
from ..measure.options import AGGREGATION_OPTIONS, ExplainOptions, Options, choice, is_real, result_name
from ..scores.queries import (
    NOTHING_TO_SCORE,
    UserTerms,
    from_files,
    from_frame,
    mean,
    progress,
    refuse_missing,
    score_part,
    weights,
)
from .drawing import figure_of
from .properties import in_common, properties_of
from .reported import Reported
from .search import Combination, Evidence, Searched, conventions_with, search
from .slip_terms import Queries, have_ids, queries_by_ids, queries_of
from .slips import SLIPS
from .tables import Readable, number_text

NOT_IN_EXPLAIN = ("measures", "convention", *AGGREGATION_OPTIONS)
SHOWN_COMBINATIONS = 5
MOST_DOCUMENTS = 100_000  # for which slips are tried: they are plain Python
SLIPS_TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")


class Choice(NamedTuple):
    """A choice in which two conventions differ.

    Attributes:
        name: of the option.
        before: what the first convention chooses.
        after: what the second chooses.
        adds: what it adds to the difference of their numbers.
    """

    name: str
    before: Any
    after: Any
    adds: float


@dataclass(frozen=True)
class Explanation(Readable):
    """The number of rankings under every convention, and why two of them differ.

    Attributes:
        signature: of the first convention that matches, else of the second of `between`, else of the
            first that has a number: every choice made.
        measure: such as ``"nDCG@10"``.
        numbers: by the name of the convention; None where it has none.
        refused: why a convention has none, by its name.
        got: the number to explain, if one was given.
        percent: whether it was given in percent.
        matches: the conventions whose number it is, to the digits that were given.
        reported: what was reported, in words.
        combinations: options that give what was reported, if no convention does; those that change the fewest options
            of a convention come first.
        tried: the number of combinations that were tried.
        distinct: how many of the combinations that match differ in the value of some query.
        by_chance: how many combinations would match by chance; nan if unknown.
        slips: known slips that give what was reported, if no convention does, each with a convention.
        nearest: if values of queries were reported that nothing gives, the combination that gives most of them.
        disagreeing: the queries that have another value under the nearest combination.
        in_common: what these queries have in common, in words.
        between: the two conventions whose difference `choices` explain.
        choices: in which they differ, with what each adds; together the difference.
    """

    signature: str
    measure: str
    numbers: dict[str, float | None]
    refused: dict[str, str]
    got: float | None = None
    percent: bool = False
    matches: tuple[str, ...] = ()
    reported: str = ""
    combinations: tuple[Combination, ...] = ()
    tried: int = 0
    distinct: int = 0
    by_chance: float = math.nan
    slips: tuple[tuple[str, str], ...] = ()
    nearest: Combination | None = None
    disagreeing: tuple[Any, ...] = ()
    in_common: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    choices: tuple[Choice, ...] = ()

    def _tables(self) -> list[list[list[str]]]:
        numbers = [["convention", self.measure]]
        if self.got is not None:
            numbers[0] += ["minus yours", ""]
        for name, number in self._sorted():
            cells = [name, number_text(number)]
            if self.got is not None:
                cells += [number_text(number - self.got, sign="+"), "yours" if name in self.matches else ""]
            numbers.append(cells)
        tables = [numbers]
        if self.between is not None:
            adds = [
                [each.name, _choice_text(each.name, each.before), _choice_text(each.name, each.after)]
                for each in self.choices
            ]
            added = [number_text(each.adds, sign="+") for each in self.choices]
            rows = [[*cells, text] for cells, text in zip(adds, added, strict=True)]
            whole = ["together", "", "", number_text(sum(each.adds for each in self.choices), sign="+")]
            tables.append([["choice", *self.between, "adds"], *rows, whole])
        return tables

    def _remarks(self) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.refused.items():
            by_reason.setdefault(reason, []).append(name)
        refused = [f"No number of {_enumerated(names)}: {reason}." for reason, names in by_reason.items()]
        return [*self._conclusion(), *refused]

    def _conclusion(self) -> Iterator[str]:
        """Yield what the number is, in words."""
        if self.got is None:
            return
        if self.percent:
            yield f"Your score was read as a percentage: {100 * self.got:g}% is {self.got:g}."
        if self.matches:
            yield f"{self.reported} is the {self.measure} of {_enumerated(self.matches)}."
            return
        name, number = min(self._sorted(), key=lambda each: abs(each[1] - float(self.got or 0)))
        yield f"No convention has {self.reported}; the nearest is {name}, {number_text(number)}."
        few = [each for each in self.combinations if len(each.changed) <= 1]
        ways = [_way_text(each) for each in few]
        ways += [f"It is that of {convention} with a slip: {slip}." for slip, convention in self.slips]
        ways += [_way_text(each) for each in self.combinations[len(few) :]]
        yield from ways[:SHOWN_COMBINATIONS]
        if self.combinations:
            yield from self._certainty()
        if not ways:
            yield "No combination of options has it. Were other queries or documents scored, weighted or excluded?"
        if self.nearest is not None:
            some = ", ".join(map(str, self.disagreeing[:SHOWN_COMBINATIONS]))
            more = ", …" * (len(self.disagreeing) > SHOWN_COMBINATIONS)
            count = len(self.disagreeing)
            differ = "1 query differs" if count == 1 else f"{count:,} queries differ"
            yield f"The nearest combination is {self.nearest}: {differ} from it: {some}{more}."
            yield from self.in_common

    def _certainty(self) -> Iterator[str]:
        """Yield how many combinations match, and what that is worth."""
        count = len(self.combinations)
        chance = "" if math.isnan(self.by_chance) else f"; by chance, about {self.by_chance:.1f} would"
        yield f"{count:,} of {self.tried:,} combinations of options have it{chance}."
        if count > 1 and self.distinct == 1:
            yield "These have the same value for every query, so the queries do not tell them apart."
        elif count > 1:
            yield "Scores at more cutoffs, or the value of each query, would tell these apart."

    def _sorted(self) -> list[tuple[str, float]]:
        """Return the conventions that have a number, the lowest first."""
        known = [(name, number) for name, number in self.numbers.items() if number is not None]
        return sorted(known, key=lambda each: each[1])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has; a choice that is no number, such as nan, as text."""
        lists: dict[str, Any] = {"choices": [_in_json_types(each) for each in self.choices]}
        lists["combinations"] = [_combination_in_json(each) for each in self.combinations]
        between = None if self.between is None else list(self.between)
        by_chance = None if math.isnan(self.by_chance) else self.by_chance
        lists |= {
            "by_chance": by_chance,
            "slips": [list(each) for each in self.slips],
            "nearest": self.nearest and _combination_in_json(self.nearest),
            "disagreeing": list(self.disagreeing),
            "in_common": list(self.in_common),
        }
        return {**vars(self), **lists, "matches": list(self.matches), "between": between}

    def plot(self) -> Any:
        """Return a Matplotlib figure: a dot for the number of each convention, filled if it is the one you got."""
        known = self._sorted()
        figure, (axes,) = figure_of(1, height=1.2 + 0.24 * len(known))
        for at, (name, number) in enumerate(known):
            axes.plot(number, at, "o", color="C0", markerfacecolor="C0" if name in self.matches else "white")
        axes.set_yticks(range(len(known)), [name for name, _ in known])
        axes.grid(axis="x", alpha=0.3)
        axes.set_xlabel(self.measure)
        if self.got is not None:
            axes.axvline(self.got, color="gray", linewidth=1)
            axes.set_xlabel(f"{self.measure}; line: {self.got:g}, what you got; filled: the same to its digits")
        return figure


def _way_text(combination: Combination) -> str:
    return f"It is that of {combination} ({combination.call}; in the shell {combination.flags})."


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
    **options: Unpack[ExplainOptions],
) -> Explanation:
    """Tell whose nDCG a number is: the number of rankings under every convention, and what makes the difference.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        got: the nDCG to find, from 0 to 1 or in percent; its digits say how close a match must be, so give "0.5920" as
            text to keep the last 0. Or scores at several cutoffs, `{"nDCG@5": 0.31, "nDCG@10": 0.283}`; or the value
            of each query, in order, by id, or in a file of lines such as those of trec_eval -q.
        k: the cutoff.
        between: two conventions whose difference to explain; by default scikit-learn's (or the first
            that has a number) and the one that has the number that was got.
        sample_weight: one weight per query for the mean.
        query_ids: for flat predictions and references.
        document_ids: with `query_ids`.
        data: a frame; then the arguments above may be names of its columns.
        exclude: documents to leave out, as in `compute`.
        **options: of `compute`, the same for every convention: what you know of the number.

    Raises:
        ValueError: what `compute` refuses of any convention; a number or a convention that is none;
            `between` a convention without a number.

    >>> scores, relevance = [[.5, .5, .2], [.9, .8, .7]], [[1, 0, 0], [0, 0, 0]]
    >>> found = explain(predictions=scores, references=relevance, got=0.9077)
    >>> found.matches, str(found.combinations[0])
    ((), 'sklearn, but zero_division=1.0')
    """
    reported = None if got is None else Reported.read(got, k)
    k = k if reported is None else reported.k
    pair = None if between is None else _two_conventions(between)
    if len(Options.of_method(explain, k, options, lacks=NOT_IN_EXPLAIN).cutoffs) > 1:
        raise ValueError(f"k must be one cutoff, since a number has one; got {shown(k)}")
    inputs, weight = from_frame(data, Inputs(predictions, references, query_ids, document_ids, exclude), sample_weight)
    scorer = _Scorer(Inputs(*settled(**from_files(inputs)._asdict())), weight, k, options)
    numbers: dict[str, float | None] = {}
    refused = {}
    with progress(len(CONVENTIONS), "Scoring", " conventions") as bar:
        for name in CONVENTIONS:
            try:
                numbers[name] = scorer.number(scorer.options_of(name))
            except ValueError as error:
                numbers[name], refused[name] = None, str(error)
            bar.update(1)
    if all(number is None for number in numbers.values()):
        raise ValueError(next(iter(refused.values())))
    for name in pair or ():
        if name in refused:
            raise ValueError(f"between: {name} has no number: {refused[name]}")
    first = next(name for name, number in numbers.items() if number is not None)
    found = Explanation(scorer.signature(first), result_name("nDCG", scorer.cutoff), numbers, refused)
    if reported is not None:
        found = _with_matches(found, scorer, reported)
    if pair is None and found.matches:  # the one that differs in the fewest choices
        pair = (first, min(found.matches, key=lambda name: len(scorer.differing(first, name))))
    if pair is None or pair[0] == pair[1]:
        return found
    signature = found.signature if found.matches else scorer.signature(pair[1])
    return replace(found, signature=signature, between=pair, choices=scorer.choices(*pair))


class _Scorer:
    """The same rankings, read once, under any choices."""

    def __init__(self, inputs: Inputs, sample_weight: Any, k: Any, options: Mapping[str, Any]) -> None:
        self.inputs, self.k, self.options = inputs, k, options
        self.given = {"weighted": sample_weight is not None, "excluding": inputs.exclude is not None}
        self.rankings: dict[tuple[Any, ...], Rankings] = {}
        self.numbers: dict[tuple[str, ...], float] = {}
        plain = self.read(Options.parse(k=k, **options))
        if not plain.queries:
            raise ValueError(NOTHING_TO_SCORE)
        self.weight: NDArray[np.float64] | None = weights(sample_weight, plain.queries)

    @property
    def cutoff(self) -> int | None:
        """The cutoff."""
        return Options.parse(k=self.k).cutoffs[0]

    def signature(self, convention: str) -> str:
        """Return every choice of a convention."""
        return self.options_of(convention).signature(**self.given)

    def options_of(self, convention: str, **changed: Any) -> Options:
        """Return the options of a convention, what is given besides, and what is changed."""
        return Options.parse(k=self.k, convention=convention, **{**self.options, **changed})

    def number(self, options: Options) -> float:
        """Return the nDCG under some options.

        Raises:
            ValueError: there is none.
        """
        key = tuple(repr(getattr(options, name)) for name in CHOICES)
        if key not in self.numbers:
            rankings = self.read(options)
            if options.missing == "raise":
                refuse_missing(rankings)
            with UserTerms(rankings):
                values = score_part(rankings, options)["nDCG"][0]
            self.numbers[key] = mean("nDCG", values, self.weight)
        return self.numbers[key]

    def differing(self, one: str, other: str) -> list[str]:
        """Return the names of the choices in which two conventions differ."""
        before, after = self.options_of(one), self.options_of(other)
        return [name for name in CHOICES if repr(getattr(before, name)) != repr(getattr(after, name))]

    def choices(self, one: str, other: str) -> tuple[Choice, ...]:
        """Return the choices in which two conventions differ, with what each adds."""
        before, after = self.options_of(one), self.options_of(other)
        names = self.differing(one, other)

        def number(changed: Sequence[str]) -> float:
            return self.number(replace(before, **{name: getattr(after, name) for name in changed}))

        return tuple(
            Choice(name, getattr(before, name), getattr(after, name), _share(name, names, number)) for name in names
        )

    def read(self, options: Options) -> Rankings:
        """Return the rankings as some options read them, once for each way of reading."""
        way = tuple(options.reading.values())
        if way not in self.rankings:
            self.rankings[way] = read(*self.inputs, **options.reading)
        return self.rankings[way]


def _share(name: str, names: Sequence[str], number: Callable[[Sequence[str]], float]) -> float:
    """Return the Shapley value of a choice: what changing it adds, averaged over all orders of changing them."""
    others = [each for each in names if each != name]
    return math.fsum(
        (number([*changed, name]) - number(changed)) / (len(names) * math.comb(len(others), size))
        for size in range(len(names))
        for changed in combinations(others, size)
    )


def _with_matches(found: Explanation, scorer: _Scorer, reported: Reported) -> Explanation:
    """Return an explanation with the conventions that have what was reported, or else what else has it."""
    rankings = scorer.read(Options.parse(k=scorer.k, **scorer.options))
    evidence = reported.evidence(rankings)
    given = {name: value for name, value in scorer.options.items() if value is not None}
    if given.pop("ignore_ties", False):
        given["ties"] = "last"
    searched = Searched(scorer.read, given, scorer.cutoff, scorer.weight, evidence)
    matches = tuple(conventions_with(searched))
    score = reported.score
    if math.isnan(score):  # the values of queries were reported, and their mean is what the table compares
        score = mean("nDCG", evidence[0].scores, scorer.weight)
    found = replace(found, got=score, percent=reported.percent, reported=reported.words, matches=matches)
    if matches:
        return replace(found, signature=scorer.signature(matches[0]))
    result = search(searched)
    found = replace(
        found,
        combinations=result.combinations,
        distinct=result.distinct,
        tried=result.tried,
        by_chance=result.by_chance,
        slips=tuple(_slips_with(searched, scorer.inputs, reported.as_given())),
    )
    if result.combinations:
        signature = Options.parse(**result.combinations[0].options).signature(**scorer.given)
        return replace(found, signature=signature)
    if found.slips or result.nearest is None or result.agreeing is None:
        return found
    ids, differing = rankings.names(), ~result.agreeing
    properties = properties_of(rankings, result.nearest.options["k"])
    return replace(
        found,
        nearest=result.nearest,
        disagreeing=tuple(ids[at] for at in np.flatnonzero(differing)),
        in_common=tuple(in_common(properties, differing, "queries", str(result.nearest))),
    )


def _slips_with(searched: Searched, inputs: Inputs, as_given: Sequence[Evidence]) -> Iterator[tuple[str, str]]:
    """Yield the slips that have what was reported, each with a convention.

    Those that an option of `compute` makes are among the combinations of options.

    Args:
        searched: what is searched, and for what.
        inputs: the rankings as they were given.
        as_given: the scores as they were given, if they were read in percent.
    """
    other = searched._replace(evidence=as_given or searched.evidence)
    rankings = searched.read(Options.parse(k=searched.k, **searched.given))
    if len(rankings.relevance) > MOST_DOCUMENTS:
        return
    by_ids = have_ids(inputs) and searched.given.get("ignore_index") is None
    queries = [
        Queries(queries_by_ids(inputs, rankings.names(), k) if by_ids else queries_of(rankings, k))
        for k in searched.named_cutoffs or [searched.k]
    ]
    slips = [slip for slip in SLIPS if not slip.is_option]
    with progress(len(slips), "Trying", " slips") as bar:
        for slip in slips:
            for convention in SLIPS_TRIED_ON:
                try:
                    values = np.array(
                        [slip.scores(each, {"convention": convention, **searched.given}) for each in queries]
                    )
                except ValueError:  # these rankings have no score by it
                    continue
                if searched.has_evidence(values) or other.has_evidence(values):
                    yield slip.name, convention
                    break
            bar.update(1)


def _combination_in_json(combination: Combination) -> dict[str, Any]:
    fields = combination._asdict()
    for name in ("changed", "given"):
        fields[name] = {option: _json_choice(value) for option, value in fields[name].items()}
    return fields


def _json_choice(value: Any) -> Any:
    """Return a value in a type that JSON has."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_json_choice(each) for each in value]
    return (
        value if value is None or (is_real(value) and math.isfinite(value)) or isinstance(value, bool) else str(value)
    )


def _two_conventions(between: Any) -> tuple[str, str]:
    """Return the names of two conventions.

    Raises:
        ValueError: they are not two, or unknown.
    """
    if not isinstance(between, (list, tuple)) or len(between) != 2:
        raise ValueError(f"between must be the names of two conventions; got {shown(between)}")
    one, other = (choice("between", name, tuple(CONVENTIONS)) for name in between)
    return one, other


def _choice_text(name: str, value: Any) -> str:
    """Return a choice as tables show it."""
    return empty_text(value) if name == "zero_division" else str(value)


def _in_json_types(values: NamedTuple) -> dict[str, Any]:
    """Return a named tuple in types that JSON has."""
    fields = values._asdict()
    return {name: each if is_real(each) and math.isfinite(each) else str(each) for name, each in fields.items()}


def _enumerated(names: Sequence[str]) -> str:
    """Return names as a person lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
