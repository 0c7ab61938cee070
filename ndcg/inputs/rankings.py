"""The input of the kernel: relevances and scores, query after query, and the names of queries."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..measure.labels import Labels
from ..measure.messages import InputError, mark
from ..measure.scoring import NOT_A_RELEVANCE, InvalidRankingError
from ..measure.ties import Mask
from .columns import Column, Place, in_dtype, negated, numbered
from .ids import PROBE, float_hint


class Rankings(NamedTuple):
    """Queries and their documents, as the arrays that the kernel accepts."""

    relevance: NDArray[Any]  # the relevance of the documents, query after query
    score: NDArray[Any]  # their scores, in the same order
    # the start of each query, from 0, and the end of the last one: int64 of shape ``(queries + 1,)``
    offsets: NDArray[np.int64]
    judged: Mask | None = None  # False if the relevance is missing; None if none is missing
    retrieved: Mask | None = None  # False if the score is missing; None if none is missing
    # a function that describes a query, by its index, and a document, by its position or None, with their ids; None if
    # they have no ids
    place: Place | None = None
    query_ids: Sequence[Any] | pa.Array | None = (
        None  # the id of each query; None if they have no ids
    )
    # True for each query whose ranking in the predictions leaves no document here, such as an empty list of ids; None
    # if there are none
    answered: Mask | None = None
    # the numbers of documents to exclude that were retrieved and that were judged, for each query, of shape
    # ``(queries, 2)``; None without `exclude`
    excluded: NDArray[np.int64] | None = None
    # the warning that no document was both retrieved and judged, although both sides have ids; empty if one was; None
    # if that is unknown
    unmatched: str | None = None
    # a function from the index of a query to the ids of its documents, in order; rows for flat columns without document
    # ids; None if documents have only positions
    documents: Callable[[int], Sequence[Any]] | None = None

    @classmethod
    def of(cls, score: Column, relevance: Column, **known: Any) -> "Rankings":
        """Return the rankings from predictions and references of the same documents, without padding."""
        if relevance.padding is not None and relevance.padding.any():
            kept = ~relevance.padding
            if relevance.present is not None:
                kept |= ~relevance.present  # a document without a relevance is not padding
            score, relevance = score.only(kept), relevance.only(kept)
        return cls(
            relevance.values, score.values, score.offsets, relevance.present, score.present, **known
        )

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def names(self) -> list[Any]:
        """Return the id of each query, or its index."""
        if self.query_ids is None:
            return list(range(self.queries))
        return list(
            self.query_ids.to_pylist() if isinstance(self.query_ids, pa.Array) else self.query_ids
        )

    @property
    def missing(self) -> Mask:
        """True for each query that is missing from the predictions: it has documents, but none of them has a score."""
        return ~(self._ranked() | self.empty())

    def lacking(self) -> Mask:
        """Return which queries are missing from the predictions, or have no documents at all."""
        return self.missing | self.empty()

    def only(self, kept: Mask, exclude_from: str = "both") -> "Rankings":
        """Return the same documents, but those for which a mask is False are neither judged nor retrieved.

        If they are excluded from the run only, they stay judged.
        """
        retrieved = kept if self.retrieved is None else kept & self.retrieved
        rankings = self._replace(retrieved=retrieved, answered=self._ranked())
        if exclude_from == "run":
            return rankings
        return rankings._replace(judged=kept if self.judged is None else kept & self.judged)

    def of_judged(self) -> "Rankings":
        """Return the same documents, but unjudged ones count as not retrieved."""
        if self.judged is None:
            return self
        kept = self.judged | ~(
            self.score < np.inf
        )  # invalid scores are kept, so that they are rejected
        kept = kept if self.retrieved is None else kept & self.retrieved
        return self._replace(retrieved=None if kept.all() else kept, answered=self._ranked())

    def with_scores_in(self, score_dtype: str) -> "Rankings":
        """Return the same documents with their scores in the type in which they are compared."""
        if score_dtype == "given":
            return self
        score = in_dtype(self.score, score_dtype)
        hint = f"scale the scores, or compare them as they are by {mark('score_dtype', 'given')}"
        problem = f"is too large for {mark('score_dtype', score_dtype)}; {hint}"
        self._refuse_scores(np.isinf(score) & np.isfinite(self.score), problem)
        return self._replace(score=score)

    def with_highest_first(self, score_order: str) -> "Rankings":
        """Return the same documents with scores of which the highest ranks first, not as in `score_order`.

        Scores are negated after they have their type, since the complement of a large integer may be rounded otherwise.
        """
        if score_order == "descending":
            return self
        self._refuse_scores(
            ~(self.score > -np.inf), "is not a score; None or inf marks one not retrieved"
        )
        return self._replace(score=negated(self.score))

    def with_gains(self, labels: Labels) -> "Rankings":
        """Return the same documents, with the gain of each label as its relevance, and 0 for those not judged."""
        gains = labels.gains_of(self.relevance)
        unknown = np.isnan(gains) if self.judged is None else np.isnan(gains) & self.judged
        if unknown.any():
            at = int(unknown.argmax())
            query = int(np.searchsorted(self.offsets, at, side="right")) - 1
            label = float(self.relevance[at])
            problem = (
                f"{label:g} {labels.unknown(label)}"
                if math.isfinite(label)
                else NOT_A_RELEVANCE.format(value=label)
            )
            raise InvalidRankingError("relevance", query, at - int(self.offsets[query]), problem)
        return self._replace(
            relevance=gains if self.judged is None else np.where(self.judged, gains, 0)
        )

    def gap_in_ranks(self) -> str:
        """Return what a warning says about scores that are ranks, lowest first, of which some are missing.

        They are whole numbers from 1, another one for each document of a query. Empty if they are not, or have no gap.
        """
        retrieved = self._of_sides()[0] & (self.score < np.inf)
        score, query = (
            self.score[retrieved],
            np.repeat(np.arange(self.queries), np.diff(self.offsets))[retrieved],
        )
        if (
            not len(score)
            or (score < 1).any()
            or (score != np.trunc(score)).any()
            or score.min() > 1
        ):
            return ""
        order = np.lexsort((score, query))
        score, query = score[order], query[order]
        follows = query[1:] == query[:-1]
        if (follows & (score[1:] == score[:-1])).any() or not (
            gaps := follows & (score[1:] > score[:-1] + 1)
        ).any():
            return ""
        at = int(gaps.argmax())
        place = (self.place or numbered)(int(query[at]), None)
        before, after = score[at : at + 2].tolist()
        problem = f"no document has a rank between {before:g} and {after:g}, so those below move up"
        return f"{place}: {problem}; if these are ranks, give each retrieved document, also if nobody judged it"

    def _refuse_scores(self, wrong: Mask, problem: str) -> None:
        """Raise an error for the first retrieved document that a mask marks."""
        wrong = wrong if self.retrieved is None else wrong & self.retrieved
        if wrong.any():
            at = int(wrong.argmax())
            query = int(np.searchsorted(self.offsets, at, side="right")) - 1
            raise InvalidRankingError(
                "score", query, at - int(self.offsets[query]), f"{self.score[at]} {problem}"
            )

    def arrays(self) -> dict[str, Any]:
        """Return the arrays for the kernel, by name."""
        return dict(zip(self._fields[:5], self[:5], strict=True))

    def counts(self) -> dict[str, NDArray[np.int64]]:
        """Return the numbers of documents of each query that were retrieved, judged, and judged relevant."""
        retrieved, judged = self._of_sides()
        return {
            "retrieved": self._sums(retrieved),
            "judged": self._sums(judged),
            "relevant": self._sums(judged & (self.relevance > 0)),
            "retrieved and judged": self._sums(retrieved & judged),
        }

    def queries_of_ties(self) -> NDArray[np.intp]:
        """Return the query of every pair of adjacent retrieved documents with equal scores."""
        retrieved = self._of_sides()[0]
        query = np.repeat(np.arange(self.queries), self.offsets[1:] - self.offsets[:-1])[retrieved]
        score = self.score[retrieved]
        order = np.lexsort((score, query))
        query, score = query[order], score[order]
        return np.asarray(query[1:][(query[1:] == query[:-1]) & (score[1:] == score[:-1])])

    def pieces(self, documents: int) -> Iterator["Rankings"]:
        """Yield the same queries in pieces of about this many documents."""
        cuts = np.flatnonzero(np.diff(np.maximum(self.offsets - 1, 0) // documents)).tolist()
        for start, stop in pairwise(sorted({0, *cuts, self.queries})):
            rows = slice(*self.offsets[[start, stop]].tolist())
            yield Rankings(
                self.relevance[rows],
                self.score[rows],
                self.offsets[start : stop + 1] - self.offsets[start],
                None if self.judged is None else self.judged[rows],
                None if self.retrieved is None else self.retrieved[rows],
                None if self.place is None else partial(_later, self.place, start),
                None if self.query_ids is None else self.query_ids[start:stop],
                None if self.answered is None else self.answered[start:stop],
                None if self.excluded is None else self.excluded[start:stop],
                documents=None
                if self.documents is None
                else partial(_of_later, self.documents, start),
            )

    def empty(self) -> Mask:
        """Return which queries have no documents at all, such as lists that are all padding."""
        if self.judged is None or self.retrieved is None:
            return np.asarray(self.offsets[1:] == self.offsets[:-1])
        return np.asarray(self._sums(self.judged | self.retrieved) == 0)

    def matched(self) -> "Rankings":
        """Return the same rankings, with `unmatched`.

        In lists and mappings by ids, this is known only if a query has both retrieved and judged documents. In flat
        columns, there may be no such query because the ids of queries differ.
        """
        if self.excluded is not None and self.excluded.any(axis=0).all():  # ids of both match
            return self._replace(unmatched="")
        for rows in (
            slice(PROBE),
            slice(None),
        ):  # almost always, one of the first documents is in both
            retrieved, judged = self._of_sides(rows)
            if (retrieved & judged).any():
                return self._replace(unmatched="")
        has_both = (self._sums(retrieved) > 0) & (self._sums(judged) > 0)
        if has_both.any():
            of_query = np.arange(len(retrieved)) >= self.offsets[has_both.argmax()]
            retrieved, judged = retrieved & of_query, judged & of_query
        elif self.answered is not None or not (retrieved.any() and judged.any()):
            return self
        first = [self._place_of(int(side.argmax())) for side in (retrieved, judged)]
        hint = float_hint(*first) or "; check that both sides have the same ids"
        both = "first retrieved: {}; first judged: {}".format(*first)
        return self._replace(unmatched=f"no document was both retrieved and judged; {both}{hint}")

    def _place_of(self, row: int) -> str:
        """Describe a document."""
        query = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return (self.place or numbered)(query, row - int(self.offsets[query]))

    def _of_sides(self, rows: slice = slice(None)) -> tuple[Mask, Mask]:
        """Return which of some documents were retrieved, and which were judged."""
        retrieved = np.asarray(self.score[rows] != -np.inf)  # nan counts too, and is rejected later
        judged = np.ones(len(retrieved), bool) if self.judged is None else self.judged[rows]
        return retrieved if self.retrieved is None else retrieved & self.retrieved[rows], judged

    def _ranked(self) -> Mask:
        """Return which queries have a ranking in the predictions, even if none of its documents is left."""
        ranked = np.asarray(self._sums(self._of_sides()[0]) > 0)
        return ranked if self.answered is None else ranked | self.answered

    def _sums(self, mask: Mask) -> NDArray[np.int64]:
        until = np.concatenate([[0], np.cumsum(mask)])
        return np.asarray(until[self.offsets[1:]] - until[self.offsets[:-1]])


def _later(place: Place, queries: int, query: int, position: int | None) -> str:
    """Describe a place, with queries counted from a later one."""
    return place(queries + query, position)


def _of_later(documents: Callable[[int], Sequence[Any]], queries: int, query: int) -> Sequence[Any]:
    """Return the documents of a query, with queries counted from a later one."""
    return documents(queries + query)


def to_arrow(rankings: Rankings) -> tuple[pa.Array, pa.Array]:
    """Return predictions and references as Arrow lists, with nulls for missing values.

    Floats, and integers of up to 16 bits, keep their type, in which ``ignore_index`` is compared; others are float64.
    """
    offsets = pa.array(rankings.offsets, pa.int32())
    lists = []
    for argument, numbers, present in (
        ("predictions", rankings.score, rankings.retrieved),
        ("references", rankings.relevance, rankings.judged),
    ):
        narrow = numbers.dtype.itemsize <= (4 if numbers.dtype.kind == "f" else 2)
        try:
            values = pa.array(numbers, mask=None if present is None else ~present)
            values = values if narrow else values.cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise InputError(
                f"integers beyond 2**53 cannot be stored exactly: {error}", argument
            ) from None
        lists.append(pa.ListArray.from_arrays(offsets, values))
    return lists[0], lists[1]
