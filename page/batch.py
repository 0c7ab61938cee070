"""Lists of scores and relevances in one file or text, as programs hold them: a batch.

It is JSON or Python with predictions and references, two such values one after the other, Python
that assigns them, or CSV with a row for each document: prediction, reference and query_id.
"""

import ast
import io
import json
import re
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import csv

from .reading import LIMITS, Mappings, check_size, named, text_of

NAMES = ("predictions", "references")
SINGULAR = {"prediction": "predictions", "reference": "references", "query_id": "query_ids"}
TYPES = {"prediction": pa.float64(), "query_id": pa.string()}  # of columns
# what Python raises for text that is none, has more than literals, or a list as a key
NOT_PYTHON = (SyntaxError, ValueError, TypeError, MemoryError)
ASSIGNMENT = re.compile(r"(?m)^(predictions|references) *=")

EMPTY: Mappings = {}
Lists = dict[str, Any]  # predictions, references, ..., or one of these by query


class Batch(NamedTuple):
    """The scores and the relevances of the same documents, by query and document."""

    run: Mappings = EMPTY
    judgments: Mappings = EMPTY


def is_batch(path: str) -> bool:
    """Return whether a file has predictions and references, even if these cannot be read."""
    try:
        with named(path):
            text = text_of(path)
            return bool(ASSIGNMENT.search(text)) or {*NAMES} <= _lists(text).keys()
    except ValueError:
        return False


def read_batch(path: str) -> Batch:
    """Read a batch from an uploaded file."""
    with named(path):
        lists = _lists(text_of(path))
        predictions, references = _by_query(lists, "predictions"), _by_query(lists, "references")
        for query, judged in references.items():
            _check_equal(query, predictions.get(query), judged)
        if "weights" in lists:
            raise ValueError("has weights, which the page does not use; leave them out")
        return Batch(_mappings(predictions), _mappings(references))


def _lists(text: str) -> Lists:
    text = text.strip()
    if ASSIGNMENT.search(text):
        return _assigned(text)
    if text.startswith(("{", "[")):
        return _values(text)
    return _columns(text)


def _values(text: str) -> Lists:
    """Return the values of JSON or Python: a mapping of them, or two, one after the other."""
    values = _read(text)
    if len(values) == 2 and all(map(_is_side, values)):
        return dict(zip(NAMES, values, strict=True))
    if not isinstance(values[0], dict):
        raise ValueError("has no list or mapping of predictions and references")
    return values[0]


def _is_side(value: Any) -> bool:
    """Return whether a value may be a side, rather than an object of a line."""
    if isinstance(value, dict):
        return all(isinstance(documents, (dict, list)) for documents in value.values())
    return isinstance(value, list)


def _read(text: str) -> list[Any]:
    """Return one value, or several, one after the other."""
    try:
        value, end = json.JSONDecoder().raw_decode(text)
        if text[end:].strip():
            return [value, json.loads(text[end:])]
        return [value]
    except json.JSONDecodeError:
        with suppress(*NOT_PYTHON):
            # a value may be on a line of its own
            return list(ast.literal_eval(f"[{', '.join(text.splitlines())}]"))
        raise


def _assigned(text: str) -> Lists:
    """Return what Python assigns to names, as in predictions = [[0.9, 0.1]]."""
    try:
        return {
            ast.unparse(statement.targets[0]): ast.literal_eval(statement.value)
            for statement in ast.parse(text).body
            if isinstance(statement, ast.Assign)
        }
    except NOT_PYTHON:
        raise ValueError("is neither JSON nor Python with lists of numbers") from None


def _columns(text: str) -> Lists:
    """Return the columns of CSV that have a name of a list, in upper or lower case."""
    first, end, rows = text.partition("\n")
    delimiter = max("\t;,", key=first.count)
    LIMITS.check("columns", first.count(delimiter) + 1)
    header = first.lower().replace(" ", "")
    table = csv.read_csv(
        io.BytesIO(f"{header}{end}{rows}".encode()),
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(column_types=TYPES, strings_can_be_null=True),
    )
    known = {*SINGULAR}.intersection(table.column_names)
    return {SINGULAR[name]: table[name].to_pylist() for name in known}


def _by_query(lists: Lists, name: str) -> Lists:
    """Return predictions or references by query: by `query_ids`, or lists by their places."""
    side = lists.get(name)
    if not isinstance(side, (list, dict)):
        raise ValueError(f"has no list or mapping of {name}; it needs {NAMES[0]} and {NAMES[1]}")
    check_size(side)
    ids = lists.get("query_ids", [*range(1, len(side) + 1)])
    if not isinstance(ids, list) or len(ids) != len(side):
        needed = f"a list of as many ids as {name}, {len(side)}"
        raise ValueError(f"query_ids must be {needed}; got {ids!r:.40}")
    if isinstance(side, dict):
        return {f"{query}": documents for query, documents in side.items()}
    if not all(isinstance(documents, list) for documents in side):
        if "query_ids" not in lists:
            raise ValueError(f"{name} must be a list per query; for one flat list, give query_ids")
        side = [[document] for document in side]
    queries: Lists = {}
    for query, documents in zip(ids, side, strict=True):
        queries.setdefault(f"{query}", []).extend(documents)
    return queries


def _check_equal(query: str, scored: Any, judged: Any) -> None:
    """Raise an error for lists that do not belong to the same documents."""
    if {type(scored), type(judged)} == {list} and len(scored) != len(judged):
        lengths = f"predictions and references differ in length, {len(scored)} and {len(judged)}"
        raise ValueError(f"query {query}: {lengths}; give both for every document")


def _mappings(queries: Lists) -> Mappings:
    """Return the values of documents by query and document; in a list they are called d1, d2."""
    mappings: Mappings = {}
    for query, documents in queries.items():
        values = documents
        if isinstance(documents, list):
            values = {f"d{number}": value for number, value in enumerate(documents, 1)}
        if not isinstance(values, dict):
            raise ValueError(f"query {query}: must be a list or a mapping; got {documents!r:.40}")
        mappings[query] = {f"{name}": value for name, value in values.items() if value is not None}
    return mappings
