"""Several systems on the same queries: which of them ranks better, and how sure that is.

A comparison is a plain value, with ways to show it: text, Markdown, HTML, LaTeX, a plot, and a
dict that JSON can hold and that makes the same comparison again.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inputs.hashes import Columns
from ..inputs.reading import Inputs
from ..inputs.slices import Slices, Value, slice_name, slices_of
from ..inputs.sources import settled
from ..measure.messages import shown, visible
from ..measure.options import Cutoffs, Options, QueryOptions, choice, in_units, measure_of, whole
from ..scores.queries import columns_of, from_file, progress, weights
from .report import (
    SAVED,
    SHOWN,
    PerQuery,
    Readable,
    Resampling,
    Score,
    as_saved,
    chance_notes,
    check_figures,
    check_scores,
    figure_of,
    first_slices,
    greatest_values,
    in_pieces,
    interval_text,
    is_of_this_version,
    notes,
    number_text,
    query_columns,
    query_table,
    saved_columns,
    saved_count,
    saved_notes,
    saved_number,
    saved_resampling,
    saved_signature,
    saved_slices,
    score_dicts,
    scores_from_dicts,
    scores_of,
    small_slices,
    table_from_lists,
    with_slices,
)
from .significance import Intervals, Parts, differences, holm, intervals, paired_tests, power

COLUMNS = {"query", "difference"}  # of a table beside those of the systems, so that none has their names
PLACES = 16  # at most: float64 holds no more digits
SIGNIFICANT = 0.05  # the corrected p-value below which tables mark a difference
ONE_SIDED = "Tests are of one side, intervals of two: what a test finds at 5% is beyond the end of a 90% interval."


class Testing(NamedTuple):
    """What the tests of a comparison ask.

    Attributes:
        alternative: whether two systems differ ("two-sided"), the first is better ("greater") or worse ("less").
        margin: by how much, in units of the measure, the first may yet be worse ("greater") or better ("less").
        corrected_over: the p-values that Holm corrects together: those of a "measure", or "all".
    """

    alternative: str = "two-sided"
    margin: float = 0.0
    corrected_over: str = "measure"

    @classmethod
    def parse(cls, alternative: Any, margin: Any, corrected_over: Any) -> "Testing":
        """Check what the tests are to ask.

        Raises:
            ValueError: names the option, what it was and what it may be.
        """
        choice("alternative", alternative, ("two-sided", "greater", "less"))
        margin = in_units("margin", margin)
        if margin and alternative == "two-sided":
            hint = '"greater" asks whether a system is worse by less than the margin'
            raise ValueError(f'margin={shown(margin)} needs alternative="greater" or "less"; {hint}')
        return cls(alternative, margin, choice("corrected_over", corrected_over, ("measure", "all")))

    def families(self, pairs: Sequence["Pair"]) -> int:
        """Return into how many groups of p-values Holm's correction divides pairs."""
        return 1 if self.corrected_over == "all" else len({each.measure for each in pairs})

    @property
    def relation(self) -> str:
        """What a small p-value says of the system that is ahead."""
        return "not worse than" if self.margin else "better than"

    def marks(self, system: str, other: str, difference: float) -> tuple[str, str]:
        """Return the system that a small p-value is in favour of, and the other one."""
        ahead = difference > 0 if self.alternative == "two-sided" else self.alternative == "greater"
        return (system, other) if ahead else (other, system)

    def __str__(self) -> str:
        if self.alternative == "two-sided":
            return "do the two differ"
        how = {"greater": ("better", "worse"), "less": ("worse", "better")}[self.alternative]
        return f"is the first not {how[1]} by {self.margin:g} or more" if self.margin else f"is the first {how[0]}"


class Pair(NamedTuple):
    """How two systems differ in one measure.

    Attributes:
        measure: the name of the result, such as ``"nDCG@10"``.
        system: the one.
        other: the one it is compared with.
        difference: the mean of ``system`` less that of ``other``.
        low: lower end of its confidence interval.
        high: upper end.
        standard_error: of the difference.
        p: of the randomisation test, of what the comparison's `testing` asks.
        p_holm: the same, corrected by Holm for all pairs of this measure, or of all measures.
        p_t: of the paired t-test.
        p_t_holm: the same, corrected.
        wins: queries, of those with any weight, in which ``system`` scores higher.
        ties: queries in which both score the same, up to rounding.
        losses: queries in which ``system`` scores lower.
        exact: whether the randomisation test tried all exchanges of scores.
        exchanges: how many it tried.
        detectable: the smallest difference, from 0 or from the margin, that a paired t-test of these queries finds at
            the 5% level with 80% power; None where that is unknown.
        queries_needed: how many queries such a test needs for the difference seen; None where no number would do.
    """

    measure: str
    system: str
    other: str
    difference: float
    low: float
    high: float
    standard_error: float
    p: float
    p_holm: float
    p_t: float
    p_t_holm: float
    wins: int
    ties: int
    losses: int
    exact: bool
    exchanges: int
    detectable: float | None
    queries_needed: int | None

    @property
    def p_error(self) -> float:
        """The standard error of `p`, from trying only some of the exchanges."""
        return 0.0 if self.exact else math.sqrt(self.p * (1 - self.p) / self.exchanges)


class ComparedSlice(NamedTuple):
    """How systems differ in the queries that have one value of `by`.

    Attributes:
        queries: how many there are.
        scores: by system, then by name.
        pairs: the differences, by measure; p-values are corrected for those of all slices.
    """

    queries: int
    scores: dict[str, dict[str, Score]]
    pairs: tuple[Pair, ...]


ScoresAndPairs = tuple[dict[str, dict[str, Score]], list[Pair]]  # of some queries: scores by system and name, and pairs


@dataclass(frozen=True)
class Comparison(Readable):
    """Which of several systems is better, and how sure that is.

    Attributes:
        signature: every choice that the scores depend on.
        scores: by system, then by name.
        pairs: the differences, by measure.
        baseline: the system that all others are compared with, or None for every pair.
        queries: a row per system and query: ``system``, ``query``, its ``slice`` if there are any, and
            under each score's name the query's value (null where it has none).
        resampling: how intervals and tests were found.
        testing: what the tests ask.
        notes: what the reader should know besides.
        slices: by each value of `by`, ascending, but those of fewer than two queries; queries without
            one, None, come last.
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

    def differences(self, system: str, other: str, measure: str | None = None, n: int = 10) -> pa.Table:
        """Return the queries in which two systems differ most: ``query``, both values and the ``difference``.

        Args:
            system: the one.
            other: the one it is compared with.
            measure: the name of a result; by default the first.
            n: how many queries.

        Raises:
            ValueError: an unknown system or measure, or a number of queries below 0.
        """
        measure = self.measures[0] if measure is None else measure
        n = whole("n", n, 0)
        for name, known in ((system, list(self.scores)), (other, list(self.scores)), (measure, self.measures)):
            if name not in known:
                raise ValueError(f"{shown(name)} is not in this comparison, which has {', '.join(map(repr, known))}")
        sides = [self.queries.filter(pc.equal(self.queries["system"], each)) for each in (system, other)]
        values = [side[measure] for side in sides]
        table = pa.table({"query": sides[0]["query"], "system": values[0], "other": values[1]})
        table = table.append_column("difference", pc.subtract(*values)).drop_null()
        order = pc.sort_indices(pc.negate(pc.abs(table["difference"])))
        return table.take(order[:n]).rename_columns(["query", system, other, "difference"])

    def _letters(self) -> dict[str, str]:
        return {system: _letter(at) for at, system in enumerate(self.scores)}

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

    def _tables(self) -> list[list[list[str]]]:
        level = f"{100 * self.resampling.confidence:g}% interval"
        systems = [["system", *(text for name in self.measures for text in (name, level, self.testing.relation))]]
        for system, letter in self._letters().items():
            row = [f"{letter}  {system}"]
            for name in self.measures:
                score = self.scores[system][name]
                interval = interval_text(score.low, score.high)
                row += [number_text(score.value), interval, self._better_than(system, name)]
            systems.append(row)
        pairs = [
            ["pair", "measure", "difference", level, "p", "p (Holm)", "p (t-test)", "p (t-test, Holm)", "won–tied–lost"]
        ]
        for pair in self.pairs:
            pairs.append(
                [
                    f"{pair.system} – {pair.other}",
                    pair.measure,
                    number_text(pair.difference, sign="+"),
                    interval_text(pair.low, pair.high, sign="+"),
                    *(p_text(each) for each in (pair.p, pair.p_holm, pair.p_t, pair.p_t_holm)),
                    f"{pair.wins:,}–{pair.ties:,}–{pair.losses:,}",
                ]
            )
        power = [
            [
                "80% power (4 of 5 trials at the 5% level)",
                "measure",
                "detectable difference",
                "queries needed for the one seen",
            ]
        ]
        for pair in self.pairs:
            needed = "–" if pair.queries_needed is None else f"{pair.queries_needed:,}"
            power.append([f"{pair.system} – {pair.other}", pair.measure, number_text(pair.detectable), needed])
        most = [[f"queries that differ most in {self.measures[0]}", "query", "first", "second", "difference"]]
        for pair in self.pairs:
            if pair.measure == self.measures[0]:
                columns = self.differences(pair.system, pair.other, n=3).columns
                for query, first, second, difference in zip(*(each.to_pylist() for each in columns), strict=True):
                    values = [number_text(first), number_text(second), number_text(difference, sign="+")]
                    most.append([f"{pair.system} – {pair.other}", str(query), *values])
        return [systems, pairs, power, *([self._slice_table(level)] if self.slices else []), most]

    def _slice_table(self, level: str) -> list[list[str]]:
        rows = [["slice", "queries", "pair", "measure", "difference", level, "p", "p (Holm)"]]
        for value, each in islice(self.slices.items(), SHOWN):
            for pair in each.pairs:
                figures = [number_text(pair.difference, sign="+"), interval_text(pair.low, pair.high, sign="+")]
                cells = [pair.measure, *figures, p_text(pair.p), p_text(pair.p_holm)]
                rows.append([slice_name(value), f"{each.queries:,}", f"{pair.system} – {pair.other}", *cells])
        return rows

    def _exactness(self) -> str:
        """Return for how many pairs p is exact, and how near it is for the others."""
        pairs = [*self.pairs, *(pair for each in self.slices.values() for pair in each.pairs)]
        sampled = [pair for pair in pairs if not pair.exact]
        if not sampled:
            return "all exchanges: exact"
        error = max(each.p_error for each in sampled)
        text = f"{sampled[0].exchanges:,} exchanges: standard error of p at most {error:.1g}"
        exact = len(pairs) - len(sampled)
        return f"{exact:,} of {len(pairs):,} exact, else {text}" if exact else text

    def _remarks(self) -> list[str]:
        over = {"measure": "the pairs of a measure", "all": "all pairs of all measures"}[self.testing.corrected_over]
        return [
            f"{self.resampling}. p: {self.testing}? By the paired randomisation test ({self._exactness()}), beside it "
            f"by the paired t-test; both also corrected by Holm for {over}. {self.testing.relation.capitalize()}: p "
            f"(Holm) < {SIGNIFICANT}.",
            *([] if self.testing.alternative == "two-sided" else [ONE_SIDED]),
            *first_slices(self.slices),
            *self.notes,
        ]

    def to_latex(self, places: int = 4) -> str:
        """Return the systems' scores as a LaTeX tabular, after comments on what its marks mean.

        A superscript names the systems that one is significantly better than (with a margin, not
        worse than), with a corrected p below 0.05; the highest score of each measure is bold.

        Args:
            places: how many decimal places the scores have.

        Raises:
            ValueError: places are not an integer from 0 to 16.
        """
        places = whole("places", places, 0, PLACES)
        marks = f"Bold: the highest. Superscripts: the systems that one is {self.testing.relation}, by letter"
        best = {name: max(scores[name].value for scores in self.scores.values()) for name in self.measures}
        lines = [
            f"% {marks} (paired randomisation test, p corrected by Holm < {SIGNIFICANT}).",
            *(f"% {remark}" for remark in self.remarks()),
            f"% {visible(self.signature)}",
            "\\begin{tabular}{ll" + "c" * len(self.measures) + "}",
            "\\hline",
            " & ".join(["", "System", *map(latex_text, self.measures)]) + " \\\\",
            "\\hline",
        ]
        for system, letter in self._letters().items():
            cells = [f"$^{{{letter}}}$", latex_text(system)]
            for name in self.measures:
                value = self.scores[system][name].value
                text = number_text(value, places)
                text = f"\\textbf{{{text}}}" if value == best[name] else text
                beaten = self._better_than(system, name).replace(" ", "")
                cells.append(text + (f"$^{{{beaten}}}$" if beaten else ""))
            lines.append(" & ".join(cells) + " \\\\")
        return "\n".join([*lines, "\\hline", "\\end{tabular}"])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        return {
            "signature": self.signature,
            "scores": {system: score_dicts(scores) for system, scores in self.scores.items()},
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
                    "scores": {system: score_dicts(scores) for system, scores in each.scores.items()},
                    "pairs": [pair._asdict() for pair in each.pairs],
                }
                for value, each in self.slices.items()
            ],
        }

    @classmethod
    @as_saved("Comparison")
    def from_dict(cls, values: Mapping[str, Any]) -> "Comparison":
        """Return the comparison that `to_dict` was called on, in this version or in 1.0.

        Every entry must have its type and range. Means, differences, wins and corrected p-values must follow from the
        values of the queries, up to rounding; intervals and tests only if this version found them, and p-values that
        were sampled up to six standard errors. These cannot be checked: ids, notes, the signature after its measures,
        and what a score rests on besides (`worst`, `best`, `chance`, `tied`, `ranked`, `unjudged`). Since weights are
        not saved, a weighted mean need only lie among the values, and within its interval.

        Raises:
            ValueError: the values are others; names the entry.
        """
        resampling, signature = saved_resampling(values["resampling"]), values["signature"]
        of_1_0: dict[str, Any] = {"exact": resampling.exact, "exchanges": resampling.resamples}
        of_1_0 |= {"detectable": None, "queries_needed": None}

        of_1_0 = {} if is_of_this_version(signature) else of_1_0

        def read(part: Mapping[str, Any], place: str) -> dict[str, Any]:
            scores = part["scores"].items()
            return {
                "scores": {name: scores_from_dicts(each, f"{place}scores: {name}", signature) for name, each in scores},
                "pairs": tuple(_saved_pair({**of_1_0, **pair}, f"{place}pairs") for pair in part["pairs"]),
            }

        slices = {}
        for each in values.get("slices", []):
            place = f"slices: {slice_name(each['slice'])}: "
            queries = saved_count(each["queries"], f"{place}queries")
            slices[each["slice"]] = ComparedSlice(queries, **read(each, place))
        found = cls(
            signature=signature,
            **read(values, ""),
            baseline=values["baseline"],
            queries=table_from_lists(values["queries"]),
            resampling=resampling,
            notes=saved_notes(values["notes"]),
            testing=Testing.parse(*Testing(**values.get("testing", {}))),
            slices=slices,
        )
        found._check_figures()
        return found

    def _check_figures(self) -> None:
        """Raise an error unless the figures follow from the values of the queries."""
        names = system_names(self.scores, self.baseline)
        saved_signature(self.signature, self.measures)
        options = Options.parse(measures=self.measures)
        tables = [self.queries.filter(pc.equal(self.queries["system"], name)) for name in names]
        shared = [name for name in ("query", "slice") if name in self.queries.column_names]
        if self.queries.column_names != ["system", *shared, *self.measures] or "query" not in shared:
            raise ValueError(f"queries: must have the columns system, query, {', '.join(self.measures)}")
        of_systems = [each.select(shared) for each in tables]
        in_order = pa.concat_tables(tables)["system"] == self.queries["system"]
        if not in_order or any(each != of_systems[0] for each in of_systems):
            raise ValueError("queries: must be the same for each system, system after system")
        columns = {name: saved_columns(each, options.names) for name, each in zip(names, tables, strict=True)}
        slices = saved_slices(tables[0], self.slices, left_out=True)
        contest = _Contest(options, self.baseline, self.resampling, self.testing)
        ((scores, pairs),) = contest.results(columns, None)
        self._check_part(ComparedSlice(len(tables[0]), self.scores, self.pairs), scores, pairs, columns, "")
        self._check_holm(self.pairs)
        if self.resampling.exact != all(pair.exact for pair in self.pairs):
            raise ValueError("resampling: exact: must be that of all pairs")
        if slices is None:
            return
        weighted = "|weights:given" in self.signature  # then other slices may be left out
        again = _compared_slices(contest, slices, columns, None)
        if not (set(self.slices) <= set(again) if weighted else list(self.slices) == list(again)):
            raise ValueError("slices: are not those of the queries")
        for value, each in self.slices.items():
            other, place = again[value], f"slices: {slice_name(value)}: "
            if each.queries != other.queries:
                raise ValueError(f"{place}queries: must be {other.queries}; got {each.queries}")
            self._check_part(each, other.scores, other.pairs, columns, place)
        self._check_holm([pair for each in self.slices.values() for pair in each.pairs])

    def _check_part(
        self,
        found: ComparedSlice,
        scores: Mapping[str, Mapping[str, Score]],
        pairs: Sequence[Pair],
        columns: Mapping[str, PerQuery],
        place: str,
    ) -> None:
        """Raise an error unless the figures of some queries are those found again, as far as these tell."""
        if list(found.scores) != list(scores):
            raise ValueError(f"{place}scores: must be of {', '.join(scores)}")
        for system, of_system in found.scores.items():
            check_scores(of_system, scores[system], columns[system], self.signature, f"{place}scores: {system}")
            if any(max(each.tied, 0) > found.queries for each in of_system.values()):
                raise ValueError(f"{place}scores: {system}: tied: must be at most {found.queries}")
        if [pair[:3] for pair in found.pairs] != [pair[:3] for pair in pairs]:
            raise ValueError(f"{place}pairs: are not those of the systems and measures")
        fields = ["wins", "ties", "losses"]
        if is_of_this_version(self.signature):
            fields += ["low", "high", "standard_error", "p_t", "exact", "exchanges", "detectable", "queries_needed"]
        for pair, other in zip(found.pairs, pairs, strict=True):
            at = f"{place}pairs: {pair.system} - {pair.other}, {pair.measure}"
            one, two = (found.scores[each][pair.measure].value for each in (pair.system, pair.other))
            size = max(abs(one), abs(two))
            mean = pair._replace(difference=float(differences(np.array(one), np.array(two))))
            check_figures(pair, mean, ["difference"], at, size)
            if not pair.low <= pair.difference <= pair.high or pair.wins + pair.ties + pair.losses > found.queries:
                raise ValueError(f"{at}: does not follow from the values of the queries")
            if "|weights:given" not in self.signature:
                check_figures(pair, other, fields, at, size)
                if is_of_this_version(self.signature) and abs(pair.p - other.p) > SAVED + 6 * other.p_error:
                    raise ValueError(f"{at}: p: must be {other.p:.6g}, by the values of the queries; got {pair.p}")

    def _check_holm(self, pairs: Sequence[Pair]) -> None:
        """Raise an error unless corrected p-values follow from the others."""
        for pair, other in zip(pairs, _corrected(pairs, self.testing), strict=True):
            at = f"pairs: {pair.system} - {pair.other}, {pair.measure}"
            check_figures(pair, other, ("p_holm", "p_t_holm"), at, 1.0)

    def plot(self, measure: str | None = None) -> Any:
        """Return a Matplotlib figure of the differences in one measure, with their intervals, also by slices.

        Args:
            measure: such as ``"nDCG@10"``, or ``"nDCG"`` for the first of its cutoffs; by default the first of all.

        Raises:
            ValueError: an unknown measure.
        """
        of_measure = [name for name in self.measures if measure in (None, name, measure_of(name))]
        if not of_measure:
            raise ValueError(f"{shown(measure)} is not in this comparison, which has {', '.join(self.measures)}")
        measure = of_measure[0]
        pairs = [pair for pair in self.pairs if pair.measure == measure]
        lines = len(pairs) * max(1, min(len(self.slices), SHOWN) / 2)
        figure, (axes, *slices) = figure_of(1 + bool(self.slices), height=1.2 + 0.4 * lines)
        figure.set_figwidth(7 * (1 + len(slices)))
        for at, pair in enumerate(reversed(pairs)):
            sure = pair.p_holm < SIGNIFICANT
            axes.plot([pair.low, pair.high], [at, at], color="C0", linewidth=2)
            axes.plot(pair.difference, at, "o", color="C0", markerfacecolor="C0" if sure else "white")
        axes.axvline(0, color="gray", linewidth=1)
        if self.testing.margin:
            sign = {"greater": -1, "less": 1}[self.testing.alternative]
            axes.axvline(sign * self.testing.margin, color="gray", linewidth=1, linestyle="dashed")
        axes.set_yticks(range(len(pairs)), [f"{pair.system} – {pair.other}" for pair in reversed(pairs)])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.margins(y=0.5 / max(1, len(pairs)))
        level = f"{100 * self.resampling.confidence:g}%"
        sides = "" if self.testing.alternative == "two-sided" else f" ({self.testing}?)"
        axes.set_xlabel(f"difference in {measure}, with {level} interval; filled: corrected p < {SIGNIFICANT}{sides}")
        if self.slices:
            self._plot_slices(slices[0], measure)
        return figure

    def _plot_slices(self, axes: Any, measure: str) -> None:
        """Draw the differences in slices, the first on top, with their intervals; each pair has a color."""
        slices = list(self.slices.items())[:SHOWN]
        for at, (_, each) in enumerate(slices):
            pairs = [pair for pair in each.pairs if pair.measure == measure]
            for row, pair in enumerate(pairs):
                height, sure = at + (row + 0.5) / len(pairs) / 2 - 0.25, pair.p_holm < SIGNIFICANT
                name = f"{pair.system} – {pair.other}".replace("$", r"\$") if at == 0 else None
                axes.plot([pair.low, pair.high], [height, height], color=f"C{row}", linewidth=2, label=name)
                face = f"C{row}" if sure else "white"
                axes.plot(pair.difference, height, "o", color=f"C{row}", markerfacecolor=face)
        axes.axvline(0, color="gray", linewidth=1)
        axes.set_yticks(range(len(slices)), [f"{slice_name(value)} ({each.queries:,})" for value, each in slices])
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
        axes.invert_yaxis()
        axes.set_xlabel(f"difference in {measure}, by slices (and their queries)")
        axes.legend()


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
    resamples: int = 10_000,
    seed: int = 0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    margin: float = 0.0,
    corrected_over: Literal["measure", "all"] = "measure",
    **options: Unpack[QueryOptions],
) -> Comparison:
    """Tell which of several systems ranks better on the same queries, and how sure that is.

    Each pair of systems, or each system and the baseline, is compared query by query: the
    difference with its interval, a paired randomisation test and a paired t-test,
    both also corrected by Holm.

    Args:
        systems: the predictions of each system by its name, in any form of `compute`.
        references: the relevances that all of them are scored by.
        k: the cutoff or cutoffs.
        baseline: the system to compare all others with; None for every pair.
        sample_weight: one weight per query for the means.
        query_ids: for flat predictions and references.
        document_ids: with `query_ids`.
        data: a frame; then the arguments above, and each system's predictions, may be names of its columns.
        exclude: documents to leave out, as in `compute`.
        by: a value per query, as in `report`: the queries that share one are compared as a slice, with
            p-values corrected for those of all slices.
        confidence: of the intervals, between 0 and 1.
        resamples: the least number of permutations of a test that is not exact; values below 1,048,576 have no
            effect.
        seed: the random seed; the same seed gives the same comparison.
        alternative: what the tests ask of a pair: "two-sided", do the systems differ; "greater",
            is the first better; "less", is it worse.
        margin: with "greater", ask whether the first is worse by less than this (non-inferiority),
            with "less" whether it is better by less; in units of the measure.
        corrected_over: correct p-values for all pairs of a "measure" at one cutoff, or for "all".
        **options: of `compute`, but `use_aggregator` and `engine`. By default a judged query that one
            system lacks and another has is refused; `missing="skip"` leaves it out for all.

    Raises:
        ValueError: what `compute` refuses, with the system's name; fewer than two systems or
            queries; systems with rankings of different queries; an unknown baseline.
        ImportError: SciPy is missing.

    >>> comparison = compare(
    ...     systems={"a": [[3, 2, 1], [1, 2, 3]], "b": [[1, 2, 3], [1, 3, 2]]},
    ...     references=[[2, 1, 0], [0, 0, 1]],
    ... )
    >>> [(pair.system, pair.other, round(pair.difference, 4), pair.p) for pair in comparison.pairs]
    [('a', 'b', 0.3746, 0.5)]
    """
    resampling = Resampling.parse(confidence, resamples, seed)
    testing = Testing.parse(alternative, margin, corrected_over)
    parsed = Options.of_method(compare, k, options)
    names = system_names(systems, baseline)
    runs = {f"systems[{shown(name)}]": systems[name] for name in names}
    inputs = Inputs(None, references, query_ids, document_ids, exclude)._asdict()
    del inputs["predictions"]
    arguments, weight, by = columns_of(data, {**runs, **inputs}, sample_weight=sample_weight, by=by)
    same_queries = options.get("missing") is None and parsed.missing == "empty"
    columns = _columns_of_systems(names, arguments, parsed, same_queries)
    weight = weights(weight, len(columns[names[0]]["ideal"]))
    signature = parsed.signature(weighted=weight is not None, excluding=exclude is not None)
    return comparison_of(
        columns,
        weight,
        by,
        options=parsed,
        baseline=baseline,
        resampling=resampling,
        testing=testing,
        signature=signature,
    )


def comparison_of(
    columns: Mapping[str, PerQuery],
    weight: NDArray[np.float64] | None,
    by: Any,
    *,
    options: Options,
    baseline: str | None,
    resampling: Resampling,
    testing: Testing,
    signature: str,
) -> Comparison:
    """Return the comparison of systems by what is known of each query, of values alone too."""
    contest = _Contest(options, baseline, resampling, testing)
    ((scores, pairs),) = contest.results(columns, weight)
    pairs = _corrected(pairs, testing)
    comparison = Comparison(
        signature=signature,
        scores=scores,
        pairs=tuple(pairs),
        baseline=baseline,
        queries=_table_of_systems(columns, options.names),
        resampling=resampling._replace(exact=all(pair.exact for pair in pairs)),
        notes=(
            *notes(list(columns.values()), options, weight),
            *_notes_on_tests(pairs, testing, baseline),
            *(f"{system}: {note}" for system in columns for note in chance_notes(scores[system], columns[system])),
        ),
        testing=testing,
    )
    if by is None:
        return comparison
    first = next(iter(columns.values()))
    slices = slices_of(by, first.get("query"), len(first["ideal"]))
    queries = _table_of_systems({name: with_slices(each, slices) for name, each in columns.items()}, options.names)
    compared = _compared_slices(contest, slices, columns, weight)
    of_slices = (*small_slices(compared), *_notes_on_slices(comparison, compared, len(slices.values)))
    return replace(comparison, queries=queries, slices=compared, notes=(*comparison.notes, *of_slices))


def _compared_slices(
    contest: "_Contest", slices: Slices, columns: Mapping[str, PerQuery], weight: NDArray[np.float64] | None
) -> dict[Value, ComparedSlice]:
    """Return how systems differ in each slice in which every system has two values or more of each measure."""
    found: dict[Value, tuple[int, ScoresAndPairs]] = {}
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
                results = contest.results(own, None if weight is None else weight[queries], Parts(sizes))
                values = (value for value, is_kept in zip(piece.values, enough.tolist(), strict=True) if is_kept)
                found |= zip(values, zip(sizes.tolist(), results, strict=True), strict=True)
            bar.update(len(piece.values))
    corrected = iter(_corrected([pair for _, (_, pairs) in found.values() for pair in pairs], contest.testing))
    return {
        value: ComparedSlice(queries, scores, tuple(islice(corrected, len(pairs))))
        for value, (queries, (scores, pairs)) in found.items()
    }


def _notes_on_slices(comparison: Comparison, compared: Mapping[Value, ComparedSlice], slices: int) -> list[str]:
    """Say over what the p-values of slices are corrected, and how many slices are not compared."""
    found = []
    if compared:
        of_all = comparison.testing.corrected_over == "all"
        pairs = len(comparison.pairs) // (1 if of_all else len(comparison.measures))
        family = f"{pairs * len(compared):,} of {'all measures' if of_all else 'a measure'}, {pairs:,} in each"
        found.append(f"In slices, p-values are corrected by Holm for the {family} of {len(compared):,} slices.")
    if left := slices - len(compared):
        few = "fewer than two of their queries have a value"
        found.append(f"{left:,} of {slices:,} slices are not compared: {few}.")
    return found


def _corrected(pairs: Sequence[Pair], testing: Testing) -> list[Pair]:
    """Return pairs with p-values that are corrected for all pairs of a measure, or of all measures."""
    found = list(pairs)
    for measure in [None] if testing.corrected_over == "all" else {pair.measure for pair in pairs}:
        alike = [at for at, pair in enumerate(pairs) if measure in (None, pair.measure)]
        p_holm, p_t_holm = (holm(np.array([getattr(pairs[at], name) for at in alike])) for name in ("p", "p_t"))
        for at, p, p_t in zip(alike, p_holm.tolist(), p_t_holm.tolist(), strict=True):
            found[at] = pairs[at]._replace(p_holm=p, p_t_holm=p_t)
    return found


class _Contest(NamedTuple):
    """How to compare systems: in what, with whom, and by which intervals and tests."""

    options: Options
    baseline: str | None
    resampling: Resampling
    testing: Testing

    def results(
        self, columns: Mapping[str, PerQuery], weight: NDArray[np.float64] | None, parts: Parts | None = None
    ) -> list[ScoresAndPairs]:
        """Return what each part of the queries says, or all of them as the only part, before Holm's correction."""
        names = self.options.names
        values = np.stack([each[name] for each in columns.values() for name in names])
        row = {each: at for at, each in enumerate((system, name) for system in columns for name in names)}
        opponents = list(combinations(columns, 2))
        if self.baseline is not None:
            opponents = [(system, self.baseline) for system in columns if system != self.baseline]
        contests = [(name, *each) for name in names for each in opponents]
        pairs = [(row[one, name], row[other, name]) for name, one, other in contests]
        greatest, confidence = np.tile(greatest_values(self.options), len(columns)), self.resampling.confidence
        found = intervals(values, weight, pairs, greatest=greatest, confidence=confidence, parts=parts)
        by_system = []
        for at, each in enumerate(columns.values()):
            of_system = Intervals(*(figures[at * len(names) : (at + 1) * len(names)] for figures in found))
            by_system.append(scores_of(each, self.options, weight, of_system, parts))
        results: list[ScoresAndPairs] = [
            (dict(zip(columns, of_part, strict=True)), []) for of_part in zip(*by_system, strict=True)
        ]
        of_pairs = Intervals(*(figures[len(values) :] for figures in found))
        figures_of_pairs = self._figures(values, weight, pairs, of_pairs, parts)
        for contest, figures in zip(contests, figures_of_pairs, strict=True):
            name, *systems = contest
            means = (np.array([scores[each][name].value for scores, _ in results]) for each in systems)
            difference = differences(*means)
            ends = np.minimum(difference, figures["low"]), np.maximum(difference, figures["high"])
            columns_of_pair = {**figures, "difference": difference, "low": ends[0], "high": ends[1]}
            lists = [_plain(columns_of_pair[field]) for field in Pair._fields[3:]]
            lists[-1] = [None if each is None else int(each) for each in lists[-1]]  # queries
            for (_, of_part), of_pair in zip(results, zip(*lists, strict=True), strict=True):
                of_part.append(Pair(*contest, *of_pair))
        return results

    def _figures(
        self,
        values: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        pairs: Sequence[tuple[int, int]],
        found: Intervals,
        parts: Parts | None,
    ) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield for each pair of rows the fields of a `Pair` that rest on the values, in each part."""
        how: dict[str, Any] = {"alternative": self.testing.alternative, "margin": self.testing.margin, "parts": parts}
        resamples, seed = self.resampling.resamples, self.resampling.seed
        tests = paired_tests(values, weight, pairs, **how, resamples=resamples, seed=seed)
        told = power(values, weight, pairs, **how)
        counted = np.ones(values.shape[1], bool) if weight is None else weight > 0
        whole = Parts([values.shape[1]]) if parts is None else parts
        for at, (one, other) in enumerate(pairs):
            by_query = differences(values[one], values[other])
            by_part = {
                **{name: each[at] for name, each in found._asdict().items()},
                "p": tests.randomization[at],
                "p_holm": tests.randomization[at],
                "p_t": tests.t_test[at],
                "p_t_holm": tests.t_test[at],
                "wins": whole.sums((by_query > 0) & counted),
                "ties": whole.sums((by_query == 0) & counted),
                "losses": whole.sums((by_query < 0) & counted),
                "exact": tests.exact[at],
                "exchanges": tests.exchanges[at],
                "detectable": told.detectable[at],
                "queries_needed": told.queries_needed[at],
            }
            yield {name: each.reshape(-1) for name, each in by_part.items()}


def _notes_on_tests(pairs: Sequence[Pair], testing: Testing, baseline: str | None) -> list[str]:
    """Say which pairs no difference could make significant, and what could; and which are too near to tell."""
    sides = 2 if testing.alternative == "two-sided" else 1
    families = testing.families(pairs)
    together = len(pairs) // families
    of_family = np.split(np.array([min(1, (sides if pair.exact else 1) / pair.exchanges) for pair in pairs]), families)
    least = np.concatenate([holm(each) for each in of_family])
    beyond = [(pair, p) for pair, p in zip(pairs, least, strict=True) if p >= SIGNIFICANT and pair.exchanges > 1]
    found = []
    if beyond:
        few, ways = "queries that differ", [f"{int(math.log2(together * sides / SIGNIFICANT)) + 1} queries that differ"]
        if not all(pair.exact for pair, _ in beyond):
            few, ways = "exchanges", [f"resamples={int(together / SIGNIFICANT) + 1}"]
        if together > 1:
            ways.append("fewer pairs" + ", as with a baseline" * (baseline is None))
        corrected = f" corrected for {together:,}" if together > 1 else ""
        found.append(
            f"{len(beyond):,} of {len(pairs):,} pairs cannot be significant: with so few {few}, p{corrected} is at "
            f"least {min(p for _, p in beyond):.4f}. It takes {', or '.join(ways)}."
        )
    near = [pair for pair in pairs if abs(pair.p_holm - SIGNIFICANT) * pair.p < 2 * pair.p_error * pair.p_holm]
    if near:
        found.append(
            f"{len(near):,} of {len(pairs):,} corrected p-values lie within two standard errors of {SIGNIFICANT}: more "
            "resamples tell on which side."
        )
    return found


def _table_of_systems(columns: Mapping[str, PerQuery], names: Sequence[str]) -> pa.Table:
    """Return a row per system and query, with the values of all results."""
    first = query_table(next(iter(columns.values())))
    shared = {name: first[name] for name in ("query", "slice") if name in first.column_names}
    tables = []
    for system, each in columns.items():
        values = {name: pa.array(each[name], from_pandas=True) for name in names}
        tables.append(pa.table({"system": pa.repeat(system, len(first)), **shared, **values}))
    return pa.concat_tables(tables)


def _columns_of_systems(
    names: Sequence[str], arguments: Mapping[str, Any], options: Options, same_queries: bool
) -> dict[str, PerQuery]:
    """Return what a report says of each query, for each system; each input is read once.

    Args:
        names: of the systems.
        arguments: each system's predictions, in the order of the names; then what is the same for all.
        options: how to score them.
        same_queries: refuse a system without a ranking for a judged query that another ranks.
    """
    read = settled(**{argument: from_file(argument, side) for argument, side in arguments.items()})
    sides = dict(zip(arguments, read, strict=True))
    runs = {argument: sides.pop(argument) for argument in list(sides)[: len(names)]}
    if same_queries:
        _refuse_lacking_queries(dict(zip(names, runs.values(), strict=True)), sides["references"])
    columns = {}
    for name, (argument, predictions) in zip(names, runs.items(), strict=True):
        try:
            columns[name] = query_columns(Inputs(predictions, **sides), options)
        except ValueError as error:
            raise ValueError(f"{argument}: {error}") from None
    leave_out_alike(columns, options.names)
    return columns


def leave_out_alike(columns: Mapping[str, PerQuery], names: Sequence[str]) -> None:
    """Leave a query that has no value for one system out of the means of all, so that they are over the same queries.

    It is one that a system lacks, of those that are skipped, or of which it retrieved nothing, if the ideal is of that.
    """
    for name in names:
        lacking = np.logical_or.reduce([np.isnan(each[name]) for each in columns.values()])
        if lacking.any():
            for each in columns.values():
                for column in (name, f"worst {name}", f"best {name}", f"chance {name}"):
                    each[column] = np.where(lacking, np.nan, each[column])


def system_names(systems: Any, baseline: Any) -> list[str]:
    """Return the names of systems that can be compared.

    Raises:
        ValueError: fewer than two, a name that is no plain text, a baseline that is none of them.
    """
    if not isinstance(systems, Mapping) or len(systems) < 2:
        found = f"{len(systems)}" if isinstance(systems, Mapping) else type(systems).__name__
        raise ValueError(f"systems must map the names of at least two systems to their predictions; got {found}")
    for name in systems:
        if not isinstance(name, str) or not name.isprintable() or name in {"", *COLUMNS}:
            problem = 'must be a string of printable characters, other than "query" and "difference"'
            raise ValueError(f"systems: a name {problem}; got {shown(name)}")
    if baseline is not None:
        choice("baseline", baseline, tuple(systems))
    return list(systems)


def _refuse_lacking_queries(rankings: dict[str, Any], references: Any) -> None:
    """Refuse a system that, by ids, has no ranking for a judged query that another ranks."""

    def queries(side: Any) -> set[Any] | None:
        if isinstance(side, Columns):
            return set(side.query_ids.to_pylist())
        return set(side) if isinstance(side, Mapping) else None

    judged = queries(references)
    if judged is None:
        return
    ranked = {name: found & judged for name, side in rankings.items() if (found := queries(side)) is not None}
    for name, own in ranked.items():
        if lacking := set().union(*ranked.values()) - own:
            query = min(lacking, key=str)
            other = next(each for each, theirs in ranked.items() if query in theirs)
            problem = f"no ranking for query {shown(query)}, which {shown(other)} has ({len(lacking)} such queries)"
            hint = (
                'missing="empty" counts it as having retrieved nothing there, missing="skip" leaves the query out for '
                "all systems"
            )
            raise ValueError(f"systems[{shown(name)}]: {problem}; {hint}")


def _saved_pair(values: Mapping[str, Any], place: str) -> Pair:
    """Return a saved difference, once its fields are of their types and ranges."""
    found = Pair(**values)
    at = f"{place}: {shown(found.system)} - {shown(found.other)}, {shown(found.measure)}"
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name in ("wins", "ties", "losses", "exchanges") or (name == "queries_needed" and value is not None):
            checked[name] = saved_count(value, f"{at}: {name}")
        elif name == "exact" and not isinstance(value, bool):
            raise ValueError(f"{at}: exact: must be True or False; got {shown(value)}")
        elif name not in ("measure", "system", "other", "exact", "queries_needed") and (name, value) != (
            "detectable",
            None,
        ):
            checked[name] = saved_number(value, f"{at}: {name}")
            if math.isnan(checked[name]) or (name.startswith("p") and not 0 <= checked[name] <= 1):
                raise ValueError(f"{at}: {name}: is beyond its range; got {shown(value)}")
    if found.exchanges < 1:
        raise ValueError(f"{at}: exchanges: must be at least 1; got {found.exchanges}")
    return found._replace(**checked)


def _plain(figures: NDArray[Any]) -> list[Any]:
    """Return figures as numbers of Python, None for nan."""
    return [None if each != each else each for each in figures.tolist()]


def p_text(value: float) -> str:
    """Return a p-value as tables show it."""
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _letter(index: int) -> str:
    """Return the letters a, b, ..., z, aa, ab, ..."""
    return (_letter(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def latex_text(text: str) -> str:
    """Return text that LaTeX shows as it is."""
    special = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    return "".join(special.get(each, "\\" + each if each in "&%$#_{}" else each) for each in text)
