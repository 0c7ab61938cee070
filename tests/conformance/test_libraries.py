"""Every convention against the library it is named after, which is run on the same rankings."""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import spark_session
from reference import NUMBERS, RELEVANCE, SCORES

pytestmark = pytest.mark.peers
BATCHES = 60


class Batch(NamedTuple):
    """Queries of different lengths, with a cutoff."""

    scores: list[np.ndarray]
    relevance: list[np.ndarray]
    k: int

    @property
    def lengths(self) -> list[int]:
        return [len(each) for each in self.scores]

    @property
    def query_ids(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.scores)), self.lengths)

    def flat(self) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate(self.scores), np.concatenate(self.relevance)

    def by_id(self, side: list[np.ndarray]) -> dict[str, dict[str, Any]]:
        """Documents named by their position, so that ids and positions have one order."""
        return {f"q{query}": {f"d{at:03}": x.item() for at, x in enumerate(row)} for query, row in enumerate(side)}


def batches(longest: int = 40, lowest: int = 0, count: int = BATCHES) -> Iterator[Batch]:
    """Queries of every kind: tied or not, graded, sparse, with nothing relevant; cutoffs within and beyond them."""
    rng = np.random.default_rng(20020401)
    for _ in range(count):
        scores, relevance = [], []
        for length in rng.integers(1, longest + 1, rng.integers(1, 8)):
            tied = rng.random() < 0.6
            # in 32 bits, which several libraries compute in, so that no score is rounded into a tie
            score = rng.integers(0, 6, length) / 4 if tied else rng.random(length, np.float32)
            grades = rng.integers(lowest, 5, length) * (rng.random(length) < 0.6)
            scores.append(score.astype(np.float64))
            relevance.append(grades * (rng.random() < 0.8))
        yield Batch(scores, relevance, int(rng.choice([1, 3, 5, 10, 50])))


# The libraries: each scores a batch by itself, as its users would call it.


def sklearn(batch: Batch) -> float:
    from sklearn.metrics import ndcg_score

    rows = zip(batch.relevance, batch.scores, strict=True)
    return float(np.mean([ndcg_score([relevance], [score], k=batch.k) for relevance, score in rows]))


def trec_eval(batch: Batch) -> float:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(batch.by_id(batch.relevance), {f"ndcg_cut.{batch.k}"})
    by_query = evaluator.evaluate(batch.by_id(batch.scores))
    return float(np.mean([each[f"ndcg_cut_{batch.k}"] for each in by_query.values()]))


def ir_measures(batch: Batch) -> float:
    import ir_measures

    measure = ir_measures.nDCG @ batch.k
    qrels, run = batch.by_id(batch.relevance), batch.by_id(batch.scores)
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])


def ranx(batch: Batch, metric: str = "ndcg") -> float:
    from ranx import Qrels, Run
    from ranx import evaluate as score

    return float(score(Qrels(batch.by_id(batch.relevance)), Run(batch.by_id(batch.scores)), f"{metric}@{batch.k}"))


def ranx_burges(batch: Batch) -> float:
    return ranx(batch, "ndcg_burges")


def torchmetrics(batch: Batch, empty_target_action: str = "neg") -> float:
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    scores, relevance = map(torch.tensor, batch.flat())
    measure = RetrievalNormalizedDCG(top_k=batch.k, empty_target_action=empty_target_action)
    return float(measure(scores, relevance, indexes=torch.tensor(batch.query_ids)))


def ignite(batch: Batch, **how: Any) -> float:
    import torch
    from ignite.metrics.rec_sys.ndcg import NDCG

    measure = NDCG(top_k=[batch.k], **how)
    for score, relevance in zip(batch.scores, batch.relevance, strict=True):
        measure.update((torch.tensor(score)[None], torch.tensor(relevance)[None]))
    return float(measure.compute()[0])


def rax(batch: Batch) -> float:
    import jax.numpy as jnp
    import rax

    def padded(rows: list[np.ndarray]) -> Any:  # to one shape, as JAX compiles for each
        return jnp.asarray(np.stack([np.pad(row, (0, 40 - len(row))) for row in rows + [rows[0]] * (8 - len(rows))]))

    where = padded([np.ones(length, bool) for length in batch.lengths])
    by_query = rax.ndcg_metric(padded(batch.scores), padded(batch.relevance), where=where, topn=batch.k, reduce_fn=None)
    return float(by_query[: len(batch.scores)].mean())


def lightgbm(batch: Batch, **parameters: Any) -> float:
    import lightgbm

    scores, relevance = batch.flat()
    parameters = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [batch.k], "verbose": -1, **parameters}
    data = lightgbm.Dataset(
        np.arange(len(scores), dtype=float)[:, None],
        relevance,
        group=batch.lengths,
        init_score=scores,
        params={"min_data_in_leaf": 1, "min_data_in_bin": 1, **parameters},
    )
    return float(lightgbm.Booster({**parameters, "num_threads": 1}, data).eval_train()[0][2])


def xgboost(batch: Batch, metric: str | None = None, **parameters: Any) -> float:
    import xgboost

    scores, relevance = batch.flat()
    data = xgboost.DMatrix(np.zeros((len(scores), 1)), relevance, group=batch.lengths, base_margin=scores)
    metric = f"ndcg@{batch.k}" if metric is None else metric
    parameters = {"objective": "rank:ndcg", "eval_metric": metric, "base_score": 0.0, "nthread": 1, **parameters}
    return float(xgboost.Booster(parameters, [data]).eval(data).rpartition(":")[2])


def catboost(batch: Batch, kind: str = "Base", denominator: str = "LogPosition") -> float:
    from catboost.utils import eval_metric

    scores, relevance = batch.flat()
    how = {"group_id": batch.query_ids, "thread_count": 1}
    metric = f"NDCG:top={batch.k};type={kind};denominator={denominator}"
    return float(eval_metric(relevance, scores, metric, **how)[0])


def sentence_transformers(batch: Batch) -> float:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    qrels, run = batch.by_id(batch.relevance), batch.by_id(batch.scores)
    evaluator = InformationRetrievalEvaluator(
        queries=dict.fromkeys(qrels, "text"),
        corpus={document: "text" for documents in qrels.values() for document in documents},
        relevant_docs={query: {d for d, grade in grades.items() if grade > 0} for query, grades in qrels.items()},
        ndcg_at_k=[batch.k],
    )
    hits = [[{"corpus_id": d, "score": score} for d, score in run[query].items()] for query in evaluator.queries_ids]
    return float(evaluator.compute_metrics(hits)["ndcg@k"][batch.k])


def spark(batch: Batch) -> float:
    """What `RankingMetrics(...).ndcgAt(k)` asks of Spark, from a DataFrame: from an RDD it takes four times as long."""
    from pyspark.mllib.common import callMLlibFunc

    prediction = [np.argsort(-score, kind="stable") for score in batch.scores]
    label = [np.flatnonzero(relevance > 0) for relevance in batch.relevance]
    lists = pa.list_(pa.int32())
    table = pa.table({"prediction": pa.array(prediction, lists), "label": pa.array(label, lists)})
    frame = spark_session().createDataFrame(table)
    return float(callMLlibFunc("newRankingMetrics", frame._jdf).ndcgAt(batch.k))


LIBRARIES: dict[str, Callable[[Batch], float]] = {
    "sklearn": sklearn,
    "trec_eval": trec_eval,
    "ranx": ranx,
    "ranx_burges": ranx_burges,
    "torchmetrics": torchmetrics,
    "ignite": ignite,
    "rax": rax,
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "catboost": catboost,
    "sentence_transformers": sentence_transformers,
    "spark": spark,
}
IN_32_BITS = {"torchmetrics", "ignite", "rax"}


@pytest.fixture(autouse=True)
def _warnings_of_libraries() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def ours(ndcg: evaluate.Metric, batch: Batch, **options: Any) -> float:
    result = ndcg.compute(predictions=batch.scores, references=batch.relevance, k=batch.k, **options)
    return float(result[f"nDCG@{batch.k}"])


def scorable(library: str, batch: Batch) -> bool:
    """Whether there is a number: some skip queries with nothing relevant, scikit-learn refuses one document."""
    if library == "sklearn":
        return min(batch.lengths) > 1
    return library not in ("ignite", "sentence_transformers") or any((row > 0).any() for row in batch.relevance)


# libraries that take long to start, on one worker each
RANX, SPARK = (pytest.mark.xdist_group(name) for name in ("ranx", "spark"))
SLOW = {"ranx": [RANX], "ranx_burges": [RANX], "spark": [SPARK, pytest.mark.spark]}
EVERY_LIBRARY = [pytest.param(name, marks=SLOW.get(name, [])) for name in LIBRARIES]


@pytest.mark.parametrize("library", EVERY_LIBRARY)
def test_a_convention_reports_the_number_of_its_library(ndcg: evaluate.Metric, library: str) -> None:
    longest = 15 if library.startswith("ranx") else 40  # ranx orders ties of longer lists in no fixed way
    scored = 0
    for batch in batches(longest, count=BATCHES + 60):
        if scored == BATCHES:
            break
        if scorable(library, batch):
            expected = LIBRARIES[library](batch)
            tolerance = 1e-6 if library in IN_32_BITS else 1e-9
            assert ours(ndcg, batch, convention=library) == pytest.approx(expected, rel=tolerance, abs=1e-15)
            scored += 1
    assert scored == BATCHES


@pytest.mark.parametrize(
    "library", ["trec_eval", pytest.param("ranx", marks=pytest.mark.xdist_group("ranx")), "ignite"]
)
def test_negative_relevance_has_no_gain(ndcg: evaluate.Metric, library: str) -> None:
    for batch in batches(15, lowest=-2, count=60):
        if any(row.max() <= 0 and row.min() < 0 for row in batch.relevance):
            continue  # trec_eval itself breaks where every judgment is negative
        if scorable(library, batch):
            expected = LIBRARIES[library](batch)
            tolerance = 1e-6 if library in IN_32_BITS else 1e-9
            assert ours(ndcg, batch, convention=library) == pytest.approx(expected, rel=tolerance, abs=1e-15)


@pytest.mark.parametrize("library", ["torchmetrics", "rax", "catboost"])
def test_negative_relevance_has_a_negative_gain(ndcg: evaluate.Metric, library: str) -> None:
    scored = 0
    for batch in batches(15, lowest=-2, count=120):
        ideal = ndcg.compute(
            predictions=batch.scores,
            references=batch.relevance,
            k=batch.k,
            measures="IDCG",
            convention=library,
            use_aggregator=False,
        )[f"IDCG@{batch.k}"]
        if min(ideal) > 0 and all(row.sum() for row in batch.relevance):
            scored += 1
            expected = LIBRARIES[library](batch)
            assert ours(ndcg, batch, convention=library) == pytest.approx(expected, rel=2e-5, abs=1e-6)  # sums cancel
    assert scored >= 20


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_negative_relevance_is_refused(ndcg: evaluate.Metric, library: str) -> None:
    batch = Batch([np.array([0.9, 0.1, 0.5])], [np.array([1, -1, 0])], 2)
    with pytest.raises(Exception, match=r"(?i)label|relevance|target|negative"):
        LIBRARIES[library](batch)
    with pytest.raises(ValueError, match=r"^references: query 0, position 1: the relevance -1.* is negative"):
        ours(ndcg, batch, convention=library)


# The example of the metric card


@pytest.mark.parametrize("library", EVERY_LIBRARY)
def test_one_ranking_has_many_numbers(ndcg: evaluate.Metric, library: str) -> None:
    example = Batch([np.array(row, float) for row in SCORES], [np.array(row) for row in RELEVANCE], 6)
    convention = ndcg.compute(predictions=SCORES, references=RELEVANCE, convention=library)["nDCG"]
    assert convention == pytest.approx(LIBRARIES[library](example), rel=1e-6)
    if library in NUMBERS:
        assert round(convention, 4) == NUMBERS[library]


# What no convention expresses, by the case that shows it; and what one option more does


def only(score: list[float], relevance: list[float], k: int = 10) -> Batch:
    return Batch([np.array(score, float)], [np.array(relevance)], k)


def test_scikit_learn_refuses_one_document(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="more than 1 document"):
        sklearn(only([1], [1]))
    assert ours(ndcg, only([1], [1])) == 1.0


@pytest.mark.parametrize("library", ["trec_eval", "torchmetrics", "xgboost"])
def test_scores_may_be_held_in_32_bits(ndcg: evaluate.Metric, library: str) -> None:
    numbers = []
    for score, relevance in (([1 + 1e-9, 1], [1, 0]), ([1, 1 + 1e-9], [0, 1])):
        close = only(score, relevance)  # the relevant one ranks first, unless they are tied
        assert ours(ndcg, close, convention=library) == 1.0
        in_32_bits = close._replace(scores=[close.scores[0].astype(np.float32)])
        numbers.append(LIBRARIES[library](close))
        assert numbers[-1] == pytest.approx(ours(ndcg, in_32_bits, convention=library), rel=1e-6)
    assert min(numbers) < 1.0


def test_trec_eval_leaves_out_queries_that_the_run_lacks(ndcg: evaluate.Metric) -> None:
    import pytrec_eval

    qrels, run = {"a": {"d": 1}, "b": {"d": 1}}, {"a": {"d": 1.0}}
    assert pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run) == {"a": {"ndcg": 1.0}}
    assert ndcg.compute(predictions=run, references=qrels, convention="trec_eval") == {"nDCG": 0.5}


def test_ir_measures_is_trec_eval(ndcg: evaluate.Metric) -> None:
    for batch in batches():
        assert ours(ndcg, batch, convention="trec_eval") == pytest.approx(ir_measures(batch), rel=1e-9)


@pytest.mark.xdist_group("ranx")
def test_ranx_orders_ties_of_long_lists_in_no_fixed_way(ndcg: evaluate.Metric) -> None:
    differ = 0
    for first in range(16):
        tied = only([1.0] * 16, [int(at == first) for at in range(16)], 16)
        differ += ranx(tied) != pytest.approx(ours(ndcg, tied, convention="ranx"))
    assert differ > 0


@pytest.mark.parametrize(("action", "zero_division"), [("neg", 0.0), ("pos", 1.0), ("skip", math.nan)])
def test_torchmetrics_has_a_policy_for_queries_with_nothing_relevant(
    ndcg: evaluate.Metric, action: str, zero_division: float
) -> None:
    batch = Batch([np.array(row, float) for row in SCORES], [np.array(row) for row in RELEVANCE], 6)
    expected = ours(ndcg, batch, convention="torchmetrics", zero_division=zero_division)
    assert torchmetrics(batch, action) == pytest.approx(expected, rel=1e-6)


def test_torchmetrics_takes_relevances_that_add_up_to_0_for_nothing_relevant(ndcg: evaluate.Metric) -> None:
    cancelling = only([2, 1, 0], [1, -1, 0])
    assert torchmetrics(cancelling) == 0.0
    assert ours(ndcg, cancelling, convention="torchmetrics") == pytest.approx((1 - 1 / math.log2(3)) / (1 - 1 / 2))


def test_ignite_counts_a_relevance_below_1_as_0(ndcg: evaluate.Metric) -> None:
    half = Batch([np.array([2.0, 1.0])], [np.array([0.5, 1.0])], 2)
    assert ignite(half) == pytest.approx(1 / math.log2(3))
    assert ours(ndcg, half, convention="ignite") > 0.8
    assert ignite(half, relevance_threshold=0.0) == pytest.approx(ours(ndcg, half, convention="ignite"), rel=1e-6)


def test_rax_divides_by_a_negative_ideal(ndcg: evaluate.Metric) -> None:
    negative = only([2, 1], [-2, -1])
    assert rax(negative) > 1
    assert ours(ndcg, negative, convention="rax") == 0.0


def test_lightgbm_knows_labels_up_to_30_and_other_gains(ndcg: evaluate.Metric) -> None:
    graded = only([3, 2, 1], [1, 30, 0], 2)
    assert ours(ndcg, graded, convention="lightgbm") == pytest.approx(lightgbm(graded), rel=1e-9)
    with pytest.raises(Exception, match="31"):
        lightgbm(only([3, 2, 1], [1, 31, 0]))
    graded, table = only([3, 2, 1], [1, 2, 0], 2), [0, 5, 6]
    assert ours(ndcg, graded, convention="lightgbm", gain=table) == pytest.approx(lightgbm(graded, label_gain=table))


def test_xgboost_stops_at_rank_32_without_a_cutoff(ndcg: evaluate.Metric) -> None:
    last = only(list(range(40, 0, -1)), [0] * 39 + [1], 32)
    assert xgboost(last, "ndcg") == ours(ndcg, last, convention="xgboost") == 0.0
    assert ours(ndcg, last._replace(k=40), convention="xgboost") == pytest.approx(1 / math.log2(41))


def test_xgboost_has_other_gains_and_another_number_for_nothing_relevant(ndcg: evaluate.Metric) -> None:
    for batch in batches(count=60):
        expected = ours(ndcg, batch, convention="xgboost", zero_division=0.0)
        assert xgboost(batch, f"ndcg@{batch.k}-") == pytest.approx(expected, rel=1e-9)
        expected = ours(ndcg, batch, convention="xgboost", gain="linear")
        assert xgboost(batch, ndcg_exp_gain=False) == pytest.approx(expected, rel=1e-9)


def test_catboost_has_an_exponential_gain_too(ndcg: evaluate.Metric) -> None:
    for batch in batches(count=60):
        expected = ours(ndcg, batch, convention="catboost", gain="exponential")
        assert catboost(batch, "Exp") == pytest.approx(expected, rel=1e-9)


def test_catboost_has_a_reciprocal_discount_too(ndcg: evaluate.Metric) -> None:
    for batch in batches(count=60):
        expected = ours(ndcg, batch, convention="catboost", discount="reciprocal")
        assert catboost(batch, denominator="Position") == pytest.approx(expected, rel=1e-9)


def test_rax_takes_any_discount(ndcg: evaluate.Metric) -> None:
    import jax
    import rax

    with jax.enable_x64(True):
        for batch in batches(count=5):
            relevance, score = (np.array([row]) for row in (batch.relevance[0], batch.scores[0]))
            how = {"convention": "rax", "discount": "reciprocal", "k": batch.k}
            expected = ndcg.compute(predictions=score, references=relevance, **how)
            found = rax.ndcg_metric(score[0], relevance[0], topn=batch.k, discount_fn=lambda rank: 1 / rank)
            assert list(expected.values()) == [pytest.approx(float(found), rel=1e-9)]


def test_sentence_transformers_ranks_ties_by_ascending_id(ndcg: evaluate.Metric) -> None:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    evaluator = InformationRetrievalEvaluator({"q": ""}, {"a": "", "b": ""}, {"q": {"b"}}, ndcg_at_k=[1])
    hits = [[{"corpus_id": "b", "score": 1.0}, {"corpus_id": "a", "score": 1.0}]]
    assert evaluator.compute_metrics(hits)["ndcg@k"] == {1: 0.0}
    for run, expected in (({"b": 1.0, "a": 1.0}, 1.0), ({"a": 1.0, "b": 1.0}, 0.0)):
        how = {"references": {"q": {"b": 1}}, "k": 1, "convention": "sentence_transformers"}
        assert ndcg.compute(predictions={"q": run}, **how) == {"nDCG@1": expected}


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_does_not_look_at_the_relevances_that_pyspark_lets_one_give(ndcg: evaluate.Metric) -> None:
    from pyspark.mllib.evaluation import RankingMetrics

    graded = only([3, 2, 1], [1, 0, 2], 3)
    ranking = ([0, 1, 2], [0, 2], [1.0, 2.0])
    measure = RankingMetrics(spark_session().sparkContext.parallelize([ranking]))
    assert measure.ndcgAt(3) == pytest.approx(ours(ndcg, graded, convention="spark"))
    assert measure.ndcgAt(3) > ours(ndcg, graded, convention="spark", gain="exponential")
