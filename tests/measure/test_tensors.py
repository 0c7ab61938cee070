"""The kernel of tensors agrees with that of arrays, here on the CPU, for all options."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ndcg.measure import scoring
from ndcg.measure.arguments import MEASURES
from ndcg.measure.scoring import InvalidRankingError, measure_queries

torch = pytest.importorskip("torch")

from ndcg.measure import tensors  # noqa: E402
from ndcg.measure.tensors import UndecidedError, measure_tensors  # noqa: E402

SCORES = ("float64", "float32", "float16", "bfloat16", "int64", "int32")
RELEVANCES = (*SCORES, "int8", "uint8", "bool")
Options = dict[str, Any]


def square(relevance: Any) -> Any:
    return relevance**2 + 0.5


def root(relevance: Any) -> Any:
    return abs(relevance) ** 0.5


def reversed_ranks(rank: np.ndarray) -> np.ndarray:
    return 1 / (rank + 2.0)


def on_host(tensor: Any) -> Any:
    if tensor is None:
        return None
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def random_options(rng: np.random.Generator) -> Options:
    """Options of every kind, with gains that hardly cancel out in an ideal."""

    def choice(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    discount = choice(
        "log", "log", "reciprocal", "jarvelin", 1 / np.arange(1, 400) ** 0.7, reversed_ranks
    )
    is_log = isinstance(discount, str) and discount == "log"
    ideal = choice("judged", "retrieved", "truncated", "full")
    cutoffs = [int(k) for k in rng.integers(1, 20, rng.integers(1, 4))]
    return {
        "measures": rng.permutation(MEASURES)[: rng.integers(1, 5)].tolist(),
        "cutoffs": cutoffs if ideal == "full" or rng.random() < 0.5 else [*cutoffs, None],
        "gain": choice(
            "linear",
            "exponential",
            "binary",
            [0.5, 0, 3, -1.37, 7],
            [0, 1, 2, 3, 4.5],
            square,
            root,
        ),
        "discount": discount,
        "log_base": choice(2, math.e, 10, 0.5) if is_log else 2.0,
        "ideal": ideal,
        "ties": choice("average", "average", "first", "last", "best", "worst"),
        "zero_division": choice(0.0, 1.0, math.nan, "perfect_if_empty"),
        "negative_relevance": choice("raise", "clip", "keep"),
    }


def random_sides(
    rng: np.random.Generator, options: Options, score_type: str, relevance_type: str
) -> dict[str, Any]:
    """Queries, ragged or not, with ties and masks; masked values may be anything."""
    queries, documents = int(rng.integers(1, 12)), int(rng.choice([1, 2, 5, 17, 60, 300]))
    is_ragged = rng.random() < 0.5
    lengths = rng.integers(0, documents + 1, queries) if is_ragged else np.full(queries, documents)
    lengths[0] = documents
    size = int(lengths.sum())
    grades = rng.integers(-3, 4, size)
    score = torch.from_numpy(np.where(rng.random(size) < 0.5, grades, 4 * rng.normal(size=size)))
    score = (score if rng.random() < 0.7 else torch.from_numpy(grades)).to(
        getattr(torch, score_type)
    )
    if score.is_floating_point():
        score[torch.from_numpy(rng.random(size) < 0.1)] = -math.inf
    is_listed = isinstance(options["gain"], list)
    may_be_negative = options["negative_relevance"] == "clip" or (
        options["negative_relevance"] == "keep" and not is_listed
    )
    relevance = rng.integers(-2 * may_be_negative, 5, size).astype(float)
    if isinstance(options["gain"], str):
        relevance += (rng.random(size) < 0.5) * rng.random(size)
    has_sign = relevance_type not in ("uint8", "bool")
    relevance = torch.from_numpy(relevance if has_sign else np.maximum(relevance, 0)).to(
        getattr(torch, relevance_type)
    )
    masks = [
        torch.from_numpy(rng.random(size) < 0.7) if rng.random() < 0.4 else None for _ in range(2)
    ]
    for side, mask in zip((relevance, score), masks, strict=True):
        if mask is not None and side.is_floating_point() and rng.random() < 0.5:
            side[~mask] = math.nan
    sides = dict(
        zip(("relevance", "score", "judged", "retrieved"), (relevance, score, *masks), strict=True)
    )
    if is_ragged:
        return {**sides, "offsets": np.append(0, np.cumsum(lengths))}
    return {
        name: None if side is None else side.reshape(queries, documents)
        for name, side in sides.items()
    }


def of_arrays(sides: dict[str, Any], **options: Any) -> dict[str, np.ndarray]:
    offsets = sides.get("offsets")
    arrays = {name: on_host(side) for name, side in sides.items() if name != "offsets"}
    return measure_queries(**arrays, offsets=offsets, **options)


def largest_difference(cases: int, seed: int) -> float:
    """The largest difference of a value from that of arrays, relative to values above 1."""
    rng, largest = np.random.default_rng(seed), 0.0
    for case in range(cases):
        score_type, relevance_type = SCORES[case % len(SCORES)], str(rng.choice(RELEVANCES))
        options = random_options(rng)
        sides = random_sides(rng, options, score_type, relevance_type)
        found = measure_tensors(**sides, **options)
        for measure, expected in of_arrays(sides, **options).items():
            values = found[measure]
            assert (values.dtype, tuple(values.shape)) == (torch.float64, expected.shape)
            np.testing.assert_array_equal(values.isnan(), np.isnan(expected))
            apart = np.nan_to_num(
                np.abs(values.numpy() - expected) / np.maximum(np.abs(expected), 1)
            )
            largest = max(largest, float(apart.max(initial=0)))
    return largest


@pytest.mark.parametrize("block", [1 << 24, 64], ids=["one block", "many blocks"])
def test_every_option_has_the_number_of_arrays(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(tensors, "TENSOR_BLOCK", block)
    monkeypatch.setattr(tensors, "TENSOR_PADDING", block >> 6)
    assert largest_difference(400, seed=block) <= 1e-12


@pytest.mark.slow
def test_many_random_cases_have_the_numbers_of_arrays() -> None:
    assert largest_difference(1000, seed=1) <= 1e-12


def test_a_tie_across_the_cutoff_shares_the_gains_of_all_its_documents() -> None:
    relevance, score = (
        torch.tensor([[3, 0, 0, 6, 1, 0, 0, 0, 0]]),
        torch.tensor([[9.0, 5, 5, 5, 5, 1, 1, 1, 1]]),
    )
    found = measure_tensors(relevance, score, measures=["CG", "DCG"], cutoffs=[1, 2])
    shared = (0 + 0 + 6 + 1) / 4
    assert found["CG"].tolist() == [[3.0], [3.0 + shared]]
    assert found["DCG"][1].tolist() == pytest.approx([3 + shared / math.log2(2 + 1)])


def test_zeros_of_both_signs_are_tied() -> None:
    relevance, score = torch.tensor([[1.0, 0, 0]]), torch.tensor([[-0.0, 0.0, -1]])
    of_ties = {"average": 0.5, "first": 1.0, "last": 0.0, "best": 1.0, "worst": 0.0}
    for ties, gain in of_ties.items():
        assert (
            measure_tensors(relevance, score, measures=["CG"], cutoffs=[1], ties=ties)["CG"].item()
            == gain
        )


@pytest.mark.parametrize(
    ("relevance", "score", "options"),
    [
        ([1, math.nan, 0], [3, 2, 1], {}),
        ([1, math.inf, 0], [3, 2, 1], {}),
        ([1, -math.inf, 0], [3, 2, 1], {"negative_relevance": "clip"}),
        ([1, -1, 0], [3, 2, 1], {}),
        ([1, 0, 0], [3, math.nan, 1], {}),
        ([1, 0, 0], [3, math.inf, 1], {"ties": "best"}),
        ([1, 0, 0], [3, math.inf, 1], {"measures": ["IDCG"]}),
        ([1, 0, 2000], [3, 2, 1], {"gain": "exponential"}),
        ([1, 0, 5], [3, 2, 1], {"gain": [0, 1, 2]}),
        ([1, 0, 0.5], [3, 2, 1], {"gain": [0, 1, 2]}),
        ([1, 0, -1], [3, 2, 1], {"gain": [0, 1, 2], "negative_relevance": "keep"}),
        ([1, 0, 3], [3, 2, 1], {"gain": lambda relevance: 1 / (3 - relevance)}),
        ([1e308, 1e308, 1e308], [3, 2, 1], {"measures": ["DCG"]}),
        ([0, 0, 1e308], [3, 2, 1], {"ideal": "full", "cutoffs": [50]}),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_arrays_reject_has_no_values(
    relevance: list[float], score: list[float], options: Options
) -> None:
    sides = {
        "relevance": torch.tensor([[0.0, 1, 0], relevance], dtype=torch.float64),
        "score": torch.tensor([[3.0, 2, 1], score]),
    }
    with pytest.raises(UndecidedError):
        measure_tensors(**sides, **options)
    with pytest.raises(InvalidRankingError) as caught:
        of_arrays(sides, **options)
    assert caught.value.query == 1


def test_what_only_arrays_can_compute_has_no_values() -> None:
    relevance, score = torch.tensor([[1, 0, 2]]), torch.tensor([[2**53 + 1, 2**53, 0]])
    for documents in (3, 0):
        with pytest.raises(UndecidedError):
            measure_tensors(relevance[:, :documents], score[:, :documents])

    def of_numpy(labels: Any) -> np.ndarray:
        return np.asarray(labels) + 1.0

    def of_items(labels: Any) -> list[float]:
        calls.append(len(labels))
        return [float(label) for label in labels]

    def failing(labels: Any) -> Any:
        raise TypeError

    calls: list[int] = []
    for gain in (
        of_numpy,
        of_items,
        failing,
        lambda labels: labels[:1],
        lambda labels: labels * 1j,
    ):
        with pytest.raises(UndecidedError):
            measure_tensors(relevance, score.float(), gain=gain)
    assert calls == [1]  # a loop is noticed with the first document


def test_the_tensors_are_left_as_they_are() -> None:
    def in_place(labels: Any) -> Any:
        labels += 1
        return labels

    relevance, score = (
        torch.tensor([[1.0, 0, 2]], dtype=torch.float64),
        torch.rand(1, 3, requires_grad=True),
    )
    found = measure_tensors(relevance, score, measures=["CG"], gain=in_place)
    assert found["CG"].tolist() == [[(1 + 1) + (0 + 1) + (2 + 1)]]
    assert relevance.tolist() == [[1.0, 0.0, 2.0]]
    assert not found["CG"].requires_grad


@pytest.mark.parametrize("threads", [1, 2])
def test_values_are_the_same_in_every_split_into_blocks(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    rng = np.random.default_rng(threads)
    lengths = rng.integers(1, 40, 200)
    offsets = np.append(0, np.cumsum(lengths))
    relevance, score = (
        torch.from_numpy(rng.integers(0, 4, offsets[-1])),
        torch.from_numpy(rng.normal(size=offsets[-1])),
    )
    whole = measure_tensors(relevance, score, offsets, cutoffs=[5])["nDCG"]
    monkeypatch.setattr(tensors, "TENSOR_BLOCK", 100)
    monkeypatch.setattr(tensors, "TENSOR_PADDING", 0)
    assert (
        measure_tensors(relevance, score, offsets, cutoffs=[5])["nDCG"] - whole
    ).abs().max() <= 1e-15


def test_one_number_of_a_block_is_read_from_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading waits for the device; the words of these methods are all that read from it."""
    reads: list[str] = []

    def counting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: reads.append(name) or method(*arguments)  # type: ignore[func-returns-value]

    for name in ("tolist", "item", "__bool__", "nonzero", "cpu", "numpy", "__int__", "__float__"):
        monkeypatch.setattr(torch.Tensor, name, counting(name, getattr(torch.Tensor, name)))
    monkeypatch.setattr(tensors, "TENSOR_BLOCK", 4 * 50)
    relevance, score = torch.ones(12, 50), torch.zeros(12, 50)
    measure_tensors(relevance, score, cutoffs=[10])
    assert reads == ["tolist"] * 3
    reads.clear()
    measure_tensors(relevance, score, cutoffs=[10], ties="best", gain=[0, 1])
    assert reads == ["__bool__"] * 3


def test_gains_have_the_words_of_arrays() -> None:
    assert tensors.TENSOR_GAINS.keys() == scoring.GAIN_FUNCTIONS.keys()
