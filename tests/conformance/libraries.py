"""The libraries that conventions are named after: each scores rankings as its users would call it.

Rankings are random, of two kinds. A `Batch` has scores and relevances of the same documents; in a
`Run` some judged documents were not retrieved, and some retrieved ones not judged. `saturated`
gives either scores close to 1. `numbers` scores them by a library and by the convention of its
name: for the tests, and for benchmarks/agreement.py.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.resources import files
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ranx_sides, spark_session
from evaluate import Metric

CASES = 80  # of each library
SATURATED = 200  # of each library, with saturated sigmoids for scores


class Batch(NamedTuple):
    """Queries of different lengths, with a cutoff."""

    scores: list[np.ndarray]
    relevance: list[np.ndarray]
    k: int

    @property
    def queries(self) -> int:
        return len(self.scores)

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
        return {
            str(query): {f"d{at:03}": x.item() for at, x in enumerate(row)}
            for query, row in enumerate(side)
        }

    def as_run(self) -> "Run":
        return Run(self.by_id(self.scores), self.by_id(self.relevance), self.k)

    def padded(self, side: list[np.ndarray], with_: float = 0) -> np.ndarray:
        return np.stack(
            [np.pad(row, (0, max(self.lengths) - len(row)), constant_values=with_) for row in side]
        )

    def ours(self, ndcg: Metric, **options: Any) -> float:
        result = ndcg.compute(
            predictions=self.scores, references=self.relevance, k=self.k, **options
        )
        return float(result[f"nDCG@{self.k}"])


class Run(NamedTuple):
    """The scores of the retrieved documents and the relevances of the judged ones, by query."""

    run: dict[str, dict[str, float]]
    qrels: dict[str, dict[str, int]]
    k: int | None

    @property
    def queries(self) -> int:
        return len(self.qrels)

    @property
    def ranked(self) -> dict[str, list[str]]:
        """The ids of every judged query, best first; none for a query missing from the run."""
        return {
            query: sorted(found, key=found.get, reverse=True) for query, found in self.every.items()
        }  # type: ignore[arg-type]

    @property
    def every(self) -> dict[str, dict[str, float]]:
        return {query: self.run.get(query, {}) for query in self.qrels}

    @property
    def relevant(self) -> dict[str, list[str]]:
        return {
            query: [id_ for id_, grade in each.items() if grade > 0]
            for query, each in self.qrels.items()
        }

    def frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Retrieved and relevant documents by row, with ranks and relevances."""
        found = [
            (query, id_, -at, at)
            for query, ids in self.ranked.items()
            for at, id_ in enumerate(ids, 1)
        ]
        relevant = [
            (query, id_, self.qrels[query][id_])
            for query, ids in self.relevant.items()
            for id_ in ids
        ]
        return (
            pd.DataFrame(found, columns=["user_id", "item_id", "score", "rank"]),
            pd.DataFrame(relevant, columns=["user_id", "item_id", "rating"]),
        )

    def without_empty(self) -> "Run":
        """As a file holds it: no query without documents."""
        return self._replace(run={query: found for query, found in self.run.items() if found})

    def cut(self) -> "Run":
        """The first k retrieved, without a cutoff for the ideal."""
        run = {
            query: {id_: self.run[query][id_] for id_ in ids[: self.k]}
            for query, ids in self.ranked.items()
        }
        return self._replace(run=run, k=None)

    def answered(self) -> "Run":
        """The queries of which something is relevant and something was retrieved."""
        both = [query for query, ids in self.relevant.items() if ids and self.run.get(query)]
        run, qrels = ({query: side[query] for query in both} for side in (self.run, self.qrels))
        return self._replace(run=run, qrels=qrels)

    def ours(self, ndcg: Metric, **options: Any) -> float:
        (value,) = ndcg.compute(
            predictions=self.run, references=self.qrels, k=self.k, **options
        ).values()
        return float(value)


def batches(longest: int = 40, lowest: int = 0, tied: float = 0.6) -> Iterator[Batch]:
    """Queries with and without ties, graded, sparse or without anything relevant, and cutoffs."""
    rng = np.random.default_rng(20020401)
    while True:
        scores, relevance = [], []
        for length in rng.integers(1, longest + 1, rng.integers(1, 8)):
            # in 32 bits, which several libraries compute in, so that no score is rounded into a tie
            ties = rng.random() < tied
            score = rng.integers(0, 6, length) / 4 if ties else rng.random(length, np.float32)
            grades = rng.integers(lowest, 5, length) * (rng.random(length) < 0.6)
            scores.append(score.astype(np.float64))
            relevance.append(grades * (rng.random() < 0.8))
        yield Batch(scores, relevance, int(rng.choice([1, 3, 5, 10, 50])))


def runs(tied: bool = False) -> Iterator[Run]:
    """Queries of every kind, some without relevant documents, not retrieved for, or not asked.

    Of the first something relevant was retrieved, so that there is a number.
    """
    rng = np.random.default_rng(20020402)
    while True:
        run: dict[str, dict[str, float]] = {}
        qrels: dict[str, dict[str, int]] = {}
        for query in range(int(rng.integers(1, 9))):
            ids = [f"d{document:02}" for document in rng.permutation(60)[: rng.integers(1, 41)]]
            retrieved, judged = rng.random((2, len(ids))) < rng.uniform(-0.1, 1, (2, 1))
            scores = (rng.integers(0, 6, len(ids)) if tied else rng.permutation(len(ids))) / 4
            grades = (
                rng.integers(0, 5, len(ids)) * (rng.random(len(ids)) < 0.6) * (rng.random() < 0.8)
            )
            judged[0] = True
            if query == 0:
                retrieved[0], grades[0] = True, 1
            qrels[str(query)] = {
                id_: int(grade)
                for id_, grade, is_in in zip(ids, grades, judged, strict=True)
                if is_in
            }
            if query == 0 or rng.random() < 0.85:
                found = {
                    id_: float(score)
                    for id_, score, is_in in zip(ids, scores, retrieved, strict=True)
                    if is_in
                }
                run[str(query)] = found
        yield Run(run, qrels, int(rng.choice([1, 3, 5, 10, 50])))


def saturated(drawn: Iterator[Any]) -> Iterator[Any]:
    """The same rankings with sigmoids as scores, many of which are tied as 32-bit floats."""
    rng = np.random.default_rng(20020403)

    def sigmoids(count: int) -> np.ndarray:
        return 1 / (1 + np.exp(-rng.normal(14, 4, count)))

    for rankings in drawn:
        if isinstance(rankings, Batch):
            yield rankings._replace(scores=[sigmoids(length) for length in rankings.lengths])
        else:
            run = rankings.run.items()
            run = {
                query: dict(zip(ids, sigmoids(len(ids)).tolist(), strict=True))
                for query, ids in run
            }
            yield rankings._replace(run=run)


def metric_module(name: str, **instead: Any) -> Any:
    """Import a module alone, with stand-ins for imported modules that are not installed."""
    if name in sys.modules:
        return sys.modules[name]
    packages = [name.rsplit(".", parts)[0] for parts in range(name.count("."), 0, -1)]
    path = None
    for package in packages:
        spec = PathFinder.find_spec(package, path)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        path = list(spec.submodule_search_locations or [])
        if package not in sys.modules:
            instead[package] = ModuleType(package)
            instead[package].__path__ = path
    sys.modules.update(instead)
    try:
        return import_module(name)
    finally:
        for each in instead:
            del sys.modules[each]


# --- Libraries that score arrays ------------------------------------------------------------------


def sklearn(batch: Batch) -> float:
    from sklearn.metrics import ndcg_score

    rows = zip(batch.relevance, batch.scores, strict=True)
    return float(
        np.mean([ndcg_score([relevance], [score], k=batch.k) for relevance, score in rows])
    )


def trec_eval(batch: Batch) -> float:
    return pytrec_eval(batch.as_run())


def ir_measures(batch: Batch) -> float:
    import ir_measures

    run, qrels, k = batch.as_run()
    return float(
        ir_measures.calc_aggregate([ir_measures.nDCG @ k], qrels, run)[ir_measures.nDCG @ k]
    )


def ranx(batch: Batch, metric: str = "ndcg") -> float:
    import ranx

    run, qrels, k = batch.as_run()
    return float(ranx.evaluate(*ranx_sides(run, qrels), f"{metric}@{k}"))


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
        return jnp.asarray(
            np.stack(
                [np.pad(row, (0, 40 - len(row))) for row in rows + [rows[0]] * (8 - len(rows))]
            )
        )

    where = padded([np.ones(length, bool) for length in batch.lengths])
    by_query = rax.ndcg_metric(
        padded(batch.scores), padded(batch.relevance), where=where, topn=batch.k, reduce_fn=None
    )
    return float(by_query[: len(batch.scores)].mean())


def lightgbm(batch: Batch, **parameters: Any) -> float:
    import lightgbm

    scores, relevance = batch.flat()
    parameters = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [batch.k],
        "verbose": -1,
        **parameters,
    }
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
    data = xgboost.DMatrix(
        np.zeros((len(scores), 1)), relevance, group=batch.lengths, base_margin=scores
    )
    metric = f"ndcg@{batch.k}" if metric is None else metric
    parameters = {
        "objective": "rank:ndcg",
        "eval_metric": metric,
        "base_score": 0.0,
        "nthread": 1,
        **parameters,
    }
    return float(xgboost.Booster(parameters, [data]).eval(data).rpartition(":")[2])


def catboost(batch: Batch, kind: str = "Base", denominator: str = "LogPosition") -> float:
    from catboost.utils import eval_metric

    scores, relevance = batch.flat()
    how = {"group_id": batch.query_ids, "thread_count": 1}
    metric = f"NDCG:top={batch.k};type={kind};denominator={denominator}"
    return float(eval_metric(relevance, scores, metric, **how)[0])


def sentence_transformers(batch: Batch) -> float:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    run = batch.as_run()
    evaluator = InformationRetrievalEvaluator(
        queries=dict.fromkeys(run.qrels, "text"),
        corpus={document: "text" for documents in run.qrels.values() for document in documents},
        relevant_docs={query: set(documents) for query, documents in run.relevant.items()},
        ndcg_at_k=[batch.k],
    )
    hits = [
        [{"corpus_id": d, "score": x} for d, x in run.run[query].items()]
        for query in evaluator.queries_ids
    ]
    return float(evaluator.compute_metrics(hits)["ndcg@k"][batch.k])


def spark(batch: Batch) -> float:
    """The call of `RankingMetrics(...).ndcgAt(k)` on a DataFrame, four times as fast as an RDD."""
    from pyspark.mllib.common import callMLlibFunc

    prediction = [np.argsort(-score, kind="stable") for score in batch.scores]
    label = [np.flatnonzero(relevance > 0) for relevance in batch.relevance]
    lists = pa.list_(pa.int32())
    table = pa.table({"prediction": pa.array(prediction, lists), "label": pa.array(label, lists)})
    frame = spark_session().createDataFrame(table)
    return float(callMLlibFunc("newRankingMetrics", frame._jdf).ndcgAt(batch.k))


def allrank(batch: Batch) -> float:
    import torch

    # the metric uses only the label of padding from the module that loads data, which needs
    # torchvision and gcsfs
    loading = {"allrank.data.dataset_loading": SimpleNamespace(PADDED_Y_VALUE=-1)}
    ndcg = metric_module("allrank.models.metrics", **loading).ndcg
    scores = torch.tensor(batch.padded(batch.scores), dtype=torch.float32)
    relevance = torch.tensor(batch.padded(batch.relevance, with_=-1), dtype=torch.float32)
    return float(ndcg(scores, relevance, ats=[batch.k]).mean())


def evidently(batch: Batch) -> float:
    recsys = metric_module("evidently.legacy.calculations.recommender_systems")
    metric = metric_module("evidently.legacy.metrics.recsys.ndcg_k").NDCGKMetric(k=batch.k)
    scores, relevance = batch.flat()
    columns = map(pd.Series, (batch.query_ids, relevance, scores))
    data = recsys.collect_dataset(
        *columns, recsys.RecomType.SCORE, None, metric.no_feedback_users, bin_data=False
    )
    by_cutoff = metric.calculate_ndcg(data, batch.k)
    return float(by_cutoff[min(batch.k, max(by_cutoff.index))])  # as far as the longest list goes


# --- Libraries that score ids ---------------------------------------------------------------------


def pytrec_eval(run: Run) -> float:
    import pytrec_eval

    by_query = pytrec_eval.RelevanceEvaluator(run.qrels, {f"ndcg_cut.{run.k}"}).evaluate(run.run)
    return float(np.mean([each[f"ndcg_cut_{run.k}"] for each in by_query.values()]))


def beir(run: Run) -> float:
    from beir.retrieval.evaluation import EvaluateRetrieval

    copies = {
        query: dict(found) for query, found in run.run.items()
    }  # it drops documents from its input
    return float(EvaluateRetrieval.evaluate(run.qrels, copies, [run.k])[0][f"NDCG@{run.k}"])


def mteb(run: Run) -> float:
    calculate = metric_module("mteb._evaluators.retrieval_metrics").calculate_retrieval_scores
    return float(calculate(run.run, run.qrels, [run.k]).ndcg[f"NDCG@{run.k}"])


def gdeval(run: Run) -> float:
    with TemporaryDirectory() as folder:
        qrels, results = Path(folder, "qrels"), Path(folder, "run")
        rows = [
            f"{query} 0 {id_} {grade}\n"
            for query, each in run.qrels.items()
            for id_, grade in each.items()
        ]
        qrels.write_text("".join(rows))
        rows = [
            f"{query} Q0 {id_} 0 {score} run\n"
            for query, each in run.run.items()
            for id_, score in each.items()
        ]
        results.write_text("".join(rows))
        script = files("ir_measures") / "bin" / "gdeval.pl"
        command = ["perl", str(script), str(qrels), str(results), str(run.k)]
        printed = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.splitlines()
    return float(np.mean([float(line.split(",")[2]) for line in printed[1:]]))


def lenskit(run: Run, gain: str | None = None) -> float:
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import NDCG, RunAnalysis

    def lists(ids: dict[str, list[str]], **fields: Any) -> Any:
        by_user = {
            query: ItemList(
                item_ids=np.array(each, str),
                **{name: value(query) for name, value in fields.items()},
            )
            for query, each in ids.items()
        }
        return ItemListCollection.from_dict(by_user, key="user_id")

    found = lists({query: run.ranked[query] for query in run.run}, ordered=lambda _: True)
    ratings = {query: [run.qrels[query][id_] for id_ in ids] for query, ids in run.relevant.items()}
    relevant = lists(run.relevant, rating=lambda query: np.array(ratings[query], float))
    summary = RunAnalysis(NDCG(run.k, gain=gain)).measure(found, relevant).list_summary()
    return float(summary.loc[f"NDCG@{run.k}", "mean"])


def mlflow(run: Run) -> float:
    from mlflow.metrics import ndcg_at_k

    found, relevant = (pd.Series(list(side.values())) for side in (run.ranked, run.relevant))
    return float(ndcg_at_k(run.k).eval_fn(found, relevant).aggregate_results["mean"])


def recommenders(run: Run, **how: Any) -> float:
    from recommenders.evaluation.python_evaluation import ndcg_at_k

    found, relevant = run.frames()
    columns = {
        "col_user": "user_id",
        "col_item": "item_id",
        "col_rating": "rating",
        "col_prediction": "score",
    }
    return float(ndcg_at_k(relevant, found.drop(columns="rank"), k=run.k, **columns, **how))


def recbole(run: Run) -> float:
    import torch
    from recbole.evaluator.collector import DataStruct
    from recbole.evaluator.metrics import NDCG

    rows = []
    for query, ids in run.ranked.items():
        hits = [id_ in run.relevant[query] for id_ in ids[: run.k]]
        rows.append([*hits, *[False] * (run.k - len(hits)), len(run.relevant[query])])
    data = DataStruct()
    data.set("rec.topk", torch.tensor(rows, dtype=torch.int64))
    with patch.object(np, "float", float, create=True):  # which it asks for, and NumPy has no more
        metric = NDCG({"topk": [run.k], "metric_decimal_place": 16})
        return float(metric.calculate_metric(data)[f"ndcg@{run.k}"])


def cornac(run: Run) -> float:
    from cornac.data import Dataset
    from cornac.eval_methods.base_method import ranking_eval
    from cornac.metrics import NDCG

    items = sorted(
        {id_ for side in (run.every, run.qrels) for each in side.values() for id_ in each}
    )
    rated = [
        (query, id_, float(grade))
        for query, each in run.qrels.items()
        for id_, grade in each.items()
    ]
    rated += [("everyone", id_, 0.0) for id_ in items]
    data = Dataset.from_uir(rated)

    def rank(user_idx: int, **_: Any) -> tuple[np.ndarray, None]:
        found = run.ranked.get(list(data.uid_map)[user_idx], [])
        return np.array([data.iid_map[id_] for id_ in found], int), None

    nothing = SimpleNamespace(csr_matrix=np.empty((0, len(items))))
    averages, _ = ranking_eval(
        SimpleNamespace(rank=rank), [NDCG(run.k)], nothing, data, exclude_unknowns=False
    )
    return float(averages[0])


def rectools(run: Run, **how: Any) -> float:
    from rectools.metrics import NDCG

    found, relevant = run.frames()
    return float(NDCG(k=run.k, **how).calc(found, relevant))


def haystack(run: Run) -> float:
    from haystack import Document
    from haystack.components.evaluators.document_ndcg import DocumentNDCGEvaluator

    expected = [
        [Document(id=id_, score=grade) for id_, grade in each.items()]
        for each in run.qrels.values()
    ]
    found = [[Document(id=id_) for id_ in ids] for ids in run.ranked.values()]
    return float(DocumentNDCGEvaluator("id").run(expected, found)["score"])


def llama_index(run: Run, **how: Any) -> float:
    metric = metric_module("llama_index.core.evaluation.retrieval.metrics").NDCG(**how)
    pairs = zip(run.relevant.values(), run.ranked.values(), strict=True)
    return float(
        np.mean(
            [
                metric.compute(expected_ids=relevant, retrieved_ids=found).score
                for relevant, found in pairs
            ]
        )
    )


class Library(NamedTuple):
    """How to run a library, and how exact it is."""

    score: Callable[[Any], float]  # gives the mean nDCG of a batch or a run
    package: str  # as it is installed
    drawn: Callable[[], Iterator[Any]] = batches  # the rankings that it has a score for
    rel: float = 1e-9  # how exactly it computes
    abs: float = 1e-15  # how far it rounds

    def approx(self, number: float) -> Any:
        return pytest.approx(number, rel=self.rel, abs=self.abs)


def relevant_somewhere(tied: float = 0.6) -> Iterator[Batch]:
    return (
        batch for batch in batches(tied=tied) if any((row > 0).any() for row in batch.relevance)
    )


LIBRARIES: dict[str, Library] = {
    "sklearn": Library(
        sklearn, "scikit-learn", lambda: (each for each in batches() if min(each.lengths) > 1)
    ),
    "trec_eval": Library(trec_eval, "pytrec_eval-terrier"),
    "ranx": Library(
        ranx, "ranx", lambda: batches(15)
    ),  # it orders ties of longer lists in no fixed way
    "ranx_burges": Library(lambda batch: ranx(batch, "ndcg_burges"), "ranx", lambda: batches(15)),
    "torchmetrics": Library(torchmetrics, "torchmetrics", rel=1e-6),
    "ignite": Library(ignite, "pytorch-ignite", relevant_somewhere, rel=1e-6),
    "rax": Library(rax, "rax", rel=1e-6),
    "lightgbm": Library(lightgbm, "lightgbm"),
    "xgboost": Library(xgboost, "xgboost-cpu"),
    "allrank": Library(allrank, "allRank", lambda: batches(16), rel=1e-6),  # likewise
    "catboost": Library(catboost, "catboost"),
    "sentence_transformers": Library(
        sentence_transformers, "sentence-transformers", relevant_somewhere
    ),
    "spark": Library(spark, "pyspark"),
    "evidently": Library(evidently, "evidently", lambda: relevant_somewhere(tied=0)),
    "pytrec_eval": Library(pytrec_eval, "pytrec_eval-terrier", lambda: runs(tied=True)),
    "beir": Library(beir, "beir", lambda: runs(tied=True), abs=5.1e-6),
    "mteb": Library(mteb, "mteb", lambda: runs(tied=True), abs=5.1e-6),
    "gdeval": Library(
        gdeval, "ir_measures", lambda: (run.without_empty() for run in runs(tied=True)), abs=5.1e-6
    ),
    "lenskit": Library(lenskit, "lenskit", runs),
    "mlflow": Library(mlflow, "mlflow", runs),
    "recommenders": Library(recommenders, "recommenders", runs),
    "recbole": Library(recbole, "recbole", runs),
    "cornac": Library(cornac, "cornac", runs),
    "rectools": Library(rectools, "rectools", runs),
    "haystack": Library(haystack, "haystack-ai", lambda: (run.cut() for run in runs())),
    "llama_index": Library(
        llama_index, "llama-index-core", lambda: (run.cut().answered() for run in runs())
    ),
}


def numbers(
    ndcg: Metric, library: str, count: int, *, of_sigmoids: bool = False
) -> Iterator[tuple[Any, float, float]]:
    """Yield rankings, each with the mean nDCG by the library and by the convention of its name."""
    drawn = LIBRARIES[library].drawn()
    for rankings in islice(saturated(drawn) if of_sigmoids else drawn, count):
        yield rankings, LIBRARIES[library].score(rankings), rankings.ours(ndcg, convention=library)
