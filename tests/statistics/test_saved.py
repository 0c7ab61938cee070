"""Results saved as JSON are read back whole, and only if their figures follow from the values of their queries."""

import doctest
import json
import math
from typing import Any

import evaluate
import pytest
from systems import RELEVANCE, SYSTEMS
from systems import shown as shown

from ndcg.statistics import saved as room


def test_json_holds_all_of_it(shown: tuple[Any, Any]) -> None:
    for original in shown:
        again = type(original).from_dict(json.loads(json.dumps(original.to_dict(), allow_nan=False)))
        assert again == original
        assert str(again) == str(original)
        assert again.queries.schema == original.queries.schema
    assert {type(pair).__name__ for pair in shown[1].pairs} == {"Pair"}
    assert {type(score).__name__ for score in shown[0].scores.values()} == {"Score"}


def test_a_comparison_of_version_1_0_is_read(shown: tuple[Any, Any]) -> None:
    stored = shown[1].to_dict()
    for pair in stored["pairs"]:
        for added in ("exact", "permutations", "min_detectable", "queries_needed"):
            del pair[added]
    del stored["testing"]
    stored["signature"] = stored["signature"].replace("|v:1.2.0", "|v:1.0.0")
    again = type(shown[1]).from_dict(stored)
    assert "randomization test (200 permutations: standard error of p at most " in str(again)
    assert (again.pairs[0].min_detectable, again.pairs[0].queries_needed) == (None, None)
    assert again.pairs[0].p_error == math.sqrt(again.pairs[0].p * (1 - again.pairs[0].p) / 200)


def test_a_metric_reads_reports_back(ndcg: evaluate.Metric, shown: tuple[Any, Any]) -> None:
    report, comparison = shown
    assert ndcg.Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    assert ndcg.Comparison.from_dict(json.loads(json.dumps(comparison.to_dict()))) == comparison


@pytest.mark.parametrize("kind", ["Report", "Comparison"])
@pytest.mark.parametrize("lacking", ["scores", "queries", "resampling", "notes"])
def test_values_of_no_report_are_rejected(ndcg: evaluate.Metric, kind: str, lacking: str) -> None:
    rankings: dict[str, Any] = {"references": [[1, 0], [0, 1]], "k": 1}
    scores = [[2, 1], [2, 1]]
    whole = {
        "Report": lambda: ndcg.report(predictions=scores, **rankings),
        "Comparison": lambda: ndcg.compare(systems={"a": scores, "b": [[1, 2], [2, 1]]}, **rankings),
    }[kind]().to_dict()
    read = getattr(ndcg, kind).from_dict
    assert read(whole).to_dict() == whole
    message = rf"^values must be the result of {kind}\.to_dict\(\), whole and unchanged \("
    for values in ({}, None, {**whole, lacking: 7}, {name: each for name, each in whole.items() if name != lacking}):
        with pytest.raises(ValueError, match=message):
            read(values)


ENTRIES: dict[str, tuple[Any, ...]] = {
    "report: a mean": ("scores", "nDCG@3", "value"),
    "report: an end of an interval": ("scores", "DCG@10", "low"),
    "report: a range": ("scores", "nDCG@3", "worst"),
    "report: a count": ("counts", "left_out"),
    "report: a value": ("queries", "nDCG@3", 7),
    "report: the ids": ("queries", "query"),
    "report: the confidence": ("resampling", "confidence"),
    "comparison: a mean": ("scores", "dense", "nDCG@3", "value"),
    "comparison: a difference": ("pairs", 1, "difference"),
    "comparison: a p-value": ("pairs", 1, "p"),
    "comparison: a corrected p-value": ("pairs", 1, "p_t_holm"),
    "comparison: the queries won": ("pairs", 1, "wins"),
    "comparison: a value": ("queries", "DCG@10", 7),
    "comparison: a system": ("pairs", 1, "system"),
}


@pytest.mark.parametrize("change", [None, "abc", 10**40, 10**400, [], {}, True, 0.125, "deleted"], ids=repr)
@pytest.mark.parametrize("entry", ENTRIES)
def test_figures_that_do_not_follow_from_the_values_of_queries_are_rejected(
    shown: tuple[Any, Any], entry: str, change: Any
) -> None:
    original = shown[entry.startswith("comparison")]
    values = json.loads(json.dumps(original.to_dict()))
    *path, last = ENTRIES[entry]
    holder = values
    for each in path:
        holder = holder[each]
    if change == "deleted":
        del holder[last]
    else:
        holder[last] = change
    with pytest.raises(ValueError, match=r"^values must be the result of \w+\.to_dict\(\), whole and unchanged \("):
        type(original).from_dict(values)


def test_the_examples_of_the_module_are_true() -> None:
    assert doctest.testmod(room).attempted > 0
    assert doctest.testmod(room).failed == 0


def test_values_that_json_cannot_hold_are_null(shown: tuple[Any, Any]) -> None:
    score = next(iter(shown[0].scores.values()))._replace(low=math.nan, high=math.inf)
    expected = {**score._asdict(), "low": None, "high": None}
    assert room.without_nan({"a": [score], "b": (math.nan, "text", 1, None)}) == {
        "a": [expected],
        "b": [None, "text", 1, None],
    }


def changed(values: dict[str, Any], **figures: float) -> dict[str, Any]:
    """The same values with other figures of the first pair."""
    first, *others = values["pairs"]
    return {**values, "pairs": [{**first, **figures}, *others]}


@pytest.mark.parametrize("figure", ["low", "high", "standard_error", "p_t", "permutations", "min_detectable"])
def test_no_figure_of_a_pair_may_be_a_little_off(shown: tuple[Any, Any], figure: str) -> None:
    comparison = shown[1]
    values = changed(comparison.to_dict(), **{figure: getattr(comparison.pairs[0], figure) * 2})
    with pytest.raises(ValueError, match=f"pairs: .*{figure}: must be .*, by the values of the queries; got "):
        type(comparison).from_dict(values)


@pytest.mark.parametrize(("errors", "accepted"), [(-7, False), (-5, True), (5, True), (7, False)])
def test_a_sampled_p_value_may_be_off_by_six_standard_errors(
    shown: tuple[Any, Any], errors: int, accepted: bool
) -> None:
    comparison = shown[1]
    one = max(comparison.pairs, key=lambda pair: pair.p_error)
    moved = one._replace(p=one.p + errors * one.p_error)
    pairs = comparison.testing.corrected([moved if pair == one else pair for pair in comparison.pairs])
    values = {**comparison.to_dict(), "pairs": [pair._asdict() for pair in pairs]}
    if accepted:
        assert type(comparison).from_dict(values).pairs == tuple(pairs)
    else:
        with pytest.raises(ValueError, match=r"pairs: .*: p: must be .*, by the values of the queries; got "):
            type(comparison).from_dict(values)


@pytest.mark.parametrize(
    "figures", [{"low": 0.99}, {"high": -0.99}, {"wins": 61}, {"wins": 20, "ties": 20, "losses": 21}]
)
def test_with_weights_a_pair_must_lie_in_its_interval_and_among_the_queries(
    ndcg: evaluate.Metric, figures: dict[str, float]
) -> None:
    systems = {name: SYSTEMS[name] for name in ("bm25", "dense")}
    comparison = ndcg.compare(systems=systems, references=RELEVANCE, sample_weight=[1, 2] * 30)
    values = comparison.to_dict()
    assert type(comparison).from_dict(values) == comparison
    with pytest.raises(ValueError, match="pairs: bm25 - dense, nDCG: does not follow from the values of the queries"):
        type(comparison).from_dict(changed(values, **figures))
