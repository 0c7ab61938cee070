"""A ranking of one query, and what each document adds to its score.

The metric computes every figure; the page holds no formula.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .html import short, span
from .metric import ndcg, tables
from .paste import with_point
from .settings import LABELS, WORDS, labels_of

MOST_DOCUMENTS = 500
LARGEST = 1e100  # sums of more would not be finite
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

    at: int  # the place of the document in the ranking's documents
    ranks: tuple[int, int] | None  # the first and the last rank that it shares; None without a rank
    gain: float
    discount: float

    @property
    def added(self) -> float:
        """What the document adds to DCG."""
        return self.gain * self.discount

    @property
    def rank(self) -> str:
        """The rank, or the ranks that tied documents share, as text."""
        if self.ranks is None:
            return ""
        return span(*self.ranks)


class Ranking(NamedTuple):
    """The documents of a query, and their order if a reader has moved some of them."""

    documents: tuple[Document, ...]
    order: tuple[int, ...] | None = None  # the places of the ranked documents, the best first
    moved: frozenset[int] = frozenset()  # the places of the documents that were moved

    def given(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of `compute` for the order that is shown."""
        # lists have no ids to order tied documents by
        if self.order is None and options["ties"] == "docid":
            return self.by_id(options)
        relevance = [document.relevance for document in self.documents]
        return {"predictions": [self._scores(options)], "references": [relevance]}

    def by_id(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the same by the names of documents."""
        retrieved, judged = {}, {}
        for document, score in zip(self.documents, self._scores(options), strict=True):
            if score is not None:
                retrieved[document.name] = score
            if document.relevance is not None:
                judged[document.name] = document.relevance
        return {"predictions": {"query": retrieved}, "references": {"query": judged}}

    def _scores(self, options: Mapping[str, Any]) -> list[float | None]:
        """Return the scores of the engine; if a reader gave an order, scores in this order.

        Neighbors with equal scores of the engine stay tied where ties are averaged. All other
        settings put tied documents in some order, and the one that is shown replaces it.
        """
        if self.order is None:
            return [document.score for document in self.documents]
        step = 1.0 if options["score_order"] == "ascending" else -1.0
        scores: list[float | None] = [None] * len(self.documents)
        score, before = 0.0, None
        for at in self.order:
            compared = self.compared_score(at, options)
            # documents that were not retrieved have equal scores, none, and are not tied
            can_be_tied = options["ties"] == "average" and compared is not None
            if not can_be_tied or compared != before:
                score += step
            scores[at] = score
            before = compared
        return scores

    def compared_score(self, at: int, options: Mapping[str, Any]) -> float | None:
        """Return the score of a document in the type in which scores are compared."""
        score = self.documents[at].score
        if score is None or options["score_dtype"] != "float32":
            return score
        return float(np.float32(score))

    def with_order(self, order: Iterable[int]) -> "Ranking":
        """Return the same documents in another order, without ties."""
        documents = [document._replace(score=None) for document in self.documents]
        return Ranking(tuple(documents), tuple(order))


def scores_by_name(ranking: Ranking, options: Mapping[str, Any]) -> dict[str, float]:
    """Return the scores of a ranking by their names."""
    values = ndcg.compute(**ranking.given(options), **options, use_aggregator=False)
    return {name: value for name, (value,) in values.items()}


def steps_of(ranking: Ranking, options: Mapping[str, Any]) -> list[Step]:
    """Return what the documents add, the ranked ones first, by their ranks."""
    places: dict[Any, int] = {}
    for place, document in enumerate(ranking.documents):
        # the metric names a document of a list by its place
        places[place] = places[document.name] = place
    steps = []
    listed = set()
    for row in ndcg.documents(**ranking.given(options), **options).to_pylist():
        ranks, discount = None, 0.0
        if row["rank"] is not None:
            ranks, discount = (row["rank"], row["last_rank"]), row["discount"]
        steps.append(Step(places[row["document"]], ranks, row["gain"], discount))
        listed.add(steps[-1].at)
    missing = [at for at in range(len(ranking.documents)) if at not in listed]
    return [*steps, *(Step(at, None, 0.0, 0.0) for at in missing)]


def by_rank(steps: Iterable[Step]) -> tuple[list[Step], list[Step]]:
    """Return the steps of documents with a rank, and the others."""
    ranked, others = [], []
    for step in steps:
        if step.ranks is None:
            others.append(step)
        else:
            ranked.append(step)
    return ranked, others


def discounts_of(size: int, options: Mapping[str, Any]) -> list[float]:
    """Return the discount of each rank, as if there were no cutoff."""
    # the metric says discounts of documents only, so it is asked for a ranking of this size
    places = {"predictions": [list(range(size, 0, -1))], "references": [[1] * size]}
    curve = {name: options[name] for name in ("discount", "log_base")}
    discounts: list[float] = ndcg.documents(**places, **curve)["discount"].to_pylist()
    return discounts


def ideal_sums(ranking: Ranking, options: Mapping[str, Any]) -> list[float]:
    """Return the ideal DCG at each cutoff, from 1 to the number of documents."""
    cutoffs = list(range(1, len(ranking.documents) + 1))
    sums = ndcg.compute(
        **ranking.given(options), **{**options, "k": cutoffs}, measures="IDCG", use_aggregator=False
    )
    return [value for (value,) in sums.values()]


def ideal_steps(ranking: Ranking, steps: Sequence[Step], options: Mapping[str, Any]) -> list[Step]:
    """Return the documents of the ideal order; equal ones stay in the order that is shown.

    A full ideal holds no documents in particular: their place is -1.
    """
    discounts = discounts_of(len(ranking.documents), options)
    (cutoff,) = options["k"]
    if cutoff is not None:
        # documents below the cutoff are drawn too, and add nothing
        discounts[cutoff:] = [0.0] * len(discounts[cutoff:])
    if options["ideal"] == "full":
        highest = ideal_sums(ranking, options)[0] / discounts[0]
        members = [Step(-1, None, highest, 0.0) for _ in discounts]
    else:
        members = _in_ideal(ranking, steps, options)
    # an ideal order may have fewer documents than there are ranks
    pairs = zip(members, discounts, strict=False)
    ideal = []
    for rank, (step, discount) in enumerate(pairs, 1):
        ideal.append(Step(step.at, (rank, rank), step.gain, discount))
    return ideal


def _in_ideal(ranking: Ranking, steps: Sequence[Step], options: Mapping[str, Any]) -> list[Step]:
    """Return the documents that the ideal order may have, the highest gain first."""
    ranked, others = by_rank(steps)
    candidates = [*ranked, *others]
    if options["ideal"] == "retrieved":
        candidates = ranked
    members = [step for step in candidates if ranking.documents[step.at].relevance is not None]
    members.sort(key=lambda step: -step.gain)
    if options["ideal"] == "truncated":
        members = members[: len(ranked)]
    return members


class Marks(NamedTuple):
    """Where a score stands: between the worst order, random orders and the best."""

    score: float
    worst: float
    random: float
    tie_range: tuple[float, float] | None  # the scores of the worst and the best order of ties


def marks_of(ranking: Ranking, steps: Sequence[Step], options: Mapping[str, Any]) -> Marks:
    """Return the score of a ranking, and the scores of other orders of its ranked documents."""
    ((_, score),) = ndcg.report(**ranking.given(options), **options).scores.items()
    ranked, _ = by_rank(steps)
    lowest_first = sorted(ranked, key=lambda step: step.gain)
    worst = ranking.with_order(step.at for step in lowest_first)
    (lowest,) = scores_by_name(worst, options).values()
    tie_range = None
    if score.tied:
        tie_range = (score.worst, score.best)
    return Marks(score.value, lowest, score.random_order, tie_range)


def ranking_of(rows: Sequence[Row], options: Mapping[str, Any]) -> Ranking:
    """Return the ranking of rows of text; each document is listed once.

    Raises:
        ValueError: with the row at fault.
    """
    filled = [row for row in rows if any(row)]
    if not filled:
        raise ValueError("there is no document")
    if len(filled) > MOST_DOCUMENTS:
        raise ValueError(f"{len(filled):,} documents; here at most {MOST_DOCUMENTS} are shown")
    labels = labels_of(options)
    documents = []
    for line, (name, relevance, score) in enumerate(filled, 1):
        document = Document(
            name or f"document {line}",
            _relevance(relevance, line, labels),
            _number(score, "score", line),
        )
        documents.append(document)
    _refuse_negative(documents, options)
    return Ranking(tuple(_without_repeats(documents, options)))


def _relevance(cell: str, line: int, labels: Any) -> float | str | None:
    if labels is None or not cell:
        return _number(cell, "relevance", line)
    label: float | str = tables.label_of(cell)
    if label not in dict(labels.gains):
        raise ValueError(f"row {line}: {cell[:40]!r} {labels.unknown(label)}")
    return label


def _number(cell: str, name: str, line: int) -> float | None:
    if not cell:
        return None
    here = f"row {line}: {name} {cell[:40]!r}"
    try:
        value = float(with_point(cell))
        # float reads 1_000 and the digits of other scripts too
        is_plain = cell.isascii() and "_" not in cell
    except ValueError:
        is_plain = False
    if not is_plain:
        raise ValueError(f"{here} is not a number; leave it empty if {EMPTY_IF[name]}")
    if not math.isfinite(value):
        raise ValueError(f"{here} must be finite")
    if abs(value) > LARGEST:
        raise ValueError(f"{here} is too large to be shown")
    return value


def _refuse_negative(documents: Sequence[Document], options: Mapping[str, Any]) -> None:
    if options["negative_relevance"] != "raise" or labels_of(options) is not None:
        return
    for line, document in enumerate(documents, 1):
        relevance = document.relevance
        if isinstance(relevance, float) and relevance < 0:
            problem = f"row {line} ({document.name}): relevance {short(relevance)} is negative"
            raise tables.InputError(
                f"{problem}; {tables.mark('negative_relevance', 'clip')} counts it as 0"
            )


def _without_repeats(
    documents: Sequence[Document], options: Mapping[str, Any]
) -> Iterable[Document]:
    """Return documents without repeats, at their best scores, if the options say so."""
    counts = Counter(document.name for document in documents)
    repeated = [name for name, count in counts.items() if count > 1]
    if not repeated:
        return documents
    if options["duplicates"] != "best":
        best = f"set {LABELS['duplicates']} to {WORDS['duplicates', 'best']}"
        raise ValueError(f"document {repeated[0]!r} is listed twice; name each once, or {best}")
    is_descending = options["score_order"] == "descending"
    kept: dict[str, Document] = {}
    for document in documents:
        before = kept.setdefault(document.name, document)
        if document.relevance != before.relevance:
            raise ValueError(f"document {document.name!r} has two relevances; give it one")
        if document.score is None:
            continue
        if before.score is None or (document.score > before.score) == is_descending:
            kept[document.name] = document
    return kept.values()
