"""`check` is given functions that call libraries as their users do, and names each by its convention."""

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from conftest import MISSING

from ndcg.explanations.check import check

pytestmark = pytest.mark.peers
Documents = dict[str, float]


@pytest.fixture(autouse=True)
def _warnings_of_libraries() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def sklearn(scores: list[float], relevance: list[float], k: int) -> float:
    return float(import_module("sklearn.metrics").ndcg_score([relevance], [scores], k=k))


def torchmetrics(scores: list[float], relevance: list[float], k: int) -> Any:
    torch, functional = import_module("torch"), import_module("torchmetrics.functional.retrieval")
    return functional.retrieval_normalized_dcg(torch.tensor(scores), torch.tensor(relevance), top_k=k)


def ranx(run: Documents, qrels: Documents, k: int) -> Any:
    library = import_module("ranx")
    # ranx compiles its code again for each length of ids
    qrels, run = ({each.ljust(8): value for each, value in side.items()} for side in (qrels, run))
    return library.evaluate(library.Qrels({"q": qrels}), library.Run({"q": run}), f"ndcg@{k}")


def ir_measures(run: Documents, qrels: Documents, k: int) -> float:
    library = import_module("ir_measures")
    measure = library.nDCG @ k
    return float(library.calc_aggregate([measure], {"q": qrels}, {"q": run})[measure])


def pytrec_eval(run: Documents, qrels: Documents, k: int) -> float:
    evaluator = import_module("pytrec_eval").RelevanceEvaluator({"q": qrels}, {f"ndcg_cut.{k}"})
    return float(evaluator.evaluate({"q": run})["q"][f"ndcg_cut_{k}"])


BY_TREC_EVAL = ("trec_eval", "pytrec_eval", "beir", "mteb")  # which differ only in the mean over queries


@pytest.mark.parametrize(
    ("function", "form", "conventions"),
    [
        (sklearn, "lists", ("sklearn",)),
        (torchmetrics, "lists", ("torchmetrics",)),
        pytest.param(ranx, "mappings", ("sklearn", "ranx", "haystack"), marks=pytest.mark.xdist_group("ranx")),
        (ir_measures, "mappings", BY_TREC_EVAL),
        (pytrec_eval, "mappings", BY_TREC_EVAL),
    ],
)
def test_a_library_is_named(function: Callable[..., Any], form: str, conventions: tuple[str, ...]) -> None:
    library = function.__name__
    if library in MISSING:
        pytest.skip(f"{library} is not installed")
    result = check(function, cases=100)
    assert result.form == form
    assert result.conventions == conventions
    assert result.status == 0
    if library == "ranx":  # its sort is not stable
        assert "Its order of tied documents is not fixed" in str(result)
    else:
        assert result.answered == result.agreeing[conventions[0]] > 80
