"""Situations in which a number could be wrong without a word: it is right, or an error asks.

A row of the table is what somebody holds, and the first call. Where that is an error, the row says
what the error must offer, and the second call, with what a reader of the error adds, is right.
"""

import contextlib
import io
import json
import math
import re
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ndcg
from ndcg.shell.command_line import main

SECOND = 1 / math.log2(3)  # nDCG of one relevant document at rank 2
NAN = float("nan")
QUERIES = ("q", "r")
RELEVANT = {query: {"b": 1} for query in QUERIES}
RUN = {query: {"a": 0.9, "b": 0.4} for query in QUERIES}
Inputs = dict[str, Any]


class Situation(NamedTuple):
    """What somebody holds, what the first call must give, and the second."""

    name: str
    inputs: Callable[[], Inputs]
    right: float
    offered: tuple[str, ...] = ()  # what the error of the first call names; empty: it is right
    then: Mapping[str, Any] = {}  # what the second call adds
    warning: str = ""  # what is warned of, with a number that may be wrong
    is_json: bool = False  # whether the sides are also read from files of JSON


def each(make: Callable[[str], Any]) -> list[Any]:
    """Return an object for each query."""
    return [make(query) for query in QUERIES]


def one_log(make: Callable[[str], Any]) -> Callable[[], Inputs]:
    """Return a log that is both sides."""

    def inputs() -> Inputs:
        log = each(make)
        return {"predictions": log, "references": log}

    return inputs


def run_of(make: Callable[[str], Any], references: Any = RELEVANT) -> Callable[[], Inputs]:
    """Return a run with an object for each query, beside judgments."""
    return lambda: {"predictions": each(make), "references": references}


def by_query(make: Callable[[], Any], references: Any = RELEVANT) -> Callable[[], Inputs]:
    """Return a run that maps each query to something, beside judgments."""
    return lambda: {"predictions": {query: make() for query in QUERIES}, "references": references}


def table(columns: dict[str, list[Any]], query: str = "query_id") -> pd.DataFrame:
    """Return a table with the same rows for each query."""
    rows = len(next(iter(columns.values())))
    queries = [name for name in QUERIES for _ in range(rows)]
    doubled = {name: column * len(QUERIES) for name, column in columns.items()}
    return pd.DataFrame({query: queries, **doubled})


def run_table(columns: dict[str, list[Any]], query: str = "query_id") -> Callable[[], Inputs]:
    """Return a table as the run, beside judgments."""
    return lambda: {"predictions": table(columns, query), "references": RELEVANT}


Row = namedtuple("Row", "movieId rating")


@dataclass
class Case:
    """A case of a test, as tools of evaluation hold it."""

    input: str
    retrieved: list[str]
    expected: list[str]


class Result:
    """A hit of a client."""

    def __init__(self, index: int, score: float, document: str | None = None) -> None:
        self.index, self.relevance_score, self.document = index, score, document


def chunks(document: str, score: str = "sim") -> list[dict[str, Any]]:
    """Return two hits, best first, with these names of their fields."""
    return [{document: "a", score: 0.9}, {document: "b", score: 0.4}]


def spark_rows() -> Inputs:
    recommended = [[Row("a", 0.9), Row("b", 0.4)] for _ in QUERIES]
    frame = pd.DataFrame({"userId": list(QUERIES), "recommendations": recommended})
    return {"predictions": frame, "references": RELEVANT}


def maps(name: str, items: list[tuple[str, float]]) -> pa.Table:
    """Return a table with a column of mappings of ids to values."""
    column = pa.array([items for _ in QUERIES], pa.map_(pa.string(), pa.float64()))
    return pa.table({"query_id": list(QUERIES), name: column})


def elastic(query: str) -> dict[str, Any]:
    hits = [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.0}]
    return {"took": 3, "hits": {"total": {"value": 2}, "hits": hits}}


def trace(query: str) -> dict[str, Any]:
    """Return a trace of steps, of which the second and the last retrieve chunks."""
    found = {"kind": "RETRIEVER", "output": {"chunks": [{"ref": "a", "sim": 0.9}]}}
    again = {"kind": "RETRIEVER", "output": {"chunks": [{"ref": "b", "sim": 0.4}]}}
    spans = [{"kind": "LLM", "output": {"text": "..."}}, found, {"kind": "LLM"}, again]
    return {"query_id": query, "spans": spans, "gold": ["b"]}


def rows_of_own_names() -> list[dict[str, Any]]:
    """Return a row for each document."""
    return [
        {"qq": query, "dd": document, "ss": score}
        for query in QUERIES
        for document, score in (("a", "0.9"), ("b", "0.4"))
    ]


def responses() -> Inputs:
    """Return one object around the responses to all queries."""
    return {"predictions": {"took": 9, "responses": each(elastic)}, "references": [["b"]] * 2}


GOLD = [{"doc_id": "b", "score": 0.5, "relevance": 2}]
SITUATIONS = [
    # Standard names of the other side
    Situation(
        "the run has names of its own, the references beside it standard ones",
        one_log(lambda query: {"query_id": query, "hits": chunks("chunk"), "gold": GOLD}),
        SECOND,
        ("'hits.chunk'", "'hits.sim'", "'gold.doc_id'", "'gold.relevance'"),
        {"fields": {"document": ("hits.chunk", "gold.doc_id"), "score": "hits.sim"}},
        is_json=True,
    ),
    Situation(
        "a ranking of pairs beside judgments of standard names",
        one_log(lambda query: {"query_id": query, "ranking": [["a", 2], ["b", 1]], "gold": GOLD}),
        SECOND,
        ("'ranking'", "'gold.doc_id'"),
        {"fields": {"document": ("ranking", "gold.doc_id")}},
        is_json=True,
    ),
    Situation(
        "the score of the references is a relevance, in a log of names of its own",
        one_log(
            lambda query: {
                "query_id": query,
                "hits": chunks("chunk"),
                "gold": [{"doc_id": "b", "score": 2}],
            }
        ),
        SECOND,
        ("'hits.chunk'", "'gold.doc_id'"),
        {
            "fields": {
                "document": ("hits.chunk", "gold.doc_id"),
                "score": "hits.sim",
                "relevance": "gold.score",
            }
        },
        is_json=True,
    ),
    Situation(
        "the score in one list, the only id of a standard name in another",
        one_log(
            lambda query: {
                "query_id": query,
                "hits": chunks("chunk", score="score"),
                "gold": [{"doc_id": "b", "grade": 2}],
            }
        ),
        SECOND,
        ("'hits.chunk'", "'gold.doc_id'"),
        {"fields": {"document": ("hits.chunk", "gold.doc_id")}},
        is_json=True,
    ),
    Situation(
        "a score is named, and the id of its list is not",
        lambda: {
            **one_log(
                lambda query: {
                    "query_id": query,
                    "hits": chunks("chunk"),
                    "gold": [{"doc_id": "b", "grade": 2}],
                }
            )(),
            "fields": {"score": "hits.sim"},
        },
        SECOND,
        ("'hits.chunk'",),
        {"fields": {"document": ("hits.chunk", "gold.doc_id"), "score": "hits.sim"}},
        is_json=True,
    ),
    Situation(
        "facets beside hits of standard names",
        run_of(
            lambda query: {
                "query_id": query,
                "hits": chunks("doc_id", score="score"),
                "facets": [{"value": "red", "count": 5}],
            }
        ),
        SECOND,
        is_json=True,
    ),
    Situation(
        "judged hits alone",
        one_log(
            lambda query: {
                "query_id": query,
                "hits": [
                    {"doc_id": "a", "score": 0.9, "relevance": 0},
                    {"doc_id": "b", "score": 0.4, "relevance": 1},
                ],
            }
        ),
        SECOND,
        is_json=True,
    ),
    Situation(
        "what was retrieved and what is relevant, in lists of standard names",
        one_log(
            lambda query: {"query_id": query, "retrieved_ids": ["a", "b"], "relevant_ids": ["b"]}
        ),
        SECOND,
        is_json=True,
    ),
    Situation(
        "a list of the other side is null",
        one_log(
            lambda query: {
                "query_id": query,
                "retrieved_ids": ["a", "b"],
                "relevant_ids": ["b"] if query == "q" else None,
            }
        ),
        SECOND / 2,
        is_json=True,
    ),
    Situation(
        "ids of chunks beside ids of documents",
        run_of(
            lambda query: {
                "query_id": query,
                "hits": [
                    {"chunk_id": f"{document}-0", "doc_id": document, "score": score}
                    for document, score in (("a", 0.9), ("b", 0.4))
                ],
            }
        ),
        SECOND,
        ("'hits.chunk_id'", "'hits.doc_id'"),
        {"fields": {"document": "hits.doc_id"}},
        is_json=True,
    ),
    Situation(
        "a trace of names of its own",
        one_log(
            lambda query: {
                "case_id": query,
                "output": {"chunks": chunks("chunk")},
                "gold": [{"chunk": "b", "stars": 2}],
            }
        ),
        SECOND,
        ("'case_id'", "'output.chunks.chunk'", "'gold.stars'"),
        {
            "fields": {
                "query": "case_id",
                "document": ("output.chunks.chunk", "gold.chunk"),
                "score": "output.chunks.sim",
                "relevance": "gold.stars",
            }
        },
        is_json=True,
    ),
    Situation(
        "a grade that the first judgment lacks",
        lambda: {
            "predictions": RUN,
            "references": each(
                lambda query: {
                    "query_id": query,
                    "judged": [{"doc_id": "a"}, {"doc_id": "b", "grade": 2}],
                }
            ),
        },
        SECOND,
        is_json=True,
    ),
    Situation(
        "chunks of several steps of a trace",
        one_log(trace),
        SECOND,
        ("'spans.output.chunks.ref'", "'spans.output.chunks.sim'", "'gold'"),
        {
            "fields": {
                "document": ("spans.output.chunks.ref", "gold"),
                "score": "spans.output.chunks.sim",
                "relevance": None,
            }
        },
        is_json=True,
    ),
    Situation(
        "steps of a trace by query, of which not all retrieve chunks of standard names",
        by_query(lambda: {"spans": [{"kind": "LLM"}, {"chunks": chunks("doc_id", "score")}]}),
        SECOND,
        is_json=True,
    ),
    Situation(
        "objects that are retrieved, and ids that are expected",
        one_log(
            lambda query: {
                "input": query,
                "output": [{"id": "a"}, {"id": "b"}],
                "expected": ["b"],
            }
        ),
        SECOND,
        ("'output.id'", "'expected'"),
        {
            "fields": {
                "query": "input",
                "document": ("output.id", "expected"),
                "score": None,
                "relevance": None,
            }
        },
        is_json=True,
    ),
    Situation(
        "cases of a dataclass",
        one_log(lambda query: Case(query, ["a", "b"], ["b"])),
        SECOND,
        ("'input'", "'retrieved'", "'expected'"),
        {
            "fields": {
                "query": "input",
                "document": ("retrieved", "expected"),
                "score": None,
                "relevance": None,
            }
        },
    ),
    Situation(
        "two lists of hits, before and after a reranker",
        run_of(
            lambda query: {
                "query_id": query,
                "first": [{"id": "b", "score": 8}, {"id": "a", "score": 7}],
                "reranked": chunks("id", score="score"),
            }
        ),
        SECOND,
        ("'first.id'", "'reranked.id'"),
        {"fields": {"document": "reranked.id", "score": "reranked.score"}},
        is_json=True,
    ),
    Situation(
        "two scores of a hit",
        by_query(
            lambda: [
                {"id": "a", "score": 0.9, "similarity": 0.1},
                {"id": "b", "score": 0.5, "similarity": 0.2},
            ]
        ),
        SECOND,
        ("'score'", "'similarity'"),
        {"fields": {"score": "score"}},
        is_json=True,
    ),
    Situation(
        "the score of a retriever beside that of a reranker",
        run_table({"doc_id": ["a", "b"], "score": [0.1, 0.2], "rerank_score": [0.9, 0.4]}),
        SECOND,
        ("'score'", "'rerank_score'"),
        {"fields": {"score": "rerank_score"}},
    ),
    Situation(
        "a score beside another of its own name",
        run_table({"doc_id": ["a", "b"], "score": [0.1, 0.2], "cross-score": [0.9, 0.4]}),
        SECOND,
        ("'score'", "'cross-score'"),
        {"fields": {"score": "cross-score"}},
    ),
    Situation(
        "a hit without a score among others",
        by_query(lambda: [{"id": "a", "score": 0.9}, {"id": "b", "score": None}]),
        SECOND,
        ("'b'", "score"),
        {"fields": {"score": None}},
        is_json=True,
    ),
    Situation(
        "a query beside a user",
        run_table({"doc_id": ["a", "b"], "score": [0.9, 0.4], "query": ["x", "x"]}, "user_id"),
        SECOND,
        ("'user_id'", "'query'"),
        {"fields": {"query": "user_id"}},
    ),
    # Forms that hold the ids
    Situation(
        "a Series of whole numbers by ids in each query",
        lambda: {
            "predictions": {query: pd.Series({"a": 7, "b": 5}) for query in QUERIES},
            "references": {query: pd.Series({"a": 0, "b": 5}) for query in QUERIES},
        },
        SECOND,
    ),
    Situation(
        "a Series of scores by ids in each query",
        by_query(lambda: pd.Series({"a": 0.9, "b": 0.4})),
        SECOND,
    ),
    Situation(
        "a Series of ids, a part of a table",
        by_query(lambda: pd.Series(["a", "b"], index=[5, 3])),
        SECOND,
    ),
    Situation(
        "a Series of integers by integers",
        lambda: {
            "predictions": {query: pd.Series({5: 9, 7: 4}) for query in QUERIES},
            "references": {query: {7: 1} for query in QUERIES},
        },
        SECOND,
        (".tolist()", ".to_dict()"),
        {"predictions": {query: {5: 9, 7: 4} for query in QUERIES}},
    ),
    Situation(
        "rows of Spark in a frame of pandas",
        spark_rows,
        SECOND,
        ("'recommendations.movieId'", "'recommendations.rating'"),
        {"fields": {"score": "recommendations.rating"}},
    ),
    Situation(
        "a column of maps, named as the documents and as their values",
        lambda: {
            "predictions": maps("scores", [("a", 0.9), ("b", 0.4)]),
            "references": maps("judgments", [("b", 2)]),
        },
        SECOND,
        ("'scores'", "'judgments'"),
        {
            "fields": {
                "document": ("scores", "judgments"),
                "score": "scores",
                "relevance": "judgments",
            }
        },
    ),
    Situation(
        "judgments by id beside a list of ids",
        one_log(lambda query: {"query_id": query, "output": ["a", "b"], "expected": {"b": 2}}),
        SECOND,
        ("'output'", "'expected' ({'b': 2})"),
        {
            "fields": {
                "document": ("output", "expected"),
                "score": None,
                "relevance": "expected",
            }
        },
        is_json=True,
    ),
    Situation(
        "judgments by id under the name of the documents",
        one_log(
            lambda query: {
                "query_id": query,
                "retrieved_ids": ["a", "b"],
                "documents": ["a", "b"],
                "judgments": {"b": 2, "a": 0},
            }
        ),
        SECOND,
        ("'documents'", "'judgments'"),
        {"fields": {"document": ("retrieved_ids", "judgments"), "score": None}},
        is_json=True,
    ),
    Situation(
        "paths of seven names",
        run_of(
            lambda query: {
                "query_id": query,
                "a": {
                    "b": {
                        "c": {
                            "d": {
                                "hits": [
                                    {"sku": "a", "rank": {"final": 2.0}},
                                    {"sku": "b", "rank": {"final": 1.0}},
                                ]
                            }
                        }
                    }
                },
            }
        ),
        SECOND,
        ("'a.b.c.d.hits.sku'", "'a.b.c.d.hits.rank.final'"),
        {"fields": {"document": "a.b.c.d.hits.sku", "score": "a.b.c.d.hits.rank.final"}},
        is_json=True,
    ),
    Situation(
        "keys with dots",
        run_of(
            lambda query: {
                "id": query,
                "span": {"documents": [{"document.id": "a"}, {"document.id": "b"}]},
            }
        ),
        SECOND,
        ("'span.documents.document.id'",),
        {"fields": {"document": "span.documents.document.id", "score": None}},
        is_json=True,
    ),
    Situation(
        "a wrapper of queries with their hits",
        lambda: {
            "predictions": {
                "results": each(
                    lambda query: {"search": query, "hits": chunks("id", score="score")}
                )
            },
            "references": RELEVANT,
        },
        SECOND,
        ("'results.search'", "'results.hits.id'"),
        {
            "fields": {
                "query": "results.search",
                "document": "results.hits.id",
                "score": "results.hits.score",
            }
        },
        is_json=True,
    ),
    Situation(
        "rows in a wrapper beside others",
        lambda: {
            "predictions": {"meta": {"took": 3}, "rows": rows_of_own_names()},
            "references": RELEVANT,
        },
        SECOND,
        ("'qq'", "'ss'"),
        {"fields": {"query": "rows.qq", "document": "rows.dd", "score": "rows.ss"}},
        is_json=True,
    ),
    Situation(
        "rows in a wrapper within another",
        lambda: {"predictions": {"data": {"rows": rows_of_own_names()}}, "references": RELEVANT},
        SECOND,
        ("'rows.ss'",),
        {"fields": {"query": "data.rows.qq", "document": "data.rows.dd", "score": "data.rows.ss"}},
        is_json=True,
    ),
    Situation(
        "bindings of SPARQL",
        lambda: {
            "predictions": {
                "head": {"vars": ["qq", "dd", "ss"]},
                "results": {
                    "bindings": [
                        {name: {"type": "literal", "value": cell} for name, cell in row.items()}
                        for row in rows_of_own_names()
                    ]
                },
            },
            "references": RELEVANT,
        },
        SECOND,
        ("'bindings.dd.value'",),
        {
            "fields": {
                "query": "bindings.qq.value",
                "document": "bindings.dd.value",
                "score": "bindings.ss.value",
            }
        },
        is_json=True,
    ),
    Situation(
        "cases in a wrapper beside a version",
        lambda: {
            "predictions": {query: ["a", "b"] for query in QUERIES},
            "references": {
                "version": 1,
                "cases": each(lambda query: {"id": query, "expected": ["b"]}),
            },
        },
        SECOND,
        ("'cases.id'", "'cases.expected'"),
        {"fields": {"query": "cases.id", "document": "cases.expected", "relevance": None}},
        is_json=True,
    ),
    Situation(
        "responses in the order of the queries",
        run_of(elastic, [["b"], ["b"]]),
        SECOND,
        ("'hits.hits._id'", "matches queries by their order"),
        {"fields": {"query": None}},
        is_json=True,
    ),
    Situation(
        "responses in the order of the queries, whose ids are given beside them",
        lambda: {**run_of(elastic, RELEVANT)(), "query_ids": list(QUERIES)},
        SECOND,
    ),
    Situation(
        "responses in the order of queries that have ids elsewhere",
        run_of(elastic, RELEVANT),
        SECOND,
        ("query_ids=[...] names queries",),
        {"query_ids": list(QUERIES)},
    ),
    Situation(
        "one object around responses in the order of the queries",
        responses,
        SECOND,
        ("'responses.hits.hits._id'", "matches queries by their order"),
        {"fields": {"query": None}},
        is_json=True,
    ),
    Situation(
        "one object around responses, the ids of whose queries are given beside it",
        lambda: {**responses(), "references": RELEVANT, "query_ids": list(QUERIES)},
        SECOND,
    ),
    Situation(
        "responses by query",
        by_query(lambda: elastic("")),
        SECOND,
        is_json=True,
    ),
    Situation(
        "the hits of a single query, without a list around them",
        lambda: {"predictions": chunks("doc_id", score="score"), "references": [["b"]]},
        SECOND,
        ("[hits]",),
        {"predictions": [chunks("doc_id", score="score")]},
    ),
    # Ranks, distances and scores
    Situation(
        "ranks in the reverse order of the scores",
        run_table({"doc_id": ["b", "a"], "rank": [1, 2], "score": [0.4, 0.9]}),
        SECOND,
        warning="ranks are in another order",
    ),
    Situation(
        "ranks that contradict two of three scores",
        run_table({"doc_id": ["a", "b", "c"], "rank": [1, 2, 3], "score": [0.9, 0.3, 0.4]}),
        SECOND / 2,
        warning="ranks are in another order",
    ),
    Situation(
        "ranks of a reranker beside hits in the order of their scores",
        by_query(
            lambda: [{"id": "a", "rank": 2, "score": 0.9}, {"id": "b", "rank": 1, "score": 0.4}]
        ),
        SECOND,
        warning="ranks are in another order",
    ),
    Situation(
        "ranks of two systems with other documents in one table",
        run_table({"doc_id": ["a", "c", "b"], "rank": [1, 1, 2], "score": [0.9, 0.3, 0.4]}),
        SECOND,
        warning="in every query, several documents have the first rank",
    ),
    Situation(
        "positions that contradict the order of the rows, which counts",
        lambda: {
            **run_table({"doc_id": ["a", "b"], "position": [2, 1]})(),
            "fields": {"score": None},
        },
        SECOND,
        warning="its rows are in another order than their ranks",
    ),
    Situation(
        "positions as the ids of documents that contradict the order of the rows",
        lambda: {
            "predictions": table({"position": [1, 0]}, "query_id"),
            "references": {query: {0: 1, 1: 0} for query in QUERIES},
            "fields": {"document": "position", "score": None},
        },
        SECOND,
        warning="its rows are in another order than their ranks",
    ),
    Situation(
        "ranks as the ids of documents, beside scores",
        lambda: {
            "predictions": table({"rank": [1, 0], "score": [0.9, 0.4]}, "query_id"),
            "references": {query: {0: 1, 1: 0} for query in QUERIES},
            "fields": {"document": "rank"},
        },
        SECOND,
    ),
    Situation(
        "ranks in the order of the scores",
        run_table({"doc_id": ["a", "b"], "rank": [1, 2], "score": [0.9, 0.4]}),
        SECOND,
    ),
    Situation(
        "equal scores beside ranks",
        run_table({"doc_id": ["a", "b"], "rank": [1, 2], "score": [0.5, 0.5]}),
        (1 + SECOND) / 2,
        warning="equal",
    ),
    Situation(
        "a rank in place of a score",
        run_table({"doc_id": ["a", "b"], "rank": [1, 2]}),
        SECOND,
        ("'rank'", "ascending"),
        {"fields": {"score": "rank"}, "score_order": "ascending"},
    ),
    Situation(
        "a distance in place of a score",
        by_query(lambda: [{"id": "a", "distance": 0.1}, {"id": "b", "distance": 0.5}]),
        SECOND,
        ("predictions", "'distance'", "ascending"),
        {"score_order": "ascending"},
        is_json=True,
    ),
    Situation(
        "no score at all beside a rank",
        run_table({"doc_id": ["a", "b"], "rank": [1, 2], "score": [NAN, NAN]}),
        SECOND,
        ("score",),
        {"fields": {"score": None}},
    ),
    Situation(
        "rows of a database whose third value has no name",
        lambda: {
            "predictions": [(query, *row) for query in QUERIES for row in (("a", 0.1), ("b", 0.4))],
            "references": RELEVANT,
        },
        SECOND,
        ("score, or rank or distance",),
        {
            "predictions": table({"doc_id": ["a", "b"], "distance": [0.1, 0.4]}),
            "score_order": "ascending",
        },
    ),
    Situation(
        "sides that are swapped",
        lambda: {
            "predictions": table({"doc_id": ["a", "b"], "relevance": [0, 3]}),
            "references": table({"doc_id": ["a", "b"], "score": [0.9, 0.4]}),
        },
        SECOND,
        ("swapped",),
        {
            "predictions": table({"doc_id": ["a", "b"], "score": [0.9, 0.4]}),
            "references": table({"doc_id": ["a", "b"], "relevance": [0, 3]}),
        },
    ),
    Situation(
        "two systems in one table",
        run_table(
            {"doc_id": ["b", "a", "a", "b"], "model": list("xxyy"), "score": [9, 8, 0.9, 0.1]}
        ),
        SECOND,
        ("several systems",),
        {"predictions": table({"doc_id": ["a", "b"], "score": [0.9, 0.1]})},
    ),
    # Ids
    Situation(
        "zeros that integers have lost",
        lambda: {
            "predictions": table({"doc_id": [10, 7], "score": [0.9, 0.4]}),
            "references": {query: {"007": 1} for query in QUERIES},
        },
        SECOND,
        ("'007'", "dtype=str"),
        {"predictions": table({"doc_id": ["010", "007"], "score": [0.9, 0.4]})},
    ),
    Situation(
        "an id that is null in a field of a standard name",
        lambda: {
            "predictions": [[Result(1, 0.9), Result(0, 0.2)]],
            "references": [{0}],
        },
        SECOND,
        ("'document'", "None", "fields="),
        {"fields": {"document": "index"}},
    ),
    Situation(
        "a null among ids",
        by_query(lambda: ["a", None, "b"]),
        SECOND,
        ("None", "leave it out"),
        {"predictions": {query: ["a", "b"] for query in QUERIES}},
        is_json=True,
    ),
    Situation(
        "an array of scores in each query",
        by_query(lambda: np.array([0.9, 0.4])),
        SECOND,
        ("{document: number}",),
        {"predictions": RUN},
    ),
    Situation(
        "columns and data of a table apart",
        lambda: {
            "predictions": {
                "columns": ["query_id", "doc_id", "score"],
                "data": [[query, *row] for query in QUERIES for row in (("a", 0.9), ("b", 0.4))],
            },
            "references": RELEVANT,
        },
        SECOND,
        ("'columns' and 'data'",),
        {"predictions": RUN},
        is_json=True,
    ),
    Situation(
        "lists written as text",
        lambda: {
            "predictions": pd.DataFrame({"query": list(QUERIES), "item": ["['a', 'b']"] * 2}),
            "references": RELEVANT,
        },
        SECOND,
        ("literal_eval",),
        {"predictions": pd.DataFrame({"query": list(QUERIES), "item": [["a", "b"]] * 2})},
    ),
    Situation(
        "several ids in a cell",
        lambda: {
            "predictions": pd.DataFrame({"query": list(QUERIES), "item": ["3,1", "3,1"]}),
            "references": pd.DataFrame({"query": list(QUERIES), "item": ["1", "1"]}),
        },
        SECOND,
        ("several ids",),
        {"predictions": {query: ["3", "1"] for query in QUERIES}},
    ),
    Situation(
        "a number and a text as the document of one table",
        run_table({"docid": [5, 7], "docno": ["a", "b"], "score": [9.0, 8.0]}),
        SECOND,
        ("'docid'", "'docno'"),
        {"fields": {"document": "docno"}},
    ),
    Situation(
        "a row of totals",
        lambda: {
            "predictions": pd.DataFrame(
                {
                    "query": ["q", "q", "r", "r", "Total"],
                    "doc_id": ["a", "b", "a", "b", "4"],
                    "score": [0.9, 0.5, 0.9, 0.5, NAN],
                }
            ),
            "references": RELEVANT,
        },
        SECOND,
    ),
    # Labels
    Situation(
        "an empty cell beside labels",
        lambda: {
            "predictions": {query: ["a", "b", "c"] for query in QUERIES},
            "references": table({"doc_id": ["a", "b", "c"], "rating": ["", "x", ""]}),
        },
        SECOND,
        ("gain={'x': ...}",),
        {"gain": {"x": 1}},
    ),
    Situation(
        "a word for what nobody judged, beside numbers",
        lambda: {
            "predictions": {query: ["a", "b", "c"] for query in QUERIES},
            "references": table({"doc_id": ["a", "b", "c"], "rating": ["0", "2", "n/a"]}),
        },
        SECOND,
        ("'n/a'", "give None where nobody judged"),
        {"references": table({"doc_id": ["a", "b", "c"], "rating": ["0", "2", None]})},
    ),
    Situation(
        "words of judges under a name of its own",
        lambda: {
            "predictions": RUN,
            "references": table({"doc_id": ["a", "b"], "judge": ["no", "yes"]}),
        },
        SECOND,
        ("'judge' ('no')", "with gain={'...': ...} for words"),
        {"fields": {"relevance": "judge"}, "gain": {"no": 0, "yes": 1}},
    ),
    Situation(
        "words of judges",
        lambda: {
            "predictions": RUN,
            "references": table({"doc_id": ["a", "b"], "label": ["no", "yes"]}),
        },
        SECOND,
        ("'no'", "'yes'", "gain="),
        {"gain": {"no": 0, "yes": 1}},
    ),
    Situation(
        "labels of candidates beside hits of integers",
        lambda: {
            "predictions": [[{"id": 1, "score": 0.9}, {"id": 0, "score": 0.2}]] * 2,
            "references": [[1, 0], [1, 0]],
        },
        1.0,
        ("set(row)", "dict(enumerate(row))"),
        {"references": [{1: 1}, {1: 1}]},
    ),
    Situation(
        "queries of one document each",
        lambda: {"predictions": [[0.9], [0.1], [0.4]], "references": [[0], [1], [0]]},
        1 / 3,
        warning="one document each",
    ),
    # One name for both sides
    Situation(
        "a name that only one side lacks",
        lambda: {
            "predictions": each(
                lambda query: {"search": query, "hits": chunks("doc_id", score="score")}
            ),
            "references": each(lambda query: {"question": query, "files": ["b"]}),
        },
        SECOND,
        ("'search'", "'files'"),
        {"fields": {"query": "search", "document": "files", "relevance": None}},
        is_json=True,
    ),
    Situation(
        "a table of names of its own",
        run_table({"passage": ["a", "b"], "points": [0.9, 0.4]}, "case"),
        SECOND,
        ("'case'", "'passage'", "'points'"),
        {"fields": {"query": "case", "document": "passage", "score": "points"}},
    ),
    Situation(
        "a value of a standard name in a list, as the query",
        lambda: {
            **run_of(lambda query: {"search": [query], "hits": chunks("id", score="score")})(),
            "fields": {"query": "search"},
        },
        SECOND,
        ("'search' has several values, and could not be the query", "'search' (["),
        {"predictions": {query: chunks("id", score="score") for query in QUERIES}, "fields": None},
        is_json=True,
    ),
]


# The entry points


def by_compute(inputs: Inputs) -> float:
    (value,) = ndcg.compute(**inputs).values()
    return float(value)


def by_report(inputs: Inputs) -> float:
    return float(ndcg.report(**inputs).scores["nDCG"].value)


def by_batch(inputs: Inputs) -> float:
    metric = ndcg.NDCG()
    gain = {name: inputs.pop(name) for name in ["gain"] if name in inputs}
    metric.add_batch(**inputs, **gain)
    (value,) = metric.compute(**gain).values()
    return float(value)


def by_preview(inputs: Inputs) -> float:
    """The value that the table of documents gives, after a preview of the same inputs."""
    assert ndcg.preview(**inputs).queries > 0
    return by_compute(inputs)


def by_comparison(inputs: Inputs) -> float:
    run = inputs.pop("predictions")
    if isinstance(inputs["references"], list) and len(inputs["references"]) == 1:
        pytest.skip("a comparison needs two queries")
    scores = ndcg.compare(systems={"predictions": run, "other": run}, **inputs).scores
    return float(scores["predictions"]["nDCG"].value)


def by_reading(inputs: Inputs) -> float:
    """Read each file, and score what was read."""
    order = {name: inputs[name] for name in ["score_order"] if name in inputs}
    fields = inputs.get("fields")
    readers = {"predictions": ndcg.read_run, "references": ndcg.read_qrels}
    sides: Inputs = {}
    problems = []
    for side, reader in readers.items():
        try:
            of_run = order if side == "predictions" else {}
            sides[side] = reader(inputs[side], fields=fields, **of_run)
        except ValueError as error:
            problems.append(f"{side}: {error}")
    if problems:
        raise ValueError("; ".join(problems))
    return by_compute({**sides, **order})


def by_shell(inputs: Inputs) -> float:
    flags = ["-m", "nDCG", "-o", "json"]
    for role, name in (inputs.get("fields") or {}).items():
        names = name if isinstance(name, tuple) else [name or "-"]
        flags += [f"--{role}", ",".join(names)]
    if "score_order" in inputs:
        flags += ["--score-order", inputs["score_order"]]
    written = io.StringIO()
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        try:
            status = main(["score", inputs["references"], inputs["predictions"], *flags])
        except SystemExit as ended:
            status = ended.code
    if status:
        raise ValueError(written.getvalue())
    (score,) = json.loads(written.getvalue())["scores"].values()
    return float(score["value"])


ENTRY_POINTS = {
    "compute": by_compute,
    "report": by_report,
    "batches": by_batch,
    "preview": by_preview,
    "compare": by_comparison,
}
OF_FILES = {"compute": by_compute, "read": by_reading, "shell": by_shell}


def in_files(inputs: Inputs, folder: Path) -> Inputs:
    """Return inputs whose sides are files of JSON; one that is both sides is one file."""
    paths: dict[int, str] = {}
    for name in ("predictions", "references"):
        side = inputs[name]
        path = folder / f"{name}.json"
        if id(side) not in paths:
            path.write_text(json.dumps(side))
            paths[id(side)] = str(path)
        inputs = {**inputs, name: paths[id(side)]}
    return inputs


def check(situation: Situation, entry_point: Callable[[Inputs], float], form: Any) -> None:
    """Make the first call, and the second if there must be one."""
    first = form(situation.inputs())
    if situation.warning:
        with pytest.warns(UserWarning, match=situation.warning):
            entry_point(first)
        return
    if situation.offered:
        with pytest.raises(ValueError, match=re.escape(situation.offered[0])) as refused:
            entry_point(first)
        lacking = [words for words in situation.offered if words not in str(refused.value)]
        assert not lacking, str(refused.value)
        second = {**situation.inputs(), **situation.then}
        first = form({name: value for name, value in second.items() if value is not None})
    assert entry_point(first) == pytest.approx(situation.right)


@pytest.mark.parametrize("entry_point", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_a_number_is_right_or_an_error_asks(
    situation: Situation, entry_point: Callable[[Inputs], float]
) -> None:
    check(situation, entry_point, dict)


@pytest.mark.parametrize("entry_point", OF_FILES.values(), ids=OF_FILES)
@pytest.mark.parametrize(
    "situation",
    [situation for situation in SITUATIONS if situation.is_json],
    ids=lambda situation: situation.name,
)
def test_a_file_of_json_says_the_same(
    situation: Situation, entry_point: Callable[[Inputs], float], tmp_path: Path
) -> None:
    check(situation, entry_point, lambda inputs: in_files(inputs, tmp_path))
