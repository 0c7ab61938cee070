"""Columns without standard names: the reader chooses their roles above them."""

import csv
import json
from typing import Any, Literal

from pydantic import TypeAdapter

from .reading import text_of

VALUES = {"run": "score", "judgments": "relevance"}  # of documents, by the role of the file
ROWS = 3  # that are shown
Role = Literal["query", "document", "value"]
Fields = dict[str, str | None]  # columns by role; None where there is none
NO_COLUMNS = "{}"
COLUMNS: TypeAdapter[dict[str, Fields]] = TypeAdapter(dict[str, dict[Role, str | None]])


def read_columns(text: str) -> dict[str, Fields]:
    """Return the columns of an address, by file.

    Raises:
        ValueError: the text is something else.
    """
    try:
        return COLUMNS.validate_json(text)
    except ValueError:
        raise ValueError("it must be JSON with columns of files by their roles") from None


def with_column(text: str, file: str, role: str, column: str | None) -> str:
    """Return the columns of an address with another column in a role; "" is no role."""
    chosen = read_columns(text)
    before = chosen.get(file, {})
    # A column has one role.
    chosen[file] = {other: name for other, name in before.items() if name != column}
    if role:
        chosen[file][role] = column
    return json.dumps(chosen, ensure_ascii=False, separators=(",", ":"))


def fields_of(text: str, file: str, role: str) -> Fields:
    """Return the argument `fields` for a file that is read as a run or as judgments."""
    fields = read_columns(text).get(file, {})
    if "value" in fields:
        fields[VALUES[role]] = fields.pop("value")
    return fields


def columns_of(path: str, role: str, problem: Any) -> dict[str, Any]:
    """Return what the page shows of a file whose columns have no clear roles."""
    names, value = list(map(str, problem.examples)), VALUES[role]
    role_of = {str(name): known.replace(value, "value") for known, name in problem.chosen.items()}
    roles = [role_of.get(name, "") for name in names]
    rows = _first_rows(path, names) or [list(map(str, problem.examples.values()))]
    lacks_value = value in problem.roles
    shown = {"names": names, "roles": roles, "rows": rows}
    return {**shown, "value": value, "lacks_value": lacks_value}


def _first_rows(path: str, names: list[str]) -> list[list[str]]:
    """Return the first rows of delimited text with these names; none of another file."""
    try:
        lines = text_of(path).splitlines()[: ROWS + 1]
        delimiter = max("\t;,", key=lines[0].count)
        header, *rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    except (ValueError, IndexError):
        return []
    if list(map(str.strip, header)) != names:
        return []
    return rows
