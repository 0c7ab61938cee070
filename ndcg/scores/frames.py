"""Replace names of columns, as arguments, by the columns of a DataFrame.

Weights and slices then have a row per query.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..files.paths import is_path, slices_from_file
from ..inputs.columns import read_flat_column
from ..inputs.exclusion import Pairs
from ..inputs.fields import (
    DOCUMENT,
    QUERY,
    column_of_ranks,
    columns_as_fields,
    names_of_side,
    spelled,
)
from ..inputs.frame import Frame, frame_of_data, named_columns
from ..inputs.hashes import Columns, hashes_of, repeated_row
from ..inputs.ids import JOINED_BATCHES, NoIdError, encode_ids, id_column
from ..inputs.no_rankings import comparable, ranks_by_query, several_first_ranks, share_first_ranks
from ..inputs.objects import fields_of, first_in
from ..inputs.reading import Inputs
from ..inputs.slices import Slices, crossed, read_slices
from ..inputs.sources import is_database_query, listed, settled, values_by_query
from ..inputs.tables import heads_of
from ..measure.messages import InputError, mark, shown, warn
from ..measure.ties import Array, Floats, Mask

NOT_SIDES = Inputs._fields[2:]
FIRST_QUERIES = 100  # of a table, which tell whether it holds several systems


def from_frame(data: Any, inputs: Inputs) -> Inputs:
    """Return inputs, with names of columns replaced by the columns of a DataFrame."""
    if data is not None and inputs.fields is not None:
        raise ValueError(
            "fields are for rankings given as arguments; with data, name its columns by "
            "predictions=, references=, query_ids= and document_ids="
        )
    others = (data, inputs.exclude, inputs.sample_weight, inputs.by)
    if all(value is None for value in others):
        return inputs
    return Inputs(**columns_of(data, inputs._asdict()))


def columns_of(data: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments, with names replaced by the columns of a DataFrame, or of a file for `by`.

    In a column of `sample_weight` or `by`, a row has the value of its query. `by` may name several
    columns.
    """
    columns = dict(arguments)
    if data is not None:
        columns = _columns_of_data(data, arguments)
    elif is_path(columns["by"]):
        columns["by"] = _slices_named(columns["by"], arguments)
    sides = [columns[name] for name in columns if name not in (*_BY_QUERY, "exclude")]
    for name in _BY_QUERY:
        columns[name] = values_by_query(name, columns[name], sides)
    return columns


def _columns_of_data(data: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments, with names replaced by the columns of a DataFrame."""
    data = listed(data)  # since a generator can be read only once
    named = dict(arguments)
    exclude = named.pop("exclude")  # whose columns are in another table
    slices = _names_of_slices(named.pop("by"))
    named |= slices
    columns = dict(zip(named, named_columns(data, **named), strict=True))
    columns["exclude"] = _excluded_pairs(exclude, arguments)
    if len(slices) > 1:
        columns["by"] = crossed([columns.pop(name) for name in slices])
    query_ids = columns["query_ids"]
    if query_ids is None:
        _refuse_batches(data, next(iter(columns.values())))
        return columns
    for name, values_of_queries in _BY_QUERY.items():
        # A name was replaced by a column, which has a value in every row.
        if columns[name] is not arguments[name]:
            both = settled({"query_ids": query_ids, name: columns[name]})
            columns[name] = values_of_queries(*both.values())
    # A query of a database would be run once more.
    if not is_database_query(data):
        frame: Any = frame_of_data("data", data)
        if arguments["document_ids"] is None:
            _refuse_several_systems(frame, query_ids)
        _warn_of_several_first_ranks(frame, columns, arguments)
    _refuse_empty_rows(columns)
    return columns


def _refuse_batches(data: Any, scores: Any) -> None:
    """Raise an error for records with the rows of several queries each, which no `query_ids` names.

    The record of a query may have its id in each row.
    """

    def holds_batches(name: str) -> bool:
        with suppress(ValueError, TypeError, KeyError):  # of what is no record with ids of rows
            first_ids = fields_of(first_in(data))[name]
            has_ids_of_rows = np.shape(first_ids) == np.shape(first_in(scores))
            most_ids = max(len(np.unique(record[name])) for record in map(fields_of, data))
            return has_ids_of_rows and most_ids > 1
        return False

    frame: Any = frame_of_data("data", data)
    for name in filter(holds_batches, spelled(frame.names, QUERY[0])):
        problem = f"a record has several queries in {shown(name)}, as a batch does"
        hint = f"give {mark('query_ids')}, and {JOINED_BATCHES}"
        raise InputError(problem, "data", hint=hint)


def _warn_of_several_first_ranks(
    frame: Frame, columns: Mapping[str, Any], arguments: Mapping[str, Any]
) -> None:
    """Warn of a column of ranks that tells of several systems, and is not read.

    The scores, which are named, may be of another order, as those of a reranker.
    """
    names = {role: name for role, name in arguments.items() if isinstance(name, str)}
    # Of several systems that are compared, any may have the ranks.
    if "predictions" not in names:
        return
    chosen = names | {"score": names["predictions"]}
    ranks = column_of_ranks(frame.names, chosen, names_of_side("run"))
    if not ranks:
        return
    (column,) = frame.read(ranks.values())
    compared = {"query": columns["query_ids"], "score": columns["predictions"], "rank": column}
    with suppress(ValueError):  # which reading the other columns raises again
        rows = zip(*heads_of(settled(compared)).values(), strict=False)
        # A document that was not retrieved has neither a score nor a rank.
        retrieved = (row for row in rows if comparable(row[1:]))
        if share_first_ranks(ranks_by_query(retrieved)):
            warn(f"{mark('data')}: {several_first_ranks('every query')}")


def _refuse_several_systems(frame: Frame, query_ids: Any) -> None:
    """Raise an error for a table in which the first queries have a document in several rows.

    Such a table holds the rows of several systems, unless its documents have no ids. If some have
    ids, a row without one may hold totals, which is a warning.
    """
    names = spelled(frame.names, (*DOCUMENT[0], *DOCUMENT[1]))
    if len(names) != 1:
        return
    codes, ids = encode_ids("query_ids", settled({"query_ids": query_ids})["query_ids"])
    first = np.flatnonzero(codes < FIRST_QUERIES)
    (column,) = frame.read(names)
    try:
        documents = id_column("data", settled({"data": column})["data"])
    except NoIdError as error:
        if not error.have_none:
            problem = f"row {error.row} has no document in {names[0]!r}, which others have"
            warn(f"{mark('data')}: {problem}; leave it out if it is a row of totals")
        return
    except ValueError:
        return  # the column is not asked for
    if len(documents) != len(codes):
        return  # another error says so
    documents = documents.take(pa.array(first))
    rows = Columns(codes[first], ids, documents, np.zeros(len(first)), hashes_of(documents))
    repeated = repeated_row(rows)
    if repeated is None:
        return
    row, before = repeated
    document, query = rows.words(row)
    rows_of_both = f"in row {first[before]} and in row {first[row]}"
    problem = f"document {document} of query {query} is {rows_of_both}"
    raise InputError(problem, "data", hint="give the rows of one system")


def _refuse_empty_rows(columns: Mapping[str, Any]) -> None:
    # The scores of all systems, and the relevances.
    sides = [column for name, column in columns.items() if name not in NOT_SIDES]
    missing_of_sides = [_missing(side) for side in sides if side is not None]
    if len(set(map(np.shape, missing_of_sides))) != 1:
        return  # another error says so
    empty = np.logical_and.reduce(missing_of_sides)
    if empty.any():
        problem = f"row {int(empty.argmax())} has neither a score nor a relevance"
        raise InputError(f"{problem}; give one of them, or leave the row out", "data")


def _missing(column: Any) -> Mask:
    """Return which values of a column are missing; none of what cannot tell, such as an array."""
    if isinstance(column, pa.Table):  # of a column whose name counts
        column = column.column(0)
    if hasattr(column, "isna"):  # of pandas
        return np.asarray(column.isna(), bool)
    if hasattr(column, "is_null"):  # of Polars and Arrow
        return np.asarray(column.is_null(), bool)
    if isinstance(column, (list, tuple)):
        return np.array([value is None for value in column], bool)
    return np.zeros(np.shape(column)[:1], bool)


def _slices_named(by: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the slice of every query from a column of a side, or else from a file."""
    # The references first, since all of their queries count.
    for argument in ("references", "predictions"):
        side = arguments.get(argument)
        if is_path(side):
            return slices_from_file(by, side)
        frame = frame_of_data(argument, side)
        if frame is not None and by in frame.names:
            names = names_of_side("qrels", arguments.get("fields"))
            fields = columns_as_fields(dict.fromkeys(frame.names))
            queries = names.candidates("query", fields, QUERY)
            if len(queries) == 1:
                return _slices_in_frame(frame, queries[0], by)
    return slices_from_file(by, None)


def _slices_in_frame(frame: Any, query: str, by: str) -> dict[Any, Any]:
    columns = dict(zip(("query_ids", "by"), frame.read([query, by]), strict=True))
    query_ids, values = settled(columns).values()
    slices = _slices_by_query(query_ids, values)
    ids = encode_ids("query_ids", query_ids)[1].to_pylist()
    names = [slices.values[code] for code in slices.code.tolist()]
    return dict(zip(ids, names, strict=True))


def _names_of_slices(by: Any) -> dict[str, Any]:
    """Return the names of several columns of slices by their places; else the argument itself.

    Texts that repeat, or nine and more, are the slices of queries.
    """
    are_texts = isinstance(by, (list, tuple)) and set(map(type, by)) == {str}
    if not are_texts or not 1 < len(by) == len(set(by)) < 9:
        return {"by": by}
    return {f"by[{index}]": name for index, name in enumerate(by)}


def _excluded_pairs(exclude: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the documents to exclude; of a DataFrame, the columns of queries and documents.

    Without data beside it, its columns are chosen by standard names.
    """
    attributes = ("columns", "column_names", "schema")
    is_frame = any(hasattr(type(exclude), attribute) for attribute in attributes)
    if not is_frame:
        return exclude
    names = {name: arguments[name] for name in ("query_ids", "document_ids")}
    if not all(isinstance(name, str) for name in names.values()):
        problem = "is a DataFrame, but query_ids and document_ids name no columns"
        hint = "name the columns of data and exclude, or give {query: ids}"
        raise InputError(problem, "exclude", hint=hint)
    return Pairs(*named_columns(exclude, "exclude", **names))


def _weights_by_query(query_ids: Any, rows: Any) -> Floats:
    """Return the weight of every query, from a column with a weight in every row."""
    column = read_flat_column("sample_weight", rows, lambda _, row: f"row {row}")
    if column.present is not None:
        row = int(np.argmin(column.present))
        raise InputError(
            f"row {row} is missing; give every row the weight of its query", "sample_weight"
        )
    values = np.asarray(column.values, np.float64)
    first = _first_rows("sample_weight", query_ids, values, lambda row: str(values[row]))
    return values[first]


def _slices_by_query(query_ids: Any, rows: Any) -> Slices:
    values, code = read_slices(rows)
    first = _first_rows("by", query_ids, code, lambda row: shown(values[code[row]]))
    return Slices(values, code[first])


_BY_QUERY: dict[str, Callable[[Any, Any], Any]] = {
    "sample_weight": _weights_by_query,
    "by": _slices_by_query,
}


def _first_rows(
    argument: str, query_ids: Any, values: Array, text: Callable[[int], str]
) -> NDArray[np.int64]:
    """Return the first row of every query, if all of its rows have the same value."""
    code, ids = encode_ids("query_ids", query_ids)
    if len(values) != len(code):
        raise InputError(
            f"{mark(argument)} and query_ids differ in length, {len(values)} and {len(code)}; give "
            "both for every row"
        )
    first = np.zeros(len(ids), np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]  # of several rows, the last one written counts
    differs = values != values[first][code]
    if differs.any():
        row = int(np.argmax(differs))
        before = int(first[code[row]])
        query = shown(ids[int(code[row])].as_py())
        problem = f"query {query} is {text(row)} in row {row} and {text(before)} in row {before}"
        noun = {"sample_weight": "weight", "by": "slice"}[argument]
        raise InputError(f"{problem}; give all rows of a query the same {noun}", argument)
    return first
