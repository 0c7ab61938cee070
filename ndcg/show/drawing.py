"""Draw results with Matplotlib: values with their intervals, in panels side by side."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..measure.messages import missing_library, shown
from ..measure.options import is_real

IN_A_ROW = 4  # panels
SYMBOLS = (
    "os^vD<>pPX*h"  # of dots, since the ten colors repeat, and some readers do not see all of them
)
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
    width: float | None = None,
    *,
    ax: Any = None,
    figsize: Any = None,
) -> tuple[Any, list[Any]]:
    """Return a figure without a window, with its axes in rows of four; or the user's axes with their figure.

    Height and width are those of a panel in inches, `figsize` that of the whole figure.
    """
    try:
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_library("plot", "Matplotlib", "matplotlib") from None
    if ax is not None:
        axes = np.ravel(np.array(ax, object)).tolist()
        if not all(isinstance(each, Axes) for each in axes) or not 1 <= len(axes) <= panels:
            several = f", or a list of up to {panels}" if panels > 1 else ""
            raise ValueError(f"ax must be Matplotlib Axes{several}; got {shown(ax)}")
        if figsize is not None:
            raise ValueError(
                "figsize sets the size of a new figure, but ax belongs to one already; pass only "
                "one of the two"
            )
        return axes[0].figure, axes
    rows, columns = -(-panels // IN_A_ROW), min(panels, IN_A_ROW)
    if figsize is None:
        figsize = columns * ((7 if panels == 1 else 5) if width is None else width), rows * height
    is_pair = isinstance(figsize, (list, tuple)) and len(figsize) == 2
    if not is_pair or not all(is_real(each) and 0 < each < np.inf for each in figsize):
        raise ValueError(
            f"figsize must be a width and a height in inches, such as (7, 4); got {shown(figsize)}"
        )
    figure = Figure(figsize=figsize, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[panels:]:
        unused.remove()
    return figure, axes[:panels]


def draw_mark(
    axes: Any, mark: Mark, at: float, color: str, symbol: str = "o", *, upright: bool = False
) -> None:
    """Draw a value with its interval at a height, or upright, at a position of the other axis."""
    line, dot = ([mark.low, mark.high], [at, at]), (mark.value, at)
    if upright:
        line, dot = line[::-1], dot[::-1]
    axes.plot(*line, color=color, linewidth=2)
    axes.plot(
        *dot, symbol, color=color, markerfacecolor=color if mark.filled else axes.get_facecolor()
    )


def draw_rows(
    axes: Any, rows: Sequence[tuple[str, Sequence[Mark]]], labels: Sequence[str] = ()
) -> None:
    """Draw rows of values with their intervals, the first on top; labels name the values of a row in a legend.

    The values of a row are close together, with different colors and symbols.
    """
    for at, (_, marks) in enumerate(rows):
        for number, mark in enumerate(marks):
            height = at + ((number + 0.5) / len(marks) - 0.5) * 0.75
            draw_mark(axes, mark, height, f"C{number}", SYMBOLS[number % len(SYMBOLS)])
    for number, label in enumerate(labels):  # which the first row may lack
        symbol = SYMBOLS[number % len(SYMBOLS)]
        axes.plot(
            [], [], color=f"C{number}", marker=symbol, linewidth=2, label=label.replace("$", r"\$")
        )
    name_rows(axes, [name for name, _ in rows])


def name_rows(axes: Any, names: Sequence[str], heights: Sequence[float] | None = None) -> None:
    """Label the rows, the first on top, and values sparsely; a dollar sign is not math."""
    heights = range(len(names)) if heights is None else heights
    axes.set_yticks(heights, names)
    for tick in axes.get_yticklabels():
        tick.set_parse_math(False)
    axes.locator_params(axis="x", nbins=5)  # more overlap in a narrow panel
    axes.set_ylim(max(heights) + 0.6, min(heights) - 0.6)


def legend_above(axes: Any) -> None:
    """Add a legend above the axes, where it hides no point."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
