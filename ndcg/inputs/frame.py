"""Read whatever has columns with names: DataFrames, tables, databases, Datasets, dicts of columns, and records.

A lazy frame or a database query runs once for all columns, so that their rows match.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..measure.messages import InputError, nearest, shown
from .fields import NAMES_OF_RANKS, says_lowest_first
from .objects import fields_of, is_object
from .sources import ARROW, is_database_query, is_spark, library_of, listed, name_of_column, plain

HINT = (
    "give a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation, a Hugging Face Dataset, a dict of "
    "columns, or records"
)


class Frame(NamedTuple):
    """The columns of a table."""

    names: list[Any]
    # a function that returns columns, by their names, whose rows match
    read: Callable[[Collection[Any]], list[Any]]
    # a function that returns the first rows of some columns, without reading all
    head: Callable[[Collection[Any]], list[Any]]


def frame_of(argument: str, value: Any) -> Frame | None:
    """Return the columns of a value; None if it has none with names.

    >>> frame = frame_of("data", [{"qid": "q", "docno": "d"}])
    >>> frame.names, frame.read(["docno"])
    (['qid', 'docno'], [['d']])

    Raises:
        ValueError: it is a table for each split, or its rows cannot be counted.
    """
    _refuse_splits(argument, value)
    if isinstance(value, (list, tuple)):
        return _frame_of_records(argument, value)
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):  # a LazyFrame
        return _lazy_frame(value)
    if isinstance(value, ARROW) and pa.types.is_struct(value.type):
        value = pa.Table.from_struct_array(value)
    is_arrow = library_of(value) == "pyarrow" and hasattr(value, "schema")
    if is_arrow and hasattr(value, "to_table"):
        return _dataset_of_files(value)
    names = value.schema.names if is_arrow else _names_of(value)
    if names is None:
        return None
    if is_database_query(value):
        table = cache(partial(pa.table, value))  # the query runs once
        read = lambda names: _columns(table(), names)  # noqa: E731
        return Frame(names, read, read)
    if not hasattr(value, "__len__"):
        problem = f"{type(value).__name__} has no rows that can be counted"
        raise ValueError(f"{argument}: {problem}; {HINT}")
    read = partial(_columns, value)
    return Frame(names, read, read)


def _refuse_splits(argument: str, value: Any) -> None:
    """Raise an error for a table for each split of a Dataset."""
    if type(value).__name__ in ("DatasetDict", "IterableDatasetDict"):
        splits = ", ".join(map(shown, value))
        hint = f"choose a split, such as dataset[{shown(next(iter(value), 'test'))}]"
        raise InputError(f"is a {type(value).__name__} of {splits}; {hint}", argument)


def _lazy_frame(value: Any) -> Frame:
    """Return the columns of a LazyFrame of Polars, which is computed once for all that are read."""

    def read(names: Collection[Any]) -> list[Any]:
        return _columns(value.select(list({*names})).collect(), names)

    def head(names: Collection[Any]) -> list[Any]:
        return _columns(value.select(list({*names})).head(1).collect(), names)

    return Frame(value.collect_schema().names(), read, head)


def _dataset_of_files(value: Any) -> Frame:
    """Return the columns of a dataset of Arrow in files."""

    def read(names: Collection[Any]) -> list[Any]:
        return _columns(value.to_table(columns=list({*names})), names)

    def head(names: Collection[Any]) -> list[Any]:
        return _columns(value.head(1, columns=list({*names})), names)

    return Frame(value.schema.names, read, head)


def _names_of(value: Any) -> list[Any] | None:
    """Return the names of columns; None for a value that has none."""
    if isinstance(value, Mapping):
        return list(value)
    if isinstance(value, np.ndarray):
        return None if value.dtype.names is None else list(value.dtype.names)
    names = getattr(value, "column_names", None) or getattr(value, "columns", None)
    if names is None and hasattr(value, "column_names"):  # a Dataset that tells no names
        return []
    return None if names is None or callable(names) else list(names)


def _columns(table: Any, names: Collection[Any]) -> list[Any]:
    """Return columns of a table by their names."""
    return [table[name] for name in names]


def _frame_of_records(argument: str, records: Sequence[Any]) -> Frame | None:
    """Return the fields of records, a list of objects, as columns; None for other lists."""
    if len(records) == 0 or not is_object(records[0]):
        return None

    def read(names: Collection[Any]) -> list[Any]:
        return [_field_of_records(argument, records, name) for name in names]

    return Frame(list(fields_of(records[0])), read, read)


def _field_of_records(argument: str, records: Sequence[Any], name: Any) -> list[Any]:
    """Return a field of all records."""
    if set(map(type, records)) == {dict}:
        with suppress(KeyError):
            return [record[name] for record in records]
    column = []
    for row, record in enumerate(records):
        fields = fields_of(record) if is_object(record) else {}
        if name not in fields:
            has = shown(list(fields) or record)
            problem = f"record {row} has no {name!r}, which the first one has; it has {has}"
            raise InputError(problem, argument)
        column.append(fields[name])
    return column


def named_columns(data: Any, called: str = "data", **arguments: Any) -> list[Any]:
    """Return arguments, with names of columns replaced by the columns of a DataFrame, if there is one.

    Values that are not names are returned unchanged; `called` is the name of the DataFrame in messages.
    """
    if data is None:
        return list(arguments.values())
    if is_spark(data):
        raise ValueError(
            f"{called}: only compute scores a Spark DataFrame; give its rows, {called}=frame.toArrow()"
        )
    frame = frame_of(called, listed(data))
    if frame is None:
        raise ValueError(
            f"{called} must be a DataFrame with named columns; got {shown(data)}; {HINT}"
        )
    columns, names = (
        frame.names,
        {argument: name for argument, name in arguments.items() if isinstance(name, str)},
    )
    if missing := {argument: name for argument, name in names.items() if name not in columns}:
        near = [
            nearest(name, [each for each in columns if isinstance(each, str)])
            for name in missing.values()
        ]
        hint = (
            "; did you mean " + ", ".join(f'"{each}"' for each in near if each) + "?"
            if any(near)
            else ""
        )
        lacks = f"column{'s' * (len(missing) > 1)} {', '.join(map(shown, missing.values()))}"
        raise ValueError(
            f"{', '.join(missing)}: {called} has no {lacks}; it has {_listed(columns)}{hint}"
        )
    for argument, name in names.items():
        if columns.count(name) > 1:
            raise InputError(
                f"{called} has several columns {shown(name)}; give them names of their own",
                argument,
            )
    if not names:
        hint = "give predictions and references as their names, which must be text"
        raise ValueError(
            f"{called}: no argument names one of its columns, which are {_listed(columns)}; {hint}"
        )
    named = [name for name in columns if name in names.values()]
    found = dict(zip(named, frame.read(named), strict=True))
    found = {name: _with_name(column, name) for name, column in found.items()}
    return [found[given] if argument in names else given for argument, given in arguments.items()]


def _with_name(column: Any, name: str) -> Any:
    """Return a column; one whose lowest value may be the best with its name, in a table."""
    says_so = says_lowest_first(name) or says_lowest_first(name, NAMES_OF_RANKS)
    if not says_so or name_of_column(column) == name:
        return column
    with suppress(pa.ArrowException, ValueError):
        return pa.table({name: plain(name, column)})
    return column


def _listed(columns: list[Any]) -> str:
    """Return the first names of columns, as many as fit into a message."""
    return ", ".join(map(shown, columns[:20])) + (
        f" and {len(columns) - 20} more" if len(columns) > 20 else ""
    )
