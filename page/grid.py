"""The queries of several runs as a grid, and two rankings of a query side by side."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from .html import number
from .metric import Options
from .picture import Drawing, Line, lines_between
from .ranking import Document, Ranking, Step
from .reading import Mappings
from .results import Results
from .settings import is_lowest_first, labels_of
from .standings import Standing

FIRST, LAST = 150, 50  # queries of a long grid that are shown
DRAWN = 20  # documents of a ranking at most


class Grid:
    """The queries by runs, in an order: where the base loses, its weakest, or missing ones."""

    def __init__(self, standing: Standing, results: Results, sort: str) -> None:
        self.standing, self.results, self.sort = standing, results, sort
        self.runs = list(standing.scores)
        self.base = self.runs.index(standing.base)
        # a row for every run
        self.values = np.array([results.values[standing.measure, run] for run in self.runs])
        # a query that is skipped has no value, no distance and no color
        self.comparable = np.where(np.isnan(self.values), -np.inf, self.values)
        self.distances = self.comparable.max(axis=0) - self.values
        self.longest = float(np.nanmax(self.distances, initial=0.0))
        with np.errstate(invalid="ignore"):  # where all runs are alike
            self.shades = np.nan_to_num(self.distances / self.longest)
        self.order = self._order()

    def _order(self) -> list[int]:
        """Return the places of the queries in the order; without a value they come last."""
        losses = self.distances[self.base]
        keys = -losses
        if self.sort == "weakest":
            keys = self.values[self.base]
        if self.sort == "missing":
            keys = -np.array(list(map(self._lacking, self.results.queries)), float)
        # lexsort begins with the last key
        order: list[int] = np.lexsort((-losses, keys)).tolist()
        return order

    @property
    def opened(self) -> int:
        """The place of the query that is opened: the first of the order that the base has."""
        lacked = self.results.missing[self.standing.base]
        # in the order of what is missing, a query that is not retrieved is what is looked for
        if self.sort == "missing":
            return self.order[0]
        retrieved = (place for place in self.order if self.results.queries[place] not in lacked)
        return next(retrieved, self.order[0])

    def _lacking(self, query: str) -> int:
        return sum(query in missing for missing in self.results.missing.values())

    def best_other(self, place: int) -> str:
        """Return the run with the highest value of a query, the base aside; none if it is alone."""
        values = dict(zip(self.runs, self.comparable[:, place], strict=True))
        del values[self.standing.base]
        return max(values, key=values.__getitem__, default="")

    @property
    def first(self) -> list[dict[str, Any]]:
        """The first queries of the order."""
        return list(map(self._row, self.order[:FIRST]))

    @property
    def last(self) -> list[dict[str, Any]]:
        """The last queries of the order."""
        return list(map(self._row, self.order[FIRST:][-LAST:]))

    @property
    def between(self) -> int:
        """The number of queries between the first and the last ones, which are not shown."""
        return max(0, len(self.order) - FIRST - LAST)

    def _row(self, place: int) -> dict[str, Any]:
        """Return a query, the run beside which the base is opened, and the values of the runs.

        A shade is the distance from the best of the query as a share of the longest.
        """
        query, cells = self.results.queries[place], []
        for at, run in enumerate(self.runs):
            cell = {"run": run, "value": self.values[at, place], "shade": self.shades[at, place]}
            cell["is_best"] = self.distances[at, place] == 0
            cell["is_missing"] = query in self.results.missing[run]
            cells.append(cell)
        return {"query": query, "other": self.best_other(place), "cells": cells}

    @property
    def sentence(self) -> str:
        """The first query of the order, in words."""
        place, base = self.order[0], self.standing.base
        query = self.results.queries[place]
        if self.sort == "missing":
            return f"{query} is missing from {self._lacking(query)} of {len(self.runs)} runs."
        value = self.values[self.base, place]
        if math.isnan(value):
            return f"No query has a value in {base}."
        if self.sort == "loses" and self.distances[self.base, place] == 0:
            return f"{base} is the best on every query."
        does = "is weakest" if self.sort == "weakest" else "loses most"
        if query in self.results.missing[base]:
            return f"{base} {does} on {query}, which it lacks."
        return f"{base} {does} on {self._figures(place)}."

    def _figures(self, place: int) -> str:
        """Return a query with the value of the base, and with that of the best if this is more."""
        figures = f"{self.results.queries[place]}: {number(self.values[self.base, place])}"
        if self.sort == "weakest":
            return figures
        best = number(self.comparable[:, place].max())
        return f"{figures}, where {self.best_other(place)} has {best}"


def sorts_of(standing: Standing, results: Results) -> dict[str, str]:
    """Return the orders of the grid with their names."""
    sorts = {"loses": f"Where {standing.base} loses", "weakest": "Its weakest"}
    if len(standing.scores) < 2:
        del sorts["loses"]
    if any(results.missing.values()):
        sorts["missing"] = "Missing"
    return sorts


# --- Two rankings ------------------------------------------------------------------------------


class Side(NamedTuple):
    """A ranking of a query by a run."""

    run: str
    value: float  # nan if the query is skipped
    ranking: Ranking
    is_missing: bool  # whether nothing was retrieved
    link: str  # to the ranking in Understand; empty if an address cannot hold it

    @property
    def steps(self) -> list[Step]:
        """The documents that are drawn: up to the cutoff, or as many as there is room for."""
        ranked = self.ranking.ranked
        # a document that is tied with one within the cutoff counts too
        counting = [rank for rank, step in enumerate(ranked, 1) if step.added]
        return ranked[: min(DRAWN, max([self.ranking.depth, *counting]))]

    @property
    def more(self) -> int:
        """The number of ranked documents that are not drawn."""
        return len(self.ranking.ranked) - len(self.steps)

    @property
    def missed(self) -> list[str]:
        """The relevant documents that were not retrieved, the most relevant first."""
        missed = [step.document for step in self.ranking.unranked if step.gain > 0]
        # as text, since labels have no order
        missed.sort(key=lambda document: str(document.relevance), reverse=True)
        return [f"{document.name} ({document.relevance})" for document in missed]


def pair_of(query: str, sides: list[Side]) -> dict[str, Any]:
    """Return what is shown of the rankings of a query by one or two runs."""
    steps: list[Step] = []
    orders: list[list[Step]] = []
    for side in sides:
        steps += side.ranking.steps
        if side.steps:
            orders.append(side.steps)
    lines: list[Line] = []
    if len(orders) == 2:
        lines = lines_between(*orders)
    return {
        "query": query,
        "sides": sides,
        "drawing": Drawing.of(steps, labels_of(sides[0].ranking.options) is not None),
        "lines": lines,
        "rows": max([0, *map(len, orders)]),
        "has_unjudged": any(step.document.relevance is None for step in itertools.chain(*orders)),
        # as the figure of Understand has them
        "moved": (),
        "shows_scores": False,
        "shows_numbers": False,
    }


def ranking_in(run: Mappings, judgments: Mappings, query: str, options: Options) -> Ranking:
    """Return the ranking of a query: what a run retrieved, then what it missed."""
    scores, judged = run.get(query, {}), judgments.get(query, {})
    ranked = sorted(scores, key=scores.__getitem__, reverse=not is_lowest_first(options))
    names = dict.fromkeys([*ranked, *judged])
    documents = [Document(name, judged.get(name), scores.get(name)) for name in names]
    return Ranking(tuple(documents), options)
