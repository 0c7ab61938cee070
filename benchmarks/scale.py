"""More than memory and than one machine: streaming and Spark at scale, into benchmarks/SCALE.md.

python benchmarks/scale.py                 # everything: 15 minutes, 8 GB of disk
python benchmarks/scale.py streaming       # or spark
"""

import argparse
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from contenders import stock_metric
from measure import memory_of_process

HERE = Path(__file__).resolve().parent
NDCG = str(HERE.parent / "ndcg.py")
BATCH = 1_000, 1_000  # queries, documents
BATCHES = 500
ROWS = 20_000_000
WINDOW_ROWS = 6_000_000
COLUMNS = {"query": "query", "prediction": "score", "reference": "relevance"}  # of the tables


@contextmanager
def anonymous_memory(peaks: dict[str, float], name: str) -> Iterator[None]:
    """Find this process's highest anonymous memory meanwhile, in MB, without mapped files."""
    done = threading.Event()

    def watch() -> None:
        ended = False
        while not ended:
            ended = done.wait(0.005)
            peaks[name] = max(peaks.get(name, 0), memory_of_process("RssAnon") / 1e6)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def touch_memory(folder: str, size: int) -> None:
    """Write and remove a file of so many bytes: unused pages of a virtual machine are slow."""
    part = bytes(1 << 20)
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(size >> 20):
            file.write(part)


def batch_of(at: int) -> dict[str, Any]:
    """Scores and relevances of 1,000 queries in 32-bit floats."""
    rng = np.random.default_rng(at)
    relevance = rng.integers(0, 4, BATCH, dtype=np.int8) * (rng.random(BATCH, np.float32) < 0.05)
    return {
        "predictions": rng.random(BATCH, np.float32),
        "references": relevance.astype(np.float32),
    }


def streaming() -> list[str]:
    """500 million scores through batches."""
    memory: dict[str, float] = {}
    by_hand, adding, kernel = [], 0.0, 0.0
    stock_rate = []
    with tempfile.TemporaryDirectory(dir=".") as cache:
        metric = evaluate.load(NDCG, cache_dir=cache)
        plain = evaluate.load(NDCG)
        touch_memory(cache, BATCHES * 8 * BATCH[0] * BATCH[1])
        for at in range(BATCHES):
            batch = batch_of(at)
            with anonymous_memory(memory, "adding"):
                start = time.perf_counter()
                metric.add_batch(**batch)
                adding += time.perf_counter() - start
            start = time.perf_counter()
            by_hand.append(plain.compute(**batch, k=10)["nDCG@10"])
            kernel += time.perf_counter() - start
            if at % 100 == 0:
                stock = stock_metric()
                few = {name: side[:100] for name, side in batch.items()}
                start = time.perf_counter()
                stock.add_batch(**few)
                stock_rate.append(few["predictions"].size / (time.perf_counter() - start))
        opened = (path.stat().st_size for path in Path("/proc/self/fd").iterdir() if path.exists())
        size = max(opened)  # of the batches, in a file without a name
        with anonymous_memory(memory, "computing"):
            start = time.perf_counter()
            mean = metric.compute(k=10)["nDCG@10"]
            computing = time.perf_counter() - start
    scores = BATCHES * BATCH[0] * BATCH[1]
    rate, stock_mean = scores / adding, float(np.median(stock_rate))
    difference = abs(mean - float(np.mean(by_hand)))
    return [
        "## Streaming",
        "",
        (
            f"{scores / 1e6:,.0f} million 32-bit scores in batches of {BATCH[0]:,} queries of "
            f"{BATCH[1]:,} documents."
        ),
        "",
        "| | goal | found |",
        "|---|---|---|",
        (
            "| rate of `add_batch` over that of a stock `evaluate.Metric` | ≥ 20× | "
            f"{rate / stock_mean:.1f}× |"
        ),
        (
            "| time of `compute()` from the cache over that of the batches in memory | ≤ 2× | "
            f"{computing / kernel:.2f}× |"
        ),
        f"| highest anonymous memory while adding | < 1 GB | {memory['adding']:.0f} MB |",
        f"| highest anonymous memory while computing | < 1 GB | {memory['computing']:.0f} MB |",
        f"| difference from the batches scored by hand | 0 | {difference:.1e} |",
        f"| bytes on disk for a score and its relevance | | {size / scores:.2f} |",
        "",
        (
            f"Adding took {adding:.1f} s, computing {computing:.1f} s, the batches by hand "
            f"{kernel:.1f} s."
        ),
    ]


# Spark


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def cluster() -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """Start a master and two workers in processes of their own."""
    import pyspark

    spark_class = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    port = _free_port()
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    folder = tempfile.mkdtemp(dir=".")
    deploy = "org.apache.spark.deploy"
    commands = [
        [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    ]
    worker = [
        f"{deploy}.worker.Worker",
        "--host",
        "127.0.0.1",
        "--webui-port",
        "0",
        "--cores",
        "1",
        "--memory",
        "3g",
    ]
    commands += [
        [*worker, "--work-dir", f"{folder}/{at}", f"spark://127.0.0.1:{port}"] for at in range(2)
    ]
    processes = []
    try:
        for command in commands:
            quiet = {
                "stdout": subprocess.DEVNULL,
                "stderr": subprocess.DEVNULL,
                "start_new_session": True,
            }
            processes.append(subprocess.Popen([spark_class, *command], env=environment, **quiet))  # noqa: S603
            time.sleep(8)
        yield f"spark://127.0.0.1:{port}", processes[1:]
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(folder)


def rows_of(rows: int, long_query: bool = False) -> pa.Table:
    """Documents of queries of a hundred, in no order; with `long_query` a tenth are of one."""
    rng = np.random.default_rng(rows)
    query = rng.integers(0, rows // 100, rows)
    if long_query:
        query[rng.random(rows) < 0.1] = 0
    relevance = (rng.random(rows) < 0.05) * rng.integers(1, 4, rows)
    columns = {"query": query, "document": np.arange(rows), "score": rng.random(rows).round(4)}
    return pa.table({**columns, "relevance": relevance.astype(np.int8)})


def in_memory(ndcg: evaluate.Metric, table: pa.Table) -> float:
    """Return the scores of `compute` for the same rows."""
    flat = {
        "predictions": table["score"],
        "references": table["relevance"],
        "query_ids": table["query"],
    }
    return float(ndcg.compute(**flat, k=10)["nDCG@10"])


def window_query(frame: Any, k: int | None) -> Any:
    """Two ranks and sums, as one writes them by hand: correct if no scores are tied."""
    from pyspark.sql import Window, functions

    per_query = Window.partitionBy("query")
    ranked, ideal = (
        functions.row_number().over(per_query.orderBy(functions.desc(by)))
        for by in ("score", "relevance")
    )

    def gain(rank: str) -> Any:
        term = functions.col("relevance") / functions.log2(functions.col(rank) + 1)
        return functions.sum(
            term if k is None else functions.when(functions.col(rank) <= k, term).otherwise(0.0)
        )

    ranks = frame.select("query", "relevance", ranked.alias("ranked"), ideal.alias("ideal"))
    sums = ranks.groupBy("query").agg(gain("ranked").alias("dcg"), gain("ideal").alias("idcg"))
    value = functions.when(sums.idcg > 0, sums.dcg / sums.idcg).otherwise(0.0)
    return sums.agg(functions.avg(value)).first()[0]


def shuffled(session: Any) -> int:
    """Return the bytes that all stages so far have written to be shuffled."""
    context = session.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urlopen(address) as answer:  # noqa: S310
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def against_window_query(session: Any, where: str, ndcg: evaluate.Metric, path: str) -> list[str]:
    """Rows of a table, by turns: the fastest of five, after two that warm up."""
    frame = session.read.parquet(path)
    lines = []
    for k in (10, None):
        ways = {
            "theirs": lambda k=k: window_query(frame, k),
            "ours": lambda k=k: next(iter(ndcg.compute_spark(frame, **COLUMNS, k=k).values())),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        values, megabytes = {}, {}
        for _ in range(7):
            for way, run in ways.items():
                before, start = shuffled(session), time.perf_counter()
                values[way] = run()
                seconds[way].append(time.perf_counter() - start)
                megabytes[way] = (shuffled(session) - before) / 1e6
        np.testing.assert_allclose(values["ours"], values["theirs"], rtol=1e-9)
        ratio = min(seconds["theirs"][2:]) / min(seconds["ours"][2:])
        depth = "the whole list" if k is None else f"k={k}"
        lines.append(
            f"| {where}, {WINDOW_ROWS // 1_000_000} million rows, {depth}: speed over a window "
            f"query | ≥ 2× | {ratio:.1f}×, {megabytes['ours']:.0f} MB shuffled for "
            f"{megabytes['theirs']:.0f} |"
        )
    return lines


def apart(value: float, expected: float) -> str:
    """Return the relative difference of two values."""
    return f"{abs(value - expected) / expected:.1e}"


def session_on(master: str) -> Any:
    """Start Spark."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.executor.memory", "2g").config("spark.ui.port", "0")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config(
        "spark.driver.memory", "4g"
    )
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def write_untied(path: str) -> None:
    """Write rows without equal scores, which a window query ranks as we do."""
    distinct = pa.array(np.random.default_rng(0).permutation(WINDOW_ROWS) / WINDOW_ROWS)
    pq.write_table(
        rows_of(WINDOW_ROWS).set_column(2, "score", distinct), path, row_group_size=1_000_000
    )


def times_on_binary(ndcg: evaluate.Metric, frame: Any) -> tuple[float, float]:
    """Return the seconds of ours for relevances of 0 and 1, and of PySpark's `RankingMetrics`."""
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions

    binary = frame.withColumn("relevance", functions.expr("cast(relevance > 0 as int)"))
    start = time.perf_counter()
    ndcg.compute_spark(binary, **COLUMNS, k=10)
    ours = time.perf_counter() - start
    in_order = (
        "transform(sort_array(collect_list(struct(score, document)), false), pair -> pair.document)"
    )
    relevant = "collect_list(if(relevance > 0, document, null))"
    ranked = binary.groupBy("query").agg(
        functions.expr(in_order).alias("ranked"), functions.expr(relevant).alias("relevant")
    )
    start = time.perf_counter()
    pairs = ranked.rdd.map(lambda row: (row.ranked, row.relevant))
    RankingMetrics(pairs).ndcgAt(10)
    return ours, time.perf_counter() - start


def with_a_worker_killed(
    ndcg: evaluate.Metric, frame: Any, worker: int, after: float
) -> tuple[float, float]:
    """Return the mean and seconds if a worker's process is killed so long after the start."""
    killer = threading.Timer(after, lambda: os.killpg(worker, signal.SIGKILL))
    killer.start()
    start = time.perf_counter()
    mean = ndcg.compute_spark(frame, **COLUMNS, k=10)["nDCG@10"]
    seconds = time.perf_counter() - start
    killer.join()
    return mean, seconds


def spark() -> list[str]:
    """20 million rows on a master and two workers."""
    ndcg = evaluate.load(NDCG)
    lines = ["| | goal | found |", "|---|---|---|"]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with cluster() as (address, workers), tempfile.TemporaryDirectory(dir=".") as folder:
        session = session_on(address)
        untied = str(Path(folder).resolve() / "untied.parquet")
        write_untied(untied)
        lines += against_window_query(session, "standalone", ndcg, untied)

        def timed(rows: int, long_query: bool = False) -> tuple[float, float, pa.Table, Any]:
            path = str(Path(folder).resolve() / f"{rows}-{long_query}.parquet")
            table = rows_of(rows, long_query)
            pq.write_table(table, path, row_group_size=1_000_000)
            frame = session.read.parquet(path)
            start = time.perf_counter()
            mean = ndcg.compute_spark(frame, **COLUMNS, k=10)["nDCG@10"]
            return time.perf_counter() - start, mean, table, frame

        timed(200_000)  # the workers start
        seconds = {}
        for rows in (ROWS // 10, ROWS):
            seconds[rows], mean, table, frame = timed(rows)
        expected = whole = in_memory(ndcg, table)
        growth, exact = seconds[ROWS] / seconds[ROWS // 10] / 10, apart(mean, expected)
        millions = f"{ROWS // 1_000_000} million rows"
        lines += [
            (
                f"| {millions}, {ROWS // 100:,} queries: relative difference from `compute` | ≤ "
                f"1e-12 | {exact} |"
            ),
            f"| time per row of {millions} over that of a tenth of them | ≤ 1.2× | {growth:.2f}× |",
        ]
        ours, theirs = times_on_binary(ndcg, frame)
        lines.append(
            "| over PySpark's `RankingMetrics.ndcgAt` on the same rows, binary | > 1× | "
            f"{theirs / ours:.1f}× |"
        )
        long_seconds, mean, table, _ = timed(ROWS, long_query=True)
        expected = in_memory(ndcg, table)
        lines.append(
            f"| one query of a tenth of the {millions}: relative difference from `compute` | ≤ "
            f"1e-12 | {apart(mean, expected)}, in {long_seconds / seconds[ROWS]:.2f}× the time |"
        )
        again, survived = with_a_worker_killed(ndcg, frame, workers[0].pid, seconds[ROWS] / 2)
        killed = (
            f"a worker killed after {seconds[ROWS] / 2:.0f} s of the job: relative difference "
            "from `compute`"
        )
        lines.append(f"| {killed} | ≤ 1e-12 | {apart(again, whole)}, after {survived:.0f} s |")
        session.stop()
        session = session_on("local[2]")
        lines += against_window_query(session, "local[2]", ndcg, untied)
        session.stop()
    where = "A standalone master and two workers of one core each, as processes on this machine."
    took = (
        f"{millions} took {seconds[ROWS]:.0f} s; binary ones {ours:.0f} s, and PySpark's own "
        f"{theirs:.0f} s."
    )
    return ["## Spark", "", where, "", *lines, "", took]


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", choices=[[], "streaming", "spark"], help="default: both"
    )
    asked = parser.parse_args().parts or ["streaming", "spark"]
    versions = ", ".join(
        f"{name} {version(name)}"
        for name in ("numpy", "pyarrow", "datasets", "evaluate", "pyspark")
    )
    head = [
        "# At scale",
        "",
        f"`make bench-scale`, {time.strftime('%Y-%m-%d')}: {os.cpu_count()} CPUs, "
        f"{platform.machine()}, Python {platform.python_version()}, {versions}.",
    ]
    measured = [{"streaming": streaming, "spark": spark}[part]() for part in asked]
    text = "\n".join(line for part in [head, *measured] for line in [*part, ""]).rstrip() + "\n"
    print(text)
    if len(asked) == 2:
        (HERE / "SCALE.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
