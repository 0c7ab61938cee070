"""How sure a mean over queries is, and whether two means differ: intervals and paired tests.

The queries are taken as a sample of all that might be asked. Intervals come from the bootstrap
(Efron & Tibshirani, 1993), which draws queries with replacement; whether two systems differ is
tested by exchanging their scores query by query (the randomisation test of Fisher; Smucker et
al., CIKM 2007, on why to prefer it in retrieval), with Student's paired t-test beside it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Relative to the values, a difference that is only one of rounding.
ROUNDING = 1e-12
# Weights further apart than this leave resamples of the lighter queries without digits.
LIGHTEST = 1e-12
# Numbers drawn at a time: resamples of many queries are worked off in batches of about this size.
BATCH = 1 << 21


class Intervals(NamedTuple):
    """What the bootstrap says of each mean: arrays of one shape."""

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


def bootstrap(
    values: Floats,
    weight: Floats | None = None,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    advance: Callable[[int], Any] = lambda done: None,
) -> Intervals:
    """Percentile intervals of the mean of each row, and of the differences of some of them.

    Every row is resampled in the same way, so differences are those of paired scores.

    Args:
        values: shape ``(rows, queries)``; nan where a query has no value, which must be the same
            queries in both rows of a pair. Those take no part in the resampling.
        weight: one weight per query, not negative; None: all equal. Queries keep their weights.
        pairs: of each difference, the row and the row that is taken from it.
        confidence: between 0 and 1.
        resamples: how often the queries are drawn anew.
        seed: of the random numbers: the same seed, the same intervals.
        advance: called with the number of resamples just done.

    Returns:
        Arrays of shape ``(rows + pairs,)``.

    Raises:
        ValueError: a row has a value for fewer than two queries; weights are too far apart.

    >>> intervals = bootstrap(np.array([[1, 0, .5, .5]]), resamples=1000)
    >>> bool(0 < intervals.low[0] < .5 < intervals.high[0] < 1)
    True
    """
    scipy_stats = _scipy_stats()
    result = Intervals(*(np.full(len(values) + len(pairs), np.nan) for _ in Intervals._fields))
    for rows, queries in _rows_by_queries(values, weight):
        weights = _relative(weight, queries)
        if weights.min() < LIGHTEST:
            problem = f"a weight is {weights.min():.0e} of the largest, too far apart for a confidence interval"
            raise ValueError(f"sample_weight: {problem}; give the queries that hardly count a weight of 0")
        # sums of weighted values and of weights, so that a resample is two products with its counts
        columns = _exact_halves(np.column_stack([(values[rows][:, queries] * weights).T, weights]))
        within = [at for at, pair in enumerate(pairs) if pair[0] in rows]
        plus, minus = ([rows.index(pairs[at][side]) for at in within] for side in (0, 1))
        found = scipy_stats.bootstrap(
            (np.arange(len(queries)),),
            partial(_resampled_means, columns, plus, minus, advance),
            n_resamples=resamples,
            batch=max(1, BATCH // len(queries)),
            vectorized=True,
            axis=-1,
            confidence_level=confidence,
            method="percentile",
            rng=np.random.default_rng(seed),
        )
        at = [*rows, *(len(values) + each for each in within)]
        result.low[at], result.high[at] = found.confidence_interval
        result.standard_error[at] = found.standard_error
    return result


def _resampled_means(
    columns: Floats,
    plus: list[int],
    minus: list[int],
    advance: Callable[[int], Any],
    drawn: NDArray[np.int64],
    axis: int,  # SciPy gives it
) -> Floats:
    """Return the mean of each row over the queries drawn, and the differences of some: (rows + pairs, resamples)."""
    batch, size = drawn.shape
    flat = (drawn + size * np.arange(batch)[:, None]).ravel()
    counts = np.bincount(flat, minlength=batch * size).reshape(batch, size)
    sums = _sums(counts, columns).T
    means = sums[:-1] / sums[-1]
    advance(batch)
    return np.concatenate([means, means[plus] - means[minus]])


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
        values: as for :func:`bootstrap`.
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
    student = _scipy_stats().t
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


def _scipy_stats() -> Any:
    try:
        import scipy.stats
    except ImportError:
        raise ImportError('intervals and tests need SciPy: pip install scipy, or "ndcg[report]"') from None
    return scipy.stats
