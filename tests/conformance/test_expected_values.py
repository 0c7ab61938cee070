"""Values that other libraries expect in their own tests, for rankings as lists of ids and as DataFrames.

Their numbers stand here, so the libraries need not be installed; BEIR scores by pytrec_eval, which is run.
"""

import math
from typing import Any

import pandas as pd
import pytest
from conftest import NOTHING_IN_COMMON
from evaluate import Metric


def discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def ideal(relevant: int) -> float:
    """The DCG of that many relevant documents at the first ranks."""
    return sum(map(discount, range(1, relevant + 1)))


# --- Lists of ids ----------------------------------------------------------------------------------------------------


@NOTHING_IN_COMMON
@pytest.mark.parametrize(
    ("relevant", "retrieved", "gain", "expected"),
    [
        ("123", "3124", "linear", 1.0),
        ("1234", "51", "linear", discount(2) / ideal(4)),
        ("12", "34", "linear", 0.0),
        ("12", "217", "linear", 1.0),
        ("123", "3124", "exponential", 1.0),
        ("1234", "125", "exponential", ideal(2) / ideal(4)),
        ("12", "1782", "exponential", (discount(1) + discount(4)) / ideal(2)),
    ],
)
def test_llamaindex(ndcg: Metric, relevant: str, retrieved: str, gain: str, expected: float) -> None:
    """Its llama-index-core/tests/evaluation/test_metrics.py, test_ndcg."""
    found = ndcg.compute(predictions=[list(retrieved)], references=[list(relevant)], gain=gain)
    assert found == {"nDCG": pytest.approx(expected, rel=1e-12)}


FIRST_FIVE = ["doc1", "doc2", "doc3", "doc4", "doc5"]
GRADES = {"doc1": 3, "doc2": 2, "doc3": 3, "doc6": 2, "doc7": 3, "doc8": 2}
PLACES = ["France", "Germany", "Paris"]


@pytest.mark.parametrize(
    ("retrieved", "relevant", "measure", "expected"),
    [
        ([FIRST_FIVE], [GRADES], "nDCG", [0.6592]),
        ([PLACES], [["France", "Paris"]], "nDCG", [0.9197]),
        ([PLACES, FIRST_FIVE], [["France", "Paris"], GRADES], "nDCG", [0.9197, 0.6592]),
        ([[]], [["France"]], "nDCG", [0.0]),
        ([["France"]], [[]], "nDCG", [0.0]),
        ([[*FIRST_FIVE, "doc6"]], [{**GRADES, "doc4": 0, "doc5": 1, "doc7": 0, "doc8": 0}], "DCG", [6.8611]),
        ([["doc2", "doc3", "doc1"]], [["doc1", "doc2"]], "DCG", [1.5]),
        ([FIRST_FIVE], [GRADES], "IDCG", [8.7403]),
        ([["doc1"]], [["doc1", "doc2", "doc3"]], "IDCG", [2.1309]),
    ],
)
def test_haystack(
    ndcg: Metric, retrieved: list[list[str]], relevant: list[Any], measure: str, expected: list[float]
) -> None:
    """Its test/components/evaluators/test_document_ndcg.py."""
    found = ndcg.compute(predictions=retrieved, references=relevant, measures=measure, use_aggregator=False)
    assert found == {measure: pytest.approx(expected, abs=1e-4)}


@pytest.mark.parametrize(("itself", "expected"), [(True, [1.0, 1.0, 1.0]), (False, [0.5, 0.30657, 0.30657])])
def test_mteb(ndcg: Metric, itself: bool, expected: list[float]) -> None:
    """Its tests/test_evaluators/test_RetrievalEvaluator.py, with and without the document that is the query itself."""
    run = {"0": {"0": 1.0, "1": 0.9, "2": 0.8}, "1": {"0": 0.0, "1": 1.0, "2": 0.0}}
    run = {query: {id_: score for id_, score in each.items() if itself or id_ != query} for query, each in run.items()}
    qrels = {"0": {"0": 1, "1": 1}, "1": {"1": 1}}
    found = ndcg.compute(predictions=run, references=qrels, k=[1, 2, 3], convention="trec_eval")
    assert list(found.values()) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("run", "gains", "k", "expected"),
    [
        (
            {"d1": 0.7, "d2": 0.9, "d3": 0.1},
            {"d1": 1.0, "d2": 0.5, "d3": 0.0},
            2,
            (0.5 + discount(2)) / (1 + discount(2) / 2),
        ),
        ({"d1": 0.5, "d2": 0.5, "d3": 0.5}, {"d1": 1.0, "d2": 0.0, "d3": 0.0}, 10, ideal(3) / 3),
        ({"d1": 1.0, "d2": 0.5, "d3": 0.5}, {"d1": 0.0, "d2": 1.0, "d3": 0.0}, 2, discount(2) / 2),
        ({"d1": 0.9, "d2": 0.8}, {"d1": 1.0}, 2, 1.0),
        ({"d1": 0.9, "d2": 0.1}, {"d1": 0.0, "d2": 0.0}, 10, 0.0),
    ],
    ids=["distinct", "tied", "tied across the cutoff", "unjudged", "nothing relevant"],
)
def test_mteb_of_fractions(
    ndcg: Metric, run: dict[str, float], gains: dict[str, float], k: int, expected: float
) -> None:
    """Its tests/test_evaluators/test_retrieval_metrics_float_gains.py: ties count as their mean."""
    found = ndcg.compute(predictions=[run], references=[gains], k=k)
    assert found == {f"nDCG@{k}": pytest.approx(expected, rel=1e-12)}


@NOTHING_IN_COMMON
@pytest.mark.parametrize(
    ("recommended", "k", "gain", "expected"),
    [
        ([], None, "binary", 0.0),
        ([4], None, "binary", 0.0),
        ([2, 3, 1], None, "linear", 1.0),
        ([2, 3, 1], 2, "linear", 1.0),
        ([2, 3], 2, "linear", 1.0),
        ([1, 2], 2, "binary", 1.0),
        ([1, 3], 2, "binary", 1.0),
    ],
)
def test_lenskit(ndcg: Metric, recommended: list[int], k: int | None, gain: str, expected: float) -> None:
    """Its tests/eval/test_rank_ndcg.py, as far as its discount, the same for the first two ranks, does not matter."""
    found = ndcg.compute(predictions=[recommended], references=[{1: 3.0, 2: 5.0, 3: 4.0}], k=k, gain=gain)
    assert list(found.values()) == pytest.approx([expected], rel=1e-12)


@pytest.mark.parametrize(("k", "expected"), [(1, [0, 0, 1, 1, 0]), (3, [0, 0, 1, 1 / ideal(3), 0.5 / ideal(3)])])
def test_rectools(ndcg: Metric, k: int, expected: list[float]) -> None:
    """Its tests/metrics/test_ranking.py, TestNDCG.test_calc: the ideal is of k relevant items, always."""
    recommended = [[*"abcdefgh1"], ["2"], ["1", "2", "3"], ["1"], [*"5a1bcd2e3"]]  # letters at ranks that it leaves out
    interactions = [["1"], ["1"], ["1", "2", "3"], ["1"], ["1", "2", "3", "4"]]
    found = ndcg.compute(predictions=recommended, references=interactions, k=k, measures="DCG", use_aggregator=False)
    assert [value / ideal(k) for value in found[f"DCG@{k}"]] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("retrieved", "judged", "expected"),
    [
        ("012345", {0: 3, 1: 2, 2: 3, 3: 0, 4: 1, 5: 2}, 13.84826362927298 / 14.595390756454922),
        ("012345", {0: 3, 1: 2, 2: 3, 4: 1}, 12.779642067948913 / 13.347184833073591),
        ("0123", {0: 3, 1: 2, 2: 3, 4: 1}, 12.392789260714371 / 13.347184833073591),
    ],
    ids=["all", "some unjudged", "not all retrieved"],
)
def test_elasticsearch(ndcg: Metric, retrieved: str, judged: dict[int, int], expected: float) -> None:
    """Its modules/rank-eval/src/test/java/org/elasticsearch/index/rankeval/DiscountedCumulativeGainTests.java."""
    references = [{str(document): rating for document, rating in judged.items()}]
    found = ndcg.compute(predictions=[list(retrieved)], references=references, k=10, convention="elasticsearch")
    assert found == {"nDCG@10": pytest.approx(expected, abs=1e-5)}


# the lists of TensorFlow Ranking's test of topn, and the ideal DCG of the first
TOP = {"predictions": [[3, 2, 1]] * 3, "references": [[1, 0, 2], [0, 1, 0], [0, 0, 1]]}
TOP_IDEAL = 3 + discount(2)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"predictions": [[3, 2, 1]], "references": [[0, 1, 0]]}, [discount(2)]),
        ({"predictions": [[3, 2, 1]], "references": [[0, 0, 0]]}, [0.0]),
        (
            {"predictions": [[4, 3, 2, 1]], "references": [[0, 3, 1, 0]], "gain": "linear"},
            [(3 * discount(2) + discount(3)) / (3 + discount(2))],
        ),
        (
            {"predictions": [[4, 3, 2, 1]], "references": [[0, 3, 1, 0]], "discount": lambda rank: 1 / (rank + 10)},
            [(7 / 12 + 1 / 13) / (7 / 11 + 1 / 12)],
        ),
        (
            {"predictions": [[1, 4, 3, 2]], "references": [[2, -1, 1, 0]], "ignore_index": -1},
            [(3 * discount(3) + 1) / (3 + discount(2))],
        ),
        (
            {"predictions": [[3, 2, 1], [3, 1, 2]], "references": [[0, 1, 0], [1, 1, 0]]},
            [discount(2), (1 + discount(3)) / ideal(2)],
        ),
        ({**TOP, "k": 1}, [1 / 3, 0.0, 0.0]),
        ({**TOP, "k": 2}, [1 / TOP_IDEAL, discount(2), 0.0]),
        ({**TOP, "k": 6}, [(1 + 3 * discount(3)) / TOP_IDEAL, discount(2), discount(3)]),
    ],
    ids=["one", "nothing relevant", "gain", "discount", "padding", "several", "top 1", "top 2", "top 6"],
)
def test_tensorflow_ranking(ndcg: Metric, case: dict[str, Any], expected: list[float]) -> None:
    """Its tensorflow_ranking/python/metrics_impl_test.py, NDCGMetricTest."""
    (found,) = ndcg.compute(**case, convention="tf_ranking", use_aggregator=False).values()
    assert found == pytest.approx(expected, rel=1e-12)


# --- Frames ----------------------------------------------------------------------------------------------------------


def joined(recommended: dict[str, Any], rated: dict[str, Any]) -> dict[str, Any]:
    """All items that were recommended to a user or rated by one, with the names of their columns."""
    frame = pd.DataFrame(recommended).merge(pd.DataFrame(rated), on=["user", "item"], how="outer")
    return {"data": frame, "predictions": "score", "references": "label", "query_ids": "user"}


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, [0.0, 1.0, 1.0, 0.0]),
        (2, [0.0, 1.0, discount(1) / ideal(2), 0.0]),
        (3, [0.0, 1.0, (discount(1) + discount(3)) / ideal(3), discount(3) / ideal(2)]),
    ],
)
def test_recbole(ndcg: Metric, k: int, expected: list[float]) -> None:
    """Its tests/metrics/test_topk_metrics.py, test_ndcg: which ranks are hits, and of how many relevant items."""
    hits = {(0, 1): "abc", (1, 3): "012", (2, 4): "0b1", (3, 2): "ab0"}  # digits are relevant
    recommended = [(user, item, -rank) for (user, _), items in hits.items() for rank, item in enumerate(items)]
    relevant = [(user, str(item), 1) for user, count in hits for item in range(count)]
    inputs = joined(
        pd.DataFrame(recommended, columns=["user", "item", "score"]),
        pd.DataFrame(relevant, columns=["user", "item", "label"]),
    )
    found = ndcg.compute(**inputs, k=k, use_aggregator=False)
    assert found == {f"nDCG@{k}": pytest.approx(expected, rel=1e-12)}


USERS = [1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1, 1]
RATED = [3, 1, 4, 5, 6, 7, 2, 5, 6, 8, 9, 10, 11, 12, 13, 14, 1, 2]
RATINGS = [3, 5, 5, 3, 3, 1, 5, 5, 5, 4, 4, 3, 3, 3, 2, 1, 5, 4]
PREDICTED = [12, 10, 3, 5, 11, 13, 4, 10, 7, 13, 1, 3, 5, 2, 11, 14, 3, 10]
PREDICTIONS = [12, 14, 13, 12, 11, 10, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 14, 13]


@NOTHING_IN_COMMON
@pytest.mark.parametrize(
    ("recommended", "scores", "expected"),
    [(RATED, RATINGS, 1.0), ([100] * 18, PREDICTIONS, 0.0), (PREDICTED, PREDICTIONS, 0.38172)],
)
def test_recommenders(ndcg: Metric, recommended: list[int], scores: list[int], expected: float) -> None:
    """Its tests/unit/recommenders/evaluation/test_python_evaluation.py, test_python_ndcg_at_k: any rating counts."""
    inputs = joined(
        {"user": USERS, "item": recommended, "score": scores}, {"user": USERS, "item": RATED, "label": RATINGS}
    )
    found = ndcg.compute(**inputs, k=10, gain="binary")
    assert found == {"nDCG@10": pytest.approx(expected, rel=1e-4)}


def test_recommenders_of_graded_relevance(ndcg: Metric) -> None:
    """The last of test_python_ndcg_at_k, which is Wikipedia's."""
    inputs = joined(
        {"user": 0, "item": range(6), "score": [6, 5, 4, 3, 2, 1]},
        {"user": 0, "item": range(8), "label": [3, 2, 3, 0, 1, 2, 3, 2]},
    )
    assert ndcg.compute(**inputs, k=6) == {"nDCG@6": pytest.approx(0.785, rel=1e-4)}
