"""Scores, relevances and weights that are no numbers, have no place, or are not allowed."""

import io
import math
import pickle
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from of_ids import BY_ID, FLAT, QRELS, RUN
from refusals import Made, Row, Unreadable, UnreadableCapsule, refused, warned

from ndcg import NDCG, compare, compute, documents, preview, report

TWO: dict[str, Any] = {"predictions": [[2, 1], [1, 2]], "references": [[1, 0], [0, 1]]}
MORE = {**RUN, "p": {"a": 1.0}}
ELSEWHERE = {"q": {"x": 1.0}, "p": {"x": 1.0}}
HUGE = 1.7e308


SQUARE = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [3.0, 0.0, 1.0]]))
TOP = np.array([[3, 1], [0, 2]])
TRIPLES = [(1, 11, 1.2), (1, 12, 3.4), (2, 11, 2.2), (2, 13, 0.5), (3, 12, 1.9)]
RATED = [(1, 11, 5), (1, 12, 3), (2, 11, 2), (2, 13, 4), (3, 12, 1)]
IDS_OF_TEN = [[7 * row + at for at in (0, 11, 23)] for row in range(10)]

BY_POSITION: dict[str, Row] = {
    "nothing": refused(compute, "predictions"),
    "no predictions": refused(compute, "predictions", references=[[1, 0]]),
    "no predictions for another measure": refused(
        compute, "predictions", references=[[1, 0]], measures=["IDCG", "DCG"]
    ),
    "no predictions for an ideal that needs them": refused(
        compute, "predictions", references=[[1, 0]], measures="IDCG", ideal="truncated"
    ),
    "no references": refused(compute, "references", predictions=[[1, 2]]),
    "no queries": refused(compute, "predictions", predictions=[], references=[]).when_scored(),
    "no queries to show": refused(preview, "predictions", predictions=[], references=[]),
    "nan as a score": refused(
        compute,
        "predictions",
        "query 1, position 1",
        **TWO | {"predictions": [[2, 1], [1, math.nan]]},
    ),
    "nan in an array": refused(
        compute,
        "predictions",
        "query 0, position 1",
        **TWO | {"predictions": np.array([[2, np.nan], [1, 2]])},
    ),
    "nan as a relevance": refused(
        compute,
        "references",
        "query 1, position 0",
        **TWO | {"references": [[1, 0], [math.nan, 1]]},
    ),
    "inf as a score": refused(
        compute,
        "predictions",
        "query 1, position 0",
        **TWO | {"predictions": [[2, 1], [math.inf, 2]]},
    ),
    "-inf as a relevance": refused(
        compute,
        "references",
        "query 0, position 1",
        **TWO | {"references": [[1, -math.inf], [0, 1]]},
    ),
    "-inf as a score in ascending order": refused(
        compute,
        "predictions",
        "query 1, position 1",
        predictions=[[1.0], [0.5, -math.inf]],
        references=[[1], [0, 1]],
        score_order="ascending",
    ),
    "nan as a score in ascending order": refused(
        compute,
        "predictions",
        "query 1, position 1",
        predictions=[[1.0], [0.5, math.nan]],
        references=[[1], [0, 1]],
        score_order="ascending",
    ),
    "text among scores": refused(
        compute, "predictions", "query 0, position 1", **TWO | {"predictions": [[1, "x"], [1, 2]]}
    ),
    "text among relevances": refused(
        compute, "references", "query 0, position 1", **TWO | {"references": [[1, "bad"], [0, 1]]}
    ),
    "text as a query": refused(
        compute, "references", "query 1", **TWO | {"references": [[1, 0], "01"]}
    ),
    "None as a query": refused(
        compute, "references", "query 1", **TWO | {"references": [[1, 0], None]}
    ),
    "None after a tuple": refused(
        compute, "predictions", "query 1", **TWO | {"predictions": [(1, 2, 0.5), None]}
    ),
    "an array of text": refused(
        compute, "references", **TWO | {"predictions": np.array([["2", "1"], ["1", "2"]])}
    ),
    "complex numbers": refused(
        compute, "predictions", **TWO | {"predictions": np.array([[2j, 1], [1, 2]])}
    ),
    "times": refused(
        compute, "predictions", **TWO | {"predictions": np.array([["2026-01-01"] * 2] * 2, "M8[D]")}
    ),
    "a list in a query": refused(compute, "references", predictions=[[[1, 2]]], references=[[1]]),
    "a single query of scores": refused(
        compute, "predictions", "query 0", **TWO | {"predictions": [2, 1]}
    ),
    "a single query of relevances": refused(
        compute, "references", **TWO | {"references": np.array([1, 0])}
    ),
    "probabilities of several outputs": refused(
        compute,
        "predictions",
        "query 0",
        predictions=[np.ones((4, 2))] * 3,
        references=np.ones((4, 3)),
    ),
    "probabilities of outputs of which one has a single class": refused(
        compute,
        "predictions",
        "query 0",
        predictions=[np.ones((4, 2)), np.ones((4, 2)), np.ones((4, 1))],
        references=np.ones((4, 3)),
    ),
    "outputs of a column each": refused(
        compute,
        "predictions",
        "query 0",
        predictions=[np.ones((4, 1))] * 3,
        references=np.ones((4, 3)),
    ),
    "batches of matrices": refused(
        compute,
        "predictions",
        "query 0",
        predictions=[np.ones((2, 3)), np.ones((1, 4))],
        references=np.ones((3, 3)),
    ),
    "batches of two labels": refused(
        compute,
        "references",
        "query 0",
        predictions=np.ones((3, 2)),
        references=[np.ones((2, 2)), np.ones((1, 2))],
    ),
    "labels and queries of a Trainer": refused(
        compute,
        "references",
        "query 0",
        predictions=np.ones((2, 3)),
        references=(np.ones((2, 3)), np.ones(2)),
    ),
    "a 3-D array": refused(compute, "predictions", **TWO | {"predictions": np.ones((2, 2, 1))}),
    "other numbers of queries": refused(compute, "predictions", **TWO | {"predictions": [[2, 1]]}),
    "other numbers of documents": refused(
        compute, "", "query 1", **TWO | {"references": [[1, 0], [0, 1, 0]]}
    ),
    "other numbers of documents of matrices": refused(
        compute, "", "query 0", predictions=np.ones((4, 3)), references=np.ones((4, 2))
    ),
    "an open file": refused(
        compute,
        "predictions",
        predictions=Made(lambda: io.TextIOWrapper(io.BytesIO())),
        references=[[1]],
    ),
    "an unreadable array": refused(compute, "predictions", **FLAT | {"predictions": Unreadable()}),
    "unreadable numbers": refused(
        compute, "predictions", **FLAT | {"predictions": [Unreadable()] * 3}
    ),
    "an unreadable capsule": refused(
        compute, "predictions", **FLAT | {"predictions": UnreadableCapsule()}
    ),
    "a sparse tensor": refused(
        compute, "predictions", **FLAT | {"predictions": Made(lambda: tensor().to_sparse())}
    ).quoting("read: "),
    "a tensor without data": refused(
        compute, "predictions", **FLAT | {"predictions": Made(lambda: tensor().to("meta"))}
    ).quoting("read: "),
    "an integer beyond 64 bits beside a fraction": refused(
        compute,
        "predictions",
        "query 0, position 0",
        predictions=[[2**64 + 1, 0.5]],
        references=[[1, 0]],
    ),
    "a decimal beyond 64 bits": refused(
        compute,
        "predictions",
        "query 'q', row 0",
        predictions=[Decimal(2**64 + 1), Decimal("0.5"), Decimal(1)],
        references=[1, 0, 1],
        query_ids=["q"] * 3,
    ),
    "a decimal that is no number": refused(
        compute,
        "references",
        "query 'q', row 0",
        predictions=[0.5, 0.25],
        references=[Decimal("NaN"), Decimal(1)],
        query_ids=["q"] * 2,
    ),
    "a score too large for 32 bits": refused(
        compute,
        "predictions",
        "query 1, position 1",
        predictions=[[1], [2, 1e39]],
        references=[[1], [0, 1]],
        score_dtype="float32",
    ),
    "a score too large for the 32 bits of a convention": refused(
        compute,
        "predictions",
        "query 1, position 1",
        predictions=[[1], [2, 1e39]],
        references=[[1], [0, 1]],
        convention="xgboost",
    ),
    "a negative relevance": refused(
        compute, "references", "query 1, position 1", **TWO | {"references": [[1, 0], [0, -2]]}
    ).when_scored(),
    "a relevance of -1 throughout": refused(
        compute, "references", "query 0, position 1", **TWO | {"references": [[1, -1], [-1, 1]]}
    ).when_scored(),
    "padding that nobody named": refused(
        compute, "references", "query 0, position 1", **TWO | {"references": [[1, -100], [-100, 1]]}
    ).when_scored(),
    "padding of another number": refused(
        compute,
        "references",
        "query 1, position 1",
        **TWO | {"references": [[1, 0], [0, -100]]},
        ignore_index=-99,
    ).when_scored(),
    "a relevance too large for an exponential gain": refused(
        compute,
        "references",
        "query 0, position 1",
        **TWO | {"references": [[1, 5000], [0, 1]]},
        gain="exponential",
    ).when_scored(),
    "a label without a gain in a list": refused(
        compute,
        "references",
        "query 1, position 0",
        **TWO | {"references": [[1, 0], [5, 0]]},
        gain=[0, 1, 3],
    ).when_scored(),
    "a fraction as a label": refused(
        compute,
        "references",
        "query 1, position 0",
        **TWO | {"references": [[1, 0], [0.5, 0]]},
        gain=[0, 1, 3],
    ).when_scored(),
    "a gain that is not finite": refused(
        compute,
        "references",
        "query 1, position 0",
        **TWO | {"references": [[1, 0], [7, 1]]},
        gain=lambda relevance: np.where(relevance == 7, np.inf, relevance),
    ).when_scored(),
    "a sum that overflows in a query": refused(
        compute,
        "references",
        "query 1",
        **TWO | {"references": [[1, 0], [HUGE, HUGE]]},
        measures="CG",
    ),
    "a sum that overflows over queries": refused(
        compute,
        "DCG",
        predictions=[[2.0, 1.0]] * 3,
        references=[[1e308, 1e308]] * 3,
        measures="DCG",
    ),
    "no query has a value": refused(
        compute, "nDCG", predictions=[[2, 1]], references=[[0, 0]], zero_division=math.nan
    ),
    "no query of weight has a value": refused(
        compute,
        "nDCG",
        predictions=[[2, 1], [1, 2]],
        references=[[0, 0], [1, 0]],
        zero_division=math.nan,
        sample_weight=[1, 0],
    ),
    "a missing query": refused(
        compute, "predictions", predictions=[[None], [1]], references=[[1], [1]], missing="raise"
    ),
    "rows of a user, an item and a value": refused(
        compute, "predictions", predictions=TRIPLES, references=RATED
    ),
    "rows of a user and an item": refused(
        compute,
        "both sides",
        predictions=[[1, 11], [1, 12], [2, 13], [2, 11], [3, 12]],
        references=[[1, 12], [1, 14], [2, 11], [2, 15], [3, 19]],
    ),
    "rows of a user, an item and a whole number": refused(
        compute,
        "both sides",
        predictions=[[1, 11, 4], [1, 12, 3], [2, 13, 5], [2, 11, 2], [3, 12, 4]],
        references=[[1, 12, 5], [1, 14, 3], [2, 11, 1], [2, 15, 4], [3, 19, 2]],
    ),
    "ids of relevant documents in lists beside document_ids": refused(
        compute,
        "references",
        predictions=[[0.9, 0.8, 0.7, 0.6, 0.5]] * 4,
        document_ids=[[30, 11, 42, 17, 58]] * 4,
        references=[[11, 30, 66, 71, 29]] * 4,
    ),
    "a pair of ids and scores": refused(
        compute, "predictions", predictions=(TOP, TOP / 8), references=[{3}, {2}]
    ),
    "two logits of each document": refused(
        compute, "predictions", predictions=np.stack([TOP / 8, TOP], axis=2), references=TOP
    ),
    "outputs of a model in two shapes": refused(
        compute, "predictions", predictions=(TOP / 8, TOP[:, :1]), references=TOP * 0
    ),
    "fewer relevant documents in lists than document_ids": refused(
        compute,
        "document_ids",
        "query 0",
        predictions=[[0.9, 0.8, 0.7]],
        document_ids=[[30, 11, 42]],
        references=[[11, 30]],
    ),
    "integers that are ids": refused(
        compute, "predictions", predictions=IDS_OF_TEN, references=[row[::-1] for row in IDS_OF_TEN]
    ),
    "a query to a database as a query": refused(
        compute,
        "predictions",
        "query 0",
        predictions=[Made(lambda: pa.table({"p": [[0.5]]}).to_reader())],
        references=[[1]],
    ),
    "a column that is no column of lists": refused(
        compute, "predictions", predictions=pa.array([0.5]), references=pa.array([1.0])
    ),
}

MATRICES: dict[str, Row] = {
    "other numbers of columns": refused(
        compute, "predictions", predictions=SQUARE, references=SQUARE[:, :2]
    ),
    "other numbers of queries": refused(
        compute, "predictions", predictions=SQUARE, references=SQUARE[:2]
    ),
    "columns that may be scores": refused(
        compute, "predictions", predictions=[[2, 1, 0], [0, 2, 1], [1, 0, 2]], references=SQUARE
    ),
    "columns that may be scores, filled up": refused(
        compute, "predictions", predictions=[[2, 1, -1], [0, 2, 1], [1, -1, -1]], references=SQUARE
    ),
    "a list of another length": refused(
        compute,
        "predictions",
        "query 1",
        predictions=[[0.5, 2, 3], [1, 2], [1, 2, 3]],
        references=SQUARE,
    ),
    "complex numbers": refused(compute, "predictions", predictions=SQUARE * 1j, references=SQUARE),
    "nan": refused(
        compute, "predictions", "query 0, column 0", predictions=SQUARE * np.nan, references=SQUARE
    ),
    "a negative relevance": refused(
        compute, "references", "query 0, column 0", predictions=SQUARE, references=-SQUARE
    ).when_scored(),
    "one dimension": refused(
        compute, "predictions", predictions=sp.coo_array([1, 2, 3]), references=SQUARE
    ),
    "ids": refused(
        compute, "predictions", "query 'q'", predictions={"q": {"d": 1.0}}, references=SQUARE
    ),
    "too large": refused(
        compute,
        "a sparse matrix of 2",
        predictions=sp.csr_array((2, 2**62)),
        references=sp.csr_array((2, 2**62)),
    ),
    "a number beyond the columns": refused(
        compute, "predictions", "query 0", predictions=TOP, references=SQUARE[:2]
    ),
    "text beside columns": refused(
        compute, "references", "query 0", predictions=SQUARE[:2], references=[{"d1"}, {"d2"}]
    ),
    "-1 as a relevant document": refused(
        compute, "references", "query 1", predictions=SQUARE[:2], references=[{1}, {-1}]
    ),
    "query_ids": refused(
        compute, "predictions", predictions=SQUARE, references=SQUARE, query_ids=[0, 1, 2]
    ),
    "exclude": refused(
        compute, "exclude", predictions=SQUARE, references=SQUARE, exclude=[[1], [], []]
    ),
    "a set of numbers": refused(
        compute,
        "predictions",
        "query 0",
        predictions=[{0, 2}],
        references=sp.csr_array([[1, 0, 2]]),
    ),
    "a set of numbers beside ids": refused(
        compute,
        "predictions",
        "query 0",
        predictions=[{30, 1}],
        document_ids=[["a", "b"]],
        references=[{"b"}],
    ),
    "None beside ids": refused(
        compute,
        "document_ids",
        "query 1",
        predictions=[[0.5], None],
        document_ids=[["a"], ["b"]],
        references=[{"a"}, {"b"}],
    ),
    "ids of a matrix in a set": refused(
        compute,
        "predictions",
        predictions=[[0.9, 0.1]],
        document_ids=[{"b", "a"}],
        references=[{"a"}],
    ),
    "ids of another length": refused(
        compute,
        "document_ids",
        "query 0",
        predictions=[[], []],
        document_ids=[[4], [1]],
        references=[{4}, {1}],
    ),
}

FLAT_COLUMNS: dict[str, Row] = {
    "other numbers of scores": refused(compute, "query_ids", **FLAT | {"predictions": [1, 2]}),
    "sizes of groups as query_ids": refused(compute, "query_ids", **FLAT | {"query_ids": [2, 1]}),
    "other numbers of document_ids": refused(compute, "query_ids", **FLAT, document_ids=["a"]),
    "query_ids of text": refused(compute, "query_ids", **FLAT | {"query_ids": "abc"}),
    "document_ids without query_ids": refused(
        compute, "document_ids", **FLAT | {"query_ids": None}, document_ids=["a", "b", "c"]
    ),
    "a matrix of references": refused(
        compute, "references", **FLAT | {"references": np.ones((1, 3))}
    ),
    "two logits": refused(compute, "predictions", **FLAT | {"predictions": np.zeros((3, 2))}),
    "lists of scores": refused(
        compute, "predictions", "query 'q', row 0", **FLAT | {"predictions": [[1], [2], [3]]}
    ),
    "text": refused(
        compute, "predictions", "query 'q', row 1", **FLAT | {"predictions": [1, "high", 3]}
    ),
    "text as a relevance": refused(
        compute, "references", "query 'p', row 2", **FLAT | {"references": [1, 0, "low"]}
    ),
    "text beyond the ids": refused(
        compute, "predictions", "row 3", **FLAT | {"predictions": [1, 2, 3, "x"]}
    ),
    "nan": refused(
        compute, "predictions", "query 'q', row 1", **FLAT | {"predictions": [1, math.nan, 3]}
    ),
    "a negative relevance": refused(
        compute, "references", "query 'p', row 2", **FLAT | {"references": [1, 0, -1]}
    ).when_scored(),
    "no rows": refused(
        compute, "predictions", predictions=[], references=[], query_ids=[]
    ).when_scored(),
    "ties without document_ids": refused(
        compute,
        "document_ids",
        predictions=[1, 2, 1, 2, 2],
        references=[1, 0, 1, 2, 0],
        query_ids=["p", "q", "p", "q", "p"],
        ties="docid",
    ),
    "ties in 32 bits without document_ids": refused(
        compute,
        "document_ids",
        predictions=[1.0, 1.0 + 2**-30],
        references=[1, 0],
        query_ids=["q", "q"],
        ties="docid",
        score_dtype="float32",
    ),
    "a document twice": refused(
        compute, "document_ids", "query 'q', row 1", **FLAT, document_ids=["a", "a", "b"]
    ),
    "a document twice with two relevances": refused(
        compute,
        "references",
        "query 'q', row 2",
        predictions=[3, 2, 2],
        references=[1, 0, 2],
        query_ids=["q"] * 3,
        document_ids=["a", "b", "a"],
        duplicates="best",
    ),
    "duplicates without document_ids": refused(compute, "duplicates", **FLAT, duplicates="best"),
    "a reader twice": refused(
        compute,
        "predictions and references",
        predictions=Made(lambda: READER),
        references=Made(lambda: READER),
    ),
    "columns of pandas with other indexes": refused(
        compute,
        "query_ids",
        predictions=Made(lambda: series([0.5, 0.25])),
        references=[1, 0],
        query_ids=Made(lambda: series(["a", "b"])[::-1]),
    ),
    "columns of lists with other indexes": refused(
        compute,
        "references",
        predictions=Made(lambda: series([["a"], ["b"]])),
        references=Made(lambda: series([["a"], ["b"]])[::-1]),
    ),
    "batches of rows": refused(
        compute,
        "query_ids",
        "row 0",
        predictions=[np.array([0.5, 0.25]), np.array([0.5])],
        references=[np.array([1, 0]), np.array([1])],
        query_ids=[np.array([7, 7]), np.array([8])],
    ),
    "batches of ids beside lists": refused(
        compute,
        "query_ids",
        "row 0",
        predictions=[[0.5, 0.25], [0.5, 0.25]],
        references=[[1, 0], [1, 0]],
        query_ids=[[7, 7], [8, 8]],
    ),
    "records of batches without query_ids": refused(
        compute,
        "data",
        data=[
            {"qid": [7, 7], "s": [0.5, 0.25], "r": [1, 0]},
            {"qid": [7, 8], "s": [0.5, 0.25], "r": [1, 0]},
        ],
        predictions="s",
        references="r",
    ),
    "two queries of a database": refused(
        compute,
        "references",
        predictions=Made(lambda: pa.table({"p": [[0.5]]}).to_reader()),
        references=Made(lambda: pa.table({"r": [[1]]}).to_reader()),
    ),
}

BY_ID_OF_DOCUMENTS: dict[str, Row] = {
    "nan": refused(
        compute,
        "predictions",
        "query 'q', document 'b'",
        **BY_ID | {"predictions": {"q": {"b": math.nan}}},
    ),
    "inf": refused(
        compute,
        "predictions",
        "query 'q', document 'b'",
        **BY_ID | {"predictions": {"q": {"b": math.inf}}},
    ),
    "text": refused(
        compute,
        "predictions",
        "query 'q', document 'b'",
        **BY_ID | {"predictions": {"q": {"b": "high"}}},
    ),
    "a list": refused(compute, "predictions", **BY_ID | {"predictions": {"q": {"b": [1]}}}),
    "an array of a hit": refused(
        compute,
        "predictions",
        "query 'q', document 'a'",
        **BY_ID | {"predictions": {"q": [{"id": "a", "score": TOP[0]}, {"id": "b", "score": 0.5}]}},
    ),
    "an integer beyond floats in a pair": refused(
        compute,
        "predictions",
        "query 'q', document 'a'",
        **BY_ID | {"predictions": {"q": [("a", 10**400), ("b", 1.0)]}},
    ),
    "complex numbers": refused(
        compute,
        "predictions",
        "query 'q', document 'b'",
        **BY_ID | {"predictions": {"q": {"b": 1j}}},
    ),
    "a number in place of documents": refused(
        compute, "predictions", "query 'q'", **BY_ID | {"predictions": {"q": 1}}
    ),
    "nan as a relevance": refused(
        compute,
        "references",
        "query 'q', document 'z'",
        **BY_ID | {"references": {"q": {"a": 1, "z": math.nan}}},
    ),
    "a negative relevance": refused(
        compute,
        "references",
        "query 'q', document 'z'",
        **BY_ID | {"references": {"q": {"a": 1, "z": -1}}},
    ).when_scored(),
    "a negative relevance of a ranked id": refused(
        compute,
        "references",
        "query 1, document 'd1'",
        predictions=[["d1"], ["d1"]],
        references=[{"d2": 1}, {"d1": -1}],
    ).when_scored(),
    "a score too large for 32 bits": refused(
        compute,
        "predictions",
        "query 'q', document 'b'",
        **BY_ID | {"predictions": {"q": {"a": 1, "b": 1e39}}},
        score_dtype="float32",
    ),
    "text in ids of a million characters": refused(
        compute,
        "predictions",
        f"query 'q', document '{'d' * 48}...{'d' * 49}'",
        **BY_ID | {"predictions": {"q": {"d" * 10**6: math.nan}}},
    ),
    "no queries": refused(
        compute, "predictions and references", **BY_ID | {"references": {}}
    ).when_scored(),
    "no query in common, of two Unicode forms": refused(
        compute,
        "predictions",
        predictions={"x": {"a": 1.0}, "Cafe\u0301": {"a": 1.0}},
        references={"q": {"a": 1}, "Caf\xe9": {"a": 1}},
    ),
    "no query in common": refused(
        compute, "predictions", **BY_ID | {"predictions": {"p": {"a": 1.0}}}
    ),
    "no query in common, of integers in text": refused(
        compute, "predictions", predictions={"1": {"a": 1.0}}, references={1: {"a": 1}}
    ),
    "no query in common, of floats in text": refused(
        compute, "predictions", predictions={"1.0": {"a": 1.0}}, references={"1": {"a": 1}}
    ),
    "a run without a query of another": refused(
        compare, "systems['bm25']", systems={"bm25": RUN, "dense": MORE}, references=MORE
    ),
    "one query to compare": refused(
        compare, "a comparison", systems={"bm25": RUN, "dense": RUN}, references=QRELS
    ),
    "a missing query of a run": refused(
        compare,
        "systems['bm25']",
        systems={"bm25": RUN, "dense": MORE},
        references=MORE,
        missing="raise",
    ),
    "a missing query": refused(
        compute,
        "predictions",
        references={**QRELS, "p": {"a": 1}},
        predictions=RUN,
        missing="raise",
    ),
    "a missing query of a scored set": refused(
        report, "predictions", references={**QRELS, "p": {"a": 1}}, predictions=RUN, missing="raise"
    ),
    "a document twice": refused(
        compute, "predictions", "query 0, position 1", predictions=[["A", "A"]], references=[{"A"}]
    ),
    "a document twice among hits": refused(
        compute,
        "predictions",
        "query 'q', position 1",
        predictions={"q": [{"id": "a", "score": 2.0}, {"id": "a", "score": 1.0}]},
        references=QRELS,
    ),
    "a document judged twice": refused(
        compute,
        "references",
        "query 'q', position 1",
        predictions=RUN,
        references={"q": [("a", 2.0), ("a", 1.0)]},
        duplicates="best",
    ),
    "a label without a gain": refused(
        compute,
        "references",
        "query 'q', document 'b'",
        predictions=RUN,
        references={"q": {"a": "no", "b": "Relevnt"}},
        gain={"relevant": 3, "no": 0},
    ),
    "labels without gains": refused(
        compute,
        "references",
        "query 'q', document 'b'",
        predictions=RUN,
        references={"q": {"a": "no", "b": "Relevant", "c": None}, "p": {"a": "No", "d": ""}},
        gain={"relevant": 3, "no": 0},
    ),
    "a number without a gain": refused(
        compute,
        "references",
        "query 1, position 0",
        predictions=[[1], [1], [1], [1]],
        references=[[4], [2], [3], [2]],
        gain={0: 0, 1: 0, 4: 1},
    ),
    "labels in lists, one of them twice, beside scores": refused(
        compute,
        "references",
        predictions=[[0.9, 0.4, 0.2], [0.7]],
        references=[["yes", "no", "no"], ["so so"]],
    ),
    "words without gains": refused(
        compute,
        "references",
        "query 'q', document 'a'",
        predictions=RUN,
        references={"q": {"a": "no", "b": "yes"}},
    ),
    "a score of None among scores": refused(
        compute,
        "predictions",
        "query 'q', position 1",
        predictions={"q": [{"id": "a", "score": 1.0}, {"id": "b", "score": None}]},
        references=QRELS,
    ),
}

WEIGHTS: dict[str, Row] = {
    "negative": refused(compute, "sample_weight", "query 1", **TWO, sample_weight=[1, -1]),
    "nan": refused(compute, "sample_weight", "query 0", **TWO, sample_weight=[math.nan, 1]),
    "0 for every query": refused(compute, "sample_weight", **TWO, sample_weight=[0, 0]),
    "too few": refused(compute, "sample_weight", **TWO, sample_weight=[1]),
    "text in place of a column": refused(compute, "sample_weight", **TWO, sample_weight="ab"),
    "a matrix": refused(compute, "sample_weight", **TWO, sample_weight=np.ones((2, 1))),
    "text": refused(compute, "sample_weight", "query 0", **TWO, sample_weight=["1", 1]),
    "too large": refused(compute, "sample_weight", "query 0", **TWO, sample_weight=[10**400, 1]),
    "by ids for queries without": refused(
        compute, "sample_weight", **TWO, sample_weight={0: 1, 1: 1}
    ),
    "without that of a query": refused(compute, "sample_weight", **BY_ID, sample_weight={"p": 3}),
    "by ids of another type": refused(compute, "sample_weight", **BY_ID, sample_weight={1: 3}),
    "a series with an id twice": refused(
        compute, "sample_weight", **BY_ID, sample_weight=Made(lambda: series([1, 2], ["q", "q"]))
    ),
    "too far apart": refused(report, "sample_weight", **TWO, sample_weight=[1, 1e-17]),
    "a table": refused(
        compute, "sample_weight", **TWO, sample_weight=pa.table({"user": [1, 2], "item": [3, 4]})
    ),
}


def of_batches(*batches: dict[str, Any], **options: Any) -> None:
    """Score batches together."""
    metric = NDCG(keep_in_memory=True)
    for batch in batches:
        metric.add_batch(**batch)
    metric.compute(**options)


def as_query(**sides: Any) -> None:
    """Add one query."""
    NDCG(keep_in_memory=True).add(**sides)


def copied(**batch: Any) -> None:
    """Copy a metric that holds a batch."""
    metric = NDCG(keep_in_memory=True)
    metric.add_batch(**batch)
    pickle.dumps(metric)


BATCHES: dict[str, Row] = {
    "none": refused(of_batches, "there is nothing to score"),
    "without queries": refused(
        partial(of_batches, {"predictions": [], "references": []}), "predictions and references"
    ),
    "a negative relevance": refused(
        partial(of_batches, TWO, {"predictions": [[1, 2]], "references": [[0, -2]]}),
        "references",
        "query 2, position 1",
    ),
    "one query, given twice": refused(
        as_query, "give one query", **TWO, prediction=[1, 2], reference=[0, 1]
    ),
    "copied to another process": refused(copied, "this metric holds batches", **TWO),
}

SLICES: dict[str, Row] = {
    "too few": refused(report, "by", **TWO, by=["en"]),
    "text": refused(report, "by", **TWO, by="en"),
    "a number": refused(report, "by", **TWO, by=7),
    "no text, integer or flag": refused(report, "by", **TWO, by=[0.5, 1.5]),
    "without that of a query": refused(report, "by", **BY_ID, by={"p": "en"}),
    "by ids for queries without": refused(report, "by", **TWO, by={"q": "en"}),
    "by what is no id": refused(report, "by", **BY_ID, by={"q": "en", 1.5: "fr"}),
    "two rows of a query differ": refused(report, "by", **FLAT, by=["en", "de", "en"]),
}

SELECTED: dict[str, Row] = {
    "a query that is not there": refused(documents, "queries", **BY_ID, queries=["p"]),
    "several cutoffs": refused(documents, "k", **BY_ID, k=[1, 2]),
}

WARNINGS: dict[str, Row] = {
    "the references as predictions": warned(
        compute, "predictions", predictions=[[2, 1, 0, 0, 1]] * 4, references=[[2, 1, 0, 0, 1]] * 4
    ),
    "labels as predictions of rows": warned(
        compute,
        "predictions",
        predictions=[1.0, 0.0, 1.0, 0.0] * 5,
        references=[1, 0, 1, 0] * 5,
        query_ids=sorted([*range(4)] * 5),
    ),
    "queries of one document": warned(
        compute, "predictions", predictions=[[1], [2]], references=[[1], [0]]
    ),
    "most queries are missing": warned(
        compute, "predictions", predictions=RUN, references={**QRELS, "p": {"a": 1}, "r": {"a": 1}}
    ).when_scored(),
    "half of the queries are missing": warned(
        compute,
        "predictions",
        predictions=RUN | {"p": {"a": 1}},
        references={query: {"a": 1, "b": 0} for query in "pqrs"},
    ).when_scored(),
    "no document in common": warned(
        compute, "predictions", predictions={"q": {"x": 1.0}}, references=QRELS
    ).when_scored(),
    "no document in common, beside another field of both sides": warned(
        compute,
        "predictions",
        predictions={"q": [{"id": "x", "score": 1, "title": "Alien"}]},
        references={"q": [{"id": "y", "label": 1, "title": "Alien"}]},
    ).when_scored(),
    "no document in common, beside another id of each hit": warned(
        compute,
        "predictions",
        predictions={"q": [{"id": "x", "score": 1, "payload": {"doc_id": "a:1"}}]},
        references=QRELS,
    ).when_scored(),
    "no document in common, of floats in text": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": {"101": 1.0}},
        references={"q": {"101.0": 1}},
    ).when_scored(),
    "no document of two systems in common": warned(
        compare,
        "systems['bm25'], systems['dense']",
        systems={"good": MORE, "bm25": ELSEWHERE, "dense": ELSEWHERE},
        references=MORE,
    ),
    "labels as predictions": warned(
        compute,
        "predictions",
        predictions=[[0, 1, 0, 1], [1, 0, 0, 1]],
        references=[[0.1, 0.7, 0.2, 0.9], [0.8, 0.3, 0.25, 0.6]],
    ).when_scored(),
    "integers that may be ids": warned(
        compute, "predictions", predictions=[[30, 10, 20]], references=[[10, 40, 50]]
    ),
    "integers in references that may be ids": warned(
        compute,
        "references",
        predictions=[[0.9, 0.8, 0.7]],
        document_ids=[[30, 11, 42]],
        references=[[11, 30, 66]],
    ),
    "an id in another spelling": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": {"D1": 0.9, "D2": 0.5}},
        references={"q": {"D1": 1, "d2 ": 1}},
    ).when_scored(),
    "an id that lost its zeros": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": {"12": 0.9, "7": 0.5}},
        references={"q": {"12": 1, "007": 1}},
    ).when_scored(),
    "an error in place of hits": warned(
        compute,
        "predictions",
        "query 'r'",
        predictions={"q": {"hits": [{"id": "a", "score": 0.9}]}, "r": {"error": "timed out"}},
        references={"q": {"a": 1}, "r": {"a": 1}},
    ).when_scored(),
    "ranks of two systems": warned(
        compute,
        "predictions",
        predictions=[
            {"query_id": "q", "doc_id": document, "rank": rank, "score": score}
            for document, rank, score in (("a", 1, 9), ("b", 2, 8), ("c", 1, 0.9), ("d", 2, 0.8))
        ],
        references={"q": {"a": 1}},
    ).when_scored(),
    "scores that rise": warned(
        compute,
        "predictions",
        predictions={"q": {f"d{rank}": rank / 10 for rank in range(1, 11)}},
        references={"q": {"d1": 1}},
    ),
    "relevances that are not read": warned(
        compute,
        "references",
        predictions={"q": {"a": 1, "b": 2}},
        references=[
            {"query_id": "q", "doc_id": document, "label": label}
            for document, label in (("a", 1), ("b", 0))
        ],
        fields={"relevance": None},
    ),
    "zeros as padding": warned(
        compute,
        "predictions",
        predictions=[[0.5, -0.5, 0.2, 0], [-0.1, 0.3, 0, 0]] * 3,
        references=[[1, 0, 0, 0], [0, 1, 0, 0]] * 3,
    ).when_scored(),
    "zeros as padding on the left": warned(
        compute,
        "predictions",
        predictions=[[0, 0.2, -0.5, 0.5], [0, 0, 0.3, -0.1]] * 3,
        references=[[0, 0, 0, 1], [0, 0, 1, 0]] * 3,
    ).when_scored(),
    "irrelevant documents as padding": warned(
        compute,
        "predictions",
        predictions=[[0.5, 0.2, 0.3], [0.1, 0.3, 0.2]],
        references=[[2, 0, 1], [1, 2, 0]],
        ignore_index=0,
    ).when_scored(),
    "an inverted mask": warned(
        compute,
        "predictions",
        predictions=[[-math.inf, -math.inf, 0.3], [-math.inf, 0.1, 0.2]] * 3,
        references=[[1, 0, -100], [1, -100, -100]] * 3,
        ignore_index=-100,
    ).when_scored(),
    "labels as ids": warned(
        compute,
        "predictions",
        predictions={query: {0: 0.9, 1: 0.3} for query in "pq"},
        references={query: [1, 0] for query in "pq"},
    ).when_scored(),
    "a row of totals": warned(
        compute,
        "predictions",
        predictions=[0.9, 0.5, 1.4],
        references=[1, 0, 1],
        query_ids=["q", "q", "Total"],
    ).when_scored(),
    "a total of each query": warned(
        compute,
        "predictions",
        predictions=[0.9, 0.5, 1.4, 0.8, 0.4, 1.2, 2.6],
        references=[1, 0, 1, 0, 1, 1, 2],
        query_ids=["q", "q", "q Total", "r", "r", "r Total", "Grand Total"],
    ).when_scored(),
    "queries of one relevance": warned(
        compute,
        "predictions",
        predictions=[[0.3, 0.9], [0.9, 0.2]] * 5,
        references=[[1, 1], [2, 2]] * 5,
    ).when_scored(),
    "sparse scores of the relevant documents alone": warned(
        compute,
        "predictions",
        predictions=sp.csr_array([[0, 0.3, 0, 0.9], [0.9, 0, 0.2, 0.1]] * 5),
        references=sp.csr_array([[0, 1, 0, 1], [2, 0, 2, 2]] * 5),
    ).when_scored(),
    "several first ranks": warned(
        compute,
        "predictions",
        predictions=[
            {"session": query, "doc_id": document, "position": position}
            for query in ("q", "r")
            for document, position in (("a", 1), ("b", 2), ("c", 1), ("d", 2))
        ],
        references={"q": {"a": 1}, "r": {"b": 1}},
        fields={"query": ("session", None)},
        score_order="ascending",
    ).when_scored(),
    "unread ranks of two systems": warned(
        compute,
        "data",
        data={
            "query": ["q", "q", "q", "q", "r", "r", "r"],
            "rank": [1, 2, 1, 2, 1, 1, None],
            "score": [0.9, 0.2, 0.8, 0.1, 0.7, 0.6, None],
            "grade": [1, 0, 0, 1, 0, 1, 1],
        },
        predictions="score",
        references="grade",
        query_ids="query",
    ),
    "ranks of two systems with scores alike": warned(
        compute,
        "predictions",
        predictions=[
            {"query_id": query, "doc_id": document, "rank": rank, "score": score}
            for query in ("q", "r")
            for document, rank, score in (
                ("a", 1, 0.9),
                ("b", 2, 0.2),
                ("c", 1, 0.8),
                ("d", 2, 0.1),
            )
        ],
        references={"q": {"a": 1}, "r": {"b": 1}},
    ).when_scored(),
    "queries of other ids on both sides": warned(
        compute,
        "predictions",
        predictions={f"q{number}": {"a": 1, "b": 0} for number in range(12)},
        references={f"q{number}": {"a": 1} for number in range(5, 17)},
    ).when_scored(),
    "a query in another spelling": warned(
        compute,
        "predictions",
        predictions={"red shoes": {"a": 0.9}, "blue shoes ": {"a": 0.8}},
        references={"red shoes": {"a": 1}, "blue shoes": {"a": 1}},
    ).when_scored(),
    "documents with the ids of their queries": warned(
        compute,
        "predictions",
        predictions={query: {query: 1, "x": 0.9} for query in "abcde"},
        references={query: {"x": 1} for query in "abcde"},
    ).when_scored(),
    "sides that are swapped": warned(
        compute,
        "predictions",
        predictions=[[at % 4 for at in range(15)]],
        references=[[at / 16 + 0.01 for at in range(15)]],
    ).when_scored(),
    "scores that are positions": warned(
        compute,
        "predictions",
        predictions=[[2, 0, 1, 4, 3]] * 4,
        references=[[1, 0, 0, 0, 0]] * 4,
    ).when_scored(),
    "ids of rows as query_ids": warned(
        compute,
        "predictions",
        predictions=[at % 7 for at in range(20)],
        references=[at % 3 for at in range(20)],
        query_ids=list(range(20)),
    ),
    "documents that are all padding": warned(
        compute,
        "predictions",
        predictions=[[0.3, 0.2], [0.4, 0.1]],
        references=[[-100, -100], [-100, -100]],
        ignore_index=-100,
    ).when_scored(),
    "scores that are distances": warned(
        compute,
        "predictions",
        predictions=[[0.1, 0.2, 0.4, 0.5, 0.7, 0.8, 0.9]] * 3,
        references=[[1, 0, 0, 0, 0, 0, 0]] * 3,
    ).when_scored(),
    "ids that count from 0": warned(
        compute,
        "predictions",
        predictions={"q": [{"corpus_id": 1, "score": 0.9}, {"corpus_id": 0, "score": 0.2}]},
        references={"q": {1: 1, 30: 1}},
    ),
    "ids of the best of few candidates": warned(
        compute,
        "predictions",
        predictions={query: [(query + step) % 6 for step in (4, 0, 3)] for query in range(6)},
        references={query: {query: 1, 30: 1, 50: 1} for query in range(6)},
    ),
    "a filtered document": warned(
        compute,
        "predictions",
        predictions=np.array([[0.5, np.finfo(np.float32).min]], np.float32),
        references=[[1, 0]],
    ),
    "empty lists alone": warned(
        compute, "predictions", predictions=[[], []], references=[{"a"}, {"b"}]
    ).when_scored(),
    "hits in another order than their scores": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": [{"id": "a", "score": 0.2}, {"id": "b", "score": 0.9}]},
        references=QRELS,
    ),
    "hits in another order than their ranks": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]},
        references=QRELS,
        fields={"score": None},
    ),
    "equal scores beside ranks": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": [{"id": "a", "rank": 1, "score": 1}, {"id": "b", "rank": 2, "score": 1}]},
        references=QRELS,
    ),
    "similarities in ascending order": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": [{"id": name, "similarity": 5 - at} for at, name in enumerate("abc")]},
        references=QRELS,
        score_order="ascending",
    ).when_scored(),
    "similarities in ascending order, by a name of their own": warned(
        compute,
        "predictions",
        predictions={"q": [{"id": name, "near": 1 / at} for at, name in enumerate("abcdefg", 2)]},
        references=QRELS,
        fields={"score": "near"},
        score_order="ascending",
    ).when_scored(),
    "gaps in ranks": warned(
        compute,
        "predictions",
        "query 'q'",
        predictions={"q": {"a": 1, "b": 3}},
        references=QRELS,
        score_order="ascending",
    ).when_scored(),
    "the same documents on both sides": warned(
        compute,
        "predictions",
        predictions=(log := [{"query": "q", "ids": ["a", "b"]}]),
        references=log,
    ),
    "the same documents of a log that is loaded twice": warned(
        compute, "predictions", predictions=log, references=[*log]
    ).when_scored(),
    "graded documents on both sides, beside the retrieved ones": warned(
        compute,
        "predictions",
        predictions=(
            graded := [{"query": "q", "gold": ["b"], "grades": [2], "retrieved_ids": ["a", "b"]}]
        ),
        references=graded,
        fields={"document": "gold", "score": None, "relevance": "grades"},
    ),
}

READER = pa.table({"user": [1, 1], "item": [7, 8], "score": [0.5, 0.25]}).to_reader()


def tensor() -> Any:
    """A tensor of three scores."""
    import torch

    return torch.tensor([0.5, 1.0, 2.0])


def series(values: list[Any], ids: list[Any] | None = None) -> Any:
    """A column of pandas."""
    import pandas as pd

    return pd.Series(values, ids)


ROWS: dict[str, Row] = {
    f"{group}: {name}": row
    for group, rows in {
        "by position": BY_POSITION,
        "matrices": MATRICES,
        "flat": FLAT_COLUMNS,
        "by id": BY_ID_OF_DOCUMENTS,
        "weights": WEIGHTS,
        "batches": BATCHES,
        "slices": SLICES,
        "documents": SELECTED,
        "warning": WARNINGS,
    }.items()
    for name, row in rows.items()
}
