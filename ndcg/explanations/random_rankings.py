"""Small random rankings to ask a function of nDCG about, which show how definitions differ."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .forms import Shows
from .slip_terms import Queries, Query, in_order, ranked

PLAIN_KINDS = (  # without ties
    "whole",  # all documents are judged and retrieved
    "deep",  # at least as many retrieved as the cutoff, and relevant ones that were not retrieved
    "short",  # fewer documents than the cutoff
    "unjudged",  # deep, and some documents were not judged
    "mixed",  # any documents may lack a judgment or a score
    "nothing relevant",
    "deep",
    "whole",
    "mixed",
    "long",  # more than 16 documents
    "few retrieved",  # fewer than the cutoff, and relevant ones that were not retrieved
    "unjudged",
    "nothing retrieved",
    "many relevant",  # more than the cutoff
)
ASKED_KINDS = (*PLAIN_KINDS, "tied", "long tied", "close", "tied", "long tied", "close")
KIND_OF_LISTS = {  # in which all documents are judged and retrieved
    **dict.fromkeys(("deep", "unjudged", "mixed"), "whole"),
    **dict.fromkeys(("few retrieved", "nothing retrieved"), "short"),
}
WITHOUT_SCORES = {"tied": "deep", "long tied": "long", "close": "unjudged"}
LONG = (17, 65)  # sorts of many libraries are stable for fewer documents
CLOSE = (3, 4, 5, 6, 7, 12)  # the decimals in which scores differ
_Column = NDArray[Any]  # the score, the relevance, or a mask of documents
# the most with the same score; one or two of them are relevant, so that all orders can be tried
TIED_DOCUMENTS = 12


def kind_of_ranking(shows: Shows, number: int) -> str:
    """Return the kind of a ranking by its number, as far as arguments can show it."""
    kind = ASKED_KINDS[number % len(ASKED_KINDS)]
    if not shows.scores:
        kind = WITHOUT_SCORES.get(kind, kind)
    if not shows.documents:
        kind = KIND_OF_LISTS.get(kind, kind)
    return kind


def random_rankings(
    numbers: Iterable[int], k: int | None, shows: Shows, seed: int, attempt: int = 0
) -> list[Query]:
    """Return small random rankings that arguments can show, one for every number.

    >>> random_rankings([3], 2, Shows(), 0) == random_rankings([2, 3], 2, Shows(), 0)[1:]
    True
    """
    rankings = []
    for number in numbers:
        rng = np.random.default_rng((seed, number, attempt))
        rankings.append(_random_ranking(rng, k, shows, number))
    return rankings


def with_relevant_rank(relevant_rank: int, size: int, k: int | None) -> Query:
    """Return a ranking in which the document at a rank is the only relevant one; none at rank 0."""
    documents = {f"d{rank}": int(rank == relevant_rank) for rank in range(1, size + 1)}
    return Query(in_order(documents), documents, k)


def is_plain(number: int) -> bool:
    """Return whether the ranking of a number has neither ties nor close scores, in any form."""
    return number % len(ASKED_KINDS) < len(PLAIN_KINDS)


def is_at_other_cutoff(number: int) -> bool:
    """Return whether a function is asked about the ranking of a number at another cutoff."""
    return number // len(ASKED_KINDS) % 3 == 1


@lru_cache(maxsize=16)
def plain_rankings(numbers: tuple[int, ...], k: int | None, shows: Shows, seed: int) -> Queries:
    """Return random rankings, which keep their scores by every definition for the next function."""
    return Queries(random_rankings(numbers, k, shows, seed))


def _random_ranking(rng: "np.random.Generator", k: int | None, shows: Shows, number: int) -> Query:
    kind = kind_of_ranking(shows, number)
    # how often the kind was asked about, so that its variants take turns
    turn = number // len(ASKED_KINDS)
    cut = k or 8
    size_range = {
        "short": (2, max(cut, 3)),
        "long": LONG,
        "long tied": LONG,
        "close": (4, TIED_DOCUMENTS + 1),
        "many relevant": (cut + 1, 2 * cut + 3),
        "deep": (cut + 2, cut + 8),
        "unjudged": (cut + 2, cut + 8),
    }.get(kind, (2, cut + 6))
    if kind == "nothing relevant" and turn % 3 == 2:
        size_range = LONG
    size = int(rng.integers(*size_range))
    relevance = rng.integers(0, rng.integers(2, 7), size) * (rng.random(size) < rng.uniform(0.3, 1))
    if kind in ("tied", "long tied", "close"):
        columns = _with_ties(rng, cut, shows, kind, 2 * turn + number % 2, relevance)
    else:
        columns = _without_ties(rng, cut, shows, kind, turn, relevance)
    size = len(columns[0])
    order = rng.permutation(size)
    scores, relevance, retrieved, judged = (column[order] for column in columns)
    documents = np.array([f"d{number}" for number in rng.permutation(3 * size)[:size] + 1])
    if not shows.several:
        # The best document is the relevant one, or any if there is none.
        only = int(relevance.argmax() if relevance.any() else rng.integers(size))
        relevance = np.arange(size) == only
        judged[only] = True
    if not shows.grades:
        relevance = np.minimum(relevance, 1)
        if shows.documents:
            # Only relevant documents are known.
            judged = judged & (relevance > 0)
    run = dict(zip(documents[retrieved].tolist(), scores[retrieved].tolist(), strict=True))
    rows = np.arange(size)
    if shows.documents:
        rows = rng.permutation(size)
    rows = rows[judged[rows]]
    grades = relevance[rows].astype(int).tolist()
    query = Query(run, dict(zip(documents[rows].tolist(), grades, strict=True)), k)
    if not shows.scores:
        query = query._replace(run=in_order(ranked(query)))
    return query


def _without_ties(
    rng: "np.random.Generator", cut: int, shows: Shows, kind: str, turn: int, relevance: _Column
) -> tuple[_Column, ...]:
    """Return a ranking in which no two scores are close."""
    size = len(relevance)
    columns = _Columns(rng, cut, shows, turn, relevance)
    for step in STEPS_BY_KIND.get(kind, ()):
        step(columns)
    if shows.documents:
        # Some document is judged in any case.
        columns.judged[rng.integers(size)] |= not columns.judged.any()
    # Sixteenths, which all libraries hold exactly, of both signs and none 0
    scores = (2 * rng.permutation(2 * size + 8)[:size] - 2 * size - 7) / 16
    if columns.retrieved.all() and turn % 2 == 0:
        scores -= scores[rng.integers(size)]  # so that one is 0
    return scores, columns.relevance, columns.retrieved, columns.judged


class _Columns:
    """The columns of a ranking, in which all documents are retrieved and judged at first."""

    def __init__(
        self,
        rng: "np.random.Generator",
        cut: int,
        shows: Shows,
        turn: int,
        relevance: _Column,
    ) -> None:
        self.rng = rng
        self.cut = cut
        self.shows = shows
        self.turn = turn
        self.relevance = relevance
        self.size = len(relevance)
        self.retrieved, self.judged = np.ones((2, self.size), bool)

    def make_irrelevant(self) -> None:
        self.relevance[:] = 0

    def make_relevant(self) -> None:
        self.relevance = np.maximum(self.relevance, 1)

    def miss_relevant(self) -> None:
        """Leave relevant documents out of the run, which still has as many as the cutoff."""
        self.retrieved[: self.rng.integers(1, self.size - self.cut + 1)] = False
        self.relevance[~self.retrieved] = np.maximum(self.relevance[~self.retrieved], 1)

    def retrieve_few(self) -> None:
        """Retrieve fewer than half of the documents, most of which are relevant."""
        self.retrieved[self.rng.integers(1, self.size // 2 + 1) :] = False
        self.relevance = np.maximum(self.relevance, self.rng.random(self.size) < 0.7)

    def retrieve_any(self) -> None:
        self.retrieved = self.rng.random(self.size) < self.rng.choice([0.3, 0.7, 0.9])

    def retrieve_nothing(self) -> None:
        self.retrieved[:] = False
        if self.turn % 2:
            self.make_irrelevant()

    def judge_some(self) -> None:
        """Judge all documents that were not retrieved, and some of the others."""
        self.judged = ~self.retrieved | (self.rng.random(self.size) < self.rng.uniform(0.3, 0.9))

    def retrieve_and_judge_any(self) -> None:
        """Take any documents out of the run and the judgments, every second time."""
        if self.shows.documents and self.turn % 2:
            self.retrieve_any()
            self.judge_some()

    def leave_one(self) -> None:
        """Leave a single document on one side, two times of three."""
        if self.turn % 3:
            side = self.judged if self.turn % 3 == 1 else self.retrieved
            side[:] = False
            single = self.rng.integers(self.size)
            self.judged[single] = self.retrieved[single] = True
            self.relevance[single] = max(self.relevance[single], 1)


# What is done to the rankings of a kind, step by step
STEPS_BY_KIND: dict[str, Sequence[Callable[[_Columns], None]]] = {
    "deep": [_Columns.miss_relevant],
    "unjudged": [_Columns.miss_relevant, _Columns.judge_some],
    "few retrieved": [_Columns.retrieve_few, _Columns.judge_some],
    "mixed": [_Columns.retrieve_any, _Columns.judge_some, _Columns.leave_one],
    "long": [_Columns.retrieve_and_judge_any],
    "nothing retrieved": [_Columns.retrieve_nothing],
    "nothing relevant": [_Columns.make_irrelevant],
    "many relevant": [_Columns.make_relevant],
}


def _with_ties(
    rng: "np.random.Generator", cut: int, shows: Shows, kind: str, number: int, relevance: _Column
) -> tuple[_Column, ...]:
    """Return a ranking with tied documents, at most two of them relevant, or with close scores."""
    size = len(relevance)
    tied = np.zeros(size, bool)
    scores: _Column = np.sort(rng.permutation(2 * size)[:size])[::-1] / 8 + 0.5
    if kind == "close":
        scores = 0.05 + np.arange(size)[::-1] * 10.0 ** -CLOSE[number % len(CLOSE)]
        groups = [(0, size, 2)]
    else:
        lengths = rng.integers(2, min(size, TIED_DOCUMENTS) + 1, 2).tolist()
        first = int(rng.integers(0, max(1, min(cut, size - lengths[0] + 1))))
        second = first + lengths[0]
        groups = [(first, lengths[0], 1 + number % 2)]
        if number % 2 == 0 and second < size - 1:
            groups.append((second, min(lengths[1], size - second), 1))
    for start, length, relevant in groups:
        group = slice(start, start + length)
        tied[group] = True
        relevance[group] = 0
        if kind != "close":
            scores[group] = scores[start]
        relevance[start + rng.permutation(length)[:relevant]] = rng.permutation(5)[:relevant] + 1
    retrieved, judged = np.ones((2, size), bool)
    if shows.documents:
        judged = ~tied | (relevance > 0) | (rng.random() < 0.7)
        extra = int(rng.integers(0, 4))  # that were not retrieved
        relevance = np.append(relevance, rng.integers(1, 4, extra))
        scores = np.append(scores, np.zeros(extra))
        retrieved = np.append(retrieved, np.zeros(extra, bool))
        judged = np.append(judged, np.ones(extra, bool))
        judged |= not (relevance * judged).any()
    return scores, relevance, retrieved, judged
