"""Recognize tables of rows: the columns of queries, documents and values, and the layouts that pandas writes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.messages import InputError, brief, mark, nearest, shown
from .fields import (
    IDS,
    INDEX,
    LOWEST_FIRST,
    Names,
    OneToOne,
    Possible,
    UnknownColumnError,
    alternatives,
    ambiguous,
    for_one_side,
    is_last_resort,
    plain_name,
    refuse_lowest_first,
    spelled,
    unknown_values,
)

MOST_COLUMNS = 100  # of a table in JSON: more names than that are queries or documents
Cells = Callable[
    [Sequence[str]], Iterable[Sequence[Any]]
]  # the cells of the first rows in some columns, by their names


def chosen_columns(columns: Sequence[str], names: Names, cells: Cells, there: str = "the file") -> list[int]:
    """Return the indices of the columns of queries, documents and values in a table.

    `cells` returns the cells of some columns, so that a column is not chosen where another could be meant.
    """
    possible = names.columns
    found = {field: spelled(columns, these) for field, these in possible.items()}
    if "query" in names.given and names.given["query"] is None:
        problem = "fields: query is None, but each row of a table needs the id of its query; give its column"
        raise UnknownColumnError([], problem)
    if missing := [field for field, those in found.items() if not those]:
        low = next(iter(spelled(columns, LOWEST_FIRST)), None)
        if "score" in missing and low and "score" not in names.given:
            refuse_lowest_first(low)
        unnamed = [field for field in missing if field not in names.given]
        others = [name for name in columns if isinstance(name, str) and not INDEX.match(name)]
        others = [name for name in others if name not in {each for those in found.values() for each in those}]
        raise UnknownColumnError(unnamed, _no_columns(names, missing, columns, there), others)
    chosen = {field: those[0] for field, those in found.items()}
    if len(set(chosen.values())) < len(chosen):
        raise ValueError(f"fields name one column twice: {shown(chosen)}; give each field a column of its own")
    plain = [plain_name(name) if isinstance(name, str) else "" for name in columns]
    for name in chosen.values():
        if plain.count(plain_name(name)) > 1:
            raise ValueError(f"two columns are called {plain_name(name)}; remove one")
    for field in IDS.keys() - names.given.keys():
        if several := alternatives(field, tuple(columns))[:2]:
            rows = OneToOne()
            if not all(rows.agree(*row) for row in cells(several)):
                raise InputError(ambiguous(field, *several))
    if "relevance" in chosen and "relevance" not in names.given and is_last_resort(columns, possible["relevance"]):
        others = [name for name in columns if isinstance(name, str) and name not in chosen.values()]
        row: Mapping[str, Any] = dict(zip(others, next(iter(cells(others)), ()), strict=False)) if others else {}
        if unknown := unknown_values([name for name in row if row[name] is not None], row.get):
            beside = chosen["relevance"]
            calls = f"{names.call(beside)} or {names.call(unknown[0])}"
            problem = f"{shown(beside)} may be that of a model, and beside it are {brief(map(shown, unknown), ', ')}"
            raise InputError(f"the relevance is not certain: {problem}; give {calls}")
    return [columns.index(name) for name in chosen.values()]


def _no_columns(names: Names, missing: Sequence[str], columns: Sequence[Any], there: str) -> str:
    """Return the error for all columns that a table lacks, with names of columns that resemble theirs."""
    possible = {field: names.columns[field] for field in missing}
    called = [name for field in missing for name in names.given.get(field) or ()]
    held = [field for field in missing if field not in names.given]
    problems = [f"is called {' or '.join(called)}"] if called else []
    if held:
        them = "it" if len(held) == 1 else "them"
        name_them = f"name {them} {' and '.join(possible[field][0] for field in held)}, or as docs/inputs.md says"
        problems.append(f"holds the {' or the '.join(held)}; {name_them}")
    near = [nearest(these[0], [name for name in columns if isinstance(name, str)]) for these in possible.values()]
    hint = f"; did you mean {', '.join(map(shown, filter(None, near)))}?" if any(near) else ""
    if called and not hint:
        given = ((field, those[0]) for field in missing if (those := names.given.get(field)))
        hint = next((for_one_side(field, name, columns, names.kind) for field, name in given), "")
    if "relevance" in held:
        hint += f"; if each row is one relevant document, give {mark('fields', {'relevance': None})}"
    has = f"has {brief(map(shown, columns), ', ')}" if columns else "has none"
    return f"no column {' and none '.join(problems)}; {there} {has}{hint}"


def values_by_order(rows: int, names: Names) -> NDArray[np.float64]:
    """Return the values of documents that have none, in the order of their rows.

    >>> values_by_order(3, Names("run", {})).tolist(), values_by_order(2, Names("qrels", {})).tolist()
    ([-1.0, -2.0, -3.0], [1.0, 1.0])
    """
    ranks = np.arange(1.0, rows + 1)
    return np.ones(rows) if names.kind != "run" else ranks if names.ascending else -ranks


def are_columns(names: Iterable[Any], possible: Possible) -> bool:
    """Return whether at least two of three names are names of columns."""
    known = {plain_name(name) for name in names if isinstance(name, str)}
    return sum(not known.isdisjoint(map(plain_name, each)) for each in possible.values()) >= 2


def table_records(value: Any, possible: Possible) -> Sequence[Any] | None:
    """Return the records of a table that pandas' `to_json` or `to_dict` wrote; None for any other value.

    A value is records, ``{column: {row: cell}}``, ``{column: [cell]}``, ``{row: {column: cell}}``, or an object that
    has the rows as its data. Each record must have two of the possible names.
    """
    rows = list(value.values()) if isinstance(value, Mapping) else value
    if isinstance(value, Mapping) and isinstance(value.get("data"), list):
        rows, columns = value["data"], value.get("columns")
        if isinstance(columns, list) and all(isinstance(name, str) for name in columns):
            rows = [dict(zip(columns, row, strict=False)) if isinstance(row, list) else row for row in rows]
    elif isinstance(value, Mapping) and len(value) <= MOST_COLUMNS and are_columns(value, possible):
        cells = [dict(enumerate(each)) if isinstance(each, list) else each for each in rows]
        if not all(isinstance(each, Mapping) and each.keys() == cells[0].keys() for each in cells):
            return None
        rows = [{name: each[row] for name, each in zip(value, cells, strict=True)} for row in cells[0]]
    if not isinstance(rows, (list, tuple)) or not rows:
        return None
    return rows if all(_is_record(row, possible) for row in rows) else None


def _is_record(row: Any, possible: Possible) -> bool:
    """Return whether a value is a row of a table, and not scores of documents whose ids look like names of columns."""
    if not isinstance(row, Mapping) or len(row) > MOST_COLUMNS or not are_columns(row, possible):
        return False
    ids = (row[name] for column in IDS for name in spelled(row, possible[column]))
    return not any(isinstance(cell, float) and cell % 1 for cell in ids)
