"""Score Spark DataFrames, for rankings that do not fit on one machine.

Rows are collected into a list per query before they are shuffled, because a list costs Spark little
more than a row. The executors pass the lists to the kernel through Arrow and sum the values, so the
driver receives one row of sums per partition and million documents. Executors need only NumPy and
pyarrow; the modules that read and score rankings are pickled with the job.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inputs.columns import offsets_of, place_among
from ..inputs.fields import refuse_lowest_first, with_names_of_columns
from ..inputs.joins import join_lists
from ..inputs.reading import PART, user_terms
from ..measure.messages import InputError, in_place, mark, shown, warn
from ..measure.options import Cutoffs, Options, QueryOptions
from ..measure.ties import Floats
from .doubts import are_mostly_missing, sentence_on_missing
from .means import mean
from .queries import measure_rankings, refuse_missing
from .spark_join import SparkQueries, is_null, joined
from .spark_rows import queries_of_frame, queries_of_tables


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

    Every row is a document with the id of its query or, if `prediction` and `reference` are arrays,
    a query. A null prediction marks a document that was not retrieved, a null reference a document
    that was not judged. So the full outer join of a run and qrels can be scored directly; a query
    that is only in the run then has no relevant documents. The executors need only NumPy and
    pyarrow. It works in classic and Spark Connect sessions.

    Args:
        df: the DataFrame; its rows in any order.
        prediction: the column of scores.
        reference: the column of relevances.
        query: the column of query ids, integers or strings; needed if a row is a document.
        document: the column of document ids, for `ties="docid"`; then a document that appears twice
            in a query is rejected.
        sample_weight: the column of weights, the same in all rows of a query.
        exclude: a DataFrame in which the id columns have the same names as `query` and `document`:
            documents to remove from rankings and ideals, or, with `exclude_from="run"`, from
            rankings only.
        k: the cutoff or cutoffs.
        use_aggregator: the means over all queries (default) or, if False, a DataFrame with a row
            for every query: its id, and its values in columns with the names of the results.
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
    ...     [("q", 3.0, 2), ("q", 2.0, 0), ("q", 1.0, 1)],
    ...     "query string, score double, relevance int",
    ... )
    >>> columns = {"query": "query", "prediction": "score", "reference": "relevance"}
    >>> compute_spark(df, **columns, k=2)  # doctest: +SKIP
    {'nDCG@2': 0.7601875334318685}
    """
    all_options = {"use_aggregator": use_aggregator, **options}
    parsed = Options.for_method(compute_spark, k, all_options, lacks=("engine",))
    columns = {
        "query": query,
        "prediction": prediction,
        "reference": reference,
        "document": document,
        "sample_weight": sample_weight,
    }
    if parsed.given_order is None:
        refuse_lowest_first(prediction, "prediction")
    frame = queries_of_frame(df, columns, parsed.ties, exclude)
    if parsed.duplicates == "best" and document is None:
        raise InputError(
            f"{mark('duplicates', 'best')} needs the ids of documents: name their column as "
            "document"
        )
    if not parsed.use_aggregator and query is None:
        setting = mark("use_aggregator", False)
        raise InputError(f"query must name the column of query ids if {setting}")
    return _results(frame, parsed)


def compute_spark_tables(
    predictions: Any,
    references: Any,
    *,
    query_ids: Any = None,
    document_ids: Any = None,
    exclude: Any = None,
    fields: Any = None,
    sample_weight: Any = None,
    k: Cutoffs = None,
    **options: Any,
) -> Any:
    """Score two Spark tables, a run and qrels, with the arguments of `compute`.

    Queries without judgments are left out, as where rankings are joined by ids.
    """
    parsed = Options.for_method(compute_spark, k, options, lacks=("engine",))
    if sample_weight is not None:
        hint = "join them, and give data= and the names of its columns, with that of the weights"
        raise InputError("two Spark tables take no weights", "sample_weight", hint=hint)
    fields = with_names_of_columns(fields, query=query_ids, document=document_ids)
    tables = {"predictions": predictions, "references": references}
    if exclude is not None:
        tables["exclude"] = exclude
    return _results(queries_of_tables(tables, fields, parsed.given_order, parsed.ties), parsed)


def _results(frame: Any, options: Options) -> Any:
    if not options.use_aggregator:
        return by_query(frame, options)
    return {name: mean(name, np.array([value])) for name, value in means(frame, options).items()}


def means(frame: Any, options: Options) -> dict[str, float]:
    """Return the mean of every result over all queries, nan if no query has a value.

    Of the errors of the executors, the first in alphabetical order is raised.
    """
    schema = (
        "queries long, missing long, scale double, sums array<double>, weights array<double>, "
        "nulls array<int>, problem string"
    )
    rows = frame.mapInArrow(_travelling(_weighted_sums, options), schema).collect()
    problems = [row.problem for row in rows if row.problem]
    if problems:
        raise ValueError(min(problems))
    rows = [row for row in rows if row.queries]  # a partition may be empty
    if not rows:
        raise ValueError("the DataFrame holds no queries; there is nothing to score")
    # Sums of partitions are brought to the scale of the largest weight, so that none overflows.
    scale = max(row.scale for row in rows)
    if not scale:
        raise InputError(
            f"{mark('sample_weight')} is 0 for every query; give at least one query a weight"
        )
    results = {}
    for index, name in enumerate(options.names):
        total = math.fsum(row.sums[index] * (row.scale / scale) for row in rows)
        weight = math.fsum(row.weights[index] * (row.scale / scale) for row in rows)
        results[name] = total / weight if weight else math.nan
    nulls = set().union(*(row.nulls for row in rows))
    missing, queries = sum(row.missing for row in rows), sum(row.queries for row in rows)
    is_one_table = "origin" not in frame.columns
    if is_one_table and nulls == {1} and options.measures != ("IDCG",):
        raise ValueError("prediction: no row has a score; give the column of scores")
    if nulls & {0, 1} == {1}:
        hint = "if they are of two tables, check that both have the same ids, and scores not null"
        warn(f"no row has both a prediction and a reference; {hint}")
    elif are_mostly_missing(missing, queries, options):
        warn(f"prediction: {sentence_on_missing(missing, queries)}")
    return results


def by_query(frame: Any, options: Options) -> Any:
    """Return a DataFrame with the values of every query, computed when it is used."""
    kind = frame.schema["query"].dataType.simpleString()
    columns = [f"query {kind}", *(f"`{name}` double" for name in options.names)]
    return frame.mapInArrow(_travelling(_values, options), ", ".join(columns))


# On executors


def _travelling(
    function: Callable[..., Any], options: Options
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[Any]]:
    """Return a function that Spark pickles with its modules, because executors lack the package."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__.removesuffix(".scores.spark")])
    return partial(function, options)


def _values(options: Options, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for table in _tables(batches):
        measured = _measure(options, table)
        if measured is not None:
            columns = [measured.ids, *map(pa.array, measured.values)]
            yield pa.record_batch(columns, ["query", *options.names])


def _weighted_sums(options: Options, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield sums over queries, with weights of at most 1 and their scale, and errors as text."""
    for table in _tables(batches):
        row: dict[str, Any] = {}
        try:
            measured = _measure(options, table)
            if measured is not None:
                row = _sums(measured)
        except ValueError as problem:
            row["problem"] = str(problem)
        yield pa.RecordBatch.from_pylist([{**NOTHING, **row}], SUMS)


def _sums(measured: "Measured") -> dict[str, Any]:
    scale = float(measured.weights.max())
    weights = measured.weights / (scale or 1.0)  # all of them may be 0
    sums, sums_of_weights = [], []
    for values in measured.values:
        has_value = ~np.isnan(values)
        sums.append(float(np.sum((values * weights)[has_value])))
        sums_of_weights.append(float(np.sum(weights[has_value])))
    return {
        "queries": len(weights),
        "missing": measured.missing,
        "scale": scale,
        "sums": sums,
        "weights": sums_of_weights,
        "nulls": measured.nulls,
    }


NOTHING = {"queries": 0, "missing": 0, "scale": 0.0, "sums": [0.0], "weights": [0.0], "nulls": []}
SUMS = pa.schema(
    {
        "queries": pa.int64(),
        "missing": pa.int64(),
        "scale": pa.float64(),
        "sums": pa.list_(pa.float64()),
        "weights": pa.list_(pa.float64()),
        "nulls": pa.list_(pa.int32()),
        "problem": pa.string(),
    }
)


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    pending: list[pa.RecordBatch] = []
    documents = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        pending.append(batch)
        documents += pc.sum(pc.list_value_length(batch["prediction"]), min_count=0).as_py()
        if documents >= PART:
            yield pa.Table.from_batches(pending)
            pending, documents = [], 0
    if pending:
        yield pa.Table.from_batches(pending)


class Measured(NamedTuple):
    """Some queries with their values."""

    ids: pa.Array | None  # the id of every query
    values: list[Floats]  # the values of the queries, by result
    weights: Floats  # the weight of every query
    missing: int  # how many of the queries are missing from the run
    # What documents lack: 0 for nothing, 1 for the prediction, 2 for the reference, 3 for both.
    nulls: list[int]


def _measure(options: Options, table: pa.Table) -> Measured | None:
    """Return the queries of a table with their values; None if it has none."""
    columns: Mapping[str, pa.Array]
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    ids, answered = columns.get("query"), None
    if "document" in columns:
        ids, offsets, columns, answered = joined(_with_documents(columns), options)
    elif "missing" in columns:
        _, offsets, columns, _ = _with_documents(columns)
    else:
        offsets = np.arange(table.num_rows + 1)
    if ids is not None and ids.null_count:
        raise ValueError("query: a row has no query id; give each one")
    if len(offsets) == 1:
        return None

    def place(query: int, _: Any = None) -> str:
        if ids is None:
            return "a row (name a query column to learn which)"
        return f"query {shown(ids[query].as_py())}"

    sides, nulls = [columns["prediction"], columns["reference"]], []
    if "missing" in table.column_names:
        lacking = is_null(sides[0]) + 2 * is_null(sides[1])
        nulls = np.unique(lacking).tolist()
        if 3 in nulls and "origin" not in table.column_names:  # a row of one table
            query = int(np.searchsorted(offsets, lacking.argmax(), side="right")) - 1
            problem = "a row has neither a prediction nor a reference"
            raise ValueError(f"{place(query)}: {problem}; give one of them, or leave it out")
        sides = [pa.LargeListArray.from_arrays(offsets, side) for side in sides]
    _refuse_unlike(sides, place)
    weights = np.ones(len(offsets) - 1)
    if "sample_weight" in columns:
        weights = _weights(columns["sample_weight"], offsets, place)
    with in_place("reference", instead_of="references"):  # of text in place of a relevance
        rankings = join_lists(
            sides[0], sides[1], options.ignore_index, options.score_order, options.labels, place
        )
    rankings = rankings._replace(answered=answered, place=place)
    if "excluded" in columns:
        excluded = columns["excluded"].to_numpy(zero_copy_only=False)
        rankings = rankings.only(~excluded, options.exclude_from)
    with user_terms(rankings, relevance="reference", score="prediction"):
        rankings = rankings.with_scores_in(options.score_dtype)
        rankings = rankings.with_highest_first(options.score_order)
        rankings = rankings.with_gains(options.labels)
        refuse_missing(rankings, options)
        scored = rankings.judged_only() if options.judged_only else rankings
        values = measure_rankings(scored, options)
    results = [np.asarray(values[measure][row]) for _, measure, row in options.results]
    return Measured(ids, results, weights, int(rankings.missing.sum()), nulls)


def _with_documents(columns: Mapping[str, pa.Array]) -> SparkQueries:
    """Return queries with a row for every document, with the nulls that `missing` records."""
    offsets = offsets_of(pc.list_value_length(columns["missing"]).to_numpy())
    missing = columns["missing"].flatten().to_numpy()
    lists = {}
    for name, column in columns.items():
        if name not in ("query", "missing"):
            lists[name] = column.flatten()
    if missing.any():
        for bit, name in enumerate(lists):
            lists[name] = pc.if_else(pa.array(missing & (1 << bit) == 0), lists[name], None)
    return SparkQueries(columns["query"], offsets, lists)


def _refuse_unlike(sides: list[pa.Array], place: Callable[[int], str]) -> None:
    """Raise an error for a query that lacks one of its lists, or has lists of other lengths."""
    for name, side in zip(("prediction", "reference"), sides, strict=True):
        if side.null_count:
            raise ValueError(
                f"{name}: {place(int(is_null(side).argmax()))} is null; give an array, empty if "
                "there is no document"
            )
    predicted, referred = (pc.list_value_length(side).to_numpy() for side in sides)
    differs = predicted != referred
    if differs.any():
        query = int(np.argmax(differs))
        raise ValueError(
            f"{place(query)}: predictions and references differ in length, {predicted[query]} and "
            f"{referred[query]}; give both for every document, null for the score of one not "
            "retrieved or the relevance of one not judged"
        )


def _weights(weight: pa.Array, offsets: NDArray[np.int64], place: Callable[[int], str]) -> Floats:
    """Return the weight of every query, which must be the same in all of its rows."""
    values = weight.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)  # NaN if missing
    weights = np.asarray(values[offsets[:-1]])
    is_valid = (values >= 0) & (values < math.inf)
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        query, _ = place_among(offsets, row)
        problem = f"must be finite and not negative in every row; got {weight[row].as_py()}"
        raise InputError(f"{place(query)}: {problem}", "sample_weight")
    is_other = values != np.repeat(weights, np.diff(offsets))
    if is_other.any():
        row = int(np.argmax(is_other))
        query, _ = place_among(offsets, row)
        problem = f"must be the same in all rows of a query; got {weights[query]} and {values[row]}"
        raise InputError(f"{place(query)}: {problem}", "sample_weight")
    return weights
