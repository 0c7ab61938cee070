"""Intervals, p-values and power agree with SciPy: with weights, at any size, and in each slice.

How often intervals hold the true value and tests err is measured by `make simulations`.
"""

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
from refusals import refusal

from ndcg.statistics import significance
from ndcg.statistics.significance import (
    Sample,
    falls_beyond,
    holm,
    is_regression,
    paired_tests,
)

PAIR = [(0, 1)]


def columns(rows: list[Any]) -> Any:
    """Intervals or powers as columns."""
    return type(rows[0])(*np.array(rows).T)


def intervals(sample: Sample, **options: Any) -> Any:
    return columns(significance.intervals(sample, **options))


def power(sample: Sample, **options: Any) -> Any:
    return columns(significance.power(sample, **options))


def queries(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Values as nDCG has them: many 0, some 1, the rest between."""
    values = rng.beta(2, 1.5, shape)
    kind = rng.random(shape)
    return np.where(kind < 0.15, 0.0, np.where(kind > 0.9, 1.0, values))


# Intervals


def wilson(hits: int, size: int, confidence: float = 0.95) -> list[float]:
    return list(scipy.stats.binomtest(hits, size).proportion_ci(confidence, method="wilson"))


@pytest.mark.parametrize(("size", "confidence"), [(2, 0.95), (10, 0.9), (50, 0.99)])
def test_intervals_of_values_of_0_or_1_are_wilsons(size: int, confidence: float) -> None:
    for hits in range(size + 1):
        found = intervals(
            Sample.of(np.repeat([[1.0, 0.0]], [hits, size - hits], axis=1)), confidence=confidence
        )
        assert [found.low[0], found.high[0]] == pytest.approx(
            wilson(hits, size, confidence), abs=1e-9
        )
        assert found.low[0] <= hits / size <= found.high[0]


def test_intervals_of_differences_are_those_of_the_paired_t_test() -> None:
    values = queries(np.random.default_rng(3), 2, 50)
    found = intervals(Sample.of(values, pairs=[(0, 1), (1, 0)]), confidence=0.9)
    expected = scipy.stats.ttest_rel(*values).confidence_interval(0.9)
    assert [found.low[2], found.high[2]] == pytest.approx([expected.low, expected.high])
    assert [found.low[3], found.high[3]] == pytest.approx([-expected.high, -expected.low])
    assert found.standard_error[2] == pytest.approx(scipy.stats.sem(values[0] - values[1]))


def test_the_interval_of_a_mean_has_the_means_that_are_likely_with_their_variance() -> None:
    for seed in range(10):
        value = queries(np.random.default_rng(seed), 15)
        mean, variance = value.mean(), value.var(ddof=1) / 15
        t = scipy.stats.t.ppf(0.975, 14 / (1 - variance / (mean * (1 - mean) / 15)))
        rise, fall = 1 / mean, 1 / (1 - mean)
        # how fast the variance rises with the mean, as in an exponential family: third cumulant by
        # squared variance
        slope = ((value - mean) ** 3).mean() / value.var() ** 2
        found = intervals(Sample.of(value[np.newaxis]))
        shapes = [(rise, fall), (max(rise, fall + slope), max(fall, rise - slope))]
        for end, side in ((found.low[0], min), (found.high[0], max)):
            distances = []
            for up, down in shapes:
                # distance**2 == t**2 * variance * (1 + up * distance) * (1 - down * distance)
                square, linear, constant = (
                    1 + t**2 * variance * up * down,
                    t**2 * variance * (down - up),
                    -(t**2),
                )
                distances += np.roots([square, linear, constant * variance]).tolist()
            assert end == pytest.approx(mean + side(distances), abs=1e-12)


def test_the_interval_of_a_mean_stays_within_the_bounds_of_its_measure() -> None:
    values = queries(np.random.default_rng(2), 50, 4)
    found, unbounded = (intervals(Sample.of(values), greatest=each) for each in (1, np.inf))
    assert (found.low >= 0).all()
    assert (found.high <= 1).all()
    assert (found.low <= values.mean(axis=1)).all()
    assert (found.high >= values.mean(axis=1)).all()
    assert unbounded.low.min() >= 0
    assert unbounded.high.max() > 1
    assert intervals(Sample.of(values - 0.5), greatest=np.inf).low.min() < -0.5


def test_without_bounds_the_interval_of_a_mean_is_students_t_stretched_to_the_skewed_side() -> None:
    for value, stretch in (([3, 4, 4, 5, 5, 5, 6, 6, 7, 19], 0.5), ([3, 4, 5, 6, 7], -1e-9)):
        found = intervals(Sample.of(np.array([value], float)), greatest=np.inf)
        expected = scipy.stats.ttest_1samp(value, 0).confidence_interval()
        assert found.low[0] == pytest.approx(expected.low)
        assert found.high[0] > expected.high + stretch
    assert found.high[0] == pytest.approx(expected.high)


def test_values_that_are_all_the_same_leave_room_for_others() -> None:
    low, high = wilson(0, 20)
    found = intervals(
        Sample.of(np.array([[1.0] * 20, [0.0] * 20, [0.7] * 20]), pairs=[(2, 2), (2, 1)])
    )
    assert found.low == pytest.approx(
        [1 - high, low, 0.7 - 0.7 * high, -high, 0.7 - 1.7 * high], abs=1e-9
    )
    assert found.high == pytest.approx(
        [1, high, 0.7 + 0.3 * high, high, 0.7 + 0.3 * high], abs=1e-9
    )
    assert (found.standard_error == 0).all()
    unbounded = intervals(Sample.of(np.array([[3.0] * 20, [0.0] * 20])), greatest=np.inf)
    assert unbounded.low == pytest.approx([3 - 3 * high, 0], abs=1e-9)
    assert unbounded.high.tolist() == [3, 0]
    nearly = intervals(Sample.of(np.array([[1.0, 1 - 1e-16] * 10])))
    assert [nearly.low[0], nearly.high[0]] == pytest.approx([1 - high, 1], abs=1e-9)


def test_weights_weigh_the_mean_and_widen_its_interval() -> None:
    rng = np.random.default_rng(2)
    values, weight = queries(rng, 2, 30), rng.random(30)
    share, difference = weight / weight.sum(), values[0] - values[1]
    mean = (share * difference).sum()
    away = (difference - mean) ** 2
    of_like_queries = (share * away).sum() * (share**2).sum() / (1 - (share**2).sum())
    of_any_queries = (share**2 * away / (1 - share)).sum()
    error = math.sqrt(max(of_like_queries, of_any_queries))
    found = intervals(Sample.of(values, weight, PAIR))
    reach = scipy.stats.t.ppf(0.975, 29) * error
    assert [found.low[2], found.high[2]] == pytest.approx([mean - reach, mean + reach])
    assert found.standard_error[2] == pytest.approx(error)
    alike = [
        intervals(Sample.of(values, weight)) for weight in (None, np.ones(30), np.full(30, 4.0))
    ]
    assert np.array_equal(alike[0], alike[1])
    assert np.allclose(alike[0], alike[2], rtol=0, atol=1e-12)
    assert (np.subtract(found.high, found.low)[:2] > np.subtract(alike[0].high, alike[0].low)).all()


def test_queries_without_a_value_or_weight_do_not_count() -> None:
    values = queries(np.random.default_rng(4), 2, 30)
    weight = np.ones(32)
    weight[[3, 18]] = 0
    with_gaps = np.insert(values, [3, 17], np.nan, axis=1)
    for more in (Sample.of(with_gaps), Sample.of(np.insert(values, [3, 17], 1.0, axis=1), weight)):
        assert np.array_equal(intervals(more), intervals(Sample.of(values)))


@pytest.mark.parametrize("size", [2.0**-1000, 2.0**1022])
def test_the_size_of_values_changes_no_test_and_scales_all_else(size: float) -> None:
    values = queries(np.random.default_rng(20), 2, 40)
    samples = [Sample.of(each, pairs=PAIR) for each in (values * size, values)]
    found, expected = (intervals(each, greatest=np.inf) for each in samples)
    assert np.array_equal(found[:4], np.multiply(expected[:4], size))
    assert np.array_equal(*map(paired_tests, samples))
    found, expected = map(power, samples)
    assert np.array_equal(found.min_detectable, expected.min_detectable * size)
    assert np.array_equal(found.queries_needed, expected.queries_needed)


def test_values_far_below_others_have_intervals_and_tests() -> None:
    values = np.array([queries(np.random.default_rng(21), 12), np.zeros(12)])
    tests = (
        paired_tests(Sample.of(np.insert(values * size, 0, 1.0, axis=1), pairs=PAIR))
        for size in (2.0**-540, 1.0)
    )
    assert np.array_equal(*tests)
    found = intervals(Sample.of(np.array([np.ones(10), np.insert(np.zeros(9), 0, 1e-322)])))
    assert [found.low[1], found.high[1]] == pytest.approx(wilson(0, 10), abs=1e-9)


# Tests


def permutation_test(differences: np.ndarray, **how: Any) -> float:
    found = scipy.stats.permutation_test(
        (differences,),
        lambda x, axis: x.mean(axis),
        permutation_type="samples",
        vectorized=True,
        **how,
    )
    return float(found.pvalue)


ALTERNATIVES = [
    ("two-sided", 0.0),
    ("greater", 0.0),
    ("greater", 0.05),
    ("less", 0.0),
    ("less", 0.05),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("alternative", "margin"), ALTERNATIVES)
def test_few_queries_are_tested_exactly(alternative: str, margin: float, weighted: bool) -> None:
    moved = {"two-sided": 0, "greater": margin, "less": -margin}[alternative]
    for size, digits in itertools.product((2, 5, 10, 13), (1, 16)):
        rng = np.random.default_rng(size)
        values = np.round(queries(rng, 2, size), digits)
        weight = rng.random(size) if weighted else np.ones(size)
        tests = paired_tests(
            Sample.of(values, weight, PAIR), alternative=alternative, margin=margin
        )
        assert tests.exact.all()
        shares = weight * (values[0] - values[1] + moved)
        expected = permutation_test(shares, alternative=alternative, n_resamples=10_000)
        assert tests.randomization[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("alternative", "margin"), ALTERNATIVES)
def test_many_queries_are_tested_as_scipy_does(
    alternative: str, margin: float, weighted: bool
) -> None:
    rng = np.random.default_rng(8)
    one, weight = queries(rng, 200), rng.random(200) if weighted else np.ones(200)
    values = np.stack([one, one + 0.02 + rng.normal(0, 0.2, 200)])
    tests = paired_tests(Sample.of(values, weight, PAIR), alternative=alternative, margin=margin)
    assert not tests.exact.any()
    shares = weight * (
        values[0] - values[1] + {"two-sided": 0, "greater": margin, "less": -margin}[alternative]
    )
    expected = permutation_test(shares, alternative=alternative, n_resamples=9999, rng=rng)
    assert tests.randomization[0] == pytest.approx(
        expected, abs=0.02
    )  # four standard errors of SciPy's
    assert tests.t_test[0] == pytest.approx(
        scipy.stats.ttest_1samp(shares, 0, alternative=alternative).pvalue
    )


def test_queries_that_do_not_differ_leave_the_test_exact() -> None:
    values = np.tile(queries(np.random.default_rng(15), 1, 50), (2, 1))
    values[0, :11] += np.array([9, 7, -2, 8, 4, 3, 1, 6, 5, -3, 2]) / 100
    tests, of_few = (paired_tests(Sample.of(each, pairs=PAIR)) for each in (values, values[:, :11]))
    assert (tests.randomization, tests.exact[0], tests.permutations[0]) == (
        of_few.randomization,
        True,
        2**11,
    )


@pytest.mark.parametrize("size", [31, 32, 33, 60])
def test_differences_of_one_size_are_counted_as_by_the_binomial_distribution(size: int) -> None:
    values = np.stack([np.where(np.arange(size) % 3, 0.3, 0.1), np.full(size, 0.2)])
    tests = paired_tests(Sample.of(values, pairs=PAIR))
    expected = scipy.stats.binomtest((values[0] > 0.2).sum(), size).pvalue
    assert tests.exact[0] == (size <= 32)
    error = 0 if size <= 32 else math.sqrt(expected * (1 - expected) / tests.permutations[0])
    assert tests.randomization[0] == pytest.approx(expected, rel=1e-12, abs=4 * error)


def test_the_sums_of_a_group_are_those_of_a_hadamard_matrix() -> None:
    cells = np.random.default_rng(16).integers(-9, 9, 256).astype(float)
    expected = scipy.linalg.hadamard(256) @ cells
    assert sorted(significance._walsh_hadamard(cells)) == sorted(expected)


def test_p_values_scatter_as_those_of_as_many_independent_permutations() -> None:
    rng = np.random.default_rng(17)
    one = queries(rng, 60)
    values = np.stack([one, one + 0.08 + rng.normal(0, 0.2, 60)])
    found = np.array(
        [
            paired_tests(Sample.of(values, pairs=PAIR), seed=seed).randomization[0]
            for seed in range(30)
        ]
    )
    assert found[0] == paired_tests(Sample.of(values, pairs=PAIR), seed=0).randomization[0]
    assert 0.01 < found.mean() < 0.06
    error = math.sqrt(found.mean() * (1 - found.mean()) / 2**20)
    assert error < 0.00025
    assert 0.7 < found.std(ddof=1) / error < 1.4  # 30 standard deviations scatter by an eighth


def test_one_sided_p_values_of_both_sides_are_over_1_by_that_of_the_observed_sum() -> None:
    values = queries(np.random.default_rng(60), 2, 60)
    sample = Sample.of(values, pairs=PAIR)
    greater, less, two_sided = (
        paired_tests(sample, alternative=each).randomization[0]
        for each in ("greater", "less", "two-sided")
    )
    assert greater + less == 1 + 1 / 2**20  # no other exchange has the very sum
    assert two_sided == pytest.approx(2 * min(greater, less), abs=0.003)


@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_pairs_are_tested_together_as_alone(margin: float) -> None:
    rng = np.random.default_rng(19)
    values, weight = queries(rng, 5, 40), rng.random(40)
    values[:, 4] = np.nan
    pairs = [(0, 1), (1, 2), (0, 1), (3, 4)]
    together = paired_tests(Sample.of(values, weight, pairs), alternative="greater", margin=margin)
    for at, pair in enumerate(pairs):
        alone = paired_tests(
            Sample.of(values[list(pair)], weight, PAIR), alternative="greater", margin=margin
        )
        assert (together.randomization[at], together.t_test[at]) == (
            alone.randomization[0],
            alone.t_test[0],
        )
    moved = paired_tests(
        Sample.of(np.stack([values[0] + margin, values[1]]), weight, PAIR), alternative="greater"
    )
    assert together.randomization[0] == moved.randomization[0]


@pytest.mark.parametrize(
    ("difference", "question", "randomization", "t_test"),
    [
        (0, {"alternative": "two-sided"}, 1, 1),
        (0, {"alternative": "less"}, 1, 1),
        (0, {"alternative": "greater", "margin": 0.01}, 1 / 2**30, 0),
        (0.25, {"alternative": "two-sided"}, 2 / 2**30, 0),
    ],
)
def test_systems_that_always_differ_alike_do_differ_and_the_same_system_does_not(
    difference: float, question: dict[str, Any], randomization: float, t_test: float
) -> None:
    values = np.stack([np.full(30, 0.5 + difference), np.full(30, 0.5)])
    tests = paired_tests(Sample.of(values, pairs=PAIR), **question)
    assert (tests.randomization[0], tests.t_test[0]) == (
        randomization,
        pytest.approx(t_test, abs=1e-12),
    )


# Power


def power_of_a_t_test(effect: float, queries: int, two_sided: bool) -> float:
    """How often a paired t-test at 5% finds a mean of this many standard deviations."""
    critical = scipy.stats.t.ppf(0.975 if two_sided else 0.95, queries - 1)
    return float(scipy.stats.nct.sf(critical, queries - 1, effect * math.sqrt(queries)))


@pytest.mark.parametrize("size", [5, 100])
@pytest.mark.parametrize(
    ("alternative", "margin"), [("two-sided", 0.0), ("greater", 0.0), ("less", 0.3)]
)
def test_the_power_is_that_of_the_noncentral_t(size: int, alternative: str, margin: float) -> None:
    rng = np.random.default_rng(size)
    one = queries(rng, size)
    values = np.stack([one + 0.15 + rng.normal(0, 0.2, size), one])
    difference = values[0] - values[1]
    deviation = difference.std(ddof=1)
    found = power(Sample.of(values, pairs=PAIR), alternative=alternative, margin=margin)
    two_sided = alternative == "two-sided"
    reached = power_of_a_t_test(found.min_detectable[0] / deviation, size, two_sided)
    assert reached == pytest.approx(0.8, abs=1e-5)
    effect = {
        "two-sided": abs(difference.mean()),
        "greater": difference.mean(),
        "less": margin - difference.mean(),
    }
    needed = int(found.queries_needed[0])
    assert power_of_a_t_test(effect[alternative] / deviation, needed, two_sided) >= 0.8
    assert power_of_a_t_test(effect[alternative] / deviation, needed - 1, two_sided) < 0.8


def test_two_queries_are_enough_for_a_difference_that_they_detect_and_fewer_are_not() -> None:
    values = np.array([[0.9, 0.4], [0.2, 0.1]])
    two, fewer = (
        power(Sample.of(values, np.array(weight), PAIR)) for weight in ([1.0, 1.0], [1.0, 0.9])
    )
    deviation = (values[0] - values[1]).std(ddof=1)
    assert power_of_a_t_test(two.min_detectable[0] / deviation, 2, two_sided=True) == pytest.approx(
        0.8, abs=1e-5
    )
    assert np.isnan(fewer).all()


def test_weighted_queries_count_as_their_effective_number() -> None:
    values = queries(np.random.default_rng(22), 2, 40)
    difference = values[0] - values[1]
    assert np.array_equal(
        power(Sample.of(values, np.full(40, 3.0), PAIR)), power(Sample.of(values, None, PAIR))
    )
    weight = np.random.default_rng(23).random(40)
    found = power(Sample.of(values, weight, PAIR))
    effective = weight.sum() ** 2 / (weight**2).sum()
    mean = np.average(difference, weights=weight)
    variance = np.average((difference - mean) ** 2, weights=weight) * effective / (effective - 1)
    critical = scipy.stats.t.ppf(0.975, effective - 1)
    reached = scipy.stats.nct.sf(
        critical, effective - 1, found.min_detectable[0] / math.sqrt(variance / effective)
    )
    assert reached == pytest.approx(0.8, abs=1e-5)
    needed = found.queries_needed[0] * effective / 40
    assert (
        power_of_a_t_test(abs(mean) / math.sqrt(variance), math.ceil(needed), two_sided=True) >= 0.8
    )
    assert (
        power_of_a_t_test(abs(mean) / math.sqrt(variance), math.floor(needed) - 2, two_sided=True)
        < 0.8
    )


def test_a_difference_that_no_number_of_queries_detects_is_unknown() -> None:
    values = queries(np.random.default_rng(24), 2, 30)
    values[1] = values[0] + 0.1 + np.random.default_rng(25).normal(0, 0.05, 30)
    sample = Sample.of(values, pairs=PAIR)
    greater, less = (power(sample, alternative=each) for each in ("greater", "less"))
    assert np.isnan(greater.queries_needed[0])
    assert less.queries_needed[0] < 30
    within = power(sample, alternative="greater", margin=0.2)
    assert within.queries_needed[0] < 30
    assert within.min_detectable[0] == greater.min_detectable[0] == less.min_detectable[0]


# Corrections, rejections and verdicts


def test_holm_multiplies_the_smallest_by_all_and_each_next_by_one_less() -> None:
    expected = [max(0.01 * 3, 0.03 * 2), 0.005 * 4, 0.5 * 1, 0.01 * 3]
    assert holm(np.array([0.03, 0.005, 0.5, 0.01])).tolist() == pytest.approx(expected)
    for p_values, corrected in (([0.9, 0.8], [1.0, 1.0]), ([], [])):
        assert holm(np.array(p_values)).tolist() == corrected


@pytest.mark.parametrize(
    "values", [np.ones((2, 1)), np.ones((2, 0)), np.array([[1, np.nan], [1, np.nan]])]
)
def test_fewer_than_two_queries_are_rejected(values: np.ndarray) -> None:
    with refusal("a comparison"):
        Sample.of(values, pairs=PAIR)


def test_a_missing_scipy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    significance.scipy_special.cache_clear()
    for name in ("scipy", "scipy.special", "scipy.stats"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install scipy"):
        Sample.of(np.ones((1, 3)))


def test_a_fall_is_a_regression_only_if_it_is_large_and_significant() -> None:
    for change, p, expected in (
        (-0.05, 0.04, True),
        (-0.009, 0.04, False),
        (-0.05, 0.06, False),
        (0.05, 0.04, False),
    ):
        assert is_regression(change, p, max_drop=0.01, alpha=0.05) is expected
    assert falls_beyond(-0.3, 0.1 + 0.1)
    assert not falls_beyond(-(0.1 + 0.2), 0.3)  # by no more than rounding
