"""The tab of search runs: qrels and runs to upload; which run is best, and on which queries."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr
import pandas as pd
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder

from .card import file_link
from .choices import LINKED, SIDES, cell_of, convention_of, in_words, options_of, settings_of
from .events import ALOUD, QUIET, follow, raise_errors, show_errors
from .metric import ndcg, tables
from .paste import ids_as_run
from .queries import JS, query_bars, side_by_side
from .ranking import ranking_of, table_with
from .render import csv_link, list_html, note_html, offer_html, table_html, text_table
from .results import (
    RUNS,
    UPLOAD,
    Results,
    common_beginning,
    read_files,
    results_of,
    rows_of_query,
    run_names,
)
from .standings import Remark, Standing, missing_remarks, standing_html, tie_remarks

AUDIT = ["run", "documents", "queries", "not judged", "not ranked", "tied", "unjudged@k"]
AUDIT_CAPTION = """Audit. Not judged: queries of the run without judgments; not ranked: judged queries that are missing
from it; tied: queries with a score that depends on the order of ties; unjudged: documents within the cutoff"""
SERIOUS = (
    "both retrieved and judged",
    "cannot be significant",
    "too few queries",
)  # notes that are warnings
SAMPLES = Path(__file__).with_name("samples")
ABOUT = f"""Upload qrels and up to {RUNS} runs, each up to 20 MB: TREC, CSV, JSON, Parquet or
{file_link("another format", "docs/inputs.md#files")}. A link to this tab keeps the options, not the files."""
PASTE = """The text of a file, or lists of ids, best first, one query per line: `q1: d3 d1 d7`. A pasted run is added
to the runs above."""
SAMPLE = "These are two sample runs. Upload or paste yours above."
INTO_VIEW = "() => document.querySelector('#beside .query')?.scrollIntoView({ block: 'nearest' })"


class Shown(NamedTuple):
    """What the tab shows of runs, and the fields that show it."""

    view: Any
    beside: Any = None  # the rankings of a query
    numbers: Any = None
    markdown: Any = None
    latex: Any = None
    signature: Any = None


def runs_tab(
    convention: gr.Dropdown, bar: list[Any], ranking: tuple[gr.Dataframe, gr.HTML, gr.Tabs]
) -> list[gr.File]:
    """Lay out the tab and return its files; a query is opened in a ranking: its table, its title, and the tabs."""
    with gr.Tab("Search runs", id="runs") as tab:
        gr.Markdown(ABOUT)
        with gr.Row():
            qrels_file = gr.File(label="Qrels", elem_id="qrels", height=140)
            run_files = gr.File(label="Runs", file_count="multiple", elem_id="runs", height=140)
        texts, take, groups = paste_fields()
        shown = result_fields()
        chosen = gr.Textbox("{}", visible="hidden")  # the measure and the runs that are compared
    files = [qrels_file, run_files]
    take.click(take_texts, [*texts, run_files], [*texts, *files], **QUIET)
    shown.view.choose(take_choice, chosen, chosen, **QUIET)
    shown.view.offer(take_offer, [*files, convention, *bar], [*files, convention, *bar], **QUIET)
    given = [chosen, *files, groups, *bar]
    changed = [each.change for each in given]
    follow([tab.select, *changed], show_results, given, [*shown], queue=True)
    shown.view.query(show_query, [*files, *bar], shown.beside, **QUIET).then(None, js=INTO_VIEW)
    opened = shown.beside.open(open_run, [*files, *bar], [*ranking], **QUIET | ALOUD)
    opened.then(None, js="() => scrollTo(0, 0)")
    return files


def result_fields() -> Shown:
    """Lay out the fields of the results."""
    view = gr.HTML(js_on_load=JS, apply_default_css=False, elem_id="runs-view")
    beside = gr.HTML(js_on_load=JS, apply_default_css=False, elem_id="beside")
    with gr.Accordion("All numbers, to copy or to download", open=False):
        numbers = gr.HTML(elem_id="runs-numbers")
        with gr.Row():
            copied: Any = {"lines": 4, "max_lines": 20, "buttons": ["copy"]}
            markdown = gr.Textbox("", label="As Markdown", elem_id="runs-markdown", **copied)
            latex = gr.Textbox("", label="As LaTeX", elem_id="runs-latex", **copied)
        signature = gr.Textbox("", label="Signature", buttons=["copy"])
    return Shown(view, beside, numbers, markdown, latex, signature)


def paste_fields() -> tuple[list[gr.Textbox], gr.Button, gr.File]:
    """Lay out the fold of texts that are pasted, their button, and the file of groups."""
    with gr.Accordion("Paste instead, or give groups of queries", open=False):
        gr.Markdown(PASTE)
        with gr.Row():
            texts = [
                gr.Textbox("", label=label, lines=3, max_lines=8, max_length=500_000, elem_id=name)
                for label, name in (("Qrels, as text", "qrels-text"), ("Run, as text", "run-text"))
            ]
        take = gr.Button("Take these texts", elem_id="take-texts")
        groups = gr.File(
            label="Groups of queries: a CSV of query and group, such as language", elem_id="groups"
        )
    return texts, take, groups


def files_or_samples(qrels_file: str | None, run_files: list[str] | None) -> tuple[str, list[str]]:
    """Return the files of the tab, or qrels and two runs to try it with if there are none."""
    if qrels_file and run_files:
        return qrels_file, run_files
    if qrels_file or run_files:
        raise ValueError(UPLOAD)
    return str(SAMPLES / "qrels.txt"), [str(SAMPLES / f"{name}.txt") for name in ("bm25", "dense")]


def take_texts(qrels_text: str, run_text: str, run_files: list[str] | None) -> list[Any]:
    """Return pasted texts as files, in place of the qrels and next to the runs, and no text.

    A field for which nothing was pasted stays as it is, so that a file uploaded in the meantime also stays.
    """
    qrels = _file_of(qrels_text, "pasted qrels.txt") if qrels_text.strip() else gr.skip()
    runs = (
        [*(run_files or []), _file_of(ids_as_run(run_text), "pasted run.txt")]
        if run_text.strip()
        else gr.skip()
    )
    return ["", "", qrels, runs]


def _file_of(text: str, name: str) -> str:
    return str(save_bytes_to_cache(text.encode("utf-8", "replace"), name, get_upload_folder()))


def take_choice(chosen: str, event: gr.EventData) -> str:
    """Return what is chosen after one more choice; another base is compared with the best of the others."""
    kept = {
        name: choice
        for name, choice in json.loads(chosen).items()
        if (event.name, name) != ("base", "other")
    }
    return json.dumps({**kept, event.name: event.choice})


def take_offer(
    event: gr.EventData, qrels_file: str, run_files: list[str], convention: str, *bar: Any
) -> list[Any]:
    """Return the files, the convention and the bar after a button of a warning or an error was pressed."""
    files, how = [qrels_file, run_files], dict(zip(LINKED, bar, strict=True))
    if event.name == "swap":
        at = int(event.choice)
        files = [run_files[at], [*run_files[:at], qrels_file, *run_files[at + 1 :]]]
    elif event.name == "convention":
        how |= zip(tables.CHOICES, settings_of(event.choice), strict=True)
    else:
        how[event.name] = event.choice
    return [*files, convention_of(*(how[name] for name in tables.CHOICES)), *how.values()]


@show_errors(Shown, SIDES)
def show_results(
    chosen: str, qrels_file: str | None, run_files: list[str] | None, groups: str | None, *bar: Any
) -> Shown:
    """Return everything the tab shows of runs."""
    if bool(qrels_file) != bool(run_files):
        return Shown(note_html(UPLOAD))
    qrels_path, run_paths = files_or_samples(qrels_file, run_files)
    results = results_of(qrels_path, tuple(run_paths), groups, bar)
    options = options_of(*bar)
    standing = Standing.of(results.scores, results.pairs, json.loads(chosen))
    runs = standing.winner_first
    differing = differences_of(results.values[standing.measure], runs)
    query = query_to_open(differing, [results.missing[run] for run in runs])
    begin = common_beginning([*run_names(run_paths)])
    parts = [
        "" if qrels_file else note_html(SAMPLE),
        note_html(f"The names of all runs begin with “{begin}”, which the page leaves out.")
        if begin
        else "",
        f"<h2 role='status'>{escape(standing.headline())}</h2>",
        *map(remark_html, remarks_on(results, standing, options)),
        f"<p class='evidence'>{escape(standing.evidence())}</p>",
        standing_html(standing, list(results.scores[standing.base])),
        query_bars(differing, runs, standing.measure, results.missing, query),
    ]
    report = results.found[0]
    return Shown(
        "".join(parts),
        rankings_html(query, runs, qrels_path, run_paths, options, standing.measure),
        numbers_html(results, standing),
        "\n\n".join([standing.headline(), *(each.to_markdown() for each in results.found)]),
        report.to_latex() if results.pairs else "",
        report.signature,
    )


def differences_of(values: pd.DataFrame, runs: Sequence[str]) -> pd.Series:
    """Return how much better the first of two runs is on each query; of one run its values."""
    one, *others = (values[run] for run in runs)
    return (
        pd.Series(tables.differences(one.to_numpy(), others[0].to_numpy()), values.index)
        if others
        else one
    )


def query_to_open(differing: pd.Series, missing: Sequence[Sequence[str]]) -> str:
    """Return the query on which two runs differ most, or on which one is worst; if one can, of those in every run."""
    ranked = differing.drop(
        [query for queries in missing for query in queries], errors="ignore"
    ).dropna()
    ranked = ranked if len(ranked) else differing.dropna()
    return str(ranked.abs().idxmax() if len(missing) > 1 else ranked.idxmin())


def remarks_on(results: Results, standing: Standing, options: dict[str, Any]) -> list[Remark]:
    """Return what may be wrong with the files, or with what they seem to show, the most serious first."""
    there = {run: by_measure[standing.measure] for run, by_measure in results.by_trec_eval.items()}
    notes = dict.fromkeys(note for each in results.found for note in each.notes)
    return [
        *(Remark(in_words(note, SIDES)) for note in notes if any(each in note for each in SERIOUS)),
        *(Remark(f"{run} and {first} are the same run.") for run, first in results.same.items()),
        *missing_remarks(results.missing, options["missing"]),
        *tie_remarks(standing.scores, there, standing.measure),
    ]


def remark_html(remark: Remark) -> str:
    """Return a warning with its button."""
    return f"<p class='remark'>{escape(remark.text)} {offer_html(remark.offer)}</p>"


@show_errors(str, SIDES)
def show_query(
    event: gr.EventData, qrels_file: str | None, run_files: list[str] | None, *bar: Any
) -> str:
    """Return the rankings of the chosen query, side by side."""
    files = files_or_samples(qrels_file, run_files)
    return rankings_html(event.query, event.runs, *files, options_of(*bar), event.measure)


def rankings_html(
    query: str,
    names: Sequence[str],
    qrels_file: str,
    run_files: Sequence[str],
    options: dict[str, Any],
    measure: str,
) -> str:
    """Return the rankings of a query by some runs side by side, at the cutoff of a measure."""
    qrels, runs = read_files(qrels_file, run_files, options, names)
    cutoff = measure.partition("@")[2]
    options = {**options, "k": [int(cutoff) if cutoff else None]}
    rankings, sums = {}, {}
    for name in names:
        rankings[name] = ranking_of(
            rows_of_query(runs[name], qrels, query, name, options)[0], options
        )
        ranked = {query: runs[name][query]} if query in runs[name] else {}
        how = {**options, "measures": ["nDCG", "DCG", "IDCG"], "use_aggregator": False}
        values = ndcg.compute(predictions=ranked, references={query: qrels[query]}, **how)
        sums[name] = {each: value for each, (value,) in values.items()}
    return side_by_side(query, rankings, sums, options)


@raise_errors
def open_run(
    event: gr.EventData, qrels_file: str | None, run_files: list[str] | None, *bar: Any
) -> tuple[gr.Dataframe, str, gr.Tabs]:
    """Return a query in the first tab, as a run ranks it."""
    (name,) = event.runs
    options = options_of(*bar)
    qrels, runs = read_files(*files_or_samples(qrels_file, run_files), options, [name])
    rows, what = rows_of_query(runs[name], qrels, event.query, name, options)
    return table_with(rows, what), note_html(what), gr.Tabs(selected="ranking")


def numbers_html(results: Results, standing: Standing) -> str:
    """Return all figures of runs as tables, and links to them as CSV."""
    captions = ["Comparison"] if results.pairs else list(results.scores)
    audit = []
    for run, (documents, queries, not_judged) in results.audit.items():
        score, missing = standing.scores[run], len(results.missing[run])
        unjudged = f"{cell_of(round(score.unjudged, 2))} of {score.ranked}"
        audit.append([run, documents, queries, not_judged, missing, score.tied, unjudged])
    means = [
        {"run": run, "measure": measure, **score._asdict()}
        for run, scores in results.scores.items()
        for measure, score in scores.items()
    ]
    summary = (
        pd.DataFrame([*means, *(pair._asdict() for pair in results.pairs)])
        .astype(object)
        .fillna("")
    )
    queries = results.values.set_axis(
        [f"{run} {measure}" for measure, run in results.values.columns], axis=1
    )
    return "".join(
        [
            *(
                text_table(f"{caption}: {table[0][0]}", table)
                for caption, each in zip(captions, results.found, strict=True)
                for table in each.tables()
            ),
            table_html(AUDIT_CAPTION, pd.DataFrame(audit, columns=AUDIT)),
            list_html("Notes", [in_words(each, SIDES) for each in results.found[0].remarks()]),
            f"<p class='files'>{csv_link(summary, 'summary.csv', 'Summary as CSV')} "
            f"{csv_link(queries.reset_index(), 'queries.csv', 'Every query as CSV')}</p>",
        ]
    )
