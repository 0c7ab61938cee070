"""Compute the scores and pairs of several systems, for all queries and for slices."""

import math
from collections.abc import Iterable, Mapping
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np

from ..inputs.slices import Slices, Value
from ..measure.options import Options
from ..scores.progress import progress
from .measured import PerQuery, Resampling, Score, greatest_value, in_mean, in_slices, make_score, score_result
from .pairs import Pair, Testing
from .significance import differences, intervals, paired_tests, power
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

    def results(self, columns: Mapping[str, PerQuery]) -> ScoresAndPairs:
        """Return the scores and pairs of systems, before Holm's correction."""
        compared = self._compared if self.testing.paired else self._compared_samples
        by_name = {name: compared(name, columns) for name in self.options.names}
        scores = {system: {name: of_name[system] for name, (of_name, _) in by_name.items()} for system in columns}
        return scores, [pair for _, pairs in by_name.values() for pair in pairs]

    def _compared(self, name: str, columns: Mapping[str, PerQuery]) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result."""
        weight, greatest = next(iter(columns.values())).get("weight"), greatest_value(name)
        values = np.array([each[name] for each in columns.values()])
        systems, opponents = list(columns), self._opponents(columns)
        pairs = [(systems.index(one), systems.index(other)) for one, other in opponents]
        ends = intervals(values, weight, pairs, greatest=greatest, confidence=self.resampling.confidence)
        of_rows = zip(*(end.tolist() for end in ends), strict=True)
        scores = {system: make_score(each, name, *next(of_rows)) for system, each in columns.items()}
        how: dict[str, Any] = {"alternative": self.testing.alternative, "margin": self.testing.margin}
        tests = paired_tests(values, weight, pairs, **how, seed=self.resampling.seed)
        powers = power(values, weight, pairs, **how)
        (one, other), means = np.transpose(pairs), np.array([score.value for score in scores.values()])
        least = np.fmin.reduce(values, axis=1)  # with negative relevances, differences have no bound
        bound = np.where(np.minimum(least[one], least[other]) < 0, np.inf, greatest)
        detectable = np.where(powers.min_detectable <= self.testing.margin + bound, powers.min_detectable, np.nan)
        counted = in_mean(next(iter(columns.values())), name)
        by_query, difference = (
            differences(values[one], values[other])[:, counted],
            differences(means[one], means[other]),
        )
        low, high, error = (end[len(systems) :] for end in ends)
        wins, losses = ((by_query * sign > 0).sum(axis=1) for sign in (1, -1))
        figures = {
            "difference": difference,
            "low": np.minimum(difference, low),
            "high": np.maximum(difference, high),
            "low_holm": -bound,
            "high_holm": bound,
            "standard_error": error,
            "degrees_of_freedom": np.full(len(pairs), by_query.shape[1] - 1),
            "p": tests.randomization,
            "p_holm": tests.randomization,
            "p_t": tests.t_test,
            "p_t_holm": tests.t_test,
            "wins": wins,
            "ties": by_query.shape[1] - wins - losses,
            "losses": losses,
            "exact": tests.exact,
            "permutations": tests.permutations,
            "min_detectable": [None if math.isnan(each) else each for each in detectable.tolist()],
            "queries_needed": [None if math.isnan(each) else int(each) for each in powers.queries_needed.tolist()],
        }
        of_pairs = zip(*(each if isinstance(each, list) else each.tolist() for each in figures.values()), strict=True)
        return scores, [
            Pair(name, *systems, **dict(zip(figures, of_pair, strict=True)))
            for systems, of_pair in zip(opponents, of_pairs, strict=True)
        ]

    def _compared_samples(self, name: str, columns: Mapping[str, PerQuery]) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result of systems with different queries."""
        confidence, testing = self.resampling.confidence, self.testing
        scores = {system: score_result(each, name, confidence) for system, each in columns.items()}
        samples = {system: each[name][~np.isnan(each[name])] for system, each in columns.items()}
        pairs = []
        for systems in self._opponents(columns):
            of_both = [samples[system] for system in systems]
            for system, sample in zip(systems, of_both, strict=True):
                if len(sample) < 2:
                    raise ValueError(f"{system}: a comparison needs at least two queries that have a value; got 1")
            ends = [(scores[system].low, scores[system].high) for system in systems]
            bound = math.inf if min(each.min() for each in of_both) < 0 else greatest_value(name)
            found = welch(of_both, ends, confidence=confidence, alternative=testing.alternative, margin=testing.margin)
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
            if not found["min_detectable"] <= testing.margin + bound:
                figures["min_detectable"] = None
            pairs.append(Pair(name, *systems, **figures))
        return scores, pairs

    def _opponents(self, systems: Iterable[str]) -> list[tuple[str, str]]:
        """Return each pair of systems, or each system with the baseline."""
        if self.baseline is None:
            return list(combinations(systems, 2))
        return [(system, self.baseline) for system in systems if system != self.baseline]


def results_of(columns: Mapping[str, PerQuery], slices: Slices | None, contest: Contest) -> dict[str, Any]:
    """Return the scores, the pairs and the slices of a comparison, and its options of intervals and tests."""
    scores, pairs = contest.results(columns)
    pairs = contest.testing.corrected(pairs, contest.resampling.confidence)
    return {
        "scores": scores,
        "pairs": tuple(pairs),
        "resampling": contest.resampling._replace(exact=all(pair.exact for pair in pairs)),
        "slices": {} if slices is None else _compared_slices(contest, slices, columns),
    }


def _compared_slices(contest: Contest, slices: Slices, columns: Mapping[str, PerQuery]) -> dict[Value, ComparedSlice]:
    """Return the comparison of each slice in which every system has at least two values of each measure.

    The p-values and intervals of all slices are corrected together.
    """
    by_slice: dict[Value, tuple[int, ScoresAndPairs]] = {}
    with progress(len(slices.values), "Comparing", " slices") as bar:
        for of_systems in zip(*(in_slices(each, slices) for each in columns.values()), strict=True):
            value, first = of_systems[0]
            if min(np.count_nonzero(in_mean(first, name)) for name in contest.options.names) > 1:
                own = {system: each for system, (_, each) in zip(columns, of_systems, strict=True)}
                by_slice[value] = len(first["ideal"]), contest.results(own)
            bar.update(1)
    pairs = [pair for _, (_, of_slice) in by_slice.values() for pair in of_slice]
    corrected = iter(contest.testing.corrected(pairs, contest.resampling.confidence))
    return {
        value: ComparedSlice(queries, scores, tuple(islice(corrected, len(of_slice))))
        for value, (queries, (scores, of_slice)) in by_slice.items()
    }
