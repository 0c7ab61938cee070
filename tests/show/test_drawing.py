"""The plots: Matplotlib figures that hold their data, in given axes or in those of a new figure."""

import io
import math
import sys
from dataclasses import replace
from typing import Any

import evaluate
import numpy as np
import pytest
from matplotlib.figure import Figure
from refusals import refusal
from systems import RELEVANCE, SYSTEMS
from systems import shown as shown


def test_plots_are_figures_that_hold_their_data(shown: tuple[Any, Any]) -> None:
    report, comparison = shown
    for figure in (report.plot(), comparison.plot("DCG@10")):
        image = io.BytesIO()
        figure.savefig(image, format="png")
        assert image.getvalue().startswith(b"\x89PNG")
    means, queries = report.plot().axes
    assert [label.get_text() for label in means.get_xticklabels()] == ["nDCG@3", "nDCG@10"]
    assert [line.get_ydata()[0] for line in means.lines[1::2]] == [
        report.scores[name].value for name in ("nDCG@3", "nDCG@10")
    ]
    assert [len(line.get_ydata()) for line in queries.lines] == [60, 60]
    for result in shown:
        with refusal("'recall' is not in this"):
            result.plot("recall")
    first_lines = [axes.get_xlabel().split("\n")[0] for axes in comparison.plot("DCG").axes]
    assert first_lines == ["DCG@3", "DCG@10"]
    assert len(comparison.plot("DCG@10").axes) == 1
    assert report.plot("DCG").axes[1].get_legend_handles_labels()[1] == ["DCG@3", "DCG@10"]
    assert report.plot("DCG@10").axes[1].get_legend_handles_labels()[1] == ["DCG@10"]


def labels(axes: Any) -> list[str]:
    """The names of the rows of axes."""
    return [label.get_text() for label in axes.get_yticklabels()]


def marks(axes: Any) -> list[tuple[float, float, float, float, bool]]:
    """The marks of axes: height, interval's lower end, dot, upper end, and if it is filled."""
    dots = [
        at
        for at, line in enumerate(axes.lines)
        if line.get_marker() != "None" and len(line.get_xdata())
    ]
    found = []
    for line, dot in ((axes.lines[at - 1], axes.lines[at]) for at in dots):
        filled, (low, high) = dot.get_markerfacecolor() == dot.get_color(), line.get_xdata()
        found.append((float(dot.get_ydata()[0]), low, dot.get_xdata()[0], high, filled))
    return found


def test_a_missing_matplotlib_is_named(
    shown: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for each in shown:
        with pytest.raises(ImportError, match="matplotlib"):
            each.plot()


def test_names_with_dollars_are_plotted_as_they_are(ndcg: evaluate.Metric) -> None:
    systems = {"a$\\foo": [[1, 2], [2, 1]], "$b": [[2, 1], [2, 1]]}
    comparison = ndcg.compare(systems=systems, references=[[1, 0], [1, 0]], by=["$x", "$x"])
    for queries in (False, True):
        comparison.plot(queries=queries).savefig(io.BytesIO(), format="png")
    assert labels(comparison.plot().axes[0]) == ["$b", "a$\\foo"]


BY = ["de", "en"] * 30


@pytest.fixture(scope="module")
def sliced(ndcg: evaluate.Metric) -> dict[str, Any]:
    """A report and a comparison with slices, whose plots have three panels."""
    how = {"references": RELEVANCE, "by": BY, "k": [3, 10]}
    return {
        "report": ndcg.report(predictions=SYSTEMS["bm25"], **how),
        "comparison": ndcg.compare(systems=SYSTEMS, **how),
    }


def drawn(axes: Any) -> list[Any]:
    """The texts and lines of axes."""
    lines = [
        (np.asarray(line.get_xdata(), float).tolist(), list(line.get_ydata()))
        for line in axes.lines
    ]
    return [lines, axes.get_xlabel(), axes.get_ylabel(), labels(axes)]


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_a_plot_may_be_drawn_into_existing_axes(sliced: dict[str, Any], kind: str) -> None:
    found = sliced[kind]
    expected = [drawn(axes) for axes in found.plot().axes]
    for several, give in ((1, lambda axes: axes[0]), (2, list), (3, lambda axes: axes)):
        own = Figure()
        axes = own.subplots(1, 3)[:several]
        assert found.plot(ax=give(axes)) is own
        assert [drawn(each) for each in axes] == expected[:several]
        assert not any(each.lines for each in own.axes[several:])


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_a_plot_is_as_large_as_is_asked_for(sliced: dict[str, Any], kind: str) -> None:
    figure = sliced[kind].plot(figsize=[3, 2.5])
    assert (figure.get_size_inches().tolist(), len(figure.axes)) == ([3, 2.5], 3)
    assert sliced[kind].plot().get_size_inches()[0] >= 15


@pytest.mark.parametrize(
    "figsize", [7, (7,), (7, 4, 1), (7, -1), (7, math.nan), (math.inf, 4), ("7", 4)]
)
def test_a_size_that_is_not_two_positive_numbers_is_rejected(
    sliced: dict[str, Any], figsize: Any
) -> None:
    with refusal("figsize"):
        sliced["report"].plot(figsize=figsize)


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_axes_of_another_kind_or_number_are_rejected(sliced: dict[str, Any], kind: str) -> None:
    figure = Figure()
    axes = figure.subplots(1, 4)
    without_slices = replace(sliced[kind], slices={})
    own = {"report": "nDCG", "comparison": "nDCG@3"}[kind]
    for ax in (figure, "axes", [axes[0], None], [], axes):
        with refusal("ax"):
            sliced[kind].plot(ax=ax)
    with refusal("ax"):
        without_slices.plot(own, ax=axes[:3])
    with refusal("figsize"):  # the axes have a figure, whose size is set
        sliced[kind].plot(ax=axes[0], figsize=(7, 4))
    assert not any(each.lines for each in axes)


@pytest.mark.parametrize(
    ("baseline", "options"),
    [
        (None, {}),
        (None, {"alternative": "less"}),
        (None, {"alternative": "greater", "margin": 0.05}),
        ("dense", {}),
        ("dense", {"alternative": "greater", "margin": 0.05}),
    ],
)
def test_systems_are_drawn_best_first_on_the_interval_that_agrees_with_the_corrected_p_value(
    ndcg: evaluate.Metric, baseline: str | None, options: dict[str, Any]
) -> None:
    systems = {**SYSTEMS, "oracle": 2 * RELEVANCE, "sparse": np.roll(RELEVANCE, 1, axis=1)}
    found = ndcg.compare(
        systems=systems, references=RELEVANCE, k=[10, 3], baseline=baseline, **options
    )
    means = {name: scores["nDCG@10"].value for name, scores in found.scores.items()}
    best_first = sorted(means, key=means.__getitem__, reverse=True)
    # Of one-sided tests, the one that is the second of all its pairs.
    reference = baseline or ("sparse" if options else best_first[0])
    axes = found.plot().axes[0]
    assert axes.yaxis_inverted()
    assert labels(axes) == best_first
    drawn_at = {best_first[int(height)]: rest for height, *rest in marks(axes)}
    assert drawn_at.pop(reference) == [means[reference]] * 3 + [True]
    for name, (low, value, high, filled) in drawn_at.items():
        (pair, _) = (pair for pair in found.pairs if {pair.system, pair.other} == {name, reference})
        sign = 1 if pair.system == name else -1
        assert sign == 1 or not options
        assert value == means[name]
        ends = sorted(means[reference] + sign * end for end in (pair.low_holm, pair.high_holm))
        assert [low, high] == pytest.approx(ends)
        assert filled == (pair.p_holm < 0.05)
    left, right = axes.get_xlim()
    assert all(left < low and high < right for _, low, _, high, _ in marks(axes))
    thresholds = {float(line.get_xdata()[0]) for line in axes.lines if line.get_linestyle() == "--"}
    assert thresholds == ({means[reference] - 0.05} if "margin" in options else set())


@pytest.mark.parametrize("by", [None, BY])
@pytest.mark.parametrize("names", [list("abc"), ["an encoder of 768 dimensions", "b", "c"]])
@pytest.mark.parametrize("options", [{}, {"alternative": "greater", "margin": 0.05}])
def test_no_caption_is_cut_off(
    ndcg: evaluate.Metric, by: Any, names: list[str], options: dict[str, Any]
) -> None:
    systems = dict(zip(names, SYSTEMS.values(), strict=True))
    figure = ndcg.compare(systems=systems, references=RELEVANCE, by=by, **options).plot()
    figure.draw_without_rendering()
    for axes in figure.axes:
        caption = axes.xaxis.label.get_window_extent()
        assert figure.bbox.x0 <= caption.x0 < caption.x1 <= figure.bbox.x1


def test_slices_show_how_systems_differ_from_the_best(
    ndcg: evaluate.Metric,
) -> None:
    by = ["de"] * 20 + ["en"] * 39 + ["rare"]
    found = ndcg.compare(systems=SYSTEMS, references=RELEVANCE, k=10, by=by)
    figure = found.plot()
    axes = figure.axes[1]
    best = max(found.scores, key=lambda name: found.scores[name]["nDCG@10"].value)
    assert labels(axes) == ["de (20)", "en (39)"]
    others = [name for name in SYSTEMS if name != best]
    expected = []
    for slice_, offset in (("de", 0), ("en", 1)):
        for at, name in enumerate(others):
            (pair,) = (
                pair
                for pair in found.slices[slice_].pairs
                if {pair.system, pair.other} == {name, best}
            )
            pair = pair if pair.system == name else pair.turned()
            height = offset + [-0.1875, 0.1875][at]
            expected.append(
                (height, pair.low_holm, pair.difference, pair.high_holm, pair.p_holm < 0.05)
            )
    assert marks(axes) == expected
    figure.draw_without_rendering()
    assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1
    assert axes.get_ylim()[0] > 1  # room for the last slice


def test_twelve_systems_have_symbols_of_their_own_in_slices(ndcg: evaluate.Metric) -> None:
    """The ten colors repeat, and some readers do not see all of them."""
    systems = {f"s{at}": np.roll(2 * RELEVANCE, at, axis=1) for at in range(13)}
    by = ["rare"] + ["de"] * 29 + ["en"] * 30
    axes = (
        ndcg.compare(systems=systems, references=RELEVANCE, k=10, by=by, baseline="s12")
        .plot()
        .axes[1]
    )
    legend, names = axes.get_legend_handles_labels()
    assert names == list(systems)[:12]
    assert len({line.get_marker() for line in legend}) == 12
    dots = [line for line in axes.lines if line.get_marker() != "None" and len(line.get_xdata())]
    for row in (dots[:12], dots[12:]):
        looks = [(line.get_marker(), line.get_color()) for line in row]
        assert looks == [(line.get_marker(), line.get_color()) for line in legend]


@pytest.mark.parametrize(
    ("queries", "shown"), [(7, [*range(7)]), (60, [0, 1, 2, 3, 4, -5, -4, -3, -2, -1])]
)
def test_the_queries_that_differ_most_are_drawn(
    ndcg: evaluate.Metric, queries: int, shown: list[int]
) -> None:
    qrels = {
        f"q{at}": {f"d{d}": int(r) for d, r in enumerate(row)}
        for at, row in enumerate(RELEVANCE[:queries])
    }
    runs = {
        name: {
            f"q{at}": {f"d{d}": float(s) for d, s in enumerate(row)}
            for at, row in enumerate(scores[:queries])
        }
        for name, scores in SYSTEMS.items()
    }
    found = ndcg.compare(systems=runs, references=qrels, k=10, baseline="bm25")
    for axes, name in zip(found.plot(queries=True).axes, ("dense", "hybrid"), strict=True):
        table = found.differences(name, "bm25", n=None)
        ordered = sorted(table.to_pylist(), key=lambda row: -row["difference"])
        assert f"nDCG@10 of {name}\nminus that of bm25" == axes.get_xlabel()
        assert [bar.get_width() for bar in axes.patches if bar.get_width()] == [
            ordered[at]["difference"] for at in shown
        ]
        named = [each for each in labels(axes) if each != "50 more"]
        assert named == [ordered[at]["query"] for at in shown]
        assert ("50 more" in labels(axes)) is (queries == 60)
        assert axes.get_title().startswith(
            f"higher on {sum(each['difference'] > 0 for each in ordered)}, "
        )


def test_many_panels_are_in_rows_of_four(ndcg: evaluate.Metric) -> None:
    systems = {f"s{at}": np.roll(2 * RELEVANCE, at, axis=1) for at in range(7)}
    figure = ndcg.compare(systems=systems, references=RELEVANCE).plot(queries=True)
    places = [axes.get_subplotspec() for axes in figure.axes]
    assert [(place.rowspan.start, place.colspan.start) for place in places] == [
        divmod(at, 4) for at in range(6)
    ]


def test_the_slices_of_a_report_are_drawn_from_top_to_bottom(sliced: dict[str, Any]) -> None:
    axes = sliced["report"].plot().axes[2]
    assert axes.yaxis_inverted()
    assert [height for height, *_ in marks(axes)] == [
        -0.1875,
        0.1875,
        0.8125,
        1.1875,
        1.8125,
        2.1875,
    ]
