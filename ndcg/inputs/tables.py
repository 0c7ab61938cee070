"""Recognize tables of rows: the names that their columns may have, and the layouts that pandas writes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..measure.messages import brief, nearest, shown

Possible = Mapping[str, tuple[str, ...]]  # the names that each column of a table may have

# The first name that is present is used. Ids come before columns that may be text, judgments before possible scores.
# fmt: off
ID_NAMES = {
    "query": (
        "query_id", "qid", "q_id", "topic_id", "user_id", "userid", "customer_id", "session_id", "query", "topic",
        "user", "uid",
    ),
    "document": (
        "document_id", "docid", "doc_id", "docno", "corpus_id", "pid", "passage_id", "chunk_id", "article_id",
        "item_id", "itemid", "iid", "movie_id", "movieid", "product_id", "productid", "document", "item",
    ),
}
LOWEST_FIRST = ("rank", "position", "distance", "dist", "loss")  # of which the lowest is best
MOST_COLUMNS = 100  # of a table in JSON: more names than that are queries or documents
NAMES = {
    "run": {**ID_NAMES, "score": ("score", "prediction", "est", "sim", "similarity", "relevance_score")},
    "qrels": {
        **ID_NAMES,
        "relevance": (
            "relevance", "rel", "reference", "label", "grade", "judgment", "relevance_label", "rating", "r_ui",
            "weight", "score",
        ),
    },
    "exclude": ID_NAMES,
}
# fmt: on
RECBOLE = re.compile(r":(token|float)(_seq)?$")  # the types that RecBole writes after the names of columns


class UnknownColumnError(ValueError):
    """A table has no column with a known name for "query", "document", "score" or "relevance"."""

    def __init__(self, columns: Sequence[str], problem: str) -> None:
        super().__init__(problem)
        self.columns = columns


def plain_name(name: str) -> str:
    """Return the name of a column as it is spelled in `NAMES`.

    >>> plain_name("Query-ID"), plain_name("User ID"), plain_name("user_id:token")
    ('query_id', 'user_id', 'user_id')
    """
    return RECBOLE.sub("", name.strip().lower().replace("-", "_").replace(" ", "_"))


def possible_names(kind: str, given: Mapping[str, str] | None = None, score_order: str = "descending") -> Possible:
    """Return the names that the columns of a table may have, some of which are given.

    The kind is ``"run"``, ``"qrels"`` or ``"exclude"``. In ascending order, ranks and distances are scores.
    """
    given = given or {}
    names = NAMES[kind] | {column: (plain_name(name),) for column, name in given.items()}
    if score_order == "ascending" and "score" in names and "score" not in given:
        names["score"] = LOWEST_FIRST + names["score"]
    if score_order == "descending":
        refuse_lowest_first(given.get("score"))
    return names


def refuse_lowest_first(name: Any, argument: str = "") -> None:
    """Raise an error for a column of scores whose name says that the lowest is best.

    >>> refuse_lowest_first("distance")
    Traceback (most recent call last):
    ...
    ValueError: the column 'distance' is best where it is lowest; give score_order="ascending", or another name if the \
highest is best
    """
    if isinstance(name, str) and plain_name(name) in LOWEST_FIRST:
        hint = 'give score_order="ascending", or another name if the highest is best'
        place = f"{argument}: " if argument else ""
        raise ValueError(f"{place}the column {name!r} is best where it is lowest; {hint}")


def chosen_columns(names: Sequence[str], possible: Possible, there: str = "the file") -> list[int]:
    """Return the indices of the columns of queries, documents and values in a table."""
    known = [plain_name(name) if isinstance(name, str) else "" for name in names]
    chosen = {column: next((each for each in these if each in known), "") for column, these in possible.items()}
    if missing := [column for column, name in chosen.items() if not name]:
        low = next((each for each in LOWEST_FIRST if each in known), None)
        if "score" in missing and low:
            refuse_lowest_first(names[known.index(low)])
        raise UnknownColumnError(missing, _no_columns({column: possible[column] for column in missing}, names, there))
    for name in chosen.values():
        if known.count(name) > 1:
            raise ValueError(f"two columns are called {name}; remove one")
    return [known.index(name) for name in chosen.values()]


def _no_columns(missing: Possible, names: Sequence[Any], there: str) -> str:
    """Return the error for all columns that a table lacks, with names of columns that resemble theirs."""
    called = [these[0] for these in missing.values() if len(these) == 1]
    held = {column: these[0] for column, these in missing.items() if len(these) > 1}
    problems = [f"is called {' or '.join(called)}"] if called else []
    if held:
        them = "it" if len(held) == 1 else "them"
        name_them = f"name {them} {' and '.join(held.values())}, or as docs/inputs.md says"
        problems.append(f"holds the {' or the '.join(held)}; {name_them}")
    near = [nearest(these[0], [name for name in names if isinstance(name, str)]) for these in missing.values()]
    hint = f"; did you mean {', '.join(map(shown, filter(None, near)))}?" if any(near) else ""
    hint += "; if each row is one relevant document, add a column of 1" if "relevance" in held else ""
    has = f"has {brief(map(shown, names), ', ')}" if names else "has none"
    return f"no column {' and none '.join(problems)}; {there} {has}{hint}"


def are_columns(names: Iterable[Any], possible: Possible) -> bool:
    """Return whether at least two of three names are names of columns."""
    known = {plain_name(name) for name in names if isinstance(name, str)}
    return sum(not known.isdisjoint(each) for each in possible.values()) >= 2


def table_records(value: Any, possible: Possible) -> Sequence[Any] | None:
    """Return the records of a table that pandas' `to_json` or `to_dict` wrote; None for any other value.

    A value is records, ``{column: {row: cell}}``, ``{column: [cell]}``, ``{row: {column: cell}}``, or an object that
    has the rows as its data. Each record must have two of the possible names.
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
