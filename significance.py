"""How sure a mean over queries is, and whether two means differ: intervals and paired tests.

The queries are taken as a sample of all that might be asked. Intervals are Student's t, those of
means in the form that Wilson (1927) gave those of proportions; whether two systems differ is
tested by exchanging their scores query by query (the randomisation test of Fisher; Smucker et
al., CIKM 2007, on why to prefer it in retrieval), with Student's paired t-test beside it.
"""

import math
from collections.abc import Callable, Sequence
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
# Numbers drawn at a time: exchanges of many queries are worked off in batches of about this size.
BATCH = 1 << 21


class Intervals(NamedTuple):
    """How sure each mean is: arrays of one shape."""

    low: Floats
    high: Floats
    standard_error: Floats


class Tests(NamedTuple):
    """The p-values of each difference, two-sided: arrays of one shape."""

    randomization: Floats
    t_test: Floats
    exact: NDArray[np.bool_]  # whether the randomisation test tried all exchanges


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
    student = _scipy("special").stdtrit
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
    resamples: int = 10_000,
    seed: int = 0,
    advance: Callable[[int], Any] = lambda done: None,
) -> Tests:
    """Whether the means of two rows differ, for each pair of rows.

    The randomisation test exchanges the scores of the two systems at random, query by query, and
    asks how often the means then differ at least as much. With so few queries that there are no
    more than ``resamples`` ways to exchange them, it tries all: the p-value is exact. The t-test
    takes each query's share in the difference of the (weighted) means.

    ``scipy.stats.permutation_test`` gives the same p-values, but draws the signs anew for each
    pair and shuffles to do so: 10,000 exchanges of 100,000 queries take it ten minutes a pair.

    Args:
        values: as for :func:`intervals`.
        weight: likewise.
        pairs: of each difference, the row and the row that is taken from it.
        resamples: how many exchanges to try.
        seed: of the random numbers.
        advance: called with the number of exchanges just done.

    Returns:
        Arrays of shape ``(pairs,)``.

    Raises:
        ValueError: a row has a value for fewer than two queries.

    >>> tests = paired_tests(np.array([[.9, .8, .7], [.5, .6, .1]]), pairs=[(0, 1)])
    >>> float(tests.randomization[0]), float(tests.t_test[0].round(4))  # 2 of the 8 exchanges differ as much
    (0.25, 0.0742)
    """
    student = _scipy("stats").t
    result = Tests(np.ones(len(pairs)), np.ones(len(pairs)), np.zeros(len(pairs), bool))
    for rows, queries in _rows_by_queries(values, weight):
        within = [at for at, pair in enumerate(pairs) if pair[0] in rows]
        if not within:
            continue
        plus, minus = ([pairs[at][side] for at in within] for side in (0, 1))
        shares = differences(values[plus][:, queries], values[minus][:, queries])
        shares = shares * _relative(weight, queries)
        columns = _exact_halves(shares.T)
        total = _sums(np.ones((1, len(queries))), columns)[0]
        least = np.abs(total) - ROUNDING * np.abs(shares).sum(axis=1)
        exact = len(queries) < 63 and 2 ** len(queries) <= resamples
        tried = 2 ** len(queries) if exact else resamples
        as_extreme = np.zeros(len(within), np.int64)
        for exchanged in _exchanges(len(queries), tried, exact, seed):
            as_extreme += (np.abs(total - 2 * _sums(exchanged, columns)) >= least).sum(axis=0)
            advance(len(exchanged))
        result.exact[within] = exact
        result.randomization[within] = (as_extreme + (not exact)) / (tried + (not exact))
        result.t_test[within] = _t_test(shares, student)
    return result


def _t_test(shares: Floats, student: Any) -> Floats:
    """Return how likely the mean of each row is at least as far from 0 by chance.

    As `scipy.stats.ttest_1samp`, which warns where all values of a row are the same.
    """
    queries = shares.shape[1]
    error = shares.std(axis=1, ddof=1) / np.sqrt(queries)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(shares.mean(axis=1)) / error
    return np.where(np.isnan(t), 1.0, 2 * student.sf(t, queries - 1))


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


def _exact_halves(columns: Floats) -> Floats:
    """Split columns into halves, high and low digits, that sum exactly.

    In float64 the last digits of a sum depend on the order of adding up, which libraries of
    linear algebra choose by the number of threads. Multiples of one power of two, small enough
    for all sums over as many rows to fit 53 bits, add up to the same in any order.
    """
    parts = []
    for _ in range(2):
        _, exponent = np.frexp(len(columns) * np.abs(columns).max(axis=0))
        unit = np.ldexp(1.0, np.maximum(exponent - 50, -1000))
        parts.append(np.round(columns / unit) * unit)
        columns = columns - parts[-1]
    return np.hstack(parts)


def _sums(counts: NDArray[Any], columns: Floats) -> Floats:
    """Return of each row of counts the columns' sums over so many of each query."""
    high, low = np.hsplit(counts.astype(np.float64) @ columns, 2)
    return np.asarray(high + low)


def _exchanges(queries: int, tried: int, exact: bool, seed: int) -> Any:
    """Which queries' scores to exchange, in batches of shape ``(tries, queries)``."""
    rng = np.random.default_rng(seed)
    batch = max(1, BATCH // queries)
    for start in range(0, tried, batch):
        count = min(batch, tried - start)
        if exact:
            yield (np.arange(start, start + count)[:, None] >> np.arange(queries)) & 1
        else:
            bits = np.frombuffer(rng.bytes(count * -(-queries // 8)), np.uint8).reshape(count, -1)
            yield np.unpackbits(bits, axis=1, count=queries)


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


def _scipy(part: str) -> Any:
    """Return a part of SciPy; that of special functions is imported in a third of the time of its statistics."""
    try:
        return import_module(f"scipy.{part}")
    except ImportError:
        raise ImportError('intervals and tests need SciPy: pip install scipy, or "ndcg[report]"') from None
