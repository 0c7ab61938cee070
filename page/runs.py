"""The tab of search runs: qrels and runs to upload, audited, scored and compared, as a whole and query by query."""

import html
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder

from .choices import options_of, settings_of
from .events import ALOUD, EACH, QUIET, raise_errors, show_errors
from .metric import ndcg
from .paste import ids_as_run
from .plots import bars_svg
from .queries import BARS, JS, query_bars, side_by_side
from .ranking import ranking_of, table_with
from .render import csv_link, error_html, file_link, note_html, score_card, table_html
from .run_results import (
    RunResults,
    audit_row,
    compare_several,
    look_swapped,
    means_of,
    misplaced,
    pair_row,
    read_files,
    report_on,
    rows_of_query,
    run_names,
    score_one,
)
from .uploads import Mappings, read_groups

AUDIT_CAPTION = (
    "Audit. Not ranked: judged queries that are missing from the run; not judged: its queries without judgments; "
    "tied: queries with a score that depends on the order of ties; unjudged: documents within the cutoff that is shown"
)
AUDIT = ["run", "documents", "queries", "not ranked", "not judged", "tied", "unjudged@k"]
MEANS_CAPTION = "Scores, with 95% intervals, best first; random order: the expected score of a random order"
MEANS = ["run", "measure", "mean", "from", "to", "standard error", "random order", "queries"]
PAIRS = ["measure", "run", "other", "run − other", "95% interval", "p", "p (Holm)", "t-test p", "t-test p (Holm)"]
PAIRS += ["won, tied, lost"]
SAMPLES = Path(__file__).with_name("samples")
ABOUT = (
    "Qrels and one to five runs: TREC files; CSV, TSV, JSONL or Parquet with query, document and score or relevance; "
    "JSON `{query: {document: value}}`; also compressed by gzip or Zstandard; each up to 20 MB. A link to this tab "
    "keeps the options, not the files: whoever opens it uploads them again."
)
PASTE = (
    "The formats above as text, or lists of ids, best first, one query per line: `q1: d3 d1 d7`. A pasted run is added "
    "to the runs above."
)
SWAPPED = "The qrels and a run are in each other's place."
LOOK_SWAPPED = "The qrels have fractions and a run has whole numbers only, as if they were in each other's place."
INTO_VIEW = "() => document.querySelector('#beside .query')?.scrollIntoView({ block: 'nearest' })"
BUTTONS_JS = """
element.addEventListener("click", event => {
  const button = event.target.closest("#swap-files");
  if (button) trigger("swap", { run: Number(button.dataset.run) });
  if (event.target.closest("#as-trec-eval")) trigger("convention", {});
});
"""
PATHS = "(_, value) => value?.path ?? value"  # makes JSON.stringify write a file as its path
# the files and options that are to be scored, in JSON, in place of those that were
ASKED = f"(_, choice, ...given) => [JSON.stringify(given, {PATHS}), choice, ...given]"
AS_TREC_EVAL = "<button id='as-trec-eval' class='offer' type='button'>Score as trec_eval does</button>"
SAMPLE = "These are two sample runs. Upload or paste yours above."
ONE_QUERY = "Intervals and tests need more than one query."
GROUPS = 50  # that are shown
SHOWN = 13  # outputs of `results_of`


def runs_tab(convention: gr.Dropdown, bar: list[Any], ranking: tuple[gr.Dataframe, gr.HTML, gr.Tabs]) -> list[gr.File]:
    """Lay out the tab and return its files.

    Args:
        convention: the field of its name.
        bar: the options.
        ranking: the table of the first tab, its title, and the tabs, for a query that is chosen.
    """
    with gr.Tab("Search runs", id="runs") as tab:
        gr.Markdown(ABOUT)
        with gr.Row():
            qrels_file = gr.File(label="Qrels", elem_id="qrels")
            run_files = gr.File(label="Runs", file_count="multiple", elem_id="runs")
        texts, take, groups = paste_fields()
        score_button = gr.Button("Score", variant="primary", elem_id="score-runs")
        shown = [*result_fields(), gr.Textbox(visible="hidden")]
        scored = gr.Textbox("[]", visible="hidden")  # the files and options of the results that are shown
    files = [qrels_file, run_files]
    score, _, bars, beside, _, _, _, queries, signature, *_, measure, only = shown
    compared = [*files, groups, *bar]
    given, answered = [scored, measure, *compared], [*shown, scored]
    how: dict[str, Any] = {"js": ASKED, "trigger_mode": "always_last", "api_visibility": "private"}
    filled = [
        score.swap(swap_files, files, files, **{**QUIET, "trigger_mode": "once"}),
        take.click(take_texts, [*texts, run_files], [*texts, *files], **QUIET),
    ]
    for event in (score_button.click, measure.input, *(each.success for each in filled)):
        event(score_runs, given, answered, **how)
    tab.select(show_samples, [scored, signature, *compared], answered, **how)
    score.convention(score_as_trec_eval, given, [convention, *bar, *answered], **how)
    changed = [event for each in (*files, groups) for event in (each.upload, each.clear, each.delete)]
    changed += [each.change for each in (*bar, scored)]
    gr.on(changed, None, [scored, *compared], answered, js=clear_outdated(shown))
    bars.choose(show_query, [*files, measure, *bar], beside, **QUIET).then(None, js=INTO_VIEW)
    opened = [
        queries.select(open_query, files, [*ranking], **EACH | ALOUD),
        beside.open(open_run, files, [*ranking], **QUIET | ALOUD),
        only.change(open_only_query, [only, *files], [*ranking], **QUIET | ALOUD),
    ]
    for each in opened[:2]:
        each.then(None, js="() => scrollTo(0, 0)")
    return files


def result_fields() -> list[Any]:
    """Lay out the results of runs; return the fields in the order of `results_of`, without the last, hidden one."""
    score = gr.HTML(js_on_load=BUTTONS_JS, elem_id="runs-score")
    means = gr.HTML(elem_id="means")
    measure = gr.Radio(label="Shown query by query", visible=False, elem_id="measure")
    bars = gr.HTML(js_on_load=JS, apply_default_css=False, elem_id="by-query")
    beside = gr.HTML(js_on_load=JS, apply_default_css=False, elem_id="beside")
    slices, pairs, audit = (gr.HTML(elem_id=name) for name in ("slices", "pairs", "audit"))
    queries = gr.Dataframe(
        headers=["query", "score"],
        label="Every query: choose one to open its ranking by the run of that column",
        interactive=False,
        elem_id="queries",
    )
    signature = gr.Textbox(label="Signature", buttons=["copy"])
    with gr.Accordion("Copy or download the results", open=False):
        file = gr.HTML(elem_id="runs-files")
        markdown = gr.Textbox(label="As Markdown", lines=6, max_lines=20, buttons=["copy"], elem_id="runs-markdown")
    return [score, means, bars, beside, slices, pairs, audit, queries, signature, file, markdown, measure]


def paste_fields() -> tuple[list[gr.Textbox], gr.Button, gr.File]:
    """Lay out the fold of texts that are pasted, their button, and the file of groups."""
    with gr.Accordion("Paste instead, or give groups of queries", open=False):
        gr.Markdown(PASTE)
        with gr.Row():
            texts = [
                gr.Textbox(label=label, lines=3, max_lines=8, max_length=500_000, elem_id=name)
                for label, name in (("Qrels, as text", "qrels-text"), ("Run, as text", "run-text"))
            ]
        take = gr.Button("Score these texts", elem_id="take-texts")
        groups = gr.File(label="Groups of queries: a CSV of query and group, such as language", elem_id="groups")
    return texts, take, groups


def clear_outdated(shown: Sequence[Any]) -> str:
    """Return a script that clears the results if other files or options are chosen now.

    The server does not do this, since its answer could come after the answer to a later press of Score.
    """
    empty = [each.postprocess(None) for each in shown[1:-2]]
    cleared = [note_html("Press Score."), *empty, gr.update(visible=False), "", "[]"]
    as_sent = json.dumps(cleared, default=lambda each: each.model_dump())  # as Gradio sends a table
    kept = json.dumps([gr.skip()] * len(cleared))
    is_current = f"JSON.stringify(JSON.parse(scored)) === JSON.stringify(given, {PATHS})"
    return f"(scored, ...given) => {is_current} ? {kept} : {as_sent}"


def score_as_trec_eval(
    scored: str,
    chosen: str | None,
    qrels_file: str | None,
    run_files: list[str] | None,
    groups: str | None,
    cutoffs: str,
    log_base: float | None,
    *settings: str,
) -> tuple[Any, ...]:
    """Return trec_eval's convention, the bar with its settings, and the results of the runs under it."""
    bar = [cutoffs, log_base, *settings_of("trec_eval"), settings[-1]]
    scored = json.dumps([*json.loads(scored)[:3], *bar])  # the same files
    return ("trec_eval", *bar, *score_runs(scored, chosen, qrels_file, run_files, groups, *bar))


def files_or_samples(qrels_file: str | None, run_files: list[str] | None) -> tuple[str | None, list[str] | None]:
    """Return the files of the tab, or qrels and two runs to try it with if there are none."""
    if qrels_file or run_files:
        return qrels_file, run_files
    return str(SAMPLES / "qrels.txt"), [str(SAMPLES / f"{name}.txt") for name in ("bm25", "dense")]


def show_samples(
    scored: str, signature: str, qrels_file: str | None, run_files: list[str] | None, *how: Any
) -> tuple[Any, ...]:
    """Return the results of the sample runs, unless the tab has files or shows these results already."""
    if signature or qrels_file or run_files:
        return tuple([gr.skip()] * (SHOWN + 1))
    return score_runs(scored, None, None, None, *how)


def swap_files(qrels_file: str, run_files: list[str], event: gr.EventData) -> tuple[str, list[str]]:
    """Return a run in the place of the qrels, and these in its."""
    at = int(event.run)
    return run_files[at], [*run_files[:at], qrels_file, *run_files[at + 1 :]]


def take_texts(qrels_text: str, run_text: str, run_files: list[str] | None) -> list[Any]:
    """Return pasted texts as files, in place of the qrels and next to the runs, and no text.

    A field for which nothing was pasted stays as it is, so that a file uploaded in the meantime also stays.
    """
    qrels = _file_of(qrels_text, "pasted qrels.txt") if qrels_text.strip() else gr.skip()
    runs = [*(run_files or []), _file_of(ids_as_run(run_text), "pasted run.txt")] if run_text.strip() else gr.skip()
    return ["", "", qrels, runs]


def _file_of(text: str, name: str) -> str:
    return str(save_bytes_to_cache(text.encode("utf-8", "replace"), name, get_upload_folder()))


@raise_errors
def open_query(
    qrels_file: str | None, run_files: list[str] | None, event: gr.SelectData
) -> tuple[gr.Dataframe, str, gr.Tabs]:
    """Return the chosen query in the first tab, as the run of the chosen column ranks it."""
    names = list(run_names(files_or_samples(qrels_file, run_files)[1] or []))
    return _opened(qrels_file, run_files, str(event.row_value[0]), names[max(0, event.index[1] - 1) % len(names)])


@raise_errors
def open_run(
    qrels_file: str | None, run_files: list[str] | None, event: gr.EventData
) -> tuple[gr.Dataframe, str, gr.Tabs]:
    """Return a query in the first tab, as a run ranks it."""
    return _opened(qrels_file, run_files, event.query, event.runs[0])


@raise_errors
def open_only_query(query: str, qrels_file: str | None, run_files: list[str] | None) -> Any:
    """Return the only query of the only run in the first tab, and say so; of no such query, no change."""
    if not query or not qrels_file or not run_files:
        return [gr.skip()] * 3
    gr.Info(f"{ONE_QUERY} It is opened here, in the tab One ranking.")
    return _opened(qrels_file, run_files, query, *run_names(run_files))


def _opened(
    qrels_file: str | None, run_files: list[str] | None, query: str, name: str
) -> tuple[gr.Dataframe, str, gr.Tabs]:
    qrels, runs = read_files(*files_or_samples(qrels_file, run_files), [name])
    rows, what = rows_of_query(runs[name], qrels, query, name)
    return table_with(rows, what), note_html(what), gr.Tabs(selected="ranking")


@show_errors(1)
def show_query(
    event: gr.EventData, qrels_file: str | None, run_files: list[str] | None, measure: str, *bar: Any
) -> str:
    """Return the rankings of the chosen query, side by side."""
    options = options_of(*bar)
    qrels, runs = read_files(*files_or_samples(qrels_file, run_files), event.runs)
    return query_html(event.query, {name: runs[name] for name in event.runs}, qrels, options, measure)


def query_html(query: str, runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], measure: str) -> str:
    """Return the rankings of a query side by side, at the cutoff of a measure."""
    cutoff = measure.partition("@")[2]
    options = {**options, "k": [int(cutoff) if cutoff else None]}
    rankings, sums = {}, {}
    for name, run in runs.items():
        rankings[name] = ranking_of(rows_of_query(run, qrels, query, name)[0])
        ranked = {query: run[query]} if query in run else {}
        how = {**options, "measures": ["nDCG", "DCG", "IDCG"], "use_aggregator": False}
        values = ndcg.compute(predictions=ranked, references={query: qrels[query]}, **how)
        sums[name] = {each: value for each, (value,) in values.items()}
    return side_by_side(query, rankings, sums, options)


def swap_html(text: str, run: int) -> str:
    """Return the evidence that qrels and run were uploaded the wrong way round, and a button that swaps them."""
    return f"{error_html(text)}<button id='swap-files' class='offer' type='button' data-run='{run}'>Swap them</button>"


def score_runs(scored: str, chosen: str | None, *given: Any) -> tuple[Any, ...]:
    """Return everything the tab shows of runs, and the files and options of these results."""
    return (*results_of(chosen, *given), scored)


@show_errors(SHOWN)
def results_of(
    chosen: str | None, qrels_file: str | None, run_files: list[str] | None, groups: str | None, *bar: Any
) -> tuple[Any, ...]:
    """Return everything the tab shows of runs; query by query, of the chosen measure or the first."""
    options = options_of(*bar)
    about_samples = "" if qrels_file or run_files else note_html(SAMPLE)
    try:
        qrels, runs = read_files(*files_or_samples(qrels_file, run_files))
    except ValueError:
        if (at := misplaced(qrels_file, run_files)) is None:
            raise
        return (swap_html(SWAPPED, at), *[None] * (SHOWN - 1))
    if len(qrels) == 1:
        return one_query(qrels, runs, options)
    by = read_groups(groups, qrels) if groups else None
    find = score_one if len(runs) == 1 else compare_several
    results = find(runs, qrels, options, by, chosen or "")
    best = list(results.scores)[:2]
    query = query_to_open(results)
    suspect = look_swapped(qrels, runs)
    doubt = "" if suspect is None else swap_html(LOOK_SWAPPED, suspect)
    means = pd.DataFrame(means_of(results.scores), columns=MEANS)
    audit = [audit_row(name, run, qrels, results.scores[name][results.measure]) for name, run in runs.items()]
    pairs = pd.DataFrame([pair_row(each) for each in results.report.pairs] if len(best) > 1 else [], columns=PAIRS)
    measures = list(results.scores[best[0]])
    verdict = [*results.verdict, *results.tied]
    caption = f"{results.measure}: {' − '.join(best)}"
    return (
        f"{about_samples}<h3 class='verdict' role='status'>{html.escape(' '.join(verdict))}</h3>"
        f"{AS_TREC_EVAL if results.tied else ''}{doubt}{mean_cards(results, means)}",
        table_html(MEANS_CAPTION, means),
        query_bars(results.drawn, caption, best, results.lacks, query),
        query_html(query, {name: runs[name] for name in best}, qrels, options, results.measure),
        groups_html(results.groups),
        table_html("Paired comparison", pairs) if len(pairs) else None,
        table_html(AUDIT_CAPTION, pd.DataFrame(audit, columns=AUDIT)),
        results.table.round(4),
        results.report.signature,
        files_html(results, caption, best, pd.concat([means, pairs]).astype(object).fillna("")),
        "\n\n".join([" ".join(verdict), results.report.to_markdown()]),
        gr.Radio(measures, value=results.measure, visible=len(measures) > 1),
        "",
    )


def query_to_open(results: RunResults) -> str:
    """Return the query on which two runs differ most, or on which a single run scores worst."""
    ranked = results.drawn[~results.drawn["query"].isin(results.lacks)]
    most = (ranked if len(ranked) else results.drawn).sort_values(
        results.drawn.columns[1], key=abs, ascending=len(results.scores) < 2
    )
    return str(most["query"].iloc[0])


def mean_cards(results: RunResults, means: pd.DataFrame) -> str:
    """Return the means as cards, with notes; the measure that the verdict speaks of comes first."""
    others = [each for each in results.report.notes if "missing from the run" not in each]  # the verdict names these
    notes = " ".join([f"{results.report.resampling}.", *others])
    first = means.sort_values("measure", key=lambda each: each != results.measure, kind="stable")
    return score_card(dict(zip(first["run"] + ": " + first["measure"], first["mean"], strict=True)), notes)


def files_html(results: RunResults, caption: str, best: list[str], summary: pd.DataFrame) -> str:
    """Return links to the summary and to every query as CSV, and to the bars as a picture."""
    bars = list(results.drawn.head(BARS).itertuples(index=False, name=None))
    sides = [f"{each} better" for each in best] if len(best) > 1 else []
    links = [
        csv_link(summary, "summary.csv", "Summary as CSV"),
        csv_link(results.report.queries.to_pandas(), "queries.csv", "Every query as CSV"),
        file_link(bars_svg(bars, caption, sides), "queries.svg", "image/svg+xml", "Bars as a picture (SVG)"),
    ]
    return f"<p class='files'>{' '.join(links)}</p>"


def groups_html(groups: Mapping[Any, Mapping[str, Any]]) -> str | None:
    """Return the means of groups of queries with their intervals as a table; without groups none."""
    rows = [[group, *row] for group, scores in islice(groups.items(), GROUPS) for row in means_of(scores)]
    caption = f"Groups of queries, with 95% intervals, {min(len(groups), GROUPS)} of {len(groups):,}"
    return table_html(caption, pd.DataFrame(rows, columns=["group", *MEANS])) if rows else None


def one_query(qrels: Mappings, runs: Mapping[str, Mappings], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return the details of a single query: each run's values, and the rankings of the best two.

    The last is the query itself if there is one run, for the first tab.
    """
    (query,) = qrels
    reports = {name: report_on(run, qrels, options) for name, run in runs.items()}
    results = {name: {each: score.value for each, score in report.scores.items()} for name, report in reports.items()}
    measure = next(iter(next(iter(results.values()))))
    best = sorted(results, key=lambda name: -results[name][measure])
    values = {f"{name}: {each}": results[name][each] for name in best for each in results[name]}
    notes = [f"{name}: {note}" for name in best for note in reports[name].notes if "both retrieved and judged" in note]
    drawn = query_html(query, {name: runs[name] for name in best[:2]}, qrels, options, measure)
    only = query if len(runs) == 1 else ""
    signature = ndcg.signature(**options)
    return (
        *(score_card(values, " ".join([ONE_QUERY, *notes])), None, None, drawn, *[None] * 4, signature, None, None),
        *(gr.Radio(visible=False), only),
    )
