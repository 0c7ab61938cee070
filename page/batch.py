"""The tab of a batch: predictions and references as text or as a file, scored query by query."""

import ast
import json
import re
from typing import Any, NamedTuple

import gradio as gr

from .choices import CHOICES, WORDS, option_of, options_of, snippet
from .events import QUIET, follow, show_errors
from .metric import ndcg
from .render import csv_link, error_html, score_card, table_html
from .results import BATCH, check_size, read_batch
from .standings import counted

ABOUT = """Predictions are scores, references relevance: a list per query, as here; mappings of ids, such as
`{"q1": {"d1": 0.9}}` and `{"q1": {"d1": 1}}`; or one list of all documents, with the query id of each. A file is CSV
with the columns prediction, reference and query_id, or JSON with predictions, references, weights and query_ids."""
ROWS_SHOWN = 1000
TREC = re.compile(r"\s*\S+\s+(Q0|0)\s+\S+\s+\S+")


class Shown(NamedTuple):
    """What the tab shows of a batch, and the fields that show it."""

    score: Any
    queries: Any = None
    signature: Any = None
    code: Any = None
    file: Any = None


def batch_tab(bar: list[Any]) -> list[gr.Textbox]:
    """Lay out the tab and return its fields: predictions, references, weights, query ids."""
    with gr.Tab("Batch", id="batch") as tab:
        gr.Markdown(ABOUT)
        with gr.Row():
            predictions = gr.Textbox(
                "[[0.9, 0.8, 0.1], [0.5], [0.2, 0.4]]",
                label="Predictions: a list per query",
                lines=4,
            )
            references = gr.Textbox(
                "[[0, 1, 1], [1], [0, 0]]", label="References, in the same form", lines=4
            )
        with gr.Row():
            weights = gr.Textbox("", label="Weights of queries, if they differ")
            ids = gr.Textbox("", label="Query ids, for one list of all documents")
        uploaded = gr.File(
            label="Or a file, CSV or JSON",
            height=160,
            elem_id="batch-file",
        )
        score = gr.HTML(elem_id="batch-score")
        queries = gr.HTML(elem_id="batch-queries")
        signature = gr.Textbox("", label="Signature", buttons=["copy"])
        code = gr.Textbox("", label="The same in Python", lines=8, max_lines=20, buttons=["copy"])
        file = gr.HTML()
    batch = [predictions, references, weights, ids]
    shown = Shown(score, queries, signature, code, file)
    uploaded.upload(fill_batch, uploaded, [*shown, *batch], **QUIET)
    follow(
        [tab.select, *(each.change for each in (*batch, *bar))],
        score_batch,
        [*batch, *bar],
        [*shown],
    )
    return batch


def fill_batch(path: str) -> tuple[Any, ...]:
    """Return the text of the batch from an uploaded file; or the error in it, in place of any result."""
    try:
        lists = read_batch(path)
    except ValueError as problem:
        return (*Shown(error_html(problem)), *[gr.skip()] * len(BATCH))
    return (
        *[gr.skip()] * len(Shown._fields),
        *(json.dumps(lists[name]) if name in lists else "" for name in BATCH),
    )


@show_errors(Shown)
def score_batch(
    predictions: str, references: str, weights: str, query_ids: str, *bar: Any
) -> Shown:
    """Return everything the tab shows of a batch."""
    options = options_of(*bar)
    inputs = batch_of(predictions, references, weights, query_ids)
    result = ndcg.compute(**inputs, **options)
    by_query = ndcg.compute(**inputs, **options, use_aggregator=False)
    name, values = next(iter(by_query.items()))
    ideal = ndcg.compute(**inputs, **options, measures="IDCG", use_aggregator=False)
    empty = sum(value <= 0 for value in next(iter(ideal.values())))
    counts = f"{counted(len(values))}, {empty:,} with no relevant documents."
    others = [
        f"{WORDS.get(('zero_division', choice), choice)}: {score}"
        for choice in CHOICES["zero_division"]
        if (score := _score_with(inputs, options | option_of("zero_division", choice), name))
        != f"{result[name]:.4f}"
    ]
    queries = ndcg.report(**inputs, **options).queries.to_pandas()[["query", *by_query]]
    which = (
        "Every query"
        if len(queries) <= ROWS_SHOWN
        else f"The first {ROWS_SHOWN:,} queries of {len(queries):,}"
    )
    return Shown(
        score_card(
            result, f"{counts} {name} if these count as {', '.join(others)}." if others else counts
        ),
        table_html(which, queries.head(ROWS_SHOWN)),
        ndcg.signature(**options, sample_weight=inputs.get("sample_weight")),
        snippet(inputs if len(predictions) <= 5000 else {}, options),
        csv_link(queries, "batch.csv"),
    )


def _score_with(inputs: dict[str, Any], options: dict[str, Any], name: str) -> str:
    """Return a score under some options."""
    try:
        return f"{ndcg.compute(**inputs, **options)[name]:.4f}"
    except ValueError:
        return "no score"


def batch_of(predictions: str, references: str, weights: str, query_ids: str) -> dict[str, Any]:
    """Return the arguments of `compute` from the fields of the tab."""
    inputs = {
        "predictions": _json("predictions", predictions),
        "references": _json("references", references),
        "sample_weight": _json("Weights", weights),
        "query_ids": _json("Query ids", query_ids),
    }
    inputs = {name: value for name, value in inputs.items() if value is not None}
    if not {"predictions", "references"} <= inputs.keys():
        raise ValueError("Give predictions and references: a list per query, or mappings of ids.")
    return inputs


def _json(name: str, text: str) -> Any:
    """Read a list or a mapping as people write it in Python or JSON."""
    if not text or not text.strip():
        return None
    if len(text) > 5_000_000:
        raise ValueError(
            f"{name}: more than 5 MB; upload files in the tab Search runs, or use the metric itself."
        )
    try:
        found = json.loads(text)
    except json.JSONDecodeError as problem:
        if TREC.match(text):
            raise ValueError(
                f"{name}: these are lines of a TREC file. Paste them in the tab Search runs."
            ) from None
        try:
            found = ast.literal_eval(text.strip())
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            hint = f"{problem.msg}; write a list such as [1, 2, 0]"
            raise ValueError(
                f"{name}: line {problem.lineno}, column {problem.colno}: {hint}."
            ) from None
    except (ValueError, RecursionError):
        raise ValueError(
            f"{name}: nested too deeply, or a number too long; give one list per query."
        ) from None
    if not isinstance(found, (list, dict)):
        raise ValueError(
            f"{name}: must be a list, such as [1, 2, 0], or a mapping; got {type(found).__name__}."
        )
    try:
        check_size(found)
    except ValueError as problem:
        raise ValueError(f"{name}: {problem}.") from None
    return found
