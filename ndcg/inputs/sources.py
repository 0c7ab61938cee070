"""Convert values from any library to lists, and to NumPy and Arrow arrays.

Columns and tensors are converted by the first of several methods that their library has.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.messages import InputError, in_short, mark, raise_unless_of_values, shown

ARROW = (pa.Array, pa.ChunkedArray)
DATABASES = ("chdb", "daft", "datafusion", "duckdb", "ibis", "pyspark", "sqlframe")
ROWS_LOOKED_AT = 1 << 10  # rows and objects that are looked at before all are read
TORCH_FLOATS_OF_NUMPY = ("torch.float16", "torch.float32", "torch.float64")


def settled(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments, with tensors and columns of other libraries converted with ``plain``."""
    refuse_other_orders(arguments)
    return {name: plain(name, values) for name, values in arguments.items()}


def refuse_other_orders(arguments: Mapping[str, Any]) -> None:
    """Raise an error for values matched by position whose rows have no common order."""
    _refuse_separate_queries(arguments)
    _refuse_other_index(arguments)


def _refuse_separate_queries(arguments: Mapping[str, Any]) -> None:
    """Raise an error for two database queries, whose rows have no common order."""
    queries = [name for name, values in arguments.items() if is_database_query(values)]
    for name in queries[1:]:
        raise _separate_query(name, arguments[name])


def _separate_query(argument: str, query: Any) -> InputError:
    kind = type(query).__name__
    problem = f"is a separate database query ({kind}), so its rows may come in another order"
    hint = "run one query for all, and give the columns of its table"
    return InputError(f"{problem} than others; {hint}", argument)


def _refuse_other_index(arguments: Mapping[str, Any]) -> None:
    """Raise an error for a column of pandas whose index differs from that of the first."""
    indexes = {name: values.index for name, values in arguments.items() if _has_index(values)}
    for name, index in indexes.items():
        first = next(iter(indexes))
        if not index.equals(indexes[first]):
            problem = f"its index differs from the index of {first}, and rows are matched by place"
            in_order = "give .to_numpy() of each only if their rows are in the same order"
            hint = f"outer-join both tables by query and document; {in_order}"
            if isinstance(next(iter(arguments[name]), None), (list, tuple, Set, np.ndarray)):
                numbers = f"for lists of numbers {name}.reindex({first}.index)"
                hint = f"if it has the queries, give .to_dict() of each, {numbers}; {in_order}"
            raise InputError(f"{problem}; {hint}", name)


def is_database_query(values: Any) -> bool:
    """Return whether reading a value runs or consumes a query, whose rows have no fixed order."""
    if isinstance(values, pa.RecordBatchReader):
        return True
    return library_of(values).lstrip("_") in DATABASES and hasattr(values, "__arrow_c_stream__")


def library_of(values: Any) -> str:
    """Return the name of the library that defines the type of a value."""
    return type(values).__module__.partition(".")[0]


def is_spark(values: Any) -> bool:
    """Return whether a value is a Spark DataFrame, classic or Connect."""
    return hasattr(values, "mapInArrow") and library_of(values) == "pyspark"


def listed(side: Any) -> Any:
    """Return a generator as a list; other values unchanged."""
    if isinstance(side, Iterator) and not isinstance(side, (io.IOBase, pa.RecordBatchReader)):
        return list(side)
    return side


def is_sparse(values: Any) -> bool:
    """Return whether it is a sparse matrix or array of SciPy."""
    return hasattr(values, "tocsr") and library_of(values) == "scipy"


def is_by_index(row: Any, by_position: bool = False) -> bool:
    """Return whether a query's documents are a Series of numbers by ids, and not a list.

    Integers are ids if queries have ids too; by position they are the numbers of rows of a table.
    """
    kind = getattr(getattr(row, "dtype", None), "kind", "O")
    if not _has_index(row) or kind not in "iufb":
        return False
    if row.index.dtype.kind not in "iu":
        return True
    # A Series without ids has the index 0, 1, 2, ...
    return not by_position and row.index[:2].tolist() != [0, 1]


def mapping_by_index(argument: str, row: Any) -> dict[Any, Any]:
    """Return a Series as a mapping of its index.

    Raises:
        InputError: both are integers, of which either could be the ids; an id is there twice.
    """
    if {row.dtype.kind, row.index.dtype.kind} <= {"i", "u"}:
        problem = f"holds integers by integers, such as {shown(row.head(2).to_dict())}"
        hint = (
            "give .tolist() of each if the values are ids, or .to_dict() if the index has the ids"
        )
        raise InputError(f"{problem}; {hint}", argument)
    _refuse_repeated_ids(argument, row.index)
    return dict(row.to_dict())


def _refuse_repeated_ids(argument: str, index: Any) -> None:
    """Raise an error for an id that an index of pandas has twice."""
    if not index.is_unique:
        again = index[index.duplicated()].tolist()[0]
        raise InputError(f"its index has {shown(again)} twice; give each id once", argument)


def is_lazy(table: Any) -> bool:
    """Return whether a table is a LazyFrame of Polars."""
    return hasattr(table, "collect_schema") and hasattr(table, "collect")


def name_of_column(column: Any) -> Any:
    """Return the name of a column of a DataFrame, or of its only one; None for other values."""
    name = getattr(column, "name", getattr(column, "column_name", None))
    if name is not None or is_lazy(column):  # whose names may take long
        return name
    names = names_of_columns(column)
    return names[0] if len(names) == 1 else None


def names_of_columns(table: Any) -> list[Any]:
    """Return the names of columns, or of the fields of a structured array, if it has any."""
    in_array = getattr(getattr(table, "dtype", None), "names", None)
    names = getattr(table, "column_names", getattr(table, "columns", in_array))
    if names is None:  # usually, and much faster
        return []
    return list(names) if isinstance(names, Iterable) else []


def are_lists(side: Any) -> bool:
    """Return whether a side is a list per query, in any container.

    >>> are_lists([[1, 0], []]), are_lists(np.zeros((2, 3))), are_lists([1, 0]), are_lists(None)
    (True, True, False, False)
    """
    if isinstance(side, ARROW):
        return bool(pa.types.is_nested(side.type))
    if isinstance(side, np.ndarray) and side.dtype.kind != "O":
        return side.ndim == 2
    is_list = isinstance(side, (list, tuple, np.ndarray))
    return is_list and (len(side) == 0 or any(map(_is_row, side)))


def is_one_column(side: Any) -> bool:
    """Return whether a side is an array with one value per row, of a head with one logit."""
    return bool(getattr(side, "shape", ())[1:] == (1,))


def _is_row(value: Any) -> bool:
    """Return whether a value is a list or an array, but not a number in an array."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, (list, tuple, *ARROW))


def _rows_of_sparse(values: Any) -> Any:
    """Return a sparse matrix by rows, with the columns of a row ascending and distinct."""
    if values.ndim != 2:
        raise ValueError(f"{values.ndim}-D; its rows must be queries, and its columns documents")
    rows = values.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()  # since `tocsr` returns the same matrix if it has this format
        rows.sum_duplicates()
    return rows


def _has_index(values: Any) -> bool:
    """Return whether the rows of a value have an index, as in pandas."""
    return library_of(values) == "pandas" and hasattr(getattr(values, "index", None), "equals")


def values_by_query(argument: str, values: Any, sides: Iterable[Any]) -> Any:
    """Return a pandas column with a value per query by the ids in its index.

    Other values are returned unchanged. An index that only counts the rows has no ids, nor has the
    index of a side, whose rows are the queries too: their values are in the order of the queries.

    >>> values_by_query("by", ["en", "de"], [])
    ['en', 'de']

    Raises:
        ValueError: an id is in the index twice.
    """
    if not _has_index(values):
        return values
    ids = values.index.tolist()
    # Without ids, pandas numbers the rows.
    if ids == list(range(len(ids))):
        return values
    if any(values.index.equals(getattr(side, "index", None)) for side in sides):
        return values
    _refuse_repeated_ids(argument, values.index)
    return dict(zip(ids, in_python(plain(argument, values)), strict=True))


def plain(argument: str, values: Any) -> Any:
    """Convert a tensor or a column of another library to a NumPy or Arrow array.

    Other values are returned unchanged.
    """
    if isinstance(values, (list, tuple, NoneType)):
        return values
    try:
        array = converted(values)
    except BaseException as error:  # any error of its library gives the reason
        raise_unless_of_values(error)
        problem = f"{type(values).__name__} cannot be read: {in_short(error)}"
        hint = "give lists, a dense NumPy array or an Arrow column"
        raise InputError(f"{problem}; {hint}", argument) from error
    kind = getattr(array, "type", getattr(array, "dtype", array))
    if isinstance(kind, pa.BaseExtensionType):
        raise InputError(f"holds values of the type {kind}; give numbers, or ids as text", argument)
    # A structure has the names of fields, and a Dataset those of columns, if it knows them.
    names = getattr(kind, "names", names_of_columns(kind))
    if names:
        ids = f"{mark('query_ids')} and {mark('document_ids')}"
        raise InputError(
            f"must be one column; got a table of columns {shown(list(names))}. If each row is a "
            "document, outer-join both sides by query and document and give the columns: "
            f"predictions, references, {ids}. If each row is a query, give its column of lists. "
            "If the ids are in the index, reset_index() makes columns of them",
            argument,
        )
    return array


def in_python(values: Any) -> Any:
    """Return an array or an Arrow column as a list of Python's values; others unchanged."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    if isinstance(values, ARROW):
        return values.to_pylist()
    return values


def as_python(value: Any) -> Any:
    """Return a value, or an array in a cell, as Python's, if its library can convert it."""
    for method in ("as_py", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()
    return value


def plain_in_order(argument: str, values: Any) -> Any:
    """Convert values, one per query in the order of the queries, as ``plain`` does.

    A database query has no order, so it is refused.
    """
    if is_database_query(values):
        raise _separate_query(argument, values)
    return plain(argument, values)


def converted(values: Any) -> Any:
    """Return values as an array, by a method of their library, or by a protocol that it supports.

    No library is imported for it. A sparse matrix of SciPy stays sparse.
    """
    # From the particular to the general: most libraries also have `__array__`, and a sparse matrix
    # may be a mapping.
    if is_sparse(values):
        return _rows_of_sparse(values)
    if isinstance(values, (np.ndarray, *ARROW, Mapping)):
        return values
    library = library_of(values)
    names = names_of_columns(values)
    if len(names) == 1 and library in ("pandas", "datasets"):
        return converted(values[names[0]])
    if library == "torch":
        return _from_torch(values)
    if library == "cupy":
        return values.get()  # a copy to the host, which CuPy never makes by itself
    if hasattr(values, "column_name"):
        return _from_column_of_dataset(values)
    return _by_protocol(values)


def _by_protocol(values: Any) -> Any:
    """Return values as an array, by the protocol that tells most; unchanged if they have none."""
    if hasattr(values, "__arrow_c_stream__"):
        return _from_stream(values)
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if _has_index(values) and values.dtype.kind == "f":
        return pa.array(values, from_pandas=True)  # NaN is a missing value, as in newer pandas
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return values


def _from_torch(tensor: Any) -> Any:
    """Return a PyTorch tensor as a NumPy array, copied from the accelerator.

    A nested tensor is a list of tensors.
    """
    if tensor.is_nested:
        return list(tensor.unbind())
    if not tensor.dtype.is_floating_point or str(tensor.dtype) in TORCH_FLOATS_OF_NUMPY:
        return tensor.numpy(force=True)
    widened = tensor.float().numpy(force=True).view(Widened)
    empty = tensor.new_empty(0)  # of the same type, without the memory of the values
    widened.rounded = lambda number: float(empty.new_tensor(float(number)))
    return widened


class Widened(np.ndarray[Any, Any]):
    """Values of a float type that NumPy lacks, as float32.

    `rounded` rounds a number to the original type.
    """

    rounded: Callable[[float], float] = float

    def __array_finalize__(self, source: Any) -> None:
        self.rounded = getattr(source, "rounded", float)


def _from_column_of_dataset(column: Any) -> Any:
    source = column.source
    if getattr(source, "format", {"type": "of a stream"})["type"] in (None, "arrow"):
        return type(column)(source.with_format("arrow"), column.column_name)[:]
    return converted(column[:])


def _from_stream(values: Any) -> Any:
    are_objects = str(getattr(values, "dtype", None)).lower() == "object"
    # Arrow ignores masks.
    if are_objects and np.ma.MaskedArray in set(map(type, values)):
        return list(values)
    try:
        return _only_column(pa.chunked_array(values))
    except Exception:
        if getattr(values, "ndim", None) != 1:
            raise
        # Arrow cannot hold it: it is sparse, or one of mixed objects.
        return np.asarray(values)


def _only_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column of a table with a single column."""
    if pa.types.is_struct(column.type) and column.type.num_fields == 1:
        return column.flatten()[0]
    return column
