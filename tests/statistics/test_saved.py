"""Results saved as JSON are read back whole; what 2.x saved is computed again from its queries."""

import json
import math
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluate import Metric
from refusals import refusal
from systems import RELEVANCE, SYSTEMS
from systems import shown as shown

from ndcg.show import json_types as room


def saved(result: Any, version: str = "3.0.0") -> dict[str, Any]:
    """A result as JSON holds it, saved by a version."""
    values: dict[str, Any] = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    return {**values, "signature": re.sub(r"v:[\d.]+", f"v:{version}", values["signature"])}


VERSIONS = ["2.1.0", "3.0.0"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", range(8))
def test_any_result_is_read_back_whole(ndcg: Metric, version: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, documents = int(rng.integers(2, 30)), int(rng.integers(2, 6))
    systems = {
        name: np.round(rng.normal(size=(queries, documents)), 1)
        for name in "abc"[: rng.integers(2, 4)]
    }
    how: dict[str, Any] = {
        "references": rng.integers(0, 3, (queries, documents)),
        "k": [2, [1, 3], None][seed % 3],
        "measures": ["nDCG", ["nDCG", "DCG"]][seed % 2],
        "sample_weight": [None, 1 + np.arange(queries) % 3][seed // 2 % 2],
        "by": [None, (np.arange(queries) % 4).tolist(), ["de", None] * queries][seed % 3],
        "zero_division": [0.0, math.nan][seed // 4],
        "confidence": [0.95, 0.8][seed % 2],
    }
    how["by"] = how["by"] and how["by"][:queries]
    found = [ndcg.report(predictions=systems["a"], **how)]
    found.append(ndcg.compare(systems=systems, baseline=[None, "b"][seed % 2], **how))
    if how["sample_weight"] is None:
        other = ndcg.report(predictions=systems["b"], **how)
        found.append(
            ndcg.compare_reports(
                {"a": found[0], "b": other}, paired=False, margin=0.1, alternative="less"
            )
        )
    for result in found:
        again = type(result).from_dict(saved(result, version))
        assert replace(again, signature=result.signature) == result


OF_2 = json.loads((Path(__file__).parent / "saved_by_2.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("version", OF_2)
def test_what_2_saved_is_computed_again(ndcg: Metric, version: str) -> None:
    rng = random.Random(5)
    qrels = {
        f"q{at}": {f"d{place}": rng.choice([0, 0, 1, 2]) for place in range(4)} for at in range(8)
    }
    runs = {
        name: {
            query: {f"d{place}": rng.randint(0, 5) for place in range(6)}
            for query in list(qrels)[:7]
        }
        for name in ("bm25", "dense")
    }
    how: dict[str, Any] = {"references": qrels, "k": 3, "by": ["en", "de", "en", None] * 2}
    how |= {"sample_weight": [1, 2, 1, 0] * 2, "zero_division": math.nan}
    report = ndcg.Report.from_dict(OF_2[version]["report"])
    comparison = ndcg.Comparison.from_dict(OF_2[version]["comparison"])
    expected = ndcg.report(predictions=runs["bm25"], **how), ndcg.compare(systems=runs, **how)
    for found, computed in zip((report, comparison), expected, strict=True):
        assert f"|v:{version}|" in found.signature
        assert replace(found, signature=computed.signature, notes=computed.notes) == computed


def test_a_saved_result_is_read_back_whole(ndcg: Metric, shown: tuple[Any, Any]) -> None:
    for original, kind in zip(shown, (ndcg.Report, ndcg.Comparison), strict=True):
        again = kind.from_dict(json.loads(json.dumps(original.to_dict(), allow_nan=False)))
        assert again == original
        assert str(again) == str(original)
        assert again.queries.schema == original.queries.schema
        assert [type(each).__name__ for each in (shown[1].pairs[0], shown[0].scores["nDCG@3"])] == [
            "Pair",
            "Score",
        ]


@pytest.mark.parametrize("slices", [None, ["a", "b", None] * 20])
def test_weights_are_saved(ndcg: Metric, slices: list[str | None] | None) -> None:
    weights = [1, 2, 0.5, 0] * 15
    how: dict[str, Any] = {"references": RELEVANCE, "sample_weight": weights, "by": slices, "k": 3}
    for found in (
        ndcg.report(predictions=SYSTEMS["bm25"], **how),
        ndcg.compare(systems=SYSTEMS, **how),
    ):
        again = type(found).from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
        assert again == found
        scaled = np.array(found.queries["weight"][: len(weights)].to_pylist())
        assert (scaled * weights[0] == scaled[0] * np.array(weights)).all()


@pytest.mark.parametrize("lacking", ["signature", "queries", "resampling", "notes"])
def test_values_of_no_report_are_rejected(shown: tuple[Any, Any], lacking: str) -> None:
    for original in shown:
        whole = original.to_dict()
        rest = {name: each for name, each in whole.items() if name != lacking}
        for values in ({}, None, {**whole, lacking: 7}, rest):
            with refusal("values"):
                type(original).from_dict(values)


@pytest.fixture(scope="module")
def sliced(ndcg: Metric) -> tuple[Any, Any]:
    """A report and a comparison with slices."""
    how: dict[str, Any] = {"references": RELEVANCE, "by": ["a", "b"] * 30}
    return ndcg.report(predictions=SYSTEMS["bm25"], **how), ndcg.compare(systems=SYSTEMS, **how)


@pytest.mark.parametrize("entry", ["scores", "pairs", "slices"])
def test_a_figure_that_somebody_has_changed_is_computed_again_if_2_saved_it(
    sliced: tuple[Any, Any], entry: str
) -> None:
    figures = re.compile(
        r'"(value|low|high|standard_error|difference|p\w*|wins|min_detectable)": -?[0-9][^,}]*'
    )
    for result in sliced:
        values = saved(result, "2.1.0")
        values |= {"counts": {**values["counts"], "left_out": 7}} if "counts" in values else {}
        changed = json.loads(figures.sub(r'"\1": 0.125', json.dumps(values.get(entry))))
        assert changed is None or changed != values[entry]
        read = type(result).from_dict({**values, entry: changed} if changed else values)
        assert replace(read, signature=result.signature) == result


def test_later_figures_are_believed(sliced: tuple[Any, Any]) -> None:
    report, comparison = map(saved, sliced)
    report["scores"]["nDCG"]["low"] = 0.125
    comparison["pairs"][0]["p"] = 0.125
    comparison["slices"][0]["pairs"][0]["p"] = 0.25
    read = type(sliced[0]).from_dict(report), type(sliced[1]).from_dict(comparison)
    assert (read[0].scores["nDCG"].low, read[1].pairs[0].p, read[1].slices["a"].pairs[0].p) == (
        0.125,
        0.125,
        0.25,
    )


def test_figures_that_later_versions_add_are_no_obstacle(sliced: tuple[Any, Any]) -> None:
    for result in sliced:
        values = {**saved(result), "added later": {}}
        assert replace(type(result).from_dict(values), signature=result.signature) == result


def without_rows(values: dict[str, Any], removed: Callable[[int], bool]) -> None:
    """Remove rows of queries, of each system alike."""
    columns = values["queries"]
    kept = [row for row, at in enumerate(columns["query"]) if not removed(at)]
    values["queries"] = {name: [column[row] for row in kept] for name, column in columns.items()}


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "rows are missing": (
        lambda values: without_rows(values, lambda at: at > 50),
        "rows are missing",
    ),
    "the rows of a slice are missing": (
        lambda values: without_rows(values, lambda at: at % 2 == 0),
        "rows are missing",
    ),
    "a slice that no query has": (
        lambda values: values["slices"][0].update(slice="c"),
        "slices: 'c': the number of queries is 30",
    ),
    "more queries in a slice": (
        lambda values: values["slices"][0].update(queries=31),
        "slices: 'a': the number of queries is 31",
    ),
    "fewer queries in a slice": (
        lambda values: values["slices"][0].update(queries="30"),
        "queries: must be a count",
    ),
    "no column of slices": (
        lambda values: values["queries"].pop("slice"),
        "slices: 'a': the number of queries is 30, of their rows",
    ),
    "a score that is missing": (lambda values: values["slices"][1]["scores"].clear(), "KeyError"),
}


@pytest.mark.parametrize(("change", "problem"), CHANGES.values(), ids=CHANGES)
def test_entries_that_do_not_fit_the_queries_are_rejected(
    sliced: tuple[Any, Any], change: Callable[[dict[str, Any]], Any], problem: str
) -> None:
    for result in sliced:
        values = saved(result)
        change(values)
        with pytest.raises(ValueError, match=re.escape(problem)):
            type(result).from_dict(values)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (
            "measure",
            "DCG",
            "pairs: must be those of the measures in the signature and of the systems in queries",
        ),
        (
            "system",
            "c",
            "pairs: must be those of the measures in the signature and of the systems in queries",
        ),
        ("exact", 1, "pairs: exact: must be of type bool; got 1"),
        ("wins", -1, "pairs: wins: must be a count; got -1"),
        ("low", "0.1", "pairs: low: must be a finite number, or None; got '0.1'"),
        ("p", -1, "pairs: p: must be from 0 to 1; got -1.0"),
        ("p_t_holm", 1.5, "pairs: p_t_holm: must be from 0 to 1; got 1.5"),
        ("standard_error", -0.1, "pairs: standard_error: must be from 0 to inf; got -0.1"),
    ],
)
def test_pairs_of_what_is_not_there_are_rejected(
    sliced: tuple[Any, Any], name: str, value: Any, problem: str
) -> None:
    for place in ((), ("slices", 1)):
        values = holder = saved(sliced[1])
        for step in place:
            holder = holder[step]
        holder["pairs"][0][name] = value
        with pytest.raises(ValueError, match=problem):
            type(sliced[1]).from_dict(values)


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


@pytest.mark.parametrize(
    "change", ["abc", 10**400, True], ids=["text", "a huge number", "a boolean"]
)
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("version", VERSIONS)
def test_entries_of_another_type_or_range_are_rejected(
    shown: tuple[Any, Any], version: str, entry: str, change: Any
) -> None:
    original = shown[entry.startswith("comparison")]
    values = saved(original, version)
    *path, last = ENTRIES[entry]
    holder = values
    for each in path:
        holder = holder[each]
    holder[last] = change
    with refusal("values"):
        type(original).from_dict(values)


VALUES: dict[str, dict[str, list[Any]]] = {
    "a negative weight": {"weight": [1.0, -1.0, 1.0]},
    "no weight": {"weight": [1.0, None, 1.0]},
    "an nDCG above 1": {"nDCG": [1.0, 1.7, 0.5]},
    "a query twice": {"query": ["a", "b", "a"]},
    "weights of 0": {"weight": [0.0, 0.0, 0.0]},
}


@pytest.mark.parametrize("change", VALUES.values(), ids=VALUES)
def test_values_that_no_comparison_has_are_rejected(
    ndcg: Metric, change: dict[str, list[Any]]
) -> None:
    """The table of errors has those that no report has."""
    side = {query: {"x": 1.0} for query in "abc"}
    report = ndcg.report(predictions=side, references=side, sample_weight=[1, 2, 1])
    assert ndcg.Report.from_dict(report.to_dict()) == report
    comparison = ndcg.compare_reports({"one": report, "other": report}).to_dict()
    queries = dict(comparison["queries"])
    for name, values in change.items():
        queries[name] = [*queries[name][:3], *values]
    with refusal("values"):
        ndcg.Comparison.from_dict({**comparison, "queries": queries})


@pytest.mark.parametrize(
    "options",
    [{"negative_relevance": "keep"}, {"gain": [-1, 1]}, {"zero_division": 1.7}],
    ids=["negative relevances", "negative gains", "zero_division"],
)
def test_an_ndcg_may_be_outside_0_to_1_where_options_say_so(
    ndcg: Metric, options: dict[str, Any]
) -> None:
    relevance = [[-1, 1], [1, 0]] if "negative_relevance" in options else [[0, 0], [1, 0]]
    report = ndcg.report(predictions=[[2, 1], [1, 2]], references=relevance, **options)
    values = report.queries["nDCG"].to_pylist()
    assert min(values) < 0 or max(values) > 1
    assert ndcg.Report.from_dict(report.to_dict()) == report


@pytest.mark.parametrize("version", ["1.0.0", "1.2.0", "4.0.0", "30.0", "x"])
def test_results_of_other_versions_are_not_read_and_their_version_is_named(
    shown: tuple[Any, Any], version: str
) -> None:
    for original in shown:
        values = original.to_dict()
        signature = f"{values['signature'].partition('|v:')[0]}|v:{version}"
        with refusal("values"):
            type(original).from_dict({**values, "signature": signature})


def test_the_queries_of_a_comparison_have_a_row_for_each_system_and_query(ndcg: Metric) -> None:
    systems = {"a": [[3, 2, 1], [2, 2, 1]], "b": [[1, 2, 3], [1, 2, 3]]}
    found = ndcg.compare(systems=systems, references=[[2, 1, 0], [1, 0, 0]], k=3, by=["x", None])
    values = [
        ndcg.report(predictions=each, references=[[2, 1, 0], [1, 0, 0]], k=3).queries
        for each in systems.values()
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
