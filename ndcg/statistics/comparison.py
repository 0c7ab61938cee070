"""The comparison of several systems on the same queries, with intervals and tests."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.slices import Value
from ..measure.options import Options, choice, whole
from ..show.drawing import figure_of
from ..show.tables import Table, counted_text, latex_text, letter_text, number_text, tabular
from .contest import ComparedSlice, Contest
from .measured import (
    SHOWN,
    BySystem,
    Resampling,
    Scores,
    Slice,
    mean_table,
    plotted_names,
    range_text,
    row_counts,
    select_present,
    slice_rows,
    slices_in,
)
from .notes import first_slices
from .pairs import SIGNIFICANT, Pair, Testing, opponents, system_names
from .plots import pairs_with, plot_means, plot_queries, plot_slices
from .saved import (
    Evaluation,
    Saved,
    add_figures_of_documents,
    check_counted,
    saved_columns,
    saved_figures,
    saved_scores,
    saved_slices,
    version_in,
)
from .significance import differences

SHARED = ("query", "slice", "weight")  # columns of queries that all systems share
PLACES = 16  # the most decimal places, since float64 holds no more digits
ONE_SIDED = (
    "Tests are one-sided and intervals two-sided: the interval that agrees with a test at the 5% "
    "level is the 90% interval."
)
WELCH = "Wilson-type t for means, Welch's t for differences"


@dataclass(frozen=True)
class Comparison(Evaluation):
    """A comparison of several systems, on the same queries or on different ones.

    Attributes:
        signature: every option that the scores depend on.
        scores: the scores by system, then by name.
        pairs: the pairs of systems with their differences, by measure.
        baseline: the system that all others are compared with, or None for every pair.
        queries: a table with a row per system and query: ``system``, ``query``, its ``slice`` and
            ``weight`` if there are any, and the query's value of every measure.
        resampling: the confidence of the intervals, and the seed of the test.
        notes: sentences with further facts for the reader.
        testing: the hypotheses of the tests.
        slices: the comparison of every slice with at least two queries, by its value of `by`,
            ascending; queries without a value, None, come last.
        mean_of_slices: the comparison of the means of slices, in which all slices count the same;
            None is no slice. None without slices, or if one of them is not compared.
    """

    signature: str
    scores: dict[str, Scores]
    pairs: tuple[Pair, ...]
    baseline: str | None
    queries: pa.Table
    resampling: Resampling
    notes: tuple[str, ...] = ()
    testing: Testing = field(default_factory=Testing)
    slices: dict[Value, ComparedSlice] = field(default_factory=dict)
    mean_of_slices: ComparedSlice | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of queries of every system, including queries without a value."""
        return row_counts(self.queries["system"])

    @property
    def measures(self) -> list[str]:
        """The names of the results, such as ``"nDCG@10"``."""
        return list(next(iter(self.scores.values())))

    def _require_pairs(self, what: str) -> None:
        if not self.testing.paired:
            raise ValueError(
                f"{what}: the systems have different queries, which cannot be compared one by one"
            )

    def _rows_of(self, system: str) -> pa.Table:
        return self.queries.filter(pc.equal(self.queries["system"], system))

    def differences(
        self,
        system: str,
        other: str,
        measure: str | None = None,
        n: int | None = 10,
        only: Literal["losses", "gains"] | None = None,
    ) -> pa.Table:
        """Return the queries on which two systems differ most.

        The columns are ``query``, both values and the ``difference``. The greatest difference comes
        first. Queries on which both have the same value are omitted.

        Args:
            system: the first system.
            other: the system it is compared with.
            measure: the name of a result; by default the first.
            n: the number of queries; None for all that differ.
            only: "losses", the queries on which the first system scores lower, or "gains", on which
                it scores higher.

        Raises:
            ValueError: a system or measure is unknown, `n` is negative, `only` has another value,
                or the systems have different queries.
        """
        self._require_pairs("differences")
        if n is not None:
            n = whole("n", n, 0)
        if only is not None:
            choice("only", only, ("losses", "gains"))
        if measure is None:
            measure = self.measures[0]
        choice("system", system, tuple(self.scores))
        choice("other", other, tuple(self.scores))
        choice("measure", measure, self.measures)
        rows = self._rows_of(system)
        value = rows[measure].to_numpy()
        other_value = self._rows_of(other)[measure].to_numpy()
        difference = differences(value, other_value)
        size = np.abs(difference)
        if only is not None:
            size = difference if only == "gains" else -difference
        columns = [rows["query"], value, other_value, difference]
        table = pa.table(columns, ["query", system, other, "difference"])
        order = np.argsort(-size, kind="stable")
        return table.take(order[size[order] > 0][:n])

    def _better_than(self, system: str, measure: str) -> str:
        """Return the letters of the systems that this one is better, or not worse, than."""
        systems = list(self.scores)
        beaten = []
        for pair in self.pairs:
            if pair.measure == measure and pair.p_holm < SIGNIFICANT:
                ahead, behind = self.testing.ahead_and_behind(pair)
                if ahead == system:
                    beaten.append(systems.index(behind))
        return " ".join(map(letter_text, sorted(beaten)))

    def _tables(self) -> list[Table]:
        level = self.resampling.level
        tests = ["difference", level, "p", "p (Holm)"]
        samples = ["minimum detectable difference"]
        if self.testing.paired:
            tests += ["p (t-test)", "p (t-test, Holm)", "won–tied–lost"]
            samples.append("queries needed for the observed difference")
        pairs = list(zip(self.pairs))  # a row begins with no other name
        tables = [
            self._system_table(level),
            _pair_table(["pair"], pairs, tests, level),
            _pair_table(["pair, at 80% power"], pairs, samples, level),
        ]
        if self.slices:
            rows = []
            for name, queries, pair in slice_pairs(self, SHOWN):
                rows.append((name, counted_text(pair.queries, queries), pair))
            tables.append(_pair_table(["slice", "queries", "pair"], rows, tests[:4], level))
        return [*tables, *query_tables(self, 3)]

    def _system_table(self, level: str) -> Table:
        rows = []
        counts = self.counts
        for index, (system, scores) in enumerate(self.scores.items()):
            name = f"{letter_text(index)}  {system}"
            rows.append(([name], Slice(counts[system], scores)))
        table = mean_table(["system"], rows, level)
        column = 0
        for measure in self.measures:
            # After the interval.
            column = table[0].index(level, column) + 1
            table[0].insert(column, self.testing.relation)
            for system, row in zip(self.scores, table[1:], strict=True):
                row.insert(column, self._better_than(system, measure))
        return table

    def _remarks(self) -> list[str]:
        testing = self.testing
        over = f"the pairs of {testing.measures}"
        if self.slices:
            over += ", together in all slices"
        intervals = f"{self.resampling.level}s: {WELCH}"
        test = "Welch's t-test of independent samples, which is"
        if testing.paired:
            intervals = str(self.resampling)
            figures = dict(zip(Pair._fields, zip(*self.pairs, strict=True), strict=True))
            tried = "all permutations: exact"
            if not all(figures["exact"]):
                tried = f"{max(figures['permutations']):,} permutations"
            test = (
                f"the paired randomization test ({tried}); p (t-test): from the paired t-test. "
                "Both are"
            )
        remarks = [
            f"{intervals}. p: {testing.question()}? From {test} also corrected by Holm for {over}; "
            f"intervals are not. One system is {testing.relation} another{testing.by_margin} if "
            f"p (Holm) < {SIGNIFICANT}."
        ]
        if testing.alternative != "two-sided":
            remarks.append(ONE_SIDED)
        return [*remarks, *first_slices(self.slices), *self.notes]

    def to_latex(self, places: int = 4) -> str:
        """Return the scores of the systems as a LaTeX table.

        Comments with the remarks and the signature come before it. A superscript names the systems
        that one is significantly better than (with a margin, not worse than), with a corrected p
        below 0.05; the highest score of every measure is bold. The caption says so.

        Args:
            places: the number of decimal places.

        Raises:
            ValueError: `places` is not an integer from 0 to 16.
        """
        places = whole("places", places, 0, PLACES)
        rows = [["", "System", *map(latex_text, self.measures)]]
        for index, system in enumerate(self.scores):
            cells = [f"$^{{{letter_text(index)}}}$", latex_text(system)]
            for name in self.measures:
                value = self.scores[system][name].value
                text = number_text(value, places)
                if value == self.scores[self._best(name)][name].value:
                    text = f"\\textbf{{{text}}}"
                beaten = self._better_than(system, name).replace(" ", "")
                if beaten:
                    text += f"$^{{{beaten}}}$"
                cells.append(text)
            rows.append(cells)
        begin = [*self._latex_comments(), "\\begin{table}", "\\centering", self._caption()]
        table = tabular("ll" + "c" * len(self.measures), rows)
        return "\n".join([*begin, *table, "\\end{table}"])

    def _caption(self) -> str:
        testing = self.testing
        return (
            f"\\caption{{{latex_text(', '.join(self.measures))} of "
            f"{range_text(self.counts.values())} queries. Bold: the highest. Superscripts: the "
            f"systems that one is {testing.relation}{testing.by_margin}, by letter "
            f"({testing.test}, $p < {SIGNIFICANT}$, corrected by Holm for the pairs of "
            f"{testing.measures}).}}"
        )

    @classmethod
    def _read(
        cls, values: Saved, options: Options, queries: pa.Table, resampling: Resampling
    ) -> dict[str, Any]:
        baseline = values["baseline"]
        testing = Testing.parse(*Testing(**values["testing"]))
        tables = {}
        for system in queries["system"].unique().to_pylist():
            tables[system] = queries.filter(pc.equal(queries["system"], system))
        first = tables[system_names(tables, baseline)[0]]
        shared = select_present(first, SHARED)
        columns = {}
        for system, table in tables.items():
            if testing.paired and select_present(table, SHARED) != shared:
                raise ValueError("queries: must be the same for each system")
            columns[system] = saved_columns(table, options.names, values["signature"])
        if version_in(values["signature"]).startswith("2."):
            contest = Contest(options, baseline, resampling, testing)
            documents = {part["slice"]: part["scores"] for part in values["slices"]}
            results = contest.results(columns, slices_in(first), documents)
            add_figures_of_documents(results["scores"], values["scores"])
        else:
            results = _saved_results(values, columns, first, options.names, baseline)
        return {"baseline": baseline, "testing": testing, **results}

    def plot(
        self,
        measure: str | None = None,
        *,
        queries: bool = False,
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Return a Matplotlib figure of the systems' means, with intervals of their differences.

        The differences are from the baseline. Without a baseline, the differences are from the
        system with the highest mean or, as one-sided tests have a direction, from the last system,
        which is the second of its pairs. There is a panel for every cutoff, and a last one for the
        slices, at the first cutoff. The intervals agree with `p_holm`.

        Args:
            measure: a measure, such as ``"nDCG"``, at all its cutoffs, or a result, such as
                ``"nDCG@10"``; by default the first measure.
            queries: instead, show the queries on which every system differs most, in a panel per
                system, at the first cutoff.
            ax: Matplotlib Axes to draw into, or a list of these for several panels. By default a
                new figure has all panels.
            figsize: width and height of a new figure in inches.

        Raises:
            ValueError: the measure is unknown; `ax` or `figsize` has another type.
        """
        names = plotted_names(measure, self.measures)
        # So many rows of text, and names of this length, fit beside each other.
        if queries:
            self._require_pairs("queries=True")
            draw = self._draw_queries
            panels = len(self.scores) - 1
            rows, width = 15.0, 5.0
        else:
            draw = self._draw_means
            panels = len(names) + bool(self.slices)
            systems = len(self.scores)
            rows = max(systems, min(len(self.slices), SHOWN) * systems / 3)
            width = 4.8 + max(map(len, self.scores)) / 13
        figure, axes = figure_of(panels, 1.8 + 0.3 * rows, width, ax=ax, figsize=figsize)
        # With fewer axes, only the first panels are drawn.
        draw(axes, names)
        return figure

    def _draw_means(self, axes: Sequence[Any], names: Sequence[str]) -> None:
        """Draw the means of every result, systems sorted by the first, and then the slices."""
        first = names[0]
        scores = dict(sorted(self.scores.items(), key=lambda item: -item[1][first].value))
        for name, panel in zip(names, axes, strict=False):
            pairs = pairs_with(self._reference(name), self.pairs, name)
            plot_means(panel, scores, pairs, name, self.testing)
        if len(axes) > len(names):
            rows = [row[:2] for row in slice_rows(self, SHOWN)]
            plot_slices(axes[-1], rows, self._reference(first), first)

    def _draw_queries(self, axes: Sequence[Any], names: Sequence[str]) -> None:
        name = names[0]
        reference = self._reference(name)
        rows = self._rows_of(reference)
        for (system, _), panel in zip(opponents(self.scores, reference), axes, strict=False):
            difference = differences(self._rows_of(system)[name].to_numpy(), rows[name].to_numpy())
            label = f"{name} of {system}\nminus that of {reference}"
            plot_queries(panel, rows["query"], difference, label)

    def _reference(self, name: str) -> str:
        """Return the system from which plots show differences: the baseline, else the best one.

        If tests are one-sided, it must be the second of all its pairs, which the last system is.
        """
        if self.baseline:
            return self.baseline
        if self.testing.alternative != "two-sided":
            return list(self.scores)[-1]
        return self._best(name)

    def _best(self, name: str) -> str:
        return max(self.scores, key=lambda system: self.scores[system][name].value)


def _saved_results(
    values: Saved, columns: BySystem, first: pa.Table, names: Sequence[str], baseline: str | None
) -> dict[str, Any]:
    """Return the saved results of a comparison, checked against the values of the queries."""
    pairs_of_systems = opponents(columns, baseline)
    expected = [(name, *pair) for name, pair in product(names, pairs_of_systems)]

    def read(saved: Saved) -> ComparedSlice:
        pairs = []
        for figures in saved["pairs"]:
            pairs.append(Pair(**saved_figures(Pair, figures, "pairs", Pair._fields)))
        if [pair[:3] for pair in pairs] != expected:
            raise ValueError(
                "pairs: must be those of the measures in the signature and of the systems in "
                "queries"
            )
        scores = {}
        for system in columns:
            scores[system] = saved_scores(saved["scores"][system], names, f"scores: {system}")
        return ComparedSlice(saved["queries"], scores, tuple(pairs))

    _, scores, pairs = read({**values, "queries": len(first)})
    for system, system_columns in columns.items():
        check_counted(scores[system], system_columns, f"scores: {system}")
    return {"scores": scores, "pairs": pairs, **saved_slices(values, first, read)}


def query_tables(comparison: Comparison, n: int | None, places: int = 4) -> list[Table]:
    """Return tables of the queries that lost, and that gained, most in the first measure."""
    if not comparison.testing.paired:
        return []
    measure = comparison.measures[0]
    headings: dict[Literal["losses", "gains"], str] = {
        "losses": f"queries that lost most in {measure}",
        "gains": f"queries that gained most in {measure}",
    }
    tables = []
    for only, heading in headings.items():
        table = [[heading, "pair", "first", "second", "difference"]]
        for pair in comparison.pairs:
            if pair.measure != measure:
                continue
            queries = comparison.differences(pair.system, pair.other, measure, n, only)
            for row in queries.to_pylist():
                query, one, other, difference = row.values()
                cells = [number_text(one, places), number_text(other, places)]
                table.append([str(query), pair.title, *cells, number_text(difference, places, "+")])
        if len(table) > 1:
            tables.append(table)
    return tables


def slice_pairs(comparison: Comparison, most: int | None = None) -> Iterator[tuple[str, int, Pair]]:
    """Yield the pairs in slices, at most so many, and in their mean, after title and queries."""
    for title, part, _ in slice_rows(comparison, most):
        for pair in part.pairs:
            yield title, part.queries, pair


def _pair_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    columns: Sequence[str],
    level: str,
) -> Table:
    """Return a table of pairs with some of their columns; a row may begin with other names."""
    table = [[*headings, "measure", *columns]]
    for *names, pair in rows:
        cells = pair.cells(level)
        table.append([*names, pair.title, pair.measure, *(cells[column] for column in columns)])
    return table
