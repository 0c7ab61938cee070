"""A report has the scores of `compute` with intervals, and says how many queries they are of."""

import itertools
import json
import math
import subprocess
import sys
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import scipy.stats
from conftest import ROOT, MetricFactory, lean_environment
from evaluate import Metric
from refusals import refusal
from systems import PREDICTIONS, REFERENCES, RELEVANCE, SEVERAL, SMALL, SYSTEMS

from ndcg.statistics.significance import Sample, intervals


def test_a_report_has_the_scores_of_compute_and_intervals_of_the_values_of_the_queries(
    ndcg: Metric,
) -> None:
    inputs = {
        "predictions": SYSTEMS["bm25"],
        "references": RELEVANCE,
        **SEVERAL,
        "gain": [0, 1, 4, 9],
    }
    weight = np.arange(60) % 7
    report = ndcg.report(**inputs, sample_weight=weight, confidence=0.9)
    by_query = ndcg.compute(**inputs, use_aggregator=False)
    assert {name: score.value for name, score in report.scores.items()} == ndcg.compute(
        **inputs, sample_weight=weight
    )
    assert report.queries.to_pydict().items() >= by_query.items()
    assert report.signature == ndcg.signature(**SEVERAL, gain=[0, 1, 4, 9], sample_weight=weight)
    assert report.resampling.confidence == 0.9
    for (name, values), score in zip(by_query.items(), report.scores.values(), strict=True):
        greatest = 1 if name.startswith("nDCG") else math.inf
        (expected,) = intervals(
            Sample.of(np.array([values]), weight), greatest=greatest, confidence=0.9
        )
        assert (score.low, score.high, score.standard_error) == expected[1:4]


def test_queries_without_any_value_have_no_report(ndcg: Metric) -> None:
    for measures in ("nDCG", ["DCG", "nDCG"]):
        with refusal("nDCG"):
            ndcg.report(
                predictions=[[1, 2], [2, 1]],
                references=[[0, 0]] * 2,
                zero_division=math.nan,
                measures=measures,
            )


def test_weights_may_differ_a_lot_but_not_beyond_all_digits(ndcg: Metric) -> None:
    inputs = {"predictions": [[1, 2], [2, 1], [1, 2]], "references": [[0, 0], [1, 3], [1, 3]]}
    score = ndcg.report(**inputs, sample_weight=[1, 1e-11, 1e-11]).scores["nDCG"]
    of_one = scipy.stats.binomtest(0, 1).proportion_ci(method="wilson")
    assert (score.low, score.high) == pytest.approx((of_one.low, of_one.high), abs=0.01)
    for weight in ([1, 1e-17, 1e-17], [1, 1.3e-15, 1], [1e-320, 1e-320, 1]):
        with refusal("sample_weight"):
            ndcg.report(**inputs, sample_weight=weight)


def test_a_report_has_no_option_of_a_test(ndcg: Metric) -> None:
    for name in ("alternative", "seed"):
        with refusal(f"report has no option {name}"):
            ndcg.report(**SMALL, **{name: 7})


def test_batches_that_were_added_are_reported_on(fresh_metric: MetricFactory, ndcg: Metric) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    metric.add_batch(predictions=PREDICTIONS[2:], references=REFERENCES[2:])
    wrong = {"confidence": 95, "sample_weight": [1, 2], "query_ids": [7, 7, 7, 7]}
    for name, value in wrong.items():
        with refusal(name):
            metric.report(**{name: value})
    assert len(metric) == 4
    assert metric.report(k=[1, 2]) == ndcg.report(**SMALL, k=[1, 2])
    assert len(metric) == 0
    with refusal("there is nothing to score"):
        metric.report()


def test_any_number_of_threads_gives_the_same_report() -> None:
    script = """
        import json
        import numpy as np
        from ndcg import compare, report
        rng = np.random.default_rng(0)
        relevance = rng.integers(0, 3, (20_011, 10))
        noise = {name: rng.normal(0, 1, relevance.shape) for name in "ab"}
        systems = {name: np.round(relevance + noise[name], 1) for name in "ab"}
        alone = report(predictions=systems["a"], references=relevance, k=[5, 10])
        both = compare(systems=systems, references=relevance, k=[5, 10])
        print(json.dumps([alone.to_dict(), both.to_dict()]))
    """
    printed = []
    for threads in "13":
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = lean_environment(**dict.fromkeys(names, threads))
        command = [sys.executable, "-c", dedent(script)]
        found = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        printed.append(found.stdout)
    assert json.loads(printed[0])[0]["counts"]["queries"] == 20_011
    assert printed[0] == printed[1]


NOT_A_NUMBER = (math.nan, True, "0.95", None, -1)


@pytest.mark.parametrize(
    ("functions", "name", "values"),
    [
        (
            "compare compare_reports report",
            "confidence",
            (*NOT_A_NUMBER, 0, 1),
        ),
        (
            "compare compare_reports",
            "margin",
            (*NOT_A_NUMBER, math.inf, 10**400),
        ),
        ("compare compare_reports", "seed", (*NOT_A_NUMBER, 2.5)),
        ("compare report", "k", (0,)),
        ("compare report", "convention", ("trec",)),
        ("compare report", "sample_weight", ([1],)),
    ],
)
def test_a_value_that_makes_no_sense_is_rejected_by_every_function(
    ndcg: Metric, functions: str, name: str, values: tuple[Any, ...]
) -> None:
    inputs: dict[str, Any] = {
        "compare": {"systems": SYSTEMS, "references": RELEVANCE},
        "report": {"predictions": SYSTEMS["bm25"], "references": RELEVANCE},
    }
    inputs["compare_reports"] = {"reports": dict.fromkeys("ab", ndcg.report(**inputs["report"]))}
    for function, value in itertools.product(functions.split(), values):
        with refusal(name):
            getattr(ndcg, function)(**inputs[function], **{name: value})


@pytest.mark.parametrize(
    ("references", "options", "queries"),
    [
        ([[2, 0, 1]], {}, "1"),
        ([[2, 0, 1], [0, 0]], {"zero_division": math.nan}, "1 of 2"),
        ([[2, 0, 1], [0, 1]], {"sample_weight": [1, 0]}, "1 of 2"),
    ],
    ids=["alone", "the other has no value", "the other has no weight"],
)
def test_one_query_has_a_score_without_an_interval(
    ndcg: Metric, references: list[list[int]], options: dict[str, Any], queries: str
) -> None:
    ranked = [[3, 3, 1], [1, 2]][: len(references)]
    report = ndcg.report(predictions=ranked, references=references, **options)
    score = report.scores["nDCG"]
    assert score.value == ndcg.compute(predictions=ranked, references=references, **options)["nDCG"]
    assert (score.queries, report.counts["left_out"]) == (1, len(ranked) - 1)
    assert all(map(math.isnan, (score.low, score.high, score.standard_error)))
    assert any(note.startswith("Few queries (1): below 10, ") for note in report.notes)
    assert report.tables()[0][1][:4] == ["nDCG", queries, f"{score.value:.4f}", "–"]
    assert (
        ndcg.Report.from_dict(json.loads(json.dumps(report.to_dict()))).to_dict()
        == report.to_dict()
    )
    with refusal("a comparison"):
        ndcg.compare(systems={"a": ranked, "b": ranked}, references=references, **options)


LEFT_OUT: dict[str, Any] = {
    "predictions": {"q1": {"a": 2, "b": 1}, "q2": {"a": 1, "b": 2}, "q3": {"a": 1}},
    "references": {
        "q1": {"a": 1, "b": 0},
        "q2": {"a": 1, "b": 0},
        "q3": {"a": 0},
        "q4": {"a": 1},
        "q5": {"a": 0},
    },
}
BY = {"q1": "de", "q2": "de", "q3": "en", "q4": "en", "q5": "en"}
EXCLUDED = "Excluded from a mean: {} of 5 queries, {}."
NOTHING_RELEVANT = EXCLUDED.format(2, "with no relevant documents")
NOT_IN_THE_RUN = EXCLUDED.format(2, "missing from the run")


@pytest.mark.parametrize(
    ("options", "counted", "notes"),
    [
        ({}, 5, []),
        ({"zero_division": math.nan}, 3, [NOTHING_RELEVANT]),
        ({"missing": "skip"}, 3, [NOT_IN_THE_RUN]),
        (
            {"missing": "skip", "zero_division": math.nan},
            2,
            [NOT_IN_THE_RUN, EXCLUDED.format(1, "with no relevant documents")],
        ),
        (
            {"sample_weight": [1, 1, 1, 0, 0]},
            3,
            [EXCLUDED.format(2, "with a weight of 0")],
        ),
        (
            {"zero_division": math.nan, "ideal": "retrieved"},
            2,
            [NOTHING_RELEVANT, EXCLUDED.format(1, "with an ideal DCG of 0 or less")],
        ),
    ],
    ids=str,
)
def test_a_mean_says_of_how_many_queries_it_is_and_notes_count_the_others(
    ndcg: Metric, options: dict[str, Any], counted: int, notes: list[str]
) -> None:
    report = ndcg.report(**LEFT_OUT, by=BY, **options)
    score = report.scores["nDCG"]
    assert score.queries == counted
    assert report.counts["left_out"] == 5 - counted
    text = {5: "5"}.get(counted, f"{counted} of 5")
    assert [row[:2] for row in report.tables()[0]] == [["measure", "queries"], ["nDCG", text]]
    of_slices = {name: part.scores["nDCG"].queries for name, part in report.slices.items()}
    assert of_slices == {"de": 2, "en": counted - 2}
    assert [note for note in report.notes if "Excluded from a mean" in note] == notes
    assert ndcg.Report.from_dict(report.to_dict()) == report


def test_a_relevant_document_counts_although_negative_gains_outweigh_it(ndcg: Metric) -> None:
    report = ndcg.report(
        predictions=[[3, 2, 1]] * 5,
        references=[[3, -2, -4]] * 3 + [[1, 0, 0], [0, -1, 0]],
        negative_relevance="keep",
        zero_division=math.nan,
    )
    assert [note for note in report.notes if "Excluded from a mean" in note] == [
        EXCLUDED.format(1, "with no relevant documents"),
        EXCLUDED.format(3, "with an ideal DCG of 0 or less"),
    ]
    assert report.counts["nothing_relevant"] == 1


def test_a_comparison_has_the_number_of_values_next_to_each_mean(ndcg: Metric) -> None:
    run = LEFT_OUT["predictions"]
    systems = {"a": {**run, "q4": {"a": 1}}, "b": {query: run[query] for query in ("q1", "q2")}}
    found = ndcg.compare(
        systems=systems, references=LEFT_OUT["references"], missing="skip", by={**BY, "q3": "de"}
    )
    assert [score["nDCG"].queries for score in found.scores.values()] == [2, 2]
    assert [row[:2] for row in found.tables()[0][1:]] == [["a  a", "2 of 5"], ["b  b", "2 of 5"]]
    assert found.tables()[3][1][:2] == ["de", "2 of 3"]
    assert found.pairs[0].queries == 2
    assert EXCLUDED.format(3, "missing from the run") in found.notes
    assert (
        ndcg.Comparison.from_dict(json.loads(json.dumps(found.to_dict()))).to_dict()
        == found.to_dict()
    )


def test_the_lowest_queries_come_first_without_those_that_no_ranking_could_improve(
    ndcg: Metric,
) -> None:
    report = ndcg.report(**SMALL, k=[1, 2])
    found = report.lowest(2)
    assert found.column_names == ["query", "nDCG@1", "retrieved", "judged", "relevant"]
    assert found["query"].to_pylist() == [3, 0]  # query 1 has no relevant documents
    values = dict(
        zip(report.queries["query"].to_pylist(), report.queries["nDCG@2"].to_pylist(), strict=True)
    )
    assert report.lowest(None, "nDCG@2")["query"].to_pylist() == sorted(
        (0, 2, 3), key=values.__getitem__
    )
    with refusal("measure"):
        report.lowest(measure="nDCG@5")
    with refusal("n"):
        report.lowest(-1)
