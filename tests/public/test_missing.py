"""Judged queries that are missing from a run: counted as empty, skipped or rejected, in every format with ids."""

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
from conftest import MetricFactory, spark_session

RUN = {"q1": {"d1": 1.5, "d2": 0.2}, "q3": {"d1": 0.4, "d5": 0.1}}
WHOLE = {**RUN, "q2": {"d3": 1.0}, "q1": {"d2": 1.0}}
QRELS = {"q1": {"d2": 1}, "q2": {"d3": 2}, "q3": {"d5": 1, "d1": 3}}
DOCUMENTS = {query: sorted({*RUN.get(query, {}), *WHOLE[query], *judged}) for query, judged in QRELS.items()}
Run = dict[str, dict[str, float]]


def lists(side: Run, missing: float | None = None) -> list[list[float | None]]:
    return [[side.get(query, {}).get(each, missing) for each in each_of] for query, each_of in DOCUMENTS.items()]


def written(path: Path, side: Run) -> Path:
    rows = [(query, document, value) for query, of in side.items() for document, value in of.items()]
    pd.DataFrame(rows, columns=["query", "document", "relevance" if side is QRELS else "score"]).to_csv(path)
    return path


def rows(run: Run) -> dict[str, Any]:
    """The full outer join of both sides."""
    return {
        "predictions": pd.Series([each for row in lists(run) for each in row], dtype=float),
        "references": pd.Series([each for row in lists(QRELS) for each in row], dtype=float),
        "query_ids": [query for query, each_of in DOCUMENTS.items() for _ in each_of],
        "document_ids": [each for each_of in DOCUMENTS.values() for each in each_of],
    }


def with_none(run: Run) -> dict[str, dict[str, float | None]]:
    return {query: dict(zip(DOCUMENTS[query], row, strict=True)) for query, row in zip(QRELS, lists(run), strict=True)}


def qrels_file(folder: Path) -> Path:
    return written(folder / "qrels.csv", QRELS)


FORMS: dict[str, Callable[[Path, Run], dict[str, Any]]] = {
    "mappings": lambda _, run: {"predictions": run, "references": QRELS},
    "files": lambda folder, run: {
        "predictions": written(folder / f"{len(run)}.csv", run),
        "references": qrels_file(folder),
    },
    "a mapping and a file": lambda folder, run: {"predictions": run, "references": qrels_file(folder)},
    "rows": lambda _, run: rows(run),
    "mappings with None": lambda _, run: {"predictions": with_none(run), "references": QRELS},
    "lists": lambda _, run: {"predictions": lists(run), "references": lists(QRELS)},
    "lists with -inf": lambda _, run: {"predictions": lists(run, -math.inf), "references": lists(QRELS)},
}


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Run], dict[str, Any]]:
    return partial(FORMS[request.param], tmp_path)


@pytest.fixture
def given(form: Callable[[Run], dict[str, Any]]) -> dict[str, Any]:
    return form(RUN)


def test_a_missing_query_counts_as_empty_unless_it_is_skipped(ndcg: evaluate.Metric, given: dict[str, Any]) -> None:
    values = ndcg.compute(**given, use_aggregator=False)["nDCG"]
    assert values[1] == 0
    assert ndcg.compute(**given, missing="empty") == ndcg.compute(**given) == {"nDCG": pytest.approx(np.mean(values))}
    skipped = pytest.approx([values[0], math.nan, values[2]], nan_ok=True)
    assert ndcg.compute(**given, missing="skip", use_aggregator=False)["nDCG"] == skipped
    mean = {"nDCG": pytest.approx((values[0] + values[2]) / 2)}
    assert ndcg.compute(**given, missing="skip") == mean
    weighted = ndcg.compute(**given, missing="skip", sample_weight=[1, 5, 3])
    assert weighted == {"nDCG": pytest.approx((values[0] + 3 * values[2]) / 4)}
    report = ndcg.report(**given, missing="skip")
    assert {"nDCG": report.scores["nDCG"].value} == mean
    assert (report.queries["nDCG"].to_pylist()[1], report.counts["queries"]) == (None, 3)


def test_a_missing_query_may_be_rejected(ndcg: evaluate.Metric, given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^predictions: query ('q2'|1) is missing \(1 such queries\); missing="):
        ndcg.compute(**given, missing="raise")


@pytest.mark.parametrize("convention", ["pytrec_eval", "beir", "mteb"])
def test_a_convention_may_skip_missing_queries(ndcg: evaluate.Metric, convention: str) -> None:
    sides, systems = {"predictions": RUN, "references": QRELS}, {"a": RUN, "b": WHOLE}
    skipped = ndcg.compute(**sides, convention="trec_eval", missing="skip")
    assert ndcg.compute(**sides, convention=convention) == skipped
    counted = ndcg.compute(**sides, convention="trec_eval")
    assert ndcg.compute(**sides, convention=convention, missing="empty") == counted != skipped
    found = ndcg.compare(systems=systems, references=QRELS, convention=convention)
    assert found == ndcg.compare(systems=systems, references=QRELS, convention="trec_eval", missing="skip")


def test_a_list_that_is_padding_throughout_is_skipped_too(ndcg: evaluate.Metric) -> None:
    lists = {"predictions": [[2, 1], [2, 1], []], "references": [[0, 1], [-100, -100], []], "ignore_index": -100}
    second = 1 / math.log2(3)
    assert ndcg.compute(**lists) == {"nDCG": pytest.approx(second / 3)}
    assert ndcg.compute(**lists, missing="skip") == {"nDCG": pytest.approx(second)}
    arrays = {name: np.array(lists[name][:2]) for name in ("predictions", "references")}
    values = ndcg.compute(**arrays, ignore_index=-100, missing="skip", use_aggregator=False)["nDCG"]
    assert values == [pytest.approx(second), pytest.approx(math.nan, nan_ok=True)]


# of q2 to q4 an empty list is retrieved: something is relevant, nothing is, nothing was judged; q5 is missing
ANSWERS: dict[str, list[str]] = {"q1": ["d1"], "q2": [], "q3": [], "q4": []}
JUDGED: Run = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 0}, "q4": {}, "q5": {"d5": 1}}
ANSWERED = {query: dict.fromkeys(documents, 1.0) for query, documents in ANSWERS.items()}


@pytest.mark.parametrize(
    ("predictions", "references"),
    [(ANSWERED, JUDGED), (ANSWERS, JUDGED), ("run", "qrels"), (ANSWERED, "qrels"), ("run", JUDGED)],
    ids=["mappings", "ranked ids", "files", "a mapping and a file", "a file and a mapping"],
)
def test_a_query_with_an_empty_list_is_not_missing_if_it_was_judged(
    ndcg: evaluate.Metric, tmp_path: Path, predictions: Any, references: Any
) -> None:
    sides = {"predictions": predictions, "references": references}
    for name, content in {"predictions": ANSWERED, "references": JUDGED}.items():
        if isinstance(sides[name], str):
            sides[name] = tmp_path / sides[name]
            sides[name].write_text(json.dumps(content))
    values = ndcg.compute(**sides, missing="skip", use_aggregator=False)["nDCG"]
    assert values == pytest.approx([1, 0, 0, math.nan, math.nan], nan_ok=True)
    assert ndcg.compute(**sides, use_aggregator=False)["nDCG"] == [1, 0, 0, 0, 0]
    with pytest.raises(ValueError, match=r"^predictions: query 'q5' is missing \(1 such queries\)"):
        ndcg.compute(**sides, missing="raise")


def test_an_empty_list_in_the_order_of_the_queries_is_not_missing_if_the_query_was_judged(
    ndcg: evaluate.Metric,
) -> None:
    ranked = {"predictions": [["d1"], [], []], "references": [["d1"], ["d2"], []]}
    values = ndcg.compute(**ranked, missing="skip", use_aggregator=False)["nDCG"]
    assert values == pytest.approx([1, 0, math.nan], nan_ok=True)
    assert ndcg.compute(**ranked, missing="raise") == {"nDCG": pytest.approx(1 / 3)}


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")  # of Numba
def test_an_empty_list_counts_as_in_pytrec_eval_and_ranx(ndcg: evaluate.Metric) -> None:
    import pytrec_eval
    import ranx

    sides = {"predictions": ANSWERED, "references": JUDGED, "use_aggregator": False}
    found = pytrec_eval.RelevanceEvaluator(JUDGED, {"ndcg"}).evaluate(ANSWERED)
    values = [found[query]["ndcg"] if query in found else math.nan for query in JUDGED]
    assert ndcg.compute(**sides, convention="pytrec_eval")["nDCG"] == pytest.approx(values, nan_ok=True)
    values = ranx.evaluate(
        ranx.Qrels(JUDGED), ranx.Run(ANSWERED), "ndcg", return_mean=False, make_comparable=True
    ).tolist()
    assert ndcg.compute(**sides, convention="ranx")["nDCG"] == values


def test_the_signature_says_which_queries_are_skipped(ndcg: evaluate.Metric) -> None:
    assert "|missing:skip|" in ndcg.signature(missing="skip")
    assert ndcg.signature(missing="empty") == ndcg.signature() == ndcg.signature(missing="raise")
    with pytest.raises(ValueError, match='missing must be one of "empty", "skip", "raise"; got \'skipped\'; did you'):
        ndcg.signature(missing="skipped")


def test_a_comparison_is_over_the_same_queries(ndcg: evaluate.Metric, form: Callable[[Run], dict[str, Any]]) -> None:
    systems = {"bm25": form(RUN)["predictions"], "dense": form(WHOLE)["predictions"]}
    how: dict[str, Any] = {**form(RUN), "systems": systems}
    del how["predictions"]
    with pytest.raises(ValueError, match=r"^systems\['bm25'\]: no ranking for query ('q2'|1), which 'dense' has \(1 "):
        ndcg.compare(**how)
    with pytest.raises(ValueError, match=r"^systems\['bm25'\]: predictions: query ('q2'|1) is missing"):
        ndcg.compare(**how, missing="raise")
    empty, skipped = ndcg.compare(**how, missing="empty"), ndcg.compare(**how, missing="skip")
    assert (empty.pairs[0].losses, skipped.pairs[0].losses) == (2, 1)
    assert any(note.startswith("bm25: 1 of 3 judged queries is missing from the run") for note in empty.notes)
    both = {query: judged for query, judged in QRELS.items() if query != "q2"}
    for name, run in {"bm25": RUN, "dense": WHOLE}.items():
        expected = ndcg.compute(predictions=run, references=both)["nDCG"]
        assert skipped.scores[name]["nDCG"].value == pytest.approx(expected)
    assert empty.scores["dense"]["nDCG"].value == ndcg.compute(predictions=WHOLE, references=QRELS)["nDCG"]


@pytest.mark.parametrize("options", [{"judged_only": True}, {"exclude": {"q2": ["d4"]}}], ids=str)
def test_a_query_is_not_missing_if_its_documents_are_left_out(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    systems = {"a": {"q1": {"d1": 1.0}, "q2": {"d4": 1.0}}, "b": {"q1": {"d1": 1.0}, "q2": {"d3": 1.0}}}
    qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    frame = pd.DataFrame(
        [("q1", "d1", 1, 1, 1), ("q2", "d4", 1, None, None), ("q2", "d3", None, 1, 1)],
        columns=["q", "d", "a", "b", "r"],
    )
    named = {"data": frame, "references": "r", "query_ids": "q", "document_ids": "d"}
    for inputs in ({"systems": systems, "references": qrels}, {"systems": {"a": "a", "b": "b"}, **named}):
        found = ndcg.compare(**inputs, **options)
        assert (found.pairs[0].ties, found.pairs[0].losses) == (1, 1)
        assert found == ndcg.compare(**inputs, **options, missing="raise")


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
    places = [(query, each) for query in QRELS for each in sorted({*RUN.get(query, {}), *QRELS[query]})]
    rows = [(query, each, RUN.get(query, {}).get(each), QRELS[query].get(each)) for query, each in places]
    arrays = [*zip(QRELS, lists(RUN), lists(QRELS), strict=True)]
    columns = {"predictions": "score", "references": "label", "query_ids": "q"}
    perfect_if_empty = {"gain": [0, 1, 0, 1], "zero_division": "perfect_if_empty"}  # nothing to find in q2
    for frame in (
        spark_session().createDataFrame(rows, "q string, d string, score double, label int"),
        spark_session().createDataFrame(arrays, "q string, score array<double>, label array<int>"),
    ):
        for how in ({}, {"missing": "skip"}, perfect_if_empty, {**perfect_if_empty, "missing": "skip"}):
            expected = ndcg.compute(predictions=RUN, references=QRELS, **how)
            assert ndcg.compute(data=frame, **columns, **how) == pytest.approx(expected)
        with pytest.raises(ValueError, match="predictions: query 'q2' is missing"):
            ndcg.compute(data=frame, **columns, missing="raise")
