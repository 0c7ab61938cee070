"""`ndcg score --worst`: the lowest queries of a run, what they miss, and what ranks before it."""

from collections.abc import Sequence

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
    cutoff = name.partition("@")[2]
    k = int(cutoff) if cutoff else None
    lowest = {row["query"]: row[name] for row in report.lowest(n).to_pylist()}
    # The ranks of documents are the same for all measures.
    options = {**sides.shared, "k": k}
    options.pop("measures", None)
    ranked: dict[str, list[Row]] = {query: [] for query in lowest}
    rankings = documents(predictions=sides.runs[run], queries=lowest, **options)
    for row in rankings.to_pylist():
        ranked[row["query"]].append(row)
    table = [[f"lowest queries of {run}", name, "documents", "id", "relevance", "rank"]]
    rows: list[Row] = []
    for query, value in lowest.items():
        last = _last_relevant_rank(ranked[query], k)
        kinds = {"missed": _missed(ranked[query], k), "before": _before(ranked[query], last)}
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


def _missed(ranked: Sequence[Row], k: int | None) -> list[Row]:
    missed = []
    for row in filter(_is_relevant, ranked):
        if row["rank"] is None or (k is not None and row["rank"] > k):
            missed.append(row)
    return sorted(missed, key=lambda row: -row["gain"])


def _last_relevant_rank(ranked: Sequence[Row], k: int | None) -> int:
    """Return the rank of the last relevant document, or the cutoff if that is beyond it."""
    last = 0
    for row in filter(_is_relevant, ranked):
        # Documents that were not retrieved come after all others.
        last = max(last, row["rank"] or len(ranked))
    return last if k is None else min(last, k)


def _before(ranked: Sequence[Row], last: int) -> list[Row]:
    before = []
    for row in ranked:
        if row["rank"] is not None and row["rank"] <= last and not _is_relevant(row):
            before.append(row)
    return before


def _cells(kind: str, kind_rows: Sequence[Row]) -> list[list[str]]:
    cells = []
    for row in kind_rows[:SHOWN_DOCUMENTS]:
        relevance = "unjudged" if row["relevance"] is None else f"{row['relevance']:g}"
        rank = "not retrieved" if row["rank"] is None else f"{row['rank']}"
        if row["rank"] != row["last_rank"]:  # a tie
            rank += f"–{row['last_rank']}"
        cells.append([kind, str(row["document"]), relevance, rank])
    more = len(kind_rows) - SHOWN_DOCUMENTS
    if more > 0:
        cells.append([kind, f"{more:,} more", "", ""])
    return cells
