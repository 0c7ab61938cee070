"""`ndcg compare`: the differences between runs, or saved reports, with tests and by query."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

from ..files.groups import path_of
from ..measure.options import OF_COMPUTE
from ..show.tables import counted_text, level_text
from ..statistics.comparing import compare
from ..statistics.comparing_reports import compare_reports
from ..statistics.comparison import Comparison, query_tables, slice_pairs
from ..statistics.measured import Slice, mean_table, slice_rows
from ..statistics.pairs import Pair
from .flags import flag_of
from .output import FIRST, Listing, Row, save_plot, worst_of
from .sides import Sides, names_of, set_in

TEST_OPTIONS = ("confidence", "seed", "alternative", "margin", "corrected_over")


def compare_runs(args: Namespace) -> Listing:
    """Return the differences between runs, with intervals and tests, and queries that differ."""
    comparison = _of_reports(args) if args.reports else _of_runs(args)
    save_plot(comparison.plot, args.plot)
    level = level_text(args.confidence)
    worst = worst_of(args, 0)
    means = []
    for run, scores in comparison.scores.items():
        means.append(([run], Slice(comparison.counts[run], scores)))
    tables = [mean_table(["run"], means, level, args.places)]
    tables += _tables_of_pairs(comparison, level, args.places)
    tables += query_tables(comparison, worst_of(args, FIRST), args.places)
    # With --worst, queries take the place of the pairs in the rows of -o tsv and -o jsonl.
    if worst == 0:
        rows = list(_rows_of_pairs(comparison))
    else:
        rows = _query_rows(comparison, worst)
    return Listing(
        tables,
        comparison.remarks(),
        comparison.signature,
        rows,
        comparison.to_dict(),
        latex=comparison.to_latex(args.places),
    )


def _of_runs(args: Namespace) -> Comparison:
    if not args.runs:
        raise ValueError(
            "give one RUN or more to compare with the baseline; see ndcg compare --help"
        )
    if args.unpaired:
        raise ValueError(
            "--unpaired compares saved reports of different queries; give these with --reports"
        )
    sides = Sides.read(args, [args.baseline, *args.runs])
    options = _test_options(args, sides.runs)
    return compare(systems=sides.runs, by=sides.by, **options, **sides.shared)


def _of_reports(args: Namespace) -> Comparison:
    """Return the comparison of saved reports; options that apply only to runs are refused."""
    columns = ("exclude", "by", "query", "document", "score", "relevance")
    for name in set_in(args, (*OF_COMPUTE, *columns)):
        raise ValueError(
            f"--reports: {flag_of(name)} has no effect on reports, which are scored; leave it out"
        )
    files = [args.qrels, args.baseline, *args.runs]
    reports = dict(zip(names_of(files), map(path_of, files), strict=True))
    return compare_reports(reports, paired=not args.unpaired, **_test_options(args, reports))


def _test_options(args: Namespace, systems: Iterable[str]) -> dict[str, Any]:
    """Return the options of the tests; without a baseline, every pair of systems is compared."""
    options = {name: getattr(args, name) for name in TEST_OPTIONS}
    if args.pairs == "baseline":
        options["baseline"] = next(iter(systems))
    return options


def _tables_of_pairs(comparison: Comparison, level: str, places: int) -> list[list[list[str]]]:
    """Return a table of the pairs over all queries, and one of the pairs over slices, if any."""
    headings = ["pair", "difference"]
    if comparison.baseline is not None:
        headings = ["run", f"difference from {comparison.baseline}"]
    columns = ["difference", level, "p", "p (Holm)"]
    if comparison.testing.paired:
        columns += ["p (t-test)", "won–tied–lost"]

    def row(pair: Pair) -> list[str]:
        cells = pair.cells(level, places)
        name = pair.title if comparison.baseline is None else pair.system
        return [pair.measure, name, *(cells[column] for column in columns)]

    header = ["measure", *headings, *columns[1:]]
    all_queries = [header, *map(row, comparison.pairs)]
    if not comparison.slices:
        return [all_queries]
    slices = [
        [name, counted_text(pair.queries, queries), *row(pair)]
        for name, queries, pair in slice_pairs(comparison)
    ]
    return [all_queries, [["slice", "queries", *header], *slices]]


def _rows_of_pairs(comparison: Comparison) -> Iterator[Row]:
    """Yield the differences as machine-readable rows, also over slices and of their means."""
    for pair in comparison.pairs:
        yield _pair_row(pair, comparison.counts[pair.system])
    for _, part, cells in slice_rows(comparison):
        for pair in part.pairs:
            yield {**cells, **_pair_row(pair, part.queries)}


def _pair_row(pair: Pair, queries: int) -> Row:
    """Return a machine-readable row for a difference, with the queries in it and left out."""
    row: Row = {"measure": pair.measure, "run": pair.system, "baseline": pair.other}
    if pair.wins is not None:  # of the same queries, and not of reports on different ones
        row |= {"queries": pair.queries, "left_out": queries - pair.queries}
    figures = pair._asdict()
    del figures["system"], figures["other"]  # as run and baseline
    return row | figures


def _query_rows(comparison: Comparison, worst: int | None) -> list[Row]:
    """Return machine-readable rows of the queries that lost or gained most, by measure and run.

    The greatest losses come first. `worst` is how many losses, and how many gains; None for all.
    """
    columns = ("query", "value", "baseline_value", "difference")
    rows: list[Row] = []
    for pair in comparison.pairs:
        names = {"measure": pair.measure, "run": pair.system, "baseline": pair.other}
        compared = (pair.system, pair.other, pair.measure)
        losses = comparison.differences(*compared, worst, "losses").to_pylist()
        gains = comparison.differences(*compared, worst, "gains").to_pylist()
        for row in [*losses, *reversed(gains)]:
            rows.append(names | dict(zip(columns, row.values(), strict=True)))
    return rows
