"""Plots as drawings in HTML: each says in a sentence what it shows, for eyes and for screen readers."""

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

import numpy as np
import pandas as pd

WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 42, 412, 8, 192  # of the lines and bars within the axes
LINES = ("own", "ideal")  # classes of lines, in the order of columns
DOTTED = 20  # ranks at most that have dots


def line_plot(by_rank: pd.DataFrame, top: float, caption: str, finding: str) -> str:
    """Return a plot of lines over ranks.

    Args:
        by_rank: the ranks, then a column per line, which names it.
        top: the least upper end of the axis of values, which begins at 0 or below.
        caption: the caption.
        finding: a sentence on what the plot shows.
    """
    ranks, *names = by_rank.columns
    values = by_rank[names]
    low, high = min(0.0, float(values.min(axis=None))), max(top, float(values.max(axis=None)))
    places = [LEFT + (RIGHT - LEFT) * (at + 0.5) / len(by_rank) for at in range(len(by_rank))]
    every = -(-len(places) // 10)
    labels = [(x, f"{rank}") for x, rank in list(zip(places, by_rank[ranks], strict=True))[::every]]
    drawn = []
    for name, kind in zip(names, LINES, strict=False):
        points = [(x, _height(value, low, high)) for x, value in zip(places, values[name], strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dots = "".join(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3'/>" for x, y in points if len(points) <= DOTTED)
        drawn.append(f"<g class='{kind}'><polyline points='{line}'/>{dots}</g>")
    keys = "".join(f" <span class='key {kind}'>{escape(name)}</span>" for name, kind in zip(names, LINES, strict=False))
    return _figure(f"{escape(caption)}{keys if len(names) > 1 else ''}", finding, "".join(drawn), labels, low, high)


def distribution(values: Sequence[float], bins: int = 20) -> tuple[list[int], list[float]]:
    """Return how many values are in each of equal intervals from 0 or below to 1 or above, and their edges."""
    counts, edges = np.histogram(values, np.linspace(min([0.0, *values]), max([1.0, *values]), bins + 1))
    return counts.tolist(), edges.tolist()


def histogram(counts: Sequence[int], edges: Sequence[float], caption: str, finding: str) -> str:
    """Return a plot of counts in intervals.

    Args:
        counts: one per interval.
        edges: the edges of the intervals, one more.
        caption: the caption.
        finding: a sentence on what the plot shows.
    """
    high = max([1, *counts])
    places = [LEFT + (RIGHT - LEFT) * at / len(counts) for at in range(len(edges))]
    bars = "".join(
        f"<rect x='{left + 1:.1f}' width='{right - left - 2:.1f}' y='{_height(count, 0, high):.1f}' "
        f"height='{BOTTOM - _height(count, 0, high):.1f}'/>"
        for (left, right), count in zip(pairwise(places), counts, strict=True)
    )
    labels = [(x, f"{edge:.3g}") for x, edge in list(zip(places, edges, strict=True))[:: len(counts) // 4]]
    return _figure(escape(caption), finding, f"<g class='own'>{bars}</g>", labels, 0, high)


def bars_svg(values: Sequence[tuple[str, float]], caption: str, sides: Sequence[str]) -> str:
    """Return bars as a picture in a file of its own.

    Args:
        values: the values by the names of the bars, from the top; nan has no bar.
        caption: the caption.
        sides: the meaning of bars to the left and to the right of the middle; empty for bars from the left.
    """
    widest = max([abs(value) for _, value in values if value == value], default=0) or 1
    start, length = (410, 200) if sides else (210, 400)
    rows = []
    for at, (name, value) in enumerate(values):
        y, size = 50 + 18 * at, 0.0 if math.isnan(value) else length * abs(value) / widest
        x = start - size if sides and value > 0 else start
        color = "#a8470b" if value < 0 else "#2357d9"
        text = "skipped" if math.isnan(value) else f"{value + 0.0:+.4f}" if sides else f"{value + 0.0:.4f}"
        rows.append(
            f"<text x='200' y='{y + 12}' text-anchor='end'>{escape(name[:28])}</text>"
            f"<rect x='{x:.1f}' y='{y}' width='{size:.1f}' height='14' fill='{color}'/>"
            f"<text x='620' y='{y + 12}'>{text}</text>"
        )
    heads = "".join(
        f"<text x='{x}' y='42'>{escape(side[:28])}</text>" for x, side in zip((210, 420), sides, strict=False)
    )
    high = 60 + 18 * len(values)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='700' height='{high}' font-family='sans-serif' font-size='12'>"
        f"<rect width='700' height='{high}' fill='#fff'/><text x='10' y='20' font-size='14'>{escape(caption)}</text>"
        f"{heads}{''.join(rows)}</svg>"
    )


def _height(value: float, low: float, high: float) -> float:
    return TOP + (BOTTOM - TOP) * (high - value) / ((high - low) or 1)


def _figure(
    caption: str, finding: str, drawn: str, labels: Sequence[tuple[float, str]], low: float, high: float
) -> str:
    """Return the drawing with its axes, its caption, which is HTML, and its description."""
    ticks = [low + (high - low) * at / 4 for at in range(5)]
    rules = "".join(
        f"<line x1='{LEFT}' x2='{RIGHT}' y1='{y:.1f}' y2='{y:.1f}'/><text x='{LEFT - 6}' y='{y + 4:.1f}' "
        f"class='at-left'>{tick + 0.0:.3g}</text>"
        for tick, y in ((tick, _height(tick, low, high)) for tick in ticks)
    )
    below = "".join(f"<text x='{x:.1f}' y='{BOTTOM + 18}'>{label}</text>" for x, label in labels)
    return (
        f"<figure class='plot'><figcaption>{caption}</figcaption><p class='note'>{escape(finding)}</p>"
        f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='{escape(finding)}'>{rules}{below}{drawn}</svg>"
        "</figure>"
    )
