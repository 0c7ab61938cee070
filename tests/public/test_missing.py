"""Judged queries that a run lacks: counted as empty, skipped or refused, in formats with ids."""

import json
import math
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
from conftest import MetricFactory, ranx_sides, spark_session
from refusals import refusal
from sources import COLUMNS, RAGGED, RAGGED_FORMS, SOURCES, Inputs, by_ids, written

QRELS = by_ids(RAGGED.relevances)
RUN = {query: scores for query, scores in by_ids(RAGGED.scores).items() if scores}  # without q5
WITH_NONE = {**RUN, "q5": {"d0": None, "d1": None}}
MAPPINGS = {"predictions": RUN, "references": QRELS}
ROWS = RAGGED.table()


def in_files(name: str, folder: Path) -> Inputs:
    """Files of the run, without its query of no document, and of the qrels."""
    source = SOURCES[name]
    sides = {"predictions": (RUN, "run"), "references": (QRELS, "qrels")}
    return {argument: source.write(*side, folder) for argument, side in sides.items()}


FORMS: dict[str, Callable[[Path], Inputs]] = {
    "lists": lambda _: {"predictions": RAGGED.scores, "references": RAGGED.relevances},
    "Arrow lists": lambda _: dict(
        zip(MAPPINGS, map(RAGGED_FORMS["Arrow lists"], RAGGED), strict=True)
    ),
    "flat columns": lambda _: {name: ROWS[column].to_pylist() for name, column in COLUMNS.items()},
    "a table of both": lambda _: {"data": ROWS.to_pandas(), **COLUMNS},
    "files of TREC": partial(in_files, "TREC: file.txt and file.txt"),
    "files of CSV": partial(in_files, "a file: file.csv"),
    "lists with -inf": lambda _: {
        "predictions": [
            [-math.inf if score is None else score for score in scores] for scores in RAGGED.scores
        ],
        "references": RAGGED.relevances,
    },
    "mappings": lambda _: MAPPINGS,
    "a mapping and a file": lambda folder: {
        **MAPPINGS,
        "references": written(folder / "qrels", QRELS, "qrels"),
    },
    "mappings with None": lambda _: {**MAPPINGS, "predictions": WITH_NONE},
    "a mapping with None and a file": lambda folder: {
        "predictions": WITH_NONE,
        "references": written(folder / "qrels", QRELS, "qrels"),
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_query_counts_as_empty_is_skipped_or_is_rejected(
    ndcg: evaluate.Metric, tmp_path: Path, form: str
) -> None:
    inputs = FORMS[form](tmp_path)
    *others, missing = ndcg.compute(**inputs, use_aggregator=False)["nDCG"]
    assert missing == 0
    assert (
        ndcg.compute(**inputs)
        == ndcg.compute(**inputs, missing="empty")
        == {"nDCG": pytest.approx(sum(others) / 6)}
    )
    assert ndcg.compute(**inputs, missing="skip") == {"nDCG": pytest.approx(np.mean(others))}
    weighted = ndcg.compute(**inputs, missing="skip", sample_weight=[1, 2, 3, 4, 5, 6])
    assert weighted == {"nDCG": pytest.approx(np.average(others, weights=[1, 2, 3, 4, 5]))}
    by_query = ndcg.compute(
        **inputs, missing="skip", use_aggregator=False, measures=["nDCG", "IDCG"]
    )
    assert by_query["nDCG"] == pytest.approx([*others, math.nan], nan_ok=True)
    assert math.isnan(by_query["IDCG"][5])
    query = "query 5" if "lists" in form else "query 'q5'"
    with refusal("predictions", query):
        ndcg.compute(**inputs, missing="raise")


SYSTEMS = {"bm25": RUN, "dense": {**RUN, "q5": {"d1": 1.0}}}
LISTS = {"bm25": RAGGED.scores, "dense": [*RAGGED.scores[:5], [None, 1.0]]}


@pytest.mark.parametrize(("systems", "references"), [(SYSTEMS, QRELS), (LISTS, RAGGED.relevances)])
def test_a_comparison_is_over_the_same_queries(
    ndcg: evaluate.Metric, systems: Any, references: Any
) -> None:
    inputs = {"systems": systems, "references": references}
    for missing in (None, "raise"):
        with refusal("systems['bm25']"):
            ndcg.compare(**inputs, missing=missing)
    empty, skipped = ndcg.compare(**inputs, missing="empty"), ndcg.compare(**inputs, missing="skip")
    assert (empty.pairs[0].losses, empty.pairs[0].ties) == (1, 5)
    assert (skipped.pairs[0].losses, skipped.pairs[0].ties) == (0, 5)
    assert any(
        note.startswith("bm25: 1 of 6 judged queries is missing from the run")
        for note in empty.notes
    )
    for name, run in systems.items():
        expected = ndcg.compute(**{**MAPPINGS, "predictions": RUN}, missing="skip")["nDCG"]
        assert skipped.scores[name]["nDCG"].value == expected
        assert (
            empty.scores[name]["nDCG"].value
            == ndcg.compute(predictions=run, references=references)["nDCG"]
        )


@pytest.mark.parametrize("convention", ["pytrec_eval", "beir", "mteb"])
def test_a_convention_may_skip_missing_queries(ndcg: evaluate.Metric, convention: str) -> None:
    trec_eval = {"convention": "trec_eval"}
    assert ndcg.compute(**MAPPINGS, convention=convention) == ndcg.compute(
        **MAPPINGS, **trec_eval, missing="skip"
    )
    assert ndcg.compute(**MAPPINGS, convention=convention, missing="empty") == ndcg.compute(
        **MAPPINGS, **trec_eval
    )
    inputs = {"systems": SYSTEMS, "references": QRELS}
    assert ndcg.compare(**inputs, convention=convention) == ndcg.compare(
        **inputs, **trec_eval, missing="skip"
    )


def test_a_list_that_is_padding_throughout_is_skipped_too(ndcg: evaluate.Metric) -> None:
    lists = {"predictions": [[2, 1], [2, 1], []], "references": [[0, 1], [-100, -100], []]}
    arrays = {name: np.array(side[:2]) for name, side in lists.items()}
    second = 1 / math.log2(3)
    for inputs, expected in ((lists, [second, math.nan, math.nan]), (arrays, [second, math.nan])):
        values = ndcg.compute(**inputs, ignore_index=-100, missing="skip", use_aggregator=False)[
            "nDCG"
        ]
        assert values == pytest.approx(expected, nan_ok=True)


# --- Queries for which nothing was found ----------------------------------------------------------

# of q2 to q4 an empty list is retrieved: something is relevant, nothing is, nothing was judged; q5
# is missing
ANSWERS: dict[str, list[str]] = {"q1": ["d1"], "q2": [], "q3": [], "q4": []}
JUDGED = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 0}, "q4": {}, "q5": {"d5": 1}}
ANSWERED = {query: dict.fromkeys(documents, 1.0) for query, documents in ANSWERS.items()}


def test_a_query_with_an_empty_list_is_not_missing_if_it_was_judged(
    ndcg: evaluate.Metric, tmp_path: Path
) -> None:
    run, qrels = tmp_path / "run.json", tmp_path / "qrels.json"
    run.write_text(json.dumps(ANSWERED))
    qrels.write_text(json.dumps(JUDGED))
    for predictions, references in product((ANSWERED, ANSWERS, run), (JUDGED, qrels)):
        sides = {"predictions": predictions, "references": references}
        values = ndcg.compute(**sides, missing="skip", use_aggregator=False)["nDCG"]
        assert values == pytest.approx([1, 0, 0, math.nan, math.nan], nan_ok=True)
        assert ndcg.compute(**sides, use_aggregator=False)["nDCG"] == [1, 0, 0, 0, 0]
        with refusal("predictions", "query 'q5'"):
            ndcg.compute(**sides, missing="raise")
    ranked = {"predictions": [["d1"], [], []], "references": [["d1"], ["d2"], []]}
    values = ndcg.compute(**ranked, missing="skip", use_aggregator=False)["nDCG"]
    assert values == pytest.approx([1, 0, math.nan], nan_ok=True)
    assert ndcg.compute(**ranked, missing="raise") == {"nDCG": pytest.approx(1 / 3)}


@pytest.mark.peers
@pytest.mark.xdist_group("ranx")  # which compiles its functions for seconds
@pytest.mark.filterwarnings("ignore")  # of Numba
def test_queries_without_documents_count_as_in_pytrec_eval_and_ranx(ndcg: evaluate.Metric) -> None:
    import pytrec_eval
    import ranx

    for run, qrels in ((ANSWERED, JUDGED), (RUN, QRELS)):
        found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(run)
        values = [found[query]["ndcg"] if query in found else math.nan for query in qrels]
        by_query = {"predictions": run, "references": qrels, "use_aggregator": False}
        assert ndcg.compute(**by_query, convention="pytrec_eval")["nDCG"] == pytest.approx(
            values, nan_ok=True
        )
        sides = ranx_sides(run, qrels)
        values = ranx.evaluate(*sides, "ndcg", return_mean=False, make_comparable=True).tolist()
        assert ndcg.compute(**by_query, convention="ranx")["nDCG"] == pytest.approx(
            values, rel=1e-15
        )


@pytest.mark.parametrize("options", [{"judged_only": True}, {"exclude": {"q2": ["d4"]}}], ids=str)
def test_a_query_is_not_missing_if_its_documents_are_left_out(
    ndcg: evaluate.Metric, options: dict[str, Any]
) -> None:
    systems = {
        "a": {"q1": {"d1": 1.0}, "q2": {"d4": 1.0}},
        "b": {"q1": {"d1": 1.0}, "q2": {"d3": 1.0}},
    }
    qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    joined = [("q1", "d1", 1, 1, 1), ("q2", "d4", 1, None, None), ("q2", "d3", None, 1, 1)]
    frame = pd.DataFrame(joined, columns=["q", "d", "a", "b", "r"])
    named = {"data": frame, "references": "r", "query_ids": "q", "document_ids": "d"}
    for inputs in (
        {"systems": systems, "references": qrels},
        {"systems": {"a": "a", "b": "b"}, **named},
    ):
        found = ndcg.compare(**inputs, **options)
        assert (found.pairs[0].ties, found.pairs[0].losses) == (1, 1)
        assert found == ndcg.compare(**inputs, **options, missing="raise")


# --- Batches and Spark ----------------------------------------------------------------------------


def test_batches_have_no_missing_queries(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(**MAPPINGS)
    with refusal("missing"):
        metric.compute(missing="skip")
    assert len(metric) == 6


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_finds_missing_queries_by_their_rows(ndcg: evaluate.Metric) -> None:
    queries = [*zip(QRELS, RAGGED.scores, RAGGED.relevances, strict=True)]
    rows = [(query, *row) for query, *sides in queries for row in zip(*sides, strict=True)]
    flat = spark_session().createDataFrame(rows, "q string, score double, label int")
    nested = spark_session().createDataFrame(
        queries, "q string, score array<double>, label array<int>"
    )
    columns = {"predictions": "score", "references": "label", "query_ids": "q"}
    empty = {"gain": [0, 0, 0, 1, 1], "zero_division": "perfect_if_empty"}  # nothing to find in q5
    for frame, options in product(
        (flat, nested), ({"missing": "skip"}, empty, {**empty, "missing": "skip"})
    ):
        expected = ndcg.compute(**MAPPINGS, **options)
        assert ndcg.compute(data=frame, **columns, **options) == pytest.approx(expected)
    for frame in (flat, nested):
        with refusal("predictions", "query 'q5'"):
            ndcg.compute(data=frame, **columns, missing="raise")


IDEAL = [[1, 0, 2], [0, 3, 0]]
IDEAL_BY_ID = {"q": {"a": 1, "c": 2}, "r": {"b": 3, "d": 0}}


@pytest.mark.parametrize(
    "references",
    [
        {"references": IDEAL},
        {"references": np.array(IDEAL)},
        {"references": IDEAL, "query_ids": ["q", "r"]},
        {"references": [1, 0, 2, 0, 3, 0], "query_ids": [0, 0, 0, 1, 1, 1]},
        {"references": IDEAL_BY_ID, "convention": "pytrec_eval"},
        {"references": list(IDEAL_BY_ID.values()), "score_order": "ascending"},
        {
            "references": [["no", "yes"], ["no", "high"]],
            "gain": {"no": 1, "yes": 2, "high": 3 - 1 / np.log2(3)},
        },
    ],
)
def test_the_ideal_needs_no_predictions(ndcg: evaluate.Metric, references: dict[str, Any]) -> None:
    expected = ((2 + 1 / np.log2(3)) + 3) / 2
    assert ndcg.compute(**references, measures="IDCG") == {"IDCG": pytest.approx(expected)}


def test_other_measures_and_ideals_say_that_predictions_are_missing(ndcg: evaluate.Metric) -> None:
    with refusal("predictions are missing"):
        ndcg.compute(references=IDEAL, measures=["IDCG", "DCG"])
    with refusal("predictions are missing"):
        ndcg.compute(references=IDEAL, measures="IDCG", ideal="truncated")
