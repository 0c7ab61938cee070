"""What a report and a comparison say, as a user gets them from the metric: every figure from its definition."""

import io
import itertools
import json
import math
import os
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
from conftest import ROOT, MetricFactory, lean_environment

from ndcg.inputs.reading import Inputs
from ndcg.loops import mteb_files
from ndcg.measure.options import Options
from ndcg.statistics import comparison
from ndcg.statistics import report as room
from ndcg.statistics.significance import holm, intervals, paired_tests, power

# Query 0 is tied at rank 1, query 1 has nothing relevant, query 2 an unjudged document at rank 2 and a relevant one
# that was not retrieved, query 3 was not retrieved at all.
PREDICTIONS = [[3, 3, 1], [1, 2], [0.9, 0.8, 0.7, None], [None, None]]
REFERENCES = [[2, 0, 1], [0, 0], [1, None, 0, 2], [1, 0]]
SMALL: dict[str, Any] = {"predictions": PREDICTIONS, "references": REFERENCES, "resamples": 200}


def generated(
    seed: int = 0, queries: int = 60, weights: tuple[float, ...] = (0.2, 0.5, 0.55)
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Systems of rising quality with tied scores, and the relevance they are scored by."""
    rng = np.random.default_rng(seed)
    relevance = rng.integers(0, 4, (queries, 12)) * (rng.random((queries, 12)) < 0.4)
    return {
        name: np.round(relevance * weight + rng.normal(0, 1, relevance.shape), 1)
        for name, weight in zip(("bm25", "dense", "hybrid", "oracle"), weights, strict=False)
    }, relevance


SYSTEMS, RELEVANCE = generated()
SEVERAL: dict[str, Any] = {"k": [3, 10], "measures": ["nDCG", "DCG"]}


# The report

FORMS: dict[str, tuple[Any, Any]] = {
    "grids": (SYSTEMS["bm25"], RELEVANCE),
    "lists of several lengths": (PREDICTIONS, REFERENCES),
    "ids": (
        {"q1": {"a": 0.5, "b": 0.5, "c": 0.1}, "q3": {"a": 0.3, "x": 0.2}},
        {"q1": {"b": 1, "d": 2}, "q2": {"a": 1}, "q3": {"a": 1, "c": 0}},
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", [1, 5, 100])
def test_queries_are_described_alike_in_pieces_of_any_size(
    monkeypatch: pytest.MonkeyPatch, form: str, piece: int
) -> None:
    inputs, options = Inputs(*FORMS[form]), Options.parse(**SEVERAL, ideal="truncated")
    whole = room.query_columns(inputs, options)
    monkeypatch.setattr(room, "PIECE", piece)
    pieces = room.query_columns(inputs, options)
    assert list(pieces) == list(whole)
    for name, column in whole.items():
        assert column.dtype == pieces[name].dtype
        np.testing.assert_array_equal(column, pieces[name])


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (([[1.0]] * 9 + [[math.nan]], [[1]] * 10), "predictions: query 9, position 0"),
        (({f"q{at}": {"a": 1.0} for at in range(10)}, {f"q{at}": {"a": -(at == 8)} for at in range(10)}), "query 'q8'"),
    ],
)
def test_a_fault_in_a_later_piece_is_told_of_its_query(
    monkeypatch: pytest.MonkeyPatch, wrong: tuple[Any, Any], place: str
) -> None:
    monkeypatch.setattr(room, "PIECE", 2)
    with pytest.raises(ValueError, match=place):
        room.query_columns(Inputs(*wrong), Options.parse())


@pytest.mark.parametrize("options", [{}, {"convention": "lightgbm"}, {"gain": [0, 1, 4, 9], "log_base": 3}], ids=str)
def test_a_report_has_the_scores_of_compute(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, **SEVERAL, **options}
    weight = np.arange(60) % 7
    report = ndcg.report(**inputs, sample_weight=weight, resamples=200)
    assert {name: score.value for name, score in report.scores.items()} == ndcg.compute(**inputs, sample_weight=weight)
    by_query = ndcg.compute(**inputs, use_aggregator=False)
    for name, values in by_query.items():
        assert report.queries[name].to_pylist() == values
    assert report.signature == ndcg.signature(**SEVERAL, **options, sample_weight=weight)


def test_queries_without_a_value_count_nowhere(ndcg: evaluate.Metric) -> None:
    run = {"q1": {"a": 3, "b": 2, "x": 1}, "q3": {"a": 1, "b": 2}}
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"b": 1}, "q4": {"b": 1}}
    for missing, relevant, ranked, left_out in (("empty", 1, 5, 0), ("skip", 1, 5, 2)):
        report = ndcg.report(predictions=run, references=qrels, missing=missing)
        assert (report.counts["nothing_relevant"], report.counts["left_out"]) == (relevant, left_out)
        assert (report.scores["nDCG"].ranked, report.scores["nDCG"].unjudged) == (ranked, 3)
    other = {"q1": {"c": 1}, "q2": {"a": 1}, "q3": {"a": 3, "b": 2, "x": 1}}
    found = ndcg.compare(systems={"a": run, "b": other}, references=qrels, missing="skip")
    assert [scores["nDCG"].ranked for scores in found.scores.values()] == [5, 4]  # of q1 and q3, which both have


@pytest.mark.parametrize(
    ("systems", "options"),
    [
        ({"a": [["a", "b"], ["a", "b"], []], "b": [["b", "a"], ["b", "a"], ["x"]]}, {"convention": "beir", "k": 3}),
        (
            {"a": [["a"], ["b"], []], "b": [["b"], ["b"], ["a"]]},
            {"ideal": "truncated", "zero_division": math.nan},
        ),
        ({"a": [["a"], ["b"], []], "b": [["b", "a"], ["b"], ["a"]]}, {"ideal": "retrieved", "zero_division": math.nan}),
    ],
)
def test_a_query_without_a_value_for_one_system_is_left_out_for_all(
    ndcg: evaluate.Metric, systems: dict[str, Any], options: dict[str, Any]
) -> None:
    references = [["a"], ["b"], [] if "convention" in options else ["a"]]
    found = ndcg.compare(systems=systems, references=references, **options)
    for name, ranked in systems.items():
        (expected,) = ndcg.compute(predictions=ranked[:2], references=references[:2], **options).values()
        (score,) = found.scores[name].values()
        assert score.value == expected
    (pair,) = found.pairs
    assert pair.wins + pair.ties + pair.losses == 2


def test_a_few_heavy_queries_are_noted_as_few(ndcg: evaluate.Metric) -> None:
    weight = [100, *[1] * 59]
    counted = (100 + 59) ** 2 / (100**2 + 59)
    note = f"Few queries (60, which count as {counted:.1f} by their weights): below 10, "
    report = ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE, sample_weight=weight)
    assert any(each.startswith(note) for each in report.notes)


@pytest.mark.parametrize("ideal", ["judged", "truncated", "retrieved", "full"])
def test_nothing_is_relevant_where_nothing_judged_is_whatever_the_ideal(ndcg: evaluate.Metric, ideal: str) -> None:
    ranked = {"predictions": [["a"], [], ["b"], []], "references": [["a"], ["a"], ["a"], []]}
    report = ndcg.report(**ranked, k=2, ideal=ideal)
    assert report.counts["nothing_relevant"] == 1
    assert report.counts["nothing_retrieved"] == 2


def test_its_intervals_are_those_of_the_values_of_its_queries(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, **SEVERAL}
    by_query = ndcg.compute(**inputs, use_aggregator=False)
    report = ndcg.report(**inputs, confidence=0.9, resamples=300, seed=5)
    greatest = np.array([1 if name.startswith("nDCG") else math.inf for name in by_query])
    expected = intervals(np.array(list(by_query.values())), greatest=greatest, confidence=0.9)
    assert [score.low for score in report.scores.values()] == expected.low.tolist()
    assert [score.high for score in report.scores.values()] == expected.high.tolist()
    assert [score.standard_error for score in report.scores.values()] == expected.standard_error.tolist()
    assert report.resampling == (0.9, 300, 5, False)
    for score in report.scores.values():
        assert score.low < score.value < score.high


def test_it_counts_what_the_scores_rest_on(ndcg: evaluate.Metric) -> None:
    report = ndcg.report(**SMALL, k=[1, 2, 5])
    assert report.counts == {
        "queries": 4,
        "nothing_relevant": 1,
        "nothing_irrelevant": 0,
        "nothing_retrieved": 1,
        "left_out": 0,
    }
    assert report.queries["query"].to_pylist() == [0, 1, 2, 3]
    assert report.queries["retrieved"].to_pylist() == [3, 2, 3, 0]
    assert report.queries["judged"].to_pylist() == [3, 2, 3, 2]
    assert report.queries["relevant"].to_pylist() == [2, 0, 2, 1]
    assert report.queries["unjudged@1"].to_pylist() == [0, 0, 0, 0]
    assert report.queries["unjudged@2"].to_pylist() == [0, 0, 1, 0]
    ranked = {name: (score.ranked, score.unjudged) for name, score in report.scores.items()}
    assert ranked == {"nDCG@1": (3, 0.0), "nDCG@2": (6, 1.0), "nDCG@5": (8, 1.0)}
    note = "The cutoff 5 cuts nothing off: no query has more than 3 documents retrieved, or judged."
    few = "Few queries (4): below 10, intervals and tests may be wrong more often than they say."
    assert report.notes[:2] == (note, few)
    assert f"{note}\n{few}" in str(report)


@pytest.mark.parametrize(
    ("queries", "options"),
    [(9, {}), (10, {"sample_weight": [1] * 9 + [0]}), (11, {"zero_division": math.nan}), (10, {})],
)
def test_few_queries_are_noted(ndcg: evaluate.Metric, queries: int, options: dict[str, Any]) -> None:
    references = RELEVANCE[:queries] * (np.arange(queries) < 9)[:, np.newaxis]  # nothing is relevant to the others
    systems = {name: SYSTEMS[name][:queries] for name in ("bm25", "dense")}
    few = "Few queries (9): below 10, intervals and tests may be wrong more often than they say."
    for system in systems.values():
        found = ndcg.report(predictions=system, references=references, **options).notes
        assert (few in found) is (queries == 9 or bool(options))
    found = ndcg.compare(systems=systems, references=references, resamples=50, **options).notes
    assert (few in found) is (queries == 9 or bool(options))


def test_documents_that_are_tied_at_the_cutoff_are_unjudged_in_expectation(ndcg: evaluate.Metric) -> None:
    report = ndcg.report(predictions=[[1, 1, 1], [3, 2, 1]], references=[[None, 1, None], [1, None, 0]], k=2)
    assert report.queries["unjudged@2"].to_pylist() == [pytest.approx(2 * 2 / 3), 1]
    judged_only = ndcg.report(
        predictions=[[1, 1, 1], [3, 2, 1]], references=[[None, 1, None], [1, None, 0]], k=2, judged_only=True
    )
    assert judged_only.queries["unjudged@2"].to_pylist() == [0, 0]
    assert judged_only.scores["nDCG@2"].ranked == 3


def test_it_bounds_what_the_order_of_ties_can_do(ndcg: evaluate.Metric) -> None:
    first, second, third = (1 / math.log2(rank + 1) for rank in (1, 2, 3))
    report = ndcg.report(predictions=PREDICTIONS[:2], references=REFERENCES[:2], measures="DCG", resamples=100)
    score = report.scores["DCG"]
    assert (score.worst, score.best) == pytest.approx(((2 * second + third) / 2, (2 * first + third) / 2))
    assert score.tied == 1  # of the other query nothing is relevant, whatever its order
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, "k": [3, None]}
    report = ndcg.report(**inputs, resamples=100)
    for bound in ("worst", "best"):
        by_query = ndcg.compute(**inputs, ties=bound, use_aggregator=False)
        for name, value in ndcg.compute(**inputs, ties=bound).items():
            assert getattr(report.scores[name], bound) == value
            assert report.queries[f"{bound} {name}"].to_pylist() == by_query[name]
    assert 0 < report.scores["nDCG@3"].tied < report.scores["nDCG"].tied <= 60


# Chance


@pytest.mark.parametrize("options", [{}, {"judged_only": True}, {"gain": "exponential", "ties": "last"}], ids=str)
def test_chance_is_the_mean_over_all_orders_of_the_documents(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    predictions, references = [[4, 3, 2, 1], [3, 2, 2, None]], [[0, 2, None, 1], [1, 0, 3, 2]]
    how: dict[str, Any] = {"k": [1, 2, None], "measures": ["nDCG", "DCG", "IDCG", "CG"], **options}
    report = ndcg.report(predictions=predictions, references=references, **how, resamples=50)
    for query, (scores, relevance) in enumerate(zip(predictions, references, strict=True)):
        missing = [each for each in scores if each is None]
        orders = [[*order, *missing] for order in itertools.permutations(range(len(scores) - len(missing)))]
        by_order = ndcg.compute(predictions=orders, references=[relevance] * len(orders), **how)
        for name, value in by_order.items():
            assert report.queries[f"chance {name}"][query].as_py() == pytest.approx(value)
    for name, score in report.scores.items():
        assert score.chance == pytest.approx(np.mean(report.queries[f"chance {name}"].to_numpy()))


def test_chance_is_the_score_of_documents_that_are_all_tied(ndcg: evaluate.Metric) -> None:
    weight = np.arange(60) % 5
    how = {"references": RELEVANCE, **SEVERAL, "sample_weight": weight}
    report = ndcg.report(predictions=SYSTEMS["bm25"], **how, resamples=50)
    tied = ndcg.compute(predictions=np.zeros_like(SYSTEMS["bm25"]), **how)
    assert {name: score.chance for name, score in report.scores.items()} == tied
    comparison = ndcg.compare(systems=SYSTEMS, **how, resamples=50)
    assert [scores["nDCG@3"].chance for scores in comparison.scores.values()] == [tied["nDCG@3"]] * 3


def test_a_score_that_may_be_chance_is_noted(ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(0)
    relevance = rng.integers(0, 2, (40, 8))
    systems = {"random": rng.normal(size=(40, 8)), "good": relevance + rng.normal(size=(40, 8))}
    reversed_scores = -systems["good"]
    how = {"references": relevance, "measures": ["nDCG", "IDCG", "CG"], "resamples": 200}
    of_random = ndcg.report(predictions=systems["random"], **how)
    chance = f"a random order of the same documents has {of_random.scores['nDCG'].chance:.4f} on average"
    assert of_random.notes == (f"nDCG may be chance: {chance}.",)
    assert f"nDCG may be chance: {chance}." in str(of_random)
    assert ndcg.report(predictions=systems["good"], **how).notes == ()
    below = (f"nDCG is below chance, {chance}: do higher scores rank first?",)
    assert ndcg.report(predictions=reversed_scores, **how).notes == below
    assert ndcg.compare(systems=systems, **how).notes == (f"random: nDCG may be chance: {chance}.",)


@pytest.mark.parametrize(
    ("predictions", "references", "number"),
    [
        ([[2, 1], [2, 1]], [[1, 2], [1, 0]], 1),
        ([[2, 1], [2, None]], [[1, 2], [1, 3]], 2),
        ([[2, 1], [2, None]], [[1, 2], [1, 0]], 1),  # an irrelevant one that was not retrieved
        ([[2, 1], [2, 1]], [[1, None], [None, None]], 0),  # not judged: of gain 0
        ([[None, None], [2, 1]], [[1, 1], [0, 0]], 0),
    ],
)
def test_queries_without_negatives_are_counted(
    ndcg: evaluate.Metric, predictions: Any, references: Any, number: int
) -> None:
    inputs = {"predictions": predictions, "references": references, "resamples": 50}
    report = ndcg.report(**inputs)
    assert report.counts["nothing_irrelevant"] == number
    note = f"No negatives: in {number} of 2 queries all documents are relevant, so that any order of them scores high."
    assert (note in report.notes) is (number > 0)
    unjudged = any(None in row for row in references)
    assert ndcg.report(**inputs, judged_only=True).counts["nothing_irrelevant"] == number + unjudged


def test_a_query_without_a_value_is_null(ndcg: evaluate.Metric) -> None:
    report = ndcg.report(**SMALL, zero_division=math.nan)
    assert report.queries["nDCG"].is_null().to_pylist() == [False, True, False, False]
    assert (
        report.scores["nDCG"].value
        == ndcg.compute(predictions=PREDICTIONS, references=REFERENCES, zero_division=math.nan)["nDCG"]
    )
    assert "NaN" not in json.dumps(report.to_dict())


def test_queries_go_by_their_ids(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run = {"q2": {"a": 1.0, "b": 0.5}, "q1": {"a": 2.0}}
    qrels = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}, "q3": {"a": 1}}
    (tmp_path / "run").write_text("q2 Q0 a 1 1.0 t\nq2 Q0 b 2 0.5 t\nq1 Q0 a 1 2.0 t\n")
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 2\nq2 0 c 1\nq3 0 a 1\n")
    for predictions, references in ((run, qrels), (tmp_path / "run", tmp_path / "qrels")):
        report = ndcg.report(predictions=predictions, references=references, convention="trec_eval", resamples=50)
        assert report.queries["query"].to_pylist() == ["q1", "q2", "q3"]
        assert report.queries["retrieved"].to_pylist() == [1, 2, 0]
        assert report.counts["nothing_retrieved"] == 1
    flat = ndcg.report(predictions=[1, 2, 3], references=[0, 1, 1], query_ids=[7, 5, 7], resamples=50)
    assert flat.queries["query"].to_pylist() == [7, 5]
    mixed = {1: {"a": 1.0}, "one": {"a": 1.0}}
    report = ndcg.report(predictions=mixed, references={1: {"a": 1}, "one": {"a": 1}}, resamples=50)
    assert report.queries["query"].to_pylist() == ["1", "one"]


def test_batches_that_were_added_are_reported_on(fresh_metric: MetricFactory, ndcg: evaluate.Metric) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    metric.add_batch(predictions=PREDICTIONS[2:], references=REFERENCES[2:])
    with pytest.raises(ValueError, match="confidence must be"):
        metric.report(confidence=95)
    with pytest.raises(ValueError, match=r"^sample_weight must hold"):
        metric.report(sample_weight=[1, 2])
    assert len(metric) == 4
    assert metric.report(k=[1, 2], resamples=200) == ndcg.report(**SMALL, k=[1, 2])
    assert len(metric) == 0
    with pytest.raises(ValueError, match="nothing to score"):
        metric.report()


def test_the_same_seed_gives_the_same_report(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, "resamples": 200}
    assert ndcg.report(**inputs, seed=1) == ndcg.report(**inputs, seed=1)
    assert ndcg.report(**inputs, seed=1) != ndcg.report(**inputs, seed=2)


SCRIPT = """
import json
import datasets
import evaluate
import numpy as np
rng = np.random.default_rng(0)
relevance = rng.integers(0, 3, (30_000, 20))
systems = {name: np.round(relevance + rng.normal(0, 1, relevance.shape), 1) for name in "ab"}
ndcg = evaluate.load("ndcg.py")
report = ndcg.report(predictions=systems["a"], references=relevance, k=[5, 10], resamples=200)
comparison = ndcg.compare(systems=systems, references=relevance, k=[5, 10], resamples=200)
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


# The comparison


def test_a_comparison_has_the_scores_of_compute(ndcg: evaluate.Metric) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL, resamples=200)
    assert comparison.signature == ndcg.signature(**SEVERAL)
    for system, predictions in SYSTEMS.items():
        inputs = {"predictions": predictions, "references": RELEVANCE, **SEVERAL}
        assert {name: score.value for name, score in comparison.scores[system].items()} == ndcg.compute(**inputs)
        assert comparison.scores[system] == ndcg.report(**inputs, resamples=200).scores
        rows = comparison.queries.filter(pa.compute.equal(comparison.queries["system"], system))
        assert rows["query"].to_pylist() == list(range(60))
        for name, values in ndcg.compute(**inputs, use_aggregator=False).items():
            assert rows[name].to_pylist() == values


@pytest.mark.parametrize("weighted", [False, True])
def test_every_figure_of_a_pair_is_what_its_name_says(ndcg: evaluate.Metric, weighted: bool) -> None:
    weight = np.arange(60) % 5 if weighted else None
    how = {"references": RELEVANCE, "k": [3, 10], "sample_weight": weight}
    comparison = ndcg.compare(systems=SYSTEMS, **how, resamples=400, seed=3, confidence=0.9)
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
            tests = paired_tests(values, weight, [(0, 1)], resamples=400, seed=3)
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
    how = {"systems": SYSTEMS, "references": RELEVANCE, "k": 10, "resamples": 200}
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
    how = {"systems": SYSTEMS, "references": RELEVANCE, "resamples": 50, "measures": ["nDCG", "DCG"]}
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
    dashed = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"]
    assert dashed == ([{"greater": -0.05, "less": 0.05}[alternative]] if margin else [])


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_the_interval_of_90_percent_tells_what_a_t_test_of_one_side_does_at_5(
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


def test_light_queries_that_agree_make_the_randomisation_test_sure_beside_a_heavy_one(ndcg: evaluate.Metric) -> None:
    systems = {"worse": [[1, 2]] * 21, "better": [[2, 1]] * 21}
    how = {"systems": systems, "references": [[3, 2.9]] + [[1, 0]] * 20, "sample_weight": [1000, *[1] * 20]}
    (pair,) = ndcg.compare(**how).pairs
    assert pair.p == 2 / 2**21
    assert pair.p_t > 0.05


def test_twenty_perfect_queries_leave_room_for_others(ndcg: evaluate.Metric) -> None:
    score = ndcg.report(predictions=[[2, 1]] * 20, references=[[1, 0]] * 20).scores["nDCG"]
    odds = scipy.stats.norm.ppf(0.975) ** 2 / 20
    assert (score.low, score.high) == pytest.approx((1 / (1 + odds), 1))


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_letters_follow_the_side_that_is_asked(ndcg: evaluate.Metric, margin: float) -> None:
    systems, relevance = generated(queries=200, weights=(0.2, 3))
    how = {"systems": systems, "references": relevance, "k": 10, "resamples": 50, "margin": margin}
    for alternative, marked in (("greater", []), ("less", ["b  dense"])):
        table = ndcg.compare(**how, alternative=alternative).tables()[0]
        assert [row[0] for row in table[1:] if row[3]] == marked
    close, relevance = generated(queries=200, weights=(0.5, 0.55))
    table = ndcg.compare(systems=close, references=relevance, alternative="greater", margin=0.2).tables()[0]
    assert [row[3] for row in table] == ["not worse than", "b", ""]


def test_p_values_may_be_corrected_over_all_measures(ndcg: evaluate.Metric) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL, resamples=50, corrected_over="all")
    assert [pair.p_holm for pair in comparison.pairs] == holm(np.array([pair.p for pair in comparison.pairs])).tolist()
    expected = holm(np.array([pair.p_t for pair in comparison.pairs])).tolist()
    assert [pair.p_t_holm for pair in comparison.pairs] == expected
    assert "corrected by Holm for all pairs of all measures" in str(comparison)


def test_a_pair_tells_what_its_queries_can_detect(ndcg: evaluate.Metric) -> None:
    how = {"references": RELEVANCE, "measures": ["nDCG", "DCG"], "resamples": 50}
    weight = np.arange(60) % 5
    for pair in ndcg.compare(systems=SYSTEMS, **how, sample_weight=weight).pairs:
        values = [
            ndcg.compute(predictions=SYSTEMS[each], references=RELEVANCE, measures=pair.measure, use_aggregator=False)
            for each in (pair.system, pair.other)
        ]
        found = power(np.array([each[pair.measure] for each in values]), weight.astype(float), [(0, 1)])
        assert pair.detectable == pytest.approx(found.detectable[0], rel=1e-9)
        assert pair.queries_needed == found.queries_needed[0]
    same = ndcg.compare(systems={"a": SYSTEMS["bm25"], "b": SYSTEMS["bm25"]}, **how)
    assert [(pair.detectable, pair.queries_needed) for pair in same.pairs] == [(None, None)] * 2
    assert "–" in same.tables()[2][1]


def differing(queries: int, systems: int = 3, all_queries: int = 20) -> dict[str, Any]:
    """Systems that differ from each other, all in the same few queries."""
    ranked = [np.arange(9.0)] * all_queries
    scores = {
        str(at): [np.roll(row, at + query % 2) if query < queries else row for query, row in enumerate(ranked)]
        for at in range(systems)
    }
    return {"systems": scores, "references": [[0] * 7 + [1, 3]] * all_queries, "resamples": 50}


@pytest.mark.parametrize(
    ("queries", "options", "note"),
    [
        (6, {}, "3 of 3 pairs cannot be significant: with so few queries that differ, p corrected for 3 is at least "
         "0.0938. It takes 7 queries that differ, or fewer pairs, as with a baseline."),
        (7, {}, None),
        (6, {"alternative": "greater"}, None),
        (5, {"baseline": "0"}, "2 of 2 pairs cannot be significant: with so few queries that differ, p corrected for 2 "
         "is at least 0.1250. It takes 7 queries that differ, or fewer pairs."),
        (6, {"baseline": "0", "measures": ["nDCG", "DCG"], "corrected_over": "all"}, "4 of 4 pairs cannot be "
         "significant: with so few queries that differ, p corrected for 4 is at least 0.1250. It takes 8 queries that "
         "differ, or fewer pairs."),
        (0, {}, None),
    ],
    ids=str,
)  # fmt: skip
def test_a_correction_that_cannot_reach_the_level_is_noted(
    ndcg: evaluate.Metric, queries: int, options: dict[str, Any], note: str | None
) -> None:
    comparison = ndcg.compare(**differing(queries), **options)
    assert {pair.wins + pair.losses for pair in comparison.pairs} == {queries}
    assert comparison.notes == (() if note is None else (note,))


def test_one_pair_of_few_queries_is_noted(ndcg: evaluate.Metric) -> None:
    (note,) = ndcg.compare(**differing(5, systems=2)).notes
    assert note.endswith("with so few queries that differ, p is at least 0.0625. It takes 6 queries that differ.")


def test_too_few_exchanges_for_many_pairs_are_noted(ndcg: evaluate.Metric) -> None:
    (pair,) = ndcg.compare(**differing(40, systems=2, all_queries=40)).pairs
    pairs = [pair._replace(p=0.5, p_holm=1.0, exchanges=10_000)] * 528
    (note,) = comparison._notes_on_tests(pairs, comparison.Testing(), None)
    assert "with so few exchanges, p corrected for 528 is at least 0.0528. It takes resamples=10561, or fewer" in note


def test_p_values_too_near_to_the_level_are_noted(ndcg: evaluate.Metric) -> None:
    (pair,) = ndcg.compare(**differing(40, systems=2, all_queries=40)).pairs
    error = math.sqrt(0.05 * 0.95 / 2**20)
    for p, noted in (
        (0.05 - 1.9 * error, True),
        (0.05 + 1.9 * error, True),
        (0.05 - 2.1 * error, False),
        (0.051, False),
    ):
        found = comparison._notes_on_tests([pair._replace(p=p, p_holm=p)], comparison.Testing(), None)
        assert found == ["1 of 1 corrected p-values lie within two standard errors of 0.05: more resamples tell on "
                         "which side."] * noted  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alternative": "grater"}, '^alternative must be one of "two-sided", .*did you mean "greater"'),
        ({"alternative": None}, "^alternative must be one of"),
        ({"margin": 0.1}, '^margin=0.1 needs alternative="greater" or "less"; "greater" asks whether'),
        ({"margin": -0.1, "alternative": "less"}, "^margin must be a finite number, at least 0, .*; got -0.1$"),
        ({"margin": math.nan, "alternative": "less"}, "^margin must be a finite number"),
        ({"margin": math.inf, "alternative": "less"}, "^margin must be a finite number"),
        ({"margin": "1%", "alternative": "less"}, "^margin must be a finite number, .*; got '1%'$"),
        ({"margin": True, "alternative": "less"}, "^margin must be a finite number"),
        ({"corrected_over": "pairs"}, '^corrected_over must be one of "measure", "all"; got'),
    ],
    ids=str,
)
def test_a_question_that_makes_no_sense_is_refused(
    ndcg: evaluate.Metric, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **options)


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
    assert (pair.exact, pair.exchanges, pair.p_error) == (True, 2 ** (pair.wins + pair.losses), 0.0)
    assert comparison.resampling.exact
    assert "randomisation test (all exchanges: exact)" in comparison.to_markdown()


def test_the_queries_that_differ_most_come_first(ndcg: evaluate.Metric) -> None:
    comparison = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **SEVERAL, resamples=50)
    for measure in (None, "DCG@10"):
        table = comparison.differences("bm25", "hybrid", measure, n=5)
        assert table.column_names == ["query", "bm25", "hybrid", "difference"]
        rows = table.to_pylist()
        assert len(rows) == 5
        by_system = [
            ndcg.compute(predictions=SYSTEMS[name], references=RELEVANCE, **SEVERAL, use_aggregator=False)[
                measure or "nDCG@3"
            ]
            for name in ("bm25", "hybrid")
        ]
        expected = sorted(np.abs(np.subtract(*by_system)), reverse=True)[:5]
        assert [abs(row["difference"]) for row in rows] == expected
        for row in rows:
            assert [row["bm25"], row["hybrid"]] == [values[row["query"]] for values in by_system]
    for arguments, named in ((("bm26", "dense"), "bm26"), (("bm25", "dense", "nDCG@4"), "nDCG@4")):
        with pytest.raises(ValueError, match=f"'{named}' is not in this comparison, which has '"):
            comparison.differences(*arguments)


def test_systems_may_come_in_any_form(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"b": 2, "c": 1}, "q3": {"a": 1, "b": 0}}
    run = {query: {document: float(len(document)) for document in grades} for query, grades in qrels.items()}
    lines = [f"{query} Q0 {document} 1 1.0 t\n" for query, scores in run.items() for document in scores]
    (tmp_path / "run").write_text("".join(lines))
    systems = {"mapping": run, "file": tmp_path / "run"}
    comparison = ndcg.compare(systems=systems, references=qrels, resamples=50)
    assert comparison.pairs[0].difference == 0
    assert comparison.queries["query"].to_pylist() == ["q1", "q2", "q3"] * 2
    flat = {"one": [0.1, 0.2, 0.3, 0.4], "two": [0.4, 0.3, 0.2, 0.1]}
    comparison = ndcg.compare(systems=flat, references=[1, 0, 1, 0], query_ids=["x", "x", "y", "y"])
    assert [comparison.pairs[0].wins, comparison.pairs[0].losses] == [0, 2]
    ragged = {"one": [[1, 2], [3]], "two": [[2, 1], [None]]}
    comparison = ndcg.compare(systems=ragged, references=[[1, 0], [1]])
    assert [comparison.pairs[0].wins, comparison.pairs[0].losses] == [1, 1]


# What a person sees


@pytest.fixture(scope="module")
def shown(ndcg: evaluate.Metric) -> tuple[Any, Any]:
    ids = ["<img src=x onerror=alert(1)>", "a|b", "50%_of $x$ & `code`", *(f"q{at}" for at in range(57))]
    qrels = {id_: {f"d{at}": int(r) for at, r in enumerate(row)} for id_, row in zip(ids, RELEVANCE, strict=True)}
    runs = {
        name: {id_: {f"d{at}": float(s) for at, s in enumerate(row)} for id_, row in zip(ids, scores, strict=True)}
        for name, scores in SYSTEMS.items()
    }
    runs["<b>|_&"] = {query: {d: -s for d, s in scores.items()} for query, scores in runs.pop("bm25").items()}
    report = ndcg.report(predictions=runs["dense"], references=qrels, **SEVERAL, resamples=200)
    return report, ndcg.compare(systems=runs, references=qrels, **SEVERAL, resamples=200)


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
        for added in ("exact", "exchanges", "detectable", "queries_needed"):
            del pair[added]
    del stored["testing"]
    stored["signature"] = stored["signature"].replace("|v:1.1.0", "|v:1.0.0")
    again = type(shown[1]).from_dict(stored)
    assert "randomisation test (200 exchanges: standard error of p at most " in str(again)
    assert (again.pairs[0].detectable, again.pairs[0].queries_needed) == (None, None)
    assert again.pairs[0].p_error == math.sqrt(again.pairs[0].p * (1 - again.pairs[0].p) / 200)


def test_the_tables_hold_the_figures(shown: tuple[Any, Any]) -> None:
    report, comparison = shown
    latex = comparison.to_latex()
    assert latex.startswith("% Bold: the highest. Superscripts:")
    assert f"% {comparison.signature}" in latex.splitlines()
    for text in (str(report), report.to_markdown(), report._repr_html_()):
        for score in report.scores.values():
            for value in (score.value, score.low, score.high, score.standard_error, score.worst, score.best):
                assert f"{value:.4f}" in text
        assert "95% interval" in text
        assert "95% intervals of means by Wilson, of differences by Student" in text
        assert report.signature in text
    for text in (str(comparison), comparison.to_markdown(), comparison._repr_html_()):
        for pair in comparison.pairs:
            assert f"{pair.difference:+.4f}" in text
            assert f"{pair.wins}–{pair.ties}–{pair.losses}" in text
            assert f"{pair.detectable:.4f}" in text
            assert f"{pair.queries_needed:,}" in text
        assert not any(pair.exact for pair in comparison.pairs)
        assert "randomisation test (1,048,576 exchanges: " in text
        assert f"standard error of p at most {max(pair.p_error for pair in comparison.pairs):.1g})" in text
        assert comparison.signature in text


def test_markdown_tables_have_as_many_cells_in_each_row(shown: tuple[Any, Any]) -> None:
    for each in shown:
        tables = [block for block in each.to_markdown().split("\n\n") if block.startswith("|")]
        assert len(tables) >= 2
        for table in tables:
            cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(cells) == 1


NO_LEVELS = (math.nan, math.inf, -math.inf, 0, 1, 95, True, "0.95", None, np.float64("nan"), np.bool_(True))
NO_AMOUNTS = (math.nan, math.inf, -1, True, "0.1", None, np.float64("nan"), 10**400)
NO_INTEGERS = (math.nan, 2.5, True, -1, "3", None, np.float64("nan"))


def refusals() -> list[tuple[str, Any, str]]:
    """Each option that is a number, with values that it is not, and what the error says that it must be."""
    integers = "must be an integer, at least"
    return [
        *(("confidence", value, "must be between 0 and 1, such as 0.95") for value in NO_LEVELS),
        *(("margin", value, "must be a finite number, at least 0") for value in NO_AMOUNTS),
        *((name, value, integers) for name in ("seed", "resamples") for value in NO_INTEGERS),
    ]


@pytest.mark.parametrize(("option", "value", "problem"), refusals())
def test_no_door_takes_a_number_that_is_none(
    ndcg: evaluate.Metric, tmp_path: Path, option: str, value: Any, problem: str
) -> None:
    result = {"task_name": "T", "scores": {"test": [{"hf_subset": "s", "languages": ["eng-Latn"], "ndcg_at_10": 0.5}]}}
    for model in ("a", "b"):
        (tmp_path / model).mkdir()
        (tmp_path / model / "T.json").write_text(json.dumps(result))
    results = mteb_files.read_mteb(tmp_path)
    inputs = {"systems": SYSTEMS, "references": RELEVANCE}
    doors: list[Callable[..., Any]] = [partial(ndcg.compare, **inputs), results.compare]
    if option != "margin":
        doors.append(partial(ndcg.report, predictions=SYSTEMS["bm25"], references=RELEVANCE))
    if option == "confidence":
        doors.append(partial(results.report, "a"))
    for door in doors:
        with pytest.raises(ValueError, match=f"^{option} {problem}"):
            door(**{option: value})


def test_the_number_of_queries_that_differ_is_an_integer(ndcg: evaluate.Metric) -> None:
    found = ndcg.compare(systems=SYSTEMS, references=RELEVANCE)
    assert len(found.differences("bm25", "dense", n=np.int64(3))) == 3
    for n in (True, 1.0, -1, math.nan):
        with pytest.raises(ValueError, match=r"^n must be an integer, at least 0"):
            found.differences("bm25", "dense", n=n)


@pytest.mark.parametrize("odd", ["a\x1b[31mb", "a\x07", "a\x9b2J", "a\u202eb", "a\nb", "a\tb"])
def test_no_id_moves_the_cursor(ndcg: evaluate.Metric, odd: str) -> None:
    run = {odd: {odd: 1.0, "d": 2.0}, "q": {odd: 1.0, "d": 0.5}}
    other = {query: {document: -score for document, score in documents.items()} for query, documents in run.items()}
    qrels = {query: {odd: 1, "d": 0} for query in run}
    by = {query: query for query in run}
    found = [
        ndcg.report(predictions=run, references=qrels, by=by),
        ndcg.compare(systems={"a": run, "b": other}, references=qrels, by=by),
        ndcg.explain(predictions=run, references=qrels, got=0.5),
    ]
    assert any(odd.encode("unicode_escape").decode() in cell for cell in itertools.chain(*found[1].tables()[-1]))
    for each in found:
        texts = [str(each), each.to_markdown(), each._repr_html_(), *each.remarks()]
        texts += itertools.chain(*itertools.chain(*each.tables()))
        assert all(text.replace("\n", "").isprintable() for text in texts)
        assert odd not in "".join(texts)


def test_numbers_of_any_size_are_short(ndcg: evaluate.Metric) -> None:
    def of_size(size: float) -> list[Any]:
        relevance = [[size * each for each in row] for row in RELEVANCE]
        how = {"references": relevance, "measures": ["DCG", "nDCG"], "by": ["de", "en"] * (len(relevance) // 2)}
        return [ndcg.report(predictions=SYSTEMS["bm25"], **how), ndcg.compare(systems=SYSTEMS, **how)]

    for small, large in zip(of_size(1.0), of_size(2.0**660), strict=True):
        for one, other in zip(small.tables(), large.tables(), strict=True):
            assert [list(map(len, row)) for row in one[:1]] == [list(map(len, row)) for row in other[:1]]
            assert max(len(cell) for row in other for cell in row) < 50
        assert max(map(len, large.remarks())) < 500
    report, comparison = of_size(2.0**660)
    assert f"{report.scores['DCG'].value:.4e}" in str(report)
    assert f"{comparison.pairs[0].difference:+.4e}" in str(comparison)
    assert f"{comparison.scores['bm25']['DCG'].value:.4e}" in comparison.to_latex()


def test_documents_in_the_millions_are_counted_in_full(ndcg: evaluate.Metric) -> None:
    found = ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE)
    for unjudged, text in ((1_234_567.0, "1,234,567"), (0.0, "0"), (20.0, "20"), (1 / 3, "0.3333"), (12.5, "12.5")):
        scores = {"nDCG": found.scores["nDCG"]._replace(unjudged=unjudged, ranked=23_456_789)}
        assert replace(found, scores=scores).tables()[0][1][-1] == f"{text} of 23,456,789"


def test_scores_in_latex_have_as_many_places_as_are_asked_for(ndcg: evaluate.Metric) -> None:
    found = ndcg.compare(systems=SYSTEMS, references=RELEVANCE)
    for places in (0, 2, 4, 16):
        for scores in found.scores.values():
            assert f"{scores['nDCG'].value:.{places}f}" in found.to_latex(places)
    assert found.to_latex() == found.to_latex(4)
    for places in (-1, 17, 2.0, True, None):
        with pytest.raises(ValueError, match=r"^places must be an integer, at least 0 and at most 16"):
            found.to_latex(places)


def test_text_of_users_is_shown_as_text(shown: tuple[Any, Any]) -> None:
    _, comparison = shown
    page = comparison._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;|_&amp;" in page
    assert "\\<b\\>\\|\\_\\&" in comparison.to_markdown()
    assert re.search(r"(?<!\\)<", comparison.to_markdown().replace("`" + comparison.signature + "`", "")) is None
    assert "<b>|\\_\\&" in comparison.to_latex()


def test_letters_mark_who_is_surely_better(ndcg: evaluate.Metric) -> None:
    systems, relevance = generated(queries=200, weights=(0.2, 0.5, 0.5, 3))
    comparison = ndcg.compare(systems=systems, references=relevance, k=10, resamples=1000)
    p_values = {(pair.system, pair.other): pair.p_holm for pair in comparison.pairs}
    assert p_values["dense", "hybrid"] > 0.05  # near to each other
    assert max(p for pair, p in p_values.items() if pair != ("dense", "hybrid")) < 0.05
    rows = [line.split(" & ") for line in comparison.to_latex().splitlines() if line.startswith("$^")]
    values = {name: f"{comparison.scores[name]['nDCG@10'].value:.4f}" for name in systems}
    assert rows == [
        ["$^{a}$", "bm25", f"{values['bm25']} \\\\"],
        ["$^{b}$", "dense", f"{values['dense']}$^{{a}}$ \\\\"],
        ["$^{c}$", "hybrid", f"{values['hybrid']}$^{{a}}$ \\\\"],
        ["$^{d}$", "oracle", f"\\textbf{{{values['oracle']}}}$^{{abc}}$ \\\\"],
    ]
    lines = comparison.to_markdown().splitlines()
    assert any(line.startswith("| d oracle |") and line.endswith("| a b c |") for line in lines)


def test_plots_are_figures_with_what_they_show(shown: tuple[Any, Any]) -> None:
    report, comparison = shown
    for figure in (report.plot(), report.plot("DCG"), comparison.plot(), comparison.plot("DCG@10")):
        image = io.BytesIO()
        figure.savefig(image, format="png")
        assert image.getvalue().startswith(b"\x89PNG")
    means, queries = report.plot().axes
    assert [label.get_text() for label in means.get_xticklabels()] == ["nDCG@3", "nDCG@10"]
    assert [line.get_ydata()[0] for line in means.lines[1::2]] == [
        report.scores[name].value for name in ("nDCG@3", "nDCG@10")
    ]
    assert len(queries.lines) == 2
    assert len(queries.lines[0].get_ydata()) == 60
    (axes,) = comparison.plot("nDCG@10").axes
    assert len(axes.get_yticklabels()) == 3
    with pytest.raises(ValueError, match="'recall' is not in this report"):
        report.plot("recall")
    assert comparison.plot("DCG").axes[0].get_xlabel().startswith("difference in DCG@3,")
    assert report.plot("DCG@10").axes[1].get_legend_handles_labels()[1] == ["DCG@3", "DCG@10"]
    with pytest.raises(ValueError, match="'recall' is not in this comparison"):
        comparison.plot("recall")


def test_a_metric_reads_reports_back(ndcg: evaluate.Metric, shown: tuple[Any, Any]) -> None:
    report, comparison = shown
    assert ndcg.Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    assert ndcg.Comparison.from_dict(json.loads(json.dumps(comparison.to_dict()))) == comparison


@pytest.mark.parametrize("kind", ["Report", "Comparison"])
@pytest.mark.parametrize("lacking", ["scores", "queries", "resampling", "notes"])
def test_values_of_no_report_are_refused(ndcg: evaluate.Metric, kind: str, lacking: str) -> None:
    rankings: dict[str, Any] = {"references": [[1, 0], [0, 1]], "k": 1}
    scores = [[2, 1], [2, 1]]
    whole = {
        "Report": lambda: ndcg.report(predictions=scores, **rankings),
        "Comparison": lambda: ndcg.compare(systems={"a": scores, "b": [[1, 2], [2, 1]]}, **rankings),
    }[kind]().to_dict()
    read = getattr(ndcg, kind).from_dict
    assert read(whole).to_dict() == whole
    message = rf"^values must be what {kind}\.to_dict\(\) gave, whole and unchanged \("
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
    with pytest.raises(ValueError, match=r"^values must be what \w+\.to_dict\(\) gave, whole and unchanged \("):
        type(original).from_dict(values)


def test_a_missing_matplotlib_is_named(shown: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for each in shown:
        with pytest.raises(ImportError, match="pip install matplotlib"):
            each.plot()


def terminal() -> tuple[int, int]:
    """The ends of a pseudo-terminal of a usual size."""
    reader, writer = os.openpty()
    termios.tcsetwinsize(writer, (24, 80))
    return reader, writer


@pytest.mark.parametrize("disabled", [False, True])
@pytest.mark.parametrize("ends", [terminal, os.pipe])
def test_progress_shows_on_a_terminal_only_and_unless_it_is_disabled(
    ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch, ends: Callable[[], tuple[int, int]], disabled: bool
) -> None:
    reader, writer = ends()
    os.set_blocking(reader, False)
    monkeypatch.setattr("tqdm.std.time", itertools.count(0, 5).__next__)  # seconds: five more at each look
    if disabled:
        datasets.disable_progress_bars()
    with os.fdopen(reader, "rb", buffering=0) as read, os.fdopen(writer, "w") as error:
        monkeypatch.setattr(sys, "stderr", error)
        try:
            ndcg.compare(systems=SYSTEMS, references=RELEVANCE, by=np.arange(60) % 3)
        finally:
            datasets.enable_progress_bars()
        error.flush()
        shown = read.read(1 << 16) or b""  # None where nothing was written
    assert (b"Comparing" in shown) is (ends is terminal and not disabled)
    assert bool(shown) is (ends is terminal and not disabled)


def test_without_tqdm_there_is_no_progress_bar(ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    how: dict[str, Any] = {"systems": SYSTEMS, "references": RELEVANCE, "resamples": 100}
    expected = ndcg.compare(**how)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert ndcg.compare(**how) == expected


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 95}, r"^confidence must be between 0 and 1, such as 0.95; got 95"),
        ({"confidence": 0}, "^confidence must be"),
        ({"confidence": 1.0}, "^confidence must be"),
        ({"confidence": "95%"}, "^confidence must be"),
        ({"confidence": True}, "^confidence must be"),
        ({"resamples": 1}, r"^resamples must be an integer, at least 2 and at most 100,000,000; got 1$"),
        ({"resamples": 10**300}, r"^resamples must be an integer, .*; got 10{40,50}\.\.\.0{40,50}$"),
        ({"resamples": 1e4}, "^resamples must be an integer"),
        ({"resamples": True}, "^resamples must be an integer"),
        ({"seed": -1}, "^seed must be an integer, at least 0; got -1"),
        ({"seed": None}, "^seed must be an integer"),
        ({"k": 0}, "^k must be"),
        ({"convention": "trec"}, 'convention must be .* did you mean "trec_eval"'),
        ({"sample_weight": [1]}, "^sample_weight must hold one weight for each of 60 queries"),
        ({"sample_weight": [1] + [0] * 59}, "needs at least two queries that have a value; got 1"),
    ],
    ids=str,
)
def test_an_option_that_makes_no_sense_is_refused(ndcg: evaluate.Metric, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE, **options)
    with pytest.raises(ValueError, match=message):
        ndcg.compare(systems=SYSTEMS, references=RELEVANCE, **options)


def test_one_query_has_no_interval(ndcg: evaluate.Metric) -> None:
    for queries in (PREDICTIONS[:1], REFERENCES[:1]), ([[1, 2], [1]], [[1, 0], [0]]):
        inputs = {"predictions": queries[0], "references": queries[1], "zero_division": math.nan}
        with pytest.raises(ValueError, match=r"^a confidence interval needs at least two queries .* got 1; compute"):
            ndcg.report(**inputs)


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"a": [[1, 2], [1]]}, "^systems must map the names of at least two systems to their predictions; got 1"),
        ([[[1, 2], [1]]] * 2, "^systems must map the names .* got list"),
        ({1: [[1, 2], [1]], 2: [[1, 2], [1]]}, "^systems: a name must be a string of printable.*; got 1"),
        ({"query": [[1, 2], [1]], "b": [[1, 2], [1]]}, '^systems: a name must be .* other than "query".*; got .query'),
        ({"a\nb": [[1, 2], [1]], "b": [[1, 2], [1]]}, r"^systems: a name must be .*; got 'a\\nb'"),
        ({"a": [[1, 2], [1]], "b": [[1, 2]]}, r"^systems\['b'\]: predictions hold 1 queries and references 2"),
        ({"a": [[1, 2], [1]], "b": [[1, 2], [1, 2]]}, r"^systems\['b'\]: query 1: 2 predictions and 1 references"),
        ({"a": [[1, 2], [1]], "b": [[1, math.nan], [1]]}, r"^systems\['b'\]: predictions: query 0, position 1: nan"),
        ({"a": {"q": {"d": 1}}, "b": [[1, 2], [1]]}, r"^systems\['a'\]: predictions are by ids and references by"),
        ({"a": [[1, 2], [1]], "b": "no/such.run"}, r"^systems\['b'\]: no/such.run: cannot be read"),
    ],
    ids=str,
)
def test_systems_that_cannot_be_compared_are_named(ndcg: evaluate.Metric, systems: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg.compare(systems=systems, references=[[1, 0], [1]])


def test_systems_with_rankings_of_different_queries_are_refused(ndcg: evaluate.Metric) -> None:
    qrels = {query: {"d": 1, "e": 0} for query in ("q1", "q2", "q3")}
    full = {query: {"d": 1.0, "e": 2.0} for query in qrels}
    partly = {query: {"d": 1.0} for query in ("q1", "q2")}
    with pytest.raises(ValueError, match=r"^systems\['partly'\]: no ranking for query 'q3', which 'full' has \(1 such"):
        ndcg.compare(systems={"full": full, "partly": partly}, references=qrels)
    mended = {**partly, "q3": {}}
    assert ndcg.compare(systems={"full": full, "mended": mended}, references=qrels).queries.num_rows == 6
    lacking_alike = dict.fromkeys(("one", "two"), partly)
    assert ndcg.compare(systems=lacking_alike, references=qrels).queries.num_rows == 6
    beyond = {**full, "unjudged": {"d": 1.0}}
    assert ndcg.compare(systems={"full": full, "beyond": beyond}, references=qrels).queries.num_rows == 6


def test_an_unknown_baseline_is_refused_with_the_nearest_name(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match=r'^baseline must be one of "bm25", .*got \'bm52\'; did you mean "bm25"\?'):
        ndcg.compare(systems=SYSTEMS, references=RELEVANCE, baseline="bm52")


# Numbers at the edge of what floats hold


def test_what_is_only_rounding_is_no_difference(ndcg: evaluate.Metric) -> None:
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
    usual = ndcg.compare(systems=systems, references=references, measures=["DCG", "nDCG"], resamples=200)
    sized = ndcg.compare(systems=systems, references=references * size, measures=["DCG", "nDCG"], resamples=200)
    for one, other in zip(usual.pairs, sized.pairs, strict=True):
        scale = size if one.measure == "DCG" else 1.0
        figures = ("p", "p_holm", "p_t", "p_t_holm", "wins", "ties", "losses", "exchanges", "queries_needed")
        assert [getattr(one, each) for each in figures] == pytest.approx([getattr(other, each) for each in figures])
        sizes = ("difference", "low", "high", "standard_error", "detectable")
        expected = [getattr(one, each) * scale for each in sizes]
        assert [getattr(other, each) for each in sizes] == pytest.approx(expected, rel=1e-6)
    report = ndcg.report(predictions=systems["a"], references=references * size, measures="DCG", resamples=200)
    assert report.scores["DCG"] == sized.scores["a"]["DCG"]


def test_weights_may_differ_a_lot_but_not_beyond_all_digits(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": [[1, 2], [2, 1], [1, 2]], "references": [[0, 0], [1, 3], [1, 3]]}
    score = ndcg.report(**inputs, sample_weight=[1, 1e-11, 1e-11]).scores["nDCG"]
    of_one = scipy.stats.binomtest(0, 1).proportion_ci(method="wilson")
    assert (score.low, score.high) == pytest.approx((of_one.low, of_one.high), abs=0.01)
    for weight in ([1, 1e-17, 1e-17], [1, 1.3e-15, 1], [1e-320, 1e-320, 1]):
        with pytest.raises(ValueError, match=r"^sample_weight: a weight is .* of the largest, too far apart"):
            ndcg.report(**inputs, sample_weight=weight)


def test_a_base_below_1_keeps_the_order_of_bounds(ndcg: evaluate.Metric) -> None:
    how = {"log_base": 0.5, "measures": ["DCG", "nDCG"], "resamples": 100}
    report = ndcg.report(predictions=[[1, 1, 2], [2, 1, 1]], references=[[2, 0, 1], [0, 0, 1]], **how)
    assert report.counts["nothing_relevant"] == 0
    for score in report.scores.values():
        assert score.worst < score.value < score.best
        assert score.tied == 2


@pytest.mark.parametrize(("ties", "unjudged"), [("best", 0.0), ("worst", 1.0), ("average", 0.5), ("first", 0.0)])
def test_documents_are_unjudged_in_the_order_that_is_scored(ndcg: evaluate.Metric, ties: str, unjudged: float) -> None:
    inputs = {"predictions": [[1, 1], [2, 1]], "references": [[1, None], [1, 0]], "k": 1, "resamples": 50}
    assert ndcg.report(**inputs, ties=ties).scores["nDCG@1"].unjudged == unjudged


def test_notes_are_about_all_systems(ndcg: evaluate.Metric) -> None:
    systems = {"short": [[1] + [None] * 9] * 10, "long": [list(range(10))] * 10}
    (note,) = ndcg.compare(systems=systems, references=[[1] + [None] * 9] * 10, k=5, resamples=50).notes
    assert note.startswith("long: nDCG@5 is below chance")


def test_queries_of_no_weight_are_not_counted(ndcg: evaluate.Metric) -> None:
    systems = {"a": [[2, 1]] * 3 + [[1, 2]] * 5, "b": [[1, 2]] * 3 + [[2, 1]] * 5}
    weight = [1, 1, 1, 0, 0, 0, 0, 0]
    comparison = ndcg.compare(systems=systems, references=[[1, 0]] * 8, sample_weight=weight)
    (pair,) = comparison.pairs
    assert (pair.wins, pair.ties, pair.losses) == (3, 0, 0)
    assert comparison.scores["a"]["nDCG"].ranked == 6


def test_odd_ids_and_cutoffs_are_no_obstacle(ndcg: evaluate.Metric) -> None:
    for ids in ([2**70, 1], ["\ud800", "a"], [np.int64(3), 4]):
        run = {each: {"d": 1.0} for each in ids}
        report = ndcg.report(predictions=run, references={each: {"d": 1} for each in ids}, k=2**64, resamples=50)
        assert report.scores[f"nDCG@{2**64}"].value == 1.0
        assert json.loads(json.dumps(report.to_dict()))["queries"]["query"] == [
            int(each) if isinstance(each, np.int64) or each == 4 else str(each).replace("\ud800", "\\ud800")
            for each in ids
        ]
    large = np.array([2**63, 2**63 + 1], np.uint64)
    report = ndcg.report(predictions=[1, 2], references=[1, 1], query_ids=large, resamples=50)
    assert report.queries["query"].to_pylist() == [str(2**63), str(2**63 + 1)]


def test_references_that_can_be_read_once_serve_all_systems(ndcg: evaluate.Metric) -> None:
    column = pa.table({"relevance": [[1, 0], [0, 1]]})
    systems = {"a": [[2, 1], [2, 1]], "b": [[1, 2], [1, 2]]}
    comparison = ndcg.compare(systems=systems, references=column.to_reader(), resamples=50)
    assert comparison == ndcg.compare(systems=systems, references=column, resamples=50)


def test_query_ids_without_rankings_are_refused(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=[[1, 2], [2, 1]], references=[[1, 0], [1, 0]])
    for method in (metric.report, metric.compute):
        with pytest.raises(ValueError, match=r"^query_ids without predictions and references"):
            method(query_ids=[7, 7])
    assert len(metric) == 2
    metric.compute()


def test_names_with_dollars_are_plotted_as_they_are(ndcg: evaluate.Metric) -> None:
    systems = {"a$\\foo": [[1, 2], [2, 1]], "$b": [[2, 1], [2, 1]]}
    figure = ndcg.compare(systems=systems, references=[[1, 0], [1, 0]], resamples=50).plot()
    figure.savefig(io.BytesIO(), format="png")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a$\\foo – $b"]
