"""What the page shows of rankings, as numbers: the steps of one, its curves, and counts of queries.

Every number is asked of the metric: the page has no formula of its own.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .metric import ndcg

STEPS = ["rank", "document", "relevance", "gain", "discount", "contribution", "ideal", "loss"]


class Ranking(NamedTuple):
    """One query's documents, in the order in which they were given.

    Attributes:
        documents: what people call them.
        relevance: None for one that was not judged.
        score: None for one that was not retrieved.
    """

    documents: list[str]
    relevance: list[float | None]
    score: list[float | None]

    @property
    def inputs(self) -> dict[str, Any]:
        """The arguments of `compute` for this one query."""
        return {"predictions": [self.score], "references": [self.relevance]}

    def ids(self) -> dict[str, Any]:
        """Return the same by the ids of documents, for ties that are ordered by them."""
        scores = {d: s for d, s in zip(self.documents, self.score, strict=True) if s is not None}
        judged = {d: r for d, r in zip(self.documents, self.relevance, strict=True) if r is not None}
        return {"predictions": {"query": scores}, "references": {"query": judged}}

    def compared(self, options: dict[str, Any]) -> "Ranking":
        """Return the same with scores in the type in which the options compare them."""
        if options.get("score_dtype", "given") == "given":
            return self
        kind = np.dtype(options["score_dtype"]).type
        return self._replace(score=[None if each is None else float(kind(each)) for each in self.score])

    def given(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the inputs in the form that the options need."""
        return self.ids() if options.get("ties") == "docid" else self.inputs

    def sums(self, measure: str, options: dict[str, Any]) -> list[float]:
        """Return a measure at every cutoff, from rank 1 to the number of documents."""
        how = {**options, "k": list(range(1, len(self.score) + 1)), "measures": measure, "use_aggregator": False}
        return [value for (value,) in ndcg.compute(**self.given(options), **how).values()]


def gains(relevance: Sequence[float | None], options: dict[str, Any]) -> list[float]:
    """Return the gain of each relevance; of one not judged 0."""
    how = {name: value for name, value in options.items() if name in ("gain", "negative_relevance")}
    alone = {"predictions": [[1.0]] * len(relevance), "references": [[each] for each in relevance]}
    values: list[float] = ndcg.compute(**alone, **how, measures="CG", use_aggregator=False)["CG"]
    return values


def ranked_documents(ranking: Ranking, gain: Sequence[float], options: dict[str, Any]) -> list[int]:
    """Return the documents that have a rank, in order; those that share their ranks as in the input.

    The metric is asked with a gain for each that no other has, and that orders them as their own
    gains do: from one rank to the next CG grows by the gain of the document there.
    """
    ties = options.get("ties", "average")
    by_gain = sorted(range(len(gain))[:: -1 if ties == "best" else 1], key=gain.__getitem__)
    unique: list[float | None] = [0.0] * len(gain)
    removed = options.get("judged_only", False)
    for label, at in enumerate(by_gain, 1):
        unique[at] = None if removed and ranking.relevance[at] is None else label
    how = {"judged_only": removed, "ties": "first" if ties == "average" else ties}
    growth = _growth(ranking.compared(options)._replace(relevance=unique).sums("CG", how))
    return [by_gain[int(label) - 1] for label in growth if label]


def _growth(sums: Sequence[float]) -> list[float]:
    return [after - before for before, after in pairwise([0.0, *sums])]


def steps(ranking: Ranking, options: dict[str, Any], k: int | None) -> pd.DataFrame:
    """Return how each document contributes to DCG@k, and what the ideal ranking would have had in its place.

    Returns:
        A row per document, the ranked ones first, in order; ``contribution`` adds up to DCG@k,
        ``ideal`` to IDCG@k, and ``loss`` is their difference. Documents that share their ranks
        show all of them, and their mean discount.
    """
    size = len(ranking.score)
    gain = gains(ranking.relevance, options)
    order = ranked_documents(ranking, gain, options)
    # the ideal DCG of documents that all have a gain of 1 is the sum of the discounts
    base = {name: options.get(name) for name in ("discount", "log_base")}
    discounts = Ranking(ranking.documents, [1.0] * size, [1.0] * size).sums("IDCG", base)
    cutoff = size if k is None else min(k, size)
    until = [0.0, *(discounts[min(rank, cutoff) - 1] for rank in range(1, size + 1))]
    ideal = _growth(ranking.sums("IDCG", options))
    compared = ranking.compared(options).score
    scores = [compared[at] for at in order]
    rows = []
    for place, at in enumerate([*order, *(at for at in range(size) if at not in set(order))]):
        share, rank = 0.0, "not retrieved" if ranking.score[at] is None else "removed"
        if place < len(order):
            start, end = place, place + 1
            if options.get("ties", "average") == "average":
                start = scores.index(scores[place])
                end = start + scores.count(scores[place])
            share = (until[end] - until[start]) / (end - start)
            rank = f"{start + 1}" if end - start == 1 else f"{start + 1}–{end}"
        relevance = ranking.relevance[at]
        judged = "not judged" if relevance is None else f"{relevance:g}"
        best = ideal[place] if place < cutoff else 0.0
        row = [rank, ranking.documents[at], judged, gain[at], share, gain[at] * share, best, best - gain[at] * share]
        rows.append(row)
    return pd.DataFrame(rows, columns=STEPS)


def best_order(ranking: Ranking, ranks: pd.DataFrame, options: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Return the documents of the ideal order: name, gain, and what it adds to IDCG, as `ranks` has it.

    A full ideal is of no documents in particular: their names are empty.
    """
    documents = zip(ranking.documents, ranking.relevance, ranking.score, strict=True)
    of_retrieved = options["ideal"] == "retrieved"
    in_ideal = {d for d, r, s in documents if r is not None and (s is not None or not of_retrieved)}
    rows = ranks[["document", "gain"]].itertuples(index=False)
    best = sorted(((d, gain) for d, gain in rows if d in in_ideal), key=lambda each: -each[1])
    if options["ideal"] == "full" and best:
        best = [("", best[0][1])] * int((ranks["ideal"] > 0).sum())
    return [(d, gain, added) for (d, gain), added in zip(best, ranks["ideal"], strict=False)]


def scores_of(rankings: Sequence[Ranking], options: dict[str, Any]) -> list[float]:
    """Return the score of each of several rankings, at one cutoff."""
    given = [each.given(options) for each in rankings]
    if options.get("ties") == "docid":
        inputs: dict[str, Any] = {
            side: {f"{at}": each[side]["query"] for at, each in enumerate(given)} for side in given[0]
        }
    else:
        inputs = {side: [each[side][0] for each in given] for side in given[0]}
    (scores,) = ndcg.compute(**inputs, **options, use_aggregator=False).values()
    found: list[float] = scores
    return found


def curves(ranking: Ranking, options: dict[str, Any]) -> pd.DataFrame:
    """Return DCG, the ideal DCG and nDCG at every cutoff ``k``."""
    columns = {"DCG": "DCG", "ideal DCG": "IDCG", "nDCG": "nDCG"}
    sums = {name: ranking.sums(measure, options) for name, measure in columns.items()}
    return pd.DataFrame({"k": range(1, len(ranking.score) + 1), **sums})


def distribution(values: Sequence[float], bins: int = 20) -> tuple[list[int], list[float]]:
    """Return how many values are in each of equal intervals from 0 or below to 1 or above, and their edges."""
    counts, edges = np.histogram(values, np.linspace(min([0.0, *values]), max([1.0, *values]), bins + 1))
    return counts.tolist(), edges.tolist()
