"""`torchmetrics_metric` is a torchmetrics metric with the mean of `compute`."""

import json
import math
import pickle
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import Processes
from evaluate import Metric
from hypothesis import given, settings
from hypothesis import strategies as st
from sources import Late
from test_meter import in_two_processes

pytestmark = pytest.mark.xdist_group("torch")  # which takes seconds to import
torch = pytest.importorskip("torch")
torchmetrics = Late("torchmetrics")

QUERIES, DOCUMENTS = 23, 12


def queries(seed: int = 0) -> tuple[Any, Any]:
    """Scores with ties; some labels are padding, and some queries have nothing relevant."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, (QUERIES, DOCUMENTS))
    labels[::5] = 0
    labels[rng.random(labels.shape) < 0.1] = -100
    return torch.from_numpy(rng.integers(0, 8, labels.shape) / 4), torch.from_numpy(labels)


def expected_of(ndcg: Metric, scores: Any, labels: Any, **options: Any) -> dict[str, float]:
    return ndcg.compute(predictions=scores, references=labels, ignore_index=-100, **options)


def close(found: Any, expected: dict[str, float]) -> None:
    values = found if isinstance(found, dict) else dict.fromkeys(expected, found)
    assert {name: float(value) for name, value in values.items()} == pytest.approx(
        expected, rel=1e-13
    )


def rows_of(scores: Any, labels: Any) -> list[Any]:
    """The score, the label and the query of each document, in random order."""
    order = torch.randperm(scores.numel(), generator=torch.Generator().manual_seed(1))
    indexes = torch.arange(QUERIES).repeat_interleave(DOCUMENTS)
    return [each.reshape(-1)[order] for each in (scores, labels, indexes)]


@settings(max_examples=20)
@given(
    data=st.data(),
    by_rows=st.booleans(),
    options=st.sampled_from([{"k": [1, 5]}, {"k": 10}, {"measures": "DCG"}]),
)
def test_the_mean_is_that_of_compute_however_queries_are_split(
    ndcg: Metric, data: st.DataObject, by_rows: bool, options: dict[str, Any]
) -> None:
    sides = rows_of(*queries()) if by_rows else queries()
    size = len(sides[0])
    cuts = [0, *sorted(data.draw(st.sets(st.integers(1, size - 1), max_size=20))), size]
    metric = ndcg.torchmetrics_metric(**options, ignore_index=-100)
    for start, end in pairwise(cuts):
        metric.update(*(side[start:end] for side in sides))
    close(metric.compute(), expected_of(ndcg, *queries(), **options))


QUERY_IDS = {"torchmetrics_metric": "indexes", "meter": "query_ids"}
# The types of scores that may be in batches of one metric. Neighbors of 2**53 are equal in float64.
SCORES = [["int64"], ["float32", "bfloat16", "int8"]]
LABELS = ["float64", "float32", "float16", "bfloat16", "int64", "int16"]


@pytest.mark.parametrize("entry", QUERY_IDS)
@settings(max_examples=60)
@given(
    seed=st.integers(0, 99),
    ignore_index=st.sampled_from([999, -100, 0.1, 1]),  # 999 and 0.1 are rounded in some types
    scores=st.sampled_from(SCORES).flatmap(lambda kinds: st.tuples(*[st.sampled_from(kinds)] * 3)),
    labels=st.tuples(*[st.sampled_from(LABELS)] * 3),
)
def test_rows_keep_the_score_and_the_padding_that_they_have_in_a_matrix(
    ndcg: Metric,
    entry: str,
    seed: int,
    ignore_index: float,
    scores: tuple[str, ...],
    labels: tuple[str, ...],
) -> None:
    rng = np.random.default_rng(seed)
    metric = getattr(ndcg, entry)(ignore_index=ignore_index)
    values = []
    for first_query, kinds in zip(range(0, 9, 3), zip(scores, labels, strict=True), strict=True):
        start = 2**53 if kinds[0] == "int64" and entry == "meter" else 0
        score = torch.from_numpy(start + rng.integers(0, 5, (3, 6))).to(getattr(torch, kinds[0]))
        relevance = np.array([ignore_index, 0, 1, 2, 3])[rng.integers(0, 5, (3, 6))]
        label = torch.from_numpy(relevance).to(getattr(torch, kinds[1]))
        matrices = {"predictions": score, "references": label, "ignore_index": ignore_index}
        values += ndcg.compute(**matrices, use_aggregator=False)["nDCG"]
        query = torch.arange(first_query, first_query + 3).repeat_interleave(6)
        for rows in np.array_split(rng.permutation(18), 3):
            sides = (side.reshape(-1)[rows] for side in (score, label))
            metric.update(*sides, **{QUERY_IDS[entry]: query[rows]})
    close(metric.compute(), {"nDCG": sum(values) / len(values)})


def test_queries_and_rows_add_up_until_a_reset(ndcg: Metric) -> None:
    scores, labels = queries()
    metric = ndcg.torchmetrics_metric(k=5, ignore_index=-100)
    metric.update(scores[:9], labels[:9])
    metric.update(torch.empty(0, DOCUMENTS), torch.empty(0, DOCUMENTS))
    for score, label, index in zip(*rows_of(scores, labels), strict=True):
        if index >= 9:
            metric.update(score, label, indexes=index)
    found = metric.compute()
    assert (found.shape, found.dtype, found.device) == ((), torch.float64, metric.device)
    close(found, expected_of(ndcg, scores, labels, k=5))
    metric.reset()
    metric.update(scores[:3], labels[:3])
    close(metric.compute(), expected_of(ndcg, scores[:3], labels[:3], k=5))


def test_copies_have_the_state_and_their_own_future(ndcg: Metric) -> None:
    scores, labels = queries()
    metric = ndcg.torchmetrics_metric(k=5, ignore_index=-100, gain=lambda relevance: relevance**2)
    metric.update(scores[:9], labels[:9])
    close(metric.clone().compute(), {"nDCG@5": metric.compute().item()})
    copied = metric.clone()
    copied.update(*rows_of(scores, labels))
    assert copied.compute() != metric.compute()
    assert copied._update_count == 2
    listed = ndcg.torchmetrics_metric(k=5, ignore_index=-100)
    listed.update(scores[:9], labels[:9])
    restored = pickle.loads(pickle.dumps(listed))
    for each in (listed, restored):
        each.update(scores[9:], labels[9:])
        close(each.compute(), expected_of(ndcg, scores, labels, k=5))


def test_a_checkpoint_holds_the_state(ndcg: Metric) -> None:
    scores, labels = queries()
    metric, resumed = (ndcg.torchmetrics_metric(k=5, ignore_index=-100) for _ in range(2))
    assert not metric.state_dict()
    for each in (metric, resumed):
        each.persistent(True)
    metric.update(scores[:9], labels[:9])
    rows = [side[9 * DOCUMENTS :] for side in (scores.reshape(-1), labels.reshape(-1))]
    metric.update(*rows, torch.arange(9, QUERIES).repeat_interleave(DOCUMENTS))
    resumed.load_state_dict(metric.state_dict())
    resumed.update(scores[:0], labels[:0])
    close(resumed.compute(), expected_of(ndcg, scores, labels, k=5))


def test_a_call_returns_the_value_of_its_batch_and_adds_it(ndcg: Metric) -> None:
    scores, labels = queries()
    metric = ndcg.torchmetrics_metric(k=5, ignore_index=-100, zero_division=math.nan)
    for rows in (slice(9), slice(9, QUERIES)):
        sides = scores[rows], labels[rows]
        close(metric(*sides), expected_of(ndcg, *sides, k=5, zero_division=math.nan))
    assert metric(torch.rand(2, 3), torch.zeros(2, 3)).isnan()  # no query has a value
    close(metric.compute(), expected_of(ndcg, scores, labels, k=5, zero_division=math.nan))


def test_a_collection_has_the_value_of_each_even_if_they_begin_alike(ndcg: Metric) -> None:
    scores, labels = queries()
    options = {"top1": {"k": 1}, "top5": {"k": 5}, "DCG": {"measures": "DCG", "k": 5}}
    metrics = {
        name: ndcg.torchmetrics_metric(**each, ignore_index=-100) for name, each in options.items()
    }
    collection = torchmetrics.MetricCollection(metrics, prefix="val_")
    perfect = torch.tensor([[1.0, 0.0]]), torch.tensor([[1, 0]])  # 1.0 by all metrics
    collection.update(*perfect)
    collection.update(scores, labels)
    found = collection.compute()
    assert found.keys() == {f"val_{name}" for name in options}
    for name, each in options.items():
        (mean,) = expected_of(ndcg, scores, labels, **each).values()
        assert found[f"val_{name}"].item() == pytest.approx(
            (1 + QUERIES * mean) / (1 + QUERIES), rel=1e-13
        )


def test_it_moves_with_a_module_and_keeps_its_precision(ndcg: Metric) -> None:
    module = torch.nn.Module()
    module.metric = ndcg.torchmetrics_metric(k=5, ignore_index=-100)
    module.half().to("cpu")
    module.metric.set_dtype(torch.float16)
    module.metric.update(*queries())
    close(module.metric.compute(), expected_of(ndcg, *queries(), k=5))
    module.to("meta")
    assert {module.metric.sums.device.type, module.metric.counts.device.type} == {"meta"}
    assert module.metric.higher_is_better
    assert not module.metric.full_state_update


@pytest.mark.parametrize(
    ("batch", "error"),
    [
        (([[0.5, math.nan]], [[1, 0]]), "predictions: query 0, position 1: nan"),
        (([[0.5, 0.1]], [[1, -1]]), "references: query 0, position 1: the relevance -1"),
        (
            ([0.5, 0.1], [1], [0, 0]),
            "with indexes, .* one per document; got preds 2, target 1, indexes 2",
        ),
        (([0.5, 0.1], [1, 0], [0.0, 0.0]), "indexes must be integers, .*; got torch.float32"),
        (
            ([0.5, 1j], [1, 0], [0, 0]),
            "with indexes, preds must be real numbers, .*; got torch.complex64",
        ),
        (([2**53 + 1, 0], [1, 0], [0, 0]), "with indexes, preds must be .*; got torch.int64"),
    ],
)
def test_a_batch_that_is_rejected_adds_nothing(ndcg: Metric, batch: Any, error: str) -> None:
    metric = ndcg.torchmetrics_metric(k=5)
    metric.update(torch.tensor([[0.5, 0.9]]), torch.tensor([[1, 0]]))
    with pytest.raises(ValueError, match=error):
        metric.update(*map(torch.tensor, batch))
    assert metric.compute().item() == pytest.approx(1 / math.log2(2 + 1))


def test_without_torchmetrics_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ndcg.loops import torchmetrics_metric as module

    monkeypatch.setattr(module, "_metric_class", module._metric_class.__wrapped__)
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    with pytest.raises(
        ImportError,
        match=r"^torchmetrics_metric needs torchmetrics: pip install torch torchmetrics$",
    ):
        module.torchmetrics_metric()
    with pytest.raises(TypeError, match=r"^torchmetrics_metric has no option cutoff"):
        module.torchmetrics_metric(cutoff=5)


@pytest.mark.training
def test_two_processes_have_the_mean_of_one_even_if_one_has_no_rows(
    ndcg: Metric, training_processes: Processes
) -> None:
    scores, labels = queries()
    script = """
scores, labels = torch.tensor(scores), torch.tensor(labels)
found = []
whole = ndcg.torchmetrics_metric(k=[1, 5], ignore_index=-100)
whole.update(scores[rank::2], labels[rank::2])
found.append(whole.compute())
found.append(whole.compute())  # the state is that of this process again
rows = ndcg.torchmetrics_metric(k=[1, 5], ignore_index=-100)
indexes = torch.arange(len(scores)).repeat_interleave(scores.shape[1])
for at in range(rank, 7, 2):
    rows.update(*(side.reshape(-1)[at::7] for side in (scores, labels)), indexes[at::7])
found.append(rows.compute())
one = ndcg.torchmetrics_metric(k=[1, 5], ignore_index=-100)
if rank == 0:
    one.update(scores.reshape(-1), labels.reshape(-1), indexes)
else:
    one.update(scores[:0], labels[:0])
found.append(one.compute())
print(json.dumps([{name: value.item() for name, value in each.items()} for each in found]))
dist.destroy_process_group()
"""
    sides = {"scores": scores.tolist(), "labels": labels.tolist()}
    started = in_two_processes(training_processes, script, **sides)
    found = [json.loads(process.output()) for process in started]
    assert found[0] == found[1]
    expected = expected_of(ndcg, scores, labels, k=[1, 5])
    assert len(found[0]) == 4
    for each in found[0]:
        assert each == pytest.approx(expected, rel=1e-13)


@pytest.mark.training
@pytest.mark.filterwarnings("ignore")  # of Lightning
def test_lightning_logs_the_metric(ndcg: Metric, tmp_path: Any) -> None:
    lightning = pytest.importorskip("lightning")

    class Ranker(lightning.LightningModule):
        """Scores by one feature, which is the score."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.ndcg = ndcg.torchmetrics_metric(k=5, ignore_index=-100)

        def validation_step(self, batch: Any, index: int) -> None:
            self.ndcg.update(*batch)
            self.log("val_ndcg", self.ndcg)

        def training_step(self, batch: Any, index: int) -> Any:
            return self.layer(batch[0][:, :1].float()).mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*queries()), batch_size=4)
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "accelerator": "cpu",
    }
    trainer = lightning.Trainer(
        max_epochs=2, default_root_dir=tmp_path, enable_model_summary=False, **quiet
    )
    trainer.fit(Ranker(), data, data)
    expected = expected_of(ndcg, *queries(), k=5)["nDCG@5"]
    assert trainer.logged_metrics["val_ndcg"].item() == pytest.approx(
        expected, rel=1e-6
    )  # logged as float32
