"""`ndcg gate`: a one-sided comparison with a baseline, which may be a saved result, and a threshold."""

import argparse
import math
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inputs.hashes import digest_of
from ..measure.messages import shown
from ..measure.options import Options, in_units, is_real
from ..show.tables import counted_text, level_text, number_text, p_text
from ..statistics.comparing import comparison_of
from ..statistics.comparison import Comparison
from ..statistics.measured import PerQuery, Resampling, columns_of_values, leave_out_alike
from ..statistics.notes import differing_text, least_p_values
from ..statistics.pairs import Pair, Testing
from ..statistics.report import Report
from ..statistics.significance import can_be_significant, falls_beyond, is_regression
from .output import FIRST, Listing, Row
from .sides import Sides, scoring

REGRESSION = 1  # the exit status; 0 for all else


class Criteria(NamedTuple):
    """The criteria of a regression.

    Attributes:
        max_drop: the drop that is tolerated, in units of the measure.
        alpha: the level at which a larger drop must be significant; 1 if it need not be.
    """

    max_drop: float
    alpha: float

    @classmethod
    def parse(cls, args: argparse.Namespace) -> "Criteria":
        """Check the criteria.

        Raises:
            ValueError: a value is not allowed; names the option, the value and the allowed values.
        """
        if not is_real(args.alpha) or not 0 <= args.alpha <= 1:
            raise ValueError(f"--alpha must be from 0 to 1, such as 0.05; got {shown(args.alpha)}")
        return cls(in_units("max_drop", args.max_drop), 1.0 if args.any_drop else args.alpha)

    @property
    def need_a_test(self) -> bool:
        """Whether the test decides: at 1 every drop is significant, at 0 none is."""
        return 0 < self.alpha < 1

    def __str__(self) -> str:
        drop = f"A regression is a drop of the mean by more than {self.max_drop:g}"
        if self.alpha == 1:
            return f"{drop}, significant or not."
        test = f"p (Holm) of a one-sided paired randomization test is at most {self.alpha:g}"
        return f"{drop} that differs significantly from 0: {test}."


def gate_run(args: argparse.Namespace) -> Listing:
    """Return whether a run is worse than a baseline: by more than is tolerated, and significantly."""
    criteria = Criteria.parse(args)
    resampling = Resampling.parse(args.confidence, args.seed)
    if resampling.confidence <= 0.5:
        problem = "must be above 0.5, since the interval of a gate is one-sided"
        raise ValueError(f"--confidence {problem}; got {args.confidence:g}")
    options = Options.parse(**scoring(args))
    if args.max_drop >= 1 and all(measure == "nDCG" for measure, _ in options.with_cutoffs):
        problem = "nDCG is at most 1, so the gate could never fail"
        raise ValueError(f"--max-drop {args.max_drop:g}: {problem}; give a smaller value, such as 0.01")
    sides = Sides.read(args, [args.baseline, args.run])
    new = sides.report(sides.names[1])
    columns = _comparable(args, sides, new, options, criteria)
    comparison = comparison_of(
        columns,
        None,
        options=options,
        baseline=sides.names[0],
        resampling=resampling._replace(confidence=2 * resampling.confidence - 1),  # with as much beyond its upper end
        testing=Testing("less", corrected_over="all"),
        signature=new.signature,
    )
    least = least_p_values(comparison.pairs, comparison.testing)
    rows = [_row(pair, p, comparison, new, criteria) for pair, p in zip(comparison.pairs, least, strict=True)]
    return _listing(args, comparison, rows, new, criteria)


def _row(pair: Pair, least: float, comparison: Comparison, new: Report, criteria: Criteria) -> Row:
    """Return the result of the gate on a measure, for programs.

    Args:
        pair: the run and the baseline.
        least: the least p-value, corrected, that the pair could have.
        comparison: their comparison.
        new: the report on the run.
        criteria: the criteria of a regression.
    """
    return {
        "measure": pair.measure,
        "queries": pair.queries,
        "left_out": new.counts["queries"] - pair.queries,
        "differing": pair.wins + pair.losses,
        "baseline": comparison.scores[pair.other][pair.measure].value,
        "run": comparison.scores[pair.system][pair.measure].value,
        "difference": pair.difference,
        "low": None,  # the interval is one-sided, as the test
        **{name: getattr(pair, name) for name in ("high", "p", "p_holm")},
        "least_p_holm": least,
        "regression": is_regression(pair.difference, pair.p_holm, **criteria._asdict()),
        "verdict": _verdict(pair, least, criteria),
    }


def _verdict(pair: Pair, least: float, criteria: Criteria) -> str:
    """Return the verdict on a measure in words."""
    if not falls_beyond(pair.difference, criteria.max_drop):
        return f"did not drop by more than {criteria.max_drop:g}"
    drop = f"dropped by {_amount(-pair.difference)}"
    if criteria.alpha == 1:
        return f"{drop}, more than {criteria.max_drop:g}"
    if is_regression(pair.difference, pair.p_holm, **criteria._asdict()):
        return f"{drop}: significant"
    differing = pair.wins + pair.losses
    queries = "1 differing query" if differing == 1 else f"{differing:,} differing queries"
    verb = "cannot" if least > criteria.alpha else "does not" if differing == 1 else "do not"
    return f"{drop}, which {queries} {verb} prove: not failed"


def _amount(value: float) -> str:
    """Return a positive number in few digits.

    >>> _amount(0.2), _amount(30.0), _amount(0.08264), _amount(0.00001234)
    ('0.2', '30', '0.0826', '1e-05')
    """
    text = number_text(value)
    return text if "e" in text else text.rstrip("0").rstrip(".") if float(text) else f"{value:.1g}"


def _summary(run: str, rows: list[Row], criteria: Criteria) -> str:
    """Return the verdict on all measures in a sentence."""
    failed = [row["measure"] for row in rows if row["regression"]]
    if failed:
        return f"Regression: {', '.join(failed)} of {run} dropped by more than {criteria.max_drop:g}."
    if dropped := [row["measure"] for row in rows if falls_beyond(row["difference"], criteria.max_drop)]:
        by = f"dropped by more than {criteria.max_drop:g}, but not significantly"
        return f"Not failed: {', '.join(dropped)} of {run} {by}."
    return f"No regression: no mean of {run} dropped by more than {criteria.max_drop:g}."


def _notes_on_the_test(rows: list[Row], criteria: Criteria) -> list[str]:
    """Say of each drop that so few queries cannot prove which p-value they could reach, and how many would do."""
    if criteria.alpha == 0:
        return ["At --alpha 0 no drop is significant, so that this gate never fails."]
    notes = []
    for row in rows:
        if not falls_beyond(row["difference"], criteria.max_drop) or row["least_p_holm"] <= criteria.alpha:
            continue
        needed = math.ceil(math.log2(len(rows) / criteria.alpha))
        least = f"with {differing_text(row['differing'])}, p (Holm) is at least {p_text(row['least_p_holm'])}"
        sure = "; the interval, Student's t, assumes more" if row["high"] < 0 else ""
        notes.append(f"{row['measure']}: {least}. It takes {needed} to be at most {criteria.alpha:g}{sure}.")
    return notes


def _listing(
    args: argparse.Namespace, comparison: Comparison, rows: list[Row], new: Report, criteria: Criteria
) -> Listing:
    """Return the output of a gate: a table of its measures, and the criteria of a regression."""
    baseline, run = comparison.scores
    failed = any(row["regression"] for row in rows)
    remarks = [_summary(run, rows, criteria), str(criteria), *_notes_on_the_test(rows, criteria), *new.notes]
    whole = {
        "signature": new.signature,
        "baseline": baseline,
        "run": run,
        **criteria._asdict(),
        "any_drop": criteria.alpha == 1,
        "queries": new.counts["queries"],
        "regression": failed,
        "measures": rows,
        "notes": remarks[2:],
    }
    interval = f"one-sided {level_text(args.confidence)}"
    table = [["measure", "queries", baseline, run, "difference", interval, "p (drop)", "p (Holm)", "verdict"]]
    for row in rows:
        counted = counted_text(row["queries"], new.counts["queries"])
        means = [number_text(row[side], args.places) for side in ("baseline", "run")]
        difference, high = (number_text(row[each], args.places, "+") for each in ("difference", "high"))
        p_values = [p_text(row[each]) for each in ("p", "p_holm")]
        table.append([row["measure"], counted, *means, difference, f"up to {high}", *p_values, row["verdict"]])
    return Listing([table], remarks, new.signature, rows, whole, status=REGRESSION * failed)


# The two sides


def _comparable(
    args: argparse.Namespace, sides: Sides, new: Report, options: Options, criteria: Criteria
) -> dict[str, PerQuery]:
    """Return the values of the baseline and of the run, for the queries that have a value in both.

    Raises:
        ValueError: the two cannot be compared, or no drop over so few queries can be significant.
    """
    baseline, run = sides.names
    judgments = None
    if baseline in sides.saved:
        old, judgments = _saved_report(args.baseline, sides.saved[baseline])
    else:
        old = sides.report(baseline)
    if old.signature != new.signature:
        problem = f"was saved with {old.signature}, but {args.run} is scored with {new.signature}"
        raise ValueError(f"{args.baseline}: {problem}; score both with the same options and version")
    before, after = _same_queries(args, old, new)
    if judgments is not None and judgments != digest_of(sides.qrels):
        raise ValueError(
            f"{args.baseline}: was saved with other judgments than {args.qrels}; score both with the same qrels"
        )
    columns = {
        name: columns_of_values(side["query"].tolist(), {each: side[each].astype(np.float64) for each in options.names})
        for name, side in ((baseline, before), (run, after))
    }
    leave_out_alike(columns, options.names)
    ranked = (before["retrieved"] > 0) | (after["retrieved"] > 0)
    fewest = min(int(np.count_nonzero(ranked & ~np.isnan(columns[run][name]))) for name in options.names)
    if criteria.need_a_test and not can_be_significant(fewest, len(options.names), criteria.alpha):
        problem = f"with {fewest} ranked queries no drop can be significant at this level, so the gate could never fail"
        raise ValueError(f"{problem}; give more queries, fewer measures, a larger --alpha, or --any-drop")
    return columns


def _saved_report(file: str, saved: dict[str, Any]) -> tuple[Report, str]:
    """Return the report that `ndcg score -o json` has saved, and the digest of its judgments.

    Raises:
        ValueError: it is another result, or its values do not follow from the values of its queries.
    """
    if "signature" not in saved:
        several = f"contains the results of {len(saved):,} runs, {', '.join(map(shown, list(saved)[:FIRST]))}"
        raise ValueError(f"{file}: {several}{', …' * (len(saved) > FIRST)}; save only the one to compare with")
    try:
        report, judgments = Report.from_dict(saved), str(saved["judgments"])
        report.queries.select(["query", "retrieved", "judged", "relevant"])
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException):
        problem = "is not the result of one run, whole and unchanged, as saved by ndcg score -o json"
        raise ValueError(f"{file}: {problem}; save it again") from None
    return report, judgments


def _same_queries(
    args: argparse.Namespace, old: Report, new: Report
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Return the columns of queries of two reports, in the order of the second.

    Raises:
        ValueError: they have other queries or judgments, or the run is missing queries that the baseline ranks.
    """
    place = {query: at for at, query in enumerate(new.queries["query"].to_pylist())}
    places = [place.get(query, len(place)) for query in old.queries["query"].to_pylist()]
    tables = (old.queries.take(np.argsort(places, kind="stable")), new.queries)
    before, after = (
        {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names} for table in tables
    )
    if before["query"].tolist() != after["query"].tolist():
        lacking, extra = (set(one["query"]) - set(other["query"]) for one, other in ((before, after), (after, before)))
        problem = f"{_some(lacking)} only in the saved result, {_some(extra)} only in {args.qrels}"
        raise ValueError(f"{args.baseline}: was saved with other queries: {problem}; score both with the same qrels")
    for name in ("judged", "relevant"):
        if (other := np.flatnonzero(before[name] != after[name])).size:
            at = other[0]
            problem = f"query {shown(after['query'][at])} has {before[name][at]} {name} documents there"
            hint = "score both with the same qrels"
            raise ValueError(f"{args.baseline}: {problem}, but {after[name][at]} in {args.qrels}; {hint}")
    lacking = (before["retrieved"] > 0) & (after["retrieved"] == 0)
    if lacking.any() and args.missing is None:
        problem = f"is missing {_some(after['query'][lacking])} that {args.baseline} ranks"
        hint = "--missing empty counts them as 0, --missing skip skips them"
        raise ValueError(f"{args.run}: {problem}; {hint}")
    return before, after


def _some(queries: Collection[Any]) -> str:
    """Return how many queries there are, and the first of them."""
    if not len(queries):
        return "no query"
    first = ", ".join(map(shown, sorted(queries, key=str)[:FIRST]))
    return f"{len(queries):,} quer{'y' if len(queries) == 1 else 'ies'} ({first}{', …' * (len(queries) > FIRST)})"
