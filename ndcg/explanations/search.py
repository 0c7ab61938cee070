"""Search for combinations of options that give reported scores, for papers with their own code.

Rankings are read once for each set of options that changes how they are read. DCG and ideal DCG are summed once for
each choice that they depend on, at all cutoffs together. Options that change only the mean are applied to the values of
the queries.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np

from ..inputs.rankings import Rankings
from ..measure.arguments import OPTIONS, PERFECT_IF_EMPTY
from ..measure.conventions import CONVENTIONS
from ..measure.messages import Message, marked
from ..measure.options import Options, result_name
from ..measure.scoring import discounts, measure_queries, ratio, sign
from ..measure.ties import Floats, Mask
from ..scores.progress import progress
from ..scores.queries import UserTerms, measure_rankings
from .combination import Combination, by_convention

USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)
SHORT_RANKING = 10  # every cutoff is tried if no ranking has more documents than this
OF_DCG = ("gain", "discount", "negative_relevance", "ties")  # as well as the options that change how rankings are read
AVERAGING = ("zero_division", "missing")
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


class SearchResult(NamedTuple):
    """The result of a search.

    Attributes:
        combinations: the combinations that match, with the fewest changes of a convention first.
        tried: the number of combinations that were tried.
        by_chance: the number that would match by chance, from the scores near the reported one; nan if unknown.
        distinct: the number of matching combinations that differ in the value of some query.
        nearest: the combination that gives most of the reported values of queries, if none gives all of them.
        agreeing: the queries that have the same value under the nearest combination.
        without_score: the options by which the rankings cannot be read, such as `score_dtype=float32`, with the error.
    """

    combinations: tuple[Combination, ...]
    tried: int
    by_chance: float
    distinct: int = 0
    nearest: Combination | None = None
    agreeing: Mask | None = None
    without_score: Mapping[str, str] = {}  # never modified


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


def search(searched: Searched) -> SearchResult:
    """Try combinations of the options that are unknown, but only one of those that cannot differ on these rankings."""
    readings, without_score = _readings(searched)
    longest = max((int(np.diff(each.rankings.offsets).max()) for each in readings), default=0)
    cutoffs = {ideal: _cutoffs(searched, ideal, longest) for ideal in searched.values_of("ideal")}
    matches = _Matches(searched)
    total = len(cutoffs) * sum(math.prod(map(len, each.grid.values())) for each in readings)
    with progress(total, "Searching", " options") as bar:
        for reading in readings:
            for scored in _scored_choices(searched, reading, cutoffs):
                matches.add(scored)
                bar.update(1)
    return matches.result(without_score)


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
        if readings and not _has_unjudged(readings[0].rankings):
            break
        read_as = []
        for score_dtype in (dtypes := searched.values_of("score_dtype")):
            chosen = {"judged_only": judged_only, "score_dtype": score_dtype}
            if (rankings := read("score_dtype", chosen)) is not None:
                read_as.append((chosen, rankings, len(rankings.queries_of_ties())))
        same = len(read_as) == len(dtypes) and len({ties for *_, ties in read_as}) == 1  # 32 bits can only add ties
        for chosen, rankings, ties in read_as[: 1 if same else None]:
            idle = {"score_dtype": same, "ties": not ties, "negative_relevance": not _has_negative(rankings)}
            matter = {name for name in VALUES if name not in AVERAGING and not idle.get(name)}
            grid = {name: searched.values_of(name)[: None if name in matter else 1] for name in OF_DCG}
            if ties and read("ties", {**chosen, "ties": "docid"}) is None:
                grid["ties"] = [each for each in grid["ties"] if each != "docid"]
            readings.append(_Reading(chosen, frozenset(matter), grid, rankings))
    return readings, without_score


def _has_unjudged(rankings: Rankings) -> bool:
    counts = rankings.counts()
    return bool((counts["retrieved"] > counts["retrieved and judged"]).any())


def _has_negative(rankings: Rankings) -> bool:
    negative = rankings.relevance < 0
    return bool((negative if rankings.judged is None else negative & rankings.judged).any())


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


class _Averaging(NamedTuple):
    """How empty and missing queries count in the mean."""

    zero_division: float | str  # the value of a query without an ideal DCG
    missing: str  # how a missing query counts
    matter: set[str]  # the options in `AVERAGING` that may change the value of a query


def _averagings(searched: Searched, scored: _Scored, empty: Mask) -> Iterator[_Averaging]:
    """Yield the possible settings for empty and missing queries, but only one of those that cannot differ.

    Args:
        searched: the options that are known.
        scored: the values of the queries.
        empty: where these have no ideal DCG.
    """
    some_skipped, all_empty = bool(scored.skipped.any()), bool(empty[:, scored.skipped].all())
    for at, missing in enumerate(searched.values_of("missing")[: None if some_skipped else 1]):
        filled = bool((empty & ~scored.skipped if missing == "skip" else empty).any())
        for zero in searched.values_of("zero_division")[: None if filled else 1]:
            skips = some_skipped and not (all_empty and _is_nan(zero))
            if skips or at == 0:
                matter = {"zero_division": filled, "missing": skips}
                yield _Averaging(zero, missing, {name for name, matters in matter.items() if matters})


class _Matches:
    """The combinations that match, and the scores of all that were tried, without the values of queries."""

    def __init__(self, searched: Searched) -> None:
        self.searched = searched
        self.matching: list[Combination] = []
        self.values: set[int] = set()  # hashes of the values of matching combinations
        self.scores: list[Floats] = []  # scores of all combinations, a column for each evidence
        self.tried = 0
        self.nearest: Combination | None = None
        self.agreeing: Mask | None = None

    def add(self, scored: _Scored) -> None:
        """Compare values of queries with the reported scores, for each setting of empty and missing queries."""
        empty = np.isnan(scored.values)
        averagings = _averagings(self.searched, scored, empty)
        if self.searched.of_queries is not None:
            self._add_values(scored, list(averagings), self.searched.of_queries)
            return
        means = _averages(scored, empty, self.searched.weight)
        for each in averagings:
            scores = self.searched.reported_of(means(each.zero_division, each.missing), scored.cutoffs)
            has_score = ~np.isnan(scores).any(axis=1)
            self.scores.append(scores[has_score])
            self.tried += int(np.count_nonzero(has_score))
            for row in np.flatnonzero(self.searched.are_near(scores)).tolist():
                self._keep(scored, each, row)

    def _add_values(self, scored: _Scored, averagings: Sequence[_Averaging], evidence: Evidence) -> None:
        for each, agreeing in _agreeing(scored, averagings, evidence):
            self.tried += len(agreeing)
            counts = agreeing.sum(axis=1)
            for row in np.flatnonzero(counts == agreeing.shape[1]).tolist():
                self._keep(scored, each, row)
            row = int(counts.argmax())
            if self.agreeing is None or counts[row] > np.count_nonzero(self.agreeing):
                self.agreeing, self.nearest = agreeing[row], self._combination(scored, each, row)[0]

    def _keep(self, scored: _Scored, averaging: _Averaging, row: int) -> None:
        """Keep a combination that matches."""
        combination, values = self._combination(scored, averaging, row)
        self.matching.append(combination)
        self.values.add(hash((values.round(9) + 0.0).tobytes()))

    def _combination(self, scored: _Scored, averaging: _Averaging, row: int) -> tuple[Combination, Floats]:
        """Return a combination, and its values of queries."""
        named, (zero, missing, matter) = self.searched.named_cutoffs, averaging
        values = averaged(scored, slice(None) if named else [row], zero, missing)
        options = {**scored.chosen, "zero_division": zero, "missing": missing}
        options["k"] = scored.cutoffs[row] if len(named) <= 1 else named
        score = float(_means_of(values, self.searched.weight)[0])
        asked = named or [self.searched.k]
        return by_convention(options, scored.matter | matter, score, self.searched.given, asked), values

    def result(self, without_score: dict[str, str]) -> SearchResult:
        """Return the combinations, those that change the fewest options of a convention first."""
        self.matching.sort(key=lambda each: (len(each.changed), list(CONVENTIONS).index(each.convention)))
        by_chance = math.nan
        if self.scores:
            by_chance = _by_chance(np.concatenate(self.scores), self.searched.evidence)
        nearest = None if self.matching else self.nearest
        found = tuple(self.matching), self.tried, by_chance, len(self.values)
        return SearchResult(*found, nearest, self.agreeing, without_score)


def averaged(scored: _Scored, rows: Any, zero_division: float | str, missing: str) -> Floats:
    """Return the values at some cutoffs that count in the mean: nan for a query that does not count."""
    values = scored.values[rows]
    empty = scored.perfect.astype(np.float64) if isinstance(zero_division, str) else zero_division
    averaged = np.where(np.isnan(values), empty, values)
    if missing == "skip":
        averaged[:, scored.skipped] = np.nan
    return averaged


def _averages(scored: _Scored, empty: Mask, weight: Floats | None) -> Callable[[float | str, str], Floats]:
    """Return a function from how empty and missing queries count to the means at all cutoffs."""
    shares = np.ones(scored.values.shape[1]) if weight is None else weight
    parts = np.stack([shares * ~scored.skipped, shares * scored.skipped], axis=1)
    sums, full = np.where(empty, 0, scored.values) @ parts, (~empty).astype(np.float64) @ parts
    empties = empty.astype(np.float64) @ parts
    ones = empty.astype(np.float64) @ (parts * scored.perfect[:, np.newaxis])

    def means(zero_division: float | str, missing: str) -> Floats:
        above, below = sums, full  # for the queries that are not skipped, and for those that are
        if isinstance(zero_division, str):
            above, below = above + ones, below + empties
        elif not _is_nan(zero_division):
            above, below = above + zero_division * empties, below + empties
        counted = slice(1 if missing == "skip" else 2)
        with np.errstate(divide="ignore", invalid="ignore"):  # nan if no query of positive weight has a value
            return np.asarray(above[:, counted].sum(axis=1) / below[:, counted].sum(axis=1))

    return means


def _agreeing(
    scored: _Scored, averagings: Sequence[_Averaging], evidence: Evidence
) -> Iterator[tuple[_Averaging, Mask]]:
    """Yield each setting with the queries that agree with the reported values, at each cutoff."""
    near = np.abs(scored.values - evidence.scores) <= evidence.precision
    depending = np.flatnonzero(np.isnan(scored.values).any(axis=0) | scored.skipped)  # on how queries are averaged
    part = scored._replace(
        values=scored.values[:, depending], skipped=scored.skipped[depending], perfect=scored.perfect[depending]
    )
    reported = evidence._replace(scores=evidence.scores[depending])
    for each in averagings:
        agreeing = near.copy()
        agreeing[:, depending] = _near(averaged(part, slice(None), each.zero_division, each.missing), reported)
        yield each, agreeing


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
            with UserTerms(rankings):
                values = measure_rankings(rankings, options)["nDCG"]
        except ValueError:  # the explanation says why it has no score
            continue
        rows = [row for _, _, row in options.results]
        if searched.has_evidence(values[rows]):
            names.append(name)
    return names


def _is_nan(value: float | str) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _near(values: Floats, evidence: Evidence) -> Mask:
    return np.isclose(values, evidence.scores, rtol=0, atol=evidence.precision, equal_nan=True)


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
    as with one digit, all matches may be by chance.

    Args:
        scores: the scores of all combinations, a column for each evidence.
        evidence: the reported scores.
    """
    if not len(scores):
        return math.nan
    near, wide = np.ones((2, len(scores)), bool)
    near_width = wide_width = 1.0
    for column, each in zip(scores.T, evidence, strict=True):
        reach = max(each.precision, min(WIDER * each.precision, column.std() / 2))
        away = np.abs(column - each.scores[0])
        near, wide = near & (away <= each.precision), wide & (away <= reach)
        near_width *= _width_between(column, each.scores[0], each.precision)
        wide_width *= _width_between(column, each.scores[0], reach)
    if wide_width < 2 * near_width or not near_width:
        return float(np.count_nonzero(near))
    return float(np.count_nonzero(wide & ~near) * near_width / (wide_width - near_width))


def _width_between(scores: Floats, score: float, reach: float) -> float:
    """Return how much of the range around a score lies between the lowest and the highest of scores."""
    return float(max(0, min(scores.max(), score + reach) - max(scores.min(), score - reach)))


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
