"""Whether a function of several rankings returns the mean of their values."""

import math
from typing import NamedTuple

import numpy as np

from .asking import Asker
from .forms import arguments_text
from .slip_terms import Query, in_order


class BatchMean(NamedTuple):
    """How a function joins the values of several rankings."""

    # whether a ranking without relevant documents does not count, although two copies have a score
    leaves_out_empty: bool = False
    problem: str = ""  # why it is not the mean, in words; empty if it is, or if it cannot be told


def mean_of_batch(asker: Asker, tolerance: float, *, is_sum: bool) -> BatchMean:
    """Compare the answer for different rankings with the answers for two copies of each.

    Nothing can be told if the function returns the value of each ranking.
    """
    call = asker.call
    k = call.k
    if k is not None and call.cutoff is not None:
        k = min(k, 2)  # so that the rankings are short
    # The relevant document is the first, the second, one below the cutoff, and none.
    ranks = [1, 2, (k or 2) + 1]
    if call.shows.several:
        ranks.append(0)
    queries = [_with_relevant(rank, max(ranks), k) for rank in ranks]
    values = [asker.once(query).value for query in queries]
    answer_for_three = asker.together(queries[:3])
    for count in (3, len(ranks)):
        answer = asker.together(queries[:count])
        if np.isnan([*values[:3], answer]).any():
            return BatchMean()
        expected = np.nanmean(values[:count])
        if is_sum:
            expected = np.nansum(values[:count]) / 2
        # Each of the answers may be rounded.
        if math.isclose(answer, expected, rel_tol=0, abs_tol=3 * tolerance):
            continue
        if count > 3 and not is_sum and abs(answer - answer_for_three) <= 2 * tolerance:
            return BatchMean(leaves_out_empty=True)
        alone = ", ".join(f"{value:.4f}" for value in values[:count])
        return BatchMean(
            problem=f"The function does not return the mean of several rankings: for two copies of "
            f"each of these it returns {alone}, for all {count} together {answer:.4f}: "
            f"{arguments_text(call.form, *queries[:count])}"
        )
    return BatchMean()


def _with_relevant(relevant_rank: int, size: int, k: int | None) -> Query:
    """Return a ranking in which the document at a rank is the only relevant one."""
    documents = {f"d{rank}": int(rank == relevant_rank) for rank in range(1, size + 1)}
    return Query(in_order(documents), documents, k)
