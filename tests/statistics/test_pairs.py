"""How two systems differ: every figure of a pair from its definition, and the alternatives of the tests."""

import json
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from systems import RELEVANCE, SEVERAL, SYSTEMS, generated

from ndcg.statistics import pairs as room
from ndcg.statistics.significance import holm, intervals, paired_tests, power


@pytest.mark.parametrize("weighted", [False, True])
def test_every_figure_of_a_pair_follows_its_definition(ndcg: evaluate.Metric, weighted: bool) -> None:
    weight = np.arange(60) % 5 if weighted else None
    how = {"references": RELEVANCE, "k": [3, 10], "sample_weight": weight}
    comparison = ndcg.compare(systems=SYSTEMS, **how, seed=3, confidence=0.9)
    assert [(pair.measure, pair.system, pair.other) for pair in comparison.pairs] == [
        (measure, *systems)
        for measure in ("nDCG@3", "nDCG@10")
        for systems in (("bm25", "dense"), ("bm25", "hybrid"), ("dense", "hybrid"))
    ]
    for measure in ("nDCG@3", "nDCG@10"):
        pairs = [pair for pair in comparison.pairs if pair.measure == measure]
        for pair in pairs:
            names = (pair.system, pair.other)
            rows = [
                ndcg.compute(predictions=SYSTEMS[name], references=RELEVANCE, k=[3, 10], use_aggregator=False)[measure]
                for name in names
            ]
            values = np.array(rows)
            difference = values[0] - values[1]
            shares = difference if weight is None else difference * weight / weight.mean()
            assert pair.difference == pytest.approx(shares.mean(), abs=1e-12)
            expected = [float(each[2]) for each in intervals(values, weight, [(0, 1)], confidence=0.9)]
            assert [pair.low, pair.high, pair.standard_error] == pytest.approx(expected, abs=1e-12)
            tests = paired_tests(values, weight, [(0, 1)], seed=3)
            assert pair.p == tests.randomization[0]
            kept = shares if weight is None else shares[weight > 0]
            assert pair.p_t == pytest.approx(scipy.stats.ttest_1samp(kept, 0).pvalue)
            counted = difference if weight is None else difference[weight > 0]
            assert (pair.wins, pair.ties, pair.losses) == (
                (counted > 0).sum(),
                (counted == 0).sum(),
                (counted < 0).sum(),
            )
            assert pair.wins + pair.ties + pair.losses == (48 if weighted else 60)
        assert [pair.p_holm for pair in pairs] == holm(np.array([pair.p for pair in pairs])).tolist()
        assert [pair.p_t_holm for pair in pairs] == holm(np.array([pair.p_t for pair in pairs])).tolist()


def test_all_systems_may_be_compared_with_a_baseline(ndcg: evaluate.Metric) -> None:
    how = {"systems": SYSTEMS, "references": RELEVANCE, "k": 10}
    comparison = ndcg.compare(**how, baseline="dense")
    assert [(pair.system, pair.other) for pair in comparison.pairs] == [("bm25", "dense"), ("hybrid", "dense")]
    assert comparison.baseline == "dense"
    each_with_each = {(pair.system, pair.other): pair for pair in ndcg.compare(**how).pairs}
    bm25, hybrid = comparison.pairs
    assert bm25.p == each_with_each["bm25", "dense"].p
    assert hybrid.difference == -each_with_each["dense", "hybrid"].difference
    assert (hybrid.wins, hybrid.losses) == (
        each_with_each["dense", "hybrid"].losses,
        each_with_each["dense", "hybrid"].wins,
    )
    assert hybrid.p_holm == holm(np.array([bm25.p, hybrid.p]))[1]


@pytest.mark.parametrize(
    ("alternative", "margin"), [("greater", 0.0), ("less", 0.0), ("greater", 0.05), ("less", 0.05)]
)
def test_a_comparison_may_ask_one_side(ndcg: evaluate.Metric, alternative: str, margin: float) -> None:
    how = {"systems": SYSTEMS, "references": RELEVANCE, "measures": ["nDCG", "DCG"]}
    comparison = ndcg.compare(**how, alternative=alternative, margin=margin)
    two_sided = ndcg.compare(**how)
    for pair, both in zip(comparison.pairs, two_sided.pairs, strict=True):
        rows = comparison.queries.filter(pa.compute.equal(comparison.queries["system"], pair.system))[pair.measure]
        others = comparison.queries.filter(pa.compute.equal(comparison.queries["system"], pair.other))[pair.measure]
        values = np.stack([rows.to_numpy(), others.to_numpy()])
        tests = paired_tests(values, pairs=[(0, 1)], alternative=alternative, margin=margin)
        assert (pair.p, pair.p_t) == pytest.approx((tests.randomization[0], tests.t_test[0]), rel=1e-9)
        assert (pair.low, pair.high) == (both.low, both.high)
    assert type(comparison).from_dict(json.loads(json.dumps(comparison.to_dict()))) == comparison
    word = {"greater": "better", "less": "worse"}[alternative]
    opposite = {"greater": "worse", "less": "better"}[alternative]
    question = f"is the first not {opposite} by 0.05 or more?" if margin else f"is the first {word}?"
    relation = "not worse than" if margin else "better than"
    for text in (str(comparison), comparison.to_latex(), comparison._repr_html_()):
        assert question in text
        assert relation in text
    (axes,) = comparison.plot().axes
    assert question in axes.get_xlabel()


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_the_90_percent_interval_agrees_with_a_one_sided_t_test_at_5_percent(
    ndcg: evaluate.Metric, margin: float
) -> None:
    better = []
    for weight in (0.5, 0.8, 1.2, 2):
        systems, relevance = generated(queries=60, weights=(weight, 0.6))
        how = {"systems": systems, "references": relevance, "alternative": "greater", "margin": margin}
        pair = ndcg.compare(**how, confidence=0.9).pairs[0]
        better.append(pair.low > -margin)
        assert better[-1] == (pair.p_t < 0.05)
    assert set(better) == {False, True}


def test_many_light_queries_outweigh_a_heavy_one_in_the_randomization_test(ndcg: evaluate.Metric) -> None:
    systems = {"worse": [[1, 2]] * 21, "better": [[2, 1]] * 21}
    how = {"systems": systems, "references": [[3, 2.9]] + [[1, 0]] * 20, "sample_weight": [1000, *[1] * 20]}
    (pair,) = ndcg.compare(**how).pairs
    assert pair.p == 2 / 2**21
    assert pair.p_t > 0.05


def test_p_values_may_be_corrected_over_all_measures(ndcg: evaluate.Metric) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL, corrected_over="all")
    assert [pair.p_holm for pair in comparison.pairs] == holm(np.array([pair.p for pair in comparison.pairs])).tolist()
    expected = holm(np.array([pair.p_t for pair in comparison.pairs])).tolist()
    assert [pair.p_t_holm for pair in comparison.pairs] == expected
    assert "corrected by Holm for all pairs of all measures" in str(comparison)


def test_a_pair_has_the_difference_that_its_queries_can_detect(ndcg: evaluate.Metric) -> None:
    how = {"references": RELEVANCE, "measures": ["nDCG", "DCG"]}
    weight = np.arange(60) % 5
    for pair in ndcg.compare(systems=SYSTEMS, **how, sample_weight=weight).pairs:
        values = [
            ndcg.compute(predictions=SYSTEMS[each], references=RELEVANCE, measures=pair.measure, use_aggregator=False)
            for each in (pair.system, pair.other)
        ]
        found = power(np.array([each[pair.measure] for each in values]), weight.astype(float), [(0, 1)])
        assert pair.min_detectable == pytest.approx(found.min_detectable[0], rel=1e-9)
        assert pair.queries_needed == found.queries_needed[0]
    same = ndcg.compare(systems={"a": SYSTEMS["bm25"], "b": SYSTEMS["bm25"]}, **how)
    assert [(pair.min_detectable, pair.queries_needed) for pair in same.pairs] == [(None, None)] * 2
    assert "–" in same.tables()[2][1]


@pytest.mark.parametrize("options", [{}, {"alternative": "greater"}, {"alternative": "less", "margin": 0.5}], ids=str)
def test_no_pair_detects_a_difference_that_is_not_possible(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    found, possible = set(), 1 + options.get("margin", 0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sides = rng.random((2, rng.integers(2, 6), 4))
        rankings = {"systems": dict(zip("ab", sides, strict=True)), "references": rng.integers(0, 3, sides[0].shape)}
        compared = ndcg.compare(**rankings, measures=["nDCG", "DCG"], k=1, **options)
        by_system = [compared.queries.filter(pc.equal(compared.queries["system"], name)) for name in "ab"]
        for pair in compared.pairs:
            values = np.array([each[pair.measure].to_numpy() for each in by_system])
            detected = power(values, pairs=[(0, 1)], **options).min_detectable[0]
            too_few = pair.measure == "nDCG@1" and detected > possible
            assert pair.min_detectable == (None if too_few or np.isnan(detected) else detected)
            if pair.measure == "nDCG@1":
                note = (
                    f"{int(too_few)} of 2 pairs have too few queries to find any difference with 80% power, even the "
                )
                assert too_few == any(each.startswith(note) for each in compared.notes)
                found.add(bool(too_few))
        assert ndcg.Comparison.from_dict(json.loads(json.dumps(compared.to_dict()))) == compared
    assert found == {True, False}


def test_differences_have_no_bound_if_negative_relevances_are_kept(ndcg: evaluate.Metric) -> None:
    systems = {"a": [[1, 2], [2, 1]], "b": [[2, 1], [1, 2]]}
    how = {"references": [[3, -2], [3, -2]], "negative_relevance": "keep"}
    (pair,) = ndcg.compare(systems=systems, **how).pairs
    assert pair.min_detectable > 1


def test_few_queries_are_compared_exactly(ndcg: evaluate.Metric) -> None:
    systems, relevance = generated(queries=8, weights=(0.2, 0.5))
    comparison = ndcg.compare(systems=systems, references=relevance)
    one, other = (
        ndcg.compute(predictions=each, references=relevance, use_aggregator=False)["nDCG"] for each in systems.values()
    )
    expected = scipy.stats.permutation_test(
        (np.subtract(one, other),), lambda x, axis: x.mean(axis), permutation_type="samples", vectorized=True
    )
    assert comparison.pairs[0].p == pytest.approx(expected.pvalue)
    (pair,) = comparison.pairs
    assert (pair.exact, pair.permutations, pair.p_error) == (True, 2 ** (pair.wins + pair.losses), 0.0)
    assert comparison.resampling.exact
    assert "randomization test (all permutations: exact)" in comparison.to_markdown()


def test_differences_due_to_rounding_do_not_count(ndcg: evaluate.Metric) -> None:
    systems = {"tied": [[9, 1, 1, 1]] * 10, "not": [[9, 3, 2, 1]] * 10}  # (.1 + .1 + .1) / 3 is not .1
    comparison = ndcg.compare(systems=systems, references=[[0, 0.1, 0.1, 0.1]] * 10)
    (pair,) = comparison.pairs
    assert (pair.wins, pair.ties, pair.losses, pair.p, pair.p_t) == (0, 10, 0, 1.0, 1.0)
    assert pair.difference == 0
    assert comparison.scores["tied"]["nDCG"].tied == 0
    for score in comparison.scores.values():
        assert score["nDCG"].worst <= score["nDCG"].value <= score["nDCG"].best


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e307])
def test_the_size_of_gains_changes_no_test(ndcg: evaluate.Metric, size: float) -> None:
    systems = {"a": [[1, 2]] * 5, "b": [[2, 1]] * 5}
    references = np.array([[1, 0], [0.9, 0], [0.8, 0], [1, 0], [0.5, 0.25]])
    usual = ndcg.compare(systems=systems, references=references, measures=["DCG", "nDCG"])
    sized = ndcg.compare(systems=systems, references=references * size, measures=["DCG", "nDCG"])
    for one, other in zip(usual.pairs, sized.pairs, strict=True):
        scale = size if one.measure == "DCG" else 1.0
        figures = ("p", "p_holm", "p_t", "p_t_holm", "wins", "ties", "losses", "permutations", "queries_needed")
        assert [getattr(one, each) for each in figures] == pytest.approx([getattr(other, each) for each in figures])
        sizes = ("difference", "low", "high", "standard_error", "min_detectable")
        expected = [getattr(one, each) * scale for each in sizes]
        assert [getattr(other, each) for each in sizes] == pytest.approx(expected, rel=1e-6)
    report = ndcg.report(predictions=systems["a"], references=references * size, measures="DCG")
    assert report.scores["DCG"] == sized.scores["a"]["DCG"]


def test_queries_of_no_weight_are_not_counted(ndcg: evaluate.Metric) -> None:
    systems = {"a": [[2, 1]] * 3 + [[1, 2]] * 5, "b": [[1, 2]] * 3 + [[2, 1]] * 5}
    weight = [1, 1, 1, 0, 0, 0, 0, 0]
    comparison = ndcg.compare(systems=systems, references=[[1, 0]] * 8, sample_weight=weight)
    (pair,) = comparison.pairs
    assert (pair.wins, pair.ties, pair.losses) == (3, 0, 0)
    assert comparison.scores["a"]["nDCG"].ranked == 6


@pytest.mark.parametrize(
    ("corrected_over", "families", "corrected"),
    [("measure", [[0, 2], [1, 3]], [0.02, 0.03, 0.02, 0.04]), ("all", [[0, 1, 2, 3]], [0.04, 0.045, 0.045, 0.045])],
)
def test_holm_corrects_the_pairs_of_a_family_together(
    ndcg: evaluate.Metric, corrected_over: str, families: list[list[int]], corrected: list[float]
) -> None:
    (pair,) = ndcg.compare(systems={"a": [[2, 1]] * 3, "b": [[1, 2]] * 3}, references=[[1, 0]] * 3).pairs
    measures, p_values = ("nDCG", "DCG", "nDCG", "DCG"), (0.01, 0.015, 0.02, 0.04)
    pairs = [pair._replace(measure=name, p=p, p_t=p / 2) for name, p in zip(measures, p_values, strict=True)]
    testing = room.Testing(corrected_over=corrected_over)
    assert testing.families(pairs) == families
    assert testing.holm(pairs, p_values) == pytest.approx(corrected)
    found = testing.corrected(pairs, 0.95)
    assert [each.p_holm for each in found] == pytest.approx(corrected)
    assert [each.p_t_holm for each in found] == pytest.approx([each / 2 for each in corrected])
    fields = ("p_holm", "p_t_holm", "low_holm", "high_holm")
    assert [each._replace(**{name: getattr(pair, name) for name in fields}) for each in found] == pairs
    assert testing.corrected([], 0.95) == []


@given(st.data())
def test_the_corrected_interval_and_the_corrected_p_value_agree(ndcg: evaluate.Metric, data: st.DataObject) -> None:
    """Over systems, queries, ties, weights, slices, alternatives, margins, corrections and confidences."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    alternative = data.draw(st.sampled_from(["two-sided", "greater", "less"]))
    margin = 0.0 if alternative == "two-sided" else data.draw(st.sampled_from([0.0, 0.1]))
    queries, systems = data.draw(st.integers(2, 33)), data.draw(st.integers(2, 6))
    effect, digits = data.draw(st.sampled_from([0, 0.3, 1, 5])), data.draw(st.integers(0, 2))
    relevance = rng.integers(0, 3, (queries, 4))
    noise = rng.normal(0, 1, (systems, queries, 4))
    found = ndcg.compare(
        systems={f"{at}": np.round(effect * at * relevance + each, digits) for at, each in enumerate(noise)},
        references=relevance,
        k=[1, 4],
        measures=data.draw(st.sampled_from(["nDCG", "DCG"])),
        baseline=data.draw(st.sampled_from([None, "0"])),
        sample_weight=data.draw(st.sampled_from([None, 1 + np.arange(queries) % 3])),
        by=np.arange(queries) % 2,
        confidence=data.draw(st.sampled_from([0.95, 0.8])),
        alternative=alternative,
        margin=margin,
        corrected_over=data.draw(st.sampled_from(["measure", "all"])),
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
    assert ndcg.Comparison.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


def test_the_corrected_interval_is_a_t_interval_at_the_level_of_holms_step(ndcg: evaluate.Metric) -> None:
    systems, relevance = generated(weights=(0.2, 0.45, 0.55, 1))
    found = ndcg.compare(systems=systems, references=relevance, k=10)
    significant = sum(pair.p_holm < 0.05 for pair in found.pairs)
    assert 3 < significant < len(found.pairs) == 6
    for pair in found.pairs:
        tests = 6 - min(sum(other.p < pair.p for other in found.pairs), significant)
        reach = scipy.stats.t.ppf(1 - 0.05 / tests / 2, 59) * pair.standard_error
        expected = (pair.difference - reach, pair.difference + reach)
        assert (pair.low_holm, pair.high_holm) == pytest.approx(expected, rel=1e-12)
        assert pair.degrees_of_freedom == 59
