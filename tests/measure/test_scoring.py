"""The kernel: equal to scikit-learn if that has a score, and to slow and obvious Python otherwise."""

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import slow_scores
from sklearn.metrics import dcg_score, ndcg_score

from ndcg.measure import arguments, scoring
from ndcg.measure.arguments import MEASURES
from ndcg.measure.scoring import InvalidRankingError, check_queries, discounts, score_queries

TEXTBOOK = [3, 2, 3, 0, 1, 2]
TIES, IDEALS = tuple(arguments.TIES), tuple(arguments.IDEALS)

Shape = tuple[int, int]


def scores_of(relevance: Any, score: Any, **options: Any) -> dict[str, float]:
    """Every measure of one query at one cutoff."""
    k = options.pop("k", None)
    values = score_queries(np.array([relevance]), np.array([score]), cutoffs=[k], measures=MEASURES, **options)
    return {name: float(value[0, 0]) for name, value in values.items()}


# --- The two references ----------------------------------------------------------------------------------------------


def of_sklearn(function: Callable[..., float], batch: "Batch", rows: slice = slice(None), **options: Any) -> float:
    """scikit-learn's answer; it warns while it guesses the type of huge targets."""
    weight = None if batch.weight is None else batch.weight[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(batch.relevance[rows], batch.score[rows], k=batch.k, sample_weight=weight, **options)


# --- Random batches --------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    relevance: NDArray[Any]
    score: NDArray[Any]
    k: int | None
    weight: NDArray[np.float64] | None


def near_ties(rng: np.random.Generator, shape: Shape, dtype: Any) -> NDArray[Any]:
    """Scores that differ in their last bits only."""
    dtype = np.dtype(dtype)
    if dtype.kind == "i":
        return (np.iinfo(dtype).max // 2 * rng.choice([-1, 1], (shape[0], 1)) + rng.integers(0, 6, shape)).astype(dtype)
    base = rng.choice([1.0, -1.0, 0.1, -0.1, 1e-4, -3e4], (shape[0], 1)).astype(dtype)
    bits = base.view(f"i{dtype.itemsize}")
    return (bits + rng.integers(0, rng.choice([2, 6, 200]), shape).astype(bits.dtype)).view(dtype)


SCORES: dict[str, Callable[[np.random.Generator, Shape], NDArray[Any]]] = {
    "no ties": lambda rng, shape: rng.normal(0, 100, shape),
    "light ties": lambda rng, shape: rng.normal(0, 3, shape).round(1),
    "heavy ties": lambda rng, shape: rng.integers(-1, 3, shape).astype(float),
    "negative": lambda rng, shape: -rng.gamma(1, 50, shape),
    "constant rows": lambda rng, shape: np.repeat(rng.normal(0, 9, (shape[0], 1)), shape[1], axis=1),
    "signed zeros": lambda rng, shape: rng.choice([0.0, -0.0, 0.0, 1.0, -1.0], shape),
    "subnormal": lambda rng, shape: rng.integers(-4, 5, shape) * 5e-324,
    "zeros and subnormal": lambda rng, shape: rng.choice([0.0, -0.0, 5e-324, -5e-324, 1e-310], shape),
    "huge": lambda rng, shape: rng.uniform(-1, 1, shape) * 1.7e308,
    "extremes": lambda rng, shape: rng.choice([-1.7976931348623157e308, 1.7976931348623157e308, 0.0, 1e300], shape),
    "every magnitude": lambda rng, shape: rng.choice([-1, 1], shape) * 10.0 ** rng.integers(-320, 308, shape),
    "big integers": lambda rng, shape: 2.0**60 + rng.integers(-3, 4, shape) * 256.0,
}
RELEVANCES: dict[str, Callable[[np.random.Generator, Shape], NDArray[Any]]] = {
    "binary": lambda rng, shape: rng.integers(0, 2, shape),
    "graded": lambda rng, shape: rng.integers(0, 5, shape),
    "sparse": lambda rng, shape: rng.integers(1, 4, shape) * (rng.random(shape) < 0.05),
    "constant rows": lambda rng, shape: np.repeat(rng.integers(0, 3, (shape[0], 1)), shape[1], axis=1),
    "all-zero rows": lambda rng, shape: rng.integers(0, 3, shape) * rng.integers(0, 2, (shape[0], 1)),
    "nothing relevant": lambda rng, shape: np.zeros(shape, int),
    "continuous": lambda rng, shape: rng.gamma(1, 2, shape),
    "huge": lambda rng, shape: rng.random(shape) * 1e303,
    "small": lambda rng, shape: rng.integers(0, 3, shape) * 1e-300,
    # only so far below the smallest normal number that products with discounts keep 12 digits
    "subnormal": lambda rng, shape: rng.integers(0, 3, shape) * 1e-308,
}


def cast(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """The nearest values that the type has, the lowest or highest for those beyond."""
    info: Any = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    if np.dtype(dtype).kind in "iu":
        values = np.rint(values)
        # float64 has no 2**63 - 1; and scikit-learn negates scores, which the lowest integer does not survive
        return np.clip(values, -(2.0**62), 2.0**62).clip(-float(info.max), float(info.max)).astype(dtype)
    with np.errstate(over="ignore"):
        return np.clip(values, info.min, info.max).astype(dtype)


@st.composite
def batches(draw: st.DrawFn, documents: st.SearchStrategy[int], queries: st.SearchStrategy[int]) -> Batch:
    """Batches that scikit-learn accepts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(queries), draw(documents)
    dtype = draw(st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int32]))
    kind = draw(st.sampled_from(["near ties", *SCORES]))
    score = near_ties(rng, shape, dtype) if kind == "near ties" else cast(SCORES[kind](rng, shape), dtype)
    kinds = [kind for kind in RELEVANCES if kind != "subnormal" or shape[1] < 100]
    relevance = RELEVANCES[draw(st.sampled_from(kinds))](rng, shape)
    if relevance.dtype.kind == "i":
        relevance = relevance.astype(draw(st.sampled_from([np.int64, np.uint8, np.float64, np.float32, np.float16])))
    k = draw(st.none() | st.integers(1, 12) | st.integers(1, shape[1] + 3))
    weight = rng.integers(0, 4, shape[0]) * rng.random(shape[0]) if draw(st.booleans()) else None
    if weight is not None:
        weight[rng.integers(shape[0])] = 1.0
    return Batch(relevance, score, k, weight)


SMALL = batches(documents=st.integers(2, 60), queries=st.integers(1, 8))
LARGE = batches(documents=st.integers(100, 3000), queries=st.integers(1, 3))
LOG_BASES = st.sampled_from([2, math.e, 10, 1.5, 0.5])


def close(actual: Any, expected: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=0)


def check_against_sklearn(batch: Batch, log_base: float) -> None:
    def mean(measure: str, **options: Any) -> Any:
        values = score_queries(batch.relevance, batch.score, measures=[measure], cutoffs=[batch.k], **options)
        return np.average(values[measure][0], weights=batch.weight)

    close(mean("nDCG"), of_sklearn(ndcg_score, batch))
    close(mean("DCG", log_base=log_base), of_sklearn(dcg_score, batch, log_base=log_base))


# --- Equal to scikit-learn -------------------------------------------------------------------------------------------


@settings(max_examples=1000)
@given(SMALL, LOG_BASES)
def test_equals_sklearn_on_lists_of_up_to_60_documents(batch: Batch, log_base: float) -> None:
    check_against_sklearn(batch, log_base)


@settings(max_examples=250)
@given(LARGE, LOG_BASES)
def test_equals_sklearn_on_lists_of_hundreds_to_thousands_of_documents(batch: Batch, log_base: float) -> None:
    check_against_sklearn(batch, log_base)


@settings(max_examples=150)
@given(SMALL)
def test_equals_sklearn_for_every_single_query(batch: Batch) -> None:
    values = score_queries(batch.relevance, batch.score, cutoffs=[batch.k])["nDCG"][0]
    single = batch._replace(weight=None)
    close(values, [of_sklearn(ndcg_score, single, slice(row, row + 1)) for row in range(len(values))])


@pytest.mark.parametrize("documents", [1 << 16, (1 << 16) + 1, 100_000])
def test_equals_the_ranks_by_lexsort_on_very_long_lists(documents: int) -> None:
    rng = np.random.default_rng(documents)
    relevance, score = (
        rng.integers(0, 4, (2, documents)),
        rng.permuted(np.arange(2.0 * documents).reshape(2, -1), axis=1),
    )
    values = score_queries(relevance, score, measures=["DCG"], cutoffs=[10, None], gain="exponential")["DCG"]
    for query in range(2):
        ranked = (2.0 ** relevance[query] - 1)[np.argsort(-score[query])] / np.log2(np.arange(documents) + 2)
        close(values[:, query], [math.fsum(ranked[:10]), math.fsum(ranked)])


# --- Equal to the slow reference: documents not retrieved, not judged, padding, every option -------------------------

RANKS = st.sampled_from([None, -math.inf, 0.0, -0.0, 0.5, 0.5 + 2**-53, 1.0, 5e-324, -5e-324, -1.7976931348623157e308])
JUDGMENTS = st.sampled_from([None, 0, 0, 1, 2, 3])
QUERIES = st.lists(st.lists(st.tuples(JUDGMENTS, RANKS), max_size=14), min_size=1, max_size=6)
GAINS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "linear": ("linear", lambda r: r),
    "exponential": ("exponential", lambda r: 2**r - 1),
    "binary": ("binary", lambda r: 1.0 if r > 0 else 0.0),
    "a gain per label": ([0, 1, 10, 2.5], [0, 1, 10, 2.5].__getitem__),
    "no gain for the first labels": ([0, 0, 3, 5], [0, 0, 3, 5].__getitem__),
    "a function": (lambda r: r * r + 1, lambda r: r * r + 1),
}


def flattened(queries: list[list[tuple[Any, Any]]], rubbish: float) -> dict[str, NDArray[Any]]:
    """The kernel's arrays; masked places hold rubbish that the kernel must not read."""
    documents = [document for query in queries for document in query]
    return {
        "relevance": np.array([rubbish if r is None else r for r, _ in documents], float),
        "score": np.array([rubbish if s is None else s for _, s in documents], float),
        "offsets": np.cumsum([0, *map(len, queries)]),
        "judged": np.array([r is not None for r, _ in documents], bool),
        "retrieved": np.array([s is not None for _, s in documents], bool),
    }


def close_to_slow(actual: dict[str, Any], queries: list[list[tuple[Any, Any]]], k: int | None, **options: Any) -> None:
    slow = [slow_scores([r for r, _ in query], [s for _, s in query], k, **options) for query in queries]
    for measure in MEASURES:
        close(actual[measure], [values[measure] for values in slow])


@settings(max_examples=400)
@given(
    QUERIES,
    st.none() | st.integers(1, 17),
    st.sampled_from(sorted(GAINS)),
    st.sampled_from(TIES),
    LOG_BASES,
    st.sampled_from([0.0, 1.0, -2.5, "perfect_if_empty"]),
    st.sampled_from(IDEALS),
    st.sampled_from([math.nan, math.inf, 7.0]),
)
def test_ragged_lists_with_missing_values_equal_the_slow_reference(
    queries: list[list[tuple[Any, Any]]],
    k: int | None,
    gain: str,
    ties: str,
    log_base: float,
    zero_division: float | str,
    ideal: str,
    rubbish: float,
) -> None:
    fast, slow = GAINS[gain]
    ideal = "judged" if k is None and ideal == "full" else ideal  # it is of k documents
    options = {"ties": ties, "log_base": log_base, "zero_division": zero_division}
    how = {"measures": MEASURES, "cutoffs": [k], "gain": fast, "ideal": ideal}
    values = score_queries(**flattened(queries, rubbish), **how, **options)
    close_to_slow({name: value[0] for name, value in values.items()}, queries, k, gain=slow, over=ideal, **options)


@settings(max_examples=100)
@given(
    st.integers(1, 8).flatmap(
        lambda n: st.lists(st.lists(st.tuples(JUDGMENTS, RANKS), min_size=n, max_size=n), min_size=1)
    ),
    st.none() | st.integers(1, 9),
    st.sampled_from(TIES),
)
def test_masks_mean_the_same_in_2d_arrays(queries: list[list[tuple[Any, Any]]], k: int | None, ties: str) -> None:
    arrays = flattened(queries, rubbish=math.nan)
    del arrays["offsets"]
    square = {name: array.reshape(len(queries), -1) for name, array in arrays.items()}
    values = score_queries(**square, measures=MEASURES, cutoffs=[k], ties=ties)
    close_to_slow({name: value[0] for name, value in values.items()}, queries, k, ties=ties)


@settings(max_examples=150)
@given(
    st.lists(batches(documents=st.integers(80, 1500), queries=st.just(1)), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.02, 0.5, 0.97, 1.0]),
    st.sampled_from([0.0, 0.02, 0.5, 0.97, 1.0]),
    st.sampled_from(TIES),
)
def test_long_ragged_lists_with_missing_values_equal_the_slow_reference(
    several: list[Batch], unjudged: float, not_retrieved: float, ties: str
) -> None:
    rng = np.random.default_rng(several[0].score.shape[1])
    queries = [
        [
            (None if rng.random() < unjudged else float(r), None if rng.random() < not_retrieved else float(s))
            for r, s in zip(batch.relevance[0], batch.score[0], strict=True)
        ]
        for batch in several
    ]
    values = score_queries(**flattened(queries, math.nan), measures=MEASURES, cutoffs=[several[0].k], ties=ties)
    close_to_slow({name: value[0] for name, value in values.items()}, queries, several[0].k, ties=ties)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(2**53 - 2, 2**63 - 1)), min_size=1, max_size=12))
def test_integer_scores_beyond_float64_are_ranked_exactly(documents: list[tuple[int, int]]) -> None:
    relevance, score = [r for r, _ in documents], [s for _, s in documents]
    for sign, dtype in ((1, np.int64), (-1, np.int64), (1, np.uint64)):
        signed = [sign * s for s in score]
        values = score_queries(np.array([relevance]), np.array([signed], dtype), measures=["DCG"], cutoffs=[2])
        close(values["DCG"][0, 0], slow_scores(relevance, signed, 2)["DCG"])


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (2**53, 2**53 + 1, np.int64),
        (-(2**53) - 1, -(2**53), np.int64),
        (2**63 - 2, 2**63 - 1, np.int64),
        (-(2**63), -(2**63) + 1, np.int64),
        (2**64 - 2, 2**64 - 1, np.uint64),
        (0, 2**64 - 1, np.uint64),
        (0, 255, np.uint8),
        (-128, 127, np.int8),
        (False, True, np.bool_),
    ],
)
def test_the_higher_of_two_integers_ranks_first(low: int, high: int, dtype: Any) -> None:
    values = score_queries(np.array([[1, 0]]), np.array([[low, high]], dtype), measures=["DCG"])["DCG"]
    assert values[0, 0] == pytest.approx(1 / math.log2(2 + 1), rel=1e-15)
    ragged = {"relevance": np.array([0, 1, 5]), "score": np.array([low, high, low], dtype), "offsets": [0, 2, 3]}
    ragged["offsets"] = np.array(ragged["offsets"])
    assert score_queries(**ragged)["nDCG"].tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.123456789, np.nextafter(0.123456789, 1)),
        (0.1234567891, 0.1234567892),
        (np.nextafter(-1.0, -2), -1.0),
        (0.0, 5e-324),
        (-5e-324, -0.0),
        (-5e-324, 5e-324),
        (5e-324, 1e-323),
        (np.nextafter(1.7976931348623157e308, 0), 1.7976931348623157e308),
        (-1.7976931348623157e308, np.nextafter(-1.7976931348623157e308, 0)),
        (np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(1))),
        (np.float16(0.1), np.nextafter(np.float16(0.1), np.float16(1))),
    ],
)
def test_scores_that_differ_in_the_last_bit_are_not_tied(one: Any, other: Any) -> None:
    for relevance, ndcg in (([0, 1], 1.0), ([1, 0], 1 / math.log2(2 + 1))):
        for ties in TIES:
            pair = np.array([relevance]), np.array([[one, other]])
            for arrays in (pair, [array[:, ::-1] for array in pair]):
                assert score_queries(*arrays, ties=ties)["nDCG"][0, 0] == pytest.approx(ndcg, rel=1e-15)


def test_zero_and_negative_zero_are_a_tie() -> None:
    assert scores_of([1, 0], [-0.0, 0.0], k=1)["nDCG"] == 0.5
    assert scores_of([1, 0], [0.0, -0.0], k=1)["nDCG"] == 0.5


@pytest.mark.parametrize("documents", [31, 32, 200])
def test_negative_zeros_are_tied_in_long_lists_above_barely_negative_scores(documents: int) -> None:
    score = [-0.0, -5e-324, -0.0, *[-1.0] * (documents - 3)]
    assert scores_of([1, 0, 0, *[0] * (documents - 3)], score, k=1)["DCG"] == 0.5


@pytest.mark.parametrize("score", [[math.nan, math.nan, 1.0], [math.nan, 1.0, math.inf], [math.nan] * 3])
@pytest.mark.parametrize("k", [1, 2, None])
def test_nan_at_the_cutoff_is_rejected_at_its_place(score: list[float], k: int | None) -> None:
    at = next(at for at, value in enumerate(score) if not value < math.inf)
    with pytest.raises(InvalidRankingError, match=f"^score: query 1, position {at}: "):
        score_queries(np.array([[1, 0, 0]] * 2), np.array([[1.0, 2.0, 3.0], score]), cutoffs=[k])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("k", [2, 3, None])
def test_ties_among_nearly_equal_scores_give_the_same_bits_alone_and_among_many(sign: int, k: int | None) -> None:
    score = np.array([[sign, sign * (1 + 2.0**-40), sign, sign]])  # near in a large block, not in a small one
    relevance = np.array([[0.1, 0.7, 0.2, 0.3]])
    alone = score_queries(relevance, score, measures=MEASURES, cutoffs=[k])
    many = score_queries(relevance.repeat(50_000, axis=0), score.repeat(50_000, axis=0), measures=MEASURES, cutoffs=[k])
    for measure in MEASURES:
        assert (many[measure] == alone[measure]).all()


def test_the_lowest_number_is_a_score_and_minus_infinity_is_none() -> None:
    lowest = -1.7976931348623157e308
    retrieved = scores_of([1, 0], [lowest, 0.0])
    assert retrieved["nDCG"] == pytest.approx(1 / math.log2(2 + 1), rel=1e-15)
    assert scores_of([1, 0], [-math.inf, 0.0])["nDCG"] == 0.0
    assert scores_of([1, 0], [lowest, -math.inf]) == {"nDCG": 1.0, "DCG": 1.0, "IDCG": 1.0, "CG": 1.0}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_minus_infinity_marks_a_document_not_retrieved_in_every_float_type(dtype: Any) -> None:
    score = np.array([[2, -np.inf, 1]], dtype)
    values = score_queries(np.array([[1, 3, 1]]), score, measures=MEASURES)
    assert values["DCG"][0, 0] == pytest.approx(1 / math.log2(1 + 1) + 1 / math.log2(2 + 1), rel=1e-15)
    assert values["IDCG"][0, 0] == pytest.approx(
        3 / math.log2(1 + 1) + 1 / math.log2(2 + 1) + 1 / math.log2(3 + 1), rel=1e-15
    )


# --- Invariances -----------------------------------------------------------------------------------------------------


def test_thousands_of_ragged_lists_score_as_each_alone_in_their_order() -> None:
    rng = np.random.default_rng(1)
    lengths = np.concatenate([rng.geometric(0.02, 3000), [0, 1, 70_000, 1, 0, 9000, 9000]])
    rng.shuffle(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    relevance, score = rng.integers(0, 3, offsets[-1]), rng.integers(0, 50, offsets[-1]) / 7
    together = score_queries(relevance, score, offsets, measures=MEASURES, cutoffs=[10, None])
    for query, (start, stop) in enumerate(itertools.pairwise(offsets)):
        alone = score_queries(
            relevance[None, start:stop], score[None, start:stop], measures=MEASURES, cutoffs=[10, None]
        )
        for measure in MEASURES:
            close(together[measure][:, query], alone[measure][:, 0])


@settings(max_examples=150)
@given(SMALL, st.lists(st.none() | st.integers(1, 70), min_size=1, max_size=5), st.sampled_from(TIES))
def test_several_cutoffs_equal_single_calls(batch: Batch, cutoffs: list[int | None], ties: str) -> None:
    together = score_queries(batch.relevance, batch.score, measures=MEASURES, cutoffs=cutoffs, ties=ties)
    for row, k in enumerate(cutoffs):
        alone = score_queries(batch.relevance, batch.score, measures=MEASURES, cutoffs=[k], ties=ties)
        for measure in MEASURES:
            close(together[measure][row], alone[measure][0])


@settings(max_examples=60)
@given(SMALL)
def test_the_inputs_are_left_as_they_were(batch: Batch) -> None:
    relevance, score = batch.relevance.copy(), batch.score.copy()
    relevance.flags.writeable = score.flags.writeable = False
    for ties in TIES:
        score_queries(relevance, score, cutoffs=[batch.k], ties=ties)
    np.testing.assert_array_equal(relevance, batch.relevance)
    np.testing.assert_array_equal(score, batch.score)


def test_calls_in_several_threads_at_once_do_not_mix() -> None:
    rng = np.random.default_rng(11)
    several = [(rng.integers(0, 3, (50, n)), rng.integers(0, n, (50, n)) / 3) for n in range(20, 60)]
    expected = [score_queries(*batch, cutoffs=[5, None]) for batch in several]
    with ThreadPoolExecutor(8) as pool:
        actual = list(pool.map(lambda batch: score_queries(*batch, cutoffs=[5, None]), several * 5))
    for index, values in enumerate(actual):
        np.testing.assert_array_equal(values["nDCG"], expected[index % len(several)]["nDCG"])


def test_a_gain_function_may_itself_score() -> None:
    rng = np.random.default_rng(12)
    relevance, score = rng.integers(0, 3, (20, 30)), rng.integers(0, 9, (20, 30)) / 3
    expected = score_queries(relevance, score, measures=MEASURES, cutoffs=[4])

    def gain(values: NDArray[np.float64]) -> NDArray[np.float64]:
        score_queries(relevance[:, ::-1], -score, measures=MEASURES, cutoffs=[7])
        return values

    actual = score_queries(relevance, score, measures=MEASURES, cutoffs=[4], gain=gain)
    for measure in MEASURES:
        np.testing.assert_array_equal(actual[measure], expected[measure])


def test_results_do_not_change_with_later_calls() -> None:
    rng = np.random.default_rng(13)
    relevance, score = rng.integers(0, 3, (20, 30)), rng.integers(0, 9, (20, 30)) / 3
    values = score_queries(relevance, score, measures=MEASURES, cutoffs=[4])
    copies = {measure: value.copy() for measure, value in values.items()}
    score_queries(relevance[::-1], -score, measures=MEASURES, cutoffs=[4])
    for measure in MEASURES:
        np.testing.assert_array_equal(values[measure], copies[measure])


def test_arrays_need_not_be_contiguous() -> None:
    rng = np.random.default_rng(3)
    relevance, score = rng.integers(0, 3, (40, 30)), rng.integers(0, 9, (40, 30)) / 3
    expected = score_queries(relevance[::2, ::3].copy(), score[::2, ::3].copy(), cutoffs=[4])["nDCG"]
    close(score_queries(relevance[::2, ::3], score[::2, ::3], cutoffs=[4])["nDCG"], expected)
    fortran = np.asfortranarray(relevance[::2, ::3]), np.asfortranarray(score[::2, ::3])
    close(score_queries(*fortran, cutoffs=[4])["nDCG"], expected)


# --- The order of tied documents -------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(SMALL | LARGE, st.sampled_from(["first", "last", "best", "worst"]))
def test_each_order_of_ties_equals_a_sort_by_score_then_that_order(batch: Batch, ties: str) -> None:
    values = score_queries(batch.relevance, batch.score, measures=["DCG"], cutoffs=[batch.k], ties=ties)["DCG"][0]
    for query, (relevance, score) in enumerate(zip(batch.relevance, batch.score, strict=True)):
        gain = relevance.astype(float)
        position = np.arange(len(gain))
        second = {"first": position, "last": -position, "best": -gain, "worst": gain}[ties]
        order = np.lexsort((second, -score))
        ranked = gain[order] / np.log2(position + 2)
        close(values[query], math.fsum(ranked[: batch.k]))


@settings(max_examples=150)
@given(SMALL, st.sampled_from(TIES))
def test_no_rounding_takes_ndcg_above_1(batch: Batch, ties: str) -> None:
    # scores in the order of the relevances, with fewer levels, so that a tied group is a mean of equal gains
    score = np.floor(batch.relevance.astype(float) / (float(batch.relevance.max()) or 1.0) * 1e6)
    values = score_queries(batch.relevance, score, cutoffs=[1, batch.k, None], ties=ties)["nDCG"]
    assert values.max() <= 1
    random = score_queries(batch.relevance, batch.score, cutoffs=[batch.k], ties=ties)["nDCG"]
    assert random.max() <= 1


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=5), st.integers(1, 6))
def test_the_average_is_the_mean_over_all_orders(documents: list[tuple[int, int]], k: int) -> None:
    orders = [
        order for order in itertools.permutations(documents) if [-s for _, s in order] == sorted(-s for _, s in order)
    ]
    dcgs = [math.fsum(r / math.log2(rank + 1) for rank, (r, _) in enumerate(order[:k], 1)) for order in orders]
    actual = scores_of([r for r, _ in documents], [s for _, s in documents], k=k)["DCG"]
    assert actual == pytest.approx(math.fsum(dcgs) / len(dcgs), rel=1e-12, abs=0)


def test_the_orders_of_two_tied_documents_at_the_cutoff() -> None:
    ndcg = {ties: scores_of([1, 0, 0, 0, 0], [1, 1, 0, 0, 0], k=1, ties=ties)["nDCG"] for ties in TIES}
    assert ndcg == {"average": 0.5, "first": 1.0, "last": 0.0, "best": 1.0, "worst": 0.0}


@pytest.mark.parametrize("documents", [2, 3, 16, 17, 64, 65, 1000, 5000])
@pytest.mark.parametrize("ties", ["first", "last"])
def test_a_row_of_equal_scores_keeps_or_reverses_the_input(documents: int, ties: str) -> None:
    relevance = np.arange(documents, dtype=float)[None]
    for constant in (0.0, -0.0, 1.0, -1.0, 1e308, -5e-324):
        score = np.full((1, documents), constant)
        actual = score_queries(relevance, score, measures=["CG"], cutoffs=[1, 2], ties=ties)["CG"][:, 0].tolist()
        last = documents - 1.0
        assert actual == ([0.0, 1.0] if ties == "first" else [last, last + last - 1])


# --- Figures from the literature -------------------------------------------------------------------------------------


def textbook_dcg(gains: Sequence[float], log: Callable[[float], float] = math.log2) -> float:
    return sum(gain / log(rank + 1) for rank, gain in enumerate(gains, 1))


def test_the_textbook_ranking() -> None:
    actual = scores_of(TEXTBOOK, [6, 5, 4, 3, 2, 1])
    dcg = (
        3 / math.log2(2) + 2 / math.log2(3) + 3 / math.log2(4) + 0 / math.log2(5) + 1 / math.log2(6) + 2 / math.log2(7)
    )
    idcg = (
        3 / math.log2(2) + 3 / math.log2(3) + 2 / math.log2(4) + 2 / math.log2(5) + 1 / math.log2(6) + 0 / math.log2(7)
    )
    assert actual == pytest.approx(
        {"CG": 3 + 2 + 3 + 0 + 1 + 2, "DCG": dcg, "IDCG": idcg, "nDCG": dcg / idcg}, rel=1e-14
    )


def test_the_textbook_ranking_with_exponential_gain() -> None:
    actual = scores_of(TEXTBOOK, [6, 5, 4, 3, 2, 1], gain="exponential")
    dcg = textbook_dcg([2**r - 1 for r in TEXTBOOK])
    idcg = textbook_dcg([2**r - 1 for r in sorted(TEXTBOOK, reverse=True)])
    cg = 7 + 3 + 7 + 0 + 1 + 3
    assert actual == pytest.approx({"CG": cg, "DCG": dcg, "IDCG": idcg, "nDCG": dcg / idcg}, rel=1e-14)


def test_two_more_judged_documents_that_were_not_retrieved_count_in_the_ideal() -> None:
    relevance, score = np.array([[*TEXTBOOK, 3, 2]]), np.array([[6.0, 5, 4, 3, 2, 1, 99, 99]])
    retrieved = np.array([[True] * 6 + [False] * 2])
    actual = score_queries(relevance, score, retrieved=retrieved, measures=MEASURES, cutoffs=[6])
    idcg = textbook_dcg([3, 3, 3, 2, 2, 2])
    assert actual["DCG"][0, 0] == pytest.approx(textbook_dcg(TEXTBOOK), rel=1e-14)
    assert actual["IDCG"][0, 0] == pytest.approx(idcg, rel=1e-14)
    assert actual["nDCG"][0, 0] == pytest.approx(textbook_dcg(TEXTBOOK) / idcg, rel=1e-14)


def test_the_natural_logarithm_divides_dcg_by_ln_2_and_leaves_ndcg() -> None:
    binary, natural = (scores_of(TEXTBOOK, [6, 5, 4, 3, 2, 1], log_base=base) for base in (2, math.e))
    assert natural["DCG"] == pytest.approx(textbook_dcg(TEXTBOOK, math.log), rel=1e-14)
    # a discount of 1 / ln(i + 1) is one of 1 / log2(i + 1), over ln 2
    assert natural["DCG"] == pytest.approx(binary["DCG"] / math.log(2), rel=1e-14)
    assert natural["IDCG"] == pytest.approx(binary["IDCG"] / math.log(2), rel=1e-14)
    assert natural["nDCG"] == pytest.approx(binary["nDCG"], rel=1e-14)
    assert natural["CG"] == binary["CG"]
    assert round(natural["DCG"], 3) == 9.899


@pytest.mark.parametrize("log_base", [0.1, 0.5, 0.999, 1.001, 1.5, 3, 10, 1e6])
def test_every_log_base_leaves_ndcg_as_it_is(log_base: float) -> None:
    two, other = (scores_of(TEXTBOOK, [1, 1, 2, 3, 2, 0], log_base=base) for base in (2, log_base))
    assert other["nDCG"] == pytest.approx(two["nDCG"], rel=1e-12)
    assert other["DCG"] == pytest.approx(two["DCG"] * math.log2(log_base), rel=1e-12)


def test_linear_and_exponential_gain_are_the_same_for_binary_relevance() -> None:
    rng = np.random.default_rng(5)
    relevance, score = rng.integers(0, 2, (20, 30)), rng.integers(0, 9, (20, 30))
    linear, exponential = (
        score_queries(relevance, score, measures=MEASURES, gain=gain) for gain in ("linear", "exponential")
    )
    for measure in MEASURES:
        np.testing.assert_array_equal(linear[measure], exponential[measure])


def test_three_relevant_documents_of_five_known_score_less_than_five_of_five() -> None:
    relevance, score = np.ones((2, 5)), np.array([[5.0, 4, 3, -np.inf, -np.inf], [5, 4, 3, 2, 1]])
    three, five = score_queries(relevance, score, cutoffs=[5])["nDCG"][0]
    assert three == pytest.approx(textbook_dcg([1] * 3) / textbook_dcg([1] * 5), rel=1e-14)
    assert five == 1.0
    assert three < five


def test_discounts_fall_with_the_logarithm_of_the_rank() -> None:
    close(discounts(4), [1 / math.log2(1 + 1), 1 / math.log2(2 + 1), 1 / math.log2(3 + 1), 1 / math.log2(4 + 1)])
    close(discounts(3, math.e), [1 / math.log(1 + 1), 1 / math.log(2 + 1), 1 / math.log(3 + 1)])
    assert discounts(0).shape == (0,)


def by_formula(formula: str, rank: int) -> float:
    return float(eval(formula, {"i": rank, "log_b": math.log2, "max": max}))


SLOW_DISCOUNTS: dict[str, Callable[[int], float]] = {
    **{name: partial(by_formula, each.formula) for name, each in arguments.DISCOUNTS.items()},
    "a list": lambda rank: max(0, 1 - rank / 20),
    "a function": lambda rank: 0.9**rank,
}
FAST_DISCOUNTS = {
    **{name: name for name in arguments.DISCOUNTS},
    "a list": [1 - rank / 20 for rank in range(1, 21)],
    "a function": lambda ranks: 0.9**ranks,
}


@pytest.mark.parametrize("discount", SLOW_DISCOUNTS)
@pytest.mark.parametrize("k", [None, 1, 3, 20])
@pytest.mark.parametrize("ties", TIES)
def test_every_discount_equals_the_slow_reference(discount: str, k: int | None, ties: str) -> None:
    rng = np.random.default_rng(3)
    queries = [
        list(zip(rng.integers(0, 4, n).tolist(), rng.integers(0, 5, n).tolist(), strict=True)) for n in range(20)
    ]
    how = {"ties": ties, "discount": FAST_DISCOUNTS[discount]}
    values = score_queries(**flattened(queries, math.nan), measures=MEASURES, cutoffs=[k], **how)
    found = {name: value[0] for name, value in values.items()}
    close_to_slow(found, queries, k, ties=ties, discount=SLOW_DISCOUNTS[discount])


def test_a_full_ideal_has_k_documents_of_the_highest_gain() -> None:
    relevance, score = np.array([[3.0, 1.0, 2.0], [0.0, 0.0, 0.0]]), np.array([[3.0, 2.0, 1.0]] * 2)
    found = score_queries(relevance, score, measures=["nDCG", "IDCG"], cutoffs=[1, 2, 5], ideal="full")
    close(found["IDCG"][:, 0], [3, 3 + 3 / math.log2(3), 3 * sum(1 / math.log2(i + 1) for i in range(1, 6))])
    close(found["nDCG"][:2, 0], [1, (3 + 1 / math.log2(3)) / (3 + 3 / math.log2(3))])
    assert found["nDCG"][:, 1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("gain", [0.1, 1 / 3, 7.0, 1e300])
@pytest.mark.parametrize("ideal", IDEALS)
def test_a_perfect_ranking_is_exactly_1_by_every_ideal(ideal: str, gain: float) -> None:
    relevance, score = np.full((3, 37), gain), np.arange(111.0).reshape(3, 37)
    cutoffs = range(1, 38)
    assert (score_queries(relevance, score, cutoffs=cutoffs, ideal=ideal)["nDCG"] == 1).all()


def test_a_truncated_ideal_holds_retrieved_documents_only() -> None:
    # relevances 3, 2 and 1, of which the one in the middle was retrieved, and one that nobody judged
    query = {"relevance": np.array([[3.0, 2.0, 1.0, 9.0]]), "score": np.array([[np.nan, 2.0, np.nan, 1.0]])}
    query |= {"judged": np.array([[True, True, True, False]]), "retrieved": np.array([[False, True, False, True]])}
    expected = {
        "judged": 3 + 2 / math.log2(3) + 1 / math.log2(4),
        "truncated": 3 + 2 / math.log2(3),
        "retrieved": 2.0,
    }
    for ideal, value in expected.items():
        close(score_queries(**query, measures=["IDCG"], ideal=ideal)["IDCG"], [[value]])


@pytest.mark.parametrize("ideal", IDEALS)
def test_every_ideal_rejects_the_relevance_of_a_document_that_was_not_retrieved(ideal: str) -> None:
    for relevance, gain in ((math.inf, "linear"), (math.nan, "linear"), (2.5, [0, 1]), (5000.0, "exponential")):
        arrays = np.array([[1.0, relevance]]), np.array([[1.0, -np.inf]])
        with pytest.raises(InvalidRankingError, match=r"^relevance: query 0, position 1: "):
            score_queries(*arrays, gain=gain, ideal=ideal, cutoffs=[2])


def test_an_empty_answer_is_right_where_nothing_is_relevant() -> None:
    none, some = -np.inf, 1.0
    values = score_queries(
        np.array([[0.0], [0.0], [1.0], [1.0]]),
        np.array([[none], [some], [none], [some]]),
        zero_division="perfect_if_empty",
    )["nDCG"]
    assert values.tolist() == [[1, 0, 0, 1]]


@pytest.mark.parametrize("ideal", IDEALS)
@pytest.mark.parametrize(
    ("relevance", "gain", "value"),
    [
        (1.0, [0, 0, 3], 1),  # the label 1 gains nothing, so there is nothing to find
        (2.0, [0, 0, 3], 0),
        (0.0, [1, 2], 0),  # the label 0 gains something
        (1.0, lambda relevance: 0 * relevance, 1),
        (-1.0, "linear", 1),
    ],
)
def test_nothing_is_relevant_if_no_judged_document_has_a_gain(
    ideal: str, relevance: float, gain: Any, value: float
) -> None:
    """Under each ideal: a truncated one is empty if nothing was retrieved, even if there was something to find."""
    how = {"gain": gain, "negative_relevance": "keep", "ideal": ideal, "cutoffs": [1]}
    query = np.array([[relevance]]), np.array([[-np.inf]])
    assert score_queries(*query, **how, zero_division="perfect_if_empty")["nDCG"] == value


def test_jarvelin_does_not_discount_ranks_below_the_base() -> None:
    # Järvelin and Kekäläinen, 2002, section 2.2: gains 3, 2, 3, 0, 0, 1, 2, 2, 3, 0 and base 2 give DCG
    # 3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61
    gains = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    found = score_queries(
        np.array([gains]), -np.arange(10.0)[None], measures=["DCG"], cutoffs=range(1, 11), discount="jarvelin"
    )["DCG"][:, 0]
    assert found.round(2).tolist() == [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    assert discounts(12, 10, "jarvelin")[:10].tolist() == [1.0] * 10


def test_a_discount_that_ends_too_early_or_is_none_is_rejected() -> None:
    three = {"relevance": np.ones((1, 3)), "score": np.ones((1, 3))}
    with pytest.raises(ValueError, match="discount lists 2 ranks, but 3 count; list more, or give k=2"):
        score_queries(**three, discount=[1.0, 0.5])
    assert score_queries(**three, discount=[1.0, 0.5], cutoffs=[2])["nDCG"] == 1
    for function, message in (
        (lambda ranks: ranks, "rises from 1.0 at rank 1 to 2.0 at rank 2"),
        (lambda ranks: 1.0 - ranks, "is -1.0 at rank 2; discounts are finite and not negative"),
        (lambda ranks: 0.0 * ranks, "is 0 at rank 1, so nothing counts"),
        (lambda ranks: ranks / 0.0, "is inf at rank 1; discounts are finite"),
    ):
        with pytest.raises(ValueError, match=message), np.errstate(all="ignore"):
            score_queries(**three, discount=function)
    with pytest.raises(ValueError, match="discount gets an array of ranks and must return an array of as many numbers"):
        score_queries(**three, discount=lambda ranks: 1.0)


# --- Options ---------------------------------------------------------------------------------------------------------


def test_a_gain_per_label() -> None:
    actual = scores_of([0, 1, 2], [1, 2, 3], gain=[0, 1, 10])
    dcg = 10 / math.log2(1 + 1) + 1 / math.log2(2 + 1) + 0 / math.log2(3 + 1)
    assert actual == pytest.approx({"nDCG": 1.0, "DCG": dcg, "IDCG": dcg, "CG": 11.0}, rel=1e-14)


@pytest.mark.parametrize("label", [3, 0.5, 2.5])
def test_a_label_without_a_gain_is_rejected_at_its_place(label: float) -> None:
    with pytest.raises(InvalidRankingError, match=rf"^relevance: query 1, position 2: .*label {label} .*0 to 2"):
        score_queries(np.array([[0, 1, 2], [0, 0, label]]), np.ones((2, 3)), gain=[0, 1, 10])


def test_a_gain_that_is_a_function_sees_the_judged_relevances_only() -> None:
    seen: list[float] = []

    def gain(relevance: NDArray[np.float64]) -> NDArray[np.float64]:
        seen.extend(relevance.tolist())
        return np.sqrt(relevance)

    relevance, judged = np.array([[4.0, 9.0, -1.0]]), np.array([[True, True, False]])
    values = score_queries(relevance, np.array([[1, 2, 3]]), judged=judged, measures=["DCG"], gain=gain)["DCG"]
    assert values[0, 0] == pytest.approx(0 / math.log2(1 + 1) + 3 / math.log2(2 + 1) + 2 / math.log2(3 + 1), rel=1e-14)
    assert sorted(set(seen)) == [4.0, 9.0]


@pytest.mark.parametrize("zero_division", [0.0, 1.0, -3.5, math.nan])
def test_a_query_with_nothing_relevant_has_the_value_of_zero_division(zero_division: float) -> None:
    relevance, score = np.array([[0, 0], [1, 0]]), np.array([[2, 1], [2, 1]])
    values = score_queries(relevance, score, zero_division=zero_division, cutoffs=[1, None])["nDCG"]
    np.testing.assert_array_equal(values, [[zero_division, 1.0], [zero_division, 1.0]])


def test_a_query_of_no_documents_has_nothing_relevant() -> None:
    for relevance, score, offsets in (
        (np.empty((1, 0)), np.empty((1, 0)), None),
        (np.empty(0), np.empty(0), np.array([0, 0])),
    ):
        values = score_queries(relevance, score, offsets, measures=MEASURES, cutoffs=[1, None], zero_division=0.25)
        assert {name: value.tolist() for name, value in values.items()} == {
            "nDCG": [[0.25], [0.25]],
            "DCG": [[0.0], [0.0]],
            "IDCG": [[0.0], [0.0]],
            "CG": [[0.0], [0.0]],
        }


def test_no_queries_have_no_values() -> None:
    for relevance, offsets in ((np.empty((0, 5)), None), (np.empty(0), np.array([0]))):
        values = score_queries(relevance, relevance.copy(), offsets, cutoffs=[1, None])
        assert values["nDCG"].shape == (2, 0)


def test_a_document_alone_scores_1_if_relevant() -> None:
    assert score_queries(np.array([[2], [0]]), np.array([[7], [7]]))["nDCG"].tolist() == [[1.0, 0.0]]


def test_a_negative_relevance_is_rejected_at_its_place() -> None:
    with pytest.raises(InvalidRankingError, match=r"relevance: query 1, position 0: .*-2.* negative") as caught:
        score_queries(np.array([[1, 0], [-2, 1]]), np.ones((2, 2)))
    assert (caught.value.array, caught.value.query, caught.value.position) == ("relevance", 1, 0)


def test_a_negative_relevance_clipped_has_gain_0() -> None:
    clipped = scores_of([-1, 2, 1], [3, 2, 1], negative_relevance="clip")
    assert clipped == scores_of([0, 2, 1], [3, 2, 1])
    # clipped is the gain: a function that has a gain for 0 gives none to a negative relevance
    plus_one = scores_of([-1, 2, 1], [3, 2, 1], negative_relevance="clip", gain=lambda r: r + 1)
    assert plus_one["DCG"] == pytest.approx(
        0 / math.log2(1 + 1) + 3 / math.log2(2 + 1) + 2 / math.log2(3 + 1), rel=1e-14
    )


def test_a_bad_document_marked_minus_1_lowers_the_score_when_kept() -> None:
    bad, irrelevant = ([2, bad, 1] for bad in (-1, 0))
    score = [3, 2, 1]
    kept = scores_of(bad, score, negative_relevance="keep")
    dcg = 2 / math.log2(1 + 1) - 1 / math.log2(2 + 1) + 1 / math.log2(3 + 1)
    idcg = 2 / math.log2(1 + 1) + 1 / math.log2(2 + 1) - 1 / math.log2(3 + 1)
    assert kept == pytest.approx({"nDCG": dcg / idcg, "DCG": dcg, "IDCG": idcg, "CG": 2 - 1 + 1}, rel=1e-14)
    assert kept["DCG"] < scores_of(irrelevant, score)["DCG"]
    assert kept["nDCG"] < scores_of(irrelevant, score)["nDCG"]
    assert kept["nDCG"] < scores_of(bad, [3, 1, 2], negative_relevance="keep")["nDCG"]


def test_kept_negative_relevances_may_take_ndcg_below_0() -> None:
    assert scores_of([-3, 1], [2, 1], k=1, negative_relevance="keep")["nDCG"] == -3.0


def test_an_ideal_that_is_not_positive_has_the_value_of_zero_division() -> None:
    assert scores_of([-3, -1], [2, 1], negative_relevance="keep", zero_division=0.5)["nDCG"] == 0.5
    assert scores_of([-3, -1], [2, 1], negative_relevance="keep", zero_division=0.5, log_base=0.5)["nDCG"] == 0.5


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.none() | st.integers(-2, 3), st.none() | st.integers(0, 3)), min_size=1, max_size=10).filter(
        lambda documents: any(r is not None for r, _ in documents)
    ),
    st.none() | st.integers(1, 11),
    st.sampled_from(TIES),
)
def test_kept_negative_relevances_equal_the_slow_reference(
    documents: list[tuple[int | None, int | None]], k: int | None, ties: str
) -> None:
    arrays = flattened([documents], rubbish=0.0)
    options = {"measures": ["DCG", "IDCG", "CG"], "cutoffs": [k], "ties": ties, "negative_relevance": "keep"}
    actual = score_queries(**arrays, **options)
    expected = slow_scores([r for r, _ in documents], [s for _, s in documents], k, ties=ties)
    for measure in ("DCG", "IDCG", "CG"):
        assert actual[measure][0, 0] == pytest.approx(expected[measure], rel=1e-12, abs=1e-13)


def test_unjudged_documents_keep_their_ranks_with_gain_0() -> None:
    unjudged = score_queries(
        np.array([[5, 1]]), np.array([[2, 1]]), judged=np.array([[False, True]]), measures=MEASURES
    )
    assert {name: float(value[0, 0]) for name, value in unjudged.items()} == pytest.approx(
        {"nDCG": 1 / math.log2(2 + 1), "DCG": 1 / math.log2(2 + 1), "IDCG": 1.0, "CG": 1.0}, rel=1e-14
    )


def test_padding_changes_nothing() -> None:
    rng = np.random.default_rng(9)
    relevance, score = rng.integers(0, 4, (6, 9)), rng.integers(0, 4, (6, 9)).astype(float)
    real = np.zeros((6, 15), bool)
    columns = [0, 1, 3, 4, 5, 8, 9, 11, 14]
    real[:, columns] = True
    padded = np.full((6, 15), -100), np.full((6, 15), np.nan)
    padded[0][:, columns], padded[1][:, columns] = relevance, score
    for ties in TIES:
        options: dict[str, Any] = {"measures": MEASURES, "cutoffs": [1, 4, None], "ties": ties}
        before = score_queries(relevance, score, **options)
        after = score_queries(*padded, judged=real, retrieved=real, **options)
        for measure in MEASURES:
            close(after[measure], before[measure])


# --- Refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [score_queries, check_queries])
@pytest.mark.parametrize(
    ("array", "value"),
    [("score", np.nan), ("score", np.inf), ("relevance", np.nan), ("relevance", np.inf), ("relevance", -np.inf)],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_values_without_a_meaning_are_rejected_at_their_place(
    check: Callable[..., Any], array: str, value: float, dtype: Any
) -> None:
    arrays = {"relevance": np.ones((3, 4), dtype), "score": np.ones((3, 4), dtype)}
    arrays[array][1, 2] = value
    with pytest.raises(InvalidRankingError, match=rf"^{array}: query 1, position 2: .*{value}") as caught:
        check(**arrays)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.array, caught.value.query, caught.value.position) == (array, 1, 2)
    flat = {name: values.ravel() for name, values in arrays.items()}
    with pytest.raises(InvalidRankingError, match=rf"^{array}: query 2, position 1: .*{value}"):
        check(**flat, offsets=np.array([0, 1, 5, 12]))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("negative_relevance", ["raise", "clip", "keep"])
@pytest.mark.parametrize("gain", ["linear", "exponential", "binary", [0.0, 1.0], np.sqrt])
@pytest.mark.parametrize("score", [[3, 2, 1], [1, 2, 3], [1, 1, 1]])
@pytest.mark.parametrize("k", [1, None])
def test_no_option_makes_a_relevance_of_a_value_that_is_not_a_number(
    value: float, negative_relevance: str, gain: Any, score: list[int], k: int | None
) -> None:
    with pytest.raises(InvalidRankingError, match=rf"^relevance: query 0, position 2: .*{value}"):
        scores_of([0.0, 1.0, value], score, negative_relevance=negative_relevance, gain=gain, k=k)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("k", [1, None])
@pytest.mark.parametrize("documents", [2, 3, 100, 2000])
def test_no_option_makes_a_score_of_a_value_that_is_not_a_number(
    value: float, ties: str, k: int | None, documents: int
) -> None:
    for position in (0, documents // 2, documents - 1):
        relevance, score = np.zeros((2, documents)), np.random.default_rng(1).normal(size=(2, documents))
        score[1, position] = value
        with pytest.raises(InvalidRankingError, match=rf"^score: query 1, position {position}: {value}"):
            score_queries(relevance, score, ties=ties, cutoffs=[k])


@pytest.mark.parametrize("query", [0, 1, 17, 199])
def test_the_place_is_right_in_long_batches(query: int) -> None:
    score = np.ones((200, 1000))
    score[query, 998] = np.nan
    relevance = np.zeros((200, 1000))
    with pytest.raises(InvalidRankingError, match=rf"^score: query {query}, position 998:"):
        score_queries(relevance, score)
    lengths = np.arange(801, 1001)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    flat = np.zeros(offsets[-1])
    flat[offsets[query] + 700] = -1
    with pytest.raises(InvalidRankingError, match=rf"^relevance: query {query}, position 700:"):
        score_queries(flat, np.zeros(len(flat)), offsets)


def test_masked_values_are_never_rejected() -> None:
    values, mask = np.array([[np.nan, 1.0, np.inf]]), np.array([[False, True, False]])
    check_queries(values, values, judged=mask, retrieved=mask)
    assert score_queries(values, values, judged=mask, retrieved=mask)["nDCG"].tolist() == [[1.0]]


def test_a_negative_relevance_passes_the_check_without_options() -> None:
    check_queries(np.array([[-1.0, 2.0]]), np.array([[1.0, -np.inf]]))


def test_an_exponential_gain_that_overflows_is_rejected_at_its_place() -> None:
    with pytest.raises(InvalidRankingError, match=r"^relevance: query 1, position 2: .*1024"):
        score_queries(np.array([[0, 1, 2], [0, 0, 1024]]), np.ones((2, 3)), gain="exponential")
    assert scores_of([0, 1023], [1, 2], gain="exponential")["nDCG"] == 1.0


def test_the_exponential_gain_keeps_the_digits_of_a_small_relevance() -> None:
    for small in (1e-300, 1e-17, 1e-10, 1e-3, 0.25):
        dcg = scores_of([small, 0.5], [2, 1], k=1, gain="exponential")["DCG"]
        assert dcg == pytest.approx(math.expm1(small * math.log(2)), rel=1e-14, abs=0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_gain_function_without_an_answer_is_rejected_at_its_place(value: float) -> None:
    with pytest.raises(InvalidRankingError, match=r"^relevance: query 0, position 1: .*gain of relevance 2 "):
        scores_of([1, 2], [1, 2], gain=lambda r: np.where(r == 2, value, r))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("score", [[4, 3, 2, 1], [1, 1, 1, 1]])
def test_a_sum_that_overflows_is_rejected_with_its_query(measure: str, score: list[int]) -> None:
    relevance = np.array([[1.0, 0, 0, 0], [1.7e308, 1.7e308, 1.7e308, 1.7e308]])
    with pytest.raises(InvalidRankingError, match=r"^relevance: query 1: .*overflow") as caught:
        score_queries(relevance, np.array([score, score]), measures=[measure])
    assert caught.value.position is None


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    shape = 5 * scoring.SCORES_AT_A_TIME // 500, 500  # enough for threads
    relevance, score = rng.random(shape), rng.random(shape).round(2)
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        results.append(score_queries(relevance, score, measures=MEASURES, cutoffs=[10, None]))
    for measure in MEASURES:
        assert (results[0][measure] == results[1][measure]).all()
        assert (results[0][measure] == results[2][measure]).all()


@pytest.mark.parametrize("queries", [1, 2, 3, 7])
@pytest.mark.parametrize("documents", [1, 2, 3, 4, 5, 8, 9, 17, 100, 129, 9000])
@pytest.mark.parametrize("negative_relevance", ["raise", "keep"])
def test_sums_add_one_rank_after_the_other_to_the_last_bit(
    queries: int, documents: int, negative_relevance: str
) -> None:
    """On einsum's order the same bits rest: in any block, with any padding, on any machine."""
    rng = np.random.default_rng(documents)
    score = rng.random((queries, documents))
    relevance = rng.random((queries, documents)) - (0.3 if negative_relevance == "keep" else 0)
    options = {"measures": ["CG", "DCG", "IDCG"], "negative_relevance": negative_relevance}
    cutoffs = [*{1, min(2, documents), min(10, documents), documents}]
    found = score_queries(relevance, score, cutoffs=cutoffs, **options)
    padding = np.full((queries, 3), -np.inf)
    padded = {"relevance": np.hstack([relevance, np.zeros(padding.shape)]), "score": np.hstack([score, padding])}
    judged = np.hstack([np.ones(relevance.shape, bool), np.zeros(padding.shape, bool)])
    discount = discounts(documents)
    ranked = np.take_along_axis(relevance, np.argsort(-score, axis=1), axis=1)
    ideal = -np.sort(-relevance, axis=1)
    for name, gains, weight in (
        ("CG", ranked, np.ones(documents)),
        ("DCG", ranked, discount),
        ("IDCG", ideal, discount),
    ):
        sums = np.zeros((documents + 1, queries))
        for rank in range(documents):
            sums[rank + 1] = sums[rank] + gains[:, rank] * weight[rank]
        assert (found[name] == sums[cutoffs]).all()
        assert (score_queries(**padded, judged=judged, cutoffs=cutoffs, **options)[name] == found[name]).all()


def test_an_ideal_of_retrieved_documents_has_no_unjudged_ones() -> None:
    """With a negative relevance kept, a gain of 0 for the unjudged document would be the better one."""
    options: dict[str, Any] = {"negative_relevance": "keep", "ideal": "retrieved", "measures": MEASURES}
    judged = np.array([[True, False, True]])
    found = score_queries(np.array([[-1.0, 0.0, 2.0]]), np.array([[3.0, 2.0, 1.0]]), judged=judged, **options)
    assert found["DCG"][0, 0] == -1 + 0 + 2 / math.log2(1 + 3)
    assert found["IDCG"][0, 0] == pytest.approx(2 - 1 / math.log2(1 + 2), rel=1e-15)


@pytest.mark.parametrize(
    ("setting", "threads"), [(None, 3), ("", 3), ("2", 2), (" 5 ,1", 5), ("0", 3), ("two", 3), ("-1", 3)]
)
def test_work_is_shared_by_as_many_threads_as_the_process_may_use(
    monkeypatch: pytest.MonkeyPatch, setting: str | None, threads: int
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if setting is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", setting)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 4, 7}, raising=False)
    asked: list[int] = []

    def pool(number: int) -> ThreadPoolExecutor:
        asked.append(number)
        return ThreadPoolExecutor(1)

    monkeypatch.setattr(scoring, "ThreadPoolExecutor", pool)
    assert scoring.in_threads(abs, [-1, 2]) == [1, 2]
    assert asked == [threads]
