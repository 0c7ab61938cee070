"""The scores in public reports of wrong nDCG: the wrong score by the slip, the right one by the metric.

Each of their examples is a row or a test here, or is named with the reason why it cannot be computed.
"""

import math
from collections.abc import Mapping
from typing import Any

import evaluate
import numpy as np
import pytest
from checked_functions import query_of

from ndcg.explanations.slip_terms import Queries, Query, in_order, query_scores
from ndcg.explanations.slips import DUPLICATES_COUNTED, slip_named

LOG = [1 / math.log2(rank + 1) for rank in range(1, 40)]
EXPONENTIAL = {"gain": "exponential"}
IDEAL = 10 + 5 * LOG[1] + LOG[2]  # of the grades 10, 5 and 1
THIRTY = [f"r{at:02}" for at in range(30)]


def ones(count: int) -> str:
    return " ".join("1" * count)


# For each slip: the thread, the ranking as in docs/slips.md, the cutoff, options, the reported and the right score.
REPORTED: dict[str, list[tuple[str, str, int | None, dict[str, Any], float | None, float]]] = {
    "ideal from the top k retrieved": [
        ("karlhigley/ranking-metrics-torch#1", "5 1 0 0 10", 3, {}, 1.0, 0.4124),
        ("xiangwang1223/neural_graph_collaborative_filtering#34", "1 ? 1 + 1", 3, {}, 0.9197, 1.5 / sum(LOG[:3])),
        ("spiceai/spiceai#12277", "1 + 1", 10, {}, 1.0, 0.6131),
        ("Marker-Inc-Korea/AutoRAG#386", "1 ? + 1 1", 3, {}, 1.0, 0.469),
        ("supermemoryai/memorybench#67", "1 + 1 1 1 1", 5, {}, 1.0, 0.3392),
        ("apache/spark#12461", "1 1 ? 1 + 1", 4, {}, 0.967, (1 + LOG[1] + LOG[3]) / sum(LOG[:4])),
        ("o19s/quepid#78", "1 + 3", 10, {}, 1.0, 1 / (3 + LOG[1])),
        ("THUDM/ComiRec#25", "1 + 1 1 1 1", 20, {}, 1.0, 1 / sum(LOG[:5])),
        ("THUDM/ComiRec#25", "1 1 + 1 1 1", 20, {}, 1.0, (1 + LOG[1]) / sum(LOG[:5])),
    ],
    "ideal cut at the length of the result list": [
        ("mlflow/mlflow#24541", "1 + 1 1 1 1", 5, {}, 1.0, 0.339),
        ("elastic/elasticsearch#154362", "3 + 3 3 3 3", 10, {}, 1.0, 1 / sum(LOG[:5])),
        ("baekenough/second-brain#256", "1 + 1", 10, {}, 1.0, 0.613147),
    ],
    "equal weights at ranks 1 and 2": [
        ("OpenAgentHQ/openagent-eval#223", "? 1", 10, {}, 1.0, 0.6309),
        ("OpenAgentHQ/openagent-eval#223", "? ? 1", 10, {}, 0.6309, 0.5),
        ("CCRI-POPROX/poprox-recommender#15", "? ? 1", 10, {}, 0.6309, 0.5),
    ],
    "ties by document id": [
        ("usnistgov/trec_eval#22", "?=1", 10, {}, 1.0, (1 + LOG[1]) / 2),
        ("usnistgov/trec_eval#22", "1=?", 10, {}, 0.6309, (1 + LOG[1]) / 2),
        ("cvangysel/pytrec_eval#56", "?=?=1", 10, {"ties": "first"}, 1.0, 0.5),
    ],
    "ties in the order of the input": [
        ("lightgbm-org/LightGBM#2091", "?=1", 10, {}, LOG[1], (1 + LOG[1]) / 2),
        ("dmlc/xgboost#3050", "1=2", 1, EXPONENTIAL, 0.333, 2 / 3),
        ("dmlc/xgboost#3050", "2=1", 1, EXPONENTIAL, 1.0, 2 / 3),
        ("embeddings-benchmark/mteb#5376", "1=?", 1, {}, 1.0, 0.5),
        ("embeddings-benchmark/mteb#5376", "?=1", 1, {}, 0.0, 0.5),
    ],
    "ties in the model's favor": [
        ("elixir-nx/scholar#360", "10=0=0=1=5", None, {}, 1.0, 0.690979),
        ("elixir-nx/scholar#360", "10=0=0 1=5", None, {}, (10 + 5 * LOG[3] + LOG[4]) / IDEAL, 0.699812),
    ],
    "discount from the place in the truth": [("THUDM/ComiRec#6", "? ? 1 + 1", 3, {}, 0.6131, 0.3066)],
    "DCG with binary gain, ideal with graded gain": [("RapidFireAI/rapidfireai#261", "3 3", 10, {}, 0.333, 1.0)],
    "DCG one rank too deep": [("yihong-chen/neural-collaborative-filtering#2", "1 ?", 10, {}, 0.6309, 1.0)],
    "no discount": [("RUCAIBox/RecBole#120", "? ? 1", 3, {}, 1.0, 0.5)],
    "ideal not cut at k": [
        ("lenskit/lkpy#309", "3 5 + 4", 2, {"discount": "jarvelin"}, 0.7344, 0.8888),
        ("o19s/quepid#1335", f"{ones(10)} + 1 1", 10, {}, sum(LOG[:10]) / sum(LOG[:12]), 1.0),
        ("usnistgov/trec_eval#11", f"{ones(20)} + {ones(10)}", 20, {}, sum(LOG[:20]) / sum(LOG[:30]), 1.0),
    ],
    "DCG not cut at k": [
        ("lenskit/lkpy#309", "5 4 3", 2, {"discount": "jarvelin"}, (5 + 4 + 3 / math.log2(3)) / 9, 1.0)
    ],
    "ideal from all that was retrieved": [
        (
            "NTMC-Community/MatchZoo#598",
            "0 1 2 0 + 2 1",
            None,
            EXPONENTIAL,
            (LOG[1] + 3 * LOG[2]) / (3 + LOG[1]),
            (LOG[1] + 3 * LOG[2]) / (3 + 3 * LOG[1] + LOG[2] + LOG[3]),
        )
    ],
    "ideal with binary gain, DCG with graded gain": [  # the thread says only that it is above 1
        ("SeaseLtd/rated-ranking-evaluator#71", f"3 {ones(11)}", 10, {}, (3 + sum(LOG[1:10])) / sum(LOG[:10]), 1.0)
    ],
    "unjudged documents removed": [
        (
            "alphagov/search-api#2195",
            "? ? ? ? ? ? ? ? ? ? 3 2",
            20,
            {},
            1.0,
            (3 * LOG[10] + 2 * LOG[11]) / (3 + 2 * LOG[1]),
        )
    ],
    "unretrieved documents with the score 0": [
        ("datascience.stackexchange 63667", " + 5 4 3 2 1", 5, {**EXPONENTIAL, "ties": "last"}, 0.5443, 0.0)
    ],
    "no relevant documents scored 1": [("catboost/benchmarks#19", "0 0", 10, {}, 1.0, 0.0)],
    "ideal in the order of the run": [("maciejkula/rustlearn#52", "? 1", 10, {}, 1.0, 0.6309)],
    "graded relevance read as 0 or 1": [
        ("recommenders-team/recommenders#1749", "3 2 3 ? 1 2 + 3 2", 6, {}, None, 0.785),
        ("huggingface/sentence-transformers#1349", "1 3", 10, {}, 1.0, (1 + 3 * LOG[1]) / (3 + LOG[1])),
        ("geek-ai/irgan#13", "1 2", 10, {}, 1.0, (1 + 2 * LOG[1]) / (2 + LOG[1])),
    ],
}


@pytest.mark.parametrize(
    ("slip", "row"),
    [pytest.param(slip, row, id=f"{row[0]}: {row[1]}") for slip, rows in REPORTED.items() for row in rows],
)
def test_a_thread_has_the_score_of_its_slip(slip: str, row: tuple[Any, ...]) -> None:
    thread, ranking, k, options, wrong, right = row
    assert thread in slip_named(slip).threads
    queries = Queries([query_of(ranking, k)])
    if wrong is not None:
        assert slip_named(slip).scores(queries, options)[0] == pytest.approx(wrong, abs=6e-4)
    assert queries.scores(options)[0] == pytest.approx(right, abs=6e-4)


# Examples that no single query and slip shows: several queries, values that are not nDCG, or inputs that go wrong


def one(
    run: Mapping[str, float], qrels: Mapping[str, float], k: int | None, measure: str = "nDCG", **how: Any
) -> float:
    return float(query_scores([Query(run, qrels, k)], how, measure)[0])


def test_the_cutoff_was_the_number_of_users() -> None:
    """allenjack/HGN#1: the cutoff 5 became min(5, the number of users)."""
    users = [(in_order("xyazw"), {"a": 1, "b": 1}), (in_order("xcyde"), {"c": 1, "d": 1, "e": 1})]
    assert np.mean([one(run, qrels, 2) for run, qrels in users]) == pytest.approx(0.1934, abs=6e-5)
    assert np.mean([one(run, qrels, 5) for run, qrels in users]) == pytest.approx(0.4932, abs=6e-5)


def test_natural_logarithms_change_dcg_and_not_ndcg() -> None:
    """cohere-ai/cohere-developer-experience#574."""
    run, qrels = in_order("abcd"), {"a": 1, "b": 0, "c": 1, "d": 1}
    assert one(run, qrels, None, "DCG") == pytest.approx(1.9307, abs=6e-5)
    assert one(run, qrels, None, "DCG", log_base=math.e) == pytest.approx(1.9307 / math.log(2), abs=1e-4)
    assert one(run, qrels, None, log_base=math.e) == pytest.approx(one(run, qrels, None))


def test_a_discount_that_grows_is_rejected_and_its_inverse_gives_the_right_score() -> None:
    """tensorflow/ranking#178: a test expected 2.0, from gains that were multiplied by the rank."""
    with pytest.raises(ValueError, match="rises from 1"):
        one(in_order("xa"), {"a": 1}, 2, discount=lambda rank: rank)
    assert one(in_order("xa"), {"a": 1}, 2, discount="reciprocal") == 0.5


def test_hit_flags_were_passed_as_scores() -> None:
    """scikit-learn/scikit-learn#27726."""
    truth = dict.fromkeys("abcd", 1)
    assert one(dict(zip("abcd", [1, 1, 1, 0], strict=True)), truth, 4) == 1.0
    assert one(in_order("abcx"), truth, 4) == pytest.approx(0.83187, abs=6e-6)


def test_negative_relevance_makes_a_score_of_hundreds() -> None:
    """scikit-learn/scikit-learn#17639: 396.03, from an ideal DCG that is nearly 0; the labels are shown to 2 digits."""
    truth, scores = [-0.89, -0.53, -0.47, 0.39, 0.56], [0.07, 0.31, 0.75, 0.33, 0.27]
    run, qrels = dict(zip("abcde", scores, strict=True)), dict(zip("abcde", truth, strict=True))
    assert abs(one(run, qrels, None, "IDCG", negative_relevance="keep")) < 0.01
    shifted = {document: relevance + 1 for document, relevance in qrels.items()}
    assert one(run, shifted, None) == pytest.approx(0.7996, abs=6e-5)
    with pytest.raises(ValueError, match=r"the relevance -0\.89 is negative"):
        one(run, qrels, None)


def test_documents_of_negative_relevance_were_masked() -> None:
    """tensorflow/ranking#40, a DCG."""
    query = Query({"a": 3, "b": 1, "c": 0}, {"a": -1, "b": 1, "c": 0}, None)
    how = {"gain": "exponential", "negative_relevance": "keep"}
    slip = slip_named("negative relevance removed")
    assert Queries([query]).scores(how, "DCG", slip.both)[0] == 1.0
    assert one(query.run, query.qrels, query.k, "DCG", **how) == pytest.approx(0.1309, abs=6e-5)


@pytest.mark.parametrize("thread", ["deepset-ai/haystack#11959", "truera/trulens#2746"])
def test_a_document_that_was_retrieved_twice_counted_twice(ndcg: evaluate.Metric, thread: str) -> None:
    assert thread in DUPLICATES_COUNTED.threads
    assert (LOG[0] + LOG[1]) / LOG[0] == pytest.approx(1.6309, abs=6e-5)  # the reported computation
    assert ndcg.compute(predictions=[["A"]], references=[{"A"}], k=2)["nDCG@2"] == 1.0
    with pytest.raises(ValueError, match="is in position 0 already"):
        ndcg.compute(predictions=[["A", "A"]], references=[{"A"}], k=2)


def test_the_name_of_a_duplicate_is_that_of_another_document() -> None:
    """mlflow/mlflow#25965."""
    truth = {"a_bc574ae_2": 1}
    assert one(in_order(["a", "a_bc574ae_2", "z"]), truth, 3) == pytest.approx(0.63093, abs=6e-6)
    assert one(in_order("az"), truth, 3) == 0.0


def test_a_constant_scorer_has_the_score_of_the_ids() -> None:
    """embeddings-benchmark/mteb#5092: 0.0, and a reciprocal rank of 1.0."""
    run = dict.fromkeys(THIRTY, 1)
    assert one(run, {THIRTY[0]: 1}, 10, ties="docid") == 0.0
    assert one(run, {THIRTY[0]: 1}, 10) == pytest.approx(sum(LOG[:10]) / 30)


def test_a_query_with_nothing_relevant_counts_as_0(ndcg: evaluate.Metric) -> None:
    """scikit-learn/scikit-learn#29521."""
    rows = [[1, 0, 1], [0, 0, 0]]
    assert ndcg.compute(predictions=rows, references=rows)["nDCG"] == 0.5
    assert ndcg.compute(predictions=rows, references=rows, zero_division=math.nan)["nDCG"] == 1.0


def test_queries_were_pooled(ndcg: evaluate.Metric) -> None:
    """Lightning-AI/torchmetrics#3216."""
    scores, relevance = [[0.2, 0.1], [0.3]], [[0, 1], [1]]
    assert ndcg.compute(predictions=[[0.3, 0.2, 0.1]], references=[[1, 0, 1]])["nDCG"] == pytest.approx(
        0.9197, abs=6e-5
    )
    assert ndcg.compute(predictions=scores, references=relevance)["nDCG"] == pytest.approx(0.8155, abs=6e-5)


IN_TESTS_ABOVE = {
    "allenjack/HGN#1",
    "cohere-ai/cohere-developer-experience#574",
    "tensorflow/ranking#178",
    "scikit-learn/scikit-learn#27726",
    "scikit-learn/scikit-learn#17639",
    "tensorflow/ranking#40",
    "deepset-ai/haystack#11959",
    "truera/trulens#2746",
    "mlflow/mlflow#25965",
    "embeddings-benchmark/mteb#5092",
    "scikit-learn/scikit-learn#29521",
    "Lightning-AI/torchmetrics#3216",
}
DATA = "the rankings are a data set's, which the thread does not show"
NOT_COMPUTED = {
    "kuandeng/LightGCN#3": DATA,
    "huangtinglin/NGCF-PyTorch#8": DATA,
    "guoguibing/librec#269": "only that it is always 1; no ranking is shown",
    "lenskit/lenskit#869": "the number of test ratings is not said",
    "ireval/cwl#20": DATA,
    "joaopalotti/trectools#52": DATA,
    "spiceai/spiceai#12191": DATA,
    "Georgetown-IR-Lab/OpenNIR#14": DATA,
    "dmlc/xgboost#11235": "the ranks of two relevant documents are not said",
    "Lightning-AI/torchmetrics#1952": "the scores and labels are not shown",
    "dmlc/xgboost#6707": DATA,
    "StackExchange: NDCG for Recommender Algorithm": "no nDCG: a sum of predicted scores over another of labels",
    "scikit-learn/scikit-learn#9921": "an exception, not a number",
    "github/CodeSearchNet#226": DATA,
    "FlagOpen/FlagEmbedding#445": DATA,
    "garrytan/gbrain#4607": DATA,
    "terrierteam/ir_measures#18": "a precision, not an nDCG",
    "dmlc/xgboost#3875": "the cause was not confirmed",
    "microsoft/SynapseML#703": DATA,
    "lightgbm-org/LightGBM#1965": "never reproduced",
    "lightgbm-org/LightGBM#2205": DATA,
    "beir-cellar/beir#91": DATA,
    "opensearch-project/search-relevance#191": "the cause is not said",
}


def test_every_example_is_computed_or_named_with_the_reason() -> None:
    computed = {row[0] for rows in REPORTED.values() for row in rows} | IN_TESTS_ABOVE
    assert computed.isdisjoint(NOT_COMPUTED)
    assert (len(computed), len(NOT_COMPUTED)) == (47, 23)
