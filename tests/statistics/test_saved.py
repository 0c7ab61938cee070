"""Results saved as JSON are read back whole: figures are computed again from the values of the queries."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluate import Metric
from systems import RELEVANCE, SYSTEMS
from systems import shown as shown

from ndcg.statistics import saved as room


def test_a_saved_result_is_read_back_whole(ndcg: Metric, shown: tuple[Any, Any]) -> None:
    for original, kind in zip(shown, (ndcg.Report, ndcg.Comparison), strict=True):
        again = kind.from_dict(json.loads(json.dumps(original.to_dict(), allow_nan=False)))
        assert again == original
        assert str(again) == str(original)
        assert again.queries.schema == original.queries.schema
    assert {type(pair).__name__ for pair in shown[1].pairs} == {"Pair"}
    assert {type(score).__name__ for score in shown[0].scores.values()} == {"Score"}


SAVED = {
    (path.stem, name): values
    for path in sorted((Path(__file__).parent / "saved").glob("*.json"))
    for name, values in json.loads(path.read_text()).items()
}


@pytest.mark.parametrize(("version", "name"), SAVED)
def test_results_of_earlier_versions_are_read(ndcg: Metric, version: str, name: str) -> None:
    values = SAVED[version, name]
    kind = ndcg.Report if name.startswith("report") else ndcg.Comparison
    found = kind.from_dict(values)
    assert kind.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert found.signature == values["signature"]
    again = found.to_dict()
    figures = ["value"] if version == "1.0.0" and "weighted" not in name else ["value", "low", "high", "tied"]
    for one, other in zip(means(again), means(values), strict=True):
        assert [one[each] for each in figures] == pytest.approx([other[each] for each in figures], rel=1e-12)
    tests = ["difference", "p", "p_holm", "p_t"]
    for one, other in zip(again.get("pairs", []), values.get("pairs", []), strict=True):
        assert [one[each] for each in tests] == pytest.approx([other[each] for each in tests], rel=1e-12)
    assert len(again.get("slices", [])) == len(values.get("slices", [])) == 2 * ("slices" in name)


def means(values: dict[str, Any]) -> list[dict[str, Any]]:
    """All scores of a result, also of its slices."""
    parts = [values, *values.get("slices", [])]
    scores = [part["scores"].values() for part in parts]
    if "pairs" in values:
        scores = [system.values() for systems in scores for system in systems]
    return [score for of_part in scores for score in of_part]


@pytest.mark.parametrize("slices", [None, ["a", "b", None] * 20])
def test_weights_are_saved(ndcg: Metric, slices: list[str | None] | None) -> None:
    weights = [1, 2, 0.5, 0] * 15
    how: dict[str, Any] = {"references": RELEVANCE, "sample_weight": weights, "by": slices, "k": 3}
    for found in (ndcg.report(predictions=SYSTEMS["bm25"], **how), ndcg.compare(systems=SYSTEMS, **how)):
        again = type(found).from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
        assert again == found
        scaled = np.array(found.queries["weight"][: len(weights)].to_pylist())
        assert (scaled * weights[0] == scaled[0] * np.array(weights)).all()


@pytest.mark.parametrize("kind", ["Report", "Comparison"])
@pytest.mark.parametrize("lacking", ["scores", "queries", "resampling", "notes"])
def test_values_of_no_report_are_rejected(ndcg: Metric, kind: str, lacking: str) -> None:
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


@pytest.mark.parametrize("entry", ["scores", "pairs", "slices"])
def test_figures_are_computed_from_the_values_of_the_queries(ndcg: Metric, entry: str) -> None:
    """A file in which somebody has changed a figure gives the figures of its queries."""
    slices = ["a", "b"] * 30
    found = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, by=slices)
    figures = re.compile(r'"(value|low|high|standard_error|difference|p\w*|wins|min_detectable)": -?[0-9][^,}]*')
    changed = json.loads(figures.sub(r'"\1": 0.125', json.dumps(found.to_dict()[entry])))
    assert changed != found.to_dict()[entry]
    assert ndcg.Comparison.from_dict({**found.to_dict(), entry: changed}) == found
    report = ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE, by=slices)
    values = report.to_dict()
    if entry in values:
        values[entry] = json.loads(figures.sub(r'"\1": 0.125', json.dumps(values[entry])))
        assert ndcg.Report.from_dict({**values, "counts": {**values["counts"], "left_out": 7}}) == report


ENTRIES: dict[str, tuple[Any, ...]] = {
    "report: a value": ("queries", "nDCG@3", 7),
    "report: a measure": ("queries", "nDCG@3"),
    "report: a figure of ties": ("scores", "nDCG@3", "tied"),
    "report: a count": ("counts", "nothing_relevant"),
    "report: the ids": ("queries", "query"),
    "report: the confidence": ("resampling", "confidence"),
    "report: the notes": ("notes",),
    "report: the signature": ("signature",),
    "comparison: a value": ("queries", "DCG@10", 7),
    "comparison: the queries of a system": ("queries", "query", 7),
    "comparison: a figure of ties": ("scores", "dense", "nDCG@3", "worst"),
    "comparison: a system": ("queries", "system", 7),
    "comparison: the hypothesis": ("testing", "alternative"),
}


@pytest.mark.parametrize("change", ["abc", 10**400, {}, True], ids=["text", "a huge number", "a dict", "a boolean"])
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


def test_values_that_json_cannot_hold_are_null(shown: tuple[Any, Any]) -> None:
    score = next(iter(shown[0].scores.values()))._replace(low=math.nan, high=math.inf)
    expected = {**score._asdict(), "low": None, "high": None}
    assert room.without_nan({"a": [score], "b": (math.nan, "text", 1, None)}) == {
        "a": [expected],
        "b": [None, "text", 1, None],
    }
