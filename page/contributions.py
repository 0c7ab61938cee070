"""What each document of a ranking adds to DCG: the metric computes every figure, the page has no formula of its own."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd

from .choices import shown_relevance
from .metric import ndcg

STEPS = ["rank", "document", "relevance", "gain", "discount", "contribution", "ideal", "loss"]


class Ranking(NamedTuple):
    """The documents of one query, in the order of the input."""

    documents: list[str]
    relevance: list[float | str | None]  # a number or a label; None if not judged
    score: list[float | None]  # None if not retrieved

    @property
    def inputs(self) -> dict[str, Any]:
        """The arguments of `compute` for this one query."""
        return {"predictions": [self.score], "references": [self.relevance]}

    def ids(self) -> dict[str, Any]:
        """Return the same by the ids of documents, for ties that are ordered by them."""
        scores = {d: s for d, s in zip(self.documents, self.score, strict=True) if s is not None}
        judged = {
            d: r for d, r in zip(self.documents, self.relevance, strict=True) if r is not None
        }
        return {"predictions": {"query": scores}, "references": {"query": judged}}

    def given(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the inputs in the form that the options need."""
        return self.ids() if options.get("ties") == "docid" else self.inputs

    def each_once(self, options: dict[str, Any]) -> "Ranking":
        """Return the ranking with each document once, at its best rank."""
        sign = -1.0 if options["score_order"] == "ascending" else 1.0
        worth = [-math.inf if each is None else sign * each for each in self.score]
        best: dict[str, int] = {}
        for at, document in enumerate(self.documents):
            before = best.setdefault(document, at)
            if self.relevance[at] != self.relevance[before]:
                raise ValueError(f"Document {document!r} has two relevances; give it one.")
            if worth[at] > worth[before] or (
                worth[at] == worth[before] and options["ties"] == "last"
            ):
                best[document] = at

        def kept(column: list[Any]) -> list[Any]:
            return [column[at] for at in sorted(best.values())]

        return Ranking(kept(self.documents), kept(self.relevance), kept(self.score))

    def reordered(
        self, ranked: Sequence[str], missed: Sequence[str], score_order: str = "descending"
    ) -> "Ranking":
        """Return the documents in another order.

        The scores stay where they were: the first document gets the highest, or the lowest in ascending order. One that
        was not retrieved before gets a score between its neighbors'. Documents that are not named keep their scores.
        """
        sign = -1.0 if score_order == "ascending" else 1.0
        relevance = dict(zip(self.documents, self.relevance, strict=True))
        score = dict(zip(self.documents, self.score, strict=True))
        named = {*ranked, *missed}
        if len(named) < len(ranked) + len(missed) or not named <= set(self.documents):
            raise ValueError("The table has other documents now; move the cards again.")
        known = [each for each in ranked if score[each] is not None]
        best_first = sorted((sign * (score[each] or 0.0) for each in known), reverse=True)
        given = dict(zip(known, best_first, strict=True))
        above = None
        for place, document in enumerate(ranked):
            if document not in given:
                below = next((given[each] for each in ranked[place:] if each in given), None)
                ends = 1.0 if above is None else above - 1
                given[document] = (
                    ends if below is None else below + 1 if above is None else (above + below) / 2
                )
            above = given[document]
        kept = {each: score[each] for each in self.documents if each not in named}
        scores = {
            **{each: sign * given[each] + 0.0 for each in ranked},
            **kept,
            **dict.fromkeys(missed),
        }
        return Ranking([*scores], [relevance[each] for each in scores], [*scores.values()])

    def ideal(self, options: dict[str, Any]) -> list[float]:
        """Return what the ideal ranking adds at each rank, from 1 to the number of documents."""
        how = {
            **options,
            "k": list(range(1, len(self.score) + 1)),
            "measures": "IDCG",
            "use_aggregator": False,
        }
        sums = [value for (value,) in ndcg.compute(**self.given(options), **how).values()]
        return [after - before for before, after in pairwise([0.0, *sums])]


def steps(ranking: Ranking, options: dict[str, Any], k: int | None) -> pd.DataFrame:
    """Return what each document adds to DCG@k, the ranked ones first, and what the ideal ranking adds at its place.

    Documents that share their ranks show all of them, and their mean discount.
    """
    found = ndcg.documents(**ranking.given(options), **{**options, "k": k}).to_pylist()
    for row in found:
        row["document"] = (
            ranking.documents[row["document"]]
            if isinstance(row["document"], int)
            else row["document"]
        )
    others = [each for each in ranking.documents if each not in {row["document"] for row in found}]
    cutoff = math.inf if k is None else k
    retrieved = dict(zip(ranking.documents, ranking.score, strict=True))
    relevance = dict(zip(ranking.documents, ranking.relevance, strict=True))
    rows: list[list[Any]] = []
    nothing = {"rank": None, "gain": 0.0, "discount": 0.0}
    for row, best in zip(
        [*found, *({**nothing, "document": each} for each in others)],
        ranking.ideal(options),
        strict=True,
    ):
        rank = "not retrieved" if retrieved[row["document"]] is None else "removed"
        if row["rank"] is not None:
            rank = (
                f"{row['rank']}"
                if row["rank"] == row["last_rank"]
                else f"{row['rank']}–{row['last_rank']}"
            )
        grade = relevance[row["document"]]
        judged = "not judged" if grade is None else shown_relevance(grade)
        added, best = row["gain"] * row["discount"], best if len(rows) < cutoff else 0.0
        rows.append(
            [rank, row["document"], judged, row["gain"], row["discount"], added, best, best - added]
        )
    return pd.DataFrame(rows, columns=STEPS)


def place_discounts(ranks: pd.DataFrame, options: dict[str, Any], k: int | None) -> list[float]:
    """Return the discount of each place of a list: of the ranks as `steps` has them, then of those after them."""
    how = {name: options.get(name) for name in ("discount", "log_base")}
    places = {"predictions": [list(range(len(ranks), 0, -1))], "references": [[1] * len(ranks)]}
    ranked = [row.discount for row in ranks.itertuples() if row.rank[0].isdigit()]
    return [*ranked, *ndcg.documents(**places, **how, k=k)["discount"].to_pylist()[len(ranked) :]]


def best_order(
    ranking: Ranking, ranks: pd.DataFrame, options: dict[str, Any]
) -> list[tuple[str, float, float]]:
    """Return the documents of the ideal order: name, gain, and what it adds to IDCG, as `ranks` has it.

    Documents of the same gain are in the order of their names, so that no move of a card moves them. A full ideal is
    of no documents in particular: their names are empty.
    """
    documents = zip(ranking.documents, ranking.relevance, ranking.score, strict=True)
    of_retrieved = options["ideal"] == "retrieved"
    in_ideal = {d for d, r, s in documents if r is not None and (s is not None or not of_retrieved)}
    rows = ranks[["document", "gain"]].itertuples(index=False)
    best = sorted(
        ((d, gain) for d, gain in rows if d in in_ideal),
        key=lambda each: (-each[1], len(each[0]), each[0]),
    )
    if options["ideal"] == "full" and best:
        best = [("", best[0][1])] * int((ranks["ideal"] > 0).sum())
    return [(d, gain, added) for (d, gain), added in zip(best, ranks["ideal"], strict=False)]


def scores_of(rankings: Sequence[Ranking], options: dict[str, Any]) -> list[float]:
    """Return the score of each of several rankings, at one cutoff."""
    given = [each.given(options) for each in rankings]
    if options.get("ties") == "docid":
        inputs: dict[str, Any] = {
            side: {f"{at}": each[side]["query"] for at, each in enumerate(given)}
            for side in given[0]
        }
    else:
        inputs = {side: [each[side][0] for each in given] for side in given[0]}
    (scores,) = ndcg.compute(**inputs, **options, use_aggregator=False).values()
    found: list[float] = scores
    return found
