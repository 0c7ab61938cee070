"""`ndcg score --worst`: the lowest queries of a run, the relevant documents that it misses and those before them."""

from collections.abc import Sequence

from ..scores.documents import documents
from ..show.tables import Table, number_text
from ..statistics.report import Report
from .output import Row
from .sides import Sides

SHOWN_DOCUMENTS = 4  # documents per query and kind in a table
MISSED_AND_BEFORE = (
    "missed: the relevant documents that the first ranks miss, the best first; before: the "
    "irrelevant and unjudged documents among these ranks, up to the last relevant one."
)


def lowest_queries(
    sides: Sides, run: str, report: Report, n: int | None, places: int
) -> tuple[Table, list[Row]]:
    """Return a table of the n lowest queries with the documents that make them low, and these as rows.

    These are the relevant documents that the first ranks miss, the best first, and the irrelevant
    and unjudged ones before them.
    """
    name = next(iter(report.scores))
    cutoff = name.partition("@")[2]
    k = int(cutoff) if cutoff else None
    lowest = {row["query"]: row[name] for row in report.lowest(n).to_pylist()}
    ranked: dict[str, list[Row]] = {query: [] for query in lowest}
    options = {name: value for name, value in sides.shared.items() if name != "measures"}
    for row in documents(
        predictions=sides.runs[run], queries=lowest, **{**options, "k": k}
    ).to_pylist():
        ranked[row["query"]].append(row)
    table, rows = [[f"lowest queries of {run}", name, "documents", "id", "relevance", "rank"]], []
    for query, value in lowest.items():
        names, first = [query, number_text(value, places)], len(table)
        for kind, found in zip(
            ("missed", "before"), _missed_and_before(ranked[query], k), strict=True
        ):
            for row in found:
                figures = {
                    each: row[each] for each in ("document", "relevance", "rank", "last_rank")
                }
                rows.append(
                    {
                        "run": run,
                        "measure": name,
                        "query": query,
                        "value": value,
                        "kind": kind,
                        **figures,
                    }
                )
            for cells in _cells(kind, found):
                table.append([*(names if len(table) == first else ["", ""]), *cells])
        if len(table) == first:
            table.append([*names, "–", "", "", ""])
    return table, rows


def _missed_and_before(ranked: Sequence[Row], k: int | None) -> tuple[list[Row], list[Row]]:
    """Return a query's relevant documents beyond the cutoff, and others within it before the last relevant document."""
    relevant = [row for row in ranked if (row["relevance"] or 0) > 0]
    missed = [row for row in relevant if row["rank"] is None or (k is not None and row["rank"] > k)]
    last = max((row["rank"] or len(ranked) for row in relevant), default=0)
    until = last if k is None else min(last, k)
    others = [
        row
        for row in ranked
        if row["rank"] is not None and row["rank"] <= until and row not in relevant
    ]
    return sorted(missed, key=lambda row: -row["gain"]), others


def _cells(kind: str, found: Sequence[Row]) -> list[list[str]]:
    """Return the cells of the first documents of a kind."""
    cells = []
    for row in found[:SHOWN_DOCUMENTS]:
        relevance = "unjudged" if row["relevance"] is None else f"{row['relevance']:g}"
        rank = "not retrieved" if row["rank"] is None else f"{row['rank']}"
        rank += f"–{row['last_rank']}" if row["rank"] != row["last_rank"] else ""
        cells.append([kind, str(row["document"]), relevance, rank])
    more = len(found) - SHOWN_DOCUMENTS
    return [*cells, [kind, f"{more:,} more", "", ""]] if more > 0 else cells
