"""The commands: each reads files, calls the functions of the package, and returns a `Listing`."""

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explanations.explanation import explain
from ..files.groups import path_of
from ..inputs.hashes import digest_of
from ..inputs.reading import Inputs
from ..measure.arguments import text_of_gain
from ..measure.messages import worded
from ..measure.options import Options, result_name, whole
from ..scores.preview import preview
from ..scores.results import score_inputs
from ..show.tables import Table, cell_text, count_text, level_text
from ..statistics.comparison import PLACES
from ..statistics.measured import Score, affected_by_ties, mean_table
from ..statistics.notes import shared_notes
from ..statistics.report import Report, plot_reports
from ..statistics.slice_means import queries_in_slices, slice_rows, slices_in_mean
from .checking import check_function
from .comparing import compare_runs
from .flags import ARGUMENTS, POSITIONAL, flag_of
from .gate import gate_run
from .lowest import MISSED_AND_BEFORE, lowest_queries
from .output import FIRST, Listing, Row, save_plot, worst_of
from .sides import Sides, scoring

OPTIONAL = {each.name for group in ARGUMENTS.values() for each in group}.difference(POSITIONAL)
WORDS = {name: flag_of(name) for name in OPTIONAL} | {
    "predictions": "run",
    "references": "qrels",
    "file": "",  # the message names the file
    "None": "",  # an option that is not given, or an empty cell
    "cutoffs": "all, or several with commas",
    "report": "ndcg score",
    "preview": "ndcg preview",
    "known discount": "--discount",
    "forms of gain": "as 0,1,3, or label=gain,...",
}


def answer(args: argparse.Namespace) -> Listing:
    """Run a command and return its output."""
    if args.output == "junit" and args.command != "gate":
        raise ValueError("only ndcg gate writes -o junit; choose another format")
    signature_alone = getattr(args, "signature", False)
    if args.output == "junit" and signature_alone:
        raise ValueError("--signature has no test cases for -o junit; choose another format")
    if signature_alone and getattr(args, "reports", False):
        raise ValueError("--signature prints the signature of options; saved reports have theirs")
    try:
        whole("places", getattr(args, "places", 4), 0, PLACES)
        if signature_alone:
            signature = Options.parse(**scoring(args)).signature(excluding=args.exclude is not None)
            return Listing([], [], signature, [{"signature": signature}], {"signature": signature})
        listing = COMMANDS[args.command](args)
        return replace(listing, sentences=[worded(each, in_shell) for each in listing.sentences])
    except ValueError as error:
        raise ValueError(worded(error, in_shell)) from None


def in_shell(said: str, name: str, *values: Any) -> str:
    """Return an option as it is set in the shell, or an argument by its name there.

    >>> in_shell("k=None", "k", None), in_shell("k", "k"), in_shell("judged_only=True", "judged_only", True)
    ('-k all', '-k', '--judged-only')
    >>> in_shell("", "fields", {"query": None, "document": "docno"})
    '--query - --document docno'
    >>> in_shell("", "gain", {"not relevant": "...", "yes": "..."})
    '--gain "not relevant=...,yes=..."'
    """
    if name == "fields":
        return " or ".join(" ".join(map(_field_flag, each, each.values())) for each in values)
    if name == "cutoff of nDCG":
        return f"-m {result_name('nDCG', *values)} or {in_shell(said, 'k', *values)}"
    if name == "paired":
        return "without --unpaired" if values[0] else "--unpaired"
    if name in ("systems", "options"):
        return str(values[-1])
    if name not in WORDS:
        return said
    if name == "gain" and values and isinstance(values[0], dict):
        return f'{WORDS[name]} "{text_of_gain(values[0])}"'
    settings = " or ".join(map(_setting, values))
    return f"{WORDS[name]} {settings}" if settings else WORDS[name]


def _setting(value: Any) -> str:
    """Return a value as it is written after its option; nothing after a flag."""
    if isinstance(value, list):
        return ",".join(map(_setting, value))
    return "" if value is True else "all" if value is None else str(value)


def _field_flag(field: str, name: Any) -> str:
    """Return how the name of a field, or a pair of names, is given; "..." stands for a name that the user knows."""
    names = name if isinstance(name, (list, tuple)) else [name]
    given = ",".join("-" if each is None else "NAME" if each == "..." else each for each in names)
    return f"--{field} {shlex.quote(given)}"


def _preview(args: argparse.Namespace) -> Listing:
    """Return what is read of the files, and the documents of the first query."""
    sides = Sides.read(args, [args.run])
    (run,) = sides.runs.values()
    found = preview(predictions=run, **sides.shared)
    rows = [{"query": found.query, **row} for row in found.documents]
    return Listing(found.tables(), found.remarks(), "", rows, found.to_dict())


def _score(args: argparse.Namespace) -> Listing:
    """Return the means of runs with their intervals, or the values of all queries."""
    if not args.runs:
        return _score_ideal(args)
    sides = Sides.read(args, args.runs)
    reports = {name: sides.report(name) for name in sides.runs}
    one = next(iter(reports.values()))
    save_plot(one.plot if len(reports) == 1 else partial(plot_reports, reports), args.plot)
    tables, rows = (_by_query if args.by_query else _means)(reports, args)
    notes = shared_notes({run: report.notes for run, report in reports.items()})
    judgments = {"judgments": digest_of(sides.qrels)}
    saved = {name: report.to_dict() | judgments for name, report in reports.items()}
    if (worst := worst_of(args, 0)) != 0:
        rows, notes = [], [*notes, MISSED_AND_BEFORE]
        for name, report in reports.items():
            table, of_run = lowest_queries(sides, name, report, worst, args.places)
            tables, rows, saved[name]["worst"] = [*tables, table], [*rows, *of_run], of_run
    whole_answer = saved.popitem()[1] if len(saved) == 1 else saved
    return Listing(tables, notes, one.signature, rows, whole_answer)


def _score_ideal(args: argparse.Namespace) -> Listing:
    """Return the mean IDCG of judgments, which needs no run."""
    options = Options.parse(**scoring(args))
    of_runs = [flag_of(name) for name in ("by_query", "by", "worst", "plot") if getattr(args, name)]
    if options.measures != ("IDCG",) or of_runs:
        raise ValueError(
            f"RUN is missing; only the mean of -m IDCG needs none{f', not {of_runs[0]}' if of_runs else ''}"
        )
    sides = Sides.read(args, [])
    found = score_inputs(Inputs(None, sides.qrels, exclude=sides.exclude), options)
    rows: list[Row] = [{"measure": name, "value": value} for name, value in found.items()]
    cells = [
        ["measure", "mean"],
        *([name, cell_text(value, args.places)] for name, value in found.items()),
    ]
    signature = options.signature(excluding=sides.exclude is not None)
    return Listing([cells], [], signature, rows, {"scores": found, "signature": signature})


def _means(
    reports: Mapping[str, Report], args: argparse.Namespace
) -> tuple[list[Table], list[Row]]:
    """Return tables of the means of runs, and of their slices, with their intervals."""
    runs = list(reports.items())
    level, places = level_text(args.confidence), args.places
    of_runs = [(report.scores, report.counts["queries"]) for _, report in runs]
    tables = [mean_table([["run"], *([run] for run, _ in runs)], of_runs, level, places)]
    slices = [
        (run, *row)
        for run, report in runs
        for row in slice_rows(report.slices, report.mean_of_slices)
    ]
    if slices:
        names = [["run", "slice"], *([run, name] for run, name, _, _ in slices)]
        tables.append(
            mean_table(names, [(scores, queries) for *_, scores, queries in slices], level, places)
        )
    rows: list[Row] = []
    for run, report in runs:
        rows += _score_rows({"run": run}, report.scores, report.counts["queries"])
        for value, part in report.slices.items():
            rows += _score_rows({"run": run, "slice": value}, part.scores, part.queries)
        of_mean = {"run": run, "slices": slices_in_mean(report.slices)}
        rows += _score_rows(of_mean, report.mean_of_slices, queries_in_slices(report.slices))
    return tables, rows


def _score_rows(of_what: Row, scores: Mapping[str, Score], queries: int) -> list[Row]:
    """Return a machine-readable row for each mean, with the numbers of queries in it and of skipped queries."""
    return [
        {
            **of_what,
            "measure": name,
            "queries": score.queries,
            "left_out": score.left_out(queries),
            **score._asdict(),
        }
        for name, score in scores.items()
    ]


def _by_query(
    reports: Mapping[str, Report], args: argparse.Namespace
) -> tuple[list[Table], list[Row]]:
    """Return a table of the values of all queries of each run, and their means."""
    one = next(iter(reports.values()))
    names = ["query", *["slice"] * ("slice" in one.queries.column_names), *one.scores]
    rows: list[Row] = []
    for run, report in reports.items():
        rows += [{"run": run, **row} for row in report.queries.select(names).to_pylist()]
        rows.append(
            {
                "run": run,
                "query": "all",
                **{name: score.value for name, score in report.scores.items()},
            }
        )
    header = ["run", *names] if len(reports) > 1 else names
    cells = [[cell_text(row.get(name, ""), args.places) for name in header] for row in rows]
    return [[header, *cells]], rows


def _audit(args: argparse.Namespace) -> Listing:
    """Return what affects the reliability of a score: ties, unjudged documents, a random order, missing queries."""
    sides = Sides.read(args, [args.run])
    ((name, run),) = sides.runs.items()
    report, missing = sides.report_and_missing(name)
    columns = ("queries", "mean", "random order", "min–max over tie orders", "unjudged")
    measures = [["measure", *columns]]
    for name, score in report.scores.items():
        cells = score.cells(report.resampling.level, args.places, queries=report.counts["queries"])
        measures.append([name, *(cells[each] for each in columns)])
    queries = [["finding", "queries", "examples"]]
    rows: list[Row] = []
    judged, ranked = (side.query_ids.to_pylist() for side in (sides.qrels, run))
    for finding, (number, names) in _findings(report, missing, judged, ranked).items():
        queries.append(
            [
                finding,
                count_text(number),
                ", ".join(map(str, names[:FIRST])) + ", …" * (len(names) > FIRST),
            ]
        )
        rows.append(
            {"finding": finding, "value": number, "queries": " ".join(map(str, names[:FIRST]))}
        )
    for name, score in report.scores.items():
        for figure in (
            "value",
            "queries",
            "random_order",
            "worst",
            "best",
            "tied",
            "ranked",
            "unjudged",
        ):
            rows.append(
                {
                    "finding": f"{figure.replace('_', ' ')} {name}",
                    "value": getattr(score, figure),
                    "queries": "",
                }
            )
    whole_answer = report.to_dict() | {"findings": rows}
    return Listing([measures, queries], report.notes, report.signature, rows, whole_answer)


def _findings(
    report: Report, missing: NDArray[np.bool_], judged: Sequence[Any], ranked: Sequence[Any]
) -> dict[str, tuple[int, Sequence[Any]]]:
    """Return the number of queries for each finding, and their ids if the output lists them."""
    first = next(iter(report.scores))
    ids = np.array(report.queries["query"].to_pylist(), object)
    worst, best = (report.queries[f"{order} {first}"].to_numpy() for order in ("worst", "best"))
    tied = ids[affected_by_ties(worst, best)]
    in_qrels = set(judged)
    extra = [each for each in ranked if each not in in_qrels]
    return {
        "judged": (len(judged), []),
        "missing from the run": (int(missing.sum()), ids[missing]),
        "only in the run": (len(extra), extra),
        "no relevant documents": (
            report.counts["nothing_relevant"],
            ids[report.queries["relevant"].to_numpy() == 0],
        ),
        "all documents relevant": (report.counts["all_relevant"], []),
        f"affected by ties ({first})": (len(tied), tied),
    }


def _explain(args: argparse.Namespace) -> Listing:
    """Return the conventions that give a score."""
    sides = Sides.read(args, [args.run])
    (run,) = sides.runs.values()
    options = sides.shared
    parsed = Options.parse(k=options.pop("k", None), measures=options.pop("measures", "nDCG"))
    if parsed.measures != ("nDCG",):
        raise ValueError("-m must be nDCG, such as nDCG@10: explain knows no other measure")
    (k, *others) = parsed.cutoffs
    if others:
        raise ValueError("-k must be one cutoff, since a score has one")
    got = None if args.got is None else path_of(args.got)
    found = explain(predictions=run, k=k, got=got, between=args.between, **options)
    save_plot(found.plot, args.plot)
    rows = [
        {
            "convention": name,
            "score": score,
            "matches": name in found.matches,
            "error": found.errors.get(name),
        }
        for name, score in found.scores.items()
    ]
    return Listing(found.tables(), found.remarks(), found.signature, rows, found.to_dict())


COMMANDS: dict[str, Callable[[argparse.Namespace], Listing]] = {
    "preview": _preview,
    "score": _score,
    "compare": compare_runs,
    "gate": gate_run,
    "audit": _audit,
    "explain": _explain,
    "check": check_function,
}
