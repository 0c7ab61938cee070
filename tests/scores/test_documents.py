"""The documents of a query: their ranks, gains and discounts add up to DCG, over all formats and options."""

import doctest
from typing import Any

import evaluate
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg.scores import documents as room


@given(data=st.data())
def test_gain_times_discount_adds_up_to_dcg(ndcg: evaluate.Metric, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    shape = (data.draw(st.integers(1, 4)), data.draw(st.integers(1, 8)))
    grades = np.where(rng.random(shape) < 0.2, None, rng.integers(0, 4, shape)).tolist()
    scores = np.where(rng.random(shape) < 0.2, None, rng.integers(-3, 3, shape)).tolist()
    options = {
        "gain": data.draw(st.sampled_from(["linear", "exponential", [0, 1, 3, 7]])),
        "discount": data.draw(st.sampled_from(["log", "reciprocal"])),
        "judged_only": data.draw(st.booleans()),
        "k": data.draw(st.sampled_from([None, 1, 3])),
    }
    ties = data.draw(st.sampled_from(["average", "first", "last", "best", "worst", "docid"]))
    inputs: dict[str, Any] = {"predictions": scores, "references": grades}
    if ties == "docid" or data.draw(st.booleans()):
        inputs = {
            side: {f"q{at}": {f"d{d}": v for d, v in enumerate(row) if v is not None} for at, row in enumerate(rows)}
            for side, rows in inputs.items()
        }
    table = ndcg.documents(**inputs, **options, ties=ties)
    values = ndcg.compute(**inputs, **options, ties=ties, measures="DCG", use_aggregator=False, missing="empty")
    by_query: dict[Any, float] = {}
    for row in table.to_pylist():
        by_query[row["query"]] = by_query.get(row["query"], 0) + row["gain"] * row["discount"]
    names = list(inputs["references"]) if isinstance(inputs["references"], dict) else range(shape[0])
    for query, (dcg,) in zip(names, zip(*values.values(), strict=True), strict=True):
        assert by_query.get(query, 0) == pytest.approx(dcg, abs=1e-12)


RUN = {"q1": {"a": 3, "b": 3, "c": 1}, "q2": {"a": 1}}
QRELS = {"q1": {"b": 2, "c": 0, "z": 1, "y": 3}, "q2": {"a": 1}}


def test_each_document_has_its_rank_and_those_not_retrieved_come_last_by_gain(ndcg: evaluate.Metric) -> None:
    found = ndcg.documents(predictions=RUN, references=QRELS, queries=["q1"], k=2)
    columns = ["document", "relevance", "rank", "last_rank"]
    assert [list(row.values()) for row in found.select(columns).to_pylist()] == [
        ["a", None, 1, 2],
        ["b", 2.0, 1, 2],
        ["c", 0.0, 3, 3],
        ["y", 3.0, None, None],
        ["z", 1.0, None, None],
    ]
    shared = (1 + 1 / np.log2(3)) / 2
    assert found["discount"].to_pylist() == pytest.approx([shared, shared, 0, 0, 0])


@pytest.mark.parametrize(
    ("options", "ranked"),
    [
        ({"ties": "first"}, ["a", "b", "c"]),
        ({"ties": "last"}, ["b", "a", "c"]),
        ({"ties": "best"}, ["b", "a", "c"]),
        ({"ties": "worst"}, ["a", "b", "c"]),
        ({"ties": "docid"}, ["b", "a", "c"]),
        ({"judged_only": True}, ["b", "c"]),
        ({"exclude": {"q1": ["b"]}}, ["a", "c"]),
    ],
    ids=str,
)
def test_the_order_follows_the_options(ndcg: evaluate.Metric, options: dict[str, Any], ranked: list[str]) -> None:
    found = ndcg.documents(predictions=RUN, references=QRELS, queries=["q1"], **options).to_pylist()
    assert [row["document"] for row in found if row["rank"] is not None] == ranked


@pytest.mark.parametrize(
    ("inputs", "names"),
    [
        ({"predictions": [["a", "b"], ["c"]], "references": [["b"], ["d"]]}, [[0, "a"], [0, "b"], [1, "c"], [1, "d"]]),
        ({"predictions": [[2, 1], [1]], "references": [[1, 0], [1]]}, [[0, 0], [0, 1], [1, 0]]),
        (
            {"predictions": [1, 2, 3], "references": [0, 1, 1], "query_ids": ["x", "y", "x"]},
            [["x", 2], ["x", 0], ["y", 1]],
        ),
        (
            {
                "predictions": [1, 2, 3],
                "references": [0, 1, 1],
                "query_ids": [7, 8, 7],
                "document_ids": ["a", "b", "c"],
            },
            [[7, "c"], [7, "a"], [8, "b"]],
        ),
    ],
    ids=["ranked ids", "lists", "rows", "rows with ids"],
)
def test_documents_have_their_ids_or_positions_or_rows(ndcg: evaluate.Metric, inputs: Any, names: Any) -> None:
    found = ndcg.documents(**inputs)
    assert [list(row.values()) for row in found.select(["query", "document"]).to_pylist()] == names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": ["q1", "q9"]}, r"^queries: 'q9' is not a query of the references \(1 such queries\)$"),
        ({"k": [1, 5]}, r"^k must be one cutoff, since a document has one discount; got \(1, 5\)$"),
        ({"references": {"q1": {"b": -1}, "q2": {"a": 1}}}, "^references: query 'q1', document 'b': the relevance -1"),
    ],
)
def test_questions_without_an_answer_are_rejected(
    ndcg: evaluate.Metric, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ndcg.documents(**{"predictions": RUN, "references": QRELS, **arguments})


def test_the_examples_of_the_module_are_true() -> None:
    assert doctest.testmod(room).attempted > 0
    assert doctest.testmod(room).failed == 0
