"""Confidence intervals of means over queries, and paired tests of the difference of two means.

The queries are regarded as a sample of all queries that might be asked. Intervals are Student's t
intervals, for means in the form of Wilson's (1927) for proportions. The difference between two systems
is tested by exchanging their scores query by query (Fisher's randomization test; Smucker et al., CIKM
2007, on why to prefer it in retrieval), and with Student's paired t-test.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import missing_library
from ..measure.ties import Floats
from .parts import Block, Parts

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
MOST_NEEDED = 2.0**40  # a larger number counts as infinite


class Intervals(NamedTuple):
    """The interval of each mean: arrays of the same shape."""

    low: Floats
    high: Floats
    standard_error: Floats


class Tests(NamedTuple):
    """The p-values of each difference: arrays of the same shape."""

    randomization: Floats
    t_test: Floats
    exact: NDArray[np.bool_]  # whether the randomization test tried all permutations
    permutations: NDArray[np.int64]  # how many it tried


class Power(NamedTuple):
    """The power of the test of each difference: arrays of the same shape, nan if unknown."""

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
    greatest: float | Floats = 1.0,
    confidence: float = 0.95,
    parts: Parts | None = None,
) -> Intervals:
    """Return the intervals of the mean of each row, and of the differences of some pairs of rows.

    The interval of a difference is Student's t, as in the paired t-test. For the interval of a mean, the variance
    depends on the mean: it shrinks towards 0 and the greatest value, as for 0/1 values (Wilson, 1927), or changes with
    the skewness of the values. Each end is the outer one that these two models give.

    `values` has shape ``(rows, queries)``, with nan where a query has no value, in both rows of a pair. They lie
    between 0 and `greatest`; a row with values outside has no bound on that side. The arrays returned have shape
    ``(rows + pairs,)``, and with parts ``(rows + pairs, parts)``, with nan if fewer than two queries of a part have a
    value; without parts, that is an error.
    """
    student = scipy_special().stdtrit
    split, groups, values, scale = _prepared(values, weight, pairs, parts)
    most = np.broadcast_to(greatest, len(values))
    result = Intervals(*(np.full((len(values) + len(pairs), split.number), np.nan) for _ in Intervals._fields))
    for rows, block in groups:
        share = _relative(weight, block)
        if share.min() < LIGHTEST:
            problem = f"a weight is {share.min():.0e} of the largest, too far apart for a confidence interval"
            raise ValueError(f"sample_weight: {problem}; give the queries that hardly count a weight of 0")
        share = share / share.sum(axis=1, keepdims=True)
        value = {row: values[row][block.queries] for row in rows}
        ends = {row: _bounds(value[row], most[row] / scale[row, block.parts]) for row in rows}
        ends_of_rows = {row: _interval(value[row], share, ends[row], confidence, student, of_mean=True) for row in rows}
        for at, (one, other) in enumerate(pairs, start=len(values)):
            if one in ends:
                (low, high), (low_other, high_other) = ends[one], ends[other]
                difference, within = differences(value[one], value[other]), (low - high_other, high - low_other)
                ends_of_rows[at] = _interval(difference, share, within, confidence, student, of_mean=False)
        for at, figures in ends_of_rows.items():
            row = at if at < len(values) else pairs[at - len(values)][0]
            for column, figure in zip(result, figures, strict=True):
                column[at, block.parts] = figure * scale[row, block.parts]
    return result if parts is not None else Intervals._make(each[:, 0] for each in result)


def _bounds(value: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Return the bounds of each mean: 0 and the greatest value, except for a row with values outside them."""
    least, greatest = value.min(axis=1), value.max(axis=1)
    bounded = greatest <= most * (1 + ROUNDING)
    return np.where(least >= 0, 0.0, -np.inf), np.where(bounded, np.maximum(most, greatest), np.inf)


def _interval(
    value: Floats, share: Floats, bounds: tuple[Floats, Floats], confidence: float, student: Any, *, of_mean: bool
) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the interval of each row's mean and its standard error.

    The interval contains every mean within Student's t times its standard error of the observed one. The
    square of this error at ``mean + d`` is modeled as that at ``mean`` times ``(1 + rise * d)(1 - fall * d)``.
    """
    (mean, error, slope), heaviness = _moments(value, share), (share**2).sum(axis=1)
    with np.errstate(all="ignore"):  # values that are not finite are discarded below
        # if all values are equal, the share of others at a bound is at most the end of Wilson's interval for 0 of n
        odds = student(math.inf, (1 + confidence) / 2) ** 2 * heaviness
        same = [np.where(np.isfinite(end), mean + (end - mean) * odds / (1 + odds), mean) for end in bounds]
        gaps = (mean - bounds[0], bounds[1] - mean) if of_mean else (np.full(len(mean), np.inf),) * 2
        most = gaps[0] * gaps[1] * heaviness  # the squared error if every value were at a bound, like 0/1 values
        square = np.fmin(error**2, most)
        freedom = (value.shape[1] - 1) / np.maximum(1 - square / most, ROUNDING)
        reach = student(freedom, (1 + confidence) / 2) ** 2 * square
        rise, fall = (np.where(np.isfinite(most), 1 / gap, 0.0) for gap in gaps)
        ends = [_crossings(reach, rise, fall)]
        if of_mean:
            ends.append(_crossings(reach, np.maximum(rise, fall + slope), np.maximum(fall, rise - slope)))
        low = np.maximum(mean + np.min([end[0] for end in ends], axis=0), bounds[0])
        high = np.minimum(mean + np.max([end[1] for end in ends], axis=0), bounds[1])
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


def _moments(value: Floats, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Return for each row the mean, its standard error, and the relative change of the variance with the mean.

    The error is the larger of two: one for values with a variance independent of their weights, and one for
    any values (HC2 of MacKinnon & White, 1985).
    """
    mean = value[:, 0] + (share * (value - value[:, :1])).sum(axis=1)
    away = value - mean[:, np.newaxis]
    largest = np.abs(away).max(axis=1)
    squares = share * (away / np.where(largest, largest, 1.0)[:, np.newaxis]) ** 2
    spread, heaviness = squares.sum(axis=1), (share**2).sum(axis=1)
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
    parts: Parts | None = None,
) -> Tests:
    """Test whether the means of two rows differ, for each pair of rows; shapes are as in `intervals`.

    The randomization test exchanges the scores of the two systems in some of the queries, and counts how often the
    means then differ at least as much. With up to 32 queries that differ, it tries all permutations, and the p-value is
    exact. Otherwise it tries a random group of 1,048,576. The t-test uses the contribution of each query to the
    difference of the (weighted) means. With a margin, differences must be symmetric around their mean.
    """
    two_sided = alternative == "two-sided"
    pairs = [(other, one) for one, other in pairs] if alternative == "less" else pairs
    split, groups, values, scale = _prepared(values, weight, pairs, parts)
    margins = _margins(margin, pairs, scale)
    result = Tests(*(np.full((len(pairs), split.number), fill) for fill in (1.0, 1.0, True, 1)))
    for rows, block in groups:
        weights, own = _relative(weight, block), block.parts
        within = [at for at, pair in enumerate(pairs) if pair[0] in rows]
        for at in within:
            one, other = (values[row][block.queries] for row in pairs[at])
            shares = (differences(one, other) + margins[at, own][:, np.newaxis]) * weights
            for column, figures in zip(result, _tests_of_few(shares, two_sided), strict=True):
                column[at, own] = figures
        if not (exact := result.exact[within][:, own]).all():
            weighted = [row[block.queries] * weights for row in values] + [np.broadcast_to(weights, shares.shape)]
            for place in np.flatnonzero(~exact.all(axis=0)).tolist():
                sampled = [at for at in within if not result.exact[at, own[place]]]
                shared = np.stack([each[place] for each in weighted])
                of_pairs = [(*pairs[at], margins[at, own[place]]) for at in sampled]
                result.randomization[sampled, own[place]] = _sampled_p(shared, of_pairs, two_sided, seed)
    return result if parts is not None else Tests._make(each[:, 0] for each in result)


def _tests_of_few(shares: Floats, two_sided: bool) -> Tests:
    """Return the tests of each row, except p-values of randomization tests that try only some permutations."""
    differing = np.count_nonzero(shares, axis=1)
    exact = differing <= EXACT
    randomization = np.ones(len(shares))
    for count in np.unique(differing[exact]).tolist():
        alike = shares[differing == count]
        randomization[differing == count] = _exact_p(alike[alike != 0].reshape(len(alike), count), two_sided)
    permutations = np.where(exact, 2 ** np.minimum(differing, EXACT), 2**SAMPLED)
    return Tests(randomization, _t_test(shares, two_sided), exact, permutations)


def _exact_p(shares: Floats, two_sided: bool) -> Floats:
    """Return, for each row, the share of all permutations with a sum at least as extreme as the observed one.

    Each permutation combines one of the first half of the queries with one of the second half.
    """
    rows, queries = shares.shape
    step = max(1, SIGNS_AT_A_TIME >> (queries + 1) // 2)  # rows whose sums the processor's cache holds
    if rows > step:
        return np.concatenate([_exact_p(shares[at : at + step], two_sided) for at in range(0, rows, step)])
    total = shares.sum(axis=1)
    least = (np.abs(total) if two_sided else total) - ROUNDING * np.abs(shares).sum(axis=1)
    halves = []
    for half in (shares[:, : queries // 2], shares[:, queries // 2 :]):
        sums = np.zeros((rows, 1))
        for share in half.T[:, :, np.newaxis]:
            sums = np.concatenate([sums - share, sums + share], axis=1)
        halves.append(np.sort(sums, axis=1))
    bounds = least[:, np.newaxis] - halves[0]
    as_great = [(sums.size - np.searchsorted(sums, bound)).sum() for sums, bound in zip(halves[1], bounds, strict=True)]
    p_values: Floats = (1 + two_sided) * np.array(as_great) / 2.0**queries  # by symmetry, as many are as far below 0
    return np.minimum(1.0, p_values)


def _sampled_p(rows: Floats, pairs: Sequence[tuple[int, int, float]], two_sided: bool, seed: int) -> Floats:
    """Return the share of a random group of permutations with a sum at least as extreme as the observed one.

    Each query gets a random word of SAMPLED bits. Each permutation of the group is also a word: it exchanges the scores
    of those queries whose words have an odd number of bits in common with it. The sums of permutations that differ only
    in the last bits are computed together.

    The share is a valid p-value without a correction, because the permutations form a group, which contains the
    identity (Hemerik & Goeman, TEST 2018; Koning & Hemerik, Biometrika 2024). Any two permutations are independent, so
    its variance is that of a random sample.

    The last of the rows has the weights. A pair is two rows and the amount to add to their difference.
    """
    words = np.random.default_rng(seed).integers(1 << SAMPLED, size=rows.shape[1])
    last, first = words % SIGNS_AT_A_TIME, words // SIGNS_AT_A_TIME
    used = {-1, *(row for pair in pairs for row in pair[:2])}

    def moved(sums: Mapping[int, Any], one: int, other: int, margin: float) -> Any:
        difference = sums[one] - sums[other]
        if margin:
            difference += margin * sums[-1]
        return np.abs(difference) if two_sided else difference

    totals, sizes = ({row: each[row].sum() for row in used} for each in (rows, np.abs(rows)))
    least = []
    for one, other, margin in pairs:
        rounding = ROUNDING * (sizes[one] + sizes[other] + margin * sizes[-1])
        least.append(moved(totals, one, other, margin) - rounding)
    as_far = np.zeros(len(pairs), np.int64)
    for word in range((1 << SAMPLED) // SIGNS_AT_A_TIME):
        signs = 1.0 - 2.0 * (np.bitwise_count(first & word) & 1)
        sums = {row: _walsh_hadamard(np.bincount(last, rows[row] * signs, SIGNS_AT_A_TIME)) for row in used}
        as_far += [np.count_nonzero(moved(sums, *pair) >= bound) for pair, bound in zip(pairs, least, strict=True)]
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


def _t_test(shares: Floats, two_sided: bool) -> Floats:
    """Return, for each row, the probability that chance gives a mean at least as extreme.

    The same as `scipy.stats.ttest_1samp`, which warns if all values are the same.
    """
    queries = shares.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = shares.mean(axis=1) / (shares.std(axis=1, ddof=1) / np.sqrt(queries))
    p_values = (1 + two_sided) * scipy_special().stdtr(queries - 1, -np.abs(t) if two_sided else -t)
    return np.where(np.isnan(t), 1.0, p_values)


def power(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    alternative: str = "two-sided",
    margin: float | Floats = 0.0,
    parts: Parts | None = None,
) -> Power:
    """Return the difference that the queries detect, and the number of queries needed to detect the observed one.

    Both are for a paired t-test at the 5% level with 80% power, from the noncentral t distribution. With unequal
    weights, the queries count as ``sum(weight) ** 2 / sum(weight ** 2)`` queries (Kish, 1965); fewer than two detect
    nothing.
    """
    pairs = [(other, one) for one, other in pairs] if alternative == "less" else pairs
    split, groups, values, scale = _prepared(values, weight, pairs, parts)
    margins = _margins(margin, pairs, scale)
    mean, deviation, counted, effective = np.full((4, len(pairs), split.number), np.nan)
    for rows, block in groups:
        weights, own = _relative(weight, block), block.parts
        total = weights.sum(axis=1)
        for at in (at for at, pair in enumerate(pairs) if pair[0] in rows):
            counted[at, own], effective[at, own] = block.size, total**2 / (weights**2).sum(axis=1)
            difference = differences(*(values[row][block.queries] for row in pairs[at]))
            mean[at, own] = (difference * weights).sum(axis=1) / total
            away = (difference - mean[at, own][:, np.newaxis]) ** 2
            deviation[at, own] = np.sqrt((away * weights).sum(axis=1) / total)
    effective[effective < 2] = np.nan
    deviation[deviation <= ROUNDING * np.abs(mean)] = np.nan  # their variance is unknown
    two_sided = alternative == "two-sided"
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation *= np.sqrt(effective / (effective - 1))
        effect = (np.abs(mean) if two_sided else mean + margins) / deviation
        min_detectable = detectable_t(effective, two_sided) * deviation / np.sqrt(effective)
        needed = _queries_needed(effect, two_sided) * counted / effective
    needed = np.where(np.isfinite(needed), np.ceil(needed), np.nan)
    result = Power(min_detectable * scale[[one for one, _ in pairs]], needed)
    return result if parts is not None else Power._make(each[:, 0] for each in result)


def _queries_needed(effect: Floats, two_sided: bool) -> Floats:
    """Return the number of queries with which the t-test detects a mean of `effect` standard deviations."""
    special = scipy_special()
    needed = np.ceil(((special.ndtri(1 - LEVEL / (1 + two_sided)) + special.ndtri(POWER)) / effect) ** 2)
    needed = np.where((effect > 0) & (needed < MOST_NEEDED), np.maximum(needed, 2), np.inf)  # estimated by a z-test
    searched = np.isfinite(needed)
    while searched.any():
        searched[searched] = effect[searched] * np.sqrt(needed[searched]) < detectable_t(needed[searched], two_sided)
        needed[searched] += np.maximum(1, np.floor(needed[searched] / 2**20))
    return needed


def detectable_t(queries: Floats, two_sided: bool) -> Floats:
    """Return the distance of a mean from 0, in standard errors, at which the t-test detects it with this power."""
    special = scipy_special()
    distinct, at = np.unique(queries, return_inverse=True)  # few numbers, and each takes long to compute
    critical = special.stdtrit(distinct - 1, 1 - LEVEL / (1 + two_sided))
    return np.asarray(special.nctdtrinc(distinct - 1, 1 - POWER, critical))[at].reshape(queries.shape)


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


def scaled(values: Floats, pairs: Sequence[tuple[int, int]], parts: Parts) -> tuple[Floats, Floats]:
    """Return rows of values, divided so that no sum or square overflows, and the divisors.

    A divisor is a power of two near the largest value of a part, the same in rows that are compared, so no digit is
    lost. The shape of the divisors is ``(rows, parts)``.
    """
    largest = np.maximum.reduceat(np.nan_to_num(np.abs(values)), parts.first, axis=1)
    while grown := [(one, other) for one, other in pairs if (largest[one] != largest[other]).any()]:
        for pair in grown:
            largest[list(pair)] = largest[list(pair)].max(axis=0)
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    return values / (scale if parts.number == 1 else parts.of_queries(scale)), scale


def _margins(margin: float | Floats, pairs: Sequence[tuple[int, int]], scale: Floats) -> Floats:
    """Return the margin of each pair in each part, divided like the values."""
    margins = np.broadcast_to(margin, len(pairs))
    return np.asarray(margins[:, np.newaxis] / scale[[one for one, _ in pairs]])


def _prepared(
    values: Floats, weight: Floats | None, pairs: Sequence[tuple[int, int]], parts: Parts | None
) -> tuple[Parts, list[tuple[list[int], Block]], Floats, Floats]:
    """Return the parts, the groups of rows and blocks that count, the scaled values, and their divisors."""
    scipy_special()
    split = Parts([values.shape[1]]) if parts is None else parts
    return split, _alike(values, weight, parts, split), *scaled(values, pairs, split)


def _relative(weight: Floats | None, block: Block) -> Floats:
    """Return the weights of queries, divided by the largest of each part: a row for each part, or one for all."""
    if weight is None:
        return np.ones((1, block.size))
    own = weight[block.queries]
    return np.asarray(own / own.max(axis=1, keepdims=True))


def _alike(values: Floats, weight: Floats | None, parts: Parts | None, split: Parts) -> list[tuple[list[int], Block]]:
    """Return groups of rows with values for the same queries, and their blocks of parts with two queries or more."""
    valued = ~np.isnan(values)
    if weight is not None:
        valued &= weight > 0
    groups: dict[bytes, list[int]] = {}
    for row, mask in enumerate(valued):
        groups.setdefault(mask.tobytes(), []).append(row)
    alike = [(rows, block) for rows in groups.values() for block in split.blocks(valued[rows[0]])]
    for _, block in alike if parts is None else ():
        if block.size < 2:
            hint = "; report gives the score of one" * block.size
            raise ValueError(f"a comparison needs at least two queries that have a value; got {block.size}{hint}")
    return [(rows, block) for rows, block in alike if block.size > 1]


@cache
def scipy_special() -> Any:
    """Return SciPy's special functions, which are imported in a third of the time of scipy.stats."""
    try:
        return import_module("scipy.special")
    except ImportError:
        raise missing_library("a confidence interval or a test", "SciPy", "scipy") from None
