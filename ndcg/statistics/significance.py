"""Confidence intervals of means over queries, and paired tests of the difference of two means.

The queries are regarded as a sample of all queries that might be asked. Intervals are Student's t
intervals, for means in the form of Wilson's (1927) for proportions. The difference between two systems
is tested by exchanging their scores query by query (Fisher's randomization test; Smucker et al., CIKM
2007, on why to prefer it in retrieval), and with Student's paired t-test.
"""

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import InputError, mark, missing_library
from ..measure.ties import Floats

# Smaller differences, relative to the values, may be due to rounding.
ROUNDING = 1e-12
# The least ratio of two weights; below it, the lighter query would be lost in rounding.
LIGHTEST = 1e-12
# With fewer queries, intervals cover less often than their level (benchmarks/SIMULATIONS.md).
FEW = 10
# With up to EXACT queries that differ, the randomization test tries all permutations; with more, it tries 2 ** SAMPLED,
# SIGNS_AT_A_TIME of them at once, so that their sums fit into the processor's cache.
EXACT = 32
SAMPLED = 20
SIGNS_AT_A_TIME = 1 << 14
SIGNS = np.array([[1.0, 1.0], [1.0, -1.0]])  # for a bit of one word (row) and a bit of another (column)
SIGNS_OF_BITS = {1: SIGNS, 2: np.kron(SIGNS, SIGNS), 3: np.kron(SIGNS, np.kron(SIGNS, SIGNS))}
# The level of the test in `power`, and the probability that it detects a difference.
LEVEL = 0.05
POWER = 0.8
MOST_NEEDED = 2.0**40  # a larger number is unknown


class Intervals(NamedTuple):
    """The interval of each mean."""

    low: Floats
    high: Floats
    standard_error: Floats


class Tests(NamedTuple):
    """The p-values of each difference."""

    randomization: Floats
    t_test: Floats
    exact: NDArray[np.bool_]  # whether the randomization test tried all permutations
    permutations: NDArray[np.int64]  # how many it tried


class Power(NamedTuple):
    """The power of the test of each difference, nan if unknown."""

    min_detectable: Floats  # the smallest difference, from 0 or from the margin, that a t-test of them finds
    queries_needed: Floats  # to detect the observed difference


def differences(one: Floats, other: Floats) -> Floats:
    """Return ``one - other``, with 0 for differences that may be due to rounding."""
    difference = np.asarray(one - other)
    return np.where(np.abs(difference) <= ROUNDING * np.maximum(np.abs(one), np.abs(other)), 0.0, difference)


def intervals(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    greatest: float = 1.0,
    confidence: float = 0.95,
) -> Intervals:
    """Return the intervals of the mean of each row, and of the differences of some pairs of rows.

    The interval of a difference is Student's t, as in the paired t-test. For the interval of a mean, the variance
    depends on the mean: it shrinks towards 0 and the greatest value, as for 0/1 values (Wilson, 1927), or changes with
    the skewness of the values. Each end is the outer one that these two models give.

    `values` has shape ``(rows, queries)``, with nan in all rows where a query has no value. They lie between 0 and
    `greatest`; a row with values outside has no bound on that side. With fewer than two values there are no intervals:
    they are nan.
    """
    values, weight, scale = _sample(values, weight, least=2 if pairs else 0)
    if len(weight) < 2:
        return Intervals._make(np.full((3, len(values) + len(pairs)), np.nan))
    if weight.min() < LIGHTEST:
        problem = f"a weight is {weight.min():.0e} of the largest, too far apart for a confidence interval"
        raise ValueError(f"sample_weight: {problem}; give the queries that hardly count a weight of 0")
    share, least, most = weight / weight.sum(), values.min(axis=1), values.max(axis=1)
    is_bounded = most <= greatest / scale * (1 + ROUNDING)
    low, high = np.where(least >= 0, 0.0, -np.inf), np.where(is_bounded, np.maximum(most, greatest / scale), np.inf)
    one, other = _in_order(pairs)
    values = np.concatenate([values, differences(values[one], values[other])])
    bounds = np.concatenate([low, low[one] - high[other]]), np.concatenate([high, high[one] - low[other]])
    return Intervals(*(each * scale for each in _intervals(values, share, bounds, confidence, len(low))))


def _intervals(
    values: Floats, share: Floats, bounds: tuple[Floats, Floats], confidence: float, means: int
) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the interval of each row's mean and its standard error; after `means` rows are differences.

    The interval contains every mean within Student's t times its standard error of the observed one. The
    square of this error at ``mean + d`` is modeled as that at ``mean`` times ``(1 + rise * d)(1 - fall * d)``.
    """
    student = scipy_special().stdtrit
    (mean, error, slope), heaviness = _moments(values, share), (share**2).sum()
    gaps = mean - bounds[0], bounds[1] - mean
    for each, of_differences in ((slope, 0.0), (gaps[0], np.inf), (gaps[1], np.inf)):
        each[means:] = of_differences  # their error does not depend on the mean
    with np.errstate(all="ignore"):  # values that are not finite are discarded below
        # if all values are equal, the share of others at a bound is at most the end of Wilson's interval for 0 of n
        odds = student(math.inf, (1 + confidence) / 2) ** 2 * heaviness
        same = [np.where(np.isfinite(end), mean + (end - mean) * odds / (1 + odds), mean) for end in bounds]
        most = gaps[0] * gaps[1] * heaviness  # the squared error if every value were at a bound, like 0/1 values
        square = np.fmin(error**2, most)
        freedom = (values.shape[1] - 1) / np.maximum(1 - square / most, ROUNDING)
        reach = student(freedom, (1 + confidence) / 2) ** 2 * square
        rise, fall = (np.where(np.isfinite(most), 1 / gap, 0.0) for gap in gaps)
        low, high = _crossings(reach, rise, fall)
        low_skewed, high_skewed = _crossings(reach, np.maximum(rise, fall + slope), np.maximum(fall, rise - slope))
        low = np.maximum(mean + np.minimum(low, low_skewed), bounds[0])
        high = np.minimum(mean + np.maximum(high, high_skewed), bounds[1])
    is_same = error <= ROUNDING * np.abs(mean)
    return np.where(is_same, same[0], low), np.where(is_same, same[1], high), error


def at_level(
    difference: Floats, ends: Sequence[Floats], error: Floats, freedom: Floats, beyond: float, other: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of Student's t intervals of differences at another level.

    Beyond each end lies the probability `other` instead of `beyond`. If a standard error is 0, the given interval is
    widened in proportion.
    """
    student, known = scipy_special().stdtrit, error > ROUNDING * np.abs(difference)
    reach = student(freedom, 1 - other)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wider = reach / student(freedom, 1 - beyond)
        below, above = (np.where(known, reach * error, wider * np.abs(end - difference)) for end in ends)
    return difference - below, difference + above


def _crossings(reach: Floats, rise: Floats, fall: Floats) -> tuple[Floats, Floats]:
    """Return the two ``d`` with ``d**2 == reach * (1 + rise * d) * (1 - fall * d)``."""
    tilt, root = reach * (rise - fall), np.sqrt((reach * (rise + fall)) ** 2 + 4 * reach)
    bend = 2 * (1 + reach * rise * fall)
    return (tilt - root) / bend, (tilt + root) / bend


def _moments(values: Floats, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Return for each row the mean, its standard error, and the relative change of the variance with the mean.

    The error is the larger of two: one for values with a variance independent of their weights, and one for
    any values (HC2 of MacKinnon & White, 1985).
    """
    mean = values[:, 0] + (share * (values - values[:, :1])).sum(axis=1)
    away = values - mean[:, np.newaxis]
    largest = np.abs(away).max(axis=1)
    squares = share * (away / np.where(largest, largest, 1.0)[:, np.newaxis]) ** 2
    spread, heaviness = squares.sum(axis=1), (share**2).sum()
    variance = np.maximum(spread * heaviness / (1 - heaviness), (squares * share / (1 - share)).sum(axis=1))
    slope = (squares * away).sum(axis=1) / np.where(largest, spread * largest, 1.0) ** 2
    return mean, largest * np.sqrt(variance), slope


def paired_tests(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    alternative: str = "two-sided",
    margin: float | Floats = 0.0,
    seed: int = 0,
) -> Tests:
    """Test whether the means of two rows differ, for each pair of rows; values are as in `intervals`.

    The randomization test exchanges the scores of the two systems in some of the queries, and counts how often the
    means then differ at least as much. With up to 32 queries that differ, it tries all permutations, and the p-value is
    exact. Otherwise it tries a random group of 1,048,576. The t-test uses the contribution of each query to the
    difference of the (weighted) means. With a margin, differences must be symmetric around their mean.
    """
    two_sided = alternative == "two-sided"
    values, weight, scale = _sample(values, weight, least=2)
    one, other = _in_order(pairs, alternative)
    margins = np.full(len(pairs), margin) / scale
    shares = (differences(values[one], values[other]) + margins[:, np.newaxis]) * weight
    differing = np.count_nonzero(shares, axis=1)
    exact = differing <= EXACT
    p = np.array(
        [_exact_p(each[each != 0], two_sided) if few else 1.0 for each, few in zip(shares, exact, strict=True)]
    )
    if not exact.all():
        sampled = ~exact
        p[sampled] = _sampled_p(values, weight, one[sampled], other[sampled], margins[sampled], two_sided, seed)
    permutations = np.where(exact, 2 ** np.minimum(differing, EXACT), 2**SAMPLED)
    return Tests(p, _t_tests(shares, two_sided), exact, permutations)


def _exact_p(shares: Floats, two_sided: bool) -> float:
    """Return the share of all permutations with a sum at least as extreme as the observed one.

    Each permutation combines one of the first half of the queries with one of the second half.
    """
    total, halves = shares.sum(), []
    least = (abs(total) if two_sided else total) - ROUNDING * np.abs(shares).sum()
    for half in (shares[: len(shares) // 2], shares[len(shares) // 2 :]):
        sums = np.zeros(1)
        for share in half:
            sums = np.concatenate([sums - share, sums + share])
        halves.append(np.sort(sums))
    as_great = halves[1].size * halves[0].size - np.searchsorted(halves[1], least - halves[0]).sum()
    return float(min(1.0, (1 + two_sided) * as_great / 2.0 ** len(shares)))  # by symmetry, as many are as far below 0


def _sampled_p(
    values: Floats,
    weight: Floats,
    one: NDArray[np.intp],
    other: NDArray[np.intp],
    margins: Floats,
    two_sided: bool,
    seed: int,
) -> Floats:
    """Return the share of a random group of permutations with a sum at least as extreme as the observed one.

    Each query gets a random word of SAMPLED bits. Each permutation of the group is also a word: it exchanges the scores
    of those queries whose words have an odd number of bits in common with it. The sums of permutations that differ only
    in the last bits are computed together. The sum of a pair is the difference of the sums of its rows; all rows are
    relative to the first, so that two rows need one sum.

    The share is a valid p-value without a correction, because the permutations form a group, which contains the
    identity (Hemerik & Goeman, TEST 2018; Koning & Hemerik, Biometrika 2024). Any two permutations are independent, so
    its variance is that of a random sample.
    """
    words = np.random.default_rng(seed).integers(1 << SAMPLED, size=len(weight))
    last, first = words % SIGNS_AT_A_TIME, words // SIGNS_AT_A_TIME
    used, at = np.unique([one, other], return_inverse=True)
    rows = np.concatenate([values[used[1:]] - values[used[0]], np.ones((int(margins.any()), len(weight)))]) * weight
    pairs = [*zip(*at.reshape(2, -1).tolist(), margins.tolist(), strict=True)]

    def distance(sums: Sequence[Any], one: int, other: int, margin: float) -> Any:
        of_rows = [0.0, *sums]
        difference = of_rows[one] - of_rows[other]
        if margin:
            difference += margin * of_rows[-1]
        return np.abs(difference) if two_sided else difference

    sizes, total = np.abs(values * weight).sum(axis=1), rows.sum(axis=1)
    rounding = ROUNDING * (sizes[one] + sizes[other] + margins * weight.sum())
    least = np.array([distance(total, *pair) for pair in pairs]) - rounding
    as_far = np.zeros(len(pairs), np.int64)
    for word in range((1 << SAMPLED) // SIGNS_AT_A_TIME):
        signs = 1.0 - 2.0 * (np.bitwise_count(first & word) & 1)
        sums = [_walsh_hadamard(np.bincount(last, row * signs, SIGNS_AT_A_TIME)) for row in rows]
        as_far += [np.count_nonzero(distance(sums, *pair) >= bound) for pair, bound in zip(pairs, least, strict=True)]
    return as_far / 2.0**SAMPLED


def _walsh_hadamard(cells: NDArray[Any]) -> NDArray[Any]:
    """Return all signed sums of cells, in any order; the sign depends on the bits that cell and sum share.

    Each product with the signs of three bits adds along these bits and moves the next three to the front.
    """
    bits = int(cells.size).bit_length() - 1
    for at in range(0, bits, 3):
        signs = SIGNS_OF_BITS[min(3, bits - at)]
        cells = (cells.reshape(len(signs), -1).T @ signs).reshape(-1)
    return cells


def _t_tests(shares: Floats, two_sided: bool) -> Floats:
    """Return, for each row, the probability that chance gives a mean at least as extreme.

    The same as `scipy.stats.ttest_1samp`, which warns if all values are the same.
    """
    queries = shares.shape[1]
    mean = shares.mean(axis=1)
    variance = ((shares - mean[:, np.newaxis]) ** 2).sum(axis=1) / (queries - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / np.sqrt(variance / queries)
    p_values = (1 + two_sided) * scipy_special().stdtr(queries - 1, -np.abs(t) if two_sided else -t)
    return np.where(np.isnan(t), 1.0, p_values)


def power(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    alternative: str = "two-sided",
    margin: float | Floats = 0.0,
) -> Power:
    """Return the difference that the queries detect, and the number of queries needed to detect the observed one.

    Both are for a paired t-test at the 5% level with 80% power, from the noncentral t distribution. With unequal
    weights, the queries count as ``sum(weight) ** 2 / sum(weight ** 2)`` queries (Kish, 1965); fewer than two detect
    nothing.
    """
    two_sided = alternative == "two-sided"
    values, weight, scale = _sample(values, weight, least=2)
    one, other = _in_order(pairs, alternative)
    effective = float(weight.sum() ** 2 / (weight**2).sum())
    if effective < 2:
        return Power._make(np.full((2, len(pairs)), np.nan))
    share, difference = weight / weight.sum(), differences(values[one], values[other])
    mean = (difference * share).sum(axis=1)
    spread = ((difference - mean[:, np.newaxis]) ** 2 * share).sum(axis=1)
    deviation = np.sqrt(spread * effective / (effective - 1))
    deviation[np.sqrt(spread) <= ROUNDING * np.abs(mean)] = np.nan  # their variance is unknown
    effect = (np.abs(mean) if two_sided else mean + np.full(len(pairs), margin) / scale) / deviation
    detectable = detectable_t(effective, two_sided) / math.sqrt(effective) * deviation * scale
    needed = np.array([_queries_needed(each, two_sided) for each in effect.tolist()]) * len(weight) / effective
    return Power(detectable, np.ceil(needed))


def _queries_needed(effect: float, two_sided: bool) -> float:
    """Return the number of queries with which the t-test detects a mean of `effect` standard deviations, or nan."""
    ndtri = scipy_special().ndtri
    distance = float(ndtri(1 - LEVEL / (1 + two_sided)) + ndtri(POWER))
    if not effect > distance / math.sqrt(MOST_NEEDED):
        return math.nan
    needed = max(2.0, math.ceil((distance / effect) ** 2))  # estimated by a z-test
    while effect * math.sqrt(needed) < detectable_t(needed, two_sided):
        needed += max(1.0, needed // 2**20)
    return needed


@lru_cache(1 << 12)
def detectable_t(queries: float, two_sided: bool) -> float:
    """Return the distance of a mean from 0, in standard errors, at which the t-test detects it with this power."""
    special = scipy_special()
    critical = special.stdtrit(queries - 1, 1 - LEVEL / (1 + two_sided))
    return float(special.nctdtrinc(queries - 1, 1 - POWER, critical))


def falls_beyond(difference: float, max_drop: float) -> bool:
    """Return whether a mean drops by more than `max_drop`, apart from rounding."""
    return -difference > max_drop + ROUNDING


def can_be_significant(queries: int, tests: int, alpha: float) -> bool:
    """Return whether one of several one-sided randomization tests can have a corrected p of at most `alpha`."""
    return 0.5**queries <= alpha / tests


def is_regression(difference: float, p: float, *, max_drop: float, alpha: float) -> bool:
    """Return whether a mean drops by more than `max_drop`, and a one-sided test says so at the level `alpha`."""
    return falls_beyond(difference, max_drop) and p <= alpha


def holm(p_values: Floats) -> Floats:
    """Correct p-values for their number, so that the probability of any false discovery is bounded (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(corrected, 1.0)


def _in_order(
    pairs: Sequence[tuple[int, int]], alternative: str = "two-sided"
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second row of each pair, exchanged if the first is thought to be less."""
    one, other = np.reshape(np.array(pairs, np.intp), (-1, 2)).T
    return (other, one) if alternative == "less" else (one, other)


def _sample(values: Floats, weight: Floats | None, least: int = 0) -> tuple[Floats, Floats, float]:
    """Return the values of the queries that count, divided by a scale, their weights, and the scale.

    The scale is a power of two near the largest value, so that no sum or square overflows and no digit is lost. Weights
    are relative to the largest. With fewer than `least` queries, it is an error.
    """
    scipy_special()
    counted = ~np.isnan(values[0])
    if weight is not None:
        counted &= weight > 0
    if not counted.all():
        values = np.compress(counted, values, axis=1)  # each row is contiguous, and summed as it is alone
        weight = None if weight is None else weight[counted]
    weight = np.ones(values.shape[1]) if weight is None else weight / weight.max(initial=0)
    if len(weight) < least:
        hint = f"; {mark('report')} gives the score of one" * len(weight)
        raise InputError(f"a comparison needs at least two queries that have a value; got {len(weight)}{hint}")
    scale = math.ldexp(1.0, math.frexp(np.abs(values).max(initial=0))[1] - 1)
    return values / scale, weight, scale


@cache
def scipy_special() -> Any:
    """Return SciPy's special functions, which are imported in a third of the time of scipy.stats."""
    try:
        return import_module("scipy.special")
    except ImportError:
        raise missing_library("a confidence interval or a test", "SciPy", "scipy") from None
