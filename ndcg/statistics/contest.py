"""Compute the scores and pairs of several systems, for all queries and for slices."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from ..inputs.slices import Slices, Value
from ..measure.options import Options
from ..scores.progress import progress
from .independent import combine, mean_of_scores, welch
from .measured import (
    BySystem,
    Resampling,
    Scores,
    greatest_value,
    in_slices,
    make_score,
    query_figures,
    samples_of,
    score_system,
)
from .pairs import Pair, Testing, opponents
from .saved import Saved, add_figures_of_documents
from .significance import (
    ROUNDING,
    Interval,
    Power,
    Sample,
    detectable_t,
    differences,
    distance_beyond,
    intervals,
    paired_tests,
    power,
    t_test,
)


class ComparedSlice(NamedTuple):
    """How systems differ on the queries with the same value of `by`, or in the mean of slices.

    Attributes:
        queries: the number of these queries.
        scores: the scores by system, then by name.
        pairs: the pairs, by measure, corrected over all slices, or those of their mean.
    """

    queries: int
    scores: dict[str, Scores]
    pairs: tuple[Pair, ...]


class Contest(NamedTuple):
    """The settings of a comparison: options, baseline, intervals and tests."""

    options: Options
    baseline: str | None
    resampling: Resampling
    testing: Testing

    def results(
        self, columns: BySystem, slices: Slices, saved: Mapping[Value, Saved]
    ) -> dict[str, Any]:
        """Return the scores, pairs and slices of a comparison, and the mean of slices.

        `saved` has the scores of slices whose figures depend on documents, if `columns` lack these.
        """
        figures = {}
        for system, system_columns in columns.items():
            figures[system] = query_figures(system_columns, self.options.names)
        (compared,) = self.corrected([self.compared(figures)])
        by_slice, mean_of_slices = self.compared_slices(figures, slices, saved)
        return {
            "scores": compared.scores,
            "pairs": compared.pairs,
            "slices": by_slice,
            "mean_of_slices": mean_of_slices,
        }

    def compared_slices(
        self, figures: BySystem, slices: Slices, saved: Mapping[Value, Saved]
    ) -> tuple[dict[Value, ComparedSlice], ComparedSlice | None]:
        """Return the slices in which systems have two values, and their mean if these are all."""
        if not slices.values:
            return {}, None
        compared: dict[Value, ComparedSlice] = {}
        parts: dict[Value, BySystem] = {}
        by_system = {system: dict(in_slices(row, slices)) for system, row in figures.items()}
        with progress(len(slices.values), "Comparing", " slices") as bar:
            for value in slices.values:
                part = {system: by_value[value] for system, by_value in by_system.items()}
                first, *_ = part.values()
                # All systems leave out the same queries, with a weight of 0 as their last figure.
                if min(np.count_nonzero(first[name][-1]) for name in self.options.names) > 1:
                    compared[value] = self.compared(part)
                    parts[value] = part
                    if saved:
                        add_figures_of_documents(compared[value].scores, saved[value])
                bar.update(1)
        compared = dict(zip(compared, self.corrected(list(compared.values())), strict=True))
        # None is no slice, and the last one.
        parts.pop(None, None)
        if not parts or set(slices.values) - {None} - parts.keys():
            return compared, None
        (mean,) = self.corrected([self.mean_of_slices(list(parts.values()), compared)])
        return compared, mean

    def compared(self, columns: BySystem) -> ComparedSlice:
        """Return the comparison of systems by the figures of their queries, not yet corrected."""
        compare = self._paired if self.testing.paired else self._independent
        scores: dict[str, Scores] = {system: {} for system in columns}
        pairs: list[Pair] = []
        for name in self.options.names:
            pairs += compare(name, columns, scores)
        first, *_ = columns.values()
        return ComparedSlice(len(first["ideal"]), scores, tuple(pairs))

    def corrected(self, parts: Sequence[ComparedSlice]) -> list[ComparedSlice]:
        """Return comparisons whose p-values and intervals are corrected together."""
        pairs = [pair for part in parts for pair in part.pairs]
        corrected = iter(self.testing.corrected(pairs, self.resampling.confidence))
        return [part._replace(pairs=tuple(islice(corrected, len(part.pairs)))) for part in parts]

    def mean_of_slices(
        self, parts: Sequence[BySystem], compared: Mapping[Value, ComparedSlice]
    ) -> ComparedSlice:
        """Return the comparison of the means of slices, from their figures and comparisons.

        Each slice counts the same. Its queries share its weight in the randomization test.
        """
        testing = self.testing
        two_sided = testing.alternative == "two-sided"
        slices = list(compared.values())[: len(parts)]
        scores: dict[str, Scores] = {system: {} for system in parts[0]}
        pairs = []
        for name in self.options.names:
            samples = [self._sample(name, columns) for columns in parts]
            values = [sample.values * sample.scale for sample in samples]
            weights = [sample.weight / sample.weight.sum() for sample in samples]
            combined = combine(
                samples, greatest=greatest_value(name), confidence=self.resampling.confidence
            )
            for system, interval in zip(scores, combined, strict=False):
                slice_scores = [part.scores[system][name] for part in slices]
                scores[system][name] = mean_of_scores(name, slice_scores, interval)
            together = Sample.of(
                np.concatenate(values, axis=1),
                np.concatenate(weights),
                samples[0].pairs.T,
            )
            tested = self._tested(name, scores, together)
            for figures, interval in zip(tested, combined[len(scores) :], strict=True):
                error = interval.standard_error
                detectable = detectable_t(interval.freedom + 1, two_sided) * error
                if error <= ROUNDING * abs(interval.value):
                    # All differences of every slice are equal.
                    error, detectable = 0.0, math.nan
                beyond = distance_beyond(figures["difference"], testing.alternative, testing.margin)
                figures["p_t"] = t_test(beyond, error, interval.freedom, two_sided)
                pairs.append(self._pair(interval, Power(detectable, math.nan), **figures))
        return ComparedSlice(sum(part.queries for part in slices), scores, tuple(pairs))

    def _sample(self, name: str, columns: BySystem) -> Sample:
        """Return the values of one result, a row a system, and the pairs to compare."""
        systems = list(columns)
        values = np.array([figures[name][0] for figures in columns.values()])
        pairs = list(map(systems.index, chain(*opponents(systems, self.baseline))))
        return Sample.of(values, columns[systems[0]]["weight"], pairs)

    def _paired(self, name: str, columns: BySystem, scores: Mapping[str, Scores]) -> Iterator[Pair]:
        """Add the scores of one result to the systems' scores, and yield its pairs."""
        testing = self.testing
        sample = self._sample(name, columns)
        confidence = self.resampling.confidence
        rows = intervals(sample, greatest=greatest_value(name), confidence=confidence)
        for system, interval in zip(columns, rows, strict=False):
            scores[system][name] = make_score(name, columns[system][name], interval)
        powers = power(sample, alternative=testing.alternative, margin=testing.margin)
        tested = self._tested(name, scores, sample)
        # The intervals of the means come first, then the differences.
        for interval, strength, figures in zip(rows[len(columns) :], powers, tested, strict=True):
            yield self._pair(interval, strength, **figures)

    def _tested(
        self, name: str, scores: Mapping[str, Scores], sample: Sample
    ) -> Iterator[dict[str, Any]]:
        """Yield the difference of every pair, and what its tests and its queries tell."""
        testing = self.testing
        tests = paired_tests(
            sample,
            alternative=testing.alternative,
            margin=testing.margin,
            seed=self.resampling.seed,
        )
        systems = opponents(scores, self.baseline)
        columns = map(np.ndarray.tolist, tests)
        rows = zip(systems, sample.pairs.T, sample.by_query, *columns, strict=True)
        for (system, other), pair, by_query, p, p_t, exact, permutations in rows:
            wins = int(np.count_nonzero(by_query > 0))
            losses = int(np.count_nonzero(by_query < 0))
            yield {
                "measure": name,
                "system": system,
                "other": other,
                "difference": float(
                    differences(scores[system][name].value, scores[other][name].value)
                ),
                "least": sample.values[pair].min(),
                "p": p,
                "p_t": p_t,
                "wins": wins,
                "ties": len(by_query) - wins - losses,
                "losses": losses,
                "exact": exact,
                "permutations": permutations,
            }

    def _independent(
        self, name: str, columns: BySystem, scores: Mapping[str, Scores]
    ) -> Iterator[Pair]:
        """Add the scores of one result of systems with different queries, and yield its pairs."""
        confidence = self.resampling.confidence
        samples = {}
        for system, figures in columns.items():
            scores[system] |= score_system(figures, samples_of(figures, [name]), confidence)
            values = figures[name][0]
            samples[system] = values[~np.isnan(values)]
            if len(samples[system]) < 2:
                raise ValueError(
                    f"{system}: a comparison needs at least two queries that have a value; got 1"
                )
        for systems in opponents(columns, self.baseline):
            both = [samples[system] for system in systems]
            ends = [scores[system][name][1:3] for system in systems]
            interval, p, detectable = welch(
                both,
                ends,
                confidence=confidence,
                alternative=self.testing.alternative,
                margin=self.testing.margin,
            )
            yield self._pair(
                interval,
                Power(detectable, math.nan),
                measure=name,
                system=systems[0],
                other=systems[1],
                difference=interval.value,
                least=np.concatenate(both).min(),
                p=p,
                p_t=p,
            )

    def _pair(self, interval: Interval, strength: Power, *, least: float, **figures: Any) -> Pair:
        """Return a pair before Holm's correction; `least` is the lowest value of any query."""
        bound = greatest_value(figures["measure"])
        if least < 0:
            # A value is only negative if relevances are, and then its size has no bound.
            bound = math.inf
        difference = figures["difference"]
        detectable, needed = strength
        is_possible = detectable <= self.testing.margin + bound
        return Pair(
            # Rounding may put the difference just outside of its interval.
            low=min(difference, max(interval.low, -bound)),
            high=max(difference, min(interval.high, bound)),
            low_holm=-bound,
            high_holm=bound,
            p_holm=figures["p"],
            p_t_holm=figures["p_t"],
            standard_error=interval.standard_error,
            degrees_of_freedom=interval.freedom,
            min_detectable=detectable if is_possible else None,
            queries_needed=None if math.isnan(needed) else int(needed),
            **figures,
        )
