"""Search for combinations of options that give reported scores, and for slips, for papers with their own code.

Rankings are read once for each set of options that changes how they are read. DCG and ideal DCG are summed once for
each choice that they depend on, at all cutoffs together. Options that change only the mean are applied to the values of
the queries. Each slip is tried on the nDCG of a few libraries.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs
from ..measure.arguments import DISCOUNTS, OPTIONS, PERFECT_IF_EMPTY
from ..measure.conventions import CHOICES, CONVENTIONS
from ..measure.messages import Message, marked, worded
from ..measure.options import Options, result_name
from ..measure.scoring import discounts, measure_queries, ratio, sign
from ..measure.ties import Floats, Mask
from ..scores.means import mean
from ..scores.progress import progress, tracked
from ..scores.queries import OF_GAINS, measure_rankings, user_terms
from .combination import Combination
from .properties import properties_of
from .slip_terms import Queries, Slip, have_ids, queries_by_ids, queries_of
from .slips import SLIPS

USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)
SHORT_RANKING = 10  # every cutoff is tried if no ranking has more documents than this
OF_DCG = ("gain", "discount", "negative_relevance", "ties")  # as well as the options that change how rankings are read
AVERAGING = ("zero_division", "missing")
MOST_DOCUMENTS = 100_000  # the most documents for which slips are tried, since these are plain Python
SLIPS_TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")
WIDER = 100  # matches by chance are counted in a window this many times as wide as the range of a match
# The options that are searched, with their values. If values cannot differ on some rankings, only the first is tried.
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


class Evidence(NamedTuple):
    """A reported score, or the reported values of all queries."""

    scores: Floats  # the mean, as an array of one, or the value of each query; nan for a query without one
    precision: float  # the tolerance of a match
    cutoff: tuple[int | None, ...] = ()  # a tuple with the cutoff of the score; empty if it is unknown
    of_queries: bool = False  # whether these are the values of the queries


class Searched(NamedTuple):
    """The rankings, the known options and the evidence of a search."""

    read: Callable[[Options], Rankings]  # returns the rankings under some options
    given: Mapping[str, Any]  # the options that are known
    k: int | None  # the cutoff of the caller
    weight: Floats | None  # the weight of each query
    evidence: Sequence[Evidence]  # the reported scores; a combination must match all of them

    @property
    def of_queries(self) -> Evidence | None:
        """The reported values of queries; None if scores were reported."""
        return next((each for each in self.evidence if each.of_queries), None)

    @property
    def named_cutoffs(self) -> list[int | None]:
        """The cutoffs of the reported scores; none if they are unknown."""
        return list(dict.fromkeys(cutoff for each in self.evidence for cutoff in each.cutoff))

    def values_of(self, name: str) -> Sequence[Any]:
        """Return the values of an option to try."""
        return (self.given[name],) if name in self.given else VALUES[name]

    def reported_of(self, means: Floats, cutoffs: Sequence[int | None]) -> Floats:
        """Select the means to compare with the evidence from those at all cutoffs: a row for each combination."""
        if self.named_cutoffs:
            return means[[cutoffs.index(each.cutoff[0]) for each in self.evidence]][np.newaxis]
        return means[:, np.newaxis]

    def are_near(self, scores: Floats) -> Mask:
        """Return which rows of these means match all evidence."""
        near = [abs(scores[:, at] - each.scores[0]) <= each.precision for at, each in enumerate(self.evidence)]
        return np.asarray(np.all(near, axis=0))

    def has_evidence(self, values: Floats) -> bool:
        """Return whether values of queries match all evidence, at its cutoffs or that of the caller."""
        if self.of_queries is not None:
            return bool(_near(values[0], self.of_queries).all())
        means = _means_of(values, self.weight)
        return bool(self.are_near(self.reported_of(means, self.named_cutoffs or [self.k])).all())


def search(searched: Searched) -> "Matches":
    """Try combinations of the options that are unknown, but only one of those that cannot differ on these rankings."""
    readings, without_score = _readings(searched)
    longest = max((int(np.diff(each.rankings.offsets).max()) for each in readings), default=0)
    cutoffs = {ideal: _cutoffs(searched, ideal, longest) for ideal in searched.values_of("ideal")}
    matches = Matches(searched, without_score)
    total = len(cutoffs) * sum(math.prod(map(len, each.grid.values())) for each in readings)
    with progress(total, "Searching", " options") as bar:
        for reading in readings:
            for scored in _scored_choices(searched, reading, cutoffs):
                matches.add(scored)
                bar.update(1)
    matches.combinations.sort(key=lambda each: (len(each.changed), list(CONVENTIONS).index(each.convention)))
    return matches


class _Reading(NamedTuple):
    """The rankings as some options read them."""

    chosen: dict[str, Any]  # the options that read them
    matter: frozenset[str]  # the options that may change the nDCG of a query
    grid: dict[str, Sequence[Any]]  # the values to try of the other options that the DCG depends on
    rankings: Rankings


class _Scored(NamedTuple):
    """The values of queries under some options."""

    chosen: dict[str, Any]  # the options, except those in `AVERAGING`
    matter: frozenset[str]  # the options that may change the values
    cutoffs: Sequence[int | None]  # the cutoff of each row
    values: Floats  # the nDCG of each query at each cutoff; nan without an ideal DCG
    skipped: Mask  # the queries that `missing="skip"` skips
    perfect: Mask  # the queries that `zero_division="perfect_if_empty"` counts as 1


def _readings(searched: Searched) -> tuple[list[_Reading], dict[str, str]]:
    """Return the distinct readings of the rankings, and the error of each option under which they cannot be read."""
    readings: list[_Reading] = []
    without_score: dict[str, str] = {}

    def read(name: str, chosen: Mapping[str, Any]) -> Rankings | None:
        try:
            return searched.read(Options.parse(k=1, **{**searched.given, **chosen}))
        except ValueError as error:
            without_score[f"{name}={chosen[name]}"] = Message(marked(error))
            return None

    for judged_only in searched.values_of("judged_only"):
        if readings and not properties_of(readings[0].rankings, None)["unjudged documents"].any():
            break
        read_as = []
        for score_dtype in (dtypes := searched.values_of("score_dtype")):
            chosen = {"judged_only": judged_only, "score_dtype": score_dtype}
            if (rankings := read("score_dtype", chosen)) is not None:
                read_as.append((chosen, rankings, len(rankings.queries_of_ties())))
        same = len(read_as) == len(dtypes) and len({ties for *_, ties in read_as}) == 1  # 32 bits can only add ties
        for chosen, rankings, ties in read_as[: 1 if same else None]:
            negative = properties_of(rankings, None)["a negative relevance"]
            idle = {"score_dtype": same, "ties": not ties, "negative_relevance": not negative.any()}
            matter = {name for name in VALUES if name not in AVERAGING and not idle.get(name)}
            grid = {name: searched.values_of(name)[: None if name in matter else 1] for name in OF_DCG}
            if ties and read("ties", {**chosen, "ties": "docid"}) is None:
                grid["ties"] = [each for each in grid["ties"] if each != "docid"]
            readings.append(_Reading(chosen, frozenset(matter), grid, rankings))
    return readings, without_score


def _scored_choices(
    searched: Searched, reading: _Reading, cutoffs: Mapping[str, Sequence[int | None]]
) -> Iterator[_Scored]:
    """Yield the values of queries under each choice of the options that they depend on, at the cutoffs of each ideal.

    The DCG does not depend on the ideal, and the ideal DCG does not depend on ties, so each is summed only once.
    """
    every = list(dict.fromkeys(chain.from_iterable(cutoffs.values())))
    *outer, orders = (reading.grid[name] for name in OF_DCG)
    for choice in product(*outer):
        chosen = {**reading.chosen, **dict(zip(OF_DCG, choice, strict=False))}
        try:
            options = Options.parse(k=1, **{**searched.given, **chosen})
        except ValueError:  # this discount does not allow this base of the logarithm
            continue
        ideals = {ideal: _sums_at(searched, {**chosen, "ideal": ideal}, "IDCG", of) for ideal, of in cutoffs.items()}
        if not any(ideals.values()):
            continue
        skipped, perfect = _skipped_and_perfect(searched, chosen)
        turned = sign(discounts(1, options.log_base, options.discount))
        for ties in orders:
            dcg = _sums_at(searched, {**chosen, "ties": ties}, "DCG", every)
            for ideal, idcg in ideals.items():
                known = [cutoff for cutoff in cutoffs[ideal] if cutoff in dcg and cutoff in idcg]
                if known and (known == cutoffs[ideal] or not searched.named_cutoffs):
                    above, below = (np.stack([each[cutoff] for cutoff in known]) for each in (dcg, idcg))
                    with np.errstate(divide="ignore", invalid="ignore"):
                        values = ratio(above, below, negative=True, sign=turned, zero_division=np.nan)
                    all_chosen = {**chosen, "ideal": ideal, "ties": ties}
                    yield _Scored(all_chosen, reading.matter, known, values, skipped, perfect)


def _sums_at(
    searched: Searched, chosen: Mapping[str, Any], measure: str, cutoffs: Sequence[int | None]
) -> dict[int | None, Floats]:
    """Return the DCG or the ideal DCG of each query at each cutoff at which these options have one."""
    if not cutoffs:
        return {}
    options = Options.parse(measures=[result_name(measure, each) for each in cutoffs], **{**searched.given, **chosen})
    rankings = searched.read(options)
    try:
        sums = measure_queries(**rankings.arrays(), **options.scoring)[measure]
    except ValueError as error:  # the results of the conventions show the error
        if len(cutoffs) == 1 or getattr(error, "position", None) is not None:  # the same error at every cutoff
            return {}
        alone = (_sums_at(searched, chosen, measure, [each]) for each in cutoffs)
        return {cutoff: sums for each in alone for cutoff, sums in each.items()}
    return dict(zip(cutoffs, sums, strict=True))


def _skipped_and_perfect(searched: Searched, chosen: Mapping[str, Any]) -> tuple[Mask, Mask]:
    """Return which queries are missing, and which empty ones count as perfect, according to `compute`."""
    how = {"ideal": "truncated", "zero_division": PERFECT_IF_EMPTY}
    options = Options.parse(k=1, **{**searched.given, **chosen, **how})
    rankings = searched.read(options)
    values = measure_queries(**rankings.arrays(), **options.scoring)["nDCG"][0]
    return rankings.lacking(), (values == 1) & (rankings.counts()["retrieved"] == 0)


_Averaging = tuple[float | str, str, set[str]]  # `zero_division`, `missing`, and those of them that may change a value


def _averagings(searched: Searched, scored: _Scored) -> Iterator[_Averaging]:
    """Yield the ways to count empty and missing queries, but only one of those that cannot differ."""
    empty = np.isnan(scored.values)
    some_skipped, all_empty = bool(scored.skipped.any()), bool(empty[:, scored.skipped].all())
    for at, missing in enumerate(searched.values_of("missing")[: None if some_skipped else 1]):
        filled = bool((empty & ~scored.skipped if missing == "skip" else empty).any())
        for zero in searched.values_of("zero_division")[: None if filled else 1]:
            skips = some_skipped and not (all_empty and isinstance(zero, float) and math.isnan(zero))
            if skips or at == 0:
                matter = {"zero_division": filled, "missing": skips}
                yield zero, missing, {name for name, matters in matter.items() if matters}


class Matches:
    """The combinations that match, and the scores of all that were tried, without the values of queries."""

    def __init__(self, searched: Searched, without_score: Mapping[str, str]) -> None:
        self.searched = searched
        self.without_score = without_score  # options by which the rankings cannot be read, with the error of each
        self.combinations: list[Combination] = []
        self.tried = 0  # how many combinations
        self.nearest: Combination | None = None  # the combination that gives most of the reported values of queries
        self.agreeing: Mask | None = None  # the queries that have the same value under it
        self.distinct: set[int] = set()  # hashes of the values of queries of those that match
        self._scores: list[Floats] = []  # scores of all combinations, a column for each evidence

    @property
    def by_chance(self) -> float:
        """The number that would match by chance, from the scores near the reported one; nan if unknown."""
        return _by_chance(np.concatenate(self._scores), self.searched.evidence) if self._scores else math.nan

    def add(self, scored: _Scored) -> None:
        """Compare values of queries with the reported scores, for each way to count empty and missing queries."""
        searched = self.searched
        for averaging in _averagings(searched, scored):
            values = _averaged(scored, averaging)
            if searched.of_queries is None:
                scores = searched.reported_of(_means_of(values, searched.weight), scored.cutoffs)
                matching = searched.are_near(scores)
                self._scores.append(scores[~np.isnan(scores).any(axis=1)])
                self.tried += len(self._scores[-1])
            else:
                agreeing = _near(values, searched.of_queries)
                self.tried += len(agreeing)
                matching, row = np.all(agreeing, axis=1), int(np.sum(agreeing, axis=1).argmax())
                if self.agreeing is None or np.count_nonzero(agreeing[row]) > np.count_nonzero(self.agreeing):
                    self.agreeing, self.nearest = agreeing[row], self._combination(scored, averaging, row, values)
            for row in np.flatnonzero(matching).tolist():
                self.combinations.append(self._combination(scored, averaging, row, values))
                of_row = values if searched.named_cutoffs else values[row]
                self.distinct.add(hash((of_row.round(9) + 0.0).tobytes()))

    def _combination(self, scored: _Scored, averaging: _Averaging, row: int, values: Floats) -> Combination:
        """Return a combination as changes of the convention that differs from it in the fewest options that matter."""
        (zero, missing, matter), named, given = averaging, self.searched.named_cutoffs, self.searched.given
        k: Any = scored.cutoffs[row] if len(named) <= 1 else named
        options = {**scored.chosen, "zero_division": zero, "missing": missing}
        chosen = {name: options[name] for name in options if name in scored.matter | matter and name not in given}

        def changed(convention: str) -> dict[str, Any]:
            usual = {**CONVENTIONS[convention].options, "judged_only": False}
            return {name: value for name, value in chosen.items() if repr(value) != repr(usual[name])}

        convention = min(CONVENTIONS, key=lambda name: len(changed(name)))
        asked = named or [self.searched.k]
        cutoff = {} if k in (asked, *asked) else {"k": k}
        score = float(_means_of(values[0 if named else row][np.newaxis], self.searched.weight)[0])
        return Combination(convention, changed(convention) | cutoff, score, {**given, "k": k})


def _averaged(scored: _Scored, averaging: _Averaging) -> Floats:
    """Return the values that count in the mean: nan for a query that does not count."""
    zero, missing, _ = averaging
    empty = scored.perfect.astype(np.float64) if isinstance(zero, str) else zero
    averaged = np.where(np.isnan(scored.values), empty, scored.values)
    if missing == "skip":
        averaged[:, scored.skipped] = np.nan
    return averaged


def conventions_with(searched: Searched) -> list[str]:
    """Return the conventions that match all evidence."""
    cutoffs = searched.named_cutoffs or [searched.k]
    names = []
    for name in CONVENTIONS:
        try:
            options = Options.parse(
                measures=[result_name("nDCG", cutoff) for cutoff in cutoffs], **{**searched.given, "convention": name}
            )
            rankings = searched.read(options)
            with user_terms(rankings):
                values = measure_rankings(rankings, options)["nDCG"]
        except ValueError:  # the explanation says why it has no score
            continue
        rows = [row for _, _, row in options.results]
        if searched.has_evidence(values[rows]):
            names.append(name)
    return names


def _near(values: Floats, evidence: Evidence) -> Mask:
    differences = np.abs(values - evidence.scores)
    return np.asarray((differences <= evidence.precision) | (np.isnan(values) & np.isnan(evidence.scores)))


def _means_of(values: Floats, weight: Floats | None) -> Floats:
    """Return the mean at each cutoff over the queries that have a value."""
    shares = np.ones(values.shape[1]) if weight is None else weight
    has_value = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((np.where(has_value, values, 0) @ shares) / (has_value @ shares))


def _by_chance(scores: Floats, evidence: Sequence[Evidence]) -> float:
    """Estimate how many combinations would match by chance: as many as match other scores near the reported ones.

    Scores are counted in a window around the reported ones, without those that match. It is `WIDER` times as wide as
    the range of a match, but at most a standard deviation, since the middle has more scores than the ends; and it is
    as wide as the part of it between the lowest and the highest score. If it is hardly wider than the range of a match,
    as with one digit, all matches may be by chance. Scores have a row for each combination, a column for each evidence.
    """
    if not len(scores):
        return math.nan
    near, wide = np.ones((2, len(scores)), bool)
    near_width = wide_width = 1.0
    for column, each in zip(scores.T, evidence, strict=True):
        reach = max(each.precision, min(WIDER * each.precision, column.std() / 2))
        away = np.abs(column - each.scores[0])
        low, high = column.min() - each.scores[0], column.max() - each.scores[0]
        near, wide = near & (away <= each.precision), wide & (away <= reach)
        near_width *= max(0, min(high, each.precision) - max(low, -each.precision))
        wide_width *= max(0, min(high, reach) - max(low, -reach))
    if wide_width < 2 * near_width or not near_width:
        return float(np.count_nonzero(near))
    return float(np.count_nonzero(wide & ~near) * near_width / (wide_width - near_width))


def _cutoffs(searched: Searched, ideal: str, longest: int) -> list[int | None]:
    """Return the cutoffs to try with an ideal: the known ones, else one of each group that counts the same ranks.

    The caller's comes first, then those next to it, the usual ones, and all cutoffs of short rankings.
    """

    def has_ideal(cutoff: int | None) -> bool:
        try:
            Options.parse(k=cutoff, **{**searched.given, "ideal": ideal})
        except ValueError:  # a full ideal needs a cutoff that is not too large
            return False
        return True

    if named := searched.named_cutoffs:
        return named if all(map(has_ideal, named)) else []
    k = searched.k
    near = [None] if k is None else [each for each in (k, k + 1, k - 1) if each > 0]
    of_short = range(1, SHORT_RANKING + 1) if longest <= SHORT_RANKING else ()
    cutoffs = list(filter(has_ideal, dict.fromkeys([*near, *USUAL_CUTOFFS, *of_short])))
    whole = [each for each in cutoffs if each is None or each >= longest] if ideal != "full" else []
    return [each for each in cutoffs if each not in whole[1:]]


# Slips


class FoundSlip(NamedTuple):
    """A slip that gives the reported scores."""

    slip: Slip
    convention: str  # the convention that it is made on
    changed: dict[str, Any]  # `discount` and `zero_division`, if they differ from the convention's
    as_given: bool  # whether the slip gives the scores only if they are not read as percentages
    score: Callable[[Options], float]  # returns the score with the slip under some options, at the first cutoff

    @property
    def marked(self) -> str:
        """The combination in words, with its options marked."""
        return Combination(self.convention, self.changed, math.nan).marked

    def __str__(self) -> str:
        return worded(self)


class SlipSearch:
    """The rankings as queries that slips can change, and the reported scores."""

    def __init__(self, searched: Searched, inputs: Inputs, as_given: Sequence[Evidence]) -> None:
        # as_given: the scores before they were read as percentages
        self.searched, self.as_given = searched, searched._replace(evidence=as_given)
        # rankings are in descending order in any case, but ids have the scores of the input
        self.given = {name: value for name, value in searched.given.items() if name != "score_order"}
        options = Options.parse(k=searched.k, **searched.given)
        if options.labels is not None:  # the relevances in rankings are the gains of labels
            self.given |= {name: options.scoring[name] for name in OF_GAINS}
        descending = options.score_order == "descending"
        rankings = searched.read(options)
        by_ids = (
            descending and options.labels is None and have_ids(inputs) and searched.given.get("ignore_index") is None
        )
        is_small = len(rankings.relevance) <= MOST_DOCUMENTS
        cutoffs = (searched.named_cutoffs or [searched.k]) if is_small else []
        self.queries = [
            Queries(queries_by_ids(inputs, rankings.names(), k) if by_ids else queries_of(rankings, k)) for k in cutoffs
        ]

    def found(self) -> list[FoundSlip]:
        """Return the slips that give the reported scores, except those that equal an option of `compute`.

        If none does so with the discounts of conventions, the others that have a name are tried on values of queries
        or several scores; a single score would match many of these by chance.
        """
        slips = [*self._found({})]
        is_enough = len(self.queries) > 1 or self.searched.of_queries is not None
        if not slips and is_enough and "discount" not in self.given:
            slips = [each for discount in DISCOUNTS for each in self._found({"discount": discount})]
        return slips

    def _found(self, changed_discount: Mapping[str, str]) -> Iterator[FoundSlip]:
        slips = [slip for slip in SLIPS if not slip.is_option and self.queries]
        for slip in tracked(slips, "Trying", " slips"):
            for convention, changed, values in self._values(slip, changed_discount):
                gives = self.searched.has_evidence(values)
                if gives or self.as_given.has_evidence(values):
                    yield FoundSlip(slip, convention, changed, not gives, partial(self.score, slip))
                    break

    def score(self, slip: Slip, options: Options) -> float:
        """Return the score with a slip, under some options, at the first cutoff."""
        chosen = {name: getattr(options, name) for name in CHOICES}
        chosen |= {name: options.scoring[name] for name in OF_GAINS}
        return mean("nDCG", slip.scores(self.queries[0], {**self.given, **chosen}), self.searched.weight)

    def _values(self, slip: Slip, discount: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any], Floats]]:
        """Yield the values of queries at each cutoff, under each convention and number for empty queries."""
        for convention in SLIPS_TRIED_ON:

            def scores(zero_division: float, convention: str = convention) -> Floats:
                options = {"convention": convention, "zero_division": zero_division, **self.given, **discount}
                return np.array([slip.scores(each, options) for each in self.queries])

            try:
                values = scores(math.nan)
            except ValueError:  # these rankings have no score under the convention
                continue
            empty = np.isnan(values)
            if "zero_division" in self.given or not empty.any():
                yield convention, {**discount}, values
                continue
            usual, missing = (self.given.get(name, getattr(CONVENTIONS[convention], name)) for name in AVERAGING)
            if missing == "skip":
                empty &= ~np.isnan(scores(0.0))
            for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
                changed = {} if zero == usual else {"zero_division": zero}
                yield convention, {**discount, **changed}, np.where(empty, zero, values)
