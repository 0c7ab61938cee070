"""The comparison of several systems on the same queries, with intervals and tests.

A comparison is plain data. It can be shown as text, Markdown, HTML, LaTeX or a plot, and saved as a
dict of JSON types, from which it can be restored.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.slices import MEAN_OF_SLICES, Value, slice_name, slices_of
from ..measure.messages import shown, visible
from ..measure.options import choice, measure_of, whole
from ..show.drawing import figure_of
from ..show.json_types import without_nan
from ..show.tables import (
    Readable,
    Table,
    count_text,
    counted_text,
    latex_text,
    letter_text,
    number_text,
    tabular,
)
from .contest import ComparedSlice, Contest, results_of, with_figures_of_slices
from .measured import SHOWN, Resampling, Score, mean_cells
from .notes import first_slices
from .pairs import SIGNIFICANT, Pair, Testing, opponents, system_names
from .plots import pairs_with, plot_means, plot_queries, plot_slices
from .saved import (
    as_saved,
    check_row_count,
    check_scores,
    saved_columns,
    saved_notes,
    saved_pairs,
    saved_resampling,
    saved_scores,
    saved_signature,
    saved_slices,
    table_from_lists,
    with_figures_of_documents,
)
from .significance import differences
from .slice_means import queries_in_slices

SHARED = ("query", "slice", "weight")  # columns of queries that all systems share
PLACES = 16  # the most decimal places, since float64 holds no more digits
ONE_SIDED = (
    "Tests are one-sided and intervals two-sided: the interval that agrees with a test at the 5% level is the 90% "
    "interval."
)
WELCH = "Wilson-type t for means, Welch's t for differences"
INDEPENDENT = (
    "The queries of the systems count as independent samples: the difficulty of the queries does not "
    "cancel out, so it takes more queries to find a difference than with the same queries."
)


@dataclass(frozen=True)
class Comparison(Readable):
    """A comparison of several systems, on the same queries or on different ones.

    Attributes:
        signature: every option that the scores depend on.
        scores: the scores by system, then by name.
        pairs: the pairs of systems with their differences, by measure.
        baseline: the system that all others are compared with, or None for every pair.
        queries: a table with a row per system and query: ``system``, ``query``, its ``slice`` and
            ``weight`` if there are any, and the query's value of each measure.
        resampling: the confidence of the intervals, and the options of the test.
        testing: the hypotheses of the tests.
        notes: sentences with further facts for the reader.
        slices: the comparison of each slice with at least two queries, by its value of `by`,
            ascending; queries without a value, None, come last.
        mean_of_slices: the comparison of the means of slices, in which each slice counts the same;
            None is no slice. None without slices, or if one of them is not compared.
    """

    signature: str
    scores: dict[str, dict[str, Score]]
    pairs: tuple[Pair, ...]
    baseline: str | None
    queries: pa.Table
    resampling: Resampling
    testing: Testing
    notes: tuple[str, ...] = ()
    slices: dict[Value, ComparedSlice] = field(default_factory=dict)
    mean_of_slices: ComparedSlice | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of queries of each system, including those without a value."""
        return {
            each["values"]: each["counts"]
            for each in pc.value_counts(self.queries["system"]).to_pylist()
        }

    @property
    def measures(self) -> list[str]:
        """The names of the results, such as ``"nDCG@10"``."""
        return list(next(iter(self.scores.values())))

    def _require_pairs(self, what: str) -> None:
        """Raise an error if the systems have different queries, which cannot be compared one by one."""
        if not self.testing.paired:
            raise ValueError(
                f"{what}: the systems have different queries, which cannot be compared one by one"
            )

    def _of(self, system: str) -> pa.Table:
        """Return the rows of a system in the table of queries."""
        return self.queries.filter(pc.equal(self.queries["system"], system))

    def differences(
        self,
        system: str,
        other: str,
        measure: str | None = None,
        n: int | None = 10,
        only: Literal["losses", "gains"] | None = None,
    ) -> pa.Table:
        """Return the queries on which two systems differ most: ``query``, both values and the ``difference``.

        The greatest difference comes first. Queries on which both have the same value are omitted.

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
        measure = self.measures[0] if measure is None else measure
        n = None if n is None else whole("n", n, 0)
        if only is not None:
            choice("only", only, ("losses", "gains"))
        for name, known in (
            (system, list(self.scores)),
            (other, list(self.scores)),
            (measure, self.measures),
        ):
            if name not in known:
                raise ValueError(
                    f"{shown(name)} is not in this comparison, which has {', '.join(map(repr, known))}"
                )
        one, another = (self._of(each) for each in (system, other))
        values = [each[measure].to_numpy() for each in (one, another)]
        difference = differences(*values)
        size = {"losses": -difference, "gains": difference, None: np.abs(difference)}[only]
        order = np.argsort(-size, kind="stable")
        order = order[size[order] > 0][:n]
        columns = [
            one["query"].take(pa.array(order)),
            *(each[order] for each in (*values, difference)),
        ]
        return pa.table(columns, ["query", system, other, "difference"])

    def _letters(self) -> dict[str, str]:
        return {system: letter_text(at) for at, system in enumerate(self.scores)}

    def _better_than(self, system: str, measure: str) -> str:
        """Return the letters of the systems that this one is significantly better than, or not worse than."""
        letters = self._letters()
        beaten = []
        for pair in self.pairs:
            if pair.measure == measure and pair.p_holm < SIGNIFICANT:
                ahead, behind = self.testing.marks(pair.system, pair.other, pair.difference)
                if ahead == system:
                    beaten.append(letters[behind])
        return " ".join(sorted(beaten, key=lambda letter: (len(letter), letter)))

    def _tables(self) -> list[Table]:
        level = self.resampling.level
        tests, samples = ["difference", level, "p", "p (Holm)"], ["minimum detectable difference"]
        if self.testing.paired:
            tests += ["p (t-test)", "p (t-test, Holm)", "won–tied–lost"]
            samples.append("queries needed for the observed difference")
        return [
            self._system_table(level),
            _pair_table("pair", self.pairs, tests, level),
            _pair_table("pair, at 80% power", self.pairs, samples, level),
            *([self._slice_table(level)] if self.slices else []),
            *query_tables(self, 3),
        ]

    def _system_table(self, level: str) -> Table:
        header, *rows = mean_cells(
            [(scores, self.counts[name]) for name, scores in self.scores.items()], level
        )
        table = [
            ["system", *(text for cells in header for text in (*cells, self.testing.relation))]
        ]
        for (system, letter), row in zip(self._letters().items(), rows, strict=True):
            marked = zip(row, self.measures, strict=True)
            marks = [
                text for cells, name in marked for text in (*cells, self._better_than(system, name))
            ]
            table.append([f"{letter}  {system}", *marks])
        return table

    def _slice_table(self, level: str) -> Table:
        columns = ["difference", level, "p", "p (Holm)"]
        table = [["slice", "queries", "pair", "measure", *columns]]
        for name, part in compared_rows(self, SHOWN):
            _, *rows = _pair_table("pair", part.pairs, columns, level)
            counts = [counted_text(pair.queries, part.queries) for pair in part.pairs]
            table += [[name, count, *row] for count, row in zip(counts, rows, strict=True)]
        return table

    def _exactness(self) -> str:
        """Return the number of pairs with an exact p, and the precision of p for the others."""
        pairs = [*self.pairs, *(pair for _, part in compared_rows(self) for pair in part.pairs)]
        sampled = [pair for pair in pairs if not pair.exact]
        if not sampled:
            return "all permutations: exact"
        error = max(each.p_error for each in sampled)
        text = f"{sampled[0].permutations:,} permutations: standard error of p at most {error:.1g}"
        exact = len(pairs) - len(sampled)
        return f"exact for {exact:,} of {len(pairs):,}; for the others {text}" if exact else text

    def _remarks(self) -> list[str]:
        over = {"measure": "the pairs of a measure", "all": "all pairs of all measures"}[
            self.testing.corrected_over
        ]
        if self.testing.paired:
            test = f"the paired randomization test ({self._exactness()}); p (t-test): from the paired t-test. Both are"
        else:
            test = "Welch's t-test, which is"
        intervals = (
            str(self.resampling) if self.testing.paired else f"{self.resampling.level}s: {WELCH}"
        )
        return [
            f"{intervals}. p: {self.testing}? From {test} also corrected by Holm for {over}; intervals are not. "
            f"One system is {self.testing.relation} another if p (Holm) < {SIGNIFICANT}.",
            *([] if self.testing.paired else [INDEPENDENT]),
            *([] if self.testing.alternative == "two-sided" else [ONE_SIDED]),
            *first_slices(self.slices),
            *self.notes,
        ]

    def to_latex(self, places: int = 4) -> str:
        """Return the scores of the systems as a LaTeX table, after comments with the remarks and the signature.

        A superscript names the systems that one is significantly better than (with a margin, not
        worse than), with a corrected p below 0.05; the highest score of each measure is bold. The
        caption says so.

        Args:
            places: the number of decimal places.

        Raises:
            ValueError: `places` is not an integer from 0 to 16.
        """
        places = whole("places", places, 0, PLACES)
        best = {
            name: max(scores[name].value for scores in self.scores.values())
            for name in self.measures
        }
        rows = [["", "System", *map(latex_text, self.measures)]]
        for system, letter in self._letters().items():
            cells = [f"$^{{{letter}}}$", latex_text(system)]
            for name in self.measures:
                value = self.scores[system][name].value
                text = number_text(value, places)
                text = f"\\textbf{{{text}}}" if value == best[name] else text
                beaten = self._better_than(system, name).replace(" ", "")
                cells.append(text + (f"$^{{{beaten}}}$" if beaten else ""))
            rows.append(cells)
        comments = [f"% {remark}" for remark in (*self.remarks(), visible(self.signature))]
        table = tabular("ll" + "c" * len(self.measures), rows)
        return "\n".join(
            [*comments, "\\begin{table}", "\\centering", self._caption(), *table, "\\end{table}"]
        )

    def _caption(self) -> str:
        """Return the caption of the LaTeX table: what it shows, and what its marks mean."""
        family = len(self.testing.families(self.pairs)[0])
        of_what = {"measure": "of a measure", "all": "of all measures"}[self.testing.corrected_over]
        corrected = f", corrected by Holm for {family:,} pairs {of_what}" if family > 1 else ""
        queries = sorted(set(self.counts.values()))
        counts = " to ".join(map(count_text, dict.fromkeys((queries[0], queries[-1]))))
        what = f"{latex_text(', '.join(self.measures))} of {counts} queries. Bold: the highest."
        marks = f"Superscripts: the systems that one is {self.testing.relation}, by letter"
        return f"\\caption{{{what} {marks} ({self.testing.test}, $p < {SIGNIFICANT}${corrected}).}}"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dict of JSON types."""
        return {
            "signature": self.signature,
            "scores": without_nan(self.scores),
            "pairs": without_nan(self.pairs),
            "baseline": self.baseline,
            "queries": self.queries.to_pydict(),
            "resampling": self.resampling._asdict(),
            "notes": list(self.notes),
            "testing": self.testing._asdict(),
            "slices": [
                {"slice": value, **without_nan(each)} for value, each in self.slices.items()
            ],
            "mean_of_slices": without_nan(self.mean_of_slices),
        }

    @classmethod
    @as_saved("Comparison")
    def from_dict(cls, values: Mapping[str, Any]) -> "Comparison":
        """Return the comparison that `to_dict` was called on.

        What later versions saved is read. Means, pairs and slices that 2.x saved are computed again
        from the values of the queries, except for the figures of a score that depend on documents.

        Raises:
            ValueError: an entry is missing, or has another type or range, or rows of queries are
                missing; names the entry.
        """
        signature, options, is_of_2 = saved_signature(values["signature"])
        baseline, resampling = values["baseline"], saved_resampling(values["resampling"])
        testing = Testing.parse(*Testing(**values["testing"]))
        queries = table_from_lists(values["queries"])
        names = queries["system"].unique().to_pylist()
        tables = {name: queries.filter(pc.equal(queries["system"], name)) for name in names}
        first = tables[system_names(tables, baseline)[0]]
        shared = [name for name in SHARED if name in first.column_names]
        if testing.paired and any(
            table.select(shared) != first.select(shared) for table in tables.values()
        ):
            raise ValueError("queries: must be the same for each system")
        columns = {
            system: saved_columns(table, options.names, signature)
            for system, table in tables.items()
        }
        slices: dict[Value, ComparedSlice] = {}
        mean_of_slices = None
        if is_of_2:
            by = slices_of(first["slice"], None, len(first)) if "slice" in shared else None
            results = results_of(columns, by, Contest(options, baseline, resampling, testing))
            resampling, pairs = results["resampling"], results["pairs"]
            scores = with_figures_of_documents(results["scores"], values["scores"])
            of_slices = {each["slice"]: each["scores"] for each in values["slices"]}
            for value, each in results["slices"].items():
                slices[value] = each._replace(
                    scores=with_figures_of_documents(each.scores, of_slices[value])
                )
            mean_of_slices = with_figures_of_slices(results["mean_of_slices"], slices)
        else:
            expected = [
                (name, *systems)
                for name in options.names
                for systems in opponents(tables, baseline)
            ]
            pairs = saved_pairs(values["pairs"], expected)
            scores = {
                name: saved_scores(values["scores"][name], options.names, f"scores: {name}")
                for name in tables
            }
            for name, column in columns.items():
                check_scores(scores[name], column, f"scores: {name}")
            for value, each in saved_slices(values["slices"], first).items():
                of_slice = {
                    name: saved_scores(each["scores"][name], options.names) for name in tables
                }
                slices[value] = ComparedSlice(
                    each["queries"], of_slice, saved_pairs(each["pairs"], expected)
                )
            means = values["mean_of_slices"]
            if means is not None:
                check_row_count(means["queries"], queries_in_slices(slices), "mean_of_slices")
                of_means = {
                    name: saved_scores(means["scores"][name], options.names) for name in tables
                }
                of_pairs = saved_pairs(means["pairs"], expected)
                mean_of_slices = ComparedSlice(means["queries"], of_means, of_pairs)
        return cls(
            signature=signature,
            baseline=baseline,
            queries=queries,
            notes=saved_notes(values["notes"]),
            testing=testing,
            pairs=pairs,
            resampling=resampling,
            scores=scores,
            slices=slices,
            mean_of_slices=mean_of_slices,
        )

    def plot(
        self,
        measure: str | None = None,
        *,
        queries: bool = False,
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Return a Matplotlib figure of the systems' means, with intervals of their differences from the baseline.

        Without a baseline, the differences are from the system with the highest mean. There is a
        panel for each cutoff, and a last one for the slices, at the first cutoff. The intervals
        agree with `p_holm`.

        Args:
            measure: a measure, such as ``"nDCG"``, at all its cutoffs, or a result, such as
                ``"nDCG@10"``; by default the first measure.
            queries: instead, show how much each system differs on each query, in a panel per
                system, at the first cutoff.
            ax: Matplotlib Axes to draw into, or a list of these for several panels. By default a
                new figure has all panels.
            figsize: width and height of a new figure in inches.

        Raises:
            ValueError: the measure is unknown; `ax` or `figsize` has another type.
        """
        wanted = measure_of(self.measures[0]) if measure is None else measure
        names = [name for name in self.measures if wanted in (name, measure_of(name))]
        if not names:
            raise ValueError(
                f"{shown(measure)} is not in this comparison, which has {', '.join(self.measures)}"
            )
        panels = self._query_panels(names[0]) if queries else self._mean_panels(names)
        rows = (
            15
            if queries
            else max(len(self.scores), min(len(self.slices), SHOWN) * len(self.scores) / 3)
        )
        width = 5 if queries else 4.8 + max(map(len, self.scores)) / 13
        figure, axes = figure_of(len(panels), 1.8 + 0.3 * rows, width, ax=ax, figsize=figsize)
        for draw, each in zip(
            panels, axes, strict=False
        ):  # with fewer axes, only the first panels are drawn
            draw(each)
        return figure

    def _mean_panels(self, names: Sequence[str]) -> list[Callable[[Any], None]]:
        """Return the functions that draw the means of each result, with systems sorted by the first, and the slices."""
        ordered = sorted(self.scores.items(), key=lambda each: -each[1][names[0]].value)
        panels: list[Callable[[Any], None]] = []
        for name in names:
            pairs = pairs_with(self._reference(name), self.pairs, name)
            panels.append(
                partial(
                    plot_means,
                    scores=dict(ordered),
                    pairs=pairs,
                    measure=name,
                    testing=self.testing,
                )
            )
        if self.slices:
            first, reference = self._of(next(iter(self.scores))), self._reference(names[0])
            slices = slices_of(first["slice"], None, len(first))
            mean = self.mean_of_slices
            panels.append(
                lambda axes: plot_slices(axes, slices, self.slices, mean, reference, names[0])
            )
        return panels

    def _query_panels(self, name: str) -> list[Callable[[Any], None]]:
        """Return the functions that draw how much each other system differs from the reference, query by query."""
        self._require_pairs("queries=True")
        reference = self._reference(name)
        base = self._of(reference)
        ids, values = base["query"].to_pylist(), base[name].to_numpy()
        panels: list[Callable[[Any], None]] = []
        for system in (each for each in self.scores if each != reference):
            difference = differences(self._of(system)[name].to_numpy(), values)
            what = f"{name} of {system}\nminus that of {reference}"
            panels.append(partial(plot_queries, ids=ids, difference=difference, label=what))
        return panels

    def _reference(self, name: str) -> str:
        """Return the system from which plots show differences: the baseline, else the best system."""
        return self.baseline or max(self.scores, key=lambda system: self.scores[system][name].value)


def compared_rows(
    comparison: Comparison, most: int | None = None
) -> list[tuple[str, ComparedSlice]]:
    """Return the slices by their names, at most so many, and then the mean of slices, if there is one."""
    rows = [(slice_name(value), part) for value, part in islice(comparison.slices.items(), most)]
    if comparison.mean_of_slices is not None:
        rows.append((MEAN_OF_SLICES, comparison.mean_of_slices))
    return rows


def query_rows(
    comparison: Comparison, pair: Pair, n: int | None, only: Literal["losses", "gains"]
) -> list[tuple[Any, float, float, float]]:
    """Return the queries on which the first system of a pair loses or gains most: query, both values, difference."""
    table = comparison.differences(pair.system, pair.other, pair.measure, n, only)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def query_tables(comparison: Comparison, n: int | None, places: int = 4) -> list[Table]:
    """Return the tables of queries that lost most, and that gained most, in the first measure, if there are any."""
    sides: dict[str, Literal["losses", "gains"]] = {"lost": "losses", "gained": "gains"}
    if n == 0 or not comparison.testing.paired:
        return []
    tables = []
    for did, only in sides.items():
        table = [
            [
                f"queries that {did} most in {comparison.measures[0]}",
                "pair",
                "first",
                "second",
                "difference",
            ]
        ]
        for pair in (pair for pair in comparison.pairs if pair.measure == comparison.measures[0]):
            for query, *values, difference in query_rows(comparison, pair, n, only):
                cells = (number_text(each, places) for each in values)
                table.append([str(query), pair.title, *cells, number_text(difference, places, "+")])
        tables.append(table)
    return [table for table in tables if len(table) > 1]


def _pair_table(name: str, pairs: Iterable[Pair], columns: Sequence[str], level: str) -> Table:
    """Return a table of pairs with some of their columns, and a name for the first column."""
    cells = ((pair, pair.cells(level)) for pair in pairs)
    rows = [
        [pair.title, pair.measure, *(of_pair[column] for column in columns)]
        for pair, of_pair in cells
    ]
    return [[name, "measure", *columns], *rows]
