"""One ranking problem in every form that people hold rankings in."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from sources import FILES as EITHER_SIDE
from sources import ODD_IDS as ODD_IDS
from sources import PACKED, Side
from sources import QRELS_FILES as QRELS
from sources import RUN_FILES as RUNS
from sources import SPELLINGS as SPELLINGS
from sources import as_arrow as as_arrow
from sources import as_json_lines as as_json_lines
from sources import as_lines as as_lines
from sources import as_parquet as as_parquet
from sources import as_trec as as_trec
from sources import mappings_and_files as mappings_and_files
from sources import records as records
from sources import written as written

# Quarters, which bfloat16 and float16 hold exactly; with ties and a query of nothing relevant.
SQUARE_SCORES = [[0.5, 2.25, 3.0, 2.25], [7.0, -1.25, 0.0, 7.0], [1.0, 1.0, 1.0, 1.0], [-3.5, 0.25, 8.0, 0.75]]
SQUARE_RELEVANCES = [[1, 2, 0, 0], [0, 3, 1, 1], [0, 0, 0, 0], [4, 0, 2, 1]]
# Ragged, with ties, documents not retrieved and documents not judged, a query with nothing relevant and one with
# nothing retrieved; no queries are empty: flat forms cannot hold these.
RAGGED_SCORES = [[0.5, None, 3.0, 2.25], [-1.25], [7.0, 7.0, 7.0, 0.0, 0.25], [None, 1.5], [1.0, 1.0], [None, None]]
RAGGED_RELEVANCES = [[1, 2, None, 1], [2], [0, 3, None, 1, 1], [3, 0], [0, None], [2, 1]]
WIDTH = 5
Rows = list[list[Any]]
Form = Callable[[Rows], Any]


class Late:
    """A library that is imported when a test uses it, which is skipped without it."""

    def __init__(self, name: str, at_least: str | None = None) -> None:
        self.name, self.at_least = name, at_least

    def __getattr__(self, name: str) -> Any:
        pytest.importorskip(self.name.partition(".")[0], minversion=self.at_least)
        return getattr(import_module(self.name), name)


torch, jnp, pl, duckdb = map(Late, ("torch", "jax.numpy", "polars", "duckdb"))
pd = Late("pandas", "3")


def filled(rows: Rows) -> Rows:
    """The rows with 0 for missing values."""
    return [[0 if value is None else value for value in row] for row in rows]


# --- By position -----------------------------------------------------------------------------------------------------


def torch_tensor(dtype: str, **how: Any) -> Form:
    return lambda rows: torch.tensor(rows, dtype=getattr(torch, dtype), **how)


def torch_with_gradient(rows: Rows) -> Any:
    return torch.tensor(rows, dtype=torch.float32, requires_grad=True) * 1


def jax_array(dtype: str) -> Form:
    return lambda rows: jnp.array(rows, getattr(jnp, dtype))


def row_by_row(form: Callable[[list[Any]], Any]) -> Form:
    return lambda rows: [form(row) for row in rows]


def arrow_chunks(rows: Rows) -> pa.ChunkedArray:
    return pa.chunked_array([rows[:1], [], rows[1:3], rows[3:]], pa.list_(pa.float64()))


def dataset(rows: list[Any]) -> datasets.Dataset:
    return datasets.Dataset.from_dict({"other": list(range(len(rows))), "values": rows})


def dataset_column_of_format(form: str) -> Form:
    def make(rows: Rows) -> Any:
        pytest.importorskip(form)
        return dataset(rows).with_format(form)["values"]

    return make


def polars_lists(rows: Rows) -> Any:
    return pl.Series("values", [[None if value is None else float(value) for value in row] for row in rows])


def pandas_lists(rows: Rows) -> Any:
    return pd.Series(rows, index=[f"row {number}" for number in range(len(rows), 0, -1)])


SQUARE_FORMS: dict[str, Form] = {
    "lists": lambda rows: rows,
    "NumPy": np.array,
    "NumPy float32": lambda rows: np.array(rows, np.float32),
    "NumPy float16": lambda rows: np.array(rows, np.float16),
    "NumPy transposed": lambda rows: np.asfortranarray(rows),
    "NumPy, read-only": lambda rows: np.frombuffer(np.array(rows, float).tobytes()).reshape(len(rows), -1),
    "NumPy objects": lambda rows: np.array(rows, object),
    "NumPy rows": lambda rows: [np.array(row) for row in rows],
    "NumPy numbers": lambda rows: [[np.float32(value) for value in row] for row in rows],
    "fractions": lambda rows: [[Fraction(value) for value in row] for row in rows],
    "lists and arrays": lambda rows: [rows[0], *map(np.array, rows[1:])],
    "something with __array__": lambda rows: type("Array", (), {"__array__": lambda *_, **__: np.array(rows)})(),
    "PyTorch float32": torch_tensor("float32"),
    "PyTorch float64": torch_tensor("float64"),
    "PyTorch bfloat16": torch_tensor("bfloat16"),
    "PyTorch float16": torch_tensor("float16"),
    "PyTorch with a gradient": torch_with_gradient,
    "PyTorch transposed": lambda rows: torch_tensor("float64")(rows).t().contiguous().t(),
    "PyTorch strided": lambda rows: torch_tensor("bfloat16")(rows).repeat_interleave(2, dim=1)[:, ::2],
    "PyTorch rows": row_by_row(torch_tensor("float32")),
    "PyTorch bfloat16 rows": row_by_row(torch_tensor("bfloat16")),
    "PyTorch rows with gradients": row_by_row(torch_tensor("float32", requires_grad=True)),
    "JAX float32": jax_array("float32"),
    "JAX bfloat16": jax_array("bfloat16"),
    "JAX rows": row_by_row(jax_array("float32")),
    "JAX bfloat16 rows": row_by_row(jax_array("bfloat16")),
    "Arrow fixed-size lists": lambda rows: pa.array(rows, pa.list_(pa.float32(), len(rows[0]))),
    "an Arrow slice of fixed-size lists": lambda rows: pa.array(
        [rows[-1], *rows, rows[0]], pa.list_(pa.float64(), len(rows[0]))
    )[1:-1],
    "a torch-formatted datasets column": dataset_column_of_format("torch"),
    "a NumPy-formatted datasets column": lambda rows: dataset(rows).with_format("numpy")["values"],
    "a JAX-formatted datasets column": dataset_column_of_format("jax"),
    "Polars arrays": lambda rows: pl.Series("values", rows, pl.Array(pl.Float32, len(rows[0]))),
}
RAGGED_FORMS: dict[str, Form] = {
    "lists": lambda rows: rows,
    "tuples": lambda rows: tuple(map(tuple, rows)),
    "masked NumPy, padded": lambda rows: np.ma.MaskedArray(
        [[*row, *[99] * (WIDTH - len(row))] for row in filled(rows)],
        [[*[value is None for value in row], *[True] * (WIDTH - len(row))] for row in rows],
    ),
    "masked NumPy rows": lambda rows: [
        np.ma.MaskedArray(full, [value is None for value in row]) for full, row in zip(filled(rows), rows, strict=True)
    ],
    "Arrow lists": lambda rows: pa.array(rows, pa.list_(pa.float64())),
    "Arrow large lists": lambda rows: pa.array(rows, pa.large_list(pa.float32())),
    "Arrow list views": lambda rows: pa.array(rows, pa.list_view(pa.float32())),
    "Arrow large list views": lambda rows: pa.array(rows, pa.large_list_view(pa.float64())),
    "Arrow chunks": arrow_chunks,
    "an Arrow table": lambda rows: pa.table({"values": arrow_chunks(rows)}),
    "a datasets column": lambda rows: dataset(rows)["values"],
    "a Polars-formatted datasets column": dataset_column_of_format("polars"),
    "an Arrow-formatted datasets column": lambda rows: dataset(rows).with_format("arrow")["values"],
    "a datasets column by indices": lambda rows: dataset([[99.0], *rows[::-1]]).select(range(len(rows), 0, -1))[
        "values"
    ],
    "a datasets column read": lambda rows: dataset(rows)["values"][:],
    "Polars lists": polars_lists,
    "a Polars table": lambda rows: polars_lists(rows).to_frame(),
    "Polars chunks": lambda rows: polars_lists(rows[:1]).append(polars_lists(rows[1:])),
    "pandas lists": pandas_lists,
    "pandas Arrow lists": lambda rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.list_(pa.float64()))),
    "a pandas table": lambda rows: pandas_lists(rows).to_frame("values"),
    "a DuckDB table": lambda rows: duckdb_ids(rows).to_arrow_table(),
}
# without anything missing, all of these hold the square problem, too
EVERY_FORM = {
    **RAGGED_FORMS,
    **SQUARE_FORMS,
    "pandas arrays": lambda rows: pd.Series([np.array(row, np.float64) for row in rows]),
    "masked NumPy, padded": lambda rows: np.ma.MaskedArray(rows, np.zeros(np.shape(rows))),
}
# these hold ragged rows without anything missing
ROWS_FORMS = ["NumPy rows", "PyTorch rows", "PyTorch bfloat16 rows", "JAX rows", "JAX bfloat16 rows", "pandas arrays"]


# --- Flat, with query_ids --------------------------------------------------------------------------------------------

# rows of the queries, which first occur in their order, are not next to each other
FLAT_ORDER = [(0, 0), (1, 0), (0, 1), (2, 0), (2, 1), (0, 2), (3, 0), (2, 2), (3, 1), (0, 3), (4, 0), (2, 3), (5, 0)]
FLAT_ORDER += [(2, 4), (5, 1), (4, 1)]
FLAT_SCORES = [RAGGED_SCORES[query][position] for query, position in FLAT_ORDER]
FLAT_RELEVANCES = [RAGGED_RELEVANCES[query][position] for query, position in FLAT_ORDER]
CODES = [[7, 3, 9, -2, 0, 5][query] for query, _ in FLAT_ORDER]
NAMES = [["query b", "a", "é", "", "b", "A"][query] for query, _ in FLAT_ORDER]

FlatForm = Callable[[list[Any]], Any]


def pandas_series(dtype: Any = None) -> FlatForm:
    return lambda ids: pd.Series(ids, index=range(len(ids), 0, -1), dtype=dtype)


def polars_series(dtype: str | None = None) -> FlatForm:
    return lambda ids: pl.Series("ids", ids, None if dtype is None else getattr(pl, dtype))


def duckdb_ids(ids: list[Any]) -> Any:
    table = pa.table({"row": range(len(ids)), "ids": ids})
    return duckdb.connect().from_arrow(table).order("row").project("ids")


ANY_IDS: dict[str, FlatForm] = {
    "a list": lambda ids: ids,
    "a tuple": tuple,
    "NumPy": np.array,
    "a NumPy object array": lambda ids: np.array(ids, object),
    "Arrow": pa.array,
    "Arrow chunks": lambda ids: pa.chunked_array([ids[:5], [], ids[5:]]),
    "Arrow dictionary": lambda ids: pa.array(ids).dictionary_encode(),
    "Arrow chunks of other dictionaries": lambda ids: pa.chunked_array(
        [pa.array(ids[:5]).dictionary_encode(), pa.array(ids[5:]).dictionary_encode()]
    ),
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
    **ANY_IDS,
    "NumPy int8": lambda ids: np.array(ids, np.int8),
    "PyTorch": lambda ids: torch.tensor(ids),
    "JAX": lambda ids: jnp.array(ids),
    "pandas nullable": pandas_series("Int64"),
    "Polars Int32": polars_series("Int32"),
}
STRING_IDS: dict[str, FlatForm] = {
    **ANY_IDS,
    "NumPy strings of the library's own": lambda ids: np.array(ids, np.dtypes.StringDType()),
    "Arrow large strings": lambda ids: pa.array(ids, pa.large_string()),
    "Arrow string views": lambda ids: pa.array(ids, pa.string_view()),
    "pandas strings": pandas_series("string"),
    "Polars categorical": polars_series("Categorical"),
    "Polars enum": lambda ids: pl.Series(ids, dtype=pl.Enum(sorted(set(ids)))),
}
FLAT_FORMS: dict[str, FlatForm] = {
    "a list": lambda flat: flat,
    "a tuple": tuple,
    "an object array": lambda flat: np.array(flat, object),
    "masked NumPy": lambda flat: np.ma.MaskedArray(filled([flat])[0], [value is None for value in flat]),
    "Arrow": lambda flat: pa.array(flat, pa.float64()),
    "Arrow chunks": lambda flat: pa.chunked_array([flat[:4], flat[4:]], pa.float32()),
    "a datasets column": lambda flat: dataset(flat)["values"],
    "pandas nullable": pandas_series("Float64"),
    "pandas Arrow": lambda flat: pandas_series("double[pyarrow]")(flat),
    "Polars": lambda flat: polars_series("Float64")(flat),
    "a Polars table": lambda flat: polars_series("Float32")(flat).to_frame(),
    "a DuckDB table": lambda flat: duckdb_ids(flat).to_arrow_table(),
}
FULL_FLAT_FORMS: dict[str, FlatForm] = {
    **FLAT_FORMS,
    "NumPy": np.array,
    "NumPy float16": lambda flat: np.array(flat, np.float16),
    "PyTorch bfloat16": lambda flat: torch_tensor("bfloat16")(flat),
    "PyTorch float16": lambda flat: torch_tensor("float16")(flat),
    "PyTorch with a gradient": torch_with_gradient,
    "JAX float32": lambda flat: jax_array("float32")(flat),
    "JAX bfloat16": lambda flat: jax_array("bfloat16")(flat),
    "pandas": pandas_series(),
}


# --- By ids ----------------------------------------------------------------------------------------------------------


def by_ids(rows: Rows) -> Side:
    """The rows as a mapping without missing values."""
    return {
        f"q{query}": {f"d{position}": value for position, value in enumerate(row) if value is not None}
        for query, row in enumerate(rows)
    }


# --- Frames with named columns ---------------------------------------------------------------------------------------

Frame = Callable[[pa.Table, Path], Any]
COLUMNS = {"predictions": "score", "references": "label", "query_ids": "user", "document_ids": "item"}


def flat_table() -> pa.Table:
    """The flat rows, with the ids of their queries and documents."""
    columns = {
        "user": [f"q{query}" for query, _ in FLAT_ORDER],
        "item": [f"d{position}" for _, position in FLAT_ORDER],
        "score": FLAT_SCORES,
        "label": FLAT_RELEVANCES,
    }
    return pa.table(columns)


def polars_lazy(table: pa.Table, _: Path) -> Any:
    return pl.from_arrow(table).lazy()


def duckdb_relation(table: pa.Table) -> Any:
    return duckdb.from_arrow(table)


def parquet_files(table: pa.Table, folder: Path) -> Any:
    """A dataset of two Parquet files."""
    half = len(table) // 2
    for part, rows in enumerate((table[:half], table[half:])):
        pa.parquet.write_table(rows, folder / f"{part}.parquet")
    return pa.dataset.dataset(folder)


FRAMES: dict[str, Frame] = {
    "pandas": lambda table, _: table.to_pandas(),
    "pandas with an index": lambda table, _: table.to_pandas().set_axis(range(len(table), 0, -1)),
    "Polars": lambda table, folder: polars_lazy(table, folder).collect(),
    "Polars, lazy": polars_lazy,
    "Arrow": lambda table, _: table,
    "Arrow, a batch": lambda table, _: pa.record_batch([each.combine_chunks() for each in table], table.schema),
    "Arrow, a reader": lambda table, _: table.to_reader(),
    "Arrow, files": parquet_files,
    "DuckDB": lambda table, _: duckdb_relation(table),
    "DuckDB, a query": lambda table, _: duckdb_relation(table).filter("1 = 1"),
    "datasets": lambda table, _: datasets.Dataset(table),
    "datasets, as pandas": lambda table, _: datasets.Dataset(table).with_format("pandas"),
    "a mapping": lambda table, _: table.to_pydict(),
}


# --- How they are compared ------------------------------------------------------------------------------------------

QUERY_OPTIONS: dict[str, Any] = {"k": [1, 3, None], "measures": ["nDCG", "DCG", "IDCG", "CG"], "gain": "exponential"}
OPTIONS = {**QUERY_OPTIONS, "use_aggregator": False}
Values = dict[str, list[str]]  # every measure of every query, to the last bit


def values(metric: evaluate.Metric, **inputs: Any) -> Values:
    return in_hex(metric.compute(**{**OPTIONS, **inputs}))


def in_hex(columns: dict[str, list[float]]) -> Values:
    return {name: [value.hex() for value in each] for name, each in columns.items()}


def of_lists(metric: evaluate.Metric, scores: Rows, relevances: Rows, **options: Any) -> Values:
    return values(metric, predictions=scores, references=relevances, **options)


# --- Every form ------------------------------------------------------------------------------------------------------

Inputs = dict[str, Any]  # as `compute` takes them


def by_position(form: Form) -> Callable[[Path], Inputs]:
    return lambda _: {"predictions": form(RAGGED_SCORES), "references": form(RAGGED_RELEVANCES)}


def flat_columns(form: FlatForm) -> Callable[[Path], Inputs]:
    return lambda _: {"predictions": form(FLAT_SCORES), "references": form(FLAT_RELEVANCES), "query_ids": NAMES}


def named_columns(form: Frame) -> Callable[[Path], Inputs]:
    return lambda folder: {"data": form(flat_table(), folder), **COLUMNS}


def mappings(_: Path) -> Inputs:
    return {"predictions": by_ids(RAGGED_SCORES), "references": by_ids(RAGGED_RELEVANCES)}


def ids_by_query(_: Path) -> Inputs:
    """Ids of documents, best first, and sets of them; tied and graded documents are in mappings."""
    found = mappings(_)
    for query, scores in found["predictions"].items():
        if len(set(scores.values())) == len(scores):
            found["predictions"][query] = sorted(scores, key=scores.__getitem__, reverse=True)
    for query, relevances in found["references"].items():
        if set(relevances.values()) == {1}:
            found["references"][query] = set(relevances)
    return found


def files(run: str, qrels: str, packed: str) -> Callable[[Path], Inputs]:
    def write(folder: Path) -> Inputs:
        sides = mappings(folder)
        paths = {"predictions": folder / f"run.{run}{packed}", "references": folder / f"qrels.{qrels}{packed}"}
        for name, forms, form in (("predictions", RUNS, run), ("references", QRELS, qrels)):
            paths[name].write_bytes(PACKED[packed]({**EITHER_SIDE, **forms}[form](sides[name])))
        return dict(paths)

    return write


def every_form() -> Iterator[tuple[str, Callable[[Path], Inputs]]]:
    """Each form by its name: a function that makes the ragged problem, in a folder if the form is files."""
    yield from ((f"by position: {name}", by_position(form)) for name, form in RAGGED_FORMS.items())
    yield from ((f"flat: {name}", flat_columns(form)) for name, form in FLAT_FORMS.items())
    yield from ((f"data: {name}", named_columns(form)) for name, form in FRAMES.items())
    yield "mappings", mappings
    yield "ids by query", ids_by_query
    pairs = [("file.txt", "file.txt"), ("file.txt", "plain.txt"), *((form, form) for form in EITHER_SIDE)]
    for run, qrels in pairs:
        yield from ((f"{run} and {qrels}{packed}", files(run, qrels, packed)) for packed in PACKED)


EVERY_INPUT = dict(every_form())
