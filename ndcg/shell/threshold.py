"""`ndcg gate --at-least`: the least mean that passes, with or without a baseline."""

import math
from argparse import Namespace
from dataclasses import replace

from ..measure.messages import shown
from ..measure.options import Options, real
from ..show.junit import FAILURE, PASSED, Case
from ..show.tables import counted_text, interval_text, level_text, number_text
from ..statistics.measured import Score
from ..statistics.report import Report
from ..statistics.significance import falls_beyond
from .output import REGRESSION, Listing, Row
from .sides import scoring


def checked_threshold(args: Namespace) -> float:
    """Return the least mean that passes, if a mean can be above and below it."""
    least = args.at_least
    if not 0 < real(least) < math.inf:
        raise ValueError(f"--at-least must be a number above 0, such as 0.6; got {shown(least)}")
    options = Options.parse(**scoring(args))
    # The other measures have no upper bound.
    if least > 1 and "nDCG" in options.measures:
        raise ValueError(
            f"--at-least {least:g}: nDCG is at most 1, so the gate would always fail; give a "
            "smaller value, such as 0.6"
        )
    return float(least)


def with_threshold(listing: Listing, args: Namespace, report: Report, least: float) -> Listing:
    """Return the output of a gate with the means of a run beside the least that passes.

    The mean decides, without a test; its interval is that of `ndcg score`.
    """
    run, level = listing.whole["run"], level_text(args.confidence)
    rows = []
    table = [["measure", "queries", run, level, "verdict"]]
    for name, score in report.scores.items():
        row = _row(name, score, report, least, level)
        rows.append(row)
        counted = counted_text(row["queries"], report.counts["queries"])
        mean = number_text(row["run"], args.places)
        interval = interval_text(row["low"], row["high"], args.places)
        table.append([name, counted, mean, interval, _relation(row)])
    too_low = [row for row in rows if row["too_low"]]
    low = [f"{row['measure']} of {run} is {_mean_in_words(row, least, level)}" for row in too_low]
    summary = f"High enough: no mean of {run} is below {_digits(least)}."
    if low:
        summary = f"Too low: {'; '.join(low)}, below {_digits(least)}."
    return replace(
        listing,
        cells=[*listing.cells, table],
        sentences=[summary, *listing.sentences],
        rows=[*listing.rows, *rows],
        whole={**listing.whole, "at_least": least, "too_low": bool(low), "means": rows},
        status=REGRESSION if low else listing.status,
        cases=[*listing.cases, *map(_case, rows)],
    )


def _row(name: str, score: Score, report: Report, least: float, level: str) -> Row:
    is_low = falls_beyond(score.value - least, max_drop=0.0)
    row: Row = {
        "measure": name,
        "queries": score.queries,
        "left_out": report.counts["queries"] - score.queries,
        "run": score.value,
        "low": score.low,
        "high": score.high,
        "at_least": least,
        "too_low": is_low,
    }
    row["verdict"] = f"is {_mean_in_words(row, least, level)}, {_relation(row)}"
    return row


def _relation(row: Row) -> str:
    """Return whether a mean is below the least that passes."""
    relation = "below" if row["too_low"] else "at least"
    return f"{relation} {_digits(row['at_least'])}"


def _mean_in_words(row: Row, least: float, level: str) -> str:
    """Return a mean with its interval, with as many digits as tell it from the least to pass."""
    mean = number_text(row["run"])
    if row["too_low"] and float(mean) >= least:
        # Rounded, the mean would be the least that passes.
        mean = _digits(row["run"])
    if math.isnan(row["low"]):
        return f"{mean} (a single query has no interval)"
    return f"{mean} ({level} {interval_text(row['low'], row['high'])})"


def _digits(value: float) -> str:
    """Return a number with all digits that are sure.

    >>> _digits(0.6), _digits(0.1 + 0.2), _digits(0.59999)
    ('0.6', '0.3', '0.59999')
    """
    return f"{value:.15g}"


def _case(row: Row) -> Case:
    name = f"{row['measure']} at least {_digits(row['at_least'])}"
    result = FAILURE if row["too_low"] else PASSED
    return Case(name, result, f"{row['measure']} {row['verdict']}")
