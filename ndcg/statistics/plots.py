"""Draw comparisons: the means of systems, slices, and the difference of every query."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.ties import Floats
from ..show.drawing import Mark, draw_mark, draw_rows, legend_above, name_rows
from ..show.tables import count_text, number_text, p_text
from .contest import ComparedSlice
from .measured import Scores
from .pairs import SIGNIFICANT, Pair, Testing

# So many queries with the greatest gains, and with the greatest losses, have a row.
EXTREMES = 5


def pairs_with(reference: str, pairs: Iterable[Pair], measure: str) -> dict[str, Pair]:
    """Return the differences of the other systems from one in a measure, by their names."""
    others = {}
    for pair in pairs:
        if pair.measure != measure:
            continue
        if pair.system == reference:
            others[pair.other] = pair.turned()
        elif pair.other == reference:
            others[pair.system] = pair
    return others


def plot_means(
    axes: Any,
    scores: Mapping[str, Scores],
    pairs: Mapping[str, Pair],
    measure: str,
    testing: Testing,
) -> None:
    """Draw every system in a row: its mean on the interval of its difference from the reference."""
    (reference,) = scores.keys() - pairs.keys()
    mean = scores[reference][measure].value
    axes.axvline(mean, color="C0", linewidth=1.5)
    draw_mark(axes, Mark(mean, mean, mean), list(scores).index(reference), "C0")
    figures = []
    for row, system in enumerate(scores):
        if system == reference:
            figures.append(number_text(mean))
            continue
        value = scores[system][measure].value
        pair = pairs[system]
        low, high = mean + pair.low_holm, mean + pair.high_holm
        draw_mark(axes, Mark(value, low, high, pair.p_holm < SIGNIFICANT), row, "C1")
        p = p_text(pair.p_holm)
        if p.startswith("<"):
            p = f"p < {p[1:]}"
        else:
            p = f"p = {p}"
        figures.append(f"{number_text(value)}  {number_text(pair.difference, sign='+')}  {p}")
        if testing.margin:
            tested = mean + testing.tested
            axes.plot([tested] * 2, [row - 0.5, row + 0.5], "--", color="gray", linewidth=1)
    name_rows(axes, list(scores))
    beside = axes.secondary_yaxis("right")
    beside.set_yticks(range(len(scores)), figures)
    beside.tick_params(length=0)
    axes.margins(x=0.08)
    axes.grid(axis="x", alpha=0.3)
    lines = [
        measure,
        f"lines: intervals of the difference from {reference}",
        f"filled: p < {SIGNIFICANT}; p and intervals corrected by Holm",
    ]
    if testing.alternative != "two-sided":
        question = testing.question("the row's system")
        lines.append(f"p: {question}?")
    # From the left, since a narrow panel has more room below the figures on its right.
    axes.set_xlabel("\n".join(lines), loc="left", parse_math=False)


def plot_slices(
    axes: Any, slices: Iterable[tuple[str, ComparedSlice]], reference: str, measure: str
) -> None:
    """Draw a row for every slice, and for their mean, with the differences from the reference."""
    rows: list[tuple[str, list[Mark]]] = []
    systems: list[str] = []
    for name, part in slices:
        pairs = pairs_with(reference, part.pairs, measure)
        systems = list(pairs)
        marks = []
        for pair in pairs.values():
            is_significant = pair.p_holm < SIGNIFICANT
            marks.append(Mark(pair.difference, pair.low_holm, pair.high_holm, is_significant))
        rows.append((f"{name} ({count_text(pairs[systems[0]].queries)})", marks))
    draw_rows(axes, rows, systems)
    axes.axvline(0, color="gray", linewidth=1)
    axes.grid(axis="x", alpha=0.3)
    lines = [
        f"difference in {measure} from {reference}",
        "by slices (and their queries)",
        "corrected over all slices, their mean over its pairs",
    ]
    # Up to the right, since a narrow panel has more room below the names of the slices.
    axes.set_xlabel("\n".join(lines), loc="right", parse_math=False)
    legend_above(axes)


def plot_queries(axes: Any, ids: pa.ChunkedArray, difference: Floats, label: str) -> None:
    """Draw the greatest differences of queries, gains on top; a row counts those in between."""
    # Queries without a value, nan, are sorted last.
    order = np.argsort(-difference, kind="stable")[: np.count_nonzero(~np.isnan(difference))]
    values = difference[order].tolist()
    names = list(map(str, ids.take(order).to_pylist()))
    higher = np.count_nonzero(difference > 0)
    lower = np.count_nonzero(difference < 0)
    equal = len(values) - higher - lower
    between = len(values) - 2 * EXTREMES
    if between > EXTREMES:
        names[EXTREMES:-EXTREMES] = [f"{between:,} more"]
        values[EXTREMES:-EXTREMES] = [0.0]
    colors = np.where(np.array(values) > 0, "C0", "C1")
    axes.barh(range(len(values)), values, color=colors, height=0.7)
    name_rows(axes, names)
    axes.axvline(0, color="gray", linewidth=1)
    axes.set_xlabel(label, parse_math=False)
    axes.set_title(f"higher on {higher:,}, equal on {equal:,}, lower on {lower:,}", size="medium")
