"""Score Spark DataFrames, for rankings that do not fit on one machine.

Rows are collected into a list per query before they are shuffled, because a list costs Spark little more than a row.
The executors pass the lists to the kernel through Arrow and sum the values, so the driver receives one row of sums per
partition and million documents. Executors need only NumPy and pyarrow; the modules that read and score rankings are
pickled with the job.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inputs.fields import UnknownColumnError, names_of_side, refuse_lowest_first, with_names_of_columns
from ..inputs.ids import once
from ..inputs.reading import PART, join_lists
from ..inputs.sources import is_spark
from ..inputs.tables import chosen_columns
from ..measure.messages import InputError, mark, missing_library, shown, warn, within
from ..measure.options import Cutoffs, Options, QueryOptions
from ..measure.scoring import InvalidRankingError
from .means import mean
from .queries import measure_rankings, refuse_missing


def compute_spark(
    df: Any,
    *,
    prediction: str,
    reference: str,
    query: str | None = None,
    document: str | None = None,
    sample_weight: str | None = None,
    exclude: Any = None,
    k: Cutoffs = None,
    use_aggregator: bool = True,
    **options: Unpack[QueryOptions],
) -> Any:
    """Score a Spark DataFrame on its executors, as `compute` scores rankings in memory.

    Each row is a document with the id of its query or, if `prediction` and `reference` are arrays, a query. A null
    prediction marks a document that was not retrieved, a null
    reference a document that was not judged. So the full outer join of a run and qrels can be scored directly; a query
    that is only in the run then has no relevant documents. The executors
    need only NumPy and pyarrow. It works in classic and Spark Connect sessions.

    Args:
        df: the DataFrame; its rows in any order.
        prediction: the column of scores.
        reference: the column of relevances.
        query: the column of query ids, integers or strings; needed if a row is a document.
        document: the column of document ids, for `ties="docid"`; then a document that appears
            twice in a query is rejected.
        sample_weight: the column of weights, the same in all rows of a query.
        exclude: a DataFrame in which the id columns have the same names as `query` and `document`:
            documents to remove from rankings and ideals, or, with `exclude_from="run"`, from rankings only.
        k: the cutoff or cutoffs.
        use_aggregator: the means over all queries (default) or, if False, a DataFrame with a
            row for each query: its id, and its values in columns with the names of the results.
        **options: the options of `compute`, except `engine`. Rows have no order, so `ties` may be
            `"first"` or `"last"` only in arrays.

    Returns:
        The means by name, as in `compute`, or the DataFrame, which is computed when it is used.

    Raises:
        ValueError: as in `compute`, with the id of the query; or a column is missing or has a wrong
            type. For a DataFrame of values, Spark raises the error when the DataFrame is used.
        ImportError: PySpark is missing.

    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> df = SparkSession.builder.getOrCreate().createDataFrame(  # doctest: +SKIP
    ...     [("q", 3.0, 2), ("q", 2.0, 0), ("q", 1.0, 1)], "query string, score double, relevance int"
    ... )
    >>> compute_spark(df, query="query", prediction="score", reference="relevance", k=2)  # doctest: +SKIP
    {'nDCG@2': 0.7601875334318685}
    """
    parsed = Options.of_method(compute_spark, k, {"use_aggregator": use_aggregator, **options}, lacks=("engine",))
    columns = {"query": query, "prediction": prediction, "reference": reference, "document": document}
    if parsed.score_order == "descending":
        refuse_lowest_first(prediction, "prediction")
    frame = prepare(df, {**columns, "sample_weight": sample_weight}, parsed.ties, exclude)
    if parsed.duplicates == "best" and document is None:
        needed = "the ids of documents: name their column as document"
        raise InputError(f"{mark('duplicates', 'best')} needs {needed}")
    if not parsed.use_aggregator:
        if query is None:
            raise InputError(f"query must name the column of query ids if {mark('use_aggregator', False)}")
        return by_query(frame, parsed)
    return {name: mean(name, np.array([value])) for name, value in means(frame, parsed).items()}


def joined(
    predictions: Any, references: Any, query_ids: Any, document_ids: Any, score_order: Any, fields: Any = None
) -> Any:
    """Return one DataFrame with the columns of two: predictions, references, and the ids of queries and documents.

    Queries without judgments are left out, as where rankings are joined by ids.
    """
    fields = with_names_of_columns(fields, query=query_ids, document=document_ids)
    sides = []
    for argument, kind, frame in (("predictions", "run", predictions), ("references", "qrels", references)):
        if not is_spark(frame):
            raise InputError(f"must be a Spark DataFrame, as the other side is; got {shown(frame)}", argument)
        names = names_of_side(kind, fields, score_order or "descending")

        def cells(of: Sequence[str], frame: Any = frame) -> Iterator[Any]:
            return iter(frame.select(*map(_quoted, of)).limit(1 << 16).collect())

        try:
            try:
                at = chosen_columns(frame.columns, names, cells, "the table")
            except UnknownColumnError:
                frame = _with_a_row_for_each_document(frame, kind, score_order)
                at = chosen_columns(frame.columns, names, cells, "the table")
        except ValueError as error:
            raise within(error, argument) from None
        as_ids = zip(at, ("query_ids", "document_ids", argument), strict=True)
        sides.append(frame.select([frame[_quoted(frame.columns[each])].alias(name) for each, name in as_ids]))
    run, qrels = sides
    for name in ("query_ids", "document_ids"):
        types = [side.schema[name].dataType.simpleString() for side in sides]
        if _kind_of_ids(types[0]) != _kind_of_ids(types[1]):
            raise ValueError(f"{name} are {types[0]} in the predictions and {types[1]} in the references; cast one")
    run = run.join(qrels.select("query_ids").distinct(), "query_ids", "left_semi")
    both = run.join(qrels, ["query_ids", "document_ids"], "full")
    return both.select("predictions", "references", "query_ids", "document_ids")


def _with_a_row_for_each_document(frame: Any, kind: str, score_order: Any) -> Any:
    """Return a table with the structs of its arrays, as from ALS, or the ids in these, in rows; others unchanged."""
    for column, of in frame.dtypes:
        others = [_quoted(name) for name in frame.columns if name != column]
        if of.startswith("array<struct<"):
            rows = frame.selectExpr(*others, f"inline({_quoted(column)})")
            is_als = kind == "run" and "score" not in rows.columns
            return rows.withColumnRenamed("rating", "score") if is_als else rows
        if of.startswith("array<") and of[6:-1] in ID_TYPES:
            rows = frame.selectExpr(*others, f"posexplode({_quoted(column)}) as (rank, document_id)")
            best_first = "rank" if score_order == "ascending" else "-rank"
            value = f"{best_first} as score" if kind == "run" else "1 as relevance"
            return rows.selectExpr(*others, "document_id", value)
    return frame


def means(frame: Any, options: Options) -> dict[str, float]:
    """Return the mean of each result over all queries in the result of `prepare`: nan if no query has a value.

    Of the errors of the executors, the first in alphabetical order is raised.
    """
    schema = "queries long, scale double, sums array<double>, weights array<double>, nulls array<int>, problem string"
    rows = frame.mapInArrow(_travelling(_weighted_sums, options), schema).collect()
    if problems := sorted(row.problem for row in rows if row.problem):
        raise ValueError(problems[0])
    results = {}
    scale = max((row.scale for row in rows), default=1.0)
    if not scale:
        raise InputError(f"{mark('sample_weight')} is 0 for every query; give at least one query a weight")
    for at, name in enumerate(options.names):
        total, weight = (math.fsum(row[side][at] * (row.scale / scale) for row in rows) for side in ("sums", "weights"))
        results[name] = total / weight if weight else math.nan
    if not sum(row.queries for row in rows):
        raise ValueError("the DataFrame holds no queries; there is nothing to score")
    nulls = {each for row in rows for each in row.nulls}
    if 0 not in nulls and {1, 2} <= nulls:
        hint = "if they are of two tables that were joined, check that both have the same ids"
        warn(f"no row has both a prediction and a reference; {hint}")
    return results


def by_query(frame: Any, options: Options) -> Any:
    """Return a DataFrame with the values of every query in the result of `prepare`, computed when it is used."""
    kind = frame.schema["query"].dataType.simpleString()
    columns = [f"query {kind}", *(f"`{name}` double" for name in options.names)]
    return frame.mapInArrow(_travelling(_values, options), ", ".join(columns))


def prepare(frame: Any, columns: Mapping[str, str | None], ties: str, exclude: Any = None) -> Any:
    """Return the columns that the executors read, with a row for each query; `columns` names them by argument.

    If a row was a document, `missing` has a number for each document of the query, because Spark's lists omit nulls:
    bit i is set if the i-th column of lists was null.
    """
    try:
        from pyspark.sql import functions
    except ImportError:
        raise missing_library("compute_spark", "PySpark", "pyspark") from None
    given = {name: column for name, column in columns.items() if column is not None}
    nested = _are_nested(frame, given)
    chosen = frame.select([functions.col(_quoted(column)).alias(name) for name, column in given.items()])
    if exclude is not None and (nested or "document" not in given):
        raise ValueError("exclude needs one row per document; name the columns of ids as query and document")
    if nested:
        if "document" in given:
            raise ValueError(
                "document needs one row per document; in arrays, put the documents in ascending order of id instead"
            )
        return chosen
    if "query" not in given:
        raise ValueError("query must name the column of query ids if each row is a document")
    if ties == "docid" and "document" not in given:
        raise ValueError('ties="docid" needs the ids of documents: name their column as document')
    if ties in ("first", "last"):
        raise ValueError(
            f'ties="{ties}": rows of a DataFrame have no order; use "average", "docid" with document, or arrays'
        )
    if "document" in given:
        chosen = chosen.withColumn("document", functions.col("document").cast("string"))
    if exclude is not None:
        chosen = chosen.join(_excluded_rows(exclude, frame, given), ["query", "document"], "left")
    kinds = {name: kind for name, kind in chosen.dtypes if name != "query"}
    lists = [f"collect_list(coalesce({name}, cast(0 as {kind}))) as {name}" for name, kind in kinds.items()]
    missing = " + ".join(f"if({name} is null, {1 << bit}, 0)" for bit, name in enumerate(kinds))
    lists.append(f"collect_list(cast({missing} as tinyint)) as missing")
    return chosen.groupBy("query").agg(*map(functions.expr, lists))


def _excluded_rows(exclude: Any, frame: Any, given: Mapping[str, str]) -> Any:
    """Return the documents to exclude: the ids of query and document, and a column of true."""
    from pyspark.sql import functions

    if not hasattr(exclude, "mapInArrow"):
        raise InputError(f"must be a Spark DataFrame if data is one; got {type(exclude).__name__}", "exclude")
    ids = {name: given[name] for name in ("query", "document")}
    for name, column in ids.items():
        if exclude.columns.count(column) != 1:
            there = ", ".join(exclude.columns)
            raise InputError(f"must have one column {shown(column)}, which {name} names; there are {there}", "exclude")
        types = [each.schema[column].dataType.simpleString() for each in (exclude, frame)]
        if _kind_of_ids(types[0]) != _kind_of_ids(types[1]):
            both = f"{types[0]}, and in the rankings {types[1]}"
            raise InputError(f"column {shown(column)} is of type {both}; give both the same type", "exclude")
    columns = [functions.col(_quoted(column)).alias(name) for name, column in ids.items()]
    pairs = exclude.select(columns).withColumn("document", functions.col("document").cast("string")).distinct()
    return pairs.withColumn("excluded", functions.lit(True))


def _are_nested(frame: Any, given: Mapping[str, Any]) -> bool:
    """Return whether predictions and references are arrays; raise an error for a missing column or a wrong type."""
    if not hasattr(frame, "mapInArrow"):
        raise ValueError(f"df must be a Spark DataFrame; got {type(frame).__name__}")
    wrong = {name: column for name, column in given.items() if column not in frame.columns}
    if wrong:
        got = ", ".join(shown(each) if isinstance(each, str) else type(each).__name__ for each in wrong.values())
        names = f"{' and '.join(wrong)} must name {'a column' if len(wrong) == 1 else 'columns'}"
        raise ValueError(f"{names} of the DataFrame; got {got}, and there are {', '.join(frame.columns)}")
    for name, column in given.items():
        if frame.columns.count(column) > 1:
            raise ValueError(f"{name}: the DataFrame has several columns {shown(column)}; give them names of their own")
    types = {name: frame.schema[column].dataType.simpleString() for name, column in given.items()}
    nested = bool(types["prediction"].startswith("array<"))
    for name in ("prediction", "reference"):
        inner = types[name].removeprefix("array<").removesuffix(">")
        if inner == "string" and name == "reference":  # labels
            inner = "double"
        if inner not in NUMBERS or types[name].startswith("array<") != nested:
            problem = "both must be numbers, or both arrays of numbers; cast decimals to double"
            if types[name].startswith("array<struct<"):
                problem = "for documents with their scores, give two tables, predictions=run, references=qrels"
            raise ValueError(
                f"{name}: column {shown(given[name])} is of type {types[name]}, "
                f"prediction of {types['prediction']}; {problem}"
            )
    if types.get("sample_weight", "double") not in NUMBERS:
        raise InputError(
            f"column {shown(given['sample_weight'])} must hold numbers; got {types['sample_weight']}", "sample_weight"
        )
    for name in ("query", "document"):
        if types.get(name, "string") not in ID_TYPES:
            hint = "; cast whole numbers to bigint" if types[name] in ("float", "double") else ""
            problem = f"must hold integers, strings, dates or timestamps; got {types[name]}{hint}"
            raise ValueError(f"{name}: column {shown(given[name])} {problem}")
    return nested


NUMBERS = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double")
INTEGERS = ("tinyint", "smallint", "int", "bigint")
ID_TYPES = (*INTEGERS, "string", "date", "timestamp", "timestamp_ntz")


def _kind_of_ids(of: str) -> str:
    return "integer" if of in INTEGERS else of


# On executors


def _travelling(function: Callable[..., Any], options: Options) -> Callable[[Iterable[pa.RecordBatch]], Iterator[Any]]:
    """Return a function that Spark pickles with the modules it needs, because executors do not have the package."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__.removesuffix(".scores.spark")])
    return partial(function, options)


def _quoted(column: str) -> str:
    return f"`{column.replace('`', '``')}`"


def _values(options: Options, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield every query with its values."""
    for table in _tables(batches):
        queries, values, _ = _measure(options, table)
        yield pa.record_batch([queries, *map(pa.array, values)], ["query", *options.names])


def _weighted_sums(options: Options, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield sums over queries, with weights of at most 1 and their scale, and errors as text."""
    for table in _tables(batches):
        row: dict[str, Any] = {"queries": 0, "scale": 0.0, "sums": [0.0], "weights": [0.0], "nulls": []}
        try:
            _, measured, weight = _measure(options, table)
            valued = [~np.isnan(values) for values in measured]
            row["queries"] = len(weight)
            row["scale"] = float(weight.max())
            weight = weight / (row["scale"] or 1.0)
            row["sums"] = [float(np.sum((values * weight)[had])) for values, had in zip(measured, valued, strict=True)]
            row["weights"] = [float(np.sum(weight[had])) for had in valued]
            if "missing" in table.column_names:  # 1: the prediction is null, 2: the reference
                row["nulls"] = np.unique(pc.list_flatten(table["missing"]).to_numpy() & 3).tolist()
        except ValueError as problem:
            row["problem"] = str(problem)
        yield pa.RecordBatch.from_pylist([row], SUMS)


SUMS = pa.schema(
    {
        "queries": pa.int64(),
        "scale": pa.float64(),
        "sums": pa.list_(pa.float64()),
        "weights": pa.list_(pa.float64()),
        "nulls": pa.list_(pa.int32()),
        "problem": pa.string(),
    }
)


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Combine batches until they have `PART` documents."""
    pending: list[pa.RecordBatch] = []
    documents = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        pending.append(batch)
        documents += pc.sum(pc.list_value_length(batch["prediction"])).as_py() or 0
        if documents >= PART:
            yield pa.Table.from_batches(pending)
            pending, documents = [], 0
    if pending:
        yield pa.Table.from_batches(pending)


def _measure(
    options: Options, table: pa.Table
) -> tuple[pa.Array | None, list[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the ids of queries, the values of each result, and the weights."""
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    queries = columns.get("query")
    begins = np.arange(table.num_rows)
    if queries is not None and queries.null_count:
        raise ValueError("query: a row has no query id; give each one")
    nested = "missing" not in columns
    if not nested:
        offsets = np.append(0, np.cumsum(pc.list_value_length(columns["missing"]), dtype=np.int64))
        begins = offsets[:-1]
        columns = _documents(columns)
        if "document" in columns:
            columns = _in_order_of_ids(columns, np.diff(offsets))
            if options.duplicates == "best":
                columns, offsets = _without_repeats(columns, offsets, options.score_order == "ascending")
                begins = offsets[:-1]
            _refuse_repeats(queries, columns["document"], begins)
        lists = {name: pa.LargeListArray.from_arrays(offsets, columns[name]) for name in ("prediction", "reference")}
        columns.update(lists)
    sides, weight = [columns["prediction"], columns["reference"]], columns.get("sample_weight")

    def place(query: int) -> str:
        if queries is None:
            return "a row (name a query column to learn which)"
        return f"query {shown(queries[query].as_py())}"

    _refuse_unlike(sides, place)
    weights = np.ones(len(begins)) if weight is None else _weights(weight, begins, place)
    try:
        how = options.ignore_index, options.score_order, options.labels
        rankings = join_lists(sides[0], sides[1], *how, lambda query, _: place(query))
        if "excluded" in columns:
            excluded = pc.fill_null(columns["excluded"], False).to_numpy(zero_copy_only=False)
            rankings = rankings.only(~excluded, options.exclude_from)
        rankings = rankings.with_scores_in(options.score_dtype).with_highest_first(options.score_order)
        rankings = rankings if options.labels is None else rankings.with_gains(options.labels)
        if options.missing == "raise":
            refuse_missing(rankings._replace(place=lambda query, _: place(query)))
        values = measure_rankings(rankings.of_judged() if options.judged_only else rankings, options)
    except InvalidRankingError as error:
        argument = {"relevance": "reference", "score": "prediction"}[error.array]
        raise InputError(error.problem, argument, place(error.query), hint=error.hint) from None
    except InputError as error:  # text in place of a relevance
        raise within(error, "reference", instead_of="references") from None
    return queries, [np.asarray(values[measure][row]) for _, measure, row in options.results], weights


def _documents(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Return the columns with a row for each document, with the nulls that `missing` records."""
    missing = columns["missing"].flatten().to_numpy()
    lists = {name: each.flatten() for name, each in columns.items() if name not in ("query", "missing")}
    if missing.any():
        for bit, name in enumerate(lists):
            lists[name] = pc.if_else(pa.array(missing & (1 << bit) == 0), lists[name], None)
    return lists


def _in_order_of_ids(columns: Mapping[str, pa.Array], lengths: NDArray[np.int64]) -> dict[str, pa.Array]:
    """Return the columns with the documents of each query in ascending order of their ids."""
    keys = {"query": np.repeat(np.arange(len(lengths)), lengths), "document": columns["document"]}
    order = pc.sort_indices(pa.table(keys), sort_keys=[(key, "ascending") for key in keys])
    return {name: each.take(order) for name, each in columns.items()}


def _without_repeats(
    columns: dict[str, pa.Array], offsets: NDArray[np.int64], ascending: bool
) -> tuple[dict[str, pa.Array], NDArray[np.int64]]:
    """Return the columns, in order of ids, with the best row of each document, and the offsets of queries."""
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    document, reference = columns["document"], columns["reference"]
    same = np.zeros(len(query), bool)
    same[1:] = _are_equal(document) & (query[1:] == query[:-1])
    if (unlike := same[1:] & ~_are_equal(reference)).any():
        named = shown(document[int(unlike.argmax())].as_py())
        raise ValueError(f"reference: document {named} has several relevances in a query; give it one")
    score = columns["prediction"].cast(pa.float64())
    score = pc.fill_null(score if ascending else pc.negate(score), np.inf).to_numpy(zero_copy_only=False)
    order = np.lexsort((score, ~np.isnan(score), np.cumsum(~same)))
    best = order[np.flatnonzero(~same)]
    kept = np.bincount(query[best], minlength=len(offsets) - 1)
    return {name: each.take(pa.array(best)) for name, each in columns.items()}, np.append(0, np.cumsum(kept))


def _are_equal(values: pa.Array) -> NDArray[np.bool_]:
    """Return whether each value equals the one before it, or both are null."""
    one, other = values[1:], values[:-1]
    nulls = pc.and_(one.is_null(), other.is_null())
    return np.asarray(pc.fill_null(pc.equal(one, other), nulls).to_numpy(zero_copy_only=False))


def _refuse_unlike(sides: list[pa.Array], place: Callable[[int], str]) -> None:
    """Raise an error for a query that lacks one of its lists, or has lists of different lengths."""
    for name, side in zip(("prediction", "reference"), sides, strict=True):
        if side.null_count:
            query = int(np.argmax(side.is_null().to_numpy(zero_copy_only=False)))
            raise ValueError(f"{name}: {place(query)} is null; give an array, empty if there is no document")
    lengths = [pc.list_value_length(side).to_numpy() for side in sides]
    if (lengths[0] != lengths[1]).any():
        query = int(np.argmax(lengths[0] != lengths[1]))
        raise ValueError(
            f"{place(query)}: {lengths[0][query]} predictions and {lengths[1][query]} references; give both for every "
            "document, null for the score of one not retrieved or the relevance of one not judged"
        )


def _weights(weight: pa.Array, begins: NDArray[np.int64], place: Callable[[int], str]) -> NDArray[np.float64]:
    """Return the weight of each query, which must be the same in all of its rows."""
    values = weight.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)  # NaN if missing
    lengths = np.diff(np.append(begins, len(values)))
    weights = np.asarray(values[begins])
    if (wrong := ~((values >= 0) & (values < math.inf))).any():
        row = int(np.argmax(wrong))
        query = int(np.searchsorted(begins, row, "right")) - 1
        raise InputError(
            f"{place(query)}: must be finite and not negative in every row; got {weight[row].as_py()}", "sample_weight"
        )
    if (unlike := values != np.repeat(weights, lengths)).any():
        row = int(np.argmax(unlike))
        query = int(np.searchsorted(begins, row, "right")) - 1
        problem = f"must be the same in all rows of a query; got {weights[query]} and {values[row]}"
        raise InputError(f"{place(query)}: {problem}", "sample_weight")
    return weights


def _refuse_repeats(queries: pa.Array, documents: pa.Array, begins: NDArray[np.int64]) -> None:
    """Raise an error for a document that appears twice in a query, or has no id."""
    same = np.zeros(len(documents), bool)
    same[1:] = pc.fill_null(pc.equal(documents[1:], documents[:-1]), False).to_numpy(zero_copy_only=False)
    same[begins] = False
    for wrong, problem in (
        (same, f"appears twice; {once('run')}"),
        (documents.is_null().to_numpy(zero_copy_only=False), "has no id"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            query = queries[int(np.searchsorted(begins, row, side="right")) - 1].as_py()
            raise InputError(f"document {shown(documents[row].as_py())} {problem}", "document", f"query {shown(query)}")
