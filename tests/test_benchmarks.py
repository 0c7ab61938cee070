"""The benchmark on next to no work, with whatever contenders are installed."""

import sys
import warnings
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
ALWAYS = ("kernel", "kernel, 1 thread", "compute", "add_batch", "stock evaluate", "sklearn")


@pytest.mark.peers
@pytest.mark.xdist_group("ranx")  # by whose tests it is compiled already
def test_contenders_agree_and_missing_ones_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setitem(sys.modules, "rax", None)  # importing it fails
    import measure
    import results as tables
    from contenders import contenders_of
    from shapes import ONE_QUERY, Shape

    shapes = [
        Shape(10, 10),
        Shape(10, 10, tied=True),
        Shape(100, None, dense=False, dtype="float32"),
        Shape(None, 10, dense=False),
        Shape(32, 10, lists=True),
        *ONE_QUERY,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries
        results = measure.run(measure.Plan(scores=3_000, rounds=2, seconds=0.001), shapes)
    assert set(results) == {(shape, name) for shape in shapes for name in contenders_of(shape)}
    text = tables.markdown(results, 0.0)
    for (shape, name), run in results.items():
        if name in ALWAYS:
            assert not run.note, f"{name} on {shape}: {run.note}"
        assert f"- {name}: {run.note}" in text if run.note else len(run.ns) == 2
    assert "- rax: not installed: " in text
    grown = measure._child({"contender": "kernel", "scores": 1_000})
    assert grown.get("ns", 0) > 0, grown
