"""Compare reports: query by query, or of different queries as independent samples."""

import json
import os
from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ..files.content import naming_file, parse_json, read_content
from ..inputs.slices import Slices, slices_of
from ..measure.arguments import OPTIONS
from ..measure.messages import InputError, Message, mark, shown
from ..measure.options import Options
from .comparing import comparison_of
from .comparison import Comparison
from .contest import Contest
from .measured import PerQuery, Resampling, leave_out_alike
from .notes import shared_notes
from .pairs import Testing, system_names
from .report import Report
from .saved import choices_in, saved_columns

NAMED_QUERIES = 5  # named in a message
SAID_AS = {
    "weights": "sample_weight",
    "excluded": "exclude",
    "v": "the version",
}  # names in signatures


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
        reports: for each system its report, the result of the report's `to_dict`, or the path of a
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
    read = {name: _report(name, reports[name]) for name in names}
    signature = _same_signature(read)
    if paired:
        try:
            tables = same_queries(read)
        except OtherQueriesError as error:
            hint = f"{mark('paired', False)} compares the means of different queries, as independent samples"
            raise InputError(f"have different queries: {error}; {hint}", "reports") from None
    else:
        tables = {name: report.queries for name, report in read.items()}
        if "weight" in next(iter(tables.values())).column_names:
            problem = f"have weights, which {mark('paired', False)} does not support; score both without weights"
            raise InputError(problem, "reports")
    options = Options.parse(measures=list(read[names[0]].scores))
    columns = {name: _columns(table, options, signature) for name, table in tables.items()}
    if paired:
        leave_out_alike(columns, options.names)
    contest = Contest(options, baseline, resampling, testing)
    slices = _same_slices(tables) if paired else None
    return comparison_of(
        columns, slices, contest, signature=signature, notes=_notes(read, tables, paired)
    )


def _report(name: str, report: Any) -> Report:
    """Return a report that was passed as a report, as its dict, or as the path of a JSON file."""
    place, values = f"reports[{shown(name)}]", report
    if isinstance(report, (str, os.PathLike)):
        path = os.fspath(report)
        place = f"{place}: {path}"
        with naming_file(path):
            try:
                values = parse_json(read_content(path))
            except json.JSONDecodeError as error:
                raise ValueError(f"is not a report saved as JSON: {error}") from None
    elif hasattr(report, "to_dict"):  # also a report from another copy of this package
        values = report.to_dict()
    if not isinstance(values, Mapping):
        problem = "must be a report, the result of its to_dict, or the path of a JSON file with that result"
        raise ValueError(f"{place}: {problem}; got {shown(values)}")
    if "signature" not in values and all(isinstance(each, Mapping) for each in values.values()):
        raise ValueError(
            f"{place}: holds the reports of {some_of(values, 'system')}; give one of them"
        )
    try:
        return Report.from_dict(values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _same_signature(reports: Mapping[str, Report]) -> str:
    """Return the signature of all reports; if they differ, the error names the options."""
    (first, signature), *others = ((name, report.signature) for name, report in reports.items())
    one = choices_in(signature)
    names = {**SAID_AS, **{option.said_as: option_name for option_name, option in OPTIONS.items()}}
    omitted = {
        option.said_as: str(option.unsaid[0]) for option in OPTIONS.values() if option.unsaid
    }
    for name, each in others:
        other = choices_in(each)
        if differing := [key for key in {**one, **other} if one.get(key) != other.get(key)]:
            values = (
                [side.get(key, omitted.get(key, "not given")) for side in (one, other)]
                for key in differing
            )
            sides = (
                f"{names.get(key, key)} ({a} and {b})"
                for key, (a, b) in zip(differing, values, strict=True)
            )
            problem = f"{shown(first)} and {shown(name)} were made with different options: {', '.join(sides)}"
            raise InputError(f"{problem}; score both with the same options", "reports")
    return signature


def same_queries(reports: Mapping[str, Report]) -> dict[str, pa.Table]:
    """Return the tables of queries of reports, all in the order of the first."""
    (first, report), *others = reports.items()
    ids = report.queries["query"].to_pylist()
    tables = {first: report.queries}
    for name, other in others:
        place = {query: at for at, query in enumerate(other.queries["query"].to_pylist())}
        lacking, extra = [each for each in ids if each not in place], place.keys() - set(ids)
        if lacking or extra:
            only = (some_of(lacking, "query"), some_of(extra, "query"))
            raise OtherQueriesError(f"{only[0]} only in {first}, {only[1]} only in {name}")
        tables[name] = table = other.queries.take([place[each] for each in ids])
        if "weight" in table.column_names and table["weight"] != report.queries["weight"]:
            differs = np.flatnonzero(
                table["weight"].to_numpy() != report.queries["weight"].to_numpy()
            )
            problem = f"query {shown(ids[int(differs[0])])} has different weights in {shown(first)} and {shown(name)}"
            raise InputError(f"{problem}; score both with the same weights", "reports")
    return tables


def _same_slices(tables: Mapping[str, pa.Table]) -> Slices | None:
    """Return the slices of the queries, if all reports have the same."""
    columns = [
        table["slice"] if "slice" in table.column_names else None for table in tables.values()
    ]
    if columns[0] is None or any(each is None or each != columns[0] for each in columns):
        return None
    return slices_of(columns[0], None, len(columns[0]))


def _columns(table: pa.Table, options: Options, signature: str) -> PerQuery:
    """Return the columns of a report's queries."""
    return {
        **saved_columns(table, options.names, signature),
        "query": np.array(table["query"].to_pylist(), object),
    }


def _notes(
    reports: Mapping[str, Report], tables: Mapping[str, pa.Table], paired: bool
) -> list[str]:
    """Return the notes of reports, those that all share without names, and notes on what differs."""
    notes: list[str] = []
    first = next(iter(tables.values()))
    if paired and "judged" in first.column_names:
        for name, table in tables.items():
            alike = [
                table[each].to_numpy() == first[each].to_numpy() for each in ("judged", "relevant")
            ]
            if differing := int(np.count_nonzero(~np.logical_and(*alike))):
                have = "query has" if differing == 1 else "queries have"
                notes.append(
                    f"{name}: {differing:,} {have} other judgments than in {next(iter(tables))}."
                )
    if (
        not paired
        and len({frozenset(table["query"].to_pylist()) for table in tables.values()}) == 1
    ):
        with_pairs = mark("paired", True, said="with paired=True")
        notes.append(
            Message(
                f"All reports have the same queries: {with_pairs}, smaller differences can be found."
            )
        )
    if any("slice" in table.column_names for table in tables.values()) and (
        not paired or not _same_slices(tables)
    ):
        reason = "the reports have different ones" if paired else "the queries are not paired"
        notes.append(f"Slices are not compared, since {reason}.")
    return [*notes, *shared_notes({name: each.notes for name, each in reports.items()})]


def some_of(names: Collection[Any], noun: str) -> str:
    """Return text with the number of queries or systems, and the first of them.

    >>> some_of(["q2", "q1"], "query"), some_of([], "system")
    ("2 queries ('q1', 'q2')", 'no system')
    """
    if not names:
        return f"no {noun}"
    first = ", ".join(map(shown, sorted(names, key=str)[:NAMED_QUERIES]))
    nouns = noun if len(names) == 1 else {"query": "queries"}.get(noun, f"{noun}s")
    return f"{len(names):,} {nouns} ({first}{', …' * (len(names) > NAMED_QUERIES)})"
