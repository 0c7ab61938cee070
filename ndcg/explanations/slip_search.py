"""Search for known slips that give reported scores, on the nDCG of a few libraries."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..inputs.reading import Inputs
from ..measure.arguments import DISCOUNTS
from ..measure.conventions import CONVENTIONS
from ..measure.ties import Floats
from ..scores.progress import tracked
from ..scores.queries import OF_GAINS
from .combination import Combination
from .evidence import Evidence, Tried
from .search import PossibleCause, Searched, hash_of
from .slip_terms import NO_SLIP, Queries, Slip, have_ids, queries_by_ids, queries_of
from .slips import SLIPS

MOST_DOCUMENTS = 100_000  # the most for which slips are tried, since these are plain Python
TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")


class SlipSearch:
    """The rankings as queries that slips can change, and the reported scores.

    Attributes:
        as_given: the search for the scores before they were read as percentages.
        tried: the scores of all slips.
    """

    def __init__(
        self,
        searched: Searched,
        inputs: Inputs,
        known_queries: dict[int | None, Queries],
        as_given: Evidence,
    ) -> None:
        # known_queries: queries by cutoff, whose scores other searches have computed already
        self.searched = searched
        self.as_given = searched._replace(evidence=as_given)
        self.tried = Tried()
        options = searched.options(k=searched.k)
        # rankings are in descending order in any case, but ids have the scores of the input
        self.given = dict(searched.given)
        self.given.pop("score_order", None)
        if options.labels is not None:  # the relevances in rankings are the gains of labels
            self.given |= {name: options.scoring[name] for name in OF_GAINS}
        rankings = searched.read(options)
        # Ids have the values of the input, before these options change them.
        by_ids = (
            options.score_order == "descending"
            and options.labels is None
            and have_ids(inputs)
            and searched.given.get("ignore_index") is None
        )
        self.queries: list[Queries] = []  # at every cutoff
        if len(rankings.relevance) > MOST_DOCUMENTS:
            return
        for k in searched.cutoffs:
            if k not in known_queries:
                if by_ids:
                    queries = queries_by_ids(inputs, rankings.names(), k)
                else:
                    queries = queries_of(rankings, k)
                known_queries[k] = Queries(queries)
            self.queries.append(known_queries[k])

    def causes(self) -> list[PossibleCause]:
        """Return the slips that give the reported scores, except those that equal an option.

        If none does so with the discounts of conventions, the others that have a name are tried on
        values of queries or several scores; a single score would match many of these by chance.
        """
        causes = list(self._matching({}))
        is_enough = len(self.queries) > 1 or self.searched.evidence.by_query
        if not causes and is_enough and "discount" not in self.given:
            for discount in DISCOUNTS:
                causes += self._matching({"discount": discount})
        return sorted(causes, key=lambda cause: cause.changes)

    def _matching(self, discount: Mapping[str, Any]) -> Iterator[PossibleCause]:
        """Yield the slips that give the scores, on the convention that needs least changes."""
        usual = {}
        for combination, values in self._values(NO_SLIP, discount):
            usual[repr(combination)] = hash_of(values)
        for slip in tracked([slip for slip in SLIPS if not slip.is_option], "Trying", " slips"):
            causes = []
            for combination, values in self._values(slip, discount):
                hashed = hash_of(values)
                if hashed == usual.get(repr(combination)):
                    continue  # the slip changes nothing
                scores = self.searched.scores_of(values)
                self.tried.add(scores, np.full(len(scores), 1 + len(combination.changed)))
                matches = bool(self.searched.matching(values, scores).all())
                if matches or self.as_given.matching(values, scores).all():
                    cause = PossibleCause(combination, hashed, slip.name, as_given=not matches)
                    causes.append(cause)
            if causes:
                yield min(causes, key=lambda cause: cause.changes)

    def _values(
        self, slip: Slip, discount: Mapping[str, Any]
    ) -> Iterator[tuple[Combination, Floats]]:
        """Yield the values of queries with a slip at every cutoff, by the options beside it.

        These are the conventions, and other numbers for empty queries.
        """
        for convention in TRIED_ON:
            options = {"convention": convention, **self.given, **discount}
            try:
                values = self._scores(slip, {"zero_division": math.nan, **options})
            except ValueError:  # these rankings have no score under the convention
                continue
            empty = np.isnan(values)
            if "zero_division" in self.given or not empty.any():
                yield Combination(convention, dict(discount), math.nan), values
                continue
            defaults = CONVENTIONS[convention]
            if self.given.get("missing", defaults.missing) == "skip":
                # Missing queries have no value, whatever that of empty ones is.
                empty &= ~np.isnan(self._scores(slip, {"zero_division": 0.0, **options}))
            usual: Any = defaults.zero_division
            for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
                changed = dict(discount)
                if zero != usual:
                    changed["zero_division"] = zero
                yield Combination(convention, changed, math.nan), np.where(empty, zero, values)

    def _scores(self, slip: Slip, options: Mapping[str, Any]) -> Floats:
        return np.array([slip.scores(queries, options) for queries in self.queries])
