"""The plots: everything is drawn within their axes, to scale, and described in a sentence."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from page.plots import BOTTOM, LEFT, RIGHT, TOP, distribution, histogram, line_plot
from page.ranking import plot_of_scores, plot_of_sums


def points(plot: str) -> list[list[tuple[float, float]]]:
    """The points of each line of a plot."""
    lines = re.findall(r"<polyline points='([^']*)'", plot)
    return [[(float(x), float(y)) for x, y in (point.split(",") for point in line.split())] for line in lines]


@given(st.lists(st.floats(-2, 3), min_size=1, max_size=40))
def test_lines_are_within_the_axes_and_to_scale(values: list[float]) -> None:
    plot = line_plot(pd.DataFrame({"k": range(1, len(values) + 1), "value": values}), 1.0, "values", "found")
    (line,) = points(plot)
    low, high = min(0, *values), max(1, *values)
    assert [x for x, _ in line] == sorted(x for x, _ in line if LEFT <= x <= RIGHT)
    expected = [BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP) for value in values]
    assert [y for _, y in line] == pytest.approx(expected, abs=0.06)


def test_bars_are_as_high_as_their_counts() -> None:
    heights = [float(each) for each in re.findall("height='([^']+)'", histogram([1, 0, 4, 2], [0, 1, 2, 3, 4], "", ""))]
    assert heights == [(BOTTOM - TOP) * count / 4 for count in (1, 0, 4, 2)]


def test_a_plot_says_what_it_shows_to_eyes_and_to_screen_readers() -> None:
    sums = {"DCG": [0.0, 2.0, 2.5], "ideal DCG": [1.0, 3.5, 3.5]}
    curves = pd.DataFrame({"k": [1, 2, 3], **sums, "nDCG": [0.0, 2 / 3.5, 2.5 / 3.5]})
    for plot, said in (
        (plot_of_sums(curves), "DCG reaches 2.5000 of 3.5000; most is missing at rank 2: 1.5000."),
        (plot_of_scores(curves), f"nDCG is lowest at k = 1: 0.0000; highest at 3: {2.5 / 3.5:.4f}."),
        (plot_of_scores(curves.assign(nDCG=1.0)), "nDCG is 1.0000 at every cutoff."),
    ):
        assert f"<p class='note'>{said}</p>" in plot
        assert f"role='img' aria-label='{said}'" in plot


@given(st.lists(st.floats(-5, 20), min_size=1, max_size=50))
def test_a_distribution_counts_every_query_once(values: list[float]) -> None:
    counts, edges = distribution(values)
    assert sum(counts) == len(values)
    assert edges == sorted(set(edges))
    assert edges[0] <= 0


def test_a_value_is_counted_in_its_interval() -> None:
    counts, edges = distribution([0, 0.04, 0.05, 1], bins=20)
    assert counts == [2, 1, *[0] * 17, 1]
    assert edges == pytest.approx([at / 20 for at in range(21)])
