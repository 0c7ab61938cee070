"""The tab of search runs: qrels and runs to upload, audited, scored and compared, query by query too."""

import html
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder

from .beside import JS, query_bars, side_by_side
from .choices import largest, options_of
from .events import QUIET, follow, raise_errors, show_errors
from .found import audit_row, compare_several, means_of, pair_row, read_files, rows_of_query, run_names, score_one
from .metric import ndcg
from .ranking import ranking_of, scores_by_name, table_with
from .render import csv_link, score_card, table_html
from .uploads import Mappings, read_groups, read_upload

AUDIT_CAPTION = (
    "Audit. Not ranked: judged queries that the run lacks; not judged: its queries without judgments; "
    "tied: queries whose score depends on the order of ties; unjudged: documents within the cutoff that is shown"
)
AUDIT = ["run", "documents", "queries", "not ranked", "not judged", "tied", "unjudged@k"]
MEANS_CAPTION = "Scores, with 95% intervals, best first; chance: of a random order"
MEANS = ["run", "measure", "mean", "from", "to", "standard error", "chance"]
PAIRS = ["measure", "run", "other", "difference", "95% interval", "p", "p (Holm)", "t-test p", "t-test p (Holm)"]
PAIRS += ["won, tied, lost"]
SAMPLES = Path(__file__).with_name("samples")
ABOUT = (
    "Qrels and one to five runs: TREC files; CSV, TSV, JSONL or Parquet with query, document and score or relevance; "
    "JSON `{query: {document: value}}`; also compressed by gzip or Zstandard; each up to 20 MB."
)
SWAPPED = "These two files are in each other's place: the first holds a run, the second qrels. Swap them below."
ONE_QUERY = "This is one query, which says nothing of others: no interval, no test."
SHOWN = 11  # outputs of `score_runs`


def runs_tab(bar: list[Any], table: gr.Dataframe, tabs: gr.Tabs) -> list[gr.File]:
    """Lay out the tab and return its files; a query that is chosen in it opens in the table of the first tab."""
    with gr.Tab("Search runs", id="runs"):
        gr.Markdown(ABOUT)
        with gr.Row():
            qrels_file = gr.File(label="Qrels", elem_id="qrels")
            run_files = gr.File(label="Runs", file_count="multiple", elem_id="runs")
        with gr.Accordion("Paste instead, or give groups of queries", open=False):
            with gr.Row():
                qrels_text, run_text = (
                    gr.Textbox(
                        label=f"{name}, as text",
                        lines=3,
                        max_lines=8,
                        max_length=500_000,
                        elem_id=f"{name.lower()}-text",
                    )
                    for name in ("Qrels", "Run")
                )
            take = gr.Button("Take these texts as files", elem_id="take-texts")
            groups = gr.File(label="Groups: a CSV of query and group, such as language", elem_id="groups")
        with gr.Row():
            score_button = gr.Button("Score", variant="primary", elem_id="score-runs")
            sample = gr.Button("Try sample runs", elem_id="sample-runs")
            swap = gr.Button("Swap the two files", visible=False, elem_id="swap-files")
        score = gr.HTML(elem_id="runs-score")
        measure = gr.Radio(label="Shown query by query", visible=False, elem_id="measure")
        bars = gr.HTML(js_on_load=JS, apply_default_css=False, elem_id="by-query")
        beside = gr.HTML(js_on_load=JS, apply_default_css=False, elem_id="beside")
        means, slices, pairs, audit = (gr.HTML(elem_id=name) for name in ("means", "slices", "pairs", "audit"))
        queries = gr.Dataframe(
            headers=["query", "score"],
            label="Every query: choose one to open its ranking by the run of that column",
            interactive=False,
            elem_id="queries",
        )
        signature = gr.Textbox(label="Signature", buttons=["copy"])
        file = gr.HTML()
    files = [qrels_file, run_files]
    given = [*files, groups, measure, *bar]
    shown = [score, bars, beside, means, slices, pairs, audit, queries, signature, file, measure]
    scoring = [each(score_runs, given, shown, api_visibility="private") for each in (score_button.click, measure.input)]
    scoring.append(
        sample.click(sample_files, None, [*files, groups], **QUIET).then(
            score_runs, given, shown, api_visibility="private"
        )
    )
    scoring.append(
        swap.click(swap_files, files, files, **QUIET).then(score_runs, given, shown, api_visibility="private")
    )
    chosen = [event for each in (*files, groups) for event in (each.upload, each.clear, each.delete)]
    follow([*chosen, *(each.change for each in bar)], forget_runs, None, shown, cancels=scoring)
    take.click(take_texts, [qrels_text, run_text], files, **QUIET).then(forget_runs, None, shown, **QUIET)
    score.change(are_swapped, files, swap, **QUIET)
    queries.select(open_query, files, [table, tabs], **QUIET).then(None, js="() => scrollTo(0, 0)")
    bars.choose(show_query, [*files, measure, *bar], beside, **QUIET)
    beside.open(open_run, files, [table, tabs], **QUIET).then(None, js="() => scrollTo(0, 0)")
    return files


def forget_runs() -> tuple[Any, ...]:
    """Return no result, where files or choices are no longer those that were scored."""
    return ("<p class='note'>Press Score.</p>", *[None] * (SHOWN - 2), gr.Radio(visible=False))


def sample_files() -> tuple[str, list[str], None]:
    """Return qrels and two runs to try the tab with."""
    return str(SAMPLES / "qrels.txt"), [str(SAMPLES / f"{name}.txt") for name in ("bm25", "dense")], None


def swap_files(qrels_file: str, run_files: list[str]) -> tuple[str, list[str]]:
    """Return the run in the place of the qrels, and these in its."""
    return run_files[0], [qrels_file]


def are_swapped(qrels_file: str | None, run_files: list[str] | None) -> Any:
    """Show the button that swaps a run and qrels that are in each other's place."""
    return gr.Button(visible=bool(qrels_file and run_files) and _are_swapped(str(qrels_file), run_files or []))


def _are_swapped(qrels_file: str, run_files: list[str]) -> bool:
    if len(run_files) != 1 or (_reads(qrels_file, "qrels") and _reads(run_files[0], "run")):
        return False
    return _reads(qrels_file, "run") and _reads(run_files[0], "qrels")


def _reads(path: str, kind: str) -> bool:
    try:
        read_upload(path, kind)
    except ValueError:
        return False
    return True


@raise_errors
def take_texts(qrels_text: str, run_text: str) -> list[Any]:
    """Return pasted texts as files; of no text, no change."""
    if not (qrels_text.strip() or run_text.strip()):
        raise ValueError("Paste qrels or a run first.")
    paths = [
        save_bytes_to_cache(text.encode(), f"pasted {name}.txt", get_upload_folder()) if text.strip() else None
        for name, text in (("qrels", qrels_text), ("run", run_text))
    ]
    return [paths[0] or gr.skip(), [paths[1]] if paths[1] else gr.skip()]


@raise_errors
def open_query(qrels_file: str, run_files: list[str], event: gr.SelectData) -> tuple[gr.Dataframe, gr.Tabs]:
    """Return the chosen query in the first tab, as the run of the chosen column ranks it."""
    names = list(run_names(run_files))
    at = event.index[1] - 1
    return _opened(qrels_file, run_files, str(event.row_value[0]), names[at if 0 <= at < len(names) else 0])


@raise_errors
def open_run(qrels_file: str, run_files: list[str], event: gr.EventData) -> tuple[gr.Dataframe, gr.Tabs]:
    """Return a query in the first tab, as a run ranks it."""
    return _opened(qrels_file, run_files, event.query, event.run)


def _opened(qrels_file: str, run_files: list[str], query: str, name: str) -> tuple[gr.Dataframe, gr.Tabs]:
    qrels, runs = read_files(qrels_file, run_files)
    rows, what = rows_of_query(runs[name], qrels, query, name)
    return table_with(rows, what), gr.Tabs(selected="ranking")


@show_errors(1)
def show_query(event: gr.EventData, qrels_file: str, run_files: list[str], measure: str, *bar: Any) -> str:
    """Return the rankings of the chosen query by the two best runs, side by side."""
    options = options_of(*bar)
    qrels, runs = read_files(qrels_file, run_files)
    best = best_runs(runs, qrels, options, measure)
    return query_html(event.query, {name: runs[name] for name in best}, qrels, options, measure)


def best_runs(runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], measure: str) -> list[str]:
    """Return the two runs with the highest means, the best first."""
    means = {
        name: ndcg.compute(predictions=run, references=qrels, **options).get(measure, 0.0) for name, run in runs.items()
    }
    return sorted(means, key=lambda name: -means[name])[:2]


def query_html(query: str, runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], measure: str) -> str:
    """Return the rankings of a query side by side, at the cutoff of a measure."""
    cutoffs = dict(zip(ndcg.compute(predictions=[[1]], references=[[1]], **options), options["k"], strict=True))
    at_cutoff = {**options, "k": [cutoffs.get(measure, largest(options["k"]))]}
    rankings = {name: ranking_of(rows_of_query(run, qrels, query, name)[0]) for name, run in runs.items()}
    scores = {}
    for name, ranking in rankings.items():
        ((measured, score),) = scores_by_name(ranking, at_cutoff).items()
        scores[name] = f"{measured} {'left out' if score != score else f'{score:.4f}'}"
    return side_by_side(query, rankings, scores, at_cutoff)


@show_errors(SHOWN)
def score_runs(
    qrels_file: str | None, run_files: list[str] | None, groups: str | None, chosen: str | None, *bar: Any
) -> tuple[Any, ...]:
    """Return everything the tab shows of uploaded runs; query by query, of the chosen measure or the first."""
    options = options_of(*bar)
    if qrels_file and run_files and _are_swapped(qrels_file, run_files):
        raise ValueError(SWAPPED)
    qrels, runs = read_files(qrels_file, run_files)
    if len(qrels) == 1:
        return one_query(qrels, runs, options)
    by = read_groups(groups, qrels) if groups else None
    find = score_one if len(runs) == 1 else compare_several
    found = find(runs, qrels, options, by, chosen or "")
    best = list(found.scores)[:2]
    caption = " less ".join(best)
    ranked = found.drawn[~found.drawn["query"].isin(found.lacks)]
    most = (ranked if len(ranked) else found.drawn).sort_values(
        found.drawn.columns[1], key=abs, ascending=len(best) < 2
    )
    query = str(most["query"].iloc[0])
    notes = " ".join([f"{found.report.resampling}.", *found.report.notes])
    means = means_of(found.scores)
    cards = score_card({f"{system}: {name}": number for system, name, number, *_ in means}, notes)
    audit = [audit_row(name, run, qrels, found.scores[name][found.measure]) for name, run in runs.items()]
    of_groups = [[group, *row] for group, each in found.groups.items() for row in means_of(each)]
    pairs = [pair_row(pair) for pair in found.report.pairs] if len(best) > 1 else []
    measures = list(found.scores[best[0]])
    return (
        f"<h3 class='verdict' role='status'>{html.escape(' '.join(found.verdict))}</h3>{cards}",
        query_bars(found.drawn, f"{found.measure}: {caption}", best, found.lacks, query),
        query_html(query, {name: runs[name] for name in best}, qrels, options, found.measure),
        table_html(MEANS_CAPTION, pd.DataFrame(means, columns=MEANS)),
        table_html("Groups of queries", pd.DataFrame(of_groups, columns=["group", *MEANS])) if of_groups else None,
        table_html("Paired comparison", pd.DataFrame(pairs, columns=PAIRS)) if pairs else None,
        table_html(AUDIT_CAPTION, pd.DataFrame(audit, columns=AUDIT)),
        found.table.round(4),
        found.report.signature,
        csv_link(found.report.queries.to_pandas(), "queries.csv"),
        gr.Radio(measures, value=found.measure, visible=len(measures) > 1),
    )


def one_query(qrels: Mappings, runs: Mapping[str, Mappings], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return what there is to show of a single query: each run's values, and the rankings of the best two."""
    (query,) = qrels
    results = {name: ndcg.compute(predictions=run, references=qrels, **options) for name, run in runs.items()}
    measure = next(iter(next(iter(results.values()))))
    best = sorted(results, key=lambda name: -results[name][measure])
    values = {f"{name}: {each}": results[name][each] for name in best for each in results[name]}
    drawn = query_html(query, {name: runs[name] for name in best[:2]}, qrels, options, measure)
    signature = ndcg.signature(**options)
    return (score_card(values, ONE_QUERY), None, drawn, *[None] * 5, signature, None, gr.Radio(visible=False))
