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


@pytest.mark.parametrize("lacking", ["scores", "queries", "resampling", "notes"])
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
    "comparison: the queries of a system": ("queries", "query", 7),
    "comparison: a system": ("queries", "system", 7),
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


def test_values_that_json_cannot_hold_are_null(shown: tuple[Any, Any]) -> None:
    score = next(iter(shown[0].scores.values()))._replace(low=math.nan, high=math.inf)
    expected = {**score._asdict(), "low": None, "high": None}
    assert room.without_nan({"a": [score], "b": (math.nan, "text", 1, None)}) == {
        "a": [expected],
        "b": [None, "text", 1, None],
    }
