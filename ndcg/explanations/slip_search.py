"""Search for known slips that give reported scores, on the nDCG of a few libraries."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..measure.arguments import DISCOUNTS
from ..measure.conventions import CONVENTIONS
from ..measure.ties import Floats
from ..scores.progress import tracked
from .combination import Combination
from .evidence import Evidence, Tried
from .search import PossibleCause, Searched, hash_of
from .slip_terms import NO_SLIP, Queries, Slip
from .slips import SLIPS

TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")


class SlipSearch:
    """The rankings as queries that slips can change, and the reported scores.

    Attributes:
        as_given: the search for the scores before they were read as percentages.
        tried: the scores of all slips.
    """

    def __init__(self, searched: Searched, queries: Sequence[Queries], as_given: Evidence) -> None:
        self.searched = searched
        self.queries = queries  # at every cutoff
        self.as_given = searched._replace(evidence=as_given)
        self.tried = Tried()

    def causes(self) -> list[PossibleCause]:
        """Return the slips that give the reported scores, except slips that equal an option.

        If none does so with the discounts of conventions, the others that have a name are tried on
        values of queries or several scores; a single score would match many of these by chance.
        """
        changed = {}
        if self._omit_missing():
            changed["missing"] = "skip"
        causes = list(self._matching(changed))
        is_enough = len(self.queries) > 1 or self.searched.evidence.by_query
        if not causes and is_enough and "discount" not in self.searched.given:
            for discount in DISCOUNTS:
                causes += self._matching({**changed, "discount": discount})
        return sorted(causes, key=lambda cause: cause.changes)

    def _omit_missing(self) -> bool:
        """Return whether the reported values leave out the queries that the run lacks."""
        evidence = self.searched.evidence
        if "missing" in self.searched.given or not (evidence.by_query and self.queries):
            return False
        missing = [query.missing for query in self.queries[0].changed(())]
        return any(missing) and bool(np.isnan(evidence.scores[missing]).all())

    def _matching(self, changed: Mapping[str, Any]) -> Iterator[PossibleCause]:
        """Yield the slips that give the scores, on the convention that needs least changes."""
        usual = {}
        for combination, values in self._values(NO_SLIP, changed):
            usual[repr(combination)] = hash_of(values)
        for slip in tracked([slip for slip in SLIPS if not slip.is_option], "Trying", " slips"):
            causes = []
            for combination, values in self._values(slip, changed):
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
        self, slip: Slip, changed: Mapping[str, Any]
    ) -> Iterator[tuple[Combination, Floats]]:
        """Yield the values of queries with a slip, by convention and value of empty ones."""
        for convention in TRIED_ON:
            options = {"convention": convention, **self.searched.given, **changed}
            try:
                values = self._scores(slip, {"zero_division": math.nan, **options})
            except ValueError:  # these rankings have no score under the convention
                continue
            empty = np.isnan(values)
            if "zero_division" in self.searched.given or not empty.any():
                yield Combination(convention, dict(changed), math.nan), values
                continue
            defaults = CONVENTIONS[convention]
            if options.get("missing", defaults.missing) == "skip":
                # Missing queries have no value, whatever that of empty ones is.
                empty &= ~np.isnan(self._scores(slip, {"zero_division": 0.0, **options}))
            usual: Any = defaults.zero_division
            for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
                with_zero = dict(changed)
                if zero != usual:
                    with_zero["zero_division"] = zero
                yield Combination(convention, with_zero, math.nan), np.where(empty, zero, values)

    def _scores(self, slip: Slip, options: Mapping[str, Any]) -> Floats:
        return np.array([slip.scores(queries, options) for queries in self.queries])
