"""The queries of several runs as a grid, and two rankings of a query side by side."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .html import number
from .picture import Drawing, Entry, Line, entries_of, label_names, lines_between
from .ranking import Document, Ranking, steps_of
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
    """Return the orders of the grid, each with its name."""
    sorts = {"loses": f"Where {standing.base} loses", "weakest": "Its weakest"}
    if len(standing.scores) < 2:
        del sorts["loses"]
    if any(results.missing.values()):
        sorts["missing"] = "Missing"
    return sorts


def grid_of(
    standing: Standing, results: Results, sort: str, query: str, other: str, *, every: bool
) -> Grid:
    """Return the queries by runs, in an order; `query` and `other` are those that are open."""
    runs = list(standing.scores)
    values = np.array([results.values[standing.measure, run] for run in runs])
    base = runs.index(standing.base)
    highest = np.nanmax(np.where(np.isnan(values), -np.inf, values), axis=0)
    losses = highest - values[base]
    order = _order(sort, values[base], losses, results)
    distances = highest - values
    longest = float(np.nanmax(distances, initial=0.0))

    def row(at: int) -> GridRow:
        name = results.queries[at]
        cells = []
        for run, value, distance in zip(runs, values[:, at], distances[:, at], strict=True):
            is_open = name == query and run in (standing.base, other)
            is_missing = name in results.missing[run]
            text = "–" if math.isnan(value) else number(value)
            shade = 0.0 if math.isnan(distance) or not longest else distance / longest
            cells.append(Cell(run, text, shade, distance == 0, is_missing, is_open))
        return GridRow(name, _best_other(runs, values[:, at], base), tuple(cells))

    is_long = len(order) > FIRST + LAST and not every
    first = order[:FIRST] if is_long else order
    last = order[-LAST:] if is_long else []
    return Grid(
        sort,
        _sentence(sort, standing, results, order, values),
        tuple(runs),
        tuple(row(at) for at in first),
        tuple(row(at) for at in last),
        len(order) - len(first) - len(last),
        longest,
    )


def _order(sort: str, values: np.ndarray, losses: np.ndarray, results: Results) -> list[int]:
    """Return the places of the queries in an order; those without a value come last."""
    keys = {
        "loses": -losses,
        "weakest": values,
        "missing": -np.array([_lacking(results, query) for query in results.queries], float),
    }
    return [int(at) for at in np.lexsort((-losses, keys[sort]))]


def _lacking(results: Results, query: str) -> int:
    """Return how many runs a query is missing from."""
    return sum(query in missing for missing in results.missing.values())


def _best_other(runs: Sequence[str], values: np.ndarray, base: int) -> str:
    """Return the run with the highest value of a query, the base aside; none if it is alone."""
    others = [at for at in range(len(runs)) if at != base]
    if not others:
        return ""
    best = max(others, key=lambda at: -math.inf if math.isnan(values[at]) else values[at])
    return runs[best]


def _sentence(
    sort: str, standing: Standing, results: Results, order: Sequence[int], values: np.ndarray
) -> str:
    """Return the first query of an order, in words."""
    at, base = order[0], standing.base
    runs, query = list(standing.scores), results.queries[order[0]]
    value = values[runs.index(base), at]
    if sort == "missing":
        runs_without = sum(query in missing for missing in results.missing.values())
        if not runs_without:
            return "No query is missing from a run."
        return f"{query} is missing from {runs_without} of {len(runs)} runs."
    if math.isnan(value):
        return f"No query has a value in {base}."
    if sort == "weakest":
        return f"{base} is weakest on {query}: {number(value)}."
    other = _best_other(runs, values[:, at], runs.index(base))
    best = values[runs.index(other), at]
    if not best > value:
        return f"{base} is the best on every query."
    lacks = f" ({base} lacks it)" if query in results.missing[base] else ""
    return (
        f"{base} loses most on {query}{lacks}: {number(value)}, where {other} has {number(best)}."
    )


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
    every = [step for some in steps.values() for step in some]
    drawing = Drawing.of(rankings.values(), every, label_names(options))
    (k,) = options["k"]
    sides = []
    for name, ranking in rankings.items():
        ranked = [step for step in steps[name] if step.ranks is not None]
        # documents that are tied with one within the cutoff count too
        counting = max((at for at, step in enumerate(ranked, 1) if step.added), default=0)
        shown = DRAWN if k is None else min(DRAWN, max(k, counting))
        missed = [
            ranking.documents[step.at]
            for step in steps[name]
            if step.ranks is None and step.gain > 0
        ]
        value = values[name]
        sides.append(
            Side(
                name,
                "skipped" if math.isnan(value) else number(value),
                entries_of(ranking, ranked[:shown], drawing),
                max(0, len(ranked) - shown),
                _names(missed),
                query not in runs[name],
                links[name],
            )
        )
    lines: list[Line] = []
    if len(sides) == 2 and all(side.entries for side in sides):
        lines = lines_between(sides[0].entries, sides[1].entries)
    rows = max(len(side.entries) for side in sides)
    return Pair(query, tuple(sides), lines, rows)


def ranking_in(
    run: Mappings, judgments: Mappings, query: str, options: Mapping[str, Any]
) -> Ranking:
    """Return the ranking of a query: what a run retrieved, then what it missed."""
    scores, judged = run.get(query, {}), judgments.get(query, {})
    is_descending = options["score_order"] == "descending"
    ranked = sorted(scores, key=scores.__getitem__, reverse=is_descending)
    missed = [name for name in judged if name not in scores]
    documents = [Document(name, judged.get(name), scores.get(name)) for name in (*ranked, *missed)]
    return Ranking(tuple(documents))


def _names(documents: Sequence[Document]) -> str:
    """Return documents in words, the most relevant first."""
    by_relevance = sorted(documents, key=lambda each: str(each.relevance), reverse=True)
    names = [f"{each.name} ({each.relevance})" for each in by_relevance[:NAMED]]
    return ", ".join(names) + (", …" if len(documents) > NAMED else "")
