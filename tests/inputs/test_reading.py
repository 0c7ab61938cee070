"""Rankings by position become the same arrays whatever holds them, if possible without a copy.

tests/public/test_formats.py scores every format; here are their types, masks, memory and parts.
"""

import array
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal
from scipy.sparse import csr_matrix

import ndcg
from ndcg.inputs import ids, reading
from ndcg.inputs.rankings import Rankings, to_arrow
from ndcg.inputs.reading import Inputs, parts, read

Documents = list[list[tuple[Any, Any]]]


def documents(rankings: Rankings) -> Documents:
    """The contents of the arrays: score and relevance of each document, None if missing."""
    relevance, score, offsets, judged, retrieved, *_ = rankings
    assert relevance.shape == score.shape
    sides = []
    for values, present in ((score, retrieved), (relevance, judged)):
        assert present is None or (present.dtype, present.shape) == (bool, values.shape)
        sides.append(
            np.where(True if present is None else present, values.astype(object), None)
            .ravel()
            .tolist()
        )
    if offsets is None:
        offsets = np.arange(len(score) + 1) * score.shape[1]
    assert offsets.dtype == np.int64
    assert (offsets[0], offsets[-1]) == (0, score.size)
    assert rankings.queries == len(offsets) - 1
    flat = list(zip(*sides, strict=True))
    return [flat[start:stop] for start, stop in itertools.pairwise(offsets)]


def paired(scores: Any, relevances: Any) -> Documents:
    return [list(zip(s, r, strict=True)) for s, r in zip(scores, relevances, strict=True)]


LISTS = pa.list_(pa.float64())
FORMS: dict[str, Callable[[list[list[Any]]], Any]] = {
    "lists": lambda rows: rows,
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "a list of object arrays": lambda rows: [np.array(row, object) for row in rows],
    "an object array of lists": lambda rows: np.array(
        [*rows, "a string, for one dimension"], object
    )[:-1],
    "Arrow lists": lambda rows: pa.array(rows, LISTS),
    "Arrow large lists": lambda rows: pa.array(rows, pa.large_list(pa.float64())),
    "an Arrow slice": lambda rows: pa.array([[9.0, None], *rows, [None]], LISTS)[1:-1],
}


@pytest.mark.parametrize("form", FORMS)
def test_missing_values_are_masked_and_lists_that_miss_nothing_have_no_masks(form: str) -> None:
    for scores, relevances, masks in (
        ([[1.0, 2.0], [], [3.0]], [[0.0, 1.0], [], [1.0]], [None, None]),
        (
            [[0.5, None, 3.0], [], [-1.25], [None]],
            [[1.0, 2.0, None], [], [0.0], [None]],
            [bool, bool],
        ),
    ):
        actual = read(FORMS[form](scores), FORMS[form](relevances))
        assert documents(actual) == paired(scores, relevances)
        assert [
            mask if mask is None else mask.dtype for mask in (actual.judged, actual.retrieved)
        ] == masks


TYPES = [
    "?",
    "i1",
    "u1",
    "i2",
    "i4",
    "u4",
    "i8",
    "u8",
    "f2",
    "f4",
    ">f2",
    ">f4",
    ">f8",
    ">i4",
    ">u8",
]


@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_of_every_type_and_byte_order_are_kept_as_they_are(dtype: Any) -> None:
    values = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    native = values.astype(values.dtype.newbyteorder("="))
    for form in (values, values.view(np.matrix), list(values), pa.array(list(native))):
        rankings = read(form, form)
        assert documents(rankings) == paired(values.tolist(), values.tolist())
        assert to_arrow(rankings)[0].to_pylist() == values.tolist()


@settings(max_examples=50)
@given(
    st.lists(
        st.lists(st.tuples(*[st.none() | st.floats(allow_nan=False)] * 2), max_size=5), max_size=5
    ),
    st.sampled_from(sorted(FORMS)),
)
@pytest.mark.filterwarnings("ignore:.* have one document each:UserWarning")
def test_floats_are_read_to_the_last_bit(queries: Documents, form: str) -> None:
    scores, relevances = (
        [[document[side] for document in query] for query in queries] for side in (0, 1)
    )
    found = read(FORMS[form](scores), FORMS[form](relevances))
    assert documents(found) == queries
    columns = to_arrow(found)
    assert [column.type for column in columns] == [LISTS, LISTS]
    assert documents(read(*columns)) == queries


@pytest.mark.parametrize("big", [2**53 + 1, -(2**53) - 1, 2**63 - 1])
def test_integers_that_float64_would_round_are_kept(big: int) -> None:
    row = [big, big - 1, 0]
    for form in ([row], np.array([row]), [np.array(row)], pa.array([row]), [[*row, None]]):
        scores = [score for score, _ in documents(read(form, [[0] * len(form[0])]))[0]]
        assert scores[:3] == row
    beyond = [2**63 + 1, 2**63, None, 5]
    assert [score for score, _ in documents(read([beyond], [[0] * 4]))[0]] == beyond


LARGE = [2**53 + 1, 2**53]
ROUNDED: list[list[Any]] = [
    [2**64 + 1, 2**64],
    [2**63 + 1, 2**63, -1],
    [10**400, 1],
    [-(10**400), 1],
    [2**64 + 1, np.True_],
    [Fraction(10**20 + 1, 10**20), 1],
    [np.longdouble(1) + np.finfo(np.longdouble).eps, 1],
]


@pytest.mark.parametrize(
    "scores",
    [
        [LARGE, [0.5, 0.25]],
        [np.array(LARGE), np.array([0.5, 0.25])],
        [[*LARGE, 0.5], [1, 0, 2]],
        [np.array([2**63 + 1, 2**63], np.uint64), np.array([-1, -2])],
        *(rows for row in ROUNDED for rows in ([row], [row, [1.0]], np.array([row], object))),
    ],
)
def test_numbers_that_64_bits_do_not_hold_are_not_rounded_into_a_tie(scores: Any) -> None:
    with refusal("predictions", "query 0, position 0"):
        read(scores, [[0] * len(row) for row in scores])


def test_a_mask_counts_in_any_company() -> None:
    for dtype in (float, int, object):
        masked = np.ma.MaskedArray([5, 9], [False, True], dtype=dtype)
        for rows in (
            [masked, [2.0, 1.0]],
            [masked, (2, 1)],
            [masked, np.array([2.0, 1.0])],
            [[2.0], masked],
        ):
            scores = [[5, None] if row is masked else list(row) for row in rows]
            relevances = [[0] * len(row) for row in rows]
            assert documents(read(rows, relevances)) == paired(scores, relevances)
    all_masked = [np.ma.MaskedArray([5, 9], True), np.array([2.0, 1.0])]
    assert documents(read(all_masked, [[0, 1]] * 2)) == paired([[None, None], [2, 1]], [[0, 1]] * 2)


def test_no_queries_and_queries_of_no_documents_are_rankings() -> None:
    assert read([], []).queries == 0
    assert read(np.empty((0, 5)), np.empty((0, 5))).queries == 0
    assert read(pa.array([], LISTS), []).queries == 0
    assert documents(read([[], []], [[], []])) == [[], []]
    assert documents(read(np.empty((2, 0)), [[], []])) == [[], []]


# --- No copy --------------------------------------------------------------------------------------


def same_memory(one: np.ndarray, other: np.ndarray) -> bool:
    return one.ctypes.data == other.ctypes.data and np.shares_memory(one, other)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int8, bool])
def test_2d_arrays_are_used_where_they_lie(dtype: Any) -> None:
    score, relevance = (
        np.ma.MaskedArray(np.ones((2, 3), dtype), [[0, 1, 0], [0, 0, 0]]),
        np.ones((2, 3), dtype),
    )
    for held in (score, score.data):
        actual = read(held, relevance)
        assert same_memory(actual.score, score.data)
        assert same_memory(actual.relevance, relevance)
        assert actual.score.dtype == dtype


class CuPyArray:
    """An array on a GPU, as CuPy has it: only `get` copies it to the host."""

    __module__ = "cupy"

    def __init__(self, values: Any) -> None:
        self._values = np.array(values)
        self.dtype, self.shape, self.ndim = (
            self._values.dtype,
            self._values.shape,
            self._values.ndim,
        )
        self.__cuda_array_interface__ = {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (0, True),
            "version": 3,
        }

    def __array__(self, *_: Any, **__: Any) -> None:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __dlpack__(self, **_: Any) -> None:
        raise BufferError("the device is CUDA")

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: Any) -> Any:
        return CuPyArray(self._values[at])

    def get(self) -> np.ndarray:
        return self._values


def test_arrays_of_cupy_are_copied_from_the_gpu() -> None:
    scores, labels, ids = [[0.5, 0.25, 0.75], [1, 2, 3]], [[0, 1, 1], [2, 0, 0]], ["q", "q", "r"]
    expected = read(scores, labels)
    for sides in (
        (CuPyArray(scores), CuPyArray(labels)),
        (list(map(CuPyArray, scores)), CuPyArray(labels)),
    ):
        found = read(*sides)
        assert (found.score.tolist(), found.relevance.tolist()) == (
            expected.score.tolist(),
            expected.relevance.tolist(),
        )
    flat = read(CuPyArray(scores[0]), CuPyArray(labels[0]), query_ids=ids)
    assert (flat.score.tolist(), flat.offsets.tolist()) == (scores[0], [0, 2, 3])
    by_number = read(CuPyArray(scores[0]), labels[0], query_ids=CuPyArray([7, 7, 9]))
    assert by_number.names() == [7, 9]


def test_a_2d_array_whose_rows_do_not_follow_each_other_is_copied_once() -> None:
    grid = np.arange(12.0).reshape(3, 4)
    for held in (np.asfortranarray(grid), np.repeat(grid, 2, axis=1)[:, ::2], grid[:, :3]):
        actual = read(held, held)
        assert actual.score.flags.c_contiguous
        assert actual.score.reshape(held.shape).tolist() == held.tolist()


@pytest.mark.parametrize("list_type", [pa.ListArray, pa.LargeListArray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_arrow_lists_and_their_slices_are_used_where_they_lie(list_type: Any, dtype: Any) -> None:
    score, relevance = np.arange(6, dtype=dtype), np.arange(6, 12, dtype=dtype)
    lists = [list_type.from_arrays([0, 2, 2, 6], values) for values in (score, relevance)]
    for start, first in ((0, 0), (1, 2)):
        actual = read(*(each[start:] for each in lists))
        assert same_memory(actual.score, score[first:])
        assert same_memory(actual.relevance, relevance[first:])


def test_a_column_of_one_chunk_is_used_where_it_lies() -> None:
    values = np.arange(6.0)
    column = pa.chunked_array([pa.ListArray.from_arrays([0, 2, 6], values)])
    (part,) = parts(Inputs(column, column))
    assert same_memory(part.score, values)


# --- Parts and Arrow ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["column", "columns chunked in two ways"])
def test_many_chunks_come_in_parts_of_about_part_documents(
    monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(reading, "PART", 10)
    rows = [[float(query)] * (query % 5) for query in range(40)]
    column, whole = (
        pa.chunked_array([rows[start : start + size] for start in range(0, 40, size)], LISTS)
        for size in (3, 40)
    )
    forms = {
        "column": (column, column),
        "columns chunked in two ways": (column, whole),
    }
    several = list(parts(Inputs(*forms[form])))
    assert len(several) > 1
    assert [query for part in several for query in documents(part)] == paired(rows, rows)
    assert all(10 - 4 <= part.score.size < 10 + 4 for part in several[:-1])


def test_an_error_in_a_later_part_names_the_query_counted_over_all_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "PART", 10)
    rows: list[Any] = [[1.0, 2.0]] * 40
    wrong = [*rows[:33], None, *rows[34:]]
    columns = (pa.chunked_array([each[:20], each[20:]], LISTS) for each in (rows, wrong))
    with refusal("references", "query 33"):
        list(parts(Inputs(*columns)))


# --- Refused --------------------------------------------------------------------------------------

FINE = [[1.0, 2.0], [3.0]]
LONG = np.ones((1, 2), np.longdouble)  # float64 on some machines
NO_ROWS: list[Any] = [
    {9, 1, 100},
    frozenset([1]),
    {1: 2},
    memoryview(b"12"),
    b"12",
    "12",
    range(2),
    None,
]
# values of one side, and the place that the error names
REFUSED: list[tuple[Any, str]] = [
    ([[1.0, 2.0], ["3"]], "query 1, position 0"),
    ([[1.0, b"2"], [3.0]], "query 0, position 1"),
    ([[1.0, 2.0], [[3.0]]], "query 1, position 0"),
    ([[None, 2.0], [object]], "query 1, position 0"),
    ([[1.0, 2.0], 3.0], "query 1"),
    ([1, [3.0]], "query 0"),
    *(([[1.0], row], "query 1") for row in NO_ROWS),
    ([np.ones(2), np.ones((1, 1))], "query 1"),
    ([np.ones(2), np.array(1.0)], "query 1"),
    ([np.ones(2), np.array(["3"])], "query 1, position 0"),
    (pa.array([[1.0, 2.0], None]), "query 1"),
]
NO_RANKINGS: list[Any] = [
    np.ones(2),
    np.ones((1, 2, 3)),
    np.array(1.0),
    np.array([[1j, 2]]),
    *[LONG] * (LONG.itemsize > 8),
    pa.array([1.0, 2.0]),
    pa.array([[[1.0]]]),
    "12",
    None,
    array.array("d", [1.0]),
]


@pytest.mark.parametrize("argument", ["predictions", "references"])
@pytest.mark.parametrize(
    ("values", "places"),
    [*((values, [place]) for values, place in REFUSED), *((values, []) for values in NO_RANKINGS)],
)
def test_what_is_not_rankings_is_rejected_with_its_place(
    argument: str, values: Any, places: list[str]
) -> None:
    with refusal(argument, *places):
        read(**{"predictions": FINE, "references": FINE, argument: values})


@pytest.mark.parametrize(
    ("predictions", "references", "place"),
    [
        *(
            (
                make([[1.0, 2.0], [3.0], [4.0]]),
                make([[1.0, 2.0], [3.0], [4.0, 5.0]]),
                "query 2: predictions and references differ in length, 1 and 2",
            )
            for make in FORMS.values()
        ),
        (
            np.ones((4, 3)),
            np.ones((4, 2)),
            "query 0: predictions and references differ in length, 3 and 2",
        ),
        (
            [[1.0], [2.0, 3.0]],
            [[1.0, 2.0], [3.0]],
            "query 0: predictions and references differ in length, 1 and 2",
        ),  # as many in all
        (
            np.ones((2, 3)),
            [[1, 2], [3, 4, 5, 6]],
            "query 0: predictions and references differ in length, 3 and 2",
        ),
    ],
)
def test_different_numbers_of_documents_are_rejected_with_the_query(
    predictions: Any, references: Any, place: str
) -> None:
    with refusal(place):
        read(predictions, references)


@pytest.mark.parametrize("sizes", [(3, 2), (1, 0), (0, 1)])
def test_different_numbers_of_queries_are_rejected_with_both(sizes: tuple[int, int]) -> None:
    predictions, references = ([[1]] * size for size in sizes)
    problem = "predictions and references differ in the number of queries"
    with refusal(f"{problem}, {sizes[0]} and {sizes[1]};"):
        read(predictions, references)


PREDICTED = [(1, 11, 1.2), (1, 12, 4.0), (2, 11, 3.9)]
RATED = [(1, 11, 5), (1, 12, 1), (2, 11, 2)]


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        (PREDICTED, RATED),
        (list(map(list, PREDICTED)), list(map(list, RATED))),
        (np.array(PREDICTED), np.array(RATED)),
        ([(7, 10, 4), (9, 2, 4)], [(7, 10, 4), (9, 2, 1)]),  # whole estimates, one item each
        ([[at // 3, at % 3, 0.5] for at in range(6)], [[at // 3, at % 3, 1] for at in range(6)]),
    ],
)
def test_rows_of_user_item_and_value_are_not_queries_of_three_documents(
    predictions: Any, references: Any
) -> None:
    with pytest.raises(ValueError, match=r"both sides hold rows|a row of a table"):
        read(predictions, references)
    user, item, value = np.array(references).T.astype(int)
    flat = {"query_ids": user, "document_ids": item}  # as the message says
    assert read(np.array(predictions)[:, 2], value, **flat).queries == len(set(user.tolist()))


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        ([[3, 2, 0.5], [1, 2, 0.3]], [[3, 2, 0], [1, 2, 0]]),  # few queries with small numbers
        ([[1, 11, 0.5]], [[1, 11, 2]]),  # one query, and no tuple, as the row of a database is
        (RATED, RATED),  # 1.0 either way
        ([[10, 0, 1]] * 6, [[10, 0, 5]] * 6),  # the same pair in each row
        ([[1, 11.5, 2], [2, 12, 3]], [[1, 11.5, 0], [2, 12, 0]]),  # fractions
        ([[1, 11, 2], [2, 12, 3]], [[1, 11, 0], [2, 13, 0]]),  # other pairs
        ([[1, 11, 2, 0], [2, 12, 3, 0]], [[1, 11, 0, 0], [2, 12, 0, 0]]),  # four documents
        ([[1, 2, 0], [3, 1, 2]], [[3, 1, 2], [1, 2, 3]]),  # 0 is no id
        ([[1, 2, 2], [3, 1, 2]], [[3, 1, 2], [1, 2, 3]]),  # a number twice
    ],
)
def test_scores_that_equal_the_relevance_of_two_documents_are_queries(
    predictions: Any, references: Any
) -> None:
    assert read(predictions, references).queries == len(predictions)


@pytest.mark.parametrize("threaded", [4, 1 << 20])
def test_flat_grouped_rows_are_used_where_they_lie_however_threads_share_them(
    monkeypatch: pytest.MonkeyPatch, threaded: int
) -> None:
    monkeypatch.setattr(ids, "THREADED", threaded)
    scores = np.linspace(1, 0, 23)
    found = read(scores, np.ones(23), query_ids=["a"] * 11 + ["b"] * 12)
    assert np.shares_memory(found.score, scores)
    assert found.offsets is not None
    assert found.offsets.tolist() == [0, 11, 23]


def test_none_beside_a_sparse_matrix_is_an_empty_list() -> None:
    labels = csr_matrix([[1, 0], [0, 1]])
    found = ndcg.compute(predictions=[None, [1]], references=labels, use_aggregator=False)
    assert found == {"nDCG": [0.0, 1.0]}
