"""The results of runs: scores, how they differ, and what to know first."""

import itertools
import math
import threading
import urllib.parse
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .address import Address, read_address
from .files import Contents, File, are_samples, contents_of, offer_of
from .html import sentence
from .metric import ndcg
from .reading import Mappings
from .settings import CONVENTIONS, SIDES, gains_by_label, in_words

RUNS = 20
SCORING = threading.BoundedSemaphore(4)  # comparisons at the same time
OF_RESULTS = ("files", "judgments", "groups", "columns")


class Results(NamedTuple):
    """The results of the runs that could be read."""

    files: tuple[File, ...]
    problem: str  # why there are no results
    offer: tuple[str, str, str] | None  # an option that may help, its word, and the text of a link
    reports: tuple[Any, ...] = ()  # the comparison of several runs; else the report on the run
    scores: Mapping[str, Mapping[str, Any]] = {}  # by run and measure
    pairs: tuple[Any, ...] = ()
    queries: tuple[str, ...] = ()
    values: Mapping[tuple[str, str], np.ndarray] = {}  # of each query, by measure and run
    missing: Mapping[str, tuple[str, ...]] = {}  # the judged queries that are missing from a run
    audit: Mapping[str, tuple[int, int, int]] = {}
    by_trec_eval: Mapping[str, Mapping[str, float]] = {}
    same: Mapping[str, str] = {}  # the first of several equal runs, by the name of another one


def results_of(address: Address) -> Results:
    """Return the results of the files at an address, by its settings."""
    with SCORING:
        return _results_at(key_of(address))


def key_of(address: Address) -> str:
    """Return the part of an address that its results depend on."""
    chosen = {}
    if not are_samples(address):
        chosen = {name: text for name, text in address.chosen.items() if name in OF_RESULTS}
    return Address(place="compare", settings=address.settings, chosen=chosen).query()


@lru_cache(maxsize=4)  # for choices within the results
def _results_at(query: str) -> Results:
    address, _ = read_address(dict(urllib.parse.parse_qsl(query)))
    contents = _with_common_queries(contents_of(address))
    files = contents.files
    obstacle = _obstacle(contents)
    if obstacle:
        return Results(files, obstacle, None)
    try:
        return _measured(contents, address.settings.options)
    except ValueError as problem:
        names = dict(SIDES)
        for file in files:
            if file.role == "judgments":
                names["references"] = file.name
        return Results(files, sentence(in_words(problem, names)), offer_of(problem))


def _obstacle(contents: Contents) -> str:
    """Return why files cannot be scored yet; nothing if they can."""
    roles = {file.role for file in contents.files}
    if not contents.judgments and "judgments" in roles:
        return "The judgments cannot be read yet."
    if not contents.judgments:
        return "Which file holds the judgments? Choose it, or add it."
    if not contents.runs and "run" in roles:
        return "No run can be read yet."
    if not contents.runs:
        return "Add the file of at least one run."
    if len(contents.runs) > RUNS:
        return f"{len(contents.runs)} runs; at most {RUNS} are compared."
    return ""


def _with_common_queries(contents: Contents) -> Contents:
    """Return the contents without the runs that have no query of the judgments."""
    if not contents.judgments:
        return contents
    files, runs = [], dict(contents.runs)
    for file in contents.files:
        run = contents.runs.get(file.run)
        if run is None or run.keys() & contents.judgments.keys():
            files.append(file)
            continue
        del runs[file.run]
        here, there = next(iter(run), "none"), next(iter(contents.judgments))
        ids = f"ids are such as {here!r} here, and {there!r} in the judgments"
        files.append(file._replace(problem=f"No query of it is in the judgments: {ids}."))
    return contents._replace(files=tuple(files), runs=runs)


def _measured(contents: Contents, options: dict[str, Any]) -> Results:
    """Return the scores of runs, and how they differ."""
    runs, judgments = contents.runs, contents.judgments
    by = None
    if contents.groups is not None:
        by = {query: contents.groups.get(query) for query in judgments}
    given = {**options, "by": by, "sample_weight": contents.weights}
    reports, scores, pairs, rows = [], {}, (), []
    # a single query cannot be tested
    if len(runs) > 1 and len(judgments) > 1:
        comparison = compare_runs(runs, judgments, given)
        reports, scores, pairs = [comparison], comparison.scores, comparison.pairs
        rows = comparison.queries.to_pylist()
    else:
        for name, run in runs.items():
            report = report_on(run, judgments, given)
            reports.append(report)
            scores[name] = report.scores
            rows += [{**row, "system": name} for row in report.queries.to_pylist()]
    missing, audit = {}, {}
    for name, run in runs.items():
        missing[name] = tuple(query for query in judgments if query not in run)
        documents = sum(map(len, run.values()))
        audit[name] = (documents, len(run), len(run.keys() - judgments.keys()))
    measures = list(next(iter(scores.values())))
    return Results(
        contents.files,
        "",
        None,
        tuple(reports),
        scores,
        tuple(pairs),
        tuple(judgments),
        _values(rows, measures, list(judgments), list(runs)),
        missing=missing,
        audit=audit,
        by_trec_eval=scores_by_trec_eval(runs, judgments, options, scores),
        same=_same(runs),
    )


def _values(
    rows: list[dict[str, Any]], measures: list[str], queries: list[str], runs: list[str]
) -> dict[tuple[str, str], np.ndarray]:
    """Return the values of queries by measure and run, in the order of the judgments."""
    places = {query: place for place, query in enumerate(queries)}
    values = {}
    for measure, run in itertools.product(measures, runs):
        values[measure, run] = np.full(len(queries), math.nan)
    for row in rows:
        place = places[row["query"]]
        for measure in measures:
            if row[measure] is not None:
                values[measure, row["system"]][place] = row[measure]
    return values


def _same(runs: Mapping[str, Mappings]) -> dict[str, str]:
    """Return the first of several equal runs, by the name of another one."""
    same: dict[str, str] = {}
    for name, run in runs.items():
        first = next(other for other in runs if runs[other] == run)
        if first != name:
            same[name] = first
    return same


def scores_by_trec_eval(
    runs: Mapping[str, Mappings],
    judgments: Mappings,
    options: dict[str, Any],
    scores: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, float]]:
    """Return the scores by trec_eval of the runs in which the order of tied documents matters."""
    if options["ties"] == "docid" or gains_by_label(options):  # trec_eval reads numbers
        return {}
    options = {**options, **CONVENTIONS["trec_eval"].options}
    by_trec_eval = {}
    for name, by_measure in scores.items():
        if any(score.tied for score in by_measure.values()):
            given = {"predictions": runs[name], "references": judgments}
            by_trec_eval[name] = ndcg.compute(**given, **options)
    return by_trec_eval


def report_on(run: Mappings, judgments: Mappings | str, options: Mapping[str, Any]) -> Any:
    """Return the report on a run."""
    return ndcg.report(predictions=run, references=judgments, **options)


def compare_runs(
    runs: Mapping[str, Mappings], judgments: Mappings | str, options: Mapping[str, Any]
) -> Any:
    """Return the comparison of runs.

    A judged query that is missing from one is an error only if the options say so.
    """
    missing = CONVENTIONS[options.get("convention", "sklearn")].missing
    return ndcg.compare(systems=runs, references=judgments, **{"missing": missing, **options})
