"""Every convention against the library it is named after, which is run on the same rankings."""

import math
import re
import subprocess
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import islice
from typing import Any

import libraries as by
import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, ranx_sides, spark_session
from evaluate import Metric
from libraries import CASES, LIBRARIES, Batch, Run, batches, numbers
from reference import RELEVANCE, SCORES
from refusals import refusal

from ndcg.explanations.check import check
from ndcg.measure.conventions import CONVENTIONS

pytestmark = pytest.mark.peers
# libraries that import PyTorch, as other tests of one worker do
OF_TORCH = ("ignite", "sentence_transformers", "torchmetrics")


@pytest.fixture(autouse=True)
def _warnings_of_libraries() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def each(*names: str) -> list[Any]:
    """Libraries, each on one worker, as many take long to start."""
    groups = {"ranx_burges": "ranx", **dict.fromkeys(OF_TORCH, "torch")}
    marks = {name: [pytest.mark.xdist_group(groups.get(name, name))] for name in names}
    if "spark" in marks:
        marks["spark"].append(pytest.mark.spark)
    return [pytest.param(name, marks=marks[name]) for name in names]


@pytest.mark.parametrize("library", each(*LIBRARIES))
def test_a_convention_reports_the_number_of_its_library(ndcg: Metric, library: str) -> None:
    scored = 0
    for _, theirs, ours in numbers(ndcg, library, CASES):
        assert ours == LIBRARIES[library].approx(theirs)
        scored += 1
    assert scored == CASES


@pytest.mark.parametrize("library", each(*LIBRARIES))
def test_a_convention_compares_scores_in_the_type_of_its_library(
    ndcg: Metric, library: str
) -> None:
    exact, (other,) = (
        LIBRARIES[library].approx,
        {"given", "float32"} - {CONVENTIONS[library].score_dtype},
    )
    differ = 0
    for rankings, theirs, ours in numbers(ndcg, library, 20, of_sigmoids=True):
        assert ours == exact(theirs)
        differ += rankings.ours(ndcg, convention=library, score_dtype=other) != exact(theirs)
    assert differ >= 5


def test_the_libraries_that_are_not_run_are_checked_by_their_own_tests() -> None:
    assert CONVENTIONS.keys() - LIBRARIES.keys() == {"elasticsearch", "tf_ranking"}
    assert LIBRARIES.keys() <= CONVENTIONS.keys()


def test_the_table_of_agreement_names_the_libraries_that_were_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import agreement

    table = (ROOT / "benchmarks" / "AGREEMENT.md").read_text(encoding="utf-8")
    assert re.findall(r'^\| `"(\w+)"`', table, re.MULTILINE) == list(LIBRARIES)
    assert f"| all | | {CASES * len(LIBRARIES):,} |" in table
    few = {name: LIBRARIES[name] for name in ("sklearn", "pytrec_eval")}
    monkeypatch.setattr(agreement, "LIBRARIES", few)
    first, second = agreement.agreement(2, 3).splitlines()[2:4]
    row = (
        r'\| `"sklearn"` \| scikit-learn [\d.]+ \| 2 \| \d+ \| \de[+-]\d\d \| \de[+-]\d\d \| '
        r"\de[+-]\d\d \|"
    )
    assert re.fullmatch(row, first)
    assert second.startswith('| `"pytrec_eval"` | pytrec_eval-terrier ')


@pytest.mark.parametrize("library", each("trec_eval", "ranx", "ignite"))
def test_negative_relevance_has_no_gain(ndcg: Metric, library: str) -> None:
    scored = 0
    for batch in islice(batches(15, lowest=-2), 60):
        # trec_eval itself fails if every judgment is negative, and Ignite if nothing is relevant
        if (
            all(row.max() > 0 or row.min() == 0 for row in batch.relevance)
            and max(batch.flat()[1]) > 0
        ):
            expected = LIBRARIES[library].score(batch)
            assert batch.ours(ndcg, convention=library) == LIBRARIES[library].approx(expected)
            scored += 1
    assert scored >= 20


@pytest.mark.parametrize("library", each("torchmetrics", "rax", "catboost"))
def test_negative_relevance_has_a_negative_gain(ndcg: Metric, library: str) -> None:
    scored = 0
    for batch in islice(batches(15, lowest=-2), 120):
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
            expected = LIBRARIES[library].score(batch)
            assert batch.ours(ndcg, convention=library) == pytest.approx(
                expected, rel=2e-5, abs=1e-6
            )  # sums cancel
    assert scored >= 20


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_negative_relevance_is_rejected(ndcg: Metric, library: str) -> None:
    batch = Batch([np.array([0.9, 0.1, 0.5])], [np.array([1, -1, 0])], 2)
    with pytest.raises(Exception, match=r"(?i)label|relevance|target|negative"):
        LIBRARIES[library].score(batch)
    with refusal("references", "query 0, position 1"):
        batch.ours(ndcg, convention=library)


# Options of libraries

LOG2 = {"discfun_type": "log2"}


@pytest.mark.parametrize(
    ("library", "score", "options"),
    [
        ("xgboost", lambda batch: by.xgboost(batch, f"ndcg@{batch.k}-"), {"zero_division": 0.0}),
        ("xgboost", lambda batch: by.xgboost(batch, ndcg_exp_gain=False), {"gain": "linear"}),
        ("catboost", lambda batch: by.catboost(batch, "Exp"), {"gain": "exponential"}),
        (
            "catboost",
            lambda batch: by.catboost(batch, denominator="Position"),
            {"discount": "reciprocal"},
        ),
        ("lenskit", lambda run: by.lenskit(run, "rating"), {"gain": "linear"}),
        (
            "recommenders",
            lambda run: by.recommenders(run, score_type="raw", **LOG2),
            {"gain": "linear"},
        ),
        (
            "recommenders",
            lambda run: by.recommenders(run, score_type="exp", **LOG2),
            {"gain": "exponential"},
        ),
        ("rectools", lambda run: by.rectools(run, divide_by_achievable=True), {"ideal": "judged"}),
    ],
)
def test_an_option_of_a_library_is_one_of_the_metric(
    ndcg: Metric, library: str, score: Callable[[Any], float], options: dict[str, Any]
) -> None:
    for rankings in islice(LIBRARIES[library].drawn(), 20):
        assert rankings.ours(ndcg, convention=library, **options) == LIBRARIES[library].approx(
            score(rankings)
        )


def only(score: Any, relevance: Any, k: int = 10) -> Batch:
    return Batch([np.array(score, float)], [np.array(relevance)], k)


def asked(run: dict[str, list[str]], qrels: dict[str, dict[str, int]], k: int | None = 10) -> Run:
    """Ids best first."""
    return Run(
        {query: {id_: -float(at) for at, id_ in enumerate(ids)} for query, ids in run.items()},
        qrels,
        k,
    )


# Functions that call a library, as `check` names them

BY_TREC_EVAL = (
    "trec_eval",
    "pytrec_eval",
    "beir",
    "mteb",
)  # which differ only in the mean over queries


def trec_eval(run: dict[str, float], qrels: dict[str, int], k: int) -> float:
    return by.pytrec_eval(Run({"q": run}, {"q": qrels}, k))


@pytest.mark.parametrize(
    ("function", "conventions"),
    [
        (lambda scores, relevance, k: by.sklearn(only(scores, relevance, k)), ("sklearn",)),
        (
            lambda scores, relevance, k: by.torchmetrics(only(scores, relevance, k)),
            ("torchmetrics",),
        ),
        (trec_eval, BY_TREC_EVAL),
        (lambda run, qrels, k: trec_eval(run, qrels, k) if run else math.nan, BY_TREC_EVAL),
    ],
    ids=["sklearn", "torchmetrics", "pytrec_eval", "pytrec_eval of runs with documents"],
)
def test_a_function_that_calls_a_library_is_named(
    function: Callable[..., float], conventions: tuple[str, ...]
) -> None:
    result = check(function, cases=100)
    assert (result.status, result.conventions) == (0, conventions)
    assert result.answered == result.agreeing[conventions[0]] > 80


@pytest.mark.xdist_group("ranx")
def test_a_function_that_calls_ranx_has_no_fixed_order_of_ties() -> None:
    import ranx

    def by_ranx(run: dict[str, float], qrels: dict[str, int], k: int) -> float:
        return float(ranx.evaluate(*ranx_sides({"q": run}, {"q": qrels}), f"ndcg@{k}"))

    result = check(by_ranx, form="mappings", cases=100)
    assert (result.status, result.conventions) == (0, ("sklearn", "ranx", "haystack"))
    assert "Its order of tied documents is not fixed" in str(result)


# Properties that no convention expresses, by a case that shows each


def test_scikit_learn_counts_a_query_with_nothing_relevant_as_0(ndcg: Metric) -> None:
    found, installed = by.sklearn(only([2, 1], [0, 0])), version("scikit-learn")
    assert found == 0, (
        f"scikit-learn {installed} answers {found} for a query with nothing relevant: give the "
        "convention another zero_division, and say in its quirks up to which version it was 0"
    )
    assert only([2, 1], [0, 0]).ours(ndcg, convention="sklearn") == 0


def test_scikit_learn_rejects_one_document(ndcg: Metric) -> None:
    with pytest.raises(ValueError, match="document"):
        by.sklearn(only([1], [1]))
    assert only([1], [1]).ours(ndcg) == 1.0


@pytest.fixture
def in_64_bits() -> Iterator[None]:
    """Rax computes in 64 bits, as JAX does if it is told so."""
    import jax

    usual = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", usual)


CLOSE = only([1, 1 + 1e-9], [0, 1])


@pytest.mark.xdist_group("rax")
def test_rax_compares_scores_as_32_bit_floats(ndcg: Metric) -> None:
    assert CLOSE.ours(ndcg, convention="rax") == pytest.approx(by.rax(CLOSE), rel=1e-6)
    assert by.rax(CLOSE) == pytest.approx(1 / math.log2(3))


@pytest.mark.xdist_group("rax")
@pytest.mark.usefixtures("in_64_bits")
def test_rax_compares_scores_as_given_in_64_bits(ndcg: Metric) -> None:
    assert CLOSE.ours(ndcg, convention="rax", score_dtype="given") == by.rax(CLOSE) == 1.0


@pytest.mark.parametrize("library", each("ranx", "allrank"))
def test_ties_of_long_lists_are_in_no_fixed_order(ndcg: Metric, library: str) -> None:
    tied = [only([1.0] * 17, [int(at == first) for at in range(17)], 17) for first in range(17)]
    score = LIBRARIES[library].score
    assert any(
        score(case) != pytest.approx(case.ours(ndcg, convention=library), rel=1e-6) for case in tied
    )


@pytest.mark.parametrize(("action", "zero_division"), [("pos", 1.0), ("skip", math.nan)])
@pytest.mark.xdist_group("torch")
def test_torchmetrics_has_a_policy_for_queries_with_nothing_relevant(
    ndcg: Metric, action: str, zero_division: float
) -> None:
    batch = Batch([np.array(row, float) for row in SCORES], [np.array(row) for row in RELEVANCE], 6)
    expected = batch.ours(ndcg, convention="torchmetrics", zero_division=zero_division)
    assert by.torchmetrics(batch, action) == pytest.approx(expected, rel=1e-6)


@pytest.mark.xdist_group("torch")
def test_torchmetrics_takes_relevances_that_add_up_to_0_for_nothing_relevant(ndcg: Metric) -> None:
    cancelling = only([2, 1, 0], [1, -1, 0])
    assert by.torchmetrics(cancelling) == 0.0
    assert cancelling.ours(ndcg, convention="torchmetrics") == pytest.approx(
        (1 - 1 / math.log2(3)) / (1 - 1 / 2)
    )


@pytest.mark.xdist_group("torch")
def test_ignite_counts_a_relevance_below_1_as_0(ndcg: Metric) -> None:
    half = Batch([np.array([2.0, 1.0])], [np.array([0.5, 1.0])], 2)
    assert by.ignite(half) == pytest.approx(1 / math.log2(3))
    assert half.ours(ndcg, convention="ignite") > 0.8
    assert half.ours(ndcg, convention="ignite") == pytest.approx(
        by.ignite(half, relevance_threshold=0.0), rel=1e-6
    )


@pytest.mark.xdist_group("rax")
def test_rax_divides_by_a_negative_ideal(ndcg: Metric) -> None:
    negative = only([2, 1], [-2, -1])
    assert by.rax(negative) > 1
    assert negative.ours(ndcg, convention="rax") == 0.0


@pytest.mark.xdist_group("lightgbm")
def test_lightgbm_accepts_labels_up_to_30_and_other_gains(ndcg: Metric) -> None:
    graded = only([3, 2, 1], [1, 30, 0], 2)
    assert graded.ours(ndcg, convention="lightgbm") == pytest.approx(by.lightgbm(graded), rel=1e-9)
    with pytest.raises(Exception, match="31"):
        by.lightgbm(only([3, 2, 1], [1, 31, 0]))
    graded, table = only([3, 2, 1], [1, 2, 0], 2), [0, 5, 6]
    assert graded.ours(ndcg, convention="lightgbm", gain=table) == pytest.approx(
        by.lightgbm(graded, label_gain=table)
    )


@pytest.mark.xdist_group("xgboost")
def test_xgboost_stops_at_rank_32_without_a_cutoff(ndcg: Metric) -> None:
    last = only(list(range(40, 0, -1)), [0] * 39 + [1], 32)
    assert by.xgboost(last, "ndcg") == last.ours(ndcg, convention="xgboost") == 0.0
    assert last._replace(k=40).ours(ndcg, convention="xgboost") == pytest.approx(1 / math.log2(41))


@pytest.mark.xdist_group("rax")
@pytest.mark.usefixtures("in_64_bits")
def test_rax_takes_any_discount(ndcg: Metric) -> None:
    import rax

    for batch in islice(batches(), 5):
        one = only(batch.scores[0], batch.relevance[0], batch.k)
        found = rax.ndcg_metric(
            one.scores[0], one.relevance[0], topn=one.k, discount_fn=lambda rank: 1 / rank
        )
        assert one.ours(ndcg, convention="rax", discount="reciprocal") == pytest.approx(
            float(found), rel=1e-9
        )


def test_sentence_transformers_ranks_ties_by_ascending_id(ndcg: Metric) -> None:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    evaluator = InformationRetrievalEvaluator(
        {"q": ""}, {"a": "", "b": ""}, {"q": {"b"}}, ndcg_at_k=[1]
    )
    hits = [[{"corpus_id": "b", "score": 1.0}, {"corpus_id": "a", "score": 1.0}]]
    assert evaluator.compute_metrics(hits)["ndcg@k"] == {1: 0.0}
    for run, expected in (({"b": 1.0, "a": 1.0}, 1.0), ({"a": 1.0, "b": 1.0}, 0.0)):
        how = {"references": {"q": {"b": 1}}, "k": 1, "convention": "sentence_transformers"}
        assert ndcg.compute(predictions={"q": run}, **how) == {"nDCG@1": expected}


def test_pytrec_eval_leaves_out_queries_that_are_missing_from_the_run(ndcg: Metric) -> None:
    run = asked({"0": ["d"]}, {"0": {"d": 1}, "1": {"d": 1}})
    assert by.pytrec_eval(run) == run.ours(ndcg, convention="pytrec_eval") == 1.0
    assert run.ours(ndcg, convention="trec_eval") == 0.5


@pytest.mark.parametrize("is_judged", [True, False])
def test_beir_drops_the_document_that_is_the_query_from_the_run_only(
    ndcg: Metric, is_judged: bool
) -> None:
    """Of "c" nothing is left in the run."""
    itself = (
        {"a": {"a": 3}, "b": {"b": 1}, "c": {"c": 2}} if is_judged else {"a": {}, "b": {}, "c": {}}
    )
    others = {"a": {"c": 1}, "b": {"a": 2, "c": 1}, "c": {"a": 1}}
    qrels = {query: itself[query] | others[query] for query in others}
    run = asked({"a": ["a", "b", "c"], "b": ["c", "a"], "c": ["c"]}, qrels)
    theirs = LIBRARIES["beir"].approx(by.beir(run))
    without = {"convention": "beir", "exclude": {query: [query] for query in run.run}}
    assert run.ours(ndcg, **without, exclude_from="run") == theirs
    assert (run.ours(ndcg, **without) == theirs) == (not is_judged)


def test_gdeval_rejects_relevances_above_4(ndcg: Metric) -> None:
    run = asked({"1": ["a", "b"]}, {"1": {"a": 4, "b": 5}})
    with pytest.raises(subprocess.CalledProcessError):
        by.gdeval(run)
    assert run.ours(ndcg, convention="gdeval") < 1


@pytest.mark.xdist_group("evidently")
def test_evidently_gives_tied_items_the_mean_of_their_ranks_rounded_down(ndcg: Metric) -> None:
    tied = only([1, 1], [1, 0])
    assert by.evidently(tied) == 1 / math.log2(1 + math.floor((1 + 2) / 2)) == 1
    assert tied.ours(ndcg, convention="evidently") == pytest.approx((1 + 1 / math.log2(3)) / 2)


@pytest.mark.xdist_group("lenskit")
def test_lenskit_counts_a_user_without_test_items_as_0(ndcg: Metric) -> None:
    run = asked(
        {"0": ["a"], "1": ["a"], "2": []},
        {"0": {"a": 1}, "1": {"a": 0}, "2": {"a": 1}, "3": {"a": 1}},
    )
    assert by.lenskit(run) == run.ours(ndcg, convention="lenskit") == pytest.approx((1 + 0 + 0) / 3)


@pytest.mark.xdist_group("llama_index")
def test_llama_index_has_a_mode_that_is_the_same_and_rejects_empty_queries(ndcg: Metric) -> None:
    run = asked({"0": ["a", "b"]}, {"0": {"b": 1, "c": 1}}, k=None)
    assert (
        by.llama_index(run)
        == by.llama_index(run, mode="exponential")
        == run.ours(ndcg, convention="llama_index")
    )
    for empty in (asked({"0": []}, {"0": {"a": 1}}), asked({"0": ["a"]}, {"0": {"a": 0}})):
        with pytest.raises(ValueError, match="provided"):
            by.llama_index(empty)


@pytest.mark.xdist_group("mlflow")
def test_mlflow_counts_a_document_that_is_retrieved_twice_as_two(ndcg: Metric) -> None:
    from mlflow.metrics import ndcg_at_k

    twice = ndcg_at_k(3).eval_fn(pd.Series([["a", "b", "a"]]), pd.Series([["a"]])).scores
    as_two = {
        "predictions": [["a", "b", "a again"]],
        "references": [["a", "a again"]],
        "convention": "mlflow",
    }
    assert ndcg.compute(**as_two, k=3) == {"nDCG@3": pytest.approx(twice[0], rel=1e-6)}


@pytest.mark.xdist_group("haystack")
def test_haystacks_documents_are_scored_as_its_evaluator_scores_them(ndcg: Metric) -> None:
    """As docs/search.md says: with the grades of documents, or all of them relevant."""
    from haystack import Document
    from haystack.components.evaluators.document_ndcg import DocumentNDCGEvaluator

    scores = [{"x": 0.9, "b": 0.8, "a": 0.7}, {"c": 0.5}]
    found = [[Document(id=name, score=score) for name, score in each.items()] for each in scores]
    grades = [{"a": 3.0, "b": 1.0, "d": 2.0}, {"c": 2.0, "e": 1.0}]
    graded = [[Document(id=name, score=grade) for name, grade in each.items()] for each in grades]
    ungraded = [[Document(id=name) for name in each] for each in grades]

    def ours(references: Any, **fields: Any) -> Any:
        how = {"convention": "haystack", "fields": fields}
        return pytest.approx(
            ndcg.compute(predictions=found, references=references, **how)["nDCG"], rel=1e-12
        )

    evaluator = DocumentNDCGEvaluator("id")
    alike = ours(ungraded, relevance=None)
    assert evaluator.run(graded, found)["score"] == ours(graded, relevance="score") != alike
    assert evaluator.run(ungraded, found)["score"] == alike


@pytest.mark.xdist_group("haystack")
def test_haystack_keeps_negative_scores_as_gains(ndcg: Metric) -> None:
    run = asked({"0": ["a", "b", "x"]}, {"0": {"a": -1, "b": 3, "c": 2}}, k=None)
    assert by.haystack(run) == pytest.approx(run.ours(ndcg, convention="haystack"), rel=1e-12)
    assert by.haystack(run) == pytest.approx(
        (-1 + 3 / math.log2(3)) / (3 + 2 / math.log2(3) - 1 / math.log2(4))
    )


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("labels", [[2, 0, 3], [0, 2, 3]], ids=["descending", "in another order"])
def test_graded_labels_are_exponential_in_sparks_scala_and_their_order_is_the_ideal(
    ndcg: Metric, labels: list[int]
) -> None:
    session, grades, ranked = spark_session(), {0: 1, 2: 3, 3: 1}, [0, 1, 2, 3]
    jvm, gateway = session._jvm, session.sparkContext._gateway

    def array(kind: Any, values: list[Any]) -> Any:
        filled = gateway.new_array(kind, len(values))
        for at, value in enumerate(values):
            filled[at] = value
        return filled

    row = jvm.scala.Tuple3(
        array(jvm.java.lang.Object, ranked),
        array(jvm.java.lang.Object, labels),
        array(jvm.double, [float(grades[label]) for label in labels]),
    )
    rdd = session.sparkContext._jsc.parallelize(jvm.java.util.ArrayList([row])).rdd()
    measure = jvm.org.apache.spark.mllib.evaluation.RankingMetrics(
        rdd, jvm.scala.reflect.ClassTag.Object()
    )
    ideal = sum(
        (2 ** grades[label] - 1) / math.log2(rank + 1) for rank, label in enumerate(labels, 1)
    )
    case = {
        "predictions": [ranked],
        "references": [grades],
        "convention": "spark",
        "gain": "exponential",
        "k": 4,
    }
    found = ndcg.compute(**case, measures=["DCG", "nDCG"])
    assert measure.ndcgAt(4) == pytest.approx(found["DCG@4"] / ideal, rel=1e-12)
    assert (measure.ndcgAt(4) == pytest.approx(found["nDCG@4"])) == (labels[0] == 2)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_does_not_look_at_the_relevances_that_pyspark_lets_one_give(ndcg: Metric) -> None:
    from pyspark.mllib.evaluation import RankingMetrics

    graded = only([3, 2, 1], [1, 0, 2], 3)
    ranking = ([0, 1, 2], [0, 2], [1.0, 2.0])
    measure = RankingMetrics(spark_session().sparkContext.parallelize([ranking]))
    assert measure.ndcgAt(3) == pytest.approx(graded.ours(ndcg, convention="spark"))
    assert measure.ndcgAt(3) > graded.ours(ndcg, convention="spark", gain="exponential")
