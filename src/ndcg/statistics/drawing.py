"""How results are drawn by Matplotlib: values with their intervals, in panels side by side."""

from collections.abc import Sequence
from typing import Any, NamedTuple


class Mark(NamedTuple):
    """A value as plots show it: a dot on the line of its interval.

    Attributes:
        value: where the dot is.
        low: lower end of the interval; nan where there is none.
        high: upper end.
        filled: whether the dot is.
    """

    value: float
    low: float
    high: float
    filled: bool = True


def figure_of(panels: int, height: float = 4.0, width: float | None = None) -> tuple[Any, list[Any]]:
    """Return a figure that belongs to no window, with its axes in one row.

    Args:
        panels: how many axes it has.
        height: of the figure in inches.
        width: of each panel in inches.

    Raises:
        ImportError: Matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('plot needs Matplotlib: pip install matplotlib, or "ndcg[report]"') from None
    width = (7 if panels == 1 else 5) if width is None else width
    figure = Figure(figsize=(panels * width, height), layout="constrained")
    return figure, list(figure.subplots(1, panels, squeeze=False)[0])


def draw_mark(axes: Any, mark: Mark, at: float, color: str, *, upright: bool = False, label: str | None = None) -> None:
    """Draw a value with its interval at a height, or if it is upright, at a place of the other axis."""
    line, dot = ([mark.low, mark.high], [at, at]), (mark.value, at)
    if upright:
        line, dot = line[::-1], dot[::-1]
    axes.plot(*line, color=color, linewidth=2, label=label)
    axes.plot(*dot, "o", color=color, markerfacecolor=color if mark.filled else "white")


def draw_rows(axes: Any, rows: Sequence[tuple[str, Sequence[Mark]]], labels: Sequence[str] = ()) -> None:
    """Draw rows of values with their intervals, the first on top.

    Args:
        axes: where to.
        rows: the name of each with its values, close to each other, each of another color.
        labels: what a legend calls the values of a row.
    """
    for at, (_, marks) in enumerate(rows):
        for number, mark in enumerate(marks):
            height = at + (number + 0.5) / len(marks) / 2 - 0.25
            label = labels[number].replace("$", r"\$") if labels and at == 0 else None
            draw_mark(axes, mark, height, f"C{number}", label=label)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    for tick in axes.get_yticklabels():
        tick.set_parse_math(False)
    axes.yaxis.set_inverted(True)
