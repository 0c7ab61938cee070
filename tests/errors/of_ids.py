"""Ids that are none, of two types, on one side only, or that exclude nothing."""

import math
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from refusals import File, Made, Row, refused

from ndcg import compare, compute, report

FLAT: dict[str, Any] = {
    "predictions": [1, 2, 3],
    "references": [1, 0, 1],
    "query_ids": ["q", "q", "p"],
}
RUN, QRELS = {"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 1, "b": 0}}
BY_ID: dict[str, Any] = {"predictions": RUN, "references": QRELS}
LISTS: dict[str, Any] = {"predictions": [["a", "b"]], "references": [{"b"}]}
TREC_RUN, TREC_QRELS = File("run.txt", "1 Q0 1 1 0.5 tag\n"), File("qrels.txt", "1 0 1 1\n")
NOT_UTF_8 = b"d\xe9".decode("utf-8", "surrogateescape")
YEAR_2 = pa.array([2**62, 1, 1], pa.timestamp("s"))


def pandas(values: list[Any], **how: Any) -> Made:
    """A column of pandas."""

    def make() -> Any:
        import pandas as pd

        return pd.Series(values, **how)

    return Made(make)


def query_ids(values: Any, *places: str) -> Row:
    """The row of query_ids that are refused."""
    return refused(compute, "query_ids", *places, **FLAT | {"query_ids": values})


def key(value: Any) -> Row:
    """The row of a mapping with a key that is no id."""
    return refused(compute, "predictions", **BY_ID | {"predictions": {**RUN, value: {"a": 1.0}}})


def ranked(value: Any) -> Row:
    """The row of a list of ids with a value that is none."""
    return refused(
        compute, "predictions", "query 0, position 1", **LISTS | {"predictions": [["a", value]]}
    )


def exclude(value: Any, *places: str, **inputs: Any) -> Row:
    """The row of documents that cannot be excluded."""
    return refused(compute, "exclude", *places, **BY_ID | inputs, exclude=value)


COLUMNS: dict[str, Row] = {
    "bytes beside text": query_ids([b"1", "1", "1"]),
    "None": query_ids(["a", None, "b"]),
    "None in most rows": query_ids(["q", None, None]),
    "empty text": query_ids(["q", "", "p"]),
    "empty text in most rows": query_ids(["q", "", ""]),
    "empty text in Arrow": query_ids(pa.array(["q", "q", ""])),
    "None in Arrow": query_ids(pa.array([None, "a", "b"])),
    "None in categories": query_ids(pandas(["a", "b", None], dtype="category")),
    "a masked id": query_ids(np.ma.MaskedArray([1, 1, 2], [0, 1, 0])),
    "floats": query_ids([1.0, 1.0, 2.0]),
    "floats of 16 bits": query_ids(np.array([1, 1, 2], np.float16)),
    "floats in pandas": query_ids(pandas([1.0, 1.0, 2.0])),
    "fractions": query_ids(pa.array([1.5, 1.5, 2.0])),
    "truth values": query_ids([True, False, True]),
    "categories of floats": query_ids(pa.array([1.5, 1.5, 2.0]).dictionary_encode()),
    "nan in pandas": query_ids(pandas([1.0, None, 2.0])),
    "nan among text": query_ids(["q", math.nan, "q"]),
    "NA among text": query_ids(["q", pd.NA, "q"]),
    "no time": query_ids([pd.NaT] * 3),
    "NA among the documents of records": refused(
        compute,
        "predictions",
        "the column 'doc_id'",
        predictions=[
            {"query_id": "q", "doc_id": "a", "score": 0.5},
            {"query_id": "q", "doc_id": pd.NA, "score": 0.25},
        ],
        references=QRELS,
    ),
    "integers and text": query_ids([1, "a", 2]),
    "integers and text in pandas": query_ids(pandas([1, "a", 2], dtype=object)),
    "bytes and text": query_ids([b"1", "1", "2"]),
    "lists": query_ids([["a", "a", "b"]], "row 0"),
    "a matrix": query_ids(np.array([[1, 1, 2]])),
    "a number": query_ids(5),
    "an integer beyond 64 bits": query_ids([2**70, 1, 1]),
    "tuples": query_ids([("a", 1), ("a", 1), ("b", 1)]),
    "UUIDs": query_ids([uuid.UUID(int=at) for at in range(3)]),
    "UUIDs of Arrow": query_ids(pa.array([bytes([at]) * 16 for at in range(3)], pa.uuid())),
    "decimals": query_ids([Decimal(1), Decimal(2), Decimal(3)]),
    "text that is not UTF-8": query_ids(["\ud800", "b", "b"]),
    "times that cannot be shown": query_ids(YEAR_2).quoting("(timestamp[s]): "),
    "a table": query_ids(pa.table({"user": [1, 2], "item": [3, 4]})),
    "of documents": refused(compute, "document_ids", **FLAT, document_ids=[1.5, 1.0, 2.0]),
    "floats of documents": refused(compute, "document_ids", **FLAT, document_ids=[3.0, 1.0, 2.0]),
    "a query twice for lists": refused(
        compute,
        "query_ids",
        predictions=[[1, 3], [2, 9]],
        references={"q": {1: 1}},
        query_ids=["q", "q"],
    ),
    "a set for lists": refused(
        compute,
        "query_ids",
        predictions=[[1, 3], [2, 9]],
        references={"q": {1: 1}},
        query_ids={"q", "p"},
    ),
    "a number for lists": refused(compute, "query_ids", **LISTS, query_ids=5),
    "lists for lists": refused(compute, "query_ids", "row 0", **LISTS, query_ids=[["q"]]),
    "too few for lists": refused(
        compute,
        "query_ids",
        predictions=[[0.1, 0.3], [0.2, 0.9]],
        references=[[1, 0], [0, 1]],
        query_ids=["q"],
    ),
    "beside mappings": refused(compute, "query_ids", **BY_ID, query_ids=[1, 1]),
    "of documents beside mappings": refused(compute, "document_ids", **BY_ID, document_ids=[1, 1]),
}

KEYS: dict[str, Row] = {
    "nan": key(math.nan),
    "None": key(None),
    "a float": key(1.5),
    "a truth value": key(True),
    "a tuple": key(("a", 1)),
    "a UUID": key(uuid.UUID(int=1)),
    "a document": refused(
        compute, "references", "query 'q'", **BY_ID | {"references": {"q": {1.5: 1}}}
    ),
    "a document of a whole float": refused(
        compute, "references", "query 'q'", **BY_ID | {"references": {"q": {101.0: 1}}}
    ),
    "a document beside a file": refused(
        compute, "references", "query '1'", predictions=TREC_RUN, references={"1": {None: 1}}
    ),
    "in a system": refused(
        compare, "systems['b']", systems={"a": RUN, "b": {**RUN, 1.5: {"a": 1.0}}}, references=QRELS
    ),
    "empty text in a list of ids": refused(
        compute, "references", "query 0", **LISTS | {"references": [["b", ""]]}
    ),
    "empty text in a set": refused(
        compute, "references", "query 'q'", predictions=RUN, references={"q": {"a", ""}}
    ),
    "empty text in a mapping": refused(
        compute, "predictions", "query 'q'", **BY_ID | {"predictions": {"q": {"a": 1.0, "": 0.5}}}
    ),
    "empty text in a table": refused(
        compute,
        "references",
        "the column 'doc_id'",
        predictions=RUN,
        references=pa.table({"query_id": ["q", "q"], "doc_id": ["a", ""], "relevance": [1, 1]}),
    ),
    "None in a list of ids": ranked(None),
    "a float in a list of ids": ranked(1.5),
    "a flag in a list of ids": ranked(True),
    "a tuple in a list of ids": ranked(("a", 1)),
    "arrays of ids and scores": ranked(np.array([1, 2])),
    "integers among text in a list of ids": refused(
        compute, "predictions", "query 0", **LISTS | {"predictions": [["a", 1]]}
    ),
    "a set of ids in order": refused(
        compute, "predictions", "query 0", **LISTS | {"predictions": [{"a", "b"}]}
    ),
}

SIDES: dict[str, Row] = {
    "documents by position beside ids": refused(
        compute, "references", **BY_ID | {"references": [[1, 0]]}
    ),
    "labels beside ids": refused(compute, "references", **BY_ID | {"references": [[0, 1, 0]]}),
    "labels beside the hits of each, one of them twice": refused(
        compute,
        "references",
        predictions=[[{"corpus_id": place, "score": -place} for place in (2, 0, 1)]],
        references=[[0, 1, 0]],
    ),
    "the judgments of one query beside a response": refused(
        compute,
        "references",
        "query 'a'",
        predictions={"q": {"hits": {"hits": [{"_id": "a", "_score": 1.0}]}}},
        references={"a": 1, "b": 0},
    ),
    "a list among numbers beside ids": refused(
        compute, "references", **BY_ID | {"references": [[1, [0]]]}
    ),
    "an array beside ids": refused(
        compute, "references", **BY_ID | {"references": np.array([[1.0, 0.5]])}
    ),
    "ids beside an array": refused(
        compute, "predictions", **BY_ID | {"predictions": np.array([[1.0, 0.5]])}
    ),
    "numbers as text beside numbers": refused(
        compute, "references", predictions=[["0.9", "0.1"]], references=[[1, 0]]
    ),
    "ids beside columns": refused(
        compute, "predictions", predictions=[0.5, 0.1], references=QRELS, query_ids=["q", "q"]
    ),
    "a document twice in a query of query_ids": refused(
        compute,
        "predictions",
        "query 'r', position 1",
        predictions=[["a"], ["b", "b"]],
        references={"q": {"a": 1}, "r": {"b": 1}},
        query_ids=("q", "r"),
    ),
    "a document twice in an object of query_ids": refused(
        compute,
        "predictions",
        "query 'r', position 1",
        predictions=[{"hits": [{"id": "a", "score": 1.0}] * repeats} for repeats in (1, 2)],
        references={"q": {"a": 1}, "r": {"b": 1}},
        query_ids=np.array(["q", "r"]),
    ),
    "a list without queries beside a mapping": refused(
        compute, "predictions", predictions=[["a"], ["b"]], references={"q": {"a": 1}}
    ),
    "a list without queries beside a mapping of documents of another type": refused(
        compute, "predictions", predictions=[[7], [8]], references={"q": {"7": 1}}
    ),
    "a mapping beside a list without queries": refused(
        compute, "references", predictions={"q": {"a": 1.0}}, references=[{"a"}, {"b"}]
    ),
    "nan as a list beside sets": refused(
        compute, "predictions", "query 0", predictions=[math.nan, ["a"]], references=[{"a"}, {"b"}]
    ),
    "NA in a list of ids": refused(
        compute,
        "document_ids",
        "query 0, position 1",
        predictions=[[0.5, 0.25]],
        references=[[1, 0]],
        document_ids=[["a", pd.NA]],
    ),
    "nan as a list of ids": refused(
        compute,
        "document_ids",
        "query 1",
        predictions=[[0.5], [0.25]],
        references=[[1], [0]],
        document_ids=[["a"], math.nan],
    ),
    "lists of integers beside sets of text": refused(
        compute, "predictions", "query 0", predictions=[[3, 1]], references=[{"a"}]
    ),
    "lists of integers beside documents of text": refused(
        compute, "references", predictions=[["a", "b"]], references=[[1, 0]]
    ),
    "other numbers of lists": refused(
        compute, "predictions", predictions=[["a"]], references=[{"a"}, {"b"}]
    ),
    "queries and documents of another type": refused(
        compute, "predictions", predictions={1: {7: 0.5}}, references={"1": {"7": 1}}
    ),
    "queries and documents in bytes": refused(
        compute, "predictions", predictions={b"q": {b"a": 0.5}}, references={"q": {"a": 1}}
    ),
    "documents of another type": refused(
        compute, "predictions", "query 'q'", predictions={"q": {1: 1.0}}, references={"q": {"1": 1}}
    ),
    "documents of another type, beside another id of each hit": refused(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": [{"id": "b", "score": 1, "payload": {"doc_id": 1}}]},
        references={"q": {"b": 1}},
    ),
    "queries of another type than in a file": refused(
        compute, "predictions", predictions=TREC_RUN, references={1: {"1": 1}}
    ),
    "documents of another type than in a file": refused(
        compute, "predictions", predictions=TREC_RUN, references={"1": {1: 1}}
    ),
    "documents that UTF-8 cannot encode, beside a file": refused(
        compute, "references", predictions=TREC_RUN, references={"1": {NOT_UTF_8: 1}}
    ),
    "queries that UTF-8 cannot encode, beside a file": refused(
        compute, "predictions", predictions={NOT_UTF_8: {"1": 1.0}}, references=TREC_QRELS
    ),
    "text that is a list": refused(
        compute, "references", predictions=RUN, references={"q": ["['a', 'b']"]}
    ),
    "several ids in a cell": refused(
        compute,
        "references",
        predictions=RUN,
        references=File("qrels.csv", 'query_id,doc_id,relevance\nq,"a b7",1\n'),
    ),
}

EXCLUDED: dict[str, Row] = {
    "a list as an id": refused(compute, "exclude", "query 'q'", **BY_ID, exclude={"q": [["a"]]}),
    "a mapping beside ranked ids": refused(compute, "exclude", **LISTS, exclude={0: ["a"]}),
    "ids of another type": exclude({"q": ["b", 7]}),
    "a float": exclude({"q": [7.0]}, "query 'q'"),
    "None": exclude({"q": ["a", None]}, "query 'q'"),
    "a flag": exclude({"q": [True]}, "query 'q'"),
    "a tuple": exclude({"q": [("a", 1)]}, "query 'q'"),
    "a masked id": exclude({"q": np.ma.array([7, 8], mask=[False, True])}, "query 'q'"),
    "None as a query": exclude({None: ["a"], "q": ["a"]}),
    "no query of the references": exclude({b"q": ["a"]}),
    "text in place of a list": exclude({"q": "a"}, "query 'q'"),
    "a number": exclude(7),
    "a Series of lists by query": exclude(pandas([["a"]], index=["q"])),
    "a table of documents alone": exclude(pa.table({"item_id": ["a"]})),
    "a file that is not there": exclude("seen.txt", "seen.txt"),
    "a list of too few": refused(compute, "exclude", **LISTS, exclude=[["a"], ["b"]]),
    "scores without ids": refused(
        compute, "exclude", predictions=[[1, 2]], references=[[1, 0]], exclude=[["a"]]
    ),
    "a list beside mappings": exclude([["a"]]),
    "a list beside ids of another type": refused(
        compute,
        "exclude",
        predictions={7: {5: 0.9, 6: 0.5}},
        references={7: {6: 1}},
        exclude=File("seen.txt", "7 5\n"),
    ),
    "a table of integers beside files": exclude(
        pa.table({"query_id": [1], "doc_id": [1]}), predictions=TREC_RUN, references=TREC_QRELS
    ),
    "a table beside sides of two types": refused(
        compute,
        "predictions",
        predictions={"qid": [1], "docid": [1], "score": [0.5]},
        references=TREC_QRELS,
        exclude={1: [1]},
    ),
    "a table without documents": exclude(pa.table({"query_id": ["q"], "film": ["a"]})),
    "a table of its own names": exclude(pa.table({"uid": ["q"], "movie": ["a"]})),
    "a table whose ids are of another type": exclude(pa.table({"query_id": ["q"], "doc_id": [7]})),
    "of a report": refused(report, "exclude", "query 'q'", **BY_ID, exclude={"q": [7.0]}),
}

ROWS: dict[str, Row] = {
    f"{group}: {name}": row
    for group, rows in {
        "columns": COLUMNS,
        "keys": KEYS,
        "sides": SIDES,
        "exclude": EXCLUDED,
    }.items()
    for name, row in rows.items()
}
