"""Replace names of columns, as arguments, by the columns of a DataFrame; weights and slices have a row per query."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.paths import from_file, is_path
from ..inputs.columns import read_flat_column
from ..inputs.exclusion import Pairs
from ..inputs.fields import names_of_side, spelled
from ..inputs.formats import frame_of_side
from ..inputs.frame import named_columns
from ..inputs.ids import encode_ids
from ..inputs.reading import Inputs
from ..inputs.slices import Slices, crossed, read_slices
from ..inputs.sources import settled, values_by_query
from ..measure.messages import InputError, mark, shown

NOT_SIDES = Inputs._fields[2:]


def from_frame(data: Any, inputs: Inputs) -> Inputs:
    """Return inputs, with names of columns replaced by the columns of a DataFrame."""
    if data is not None and inputs.fields is not None:
        raise ValueError(
            "fields are for rankings given as arguments; with data, name its columns by predictions=, "
            "references=, query_ids= and document_ids="
        )
    others = inputs.exclude, inputs.sample_weight, inputs.by
    nothing_named = data is None and all(value is None for value in others)
    return inputs if nothing_named else Inputs(**columns_of(data, inputs._asdict()))


def columns_of(data: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments, with names of columns replaced by the columns of a DataFrame, or of a file for `by`.

    In a column of `sample_weight` or `by`, each row has the value of its query. `by` may name several columns.
    """
    named = {name: value for name, value in arguments.items() if name != "exclude"}
    by_names = _several_names(named["by"]) if data is not None else {}
    if by_names:
        del named["by"]
        named |= by_names
    columns = dict(zip(named, named_columns(data, **named), strict=True))
    if by_names:
        columns["by"] = crossed([columns.pop(name) for name in by_names])
    if (query_ids := columns["query_ids"]) is not None:
        for name, of_queries in _BY_QUERY.items():
            if columns[name] is not arguments[name]:
                columns[name] = of_queries(*settled({"query_ids": query_ids, name: columns[name]}).values())
    if data is None and is_path(columns["by"]):
        columns["by"] = _slices_named(columns["by"], arguments)
    sides = [columns[name] for name in columns if name not in _BY_QUERY]
    for name in _BY_QUERY:
        columns[name] = values_by_query(name, columns[name], sides)
    return {**columns, "exclude": _excluded_pairs(data, arguments["exclude"], arguments)}


def _slices_named(by: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the slice of each query from a column of one of two tables, or else from a file."""
    sides = {name: side for name, side in arguments.items() if name not in NOT_SIDES}
    for argument, side in sorted(sides.items(), key=lambda each: each[0] != "references"):
        kind = "qrels" if argument == "references" else "run"
        names = names_of_side(kind, arguments.get("fields"))
        frame = frame_of_side(argument, side, names)
        if frame is not None and by in frame.names and (own := spelled(frame.names, names.columns["query"])):
            columns = dict(zip(("query_ids", "by"), frame.read([own[0], by]), strict=True))
            query_ids, values = settled(columns).values()
            slices = _slices_by_query(query_ids, values)
            queries = encode_ids("query_ids", query_ids)[1].to_pylist()
            return {query: slices.values[code] for query, code in zip(queries, slices.code.tolist(), strict=True)}
    files = [side for name in ("references", "predictions") if is_path(side := arguments.get(name))]
    return from_file("by", by, qrels_file=files[0] if files else None)


def _several_names(by: Any) -> dict[str, str]:
    """Return the names of several columns of slices by their places; none for the values of queries."""
    if not isinstance(by, (list, tuple)) or not 1 < len(by) == len(set(map(str, by))) < 9:
        return {}
    return {f"by[{at}]": name for at, name in enumerate(by)} if all(isinstance(name, str) for name in by) else {}


def _excluded_pairs(data: Any, exclude: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the documents to exclude; of a DataFrame, the columns with the names of `query_ids` and `document_ids`."""
    names = {name: arguments[name] for name in ("query_ids", "document_ids")}
    if data is None or not any(hasattr(type(exclude), each) for each in ("columns", "column_names", "schema")):
        return exclude  # no DataFrame, or one whose columns have names of their own
    if not all(isinstance(name, str) for name in names.values()):
        problem = "is a DataFrame, but query_ids and document_ids name no columns; name the columns of data and exclude"
        raise InputError(f"{problem}, or give {{query: ids}}", "exclude")
    return Pairs(*named_columns(exclude, "exclude", **names))


def _weights_by_query(query_ids: Any, rows: Any) -> NDArray[np.float64]:
    """Return the weight of each query, from a column with a weight in each row."""

    def place(_: int, row: int | None) -> str:
        return f"row {row}"

    column = read_flat_column("sample_weight", rows, place)
    if column.present is not None:
        row = int(np.flatnonzero(~column.present)[0])
        raise InputError(f"row {row} is missing; give every row the weight of its query", "sample_weight")
    values = np.asarray(column.values, np.float64)
    return values[_first_rows("sample_weight", query_ids, values, lambda row: str(values[row]))]


def _slices_by_query(query_ids: Any, rows: Any) -> Slices:
    """Return the slice of each query, from a column with a slice in each row."""
    values, code = read_slices(rows)
    return Slices(values, code[_first_rows("by", query_ids, code, lambda row: shown(values[code[row]]))])


_BY_QUERY: dict[str, Callable[[Any, Any], Any]] = {"sample_weight": _weights_by_query, "by": _slices_by_query}


def _first_rows(argument: str, query_ids: Any, values: NDArray[Any], text: Callable[[int], str]) -> NDArray[np.int64]:
    """Return the first row of each query, if all of its rows have the same value."""
    code, ids = encode_ids("query_ids", query_ids)
    if len(values) != len(code):
        raise InputError(f"{mark(argument)} has {len(values)} rows and query_ids {len(code)}; give both for every row")
    first = np.zeros(len(ids), np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    if (other := np.flatnonzero(values != values[first][code])).size:
        row = int(other[0])
        query, before = shown(ids[int(code[row])].as_py()), int(first[code[row]])
        noun = {"sample_weight": "weight", "by": "slice"}[argument]
        raise InputError(
            f"query {query} is {text(row)} in row {row} and {text(before)} in row {before}; "
            f"give all rows of a query the same {noun}",
            argument,
        )
    return first
