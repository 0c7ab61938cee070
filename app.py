"""The Space's page: see why a ranking scores what it does."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from choices import (
    CHOICES,
    convention_of,
    cutoffs_of,
    formula,
    link_to,
    options_of,
    restored,
    settings_of,
    text_of,
)
from conventions import CONVENTIONS, convention_notes
from uploads import BATCH, UploadError, check_size, read_columns
from views import (
    EXAMPLES,
    FIRST,
    HEADERS,
    RESAMPLES,
    SOURCES,
    compare_conventions,
    error,
    metric_card,
    moved,
    ndcg,
    of_judged_queries,
    opened,
    read_files,
    rows_of,
    score_batch,
    score_files,
    score_ranking,
    table_of,
)

# For programs


def score(
    predictions: list[list[float | None]],
    references: list[list[float | None]],
    cutoffs: str = "10",
    convention: str = "sklearn",
    gain: str = "",
    ties: str = "",
    empty: str = "",
    negative: str = "",
    unjudged: str = "gain 0",
    log_base: float = 2.0,
) -> dict[str, Any]:
    """Score ranked documents by nDCG: how good rankings are, from 0 to 1.

    Args:
        predictions: the score of each document of each query, one list per query; null: not retrieved.
        references: the relevance of the same documents in the same order; null: not judged.
        cutoffs: how many ranks count: "10", several as "1,5,10", or "" for the whole list.
        convention: whose nDCG: "sklearn", "trec_eval", "lightgbm" and others of the metric card.
        gain: "linear", "exponential" or "binary"; "" for the convention's.
        ties: "average", "first", "last", "best" or "worst"; "" for the convention's.
        empty: nDCG of a query with nothing relevant: a number, or "left out"; "" for the convention's.
        negative: what to do with a negative relevance: "raise", "clip" or "keep"; "" for the convention's.
        unjudged: documents without relevance: "gain 0", or "removed" before ranking.
        log_base: of the logarithm in the discount.

    Returns:
        The scores by name, such as "nDCG@10", and their "signature".
    """
    options = _api_options(cutoffs, convention, gain, ties, empty, negative, unjudged, log_base)
    for name, side in (("predictions", predictions), ("references", references)):
        # anything else, a path for one, is no business of this page
        if not isinstance(side, list) or not all(isinstance(each, list) for each in side):
            raise gr.Error(f"{name} must be a list of one list per query")
        try:
            check_size(side)
        except UploadError as problem:
            raise gr.Error(f"{name}: {problem}") from None
    result = _or_error(ndcg.compute, predictions=predictions, references=references, **options)
    return {**result, "signature": ndcg.signature(**options)}


def score_run(
    run: str,
    qrels: str,
    cutoffs: str = "10",
    convention: str = "sklearn",
    gain: str = "",
    ties: str = "",
    empty: str = "",
    negative: str = "",
    unjudged: str = "gain 0",
    log_base: float = 2.0,
) -> dict[str, Any]:
    """Score a TREC run (or CSV, Parquet, JSON) by qrels: nDCG with its confidence interval."""
    options = _api_options(cutoffs, convention, gain, ties, empty, negative, unjudged, log_base)
    judged, runs = _or_error(read_files, qrels, [run])
    (ranked,) = runs.values()
    report = _or_error(ndcg.report, predictions=ranked, references=judged, resamples=RESAMPLES, **options)
    return {name: found for name, found in report.to_dict().items() if name != "queries"}


def compare(
    runs: list[str],
    qrels: str,
    cutoffs: str = "10",
    convention: str = "sklearn",
    gain: str = "",
    ties: str = "",
    empty: str = "",
    negative: str = "",
    unjudged: str = "gain 0",
    log_base: float = 2.0,
) -> dict[str, Any]:
    """Which of several runs is better, and how sure that is: paired tests over the queries of the qrels.

    A judged query that a run lacks counts as one with nothing retrieved.
    """
    options = _api_options(cutoffs, convention, gain, ties, empty, negative, unjudged, log_base)
    judged, read = _or_error(read_files, qrels, runs)
    systems = of_judged_queries(judged, read)
    found = _or_error(ndcg.compare, systems=systems, references=judged, resamples=RESAMPLES, **options)
    return {name: each for name, each in found.to_dict().items() if name != "queries"}


# Gradio lists a tool for it, but hands no list of files to one: `compare_two` is for agents.
compare._mcp_type = "none"  # type: ignore[attr-defined]


def compare_two(
    run: str,
    other: str,
    qrels: str,
    cutoffs: str = "10",
    convention: str = "sklearn",
    gain: str = "",
    ties: str = "",
    empty: str = "",
    negative: str = "",
    unjudged: str = "gain 0",
    log_base: float = 2.0,
) -> dict[str, Any]:
    """Which of two runs is better, and how sure that is: paired tests over the queries of the qrels."""
    return compare([run, other], qrels, cutoffs, convention, gain, ties, empty, negative, unjudged, log_base)


def _api_options(
    cutoffs: str, convention: str, gain: str, ties: str, empty: str, negative: str, unjudged: str, log_base: float
) -> dict[str, Any]:
    """The options of `compute` for a program's choices, of which "" leaves what the convention says."""
    words = {"convention": convention, "gain": gain, "ties": ties, "empty": empty, "negative": negative}
    for name, word in words.items():
        if not isinstance(word, str):
            raise gr.Error(f"{name} must be text; got {type(word).__name__}")
    if unjudged not in CHOICES["unjudged"]:
        raise gr.Error(f'unjudged: must be "gain 0" or "removed"; got {str(unjudged)[:40]!r}')
    options: dict[str, Any] = {"k": _or_error(cutoffs_of, str(cutoffs or "")), "convention": convention}
    chosen = {"gain": gain, "ties": ties, "negative_relevance": negative}
    options |= {name: value for name, value in chosen.items() if value}
    options |= {"judged_only": unjudged == "removed", "log_base": log_base}
    if empty:
        try:
            options["zero_division"] = math.nan if empty == "left out" else float(empty)
        except ValueError:
            raise gr.Error(f'empty: must be a number or "left out"; got {empty[:40]!r}') from None
    _or_error(ndcg.signature, **options)
    return options


def _or_error(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function returns, or its error as the sentence that a client gets."""
    try:
        return function(*arguments, **named)
    except (ValueError, TypeError) as problem:
        raise gr.Error(str(problem)[:500]) from None


# The page
CSS = """
.score { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.5rem; }
.score .value { font-size: 2.75rem; font-weight: 700; font-variant-numeric: tabular-nums; }
.score .other b { font-variant-numeric: tabular-nums; }
.error { border-left: .25rem solid #dc2626; padding: .5rem .75rem; font-weight: 600; overflow-wrap: anywhere; }
.sheet { overflow: auto; max-height: 26rem; }
.sheet table { border: 0 !important; border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
.sheet th { position: sticky; top: 0; background: var(--body-background-fill); text-align: left !important; }
.sheet th, .sheet td { padding: .25rem .75rem !important; border: solid var(--border-color-primary) !important; }
.sheet th, .sheet td { border-width: 0 0 1px !important; }
.sheet td { min-width: 4rem; overflow-wrap: break-word; }
.sheet td:last-child { min-width: 7rem; }
#differences td:last-child { min-width: 16rem; }
figcaption { font-weight: 600; margin: .75rem 0 .25rem; }
.csv { text-decoration: underline; }
#code textarea { font-family: var(--font-mono); }
.or { color: var(--body-text-color) !important; }
#formula .katex-display { overflow-x: auto; overflow-y: hidden; }
button[role="tab"][aria-selected="true"] { color: var(--body-text-color) !important; font-weight: 700; }
footer, footer * { color: var(--body-text-color) !important; opacity: 1; }
"""
DELIMITERS: list[dict[str, str | bool]] = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
FONT = ["ui-sans-serif", "system-ui", "sans-serif"]  # no font of another host
MONO = ["ui-monospace", "Consolas", "monospace"]
THEME = gr.themes.Default(primary_hue="blue", font=FONT, font_mono=MONO)
LINES = {"this ranking": "#2563eb", "ideal": "#b45309"}  # told apart, and seen, on light and dark
API = """
Programs ask this page by `gradio_client`:

```python
from gradio_client import Client, handle_file

client = Client("http://127.0.0.1:7860/")  # or the name of this Space
client.predict([[0.9, 0.1, 0.5]], [[1, 0, 2]], cutoffs="1,3", api_name="/score")
client.predict(handle_file("bm25.run"), handle_file("qrels.txt"), cutoffs="10", api_name="/score_run")
client.predict([handle_file("bm25.run"), handle_file("dense.run")], handle_file("qrels.txt"), api_name="/compare")
```

- `/score(predictions, references, ...)`: the scores by name, and their signature. Lists of one list per query, `null`
  where not retrieved or not judged.
- `/score_run(run, qrels, ...)`: with intervals, of files as in the tab *Search runs*.
- `/compare(runs, qrels, ...)`: the paired comparison of two to five runs; `/compare_two(run, other, qrels, ...)`: of
  two.

Each also takes `cutoffs` as text, `"10"`, `"1,5,10"` or empty, and the choices of the bar above by its words:
`convention`, `gain`, `ties`, `empty` (`"0"`, `"1"`, `"left out"`), `negative`, `unjudged` (`"gain 0"`, `"removed"`) and
`log_base`. Where `gain`, `ties`, `empty` or `negative` are not given, they are those of the convention.

Agents find `score`, `score_run` and `compare_two` as MCP tools at `/gradio_api/mcp/`.
"""
LINK = "Link to this ranking and these choices"
EMPTY = "relevance is empty where not judged, score where not retrieved"
QUIET: dict[str, Any] = {
    "show_progress": "hidden",
    "trigger_mode": "always_last",
    "api_visibility": "private",
    "queue": False,  # answers at once; what takes longer waits in the queue
}


with gr.Blocks(title="nDCG", delete_cache=(3600, 3600)) as page:
    gr.Markdown("# nDCG\nSee why a ranking scores what it does.")
    # what a first visit shows is there before any event
    start, _ = restored({}, EXAMPLES[FIRST])
    first = score_ranking(table_of(start[0]), start[1], *start[3:])

    with gr.Group(), gr.Row():
        convention = gr.Dropdown([*CONVENTIONS, "custom"], value="sklearn", label="Convention", min_width=150)
        cutoffs = gr.Textbox("10", label="Cutoffs k, such as 1, 5, 10", max_length=200, min_width=150)
        gain = gr.Dropdown(CHOICES["gain"], value="linear", label="Gain", min_width=120)
        log_base = gr.Number(2, label="Base of the logarithm", min_width=120)
        ties = gr.Dropdown(CHOICES["ties"], value="average", label="Tied documents", min_width=120)
        empty = gr.Dropdown(CHOICES["empty"], value="0", label="Nothing relevant", min_width=120)
        negative = gr.Dropdown(CHOICES["negative"], value="raise", label="Negative relevance", min_width=120)
        unjudged = gr.Dropdown(CHOICES["unjudged"], value="gain 0", label="Not judged", min_width=120)
    formulas = gr.Markdown(formula(options_of(*start[3:]), 10), latex_delimiters=DELIMITERS, elem_id="formula")
    settings = [gain, ties, empty, negative]
    choices = [gain, log_base, ties, empty, negative, unjudged]
    bar: list[Any] = [cutoffs, *choices]

    with gr.Tabs() as tabs:
        with gr.Tab("One ranking", id="ranking"):
            with gr.Row():
                with gr.Column(scale=2, min_width=320):
                    example = gr.Dropdown(list(EXAMPLES), value=FIRST, label="Examples")
                    table = gr.Dataframe(
                        table_of(EXAMPLES[FIRST]),
                        headers=HEADERS,
                        datatype="str",
                        column_count=(len(HEADERS), "fixed"),  # type: ignore[arg-type]  # which Gradio reads
                        interactive=True,
                        label=f"Documents; {EMPTY}",
                        elem_id="table",
                    )
                    place = gr.Number(1, precision=0, minimum=1, label="Row, for the buttons below", elem_id="row")
                    with gr.Row():
                        add, remove = gr.Button("Add"), gr.Button("Remove")
                        up, down = gr.Button("Move up"), gr.Button("Move down")
                with gr.Column(scale=3, min_width=320):
                    ranking_score = gr.HTML(first[0], elem_id="ranking-score")
                    dcg_plot = gr.LinePlot(  # drawn on load: a score should not wait for plots
                        x="rank",
                        y="DCG",
                        color="ranking",
                        color_map=LINES,
                        title="Cumulative DCG against the ideal",
                        y_lim=[0, None],
                        height=240,
                    )
                    ndcg_plot = gr.LinePlot(x="k", y="nDCG", title="nDCG at every cutoff", y_lim=[0, 1], height=240)
            step_table = gr.HTML(first[3], elem_id="steps")
            cutoff_table = gr.HTML(first[4], elem_id="by-cutoff")
            with gr.Row():
                ranking_signature = gr.Textbox(
                    first[5], label="Signature", buttons=["copy"], min_width=300, elem_id="signature"
                )
                link = gr.Textbox(label=LINK, buttons=["copy"], max_lines=3, min_width=300, elem_id="link")
            ranking_code = gr.Textbox(
                first[6], label="The same in Python", lines=8, max_lines=20, buttons=["copy"], elem_id="code"
            )
            ranking_csv = gr.HTML(first[7])
        with gr.Tab("Search runs", id="runs"):
            gr.Markdown(
                "Qrels and one to five runs: TREC files (also `.gz`), CSV or Parquet with the columns query, document "
                "and score or relevance, or JSON `{query: {document: value}}`; each up to 20 MB."
            )
            with gr.Row():
                qrels_file = gr.File(label="Qrels", elem_id="qrels")
                run_files = gr.File(label="Runs", file_count="multiple", elem_id="runs")
            score_button = gr.Button("Score", variant="primary", elem_id="score-runs")
            runs_score = gr.HTML(elem_id="runs-score")
            audit = gr.HTML(elem_id="audit")
            means = gr.HTML(elem_id="means")
            pairs = gr.HTML(elem_id="pairs")
            bars = gr.BarPlot(x="query", y="value", title="Query by query", sort="y", x_label_angle=-90, height=300)
            queries = gr.Dataframe(
                headers=["query", "score"],
                label="Every query: choose one to open its ranking by the run of that column",
                interactive=False,
                elem_id="queries",
            )
            runs_signature = gr.Textbox(label="Signature", buttons=["copy"])
            runs_csv = gr.HTML()
        with gr.Tab("Batch", id="batch") as batch_tab:
            with gr.Row():
                predictions = gr.Textbox(
                    "[[0.9, 0.8, 0.1], [0.5], [0.2, 0.4]]", label="Predictions: a list per query, or flat", lines=4
                )
                references = gr.Textbox("[[0, 1, 1], [1], [0, 0]]", label="References, likewise", lines=4)
            with gr.Row():
                weights = gr.Textbox(label="Weights, one per query (may be empty)")
                ids = gr.Textbox(label="Query ids, for flat lists (may be empty)")
            batch_file = gr.File(
                label="Or a file: JSON, CSV or Parquet with prediction, reference, query_id; up to 20 MB",
                height=160,
                elem_id="batch-file",
            )
            batch_problem = gr.HTML(elem_id="batch-problem")
            batch_score = gr.HTML(elem_id="batch-score")
            histogram = gr.BarPlot(
                x="value", y="queries", title="How many queries score what", x_label_angle=-90, height=300
            )
            batch_table = gr.HTML(elem_id="batch-queries")
            batch_signature = gr.Textbox(label="Signature", buttons=["copy"])
            batch_code = gr.Textbox(label="The same in Python", lines=8, max_lines=20, buttons=["copy"])
            batch_csv = gr.HTML()
        with gr.Tab("Why do numbers differ?", id="conventions") as conventions_tab:
            source = gr.Radio(SOURCES, value=SOURCES[0], label="Data")
            difference = gr.HTML(elem_id="difference")
            differences = gr.HTML(elem_id="differences")
            gr.Markdown(convention_notes())
        with gr.Tab("Metric card", id="card"):
            gr.Markdown(
                metric_card(Path(__file__).parent),
                latex_delimiters=DELIMITERS,
                header_links=True,
                elem_id="card-text",
            )
        with gr.Tab("API", id="api"):
            gr.Markdown(API)
            gr.events.api(score, api_name="score")
            with gr.Row(visible=False):
                api_run, api_qrels = gr.File(label="run"), gr.File(label="qrels")
                api_runs, api_other = gr.File(label="runs", file_count="multiple"), gr.File(label="other")
                names = ("cutoffs", "convention", "gain", "ties", "empty", "negative", "unjudged")
                values = ("10", "sklearn", "", "", "", "", "gain 0")
                words = [gr.Textbox(value, label=name) for name, value in zip(names, values, strict=True)]
                how = [*words, gr.Number(2, label="log_base")]
                answer, start_run, start_compare, start_two = gr.JSON(), gr.Button(), gr.Button(), gr.Button()
            start_run.click(score_run, [api_run, api_qrels, *how], answer, api_name="score_run")
            start_compare.click(compare, [api_runs, api_qrels, *how], answer, api_name="compare")
            start_two.click(compare_two, [api_run, api_other, api_qrels, *how], answer, api_name="compare_two")

    def show_formula(cutoffs: str, *choices: Any) -> str | None:
        """The formula, or nothing where a choice makes none."""
        try:
            return formula(options_of(*choices), cutoffs_of(cutoffs)[0])
        except ValueError:
            return None

    def show_link(request: gr.Request, table: pd.DataFrame, cutoffs: str, *choices: Any) -> Any:
        """The link to what is shown."""
        address, whole = link_to(request.headers.get("referer", ""), _or_error(rows_of, table), cutoffs, *choices)
        return gr.Textbox(address, label=LINK if whole else "Link to these choices; the ranking is too long for a link")

    def restore(request: gr.Request) -> list[Any]:
        """What the address of the page asks for, if anything, the link to it, and the first plots."""
        parameters = dict(request.query_params)
        found, unread = restored(parameters, EXAMPLES[FIRST])
        rows, cutoffs, _, *choices = found
        asked = found if parameters else [gr.skip()] * len(found)
        if unread:
            problem = f"Not readable in the link, and left as usual: {', '.join(unread)}"
            asked[0] = gr.Dataframe([list(row) for row in rows], label=f"{problem}. {EMPTY.capitalize()}")
        return [*asked, show_link(request, table_of(rows), cutoffs, *choices), *first[1:3]]

    def choose(convention: str) -> list[Any]:
        """The settings of a convention; of none, no change."""
        return [gr.skip()] * 4 if convention == "custom" else settings_of(convention)

    def take_example(name: str) -> Any:
        """The table of an example."""
        return gr.Dataframe([list(row) for row in EXAMPLES[name]], label=f"Documents; {EMPTY}")

    def with_row(table: pd.DataFrame) -> list[list[Any]]:
        """The table with one more document."""
        rows = _or_error(rows_of, table)
        names = {text_of(row[0]) for row in rows}
        name = next(f"d{at}" for at in range(1, len(rows) + 2) if f"d{at}" not in names)
        return [*rows, [name, "0", ""]]

    def without_row(table: pd.DataFrame, row: float | None) -> list[list[Any]]:
        """The table without a document."""
        return [each for at, each in enumerate(_or_error(rows_of, table), 1) if at != row]

    def move_up(table: pd.DataFrame, row: float | None) -> tuple[list[list[Any]], float]:
        """A document one place up, and its new row."""
        return moved(_or_error(rows_of, table), int(row or 0) - 1, -1), max(1, (row or 1) - 1)

    def move_down(table: pd.DataFrame, row: float | None) -> tuple[list[list[Any]], float]:
        """A document one place down, and its new row."""
        rows = _or_error(rows_of, table)
        return moved(rows, int(row or 0) - 1, 1), max(1, min(len(rows), (row or 0) + 1))

    def open_query(qrels_file: str, run_files: list[str], event: gr.SelectData) -> tuple[Any, Any]:
        """The chosen query in the first tab, as the run of the chosen column ranks it."""
        rows, what = _or_error(opened, qrels_file, run_files, str(event.row_value[0]), event.index[1])
        return gr.Dataframe(rows, label=f"{what}; {EMPTY}"), gr.Tabs(selected="ranking")

    def fill_batch(path: str) -> tuple[Any, ...]:
        """The text of the batch from an uploaded file; what is wrong with it leaves the text alone."""
        try:
            columns = read_columns(path)
        except UploadError as problem:
            return (error(problem), *[gr.skip()] * len(BATCH))
        return (None, *(json.dumps(columns[name]) if name in columns else "" for name in BATCH))

    def forget_runs() -> tuple[Any, ...]:
        """No result, where files or choices are no longer those that were scored."""
        return ("<p class='note'>Press Score.</p>", *[None] * 7)

    def choose_row(event: gr.SelectData) -> int:
        """The row of the cell that was chosen."""
        return int(event.index[0]) + 1

    def follow(events: Sequence[Any], handler: Callable[..., Any], inputs: Any, outputs: Any, **how: Any) -> None:
        """Answer any of these events by a handler.

        It is put behind an event of its own: when Gradio has deferred one of several handlers of
        an event, it runs all of them again, and two such events would keep each other going.
        """
        gr.on(events, None, js="() => []").then(handler, inputs, outputs, **QUIET, **how)

    choosing = [each.change for each in bar]
    shown = [ranking_score, dcg_plot, ndcg_plot, step_table, cutoff_table, ranking_signature, ranking_code, ranking_csv]
    page.load(restore, None, [table, cutoffs, convention, *choices, link, dcg_plot, ndcg_plot], **QUIET)
    convention.input(choose, convention, settings, **QUIET)
    follow([each.input for each in settings], convention_of, settings, convention)
    follow([table.change, *choosing], score_ranking, [table, *bar], shown)
    follow([table.change, *choosing], show_link, [table, *bar], link)
    follow(choosing, show_formula, bar, formulas)
    example.input(take_example, example, table, **QUIET)
    table.select(choose_row, None, place, **QUIET)
    add.click(with_row, table, table, **QUIET)
    remove.click(without_row, [table, place], table, **QUIET)
    up.click(move_up, [table, place], [table, place], **QUIET)
    down.click(move_down, [table, place], [table, place], **QUIET)
    outputs = [runs_score, audit, means, pairs, bars, queries, runs_signature, runs_csv]
    files = [qrels_file, run_files]
    scoring = score_button.click(score_files, [*files, *bar], outputs, api_visibility="private")
    follow([*(each.change for each in files), *choosing], forget_runs, None, outputs, cancels=scoring)
    queries.select(open_query, files, [table, tabs], **QUIET)
    batch: list[Any] = [predictions, references, weights, ids]
    batch_file.upload(fill_batch, batch_file, [batch_problem, *batch], **QUIET)
    outputs = [batch_score, histogram, batch_table, batch_signature, batch_code, batch_csv]
    written = [each.change for each in batch]
    follow([batch_tab.select, *written, *choosing], score_batch, [*batch, *bar], outputs)
    inputs = [source, table, *batch, *bar]
    outputs = [difference, differences]
    follow([conventions_tab.select, source.change, *choosing], compare_conventions, inputs, outputs)

page.queue(max_size=200, default_concurrency_limit=4)

if __name__ == "__main__":
    page.launch(  # on a Space, Gradio takes host and port from the environment
        css=CSS,
        theme=THEME,
        max_file_size="20mb",
        mcp_server=True,
        ssr_mode=False,
        max_threads=12,  # each keeps memory of its own; four score at a time
        show_error=True,
        state_session_capacity=40,  # each takes a fifth of a megabyte, and every call of a program is one
    )
