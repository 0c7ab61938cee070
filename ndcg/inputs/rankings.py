"""The input of the kernel: relevances and scores, query after query, and the names of queries."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..measure.labels import Labels
from ..measure.messages import InputError, mark
from ..measure.scoring import InvalidRankingError
from ..measure.ties import Mask
from .columns import (
    Column,
    Place,
    in_both,
    in_dtype,
    mask_of,
    negated,
    numbered,
    place_among,
    taken,
    unless_all,
)
from .fields import or_another
from .ids import PROBE, as_list


class Rankings(NamedTuple):
    """Queries and their documents, as the arrays that the kernel accepts."""

    relevance: NDArray[Any]  # the relevance of the documents, query after query
    score: NDArray[Any]  # their scores, in the same order
    # the starts of the queries, from 0, and the end of the last one: int64 of shape
    # ``(queries + 1,)``
    offsets: NDArray[np.int64]
    judged: Mask | None = None  # False if the relevance is missing; None if none is missing
    retrieved: Mask | None = None  # False if the score is missing; None if none is missing
    # a function that describes a query, by its index, and a document, by its position or None, with
    # their ids; None if they have no ids
    place: Place | None = None
    # the ids of the queries; None if they have none
    query_ids: Sequence[Any] | pa.Array | None = None
    # True for a query whose ranking in the predictions leaves no document here, such as an empty
    # list of ids; None if there are none
    answered: Mask | None = None
    # of every query the numbers of documents to exclude that were retrieved and that were judged,
    # of shape ``(queries, 2)``; None without `exclude`
    excluded: NDArray[np.int64] | None = None
    # the warning that no document was both retrieved and judged, although both sides have ids, or
    # that all judged ones are excluded; empty if one was; None if that is unknown
    unmatched: str | None = None
    # a function from the index of a query to the ids of its documents, in order; rows for flat
    # columns without document ids; None if documents have only positions
    documents: Callable[[int], Sequence[Any]] | None = None
    # what warnings say about the predictions as they were read
    doubts: tuple[str, ...] = ()
    # whether the scores were held against ranks, or against the order of hits
    has_ranks: bool = False

    @classmethod
    def of(cls, score: Column, relevance: Column, **others: Any) -> "Rankings":
        """Return the rankings of documents from both sides, without padding."""
        if relevance.padding is not None and relevance.padding.any():
            kept = ~relevance.padding
            if relevance.present is not None:
                kept |= ~relevance.present  # a document without a relevance is not padding
            score = score.only(kept)
            relevance = relevance.only(kept)
        judged, retrieved = relevance.present, score.present
        return cls(relevance.values, score.values, score.offsets, judged, retrieved, **others)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def names(self) -> list[Any]:
        """Return the ids of the queries, or their indices."""
        if self.query_ids is None:
            return list(range(self.queries))
        return as_list(self.query_ids)

    def names_of(self, queries: slice) -> list[Any]:
        """Return the ids of some queries that have ids."""
        return as_list(taken(self.query_ids, queries))

    @property
    def missing(self) -> Mask:
        """True for a query with documents of which none has a score: the run lacks it."""
        return ~(self.ranked() | self.empty())

    def lacking(self) -> Mask:
        """Return which queries are missing from the predictions, or have no documents at all."""
        return self.missing | self.empty()

    def only(self, kept: Mask, exclude_from: str = "both") -> "Rankings":
        """Return the same documents, neither judged nor retrieved if a mask is False for them.

        If they are excluded from the run only, they stay judged.
        """
        retrieved = in_both(kept, self.retrieved)
        rankings = self._replace(retrieved=retrieved, answered=self.ranked())
        if exclude_from == "run":
            return rankings
        return rankings._replace(judged=in_both(kept, self.judged))

    def judged_only(self) -> "Rankings":
        """Return the same documents, but unjudged ones count as not retrieved."""
        if self.judged is None:
            return self
        # Invalid scores are kept, so that they are rejected.
        kept = self.judged | ~(self.score < np.inf)
        kept = in_both(kept, self.retrieved)
        return self._replace(retrieved=unless_all(kept), answered=self.ranked())

    def with_scores_in(self, score_dtype: str) -> "Rankings":
        """Return the same documents with their scores in the type in which they are compared."""
        if score_dtype == "given":
            return self
        score = in_dtype(self.score, score_dtype)
        became_infinite = np.isinf(score) & np.isfinite(self.score)
        hint = f"scale the scores, or compare them as they are by {mark('score_dtype', 'given')}"
        problem = f"is too large for {mark('score_dtype', score_dtype)}; {hint}"
        self._refuse_scores(became_infinite, problem)
        return self._replace(score=score)

    def with_highest_first(self, score_order: str) -> "Rankings":
        """Return the same documents with scores of which the highest ranks first.

        Scores in ascending order are negated after they have their type, since the complement of a
        large integer may be rounded otherwise.
        """
        if score_order == "descending":
            return self
        problem = "is not a score; None or inf marks one not retrieved"
        self._refuse_scores(~(self.score > -np.inf), problem)
        return self._replace(score=negated(self.score))

    def with_gains(self, labels: Labels | None) -> "Rankings":
        """Return the same documents with the gain of their label as relevance, 0 if not judged."""
        if labels is None:
            return self
        gains = labels.gains_of(self.relevance)
        unknown = in_both(np.isnan(gains), self.judged)
        if unknown.any():
            row = int(unknown.argmax())
            label = float(self.relevance[row])
            others = map(str, np.unique(self.relevance[unknown]).tolist())
            problem = f"{label:g} {labels.unknown(label, others)}"
            raise InvalidRankingError("relevance", *place_among(self.offsets, row), problem)
        judged = mask_of(len(gains), self.judged)
        return self._replace(relevance=np.where(judged, gains, 0))

    def _refuse_scores(self, wrong: Mask, problem: str) -> None:
        """Raise an error for the first retrieved document that a mask marks."""
        wrong = in_both(wrong, self.retrieved)
        if wrong.any():
            row = int(wrong.argmax())
            query, position = place_among(self.offsets, row)
            raise InvalidRankingError("score", query, position, f"{self.score[row]} {problem}")

    @property
    def is_full(self) -> bool:
        """Whether every document has a score and a relevance."""
        return self.judged is None and self.retrieved is None

    def are_equally_relevant(self) -> bool:
        """Return whether all documents of each query have one relevance."""
        changes = np.flatnonzero(self.relevance[1:] != self.relevance[:-1]) + 1
        return bool(np.isin(changes, self.offsets).all())

    def arrays(self) -> dict[str, Any]:
        """Return the arrays for the kernel, by name."""
        return dict(zip(self._fields[:5], self[:5], strict=True))

    def counts(self) -> dict[str, NDArray[np.int64]]:
        """Return how many documents of a query were retrieved, judged, and judged relevant."""
        retrieved, judged = self.sides()
        return {
            "retrieved": self.sums(retrieved),
            "judged": self.sums(judged),
            "relevant": self.sums(judged & (self.relevance > 0)),
            "retrieved and judged": self.sums(retrieved & judged),
        }

    def queries_of_ties(self) -> NDArray[np.intp]:
        """Return the query of every pair of adjacent retrieved documents with equal scores."""
        query, score = self.sorted_scores()
        is_tie = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
        return np.asarray(query[1:][is_tie])

    def retrieved_scores(self) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Return the query and the score of the retrieved documents."""
        retrieved, _ = self.sides()
        query = np.repeat(np.arange(self.queries), np.diff(self.offsets))
        return query[retrieved], self.score[retrieved]

    def sorted_scores(self) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Return the query and the score of the retrieved documents, by query, the lowest first."""
        query, score = self.retrieved_scores()
        order = np.lexsort((score, query))
        return query[order], score[order]

    def first_count(self) -> int | None:
        """Return where the scores of every query begin to count, 0 or 1; None if they do not.

        They count if they are 0, 1, 2, ... or 1, 2, 3, ... in any order.
        """
        query, score = self.sorted_scores()
        first = score[:1].tolist()
        if first not in ([0], [1]):
            return None
        place_in_query = np.arange(len(score)) - np.searchsorted(query, query)
        return int(first[0]) if (score == place_in_query + first[0]).all() else None

    def scores_of(self, query: int) -> list[Any]:
        """Return the scores of the retrieved documents of a query."""
        rows = slice(*self.offsets[query : query + 2].tolist())
        scores = self.score[rows]
        if self.retrieved is not None:
            scores = scores[self.retrieved[rows]]
        in_python: list[Any] = scores.tolist()
        return in_python

    def pieces(self, documents: int) -> Iterator["Rankings"]:
        """Yield the same queries in pieces of about this many documents."""
        cuts = np.flatnonzero(np.diff(np.maximum(self.offsets - 1, 0) // documents)).tolist()
        for start, stop in pairwise(sorted({0, *cuts, self.queries})):
            yield self.piece(start, stop)

    def piece(self, start: int, stop: int) -> "Rankings":
        """Return the queries from one up to another."""
        queries = slice(start, stop)
        rows = slice(*self.offsets[[start, stop]].tolist())
        return Rankings(
            self.relevance[rows],
            self.score[rows],
            self.offsets[start : stop + 1] - self.offsets[start],
            taken(self.judged, rows),
            taken(self.retrieved, rows),
            _counted_from(start, self.place),
            taken(self.query_ids, queries),
            taken(self.answered, queries),
            taken(self.excluded, queries),
            documents=_counted_from(start, self.documents),
        )

    def empty(self) -> Mask:
        """Return which queries have no documents at all, such as lists that are all padding."""
        if self.judged is None or self.retrieved is None:
            return np.asarray(self.offsets[1:] == self.offsets[:-1])
        return np.asarray(self.sums(self.judged | self.retrieved) == 0)

    def matched(self, exclude_from: str, run: Any, qrels: Any) -> "Rankings":
        """Return the same rankings, with `unmatched`.

        In lists and mappings by ids, this is known only if a query has both retrieved and judged
        documents. In flat columns, there may be no such query because the ids of queries differ.
        The same ids may be in a field that was not read: a field that both sides have, or another
        id of a hit.
        """
        if self.excluded is not None:
            problem = self._if_all_are_excluded(self.excluded, exclude_from)
            if problem or self.excluded.any(axis=0).all():  # ids of both match
                return self._replace(unmatched=problem)
        # Almost always, one of the first documents is in both.
        for rows in (slice(PROBE), slice(None)):
            retrieved, judged = self.sides(rows)
            if (retrieved & judged).any():
                return self._replace(unmatched="")
        if self._are_empty_lists() and judged.any():
            problem = "no document was both retrieved and judged: every query has an empty list"
            return self._replace(unmatched=f"{problem}; check how the lists were made")
        has_both = (self.sums(retrieved) > 0) & (self.sums(judged) > 0)
        if has_both.any():
            # The warning shows the documents of the first such query.
            from_query = np.arange(len(retrieved)) >= self.offsets[has_both.argmax()]
            retrieved, judged = retrieved & from_query, judged & from_query
        elif self.answered is not None or not (retrieved.any() and judged.any()):
            return self
        first_retrieved = self._place_of(int(retrieved.argmax()))
        first_judged = self._place_of(int(judged.argmax()))
        problem = "no document was both retrieved and judged"
        both = f"first retrieved: {first_retrieved}; first judged: {first_judged}"
        others = getattr(qrels, "others", ())
        shared = [name for name in getattr(run, "others", ()) if name in others]
        # The same fields may be in both.
        others = list(dict.fromkeys([*getattr(run, "other_ids", tuple)(), *shared]))
        hint = f"check that both sides have the same ids{or_another('document', others)}"
        return self._replace(unmatched=f"{problem}; {both}; {hint}")

    def _if_all_are_excluded(self, counts: NDArray[np.int64], exclude_from: str) -> str:
        """Return the warning that all judged documents are excluded; empty if some are left.

        Most of them may well be, where the references are all ratings, also those of the training.
        """
        excluded = int(counts[:, 1].sum())
        left = int(self.sides()[1].sum())
        if exclude_from == "run":
            left -= excluded
        if not excluded or left > 0:
            return ""
        problem = (
            f"every judged document ({excluded:,}) is excluded, so that nothing is left to find"
        )
        return f"{problem}; give {mark('exclude')} what was seen before, not the references"

    def _are_empty_lists(self) -> bool:
        """Return whether all of several queries have a ranking without documents."""
        if self.answered is None or self.excluded is not None:
            return False
        return self.queries > 1 and bool(self.answered.all())

    def words(self, query: int, position: int | None) -> str:
        """Return the words for a query, or for a document of it."""
        return (self.place or numbered)(query, position)

    def _place_of(self, row: int) -> str:
        return self.words(*place_among(self.offsets, row))

    def sides(self, rows: slice = slice(None)) -> tuple[Mask, Mask]:
        """Return which of some documents were retrieved, and which were judged."""
        has_score = np.asarray(self.score[rows] != -np.inf)  # nan counts too, and is rejected later
        retrieved = in_both(has_score, taken(self.retrieved, rows))
        return retrieved, mask_of(len(retrieved), taken(self.judged, rows))

    def sides_of(self, query: int) -> tuple[Mask, Mask]:
        """Return which documents of a query were retrieved, and which were judged."""
        return self.sides(slice(*self.offsets[query : query + 2].tolist()))

    def ranked(self) -> Mask:
        """Return which queries have a ranking in the run, even if none of its documents is left."""
        ranked = np.asarray(self.sums(self.sides()[0]) > 0)
        return ranked if self.answered is None else ranked | self.answered

    def sums(self, mask: Mask) -> NDArray[np.int64]:
        """Return how many documents of a query a mask marks."""
        until = np.concatenate([[0], np.cumsum(mask)])
        return np.asarray(until[self.offsets[1:]] - until[self.offsets[:-1]])


def _counted_from(start: int, function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Return a function of a query, perhaps with a position, whose queries start at a later one."""
    if function is None:
        return None
    return lambda query, *position: function(start + query, *position)


def to_arrow(rankings: Rankings) -> tuple[pa.Array, pa.Array]:
    """Return predictions and references as Arrow lists, with nulls for missing values.

    Floats, and integers of up to 16 bits, keep their type, in which ``ignore_index`` is compared;
    others are float64.
    """
    offsets = pa.array(rankings.offsets, pa.int32())
    predictions = _arrow_lists("predictions", offsets, rankings.score, rankings.retrieved)
    references = _arrow_lists("references", offsets, rankings.relevance, rankings.judged)
    return predictions, references


def _arrow_lists(
    argument: str, offsets: pa.Array, numbers: NDArray[Any], present: Mask | None
) -> pa.Array:
    is_narrow = numbers.dtype.itemsize <= (4 if numbers.dtype.kind == "f" else 2)
    try:
        values = pa.array(numbers, mask=None if present is None else ~present)
        if not is_narrow:
            values = values.cast(pa.float64())
    except pa.ArrowInvalid as error:
        problem = f"integers beyond 2**53 cannot be stored exactly: {error}"
        raise InputError(problem, argument) from None
    return pa.ListArray.from_arrays(offsets, values)
