"""Search for options and slips that give reported scores, for papers with custom code.

Rankings are read once for every set of options that changes how they are read. DCG and ideal DCG
are summed once for every choice that they depend on, at all cutoffs together. Options that change
only the mean are applied to the values of the queries.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from itertools import chain, product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..measure.arguments import DISCOUNTS, OPTIONS, PERFECT_IF_EMPTY
from ..measure.conventions import CONVENTIONS
from ..measure.messages import Message, marked
from ..measure.options import Options
from ..measure.scoring import discounts, measure_queries, ratio, sign
from ..measure.ties import Floats, Mask
from ..scores.progress import tracked
from .combination import Combination
from .evidence import Evidence, Tried, means_of
from .properties import properties_of
from .slip_terms import NO_SLIP, Queries, Slip
from .slips import NOT_OPTIONS

_T = TypeVar("_T")
SLIPS_TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")
USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)
SHORT_RANKING = 10  # every cutoff is tried if no ranking has more documents than this
# The options that the ideal DCG depends on, beside the ideal and the options of reading.
OPTIONS_OF_IDEAL = ("gain", "discount", "negative_relevance")
# The options that are searched, with their values. If values cannot differ on some rankings, only
# the first is tried.
VALUES: dict[str, Sequence[Any]] = {
    "gain": tuple(OPTIONS["gain"].words),
    "discount": tuple(OPTIONS["discount"].words),
    "ideal": tuple(OPTIONS["ideal"].words),
    "score_dtype": tuple(OPTIONS["score_dtype"].words),
    "ties": tuple(OPTIONS["ties"].words),
    "zero_division": (0.0, 1.0, math.nan, PERFECT_IF_EMPTY),
    "negative_relevance": ("clip", "keep"),
    "judged_only": (False, True),
    "missing": ("empty", "skip"),
}


class Searched(NamedTuple):
    """The rankings, the known options and the evidence of a search."""

    read: Callable[[Options], Rankings]  # returns the rankings under some options
    given: Mapping[str, Any]  # the options that are known
    k: int | None  # the cutoff of the caller
    weight: Floats | None  # the weight of every query
    evidence: Evidence  # the reported scores; a setting must match all of them

    @property
    def cutoffs(self) -> Sequence[int | None]:
        """The cutoffs of the reported scores, or that of the caller."""
        return self.evidence.cutoffs or [self.k]

    def options(self, **chosen: Any) -> Options:
        """Return the known options with others, which replace known ones of the same name."""
        return Options.parse(**{**self.given, **chosen})

    def values_of(self, name: str, *, matters: bool = True) -> Sequence[Any]:
        """Return the values of an option to try: one is enough if the option does not matter."""
        values = (self.given[name],) if name in self.given else VALUES[name]
        return values if matters else values[:1]

    def scores_of(self, values: Floats) -> Floats:
        """Return the means to compare with the evidence: a row a setting, a column a mean."""
        return self.evidence.scores_of(values, self.weight)


class Cause(NamedTuple):
    """What gives the reported scores.

    Attributes:
        combination: a convention, and the options that differ from it.
        values: a hash of the values of queries, the same for causes that give them the same.
        slip: the name of a slip on it; empty without one.
        as_given: whether it gives the scores only if they are no percentages.
    """

    combination: Combination
    values: str
    slip: str = ""
    as_given: bool = False

    @property
    def definition(self) -> str:
        """The cause in words."""
        if self.slip:
            return Message(f"{marked(self.combination)} with a slip")
        return Message(marked(self.combination))

    @property
    def changes(self) -> int:
        """In how many ways it differs from a convention."""
        return len(self.combination.changed) + bool(self.slip)


def least(items: Sequence[_T], size: Callable[[_T], int]) -> list[_T]:
    """Return the items of the least size, in their order."""
    smallest = min(map(size, items), default=0)
    return [item for item in items if size(item) == smallest]


def hash_of(values: Floats) -> str:
    """Return a hash of the values of queries, which rounding errors do not change."""
    return blake2b((values.round(9) + 0.0).tobytes(), digest_size=8).hexdigest()


class Setting(NamedTuple):
    """Options, and the values of queries under them at one or several cutoffs."""

    chosen: dict[str, Any]  # the options that may change a value
    cutoffs: Sequence[int | None]  # the cutoff of every row of values
    values: Floats  # of every query at every cutoff; nan for a query that does not count
    scores: Floats  # the means to compare with the evidence
    changes: NDArray[np.int64]  # for every row of scores, how many options differ from a convention


def settings_to_try(searched: Searched) -> Iterator[Setting]:
    """Yield the settings of the unknown options, but only one of settings that cannot differ here.

    They do not depend on the reported scores, except for their cutoffs.
    """
    readings = _readings(searched)
    if not readings:
        return
    # The others have these documents, or only the judged ones among them.
    longest = int(np.diff(readings[0].rankings.offsets).max())
    cutoffs = {ideal: _cutoffs(searched, ideal, longest) for ideal in searched.values_of("ideal")}
    choices = [
        (reading, choice) for reading in readings for choice in product(*reading.grid.values())
    ]
    for reading, choice in tracked(choices, "Searching", " options"):
        yield from _scored_choice(searched, reading, choice, cutoffs)


class _Reading(NamedTuple):
    """The rankings as some options read them."""

    chosen: dict[str, Any]  # the options that read them
    matter: set[str]  # the unknown options that may change the nDCG of a query
    grid: dict[str, Sequence[Any]]  # the values to try of `OPTIONS_OF_IDEAL`
    ties: Sequence[Any]  # the orders of ties to try
    rankings: Rankings


def _readings(searched: Searched) -> list[_Reading]:
    # `judged_only` only removes documents, and 32 bits only add ties. So options that leave as many
    # of both read the same, and those that come first are enough.
    same: dict[tuple[int, int], list[tuple[dict[str, Any], Rankings]]] = {}
    names = ("judged_only", "score_dtype")
    for values in product(*map(searched.values_of, names)):
        chosen = dict(zip(names, values, strict=True))
        try:
            rankings = searched.read(searched.options(k=1, **chosen))
        except ValueError:  # the results of the conventions show the error
            continue
        retrieved = int(rankings.counts()["retrieved"].sum())
        ties = len(rankings.queries_of_ties())
        same.setdefault((retrieved, ties), []).append((chosen, rankings))
    readings = []
    for (_, ties), alike in same.items():
        chosen, rankings = alike[0]
        matter = VALUES.keys() - searched.given.keys()
        if len({other["score_dtype"] for other, _ in alike}) > 1:
            matter.discard("score_dtype")
        if not ties:
            matter.discard("ties")
        if not properties_of(rankings, None)["a negative relevance"].any():
            matter.discard("negative_relevance")
        grid = {name: searched.values_of(name, matters=name in matter) for name in OPTIONS_OF_IDEAL}
        orders = searched.values_of("ties", matters="ties" in matter)
        readings.append(_Reading(chosen, matter, grid, orders, rankings))
    return readings


def _scored_choice(
    searched: Searched,
    reading: _Reading,
    choice: Sequence[Any],
    cutoffs: Mapping[str, Sequence[int | None]],
) -> Iterator[Setting]:
    """Yield the settings of a choice of the options of the ideal DCG, at the cutoffs of the ideals.

    The DCG does not depend on the ideal, and the ideal DCG not on ties, so both are summed once.
    """
    chosen = {**reading.chosen, **dict(zip(OPTIONS_OF_IDEAL, choice, strict=True))}
    ideals = {
        ideal: _sums_at(searched, {**chosen, "ideal": ideal}, "IDCG", ideal_cutoffs)
        for ideal, ideal_cutoffs in cutoffs.items()
    }
    # Some discounts do not allow some bases of the logarithm.
    if not any(ideals.values()):
        return
    perfect_if_empty = {"ideal": "truncated", "zero_division": PERFECT_IF_EMPTY}
    options = searched.options(k=1, **{**chosen, **perfect_if_empty})
    rankings = searched.read(options)
    perfect = measure_queries(**rankings.arrays(), **options.scoring)["nDCG"][0] == 1
    perfect &= rankings.counts()["retrieved"] == 0
    turned = sign(discounts(1, options.log_base, options.discount))
    all_cutoffs = list(dict.fromkeys(chain.from_iterable(cutoffs.values())))
    for ties in reading.ties:
        dcg = _sums_at(searched, {**chosen, "ties": ties}, "DCG", all_cutoffs)
        for ideal, idcg in ideals.items():
            known = [cutoff for cutoff in idcg if cutoff in dcg]
            if not known or not set(known).issuperset(searched.evidence.cutoffs):
                # All reported scores must match.
                continue
            above = np.stack(list(map(dcg.__getitem__, known)))
            below = np.stack(list(map(idcg.__getitem__, known)))
            with np.errstate(divide="ignore", invalid="ignore"):
                values = ratio(above, below, negative=True, sign=turned, zero_division=np.nan)
            options_of_values = {**chosen, "ideal": ideal, "ties": ties}
            yield from _averaged(searched, reading, options_of_values, known, values, perfect)


def _sums_at(
    searched: Searched, chosen: Mapping[str, Any], measure: str, cutoffs: Sequence[int | None]
) -> dict[int | None, Floats]:
    """Return the DCG or the ideal DCG of every query, at every cutoff that has one."""
    try:
        options = searched.options(measures=measure, k=list(cutoffs), **chosen)
        rankings = searched.read(options)
        sums = measure_queries(**rankings.arrays(), **options.scoring)[measure]
    except ValueError:  # the results of the conventions show the error
        known: dict[int | None, Floats] = {}
        if len(cutoffs) > 1:
            for cutoff in cutoffs:
                known |= _sums_at(searched, chosen, measure, [cutoff])
        return known
    return dict(zip(cutoffs, sums, strict=True))


def _averaged(
    searched: Searched,
    reading: _Reading,
    chosen: Mapping[str, Any],
    cutoffs: Sequence[int | None],
    values: Floats,
    perfect: Mask,
) -> Iterator[Setting]:
    """Yield the settings that count empty and missing queries, which have no value yet."""
    empty = np.isnan(values)
    skipped = reading.rankings.lacking()  # by `missing="skip"`
    ways_of_missing = searched.values_of("missing", matters=bool(skipped.any()))
    for missing in ways_of_missing:
        dropped = skipped & (missing == "skip")
        filled = empty & ~dropped
        for zero in searched.values_of("zero_division", matters=bool(filled.any())):
            value_if_empty: Any = zero
            if zero == PERFECT_IF_EMPTY:
                value_if_empty = perfect.astype(np.float64)
            averaged = np.where(empty, value_if_empty, values)
            # Skipped queries may have no value in any case.
            missing_matters = not np.isnan(averaged[:, skipped]).all()
            if not missing_matters and missing != ways_of_missing[0]:
                # The first way has given the same.
                continue
            options = dict(chosen)
            if filled.any():
                options["zero_division"] = zero
            if missing_matters:
                options["missing"] = missing
            options = {name: value for name, value in options.items() if name in reading.matter}
            averaged[:, dropped] = np.nan
            scores = searched.scores_of(averaged)
            changes = np.full(len(scores), changes_of(options).min())
            if not searched.evidence.cutoffs:
                # Another cutoff than the one that was asked for is a change too.
                changes += [cutoff != searched.k for cutoff in cutoffs]
            yield Setting(options, cutoffs, averaged, scores, changes)


class Matches(NamedTuple):
    """The combinations that match, and the scores of all that were tried."""

    causes: list[Cause]  # the fewest changes first
    tried: Tried
    nearest: Combination | None  # gives most of the reported values of queries, if there are some
    agreeing: Mask  # the queries that agree with it


def search(searched: Searched, settings: Iterable[Setting]) -> Matches:
    """Compare the values of queries under settings, or their means, with the evidence."""
    evidence = searched.evidence
    causes = []
    tried = Tried()
    nearest = None
    agreeing: Mask = np.zeros(0, bool)
    most = -1
    for setting in settings:
        values = setting.values
        tried.add(setting.scores, setting.changes)
        if evidence.by_query:
            near = evidence.near(values)
            counts = near.sum(axis=1)
            row = int(counts.argmax())
            if counts[row] > most:
                most = counts[row]
                agreeing = near[row]
                nearest = _combination(searched, setting, row, values[[row]])
        for row in np.flatnonzero(evidence.matching(values, setting.scores)).tolist():
            # If the cutoffs are known, all rows of a setting belong to one match.
            matching_values = values if evidence.cutoffs else values[[row]]
            combination = _combination(searched, setting, row, matching_values)
            causes.append(Cause(combination, hash_of(matching_values)))
    order = list(CONVENTIONS)
    causes.sort(key=lambda cause: (cause.changes, order.index(cause.combination.convention)))
    return Matches(causes, tried, nearest, agreeing)


def _combination(searched: Searched, setting: Setting, row: int, values: Floats) -> Combination:
    """Return a combination as changes of the convention that differs in the fewest options."""
    convention = list(CONVENTIONS)[int(changes_of(setting.chosen).argmin())]
    usual = usual_options(convention)
    chosen = setting.chosen.items()
    changed = {name: value for name, value in chosen if repr(value) != repr(usual[name])}
    k: Any = searched.evidence.cutoffs
    if len(k) <= 1:
        k = setting.cutoffs[row]
        if k not in searched.cutoffs:
            changed["k"] = k
    score = float(means_of(values, searched.weight)[0])
    return Combination(convention, changed, score, {**searched.given, "k": k})


def usual_options(convention: str) -> dict[str, Any]:
    """Return the options of a convention that are searched."""
    return {**CONVENTIONS[convention].options, "judged_only": False}


@cache
def _differing(name: str, value: str) -> NDArray[np.int64]:
    """Return for every convention 1 if an option has another value there, else 0."""
    # Text is equal for nan too.
    differs = [repr(usual_options(convention)[name]) != value for convention in CONVENTIONS]
    return np.array(differs, np.int64)


def changes_of(chosen: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return in how many of these options the conventions differ."""
    differing = (_differing(name, repr(value)) for name, value in chosen.items())
    return sum(differing, start=np.zeros(len(CONVENTIONS), np.int64))


def _cutoffs(searched: Searched, ideal: str, longest: int) -> Sequence[int | None]:
    """Return the cutoffs to try with an ideal: the reported ones, else those that may differ."""

    def has_ideal(cutoff: int | None) -> bool:
        try:
            searched.options(k=cutoff, ideal=ideal)
        except ValueError:  # a cutoff of 0; a full ideal needs one that is not too large
            return False
        return True

    reported = searched.evidence.cutoffs
    if reported:
        return list(filter(has_ideal, reported))
    k = searched.k
    candidates: list[int | None] = [k, *USUAL_CUTOFFS]
    if k is not None:
        candidates[1:1] = [k + 1, k - 1]
    if longest <= SHORT_RANKING:
        candidates += range(1, SHORT_RANKING + 1)
    cutoffs = list(filter(has_ideal, dict.fromkeys(candidates)))
    if ideal == "full":
        return cutoffs
    # All cutoffs that no ranking reaches count the same ranks, except for a full ideal.
    by_ranks: dict[int, int | None] = {}
    for cutoff in cutoffs:
        by_ranks.setdefault(min(cutoff or longest, longest), cutoff)
    return list(by_ranks.values())


# Slips


class SlipSearch(NamedTuple):
    """A search for slips that give the reported scores, on the nDCG of a few libraries."""

    searched: Searched
    as_given: Evidence  # the scores before they were read as percentages
    queries: Sequence[Queries]  # at every cutoff
    tried: Tried  # gets the scores of all slips

    def causes(self) -> list[Cause]:
        """Return the slips that give the reported scores, except slips that equal an option."""
        changed = {}
        evidence = self.searched.evidence
        missing = np.array([query.missing for query in self.queries[0].changed(())], bool)
        if "missing" not in self.searched.given and evidence.leaves_out(missing):
            changed["missing"] = "skip"
        causes = list(self._matching(changed))
        # A single score would match many slips with other discounts by chance.
        if not (causes or evidence.is_single or "discount" in self.searched.given):
            for discount in DISCOUNTS:
                causes += self._matching({**changed, "discount": discount})
        return sorted(causes, key=lambda cause: cause.changes)

    def _matching(self, changed: Mapping[str, Any]) -> Iterator[Cause]:
        """Yield the slips that give the scores, on the convention that needs least changes."""
        usual = {
            repr(combination): hash_of(values)
            for combination, values in self._values(NO_SLIP, changed)
        }
        for slip in tracked(NOT_OPTIONS, "Trying", " slips"):
            causes = []
            for combination, values in self._values(slip, changed):
                hashed = hash_of(values)
                if hashed == usual.get(repr(combination)):
                    continue  # the slip changes nothing
                scores = self.searched.scores_of(values)
                self.tried.add(scores, np.full(len(scores), 1 + len(combination.changed)))
                matches = bool(self.searched.evidence.matching(values, scores).all())
                if matches or self.as_given.matching(values, scores).all():
                    cause = Cause(combination, hashed, slip.name, as_given=not matches)
                    causes.append(cause)
            if causes:
                yield min(causes, key=lambda cause: cause.changes)

    def _values(
        self, slip: Slip, changed: Mapping[str, Any]
    ) -> Iterator[tuple[Combination, Floats]]:
        """Yield the values of queries with a slip, by convention and value of empty ones."""
        for convention in SLIPS_TRIED_ON:
            options = {"convention": convention, **self.searched.given, **changed}
            try:
                values = self._scores(slip, {"zero_division": math.nan, **options})
            except ValueError:  # these rankings have no score under the convention
                continue
            empty = np.isnan(values)
            if "zero_division" in self.searched.given or not empty.any():
                yield Combination(convention, dict(changed), math.nan), values
                continue
            defaults = CONVENTIONS[convention]
            if options.get("missing", defaults.missing) == "skip":
                # Missing queries have no value, whatever that of empty ones is.
                empty &= ~np.isnan(self._scores(slip, {"zero_division": 0.0, **options}))
            usual: Any = defaults.zero_division
            for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
                with_zero = dict(changed)
                if zero != usual:
                    with_zero["zero_division"] = zero
                yield Combination(convention, with_zero, math.nan), np.where(empty, zero, values)

    def _scores(self, slip: Slip, options: Mapping[str, Any]) -> Floats:
        return np.array([slip.scores(queries, options) for queries in self.queries])
