"""Compute the scores and pairs of several systems, for all queries and for slices."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.slices import Slices, Value
from ..measure.options import Options
from ..scores.progress import progress
from .measured import PerQuery, Resampling, Score, greatest_values, in_pieces, make_scores, plain_list, score_system
from .pairs import Pair, Testing
from .parts import Parts
from .significance import Intervals, differences, intervals, paired_tests, power
from .welch import welch

ScoresAndPairs = tuple[dict[str, dict[str, Score]], list[Pair]]  # scores by system and name, and pairs


class ComparedSlice(NamedTuple):
    """How systems differ on the queries with the same value of `by`.

    Attributes:
        queries: the number of these queries.
        scores: the scores by system, then by name.
        pairs: the pairs, by measure; Holm's correction covers the p-values of all slices.
    """

    queries: int
    scores: dict[str, dict[str, Score]]
    pairs: tuple[Pair, ...]


class Contest(NamedTuple):
    """The settings of a comparison: options, baseline, intervals and tests."""

    options: Options
    baseline: str | None
    resampling: Resampling
    testing: Testing

    def results(self, columns: Mapping[str, PerQuery], parts: Parts | None = None) -> list[ScoresAndPairs]:
        """Return the scores and pairs for each part of the queries, or for all queries, before Holm's correction."""
        weight = next(iter(columns.values())).get("weight")
        names = self.options.names
        values = np.stack([each[name] for each in columns.values() for name in names])
        row = {each: at for at, each in enumerate((system, name) for system in columns for name in names)}
        contests = self._contests(columns)
        pairs = [(row[one, name], row[other, name]) for name, one, other in contests]
        greatest, confidence = np.tile(greatest_values(self.options), len(columns)), self.resampling.confidence
        ends_of_intervals = intervals(values, weight, pairs, greatest=greatest, confidence=confidence, parts=parts)
        by_system = []
        for at, each in enumerate(columns.values()):
            of_system = Intervals(*(figures[at * len(names) : (at + 1) * len(names)] for figures in ends_of_intervals))
            by_system.append(make_scores(each, self.options, of_system, parts))
        results: list[ScoresAndPairs] = [
            (dict(zip(columns, of_part, strict=True)), []) for of_part in zip(*by_system, strict=True)
        ]
        of_pairs = Intervals(*(figures[len(values) :] for figures in ends_of_intervals))
        figures_of_pairs = self._figures(values, weight, pairs, of_pairs, parts)
        for contest, figures in zip(contests, figures_of_pairs, strict=True):
            name, *systems = contest
            means = (np.array([scores[each][name].value for scores, _ in results]) for each in systems)
            difference = differences(*means)
            ends = np.minimum(difference, figures["low"]), np.maximum(difference, figures["high"])
            columns_of_pair = {**figures, "difference": difference, "low": ends[0], "high": ends[1]}
            lists = [plain_list(columns_of_pair[field], missing=None) for field in Pair._fields[3:]]
            lists[-1] = [None if each is None else int(each) for each in lists[-1]]  # queries
            for (_, of_part), of_pair in zip(results, zip(*lists, strict=True), strict=True):
                of_part.append(Pair(*contest, *of_pair))
        return results

    def unpaired_results(self, columns: Mapping[str, PerQuery]) -> ScoresAndPairs:
        """Return the scores and pairs of systems with different queries, before Holm's correction."""
        confidence = self.resampling.confidence
        scores = {system: score_system(each, self.options, confidence)[0] for system, each in columns.items()}
        how: dict[str, Any] = {"alternative": self.testing.alternative, "margin": self.testing.margin}
        greatest = dict(zip(self.options.names, greatest_values(self.options).tolist(), strict=True))
        pairs = []
        for name, one, other in self._contests(columns):
            systems = (one, other)
            values = [columns[system][name] for system in systems]
            samples = [each[~np.isnan(each)] for each in values]
            for system, sample in zip(systems, samples, strict=True):
                if len(sample) < 2:
                    raise ValueError(f"{system}: a comparison needs at least two queries that have a value; got 1")
            ends = [(scores[system][name].low, scores[system][name].high) for system in systems]
            bound = math.inf if min(each.min() for each in samples) < 0 else greatest[name]
            found = welch(samples, ends, confidence=confidence, **how)
            figures = {
                **found,
                "low": max(found["low"], -bound),
                "high": min(found["high"], bound),
                "low_holm": -bound,
                "high_holm": bound,
                **dict.fromkeys(("p_holm", "p_t", "p_t_holm"), found["p"]),
                **dict.fromkeys(("wins", "ties", "losses", "queries_needed"), None),
                "exact": False,
                "permutations": 0,
            }
            if not found["min_detectable"] <= self.testing.margin + bound:
                figures["min_detectable"] = None
            pairs.append(Pair(name, one, other, **figures))
        return scores, pairs

    def _contests(self, systems: Iterable[str]) -> list[tuple[str, str, str]]:
        """Return each result with each pair of systems, or with each system and the baseline."""
        opponents = list(combinations(systems, 2))
        if self.baseline is not None:
            opponents = [(system, self.baseline) for system in systems if system != self.baseline]
        return [(name, *each) for name in self.options.names for each in opponents]

    def _figures(
        self,
        values: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        pairs: Sequence[tuple[int, int]],
        ends: Intervals,
        parts: Parts | None,
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield, for each pair of rows, the fields of a `Pair` that depend on the values, for each part."""
        how: dict[str, Any] = {"alternative": self.testing.alternative, "margin": self.testing.margin, "parts": parts}
        tests = paired_tests(values, weight, pairs, **how, seed=self.resampling.seed)
        powers = power(values, weight, pairs, **how)
        greatest = greatest_values(self.options)
        counted = np.ones(values.shape[1], bool) if weight is None else weight > 0
        whole = Parts([values.shape[1]]) if parts is None else parts
        for at, (one, other) in enumerate(pairs):
            by_query = differences(values[one], values[other])
            bound = greatest[one % len(greatest)]
            if (values[[one, other]] < 0).any():  # with negative relevances, differences have no bound
                bound = math.inf
            detectable = powers.min_detectable[at]
            counts = {"wins": by_query > 0, "ties": by_query == 0, "losses": by_query < 0}
            by_part = {
                **{name: each[at] for name, each in ends._asdict().items()},
                "low_holm": np.full(whole.number, -bound),
                "high_holm": np.full(whole.number, bound),
                "degrees_of_freedom": whole.sums(~np.isnan(by_query) & counted) - 1,
                "p": tests.randomization[at],
                "p_holm": tests.randomization[at],
                "p_t": tests.t_test[at],
                "p_t_holm": tests.t_test[at],
                **{name: whole.sums(each & counted) for name, each in counts.items()},
                "exact": tests.exact[at],
                "permutations": tests.permutations[at],
                "min_detectable": np.where(detectable <= self.testing.margin + bound, detectable, math.nan),
                "queries_needed": powers.queries_needed[at],
            }
            yield {name: each.reshape(-1) for name, each in by_part.items()}


def results_of(columns: Mapping[str, PerQuery], slices: Slices | None, contest: Contest) -> dict[str, Any]:
    """Return the scores, the pairs and the slices of a comparison, and its options of intervals and tests."""
    if contest.testing.paired:
        ((scores, pairs),) = contest.results(columns)
    else:
        scores, pairs = contest.unpaired_results(columns)
    pairs = contest.testing.corrected(pairs, contest.resampling.confidence)
    return {
        "scores": scores,
        "pairs": tuple(pairs),
        "resampling": contest.resampling._replace(exact=all(pair.exact for pair in pairs)),
        "slices": {} if slices is None else _compared_slices(contest, slices, columns),
    }


def _compared_slices(contest: Contest, slices: Slices, columns: Mapping[str, PerQuery]) -> dict[Value, ComparedSlice]:
    """Return the comparison of each slice in which every system has at least two values of each measure."""
    by_slice: dict[Value, tuple[int, ScoresAndPairs]] = {}
    weight = next(iter(columns.values())).get("weight")
    with progress(len(slices.values), "Comparing", " slices") as bar:
        for piece in in_pieces(slices):
            valued = ~np.isnan(
                [each[name][piece.queries] for each in columns.values() for name in contest.options.names]
            )
            valued &= True if weight is None else weight[piece.queries] > 0
            enough = np.min([piece.parts.sums(each) for each in valued], axis=0) > 1
            if enough.any():
                queries, sizes = piece.queries[piece.parts.of_queries(enough)], piece.parts.sizes[enough]
                own = {system: {name: each[queries] for name, each in of.items()} for system, of in columns.items()}
                results = contest.results(own, Parts(sizes))
                values = (value for value, is_kept in zip(piece.values, enough.tolist(), strict=True) if is_kept)
                by_slice |= zip(values, zip(sizes.tolist(), results, strict=True), strict=True)
            bar.update(len(piece.values))
    return corrected_slices(by_slice, contest.testing, contest.resampling.confidence)


def corrected_slices(
    by_slice: Mapping[Value, tuple[int, ScoresAndPairs]], testing: Testing, confidence: float
) -> dict[Value, ComparedSlice]:
    """Return slices, from their queries, scores and pairs, with p-values and intervals corrected together."""
    corrected = iter(testing.corrected([pair for _, (_, pairs) in by_slice.values() for pair in pairs], confidence))
    return {
        value: ComparedSlice(queries, scores, tuple(islice(corrected, len(pairs))))
        for value, (queries, (scores, pairs)) in by_slice.items()
    }
