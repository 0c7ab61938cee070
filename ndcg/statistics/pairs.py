"""How two systems differ in every measure: intervals, tests and their correction."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ..measure.messages import InputError, mark, shown
from ..measure.options import choice, in_units
from ..measure.ties import Floats, Mask
from ..show.tables import count_text, interval_text, number_text, p_text
from .significance import ROUNDING, holm, scipy_special

SIGNIFICANT = 0.05  # the corrected p-value below which a difference is marked
# Columns of tables that also have one for every system: no system can have these names, or none.
COLUMNS = {"query", "difference", ""}


class Testing(NamedTuple):
    """The hypotheses of the tests of a comparison.

    Attributes:
        alternative: whether two systems differ ("two-sided"), the first is better ("greater") or
            worse ("less").
        margin: the amount, in units of the measure, by which the first may still be worse
            ("greater") or better ("less").
        corrected_over: the p-values that Holm's correction covers: of a "measure", or "all".
        paired: whether all systems have the same queries; else their queries are independent
            samples.
    """

    alternative: str = "two-sided"
    margin: float = 0.0
    corrected_over: str = "measure"
    paired: bool = True

    @classmethod
    def parse(
        cls, alternative: Any, margin: Any, corrected_over: Any, paired: Any = True
    ) -> "Testing":
        """Check the options of the tests."""
        choice("alternative", alternative, ("two-sided", "greater", "less"))
        margin = in_units("margin", margin)
        if margin and alternative == "two-sided":
            greater = mark("alternative", "greater", said='"greater"')
            raise InputError(
                f"{mark('margin', margin)} needs {mark('alternative', 'greater', 'less')}; "
                f"{greater} asks whether a system is worse by less than the margin"
            )
        over = choice("corrected_over", corrected_over, ("measure", "all"))
        if not isinstance(paired, bool):
            raise InputError(f"{mark('paired')} must be True or False; got {shown(paired)}")
        return cls(alternative, margin, over, paired)

    def families(self, pairs: Sequence["Pair"]) -> list[list[int]]:
        """Return the families of pairs, as indices, whose p-values are corrected together."""
        if self.corrected_over == "all":
            return [list(range(len(pairs)))]
        families: dict[str, list[int]] = {}
        for index, pair in enumerate(pairs):
            families.setdefault(pair.measure, []).append(index)
        return list(families.values())

    def holm(self, pairs: Sequence["Pair"], p_values: Sequence[float] | Floats) -> Floats:
        """Return the p-values of pairs, with Holm's correction in their families."""
        corrected = np.array(p_values, float)
        for family in self.families(pairs):
            corrected[family] = holm(corrected[family])
        return corrected

    def corrected(self, pairs: Sequence["Pair"], confidence: float) -> list["Pair"]:
        """Return pairs with their corrected p-values, and the intervals that agree with `p_holm`.

        In `pairs`, `low_holm` and `high_holm` are the bounds of a difference. `confidence` is that
        of `low` and `high`.
        """
        # The fields from `difference` to `p_t`; there may be no pairs.
        figures = np.array([*zip(*pairs, strict=True)][3:13]).reshape(10, -1)
        *_, p, _, p_t = figures
        p_holm = self.holm(pairs, p)
        p_t_holm = self.holm(pairs, p_t)
        ends = self._intervals(pairs, figures[:8], p_holm < SIGNIFICANT, confidence)
        rows = np.column_stack([p_holm, p_t_holm, *ends]).tolist()
        return [
            pair._replace(p_holm=p, p_t_holm=p_t, low_holm=low, high_holm=high)
            for pair, (p, p_t, low, high) in zip(pairs, rows, strict=True)
        ]

    def _intervals(
        self, pairs: Sequence["Pair"], figures: Floats, significant: Mask, confidence: float
    ) -> tuple[Floats, Floats]:
        """Return the ends of Student's t intervals at the level at which Holm compares p.

        Holm compares the smallest of m p-values with 0.05 / m, the next with 0.05 / (m - 1), and so
        on, up to the first that is not lower; the remaining pairs get the level of that one. Where
        the t-test and the randomization test disagree about the tested difference, the nearest end
        of the interval is moved to it.
        """
        difference, low, high, least, most, error, freedom, p = figures
        tests = np.ones(len(pairs))
        for family in self.families(pairs):
            smaller = np.searchsorted(np.sort(p[family]), p[family])
            tests[family] = len(family) - np.minimum(smaller, np.count_nonzero(significant[family]))
        quantile = scipy_special().stdtrit
        t = quantile(freedom, 1 - SIGNIFICANT / tests / self.sides)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # If a standard error is 0, the given interval is widened in proportion.
            has_error = error > ROUNDING * np.abs(difference)
            wider = t / quantile(freedom, 1 - (1 - confidence) / 2)
            below = np.where(has_error, t * error, wider * np.abs(low - difference))
            above = np.where(has_error, t * error, wider * np.abs(high - difference))
            low = np.maximum(difference - below, least)
            high = np.minimum(difference + above, most)
        tested = self.tested
        if self.alternative != "less":
            # The interval of a significant difference lies above the tested one.
            is_above = significant & (difference > tested)
            low_above = np.maximum(low, np.nextafter(tested, 2))
            low = np.where(is_above, low_above, np.minimum(low, tested))
        if self.alternative != "greater":
            is_below = significant & (difference < tested)
            high_below = np.minimum(high, np.nextafter(tested, -2))
            high = np.where(is_below, high_below, np.maximum(high, tested))
        return low, high

    @property
    def sides(self) -> int:
        """The number of sides on which a difference can be significant."""
        return 2 if self.alternative == "two-sided" else 1

    @property
    def measures(self) -> str:
        """The measures whose p-values are corrected together."""
        return "all measures" if self.corrected_over == "all" else "a measure"

    @property
    def test(self) -> str:
        """The name of the test that `p` is from."""
        name = "paired randomization test" if self.paired else "Welch's t-test"
        return name if self.alternative == "two-sided" else f"one-sided {name}"

    @property
    def tested(self) -> float:
        """The hypothetical difference that the test compares with."""
        return {"two-sided": 0.0, "greater": -self.margin, "less": self.margin}[self.alternative]

    @property
    def relation(self) -> str:
        """The relation of two systems that a small p-value supports."""
        return "not worse than" if self.margin else "better than"

    @property
    def by_margin(self) -> str:
        """The end of a sentence with `relation`; empty without a margin."""
        return f" by {self.margin:g} or more" if self.margin else ""

    def ahead_and_behind(self, pair: "Pair") -> tuple[str, str]:
        """Return the system of a pair that a small p-value favors, and the other one."""
        is_greater = self.alternative == "two-sided" and pair.difference > 0
        if is_greater or self.alternative == "greater":
            return pair.system, pair.other
        return pair.other, pair.system

    def question(self, first: str = "the first") -> str:
        """Return what the tests ask about the first system of a pair."""
        if self.alternative == "two-sided":
            return "do the two differ"
        better, worse = "better", "worse"
        if self.alternative == "less":
            better, worse = worse, better
        if self.margin:
            return f"is {first} not {worse}{self.by_margin}"
        return f"is {first} {better}"


class Pair(NamedTuple):
    """How two systems differ in one measure.

    Attributes:
        measure: the name of the result, such as ``"nDCG@10"``.
        system: the first system.
        other: the system it is compared with.
        difference: the mean of ``system`` minus the mean of ``other``.
        low: the lower end of its confidence interval.
        high: the upper end.
        low_holm: the lower end of the interval that agrees with `p_holm`: exactly if `p_holm` is
            below 0.05, it does not contain 0; for "greater", lies above 0 or the negative margin;
            for "less", below 0 or the margin.
        high_holm: the upper end.
        standard_error: the standard error of the difference.
        degrees_of_freedom: the parameter of Student's t in the intervals and the t-test.
        p: the p-value of the randomization test, for the hypothesis of the comparison's `testing`;
            of Welch's t-test if queries are not paired.
        p_holm: the same, with Holm's correction for all pairs of this measure, or of all measures.
        p_t: the p-value of the paired t-test, or of Welch's.
        p_t_holm: the same, corrected.
        wins: the number of queries on which ``system`` scores higher, without queries of weight 0;
            like the next two, None if queries are not paired.
        ties: the number on which both score the same, up to rounding.
        losses: the number on which ``system`` scores lower.
        exact: whether the randomization test tried all permutations.
        permutations: the number of permutations that it tried; 0 if queries are not paired.
        min_detectable: the smallest difference, from 0 or from the margin, that a t-test of these
            queries detects at the 5% level with 80% power; None if it is unknown, or if no possible
            difference is so large.
        queries_needed: the number of queries with which such a test would detect the observed
            difference; None if no number is enough, or if queries are not paired.
    """

    measure: str
    system: str
    other: str
    difference: float
    low: float
    high: float
    low_holm: float
    high_holm: float
    standard_error: float
    degrees_of_freedom: float
    p: float
    p_holm: float
    p_t: float
    p_t_holm: float
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    exact: bool = False
    permutations: int = 0
    min_detectable: float | None = None
    queries_needed: int | None = None

    @property
    def p_error(self) -> float:
        """The standard error of `p`; it is 0 if all permutations were tried."""
        if self.exact or not self.permutations:
            return 0.0
        return math.sqrt(self.p * (1 - self.p) / self.permutations)

    @property
    def differing(self) -> int:
        """The number of queries on which both score differently; 0 if queries are not paired."""
        return (self.wins or 0) + (self.losses or 0)

    @property
    def queries(self) -> int:
        """The number of queries in the mean difference; 0 if queries are not paired."""
        return self.differing + (self.ties or 0)

    @property
    def title(self) -> str:
        """The name of the pair in tables and plots: the names of both systems."""
        return f"{self.system} – {self.other}"

    def turned(self) -> "Pair":
        """Return the same pair with the systems exchanged; p-values stay the same."""
        return self._replace(
            system=self.other,
            other=self.system,
            difference=0.0 - self.difference,  # which is never -0.0
            low=-self.high,
            high=-self.low,
            low_holm=-self.high_holm,
            high_holm=-self.low_holm,
            wins=self.losses,
            losses=self.wins,
        )

    def cells(self, level: str, places: int = 4) -> dict[str, str]:
        """Return the cells of tables by their headings; that of the interval is its level."""
        return {
            "difference": number_text(self.difference, places, "+"),
            level: interval_text(self.low, self.high, places, "+"),
            "p": p_text(self.p),
            "p (Holm)": p_text(self.p_holm),
            "p (t-test)": p_text(self.p_t),
            "p (t-test, Holm)": p_text(self.p_t_holm),
            "won–tied–lost": "–".join(map(count_text, (self.wins, self.ties, self.losses))),
            "minimum detectable difference": number_text(self.min_detectable, places),
            "queries needed for the observed difference": count_text(self.queries_needed),
        }


def opponents(systems: Iterable[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return every pair of systems, or every system with the baseline."""
    if baseline is None:
        return list(combinations(systems, 2))
    return [(system, baseline) for system in systems if system != baseline]


def system_names(
    systems: Any, baseline: Any, argument: str = "systems", content: str = "predictions"
) -> list[str]:
    """Return the names of systems: at least two, plain text, and the baseline among them."""
    problem = f"{argument} must map the names of at least two systems to their {content}"
    if not isinstance(systems, Mapping):
        raise ValueError(f"{problem}; got {type(systems).__name__}")
    if len(systems) < 2:
        raise ValueError(f"{problem}; got {len(systems)}")
    for name in systems:
        if not isinstance(name, str) or not name.isprintable() or name in COLUMNS:
            raise ValueError(
                f"{argument}: a name must be a string of printable characters, other than "
                f'"query" and "difference"; got {shown(name)}'
            )
    if baseline is not None:
        choice("baseline", baseline, tuple(systems))
    return list(systems)
