"""Read whatever has columns with names: DataFrames, tables, databases, Datasets, dicts of columns, and records.

A lazy frame or a database query runs once for all columns, so that their rows match.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, partial
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..measure.messages import InputError, nearest, shown
from .fields import LOWEST_FIRST, plain_name
from .objects import field_names
from .sources import ARROW, is_database_query, is_spark, library_of, listed, plain

HINT = (
    "give a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation, a Hugging Face Dataset, a dict of "
    "columns, or records"
)


class Frame(NamedTuple):
    """The columns of a table."""

    names: list[Any]
    read: Callable[[Collection[Any]], list[Any]]  # returns columns, by their names, whose rows match
    are_records: bool = False  # whether the rows are objects, whose fields are the columns


def frame_of(argument: str, value: Any) -> Frame | None:
    """Return the columns of a value; None if it has none with names.

    >>> frame = frame_of("data", [{"qid": "q", "docno": "d"}])
    >>> frame.names, frame.read(["docno"])
    (['qid', 'docno'], [['d']])

    Raises:
        ValueError: it is a table for each split, or its rows cannot be counted.
    """
    if type(value).__name__ in ("DatasetDict", "IterableDatasetDict"):
        splits = ", ".join(map(shown, value))
        hint = f"choose a split, such as dataset[{shown(next(iter(value), 'test'))}]"
        raise InputError(f"is a {type(value).__name__} of {splits}; {hint}", argument)
    if isinstance(value, (list, tuple)):
        fields_of_first = _fields_of(value[0]) if value else []
        read = partial(_columns_of_records, argument, value)
        return Frame(fields_of_first, read, are_records=True) if fields_of_first else None
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):  # a LazyFrame
        return Frame(value.collect_schema().names(), lambda of: _columns(value.select(list({*of})).collect(), of))
    if isinstance(value, ARROW) and pa.types.is_struct(value.type):
        value = pa.Table.from_struct_array(value)
    is_arrow = library_of(value) == "pyarrow" and hasattr(value, "schema")
    if is_arrow and hasattr(value, "to_table"):  # a dataset in files
        return Frame(value.schema.names, lambda of: _columns(value.to_table(columns=list({*of})), of))
    if isinstance(value, Mapping):
        names: Any = list(value)
    elif isinstance(value, np.ndarray):
        names = value.dtype.names
    elif is_arrow:
        names = value.schema.names
    else:
        names = getattr(value, "column_names", None) or getattr(value, "columns", None)
    if names is None and hasattr(value, "column_names"):  # a Dataset that tells nothing of its columns
        names = []
    if names is None or callable(names):
        return None
    if is_database_query(value):
        table = cache(partial(pa.table, value))
        return Frame(list(names), lambda of: _columns(table(), of))
    if not hasattr(value, "__len__"):
        raise ValueError(f"{argument}: {type(value).__name__} has no rows that can be counted; {HINT}")
    return Frame(list(names), partial(_columns, value))


def _columns(table: Any, names: Collection[Any]) -> list[Any]:
    """Return columns of a table by their names."""
    return [table[name] for name in names]


def _fields_of(record: Any) -> list[str]:
    """Return the names of the fields of a record: a dict, a named tuple, a row of a database, or an object."""
    if isinstance(record, (Mapping, tuple)):
        return [name for name in field_names(record) if isinstance(name, str)]
    if is_dataclass(record) and not isinstance(record, type):
        return [field.name for field in fields(record)]
    if hasattr(record, "__array__"):
        return []
    if hasattr(record, "keys") and hasattr(record, "__getitem__"):  # a row of sqlite3 and others
        return list(record.keys())
    return field_names(record)


def _columns_of_records(argument: str, records: Sequence[Any], names: Collection[str]) -> list[Any]:
    """Return fields of all records."""
    getter = itemgetter if isinstance(records[0], Mapping) or hasattr(records[0], "keys") else attrgetter
    with suppress(KeyError, AttributeError, TypeError, IndexError):
        return [list(map(getter(name), records)) for name in names]
    for name in names:
        for row, record in enumerate(records):
            if name not in (own := _fields_of(record)):
                problem = f"record {row} has no {name!r}, which the first one has; it has {shown(own or record)}"
                raise InputError(problem, argument)
    raise InputError("records differ in type; give all as dicts, or all as named tuples", argument)


def named_columns(data: Any, called: str = "data", **arguments: Any) -> list[Any]:
    """Return arguments, with names of columns replaced by the columns of a DataFrame, if there is one.

    Values that are not names are returned unchanged; `called` is the name of the DataFrame in messages.
    """
    if data is None:
        return list(arguments.values())
    if is_spark(data):
        raise ValueError(f"{called}: only compute scores a Spark DataFrame; give its rows, {called}=frame.toArrow()")
    frame = frame_of(called, listed(data))
    if frame is None:
        raise ValueError(f"{called} must be a DataFrame with named columns; got {shown(data)}; {HINT}")
    columns, names = frame.names, {argument: name for argument, name in arguments.items() if isinstance(name, str)}
    if missing := {argument: name for argument, name in names.items() if name not in columns}:
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
    named = [name for name in columns if name in names.values()]
    found = {name: _with_name(column, name) for name, column in zip(named, frame.read(named), strict=True)}
    return [found[given] if argument in names else given for argument, given in arguments.items()]


def _with_name(column: Any, name: str) -> Any:
    """Return a column; one that is best where it is lowest with its name, in a table, so that it is no score."""
    if plain_name(name) not in LOWEST_FIRST or name_of_column(column) == name:
        return column
    with suppress(pa.ArrowException, ValueError):
        return pa.table({name: plain(name, column)})
    return column


def name_of_column(column: Any) -> Any:
    """Return the name of a column of a DataFrame; None for other values."""
    return getattr(column, "name", getattr(column, "column_name", None))


def _listed(columns: list[Any]) -> str:
    """Return the first names of columns, as many as fit into a message."""
    return ", ".join(map(shown, columns[:20])) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")
