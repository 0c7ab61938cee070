"""A Spark DataFrame, in any order of rows, has the scores of `compute`; errors name its query."""

import math
import re
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import LEAN_JAVA, ROOT, MetricFactory, lean_environment, spark_session
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from ndcg.scores import spark as room

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore"),  # of PySpark
]
COLUMNS = {"query": "query", "prediction": "score", "reference": "relevance"}
EXAMPLE = ROOT / "examples" / "spark_job.py"
ENVIRONMENT = lean_environment(
    PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", JDK_JAVA_OPTIONS=LEAN_JAVA
)
EXACT = {"rel": 1e-12, "abs": 1e-300}


def table_of(rows: int = 4000, queries: int = 150, seed: int = 0) -> pa.Table:
    """Documents in no order: ties, unretrieved, unjudged, and queries with nothing relevant."""
    rng = np.random.default_rng(seed)
    query = rng.choice(queries, rows, p=np.arange(1, queries + 1) / (queries * (queries + 1) / 2))
    score, relevance = rng.integers(0, 20, rows) / 20, rng.integers(0, 4, rows) * (query % 7 > 0)
    is_unretrieved = rng.random(rows) < 0.1
    is_unjudged = (rng.random(rows) < 0.1) & ~is_unretrieved
    return pa.table(
        {
            "query": [f"query {each}" for each in query],
            "document": [f"d{each}" for each in rng.permutation(rows)],
            "score": pa.array(score, mask=is_unretrieved),
            "relevance": pa.array(relevance, mask=is_unjudged),
            "weight": (query % 3).astype(float),
        }
    )


def frame_of(rows: Any, schema: str | None = None) -> Any:
    return spark_session().createDataFrame(rows, schema)


def flat(table: pa.Table) -> dict[str, Any]:
    return {
        "predictions": table["score"],
        "references": table["relevance"],
        "query_ids": table["query"],
    }


def test_two_tables_score_as_in_memory(ndcg: evaluate.Metric) -> None:
    run = {
        "qid": ["a", "a", "b", "c"],
        "docno": ["x", "y", "x", "x"],
        "score": [0.9, 0.4, 0.7, 0.1],
    }
    qrels = {"qid": ["a", "a", "b", "d"], "docno": ["y", "z", "x", "x"], "label": [1, 2, 1, 1]}
    frames = [frame_of(pa.table(side)) for side in (run, qrels)]
    for how in ({}, {"k": 1}, {"missing": "skip"}, {"score_order": "ascending"}):
        expected = ndcg.compute(predictions=run, references=qrels, **how)
        assert ndcg.compute(predictions=frames[0], references=frames[1], **how) == pytest.approx(
            expected, **EXACT
        )
    tagged = frame_of(
        pa.table({**run, "tags": [["new", "old"]] * 4})
    )  # arrays that are no documents
    expected = ndcg.compute(predictions=run, references=qrels)
    assert ndcg.compute(predictions=tagged, references=frames[1]) == pytest.approx(
        expected, **EXACT
    )
    each_relevant = {"qid": qrels["qid"], "docno": qrels["docno"]}  # ids alone
    expected = ndcg.compute(predictions=run, references=each_relevant)
    found = ndcg.compute(predictions=frames[0], references=frames[1].drop("label"))
    assert found == pytest.approx(expected, **EXACT)
    with refusal("references"):
        ndcg.compute(predictions=frames[0], references=qrels)
    with refusal("sample_weight", "two Spark tables"):
        ndcg.compute(predictions=frames[0], references=frames[1], sample_weight="weight")
    with refusal("predictions", "column 'score'"):
        ndcg.compute(
            predictions=frames[0].selectExpr("qid", "docno", "'1' as score"), references=frames[1]
        )
    with refusal("predictions", "fields={'score': None}"):
        ndcg.compute(predictions=frames[0], references=frames[1], fields={"score": None})
    relevant = {"qid": ["a", "b"], "docno": ["y", "x"]}
    fields = {"relevance": None}
    expected = ndcg.compute(predictions=run, references=relevant, fields=fields)
    found = ndcg.compute(
        predictions=frames[0], references=frame_of(pa.table(relevant)), fields=fields
    )
    assert found == pytest.approx(expected, **EXACT)


RUN_SCHEMA = "query_id string, document_id string, score bigint"
QRELS_SCHEMA = "query_id string, document_id string, relevance int"
EXCLUDE_SCHEMA = "query string, document string"


def in_memory(rows: list[Any], schema: str) -> pa.Table:
    names = [column.split()[0] for column in schema.split(", ")]
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


OPTIONS_OF_TABLES: list[dict[str, Any]] = [
    {"duplicates": "best"},
    {"duplicates": "best", "score_order": "ascending", "k": 2},
    {"duplicates": "best", "ties": "docid", "judged_only": True},
    {"duplicates": "best", "missing": "skip", "zero_division": math.nan, "k": [1, 3]},
]


@pytest.mark.parametrize("options", OPTIONS_OF_TABLES, ids=str)
@pytest.mark.parametrize("with_exclude", [False, True])
def test_random_tables_have_the_value_of_each_query_that_they_have_in_memory(
    ndcg: evaluate.Metric, options: dict[str, Any], with_exclude: bool
) -> None:
    rng = np.random.default_rng([with_exclude, OPTIONS_OF_TABLES.index(options)])

    def pairs(number: int, distinct: bool) -> list[tuple[str, str]]:
        found = [(f"q{rng.integers(9)}", f"d{rng.integers(7)}") for _ in range(number)]
        return [*dict.fromkeys(found)] if distinct else found

    # Scores of which float64 cannot tell neighbors apart, and nulls; some queries are in one table
    # only.
    scores = [*(2**53 + at for at in range(5)), None]
    run = [(*pair, scores[rng.integers(6)]) for pair in pairs(150, distinct=False)]
    qrels = [(*pair, [0, 1, 2, None][rng.integers(4)]) for pair in pairs(40, distinct=True)]
    qrels.append(("judged only", "d0", 1))
    tables = {"predictions": (run, RUN_SCHEMA), "references": (qrels, QRELS_SCHEMA)}
    if with_exclude:
        tables["exclude"] = (pairs(20, distinct=False), EXCLUDE_SCHEMA)
    names = [*dict.fromkeys(query for query, *_ in qrels)]
    how = {**options, "use_aggregator": False}
    expected = ndcg.compute(**{name: in_memory(*table) for name, table in tables.items()}, **how)
    frames = {name: frame_of(*table) for name, table in tables.items()}
    found = {row[0]: row[1:] for row in ndcg.compute(**frames, **how).collect()}
    assert found.keys() == set(names)
    for query, *values in zip(names, *expected.values(), strict=True):
        assert found[query] == pytest.approx(values, **EXACT, nan_ok=True)


GOOD_TABLES = {
    "predictions": [("a", "x", 3), ("a", "y", 2), ("b", "x", 1)],
    "references": [("a", "y", 1), ("b", "x", 1)],
    "exclude": [("a", "z")],
}
# the table, a row to add to it, and the query that the error names
BAD_ROWS_OF_TABLES = [
    ("predictions", (None, "x", 1), []),
    ("references", (None, "x", 1), []),
    ("exclude", (None, "x"), []),
    ("predictions", ("a", None, 1), ["query 'a'"]),
    ("references", ("a", None, 1), ["query 'a'"]),
    ("exclude", ("a", None), ["query 'a'"]),
    ("predictions", ("not judged", None, 1), ["query 'not judged'"]),
    ("references", ("a", "y", 1), ["query 'a'"]),
    ("references", ("a", "y", None), ["query 'a'"]),
]


@pytest.mark.parametrize(("table", "row", "places"), BAD_ROWS_OF_TABLES, ids=str)
def test_a_row_that_tables_in_memory_refuse_is_refused(
    ndcg: evaluate.Metric, table: str, row: Any, places: list[str]
) -> None:
    rows = {**GOOD_TABLES, table: [*GOOD_TABLES[table], row]}
    schemas = dict(zip(rows, (RUN_SCHEMA, QRELS_SCHEMA, EXCLUDE_SCHEMA), strict=True))
    with refusal(table):
        ndcg.compute(
            **{name: in_memory(rows[name], schemas[name]) for name in rows}, duplicates="best"
        )
    with refusal(table, *places):
        ndcg.compute(
            **{name: frame_of(rows[name], schemas[name]) for name in rows}, duplicates="best"
        )


@pytest.mark.parametrize(("row", "places"), [((None, "x"), []), (("a", None), ["query 'a'"])])
def test_documents_to_exclude_from_one_table_have_ids(
    ndcg: evaluate.Metric, row: Any, places: list[str]
) -> None:
    rows = [("a", "x", 3, 0), ("a", "y", 2, 1)]
    frame = frame_of(rows, "query string, document string, score int, relevance int")
    excluded = frame_of([("a", "x"), row], EXCLUDE_SCHEMA)
    with refusal("exclude", *places):
        ndcg.compute_spark(frame, **COLUMNS, document="document", exclude=excluded)


def test_documents_to_exclude_have_the_names_of_tables(ndcg: evaluate.Metric) -> None:
    tables = {"predictions": frame_of(GOOD_TABLES["predictions"], RUN_SCHEMA)}
    tables["references"] = frame_of(GOOD_TABLES["references"], QRELS_SCHEMA)
    excluded = [("a", "x")]
    for schema in (
        "query string, document string",
        "qid string, docno string",
        "user string, query_id string, doc_id string",
    ):
        rows = [("u", *row) if "user" in schema else row for row in excluded]
        assert ndcg.compute(**tables, exclude=frame_of(rows, schema)) == {"nDCG": 1.0}
    other = frame_of(excluded, "judged_by string, item string")
    renamed = {
        **tables,
        "references": tables["references"].withColumnRenamed("query_id", "judged_by"),
    }
    fields = {"query": ("query_id", "judged_by")}
    assert ndcg.compute(**renamed, exclude=other, fields=fields) == {"nDCG": 1.0}
    with refusal("exclude"):
        ndcg.compute(**tables, exclude=other)
    with refusal("exclude", "column 'query'"):
        ndcg.compute(**tables, exclude=frame_of([(1, "x")], "query int, document string"))
    with refusal("exclude", "must be a Spark DataFrame;"):
        ndcg.compute(**tables, exclude={"a": ["x"]})


ALS = "user int, recommendations array<struct<item int, rating float>>"
HITS: dict[int, dict[int, float]] = {1: {10: 4.5, 11: 3.0}, 2: {12: 2.0}, 3: {10: 1.0}}
RANKED = {user: [*items] for user, items in HITS.items()}
BOUGHT: dict[int, dict[int, int]] = {1: {11: 5, 14: 1}, 2: {13: 3, 12: 1}, 3: {10: 1}}


@pytest.mark.parametrize("score_order", ["descending", "ascending"])
def test_arrays_beside_a_table_hold_documents_with_scores_or_ids_best_first(
    ndcg: evaluate.Metric, score_order: Any
) -> None:
    hits = frame_of([(user, [*items.items()]) for user, items in HITS.items()], ALS)
    ranked = frame_of([*RANKED.items()], "user int, items array<int>")
    relevant = frame_of(
        [(user, [*items]) for user, items in BOUGHT.items()], "user int, items array<int>"
    )
    rows = [(user, item, value) for user, items in BOUGHT.items() for item, value in items.items()]
    bought = frame_of(rows, "user int, item int, relevance int")
    sets = {user: {*items} for user, items in BOUGHT.items()}
    how = {"score_order": score_order, "k": 2}
    for run, qrels, predictions, references in (
        (hits, bought, HITS, BOUGHT),
        (hits, relevant, HITS, {user: dict.fromkeys(items, 1) for user, items in BOUGHT.items()}),
        (ranked, relevant, RANKED, sets),
    ):
        expected = ndcg.compute(predictions=predictions, references=references, **how)
        fields = {"score": "rating"} if run is hits else None
        found = ndcg.compute(predictions=run, references=qrels, fields=fields, **how)
        assert found == pytest.approx(expected, **EXACT)
    # Without scores the order counts.
    best_last = frame_of([(user, [*items.items()][::-1]) for user, items in HITS.items()], ALS)
    expected = ndcg.compute(
        predictions={user: [*items][::-1] for user, items in HITS.items()}, references=sets, **how
    )
    found = ndcg.compute(predictions=best_last, references=relevant, fields={"score": None}, **how)
    assert found == pytest.approx(expected, **EXACT)


ITEMS = "user int, items array<int>"


@pytest.mark.parametrize("missing", ["empty", "skip", "raise"])
def test_an_empty_array_is_a_query_without_documents(ndcg: evaluate.Metric, missing: Any) -> None:
    run, qrels = {1: [10, 11], 2: [], 3: [10]}, {1: {11}, 2: {12}, 3: set[int]()}
    expected = ndcg.compute(predictions=run, references=qrels, missing=missing)
    relevant = [(user, [*items]) for user, items in qrels.items()]
    frames = {
        "predictions": frame_of([*run.items()], ITEMS),
        "references": frame_of(relevant, ITEMS),
    }
    assert ndcg.compute(**frames, missing=missing) == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(
    ("side", "row", "place"),
    [
        ("predictions", (2, None), "query 2 is null;"),
        ("references", (2, None), "query 2 is null;"),
        ("predictions", (1, [12]), "query 1 is in two rows;"),
        ("references", (1, []), "query 1 is in two rows;"),
        ("predictions", (2, [None]), "query 2: a row has no document id;"),
        ("references", (None, [10]), "a row has no query id;"),
        ("predictions", (None, []), "a row has no query id;"),
    ],
    ids=str,
)
def test_arrays_that_cannot_be_the_documents_of_a_query_are_refused(
    ndcg: evaluate.Metric, side: str, row: Any, place: str
) -> None:
    rows = {"predictions": [(1, [10, 11])], "references": [(1, [11])]}
    rows[side] = [*rows[side], row]
    with refusal(side, place):
        ndcg.compute(**{name: frame_of(each, ITEMS) for name, each in rows.items()})


def test_ids_may_be_dates(ndcg: evaluate.Metric) -> None:
    rows = [("2024-01-01", "a", 0.9, 0), ("2024-01-01", "b", 0.5, 1), ("2024-01-02", "a", 0.3, 1)]
    texts = frame_of(rows, "query string, document string, score double, relevance int")
    dates = texts.withColumn("query", texts["query"].cast("date"))
    expected = (1 / math.log2(3) + 1) / 2
    assert room.compute_spark(dates, **COLUMNS, document="document")["nDCG"] == pytest.approx(
        expected
    )
    run, qrels = dates.drop("relevance"), dates.drop("score")
    assert ndcg.compute(predictions=run, references=qrels)["nDCG"] == pytest.approx(expected)
    with refusal("references", "column 'query'"):
        ndcg.compute(predictions=run, references=texts.drop("score"))


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return table_of()


@pytest.fixture(scope="module")
def frame(table: pa.Table) -> Any:
    return frame_of(table).cache()


OPTIONS: list[dict[str, Any]] = [
    {},
    {"k": [1, 10, None], "measures": ["nDCG", "DCG", "IDCG", "CG"]},
    {"k": 5, "convention": "lightgbm", "ties": "average"},
    {"k": 5, "zero_division": math.nan, "judged_only": True, "log_base": 10},
    {"gain": [0, 1, 5, 20], "ties": "best"},
    {"ignore_index": 2, "gain": "binary"},
]


def test_compute_takes_a_dataframe(ndcg: evaluate.Metric, frame: Any) -> None:
    columns = {
        "predictions": "score",
        "references": "relevance",
        "query_ids": "query",
        "document_ids": "document",
    }
    how: dict[str, Any] = {"sample_weight": "weight", "convention": "trec_eval", "k": [1, 5]}
    expected = ndcg.compute_spark(frame, **COLUMNS, document="document", **how)
    assert ndcg.compute(data=frame, **columns, **how) == expected
    assert ndcg.compute(data=frame, **columns, k=5, use_aggregator=False).columns == [
        "query",
        "nDCG@5",
    ]
    with refusal("compute_spark has no option engine;"):
        ndcg.compute(data=frame, **columns, engine="sklearn")


def test_a_dataframe_is_not_mixed_with_batches(fresh_metric: MetricFactory, frame: Any) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=[[0.1, 0.2]], references=[[1, 0]])
    with refusal("data", "a Spark DataFrame cannot be scored together with batches;"):
        metric.compute(data=frame, predictions="score", references="relevance", query_ids="query")
    assert metric.compute() == {"nDCG": pytest.approx(1 / math.log2(3))}


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "defaults")
def test_means_are_those_of_compute(
    ndcg: evaluate.Metric, table: pa.Table, frame: Any, options: dict[str, Any]
) -> None:
    expected = ndcg.compute(**flat(table), **options)
    assert ndcg.compute_spark(frame, **COLUMNS, **options) == pytest.approx(expected, **EXACT)
    assert list(ndcg.compute_spark(frame, **COLUMNS, **options)) == list(expected)


@pytest.mark.parametrize("scale", [1, 1e307, 5e-324])
def test_weights_of_queries_stand_in_their_rows(
    ndcg: evaluate.Metric, table: pa.Table, frame: Any, scale: float
) -> None:
    first = table["query"].combine_chunks().dictionary_encode().dictionary.to_pylist()
    weight = [int(query.split()[1]) % 3 * scale for query in first]
    frame = frame.withColumn("weight", frame["weight"] * scale)
    expected = ndcg.compute(**flat(table), sample_weight=weight, k=10)
    assert ndcg.compute_spark(frame, **COLUMNS, sample_weight="weight", k=10) == pytest.approx(
        expected, **EXACT
    )


def test_every_querys_values_are_those_of_compute(ndcg: evaluate.Metric) -> None:
    table = table_of(500, 40, seed=1)
    ids = [int(each.as_py().split()[1]) for each in table["query"]]
    table = table.set_column(0, "query", pa.array(ids))
    found = ndcg.compute_spark(frame_of(table), **COLUMNS, k=[1, 5], use_aggregator=False)
    assert found.columns == ["query", "nDCG@1", "nDCG@5"]
    expected = ndcg.compute(**flat(table), k=[1, 5], use_aggregator=False)
    rows = {row["query"]: (row["nDCG@1"], row["nDCG@5"]) for row in found.collect()}
    assert rows.keys() == set(ids)
    for query, *values in zip(dict.fromkeys(ids), *expected.values(), strict=True):
        assert rows[query] == pytest.approx(values, **EXACT)


@pytest.mark.parametrize(
    "options", [{}, {"k": 2, "ties": "first"}, {"ties": "last", "measures": "DCG"}], ids=str
)
def test_a_row_may_hold_the_arrays_of_a_query(
    ndcg: evaluate.Metric, options: dict[str, Any]
) -> None:
    predictions = [[0.5, 0.5, 0.2], [0.1], [0.3, None, 0.3, 0.9]] * 60
    references = [[0, 1, 2], [1], [2, 1, None, 0]] * 60
    frame = frame_of(pa.table({"id": range(180), "p": predictions, "r": references}))
    expected = ndcg.compute(predictions=predictions, references=references, **options)
    assert ndcg.compute_spark(frame, prediction="p", reference="r", **options) == pytest.approx(
        expected, **EXACT
    )
    values = ndcg.compute_spark(
        frame, query="id", prediction="p", reference="r", use_aggregator=False, **options
    )
    (each,) = ndcg.compute(
        predictions=predictions, references=references, use_aggregator=False, **options
    ).values()
    assert dict(map(tuple, values.collect())) == pytest.approx(dict(enumerate(each)), **EXACT)


def test_executors_have_numpy_and_pyarrow_only() -> None:
    def found(batches: Any) -> Any:
        from importlib.util import find_spec

        for _ in batches:
            names = [name for name in ("numpy", "pyarrow") if find_spec(name)]
            for name in ("evaluate", "datasets", "pandas"):
                with suppress(ImportError):
                    names.append(import_module(name).__name__)
            yield pa.RecordBatch.from_pydict({"names": [" ".join(names)]})

    (row,) = spark_session().range(1, numPartitions=1).mapInArrow(found, "names string").collect()
    assert row.names == "numpy pyarrow"


CONNECT = """
import evaluate
from pyspark.sql import SparkSession

builder = SparkSession.builder.remote("local[2]")
session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
rows = [("q", 3.0, 2), ("q", 2.0, 0), ("q", 1.0, 1), ("empty", 1.0, 0)]
frame = session.createDataFrame(rows, "query string, score double, relevance int")
ndcg = evaluate.load("ndcg.py")
columns = {"query": "query", "prediction": "score", "reference": "relevance"}
assert "connect" in type(frame).__module__, type(frame)
print(ndcg.compute_spark(frame, **columns, k=2))
print(sorted(map(tuple, ndcg.compute_spark(frame, **columns, k=2, use_aggregator=False).collect())))
rows = [("q", "a", 2.0), ("q", "b", 1.0)]
run = session.createDataFrame(rows, "qid string, docid string, score double")
hits = session.createDataFrame([("q", ["b"])], "qid string, items array<string>")
excluded = session.createDataFrame([("q", "a")], "qid string, docid string")
print(ndcg.compute(predictions=run, references=hits, exclude=excluded))
try:
    ndcg.compute_spark(frame.selectExpr("query", "score", "-relevance as relevance"), **columns)
except ValueError as error:
    print(error)
session.stop()
"""


@pytest.mark.xdist_group("processes")
def test_spark_connect_gives_the_same(ndcg: evaluate.Metric) -> None:
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONNECT],
        cwd=ROOT,
        env={
            **ENVIRONMENT,
            "SPARK_TESTING": "1",
        },  # a free port, rather than 15002, which another run may have
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    lists = {"predictions": [[3.0, 2.0, 1.0], [1.0]], "references": [[2, 0, 1], [0]], "k": 2}
    value = ndcg.compute(**lists, use_aggregator=False)["nDCG@2"]
    printed = process.stdout.splitlines()
    assert printed[:2] == [str(ndcg.compute(**lists)), str([("empty", value[1]), ("q", value[0])])]
    assert printed[2] == "{'nDCG': 1.0}"
    assert printed[3].startswith("reference: query 'q': the relevance -")


@pytest.mark.xdist_group("processes")
def test_the_example_job_scores_parquet_files(
    ndcg: evaluate.Metric, table: pa.Table, tmp_path: Path
) -> None:
    import pyspark

    pq.write_table(table, tmp_path / "rows.parquet")
    submit = [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[2]"]
    submit += ["--conf", "spark.sql.shuffle.partitions=2", "--conf", "spark.ui.enabled=false"]
    columns = [argument for name, column in COLUMNS.items() for argument in (f"--{name}", column)]
    values = tmp_path / "values.parquet"
    process = subprocess.run(
        [
            *submit,
            EXAMPLE,
            tmp_path / "rows.parquet",
            *columns,
            "-k",
            "1",
            "10",
            "--values",
            values,
        ],
        env={**ENVIRONMENT, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    for name, value in ndcg.compute(**flat(table), k=[1, 10]).items():
        assert re.search(rf"{name}\W+{value:.4f}", process.stdout)
    expected = ndcg.compute(**flat(table), k=10, use_aggregator=False)["nDCG@10"]
    assert sorted(pq.read_table(values)["nDCG@10"].to_pylist()) == pytest.approx(
        sorted(expected), **EXACT
    )


def test_columns_may_have_any_name(ndcg: evaluate.Metric, table: pa.Table, frame: Any) -> None:
    name = "a `score` of 1.5"
    found = ndcg.compute_spark(
        frame.withColumnRenamed("score", name), **{**COLUMNS, "prediction": name}
    )
    assert found == pytest.approx(ndcg.compute(**flat(table)), **EXACT)


# --- Rejected -------------------------------------------------------------------------------------


def test_only_a_dataframe_with_distinct_column_names_is_accepted(
    ndcg: evaluate.Metric, frame: Any
) -> None:
    with refusal("df", "must be a Spark DataFrame;"):
        ndcg.compute_spark([1], **COLUMNS)
    twice = frame.select("*", frame[COLUMNS["prediction"]])
    with pytest.raises(ValueError, match="prediction must name one column of the DataFrame"):
        ndcg.compute_spark(twice, **COLUMNS)


def test_a_document_of_one_table_has_one_relevance(ndcg: evaluate.Metric) -> None:
    frame = frame_of(
        [("a", "x", 3, 0), ("a", "x", 2, 1)],
        "query string, document string, score int, relevance int",
    )
    how = {**COLUMNS, "document": "document", "duplicates": "best"}
    with refusal("reference", "query 'a'", "document 'x'"):
        ndcg.compute_spark(frame, **how)
    with pytest.raises(Exception, match="several"):
        ndcg.compute_spark(frame, **how, use_aggregator=False).collect()


ARRAYS = {"prediction": "p", "reference": "r"}
GAIN = {"relevant": 3, "partially": 1, "not relevant": 0}
JUDGED = [
    ("q", "a", 0.9, "not relevant"),
    ("q", "b", 0.8, "partially"),
    ("q", "c", 0.7, "relevant"),
    ("p", "a", 0.5, "relevant"),
]
JUDGED_SCHEMA = "query string, document string, score double, relevance string"


def test_labels_have_their_gains_in_rows_tables_and_arrays(ndcg: evaluate.Metric) -> None:
    frame = frame_of([*JUDGED, ("p", "b", None, "partially"), ("p", "c", 0.4, None)], JUDGED_SCHEMA)
    numbers = frame.replace({label: f"{gain}" for label, gain in GAIN.items()}, subset="relevance")
    numbers = numbers.withColumn("relevance", numbers["relevance"].cast("double"))
    how = {**COLUMNS, "k": [1, 3], "measures": ["nDCG", "DCG"]}
    expected = ndcg.compute_spark(numbers, **how)
    assert ndcg.compute_spark(frame, **how, gain=GAIN) == expected
    tables = {
        "predictions": frame.select("query", "document", "score"),
        "references": frame.drop("score"),
    }
    both = {**tables, "references": numbers.drop("score")}
    assert ndcg.compute(**tables, gain=GAIN) == ndcg.compute(**both)
    arrays = frame_of(
        [([0.9, 0.8, 0.7], ["not relevant", "partially", "relevant"])],
        "p array<double>, r array<string>",
    )
    in_memory = {"predictions": [[0.9, 0.8, 0.7]], "references": [[0, 1, 3]]}
    assert ndcg.compute_spark(arrays, **ARRAYS, gain=GAIN) == ndcg.compute(**in_memory)


@pytest.mark.parametrize("order", ["descending", "ascending"])
@pytest.mark.parametrize("options", [{}, {"judged_only": True}, {"ties": "docid"}], ids=str)
def test_a_document_counts_once_at_its_best_rank(
    ndcg: evaluate.Metric, order: Any, options: dict[str, Any]
) -> None:
    rng = np.random.default_rng(7)
    rows = [(f"q{at % 9}", f"d{rng.integers(6)}", int(rng.integers(5))) for at in range(90)]
    relevance = {
        (query, f"d{at}"): at % 3
        for query in {row[0] for row in rows}
        for at in range(8)
        if at != 4
    }
    sign = -1 if order == "ascending" else 1
    once: dict[tuple[str, str], int] = {}
    for query, document, score in rows:
        once[query, document] = max(
            score, once.get((query, document), score), key=lambda each: sign * each
        )
    how = {"score_order": order, "k": 4, **options}
    tables = [
        frame_of(each, "query string, document string, score double")
        for each in (
            [(q, d, float(s)) for q, d, s in rows],
            [(q, d, float(s)) for (q, d), s in once.items()],
        )
    ]
    qrels = frame_of(
        [(q, d, r) for (q, d), r in relevance.items()],
        "query string, document string, relevance int",
    )
    several, expected = (
        ndcg.compute(predictions=each, references=qrels, **how, duplicates="best")
        for each in tables
    )
    assert several == pytest.approx(expected, **EXACT)
    joined = [each.join(qrels, ["query", "document"], "left") for each in tables]
    columns = {**COLUMNS, "document": "document"}
    several, expected = (
        ndcg.compute_spark(each, **columns, **how, duplicates="best") for each in joined
    )
    assert several == pytest.approx(expected, **EXACT)


def test_of_many_arrays_those_of_two_lengths_are_named(ndcg: evaluate.Metric) -> None:
    rows = [(7, [1.0], [1]), (8, [2.0, 1.0], [1]), (9, [1.0], [0])]
    frame = frame_of(rows, "id int, p array<double>, r array<int>").coalesce(1)
    with refusal("query 8: predictions and references differ in length, 2 and 1;"):
        ndcg.compute_spark(frame, **ARRAYS, query="id")


def test_a_document_may_end_one_query_and_begin_the_next(ndcg: evaluate.Metric) -> None:
    rows = [("p", "a", 0.2, 1), ("p", "b", 0.4, 0), ("q", "b", 0.3, 1)]
    frame = frame_of(rows, "query string, document string, score double, relevance int").coalesce(1)
    expected = {"nDCG": pytest.approx((1 / math.log2(3) + 1) / 2)}
    assert ndcg.compute_spark(frame, **COLUMNS, document="document") == expected


def test_values_that_are_rejected_are_sparks_error_when_they_are_used(
    ndcg: evaluate.Metric,
) -> None:
    rows = frame_of([("q", 1.0, -1)], "query string, score double, relevance int")
    frame = ndcg.compute_spark(rows, **COLUMNS, use_aggregator=False)
    with pytest.raises(Exception, match="negative"):
        frame.collect()


# --- Parts ----------------------------------------------------------------------------------------


@given(
    batches=st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=12), part=st.integers(1, 40)
)
def test_a_part_ends_with_the_batch_that_fills_it(batches: list[list[int]], part: int) -> None:
    whole = [
        pa.record_batch(
            {"prediction": pa.array([[0.5] * length for length in each], pa.list_(pa.float64()))}
        )
        for each in batches
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "PART", part)
        parts = list(room._tables(iter(whole)))
    documents = [pa.compute.list_value_length(each["prediction"]) for each in parts]
    assert [length for each in documents for length in each.to_pylist()] == [
        at for each in batches for at in each
    ]
    for at, each in enumerate(documents):
        *before, last = [sum(chunk.to_pylist()) for chunk in each.chunks]
        assert len(each)
        assert sum(before) < part
        assert sum(before) + last >= part or at == len(parts) - 1
