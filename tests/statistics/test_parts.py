"""Queries in parts: sums computed for all parts at once equal those of each part alone."""

import numpy as np

from ndcg.statistics.parts import Parts


def test_sums_of_each_part_are_those_of_its_slice_to_the_last_bit() -> None:
    rng = np.random.default_rng(22)
    sizes = [3, 1, 40, 7, 3, 40]
    values, counted = rng.normal(size=sum(sizes)), rng.random(sum(sizes)) < 0.7
    ends = np.cumsum(sizes)
    slices = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    split = Parts(sizes)
    assert split.sums(counted).tolist() == [counted[each].sum() for each in slices]
    assert split.float_sums(values, counted).tolist() == [values[each][counted[each]].sum() for each in slices]
    assert split.of_queries(np.arange(6)).tolist() == np.repeat(np.arange(6), sizes).tolist()


def test_one_part_in_which_every_query_counts_is_seen_not_copied() -> None:
    values = np.arange(4.0)
    (block,) = Parts([4]).blocks(np.ones(4, bool))
    assert np.shares_memory(values[block.queries], values)
    assert (block.parts.tolist(), block.size) == ([0], 4)
