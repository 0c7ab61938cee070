"""Slips: ways in which nDCG goes wrong, and their effect on a query.

A slip changes one thing about the nDCG of a query: how the function reads its arguments, the
options, or the sums that it divides. So it applies to any convention, and two slips can be
combined.
"""

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.documents import ById
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, read, user_terms
from ..measure.options import Options
from ..measure.scoring import discounts, ratio, sign
from ..measure.ties import Floats, Mask
from ..scores.queries import measure_rankings

Documents = Mapping[Any, float]


class Query(NamedTuple):
    """The input of a function that computes nDCG: one query."""

    run: Documents  # the score of every retrieved document
    qrels: Documents  # the relevance of every judged document
    k: int | None  # the cutoff; None for the whole list
    # whether the query is missing from the run, rather than having no documents there
    missing: bool = False
    name: Any = None  # the id of the query; None if it has none

    @property
    def relevant(self) -> list[Any]:
        """The relevant documents, in the order of the judgments."""
        return [document for document, relevance in self.qrels.items() if relevance > 0]


Change = Callable[[Query], Query]
REMEMBERED_QUERIES = 100  # scores of more would fill the memory, an array a definition


class Term(NamedTuple):
    """How a slip computes the DCG, or the value that it is divided by."""

    changes: tuple[Change, ...] = ()  # of the query, one after the other
    options: Mapping[str, Any] = {}  # of `compute`, in place of the convention's
    measure: str = ""  # in place of DCG or IDCG

    def over(self, other: "Term") -> "Term":
        """Return the two slips combined, the other one first."""
        options = {**other.options, **self.options}
        return Term((*other.changes, *self.changes), options, self.measure or other.measure)


UNCHANGED = Term()


class Slip(NamedTuple):
    """A way in which nDCG goes wrong."""

    name: str  # a few words for it
    meaning: str  # one sentence on the computation
    # how many are public, and one thread, `owner/repository#number` on GitHub
    reports: tuple[int, str] = (0, "")
    both: Term = UNCHANGED  # how it computes both DCG and IDCG
    dcg: Term = UNCHANGED  # the DCG alone
    ideal: Term = UNCHANGED  # the IDCG alone
    # returns values from DCG and nDCG of queries; None for DCG / IDCG
    rule: Callable[[Sequence[Query], Floats, Floats], Floats] | None = None

    @property
    def is_option(self) -> bool:
        """Whether options of `compute` with plain values give the same result."""
        if self.both.changes or self.has_own_sums:
            return False
        return not any(map(callable, self.both.options.values()))

    @property
    def has_own_sums(self) -> bool:
        """Whether it is more than the nDCG of other queries or options."""
        return self.rule is not None or not self.dcg == self.ideal == UNCHANGED

    @property
    def sentences(self) -> str:
        """What it computes, and how often it was reported."""
        number, thread = self.reports
        if number == 0:
            return self.meaning
        return f"{self.meaning} Public reports: {number}, such as {thread}."

    def over(self, other: "Slip") -> "Slip":
        """Return two slips as one, the other one first."""
        return self._replace(
            both=self.both.over(other.both),
            dcg=self.dcg.over(other.dcg),
            ideal=self.ideal.over(other.ideal),
            rule=self.rule or other.rule,
        )

    def scores(self, queries: "Queries", options: Mapping[str, Any]) -> Floats:
        """Return the value of every query by options of `compute`, with this slip."""
        if not self.has_own_sums:
            return queries.scores(options, "nDCG", self.both)
        dcg = queries.scores(options, "DCG", self.dcg.over(self.both))
        if self.rule is not None:
            return self.rule(queries.changed(()), dcg, queries.scores(options, "nDCG", self.both))
        ideal = queries.scores(options, "IDCG", self.ideal.over(self.both))
        parsed = Options.parse(k=1, **{**options, **self.both.options})
        empty: Any = parsed.zero_division
        if isinstance(empty, str):
            # An ideal that is cut at the length of the run is empty if nothing was retrieved, so
            # the kernel's rule decides.
            truncated = Term(options={"ideal": "truncated"}).over(self.both)
            perfect = queries.scores(options, "nDCG", truncated)
            has_run = [bool(query.run) for query in queries.changed(self.both.changes)]
            empty = np.where(has_run, 0.0, perfect)
        turned = sign(discounts(1, parsed.log_base, parsed.discount))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = ratio(dcg, ideal, negative=True, sign=turned, zero_division=empty)
        return np.where(np.isnan(ideal), np.nan, values)


NO_SLIP = Slip("", "")


class Queries:
    """Queries that are scored by many definitions: changed once by a change, and read once.

    >>> queries = Queries([Query({"a": 2, "b": 1}, {"b": 1}, 2)])
    >>> queries.scores({"convention": "sklearn"}).round(4).tolist()
    [0.6309]
    """

    def __init__(self, queries: Iterable[Query]) -> None:
        self._queries = list(queries)
        self.changed = cache(self._changed)
        self.tied = cache(self._tied)
        self._read: dict[tuple[Any, ...], Rankings] = {}
        self._scores: dict[tuple[Any, ...], Floats] = {}

    def _changed(self, changes: tuple[Change, ...]) -> Sequence[Query]:
        """Apply changes to the queries, one after the other."""
        if not changes:
            return self._queries
        return list(map(changes[-1], self.changed(changes[:-1])))

    def _tied(self, changes: tuple[Change, ...]) -> Mask:
        """Return which queries have documents with equal scores after changes."""
        return np.array(list(map(has_ties, self.changed(changes))), bool)

    def scores(
        self, options: Mapping[str, Any], measure: str = "nDCG", term: Term = UNCHANGED
    ) -> Floats:
        """Return the value of every query, by its cutoff; nan if it is excluded from the mean."""
        options = {**options, **term.options}
        definition = (term.measure or measure, term.changes)
        # A list of gains cannot be a key.
        can_be_key = all(isinstance(value, Hashable) for value in options.values())
        if not can_be_key or len(self.changed(())) > REMEMBERED_QUERIES:
            return self._scored(*definition, options)
        key = (*definition, *sorted(options.items()))
        if key not in self._scores:
            self._scores[key] = self._scored(*definition, options)
        return self._scores[key]

    def _scored(
        self, measure: str, changes: tuple[Change, ...], options: Mapping[str, Any]
    ) -> Floats:
        queries = self.changed(changes)
        values = np.full(len(queries), np.nan)
        rows_by_cutoff: dict[int | None, list[int]] = {}
        for row, query in enumerate(queries):
            rows_by_cutoff.setdefault(query.k, []).append(row)
        for k, rows in rows_by_cutoff.items():
            cutoff = k
            if k is None and Options.parse(k=1, **options).ideal == "full":
                # This ideal is as long as the longest list then.
                lengths = [max(len(queries[row].run), len(queries[row].qrels)) for row in rows]
                cutoff = max(1, *lengths)
            parsed = Options.parse(measures=measure, k=cutoff, **options)
            rankings = self.rankings(rows, changes, parsed)
            with user_terms(rankings):
                values[rows] = next(iter(measure_rankings(rankings, parsed).values()))[0]
        return values

    def rankings(
        self, rows: Sequence[int], changes: tuple[Change, ...], options: Options
    ) -> Rankings:
        """Return some of the queries as rankings, after changes, as some options read them."""
        key = (changes, *rows, *options.reading.values())
        if key not in self._read:
            queries = self.changed(changes)
            run = {}
            qrels = {}
            for row in rows:
                query = queries[row]
                qrels[row] = query.qrels
                if query.run or not query.missing:
                    run[row] = query.run
            with warnings.catch_warnings():
                # A slip may use ranks as scores, which reading warns of.
                warnings.simplefilter("ignore", UserWarning)
                self._read[key] = read(run, qrels, **options.reading)
        return self._read[key]


def has_ties(query: Query) -> bool:
    """Return whether documents of a query have equal scores."""
    return len(set(query.run.values())) < len(query.run)


def in_order(documents: Iterable[Any]) -> dict[Any, float]:
    """Return scores that fall by 1 from document to document."""
    return {document: -float(rank) for rank, document in enumerate(documents, start=1)}


def ranked(query: Query) -> list[Any]:
    """Return the documents of a run, best first; documents with equal scores in their order."""
    return sorted(query.run, key=lambda document: -query.run[document])


def queries_by_ids(inputs: Inputs, names: Sequence[Any], k: int | None) -> Iterator[Query]:
    """Yield queries of mappings or files, with documents by id, in the order of the input."""
    run = _documents_by_query(inputs.predictions)
    qrels = _documents_by_query(inputs.references)
    for name in names:
        yield Query(run.get(name, {}), qrels.get(name, {}), k, name not in run, name)


def _documents_by_query(side: Any) -> dict[Any, dict[Any, float]]:
    """Return the documents of every query that have a value; the others were not retrieved."""
    by_query: dict[Any, dict[Any, Any]]
    if isinstance(side, ById):
        by_query = dict(side.queries)
    else:
        names = side.query_ids.to_pylist()
        by_query = {name: {} for name in names}
        rows = zip(side.query.tolist(), side.document.to_pylist(), side.value.tolist(), strict=True)
        for query, document, value in rows:
            by_query[names[query]][document] = value
    for query, documents in by_query.items():
        by_query[query] = {
            document: float(value)
            for document, value in documents.items()
            if value is not None and value > -np.inf
        }
    return by_query


def queries_of(rankings: Rankings, k: int | None) -> Iterator[Query]:
    """Yield the queries of rankings, with documents by their positions.

    >>> list(queries_of(Rankings(np.array([1, 0]), np.array([0.2, 0.9]), np.array([0, 2])), 10))
    [Query(run={0: 0.2, 1: 0.9}, qrels={0: 1, 1: 0}, k=10, missing=False, name=None)]
    """
    retrieved, judged = rankings.sides()
    bounds = pairwise(rankings.offsets.tolist())
    for (start, end), missing in zip(bounds, rankings.lacking().tolist(), strict=True):
        query = slice(start, end)
        run = _by_position(rankings.score[query], retrieved[query])
        qrels = _by_position(rankings.relevance[query], judged[query])
        yield Query(run, qrels, k, missing)


def _by_position(values: NDArray[Any], mask: Mask) -> dict[Any, Any]:
    positions = np.flatnonzero(mask)
    return dict(zip(positions.tolist(), values[positions].tolist(), strict=True))
