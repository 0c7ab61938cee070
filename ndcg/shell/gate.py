"""`ndcg gate`: a one-sided comparison with a baseline, also a saved one, or a threshold alone."""

import math
from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..inputs.hashes import digest_of
from ..measure.messages import shown
from ..measure.options import Options, in_units, real
from ..measure.ties import Mask
from ..show.junit import FAILURE, PASSED, Case
from ..show.tables import counted_text, level_text, number_text, p_text
from ..statistics.comparing_reports import OtherQueriesError, compare_reports, same_queries, some_of
from ..statistics.comparison import Comparison
from ..statistics.measured import Resampling
from ..statistics.notes import equal_notes, least_p_values
from ..statistics.pairs import Pair
from ..statistics.report import Report
from ..statistics.saved import choices_in
from ..statistics.significance import falls_beyond, is_regression
from .flags import ARGUMENTS, CRITERIA, flag_of
from .output import REGRESSION, Listing, Row
from .sides import Sides, scoring, set_in
from .threshold import checked_threshold, with_threshold

# The criteria of a comparison with a baseline, with their values if they are not set.
OF_BASELINE = {
    criterion.name: criterion.default
    for criterion in ARGUMENTS[CRITERIA]
    if criterion.name != "at_least"
}


class Criteria(NamedTuple):
    """The criteria of a regression."""

    max_drop: float  # the drop that is tolerated, in units of the measure
    # the level at which a larger drop must be significant; 1 if it need not be significant
    alpha: float

    @classmethod
    def parse(cls, args: Namespace) -> "Criteria":
        """Check the criteria."""
        values = OF_BASELINE | set_in(args, OF_BASELINE)
        alpha = values["alpha"]
        if not 0 <= real(alpha) <= 1:
            raise ValueError(f"--alpha must be from 0 to 1, such as 0.05; got {shown(alpha)}")
        if values["any_drop"]:
            alpha = 1.0
        return cls(in_units("max_drop", values["max_drop"]), alpha)

    def __str__(self) -> str:
        drop = f"A regression is a drop of the mean by more than {self.max_drop:g}"
        if self.alpha == 1:
            return f"{drop}, significant or not."
        test = f"p (Holm) of a one-sided paired randomization test is at most {self.alpha:g}"
        return f"{drop} that differs significantly from 0: {test}."


def gate_run(args: Namespace) -> Listing:
    """Return whether the means of a run drop too far below a baseline, or are below a threshold."""
    if args.baseline is not None:
        listing, new = _gate_with_baseline(args)
    elif args.at_least is None:
        raise ValueError("give BASELINE before RUN, or the least mean that passes by --at-least")
    else:
        listing, new = _gate_alone(args)
    if args.at_least is None:
        return listing
    return with_threshold(listing, args, new, checked_threshold(args))


def _gate_with_baseline(args: Namespace) -> tuple[Listing, Report]:
    """Return whether a run is worse than a baseline, by more than is tolerated, and its report."""
    criteria = Criteria.parse(args)
    resampling = Resampling.parse(args.confidence, args.seed)
    if resampling.confidence <= 0.5:
        problem = "must be above 0.5, since the interval of a gate is one-sided"
        raise ValueError(f"--confidence {problem}; got {args.confidence:g}")
    options = Options.parse(**scoring(args))
    # A mean of DCG may drop further, so that the gate may still fail.
    if criteria.max_drop >= 1 and options.measures == ("nDCG",):
        problem = "nDCG is at most 1, so the gate could never fail"
        raise ValueError(
            f"--max-drop {criteria.max_drop:g}: {problem}; give a smaller value, such as 0.01"
        )
    sides = Sides.read(args, [args.baseline, args.run])
    baseline, run = (*sides.saved, *sides.runs)
    new, missing = sides.report_and_missing(run)
    if baseline in sides.saved:
        old = _saved_report(args.baseline, sides)
    else:
        old = sides.report(baseline)
    ranked = _ranked(args, sides, old, new, missing)
    comparison = compare_reports(
        {baseline: old, run: new},
        baseline=baseline,
        # So that 1 - confidence lies beyond the upper end of the two-sided interval alone.
        confidence=2 * resampling.confidence - 1,
        seed=resampling.seed,
        alternative="less",
        corrected_over="all",
    )
    _refuse_too_few_queries(comparison, ranked, criteria)
    least_p = least_p_values(comparison.pairs, comparison.testing)
    pairs = zip(comparison.pairs, least_p, strict=True)
    rows = [_row(pair, least, comparison, new, criteria) for pair, least in pairs]
    return _listing(args, comparison, rows, new, criteria), new


def _gate_alone(args: Namespace) -> tuple[Listing, Report]:
    """Return the output of a gate without a baseline, still without a criterion, and the report."""
    for name in set_in(args, OF_BASELINE):
        raise ValueError(f"{flag_of(name)} compares with a baseline; give BASELINE before RUN")
    sides = Sides.read(args, [args.run])
    (run,) = sides.runs
    new, missing = sides.report_and_missing(run)
    lacking = new.queries["query"].filter(missing).to_pylist()
    _refuse_missing(args, lacking, f"of {args.qrels}")
    whole = {
        "signature": new.signature,
        "run": run,
        "queries": new.counts["queries"],
        "notes": list(new.notes),
    }
    return Listing([], new.notes, new.signature, [], whole), new


def _row(pair: Pair, least: float, comparison: Comparison, new: Report, criteria: Criteria) -> Row:
    """Return the machine-readable result for a measure; `least` is the least p it could have."""
    has_failed = is_regression(pair.difference, pair.p_holm, **criteria._asdict())
    return {
        "measure": pair.measure,
        "queries": pair.queries,
        "left_out": new.counts["queries"] - pair.queries,
        "differing": pair.differing,
        "baseline": comparison.scores[pair.other][pair.measure].value,
        "run": comparison.scores[pair.system][pair.measure].value,
        "difference": pair.difference,
        "low": None,  # the interval is one-sided, like the test
        "high": pair.high,
        "p": pair.p,
        "p_holm": pair.p_holm,
        "least_p_holm": least,
        "regression": has_failed,
        "verdict": _verdict(pair, least, criteria, has_failed),
    }


def _verdict(pair: Pair, least: float, criteria: Criteria, has_failed: bool) -> str:
    if not falls_beyond(pair.difference, criteria.max_drop):
        return f"did not drop by more than {criteria.max_drop:g}"
    drop = f"dropped by {-pair.difference:.3g}"
    if criteria.alpha == 1:
        return f"{drop}, more than {criteria.max_drop:g}"
    if has_failed:
        return f"{drop}: significant"
    queries, verb = f"{pair.differing:,} differing queries", "do not"
    if pair.differing == 1:
        queries, verb = "1 differing query", "does not"
    if least > criteria.alpha:  # however large the drop is
        verb = "cannot"
    return f"{drop}, which {queries} {verb} prove: not failed"


def _summary(run: str, rows: list[Row], criteria: Criteria) -> str:
    amount = f"more than {criteria.max_drop:g}"
    failed = [row["measure"] for row in rows if row["regression"]]
    if failed:
        return f"Regression: {', '.join(failed)} of {run} dropped by {amount}."
    dropped = ", ".join(row["measure"] for row in rows if _has_dropped(row, criteria))
    if dropped:
        return f"Not failed: {dropped} of {run} dropped by {amount}, but not significantly."
    return f"No regression: no mean of {run} dropped by {amount}."


def _has_dropped(row: Row, criteria: Criteria) -> bool:
    """Return whether a mean dropped by more than is tolerated, significantly or not."""
    return falls_beyond(row["difference"], criteria.max_drop)


def _notes_on_the_test(rows: list[Row], criteria: Criteria) -> list[str]:
    """Return notes on drops that too few queries can prove: how many are needed."""
    if criteria.alpha == 0:
        return ["At --alpha 0 no drop is significant, so that this gate never fails."]
    notes = []
    for row in rows:
        if not _has_dropped(row, criteria) or row["least_p_holm"] <= criteria.alpha:
            continue
        # If all of n queries fell, only one of 2^n choices of signs is as extreme; Holm's
        # correction multiplies its share by the number of measures.
        needed = math.ceil(math.log2(len(rows) / criteria.alpha))
        least = p_text(row["least_p_holm"])
        differing = f"{row['differing']:,} of {row['queries']:,} queries"
        note = f"{row['measure']}: with differences in {differing}, p (Holm) is at least {least}."
        notes.append(f"{note} It takes {needed} to be at most {criteria.alpha:g}.")
    return notes


def _listing(
    args: Namespace,
    comparison: Comparison,
    rows: list[Row],
    new: Report,
    criteria: Criteria,
) -> Listing:
    """Return the output of a gate: a table of its measures, and the criteria of a regression."""
    baseline, run = comparison.scores
    failed = any(row["regression"] for row in rows)
    notes = [*_notes_on_the_test(rows, criteria), *equal_notes(comparison.pairs), *new.notes]
    whole = {
        "signature": new.signature,
        "baseline": baseline,
        "run": run,
        **criteria._asdict(),
        "any_drop": criteria.alpha == 1,
        "queries": new.counts["queries"],
        "regression": failed,
        "measures": rows,
        "notes": notes,
    }
    interval = f"one-sided {level_text(args.confidence)}"
    header = ["measure", "queries", baseline, run, "difference", interval]
    table = [[*header, "p (drop)", "p (Holm)", "verdict"]]
    for row in rows:
        table.append(
            [
                row["measure"],
                counted_text(row["queries"], new.counts["queries"]),
                number_text(row["baseline"], args.places),
                number_text(row["run"], args.places),
                number_text(row["difference"], args.places, "+"),
                f"up to {number_text(row['high'], args.places, '+')}",
                p_text(row["p"]),
                p_text(row["p_holm"]),
                row["verdict"],
            ]
        )
    remarks = [_summary(run, rows, criteria), str(criteria), *notes]
    status = REGRESSION if failed else 0
    cases = list(map(_case, rows))
    return Listing([table], remarks, new.signature, rows, whole, status=status, cases=cases)


def _case(row: Row) -> Case:
    verdict = f"{row['measure']} {row['verdict']}"
    if not row["regression"]:
        return Case(row["measure"], PASSED, verdict)
    return Case(row["measure"], FAILURE, f"{verdict}, p (Holm) {p_text(row['p_holm'])}")


# The run and the baseline


def _saved_report(file: str, sides: Sides) -> Report:
    (saved,) = sides.saved.values()
    try:
        report = Report.from_dict(saved)
        # A column that the gate compares must be there.
        report.queries.select(["query", "retrieved"])
    except (KeyError, TypeError, ValueError, pa.ArrowException):
        raise ValueError(
            f"{file}: is not the result of one run, whole and unchanged, as saved by ndcg score -o "
            "json; save it again"
        ) from None
    return report


def _ranked(args: Namespace, sides: Sides, old: Report, new: Report, missing: Mask) -> Mask:
    """Return a mask of queries, in the baseline's order, for which it or the run ranks a document.

    `missing` has the queries of `new` that are missing from the run.
    """
    file, qrels = args.baseline, args.qrels
    if choices_in(old.signature) != choices_in(new.signature):
        problem = f"was saved with {old.signature}, but {args.run} is scored with {new.signature}"
        raise ValueError(f"{file}: {problem}; score both with the same options and version")
    hint = "score both with the same qrels"
    try:
        tables = same_queries({"the saved result": old.queries, qrels: new.queries})
    except OtherQueriesError as error:
        raise ValueError(f"{file}: was saved with other queries: {error}; {hint}") from None
    for saved in sides.saved.values():
        if saved.get("judgments") != digest_of(sides.qrels):
            raise ValueError(f"{file}: was saved with other judgments than {qrels}; {hint}")
    before, after = (table["retrieved"].to_numpy() > 0 for table in tables.values())
    ranked_before = set(old.queries["query"].filter(pa.array(before)).to_pylist())
    lacking = new.queries["query"].filter(missing).to_pylist()
    lacking = [query for query in lacking if query in ranked_before]
    _refuse_missing(args, lacking, f"that {file} ranks")
    return np.asarray(before | after)


def _refuse_missing(args: Namespace, lacking: Sequence[Any], which: str) -> None:
    """Raise an error for queries missing from a run, unless --missing says how they count."""
    if lacking and args.missing is None:
        raise ValueError(
            f"{args.run}: is missing {some_of(lacking)} {which}; --missing empty counts them as 0, "
            "--missing skip skips them"
        )


def _refuse_too_few_queries(comparison: Comparison, ranked: Mask, criteria: Criteria) -> None:
    if criteria.alpha in (0, 1):  # at level 1 every drop is significant, at level 0 none is
        return
    values = comparison.queries.slice(0, len(ranked))
    measures = comparison.measures
    counted = [ranked & values[name].is_valid().to_numpy() for name in measures]
    fewest = int(min(map(np.count_nonzero, counted)))
    # If all queries get worse, one of their 2 ** n permutations is as extreme.
    if 0.5**fewest * len(measures) > criteria.alpha:
        raise ValueError(
            f"with {fewest} ranked queries no drop can be significant at this level, so the gate "
            "could never fail; give more queries, fewer measures, a larger --alpha, or --any-drop"
        )
