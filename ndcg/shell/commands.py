"""The commands: they read files, call the functions of the package, and return a `Listing`."""

import shlex
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ..explanations.explanation import explain
from ..files.groups import path_of
from ..inputs.hashes import digest_of
from ..inputs.reading import Inputs
from ..measure.arguments import text_of_gain
from ..measure.messages import brief, worded
from ..measure.options import Options, result_name, whole
from ..measure.ties import Mask
from ..scores.preview import preview
from ..scores.results import score_inputs
from ..show.tables import Table, cell_text, count_text, level_text
from ..statistics.comparison import PLACES
from ..statistics.measured import Score, Slice, affected_by_ties, mean_table, slice_rows
from ..statistics.notes import shared_notes
from ..statistics.report import Report
from .checking import check_function
from .comparing import compare_runs
from .flags import ARGUMENTS, POSITIONAL, flag_of
from .gate import gate_run
from .lowest import MISSED_AND_BEFORE, lowest_queries
from .output import FIRST, Listing, Row, only_cutoff, save_plot, worst_of
from .sides import Sides, scoring

NAMES = [argument.name for group in ARGUMENTS.values() for argument in group]
WORDS = {name: flag_of(name) for name in NAMES if name not in POSITIONAL} | {
    "predictions": "run",
    "references": "qrels",
    "file": "",  # the message names the file
    "pandas": "",
    "query_ids": "",  # files name their queries
    "None": "",  # an option that is not given, or an empty cell
    "cutoffs": "all, or several with commas",
    "report": "ndcg score",
    "paired": "--unpaired",
    "swapped": "are both files swapped? QRELS comes first",
    "preview": "ndcg preview",
    "forms of gain": "as 0,1,3, or label=gain,...",
}
# What is written for names of fields that are no names: none, and one that the user knows.
WORDS_OF_NAMES: dict[Any, str] = {None: "-", "...": "NAME"}
# The figures of a measure in the rows of `ndcg audit`.
AUDITED = ("value", "queries", "random_order", "worst", "best", "tied", "ranked", "unjudged")


def answer(args: Namespace) -> Listing:
    """Run a command and return its output."""
    command = COMMANDS[args.command]
    if getattr(args, "signature", False):
        command = _signature
    try:
        whole("places", getattr(args, "places", 4), 0, PLACES)
        listing = command(args)
        sentences = [worded(sentence, in_shell) for sentence in listing.sentences]
        return replace(listing, sentences=sentences)
    except ValueError as error:
        raise ValueError(worded(error, in_shell)) from None


def in_shell(said: str, name: str, *values: Any) -> str:
    """Return an option as it is set in the shell, or an argument by its name there.

    >>> in_shell("k=None", "k", None), in_shell("k", "k")
    ('-k all', '-k')
    >>> in_shell("judged_only=True", "judged_only", True)
    '--judged-only'
    >>> in_shell("", "fields", {"query": None, "document": "docno"})
    '--query - --document docno'
    >>> in_shell("", "gain", {"not relevant": "...", "yes": "..."})
    '--gain "not relevant=...,yes=..."'
    """
    if name == "fields":
        return " or ".join(map(_field_flags, values))
    if name == "cutoff of nDCG":
        return f"-m {result_name('nDCG', *values)} or {in_shell(said, 'k', *values)}"
    # These have the words of the shell as their last value.
    if name in ("systems", "options"):
        return str(values[-1])
    if name not in WORDS:
        return said
    settings = " or ".join(map(_setting, values))
    return f"{WORDS[name]} {settings}".rstrip()


def _setting(value: Any) -> str:
    """Return a value as it is written after its option; nothing after a flag."""
    if isinstance(value, dict):
        return f'"{text_of_gain(value)}"'
    if isinstance(value, list):
        return ",".join(map(_setting, value))
    if isinstance(value, bool):
        return ""
    if value is None:
        return "all"
    return str(value)


def _field_flags(fields: Mapping[str, Any]) -> str:
    """Return how fields are given: a name, or a pair of names of the run and the qrels."""
    flags = []
    for field, given in fields.items():
        names = given if isinstance(given, (list, tuple)) else [given]
        if list(names) == ["...", "..."]:
            names = ["RUN_NAME", "QRELS_NAME"]
        words = [str(WORDS_OF_NAMES.get(name, name)) for name in names]
        flags.append(f"--{field} {shlex.quote(','.join(words))}")
    return " ".join(flags)


def _signature(args: Namespace) -> Listing:
    if args.output == "junit":
        raise ValueError("--signature has no test cases for -o junit; choose another format")
    if getattr(args, "reports", False):
        raise ValueError("--signature prints the signature of options; saved reports have theirs")
    signature = Options.parse(**scoring(args)).signature(excluding=args.exclude is not None)
    return Listing([], [], signature, [{"signature": signature}], {"signature": signature})


def _preview(args: Namespace) -> Listing:
    sides = Sides.read(args, [args.run])
    (run,) = sides.runs.values()
    result = preview(predictions=run, **sides.shared)
    rows = [{"query": result.query, **row} for row in result.documents]
    return Listing(result.tables(), result.remarks(), "", rows, result.to_dict())


def _score(args: Namespace) -> Listing:
    if not args.runs:
        return _score_ideal(args)
    if args.plot and len(args.runs) > 1:
        raise ValueError("--plot draws one run; ndcg compare --plot draws several")
    sides = Sides.read(args, args.runs)
    reports = {name: sides.report(name) for name in sides.runs}
    first = next(iter(reports.values()))
    save_plot(first.plot, args.plot)
    if args.by_query:
        tables, rows = _by_query(reports, args)
    else:
        tables, rows = _means(reports, args)
    notes = shared_notes({run: report.notes for run, report in reports.items()})
    judgments = {"judgments": digest_of(sides.qrels)}
    saved = {name: report.to_dict() | judgments for name, report in reports.items()}
    worst = worst_of(args, 0)
    if worst != 0:
        # These queries take the place of the means in the rows of -o tsv and -o jsonl.
        rows = []
        notes = [*notes, MISSED_AND_BEFORE]
        for name, report in reports.items():
            table, run_rows = lowest_queries(sides, name, report, worst, args.places)
            tables = [*tables, table]
            rows += run_rows
            saved[name]["worst"] = run_rows
    whole_answer: Any = saved
    if len(saved) == 1:
        whole_answer = next(iter(saved.values()))
    return Listing(tables, notes, first.signature, rows, whole_answer)


def _score_ideal(args: Namespace) -> Listing:
    options = Options.parse(**scoring(args))
    flags = [flag_of(name) for name in ("by_query", "by", "worst", "plot") if getattr(args, name)]
    # A mean alone is computed, without intervals, values of queries or slices.
    if options.measures != ("IDCG",) or flags:
        exception = f", not {flags[0]}" if flags else ""
        raise ValueError(f"RUN is missing; only the mean of -m IDCG needs none{exception}")
    sides = Sides.read(args, [])
    means: Any = score_inputs(Inputs(None, sides.qrels, exclude=sides.exclude), options)
    rows: list[Row] = [{"measure": name, "value": value} for name, value in means.items()]
    table = [["measure", "mean"]]
    table += [[name, cell_text(value, args.places)] for name, value in means.items()]
    signature = options.signature(excluding=sides.exclude is not None)
    return Listing([table], [], signature, rows, {"scores": means, "signature": signature})


def _means(reports: Mapping[str, Report], args: Namespace) -> tuple[list[Table], list[Row]]:
    level, places = level_text(args.confidence), args.places
    means, slices = [], []
    rows: list[Row] = []
    for run, report in reports.items():
        queries = report.counts["queries"]
        means.append(([run], Slice(queries, report.scores)))
        rows += _score_rows({"run": run}, report.scores, queries)
        for title, part, cells in slice_rows(report):
            slices.append(([run, title], part))
            rows += _score_rows({"run": run, **cells}, part.scores, part.queries)
    tables = [mean_table(["run"], means, level, places)]
    if slices:
        tables.append(mean_table(["run", "slice"], slices, level, places))
    return tables, rows


def _score_rows(names: Row, scores: Mapping[str, Score], queries: int) -> list[Row]:
    """Return the means as machine-readable rows, with the queries in them and left out."""
    rows = []
    for measure, score in scores.items():
        counts = {"queries": score.queries, "left_out": queries - score.queries}
        rows.append({**names, "measure": measure, **counts, **score._asdict()})
    return rows


def _by_query(reports: Mapping[str, Report], args: Namespace) -> tuple[list[Table], list[Row]]:
    """Return a table of the values of all queries of all runs, and their means."""
    first = next(iter(reports.values()))
    names = ["query"]
    if "slice" in first.queries.column_names:
        names.append("slice")
    names += first.scores
    rows: list[Row] = []
    for run, report in reports.items():
        rows += [{"run": run, **row} for row in report.queries.select(names).to_pylist()]
        means = {name: score.value for name, score in report.scores.items()}
        rows.append({"run": run, "query": "all", **means})
    # The name of a single run needs no column.
    header = ["run", *names] if len(reports) > 1 else names
    cells = [[cell_text(row.get(name, ""), args.places) for name in header] for row in rows]
    return [[header, *cells]], rows


def _audit(args: Namespace) -> Listing:
    sides = Sides.read(args, [args.run])
    ((name, run),) = sides.runs.items()
    report, missing = sides.report_and_missing(name)
    columns = ("queries", "mean", "random order", "min–max over tie orders", "unjudged")
    measures = [["measure", *columns]]
    for measure, score in report.scores.items():
        cells = score.cells(report.resampling.level, args.places, queries=report.counts["queries"])
        measures.append([measure, *(cells[column] for column in columns)])
    queries = [["finding", "queries", "examples"]]
    rows: list[Row] = []
    judged, ranked = sides.qrels.query_ids.to_pylist(), run.query_ids.to_pylist()
    for finding, (number, ids) in _findings(report, missing, judged, ranked).items():
        queries.append([finding, count_text(number), brief(map(str, ids), ", ")])
        first_ids = " ".join(map(str, ids[:FIRST]))
        rows.append({"finding": finding, "value": number, "queries": first_ids})
    for (measure, score), figure in product(report.scores.items(), AUDITED):
        finding = f"{figure.replace('_', ' ')} {measure}"
        rows.append({"finding": finding, "value": getattr(score, figure), "queries": ""})
    whole_answer = report.to_dict() | {"findings": rows}
    return Listing([measures, queries], report.notes, report.signature, rows, whole_answer)


def _findings(
    report: Report, missing: Mask, judged: Sequence[Any], ranked: Sequence[Any]
) -> dict[str, tuple[int, Sequence[Any]]]:
    """Return the findings: how many queries there are, and their ids if the output lists them."""
    measure = next(iter(report.scores))
    ids = np.array(report.queries["query"].to_pylist(), object)
    worst = report.queries[f"worst {measure}"].to_numpy()
    best = report.queries[f"best {measure}"].to_numpy()
    tied = ids[affected_by_ties(worst, best)]
    nothing_relevant = ids[report.queries["relevant"].to_numpy() == 0]
    in_qrels = set(judged)
    extra = [query for query in ranked if query not in in_qrels]
    return {
        "judged": (len(judged), []),
        "missing from the run": (int(missing.sum()), ids[missing]),
        "only in the run": (len(extra), extra),
        "no relevant documents": (report.counts["nothing_relevant"], nothing_relevant),
        "all documents relevant": (report.counts["all_relevant"], []),
        f"affected by ties ({measure})": (len(tied), tied),
    }


def _explain(args: Namespace) -> Listing:
    sides = Sides.read(args, [args.run])
    (run,) = sides.runs.values()
    options = sides.shared
    parsed = Options.parse(k=options.pop("k", None), measures=options.pop("measures", "nDCG"))
    if parsed.measures != ("nDCG",):
        raise ValueError("-m must be nDCG, such as nDCG@10: explain knows no other measure")
    k = only_cutoff(parsed.cutoffs, "a score has one")
    got = None if args.got is None else path_of(args.got)
    result = explain(predictions=run, k=k, got=got, between=args.between, **options)
    save_plot(result.plot, args.plot)
    rows: list[Row] = []
    for name, score in result.scores.items():
        row = {"convention": name, "score": score, "matches": name in result.matches}
        rows.append({**row, "error": result.errors.get(name)})
    return Listing(result.tables(), result.remarks(), result.signature, rows, result.to_dict())


COMMANDS: dict[str, Callable[[Namespace], Listing]] = {
    "preview": _preview,
    "score": _score,
    "compare": compare_runs,
    "gate": gate_run,
    "audit": _audit,
    "explain": _explain,
    "check": check_function,
}
