"""Convert values from any library to lists, and to NumPy and Arrow arrays.

Columns and tensors are converted by the first of several methods that their library has. Columns are taken by name
from pandas and Polars DataFrames, Arrow tables, DuckDB relations, Hugging Face Datasets and mappings of columns. A lazy
frame or a database query runs once for all columns, so that their rows match.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.messages import InputError, in_short, nearest, raise_unless_of_values, shown
from .fields import LOWEST_FIRST, plain_name

ARROW = (pa.Array, pa.ChunkedArray)
DATABASES = ("chdb", "daft", "datafusion", "duckdb", "ibis", "pyspark", "sqlframe")
HINT = (
    "give a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation, a Hugging Face Dataset, a dict of "
    "columns, or records"
)


# Columns and tensors


def settled(**arguments: Any) -> list[Any]:
    """Convert tensors and columns of other libraries with ``plain``, each only once."""
    foreign = {name: values for name, values in arguments.items() if not _is_plain(values)}
    if not foreign:
        return list(arguments.values())
    queries = {id(values): name for name, values in foreign.items() if is_database_query(values)}
    if len(queries) > 1:
        first, second, *_ = queries.values()
        raise ValueError(
            f"{second}: is a separate database query ({type(arguments[second]).__name__}), as {first} is, and the rows "
            "of two queries come in no common order; give both as columns of one: "
            "data=relation, predictions='score', references='relevance'"
        )
    indexes = {name: values.index for name, values in foreign.items() if _has_index(values)}
    for name, index in indexes.items():
        first = next(iter(indexes))
        if index is not indexes[first] and not index.equals(indexes[first]):
            raise ValueError(
                f"{name}: its index differs from the index of {first}, and rows are matched by position, not by index; "
                "join both tables by query and document first, or give .to_numpy() of each if their order is right"
            )
    converted_by_id: dict[int, Any] = {}
    for name, values in foreign.items():
        if id(values) not in converted_by_id:
            converted_by_id[id(values)] = plain(name, values)
    return [converted_by_id.get(id(values), values) for values in arguments.values()]


def _is_plain(values: Any) -> bool:
    """Return whether a value is a list, a dict, None or a NumPy array, which need no conversion."""
    kind = type(values)
    return kind in (NoneType, list, tuple, dict) or (kind is np.ndarray and values.dtype.names is None)


def is_database_query(values: Any) -> bool:
    """Return whether reading a value runs or consumes a query, so that its rows have no fixed order."""
    runs = _library(values).lstrip("_") in DATABASES and hasattr(values, "__arrow_c_stream__")
    return runs or isinstance(values, pa.RecordBatchReader)


def _library(values: Any) -> str:
    """Return the name of the library that defines the type of a value."""
    return type(values).__module__.partition(".")[0]


def is_sparse(values: Any) -> bool:
    """Return whether it is a sparse matrix or array of SciPy."""
    return hasattr(values, "tocsr") and _library(values) == "scipy"


def _rows_of_sparse(values: Any) -> Any:
    """Return a sparse matrix by rows, with the columns of each ascending and distinct; its own copy if need be."""
    if values.ndim != 2:
        raise ValueError(f"{values.ndim}-D; its rows must be queries, and its columns documents")
    rows = values.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _has_index(values: Any) -> bool:
    """Return whether the rows of a value have an index, as in pandas."""
    return _library(values) == "pandas" and hasattr(getattr(values, "index", None), "equals")


def has_labels(values: Any) -> bool:
    """Return whether the rows of a value have an index that does not merely count them, as in pandas."""
    return _has_index(values) and type(values.index).__name__ != "RangeIndex"


def check_order(argument: str, values: Any, queries: Any, hint: str) -> None:
    """Raise an error for a pandas column with a value for each query, whose index has the queries in another order."""
    if queries is None or not has_labels(values):
        return
    ids = queries.to_pylist() if isinstance(queries, ARROW) else queries
    labels, ids = list(map(str, values.index)), list(map(str, ids))
    if labels != ids and 2 * len(set(labels) & set(ids)) > len(labels):
        problem = "its index has other queries, or in another order, and values are matched by position, not by index"
        raise InputError(f"{problem}; {hint}", argument)


def plain(argument: str, values: Any) -> Any:
    """Convert a tensor or a column of another library to a NumPy or Arrow array; return other values unchanged."""
    if isinstance(values, (list, tuple)):
        return values
    try:
        array = converted(values)
    except BaseException as error:  # any error of its library gives the reason
        raise_unless_of_values(error)
        problem = f"{type(values).__name__} cannot be read: {in_short(error)}"
        raise InputError(f"{problem}; give lists, a dense NumPy array or an Arrow column", argument) from error
    if isinstance(kind := getattr(array, "type", None), pa.BaseExtensionType):
        raise InputError(f"holds values of the type {kind}; give numbers, or ids as text", argument)
    if names := _field_names(array):
        raise table_error(argument, names)
    return array


def table_error(argument: str, names: Collection[Any]) -> ValueError:
    """Return the error for a table that was passed as a column or as rankings; it names the table's columns."""
    return InputError(
        f"must be one column; got a table of columns {shown(list(names))}. If each row is a document, join "
        "both sides into one table by query and document and give its columns: predictions, references, "
        "query_ids and document_ids. If each row is a query, give its column of lists",
        argument,
    )


def plain_in_order(argument: str, values: Any) -> Any:
    """Convert values, one for each query in the order of the queries, as ``plain`` does; a database has no order."""
    if is_database_query(values):
        kind = type(values).__name__
        problem = "so its rows may come in another order than the queries; give a column of the table with the rankings"
        raise InputError(f"is a separate database query ({kind}), {problem}", argument)
    return plain(argument, values)


def converted(values: Any) -> Any:
    """Return values as an array, by the first method that their library has, without importing a library.

    A sparse matrix of SciPy stays sparse.
    """
    if is_sparse(values):
        return _rows_of_sparse(values)
    if isinstance(values, (np.ndarray, *ARROW, Mapping)):
        return values
    if _library(values) == "torch" and hasattr(values, "detach"):
        return _from_torch(values)
    if _library(values) == "cupy" and hasattr(values, "get"):
        return values.get()  # a copy to the host, which CuPy never makes by itself
    if hasattr(values, "column_names") and hasattr(values, "with_format"):  # a Dataset
        return converted(values[values.column_names[0]]) if len(values.column_names) == 1 else values
    if hasattr(values, "column_name") and hasattr(values, "__len__"):  # a column of a Hugging Face Dataset
        source = values.source
        if hasattr(source, "format") and source.format["type"] in (None, "arrow"):
            return type(values)(source.with_format("arrow"), values.column_name)[:]
        return converted(values[:])
    if hasattr(values, "__arrow_c_stream__"):
        if (rows := _masked_rows(values)) is not None:
            return rows
        try:
            return _only_column(pa.chunked_array(values))
        except Exception:
            if getattr(values, "ndim", None) != 1:
                raise
            return np.asarray(values)  # a column that Arrow cannot hold, such as a sparse one or one of mixed objects
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if _has_index(values) and values.ndim == 1 and values.dtype.kind == "f":
        return pa.array(values, from_pandas=True)  # NaN is a missing value, as in newer pandas
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return values


def _from_torch(tensor: Any) -> Any:
    """Return a PyTorch tensor as a NumPy array, copied from the accelerator; a nested one as a list of tensors."""
    if tensor.is_nested:
        return list(tensor.unbind())
    if not tensor.dtype.is_floating_point or str(tensor.dtype) in ("torch.float16", "torch.float32", "torch.float64"):
        return tensor.numpy(force=True)
    widened, like = tensor.float().numpy(force=True).view(Widened), tensor.new_empty(0)
    widened.rounded = lambda number: float(like.new_tensor(float(number)))
    return widened


class Widened(np.ndarray[Any, Any]):
    """Values of a float type that NumPy lacks, as float32, with a function that rounds to the original type."""

    rounded: Callable[[float], float] = float

    def __array_finalize__(self, source: Any) -> None:
        self.rounded = getattr(source, "rounded", float)


def _masked_rows(values: Any) -> list[Any] | None:
    """Return the rows of a column of objects, if some are masked arrays, because Arrow ignores masks."""
    if getattr(values, "ndim", None) == 2 and values.shape[1] == 1 and hasattr(values, "iloc"):
        values = values.iloc[:, 0]
    if str(getattr(values, "dtype", None)).lower() != "object":
        return None
    if isinstance(next(iter(values), None), (str, int)):  # ids; looking at each takes long
        return None
    rows = list(values)
    return rows if any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, rows))) else None


def _field_names(values: Any) -> list[str]:
    """Return the names of the columns of a table; none for anything else."""
    if isinstance(values, ARROW) and pa.types.is_struct(values.type):
        return [field.name for field in values.type]
    if isinstance(values, np.ndarray):
        return list(values.dtype.names or ())
    return list(values.column_names or ()) if hasattr(values, "with_format") else []


def _only_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column of a table with a single column, not counting the pandas index."""
    if not pa.types.is_struct(column.type):
        return column
    fields = [at for at, field in enumerate(column.type) if not field.name.startswith("__index_level_")]
    if len(fields) != 1:
        return column
    return pa.chunked_array([chunk.flatten()[fields[0]] for chunk in column.chunks], column.type.field(fields[0]).type)


# DataFrames


def named_columns(data: Any, called: str = "data", **arguments: Any) -> list[Any]:
    """Return arguments, with names of columns replaced by the columns of a DataFrame, if there is one.

    Values that are not names are returned unchanged; `called` is the name of the DataFrame in messages.
    """
    if data is None:
        return list(arguments.values())
    names = {argument: name for argument, name in arguments.items() if isinstance(name, str)}
    frame = _rereadable(data, called, set(names.values()))
    columns = list(frame) if isinstance(frame, Mapping) else _names_in(frame)
    missing = {argument: name for argument, name in names.items() if name not in columns}
    if missing:
        near = [nearest(name, [each for each in columns if isinstance(each, str)]) for name in missing.values()]
        hint = "; did you mean " + ", ".join(f'"{each}"' for each in near if each) + "?" if any(near) else ""
        lacks = f"column{'s' * (len(missing) > 1)} {', '.join(map(shown, missing.values()))}"
        raise ValueError(f"{', '.join(missing)}: {called} has no {lacks}; it has {_listed(columns)}{hint}")
    for argument, name in names.items():
        if columns.count(name) > 1:
            raise InputError(f"{called} has several columns {shown(name)}; give them names of their own", argument)
    if not names:
        hint = "give predictions and references as their names, which must be text"
        raise ValueError(f"{called}: no argument names one of its columns, which are {_listed(columns)}; {hint}")
    return [_with_name(frame[given], given) if argument in names else given for argument, given in arguments.items()]


def _with_name(column: Any, name: str) -> Any:
    """Return a column; one that is best where it is lowest with its name, in a table, so that it is no score."""
    if plain_name(name) not in LOWEST_FIRST or name_of_column(column) == name:
        return column
    with suppress(pa.ArrowException, ValueError):
        return pa.table({name: plain(name, column)})
    return column


def name_of_column(values: Any) -> Any:
    """Return the name of a column of a DataFrame, or of a table of one column; None for other values."""
    names = _names_in(values)
    return names[0] if len(names) == 1 else getattr(values, "name", getattr(values, "column_name", None))


def table_names(values: Any) -> list[Any] | None:
    """Return the names of the columns of a table; None for other values and for a single column.

    >>> table_names(pa.table({"qid": ["q"], "docno": ["d"]})), table_names([[0.5]])
    (['qid', 'docno'], None)
    """
    names = _names_in(values)
    return names if len(names) > 1 else None


def _names_in(values: Any) -> list[Any]:
    """Return the names of the columns of a table; none for other values."""
    if isinstance(values, (NoneType, list, tuple, Mapping, str)):
        return []
    if isinstance(values, (np.ndarray, *ARROW)):
        names: Any = _field_names(values)
    elif hasattr(values, "collect_schema"):  # a LazyFrame
        names = values.collect_schema().names()
    elif isinstance(values, (pa.RecordBatchReader, pa.RecordBatch)) or _library(values) == "pyarrow":
        names = values.schema.names if hasattr(values, "schema") else None
    else:
        names = getattr(values, "column_names", None) or getattr(values, "columns", None)
    return [] if names is None or callable(names) else list(names)


def record_names(record: Any) -> list[str]:
    """Return the names of the fields of a record: a dict, a named tuple, a row of a database, or an object."""
    if isinstance(record, Mapping):
        return [name for name in record if isinstance(name, str)]
    if isinstance(record, tuple):
        return list(getattr(record, "_fields", ()))
    if is_dataclass(record) and not isinstance(record, type):
        return [field.name for field in fields(record)]
    if hasattr(record, "__array__"):
        return []
    if hasattr(record, "keys") and hasattr(record, "__getitem__"):  # a row of sqlite3 and others
        return list(record.keys())
    return list(getattr(record, "__dict__", ()))


def record_values(argument: str, records: Sequence[Any], name: str) -> list[Any]:
    """Return a field of all records."""
    has_items = isinstance(records[0], Mapping) or hasattr(records[0], "keys")
    with suppress(KeyError, AttributeError, TypeError, IndexError):
        return [record[name] for record in records] if has_items else [getattr(record, name) for record in records]
    for row, record in enumerate(records):
        if name not in record_names(record):
            has = shown(record_names(record) or record)
            raise InputError(f"record {row} has no {name!r}, which the first one has; it has {has}", argument)
    raise InputError("records differ in type; give all as dicts, or all as named tuples", argument)


def refuse_splits(argument: str, data: Any) -> None:
    """Raise an error for a DatasetDict, which has a table for each split."""
    if type(data).__name__ in ("DatasetDict", "IterableDatasetDict"):
        splits = ", ".join(map(shown, data))
        hint = f"choose a split, such as dataset[{shown(next(iter(data), 'test'))}]"
        raise InputError(f"is a {type(data).__name__} of {splits}; {hint}", argument)


def is_spark(data: Any) -> bool:
    """Return whether a value is a Spark DataFrame, classic or Connect."""
    return hasattr(data, "mapInArrow") and _library(data) == "pyspark"


def _rereadable(data: Any, called: str, names: Collection[str]) -> Any:
    """Return a DataFrame from which columns can be taken by name repeatedly."""
    refuse_splits(called, data)
    library = _library(data)
    data = list(data) if isinstance(data, Iterator) and not is_database_query(data) else data
    if isinstance(data, (list, tuple)) and data and (fields_of_first := record_names(data[0])):
        return {name: record_values(called, data, name) for name in fields_of_first}
    if is_spark(data):
        raise ValueError(f"{called}: only compute scores a Spark DataFrame; give its rows, {called}=frame.toArrow()")
    if isinstance(data, (Mapping, pa.Table, pa.RecordBatch)):
        return data
    if isinstance(data, np.ndarray) and data.dtype.names:
        return {name: data[name] for name in data.dtype.names}
    if isinstance(data, ARROW) and pa.types.is_struct(data.type):
        return pa.Table.from_struct_array(data)
    if library == "polars" and hasattr(data, "collect"):  # a LazyFrame
        known = data.collect_schema().names()
        return (data.select(list(names)) if names and set(names) <= set(known) else data.limit(0)).collect()
    if library == "pyarrow" and hasattr(data, "to_table"):  # a dataset in files
        known = data.schema.names
        once = names and all(known.count(name) == 1 for name in names)
        return data.to_table(columns=list(names)) if once else data.schema.empty_table()
    if is_database_query(data):
        return pa.table(data)
    if isinstance(data, str) or not (hasattr(data, "columns") or hasattr(data, "column_names")):
        raise ValueError(f"{called} must be a DataFrame with named columns; got {shown(data)}; {HINT}")
    if not hasattr(data, "__len__"):
        raise ValueError(f"{called}: {type(data).__name__} has no rows that can be counted; {HINT}")
    return data


def _listed(columns: list[Any]) -> str:
    """Return the first names of columns, as many as fit into a message."""
    return ", ".join(map(shown, columns[:20])) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")
