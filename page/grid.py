"""The queries of several runs as a grid, and two rankings of a query side by side."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .html import number, number_or, some
from .picture import Drawing, Entry, Line, entries_of, label_names, lines_between
from .ranking import Document, Ranking, Step, by_rank, steps_of
from .reading import Mappings
from .results import Results
from .standings import Standing

FIRST, LAST = 150, 50  # queries of a long grid that are shown
DRAWN = 20  # documents of a ranking at most
NAMED = 8  # relevant documents that were missed


class Cell(NamedTuple):
    """The value of a query in a run."""

    run: str
    text: str
    shade: float  # the distance from the best of the row, as a share of the longest
    is_best: bool
    is_missing: bool
    is_open: bool


class GridRow(NamedTuple):
    """A query of the grid."""

    query: str
    other: str  # the run beside which the base is opened
    cells: tuple[Cell, ...]


class Grid(NamedTuple):
    """The queries by runs, in an order."""

    sort: str
    sentence: str  # the first query of this order, in words
    runs: tuple[str, ...]
    first: tuple[GridRow, ...]
    last: tuple[GridRow, ...]
    between: int  # the queries that are not shown
    longest: float  # the longest distance from the best of a row


def sorts_of(standing: Standing, results: Results) -> dict[str, str]:
    """Return the orders of the grid with their names."""
    sorts = {"loses": f"Where {standing.base} loses", "weakest": "Its weakest"}
    if len(standing.scores) < 2:
        del sorts["loses"]
    if any(results.missing.values()):
        sorts["missing"] = "Missing"
    return sorts


def grid_of(
    standing: Standing, results: Results, sort: str, query: str, other: str, *, every: bool
) -> Grid:
    """Return the queries by runs, in an order; `query` and `other` are open."""
    runs = list(standing.scores)
    values = np.array([results.values[standing.measure, run] for run in runs])
    base = runs.index(standing.base)
    highest = np.nanmax(_comparable(values), axis=0)
    distances = highest - values
    longest = float(np.nanmax(distances, initial=0.0))
    # a query that is skipped has no distance, and no color
    shades = np.nan_to_num(distances / (longest or 1.0))
    order = _order(sort, values[base], distances[base], results)

    def row(place: int) -> GridRow:
        name = results.queries[place]
        cells = []
        for at, run in enumerate(runs):
            text = number_or(values[at, place], "–")
            is_best = distances[at, place] == 0
            is_missing = name in results.missing[run]
            is_open = name == query and run in (standing.base, other)
            cells.append(Cell(run, text, shades[at, place], is_best, is_missing, is_open))
        return GridRow(name, _best_other(runs, values[:, place], base), tuple(cells))

    first, last = order, []
    if len(order) > FIRST + LAST and not every:
        first, last = order[:FIRST], order[-LAST:]
    return Grid(
        sort,
        _sentence(sort, standing, results, order, values),
        tuple(runs),
        tuple(map(row, first)),
        tuple(map(row, last)),
        len(order) - len(first) - len(last),
        longest,
    )


def _order(sort: str, values: np.ndarray, losses: np.ndarray, results: Results) -> list[int]:
    """Return the places of the queries in an order; without a value they come last."""
    keys = {
        "loses": -losses,
        "weakest": values,
        "missing": -np.array([_lacking(results, query) for query in results.queries], float),
    }
    # lexsort begins with the last key
    order: list[int] = np.lexsort((-losses, keys[sort])).tolist()
    return order


def _lacking(results: Results, query: str) -> int:
    """Return how many runs a query is missing from."""
    return sum(query in missing for missing in results.missing.values())


def _best_other(runs: Sequence[str], values: np.ndarray, base: int) -> str:
    """Return the run with the highest value of a query, the base aside; none if it is alone."""
    others = [at for at in range(len(runs)) if at != base]
    if not others:
        return ""
    return runs[max(others, key=_comparable(values).__getitem__)]


def _comparable(values: np.ndarray) -> np.ndarray:
    """Return values in which one of a skipped query is below all others."""
    return np.where(np.isnan(values), -np.inf, values)


def _sentence(
    sort: str, standing: Standing, results: Results, order: Sequence[int], values: np.ndarray
) -> str:
    """Return the first query of an order, in words."""
    query, base = results.queries[order[0]], standing.base
    runs = list(standing.scores)
    if sort == "missing":
        lacking = _lacking(results, query)
        if not lacking:
            return "No query is missing from a run."
        return f"{query} is missing from {lacking} of {len(runs)} runs."
    by_run = values[:, order[0]]
    value = by_run[runs.index(base)]
    if math.isnan(value):
        return f"No query has a value in {base}."
    if sort == "weakest":
        return f"{base} is weakest on {query}: {number(value)}."
    other = _best_other(runs, by_run, runs.index(base))
    best = by_run[runs.index(other)]
    if not best > value:
        return f"{base} is the best on every query."
    if query in results.missing[base]:
        query = f"{query} ({base} lacks it)"
    return f"{base} loses most on {query}: {number(value)}, where {other} has {number(best)}."


# --- Two rankings ------------------------------------------------------------------------------


class Side(NamedTuple):
    """A ranking of a query by a run."""

    run: str
    value: str
    entries: list[Entry]
    more: int  # documents that are not drawn
    missed: str  # relevant documents that were not retrieved, in words
    is_missing: bool
    link: str  # to the ranking in Understand; empty if an address cannot hold it


class Pair(NamedTuple):
    """Two rankings of a query, or one, and lines between their documents."""

    query: str
    sides: tuple[Side, ...]
    lines: list[Line]
    rows: int
    shows_scores: bool = False
    shows_numbers: bool = False

    @property
    def has_unjudged(self) -> bool:
        """Whether a document that is drawn was not judged."""
        return any(not entry.is_judged for side in self.sides for entry in side.entries)


def pair_of(
    query: str,
    runs: Mapping[str, Mappings],
    judgments: Mappings,
    options: dict[str, Any],
    values: Mapping[str, float],
    links: Mapping[str, str],
) -> Pair:
    """Return the rankings of a query by some runs, up to the cutoff."""
    rankings = {name: ranking_in(run, judgments, query, options) for name, run in runs.items()}
    steps = {name: steps_of(ranking, options) for name, ranking in rankings.items()}
    every_step = itertools.chain.from_iterable(steps.values())
    drawing = Drawing.of(rankings.values(), every_step, label_names(options))
    sides = []
    for name, ranking in rankings.items():
        ranked, others = by_rank(steps[name])
        count = _drawn_count(ranked, options["k"][0])
        missed = [ranking.documents[step.at] for step in others if step.gain > 0]
        sides.append(
            Side(
                name,
                number_or(values[name], "skipped"),
                entries_of(ranking, ranked[:count], drawing),
                max(0, len(ranked) - count),
                _names(missed),
                query not in runs[name],
                links[name],
            )
        )
    orders = [side.entries for side in sides if side.entries]
    lines: list[Line] = []
    if len(orders) == 2:
        lines = lines_between(*orders)
    rows = max(len(side.entries) for side in sides)
    return Pair(query, tuple(sides), lines, rows)


def _drawn_count(ranked: Sequence[Step], cutoff: int | None) -> int:
    """Return how many documents of a ranking are drawn."""
    if cutoff is None:
        return DRAWN
    # a document that is tied with one within the cutoff counts too
    counting = [rank for rank, step in enumerate(ranked, 1) if step.added]
    return min(DRAWN, max([cutoff, *counting]))


def ranking_in(
    run: Mappings, judgments: Mappings, query: str, options: Mapping[str, Any]
) -> Ranking:
    """Return the ranking of a query: what a run retrieved, then what it missed."""
    scores, judged = run.get(query, {}), judgments.get(query, {})
    is_descending = options["score_order"] == "descending"
    ranked = sorted(scores, key=scores.__getitem__, reverse=is_descending)
    names = dict.fromkeys([*ranked, *judged])
    return Ranking(tuple(Document(name, judged.get(name), scores.get(name)) for name in names))


def _names(documents: Sequence[Document]) -> str:
    """Return documents in words, the most relevant first."""
    # as text, since labels have no order
    documents = sorted(documents, key=lambda document: str(document.relevance), reverse=True)
    names = [f"{document.name} ({document.relevance})" for document in documents]
    return some(names, NAMED)
