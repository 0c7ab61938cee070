"""Whole processes in a shell, from TREC files to a score: `ndcg score`, ir_measures, pytrec_eval.

    python benchmarks/shell.py                          # 10 million lines, three rounds: 4 minutes
    python benchmarks/shell.py --lines 1000000 --rounds 5

The ways take turns, two processes each; the fastest of a way counts, since a process can only be
held up. All must print the same score.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as qrels, open(sys.argv[2]) as run:
    evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"ndcg_cut.10"})
    results = evaluator.evaluate(pytrec_eval.parse_run(run))
print(sum(query["ndcg_cut_10"] for query in results.values()) / len(results))
"""
WAYS = {
    "ndcg": ["-m", "ndcg", "score", "qrels.txt", "run.txt", "-k", "10", "-o", "tsv"],
    "ir_measures": ["-m", "ir_measures", "qrels.txt", "run.txt", "nDCG@10"],
    "pytrec_eval": ["-c", PYTREC_EVAL, "qrels.txt", "run.txt"],
}


def install(folder: Path) -> None:
    """Put the package into a folder, as a wheel holds it."""
    shutil.copytree(ROOT / "ndcg", folder / "ndcg")


def write(folder: Path, lines: int, documents: int = 1_000) -> None:
    """Write a run of so many lines, and qrels of a twentieth of its documents."""
    rng = np.random.default_rng(0)
    with open(folder / "run.txt", "w") as run, open(folder / "qrels.txt", "w") as qrels:
        for query in range(max(2, lines // documents)):
            chosen = rng.choice(8_000_000, documents, replace=False)
            # different scores, also for trec_eval, which holds 32 bits of each
            scores = -np.sort(-rng.choice(1 << 24, documents, replace=False)) / 2**24
            rows = enumerate(zip(chosen.tolist(), scores.tolist(), strict=True), start=1)
            run.writelines(
                f"q{query} Q0 D{document} {rank} {score!r} tag\n"
                for rank, (document, score) in rows
            )
            judged = rng.choice(chosen, documents // 20, replace=False).tolist()
            grades = rng.integers(0, 4, len(judged)).tolist()
            qrels.writelines(
                f"q{query} 0 D{document} {grade}\n"
                for document, grade in zip(judged, grades, strict=True)
            )


def number(way: str, printed: str) -> float:
    """Return the nDCG@10 that a process printed."""
    if way == "ndcg":
        header, row = (line.split("\t") for line in printed.splitlines())
        return float(row[header.index("value")])
    return float(re.findall(r"[\d.]+", printed)[-1])


def seconds(lines: int, rounds: int) -> dict[str, float]:
    """Return how long the fastest process of each way takes.

    Raises:
        ValueError: they print other numbers.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install(folder)
        write(folder, lines)
        environment = {**os.environ, "PYTHONPATH": name}
        taken: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            numbers = {}
            # each twice in a row: the first process may wait for memory that the one before it gave
            # back to the host
            for way, command in [item for item in WAYS.items() for _ in range(2)]:
                start = time.perf_counter()
                process = subprocess.run(  # noqa: S603
                    [sys.executable, *command],
                    cwd=folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                taken[way].append(time.perf_counter() - start)
                numbers[way] = number(way, process.stdout)
            if (
                max(numbers.values()) - min(numbers.values()) > 1e-4
            ):  # ir_measures prints four digits
                raise ValueError(f"the scores differ: {numbers}")
    return {way: min(times) for way, times in taken.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line for each way."""
    parser = argparse.ArgumentParser(
        description="Time whole processes from two TREC files to a score."
    )
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args(arguments)
    fastest = seconds(given.lines, given.rounds)
    for way, taken in fastest.items():
        print(f"{way}: {taken:.2f} s, {taken / fastest['ndcg']:.1f} times as long as ndcg")


if __name__ == "__main__":
    main()
