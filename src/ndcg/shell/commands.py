"""What the commands of the command line answer.

Each reads files, asks the functions of the package, and answers with a `Listing`: tables of text,
the same numbers as rows for programs, and all of it for JSON.
"""

import argparse
import csv
import json
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inputs.file_content import BYTE_ORDER_MARK, NAMES, SavedResultError, parse_json, plain_name, read_content
from ..inputs.files import read_columns
from ..inputs.hashes import Columns, digest_of
from ..inputs.slices import slice_name
from ..measure.messages import in_short, shown, visible
from ..measure.options import OF_COMPUTE, Options, between_0_and_1, in_units, whole
from ..statistics.comparison import (
    COLUMNS,
    PLACES,
    Comparison,
    Pair,
    Testing,
    compare,
    comparison_of,
    latex_text,
    leave_out_alike,
    p_text,
)
from ..statistics.explanation import explain
from ..statistics.report import (
    Readable,
    Report,
    Resampling,
    Score,
    columns_of_values,
    count_text,
    interval_text,
    number_text,
    report,
)
from ..statistics.significance import ROUNDING, differences, is_regression

REGRESSION = 1  # the exit status; 0 for all else
FIRST = 5  # queries that an answer names
SUFFIX = re.compile(
    r"(\.(gz|zst|txt|run|res|trec|qrels|csv|tsv|json|jsonl|ndjson|parquet|arrow|feather))+$", re.IGNORECASE
)
STANDARD_INPUT = "/dev/stdin"

CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]  # characters that move the cursor, or worse
ESCAPES = {code: repr(chr(code))[1:-1] for code in (*CONTROLS, ord("\\"))}
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in CONTROLS if code > 0x20}  # of those that JSON may have as they are

Table = list[list[str]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Listing(Readable):
    """What a command answers.

    Attributes:
        cells: tables of text, the header first.
        said: sentences below them.
        signature: every choice that the numbers depend on.
        rows: the numbers for programs.
        whole: all of it, in types that JSON has.
        status: with which the command exits.
        latex: the same as LaTeX, where there is a form of its own for it.
    """

    cells: list[Table]
    said: Sequence[str]
    signature: str
    rows: list[Row]
    whole: Any
    status: int = 0
    latex: str = ""

    def _tables(self) -> list[Table]:
        return self.cells

    def _remarks(self) -> Sequence[str]:
        return self.said

    def text(self, form: str) -> str:
        """Return the answer in one of the formats of the command line."""
        forms: dict[str, Callable[[], str]] = {
            "text": self._plain_or_rich,
            "markdown": self.to_markdown,
            "tsv": self._tsv,
            "jsonl": lambda: "\n".join(map(_json, self.rows)),
            "json": lambda: _json(self.whole, indent=1),
            "latex": lambda: self.latex or self._latex(),
            "junit": self._junit,
        }
        return forms[form]()

    def _plain_or_rich(self) -> str:
        """Return tables of Rich on a terminal, else plain text; without tables the signature alone."""
        if not self.cells:
            return visible(self.signature)
        if sys.stdout.isatty():
            with suppress(ImportError):
                return self._rich()
        return str(self)

    def _rich(self) -> str:
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        console = Console(highlight=False)
        with console.capture() as captured:
            for header, *rows in self.tables():
                table = RichTable(box=box.SIMPLE_HEAD)
                for at, name in enumerate(header):
                    table.add_column(Text(name), justify="right" if at else "left", overflow="fold", no_wrap=at > 0)
                for row in rows:
                    table.add_row(*map(Text, row))
                console.print(table)
            for remark in (*self.remarks(), f"Signature: {visible(self.signature)}"):
                console.print(Text(remark), soft_wrap=True)
        return captured.get().rstrip("\n")

    def _tsv(self) -> str:
        """Return a row a line, with control characters of ids escaped, so that `cut` and `sort` see the columns."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        lines: list[list[Any]] = [list(names), *([row.get(name) for name in names] for row in self.rows)]
        cells = (["" if each is None else str(each).translate(ESCAPES) for each in line] for line in lines)
        return "\n".join(map("\t".join, cells))

    def _latex(self) -> str:
        lines = [f"% {remark}" for remark in (*self.remarks(), visible(self.signature))]
        for header, *rows in self.tables():
            body = [" & ".join(map(latex_text, row)) + " \\\\" for row in (header, *rows)]
            head = ["\\begin{tabular}{l" + "r" * (len(header) - 1) + "}", "\\hline", body[0], "\\hline"]
            lines += [*head, *body[1:], "\\hline", "\\end{tabular}"]
        return "\n".join(lines)

    def _junit(self) -> str:
        """Return a case for each measure of a gate, as CI systems read them."""
        failures = str(sum(row["regression"] for row in self.rows))
        suite = ElementTree.Element("testsuite", name="ndcg gate", tests=str(len(self.rows)), failures=failures)
        for row in self.rows:
            case = ElementTree.SubElement(suite, "testcase", classname="ndcg.gate", name=row["measure"])
            if row["regression"]:
                message = f"{row['measure']} falls by {number_text(-row['difference'])}, p = {p_text(row['p_holm'])}"
                ElementTree.SubElement(case, "failure", message=message).text = str(self)
        ElementTree.indent(suite)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode")


def answer(asked: argparse.Namespace) -> Listing:
    """Answer what is asked.

    Raises:
        ValueError: bad input; names the file and the line, or the option.
        OSError: a file cannot be read.
    """
    if asked.output == "junit" and asked.command != "gate":
        raise ValueError("-o junit is of ndcg gate, whose measures are its cases; take another format")
    whole("places", getattr(asked, "places", 4), 0, PLACES)
    try:
        return _COMMANDS[asked.command](asked)
    except ValueError as error:
        raise ValueError(_in_words_of_the_shell(str(error))) from None


def _in_words_of_the_shell(problem: str) -> str:
    """Return what is wrong with the options as they are given here.

    >>> _in_words_of_the_shell('zero_division=nan leaves it out, missing="skip" too')
    '--zero-division nan leaves it out, --missing skip too'
    >>> _in_words_of_the_shell("discount lists 2 ranks, but 3 count; list more, or give k=2")
    'discount lists 2 ranks, but 3 count; list more, or give -k 2'
    """
    problem = re.sub(r"^systems\['(.*?)'\]: ", r"\1: ", problem)
    names = "|".join(OF_COMPUTE)
    problem = re.sub(r"\bk=(\w+)", r"-k \1", problem)
    return re.sub(rf'\b({names})="?([\w.]+)"?', lambda found: f"--{found[1].replace('_', '-')} {found[2]}", problem)


# The commands


def score_runs(asked: argparse.Namespace) -> Listing:
    """Answer with the means of runs and their intervals, or with the values of all queries."""
    if asked.signature:
        return _signature(asked)
    sides = _Sides.read(asked, asked.runs)
    reports = {name: sides.report(name) for name in sides.runs}
    one = next(iter(reports.values()))
    if asked.plot:
        if len(reports) > 1:
            raise ValueError("--plot shows one run, and ndcg compare several")
        _save(one.plot(), asked.plot)
    cells, rows = (_by_query if asked.by_query else _means)(reports, asked)
    said = dict.fromkeys(
        note if len(reports) == 1 else f"{run}: {note}" for run, each in reports.items() for note in each.notes
    )
    judgments = {"judgments": digest_of(sides.qrels)}
    saved = {name: each.to_dict() | judgments for name, each in reports.items()}
    return Listing(cells, list(said), one.signature, rows, saved.popitem()[1] if len(saved) == 1 else saved)


def _means(reports: Mapping[str, Report], asked: argparse.Namespace) -> tuple[list[Table], list[Row]]:
    """Return tables of the means of runs, and of their slices, with their intervals."""
    level = f"{100 * asked.confidence:g}% interval"
    measures = list(next(iter(reports.values())).scores)
    columns = ["queries", *(text for name in measures for text in (name, level))]
    rows: list[Row] = []
    tables: dict[bool, Table] = {False: [["run", *columns]], True: [["run", "slice", *columns]]}
    for run, each in reports.items():
        parts: list[tuple[Row, int, Mapping[str, Score]]] = [({}, each.counts["queries"], each.scores)]
        parts += [({"slice": value}, part.queries, part.scores) for value, part in each.slices.items()]
        for of_slice, queries, scores in parts:
            cells = [text for score in scores.values() for text in _mean_and_interval(score, asked.places)]
            tables[bool(of_slice)].append([run, *map(slice_name, of_slice.values()), f"{queries:,}", *cells])
            for name, score in scores.items():
                rows.append({"run": run, **of_slice, "measure": name, "queries": queries, **score._asdict()})
    return [table for table in tables.values() if len(table) > 1], rows


def _mean_and_interval(score: Score, places: int) -> list[str]:
    return [number_text(score.value, places), interval_text(score.low, score.high, places)]


def _by_query(reports: Mapping[str, Report], asked: argparse.Namespace) -> tuple[list[Table], list[Row]]:
    """Return a table of the values of all queries of each run, and their means."""
    one = next(iter(reports.values()))
    measures = list(one.scores)
    names = ["query", *["slice"] * ("slice" in one.queries.column_names), *measures]
    rows: list[Row] = []
    for run, each in reports.items():
        columns = [each.queries[name].to_pylist() for name in names]
        rows += [{"run": run, **dict(zip(names, row, strict=True))} for row in zip(*columns, strict=True)]
        rows.append({"run": run, "query": "all", **{name: score.value for name, score in each.scores.items()}})
    header = ["run", *names] if len(reports) > 1 else names
    cells = [[_cell(row.get(name, ""), asked.places) for name in header] for row in rows]
    return [[header, *cells]], rows


def compare_runs(asked: argparse.Namespace) -> Listing:
    """Answer with the differences of runs from a baseline, their intervals and tests, and the queries that differ."""
    if asked.signature:
        return _signature(asked)
    sides = _Sides.read(asked, [asked.baseline, *asked.runs])
    baseline = next(iter(sides.runs))
    found = compare(
        systems=sides.runs,
        references=sides.qrels,
        baseline=baseline,
        exclude=sides.exclude,
        by=sides.by,
        confidence=asked.confidence,
        resamples=asked.resamples,
        seed=asked.seed,
        alternative=asked.alternative,
        margin=asked.margin,
        corrected_over=asked.corrected_over,
        **_scoring(asked),
    )
    if asked.plot:
        _save(found.plot(), asked.plot)
    level = f"{100 * asked.confidence:g}% interval"
    means = [["run", *(text for name in found.measures for text in (name, level))]]
    for run, scores in found.scores.items():
        means.append([run, *(text for score in scores.values() for text in _mean_and_interval(score, asked.places))])
    header = ["measure", "run", f"less {baseline}", level, "p", "p (Holm)", "p (t-test)", "won–tied–lost"]
    pairs, slices = [header], [["slice", "queries", *header]]
    rows = []
    for pair in found.pairs:
        pairs.append(_pair_cells(pair, asked.places))
        rows.append(_pair_row(pair))
    for value, each in found.slices.items():
        for pair in each.pairs:
            slices.append([slice_name(value), f"{each.queries:,}", *_pair_cells(pair, asked.places)])
            rows.append({"slice": value, "queries": each.queries, **_pair_row(pair)})
    tables = [means, pairs, *([slices] if found.slices else []), _worst(found, asked.places)]
    return Listing(tables, found.remarks(), found.signature, rows, found.to_dict(), latex=found.to_latex(asked.places))


def _pair_cells(pair: Pair, places: int) -> list[str]:
    ends = interval_text(pair.low, pair.high, places, "+")
    numbers = [number_text(pair.difference, places, "+"), ends, *map(p_text, (pair.p, pair.p_holm, pair.p_t))]
    return [pair.measure, pair.system, *numbers, f"{pair.wins:,}–{pair.ties:,}–{pair.losses:,}"]


def _pair_row(pair: Pair) -> Row:
    return {{"system": "run", "other": "baseline"}.get(name, name): value for name, value in pair._asdict().items()}


def _worst(found: Comparison, places: int) -> Table:
    """Return the queries in which each run differs most from the baseline in the first measure."""
    table = [["queries that differ most", "run", found.measures[0], str(found.baseline), "difference"]]
    for run in found.scores:
        if run != found.baseline:
            columns = found.differences(run, str(found.baseline), n=FIRST).columns
            for query, *values, difference in zip(*(each.to_pylist() for each in columns), strict=True):
                numbers = [number_text(each, places) for each in values]
                table.append([str(query), run, *numbers, number_text(difference, places, "+")])
    return table


def gate_run(asked: argparse.Namespace) -> Listing:
    """Answer whether a run is worse than a baseline: by more than is tolerated, and significantly."""
    if asked.signature:
        return _signature(asked)
    threshold = {"max_drop": in_units("max_drop", asked.max_drop), "alpha": between_0_and_1("alpha", asked.alpha, 0.05)}
    resampling = Resampling.parse(asked.confidence, asked.resamples, asked.seed)
    if asked.max_drop >= 1 and all(measure == "nDCG" for measure, _ in Options.parse(**_scoring(asked)).asked):
        raise ValueError(f"--max-drop {asked.max_drop:g}: nDCG is at most 1, so nothing would fail; give such as 0.01")
    sides = _Sides.read(asked, [asked.baseline, asked.run])
    new = sides.report(sides.names[1])
    found = _compared_with(asked, sides, new, resampling)
    rows = [_gate_row(pair, found) for pair in found.pairs]
    for row in rows:
        row["regression"] = is_regression(row["difference"], row["p_holm"], **threshold)
    return _gate_listing(asked, found, rows, new)


def _compared_with(asked: argparse.Namespace, sides: "_Sides", new: Report, resampling: Resampling) -> Comparison:
    """Return the comparison of a run with the baseline, each mean over the queries that have a value in both.

    Raises:
        ValueError: the two cannot be compared, or no fall of so few queries can be significant.
    """
    baseline, run = sides.names
    if baseline in sides.saved:
        old, judgments = _saved_report(asked.baseline, sides.saved[baseline])
    else:
        old, judgments = sides.report(baseline), ""
    if old.signature != new.signature:
        problem = f"was saved with {old.signature}, and the scores of {asked.run} are of {new.signature}"
        raise ValueError(f"{asked.baseline}: {problem}; score both with the same options and version")
    before, after = _same_queries(asked, old, new)
    if judgments and judgments != digest_of(sides.qrels):
        raise ValueError(f"{asked.baseline}: is of other judgments than {asked.qrels}; score both by the same qrels")
    options = Options.parse(**_scoring(asked))
    columns = {
        name: columns_of_values(side["query"].tolist(), {each: side[each].astype(np.float64) for each in options.names})
        for name, side in ((baseline, before), (run, after))
    }
    leave_out_alike(columns, options.names)
    ranked = (before["retrieved"] > 0) | (after["retrieved"] > 0)
    fewest = min(int(np.count_nonzero(ranked & ~np.isnan(columns[run][name]))) for name in options.names)
    _refuse_powerless(fewest, asked.alpha / len(options.names))
    return comparison_of(
        columns,
        None,
        None,
        options=options,
        baseline=baseline,
        resampling=resampling,
        testing=Testing("less", corrected_over="all"),
        signature=new.signature,
    )


def _gate_row(pair: Pair, found: Comparison) -> Row:
    """Return what the gate says of a measure to programs."""
    means = {"baseline": found.scores[pair.other], "run": found.scores[pair.system]}
    return {
        "measure": pair.measure,
        "queries": pair.wins + pair.ties + pair.losses,
        **{side: scores[pair.measure].value for side, scores in means.items()},
        **{name: getattr(pair, name) for name in ("difference", "low", "high", "p", "p_holm")},
    }


def _gate_listing(asked: argparse.Namespace, found: Comparison, rows: list[Row], new: Report) -> Listing:
    """Return the answer of a gate: a table of its measures, and what a regression is."""
    baseline, run = found.scores
    failed = [row["measure"] for row in rows if row["regression"]]
    counts = sorted({row["queries"] for row in rows})
    queries = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    said = [
        f"Regression: {', '.join(failed)} of {run} fell." if failed else "No regression.",
        f"A regression is a fall of the mean of {queries} queries by more than {asked.max_drop:g} that a "
        f"one-sided paired randomisation test finds significant: p (Holm) at most {asked.alpha:g}.",
        *new.notes,
    ]
    whole_answer = {
        "signature": new.signature,
        "baseline": baseline,
        "run": run,
        "max_drop": asked.max_drop,
        "alpha": asked.alpha,
        "queries": new.counts["queries"],
        "regression": bool(failed),
        "measures": rows,
        "notes": said[2:],
    }
    level, places = f"{100 * asked.confidence:g}% interval", asked.places
    table = [["measure", baseline, run, "difference", level, "p (fall)", "p (Holm)", ""]]
    for row in rows:
        means = [number_text(row[name], places) for name in ("baseline", "run")]
        change = [number_text(row["difference"], places, "+"), interval_text(row["low"], row["high"], places, "+")]
        table.append([row["measure"], *means, *change, p_text(row["p"]), p_text(row["p_holm"]), _verdict(row, asked)])
    return Listing([table], said, new.signature, rows, whole_answer, status=REGRESSION * bool(failed))


def _verdict(row: Row, asked: argparse.Namespace) -> str:
    """Return in words what the gate makes of a measure."""
    if row["regression"]:
        return "regression"
    if row["difference"] >= 0:
        return "no fall"
    return "within the margin" if -row["difference"] <= asked.max_drop + ROUNDING else "may be chance"


def _refuse_powerless(queries: int, alpha: float) -> None:
    """Raise an error if no fall of so few queries can be significant, so that nothing would fail."""
    if 0.5**queries > alpha:
        problem = f"with {queries} ranked queries no fall can be significant at this level, so nothing would fail"
        raise ValueError(f"{problem}; give more queries, fewer measures or a larger --alpha")


def _saved_report(path: str, value: dict[str, Any]) -> tuple[Report, str]:
    """Return what `ndcg score -o json` has saved, and the digest of its judgments.

    Raises:
        ValueError: it is another file, or its figures do not follow from the values of its queries.
    """
    if "signature" not in value:
        several = f"holds the results of {len(value):,} runs, {', '.join(map(shown, list(value)[:FIRST]))}"
        raise ValueError(f"{path}: {several}{', …' * (len(value) > FIRST)}; save the one to compare with alone")
    try:
        found, judgments = Report.from_dict(value), str(value["judgments"])
        found.queries.select(["query", "retrieved", "judged", "relevant"])
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException):
        problem = "is not the result of one run as ndcg score -o json has saved it, whole and unchanged"
        raise ValueError(f"{path}: {problem}; save it again") from None
    return found, judgments


def _same_queries(
    asked: argparse.Namespace, old: Report, new: Report
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Return the columns of queries of two reports, in the order of the second.

    Raises:
        ValueError: they are of other queries or judgments, or the run lacks queries that the baseline ranks.
    """
    place = {query: at for at, query in enumerate(new.queries["query"].to_pylist())}
    places = [place.get(query, len(place)) for query in old.queries["query"].to_pylist()]
    tables = (old.queries.take(np.argsort(places, kind="stable")), new.queries)
    before, after = (
        {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names} for table in tables
    )
    if before["query"].tolist() != after["query"].tolist():
        lacking, extra = (set(one["query"]) - set(other["query"]) for one, other in ((before, after), (after, before)))
        problem = f"{_some(lacking)} only in what was saved, {_some(extra)} only in {asked.qrels}"
        raise ValueError(f"{asked.baseline}: is of other queries: {problem}; score both by the same qrels")
    for name in ("judged", "relevant"):
        if (other := np.flatnonzero(before[name] != after[name])).size:
            at = other[0]
            problem = f"query {shown(after['query'][at])} had {before[name][at]} documents {name} there"
            hint = "score both by the same qrels"
            raise ValueError(f"{asked.baseline}: {problem}, and has {after[name][at]} in {asked.qrels}; {hint}")
    lacking = (before["retrieved"] > 0) & (after["retrieved"] == 0)
    if lacking.any() and asked.missing is None:
        problem = f"lacks {_some(after['query'][lacking])} that {asked.baseline} ranks"
        hint = "--missing empty counts them as 0, --missing skip leaves them out"
        raise ValueError(f"{asked.run}: {problem}; {hint}")
    return before, after


def audit_run(asked: argparse.Namespace) -> Listing:
    """Answer with what a score rests on: ties, unjudged documents, chance, and queries that do not meet."""
    if asked.signature:
        return _signature(asked)
    sides = _Sides.read(asked, [asked.run])
    ((name, run),) = sides.runs.items()
    found = sides.report(name)
    judged, ranked = (side.query_ids.to_pylist() for side in (sides.qrels, run))
    table = found.queries
    ids = np.array(table["query"].to_pylist(), object)
    first = next(iter(found.scores))
    affected = differences(*(table[f"{order} {first}"].to_numpy() for order in ("best", "worst"))) > 0
    counts: dict[str, tuple[int, Sequence[Any]]] = {
        "judged": (len(judged), []),
        "missing from the run": _counted(set(judged).difference(ranked), judged),
        "only in the run": _counted(set(ranked).difference(judged), ranked),
        "nothing relevant": (found.counts["nothing_relevant"], ids[table["relevant"].to_numpy() == 0]),
        "nothing irrelevant": (found.counts["nothing_irrelevant"], []),
        f"affected by ties ({first})": _counted(set(ids[affected]), ids.tolist()),
        "with a document twice": (0, []),  # else the file is refused
    }
    measures = [["measure", "mean", "chance", "range over tie orders", "unjudged"]]
    for measure, score in found.scores.items():
        numbers = [number_text(each, asked.places) for each in (score.value, score.chance)]
        ends = interval_text(score.worst, score.best, asked.places)
        measures.append([measure, *numbers, ends, f"{count_text(score.unjudged)} of {score.ranked:,}"])
    queries = [["queries", "number", "first"]]
    rows: list[Row] = []
    for finding, (number, names) in counts.items():
        queries.append([finding, f"{number:,}", ", ".join(map(str, names[:FIRST])) + ", …" * (len(names) > FIRST)])
        rows.append({"finding": finding, "value": number, "queries": " ".join(map(str, names[:FIRST]))})
    for measure, score in found.scores.items():
        for what in ("value", "chance", "worst", "best", "tied", "ranked", "unjudged"):
            rows.append({"finding": f"{what} {measure}", "value": getattr(score, what), "queries": ""})
    whole = found.to_dict() | {"findings": rows}
    return Listing([measures, queries], found.notes, found.signature, rows, whole)


def _counted(found: set[Any], order: Sequence[Any]) -> tuple[int, list[Any]]:
    return len(found), [each for each in order if each in found]


def explain_number(asked: argparse.Namespace) -> Listing:
    """Answer whose number it is."""
    sides = _Sides.read(asked, [asked.run])
    (run,) = sides.runs.values()
    options = _scoring(asked)
    k = options.pop("k", [None])
    if len(k) > 1:
        raise ValueError("-k must be one cutoff, since a number has one")
    found = explain(
        predictions=run,
        references=sides.qrels,
        exclude=sides.exclude,
        k=k[0],
        got=asked.got,
        between=asked.between,
        **options,
    )
    if asked.plot:
        _save(found.plot(), asked.plot)
    rows = [
        {"convention": name, "number": number, "matches": name in found.matches, "refused": found.refused.get(name)}
        for name, number in found.numbers.items()
    ]
    return Listing(found.tables(), found.remarks(), found.signature, rows, found.to_dict())


_COMMANDS: dict[str, Callable[[argparse.Namespace], Listing]] = {
    "score": score_runs,
    "compare": compare_runs,
    "gate": gate_run,
    "audit": audit_run,
    "explain": explain_number,
}


# What is asked for


@dataclass(frozen=True)
class _Sides:
    """What the files of a command hold, each read once.

    Attributes:
        asked: the arguments of the command.
        qrels: the relevances.
        names: of all runs.
        runs: the scores of each run by its name.
        saved: the result that stands for a gate's baseline, by its name, if that is no run.
        exclude: the documents that take no rank.
        by: the slice of each query.
    """

    asked: argparse.Namespace
    qrels: Columns
    names: list[str]
    runs: dict[str, Columns]
    saved: dict[str, dict[str, Any]]
    exclude: Columns | None
    by: dict[str, Any] | None

    @classmethod
    def read(cls, asked: argparse.Namespace, runs: Sequence[str]) -> "_Sides":
        """Read them.

        Raises:
            ValueError: a file is malformed, or a run shares no query with the qrels.
            OSError: a file cannot be read.
        """
        by = getattr(asked, "by", None)
        files = [asked.qrels, *runs, asked.exclude, by]
        if sum(file in ("-", STANDARD_INPUT) for file in files) > 1:
            raise ValueError("standard input, -, can be read once; give the other files by their names")
        qrels = _columns(asked, asked.qrels, "qrels")
        names, sides, saved = _named(runs), {}, {}
        for name, path in names.items():
            try:
                sides[name] = _columns(asked, path, "run")
            except SavedResultError as error:
                if asked.command != "gate" or path != asked.baseline:
                    raise
                saved[name] = error.value
                continue
            if not pc.any(pc.is_in(sides[name].query_ids, value_set=qrels.query_ids)).as_py():
                ids = (shown(side.query_ids[0].as_py()) for side in (sides[name], qrels))
                problem = "shares no query with {}: its first is {}, theirs is {}".format(asked.qrels, *ids)
                raise ValueError(f"{path}: {problem}")
        exclude = None if asked.exclude is None else _columns(asked, asked.exclude, "exclude")
        slices = None if by is None else _slices(asked, by)
        return cls(asked, qrels, list(names), sides, saved, exclude, slices)

    def report(self, run: str) -> Report:
        """Return the report on a run."""
        return report(
            predictions=self.runs[run],
            references=self.qrels,
            exclude=self.exclude,
            by=self.by,
            confidence=getattr(self.asked, "confidence", 0.95),
            **_scoring(self.asked),
        )


def _columns(asked: argparse.Namespace, path: str, kind: str) -> Columns:
    """Return what a file holds, whose columns may have names of their own."""
    given = {"query": asked.query, "document": asked.document, "score": asked.score, "relevance": asked.label}
    names = {what: name for what, name in given.items() if name is not None and what in NAMES[kind]}
    return read_columns(_path(path), kind, names=names)


def _path(path: str) -> str:
    """Return the path of a file, also of that called -."""
    return STANDARD_INPUT if path == "-" else path


def _named(paths: Sequence[str]) -> dict[str, str]:
    """Return the files of runs by names: those of the files, or their paths if a name is there twice or is taken."""
    names = list(map(_name_of, paths))
    if len(set(names)) < len(names) or not COLUMNS.isdisjoint(names):
        names = [os.path.join(".", path) if path in COLUMNS else path for path in paths]
    if len(set(names)) < len(names):
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)}: is given twice; give each run once")
    return dict(zip(names, paths, strict=True))


def _name_of(path: str) -> str:
    """Return the name of a run: that of its file.

    >>> _name_of("runs/bm25.trec.gz"), _name_of("-")
    ('bm25', 'stdin')
    """
    name = os.path.basename(path)
    return "stdin" if path == "-" else SUFFIX.sub("", name) or name


def _scoring(asked: argparse.Namespace) -> dict[str, Any]:
    """Return the options of Python that are given."""
    given = {name: getattr(asked, name, None) for name in OF_COMPUTE}
    return {name: value for name, value in given.items() if value is not None}


def _signature(asked: argparse.Namespace) -> Listing:
    """Answer with the signature alone."""
    signature = Options.parse(**_scoring(asked)).signature(excluding=asked.exclude is not None)
    return Listing([], [], signature, [{"signature": signature}], {"signature": signature})


def _slices(asked: argparse.Namespace, by: str) -> dict[str, Any]:
    """Return the slice of each query: by a file of both, or by a column of the qrels.

    Raises:
        ValueError: a line of other columns, a query with two slices, no such file or column.
    """
    if by == "-" or (os.path.exists(by) and not os.path.isdir(by)):
        return _one_each(by, _pairs_of_file(by))
    possible = NAMES["qrels"]["query"] if asked.query is None else (asked.query,)
    table = _table_of(asked.qrels, possible)
    possible = tuple(map(plain_name, possible))
    query = next((each for name in possible for each in table.column_names if plain_name(each) == name), None)
    if query is None or by not in table.column_names:
        there = ", ".join(map(repr, table.column_names)) if query else "none"
        raise ValueError(f"--by {by}: neither a file nor a column of {asked.qrels}, which has {there}")
    pairs = zip(table[query].cast(pa.string()).to_pylist(), table[by].to_pylist(), strict=True)
    return _one_each(asked.qrels, ((f"row {row} (from 0)", *pair) for row, pair in enumerate(pairs)))


def _one_each(path: str, pairs: Iterator[tuple[str, str, Any]]) -> dict[str, Any]:
    """Return the slice of each query, from places with a query and its slice."""
    found: dict[str, Any] = {}
    for place, query, value in pairs:
        if found.setdefault(query, value) != value:
            problem = f"query {shown(query)} is in {shown(value)}, and in {shown(found[query])} before"
            raise ValueError(f"{path}: {place}: {problem}; give each query one slice")
    return found


def _pairs_of_file(path: str) -> Iterator[tuple[str, str, Any]]:
    """Yield places, queries and slices: of a JSON mapping, or of lines with a tab, comma or space between the two."""
    found = _mapping_or_text(path)
    if isinstance(found, dict):
        yield from (("", query, value) for query, value in found.items())
        return
    first = found.partition("\n")[0]
    delimiter = next((each for each in "\t," if each in first), " ")
    reader = csv.reader(found.splitlines(), delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            place = f"line {reader.line_num}"
            if len(row) != 2 and row:
                raise ValueError(f"{path}: {place}: {len(row)} columns; give a query and its slice")
            query, value = map(str.strip, row or ("", ""))
            is_header = reader.line_num == 1 and query.lower().replace("-", "_") in NAMES["qrels"]["query"]
            if row and not is_header:
                yield place, query, value or None
    except csv.Error as error:
        raise ValueError(f"{path}: line {reader.line_num}: {error}") from None


def _mapping_or_text(path: str) -> dict[str, Any] | str:
    """Return what a file or a pipe holds: an object of JSON, or lines of text.

    Raises:
        ValueError: it is neither.
        OSError: it cannot be read.
    """
    content = read_content(_path(path))
    try:
        if content.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"{"):
            mapping: dict[str, Any] = parse_json(content)
            return mapping
        return content.decode("utf-8-sig")
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}: not JSON: {error.msg}"
    except UnicodeDecodeError:
        problem = "is not text in UTF-8; save the file in UTF-8"
    except ValueError as error:
        problem = str(error)
    raise ValueError(f"{path}: {problem}")


def _table_of(path: str, queries: Sequence[str]) -> pa.Table:
    """Return a table of CSV, TSV, JSONL, Parquet or Arrow, by the name of its file; one without columns for others.

    Args:
        path: the file.
        queries: the possible names of the column of queries, whose ids are text.

    Raises:
        ValueError: it cannot be read.
    """
    from pyarrow import csv as arrow_csv
    from pyarrow import dataset

    form = re.sub(r"\.(gz|zst)$", "", path.lower()).rpartition(".")[2]
    delimiters = {"csv": ",", "tsv": "\t"}
    forms: dict[str, Any] = {
        **{each: dataset.CsvFileFormat(arrow_csv.ParseOptions(delimiter=mark)) for each, mark in delimiters.items()},
        **dict.fromkeys(("jsonl", "ndjson", "json"), "json"),
        "parquet": "parquet",
        **dict.fromkeys(("arrow", "feather"), "arrow"),
    }
    if form not in forms:
        return pa.table({})
    try:
        if form not in delimiters:
            return dataset.dataset(path, format=forms[form]).to_table()
        names = dataset.dataset(path, format=forms[form]).schema.names
        ids = [name for name in names if plain_name(name) in map(plain_name, queries)]
        text = arrow_csv.ConvertOptions(column_types=dict.fromkeys(ids, pa.string()))
        parse = arrow_csv.ParseOptions(delimiter=delimiters[form])
        table = dataset.dataset(path, format=dataset.CsvFileFormat(parse, convert_options=text)).to_table()
        cells = [pc.utf8_trim_whitespace(each) if pa.types.is_string(each.type) else each for each in table.columns]
        return pa.table(cells, [name.strip() for name in names])
    except pa.ArrowException as error:
        problem = in_short(error)
    if forms[form] == "json":  # it is one value, not a record a line
        with suppress(ValueError, TypeError, OverflowError):  # those of Arrow too
            records = parse_json(read_content(path))
            return pa.Table.from_pylist(records) if isinstance(records, list) else pa.table({})
    raise ValueError(f"{path}: cannot be read as a table of {form}: {problem}")


# Words


def _save(figure: Any, path: str) -> None:
    if not path.lower().endswith((".png", ".svg", ".pdf")):
        raise ValueError(f"--plot {path}: must end in .png, .svg or .pdf")
    try:
        figure.savefig(path)
    except ValueError as error:
        raise ValueError(f"--plot {path}: {in_short(error)}") from None


def _cell(value: Any, places: int) -> str:
    return number_text(value, places) if value is None or isinstance(value, float) else str(value)


def _some(names: Collection[Any]) -> str:
    """Return how many queries there are, and which are the first."""
    if not len(names):
        return "no query"
    first = ", ".join(map(shown, sorted(names, key=str)[:FIRST]))
    return f"{len(names):,} quer{'y' if len(names) == 1 else 'ies'} ({first}{', …' * (len(names) > FIRST)})"


def _json(value: Any, indent: int | None = None) -> str:
    """Return JSON, in which nan is null."""
    return json.dumps(_without_nan(value), indent=indent, ensure_ascii=False).translate(JSON_ESCAPES)


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nan(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
