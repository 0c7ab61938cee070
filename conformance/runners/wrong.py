"""Run wrong implementations on the vectors; print how many cases of each family each fails.

python wrong.py                         the table
python wrong.py --write ../README.md    the table into a page, between its markers

They are the slips of the package's table, each on a preset, and other faults: an implementation by
the formulas with one wrong part. Each of them should differ on a case.
"""

import argparse
import json
import math
import struct
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from run import compare, write

import ndcg
from ndcg.explanations.slip_terms import Queries, Query, Slip

HERE = Path(__file__).resolve().parent
MARKERS = ("<!-- made by runners/wrong.py -->\n", "<!-- end of the wrong ones -->\n")
PRESETS_OF_SLIPS = (
    "sklearn",
    "lightgbm",
    "trec_eval",
)  # a slip is put on the first one that does not make it itself
INSERTION_SORT = 16  # documents up to which sorts of many libraries are stable by accident


class OnPreset:
    """A runner of a preset with a slip."""

    TOLERANCE = 1e-9

    def __init__(self, slip: Slip, preset: str, vectors: Mapping[str, Any]) -> None:
        self.PRESETS = (preset,)
        asked = [
            (
                case["name"],
                name,
                Query(case["run"].get(name, {}), judged, case["k"], name not in case["run"], name),
            )
            for case in vectors["cases"]
            if not any(preset in each["under"] and "refused" in each for each in case["expected"])
            for name, judged in case["qrels"].items()
        ]
        scores = slip.scores(Queries(query for *_, query in asked), {"convention": preset}).tolist()
        self.values: dict[str, dict[str, float]] = {case: {} for case, *_ in asked}
        for (case, name, _), value in zip(asked, scores, strict=True):
            if not math.isnan(value):
                self.values[case][name] = value

    def score(self, case: dict[str, Any], preset: str) -> dict[str, float]:
        """Return the score of each query that has one; raise if the preset rejects the case."""
        return self.values[case["name"]]


def stable(run: Mapping[str, float]) -> list[str]:
    """Return documents by descending score, those with equal scores in their order."""
    return sorted(run, key=lambda document: -run[document])


def unstable(run: Mapping[str, float]) -> list[str]:
    """Sort as quicksort does, which sorts short lists by insertion."""
    return _quicksorted(list(run), run)


def _quicksorted(documents: list[str], run: Mapping[str, float]) -> list[str]:
    if len(documents) <= INSERTION_SORT:
        return sorted(documents, key=lambda document: -run[document])
    pivot, low, high = run[documents[len(documents) // 2]], 0, len(documents) - 1
    while low <= high:
        while run[documents[low]] > pivot:
            low += 1
        while run[documents[high]] < pivot:
            high -= 1
        if low <= high:
            documents[low], documents[high] = documents[high], documents[low]
            low, high = low + 1, high - 1
    middle = documents[high + 1 : low]
    return [*_quicksorted(documents[: high + 1], run), *middle, *_quicksorted(documents[low:], run)]


def _by_id(encoding: str) -> Callable[[Mapping[str, float]], list[str]]:
    """Return an order in which ties are in descending order of their encoded ids."""

    def order(run: Mapping[str, float]) -> list[str]:
        in_32_bits = {
            document: struct.unpack("f", struct.pack("f", score))[0]
            for document, score in run.items()
        }
        return sorted(
            run,
            key=lambda document: (in_32_bits[document], document.encode(encoding)),
            reverse=True,
        )

    return order


def _log2(rank: int) -> float:
    return 1 / math.log2(rank + 1)


@dataclass
class Implementation:
    """Computes nDCG and DCG by the formulas; any part of them can be replaced."""

    preset: str = "ranx"
    order: Callable[[Mapping[str, float]], list[str]] = stable
    discount: Callable[[int], float] = _log2
    cutoff: Callable[[int | None], int | None] = lambda k: k
    TOLERANCE = 1e-9

    @property
    def PRESETS(self) -> tuple[str, ...]:  # noqa: N802
        """The preset that it should compute."""
        return (self.preset,)

    def score(self, case: dict[str, Any], preset: str) -> dict[str, float]:
        """Return the nDCG of each query."""
        sums = self.sums(case, preset).items()
        return {query: each["DCG"] / each["IDCG"] if each["IDCG"] else 0.0 for query, each in sums}

    def sums(self, case: dict[str, Any], preset: str) -> dict[str, dict[str, float]]:
        """Return the DCG and the IDCG of each query."""
        found, k = {}, self.cutoff(case["k"])
        for query, judged in case["qrels"].items():
            gains = {document: max(relevance, 0) for document, relevance in judged.items()}
            ranked = [gains.get(document, 0) for document in self.order(case["run"].get(query, {}))]
            ideal = sorted(gains.values(), reverse=True)
            found[query] = {
                "DCG": self._discounted(ranked[:k]),
                "IDCG": self._discounted(ideal[:k]),
            }
        return found

    def _discounted(self, gains: list[float]) -> float:
        return math.fsum(gain * self.discount(rank) for rank, gain in enumerate(gains, 1))


RIGHT = (Implementation(), Implementation("trec_eval", _by_id("utf-8")))
FAULTS = {
    "a sort that is unstable above 16 documents": Implementation(order=unstable),
    "discounts for 12 ranks only": Implementation(
        discount=lambda rank: _log2(rank) if rank <= 12 else 0
    ),
    "no cutoff taken as 100": Implementation(cutoff=lambda k: k or 100),
    "ids compared by UTF-16 units": Implementation("trec_eval", _by_id("utf-16-be")),
    "DCG with the natural logarithm": Implementation(discount=lambda rank: 1 / math.log(rank + 1)),
}


def differing(runner: Any, vectors: dict[str, Any]) -> Counter[str]:
    """Return the number of cases of each family on which a runner differs."""
    counts, _ = compare(runner, vectors)
    return Counter({family: each["differ"] for family, each in counts.items()})


def wrong(vectors: dict[str, Any]) -> Iterator[tuple[str, str, Counter[str]]]:
    """Yield wrong implementations with the right preset and the cases on which they differ."""
    for slip in ndcg.SLIPS:
        for preset in PRESETS_OF_SLIPS:
            counts = differing(OnPreset(slip, preset, vectors), vectors)
            if counts.total():
                break
        yield slip.name, preset, counts
    for name, fault in FAULTS.items():
        yield name, fault.preset, differing(fault, vectors)


def table(vectors: dict[str, Any]) -> str:
    """Return the table of wrong implementations by families, as Markdown."""
    lines = [
        " | ".join(["| wrong", "compared with", *vectors["families"], "all |"]),
        "|---|---" + "|---:" * (len(vectors["families"]) + 1) + "|",
    ]
    for name, preset, counts in wrong(vectors):
        cells = [str(counts[family] or "") for family in vectors["families"]]
        lines.append(" | ".join([f"| {name}", f"`{preset}`", *cells, f"{counts.total()} |"]))
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description="Run wrong implementations against vectors.json.")
    parser.add_argument("--write", type=Path, help="a page to write the table into")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    made = table(json.loads((HERE.parent / "vectors.json").read_text(encoding="utf-8")))
    print(made, end="")
    if arguments.write:
        write(arguments.write, made, MARKERS)


if __name__ == "__main__":
    main()
