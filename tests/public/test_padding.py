"""Padding, and with judged_only unjudged documents, count as if they were left out."""

import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, MetricFactory
from refusals import refusal
from sources import (
    EVERY_FORM,
    RAGGED_FORMS,
    Form,
    Rows,
    by_ids,
    mappings_and_files,
    of_lists,
    torch_tensor,
    values,
)

SCORES = [[0.5, 2.25], [7.0], [1.0, 1.0, 0.25], []]
RELEVANCES = [[1, 2], [0], [0, 3, 1], []]


def padded(rows: Rows, value: Any) -> Rows:
    """Padded on the right, but the last query, which is all padding."""
    return [[*row, *[value] * (3 - len(row))] for row in rows]


def check(
    metric: evaluate.Metric, expected: Any, ignore_index: float, predictions: Any, references: Any
) -> None:
    """The same values at once and, as batches compare padding as they are added, in a batch."""
    sides = {"predictions": predictions, "references": references, "ignore_index": ignore_index}
    assert values(metric, **sides) == expected
    metric.add_batch(**sides)
    assert values(metric) == expected


@pytest.mark.parametrize(
    "format_", ["lists", "NumPy", "PyTorch bfloat16", "PyTorch float32", "Arrow lists"]
)
def test_padding_is_as_if_left_out_whatever_its_score(ndcg: evaluate.Metric, format_: str) -> None:
    make, expected = EVERY_FORM[format_], of_lists(ndcg, SCORES, RELEVANCES)
    references = make(padded(RELEVANCES, -100))
    for score in (0.0, 99.0, -100, 1e30, math.nan, math.inf, -math.inf):
        assert (
            of_lists(ndcg, make(padded(SCORES, score)), references, ignore_index=-100) == expected
        ), score
    assert of_lists(ndcg, padded(SCORES, None), references, ignore_index=-100) == expected


def test_padding_may_be_anywhere_and_next_to_missing_values(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    predictions = [[9.0, 0.5, math.nan, None, 2.0, None], [-100.0, 1.0]]
    references = [[-100, 1, -100, 2, None, -100], [1, -100]]
    check(
        metric,
        of_lists(metric, [[0.5, None, 2.0], [-100.0]], [[1, 2, None], [1]]),
        -100,
        predictions,
        references,
    )


def bfloat16_tensor(values: Any) -> Any:
    return torch_tensor("bfloat16")(values)


def bfloat16_array(values: Any) -> Any:
    return np.array(values, pytest.importorskip("ml_dtypes").bfloat16)


@pytest.mark.parametrize("kind", [np.float32, bfloat16_tensor, bfloat16_array])
def test_padding_is_left_out_of_flat_rankings_mappings_files_and_systems(
    ndcg: evaluate.Metric, tmp_path: Path, kind: Any
) -> None:
    expected = of_lists(ndcg, [[0.5, 1.0]], [[1, 0]])
    for relevances, ignore_index in (
        (kind([1, 1e30, 0]), 1e30),
        ([1, kind(-100), 0.0], -100),
        ([kind(1), kind(-100), kind(0)], -100),
    ):
        flat = {"query_ids": ["q"] * 3, "ignore_index": ignore_index}
        assert of_lists(ndcg, [0.5, math.nan, 1.0], relevances, **flat) == expected
    run = {"q": {"a": 0.5, "b": 2.0, "c": 1.0}}
    for predictions, references in mappings_and_files(
        tmp_path, run, {"q": {"a": 1, "b": -100, "c": 0}}
    ):
        assert of_lists(ndcg, predictions, references, ignore_index=-100) == expected
        typed = {"q": {"a": 1, "b": kind(-100), "c": 0}}
        assert of_lists(ndcg, predictions, typed, ignore_index=-100) == expected
    systems = {"a": [[3.0, 1.0, 2.0]] * 2, "b": [[1.0, 3.0, 2.0]] * 2}
    relevances = [[1, 0, 1e30]] * 2
    exact = ndcg.compare(systems=systems, references=relevances, ignore_index=1e30)
    assert ndcg.compare(systems=systems, references=kind(relevances), ignore_index=1e30) == exact


# --- In the type of the references ----------------------------------------------------------------


def by_turns(first: Any, second: Any) -> Form:
    """The rows in either of two formats."""
    return lambda rows: [(second if at % 2 else first)(row) for at, row in enumerate(rows)]


def with_a_null(row: list[Any]) -> Any:
    return pa.array([*row, None], pa.float32())


def of_scalars(*kinds: Any) -> Form:
    return lambda row: [kinds[at % len(kinds)](value) for at, value in enumerate(row)]


def int8_or_float64(row: list[Any]) -> Any:
    return np.array(row, np.int8 if max(map(abs, row)) < 5 else float)


FORMS_OF_TYPES = {
    "float16": lambda rows: np.array(rows).astype(np.float16),
    "float32": lambda rows: np.array(rows, np.float32),
    "int64 or float64": np.array,
    "PyTorch bfloat16": bfloat16_tensor,
    "ml_dtypes bfloat16": bfloat16_array,
    "PyTorch bfloat16 in rows": lambda rows: list(bfloat16_tensor(rows)),
    "ml_dtypes bfloat16 in rows": lambda rows: list(bfloat16_array(rows)),
    "rows of float32 and float64": by_turns(np.float32, np.float64),
    "rows of float16 and float32": by_turns(np.float16, np.float32),
    "rows of float32 and int8 or float64": by_turns(np.float32, int8_or_float64),
    "rows of masked float32 and float64": by_turns(
        lambda row: np.ma.array(row, np.float32), np.float64
    ),
    "rows of Arrow float32 and float64": by_turns(
        lambda row: pa.array(row, pa.float32()), np.float64
    ),
    "rows of Arrow float32 with a null": by_turns(with_a_null, with_a_null),
    "rows of PyTorch bfloat16 and float64": by_turns(bfloat16_tensor, np.float64),
    "rows of ml_dtypes bfloat16 and float32": by_turns(bfloat16_array, np.float32),
    "rows of both bfloat16": by_turns(bfloat16_tensor, bfloat16_array),
}
FORMS_OF_LISTS = {
    "rows of float32 and lists": by_turns(np.float32, list),
    "rows of float32 and objects": by_turns(np.float32, lambda row: np.array(row, object)),
    "rows of Arrow float32 with a null and lists": by_turns(with_a_null, lambda row: [*row, None]),
    "rows of PyTorch bfloat16 and lists": by_turns(bfloat16_tensor, list),
    "scalars of float32": by_turns(of_scalars(np.float32), of_scalars(np.float32)),
    "scalars of float32 and floats": by_turns(of_scalars(np.float32, float), list),
    "scalars of several types": by_turns(
        of_scalars(np.float32, np.float64, np.float16), of_scalars(np.float32)
    ),
    "scalars of PyTorch bfloat16": by_turns(of_scalars(bfloat16_tensor, float), list),
    "scalars of ml_dtypes bfloat16": by_turns(
        of_scalars(bfloat16_array, bfloat16_array, float), list
    ),
}


@pytest.mark.parametrize("format_", [*FORMS_OF_TYPES, *FORMS_OF_LISTS])
@pytest.mark.filterwarnings(
    "ignore:overflow encountered:RuntimeWarning"
)  # float16 holds 1e30 as infinite
def test_padding_is_compared_in_the_type_of_each_array(
    fresh_metric: MetricFactory, format_: str
) -> None:
    """As many queries end in padding as in an unjudged document; no format may confuse the two."""
    metric, kept = fresh_metric(), [[0, 1], [0, 2], [], [0, 1, 2]]
    make = {**FORMS_OF_TYPES, **FORMS_OF_LISTS}[format_]
    # Numbers in lists are compared as they are.
    others = (1e30, 1e9, -99.9, np.float32(-99.9)) if format_ in FORMS_OF_TYPES else ()
    for ignore_index in (*others, -100):
        rows = [[1, 2, ignore_index], [0, ignore_index, 3], [ignore_index] * 3, [4, 0, 1]]
        references = make(rows)
        unjudged = [3] if len(references[0]) == 4 else []
        score = [2.0, 1.0, 3.0, 4.0][: len(references[0])]
        expected = of_lists(
            metric,
            [[score[at] for at in [*places, *unjudged]] for places in kept],
            [
                [[*row, None][at] for at in [*places, *unjudged]]
                for row, places in zip(rows, kept, strict=True)
            ],
        )
        check(metric, expected, ignore_index, [score] * 4, references)


@pytest.mark.parametrize("ignore_index", [-99.9, np.float64(-99.9), -100])
def test_padding_means_the_same_in_batches_of_several_types(
    fresh_metric: MetricFactory, ignore_index: float
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    expected = of_lists(metric, [*SCORES, [1.0, 2.0]], [*RELEVANCES, [1, 0]])
    for first, second in product(
        (np.float16, np.float32, np.float64), (np.int8, np.float32, np.float64)
    ):
        references = np.array(padded(RELEVANCES, float(ignore_index))).astype(first)
        metric.add_batch(predictions=padded(SCORES, 3.0), references=references)
        metric.add_batch(predictions=[[1.0, 2.0]], references=np.array([[1, 0]], second))
        assert values(metric, ignore_index=ignore_index) == expected, (first, second)


@pytest.mark.parametrize(
    "make", [list, np.array, pa.array, lambda rows: pa.chunked_array([pa.array(rows)])]
)
def test_no_truth_value_is_padding_that_is_a_large_number(
    ndcg: evaluate.Metric, make: Form
) -> None:
    inputs = {"predictions": [[2.0, 1.0]], "references": make([[True, False]])}
    for ignore_index in (2**63, -(2**70), 1e30):
        assert ndcg.compute(**inputs, ignore_index=ignore_index) == {"nDCG": 1.0}
    assert ndcg.compute(**inputs, ignore_index=1) == {"nDCG": 0.0}


def test_values_that_are_not_padding_are_rejected(ndcg: evaluate.Metric) -> None:
    for ignore_index in (None, -99):
        with refusal("references", "query 1, position 1"):
            ndcg.compute(
                predictions=[[1, 2]] * 2, references=[[1, 0], [0, -100]], ignore_index=ignore_index
            )
    with refusal("predictions", "query 0, position 1"):
        ndcg.compute(predictions=[[1, math.nan]], references=[[1, 2]], ignore_index=-100)


# --- Padding that nobody named --------------------------------------------------------------------

SCORE = [0.9, 0.8, 0.1]


def by_compute(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    return float(
        metric.compute(predictions=make([SCORE]), references=make([row]), **options)["nDCG"]
    )


def by_rows(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    sides = {"predictions": make(SCORE), "references": make(row), "query_ids": ["q"] * 3}
    return float(metric.compute(**sides, **options)["nDCG"])


def by_report(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    report = metric.report(predictions=make([SCORE]), references=make([row]), **options)
    return float(report.scores["nDCG"].value)


def by_comparison(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    systems = {name: make([SCORE, SCORE]) for name in "ab"}
    comparison = metric.compare(systems=systems, references=make([row, row]), **options)
    return float(comparison.scores["a"]["nDCG"].value)


def by_batch(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    batches = evaluate.load(str(ROOT / "ndcg.py"), keep_in_memory=True)
    batches.add_batch(predictions=make([SCORE]), references=make([row]))
    return float(batches.compute(**options)["nDCG"])


def by_meter(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    meter = metric.meter(**options)
    meter.update(make([SCORE]), make([row]))
    return float(meter.compute()["nDCG"])


def by_torchmetrics(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    pytest.importorskip("torchmetrics")
    measured = metric.torchmetrics_metric(**options)
    measured.update(torch_tensor("float32")([SCORE]), torch_tensor("float32")([row]))
    return float(measured.compute())


def by_trainer(metric: evaluate.Metric, make: Form, row: list[Any], **options: Any) -> float:
    """Its metrics have an ignore_index of their own, -100, unless it is set."""
    metrics = metric.trainer_metrics(**{"ignore_index": None, **options})
    evaluation = SimpleNamespace(
        predictions=np.array([SCORE]), label_ids=np.array([row]), inputs=None
    )
    return float(metrics(evaluation)["nDCG"])


OF_EVERY_FORM = (by_compute, by_rows, by_report, by_comparison, by_batch, by_meter)
UNNAMED = {
    f"{entry.__name__}, {form}": (entry, EVERY_FORM[form])
    for entry, form in product(OF_EVERY_FORM, ("lists", "NumPy", "PyTorch float32"))
} | {entry.__name__: (entry, list) for entry in (by_torchmetrics, by_trainer)}


def advice(call: Callable[..., Any], *args: Any, **inputs: Any) -> list[str]:
    """The options that the error of a call advises for negative relevances, the best first."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its options are compared
        call(*args, **inputs)
    options = dict.fromkeys(caught.value.options)  # type: ignore[attr-defined]
    return [name for name in options if name in ("ignore_index", "negative_relevance")]


@pytest.mark.parametrize("label", [-100, -1])
@pytest.mark.parametrize(
    "name",
    [
        # which takes seconds to import
        pytest.param(name, marks=[pytest.mark.xdist_group("torch")] * (name == "by_torchmetrics"))
        for name in UNNAMED
    ],
)
def test_the_error_about_padding_says_first_how_to_remove_it(
    ndcg: evaluate.Metric, name: str, label: int
) -> None:
    """At each entry point the message's first step gives the score without the padding."""
    entry, make = UNNAMED[name]
    row = [label, 1, label]
    assert advice(entry, ndcg, make, row) == ["ignore_index", "negative_relevance"]
    assert entry(ndcg, make, row, ignore_index=label) == 1.0
    assert entry(ndcg, make, row, negative_relevance="clip") == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize("labels", [(-2, -2), (-1, -2), (-100, -1), (-99, -99), (-0.5, -1)])
def test_negative_relevances_that_are_no_padding_are_to_be_counted_first(
    ndcg: evaluate.Metric, labels: tuple[float, float]
) -> None:
    """Such as the -2 of spam in TREC's web tracks, or grades of several levels."""
    first, last = labels
    for scores, relevances in (
        ([[0.9, 0.8, 0.1]], [[first, 1, last]]),
        ([[0.9, 0.8], [0.1]], [[first, 1], [last]]),
    ):
        found = advice(ndcg.compute, predictions=scores, references=relevances)
        assert found == ["negative_relevance", "ignore_index"]


@pytest.mark.parametrize("label", [-100, -1])
@pytest.mark.parametrize("source", ["mapping", "CSV"])
def test_the_error_about_a_document_with_an_id_says_nothing_of_padding(
    ndcg: evaluate.Metric, source: str, label: int, tmp_path: Path
) -> None:
    """Crowds mark documents that they cannot judge: without a relevance they keep their rank."""
    qrels: Any = {"q": {"a": label, "b": 1}}
    if source == "CSV":
        qrels = tmp_path / "qrels.csv"
        qrels.write_text(f"query,document,relevance\nq,a,{label}\nq,b,1\n")
    run = {"q": {"a": 0.9, "b": 0.8}}
    assert advice(ndcg.compute, predictions=run, references=qrels) == ["negative_relevance"]
    second = {"nDCG": pytest.approx(1 / math.log2(3))}
    assert ndcg.compute(predictions=run, references=qrels, negative_relevance="clip") == second
    assert ndcg.compute(predictions=run, references={"q": {"b": 1}}) == second


# --- judged_only ----------------------------------------------------------------------------------


def test_documents_not_judged_may_be_left_out_of_every_format(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    metric = fresh_metric()
    scores = [[3.0, 2.0, 2.0, None, 1.0], [5.0, 4.0], [1.0, 2.0]]
    relevances = [[None, 1, None, 3, 2], [None, None], [1, 0]]
    expected = of_lists(metric, [[2.0, None, 1.0], [], [1.0, 2.0]], [[1, 3, 2], [], [1, 0]])
    for name, make in RAGGED_FORMS.items():
        assert of_lists(metric, make(scores), make(relevances), judged_only=True) == expected, name
        assert of_lists(metric, make(scores), make(relevances)) != expected, name
    flat = [[each for row in rows for each in row] for rows in (scores, relevances)]
    assert (
        of_lists(metric, *flat, query_ids=[0] * 5 + [1] * 2 + [2] * 2, judged_only=True) == expected
    )
    metric.add_batch(predictions=scores, references=relevances)
    assert values(metric, judged_only=True) == expected
    run, qrels = by_ids(scores), by_ids(relevances)
    assert of_lists(metric, run, qrels, judged_only=True) == expected
    del qrels["q1"]  # a file holds no query without documents
    for predictions, references in mappings_and_files(tmp_path, run, qrels):
        found = of_lists(metric, predictions, references, judged_only=True)
        assert found == {name: each[::2] for name, each in expected.items()}


def test_padding_and_documents_not_judged_may_be_left_out_together(ndcg: evaluate.Metric) -> None:
    options = {"judged_only": True, "ignore_index": -100}
    expected = of_lists(ndcg, [[2.0, 1.0]], [[0, 1]])
    assert of_lists(ndcg, [[3.0, 2.0, 1.0, 9.0]], [[None, 0, 1, -100]], **options) == expected
    nan = [[3.0, math.nan, 1.0]]  # of padding it does not matter
    assert ndcg.compute(predictions=nan, references=[[1, -100, 0]], **options) == {"nDCG": 1.0}
    for of_unjudged in ({"judged_only": True}, options):
        with refusal("predictions", "query 0, position 1"):
            ndcg.compute(predictions=nan, references=[[1, None, 0]], **of_unjudged)
