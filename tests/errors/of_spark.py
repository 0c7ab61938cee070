"""DataFrames of Spark whose rows, columns or arrays are refused."""

import math
import os
from typing import Any

from refusals import Made, Row, refused

from ndcg import compute, compute_spark, report

LONG = "query string, document string, score double, relevance int, weight double"
LABELED = LONG.replace("relevance int", "relevance string")
ARRAYS = "id int, p array<double>, r array<int>"
GOOD = ("q", "a", 1.0, 1, 1.0)
WEIGHT, DOCUMENT = {"sample_weight": "weight"}, {"document": "document"}
JUDGED = [("q", "a", 0.9, "not relevant", 1.0), ("q", "b", 0.8, "partially", 1.0)]
TABLES = {
    "predictions": [("a", "x", 3), ("a", "y", 2), ("b", "x", 1)],
    "references": [("a", "y", 1), ("b", "x", 1)],
}


def frame(rows: list[Any], schema: str) -> Made:
    """A DataFrame, which needs Spark and Java."""

    def make() -> Any:
        from conftest import problem_with_java, spark_session

        problem = problem_with_java(os.environ.get("JAVA_HOME"), os.environ.get("PATH"))
        if problem:
            raise ModuleNotFoundError(problem)
        return spark_session().createDataFrame(rows, schema)

    return Made(make)


def column(name: str) -> Made:
    """A column of a DataFrame, by its name."""

    def make() -> Any:
        frame([GOOD], LONG).make()  # starts Spark
        from pyspark.sql import functions

        return functions.col(name)

    return Made(make)


def rows(argument: str, *places: str, of: list[Any], schema: str = LONG, **columns: Any) -> Row:
    """The row of a table with a row per document that is refused."""
    names = {"prediction": "score", "reference": "relevance", "query": "query", **columns}
    return refused(compute_spark, argument, *places, df=frame(of, schema), **names)


def arrays(argument: str, *places: str, of: tuple[Any, ...], **columns: Any) -> Row:
    """The row of a table with a row per query that is refused."""
    names = {"prediction": "p", "reference": "r", **columns}
    return refused(compute_spark, argument, *places, df=frame([of], ARRAYS), **names)


def tables(side: str, row: tuple[Any, ...], *places: str) -> Row:
    """The row of two tables of which one has a row that is refused."""
    sides = {**TABLES, side: [*TABLES[side], row]}
    frames = {
        name: frame(of, f"query_id string, document_id string, {value} int")
        for (name, of), value in zip(sides.items(), ("score", "relevance"), strict=True)
    }
    return refused(compute, side, *places, **frames)


OF_ROWS: dict[str, Row] = {
    "a relevance of -1": rows("reference", "query 'q'", of=[("q", "a", 1.0, -1, 1.0)]),
    "a relevance of -2": rows("reference", "query 'q'", of=[("q", "a", 1.0, -2, 1.0)]),
    "nan as a score": rows("prediction", "query 'q'", of=[("q", "a", math.nan, 1, 1.0)]),
    "a score too large for 32 bits": rows(
        "prediction", "query 'r'", of=[GOOD, ("r", "a", 1e39, 1, 1.0)], score_dtype="float32"
    ),
    "no query": rows("query", of=[(None, "a", 1.0, 1, 1.0)]),
    "no document": rows("document", "query 'q'", of=[("q", None, 2.0, 0, 1.0)], **DOCUMENT),
    "a document twice": rows(
        "document", "query 'q'", of=[GOOD, ("q", "a", 2.0, 0, 1.0)], **DOCUMENT
    ),
    "two weights of a query": rows(
        "sample_weight", "query 'q'", of=[GOOD, ("q", "b", 2.0, 0, 2.0)], **WEIGHT
    ),
    "a negative weight": rows(
        "sample_weight", "query 'q'", of=[("q", "a", 1.0, 1, -1.0)], **WEIGHT
    ),
    "no weight": rows("sample_weight", "query 'q'", of=[GOOD, ("q", "b", 1.0, 1, None)], **WEIGHT),
    "a weight of 0": rows("sample_weight", of=[("q", "a", 1.0, 1, 0.0)], **WEIGHT),
    "no query has a value": rows("nDCG", of=[("q", "a", 1.0, 0, 1.0)], zero_division=math.nan),
    "neither a score nor a relevance": rows("query 'r'", of=[GOOD, ("r", "a", None, None, 1.0)]),
    "no scores": rows("prediction", of=[("q", "a", None, 1, 1.0)]),
    "a column of Spark": refused(
        compute, "predictions", data=frame([GOOD], LONG), predictions=column("score")
    ),
    "no rows": rows("the DataFrame", of=[]),
    "a label without a gain": rows(
        "reference", "query 'q'", of=JUDGED, schema=LABELED, gain={"relevant": 3, "not relevant": 0}
    ),
    "labels without gains": rows("reference", "query 'q'", of=JUDGED, schema=LABELED),
    "an order of rows": rows("ties", of=[GOOD], ties="first"),
    "an order of rows, by another name": rows("ties", of=[GOOD], ignore_ties=True),
    "ties by id without ids": rows("ties", of=[GOOD], convention="trec_eval"),
}

OF_COLUMNS: dict[str, Row] = {
    "one that is not there": rows("prediction", of=[GOOD], prediction="scores"),
    "two that are not there": rows("query", of=[GOOD], query="qid", prediction="scores"),
    "one of a long name": rows("prediction", of=[GOOD], prediction="x" * 10**6),
    "a number": rows("prediction", of=[GOOD], prediction=10**5000),
    "a rank as the score": rows("prediction", of=[GOOD], prediction="rank"),
    "text as the score": rows("prediction", of=[GOOD], prediction="document"),
    "no query": rows("query", of=[GOOD], query=None),
    "floats as the query": rows("query", of=[GOOD], query="score"),
    "floats as the document": rows("document", of=[GOOD], document="score"),
    "text as the weight": rows("sample_weight", of=[GOOD], sample_weight="document"),
    "of a report": refused(
        report,
        "data",
        data=frame([GOOD], LONG),
        predictions="score",
        references="relevance",
        query_ids="query",
    ),
}

OF_ARRAYS: dict[str, Row] = {
    "two lengths": arrays("", "query 1", of=(1, [1.0, 2.0], [1]), query="id"),
    "null": arrays("prediction", of=(1, None, [1]), query="id"),
    "no query": arrays("query", of=(None, [1.0], [1]), query="id"),
    "a relevance of -1": arrays("reference", of=(1, [1.0], [-1])),
    "a document": arrays("document", of=(1, [1.0], [1]), document="id"),
    "an integer": arrays("reference", of=(1, [1.0], [1]), reference="id"),
    "values of queries without ids": arrays("query", of=(1, [1.0], [1]), use_aggregator=False),
}

OF_TABLES: dict[str, Row] = {
    "no query": tables("predictions", (None, "x", 1)),
    "no document": tables("references", ("a", None, 1), "query 'a'"),
    "a document twice": tables("predictions", ("a", "y", 1), "query 'a'"),
    "a document judged twice": tables("references", ("a", "y", 1), "query 'a'"),
}

ROWS: dict[str, Row] = {
    f"{group}: {name}": row
    for group, rows_of_group in {
        "rows": OF_ROWS,
        "columns": OF_COLUMNS,
        "arrays": OF_ARRAYS,
        "tables": OF_TABLES,
    }.items()
    for name, row in rows_of_group.items()
}
