"""Run libraries against the vectors and print who agrees where.

python run.py                           all runners with an installed library
python run.py ranx sklearn              these
python run.py --cases ranx              with every case on which it differs
python run.py --write ../README.md      the table into a page, between its markers
"""

import argparse
import importlib
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from lists import NotSupportedError

HERE = Path(__file__).resolve().parent
ALL = (
    "ndcg",
    "pytrec_eval",
    "ir_measures",
    "ranx",
    "sklearn",
    "torchmetrics",
    "rax",
    "ignite",
    "lightgbm",
    "xgboost",
    "catboost",
)
FORMS = {"agree": "{}", "differ": "≠{}", "not supported": "({})"}
MARKERS = ("<!-- made by runners/run.py -->\n", "<!-- end -->\n")


def outcome(runner: Any, case: dict[str, Any], preset: str) -> tuple[str, str]:
    """Return whether a library agrees with a preset on a case, and its values."""
    (expected,) = (each for each in case["expected"] if preset in each["under"])
    try:
        found = runner.score(case, preset)
        own_mean = mean(runner, case, preset, found)
        sums = runner.sums(case, preset) if hasattr(runner, "sums") else {}
    except NotSupportedError as reason:
        return "not supported", str(reason)
    except Exception as error:  # noqa: BLE001
        return (
            "agree" if "refused" in expected else "not supported",
            f"{type(error).__name__}: {error}",
        )
    if "refused" in expected:
        return "differ", f"expected to be refused: {expected['refused']}; found {found}"
    wanted = {query: values["nDCG"] for query, values in expected["queries"].items() if values}
    wanted = {query: value for query, value in wanted.items() if value is not None}
    exact_mean = expected["mean nDCG"]
    pairs = [(found.get(query, math.nan), exact) for query, exact in wanted.items()]
    pairs += [] if exact_mean is None else [(own_mean, exact_mean)]
    if found.keys() != wanted.keys() or not all(close(*pair, runner.TOLERANCE) for pair in pairs):
        return "differ", f"expected {wanted}, mean {exact_mean}; found {found}, mean {own_mean}"
    for query, measures in sums.items():
        exact_sums = expected["queries"][query] or {}
        for measure, value in measures.items():
            if measure in exact_sums and not close(value, exact_sums[measure], runner.TOLERANCE):
                return "differ", f"expected {measure} {exact_sums[measure]}; found {value}"
    return "agree", ""


def close(value: float, exact: float, tolerance: float) -> bool:
    """Return whether a value is within the tolerance, relative to the exact one if above 1."""
    return abs(value - exact) <= tolerance * max(1, abs(exact))


def mean(runner: Any, case: dict[str, Any], preset: str, values: dict[str, float]) -> float:
    """Return a library's mean, or that of its values if it gives none; nan without any value."""
    if not values:
        return math.nan
    return (
        runner.mean(case, preset)
        if hasattr(runner, "mean")
        else math.fsum(values.values()) / len(values)
    )


def compare(runner: Any, vectors: dict[str, Any]) -> tuple[dict[str, Counter[str]], list[str]]:
    """Return how often a library agrees, by family, and a line on each case that differs."""
    presets = runner.PRESETS or [
        name for name, each in vectors["settings"].items() if "library" in each
    ]
    counts: dict[str, Counter[str]] = {family: Counter() for family in vectors["families"]}
    lines = []
    for case in vectors["cases"]:
        outcomes = {preset: outcome(runner, case, preset) for preset in presets}
        words = [word for word, _ in outcomes.values()]
        counts[case["family"]][max(words, key=["agree", "not supported", "differ"].index)] += 1
        lines += [
            f"{word}: {case['name']} ({preset}): {why}"
            for preset, (word, why) in outcomes.items()
            if word != "agree"
        ]
    return counts, lines


def row(library: str, runner: Any, counts: dict[str, Counter[str]]) -> str:
    """Return a library's line of the table."""
    presets = ", ".join(f"`{preset}`" for preset in runner.PRESETS) or "every preset"
    total = sum(counts.values(), Counter[str]())
    cells = [
        " ".join(form.format(each[word]) for word, form in FORMS.items() if each[word])
        for each in (*counts.values(), total)
    ]
    return " | ".join([f"| {library}", presets, *cells]) + " |"


def label(module: str, distributions: Mapping[str, list[str]]) -> str:
    """Return the name under which a module is installed, and its version: xgboost-cpu 3.0."""
    if module not in distributions:  # a folder of sources
        return module
    name = distributions[module][0]
    return f"{name} {version(name)}"


def main() -> None:
    """Run the libraries named on the command line."""
    parser = argparse.ArgumentParser(description="Run libraries against vectors.json.")
    parser.add_argument("libraries", nargs="*", default=ALL, help=" ".join(ALL))
    parser.add_argument(
        "--cases", action="store_true", help="print every case on which a library does not agree"
    )
    parser.add_argument("--write", type=Path, help="a page to write the table into")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of the libraries
    vectors = json.loads((HERE.parent / "vectors.json").read_text(encoding="utf-8"))
    table = " | ".join(["| library", "compared with", *vectors["families"], "all"]) + " |\n"
    table += "|---|---" + "|---:" * (len(vectors["families"]) + 1) + "|\n"
    distributions = packages_distributions()
    for name in arguments.libraries:
        try:
            runner = importlib.import_module(f"{name}_runner")
        except ImportError as error:
            print(f"{name}: not installed: {error}", file=sys.stderr)
            continue
        counts, lines = compare(runner, vectors)
        table += row(label(runner.MODULE, distributions), runner, counts) + "\n"
        if arguments.cases:
            print("\n".join(lines))
    print(table, end="")
    if arguments.write:
        write(arguments.write, table, MARKERS)


def write(page: Path, table: str, markers: tuple[str, str]) -> None:
    """Write a table into a page, between its markers."""
    before, start, rest = page.read_text(encoding="utf-8").partition(markers[0])
    _, end, after = rest.partition(markers[1])
    page.write_text(before + start + table + end + after, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
