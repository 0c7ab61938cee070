"""How fast our nDCG is, and how much memory it takes, as ratios to other ways to compute it.

    python benchmarks/bench.py           # everything, into benchmarks/RESULTS.md; 20 to 40 minutes
    python benchmarks/bench.py --quick   # little work, printed; about 2 minutes
    python benchmarks/bench.py --before ../other   # our kernel and another checkout's; 3 minutes

Contenders get the same work and are checked to agree before they are timed; then they take
turns, several rounds of it, and a ratio is the median of the ratios within a round. So what
else the machine does disturbs both sides alike.
"""

import argparse
import re
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import geometric_mean

from contenders import BEFORE, CONTENDERS, CPUS, Contender, kernel_of
from forms import forms
from measure import QUICK, Plan, grow, run, without_simd
from results import markdown, number, plot, table
from shapes import GRID, QUICK_SHAPES, SHAPES, Shape

HERE = Path(__file__).resolve().parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure how fast our nDCG is, next to others.")
    parser.add_argument("--quick", action="store_true", help="little work, for development")
    parser.add_argument(
        "--only", metavar="REGEX", default="", help="only the shapes with this in their names"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="folder for RESULTS.md; with --quick or --only the default is none",
    )
    parser.add_argument(
        "--before",
        metavar="CHECKOUT",
        type=Path,
        help="only the kernel, next to another checkout's",
    )
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # warnings of contenders do not matter here
    plan, shapes = (QUICK, QUICK_SHAPES) if given.quick else (Plan(), SHAPES)
    if given.before:
        chosen = [shape for shape in GRID if shape in shapes and re.search(given.only, str(shape))]
        print(kernels(given.before.resolve(), plan, chosen))
        return
    start = time.perf_counter()
    results = run(plan, [shape for shape in shapes if re.search(given.only, str(shape))])
    if not given.only:
        grow(results)
        without_simd(results)
        results.forms = forms(results.plan.forms, rounds=3)
    text, output = markdown(results, time.perf_counter() - start), given.output
    if output is None and not (given.quick or given.only):
        output = HERE
    if output:
        output.mkdir(parents=True, exist_ok=True)
        (output / "RESULTS.md").write_text(text + plot(results, output))
    print(text)


def kernels(checkout: Path, plan: Plan, shapes: Sequence[Shape]) -> str:
    """Return a table of our kernel's time over the time of another checkout's, by shape."""
    CONTENDERS[BEFORE] = Contender(partial(kernel_of, checkout), whole=True, threads=len(CPUS))
    plan = replace(plan, rounds=4 * plan.rounds)  # so that a few hundredths are not chance
    ratios = run(plan, shapes, ("kernel", BEFORE)).ratios("kernel", BEFORE, shapes)
    del CONTENDERS[BEFORE]
    mean = ("geometric mean", geometric_mean(ratios.values()))
    rows = [[name, number(ratio)] for name, ratio in (*ratios.items(), mean)]
    return table(["", "time over that before"], rows)


if __name__ == "__main__":
    main()
