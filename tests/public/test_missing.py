"""Judged queries that are missing from a run: counted as empty, skipped or rejected, in every format with ids."""

import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
from conftest import MetricFactory, spark_session
from every_form import Inputs, written

RUN = {"q1": {"d1": 1.5, "d2": 0.2}, "q3": {"d1": 0.4, "d5": 0.1}}
WHOLE = {**RUN, "q2": {"d3": 1.0}, "q1": {"d2": 1.0}}
QRELS = {"q1": {"d2": 1}, "q2": {"d3": 2}, "q3": {"d5": 1, "d1": 3}}
DOCUMENTS = {query: sorted({*RUN.get(query, {}), *WHOLE[query], *judged}) for query, judged in QRELS.items()}
Run = dict[str, dict[str, float]]


def lists(side: Run, missing: float | None = None) -> list[list[float | None]]:
    return [[side.get(query, {}).get(each, missing) for each in documents] for query, documents in DOCUMENTS.items()]


def rows(run: Run) -> Inputs:
    """The full outer join of both sides."""
    flat = {
        name: pd.Series([each for row in lists(side) for each in row], dtype=float)
        for name, side in (("predictions", run), ("references", QRELS))
    }
    ids = [(query, document) for query, documents in DOCUMENTS.items() for document in documents]
    return {**flat, "query_ids": [query for query, _ in ids], "document_ids": [document for _, document in ids]}


def with_none(run: Run) -> dict[str, dict[str, float | None]]:
    return {query: dict(zip(DOCUMENTS[query], row, strict=True)) for query, row in zip(QRELS, lists(run), strict=True)}


def run_file(folder: Path, run: Run) -> Path:
    return written(folder / f"{len(run)}.run", run, "run")


def qrels_file(folder: Path) -> Path:
    return written(folder / "qrels", QRELS, "qrels")


FORMS: dict[str, Callable[[Path, Run], Inputs]] = {
    "mappings": lambda _, run: {"predictions": run, "references": QRELS},
    "files": lambda folder, run: {"predictions": run_file(folder, run), "references": qrels_file(folder)},
    "a mapping and a file": lambda folder, run: {"predictions": run, "references": qrels_file(folder)},
    "rows": lambda _, run: rows(run),
    "mappings with None": lambda _, run: {"predictions": with_none(run), "references": QRELS},
    "a mapping with None and a file": lambda folder, run: {
        "predictions": with_none(run),
        "references": qrels_file(folder),
    },
    "lists": lambda _, run: {"predictions": lists(run), "references": lists(QRELS)},
    "lists with -inf": lambda _, run: {"predictions": lists(run, -math.inf), "references": lists(QRELS)},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_query_counts_as_empty_is_skipped_or_is_rejected(
    ndcg: evaluate.Metric, tmp_path: Path, form: str
) -> None:
    inputs = FORMS[form](tmp_path, RUN)
    first, second, third = ndcg.compute(**inputs, use_aggregator=False)["nDCG"]
    assert second == 0
    assert ndcg.compute(**inputs) == ndcg.compute(**inputs, missing="empty") == {"nDCG": (first + third) / 3}
    assert ndcg.compute(**inputs, missing="skip") == {"nDCG": (first + third) / 2}
    weighted = ndcg.compute(**inputs, missing="skip", sample_weight=[1, 5, 3])
    assert weighted == {"nDCG": pytest.approx((first + 3 * third) / 4)}
    by_query = ndcg.compute(**inputs, missing="skip", use_aggregator=False, measures=["nDCG", "IDCG"])
    assert by_query["nDCG"] == pytest.approx([first, math.nan, third], nan_ok=True)
    assert math.isnan(by_query["IDCG"][1])
    with pytest.raises(ValueError, match=r"^predictions: query ('q2'|1) is missing \(1 such queries\); missing="):
        ndcg.compute(**inputs, missing="raise")


@pytest.mark.parametrize("form", FORMS)
def test_a_comparison_is_over_the_same_queries(ndcg: evaluate.Metric, tmp_path: Path, form: str) -> None:
    systems = {name: FORMS[form](tmp_path, run)["predictions"] for name, run in (("bm25", RUN), ("dense", WHOLE))}
    inputs = {**FORMS[form](tmp_path, RUN), "systems": systems}
    del inputs["predictions"]
    with pytest.raises(ValueError, match=r"^systems\['bm25'\]: no ranking for query ('q2'|1), which 'dense' has \(1 "):
        ndcg.compare(**inputs)
    with pytest.raises(ValueError, match=r"^systems\['bm25'\]: predictions: query ('q2'|1) is missing"):
        ndcg.compare(**inputs, missing="raise")
    empty, skipped = ndcg.compare(**inputs, missing="empty"), ndcg.compare(**inputs, missing="skip")
    assert (empty.pairs[0].losses, skipped.pairs[0].losses) == (2, 1)
    assert any(note.startswith("bm25: 1 of 3 judged queries is missing from the run") for note in empty.notes)
    both = {query: judged for query, judged in QRELS.items() if query != "q2"}
    for name, run in (("bm25", RUN), ("dense", WHOLE)):
        expected = ndcg.compute(predictions=run, references=both)["nDCG"]
        assert skipped.scores[name]["nDCG"].value == pytest.approx(expected)
    assert empty.scores["dense"]["nDCG"].value == ndcg.compute(predictions=WHOLE, references=QRELS)["nDCG"]


@pytest.mark.parametrize("convention", ["pytrec_eval", "beir", "mteb"])
def test_a_convention_may_skip_missing_queries(ndcg: evaluate.Metric, convention: str) -> None:
    inputs, trec_eval = {"predictions": RUN, "references": QRELS}, {"convention": "trec_eval"}
    assert ndcg.compute(**inputs, convention=convention) == ndcg.compute(**inputs, **trec_eval, missing="skip")
    assert ndcg.compute(**inputs, convention=convention, missing="empty") == ndcg.compute(**inputs, **trec_eval)
    systems = {"systems": {"a": RUN, "b": WHOLE}, "references": QRELS}
    assert ndcg.compare(**systems, convention=convention) == ndcg.compare(**systems, **trec_eval, missing="skip")


def test_a_report_leaves_skipped_queries_out(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": RUN, "references": QRELS, "missing": "skip"}
    report = ndcg.report(**inputs)
    assert report.scores["nDCG"].value == ndcg.compute(**inputs)["nDCG"]
    assert report.queries["nDCG"].to_pylist()[1] is None
    assert report.counts["queries"] == 3


def test_a_list_that_is_padding_throughout_is_skipped_too(ndcg: evaluate.Metric) -> None:
    lists = {"predictions": [[2, 1], [2, 1], []], "references": [[0, 1], [-100, -100], []]}
    arrays = {name: np.array(side[:2]) for name, side in lists.items()}
    second, options = 1 / math.log2(3), {"ignore_index": -100, "missing": "skip", "use_aggregator": False}
    for inputs, queries in ((lists, 3), (arrays, 2)):
        values = ndcg.compute(**inputs, **options)["nDCG"]
        assert values == pytest.approx([second, math.nan, math.nan][:queries], nan_ok=True)
        assert ndcg.compute(**inputs, ignore_index=-100) == {"nDCG": pytest.approx(second / queries)}


# --- Queries for which nothing was found -----------------------------------------------------------------------------

# of q2 to q4 an empty list is retrieved: something is relevant, nothing is, nothing was judged; q5 is missing
ANSWERS: dict[str, list[str]] = {"q1": ["d1"], "q2": [], "q3": [], "q4": []}
JUDGED: Run = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 0}, "q4": {}, "q5": {"d5": 1}}
ANSWERED = {query: dict.fromkeys(documents, 1.0) for query, documents in ANSWERS.items()}


def test_a_query_with_an_empty_list_is_not_missing_if_it_was_judged(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run, qrels = tmp_path / "run.json", tmp_path / "qrels.json"
    run.write_text(json.dumps(ANSWERED))
    qrels.write_text(json.dumps(JUDGED))
    for predictions, references in product((ANSWERED, ANSWERS, run), (JUDGED, qrels)):
        sides = {"predictions": predictions, "references": references}
        values = ndcg.compute(**sides, missing="skip", use_aggregator=False)["nDCG"]
        assert values == pytest.approx([1, 0, 0, math.nan, math.nan], nan_ok=True)
        assert ndcg.compute(**sides, use_aggregator=False)["nDCG"] == [1, 0, 0, 0, 0]
        with pytest.raises(ValueError, match=r"^predictions: query 'q5' is missing \(1 such queries\)"):
            ndcg.compute(**sides, missing="raise")
    ranked = {"predictions": [["d1"], [], []], "references": [["d1"], ["d2"], []]}
    values = ndcg.compute(**ranked, missing="skip", use_aggregator=False)["nDCG"]
    assert values == pytest.approx([1, 0, math.nan], nan_ok=True)
    assert ndcg.compute(**ranked, missing="raise") == {"nDCG": pytest.approx(1 / 3)}


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")  # of Numba
def test_queries_without_documents_count_as_in_pytrec_eval_and_ranx(ndcg: evaluate.Metric) -> None:
    import pytrec_eval
    import ranx

    for run, qrels in ((ANSWERED, JUDGED), (RUN, QRELS)):
        found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)
        values = [found[query]["ndcg"] if query in found else math.nan for query in qrels]
        by_query = {"predictions": run, "references": qrels, "use_aggregator": False}
        assert ndcg.compute(**by_query, convention="pytrec_eval")["nDCG"] == pytest.approx(values, nan_ok=True)
        sides = ranx.Qrels(qrels), ranx.Run(run)
        values = ranx.evaluate(*sides, "ndcg", return_mean=False, make_comparable=True).tolist()
        assert ndcg.compute(**by_query, convention="ranx")["nDCG"] == pytest.approx(values, rel=1e-15)


@pytest.mark.parametrize("options", [{"judged_only": True}, {"exclude": {"q2": ["d4"]}}], ids=str)
def test_a_query_is_not_missing_if_its_documents_are_left_out(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    systems = {"a": {"q1": {"d1": 1.0}, "q2": {"d4": 1.0}}, "b": {"q1": {"d1": 1.0}, "q2": {"d3": 1.0}}}
    qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    joined = [("q1", "d1", 1, 1, 1), ("q2", "d4", 1, None, None), ("q2", "d3", None, 1, 1)]
    frame = pd.DataFrame(joined, columns=["q", "d", "a", "b", "r"])
    named = {"data": frame, "references": "r", "query_ids": "q", "document_ids": "d"}
    for inputs in ({"systems": systems, "references": qrels}, {"systems": {"a": "a", "b": "b"}, **named}):
        found = ndcg.compare(**inputs, **options)
        assert (found.pairs[0].ties, found.pairs[0].losses) == (1, 1)
        assert found == ndcg.compare(**inputs, **options, missing="raise")


# --- Batches and Spark -----------------------------------------------------------------------------------------------


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
    joined = [
        (query, RUN.get(query, {}).get(document), QRELS[query].get(document))
        for query in QRELS
        for document in {*RUN.get(query, {}), *QRELS[query]}
    ]
    arrays = [*zip(QRELS, lists(RUN), lists(QRELS), strict=True)]
    flat = spark_session().createDataFrame(joined, "q string, score double, label int")
    nested = spark_session().createDataFrame(arrays, "q string, score array<double>, label array<int>")
    columns = {"predictions": "score", "references": "label", "query_ids": "q"}
    empty = {"gain": [0, 1, 0, 1], "zero_division": "perfect_if_empty"}  # nothing to find in q2
    for frame, options in product((flat, nested), ({"missing": "skip"}, empty, {**empty, "missing": "skip"})):
        expected = ndcg.compute(predictions=RUN, references=QRELS, **options)
        assert ndcg.compute(data=frame, **columns, **options) == pytest.approx(expected)
    assert ndcg.compute(data=flat, **columns, **empty, use_aggregator=False).toPandas()["nDCG"].max() == 1
    for frame in (flat, nested):
        with pytest.raises(ValueError, match="predictions: query 'q2' is missing"):
            ndcg.compute(data=frame, **columns, missing="raise")
