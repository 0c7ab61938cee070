"""The mean of slices: each counts the same, variances add, and None is no slice."""

import itertools
import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from evaluate import Metric
from hypothesis import given
from hypothesis import strategies as st
from systems import RELEVANCE, SYSTEMS

from ndcg.statistics.independent import combine
from ndcg.statistics.significance import Sample, intervals

BY: list[str | None] = ["en"] * 25 + ["de"] * 20 + ["fr"] * 12 + [None] * 3
NAMED = ("de", "en", "fr")
HOW: dict[str, Any] = {"references": RELEVANCE, "k": [3, 10], "measures": ["nDCG", "DCG", "CG"]}
WEIGHT = np.arange(60) % 5 + 0.5
MEASURES = ("nDCG@3", "nDCG@10", "DCG@3", "DCG@10", "CG@3", "CG@10")


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
def test_the_mean_of_slices_has_the_mean_of_every_figure_of_the_slices(
    ndcg: Metric, weight: Any
) -> None:
    report = ndcg.report(predictions=SYSTEMS["bm25"], by=BY, sample_weight=weight, **HOW)
    assert list(report.mean_of_slices.scores) == list(report.scores)
    for name, score in report.mean_of_slices.scores.items():
        slices = [report.slices[value].scores[name] for value in NAMED]
        for figure in ("value", "worst", "best", "random_order"):
            expected = sum(getattr(each, figure) for each in slices) / 3
            assert getattr(score, figure) == pytest.approx(expected, rel=1e-14)
        for count in ("tied", "ranked", "unjudged", "queries"):
            assert getattr(score, count) == sum(getattr(each, count) for each in slices)
        errors = [each.standard_error for each in slices]
        assert score.standard_error == pytest.approx(
            math.sqrt(sum(error**2 for error in errors)) / 3
        )
        assert score.low < score.value < score.high


def test_the_mean_of_slices_differs_from_the_mean_of_their_queries(ndcg: Metric) -> None:
    values = {"few": [1.0, 1.0], "many": [0.0, 0.0, 0.0, 0.0]}
    run = [[2, 1] if value else [1, 2] for each in values.values() for value in each]
    by = [name for name, each in values.items() for _ in each]
    report = ndcg.report(predictions=run, references=[[1, 0]] * 6, k=1, by=by)
    means = report.scores, report.mean_of_slices.scores
    assert [scores["nDCG@1"].value for scores in means] == [2 / 6, 1 / 2]


@pytest.mark.parametrize("others", [[], [None]], ids=["alone", "beside None"])
@pytest.mark.parametrize("values", ["some", "all equal"])
def test_the_mean_of_one_slice_is_that_slice(ndcg: Metric, values: str, others: list[None]) -> None:
    run = 2 * RELEVANCE if values == "all equal" else SYSTEMS["bm25"]
    kept = RELEVANCE.any(axis=1)  # of the others the perfect ranking has no value 1
    by = ["en"] * (int(kept.sum()) - len(others)) + others
    report = ndcg.report(predictions=run[kept], by=by, **{**HOW, "references": RELEVANCE[kept]})
    assert report.mean_of_slices == report.slices["en"]


def test_the_interval_of_proportions_is_the_stratified_wilson_interval() -> None:
    """Yan & Su, Statistics in Biopharmaceutical Research 2010, for strata that count the same."""
    ones, sizes = [1, 7, 12, 3], [9, 11, 40, 4]
    samples = [
        Sample.of(np.array([[1.0] * one + [0.0] * (n - one)]))
        for one, n in zip(ones, sizes, strict=True)
    ]
    (found,) = combine(samples, confidence=0.9)
    shares = np.array(ones) / sizes
    errors = np.sqrt(shares * (1 - shares) / sizes)
    z = scipy.stats.norm.ppf(0.95) * np.sqrt((errors**2).sum()) / errors.sum()
    level = 2 * scipy.stats.norm.cdf(z) - 1
    ends = [
        scipy.stats.binomtest(one, n).proportion_ci(level, method="wilson")
        for one, n in zip(ones, sizes, strict=True)
    ]
    assert found.value == pytest.approx(shares.mean())
    assert (found.low, found.high) == pytest.approx(np.mean(ends, axis=0), abs=1e-9)


def welch_satterthwaite(differences: list[np.ndarray]) -> tuple[float, float, float]:
    """The mean of the means of samples, its standard error and degrees of freedom."""
    variances = np.array([each.var(ddof=1) / len(each) for each in differences])
    freedom = variances.sum() ** 2 / (variances**2 / [len(each) - 1 for each in differences]).sum()
    return (
        float(np.mean([each.mean() for each in differences])),
        math.sqrt(variances.sum()) / len(differences),
        freedom,
    )


@pytest.mark.parametrize(
    ("alternative", "margin"),
    [("two-sided", 0.0), ("greater", 0.0), ("less", 0.0), ("greater", 0.05)],
)
def test_the_mean_difference_of_slices_has_students_interval_and_test(
    ndcg: Metric, alternative: str, margin: float
) -> None:
    how = {"alternative": alternative, "margin": margin, "baseline": "bm25", "confidence": 0.9}
    found = ndcg.compare(systems=SYSTEMS, by=BY, **how, **HOW).mean_of_slices
    assert found.queries == 57
    values = {
        name: ndcg.compute(predictions=run, use_aggregator=False, **HOW)
        for name, run in SYSTEMS.items()
    }
    assert [(pair.measure, pair.system) for pair in found.pairs] == [
        *itertools.product(values["bm25"], ("dense", "hybrid"))
    ]
    for pair in found.pairs:
        by_query = np.array(values[pair.system][pair.measure]) - values["bm25"][pair.measure]
        slices = [by_query[[each == value for each in BY]] for value in NAMED]
        difference, error, freedom = welch_satterthwaite(slices)
        reach = scipy.stats.t.ppf(0.95, freedom) * error
        figures = (
            pair.difference,
            pair.standard_error,
            pair.degrees_of_freedom,
            pair.low,
            pair.high,
        )
        assert figures == pytest.approx(
            (difference, error, freedom, difference - reach, difference + reach)
        )
        tested = {"two-sided": 0, "greater": -margin, "less": margin}[alternative]
        t = scipy.stats.t(freedom)
        beyond = (difference - tested) / error
        p = {"two-sided": 2 * t.sf(abs(beyond)), "greater": t.sf(beyond), "less": t.cdf(beyond)}[
            alternative
        ]
        assert pair.p_t == pytest.approx(p)
        assert (pair.wins, pair.ties, pair.losses) == tuple(
            sum(
                int(np.count_nonzero(np.sign(np.where(abs(each) < 1e-12, 0, each)) == sign))
                for each in slices
            )
            for sign in (1, 0, -1)
        )


def test_the_randomization_test_exchanges_queries_that_share_the_weight_of_their_slice(
    ndcg: Metric,
) -> None:
    by = ["a"] * 4 + ["b"] * 6 + [None] * 2
    one, other = (SYSTEMS[name][:12] for name in ("dense", "bm25"))
    how = {"references": RELEVANCE[:12], "measures": "DCG"}
    values = [
        np.array(ndcg.compute(predictions=run, use_aggregator=False, **how)["DCG"])
        for run in (one, other)
    ]
    shares = (values[0] - values[1])[:10] / np.array([4] * 4 + [6] * 6) / 2
    sums = np.array([np.dot(signs, shares) for signs in itertools.product((1, -1), repeat=10)])
    for alternative, at_least in (
        ("two-sided", np.abs(sums) >= abs(shares.sum()) - 1e-12),
        ("greater", sums >= shares.sum() - 1e-12),
    ):
        comparison = ndcg.compare(
            systems={"one": one, "other": other}, by=by, alternative=alternative, **how
        )
        (pair,) = comparison.mean_of_slices.pairs
        assert (pair.difference, pair.p) == pytest.approx((shares.sum(), at_least.mean()))
        assert (pair.exact, pair.permutations) == (True, 2**pair.differing)


def test_p_values_of_the_mean_of_slices_are_corrected_like_those_of_all_queries(
    ndcg: Metric,
) -> None:
    """One slice with all queries: the figures are those of all queries, apart from the power."""
    found = ndcg.compare(systems=SYSTEMS, by=["all"] * 60, **HOW)
    for pair, expected in zip(found.mean_of_slices.pairs, found.pairs, strict=True):
        approximate = {
            name: pytest.approx(value)
            for name, value in pair._asdict().items()
            if isinstance(value, float)
        }
        assert expected._replace(queries_needed=None)._asdict() == {**pair._asdict(), **approximate}
    over_all = ndcg.compare(systems=SYSTEMS, by=BY, corrected_over="all", **HOW).mean_of_slices
    p_values = [pair.p for pair in over_all.pairs]
    assert max(pair.p_holm for pair in over_all.pairs) <= 1
    assert min(p_values) * len(p_values) == pytest.approx(
        min(pair.p_holm for pair in over_all.pairs)
    )


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
def test_a_comparison_has_the_means_of_the_reports_and_both_are_saved(
    ndcg: Metric, weight: Any
) -> None:
    how = {**HOW, "by": BY, "sample_weight": weight}
    reports = {name: ndcg.report(predictions=run, **how) for name, run in SYSTEMS.items()}
    comparison = ndcg.compare(systems=SYSTEMS, **how)
    assert comparison.mean_of_slices.scores == {
        name: report.mean_of_slices.scores for name, report in reports.items()
    }
    assert ndcg.compare_reports(reports).mean_of_slices.pairs == comparison.mean_of_slices.pairs
    for found in (comparison, *reports.values()):
        saved = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert type(found).from_dict(saved) == found
        del saved["mean_of_slices"]  # as 2.0 and 2.1 saved it
        saved["signature"] = re.sub(r"v:3[\d.]+", "v:2.1.0", saved["signature"])
        assert type(found).from_dict(saved) == replace(found, signature=saved["signature"])


@pytest.mark.parametrize("by", [None, [None] * 60], ids=["no slices", "no query in a slice"])
def test_without_slices_there_is_no_mean_of_them(ndcg: Metric, by: Any) -> None:
    report = ndcg.report(predictions=SYSTEMS["bm25"], by=by, **HOW)
    comparison = ndcg.compare(systems=SYSTEMS, by=by, **HOW)
    assert report.mean_of_slices is comparison.mean_of_slices is None
    assert "mean of slices" not in f"{report}{comparison}"
    assert not any("mean_of_slices" in name for name in report.flat())


def test_a_slice_of_one_query_leaves_the_mean_of_slices_without_an_interval(ndcg: Metric) -> None:
    by = [*BY[:57], "it", "it", None]
    report = ndcg.report(predictions=SYSTEMS["bm25"], by=[*by[:58], None, None], **HOW)
    score = report.mean_of_slices.scores["nDCG@3"]
    slices = [report.slices[value].scores["nDCG@3"].value for value in (*NAMED, "it")]
    assert score.value == pytest.approx(np.mean(slices))
    assert all(map(math.isnan, (score.low, score.high, score.standard_error)))
    comparison = ndcg.compare(systems=SYSTEMS, by=[*by[:58], None, None], **HOW)
    assert comparison.mean_of_slices is None
    assert ndcg.compare(systems=SYSTEMS, by=by, **HOW).mean_of_slices is not None


def test_a_slice_without_a_value_is_not_in_the_mean_of_slices(ndcg: Metric) -> None:
    relevance = np.where(np.arange(60)[:, np.newaxis] < 57, RELEVANCE, 0)
    how = {"references": relevance, "measures": ["nDCG", "DCG"], "zero_division": math.nan}
    report = ndcg.report(predictions=SYSTEMS["bm25"], by=[*BY[:57], "it", "it", "it"], **how)
    four, three = (
        [report.slices[each].scores for each in (*NAMED, *more)] for more in (["it"], [])
    )
    means = report.mean_of_slices.scores
    assert means["DCG"].value == pytest.approx(np.mean([each["DCG"].value for each in four]))
    assert means["nDCG"].value == pytest.approx(np.mean([each["nDCG"].value for each in three]))
    assert means["nDCG"].low < means["nDCG"].high


VALUES = {
    "nDCG": st.floats(0, 1) | st.sampled_from([0.0, 1.0]),
    "DCG": st.floats(0, 1e300) | st.sampled_from([0.0, 1e-300]),
}


@pytest.mark.parametrize("measure", VALUES)
@given(data=st.data())
def test_the_interval_holds_the_mean_within_its_bounds_in_any_order_of_slices(
    measure: str, data: Any
) -> None:
    greatest = 1.0 if measure == "nDCG" else math.inf
    slices = data.draw(
        st.lists(st.lists(VALUES[measure], min_size=2, max_size=6), min_size=1, max_size=5)
    )
    samples = [Sample.of(np.array([values])) for values in slices]
    (found,) = combine(samples, greatest=greatest)
    slack = 1e-9 * max(max(values) for values in slices)
    assert -slack <= found.low <= found.value + slack
    assert found.value - slack <= found.high <= greatest + slack
    assert found.value == pytest.approx(np.mean([np.mean(values) for values in slices]), abs=slack)
    (again,) = combine(samples[::-1], greatest=greatest)
    assert list(again) == pytest.approx(list(found), rel=1e-6, abs=slack)


def test_slices_of_equal_values_still_allow_for_others() -> None:
    """One of few equal values more than one of many, as with Wilson's interval."""
    few, many = (combine([Sample.of(np.ones((1, n)))] * 4)[0] for n in (3, 30))
    assert few.low < many.low < 1 == few.high == many.high
    samples = [Sample.of(np.array([values])) for values in ([1.0] * 5, [0.2, 0.4, 0.9])]
    both = combine(samples)[0]
    assert both.low < both.value < both.high < 1
    # one slice alone has an error: each end is the mean of the slices' own
    alone = np.mean([(ends.low, ends.high) for (ends,) in map(intervals, samples)], axis=0)
    assert (both.low, both.high) == pytest.approx(tuple(alone))
