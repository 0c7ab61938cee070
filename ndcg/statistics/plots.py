"""Draw comparisons: the means of systems beside the best or a baseline, slices, and the difference of each query."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..inputs.slices import MEAN_OF_SLICES, Slices, slice_name
from ..measure.ties import Floats
from ..show.drawing import Mark, draw_mark, draw_rows, legend_above, name_rows
from ..show.tables import count_text, number_text, p_text
from .contest import ComparedSlice
from .measured import SHOWN, Score
from .pairs import SIGNIFICANT, Pair, Testing

EXTREMES = (
    5  # queries with the greatest gains, and with the greatest losses, that have a labeled row
)


def pairs_with(reference: str, pairs: Iterable[Pair], measure: str) -> dict[str, Pair]:
    """Return the pairs of one system in a measure, by the name of the other system."""
    of_measure = [pair for pair in pairs if pair.measure == measure and reference in pair[1:3]]
    return {pair.other if pair.system == reference else pair.system: pair for pair in of_measure}


def plot_means(
    axes: Any,
    scores: Mapping[str, Mapping[str, Score]],
    pairs: Mapping[str, Pair],
    measure: str,
    testing: Testing,
) -> None:
    """Draw a row for each system: its mean, on the interval of its difference from the reference.

    `pairs` has, under the name of each other system, its pair with the reference.
    """
    (reference,) = scores.keys() - pairs.keys()
    mean = scores[reference][measure].value
    axes.axvline(mean, color="C0", linewidth=1.5)
    draw_mark(axes, Mark(mean, mean, mean), list(scores).index(reference), "C0")
    figures = {reference: number_text(mean)}
    for at, system in enumerate(scores):
        if system == reference:
            continue
        value, pair = scores[system][measure].value, pairs[system]
        seen, tested = (
            (pair, testing.tested) if pair.system == system else (pair.turned(), -testing.tested)
        )
        draw_mark(
            axes,
            Mark(value, mean + seen.low_holm, mean + seen.high_holm, _is_significant(pair)),
            at,
            "C1",
        )
        p = p_text(pair.p_holm)
        p = f"< {p[1:]}" if p.startswith("<") else f"= {p}"
        figures[system] = f"{number_text(value)}  {number_text(seen.difference, sign='+')}  p {p}"
        if testing.margin:
            axes.plot(
                [mean + tested] * 2,
                [at - 0.5, at + 0.5],
                color="gray",
                linestyle="dashed",
                linewidth=1,
            )
    name_rows(axes, list(scores))
    beside = axes.secondary_yaxis("right")
    beside.set_yticks(range(len(scores)), [figures[system] for system in scores])
    beside.tick_params(length=0)
    axes.margins(x=0.08)
    axes.grid(axis="x", alpha=0.3)
    lines = [
        measure,
        f"lines: intervals of the difference from {reference}",
        f"filled: p < {SIGNIFICANT}; p and intervals corrected by Holm",
        *([] if testing.alternative == "two-sided" else [f"p: {testing}?"]),
    ]
    axes.set_xlabel("\n".join(lines), parse_math=False)


def plot_slices(
    axes: Any,
    slices: Slices,
    compared: Mapping[Any, ComparedSlice],
    mean: ComparedSlice | None,
    reference: str,
    measure: str,
) -> None:
    """Draw a row for each slice with the systems' differences from the reference, empty if it has no intervals.

    The last row is for the mean of slices, if there is one.
    """
    sizes = np.bincount(slices.code).tolist()
    parts = [
        (slice_name(value), size, compared.get(value))
        for value, size in list(zip(slices.values, sizes, strict=True))[:SHOWN]
    ]
    if mean is not None:
        parts.append((MEAN_OF_SLICES, mean.queries, mean))
    rows: list[tuple[str, list[Mark]]] = []
    systems: list[str] = []
    for name, size, part in parts:
        if part is None:
            rows.append((f"{name} ({count_text(size)}, no interval)", []))
            continue
        pairs = pairs_with(reference, part.pairs, measure)
        systems = list(pairs)
        seen = [pair if pair.system == system else pair.turned() for system, pair in pairs.items()]
        marks = [
            Mark(pair.difference, pair.low_holm, pair.high_holm, _is_significant(pair))
            for pair in seen
        ]
        rows.append((f"{name} ({count_text(seen[0].queries)})", marks))
    draw_rows(axes, rows, systems)
    axes.axvline(0, color="gray", linewidth=1)
    axes.grid(axis="x", alpha=0.3)
    corrected = "corrected over all slices"
    if mean is not None:
        corrected += ", the mean over its pairs"
    lines = [
        f"difference in {measure} from {reference}",
        "by slices (and their queries)",
        corrected,
    ]
    axes.set_xlabel("\n".join(lines), parse_math=False)
    legend_above(axes)


def plot_queries(axes: Any, ids: Sequence[Any], difference: Floats, label: str) -> None:
    """Draw the difference of each query, the greatest on top; the most extreme ones have labeled rows."""
    order = np.argsort(-difference, kind="stable")[: np.count_nonzero(~np.isnan(difference))]
    difference, names = difference[order], [str(ids[at]) for at in order.tolist()]
    middle = slice(EXTREMES, -EXTREMES) if len(names) > 3 * EXTREMES else slice(0, 0)
    height = np.arange(len(names), dtype=float)
    between = len(names[middle])
    if between:  # they share as many rows as the queries at one end
        height[middle] = EXTREMES * (1 + (np.arange(between) + 0.5) / between) - 0.5
        height[-EXTREMES:] = np.arange(2 * EXTREMES, 3 * EXTREMES)
    named = np.delete(np.arange(len(names)), middle)
    axes.barh(
        height[named],
        difference[named],
        color=np.where(difference[named] > 0, "C0", "C1"),
        height=0.7,
    )
    for color, side in (("C0", np.maximum), ("C1", np.minimum)) if between else ():
        axes.fill_betweenx(
            height[middle], 0, side(difference[middle], 0), step="mid", color=color, linewidth=0
        )
    rows = {height[at]: names[at] for at in named.tolist()}
    if between:
        rows[1.5 * EXTREMES - 0.5] = f"{between:,} more"
    name_rows(axes, list(rows.values()), list(rows))
    axes.axvline(0, color="gray", linewidth=1)
    higher, lower = np.count_nonzero(difference > 0), np.count_nonzero(difference < 0)
    axes.set_xlabel(label, parse_math=False)
    axes.set_title(
        f"higher on {higher:,}, equal on {len(names) - higher - lower:,}, lower on {lower:,}",
        size="medium",
    )


def _is_significant(pair: Pair) -> bool:
    return pair.p_holm < SIGNIFICANT
