"""Search for known slips that give reported scores, on the nDCG of a few libraries."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..inputs.reading import Inputs
from ..measure.arguments import DISCOUNTS
from ..measure.conventions import CHOICES, CONVENTIONS
from ..measure.messages import worded
from ..measure.options import Options
from ..measure.ties import Floats
from ..scores.means import mean
from ..scores.progress import tracked
from ..scores.queries import OF_GAINS
from .combination import Combination
from .evidence import Evidence, Tried
from .search import AVERAGING, Searched, hash_of
from .slip_terms import Queries, Slip, have_ids, queries_by_ids, queries_of
from .slips import SLIPS

MOST_DOCUMENTS = 100_000  # the most for which slips are tried, since these are plain Python
TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")
NO_SLIP = Slip("", "")


class FoundSlip(NamedTuple):
    """A slip that gives the reported scores."""

    slip: Slip
    convention: str  # the convention that it is made on
    changed: dict[str, Any]  # `discount` and `zero_division`, if they differ from the convention's
    as_given: bool  # whether it gives the scores only if they are not read as percentages
    values: int  # a hash of the values of queries
    score: Callable[[Options], float]  # returns the score with the slip under some options

    @property
    def changes(self) -> int:
        """In how many ways it differs from a convention."""
        return 1 + len(self.changed)

    @property
    def marked(self) -> str:
        """The convention and the options in words, with the options marked."""
        return Combination(self.convention, self.changed, math.nan).marked

    def __str__(self) -> str:
        return worded(self)


class SlipSearch:
    """The rankings as queries that slips can change, and the reported scores."""

    def __init__(self, searched: Searched, inputs: Inputs, as_given: Sequence[Evidence]) -> None:
        # as_given: the scores before they were read as percentages
        self.searched, self.as_given = searched, searched._replace(evidence=as_given)
        self.tried = Tried()
        # rankings are in descending order in any case, but ids have the scores of the input
        self.given = {
            name: value for name, value in searched.given.items() if name != "score_order"
        }
        options = Options.parse(k=searched.k, **searched.given)
        if options.labels is not None:  # the relevances in rankings are the gains of labels
            self.given |= {name: options.scoring[name] for name in OF_GAINS}
        rankings = searched.read(options)
        by_ids = (
            options.score_order == "descending"
            and options.labels is None
            and have_ids(inputs)
            and searched.given.get("ignore_index") is None
        )
        is_small = len(rankings.relevance) <= MOST_DOCUMENTS
        self.queries = [
            Queries(
                queries_by_ids(inputs, rankings.names(), k) if by_ids else queries_of(rankings, k)
            )
            for k in (searched.asked_cutoffs if is_small else [])
        ]

    def found(self) -> list[FoundSlip]:
        """Return the slips that give the reported scores, except those that equal an option of `compute`.

        If none does so with the discounts of conventions, the others that have a name are tried on values
        of queries or several scores; a single score would match many of these by chance.
        """
        slips = [*self._found({})]
        is_enough = len(self.queries) > 1 or self.searched.reported_values is not None
        if not slips and is_enough and "discount" not in self.given:
            slips = [each for discount in DISCOUNTS for each in self._found({"discount": discount})]
        return sorted(slips, key=lambda found: found.changes)

    def _found(self, discount: Mapping[str, str]) -> Iterator[FoundSlip]:
        """Yield each slip that gives the scores, on the convention that needs the fewest changes."""
        without = {
            convention: dict(self._values(NO_SLIP, convention, discount)) for convention in TRIED_ON
        }
        slips = [slip for slip in SLIPS if not slip.is_option and self.queries]
        for slip in tracked(slips, "Trying", " slips"):
            found: list[FoundSlip] = []
            for convention in TRIED_ON:
                for zero, values in self._values(slip, convention, discount):
                    usual = without[convention].get(zero)
                    if usual is not None and hash_of(values) == hash_of(usual):
                        continue  # the slip changes nothing
                    changed = {**discount, **({} if zero is None else {"zero_division": zero})}
                    scores = self.searched.scores_of(values, self.searched.asked_cutoffs)
                    self.tried.add(scores, np.full(len(scores), 1 + len(changed)))
                    gives = self.searched.matching(values, scores).all()
                    if gives or self.as_given.matching(values, scores).all():
                        score = partial(self.score, slip)
                        own = hash_of(values)
                        found.append(FoundSlip(slip, convention, changed, not gives, own, score))
            yield from sorted(found, key=lambda each: each.changes)[:1]

    def score(self, slip: Slip, options: Options) -> float:
        """Return the score with a slip, under some options, at the first cutoff."""
        chosen = {name: getattr(options, name) for name in CHOICES}
        chosen |= {name: options.scoring[name] for name in OF_GAINS}
        values = slip.scores(self.queries[0], {**self.given, **chosen})
        return mean("nDCG", values, self.searched.weight)

    def _values(
        self, slip: Slip, convention: str, discount: Mapping[str, str]
    ) -> Iterator[tuple[float | None, Floats]]:
        """Yield the values of queries at each cutoff, for each number for empty queries.

        The number is None if it is the convention's, or none is empty.
        """

        def scores(zero_division: float) -> Floats:
            options = {
                "convention": convention,
                "zero_division": zero_division,
                **self.given,
                **discount,
            }
            return np.array([slip.scores(queries, options) for queries in self.queries])

        try:
            values = scores(math.nan)
        except ValueError:  # these rankings have no score under the convention
            return
        empty = np.isnan(values)
        if "zero_division" in self.given or not empty.any():
            yield None, values
            return
        usual, missing = (
            self.given.get(name, getattr(CONVENTIONS[convention], name)) for name in AVERAGING
        )
        if missing == "skip":
            empty &= ~np.isnan(scores(0.0))
        for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
            yield None if zero == usual else zero, np.where(empty, zero, values)
