"""Search for known slips that give reported scores, each on the nDCG of a few libraries."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.reading import Inputs
from ..measure.arguments import DISCOUNTS
from ..measure.conventions import CHOICES, CONVENTIONS
from ..measure.options import Options
from ..scores.means import mean
from ..scores.progress import progress
from ..scores.queries import OF_GAINS
from .combination import Combination
from .search import AVERAGING, Evidence, Searched
from .slip_terms import Queries, Slip, have_ids, queries_by_ids, queries_of
from .slips import SLIPS

MOST_DOCUMENTS = 100_000  # the most documents for which slips are tried, since these are plain Python
SLIPS_TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")


class FoundSlip(NamedTuple):
    """A slip that gives the reported scores."""

    slip: Slip
    convention: str  # the convention that it is made on
    changed: dict[str, Any]  # `discount` and `zero_division`, if they differ from the convention's
    as_given: bool  # whether the slip gives the scores only if they are not read as percentages
    score: Callable[[Options], float]  # returns the score with the slip under some options, at the first cutoff

    def __str__(self) -> str:
        return str(Combination(self.convention, self.changed, math.nan))


class SlipSearch:
    """The rankings as queries that slips can change, and the reported scores.

    Args:
        searched: the rankings, the known options and the reported scores.
        inputs: the rankings as the caller passed them.
        as_given: the scores before they were read as percentages.
    """

    def __init__(self, searched: Searched, inputs: Inputs, as_given: Sequence[Evidence]) -> None:
        self.searched, self.as_given = searched, searched._replace(evidence=as_given)
        # rankings are in descending order in any case, but ids have the scores of the input
        self.given = {name: value for name, value in searched.given.items() if name != "score_order"}
        options = Options.parse(k=searched.k, **searched.given)
        if options.labels is not None:  # the relevances in rankings are the gains of labels
            self.given |= {name: options.scoring[name] for name in OF_GAINS}
        descending = options.score_order == "descending"
        rankings = searched.read(options)
        by_ids = (
            descending and options.labels is None and have_ids(inputs) and searched.given.get("ignore_index") is None
        )
        self.is_small = len(rankings.relevance) <= MOST_DOCUMENTS
        cutoffs = (searched.named_cutoffs or [searched.k]) if self.is_small else []
        self.queries = [
            Queries(queries_by_ids(inputs, rankings.names(), k) if by_ids else queries_of(rankings, k)) for k in cutoffs
        ]

    def found(self) -> list[FoundSlip]:
        """Return the slips that give the reported scores, except those that equal an option of `compute`.

        If none does so with the discounts of conventions, the others that have a name are tried on values of queries
        or several scores; a single score would match many of these by chance.
        """
        slips = [*self._found({})]
        if not slips and self.tries_discounts:
            slips = [each for discount in DISCOUNTS for each in self._found({"discount": discount})]
        return slips

    @property
    def tries_discounts(self) -> bool:
        """Whether the evidence is enough to try each discount."""
        is_enough = len(self.queries) > 1 or self.searched.of_queries is not None
        return is_enough and "discount" not in self.given

    def _found(self, changed_discount: Mapping[str, str]) -> Iterator[FoundSlip]:
        slips = [slip for slip in SLIPS if not slip.is_option and self.is_small]
        with progress(len(slips), "Trying", " slips") as bar:
            for slip in slips:
                for convention, changed, values in self._values(slip, changed_discount):
                    gives = self.searched.has_evidence(values)
                    if gives or self.as_given.has_evidence(values):
                        yield FoundSlip(slip, convention, changed, not gives, partial(self.score, slip))
                        break
                bar.update(1)

    def score(self, slip: Slip, options: Options) -> float:
        """Return the score with a slip, under some options, at the first cutoff."""
        chosen = {name: getattr(options, name) for name in CHOICES}
        chosen |= {name: options.scoring[name] for name in OF_GAINS}
        return mean("nDCG", slip.scores(self.queries[0], {**self.given, **chosen}), self.searched.weight)

    def _values(
        self, slip: Slip, discount: Mapping[str, str]
    ) -> Iterator[tuple[str, dict[str, Any], NDArray[np.float64]]]:
        """Yield the values of queries at each cutoff, under each convention and number for empty queries."""
        for convention in SLIPS_TRIED_ON:

            def scores(zero_division: float, convention: str = convention) -> NDArray[np.float64]:
                options = {"convention": convention, "zero_division": zero_division, **self.given, **discount}
                return np.array([slip.scores(each, options) for each in self.queries])

            try:
                values = scores(math.nan)
            except ValueError:  # these rankings have no score under the convention
                continue
            empty = np.isnan(values)
            if "zero_division" in self.given or not empty.any():
                yield convention, {**discount}, values
                continue
            usual, missing = (self.given.get(name, getattr(CONVENTIONS[convention], name)) for name in AVERAGING)
            if missing == "skip":
                empty &= ~np.isnan(scores(0.0))
            for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
                changed = {} if zero == usual else {"zero_division": zero}
                yield convention, {**discount, **changed}, np.where(empty, zero, values)
