"""Sparse matrices of SciPy score as the lists of what they store, and stay as they are."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import MetricFactory
from refusals import refusal

import ndcg as package
from ndcg.inputs import reading

SHAPE = (60, 30)
RNG = np.random.default_rng(0)
# integer scores and labels; zeros are stored too
SCORES, LABELS = RNG.integers(-2, 5, SHAPE), RNG.integers(0, 4, SHAPE)
RETRIEVED, JUDGED = RNG.random(SHAPE) < 0.3, RNG.random(SHAPE) < 0.15
RETRIEVED[0] = JUDGED[1] = RETRIEVED[2] = JUDGED[2] = False
LABELS[~JUDGED] = 0
Rows = list[list[Any]]


def shuffled(matrix: sp.coo_array) -> Any:
    """A CSR array with unordered columns, and each value stored as two that add up to it."""
    (rows, columns), values = (
        (np.tile(each, 2) for each in matrix.coords),
        np.append(matrix.data - 1, np.ones(matrix.nnz)),
    )
    order = np.random.default_rng(0).permutation(len(rows))
    order = order[np.argsort(rows[order], kind="stable")]
    starts = np.searchsorted(rows[order], np.arange(SHAPE[0] + 1))
    return sp.csr_array((values[order], columns[order], starts), shape=SHAPE)


def sparse(make: Any = sp.csr_array) -> list[Any]:
    sides = (SCORES, RETRIEVED), (LABELS, JUDGED)
    return [
        make(sp.coo_array((each[stored], np.nonzero(stored)), shape=SHAPE))
        for each, stored in sides
    ]


def lists(kept: Any = RETRIEVED | JUDGED) -> list[Rows]:
    """Both sides by position, with the documents of a mask; None where none was retrieved."""
    sides = np.where(RETRIEVED, SCORES, None), LABELS
    return [[row[mask].tolist() for row, mask in zip(side, kept, strict=True)] for side in sides]


FORMATS = [getattr(sp, f"{kind}_array") for kind in ("csr", "csc", "coo", "bsr", "lil", "dok")]
FORMATS += [sp.csr_matrix, sp.coo_matrix, shuffled]
OPTIONS: list[dict[str, Any]] = [
    {"ties": "average", "judged_only": True},
    {"ties": "first", "score_order": "ascending"},
    {"ties": "last", "gain": "exponential", "missing": "skip"},
    {"ties": "docid", "ideal": "retrieved", "ignore_index": 1},
]


def values(predictions: Any, references: Any, **how: Any) -> Any:
    return package.compute(
        predictions=predictions, references=references, k=3, use_aggregator=False, **how
    )


@pytest.mark.parametrize("how", OPTIONS)
@pytest.mark.parametrize("make", FORMATS)
def test_stored_values_score_as_lists(make: Any, how: Any) -> None:
    assert str(values(*sparse(make), **how)) == str(values(*lists(), **how))


@pytest.mark.parametrize("dense", [np.array, np.ndarray.tolist], ids=["an array", "lists"])
@pytest.mark.parametrize("how", OPTIONS)
@pytest.mark.parametrize("make", [sp.csr_array, sp.coo_matrix, shuffled])
def test_a_dense_side_scores_as_if_the_other_was_dense(make: Any, how: Any, dense: Any) -> None:
    scores, labels = sparse(make)
    assert str(values(dense(SCORES), labels, **how)) == str(values(SCORES, LABELS, **how))
    expected = values(*lists(np.ones(SHAPE, bool)), **how)
    assert str(values(scores, dense(LABELS), **how)) == str(expected)


@pytest.mark.parametrize("make", [sp.coo_matrix, sp.csc_array, shuffled])
def test_a_matrix_stays_as_it_is(make: Any) -> None:
    sides = sparse(make)
    before = [
        (side.data.copy(), *(each.copy() for each in getattr(side, "coords", ()))) for side in sides
    ]
    values(*sides)
    for side, (data, *coords) in zip(sides, before, strict=True):
        assert side.data.tolist() == data.tolist()
        assert [each.tolist() for each in getattr(side, "coords", ())] == [
            each.tolist() for each in coords
        ]


def test_no_more_than_a_part_of_a_sparse_side_is_dense_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []
    to_array = sp.csr_array.toarray

    def counted(matrix: Any) -> Any:
        sizes.append(matrix.shape[0] * matrix.shape[1])
        return to_array(matrix)

    monkeypatch.setattr(sp.csr_array, "toarray", counted)
    monkeypatch.setattr(reading, "PART", 100)
    scores, labels = sparse()
    found = values(SCORES, labels), values(scores, LABELS), values(scores, labels)
    assert sizes == [90] * 40  # three rows at a time, and never if both are sparse
    monkeypatch.undo()
    assert found == (values(SCORES, labels), values(scores, LABELS), values(scores, labels))


def of_batches(fresh_metric: MetricFactory, predictions: Any, references: Any) -> Any:
    metric = fresh_metric()
    metric.add_batch(predictions=predictions[:20], references=references[:20])
    metric.add_batch(predictions=predictions[20:40], references=references[20:40])
    return metric.compute(
        predictions=predictions[40:], references=references[40:], use_aggregator=False
    )


def of_a_meter(fresh_metric: MetricFactory, predictions: Any, references: Any) -> Any:
    meter = package.meter(k=3)
    meter.update(predictions[:20], references[:20])
    meter.update(predictions[20:20], references[20:20])
    meter.update(predictions[20:], references[20:])
    return meter.compute()


ENTRY_POINTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "the metric": lambda metric, run, qrels: metric().compute(
        predictions=run, references=qrels, k=3
    ),
    "batches": of_batches,
    "a meter": of_a_meter,
    "report": lambda _, run, qrels: package.report(
        predictions=run, references=qrels, k=3
    ).to_dict(),
    "compare": lambda _, run, qrels: package.compare(
        systems={"a": run, "b": run}, references=qrels, k=3
    ).to_dict(),
    "explain": lambda _, run, qrels: (
        package.explain(predictions=run[:9], references=qrels[:9], got=0.5).scores
    ),
}


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_every_entry_point_reads_sparse_matrices(fresh_metric: MetricFactory, name: str) -> None:
    entry = ENTRY_POINTS[name]
    assert str(entry(fresh_metric, *sparse())) == str(entry(fresh_metric, *lists()))
    assert str(entry(fresh_metric, SCORES, sparse()[1])) == str(entry(fresh_metric, SCORES, LABELS))


@pytest.mark.parametrize(
    ("second", "how"),
    [([3, 0], {}), ([3, 0, -1, -1], {"fields": {"score": None}})],
)
def test_a_list_of_columns_may_have_all_of_them(second: list[int], how: dict[str, Any]) -> None:
    relevant = sp.csr_array(np.eye(4)[[2, 0]])
    found = package.compute(predictions=[[2, 1, 0, 3], second], references=relevant, **how)
    assert found["nDCG"] == pytest.approx((1 + 1 / np.log2(3)) / 2)


def test_columns_in_any_order_are_scores_if_the_order_of_scores_is_given() -> None:
    relevant = sp.csr_array(np.eye(4)[[3, 0]])
    run = [[2, 1, 0, 3], [3, 1, 2, 0]]
    found = package.compute(predictions=run, references=relevant, score_order="descending")
    assert found["nDCG"] == 1.0


def test_documents_of_sparse_rows_are_named_by_their_columns() -> None:
    scores, labels = sp.csr_array([[0, 0, 0.5, 0.9]]), sp.csr_array([[0, 2, 1, 0]])
    assert package.documents(predictions=scores, references=labels)["document"].to_pylist() == [
        3,
        2,
        1,
    ]


TOP = np.array(
    [[3, 1, 2], [0, 4, 1]]
)  # the columns of each query's best documents, as FAISS and implicit return them
TOP_SCORES = np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]])
TOP_LABELS = sp.csr_array([[0, 2, 0, 0, 1], [0, 0, 0, 0, 3]])
RELEVANT = [{1: 2, 4: 1}, {4: 3}]
BY_QUERY = dict(zip("ab", RELEVANT, strict=True))
RUN = sp.csr_array((TOP_SCORES.ravel(), TOP.ravel(), [0, 3, 6]), shape=(2, 5))
FULL = RUN.toarray()
NAMED: dict[str, Any] = {"query_ids": ["a", "b"]}
BY_COLUMN: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "columns beside sparse labels": (TOP, TOP_LABELS, {}),
    "columns in lists": (TOP.tolist(), TOP_LABELS, {}),
    "columns with -1 for none": (np.hstack([TOP, [[-1], [-1]]]), TOP_LABELS, {}),
    "scores of columns": (TOP_SCORES, TOP_LABELS, {"document_ids": TOP}),
    "scores by column": (
        [dict(zip(*row, strict=True)) for row in zip(TOP, TOP_SCORES, strict=True)],
        TOP_LABELS,
        {},
    ),
    "sparse scores beside relevances by column": (RUN, RELEVANT, {}),
    "sparse scores beside queries by id": (RUN, BY_QUERY, NAMED),
    "scores of all columns beside queries by id": (FULL, BY_QUERY, NAMED),
    "scores of all columns in lists": (FULL.tolist(), BY_QUERY, NAMED),
}


@pytest.mark.parametrize("name", BY_COLUMN)
def test_numbers_of_columns_are_ids(name: str) -> None:
    predictions, references, how = BY_COLUMN[name]
    found = package.compute(
        predictions=predictions, references=references, **how, k=3, use_aggregator=False
    )
    first, second = (2 / np.log2(3)) / (2 + 1 / np.log2(3)), 1 / np.log2(3)
    assert found["nDCG@3"] == pytest.approx([first, second])


SQUARE = sp.csr_array(np.eye(3))


HUGE = sp.csr_array((2, 2**62))


@pytest.mark.parametrize(
    ("predictions", "references", "named"),
    [
        (TOP + 2, TOP_LABELS, ("predictions", "query 0")),
        (TOP - 2, TOP_LABELS, ("predictions", "query 1")),
        (RUN, [{1}, {5}], ("references", "query 1")),
        (RUN, [{"d1"}, {"d2"}], ("references", "query 0")),
        (FULL, [{1}, {-1}], ("references", "query 1")),
        (RUN, {"a": {9: 1}}, ("references", "query 'a'")),
        (SQUARE, SQUARE[:2], ("predictions and references differ in the number of queries",)),
        (SQUARE, SQUARE[:, :2], ("predictions and references differ in the number of columns",)),
        (SQUARE, np.eye(2), ("references and predictions differ in the number of queries",)),
        ([[0.5, 2, 3], [1, 2], [1, 2, 3]], SQUARE, ("predictions", "query 1")),
        (SQUARE, [[1, 2, 3], [1, 2, 3], [1]], ("references", "query 2")),
        (SQUARE * 1j, SQUARE, ("predictions",)),
        (SQUARE * np.nan, SQUARE, ("predictions", "query 0, column 0")),
        (SQUARE, -SQUARE, ("references", "query 0, column 0")),
        (sp.coo_array([1, 2, 3]), SQUARE, ("predictions",)),
        ({"q": {"d": 1.0}}, SQUARE, ("predictions", "query 'q'")),
        (HUGE, HUGE, ("a sparse matrix of 2 × 4611686018427387904",)),
    ],
)
def test_what_is_wrong_is_named(predictions: Any, references: Any, named: tuple[str, ...]) -> None:
    with refusal(*named):
        package.compute(predictions=predictions, references=references)


@pytest.mark.parametrize(
    ("how", "argument"),
    [
        (
            {"query_ids": [0, 1, 2]},
            "predictions",
        ),
        ({"exclude": [[1], [], []]}, "exclude"),
    ],
)
def test_options_of_other_formats_are_errors(how: Any, argument: str) -> None:
    with refusal(argument):
        package.compute(predictions=SQUARE, references=SQUARE, **how)
