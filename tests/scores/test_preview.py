"""`preview` shows what `compute` reads: forms, fields, counts and a query."""

import inspect
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from refusals import warning

import ndcg
from ndcg.measure.messages import InputError

HITS = [
    {"case": "q1", "chunks": [{"passage": "b", "sim": 0.9}, {"passage": "a", "sim": 0.2}]},
    {"case": "q2", "chunks": [{"passage": "c", "sim": 0.5}]},
]
JUDGED = {"q1": {"a": 1, "z": 2}, "q2": {"c": 3}, "q3": {"d": 1}}
NAMES = {"query": "case", "document": "chunks.passage", "score": "chunks.sim"}


def test_a_preview_counts_queries_and_documents_of_both_sides() -> None:
    preview = ndcg.preview(predictions=HITS, references=JUDGED, fields=NAMES)
    assert (preview.predictions.queries, preview.predictions.documents) == (2, 3)
    assert (preview.references.queries, preview.references.documents) == (3, 4)
    assert (preview.queries, preview.missing) == (3, 1)
    assert (preview.retrieved, preview.judged) == (3, 2)


def test_a_preview_names_the_field_of_each_role() -> None:
    preview = ndcg.preview(predictions=HITS, references=JUDGED, fields=NAMES)
    roles = {"query": "case", "document": "chunks.passage", "score": "chunks.sim"}
    assert preview.predictions.fields == roles
    assert preview.references.fields == {}


def test_a_preview_shows_the_first_query_best_first_and_then_what_was_not_retrieved() -> None:
    preview = ndcg.preview(predictions=HITS, references=JUDGED, fields=NAMES)
    assert preview.query == "q1"
    assert preview.documents == [
        {"rank": 1, "document": "b", "score": 0.9, "relevance": None},
        {"rank": 2, "document": "a", "score": 0.2, "relevance": 1.0},
        {"rank": None, "document": "z", "score": None, "relevance": 2.0},
    ]


def test_a_long_preview_says_what_it_does_not_show_and_shows_missed_documents() -> None:
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, 31)}}
    missed = {"z": 0, **{f"y{grade}": grade for grade in range(1, 7)}}
    preview = ndcg.preview(predictions=run, references={"q": {"d30": 1, **missed}})
    ids = [row["document"] for row in preview.documents]
    assert ids == [*(f"d{rank}" for rank in range(1, 16)), "y6", "y5", "y4", "y3", "y2"]
    assert (preview.more_retrieved, preview.more_judged) == (30 - 15, len(missed) - 5)
    sentence = "Documents of query 'q' not shown: 15 retrieved, 2 judged but not retrieved."
    assert sentence in str(preview)
    of_few = ndcg.preview(predictions={"q": ["z"]}, references={"q": missed})
    assert len(of_few.documents) == len(missed)
    assert "not shown" not in str(of_few)


def test_the_query_of_a_ranking_is_named_above_it() -> None:
    run = {"q": ["a"]}
    assert "rank for query 'q'  document" in str(ndcg.preview(predictions=run, references=run))
    question = "How many documents are relevant to a question of many words?"
    run = {question: ["a"]}
    (title, *_), *_ = ndcg.preview(predictions=run, references=run).tables()[1]
    assert title == "rank for query 'How many documents...tion of many words?'"


GOLD = {"p": {"a": 1}, "q": {"a": 0}, "r": {}, "s": {"a": 0}}  # nothing is relevant in q, r and s
COUNTED = "of 4 judged queries have no relevant document"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, f"3 {COUNTED}, counted as 0 in nDCG."),
        ({"zero_division": 0.5}, f"3 {COUNTED}, counted as 0.5 in nDCG."),
        ({"zero_division": math.nan}, f"3 {COUNTED}, not counted in nDCG."),
        ({"zero_division": "perfect_if_empty"}, f"3 {COUNTED}."),
        ({"gain": [1, 2]}, f"3 {COUNTED}."),
        ({"missing": "skip"}, f"2 {COUNTED}, counted as 0 in nDCG."),  # s is missing
    ],
)
def test_a_preview_says_how_queries_without_a_relevant_document_count(
    options: dict[str, Any], sentence: str
) -> None:
    run = {"p": ["a"], "q": ["a"], "r": ["a"]}
    assert sentence in str(ndcg.preview(predictions=run, references=GOLD, **options))


def test_a_preview_says_of_which_queries_documents_are_counted() -> None:
    run = {"p": {"a": 0.5}, "q": {"a": 0.5, "b": 0.1}, "unjudged": {"c": 0.5}}
    preview = ndcg.preview(predictions=run, references={"p": {"a": 1}, "q": {"a": 1}})
    assert "2 of 3 documents retrieved for the 2 queries of the references are judged." in str(
        preview
    )
    one = ndcg.preview(predictions=run, references={"q": {"a": 1}})
    assert "1 of 2 documents retrieved for the query of the references is judged." in str(one)


@pytest.mark.parametrize("document_ids", [None, "passage"])
def test_a_preview_names_the_columns_of_data(document_ids: str | None) -> None:
    data = pd.DataFrame({"case": ["q"], "passage": ["a"], "score": [0.5], "verdict": [1]})
    preview = ndcg.preview(
        data=data,
        predictions="score",
        references="verdict",
        query_ids="case",
        document_ids=document_ids,
    )
    assert preview.predictions.form == preview.references.form == "a column of data"
    assert preview.predictions.fields["score"] == "score"
    assert preview.references.fields["relevance"] == "verdict"


def test_a_preview_shows_distances_as_given_and_the_lowest_first() -> None:
    run = {"q": {"far": 9.0, "near": 0.5}}
    preview = ndcg.preview(predictions=run, references={"q": {"near": 1}}, score_order="ascending")
    assert [row["document"] for row in preview.documents] == ["near", "far"]
    assert [row["score"] for row in preview.documents] == [0.5, 9.0]


def test_a_preview_counts_what_is_excluded() -> None:
    run = {"p": {"c": 0.5}, "q": {"a": 0.9, "b": 0.5, "c": 0.1}}
    judged = {"p": {"c": 1}, "q": {"b": 1, "c": 1}}
    preview = ndcg.preview(predictions=run, references=judged, exclude={"q": ["a", "b"]})
    assert (preview.excluded_retrieved, preview.excluded_judged) == (2, 1)
    assert "Documents to exclude: 2 retrieved, 1 judged." in str(preview)
    assert "exclude" not in str(ndcg.preview(predictions=run, references=judged))
    nothing = ndcg.preview(predictions=run, references=judged, exclude={"q": ["d"]})
    assert "Documents to exclude: 0 retrieved, 0 judged." in str(nothing)


def test_a_preview_counts_queries_that_only_the_run_has() -> None:
    run = {"q1": {"a": 0.5}, "q2": {}, "q9": {"b": 0.5}}
    preview = ndcg.preview(predictions=run, references={"q1": {"a": 1}, "q2": {"a": 1}})
    assert (preview.missing, preview.not_judged) == (0, 1)
    assert "1 of 3 queries of the run is not judged." in str(preview)
    by_position = ndcg.preview(predictions=[[2, 1], [None] * 2], references=[[1, 0]] * 2)
    assert (by_position.missing, by_position.not_judged) == (1, 0)
    without_gold = {"q1": {"a": 1}, "q7": {}}  # the run lacks a query of which nothing is judged
    assert ndcg.preview(predictions={"q1": ["a"]}, references=without_gold).not_judged == 0
    assert ndcg.preview(predictions=run, references=without_gold).not_judged == 2


def test_a_preview_counts_rows_without_a_value() -> None:
    run = pd.DataFrame({"qid": ["q"] * 4, "docno": list("abcd"), "score": [2, None, 1, None]})
    preview = ndcg.preview(predictions=run, references={"q": {"a": 1}})
    assert (preview.predictions.documents, preview.predictions.lacking) == (2, 2)
    assert "2 rows of the predictions have no score and are left out." in str(preview)
    judged = pd.DataFrame({"qid": ["q"] * 2, "docno": ["a", "b"], "label": [1, None]})
    preview = ndcg.preview(predictions={"q": ["a"]}, references=judged)
    assert "1 row of the references has no relevance and is left out." in str(preview)


def test_a_preview_shows_the_lowest_and_the_highest_relevance_of_what_is_not_padding() -> None:
    labels = [[3, 1, -100], [2, -100, -100]]
    preview = ndcg.preview(predictions=[[0.5] * 3] * 2, references=labels, ignore_index=-100)
    assert preview.relevances == (1, 3)
    assert preview.references.documents == preview.predictions.documents == 3
    assert "The relevances go from 1 to 3." in str(preview)
    equal = ndcg.preview(predictions={"q": ["a"]}, references={"q": {"a": 2, "b": 2}})
    assert "All relevances are 2." in str(equal)


def test_a_preview_says_that_query_ids_name_the_queries() -> None:
    judged = {"q1": {"a": 1}, "q2": {"b": 1}}
    preview = ndcg.preview(
        predictions=[["a"], ["b"]], references=judged, query_ids=["q1", "q2"], document_ids=None
    )
    assert preview.predictions.fields == {"query": "query_ids"}
    assert preview.references.fields == {}
    flat = {"predictions": [0.9, 0.1], "references": [1, 0], "query_ids": ["q", "q"]}
    preview = ndcg.preview(**flat, document_ids=["a", "b"])
    assert preview.predictions.fields == {"query": "query_ids", "document": "document_ids"}


def test_a_preview_of_lists_without_values_says_so() -> None:
    preview = ndcg.preview(predictions={"q": ["a", "b"]}, references={"q": {"a"}})
    assert not preview.predictions.has_values
    assert not preview.references.has_values
    assert [row["score"] for row in preview.documents] == [None, None]


def source(form: str, rows: list[dict[str, Any]], folder: Path) -> Any:
    """The rows of a run in a table, in objects, in hits or in a file."""
    if form == "frame":
        return pd.DataFrame(rows)
    if form == "records":
        return rows
    if form == "hits":
        return {"q": [{name: row[name] for name in list(row)[1:]} for row in rows]}
    path = folder / f"run.{form}"
    if form == "parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif form == "csv":
        pd.DataFrame(rows).to_csv(path)  # with the numbers of rows, which have no name
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


@pytest.mark.parametrize("form", ["frame", "records", "hits", "parquet", "csv", "jsonl"])
def test_a_preview_names_what_is_not_read(form: str, tmp_path: Path) -> None:
    row = {"query_id": "q", "doc_id": "a", "score": 0.5, "system": "bm25", "rerank": 0.2}
    run = source(form, [row, {**row, "doc_id": "b"}], tmp_path)
    preview = ndcg.preview(predictions=run, references={"q": {"a": 1}})
    assert list(preview.predictions.not_read) == ["system", "rerank"]
    assert list(preview.references.not_read) == []
    assert "Fields of the predictions that are not read: 'system', 'rerank'." in str(preview)
    assert preview.to_dict()["predictions"]["not_read"] == ["system", "rerank"]


@pytest.mark.parametrize("name", inspect.signature(ndcg.compute).parameters)
def test_a_preview_has_each_argument_of_compute(name: str) -> None:
    assert name in inspect.signature(ndcg.preview).parameters


OPTIONS: dict[str, Any] = {
    "k": 10,
    "sample_weight": [2.0],
    "use_aggregator": False,
    "engine": "numpy",
    "measures": ["DCG"],
    "gain": "exponential",
    "discount": "reciprocal",
    "convention": "trec_eval",
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_call_of_compute_becomes_a_preview_by_its_name_alone(name: str) -> None:
    call: dict[str, Any] = {"predictions": {"q": {"a": 0.5}}, "references": {"q": {"a": 1}}}
    call[name] = OPTIONS[name]
    ndcg.compute(**call)
    assert ndcg.preview(**call).judged == 1


@pytest.mark.parametrize("options", [{"k": 0}, {"gain": "square"}, {"duplicates": "first"}])
def test_an_option_that_compute_refuses_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ndcg.preview(predictions={"q": ["a"]}, references={"q": {"a": 1}}, **options)


def test_text_html_and_plain_values_show_the_same_documents() -> None:
    run = pd.DataFrame({"query_id": ["q"], "doc_id": ["d<1>"], "score": [0.5]})
    preview = ndcg.preview(predictions=run, references={"q": {"d<1>": 1}})
    text = str(preview)
    for cell in ("query_id", "doc_id", "score", "d<1>"):
        assert cell in text
    assert "d&lt;1&gt;" in preview._repr_html_()
    values = json.loads(json.dumps(preview.to_dict()))
    assert values["documents"] == [{"rank": 1, "document": "d<1>", "score": 0.5, "relevance": 1.0}]


def test_a_preview_shows_the_first_query_that_the_run_has() -> None:
    qrels = {"p": {"a": 1}, "q": {"b": 1}}
    assert ndcg.preview(predictions={"q": ["b"]}, references=qrels).query == "q"
    assert ndcg.preview(predictions={"q": ["b"], "p": ["a"]}, references=qrels).query == "p"
    assert ndcg.preview(predictions={"q": ["b"]}, references={"o": {}, **qrels}).query == "q"
    with warning("predictions"):
        assert ndcg.preview(predictions={"q": [], "p": []}, references=qrels).query == "p"
