"""A ranking of one query, and what its documents add to its score.

The metric computes every figure; the page holds no formula.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .html import short, span
from .metric import Options, ndcg, tables
from .paste import with_point
from .settings import is_lowest_first, labels_of

MOST_DOCUMENTS = 500
LARGEST = 1e100  # sums of more would not be finite
NUMBER = re.compile(r"(?a)[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
EMPTY_IF = {
    "score": "it was not retrieved",
    "relevance": "it was not judged; for labels, set Gain, as in yes=1, no=0",
}
Row = Sequence[str]  # a document, its relevance and its score, as text


class Document(NamedTuple):
    """A document as the search engine returned it."""

    name: str
    relevance: float | str | None  # a number or a label; None if not judged
    score: float | None  # None if not retrieved


class Step(NamedTuple):
    """A document at its rank, and what it adds to DCG."""

    at: int  # its place in the ranking's documents; -1 in a full ideal
    document: Document
    rank: str  # the rank, or the ranks that tied documents share; empty without a rank
    gain: float
    discount: float
    is_folded: bool = False  # whether it is not drawn until all documents are asked for

    @property
    def added(self) -> float:
        """What the document adds to DCG."""
        return self.gain * self.discount

    @property
    def is_tied(self) -> bool:
        """Whether the document shares its ranks."""
        return "–" in self.rank


@dataclass(frozen=True)
class Ranking:
    """The documents of a query, in the order of a run or of a reader, and how they are scored."""

    documents: tuple[Document, ...]
    options: Options  # of `compute`, with one cutoff
    order: tuple[int, ...] | None = None  # the places of the ranked documents, the best first
    moved: frozenset[int] = frozenset()  # the places of the documents that were moved

    @cached_property
    def sides(self) -> dict[str, Any]:
        """The predictions and the references of the order that is shown."""
        # lists have no ids to order tied documents by
        if self.order is None and self.options["ties"] == "docid":
            return self.by_id
        relevance = [document.relevance for document in self.documents]
        return {"predictions": [self._scores()], "references": [relevance]}

    @property
    def by_id(self) -> dict[str, Any]:
        """The same by the names of documents."""
        retrieved, judged = {}, {}
        for document, score in zip(self.documents, self._scores(), strict=True):
            if score is not None:
                retrieved[document.name] = score
            if document.relevance is not None:
                judged[document.name] = document.relevance
        return {"predictions": {"query": retrieved}, "references": {"query": judged}}

    def _scores(self) -> list[float | None]:
        """Return the scores of the engine; if a reader gave an order, scores in this order.

        Neighbors with equal scores of the engine stay tied where ties are averaged. All other
        settings put tied documents in some order, and the one that is shown replaces it.
        """
        scores = [document.score for document in self.documents]
        if self.order is None:
            return scores
        # documents without a score are nan, so none of them is tied
        compared = np.array(scores, self.options["score_dtype"].replace("given", "float64"))
        can_be_tied = self.options["ties"] == "average"
        step = -1.0
        if is_lowest_first(self.options):
            step = 1.0
        scores = [None] * len(scores)
        score, before = 0.0, math.nan
        for at in self.order:
            if not can_be_tied or compared[at] != before:
                score += step
            scores[at] = score
            before = compared[at]
        return scores

    def with_order(self, order: Iterable[int]) -> "Ranking":
        """Return the same documents in another order, without ties."""
        documents = tuple(document._replace(score=None) for document in self.documents)
        return replace(self, documents=documents, order=tuple(order))

    def is_retrieved(self, at: int) -> bool:
        """Return whether a document was retrieved, if perhaps removed since it was not judged."""
        if self.order is not None:
            return at in self.order
        return self.documents[at].score is not None

    @property
    def scores(self) -> dict[str, float]:
        """The scores by their names."""
        values = ndcg.compute(**self.sides, **self.options, use_aggregator=False)
        return {name: value for name, (value,) in values.items()}

    @cached_property
    def steps(self) -> list[Step]:
        """What the documents add, the ranked ones first, by their ranks."""
        places = {document.name: place for place, document in enumerate(self.documents)}
        # the metric leaves out what was neither retrieved nor judged
        unlisted = dict(enumerate(self.documents))
        steps = []
        for row in ndcg.documents(**self.sides, **self.options).to_pylist():
            # the metric names a document of a list by its place
            at = places.get(row["document"], row["document"])
            rank = ""
            if row["rank"] is not None:
                rank = span(row["rank"], row["last_rank"])
            steps.append(Step(at, unlisted.pop(at), rank, row["gain"], row["discount"]))
        for at, document in unlisted.items():
            steps.append(Step(at, document, "", 0.0, 0.0))
        if self.order is not None:
            # the metric lists tied documents as it likes, the page where the reader put them
            place_of = {at: place for place, at in enumerate(self.order)}
            steps.sort(key=lambda step: (not step.rank, place_of.get(step.at, 0)))
        return steps

    @property
    def ranked(self) -> list[Step]:
        """The documents with a rank."""
        return [step for step in self.steps if step.rank]

    @property
    def unranked(self) -> list[Step]:
        """The documents without a rank: not retrieved, or removed."""
        return [step for step in self.steps if not step.rank]

    @cached_property
    def discounts(self) -> list[float]:
        """The discounts of all ranks, as if there were no cutoff."""
        # the metric says discounts of documents only, so it is asked for a ranking of this size
        size = len(self.documents)
        sides = {"predictions": [list(range(size, 0, -1))], "references": [[1] * size]}
        documents = ndcg.documents(
            **sides, discount=self.options["discount"], log_base=self.options["log_base"]
        )
        discounts: list[float] = documents["discount"].to_pylist()
        return discounts

    @cached_property
    def ideal_sums(self) -> list[float]:
        """The ideal DCG at all cutoffs, from 1 to the number of documents."""
        cutoffs = list(range(1, len(self.documents) + 1))
        options = {**self.options, "k": cutoffs, "measures": "IDCG", "use_aggregator": False}
        return list(chain.from_iterable(ndcg.compute(**self.sides, **options).values()))

    @property
    def ideal_sum(self) -> float:
        """The ideal DCG at the cutoff."""
        return self.ideal_sums[self.depth - 1]

    @property
    def depth(self) -> int:
        """The number of documents that count: up to the cutoff, or all."""
        (cutoff,) = self.options["k"]
        size = len(self.documents)
        return min(cutoff or size, size)

    @cached_property
    def ideal(self) -> list[Step]:
        """The documents of the ideal order; equal ones stay in the order that is shown.

        A full ideal holds no documents in particular: their place is -1.
        """
        members = self._members_of_ideal()
        if self.options["ideal"] == "full":
            highest = self.ideal_sums[0] / self.discounts[0]
            members = [Step(-1, Document("", None, None), "", highest, 0.0)] * len(self.documents)
        discounts = list(self.discounts)
        # documents below the cutoff are drawn too, and add nothing
        discounts[self.depth :] = [0.0] * len(discounts[self.depth :])
        ideal = []
        # an ideal order may have fewer documents than there are ranks
        for rank, (step, discount) in enumerate(zip(members, discounts, strict=False), 1):
            ideal.append(step._replace(rank=f"{rank}", discount=discount))
        return ideal

    def _members_of_ideal(self) -> list[Step]:
        """Return the documents that the ideal order may have, the highest gain first."""
        candidates = self.steps
        if self.options["ideal"] == "retrieved":
            candidates = self.ranked
        members = [step for step in candidates if step.document.relevance is not None]
        members.sort(key=lambda step: -step.gain)
        if self.options["ideal"] == "truncated":
            members = members[: len(self.ranked)]
        return members

    @property
    def worst(self) -> float:
        """The score of the worst order of the ranked documents."""
        lowest_first = sorted(self.ranked, key=lambda step: step.gain)
        (score,) = self.with_order(step.at for step in lowest_first).scores.values()
        return score

    @property
    def estimate(self) -> Any:
        """The score of a report, with the mean of random orders and the range that ties leave."""
        (score,) = ndcg.report(**self.sides, **self.options).scores.values()
        return score


def ranking_of(rows: Sequence[Row], options: Options) -> Ranking:
    """Return the ranking of rows of text.

    Raises:
        ValueError: with the row at fault.
    """
    filled = list(filter(any, rows))
    if not filled:
        raise ValueError("there is no document")
    if len(filled) > MOST_DOCUMENTS:
        raise ValueError(f"{len(filled):,} documents; here at most {MOST_DOCUMENTS} are shown")
    labels = labels_of(options)
    documents: dict[str, Document] = {}
    for line, (cell, relevance, score) in enumerate(filled, 1):
        name = cell or f"document {line}"
        if name in documents:
            raise ValueError(f"document {name!r} is listed twice; name each once")
        read: float | str | None
        if labels is None:
            read = _relevance(relevance, line, name, options)
        else:
            read = _label(relevance, line, labels)
        documents[name] = Document(name, read, _number(score, "score", line))
    return Ranking(tuple(documents.values()), options)


def _relevance(cell: str, line: int, name: str, options: Options) -> float | None:
    relevance = _number(cell, "relevance", line)
    if relevance is not None and relevance < 0 and options["negative_relevance"] == "raise":
        problem = f"row {line} ({name}): relevance {short(relevance)} is negative"
        clip = tables.mark("negative_relevance", "clip")
        raise tables.InputError(f"{problem}; {clip} counts it as 0")
    return relevance


def _label(cell: str, line: int, labels: Any) -> float | str | None:
    if not cell:
        return None
    label: float | str = tables.label_of(cell)
    if label not in dict(labels.gains):
        raise ValueError(f"row {line}: {cell[:40]!r} {labels.unknown(label)}")
    return label


def _number(cell: str, name: str, line: int) -> float | None:
    if not cell:
        return None
    text = with_point(cell)
    if not NUMBER.fullmatch(text) or abs(float(text)) > LARGEST:
        problem = f"must be a number up to {LARGEST:g}; got {cell[:40]!r}"
        raise ValueError(f"row {line}: {name} {problem}; leave it empty if {EMPTY_IF[name]}")
    return float(text)
