"""How often intervals hold the true value, and their widths, into benchmarks/SIMULATIONS.md.

    python benchmarks/simulations.py           # everything; 10 to 12 minutes on two cores
    python benchmarks/simulations.py --quick   # few repetitions, printed; seconds

Each cell draws many samples of queries from a distribution with a known mean. Other methods
get the same samples; percentile and BCa are those of ``scipy.stats.bootstrap``. An interval that
is not a number, as BCa's is if all values are the same, does not contain the true value.
"""

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from ndcg.measure.options import Options  # noqa: E402
from ndcg.statistics import significance  # noqa: E402
from ndcg.statistics.contest import Contest  # noqa: E402
from ndcg.statistics.independent import combine, welch  # noqa: E402
from ndcg.statistics.measured import NO_SLICES, Resampling  # noqa: E402
from ndcg.statistics.pairs import Testing  # noqa: E402
from ndcg.statistics.significance import (  # noqa: E402
    LEVEL,
    Interval,
    Sample,
    differences,
    intervals,
    is_regression,
    paired_tests,
)

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

CONFIDENCE = 0.95
SIZES = (5, 10, 20, 50, 100)
GATE_SIZES = (20, 50, 100)
DIFFERING = 0.7  # the share of queries in which two runs differ
TESTS = ("randomization", "randomization, one side", "Student's t", "interval excludes 0")
SIZES_OF_SAMPLES = (10, 30, 100)
SYSTEMS = 5  # that are compared in all pairs
OTHER_SIZES = (10, 20)
SLICES = {
    "3 of 10": [10] * 3,
    "10 of 5": [5] * 10,
    "12 of 20": [20] * 12,
    "2 of 5, 2 of 50": [5, 5, 50, 50],
    "4, 8, 12, 24, 40": [4, 8, 12, 24, 40],
}
PEERS = ("ours", "SciPy permutation_test", "ranx fisher", "SciPy ttest_rel")
DIFFERENCES = (0, 0.01, 0.02, 0.03, 0.05, 0.08)
BLOCK = 100  # samples that are resampled alike


class Family(NamedTuple):
    """The values of queries of a system, and of another system on the same queries."""

    first: Draw
    mean: float
    second: Draw
    mean_of_second: float
    weight: Draw | None = None


def beta(a: float, b: float, lumps: float = 0, at: float = 0) -> Draw:
    """Draw from the beta distribution, a share of the values from one point."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        return np.where(rng.random(shape) < lumps, at, rng.beta(a, b, shape))

    return draw


def lognormal(center: float, spread: float) -> tuple[Draw, float]:
    """Draw lognormal values, at most 1, and say their mean."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        return np.minimum(np.exp(rng.normal(center, spread, shape)), 1)

    below, phi = -center / spread, scipy.stats.norm.cdf
    return draw, math.exp(center + spread**2 / 2) * phi(below - spread) + 1 - phi(below)


def zeros_and_ones(share: float) -> Draw:
    """Draw 1 in a share of the queries, else 0."""
    return lambda rng, shape: (rng.random(shape) < share) * 1.0


def exponential(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw weights, a third of them below 0.4 and one in twenty above 3."""
    return rng.exponential(size=shape)


USUAL = {
    "skewed: Beta(½, 2)": Family(beta(0.5, 2), 0.2, beta(0.5, 1.5), 0.25),
    "symmetric: Beta(3, 3)": Family(beta(3, 3), 0.5, beta(3, 2), 0.6),
    "many ones: 60%": Family(beta(2, 2, 0.6, 1), 0.8, beta(2, 2, 0.5, 1), 0.75),
    "many zeros: 60%": Family(beta(2, 2, 0.6, 0), 0.2, beta(2, 2, 0.5, 0), 0.25),
    "0 or 1: 20% ones": Family(zeros_and_ones(0.2), 0.2, zeros_and_ones(0.3), 0.3),
    "weighted: exponential": Family(
        beta(2, 1.5, 0.15, 0), 0.85 * 4 / 7, beta(2, 1, 0.15, 0), 0.85 * 2 / 3, exponential
    ),
}
HARD = {
    "lognormal, σ = 0.8": Family(*lognormal(-1.5, 0.8), *lognormal(-1.7, 0.8)),
    "lognormal, σ = 1": Family(*lognormal(-2.5, 1), *lognormal(-2.3, 1)),
    "80% zeros, the rest uniform": Family(beta(1, 1, 0.8, 0), 0.1, beta(1, 1, 0.7, 0), 0.15),
    "80% zeros, the rest skewed": Family(beta(0.5, 2, 0.8, 0), 0.04, beta(0.5, 2, 0.7, 0), 0.06),
    "60% zeros, the rest skewed": Family(beta(1, 3, 0.6, 0), 0.1, beta(1, 3, 0.5, 0), 0.125),
    "90% ones": Family(beta(2, 2, 0.9, 1), 0.95, beta(2, 2, 0.8, 1), 0.9),
    "0 or 1: 5% ones": Family(zeros_and_ones(0.05), 0.05, zeros_and_ones(0.1), 0.1),
    "skewed, lognormal weights": Family(
        beta(0.5, 2), 0.2, beta(0.5, 1.5), 0.25, lambda rng, shape: np.exp(rng.normal(size=shape))
    ),
}


def ours(values: Floats, weight: Floats | None) -> Ends:
    """Return our intervals of means."""
    if weight is None:
        return _ends(intervals(Sample.of(values), confidence=CONFIDENCE))
    estimates: list[Interval] = []
    for row, row_weight in zip(values, weight, strict=True):
        estimates += intervals(Sample.of(row[np.newaxis], row_weight))
    return _ends(estimates)


def _ends(estimates: Sequence[Interval]) -> Ends:
    low, high = np.array([(interval.low, interval.high) for interval in estimates]).T
    return low, high


def ours_of_differences(first: Floats, second: Floats, weight: Floats | None) -> Ends:
    """Return our intervals of differences."""
    estimates = []
    for at, rows in enumerate(np.stack([first, second], axis=1)):
        sample = Sample.of(rows, None if weight is None else weight[at], [(0, 1)])
        estimates.append(intervals(sample, confidence=CONFIDENCE)[2])
    return _ends(estimates)


def students_t(values: Floats, weight: Floats | None) -> Ends:
    """Return t intervals, of weighted values by the linearized error."""
    weight = np.ones_like(values) if weight is None else weight
    mean, error = _mean_and_error(values, weight)
    reach = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, values.shape[1] - 1) * error
    return mean - reach, mean + reach


def scipys_ends(method: str, resamples: int, values: Floats, weight: Floats | None) -> Ends:
    """Return intervals of ``scipy.stats.bootstrap``."""

    def weighted_mean(value: Floats, weight: Floats, axis: int) -> Floats:
        return (value * weight).sum(axis=axis) / weight.sum(axis=axis)

    ends = []
    for seed, start in enumerate(range(0, len(values), BLOCK)):
        sample = [side[start : start + BLOCK] for side in (values, weight) if side is not None]
        result = scipy.stats.bootstrap(
            sample,
            np.mean if weight is None else weighted_mean,
            paired=weight is not None,
            vectorized=True,
            axis=-1,
            n_resamples=resamples,
            batch=200,
            confidence_level=CONFIDENCE,
            method=method,
            rng=np.random.default_rng(seed),
        )
        ends.append(result.confidence_interval)
    low, high = np.concatenate(ends, axis=1)
    return low, high


def bootstrap_t(resamples: int, values: Floats, weight: Floats | None) -> Ends:
    """Return studentized bootstrap intervals, which SciPy lacks: an error for each resample."""
    size = values.shape[1]
    weight = np.ones_like(values) if weight is None else weight
    mean, error = _mean_and_error(values, weight)
    low, high = np.empty_like(mean), np.empty_like(mean)
    for seed, start in enumerate(range(0, len(values), BLOCK)):
        block = slice(start, start + BLOCK)
        drawn = np.random.default_rng(seed).integers(0, size, (resamples, size))
        means, errors = _mean_and_error(values[block][:, drawn], weight[block][:, drawn])
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num(
                (means - mean[block, np.newaxis]) / errors, posinf=np.inf, neginf=-np.inf
            )
        upper, lower = np.quantile(
            t, [(1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2], axis=1, method="nearest"
        )
        with np.errstate(invalid="ignore"):
            low[block], high[block] = (
                mean[block] - upper * error[block],
                mean[block] - lower * error[block],
            )
    return low, high


def dirichlet(extra: float, values: Floats) -> Ends:
    """Return intervals of the mean with Dirichlet weights of the values and a bound beyond them.

    With 1 for the bound it is Gaffke's (2005), which is Clopper and Pearson's for values of 0 and
    1; with 1/2 it is between that and the Bayesian bootstrap.
    """
    rng = np.random.default_rng(0)
    weight = np.concatenate(
        [rng.exponential(size=(2_000, values.shape[1])), rng.gamma(extra, size=(2_000, 1))], axis=1
    )
    weight /= weight.sum(axis=1, keepdims=True)
    low, high = np.empty(len(values)), np.empty(len(values))
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        means = values[block] @ weight[:, :-1].T
        low[block] = np.quantile(means, (1 - CONFIDENCE) / 2, axis=1)
        high[block] = np.quantile(means + weight[:, -1], (1 + CONFIDENCE) / 2, axis=1)
    return low, high


def empirical_likelihood(values: Floats) -> Ends:
    """Return Owen's intervals (1988), with Student's t squared as the likelihood ratio's limit."""
    size = values.shape[1]
    limit = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, size - 1) ** 2

    def is_within(mean: Floats) -> NDArray[np.bool_]:
        away = values - mean[:, np.newaxis]
        greatest, least = away.max(axis=1), away.min(axis=1)
        inside = (greatest > 1e-12) & (least < -1e-12)
        # the multiplier lies between these, and the sum falls in it
        low = -1 / np.where(inside, greatest, 1) * (1 - 1e-9)
        high = -1 / np.where(inside, least, -1) * (1 - 1e-9)
        for _ in range(45):
            middle = (low + high) / 2
            is_below = (away / (1 + middle[:, np.newaxis] * away)).sum(axis=1) > 0
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        ratio = 2 * np.log(np.maximum(1 + low[:, np.newaxis] * away, 1e-300)).sum(axis=1)
        return inside & (ratio <= limit)

    observed, ends = values.mean(axis=1), []
    for extreme in (values.min(axis=1), values.max(axis=1)):
        inner, outer = observed, extreme
        for _ in range(30):
            middle = (inner + outer) / 2
            within = is_within(middle)
            inner, outer = np.where(within, middle, inner), np.where(within, outer, middle)
        ends.append(outer)
    return ends[0], ends[1]


def _mean_and_error(values: Floats, weight: Floats) -> Ends:
    """Return weighted means over the last axis, and their linearized standard errors."""
    size, total = values.shape[-1], weight.sum(axis=-1)
    mean = (weight * values).sum(axis=-1) / total
    square = ((weight * (values - mean[..., np.newaxis])) ** 2).sum(axis=-1)
    return mean, np.sqrt(square * size / (size - 1)) / total


def coverage(
    repetitions: int, resamples: int, is_of_differences: bool, name: str, size: int
) -> list[tuple[str, Ends]]:
    """Return by method the share of intervals that hold the true value, and their mean width."""
    family = (USUAL | HARD)[name]
    rng = np.random.default_rng([size, is_of_differences])
    shape = (repetitions, size)
    values, truth = family.first(rng, shape), family.mean
    weight = None if family.weight is None else family.weight(rng, shape)
    our_ends: Callable[..., Ends] = ours
    if is_of_differences:
        second = np.where(rng.random(shape) < 0.3, values, family.second(rng, shape))
        our_ends = partial(
            lambda one, other, _, of: ours_of_differences(one, other, of), values, second
        )
        values, truth = values - second, 0.7 * (family.mean - family.mean_of_second)
    methods: dict[str, Callable[[Floats, Floats | None], Ends]] = {
        "**ours**": our_ends,
        "Student's t": students_t,
        "percentile": partial(scipys_ends, "percentile", resamples),
        "BCa": partial(scipys_ends, "BCa", resamples),
        "bootstrap-t": partial(bootstrap_t, resamples),
    }
    measured = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of degenerate samples
        for method, ends in methods.items():
            low, high = ends(values, weight)
            held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
            measured.append((method, (held.mean(), np.nanmean(high - low))))
    return measured


OTHERS: dict[str, Callable[[Floats], Ends]] = {
    "**ours**": lambda values: ours(values, None),
    "Dirichlet, 1": partial(dirichlet, 1.0),
    "Dirichlet, ½": partial(dirichlet, 0.5),
    "empirical likelihood": empirical_likelihood,
}


def other_coverages(repetitions: int, name: str, size: int) -> list[str]:
    """Return the coverage and the mean width of each of the other intervals."""
    family = (USUAL | HARD)[name]
    values = family.first(np.random.default_rng([size, 0]), (repetitions, size))
    cells = []
    for ends in OTHERS.values():
        low, high = ends(values)
        held = (low <= family.mean + 1e-12) & (family.mean - 1e-12 <= high)
        cells.append(f"{held.mean():.3f} ({np.mean(high - low):.2f})")
    return cells


def table_of_others(repetitions: int) -> list[str]:
    """Return a table of other intervals of means: a row for each family and number of queries."""
    names = [name for name, family in (USUAL | HARD).items() if family.weight is None]
    cells = list(product(names, OTHER_SIZES))
    coverages = _in_processes(partial(other_coverages, repetitions), *zip(*cells, strict=True))
    rows = [
        [name, str(size), *shares] for (name, size), shares in zip(cells, coverages, strict=True)
    ]
    return _table([["values", "queries", *OTHERS], *rows])


def slice_shares(repetitions: int, name: str, sizes: Sequence[int]) -> tuple[float, float, float]:
    """Return how often intervals hold the mean of slices, and the difference of two such means.

    And how often the randomization test finds a difference between equal systems. Every other slice
    is of the second system of a family. Two systems have the same value in 30% of the queries.
    """
    family, rng = USUAL[name], np.random.default_rng(list(sizes))
    mean = np.mean([family.mean_of_second if at % 2 else family.mean for at in range(len(sizes))])
    difference = 0.7 * (family.mean - family.mean_of_second)
    draws = [family.second if at % 2 else family.first for at in range(len(sizes))]
    by_slice = [draw(rng, (repetitions, size)) for draw, size in zip(draws, sizes, strict=True)]
    means = combine([Sample.of(values) for values in by_slice], confidence=CONFIDENCE)
    held = np.mean([interval.low <= mean <= interval.high for interval in means])
    weight = np.concatenate([np.full(size, 1 / size) for size in sizes])
    held_differences = detected = 0
    for _ in range(repetitions):
        first, second, again = (
            [draw(rng, (1, size))[0] for size in sizes]
            for draw in (family.first, family.second, family.first)
        )
        for one, other, another in zip(first, second, again, strict=True):
            same = rng.random(len(one)) < 0.3
            other[same], another[same] = one[same], one[same]
        pairs = [
            Sample.of(np.stack(values), None, [(0, 1)])
            for values in zip(first, second, strict=True)
        ]
        between = combine(pairs, confidence=CONFIDENCE)[2]
        held_differences += between.low - 1e-12 <= difference <= between.high + 1e-12
        equal = Sample.of(
            np.stack([np.concatenate(first), np.concatenate(again)]), weight, [(0, 1)]
        )
        detected += float(paired_tests(equal).randomization[0]) <= 1 - CONFIDENCE
    return float(held), held_differences / repetitions, detected / repetitions


def table_of_slices(repetitions: int) -> list[str]:
    """Return a table of the mean of slices: families as rows, sets of slices as columns."""
    cells = list(product([name for name in USUAL if USUAL[name].weight is None], SLICES.values()))
    rows: dict[str, list[str]] = {}
    shares = _in_processes(partial(slice_shares, repetitions), *zip(*cells, strict=True))
    for (name, _), (held, held_differences, share) in zip(cells, shares, strict=True):
        rows.setdefault(name, []).append(f"{held:.3f}, {held_differences:.3f}, {100 * share:.1f}%")
    return _table([["values", *SLICES], *([name, *row] for name, row in rows.items())])


def agreement(repetitions: int, name: str, size: int) -> tuple[float, float]:
    """Return how often an interval excludes 0 without a significant test, and the reverse."""
    family = (USUAL | HARD)[name]
    rng = np.random.default_rng(size)
    shape = (repetitions, size)
    first = family.first(rng, shape)
    second = np.where(rng.random(shape) < 0.3, first, family.second(rng, shape))
    weight = None if family.weight is None else family.weight(rng, (1, size))[0]
    pairs = [(at, at + repetitions) for at in range(repetitions)]
    sample = Sample.of(np.concatenate([first, second]), weight, pairs)
    low, high = _ends(intervals(sample)[2 * repetitions :])
    excludes = (low > 0) | (high < 0)
    significant = paired_tests(sample).randomization < 1 - CONFIDENCE
    return float((excludes & ~significant).mean()), float((~excludes & significant).mean())


def table_of_coverage(
    families: Sequence[str], is_of_differences: bool, repetitions: int, resamples: int
) -> list[str]:
    """Return coverage and width: a row for each family and method, columns by number of queries."""
    cells = list(product(families, SIZES))
    rows: dict[tuple[str, str], list[str]] = {}
    one = partial(coverage, repetitions, resamples, is_of_differences)
    for (name, _), measured in zip(
        cells, _in_processes(one, *zip(*cells, strict=True)), strict=True
    ):
        for method, (held, width) in measured:
            rows.setdefault((name, method), []).append(
                f"{held:.3f} ({width:.2f})".replace("inf", "∞")
            )
    header = ["values", "interval", *(f"{size} queries" for size in SIZES)]
    return _table([header, *([*names, *cells] for names, cells in rows.items())])


def table_of_agreement(repetitions: int) -> list[str]:
    """Return a table of how often interval and randomization test disagree."""
    sizes = [size for size in SIZES if size >= 10]
    cells = list(product(USUAL, sizes))
    rows: dict[str, list[str]] = {}
    for (name, _), shares in zip(
        cells,
        _in_processes(partial(agreement, repetitions), *zip(*cells, strict=True)),
        strict=True,
    ):
        rows.setdefault(name, []).append(" / ".join(f"{100 * share:.1f}%" for share in shares))
    return _table(
        [
            ["values", *(f"{size} queries" for size in sizes)],
            *([name, *row] for name, row in rows.items()),
        ]
    )


def false_positives(repetitions: int, name: str, size: int) -> list[float]:
    """Return how often each test finds a difference at its level between equal systems.

    Both systems are of one family, and in 30% of the queries they score the same.
    """
    family = USUAL[name]
    rng = np.random.default_rng(size)
    shape = (repetitions, size)
    first = family.first(rng, shape)
    second = np.where(rng.random(shape) < 0.3, first, family.first(rng, shape))
    weight = None if family.weight is None else family.weight(rng, (1, size))[0]
    pairs = [(at, at + repetitions) for at in range(repetitions)]
    sample = Sample.of(np.concatenate([first, second]), weight, pairs)
    tests = paired_tests(sample)
    one_sided = paired_tests(sample, alternative="greater")
    low, high = _ends(intervals(sample)[2 * repetitions :])
    excludes = (low > 0) | (high < 0)
    p_values = (tests.randomization, one_sided.randomization, tests.t_test)
    return [
        *(float((by_test <= 1 - CONFIDENCE).mean()) for by_test in p_values),
        float(excludes.mean()),
    ]


def power_of_tests(repetitions: int, difference: float, size: int) -> list[float]:
    """Return how often each test finds a mean of normal differences with a deviation of 0.1."""
    from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

    rng = np.random.default_rng(size)
    second = rng.random((repetitions, size))
    first = second + difference + rng.normal(0, 0.1, (repetitions, size))
    pairs = [(at, at + repetitions) for at in range(repetitions)]
    ours = paired_tests(Sample.of(np.concatenate([first, second]), None, pairs))
    scipys, ranxs = [], []
    for one, other in zip(first, second, strict=True):
        test = scipy.stats.permutation_test(
            (one - other,),
            np.mean,
            permutation_type="samples",
            n_resamples=499,
            vectorized=True,
            rng=rng,
        )
        scipys.append(test.pvalue)
        ranxs.append(fisher_randomization_test(one, other, 499, 0.05, 42)[0])
    t_tests = scipy.stats.ttest_rel(first, second, axis=1).pvalue
    return [
        float((np.array(p_values) <= 0.05).mean())
        for p_values in (ours.randomization, scipys, ranxs, t_tests)
    ]


def table_of_false_positives(repetitions: int) -> list[str]:
    """Return a table of false positives: a row for each family and test."""
    cells = list(product(USUAL, SIZES))
    rows: dict[tuple[str, str], list[str]] = {}
    by_cell = _in_processes(partial(false_positives, repetitions), *zip(*cells, strict=True))
    for (name, _), shares in zip(cells, by_cell, strict=True):
        for test, share in zip(TESTS, shares, strict=True):
            rows.setdefault((name, test), []).append(f"{100 * share:.1f}%")
    header = ["values", "test", *(f"{size} queries" for size in SIZES)]
    return _table([header, *([*names, *row] for names, row in rows.items())])


def table_of_power(repetitions: int) -> list[str]:
    """Return how often tests find a difference: a row for each number of queries and test."""
    cells = list(product(DIFFERENCES, (20, 50, 100)))
    rows: dict[tuple[int, str], list[str]] = {}
    by_cell = _in_processes(partial(power_of_tests, repetitions), *zip(*cells, strict=True))
    for (_, size), shares in zip(cells, by_cell, strict=True):
        for test, share in zip(PEERS, shares, strict=True):
            rows.setdefault((size, test), []).append(f"{100 * share:.0f}%")
    header = ["queries", "test", *(f"{difference:g}" for difference in DIFFERENCES)]
    return _table(
        [
            header,
            *([str(size), test, *rows[size, test]] for size in (20, 50, 100) for test in PEERS),
        ]
    )


def sections_of_tests(repetitions: int) -> list[str]:
    """Return the text on the tests around their tables."""
    significance.SAMPLED = (
        14  # permutations, as a power of two: 2 ** 20 of each pair would take hours
    )
    error = math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / repetitions)
    return [
        "## False positives",
        "How often a test at the 5% level finds a difference between two systems of one family, "
        f"in {repetitions:,} samples a cell (Monte Carlo error {100 * error:.1f} points). Up to "
        "32 differing queries the randomization test is exact, above it tries 16,384 "
        "permutations here. If there are few distinct values (0 or 1, or mostly the same) few "
        "p-values are possible, so that it finds less than 5%.",
        "\n".join(table_of_false_positives(repetitions)),
        "## Power",
        "How often a test finds a difference with values over queries that are normal with a "
        f"standard deviation of 0.1, by its mean, in {repetitions // 2:,} samples a cell; SciPy "
        "and ranx try 499 permutations.",
        "\n".join(table_of_power(repetitions // 2)),
    ]


def gate(repetitions: int, max_drop: float, fall: float, spread: float, size: int) -> float:
    """Return how often the gate finds a regression of a run if its true mean drops by this amount.

    Its values and the baseline's are beta(2, 2), except for differences in 70% of the queries:
    their mean over all queries is the drop, and their standard deviation the spread.
    """
    rng = np.random.default_rng(0)
    detected = 0
    for _ in range(repetitions):
        differing = rng.random(size) < DIFFERING
        change = rng.normal(
            -fall / DIFFERING,
            math.sqrt((spread**2 - fall**2 * (1 / DIFFERING - 1)) / DIFFERING),
            size,
        )
        before = beta(2, 2)(rng, (1, size))
        values = np.concatenate([before, before + differing * change])
        (p,) = paired_tests(Sample.of(values, None, [(1, 0)]), alternative="less").randomization
        difference = float(differences(*values.mean(axis=1)[::-1]))
        detected += is_regression(difference, float(p), max_drop=max_drop, alpha=LEVEL)
    return detected / repetitions


def table_of_gates(repetitions: int) -> list[str]:
    """Return a table of how often the gate fails."""
    kinds = [(0.0, 0.0), (0.01, 0.0), (0.01, 0.01), (0.01, 0.02), (0.01, 0.03)]
    cells = [
        (*kind, spread, size) for kind in kinds for spread in (0.05, 0.1) for size in GATE_SIZES
    ]
    rows: dict[tuple[float, float, float], list[str]] = {}
    by_cell = _in_processes(partial(gate, repetitions), *zip(*cells, strict=True))
    for (*kind, spread, _), share in zip(cells, by_cell, strict=True):
        rows.setdefault((*kind, spread), []).append(f"{100 * share:.1f}%")
    header = ["tolerated fall", "true fall", "spread", *(f"{size} queries" for size in GATE_SIZES)]
    return _table([header, *([*map(str, names), *shares] for names, shares in rows.items())])


def sample_shares(repetitions: int, name: str, size: int) -> tuple[float, float]:
    """Return how often Welch's interval holds the difference and his test finds one of equals."""
    family, rng = USUAL[name], np.random.default_rng(size)
    draws = [draw(rng, (repetitions, size)) for draw in (family.first, family.second, family.first)]
    bounds = [np.transpose(ours(draw, None)) for draw in draws]
    held = detected = 0
    for (first, second, again), (one, other, another) in zip(
        zip(*draws, strict=True), zip(*bounds, strict=True), strict=True
    ):
        differ, _, _ = welch((first, second), (one, other), confidence=CONFIDENCE)
        held += differ.low <= family.mean - family.mean_of_second <= differ.high
        _, p, _ = welch((first, again), (one, another), confidence=CONFIDENCE)
        detected += p <= 1 - CONFIDENCE
    return held / repetitions, detected / repetitions


def table_of_samples(repetitions: int) -> list[str]:
    """Return a table of the coverage and the false positives of independent samples."""
    cells = list(product([name for name in USUAL if USUAL[name].weight is None], SIZES_OF_SAMPLES))
    rows: dict[str, list[str]] = {}
    for (name, _), (held, detected) in zip(
        cells,
        _in_processes(partial(sample_shares, repetitions), *zip(*cells, strict=True)),
        strict=True,
    ):
        rows.setdefault(name, []).append(f"{held:.3f}, {100 * detected:.1f}%")
    header = ["values", *(f"{size} queries each" for size in SIZES_OF_SAMPLES)]
    return _table([header, *([name, *row] for name, row in rows.items())])


def corrected(repetitions: int, name: str, size: int) -> tuple[float, float, float]:
    """Return how often corrected intervals, and all of a sample, are right, and had an end moved.

    All pairs of five systems are compared, of which two are equal to another one.
    """
    family = USUAL[name]
    held, all_held, moved = [], 0, []
    contest = Contest(Options.parse(), None, Resampling.parse(CONFIDENCE), Testing())
    for seed in range(repetitions):
        rng = np.random.default_rng([size, seed])
        base = family.first(rng, (1, size))[0]
        systems = {}
        for at in range(SYSTEMS):
            values = (family.second if at % 2 else family.first)(rng, (1, size))[0]
            systems[str(at)] = columns_of(np.where(rng.random(size) < 0.3, base, values))
        truth = {
            str(at): 0.7 * (family.mean_of_second if at % 2 else family.mean)
            for at in range(SYSTEMS)
        }
        pairs = contest.results(systems, NO_SLICES, {})["pairs"]
        significant = sum(pair.p_holm < LEVEL for pair in pairs)
        held_in_sample = []
        for pair in pairs:
            tests = len(pairs) - min(sum(other.p < pair.p for other in pairs), significant)
            reach = scipy.stats.t.ppf(1 - LEVEL / tests / 2, size - 1) * pair.standard_error
            ends = max(-1, pair.difference - reach), min(1, pair.difference + reach)
            moved.append(
                pair.standard_error > 0
                and not np.allclose(ends, (pair.low_holm, pair.high_holm), atol=1e-9)
            )
            difference = truth[pair.system] - truth[pair.other]
            held_in_sample.append(pair.low_holm - 1e-12 <= difference <= pair.high_holm + 1e-12)
        held += held_in_sample
        all_held += all(held_in_sample)
    return float(np.mean(held)), all_held / repetitions, float(np.mean(moved))


def columns_of(values: Floats) -> dict[str, Any]:
    """Return the columns of queries of which only the values are known."""
    names = ("nDCG", "worst nDCG", "best nDCG", "random order nDCG")
    return {**dict.fromkeys(names, values), "ideal": np.ones(len(values))}


def table_of_corrected(repetitions: int) -> list[str]:
    """Return a table of the corrected intervals of all pairs."""
    names = [name for name in USUAL if USUAL[name].weight is None]
    cells = list(product(names, [size for size in SIZES if size >= 10]))
    rows: dict[str, list[str]] = {}
    for (name, _), (held, all_held, moved) in zip(
        cells,
        _in_processes(partial(corrected, repetitions), *zip(*cells, strict=True)),
        strict=True,
    ):
        rows.setdefault(name, []).append(f"{held:.3f}, {all_held:.2f}, {100 * moved:.1f}%")
    header = ["values", *(f"{size} queries" for size in SIZES if size >= 10)]
    return _table([header, *([name, *row] for name, row in rows.items())])


def sections_of_pairs(repetitions: int) -> list[str]:
    """Return the text on corrected intervals and on independent samples around their tables."""
    significance.SAMPLED = (
        14  # permutations, as a power of two: 2 ** 20 of each pair would take hours
    )
    return [
        "## Corrected intervals",
        f"All pairs of {SYSTEMS} systems, of which three are equally good, as are the two others, "
        f"in {repetitions // 10:,} samples a cell: the share of corrected intervals (`low_holm` "
        "to `high_holm`) that hold the true difference, the share of samples in which all ten "
        "do, and the share of intervals with an end that was moved, since the randomization "
        "test, which tries 16,384 permutations here, decides about 0.",
        "\n".join(table_of_corrected(repetitions // 10)),
        "## The mean of slices",
        "Slices of so many queries, each of which counts the same, every other one of the "
        f"family's second system, in {repetitions // 4:,} samples a cell: the share of 95% "
        "intervals that hold the mean of the slices' means, the share of intervals of the "
        "difference of two systems that hold it, and how often the randomization test at the 5% "
        "level finds one between equal systems.",
        "\n".join(table_of_slices(repetitions // 4)),
        "## Independent samples",
        f"Two samples of different queries, as with `paired=False`, in {repetitions:,} pairs of "
        "samples a cell: the share of Welch's 95% intervals that hold the true difference, and "
        "how often the test at the 5% level finds one between equal systems.",
        "\n".join(table_of_samples(repetitions)),
    ]


def _in_processes(one: Callable[..., Any], *arguments: Sequence[Any]) -> Iterator[Any]:
    with ProcessPoolExecutor(2) as pool:
        yield from pool.map(one, *arguments)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]


def markdown(repetitions: int, resamples: int) -> str:
    """Return all tables."""
    start = time.perf_counter()
    error = math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / repetitions)
    means, differences, hard_means, hard_differences = (
        table_of_coverage(list(families), is_of_differences, repetitions, resamples)
        for families in (USUAL, HARD)
        for is_of_differences in (False, True)
    )
    others = table_of_others(repetitions)
    agreeing = table_of_agreement(repetitions // 4)
    gates = table_of_gates(repetitions // 4)
    seconds = time.perf_counter() - start
    text = [
        "# Simulations",
        f"`make simulations`: {repetitions:,} samples a cell, {resamples:,} resamples each if a "
        f"method has any, {seconds / 60:.0f} minutes. A cell is the share of "
        f"{100 * CONFIDENCE:g}% intervals that hold the true value, with a Monte Carlo error of "
        f"{error:.3f}, and in brackets their mean width. Targets: 0.93 to 0.98 with 20 queries or "
        "more, and at least 0.90 with 10. With fewer than 10, a report warns that there are few "
        "queries.",
        "## Means",
        "\n".join(means),
        "## Paired differences",
        (
            "Two systems of a family, one better than the other; in 30% of the queries both score "
            "the same."
        ),
        "\n".join(differences),
        "## Harder cases",
        "Values more skewed or more alike than those of most measures. Means:",
        "\n".join(hard_means),
        "Paired differences:",
        "\n".join(hard_differences),
        "## Other intervals",
        "Intervals of means that were tried in place of ours, with the same samples; bootstrap-t "
        "is above. Dirichlet: the values and the bound beyond an end get random weights, the "
        "bound as one value (Gaffke, 2005; exact for values of 0 and 1) or as half a value. "
        "Empirical likelihood is Owen's (1988), calibrated by Student's t.",
        "\n".join(others),
        "## Interval and test",
        "How often the interval of a difference excludes 0 while the randomization test has p ≥ "
        "0.05, and the other way round.",
        "\n".join(agreeing),
        *sections_of_pairs(repetitions),
        *sections_of_tests(repetitions // 4),
        *section_of_gates(gates, repetitions // 4),
    ]
    return "\n\n".join(text) + "\n"


def section_of_gates(table: Sequence[str], repetitions: int) -> list[str]:
    """Return the text on the gate around its table."""
    return [
        "## The gate",
        f"How often `ndcg gate` fails at its level of 0.05, in {repetitions:,} pairs of runs a "
        f"cell that differ in {100 * DIFFERING:g}% of the queries. The spread is the standard "
        "deviation of a query's difference.",
        "\n".join(table),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure how often intervals hold the true value.")
    parser.add_argument(
        "--quick", action="store_true", help="few repetitions, printed and not written"
    )
    given = parser.parse_args(arguments)
    text = markdown(100, 99) if given.quick else markdown(4_000, 999)
    if not given.quick:
        (HERE / "SIMULATIONS.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
