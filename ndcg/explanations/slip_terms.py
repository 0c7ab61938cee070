"""Slips: ways in which nDCG goes wrong, and their effect on a query.

A slip changes one thing about the nDCG of a query: how the function reads its arguments, the options, or the sums that
it divides. So it applies to any convention, and two slips can be combined.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..inputs.documents import ById
from ..inputs.hashes import Columns
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, read
from ..measure.options import Options
from ..measure.scoring import discounts, ratio, sign
from ..measure.ties import Floats, Mask
from ..scores.queries import measure_rankings, user_terms

Documents = Mapping[Any, float]


class Query(NamedTuple):
    """The input of a function that computes nDCG: one query."""

    run: Documents  # the score of each retrieved document
    qrels: Documents  # the relevance of each judged document
    k: int | None  # the cutoff; None for the whole list
    missing: bool = (
        False  # whether the query is missing from the run, rather than having no documents there
    )
    name: Any = None  # the id of the query; None if it has none


Change = Callable[[Query], Query]
REMEMBERED_QUERIES = 100  # scores of more would fill the memory, one array for each definition


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
    reports: tuple[int, str] = (
        0,
        "",
    )  # how many are public, and one thread, `owner/repository#number` on GitHub
    both: Term = UNCHANGED  # how it computes both DCG and IDCG
    dcg: Term = UNCHANGED  # the DCG alone
    ideal: Term = UNCHANGED  # the IDCG alone
    # returns values from DCG and nDCG of queries; None for DCG / IDCG
    rule: Callable[[Sequence[Query], Floats, Floats], Floats] | None = None

    @property
    def is_option(self) -> bool:
        """Whether options of `compute` with plain values give the same result."""
        words = all(
            isinstance(value, (str, float, bool, int)) for value in self.both.options.values()
        )
        return (
            not self.both.changes
            and self.dcg == self.ideal == UNCHANGED
            and self.rule is None
            and words
        )

    @property
    def reported(self) -> str:
        """A sentence with the number of reports and an example; empty if there are none."""
        number, thread = self.reports
        times = f"{number} times, for example" if number > 1 else "once,"
        return f" It was reported {times} in {thread}." if number else ""

    def over(self, other: "Slip") -> "Slip":
        """Return two slips as one, the other one first."""
        return Slip(
            f"{other.name}; {self.name}",
            f"{other.meaning} {self.meaning}",
            both=self.both.over(other.both),
            dcg=self.dcg.over(other.dcg),
            ideal=self.ideal.over(other.ideal),
            rule=self.rule or other.rule,
        )

    def scores(self, queries: "Queries", options: Mapping[str, Any]) -> Floats:
        """Return the value of each query by options of `compute`, such as a convention, with this slip."""
        if self.dcg == self.ideal == UNCHANGED and self.rule is None:
            return queries.scores(options, "nDCG", self.both)
        dcg = queries.scores(options, "DCG", self.dcg.over(self.both))
        if self.rule is not None:
            return self.rule(queries.changed(()), dcg, queries.scores(options, "nDCG", self.both))
        ideal = queries.scores(options, "IDCG", self.ideal.over(self.both))
        parsed = Options.parse(k=1, **{**options, **self.both.options})
        turned = sign(discounts(1, parsed.log_base, parsed.discount))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = ratio(
                dcg,
                ideal,
                negative=True,
                sign=turned,
                zero_division=self._of_empty(queries, options, parsed),
            )
        return np.where(np.isnan(ideal), np.nan, values)

    def _of_empty(
        self, queries: "Queries", options: Mapping[str, Any], parsed: Options
    ) -> Floats | float:
        """Return the value of a query with an ideal DCG of 0."""
        if not isinstance(parsed.zero_division, str):
            return parsed.zero_division
        # An ideal that is cut at the length of the run is empty if nothing was retrieved, so the kernel's rule decides.
        perfect = queries.scores(
            options, "nDCG", Term(options={"ideal": "truncated"}).over(self.both)
        )
        return np.where(
            [bool(query.run) for query in queries.changed(self.both.changes)], 0.0, perfect
        )


class Queries:
    """Queries that are scored by many definitions: changed once for each change, and read once for each way of reading.

    >>> queries = Queries([Query({"a": 2, "b": 1}, {"b": 1}, 2)])
    >>> queries.scores({"convention": "sklearn"}).round(4).tolist()
    [0.6309]
    """

    def __init__(self, queries: Iterable[Query]) -> None:
        self._changed: dict[tuple[Change, ...], Sequence[Query]] = {(): list(queries)}
        self._read: dict[tuple[Any, ...], Rankings] = {}
        self._scores: dict[tuple[Any, ...], Floats] = {}
        self._tied: dict[tuple[Change, ...], Mask] = {}

    def changed(self, changes: tuple[Change, ...]) -> Sequence[Query]:
        """Apply changes to the queries, one after the other."""
        if changes not in self._changed:
            self._changed[changes] = [changes[-1](query) for query in self.changed(changes[:-1])]
        return self._changed[changes]

    def tied(self, changes: tuple[Change, ...]) -> Mask:
        """Return which queries have documents with equal scores after changes."""
        if changes not in self._tied:
            runs = [query.run.values() for query in self.changed(changes)]
            self._tied[changes] = np.array([len(set(run)) < len(run) for run in runs], bool)
        return self._tied[changes]

    def scores(
        self, options: Mapping[str, Any], measure: str = "nDCG", term: Term = UNCHANGED
    ) -> Floats:
        """Return the value of each query, by its own cutoff; nan for a query that is excluded from the mean."""
        how = {**options, **term.options}
        definition = (term.measure or measure, term.changes)
        few = len(self.changed(())) <= REMEMBERED_QUERIES
        if not few or not all(
            isinstance(value, Hashable) for value in how.values()
        ):  # a list of gains cannot be a key
            return self._scored(*definition, how)
        key = (*definition, *sorted(how.items()))
        if key not in self._scores:
            self._scores[key] = self._scored(*definition, how)
        return self._scores[key]

    def _scored(self, measure: str, changes: tuple[Change, ...], how: Mapping[str, Any]) -> Floats:
        """Return the value of each query after changes, by options."""
        queries = self.changed(changes)
        values = np.full(len(queries), np.nan)
        for k in {query.k for query in queries}:
            rows = [row for row, query in enumerate(queries) if query.k == k]
            cutoff = k
            if (
                k is None and Options.parse(k=1, **how).ideal == "full"
            ):  # which is as long as the longest list then
                cutoff = max(1, *(len(side) for row in rows for side in queries[row][:2]))
            parsed = Options.parse(measures=measure, k=cutoff, **how)
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
            run = {
                row: queries[row].run
                for row in rows
                if queries[row].run or not queries[row].missing
            }
            self._read[key] = read(
                run, {row: queries[row].qrels for row in rows}, **options.reading
            )
        return self._read[key]


def query_scores(
    queries: Sequence[Query], options: Mapping[str, Any], measure: str = "nDCG"
) -> Floats:
    """Return the value of each query by options of `compute`."""
    return Queries(queries).scores(options, measure)


def in_order(documents: Iterable[Any]) -> dict[Any, float]:
    """Return scores that fall by 1 from document to document.

    >>> in_order(["b", "a"])
    {'b': -1.0, 'a': -2.0}
    """
    return {document: -float(rank) for rank, document in enumerate(documents, start=1)}


def ranked(query: Query) -> list[Any]:
    """Return the documents of a run, best first; those with equal scores in their order."""
    return sorted(query.run, key=lambda document: -query.run[document])


def queries_by_ids(inputs: Inputs, names: Sequence[Any], k: int | None) -> Iterator[Query]:
    """Yield the queries of mappings or files in some order, with documents by their ids, in the order of the input."""
    run, qrels = (_documents_by_query(side) for side in inputs[:2])
    for name in names:
        yield Query(run.get(name, {}), qrels.get(name, {}), k, name not in run, name)


def have_ids(inputs: Inputs) -> bool:
    """Return whether the documents of both sides have ids, and none is excluded."""
    sides = inputs.predictions, inputs.references
    return all(isinstance(side, (ById, Columns)) for side in sides) and inputs.exclude is None


def _documents_by_query(side: Any) -> dict[Any, dict[Any, float]]:
    if isinstance(side, ById):
        return {
            query: {
                each: float(value)
                for each, value in documents.items()
                if value is not None and value > -np.inf
            }
            for query, documents in side.queries.items()
        }
    names = side.query_ids.to_pylist()
    documents: dict[Any, dict[Any, float]] = {name: {} for name in names}
    rows = zip(side.query.tolist(), side.document.to_pylist(), side.value.tolist(), strict=True)
    for query, document, value in rows:
        if value > -np.inf:
            documents[names[query]][document] = value
    return documents


def queries_of(rankings: Rankings, k: int | None) -> Iterator[Query]:
    """Yield the queries of rankings, with documents by their positions.

    >>> list(queries_of(Rankings(np.array([1, 0]), np.array([0.2, 0.9]), np.array([0, 2])), 10))
    [Query(run={0: 0.2, 1: 0.9}, qrels={0: 1, 1: 0}, k=10, missing=False, name=None)]
    """
    size = len(rankings.relevance)
    masks = rankings.judged, rankings.retrieved
    judged, retrieved = (np.ones(size, bool) if mask is None else mask for mask in masks)
    score, relevance = rankings.score.tolist(), rankings.relevance.tolist()
    for (start, end), missing in zip(
        pairwise(rankings.offsets.tolist()), rankings.lacking().tolist(), strict=True
    ):
        rows = range(start, end)
        run = {row - start: score[row] for row in rows if retrieved[row] and score[row] > -np.inf}
        yield Query(run, {row - start: relevance[row] for row in rows if judged[row]}, k, missing)
