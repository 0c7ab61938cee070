"""The results of runs: scores, how they differ, and what to know first."""

import threading
import urllib.parse
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .address import FILES, Address, read_address
from .files import Contents, are_samples, contents_of, offer_of, problem_of
from .html import sentence
from .metric import Options, kept_warnings, ndcg
from .reading import Mappings
from .settings import CONVENTIONS, Offer

RUNS = 20
SCORING = threading.BoundedSemaphore(4)  # comparisons at the same time
Scores = Mapping[str, Mapping[str, Any]]  # by run and measure


class Results(NamedTuple):
    """The results of the runs that could be read."""

    contents: Contents
    problem: str = ""  # why there are no results
    offer: Offer | None = None  # what may help
    reports: Sequence[Any] = ()  # the comparison of several runs; else the report on the run
    scores: Mapping[str, Mapping[str, Any]] = {}  # by run and measure
    pairs: Sequence[Any] = ()
    queries: Sequence[str] = ()
    values: Mapping[tuple[str, str], np.ndarray] = {}  # by query, for a measure and a run
    missing: Mapping[str, list[str]] = {}  # the judged queries that are missing from a run
    audit: Mapping[str, tuple[int, int, int]] = {}
    warnings: Sequence[Any] = ()  # of the metric


def results_of(address: Address) -> Results:
    """Return the results of the files at an address, by its settings."""
    with SCORING:
        return _results_at(key_of(address))


def key_of(address: Address) -> str:
    """Return the part of an address that its results depend on."""
    chosen = {}
    if not are_samples(address):
        chosen = {name: text for name, text in address.chosen.items() if name in FILES}
    return Address(place="compare", settings=address.settings, chosen=chosen).query()


@lru_cache(maxsize=4)  # for choices within the results
def _results_at(query: str) -> Results:
    address, _ = read_address(dict(urllib.parse.parse_qsl(query)))
    with kept_warnings() as warned:
        return _results_of(address)._replace(warnings=warned)


def _results_of(address: Address) -> Results:
    contents = contents_of(address)
    try:
        _refuse_incomplete(contents)
        return _measured(contents, address.settings.options)
    except ValueError as problem:
        says = sentence(problem_of(problem, contents.names))
        return Results(contents, says, offer_of(problem))


def _refuse_incomplete(contents: Contents) -> None:
    """Raise an error for files that cannot be scored yet."""
    if not contents.judgments:
        raise ValueError("There are no judgments yet: choose their file, or add it")
    if not contents.runs:
        raise ValueError("There is no run yet: add its file")
    if len(contents.runs) > RUNS:
        raise ValueError(f"{len(contents.runs)} runs; at most {RUNS} are compared")


def _measured(contents: Contents, options: Options) -> Results:
    runs, judgments = contents.runs, contents.judgments
    in_groups = {**options, "by": contents.by}
    reports: list[Any] = []
    # a single query cannot be tested
    if len(runs) > 1 and len(judgments) > 1:
        comparison = compare_runs(runs, judgments, in_groups)
        reports.append(comparison)
        scores, pairs = comparison.scores, comparison.pairs
    else:
        scores, pairs = {}, ()
        for name, run in runs.items():
            report = ndcg.report(predictions=run, references=judgments, **in_groups)
            reports.append(report)
            scores[name] = report.scores
    values = {}
    for measure in next(iter(scores.values())):
        # one run after another, with its queries in the order of the judgments
        column = np.concatenate([report.queries[measure].to_numpy() for report in reports])
        for name, by_query in zip(runs, column.reshape(len(runs), -1), strict=True):
            values[measure, name] = by_query
    missing, audit = {}, {}
    for name, run in runs.items():
        missing[name] = [query for query in judgments if query not in run]
        documents = sum(map(len, run.values()))
        audit[name] = (documents, len(run), len(run.keys() - judgments.keys()))
    return Results(
        contents,
        reports=reports,
        scores=scores,
        pairs=pairs,
        queries=list(judgments),
        values=values,
        missing=missing,
        audit=audit,
    )


def compare_runs(runs: Mapping[str, Mappings], judgments: Mappings, options: Options) -> Any:
    """Return the comparison of runs.

    A judged query that is missing from one is an error only if the options say so.
    """
    missing = CONVENTIONS[options.get("convention", "sklearn")].missing
    return ndcg.compare(systems=runs, references=judgments, **{"missing": missing, **options})
