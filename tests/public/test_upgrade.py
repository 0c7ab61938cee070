"""The calls of docs/upgrade.md: what 2.1 read is refused or read otherwise, and the new call."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from markdown_pages import text
from refusals import warning
from scipy.sparse import csr_array

import ndcg

RUN = {"q1": {"d3": 0.9, "d1": 0.7}, "q2": {"d2": 0.8}}
QRELS = {"q1": {"d1": 2, "d4": 1}, "q2": {"d2": 1}}
RELEVANT = {"q1": {"d1"}, "q2": {"d2"}}
ROWS = [
    (query, document, score)
    for query, documents in RUN.items()
    for document, score in documents.items()
]
TABLE = pd.DataFrame(ROWS, columns=["qid", "docno", "score"])


class Case(NamedTuple):
    """What 2.1 read."""

    inputs: dict[str, Any]  # the arguments
    names: Mapping[str, Any] = {}  # the names that the call of the page uses
    error: str = (
        "fields"  # what the error of the old arguments says; empty: they are read otherwise
    )
    file: str = ""  # the content of the run, in run.json
    expected: tuple[float, ...] = (1 / np.log2(3), 1.0)  # the values of queries


def hits(make: Callable[[str, float], Any]) -> dict[str, list[Any]]:
    """Return a hit for each document of each query."""
    return {
        query: [make(document, score) for document, score in row.items()]
        for query, row in RUN.items()
    }


def run(predictions: Any, references: Any = RELEVANT, **options: Any) -> dict[str, Any]:
    """Return the arguments of a run."""
    return {"predictions": predictions, "references": references, **options}


def qrels(references: Any) -> dict[str, Any]:
    """Return the arguments of references beside the run."""
    return {"predictions": RUN, "references": references}


HITS = hits(lambda document, score: {"id": document, "score": score})
NODES = hits(
    lambda document, score: {"node": {"node_id": document, "id_": document}, "score": score}
)
WITHOUT_NAMES = [{"took": 3, "hits": found} for found in HITS.values()]
WITH_NAMES = [{"query_id": query, "hits": found} for query, found in HITS.items()]
DISTANCES = {
    "ids": [[*row] for row in RUN.values()],
    "distances": [[0.1, 0.3], [0.2]],
    "metadatas": None,
}
NULLS = {"q1": [*HITS["q1"], {"id": "d8", "score": None}], "q2": HITS["q2"]}
REQUEST = {
    "requests": [
        {
            "id": query,
            "request": {},
            "ratings": [{"_id": document, "rating": 1} for document in row],
        }
        for query, row in RELEVANT.items()
    ]
}
ANSWER = {
    "details": {
        query: {
            "metric_score": 1,
            "unrated_docs": [{"_id": "d7"}],
            "hits": [
                {"hit": {"_id": document, "_score": score}} for document, score in row.items()
            ],
        }
        for query, row in RUN.items()
    }
}
JUDGED = pd.DataFrame(
    {"qid": ["q1", "q2"], "docno": ["d1", "d2"], "score": [1, 1], "text": ["a", "b"]}
)
LABELS = TABLE.assign(label=[0, 1, 1])
LACKING = pd.concat([LABELS, pd.DataFrame({"qid": ["q1"], "docno": ["d9"]})])
RATED = {query: dict.fromkeys(row, 1) for query, row in RELEVANT.items()}
INDEXED = [
    [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.3}],
    [{"index": 0, "relevance_score": 0.9}],
]
SAME = {"predictions": [{"d1": 0.7, "d3": 0.9}] * 2, "references": [{"d1": 1, "d3": 0}] * 2}
BY_NUMBER = {"predictions": [{3: 0.9, 1: 0.7}, {2: 0.8}], "references": [[1], [2]]}
JUDGMENTS = [
    {
        "query": query,
        "ratings": [{"docId": document, "rating": "1.0"} for document in documents],
    }
    for query, documents in RELEVANT.items()
]
SCORED = {
    query: {document: {"score": score} for document, score in row.items()}
    for query, row in RUN.items()
}
ANSWERS = {
    "q1": {"ids": [["3", "1"]], "distances": [[0.1, 0.3]]},
    "q2": {"ids": [["2", "8"]], "distances": [[0.2, 0.4]]},
}
NUMBERED = {"q1": {"1"}, "q2": {"2"}}
COLUMNS = {**TABLE.to_dict("list"), "system": "bm25"}
NESTED = {"default": {"test": RUN}}
TRIPLES = {
    query: [(document, rank, score) for rank, (document, score) in enumerate(row.items(), 1)]
    for query, row in RUN.items()
}

CASES: dict[str, Case] = {
    "Several standard names": Case(run(TABLE.assign(similarity=TABLE["score"]))),
    "A query beside a user or a session": Case(
        run(TABLE.rename(columns={"qid": "user_id"}).assign(query=["a", "a", "b"]))
    ),
    "A rank or a distance beside a score": Case(
        run(TABLE.assign(rank=[1, 2, 1]), score_order="ascending")
    ),
    "A hit's `id` beside a `doc_id`": Case(
        run(
            hits(
                lambda document, score: {
                    "id": document,
                    "score": score,
                    "metadata": {"doc_id": f"of {document}"},
                }
            )
        ),
        error="",
    ),
    "Two ids of a hit": Case(run(NODES)),
    "Hits without a score": Case(run(hits(lambda document, score: {"id": document, "text": "t"}))),
    "Hits with a rank": Case(
        run(
            {
                "q1": [{"id": "d3", "rank": 1}, {"id": "d1", "rank": 2}],
                "q2": [{"id": "d2", "rank": 1}],
            }
        )
    ),
    "A score under another name": Case(
        run(hits(lambda document, score: {"id": document, "relevance": score}))
    ),
    "The `rating` of ALS": Case(
        run(
            [
                {
                    "user": query,
                    "recommendations": [
                        {"item": document, "rating": score} for document, score in row.items()
                    ],
                }
                for query, row in RUN.items()
            ]
        )
    ),
    "Scores of null": Case(run(NULLS), {"run": NULLS}, "has no score"),
    "A run without any score": Case(run(TABLE.assign(score=None))),
    "Relevant documents with a text": Case(
        qrels(
            {
                query: [{"id": document, "text": "t"} for document in row]
                for query, row in RELEVANT.items()
            }
        )
    ),
    "A `score` or a `weight` as the relevance": Case(qrels(JUDGED)),
    "Objects whose query has no standard name": Case(run(WITHOUT_NAMES, [*RELEVANT.values()])),
    "A response around queries": Case(
        run({"responses": WITHOUT_NAMES}, [*RELEVANT.values()]),
        {"answer": {"responses": WITHOUT_NAMES}},
    ),
    "Queries with names in a response": Case(
        run({"results": WITH_NAMES}), error="no query under a standard name"
    ),
    "Two lists of hits": Case(
        run(
            [
                {"query_id": query, "retrieved": [*found], "reranked": found}
                for query, found in HITS.items()
            ]
        )
    ),
    "Columns of lists in a response": Case(
        run(DISTANCES, [*RELEVANT.values()], score_order="ascending"),
        {"result": DISTANCES},
        "give",
    ),
    "Lists of lists in the object of a query": Case(
        run(ANSWERS, NUMBERED, score_order="ascending"),
        {"results": ANSWERS},
        "an id must be text or an integer",
    ),
    "Pairs in a list of another name": Case(
        run([{"qid": query, "hits": [*row.items()]} for query, row in RUN.items()])
    ),
    "An object for each document": Case(run(SCORED), {"run": SCORED}),
    "Columns beside single values": Case(run(COLUMNS), {"columns": COLUMNS}),
    "An `index` of a reranker": Case(run(INDEXED, [[1, 0], [1]]), {"labels": [[1, 0], [1]]}),
    "Lists of integers as references": Case(BY_NUMBER, {"relevant": [[1], [2]]}, "give sets"),
    "Lists of integers as long as sparse references are wide": Case(
        run([[2, 1, 0], [0, 2, 1]], csr_array([[0, 1, 0], [0, 1, 0]])),
        {"scores": [[2, 1, 0], [0, 2, 1]]},
        "columns",
    ),
    "Triples of id, rank and score": Case(run(TRIPLES), {"data": TRIPLES}, "give"),
    "Tuples as queries": Case(
        run([("d3", "d1"), ("d2",)], [*RELEVANT.values()]),
        {"ranked": [("d3", "d1"), ("d2",)]},
        "row of a table",
    ),
    "Mappings with the same keys": Case(
        SAME,
        {"run": SAME["predictions"], "judged": SAME["references"]},
        expected=(1 / np.log2(3),) * 2,
    ),
    "`frame.to_dict()`": Case(run(TABLE.to_dict()), {"frame": TABLE}, "give the table"),
    "`frame.to_json(path)`": Case(
        run("run.json"), {"path": "run.json"}, "give the table", file=TABLE.to_json()
    ),
    "Nested predictions of MTEB": Case(
        run("run.json"), {"content": NESTED}, file=json.dumps(NESTED)
    ),
    "Requests of Elasticsearch's `_rank_eval`": Case(qrels(REQUEST)),
    "Answers of `_rank_eval`": Case(run(ANSWER["details"]), {"answer": ANSWER}),
    "Judgment lists of OpenSearch": Case(qrels({"judgmentRatings": JUDGMENTS})),
    "Ratings in a mapping": Case(
        qrels([{"query": query, "ratings": ratings} for query, ratings in RATED.items()])
    ),
    "A row without a score and a relevance": Case(
        {"data": LACKING, "predictions": "score", "references": "label", "query_ids": "qid"},
        {"frame": LACKING},
        "neither",
    ),
}


def calls() -> dict[str, str]:
    """Return the arguments that the page gives for 3.0, by what 2.1 read."""
    section = text(ROOT / "docs" / "upgrade.md").split("## From 2.1 to 3.0\n")[1].split("\n## ")[0]
    return dict(re.findall(r"(?m)^\| \*\*(.+?)\*\*.* \| `([^|]+?)`[^`|]*\|$", section))


def test_every_row_of_the_page_has_its_case() -> None:
    assert list(calls()) == list(CASES)


@pytest.mark.parametrize("read", CASES)
def test_what_2_1_read_is_refused_and_the_call_of_the_page_is_right(
    read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[read]
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(case.file, encoding="utf-8")
    if case.error:
        with pytest.raises(ValueError, match=case.error):
            ndcg.compute(**case.inputs)
    else:
        with warning("predictions", "no document"):
            ndcg.compute(**case.inputs)
    arguments = eval(f"dict({calls()[read]})", {"pandas": pd, **case.names})
    values = ndcg.compute(**case.inputs | arguments, use_aggregator=False)["nDCG"]
    assert values == pytest.approx(case.expected, rel=1e-12)
