"""Lists of scores and relevances in one file or text, as programs hold them: a batch.

It is JSON or Python with predictions and references, two such values one after the other, or CSV
with the columns prediction, reference and query_id.
"""

import ast
import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .metric import tables
from .reading import LIMITS, Mappings, check_size, named, text_of

NAMES = ("predictions", "references", "weights", "query_ids")
COLUMNS = {"prediction": "predictions", "reference": "references", "query_id": "query_ids"}


class Batch(NamedTuple):
    """The scores and the relevances of the same documents, by query and document."""

    run: Mappings
    judgments: Mappings
    weights: dict[str, float] | None


def read_batch(path: str) -> Batch:
    """Read a batch from an uploaded file."""
    with named(path):
        text = text_of(path).strip()
        if text.startswith(("{", "[")):
            lists = _values(text)
        else:
            lists = _columns(text)
        for name in NAMES[:2]:
            if name not in lists:
                raise ValueError(f"has no {name}; it needs {NAMES[0]} and {NAMES[1]}")
            if not isinstance(lists[name], (list, dict)):
                problem = f"must be a list or a mapping; got {type(lists[name]).__name__}"
                raise ValueError(f"{name} {problem}")
            check_size(lists[name])
        predictions, references = (_by_query(lists, name) for name in NAMES[:2])
        for query, judged in references.items():
            _check_equal(query, predictions.get(query), judged)
        run, judgments = _mappings(predictions), _mappings(references)
        return Batch(run, judgments, _weights(lists.get("weights"), list(judgments)))


def _values(text: str) -> dict[str, Any]:
    """Return the values of JSON or Python: a mapping of them, or two, one after the other."""
    try:
        value, end = json.JSONDecoder().raw_decode(text)
        if text[end:].strip():
            value = (value, json.loads(text[end:]))
    except json.JSONDecodeError as error:
        value = _literal(text, error)  # of [..], [..] in Python, a tuple
    if isinstance(value, tuple) and len(value) == 2:
        return dict(zip(NAMES, value, strict=False))
    if isinstance(value, tuple) and value:
        value = value[0]
    if not isinstance(value, dict):
        raise ValueError("has no predictions; it needs predictions and references")
    return value


def _literal(text: str, error: json.JSONDecodeError) -> Any:
    """Return a value in Python; or raise the error of JSON."""
    try:
        # so that two values on two lines are a pair
        return ast.literal_eval(", ".join(text.splitlines()))
    except (SyntaxError, ValueError, MemoryError):
        raise error from None


def _columns(text: str) -> dict[str, Any]:
    first = text.partition("\n")[0]
    delimiter = max("\t;,", key=first.count)
    LIMITS.check("columns", first.count(delimiter) + 1)
    rows = csv.reader(text.splitlines(), delimiter=delimiter, skipinitialspace=True)
    header = [name.strip().lower() for name in next(rows, [])]
    places = {name: header.index(name) for name in COLUMNS if name in header}
    lists: dict[str, Any] = {}
    for line, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ValueError(f"line {line}: {len(row)} cells; the first line has {len(header)}")
        for name, place in places.items():
            value = _cell(name, row[place].strip(), line)
            lists.setdefault(COLUMNS[name], []).append(value)
    return lists


def _cell(name: str, text: str, line: int) -> Any:
    if name == "query_id":
        return text
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        if name == "reference":
            return tables.label_of(text)
        raise ValueError(f"line {line}: the prediction {text[:40]!r} is not a number") from None


def _by_query(lists: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return one side by query: of lists, their places; of one flat list, the query ids."""
    side = lists[name]
    if isinstance(side, dict):
        return {str(query): documents for query, documents in side.items()}
    ids = lists.get("query_ids")
    if ids is None:
        if not all(isinstance(documents, list) for documents in side):
            raise ValueError(f"{name} must be a list per query; for one flat list, give query_ids")
        return {f"{place}": documents for place, documents in enumerate(side, 1)}
    if len(ids) != len(side):
        raise ValueError(f"{len(side)} {name} and {len(ids)} query_ids; give one for each")
    queries: dict[str, Any] = {}
    for query, value in zip(ids, side, strict=True):
        queries.setdefault(str(query), []).append(value)
    return queries


def _check_equal(query: str, scored: Any, judged: Any) -> None:
    """Raise an error for lists that do not belong to the same documents."""
    are_lists = isinstance(scored, list) and isinstance(judged, list)
    if are_lists and len(scored) != len(judged):
        counts = f"{len(scored)} predictions and {len(judged)} references"
        raise ValueError(f"query {query}: {counts}; give one of each for each document")


def _mappings(queries: Mapping[str, Any]) -> Mappings:
    """Return the values of documents by query and document; in a list they are called d1, d2."""
    mappings: Mappings = {}
    for query, documents in queries.items():
        if isinstance(documents, dict):
            values = [(str(document), value) for document, value in documents.items()]
        elif isinstance(documents, (list, tuple)):
            values = [(f"d{place}", value) for place, value in enumerate(documents, 1)]
        else:
            raise ValueError(f"query {query}: must be a list or a mapping; got {documents!r:.40}")
        mappings[query] = {document: value for document, value in values if value is not None}
    return mappings


def _weights(weights: Any, queries: Sequence[str]) -> dict[str, float] | None:
    if weights is None:
        return None
    if isinstance(weights, dict):
        return {str(query): weight for query, weight in weights.items()}
    if not isinstance(weights, list) or len(weights) != len(queries):
        raise ValueError(f"weights must be a list of one for each of the {len(queries)} queries")
    return dict(zip(queries, weights, strict=True))
