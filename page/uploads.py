"""Files that are uploaded to the Space: the metric reads them, within limits; an error is one sentence.

The lists of a batch are read here, since the metric reads them only as arguments.
"""

import csv
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from .metric import ndcg

LIMITS = ndcg.Limits(bytes=20_000_000, uncompressed=100_000_000, rows=500_000, queries=20_000, columns=50)
READERS = {"run": ndcg.read_run, "qrels": ndcg.read_qrels}
BATCH = ("predictions", "references", "weights", "query_ids")
COLUMNS = {"prediction": "predictions", "reference": "references", "query_id": "query_ids"}

Mappings = dict[str, dict[str, float]]


def read_upload(path: str, kind: str) -> Mappings:
    """Read a run or qrels from an uploaded file; an error names the file as the user does."""
    with _named(path):
        found: Mappings = READERS[kind](path, LIMITS)
    return found


def read_groups(path: str, queries: Collection[str]) -> dict[str, str]:
    """Read the group of each query from an uploaded CSV or TSV file of two columns; a first line may name them."""
    with _named(path):
        text = _text(path)
        groups: dict[str, str] = {}
        for number, cells in enumerate(csv.reader(text.splitlines(), delimiter=_delimiter(text)), 1):
            if cells and len(cells) != 2:
                raise ValueError(f"line {number}: {len(cells)} columns; each line has a query and its group")
            if cells and groups.setdefault(cells[0].strip(), cells[1].strip()) != cells[1].strip():
                raise ValueError(f"line {number}: query {cells[0][:40]!r} has two groups; give it one")
        if lacking := [query for query in queries if query not in groups]:
            raise ValueError(f"has no group for query {lacking[0][:40]!r} ({len(lacking)} such queries)")
    return {query: groups[query] for query in queries}


def read_batch(path: str) -> dict[str, list[Any]]:
    """Read the lists of a batch from an uploaded file: JSON with their names, or CSV with a row per document."""
    with _named(path):
        text = _text(path).lstrip()
        found = json.loads(text) if text.startswith(("{", "[")) else _columns(text)
        if not isinstance(found, dict):
            raise ValueError("must hold an object, {...}, of lists")
        for name in BATCH:
            if name not in found and name in BATCH[:2]:
                raise ValueError(f"has no {name}; it needs {' and '.join(BATCH[:2])}")
            if not isinstance(found.get(name, []), list):
                raise ValueError(f"{name} must be a list; got {type(found[name]).__name__}")
            check_size(found.get(name, []))
    return {name: found[name] for name in BATCH if name in found}


def check_size(side: Collection[Any]) -> None:
    """Raise an error for more queries or documents than the page accepts, in lists, mappings or one flat list."""
    nested = [len(each) for each in side if isinstance(each, (list, dict))]
    LIMITS.check("queries", len(nested))
    LIMITS.check("rows", len(side) - len(nested) + sum(nested))


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Turn an error in a file into a sentence with the user's name of the file, not the server's."""
    name = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in Path(path).name)
    try:
        if Path(path).is_symlink() or not Path(path).is_file():
            raise ValueError("is not a file")
        yield
    except RecursionError:
        raise ValueError(f"{name}: nests lists too deep") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except (ValueError, OSError, csv.Error, pa.ArrowException) as error:
        text = (isinstance(error, OSError) and error.strerror) or str(error).removeprefix(f"{path}: ")
        raise ValueError(f"{name}: {text.splitlines()[0]}") from None


def _text(path: str) -> str:
    """Return the text of a file within the limits."""
    with open(path, "rb") as file:
        content = file.read(LIMITS.bytes + 1)
    LIMITS.check("bytes", len(content))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not text in UTF-8; give CSV or JSON") from None


def _delimiter(text: str) -> str:
    return "\t" if "\t" in text.partition("\n")[0] else ","


def _columns(text: str) -> dict[str, Any]:
    """Return the columns of CSV or TSV that a batch has."""
    first, _, rows = text.partition("\n")
    LIMITS.check("columns", first.count(_delimiter(text)) + 1)
    names = [name.strip(' "\r').lower() for name in first.split(_delimiter(text))]
    types = {name: pa.string() if name == "query_id" else pa.float64() for name in COLUMNS if name in names}
    if not types or not rows:
        return {}
    table = pa.csv.read_csv(
        pa.BufferReader(rows.encode()),
        read_options=pa.csv.ReadOptions(column_names=names),
        parse_options=pa.csv.ParseOptions(delimiter=_delimiter(text)),
        convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
    )
    return {COLUMNS[name]: table[name].to_pylist() for name in types}
