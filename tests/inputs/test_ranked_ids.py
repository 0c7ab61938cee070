"""Lists of document ids, best first, score by rank in every container, and wrong ids are named at every method."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from evaluate import Metric
from every_form import FRAMES


def discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


IDEAL = 3 * discount(1) + discount(2)


@pytest.mark.parametrize(
    ("predictions", "references", "values"),
    [
        ([[7, 9]], [{9}], [discount(2)]),
        ([[7, 9]], [{9: 2, 7: 0}], [discount(2)]),
        ([[7, 9]], [[0, 1]], [1]),  # scores and relevances
        (np.array([[7, 9, 3], [2, 1, 0]]), [{9}, {2}], [discount(2), 1]),  # such as the indices of a top-k
        ({1: [7, 9]}, {1: {9}}, [discount(2)]),
        ({1: [7, 9]}, {1: {9: 3}}, [discount(2)]),
        ([["d3", "d1"], ["d2"], []], [{"d1": 3, "d9": 1, "d3": 0}, ["d2"], {"d5": 1}], [3 * discount(2) / IDEAL, 1, 0]),
        ([{"d1": 0.5, "d3": 0.9}, {"d1": 0.1}], [{"d1": 3, "d4": 1}, {"d1": 1}], [3 * discount(2) / IDEAL, 1]),
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
@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_id_lists_are_read_from_every_library(
    ndcg: Metric, tmp_path: Path, frame: str, text: pa.DataType
) -> None:
    table = pa.table({"ranked": pa.array(RANKED, pa.list_(text)), "relevant": pa.array(RELEVANT, pa.large_list(text))})
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    data = FRAMES[frame](table, tmp_path)
    assert ndcg.compute(data=data, predictions="ranked", references="relevant") == expected
    assert 0 < expected["nDCG"] < 1


def test_rows_may_be_arrays_of_text(ndcg: Metric) -> None:
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    for kind in (str, object):
        rows = [np.array(row, kind) for row in RANKED]
        column = np.empty(len(rows), object)  # as pandas 2 holds lists that it has from Arrow
        column[:] = rows
        assert [ndcg.compute(predictions=each, references=RELEVANT) for each in (rows, column)] == [expected] * 2


def test_batches_of_ids_are_counted_by_position(fresh_metric: MetricFactory, ndcg: Metric) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=RANKED[:1], references=RELEVANT[:1])
    metric.add_batch(predictions=RANKED[1:], references=[{"d4"}])
    metric.add(prediction=["d1"], reference={"d1": 1})
    assert len(metric) == 3
    values = ndcg.compute(predictions=RANKED, references=RELEVANT, use_aggregator=False)["nDCG"]
    assert metric.compute(use_aggregator=False) == {"nDCG": [*values, 1.0]}


TWICE = "already; give it once for a query"
WRONG_ID = "{}; if one argument has text, sets or mappings, both must be ids: predictions best first, or {{id: score}}"
NO_ID = "an id must be text or an integer; got " + WRONG_ID
NO_LIST = "is the text 'd1', not documents; for a single query, wrap it in a list"
NO_ORDER = "predictions: query 0: a set has no order; give a list of ids, best first"
NO_DOCUMENTS = "query 1 is None; give [] if there is no document"
MORE_QUERIES = "predictions hold {} queries and references {}; give both for every query"
TWO_TYPES = "ids must be all text or all integers; got {} in predictions, query 0, and {} in references, query {}"
ONE_TYPE = "{}; give ids as all text or all integers, scores and relevances as numbers"
TEXT_FIRST = ONE_TYPE.format("predictions hold text and references integers")
INTEGERS_FIRST = ONE_TYPE.format("predictions hold integers and references text")
TABLE = "for the columns of a table also give data=, or query_ids and document_ids"
ONE_WAY = "predictions are by ids and references by position (list); give both in the same way"
NO_COLUMN = (
    "predictions: no column holds the document; name it document_id, or as docs/inputs.md says; the table has "
    "'qid', 'score'; or give their names, fields={'document': '...'}"
)
OF_A_TABLE = (
    f"ids must be all text or all integers; got 'a' in predictions, query 'k', and 2 in predictions, query 's'; {TABLE}"
)
NO_QUERY = "predictions: query None is neither text nor an integer, as ids must be; give others as text"
NO_COMMON = (
    "predictions: document ids are of another type than in the references: 'd1' in the predictions, 1 in the ref"
)
NOT_ALIGNED = (
    "query 0: 3 predictions and 2 references; give both for every document, None for the score of one not retrieved or "
    "the relevance of one not judged; or, if these are document ids, give the references as sets"
)
Fault = tuple[Any, Any, str]  # predictions, references, and the beginning of the error
COLUMN_FAULTS: list[Fault] = [
    ([["d1"], ["d3", "d3"]], [["d1"]] * 2, f"predictions: query 1, position 1: document 'd3' is in position 0 {TWICE}"),
    ([["d1"]], [["d1", "d2", "d1"]], f"references: query 0, position 2: document 'd1' is in position 0 {TWICE}"),
    ([["d1", None]], [["d1"]], f"predictions: query 0, position 1: {NO_ID.format(None)}"),
    ([["d1"]], [["d2", None]], f"references: query 0, position 1: {NO_ID.format(None)}"),
    ([["d1"], None], [["d1"]] * 2, f"predictions: {NO_DOCUMENTS}"),
    ([["d1"]] * 2, [["d1"], None], f"references: {NO_DOCUMENTS}"),
]  # fmt: skip
FAULTS: list[Fault] = [
    *COLUMN_FAULTS,
    ([[3, 3]], [{3}], f"predictions: query 0, position 1: document 3 is in position 0 {TWICE}"),
    ([["d1"], ["d2"]], [["d1"]], MORE_QUERIES.format(2, 1)),
    ([["d1"]], [None, ["d1"]], MORE_QUERIES.format(1, 2)),
    ([["d1", 0.5]], [["d1"]], f"predictions: query 0, position 1: {NO_ID.format(0.5)}"),
    ([["d1", True]], [["d1"]], f"predictions: query 0, position 1: {NO_ID.format(True)}"),
    ([[0.9, 0.1]], [{"d1"}], f"predictions: query 0, position 0: {NO_ID.format(0.9)}"),
    ({"q": ["d1"]}, [{"d1"}], ONE_WAY),
    ({"q": {"d1": 1}}, [{"d1"}], ONE_WAY),
    ({"q": [0.9, 0.1]}, {"q": {"d1": 1}}, f"predictions: query 'q', position 0: {NO_ID.format(0.9)}; {TABLE}"),
    ({"qid": ["a", "b"], "score": [2, 1]}, {"qid": ["a", "b"], "label": [0, 1]}, NO_COLUMN),
    ({"k": ["a", "b"], "s": [2, 1]}, {"k": ["a", "b"], "label": [0, 1]}, OF_A_TABLE),
    ({"q": ["d1", "d1"]}, {"q": {"d1"}}, f"predictions: query 'q', position 1: document 'd1' is in position 0 {TWICE}"),
    ({"q": {"d1"}}, {"q": {"d1": 1}}, f"{NO_ORDER.replace('0', repr('q'))}; {TABLE}"),
    ({"q": None}, {"q": {"d1": 1}}, f"predictions: query 'q' is None; give [] if there is no document; {TABLE}"),
    ({"q": "d1"}, {"q": {"d1": 1}}, "predictions: query 'q': is the text 'd1', not documents; give a list of ids for"),
    ({None: ["d1"]}, {"q": {"d1": 1}}, NO_QUERY),
    ({"q": ["d1"]}, {"q": {1}}, NO_COMMON),
    (["d1"], [{"d1"}], f"predictions: query 0: {NO_LIST}"),
    ([["d1"]], ["d1"], f"references: query 0: {NO_LIST}"),
    ([{"d1", "d2"}], [["d1"]], NO_ORDER),
    ([frozenset({"d1"})], [{"d1"}], NO_ORDER),
    ([["d1", "d2"], ["3"]], [{"d1"}, {3}], TWO_TYPES.format("'d1'", 3, 1)),
    ([["1", "2"]], [{1: 1}], TWO_TYPES.format("'1'", 1, 0)),
    ([[7, 9, 3]], [[7, 3]], NOT_ALIGNED),
    ([["d1"]], [{"d1": "2"}], "references: query 0, document 'd1': '2' is not a number; give a number or None"),
    ([["0.9", "0.1"]], [[1.0, 0.0]], "predictions: query 0, position 0: '0.9' is not a number; give a number or None"),
    ([["d1", "d2"]], [[1, 2]], TEXT_FIRST),
    (pa.array([["d1"]]), pa.array([[1]]), TEXT_FIRST),
    ([[1, 2]], [["d1"]], INTEGERS_FIRST),
    (np.array([[1, 2]]), np.array([["d1", "d2"]]), INTEGERS_FIRST),
]  # fmt: skip


def assert_refused(metric: Metric, inputs: Callable[[], dict[str, Any]], message: str) -> None:
    """Every method rejects the inputs in the same words and leaves the metric's earlier batches intact."""
    metric.add_batch(predictions=[["d1"]], references=[["d1"]])
    for method in (metric.compute, metric.report, metric.add_batch):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            method(**inputs())
        assert len(metric) == 1
    assert metric.compute() == {"nDCG": 1.0}


@pytest.mark.parametrize(("predictions", "references", "message"), FAULTS)
def test_wrong_ids_are_rejected(fresh_metric: MetricFactory, predictions: Any, references: Any, message: str) -> None:
    inputs = {"predictions": predictions, "references": references}
    assert_refused(fresh_metric(keep_in_memory=True), lambda: inputs, message)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("predictions", "references", "message"), COLUMN_FAULTS)
def test_wrong_ids_are_rejected_alike_in_every_library(
    fresh_metric: MetricFactory, tmp_path: Path, predictions: Any, references: Any, message: str, frame: str
) -> None:
    table = pa.table({"ranked": predictions, "relevant": references})
    names = {"predictions": "ranked", "references": "relevant"}
    metric = fresh_metric(keep_in_memory=True)
    assert_refused(metric, lambda: {"data": FRAMES[frame](table, tmp_path), **names}, message)


def test_a_negative_relevance_is_named_by_its_id(ndcg: Metric) -> None:
    with pytest.raises(ValueError, match="references: query 1, document 'd1': the relevance -1"):
        ndcg.compute(predictions=[["d1"], ["d1"]], references=[{"d1": 1}, {"d1": -1}])


# --- By query --------------------------------------------------------------------------------------------------------

RANKED_BY_QUERY = {"u1": ["d3", "d1", "d7"], "u2": ["d2", "d4"], "u3": []}
RELEVANT_BY_QUERY = {"u2": {"d4"}, "u1": {"d1", "d9"}, "u3": {"d5"}}


def test_ranked_ids_by_query_are_scored_by_hand(ndcg: Metric) -> None:
    found = ndcg.compute(predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY, use_aggregator=False)
    of_u1 = discount(2) / (discount(1) + discount(2))
    assert found == {"nDCG": pytest.approx([discount(2), of_u1, 0.0])}


@pytest.mark.parametrize("relevant", [list, tuple, set, frozenset, lambda ids: dict.fromkeys(ids, 1)])
@pytest.mark.parametrize("ranked", [list, tuple, np.array, lambda ids: np.array(ids, object), pa.array])
def test_queries_hold_ids_in_any_container(
    ndcg: Metric, ranked: Callable[[Any], Any], relevant: Callable[[Any], Any]
) -> None:
    predictions = {query: ranked(ids) if ids else ids for query, ids in RANKED_BY_QUERY.items()}
    references = {query: relevant(sorted(ids)) for query, ids in RELEVANT_BY_QUERY.items()}
    expected = ndcg.compute(predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY)
    assert ndcg.compute(predictions=predictions, references=references) == expected
    assert 0 < expected["nDCG"] < 1


def test_ids_by_query_score_against_mappings_and_files(ndcg: Metric, tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("u1 0 d1 1\nu1 0 d9 1\nu2 0 d4 1\nu3 0 d5 1\n")
    run.write_text("u1 Q0 d3 1 3 t\nu1 Q0 d1 2 2 t\nu1 Q0 d7 3 1 t\nu2 Q0 d2 1 2 t\nu2 Q0 d4 2 1 t\n")
    expected = ndcg.compute(predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY)
    assert ndcg.compute(predictions=RANKED_BY_QUERY, references=qrels) == expected
    assert ndcg.compute(predictions=run, references=RELEVANT_BY_QUERY) == expected


def test_queries_keep_their_ids_in_reports_comparisons_and_batches(ndcg: Metric, fresh_metric: MetricFactory) -> None:
    expected = ndcg.compute(predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY, use_aggregator=False)
    report = ndcg.report(predictions=RANKED_BY_QUERY, references=RELEVANT_BY_QUERY, by={"u1": 1, "u2": 2, "u3": 2})
    assert report.queries["query"].to_pylist() == ["u2", "u1", "u3"]
    assert report.queries["nDCG"].to_pylist() == expected["nDCG"]
    assert report.scores["nDCG"].unjudged == 3
    systems = {"a": RANKED_BY_QUERY, "b": {query: ids[::-1] for query, ids in RANKED_BY_QUERY.items()}}
    comparison = ndcg.compare(systems=systems, references=RELEVANT_BY_QUERY)
    assert comparison.queries["query"].to_pylist() == ["u2", "u1", "u3"] * 2
    assert (comparison.pairs[0].wins, comparison.pairs[0].losses) == (0, 1)
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions={"u2": ["d2", "d4"]}, references={"u2": {"d4"}})
    with pytest.raises(ValueError, match=r"^query 'u2' was added before"):
        metric.add_batch(predictions={"u2": ["d2"]}, references={"u2": ["d4"]})
    metric.add_batch(predictions=RANKED_BY_QUERY, references={"u1": ["d1", "d9"], "u3": ["d5"]})
    assert metric.compute(use_aggregator=False) == expected
