"""The comparison of several systems on the same queries, with intervals and tests.

A comparison is a plain value. It can be shown as text, Markdown, HTML, LaTeX or a plot, and saved as a
dict in JSON types, from which the same comparison can be restored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.reading import Inputs
from ..inputs.slices import Slices, Value, slice_name, slices_of
from ..inputs.sources import settled
from ..measure.messages import shown, visible, warn
from ..measure.options import Cutoffs, Options, QueryOptions, choice, measure_of, whole
from ..scores.queries import columns_of, from_file, progress, refuse_negative
from ..show.drawing import Mark, draw_rows, figure_of
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
from .measured import (
    SHOWN,
    PerQuery,
    Resampling,
    Score,
    in_pieces,
    leave_out_alike,
    mean_cells,
    query_columns,
    query_table,
    with_slices,
)
from .notes import (
    chance_notes,
    exclusion_notes,
    first_slices,
    left_out_notes,
    missing_notes,
    notes,
    notes_on_slices,
    notes_on_tests,
    small_slices,
    unmatched_notes,
)
from .pairs import SIGNIFICANT, Contest, Pair, ScoresAndPairs, Testing, system_names
from .parts import Parts
from .saved import (
    RENAMED,
    as_saved,
    lacks_weights,
    saved_columns,
    saved_count,
    saved_notes,
    saved_resampling,
    saved_scores,
    saved_signature,
    table_from_lists,
    with_figures_of_documents,
    without_nan,
)
from .significance import differences

SHARED = ("query", "slice", "weight")  # columns of queries that all systems share
PLACES = 16  # at most: float64 holds no more digits
ONE_SIDED = (
    "Tests are one-sided and intervals two-sided: the interval that agrees with a test at the 5% level is the 90% "
    "interval."
)


class ComparedSlice(NamedTuple):
    """How systems differ on the queries with the same value of `by`.

    Attributes:
        queries: the number of these queries.
        scores: the scores by system, then by name.
        pairs: the pairs, by measure; Holm's correction covers the p-values of all slices.
    """

    queries: int
    scores: dict[str, dict[str, Score]]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Comparison(Readable):
    """Several systems compared on the same queries.

    Attributes:
        signature: every choice that the scores depend on.
        scores: the scores by system, then by name.
        pairs: the pairs of systems with their differences, by measure.
        baseline: the system that all others are compared with, or None for every pair.
        queries: a table with a row per system and query: ``system``, ``query``, its ``slice`` if there are any, and
            under each score's name the query's value (null if it has none).
        resampling: the confidence of the intervals, and the options of the test.
        testing: the hypotheses of the tests.
        notes: sentences with further facts for the reader.
        slices: the comparison of each slice with at least two queries, by its value of `by`, ascending; queries
            without a value, None, come last.
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

    @property
    def measures(self) -> list[str]:
        """The names of the results, such as ``"nDCG@10"``."""
        return list(next(iter(self.scores.values())))

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
            only: "losses", the queries on which the first system scores lower, or "gains", on which it scores higher.

        Raises:
            ValueError: a system or measure is unknown, `n` is negative, or `only` is another word.
        """
        measure = self.measures[0] if measure is None else measure
        n = None if n is None else whole("n", n, 0)
        if only is not None:
            choice("only", only, ("losses", "gains"))
        for name, known in ((system, list(self.scores)), (other, list(self.scores)), (measure, self.measures)):
            if name not in known:
                raise ValueError(f"{shown(name)} is not in this comparison, which has {', '.join(map(repr, known))}")
        sides = [self.queries.filter(pc.equal(self.queries["system"], each)) for each in (system, other)]
        values = [side[measure].to_numpy() for side in sides]
        difference = differences(*values)
        size = {"losses": -difference, "gains": difference, None: np.abs(difference)}[only]
        order = np.argsort(-size, kind="stable")
        order = order[size[order] > 0][:n]
        columns = [sides[0]["query"].take(pa.array(order)), *(each[order] for each in (*values, difference))]
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
        tests = ["difference", level, "p", "p (Holm)", "p (t-test)", "p (t-test, Holm)", "won–tied–lost"]
        samples = ["minimum detectable difference", "queries needed for the observed difference"]
        return [
            self._system_table(level),
            _pair_table("pair", self.pairs, tests, level),
            _pair_table("pair, at 80% power", self.pairs, samples, level),
            *([self._slice_table(level)] if self.slices else []),
            *query_tables(self, 3),
        ]

    def _system_table(self, level: str) -> Table:
        queries = len(self.queries) // len(self.scores)
        header, *rows = mean_cells([(scores, queries) for scores in self.scores.values()], level)
        table = [["system", *(text for cells in header for text in (*cells, self.testing.relation))]]
        for (system, letter), row in zip(self._letters().items(), rows, strict=True):
            marked = zip(row, self.measures, strict=True)
            marks = [text for cells, name in marked for text in (*cells, self._better_than(system, name))]
            table.append([f"{letter}  {system}", *marks])
        return table

    def _slice_table(self, level: str) -> Table:
        columns = ["difference", level, "p", "p (Holm)"]
        table = [["slice", "queries", "pair", "measure", *columns]]
        for value, each in islice(self.slices.items(), SHOWN):
            _, *rows = _pair_table("pair", each.pairs, columns, level)
            counts = [counted_text(pair.queries, each.queries) for pair in each.pairs]
            table += [[slice_name(value), count, *row] for count, row in zip(counts, rows, strict=True)]
        return table

    def _exactness(self) -> str:
        """Return the number of pairs with an exact p, and the precision of p for the others."""
        pairs = [*self.pairs, *(pair for each in self.slices.values() for pair in each.pairs)]
        sampled = [pair for pair in pairs if not pair.exact]
        if not sampled:
            return "all permutations: exact"
        error = max(each.p_error for each in sampled)
        text = f"{sampled[0].permutations:,} permutations: standard error of p at most {error:.1g}"
        exact = len(pairs) - len(sampled)
        return f"exact for {exact:,} of {len(pairs):,}; for the others {text}" if exact else text

    def _remarks(self) -> list[str]:
        over = {"measure": "the pairs of a measure", "all": "all pairs of all measures"}[self.testing.corrected_over]
        return [
            f"{self.resampling}. p: {self.testing}? From the paired randomization test ({self._exactness()}); p "
            f"(t-test): from the paired t-test. Both are also corrected by Holm for {over}. "
            f"One system is {self.testing.relation} another if p (Holm) < {SIGNIFICANT}.",
            *([] if self.testing.alternative == "two-sided" else [ONE_SIDED]),
            *first_slices(self.slices),
            *self.notes,
        ]

    def to_latex(self, places: int = 4) -> str:
        """Return the scores of the systems as a LaTeX tabular, after comments that explain its marks.

        A superscript names the systems that one is significantly better than (with a margin, not
        worse than), with a corrected p below 0.05; the highest score of each measure is bold.

        Args:
            places: the number of decimal places.

        Raises:
            ValueError: `places` is not an integer from 0 to 16.
        """
        places = whole("places", places, 0, PLACES)
        marks = f"Bold: the highest. Superscripts: the systems that one is {self.testing.relation}, by letter"
        best = {name: max(scores[name].value for scores in self.scores.values()) for name in self.measures}
        lines = [
            f"% {marks} (paired randomization test, p corrected by Holm < {SIGNIFICANT}).",
            *(f"% {remark}" for remark in self.remarks()),
            f"% {visible(self.signature)}",
        ]
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
        return "\n".join([*lines, *tabular("ll" + "c" * len(self.measures), rows)])

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in JSON types."""
        return {
            "signature": self.signature,
            "scores": without_nan(self.scores),
            "pairs": [pair._asdict() for pair in self.pairs],
            "baseline": self.baseline,
            "queries": self.queries.to_pydict(),
            "resampling": self.resampling._asdict(),
            "notes": list(self.notes),
            "testing": self.testing._asdict(),
            "slices": [
                {
                    "slice": value,
                    "queries": each.queries,
                    "scores": without_nan(each.scores),
                    "pairs": [pair._asdict() for pair in each.pairs],
                }
                for value, each in self.slices.items()
            ],
        }

    @classmethod
    @as_saved("Comparison")
    def from_dict(cls, values: Mapping[str, Any]) -> "Comparison":
        """Return the comparison that `to_dict` was called on, in this version or an earlier one.

        Means, pairs and slices are computed again from the values of the queries; the signature, the notes, and the
        figures of a score that depend on documents are read. A weighted comparison of 1.0 to 1.2 keeps its figures,
        since these versions did not save the weights.

        Raises:
            ValueError: an entry is missing, or has another type or range; names the entry.
        """
        names, queries = system_names(values["scores"], values["baseline"]), table_from_lists(values["queries"])
        options = Options.parse(measures=list(values["scores"][names[0]]))
        signature = saved_signature(values["signature"], options.names)
        resampling = saved_resampling(values["resampling"])
        testing = Testing.parse(*Testing(**values.get("testing", {})))
        columns = _saved_columns(queries, names, options.names)
        if lacks_weights(signature, queries):
            results = _saved_results(values, resampling)
        else:
            first = queries.slice(0, len(queries) // len(names))
            slices = slices_of(first["slice"], None, len(first)) if "slice" in first.column_names else None
            results = _results(columns, slices, Contest(options, values["baseline"], resampling, testing))
            results = _with_figures_of_documents(results, values)
        return cls(
            signature=signature,
            baseline=values["baseline"],
            queries=queries,
            notes=saved_notes(values["notes"]),
            testing=testing,
            **results,
        )

    def plot(self, measure: str | None = None, *, ax: Any = None, figsize: tuple[float, float] | None = None) -> Any:
        """Return a Matplotlib figure of the differences in one measure, with their intervals, also by slices.

        Args:
            measure: a result, such as ``"nDCG@10"``, or ``"nDCG"`` for its first cutoff; by default the first result.
            ax: Matplotlib Axes to draw into: one for the differences, or a list for these and the slices. By default
                a new figure has both.
            figsize: width and height of a new figure in inches.

        Raises:
            ValueError: the measure is unknown; `ax` or `figsize` has another type.
        """
        of_measure = [name for name in self.measures if measure in (None, name, measure_of(name))]
        if not of_measure:
            raise ValueError(f"{shown(measure)} is not in this comparison, which has {', '.join(self.measures)}")
        measure = of_measure[0]
        pairs = [pair for pair in self.pairs if pair.measure == measure]
        panels = [self._plot_pairs, *[self._plot_slices] * bool(self.slices)]
        lines = len(pairs) * max(1, min(len(self.slices), SHOWN) / 2)
        figure, axes = figure_of(len(panels), 1.2 + 0.4 * lines, 7, ax=ax, figsize=figsize)
        for draw, each in zip(panels, axes, strict=False):  # fewer axes show the first panels
            draw(each, pairs)
        return figure

    def _plot_pairs(self, axes: Any, pairs: Sequence[Pair]) -> None:
        draw_rows(axes, [(pair.title, [_mark_of_difference(pair)]) for pair in pairs])
        axes.axvline(0, color="gray", linewidth=1)
        if self.testing.margin:
            sign = {"greater": -1, "less": 1}[self.testing.alternative]
            axes.axvline(sign * self.testing.margin, color="gray", linewidth=1, linestyle="dashed")
        axes.margins(y=0.5 / max(1, len(pairs)))
        with_interval = f"difference in {pairs[0].measure}, with {self.resampling.level}"
        sides = "" if self.testing.alternative == "two-sided" else f" ({self.testing}?)"
        axes.set_xlabel(f"{with_interval}; filled: corrected p < {SIGNIFICANT}{sides}")

    def _plot_slices(self, axes: Any, pairs: Sequence[Pair]) -> None:
        measure = pairs[0].measure
        rows = []
        for value, each in islice(self.slices.items(), SHOWN):
            of_measure = [pair for pair in each.pairs if pair.measure == measure]
            rows.append(
                (
                    f"{slice_name(value)} ({count_text(of_measure[0].queries)})",
                    list(map(_mark_of_difference, of_measure)),
                )
            )
        draw_rows(axes, rows, [pair.title for pair in pairs])
        axes.axvline(0, color="gray", linewidth=1)
        axes.set_xlabel(f"difference in {measure}, by slices (and their queries)")
        axes.legend()


def query_rows(
    comparison: Comparison, pair: Pair, n: int | None, only: Literal["losses", "gains"]
) -> list[tuple[Any, float, float, float]]:
    """Return the queries on which the first system of a pair loses or gains most: query, both values, difference."""
    table = comparison.differences(pair.system, pair.other, pair.measure, n, only)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def query_tables(comparison: Comparison, n: int | None, places: int = 4) -> list[Table]:
    """Return the queries that lost most in the first measure, and those that gained most, if there are any."""
    sides: dict[str, Literal["losses", "gains"]] = {"lost": "losses", "gained": "gains"}
    tables = []
    for did, only in sides.items():
        table = [[f"queries that {did} most in {comparison.measures[0]}", "pair", "first", "second", "difference"]]
        for pair in (pair for pair in comparison.pairs if pair.measure == comparison.measures[0]):
            for query, *values, difference in query_rows(comparison, pair, n, only):
                cells = (number_text(each, places) for each in values)
                table.append([str(query), pair.title, *cells, number_text(difference, places, "+")])
        tables.append(table)
    return [table for table in tables if len(table) > 1]


def _mark_of_difference(pair: Pair) -> Mark:
    """Return the mark of a difference in plots."""
    return Mark(pair.difference, pair.low, pair.high, pair.p_holm < SIGNIFICANT)


def _pair_table(name: str, pairs: Iterable[Pair], columns: Sequence[str], level: str) -> Table:
    """Return a table of pairs with some columns, and a name for the first one."""
    cells = ((pair, pair.cells(level)) for pair in pairs)
    rows = [[pair.title, pair.measure, *(of_pair[column] for column in columns)] for pair, of_pair in cells]
    return [[name, "measure", *columns], *rows]


def compare(
    *,
    systems: Mapping[str, Any],
    references: Any,
    k: Cutoffs = None,
    baseline: str | None = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    by: Any = None,
    confidence: float = 0.95,
    seed: int = 0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    margin: float = 0.0,
    corrected_over: Literal["measure", "all"] = "measure",
    **options: Unpack[QueryOptions],
) -> Comparison:
    """Compare several systems on the same queries, with intervals and tests.

    Each pair of systems, or each system and the baseline, is compared query by query: the
    difference with its interval, a paired randomization test and a paired t-test, both also with
    Holm's correction.

    Args:
        systems: the predictions of each system by its name, in any format that `compute` accepts.
        references: the relevances, the same for all systems.
        k: the cutoff or cutoffs.
        baseline: the system to compare all others with; None for every pair.
        sample_weight: one weight per query for the means.
        query_ids: the query id of each row, for flat predictions and references.
        document_ids: the document id of each row, with `query_ids`.
        data: a DataFrame; then the arguments above, and each system's predictions, may be names of its columns.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        by: a value per query, as in `report`; the queries with the same value are compared as a slice, with
            p-values corrected for all slices.
        confidence: the confidence level of the intervals, between 0 and 1.
        seed: the random seed; the same seed gives the same comparison.
        alternative: the hypothesis of the tests: the systems differ ("two-sided"), the first is better
            ("greater"), or it is worse ("less").
        margin: with "greater", test whether the first is worse by less than this (non-inferiority); with "less",
            whether it is better by less than this; in units of the measure.
        corrected_over: correct p-values for all pairs of a "measure" at one cutoff, or for "all".
        **options: the options of `compute`, except `use_aggregator` and `engine`. By default a judged query that is
            missing from one system but not from another is an error; `missing="skip"` skips it for all systems.
            `score_order` may be of single systems, as in `{"l2": "ascending"}`.

    Raises:
        ValueError: as in `compute`, with the system's name; or there are fewer than two systems or
            queries; systems have rankings of different queries; the baseline is unknown.
        ImportError: SciPy is missing.

    >>> comparison = compare(
    ...     systems={"a": [[3, 2, 1], [1, 2, 3]], "b": [[1, 2, 3], [1, 3, 2]]},
    ...     references=[[2, 1, 0], [0, 0, 1]],
    ... )
    >>> [(pair.system, pair.other, round(pair.difference, 4), pair.p) for pair in comparison.pairs]
    [('a', 'b', 0.3746, 0.5)]
    """
    resampling = Resampling.parse(confidence, seed)
    testing = Testing.parse(alternative, margin, corrected_over)
    order = options.get("score_order")
    parsed = Options.of_method(compare, k, {**options, "score_order": None} if isinstance(order, Mapping) else options)
    names = system_names(systems, baseline)
    orders = _orders(order, names) if isinstance(order, Mapping) else dict.fromkeys(names, parsed.score_order)
    runs = {_argument(name): systems[name] for name in names}
    shared = Inputs(None, references, query_ids, document_ids, exclude, sample_weight, by)._asdict()
    arguments = columns_of(data, {**runs, **shared})
    runs = {name: arguments.pop(_argument(name)) for name in names}
    inputs = Inputs(**arguments)
    same_queries = options.get("missing") is None and parsed.missing == "empty"
    by_system = {name: replace(parsed, score_order=each) for name, each in orders.items()}
    columns, unmatched = _columns_of_systems(runs, inputs, by_system, same_queries)
    if unmatched:
        warn(f"{', '.join(map(_argument, unmatched))}: {next(iter(unmatched.values()))}")
    said = orders.values() if len(set(orders.values())) > 1 else [orders[names[0]]]  # one, or one for each system
    parsed = replace(parsed, score_order=",".join(said))
    signature = parsed.signature(weighted=inputs.sample_weight is not None, excluding=exclude is not None)
    return comparison_of(
        columns,
        inputs.by,
        options=parsed,
        baseline=baseline,
        resampling=resampling,
        testing=testing,
        signature=signature,
        unmatched=unmatched,
    )


def comparison_of(
    columns: Mapping[str, PerQuery],
    by: Any,
    *,
    options: Options,
    baseline: str | None,
    resampling: Resampling,
    testing: Testing,
    signature: str,
    unmatched: Mapping[str, str] | None = None,
) -> Comparison:
    """Return the comparison of systems from the columns of their queries, which may be values without rankings."""
    ids = unmatched or {}
    contest = Contest(options, baseline, resampling, testing)
    first = next(iter(columns.values()))
    slices = None if by is None else slices_of(by, first.get("query"), len(first["ideal"]))
    results = _results(columns, slices, contest)
    scores, pairs = results["scores"], results["pairs"]
    of_slices: tuple[str, ...] = ()
    if slices is not None:
        compared, several = results["slices"], len(slices.values)
        of_slices = (*small_slices(compared), *notes_on_slices(pairs, testing, len(compared), several))
        columns = {name: with_slices(each, slices) for name, each in columns.items()}
    return Comparison(
        signature=signature,
        baseline=baseline,
        queries=_table_of_systems(columns, options.names),
        notes=(
            *left_out_notes(list(columns.values()), options),
            *notes(list(columns.values()), options),
            *notes_on_tests(pairs, testing, baseline),
            *(f"{system}: {note}" for system in columns for note in unmatched_notes(columns[system], ids.get(system))),
            *(f"{system}: {note}" for system in columns for note in missing_notes(columns[system], options)),
            *(f"{system}: {note}" for system in columns for note in exclusion_notes(columns[system])),
            *(f"{system}: {note}" for system in columns for note in chance_notes(scores[system], columns[system])),
            *of_slices,
        ),
        testing=testing,
        **results,
    )


def _results(columns: Mapping[str, PerQuery], slices: Slices | None, contest: Contest) -> dict[str, Any]:
    """Return the scores, the pairs and the slices of a comparison, and its options of intervals and tests."""
    ((scores, pairs),) = contest.results(columns)
    pairs = contest.testing.corrected(pairs)
    return {
        "scores": scores,
        "pairs": tuple(pairs),
        "resampling": contest.resampling._replace(exact=all(pair.exact for pair in pairs)),
        "slices": {} if slices is None else _compared_slices(contest, slices, columns),
    }


def _saved_columns(queries: pa.Table, systems: Sequence[str], names: Sequence[str]) -> dict[str, PerQuery]:
    """Return the columns of queries of each system from a saved table.

    Raises:
        ValueError: the systems have other queries, or do not follow each other.
    """
    tables = [queries.filter(pc.equal(queries["system"], system)) for system in systems]
    shared = [name for name in SHARED if name in queries.column_names]
    in_order = pa.concat_tables(tables)["system"] == queries["system"]
    if not in_order or any(each.select(shared) != tables[0].select(shared) for each in tables):
        raise ValueError("queries: must be the same for each system, system after system")
    return {system: saved_columns(table, names) for system, table in zip(systems, tables, strict=True)}


def _with_figures_of_documents(results: dict[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return results with the saved figures that the values of the queries do not determine."""

    def scores(of_systems: Mapping[str, dict[str, Score]], part: Mapping[str, Any]) -> dict[str, dict[str, Score]]:
        return {
            system: with_figures_of_documents(each, saved_scores(part["scores"][system], f"scores: {system}"))
            for system, each in of_systems.items()
        }

    parts = {(type(each["slice"]), each["slice"]): each for each in saved.get("slices", [])}
    slices = {
        value: each._replace(scores=scores(each.scores, parts[type(value), value]))
        for value, each in results["slices"].items()
    }
    return {**results, "scores": scores(results["scores"], saved), "slices": slices}


def _saved_results(saved: Mapping[str, Any], resampling: Resampling) -> dict[str, Any]:
    """Return the saved figures of a weighted comparison of 1.0 to 1.2."""
    exact, permutations = saved["resampling"]["exact"], saved["resampling"].get("resamples")
    of_1_0 = {"exact": exact, "permutations": permutations, "min_detectable": None, "queries_needed": None}

    def part(values: Mapping[str, Any]) -> dict[str, Any]:
        figures = {system: saved_scores(each, f"scores: {system}") for system, each in values["scores"].items()}
        return {
            "scores": {system: {name: Score(**each) for name, each in of.items()} for system, of in figures.items()},
            "pairs": tuple(
                Pair(**of_1_0 | {RENAMED.get(name, name): each for name, each in pair.items()})
                for pair in values["pairs"]
            ),
        }

    slices = {
        each["slice"]: ComparedSlice(saved_count(each["queries"], "slices"), **part(each))
        for each in saved.get("slices", [])
    }
    return {**part(saved), "resampling": resampling._replace(exact=exact), "slices": slices}


def _compared_slices(contest: Contest, slices: Slices, columns: Mapping[str, PerQuery]) -> dict[Value, ComparedSlice]:
    """Return how systems differ in each slice, if every system has at least two values of each measure there."""
    by_slice: dict[Value, tuple[int, ScoresAndPairs]] = {}
    weight = next(iter(columns.values())).get("weight")
    with progress(len(slices.values), "Comparing", " slices") as bar:
        for piece in in_pieces(slices):
            valued = ~np.isnan(
                [each[name][piece.queries] for each in columns.values() for name in contest.options.names]
            )
            valued &= True if weight is None else weight[piece.queries] > 0
            enough = np.min([piece.parts.sums(each) for each in valued], axis=0) > 1
            if enough.any():
                queries, sizes = piece.queries[piece.parts.of_queries(enough)], piece.parts.sizes[enough]
                own = {system: {name: each[queries] for name, each in of.items()} for system, of in columns.items()}
                results = contest.results(own, Parts(sizes))
                values = (value for value, is_kept in zip(piece.values, enough.tolist(), strict=True) if is_kept)
                by_slice |= zip(values, zip(sizes.tolist(), results, strict=True), strict=True)
            bar.update(len(piece.values))
    corrected = iter(contest.testing.corrected([pair for _, (_, pairs) in by_slice.values() for pair in pairs]))
    return {
        value: ComparedSlice(queries, scores, tuple(islice(corrected, len(pairs))))
        for value, (queries, (scores, pairs)) in by_slice.items()
    }


def _table_of_systems(columns: Mapping[str, PerQuery], names: Sequence[str]) -> pa.Table:
    """Return a row per system and query, with the values of all results."""
    first = query_table(next(iter(columns.values())))
    shared = {name: first[name] for name in SHARED if name in first.column_names}
    tables = []
    for system, each in columns.items():
        values = {name: pa.array(each[name], from_pandas=True) for name in names}
        tables.append(pa.table({"system": pa.repeat(system, len(first)), **shared, **values}))
    return pa.concat_tables(tables)


def _orders(score_order: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """Return the order of each system's scores, from those that are given by system.

    Raises:
        ValueError: a name is not that of a system, or an order is another word.
    """
    for name in score_order:
        choice("a system in score_order", name, names)
    return {name: Options.parse(score_order=score_order.get(name)).score_order for name in names}


def _argument(system: str) -> str:
    """Return a system's predictions as errors name them."""
    return f"systems[{shown(system)}]"


def _columns_of_systems(
    runs: Mapping[str, Any], inputs: Inputs, options: Mapping[str, Options], same_queries: bool
) -> tuple[dict[str, PerQuery], dict[str, str]]:
    """Return the columns of queries for each system, and `Rankings.unmatched` of some; each input is read once.

    Args:
        runs: the predictions of each system.
        inputs: the inputs that all systems share.
        options: the options of each system, which differ in the order of scores only.
        same_queries: raise an error for a system without a ranking for a judged query that another system ranks.
    """
    sides = {name: side for name, side in inputs.rankings.items() if name != "predictions"}
    together = {_argument(name): predictions for name, predictions in runs.items()} | sides
    together = {argument: from_file(argument, side) for argument, side in together.items()}
    together = dict(zip(together, settled(**together), strict=True))
    inputs = inputs._replace(**{name: together[name] for name in sides})
    shared, *_ = options.values()
    refuse_negative(inputs.references, inputs.exclude, shared)
    columns: dict[str, PerQuery] = {}
    unmatched: dict[str, str] = {}
    for name in runs:
        try:
            system = inputs._replace(predictions=together[_argument(name)])
            columns[name] = query_columns(system, options[name], partial(unmatched.__setitem__, name))
        except ValueError as error:
            if str(error).startswith(tuple(f"{side}{end}" for side in (*sides, "sample_weight") for end in ": ")):
                raise  # all systems share these
            raise ValueError(f"{_argument(name)}: {error}") from None
    if same_queries:
        _refuse_lacking_queries(columns)
    leave_out_alike(columns, shared.names)
    return columns, unmatched


def _refuse_lacking_queries(columns: Mapping[str, PerQuery]) -> None:
    """Raise an error for a system without a ranking for a judged query that another system ranks."""
    missing = {name: each["missing"] for name, each in columns.items()}
    ranked = ~np.logical_and.reduce(list(missing.values()))
    for name, each in columns.items():
        if (lacking := np.flatnonzero(missing[name] & ranked)).size:
            at = int(lacking[0])
            query = shown(each["query"][at]) if "query" in each else at
            other = next(other for other, lacks in missing.items() if not lacks[at])
            problem = f"no ranking for query {query}, which {shown(other)} has ({lacking.size} such queries)"
            hint = (
                'missing="empty" counts it as having retrieved nothing there, missing="skip" skips the query for '
                "all systems"
            )
            raise ValueError(f"{_argument(name)}: {problem}; {hint}")
