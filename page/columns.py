"""Columns without standard names: what each is read as, which the reader chooses above it."""

import csv
import json
from typing import Any, NamedTuple

from .reading import text_of

VALUES = {"run": "score", "judgments": "relevance"}  # of a document, by the role of a file
ROLES = ("query", "document", "value")
ROWS = 3  # that are shown
Chosen = dict[str, dict[str, str | None]]  # columns by file and role; None where there is none


class Column(NamedTuple):
    """A column: its role, if it has one, and its first cells."""

    name: str
    role: str
    cells: tuple[str, ...]


class Columns(NamedTuple):
    """The columns of a file."""

    columns: tuple[Column, ...]
    value: str  # what a value is called
    lacks_value: bool  # whether no column is known to hold it
    only: tuple[str, str] | None  # the column that is left, and the role that is left for it


def read_columns(text: str) -> Chosen:
    """Return the columns of an address.

    Raises:
        ValueError: the text is something else.
    """
    try:
        chosen = json.loads(text or "{}")
    except ValueError:
        raise ValueError("it must be JSON") from None
    if not isinstance(chosen, dict) or not all(map(_has_roles, chosen.values())):
        raise ValueError("it must have the columns of files by their roles")
    for roles in chosen.values():
        if not all(isinstance(column, str | None) for column in roles.values()):
            raise ValueError("it must have the names of columns")
    return chosen


def _has_roles(file: Any) -> bool:
    return isinstance(file, dict) and file.keys() <= set(ROLES)


def with_column(text: str, file: str, role: str, column: str | None) -> str:
    """Return the columns of an address with another column in a role; "" is no role."""
    chosen = read_columns(text)
    roles = {name: value for name, value in chosen.get(file, {}).items() if value != column}
    if role:
        roles[role] = column
    return json.dumps({**chosen, file: roles}, ensure_ascii=False, separators=(",", ":"))


def fields_of(text: str, file: str, kind: str) -> dict[str, str | None] | None:
    """Return the argument `fields` for a file that is read as a run or as judgments."""
    fields = dict(read_columns(text).get(file, {}))
    if "value" in fields:
        fields[VALUES[kind]] = fields.pop("value")
    return fields or None


def columns_of(path: str, kind: str, problem: Any) -> Columns:
    """Return the columns of a file in which roles are not clear."""
    value = VALUES[kind]
    names = [str(name) for name in problem.examples]
    role_of = {str(name): role for role, name in problem.chosen.items()}
    rows = _first_rows(path, names) or [[str(cell) for cell in problem.examples.values()]]
    columns = []
    for place, name in enumerate(names):
        role = role_of.get(name, "").replace(value, "value")
        columns.append(Column(name, role, tuple(row[place] for row in rows)))
    left = [column.name for column in columns if not column.role]
    only = None
    if len(left) == len(problem.roles) == 1:
        only = (left[0], problem.roles[0].replace(value, "value"))
    return Columns(tuple(columns), value, value in problem.roles, only)


def _first_rows(path: str, names: list[str]) -> list[list[str]]:
    """Return the first rows of delimited text with these names; none of another file."""
    try:
        lines = text_of(path).splitlines()[: ROWS + 1]
    except ValueError:
        return []
    if not lines:
        return []
    delimiter = max("\t;,", key=lines[0].count)
    rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    if not rows or [name.strip() for name in rows[0]] != names:
        return []
    return [row for row in rows[1:] if len(row) == len(names)]
