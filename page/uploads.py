"""Files that people upload to the Space: the metric reads them, within limits; what is wrong is one sentence.

The lists of a batch, which the metric takes as arguments and reads from no file, are read here.
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
    """Read a run or qrels from an uploaded file.

    Args:
        path: the file, as the server has stored it. Its name ends as the user's did.
        kind: ``"run"`` or ``"qrels"``.

    Raises:
        ValueError: names the file, and what is wrong with it.
    """
    with _named(path):
        found: Mappings = READERS[kind](path, LIMITS)
    return found


def read_groups(path: str, queries: Collection[str]) -> dict[str, str]:
    """Read the group of each query from an uploaded CSV or TSV file of two columns; a first line may name them.

    Raises:
        ValueError: names the file, and the line of other columns, or a query that has no group or two.
    """
    with _named(path):
        with open(path, "rb") as file:
            content = file.read(LIMITS.bytes + 1)
        LIMITS.check("bytes", len(content))
        lines = content.decode("utf-8-sig", "replace").splitlines()
        cells_of = csv.reader(lines, delimiter="\t" if "\t" in "".join(lines[:1]) else ",")
        groups: dict[str, str] = {}
        for number, cells in enumerate(cells_of, 1):
            if cells and len(cells) != 2:
                raise ValueError(f"line {number}: {len(cells)} columns; each line has a query and its group")
            if cells and groups.setdefault(cells[0].strip(), cells[1].strip()) != cells[1].strip():
                raise ValueError(f"line {number}: query {cells[0][:40]!r} has two groups; give it one")
        if lacking := [query for query in queries if query not in groups]:
            raise ValueError(f"has no group for query {lacking[0][:40]!r} ({len(lacking)} such queries)")
    return {query: groups[query] for query in queries}


def read_batch(path: str) -> dict[str, list[Any]]:
    """Read the lists of a batch from an uploaded file: JSON with their names, or CSV with a row per document.

    Raises:
        ValueError: names the file, and what is wrong with it.
    """
    with _named(path):
        with open(path, "rb") as file:
            content = file.read(LIMITS.bytes + 1)
        LIMITS.check("bytes", len(content))
        try:
            text = content.decode("utf-8-sig").lstrip()
        except UnicodeDecodeError:
            raise ValueError("is not text in UTF-8; give CSV or JSON") from None
        found = _lists(text) if text.startswith(("{", "[")) else _columns(text)
        missing = [name for name in BATCH[:2] if name not in found]
        if missing:
            raise ValueError(f"has no {missing[0]}; it needs {' and '.join(BATCH[:2])}")
        for name, values in found.items():
            if not isinstance(values, list):
                raise ValueError(f"{name} must be a list; got {type(values).__name__}")
            check_size(values)
    return found


def check_size(side: Collection[Any]) -> None:
    """Raise an error for more queries or documents than the page takes, in lists, mappings or one flat list."""
    nested = [len(each) for each in side if isinstance(each, (list, dict))]
    LIMITS.check("queries", len(nested))
    LIMITS.check("rows", len(side) - len(nested) + sum(nested))


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Make what is wrong with a file a sentence that names it as the user does, not as the server does."""
    name = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in Path(path).name)
    try:
        if Path(path).is_symlink() or not Path(path).is_file():
            raise ValueError("is not a file")
        yield
    except (ValueError, OSError, csv.Error) as error:
        problem = (isinstance(error, OSError) and error.strerror) or str(error).removeprefix(f"{path}: ")
        raise ValueError(f"{name}: {problem}") from None


def _lists(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise ValueError("nests lists too deep") from None
    if not isinstance(found, dict):
        raise ValueError("must hold an object, {...}, of lists")
    return {name: found[name] for name in BATCH if name in found}


def _columns(text: str) -> dict[str, Any]:
    first, _, rows = text.partition("\n")
    delimiter = "\t" if "\t" in first else ","
    LIMITS.check("columns", first.count(delimiter) + 1)
    names = [name.strip(' "\r').lower() for name in first.split(delimiter)]
    types = {name: pa.string() if name == "query_id" else pa.float64() for name in COLUMNS if name in names}
    if not types or not rows:
        return {}
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(rows.encode()),
            read_options=pa.csv.ReadOptions(column_names=names),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter),
            convert_options=pa.csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )
    except pa.ArrowException as error:
        raise ValueError(str(error).splitlines()[0]) from None
    LIMITS.check("rows", len(table))
    return {COLUMNS[name]: table[name].to_pylist() for name in types}
