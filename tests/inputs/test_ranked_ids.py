"""Lists of document ids, best first, score by rank, and wrong ids are named at every method."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from evaluate import Metric
from refusals import refusal
from sources import TABLES


def discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


IDEAL = 3 * discount(1) + discount(2)


@pytest.mark.parametrize(
    ("predictions", "references", "values"),
    [
        ([[7, 9]], [{9}], [discount(2)]),
        ([[7, 9]], [{9: 2, 7: 0}], [discount(2)]),
        ([[7, 9]], [[0, 1]], [1]),  # scores and relevances
        (
            np.array([[7, 9, 3], [2, 1, 0]]),
            [{9}, {2}],
            [discount(2), 1],
        ),  # such as the indices of a top-k
        ({1: [7, 9]}, {1: {9}}, [discount(2)]),
        ({1: [7, 9]}, {1: {9: 3}}, [discount(2)]),
        ({1: [7, -1]}, {1: [9, 7, -1, -1]}, [1 / (1 + discount(2))]),  # -1 is no document
        (
            [["d3", "d1"], ["d2"], []],
            [{"d1": 3, "d9": 1, "d3": 0}, ["d2"], {"d5": 1}],
            [3 * discount(2) / IDEAL, 1, 0],
        ),
        (
            [{"d1": 0.5, "d3": 0.9}, {"d1": 0.1}],
            [{"d1": 3, "d4": 1}, {"d1": 1}],
            [3 * discount(2) / IDEAL, 1],
        ),
        (np.array([["d1", "d2"], ["d2", "d1"]]), [["d1"], ["d1"]], [1, discount(2)]),
    ],
)
def test_ids_are_ranked_next_to_sets_and_mappings_and_scores_next_to_lists(
    ndcg: Metric, predictions: Any, references: Any, values: list[float]
) -> None:
    found = ndcg.compute(predictions=predictions, references=references, use_aggregator=False)
    assert found == {"nDCG": pytest.approx(values)}


RANKED, RELEVANT = [["d3", "d1", "d7"], ["d2", "d4"]], [["d1", "d9"], ["d4"]]


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("frame", TABLES)
def test_columns_of_id_lists_are_read_from_every_library(
    ndcg: Metric, tmp_path: Path, frame: str, text: pa.DataType
) -> None:
    table = pa.table(
        {
            "ranked": pa.array(RANKED, pa.list_(text)),
            "relevant": pa.array(RELEVANT, pa.large_list(text)),
        }
    )
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    data = TABLES[frame](table, tmp_path)
    assert ndcg.compute(data=data, predictions="ranked", references="relevant") == expected
    assert 0 < expected["nDCG"] < 1


def test_rows_may_be_arrays_of_text(ndcg: Metric) -> None:
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    for kind in (str, object):
        rows = [np.array(row, kind) for row in RANKED]
        column = np.empty(len(rows), object)  # as pandas 2 holds lists that it has from Arrow
        column[:] = rows
        assert [ndcg.compute(predictions=each, references=RELEVANT) for each in (rows, column)] == [
            expected
        ] * 2


def test_batches_of_ids_are_counted_by_position(fresh_metric: MetricFactory, ndcg: Metric) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=RANKED[:1], references=RELEVANT[:1])
    metric.add_batch(predictions=RANKED[1:], references=[{"d4"}])
    metric.add(prediction=["d1"], reference={"d1": 1})
    assert len(metric) == 3
    values = ndcg.compute(predictions=RANKED, references=RELEVANT, use_aggregator=False)["nDCG"]
    assert metric.compute(use_aggregator=False) == {"nDCG": [*values, 1.0]}


Fault = tuple[Any, Any, str, str]  # predictions, references, the argument and the place at fault
COLUMN_FAULTS: list[Fault] = [
    ([["d1"], ["d3", "d3"]], [["d1"]] * 2, "predictions", "query 1, position 1"),
    ([["d1"]], [["d1", "d2", "d1"]], "references", "query 0, position 2"),
    ([["d1", None]], [["d1"]], "predictions", "query 0, position 1"),
    ([["d1"]], [["d2", None]], "references", "query 0, position 1"),
]
FAULTS: list[Fault] = [
    *COLUMN_FAULTS,
    ([[3, 3]], [{3}], "predictions", "query 0, position 1"),
    ([["d1"], ["d2"]], [["d1"]], "predictions", "queries, 2 and 1"),
    ([["d1"]], [None, ["d1"]], "predictions", "queries, 1 and 2"),
    ([["d1", 0.5]], [["d1"]], "predictions", "query 0, position 1"),
    ([["d1", True]], [["d1"]], "predictions", "query 0, position 1"),
    ([[0.9, 0.1]], [{"d1"}], "predictions", "document_ids"),
    ({"q": ["d1"]}, [{"d1"}], "references", "query_ids"),
    ({"q": {"d1": 1}}, [{"d1"}], "references", "query_ids"),
    ({"q": [0.9, 0.1]}, {"q": {"d1": 1}}, "predictions", "query 'q', position 0"),
    ({"qid": ["a"], "score": [2]}, {"q": {"a": 1}}, "predictions", "'score' (2)"),
    ({"q": ["d1", "d1"]}, {"q": {"d1"}}, "predictions", "query 'q', position 1"),
    ({"q": {"d1"}}, {"q": {"d1": 1}}, "predictions", "query 'q'"),
    ({"q": "d1"}, {"q": {"d1": 1}}, "predictions", "query 'q'"),
    ({None: ["d1"]}, {"q": {"d1": 1}}, "predictions", "None"),
    ({None: ["d1"], "q": ["d1"]}, {"q": {"d1": 1}}, "predictions", "query None"),
    ({"q": ["d1"]}, {"q": {1}}, "predictions", "query 'q'"),
    ({"q": ["d1"], "r": ["3"]}, {"q": {"d1"}, "r": {3}}, "predictions", "query 'r'"),
    (["d1"], [{"d1"}], "predictions", "predictions=[predictions]"),
    ([["d1"]], ["d1"], "references", "references=[references]"),
    ([["d1"]] * 2, ["d1"] * 2, "references", "[{x} for x in references]"),
    ([{"d1", "d2"}], [["d1"]], "predictions", "query 0"),
    ([frozenset({"d1"})], [{"d1"}], "predictions", "query 0"),
    ([["d1", "d2"], ["3"]], [{"d1"}, {3}], "predictions", "query 1"),
    ([["1", "2"]], [{1: 1}], "predictions", "query 0"),
    ([["d1"]], [{"d1": "2"}], "references", "'d1' ('2')"),
    ([["0.9", "0.1"]], [[1.0, 0.0]], "references", "'0.9'"),
    ([["d1", "d2"]], [[1, 2]], "references", "set(row)"),
    (pa.array([["d1"]]), pa.array([[1]]), "references", "set(row)"),
    ([[1, 2]], [["d1"]], "predictions", "query 0"),
    (np.array([[1, 2]]), np.array([["d1", "d2"]]), "predictions", "query 0"),
]


def assert_refused(
    metric: Metric, inputs: Callable[[], dict[str, Any]], argument: str, place: str
) -> None:
    """Every method names the same argument and place, and leaves earlier batches intact."""
    metric.add_batch(predictions=[["d1"]], references=[["d1"]])
    for method in (metric.compute, metric.report, metric.add_batch):
        with pytest.raises(ValueError, match=re.escape(place)) as said:
            method(**inputs())
        assert said.value.argument == argument  # type: ignore[attr-defined]
        assert len(metric) == 1
    assert metric.compute() == {"nDCG": 1.0}


@pytest.mark.parametrize(("predictions", "references", "argument", "place"), FAULTS)
def test_wrong_ids_are_rejected(
    fresh_metric: MetricFactory, predictions: Any, references: Any, argument: str, place: str
) -> None:
    inputs = {"predictions": predictions, "references": references}
    assert_refused(fresh_metric(keep_in_memory=True), lambda: inputs, argument, place)


@pytest.mark.parametrize("library", TABLES)
@pytest.mark.parametrize(("predictions", "references", "argument", "place"), COLUMN_FAULTS)
def test_wrong_ids_are_rejected_alike_in_every_library(
    fresh_metric: MetricFactory,
    tmp_path: Path,
    predictions: Any,
    references: Any,
    argument: str,
    place: str,
    library: str,
) -> None:
    sides = zip(predictions, references, strict=True)
    rows = [{"ranked": ranked, "relevant": relevant} for ranked, relevant in sides]
    names = {"predictions": "ranked", "references": "relevant"}

    def inputs() -> dict[str, Any]:
        return {"data": TABLES[library](pa.Table.from_pylist(rows), tmp_path), **names}

    assert_refused(fresh_metric(keep_in_memory=True), inputs, argument, place)


def test_other_numbers_of_documents_may_be_ids(ndcg: Metric) -> None:
    with refusal("query 0: predictions and references differ in length, 3 and 2"):
        ndcg.compute(predictions=[[7, 9, 3]], references=[[7, 3]])


@pytest.mark.parametrize("make", [list, lambda rows: dict(zip("qr", rows, strict=True))])
def test_none_is_an_empty_list(ndcg: Metric, make: Callable[[Any], Any]) -> None:
    values = ndcg.compute(
        predictions=make([["d1"], None]), references=make([["d1"]] * 2), use_aggregator=False
    )
    assert values == {"nDCG": [1.0, 0.0]}
    values = ndcg.compute(
        predictions=make([["d1"]] * 2), references=make([["d1"], None]), use_aggregator=False
    )
    assert values == {"nDCG": [1.0, 0.0]}


def test_a_negative_relevance_is_named_by_its_id(ndcg: Metric) -> None:
    references = [{"d1": 1}, {"d1": -1, "d2": 1}]
    with refusal("references", "query 1, document 'd1'"):
        ndcg.compute(predictions=[["d1"], ["d1"]], references=references)


# --- By query -------------------------------------------------------------------------------------

RANKED_BY_QUERY = {"u1": ["d3", "d1", "d7"], "u2": ["d2", "d4"], "u3": []}
RELEVANT_BY_QUERY = {"u2": {"d4"}, "u1": {"d1", "d9"}, "u3": {"d5"}}


def test_ranked_ids_by_query_are_scored_by_hand(ndcg: Metric) -> None:
    found = ndcg.compute(
        predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY, use_aggregator=False
    )
    of_u1 = discount(2) / (discount(1) + discount(2))
    assert found == {"nDCG": pytest.approx([discount(2), of_u1, 0.0])}


@pytest.mark.parametrize(
    "relevant", [list, tuple, set, frozenset, lambda ids: dict.fromkeys(ids, 1)]
)
@pytest.mark.parametrize(
    "ranked", [list, tuple, np.array, lambda ids: np.array(ids, object), pa.array]
)
def test_queries_hold_ids_in_any_container(
    ndcg: Metric, ranked: Callable[[Any], Any], relevant: Callable[[Any], Any]
) -> None:
    predictions = {query: ranked(ids) if ids else ids for query, ids in RANKED_BY_QUERY.items()}
    references = {query: relevant(sorted(ids)) for query, ids in RELEVANT_BY_QUERY.items()}
    expected = ndcg.compute(predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY)
    assert ndcg.compute(predictions=predictions, references=references) == expected
    assert 0 < expected["nDCG"] < 1


@pytest.mark.parametrize("run_id", [str, UUID])
@pytest.mark.parametrize("qrels_id", [str, UUID])
def test_uuids_in_lists_and_hits_are_text(run_id: Any, qrels_id: Any, ndcg: Metric) -> None:
    ids = [str(UUID(int=number)) for number in range(3)]
    ranked = list(map(run_id, ids))
    qrels = {"q": [qrels_id(ids[1])]}
    for run in (ranked, [{"uuid": document, "score": -at} for at, document in enumerate(ranked)]):
        found = ndcg.compute(predictions={"q": run}, references=qrels)
        assert found == {"nDCG": pytest.approx(discount(2))}


def test_ids_by_query_score_against_mappings_and_files(ndcg: Metric, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("u1 0 d1 1\nu1 0 d9 1\nu2 0 d4 1\nu3 0 d5 1\n")
    run.write_text(
        "u1 Q0 d3 1 3 t\nu1 Q0 d1 2 2 t\nu1 Q0 d7 3 1 t\nu2 Q0 d2 1 2 t\nu2 Q0 d4 2 1 t\n"
    )
    expected = ndcg.compute(predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY)
    assert ndcg.compute(predictions=RANKED_BY_QUERY, references=qrels) == expected
    assert ndcg.compute(predictions=run, references=RELEVANT_BY_QUERY) == expected


def test_queries_keep_their_ids_in_reports_comparisons_and_batches(
    ndcg: Metric, fresh_metric: MetricFactory
) -> None:
    expected = ndcg.compute(
        predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY, use_aggregator=False
    )
    report = ndcg.report(
        predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY, by={"u1": 1, "u2": 2, "u3": 2}
    )
    assert report.queries["query"].to_pylist() == ["u2", "u1", "u3"]
    assert report.queries["nDCG"].to_pylist() == expected["nDCG"]
    assert report.scores["nDCG"].unjudged == 3
    systems = {
        "a": RANKED_BY_QUERY,
        "b": {query: ids[::-1] for query, ids in RANKED_BY_QUERY.items()},
    }
    comparison = ndcg.compare(systems=systems, references=RELEVANT_BY_QUERY)
    assert comparison.queries["query"].to_pylist() == ["u2", "u1", "u3"] * 2
    assert (comparison.pairs[0].wins, comparison.pairs[0].losses) == (0, 1)
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions={"u2": ["d2", "d4"]}, references={"u2": {"d4"}})
    with refusal("query 'u2' was added before"):
        metric.add_batch(predictions={"u2": ["d2"]}, references={"u2": ["d4"]})
    metric.add_batch(predictions=RANKED_BY_QUERY, references={"u1": ["d1", "d9"], "u3": ["d5"]})
    assert metric.compute(use_aggregator=False) == expected
