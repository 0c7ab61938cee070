"""Bring the rows of Spark DataFrames into one: of a table, or of run, qrels and exclusions.

Tables are not joined here. Their rows are put below one another, with where they are from, and
grouped by query; the executors join them, since Spark would drop a row without an id and multiply
one that is there twice.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..inputs.fields import (
    Names,
    UnknownFieldError,
    names_of_side,
)
from ..inputs.roles import columns_of_table
from ..inputs.sources import is_spark
from ..measure.messages import InputError, in_place, mark, missing_library, shown
from .spark_join import (
    BEGINS_ARRAY,
    IN_EXCLUDE,
    IN_QRELS,
    IN_RUN,
    IS_EMPTY_ARRAY,
    IS_NULL_ARRAY,
    ONE_TABLE,
)

INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBERS = ("boolean", *INTEGERS, "float", "double")
ID_TYPES = (*INTEGERS, "string", "date", "timestamp", "timestamp_ntz")
ARRAYS_OF_IDS = tuple(map("array<{}>".format, ID_TYPES))
KINDS = {"predictions": "run", "references": "qrels", "exclude": "exclude"}
# Columns of the rows of arrays, under names that no table is likely to have.
ORIGIN, RANK, ITEM = "ndcg: origin", "ndcg: rank", "ndcg: item"


def queries_of_frame(
    frame: Any, columns: Mapping[str, str | None], ties: str, exclude: Any = None
) -> Any:
    """Return a row for every query of one table, whose `columns` are named by argument.

    If its rows are documents, the row of a query has lists, as in `_lists_by_query`.
    """
    if not find_spec("pyspark"):
        raise missing_library("compute_spark", "PySpark", "pyspark")
    given = {name: column for name, column in columns.items() if column is not None}
    nested = _are_nested(frame, given)
    chosen = frame.selectExpr(*(f"{_quoted(column)} as {name}" for name, column in given.items()))
    has_documents = "document" in given
    if nested:
        if has_documents or exclude is not None:
            hint = "in arrays, put the documents in ascending order of id, without those to exclude"
            raise ValueError(f"document and exclude need one row per document; {hint}")
        return chosen
    if "query" not in given:
        raise ValueError("query must name the column of query ids if each row is a document")
    if not has_documents and (exclude is not None or ties == "docid"):
        needs = f"exclude and {mark('ties', 'docid')} need the ids of documents"
        raise InputError(f"{needs}: name their column as document")
    _refuse_order(ties)
    if exclude is not None:
        excluded = _excluded_rows(exclude, given)
        _refuse_other_ids(frame, given, exclude, given, "exclude")
        chosen = chosen.selectExpr("*", f"cast({ONE_TABLE} as tinyint) as origin")
        chosen = chosen.unionByName(excluded, allowMissingColumns=True)
    return _lists_by_query(chosen)


def queries_of_tables(
    tables: Mapping[str, Any], fields: Any, score_order: str | None, ties: str
) -> Any:
    """Return a row for every query of two tables, predictions and references, perhaps with exclude.

    Columns are chosen by the names that tables in memory may have, or that `fields` gives. In an
    array of a query, documents have scores, as from ALS, or are ids, best first.
    """
    _refuse_order(ties)
    sides = {name: _Side.read(name, table, fields, score_order) for name, table in tables.items()}
    run, qrels = sides["predictions"], sides["references"]
    _refuse_other_ids(run.frame, run.columns, qrels.frame, qrels.columns, "references")
    rows = run.rows(IN_RUN).unionByName(qrels.rows(IN_QRELS), allowMissingColumns=True)
    if "exclude" in sides:
        exclude = sides["exclude"]
        _refuse_other_ids(run.frame, run.columns, exclude.frame, exclude.columns, "exclude")
        rows = rows.unionByName(exclude.rows(IN_EXCLUDE), allowMissingColumns=True)
    return _lists_by_query(rows)


def _lists_by_query(rows: Any) -> Any:
    """Return a row for every query, with a list of every column of its documents, in one order.

    Spark's lists omit nulls, so `missing` has a number for every document: bit i is set if the i-th
    column of lists is null there.
    """
    from pyspark.sql import functions

    if "document" in rows.columns:
        rows = rows.withColumn("document", functions.expr("cast(document as string)"))
    lists: list[str] = []
    bits: list[str] = []
    for name, data_type in rows.drop("query").dtypes:
        bits.append(f"if({name} is null, {1 << len(lists)}, 0)")
        lists.append(f"collect_list(coalesce({name}, cast(0 as {data_type}))) as {name}")
    lists.append(f"collect_list(cast({' + '.join(bits)} as tinyint)) as missing")
    if "origin" not in rows.columns:
        return rows.groupBy("query").agg(*map(functions.expr, lists))
    # A query that only the run or the exclusions have does not count, unless it is an error.
    counts = f"origin & {IN_QRELS} > 0 or query is null or document is null"
    lists.append(f"bool_or({counts}) as counts")
    queries = rows.groupBy("query").agg(*map(functions.expr, lists))
    return queries.where("counts").drop("counts")


# Two tables


class _Side(NamedTuple):
    """A table with its columns."""

    frame: Any  # a row for every document
    columns: dict[str, str]  # the columns by field: query, document, and score or relevance
    names: Names

    @classmethod
    def read(cls, argument: str, frame: Any, fields: Any, score_order: str | None) -> "_Side":
        """Find the columns of a table."""
        names = names_of_side(KINDS[argument], fields, score_order)
        _refuse_no_frame(argument, frame)
        with in_place(argument):
            try:
                columns = _chosen(frame, names)
            except UnknownFieldError:
                # Documents may be in arrays.
                frame = _with_a_row_for_each_document(frame, names)
                columns = _chosen(frame, names)
        side = cls(frame, columns, names)
        for field in ("query", "document"):
            _check_ids(argument, columns[field], side.type_of(field))
        if names.value in columns:
            _check_numbers(argument, columns[names.value], side.type_of(names.value))
        elif names.kind == "run" and RANK not in frame.columns:
            problem = f"{mark('fields', {'score': None})}: rows of a Spark DataFrame have no order"
            raise InputError(f"{problem}; give the column of scores, or arrays", argument)
        return side

    def type_of(self, field: str) -> str:
        """Return the type of a field."""
        return _type(self.frame, self.columns[field])

    def rows(self, table: int) -> Any:
        """Return the ids of documents with their values and origin."""
        fields = {name: _quoted(self.columns[name]) for name in ("query", "document")}
        if self.names.value:
            column = self.columns.get(self.names.value)
            value = {"score": "prediction", "relevance": "reference"}[self.names.value]
            fields[value] = _value_by_order(self.names) if column is None else _quoted(column)
        origin = f" + {_quoted(ORIGIN)}" if ORIGIN in self.frame.columns else ""
        fields["origin"] = f"cast({table}{origin} as tinyint)"
        return self.frame.selectExpr(*(f"{column} as {name}" for name, column in fields.items()))


def _chosen(frame: Any, names: Names) -> dict[str, str]:
    columns = [name for name in frame.columns if name not in (ORIGIN, RANK)]
    there = "the table has the columns"

    def examples() -> Mapping[str, Any]:
        first = frame.select(*map(_quoted, columns)).first()
        return dict.fromkeys(columns) if first is None else first.asDict()

    return columns_of_table(columns, names, there, examples)


def _with_a_row_for_each_document(frame: Any, names: Names) -> Any:
    """Return a table with the structs of its arrays, as from ALS, or the ids in these, in rows.

    An array without documents has one row, without an id. Tables without such arrays are returned
    unchanged.
    """
    rank, item, origin = map(_quoted, (RANK, ITEM, ORIGIN))
    for column, kind in frame.dtypes:
        are_structs = kind.startswith("array<struct<")
        if not are_structs and kind not in ARRAYS_OF_IDS:
            continue
        array = _quoted(column)
        others = [_quoted(name) for name in frame.columns if name != column]
        origin_of_row = (
            f"case when {array} is null then {IS_EMPTY_ARRAY + IS_NULL_ARRAY} "
            f"when {rank} is null then {IS_EMPTY_ARRAY} "
            f"when {rank} = 0 then {BEGINS_ARRAY} else 0 end"
        )
        rows = frame.selectExpr("*", f"posexplode_outer({array}) as ({rank}, {item})")
        rows = rows.selectExpr(*others, rank, item, f"{origin_of_row} as {origin}")
        if are_structs:
            return rows.selectExpr(*others, f"{item}.*", rank, origin)
        values = [f"{_value_by_order(names)} as {names.value}"] if names.value else []
        return rows.selectExpr(*others, f"{item} as document_id", *values, rank, origin)
    return frame


def _value_by_order(names: Names) -> str:
    """Return the value of documents that have none: by order in a run, else 1, relevant."""
    if names.kind != "run":
        return "1"
    if names.ascending:
        return _quoted(RANK)
    return f"-{_quoted(RANK)}"


# One table


def _excluded_rows(exclude: Any, given: Mapping[str, str]) -> Any:
    """Return the ids of documents to exclude, in columns named as in the rankings."""
    _refuse_no_frame("exclude", exclude)
    ids = {name: given[name] for name in ("query", "document")}
    with in_place("exclude"):
        _refuse_unknown_columns(exclude, ids)
    columns = [f"{_quoted(column)} as {name}" for name, column in ids.items()]
    return exclude.selectExpr(*columns, f"cast({IN_EXCLUDE} as tinyint) as origin")


def _are_nested(frame: Any, given: Mapping[str, Any]) -> bool:
    """Return whether predictions and references are arrays, in columns of the right types."""
    _refuse_no_frame("df", frame)
    _refuse_unknown_columns(frame, given)
    types = {name: _type(frame, column) for name, column in given.items()}
    checks: dict[str, Callable[[str, str, str], None]] = {
        "prediction": partial(_check_values, of_prediction=types["prediction"]),
        "reference": partial(_check_values, of_prediction=types["prediction"]),
        "sample_weight": _check_numbers,
        "query": _check_ids,
        "document": _check_ids,
    }
    for name, column in given.items():
        checks[name](name, column, types[name])
    return bool(types["prediction"].startswith("array<"))


def _check_values(argument: str, column: str, data_type: str, of_prediction: str) -> None:
    """Raise an error for a column without numbers, or with them in arrays on one side alone."""
    form = "array<{}>" if of_prediction.startswith("array<") else "{}"
    readable = {"prediction": NUMBERS, "reference": (*NUMBERS, "string")}  # labels are text
    if data_type not in map(form.format, readable[argument]):
        tables = "arrays of ids need two tables, predictions= and references="
        hint = f"give numbers in both, or arrays of numbers; {tables}"
        types = f"column {shown(column)} is of type {data_type}, prediction of {of_prediction}"
        raise ValueError(f"{argument}: {types}; {hint}")


def _refuse_no_frame(argument: str, frame: Any) -> None:
    # A Column of Spark has any attribute.
    if not is_spark(frame) or type(frame).__name__ != "DataFrame":
        raise InputError(f"must be a Spark DataFrame; got {shown(frame)}", argument)


def _refuse_unknown_columns(frame: Any, given: Mapping[str, Any]) -> None:
    wrong = [name for name, column in given.items() if frame.columns.count(column) != 1]
    if wrong:
        problem = f"{' and '.join(wrong)} must name one column of the DataFrame"
        got = ", ".join(shown(given[name]) for name in wrong)
        raise ValueError(f"{problem}; got {got}, and there are {', '.join(frame.columns)}")


# Both


def _type(frame: Any, column: str) -> str:
    return str(frame.schema[column].dataType.simpleString())


def _kind_of_ids(data_type: str) -> str:
    return "integer" if data_type in INTEGERS else data_type


def _check_ids(argument: str, column: str, kind: str) -> None:
    if kind not in ID_TYPES:
        problem = f"must hold integers, strings, dates or timestamps; got {kind}"
        raise InputError(
            f"column {shown(column)} {problem}", argument, hint="cast it to one of these"
        )


def _check_numbers(argument: str, column: str, data_type: str) -> None:
    are_labels = argument == "references" and data_type == "string"
    if data_type not in NUMBERS and not are_labels:
        problem = f"column {shown(column)} must hold numbers; got {data_type}"
        raise InputError(problem, argument, hint="cast it to double")


def _refuse_other_ids(
    run: Any, columns: Mapping[str, str], other: Any, others: Mapping[str, str], argument: str
) -> None:
    """Raise an error for ids of another type than those in the rankings."""
    for name in ("query", "document"):
        kinds = [_type(run, columns[name]), _type(other, others[name])]
        if len(set(map(_kind_of_ids, kinds))) > 1:
            column = f"column {shown(others[name])} is of type {kinds[1]}"
            problem = f"{column}, and in the rankings {kinds[0]}; give both the same type"
            raise InputError(problem, argument)


def _refuse_order(ties: str) -> None:
    if ties in ("first", "last"):
        raise ValueError(
            f'ties="{ties}": rows of a DataFrame have no order; use "average", "docid" with '
            "document, or arrays"
        )


def _quoted(column: str) -> str:
    return f"`{column.replace('`', '``')}`"
