"""Export a report: the metadata of model cards for the Hugging Face Hub, and flat scores for experiment trackers."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..inputs.slices import MEAN_OF_SLICES
from ..measure.messages import missing_library, shown
from ..show.tables import count_text, interval_text, level_text
from .measured import Score
from .slice_means import slice_rows


def flat_scores(report: Any) -> dict[str, float]:
    """Return scores and the ends of their intervals under names that all differ, as trackers log them."""
    flat: dict[str, float] = {}
    for part, _, scores in parts_of(report):
        for name, score in scores.items():
            key = name if part is None else f"{name}/{_key_of(part)}"
            own = {key: score.value, f"{key}/low": score.low, f"{key}/high": score.high}
            if both := flat.keys() & own:
                raise ValueError(
                    f"by: two values would be called {shown(min(both))}; give the slices other names"
                )
            flat |= own
    return {key: value for key, value in flat.items() if not math.isnan(value)}


def parts_of(report: Any) -> Iterator[tuple[str | None, int, Mapping[str, Score]]]:
    """Yield the scores of all queries, of each slice by its name, and of their mean, with the numbers of queries."""
    yield None, report.counts["queries"], report.scores
    for part, scores, queries in slice_rows(report.slices, report.mean_of_slices):
        yield part, queries, scores


def _key_of(part: str) -> str:
    """Return the name of a slice, or of the mean of slices, as trackers group it."""
    return MEAN_OF_SLICES.replace(" ", "_") if part == MEAN_OF_SLICES else f"slice={part}"


def model_index(
    report: Any, model_name: str, dataset: str, task_type: str, **fields: Any
) -> list[dict[str, Any]]:
    """Return the `model-index` of a model card, as `Report.to_model_index` describes it."""
    for argument, text in {
        "model_name": model_name,
        "dataset": dataset,
        "task_type": task_type,
    }.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{argument} must be a name; got {shown(text)}")
    try:
        from huggingface_hub import EvalResult
        from huggingface_hub.repocard_data import eval_results_to_model_index
    except ImportError:
        raise missing_library("to_model_index", "huggingface_hub", "huggingface_hub") from None
    fields = {"task_type": task_type, "dataset_type": dataset, "dataset_name": dataset, **fields}
    results = []
    confidence = report.resampling.confidence
    for part, queries, scores in parts_of(report):
        for name, score in scores.items():
            if math.isnan(score.value):
                continue
            metric_name = name
            if part is not None:
                metric_name += f" {part}" if part == MEAN_OF_SLICES else f" slice={part}"
            interval = {"confidence": confidence, "low": score.low, "high": score.high}
            result = EvalResult(
                **fields,
                metric_type=name.lower(),
                metric_name=metric_name,
                metric_value=score.value,
                metric_args={
                    **({} if math.isnan(score.low) else interval),
                    "queries": score.queries,
                    **({"left_out": left} if (left := score.left_out(queries)) else {}),
                    "signature": report.signature,
                },
            )
            results.append(result)
    return eval_results_to_model_index(model_name, results)


def eval_results(
    report: Any, dataset: str, task_id: str, measure: str | None, **fields: Any
) -> list[dict[str, Any]]:
    """Return the contents of a file in `.eval_results/`, as `Report.to_eval_results` describes it."""
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        library, packages = "huggingface_hub 1.16 or newer", '"huggingface_hub>=1.16"'
        raise missing_library("to_eval_results", library, packages) from None
    scores, confidence = report.scores, report.resampling.confidence
    if measure is None and len(scores) == 1:
        measure = next(iter(scores))
    if not isinstance(measure, str) or measure not in scores:
        raise ValueError(
            f"measure must be one of {', '.join(map(repr, scores))}; got {shown(measure)}"
        )
    score = scores[measure]
    interval = (
        ""
        if math.isnan(score.low)
        else f", {level_text(confidence)} {interval_text(score.low, score.high)}"
    )
    left = (
        f", {count_text(left)} excluded"
        if (left := score.left_out(report.counts["queries"]))
        else ""
    )
    count = f"{count_text(score.queries)} {'query' if score.queries == 1 else 'queries'}"
    notes = f"{measure}{interval}, {count}{left}; {report.signature}"
    entry = EvalResultEntry(
        dataset_id=dataset, task_id=task_id, value=score.value, **{"notes": notes, **fields}
    )
    return eval_result_entries_to_yaml([entry])
