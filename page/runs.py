"""The tab of search runs: qrels and runs to upload, audited, scored and compared."""

import html
import itertools
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from .choices import CONVENTIONS, DOCUMENTS, cell_of, options_of
from .events import QUIET, follow, raise_errors, show_errors
from .metric import ndcg
from .ranking import table_with
from .render import csv_link, score_card, table_html
from .uploads import Mappings, read_upload

AUDIT_CAPTION = (
    "Audit. Not ranked: judged queries that the run lacks; not judged: its queries without judgments; "
    "tied: queries whose score depends on the order of ties; unjudged: documents within the first cutoff"
)
AUDIT = ["run", "documents", "queries", "not ranked", "not judged", "tied", "unjudged@k"]
MEANS = ["run", "measure", "mean", "from", "to", "standard error", "chance"]
SIGNIFICANT = 0.05
PAIRS = ["measure", "run", "other", "difference", "95% interval", "p", "p (Holm)", "t-test p", "t-test p (Holm)"]
PAIRS += ["won, tied, lost"]
RESAMPLES = 2000
RUNS = 5
FORM = re.compile(r"(?i)(\.(trec|run|txt|csv|tsv|parquet|jsonl?))?(\.(gz|zst))?$")  # how a name may end
ABOUT = (
    "Qrels and one to five runs: TREC files; CSV, TSV, JSONL or Parquet with query, document and score or relevance; "
    "JSON `{query: {document: value}}`; also compressed by gzip or Zstandard; each up to 20 MB."
)


def runs_tab(bar: list[Any], table: gr.Dataframe, tabs: gr.Tabs) -> list[gr.File]:
    """Lay out the tab and return its files; a query that is chosen in it opens in the table of the first tab."""
    with gr.Tab("Search runs", id="runs"):
        gr.Markdown(ABOUT)
        with gr.Row():
            qrels_file = gr.File(label="Qrels", elem_id="qrels")
            run_files = gr.File(label="Runs", file_count="multiple", elem_id="runs")
        score_button = gr.Button("Score", variant="primary", elem_id="score-runs")
        score = gr.HTML(elem_id="runs-score")
        means = gr.HTML(elem_id="means")
        bars = gr.HTML(elem_id="by-query")
        pairs = gr.HTML(elem_id="pairs")
        audit = gr.HTML(elem_id="audit")
        queries = gr.Dataframe(
            headers=["query", "score"],
            label="Every query: choose one to open its ranking by the run of that column",
            interactive=False,
            elem_id="queries",
        )
        signature = gr.Textbox(label="Signature", buttons=["copy"])
        file = gr.HTML()
    files = [qrels_file, run_files]
    shown = [score, audit, means, pairs, bars, queries, signature, file]
    scoring = score_button.click(score_runs, [*files, *bar], shown, api_visibility="private")
    follow([each.change for each in (*files, *bar)], forget_runs, None, shown, cancels=scoring)
    queries.select(open_query, files, [table, tabs], **QUIET).then(None, js="() => scrollTo(0, 0)")
    return files


def forget_runs() -> tuple[Any, ...]:
    """Return no result, where files or choices are no longer those that were scored."""
    return ("<p class='note'>Press Score.</p>", *[None] * 7)


@raise_errors
def open_query(qrels_file: str, run_files: list[str], event: gr.SelectData) -> tuple[gr.Dataframe, gr.Tabs]:
    """Return the chosen query in the first tab, as the run of the chosen column ranks it."""
    rows, what = ranking_from_upload(qrels_file, run_files, str(event.row_value[0]), event.index[1])
    return table_with(rows, what), gr.Tabs(selected="ranking")


@show_errors(8)
def score_runs(qrels_file: str | None, run_files: list[str] | None, *bar: Any) -> tuple[Any, ...]:
    """Return everything the tab shows of uploaded runs."""
    options = options_of(*bar)
    qrels, runs = read_files(qrels_file, run_files)
    if len(qrels) == 1:
        raise ValueError("The qrels have one query, and one says nothing of others: see it in the tab One ranking.")
    names = list(runs)
    if len(names) == 1:
        report = report_on(runs[names[0]], qrels, options)
        scores, pairs = {names[0]: report.scores}, []
        measure = value = next(iter(report.scores))
        verdict = [f"{names[0]} has {measure} {report.scores[measure].value:.3f}."]
        table = report.queries.to_pandas()[["query", "retrieved", "judged", "relevant", measure]]
        drawn = query_bars(table[["query", measure]].sort_values(measure), measure, ("", ""), {})
    else:
        report = compare_runs(runs, qrels, options)
        pairs, measure, value = report.pairs, report.measures[0], "difference"
        scores = dict(sorted(report.scores.items(), key=lambda each: -each[1][measure].value))
        best, second, *_ = scores
        missing = {name: [query for query in qrels if query not in runs[name]] for name in names}
        verdict = [verdict_on(pair, len(pairs) > len(report.measures)) for pair in pairs if pair.measure == measure]
        verdict += [missing_text(name, queries) for name, queries in missing.items() if queries]
        by_system = report.queries.to_pandas().pivot(index="query", columns="system", values=measure)
        table = by_system.loc[list(qrels), names].reset_index()
        table[value] = table[names[0]] - table[names[1]]
        less = table[["query"]].assign(difference=table[best] - table[second]).sort_values(value, ascending=False)
        lacks = {query: name for name in (best, second) for query in missing[name]}
        drawn = query_bars(less, f"{measure}: {best} less {second}", (best, second), lacks)
    audit = [audit_row(name, run, qrels, scores[name][measure]) for name, run in runs.items()]
    means = [
        [system, name, score.value, score.low, score.high, score.standard_error, score.chance]
        for system, each in scores.items()
        for name, score in each.items()
    ]
    notes = " ".join([f"{report.resampling}.", *report.notes])
    cards = score_card({f"{system}: {name}": value for system, name, value, *_ in means}, notes)
    return (
        f"<h3 class='verdict' role='status'>{html.escape(' '.join(verdict))}</h3>{cards}",
        table_html(AUDIT_CAPTION, pd.DataFrame(audit, columns=AUDIT)),
        table_html(
            "Scores, with 95% intervals, best first; chance: of a random order", pd.DataFrame(means, columns=MEANS)
        ),
        table_html("Paired comparison", pd.DataFrame(map(pair_row, pairs), columns=PAIRS)) if pairs else None,
        drawn,
        table.round(4),
        report.signature,
        csv_link(report.queries.to_pandas(), "queries.csv"),
    )


def verdict_on(pair: Any, corrected: bool) -> str:
    """Return which of two runs is better, by how much, and how sure that is, in a sentence."""
    ahead = pair.difference >= 0
    better, worse = (pair.system, pair.other) if ahead else (pair.other, pair.system)
    low, high = (pair.low, pair.high) if ahead else (-pair.high, -pair.low)
    won, lost = (pair.wins, pair.losses) if ahead else (pair.losses, pair.wins)
    p = pair.p_holm if corrected else pair.p
    sure = f"(95% interval {low:.3f} to {high:.3f}, p = {p:.2g}; won {won}, tied {pair.ties}, lost {lost})"
    if p < SIGNIFICANT:
        return f"{better} beats {worse} by {abs(pair.difference):.3f} in {pair.measure} {sure}."
    return f"{better} is {abs(pair.difference):.3f} above {worse} in {pair.measure}, which may be chance {sure}."


def missing_text(name: str, queries: list[str]) -> str:
    """Return which queries a run lacks, in a sentence."""
    if len(queries) == 1:
        return f"One query, {queries[0]}, is missing from {name}."
    some = ", ".join(queries[:3]) + (", …" if len(queries) > 3 else "")
    return f"{len(queries):,} queries are missing from {name}: {some}."


def query_bars(
    values: pd.DataFrame, caption: str, runs: tuple[str, str], lacks: Mapping[str, str], shown: int = 1000
) -> str:
    """Return a bar per query: to the left where the first run is better, to the right where the second is.

    Args:
        values: the query, and what is drawn of it.
        caption: what that is.
        runs: the two; of one run empty.
        lacks: the run that lacks a query, by the query.
        shown: how many queries are drawn.
    """
    widest = max([abs(each) for each in values.iloc[:, 1] if each == each], default=0) or 1
    rows = []
    for query, value in values.head(shown).itertuples(index=False):
        side = "second" if value < 0 else "first"
        width = 0 if math.isnan(value) else (49.6 if runs[0] else 100) * abs(value) / widest
        text = "left out" if math.isnan(value) else f"{value + 0.0:+.4f}" if runs[0] else f"{value + 0.0:.4f}"
        lacking = f" <small>not in {html.escape(lacks[query])}</small>" if query in lacks else ""
        rows.append(
            f"<tr><td>{html.escape(query)}{lacking}</td><td><span class='{'two' if runs[0] else 'one'}' aria-hidden="
            f"'true'><b class='{side}' style='width:{width:.4g}%'></b></span></td><td>{text}</td></tr>"
        )
    first, second = (html.escape(f"{each} better") if each else "" for each in runs)
    label = html.escape(f"{caption}, {min(len(values), shown):,} of {len(values):,} queries")
    head = f"<th>query</th><th class='sides'><span>{first}</span><span>{second}</span></th><th>value</th>"
    return (
        f"<figure><figcaption>{label}</figcaption><div class='sheet by-query' role='region' tabindex='0' "
        f"aria-label='{label}'><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></figure>"
    )


def audit_row(name: str, run: Mappings, qrels: Mappings, score: Any) -> list[Any]:
    """Return what to know of a run before believing its score."""
    documents = sum(map(len, run.values()))
    not_ranked, not_judged = len(qrels.keys() - run.keys()), len(run.keys() - qrels.keys())
    unjudged = f"{cell_of(round(score.unjudged, 2))} of {score.ranked}"
    return [name, documents, len(run), not_ranked, not_judged, score.tied, unjudged]


def pair_row(pair: Any) -> list[Any]:
    """Return a comparison of two runs as the table shows it."""
    counts = f"{pair.wins}, {pair.ties}, {pair.losses}"
    return [
        *(pair.measure, pair.system, pair.other, pair.difference, f"{pair.low:.4f} to {pair.high:.4f}"),
        *(pair.p, pair.p_holm, pair.p_t, pair.p_t_holm, counts),
    ]


def read_files(qrels_file: str | None, run_files: list[str] | None) -> tuple[Mappings, dict[str, Mappings]]:
    """Read the qrels, and the runs by their names."""
    if not qrels_file or not run_files:
        raise ValueError("Upload the qrels and at least one run.")
    if len(run_files) > RUNS:
        raise ValueError(f"{len(run_files)} runs; at most {RUNS} are compared.")
    qrels = read_upload(qrels_file, "qrels")
    return qrels, {name: read_upload(path, "run") for name, path in run_names(run_files).items()}


def run_names(run_files: list[str]) -> dict[str, str]:
    """Return the files of runs by the names of these, each its own."""
    files: dict[str, str] = {}
    for path in run_files:
        stem = FORM.sub("", Path(path).name) or Path(path).name
        names = itertools.chain([stem], (f"{stem} ({at})" for at in itertools.count(2)))
        files[next(each for each in names if each not in files)] = path
    return files


def report_on(run: Mappings, qrels: Mappings, options: Mapping[str, Any]) -> Any:
    """Return the report on a run."""
    return ndcg.report(predictions=run, references=qrels, **options)


def compare_runs(runs: Mapping[str, Mappings], qrels: Mappings, options: Mapping[str, Any]) -> Any:
    """Return the comparison of runs; a judged query that one lacks is not refused unless the options say so."""
    missing = CONVENTIONS[options.get("convention", "sklearn")].missing
    return ndcg.compare(systems=runs, references=qrels, resamples=RESAMPLES, **{"missing": missing, **options})


def ranking_from_upload(qrels_file: str, run_files: list[str], query: str, column: int) -> tuple[list[list[str]], str]:
    """Return a query of uploaded files as rows of the table, by the run of a column or the first, and their name."""
    names = run_names(run_files)
    name = list(names)[column - 1 if 1 <= column <= len(names) else 0]
    qrels, runs = read_files(qrels_file, [names[name]])
    run, judged = next(iter(runs.values())).get(query, {}), qrels.get(query, {})
    ranked = sorted(run, key=run.__getitem__, reverse=True)
    missing = sorted((each for each in judged if each not in run), key=judged.__getitem__, reverse=True)
    # of what does not fit, the least relevant documents that were not retrieved matter least
    listed = [*ranked[: max(DOCUMENTS // 2, DOCUMENTS - len(missing))], *missing][:DOCUMENTS]
    there = len(ranked) + len(missing)
    cut = "" if len(listed) == there else f", {len(listed)} of {there} documents"
    return [[d, cell_of(judged.get(d)), cell_of(run.get(d))] for d in listed], f"Query {query} by {name}{cut}"
