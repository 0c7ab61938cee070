"""Ranks, gains and discounts of a query's documents add up to DCG, in all formats and options."""

import doctest
from typing import Any

import evaluate
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg.scores import documents as room


@settings(max_examples=50)
@given(data=st.data())
def test_gain_times_discount_adds_up_to_dcg(ndcg: evaluate.Metric, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    shape = (data.draw(st.integers(1, 4)), data.draw(st.integers(1, 8)))
    sides = {
        name: np.where(rng.random(shape) < 0.2, None, rng.integers(*values, shape)).tolist()
        for name, values in (("references", (0, 4)), ("predictions", (-3, 3)))
    }
    choices: dict[str, list[Any]] = {
        "gain": ["linear", "exponential", [0, 1, 3, 7]],
        "discount": ["log", "reciprocal"],
        "judged_only": [False, True],
        "k": [None, 1, 3],
        "ties": ["average", "first", "last", "best", "worst", "docid"],
    }
    options = {name: data.draw(st.sampled_from(each)) for name, each in choices.items()}
    inputs: dict[str, Any] = {
        side: {
            f"q{at}": {f"d{d}": v for d, v in enumerate(row) if v is not None}
            for at, row in enumerate(rows)
        }
        for side, rows in sides.items()
    }
    values = ndcg.compute(
        **inputs, **options, measures="DCG", use_aggregator=False, missing="empty"
    )
    found = dict.fromkeys(inputs["references"], 0.0)
    for row in ndcg.documents(**inputs, **options).to_pylist():
        found[row["query"]] += row["gain"] * row["discount"]
    (dcg,) = values.values()
    assert list(found.values()) == pytest.approx(dcg, abs=1e-12)


RUN = {"q1": {"a": 3, "b": 3, "c": 1}, "q2": {"a": 1}}
QRELS = {"q1": {"b": 2, "c": 0, "z": 1, "y": 3}, "q2": {"a": 1}}
ROWS = {"predictions": [1, 2, 3], "references": [0, 1, 1]}


def test_each_document_has_its_rank_and_those_not_retrieved_come_last_by_gain(
    ndcg: evaluate.Metric,
) -> None:
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
        ({"exclude": {"q1": ["b"]}, "exclude_from": "run"}, ["a", "c"]),
    ],
    ids=str,
)
def test_the_order_follows_the_options(
    ndcg: evaluate.Metric, options: dict[str, Any], ranked: list[str]
) -> None:
    found = ndcg.documents(predictions=RUN, references=QRELS, queries=["q1"], **options).to_pylist()
    assert [row["document"] for row in found if row["rank"] is not None] == ranked


@pytest.mark.parametrize(
    ("inputs", "names"),
    [
        (
            {"predictions": [["a", "b"], ["c"]], "references": [["b"], ["d"]]},
            [[0, "a"], [0, "b"], [1, "c"], [1, "d"]],
        ),
        ({"predictions": [[2, 1], [1]], "references": [[1, 0], [1]]}, [[0, 0], [0, 1], [1, 0]]),
        ({**ROWS, "query_ids": ["x", "y", "x"]}, [["x", 2], ["x", 0], ["y", 1]]),
        (
            {**ROWS, "query_ids": [7, 8, 7], "document_ids": ["a", "b", "c"]},
            [[7, "c"], [7, "a"], [8, "b"]],
        ),
    ],
    ids=["ranked ids", "lists", "rows", "rows with ids"],
)
def test_documents_have_their_ids_or_positions_or_rows(
    ndcg: evaluate.Metric, inputs: Any, names: Any
) -> None:
    found = ndcg.documents(**inputs)
    assert [list(row.values()) for row in found.select(["query", "document"]).to_pylist()] == names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"queries": ["q1", "q9"]},
            r"^queries: 'q9' is not a query of the references \(1 such queries\)$",
        ),
        ({"k": [1, 5]}, r"^k must be one cutoff, since a document has one discount; got \(1, 5\)$"),
        (
            {"references": {"q1": {"b": -1}, "q2": {"a": 1}}},
            "^references: query 'q1', document 'b': the relevance -1",
        ),
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
