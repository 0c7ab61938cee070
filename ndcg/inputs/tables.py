"""Read tables: whatever has named columns, whose rows are documents or have lists of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure.messages import InputError, in_place, mark, shown, warn, within
from ..measure.scoring import in_threads
from ..measure.ties import Mask
from .columns import Column, as_number, beyond_2_53, read_flat_column
from .documents import no_values, values_by_order
from .exclusion import Pairs
from .fields import (
    Names,
    UnknownFieldError,
    are_names_of_fields,
    column_of_ranks,
    fields_without_role,
    instead_of_relevance,
)
from .frame import Frame, frame_of
from .hashes import Columns, best_rows, hashes_of, repeated_row
from .ids import id_column, names_of_totals, once, read_ids, without_totals
from .no_rankings import beside_ranks
from .objects import is_nested
from .roles import columns_of_table
from .sources import ARROW, ROWS_LOOKED_AT, as_python, in_python, library_of, plain, settled

HASHED = 1 << 17  # rows whose ids a thread hashes at a time
UNSPLIT = re.compile("[;|\t]")  # between the names in a header that was read as one


def table_of(argument: str, side: Any, names: Names) -> Frame | None:
    """Return the columns of a table, or of a dict of columns; None for anything else."""
    if isinstance(side, Mapping) and not is_dict_of_columns(side, names):
        return None
    frame = frame_of(argument, side)
    if frame is None or len(frame.names) > 1 or names.name("document") in frame.names:
        return frame
    # A single column has no documents beside its queries; it may be a column of lists.
    _refuse_unsplit_header(argument, "".join(map(str, frame.names)))
    return None


def _refuse_unsplit_header(argument: str, name: str) -> None:
    """Raise an error for a single column whose name holds several, as of a file read wrongly."""
    separator = UNSPLIT.search(name)
    if separator:
        hint = f"read the file with sep={separator[0]!r}, or give its path"
        raise InputError(f"has a single column, {shown(name)}; {hint}", argument)


def is_dict_of_columns(side: Mapping[Any, Any], names: Names) -> bool:
    """Return whether a mapping has columns by their names, not documents by the ids of queries."""
    if not all(map(_is_column, side.values())):
        return False
    given = names.given_names
    return are_names_of_fields(side) or (len(given) > 1 and side.keys() >= {*given})


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, *ARROW)) or getattr(value, "shape", ()) != ()


def examples_of(frame: Frame) -> dict[Any, Any]:
    """Return the first value of each column that is not missing, as far as they can be read."""
    examples: dict[Any, Any] = {}
    for name in frame.names:
        examples[name] = "…"
        with suppress(Exception):  # which reading the chosen columns may raise again
            (column,) = frame.head([name])
            cells = list(map(as_python, islice(iter(column), ROWS_LOOKED_AT)))
            present = (cell for cell in cells if cell is not None and cell == cell)
            examples[name] = next(present, cells[0])
    return examples


# Reading


def read_table(argument: str, frame: Frame, names: Names) -> Columns | Pairs | list[dict[str, Any]]:
    """Return the rows of a table as columns; as objects if they are queries with lists."""
    try:
        there = "the table has the columns"
        chosen = columns_of_table(frame.names, names, there, lambda: examples_of(frame))
    except ValueError as error:
        may_be_queries = names.has_no_query or isinstance(error, UnknownFieldError)
        if may_be_queries and _has_lists(frame):
            return rows_of_frame(frame)  # every row is a query
        raise within(error, argument) from None
    named = chosen | column_of_ranks(frame.names, chosen, names)
    # A column may have two roles, as a rank that is the document.
    read = {name: f"{argument}: the column {name!r}" for name in named.values()}
    # All at once, since a query of a database runs every time.
    columns = settled(dict(zip(read.values(), frame.read(read), strict=True)))
    cells = {role: columns[read[name]] for role, name in named.items()}
    # Each row is a query with lists, or a document with a list of one value.
    if holds_lists(cells["document"]) or holds_lists(cells.get(names.value, ())):
        return rows_of_frame(frame)
    if names.kind == "exclude":
        return Pairs(cells["query"], cells["document"])
    others = fields_without_role(frame.names, chosen)
    return columns_of_rows(argument, cells, names, chosen, "a table", others)


def _held_against_ranks(argument: str, cells: Mapping[str, Any], names: Names) -> bool:
    """Warn of scores that do not fit the ranks beside them; return whether ranks tell an order."""
    problem, has_ranks = fit_of_ranks(cells, names)
    if problem:
        warn(f"{mark(argument)}: {problem}")
    return has_ranks


def fit_of_ranks(cells: Mapping[str, Any], names: Names) -> tuple[str, bool]:
    """Return what a warning says about scores that do not fit the ranks beside them.

    They are equal, or in another order, in the first rows. Return as well whether the ranks tell an
    order: they are not all equal.
    """
    heads = heads_of(cells)
    return beside_ranks(heads["query"], heads.get("score", heads["rank"]), heads["rank"], names)


def heads_of(columns: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the first cells of columns, numbers in text as numbers, but for those of a query."""
    heads = {role: list(in_python(column[:ROWS_LOOKED_AT])) for role, column in columns.items()}
    numbers = {role: list(map(as_number, cells)) for role, cells in heads.items()}
    return numbers | {"query": heads["query"]}


def holds_lists(cells: Any) -> bool:
    """Return whether a column holds lists or other nested values, as its first cell tells."""
    if isinstance(cells, ARROW):
        return bool(pa.types.is_nested(cells.type))
    first = as_python(next((cell for cell in cells if cell is not None), None))
    return is_nested(first)


def _has_lists(frame: Frame) -> bool:
    return any(map(is_nested, examples_of(frame).values()))


def rows_of_frame(frame: Frame) -> list[dict[str, Any]]:
    """Return the rows of a table as objects."""
    cells = []
    for name, column in zip(frame.names, frame.read(frame.names), strict=True):
        cells.append(_cells_of(name, column))
    return [dict(zip(frame.names, row, strict=True)) for row in zip(*cells, strict=True)]


def _cells_of(name: Any, column: Any) -> list[Any]:
    """Return the cells of a column as Python's values, and structs as dicts."""
    if hasattr(column, "column_name"):  # of a Dataset
        return list(map(as_python, column))
    if library_of(column) == "pandas" and column.dtype == object:
        # Arrow would read a row of Spark, which has names, as a list.
        return list(map(as_python, column.where(column.notna(), None)))
    if hasattr(column, "__arrow_c_stream__"):
        with suppress(pa.ArrowException):  # Arrow cannot hold a column of mixed objects
            objects = pa.chunked_array(column)
            if pa.types.is_struct(objects.type):
                return list(objects.to_pylist())
    return list(map(as_python, in_python(plain(str(name), column))))


def columns_of_rows(
    argument: str,
    cells: Mapping[str, Any],
    names: Names,
    fields: Mapping[str, Any],
    form: str,
    others: Sequence[str] = (),
) -> Columns:
    """Return rows of one document as columns, without the rows that have no value.

    The cells are those of the query, the document, and its value and rank, if it has them. `others`
    are the columns or fields that are not read.
    """
    has_ranks = "rank" in cells and _held_against_ranks(argument, cells, names)
    called = {role: f"{argument}: the column {fields.get(role, role)!r}" for role in cells}
    query = read_ids(called["query"], cells["query"])
    document = id_column(called["document"], cells["document"])
    if names.value in cells:
        try:
            values = read_values(called[names.value], cells[names.value], names)
        except InputError as error:
            error.problem += instead_of_relevance(names.kind, fields, others)
            raise
    else:
        by_order = np.array(values_by_order(len(document), names), np.float64)
        values = Column(by_order, np.zeros(1, np.int64))
    lengths = {
        "query": len(query.codes),
        "document": len(document),
        names.value: len(values.values),
    }
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns differ in length: {shown(lengths)}", argument)
    starts = range(0, max(1, len(document)), HASHED)
    hashes = in_threads(lambda start: hashes_of(document[start : start + HASHED]), starts)
    side = Columns(
        query.codes,
        query.distinct,
        document,
        values.values,
        np.concatenate(hashes),
        form=form,
        fields=dict(fields),
        others=others,
        has_values=names.value in cells,
        has_ranks=has_ranks,
    )
    with in_place(argument):
        return checked_rows(side, values.present, names, "row {}".format)


def checked_rows(
    side: Columns, present: Mask | None, names: Names, place_of: Callable[[int], str]
) -> Columns:
    """Return the rows that have a value, with every document of a query once.

    Of a document that a run repeats, the best row is kept, if `keep` says so.

    Raises:
        InputError: a document is there twice, or no row has a value.
    """
    numbers = np.arange(len(side.query))
    side = side._replace(numbers=numbers, place_of=place_of)
    if names.keep is None:
        _refuse_repeated(side, names)
    if present is not None:
        if not present.any():
            raise InputError(no_values(names))
        # A query of which no document has a score is missing from the run.
        side = side.retrieved(present) if names.kind == "run" else side.only(present)
        side = side._replace(lacking=numbers[~present])
    if names.keep is not None:
        side = side.only(best_rows(side, names.keep, names.ascending))
    return side


def _refuse_repeated(side: Columns, names: Names) -> None:
    """Raise an error for the first row whose document its query has in another one."""
    repeated = repeated_row(side)
    if repeated is None:
        return
    row, before = repeated
    document, query = side.words(row)
    problem = f"document {document} of query {query} is in {side.place(before)} already"
    hint = once(names.kind)
    if names.kind == "run":
        hint = f"if the rows are of several systems, give one at a time; else {hint}"
    for name in names_of_totals(side.documents(np.array([row]))):
        hint = f"{without_totals(name)}; {hint}"
    raise InputError(f"{problem}; {hint}", side.place(row))


def read_values(called: str, cells: Any, names: Names) -> Column:
    """Return the values of rows; integers only beyond 2**53."""
    column = read_flat_column(called, cells, lambda _, row: f"row {row}", labels=names.labels)
    numbers = column.values
    if numbers.dtype.kind != "f" and not beyond_2_53(numbers).any():
        return column._replace(values=numbers.astype(np.float64))
    return column
