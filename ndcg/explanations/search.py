"""The combinations of options that give reported scores: for papers with their own code.

Rankings are read once for each way of reading them. DCG and ideal DCG are summed once for each choice that they depend
on, at all cutoffs at once. Options that change only the mean follow from the values of the queries.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..inputs.rankings import Rankings
from ..measure.arguments import OPTIONS
from ..measure.conventions import CONVENTIONS
from ..measure.options import Options, result_name
from ..measure.scoring import discounts, score_queries, sign
from ..measure.ties import Floats, Mask
from ..scores.queries import UserTerms, progress, score_part
from .properties import queries_of_ties

USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)
SHORT_RANKING = 10  # documents of the longest ranking of which every cutoff is tried
WIDER = 100  # the width of the range in which scores are counted to estimate matches by chance, in tolerances


class Evidence(NamedTuple):
    """A reported score, or the reported values of all queries.

    Attributes:
        scores: the mean, as an array of one, or the value of each query; nan for a query without one.
        precision: the tolerance of a match.
        cutoff: the cutoff of the score, as a tuple of one; empty if it is to be found.
        of_queries: whether these are the values of the queries.
    """

    scores: Floats
    precision: float
    cutoff: tuple[int | None, ...] = ()
    of_queries: bool = False


class Combination(NamedTuple):
    """Options that give the reported scores.

    Attributes:
        convention: the convention that differs in the fewest options.
        changed: the options that differ from it, with their values; `k` among them if the cutoff is another.
        score: the mean under these options.
        given: the options that were given, and the cutoff, unless they are changed.
    """

    convention: str
    changed: dict[str, Any]
    score: float
    given: dict[str, Any] = {}  # noqa: RUF012  # never changed

    @property
    def options(self) -> dict[str, Any]:
        """The options of `compute`."""
        return {"convention": self.convention, **self.given, **self.changed}

    @property
    def call(self) -> str:
        """The options as Python takes them.

        >>> Combination("rectools", {"gain": "exponential", "k": 20}, 0.283).call
        "convention='rectools', gain='exponential', k=20"
        """
        return ", ".join(f"{name}={_python_text(value)}" for name, value in self.options.items())

    @property
    def flags(self) -> str:
        """The options as the shell takes them.

        >>> Combination("rectools", {"judged_only": True, "k": None}, 0.283).flags
        '--convention rectools --judged-only -k all'
        """
        words = []
        for name, value in self.options.items():
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            if value is not False:
                words.append(flag if value is True else f"{flag} {_shell_text(value)}")
        return " ".join(words)

    def __str__(self) -> str:
        if not self.changed:
            return self.convention
        changed = [f"{name}={'the whole list' if value is None else value}" for name, value in self.changed.items()]
        return f"{self.convention}, but {' and '.join(changed)}"


def _python_text(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and np.isnan(value) else repr(value)


def _shell_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_shell_text, value))
    return "all" if value is None else str(value)


class SearchResult(NamedTuple):
    """The result of a search.

    Attributes:
        combinations: the combinations that match, with the fewest changes of a convention first.
        tried: the number of combinations that were tried.
        by_chance: the number that would match by chance, from the scores near the reported one; nan if unknown.
        distinct: the number of matching combinations that differ in the value of some query.
        nearest: if values of queries were reported that no combination gives, the combination that gives most of them.
        agreeing: the queries that have the same value under the nearest combination.
    """

    combinations: tuple[Combination, ...]
    tried: int
    by_chance: float
    distinct: int = 0
    nearest: Combination | None = None
    agreeing: Mask | None = None


class Searched(NamedTuple):
    """The rankings, the known options and the evidence of a search.

    Attributes:
        read: returns the rankings under some options.
        given: the options that are known.
        k: the cutoff of the caller.
        weight: the weight of each query.
        evidence: the reported scores; a combination must match all of them.
    """

    read: Callable[[Options], Rankings]
    given: Mapping[str, Any]
    k: int | None
    weight: Floats | None
    evidence: Sequence[Evidence]

    @property
    def of_queries(self) -> Evidence | None:
        """The reported values of queries; None if scores were reported."""
        return next((each for each in self.evidence if each.of_queries), None)

    @property
    def named_cutoffs(self) -> list[int | None]:
        """The cutoffs that the reported scores have; none if these are to be found."""
        return list(dict.fromkeys(cutoff for each in self.evidence for cutoff in each.cutoff))

    def has_evidence(self, values: Floats) -> bool:
        """Return whether values of queries, at the named cutoffs or that of the caller, match all evidence."""
        if self.of_queries is not None:
            return bool(_near(values[0], self.of_queries).all())
        return bool(_matching_scores(_means_of(values, self.weight), self.named_cutoffs or [self.k], self.evidence)[0])


def search(searched: Searched) -> SearchResult:
    """Try every combination of the options that are not given."""
    rankings = _rankings(searched)
    grids = {
        score_dtype: {**_grid(each, searched.given), "score_dtype": tuple(rankings)}
        for score_dtype, each in rankings.items()
    }
    cutoffs = searched.named_cutoffs or _cutoffs(searched.k, rankings.values())
    matches = _Matches(searched, cutoffs)
    for score_dtype, grid in grids.items():
        for chosen, values, queries in _values_at(searched, score_dtype, grid, cutoffs):
            matches.add(chosen, values, queries, grid)
    return matches.result(grids)


class QueriesInMeans(NamedTuple):
    """Masks of queries that determine how queries count in a mean.

    Attributes:
        missing: the queries that are missing from the run.
        perfect_if_empty: the queries with no relevant documents for which nothing was retrieved.
    """

    missing: Mask
    perfect_if_empty: Mask


def _values_at(
    searched: Searched, score_dtype: str, grid: Mapping[str, Sequence[Any]], cutoffs: Sequence[int | None]
) -> Iterator[tuple[dict[str, Any], Floats, QueriesInMeans]]:
    """Yield each choice of options that score a query, with its values at all cutoffs; nan without an ideal DCG.

    The DCG does not depend on the ideal, nor the ideal DCG on ties, so each is summed once for all of the others.
    """
    outer = list(product(*(grid[name] for name in ("gain", "discount", "negative_relevance", "judged_only"))))
    with progress(len(outer) * (len(grid["ideal"]) + len(grid["ties"])), "Searching", " sums") as bar:
        for gain, discount, negative, judged_only in outer:
            chosen = {"gain": gain, "discount": discount, "negative_relevance": negative, "judged_only": judged_only}
            chosen["score_dtype"] = score_dtype
            ideals, queries = {}, queries_in_means(searched, chosen)
            for ideal in grid["ideal"]:
                ideals[ideal] = _sums_of(searched, {**chosen, "ideal": ideal}, "IDCG", cutoffs)
                bar.update(1)
            for ties in grid["ties"]:
                dcg = _sums_of(searched, {**chosen, "ties": ties}, "DCG", cutoffs)
                bar.update(1)
                for ideal, idcg in ideals.items():
                    if dcg is not None and idcg is not None:
                        with np.errstate(divide="ignore", invalid="ignore"):
                            values = np.where(idcg > 0, dcg / idcg, np.nan)
                        yield {**chosen, "ideal": ideal, "ties": ties}, values, queries


def _sums_of(
    searched: Searched, chosen: Mapping[str, Any], measure: str, cutoffs: Sequence[int | None]
) -> Floats | None:
    """Return the DCG or the ideal DCG of each query at all cutoffs; None if these options give none.

    A full ideal has no DCG without a cutoff: its values are nan.
    """
    known = [cutoff for cutoff in cutoffs if not (cutoff is None and chosen.get("ideal") == "full")]
    if not known:
        return None
    how = {**searched.given, **chosen}
    options = Options.parse(measures=[result_name(measure, cutoff) for cutoff in known], **how)
    try:
        rankings = searched.read(options)
        with UserTerms(rankings):
            summed = score_queries(**rankings.arrays(), **options.scoring)[measure]
    except ValueError:  # the results of the conventions have the error
        return None
    sums = np.full((len(cutoffs), rankings.queries), np.nan)
    turned = sign(discounts(1, options.log_base, options.discount))  # so that an ideal DCG is above 0
    for (_, _, row), cutoff in zip(options.results, known, strict=True):
        sums[cutoffs.index(cutoff)] = turned * summed[row]
    return sums


def queries_in_means(searched: Searched, chosen: Mapping[str, Any]) -> QueriesInMeans:
    """Return which queries are missing or may count as perfect, under the options that are given or chosen."""
    rankings = searched.read(Options.parse(k=1, **{**searched.given, **chosen}))
    best = _sums_of(searched, {**chosen, "ideal": "judged"}, "IDCG", [1])
    has_relevant = np.zeros(rankings.queries, bool) if best is None else best[0] > 0
    return QueriesInMeans(rankings.lacking(), ~(rankings.counts()["retrieved"] > 0) & ~has_relevant)


class _Matches:
    """The combinations that match, and counts of all that were tried; no values are kept."""

    def __init__(self, searched: Searched, cutoffs: Sequence[int | None]) -> None:
        self.searched, self.cutoffs = searched, cutoffs
        self.matching: list[tuple[dict[str, Any], float]] = []
        self.values: set[int] = set()  # of those that match, as hashes
        self.tried = self.wide = 0
        self.nearest: tuple[dict[str, Any], float] | None = None
        self.agreeing: Mask | None = None

    def add(
        self, chosen: dict[str, Any], values: Floats, queries: QueriesInMeans, grid: Mapping[str, Sequence[Any]]
    ) -> None:
        """Compare values of queries with the reported scores, for each way of averaging."""
        averagings = [dict(zip(AVERAGING, each, strict=True)) for each in product(*(grid[name] for name in AVERAGING))]
        known = ~np.isnan(values).all(axis=1)
        rows = 1 if self.searched.named_cutoffs else int(np.count_nonzero(known))
        self.tried += rows * len(averagings)
        if self.searched.of_queries is None:
            means = _averages(values, queries, self.searched.weight)
            for averaging in averagings:
                mean = means(**averaging)
                matching, wide = _matching_scores(mean, self.cutoffs, self.searched.evidence)
                self.wide += wide
                for row in matching:
                    self._keep({**chosen, **averaging}, row, values, queries)
            return
        for averaging, agreeing in _agreeing(values, queries, self.searched.of_queries, averagings):
            counts = agreeing.sum(axis=1)
            for row in np.flatnonzero(counts == values.shape[1]).tolist():
                self._keep({**chosen, **averaging}, row, values, queries)
            row = int(counts.argmax())
            if self.agreeing is None or counts[row] > np.count_nonzero(self.agreeing):
                score = _means_of(averaged(values[[row]], queries, **averaging), self.searched.weight)
                self.agreeing, self.nearest = agreeing[row], (self._at(row, {**chosen, **averaging}), float(score[0]))

    def _keep(self, options: dict[str, Any], row: int, values: Floats, queries: QueriesInMeans) -> None:
        """Keep a combination that matches."""
        named = bool(self.searched.named_cutoffs)
        of_queries = averaged(
            values if named else values[row : row + 1], queries, *(options[each] for each in AVERAGING)
        )
        self.values.add(hash(of_queries.round(9).tobytes()))
        score = float(_means_of(of_queries, self.searched.weight)[0])
        self.matching.append((self._at(row, options), score))

    def _at(self, row: int, options: dict[str, Any]) -> dict[str, Any]:
        named = self.searched.named_cutoffs
        return {**options, "k": self.cutoffs[row] if len(named) <= 1 else named}

    def result(self, grids: Mapping[str, Mapping[str, Sequence[Any]]]) -> SearchResult:
        """Return the combinations by the conventions that they are nearest to."""

        def by_convention(options: dict[str, Any], score: float) -> Combination:
            return _by_convention(options, score, self.searched, grids[options["score_dtype"]])

        own = [by_convention(*each) for each in self.matching]
        own.sort(key=lambda each: (len(each.changed), list(CONVENTIONS).index(each.convention)))
        evidence = self.searched.evidence
        by_chance = math.nan if self.searched.of_queries else self.wide / WIDER ** len(evidence)
        nearest = None
        if self.nearest is not None and not own:
            nearest = by_convention(*self.nearest)
        return SearchResult(tuple(own), self.tried, by_chance, len(self.values), nearest, self.agreeing)


AVERAGING = ("zero_division", "missing")


def averaged(values: Floats, queries: QueriesInMeans, zero_division: float | str, missing: str) -> Floats:
    """Fill in the value of queries with no relevant documents, and remove queries that are skipped."""
    empty = queries.perfect_if_empty.astype(np.float64) if isinstance(zero_division, str) else zero_division
    averaged = np.where(np.isnan(values), empty, values)
    if missing == "skip":
        averaged[:, queries.missing] = np.nan
    return averaged


def _averages(values: Floats, queries: QueriesInMeans, weight: Floats | None) -> Callable[..., Floats]:
    """Return a function from a way of averaging to the means at all cutoffs; the sums are computed only once."""
    shares = np.ones(values.shape[1]) if weight is None else weight
    parts = np.stack([shares, shares * queries.missing], axis=1)
    empty = np.isnan(values)
    sums, empties = np.where(empty, 0, values) @ parts, empty.astype(np.float64) @ parts
    ones = empty.astype(np.float64) @ (parts * queries.perfect_if_empty[:, np.newaxis])
    total = parts.sum(axis=0)

    def means(zero_division: float | str, missing: str) -> Floats:
        left_out = not isinstance(zero_division, str) and math.isnan(zero_division)
        of_empty = ones if isinstance(zero_division, str) else 0 if left_out else zero_division * empties
        above, below = sums + of_empty, total - (empties if left_out else 0)
        above, below = np.broadcast_arrays(above, below)
        if missing == "skip":
            above, below = above[:, 0] - above[:, 1], below[:, 0] - below[:, 1]
        else:
            above, below = above[:, 0], below[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(empty.all(axis=1), np.nan, above / below)

    return means


def _agreeing(
    values: Floats, queries: QueriesInMeans, evidence: Evidence, averagings: Sequence[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], Mask]]:
    """Yield each way of averaging with the queries that agree with the reported values, at each cutoff."""
    near = np.abs(values - evidence.scores) <= evidence.precision
    depending = np.flatnonzero(np.isnan(values).any(axis=0) | queries.missing)  # on how queries are averaged
    part = QueriesInMeans(*(each[depending] for each in queries))
    reported = evidence._replace(scores=evidence.scores[depending])
    for averaging in averagings:
        agreeing = near.copy()
        agreeing[:, depending] = _near(averaged(values[:, depending], part, **averaging), reported)
        yield averaging, agreeing


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
                values = score_part(rankings, options)["nDCG"]
        except ValueError:  # the explanation says why it has no score
            continue
        rows = [row for _, _, row in options.results]
        if searched.has_evidence(values[rows]):
            names.append(name)
    return names


def _near(values: Floats, evidence: Evidence) -> Mask:
    return np.isclose(values, evidence.scores, rtol=0, atol=evidence.precision, equal_nan=True)


def _means_of(values: Floats, weight: Floats | None) -> Floats:
    """Return the mean at each cutoff over the queries that have a value."""
    shares = np.ones(values.shape[1]) if weight is None else weight
    has_value = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((np.where(has_value, values, 0) @ shares) / (has_value @ shares))


def _matching_scores(
    means: Floats, cutoffs: Sequence[int | None], evidence: Sequence[Evidence]
) -> tuple[list[int], int]:
    """Return the rows of the cutoffs at which all evidence matches, and how many match a wider range.

    If the evidence names its cutoffs, they match together: then the row is the first.
    """
    matches, wide = np.ones((2, len(cutoffs)), bool)
    for each in evidence:
        rows = [cutoffs.index(each.cutoff[0])] * len(cutoffs) if each.cutoff else list(range(len(cutoffs)))
        away = np.abs(means[rows] - each.scores[0])
        matches, wide = matches & (away <= each.precision), wide & (away <= WIDER * each.precision)
    if any(each.cutoff for each in evidence):
        matches[1:] = wide[1:] = False
    return np.flatnonzero(matches).tolist(), int(np.count_nonzero(wide))


def _rankings(searched: Searched) -> dict[str, Rankings]:
    """Return the rankings for each type of scores that gives different ties."""
    known = searched.given.get("score_dtype")
    read_rankings: dict[str, Rankings] = {}
    ties = set()
    for score_dtype in OPTIONS["score_dtype"].words if known is None else (known,):
        try:
            rankings = searched.read(Options.parse(k=searched.k, **{**searched.given, "score_dtype": score_dtype}))
        except ValueError:  # a score is too large for the type
            continue
        if (count := len(queries_of_ties(rankings))) not in ties:
            ties.add(count)
            read_rankings[score_dtype] = rankings
    return read_rankings


def _grid(rankings: Rankings, given: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Return the values of each option that may affect the scores of these rankings."""
    counts = rankings.counts()
    judged = np.ones(len(rankings.relevance), bool) if rankings.judged is None else rankings.judged
    has_negative = bool((rankings.relevance[judged] < 0).any())
    has_empty = bool((counts["relevant"] == 0).any()) or has_negative
    grid: dict[str, Sequence[Any]] = {
        "gain": tuple(OPTIONS["gain"].words),
        "discount": tuple(OPTIONS["discount"].words),
        "ideal": tuple(OPTIONS["ideal"].words),
        "ties": tuple(OPTIONS["ties"].words) if len(queries_of_ties(rankings)) else ("average",),
        "negative_relevance": ("clip", "keep") if has_negative else ("clip",),
        "judged_only": (False, True) if not judged.all() else (False,),
        "zero_division": (0.0, 1.0, np.nan, "perfect_if_empty") if has_empty else (0.0,),
        "missing": ("empty", "skip") if rankings.lacking().any() else ("empty",),
    }
    return {name: (given[name],) if given.get(name) is not None else values for name, values in grid.items()}


def _cutoffs(k: int | None, rankings: Iterable[Rankings]) -> list[int | None]:
    """Return the cutoff of the caller and those next to it, the usual ones, and all cutoffs of short rankings."""
    near: list[int | None] = [None] if k is None else [each for each in (k, k + 1, k - 1) if each > 0]
    longest = max((int(np.diff(each.offsets).max()) for each in rankings), default=0)
    return list(dict.fromkeys([*near, *USUAL_CUTOFFS, *range(1, longest + 1 if longest <= SHORT_RANKING else 1)]))


def _by_convention(
    chosen: Mapping[str, Any], score: float, searched: Searched, grid: Mapping[str, Sequence[Any]]
) -> Combination:
    """Return a combination as changes of the convention that differs from it in the fewest options."""
    given = {name: value for name, value in searched.given.items() if value is not None}
    cutoff = chosen["k"]

    def changed(convention: str) -> dict[str, Any]:
        usual = {**CONVENTIONS[convention].options, "judged_only": False}
        differing = {
            name: value
            for name, value in chosen.items()
            if name != "k" and len(grid[name]) > 1 and name not in given and repr(value) != repr(usual[name])
        }
        asked = searched.named_cutoffs or [searched.k]
        return {**differing, **({} if cutoff in (asked, *asked) else {"k": cutoff})}

    convention = min(CONVENTIONS, key=lambda name: len(changed(name)))
    return Combination(convention, changed(convention), score, {**given, "k": cutoff})
