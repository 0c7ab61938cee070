"""What is found of uploaded runs: their names, their scores, which is better, and how sure that is."""

import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from .choices import CONVENTIONS, DOCUMENTS, cell_of
from .metric import ndcg
from .uploads import Mappings, read_upload

SIGNIFICANT = 0.05
RESAMPLES = 2000
RUNS = 5
FORM = re.compile(r"(?i)(\.(trec|run|txt|csv|tsv|parquet|jsonl?))?(\.(gz|zst))?$")  # how a name may end


class Found(NamedTuple):
    """What was found of runs.

    Attributes:
        report: of one run, or the comparison of several.
        verdict: it in sentences.
        scores: of each run, best first.
        groups: the same of each group of queries.
        measure: what is shown query by query.
        drawn: a value for each query, in the order of the bars; of several runs the difference of the best two.
        lacks: the run that lacks a query.
        table: every query.
    """

    report: Any
    verdict: list[str]
    scores: dict[str, Any]
    groups: dict[str, Any]
    measure: str
    drawn: pd.DataFrame
    lacks: dict[str, str]
    table: pd.DataFrame


def score_one(runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], by: Any, chosen: str) -> Found:
    """Return what is found of one run, its worst queries first."""
    ((name, run),) = runs.items()
    report = report_on(run, qrels, {**options, "by": by})
    measure = chosen if chosen in report.scores else next(iter(report.scores))
    verdict = [f"{name} has {measure} {report.scores[measure].value:.3f}."]
    table = report.queries.to_pandas()[["query", "retrieved", "judged", "relevant", measure]]
    drawn = table[["query", measure]].sort_values(measure)
    groups = {group: {name: each.scores} for group, each in (report.slices or {}).items()}
    return Found(report, verdict, {name: report.scores}, groups, measure, drawn, {}, table)


def compare_several(
    runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], by: Any, chosen: str
) -> Found:
    """Return what is found of several runs, the queries first in which the best is ahead most."""
    report = compare_runs(runs, qrels, {**options, "by": by})
    measure = chosen if chosen in report.measures else report.measures[0]
    scores = dict(sorted(report.scores.items(), key=lambda each: -each[1][measure].value))
    one, other, *_ = scores
    missing = {name: [query for query in qrels if query not in run] for name, run in runs.items()}
    corrected = len(report.pairs) > len(report.measures)
    verdict = [verdict_on(pair, corrected) for pair in report.pairs if pair.measure == measure]
    verdict += [missing_text(name, queries) for name, queries in missing.items() if queries]
    by_system = report.queries.to_pandas().pivot(index="query", columns="system", values=measure)
    table = by_system.loc[list(qrels), list(runs)].reset_index()
    drawn = table[["query"]].assign(difference=table[one] - table[other]).sort_values("difference", ascending=False)
    first, second, *_ = runs
    table["difference"] = table[first] - table[second]
    lacks = {query: name for name in (one, other) for query in missing[name]}
    groups = {group: each.scores for group, each in (report.slices or {}).items()}
    return Found(report, verdict, scores, groups, measure, drawn, lacks, table)


def means_of(scores: Mapping[str, Mapping[str, Any]]) -> list[list[Any]]:
    """Return the means of runs with their intervals as rows of a table."""
    return [
        [system, name, score.value, score.low, score.high, score.standard_error, score.chance]
        for system, each in scores.items()
        for name, score in each.items()
    ]


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


def rows_of_query(run: Mappings, qrels: Mappings, query: str, name: str) -> tuple[list[list[str]], str]:
    """Return a query as rows of the table, as a run ranks it, and what they are."""
    ranks, judged = run.get(query, {}), qrels.get(query, {})
    ranked = sorted(ranks, key=ranks.__getitem__, reverse=True)
    missing = sorted((each for each in judged if each not in ranks), key=judged.__getitem__, reverse=True)
    # of what does not fit, the least relevant documents that were not retrieved matter least
    listed = [*ranked[: max(DOCUMENTS // 2, DOCUMENTS - len(missing))], *missing][:DOCUMENTS]
    there = len(ranked) + len(missing)
    cut = "" if len(listed) == there else f", {len(listed)} of {there} documents"
    return [[d, cell_of(judged.get(d)), cell_of(ranks.get(d))] for d in listed], f"Query {query} by {name}{cut}"
