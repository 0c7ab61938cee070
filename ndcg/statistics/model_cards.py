"""Export a report: metadata of model cards for the Hugging Face Hub, flat scores for trackers."""

import math
from typing import Any

from ..inputs.slices import MEAN_OF_SLICES
from ..measure.messages import missing_library, shown
from ..measure.options import choice
from ..show.tables import count_text, interval_text
from .measured import Slice
from .slice_means import report_slices


def flat_scores(report: Any) -> dict[str, float]:
    """Return scores and the ends of their intervals under names that all differ."""
    flat: dict[str, float] = {}
    for part, (_, scores) in named_parts(report):
        for name, score in scores.items():
            key = name
            if part == MEAN_OF_SLICES:
                key = f"{name}/mean_of_slices"
            elif part:
                key = f"{name}/{part}"
            figures = {key: score.value, f"{key}/low": score.low, f"{key}/high": score.high}
            twice = flat.keys() & figures
            if twice:
                raise ValueError(
                    f"by: two values would be called {shown(min(twice))}; give the slices other "
                    "names"
                )
            flat |= figures
    return {key: value for key, value in flat.items() if not math.isnan(value)}


def named_parts(report: Any) -> list[tuple[str, Slice]]:
    """Return the scores of all queries, of every slice by its name, and of the mean of slices."""
    parts = [("", Slice(report.counts["queries"], report.scores))]
    for title, part in report_slices(report):
        name = title if title == MEAN_OF_SLICES else f"slice={title}"
        parts.append((name, part))
    return parts


def model_index(
    report: Any, model_name: str, dataset: str, task_type: str, **fields: Any
) -> list[dict[str, Any]]:
    """Return the `model-index` of a model card, as `Report.to_model_index` describes it."""
    names = {"model_name": model_name, "dataset": dataset, "task_type": task_type}
    for argument, text in names.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{argument} must be a name; got {shown(text)}")
    try:
        from huggingface_hub import EvalResult
        from huggingface_hub.repocard_data import eval_results_to_model_index
    except ImportError:
        raise missing_library("to_model_index", "huggingface_hub", "huggingface_hub") from None
    # The user's fields come last, so that they may replace the others.
    fields = {"task_type": task_type, "dataset_type": dataset, "dataset_name": dataset, **fields}
    results = []
    for part, (queries, scores) in named_parts(report):
        for name, score in scores.items():
            if math.isnan(score.value):
                continue
            arguments: dict[str, Any] = {}
            if not math.isnan(score.low):
                confidence = report.resampling.confidence
                arguments = {"confidence": confidence, "low": score.low, "high": score.high}
            arguments["queries"] = score.queries
            if score.left_out(queries):
                arguments["left_out"] = score.left_out(queries)
            arguments["signature"] = report.signature
            result = EvalResult(
                **fields,
                metric_type=name.lower(),
                metric_name=f"{name} {part}" if part else name,
                metric_value=score.value,
                metric_args=arguments,
            )
            results.append(result)
    return eval_results_to_model_index(model_name, results)


def eval_results(
    report: Any, dataset: str, task_id: str, measure: str | None, **fields: Any
) -> list[dict[str, Any]]:
    """Return the contents of a file in `.eval_results/`, as `Report.to_eval_results` says."""
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        library, packages = "huggingface_hub 1.16 or newer", '"huggingface_hub>=1.16"'
        raise missing_library("to_eval_results", library, packages) from None
    scores = report.scores
    if measure is None and len(scores) == 1:
        measure = next(iter(scores))
    measure = choice("measure", measure, tuple(scores))
    score = scores[measure]
    parts = [measure]
    if not math.isnan(score.low):
        parts.append(f"{report.resampling.level} {interval_text(score.low, score.high)}")
    unit = "query" if score.queries == 1 else "queries"
    parts.append(f"{count_text(score.queries)} {unit}")
    left_out = score.left_out(report.counts["queries"])
    if left_out:
        parts.append(f"{count_text(left_out)} excluded")
    entry = EvalResultEntry(
        dataset_id=dataset,
        task_id=task_id,
        value=score.value,
        **{"notes": f"{', '.join(parts)}; {report.signature}", **fields},
    )
    return eval_result_entries_to_yaml([entry])
