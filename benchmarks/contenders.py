"""Who is compared: our metric and other ways to compute the mean nDCG of the same rankings.

A contender is a function that takes a :class:`~shapes.Work`, brings it into the form its users hold
it in (which is not timed) and returns the call to time, which answers with the mean nDCG.
Each contender imports its own libraries, so that only those that are not installed are missing.
"""

import atexit
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapes import Shape, Work

ROOT = Path(__file__).resolve().parent.parent
CPUS = (
    sorted(os.sched_getaffinity(0))
    if hasattr(os, "sched_getaffinity")
    else list(range(os.cpu_count() or 1))
)
BATCHES = 10  # that add_batch gets the work in

Call = Callable[[], Any]


@dataclass(frozen=True)
class Contender:
    """How one is run and judged.

    Attributes:
        prepare: from the work to the call to time.
        tolerance: how far its mean nDCG may be from the kernel's, relative.
        averages_ties: whether it counts tied scores as scikit-learn does; if not, its answer
            is checked on continuous scores only.
        whole: whether it gets all queries; if not, as many of the first as fit the time.
        threads: how many it may use; None leaves it to its default.
    """

    prepare: Callable[[Work], Call]
    tolerance: float = 1e-9
    averages_ties: bool = True
    whole: bool = False
    threads: int | None = None


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Run on so many CPUs and threads: torch by its switch, ours by affinity and environment."""
    if count is None:
        yield
        return
    before = os.environ.get("OMP_NUM_THREADS")
    _switch(str(count), CPUS[:count])
    try:
        yield
    finally:
        _switch(before, CPUS)


def _switch(variable: str | None, cpus: list[int]) -> None:
    os.environ.pop("OMP_NUM_THREADS", None)
    if variable is not None:
        os.environ["OMP_NUM_THREADS"] = variable
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(len(cpus))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


@functools.cache
def _cache_dir() -> str:
    """Return the folder in which metrics keep batches, apart from other runs."""
    path = tempfile.mkdtemp(prefix="ndcg-bench-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def _metric(checkout: Path = ROOT) -> Any:
    """Our metric, as users load it."""
    import evaluate

    return evaluate.load(str(checkout / "ndcg.py"), cache_dir=_cache_dir())


@functools.cache
def stock_metric() -> Any:
    """scikit-learn's nDCG as a metric of evaluate, written as metrics on the Hub are."""
    import datasets
    import evaluate
    from sklearn.metrics import ndcg_score

    class StockNDCG(evaluate.Metric):
        def _info(self) -> evaluate.MetricInfo:
            lists = datasets.Sequence(datasets.Value("float"))
            return evaluate.MetricInfo(
                description="",
                citation="",
                inputs_description="",
                features=datasets.Features({"predictions": lists, "references": lists}),
            )

        def _compute(
            self, predictions: Any, references: Any, k: int | None = None
        ) -> dict[str, float]:
            if len({len(row) for row in references}) == 1:
                return {"ndcg": float(ndcg_score(references, predictions, k=k))}
            pairs = zip(references, predictions, strict=True)
            return {"ndcg": float(np.mean([ndcg_score([r], [p], k=k) for r, p in pairs]))}

    return StockNDCG(cache_dir=_cache_dir())


@functools.cache
def measure_queries(checkout: Path = ROOT) -> Callable[..., dict[str, NDArray[np.float64]]]:
    """Return our kernel, as evaluate loads it with the metric."""
    package = type(_metric(checkout)).__module__.rpartition(".")[0]
    is_bundled = (
        checkout / "ndcg_bundle.py"
    ).exists()  # else the checkout is older, with its modules next to ndcg.py
    module = import_module(f"{package}.{'ndcg_bundle' if is_bundled else 'scoring'}")
    kernel: Callable[..., dict[str, NDArray[np.float64]]]
    kernel = getattr(module, "measure_queries", None) or module.score_queries  # the name before 2.0
    return kernel


def ndcg_of_queries(work: Work) -> NDArray[np.float64]:
    """Return the nDCG of each query by our kernel."""
    return measure_queries()(work.relevance, work.score, work.offsets, cutoffs=(work.k,))["nDCG"][0]


def kernel(work: Work) -> Call:
    """``scoring.measure_queries`` and the mean."""
    return lambda: ndcg_of_queries(work).mean()


def kernel_of(checkout: Path, work: Work) -> Call:
    """``scoring.measure_queries`` of another checkout, and the mean."""
    score = measure_queries(checkout)

    def call() -> Any:
        values = score(work.relevance, work.score, work.offsets, cutoffs=(work.k,))
        return values["nDCG"][0].mean()

    return call


def compute(work: Work) -> Call:
    """One-shot ``compute`` of our metric."""
    inputs, metric = work.inputs(), _metric()
    return lambda: metric.compute(**inputs, k=work.k).popitem()[1]


def add_batch(work: Work) -> Call:
    """``add_batch`` of our metric, then ``compute``."""
    inputs, metric = work.inputs(), _metric()
    step = -(-work.queries // BATCHES)
    batches = [
        {name: values[start : start + step] for name, values in inputs.items()}
        for start in range(0, work.queries, step)
    ]

    def call() -> float:
        for batch in batches:
            metric.add_batch(**batch)
        return float(metric.compute(k=work.k).popitem()[1])

    return call


def stock(work: Work) -> Call:
    """One-shot ``compute`` of a stock metric, which is ``add_batch`` and ``compute`` in one."""
    inputs, metric = work.inputs(), stock_metric()
    return lambda: metric.compute(**inputs, k=work.k)["ndcg"]


def sklearn(work: Work) -> Call:
    """``sklearn.metrics.ndcg_score``, for ragged queries list by list."""
    from sklearn.metrics import ndcg_score

    if work.offsets is None:
        return lambda: ndcg_score(work.relevance, work.score, k=work.k)
    pairs = [
        (r[np.newaxis], s[np.newaxis])
        for r, s in zip(work.rows(work.relevance), work.rows(work.score), strict=True)
    ]
    return lambda: np.mean([ndcg_score(relevance, score, k=work.k) for relevance, score in pairs])


def topk(work: Work) -> Call:
    """Bare ``torch.topk``, as written by hand; for ragged queries list by list."""
    import torch

    def ndcg(relevance: Any, score: Any) -> Any:
        k = min(work.k or score.shape[-1], score.shape[-1])
        discount = 1 / torch.log2(torch.arange(2, k + 2, dtype=relevance.dtype))
        dcg = (relevance.gather(-1, score.topk(k).indices) * discount).sum(-1)
        ideal = (relevance.topk(k).values * discount).sum(-1)
        return torch.where(ideal > 0, dcg / ideal, 0)

    if work.offsets is None:
        tensors = torch.from_numpy(work.relevance), torch.from_numpy(work.score)
        return lambda: float(ndcg(*tensors).mean())
    pairs = [
        (torch.from_numpy(r), torch.from_numpy(s))
        for r, s in zip(work.rows(work.relevance), work.rows(work.score), strict=True)
    ]
    return lambda: float(torch.stack([ndcg(relevance, score) for relevance, score in pairs]).mean())


def torchmetrics(work: Work) -> Call:
    """``RetrievalNormalizedDCG`` from flat tensors, which loops over the queries."""
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    preds = torch.from_numpy(work.score.ravel())
    target = torch.from_numpy(work.relevance.ravel().astype(np.int64))
    lengths = [len(row) for row in work.rows(work.score)]
    indexes = torch.from_numpy(np.repeat(np.arange(work.queries), lengths))

    def call() -> float:
        metric = RetrievalNormalizedDCG(top_k=work.k)
        metric.update(preds, target, indexes=indexes)
        return float(metric.compute())

    return call


def pytrec_eval(work: Work) -> Call:
    """``pytrec_eval.RelevanceEvaluator`` from its dicts."""
    import pytrec_eval

    (qrels, run), measure = work.by_id(), f"ndcg_cut.{work.k}" if work.k else "ndcg"

    def call() -> float:
        scores = pytrec_eval.RelevanceEvaluator(qrels, {measure}).evaluate(run)
        return float(np.mean([values[measure.replace(".", "_")] for values in scores.values()]))

    return call


def ranx_prebuilt(work: Work) -> Call:
    """``ranx.evaluate`` of ``Qrels`` and ``Run`` made before."""
    import ranx

    (qrels, run), measure = work.by_id(), f"ndcg@{work.k}" if work.k else "ndcg"
    built = ranx.Qrels(qrels), ranx.Run(run)
    return lambda: ranx.evaluate(*built, measure)


def ranx_from_dict(work: Work) -> Call:
    """``ranx.evaluate`` with ``Qrels`` and ``Run`` made from dicts."""
    import ranx

    (qrels, run), measure = work.by_id(), f"ndcg@{work.k}" if work.k else "ndcg"
    return lambda: ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), measure)


def ir_measures(work: Work) -> Call:
    """``ir_measures.calc_aggregate`` from dicts."""
    import ir_measures

    (qrels, run), measure = work.by_id(), ir_measures.nDCG @ work.k if work.k else ir_measures.nDCG
    return lambda: ir_measures.calc_aggregate([measure], qrels, run)[measure]


def rax(work: Work) -> Call:
    """``rax.ndcg_metric``, compiled; ragged queries padded and masked."""
    import jax
    import jax.numpy as jnp
    import rax

    sides = []
    for values in (work.score, work.relevance):
        rows = work.rows(values)
        padded = np.zeros((len(rows), max(map(len, rows))), np.float32)
        for row, padded_row in zip(rows, padded, strict=True):
            padded_row[: len(row)] = row
        sides.append(jnp.asarray(padded))
    lengths = np.array([len(row) for row in work.rows(work.score)])
    where = jnp.asarray(np.arange(lengths.max()) < lengths[:, np.newaxis])

    def ndcg(scores: Any, labels: Any) -> Any:
        return rax.ndcg_metric(
            scores, labels, where=where, topn=work.k, gain_fn=lambda label: label
        )

    compiled = jax.jit(ndcg)
    return lambda: float(compiled(*sides).block_until_ready())


# Tolerances above 1e-9 are for those that compute in float32 or, if a score occurs twice
# among many float32 ones, order the two at will.
CONTENDERS = {
    "kernel": Contender(kernel, whole=True, threads=len(CPUS)),
    "kernel, 1 thread": Contender(kernel, whole=True, threads=1),
    "compute": Contender(compute, whole=True, threads=len(CPUS)),
    "add_batch": Contender(add_batch, whole=True, threads=len(CPUS)),
    "stock evaluate": Contender(stock, tolerance=1e-5),
    "sklearn": Contender(sklearn),
    "torch.topk": Contender(
        topk, tolerance=1e-4, averages_ties=False, whole=True, threads=len(CPUS)
    ),
    "torch.topk, 1 thread": Contender(
        topk, tolerance=1e-4, averages_ties=False, whole=True, threads=1
    ),
    "torchmetrics": Contender(torchmetrics, tolerance=1e-4),
    "pytrec_eval": Contender(pytrec_eval, tolerance=1e-4, averages_ties=False),
    "ranx, prebuilt": Contender(ranx_prebuilt, averages_ties=False),
    "ranx, from dict": Contender(ranx_from_dict, averages_ties=False),
    "ir_measures": Contender(ir_measures, tolerance=1e-4, averages_ties=False),
    "rax": Contender(rax, tolerance=1e-4, averages_ties=False),
}
PEERS = tuple(CONTENDERS)[8:]
BEFORE = "kernel before"  # a contender if another checkout is given
PACKAGES = [
    "numpy",
    "evaluate",
    "datasets",
    "pyarrow",
    "scikit-learn",
    "torch",
    "torchmetrics",
    "pytrec_eval-terrier",
    "ranx",
    "ir_measures",
    "jax",
    "rax",
]


def contenders_of(shape: Shape) -> tuple[str, ...]:
    """Return the contenders that are measured on rankings of a shape."""
    if shape.scores is not None:
        is_one_query = shape.scores == shape.documents
        if is_one_query:
            return ("compute", "stock evaluate", "sklearn")
        return ("kernel", "compute")
    if shape.lists:
        return ("compute", "add_batch", "stock evaluate")
    if shape.tied:
        names = ["kernel", BEFORE, "compute", "stock evaluate", "sklearn", "torch.topk"]
    else:
        names = list(CONTENDERS)
    if not shape.dense or shape.dtype != "float64":
        # Other libraries are measured on the plainest rankings only.
        names = [name for name in names if name not in PEERS]
    return tuple(name for name in names if name in CONTENDERS)
