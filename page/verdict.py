"""Which of several runs is best, and how sure that is, in sentences: from the scores and pairs of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from .metric import tables

NAMED = 3  # runs or queries in a sentence


class Standing(NamedTuple):
    """The runs in one measure.

    Attributes:
        measure: the measure, such as ``"nDCG@10"``.
        scores: the score of each run, best first.
        pairs: how two runs differ, by their names in either order; empty for one run, or for one query.
        base: the run from which the others differ.
        other: the run that is compared with the base; empty if there is one run.
    """

    measure: str
    scores: dict[str, Any]
    pairs: dict[tuple[str, str], Any]
    base: str
    other: str

    @classmethod
    def of(cls, scores: Mapping[str, Mapping[str, Any]], pairs: Iterable[Any], choice: Mapping[str, str]) -> "Standing":
        """Return the runs in the measure that is chosen, else the first; of unknown runs, the best two.

        Args:
            scores: the scores of each run, by measure.
            pairs: the pairs of a comparison, in all measures.
            choice: the ``"measure"``, ``"base"`` and ``"other"`` that are chosen, as far as any is.
        """
        measures = list(next(iter(scores.values())))
        measure = choice["measure"] if choice.get("measure") in measures else measures[0]
        best_first = sorted(scores, key=lambda run: -scores[run][measure].value)
        base = choice["base"] if choice.get("base") in scores else best_first[0]
        others = [run for run in best_first if run != base]
        other = choice["other"] if choice.get("other") in others else next(iter(others), "")
        both = [turned for pair in pairs if pair.measure == measure for turned in (pair, pair.turned())]
        by_name = {(pair.system, pair.other): pair for pair in both}
        return cls(measure, {run: scores[run][measure] for run in best_first}, by_name, base, other)

    @property
    def queries(self) -> int:
        """The number of queries in the means."""
        return int(max(score.queries for score in self.scores.values()))

    @property
    def together(self) -> int:
        """The number of pairs for which p-values and intervals are corrected."""
        return len(self.pairs) // 2

    @property
    def winner_first(self) -> tuple[str, ...]:
        """The base and the other run, the better first; the only run."""
        return tuple(run for run in self.scores if run in (self.base, self.other))

    def differ(self, one: str, other: str) -> bool:
        """Return whether two runs differ significantly."""
        return bool(self.pairs[one, other].p_holm < tables.SIGNIFICANT)

    def places(self) -> dict[str, str]:
        """Return the places that each run could have if only significant differences count, such as "2–4"."""
        runs = list(self.scores)
        found = {}
        for at, run in enumerate(runs):
            first = 1 + sum(self.differ(run, better) for better in runs[:at])
            last = len(runs) - sum(self.differ(run, worse) for worse in runs[at + 1 :])
            found[run] = f"{first}" if first == last else f"{first}–{last}"
        return found

    def headline(self) -> str:
        """Return which run is best, in a sentence."""
        best, *others = self.scores
        if not others:
            return f"{best} has {self.measure} {self.scores[best].value:.3f}."
        if not self.pairs:
            return f"One query cannot tell the {len(self.scores)} runs apart."
        alike = [run for run in others if not self.pairs[best, run].differing]
        unsure = [run for run in others if run not in alike and not self.differ(best, run)]
        behind = [run for run in others if run not in alike and run not in unsure]
        if len(alike) == len(others):
            runs = f"{best} and {others[0]}" if len(others) == 1 else f"The {len(self.scores)} runs"
            return f"{runs} have the same {self.measure} in each of {self.queries:,} queries."
        if len(others) == 1:
            return f"{best} and {others[0]} cannot be told apart." if unsure else f"{best} is better than {others[0]}."
        if not any(self.differ(*two) for two in combinations(self.scores, 2)):
            return f"These {self.queries:,} queries cannot tell the {len(self.scores)} runs apart."
        leaders = listed([best, *alike])
        are = "are" if alike else "is"
        if unsure:
            return f"{leaders} {are} ahead, but {listed(unsure)} may be as good."
        than = f"each of the {len(behind)} others" if len(behind) > 1 else behind[0]
        return f"{leaders} {are} best: better than {than}."

    def evidence(self) -> str:
        """Return what the headline stands on: the means of the base and the other run, and how they differ."""
        best, *others = self.winner_first
        if not others:
            score = self.scores[best]
            by_chance = f"A random order of the same documents would have {score.random_order:.3f}."
            if score.queries < 2:
                return f"Intervals need more than one query. {by_chance}"
            return f"95% interval {score.low:.3f} to {score.high:.3f}, {score.queries:,} queries. {by_chance}"
        means = (
            f"{best} has {self.measure} {self.scores[best].value:.3f}, {others[0]} {self.scores[others[0]].value:.3f}"
        )
        if not self.pairs:
            return f"{means}. Intervals and tests need more than one query."
        pair = self.pairs[best, others[0]]
        interval = f"95% interval {signed(pair.low_holm)} to {signed(pair.high_holm)}"
        corrected = f", both corrected for {self.together} pairs" if self.together > 1 else ""
        counts = f"Better on {counted(pair.wins)}, worse on {pair.losses:,}, equal on {pair.ties:,}."
        found = f"{means}: {signed(pair.difference)} ({interval}, {p_text(pair.p_holm)}{corrected}). {counts}"
        return found if self.differ(best, others[0]) else f"{found} {self._findable(pair)}".strip()

    def _findable(self, pair: Any) -> str:
        """Return which difference the queries can find, and how many would find this one."""
        if pair.min_detectable is None:
            return ""
        alone = self.together == 1
        find = "find" if alone else "would find"
        trials = f"{counted(pair.queries)} {find} a difference of {pair.min_detectable:.2f} in 4 of 5 trials"
        needs = f"; one of {abs(pair.difference):.3f} needs {pair.queries_needed:,}" if pair.queries_needed else ""
        return f"{'' if alone else 'If only these two were compared, '}{trials}{needs}."


class Remark(NamedTuple):
    """A warning.

    Attributes:
        text: the warning, in a sentence.
        offer: what a button does about it: the name of an option, its choice, and the text of the button.
    """

    text: str
    offer: tuple[str, str, str] | None = None


def missing_remarks(missing: Mapping[str, Sequence[str]], option: str) -> list[Remark]:
    """Return which queries are missing from runs and how they count, and the other way to count them.

    Args:
        missing: the missing queries of each run.
        option: how they count: ``"empty"`` or ``"skip"``.
    """
    lacking = {run: queries for run, queries in missing.items() if queries}
    if not lacking:
        return []
    skipped = option == "skip"
    one, several = ("is skipped", "are skipped") if skipped else ("counts as 0", "count as 0")
    (run, queries), *others = lacking.items()
    if others:
        some = listed([f"{len(each):,} from {run}" for run, each in lacking.items()], "runs")
        text = f"Queries are missing from {len(lacking)} runs and {several}: {some}."
    elif len(queries) == 1:
        text = f"One query, {queries[0]}, is missing from {run} and {one}."
    else:
        some = ", ".join(queries[:NAMED]) + (", …" if len(queries) > NAMED else "")
        text = f"{len(queries):,} queries are missing from {run} and {several}: {some}"
    only = "Compare only the queries that all runs have" if len(missing) > 1 else "Score only the queries that it has"
    return [Remark(text, ("missing", "empty", "Count them as 0") if skipped else ("missing", "skip", only))]


def tie_remarks(here: Mapping[str, Any], there: Mapping[str, float], measure: str) -> list[Remark]:
    """Return the effect of the order of tied documents, here and in trec_eval, if there is any.

    Args:
        here: the score of each run.
        there: the same by trec_eval's convention, of the runs in which the order matters.
        measure: the measure.
    """
    both = {run: (f"{here[run].value:.4f}", f"{value:.4f}") for run, value in there.items()}
    differing = [f"{other} instead of {one} for {run}" for run, (one, other) in both.items() if one != other]
    if not differing:
        return []
    text = f"The order of ties matters: trec_eval, which orders by id, has {measure} {listed(differing, 'runs')}."
    return [Remark(text, ("convention", "trec_eval", "Score as trec_eval does"))]


def few_remarks(standing: Standing) -> list[Remark]:
    """Return that the queries are too few to find any difference, if they are."""
    pairs = [standing.pairs[two] for two in combinations(standing.scores, 2)] if standing.pairs else []
    if not any(pair.differing for pair in pairs):
        return []
    testing = tables.Testing()
    least = min(tables.least_p_values(pairs, testing))
    corrected = f", corrected for {standing.together} pairs," if standing.together > 1 else ""
    if least >= tables.SIGNIFICANT:
        on_these = f"No difference can be significant on {counted(standing.queries)}"
        return [Remark(f"{on_these}: p{corrected} is at least {least:.2g}.")]
    if all(pair.has_too_few_queries for pair in pairs):
        return [Remark(f"{counted(standing.queries)} are too few to find any difference in 4 of 5 trials.")]
    return []


def listed(names: Sequence[str], what: str = "") -> str:
    """Return names in a sentence; of many the first.

    >>> listed(["a"]), listed(["a", "b"]), listed([*"abcd"]), listed([*"abcde"], "runs")
    ('a', 'a and b', 'a, b, c and d', 'a, b, c and 2 more runs')
    """
    some = list(names) if len(names) <= NAMED + 1 else list(names[:NAMED])
    if len(some) < len(names):
        some.append(f"{len(names) - NAMED} more{f' {what}' if what else ''}")
    return " and ".join(filter(None, [", ".join(some[:-1]), some[-1]]))


def counted(queries: int) -> str:
    """Return a number of queries.

    >>> counted(1), counted(2000)
    ('1 query', '2,000 queries')
    """
    return f"{queries:,} {'query' if queries == 1 else 'queries'}"


def signed(value: float) -> str:
    """Return a difference with its sign, in three digits; one that they do not show is above or below 0.

    >>> signed(0.5), signed(-0.0423), signed(0.0), signed(-1e-9)
    ('+0.500', '−0.042', '0.000', 'below 0')
    """
    text = f"{value:+.3f}".replace("-", "−")
    if float(text[1:]):
        return text
    return "0.000" if value == 0 else "above 0" if value > 0 else "below 0"


def p_text(p: float) -> str:
    """Return a p-value in two digits; in as many more as show on which side of 0.05 it is.

    >>> p_text(1.0), p_text(0.0214), p_text(0.04997), p_text(2e-5)
    ('p = 1', 'p = 0.021', 'p = 0.04997', 'p < 0.001')
    """
    if p < 0.001:
        return "p < 0.001"
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    significant = p < tables.SIGNIFICANT
    return f"p = {next(each for each in texts if (float(each) < tables.SIGNIFICANT) == significant)}"
