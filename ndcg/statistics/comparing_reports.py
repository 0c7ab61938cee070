"""Compare reports: query by query, or of different queries as independent samples."""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ..files.content import naming_file, parse_json, read_content
from ..measure.messages import InputError, mark, shown
from .comparing import comparison_of
from .comparison import Comparison
from .contest import Contest
from .measured import NO_SLICES, BySystem, Resampling, leave_out_alike, select_present, slices_in
from .notes import shared_notes
from .pairs import Testing, system_names
from .report import Report
from .saved import choices_in, saved_columns, saved_options

Tables = dict[str, pa.Table]  # of queries, by system

NAMED_QUERIES = 5  # named in a message


class OtherQueriesError(ValueError):
    """Reports have different queries."""


def compare_reports(
    reports: Mapping[str, Any],
    *,
    baseline: str | None = None,
    paired: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    margin: float = 0.0,
    corrected_over: Literal["measure", "all"] = "measure",
) -> Comparison:
    """Compare reports as `compare` compares systems, without their rankings.

    Args:
        reports: for every system its report, the result of the report's `to_dict`, or the path of a
            JSON file with that.
        baseline: the system to compare all others with; None for every pair.
        paired: whether the reports have the same queries. If not, their queries are independent
            samples, such as the sessions before and after a release, and the interval and the test
            are Welch's. Only large differences can be found then, because the difficulty of the
            queries varies as well.
        confidence: the confidence level of the intervals, between 0 and 1.
        seed: the random seed of the paired test, as in `compare`.
        alternative: the hypothesis of the tests, as in `compare`.
        margin: the margin of the tests, as in `compare`.
        corrected_over: the p-values that are corrected together, as in `compare`.

    Raises:
        ValueError: the reports were made with different options, or, with `paired`, of different
            queries, weights or slices; without it, they have weights; a file is not a saved report;
            as in `compare`.

    >>> from ndcg import report
    >>> before = report(predictions=[[1, 2], [2, 1], [1, 2]], references=[[1, 0], [1, 0], [0, 1]])
    >>> after = report(predictions=[[2, 1], [2, 1], [2, 1]], references=[[1, 0], [1, 0], [0, 1]])
    >>> (pair,) = compare_reports({"after": after, "before": before}).pairs
    >>> pair.difference, pair.wins, pair.ties, pair.losses
    (0.0, 1, 1, 1)
    """
    resampling = Resampling.parse(confidence, seed)
    testing = Testing.parse(alternative, margin, corrected_over, paired)
    names = system_names(reports, baseline, "reports", "reports")
    loaded = {name: _report(name, reports[name]) for name in names}
    signature = _same_signature(loaded)
    tables = {name: report.queries for name, report in loaded.items()}
    if paired:
        try:
            tables = same_queries(tables)
        except OtherQueriesError as error:
            raise InputError(
                f"have different queries: {error}; {mark('paired', False)} compares the means of "
                "different queries, as independent samples",
                "reports",
            ) from None
        notes = list(_notes_of_paired(tables))
    else:
        if "weight" in tables[names[0]].column_names:
            raise InputError(
                f"have weights, which {mark('paired', False)} does not support; score both "
                "without weights",
                "reports",
            )
        types = {str(table["query"].type) for table in tables.values()}
        if len(types) > 1:
            problem = f"have ids of queries of several types, {' and '.join(sorted(types))}"
            raise InputError(f"{problem}; give all ids the same type", "reports")
        notes = []
    first = tables[names[0]]
    slices = slices_in(first)
    options = saved_options(signature)
    columns: BySystem = {}
    has_slices = False
    for name, table in tables.items():
        columns[name] = saved_columns(table, options.names, signature)
        columns[name]["query"] = np.array(table["query"].to_pylist(), object)
        by = select_present(table, ["slice"])
        has_slices |= by.num_columns > 0
        if not paired or by != select_present(first, ["slice"]):
            slices = NO_SLICES
    if has_slices and not slices.values:
        notes.append("Slices are compared only if all reports have the same queries and slices.")
    if paired:
        leave_out_alike(columns, options)
    notes += shared_notes({name: report.notes for name, report in loaded.items()})
    contest = Contest(options, baseline, resampling, testing)
    return comparison_of(columns, slices, contest, signature, notes)


def _report(name: str, report: Any) -> Report:
    place = f"reports[{shown(name)}]"
    values = report
    if isinstance(report, (str, os.PathLike)):
        path = os.fspath(report)
        place = f"{place}: {path}"
        with naming_file(path):
            values = parse_json(read_content(path))
    elif hasattr(report, "to_dict"):
        # Also a report from another copy of this package.
        values = report.to_dict()
    if not isinstance(values, Mapping) or "signature" not in values:
        raise ValueError(
            f"{place}: must be one report, or the result of its to_dict, also in a JSON file; has "
            "no signature"
        )
    try:
        return Report.from_dict(values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _same_signature(reports: Mapping[str, Report]) -> str:
    (first, report), *others = reports.items()
    for system, other in others:
        if choices_in(other.signature) != choices_in(report.signature):
            raise InputError(
                f"{shown(first)} and {shown(system)} were made with different options, "
                f"{report.signature} and {other.signature}; score both with the same options and "
                "version",
                "reports",
            )
    return report.signature


def same_queries(tables: Tables) -> Tables:
    """Return the tables of queries of reports, all in the order of the first."""
    (first, table_of_first), *others = tables.items()
    ids = table_of_first["query"].to_pylist()
    in_order = {first: table_of_first}
    for name, table in others:
        rows = dict(zip(table["query"].to_pylist(), range(len(table)), strict=True))
        if rows.keys() != set(ids):
            lacking, extra = set(ids) - rows.keys(), rows.keys() - set(ids)
            raise OtherQueriesError(
                f"{some_of(lacking)} only in {first}, {some_of(extra)} only in {name}"
            )
        in_order[name] = table.take(list(map(rows.get, ids)))
        if "weight" not in table.column_names:
            continue
        differs = in_order[name]["weight"].to_numpy() != table_of_first["weight"].to_numpy()
        if differs.any():
            raise InputError(
                f"query {shown(ids[differs.argmax()])} has different weights in {shown(first)} "
                f"and {shown(name)}; score both with the same weights",
                "reports",
            )
    return in_order


def _notes_of_paired(tables: Tables) -> Iterator[str]:
    """Yield notes on queries that may not be the same, of tables in the same order."""
    (first, table_of_first), *others = tables.items()
    ids = table_of_first["query"].to_pylist()
    if ids == list(range(len(ids))):
        yield (
            f"The queries are numbered 0 to {len(ids) - 1:,}, as without ids, and were matched by "
            "number: are they the same in all reports, in the same order?"
        )
    for name, table in others:
        differs = np.zeros(len(table), bool)
        names = {*table.column_names}.intersection(table_of_first.column_names)
        for column in names & {"judged", "relevant"}:
            differs |= table[column].to_numpy() != table_of_first[column].to_numpy()
        differing = int(np.count_nonzero(differs))
        if differing:
            yield f"{name}: queries with other judgments than in {first}: {differing:,}."


def some_of(queries: Collection[Any]) -> str:
    """Return text with the number of queries, and the first of them.

    >>> some_of(["q2", "q1"]), some_of(["q1"]), some_of([])
    ("2 queries ('q1', 'q2')", "1 query ('q1')", 'no query')
    """
    if not queries:
        return "no query"
    first = ", ".join(map(shown, sorted(queries, key=str)[:NAMED_QUERIES]))
    if len(queries) == 1:
        return f"1 query ({first})"
    if len(queries) > NAMED_QUERIES:
        first += ", …"
    return f"{len(queries):,} queries ({first})"
