"""Reports on the same queries are compared as by `compare`, on different ones as by SciPy; others are rejected."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from evaluate import Metric
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import RELEVANCE, SEVERAL, SYSTEMS

from ndcg.statistics.significance import holm


def by_id(rows: list[list[Any]]) -> dict[str, dict[str, float]]:
    return {
        f"q{at}": {f"d{place}": each for place, each in enumerate(row) if each is not None}
        for at, row in enumerate(rows)
    }


@settings(max_examples=100)
@given(data=st.data())
def test_reports_of_the_same_queries_have_the_figures_of_compare(ndcg: Metric, data: st.DataObject) -> None:
    """To the last bit, over formats of queries, ties, weights, slices, missing documents, measures and tests."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    queries, documents = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 6))
    shape = (queries, documents)
    arrange = data.draw(st.sampled_from([by_id, list]))
    runs = {
        f"s{at}": arrange(np.where(rng.random(shape) < 0.2, None, np.round(rng.normal(0, 1, shape), 1)).tolist())
        for at in range(data.draw(st.integers(2, 4)))
    }
    how = {
        "references": arrange(np.where(rng.random(shape) < 0.2, None, rng.integers(0, 3, shape)).tolist()),
        "k": data.draw(st.sampled_from([None, 2, [1, 3]])),
        "measures": data.draw(st.sampled_from(["nDCG", ["nDCG", "DCG"]])),
        "sample_weight": data.draw(st.sampled_from([None, 1 + np.arange(queries) % 3])),
        "by": data.draw(st.sampled_from([None, (np.arange(queries) % 2).tolist()])),
        "zero_division": data.draw(st.sampled_from([0.0, 1.0])),
        "missing": "empty",
        "confidence": data.draw(st.sampled_from([0.95, 0.8])),
    }
    tests = {
        "baseline": data.draw(st.sampled_from([None, "s1"])),
        "alternative": data.draw(st.sampled_from(["two-sided", "less"])),
        "corrected_over": data.draw(st.sampled_from(["measure", "all"])),
    }
    expected = ndcg.compare(systems=runs, **how, **tests)
    reports = {name: ndcg.report(predictions=run, **how) for name, run in runs.items()}
    found = ndcg.compare_reports(reports, confidence=how["confidence"], **tests)
    for field in ("signature", "scores", "pairs", "baseline", "queries", "resampling", "testing", "slices"):
        assert getattr(found, field) == getattr(expected, field), field
    assert ndcg.Comparison.from_dict(json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize("paired", [True, False])
def test_a_report_may_be_its_dict_or_a_file(ndcg: Metric, tmp_path: Path, paired: bool) -> None:
    reports = {name: ndcg.report(predictions=each, references=RELEVANCE, **SEVERAL) for name, each in SYSTEMS.items()}
    dense = json.dumps(reports["dense"].to_dict())
    (tmp_path / "dense.json").write_text(dense)
    for dense_ in (json.loads(dense), tmp_path / "dense.json", str(tmp_path / "dense.json")):
        found = ndcg.compare_reports({**reports, "dense": dense_}, paired=paired)
        assert found == ndcg.compare_reports(reports, paired=paired)


def samples(ndcg: Metric, *values: Any, **options: Any) -> dict[str, Any]:
    """Reports of queries with these nDCG@1: each has a document with the value as its gain, beside one with 1."""
    return {
        name: ndcg.report(predictions=[[2, 1]] * len(each), references=[[value, 1] for value in each], k=1, **options)
        for name, each in zip("ab", values, strict=True)
    }


@settings(max_examples=200)
@given(data=st.data())
def test_different_queries_are_compared_as_by_scipy(ndcg: Metric, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    sides = [
        rng.beta(*data.draw(st.sampled_from([(1, 1), (2, 5), (0.5, 0.3)])), data.draw(st.integers(3, 60))) for _ in "ab"
    ]
    alternative = data.draw(st.sampled_from(["two-sided", "greater", "less"]))
    margin = 0 if alternative == "two-sided" else data.draw(st.sampled_from([0, 0.1]))
    confidence = data.draw(st.sampled_from([0.95, 0.8]))
    how = {"alternative": alternative, "margin": margin, "confidence": confidence}
    found = ndcg.compare_reports(samples(ndcg, *sides), paired=False, **how)
    (pair,) = found.pairs
    tested = {"two-sided": 0, "greater": -margin, "less": margin}[alternative]
    one, other = sides
    expected = scipy.stats.ttest_ind(one - tested, other, equal_var=False, alternative=alternative)
    two_sided = scipy.stats.ttest_ind(one, other, equal_var=False)
    interval = two_sided.confidence_interval(confidence)
    assert pair.difference == pytest.approx(one.mean() - other.mean(), abs=1e-12)
    assert (pair.p, pair.p_t, pair.p_holm) == pytest.approx([expected.pvalue] * 3, rel=1e-9)
    assert (pair.low, pair.high) == pytest.approx((max(interval.low, -1), min(interval.high, 1)), rel=1e-9)
    assert pair.degrees_of_freedom == pytest.approx(two_sided.df, rel=1e-9)
    assert {pair.wins, pair.ties, pair.losses, pair.queries_needed} == {None}
    assert ndcg.Comparison.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


def test_several_samples_are_corrected_by_holm_and_their_intervals_agree(ndcg: Metric) -> None:
    reports = {
        name: ndcg.report(predictions=SYSTEMS["bm25"][at : at + size], references=RELEVANCE[at : at + size], k=[3, 10])
        for name, at, size in (("a", 0, 20), ("b", 20, 15), ("c", 35, 25))
    }
    reports["oracle"] = ndcg.report(predictions=RELEVANCE[:30], references=RELEVANCE[:30], k=[3, 10])
    found = ndcg.compare_reports(reports, paired=False, corrected_over="all")
    assert [pair.p_holm for pair in found.pairs] == holm(np.array([pair.p for pair in found.pairs])).tolist()
    assert {pair.p_holm < 0.05 for pair in found.pairs} == {True, False}
    for pair in found.pairs:
        assert (pair.low_holm <= 0 <= pair.high_holm) == (pair.p_holm >= 0.05)
    assert found.counts == {"a": 20, "b": 15, "c": 25, "oracle": 30}


@pytest.mark.parametrize(
    ("one", "other", "alternative", "p"),
    [
        (
            [1.0] * 3,
            [0.5] * 4,
            "two-sided",
            2 / 35,
        ),  # of 35 ways to choose 3 of 7, two separate them
        ([1.0] * 3, [0.5] * 4, "greater", 1 / 35),
        ([1.0] * 3, [0.5] * 4, "less", 1.0),
        ([1.0] * 20, [0.5] * 20, "two-sided", 2 / 137846528820),
        ([0.5] * 3, [0.5] * 4, "two-sided", 1.0),
        ([0.5] * 3, [0.5] * 4, "greater", 1.0),
    ],
)
def test_samples_without_variance_have_the_p_value_of_a_permutation_test(
    ndcg: Metric, one: list[float], other: list[float], alternative: str, p: float
) -> None:
    (pair,) = ndcg.compare_reports(samples(ndcg, one, other), paired=False, alternative=alternative).pairs
    assert pair.p == pytest.approx(p)
    assert pair.low < pair.difference == one[0] - other[0] < pair.high
    is_above, is_below = pair.low_holm > 0, pair.high_holm < 0
    is_beyond = {"two-sided": is_above or is_below, "greater": is_above, "less": is_below}
    assert is_beyond[alternative] == (p < 0.05)


def test_the_text_says_that_samples_are_independent(ndcg: Metric) -> None:
    found = ndcg.compare_reports(samples(ndcg, [0.9, 0.8, 1], [0.1, 0.2, 0.3, 0.4]), paired=False, baseline="b")
    for text in (str(found), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert "independent samples" in text
        assert "Welch's t-test" in text.replace("&#x27;", "'")
        assert "paired" not in text
    assert [row[0] for row in found.tables()[1]] == ["pair", "a – b"]
    found.plot().draw_without_rendering()
    for wrong in (lambda: found.differences("a", "b"), lambda: found.plot(queries=True)):
        with pytest.raises(ValueError, match="the systems have different queries, which cannot be compared one by one"):
            wrong()


def changed(report: Any, **columns: Any) -> dict[str, Any]:
    """What `to_dict` returned, with other columns of queries."""
    values = report.to_dict()
    return {**values, "queries": {**values["queries"], **columns}}


def test_reports_that_cannot_be_compared_are_rejected(ndcg: Metric, tmp_path: Path) -> None:
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE}
    report, weighted = (ndcg.report(**inputs, k=10, sample_weight=each) for each in (None, np.arange(60)))
    old = weighted.to_dict()
    del old["queries"]["weight"]
    several, broken = tmp_path / "several.json", tmp_path / "broken.json"
    several.write_text(json.dumps({"x": report.to_dict(), "y": report.to_dict()}))
    broken.write_text("{")
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE)
    made = "'a' and 'b' were made with different options: "
    for first, second, error in (
        (report, ndcg.report(**inputs, k=10, gain="exponential"), rf"{made}gain \(linear and exponential\); score"),
        (report, ndcg.report(**inputs, k=5), rf"{made}measures \(nDCG@10 and nDCG@5\)"),
        (report, ndcg.report(**inputs, k=10, zero_division=1), rf"{made}zero_division \(0 and 1\)"),
        (report, weighted, rf"{made}sample_weight \(not given and given\)"),
        (report, ndcg.report(**inputs, k=10, ideal="retrieved"), rf"{made}ideal \(judged and retrieved\)"),
        (report, {**report.to_dict(), "signature": report.signature[:-1] + "9"}, rf"{made}the version \("),
        (
            report,
            changed(report, query=[*range(58), 70, 71]),
            r"different queries: 2 queries \(58, 59\) only in a, 2 queries \(70, 71\) only in b; paired=False",
        ),
        (report, tmp_path / "no.json", "no.json: No such file"),
        (report, broken, "broken.json: Expecting property name"),
        (report, several, r"several.json: holds the reports of 2 systems \('x', 'y'\); give one of them"),
        (report, 7, "must be a report, the result of its to_dict, or the path of a JSON file with that result; got 7"),
        (report, comparison, r"reports\['b'\]: values must be the result of Report.to_dict\(\), whole and unchanged"),
        (weighted, changed(weighted, weight=[1.0] * 60), "query 0 has different weights in 'a' and 'b'"),
        (weighted, old, r"reports\['b'\]: was saved by a version that did not save weights; score it again"),
    ):
        with pytest.raises(ValueError, match=error):
            ndcg.compare_reports({"a": first, "b": second})


def test_questions_about_reports_that_have_no_answer_are_rejected(ndcg: Metric) -> None:
    report, weighted = (
        ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE, sample_weight=each)
        for each in (None, np.arange(60))
    )
    for reports, paired, error in (
        ({"a": weighted, "b": weighted}, False, "reports: have weights, which paired=False does not support"),
        (samples(ndcg, [0.5], [0.2, 0.3]), False, "a: a comparison needs at least two queries .* a value; got 1"),
        ({"a": report}, True, "reports must map the names of at least two systems to their reports; got 1"),
        ({"a": report, "b": report}, "no", "paired must be True or False; got 'no'"),
    ):
        with pytest.raises(ValueError, match=f"^{error}"):
            ndcg.compare_reports(reports, paired=paired)


def test_queries_are_matched_by_their_ids_in_any_order(ndcg: Metric) -> None:
    report, other = (ndcg.report(predictions=SYSTEMS[name], references=RELEVANCE) for name in ("bm25", "dense"))
    order = np.random.default_rng(0).permutation(60)
    shuffled = changed(
        other, **{name: other.queries[name].take(order).to_pylist() for name in other.queries.column_names}
    )
    assert ndcg.compare_reports({"a": report, "b": shuffled}) == ndcg.compare_reports({"a": report, "b": other})


def test_notes_say_where_the_judgments_or_slices_of_reports_differ(ndcg: Metric) -> None:
    rankings = {"predictions": [[2, 1], [1, 2], [None, None]], "references": [[1, 0], [0, 1], [1, 0]]}
    first = ndcg.report(**rankings, by=["x", "y", "y"])
    second = ndcg.report(predictions=[[2, 1], [1, 2], [2, 1]], references=[[1, 1], [0, 1], [1, 0]], by=["x", "x", "y"])
    found = ndcg.compare_reports({"a": first, "b": second})
    assert not found.slices
    for note in (
        "b: 1 query has other judgments than in a.",
        "Slices are not compared, since the reports have different ones.",
        "a: 1 of 3 judged queries is missing from the run",
        "Few queries (3)",
    ):
        assert sum(each.startswith(note) for each in found.notes) == 1
