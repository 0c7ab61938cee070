"""Further questions to a function, whose answers may contradict the definition that was found.

The random rankings are asked about one at a time, at one cutoff. So a function of several rankings
is also asked about different ones at once, and a function that takes a cutoff about another one.
"""

import math
from typing import NamedTuple

import numpy as np

from ..show.tables import number_text
from .asking import Asker
from .definitions import Answers, Definition, Match
from .forms import arguments_text
from .random_rankings import with_relevant_rank
from .search import usual_options
from .slip_terms import Queries
from .slips import slip_named


class Contradiction(NamedTuple):
    """What shows that a function does not compute the definition that its answers agree with."""

    agreeing: str  # when they agree, such as "at k=10"
    differing: str  # when they do not, in a sentence
    arguments: str  # the rankings on which they do not, to paste


def of_different_rankings(asker: Asker, tolerance: float, *, is_sum: bool) -> Contradiction | None:
    """Compare the answer for different rankings with the mean of those for two copies of each.

    Nothing contradicts if the function returns the value of each ranking.
    """
    call = asker.call
    k = call.k
    if k is not None and call.cutoff is not None:
        k = min(k, 2)  # so that the rankings are short
    # The relevant document is the first, the second, or below the cutoff; or there is none.
    ranks = [1, 2, (k or 2) + 1]
    if call.shows.several and not asker.leaves_out_empty:
        ranks.append(0)
    queries = [with_relevant_rank(rank, max(ranks), k) for rank in ranks]
    values = [asker.once(query).value for query in queries]
    counted = [value for value in values if not math.isnan(value)]
    expected = math.fsum(counted) / (2 if is_sum else max(1, len(counted)))
    answer = asker.together(queries)
    # Each of the answers may be rounded.
    if math.isnan(answer) or abs(answer - expected) <= 3 * tolerance:
        return None
    return Contradiction(
        "for two copies of a ranking",
        "The function does not return the mean of several rankings: for two copies of each of "
        f"these it returns {', '.join(map(number_text, values))}, for all of them together "
        f"{answer:.4f}.",
        arguments_text(call.form, *queries),
    )


def at_another_cutoff(
    asker: Asker, match: Match, first: Answers, tolerance: float
) -> Contradiction | None:
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
    differing = np.flatnonzero(known & (np.abs(values - expected) > tolerance)).tolist()
    if not differing:
        return None
    row = min(differing, key=lambda row: len(queries.changed(())[row].run))
    return Contradiction(
        f"at k={call.k}",
        f"At k={k}, the function does not compute what it does at k={call.k}: for this ranking it "
        f"returns {values[row]:.4f} instead of {expected[row]:.4f}.",
        arguments_text(call.form, queries.changed(())[row]),
    )
