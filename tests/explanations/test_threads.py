"""Scores in public reports of wrong nDCG: the wrong one by the slip, the right one by the metric.

Of several reports of a slip, those are here that show something new: a cutoff, an option,
unretrieved documents.
"""

import math
from collections.abc import Mapping
from typing import Any

import evaluate
import pytest
from checked_functions import query_of
from conftest import ROOT
from refusals import refusal

from ndcg.explanations.slip_terms import Queries, Query
from ndcg.explanations.slips import slip_named

LOG = [1 / math.log2(rank + 1) for rank in range(1, 40)]
EXPONENTIAL, JARVELIN, FIRST = {"gain": "exponential"}, {"discount": "jarvelin"}, {"ties": "first"}
GRADED = (10 + 5 * LOG[3] + LOG[4]) / (10 + 5 * LOG[1] + LOG[2])
DEEP = LOG[1] + 3 * LOG[2]
PAGE = (ROOT / "docs" / "slips.md").read_text(encoding="utf-8").splitlines()


# the slip, the thread, the ranking as in docs/slips.md, the cutoff, options, the reported and the
# right score
@pytest.mark.parametrize(
    ("slip", "thread", "ranking", "k", "options", "wrong", "right"),
    [
        (
            "ideal from the top k retrieved",
            "karlhigley/ranking-metrics-torch#1",
            "5 1 0 0 10",
            3,
            {},
            1.0,
            0.4124,
        ),
        (
            "ideal from the top k retrieved",
            "apache/spark#12461",
            "1 1 ? 1 + 1",
            4,
            {},
            0.967,
            0.8048,
        ),
        ("ideal from the top k retrieved", "THUDM/ComiRec#25", "1 1 + 1 1 1", 20, {}, 1.0, 0.5531),
        (
            "ideal cut at the length of the result list",
            "elastic/elasticsearch#154362",
            "3 + 3 3 3 3",
            10,
            {},
            1,
            0.3392,
        ),
        (
            "equal weights at ranks 1 and 2",
            "OpenAgentHQ/openagent-eval#223",
            "? 1",
            10,
            {},
            1.0,
            0.6309,
        ),
        ("ties by document id", "usnistgov/trec_eval#22", "?=1", 10, {}, 1.0, 0.8155),
        ("ties by document id", "usnistgov/trec_eval#22", "1=?", 10, {}, 0.6309, 0.8155),
        ("ties by document id", "cvangysel/pytrec_eval#56", "?=?=1", 10, FIRST, 1.0, 0.5),
        (
            "ties in the order of the input",
            "dmlc/xgboost#3050",
            "1=2",
            1,
            EXPONENTIAL,
            0.333,
            2 / 3,
        ),
        (
            "ties in the order of the input",
            "embeddings-benchmark/mteb#5376",
            "?=1",
            1,
            {},
            0.0,
            0.5,
        ),
        (
            "ties in the model's favor",
            "elixir-nx/scholar#360",
            "10=0=0 1=5",
            None,
            {},
            GRADED,
            0.699812,
        ),
        (
            "discount from the place in the truth",
            "THUDM/ComiRec#6",
            "? ? 1 + 1",
            3,
            {},
            0.6131,
            0.3066,
        ),
        (
            "DCG with binary gain, ideal with graded gain",
            "RapidFireAI/rapidfireai#261",
            "3 3",
            10,
            {},
            0.333,
            1.0,
        ),
        (
            "DCG one rank too deep",
            "yihong-chen/neural-collaborative-filtering#2",
            "1 ?",
            10,
            {},
            0.6309,
            1.0,
        ),
        ("no discount", "RUCAIBox/RecBole#120", "? ? 1", 3, {}, 1.0, 0.5),
        ("ideal not cut at k", "lenskit/lkpy#309", "3 5 + 4", 2, JARVELIN, 0.7344, 0.8888),
        (
            "DCG not cut at k",
            "lenskit/lkpy#309",
            "5 4 3",
            2,
            JARVELIN,
            (5 + 4 + 3 / math.log2(3)) / 9,
            1.0,
        ),
        (
            *(
                "ideal from all that was retrieved",
                "NTMC-Community/MatchZoo#598",
                "0 1 2 0 + 2 1",
                None,
                EXPONENTIAL,
            ),
            *(DEEP / (3 + LOG[1]), DEEP / (3 + 3 * LOG[1] + LOG[2] + LOG[3])),
        ),
        (  # the thread says only that it is above 1
            *(
                "ideal with binary gain, DCG with graded gain",
                "SeaseLtd/rated-ranking-evaluator#71",
                "3" + 11 * " 1",
            ),
            *(10, {}, (3 + sum(LOG[1:10])) / sum(LOG[:10]), 1.0),
        ),
        (
            "unjudged documents removed",
            "alphagov/search-api#2195",
            "? ? ? ? ? ? ? ? ? ? 3 2",
            20,
            {},
            1.0,
            0.3232,
        ),
        (
            *(
                "unretrieved documents with the score 0",
                "datascience.stackexchange 63667",
                " + 5 4 3 2 1",
                5,
            ),
            *({**EXPONENTIAL, "ties": "last"}, 0.5443, 0.0),
        ),
        ("no relevant documents scored 1", "catboost/benchmarks#19", "0 0", 10, {}, 1.0, 0.0),
        ("ideal in the order of the run", "maciejkula/rustlearn#52", "? 1", 10, {}, 1.0, 0.6309),
        ("graded relevance read as 0 or 1", "geek-ai/irgan#13", "1 2", 10, {}, 1.0, 0.8597),
    ],
)
def test_a_thread_has_the_score_of_its_slip(
    slip: str,
    thread: str,
    ranking: str,
    k: int | None,
    options: dict[str, Any],
    wrong: float,
    right: float,
) -> None:
    rows = [
        line
        for line in PAGE
        if line.lower().startswith((f"- {slip}: ".lower(), f"| {slip} | ".lower()))
    ]
    assert any(f"[{thread}](https://" in row for row in rows)
    queries = Queries([query_of(ranking, k)])
    assert slip_named(slip).scores(queries, options)[0] == pytest.approx(wrong, abs=6e-4)
    assert queries.scores(options)[0] == pytest.approx(right, abs=6e-4)


# Examples that are no row above: the inputs or the values go wrong


def score(
    run: Mapping[str, float], qrels: Mapping[str, float], measure: str = "nDCG", **how: Any
) -> float:
    return float(Queries([Query(run, qrels, None)]).scores(how, measure)[0])


def test_negative_relevance_makes_a_score_of_hundreds() -> None:
    """scikit-learn/scikit-learn#17639: 396.03, from an ideal DCG of nearly 0 and rounded labels."""
    run = dict(zip("abcde", [0.07, 0.31, 0.75, 0.33, 0.27], strict=True))
    qrels = dict(zip("abcde", [-0.89, -0.53, -0.47, 0.39, 0.56], strict=True))
    assert abs(score(run, qrels, "IDCG", negative_relevance="keep")) < 0.01
    shifted = {document: relevance + 1 for document, relevance in qrels.items()}
    assert score(run, shifted) == pytest.approx(0.7996, abs=6e-5)
    with refusal("references", "query 0, document 'a'"):
        score(run, qrels)


def test_documents_of_negative_relevance_were_masked() -> None:
    """tensorflow/ranking#40, a DCG."""
    query = Query({"a": 3, "b": 1, "c": 0}, {"a": -1, "b": 1, "c": 0}, None)
    how = {"gain": "exponential", "negative_relevance": "keep"}
    slip = slip_named("negative relevance removed")
    assert Queries([query]).scores(how, "DCG", slip.both)[0] == 1.0
    assert score(query.run, query.qrels, "DCG", **how) == pytest.approx(0.1309, abs=6e-5)


def test_a_constant_scorer_has_the_score_of_the_ids() -> None:
    """embeddings-benchmark/mteb#5092: 0.0, and a reciprocal rank of 1.0."""
    run, qrels = {f"r{at:02}": 1 for at in range(30)}, {"r00": 1}
    assert score(run, qrels, "nDCG@10", ties="docid") == 0.0
    assert score(run, qrels, "nDCG@10") == pytest.approx(sum(LOG[:10]) / 30)


def test_a_document_that_was_retrieved_twice_counted_twice(ndcg: evaluate.Metric) -> None:
    """deepset-ai/haystack#11959, truera/trulens#2746."""
    with refusal("predictions", "query 0, position 1"):
        ndcg.compute(predictions=[["A", "A"]], references=[{"A"}], k=2)
