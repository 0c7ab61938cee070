"""Reports on one system, as a user gets them from the metric: every figure from its definition."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import evaluate
import numpy as np
import pytest
import scipy.stats
from conftest import ROOT, MetricFactory, lean_environment
from systems import PREDICTIONS, REFERENCES, RELEVANCE, SEVERAL, SMALL, SYSTEMS

from ndcg.statistics.significance import intervals


@pytest.mark.parametrize("options", [{}, {"convention": "lightgbm"}, {"gain": [0, 1, 4, 9], "log_base": 3}], ids=str)
def test_a_report_has_the_scores_of_compute(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, **SEVERAL, **options}
    weight = np.arange(60) % 7
    report = ndcg.report(**inputs, sample_weight=weight)
    assert {name: score.value for name, score in report.scores.items()} == ndcg.compute(**inputs, sample_weight=weight)
    by_query = ndcg.compute(**inputs, use_aggregator=False)
    for name, values in by_query.items():
        assert report.queries[name].to_pylist() == values
    assert report.signature == ndcg.signature(**SEVERAL, **options, sample_weight=weight)


def test_its_intervals_are_those_of_the_values_of_its_queries(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, **SEVERAL}
    by_query = ndcg.compute(**inputs, use_aggregator=False)
    report = ndcg.report(**inputs, confidence=0.9)
    greatest = np.array([1 if name.startswith("nDCG") else math.inf for name in by_query])
    expected = intervals(np.array(list(by_query.values())), greatest=greatest, confidence=0.9)
    assert [score.low for score in report.scores.values()] == expected.low.tolist()
    assert [score.high for score in report.scores.values()] == expected.high.tolist()
    assert [score.standard_error for score in report.scores.values()] == expected.standard_error.tolist()
    assert report.resampling.confidence == 0.9
    for score in report.scores.values():
        assert score.low < score.value < score.high


def test_twenty_perfect_queries_leave_room_for_others(ndcg: evaluate.Metric) -> None:
    score = ndcg.report(predictions=[[2, 1]] * 20, references=[[1, 0]] * 20).scores["nDCG"]
    odds = scipy.stats.norm.ppf(0.975) ** 2 / 20
    assert (score.low, score.high) == pytest.approx((1 / (1 + odds), 1))


def test_weights_may_differ_a_lot_but_not_beyond_all_digits(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": [[1, 2], [2, 1], [1, 2]], "references": [[0, 0], [1, 3], [1, 3]]}
    score = ndcg.report(**inputs, sample_weight=[1, 1e-11, 1e-11]).scores["nDCG"]
    of_one = scipy.stats.binomtest(0, 1).proportion_ci(method="wilson")
    assert (score.low, score.high) == pytest.approx((of_one.low, of_one.high), abs=0.01)
    for weight in ([1, 1e-17, 1e-17], [1, 1.3e-15, 1], [1e-320, 1e-320, 1]):
        with pytest.raises(ValueError, match=r"^sample_weight: a weight is .* of the largest, too far apart"):
            ndcg.report(**inputs, sample_weight=weight)


@pytest.mark.parametrize(
    ("name", "hint"), [("alternative", "compare has it$"), ("seed", "it has predictions, .*confidence")]
)
def test_a_report_draws_nothing_at_random(ndcg: evaluate.Metric, name: str, hint: str) -> None:
    with pytest.raises(TypeError, match=f"^report has no option {name}; {hint}"):
        ndcg.report(**SMALL, **{name: 7})
    assert ndcg.report(**SMALL) == ndcg.report(**SMALL)


def test_batches_that_were_added_are_reported_on(fresh_metric: MetricFactory, ndcg: evaluate.Metric) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    metric.add_batch(predictions=PREDICTIONS[2:], references=REFERENCES[2:])
    with pytest.raises(ValueError, match="confidence must be"):
        metric.report(confidence=95)
    with pytest.raises(ValueError, match=r"^sample_weight must hold"):
        metric.report(sample_weight=[1, 2])
    assert len(metric) == 4
    assert metric.report(k=[1, 2]) == ndcg.report(**SMALL, k=[1, 2])
    assert len(metric) == 0
    with pytest.raises(ValueError, match="nothing to score"):
        metric.report()


SCRIPT = """
import json
import datasets
import evaluate
import numpy as np
rng = np.random.default_rng(0)
relevance = rng.integers(0, 3, (30_000, 20))
systems = {name: np.round(relevance + rng.normal(0, 1, relevance.shape), 1) for name in "ab"}
ndcg = evaluate.load("ndcg.py")
report = ndcg.report(predictions=systems["a"], references=relevance, k=[5, 10])
comparison = ndcg.compare(systems=systems, references=relevance, k=[5, 10])
print(json.dumps([report.to_dict(), comparison.to_dict()]))
"""


def test_any_number_of_threads_gives_the_same_report() -> None:
    def run(threads: int) -> str:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = lean_environment(**dict.fromkeys(names, str(threads)))
        command = [sys.executable, "-c", SCRIPT]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout

    one = run(1)
    assert json.loads(one)[0]["counts"]["queries"] == 30_000
    assert one == run(3)


NO_LEVELS = (math.nan, math.inf, -math.inf, 0, 1, 95, True, "0.95", None, np.float64("nan"), np.bool_(True))

NO_AMOUNTS = (math.nan, math.inf, -1, True, "0.1", None, np.float64("nan"), 10**400)

NO_INTEGERS = (math.nan, 2.5, True, -1, "3", None, np.float64("nan"))


def refusals() -> list[tuple[str, Any, str]]:
    """Each numeric option, with values that it does not allow, and the words of the error."""
    integers = "must be an integer, at least"
    return [
        *(("confidence", value, "must be between 0 and 1, such as 0.95") for value in NO_LEVELS),
        *(("margin", value, "must be a finite number, at least 0") for value in NO_AMOUNTS),
        *(("seed", value, integers) for value in NO_INTEGERS),
    ]


@pytest.mark.parametrize(("option", "value", "problem"), refusals())
def test_every_door_rejects_values_that_are_not_numbers(
    ndcg: evaluate.Metric, option: str, value: Any, problem: str
) -> None:
    report = ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE)
    doors: list[Callable[..., Any]] = [
        partial(ndcg.compare, systems=SYSTEMS, references=RELEVANCE),
        partial(ndcg.compare_reports, {"a": report, "b": report}),
    ]
    if option == "confidence":
        doors.append(partial(ndcg.report, predictions=SYSTEMS["bm25"], references=RELEVANCE))
    for door in doors:
        with pytest.raises(ValueError, match=f"^{option} {problem}"):
            door(**{option: value})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 95}, r"^confidence must be between 0 and 1, such as 0.95; got 95"),
        ({"confidence": 0}, "^confidence must be"),
        ({"confidence": 1.0}, "^confidence must be"),
        ({"confidence": "95%"}, "^confidence must be"),
        ({"confidence": True}, "^confidence must be"),
        ({"k": 0}, "^k must be"),
        ({"convention": "trec"}, 'convention must be .* did you mean "trec_eval"'),
        ({"sample_weight": [1]}, "^sample_weight must hold one weight for each of 60 queries"),
    ],
    ids=str,
)
def test_an_option_that_makes_no_sense_is_rejected(
    ndcg: evaluate.Metric, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE, **options)
    with pytest.raises(ValueError, match=message):
        ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **options)


@pytest.mark.parametrize(
    ("queries", "options"),
    [
        ((PREDICTIONS[:1], REFERENCES[:1]), {}),
        (([[1, 2], [1]], [[1, 0], [0]]), {"zero_division": math.nan}),
        (([[1, 2], [1, 2]], [[1, 0], [0, 1]]), {"sample_weight": [1, 0]}),
    ],
    ids=["alone", "the other has no value", "the other has no weight"],
)
def test_one_query_has_a_score_without_an_interval(
    ndcg: evaluate.Metric, queries: tuple[Any, Any], options: dict[str, Any]
) -> None:
    inputs = {"predictions": queries[0], "references": queries[1], **options}
    report = ndcg.report(**inputs)
    score = report.scores["nDCG"]
    assert score.value == ndcg.compute(**inputs)["nDCG"]
    assert (score.queries, score.left_out(len(queries[0]))) == (1, len(queries[0]) - 1)
    assert all(map(math.isnan, (score.low, score.high, score.standard_error)))
    assert "A single query says nothing about others: its score has no interval." in report.notes
    assert report.tables()[0][1][:4] == ["nDCG", score.cells("", queries=len(queries[0]))["queries"],
                                         f"{score.value:.4f}", "–"]  # fmt: skip
    assert ndcg.Report.from_dict(json.loads(json.dumps(report.to_dict()))).to_dict() == report.to_dict()
    with pytest.raises(ValueError, match=r"^a comparison needs at least two queries .* got 1; report gives the score"):
        ndcg.compare(systems={"a": queries[0], "b": queries[0]}, references=queries[1], **options)


def test_no_query_has_no_report(ndcg: evaluate.Metric) -> None:
    for measures in ("nDCG", ["DCG", "nDCG"]):
        with pytest.raises(ValueError, match=r"^nDCG: no query of positive weight has a value: zero_division=nan"):
            ndcg.report(predictions=[[1], [2]], references=[[0], [0]], zero_division=math.nan, measures=measures)


LEFT_OUT: dict[str, Any] = {
    "predictions": {"q1": {"a": 2, "b": 1}, "q2": {"a": 1, "b": 2}, "q3": {"a": 1}},
    "references": {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0}, "q4": {"a": 1}, "q5": {"a": 0}},
}


@pytest.mark.parametrize(
    ("options", "counted", "notes"),
    [
        ({}, 5, []),
        ({"zero_division": math.nan}, 3, ["2 of 5 queries have no relevant documents and are excluded from the mean."]),
        ({"missing": "skip"}, 3, ["2 of 5 judged queries are missing from the run and excluded from the mean."]),
        (
            {"missing": "skip", "zero_division": math.nan},
            2,
            [
                "2 of 5 judged queries are missing from the run and excluded from the mean.",
                "1 of 5 queries has no relevant documents and is excluded from the mean.",
            ],
        ),
        (
            {"convention": "pytrec_eval"},
            3,
            ["2 of 5 judged queries are missing from the run and excluded from the mean."],
        ),
        ({"sample_weight": [1, 1, 1, 0, 0]}, 3, ["2 of 5 queries have a weight of 0 and are excluded from the mean."]),
        (
            {"zero_division": math.nan, "ideal": "retrieved"},
            2,
            [
                "2 of 5 queries have no relevant documents and are excluded from the mean.",
                "1 of 5 queries has an ideal DCG of 0 and is excluded from the mean.",
            ],
        ),
    ],
    ids=str,
)
def test_a_mean_has_the_number_of_its_values_next_to_it_and_notes_count_the_queries_left_out(
    ndcg: evaluate.Metric, options: dict[str, Any], counted: int, notes: list[str]
) -> None:
    by = {"q1": "de", "q2": "de", "q3": "en", "q4": "en", "q5": "en"}
    report = ndcg.report(**LEFT_OUT, by=by, **options)
    values = ndcg.compute(**LEFT_OUT, use_aggregator=False, **{**options, "sample_weight": None})["nDCG"]
    weight = options.get("sample_weight", [1] * 5)
    assert sum(not math.isnan(value) and w > 0 for value, w in zip(values, weight, strict=True)) == counted
    score = report.scores["nDCG"]
    assert (score.queries, score.left_out(5)) == (counted, 5 - counted)
    text = "5" if counted == 5 else f"{counted} of 5"
    assert [row[:2] for row in report.tables()[0]] == [["measure", "queries"], ["nDCG", text]]
    in_slices = {value: each.scores["nDCG"].queries for value, each in report.slices.items()}
    assert in_slices["de"] == 2
    assert sum(in_slices.values()) == counted
    assert [note for note in report.notes if "excluded from the mean" in note] == notes
    assert ndcg.Report.from_dict(report.to_dict()) == report


def test_measures_over_other_queries_have_counts_of_their_own(ndcg: evaluate.Metric) -> None:
    by = {"q1": "de", "q2": "de", "q3": "en", "q4": "en", "q5": "en"}
    how = {"measures": ["nDCG@2", "DCG@2"], "zero_division": math.nan}
    report = ndcg.report(**LEFT_OUT, by=by, **how)
    assert {name: score.queries for name, score in report.scores.items()} == {"nDCG@2": 3, "DCG@2": 5}
    assert "2 of 5 queries have no relevant documents and are excluded from the mean of nDCG@2." in report.notes
    slices = report.tables()[1]
    assert slices[0] == ["slice", "queries", "nDCG@2", "95% interval", "queries", "DCG@2", "95% interval"]
    assert [[row[0], row[1], row[4]] for row in slices[1:]] == [["de", "2", "2"], ["en", "1 of 3", "3"]]


def test_a_comparison_has_the_number_of_values_next_to_each_mean(ndcg: evaluate.Metric) -> None:
    run = LEFT_OUT["predictions"]
    systems = {"a": {**run, "q4": {"a": 1}}, "b": {query: run[query] for query in ("q1", "q2")}}
    by = {"q1": "de", "q2": "de", "q3": "de", "q4": "en", "q5": "en"}
    found = ndcg.compare(systems=systems, references=LEFT_OUT["references"], missing="skip", by=by)
    assert [score["nDCG"].queries for score in found.scores.values()] == [2, 2]
    assert [row[:3] for row in found.tables()[0][1:]] == [
        ["a  a", "2 of 5", f"{found.scores['a']['nDCG'].value:.4f}"],
        ["b  b", "2 of 5", f"{found.scores['b']['nDCG'].value:.4f}"],
    ]
    assert found.tables()[3][1][:2] == ["de", "2 of 3"]
    assert found.pairs[0].queries == 2
    assert "3 of 5 judged queries are missing from a run and excluded from the mean." in found.notes
    assert ndcg.Comparison.from_dict(json.loads(json.dumps(found.to_dict()))).to_dict() == found.to_dict()


def test_query_ids_without_rankings_are_rejected(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=[[1, 2], [2, 1]], references=[[1, 0], [1, 0]])
    for method in (metric.report, metric.compute):
        with pytest.raises(ValueError, match=r"^query_ids without predictions and references"):
            method(query_ids=[7, 7])
    assert len(metric) == 2
    metric.compute()


def test_the_lowest_queries_come_first_without_those_that_no_ranking_could_improve(ndcg: evaluate.Metric) -> None:
    report = ndcg.report(**SMALL, k=[1, 2])
    found = report.lowest(2)
    assert found.column_names == ["query", "nDCG@1", "retrieved", "judged", "relevant"]
    assert found["query"].to_pylist() == [3, 0]  # query 1 has no relevant documents
    values = dict(zip(report.queries["query"].to_pylist(), report.queries["nDCG@2"].to_pylist(), strict=True))
    assert report.lowest(None, "nDCG@2")["query"].to_pylist() == sorted((0, 2, 3), key=values.__getitem__)
    with pytest.raises(ValueError, match=r'^measure must be one of "nDCG@1", "nDCG@2"; got'):
        report.lowest(measure="nDCG@5")
    with pytest.raises(ValueError, match=r"^n must be an integer, at least 0"):
        report.lowest(-1)
