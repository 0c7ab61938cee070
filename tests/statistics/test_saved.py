"""Results saved as JSON are read back whole: figures are computed again from the values of the queries."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest
from evaluate import Metric
from systems import RELEVANCE, SYSTEMS
from systems import shown as shown

from ndcg.show import json_types as room


def test_a_saved_result_is_read_back_whole(ndcg: Metric, shown: tuple[Any, Any]) -> None:
    for original, kind in zip(shown, (ndcg.Report, ndcg.Comparison), strict=True):
        again = kind.from_dict(json.loads(json.dumps(original.to_dict(), allow_nan=False)))
        assert again == original
        assert str(again) == str(original)
        assert again.queries.schema == original.queries.schema
        assert [type(each).__name__ for each in (shown[1].pairs[0], shown[0].scores["nDCG@3"])] == ["Pair", "Score"]


@pytest.mark.parametrize("slices", [None, ["a", "b", None] * 20])
def test_weights_are_saved(ndcg: Metric, slices: list[str | None] | None) -> None:
    weights = [1, 2, 0.5, 0] * 15
    how: dict[str, Any] = {"references": RELEVANCE, "sample_weight": weights, "by": slices, "k": 3}
    for found in (ndcg.report(predictions=SYSTEMS["bm25"], **how), ndcg.compare(systems=SYSTEMS, **how)):
        again = type(found).from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
        assert again == found
        scaled = np.array(found.queries["weight"][: len(weights)].to_pylist())
        assert (scaled * weights[0] == scaled[0] * np.array(weights)).all()


@pytest.mark.parametrize("lacking", ["signature", "queries", "resampling", "notes"])
def test_values_of_no_report_are_rejected(shown: tuple[Any, Any], lacking: str) -> None:
    for original in shown:
        whole = original.to_dict()
        kind = type(original).__name__
        message = rf"^values must be the result of {kind}\.to_dict\(\), whole and unchanged \("
        rest = {name: each for name, each in whole.items() if name != lacking}
        for values in ({}, None, {**whole, lacking: 7}, rest):
            with pytest.raises(ValueError, match=message):
                type(original).from_dict(values)


@pytest.mark.parametrize("entry", ["scores", "pairs", "slices"])
def test_a_figure_that_somebody_has_changed_is_computed_again_from_the_queries(ndcg: Metric, entry: str) -> None:
    how: dict[str, Any] = {"references": RELEVANCE, "by": ["a", "b"] * 30}
    figures = re.compile(r'"(value|low|high|standard_error|difference|p\w*|wins|min_detectable)": -?[0-9][^,}]*')
    for found in (ndcg.compare(systems=SYSTEMS, **how), ndcg.report(predictions=SYSTEMS["bm25"], **how)):
        values = found.to_dict()
        values |= {"counts": {**values["counts"], "left_out": 7}} if "counts" in values else {}
        changed = json.loads(figures.sub(r'"\1": 0.125', json.dumps(values.get(entry))))
        assert changed is None or changed != values[entry]
        assert type(found).from_dict({**values, entry: changed} if changed else values) == found


ENTRIES: dict[str, tuple[Any, ...]] = {
    "report: a value": ("queries", "nDCG@3", 7),
    "report: a measure": ("queries", "nDCG@3"),
    "report: a count": ("counts", "nothing_relevant"),
    "report: the ids": ("queries", "query"),
    "report: the confidence": ("resampling", "confidence"),
    "report: the notes": ("notes",),
    "report: the signature": ("signature",),
    "comparison: a value": ("queries", "DCG@10", 7),
    "comparison: the ids": ("queries", "query"),
    "comparison: a system": ("queries", "system", 7),
    "comparison: a mean in the worst order": ("scores", "dense", "DCG@10", "worst"),
    "comparison: a number of documents": ("scores", "dense", "DCG@10", "ranked"),
    "comparison: the hypothesis": ("testing", "alternative"),
}


@pytest.mark.parametrize("change", ["abc", 10**400, True], ids=["text", "a huge number", "a boolean"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_of_another_type_or_range_are_rejected(shown: tuple[Any, Any], entry: str, change: Any) -> None:
    original = shown[entry.startswith("comparison")]
    values = json.loads(json.dumps(original.to_dict()))
    *path, last = ENTRIES[entry]
    holder = values
    for each in path:
        holder = holder[each]
    holder[last] = change
    with pytest.raises(ValueError, match=r"^values must be the result of \w+\.to_dict\(\), whole and unchanged \("):
        type(original).from_dict(values)


VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "a negative weight": ({"weight": [1.0, -1.0, 1.0]}, "weight: must be a number that is not negative; got -1.0"),
    "no weight": ({"weight": [1.0, None, 1.0]}, "weight: must be a number that is not negative; got None"),
    "an nDCG above 1": ({"nDCG": [1.0, 1.7, 0.5]}, "nDCG: query 'b': must be from 0 to 1; got 1.7"),
    "a worst nDCG below 0": ({"worst nDCG": [1.0, 0.5, -1.0]}, "worst nDCG: query 'c': must be from 0 to 1; got -1.0"),
    "a query twice": ({"query": ["a", "b", "a"]}, "query 'a' is given 2 times"),
    "weights of 0": ({"weight": [0.0, 0.0, 0.0]}, "weight: is 0 for every query"),
}


@pytest.mark.parametrize(("change", "problem"), VALUES.values(), ids=VALUES)
def test_values_that_no_report_has_are_rejected_by_name(ndcg: Metric, change: dict[str, Any], problem: str) -> None:
    side = {query: {"x": 1.0} for query in "abc"}
    report = ndcg.report(predictions=side, references=side, sample_weight=[1, 2, 1])
    values = report.to_dict()
    assert ndcg.Report.from_dict(values) == report
    with pytest.raises(ValueError, match=rf"queries: {re.escape(problem)}\)$"):
        ndcg.Report.from_dict({**values, "queries": {**values["queries"], **change}})
    comparison = ndcg.compare_reports({"one": report, "other": report}).to_dict()
    for name, changed in change.items():
        if name in comparison["queries"]:
            queries = {**comparison["queries"], name: [*comparison["queries"][name][:3], *changed]}
            with pytest.raises(ValueError, match=r"queries: "):
                ndcg.Comparison.from_dict({**comparison, "queries": queries})


@pytest.mark.parametrize(
    "options",
    [{"negative_relevance": "keep"}, {"gain": [-1, 1]}, {"zero_division": 1.7}],
    ids=["negative relevances", "negative gains", "zero_division"],
)
def test_an_ndcg_may_be_outside_0_to_1_where_options_say_so(ndcg: Metric, options: dict[str, Any]) -> None:
    relevance = [[-1, 1], [1, 0]] if "negative_relevance" in options else [[0, 0], [1, 0]]
    report = ndcg.report(predictions=[[2, 1], [1, 2]], references=relevance, **options)
    values = report.queries["nDCG"].to_pylist()
    assert min(values) < 0 or max(values) > 1
    assert ndcg.Report.from_dict(report.to_dict()) == report


@pytest.mark.parametrize("version", ["1.0.0", "1.2.0"])
def test_results_of_1_are_not_read_and_their_version_is_named(shown: tuple[Any, Any], version: str) -> None:
    for original in shown:
        values = original.to_dict()
        signature = f"{values['signature'].partition('|v:')[0]}|v:{version}"
        with pytest.raises(ValueError, match=rf"^values were saved by version {version}; .* score the rankings again$"):
            type(original).from_dict({**values, "signature": signature})


def test_the_queries_of_a_comparison_have_a_row_for_each_system_and_query(ndcg: Metric) -> None:
    systems = {"a": [[3, 2, 1], [2, 2, 1]], "b": [[1, 2, 3], [1, 2, 3]]}
    found = ndcg.compare(systems=systems, references=[[2, 1, 0], [1, 0, 0]], k=3, by=["x", None])
    values = [
        ndcg.report(predictions=each, references=[[2, 1, 0], [1, 0, 0]], k=3).queries for each in systems.values()
    ]
    assert found.to_dict()["queries"] == found.queries.to_pydict()
    assert found.queries.to_pydict() == {
        "system": ["a", "a", "b", "b"],
        "query": [0, 1] * 2,
        "slice": ["x", None] * 2,
        "nDCG@3": [value for each in values for value in each["nDCG@3"].to_pylist()],
    }


def test_values_that_json_cannot_hold_are_null(shown: tuple[Any, Any]) -> None:
    score = next(iter(shown[0].scores.values()))._replace(low=math.nan, high=math.inf)
    expected = {**score._asdict(), "low": None, "high": None}
    assert room.without_nan({"a": [score], "b": (math.nan, "text", 1, None)}) == {
        "a": [expected],
        "b": [None, "text", 1, None],
    }
