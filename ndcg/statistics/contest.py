"""Compute the scores and pairs of several systems, for all queries and for slices."""

import math
from collections.abc import Iterable, Mapping
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np

from ..inputs.slices import Slices, Value
from ..measure.options import Options
from ..scores.progress import progress
from .measured import PerQuery, Resampling, Score, greatest_value, in_slices, make_scores, query_figures, score_result
from .pairs import Pair, Testing
from .significance import Sample, differences, intervals, paired_tests, power
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
        """Return the scores and pairs of systems, from the figures of their queries, before Holm's correction."""
        compared = self._compared if self.testing.paired else self._compared_samples
        by_name = {name: compared(name, columns) for name in self.options.names}
        scores = {system: {name: of_name[system] for name, (of_name, _) in by_name.items()} for system in columns}
        return scores, [pair for _, pairs in by_name.values() for pair in pairs]

    def _compared(self, name: str, columns: Mapping[str, PerQuery]) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result."""
        systems, of_systems = list(columns), np.array([each[name] for each in columns.values()])
        rows = [(systems.index(one), systems.index(other)) for one, other in self._opponents(systems)]
        values, greatest = of_systems[:, 0], greatest_value(name)
        sample = Sample.of(values, columns[systems[0]].get("weight"), rows)
        ends = intervals(sample, greatest=greatest, confidence=self.resampling.confidence)
        scores = make_scores(name, of_systems, ends)
        how: dict[str, Any] = {"alternative": self.testing.alternative, "margin": self.testing.margin}
        tests, powers = paired_tests(sample, **how, seed=self.resampling.seed), power(sample, **how)
        least, queries, pairs = np.fmin.reduce(values, axis=1).tolist(), len(sample.weight), []
        arrays = (*(each[len(systems) :] for each in ends), *tests, *powers)
        of_pairs = zip(rows, sample.by_query, *(each.tolist() for each in arrays), strict=True)
        for (one, other), by_query, low, high, error, p, p_t, exact, permutations, detectable, needed in of_pairs:
            difference = float(differences(scores[one].value, scores[other].value))
            bound = math.inf if min(least[one], least[other]) < 0 else greatest  # as of negative relevances
            wins, losses = (int(np.count_nonzero(each)) for each in (by_query > 0, by_query < 0))
            pair = Pair(
                measure=name,
                system=systems[one],
                other=systems[other],
                difference=difference,
                low=min(difference, low),
                high=max(difference, high),
                low_holm=-bound,
                high_holm=bound,
                standard_error=error,
                degrees_of_freedom=queries - 1,
                p=p,
                p_holm=p,
                p_t=p_t,
                p_t_holm=p_t,
                wins=wins,
                ties=queries - wins - losses,
                losses=losses,
                exact=exact,
                permutations=permutations,
                min_detectable=detectable if detectable <= self.testing.margin + bound else None,
                queries_needed=None if math.isnan(needed) else int(needed),
            )
            pairs.append(pair)
        return dict(zip(systems, scores, strict=True)), pairs

    def _compared_samples(self, name: str, columns: Mapping[str, PerQuery]) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result of systems with different queries."""
        confidence, testing = self.resampling.confidence, self.testing
        scores = {system: score_result(each, name, confidence) for system, each in columns.items()}
        samples = {system: each[name][0][~np.isnan(each[name][0])] for system, each in columns.items()}
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
    figures = {system: query_figures(each, contest.options.names) for system, each in columns.items()}
    scores, pairs = contest.results(figures)
    pairs = contest.testing.corrected(pairs, contest.resampling.confidence)
    return {
        "scores": scores,
        "pairs": tuple(pairs),
        "resampling": contest.resampling._replace(exact=all(pair.exact for pair in pairs)),
        "slices": {} if slices is None else _compared_slices(contest, slices, figures),
    }


def _compared_slices(contest: Contest, slices: Slices, figures: Mapping[str, PerQuery]) -> dict[Value, ComparedSlice]:
    """Return the comparison of each slice in which every system has at least two values of each measure.

    The p-values and intervals of all slices are corrected together.
    """
    by_slice: dict[Value, tuple[int, ScoresAndPairs]] = {}
    with progress(len(slices.values), "Comparing", " slices") as bar:
        for of_systems in zip(*(in_slices(each, slices) for each in figures.values()), strict=True):
            value, first = of_systems[0]
            if min(np.count_nonzero(first[name][-1]) for name in contest.options.names) > 1:
                own = {system: each for system, (_, each) in zip(figures, of_systems, strict=True)}
                by_slice[value] = len(first["ideal"]), contest.results(own)
            bar.update(1)
    pairs = [pair for _, (_, of_slice) in by_slice.values() for pair in of_slice]
    corrected = iter(contest.testing.corrected(pairs, contest.resampling.confidence))
    return {
        value: ComparedSlice(queries, scores, tuple(islice(corrected, len(of_slice))))
        for value, (queries, (scores, of_slice)) in by_slice.items()
    }
