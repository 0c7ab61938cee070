"""Reports on the same queries are compared as by `compare`, on different ones as by SciPy."""

import json
from typing import Any

import numpy as np
import pytest
import scipy.stats
from evaluate import Metric
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal
from systems import RELEVANCE, SYSTEMS

BM25: dict[str, Any] = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE}


def by_id(rows: list[list[Any]]) -> dict[str, dict[str, float]]:
    return {
        f"q{at}": {f"d{place}": each for place, each in enumerate(row) if each is not None}
        for at, row in enumerate(rows)
    }


def read_again(found: Any) -> Any:
    return type(found).from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))


@settings(max_examples=30)
@given(data=st.data())
def test_reports_of_the_same_queries_have_the_figures_of_compare(
    ndcg: Metric, data: st.DataObject
) -> None:
    """To the bit, over formats, ties, weights, slices, missing documents, measures and tests."""

    def draw(*values: Any) -> Any:
        return data.draw(st.sampled_from(values))

    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    queries, documents = data.draw(st.integers(2, 40)), data.draw(st.integers(2, 6))
    shape, arrange = (queries, documents), draw(by_id, list)
    runs = {
        name: arrange(
            np.where(rng.random(shape) < 0.2, None, np.round(rng.normal(0, 1, shape), 1)).tolist()
        )
        for name in draw("ab", "abc")
    }
    how = {
        "references": arrange(
            np.where(rng.random(shape) < 0.2, None, rng.integers(0, 3, shape)).tolist()
        ),
        "k": draw(None, 2, [1, 3]),
        "measures": draw("nDCG", ["nDCG", "DCG"]),
        "sample_weight": draw(None, 1 + np.arange(queries) % 3),
        "by": draw(None, (np.arange(queries) % 2).tolist()),
        "zero_division": draw(0.0, 1.0),
        "missing": "empty",
        "confidence": draw(0.95, 0.8),
    }
    tests = {"baseline": draw(None, "b"), "alternative": draw("two-sided", "less")}
    expected = ndcg.compare(systems=runs, **how, **tests)
    reports = {name: ndcg.report(predictions=run, **how) for name, run in runs.items()}
    found = ndcg.compare_reports(reports, confidence=how["confidence"], **tests)
    for field in (
        "signature",
        "scores",
        "pairs",
        "baseline",
        "queries",
        "resampling",
        "testing",
        "slices",
    ):
        assert getattr(found, field) == getattr(expected, field), field
    assert read_again(found) == found


def samples(ndcg: Metric, *values: Any, **options: Any) -> dict[str, Any]:
    """Reports of queries with these nDCG@1: a document with this gain beside one with gain 1."""
    return {
        name: ndcg.report(
            predictions=[[2, 1]] * len(each),
            references=[[value, 1] for value in each],
            k=1,
            **options,
        )
        for name, each in zip("ab", values, strict=True)
    }


@settings(max_examples=60)
@given(data=st.data())
def test_different_queries_are_compared_as_by_scipy(ndcg: Metric, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    one, other = (
        rng.beta(
            *data.draw(st.sampled_from([(1, 1), (2, 5), (0.5, 0.3)])), data.draw(st.integers(3, 60))
        )
        for _ in "ab"
    )
    alternative, margin = data.draw(
        st.sampled_from(
            [("two-sided", 0), ("greater", 0), ("greater", 0.1), ("less", 0), ("less", 0.1)]
        )
    )
    confidence = data.draw(st.sampled_from([0.95, 0.8]))
    how = {"alternative": alternative, "margin": margin, "confidence": confidence}
    found = ndcg.compare_reports(samples(ndcg, one, other), paired=False, **how)
    (pair,) = found.pairs
    moved = one + (margin if alternative == "greater" else -margin)
    expected = scipy.stats.ttest_ind(moved, other, equal_var=False, alternative=alternative)
    two_sided = scipy.stats.ttest_ind(one, other, equal_var=False)
    interval = two_sided.confidence_interval(confidence)
    assert pair.difference == pytest.approx(one.mean() - other.mean(), abs=1e-12)
    assert (pair.p, pair.p_t, pair.p_holm) == pytest.approx([expected.pvalue] * 3, rel=1e-9)
    assert (pair.low, pair.high) == pytest.approx(
        (max(interval.low, -1), min(interval.high, 1)), rel=1e-9
    )
    assert pair.degrees_of_freedom == pytest.approx(two_sided.df, rel=1e-9)
    assert {pair.wins, pair.ties, pair.losses, pair.queries_needed} == {None}
    assert found.counts == {"a": len(one), "b": len(other)}
    assert read_again(found) == found


@pytest.mark.filterwarnings("ignore:.*equally relevant:UserWarning")
@pytest.mark.parametrize(
    ("one", "sizes", "alternative", "p", "is_beyond"),
    [
        (
            1.0,
            (3, 4),
            "two-sided",
            2 / 35,
            (False, False),
        ),  # of 35 ways to choose 3 of 7, two separate them
        (1.0, (3, 4), "greater", 1 / 35, (True, False)),
        (1.0, (20, 20), "two-sided", 2 / 137846528820, (True, False)),
        (0.5, (3, 4), "two-sided", 1.0, (False, False)),
    ],
)
def test_samples_without_variance_have_the_p_value_of_a_permutation_test(
    ndcg: Metric,
    one: float,
    sizes: tuple[int, int],
    alternative: str,
    p: float,
    is_beyond: tuple[bool, bool],
) -> None:
    reports = samples(ndcg, [one] * sizes[0], [0.5] * sizes[1])
    (pair,) = ndcg.compare_reports(reports, paired=False, alternative=alternative).pairs
    assert pair.p == pytest.approx(p)
    assert pair.low < pair.difference == one - 0.5 < pair.high
    assert (pair.low_holm > 0, pair.high_holm < 0) == is_beyond


def test_the_text_says_that_samples_are_independent(ndcg: Metric) -> None:
    found = ndcg.compare_reports(
        samples(ndcg, [0.9, 0.8, 1], [0.1, 0.2, 0.3, 0.4]), paired=False, baseline="b"
    )
    for text in (str(found), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert "independent samples" in text
        assert "Welch's t-test" in text.replace("&#x27;", "'")
        assert "paired" not in text
    assert "Welch's t for differences" in str(found)
    assert [row[0] for row in found.tables()[1]] == ["pair", "a – b"]
    found.plot().draw_without_rendering()
    with refusal("differences"):
        found.differences("a", "b")
    with refusal("queries=True"):
        found.plot(queries=True)


def changed(report: Any, **columns: Any) -> dict[str, Any]:
    """What `to_dict` returned, with other columns of queries."""
    values = report.to_dict()
    return {**values, "queries": {**values["queries"], **columns}}


def test_queries_are_matched_by_their_ids_in_any_order(ndcg: Metric) -> None:
    report, other = (
        ndcg.report(**BM25),
        ndcg.report(predictions=SYSTEMS["dense"], references=RELEVANCE),
    )
    shuffled = changed(
        other, **other.queries.take(np.random.default_rng(0).permutation(60)).to_pydict()
    )
    assert ndcg.compare_reports({"a": report, "b": shuffled}) == ndcg.compare_reports(
        {"a": report, "b": other}
    )


@pytest.mark.parametrize("paired", [True, False])
def test_what_2_saved_is_compared_with_reports_of_3(ndcg: Metric, paired: bool) -> None:
    report, other = (
        ndcg.report(predictions=SYSTEMS[name], references=RELEVANCE) for name in ("bm25", "dense")
    )
    of_2 = {**report.to_dict(), "signature": report.signature.replace("v:3.0.0", "v:2.1.0")}
    expected = ndcg.compare_reports({"a": report, "b": other}, paired=paired)
    found = ndcg.compare_reports({"a": of_2, "b": other}, paired=paired)
    assert (found.scores, found.pairs) == (expected.scores, expected.pairs)


NUMBERED, OTHERS = "The queries are numbered 0 to 19", "b: "
GRADED, ONE_RELEVANT = RELEVANCE[:40], np.eye(12, dtype=int)[np.arange(40) % 11]


@pytest.mark.parametrize(
    ("arrange", "first", "second", "expected"),
    [
        (list, GRADED[:20], GRADED[20:], [NUMBERED, OTHERS]),
        (list, GRADED[:20], GRADED[:20], [NUMBERED]),
        (list, ONE_RELEVANT[:20], ONE_RELEVANT[20:], [NUMBERED]),
        (by_id, GRADED[:20], GRADED[20:], [OTHERS]),
        (by_id, GRADED[:20], GRADED[:20], []),
    ],
    ids=["other lists", "the same", "one relevant document each", "judged again", "the same ids"],
)
def test_notes_doubt_whether_queries_are_the_same(
    ndcg: Metric, arrange: Any, first: Any, second: Any, expected: list[str]
) -> None:
    reports = {}
    for name, run, judged in (("a", "bm25", first), ("b", "dense", second)):
        ranked = arrange(SYSTEMS[run][:20].tolist())
        reports[name] = ndcg.report(predictions=ranked, references=arrange(judged.tolist()))
    notes = ndcg.compare_reports(reports).notes
    doubts = [note for note in notes if "random order" not in note]
    assert len(doubts) == len(expected)
    assert all(map(str.startswith, doubts, expected))


def test_notes_say_where_the_judgments_or_slices_of_reports_differ(ndcg: Metric) -> None:
    rankings = {
        "predictions": [[2, 1], [1, 2], [None, None]],
        "references": [[1, 0], [0, 1], [1, 0]],
    }
    first = ndcg.report(**rankings, by=["x", "y", "y"])
    second = ndcg.report(
        predictions=[[2, 1], [1, 2], [2, 1]],
        references=[[1, 1], [0, 1], [1, 0]],
        by=["x", "x", "y"],
    )
    found = ndcg.compare_reports({"a": first, "b": second})
    assert not found.slices
    assert "b: queries with other judgments than in a: 1." in found.notes
    no_slices = "Slices are compared only if all reports have the same queries and slices."
    assert no_slices in found.notes
    unpaired = ndcg.compare_reports({"a": first, "b": first}, paired=False)
    assert no_slices in unpaired.notes
    assert (
        sum(
            each.startswith("a: 1 of 3 judged queries is missing from the run")
            for each in found.notes
        )
        == 1
    )
