"""Draw docs/statistics.md's pictures in benchmarks/: coverage.png, power.png and comparison.png.

    python benchmarks/statistics_plots.py   # 2 minutes

The coverage is that of SIMULATIONS.md, the power is measured here, and the comparison is the page's
own. Each picture has its figures in its description too, as JSON.
"""

import doctest
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import scipy.special
from matplotlib.figure import Figure
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

from ndcg.statistics.significance import LEVEL, POWER, Sample, paired_tests  # noqa: E402

GREY = "#7a7a7a"  # as easy to read on white as on black
STYLE: dict[str, Any] = {
    **dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), GREY
    ),
    "savefig.transparent": True,
    "legend.frameon": False,
    "savefig.dpi": 150,
}
METHODS = {"**ours**": "ours", "Student's t": "Student's t", "percentile": "percentile bootstrap"}
PANELS = {"Means": "Intervals of means", "Paired differences": "Intervals of differences"}
# The power is measured on nDCG around 0.5 to 0.6, the same in 30% of the queries for both systems.
SIZES = (10, 20, 50, 100, 200, 500, 1000)
GAPS = (0.02, 0.05, 0.1)
DIFFERING = 0.7
CONCENTRATION = 6

Coverage = dict[str, dict[str, dict[str, list[float]]]]


def coverage(page: str) -> Coverage:
    """Return one family's coverage by table, method and number of queries in SIMULATIONS.md."""
    coverage: Coverage = {}
    for heading in PANELS:
        table = page.split(f"## {heading}\n")[1].split("\n## ")[0]
        header, _, *rows = (
            [cell.strip() for cell in line.split("|")[1:-1]] for line in re.findall(r"\|.*", table)
        )
        sizes = [name.removesuffix(" queries") for name in header[2:]]
        by_method: dict[str, dict[str, list[float]]] = {
            name: {size: [] for size in sizes} for name in METHODS.values()
        }
        for _, method, *cells in rows:
            if method in METHODS:
                for size, cell in zip(sizes, cells, strict=True):
                    by_method[METHODS[method]][size].append(float(cell.split()[0]))
        coverage[heading] = by_method
    return coverage


def found_of(gap: float, size: int, repetitions: int) -> float:
    """Return the share of samples in which the randomization test finds the true difference."""
    rng = np.random.default_rng([size, round(1000 * gap)])
    worse, better = (rng.beta(*_shape(mean), (repetitions, size)) for mean in _means(gap))
    better = np.where(rng.random((repetitions, size)) < DIFFERING, better, worse)
    pairs = [(at + repetitions, at) for at in range(repetitions)]
    tests = paired_tests(Sample.of(np.concatenate([worse, better]), None, pairs))
    return float((tests.randomization < LEVEL).mean())


def planned(gap: float, size: int) -> float:
    """Return the paired t-test's power for the same differences, as `queries_needed` finds it."""
    apart, variances = (
        gap / DIFFERING,
        [mean * (1 - mean) / (CONCENTRATION + 1) for mean in _means(gap)],
    )
    deviation = math.sqrt(DIFFERING * (sum(variances) + apart**2) - gap**2)
    critical = scipy.special.stdtrit(size - 1, 1 - LEVEL / 2)
    return float(1 - scipy.special.nctdtr(size - 1, gap / deviation * math.sqrt(size), critical))


def _means(gap: float) -> tuple[float, float]:
    """Return two systems' means where they differ, for a difference over all queries."""
    return 0.5, 0.5 + gap / DIFFERING


def _shape(mean: float) -> tuple[float, float]:
    return CONCENTRATION * mean, CONCENTRATION * (1 - mean)


def powers(repetitions: int = 200) -> dict[str, dict[str, float]]:
    """Return the share of samples with a difference found, by difference and number of queries."""
    return {
        str(gap): {str(size): found_of(gap, size, repetitions) for size in SIZES} for gap in GAPS
    }


def compared() -> Any:
    """Return the comparison that docs/statistics.md makes, by running the page up to there."""
    page = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_examples(page)
    last = next(
        at for at, example in enumerate(examples) if example.source.startswith("comparison = ")
    )
    test = doctest.DocTest(examples[: last + 1], {}, "statistics.md", None, None, None)
    doctest.DocTestRunner().run(test, clear_globs=False)
    return test.globs["comparison"]


def draw_coverage(figures: Coverage) -> Figure:
    """Draw for each method the mean over the families of values, and from the least to the most."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, (heading, by_method) in zip(
        figure.subplots(1, 2, sharey=True), figures.items(), strict=True
    ):
        for at, (method, by_size) in enumerate(by_method.items()):
            sizes, held = [int(size) for size in by_size], 100 * np.array(list(by_size.values()))
            axes.fill_between(
                sizes, held.min(axis=1), held.max(axis=1), color=f"C{at}", alpha=0.15, linewidth=0
            )
            axes.plot(
                sizes,
                held.mean(axis=1),
                "os^"[at] + "-",
                color=f"C{at}",
                label=method,
                zorder=3 - at,
            )
        axes.axhline(95, color=GREY, linewidth=1, linestyle="dashed")
        axes.set(xscale="log", xlabel="queries", title=PANELS[heading], ylim=(55, 100.5))
        axes.set_xticks(sizes, by_size)
        axes.minorticks_off()
        if heading == "Means":
            axes.set_ylabel("% that hold the true value")
            axes.legend(loc="lower right")
    return figure


def draw_power(figures: dict[str, dict[str, float]]) -> Figure:
    """Draw the measured power as points, and the power that `queries_needed` assumes as lines."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    fine = np.unique(np.geomspace(SIZES[0], SIZES[-1], 100).astype(int))
    for at, (gap, by_size) in enumerate(figures.items()):
        axes.plot(fine, [100 * planned(float(gap), int(size)) for size in fine], color=f"C{at}")
        axes.plot(
            [int(size) for size in by_size],
            [100 * share for share in by_size.values()],
            "os^"[at],
            color=f"C{at}",
        )
        axes.plot([], [], "os^"[at] + "-", color=f"C{at}", label=f"true difference {gap}")
    axes.axhline(100 * POWER, color=GREY, linewidth=1, linestyle="dashed")
    axes.set(xscale="log", xlabel="queries", ylabel="% of trials that find it", ylim=(0, 102))
    axes.set_xticks(SIZES, map(str, SIZES))
    axes.minorticks_off()
    figure.legend(loc="outside right center")
    return figure


def save(name: str, figure: Figure, figures: Any, folder: Path = HERE) -> None:
    """Write a picture with its figures."""
    figure.savefig(
        folder / f"{name}.png", metadata={"Software": None, "Description": json.dumps(figures)}
    )


def figures_in(name: str, folder: Path = HERE) -> Any:
    """Return the figures that a picture was drawn from."""
    with Image.open(folder / f"{name}.png") as picture:
        return json.loads(picture.info["Description"])


def differences_in(comparison: Any) -> dict[str, list[float]]:
    """Return the differences of a comparison, each with the ends of the interval that is drawn."""
    return {
        f"{pair.system} – {pair.other}": [
            round(end, 6) for end in (pair.difference, pair.low_holm, pair.high_holm)
        ]
        for pair in comparison.pairs
    }


def main() -> None:
    """Draw all pictures."""
    os.chdir(ROOT)
    with mpl.rc_context(STYLE):
        held = coverage((HERE / "SIMULATIONS.md").read_text(encoding="utf-8"))
        save("coverage", draw_coverage(held), held)
        comparison = compared()
        save("comparison", comparison.plot(), differences_in(comparison))
        shares = powers()
        save("power", draw_power(shares), shares)


if __name__ == "__main__":
    main()
