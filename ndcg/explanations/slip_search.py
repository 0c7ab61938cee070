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
from .search import Searched, hash_of
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

    def __init__(
        self,
        searched: Searched,
        inputs: Inputs,
        known_queries: dict[int | None, Queries],
        as_given: Sequence[Evidence],
    ) -> None:
        # known_queries: by their cutoff, with the scores of other searches
        # as_given: the scores before they were read as percentages
        self.searched = searched
        self.as_given = searched._replace(evidence=as_given)
        self.tried = Tried()
        options = Options.parse(k=searched.k, **searched.given)
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
        self.queries: list[Queries] = []  # at each cutoff
        if len(rankings.relevance) > MOST_DOCUMENTS:
            return
        for k in searched.asked_cutoffs:
            if k not in known_queries:
                if by_ids:
                    queries = queries_by_ids(inputs, rankings.names(), k)
                else:
                    queries = queries_of(rankings, k)
                known_queries[k] = Queries(queries)
            self.queries.append(known_queries[k])

    def matches(self) -> list[FoundSlip]:
        """Return the slips that give the reported scores, except those that equal an option.

        If none does so with the discounts of conventions, the others that have a name are tried on
        values of queries or several scores; a single score would match many of these by chance.
        """
        slips = list(self._matching({}))
        is_enough = len(self.queries) > 1 or self.searched.reported_values is not None
        if not slips and is_enough and "discount" not in self.given:
            for discount in DISCOUNTS:
                slips += self._matching({"discount": discount})
        return sorted(slips, key=lambda slip: slip.changes)

    def _matching(self, discount: Mapping[str, str]) -> Iterator[FoundSlip]:
        """Yield the slips that give the scores, each on the convention that needs least changes."""
        usual = {
            convention: dict(self._values(NO_SLIP, convention, discount)) for convention in TRIED_ON
        }
        slips = [slip for slip in SLIPS if not slip.is_option and self.queries]
        for slip in tracked(slips, "Trying", " slips"):
            matches: list[FoundSlip] = []
            for convention in TRIED_ON:
                matches += self._matching_on(slip, convention, discount, usual[convention])
            if matches:
                yield min(matches, key=lambda match: match.changes)

    def _matching_on(
        self,
        slip: Slip,
        convention: str,
        discount: Mapping[str, str],
        usual: Mapping[float | None, Floats],
    ) -> Iterator[FoundSlip]:
        """Yield a match for each number for empty queries with which a slip gives the scores.

        `usual` are the values without the slip, by these numbers.
        """
        for zero, values in self._values(slip, convention, discount):
            if zero in usual and hash_of(values) == hash_of(usual[zero]):
                continue  # the slip changes nothing
            changed: dict[str, Any] = dict(discount)
            if zero is not None:
                changed["zero_division"] = zero
            match = self._match(slip, convention, changed, values)
            if match is not None:
                yield match

    def _match(
        self, slip: Slip, convention: str, changed: dict[str, Any], values: Floats
    ) -> FoundSlip | None:
        """Compare the values that a slip gives with the evidence; None if they do not match."""
        scores = self.searched.scores_of(values, self.searched.asked_cutoffs)
        self.tried.add(scores, np.full(len(scores), 1 + len(changed)))
        matches = bool(self.searched.matching(values, scores).all())
        if not matches and not self.as_given.matching(values, scores).all():
            return None
        score = partial(self.score, slip)
        return FoundSlip(slip, convention, changed, not matches, hash_of(values), score)

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
        defaults = CONVENTIONS[convention]
        if self.given.get("missing", defaults.missing) == "skip":
            # Missing queries have no value, whatever that of empty ones is.
            empty &= ~np.isnan(scores(0.0))
        usual: Any = defaults.zero_division
        for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
            yield None if zero == usual else zero, np.where(empty, zero, values)
