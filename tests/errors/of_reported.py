"""Reported scores that `explain` cannot compare: numbers, and files of the values of queries."""

import math
from typing import Any

from refusals import File, Row, refused

from ndcg import explain

RUN, QRELS = {"a": {"x": 1.0, "y": 2.0}, "b": {"y": 1.0}}, {"a": {"x": 1}, "b": {"x": 0}}
SUBSET = {"ndcg_at_10": 0.5921, "main_score": 0.5921, "hf_subset": "default", "languages": ["en"]}
CUT_LINES = '{"query": "a", "nDCG": 1}\n{"query"'
MTEB = {"dataset_revision": "a1", "task_name": "T", "mteb_version": "2.26"}


def reported(value: Any, *places: str, k: int | None = None) -> Row:
    """The row of a reported score that is refused."""
    return refused(explain, "got", *places, predictions=RUN, references=QRELS, k=k, got=value)


def values(content: str | bytes, *places: str, k: int | None = None) -> Row:
    """The row of a file with the values of queries that is refused."""
    return reported(File("values.txt", content), "values.txt", *places, k=k)


def rank_eval(details: dict[str, Any]) -> dict[str, Any]:
    """What Elasticsearch answers for one query."""
    query = {"metric_score": 0.5, "unrated_docs": [], "hits": [], "metric_details": details}
    return {"metric_score": 0.5, "details": {"a": query}, "failures": {}}


ROWS: dict[str, Row] = {
    "no digits, 1": reported("1"),
    "no digits, 0": reported("0"),
    "no value of a query in a list": reported([None, None]),
    "nan for each query in a list": reported([math.nan, math.nan]),
    "no value of a query in a mapping": reported({"a": None, "b": None}),
    "only another measure in a mapping": reported({"MRR@10": 0.5}),
    "records with numbers as names": reported([{1.0: 0.5, 2.0: 1.0, 3.0: 1.0}]),
    "means at other cutoffs": reported({"ndcg@1": 0.75, "ndcg@10": 0.5921, "map": 0.2}, k=5),
    "several subsets or splits of MTEB": reported(
        {**MTEB, "scores": {"dev": [SUBSET], "test": [{**SUBSET, "ndcg_at_10": 0.6}]}}, k=10
    ),
    "the DCG of Elasticsearch": reported(rank_eval({"dcg": {"dcg": 3.0, "unrated_docs": 1}}), k=10),
    "the precision of Elasticsearch": reported(rank_eval({"precision": {}}), k=10),
    "reports by run": reported({"bm25": {"queries": {"query": ["a"], "nDCG@10": [1]}}}, k=10),
    "a column of measures": values("query_id,measure,value\na,nDCG@10,0.75\nb,nDCG@10,0\n"),
    "a column of measures without queries": reported([{"measure": "nDCG@10", "value": 0.75}]),
    "values without queries in records": reported([{"nDCG@10": 0.75}, {"nDCG@10": 0}], k=10),
    "a file with several cutoffs": values("ndcg_cut_5 a 1\nndcg_cut_10 a 1\n"),
    "a file with another cutoff": values("ndcg_cut_5 a 1\n", k=10),
    "a file without a cutoff": values("ndcg a 1\n", k=10),
    "a file with other measures": values("map a 0.5\nP_10 a 0.1\n", k=10),
    "an empty file": values("", k=10),
    "a query twice in a file": values("a 0.5\na 0.6", k=10),
    "a query for some values of a file": values("a 0.5\n0.6", "line 2", k=10),
    "four words in a line": values("a 0.5\nb c d 0.6", "line 2", k=10),
    "a word as a value": reported(File("values.txt", "a 0.5\nb high"), k=10),
    "three cells in a line": values("query,nDCG@10\na,0.5,1", "line 2", k=10),
    "columns without an nDCG": values("query,P,R\na,0.5,1", k=10),
    "JSON Lines that end early": values(CUT_LINES, "line 2").quoting("Expecting "),
    "JSON that ends early": values('{"a": 0.63', "line 1", k=10).quoting("Expecting "),
    "values of several runs": values("run,query,nDCG@10\nbm25,a,0.5\ndense,a,0.6", k=10),
    "a file that is not text": values(b"a 0.63\n\xff 1\n", k=10),
}
