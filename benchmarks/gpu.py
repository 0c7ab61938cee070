"""Tensors on a GPU: `compute` beside copies to the host, the host, top-k alone and torchmetrics.

    python benchmarks/gpu.py                # the tables, and 300 random cases
    python benchmarks/gpu.py --scores 10000000

Each time is the median of several calls in turn, in milliseconds, after a first call that is not
counted. torchmetrics scores query by query, so only some of the queries are given to it, and its
time is scaled up to all of them.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ndcg import compute, meter
from ndcg.measure.tensors import measure_tensors
from ndcg.scores import devices

DEVICE = "cuda"
ROWS_OF_TORCHMETRICS = 200  # queries
Call = Callable[[], Any]


class Matrix(NamedTuple):
    """Rankings with a row per query."""

    queries: int
    documents: int
    k: int | None = 10

    def sides(self, device: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores without ties, and grades."""
        seed = torch.Generator(device).manual_seed(0)
        shape = (self.queries, self.documents)
        score = torch.randn(shape, device=device, generator=seed)
        return score, torch.randint(0, 5, shape, device=device, generator=seed)


SHAPES = (
    Matrix(64, 100),
    Matrix(256, 1_000),
    Matrix(1_024, 128),
    Matrix(4_096, 512),
    Matrix(1_000, 100_000, 100),
    Matrix(100_000, 1_000),
    Matrix(1_000_000, 100),
    Matrix(1_000_000, 100, None),
)


def milliseconds(calls: dict[str, Call], device: str, rounds: int) -> dict[str, float]:
    """Return the median time of each call; they take turns."""

    def finished(call: Call) -> None:
        call()
        if device == "cuda":
            torch.cuda.synchronize()

    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            finished(call)
            if turn:
                times[name].append(1000 * (time.perf_counter() - start))
    return {name: statistics.median(taken) for name, taken in times.items()}


def time_matrix(shape: Matrix, device: str = DEVICE, rounds: int = 5) -> dict[str, float]:
    """Return the milliseconds of each way to score a matrix, and the MB that `compute` adds."""
    score, relevance = shape.sides(device)
    on_host = score.cpu(), relevance.cpu()
    k = shape.k or shape.documents

    def ours(predictions: Any, references: Any) -> Any:
        return compute(predictions=predictions, references=references, k=shape.k)

    def metered() -> Any:
        batches = meter(k=shape.k)
        batches.update(score, relevance)
        return batches.compute()

    calls: dict[str, Call] = {
        "compute": lambda: ours(score, relevance),
        "meter": metered,
        "kernel": lambda: measure_tensors(relevance, score, cutoffs=[shape.k]),
        "top-k alone": lambda: (score.topk(k), relevance.topk(k)),
        "copy to the host": lambda: (score.cpu(), relevance.cpu()),
        "on the host": lambda: ours(*on_host),
    }
    times = milliseconds(calls, device, rounds)
    if device == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        ours(score, relevance)
        times["memory, MB"] = (torch.cuda.max_memory_allocated() - before) / 2**20
    return {**times, **_of_torchmetrics(score, relevance, shape, device)}


def _of_torchmetrics(
    score: torch.Tensor, relevance: torch.Tensor, shape: Matrix, device: str
) -> dict[str, float]:
    """Return the milliseconds of torchmetrics, by some of the queries."""
    from torchmetrics.functional.retrieval import retrieval_normalized_dcg

    queries = min(shape.queries, ROWS_OF_TORCHMETRICS)

    def all_queries() -> list[Any]:
        return [
            retrieval_normalized_dcg(score[query], relevance[query], shape.k)
            for query in range(queries)
        ]

    taken = milliseconds({"torchmetrics": all_queries}, device, 1)
    return {name: seconds * shape.queries / queries for name, seconds in taken.items()}


def time_rows(rows: int, device: str = DEVICE, rounds: int = 3) -> dict[str, float]:
    """Return the milliseconds of documents as rows in random order, a hundred for a query."""
    seed = torch.Generator(device).manual_seed(0)
    query = torch.randint(0, max(1, rows // 100), (rows,), device=device, generator=seed)
    score = torch.randn(rows, device=device, generator=seed)
    relevance = torch.randint(0, 5, (rows,), device=device, generator=seed)
    there = {"predictions": score, "references": relevance, "query_ids": query}
    here = {name: column.cpu() for name, column in there.items()}
    calls: dict[str, Call] = {
        "compute": lambda: compute(**there, k=10),
        "copy to the host": lambda: [column.cpu() for column in there.values()],
        "on the host": lambda: compute(**here, k=10),
    }
    return milliseconds(calls, device, rounds)


def largest_difference(cases: int, device: str = DEVICE, seed: int = 1) -> float:
    """Return the largest difference of device and host, relative above 1, over random options."""
    rng, largest = np.random.default_rng(seed), 0.0

    def choice(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    for _ in range(cases):
        documents = int(rng.integers(60, 200))
        queries = 1 + devices.ON_DEVICE_FROM // documents
        relevance = rng.integers(0, 4, (queries, documents))
        score = rng.integers(0, choice(3, 50, 10**6), relevance.shape).astype(
            choice(np.float32, np.float64)
        )
        score[rng.random(score.shape) < choice(0, 0.2)] = -np.inf
        ideal = choice("judged", "retrieved", "truncated", "full")
        k = int(rng.integers(1, 20))
        options = {
            "ties": choice("average", "first", "last", "best", "worst"),
            "gain": choice("linear", "exponential", "binary", [0, 1, 3, 7]),
            "discount": choice("log", "reciprocal", "jarvelin"),
            "zero_division": choice(0.0, "perfect_if_empty"),
            "ideal": ideal,
            "k": k if ideal == "full" else [None, k],
            "ignore_index": choice(None, 3),
            "measures": ["nDCG", "DCG", "IDCG", "CG"],
            "use_aggregator": False,
        }
        sides = {"predictions": score, "references": relevance}
        if rng.random() < 0.3:
            sides = {name: side.reshape(-1) for name, side in sides.items()}
            sides["query_ids"] = rng.integers(0, queries, score.size)
        expected = compute(**sides, **options)
        scores = compute(
            **{name: torch.tensor(side, device=device) for name, side in sides.items()}, **options
        )
        for name, values in expected.items():
            apart = np.abs(np.subtract(scores[name], values)) / np.maximum(1, np.abs(values))
            largest = max(largest, float(apart.max()))
    return largest


def table(rows: dict[str, dict[str, float]]) -> str:
    """Return a Markdown table, with a row for each shape."""
    names = list(dict.fromkeys(name for figures in rows.values() for name in figures))
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for shape, figures in rows.items():
        cells = ["" if name not in figures else f"{figures[name]:,.2f}" for name in names]
        lines.append(f"| {shape} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scores", type=int, default=10**8, help="the most scores of a matrix")
    parser.add_argument("--rows", type=int, default=20_000_000, help="rows with query ids")
    parser.add_argument(
        "--cases", type=int, default=300, help="random cases that compare device and host"
    )
    given = parser.parse_args(arguments)
    if not torch.cuda.is_available():
        raise SystemExit("PyTorch finds no GPU here; this needs CUDA or ROCm")
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}\n")
    print(f"{given.cases} random cases: largest difference {largest_difference(given.cases):.1e}\n")
    shapes = [shape for shape in SHAPES if shape.queries * shape.documents <= given.scores]
    names = (f"{s.queries:,} × {s.documents:,}, k={s.k}" for s in shapes)
    print("Milliseconds:\n")
    print(table({name: time_matrix(shape) for name, shape in zip(names, shapes, strict=True)}))
    print()
    print(table({f"{given.rows:,} rows with query ids": time_rows(given.rows)}))


if __name__ == "__main__":
    main()
