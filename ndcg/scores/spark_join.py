"""Join the rows of a query on Spark's executors: of its run, its qrels and documents to exclude.

Spark only brings the rows of a query together, with the table of every row. So a row without an
id, a repeated judgment and a query without documents arrive here, to be counted or refused, and the
join needs no further shuffle.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inputs.columns import negated, offsets_of
from ..inputs.ids import once
from ..measure.messages import InputError, shown
from ..measure.options import Options
from ..measure.ties import Mask

# Where a row is from, as the sum of its tables; both sides for a row of one table,
IN_RUN, IN_QRELS, IN_EXCLUDE = 1, 2, 4
# and, in a table with an array of documents for a query, whether the row begins such an array or
# stands for one without documents, which is empty or null.
BEGINS_ARRAY, IS_EMPTY_ARRAY, IS_NULL_ARRAY = 8, 16, 32

TABLE_ARGUMENTS = {IN_RUN: "predictions", IN_QRELS: "references", IN_EXCLUDE: "exclude"}
ONE_TABLE = IN_RUN | IN_QRELS


class SparkQueries(NamedTuple):
    """Queries and the columns of their documents, query after query."""

    ids: pa.Array  # the id of every query
    offsets: NDArray[np.int64]  # the start of every query, from 0, and the end of the last one
    columns: Mapping[str, pa.Array]  # a row for every document
    answered: Mask | None = None  # as in `Rankings`

    @property
    def query(self) -> NDArray[np.int64]:
        """The query of every row, as an index into the ids."""
        return np.repeat(np.arange(len(self.ids)), np.diff(self.offsets))

    @property
    def origin(self) -> NDArray[np.int8]:
        """Where every row is from."""
        if "origin" in self.columns:
            return np.asarray(self.columns["origin"].to_numpy())
        return np.full(int(self.offsets[-1]), ONE_TABLE, np.int8)

    def named(self, row: int) -> str:
        """Describe the query of a row."""
        return f"query {shown(self.ids[int(self.query[row])].as_py())}"

    def take(self, rows: NDArray[np.int64]) -> "SparkQueries":
        """Return some of the rows, in an order that keeps the rows of a query together."""
        columns = {name: column.take(pa.array(rows)) for name, column in self.columns.items()}
        lengths = np.bincount(self.query[rows], minlength=len(self.ids))
        return self._replace(offsets=offsets_of(lengths), columns=columns)

    def have(self, rows: Mask) -> Mask:
        """Return which queries have one of the rows for which a mask is True."""
        return np.asarray(np.bincount(self.query[rows], minlength=len(self.ids)) > 0)


def joined(queries: SparkQueries, options: Options) -> SparkQueries:
    """Return one row for every document of a query, in ascending order of the ids of documents.

    The prediction is that of the run, null if it does not list the document, and the reference that
    of the qrels, null if they do not judge it. `excluded` is a column of flags. Queries that are
    not in the qrels are left out.

    Raises:
        InputError: a row has no id; the qrels judge a document twice; the run lists one twice, and
            the option `duplicates` does not count its best row; a query has two arrays in a table.
    """
    _refuse_missing_ids(queries)
    _refuse_two_arrays(queries)
    origin = queries.origin
    in_qrels = queries.have(origin & IN_QRELS > 0)
    answered = queries.have((origin & IN_RUN > 0) & (origin & IS_EMPTY_ARRAY > 0))
    # The rows that are documents, in ascending order of query and document id.
    keys = pa.table({"query": queries.query, "document": queries.columns["document"]})
    sort_keys = [("query", "ascending"), ("document", "ascending")]
    order = pc.sort_indices(keys, sort_keys=sort_keys).to_numpy().astype(np.int64)
    rows = queries.take(order[origin[order] & IS_EMPTY_ARRAY == 0])

    query, origin, documents = rows.query, rows.origin, rows.columns["document"]
    is_first = np.ones(len(query), bool)
    is_first[1:] = (query[1:] != query[:-1]) | ~_are_alike(documents[1:], documents[:-1])
    if is_first.all() and "origin" not in rows.columns:
        return rows  # of one table, in which every row is a document
    document = np.cumsum(is_first) - 1  # the same number for all rows of a document
    row_in_run = _row_of_each(rows, IN_RUN, document, options)
    row_in_qrels = _row_of_each(rows, IN_QRELS, document, options)
    excluded = np.zeros(len(row_in_run), bool)
    excluded[document[origin & IN_EXCLUDE > 0]] = True

    row_in_either = np.where(row_in_run < 0, row_in_qrels, row_in_run)
    kept = (row_in_either >= 0) & in_qrels[query[is_first]]
    chosen = rows.take(row_in_either[kept])
    columns = {
        **chosen.columns,
        "prediction": _taken(rows.columns["prediction"], row_in_run[kept]),
        "reference": _taken(rows.columns["reference"], row_in_qrels[kept]),
    }
    if excluded.any():
        columns["excluded"] = pa.array(excluded[kept])
    offsets = offsets_of(np.diff(chosen.offsets)[in_qrels])
    return SparkQueries(
        queries.ids.filter(pa.array(in_qrels)), offsets, columns, answered[in_qrels]
    )


def _refuse_missing_ids(queries: SparkQueries) -> None:
    """Raise an error for a row without the id of its query or document, or with a null array."""
    origin = queries.origin
    if queries.ids.null_count:
        row = int(queries.offsets[int(np.argmax(is_null(queries.ids)))])
        raise InputError("a row has no query id; give each one", _argument(origin[row], "query"))
    is_null_array = origin & IS_NULL_ARRAY > 0
    if is_null_array.any():
        row = int(is_null_array.argmax())
        problem = f"{queries.named(row)} is null; give an array, empty if there is no document"
        raise InputError(problem, _argument(origin[row], "query"))
    lacks = is_null(queries.columns["document"]) & (origin & IS_EMPTY_ARRAY == 0)
    if lacks.any():
        row = int(lacks.argmax())
        problem = "a row has no document id; give each one"
        raise InputError(problem, _argument(origin[row], "document"), queries.named(row))


def _refuse_two_arrays(queries: SparkQueries) -> None:
    origin = queries.origin
    for table in (IN_RUN, IN_QRELS):
        begins = (origin & table > 0) & (origin & (BEGINS_ARRAY | IS_EMPTY_ARRAY) > 0)
        rows = np.flatnonzero(begins)
        query = queries.query[rows]
        again = query[1:] == query[:-1]
        if again.any():
            name = queries.named(int(rows[int(again.argmax())]))
            raise InputError(f"{name} is in two rows; give each query once", TABLE_ARGUMENTS[table])


def _row_of_each(
    rows: SparkQueries, table: int, document: NDArray[np.int64], options: Options
) -> NDArray[np.int64]:
    """Return the rows of documents in a table; -1 for a document that is not in it."""
    in_table = np.flatnonzero(rows.origin & table)
    # Rows are in the order of documents, so that rows of one document follow one another.
    again = document[in_table[1:]] == document[in_table[:-1]]
    if again.any():
        _refuse_repeats(rows, table, in_table[1:][again], in_table[:-1][again], options)
        in_table = in_table[_best_first(rows, table, in_table, document, options)]
        in_table = in_table[np.append(True, document[in_table[1:]] != document[in_table[:-1]])]
    documents = int(document[-1]) + 1 if len(document) else 0
    row_of_each = np.full(documents, -1)
    row_of_each[document[in_table]] = in_table
    return row_of_each


def _refuse_repeats(
    rows: SparkQueries,
    table: int,
    again: NDArray[np.int64],
    before: NDArray[np.int64],
    options: Options,
) -> None:
    """Raise an error for a document that is in a table twice, unless its best row counts."""
    is_judged_twice = rows.origin[again] & ONE_TABLE == IN_QRELS
    if table == IN_QRELS and is_judged_twice.any():
        row = int(again[int(is_judged_twice.argmax())])
        raise _repeated(rows, row, f"appears twice; {once('qrels')}", "references")
    if table == IN_RUN and options.duplicates != "best":
        row = int(again[0])
        argument = _argument(rows.origin[row], "document")
        raise _repeated(rows, row, f"appears twice; {once('run')}", argument)
    if table == IN_QRELS:
        # In one table, all rows of a document repeat its relevance.
        reference = rows.columns["reference"]
        unlike = ~_are_alike(reference.take(pa.array(again)), reference.take(pa.array(before)))
        if unlike.any():
            row = int(again[int(unlike.argmax())])
            raise _repeated(rows, row, "has several relevances; give it one", "reference")


def _repeated(rows: SparkQueries, row: int, problem: str, argument: str) -> InputError:
    document = shown(rows.columns["document"][row].as_py())
    return InputError(f"document {document} {problem}", argument, rows.named(row))


def _best_first(
    rows: SparkQueries,
    table: int,
    in_table: NDArray[np.int64],
    document: NDArray[np.int64],
    options: Options,
) -> NDArray[np.int64]:
    """Return an order in which the best row of a document in the run is its first."""
    if table != IN_RUN:
        return np.arange(len(in_table))
    column = rows.columns["prediction"].take(pa.array(in_table))
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    score = column.fill_null(0).to_numpy()
    lowest_first = score if options.score_order == "ascending" else negated(score)
    # NaN counts as the best, so that it is refused.
    return np.lexsort((lowest_first, ~np.isnan(score), is_null(column), document[in_table]))


def _argument(origin: int, field: str) -> str:
    """Return the argument that names the table of a row, or in one table the column of a field."""
    return TABLE_ARGUMENTS.get(int(origin) & (ONE_TABLE | IN_EXCLUDE), field)


def _taken(column: pa.Array, rows: NDArray[np.int64]) -> pa.Array:
    """Return some values of a column, null for the row -1."""
    return column.take(pa.array(rows, mask=rows < 0))


def is_null(column: pa.Array) -> Mask:
    """Return a mask of the null values of a column."""
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))


def _are_alike(one: pa.Array, other: pa.Array) -> Mask:
    """Return whether two columns have the same values, or are both null."""
    nulls = pc.and_(one.is_null(), other.is_null())
    return np.asarray(pc.fill_null(pc.equal(one, other), nulls).to_numpy(zero_copy_only=False))
