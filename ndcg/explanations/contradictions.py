"""Further questions to a function, whose answers may contradict the definition that was found.

The random rankings are asked about one at a time, at one cutoff. So a function of several rankings
is also asked about different ones at once, and a function that takes a cutoff about another one.
"""

import math
from typing import NamedTuple

import numpy as np

from .asking import Asker
from .definitions import Answers, Definition, Match
from .forms import arguments_text
from .search import usual_options
from .slip_terms import Queries, Query, in_order
from .slips import slip_named


class Contradiction(NamedTuple):
    """What shows that a function does not compute the definition that its answers agree with."""

    agreeing: str  # when they agree, such as "at k=10"
    differing: str  # when they do not, in a sentence
    arguments: str  # the rankings on which they do not, to paste


class BatchMean(NamedTuple):
    """How a function joins the values of several rankings."""

    # whether a ranking without relevant documents does not count, although two copies have a score
    leaves_out_empty: bool = False
    contradiction: Contradiction | None = None  # if it is not the mean, as far as this can be told


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
        contradiction = Contradiction(
            "for two copies of a ranking",
            "The function does not return the mean of several rankings: for two copies of each of "
            f"these it returns {alone}, for all {count} together {answer:.4f}.",
            arguments_text(call.form, *queries[:count]),
        )
        return BatchMean(contradiction=contradiction)
    return BatchMean()


def _with_relevant(relevant_rank: int, size: int, k: int | None) -> Query:
    """Return a ranking in which the document at a rank is the only relevant one."""
    documents = {f"d{rank}": int(rank == relevant_rank) for rank in range(1, size + 1)}
    return Query(in_order(documents), documents, k)


def at_another_cutoff(asker: Asker, match: Match, first: Answers) -> Contradiction | None:
    """Compare the answers for the first rankings at another cutoff with a definition."""
    call = asker.call
    if call.k is None or call.cutoff is None:
        return None
    k = 2 if call.k == 1 else call.k // 2
    queries = Queries(query._replace(k=k) for query in first.queries.changed(()))
    values = np.array([asker.once(query).value for query in queries.changed(())])
    slips = tuple(map(slip_named, match.slips))
    definition = Definition(usual_options(match.convention), slips, match.factor)
    expected = definition.scores(queries)
    # It may refuse this cutoff. Ties may have any order.
    known = np.isfinite(values - expected) & ~definition.tied(queries)
    differing = np.flatnonzero(known & (np.abs(values - expected) > first.tolerance)).tolist()
    if not differing:
        return None
    row = min(differing, key=lambda row: len(queries.changed(())[row].run))
    return Contradiction(
        f"at k={call.k}",
        f"At k={k}, the function does not compute what it does at k={call.k}: for this ranking it "
        f"returns {values[row]:.4f} instead of {expected[row]:.4f}.",
        arguments_text(call.form, queries.changed(())[row]),
    )
