"""Rankings: the counts of their documents, and their way into Arrow's columns."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from refusals import refusal

from ndcg.inputs.rankings import to_arrow
from ndcg.inputs.reading import read

LISTS = pa.list_(pa.float64())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
def test_2d_arrays_become_arrow_lists_of_their_type_but_for_wide_integers(dtype: Any) -> None:
    values = np.array([[0, 1], [1, 0], [1, 1]], dtype)
    for column in to_arrow(read(values, np.asfortranarray(values))):
        assert column.type == (LISTS if dtype == np.int64 else pa.list_(pa.from_numpy_dtype(dtype)))
        assert column.to_pylist() == values.tolist()


def test_integers_that_float64_cannot_hold_are_rejected_for_storage() -> None:
    fine = [[1, 0]]
    with refusal("predictions"):
        to_arrow(read([[2**53 + 1, 0]], fine))
    with refusal("references"):
        to_arrow(read(fine, [[2**53 + 1, 0]]))


COUNTED: tuple[list[Any], list[Any]] = (
    [[0.5, None, 0.25], [None, None, None], [-math.inf, 0.0, 1.0]],
    [[None, 1, 0], [2, 1, None], [1, -1, 0.5]],
)


def masked(rows: list[Any]) -> Any:
    missing = np.equal(np.array(rows, object), None)
    return np.ma.masked_array(np.where(missing, 0, rows).astype(float), missing)


@pytest.mark.parametrize(
    "sides", [COUNTED, tuple(map(masked, COUNTED))], ids=["lists", "masked arrays"]
)
def test_retrieved_judged_and_relevant_documents_are_counted(sides: Any) -> None:
    assert {name: each.tolist() for name, each in read(*sides).counts().items()} == {
        "retrieved": [2, 0, 2],
        "judged": [2, 2, 3],
        "relevant": [1, 2, 2],
        "retrieved and judged": [1, 0, 2],
    }
    counts = read([[], [1], []], [[], [1], []]).counts()
    assert [each.tolist() for each in counts.values()] == [[0, 1, 0]] * 4


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint8, bool])
def test_scores_are_rounded_once_to_32_bit_floats(dtype: Any) -> None:
    values = np.array([[0, 1], [1, 1 - 2**-26]]).astype(dtype)
    given, rounded = (read(values, values, score_dtype=each) for each in ("given", "float32"))
    assert given.with_scores_in("given").score is given.score
    assert given.score.dtype == dtype
    assert rounded.score.dtype == np.float32
    assert rounded.score.tolist() == values.astype(np.float32).ravel().tolist()
    assert rounded.relevance.dtype == dtype  # relevances are not rounded
    assert np.shares_memory(rounded.score, values) == (dtype == np.float32)


@pytest.mark.parametrize("beyond", [3.5e38, -3.5e38, 1e300])
def test_a_score_that_32_bit_floats_cannot_hold_is_named(beyond: float) -> None:
    with refusal("predictions", "query 1, position 0"):
        read([[1.0, 2.0], [beyond]], [[1, 0], [1]], score_dtype="float32")
    assert np.isinf(
        read([[math.inf]], [[1]], score_dtype="float32").score
    ).all()  # refused by the kernel


def test_queries_that_have_ids_keep_them() -> None:
    assert read([[1, 2]], [[1, 0]]).query_ids is None
    flat = read([1, 2, 3], [1, 0, 1], query_ids=["b", "a", "b"])
    assert flat.query_ids.to_pylist() == ["b", "a"]
    by_id = read({"q2": {"a": 1}}, {"q1": {"a": 1}, "q2": {"a": 0}})
    assert list(by_id.query_ids) == ["q1", "q2"]
