"""The kernel agrees with scikit-learn where that has a score, and else with slow, plain Python."""

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import DISCOUNTS, GAINS, LOG_BASES, TIES, Document, arrays, rankings, slow_scores
from refusals import refusal
from sklearn.metrics import dcg_score, ndcg_score

from ndcg.measure import arguments, scoring
from ndcg.measure.arguments import MEASURES
from ndcg.measure.scoring import InvalidRankingError, check_queries, discounts, measure_queries

IDEALS = tuple(arguments.IDEALS)
LOWEST, HIGHEST = -1.7976931348623157e308, 1.7976931348623157e308  # float64
SECOND = 1 / math.log2(
    2 + 1
)  # the discount of rank 2, hence the nDCG of one relevant document there
GRADED_BELOW_0 = {"graded": True, "negative": True}
SMALL, LARGE = st.integers(2, 60), st.integers(100, 3000)  # documents of a query


def scores_of(relevance: Any, score: Any, k: int | None = None, **options: Any) -> dict[str, float]:
    """Every measure of one query at one cutoff."""
    values = measure_queries(
        np.array([relevance]), np.array([score]), cutoffs=[k], measures=MEASURES, **options
    )
    return {name: float(value[0, 0]) for name, value in values.items()}


def close(actual: Any, expected: Any, atol: float = 0) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=atol)


def same(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """To the last bit."""
    for measure, values in expected.items():
        np.testing.assert_array_equal(actual[measure], values)


def test_the_reference_has_every_word_of_every_option() -> None:
    for table, words in (
        (GAINS, arguments.GAINS),
        (DISCOUNTS, arguments.DISCOUNTS),
        (TIES, arguments.TIES),
    ):
        assert set(words) - {"docid"} <= set(table)


# --- Equal to scikit-learn ------------------------------------------------------------------------


@settings(max_examples=250)
@given(
    st.integers(0, 9).flatmap(
        lambda at: arrays(SMALL, st.integers(1, 8)) if at else arrays(LARGE, st.integers(1, 3))
    ),
    st.none() | st.integers(1, 12) | st.integers(1, 3000),
    LOG_BASES,
)
def test_the_mean_is_that_of_scikit_learn(
    batch: tuple[NDArray[Any], NDArray[Any]], k: int | None, log_base: float
) -> None:
    weight = np.arange(1, 1 + len(batch[0])) % 3 + 0.5
    for measure, of_sklearn, options in (
        ("nDCG", ndcg_score, {}),
        ("DCG", dcg_score, {"log_base": log_base}),
    ):
        values = measure_queries(*batch, measures=[measure], cutoffs=[k], **options)[measure][0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it guesses the type of huge targets
            expected = of_sklearn(*batch, k=k, sample_weight=weight, **options)
        close(np.average(values, weights=weight), expected)


@pytest.mark.parametrize("documents", [1 << 16, (1 << 16) + 1, 100_000])
def test_very_long_lists_are_ranked_as_by_a_sort(documents: int) -> None:
    rng = np.random.default_rng(documents)
    relevance = rng.integers(0, 4, (2, documents))
    score = rng.permuted(np.arange(2.0 * documents).reshape(2, -1), axis=1)
    values = measure_queries(
        relevance, score, measures=["DCG"], cutoffs=[10, None], gain="exponential"
    )["DCG"]
    for query in range(2):
        ranked = (2.0 ** relevance[query] - 1)[np.argsort(-score[query])] / np.log2(
            np.arange(documents) + 2
        )
        close(values[:, query], [math.fsum(ranked[:10]), math.fsum(ranked)])


# --- Equal to the slow reference ------------------------------------------------------------------


def flattened(queries: list[list[Document]], rubbish: float) -> dict[str, NDArray[Any]]:
    """The kernel's arrays; masked places hold rubbish that the kernel must not read."""
    documents = [document for query in queries for document in query]
    return {
        "relevance": np.array([rubbish if r is None else r for r, _ in documents], float),
        "score": np.array([rubbish if s is None else s for _, s in documents], float),
        "offsets": np.cumsum([0, *map(len, queries)]),
        "judged": np.array([r is not None for r, _ in documents], bool),
        "retrieved": np.array([s is not None for _, s in documents], bool),
    }


@pytest.mark.parametrize(
    ("negative_relevance", "gains", "documents", "how"),
    [
        ("raise", tuple(GAINS), st.integers(0, 14), {"graded": True}),
        (
            "clip",
            ("linear", "exponential", "binary", "a function"),
            st.integers(1, 14),
            GRADED_BELOW_0,
        ),
        ("keep", ("linear",), st.integers(1, 14), GRADED_BELOW_0),
        ("raise", ("linear",), st.integers(1, 60) | st.integers(80, 1500), {"queries": 2}),
    ],
    ids=["grades", "negative clipped", "negative kept", "any numbers"],
)
@settings(max_examples=100)
@given(data=st.data())
def test_every_option_means_what_the_reference_says(
    data: st.DataObject,
    negative_relevance: str,
    gains: Sequence[str],
    documents: Any,
    how: dict[str, Any],
) -> None:
    def draw(values: Any) -> Any:
        return data.draw(st.sampled_from(sorted(values, key=str)))

    queries = data.draw(rankings(documents, **how))
    ideal, log_base, ties, gain, discount = (
        draw(IDEALS),
        data.draw(LOG_BASES),
        draw(TIES),
        draw(gains),
        draw(DISCOUNTS),
    )
    k = st.integers(1, 17) | (st.just(1) if ideal == "full" else st.none())
    cutoffs = data.draw(st.lists(k, min_size=1, max_size=2))
    shared = {
        "zero_division": draw([0.0, -2.5, math.nan, "perfect_if_empty"]),
        "ties": ties,
        "log_base": log_base,
    }
    options = {
        **shared,
        "ideal": ideal,
        "negative_relevance": negative_relevance,
        "cutoffs": cutoffs,
    }
    functions: dict[str, Any] = {"gain": GAINS[gain][0], "discount": DISCOUNTS[discount][0]}
    arrays = flattened(queries, draw([math.nan, math.inf, 7.0]))
    found = measure_queries(**arrays, **options, **functions, measures=MEASURES)

    def slow_gain(relevance: float) -> Any:
        return 0 if relevance < 0 and negative_relevance == "clip" else GAINS[gain][1](relevance)

    def slow_discount(rank: int) -> float:
        return DISCOUNTS[discount][1](rank, log_base)

    signed = negative_relevance == "keep"  # sums of gains of both signs may nearly vanish
    for row, k in enumerate(cutoffs):
        for at, query in enumerate(queries):
            sides = ([document[side] for document in query] for side in (0, 1))
            slow = slow_scores(*sides, k, slow_gain, discount=slow_discount, over=ideal, **shared)
            for measure in ("DCG", "IDCG", "CG") if signed else MEASURES:
                close(found[measure][row, at], slow[measure], atol=1e-11 if signed else 0)


@settings(max_examples=40)
@given(
    arrays(st.integers(0, 8), st.integers(1, 6)),
    st.none() | st.integers(1, 9),
    st.sampled_from(TIES),
    st.data(),
)
def test_masks_mean_the_same_in_2d_arrays(
    batch: Any, k: int | None, ties: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    judged, retrieved = (rng.random(batch[0].shape) < 0.7 for _ in range(2))
    square = dict(
        zip(("relevance", "score", "judged", "retrieved"), (*batch, judged, retrieved), strict=True)
    )
    flat = {name: values.ravel() for name, values in square.items()}
    offsets = np.arange(len(batch[0]) + 1) * batch[0].shape[1]
    options: dict[str, Any] = {"measures": MEASURES, "cutoffs": [k], "ties": ties}
    same(measure_queries(**square, **options), measure_queries(**flat, offsets=offsets, **options))


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=5),
    st.integers(1, 6),
)
def test_the_average_is_the_mean_over_all_orders(documents: list[tuple[int, int]], k: int) -> None:
    orders = [
        order
        for order in itertools.permutations(documents)
        if [-s for _, s in order] == sorted(-s for _, s in order)
    ]
    dcgs = [
        math.fsum(r / math.log2(rank + 1) for rank, (r, _) in enumerate(order[:k], 1))
        for order in orders
    ]
    close(scores_of(*zip(*documents, strict=True), k=k)["DCG"], math.fsum(dcgs) / len(dcgs))


# --- Which scores are equal -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high"),
    [
        *((np.array(low, dtype), np.array(high, dtype)) for low, high, dtype in (
            (2**53, 2**53 + 1, np.int64),
            (-(2**53) - 1, -(2**53), np.int64),
            (-(2**63), -(2**63) + 1, np.int64),
            (2**64 - 2, 2**64 - 1, np.uint64),
            (0, 2**64 - 1, np.uint64),
            (-128, 127, np.int8),
            (False, True, np.bool_),
        )),
        (0.123456789, np.nextafter(0.123456789, 1)),
        (np.nextafter(-1.0, -2), -1.0),
        (-5e-324, -0.0),
        (5e-324, 1e-323),
        (np.nextafter(HIGHEST, 0), HIGHEST),
        (LOWEST, np.nextafter(LOWEST, 0)),
        (np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(1))),
        (np.float16(0.1), np.nextafter(np.float16(0.1), np.float16(1))),
    ],
)  # fmt: skip
def test_scores_that_differ_in_the_last_bit_are_not_tied(low: Any, high: Any) -> None:
    for ties in TIES:
        for relevance, score in (([[1, 0]], [[low, high]]), ([[0, 1]], [[high, low]])):
            values = measure_queries(np.array(relevance), np.array(score), ties=ties)["nDCG"]
            assert values.tolist() == [[pytest.approx(SECOND, rel=1e-15)]]
    offsets = np.array([0, 2, 3])
    assert measure_queries(np.array([0, 1, 5]), np.array([low, high, low]), offsets)[
        "nDCG"
    ].tolist() == [[1.0, 1.0]]


def test_zero_and_negative_zero_are_a_tie() -> None:
    assert scores_of([1, 0], [-0.0, 0.0], k=1)["nDCG"] == 0.5
    assert scores_of([1, 0], [0.0, -0.0], k=1)["nDCG"] == 0.5
    for documents in (31, 32, 200):  # also above barely negative scores
        score = [-0.0, -5e-324, -0.0, *[-1.0] * (documents - 3)]
        assert scores_of([1] + [0] * (documents - 1), score, k=1)["DCG"] == 0.5


@pytest.mark.parametrize("base", [-1.0, 1e-300, -5e-324])
@pytest.mark.parametrize("documents", [3, 12, 60])
def test_scores_that_differ_in_their_last_bits_are_ranked_exactly_at_every_cutoff(
    base: float, documents: int
) -> None:
    rng = np.random.default_rng(documents)
    relevance = rng.integers(0, 4, (50, documents))
    bits = rng.permuted(np.arange(50 * documents).reshape(50, -1) % documents, axis=1)
    score = (np.float64(base).view(np.int64) + bits).view(np.float64)
    ranked = np.take_along_axis(relevance, np.argsort(-score, axis=1), axis=1)
    for k in range(1, documents + 1):
        for ties in ("average", "first"):
            found = measure_queries(relevance, score, measures=["CG"], cutoffs=[k], ties=ties)[
                "CG"
            ][0]
            assert (found == ranked[:, :k].sum(axis=1)).all()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("k", [2, 3, None])
def test_ties_among_nearly_equal_scores_give_the_same_bits_alone_and_among_many(
    sign: int, k: int | None
) -> None:
    score = np.array(
        [[sign, sign * (1 + 2.0**-40), sign, sign]]
    )  # near in a large block, not in a small one
    relevance = np.array([[0.1, 0.7, 0.2, 0.3]])
    alone = measure_queries(relevance, score, measures=MEASURES, cutoffs=[k])
    rows = relevance.repeat(50_000, axis=0), score.repeat(50_000, axis=0)
    many = measure_queries(*rows, measures=MEASURES, cutoffs=[k])
    same(many, {measure: values.repeat(50_000, axis=1) for measure, values in alone.items()})


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_lowest_number_is_a_score_and_minus_infinity_is_none(dtype: Any) -> None:
    lowest = np.finfo(dtype).min
    found = measure_queries(
        np.array([[1, 3, 1]]), np.array([[0, -np.inf, lowest]], dtype), measures=MEASURES
    )
    close(
        [found["DCG"][0, 0], found["IDCG"][0, 0]], [1 + SECOND, 3 + SECOND + 1 / math.log2(3 + 1)]
    )


def test_a_thousand_lists_of_several_lengths_score_as_each_alone_in_their_order() -> None:
    rng = np.random.default_rng(1)
    lengths = np.concatenate([rng.geometric(0.02, 1000), [0, 1, 70_000, 1, 0, 9000, 9000]])
    rng.shuffle(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    relevance, score = rng.integers(0, 3, offsets[-1]), rng.integers(0, 50, offsets[-1]) / 7
    options: dict[str, Any] = {"measures": MEASURES, "cutoffs": [10, None]}
    together = measure_queries(relevance, score, offsets, **options)
    for query, (start, stop) in enumerate(itertools.pairwise(offsets)):
        alone = measure_queries(relevance[None, start:stop], score[None, start:stop], **options)
        for measure in MEASURES:
            close(together[measure][:, query], alone[measure][:, 0])


@settings(max_examples=20)
@given(arrays(SMALL, st.integers(1, 8)), st.none() | st.integers(1, 70))
def test_inputs_stay_as_they_were_and_need_not_be_contiguous(batch: Any, k: int | None) -> None:
    read_only = [np.asfortranarray(side.repeat(2, axis=1))[:, ::2] for side in batch]
    for side in read_only:
        side.flags.writeable = False
    for ties in TIES:
        options: dict[str, Any] = {"measures": MEASURES, "cutoffs": [k], "ties": ties}
        same(measure_queries(*read_only, **options), measure_queries(*batch, **options))
    for side, before in zip(read_only, batch, strict=True):
        np.testing.assert_array_equal(side, before)


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    shape = 5 * scoring.SCORES_AT_A_TIME // 500, 500  # enough for threads
    batch = rng.random(shape), rng.random(shape).round(2)
    results = []
    for threads in ("1", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        results.append(measure_queries(*batch, measures=MEASURES, cutoffs=[10, None]))
    same(*results)


@pytest.mark.parametrize(
    ("setting", "threads"),
    [(None, 3), ("", 3), ("2", 2), (" 5 ,1", 5), ("0", 3), ("two", 3), ("-1", 3)],
)
def test_work_is_shared_by_as_many_threads_as_the_process_may_use(
    monkeypatch: pytest.MonkeyPatch, setting: str | None, threads: int
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if setting is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", setting)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1, 4, 7}, raising=False)
    asked: list[int] = []
    monkeypatch.setattr(
        scoring, "ThreadPoolExecutor", lambda number: asked.append(number) or ThreadPoolExecutor(1)
    )
    assert scoring.in_threads(abs, [-1, 2]) == [1, 2]
    assert asked == [threads]


@pytest.mark.parametrize("queries", [1, 2, 7])
@pytest.mark.parametrize("documents", [1, 2, 5, 8, 9, 129, 9000])
@pytest.mark.parametrize(("negative_relevance", "lowest"), [("raise", 0), ("keep", -0.3)])
def test_sums_add_one_rank_after_the_other_to_the_last_bit(
    queries: int, documents: int, negative_relevance: str, lowest: float
) -> None:
    rng = np.random.default_rng(documents)
    score, relevance = rng.random((queries, documents)), rng.random((queries, documents)) + lowest
    cutoffs = [*{1, min(2, documents), min(10, documents), documents}]
    options = {
        "measures": ["CG", "DCG", "IDCG"],
        "negative_relevance": negative_relevance,
        "cutoffs": cutoffs,
    }
    found = measure_queries(relevance, score, **options)
    width = (0, 0), (0, 3)
    padded = np.pad(relevance, width), np.pad(score, width, constant_values=-np.inf)
    same(
        measure_queries(*padded, judged=np.pad(np.ones(relevance.shape, bool), width), **options),
        found,
    )
    ranked = np.take_along_axis(relevance, np.argsort(-score, axis=1), axis=1)
    weight, ideal = discounts(documents), -np.sort(-relevance, axis=1)
    for name, summands in (("CG", ranked), ("DCG", ranked * weight), ("IDCG", ideal * weight)):
        sums = np.zeros((documents + 1, queries))
        for rank in range(documents):
            sums[rank + 1] = sums[rank] + summands[:, rank]
        assert (found[name] == sums[cutoffs]).all()


# --- Figures by hand ------------------------------------------------------------------------------


def test_the_textbook_ranking() -> None:
    log = math.log2
    dcg = 3 / log(2) + 2 / log(3) + 3 / log(4) + 0 / log(5) + 1 / log(6) + 2 / log(7)
    idcg = 3 / log(2) + 3 / log(3) + 2 / log(4) + 2 / log(5) + 1 / log(6) + 0 / log(7)
    expected = {"CG": 3 + 2 + 3 + 0 + 1 + 2, "DCG": dcg, "IDCG": idcg, "nDCG": dcg / idcg}
    assert scores_of([3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1]) == pytest.approx(expected)


def test_the_discounts_and_dcg_of_jarvelin_and_kekalainen() -> None:
    # ACM TOIS 2002, section 2.2: with base 2, ranks below the base are not discounted
    gains = np.array([[3, 2, 3, 0, 0, 1, 2, 2, 3, 0]])
    options: dict[str, Any] = {"measures": ["DCG"], "cutoffs": range(1, 11), "discount": "jarvelin"}
    found = measure_queries(gains, -np.arange(10.0)[None], **options)["DCG"][:, 0]
    assert found.round(2).tolist() == [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]


@pytest.mark.parametrize("gain", [0.1, 1 / 3, 7.0, 1e300])
@pytest.mark.parametrize("ideal", IDEALS)
def test_a_perfect_ranking_is_exactly_1_by_every_ideal(ideal: str, gain: float) -> None:
    relevance, score = np.full((3, 37), gain), np.arange(111.0).reshape(3, 37)
    assert (measure_queries(relevance, score, cutoffs=range(1, 38), ideal=ideal)["nDCG"] == 1).all()


@settings(max_examples=60)
@given(arrays(SMALL, st.integers(1, 8)), st.sampled_from(TIES))
def test_no_rounding_takes_ndcg_above_1(batch: Any, ties: str) -> None:
    relevance = batch[0].astype(float)
    # scores in the order of the relevances, with fewer levels, so that a tied group is a mean of
    # equal gains
    for score in (np.floor(relevance / (relevance.max() or 1.0) * 1e6), batch[1]):
        assert measure_queries(batch[0], score, cutoffs=[1, 9, None], ties=ties)["nDCG"].max() <= 1


def test_queries_without_documents_or_without_company() -> None:
    for relevance, offsets in ((np.empty((1, 0)), None), (np.empty(0), np.array([0, 0]))):
        found = measure_queries(
            relevance, relevance, offsets, measures=MEASURES, cutoffs=[1, None], zero_division=0.25
        )
        same(
            found,
            {"nDCG": [[0.25], [0.25]], "DCG": [[0], [0]], "IDCG": [[0], [0]], "CG": [[0], [0]]},
        )
    for relevance, offsets in ((np.empty((0, 5)), None), (np.empty(0), np.array([0]))):
        assert measure_queries(relevance, relevance, offsets, cutoffs=[1, None])["nDCG"].shape == (
            2,
            0,
        )
    assert measure_queries(np.array([[2], [0]]), np.array([[7], [7]]))["nDCG"].tolist() == [
        [1.0, 0.0]
    ]


def test_a_bad_document_marked_minus_1_lowers_the_score_when_kept() -> None:
    kept = scores_of([2, -1, 1], [3, 2, 1], negative_relevance="keep")
    dcg, idcg = 2 - 1 * SECOND + 1 / math.log2(3 + 1), 2 + 1 * SECOND - 1 / math.log2(3 + 1)
    assert kept == pytest.approx(
        {"nDCG": dcg / idcg, "DCG": dcg, "IDCG": idcg, "CG": 2 - 1 + 1}, rel=1e-14
    )
    assert scores_of([-3, 1], [2, 1], k=1, negative_relevance="keep")["nDCG"] == -3.0
    for log_base in (2, 0.5):  # an ideal that is not positive
        options = {"negative_relevance": "keep", "zero_division": 0.5, "log_base": log_base}
        assert scores_of([-3, -1], [2, 1], **options)["nDCG"] == 0.5


def test_an_ideal_of_retrieved_documents_has_no_unjudged_ones() -> None:
    """With a negative relevance kept, the unjudged document's gain of 0 would be the better one."""
    options: dict[str, Any] = {
        "negative_relevance": "keep",
        "ideal": "retrieved",
        "measures": MEASURES,
    }
    judged = np.array([[True, False, True]])
    found = measure_queries(
        np.array([[-1.0, 0.0, 2.0]]), np.array([[3.0, 2.0, 1.0]]), judged=judged, **options
    )
    assert found["DCG"][0, 0] == -1 + 0 + 2 / math.log2(1 + 3)
    close(found["IDCG"], [[2 - 1 * SECOND]])


def test_the_exponential_gain_keeps_the_digits_of_a_small_relevance() -> None:
    for small in (1e-300, 1e-17, 1e-10, 1e-3, 0.25):
        dcg = scores_of([small, 0.5], [2, 1], k=1, gain="exponential")["DCG"]
        assert dcg == pytest.approx(math.expm1(small * math.log(2)), rel=1e-14, abs=0)
    assert scores_of([0, 1023], [1, 2], gain="exponential")["nDCG"] == 1.0


# --- Rejected -------------------------------------------------------------------------------------

NAN, INF = math.nan, math.inf
NOT_FINITE = [
    ("score", NAN),
    ("score", INF),
    ("relevance", NAN),
    ("relevance", INF),
    ("relevance", -INF),
]


@pytest.mark.parametrize("check", [measure_queries, check_queries])
@pytest.mark.parametrize(("array", "value"), NOT_FINITE)
@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_a_value_that_is_not_finite_is_rejected_at_its_place(
    check: Callable[..., Any], array: str, value: float, dtype: Any
) -> None:
    sides = {"relevance": np.ones((3, 4), dtype), "score": np.ones((3, 4), dtype)}
    sides[array][1, 2] = value
    with pytest.raises(InvalidRankingError) as caught:
        check(**sides)
    assert (caught.value.array, caught.value.query, caught.value.position) == (array, 1, 2)


@settings(max_examples=80)
@given(st.data())
def test_no_option_makes_a_number_of_a_value_that_is_not_finite(data: st.DataObject) -> None:
    def draw(*values: Any) -> Any:
        return data.draw(st.sampled_from(values))

    documents, queries = draw((2, 3), (3, 20), (100, 20), (2000, 200))
    query, position = draw(0, 1, queries - 1), draw(0, documents // 2, documents - 1)
    array, value = draw(*NOT_FINITE)
    score = draw(np.ones, np.random.default_rng(1).random)((queries, documents))
    sides = {"relevance": np.zeros((queries, documents)), "score": score}
    sides[array][query, position] = value
    options = {
        "ties": draw(*TIES),
        "cutoffs": [draw(1, 7)],
        "ideal": draw(*IDEALS),
        "gain": draw("linear", "exponential", "binary", [0.0, 1.0], np.sqrt),
        "negative_relevance": draw("raise", "clip", "keep"),
    }
    if draw(False, True):  # another query before it, of another length
        sides = {name: np.append([0.0], values.ravel()) for name, values in sides.items()}
        options["offsets"] = np.array(
            [0, 1, *range(1 + documents, 2 + queries * documents, documents)]
        )
        query += 1
    # a relevance also if its document was not retrieved
    unretrieved = [{**sides, "score": np.full(sides["score"].shape, -np.inf)}] * (
        array == "relevance"
    )
    for inputs in (sides, *unretrieved):
        with refusal(array, f"query {query}, position {position}"):
            measure_queries(**inputs, **options)


@pytest.mark.parametrize(
    ("relevance", "options", "place"),
    [
        ([0, 0, -2], {}, "query 1, position 2"),
        ([0, 0, -2], {"gain": [0, 1, 10]}, "query 1, position 2"),
        ([0, 0, 3], {"gain": [0, 1, 10]}, "query 1, position 2"),
        ([0, 0, 0.5], {"gain": [0, 1, 10]}, "query 1, position 2"),
        ([0, 2.5, 0], {"gain": [0, 1, 10]}, "query 1, position 1"),
        ([0, 1024, 0], {"gain": "exponential"}, "query 1, position 1"),
        (
            [0, 2, 1],
            {"gain": lambda r: np.where(r == 2, NAN, r)},
            "query 1, position 1",
        ),
        (
            [0, 2, 1],
            {"gain": lambda r: np.where(r == 2, -INF, r)},
            "query 1, position 1",
        ),
    ],
)
@pytest.mark.parametrize("ideal", IDEALS)
def test_a_relevance_that_the_options_do_not_allow_is_rejected_at_its_place(
    relevance: list[float], options: dict[str, Any], place: str, ideal: str
) -> None:
    for score in ([3, 2, 1], [1, 1, 1], [-INF, -INF, -INF]):
        batch = np.array([[1, 0, 1], relevance]), np.array([[3, 2, 1.0], score])
        with refusal("relevance", place):
            measure_queries(*batch, ideal=ideal, cutoffs=[3], **options)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("score", [[4, 3, 2, 1], [1, 1, 1, 1]])
def test_a_sum_that_overflows_is_rejected_with_its_query(measure: str, score: list[int]) -> None:
    relevance = np.array([[1.0, 0, 0, 0], [1.7e308] * 4])
    with pytest.raises(InvalidRankingError) as caught:
        measure_queries(relevance, np.array([score, score]), measures=[measure])
    assert (caught.value.array, caught.value.query, caught.value.position) == ("relevance", 1, None)


def test_masked_values_are_never_rejected_nor_negative_relevances_before_options_are_known() -> (
    None
):
    values, mask = np.array([[np.nan, 1.0, np.inf]]), np.array([[False, True, False]])
    check_queries(values, values, judged=mask, retrieved=mask)
    assert measure_queries(values, values, judged=mask, retrieved=mask)["nDCG"].tolist() == [[1.0]]
    check_queries(np.array([[-1.0, 2.0]]), np.array([[1.0, -np.inf]]))


@pytest.mark.parametrize(
    "discount",
    [
        [1.0, 0.5],
        lambda ranks: ranks,
        lambda ranks: 1.0 - ranks,
        lambda ranks: 0.0 * ranks,
        lambda ranks: ranks / 0.0,
        lambda ranks: 1.0,
    ],
)
def test_a_discount_that_ends_too_early_or_is_none_is_rejected(discount: Any) -> None:
    with refusal("discount"), np.errstate(all="ignore"):
        measure_queries(np.ones((1, 3)), np.ones((1, 3)), discount=discount)
    assert (
        measure_queries(np.ones((1, 3)), np.ones((1, 3)), discount=[1.0, 0.5], cutoffs=[2])["nDCG"]
        == 1
    )
