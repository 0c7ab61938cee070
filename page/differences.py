"""The tab of differences: the same data by each convention, and which choice changes what."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import gradio as gr
import pandas as pd

from .batch import batch_of
from .choices import CONVENTIONS, options_of, same_values
from .events import follow, show_errors
from .metric import conventions, ndcg
from .ranking import ranking_of, rows_of
from .render import note_html, table_html

SOURCES = ["The example of the metric card", "The ranking of the first tab", "The batch of the third tab"]
CARD_EXAMPLE = {
    "predictions": [[0.5, 0.5, 0.2, 0.1, 0], [0.9, 0.8, 0.7, 0.6, 0.5], [6, 5, 4, 3, 2, 1]],
    "references": [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [3, 2, 3, 0, 1, 2]],
}
REASONS = [  # why there is no score: one after the other is mended until there is one
    ("zero_division", 0.0, "none: all queries are left out"),
    ("negative_relevance", "clip", "refused: a relevance is negative"),
    ("ideal", "judged", "refused: a full ideal needs a cutoff"),
]


def differences_tab(bar: list[Any], table: gr.Dataframe, batch: list[gr.Textbox]) -> None:
    """Lay out the tab, which scores its example, the table of the first tab or the batch of the third."""
    with gr.Tab("Why do numbers differ?", id="conventions") as tab:
        source = gr.Radio(SOURCES, value=SOURCES[0], label="Data")
        score = gr.HTML(elem_id="difference")
        scores = gr.HTML(elem_id="differences")
        gr.Markdown(conventions.convention_notes())
    events = [tab.select, source.change, *(each.change for each in bar)]
    follow(events, compare_conventions, [source, table, *batch, *bar], [score, scores])


@show_errors(2)
def compare_conventions(
    source: str, table: pd.DataFrame, predictions: str, references: str, weights: str, query_ids: str, *bar: Any
) -> Any:
    """Return the score by the choices made, and a table of the same data by each convention."""
    now = options_of(*bar)
    k = now["k"] = now["k"][0]
    if source == SOURCES[1]:
        given = ranking_of(rows_of(table)).given
    else:
        inputs = CARD_EXAMPLE
        if source == SOURCES[2]:
            inputs = batch_of(predictions, references, weights, query_ids)

        def given(options: dict[str, Any]) -> dict[str, Any]:
            return inputs

    def score_by(changed: Mapping[str, Any]) -> str:
        options = {**now, **changed}
        return _score(given(options), options)

    base = score_by({})
    lines = []
    for name, convention in CONVENTIONS.items():
        changes = []
        for option, value in convention.options.items():
            if not same_values({option: value}, now):
                alone = score_by({option: value})
                shown = f"{value:g}" if isinstance(value, float) else value
                changes.append(f"{option}={shown}: {'no change' if alone == base else alone}")
        lines.append([name, score_by(convention.options), "; ".join(changes) or "these are the choices made above"])
    measure = "nDCG" if k is None else f"nDCG@{k}"
    columns = ["convention", measure, "with only this choice changed"]
    note = note_html(f"By the choices made above, {measure} is {base}.")
    return note, table_html("The same data by each convention", pd.DataFrame(lines, columns=columns))


def _score(inputs: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return a score as text, or why there is none: the choice without which there is one."""
    try:
        return _value(inputs, options)
    except ValueError:
        mended = dict(options)
        for name, value, reason in REASONS:
            mended[name] = value
            with suppress(ValueError):
                _value(inputs, mended)
                return reason
        raise


def _value(inputs: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    (value,) = ndcg.compute(**inputs, **options).values()
    return f"{value:.4f}"
