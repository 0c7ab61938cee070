"""What the Space shows of rankings: the steps of one, its curves, and bars over queries, as data frames.

Each function takes the loaded metric and asks it for every number, so that the page has no
formula of its own but the discount of the rank that a document takes.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import pandas as pd

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
        """The same by the ids of documents, for ties that are ordered by them."""
        scores = {d: s for d, s in zip(self.documents, self.score, strict=True) if s is not None}
        judged = {d: r for d, r in zip(self.documents, self.relevance, strict=True) if r is not None}
        return {"predictions": {"query": scores}, "references": {"query": judged}}

    def given(self, options: dict[str, Any]) -> dict[str, Any]:
        """The inputs in the form that the options need."""
        return self.ids() if options.get("ties") == "docid" else self.inputs


def gains(ndcg: Any, relevance: Sequence[float | None], options: dict[str, Any]) -> list[float]:
    """The gain of each relevance; of one not judged 0."""
    if not relevance:
        return []
    how = {name: value for name, value in options.items() if name in ("gain", "negative_relevance")}
    alone = {"predictions": [[1.0]] * len(relevance), "references": [[each] for each in relevance]}
    values: list[float] = ndcg.compute(**alone, **how, measures="CG", use_aggregator=False)["CG"]
    return values


def _order(ranking: Ranking, gain: Sequence[float], options: dict[str, Any]) -> list[int]:
    """The ranked documents, first to last: those of equal score as the option `ties` says."""
    ties = options.get("ties", "average")
    tie_breaks = {
        "last": lambda at: -at,
        "best": lambda at: -gain[at],
        "worst": lambda at: gain[at],
    }
    places = list(range(len(ranking.score)))
    if ties == "docid":
        places.sort(key=lambda at: ranking.documents[at], reverse=True)
    elif ties in tie_breaks:
        places.sort(key=tie_breaks[ties])
    removed = options.get("judged_only", False)
    ranked = [at for at in places if _score(ranking, at) > -math.inf]
    ranked = [at for at in ranked if not (removed and ranking.relevance[at] is None)]
    return sorted(ranked, key=lambda at: -_score(ranking, at))


def _score(ranking: Ranking, at: int) -> float:
    score = ranking.score[at]
    return -math.inf if score is None else score


def steps(ndcg: Any, ranking: Ranking, options: dict[str, Any], k: int | None) -> pd.DataFrame:
    """How each document contributes to DCG@k, and what the ideal ranking would have had in its place.

    Returns:
        A row per document, the ranked ones first, in order; ``contribution`` adds up to DCG@k,
        ``ideal`` to IDCG@k, and ``loss`` is their difference. Documents that share their ranks
        show all of them, and their mean discount.
    """
    gain = gains(ndcg, ranking.relevance, options)
    order = _order(ranking, gain, options)
    cutoff = len(ranking.score) if k is None else k
    base = options.get("log_base") or 2.0
    discount = [math.log(base) / math.log(rank + 1) * (rank <= cutoff) for rank in range(1, len(ranking.score) + 1)]
    until = [0.0, *accumulate(discount)]
    first = last = list(range(len(order)))
    if options.get("ties", "average") == "average":
        scores = [ranking.score[at] for at in order]
        first = [scores.index(each) for each in scores]
        last = [len(scores) - 1 - scores[::-1].index(each) for each in scores]
    ideal = sorted((g for g, r in zip(gain, ranking.relevance, strict=True) if r is not None), reverse=True)
    ideal += [0.0] * (len(gain) - len(ideal))
    rows = []
    for place, at in enumerate([*order, *(at for at in range(len(gain)) if at not in set(order))]):
        share, rank = 0.0, "not retrieved" if _score(ranking, at) == -math.inf else "removed"
        if place < len(order):
            start, end = first[place], last[place] + 1
            share = (until[end] - until[start]) / (end - start)
            rank = f"{start + 1}" if end - start == 1 else f"{start + 1}–{end}"
        relevance = ranking.relevance[at]
        best = ideal[place] * discount[place]
        judged = "not judged" if relevance is None else f"{relevance:g}"
        row = [rank, ranking.documents[at], judged, gain[at], share, gain[at] * share, best, best - gain[at] * share]
        rows.append(row)
    return pd.DataFrame(rows, columns=STEPS)


def curves(ndcg: Any, ranking: Ranking, options: dict[str, Any]) -> pd.DataFrame:
    """DCG, the ideal DCG and nDCG at every cutoff ``k``."""
    cutoffs = list(range(1, len(ranking.score) + 1))
    how = {**options, "k": cutoffs, "measures": ["DCG", "IDCG", "nDCG"], "use_aggregator": False}
    found = ndcg.compute(**ranking.given(options), **how)
    rows = [[k, *(found[f"{name}@{k}"][0] for name in ("DCG", "IDCG", "nDCG"))] for k in cutoffs]
    return pd.DataFrame(rows, columns=["k", "DCG", "ideal DCG", "nDCG"])


def as_lines(by_cutoff: pd.DataFrame) -> pd.DataFrame:
    """DCG and its ideal, one below the other, for a plot of two lines."""
    lines = by_cutoff.melt("k", ["DCG", "ideal DCG"], "ranking", "DCG of it")
    names = {"DCG": "this ranking", "ideal DCG": "ideal"}
    return lines.assign(ranking=lines["ranking"].map(names)).set_axis(["rank", "ranking", "DCG"], axis=1)


def whole_ranks(lines: pd.DataFrame) -> pd.DataFrame:
    """Few ranks, in the first column, as text: between numbers a plot would put fractions of ranks."""
    name = lines.columns[0]
    return lines if lines[name].max() > 20 else lines.assign(**{name: lines[name].map("{:2d}".format)})


def distribution(values: Sequence[float], bins: int = 20) -> pd.DataFrame:
    """How many queries have which value: intervals as text, lowest first, and a count of each."""
    top = max([1.0, *values])
    bottom = min([0.0, *values])
    width = (top - bottom) / bins
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - bottom) / width))] += 1
    ends = [f"{bottom + width * at:.4g}" for at in range(bins + 1)]
    return pd.DataFrame({"value": [f"{low} – {high}" for low, high in pairwise(ends)], "queries": counts})
