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
    detectable_t,
    differences,
    intervals,
    paired_tests,
    power,
)
from .slice_means import figures_of_documents, mean_of_scores, queries_in_slices
from .stratified import Combined, combine
from .welch import p_of_t, welch

ScoresAndPairs = tuple[
    dict[str, dict[str, Score]], list[Pair]
]  # scores by system and name, and pairs


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
        """Return the scores and pairs of systems, from the figures of their queries, before Holm's correction."""
        compared = self._compared if self.testing.paired else self._compared_samples
        by_name = {name: compared(name, columns) for name in self.options.names}
        scores = {
            system: {name: of_name[system] for name, (of_name, _) in by_name.items()}
            for system in columns
        }
        return scores, [pair for _, pairs in by_name.values() for pair in pairs]

    def _compared(
        self, name: str, columns: Mapping[str, PerQuery]
    ) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result."""
        systems, of_systems = list(columns), np.array([each[name] for each in columns.values()])
        values, greatest = of_systems[:, 0], greatest_value(name)
        sample = self.sample(name, columns)
        rows = sample.pairs.T.tolist()
        ends = intervals(sample, greatest=greatest, confidence=self.resampling.confidence)
        scores = make_scores(name, of_systems, ends)
        how: dict[str, Any] = {
            "alternative": self.testing.alternative,
            "margin": self.testing.margin,
        }
        tests, powers = paired_tests(sample, **how, seed=self.resampling.seed), power(sample, **how)
        least, queries, pairs = np.fmin.reduce(values, axis=1).tolist(), len(sample.weight), []
        arrays = (*(each[len(systems) :] for each in ends), *tests, *powers)
        of_pairs = zip(rows, sample.by_query, *(each.tolist() for each in arrays), strict=True)
        for (
            one,
            other,
        ), by_query, low, high, error, p, p_t, exact, permutations, detectable, needed in of_pairs:
            difference = float(differences(scores[one].value, scores[other].value))
            bound = (
                math.inf if min(least[one], least[other]) < 0 else greatest
            )  # as of negative relevances
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
                degrees_of_freedom=float(queries - 1),
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

    def sample(self, name: str, columns: Mapping[str, PerQuery]) -> Sample:
        """Return the values of one result, with a row for each system and the pairs that are compared."""
        systems, values = list(columns), np.array([each[name][0] for each in columns.values()])
        rows = [
            (systems.index(one), systems.index(other))
            for one, other in opponents(systems, self.baseline)
        ]
        return Sample.of(values, columns[systems[0]].get("weight"), rows)

    def _compared_samples(
        self, name: str, columns: Mapping[str, PerQuery]
    ) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result of systems with different queries."""
        confidence, testing = self.resampling.confidence, self.testing
        scores = {
            system: score_system(each, samples_of(each, [name]), confidence)[name]
            for system, each in columns.items()
        }
        samples = {
            system: each[name][0][~np.isnan(each[name][0])] for system, each in columns.items()
        }
        pairs = []
        for systems in opponents(columns, self.baseline):
            of_both = [samples[system] for system in systems]
            for system, sample in zip(systems, of_both, strict=True):
                if len(sample) < 2:
                    raise ValueError(
                        f"{system}: a comparison needs at least two queries that have a value; got 1"
                    )
            ends = [(scores[system].low, scores[system].high) for system in systems]
            bound = math.inf if min(each.min() for each in of_both) < 0 else greatest_value(name)
            found = welch(
                of_both,
                ends,
                confidence=confidence,
                alternative=testing.alternative,
                margin=testing.margin,
            )
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

    def mean_of_slices(
        self,
        slices: Sequence[Mapping[str, PerQuery]],
        of_slices: Sequence[Mapping[str, Mapping[str, Score]]],
    ) -> ScoresAndPairs:
        """Return the means of slices and their pairs, from the figures of each slice and its scores.

        Each slice counts the same. Its queries share its weight in the randomization test.
        """
        scores: dict[str, dict[str, Score]] = {system: {} for system in of_slices[0]}
        pairs: list[Pair] = []
        for name in self.options.names:
            samples = [self.sample(name, columns) for columns in slices]
            greatest, confidence = greatest_value(name), self.resampling.confidence
            combined = combine(samples, greatest=greatest, confidence=confidence)
            of_systems, of_pairs = combined[: len(scores)], combined[len(scores) :]
            for system, of_system in zip(scores, of_systems, strict=True):
                means = [of_slice[system][name] for of_slice in of_slices]
                scores[system][name] = mean_of_scores(name, means, of_system)
            together = Sample.of(
                np.concatenate([sample.values * sample.scale for sample in samples], axis=1),
                np.concatenate([sample.weight / sample.weight.sum() for sample in samples]),
                samples[0].pairs.T.tolist(),
            )
            of_name = {system: of_system[name] for system, of_system in scores.items()}
            pairs += self._pairs_of_slices(name, of_name, together, of_pairs)
        return scores, pairs

    def _pairs_of_slices(
        self, name: str, scores: Mapping[str, Score], sample: Sample, combined: Sequence[Combined]
    ) -> list[Pair]:
        """Return the pairs of the mean of slices in one result, before Holm's correction."""
        testing, systems = self.testing, list(scores)
        tests = paired_tests(
            sample,
            alternative=testing.alternative,
            margin=testing.margin,
            seed=self.resampling.seed,
        )
        pairs = []
        of_pairs = zip(sample.pairs.T.tolist(), sample.by_query, combined, *tests, strict=True)
        for (one, other), by_query, mean, p, _, exact, permutations in of_pairs:
            means = np.array([scores[systems[one]].value, scores[systems[other]].value])
            difference = float(differences(means[0], means[1]))
            bound = math.inf if sample.values[[one, other]].min() < 0 else greatest_value(name)
            p_t, detectable = _t_test(difference - testing.tested, mean, testing.alternative)
            wins, losses = (int(np.count_nonzero(each)) for each in (by_query > 0, by_query < 0))
            pair = Pair(
                measure=name,
                system=systems[one],
                other=systems[other],
                difference=difference,
                low=min(difference, mean.low),
                high=max(difference, mean.high),
                low_holm=-bound,
                high_holm=bound,
                standard_error=mean.standard_error,
                degrees_of_freedom=mean.freedom,
                p=float(p),
                p_holm=float(p),
                p_t=p_t,
                p_t_holm=p_t,
                wins=wins,
                ties=len(by_query) - wins - losses,
                losses=losses,
                exact=bool(exact),
                permutations=int(permutations),
                min_detectable=detectable if detectable <= testing.margin + bound else None,
                queries_needed=None,
            )
            pairs.append(pair)
        return pairs


def results_of(
    columns: Mapping[str, PerQuery], slices: Slices | None, contest: Contest
) -> dict[str, Any]:
    """Return the scores, the pairs and the slices of a comparison, and its options of intervals and tests."""
    figures = {
        system: query_figures(each, contest.options.names) for system, each in columns.items()
    }
    scores, pairs = contest.results(figures)
    pairs = contest.testing.corrected(pairs, contest.resampling.confidence)
    return {
        "scores": scores,
        "pairs": tuple(pairs),
        "resampling": contest.resampling._replace(exact=all(pair.exact for pair in pairs)),
        "slices": {},
        "mean_of_slices": None,
        **({} if slices is None else _compared_slices(contest, slices, figures)),
    }


def _compared_slices(
    contest: Contest, slices: Slices, figures: Mapping[str, PerQuery]
) -> dict[str, Any]:
    """Return the comparison of each slice in which every system has at least two values of each measure.

    The p-values and intervals of all slices are corrected together. With them comes the mean of
    slices, if all of them are compared.
    """
    by_slice: dict[Value, tuple[int, ScoresAndPairs]] = {}
    named: list[dict[str, PerQuery]] = []
    with progress(len(slices.values), "Comparing", " slices") as bar:
        for of_systems in zip(*(in_slices(each, slices) for each in figures.values()), strict=True):
            value, first = of_systems[0]
            if min(np.count_nonzero(first[name][-1]) for name in contest.options.names) > 1:
                own = {system: each for system, (_, each) in zip(figures, of_systems, strict=True)}
                by_slice[value] = len(first["ideal"]), contest.results(own)
                if value is not None:
                    named.append(own)
            bar.update(1)
    pairs = [pair for _, (_, of_slice) in by_slice.values() for pair in of_slice]
    corrected = iter(contest.testing.corrected(pairs, contest.resampling.confidence))
    compared = {
        value: ComparedSlice(queries, scores, tuple(islice(corrected, len(of_slice))))
        for value, (queries, (scores, of_slice)) in by_slice.items()
    }
    means = None
    if named and len(named) == sum(value is not None for value in slices.values):
        of_slices = [part.scores for value, part in compared.items() if value is not None]
        scores, pairs = contest.mean_of_slices(named, of_slices)
        pairs = contest.testing.corrected(pairs, contest.resampling.confidence)
        means = ComparedSlice(queries_in_slices(compared), scores, tuple(pairs))
    return {"slices": compared, "mean_of_slices": means}


def with_figures_of_slices(
    means: ComparedSlice | None, slices: Mapping[Value, ComparedSlice]
) -> ComparedSlice | None:
    """Return the mean of slices with the figures of its scores that depend on documents, from those of the slices."""
    if means is None:
        return None
    named = [part.scores for value, part in slices.items() if value is not None]
    scores = {
        system: {
            name: score._replace(
                **figures_of_documents([of_slice[system][name] for of_slice in named])
            )
            for name, score in of_system.items()
        }
        for system, of_system in means.scores.items()
    }
    return means._replace(scores=scores)


def _t_test(beyond: float, mean: Combined, alternative: str) -> tuple[float, float]:
    """Return the p-value of a difference from the tested one, and the smallest that the test finds; nan if unknown."""
    if mean.standard_error > ROUNDING * abs(mean.value):
        t = beyond / mean.standard_error
        detectable = (
            detectable_t(mean.freedom + 1, alternative == "two-sided") * mean.standard_error
        )
        return p_of_t(t, mean.freedom, alternative), detectable
    # all differences of each slice are equal
    is_beyond = {"two-sided": beyond != 0, "greater": beyond > 0, "less": beyond < 0}[alternative]
    return (0.0 if is_beyond else 1.0), math.nan
