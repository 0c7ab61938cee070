"""Recognize tables of rows: the names that their columns may have, and the layouts that pandas writes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Possible = Mapping[str, tuple[str, ...]]  # the names that each column of a table may have

# The first name that is present is used. Ids come before columns that may be text, judgments before possible scores.
ID_NAMES = {
    "query": ("query_id", "qid", "user_id", "userid", "uid", "query", "user", "topic"),
    "document": (
        "document_id",
        "docid",
        "doc_id",
        "docno",
        "corpus_id",
        "pid",
        "item_id",
        "itemid",
        "document",
        "item",
    ),
}
MOST_COLUMNS = 100  # the most columns of a JSON table: more names are queries or documents
NAMES = {
    "run": {**ID_NAMES, "score": ("score", "prediction", "sim")},
    "qrels": {**ID_NAMES, "relevance": ("relevance", "rel", "reference", "label", "grade", "rating", "score")},
    "exclude": ID_NAMES,
}


def plain_name(name: str) -> str:
    """Return the name of a column in the spelling of `NAMES`."""
    return name.strip().lower().replace("-", "_")


def are_columns(names: Iterable[Any], possible: Possible) -> bool:
    """Return whether at least two of three names are names of columns."""
    known = {plain_name(name) for name in names if isinstance(name, str)}
    return sum(not known.isdisjoint(each) for each in possible.values()) >= 2


def table_records(value: Any, possible: Possible) -> Sequence[Any] | None:
    """Return the records of a table that pandas' `to_json` or `to_dict` wrote; None for any other value.

    Args:
        value: records, ``{column: {row: cell}}``, ``{column: [cell]}``, ``{row: {column: cell}}``, or an object that
            has the rows as its data.
        possible: the names that each column may have; each record must have two.
    """
    if isinstance(value, Mapping):
        if isinstance(value.get("data"), list):
            value = _named_rows(value.get("columns"), value["data"])
        elif len(value) <= MOST_COLUMNS and are_columns(value, possible):
            value = _records_of_columns(value)
        else:
            value = list(value.values())
    if not isinstance(value, (list, tuple)) or not value:
        return None
    return value if all(_is_record(row, possible) for row in value) else None


def _is_record(row: Any, possible: Possible) -> bool:
    """Return whether a value is a row of a table, and not scores of documents whose ids look like names of columns."""
    if not isinstance(row, Mapping) or len(row) > MOST_COLUMNS or not are_columns(row, possible):
        return False
    known = {name for column in ID_NAMES for name in possible[column]}
    ids = (cell for name, cell in row.items() if isinstance(name, str) and plain_name(name) in known)
    return not any(isinstance(cell, float) and cell % 1 for cell in ids)


def _named_rows(columns: Any, rows: list[Any]) -> list[Any]:
    """Return lists of cells as records, if there are names of columns."""
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        return rows
    return [dict(zip(columns, row, strict=False)) if isinstance(row, list) else row for row in rows]


def _records_of_columns(columns: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    """Return the rows of columns, or nothing if the columns do not have the same rows."""
    by_row = [dict(enumerate(cells)) if isinstance(cells, list) else cells for cells in columns.values()]
    if not all(isinstance(cells, Mapping) and cells.keys() == by_row[0].keys() for cells in by_row):
        return []
    return [{name: cells[row] for name, cells in zip(columns, by_row, strict=True)} for row in by_row[0]]
