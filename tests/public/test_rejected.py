"""Rankings without a meaning are refused in one line that names argument and place."""

import math
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from refusals import Unreadable, UnreadableCapsule, refusal
from sources import TABLES, Inputs, Table, jnp, pd, pl, torch

SECOND = 1 / math.log2(2 + 1)  # the nDCG of one relevant document at the second rank
TWO_ROWS: Inputs = {"predictions": [0.5, 1.0], "references": [1, 0], "query_ids": ["q", "q"]}


# --- Scores and relevances ------------------------------------------------------------------------


# 0.5 and 1 in types that are seldom used for scores
STRANGE_NUMBERS: dict[str, Callable[[], Any]] = {
    "scalars with gradients": lambda: [
        torch.tensor(value, requires_grad=True) for value in (0.5, 1.0)
    ],
    "bfloat16 scalars": lambda: [torch.tensor(value, dtype=torch.bfloat16) for value in (0.5, 1.0)],
    "JAX bfloat16 scalars": lambda: [jnp.array(value, jnp.bfloat16) for value in (0.5, 1.0)],
    "0-d arrays": lambda: [np.array(0.5), np.array(1.0)],
    "a bfloat16 tensor with a gradient": lambda: (
        torch.tensor([0.5, 1.0]).bfloat16().requires_grad_()
    ),
    "a lazily negative tensor": lambda: torch._neg_view(-torch.tensor([0.5, 1.0])),
    "pandas sparse": lambda: pd.Series(pd.arrays.SparseArray([0.5, 1.0])),
}


@pytest.mark.parametrize("strange", STRANGE_NUMBERS)
def test_numbers_may_be_of_strange_types(ndcg: evaluate.Metric, strange: str) -> None:
    values = STRANGE_NUMBERS[strange]()
    for inputs, expected in (
        ({**TWO_ROWS, "predictions": values}, SECOND),
        ({"predictions": [values], "references": [[1, 0]]}, SECOND),
        ({**TWO_ROWS, "references": values}, 1.0),
        ({**TWO_ROWS, "query_ids": ["q", "p"], "sample_weight": values}, 1 / 3),  # of 1 and 0
    ):
        assert ndcg.compute(**inputs) == {"nDCG": pytest.approx(expected, rel=1e-15)}


@pytest.mark.parametrize(
    "strange", [name for name in STRANGE_NUMBERS if "scalars" in name or "arrays" in name]
)
def test_numbers_in_mappings_may_be_of_strange_types(ndcg: evaluate.Metric, strange: str) -> None:
    run = dict(zip("ab", STRANGE_NUMBERS[strange](), strict=True))
    assert ndcg.compute(predictions={"q": run}, references={"q": {"a": 1, "b": 0}}) == {
        "nDCG": pytest.approx(SECOND)
    }


NOT_NUMBERS: dict[str, Callable[[], Any]] = {
    "a sparse tensor": lambda: torch.tensor([0.5, 1.0]).to_sparse(),
    "a tensor without data": lambda: torch.tensor([0.5, 1.0]).to("meta"),
    "one-element arrays": lambda: [np.array([0.5]), np.array([1.0])],
    "pandas text": lambda: pd.Series([0.5, "x"]),
    "pandas periods": lambda: pd.Series(pd.period_range("2026", periods=2, freq="D")),
    "Polars Int128": lambda: pl.Series([1, 2], dtype=pl.Int128),
    "dates": lambda: np.array(["2026-01-01", "2026-01-02"], "M8[D]"),
    "unreadable numbers": lambda: [Unreadable(), Unreadable()],
    "an unreadable array": Unreadable,
    "an unreadable capsule": UnreadableCapsule,
}


@pytest.mark.parametrize("strange", NOT_NUMBERS)
def test_values_that_are_not_numbers_are_rejected_by_their_argument(
    ndcg: evaluate.Metric, strange: str
) -> None:
    values = NOT_NUMBERS[strange]()
    first = values[0] if isinstance(values, list) else values
    for argument in ("predictions", "references", "sample_weight"):
        inputs = {**TWO_ROWS, "query_ids": ["q", "p"], argument: values}
        with refusal(argument):
            ndcg.compute(**inputs)
    # A list of dates, as one of text, holds ids, so that the numbers beside it are at fault.
    with refusal("references" if strange == "dates" else "predictions"):
        ndcg.compute(predictions=[values], references=[[1, 0]])
    with refusal("predictions"):
        ndcg.compute(predictions={"q": {"a": first, "b": 1.0}}, references={"q": {"a": 1, "b": 0}})


@pytest.mark.parametrize(
    "inputs",
    [
        {"predictions": [[1, 1e39, 0]], "references": [[1, -100, 0]]},
        {
            "predictions": np.ma.MaskedArray([[1, 1e39, 0]], [[False, True, False]]),
            "references": [[1, 0, 0]],
        },
        {**TWO_ROWS, "predictions": [1, 1e39], "document_ids": ["a", "b"], "exclude": {"q": ["b"]}},
        {"predictions": [[1, -math.inf, -1e30]], "references": [[1, 0, 0]]},
    ],
    ids=["padding", "masked", "excluded", "minus infinity"],
)
def test_a_score_may_be_too_large_for_32_bit_floats_where_it_does_not_count(
    ndcg: evaluate.Metric, inputs: Inputs
) -> None:
    assert ndcg.compute(**inputs, score_dtype="float32", ignore_index=-100) == {"nDCG": 1.0}


# --- Tables ---------------------------------------------------------------------------------------

RECORDS: dict[str, Table] = {
    "an array of records": lambda table, _: table.to_pandas().to_records(index=False)
}
TABLE = pa.table({"user": [1, 1, 2], "item": [7, 8, 7], "score": [0.5, 0.25, 1.0]})


@pytest.mark.parametrize("form", [*TABLES.values(), *RECORDS.values()], ids=[*TABLES, *RECORDS])
def test_a_table_beside_lists_is_rejected(
    ndcg: evaluate.Metric, form: Table, tmp_path: Path
) -> None:
    lists = [[0.5, 0.25], [1.0]]
    with refusal("predictions"):
        ndcg.compute(
            predictions=lists, references=form(TABLE, tmp_path), fields={"relevance": "score"}
        )
    with refusal("references"):
        ndcg.compute(predictions=form(TABLE, tmp_path), references=lists)


# --- Flat columns ---------------------------------------------------------------------------------

THREE: Inputs = {"predictions": [1, 2, 3], "references": [1, 0, 1], "query_ids": ["q", "q", "p"]}
NOT_IDS: dict[str, Callable[[], Any]] = {
    "None": lambda: ["a", None, "b"],
    "None in Arrow": lambda: pa.array([None, "a", "b"]),
    "None in categories": lambda: pd.Series(["a", "b", None], dtype="category"),
    "masked": lambda: np.ma.MaskedArray([1, 1, 2], [0, 1, 0]),
    "floats": lambda: [1.0, 1.0, 2.0],
    "truth values": lambda: [True, False, True],
    "categories of floats": lambda: pa.array([1.5, 1.5, 2.0]).dictionary_encode(),
    "NumPy floats": lambda: np.array([1.0, 1.0, 2.0]),
    "nan in pandas": lambda: pd.Series([1.0, None, 2.0]),
    "integers and strings": lambda: [1, "a", 2],
    "2-D": lambda: [["a", "a", "b"]],
    "a 2-D array": lambda: np.array([[1, 1, 2]]),
    "a number": lambda: 5,
    "text": lambda: "abc",
    "an integer beyond 64 bits": lambda: [2**70, 1, 1],
    "tuples": lambda: [("a", 1), ("a", 1), ("b", 1)],
    "UUIDs": lambda: [uuid.UUID(int=at) for at in range(3)],
    "Arrow UUIDs": lambda: pa.array([bytes([at]) * 16 for at in range(3)], pa.uuid()),
    "decimals": lambda: [Decimal(1), Decimal(2), Decimal(3)],
    "pandas periods": lambda: pd.Series(pd.period_range("2026", periods=3, freq="D")),
    "pandas mixed": lambda: pd.Series([1, "a", 2], dtype=object),
    "a sparse tensor": lambda: torch.tensor([0.5, 1.0, 1.0]).to_sparse(),
    "lone surrogates": lambda: ["\ud800", "b", "b"],
    "unreadable": Unreadable,
    "a time": lambda: pa.array([2**62, 1, 1], pa.timestamp("s")),
    "a time in no zone": lambda: pa.array([1, 2, 1], pa.timestamp("s", "Mars/Phobos")),
    "dates": lambda: pa.array([1, 2**62, 1], pa.date64()),
    "categories of times": lambda: pa.chunked_array(
        [pa.array([1, 1, 2**62], pa.timestamp("s")).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("argument", ["query_ids", "document_ids"])
@pytest.mark.parametrize("values", NOT_IDS)
def test_values_that_are_not_ids_are_rejected_by_their_argument(
    fresh_metric: MetricFactory, values: str, argument: str
) -> None:
    metric = fresh_metric()
    for method in (metric.compute, metric.add_batch, partial(metric.compute, ties="docid")):
        with refusal(argument):
            method(**{**THREE, argument: NOT_IDS[values]()})
    assert len(metric) == 0


def test_flat_columns_without_document_ids_are_rejected_where_docid_decides(
    ndcg: evaluate.Metric,
) -> None:
    flat = {
        "predictions": [1, 2, 1, 2, 2],
        "references": [1, 0, 1, 2, 0],
        "query_ids": ["p", "q", "p", "q", "p"],
    }
    for relevances in ([1, 0, 1, 2, 0], [1, 2, 1, 0, 0]):
        inputs = {**flat, "references": relevances}
        with refusal("document_ids"):
            ndcg.compute(**inputs, convention="trec_eval")
    # if all tied documents are alike, padding, or not retrieved, their order does not matter
    for column, value in (
        ("predictions", 3),
        ("references", 0),
        ("references", -100),
        ("predictions", None),
    ):
        inputs = {
            **flat,
            column: [value if at == 3 else each for at, each in enumerate(flat[column])],
        }
        in_order = ndcg.compute(**inputs, ties="docid", ignore_index=-100)
        backwards = {name: side[::-1] for name, side in inputs.items()}
        assert ndcg.compute(**backwards, ties="docid", ignore_index=-100) == in_order
    expected = {"nDCG": pytest.approx(0.5 * (SECOND + 0.5) / (1 + SECOND))}
    assert (
        ndcg.compute(**{**flat, "predictions": [1, -math.inf, 1, -math.inf, 2]}, ties="docid")
        == expected
    )
    unjudged = {**flat, "references": [1, None, 1, 0, 0], "ties": "docid"}
    assert ndcg.compute(**unjudged, judged_only=True) == expected
    with refusal("document_ids"):
        ndcg.compute(**unjudged)


def test_batches_keep_no_document_ids(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions={"q": {"b": 1, "a": 1}}, references={"q": {"a": 1}})
    with refusal("ties"):
        metric.compute(convention="trec_eval")
    assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx((1 + SECOND) / 2)}


# --- Keys that are not ids ------------------------------------------------------------------------


def mappings_of(query: Any, document: Any) -> Inputs:
    """Mappings that share a query and a document."""
    run, qrels = {"a": 0.5, document: 1.0}, {"a": 1, document: 1}
    return {
        "predictions": {"p": {"a": 1.0}, query: run},
        "references": {"p": {"a": 1}, query: qrels},
    }


ENTRY_POINTS: dict[str, Callable[..., Any]] = {
    "values": lambda metric, **inputs: metric.compute(**inputs, use_aggregator=False),
    "report": lambda metric, **inputs: metric.report(**inputs),
    "explain": lambda metric, **inputs: metric.explain(**inputs, got=0.5),
    "add_batch": lambda metric, **inputs: metric.add_batch(**inputs),
    "exclude": lambda metric, **inputs: metric.compute(**inputs, exclude={"p": ["b", "a"]}),
    "compare": lambda metric, predictions, references: metric.compare(
        systems={"one": predictions, "other": predictions}, references=references
    ),
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_a_mapping_with_keys_that_are_not_ids_is_rejected_at_every_entry_point(
    ndcg: evaluate.Metric, entry_point: str
) -> None:
    good, bad = mappings_of("q", "b"), mappings_of(1.5, "b")
    for argument in good:
        inputs = {"metric": ndcg, **good, argument: bad[argument]}
        system = "systems['one']: " if entry_point == "compare" else ""
        named = f"{system}predictions" if argument == "predictions" else "references"
        with refusal(named, "query 1.5"):
            ENTRY_POINTS[entry_point](**inputs)
    assert len(ndcg) == 0
