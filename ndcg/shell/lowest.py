"""`ndcg score --worst`: the lowest queries of a run, what they miss, and what ranks before it."""

import math
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from ..scores.documents import documents
from ..show.tables import Table, number_text
from ..statistics.report import Report
from .output import Row
from .sides import Sides

SHOWN_DOCUMENTS = 4  # documents per query and kind in a table
COLUMNS = ("document", "relevance", "rank", "last_rank")  # of these documents in rows
MISSED_AND_BEFORE = (
    "missed: the relevant documents that the first ranks miss, the best first; before: the "
    "irrelevant and unjudged documents among these ranks, up to the last relevant one."
)


def lowest_queries(
    sides: Sides, run: str, report: Report, n: int | None, places: int
) -> tuple[Table, list[Row]]:
    """Return a table of the n lowest queries with the documents that make them low, and its rows.

    These are the relevant documents that the first ranks miss, the best first, and the irrelevant
    and unjudged ones before them.
    """
    name = next(iter(report.scores))
    # Without a cutoff, every rank counts.
    k = int(name.partition("@")[2] or sys.maxsize)
    lowest = {row["query"]: row[name] for row in report.lowest(n).to_pylist()}
    # The ranks of documents are the same for all measures.
    options = {**sides.shared, "k": k}
    options.pop("measures", None)
    rows_of_documents = documents(predictions=sides.runs[run], queries=lowest, **options)
    by_query = groupby(rows_of_documents.to_pylist(), itemgetter("query"))
    ranked = {query: list(of_query) for query, of_query in by_query}
    table = [[f"lowest queries of {run}", name, "documents", "id", "relevance", "rank"]]
    rows: list[Row] = []
    for query, value in lowest.items():
        of_query = ranked.get(query, [])
        relevant = list(filter(_is_relevant, of_query))
        last = min(k, max(map(_rank, relevant), default=0))
        kinds = {"missed": _missed(relevant, k), "before": _before(of_query, last)}
        cells = []
        for kind, kind_rows in kinds.items():
            origin = {"run": run, "measure": name, "query": query, "value": value, "kind": kind}
            for row in kind_rows:
                rows.append(origin | {column: row[column] for column in COLUMNS})
            cells += _cells(kind, kind_rows)
        names = [query, number_text(value, places)]
        for line in cells or [["–", "", "", ""]]:
            table.append([*names, *line])
            names = ["", ""]  # only on the first line of a query
    return table, rows


def _is_relevant(row: Row) -> bool:
    return (row["relevance"] or 0) > 0  # None is unjudged


def _rank(row: Row) -> float:
    """Return the rank of a document; one that was not retrieved comes after all others."""
    return row["rank"] or math.inf


def _missed(relevant: Sequence[Row], k: int) -> list[Row]:
    missed = [row for row in relevant if _rank(row) > k]
    return sorted(missed, key=lambda row: -row["gain"])


def _before(ranked: Sequence[Row], last: float) -> list[Row]:
    return [row for row in ranked if _rank(row) <= last and not _is_relevant(row)]


def _number_or(value: float | None, otherwise: str) -> str:
    if value is None:
        return otherwise
    return f"{value}".removesuffix(".0")


def _cells(kind: str, kind_rows: Sequence[Row]) -> list[list[str]]:
    cells = []
    for row in kind_rows[:SHOWN_DOCUMENTS]:
        relevance = _number_or(row["relevance"], "unjudged")
        rank = _number_or(row["rank"], "not retrieved")
        if row["rank"] != row["last_rank"]:  # a tie
            rank += f"–{row['last_rank']}"
        cells.append([kind, str(row["document"]), relevance, rank])
    more = len(kind_rows) - SHOWN_DOCUMENTS
    if more > 0:
        cells.append([kind, f"{more:,} more", "", ""])
    return cells
