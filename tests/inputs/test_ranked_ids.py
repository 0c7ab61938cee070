"""Lists of document ids, best first: each library's numbers, every container, and what is refused."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from every_form import FRAMES


def discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def test_the_ideal_counts_every_relevant_id_retrieved_or_not(ndcg: evaluate.Metric) -> None:
    found = ndcg.compute(predictions=[["d3", "d1", "d7"]], references=[["d1", "d9"]])
    assert found == {"nDCG": pytest.approx(discount(2) / (discount(1) + discount(2)))}
    cut = ndcg.compute(predictions=[["d3", "d1", "d7"]], references=[["d1", "d9"]], k=1)
    assert cut == {"nDCG@1": 0.0}


def test_references_may_be_lists_sets_and_relevances(ndcg: evaluate.Metric) -> None:
    ranked = [["d3", "d1", "d7"], ["d2"], []]
    lists = [["d1", "d9"], ["d2"], ["d5"]]
    expected = ndcg.compute(predictions=ranked, references=lists, use_aggregator=False)
    assert expected["nDCG"][1:] == [1.0, 0.0]
    for references in (
        [set(row) for row in lists],
        [frozenset(row) for row in lists],
        [dict.fromkeys(row, 1) for row in lists],
        [set(lists[0]), lists[1], {"d5": 1}],
        tuple(map(tuple, lists)),
    ):
        assert ndcg.compute(predictions=ranked, references=references, use_aggregator=False) == expected


def test_relevances_are_graded(ndcg: evaluate.Metric) -> None:
    found = ndcg.compute(predictions=[["d3", "d1", "d7"]], references=[{"d1": 3, "d9": 1, "d7": 0}], k=3)
    assert found == {"nDCG@3": pytest.approx(3 * discount(2) / (3 * discount(1) + discount(2)))}


def test_integers_are_ids_beside_sets_and_mappings_and_scores_beside_lists(ndcg: evaluate.Metric) -> None:
    assert ndcg.compute(predictions=[[7, 9]], references=[{9}]) == {"nDCG": pytest.approx(discount(2))}
    assert ndcg.compute(predictions=[[7, 9]], references=[{9: 2, 7: 0}]) == {"nDCG": pytest.approx(discount(2))}
    assert ndcg.compute(predictions=[[7, 9]], references=[[0, 1]]) == {"nDCG": 1.0}  # scores and relevances
    top = np.array([[7, 9, 3], [2, 1, 0]])  # such as the indices of a top-k
    assert ndcg.compute(predictions=top, references=[{9}, {2}], use_aggregator=False) == {
        "nDCG": [pytest.approx(discount(2)), 1.0]
    }


def test_scores_by_id_may_stand_in_a_list(ndcg: evaluate.Metric) -> None:
    run = [{"d1": 0.5, "d2": 0.5, "d3": 0.9}, {"d1": 0.1}]
    qrels = [{"d1": 1, "d4": 2}, {"d1": 1}]
    expected = ndcg.compute(
        predictions=dict(enumerate(run)), references=dict(enumerate(qrels)), use_aggregator=False, k=2
    )
    assert ndcg.compute(predictions=run, references=qrels, use_aggregator=False, k=2) == expected
    assert 0 < expected["nDCG@2"][0] < 1


RANKED, RELEVANT = [["d3", "d1", "d7"], ["d2", "d4"]], [["d1", "d9"], ["d4"]]


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_id_lists_are_read_from_every_library(
    ndcg: evaluate.Metric, tmp_path: Path, frame: str, text: pa.DataType
) -> None:
    table = pa.table({"ranked": pa.array(RANKED, pa.list_(text)), "relevant": pa.array(RELEVANT, pa.large_list(text))})
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    data = FRAMES[frame](table, tmp_path)
    assert ndcg.compute(data=data, predictions="ranked", references="relevant") == expected
    assert 0 < expected["nDCG"] < 1


def test_rows_may_be_arrays_of_text(ndcg: evaluate.Metric) -> None:
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    for kind in (str, object):
        rows = [np.array(row, kind) for row in RANKED]
        assert ndcg.compute(predictions=rows, references=RELEVANT) == expected
        column = np.empty(len(rows), object)  # as pandas 2 holds lists that it has from Arrow
        column[:] = rows
        assert ndcg.compute(predictions=column, references=RELEVANT) == expected
    square = np.array([["d1", "d2"], ["d2", "d1"]])
    assert ndcg.compute(predictions=square, references=[["d1"], ["d1"]]) == {
        "nDCG": pytest.approx((1 + discount(2)) / 2)
    }


def test_batches_of_ids_are_counted_by_position(fresh_metric: MetricFactory, ndcg: evaluate.Metric) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=RANKED[:1], references=RELEVANT[:1])
    metric.add_batch(predictions=RANKED[1:], references=[{"d4"}])
    metric.add(prediction=["d1"], reference={"d1": 1})
    assert len(metric) == 3
    values = ndcg.compute(predictions=RANKED, references=RELEVANT, use_aggregator=False)["nDCG"]
    assert metric.compute(use_aggregator=False) == {"nDCG": [*values, 1.0]}


def test_reports_and_comparisons_take_ids(ndcg: evaluate.Metric) -> None:
    report = ndcg.report(predictions=RANKED, references=RELEVANT)
    assert report.scores["nDCG"].value == ndcg.compute(predictions=RANKED, references=RELEVANT)["nDCG"]
    assert report.scores["nDCG"].unjudged == 3
    systems = {"a": RANKED, "b": [["d1", "d9"], ["d4"]]}
    comparison = ndcg.compare(systems=systems, references=RELEVANT, resamples=50)
    assert (comparison.pairs[0].wins, comparison.pairs[0].losses) == (0, 2)


def test_a_negative_relevance_is_named_by_its_id(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="references: query 1, document 'd1': the relevance -1"):
        ndcg.compute(predictions=[["d1"], ["d1"]], references=[{"d1": 1}, {"d1": -1}])


TWICE = "already; give it once for a query"
NO_ID = "an id must be text or an integer; got {}; if either side holds text, sets or mappings, both are ids: "
NO_ID += "predictions best first, or {{id: score}}"
NO_LIST = "must be a list of ids, a set or a mapping; got 'd1'"
ONE_TYPE = "give ids as all text or all integers, scores and relevances as numbers"
NO_ORDER = "predictions: query 0: a set has no order; give a list of ids, best first"
NOT_MAPPED = (
    "predictions: query 'q': must map documents to numbers; got list; for the columns of a table give data=, or "
    "query_ids and document_ids besides; for ranked ids a list of lists in the order of the queries"
)
Fault = tuple[Any, Any, str]  # predictions, references, and what the error says
COLUMN_FAULTS: dict[str, Fault] = {
    "retrieved twice": (
        [["d1"], ["d3", "d1", "d3"]],
        [["d1"], ["d1"]],
        f"predictions: query 1, position 2: document 'd3' is in position 0 {TWICE}",
    ),
    "relevant twice": (
        [["d1"]],
        [["d1", "d2", "d1"]],
        f"references: query 0, position 2: document 'd1' is in position 0 {TWICE}",
    ),
    "no id": ([["d1", None]], [["d1"]], f"predictions: query 0, position 1: {NO_ID.format(None)}"),
    "no relevant id": ([["d1"]], [["d2", None]], f"references: query 0, position 1: {NO_ID.format(None)}"),
    "no ranking": ([["d1"], None], [["d1"]] * 2, "predictions: query 1: is None; give [] if there is no document"),
    "no judgment": ([["d1"], ["d2"]], [None, ["d1"]], "references: query 0: is None; give [] if there is no document"),
}
FAULTS: dict[str, Fault] = {
    **COLUMN_FAULTS,
    "an integer twice": ([[3, 3]], [{3}], f"predictions: query 0, position 1: document 3 is in position 0 {TWICE}"),
    "a query more": (
        [["d1"], ["d2"]],
        [["d1"]],
        "predictions hold 2 queries and references 1; give both for every query",
    ),
    "a judgment more": (
        [["d1"]],
        [None, ["d1"]],
        "predictions hold 1 queries and references 2; give both for every query",
    ),
    "a fraction": ([["d1", 0.5]], [["d1"]], f"predictions: query 0, position 1: {NO_ID.format(0.5)}"),
    "a truth value": ([["d1", True]], [["d1"]], f"predictions: query 0, position 1: {NO_ID.format(True)}"),
    "scores beside ids": ([[0.9, 0.1]], [{"d1"}], f"predictions: query 0, position 0: {NO_ID.format(0.9)}"),
    "a mapping to lists": ({"q": ["d1"]}, [{"d1"}], NOT_MAPPED),
    "a mapping to lists beside a mapping": ({"q": ["d1"]}, {"q": {"d1": 1}}, NOT_MAPPED),
    "by ids and by position": (
        {"q": {"d1": 1}},
        [{"d1"}],
        "predictions are by ids and references by position (list); give both in one way",
    ),
    "one ranking": (["d1"], [{"d1"}], f"predictions: query 0: {NO_LIST}"),
    "one judgment": ([["d1"]], ["d1"], f"references: query 0: {NO_LIST}"),
    "a set": ([{"d1", "d2"}], [["d1"]], NO_ORDER),
    "a frozen set": ([frozenset({"d1"})], [{"d1"}], NO_ORDER),
    "ids of two types": (
        [["d1", "d2"], ["3"]],
        [{"d1"}, {3}],
        "ids must be all text or all integers; got 'd1' in predictions, query 0, and 3 in references, query 1",
    ),
    "ids of two types in one query": (
        [["1", "2"]],
        [{1: 1}],
        "ids must be all text or all integers; got '1' in predictions, query 0, and 1 in references, query 0",
    ),
    "integers in lists": (
        [[7, 9, 3]],
        [[7, 3]],
        "query 0: 3 predictions and 2 references; give both for every document, None for the score of one not "
        "retrieved or the relevance of one not judged; or, if these are document ids, give the references as sets",
    ),
    "text for a relevance": (
        [["d1"]],
        [{"d1": "2"}],
        "references: query 0, document 'd1': '2' is not a number; give a number or None",
    ),
    "text for scores": (
        [["0.9", "0.1"]],
        [[1.0, 0.0]],
        "predictions: query 0, position 0: '0.9' is not a number; give a number or None",
    ),
    "text beside integers": ([["d1", "d2"]], [[1, 2]], f"predictions hold text and references integers; {ONE_TYPE}"),
    "integers beside text": ([[1, 2]], [["d1"]], f"predictions hold integers and references text; {ONE_TYPE}"),
    "a grid of integers beside text": (
        np.array([[1, 2]]),
        np.array([["d1", "d2"]]),
        f"predictions hold integers and references text; {ONE_TYPE}",
    ),
    "a column of integers beside text": (
        pa.array([["d1"]]),
        pa.array([[1]]),
        f"predictions hold text and references integers; {ONE_TYPE}",
    ),
}


def assert_refused(metric: evaluate.Metric, inputs: Callable[[], dict[str, Any]], message: str) -> None:
    """Every method refuses the inputs in the same words and leaves the metric what was added before."""
    metric.add_batch(predictions=[["d1"]], references=[["d1"]])
    for method in (metric.compute, metric.report, metric.add_batch):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            method(**inputs())
        assert len(metric) == 1
    assert metric.compute() == {"nDCG": 1.0}


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_ids_are_refused(fresh_metric: MetricFactory, fault: str) -> None:
    predictions, references, message = FAULTS[fault]
    given = {"predictions": predictions, "references": references}
    assert_refused(fresh_metric(keep_in_memory=True), lambda: given, message)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("fault", COLUMN_FAULTS)
def test_wrong_ids_are_refused_alike_in_every_library(
    fresh_metric: MetricFactory, tmp_path: Path, fault: str, frame: str
) -> None:
    predictions, references, message = COLUMN_FAULTS[fault]
    table = pa.table({"ranked": predictions, "relevant": references})
    names = {"predictions": "ranked", "references": "relevant"}
    metric = fresh_metric(keep_in_memory=True)
    assert_refused(metric, lambda: {"data": FRAMES[frame](table, tmp_path), **names}, message)


def test_queries_of_no_ids_retrieved_nothing(ndcg: evaluate.Metric) -> None:
    empty = {"predictions": [[], []], "references": [[], ["d1"]]}
    assert ndcg.compute(**empty, use_aggregator=False) == {"nDCG": [0.0, 0.0]}
