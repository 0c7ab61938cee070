"""Plant faults in the package, one at a time, and see which tests catch them.

    python scripts/faults.py [--jobs 2] [WORDS...]   # only faults with a word in their path or text

Each line of faults.jsonl is a change of a few characters that a reader could overlook: the module,
the text, the text with the fault, and the tests that should catch it. It is planted in a copy of
the project, whose tests must then fail. The script ends with status 1 if a fault survives.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(
    ".*", "__pycache__", "dist", "build", "benchmarks", "docs", "page", "examples"
)


class Fault(NamedTuple):
    """A fault, and where its tests are.

    Attributes:
        path: the module in `ndcg/`.
        before: text that stands once in the module.
        after: the text with the fault.
        tests: the folders or files of tests that should catch it, first the most likely.
    """

    path: str
    before: str
    after: str
    tests: str


def copied(folder: Path) -> Path:
    """Return a copy of the project in a folder, with the environment of the project."""
    copy = folder / "project"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    for name in (".venv", "docs", "page", "examples", "benchmarks"):
        (copy / name).symlink_to(ROOT / name)
    return copy


def is_caught(fault: Fault) -> bool:
    """Plant a fault in a copy of the project, and return whether one of its tests fails."""
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        module = copy / "ndcg" / fault.path
        text = module.read_text(encoding="utf-8")
        if text.count(fault.before) != 1:
            sys.exit(f"{fault.path} must have once: {fault.before!r}")
        module.write_text(text.replace(fault.before, fault.after), encoding="utf-8")
        if status_of(["scripts/bundle.py"], copy) != 0:
            return True  # the bundle cannot be written
        options = ["-q", "-x", "--no-header", "-p", "no:cacheprovider"]
        chosen = ["-m", "not (slow or peers or browser or training)"]
        tests = [f"tests/{name}" for name in fault.tests.split()]
        status = status_of(["-m", "pytest", *options, *chosen, *tests], copy)
        return status in (1, 2)  # a test fails, or tests cannot be collected


def status_of(arguments: list[str], folder: Path) -> int:
    """Run Python with arguments in a folder, and return its exit status."""
    run = [sys.executable, *arguments]
    return subprocess.run(run, cwd=folder, capture_output=True, check=False).returncode


def main() -> None:
    """Plant all faults, or those with a word in their path or text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    lines = (ROOT / "scripts" / "faults.jsonl").read_text(encoding="utf-8").splitlines()
    faults = [Fault(*json.loads(line)) for line in lines]
    if args.words:
        faults = [fault for fault in faults if any(word in " ".join(fault) for word in args.words)]
    survived = 0
    with ThreadPoolExecutor(args.jobs) as pool:
        for fault, caught in zip(faults, pool.map(is_caught, faults), strict=True):
            change = f"{fault.before} -> {fault.after}".replace("\n", " ")
            print(f"{'caught' if caught else 'survives':8}  {fault.path}: {change}", flush=True)
            if not caught:
                survived += 1
    print(f"{len(faults) - survived} of {len(faults)} faults are caught")
    sys.exit(survived > 0)


if __name__ == "__main__":
    main()
