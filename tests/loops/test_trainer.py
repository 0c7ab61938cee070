"""`trainer_metrics` in a `transformers.Trainer`: the figures of the queries scored by hand, whole or batch by batch."""

import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, MetricFactory
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
from transformers import (  # noqa: E402
    EvalPrediction,
    PreTrainedConfig,
    PreTrainedModel,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

FEATURES = 4
Example = dict[str, np.ndarray]


class ScorerConfig(PreTrainedConfig):
    """The outputs of the model in addition to plain logits, or in their place."""

    model_type = "scorer"
    form: str = "plain"


class Scorer(PreTrainedModel):
    """Scores the last axis of its input; on whole numbers exactly, so that ties stay ties in every batch."""

    config_class = ScorerConfig
    main_input_name = "features"

    def __init__(self, config: ScorerConfig) -> None:
        super().__init__(config)
        self.weight = torch.nn.Parameter(torch.tensor([1.0, -1.0, 0.5, 2.0]))
        self.post_init()

    def _init_weights(self, module: torch.nn.Module) -> None:
        """The weights stay as they are."""

    def forward(self, features: torch.Tensor, labels: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
        scores = (features[..., -FEATURES:] * self.weight).sum(-1)
        assert labels is not None
        loss = ((scores - labels)[labels != -100] ** 2).mean()
        form = self.config.form
        logits = scores.unsqueeze(-1) if "column" in form else scores
        logits = torch.stack([-scores / 2, scores / 2], -1) if "two logits" in form else logits
        logits = logits.bfloat16() if "bf16" in form else logits
        return {"loss": loss, "logits": logits, **({"hidden": features} if "tuple" in form else {})}


# --- Data ------------------------------------------------------------------------------------------------------------


def make_queries(number: int = 13, seed: int = 0) -> list[Example]:
    """Queries of 1 to 30 documents, with ties, and some with nothing relevant."""
    rng = np.random.default_rng(seed)
    queries = []
    for _ in range(number):
        documents = int(rng.integers(1, 31))
        features = rng.integers(-3, 4, (documents, FEATURES)).astype(np.float32)
        labels = rng.integers(0, 4, documents) * (rng.random() < 0.8)
        queries.append({"features": features, "labels": labels})
    return queries


def pad(queries: list[Example]) -> dict[str, torch.Tensor]:
    """A batch as wide as its own longest query."""
    features, labels = ([torch.from_numpy(query[name]) for query in queries] for name in ("features", "labels"))
    padded = torch.nn.utils.rnn.pad_sequence
    return {
        "features": padded(features, batch_first=True, padding_value=7.0),  # would rank high
        "labels": padded(labels, batch_first=True, padding_value=-100),
    }


def make_pairs(seed: int = 0) -> list[Example]:
    """(query, document) rows in no order: the query's id first, then a text of any length, then the features."""
    rows = [
        {"features": np.array([100 + number, *[0] * (number % 3), *features], np.float32), "labels": label}
        for number, query in enumerate(make_queries(seed=seed))
        for features, label in zip(query["features"], query["labels"], strict=True)
    ]
    return [rows[row] for row in np.random.default_rng(seed).permutation(len(rows))]


def pad_pairs(rows: list[Example]) -> dict[str, torch.Tensor]:
    """A batch as wide as its own widest row: ids in front, features at the end."""
    features = torch.zeros(len(rows), max(len(row["features"]) for row in rows))
    features[:, 0] = torch.tensor([row["features"][0] for row in rows])
    features[:, -FEATURES:] = torch.tensor(np.array([row["features"][-FEATURES:] for row in rows]))
    return {"features": features, "labels": torch.tensor([int(row["labels"]) for row in rows])}


def query_of(features: np.ndarray) -> np.ndarray:
    assert isinstance(features, np.ndarray)
    return features[:, 0].astype(int)


def by_hand(metric: evaluate.Metric, queries: list[Example], bf16: bool = False, **options: Any) -> dict[str, float]:
    scores = [torch.from_numpy(query["features"]) @ torch.tensor([1.0, -1.0, 0.5, 2.0]) for query in queries]
    scores = [each.bfloat16().float() if bf16 else each for each in scores]
    predictions, references = [each.tolist() for each in scores], [query["labels"].tolist() for query in queries]
    return metric.compute(predictions=predictions, references=references, **options)


@pytest.fixture
def make_trainer(tmp_path: Path) -> Callable[..., Trainer]:
    """A Trainer on the CPU whose evaluation batches hold 4 examples."""

    def make(compute_metrics: Any, form: str = "plain", eval_dataset: Any = None, **arguments: Any) -> Trainer:
        collator = arguments.pop("data_collator", pad)
        train_dataset = arguments.pop("train_dataset", None) or make_queries(32, seed=1)
        preprocess = arguments.pop("preprocess_logits_for_metrics", None)
        trainer = Trainer(
            model=Scorer(ScorerConfig(form=form)),
            args=TrainingArguments(
                output_dir=str(tmp_path / "trainer"),
                per_device_train_batch_size=4,
                per_device_eval_batch_size=arguments.pop("per_device_eval_batch_size", 4),
                save_strategy=arguments.pop("save_strategy", "no"),
                report_to=arguments.pop("report_to", "none"),
                disable_tqdm=True,
                dataloader_pin_memory=False,
                use_cpu=True,
                **arguments,
            ),
            data_collator=collator,
            train_dataset=train_dataset,
            eval_dataset=make_queries() if eval_dataset is None else eval_dataset,
            compute_metrics=compute_metrics,
            preprocess_logits_for_metrics=preprocess,
        )
        trainer.remove_callback(PrinterCallback)
        return trainer

    return make


def without_prefix(logged: dict[str, float], prefix: str = "eval_") -> dict[str, float]:
    """The results of the metric, as it names them."""
    names = {name: name.removeprefix(prefix) for name in logged if "CG" in name}
    return {names[name]: logged[name] for name in names}


WAYS: dict[str, dict[str, Any]] = {
    "whole": {},
    "batches": {"batch_eval_metrics": True},
    "accumulated": {"eval_accumulation_steps": 2},
    "not concatenated": {"eval_do_concat_batches": False},
}
BOTH = {name: WAYS[name] for name in ("whole", "batches")}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
both = pytest.mark.parametrize("way", BOTH.values(), ids=BOTH)

# --- One row per query -----------------------------------------------------------------------------------------------


def test_training_logs_the_metric_at_each_evaluation(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer]
) -> None:
    logged = {}
    for name, way in BOTH.items():
        schedule = {"max_steps": 6, "eval_strategy": "steps", "eval_steps": 2, "learning_rate": 0.1, "seed": 0}
        trainer = make_trainer(ndcg.trainer_metrics(k=10), **schedule, **way)
        trainer.train()
        entries = [entry for entry in trainer.state.log_history if "eval_nDCG@10" in entry]
        assert [entry["step"] for entry in entries] == [2, 4, 6]
        logged[name] = [entry["eval_nDCG@10"] for entry in entries]
    assert logged["whole"] == logged["batches"]
    assert len(set(logged["whole"])) > 1
    assert all(isinstance(value, float) and 0 < value <= 1 for value in logged["whole"])


@pytest.mark.parametrize("tracker", ["trackio", "wandb"])
def test_a_tracker_gets_the_metric_and_its_interval_by_their_names(
    ndcg: evaluate.Metric,
    make_trainer: Callable[..., Trainer],
    tracker: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"TRACKIO_DIR": tmp_path, "WANDB_DIR": tmp_path, "WANDB_MODE": "offline"}.items():
        monkeypatch.setenv(name, str(value))
    library = pytest.importorskip(tracker)
    if tracker == "wandb":
        library.teardown()  # it reads its environment once for a process
    logged: dict[str, float] = {}
    log = library.Run.log

    def log_and_keep(run: Any, *values: Any, **how: Any) -> None:
        logged.update((*values, *how.values())[0])
        log(run, *values, **how)

    monkeypatch.setattr(library.Run, "log", log_and_keep)
    rows = make_pairs()
    shape = {**SHAPE, "eval_dataset": rows, "report_to": tracker, "trackio_space_id": None}
    trainer = make_trainer(ndcg.trainer_metrics(k=10, **columns(rows)), **shape)
    trainer.evaluate()
    report = ndcg.report(predictions=trainer.predict(rows).predictions, **columns(rows), k=10)
    trainer.log({f"eval_{name}": value for name, value in report.flat().items()})
    library.finish()
    expected = pairs_by_hand(ndcg, rows, k=10)["nDCG@10"]
    assert logged["eval/nDCG@10"] == report.scores["nDCG@10"].value == expected
    assert logged["eval/nDCG@10/low"] == report.scores["nDCG@10"].low < expected


@ways
@pytest.mark.parametrize("form", ["plain", "column", "tuple", "column tuple", "bf16", "column bf16 tuple"])
def test_an_evaluation_of_every_form_of_logits_is_the_queries_scored_by_hand(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any], form: str
) -> None:
    trainer = make_trainer(ndcg.trainer_metrics(k=10), form, **way)
    assert without_prefix(trainer.evaluate()) == by_hand(ndcg, make_queries(), k=10, bf16="bf16" in form)


@both
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": [1, None], "measures": ["DCG", "nDCG"]},
        {"k": 5, "gain": "exponential", "log_base": 3},
        {"k": 3, "ties": "worst"},
        {"k": 3, "ignore_ties": True},
        {"k": 10, "zero_division": float("nan")},
        {"k": 10, "zero_division": 1.0},
        {"gain": [0, 1, 3, 8]},
    ],
)
def test_the_options_of_compute(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any], options: dict[str, Any]
) -> None:
    # batches of one query: with zero_division=nan some of them have no value at all
    trainer = make_trainer(ndcg.trainer_metrics(**options), per_device_eval_batch_size=1, **way)
    assert without_prefix(trainer.evaluate()) == by_hand(ndcg, make_queries(), **options)


@both
def test_evaluations_of_several_sets_and_predictions_are_independent(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    sets = {"near": make_queries(seed=3), "far": make_queries(9, seed=4)}
    trainer = make_trainer(ndcg.trainer_metrics(k=10), eval_dataset=sets, **way)
    for _ in range(2):
        logged = trainer.evaluate()
        for name, queries in sets.items():
            assert logged[f"eval_{name}_nDCG@10"] == by_hand(ndcg, queries, k=10)["nDCG@10"]
    predicted = trainer.predict(sets["far"])
    assert without_prefix(predicted.metrics, "test_") == by_hand(ndcg, sets["far"], k=10)


def test_padding_may_have_another_label(ndcg: evaluate.Metric) -> None:
    scores, labels = np.array([[0.9, 0.1, 5.0], [0.3, 0.2, 0.1]]), np.array([[0, 1, -1], [1, 0, 2]])
    expected = ndcg.compute(predictions=[[0.9, 0.1], [0.3, 0.2, 0.1]], references=[[0, 1], [1, 0, 2]])
    assert ndcg.trainer_metrics(ignore_index=-1)(EvalPrediction(scores, labels)) == expected
    with pytest.raises(ValueError, match=r"references: query 0, position 2.*-1"):
        ndcg.trainer_metrics()(EvalPrediction(scores, labels))
    with pytest.raises(ValueError, match=r"references: query 0, position 1.*-100"):
        ndcg.trainer_metrics(ignore_index=None)(EvalPrediction(np.ones((1, 2)), np.array([[1, -100]])))


@settings(max_examples=60)
@given(st.data())
def test_batches_of_any_width_score_as_the_whole_to_the_last_bit(ndcg: evaluate.Metric, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    shapes = data.draw(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 60)), min_size=1, max_size=6))
    k = data.draw(st.sampled_from([None, 1, 10, [3, None]]))
    batches = []
    for queries, width in shapes:
        labels = np.where(rng.random((queries, width)) < 0.3, -100, rng.integers(0, 3, (queries, width)))
        batches.append((rng.normal(size=(queries, width)).round(1).astype(np.float32), labels))
    widest = max(width for _, width in shapes)

    def together(arrays: list[np.ndarray]) -> np.ndarray:
        fill = [np.pad(each, ((0, 0), (0, widest - each.shape[1])), constant_values=-100) for each in arrays]
        return np.concatenate(fill)

    metrics = ndcg.trainer_metrics(k=k)
    for scores, labels in batches[:-1]:
        assert metrics(EvalPrediction(scores, labels), compute_result=False) == {}
    result = metrics(EvalPrediction(*batches[-1]), compute_result=True)
    assert result == metrics(EvalPrediction(*map(together, zip(*batches, strict=True))))


# --- One row per document --------------------------------------------------------------------------------------------


@ways
@pytest.mark.parametrize("form", ["plain", "column", "tuple", "column bf16"])
def test_rows_of_documents_are_grouped_by_the_query_in_the_inputs(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any], form: str
) -> None:
    metrics = ndcg.trainer_metrics(k=10, query_ids=query_of, main_input="features")
    shape = {"eval_dataset": make_pairs(), "data_collator": pad_pairs, "include_for_metrics": ["inputs"]}
    trainer = make_trainer(metrics, form, **shape, **way)
    rows = make_pairs()
    flat = {
        "predictions": [float(row["features"][-FEATURES:] @ np.array([1.0, -1.0, 0.5, 2.0])) for row in rows],
        "references": [int(row["labels"]) for row in rows],
        "query_ids": [int(row["features"][0]) for row in rows],
    }
    if "bf16" in form:
        flat["predictions"] = torch.tensor(flat["predictions"]).bfloat16().float().tolist()
    expected = ndcg.compute(**flat, k=10)
    assert without_prefix(trainer.evaluate()) == expected
    assert without_prefix(trainer.evaluate()) == expected
    hand = by_hand(ndcg, make_queries(), bf16="bf16" in form, k=10)
    assert expected["nDCG@10"] == pytest.approx(hand["nDCG@10"], rel=1e-12)  # the queries are in another order


ROWS = {"predictions": np.array([0.3, 0.4, 0.5, 0.1]), "label_ids": np.array([1, 0, 2, 1])}
INPUTS = np.array([[0, 1], [0, 2], [1, 3], [1, 4]])
ROWS_RESULT = {"nDCG@1": 0.5}


@pytest.mark.parametrize("ids", [["a", "a", "b", "b"], [5, 5, 3, 3], np.array([2**40, 2**40, -1, -1])])
def test_the_ids_of_queries_may_be_any_that_compute_takes(ndcg: evaluate.Metric, ids: Any) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=lambda inputs: ids)
    assert metrics(EvalPrediction(**ROWS, inputs=INPUTS)) == ROWS_RESULT
    assert metrics(EvalPrediction(**ROWS, inputs=INPUTS), compute_result=False) == {}
    assert metrics(EvalPrediction(**ROWS, inputs=INPUTS), compute_result=True) == ndcg.compute(
        predictions=np.tile(ROWS["predictions"], 2),
        references=np.tile(ROWS["label_ids"], 2),
        query_ids=[*ids, *ids],
        k=1,
    )


def test_rows_labeled_as_padding_are_not_documents(ndcg: evaluate.Metric) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=query_of)
    padded = EvalPrediction(ROWS["predictions"], np.array([1, -100, 2, 1]), inputs=INPUTS)
    assert metrics(padded) == {"nDCG@1": 1.0}


def test_the_main_input_is_an_array_whole_and_batch_by_batch(ndcg: evaluate.Metric) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=query_of)
    tensors = {name: torch.from_numpy(each) for name, each in ROWS.items()}
    batch = {"attention_mask": torch.ones(4), "input_ids": torch.from_numpy(INPUTS)}
    assert metrics(EvalPrediction(**tensors, inputs=batch), compute_result=True) == ROWS_RESULT
    named = ndcg.trainer_metrics(k=1, query_ids=query_of, main_input="pixel_values")
    batch = {"pixel_values": torch.from_numpy(INPUTS)}
    assert named(EvalPrediction(**tensors, inputs=batch), compute_result=True) == ROWS_RESULT
    assert named(EvalPrediction(**ROWS, inputs=INPUTS)) == ROWS_RESULT


def test_the_error_for_a_trainer_without_inputs_says_how_to_pass_them(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer]
) -> None:
    metrics = ndcg.trainer_metrics(k=10, query_ids=query_of, main_input="features")
    for way in BOTH.values():
        trainer = make_trainer(metrics, eval_dataset=make_pairs(), data_collator=pad_pairs, **way)
        with pytest.raises(ValueError, match=r'include_for_metrics=\["inputs"\]'):
            trainer.evaluate()


def test_a_main_input_of_another_name_is_named_with_those_there_are(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer]
) -> None:
    shape = {"eval_dataset": make_pairs(), "data_collator": pad_pairs, "include_for_metrics": ["inputs"]}
    trainer = make_trainer(ndcg.trainer_metrics(k=10, query_ids=query_of), **shape, batch_eval_metrics=True)
    with pytest.raises(ValueError, match=r"main_input='input_ids'.*features"):
        trainer.evaluate()


# --- Ids from a column of the evaluation set --------------------------------------------------------------------------

SHAPE: dict[str, Any] = {"data_collator": pad_pairs}


def columns(rows: list[Example]) -> dict[str, list[int]]:
    """The query and the label of each row."""
    ids, labels = [int(row["features"][0]) for row in rows], [int(row["labels"]) for row in rows]
    return {"query_ids": ids, "references": labels}


def pairs_by_hand(metric: evaluate.Metric, rows: list[Example], **options: Any) -> dict[str, float]:
    scores = [float(row["features"][-FEATURES:] @ np.array([1.0, -1.0, 0.5, 2.0])) for row in rows]
    return metric.compute(predictions=scores, **columns(rows), **options)


@ways
def test_rows_of_documents_are_grouped_by_a_column_of_the_evaluation_set(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    rows = make_pairs()
    trainer = make_trainer(ndcg.trainer_metrics(k=10, **columns(rows)), eval_dataset=rows, **SHAPE, **way)
    expected = pairs_by_hand(ndcg, rows, k=10)
    assert without_prefix(trainer.evaluate()) == expected
    assert without_prefix(trainer.evaluate()) == expected


@both
@pytest.mark.parametrize("labels", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_a_dataset_gives_its_rows_and_its_columns(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any], labels: torch.dtype
) -> None:
    rows = make_pairs()
    given = {name: np.array(values) for name, values in columns(rows).items()}
    table = datasets.Dataset.from_dict(
        {
            "query": [f"q{each}" for each in given["query_ids"]],
            "grade": given["references"] / 10,
            "features": [row["features"][-FEATURES:].tolist() for row in rows],
        }
    )

    def collate(batch: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        found = {"features": torch.tensor([row["features"] for row in batch])}
        return {**found, "labels": torch.tensor([row["grade"] for row in batch], dtype=labels)}

    metrics = ndcg.trainer_metrics(k=10, gain="binary", query_ids=table["query"], references=table["grade"])
    trainer = make_trainer(metrics, eval_dataset=table, data_collator=collate, remove_unused_columns=False, **way)
    assert without_prefix(trainer.evaluate()) == pairs_by_hand(ndcg, rows, k=10, gain="binary")


@pytest.mark.parametrize(
    "form", [list, tuple, np.array, torch.tensor, pa.array, lambda ids: pa.chunked_array([ids[:1], ids[1:]])]
)
def test_columns_of_every_library(ndcg: evaluate.Metric, form: Callable[[list[int]], Any]) -> None:
    ids, labels = [5, 5, 3, 3], ROWS["label_ids"].tolist()
    for query_ids, references in ((form(ids), form(labels)), (form(ids), labels)):
        metrics = ndcg.trainer_metrics(k=1, query_ids=query_ids, references=references)
        assert metrics(EvalPrediction(**ROWS)) == ROWS_RESULT


def test_a_label_missing_from_the_column_comes_from_the_collator(ndcg: evaluate.Metric) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=[5, 5, 3, 3], references=[1, None, 2, 1])
    padded = {**ROWS, "label_ids": np.array([1, -100, 2, 1])}
    assert metrics(EvalPrediction(**padded)) == {"nDCG@1": 1.0}
    assert metrics(EvalPrediction(**ROWS)) == ROWS_RESULT


TWO_LOGITS = "give the difference of two logits, logits[:, 1] - logits[:, 0], in a Trainer by "
TWO_LOGITS += "preprocess_logits_for_metrics (docs/training.md)"


@ways
def test_a_head_of_one_logit_scores_as_the_flat_scores(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    rows = make_pairs()
    metrics = ndcg.trainer_metrics(k=10, **columns(rows))
    trainer = make_trainer(metrics, "column", eval_dataset=rows, **SHAPE, **way)
    assert without_prefix(trainer.evaluate()) == pairs_by_hand(ndcg, rows, k=10)


def test_the_predictions_of_a_head_of_one_logit_are_scored_at_every_door(
    ndcg: evaluate.Metric, fresh_metric: MetricFactory, make_trainer: Callable[..., Trainer]
) -> None:
    rows = make_pairs()
    predictions = make_trainer(None, "column", eval_dataset=rows, **SHAPE).predict(rows).predictions
    assert predictions.shape == (len(rows), 1)
    expected = pairs_by_hand(ndcg, rows, k=10)
    for column in (predictions, torch.from_numpy(predictions), np.ma.MaskedArray(predictions)):
        assert ndcg.compute(predictions=column, **columns(rows), k=10) == expected
    report = ndcg.report(predictions=predictions, **columns(rows), k=10)
    assert report.scores["nDCG@10"].value == expected["nDCG@10"]
    found = ndcg.compare(systems={"a": predictions, "b": -predictions}, **columns(rows), k=10)
    assert found.scores["a"]["nDCG@10"].value == expected["nDCG@10"]
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=predictions, **columns(rows))
    assert metric.compute(k=10)["nDCG@10"] == pytest.approx(expected["nDCG@10"], abs=1e-15)


def test_two_logits_are_rejected_with_the_way_to_one_score(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer]
) -> None:
    rows = make_pairs()
    trainer = make_trainer(ndcg.trainer_metrics(k=10, **columns(rows)), "two logits", eval_dataset=rows, **SHAPE)
    shape = re.escape(f"shape ({len(rows)}, 2); {TWO_LOGITS}")
    with pytest.raises(ValueError, match=f"^with query_ids, predictions must be one per document; got {shape}$"):
        trainer.evaluate()
    trainer.compute_metrics = None
    logits = trainer.predict(rows).predictions
    words = "predictions must be flat with query_ids, one number per document"
    for call in (ndcg.compute, ndcg.report):
        with pytest.raises(ValueError, match=f"^{words}; got {shape}$"):
            call(predictions=logits, **columns(rows))
    with pytest.raises(ValueError, match=rf"^systems\['a'\]: {words}; got {shape}$"):
        ndcg.compare(systems={"a": logits, "b": logits}, **columns(rows))
    expected = pairs_by_hand(ndcg, rows, k=10)["nDCG@10"]
    differences = logits[:, 1] - logits[:, 0]
    assert ndcg.compute(predictions=differences, **columns(rows), k=10)["nDCG@10"] == pytest.approx(expected)


@both
def test_two_logits_are_scored_by_their_difference_and_the_best_model_is_loaded(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    rows = make_pairs()
    trainer = make_trainer(
        ndcg.trainer_metrics(k=10, **columns(rows)),
        "two logits",
        eval_dataset=rows,
        **SHAPE,
        **way,
        train_dataset=make_pairs(seed=1),
        preprocess_logits_for_metrics=lambda logits, labels: logits[:, 1] - logits[:, 0],
        max_steps=6,
        eval_strategy="steps",
        eval_steps=2,
        learning_rate=1.0,
        seed=0,
        save_strategy="steps",
        save_steps=2,
        load_best_model_at_end=True,
        metric_for_best_model="nDCG@10",
    )
    trainer.train()
    logged = {each["step"]: each["eval_nDCG@10"] for each in trainer.state.log_history if "eval_nDCG@10" in each}
    assert list(logged) == [2, 4, 6]
    assert len(set(logged.values())) > 1
    assert trainer.state.best_metric == max(logged.values())
    assert trainer.evaluate()["eval_nDCG@10"] == max(logged.values())


ON_TWO_PROCESSES = """
import json, sys, tempfile
sys.path[:0] = {tests!r}
import evaluate
from test_trainer import BOTH, Scorer, ScorerConfig, columns, make_pairs, pad_pairs, without_prefix
from transformers import Trainer, TrainingArguments

ndcg, rows, results = evaluate.load({metric!r}), make_pairs()[:21], []
for way in BOTH.values():
    arguments = TrainingArguments(
        tempfile.gettempdir(), per_device_eval_batch_size=4, report_to="none", disable_tqdm=True, use_cpu=True, **way
    )
    metrics = ndcg.trainer_metrics(k=10, **columns(rows))
    trainer = Trainer(
        Scorer(ScorerConfig()), arguments, data_collator=pad_pairs, eval_dataset=rows, compute_metrics=metrics
    )
    results.append(without_prefix(trainer.evaluate()))
with open({folder!r} + f"/{{arguments.process_index}}.json", "w") as file:
    json.dump([arguments.world_size, *results], file)
"""


@pytest.mark.training
def test_two_processes_fill_up_the_last_batch_and_score_each_row_once(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    """21 rows in batches of 4 end in batches of 4 and 1, and the last one is filled up to 4."""
    script = tmp_path / "script.py"
    folders = [str(ROOT / each) for each in (".", "tests", "tests/loops")]
    places = {"tests": folders, "metric": str(ROOT / "ndcg.py"), "folder": str(tmp_path)}
    script.write_text(ON_TWO_PROCESSES.format(**places))
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *launcher, script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = pairs_by_hand(ndcg, make_pairs()[:21], k=10)
    for rank in range(2):
        assert json.loads((tmp_path / f"{rank}.json").read_text()) == [2, expected, expected]


@both
def test_a_set_of_another_length_is_rejected_with_both(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    rows = make_pairs()
    metrics = ndcg.trainer_metrics(k=10, **columns(rows))
    trainer = make_trainer(metrics, eval_dataset=rows, **SHAPE, **way)
    for other in (rows[:-1], [*rows, rows[0]], rows[:1]):
        found = f"query_ids has {len(rows)} rows, but the evaluation {len(other)}; give the column of the evaluated set"
        with pytest.raises(ValueError, match=found):
            trainer.evaluate(other)
        assert held(metrics) == held(ndcg.trainer_metrics(k=10, **columns(rows)))
    assert without_prefix(trainer.evaluate()) == pairs_by_hand(ndcg, rows, k=10)


def evaluated(ndcg: evaluate.Metric, labels: Any, references: Any) -> dict[str, float]:
    metrics = ndcg.trainer_metrics(k=1, query_ids=["a"] * len(references), references=references)
    return metrics(EvalPrediction(np.arange(len(references), dtype=float), labels))


CLOSE = [(201, 200), (2**53, 2**53 + 1), (1.0, 1.01), (201.0, 200.0), (256.0, 255.0), (0.0, 1e-3)]


@pytest.mark.parametrize(("label", "reference"), [*CLOSE, *(pair[::-1] for pair in CLOSE)])
def test_labels_of_other_rows_are_rejected_however_close_they_are(
    ndcg: evaluate.Metric, label: float, reference: float
) -> None:
    metrics = ndcg.trainer_metrics(query_ids=["a", "a"], references=np.array([reference, reference]))
    found = rf"row 1 has the label {re.escape(str(label))}, but in references {re.escape(str(reference))};"
    with pytest.raises(ValueError, match=found):
        metrics(EvalPrediction(np.array([0.5, 0.25]), np.array([reference, label])))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@given(labels=st.lists(st.floats(0, 60_000), min_size=1, max_size=9))
def test_labels_may_be_rounded_to_the_type_of_a_model(
    ndcg: evaluate.Metric, kind: torch.dtype, labels: list[float]
) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=["a"] * len(labels), references=labels)
    given = torch.tensor(labels, dtype=torch.float64 if kind == torch.float64 else torch.float32).to(kind)
    assert metrics(EvalPrediction(np.arange(len(labels), dtype=float), given)).keys() == {"nDCG@1"}


@both
def test_rows_that_the_trainer_drops_are_missed(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    rows = make_pairs()[:10]
    metrics = ndcg.trainer_metrics(k=10, **columns(rows))
    trainer = make_trainer(metrics, eval_dataset=rows, dataloader_drop_last=True, **SHAPE, **way)
    with pytest.raises(ValueError, match="query_ids has 10 rows, but the evaluation 8"):
        trainer.evaluate()


@both
def test_rows_that_the_trainer_groups_by_length_are_rejected(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    rows = [{**row, "input_ids": [0] * (at % 7)} for at, row in enumerate(make_pairs())]
    metrics = ndcg.trainer_metrics(k=10, **columns(rows))
    by_length = "group_by_length" in TrainingArguments.__dataclass_fields__  # in older transformers
    grouped = {"group_by_length": True} if by_length else {"train_sampling_strategy": "group_by_length"}
    trainer = make_trainer(metrics, eval_dataset=rows, **grouped, **SHAPE, **way)
    with pytest.raises(ValueError, match=r"query_ids: row \d+ has the label \d, but in references \d; .*shuffle"):
        trainer.evaluate()


@both
def test_each_of_several_sets_is_evaluated_by_its_own_columns(
    ndcg: evaluate.Metric, make_trainer: Callable[..., Trainer], way: dict[str, Any]
) -> None:
    sets = {"near": make_pairs(seed=3)[:50], "far": make_pairs(seed=4)[:50]}
    metrics = ndcg.trainer_metrics(k=10, **columns(sets["near"]))
    trainer = make_trainer(metrics, eval_dataset=sets, **SHAPE, **way)
    with pytest.raises(ValueError, match=r"query_ids: row \d+ has the label .* give the columns of the set"):
        trainer.evaluate()
    for name, rows in sets.items():
        trainer.compute_metrics = ndcg.trainer_metrics(k=10, **columns(rows))
        logged = trainer.evaluate(rows, metric_key_prefix=f"eval_{name}")
        assert logged[f"eval_{name}_nDCG@10"] == pairs_by_hand(ndcg, rows, k=10)["nDCG@10"]


def test_batches_of_an_evaluation_that_broke_off_are_not_counted_after_a_reset(ndcg: evaluate.Metric) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=[5, 5, 3, 3], references=ROWS["label_ids"])
    first, last = (
        EvalPrediction(**{name: each[part] for name, each in ROWS.items()}) for part in (slice(2), slice(2, 4))
    )
    metrics(first, compute_result=False)
    metrics.reset()
    metrics(first, compute_result=False)
    assert metrics(last, compute_result=True) == ROWS_RESULT
    metrics(first, compute_result=False)
    metrics(first, compute_result=False)
    with pytest.raises(ValueError, match="query_ids has 4 rows, but the evaluation 6"):
        metrics(last, compute_result=True)
    metrics(first, compute_result=False)
    assert metrics(last, compute_result=True) == ROWS_RESULT


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"query_ids": [1, 1, 2]}, "query_ids as a column need references"),
        ({"query_ids": [1, 1, 2], "references": [1, 0]}, "query_ids 3, references 2"),
        ({"query_ids": [1, None, 2], "references": [1, 0, 1]}, "query_ids: row 1 is None"),
        ({"query_ids": [1.5, 1.0, 2.0], "references": [1, 0, 1]}, "query_ids must be integers or strings"),
        ({"query_ids": [[1], [2]], "references": [1, 0]}, "query_ids must be integers or strings"),
        ({"query_ids": [1, 1, 2], "references": ["a", "b", "c"]}, "references: row 0"),
        ({"query_ids": [1, 1, 2], "references": [[1], [0], [1]]}, "references must be flat"),
        ({"query_ids": "query", "references": "label"}, r"query_ids must be .* such as data\['query'\]; got 'query'"),
        ({"query_ids": {"query": [1]}, "references": [1]}, "query_ids must be a function of"),
        ({"references": [1, 0, 1]}, "references are the labels in the order of query_ids"),
        ({"query_ids": query_of, "references": [1, 0, 1]}, "references are the labels in the order of query_ids"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_columns_that_do_not_fit_are_rejected_before_any_training(
    ndcg: evaluate.Metric, columns: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        ndcg.trainer_metrics(**columns)


# --- Errors ----------------------------------------------------------------------------------------------------------


def test_a_main_input_that_is_not_a_name_is_rejected_before_any_training(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="main_input"):
        ndcg.trainer_metrics(query_ids=query_of, main_input=1)


def prediction(predictions: Any, labels: Any, inputs: Any = None) -> EvalPrediction:
    return EvalPrediction(np.array(predictions), np.array(labels), inputs=inputs)


BAD_LISTS = [
    (prediction([[1.0, 2.0]], [[1, 0, 0]]), r"\(1, 2\).*\(1, 3\)"),
    (prediction([[1.0, 2.0]], [1]), r"\(1, 2\).*\(1,\).*|query_ids="),
    (prediction([1.0, 2.0], [1, 0]), r"query_ids="),
    (prediction([[[1.0, 2.0]]], [[1]]), r"\(1, 1, 2\)"),
    (prediction([[1.0, 2.0]], [[1, -3]]), "references: query 0, position 1.*-3"),
    (prediction([[1.0, np.nan]], [[1, 0]]), "predictions: query 0, position 1.*nan"),
    (prediction([[1.0, np.inf]], [[1, 0]]), "predictions: query 0, position 1.*inf"),
]
BAD_ROWS = [
    (prediction([0.1, 0.2], [1], INPUTS[:2]), "predictions 2.*references 1"),
    (prediction([0.1, 0.2], [1, 0], INPUTS[:3]), "query_ids 3"),
    (prediction([[0.1, 0.2]], [1], INPUTS[:1]), "predictions"),
    (prediction([0.1, 0.2], [[1, 0], [0, 1]], INPUTS[:2]), "references"),
    (prediction([0.1, np.nan], [1, 0], INPUTS[:2]), "predictions.*nan"),
    (prediction([0.1, 0.2], [1, 0]), "include_for_metrics"),
    (prediction([0.1, 0.2], [1, 0], {"features": INPUTS[:2]}), "main_input"),
]
GOOD_LISTS = prediction([[0.2, 0.1], [0.3, 0.4]], [[1, 0], [1, 0]])
GOOD_ROWS = EvalPrediction(**ROWS, inputs=INPUTS)


@pytest.mark.parametrize("before", [0, 1, 2])
@pytest.mark.parametrize(
    ("bad", "named", "good", "options"),
    [
        *((bad, named, GOOD_LISTS, {}) for bad, named in BAD_LISTS),
        *((bad, named, GOOD_ROWS, {"query_ids": query_of}) for bad, named in BAD_ROWS),
    ],
)
def test_an_error_is_named_and_leaves_nothing_behind(
    ndcg: evaluate.Metric,
    bad: EvalPrediction,
    named: str,
    good: EvalPrediction,
    options: dict[str, Any],
    before: int,
) -> None:
    metrics = ndcg.trainer_metrics(k=1, **options)
    for _ in range(before):
        metrics(good, compute_result=False)
    with pytest.raises(ValueError, match=named.replace("query 0", f"query {2 * before}")):
        metrics(bad, compute_result=True)
    assert held(metrics) == 0
    assert metrics(good) == ndcg.trainer_metrics(k=1, **options)(good) == {"nDCG@1": 0.5}


@pytest.mark.parametrize(
    ("score", "label", "options", "error"),
    [
        (np.nan, 1, {}, "predictions: query 7, position 1: nan"),
        (0.5, -2, {}, "references: query 7, position 1: "),
        (1e300, 1, {"score_dtype": "float32"}, "predictions: query 7, position 1: 1e+300 is too large"),
    ],
)
def test_an_error_names_the_row_of_the_evaluation_whatever_the_batches(
    ndcg: evaluate.Metric, score: float, label: int, options: dict[str, Any], error: str
) -> None:
    scores, labels = np.tile([0.5, 0.25], (9, 1)), np.tile([1, 0], (9, 1))
    scores[7, 1], labels[7, 1] = score, label
    metrics = ndcg.trainer_metrics(k=2, **options)
    cuts = [slice(0, 3), slice(3, 3), slice(3, 6), slice(6, 9)]
    pieces = [EvalPrediction(scores[each], labels[each]) for each in cuts]
    for _ in range(2):  # the second evaluation begins again at row 0
        for whole in (
            lambda: metrics(EvalPrediction(scores, labels)),
            lambda: metrics(EvalPrediction([scores[each] for each in cuts], [labels[each] for each in cuts])),
            lambda: [metrics(piece, compute_result=False) for piece in pieces],
        ):
            with pytest.raises(ValueError, match=rf"^{re.escape(error)}"):
                whole()


def test_an_error_in_a_function_of_the_caller_leaves_nothing_behind(ndcg: evaluate.Metric) -> None:
    faults = [KeyError("no id"), KeyboardInterrupt()]

    def failing(inputs: np.ndarray) -> np.ndarray:
        if len(calls) == 1 and faults:
            raise faults.pop()
        calls.append(1)
        return query_of(inputs)

    calls: list[int] = []
    metrics = ndcg.trainer_metrics(k=1, query_ids=failing)
    for kind in (KeyboardInterrupt, KeyError):
        calls.clear()
        metrics(GOOD_ROWS, compute_result=False)
        with pytest.raises(kind):
            metrics(GOOD_ROWS, compute_result=False)
        assert held(metrics) == 0
    assert metrics(GOOD_ROWS) == ROWS_RESULT


@pytest.mark.parametrize("ids", [3, None])
def test_a_function_that_returns_no_id_per_row_is_named(ndcg: evaluate.Metric, ids: Any) -> None:
    with pytest.raises(ValueError, match="query_ids"):
        ndcg.trainer_metrics(query_ids=lambda inputs: ids)(GOOD_ROWS)


def batches(predictions: Any, labels: Any, inputs: Any = None) -> EvalPrediction:
    """The arguments that a Trainer passes with eval_do_concat_batches=False."""
    return EvalPrediction(predictions, labels, inputs=inputs)


SCORES, LABELS = GOOD_LISTS.predictions, GOOD_LISTS.label_ids


@pytest.mark.parametrize(
    ("evaluation", "found"),
    [
        (batches([SCORES] * 3, [LABELS] * 2), "predictions 3, labels 2"),
        (batches([SCORES] * 2, [LABELS] * 3), "predictions 2, labels 3"),
        (batches([SCORES] * 2, [LABELS] * 2, [INPUTS]), "predictions 2, labels 2, inputs 1"),
        (batches([SCORES] * 2, LABELS), "predictions 2, labels in one piece"),
        (batches(SCORES, [LABELS]), "predictions in one piece, labels 1"),
        (batches([], []), "predictions 0, labels 0"),
    ],
)
def test_sides_in_other_batches_are_rejected_with_their_numbers(
    ndcg: evaluate.Metric, evaluation: EvalPrediction, found: str
) -> None:
    metrics = ndcg.trainer_metrics(k=1)
    with pytest.raises(ValueError, match=f"must come in the same batches, at least one; got {found}$"):
        metrics(evaluation)
    assert held(metrics) == 0
    assert metrics(batches([SCORES] * 3, [LABELS] * 3)) == metrics(GOOD_LISTS)


def by_batches(ndcg: evaluate.Metric, ids: list[Any]) -> dict[str, float]:
    """The rows in as many batches as there are lists of ids, each with its own."""
    batch_ids = iter(ids)
    metrics = ndcg.trainer_metrics(k=1, query_ids=lambda inputs: next(batch_ids))
    rows = len(INPUTS) // len(ids)
    for at in range(0, len(INPUTS), rows):
        batch = {name: each[at : at + rows] for name, each in ROWS.items()}
        result = metrics(EvalPrediction(**batch, inputs=INPUTS), compute_result=at + rows == len(INPUTS))
    return result


def test_integer_ids_of_several_widths_keep_their_values(ndcg: evaluate.Metric) -> None:
    above = np.array([2**53 + 1, 2**53 + 1], np.uint64)  # as float64 it would be 2**53
    assert by_batches(ndcg, [np.array([2**53, 2**53]), above]) == ROWS_RESULT


@pytest.mark.parametrize("ids", [[["1", "1"], [1, 1]], [[1, 1], ["1", "1"]], [["1", "1", 1, 1]]], ids=str)
def test_a_number_among_ids_stays_a_number(ndcg: evaluate.Metric, ids: list[Any]) -> None:
    with pytest.raises(ValueError, match="query_ids"):
        by_batches(ndcg, ids)


def test_masked_values_are_rejected_where_rows_are_documents(ndcg: evaluate.Metric) -> None:
    masked = np.ma.MaskedArray(ROWS["predictions"], [False, True, False, False])
    with pytest.raises(ValueError, match="predictions must not be masked"):
        ndcg.trainer_metrics(k=1, query_ids=query_of)(EvalPrediction(masked, ROWS["label_ids"], inputs=INPUTS))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float8_e4m3fn])
def test_half_precision_scores_are_compared_as_they_are(ndcg: evaluate.Metric, kind: torch.dtype) -> None:
    scores = torch.from_numpy(ROWS["predictions"]).to(kind)
    metrics = ndcg.trainer_metrics(k=1, query_ids=query_of)
    assert metrics(EvalPrediction(scores, ROWS["label_ids"], inputs=INPUTS), compute_result=True) == ROWS_RESULT


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float32, np.float32])
@pytest.mark.parametrize("ignore_index", [-99.9, 300.3, -100])
def test_padding_is_compared_in_the_type_of_the_labels(ndcg: evaluate.Metric, kind: Any, ignore_index: float) -> None:
    given = [[1.0, 0.0, ignore_index], [0.0, 1.0, ignore_index]]
    labels = np.array(given, kind) if kind is np.float32 else torch.tensor(given, dtype=kind)
    scores, expected = np.array([[2.0, 1.0, 3.0], [2.0, 1.0, 3.0]]), {"nDCG@1": 0.5}
    metrics = ndcg.trainer_metrics(k=1, ignore_index=ignore_index)
    for compute_result in (None, True):
        assert metrics(EvalPrediction(scores, labels), compute_result=compute_result) == expected
    metrics = ndcg.trainer_metrics(k=1, query_ids=lambda inputs: inputs, ignore_index=ignore_index)
    batches = [(scores[0], labels[0], np.zeros(3, int)), (scores[1], np.array(given[1]), np.ones(3, int))]
    for first, last in (batches, batches[::-1]):
        assert metrics(EvalPrediction(*first[:2], inputs=first[2]), compute_result=False) == {}
        assert metrics(EvalPrediction(*last[:2], inputs=last[2]), compute_result=True) == expected


def test_batches_are_rejected_even_if_their_faults_would_cancel_out(ndcg: evaluate.Metric) -> None:
    """Three scores with two labels, then two with three: of one length together, every pair after the first wrong."""
    metrics = ndcg.trainer_metrics(k=1, query_ids=query_of)
    scores, labels = ROWS["predictions"], ROWS["label_ids"]
    with pytest.raises(ValueError, match="predictions 3, references 2"):  # noqa: PT012
        metrics(EvalPrediction(scores[:3], labels[:2], inputs=INPUTS[:3]), compute_result=False)
        metrics(EvalPrediction(scores[:2], labels[:3], inputs=INPUTS[:2]), compute_result=True)
    assert held(metrics) == 0


@pytest.mark.parametrize("rows_are_documents", [False, True])
def test_a_batch_may_be_empty(ndcg: evaluate.Metric, rows_are_documents: bool) -> None:
    if rows_are_documents:
        metrics = ndcg.trainer_metrics(k=1, query_ids=query_of)
        sides, expected = (ROWS["predictions"], ROWS["label_ids"], INPUTS), ROWS_RESULT
    else:
        metrics = ndcg.trainer_metrics(k=1)
        sides, expected = (np.array([[0.5, 1.0], [1.0, 0.5]]), np.array([[1, 0], [1, 0]])), {"nDCG@1": 0.5}
    empty = tuple(side[:0] for side in sides)
    for batches in ([sides, empty], [empty, sides], [empty, sides, empty]):
        for batch in batches[:-1]:
            assert metrics(EvalPrediction(*batch), compute_result=False) == {}
        assert metrics(EvalPrediction(*batches[-1]), compute_result=True) == expected
    nothing = EvalPrediction(*empty)
    for compute_result in (None, True):
        with pytest.raises(ValueError, match="hold no queries"):
            metrics(nothing, compute_result=compute_result)
    assert metrics(nothing, compute_result=False) == {}
    assert metrics(EvalPrediction(*sides), compute_result=True) == expected


@pytest.mark.parametrize("argument", ["predictions", "labels"])
def test_an_empty_tuple_of_outputs_is_rejected(ndcg: evaluate.Metric, argument: str) -> None:
    sides = {"predictions": np.ones((1, 2)), "labels": np.ones((1, 2)), argument: ()}
    with pytest.raises(ValueError, match=f"^{argument} are an empty tuple"):
        ndcg.trainer_metrics()(EvalPrediction(*sides.values()))


# --- State -----------------------------------------------------------------------------------------------------------


def held(metrics: Any) -> int:
    """The bytes of all arrays and tensors that an object reaches, with the memory they are views of."""
    bases, seen, todo = {}, set(), list(vars(metrics).values())
    while todo:
        each = todo.pop()
        if id(each) in seen or isinstance(each, (FunctionType, ModuleType, type)):
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            while each.base is not None and isinstance(each.base, np.ndarray):
                each = each.base
            owner = each.base if isinstance(each.base, torch.Tensor) else each
            bases[id(owner)] = owner.untyped_storage().nbytes() if isinstance(owner, torch.Tensor) else owner.nbytes
        elif isinstance(each, torch.Tensor):
            bases[id(each)] = each.untyped_storage().nbytes()
        else:
            todo += gc.get_referents(each)
    return sum(bases.values())


def test_no_predictions_are_kept_between_batches(ndcg: evaluate.Metric) -> None:
    metrics = ndcg.trainer_metrics(k=[1, 10])
    rng = np.random.default_rng(0)
    for batch in range(1, 4):
        scores = torch.from_numpy(rng.normal(size=(8, 1000)).astype(np.float32))
        labels = torch.from_numpy(rng.integers(0, 3, (8, 1000)))
        metrics(EvalPrediction(scores, labels), compute_result=False)
        assert 0 < held(metrics) <= batch * 8 * 2 * 8  # a float64 for each query and cutoff
    metrics(EvalPrediction(scores, labels), compute_result=True)
    assert held(metrics) == 0


@pytest.mark.parametrize("column", [False, True])
def test_each_row_leaves_a_score_a_label_and_an_id_between_batches(ndcg: evaluate.Metric, column: bool) -> None:
    metrics = ndcg.trainer_metrics(k=10, query_ids=lambda inputs: inputs[:, 0])
    for batch in range(1, 4):
        scores = torch.rand(16, 1) if column else torch.rand(16)
        inputs = {"input_ids": torch.randint(0, 3, (16, 512)), "attention_mask": torch.ones(16, 512)}
        outputs = (scores, torch.rand(16, 512))
        metrics(EvalPrediction(outputs, torch.randint(0, 3, (16,)), inputs=inputs), compute_result=False)
        assert 0 < held(metrics) <= batch * 16 * 3 * 8
    metrics(EvalPrediction(outputs, torch.randint(0, 3, (16,)), inputs=inputs), compute_result=True)
    assert held(metrics) == 0


def test_it_neither_uses_nor_changes_the_batches_of_the_metric(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=[[1, 2]], references=[[1, 0]])
    first, second = metric.trainer_metrics(k=1), metric.trainer_metrics(k=1)
    first(GOOD_LISTS, compute_result=False)
    assert second(GOOD_LISTS) == {"nDCG@1": 0.5}
    assert first(prediction([[2, 1]], [[1, 0]]), compute_result=True) == {"nDCG@1": pytest.approx(2 / 3)}
    assert len(metric) == 1
    assert metric.compute(k=1) == {"nDCG@1": 0.0}


def test_predictions_and_labels_are_left_as_they_are(ndcg: evaluate.Metric) -> None:
    scores, labels = torch.tensor([[0.1, 0.2, 9.0]], requires_grad=True), torch.tensor([[1, 0, -100]])
    before = scores.detach().clone(), labels.clone()
    assert ndcg.trainer_metrics(k=1)(EvalPrediction(scores, labels), compute_result=True) == {"nDCG@1": 0.0}
    assert torch.equal(scores, before[0])
    assert torch.equal(labels, before[1])
