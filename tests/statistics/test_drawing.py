"""The plots: figures of Matplotlib with what they show, in axes of one's own or of a new figure."""

import io
import sys
from typing import Any

import evaluate
import pytest
from systems import shown as shown


def test_plots_are_figures_with_what_they_show(shown: tuple[Any, Any]) -> None:
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
    figure = ndcg.compare(systems=systems, references=[[1, 0], [1, 0]], resamples=50).plot()
    figure.savefig(io.BytesIO(), format="png")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a$\\foo – $b"]
