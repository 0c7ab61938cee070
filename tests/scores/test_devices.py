"""Tensors are scored on their accelerator or on the host, with the same results and errors.

A stand-in for the function that tells a tensor's accelerator counts the CPU as one.
"""

import math
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from refusals import refusal, warning

import ndcg
from ndcg.scores import devices

torch = pytest.importorskip("torch")

QUERIES, DOCUMENTS = 70, 100
Options = dict[str, Any]
Sides = dict[str, Any]


class Device:
    """An accelerator, and what it scores."""

    def __init__(self) -> None:
        self.scored = 0
        self.cpu = torch.device("cpu")

    def of(self, values: Any) -> Any:
        return self.cpu if type(values) is torch.Tensor else None


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    stand_in, measure = Device(), devices.measure_tensors

    def counting(*arguments: Any, **options: Any) -> Any:
        measured = measure(*arguments, **options)
        stand_in.scored += 1
        return measured

    monkeypatch.setattr(devices, "ON_DEVICE_FROM", QUERIES * DOCUMENTS)
    monkeypatch.setattr(devices, "accelerator_of", stand_in.of)
    monkeypatch.setattr(devices, "measure_tensors", counting)
    return stand_in


def rows(
    score_type: Any = torch.float32, queries: int = QUERIES, documents: int = DOCUMENTS
) -> Sides:
    """Queries with ties, and some with nothing relevant."""
    seed = torch.Generator().manual_seed(0)
    score = torch.randint(-20, 20, (queries, documents), generator=seed) / 4
    relevance = torch.randint(0, 4, (queries, documents), generator=seed)
    relevance[::7] = 0
    return {"predictions": score.to(score_type), "references": relevance}


def flat(queries: int = QUERIES) -> Sides:
    """The documents of all queries in random order and another number, with their queries' ids."""
    seed = torch.Generator().manual_seed(1)
    sides = {name: side.reshape(-1) for name, side in rows(queries=queries).items()}
    size = len(sides["predictions"])
    return {**sides, "query_ids": torch.randint(0, queries, (size,), generator=seed) * 3 - 50}


def on_host(sides: Sides) -> Sides:
    """The same values as arrays."""
    return {
        name: (side.float() if side.dtype == torch.bfloat16 else side).numpy()
        if type(side) is torch.Tensor
        else side
        for name, side in sides.items()
    }


def agree(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12)


def changed(sides: Sides, name: str, places: Any, value: Any) -> Sides:
    side = sides[name].clone()
    side[places] = value
    return {**sides, name: side}


OPTIONS: list[Options] = [
    {},
    {"k": [1, 10], "measures": ["nDCG", "DCG", "IDCG", "CG"]},
    *({"k": 5, "ties": ties} for ties in ("average", "first", "last", "best", "worst")),
    *({"k": 5, "ideal": ideal} for ideal in ("judged", "retrieved", "truncated", "full")),
    *(
        {"gain": gain}
        for gain in ("exponential", "binary", [0, 1, 3, 7], lambda relevance: relevance**2)
    ),
    *({"discount": each} for each in ("reciprocal", "jarvelin", lambda rank: 1 / (rank + 1.0))),
    {"log_base": 10, "zero_division": math.nan},
    {"zero_division": "perfect_if_empty", "score_order": "ascending"},
    {"ignore_index": 3, "missing": "skip", "judged_only": True},
    {"convention": "lightgbm"},
    {"sample_weight": np.arange(QUERIES) + 1.0},
]


@pytest.mark.parametrize(
    "sides", [rows(), rows(torch.bfloat16), rows(torch.float64), flat()], ids=lambda _: ""
)
@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
def test_tensors_on_one_device_are_scored_there(
    device: Device, sides: Sides, options: Options
) -> None:
    if options.get("score_order") == "ascending":
        sides = changed(sides, "predictions", sides["predictions"] == 2, math.inf)  # not retrieved
    agree(ndcg.compute(**sides, **options), ndcg.compute(**on_host(sides), **options))
    assert device.scored == 1
    each = {**options, "use_aggregator": False, "sample_weight": None}
    agree(ndcg.compute(**sides, **each), ndcg.compute(**on_host(sides), **each))
    assert device.scored == 2


WEIGHTS = {query: 1.0 + query % 5 for query in flat()["query_ids"].unique().tolist()}


@pytest.mark.parametrize(
    ("reason", "sides", "options"),
    [
        ("few documents", rows(queries=QUERIES - 1), {}),
        ("an array beside a tensor", {**rows(), "references": rows()["references"].numpy()}, {}),
        ("weights by id", flat(), {"sample_weight": WEIGHTS}),
        ("a head with one logit", {**flat(), "predictions": flat()["predictions"][:, None]}, {}),
        ("integer scores", {**flat(), "predictions": flat()["predictions"].long()}, {}),
        ("ids on the host", {**flat(), "query_ids": flat()["query_ids"].tolist()}, {}),
        ("ids of documents", {**flat(), "document_ids": torch.arange(QUERIES * DOCUMENTS)}, {}),
        (
            "the same",
            {**flat(), "document_ids": torch.arange(QUERIES * DOCUMENTS)},
            {"ties": "docid"},
        ),
        ("text, in ascending order", rows(), {"ties": "docid"}),
        ("rounded scores", rows(torch.float64), {"score_dtype": "float32"}),
        ("integers on both sides, which may be ids", rows(torch.int64), {}),
        (
            "integers beyond 2**53",
            {**flat(), "predictions": 2**53 + torch.arange(QUERIES * DOCUMENTS).flip(0)},
            {},
        ),
        ("three columns, as in a table", rows(queries=5000, documents=3), {}),
        ("a function of NumPy alone", rows(), {"gain": lambda labels: np.square(np.array(labels))}),
        (
            "numbers that no device has",
            {**rows(), "references": rows()["references"].to(torch.uint16)},
            {},
        ),
        ("padding beyond 2**53", rows(), {"ignore_index": 2**60}),
        ("gains by label, not from 0", rows(), {"gain": {-1: 0, 0: 1, 1: 2.5, 2: 4, 3: 9}}),
    ],
)
def test_the_host_scores_what_a_device_cannot(
    device: Device, reason: str, sides: Sides, options: Options
) -> None:
    assert ndcg.compute(**sides, **options) == ndcg.compute(**on_host(sides), **options)
    assert device.scored == 0


def test_tensors_on_the_cpu_are_scored_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(devices, "measure_tensors", fail)
    sides = rows(queries=1 + devices.ON_DEVICE_FROM // DOCUMENTS)
    assert ndcg.compute(**sides, k=10) == ndcg.compute(**on_host(sides), k=10)
    monkeypatch.setattr(devices, "accelerator_of", Device().of)
    with pytest.raises(AssertionError):
        ndcg.compute(**sides, k=10)


def test_only_plain_tensors_of_cuda_have_an_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor(SimpleNamespace):
        """What a tensor tells of itself."""

    monkeypatch.setattr(torch, "Tensor", Tensor)
    cuda, mps = (SimpleNamespace(type=kind, index=0) for kind in ("cuda", "mps"))
    plain = {"layout": torch.strided, "is_nested": False, "device": cuda}
    assert devices.accelerator_of(Tensor(**plain)) is cuda
    for other in ({"device": mps}, {"layout": torch.sparse_coo}, {"is_nested": True}):
        assert devices.accelerator_of(Tensor(**{**plain, **other})) is None
    for values in (None, [[0.5]], np.zeros((2, 2)), SimpleNamespace(**plain)):
        assert devices.accelerator_of(values) is None
    monkeypatch.setitem(sys.modules, "torch", None)
    assert devices.accelerator_of(Tensor(**plain)) is None


def test_sides_on_two_devices_are_scored_on_the_host(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = rows()
    expected = ndcg.compute(**on_host(sides))
    monkeypatch.setattr(
        devices, "accelerator_of", lambda values: 0 if values is sides["predictions"] else 1
    )
    assert ndcg.compute(**sides) == expected
    assert device.scored == 0


def test_scores_are_rounded_to_float32_on_the_device_if_they_have_no_more_digits(
    device: Device,
) -> None:
    options = {"score_dtype": "float32"}
    for scored, kind in enumerate((torch.float64, torch.float32, torch.bfloat16)):
        agree(ndcg.compute(**rows(kind), **options), ndcg.compute(**on_host(rows(kind)), **options))
        assert device.scored == scored


AT = (65, 7)  # of a query and a document
ROW = 65 * DOCUMENTS + 7


@pytest.mark.parametrize(
    ("sides", "options"),
    [
        (changed(rows(), "predictions", AT, math.nan), {}),
        (changed(rows(), "predictions", AT, math.inf), {}),
        (changed(rows(), "predictions", AT, -math.inf), {"score_order": "ascending"}),
        (changed(rows(), "references", AT, -1), {}),
        (
            {**rows(), "references": changed(rows(), "references", AT, 3)["references"] * 1e308},
            {"measures": "DCG"},
        ),
        (
            changed(
                {**rows(), "references": rows()["references"].float()}, "references", AT, math.nan
            ),
            {},
        ),
        (changed(rows(), "references", AT, 9), {"gain": [0, 1, 2, 3]}),
        (changed(rows(), "predictions", 65, -math.inf), {"missing": "raise"}),
        (changed(flat(), "predictions", ROW, math.nan), {}),
        (changed(flat(), "references", ROW, -1), {}),
        ({**flat(), "query_ids": flat()["query_ids"].float()}, {}),
        ({**rows(), "references": rows()["references"][:, :50]}, {}),
        (rows(), {"gain": lambda labels: labels / 0 if isinstance(labels, np.ndarray) else None}),
        (rows(), {"discount": lambda rank: rank}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*encountered in divide")
def test_errors_are_those_of_the_host(device: Device, sides: Sides, options: Options) -> None:
    errors = []
    for given in (sides, on_host(sides)):
        with pytest.raises(ValueError, match=r"^\w+") as error:
            ndcg.compute(**given, **options)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
    assert device.scored == int(options.get("missing") == "raise")  # told after the values


def test_queries_of_one_document_are_warned_about_as_on_the_host(device: Device) -> None:
    sides = rows(queries=7_000, documents=1)
    for given in (sides, on_host(sides)):
        with warning("predictions"):
            ndcg.compute(**given)


def test_a_query_that_is_all_padding_is_not_missing(device: Device) -> None:
    sides = changed(changed(rows(), "references", 5, -100), "predictions", 6, -math.inf)
    for missing in ("empty", "skip"):
        options = {
            "missing": missing,
            "ignore_index": -100,
            "use_aggregator": False,
            "zero_division": 0.5,
        }
        agree(ndcg.compute(**sides, **options), ndcg.compute(**on_host(sides), **options))
    assert device.scored == 2


@pytest.mark.parametrize(
    ("kind", "ignore_index"),
    [
        ("uint8", -100),
        ("uint8", 3),
        ("bool", 1),
        ("int8", 2.5),
        ("int64", 3.0),
        ("bfloat16", 0.3),
        ("float16", 70000),
    ],
)
def test_padding_is_compared_in_the_type_of_the_references(
    device: Device, kind: str, ignore_index: float
) -> None:
    sides = rows()
    sides["references"] = sides["references"].to(getattr(torch, kind))
    if kind == "bfloat16":
        sides["references"][:, ::3] = 0.3
    options = {"ignore_index": ignore_index, "use_aggregator": False}
    found = ndcg.compute(**sides, **options)
    assert device.scored == 1
    device.cpu = None
    agree(found, ndcg.compute(**sides, **options))
    assert device.scored == 1


def test_swapped_sides_are_warned_about(device: Device) -> None:
    sides = {
        "predictions": (rows()["references"] > 1).float(),
        "references": torch.rand(QUERIES, DOCUMENTS),
    }
    with warning("predictions"):
        ndcg.compute(**sides)
    assert device.scored == 1


def test_without_memory_on_the_device_the_host_scores(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr(devices, "measure_tensors", full)
    assert ndcg.compute(**rows(), k=10) == ndcg.compute(**on_host(rows()), k=10)


# --- A meter and a Trainer ------------------------------------------------------------------------


@pytest.fixture
def masked() -> Sequence[Any]:
    sides = rows()
    mask = torch.arange(DOCUMENTS) < torch.randint(
        0, DOCUMENTS, (QUERIES, 1), generator=torch.Generator().manual_seed(2)
    )
    sides["predictions"][~mask] = math.nan
    return sides["predictions"], sides["references"], mask


@pytest.mark.parametrize("kind", ["bool", "int64", "uint8", "float32"])
def test_the_mask_of_a_meter_stays_on_the_device(device: Device, masked: Any, kind: str) -> None:
    scores, labels, mask = masked
    for missing in ("empty", "skip"):
        there, here = (
            ndcg.meter(k=10, missing=missing, measures=["nDCG", "DCG"]) for _ in range(2)
        )
        device.scored = 0
        for _ in range(2):
            there.update(scores, labels, mask.to(getattr(torch, kind)))
            here.update(scores.numpy(), labels.numpy(), mask.numpy())
        assert device.scored == 2
        assert there.compute() == pytest.approx(here.compute(), rel=1e-13)


def test_the_errors_of_a_mask_are_those_of_the_host(device: Device, masked: Any) -> None:
    scores, labels, mask = masked
    batches = ndcg.meter()
    for wrong, error in (
        (mask.float() / 2, "mask: must be True or 1 for a document, False or 0 for padding"),
        (mask.float() * math.nan, "mask: must be True or 1"),
        (mask[:5], r"got a mask of \(5, 100\)"),
        (torch.ones_like(mask), "predictions: query 0, position"),
    ):
        with pytest.raises(ValueError, match=error):
            batches.update(scores, labels, wrong)
    with refusal("predictions"):
        batches.compute()
    assert device.scored == 0


def test_the_batches_of_a_trainer_are_scored_on_the_device(device: Device) -> None:
    sides = changed(rows(), "references", (slice(None), slice(90, None)), -100)
    metrics = ndcg.trainer_metrics(k=10)
    for last in (False, True):
        evaluation = SimpleNamespace(
            predictions=sides["predictions"], label_ids=sides["references"], inputs=None
        )
        result = metrics(evaluation, compute_result=last)
    assert device.scored == 2
    agree(result, ndcg.compute(**on_host(sides), k=10, ignore_index=-100))
