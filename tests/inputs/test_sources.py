"""DataFrames with named columns: weights, systems, database queries, and the names that are rejected."""

import math
import re
from collections import namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from conftest import MetricFactory
from evaluate import Metric
from every_form import COLUMNS, FRAMES

from ndcg import compute


def table_of(users: int = 40, items: int = 12, seed: int = 0) -> pa.Table:
    """Rows in random order, with tied scores, unjudged and unretrieved items and users without anything relevant."""
    rng = np.random.default_rng(seed)
    rows = users * items
    user, item = np.divmod(rng.permutation(rows), items)
    score, other, label = rng.integers(0, 6, rows) / 2, rng.random(rows), rng.integers(0, 4, rows) * (user % 5 > 0)
    return pa.table(
        {
            "user": [f"user {each}" for each in user],
            "item": item + 100,
            "score": pa.array(score, mask=rng.random(rows) < 0.1),
            "other": other,
            "label": pa.array(label, mask=rng.random(rows) < 0.2),
            "weight": (user % 7).astype(float),
        }
    )


def columns_of(table: pa.Table) -> dict[str, Any]:
    return {argument: table[name] for argument, name in COLUMNS.items()}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_column_weighs_the_queries(ndcg: Metric, tmp_path: Path, frame: str) -> None:
    table = table_of()
    users = list(dict.fromkeys(table["user"].to_pylist()))
    weights = [int(user.removeprefix("user ")) % 7 for user in users]
    expected = ndcg.compute(**columns_of(table), k=5, sample_weight=weights)
    assert expected != ndcg.compute(**columns_of(table), k=5)
    assert ndcg.compute(data=FRAMES[frame](table, tmp_path), **COLUMNS, k=5, sample_weight="weight") == expected


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_may_have_one_row(ndcg: Metric, tmp_path: Path, frame: str) -> None:
    row = pa.table({"user": ["user 1"], "item": [101], "score": [0.5], "label": [2]})
    assert ndcg.compute(data=FRAMES[frame](row, tmp_path), **COLUMNS) == {"nDCG": 1.0}


def test_systems_may_be_columns(ndcg: Metric) -> None:
    table = table_of()
    names = {argument: name for argument, name in COLUMNS.items() if argument != "predictions"}
    shared = {argument: table[name] for argument, name in names.items()}
    expected = ndcg.compare(systems={"a": table["score"], "b": table["other"]}, **shared, k=5)
    assert ndcg.compare(data=table, systems={"a": "score", "b": "other"}, **names, k=5) == expected


RECORDS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "dicts": lambda rows: rows,
    "a generator of dicts": lambda rows: (row for row in rows),
    "named tuples": lambda rows: [namedtuple("Row", row)(**row) for row in rows],  # type: ignore[misc]
    "data classes": lambda rows: [make_dataclass("Row", row)(**row) for row in rows],
}


@pytest.mark.parametrize("kind", RECORDS)
def test_a_frame_may_be_records(ndcg: Metric, kind: str) -> None:
    rows = [{**row, "score": row["score"] or 0.0} for row in table_of().to_pylist()]
    expected = ndcg.compute(data=pa.Table.from_pylist(rows), **COLUMNS, k=5)
    assert ndcg.compute(data=RECORDS[kind](rows), **COLUMNS, k=5) == expected
    lacking = [rows[0], {"user": "user 1"}]
    with pytest.raises(ValueError, match=r"^data: record 1 has no 'item', which the first one has; it has \['user'\]"):
        ndcg.compute(data=RECORDS[kind](lacking), **COLUMNS)


@pytest.mark.parametrize("name", ["rank", "Position", "distance", "dist:float", "loss"])
@pytest.mark.parametrize("frame", FRAMES)
def test_a_column_that_is_best_where_it_is_lowest_needs_an_order(
    fresh_metric: MetricFactory, tmp_path: Path, frame: str, name: str
) -> None:
    table = pa.table({"user": ["a", "a", "b", "b"], name: [1, 2, 1, 2], "label": [0, 1, 1, 0]})
    metric, columns = fresh_metric(keep_in_memory=True), {**BY_USER, "predictions": name}
    for method in (metric.compute, metric.report, metric.explain, metric.documents, metric.add_batch, compute):
        got = {"got": 0.5} if method == metric.explain else {}
        with pytest.raises(
            ValueError, match=rf"^predictions: the column '{name}' is best where it is lowest; give sco"
        ):
            method(data=FRAMES[frame](table, tmp_path), **columns, **got)
    of_systems = {"references": "label", "query_ids": "user"}
    with pytest.raises(ValueError, match=rf"^systems\['l2'\]: the column '{name}' is best where it is lowest; give s"):
        metric.compare(data=FRAMES[frame](table, tmp_path), systems={"l2": name, "bm25": "label"}, **of_systems)
    how = {"score_order": "ascending", "use_aggregator": False}
    assert metric.compute(data=FRAMES[frame](table, tmp_path), **columns, **how)["nDCG"] == pytest.approx(
        [1 / math.log2(3), 1]
    )


def test_a_query_to_a_database_runs_once(ndcg: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a query come in another order each time it runs: its columns would not belong together."""
    connection = duckdb.connect()
    connection.execute("set threads to 2")
    connection.register("rows", table_of(400, 50))
    grouped = 'select "user", item, avg(score) as score, max(label) as label from rows group by "user", item'
    once = connection.sql(grouped).to_arrow_table()
    expected = ndcg.compute(data=once, **COLUMNS, k=5)
    for _ in range(5):
        assert ndcg.compute(data=connection.sql(grouped), **COLUMNS, k=5) == pytest.approx(expected, rel=1e-12)


def test_a_row_may_be_a_query_with_its_weight_and_slice(ndcg: Metric) -> None:
    lists = {"scores": [[0.9, 0.1], [0.2, 0.3]], "labels": [[1, 0], [2, 0]], "weight": [1.0, 3.0], "new": [True, False]}
    expected = ndcg.compute(predictions=lists["scores"], references=lists["labels"], sample_weight=[1, 3])
    names = {"predictions": "scores", "references": "labels", "sample_weight": "weight"}
    for frame in (pd.DataFrame(lists), pl.DataFrame(lists), pa.table(lists), lists, datasets.Dataset.from_dict(lists)):
        assert ndcg.compute(data=frame, **names) == expected
        assert list(ndcg.report(data=frame, **names, by="new").slices) == [False, True]


def test_a_list_that_holds_no_names_is_read_as_values(ndcg: Metric) -> None:
    table, weights = table_of(), list(range(40))
    expected = ndcg.compute(**columns_of(table), sample_weight=weights)
    columns = {**COLUMNS, "references": table["label"]}
    assert ndcg.compute(data=table, **columns, sample_weight=weights) == expected


GOOD = pa.table({"user": ["a", "a", "b"], "score": [0.9, 0.1, 0.5], "label": [1, 0, 1], "weight": [1.0, 1.0, 2.0]})
BY_USER = {"predictions": "score", "references": "label", "query_ids": "user"}
HAS = "it has 'user', 'score', 'label', 'weight'"
NO_FRAME = (
    "give a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation, a Hugging Face Dataset, a dict of "
    "columns, or records"
)


def with_column(name: str, values: list[Any]) -> pa.Table:
    return pa.table({**GOOD.to_pydict(), name: values})


Fault = tuple[Any, dict[str, Any], str]  # a frame, arguments in addition to BY_USER, and the words of the error
FAULTS: dict[str, Fault] = {
    "a misspelt column": (
        GOOD,
        {"predictions": "scores"},
        f"predictions: data has no column 'scores'; {HAS}; did you mean \"score\"?",
    ),
    "no such column": (GOOD, {"references": "relevance"}, f"references: data has no column 'relevance'; {HAS}"),
    "no such ids": (GOOD, {"document_ids": "item"}, f"document_ids: data has no column 'item'; {HAS}"),
    "two misspelt columns": (
        GOOD,
        {"predictions": "scores", "query_ids": "users", "references": "clicked"},
        f"predictions, references, query_ids: data has no columns 'scores', 'clicked', 'users'; {HAS}; did you mean "
        '"score", "user"?',
    ),
    "no names": (
        GOOD,
        dict.fromkeys(BY_USER),
        "data: no argument names one of its columns, which are 'user', 'score', 'label', 'weight'; give predictions "
        "and references as their names, which must be text",
    ),
    "no predictions": (
        GOOD,
        {"predictions": None},
        "predictions are missing; give predictions and references together; if the references are in rank order, give "
        'ranks as predictions, with score_order="ascending"',
    ),
    "no query": (with_column("user", ["a", None, "b"]), {}, "query_ids: row 1 is None; give each row an id"),
    "no query of integers": (with_column("user", [1, None, 2]), {}, "query_ids: row 1 is None; give each row an id"),
    "no document": (
        with_column("item", ["x", None, "y"]),
        {"document_ids": "item"},
        "document_ids: row 1 is None; give each row an id",
    ),
    "a document twice": (
        with_column("item", ["x", "x", "y"]),
        {"document_ids": "item"},
        "document_ids: query 'a', row 1: document 'x' is in row 0 already; give it once for a query",
    ),
    "an infinite score": (
        with_column("score", [0.9, float("inf"), 0.5]),
        {},
        "predictions: query 'a', row 1: inf is not a score; None or -inf marks one not retrieved",
    ),
}
OTHER_FAULTS: dict[str, Fault] = {
    "text for scores": (
        with_column("score", ["0.9", "0.1", "0.5"]),
        {},
        "predictions must hold numbers; got text; convert them to float64",
    ),
    "text in a list": (
        {**GOOD.to_pydict(), "score": ["0.9", 0.1, 0.5]},
        {},
        "predictions: query 'a', row 0: '0.9' is not a number; give a number or None",
    ),
    "ids of two types": (
        pd.DataFrame({**GOOD.to_pydict(), "user": ["a", 1, "b"]}),
        {},
        "query_ids must be all text or all integers of at most 64 bits; got 'a' in row 0 and 1 in row 1; give all as "
        "text",
    ),
    "documents of two types": (
        {**GOOD.to_pydict(), "item": ["x", 1, "y"]},
        {"document_ids": "item"},
        "document_ids must be all text or all integers of at most 64 bits; got 'x' in row 0 and 1 in row 1; give all "
        "as text",
    ),
    "fractions for ids": (
        with_column("user", [1.5, 2.5, 1.5]),
        {},
        "query_ids must be integers or strings, one per row; got double; give others as text",
    ),
    "columns of several lengths": (
        {**GOOD.to_pydict(), "score": [0.9]},
        {},
        "with query_ids, all columns must be flat and have the same length, one row per document; got predictions 1, "
        "references 3, query_ids 3 rows; first join tables with different rows by query and document, with an outer "
        "join (docs/inputs.md)",
    ),
    "two columns of a name": (
        GOOD.append_column("score", GOOD["score"]),
        {},
        "predictions: data has several columns 'score'; give them names of their own",
    ),
    "two columns of a name in pandas": (
        pd.concat([GOOD.to_pandas(), GOOD.to_pandas()[["score"]]], axis=1),
        {},
        "predictions: data has several columns 'score'; give them names of their own",
    ),
    "lists": ([[0.9, 0.1]], {}, f"data must be a DataFrame with named columns; got [[0.9, 0.1]]; {NO_FRAME}"),
    "a path": ("rows.parquet", {}, f"data must be a DataFrame with named columns; got 'rows.parquet'; {NO_FRAME}"),
    "an array": (np.ones(2), {}, f"data must be a DataFrame with named columns; got array([1., 1.]); {NO_FRAME}"),
    "several splits": (
        datasets.DatasetDict(test=datasets.Dataset(GOOD)),
        {},
        "predictions, references, query_ids: data has no columns 'score', 'label', 'user'; it has 'test'",
    ),
    "a stream": (
        datasets.Dataset(GOOD).to_iterable_dataset(),
        {},
        f"data: IterableDataset has no rows that can be counted; {NO_FRAME}",
    ),
    "no such weights": (GOOD, {"sample_weight": "w"}, f"sample_weight: data has no column 'w'; {HAS}"),
    "two weights for a query": (
        with_column("weight", [1.0, 2.0, 2.0]),
        {"sample_weight": "weight"},
        "sample_weight: query 'a' is 2.0 in row 1 and 1.0 in row 0; give all rows of a query the same weight",
    ),
    "no weight": (
        with_column("weight", [1.0, None, 2.0]),
        {"sample_weight": "weight"},
        "sample_weight: row 1 is missing; give every row the weight of its query",
    ),
    "text for weights": (
        with_column("weight", ["1", "1", "2"]),
        {"sample_weight": "weight"},
        "sample_weight must hold numbers; got text; convert them to float64",
    ),
    "weights of another length": (
        {**GOOD.to_pydict(), "weight": [1.0]},
        {"sample_weight": "weight"},
        "sample_weight has 1 rows and query_ids 3; give both for every row",
    ),
}


def assert_refused(metric: Metric, frame: Callable[[], Any], columns: dict[str, Any], message: str) -> None:
    """Every method rejects a frame in the same words and leaves the metric's earlier batches intact."""
    metric.add_batch(predictions=[[0.1, 0.2]], references=[[1, 0]])
    for method in (metric.compute, metric.report, metric.add_batch)[: 2 if "sample_weight" in columns else 3]:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            method(data=frame(), **{**BY_USER, **columns})
        assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx(1 / np.log2(3))}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_alike_in_every_library(
    fresh_metric: MetricFactory, tmp_path: Path, fault: str, frame: str
) -> None:
    table, columns, message = FAULTS[fault]
    assert_refused(fresh_metric(keep_in_memory=True), lambda: FRAMES[frame](table, tmp_path), columns, message)


@pytest.mark.parametrize("fault", OTHER_FAULTS)
def test_a_frame_without_rankings_is_rejected(fresh_metric: MetricFactory, fault: str) -> None:
    frame, columns, message = OTHER_FAULTS[fault]
    assert_refused(fresh_metric(keep_in_memory=True), lambda: frame, columns, message)


@pytest.mark.parametrize("frame", FRAMES)
def test_an_empty_frame_is_nothing_to_score(ndcg: Metric, tmp_path: Path, frame: str) -> None:
    with pytest.raises(ValueError, match=r"^predictions and references hold no queries; there is nothing to score$"):
        ndcg.compute(data=FRAMES[frame](GOOD[:0], tmp_path), **BY_USER)


def test_a_wrong_column_of_a_system_is_named(ndcg: Metric) -> None:
    names = {"references": "label", "query_ids": "user"}
    with pytest.raises(ValueError, match=r"systems\['bm25'\]: data has no column 'bm25_score'; it has 'user', "):
        ndcg.compare(data=GOOD, systems={"bm25": "bm25_score", "dense": "score"}, **names)


@pytest.mark.slow
def test_three_million_rows_score_alike_in_every_library(ndcg: Metric) -> None:
    rng = np.random.default_rng(1)
    rows, users, k = 3_000_000, 200_000, 10
    user = np.concatenate([np.arange(users), rng.integers(0, users, rows - users)])
    score, label = rng.integers(0, 50, rows) / 8, rng.integers(0, 3, rows)
    retrieved, judged = rng.random(rows) < 0.9, rng.random(rows) < 0.9
    columns = {"user": user, "score": pa.array(score, mask=~retrieved), "label": pa.array(label, mask=~judged)}
    table = pa.table(columns)
    how: dict[str, Any] = {**BY_USER, "k": k, "ties": "first", "use_aggregator": False}
    expected = ndcg.compute(data=table, **how)
    for frame in (table.to_pandas(), pl.from_arrow(table), duckdb.from_arrow(table)):
        assert ndcg.compute(data=frame, **how) == expected

    def dcg(gain: np.ndarray, *keys: np.ndarray) -> np.ndarray:
        """The sum of the first gains of each user, by the last key first."""
        order = np.lexsort((*keys, user))
        rank = np.arange(1, rows + 1) - np.searchsorted(user[order], user[order])
        return np.bincount(user[order], np.where(rank <= k, gain[order] / np.log2(rank + 1), 0))

    gain = label * judged
    ideal = dcg(gain, -gain)
    by_user = np.divide(dcg(gain * retrieved, -score, ~retrieved), ideal, out=np.zeros(users), where=ideal > 0)
    np.testing.assert_allclose(expected["nDCG@10"], by_user, rtol=1e-12, atol=0)
