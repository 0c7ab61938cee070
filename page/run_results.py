"""Results of uploaded runs: their names, their scores, which is better, and how sure that is."""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from .choices import CONVENTIONS, DOCUMENTS, LABELS, cell_of
from .metric import ndcg, tables
from .uploads import Mappings, read_upload

RUNS = 5
FORM = re.compile(r"(?i)(\.(trec|run|txt|csv|tsv|parquet|jsonl?))?(\.(gz|zst))?$")  # how a name may end


class RunResults(NamedTuple):
    """The results of runs.

    Attributes:
        report: the report on one run, or the comparison of several, with differences of a better run minus a worse one.
        verdict: it in sentences.
        tied: the effect of the order of tied documents on the scores, in sentences.
        scores: the scores of each run, best first.
        groups: the scores in each group of queries, by run.
        measure: the measure that is shown query by query.
        drawn: a value for each query, in the order of the bars; of several runs the difference of the best two.
        lacks: the run that lacks a query.
        table: every query.
    """

    report: Any
    verdict: list[str]
    tied: list[str]
    scores: dict[str, Any]
    groups: dict[Any, dict[str, Any]]
    measure: str
    drawn: pd.DataFrame
    lacks: dict[str, str]
    table: pd.DataFrame


def score_one(
    runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], by: Any, chosen: str
) -> RunResults:
    """Return the results of one run, its worst queries first."""
    ((name, run),) = runs.items()
    report = report_on(run, qrels, {**options, "by": by})
    measure = chosen if chosen in report.scores else next(iter(report.scores))
    verdict = [f"{name} has {measure} {report.scores[measure].value:.3f}.", *missing_texts(runs, qrels, options)]
    tied = tie_texts(runs, qrels, options, {name: report.scores[measure]}, measure)
    table = report.queries.to_pandas()[["query", *report.scores, "retrieved", "judged", "relevant"]]
    drawn = table[["query", measure]].sort_values(measure)
    groups = {group: {name: each.scores} for group, each in report.slices.items()}
    return RunResults(report, verdict, tied, {name: report.scores}, groups, measure, drawn, {}, table)


def compare_several(
    runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], by: Any, chosen: str
) -> RunResults:
    """Return the results of several runs, the queries first in which the best is behind most."""
    report = compare_runs(runs, qrels, {**options, "by": by})
    measure = chosen if chosen in report.measures else report.measures[0]
    report = best_first(report, measure)
    scores = report.scores
    one, other, *_ = scores
    corrected = len(report.pairs) > len(report.measures)
    verdict = [verdict_on(pair, corrected) for pair in report.pairs if pair.measure == measure]
    verdict += missing_texts(runs, qrels, options)
    tied = tie_texts(runs, qrels, options, {name: each[measure] for name, each in scores.items()}, measure)
    values = report.queries.to_pandas().pivot(index="query", columns="system", values=report.measures).loc[list(qrels)]
    less = (values[measure][one] - values[measure][other]).rename(f"{one} − {other}")
    drawn = less.sort_values(kind="stable").reset_index()
    lacks = {query: name for name in (one, other) for query in qrels.keys() - runs[name].keys()}
    groups = {group: each.scores for group, each in report.slices.items()}
    table = _table_of(values, list(runs), list(scores))
    return RunResults(report, verdict, tied, scores, groups, measure, drawn, lacks, table)


def best_first(report: Any, measure: str) -> Any:
    """Return a comparison with the best run by a measure first; each difference is a better run less a worse one."""
    scores = dict(sorted(report.scores.items(), key=lambda each: -each[1][measure].value))
    at = {name: place for place, name in enumerate(scores)}

    def turned(pair: Any) -> Any:
        return pair if at[pair.system] < at[pair.other] else pair.turned()

    slices = {name: each._replace(pairs=tuple(map(turned, each.pairs))) for name, each in report.slices.items()}
    return replace(report, scores=scores, pairs=tuple(map(turned, report.pairs)), slices=slices)


def _table_of(values: pd.DataFrame, runs: Sequence[str], best: Sequence[str]) -> pd.DataFrame:
    """Return each query's value by each run, measure by measure, and then how far the best run is above each other."""
    measures = list(dict.fromkeys(values.columns.get_level_values(0)))
    columns = {f"{run} {measure}": values[measure][run] for measure in measures for run in runs}
    first, *others = best
    columns |= {
        f"{first} − {other} {measure}": values[measure][first] - values[measure][other]
        for measure in measures
        for other in others
    }
    return pd.DataFrame(columns).reset_index()


def means_of(scores: Mapping[str, Mapping[str, Any]]) -> list[list[Any]]:
    """Return the means of runs with their intervals as rows of a table."""
    return [
        [system, name, score.value, score.low, score.high, score.standard_error, score.random_order, score.queries]
        for system, each in scores.items()
        for name, score in each.items()
    ]


def verdict_on(pair: Any, corrected: bool) -> str:
    """Return by how much the first of two runs is better, and how sure that is, in a sentence."""
    p = pair.p_holm if corrected else pair.p
    counts = f"won {pair.wins}, tied {pair.ties}, lost {pair.losses}"
    sure = f"(95% interval {pair.low:.3f} to {pair.high:.3f}, p = {p:.2g}; {counts})"
    better, worse, by = pair.system, pair.other, f"{abs(pair.difference):.3f}"
    if p < tables.SIGNIFICANT:
        return f"{better} beats {worse} by {by} in {pair.measure} {sure}."
    return f"{better} is {by} above {worse} in {pair.measure}, which may be due to chance {sure}."


def missing_texts(runs: Mapping[str, Mappings], qrels: Mappings, options: Mapping[str, Any]) -> list[str]:
    """Return which queries are missing from each run and how they count, in a sentence for each such run."""
    texts = []
    one, many = ("is skipped", "are skipped") if options["missing"] == "skip" else ("counts as 0", "count as 0")
    for name, run in runs.items():
        lacking = [query for query in qrels if query not in run]
        some = ", ".join(lacking[:3]) + (", …" if len(lacking) > 3 else "")
        if len(lacking) == 1:
            texts.append(f"One query, {some}, is missing from {name} and {one}.")
        elif lacking:
            texts.append(f"{len(lacking):,} queries are missing from {name} and {many}: {some}.")
    return texts


def tie_texts(
    runs: Mapping[str, Mappings], qrels: Mappings, options: dict[str, Any], scores: Mapping[str, Any], measure: str
) -> list[str]:
    """Return the effect of ties on a measure here and in trec_eval, in a sentence for each run in which they differ."""
    texts = []
    as_trec_eval = options | CONVENTIONS["trec_eval"].options
    for name, score in scores.items():
        if not score.tied or options["ties"] == "docid":
            continue
        here = f"{score.value:.4f}"
        there = f"{ndcg.compute(predictions=runs[name], references=qrels, **as_trec_eval)[measure]:.4f}"
        if here != there:
            which = "One query has" if score.tied == 1 else f"{score.tied:,} queries have"
            texts.append(
                f"{which} tied documents in {name}, and their order matters: with {LABELS['ties'].lower()} set to "
                f"{options['ties']}, {measure} is {here}; trec_eval orders them by id and gets {there}."
            )
    return texts


def audit_row(name: str, run: Mappings, qrels: Mappings, score: Any) -> list[Any]:
    """Return the facts to check before believing the score of a run."""
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


def read_files(
    qrels_file: str | None, run_files: list[str] | None, only: Collection[str] | None = None
) -> tuple[Mappings, dict[str, Mappings]]:
    """Read the qrels, and the runs by their names, all or only some."""
    if not qrels_file or not run_files:
        raise ValueError("Upload the qrels and at least one run.")
    if len(run_files) > RUNS:
        raise ValueError(f"{len(run_files)} runs; at most {RUNS} are compared.")
    qrels = read_upload(qrels_file, "qrels")
    files = run_names(run_files)
    return qrels, {name: read_upload(files[name], "run") for name in files if only is None or name in only}


def misplaced(qrels_file: str | None, run_files: list[str] | None) -> int | None:
    """Return which of the runs' files holds the qrels if their own file holds a run; None if none does.

    Files that can be read in their own place decide nothing.
    """
    if not qrels_file or not run_files or not _reads(qrels_file, "run"):
        return None
    in_place = _reads(qrels_file, "qrels")
    found = [
        at
        for at, path in enumerate(run_files[:RUNS])
        if _reads(path, "qrels") and not (in_place and _reads(path, "run"))
    ]
    return found[0] if len(found) == 1 else None


def look_swapped(qrels: Mappings, runs: Mapping[str, Mappings]) -> int | None:
    """Return the only run of whole numbers, if the qrels have fractions; None if they do not look swapped."""
    whole = [at for at, run in enumerate(runs.values()) if not _has_fractions(run)] if _has_fractions(qrels) else []
    return whole[0] if len(whole) == 1 else None


def _has_fractions(side: Mappings) -> bool:
    return any(value % 1 for documents in side.values() for value in documents.values())


def _reads(path: str, kind: str) -> bool:
    try:
        read_upload(path, kind)
    except ValueError:
        return False
    return True


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
    """Return the comparison of runs; a judged query that is missing from one is an error only if the options say so."""
    missing = CONVENTIONS[options.get("convention", "sklearn")].missing
    return ndcg.compare(systems=runs, references=qrels, **{"missing": missing, **options})


def rows_of_query(run: Mappings, qrels: Mappings, query: str, name: str) -> tuple[list[list[str]], str]:
    """Return a query as rows of the table, as a run ranks it, and a description of the rows."""
    ranks, judged = run.get(query, {}), qrels.get(query, {})
    ranked = sorted(ranks, key=ranks.__getitem__, reverse=True)
    missing = sorted((each for each in judged if each not in ranks), key=judged.__getitem__, reverse=True)
    # if some do not fit, the least relevant documents that were not retrieved matter least
    listed = [*ranked[: max(DOCUMENTS // 2, DOCUMENTS - len(missing))], *missing][:DOCUMENTS]
    there = len(ranked) + len(missing)
    cut = "" if len(listed) == there else f", {len(listed)} of {there} documents"
    return [[d, cell_of(judged.get(d)), cell_of(ranks.get(d))] for d in listed], f"Query {query} by {name}{cut}"
