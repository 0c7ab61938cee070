"""Each query has its counts of documents, its value in the best, worst and a random order, and its id, or no value."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluate import Metric
from systems import PREDICTIONS, REFERENCES, RELEVANCE, SEVERAL, SMALL, SYSTEMS

from ndcg.inputs.reading import Inputs
from ndcg.inputs.slices import Slices
from ndcg.measure.arguments import TIES
from ndcg.measure.options import Options
from ndcg.statistics import measured as room

RNG = np.random.default_rng(31)
LENGTHS = RNG.integers(1, 8, 12).tolist()
GRADES = [RNG.integers(0, 3, size).tolist() for size in LENGTHS]
TIED = [RNG.integers(0, 3, size).tolist() for size in LENGTHS]
FORMATS: dict[str, tuple[Any, Any]] = {
    "grids": (SYSTEMS["bm25"], RELEVANCE),
    "grids without ties": (np.argsort(SYSTEMS["bm25"], axis=1), RELEVANCE),
    "lists of several lengths": ([RNG.permutation(size).tolist() for size in LENGTHS], GRADES),
    "lists with ties": (TIED, GRADES),
    "lists of documents that were not retrieved": ([[-np.inf, *row[1:-1], None][-len(row) :] for row in TIED], GRADES),
    "documents that were not judged": (PREDICTIONS, REFERENCES),
    "ids": (
        {"q1": {"a": 0.5, "b": 0.5, "c": 0.1}, "q3": {"a": 0.3, "x": 0.2}},
        {"q1": {"b": 1, "d": 2}, "q2": {"a": 1}, "q3": {"a": 1, "c": 0}},
    ),
}


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(("constant", "value"), [("PIECE", 1), ("PIECE", 5), ("SORTED", 0)])
@pytest.mark.parametrize("rankings", FORMATS)
def test_queries_are_described_alike_in_pieces_of_any_size_and_of_however_few_documents(
    monkeypatch: pytest.MonkeyPatch, rankings: str, constant: str, value: int, ties: str
) -> None:
    inputs = Inputs(*FORMATS[rankings])
    options = Options.parse(measures=["nDCG", "CG"], k=[1, 3], ties=ties, ideal="truncated")
    expected = room.query_columns(inputs, options)
    monkeypatch.setattr(room, constant, value)
    found = room.query_columns(inputs, options)
    assert [(name, each.dtype) for name, each in found.items()] == [
        (name, each.dtype) for name, each in expected.items()
    ]
    for name, column in expected.items():
        np.testing.assert_array_equal(found[name], column)


@pytest.mark.parametrize("size", [1, 4, 7, 1000])
def test_pieces_hold_each_slice_once_and_whole(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    code = np.random.default_rng(32).integers(0, 6, 20)
    slices = Slices(["a", "b", "c", "d", "e", None], np.concatenate([np.arange(6), code]))
    monkeypatch.setattr(room, "SLICED", size)
    pieces = list(room.in_pieces(slices))
    assert (len(pieces) == 1) == (size == 1000)
    assert [value for piece in pieces for value in piece.values] == slices.values
    queries = [part for piece in pieces for part in np.split(piece.queries, np.cumsum(piece.parts.sizes)[:-1])]
    assert [part.tolist() for part in queries] == [np.flatnonzero(slices.code == at).tolist() for at in range(6)]


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (([[1.0]] * 9 + [[math.nan]], [[1]] * 10), "predictions: query 9, position 0"),
        (({f"q{at}": {"a": 1.0} for at in range(10)}, {f"q{at}": {"a": -(at == 8)} for at in range(10)}), "query 'q8'"),
    ],
)
def test_a_fault_in_a_later_piece_names_its_query(
    monkeypatch: pytest.MonkeyPatch, wrong: tuple[Any, Any], place: str
) -> None:
    monkeypatch.setattr(room, "PIECE", 2)
    with pytest.raises(ValueError, match=place):
        room.query_columns(Inputs(*wrong), Options.parse())


RUN: dict[str, Any] = {"q2": {"a": 1.0, "b": 0.5}, "q1": {"a": 2.0}}
QRELS: dict[str, Any] = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}, "q3": {"a": 1}}


def test_queries_without_a_value_count_nowhere(ndcg: Metric) -> None:
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
        ({"a": [["a"], ["b"], []], "b": [["b"], ["b"], ["a"]]}, {"ideal": "truncated", "zero_division": math.nan}),
        ({"a": [["a"], ["b"], []], "b": [["b", "a"], ["b"], ["a"]]}, {"ideal": "retrieved", "zero_division": math.nan}),
    ],
)
def test_a_query_without_a_value_for_one_system_is_left_out_for_all(
    ndcg: Metric, systems: dict[str, Any], options: dict[str, Any]
) -> None:
    references = [["a"], ["b"], [] if "convention" in options else ["a"]]
    found = ndcg.compare(systems=systems, references=references, **options)
    for name, ranked in systems.items():
        (expected,) = ndcg.compute(predictions=ranked[:2], references=references[:2], **options).values()
        (score,) = found.scores[name].values()
        assert score.value == expected
    (pair,) = found.pairs
    assert pair.wins + pair.ties + pair.losses == 2


@pytest.mark.parametrize("ideal", ["judged", "truncated", "retrieved", "full"])
def test_nothing_is_relevant_where_nothing_judged_is_whatever_the_ideal(ndcg: Metric, ideal: str) -> None:
    ranked = {"predictions": [["a"], [], ["b"], []], "references": [["a"], ["a"], ["a"], []]}
    report = ndcg.report(**ranked, k=2, ideal=ideal)
    assert report.counts["nothing_relevant"] == 1
    assert report.counts["nothing_retrieved"] == 2


def test_a_report_counts_the_judgments_behind_the_scores(ndcg: Metric) -> None:
    report = ndcg.report(**SMALL, k=[1, 2, 5])
    kinds = ("queries", "nothing_relevant", "all_relevant", "nothing_retrieved", "left_out")
    assert report.counts == dict(zip(kinds, (4, 1, 0, 1, 0), strict=True))
    columns = ("query", "retrieved", "judged", "relevant", "unjudged@1", "unjudged@2")
    assert list(zip(*(report.queries[name].to_pylist() for name in columns), strict=True)) == [
        (0, 3, 3, 2, 0, 0),
        (1, 2, 2, 0, 0, 0),
        (2, 3, 3, 2, 0, 1),
        (3, 0, 2, 1, 0, 0),
    ]
    ranked = {name: (score.ranked, score.unjudged) for name, score in report.scores.items()}
    assert ranked == {"nDCG@1": (3, 0.0), "nDCG@2": (6, 1.0), "nDCG@5": (8, 1.0)}
    notes = (
        '1 of 4 judged queries is missing from the run and counted as 0; missing="skip" skips them.',
        "1 other query has fewer than 5 retrieved documents.",
        "The cutoff 5 has no effect: no query has more than 3 retrieved or judged documents.",
        "Few queries (4): below 10, intervals and tests may be wrong more often than their levels say.",
    )
    assert report.notes[:4] == notes
    assert "\n".join(notes[2:]) in str(report)


def test_documents_that_are_tied_at_the_cutoff_are_unjudged_in_expectation(ndcg: Metric) -> None:
    sides = {"predictions": [[1, 1, 1], [3, 2, 1]], "references": [[None, 1, None], [1, None, 0]], "k": 2}
    for options, unjudged, ranked in (({}, [2 * 2 / 3, 1], 4), ({"judged_only": True}, [0, 0], 3)):
        report = ndcg.report(**sides, **options)
        assert report.queries["unjudged@2"].to_pylist() == pytest.approx(unjudged)
        assert report.scores["nDCG@2"].ranked == ranked


def test_a_report_bounds_the_effect_of_the_order_of_ties(ndcg: Metric) -> None:
    first, second, third = (1 / math.log2(rank + 1) for rank in (1, 2, 3))
    report = ndcg.report(predictions=PREDICTIONS[:2], references=REFERENCES[:2], measures="DCG")
    score = report.scores["DCG"]
    assert (score.worst, score.best) == pytest.approx(((2 * second + third) / 2, (2 * first + third) / 2))
    assert score.tied == 1  # of the other query nothing is relevant, whatever its order
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, "k": [3, None]}
    report = ndcg.report(**inputs)
    for bound in ("worst", "best"):
        by_query = ndcg.compute(**inputs, ties=bound, use_aggregator=False)
        for name, value in ndcg.compute(**inputs, ties=bound).items():
            assert getattr(report.scores[name], bound) == value
            assert report.queries[f"{bound} {name}"].to_pylist() == by_query[name]
    assert 0 < report.scores["nDCG@3"].tied < report.scores["nDCG"].tied <= 60


@pytest.mark.parametrize("options", [{}, {"judged_only": True}, {"gain": "exponential", "ties": "last"}], ids=str)
def test_chance_is_the_mean_over_all_orders_of_the_documents(ndcg: Metric, options: dict[str, Any]) -> None:
    predictions, references = [[4, 3, 2, 1], [3, 2, 2, None]], [[0, 2, None, 1], [1, 0, 3, 2]]
    how: dict[str, Any] = {"k": [1, 2, None], "measures": ["nDCG", "DCG", "IDCG", "CG"], **options}
    report = ndcg.report(predictions=predictions, references=references, **how)
    for query, (scores, relevance) in enumerate(zip(predictions, references, strict=True)):
        missing = [each for each in scores if each is None]
        orders = [[*order, *missing] for order in itertools.permutations(range(len(scores) - len(missing)))]
        by_order = ndcg.compute(predictions=orders, references=[relevance] * len(orders), **how)
        for name, value in by_order.items():
            assert report.queries[f"random order {name}"][query].as_py() == pytest.approx(value)
    for name, score in report.scores.items():
        assert score.random_order == pytest.approx(np.mean(report.queries[f"random order {name}"].to_numpy()))


def test_chance_is_the_score_of_documents_that_are_all_tied(ndcg: Metric) -> None:
    how = {"references": RELEVANCE, **SEVERAL, "sample_weight": np.arange(60) % 5}
    tied = ndcg.compute(predictions=np.zeros_like(SYSTEMS["bm25"]), **how)
    for scores in ndcg.compare(systems=SYSTEMS, **how).scores.values():
        assert {name: score.random_order for name, score in scores.items()} == tied
    assert scores["nDCG@3"].ranked == 48 * 3  # not those of queries of weight 0


def test_a_query_without_a_value_is_null(ndcg: Metric) -> None:
    report = ndcg.report(**SMALL, zero_division=math.nan)
    assert report.queries["nDCG"].is_null().to_pylist() == [False, True, False, False]
    assert report.scores["nDCG"].value == ndcg.compute(**SMALL, zero_division=math.nan)["nDCG"]
    assert "NaN" not in json.dumps(report.to_dict())


@pytest.mark.parametrize(
    ("inputs", "ids"),
    [
        ({"predictions": RUN, "references": QRELS}, ["q1", "q2", "q3"]),
        ({"predictions": [1, 2, 3], "references": [0, 1, 1], "query_ids": [7, 5, 7]}, [7, 5]),
        ({"predictions": {1: {"a": 1.0}, "one": {}}, "references": {1: {"a": 1}, "one": {"a": 1}}}, ["1", "one"]),
        (
            {"predictions": [1, 2], "references": [1, 1], "query_ids": np.array([2**63, 5], np.uint64)},
            [str(2**63), "5"],
        ),
        ({"predictions": {2**70: {"a": 1.0}}, "references": {2**70: {"a": 1}}}, [str(2**70)]),
        ({"predictions": {"\ud800": {"a": 1.0}}, "references": {"\ud800": {"a": 1}}}, ["\\ud800"]),
        ({"predictions": {np.int64(3): {"a": 1.0}}, "references": {np.int64(3): {"a": 1}}}, [3]),
    ],
    ids=str,
)
def test_queries_have_their_ids(ndcg: Metric, inputs: dict[str, Any], ids: list[Any]) -> None:
    report = ndcg.report(**inputs)
    assert report.queries["query"].to_pylist() == ids
    assert json.loads(json.dumps(report.to_dict()))["queries"]["query"] == ids


def test_queries_of_files_have_their_ids(ndcg: Metric, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q2 Q0 a 1 1.0 t\nq2 Q0 b 2 0.5 t\nq1 Q0 a 1 2.0 t\n")
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 2\nq2 0 c 1\nq3 0 a 1\n")
    inputs = {"predictions": tmp_path / "run", "references": tmp_path / "qrels", "convention": "trec_eval"}
    report = ndcg.report(**inputs, k=2**64)
    columns = [report.queries[name].to_pylist() for name in ("query", "retrieved", f"nDCG@{2**64}")]
    assert columns[:2] == [["q1", "q2", "q3"], [1, 2, 0]]
    assert report.counts["nothing_retrieved"] == 1
    assert columns[2] == ndcg.compute(**inputs, use_aggregator=False)["nDCG"]


def test_a_base_below_1_keeps_the_order_of_bounds(ndcg: Metric) -> None:
    how = {"log_base": 0.5, "measures": ["DCG", "nDCG"]}
    report = ndcg.report(predictions=[[1, 1, 2], [2, 1, 1]], references=[[2, 0, 1], [0, 0, 1]], **how)
    assert report.counts["nothing_relevant"] == 0
    for score in report.scores.values():
        assert score.worst < score.value < score.best
        assert score.tied == 2


@pytest.mark.parametrize(("ties", "unjudged"), [("best", 0.0), ("worst", 1.0), ("average", 0.5), ("first", 0.0)])
def test_documents_are_unjudged_in_the_order_that_is_scored(ndcg: Metric, ties: str, unjudged: float) -> None:
    inputs = {"predictions": [[1, 1], [2, 1]], "references": [[1, None], [1, 0]], "k": 1}
    assert ndcg.report(**inputs, ties=ties).scores["nDCG@1"].unjudged == unjudged
