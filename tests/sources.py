"""One catalogue of all sources: each writes given rankings in one form that people hold them in."""

import gzip
import io
import json
import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from dataclasses import make_dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest

Rows = list[list[Any]]  # a value of each document by position, None if there is none
Side = dict[Any, dict[Any, Any]]  # the value of each document by its id, by query
Inputs = dict[str, Any]  # as `compute` takes them


class Late:
    """A library that is imported when a test uses it; without it, the test is skipped."""

    def __init__(self, name: str, at_least: str | None = None) -> None:
        self.name, self.at_least = name, at_least

    def __getattr__(self, name: str) -> Any:
        if name in ("__bases__", "__test__"):
            # pytest asks everything in a file for these, to see whether it is a test
            raise AttributeError(name)
        pytest.importorskip(self.name.partition(".")[0], minversion=self.at_least)
        return getattr(import_module(self.name), name)


torch, jnp, pl, duckdb = map(Late, ("torch", "jax.numpy", "polars", "duckdb"))
pd = Late("pandas", "3")


# The rankings


class Rankings(NamedTuple):
    """Rankings by position, with a query in each row."""

    scores: Rows  # None for a document that was not retrieved
    relevances: Rows  # None for a document that was not judged

    def rows(self, kind: str) -> Rows:
        """One side by position."""
        return self.scores if kind == "run" else self.relevances

    def side(self, kind: str) -> Side:
        """One side by ids; a query's documents are in the order of their values, highest first."""
        return {query: best_first(row) for query, row in by_ids(self.rows(kind)).items()}

    def table(self) -> pa.Table:
        """A row for each document; the rows of a query are not next to each other."""
        places = [
            (position, query)
            for query, row in enumerate(self.scores)
            for position, values in enumerate(zip(row, self.relevances[query], strict=True))
            if values != (None, None)
        ]
        places.sort()
        columns = {
            "user": [f"q{query}" for _, query in places],
            "item": [f"d{position}" for position, _ in places],
            "score": pa.array([self.scores[query][at] for at, query in places], pa.float64()),
            "label": [self.relevances[query][at] for at, query in places],
        }
        return pa.table(columns)


def by_ids(rows: Rows) -> Side:
    """The rows as a mapping without missing values."""
    return {
        f"q{query}": {f"d{at}": value for at, value in enumerate(row) if value is not None}
        for query, row in enumerate(rows)
    }


def best_first(documents: dict[Any, Any]) -> dict[Any, Any]:
    """A query's documents in the order of their values; of equal ones, the first stays first."""
    return dict(sorted(documents.items(), key=lambda item: item[1], reverse=True))


def filled(rows: Rows) -> Rows:
    """The rows with 0 for missing values."""
    return [[0 if value is None else value for value in row] for row in rows]


# Quarters, which bfloat16 and float16 hold exactly; with ties and a query of nothing relevant.
SQUARE = Rankings(
    [[0.5, 2.25, 3.0, 2.25], [7.0, -1.25, 0.0, 7.0], [1.0, 1.0, 1.0, 1.0], [-3.5, 0.25, 8.0, 0.75]],
    [[1, 2, 0, 0], [0, 3, 1, 1], [0, 0, 0, 0], [4, 0, 2, 1]],
)
# Ragged, with ties, documents not retrieved and documents not judged, a query with nothing relevant
# and one with nothing retrieved. No query is empty, since flat columns cannot hold it. Two scores
# are equal as 32-bit floats only.
RAGGED = Rankings(
    [
        [0.5, None, 3.0, 2.25], [-1.25], [7.0000001, 7.0, 7.0, 0.0, 0.25], [None, 1.5], [1.0, 1.0],
        [None, None],
    ],
    [[1, 2, None, 1], [2], [0, 3, None, 1, 1], [3, 0], [0, None], [2, 1]],
)  # fmt: skip
WIDTH = 5


# By position: numbers in rows

Form = Callable[[Rows], Any]


def torch_tensor(dtype: str, **how: Any) -> Form:
    return lambda rows: torch.tensor(rows, dtype=getattr(torch, dtype), **how)


def torch_with_gradient(rows: Any) -> Any:
    return torch.tensor(rows, dtype=torch.float32, requires_grad=True) * 1


def jax_array(dtype: str) -> Form:
    return lambda rows: jnp.array(rows, getattr(jnp, dtype))


def row_by_row(form: Callable[[list[Any]], Any]) -> Form:
    return lambda rows: [form(row) for row in rows]


def arrow_chunks(rows: Rows) -> pa.ChunkedArray:
    return pa.chunked_array([rows[:1], [], rows[1:3], rows[3:]], pa.list_(pa.float64()))


def dataset(rows: list[Any]) -> datasets.Dataset:
    return datasets.Dataset.from_dict({"other": list(range(len(rows))), "values": rows})


def dataset_column(form: str) -> Form:
    """A column of a Dataset in the format of a library."""

    def make(rows: Rows) -> Any:
        pytest.importorskip("pyarrow" if form == "arrow" else form)
        return dataset(rows).with_format(form)["values"]

    return make


def dataset_by_indices(rows: Rows) -> Any:
    reversed_rows = dataset([[99.0], *rows[::-1]])
    return reversed_rows.select(range(len(rows), 0, -1))["values"]


def polars_lists(rows: Rows) -> Any:
    return pl.Series("values", rows, pl.List(pl.Float64))


def pandas_lists(rows: Rows) -> Any:
    return pd.Series(rows, index=[f"row {number}" for number in range(len(rows), 0, -1)])


def masked_matrix(rows: Rows) -> Any:
    """A masked array, padded on the right."""
    padded = [[*row, *[99] * (WIDTH - len(row))] for row in filled(rows)]
    masks = []
    for row in rows:
        masks.append([*(value is None for value in row), *[True] * (WIDTH - len(row))])
    return np.ma.MaskedArray(padded, masks)


def masked_rows(rows: Rows) -> Any:
    return [
        np.ma.MaskedArray(values, [value is None for value in row])
        for values, row in zip(filled(rows), rows, strict=True)
    ]


def fixed_size_lists(dtype: Any) -> Form:
    return lambda rows: pa.array(rows, pa.list_(dtype, len(rows[0])))


def with_array_method(rows: Rows) -> Any:
    return type("Array", (), {"__array__": lambda *_, **__: np.array(rows)})()


RAGGED_FORMS: dict[str, Form] = {  # of several lengths, with missing values
    "lists": lambda rows: rows,
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "masked NumPy, padded": masked_matrix,
    "masked NumPy rows": masked_rows,
    "Arrow lists": lambda rows: pa.array(rows, pa.list_(pa.float64())),
    "Arrow large lists": lambda rows: pa.array(rows, pa.large_list(pa.float32())),
    "Arrow list views": lambda rows: pa.array(rows, pa.list_view(pa.float32())),
    "Arrow large list views": lambda rows: pa.array(rows, pa.large_list_view(pa.float64())),
    "Arrow chunks": arrow_chunks,
    "an Arrow table": lambda rows: pa.table({"values": arrow_chunks(rows)}),
    "a datasets column": lambda rows: dataset(rows)["values"],
    "a Polars-formatted datasets column": dataset_column("polars"),
    "an Arrow-formatted datasets column": dataset_column("arrow"),
    "a datasets column by indices": dataset_by_indices,
    "a datasets column read": lambda rows: dataset(rows)["values"][:],
    "Polars lists": polars_lists,
    "a Polars table": lambda rows: polars_lists(rows).to_frame(),
    "Polars chunks": lambda rows: polars_lists(rows[:1]).append(polars_lists(rows[1:])),
    "pandas lists": pandas_lists,
    "pandas Arrow lists": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.list_(pa.float64()))),
    "a pandas table": lambda rows: pandas_lists(rows).to_frame("values"),
    "a DuckDB table": lambda rows: duckdb_ids(rows).to_arrow_table(),
}
SQUARE_FORMS: dict[str, Form] = {  # of one length, without missing values
    "NumPy": np.array,
    "NumPy float32": lambda rows: np.array(rows, np.float32),
    "NumPy float16": lambda rows: np.array(rows, np.float16),
    "NumPy transposed": np.asfortranarray,
    "NumPy, read-only": lambda rows: np.frombuffer(np.array(rows, float)).reshape(len(rows), -1),
    "NumPy objects": lambda rows: np.array(rows, object),
    "NumPy rows": lambda rows: list(map(np.array, rows)),
    "NumPy numbers": lambda rows: [list(map(np.float32, row)) for row in rows],
    "fractions": lambda rows: [list(map(Fraction, row)) for row in rows],
    "lists and arrays": lambda rows: [rows[0], *map(np.array, rows[1:])],
    "masked NumPy without a mask": lambda rows: np.ma.MaskedArray(rows, np.zeros(np.shape(rows))),
    "something with __array__": with_array_method,
    "PyTorch float32": torch_tensor("float32"),
    "PyTorch float64": torch_tensor("float64"),
    "PyTorch bfloat16": torch_tensor("bfloat16"),
    "PyTorch float16": torch_tensor("float16"),
    "PyTorch with a gradient": torch_with_gradient,
    "PyTorch transposed": lambda rows: torch_tensor("float64")(rows).t().contiguous().t(),
    "PyTorch strided": lambda rows: torch_tensor("bfloat16")(rows).repeat_interleave(2, dim=1)[
        :, ::2
    ],
    "PyTorch rows": row_by_row(torch_tensor("float32")),
    "PyTorch bfloat16 rows": row_by_row(torch_tensor("bfloat16")),
    "PyTorch rows with gradients": row_by_row(torch_tensor("float32", requires_grad=True)),
    "JAX float32": jax_array("float32"),
    "JAX bfloat16": jax_array("bfloat16"),
    "JAX rows": row_by_row(jax_array("float32")),
    "JAX bfloat16 rows": row_by_row(jax_array("bfloat16")),
    "Arrow fixed-size lists": fixed_size_lists(pa.float32()),
    "an Arrow slice of fixed-size lists": lambda rows: fixed_size_lists(pa.float64())(
        [rows[-1], *rows, rows[0]]
    )[1:-1],
    "a torch-formatted datasets column": dataset_column("torch"),
    "a NumPy-formatted datasets column": dataset_column("numpy"),
    "a JAX-formatted datasets column": dataset_column("jax"),
    "Polars arrays": lambda rows: pl.Series("values", rows, pl.Array(pl.Float32, len(rows[0]))),
    "pandas arrays": lambda rows: pd.Series([np.array(row, np.float64) for row in rows]),
}
EVERY_FORM = {**RAGGED_FORMS, **SQUARE_FORMS}  # of one length, without missing values
del EVERY_FORM["masked NumPy, padded"]  # whose rows are longer than lists
IN_32_BITS = {"Arrow large lists", "Arrow list views"}  # of those with several lengths
# These hold rows of several lengths, but no missing values.
ROWS_FORMS = [
    "NumPy rows", "PyTorch rows", "PyTorch bfloat16 rows", "JAX rows", "JAX bfloat16 rows",
    "pandas arrays",
]  # fmt: skip


# By position: flat columns with the queries in `query_ids`

FlatForm = Callable[[list[Any]], Any]


def pandas_series(dtype: Any = None) -> FlatForm:
    return lambda values: pd.Series(values, index=range(len(values), 0, -1), dtype=dtype)


def polars_series(dtype: str | None = None) -> FlatForm:
    return lambda values: pl.Series("ids", values, None if dtype is None else getattr(pl, dtype))


def duckdb_ids(ids: list[Any]) -> Any:
    table = pa.table({"row": range(len(ids)), "ids": ids})
    return duckdb.connect().from_arrow(table).order("row").project("ids")


def dictionary_chunks(ids: list[Any]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(part).dictionary_encode() for part in (ids[:5], ids[5:])])


ANY_IDS: dict[str, FlatForm] = {
    "a list": lambda ids: ids,
    "a tuple": tuple,
    "NumPy": np.array,
    "a NumPy object array": lambda ids: np.array(ids, object),
    "Arrow": pa.array,
    "Arrow chunks": lambda ids: pa.chunked_array([ids[:5], [], ids[5:]]),
    "Arrow dictionary": lambda ids: pa.array(ids).dictionary_encode(),
    "Arrow chunks of other dictionaries": dictionary_chunks,
    "pandas": pandas_series(),
    "pandas object": pandas_series(object),
    "pandas categorical": pandas_series("category"),
    "pandas index": lambda ids: pandas_series()(ids).set_axis(ids).index,
    "Polars": polars_series(),
    "a Polars table": lambda ids: polars_series()(ids).to_frame(),
    "a datasets column": lambda ids: dataset(ids)["values"],
    "a DuckDB relation": duckdb_ids,
}
INTEGER_IDS: dict[str, FlatForm] = {
    "NumPy int8": lambda ids: np.array(ids, np.int8),
    "PyTorch": torch_tensor("int64"),
    "JAX": jax_array("int32"),
    "pandas nullable": pandas_series("Int64"),
    "Polars Int32": polars_series("Int32"),
}
TEXT_IDS: dict[str, FlatForm] = {
    "NumPy strings of the library's own": lambda ids: np.array(ids, np.dtypes.StringDType()),
    "Arrow large strings": lambda ids: pa.array(ids, pa.large_string()),
    "Arrow string views": lambda ids: pa.array(ids, pa.string_view()),
    "pandas strings": pandas_series("string"),
    "Polars categorical": polars_series("Categorical"),
    "Polars enum": lambda ids: pl.Series(ids, dtype=pl.Enum(sorted(set(ids)))),
}
FLAT_FORMS: dict[str, FlatForm] = {  # with missing values
    "a list": lambda flat: flat,
    "a tuple": tuple,
    "an object array": lambda flat: np.array(flat, object),
    "masked NumPy": lambda flat: masked_rows([flat])[0],
    "Arrow": lambda flat: pa.array(flat, pa.float64()),
    "Arrow chunks": lambda flat: pa.chunked_array([flat[:4], flat[4:]], pa.float32()),
    "a datasets column": lambda flat: dataset(flat)["values"],
    "pandas nullable": pandas_series("Float64"),
    "pandas Arrow": pandas_series("double[pyarrow]"),
    "Polars": polars_series("Float64"),
    "a Polars table": lambda flat: polars_series("Float32")(flat).to_frame(),
    "a DuckDB table": lambda flat: duckdb_ids(flat).to_arrow_table(),
}
FLAT_IN_32_BITS = {"Arrow chunks", "a Polars table"}
FULL_FLAT_FORMS: dict[str, FlatForm] = {  # without
    "NumPy": np.array,
    "NumPy float16": lambda flat: np.array(flat, np.float16),
    "PyTorch bfloat16": torch_tensor("bfloat16"),
    "PyTorch float16": torch_tensor("float16"),
    "PyTorch with a gradient": torch_with_gradient,
    "JAX float32": jax_array("float32"),
    "JAX bfloat16": jax_array("bfloat16"),
    "pandas": pandas_series(),
}


# Tables

Table = Callable[[pa.Table, Path], Any]
COLUMNS = {
    "predictions": "score", "references": "label", "query_ids": "user", "document_ids": "item",
}  # fmt: skip


def parquet_files(table: pa.Table, folder: Path) -> Any:
    """A dataset of two Parquet files."""
    half = len(table) // 2
    for part, rows in enumerate((table[:half], table[half:])):
        pa.parquet.write_table(rows, folder / f"{part}.parquet")
    return pa.dataset.dataset(folder)


def arrow_batch(table: pa.Table) -> Any:
    return pa.record_batch([column.combine_chunks() for column in table], table.schema)


def duckdb_relation(table: pa.Table) -> Any:
    return duckdb.connect().from_arrow(table)


def named_tuples(table: pa.Table) -> list[Any]:
    row_type = namedtuple("Row", table.column_names)  # type: ignore[misc]
    return [row_type(**row) for row in table.to_pylist()]


class KeyedTuple(tuple[Any, ...]):
    """A row of Neo4j: a tuple of values with the names of its columns."""

    named: Sequence[str] = ()

    def keys(self) -> list[str]:
        return list(self.named)

    def __getitem__(self, key: Any) -> Any:
        return dict(zip(self.named, self, strict=True))[key]


def keyed_tuples(table: pa.Table) -> list[Any]:
    row_type = type("Record", (KeyedTuple,), {"named": table.column_names})
    return [row_type(row.values()) for row in table.to_pylist()]


def data_classes(table: pa.Table) -> list[Any]:
    row_type = make_dataclass("Row", table.column_names)
    return [row_type(**row) for row in table.to_pylist()]


def sqlite_rows(table: pa.Table) -> list[Any]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute(f"CREATE TABLE t ({', '.join(table.column_names)})")
    values = ", ".join("?" * len(table.column_names))
    rows = [tuple(row.values()) for row in table.to_pylist()]
    connection.executemany(f"INSERT INTO t VALUES ({values})", rows)
    return connection.execute("SELECT * FROM t").fetchall()


def structured_array(table: pa.Table) -> Any:
    types = [
        (name, "U9" if pa.types.is_string(column.type) else "f8")
        for name, column in zip(table.column_names, table, strict=True)
    ]
    return np.array([tuple(row.values()) for row in table.to_pylist()], types)


TABLES: dict[str, Table] = {
    "pandas": lambda table, _: table.to_pandas(),
    "pandas with an index": lambda table, _: table.to_pandas().set_axis(range(len(table), 0, -1)),
    "Polars": lambda table, _: pl.from_arrow(table),
    "Polars, lazy": lambda table, _: pl.from_arrow(table).lazy(),
    "Arrow": lambda table, _: table,
    "Arrow, a batch": lambda table, _: arrow_batch(table),
    "Arrow, a reader": lambda table, _: table.to_reader(),
    "Arrow, files": parquet_files,
    "DuckDB": lambda table, _: duckdb_relation(table),
    "DuckDB, a query": lambda table, _: duckdb_relation(table).filter("1 = 1"),
    "datasets": lambda table, _: datasets.Dataset(table),
    "datasets, as pandas": lambda table, _: datasets.Dataset(table).with_format("pandas"),
    "a dict of columns": lambda table, _: table.to_pydict(),
}
RECORDS: dict[str, Table] = {
    "dicts": lambda table, _: table.to_pylist(),
    "a generator of dicts": lambda table, _: (row for row in table.to_pylist()),
    "named tuples": lambda table, _: named_tuples(table),
    "an iterator of named tuples": lambda table, _: iter(named_tuples(table)),
    "tuples with keys": lambda table, _: keyed_tuples(table),
    "data classes": lambda table, _: data_classes(table),
    "rows of SQLite": lambda table, _: sqlite_rows(table),
}


# By ids

KINDS = ("run", "qrels")
VALUE_NAMES = {"run": "score", "qrels": "relevance"}  # the role, and the standard name, of a value
Fields = dict[str, str | None]  # as `fields=` takes them
Row = Callable[[dict[Any, Any], str], Any]  # of a query's documents and the name of their values


def no_fields(kind: str) -> Fields:
    return {}


class Source(NamedTuple):
    """A form of a side whose documents have ids, and what it can hold."""

    write: Callable[[Side, str, Path], Any]  # of a side, its kind, and a folder for files
    fields: Callable[[str], Fields] = no_fields  # the names that it needs, by the kind of the side
    has_values: bool = True  # else only the order of a run, or which documents are relevant
    has_queries: bool = True  # whether queries have ids; else they are in the order of the side
    kinds: tuple[str, ...] = KINDS  # the sides that it can be

    def held(self, side: Side, kind: str) -> Side:
        """What the source holds of a side, whose documents are best first."""
        if self.has_values:
            return side
        if kind == "run":
            return {query: ranked(list(documents)) for query, documents in side.items()}
        return {query: dict.fromkeys(relevant(documents), 1) for query, documents in side.items()}


def ranked(documents: Iterable[Any]) -> dict[Any, int]:
    """Scores that rank documents in their order."""
    return {document: -rank for rank, document in enumerate(documents, 1)}


def relevant(documents: dict[Any, Any]) -> list[Any]:
    return [document for document, relevance in documents.items() if relevance > 0]


def as_table(side: Side, kind: str) -> pa.Table:
    """A row for each document."""
    rows = [(query, *item) for query, documents in side.items() for item in documents.items()]
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(("qid", "docno", VALUE_NAMES[kind]), columns, strict=True)))


def of_table(table: Table) -> Source:
    def write(side: Side, kind: str, folder: Path) -> Any:
        (folder / kind).mkdir(exist_ok=True)
        return table(as_table(side, kind), folder / kind)

    return Source(write)


# The documents of a query, in a mapping of queries or in a list of them


def hits(make: Callable[[Any, Any, str], Any]) -> Row:
    """A list of hits, each made of a document, its value, and the name of the value."""
    return lambda documents, value: [make(*item, value) for item in documents.items()]


def hit_with_metadata(document: Any, number: Any, value: str) -> dict[str, Any]:
    return {"metadata": {"id": document, "page": 3}, value: number}


def client_object(document: Any, number: Any, value: str) -> Any:
    return SimpleNamespace(id=document, payload={}, **{value: number})


def node_with_score(document: Any, number: Any, value: str) -> Any:
    return SimpleNamespace(node=SimpleNamespace(node_id=document), **{value: number})


def document_and_score(document: Any, number: Any, _: str) -> Any:
    return SimpleNamespace(id=None, metadata={"id": document}), float(number)


ROWS_WITH_VALUES: dict[str, Row] = {
    "mappings": lambda documents, _: documents,
    "hits": hits(lambda document, number, value: {"id": document, value: number}),
    "hits with metadata": hits(hit_with_metadata),
    "pairs": hits(lambda document, number, _: (document, float(number))),
    "client objects": hits(client_object),
    "nodes": hits(node_with_score),
    "documents and scores": hits(document_and_score),
}
ROWS_OF_IDS: dict[str, Row] = {
    "lists of ids": lambda documents, _: list(documents),
    "arrays of ids": lambda documents, _: np.array(list(documents), str),
    "object arrays of ids": lambda documents, _: np.array(list(documents), object),
    "Arrow lists of ids": lambda documents, _: pa.array(list(documents), pa.string()),
    "tuples of ids": lambda documents, _: tuple(documents),
}
SETS_OF_IDS: dict[str, Row] = {
    "sets of ids": lambda documents, _: set(documents),
    "frozen sets of ids": lambda documents, _: frozenset(documents),
}


def rows_of(row: Row, side: Side, kind: str, has_values: bool) -> dict[Any, Any]:
    """What each query holds; only relevant documents if these have no values."""
    if kind == "qrels" and not has_values:
        side = {query: dict.fromkeys(relevant(documents)) for query, documents in side.items()}
    return {query: row(documents, VALUE_NAMES[kind]) for query, documents in side.items()}


def by_query(row: Row, has_values: bool = True, kinds: tuple[str, ...] = KINDS) -> Source:
    """A mapping of queries to their documents."""

    def write(side: Side, kind: str, _: Path) -> Any:
        return rows_of(row, side, kind, has_values)

    return Source(write, has_values=has_values, kinds=kinds)


def in_list(
    row: Row,
    has_values: bool = True,
    kinds: tuple[str, ...] = KINDS,
    make: Callable[[list[Any]], Any] = list,
) -> Source:
    """A list, or a column, with the documents of each query."""

    def write(side: Side, kind: str, _: Path) -> Any:
        return make(list(rows_of(row, side, kind, has_values).values()))

    return Source(write, has_values=has_values, has_queries=False, kinds=kinds)


COLUMNS_OF_IDS: dict[str, Callable[[list[list[Any]]], Any]] = {
    "an Arrow column": lambda rows: pa.array(rows, pa.list_(pa.string())),
    "an Arrow column of large lists": lambda rows: pa.array(rows, pa.large_list(pa.large_string())),
    "an Arrow table": lambda rows: pa.table({"ids": pa.array(rows, pa.list_(pa.string()))}),
    "a Polars column": lambda rows: pl.Series(rows, dtype=pl.List(pl.String)),
    "a pandas column": pandas_lists,
    "a datasets column": lambda rows: dataset(rows)["values"],
}


# Objects with the documents of a query each, read by paths


Objects = Callable[[Side, str], Any]


def each_query(make: Callable[[Any, dict[Any, Any], str], Any]) -> Objects:
    """A list of objects, each made of a query, its documents, and the name of their values."""
    return lambda side, kind: [make(*item, VALUE_NAMES[kind]) for item in side.items()]


def hits_named(documents: dict[Any, Any], document: str, value: str) -> list[dict[str, Any]]:
    """Hits with names for the document and the value."""
    return [{document: key, value: number} for key, number in documents.items()]


def response(documents: dict[Any, Any], value: str) -> dict[str, Any]:
    """A response as search engines give it."""
    found = hits_named(documents, "_id", f"_{value}")
    return {"took": 3, "timed_out": False, "hits": {"total": {"value": 9}, "hits": found}}


def trace(query: Any, documents: dict[Any, Any], value: str) -> dict[str, Any]:
    """A log with names of its own."""
    found = hits_named(documents, "key", "points")
    if value == "score":
        return {"case": query, "output": {"chunks": found, "model": "m"}}
    return {"case": query, "gold": found}


def trace_fields(kind: str) -> Fields:
    path = "output.chunks" if kind == "run" else "gold"
    return {"query": "case", "document": f"{path}.key", VALUE_NAMES[kind]: f"{path}.points"}


def golden_cases(side: Side, kind: str) -> dict[str, Any]:
    """Cases in a wrapper."""
    cases = [
        {"id": query, "found": hits_named(documents, "key", "points")}
        for query, documents in side.items()
    ]
    return {"version": 1, "cases": cases}


def golden_fields(kind: str) -> Fields:
    return {
        "query": "cases.id",
        "document": "cases.found.key",
        VALUE_NAMES[kind]: "cases.found.points",
    }


def span(query: Any, documents: dict[Any, Any], _: str) -> dict[str, Any]:
    """A span of a tracer, whose keys have dots."""
    found = hits_named(documents, "document.id", "document.score")
    return {"span_id": query, "attributes": {"retrieval.documents": found}}


def span_fields(kind: str) -> Fields:
    path = "attributes.retrieval.documents.document"
    return {"query": "span_id", "document": f"{path}.id", VALUE_NAMES[kind]: f"{path}.score"}


def ids_beside_values(query: Any, documents: dict[Any, Any], value: str) -> dict[str, Any]:
    return {"query_id": query, "doc_ids": list(documents), f"{value}s": list(documents.values())}


def ids_and_mapping(query: Any, documents: dict[Any, Any], value: str) -> dict[str, Any]:
    """A list of ids, and a mapping by these ids."""
    return {"query_id": query, "doc_ids": list(documents), f"{value}s": documents}


def standard_ids(query: Any, documents: dict[Any, Any], value: str) -> dict[str, Any]:
    """A list of ids under the standard name of its side."""
    if value == "score":
        return {"query_id": query, "retrieved_ids": list(documents), "note": "x"}
    return {"query_id": query, "relevant_ids": relevant(documents), "note": "x"}


class JsonSource(NamedTuple):
    """Objects that JSON can hold too."""

    write: Objects
    fields: Callable[[str], Fields] = no_fields
    has_values: bool = True
    has_queries: bool = True

    def source(self, save: Callable[[Any, Path], Any]) -> Source:
        """The source that saves the objects, or gives them as they are."""

        def write(side: Side, kind: str, folder: Path) -> Any:
            return save(self.write(side, kind), folder / f"{kind}.json")

        return Source(write, self.fields, self.has_values, self.has_queries)


def as_list(query: Any, documents: dict[Any, Any], value: str) -> dict[str, Any]:
    return {"query_id": query, "hits": hits_named(documents, "id", value)}


OBJECTS: dict[str, JsonSource] = {
    "responses by query": JsonSource(
        lambda side, kind: {q: response(row, VALUE_NAMES[kind]) for q, row in side.items()}
    ),
    "responses in a list": JsonSource(
        each_query(lambda _, row, value: response(row, value)),
        lambda kind: {"query": None},
        has_queries=False,
    ),
    "queries with hits": JsonSource(each_query(as_list)),
    "ids beside values": JsonSource(each_query(ids_beside_values)),
    "ids beside values by query": JsonSource(
        lambda side, kind: {
            query: {"doc_ids": list(row), f"{VALUE_NAMES[kind]}s": list(row.values())}
            for query, row in side.items()
        }
    ),
    "ids and a mapping": JsonSource(each_query(ids_and_mapping)),
    "ids under a standard name": JsonSource(each_query(standard_ids), has_values=False),
    "a mapping of ids to values": JsonSource(
        each_query(lambda query, row, _: {"query_id": query, "judged": row}),
        lambda kind: {"document": "judged"},
    ),
    "pairs in objects": JsonSource(
        each_query(lambda query, row, _: {"query_id": query, "found": list(row.items())}),
        lambda kind: {"document": "found"},
    ),
    "names of its own": JsonSource(each_query(trace), trace_fields),
    "cases in a wrapper": JsonSource(golden_cases, golden_fields),
    "keys with dots": JsonSource(each_query(span), span_fields),
}


def json_rows(name: str) -> JsonSource:
    """Rows of a name in a mapping of queries."""
    row = {**ROWS_WITH_VALUES, **ROWS_OF_IDS}[name]
    has_values = name in ROWS_WITH_VALUES

    def write(side: Side, kind: str) -> Any:
        return rows_of(row, side, kind, has_values)

    return JsonSource(write, has_values=has_values)


JSON_ROWS = {
    f"{name} by query": json_rows(name)
    for name in ("mappings", "hits", "hits with metadata", "pairs", "lists of ids")
}


def in_objects(value: Any) -> Any:
    """JSON as a client library's objects; mappings with keys that are no names stay."""
    if isinstance(value, list):
        return [in_objects(item) for item in value]
    if isinstance(value, dict) and all(key.isidentifier() for key in value):
        return SimpleNamespace(**{key: in_objects(item) for key, item in value.items()})
    return value


def save_json(value: Any, path: Path) -> Path:
    path.write_text(json.dumps(value))
    return path


def save_lines(value: Any, path: Path) -> Path:
    """JSON Lines: a line for each object, or for each query of a mapping."""
    lines = value if isinstance(value, list) else [{key: item} for key, item in value.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def save_parquet(value: Any, path: Path) -> Path:
    pa.parquet.write_table(pa.Table.from_pylist(value), path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


NESTED_TABLES: dict[str, Callable[[Any, Path], Any]] = {
    "pandas": lambda value, _: pa.Table.from_pylist(value).to_pandas(),
    "Polars": lambda value, _: pl.DataFrame(value),
    "Polars, lazy": lambda value, _: pl.DataFrame(value).lazy(),
    "Arrow": lambda value, _: pa.Table.from_pylist(value),
    "datasets": lambda value, _: datasets.Dataset.from_list(value),
    "Parquet": save_parquet,
}
# In lines of JSON, the ids of queries would be names of fields.
WHOLE_JSON = (
    "hits by query", "hits with metadata by query", "responses by query",
    "ids beside values by query", "cases in a wrapper",
)  # fmt: skip
IN_TABLES = ("queries with hits", "ids beside values", "names of its own")


# Files

QUERY, DOCUMENT, VALUE = "query-id", "corpus-id", "score"  # as in the files of BEIR


def records(side: Side) -> list[dict[str, Any]]:
    """A record for each document of each query."""
    return [
        {QUERY: query, DOCUMENT: document, VALUE: value}
        for query, documents in side.items()
        for document, value in documents.items()
    ]


def as_trec(side: Side, line: str) -> bytes:
    """Lines without a header, each as the pattern says for a query, a document and a value."""
    return "".join(line.format(*record.values()) for record in records(side)).encode()


def as_lines(side: Side, delimiter: str, head: str = "", end: str = "\n") -> bytes:
    """Lines of a table with a header, such as CSV."""
    rows = [(QUERY, DOCUMENT, VALUE), *(record.values() for record in records(side))]
    return (head + "".join(delimiter.join(map(str, row)) + end for row in rows)).encode()


def as_json_lines(objects: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


def as_parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(table, file, row_group_size=2)
    return file.getvalue()


def as_arrow(opened: Callable[..., Any], table: pa.Table) -> bytes:
    """A file or a stream of Arrow, in batches of two rows."""
    file = io.BytesIO()
    with opened(file, table.schema) as writer:
        writer.write_table(table, 2)
    return file.getvalue()


def table_of(side: Side) -> pa.Table:
    return pa.Table.from_pylist(records(side))


def as_quoted_csv(side: Side) -> bytes:
    """A CSV file as pandas writes it, with row numbers, and with names in another spelling."""
    lines = ['"","score","Query_ID","DocID"']
    for number, record in enumerate(records(side), 1):
        lines.append(f'{number},"{record[VALUE]}","{record[QUERY]}","{record[DOCUMENT]}"')
    return "".join(f"{line}\n" for line in lines).encode()


def with_integers(side: Side) -> list[dict[str, Any]]:
    """Records in which the ids of queries that are digits are integers."""
    rows = records(side)
    for row in rows:
        if row[QUERY].isdigit():
            row[QUERY] = int(row[QUERY])
    return rows


def with_categories(side: Side) -> pa.Table:
    """A table in which the queries are a dictionary's codes, in another column."""
    table = table_of(side)
    return table.set_column(0, "user", table[QUERY].combine_chunks().dictionary_encode())


FileWriter = Callable[[Side], bytes]

# Files without names of columns, which tell by their form which side they are.
RUN_FILES: dict[str, FileWriter] = {
    "file.txt": lambda side: as_trec(side, "{} Q0 {} 1 {} tag\n"),
    "tagged.txt": lambda side: as_trec(side, '{} Q0 {} 1 {} my tag,  "#7\n'),
}
QRELS_FILES: dict[str, FileWriter] = {
    "file.txt": lambda side: as_trec(side, "{} 0 {} {}\n"),
    "plain.txt": lambda side: as_trec(side, "{} {} {}\n"),
}
FILES: dict[str, FileWriter] = {  # of either side
    "file.csv": lambda side: as_lines(side, ","),
    "beir.tsv": lambda side: as_lines(side, "\t"),
    "file.json": lambda side: json.dumps(side).encode(),
    "list.json": lambda side: json.dumps(records(side)).encode(),
    "file.jsonl": lambda side: as_json_lines(records(side)),
    "mapping.jsonl": lambda side: as_json_lines([{query: row} for query, row in side.items()]),
    "file.parquet": lambda side: as_parquet(table_of(side)),
    "file.arrow": lambda side: as_arrow(pa.ipc.new_file, table_of(side)),
    "stream.arrow": lambda side: as_arrow(pa.ipc.new_stream, table_of(side)),
}
ODD_FILES: dict[str, FileWriter] = {  # of either side too, seldom written like this
    "crlf.csv": lambda side: as_lines(side, ",", end="\r\n"),
    "blank.csv": lambda side: as_lines(side, ",", head="\n\n", end="\n\n"),
    "mark.csv": lambda side: as_lines(side, ",", head="\ufeff"),
    "quoted.csv": as_quoted_csv,
    "named.txt": lambda side: as_lines(side, ","),
    "beir.txt": lambda side: as_lines(side, "\t"),
    "indented.json": lambda side: json.dumps(side, indent=2).encode(),
    "blank.jsonl": lambda side: as_json_lines(records(side)).replace(b"\n", b"\n\n"),
    "integers.jsonl": lambda side: as_json_lines(with_integers(side)),
    "category.parquet": lambda side: as_parquet(with_categories(side)),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {  # by the end of a file's name
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}

# Ids that look like something else, and numbers in every spelling.
ODD_IDS = [
    *("NA", "null", "NULL", "nan", "N/A", "None", "true", "1e5", "007", "7", "-1", "0x1F"),
    *('"quoted"', '"', "'", 'a"b', "a,b", "a;b", "a\\b", "a#b", "#", "#a", "2024-01-01"),
    *(
        "http://a.b/c?d=e&f#g",
        "dé",
        "文書",
        "🥇",
        "e\u0301",
        "a\u00a0b",
        "9" * 40,
        "x" * 1000,
        "ORC",
    ),
]
SPELLINGS = [
    *("1", "-1", "+1.5", "1.5", ".5", "5.", "-0.25", "1e5", "1E5", "-1.5e-3", "2.5E+10"),
    *("1e-400", "5e-324"),
]


def written(path: Path, side: Side, kind: str) -> Path:
    """A file of TREC; lines of a run are by position, so a query's are not next to each other."""
    files = RUN_FILES if kind == "run" else QRELS_FILES
    lines = files["file.txt"](side).splitlines(keepends=True)
    if kind == "run":
        places = [place for documents in side.values() for place in range(len(documents))]
        lines = [lines[line] for line in np.argsort(places, kind="stable")]
    path.write_bytes(b"".join(lines))
    return path


def mappings_and_files(folder: Path, run: Any, qrels: Any) -> list[tuple[Any, Any]]:
    """Both sides as mappings and as files of TREC, in every combination."""
    files = written(folder / "run", run, "run"), written(folder / "qrels", qrels, "qrels")
    return [(run, qrels), files, (run, files[1]), (files[0], qrels), (run, str(files[1]))]


# Hits of one query, and records, in any place: whoever gives them chooses the names


Records = list[dict[str, Any]]
HITS: dict[str, Callable[[Records, Path], Any]] = {  # of the query "q"
    "a mapping": lambda hits, _: {"q": hits},
    "objects": lambda hits, _: {"q": [SimpleNamespace(**hit) for hit in hits]},
    "named tuples": lambda hits, _: {"q": [namedtuple("Hit", hit)(**hit) for hit in hits]},
    "a response": lambda hits, _: {"q": {"took": "1 ms", "hits": hits}},
    "objects with their query": lambda hits, _: [{"query_id": "q", "hits": hits}],
    "a list under a name of its own": lambda hits, _: [{"query_id": "q", "my_things": hits}],
    "such a list by query": lambda hits, _: {"q": {"note": "text", "my_things": hits}},
    "a list in an object": lambda hits, _: [{"query_id": "q", "output": {"my_things": hits}}],
    "JSON": lambda hits, folder: save_json({"q": hits}, folder / "hits.json"),
    "JSON Lines": lambda hits, folder: save_lines(
        [{"question_id": "q", "chunks": hits}], folder / "hits.jsonl"
    ),
    "Parquet": lambda hits, folder: save_parquet(
        [{"query_id": "q", "hits": hits}], folder / "hits"
    ),
}


def save_csv(rows: Records, path: Path) -> Path:
    pa.csv.write_csv(pa.Table.from_pylist(rows), path.with_suffix(".csv"))
    return path.with_suffix(".csv")


OBJECTS_IN: dict[str, Callable[[Records, Path], Any]] = {  # in memory, or a file at the path
    "dicts": lambda rows, _: rows,
    "objects": lambda rows, _: [SimpleNamespace(**row) for row in rows],
    "JSON": lambda rows, path: save_json(rows, path.with_suffix(".json")),
    "JSON Lines": lambda rows, path: save_lines(rows, path.with_suffix(".jsonl")),
    "Parquet": save_parquet,
}
ROWS_IN: dict[str, Callable[[Records, Path], Any]] = {
    **OBJECTS_IN,
    "a frame": lambda rows, _: pd.DataFrame(rows),
    "CSV": save_csv,
}


# Every source of documents with ids


def saved(write: FileWriter | dict[str, FileWriter], name: str, ending: str = "") -> Source:
    """A file of a side."""

    def save(side: Side, kind: str, folder: Path) -> Path:
        writer = write[kind] if isinstance(write, dict) else write
        path = folder / f"{kind}.{name}{ending}"
        path.write_bytes(PACKED[ending](writer(side)))
        return path

    return Source(save)


def sources_in_memory() -> dict[str, Source]:
    found = {f"a table: {name}": of_table(table) for name, table in TABLES.items()}
    found["a table: a structured array"] = of_table(lambda table, _: structured_array(table))
    found |= {f"records: {name}": of_table(table) for name, table in RECORDS.items()}
    for name, row in ROWS_WITH_VALUES.items():
        found[f"{name} by query"] = by_query(row)
        found[f"{name} in a list"] = in_list(row)
    for name, row in ROWS_OF_IDS.items():
        found[f"{name} by query"] = by_query(row, has_values=False)
        if name != "tuples of ids":  # which are rows of a table
            found[f"{name} in a list"] = in_list(row, has_values=False)
    for name, row in SETS_OF_IDS.items():
        found[f"{name} by query"] = by_query(row, has_values=False, kinds=("qrels",))
        found[f"{name} in a list"] = in_list(row, has_values=False, kinds=("qrels",))
    for name, make in COLUMNS_OF_IDS.items():
        row = ROWS_OF_IDS["lists of ids"]
        found[f"lists of ids: {name}"] = in_list(row, has_values=False, make=make)
    for name, objects in OBJECTS.items():
        found[f"objects: {name}"] = objects.source(lambda value, _: value)
    for name in ("responses in a list", "queries with hits", "names of its own"):
        found[f"a client's objects: {name}"] = OBJECTS[name].source(
            lambda value, _: in_objects(value)
        )
        found[f"a generator: {name}"] = OBJECTS[name].source(lambda value, _: iter(value))
    for name in IN_TABLES:
        for library, make in NESTED_TABLES.items():
            found[f"{library}: {name}"] = OBJECTS[name].source(make)
    return found


def sources_in_files() -> dict[str, Source]:
    found = {}
    for run, qrels in (("file.txt", "file.txt"), ("tagged.txt", "plain.txt")):
        writers = {"run": RUN_FILES[run], "qrels": QRELS_FILES[qrels]}
        for ending in PACKED:
            found[f"TREC: {run} and {qrels}{ending}"] = saved(writers, run, ending)
    for name, write in {**FILES, **ODD_FILES}.items():
        found[f"a file: {name}"] = saved(write, name)
    for name, ending in (("file.csv", ".gz"), ("file.jsonl", ".zst"), ("file.parquet", ".gz")):
        found[f"a file: {name}{ending}"] = saved(FILES[name], name, ending)
    for name, objects in {**JSON_ROWS, **OBJECTS}.items():
        found[f"JSON: {name}"] = objects.source(save_json)
        if name not in WHOLE_JSON:
            found[f"JSON Lines: {name}"] = objects.source(save_lines)
    return found


IN_MEMORY = sources_in_memory()
IN_FILES = sources_in_files()
SOURCES = {**IN_MEMORY, **IN_FILES}


# How they are compared

QUERY_OPTIONS: dict[str, Any] = {
    "k": [1, 3, None],
    "measures": ["nDCG", "DCG", "IDCG", "CG"],
    "gain": "exponential",
}
OPTIONS = {**QUERY_OPTIONS, "use_aggregator": False}
Values = dict[str, list[str]]  # every measure of every query, to the last bit


def in_hex(columns: dict[str, list[float]]) -> Values:
    return {name: [value.hex() for value in values] for name, values in columns.items()}


def values(metric: Any, **inputs: Any) -> Values:
    return in_hex(metric.compute(**{**OPTIONS, **inputs}))


def of_lists(metric: Any, scores: Any, relevances: Any, **options: Any) -> Values:
    return values(metric, predictions=scores, references=relevances, **options)
