"""A frame whose columns are named -> the columns themselves.

Frames are those of pandas, Polars, Arrow, DuckDB and `datasets`, and mappings of columns. What is
lazy, or a query to a database, is run once for all columns, so that their rows belong together.
"""

from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from ..measure.messages import nearest, shown
from .columns import is_database_query

HINT = "give a frame of pandas, Polars, Arrow, DuckDB, datasets or Spark, or a mapping of columns by their names"


def named_columns(data: Any, called: str = "data", **arguments: Any) -> list[Any]:
    """Return arguments, in place of each name of a column that column of a frame.

    Args:
        data: the frame; None if there is none, then arguments are returned as they are.
        called: what messages call it.
        **arguments: each the name of a column, None, or what is no name and returned as it is.

    Raises:
        ValueError: names the argument whose column is missing or stands in the frame twice; a frame of
            another kind, or one of which no column is named.

    >>> frame = {"score": [0.9, 0.1], "label": [1, 0]}
    >>> named_columns(frame, predictions="score", references="label", query_ids=None)
    [[0.9, 0.1], [1, 0], None]
    """
    if data is None:
        return list(arguments.values())
    names = {argument: name for argument, name in arguments.items() if isinstance(name, str)}
    frame = _rereadable(data, called, set(names.values()))
    columns = _column_names(frame)
    for argument, name in names.items():
        if name not in columns:
            near = nearest(name, [each for each in columns if isinstance(each, str)])
            hint = f'; did you mean "{near}"?' if near else ""
            raise ValueError(f"{argument}: {called} has no column {shown(name)}; it has {_listed(columns)}{hint}")
        if columns.count(name) > 1:
            raise ValueError(f"{argument}: {called} has several columns {shown(name)}; give them names of their own")
    if not names:
        hint = "give predictions and references as their names, which must be text"
        raise ValueError(f"{called}: no argument names one of its columns, which are {_listed(columns)}; {hint}")
    return [frame[given] if argument in names else given for argument, given in arguments.items()]


def is_spark(data: Any) -> bool:
    """Return whether it is a DataFrame of Spark, classic or Connect."""
    return type(data).__module__.partition(".")[0] == "pyspark" and hasattr(data, "mapInArrow")


def _rereadable(data: Any, called: str, names: Collection[str]) -> Any:
    """Return a frame whose columns can be taken by name again and again."""
    library = type(data).__module__.partition(".")[0]
    if is_spark(data):
        raise ValueError(f"{called}: only compute scores a DataFrame of Spark; give its rows, {called}=frame.toArrow()")
    if isinstance(data, (Mapping, pa.Table, pa.RecordBatch)):
        return data
    if library == "polars" and hasattr(data, "collect"):  # a LazyFrame
        known = data.collect_schema().names()
        return (data.select(list(names)) if names and set(names) <= set(known) else data.limit(0)).collect()
    if library == "pyarrow" and hasattr(data, "to_table"):  # a dataset of files
        known = data.schema.names
        once = names and all(known.count(name) == 1 for name in names)
        return data.to_table(columns=list(names)) if once else data.schema.empty_table()
    if is_database_query(data):
        return pa.table(data)
    if isinstance(data, str) or not (hasattr(data, "columns") or hasattr(data, "column_names")):
        raise ValueError(f"{called} must be a frame with named columns; got {shown(data)}; {HINT}")
    if not hasattr(data, "__len__"):
        raise ValueError(f"{called}: {type(data).__name__} has no rows that can be counted; {HINT}")
    return data


def _column_names(frame: Any) -> list[Any]:
    if isinstance(frame, Mapping):
        return list(frame)
    names = frame.schema.names if isinstance(frame, pa.RecordBatch) else getattr(frame, "column_names", None)
    return list(frame.columns if names is None else names)


def _listed(columns: list[Any]) -> str:
    """Return the first names of columns as a message has room for them."""
    return ", ".join(map(shown, columns[:20])) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")
