"""Find what the queries on which two definitions of nDCG differ have in common."""

import math
from collections.abc import Iterator, Mapping
from operator import itemgetter

import numpy as np

from ..inputs.rankings import Rankings
from ..measure.ties import Floats, Mask
from .evidence import tells

SHOWN_PROPERTIES = 2  # other properties often follow from these
TELLING = 0.05  # the highest probability that so many queries have a property by chance


def properties_of(rankings: Rankings, k: int | None) -> dict[str, Mask]:
    """Return which queries have the properties that definitions of nDCG treat differently.

    >>> rankings = Rankings(np.array([1, 2, 0]), np.array([0.9, 0.9, 0.1]), np.array([0, 2, 3]))
    >>> properties = properties_of(rankings, None)
    >>> [name for name, has in properties.items() if has.tolist() == [True, False]]
    ['documents with equal scores', 'grades of relevance', 'a relevance above 1']
    """
    counts, lacking = rankings.counts(), rankings.lacking()
    retrieved, judged = counts["retrieved"], counts["judged"]
    query = np.repeat(np.arange(rankings.queries), np.diff(rankings.offsets))
    _, is_judged = rankings.sides()
    relevance = np.where(is_judged, rankings.relevance, 0)
    highest = np.zeros(rankings.queries)
    np.maximum.at(highest, query, relevance)
    lower_grades = (relevance > 0) & (relevance < highest[query])
    ties = np.bincount(rankings.queries_of_ties(), minlength=rankings.queries)
    properties = {
        "no place in the run": lacking,
        "no retrieved documents": (retrieved == 0) & ~lacking,
        "no relevant documents": counts["relevant"] == 0,
        "documents with equal scores": ties > 0,
        "unjudged documents": retrieved > counts["retrieved and judged"],
        "judged documents that were not retrieved": judged > counts["retrieved and judged"],
        "a negative relevance": rankings.sums(relevance < 0) > 0,
        "grades of relevance": rankings.sums(lower_grades) > 0,
        "a relevance above 1": highest > 1,
    }
    if k is not None:
        properties["more retrieved documents than the cutoff"] = retrieved > k
        properties["fewer retrieved documents than the cutoff"] = (retrieved < k) & (retrieved > 0)
        properties["more relevant documents than the cutoff"] = counts["relevant"] > k
    return properties


def in_common(
    properties: Mapping[str, Mask], differing: Mask, values: Floats, nearest: str
) -> Iterator[str]:
    """Yield sentences on the properties of queries that differ from the nearest definition.

    The most telling come first. Properties and `differing` are masks of the queries. Queries that
    agree on a value that tells nothing are left out.
    """
    compared = differing | tells(values)
    differ = int(np.count_nonzero(differing))
    agree = int(np.count_nonzero(compared)) - differ
    telling = []
    for name, having in properties.items():
        have = int(np.count_nonzero(having & compared))
        differ_with = int(np.count_nonzero(having & differing))
        chance = _chance_of_as_many(differ_with, differ, have, differ + agree)
        if 2 * differ_with > differ and chance <= TELLING:
            sentence = (
                f"{differ_with:,} of the {differ:,} queries that differ from {nearest} have "
                f"{name}; of the {agree:,} that agree on a value other than 0 and 1, "
                f"{have - differ_with:,} do."
            )
            telling.append((chance, sentence))
    telling.sort(key=itemgetter(0))
    for _, sentence in telling[:SHOWN_PROPERTIES]:
        yield sentence


def _chance_of_as_many(seen: int, drawn: int, having: int, total: int) -> float:
    """Return the probability that at least as many of a random sample have a property.

    >>> round(_chance_of_as_many(2, 2, 5, 10), 4)  # 5/10 of 4/9
    0.2222
    """

    def log_ways(count: int, chosen: int) -> float:
        return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)

    # the upper tail of the hypergeometric distribution
    lacking = total - having
    log_samples = log_ways(total, drawn)
    probabilities = []
    for count in range(max(seen, drawn - lacking), min(drawn, having) + 1):
        log_ways_to_draw = log_ways(having, count) + log_ways(lacking, drawn - count)
        probabilities.append(math.exp(log_ways_to_draw - log_samples))
    return math.fsum(probabilities)
