"""The plots: Matplotlib figures that hold their data, in given axes or in those of a new figure."""

import io
import math
import sys
from typing import Any

import evaluate
import numpy as np
import pytest
from matplotlib.figure import Figure
from systems import RELEVANCE, SYSTEMS
from systems import shown as shown


def test_plots_are_figures_that_hold_their_data(shown: tuple[Any, Any]) -> None:
    report, comparison = shown
    for figure in (report.plot(), report.plot("DCG"), comparison.plot(), comparison.plot("DCG@10")):
        image = io.BytesIO()
        figure.savefig(image, format="png")
        assert image.getvalue().startswith(b"\x89PNG")
    means, queries = report.plot().axes
    assert [label.get_text() for label in means.get_xticklabels()] == ["nDCG@3", "nDCG@10"]
    assert [line.get_ydata()[0] for line in means.lines[1::2]] == [
        report.scores[name].value for name in ("nDCG@3", "nDCG@10")
    ]
    assert len(queries.lines) == 2
    assert len(queries.lines[0].get_ydata()) == 60
    (axes,) = comparison.plot("nDCG@10").axes
    assert len(axes.get_yticklabels()) == 3
    with pytest.raises(ValueError, match="'recall' is not in this report"):
        report.plot("recall")
    assert comparison.plot("DCG").axes[0].get_xlabel().startswith("difference in DCG@3,")
    assert report.plot("DCG@10").axes[1].get_legend_handles_labels()[1] == ["DCG@3", "DCG@10"]
    with pytest.raises(ValueError, match="'recall' is not in this comparison"):
        comparison.plot("recall")


def test_a_missing_matplotlib_is_named(shown: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for each in shown:
        with pytest.raises(ImportError, match="pip install matplotlib"):
            each.plot()


def test_names_with_dollars_are_plotted_as_they_are(ndcg: evaluate.Metric) -> None:
    systems = {"a$\\foo": [[1, 2], [2, 1]], "$b": [[2, 1], [2, 1]]}
    figure = ndcg.compare(systems=systems, references=[[1, 0], [1, 0]]).plot()
    figure.savefig(io.BytesIO(), format="png")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a$\\foo – $b"]


BY = ["de", "en"] * 30


@pytest.fixture(scope="module")
def sliced(ndcg: evaluate.Metric) -> dict[str, Any]:
    """A report and a comparison with slices, by their names, and how many panels their plots have."""
    how = {"references": RELEVANCE, "by": BY, "k": [3, 10]}
    return {
        "report": (ndcg.report(predictions=SYSTEMS["bm25"], **how), 3),
        "comparison": (ndcg.compare(systems=SYSTEMS, **how), 2),
    }


def drawn(axes: Any) -> list[Any]:
    """The texts, lines and dots of axes."""
    lines = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in map(as_arrays, axes.lines)]
    return [lines, axes.get_xlabel(), axes.get_ylabel(), [label.get_text() for label in axes.get_yticklabels()]]


def as_arrays(line: Any) -> Any:
    line.set_data(np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float))
    return line


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_a_plot_may_be_drawn_into_existing_axes(sliced: dict[str, Any], kind: str) -> None:
    found, panels = sliced[kind]
    expected = [drawn(axes) for axes in found.plot().axes]
    assert len(expected) == panels
    for several in range(1, panels + 1):
        own = Figure()
        axes = own.subplots(1, panels)[:several]
        given = axes[0] if several == 1 else axes if several == panels else list(axes)
        assert found.plot(ax=given) is own
        assert [drawn(each) for each in axes] == expected[:several]
        assert not any(each.lines for each in own.axes[several:])


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_a_plot_is_as_large_as_is_asked_for(sliced: dict[str, Any], kind: str) -> None:
    found, panels = sliced[kind]
    assert found.plot(figsize=(3, 2.5)).get_size_inches().tolist() == [3, 2.5]
    assert found.plot().get_size_inches()[0] == {"report": 15, "comparison": 14}[kind]
    assert len(found.plot(figsize=[3, 2.5]).axes) == panels


@pytest.mark.parametrize("figsize", [7, (7,), (7, 4, 1), (0, 4), (7, -1), (7, math.nan), (math.inf, 4), "ab", ("7", 4)])
@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_a_size_that_is_not_two_positive_numbers_is_rejected(sliced: dict[str, Any], kind: str, figsize: Any) -> None:
    with pytest.raises(ValueError, match=r"^figsize must be a width and a height in inches, such as \(7, 4\); got "):
        sliced[kind][0].plot(figsize=figsize)


def test_axes_of_another_kind_or_number_are_rejected(sliced: dict[str, Any]) -> None:
    figure = Figure()
    axes = figure.subplots(1, 4)
    report, comparison = (sliced[kind][0] for kind in ("report", "comparison"))
    for wrong in (figure, "axes", [axes[0], None], [], axes):
        with pytest.raises(ValueError, match=r"^ax must be Matplotlib Axes, or a list of up to 3; got "):
            report.plot(ax=wrong)
        with pytest.raises(ValueError, match=r"^ax must be Matplotlib Axes, or a list of up to 2; got "):
            comparison.plot(ax=wrong)
    without_slices = type(report)(**{**vars(report), "slices": {}})
    with pytest.raises(ValueError, match=r"^ax must be Matplotlib Axes, or a list of up to 2; got "):
        without_slices.plot(ax=axes[:3])
    of_one_panel = type(comparison)(**{**vars(comparison), "slices": {}})
    with pytest.raises(ValueError, match=r"^ax must be Matplotlib Axes; got "):
        of_one_panel.plot(ax=axes[:2])
    with pytest.raises(
        ValueError, match=r"^figsize sets the size of a new figure, but ax belongs to one already; pass only one of"
    ):
        report.plot(ax=axes[0], figsize=(7, 4))
    assert not any(each.lines for each in axes)


def test_a_dot_is_filled_if_the_corrected_p_value_is_significant(ndcg: evaluate.Metric) -> None:
    found = ndcg.compare(systems={**SYSTEMS, "oracle": RELEVANCE}, references=RELEVANCE, k=10)
    significant = [pair.p_holm < 0.05 for pair in found.pairs]
    assert set(significant) == {False, True}
    (axes,) = found.plot().axes
    dots = axes.lines[1 : 2 * len(found.pairs) : 2]
    assert [dot.get_markerfacecolor() == dot.get_color() for dot in dots] == significant
    assert {dot.get_markerfacecolor() for dot in dots} == {"C0", "white"}


def test_rows_are_drawn_from_top_to_bottom_with_their_intervals_close_together(sliced: dict[str, Any]) -> None:
    for kind, panel, rows, close in (("report", 2, 2, [-0.125, 0.125]), ("comparison", 0, 3, [0.0])):
        axes = sliced[kind][0].plot().axes[panel]
        assert axes.yaxis_inverted()
        lines = axes.lines[: 2 * rows * len(close)]
        expected = [row + offset for row in range(rows) for offset in close]
        assert [line.get_ydata()[0] for line in lines[::2]] == expected  # intervals
        assert [line.get_ydata()[0] for line in lines[1::2]] == expected  # dots
