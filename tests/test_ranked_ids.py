"""Lists of document ids, best first: each library's numbers, every container, and what is refused."""

import math
from collections.abc import Callable
from typing import Any

import datasets
import duckdb
import evaluate
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from conftest import MetricFactory
from hypothesis import given
from hypothesis import strategies as st


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


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table.to_pandas(),
        pl.from_arrow,
        lambda table: table,
        lambda table: table.cast(pa.schema({name: pa.large_list(pa.large_string()) for name in table.column_names})),
        datasets.Dataset,
        lambda table: table.to_pydict(),
        duckdb.from_arrow,
    ],
    ids=["pandas", "Polars", "Arrow", "Arrow, large", "datasets", "a mapping", "DuckDB"],
)
def test_columns_of_id_lists_are_read_from_every_library(ndcg: evaluate.Metric, make: Callable[..., Any]) -> None:
    frame = make(pa.table({"ranked": RANKED, "relevant": RELEVANT}))
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    assert ndcg.compute(data=frame, predictions="ranked", references="relevant") == expected
    assert 0 < expected["nDCG"] < 1


def test_rows_may_be_arrays_of_text(ndcg: evaluate.Metric) -> None:
    expected = ndcg.compute(predictions=RANKED, references=RELEVANT)
    for kind in (str, object):
        rows = [np.array(row, kind) for row in RANKED]
        assert ndcg.compute(predictions=rows, references=RELEVANT) == expected
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
    report = ndcg.report(predictions=RANKED, references=RELEVANT, resamples=50)
    assert report.scores["nDCG"].value == ndcg.compute(predictions=RANKED, references=RELEVANT)["nDCG"]
    assert report.scores["nDCG"].unjudged == 3
    systems = {"a": RANKED, "b": [["d1", "d9"], ["d4"]]}
    comparison = ndcg.compare(systems=systems, references=RELEVANT, resamples=50)
    assert (comparison.pairs[0].wins, comparison.pairs[0].losses) == (0, 2)


HAYSTACK: list[tuple[list[str], dict[str, float], float]] = [  # of its test_document_ndcg.py
    (
        ["doc1", "doc2", "doc3", "doc4", "doc5"],
        {"doc1": 3, "doc2": 2, "doc3": 3, "doc6": 2, "doc7": 3, "doc8": 2},
        0.6592,
    ),
]


@pytest.mark.parametrize(("ranked", "relevances", "expected"), HAYSTACK)
def test_haystack_has_these_numbers(
    ndcg: evaluate.Metric, ranked: list[str], relevances: dict[str, float], expected: float
) -> None:
    assert ndcg.compute(predictions=[ranked], references=[relevances])["nDCG"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.peers
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1),
            st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_pytrec_eval_has_these_numbers(ndcg: evaluate.Metric, queries: list[tuple[list[str], dict[str, int]]]) -> None:
    """BEIR, MTEB and ragas hand it the same: scores that fall from rank to rank."""
    import pytrec_eval

    run = {f"q{at}": {id_: float(-rank) for rank, id_ in enumerate(row)} for at, (row, _) in enumerate(queries)}
    qrels = {f"q{at}": relevances for at, (_, relevances) in enumerate(queries)}
    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.3", "ndcg"}).evaluate(run)
    ranked, relevant = [row for row, _ in queries], [relevances for _, relevances in queries]
    values = ndcg.compute(predictions=ranked, references=relevant, k=[3, None], use_aggregator=False)
    assert values["nDCG@3"] == pytest.approx([found[query]["ndcg_cut_3"] for query in qrels])
    assert values["nDCG"] == pytest.approx([found[query]["ndcg"] for query in qrels])


def test_a_negative_relevance_is_named_by_its_id(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="references: query 1, document 'd1': the relevance -1"):
        ndcg.compute(predictions=[["d1"], ["d1"]], references=[{"d1": 1}, {"d1": -1}])


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        (
            [["d1"], ["d3", "d1", "d3"]],
            [["d1"], ["d1"]],
            r"predictions: query 1, position 2: document 'd3' is in position 0 already; give it once for a query",
        ),
        ([["d1"]], [["d1", "d2", "d1"]], "references: query 0, position 2: document 'd1' is in position 0 already"),
        ([[3, 3]], [{3}], "predictions: query 0, position 1: document 3 is in position 0 already"),
        ([["d1"], ["d2"]], [["d1"]], "predictions hold 2 queries and references 1; give both for every query"),
        ([["d1", None]], [["d1"]], "predictions: query 0, position 1: an id must be text or an integer; got None"),
        ([["d1", 0.5]], [["d1"]], r"predictions: query 0, position 1: an id must be text or an integer; got 0\.5"),
        ([["d1", True]], [["d1"]], "predictions: query 0, position 1: an id must be text or an integer; got True"),
        (
            [[0.9, 0.1]],
            [{"d1"}],
            r"predictions: query 0, position 0: an id must be text or an integer; got 0\.9; if either side holds ",
        ),
        ({"q": ["d1"]}, [{"d1"}], "predictions: query 'q': must map documents to numbers; got list"),
        ({"q": {"d1": 1}}, [{"d1"}], "predictions are by ids and references by position"),
        (["d1"], [{"d1"}], "predictions: query 0: must be a list of ids, a set or a mapping; got 'd1'"),
        ([["d1"]], ["d1"], "references: query 0: must be a list of ids, a set or a mapping; got 'd1'"),
        ([{"d1", "d2"}], [["d1"]], "predictions: query 0: a set has no order; give a list of ids, best first"),
        ([frozenset({"d1"})], [{"d1"}], "predictions: query 0: a set has no order; give a list of ids, best first"),
        ([["d1"], None], [["d1"], ["d1"]], r"predictions: query 1: is None; give \[\] if there is no document"),
        ([["d1"]], [None, ["d1"]], "predictions hold 1 queries and references 2"),
        ([["d1"], ["d2"]], [None, ["d1"]], r"references: query 0: is None; give \[\] if there is no document"),
        (
            [["d1", "d2"], ["3"]],
            [{"d1"}, {3}],
            "ids must be all text or all integers; got 'd1' in predictions, query 0, and 3 in references, query 1",
        ),
        (
            [[7, 9, 3]],
            [[7, 3]],
            "3 predictions and 2 references; .*; or, if these are document ids, give",
        ),
        ({"q": ["d1"]}, {"q": {"d1": 1}}, "must map documents to numbers; got list; .*for ranked ids a list of lists"),
        (
            [["1", "2"]],
            [{1: 1}],
            "all text or all integers; got '1' in predictions, query 0, and 1 in references",
        ),
        ([["d1"]], [{"d1": "2"}], "references: query 0, document 'd1': '2' is not a number"),
        ([["0.9", "0.1"]], [[1, 0]], "predictions: query 0, position 0: '0.9'"),  # text where scores belong
        ([[], []], [[], ["d1"]], "^$"),
    ],
)
def test_wrong_ids_are_refused_and_what_was_added_is_kept(
    fresh_metric: MetricFactory, predictions: Any, references: Any, message: str
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=[["d1"]], references=[["d1"]])
    if message == "^$":
        metric.add_batch(predictions=predictions, references=references)
        assert metric.compute() == {"nDCG": pytest.approx(1 / 3)}
        return
    for act in (metric.add_batch, metric.compute):
        with pytest.raises(ValueError, match=message):
            act(predictions=predictions, references=references)
    assert len(metric) == 1
    assert metric.compute() == {"nDCG": 1.0}
