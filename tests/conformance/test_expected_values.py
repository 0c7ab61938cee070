"""Values from the tests of Elasticsearch and TensorFlow Ranking, which are not run here."""

import math
from typing import Any

import pytest
from evaluate import Metric


def discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


@pytest.mark.parametrize(
    ("retrieved", "judged", "expected"),
    [
        ("012345", {0: 3, 1: 2, 2: 3, 3: 0, 4: 1, 5: 2}, 13.84826362927298 / 14.595390756454922),
        ("012345", {0: 3, 1: 2, 2: 3, 4: 1}, 12.779642067948913 / 13.347184833073591),
        ("0123", {0: 3, 1: 2, 2: 3, 4: 1}, 12.392789260714371 / 13.347184833073591),
    ],
    ids=["all", "some unjudged", "not all retrieved"],
)
def test_elasticsearch(
    ndcg: Metric, retrieved: str, judged: dict[int, int], expected: float
) -> None:
    """Values of DiscountedCumulativeGainTests.java.

    The file is in its modules/rank-eval/src/test/java/org/elasticsearch/index/rankeval.
    """
    run = [[f"d{document}" for document in retrieved]]
    qrels = [{f"d{document}": rating for document, rating in judged.items()}]
    found = ndcg.compute(predictions=run, references=qrels, k=10, convention="elasticsearch")
    assert found == {"nDCG@10": pytest.approx(expected, abs=1e-5)}


# the lists of TensorFlow Ranking's test of topn, and the ideal DCG of the first
TOP = {"predictions": [[3, 2, 1]] * 3, "references": [[1, 0, 2], [0, 1, 0], [0, 0, 1]]}
TOP_IDEAL = 3 + discount(2)
FOUR = {"predictions": [[4, 3, 2, 1]], "references": [[0, 3, 1, 0]]}


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({"predictions": [[3, 2, 1]], "references": [[0, 0, 0]]}, [0.0]),
        ({**FOUR, "gain": "linear"}, [(3 * discount(2) + discount(3)) / (3 + discount(2))]),
        (
            {**FOUR, "discount": lambda rank: 1 / (rank + 10)},
            [(7 / 12 + 1 / 13) / (7 / 11 + 1 / 12)],
        ),
        (
            {"predictions": [[1, 4, 3, 2]], "references": [[2, -1, 1, 0]], "ignore_index": -1},
            [(3 * discount(3) + 1) / (3 + discount(2))],
        ),
        ({**TOP, "k": 1}, [1 / 3, 0.0, 0.0]),
        ({**TOP, "k": 2}, [1 / TOP_IDEAL, discount(2), 0.0]),
        ({**TOP, "k": 6}, [(1 + 3 * discount(3)) / TOP_IDEAL, discount(2), discount(3)]),
    ],
    ids=["nothing relevant", "gain", "discount", "padding", "top 1", "top 2", "top 6"],
)
def test_tensorflow_ranking(ndcg: Metric, case: dict[str, Any], expected: list[float]) -> None:
    """Its tensorflow_ranking/python/metrics_impl_test.py, NDCGMetricTest."""
    (found,) = ndcg.compute(**case, convention="tf_ranking", use_aggregator=False).values()
    assert found == pytest.approx(expected, rel=1e-12)
