"""Recognize the format of one side: a table of rows, records, or hits; the rows become `Columns`, hits mappings.

Other formats are left as they are: lists and columns of numbers, mappings, and ranked ids.
"""

import io
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import count
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.labels import Labels
from ..measure.messages import InputError, shown, warn, within
from ..measure.scoring import in_threads
from .columns import Column, beyond_2_53, offsets_of, read_flat_column
from .exclusion import Pairs
from .fields import (
    COLUMNS_OF_ROWS,
    Names,
    Possible,
    UnknownColumnError,
    could_be_value,
    names_of_side,
    plain_name,
    refuse_lowest_first,
    spelled,
)
from .frame import Frame, frame_of, name_of_column
from .hashes import Columns, best_rows, hashes_of, repeated_row
from .hit_reader import HitReader
from .hits import ByPosition, Hits, answers_in, by_id, hits_of, unnamed
from .ids import id_column, id_kind, once, read_ids
from .kinds import Indices, rows_of
from .objects import fields_of, is_object
from .sources import ARROW, is_spark, is_sparse, settled
from .tables import MOST_COLUMNS, are_columns, chosen_columns, table_records, values_by_order

HASHED = 1 << 17  # rows whose ids a thread hashes at a time
PLAIN_NUMBERS = (int, float)
KIND_OF_ARGUMENT = {"references": "qrels", "exclude": "exclude"}  # else a run


def with_ids(
    argument: str,
    side: Any,
    fields: Any = None,
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
) -> Any:
    """Return a table of rows or records as `Columns`, hits as a mapping or a list of mappings, and others unchanged.

    The columns and fields have the names that `fields` gives, or else known ones.

    >>> with_ids("predictions", [[{"id": "d1", "score": 0.5}]])
    [{'d1': 0.5}]
    """
    if isinstance(side, io.IOBase):
        raise InputError(f"is an open file ({type(side).__name__}); give its path", argument)
    names = names_of_side(KIND_OF_ARGUMENT.get(argument, "run"), fields, score_order, labels, keep)
    found = (read(argument, side, names) for read in FORMATS if side is not None)
    return next((each for each in found if each is not None), side)


def plain_kind(side: Any) -> str:
    """Return "numbers" or "mappings" for a side that needs no other reading, as far as its first query tells; else "".

    Numbers are in an array or in nested lists, mappings are ``{query: {document: number}}``.
    """
    if type(side) is np.ndarray:
        return "numbers" if side.dtype.kind in "biuf" else ""
    if type(side) is list:
        has_number = side and type(side[0]) is list and side[0] and type(side[0][0]) in PLAIN_NUMBERS
        return "numbers" if has_number else ""
    if type(side) is not dict or set(map(type, side.values())) != {dict}:
        return ""
    first = next(iter(side.values()))
    if not first or not set(map(type, first.values())) <= {*PLAIN_NUMBERS, NoneType}:
        return ""
    rows = [each for each in (side, first) if len(each) <= MOST_COLUMNS]  # as of a table, whose names are columns
    are_ids = COLUMNS_OF_ROWS.isdisjoint(plain_name(name) for each in rows for name in each if isinstance(name, str))
    return "mappings" if are_ids else ""


# Tables of rows, and records


def _of_columns(argument: str, side: Any, names: Names) -> Any:
    """Return a table of rows, records, or a layout of pandas as `Columns`; None for other formats."""
    if is_spark(side):
        raise InputError(
            "is a Spark DataFrame; give both sides as Spark DataFrames, or its rows, frame.toArrow()", argument
        )
    if isinstance(side, (str, Columns, Pairs)) or is_sparse(side):
        return side
    frame = frame_of_side(argument, side, names)
    if frame is not None and (len(frame.names) > 1 or frame.are_records):
        return _of_table(argument, frame, names)
    if names.kind == "run" and not names.ascending:
        refuse_lowest_first(frame.names[0] if frame is not None and frame.names else name_of_column(side), argument)
    return None


def frame_of_side(argument: str, side: Any, names: Names) -> Frame | None:
    """Return the columns of a table, of records, or of a layout of pandas; None for hits and rankings by ids."""
    frame, possible = frame_of(argument, side), names.columns
    if not isinstance(side, (Mapping, list, tuple)):
        return frame
    only = side[0] if isinstance(side, (list, tuple)) and len(side) == 1 else side
    if isinstance(only, Mapping) and _are_columns(only, possible):
        return frame if only is side else frame_of(argument, only)
    if isinstance(side, Mapping):
        side = table_records(side, possible)
        frame = frame_of(argument, side)
    if frame is None:
        return None
    found = sum(bool(spelled(frame.names, each)) for each in possible.values())
    if found < 2 and not (found and _is_record_of_words(side[0], names)):
        return None
    return None if found < len(possible) and hits_of(side[0], names) is not None else frame


def _is_record_of_words(row: Any, names: Names) -> bool:
    """Return whether a mapping has text where documents have values, and no id of a hit: a record of unknown names."""
    if not isinstance(row, Mapping) or spelled(row, names.of_hits["document"]):
        return False
    cells = list(row.values())
    are_flat = not any(isinstance(each, (list, tuple, Mapping)) for each in cells)
    return are_flat and any(isinstance(each, str) and not could_be_value(each) for each in cells)


def _are_columns(side: Mapping[Any, Any], possible: Possible) -> bool:
    """Return whether a mapping holds columns: lists or arrays of the same length, of ids and numbers."""
    if len(side) > MOST_COLUMNS or not are_columns(side, possible):
        return False
    columns = [side[name] for names in possible.values() for name in spelled(side, names)]
    return all(isinstance(each, (list, tuple, np.ndarray, *ARROW)) or hasattr(each, "__array__") for each in columns)


def _rows_of_lists(frame: Frame) -> list[dict[str, Any]] | None:
    """Return the rows of a table in which each row has the lists of a query; None for other tables."""
    if len({name for name in frame.names if isinstance(name, str)}) < len(frame.names):
        return None
    columns = settled(dict(zip(frame.names, frame.read(frame.names), strict=True)))
    lists = {name: rows_of(each) for name, each in columns.items()}
    if not all(isinstance(each, (list, tuple)) for each in lists.values()) or len(set(map(len, lists.values()))) > 1:
        return None
    if not any(each and isinstance(each[0], (list, np.ndarray)) for each in lists.values()):
        return None
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _holds_lists(column: Any) -> bool:
    """Return whether a column has the documents of a query in each row."""
    if isinstance(column, ARROW):
        return bool(pa.types.is_nested(column.type))
    return len(column) > 0 and isinstance(column[0], (list, tuple, np.ndarray))


def _of_table(argument: str, frame: Frame, names: Names) -> Any:
    """Return the rows of a table as columns."""

    def cells(of: Sequence[str]) -> Iterator[Any]:
        found = settled(dict(zip(of, frame.read(of), strict=True)))
        return zip(*(rows_of(each[:HASHED]) for each in found.values()), strict=False)

    try:
        at = chosen_columns(frame.names, names, cells, "the first record" if frame.are_records else "the table")
    except UnknownColumnError as error:
        if not frame.are_records and (lists := _rows_of_lists(frame)) is not None:
            return _hits(argument, lists, names)
        more = "" if frame.are_records else "if each row is a query, give its column of lists, or an array"
        raise within(error.with_hint(more), argument) from None
    except ValueError as error:
        raise within(error, argument) from None
    named = dict(zip(names.columns, (frame.names[each] for each in at), strict=True))
    called = {field: f"{argument}: the column {name!r}" for field, name in named.items()}
    read = settled(dict(zip(called.values(), frame.read(named.values()), strict=True)))
    cells_of = dict(zip(named, read.values(), strict=True))
    if _holds_lists(cells_of["document"]) and (lists := _rows_of_lists(frame)) is not None:
        return _hits(argument, lists, names)
    if names.kind == "exclude":
        return Pairs(*cells_of.values())
    query = read_ids(called["query"], cells_of.pop("query"))
    document = id_column(called["document"], cells_of.pop("document"))

    def place(_: int, row: int | None) -> str:
        return f"row {row}"

    if cells_of:
        column = read_flat_column(called[names.value], cells_of[names.value], place, labels=names.labels)
    else:
        column = Column(values_by_order(len(document), names), offsets_of([len(document)]))
    lengths = query.rows, len(document), len(column.values)
    if len(set(lengths)) > 1:
        of_columns = shown(dict(zip(named.values(), lengths, strict=False)))
        raise InputError(f"columns differ in length: {of_columns}", argument)
    numbers = column.values
    if numbers.dtype.kind != "f" and not beyond_2_53(numbers).any():
        numbers = numbers.astype(np.float64)
    starts = range(0, len(document), HASHED)
    hashes = in_threads(hashes_of, [document[start : start + HASHED] for start in starts] or [document])
    side = Columns(query.codes, query.distinct, document, numbers, np.concatenate(hashes))
    if names.keep is not None and (kept := best_rows(side, column.present, names.keep, names.ascending)) is not None:
        side, column = side.only(kept), column.reordered(kept, offsets_of([int(kept.sum())]))
        numbers = side.value
    elif names.keep is None and (repeated := repeated_row(side)):
        (row, before), ids = repeated, "document {} of query {}".format(*side.words(repeated[0]))
        raise InputError(f"{ids} is in row {before} already; {once(names.kind)}", argument, f"row {row}")
    if names.kind == "qrels":  # a query without judgments counts
        rows = np.arange(len(numbers)) if column.present is None else np.flatnonzero(column.present)
        side = side if column.present is None else side.only(column.present)
        return side._replace(place=lambda row: f"row {rows[row]}")
    return side.retrieved(column.present)  # after an outer join, a document without a score was not retrieved


# Hits


def _hits(argument: str, side: Any, names: Names) -> Any:
    """Return hits as mappings of ids to values, by query or in the order of the queries; others unchanged."""
    if names.kind == "exclude":
        return side
    if isinstance(side, Mapping):
        side = answers_in(side, names)
    if not isinstance(side, (list, tuple, Mapping)):
        return side
    rows = list(side.values()) if isinstance(side, Mapping) else side
    first = next((row for row in rows if not _is_empty(row)), None)
    if first is None or _is_plain(first):
        return _without_values(side, names) if names.has_no_value else side
    try:
        reader = HitReader(names, rows, are_named=isinstance(side, Mapping))
        queries: Any = list(side) if isinstance(side, Mapping) else [reader.query(row) for row in rows]
    except ValueError as error:
        raise within(error, argument) from None
    are_named = isinstance(side, Mapping) or all(map(id_kind, map(type, queries)))
    found: list[Any] = []
    are_indices = False
    for query, row in zip(queries if are_named else count(), rows, strict=False):
        try:
            hits = Hits(()) if _is_empty(row) else reader.hits(row)
            if hits is None and not any(found):
                return side
            found.append(reader.documents(shown(query), row, hits))
        except ValueError as error:
            raise within(error, argument) from None
        are_indices |= hits is not None and hits.are_indices
    if reader.warning:
        warn(f"{argument}: {reader.warning}")
    if are_indices:  # an "id" beside them is that of the response
        return Indices(dict(zip(side, found, strict=True)) if isinstance(side, Mapping) else found)
    if are_named:
        return dict_of_queries(argument, queries, found)
    return ByPosition(found, [unnamed(row, names) for row in rows])


def _without_values(side: Any, names: Names) -> Any:
    """Return mappings of documents to values as the documents alone: in their order in a run, else each relevant."""

    def alone(row: Any) -> Any:
        return by_id(row, None, names.kind, names.ascending) if isinstance(row, Mapping) else row

    return {query: alone(row) for query, row in side.items()} if isinstance(side, Mapping) else list(map(alone, side))


def dict_of_queries(argument: str, queries: Sequence[Any], rows: Sequence[Any]) -> dict[Any, Any]:
    """Return the rows by the ids of their queries, which must differ."""
    found = dict(zip(queries, rows, strict=True))
    if len(found) < len(queries):
        first: dict[Any, int] = {}
        at, again = next((at, query) for at, query in enumerate(queries) if first.setdefault(query, at) < at)
        problem = f"query {shown(again)} is in row {first[again]} and in row {at}; give each query once"
        raise InputError(problem, argument)
    return found


def _is_plain(row: Any) -> bool:
    """Return whether a query is a list of numbers or ids, or a mapping of documents to numbers."""
    if isinstance(row, Mapping) or (isinstance(row, tuple) and is_object(row)):
        return not any(isinstance(each, (list, tuple, np.ndarray, Mapping)) for each in fields_of(row).values())
    if isinstance(row, (list, tuple)):
        first = row[0]
    else:
        return isinstance(row, (Set, np.ndarray, *ARROW)) or hasattr(row, "__array__")
    return first is None or isinstance(first, (str, int, float, np.generic))


def _is_empty(row: Any) -> bool:
    return row is None or (isinstance(row, (list, tuple, Mapping)) and not row)


FORMATS = (_of_columns, _hits)  # the first that a side has; numbers, ids and mappings stay as they are
