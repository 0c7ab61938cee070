"""Find the convention that gives a score: score rankings under all, and explain their differences.

Two libraries differ in a few choices: gain, discount, ideal, ties, queries with no relevant
documents, negative relevance, missing queries. The effect of a choice is its Shapley value: the
change in the score when this choice is changed, averaged over all orders in which the choices could
be changed (Shapley, 1953). So the effects add up to the whole difference, and no effect depends on
which choice is changed first.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, compress
from operator import attrgetter
from typing import Any, Literal, NamedTuple, SupportsIndex, Unpack

import numpy as np

from ..files.paths import from_files
from ..inputs.documents import has_ids
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, read, user_terms
from ..measure.conventions import CHOICES, CONVENTIONS, empty_text
from ..measure.messages import InputError, Message, brief, in_place, mark, marked, shown
from ..measure.options import AGGREGATION_OPTIONS, ExplainOptions, Options, choice, result_name
from ..measure.ties import Floats
from ..scores.doubts import as_note, doubts_about
from ..scores.frames import from_frame
from ..scores.means import mean, weights
from ..scores.progress import tracked
from ..scores.queries import (
    NOTHING_TO_SCORE,
    measure_rankings,
    refuse_missing,
    warn_of_predictions,
)
from ..show.drawing import figure_of
from ..show.json_types import without_nan
from ..show.tables import Readable, Table, number_text
from .combination import Combination
from .evidence import UNLIKELY, Evidence, Tried
from .properties import in_common, properties_of
from .reported import Reported
from .search import Cause, Searched, Setting, SlipSearch, hash_of, least, search, settings_to_try
from .slip_terms import Queries, queries_by_ids, queries_of
from .slips import slip_named

NOT_IN_EXPLAIN = ("measures", "convention", *AGGREGATION_OPTIONS)
MOST_DOCUMENTS = 100_000  # the most for which slips are tried, since these are plain Python
SHOWN_CAUSES = 5  # combinations, slips and queries
DECIDE = "More digits, scores at more cutoffs, or the value of each query would decide."


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


class Verdict(NamedTuple):
    """What reported scores tell about their definition.

    Attributes:
        kind: "conventions" if conventions give them; "cause" if no convention gives them,
            but something else does; "unknown" if chance does as well, or nothing gives them.
        fits: what gives them: conventions, or options and slips; for a cause only the ones with
            the fewest changes of a convention.
        settings: how many of these give different values to some query.
        by_chance: how many settings with so few changes would give the scores by chance; for an
            unknown cause, how many of all settings that were tried.
    """

    kind: Literal["conventions", "cause", "unknown"]
    fits: tuple[Cause, ...]
    settings: int
    by_chance: float


@dataclass(frozen=True)
class Explanation(Readable):
    """The score of rankings under every convention, and why two of these scores differ.

    Attributes:
        signature: the signature of the first convention or combination that `answer` names, else
            of the second in `between`; without a reported score, of the first convention that has
            a score. Empty if nothing is named, or only a slip is.
        measure: the name of the result, such as ``"nDCG@10"``.
        scores: the scores under conventions, by their names; None if it has none.
        errors: why a convention has no score, by its name.
        got: the reported score, if one was given.
        percent: whether it was given in percent.
        answer: what the reported scores tell of their definition.
        matches: the conventions that give this score, to its digits.
        reported: the reported scores, in words.
        combinations: options that give them, if no convention does, the fewest changes first.
        tried: the number of combinations that were tried.
        distinct: how many of the matching combinations give different values to some query.
        by_chance: how many of all settings that were tried would match by chance.
        slips: known slips that give them, if no convention does, and the options that they are on.
        nearest: the combination that gives most of the values of queries, if nothing gives all.
        disagreeing: the queries with another value under the nearest combination.
        in_common: the common trait of these queries, in words.
        between: the two conventions with the difference that `choices` explain; the second "with a
            slip" if a slip is named as the cause.
        choices: the options in which they differ, and the slip; their effects add up to it.
        notes: sentences with further facts for the reader.
    """

    signature: str
    measure: str
    scores: dict[str, float | None]
    errors: dict[str, str]
    got: float | None = None
    percent: bool = False
    answer: Verdict | None = None
    matches: tuple[str, ...] = ()
    reported: str = ""
    combinations: tuple[Combination, ...] = ()
    tried: int = 0
    distinct: int = 0
    by_chance: float = 0.0
    slips: tuple[tuple[str, str], ...] = ()
    nearest: Combination | None = None
    disagreeing: tuple[Any, ...] = ()
    in_common: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

    def _tables(self) -> list[Table]:
        header = ["conventions", self.measure]
        if self.got is not None:
            header += ["difference from yours", ""]
        # Conventions with the same values share a row.
        names_by_cells: dict[tuple[str, ...], list[str]] = {}
        for name, score in self._nearest_first():
            values = [number_text(score)]
            if self.got is not None:
                match = "match" if name in self.matches else ""
                values += [number_text(score - self.got, sign="+"), match]
            names_by_cells.setdefault(tuple(values), []).append(name)
        table = [header]
        table += [[", ".join(names), *cells] for cells, names in names_by_cells.items()]
        if self.between is None:
            return [table]
        rows = [["choice", *self.between, "effect"]]
        total = 0.0
        for name, before, after, effect in self.choices:
            text = empty_text if name == "zero_division" else str
            rows.append([name, text(before), text(after), number_text(effect, sign="+")])
            total += effect
        rows.append(["total", "", "", number_text(total, sign="+")])
        return [table, rows]

    def _remarks(self) -> list[str]:
        return list(map(Message, self._sentences()))

    def _sentences(self) -> Iterator[str]:
        if self.answer is not None:
            yield from self._conclusion(self.answer)
        if self.nearest is not None:
            queries = brief(map(str, self.disagreeing), ", ")
            yield (
                f"The nearest combination is {marked(self.nearest)}. "
                f"Queries that differ from it: {len(self.disagreeing):,} ({queries})."
            )
        yield from self.in_common
        if self.percent and self.got is not None:
            yield f"Your score was read as a percentage: {100 * self.got:g}% is {self.got:g}."
        yield from self.notes
        conventions: dict[str, list[str]] = {}
        for name, error in self.errors.items():
            conventions.setdefault(error, []).append(name)
        for error, names in conventions.items():
            yield f"No score under {', '.join(names)}: {marked(error)}."

    def _conclusion(self, answer: Verdict) -> Iterator[str]:
        names = ", ".join(fit.definition for fit in answer.fits)
        by_chance = f"{answer.by_chance:,.2f}"
        if answer.kind == "conventions":
            yield f"{names} {_verb('give', len(answer.fits))} {self.reported}."
        elif answer.kind == "cause":
            yield from self._ways(answer, "gives")
            yield f"Chance alone gives {by_chance} settings with so few changes."
            if answer.settings > 1:
                yield f"{answer.settings:,} of these have different values for some query. {DECIDE}"
            elif len(answer.fits) > 1:
                yield "These give every query the same value, so queries do not distinguish them."
        elif answer.fits:
            fits = "1 setting fits" if answer.settings == 1 else f"{answer.settings:,} settings fit"
            if self.matches:
                fits = f"{names} {_verb('fit', len(self.matches))}"
            told = f"It cannot be told what gives {self.reported}"
            yield f"{told}: {fits}, and chance alone gives {by_chance}."
            yield DECIDE
            if not self.matches:
                yield from self._ways(answer, "would give")
        else:
            nearest = ""
            if self.nearest is None:
                name, number = self._nearest_first()[0]
                nearest = f"; the nearest is {name}, {number_text(number)}"
            yield f"No convention gives {self.reported}{nearest}."
            yield f"None of {self.tried:,} combinations of options gives it."
            yield "Were other queries or documents scored, weighted or excluded?"

    def _ways(self, answer: Verdict, gives: str) -> Iterator[str]:
        what = self.reported
        for fit in answer.fits[:SHOWN_CAUSES]:
            call, flags = fit.combination.call, fit.combination.flags
            options = mark("options", call, flags, said=f"{call}; in the shell {flags}")
            details = f": {fit.slip}" if fit.slip else f" ({options})"
            yield f"{marked(fit.definition)} {gives} {what}{details}."
            what = "it"

    def _nearest_first(self) -> list[tuple[str, float]]:
        """Return the conventions by distance from the reported score, the matches first."""
        known = [(name, score) for name, score in self.scores.items() if score is not None]
        got = self.got
        if got is None:
            return sorted(known, key=lambda item: item[1])
        return sorted(known, key=lambda item: (item[0] not in self.matches, abs(item[1] - got)))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation in JSON types; others, such as nan, become strings."""
        values: dict[str, Any] = without_nan(vars(self), str)
        return values

    def plot(self) -> Any:
        """Return a Matplotlib figure: a dot for every convention's score, filled if it is yours."""
        scores = dict(sorted(self._nearest_first(), key=lambda item: item[1]))
        figure, (axes,) = figure_of(1, 1.2 + 0.24 * len(scores), 7.0)
        for row, (name, number) in enumerate(scores.items()):
            inside = "C0" if name in self.matches else axes.get_facecolor()
            axes.plot(number, row, "o", color="C0", markerfacecolor=inside)
        axes.set_yticks(range(len(scores)), list(scores))
        axes.grid(axis="x", alpha=0.3)
        label = self.measure
        if self.got is not None:
            axes.axvline(self.got, color="gray", linewidth=1)
            label += f"; line: your score, {self.got:g}; filled: the same to its digits"
        axes.set_xlabel(label)
        return figure


def _verb(verb: str, subjects: int) -> str:
    """Return a verb in the singular or in the plural."""
    return f"{verb}s" if subjects == 1 else verb


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
    """Find the conventions that give a score, and show which options matter.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        got: the nDCG to find, from 0 to 1 or in percent. Its digits decide how close a match must
            be, so pass "0.5920" as a string to keep the last 0. Or scores at several cutoffs,
            `{"nDCG@5": 0.31, "nDCG@10": 0.283}`; or the value of each query, in order, by id, as
            `{query: {measure: value}}`, or in a file, such as the output of trec_eval -q or
            ndcg score -q.
        k: the cutoff; by default that of `got` if it has one, else the whole list.
        between: two conventions; explain the difference between them. By default scikit-learn's
            (or the first one that has a score) and the one that gives the reported score, or else
            the first slip that does.
        sample_weight: one weight per query for the mean, in the order of the references or as
            `{query: weight}`.
        query_ids: the query id of each row, for flat predictions and references.
        document_ids: the document id of each row, with `query_ids`.
        data: a DataFrame; then the arguments above may be names of its columns.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        fields: as in `compute`.
        **options: options of `compute` that are known of the score; they apply under every
            convention.

    Raises:
        ValueError: as in `compute`, for an error under every convention; `got` is not a score;
            `between` has an unknown convention, or one without a score.

    >>> scores, relevance = [[.5, .5, .2], [.9, .8, .7]], [[1, 0, 0], [0, 0, 0]]
    >>> explanation = explain(predictions=scores, references=relevance, got=0.9077)
    >>> explanation.matches, str(explanation.combinations[0])
    ((), 'sklearn, but zero_division=1.0')
    """
    cutoff, *others = Options.parse(k=k).cutoffs
    if others:
        raise InputError(f"{mark('k')} must be one cutoff, since a score has one; got {shown(k)}")
    reported = None
    if got is not None:
        reported = Reported.read(got, cutoff)
        cutoff = reported.k
    pair: tuple[str, ...] = ()
    if between is not None:
        if not isinstance(between, (list, tuple)) or len(between) != 2:
            names = "the names of two conventions"
            raise InputError(f"{mark('between')} must be {names}; got {shown(between)}")
        pair = tuple(choice("between", name, tuple(CONVENTIONS)) for name in between)
    parsed = Options.for_method(explain, cutoff, options, lacks=NOT_IN_EXPLAIN)
    inputs = from_frame(
        data,
        Inputs(
            predictions, references, query_ids, document_ids, exclude, sample_weight, fields=fields
        ),
    )
    scorer = Scorer(from_files(inputs, **parsed.sides).settled(**parsed.sides), cutoff, options)
    doubts = list(doubts_about(scorer.rankings, parsed))
    for doubt in doubts:
        warn_of_predictions(doubt)
    return explained(scorer, reported, pair, tuple(map(as_note, doubts)))


def explained(
    scorer: "Scorer",
    reported: Reported | None,
    pair: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Explanation:
    """Explain reported scores of rankings, and the difference between two conventions."""
    k: Any = scorer.k
    if reported is not None and len(reported.cutoffs) > 1:
        k = reported.cutoffs
    scores, errors, values = _scores_of_conventions(scorer, k)
    for name in pair:
        if name in errors:
            raise InputError(marked(errors[name]), "between", f"{name} has no score")
    first = next(iter(values))
    start = scorer.options_of(first)
    measure = result_name("nDCG", scorer.k)
    explanation = Explanation(scorer.signature(start), measure, scores, errors, notes=notes)
    cause = None
    if reported is not None:
        explanation, cause = _with_answer(explanation, scorer, reported, start, values)
    if pair:
        return _between_conventions(explanation, scorer, *pair)
    if cause is not None:
        return _up_to_cause(explanation, scorer, first, cause)
    return explanation


def _between_conventions(
    explanation: Explanation, scorer: "Scorer", first: str, second: str
) -> Explanation:
    """Return an explanation with the choices in which two conventions differ."""
    if first == second:
        return explanation
    start, end = scorer.options_of(first), scorer.options_of(second)
    # Such as ties by id among scores in 32 bits.
    mixture = f"some options of {first} with others of {second} have no score"
    with in_place("between", mixture):
        choices = scorer.choices(start, end)
    if not explanation.matches:
        explanation = replace(explanation, signature=scorer.signature(end))
    return replace(explanation, between=(first, second), choices=choices)


def _up_to_cause(
    explanation: Explanation, scorer: "Scorer", first: str, cause: Cause
) -> Explanation:
    """Return an explanation with the choices in which a convention differs from a cause."""
    second = str(cause.combination)
    if cause.slip:
        second += " with a slip"
    if second == first:
        return explanation
    start = scorer.options_of(first)
    end = scorer.options_of(cause.combination.convention, **cause.combination.changed)
    # A mixture of their options may have no score, which is no error here.
    with suppress(ValueError):
        choices = scorer.choices(start, end, cause.slip)
        return replace(explanation, between=(first, second), choices=choices)
    return explanation


def _scores_of_conventions(
    scorer: "Scorer", k: Any
) -> tuple[dict[str, float | None], dict[str, str], dict[str, Floats]]:
    """Return the scores at the first cutoff, the errors, and the values of queries at all."""
    scores: dict[str, float | None] = dict.fromkeys(CONVENTIONS)
    errors: dict[str, str] = {}
    values: dict[str, Floats] = {}
    for name in tracked(list(CONVENTIONS), "Scoring", " conventions"):
        try:
            at_cutoffs = scorer.values_by_query(scorer.options_of(name, k=k))
            scores[name] = mean("nDCG", at_cutoffs[0], scorer.weight)
        except ValueError as error:
            errors[name] = Message(marked(error))
        else:
            values[name] = at_cutoffs
    if not values:
        raise InputError(marked(next(iter(errors.values()))))
    return scores, errors, values


class Scorer:
    """Score the same rankings under different options, and read them only once."""

    def __init__(self, inputs: Inputs, k: int | None, options: Mapping[str, Any]) -> None:
        self.inputs = inputs
        self.k = k
        self.options = options
        self.known = {name: value for name, value in options.items() if value is not None}
        if self.known.pop("ignore_ties", False):
            self.known["ties"] = "last"
        self._read: dict[tuple[Any, ...], Rankings] = {}
        self.queries_at = cache(self._queries_at)
        parsed = Options.parse(k=k, **options)
        self.rankings = self.read(parsed)
        if not self.rankings.queries:
            raise ValueError(NOTHING_TO_SCORE)
        self.weight: Floats | None = weights(
            inputs.sample_weight, self.rankings.queries, self.rankings.query_ids
        )

        # Rankings are in descending order in any case.
        self.known_for_slips = dict(self.known)
        self.known_for_slips.pop("score_order", None)
        if parsed.labels is not None:  # the relevances in rankings are the gains of labels
            self.known_for_slips |= parsed.gains
        # Ids have the values of the input, before these options change them.
        self._slips_by_ids = (
            parsed.score_order == "descending"
            and parsed.labels is None
            and has_ids(inputs.predictions)
            and has_ids(inputs.references)
            and inputs.exclude is None
            and self.known.get("ignore_index") is None
        )

    def _queries_at(self, k: int | None) -> Queries:
        """Return the queries that slips can change, with a cutoff."""
        if self._slips_by_ids:
            return Queries(queries_by_ids(self.inputs, self.rankings.names(), k))
        return Queries(queries_of(self.rankings, k))

    def signature(self, options: Options) -> str:
        """Return the signature of options, with these weights and excluded documents."""
        weighted = self.inputs.sample_weight is not None
        return options.signature(weighted=weighted, excluding=self.inputs.exclude is not None)

    def options_of(self, convention: str, **changed: Any) -> Options:
        """Return the options of a convention, overridden by the caller's and by changes."""
        return Options.parse(**{"k": self.k, "convention": convention, **self.options, **changed})

    def values_by_query(self, options: Options) -> Floats:
        """Return the nDCG of every query under some options, with a row for every cutoff."""
        rankings = self.read(options)
        refuse_missing(rankings, options)
        with user_terms(rankings):
            return measure_rankings(rankings, options)["nDCG"]

    def settings(self, searched: Searched) -> Iterable[Setting]:
        """Return the settings that a search tries."""
        return settings_to_try(searched)

    def choices(self, before: Options, after: Options, slip: str = "") -> tuple[Choice, ...]:
        """Return the choices in which two conventions differ, the slip among them."""
        values = _differing(before, after)
        if slip:
            values["slip"] = ("none", slip)

        @cache
        def score(changed: frozenset[str]) -> float:
            new_values = {name: values[name][1] for name in changed - {"slip"}}
            options = replace(before, **new_values)
            if "slip" in changed:
                chosen = {**self.known_for_slips, **_chosen(options), **options.gains}
                values_by_query = slip_named(slip).scores(self.queries_at(self.k), chosen)
            else:
                values_by_query = self.values_by_query(options)[0]
            return mean("nDCG", values_by_query, self.weight)

        choices = []
        for name, both in values.items():
            choices.append(Choice(name, *both, _shapley_value(name, list(values), score)))
        return tuple(choices)

    def read(self, options: Options) -> Rankings:
        """Return the rankings as some options read them, which is done once."""
        key = tuple(options.reading.values())
        if key not in self._read:
            self._read[key] = read(**self.inputs.rankings, **options.reading)
        return self._read[key]


def _chosen(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in CHOICES}


def _differing(before: Options, after: Options) -> dict[str, tuple[Any, Any]]:
    """Return both values of the choices that differ."""
    one, other = _chosen(before), _chosen(after)
    return {name: (one[name], other[name]) for name in one if repr(one[name]) != repr(other[name])}


def _shapley_value(
    name: str, names: Sequence[str], score: Callable[[frozenset[str]], float]
) -> float:
    """Return the Shapley value of a choice: its effect, averaged over all orders of changes."""
    others = set(names) - {name}
    effects = []
    for size in range(len(names)):
        # In as many of all orders, exactly these others are changed before it.
        orders = len(names) * math.comb(len(others), size)
        for changed in map(frozenset, combinations(others, size)):
            effects.append((score(changed | {name}) - score(changed)) / orders)
    return math.fsum(effects)


def _with_answer(
    explanation: Explanation,
    scorer: Scorer,
    reported: Reported,
    start: Options,
    values: Mapping[str, Floats],
) -> tuple[Explanation, Cause | None]:
    """Return an explanation with what gives the scores, and the cause of a difference to explain.

    That is a slip, or of the conventions that are named the one that differs in the fewest choices.
    Options already say in what they differ.
    """
    evidence = reported.evidence(scorer.rankings)
    searched = Searched(scorer.read, scorer.known, scorer.k, scorer.weight, evidence)
    score = float(evidence.scores[0])
    if evidence.by_query:
        # The table compares their mean.
        if np.isnan(evidence.scores).all():
            raise InputError("no query has a value; give that of at least one", "got")
        score = mean("nDCG", evidence.scores, scorer.weight)
    explanation = replace(
        explanation,
        signature="",
        got=score,
        percent=reported.percent,
        reported=reported.words,
    )
    tried = Tried()
    conventions: list[Cause] = []
    for name, by_query in values.items():
        scores = searched.scores_of(by_query)
        tried.add(scores, np.zeros(len(scores), np.int64))
        if evidence.matching(by_query, scores).all():
            conventions.append(Cause(Combination(name, {}, math.nan), hash_of(by_query)))
    if not conventions:
        return _with_causes(explanation, scorer, reported, searched)
    answer = _verdict("conventions", conventions, [tried], evidence)
    matches = tuple(cause.combination.convention for cause in conventions)
    explanation = replace(
        explanation, matches=matches, by_chance=_by_chance([tried], evidence), answer=answer
    )
    if answer.kind == "unknown":
        return explanation, None

    def differences(cause: Cause) -> int:
        return len(_differing(start, scorer.options_of(cause.combination.convention)))

    signature = scorer.signature(scorer.options_of(matches[0]))
    return replace(explanation, signature=signature), min(conventions, key=differences)


def _with_causes(
    explanation: Explanation, scorer: Scorer, reported: Reported, searched: Searched
) -> tuple[Explanation, Cause | None]:
    matches = search(searched, scorer.settings(searched))
    evidence = searched.evidence
    as_given = reported.as_given()
    searched = searched._replace(given=scorer.known_for_slips)
    evidence_as_given = as_given.evidence(scorer.rankings)
    slips: list[Cause] = []
    tried_slips = Tried()
    if len(scorer.rankings.relevance) <= MOST_DOCUMENTS:
        queries = list(map(scorer.queries_at, searched.cutoffs))
        slips = SlipSearch(searched, evidence_as_given, queries, tried_slips).causes()
    if not matches.causes and slips and all(cause.as_given for cause in slips):
        evidence = evidence_as_given
        explanation = replace(
            explanation, got=float(evidence.scores[0]), percent=False, reported=as_given.words
        )
    tried = [matches.tried, tried_slips]
    # Of causes with as many changes, combinations come first.
    causes = sorted([*matches.causes, *slips], key=lambda cause: cause.changes)
    answer = _verdict("cause", causes, tried, evidence)
    explanation = replace(
        explanation,
        combinations=tuple(cause.combination for cause in matches.causes),
        distinct=_distinct(matches.causes),
        tried=len(matches.tried),
        by_chance=_by_chance(tried, evidence),
        slips=tuple((cause.slip, Message(marked(cause.combination))) for cause in slips),
        answer=answer,
    )
    nearest = matches.nearest
    if nearest is not None and not causes:
        differing = ~matches.agreeing
        properties = properties_of(scorer.rankings, nearest.options["k"])
        common = in_common(properties, differing, evidence.scores, marked(nearest))
        explanation = replace(
            explanation,
            nearest=nearest,
            disagreeing=tuple(compress(scorer.rankings.names(), differing)),
            in_common=tuple(map(Message, common)),
        )
    if answer.kind == "unknown":
        return explanation, None
    first = causes[0]
    if first.slip:
        return explanation, first
    options = Options.parse(**first.combination.options)
    return replace(explanation, signature=scorer.signature(options)), None


def _by_chance(tried: Sequence[Tried], evidence: Evidence, most: float = math.inf) -> float:
    return sum(settings.by_chance(evidence, most) for settings in tried)


def _verdict(
    kind: Literal["conventions", "cause"],
    causes: Sequence[Cause],
    tried: Sequence[Tried],
    evidence: Evidence,
) -> Verdict:
    by_chance = _by_chance(tried, evidence)
    if not causes:
        return Verdict("unknown", (), 0, by_chance)
    fewest = causes[0].changes
    expected = _by_chance(tried, evidence, fewest)
    is_told = expected <= UNLIKELY
    if not is_told:
        return Verdict("unknown", tuple(causes), _distinct(causes), by_chance)
    causes = least(causes, attrgetter("changes"))
    return Verdict(kind, tuple(causes), _distinct(causes), expected)


def _distinct(causes: Sequence[Cause]) -> int:
    """Return how many of the causes give different values to some query."""
    return len({cause.values for cause in causes})
