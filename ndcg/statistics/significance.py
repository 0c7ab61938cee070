"""Confidence intervals of means over queries, and paired tests of the difference of two means.

The queries are regarded as a sample of all queries that might be asked. Intervals are Student's t
intervals, for means in the form of Wilson's (1927) for proportions. The difference between two
systems is tested by exchanging their scores query by query (Fisher's randomization test; Smucker et
al., CIKM 2007, on why to prefer it in retrieval), and with Student's paired t-test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..measure.messages import InputError, imported
from ..measure.ties import Array, Floats, Mask

# Smaller differences, relative to the values, may be due to rounding.
ROUNDING = 1e-12
# The square of a smaller number underflows.
TINY = 2.0**-511
# The least ratio of two weights; below it, the lighter query would be lost in rounding.
LIGHTEST = 1e-12
# With fewer queries, intervals cover less often than their level (benchmarks/SIMULATIONS.md).
FEW = 10
# With up to EXACT queries that differ, the randomization test tries all permutations; with more,
# it tries 2 ** SAMPLED, SIGNS_AT_A_TIME of them at once, so that their sums fit into the
# processor's cache.
EXACT = 32
SAMPLED = 20
SIGNS_AT_A_TIME = 1 << 14
# For a bit of one word (row) and a bit of another (column).
SIGNS = np.array([[1.0, 1.0], [1.0, -1.0]])
SIGNS_OF_BITS = {1: SIGNS, 2: np.kron(SIGNS, SIGNS), 3: np.kron(SIGNS, np.kron(SIGNS, SIGNS))}
# All combinations for up to eight queries.
SIGNS_OF_8 = 1.0 - 2.0 * (np.arange(256)[:, np.newaxis] >> np.arange(8) & 1)
# The level of the test in `power`, and the probability that it detects a difference.
LEVEL = 0.05
POWER = 0.8
MOST_NEEDED = 2.0**40  # a larger number is unknown


class Interval(NamedTuple):
    """A mean, or a difference of two means, with its interval."""

    value: float
    low: float
    high: float
    standard_error: float
    freedom: float  # the degrees of freedom of Student's t


NO_INTERVAL = Interval(math.nan, math.nan, math.nan, math.nan, math.nan)


class Tests(NamedTuple):
    """The p-values of every difference."""

    randomization: Floats
    t_test: Floats
    exact: Mask  # whether the randomization test tried all permutations
    permutations: Array  # how many it tried


class Power(NamedTuple):
    """The power of the test of a difference, nan if unknown."""

    min_detectable: float  # the smallest difference, from 0 or from the margin, that it finds
    queries_needed: float  # to detect the observed difference


def differences(one: Floats | float, other: Floats | float) -> Floats:
    """Return ``one - other``, with 0 for differences that may be due to rounding."""
    difference = np.asarray(one - other)
    rounding = ROUNDING * np.maximum(np.abs(one), np.abs(other))
    return np.where(np.abs(difference) <= rounding, 0.0, difference)


def power_of_two(largest: float) -> float:
    """Return a power of two near the largest value.

    Divided by it, no sum or square of values overflows, and no digit is lost.
    """
    return math.ldexp(1.0, math.frexp(largest)[1] - 1)


def effective_queries(weight: Floats) -> float:
    """Return how many queries of equal weight would be as precise (Kish, 1965)."""
    return float(weight.sum() ** 2 / (weight**2).sum())


@dataclass(frozen=True)
class Sample:
    """The values of some rows, such as systems, for the queries that count, and pairs of rows.

    Attributes:
        values: the values, of shape ``(rows, queries)``, divided by `scale`.
        weight: the weight of every query, relative to the largest.
        pairs: the pairs to compare: their first rows, then their second rows.
        scale: a power of two near the largest value.
    """

    values: Floats
    weight: Floats
    pairs: Array
    scale: float

    @classmethod
    def of(cls, values: Floats, weight: Floats | None = None, pairs: ArrayLike = ()) -> "Sample":
        """Return the sample without queries of weight 0 or without a value: nan in all rows.

        `pairs` are the rows of a pair, of the next pair, and so on. With pairs, it is an error if
        fewer than two queries count.
        """
        scipy_special()
        if weight is None:
            weight = np.ones(values.shape[1])
        counted = ~np.isnan(values[0]) & (weight > 0)
        # So every row is contiguous, and summed as it is alone.
        values = np.compress(counted, values, axis=1)
        weight = weight[counted]
        weight = weight / weight.max(initial=0)
        both = np.array(pairs, np.intp).reshape(-1, 2).T
        if both.size and len(weight) < 2:
            raise InputError(
                f"a comparison needs at least two queries that have a value; got {len(weight)}"
            )
        scale = power_of_two(np.abs(values).max(initial=0))
        return cls(values / scale, weight, both, scale)

    @cached_property
    def by_query(self) -> Floats:
        """The differences of every pair, query by query."""
        return differences(*self.values.take(self.pairs, axis=0))

    @cached_property
    def effective(self) -> float:
        """The effective number of queries."""
        return effective_queries(self.weight)

    @cached_property
    def moments(self) -> list[tuple[float, float, float, float]]:
        """What the values of every row, and then of every pair, tell about their mean.

        The mean; its standard error, the larger of two: for a variance independent of the weights,
        and HC2 for any values (MacKinnon & White, 1985); the standard deviation of the values; and
        the relative change of the variance with the mean.
        """
        values = np.concatenate([self.values, self.by_query])
        share = self.weight / self.weight.sum()
        # Relative to the first value, so that equal values have exactly their value as mean.
        mean = values[:, 0] + (share * (values - values[:, :1])).sum(axis=1)
        away = values - mean[:, np.newaxis]
        largest = np.abs(away).max(axis=1)
        # Divided by the largest, so that no square underflows.
        squares = share * (away / np.where(largest, largest, 1.0)[:, np.newaxis]) ** 2
        sums = np.array([squares, squares * (share / (1 - share)), squares * away]).sum(axis=2)
        rows = zip(mean.tolist(), largest.tolist(), *sums.tolist(), strict=True)
        moments = []
        # Plain numbers: for a few rows, arrays take much longer.
        for average, size, spread, hc2, cubes in rows:
            error = size * math.sqrt(max(spread / (self.effective - 1), hc2))
            square = (size * spread) ** 2
            slope = cubes / square if square else 0.0
            moments.append((average, error, size * math.sqrt(spread), slope))
        return moments


def intervals(sample: Sample, *, greatest: float = 1.0, confidence: float = 0.95) -> list[Interval]:
    """Return the intervals of the mean of every row, and then of the difference of every pair.

    The interval of a difference is Student's t, as in the paired t-test. For the interval of a
    mean, the variance depends on the mean: it shrinks towards 0 and the greatest value, as for 0/1
    values (Wilson, 1927), or changes with the skewness of the values. Each end is the outer one
    that these two models give.

    Values lie between 0 and `greatest`; a row with values outside has no bound on that side. With
    fewer than two values there are no intervals: they are nan.
    """
    if len(sample.weight) < 2:
        return [NO_INTERVAL] * len(sample.values)
    rows = []
    for estimate in estimates(sample, greatest):
        low, high = estimate.ends(estimate.t((1 + confidence) / 2))
        rows.append(estimate.interval(low, high, sample.scale))
    return rows


class Estimate(NamedTuple):
    """A mean, or a difference of two means, and how its standard error depends on the true one."""

    value: float  # the observed one
    standard_error: float  # its standard error
    square: float  # the same squared, but no more than of 0/1 values; 0 if all values are equal
    freedom: float  # the degrees of freedom of Student's t
    effective: float  # the effective number of queries
    bounds: tuple[float, float]  # the true one lies between these
    slope: float  # the relative change of the variance with the mean
    is_mean: bool  # the error of a difference does not depend on the true difference

    def interval(self, low: float, high: float, scale: float) -> Interval:
        """Return the interval with these ends, all multiplied by the scale."""
        error = self.standard_error * scale
        return Interval(self.value * scale, low * scale, high * scale, error, self.freedom)

    def t(self, quantile: float) -> float:
        """Return a quantile of Student's t; of equal values, of the normal distribution."""
        # The interval of equal values is Wilson's.
        freedom = self.freedom if self.square else math.inf
        return float(scipy_special().stdtrit(freedom, quantile))

    def ends(self, t: float) -> tuple[float, float]:
        """Return the ends of the interval of values within `t` of their errors of the observed one.

        The square of this error at ``value + d`` is modeled as that at ``value`` times
        ``(1 + rise * d)(1 - fall * d)``.
        """
        least, greatest = self.bounds
        if self.square == 0:
            odds = t**2 / self.effective
            return self._end_of_equal(least, odds), self._end_of_equal(greatest, odds)
        reach = t**2 * self.square
        # With one bound alone, values do not get more alike towards it.
        rise = fall = 0.0
        if self.is_mean and math.isfinite(greatest - least):
            rise = 1 / (self.value - least)
            fall = 1 / (greatest - self.value)
        low, high = _crossings(reach, rise, fall)
        low_skewed, high_skewed = _crossings(
            reach, max(rise, fall + self.slope), max(fall, rise - self.slope)
        )
        low = max(self.value + min(low, low_skewed), least)
        high = min(self.value + max(high, high_skewed), greatest)
        return low, high

    def _end_of_equal(self, end: float, odds: float) -> float:
        """Return the end of the interval of equal values that is nearer to one of the bounds.

        The share of other values, which lie at the bound, is at most the end of Wilson's interval
        for 0 of n.
        """
        if not math.isfinite(end):
            return self.value
        return self.value + (end - self.value) * odds / (1 + odds)


def estimates(sample: Sample, greatest: float) -> list[Estimate]:
    """Return the estimates of the mean of every row, and then of the difference of every pair.

    They are divided by the scale. Values lie as in `intervals`; there are two or more.
    """
    lightest = sample.weight.min()
    if lightest < LIGHTEST:
        raise ValueError(
            f"sample_weight: a weight is {lightest:.0e} of the largest, too far apart for a "
            "confidence interval; give the queries that hardly count a weight of 0"
        )
    effective = sample.effective
    greatest /= sample.scale
    lower = np.where(sample.values.min(axis=1) >= 0, 0.0, -np.inf)
    highest = sample.values.max(axis=1)
    is_bounded = highest <= greatest * (1 + ROUNDING)
    upper = np.where(is_bounded, np.maximum(highest, greatest), np.inf)
    one, other = sample.pairs
    lowers = np.append(lower, lower[one] - upper[other]).tolist()
    uppers = np.append(upper, upper[one] - lower[other]).tolist()
    rows = []
    for row, (least, most) in enumerate(zip(lowers, uppers, strict=True)):
        mean, error, _, slope = sample.moments[row]
        freedom = float(len(sample.weight) - 1)
        is_mean = row < len(sample.values)
        square = error**2
        if error <= max(ROUNDING * abs(mean), TINY):
            square = 0.0
        elif is_mean:
            # The squared error if every value were at a bound, like 0/1 values, of which t is
            # normal.
            greatest_square = (mean - least) * (most - mean) / effective
            square = min(square, greatest_square)
            freedom /= max(1 - square / greatest_square, ROUNDING)
        else:
            slope = 0.0
        rows.append(
            Estimate(mean, error, square, freedom, effective, (least, most), slope, is_mean)
        )
    return rows


def _crossings(reach: float, rise: float, fall: float) -> tuple[float, float]:
    """Return the two ``d`` with ``d**2 == reach * (1 + rise * d) * (1 - fall * d)``."""
    tilt = reach * (rise - fall)
    root = math.hypot(reach * (rise + fall), 2 * math.sqrt(reach))
    bend = 2 * (1 + reach * rise * fall)
    return (tilt - root) / bend, (tilt + root) / bend


def paired_tests(
    sample: Sample, *, alternative: str = "two-sided", margin: float = 0.0, seed: int = 0
) -> Tests:
    """Test whether the means of two rows differ, for every pair.

    The randomization test exchanges the scores of the two systems in some of the queries, and
    counts how often the means then differ at least as much. With up to 32 queries that differ, it
    tries all permutations, and the p-value is exact. Otherwise it tries a random group of
    1,048,576. The t-test uses the contribution of every query to the difference of the (weighted)
    means. With a margin, differences must be symmetric around their mean.
    """
    two_sided = alternative == "two-sided"
    margin /= sample.scale
    shares = distance_beyond(sample.by_query, alternative, margin) * sample.weight
    p_values = np.ones(len(shares))
    permutations = np.full(len(shares), 1 << SAMPLED)
    exact = np.zeros(len(shares), bool)
    for row, values in enumerate(shares):
        differing = values[values != 0]
        if len(differing) <= EXACT:
            p_values[row] = _exact_p(differing, two_sided)
            permutations[row] = 1 << len(differing)
            exact[row] = True
    if not exact.all():
        one, other = sample.pairs[:: _sign(alternative), ~exact]
        p_values[~exact] = _sampled_p(sample, one, other, margin, two_sided, seed)
    return Tests(p_values, np.array(_t_tests(shares, two_sided)), exact, permutations)


def _sign(alternative: str) -> int:
    """Return the sign with which a difference speaks for the alternative if it is positive."""
    return -1 if alternative == "less" else 1


def _exact_p(shares: Floats, two_sided: bool) -> float:
    """Return the share of all permutations with a sum at least as extreme as the observed one."""
    # A permutation combines one of the first half of the queries with one of the second half.
    half = len(shares) // 2
    one = _signed_sums(shares[:half])
    other = _signed_sums(shares[half:])
    total = float(one[0] + other[0])
    if two_sided:
        total = abs(total)
    one.sort()
    other.sort()
    least = total - ROUNDING * (one[-1] + other[-1])
    as_great = one.size * other.size - int(other.searchsorted(least - one).sum())
    # By symmetry, as many are as far below 0.
    as_great *= 1 + two_sided
    return min(1.0, as_great / 2.0 ** len(shares))


def _signed_sums(shares: Floats) -> Floats:
    """Return the sum of shares with every combination of signs; in the first, all are positive."""
    sums = np.zeros(1)
    for start in range(0, len(shares), 8):
        eight = shares[start : start + 8]
        signs = SIGNS_OF_8[: 1 << len(eight), : len(eight)]
        sums = np.add.outer(sums, signs @ eight).reshape(-1)
    return sums


def _sampled_p(
    sample: Sample, one: Array, other: Array, margin: float, two_sided: bool, seed: int
) -> Floats:
    """Return the share of a random group of permutations with a sum at least as extreme.

    Each query gets a random word of SAMPLED bits. Each permutation of the group is also a word: it
    exchanges the scores of the queries whose words have an odd number of bits in common with it.
    The sums of permutations that differ only in the last bits are computed together. The sum of a
    pair is the difference of the sums of its rows; all rows are relative to the first, so that two
    rows need one sum.

    The share is a valid p-value without a correction, because the permutations form a group, which
    contains the identity (Hemerik & Goeman, TEST 2018; Koning & Hemerik, Biometrika 2024). Any two
    permutations are independent, so its variance is that of a random sample.
    """
    values, weight = sample.values, sample.weight
    words = np.random.default_rng(seed).integers(1 << SAMPLED, size=len(weight))
    last_bits = words % SIGNS_AT_A_TIME
    first_bits = words // SIGNS_AT_A_TIME
    used, positions = np.unique([one, other], return_inverse=True)
    pairs = positions.reshape(2, -1).T.tolist()
    rows = values[used[1:]] - values[used[0]]
    if margin > 0:
        # The last sum is of the weights with their signs, for the margin that a query has.
        rows = np.concatenate([rows, np.ones((1, len(weight)))])
    rows = rows * weight

    def distance(sums: Sequence[Any], one: int, other: int) -> Any:
        sums = [0.0, *sums]
        difference = sums[one] - sums[other]
        if margin:
            difference += margin * sums[-1]
        if two_sided:
            return np.abs(difference)
        return difference

    sizes = np.abs(values * weight).sum(axis=1)
    totals = rows.sum(axis=1)
    rounding = ROUNDING * (sizes[one] + sizes[other] + margin * weight.sum())
    least = np.array([distance(totals, *pair) for pair in pairs]) - rounding
    as_far = np.zeros(len(pairs), np.int64)
    for word in range((1 << SAMPLED) // SIGNS_AT_A_TIME):
        signs = 1.0 - 2.0 * (np.bitwise_count(first_bits & word) & 1)
        sums = []
        for row in rows:
            cells = np.bincount(last_bits, row * signs, SIGNS_AT_A_TIME)
            sums.append(_walsh_hadamard(cells))
        for index, pair in enumerate(pairs):
            as_far[index] += np.count_nonzero(distance(sums, *pair) >= least[index])
    return as_far / 2.0**SAMPLED


def _walsh_hadamard(cells: Array) -> Array:
    """Return all signed sums of cells, in any order.

    The sign of a cell in a sum depends on the bits that both have in common. Each product with the
    signs of three bits adds along these bits and moves the next three to the front.
    """
    bits = int(cells.size).bit_length() - 1
    for bit in range(0, bits, 3):
        signs = SIGNS_OF_BITS[min(3, bits - bit)]
        cells = (cells.reshape(len(signs), -1).T @ signs).reshape(-1)
    return cells


def _t_tests(shares: Floats, two_sided: bool) -> list[float]:
    # Not by `scipy.stats.ttest_1samp`, which warns if all values are the same.
    queries = shares.shape[1]
    # Near 1, so that no square underflows.
    shares = np.ldexp(shares, -np.frexp(np.abs(shares).max(axis=1, keepdims=True))[1])
    means = shares.sum(axis=1) / queries
    squares = ((shares - means[:, np.newaxis]) ** 2).sum(axis=1)
    errors = np.sqrt(squares / (queries - 1) / queries)
    return [
        t_test(mean, error, queries - 1, two_sided)
        for mean, error in zip(means.tolist(), errors.tolist(), strict=True)
    ]


def t_test(beyond: float, error: float, freedom: float, two_sided: bool) -> float:
    """Return the p-value of a difference by Student's t, from `distance_beyond` and its error."""
    distance = abs(beyond) if two_sided else beyond
    if error:
        return (1 + two_sided) * float(scipy_special().stdtr(freedom, -distance / error))
    return 0.0 if distance > 0 else 1.0


def distance_beyond(difference: Any, alternative: str, margin: float) -> Any:
    """Return how far a difference lies from the tested one, above 0 if this is for the alternative.

    The tested one is 0, or the margin on the other side of it.
    """
    return _sign(alternative) * difference + margin


def power(sample: Sample, *, alternative: str = "two-sided", margin: float = 0.0) -> list[Power]:
    """Return the power of the test of every difference.

    It is for a paired t-test at the 5% level with 80% power, from the noncentral t distribution.
    With unequal weights, the queries count as their effective number; fewer than two detect
    nothing.
    """
    two_sided = alternative == "two-sided"
    effective = sample.effective
    powers = []
    for mean, _, spread, _ in sample.moments[len(sample.values) :]:
        detectable = needed = math.nan
        # Nothing is known from differences that are all equal.
        if effective >= 2 and spread > ROUNDING * abs(mean):
            deviation = spread * math.sqrt(effective / (effective - 1))
            distance = abs(mean)
            if not two_sided:
                distance = distance_beyond(mean, alternative, margin / sample.scale)
            t = detectable_t(effective, two_sided)
            detectable = t / math.sqrt(effective) * deviation * sample.scale
            queries = _queries_needed(distance / deviation, two_sided)
            needed = queries * len(sample.weight) / effective
        powers.append(Power(detectable, float(np.ceil(needed))))
    return powers


def _queries_needed(effect: float, two_sided: bool) -> float:
    """Return how many queries detect a mean of `effect` standard deviations, or nan."""
    ndtri = scipy_special().ndtri
    distance = float(ndtri(1 - LEVEL / (1 + two_sided)) + ndtri(POWER))
    if not effect > distance / math.sqrt(MOST_NEEDED):
        return math.nan
    # A z-test needs fewer than a t-test: the search begins with its number.
    needed = max(2.0, math.ceil((distance / effect) ** 2))
    while effect * math.sqrt(needed) < detectable_t(needed, two_sided):
        # Beyond a million, in steps of a millionth: the exact number does not matter there.
        needed += max(1.0, needed // 2**20)
    return needed


@lru_cache(1 << 12)
def detectable_t(queries: float, two_sided: bool) -> float:
    """Return the distance of a mean from 0, in standard errors, at which the t-test detects it."""
    special = scipy_special()
    critical = special.stdtrit(queries - 1, 1 - LEVEL / (1 + two_sided))
    return float(special.nctdtrinc(queries - 1, 1 - POWER, critical))


def falls_beyond(difference: float, max_drop: float) -> bool:
    """Return whether a mean drops by more than `max_drop`, apart from rounding."""
    return -difference > max_drop + ROUNDING


def is_regression(difference: float, p: float, *, max_drop: float, alpha: float) -> bool:
    """Return whether a mean drops by more than `max_drop`, and a one-sided test says so."""
    return falls_beyond(difference, max_drop) and p <= alpha


def holm(p_values: Floats) -> Floats:
    """Correct p-values for their number, so that any false discovery is improbable (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(corrected, 1.0)


@cache
def scipy_special() -> Any:
    """Return SciPy's special functions, which import in a third of the time of scipy.stats."""
    return imported("scipy.special", "a confidence interval or a test", "SciPy", "scipy")
