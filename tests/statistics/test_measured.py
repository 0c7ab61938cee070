"""Each query has counts of documents, its value and the best, worst and random one, and its id."""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from evaluate import Metric
from refusals import refusal
from systems import PREDICTIONS, REFERENCES, RELEVANCE, SMALL, SYSTEMS

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
    "grids without ties": (np.argsort(SYSTEMS["bm25"], axis=1) / 10, RELEVANCE),
    "lists of several lengths": (
        [(RNG.permutation(size) / 10).tolist() for size in LENGTHS],
        GRADES,
    ),
    "lists with ties": (TIED, GRADES),
    "lists of documents that were not retrieved": (
        [[-np.inf, *row[1:-1], None][-len(row) :] for row in TIED],
        GRADES,
    ),
    "documents that were not judged": (PREDICTIONS, REFERENCES),
    "ids": (
        {"q1": {"a": 0.5, "b": 0.5, "c": 0.1}, "q3": {"a": 0.3, "x": 0.2}},
        {"q1": {"b": 1, "d": 2}, "q2": {"a": 1}, "q3": {"a": 1, "c": 0}},
    ),
}


@pytest.mark.parametrize(("constant", "value"), [("PIECE", 1), ("PIECE", 5), ("SORTED", 0)])
@pytest.mark.parametrize("rankings", FORMATS)
def test_queries_are_described_alike_in_pieces_of_any_size_and_of_however_few_documents(
    monkeypatch: pytest.MonkeyPatch, rankings: str, constant: str, value: int
) -> None:
    inputs = Inputs(*FORMATS[rankings])
    options = [
        Options.parse(measures=["nDCG", "CG"], k=[1, 3], ties=each, ideal="truncated")
        for each in TIES
    ]
    expected = [room.query_columns(inputs, each, pytest.fail) for each in options]
    monkeypatch.setattr(room, constant, value)
    for columns, each in zip(expected, options, strict=True):
        found = room.query_columns(inputs, each, pytest.fail)
        np.testing.assert_equal(found, columns)
        assert [column.dtype for column in found.values()] == [
            column.dtype for column in columns.values()
        ]


def test_each_slice_has_its_queries_in_their_order() -> None:
    code = np.random.default_rng(32).integers(0, 6, 20)
    slices = Slices(["a", "b", "c", "d", "e", None], np.concatenate([np.arange(6), code]))
    found = dict(room.in_slices({"at": np.arange(26)}, slices))
    assert list(found) == slices.values
    of_slices = [np.flatnonzero(slices.code == at).tolist() for at in range(6)]
    assert [own["at"].tolist() for own in found.values()] == of_slices


def test_a_fault_in_a_later_piece_names_its_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PIECE", 2)
    inputs = Inputs([[1.0, 0.5]] * 9 + [[math.nan, 0.5]], [[1, 0]] * 10)
    with refusal("predictions", "query 9, position 0"):
        room.query_columns(inputs, Options.parse(), pytest.fail)


@pytest.mark.filterwarnings("ignore:.*missing from the run:UserWarning")
def test_queries_without_a_value_count_nowhere(ndcg: Metric) -> None:
    run = {"q1": {"a": 3, "b": 2, "x": 1}, "q3": {"a": 1, "b": 2}}
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"b": 1}, "q4": {"b": 1}}
    for missing, left_out in (("empty", 0), ("skip", 2)):
        report = ndcg.report(predictions=run, references=qrels, missing=missing)
        assert (report.counts["nothing_relevant"], report.counts["left_out"]) == (1, left_out)
        assert (report.scores["nDCG"].ranked, report.scores["nDCG"].unjudged) == (5, 3)
    other = {"q1": {"c": 1}, "q2": {"a": 1}, "q3": {"a": 3, "b": 2, "x": 1}}
    found = ndcg.compare(systems={"a": run, "b": other}, references=qrels, missing="skip")
    assert [scores["nDCG"].ranked for scores in found.scores.values()] == [
        5,
        4,
    ]  # of q1 and q3, which both have


@pytest.mark.parametrize(
    ("systems", "options"),
    [
        (
            {"a": [["a", "b"], ["a", "b"], []], "b": [["b", "a"], ["b", "a"], ["x"]]},
            {"convention": "beir", "k": 3},
        ),
        (
            {"a": [["a"], ["b"], []], "b": [["b"], ["b"], ["a"]]},
            {"ideal": "truncated", "zero_division": math.nan},
        ),
        (
            {"a": [["a"], ["b"], []], "b": [["b", "a"], ["b"], ["a"]]},
            {"ideal": "retrieved", "zero_division": math.nan},
        ),
    ],
)
def test_a_query_without_a_value_for_one_system_is_left_out_for_all(
    ndcg: Metric, systems: dict[str, Any], options: dict[str, Any]
) -> None:
    references = [["a"], ["b"], [] if "convention" in options else ["a"]]
    found = ndcg.compare(systems=systems, references=references, **options)
    for name, ranked in systems.items():
        (expected,) = ndcg.compute(
            predictions=ranked[:2], references=references[:2], **options
        ).values()
        (score,) = found.scores[name].values()
        assert score.value == expected
    (pair,) = found.pairs
    assert pair.wins + pair.ties + pair.losses == 2


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
        (
            '1 of 4 judged queries is missing from the run and counted as 0; missing="skip" skips '
            "them."
        ),
        "Queries with fewer than 5 retrieved documents, and not all judged ones: 1.",
        (
            "Few queries (4): below 10, intervals and tests may be wrong more often than their "
            "levels say."
        ),
    )
    assert report.notes[:3] == notes
    assert "\n".join(notes[2:]) in str(report)


@pytest.mark.parametrize(
    ("options", "unjudged", "ranked"),
    [
        ({}, [2 * 2 / 3, 1], 4),
        ({"judged_only": True}, [0, 0], 3),
        ({"ties": "best"}, [1, 1], 4),
        ({"ties": "worst"}, [2, 1], 4),
        ({"ties": "first"}, [1, 1], 4),
    ],
)
def test_documents_that_are_tied_at_the_cutoff_are_unjudged_in_the_order_that_is_scored(
    ndcg: Metric, options: dict[str, Any], unjudged: list[float], ranked: int
) -> None:
    sides = {
        "predictions": [[1, 1, 1], [3, 2, 1]],
        "references": [[None, 1, None], [1, None, 0]],
        "k": 2,
    }
    report = ndcg.report(**sides, **options)
    assert report.queries["unjudged@2"].to_pylist() == pytest.approx(unjudged)
    assert report.scores["nDCG@2"].ranked == ranked


def test_a_report_bounds_the_effect_of_the_order_of_ties(ndcg: Metric) -> None:
    first, second, third = (1 / math.log2(rank + 1) for rank in (1, 2, 3))
    report = ndcg.report(predictions=PREDICTIONS[:2], references=REFERENCES[:2], measures="DCG")
    score = report.scores["DCG"]
    assert (score.worst, score.best) == pytest.approx(
        ((2 * second + third) / 2, (2 * first + third) / 2)
    )
    assert score.tied == 1  # of the other query nothing is relevant, whatever its order
    inputs = {"predictions": SYSTEMS["bm25"], "references": RELEVANCE, "k": [3, None]}
    report = ndcg.report(**inputs)
    for bound in ("worst", "best"):
        by_query = ndcg.compute(**inputs, ties=bound, use_aggregator=False)
        for name, value in ndcg.compute(**inputs, ties=bound).items():
            assert getattr(report.scores[name], bound) == value
            assert report.queries[f"{bound} {name}"].to_pylist() == by_query[name]
    assert 0 < report.scores["nDCG@3"].tied < report.scores["nDCG"].tied <= 60


@pytest.mark.parametrize(
    "options", [{}, {"judged_only": True}, {"gain": "exponential", "ties": "last"}], ids=str
)
def test_chance_is_the_mean_over_all_orders_of_the_documents(
    ndcg: Metric, options: dict[str, Any]
) -> None:
    predictions, references = [[4, 3, 2, 1], [3, 2, 2, None]], [[0, 2, None, 1], [1, 0, 3, 2]]
    how: dict[str, Any] = {"k": [1, 2, None], "measures": ["nDCG", "DCG", "IDCG", "CG"], **options}
    report = ndcg.report(predictions=predictions, references=references, **how)
    for query, (scores, relevance) in enumerate(zip(predictions, references, strict=True)):
        missing = [each for each in scores if each is None]
        orders = [
            [*order, *missing]
            for order in itertools.permutations(range(len(scores) - len(missing)))
        ]
        by_order = ndcg.compute(
            predictions=orders,
            references=[relevance] * len(orders),
            score_order="descending",
            **how,
        )
        for name, value in by_order.items():
            assert report.queries[f"random order {name}"][query].as_py() == pytest.approx(value)
    for name, score in report.scores.items():
        assert score.random_order == pytest.approx(
            np.mean(report.queries[f"random order {name}"].to_numpy())
        )


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        (["q1", "q2"], ["q1", "q2"]),
        ([1, "one"], ["1", "one"]),
        ([2**70], [str(2**70)]),
        (["\ud800"], ["\\ud800"]),
        ([np.int64(3)], [3]),
    ],
)
def test_queries_have_their_ids(ndcg: Metric, ids: list[Any], shown: list[Any]) -> None:
    side = {query: {"a": 1} for query in ids}
    report = ndcg.report(predictions=side, references=side)
    assert report.queries["query"].to_pylist() == shown
    assert json.loads(json.dumps(report.to_dict()))["queries"]["query"] == shown


@pytest.mark.parametrize(
    ("ids", "shown"), [([7, 5], [7, 5]), (np.array([2**63, 5], np.uint64), [str(2**63), "5"])]
)
def test_queries_of_rows_have_their_ids(ndcg: Metric, ids: Any, shown: list[Any]) -> None:
    report = ndcg.report(predictions=[1, 2], references=[1, 1], query_ids=ids)
    assert report.queries["query"].to_pylist() == shown


def test_a_base_below_1_keeps_the_order_of_bounds(ndcg: Metric) -> None:
    how = {"log_base": 0.5, "measures": ["DCG", "nDCG"]}
    report = ndcg.report(
        predictions=[[1, 1, 2], [2, 1, 1]], references=[[2, 0, 1], [0, 0, 1]], **how
    )
    assert report.counts["nothing_relevant"] == 0
    for score in report.scores.values():
        assert score.worst < score.value < score.best
        assert score.tied == 2
