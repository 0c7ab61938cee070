"""Draw results with Matplotlib: values with their intervals, in panels side by side."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..measure.messages import imported, must_be

IN_A_ROW = 4  # panels
# The shapes of dots, since the ten colors repeat, and some readers do not see all of them.
SYMBOLS = "os^vD<>pPX*h"
LINES = ("-", "--", ":", "-.")


class Mark(NamedTuple):
    """A value in a plot: a dot on the line of its interval."""

    value: float  # the position of the dot
    low: float  # the lower end of the interval; nan if there is none
    high: float  # the upper end
    filled: bool = True  # whether the dot is filled


def figure_of(
    panels: int,
    height: float = 4.0,
    width: float = 5.0,
    *,
    ax: Any = None,
    figsize: Any = None,
) -> tuple[Any, list[Any]]:
    """Return a figure without a window and its axes, four in a row; or the user's axes.

    Height and width are the size of a panel in inches, `figsize` the size of the whole figure.
    """
    matplotlib = imported("matplotlib.figure", "plot", "Matplotlib", "matplotlib")
    if ax is not None:
        axes = np.ravel(np.array(ax, object)).tolist()
        are_axes = all(isinstance(item, matplotlib.Axes) for item in axes)
        if not are_axes or not 1 <= len(axes) <= panels:
            raise must_be("ax", f"Matplotlib Axes, or a list of up to {panels}", ax)
        if figsize is not None:
            problem = "figsize sets the size of a new figure, but ax belongs to one already"
            raise ValueError(f"{problem}; pass only one of the two")
        return axes[0].figure, axes
    rows = math.ceil(panels / IN_A_ROW)
    columns = min(panels, IN_A_ROW)
    if figsize is None:
        figsize = (columns * width, rows * height)
    try:
        # Without pyplot, which would open a window and keep the figure.
        figure = matplotlib.Figure(figsize=figsize, layout="constrained")
    except (TypeError, ValueError):
        raise must_be(
            "figsize", "a width and a height in inches, such as (7, 4)", figsize
        ) from None
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[panels:]:
        unused.remove()
    return figure, axes[:panels]


def draw_mark(
    axes: Any, mark: Mark, at: float, color: str, symbol: str = "o", *, upright: bool = False
) -> None:
    """Draw a value with its interval at a height, or upright, at a position of the other axis."""
    line = ([mark.low, mark.high], [at, at])
    dot = (mark.value, at)
    if upright:
        line, dot = line[::-1], dot[::-1]
    fill = color if mark.filled else axes.get_facecolor()
    axes.plot(*line, color=color, linewidth=2)
    axes.plot(*dot, symbol, color=color, markerfacecolor=fill)


def draw_rows(
    axes: Any, rows: Sequence[tuple[str, Sequence[Mark]]], labels: Sequence[str] = ()
) -> None:
    """Draw rows of values with their intervals, the first on top.

    The values of a row are close together, with different colors and symbols. Labels name them in a
    legend.
    """
    for row, (_, marks) in enumerate(rows):
        for number, mark in enumerate(marks):
            # The values share three quarters of the row's height; the rest parts it from the next.
            height = row + ((number + 0.5) / len(marks) - 0.5) * 0.75
            draw_mark(axes, mark, height, f"C{number}", SYMBOLS[number % len(SYMBOLS)])
    # Marks without a place, only for the legend, since any row may lack a value.
    for number, label in enumerate(labels):
        symbol = SYMBOLS[number % len(SYMBOLS)]
        text = label.replace("$", r"\$")
        axes.plot([], [], color=f"C{number}", marker=symbol, linewidth=2, label=text)
    name_rows(axes, [name for name, _ in rows])


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Label the rows, the first on top, and values sparsely; a dollar sign is not math."""
    axes.set_yticks(range(len(names)), names)
    for tick in axes.get_yticklabels():
        tick.set_parse_math(False)
    axes.locator_params(axis="x", nbins=5)  # more overlap in a narrow panel
    axes.set_ylim(len(names) - 0.4, -0.6)


def legend_above(axes: Any) -> None:
    """Add a legend above the axes, where it hides no point."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
