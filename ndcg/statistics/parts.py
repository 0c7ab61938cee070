"""Divide queries into parts, such as slices, and compute figures for many parts at once."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measure.ties import Floats


class Block(NamedTuple):
    """Parts in which the same number of queries count."""

    parts: NDArray[np.intp]  # the indices of the parts
    queries: Any  # an index from values by query to a row for each of the parts
    size: int  # the number of queries that count in each part


class Parts:
    """Queries in parts, such as slices: first all of the first part, then all of the second, and so on.

    Figures for many parts at once equal those of each part alone, to the last bit, because parts of the same size
    become the rows of an array. No part is empty.
    """

    def __init__(self, sizes: Sequence[int] | NDArray[np.int64]) -> None:
        self.sizes = np.asarray(sizes, np.int64)
        self.number = len(self.sizes)
        self.first = np.cumsum(self.sizes) - self.sizes
        self._blocks: dict[bytes, list[Block]] = {}

    def sums(self, counts: NDArray[Any]) -> NDArray[np.int64]:
        """Return the sum of integers or truth values in each part."""
        return np.add.reduceat(counts, self.first, dtype=np.int64)

    def float_sums(self, values: Floats, counted: NDArray[np.bool_]) -> Floats:
        """Return the sum of the values that count in each part."""
        sums = np.zeros(self.number)
        for block in self.blocks(counted):
            sums[block.parts] = values[block.queries].sum(axis=1)
        return sums

    def of_queries(self, figures: NDArray[Any]) -> NDArray[Any]:
        """Return for each query the figure of its part, along the last axis."""
        return np.repeat(figures, self.sizes, axis=-1)

    def blocks(self, counted: NDArray[np.bool_]) -> list[Block]:
        """Return all parts, in blocks in which the same number of queries count."""
        key = counted.tobytes()
        if key not in self._blocks:
            self._blocks[key] = list(self._blocks_of(counted))
        return self._blocks[key]

    def _blocks_of(self, counted: NDArray[np.bool_]) -> Iterator[Block]:
        if self.number == 1 and counted.all():  # no queries to select
            yield Block(np.zeros(1, np.intp), np.s_[np.newaxis, :], len(counted))
            return
        sizes, queries = self.sums(counted), np.flatnonzero(counted)
        first, order = np.cumsum(sizes) - sizes, np.argsort(sizes, kind="stable")
        for alike in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
            size = int(sizes[alike[0]])
            yield Block(alike, queries[first[alike][:, np.newaxis] + np.arange(size)], size)
