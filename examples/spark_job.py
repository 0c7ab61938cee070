"""Score rankings in Parquet files on Spark, and print a table: a script for spark-submit.

    spark-submit examples/spark_job.py ratings.parquet --query user --prediction score --reference
    stars

A row is a document of a query, or a query if the columns of scores and relevances hold arrays.
"""

import argparse
from pathlib import Path

import evaluate
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

NDCG = Path(__file__).resolve().parent.parent / "ndcg.py"


def parse_arguments() -> argparse.Namespace:
    """Return what to score, and how."""
    parser = argparse.ArgumentParser(description="nDCG of rankings in Parquet files.")
    parser.add_argument("parquet", help="a file or folder that Spark can read")
    parser.add_argument("--query", help="column of query ids")
    parser.add_argument("--prediction", default="prediction", help="column of scores")
    parser.add_argument("--reference", default="reference", help="column of relevances")
    parser.add_argument("--document", help="column of document ids, for ties as in trec_eval")
    parser.add_argument("--convention", default="sklearn", help="the library that defines nDCG")
    parser.add_argument("-k", type=int, nargs="+", default=[10], help="cutoffs")
    parser.add_argument("--values", help="where to write the values of every query, as Parquet")
    return parser.parse_args()


def main() -> None:
    """Print the means; write the values of every query if asked to."""
    asked = parse_arguments()
    session = SparkSession.builder.appName("nDCG").getOrCreate()
    frame = session.read.parquet(asked.parquet)
    ndcg = evaluate.load(str(NDCG))
    names = ("query", "prediction", "reference", "document", "convention", "k")
    how = {name: value for name, value in vars(asked).items() if name in names}
    table = Table("measure", "mean over queries")
    for name, mean in ndcg.compute_spark(frame, **how).items():
        table.add_row(name, f"{mean:.4f}")
    if asked.values:
        ndcg.compute_spark(frame, **how, use_aggregator=False).write.mode("overwrite").parquet(
            asked.values
        )
    Console().print(table)
    Console().print(ndcg.signature(k=asked.k, convention=asked.convention), soft_wrap=True)
    session.stop()


if __name__ == "__main__":
    main()
