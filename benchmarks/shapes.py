"""Rankings of many shapes to score."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

LENGTHS = (10, 32, 100, 1_000, 10_000)
RAGGED = (2, 2_000)
SMALL = 100_000  # scores, from which on compute is to cost little more than the kernel


@dataclass(frozen=True)
class Work:
    """Rankings to score.

    Attributes:
        relevance: shape ``(queries, documents)``; or 1-D, query after query, with ``offsets``.
        score: as ``relevance``.
        offsets: for ragged queries, the start of each and the end of the last one; else None.
        k: the cutoff; None for whole rankings.
        lists: whether users hold these rankings in nested Python lists, not in arrays.
    """

    relevance: NDArray[Any]
    score: NDArray[Any]
    offsets: NDArray[np.int64] | None
    k: int | None
    lists: bool = False

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.score) if self.offsets is None else len(self.offsets) - 1

    def head(self, queries: int) -> "Work":
        """Return the first queries."""
        if self.offsets is None:
            return replace(self, relevance=self.relevance[:queries], score=self.score[:queries])
        end = self.offsets[queries]
        return replace(
            self,
            relevance=self.relevance[:end],
            score=self.score[:end],
            offsets=self.offsets[: queries + 1],
        )

    def rows(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the relevance or the score of each query."""
        return list(values) if self.offsets is None else np.split(values, self.offsets[1:-1])

    def inputs(self) -> dict[str, Any]:
        """Predictions and references: nested lists, a 2-D array, or a list of ragged arrays."""
        held = {"predictions": self.score, "references": self.relevance}
        if self.lists:
            return {
                name: [row.tolist() for row in self.rows(values)] for name, values in held.items()
            }
        return (
            held
            if self.offsets is None
            else {name: self.rows(values) for name, values in held.items()}
        )

    def by_id(self) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        """Qrels and run: ``{query: {document: value}}``."""
        both = []
        for values, number in ((self.relevance, int), (self.score, float)):
            rows = enumerate(self.rows(values))
            both.append(
                {
                    f"q{q}": {f"d{d}": number(v) for d, v in enumerate(row.tolist())}
                    for q, row in rows
                }
            )
        return both[0], both[1]


@dataclass(frozen=True)
class Shape:
    """One kind of rankings.

    Attributes:
        documents: per query; None: ragged.
        k: the cutoff.
        dense: relevance 0-4 everywhere, or 1-3 on 5% of the documents.
        tied: scores of two decimals, or continuous ones; both from 0 to 1.
        dtype: the type of both arrays.
        lists: held in nested Python lists.
        scores: how many in all, if not as many as the plan says.
    """

    documents: int | None
    k: int | None
    dense: bool = True
    tied: bool = False
    dtype: str = "float64"
    lists: bool = False
    scores: int | None = None

    def __str__(self) -> str:
        length = (
            f"{RAGGED[0]} to {RAGGED[1]:,}" if self.documents is None else f"{self.documents:,}"
        )
        relevance, scores = (
            "dense" if self.dense else "sparse",
            "tied" if self.tied else "continuous",
        )
        small = "" if self.scores is None else f", {self.scores:,} in all"
        form = ", lists" if self.lists else ""
        return f"{length} documents, k={self.k}, {relevance}, {scores}, {self.dtype}{form}{small}"

    def works(self, scores: int, tied: Iterable[bool]) -> Iterator[Work]:
        """Return the same rankings with continuous or tied scores."""
        random = np.random.default_rng(0)
        total = self.scores or scores
        if self.documents is None:
            low, high = RAGGED
            lengths = random.integers(low, high + 1, max(2, 2 * total // (low + high)))
            offsets = np.concatenate([[0], np.cumsum(lengths)])
            size: int | tuple[int, int] = int(offsets[-1])
        else:
            offsets, size = None, (max(1, total // self.documents), self.documents)
        if self.dense:
            relevance = random.integers(0, 5, size)
        else:
            relevance = random.integers(1, 4, size) * (random.random(size) < 0.05)
        score = random.random(size)
        for rounded in tied:
            held = (score.round(2) if rounded else score).astype(self.dtype)
            yield Work(relevance.astype(self.dtype), held, offsets, self.k, self.lists)


GRID = [
    Shape(documents, k, dense, tied, dtype)
    for documents in (*LENGTHS, None)
    for k in (10, None)
    for dtype in ("float64", "float32")
    for dense in (True, False)
    for tied in (False, True)
]
LISTS = [Shape(documents, k, lists=True) for documents in (*LENGTHS, None) for k in (10, None)]
SMALLS = [Shape(documents, k, scores=SMALL) for documents in LENGTHS for k in (10, None)]
ONE_QUERY = [Shape(5, None, scores=5, lists=lists) for lists in (True, False)]
SHAPES = GRID + LISTS + SMALLS + ONE_QUERY
QUICK_SHAPES = [
    shape for shape in SHAPES if shape.dense + (not shape.tied) + (shape.dtype == "float64") >= 2
]
