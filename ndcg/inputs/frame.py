"""Read whatever has columns with names: DataFrames, tables, Datasets, dicts of columns, records.

A lazy frame or a database query runs once for all columns, so that their rows match.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any, NamedTuple

import pyarrow as pa

from ..measure.messages import InputError, brief, shown
from .fields import (
    NAMES_OF_RANKS,
    PLAIN_RELEVANCES,
    PLAIN_SCORES,
    plain_name,
    says_lowest_first,
)
from .objects import fields_of, first_in, is_object
from .sources import (
    ROWS_LOOKED_AT,
    is_database_query,
    is_lazy,
    is_spark,
    library_of,
    listed,
    name_of_column,
    names_of_columns,
    plain,
)

HINT = (
    "give a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation, a Hugging Face "
    "Dataset, a dict of columns, or records"
)


class Frame(NamedTuple):
    """The columns of a table."""

    names: list[Any]
    # a function that returns a table of some columns, by their names, whose rows match
    table: Callable[[list[Any]], Any]
    # a function that returns the same table, or its first rows, if reading all takes long
    first: Callable[[list[Any]], Any]

    def read(self, names: Iterable[Any]) -> list[Any]:
        """Return some columns, whose rows match."""
        return _columns(self.table, names)

    def head(self, names: Iterable[Any]) -> list[Any]:
        """Return the first rows of some columns."""
        return _columns(self.first, names)


def _columns(table_of: Callable[[list[Any]], Any], names: Iterable[Any]) -> list[Any]:
    names = list(names)
    table = table_of(list(dict.fromkeys(names)))
    return [table[name] for name in names]


def frame_of(argument: str, value: Any) -> Frame | None:
    """Return the columns of a value; None if it has none with names, as records have none.

    >>> frame = frame_of("data", {"qid": ["q"], "docno": ["d"]})
    >>> frame.names, frame.read(["docno"])
    (['qid', 'docno'], [['d']])

    Raises:
        ValueError: its rows cannot be counted.
    """
    if is_lazy(value):
        return _lazy_frame(value)
    if library_of(value) == "pyarrow" and hasattr(value, "to_table"):
        return _dataset_of_files(value)
    names = _names_of(value)
    if names is None and hasattr(value, "to_df"):  # of LensKit
        try:
            table = value.to_df()
        except Exception as error:
            problem = f"to_df() of {type(value).__name__} raised {shown(error)}"
            raise InputError(f"{problem}; give a DataFrame", argument) from error
        return frame_of(argument, table)
    if names is None:  # such as an array, or a column
        return None
    if is_database_query(value) and not is_spark(value):
        return _frame_of_query(value, names)
    if not hasattr(value, "__len__"):
        problem = f"{type(value).__name__} of {library_of(value)} has no rows that can be counted"
        hint = "give a table in memory, as toArrow() makes of a Spark DataFrame"
        raise InputError(f"{problem}; {hint}", argument)
    return Frame(names, lambda _: value, lambda _: value)


def _lazy_frame(value: Any) -> Frame:
    """Return the columns of a LazyFrame of Polars, which is computed once for all that are read."""
    return Frame(
        value.collect_schema().names(),
        table=lambda names: value.select(names).collect(),
        first=lambda names: value.select(names).head(ROWS_LOOKED_AT).collect(),
    )


def _dataset_of_files(value: Any) -> Frame:
    return Frame(
        value.schema.names,
        table=lambda names: value.to_table(columns=names),
        first=lambda names: value.head(ROWS_LOOKED_AT, columns=names),
    )


def _frame_of_query(value: Any, names: list[Any]) -> Frame:
    run = cache(partial(pa.table, value))  # the query runs once for all columns
    return Frame(names, lambda _: run(), lambda _: run())


def _names_of(value: Any) -> list[Any] | None:
    """Return the names of columns; None for a value that has none."""
    if isinstance(value, Mapping):
        return list(value)
    if isinstance(value, pa.RecordBatchReader):
        return list(value.schema.names)
    if getattr(value, "column_names", ()) is None:  # of a Dataset that is read as it comes
        return []
    return names_of_columns(value) or None


def frame_of_data(argument: str, data: Any) -> Frame | None:
    """Return the columns of a value as `frame_of` does, and of records, a list of objects."""
    records = listed(data)
    if not is_object(first_in(records)):
        return frame_of(argument, records)

    def table(names: list[Any]) -> dict[Any, list[Any]]:
        rows = list(map(fields_of, records))
        return {name: _field_of_records(argument, rows, name) for name in names}

    return Frame(list(fields_of(records[0])), table, table)


def _field_of_records(argument: str, records: Sequence[Mapping[Any, Any]], name: Any) -> list[Any]:
    try:
        return [record[name] for record in records]
    except KeyError:
        row = next(row for row, record in enumerate(records) if name not in record)
        has = shown(list(records[row]))
        problem = f"record {row} has no {name!r}, which the first one has; it has {has}"
        raise InputError(problem, argument) from None


def named_columns(data: Any, called: str = "data", **arguments: Any) -> list[Any]:
    """Return arguments, with names of columns replaced by the columns of a DataFrame.

    Values that are not names are returned unchanged; `called` is its name in messages.
    """
    frame = frame_of_data(called, data)
    if frame is None:
        problem = f"{called} must be a DataFrame with named columns; got {shown(data)}"
        raise ValueError(f"{problem}; {HINT}")
    names = {argument: name for argument, name in arguments.items() if isinstance(name, str)}
    index = getattr(getattr(data, "index", None), "names", [])
    _check_names(called, names, frame.names, index)
    _refuse_swapped_names(names)
    used = [name for name in frame.names if name in names.values()]
    columns = dict(zip(used, map(_with_name, frame.read(used), used), strict=True))
    values = {argument: columns[name] for argument, name in names.items()}
    return list({**arguments, **values}.values())


def _check_names(
    called: str, names: Mapping[str, str], columns: list[Any], index: Sequence[Any]
) -> None:
    """Raise an error for a name that no column of a DataFrame has, or several; and for no name."""
    missing = {argument: name for argument, name in names.items() if name not in columns}
    if missing:
        noun = "column" if len(missing) == 1 else "columns"
        lacks = f"{noun} {', '.join(map(shown, missing.values()))}"
        arguments = ", ".join(missing)
        hint = ""
        if not set(index).isdisjoint(missing.values()):
            hint = f"a level of its index is no column; give {called}.reset_index()"
        problem = f"{called} has no {lacks}; it has {_listed(columns)}"
        raise InputError(f"{arguments}: {problem}", hint=hint)
    for argument, name in names.items():
        if columns.count(name) > 1:
            problem = f"{called} has several columns {shown(name)}; give them names of their own"
            raise InputError(problem, argument)
    if not names:
        problem = f"{called}: no argument names one of its columns, which are {_listed(columns)}"
        hint = "give predictions and references as their names, which must be text"
        raise ValueError(f"{problem}; {hint}")


def _refuse_swapped_names(names: Mapping[str, str]) -> None:
    """Raise an error for scores that are called a relevance beside relevances called a score."""
    run, qrels = names.get("predictions"), names.get("references")
    if plain_name(run) in PLAIN_RELEVANCES and plain_name(qrels) in PLAIN_SCORES:
        problem = f"{run!r} is a relevance, and the references {qrels!r} are a score"
        raise InputError(f"{problem}; are both sides swapped?", "predictions")


def _with_name(column: Any, name: str) -> Any:
    """Return a column; one whose lowest value may be the best with its name, in a table."""
    says_so = says_lowest_first(name) or says_lowest_first(name, NAMES_OF_RANKS)
    if not says_so or name_of_column(column) == name:
        return column
    # What is read later knows the order of these scores by the name alone.
    with suppress(pa.ArrowException, ValueError):
        return pa.table({name: plain(name, column)})
    return column


def _listed(columns: list[Any]) -> str:
    """Return the first names of columns, as many as fit into a message."""
    return brief(map(shown, columns), ", ")
