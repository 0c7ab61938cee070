"""Records, hits, tables and logs whose fields are not clear, and names that no field has."""

from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
from refusals import File, Made, Row, refused, warned

from ndcg import compare, compute, documents, explain, preview, report

RUN, QRELS = {"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 1, "b": 0}}
BY_ID: dict[str, Any] = {"predictions": RUN, "references": QRELS}
TABLE = pa.table({"user": [1, 1, 2], "item": [7, 8, 7], "score": [0.5, 0.25, 1.0]})
OWN_NAMES = pa.table({"member": ["ann"], "film": ["alien"], "stars": [2.5]})
LOG = [
    {
        "case": "q",
        "output": {"chunks": [{"key": "a", "sim": 0.9}, {"key": "b", "sim": 0.8}]},
        "gold": ["b"],
    },
]
ANSWERS = [{"query": "q", "docs": [{"id": "a", "sim": 0.9}], "gold": ["a"]}]
CLICKS = pa.table({"query_id": ["q"], "doc_id": ["a"], "shown": [0.5], "clicked": [1]})
BY_USER: dict[str, Any] = {"predictions": "score", "references": "label", "query_ids": "user"}
FRAME = pa.table({"user": ["a", "a"], "item": ["x", "y"], "score": [0.5, 0.25], "label": [1, 0]})
TOTAL = {"user": "Summary", "item": None, "score": 0.75, "label": 1}


def run(value: Any, *places: str, **more: Any) -> Row:
    """The row of a run that is refused."""
    return refused(compute, "predictions", *places, **BY_ID | {"predictions": value} | more)


def qrels(value: Any, *places: str, **more: Any) -> Row:
    """The row of references that are refused."""
    return refused(compute, "references", *places, **BY_ID | {"references": value} | more)


def fields(value: Any, **sides: Any) -> Row:
    """The row of an argument `fields` that is refused."""
    return refused(compute, "fields", **BY_ID | sides, fields=value)


def data(argument: str, *places: str, frame: Any = FRAME, **columns: Any) -> Row:
    """The row of a frame that is refused."""
    return refused(compute, argument, *places, data=frame, **BY_USER | columns)


class NoFields:
    """A hit whose fields cannot be seen."""


OF_OBJECTS: dict[str, Row] = {
    "a UUID": run(UUID(int=3)),
    "NA as the query": run([{"qid": pd.NA, "ids": ["a"], "scores": [0.5]}], "position 0"),
    "hits without fields": run({"q": [NoFields(), NoFields()]}),
    "a log of its own names": run(LOG),
    "a passage as a relevance": qrels(
        [
            {
                "query_id": "q",
                "doc_id": "a",
                "reference": "No food here, " * 3 + "says he.",
                "value": 1,
            }
        ],
        "the column 'reference'",
        "row 0",
    ),
    "ids of a type that no field has": run(
        pa.table({"topic": [301], "passage": ["a"], "score": [0.5]}), references={"301": {"a": 1}}
    ),
    "ids of types that fields have": run(
        pa.table({"topic": ["301"], "passage": ["a"], "score": [0.5]}), references={"301": {"a": 1}}
    ),
    "a field that is JSON as text": run([{"query_id": "q", "output": '[{"id": "a"}]'}]),
    "spans of which some hold no documents": run(
        [
            {"kind": "CHAIN", "input": {"value": "q"}},
            {"kind": "RETRIEVER", "input": {"value": "q"}, "documents": [{"id": "a", "score": 1}]},
        ]
    ),
    "the hits of one query beside its labels": run(
        [{"corpus_id": 1, "score": 0.5}, {"corpus_id": 0, "score": 0.25}], references=[1, 0]
    ),
    "relevances in a list beside one document": qrels(
        [{"query_id": "q", "doc_id": "a", "votes": [{"value": 1}, {"value": 0}]}],
        "the column 'votes.value'",
        "row 0",
        fields={"relevance": "votes.value"},
    ),
    "scores of another list than the documents": run(
        [{"query_id": "q", "found": [{"id": "a"}], "reranked": [{"id": "b", "score": 0.9}]}],
        fields={"document": "found.id", "score": "reranked.score"},
    ),
    "a list of relevances of another object than the documents": qrels(
        [{"query_id": "q", "found": {"ids": ["a"]}, "gold": {"ids": ["b"], "grades": [1]}}],
        fields={"document": "found.ids", "relevance": "gold.grades"},
    ),
    "words as relevances beside two documents": qrels(
        [{"query_id": "q", "doc_id": "a", "docno": "a", "verdict": "not relevant"}],
    ),
    "lists of scores without ids": run(
        [{"query_id": "q", "scores": [0.5, 0.9], "labels": [1, 0]}],
    ),
    "ids that are all None": run({"q": [{"id": None, "metadata": {"source": "a"}}]}),
    "scores that are all None": run({"q": [{"id": "a", "score": None, "distance": 0.1}]}),
    "objects by query below a name": run(
        {"took": 3, "details": {name: {"hits": [{"_id": name, "near": 1}]} for name in "qr"}}
    ),
    "objects by query below a name, whose fields are known": run(
        {"took": 3, "details": {name: {"hits": [{"_id": name, "score": 1}]} for name in "qr"}}
    ),
    "hits beside objects with the same fields": run(
        {
            "took": 3,
            "hits": {"hits": [{"_id": "a", "near": 1}]},
            "facets": {name: {"buckets": [{"key": "a", "count": 1}]} for name in ("tag", "year")},
        }
    ),
    "a document of two lists of a trace": run(
        [
            {
                "query": "q",
                "spans": [{"name": "llm"}, *({"hits": [{"id": "a", "score": 1}]} for _ in "ab")],
            }
        ],
        "query 'q', position 1",
    ),
    "a distance that is always None": run({"q": [{"id": "a", "distance": None, "near": 0.1}]}),
    "a distance of its own name": run({"q": [{"id": "a", "vector_distance": 0.1}]}),
    "a log of its own names on both sides": refused(
        compute, "predictions", predictions=LOG, references=LOG
    ),
    "a log on both sides whose documents are clear": refused(
        compute, "predictions", predictions=CLICKS, references=CLICKS
    ),
    "a log on both sides whose documents are in a list": refused(
        compute, "references", predictions=ANSWERS, references=ANSWERS
    ),
    "a log on both sides whose scores are its only values": refused(
        compute,
        "predictions and references",
        predictions=(
            log := [{"qid": "q", "hits": [{"id": "a", "score": 0.9}], "gold": ["a", "b"]}]
        ),
        references=log,
    ),
    "a log on both sides with a document twice": refused(
        compute,
        "predictions",
        "query 'q', position 1",
        predictions=(
            log := [{"qid": "q", "hits": 2 * [{"id": "a", "score": 0.9, "page": 1}], "gold": ["a"]}]
        ),
        references=log,
    ),
    "a log that is loaded twice": refused(
        compute,
        "references",
        predictions=(log := [{"qid": "q", "hits": [{"id": "a", "sim": 0.9}], "gold": ["a"]}]),
        references=[*log],
    ),
    "two logs of their own names": refused(
        compute, "predictions", predictions=LOG, references=[*LOG]
    ),
    "a log of more fields than are shown": run(
        [{"hits": [{f"field {at}": at for at in range(60)}]}]
    ),
    "hits without an id": run({"q": [{"key": "a", "sim": 0.9}]}),
    "hits without a score": run({"q": [{"id": "a", "sureness": 0.9}]}),
    "the document of two chunks": run(
        {
            "q": [
                {"id": "a:1", "document_id": "a", "score": 0.9},
                {"id": "a:2", "document_id": "a", "score": 0.8},
            ]
        },
        "query 'q', position 1",
    ),
    "chunks of documents without a standard name": run(
        {"q": {"hits": [{"uri": uri, "lang": "en", "score": 0.5} for uri in "aab"]}}
    ),
    "chunks of documents in pairs with their scores": run(
        {"q": [({"text": f"{at}", "source": uri}, 0.5) for at, uri in enumerate("aab")]}
    ),
    "chunks of documents whose name is known, without queries": run(
        [{"case": case, "hits": [{"doc_id": f"{case}{at}"} for at in (1, 2, 1)]} for case in "ab"]
    ),
    "a list that is named as the query": run(
        [{"case": ["q"], "hits": [{"id": "a", "score": 0.5}]}], fields={"query": "case"}
    ),
    "ids in lists of hits that are named as the documents": qrels(
        {query: [{"text": "x", "citations": [{"source": "a"}]}, {"text": "y"}] for query in "pq"},
        fields={"document": "citations.source", "relevance": None},
    ),
    "two scores of a document of its own name": run(
        [{"query_id": "q", "hits": [{"uri": "a", "score": 0.9, "percentScore": 94.2}]}]
    ),
    "lists that the first object lacks": qrels(
        [
            {"session": "q", "labels": {"clicks": 5}},
            {"session": "r", "labels": {"clicks": 5, "orders": [6]}},
        ]
    ),
    "chunks of one source": run(
        {"q": {"hits": [{"key": key, "source": "s", "score": 0.5} for key in "ab"]}}
    ),
    "chunks of documents, of which the best counts": run(
        {"q": {"hits": [{"uri": uri, "score": 0.5} for uri in "aab"]}}, duplicates="best"
    ),
    "a query in a span without documents": run(
        [{"query_id": "q", "kind": "CHAIN"}, {"query_id": "q", "hits": [{"id": "a", "score": 1}]}]
    ),
    "a position in a list of candidates": run({"q": {"results": [{"index": 1, "score": 0.9}]}}),
    "runs by system": run({"bm25": RUN, "dense": RUN}),
    "tables by system": run(
        {"bm25": FRAME, "dense": FRAME},
    ),
    "tables by query": run([FRAME.drop_columns(["user", "label"])]),
    "queries within a key": run({"results": {"q": {"a": 1.0, "b": 0.5}, "r": {"a": 1.0}}}),
    "queries within two keys": qrels({"default": {"test": {"q": {"a": 1, "b": 0}}}}),
    "the fields of a document": run({"q": {"a": {"score": np.float64(0.5)}}}),
    "a query that is None": run(
        [
            {"query_id": "q", "hits": [{"id": "a", "score": 0.5}]},
            {"query_id": None, "hits": [{"id": "a", "score": 0.5}]},
        ],
        "position 1",
    ),
    "a score that one of two spans lacks": run(
        [
            {
                "query_id": "q",
                "spans": [
                    {"documents": [{"id": "a", "similarity": 0.5}]},
                    {"documents": [{"id": "b", "rerank_score": 0.9}]},
                ],
            }
        ],
        "query 'q', position 1",
        fields={"score": "similarity"},
    ),
    "NA of pandas in a list": run({"q": Made(lambda: ["a", pd.NA])}, "query 'q', position 1"),
    "empty text twice in a list": run({"q": ["a", "", ""]}, "query 'q', position 2"),
    "hits without a score, but a distance": run({"q": [{"id": "a", "distance": 0.9}]}),
    "hits whose distance is named": run(
        {"q": [{"id": "a", "distance": 0.9}]}, fields={"score": "distance"}
    ),
    "hits in objects whose distance is named": run(
        [{"query_id": "q", "hits": [{"id": "a", "meta": {"distance": 0.9}}]}],
        fields={"score": "distance"},
    ),
    "documents in two lists, one of them twice": run(
        [
            {
                "query_id": "q",
                "spans": [
                    {"hits": [{"chunk_id": "a:1", "doc_id": "a", "score": 0.9}]},
                    {"hits": [{"chunk_id": f"b:{n}", "doc_id": "b", "score": n} for n in (1, 2)]},
                ],
            }
        ]
    ),
    "hits that hold other ids than their own": run(
        {"q": {"hits": [{"_id": "a:1", "_score": 2, "_source": {"doc_id": "a", "title": "A"}}]}}
    ),
    "a document in each of several columns": run(
        pd.DataFrame({"query": ["q"], "doc1": ["a"], "doc2": ["b"]})
    ),
    "a number with a comma": run([{"query_id": "q", "doc_id": "a", "Wert": "0,91"}]),
    "None in a list of ids": run(
        [{"query_id": "q", "retrieved_ids": ["a", None]}], "query 'q', position 1"
    ),
    "nan in a list of ids": run(
        [{"query_id": "q", "retrieved_ids": ["a", float("nan")]}], "query 'q', position 1"
    ),
    "pairs with the id last": run({"q": [(0.9, "a"), (0.5, "b")]}, "query 'q', position 0"),
    "positions beside labels": run([[{"index": 1, "score": 0.9}]], references=[[0, 1]]),
    "the index of a reranker": run(
        {"q": [{"corpus_id": 1, "score": 0.9}, {"corpus_id": 0, "score": 0.5}]}, "query 'q'"
    ),
    "lists of ids of all queries": run(
        {"ids": [["a", "b"]], "distances": [[0.1, 0.2]], "documents": None}
    ),
    "lists of relevant ids of all queries": qrels({"ids": [["a"], ["b"]]}),
    "rows without names": run(
        {
            "q": {
                "columns": ["id", "text", "score"],
                "data_array": [["a", "..", 0.9], ["b", "..", 0.5]],
            }
        }
    ),
    "hits without a relevance": qrels({"q": [{"id": "a", "stars": 2}]}),
    "hits without a relevance whose ids are of one side": qrels(
        {"q": [{"id": "7", "text": "a", "stars": 2}]},
        predictions={"q": [{"id": "3", "text": "a", "score": 0.9}]},
    ),
    "hits without a score, one document twice": run(
        {"q": [{"id": "a", "near": 0.9}, {"id": "a", "near": 0.8}]}
    ),
    "several lists of documents of each query": run(
        [
            {
                "user": "ann",
                "question": question,
                "steps": [{"hits": [{"id": "a", "score": 0.9}]}, {"hits": []}],
            }
            for question in "qp"
        ],
        references=[{"question": "q", "relevant_ids": ["a"]}],
    ),
    "hits with two ids": run({"q": [{"doc_id": "a", "chunk_id": "b", "score": 0.9}]}),
    "hits with two scores": run({"q": [{"id": "a", "similarity": 0.5, "relevance_score": 0.9}]}),
    "hits with a rank and a score, lowest first": run(
        {"q": [{"id": "a", "rank": 1, "score": 0.9}, {"id": "b", "rank": 2, "score": 0.5}]},
        score_order="ascending",
    ),
    "a response around queries": run(
        {"results": [{"case": "q", "hits": [{"id": "a", "score": 0.9}]}]}
    ),
    "a request around queries that seem hits": qrels(
        {"requests": [{"id": "q", "ratings": [{"_id": "a", "rating": 2}]}], "metric": {"dcg": {}}}
    ),
    "hits in lists within lists": run(
        [{"query_id": "q", "runs": [{"steps": [{"hits": [{"id": "a", "score": 0.9}]}]}]}]
    ),
    "hits in lists within lists, with a score for each list": run(
        [{"query_id": "q", "steps": [{"score": 0.9, "hits": [{"id": "a", "n": 1}]}]}],
        fields={"document": "steps.hits.id", "score": "steps.score"},
    ),
    "a name of a field in a list of hits": run(
        {"q": [{"doc": {"parts": [{"key": "a", "sim": 0.9}]}}]},
        fields={"document": "doc.parts.key"},
    ),
    "a list of lists of ids": run(
        {"q": {"ids": [["7", "3"]], "distances": [[0.1, 0.2]]}}, "query 'q', position 0"
    ),
    "a query beside a user": run([{"user_id": "u", "query": "q", "doc_id": "a", "score": 0.9}]),
    "a request beside a user": run(
        [{"request": {"id": 1}, "user_id": 2, "hits": [{"doc_id": "a", "score": 0.9}]}]
    ),
    "a score of a model beside grades": qrels(
        [{"query_id": "q", "doc_id": "a", "score": 0.9, "stars": 2}]
    ),
    "a list beside a list of ids": run(
        [{"query_id": "q", "retrieved_ids": ["a", "b"], "sureness": [0.9, 0.1]}]
    ),
    "a mapping beside a list of ids": qrels(
        [{"query_id": "q", "relevant_ids": ["a", "b"], "verdicts": {"a": 0, "b": 1}}]
    ),
    "two lists of ids": run(
        [{"query_id": "q", "retrieved_ids": ["a"], "retrieved_doc_ids": ["b"]}]
    ),
    "a list of ids under an unknown name": qrels([{"query_id": "q", "expected_passages": ["b"]}]),
    "a hit without the id that others have": run(
        {"q": [{"id": "a", "score": 0.9}, {"score": 0.7}]}, "query 'q', position 1"
    ),
    "something else among hits": run(
        {"q": [{"id": "a", "score": 0.9}, "b"]}, "query 'q', position 1"
    ),
    "something else among objects": run([{"query_id": "q", "ids": ["a"]}, "b"], "position 1"),
    "something else after many objects": run(
        [{"ids": ["a"]}] * 600 + ["b"],
        "query 600",
        references=[{"a"}] * 601,
        fields={"query": None},
    ),
    "a relevance in a list": qrels(
        {"q": [{"id": "a", "relevance": [1, 0]}]}, "query 'q', document 'a'"
    ),
    "mappings with the same keys": run([{"a": 1.0, "b": 0.5}, {"a": 0.2, "b": 0.7}]),
    "a query twice": run(
        [{"query_id": "q", "hits": [{"id": "a"}]}, {"query_id": "q", "hits": [{"id": "b"}]}]
    ),
    "a tuple that is a row of a table": run([("q", "a", 0.9), ("q", "b", 0.5)]),
    "a tuple with a UUID": run([(1, UUID(int=7), 0.9), (1, UUID(int=8), 0.5)]),
    "tuples of integers and a score": run([(1, 7, 0.9), (1, 8, 0.5)], references={1: {7: 1}}),
    "tuples of integers and a relevance": qrels([(1, 7, 1), (1, 8, 0)], predictions={1: {7: 0.5}}),
    "a score that only late hits have": run(
        {"q": [*({"id": f"d{at}"} for at in range(300)), {"id": "d", "score": 1}]},
        "query 'q'",
        "position 300",
    ),
    "a relevance that only late rows have": qrels(
        [
            *({"qid": "q", "docid": f"d{at}"} for at in range(300)),
            {"qid": "q", "docid": "d", "rel": 1},
        ],
        "position 300",
    ),
    "a table in two parts": run({"columns": ["query_id", "doc_id"], "data": [["q", "a"]]}),
    "a table by its index": run({"query_id": {0: "q"}, "doc_id": {0: "a"}, "score": {0: 0.5}}),
    "something else among objects by query": run(
        {"q": {"hits": [{"id": "a"}]}, "p": ["a"]}, "query 'p'"
    ),
    "JSON as text": run('{"q": {"a": 1.0}}'),
}

OF_TABLES: dict[str, Row] = {
    "names of its own": run(OWN_NAMES),
    "names of its own on both sides": refused(
        compute,
        "predictions",
        predictions=OWN_NAMES,
        references=pa.table({"member": ["ann"], "film": ["x"], "n": [1]}),
    ),
    "no query": run(pa.table({"doc_id": ["a"], "score": [0.5]})),
    "no score": run(pa.table({"query_id": ["q"], "doc_id": ["a"], "title": ["A"]})),
    "no relevance and a document twice, beside a file without a document": refused(
        compute,
        "predictions",
        "run.csv",
        predictions=Made(lambda: File("run.csv", "query_id,found\nq,a b\n")),
        references=pa.table({"query_id": ["q", "q"], "doc_id": ["a", "a"], "price": [0.5, 0.25]}),
    ),
    "no score beside a score as a relevance": run(
        pa.table({"user": ["q"], "item": ["a"], "timestamp": [1600000000]}),
        references=pa.table({"user": ["q"], "item": ["a"], "score": [0.5]}),
    ),
    "NA as the name of a column": run({"query_id": ["q"], pd.NA: ["a"], "score": [0.5]}),
    "an id as a column": run({"query_id": ["q"], "doc_id": np.str_("a"), "score": [0.5]}),
    "a column twice": run(
        pa.table([["q"], ["a"], ["b"], [0.5]], ["query_id", "doc_id", "doc_id", "score"])
    ),
    "ids of floats": run(pa.table({"query_id": [1.5], "doc_id": ["a"], "score": [0.5]})),
    "text as a score": run(
        pa.table({"query_id": ["q"], "doc_id": ["a"], "score": ["high"]}),
        "the column 'score'",
        "row 0",
    ),
    "text on both sides": refused(
        compute,
        "predictions",
        "the column 'score'",
        "row 0",
        predictions=pa.table({"query_id": ["q"], "doc_id": ["a"], "score": ["high"]}),
        references=pa.table({"query_id": ["q"], "doc_id": ["a"], "label": ["good"]}),
    ),
    "text as a relevance beside others": qrels(
        pa.table({"qid": ["q"], "docid": ["a"], "reference": ["A text."], "verdicts": [1]}),
        "the column 'reference'",
        "row 0",
    ),
    "text as a relevance of records beside others": qrels(
        [{"qid": "q", "docid": "a", "reference": "A text.", "verdicts": 1}],
        "the column 'reference'",
        "row 0",
    ),
    "flags as text": qrels(
        pa.table({"query_id": ["q"] * 2, "doc_id": ["a", "b"], "relevant": ["TRUE", "FALSE"]}),
        "the column 'relevant'",
        "row 0",
    ),
    "several ids in a cell": run([{"query_id": "q", "prediction": "0701 0702"}]),
    "several ids in a cell, with commas": run([{"query_id": "q", "bought": "a1, b2"}]),
    "a row without cells": run(
        pa.table({"query_id": ["q", None], "doc_id": ["a", None], "score": [0.5, None]}),
        "the column 'query_id'",
    ),
    "no id in a row": run(
        pa.table({"query_id": ["q", "q"], "doc_id": ["a", None], "score": [0.5, 0.2]}),
        "the column 'doc_id'",
    ),
    "totals of documents": run(
        pa.table({"qid": ["q", "q", "q"], "docno": ["a", "Total", "Total"], "score": [1, 1, 2]}),
        "row 2",
    ),
    "a document twice": run(
        pa.table({"query_id": ["q", "q"], "doc_id": ["a", "a"], "score": [0.5, 0.2]}), "row 1"
    ),
    "a negative relevance": qrels(
        pa.table({"query_id": ["q"], "doc_id": ["a"], "relevance": [-2]}),
        "row 0",
        "query 'q', document 'a'",
    ).when_scored(),
    "a negative relevance beside a run with two ids": run(
        pa.table({"qid": ["q"], "docid": [7], "docno": ["a"], "score": [0.5]}),
        references=pa.table({"qid": ["q"], "docno": ["a"], "relevance": [-2]}),
    ).when_scored(),
    "a run without a score and other queries": run(
        pa.table({"qid": ["1"], "docno": ["a"], "bm25": [0.5]}),
        references=pa.table({"qid": [1], "docno": ["a"], "relevance": [2]}),
    ),
    "the query in the index": run(
        pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": [0.5]}).set_index("qid")
    ),
    "queries and documents in the index": run(
        pd.DataFrame({"qid": ["q"], "docno": ["a"], "score": [0.5]}).set_index(["qid", "docno"])[
            "score"
        ]
    ),
    "a header read as one name": run(pd.DataFrame({"query;document;score": ["q;a;0.5"]})),
    "documents as columns": run(pd.DataFrame([[0.5, 0.1, 0.2]], index=["q"], columns=[*"abc"])),
    "no score at all": run(
        pa.table({"query_id": ["q"], "doc_id": ["a"], "score": pa.array([None], pa.float64())})
    ),
    "a rank as a score": run(
        pa.table({"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [1, 2]})
    ),
    "a distance as a score": run(
        pa.table({"query_id": ["q"], "doc_id": ["a"], "l2_distance": [0.5]}),
        fields={"score": "l2_distance"},
    ),
    "distances as scores": run(
        pa.table({"query_id": ["q"], "doc_id": ["a"], "distances": [0.5]}),
        fields={"score": "distances"},
    ),
    "a list of ranks as scores": run(
        [{"query_id": "q", "retrieved_ids": ["a", "b"], "ranks": [2, 1]}], fields={"score": "ranks"}
    ),
    "counted ranks as a score": run(
        pa.table({"query_id": ["q", "q"], "doc_id": ["a", "b"], "final_rank": [1, 2]}),
        fields={"score": "final_rank"},
    ),
    "beside lists": refused(
        compute, "references", predictions=TABLE, references=[[0.5, 0.25], [1.0]]
    ),
    "beside itself": refused(compute, "predictions", predictions=TABLE, references=TABLE),
    "a row with neither a score nor a relevance": refused(
        compute,
        "predictions",
        predictions=(
            both := pa.table(
                {"qid": ["q", "q"], "docid": ["a", "b"], "score": [0.5, None], "label": [1, None]}
            )
        ),
        references=both,
    ),
}

OF_NAMES: dict[str, Row] = {
    "an unknown role": fields({"gain": "x"}),
    "a role that is nearly known": fields({"documents": "x"}),
    "no text": fields({"query": 3}),
    "a pair for the score": fields({"score": ("a", "b")}),
    "no document": fields({"document": None}),
    "no mapping": fields(["score"]),
    "a name that is nearly there": run(
        {"q": [{"id": "a", "score": 0.9}]}, fields={"score": "scroe"}
    ),
    "a name that is not there": fields(
        {"document": "paper"}, references={"q": [{"id": "a", "grade": 1}]}
    ),
    "a path that is not there": run(
        LOG, fields={"query": "case", "document": "output.chunks.id", "score": None}
    ),
    "one name for two roles": run(
        OWN_NAMES, fields={"query": "film", "document": "film", "score": "stars"}
    ),
    "of a table without queries": run(TABLE, fields={"query": None}),
    "beside mappings": fields({"query": "case"}),
    "of the score beside mappings": fields({"score": "logit"}),
    "of the relevance beside mappings": fields({"relevance": "stars"}),
    "that the references lack": refused(
        compute,
        "references",
        predictions=[{"query_id": "q", "paper": "a", "score": 3}],
        references=[{"query_id": "q", "passage": "a", "grade": 1}],
        fields={"document": "paper"},
    ),
    "no score of numbers by position": refused(
        compute,
        "predictions",
        predictions=[[0.1, 0.9]],
        references=[[1, 0]],
        fields={"score": None},
    ),
    "no relevance of flat columns": refused(
        compute,
        "references",
        predictions=[0.1, 0.9],
        references=[1, 0],
        query_ids=["q", "q"],
        fields={"relevance": None},
    ),
    "beside a UUID": fields({"document": "paper"}, references=UUID(int=3)),
    "query_ids beside mappings": refused(compute, "query_ids", **BY_ID, query_ids="case"),
    "query_ids that are not there": refused(
        compute, "query_ids", **BY_ID | {"predictions": TABLE}, query_ids="usre"
    ),
}

OF_FRAMES: dict[str, Row] = {
    "no frame": data("data", frame=7),
    "no column of a name": data("references", references="lable"),
    "a level of an index": data(
        "query_ids", frame=pd.DataFrame({"user": [1], "score": [1], "label": [1]}).set_index("user")
    ),
    "no name at all": refused(compute, "data", data=FRAME, predictions=[1, 2], references=[1, 0]),
    "fields beside it": refused(
        compute, "fields", data=FRAME, **BY_USER, fields={"score": "score"}
    ),
    "a record without a column": data(
        "data", frame=[{"user": "a", "score": 1, "label": 1}, {"user": "a"}]
    ),
    "another table as the references": data(
        "predictions",
        references=pd.DataFrame({"user": ["a", "a"], "item": ["x", "y"], "rel": [1, 0]}),
    ),
    "a label as a score": data("predictions", predictions="label", references="score"),
    "a rank as a score": data(
        "predictions",
        frame=pa.table({"user": ["a"], "rank": [1], "label": [1]}),
        predictions="rank",
    ),
    "two systems in a column named item": data(
        "data",
        frame=pa.table({"user": ["a"] * 2, "item": ["x"] * 2, "score": [0.5, 9], "label": [1, 1]}),
    ),
    "a row of totals": warned(compute, "data", data=[*FRAME.to_pylist(), TOTAL], **BY_USER),
    "a row of totals with empty text": warned(
        compute, "data", data=[*FRAME.to_pylist(), {**TOTAL, "item": ""}], **BY_USER
    ),
    "two systems beside an array of queries": data(
        "data",
        frame=pa.table({"item": ["x"] * 2, "score": [0.5, 9], "label": [1, 1]}),
        query_ids=["a"] * 2,
    ),
    "counted positions as a score": data(
        "predictions",
        frame=pa.table({"user": ["a", "a"], "slot": [1, 2], "label": [1, 0]}),
        predictions="slot",
    ),
    "an unknown column of a system": refused(
        compare,
        "systems['bm25']",
        data=FRAME,
        systems={"bm25": "bm25", "dense": "score"},
        references="label",
        query_ids="user",
    ),
    "scores with a comma for decimals": data(
        "predictions",
        "query 'a', row 0",
        frame=FRAME.set_column(2, "score", pa.array(["0,5", "1"])),
    ),
    "a text score": data(
        "predictions",
        "query 'a', row 0",
        frame=pa.table({"user": ["a"], "score": ["high"], "label": [1]}),
    ),
    "no rows": data("predictions and references", frame=FRAME[:0]).when_scored(),
    "two values of a weight": data(
        "sample_weight",
        frame=FRAME.append_column("weight", pa.array([1.0, 2.0])),
        sample_weight="weight",
    ),
    "a row with neither a score nor a relevance": data(
        "data", frame=pa.table({"user": ["a", "a"], "score": [0.5, None], "label": [1, None]})
    ),
    "a query and a document several times": data(
        "document_ids",
        "query 'a', row 1",
        frame=pa.table(
            {"user": ["a"] * 2, "item": ["x"] * 2, "score": [0.5, 0.2], "label": [1, 1]}
        ),
        document_ids="item",
    ),
    "a generator": refused(
        compute,
        "predictions",
        "query 0",
        predictions=Made(lambda: (row for row in [7, 8])),
        references=[[1, 0]],
    ),
}

OTHER_METHODS: dict[str, Row] = {
    f"a log in {method.__name__}": refused(
        method, "predictions", predictions=LOG, references=QRELS, **more
    )
    for method, more in ((report, {}), (explain, {"got": 0.5}), (documents, {}), (preview, {}))
}
OTHER_METHODS["a log in compare"] = refused(
    compare, "systems['a']", systems={"a": LOG, "b": RUN}, references=QRELS
)

FLAT_LOG = [
    {
        "case": "q",
        "documents.0.document.id": "a",
        "documents.0.document.score": 0.9,
        "documents.1.document.id": "b",
        "documents.1.document.score": 0.5,
    }
]
FLAT_NAMES = {
    "query": "case",
    "document": "documents.0.document.id",
    "score": "documents.0.document.score",
}
BY_GRADE = {"2": ["a", "b"], "1": ["c"]}
OF_FLATTENED: dict[str, Row] = {
    "records": run(FLAT_LOG),
    "a document of records": run(FLAT_LOG, fields=FLAT_NAMES),
    "a document of a table": run(pa.Table.from_pylist(FLAT_LOG), fields=FLAT_NAMES),
    "objects in a later row of a table": run(
        pd.DataFrame({"case": ["p", "q"], "docs": [None, [{"key": "a", "sim": 0.5}]]})
    ),
    "a document of spans": run(
        [{"attributes": FLAT_LOG[0]}],
        fields={"query": "case", "document": "attributes.documents.1.document.id", "score": None},
    ),
    "a document of spans in a list": run(
        [{"spans": [FLAT_LOG[0]]}],
        fields={"query": "case", "document": "spans.documents.1.document.id", "score": None},
    ),
    "lists of ids by grade": qrels({"q": BY_GRADE}),
    "lists of ids by grade beside the query": qrels([{"query": "q", "rated": BY_GRADE}]),
}

ROWS: dict[str, Row] = {
    f"{group}: {name}": row
    for group, rows in {
        "objects": OF_OBJECTS,
        "tables": OF_TABLES,
        "fields": OF_NAMES,
        "data": OF_FRAMES,
        "flattened": OF_FLATTENED,
        "methods": OTHER_METHODS,
    }.items()
    for name, row in rows.items()
}
