"""The combinations of options that give scores which somebody reported: for papers with code of their own.

Rankings are read once for each way of reading them and scored once for each gain, discount, ideal and order of ties, at
all cutoffs at once. What differs only in how queries are averaged follows from the values of the queries.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.rankings import Rankings
from ..measure.arguments import OPTIONS
from ..measure.conventions import CONVENTIONS
from ..measure.options import Options, result_name
from ..measure.ties import Floats
from ..scores.queries import UserTerms, progress, score_part

USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)
WIDER = 100  # how many times as wide the range is in which scores are counted, to tell how many match by chance


class Evidence(NamedTuple):
    """A reported score, or the reported values of all queries.

    Attributes:
        scores: the mean, as an array of one, or the value of each query; nan for a query without one.
        precision: what a match may differ by.
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
    """

    convention: str
    changed: dict[str, Any]
    score: float

    @property
    def call(self) -> str:
        """The options as Python takes them.

        >>> Combination("rectools", {"gain": "exponential", "k": 20}, 0.283).call
        "convention='rectools', gain='exponential', k=20"
        """
        return ", ".join(f"{name}={value!r}" for name, value in {"convention": self.convention, **self.changed}.items())

    @property
    def flags(self) -> str:
        """The options as the shell takes them.

        >>> Combination("rectools", {"judged_only": True, "k": None}, 0.283).flags
        '--convention rectools --judged-only -k all'
        """
        words = [f"--convention {self.convention}"]
        for name, value in self.changed.items():
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            words.append(flag if value is True else f"{flag} {'all' if value is None else value}")
        return " ".join(words)

    def __str__(self) -> str:
        if not self.changed:
            return self.convention
        changed = [f"{name}={'the whole list' if value is None else value}" for name, value in self.changed.items()]
        return f"{self.convention}, but {' and '.join(changed)}"


class SearchResult(NamedTuple):
    """What a search found.

    Attributes:
        combinations: those that match, with the fewest changes of a convention first.
        tried: the number of combinations that were tried.
        by_chance: how many of these would match by chance, from the scores near the reported one; nan if unknown.
    """

    combinations: tuple[Combination, ...]
    tried: int
    by_chance: float


def search(
    read: Callable[[Options], Rankings],
    given: Mapping[str, Any],
    k: int | None,
    weight: Floats | None,
    evidence: Sequence[Evidence],
) -> SearchResult:
    """Try every combination of the options that are not given.

    Args:
        read: returns the rankings under some options.
        given: the options that are known.
        k: the cutoff that was asked for.
        weight: the weight of each query.
        evidence: what was reported; a combination must match all of it.
    """
    grids = _grids(read, given, k)
    cutoffs = _cutoffs(k, evidence)
    kernels = [
        (grid, {"score_dtype": score_dtype, **dict(zip(KERNEL, values, strict=True))})
        for score_dtype, grid in grids.items()
        for values in product(*(grid[name] for name in KERNEL))
    ]
    found: list[Combination] = []
    tried, near, named = 0, 0, any(each.cutoff for each in evidence)
    with progress(len(kernels), "Searching", " combinations") as bar:
        for grid, chosen in kernels:
            bar.update(1)
            try:
                scored = _scored_at(read, {**given, **chosen, "zero_division": np.nan}, cutoffs)
            except ValueError:  # these rankings have no score by it, as the answers of the conventions say
                continue
            for averaging, of_queries in _averaged(scored, grid):
                means = means_of(of_queries, weight)
                rows, wide = matching_cutoffs(of_queries, means, cutoffs, evidence)
                tried, near = tried + (1 if named else len(cutoffs)), near + wide
                for row in rows:
                    options = {**chosen, **averaging}
                    found.append(_nearest(options, cutoffs[row], k, given, grid, float(means[row])))
    found.sort(key=lambda each: (len(each.changed), list(CONVENTIONS).index(each.convention)))
    are_values = any(each.of_queries for each in evidence)
    return SearchResult(tuple(found), tried, np.nan if are_values else near / WIDER ** len(evidence))


KERNEL = ("gain", "discount", "ideal", "ties", "negative_relevance", "judged_only")


class ScoredAt(NamedTuple):
    """The values of queries at each cutoff, and what tells how they are averaged.

    Attributes:
        values: of shape (cutoffs, queries); nan for a query with no relevant documents.
        missing: the queries that are missing from the run.
        retrieved: the queries for which something was retrieved.
    """

    values: Floats
    missing: NDArray[np.bool_]
    retrieved: NDArray[np.bool_]


def _scored_at(
    read: Callable[[Options], Rankings], chosen: Mapping[str, Any], cutoffs: Sequence[int | None]
) -> ScoredAt:
    """Score rankings at all cutoffs; an ideal that is full has no value without one."""
    full = Options.parse(**{**chosen, "k": 1}).ideal == "full"
    known = [cutoff for cutoff in cutoffs if not (full and cutoff is None)]
    options = Options.parse(measures=[result_name("nDCG", cutoff) for cutoff in known], **chosen)
    rankings = read(options)
    with UserTerms(rankings):
        scored = score_part(rankings, options)["nDCG"]
    values = np.full((len(cutoffs), rankings.queries), np.nan)
    for (_, _, row), cutoff in zip(options.results, known, strict=True):
        values[cutoffs.index(cutoff)] = scored[row]
    missing = rankings.empty() if rankings.missing is None else rankings.empty() | rankings.missing
    return ScoredAt(values, missing, rankings.counts()["retrieved"] > 0)


def conventions_with(
    read: Callable[[Options], Rankings],
    given: Mapping[str, Any],
    k: int | None,
    weight: Floats | None,
    evidence: Sequence[Evidence],
) -> dict[str, tuple[bool, NDArray[np.bool_]]]:
    """Return for each convention whether it matches all evidence, and which queries agree with the values reported."""
    cutoffs = list(dict.fromkeys(cutoff for each in evidence for cutoff in each.cutoff or (k,)))
    found = {}
    for name in CONVENTIONS:
        try:
            values = _scored_at(read, {**given, "convention": name}, cutoffs).values
        except ValueError:  # the explanation says why it has no score
            continue
        agreeing = np.ones(values.shape[1], bool)
        for each in evidence:
            if each.of_queries:
                agreeing &= _near(values[0], each)
        found[name] = bool(matching_cutoffs(values, means_of(values, weight), cutoffs, evidence)[0]), agreeing
    return found


def _near(values: Floats, evidence: Evidence) -> NDArray[np.bool_]:
    return np.isclose(values, evidence.scores, rtol=0, atol=evidence.precision, equal_nan=True)


def means_of(values: Floats, weight: Floats | None) -> Floats:
    """Return the mean at each cutoff over the queries that have a value."""
    shares = np.ones(values.shape[1]) if weight is None else weight
    has_value = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((np.where(has_value, values, 0) @ shares) / (has_value @ shares))


def _averaged(scored: ScoredAt, grid: Mapping[str, Sequence[Any]]) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield each way of averaging with the values of the queries at all cutoffs."""
    for zero_division, missing in product(grid["zero_division"], grid["missing"]):
        empty = np.where(scored.retrieved, 0.0, 1.0) if zero_division == "rightly_empty" else float(zero_division)
        without = np.isnan(scored.values) & ~np.isnan(scored.values).all(axis=1, keepdims=True)  # not an unknown cutoff
        values = np.where(without, empty, scored.values)
        yield (
            {"zero_division": zero_division, "missing": missing},
            np.where(scored.missing, np.nan, values) if missing == "skip" else values,
        )


def matching_cutoffs(
    values: Floats, means: Floats, cutoffs: Sequence[int | None], evidence: Sequence[Evidence]
) -> tuple[list[int], int]:
    """Return the rows of the cutoffs at which all evidence matches, and how many match a wider range."""
    matches, wide = np.ones((2, len(cutoffs)), bool)
    for each in evidence:
        rows = [cutoffs.index(each.cutoff[0])] * len(cutoffs) if each.cutoff else list(range(len(cutoffs)))
        if each.of_queries:
            near = np.array([_near(values[row], each).all() for row in rows])
            matches, wide = matches & near, wide & near
        else:
            away = np.abs(means[rows] - each.scores[0])
            matches, wide = matches & (away <= each.precision), wide & (away <= WIDER * each.precision)
    if any(each.cutoff for each in evidence):  # then the cutoffs are known, and there is one answer for all of them
        matches[1:] = wide[1:] = False
    return np.flatnonzero(matches).tolist(), int(np.count_nonzero(wide))


def _grids(
    read: Callable[[Options], Rankings], given: Mapping[str, Any], k: int | None
) -> dict[str, dict[str, Sequence[Any]]]:
    """Return for each type of scores that makes other ties the values of the options that may make a difference."""
    known = given.get("score_dtype")
    grids: dict[str, dict[str, Sequence[Any]]] = {}
    ties = set()
    for score_dtype in OPTIONS["score_dtype"].words if known is None else (known,):
        try:
            rankings = read(Options.parse(k=k, **{**given, "score_dtype": score_dtype}))
        except ValueError:  # a score is too large for the type
            continue
        if (tied := _tied_scores(rankings)) not in ties:
            ties.add(tied)
            grids[score_dtype] = _grid(rankings, given)
    return {score_dtype: {**grid, "score_dtype": tuple(grids)} for score_dtype, grid in grids.items()}


def _grid(rankings: Rankings, given: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Return the values of each option that may make a difference to these rankings."""
    counts = rankings.counts()
    judged = np.ones(len(rankings.relevance), bool) if rankings.judged is None else rankings.judged
    has_negative = bool((rankings.relevance[judged] < 0).any())
    missing = rankings.empty() if rankings.missing is None else rankings.empty() | rankings.missing
    has_empty = bool((counts["relevant"] == 0).any()) or has_negative
    grid: dict[str, Sequence[Any]] = {
        "gain": tuple(OPTIONS["gain"].words),
        "discount": tuple(OPTIONS["discount"].words),
        "ideal": tuple(OPTIONS["ideal"].words),
        "ties": tuple(OPTIONS["ties"].words) if _tied_scores(rankings) else ("average",),
        "negative_relevance": ("clip", "keep") if has_negative else ("clip",),
        "judged_only": (False, True) if not judged.all() else (False,),
        "zero_division": (0.0, 1.0, np.nan, "rightly_empty") if has_empty else (0.0,),
        "missing": ("empty", "skip") if missing.any() else ("empty",),
    }
    return {name: (given[name],) if given.get(name) is not None else values for name, values in grid.items()}


def _tied_scores(rankings: Rankings) -> int:
    """Return how many retrieved documents have the score of another one of their query, but for one of each score."""
    retrieved = rankings.score > -np.inf
    if rankings.retrieved is not None:
        retrieved &= rankings.retrieved
    query = np.repeat(np.arange(rankings.queries), np.diff(rankings.offsets))[retrieved]
    score = rankings.score[retrieved]
    order = np.lexsort((score, query))
    query, score = query[order], score[order]
    return int(np.count_nonzero((query[1:] == query[:-1]) & (score[1:] == score[:-1])))


def _cutoffs(k: int | None, evidence: Sequence[Evidence]) -> list[int | None]:
    named = [cutoff for each in evidence for cutoff in each.cutoff]
    if named:
        return list(dict.fromkeys(named))
    near: list[int | None] = [None] if k is None else [each for each in (k, k + 1, k - 1) if each > 0]
    return list(dict.fromkeys([*near, *USUAL_CUTOFFS]))


def _nearest(
    chosen: Mapping[str, Any],
    cutoff: int | None,
    k: int | None,
    given: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]],
    score: float,
) -> Combination:
    """Return a combination by the convention that differs from it in the fewest options."""

    def changed(convention: str) -> dict[str, Any]:
        usual = {**CONVENTIONS[convention].options, "judged_only": False}
        differing = {
            name: value
            for name, value in chosen.items()
            if len(grid[name]) > 1 and name not in given and repr(value) != repr(usual[name])
        }
        return {**differing, **({"k": cutoff} if cutoff != k else {})}

    convention = min(CONVENTIONS, key=lambda name: len(changed(name)))
    return Combination(convention, changed(convention), score)
