"""Scores in model cards, `.eval_results`, files of `evaluate.save` and trackers, read back."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import evaluate
import pytest
import yaml
from evaluate import Metric
from huggingface_hub import ModelCard, ModelCardData, parse_eval_result_entries
from huggingface_hub.repocard_data import model_index_to_eval_results
from refusals import refusal

# The third query is the only one in German, so that its slice has no interval.
RANKINGS: dict[str, Any] = {
    "predictions": [[3, 2, 1], [1, 2, 3], [2, 3, 1], [1, 3, 2]],
    "references": [[2, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 1]],
}
NAMES = ["nDCG@1", "nDCG@3"]
CARD: dict[str, Any] = {"model_name": "my-ranker", "dataset": "user/queries"}


@pytest.fixture(scope="module")
def report(ndcg: Metric) -> Any:
    return ndcg.report(**RANKINGS, k=[1, 3], by=["en", "en", "de", None])


def parts(report: Any) -> list[tuple[str, int, Any]]:
    """Each score by its name, with the name of the slice, and the number of queries."""
    slices = [
        (f"{name} slice={shown}", report.slices[value].queries, report.slices[value].scores[name])
        for shown, value in {"de": "de", "en": "en", "(none)": None}.items()
        for name in NAMES
    ]
    means = [(f"{name} mean_of_slices", 3, report.mean_of_slices.scores[name]) for name in NAMES]
    return [*((name, 4, report.scores[name]) for name in NAMES), *slices, *means]


def test_a_model_index_has_every_score_with_its_interval_and_the_signature(report: Any) -> None:
    model, results = model_index_to_eval_results(report.to_model_index(**CARD))
    assert model == "my-ranker"
    expected = parts(report)
    assert [each.metric_name for each in results] == [name for name, _, _ in expected]
    for each, (name, queries, score) in zip(results, expected, strict=True):
        interval = {"confidence": 0.95, "low": score.low, "high": score.high}
        assert each.metric_value == score.value
        assert each.metric_type == name.split()[0].lower()
        assert each.metric_args == {
            **({} if math.isnan(score.low) else interval),
            "queries": queries,
            "signature": report.signature,
        }
        assert (each.task_type, each.dataset_type, each.dataset_name) == (
            "text-ranking",
            *["user/queries"] * 2,
        )
    assert [each.metric_name for each in results if "low" not in each.metric_args] == [
        f"{name} {one}" for one in ("slice=de", "slice=(none)", "mean_of_slices") for name in NAMES
    ]


def test_the_fields_of_an_eval_result_are_passed_on(report: Any) -> None:
    named = (
        "task_name",
        "dataset_name",
        "dataset_config",
        "dataset_split",
        "dataset_revision",
        "source_name",
    )
    fields = {
        **{name: f"the {name}" for name in named},
        "task_type": "x",
        "source_url": "https://example.org/run",
    }
    for each in model_index_to_eval_results(report.to_model_index(**CARD, **fields))[1]:
        assert fields.items() <= vars(each).items()
    with pytest.raises(TypeError, match="dataset_splits"):
        report.to_model_index(**CARD, dataset_splits="test")


def test_a_model_index_comes_back_from_a_model_card(report: Any, tmp_path: Path) -> None:
    index = report.to_model_index(**CARD, dataset_split="test")
    model, results = model_index_to_eval_results(index)
    data = ModelCardData(model_name=model, eval_results=results, license="mit")
    ModelCard(f"---\n{data.to_yaml()}\n---\n# My ranker\n").save(tmp_path / "README.md")
    again = ModelCard.load(tmp_path / "README.md").data
    assert (again.eval_results, again.to_dict()["model-index"]) == (results, index)


def test_an_entry_of_eval_results_has_the_score_and_notes_on_its_queries(report: Any) -> None:
    fields = {
        "dataset_revision": "5503434",
        "date": "2026-11-23",
        "source_url": "https://example.org/run",
    }
    written = report.to_eval_results(
        dataset="user/queries", task_id="test", measure="nDCG@3", **fields
    )
    (entry,) = parse_eval_result_entries(yaml.safe_load(yaml.dump(written)))
    score = report.scores["nDCG@3"]
    assert (entry.dataset_id, entry.task_id, entry.value) == ("user/queries", "test", score.value)
    assert fields.items() <= vars(entry).items()
    interval = f"95% interval {score.low:.4f} – {score.high:.4f}"
    assert entry.notes == f"nDCG@3, {interval}, queries: 4; {report.signature}"
    own = report.to_eval_results(
        dataset="user/queries", task_id="test", measure="nDCG@3", notes="with titles"
    )
    assert own[0]["notes"] == "with titles"


def test_a_card_counts_the_queries_of_the_mean_and_those_that_are_left_out(ndcg: Metric) -> None:
    rankings = {
        "predictions": [[1, 2], [2, 1], [1, 2], [1, 2]],
        "references": [[0, 1], [1, 0], [0, 0], [0, 0]],
    }
    report = ndcg.report(**rankings, by=["en", "en", "de", "en"], zero_division=math.nan)
    assert math.isnan(report.slices["de"].scores["nDCG"].value)  # so that it is left out
    results = model_index_to_eval_results(report.to_model_index(**CARD))[1]
    counts = [
        (each.metric_name, each.metric_args["queries"], each.metric_args["left_out"])
        for each in results
    ]
    assert counts == [("nDCG", 2, 2), ("nDCG slice=en", 2, 1), ("nDCG mean_of_slices", 2, 2)]
    flat = [key for key in report.flat() if "/low" not in key and "/high" not in key]
    assert flat == ["nDCG", "nDCG/slice=en", "nDCG/mean_of_slices"]
    for shown, text in (
        (report, ", queries: 2 of 4; "),
        (
            ndcg.report(predictions=[[1, 2]], references=[[0, 1]]),
            "nDCG, 95% interval –, queries: 1; ",
        ),
    ):
        (entry,) = shown.to_eval_results(dataset="user/queries", task_id="test")
        assert text in entry["notes"]


def test_a_measure_is_needed_where_there_are_several(report: Any, ndcg: Metric) -> None:
    for measure in (None, "nDCG", "nDCG@10"):
        with refusal("measure"):
            report.to_eval_results(dataset="user/queries", task_id="test", measure=measure)
    (entry,) = ndcg.report(**RANKINGS, k=3).to_eval_results(dataset="user/queries", task_id="test")
    assert entry["value"] == ndcg.compute(**RANKINGS, k=3)["nDCG@3"]


@pytest.mark.parametrize(
    ("argument", "value"), [("model_name", "  "), ("dataset", None), ("task_type", 3)]
)
def test_a_model_index_names_its_model_and_its_dataset(
    report: Any, argument: str, value: Any
) -> None:
    with refusal(argument):
        report.to_model_index(**{**CARD, argument: value})


def test_a_missing_huggingface_hub_is_named(report: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(
        ImportError, match=r"to_model_index needs huggingface_hub: pip install huggingface_hub$"
    ):
        report.to_model_index(**CARD)
    with pytest.raises(
        ImportError,
        match=r'to_eval_results .* 1\.16 or newer: pip install "huggingface_hub>=1\.16"',
    ):
        report.to_eval_results(dataset="user/queries", task_id="test", measure="nDCG@1")


def test_a_flat_report_has_a_number_for_every_score_and_interval(report: Any) -> None:
    expected = {}
    for name, _, score in parts(report):
        key = name.replace(" ", "/", 1)
        expected |= {key: score.value, f"{key}/low": score.low, f"{key}/high": score.high}
    assert report.flat() == {key: value for key, value in expected.items() if not math.isnan(value)}
    assert {
        "nDCG@3",
        "nDCG@3/low",
        "nDCG@3/slice=en/high",
        "nDCG@3/slice=de",
    } <= report.flat().keys()
    assert "nDCG@3/slice=de/low" not in report.flat()


def test_slices_with_names_that_look_like_others_hide_nothing_or_are_rejected(ndcg: Metric) -> None:
    report = ndcg.report(**RANKINGS, by=["low", "low", "high", "high"])
    assert report.flat()["nDCG/low"] == report.scores["nDCG"].low
    assert report.flat()["nDCG/slice=low"] == report.slices["low"].scores["nDCG"].value
    report = ndcg.report(**RANKINGS, by=["x/low", "x", "x", "x"])
    with refusal("by"):
        report.flat()


def test_a_report_saved_by_evaluate_is_read_back(ndcg: Metric, report: Any, tmp_path: Path) -> None:
    whole = evaluate.save(tmp_path / "report.json", **report.to_dict(), model="my-ranker")
    assert ndcg.Report.from_dict(json.loads(whole.read_text("utf-8"))) == report
    flat = evaluate.save(tmp_path / "scores.json", **report.flat())
    assert json.loads(flat.read_text("utf-8")).items() >= report.flat().items()
