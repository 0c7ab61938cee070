"""Compute the scores and pairs of several systems, for all queries and for slices."""

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..inputs.slices import Slices, Value
from ..measure.options import Options
from ..scores.progress import progress
from .measured import (
    PerQuery,
    Resampling,
    Score,
    greatest_value,
    in_slices,
    make_scores,
    query_figures,
    samples_of,
    score_system,
)
from .pairs import Pair, Testing, opponents
from .significance import (
    ROUNDING,
    Sample,
    Tests,
    detectable_t,
    differences,
    intervals,
    paired_tests,
    power,
)
from .slice_means import figures_of_documents, mean_of_scores, queries_in_slices
from .stratified import Combined, combine
from .welch import is_beyond, p_of_t, welch

# Scores by system and name, and pairs.
ScoresAndPairs = tuple[dict[str, dict[str, Score]], list[Pair]]


class ComparedSlice(NamedTuple):
    """How systems differ on the queries with the same value of `by`, or in the mean of slices.

    Attributes:
        queries: the number of these queries.
        scores: the scores by system, then by name.
        pairs: the pairs, by measure; Holm's correction covers the p-values of all slices, or those
            of their mean.
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
        """Return the scores and pairs of systems, before Holm's correction.

        `columns` are the figures of the queries of each system.
        """
        compare = self._compared if self.testing.paired else self._compared_samples
        scores: dict[str, dict[str, Score]] = {system: {} for system in columns}
        pairs: list[Pair] = []
        for name in self.options.names:
            scores_by_system, pairs_of_result = compare(name, columns)
            for system, score in scores_by_system.items():
                scores[system][name] = score
            pairs += pairs_of_result
        return scores, pairs

    def _compared(
        self, name: str, columns: Mapping[str, PerQuery]
    ) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result."""
        systems = list(columns)
        figures = np.array([columns[system][name] for system in systems])
        sample = self.sample(name, columns)
        confidence = self.resampling.confidence
        ends = intervals(sample, greatest=greatest_value(name), confidence=confidence)
        scores = make_scores(name, figures, ends)
        alternative, margin = self.testing.alternative, self.testing.margin
        seed = self.resampling.seed
        tests = paired_tests(sample, alternative=alternative, margin=margin, seed=seed)
        powers = power(sample, alternative=alternative, margin=margin)
        # without the nan of queries that have no value
        least = np.fmin.reduce(figures[:, 0], axis=1).tolist()
        pairs = []
        for row, (one, other) in enumerate(sample.pairs.T.tolist()):
            # The intervals of the differences follow those of the means.
            low, high, error = (float(column[len(systems) + row]) for column in ends)
            needed = float(powers.queries_needed[row])
            pair = self._pair(
                (name, systems[one], systems[other]),
                difference=float(differences(scores[one].value, scores[other].value)),
                ends=(low, high),
                standard_error=error,
                degrees_of_freedom=float(len(sample.weight) - 1),
                least=min(least[one], least[other]),
                p_t=float(tests.t_test[row]),
                **_figures_of_test(tests, sample, row),
                min_detectable=float(powers.min_detectable[row]),
                queries_needed=None if math.isnan(needed) else int(needed),
            )
            pairs.append(pair)
        return dict(zip(systems, scores, strict=True)), pairs

    def _pair(
        self,
        names: tuple[str, str, str],
        *,
        difference: float,
        ends: tuple[float, float],
        least: float,
        min_detectable: float,
        **figures: Any,
    ) -> Pair:
        """Return a pair before Holm's correction, of a measure and two systems.

        `least` is the lowest value of any query, and `min_detectable` is nan if it is unknown.
        """
        measure, system, other = names
        bound = greatest_value(measure)
        if least < 0:
            # A value is only negative if relevances are, and then its size has no bound.
            bound = math.inf
        low, high = ends
        if self.testing.paired:
            # Rounding may put the difference just outside of its interval.
            low, high = min(difference, low), max(difference, high)
        else:
            low, high = max(low, -bound), min(high, bound)
        is_possible = min_detectable <= self.testing.margin + bound
        return Pair(
            measure=measure,
            system=system,
            other=other,
            difference=difference,
            low=low,
            high=high,
            low_holm=-bound,
            high_holm=bound,
            p_holm=figures["p"],
            p_t_holm=figures["p_t"],
            min_detectable=min_detectable if is_possible else None,
            **figures,
        )

    def sample(self, name: str, columns: Mapping[str, PerQuery]) -> Sample:
        """Return the values of one result, with a row for each system, and the pairs to compare."""
        systems = list(columns)
        values = np.array([columns[system][name][0] for system in systems])
        pairs = [
            (systems.index(one), systems.index(other))
            for one, other in opponents(systems, self.baseline)
        ]
        return Sample.of(values, columns[systems[0]].get("weight"), pairs)

    def _compared_samples(
        self, name: str, columns: Mapping[str, PerQuery]
    ) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result of systems with different queries."""
        confidence = self.resampling.confidence
        scores = {}
        samples = {}
        for system, figures in columns.items():
            scores[system] = score_system(figures, samples_of(figures, [name]), confidence)[name]
            values = figures[name][0]
            samples[system] = values[~np.isnan(values)]
        pairs = []
        for systems in opponents(columns, self.baseline):
            both = [samples[system] for system in systems]
            for system, sample in zip(systems, both, strict=True):
                if len(sample) < 2:
                    problem = "a comparison needs at least two queries that have a value; got 1"
                    raise ValueError(f"{system}: {problem}")
            test = welch(
                both,
                [(scores[system].low, scores[system].high) for system in systems],
                confidence=confidence,
                alternative=self.testing.alternative,
                margin=self.testing.margin,
            )
            pair = self._pair(
                (name, *systems),
                difference=test["difference"],
                ends=(test["low"], test["high"]),
                standard_error=test["standard_error"],
                degrees_of_freedom=test["degrees_of_freedom"],
                least=min(sample.min() for sample in both),
                p=test["p"],
                p_t=test["p"],
                wins=None,
                ties=None,
                losses=None,
                exact=False,
                permutations=0,
                min_detectable=test["min_detectable"],
                queries_needed=None,
            )
            pairs.append(pair)
        return scores, pairs

    def mean_of_slices(
        self,
        slices: Sequence[Mapping[str, PerQuery]],
        scores_by_slice: Sequence[Mapping[str, Mapping[str, Score]]],
    ) -> ScoresAndPairs:
        """Return the means of slices and their pairs, from each slice's figures and scores.

        Each slice counts the same. Its queries share its weight in the randomization test.
        """
        systems = list(scores_by_slice[0])
        scores: dict[str, dict[str, Score]] = {system: {} for system in systems}
        pairs: list[Pair] = []
        for name in self.options.names:
            samples = [self.sample(name, columns) for columns in slices]
            combined = combine(
                samples,
                greatest=greatest_value(name),
                confidence=self.resampling.confidence,
            )
            for row, system in enumerate(systems):
                slice_scores = [slice_scores[system][name] for slice_scores in scores_by_slice]
                scores[system][name] = mean_of_scores(name, slice_scores, combined[row])
            together = Sample.of(
                np.concatenate([sample.values * sample.scale for sample in samples], axis=1),
                np.concatenate([sample.weight / sample.weight.sum() for sample in samples]),
                samples[0].pairs.T.tolist(),
            )
            means = {system: scores[system][name].value for system in systems}
            pairs += self._pairs_of_slices(name, means, together, combined[len(systems) :])
        return scores, pairs

    def _pairs_of_slices(
        self, name: str, means: Mapping[str, float], sample: Sample, combined: Sequence[Combined]
    ) -> list[Pair]:
        """Return the pairs of the mean of slices in one result, before Holm's correction."""
        testing = self.testing
        systems = list(means)
        tests = paired_tests(
            sample,
            alternative=testing.alternative,
            margin=testing.margin,
            seed=self.resampling.seed,
        )
        pairs = []
        for row, (one, other) in enumerate(sample.pairs.T.tolist()):
            mean = combined[row]
            difference = float(differences(means[systems[one]], means[systems[other]]))
            p_t, detectable = _t_test(difference - testing.tested, mean, testing.alternative)
            pair = self._pair(
                (name, systems[one], systems[other]),
                difference=difference,
                ends=(mean.low, mean.high),
                standard_error=mean.standard_error,
                degrees_of_freedom=mean.freedom,
                least=sample.values[[one, other]].min(),
                p_t=p_t,
                **_figures_of_test(tests, sample, row),
                min_detectable=detectable,
                queries_needed=None,
            )
            pairs.append(pair)
        return pairs


def results_of(
    columns: Mapping[str, PerQuery], slices: Slices | None, contest: Contest
) -> dict[str, Any]:
    """Return the scores, pairs and slices of a comparison, and its options of intervals."""
    figures = {
        system: query_figures(system_columns, contest.options.names)
        for system, system_columns in columns.items()
    }
    scores, pairs = contest.results(figures)
    pairs = contest.testing.corrected(pairs, contest.resampling.confidence)
    compared: dict[Value, ComparedSlice] = {}
    mean_of_slices = None
    if slices is not None:
        compared, mean_of_slices = _compared_slices(contest, slices, figures)
    return {
        "scores": scores,
        "pairs": tuple(pairs),
        "resampling": contest.resampling._replace(exact=all(pair.exact for pair in pairs)),
        "slices": compared,
        "mean_of_slices": mean_of_slices,
    }


def _compared_slices(
    contest: Contest, slices: Slices, figures: Mapping[str, PerQuery]
) -> tuple[dict[Value, ComparedSlice], ComparedSlice | None]:
    """Return the comparison of each slice in which systems have two values of each measure.

    The p-values and intervals of all slices are corrected together. With them comes the mean of
    slices, if all of them are compared.
    """
    compared: dict[Value, ComparedSlice] = {}
    named: list[dict[str, PerQuery]] = []
    parts = {system: dict(in_slices(columns, slices)) for system, columns in figures.items()}
    with progress(len(slices.values), "Comparing", " slices") as bar:
        for value in slices.values:
            part = {system: by_value[value] for system, by_value in parts.items()}
            first = next(iter(part.values()))
            # All systems leave out the same queries, with a weight of 0 as their last figure.
            if min(np.count_nonzero(first[name][-1]) for name in contest.options.names) > 1:
                scores, pairs = contest.results(part)
                compared[value] = ComparedSlice(len(first["ideal"]), scores, tuple(pairs))
                if value is not None:  # which is no slice
                    named.append(part)
            bar.update(1)
    confidence = contest.resampling.confidence
    all_pairs = [pair for compared_slice in compared.values() for pair in compared_slice.pairs]
    corrected = iter(contest.testing.corrected(all_pairs, confidence))
    for value, compared_slice in compared.items():
        pairs = list(islice(corrected, len(compared_slice.pairs)))
        compared[value] = compared_slice._replace(pairs=tuple(pairs))
    if not named or len(named) < sum(value is not None for value in slices.values):
        return compared, None
    scores_by_slice = [part.scores for value, part in compared.items() if value is not None]
    scores, pairs = contest.mean_of_slices(named, scores_by_slice)
    pairs = contest.testing.corrected(pairs, confidence)
    return compared, ComparedSlice(queries_in_slices(compared), scores, tuple(pairs))


def with_figures_of_slices(
    means: ComparedSlice | None, slices: Mapping[Value, ComparedSlice]
) -> ComparedSlice | None:
    """Return the mean of slices with the figures that depend on documents, from those of slices."""
    if means is None:
        return None
    named = [part.scores for value, part in slices.items() if value is not None]
    scores: dict[str, dict[str, Score]] = {}
    for system, system_scores in means.scores.items():
        scores[system] = {}
        for name, score in system_scores.items():
            figures = figures_of_documents([slice_scores[system][name] for slice_scores in named])
            scores[system][name] = score._replace(**figures)
    return means._replace(scores=scores)


def _figures_of_test(tests: Tests, sample: Sample, row: int) -> dict[str, Any]:
    """Return the figures of the randomization test of a pair, and on how many queries it wins."""
    by_query = sample.by_query[row]
    wins = int(np.count_nonzero(by_query > 0))
    losses = int(np.count_nonzero(by_query < 0))
    return {
        "p": float(tests.randomization[row]),
        "wins": wins,
        "ties": len(by_query) - wins - losses,
        "losses": losses,
        "exact": bool(tests.exact[row]),
        "permutations": int(tests.permutations[row]),
    }


def _t_test(beyond: float, mean: Combined, alternative: str) -> tuple[float, float]:
    """Return the p-value of a difference from the tested one, and the smallest that is found.

    This one is nan if it is unknown.
    """
    if mean.standard_error > ROUNDING * abs(mean.value):
        p = p_of_t(beyond / mean.standard_error, mean.freedom, alternative)
        t = detectable_t(mean.freedom + 1, alternative == "two-sided")
        return p, t * mean.standard_error
    # All differences of each slice are equal.
    if is_beyond(beyond, alternative):
        return 0.0, math.nan
    return 1.0, math.nan
