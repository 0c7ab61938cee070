"""Files that people upload to the Space -> mappings, within limits, or one sentence on what is wrong.

TREC runs and qrels are read by the metric itself; CSV and Parquet by pyarrow, with a column
each for query, document and value; JSON as ``{query: {document: value}}``. Nothing is opened
but the uploaded file. It is unpacked once, and no further than the limits allow.
"""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from .metric import ndcg

BYTES = 20_000_000  # of a file as it is uploaded
UNPACKED = 100_000_000  # of a file that is packed; of JSON a fifth, since Python's objects take more
ROWS = 500_000
QUERIES = 20_000
COLUMNS = 50
BATCH = ("predictions", "references", "weights", "query_ids")
QUERY = ("query_id", "query", "qid")
DOCUMENT = ("document_id", "document", "docid", "doc_id", "item")
IDS = (*QUERY, *DOCUMENT)
VALUES = {"run": ("score", "prediction", "sim"), "qrels": ("relevance", "rel", "reference", "label", "grade")}

Mappings = dict[str, dict[str, float]]


class UploadError(ValueError):
    """What is wrong with an upload, in one sentence for whoever uploaded it."""


def read_upload(path: str, kind: str) -> Mappings:
    """Read a run or qrels from an uploaded file.

    Args:
        path: the file, as the server has stored it. Its name ends as the user's did.
        kind: ``"run"`` or ``"qrels"``.

    Raises:
        UploadError: names the file, and what is wrong with it.
    """
    with _unpacked(path) as (plain, suffix):
        content = _content(plain, suffix)
        if isinstance(content, dict):
            found = _from_json(content)
        elif content is not None:
            found = _from_table(content, kind)
        else:
            _check_rows(_lines(plain))
            found = {"run": ndcg.read_run, "qrels": ndcg.read_qrels}[kind](plain)
        check_size(found.values())
        if not any(found.values()):
            raise UploadError("it holds no documents")
    return found


def check_size(side: Collection[Any]) -> None:
    """Raise an error for more queries or documents than the page takes, in lists, mappings or one flat list."""
    nested = sum(isinstance(each, (list, dict)) for each in side)
    if nested > QUERIES:
        raise UploadError(f"it has {nested:,} queries, more than the {QUERIES:,} of this page")
    _check_rows(len(side) - nested + sum(len(each) for each in side if isinstance(each, (list, dict))))


@contextmanager
def _unpacked(path: str) -> Iterator[tuple[str, str]]:
    """Yield the path of a file, unpacked, and the ending of its name; make errors one sentence that names it.

    Raises:
        UploadError: names the file, and what is wrong with it.
    """
    suffix = Path(path.removesuffix(".gz")).suffix.lower()
    with TemporaryDirectory() as folder:
        plain = path
        try:
            if Path(path).stat().st_size > BYTES:
                raise UploadError(f"it has more than {BYTES // 1_000_000} MB; upload a part of it")
            if path.endswith(".gz"):
                plain = f"{folder}/unpacked"
                _unpack(path, plain, UNPACKED // 5 if suffix == ".json" else UNPACKED)
            yield plain, suffix
        except (ValueError, OSError, EOFError, zlib.error, pa.ArrowException, RecursionError, csv.Error) as error:
            problem = str(error).replace(plain, "").replace(path, "").strip(" :") or type(error).__name__
            raise UploadError(f"{Path(path).name}: {problem.splitlines()[0][:300]}") from None


def _unpack(packed: str, plain: str, limit: int) -> None:
    """Unpack a gzip file into another one, unless that would be larger than the limit."""
    size = 0
    with gzip.open(packed) as source, open(plain, "wb") as target:
        while part := source.read(1 << 20):
            size += len(part)
            if size > limit:
                raise UploadError(f"unpacked it has more than {limit // 1_000_000} MB; upload a part of it")
            target.write(part)


def _content(path: str, suffix: str) -> dict[str, Any] | pa.Table | None:
    """Return what a JSON file or a table holds; None for other files."""
    if suffix == ".json":
        return _json(Path(path).read_bytes().decode("utf-8"))
    return _table(path, suffix) if suffix in (".csv", ".tsv", ".parquet") else None


def read_columns(path: str) -> dict[str, list[object]]:
    """Read the lists of a batch from an uploaded file: JSON with their names, CSV or Parquet with their columns.

    Raises:
        UploadError: names the file, and what is wrong with it.
    """
    with _unpacked(path) as (plain, suffix):
        table = _content(plain, suffix)
        if table is None:
            raise UploadError("its name must end in .json, .csv, .tsv or .parquet; give JSON, CSV or Parquet")
        if isinstance(table, dict):
            found = {name: values for name, values in table.items() if name in BATCH}
        else:
            names = {"prediction": "predictions", "reference": "references", "query_id": "query_ids"}
            columns = {names.get(name.strip().lower(), name.strip().lower()): name for name in table.column_names}
            found = {name: table[columns[name]].to_pylist() for name in BATCH if name in columns}
        missing = [name for name in BATCH[:2] if name not in found]
        if missing:
            raise UploadError(f"it has no {missing[0]}; it needs {' and '.join(BATCH[:2])}")
        for name, values in found.items():
            if not isinstance(values, list):
                raise UploadError(f"{name} must be a list; got {type(values).__name__}")
            check_size(values)
            try:
                json.dumps(values)  # what goes into the text of the page
            except TypeError:
                raise UploadError(f"{name} must be numbers or text, not dates or bytes") from None
    return found


def _lines(path: str) -> int:
    with open(path, "rb") as file:
        parts = iter(lambda: file.read(1 << 20), b"")
        return sum(max(part.count(b"\n"), part.count(b"\r")) for part in parts)


def _check_rows(rows: int) -> None:
    if rows > ROWS:
        raise UploadError(f"it has {rows:,} rows, more than the {ROWS:,} of this page; the metric itself has no limit")


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise UploadError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    if not isinstance(found, dict):
        raise UploadError("the JSON must be an object, {...}")
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(each for each in names if names.count(each) > 1)
        raise UploadError(f"{name[:40]!r} is there twice in one object; give each query and document once")
    return found


def _from_json(found: dict[str, Any]) -> Mappings:
    """Return ``{query: {document: value}}`` once every part is what it must be."""
    check_size(found.values())
    for query, documents in found.items():
        if not isinstance(documents, dict):
            raise UploadError(f"query {query!r}: must be an object {{document: value}}")
        for document, value in documents.items():
            try:
                (query + document).encode()
            except UnicodeEncodeError:
                raise UploadError(f"query {query!r}, document {document!r}: an id must be Unicode text") from None
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise UploadError(f"query {query!r}, document {document!r}: {value!r} is not a number")
    return found


def _table(path: str, suffix: str) -> pa.Table:
    """Read a table, once its size is known to be bearable."""
    if suffix == ".parquet":
        file = pa.parquet.ParquetFile(path)
        _check_columns(file.schema_arrow.names)
        _check_rows(file.metadata.num_rows)
        batches, size = [], 0
        for batch in file.iter_batches(256):  # few, since what is packed says little of what it unpacks to
            batches.append(batch)
            size += batch.nbytes
            if size > UNPACKED:
                raise UploadError(f"unpacked it has more than {UNPACKED // 1_000_000} MB; upload a part of it")
        return pa.Table.from_batches(batches, file.schema_arrow)
    delimiter = "\t" if suffix == ".tsv" else ","
    _check_rows(_lines(path) - 1)
    content = Path(path).read_bytes()
    head = io.StringIO(content[: 1 << 20].decode("utf-8-sig", "replace"), newline="")
    names = next((row for row in csv.reader(head, delimiter=delimiter) if row), [])
    _check_columns(names)
    # ids are text, whatever they look like
    as_text = {name: pa.string() for name in names if name.strip().lower() in IDS}
    return pa.csv.read_csv(
        pa.BufferReader(content),
        read_options=pa.csv.ReadOptions(block_size=max(len(content), 1)),  # a line may be as long as the file
        parse_options=pa.csv.ParseOptions(delimiter=delimiter),
        convert_options=pa.csv.ConvertOptions(column_types=as_text),
    )


def _check_columns(names: list[str]) -> None:
    known = [name.strip().strip('"').lower() for name in names]
    twice = [name for name in known if known.count(name) > 1] if len(names) <= COLUMNS else []
    if twice:
        raise UploadError(f"it has two columns {twice[0]!r}")
    if len(names) > COLUMNS:
        raise UploadError(f"it has {len(names):,} columns; three are read: query, document and a value")


def _from_table(table: pa.Table, kind: str) -> Mappings:
    """Return ``{query: {document: value}}`` of a table with a row for each query and document."""
    columns = {name.strip().lower(): name for name in table.column_names}
    wanted = [QUERY, DOCUMENT, VALUES[kind]]
    chosen = []
    for names in wanted:
        known = [columns[name] for name in names if name in columns]
        if not known:
            also, there = ", ".join(names[1:]), ", ".join(sorted(columns)[:9])
            raise UploadError(f"it has no column {names[0]!r} ({also} will do too); it has {there}")
        chosen.append(known[0])
    queries, documents = (table[name].cast(pa.string()).to_pylist() for name in chosen[:2])
    values = table[chosen[2]]
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise UploadError(f"column {chosen[2]!r} must hold numbers; it holds {values.type}")
    found: Mappings = {}
    for row, (query, document, value) in enumerate(zip(queries, documents, values.to_pylist(), strict=True), start=2):
        if None in (query, document, value):
            raise UploadError(f"line {row}: a value is missing")
        if document in found.setdefault(query, {}):
            raise UploadError(f"line {row}: document {document!r} of query {query!r} was there before")
        found[query][document] = value
    return found
