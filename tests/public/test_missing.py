"""Judged queries that are missing from a run: counted as empty, skipped or rejected, in every format with ids."""

import math
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
from conftest import MetricFactory, spark_session

RUN = {"q1": {"d1": 1.5, "d2": 0.2}, "q3": {"d1": 0.4, "d5": 0.1}}
QRELS = {"q1": {"d2": 1}, "q2": {"d3": 2}, "q3": {"d5": 1, "d1": 3}}


def files(folder: Path) -> dict[str, Any]:
    run, qrels = folder / "bm25.run", folder / "qrels"
    lines = [f"{query} Q0 {document} 0 {score} x\n" for query, of in RUN.items() for document, score in of.items()]
    run.write_text("".join(lines))
    lines = [f"{query} 0 {document} {grade}\n" for query, of in QRELS.items() for document, grade in of.items()]
    qrels.write_text("".join(lines))
    return {"predictions": run, "references": qrels}


def rows() -> dict[str, Any]:
    """The full outer join of both sides."""
    scores = [(query, document, score) for query, of in RUN.items() for document, score in of.items()]
    labels = [(query, document, grade) for query, of in QRELS.items() for document, grade in of.items()]
    score, label = pd.DataFrame(scores, columns=["q", "d", "score"]), pd.DataFrame(labels, columns=["q", "d", "label"])
    frame = label.merge(score, how="outer", on=["q", "d"])
    return {"data": frame, "predictions": "score", "references": "label", "query_ids": "q", "document_ids": "d"}


FORMS = {
    "mappings": lambda _: {"predictions": RUN, "references": QRELS},
    "files": files,
    "a mapping and a file": lambda folder: {**files(folder), "predictions": RUN},
    "rows": lambda _: rows(),
}


@pytest.fixture(params=FORMS)
def given(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    return FORMS[request.param](tmp_path)


def test_a_missing_query_counts_as_empty_unless_it_is_skipped(ndcg: evaluate.Metric, given: dict[str, Any]) -> None:
    values = ndcg.compute(**given, use_aggregator=False)["nDCG"]
    assert values[1] == 0
    assert ndcg.compute(**given, missing="empty") == ndcg.compute(**given) == {"nDCG": pytest.approx(np.mean(values))}
    skipped = ndcg.compute(**given, missing="skip")
    assert skipped == {"nDCG": pytest.approx(np.mean([values[0], values[2]]))}
    by_query = ndcg.compute(**given, missing="skip", use_aggregator=False, measures=["nDCG", "IDCG"])
    assert math.isnan(by_query["nDCG"][1])
    assert math.isnan(by_query["IDCG"][1])
    assert by_query["nDCG"][::2] == values[::2]


def test_a_missing_query_may_be_rejected(ndcg: evaluate.Metric, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^predictions: query 'q2' is missing \(1 such queries\); missing=\"empty\" "):
        ndcg.compute(**given, missing="raise")


@pytest.mark.peers
def test_pytrec_eval_skips_missing_queries(ndcg: evaluate.Metric, given: dict[str, Any]) -> None:
    import pytrec_eval

    found = pytrec_eval.RelevanceEvaluator(QRELS, {"ndcg"}).evaluate(RUN)
    mean = pytrec_eval.compute_aggregated_measure("ndcg", [values["ndcg"] for values in found.values()])
    assert set(found) == {"q1", "q3"}
    assert ndcg.compute(**given, convention="trec_eval", missing="skip") == {"nDCG": pytest.approx(mean)}


@pytest.mark.parametrize("convention", ["pytrec_eval", "beir", "mteb"])
def test_a_convention_may_skip_missing_queries(ndcg: evaluate.Metric, given: dict[str, Any], convention: str) -> None:
    skipped = ndcg.compute(**given, convention="trec_eval", missing="skip")
    assert ndcg.compute(**given, convention=convention) == skipped
    assert ndcg.compute(**given, convention=convention, missing="empty") == ndcg.compute(
        **given, convention="trec_eval"
    )


def test_a_list_that_is_padding_throughout_is_skipped_too(ndcg: evaluate.Metric) -> None:
    lists = {"predictions": [[2, 1], [2, 1], []], "references": [[0, 1], [-100, -100], []], "ignore_index": -100}
    second = 1 / math.log2(3)
    assert ndcg.compute(**lists) == {"nDCG": pytest.approx(second / 3)}
    assert ndcg.compute(**lists, missing="skip") == {"nDCG": pytest.approx(second)}
    arrays = {name: np.array(lists[name][:2]) for name in ("predictions", "references")}
    values = ndcg.compute(**arrays, ignore_index=-100, missing="skip", use_aggregator=False)["nDCG"]
    assert values == [pytest.approx(second), pytest.approx(math.nan, nan_ok=True)]


def test_compare_rejects_no_missing_query_that_the_convention_skips(ndcg: evaluate.Metric) -> None:
    systems = {"a": RUN, "b": {**RUN, "q2": {"d3": 1.0}}}
    found = ndcg.compare(systems=systems, references=QRELS, convention="pytrec_eval")
    assert found == ndcg.compare(systems=systems, references=QRELS, convention="trec_eval", missing="skip")


def test_an_empty_ranking_is_not_missing(ndcg: evaluate.Metric) -> None:
    empty = {**RUN, "q2": {}}
    assert ndcg.compute(predictions=empty, references=QRELS, missing="skip") == ndcg.compute(
        predictions=RUN, references=QRELS
    )
    ranked = [["d1"], []]
    assert ndcg.compute(predictions=ranked, references=[["d1"], ["d2"]], missing="skip") == {"nDCG": 0.5}


def test_a_weight_of_a_skipped_query_is_not_used(ndcg: evaluate.Metric, given: dict[str, Any]) -> None:
    values = ndcg.compute(**given, use_aggregator=False)["nDCG"]
    weighted = ndcg.compute(**given, missing="skip", sample_weight=[1, 5, 3])
    assert weighted == {"nDCG": pytest.approx((values[0] + 3 * values[2]) / 4)}


def test_the_signature_says_which_queries_are_skipped(ndcg: evaluate.Metric) -> None:
    assert "|missing:skip|" in ndcg.signature(missing="skip")
    assert ndcg.signature(missing="empty") == ndcg.signature() == ndcg.signature(missing="raise")
    with pytest.raises(ValueError, match='missing must be one of "empty", "skip", "raise"; got \'skipped\'; did you'):
        ndcg.signature(missing="skipped")


def test_a_report_leaves_skipped_queries_out(ndcg: evaluate.Metric, given: dict[str, Any]) -> None:
    report = ndcg.report(**given, missing="skip")
    assert report.scores["nDCG"].value == ndcg.compute(**given, missing="skip")["nDCG"]
    assert report.queries["nDCG"].to_pylist()[1] is None
    assert report.counts["queries"] == 3


def test_a_comparison_is_over_the_same_queries(ndcg: evaluate.Metric) -> None:
    systems = {"bm25": RUN, "dense": {**RUN, "q2": {"d3": 1.0}, "q1": {"d2": 1.0}}}
    how: dict[str, Any] = {"systems": systems, "references": QRELS}
    with pytest.raises(ValueError, match=r"systems\['bm25'\]: no ranking for query 'q2', which 'dense' has"):
        ndcg.compare(**how)
    with pytest.raises(ValueError, match=r"systems\['bm25'\]: predictions: query 'q2' is missing"):
        ndcg.compare(**how, missing="raise")
    empty, skipped = ndcg.compare(**how, missing="empty"), ndcg.compare(**how, missing="skip")
    assert (empty.pairs[0].losses, skipped.pairs[0].losses) == (2, 1)
    both = {query: judged for query, judged in QRELS.items() if query != "q2"}
    for name, run in systems.items():
        expected = ndcg.compute(predictions=run, references=both)["nDCG"]
        assert skipped.scores[name]["nDCG"].value == pytest.approx(expected)
    assert empty.scores["dense"]["nDCG"].value == ndcg.compute(predictions=systems["dense"], references=QRELS)["nDCG"]


def test_batches_have_no_missing_queries(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=RUN, references=QRELS)
    with pytest.raises(ValueError, match='missing="skip": batches and several processes do not record which queries'):
        metric.compute(missing="skip")
    assert len(metric) == 3


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_finds_missing_queries_by_their_rows(ndcg: evaluate.Metric) -> None:
    rows_ = [
        (query, document, RUN.get(query, {}).get(document), QRELS[query].get(document))
        for query in QRELS
        for document in sorted({*RUN.get(query, {}), *QRELS[query]})
    ]
    frame = spark_session().createDataFrame(rows_, "q string, d string, score double, label int")
    columns = {"predictions": "score", "references": "label", "query_ids": "q"}
    perfect_if_empty = {"gain": [0, 1, 0, 1], "zero_division": "perfect_if_empty"}  # nothing to find in q2
    for options in (
        {"missing": "empty"},
        {"missing": "skip"},
        perfect_if_empty,
        {**perfect_if_empty, "missing": "skip"},
    ):
        expected = ndcg.compute(predictions=RUN, references=QRELS, **options)
        assert ndcg.compute(data=frame, **columns, **options) == pytest.approx(expected)
    assert ndcg.compute(data=frame, **columns, **perfect_if_empty, use_aggregator=False).toPandas()["nDCG"].max() == 1
    with pytest.raises(ValueError, match="predictions: query 'q2' is missing"):
        ndcg.compute(data=frame, **columns, missing="raise")
