"""Every figure of a pair of systems follows from its definition, for all options and sizes."""

import json
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
import scipy.stats
from evaluate import Metric
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import RELEVANCE, SYSTEMS, generated

from ndcg.statistics import pairs as room
from ndcg.statistics.significance import Sample, holm, intervals, paired_tests, power


@pytest.mark.parametrize("weight", [None, np.arange(60) % 5])
def test_every_figure_of_a_pair_follows_its_definition(ndcg: Metric, weight: Any) -> None:
    how = {"references": RELEVANCE, "k": [3, 10]}
    comparison = ndcg.compare(systems=SYSTEMS, **how, sample_weight=weight, seed=3, confidence=0.9)
    by_query = {
        name: ndcg.compute(predictions=each, **how, use_aggregator=False)
        for name, each in SYSTEMS.items()
    }
    weight = np.ones(60) if weight is None else weight
    assert [pair[:3] for pair in comparison.pairs] == [
        (measure, *systems)
        for measure in ("nDCG@3", "nDCG@10")
        for systems in (("bm25", "dense"), ("bm25", "hybrid"), ("dense", "hybrid"))
    ]
    for pair in comparison.pairs:
        values = np.array([by_query[name][pair.measure] for name in (pair.system, pair.other)])
        difference = values[0] - values[1]
        shares = difference * weight / weight.mean()
        assert pair.difference == pytest.approx(shares.mean(), abs=1e-12)
        sample = Sample.of(values, weight, [(0, 1)])
        expected = intervals(sample, confidence=0.9)[2][1:]
        figures = (pair.low, pair.high, pair.standard_error, pair.degrees_of_freedom)
        assert figures == pytest.approx(expected, abs=1e-12)
        assert pair.p == paired_tests(sample, seed=3).randomization[0]
        assert pair.p_t == pytest.approx(scipy.stats.ttest_1samp(shares[weight > 0], 0).pvalue)
        signs = np.sign(difference[weight > 0])
        assert [pair.wins, pair.ties, pair.losses] == [np.sum(signs == sign) for sign in (1, 0, -1)]
        (detected,) = power(sample)
        assert pair.min_detectable == pytest.approx(detected.min_detectable, rel=1e-9)
        assert pair.queries_needed == detected.queries_needed


def test_the_same_system_twice_detects_no_difference(ndcg: Metric) -> None:
    same = ndcg.compare(systems={"a": SYSTEMS["bm25"], "b": SYSTEMS["bm25"]}, references=RELEVANCE)
    assert [(pair.min_detectable, pair.queries_needed) for pair in same.pairs] == [(None, None)]
    assert "–" in same.tables()[2][1]


@pytest.mark.parametrize("paired", [True, False])
def test_equal_differences_have_an_interval(ndcg: Metric, paired: bool) -> None:
    def compared(**ranked: Any) -> Any:
        how = {"references": [[2, 1, 0]] * 20, "by": ["x", "y"] * 10}
        reports = {name: ndcg.report(predictions=rows, **how) for name, rows in ranked.items()}
        return ndcg.compare_reports(reports, paired=paired)

    better, worse = [0.3, 0.2, 0.1], [0.3, 0.1, 0.2]
    for other in (
        [worse] * 20,
        [better] * 20,
        [worse, better] * 10,  # differences vary, but not in a slice
        [worse, worse, better, better] * 5,
    ):
        for pair in compared(a=[better] * 20, b=other).pairs:
            varies = pair.standard_error > 1e-9
            assert varies or pair.low < min(0, pair.difference) <= pair.difference < pair.high


def test_all_systems_may_be_compared_with_a_baseline(ndcg: Metric) -> None:
    how = {"systems": SYSTEMS, "references": RELEVANCE, "k": 10}
    comparison = ndcg.compare(**how, baseline="dense")
    every = {(pair.system, pair.other): pair for pair in ndcg.compare(**how).pairs}
    bm25, hybrid = comparison.pairs
    assert [bm25[1:3], hybrid[1:3], comparison.baseline] == [
        ("bm25", "dense"),
        ("hybrid", "dense"),
        "dense",
    ]
    turned = every["dense", "hybrid"]
    assert bm25.p == every["bm25", "dense"].p
    assert (hybrid.difference, hybrid.wins, hybrid.losses) == (
        -turned.difference,
        turned.losses,
        turned.wins,
    )
    assert hybrid.p_holm == holm(np.array([bm25.p, hybrid.p]))[1]


@pytest.mark.parametrize(
    ("question", "relation", "asked"),
    [
        ({"alternative": "greater"}, "better than", "is the first better?"),
        ({"alternative": "less"}, "better than", "is the first worse?"),
        (
            {"alternative": "greater", "margin": 0.05},
            "not worse than",
            "is the first not worse by 0.05 or more?",
        ),
        (
            {"alternative": "less", "margin": 0.05},
            "not worse than",
            "is the first not better by 0.05 or more?",
        ),
    ],
)
def test_an_alternative_is_tested_and_asked_in_words(
    ndcg: Metric, question: dict[str, Any], relation: str, asked: str
) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **question)
    for pair in comparison.pairs:
        tables = [
            comparison.queries.filter(pc.field("system") == name)
            for name in (pair.system, pair.other)
        ]
        values = np.stack([each["nDCG"].to_numpy() for each in tables])
        tests = paired_tests(Sample.of(values, pairs=[(0, 1)]), **question)
        assert (pair.p, pair.p_t) == pytest.approx(
            (tests.randomization[0], tests.t_test[0]), rel=1e-9
        )
    for text in (str(comparison), comparison.to_latex(), comparison._repr_html_()):
        assert asked in text
        assert relation in text
    margin = " by 0.05 or more" if "margin" in question else ""
    assert f"One system is {relation} another{margin} if p" in str(comparison)
    caption = f"one is {relation}{margin}, by letter (one-sided paired randomization test"
    assert caption in comparison.to_latex()
    asked_of_rows = asked.replace("the first", "the row's system")
    assert asked_of_rows in comparison.plot().axes[0].get_xlabel()


@pytest.mark.parametrize(
    ("queries", "options", "possible"),
    [
        (3, {}, False),
        (6, {}, True),
        (3, {"measures": "DCG"}, True),
        (3, {"negative_relevance": "keep"}, True),
        (3, {"alternative": "less"}, False),
        (3, {"alternative": "less", "margin": 0.5}, True),
    ],
)
def test_no_pair_detects_a_difference_that_is_not_possible(
    ndcg: Metric, queries: int, options: dict[str, Any], possible: bool
) -> None:
    systems = {"a": [[1, 2]] * queries, "b": [[2, 1]] * (queries - 1) + [[1, 2]]}
    references = [[1, -0.01 * ("negative_relevance" in options)]] * queries
    found = ndcg.compare(systems=systems, references=references, k=1, **options)
    assert [pair.min_detectable is not None for pair in found.pairs] == [possible]
    note = "1 of 1 pairs have too few queries to find any difference with 80% power, even the "
    assert any(each.startswith(note) for each in found.notes) is not possible


def test_few_queries_are_compared_exactly(ndcg: Metric) -> None:
    systems, relevance = generated(queries=8, weights=(0.2, 0.5))
    comparison = ndcg.compare(systems=systems, references=relevance)
    (pair,) = comparison.pairs
    assert (pair.exact, pair.permutations, pair.p_error) == (
        True,
        2 ** (pair.wins + pair.losses),
        0.0,
    )
    assert "randomization test (all permutations: exact)" in comparison.to_markdown()


def test_differences_due_to_rounding_do_not_count(ndcg: Metric) -> None:
    systems = {
        "tied": [[9, 1, 1, 1]] * 10,
        "not": [[9, 3, 2, 1]] * 10,
    }  # (.1 + .1 + .1) / 3 is not .1
    comparison = ndcg.compare(systems=systems, references=[[0, 0.1, 0.1, 0.1]] * 10)
    (pair,) = comparison.pairs
    assert (pair.wins, pair.ties, pair.losses, pair.p, pair.p_t, pair.difference) == (
        0,
        10,
        0,
        1.0,
        1.0,
        0,
    )
    assert comparison.scores["tied"]["nDCG"].tied == 0
    for score in comparison.scores.values():
        assert score["nDCG"].worst <= score["nDCG"].value <= score["nDCG"].best


@pytest.mark.parametrize(
    ("corrected_over", "families", "corrected"),
    [
        ("measure", [[0, 2], [1, 3]], [0.02, 0.03, 0.02, 0.04]),
        ("all", [[0, 1, 2, 3]], [0.04, 0.045, 0.045, 0.045]),
    ],
)
def test_holm_corrects_the_pairs_of_a_family_together(
    ndcg: Metric, corrected_over: str, families: list[list[int]], corrected: list[float]
) -> None:
    (pair,) = ndcg.compare(
        systems={"a": [[2, 1]] * 3, "b": [[1, 2]] * 3}, references=[[1, 0]] * 3
    ).pairs
    rows = zip(("nDCG", "DCG", "nDCG", "DCG"), (0.01, 0.015, 0.02, 0.04), strict=True)
    pairs = [pair._replace(measure=name, p=p, p_t=p / 2) for name, p in rows]
    testing = room.Testing(corrected_over=corrected_over)
    assert testing.families(pairs) == families
    found = testing.corrected(pairs, 0.95)
    assert [each.p_holm for each in found] == pytest.approx(corrected)
    assert [each.p_t_holm for each in found] == pytest.approx([each / 2 for each in corrected])
    fields = ("p_holm", "p_t_holm", "low_holm", "high_holm")
    assert [
        each._replace(**{name: getattr(pair, name) for name in fields}) for each in found
    ] == pairs
    assert testing.corrected([], 0.95) == []


@settings(max_examples=40)
@given(st.data())
def test_the_corrected_interval_and_the_corrected_p_value_agree(
    ndcg: Metric, data: st.DataObject
) -> None:
    """Over systems, queries, ties, weights, slices, alternatives, margins and corrections."""

    def draw(*values: Any) -> Any:
        return data.draw(st.sampled_from(values))

    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    alternative, margin = draw(
        ("two-sided", 0.0), ("greater", 0.0), ("greater", 0.1), ("less", 0.0), ("less", 0.1)
    )
    queries, systems = data.draw(st.integers(2, 33)), data.draw(st.integers(2, 6))
    effect, digits = draw(0, 0.3, 1, 5), draw(0, 1, 2)
    relevance = rng.integers(0, 3, (queries, 4))
    noise = rng.normal(0, 1, (systems, queries, 4))
    found = ndcg.compare(
        systems={
            f"{at}": np.round(effect * at * relevance + each, digits)
            for at, each in enumerate(noise)
        },
        references=relevance,
        k=[1, 4],
        measures=draw("nDCG", "DCG"),
        baseline=draw(None, "0"),
        sample_weight=draw(None, 1 + np.arange(queries) % 3),
        by=np.arange(queries) % 2,
        confidence=draw(0.95, 0.8),
        alternative=alternative,
        margin=margin,
        corrected_over=draw("measure", "all"),
    )
    for pair in (*found.pairs, *(pair for each in found.slices.values() for pair in each.pairs)):
        is_beyond = {
            "two-sided": pair.low_holm > 0 or pair.high_holm < 0,
            "greater": pair.low_holm > -margin,
            "less": pair.high_holm < margin,
        }
        assert is_beyond[alternative] == (pair.p_holm < 0.05)
        assert pair.low_holm <= pair.difference <= pair.high_holm
        assert pair.measure.startswith("DCG") or -1 <= pair.low_holm <= pair.high_holm <= 1
    assert (
        ndcg.Comparison.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found
    )


def test_the_corrected_interval_is_a_t_interval_at_the_level_of_holms_step(ndcg: Metric) -> None:
    systems, relevance = generated(weights=(0.2, 0.45, 0.55, 1))
    found = ndcg.compare(systems=systems, references=relevance, k=10)
    significant = sum(pair.p_holm < 0.05 for pair in found.pairs)
    assert 3 < significant < len(found.pairs) == 6
    for pair in found.pairs:
        tests = 6 - min(sum(other.p < pair.p for other in found.pairs), significant)
        reach = scipy.stats.t.ppf(1 - 0.05 / tests / 2, 59) * pair.standard_error
        expected = (pair.difference - reach, pair.difference + reach)
        assert (pair.low_holm, pair.high_holm) == pytest.approx(expected, rel=1e-12)
        assert (pair.degrees_of_freedom, type(pair.degrees_of_freedom)) == (59, float)
