"""Find what the queries on which two definitions of nDCG differ have in common."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from ..inputs.rankings import Rankings
from ..measure.ties import Mask

SHOWN_PROPERTIES = 2  # other properties often follow from these
TELLING = 0.05  # the highest probability that so many queries have a property by chance


def properties_of(rankings: Rankings, k: int | None) -> dict[str, Mask]:
    """Return which queries have each property that definitions of nDCG treat differently.

    >>> rankings = Rankings(np.array([1, 2, 0]), np.array([0.9, 0.9, 0.1]), np.array([0, 2, 3]))
    >>> [name for name, has in properties_of(rankings, None).items() if has.tolist() == [True, False]]
    ['documents with equal scores', 'grades of relevance', 'a relevance above 1']
    """
    counts, lacking = rankings.counts(), rankings.lacking()
    retrieved, judged = counts["retrieved"], counts["judged"]
    query = np.repeat(np.arange(rankings.queries), np.diff(rankings.offsets))
    known = np.ones(len(query), bool) if rankings.judged is None else rankings.judged
    relevance = np.where(known, rankings.relevance, 0)
    highest, lowest = np.full(rankings.queries, -np.inf), np.full(rankings.queries, np.inf)
    relevant = relevance > 0
    np.maximum.at(highest, query[relevant], relevance[relevant])
    np.minimum.at(lowest, query[relevant], relevance[relevant])
    properties = {
        "no place in the run": lacking,
        "no retrieved documents": (retrieved == 0) & ~lacking,
        "no relevant documents": counts["relevant"] == 0,
        "documents with equal scores": np.bincount(
            rankings.queries_of_ties(), minlength=rankings.queries
        )
        > 0,
        "unjudged documents": retrieved > counts["retrieved and judged"],
        "judged documents that were not retrieved": judged > counts["retrieved and judged"],
        "a negative relevance": np.bincount(query, relevance < 0, rankings.queries) > 0,
        "grades of relevance": highest > lowest,
        "a relevance above 1": highest > 1,
    }
    if k is not None:
        properties["more retrieved documents than the cutoff"] = retrieved > k
        properties["fewer retrieved documents than the cutoff"] = (retrieved < k) & (retrieved > 0)
        properties["more relevant documents than the cutoff"] = counts["relevant"] > k
    return properties


def in_common(
    properties: Mapping[str, Mask], differing: Mask, noun: str, nearest: str
) -> Iterator[str]:
    """Yield sentences on the properties of queries that differ from the nearest definition, the most telling first.

    Properties and those that differ are masks of the queries, which `noun` names.
    """
    own, other = int(np.count_nonzero(differing)), int(np.count_nonzero(~differing))
    telling = []
    for name, having in properties.items():
        with_it, others = (
            int(np.count_nonzero(having & differing)),
            int(np.count_nonzero(having & ~differing)),
        )
        chance = _chance_of_as_many(with_it, own, with_it + others, own + other)
        if 2 * with_it > own and chance <= TELLING:
            have = f"{with_it:,} of the {own:,} {noun} that differ from {nearest} have {name}"
            telling.append((chance, f"{have}; of the {other:,} that agree, {others:,} do."))
    yield from (text for _, text in sorted(telling, key=lambda each: each[0])[:SHOWN_PROPERTIES])


def _chance_of_as_many(seen: int, drawn: int, having: int, of_all: int) -> float:
    """Return the probability that at least as many have a property in a random sample of the same size.

    >>> round(_chance_of_as_many(2, 2, 5, 10), 4)  # 5/10 of 4/9
    0.2222
    """

    def log_ways(count: int, chosen: int) -> float:
        return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)

    lacking = of_all - having
    numbers = range(max(seen, drawn - lacking), min(drawn, having) + 1)
    every_way = log_ways(of_all, drawn)
    return math.fsum(
        math.exp(log_ways(having, each) + log_ways(lacking, drawn - each) - every_way)
        for each in numbers
    )
