"""`ndcg gate`: a one-sided comparison with a baseline, which may be a saved result, and a threshold."""

import argparse
from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inputs.hashes import digest_of
from ..measure.messages import shown
from ..measure.options import Options, between_0_and_1, in_units
from ..statistics.comparison import Comparison, comparison_of
from ..statistics.measured import PerQuery, Resampling, columns_of_values, leave_out_alike
from ..statistics.pairs import Pair, Testing
from ..statistics.report import Report
from ..statistics.significance import can_be_significant, falls_beyond, is_regression
from ..statistics.tables import count_text, number_text
from .output import FIRST, Listing, Row
from .sides import Sides, scoring

REGRESSION = 1  # the exit status; 0 for all else


def gate_run(asked: argparse.Namespace) -> Listing:
    """Answer whether a run is worse than a baseline: by more than is tolerated, and significantly."""
    threshold = {"max_drop": in_units("max_drop", asked.max_drop), "alpha": between_0_and_1("alpha", asked.alpha, 0.05)}
    resampling = Resampling.parse(asked.confidence, asked.resamples, asked.seed)
    options = Options.parse(**scoring(asked))
    if asked.max_drop >= 1 and all(measure == "nDCG" for measure, _ in options.asked):
        problem = "nDCG is at most 1, so the gate could never fail"
        raise ValueError(f"--max-drop {asked.max_drop:g}: {problem}; give a smaller value, such as 0.01")
    sides = Sides.read(asked, [asked.baseline, asked.run])
    new = sides.report(sides.names[1])
    columns = _comparable(asked, sides, new, options)
    found = comparison_of(
        columns,
        None,
        None,
        options=options,
        baseline=sides.names[0],
        resampling=resampling,
        testing=Testing("less", corrected_over="all"),
        signature=new.signature,
    )
    return _listing(asked, found, [_row(pair, found, threshold) for pair in found.pairs], new)


def _row(pair: Pair, found: Comparison, threshold: dict[str, float]) -> Row:
    """Return what the gate tells programs about a measure."""
    return {
        "measure": pair.measure,
        "queries": pair.wins + pair.ties + pair.losses,
        "baseline": found.scores[pair.other][pair.measure].value,
        "run": found.scores[pair.system][pair.measure].value,
        **{name: getattr(pair, name) for name in ("difference", "low", "high", "p", "p_holm")},
        "regression": is_regression(pair.difference, pair.p_holm, **threshold),
    }


def _listing(asked: argparse.Namespace, found: Comparison, rows: list[Row], new: Report) -> Listing:
    """Return the answer of a gate: a table of its measures, and what a regression is."""
    baseline, run = found.scores
    failed = [row["measure"] for row in rows if row["regression"]]
    counts = sorted({row["queries"] for row in rows})
    queries = " to ".join(map(count_text, dict.fromkeys((counts[0], counts[-1]))))
    said = [
        f"Regression: {', '.join(failed)} of {run} fell." if failed else "No regression.",
        f"A regression is a fall of the mean of {queries} queries by more than {asked.max_drop:g} that differs "
        f"significantly from 0: p (Holm) of a one-sided paired randomisation test is at most {asked.alpha:g}.",
        *new.notes,
    ]
    whole = {
        "signature": new.signature,
        "baseline": baseline,
        "run": run,
        "max_drop": asked.max_drop,
        "alpha": asked.alpha,
        "queries": new.counts["queries"],
        "regression": bool(failed),
        "measures": rows,
        "notes": said[2:],
    }
    level = found.resampling.level
    table = [["measure", baseline, run, "difference", level, "p (fall)", "p (Holm)", ""]]
    for pair, row in zip(found.pairs, rows, strict=True):
        means = [number_text(row[side], asked.places) for side in ("baseline", "run")]
        cells = pair.cells(level, asked.places)
        difference = [cells[each] for each in ("difference", level, "p", "p (Holm)")]
        table.append([pair.measure, *means, *difference, _verdict(row, asked.max_drop)])
    return Listing([table], said, new.signature, rows, whole, status=REGRESSION * bool(failed))


def _verdict(row: Row, max_drop: float) -> str:
    """Return in words what the gate makes of a measure."""
    if row["regression"]:
        return "regression"
    if row["difference"] >= 0:
        return "no fall"
    return "may be chance" if falls_beyond(row["difference"], max_drop) else "within the margin"


# The two sides


def _comparable(asked: argparse.Namespace, sides: Sides, new: Report, options: Options) -> dict[str, PerQuery]:
    """Return the values of the baseline and of the run, for the queries that have a value in both.

    Raises:
        ValueError: the two cannot be compared, or no fall over so few queries can be significant.
    """
    baseline, run = sides.names
    judgments = None
    if baseline in sides.saved:
        old, judgments = _saved_report(asked.baseline, sides.saved[baseline])
    else:
        old = sides.report(baseline)
    if old.signature != new.signature:
        problem = f"was saved with {old.signature}, but {asked.run} is scored with {new.signature}"
        raise ValueError(f"{asked.baseline}: {problem}; score both with the same options and version")
    before, after = _same_queries(asked, old, new)
    if judgments is not None and judgments != digest_of(sides.qrels):
        raise ValueError(
            f"{asked.baseline}: was saved with other judgments than {asked.qrels}; score both with the same qrels"
        )
    columns = {
        name: columns_of_values(side["query"].tolist(), {each: side[each].astype(np.float64) for each in options.names})
        for name, side in ((baseline, before), (run, after))
    }
    leave_out_alike(columns, options.names)
    ranked = (before["retrieved"] > 0) | (after["retrieved"] > 0)
    fewest = min(int(np.count_nonzero(ranked & ~np.isnan(columns[run][name]))) for name in options.names)
    if not can_be_significant(fewest, len(options.names), asked.alpha):
        problem = f"with {fewest} ranked queries no fall can be significant at this level, so the gate could never fail"
        raise ValueError(f"{problem}; give more queries, fewer measures or a larger --alpha")
    return columns


def _saved_report(file: str, saved: dict[str, Any]) -> tuple[Report, str]:
    """Return the report that `ndcg score -o json` has saved, and the digest of its judgments.

    Raises:
        ValueError: it is another result, or its figures do not follow from the values of its queries.
    """
    if "signature" not in saved:
        several = f"contains the results of {len(saved):,} runs, {', '.join(map(shown, list(saved)[:FIRST]))}"
        raise ValueError(f"{file}: {several}{', …' * (len(saved) > FIRST)}; save only the one to compare with")
    try:
        found, judgments = Report.from_dict(saved), str(saved["judgments"])
        found.queries.select(["query", "retrieved", "judged", "relevant"])
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException):
        problem = "is not the result of one run as ndcg score -o json has saved it, whole and unchanged"
        raise ValueError(f"{file}: {problem}; save it again") from None
    return found, judgments


def _same_queries(
    asked: argparse.Namespace, old: Report, new: Report
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
        problem = f"{_some(lacking)} only there, {_some(extra)} only in {asked.qrels}"
        raise ValueError(f"{asked.baseline}: was saved with other queries: {problem}; score both with the same qrels")
    for name in ("judged", "relevant"):
        if (other := np.flatnonzero(before[name] != after[name])).size:
            at = other[0]
            problem = f"query {shown(after['query'][at])} has {before[name][at]} {name} documents there"
            hint = "score both with the same qrels"
            raise ValueError(f"{asked.baseline}: {problem}, but {after[name][at]} in {asked.qrels}; {hint}")
    lacking = (before["retrieved"] > 0) & (after["retrieved"] == 0)
    if lacking.any() and asked.missing is None:
        problem = f"is missing {_some(after['query'][lacking])} that {asked.baseline} ranks"
        hint = "--missing empty counts them as 0, --missing skip leaves them out"
        raise ValueError(f"{asked.run}: {problem}; {hint}")
    return before, after


def _some(queries: Collection[Any]) -> str:
    """Return how many queries there are, and the first of them."""
    if not len(queries):
        return "no query"
    first = ", ".join(map(shown, sorted(queries, key=str)[:FIRST]))
    return f"{len(queries):,} quer{'y' if len(queries) == 1 else 'ies'} ({first}{', …' * (len(queries) > FIRST)})"
