"""The benchmark on next to no work, with whatever contenders are installed."""

import itertools
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import lean_environment

pytestmark = pytest.mark.slow
BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
ROOT = BENCHMARKS.parent
# The kernel has one such line.
KERNEL = "    values = {measure: np.empty(shape) for measure in measures}\n"
SLOWER = f"{KERNEL}    __import__('time').sleep(.2)\n"
ALWAYS = ("kernel", "kernel, 1 thread", "compute", "add_batch", "stock evaluate", "sklearn")


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.peers
@pytest.mark.xdist_group("ranx")  # which other tests have compiled already
@pytest.mark.filterwarnings("ignore")  # of other libraries
def test_contenders_agree_and_missing_ones_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rax", None)  # importing it fails
    # for a process of its own, which imports evaluate
    monkeypatch.setenv("PYTHONPATH", lean_environment()["PYTHONPATH"])
    import measure
    import results as tables
    from contenders import contenders_of
    from shapes import ONE_QUERY, Shape

    dense = [Shape(10, 10), Shape(10, 10, tied=True), Shape(32, 10, lists=True), *ONE_QUERY]
    shapes = [*dense, Shape(100, None, dense=False, dtype="float32"), Shape(None, 10, dense=False)]
    results = measure.run(measure.Plan(scores=3_000, rounds=2, seconds=0.001), shapes)
    assert set(results) == {(shape, name) for shape in shapes for name in contenders_of(shape)}
    text = tables.markdown(results, 0.0)
    begin, _, rest = text.partition("\n\n## Times faster\n\n")
    assert begin.startswith("# Benchmark\n\nHow many times faster ")
    assert tables.machine(results.load) in begin
    table, costs = rest.partition("## Time and memory")[::2]
    assert re.search(
        r"^\| kernel over scikit-learn \| [\d.,]+× \| [\d.,]+×: \S", table, re.MULTILINE
    )
    assert "| one query of five documents by `compute`, µs |" in costs
    assert "goal" not in text
    for (shape, name), run in results.items():
        assert not (run.note and name in ALWAYS), f"{name} on {shape}: {run.note}"
        assert f"- {name}: {run.note}" in text if run.note else len(run.ns) == 2
    assert "- rax: not installed: " in text
    grown = measure._child({"contender": "kernel", "scores": 1_000})
    assert grown.get("ns", 0) > 0, grown


def test_the_kernel_is_measured_next_to_the_kernel_of_another_checkout(tmp_path: Path) -> None:
    import bench
    from contenders import CONTENDERS
    from measure import Plan
    from shapes import Shape

    for name in ("ndcg.py", "ndcg_bundle.py"):
        shutil.copy(ROOT / name, tmp_path)
    bundle = tmp_path / "ndcg_bundle.py"
    code = bundle.read_text()
    assert code.count(KERNEL) == 1
    bundle.write_text(code.replace(KERNEL, SLOWER))
    known = dict(CONTENDERS)
    rows = bench.kernels(
        tmp_path, Plan(scores=2_000, rounds=2), [Shape(10, 10), Shape(10, 10, tied=True)]
    ).splitlines()
    assert known == CONTENDERS
    ratios = [float(row.split("|")[2]) for row in rows[2:]]
    assert len(ratios) == 3
    assert max(ratios) < 0.1


@pytest.mark.filterwarnings("ignore")  # of other libraries
def test_forms_agree_on_queries_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ranx", None)  # compiles for a minute
    import forms

    results = forms.forms(scores=2_000, rounds=2)
    assert len(results) == 15
    assert {"Polars", "DuckDB", "ours, data="} <= {way for ways in results.values() for way in ways}
    for form, ways in results.items():
        assert ways["ours"] > 0
        assert [way for way, each in ways.items() if str(each).startswith("differs")] == [], form


def test_tensors_are_compared_and_timed_where_they_lie(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the CPU in place of a GPU."""
    torch = pytest.importorskip("torch")
    import gpu

    assert gpu.largest_difference(3, "cpu") == 0  # both are the host
    monkeypatch.setattr(
        gpu.devices,
        "accelerator_of",
        lambda values: "CPU" if type(values) is torch.Tensor else None,
    )
    monkeypatch.setattr(gpu.devices, "ON_DEVICE_FROM", 1000)
    assert 0 < gpu.largest_difference(20, "cpu") < 1e-12
    matrix, rows_ = gpu.time_matrix(gpu.Matrix(20, 50), "cpu", 1), gpu.time_rows(1000, "cpu", 1)
    assert {
        "compute",
        "meter",
        "copy to the host",
        "on the host",
        "top-k alone",
        "torchmetrics",
    } < matrix.keys()
    assert min(*matrix.values(), *rows_.values()) > 0
    header, line, *rows = gpu.table({"matrix": matrix, "rows": rows_}).splitlines()
    assert header.count("|") == line.count("|") == rows[0].count("|")
    assert [row.split(" | ")[0] for row in rows] == ["| matrix", "| rows"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match=r"^PyTorch finds no GPU here"):
        gpu.main([])


def test_a_comparison_is_rejected_if_values_differ_or_are_all_alike() -> None:
    import forms

    def ways(**values: list[float]) -> dict[str, Any]:
        return {name: lambda each=each: lambda: each for name, each in values.items()}

    found = ways(ours=[0.25, 0.5], in_another_order=[0.5, 0.25], of_that_mean=[0.375, 0.375])
    results = forms._measured(found | ways(of_a_query_less=[0.375]), rounds=2)
    assert results["of_that_mean"] == "differs: 0.375 for 0.25"
    assert results["of_a_query_less"] == "differs: 1 queries for 2"
    assert min(results["ours"], results["in_another_order"]) >= 0
    with pytest.raises(ValueError, match=r"of_that_mean differs: 0\.375 for 0\.25"):
        forms._measured(found, rounds=1)
    for value, rounds in itertools.product([0.0, 0.63, 1.0], [1, 2]):
        with pytest.raises(ValueError, match=f"all 3 queries have nDCG {value:g}; mix the scores"):
            forms._measured(ways(ours=[value] * 3, theirs=[value] * 3), rounds)


def test_simulations_count_the_intervals_that_hold_the_mean() -> None:
    import simulations

    for name, of_differences in itertools.product(
        ["skewed: Beta(½, 2)", "weighted: exponential"], [False, True]
    ):
        found = dict(simulations.coverage(200, 99, of_differences, name, 20))
        assert set(found) == {"**ours**", "Student's t", "percentile", "BCa", "bootstrap-t"}
        for method, (held, width) in found.items():
            assert 0.8 < held <= 1, (name, method)
            assert 0.1 < width < 0.8, (name, method)
        assert found["**ours**"][0] >= found["percentile"][0]
    for name, family in (simulations.USUAL | simulations.HARD).items():
        rng = simulations.np.random.default_rng(0)
        for draw, mean in ((family.first, family.mean), (family.second, family.mean_of_second)):
            assert draw(rng, (1000, 100)).mean() == pytest.approx(mean, abs=0.005), name


def most(trials: int, errors: int) -> float:
    """The share that is found by chance, at 5%, within a number of standard errors."""
    return 0.05 + errors * (0.05 * 0.95 / trials) ** 0.5


def test_simulations_of_the_gate_and_of_samples_hold_what_they_promise() -> None:
    import simulations

    assert simulations.gate(400, max_drop=0, fall=0, spread=0.05, size=20) <= most(400, 2)
    assert simulations.gate(60, max_drop=0.01, fall=0, spread=0.05, size=100) <= 0.05
    assert simulations.gate(60, max_drop=0.01, fall=0.02, spread=0.05, size=100) >= 0.8
    held, found = simulations.sample_shares(400, "many zeros: 60%", 30)
    assert held >= 1 - most(400, 3)
    assert found <= most(400, 3)
    held, _, moved = simulations.corrected(20, "symmetric: Beta(3, 3)", 20)
    assert held >= 0.95
    assert moved < 0.05


def test_simulations_make_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    import simulations

    monkeypatch.setattr(simulations, "SIZES", (5, 10))
    monkeypatch.setattr(simulations, "_in_processes", map)
    names = list(simulations.HARD)[:2]
    header, line, *rows = simulations.table_of_coverage(names, False, 20, 19)
    assert header == "| values | interval | 5 queries | 10 queries |"
    assert line == "|---|---|---|---|"
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [
        name for name in names for _ in range(5)
    ]
    monkeypatch.setattr(simulations, "GATE_SIZES", (5,))
    monkeypatch.setattr(simulations, "SIZES_OF_SAMPLES", (10,))
    gates, agreement = simulations.table_of_gates(4), simulations.table_of_agreement(20)
    assert gates[0] == "| tolerated fall | true fall | spread | 5 queries |"
    assert agreement[0] == "| values | 10 queries |"
    tables = (gates, agreement, simulations.table_of_corrected(2), simulations.table_of_samples(2))
    assert [len(table) - 2 for table in tables] == [10, 6, 5, 5]
    monkeypatch.setattr(simulations, "OTHER_SIZES", (5,))
    monkeypatch.setattr(simulations, "SLICES", {"2 of 5": [5, 5]})
    slices, others = simulations.table_of_slices(4), simulations.table_of_others(4)
    assert slices[0] == "| values | 2 of 5 |"
    assert others[0].startswith("| values | queries | **ours** | ")
    assert [len(table) - 2 for table in (slices, others)] == [5, 12]


def test_other_intervals_are_those_of_the_literature() -> None:
    import scipy.stats
    import simulations

    np = simulations.np
    values = np.array([[1.0] * 3 + [0.0] * 7, [1.0] * 9 + [0.0]])
    exact = [scipy.stats.binomtest(ones, 10).proportion_ci(method="exact") for ones in (3, 9)]
    assert np.transpose(simulations.dirichlet(1.0, values)) == pytest.approx(
        np.array(exact), abs=0.02
    )
    many = np.random.default_rng(0).random((3, 400))
    students = np.array(simulations.students_t(many, None))
    assert np.array(simulations.empirical_likelihood(many)) == pytest.approx(students, abs=0.002)


def test_intervals_of_the_mean_of_slices_hold_what_they_promise() -> None:
    import simulations

    held, differences, found = simulations.slice_shares(200, "symmetric: Beta(3, 3)", [5, 10, 20])
    assert min(held, differences) >= 1 - most(200, 3)
    assert found <= most(200, 3)


@pytest.mark.peers
def test_processes_in_a_shell_print_one_number() -> None:
    import shell

    assert set(shell.seconds(lines=4_000, rounds=1)) == set(shell.WAYS)
    assert (
        shell.number("ndcg", "run\tvalue\nrun\t0.5\n")
        == shell.number("ir_measures", "nDCG@10\t0.5000\n")
        == 0.5
    )


@pytest.mark.peers
def test_simulations_of_tests_find_little_that_is_not_there_and_much_that_is() -> None:
    import simulations

    for share in simulations.false_positives(400, "symmetric: Beta(3, 3)", 20):
        assert share <= most(400, 3)
    found = simulations.power_of_tests(40, 0.08, 20)
    assert len(found) == len(simulations.PEERS)
    assert min(found) > 0.7
    assert max(simulations.power_of_tests(40, 0, 20)) < 0.3


def test_the_pictures_of_statistics_agree_with_page_and_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If this fails, `python benchmarks/statistics_plots.py` draws them again."""
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(BENCHMARKS.parent)
    import statistics_plots as plots

    held = plots.coverage((BENCHMARKS / "SIMULATIONS.md").read_text(encoding="utf-8"))
    assert plots.figures_in("coverage") == held
    assert set(map(len, held["Means"]["ours"].values())) == {6}
    comparison = plots.compared()
    differences = plots.figures_in("comparison")
    assert differences == pytest.approx(plots.differences_in(comparison), abs=1e-5)
    assert all(pair.p_holm < 0.05 for pair in comparison.pairs)  # as the page says
    power = plots.figures_in("power")
    for gap, by_size in power.items():
        for size, found in by_size.items():
            # for 200 trials: four standard errors, and an allowance for the few possible p-values
            assert found == pytest.approx(plots.planned(float(gap), int(size)), abs=0.145), (
                gap,
                size,
            )
        assert by_size["20"] == plots.found_of(float(gap), 20, 200)
    for name, figure in (
        ("coverage", plots.draw_coverage(held)),
        ("power", plots.draw_power(power)),
    ):
        plots.save(name, figure, plots.figures_in(name), tmp_path)
        assert plots.figures_in(name, tmp_path) == plots.figures_in(name)
