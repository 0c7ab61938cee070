"""How sure a mean over queries is, and whether two means differ: intervals and paired tests.

The queries are taken as a sample of all that might be asked. Intervals are Student's t, those of
means in the form that Wilson (1927) gave those of proportions; whether two systems differ is
tested by exchanging their scores query by query (the randomisation test of Fisher; Smucker et
al., CIKM 2007, on why to prefer it in retrieval), with Student's paired t-test beside it.
"""

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Relative to the values, a difference that is only one of rounding.
ROUNDING = 1e-12
# Weights further apart than this leave the lighter queries without digits.
LIGHTEST = 1e-12
# Below so many queries, intervals cover less often than they say (benchmarks/SIMULATIONS.md).
FEW = 10
# The randomisation test tries all exchanges of so many queries that differ; of more, it tries 2 ** SAMPLED exchanges,
# a BLOCK of them at a time, whose sums the processor's cache holds.
EXACT = 32
SAMPLED = 20
BLOCK = 1 << 14
# What `power` is about: a test at this level finds a difference as often.
LEVEL = 0.05
POWER = 0.8


class Intervals(NamedTuple):
    """How sure each mean is: arrays of one shape."""

    low: Floats
    high: Floats
    standard_error: Floats


class Tests(NamedTuple):
    """The p-values of each difference: arrays of one shape."""

    randomization: Floats
    t_test: Floats
    exact: NDArray[np.bool_]  # whether the randomisation test tried all exchanges
    exchanges: NDArray[np.int64]  # how many it tried


class Power(NamedTuple):
    """What the queries can tell of each difference: arrays of one shape, nan where that is unknown."""

    detectable: Floats  # the smallest difference, from 0 or from the margin, that a t-test of them finds
    queries_needed: Floats  # to find the difference that these have


def differences(one: Floats, other: Floats) -> Floats:
    """``one - other``, where what may be only rounding counts as 0.

    >>> differences(np.array([.1 + .2, .5]), np.array([.3, .25])).tolist()
    [0.0, 0.25]
    """
    difference = np.asarray(one - other)
    return np.where(np.abs(difference) <= ROUNDING * np.maximum(np.abs(one), np.abs(other)), 0.0, difference)


def intervals(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    greatest: float | Floats = 1.0,
    confidence: float = 0.95,
) -> Intervals:
    """Intervals of the mean of each row, and of the differences of some of them.

    That of a difference is Student's t, as in the paired t-test. That of a mean lets the variance
    change with the mean: it vanishes towards 0 and the greatest value, as that of 0/1 values does
    (Wilson, 1927), or changes as the skewness of the values says; the wider of the two counts.

    Args:
        values: shape ``(rows, queries)``; nan where a query has no value, which must be the same
            queries in both rows of a pair. Those take no part.
        weight: one weight per query, not negative; None: all equal.
        pairs: of each difference, the row and the row that is taken from it.
        greatest: the greatest value that a query can have, in all rows or in each; inf: no bound.
            The least is 0. A row with values beyond is not bounded there.
        confidence: between 0 and 1.

    Returns:
        Arrays of shape ``(rows + pairs,)``.

    Raises:
        ValueError: a row has a value for fewer than two queries; weights are too far apart.

    >>> found = intervals(np.array([[1, 1, 1, 0], [1, 1, 1, 1]]))
    >>> found.low.round(2).tolist(), found.high.round(2).tolist()
    ([0.3, 0.51], [0.95, 1.0])
    """
    student = _special().stdtrit
    result = Intervals(*(np.full(len(values) + len(pairs), np.nan) for _ in Intervals._fields))
    most = np.broadcast_to(greatest, len(values))
    for rows, queries in _rows_by_queries(values, weight):
        share = _relative(weight, queries)
        if share.min() < LIGHTEST:
            problem = f"a weight is {share.min():.0e} of the largest, too far apart for a confidence interval"
            raise ValueError(f"sample_weight: {problem}; give the queries that hardly count a weight of 0")
        share = share / share.sum()
        ends = {row: _bounds(values[row, queries], most[row]) for row in rows}
        for row in rows:
            found = _interval(values[row, queries], share, ends[row], confidence, student, of_mean=True)
            result.low[row], result.high[row], result.standard_error[row] = found
        for at, (one, other) in enumerate(pairs, start=len(values)):
            if one in ends:
                (low, high), (low_other, high_other) = ends[one], ends[other]
                difference = differences(values[one, queries], values[other, queries])
                within = (low - high_other, high - low_other)
                found = _interval(difference, share, within, confidence, student, of_mean=False)
                result.low[at], result.high[at], result.standard_error[at] = found
    return result


def _bounds(value: Floats, most: float) -> tuple[float, float]:
    """Return between which values a mean can be: 0 and the greatest, but for a row that goes beyond."""
    least, greatest = value.min(), value.max()
    return 0.0 if least >= 0 else -math.inf, max(most, greatest) if greatest <= most * (1 + ROUNDING) else math.inf


def _interval(
    value: Floats, share: Floats, bounds: tuple[float, float], confidence: float, student: Any, *, of_mean: bool
) -> tuple[float, float, float]:
    """Return the ends of a mean's interval and its standard error.

    The interval holds each mean that is no further off than Student's t times its standard error,
    whose square at ``mean + d`` is taken to be that at ``mean`` times ``(1 + rise * d)(1 - fall * d)``.
    """
    (mean, error, slope), heaviness = _moments(value, share), (share**2).sum()
    if error <= ROUNDING * abs(mean):  # all values are the same: as many may be at a bound as Wilson's of none leaves
        odds = student(math.inf, (1 + confidence) / 2) ** 2 * heaviness
        low, high = (mean + (end - mean) * odds / (1 + odds) if math.isfinite(end) else mean for end in bounds)
        return low, high, error
    gaps = (mean - bounds[0], bounds[1] - mean) if of_mean else (math.inf, math.inf)
    most = gaps[0] * gaps[1] * heaviness  # the squared error if all values were at a bound, as 0/1 values are
    square = min(error**2, most)
    freedom = (len(value) - 1) / max(1 - square / most, ROUNDING)
    reach = student(freedom, (1 + confidence) / 2) ** 2 * square
    rise, fall = (1 / gap if math.isfinite(most) else 0.0 for gap in gaps)
    shapes = [(rise, fall)]
    if of_mean:
        shapes.append((max(rise, fall + slope), max(fall, rise - slope)))
    ends = [_crossings(reach, *shape) for shape in shapes]
    low, high = mean + min(end[0] for end in ends), mean + max(end[1] for end in ends)
    return max(low, bounds[0]), min(high, bounds[1]), error


def _crossings(reach: float, rise: float, fall: float) -> tuple[float, float]:
    """Return the two ``d`` with ``d**2 == reach * (1 + rise * d) * (1 - fall * d)``."""
    tilt, root = reach * (rise - fall), math.sqrt((reach * (rise + fall)) ** 2 + 4 * reach)
    bend = 2 * (1 + reach * rise * fall)
    return (tilt - root) / bend, (tilt + root) / bend


def _moments(value: Floats, share: Floats) -> tuple[float, float, float]:
    """Return the mean, its standard error, and the change of the variance with the mean, relative to it.

    The error is the larger of two: that of values whose spread has nothing to do with their
    weights, and that of any others (HC2 of MacKinnon & White, 1985).
    """
    mean = value[0] + (share * (value - value[0])).sum()
    away = value - mean
    if not (largest := np.abs(away).max()):
        return float(mean), 0.0, 0.0
    squares = share * (away / largest) ** 2
    spread, heaviness = squares.sum(), (share**2).sum()
    variance = max(spread * heaviness / (1 - heaviness), (squares * share / (1 - share)).sum())
    slope = (squares * away).sum() / (spread * largest) ** 2
    return float(mean), float(largest * math.sqrt(variance)), float(slope)


def paired_tests(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    alternative: str = "two-sided",
    margin: float | Floats = 0.0,
    resamples: int = 10_000,
    seed: int = 0,
) -> Tests:
    """Whether the means of two rows differ, for each pair of rows.

    The randomisation test exchanges the scores of the two systems, query by query, and asks how
    often the means then differ at least as much. Up to 32 queries that differ, it tries all
    exchanges: the p-value is exact. Else it tries a random group of 1,048,576. The t-test takes
    each query's share in the difference of the (weighted) means.

    Args:
        values: as for :func:`intervals`.
        weight: likewise.
        pairs: of each difference, the row and the row that is taken from it.
        alternative: is the difference other than 0 ("two-sided"), "greater" than ``-margin`` or "less" than ``margin``?
        margin: one, or one of each pair; differences must then spread alike to both sides of their mean.
        resamples: the least number of exchanges to try.
        seed: of the random numbers.

    Returns:
        Arrays of shape ``(pairs,)``.

    Raises:
        ValueError: a row has a value for fewer than two queries.

    >>> tests = paired_tests(np.array([[.9, .8, .7], [.5, .6, .1]]), pairs=[(0, 1)])
    >>> float(tests.randomization[0]), float(tests.t_test[0].round(4))  # 2 of the 8 exchanges differ as much
    (0.25, 0.0742)
    """
    student = _special().stdtr
    exponent = max(SAMPLED, (resamples - 1).bit_length())
    two_sided = alternative == "two-sided"
    if alternative == "less":
        pairs = [(other, one) for one, other in pairs]
    margins = np.broadcast_to(margin, len(pairs))
    result = Tests(*(np.full(len(pairs), fill) for fill in (1.0, 1.0, True, 1)))
    for rows, queries in _rows_by_queries(values, weight):
        weights = _relative(weight, queries)
        within = [at for at, pair in enumerate(pairs) if pair[0] in rows]
        for at in within:
            shares = (differences(*values[list(pairs[at])][:, queries]) + margins[at]) * weights
            result.t_test[at] = _t_test(shares, two_sided, student)
            differing = shares[shares != 0]
            result.exact[at] = len(differing) <= EXACT
            result.exchanges[at] = 2 ** (len(differing) if result.exact[at] else exponent)
            if result.exact[at]:
                result.randomization[at] = _exact_p(differing, two_sided)
        if sampled := [at for at in within if not result.exact[at]]:
            shared = np.vstack([values[:, queries] * weights, weights])
            of_pairs = [(*pairs[at], margins[at]) for at in sampled]
            result.randomization[sampled] = _sampled_p(shared, of_pairs, two_sided, exponent, seed)
    return result


def _exact_p(shares: Floats, two_sided: bool) -> float:
    """Return the share of all exchanges whose sum is at least as far from 0, or at least as great.

    Each is an exchange of the first half of the queries with one of the second half.
    """
    total = shares.sum()
    least = (abs(total) if two_sided else total) - ROUNDING * np.abs(shares).sum()
    halves = []
    for half in (shares[: len(shares) // 2], shares[len(shares) // 2 :]):
        sums = np.zeros(1)
        for share in half:
            sums = np.concatenate([sums - share, sums + share])
        halves.append(np.sort(sums))
    as_great = int((len(halves[1]) - np.searchsorted(halves[1], least - halves[0])).sum())
    return min(1.0, (1 + two_sided) * as_great / 2.0 ** len(shares))  # as many are as far below 0


def _sampled_p(
    rows: Floats, pairs: Sequence[tuple[int, int, float]], two_sided: bool, exponent: int, seed: int
) -> Floats:
    """Return the share of a random group of exchanges whose sum is at least as far from 0, or at least as great.

    Each query draws a word of ``exponent`` bits, and each exchange of the group is a word too: it
    exchanges the queries whose words have an odd number of bits in common with it. The exchanges
    that differ in the last bits only are summed at once.

    The share is a valid p-value as it stands, since the group holds the scores as they are and
    looks the same from each of its exchanges (Hemerik & Goeman, TEST 2018; Koning & Hemerik,
    Biometrika 2024). Any two exchanges are independent, so that its variance is that of a sample.

    Args:
        rows: of weighted values; the last one of the weights.
        pairs: two rows, and how much to add to their difference.
        two_sided: count sums as far from 0.
        exponent: of 2, the size of the group.
        seed: of the words.
    """
    words = np.random.default_rng(seed).integers(1 << exponent, size=rows.shape[1])
    last, first = words % BLOCK, words // BLOCK
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
    for word in range((1 << exponent) // BLOCK):
        signs = 1.0 - 2.0 * (np.bitwise_count(first & word) & 1)
        sums = {row: _walsh_hadamard(np.bincount(last, rows[row] * signs, BLOCK)) for row in used}
        as_far += [np.count_nonzero(moved(sums, *pair) >= bound) for pair, bound in zip(pairs, least, strict=True)]
    return as_far / 2.0**exponent


def _walsh_hadamard(cells: NDArray[Any]) -> NDArray[Any]:
    """Return all sums of cells with signs, a sign being that of the bits common to a cell and a sum, in any order.

    Sums of neighbours are taken along the longer axis of a square, first of its rows, then of its columns.
    """
    side = math.isqrt(len(cells))
    for _ in range(2):
        cells = np.ascontiguousarray(cells.reshape(side, side).T)
        step = side
        while step < side * side:
            pairs = cells.reshape(-1, 2, step)
            difference = pairs[:, 0] - pairs[:, 1]
            pairs[:, 0] += pairs[:, 1]
            pairs[:, 1] = difference
            step *= 2
    return cells.reshape(-1)


def _t_test(shares: Floats, two_sided: bool, student: Any) -> float:
    """Return how likely the mean is at least as far from 0, or at least as great, by chance.

    As `scipy.stats.ttest_1samp`, which warns where all values are the same.
    """
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = shares.mean() / error
    return 1.0 if np.isnan(t) else float((1 + two_sided) * student(len(shares) - 1, -abs(t) if two_sided else -t))


def power(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    alternative: str = "two-sided",
    margin: float | Floats = 0.0,
) -> Power:
    """Return what the queries can tell, by the noncentral t of a paired t-test at the 5% level with 80% power.

    With unequal weights, they count as ``sum(weight) ** 2 / sum(weight ** 2)`` queries (Kish, 1965);
    less than two tell nothing.

    Args:
        values: as for :func:`paired_tests`, like the others.
        weight: likewise.
        pairs: likewise.
        alternative: likewise.
        margin: likewise.

    >>> found = power(np.array([[.9, .8, .7, .6], [.5, .6, .1, .6]]), pairs=[(0, 1)])
    >>> float(found.detectable[0].round(4)), int(found.queries_needed[0])
    (0.5494, 8)
    """
    if alternative == "less":
        pairs = [(other, one) for one, other in pairs]
    mean, deviation, counted, effective = np.full((4, len(pairs)), np.nan)
    for rows, queries in _rows_by_queries(values, weight):
        weights = _relative(weight, queries)
        within = [at for at, pair in enumerate(pairs) if pair[0] in rows]
        counted[within], effective[within] = len(queries), weights.sum() ** 2 / (weights**2).sum()
        for at in within:
            difference = differences(*values[list(pairs[at])][:, queries])
            mean[at] = np.average(difference, weights=weights)
            deviation[at] = np.sqrt(np.average((difference - mean[at]) ** 2, weights=weights))
    effective[effective < 2] = np.nan
    deviation[deviation <= ROUNDING * np.abs(mean)] = np.nan  # differences that are all the same tell nothing of others
    two_sided = alternative == "two-sided"
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation *= np.sqrt(effective / (effective - 1))
        effect = (np.abs(mean) if two_sided else mean + margin) / deviation
        detectable = _detectable_t(effective, two_sided) * deviation / np.sqrt(effective)
    too_few, enough = np.ones(len(pairs)), np.full(len(pairs), 2.0**40)
    while (enough - too_few > 1).any():
        middle = np.floor((too_few + enough) / 2)
        found = effect * np.sqrt(middle) >= _detectable_t(middle, two_sided)
        too_few, enough = np.where(found, too_few, middle), np.where(found, middle, enough)
    return Power(detectable, np.where(enough < 2.0**40, np.ceil(enough * counted / effective), np.nan))


def _detectable_t(queries: Floats, two_sided: bool) -> Floats:
    """Return how many standard errors a mean must be from 0 for the t-test to find it with the power wanted."""
    import scipy.special

    critical = scipy.special.stdtrit(queries - 1, 1 - LEVEL / (1 + two_sided))
    return np.asarray(scipy.special.nctdtrinc(queries - 1, 1 - POWER, critical))


def is_regression(difference: float, p: float, *, max_drop: float = 0.01, alpha: float = 0.05) -> bool:
    """Return whether a mean falls by more than is tolerated, and so that it is hardly by chance.

    Args:
        difference: the mean less that of the baseline.
        p: of a one-sided test of whether it is lower, corrected for their number if several measures are tested.
        max_drop: the fall that is tolerated.
        alpha: how often a regression may be found where there is none.

    >>> is_regression(-0.02, 0.01), is_regression(-0.01, 0.01), is_regression(-0.02, 0.06)
    (True, False, False)
    """
    return -difference > max_drop + ROUNDING and p <= alpha


def holm(p_values: Floats) -> Floats:
    """P-values corrected for their number, so that the chance of any false discovery stays bounded (Holm, 1979).

    >>> holm(np.array([.01, .04, .03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(corrected, 1.0)


def _relative(weight: Floats | None, queries: NDArray[np.intp]) -> Floats:
    """Return the weights of queries, the largest of them as 1."""
    return np.ones(len(queries)) if weight is None else weight[queries] / weight[queries].max()


def _rows_by_queries(values: Floats, weight: Floats | None) -> list[tuple[list[int], NDArray[np.intp]]]:
    """Return the rows that have values for the same queries, with these queries."""
    valued = ~np.isnan(values)
    if weight is not None:
        valued &= weight > 0
    groups: dict[bytes, list[int]] = {}
    for row, mask in enumerate(valued):
        groups.setdefault(mask.tobytes(), []).append(row)
    alike = [(rows, np.flatnonzero(valued[rows[0]])) for rows in groups.values()]
    for _, queries in alike:
        if len(queries) < 2:
            hint = "; compute gives the score of one" * len(queries)
            raise ValueError(
                f"a confidence interval needs at least two queries that have a value; got {len(queries)}{hint}"
            )
    return alike


def _special() -> Any:
    """Return SciPy's special functions, which are imported in a third of the time of its statistics."""
    try:
        return import_module("scipy.special")
    except ImportError:
        raise ImportError('intervals and tests need SciPy: pip install scipy, or "ndcg[report]"') from None
