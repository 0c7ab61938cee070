"""DataFrames with named columns: weights, systems, database queries, and refused names."""

import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass
from functools import partial
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
from refusals import refusal
from sources import COLUMNS, TABLES

from ndcg import compute


def table_of(users: int = 40, items: int = 12, seed: int = 0) -> pa.Table:
    """Rows in random order: ties, unjudged and unretrieved items, users with nothing relevant."""
    rng = np.random.default_rng(seed)
    rows = users * items
    user, item = np.divmod(rng.permutation(rows), items)
    lacking = rng.random(rows)
    score, other, label = (
        rng.integers(0, 6, rows) / 2,
        rng.random(rows),
        rng.integers(0, 4, rows) * (user % 5 > 0),
    )
    return pa.table(
        {
            "user": [f"user {each}" for each in user],
            "item": item + 100,
            "score": pa.array(score, mask=lacking < 0.1),
            "other": other,
            "label": pa.array(label, mask=lacking > 0.8),  # no row lacks both
            "weight": (user % 7).astype(float),
        }
    )


def columns_of(table: pa.Table) -> dict[str, Any]:
    return {argument: table[name] for argument, name in COLUMNS.items()}


@pytest.mark.parametrize("frame", TABLES)
def test_a_frame_has_columns_of_rankings_and_weights(
    ndcg: Metric, tmp_path: Path, frame: str
) -> None:
    table = table_of()
    users = list(dict.fromkeys(table["user"].to_pylist()))
    weights = [int(user.removeprefix("user ")) % 7 for user in users]
    expected = ndcg.compute(**columns_of(table), k=5, sample_weight=weights)
    assert expected != ndcg.compute(**columns_of(table), k=5)
    assert (
        ndcg.compute(data=TABLES[frame](table, tmp_path), **COLUMNS, k=5, sample_weight="weight")
        == expected
    )
    row = pa.table({"user": ["user 1"], "item": [101], "score": [0.5], "label": [2]})
    assert ndcg.compute(data=TABLES[frame](row, tmp_path), **COLUMNS) == {"nDCG": 1.0}


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
    with refusal("data", "record 1"):
        ndcg.compute(data=RECORDS[kind](lacking), **COLUMNS)


def test_records_need_only_the_fields_that_are_named(ndcg: Metric) -> None:
    rows = [{"user": "a", "score": score, "label": label} for score, label in ((0.9, 0), (0.5, 1))]
    assert ndcg.compute(data=[{**rows[0], "note": ""}, rows[1]], **BY_USER) == ndcg.compute(
        data=rows, **BY_USER
    )


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        *((each, "rank") for each in TABLES),
        *(("Arrow", each) for each in ("Position", "distance", "dist:float", "losses")),
    ],
)
def test_a_column_that_is_best_where_it_is_lowest_needs_an_order(
    ndcg: Metric, tmp_path: Path, frame: str, name: str
) -> None:
    table = pa.table({"user": ["a", "a", "b", "b"], name: [1, 2, 1, 2], "label": [0, 1, 1, 0]})
    columns = {**BY_USER, "predictions": name}
    with refusal("predictions", f"the column '{name}'"):
        ndcg.compute(data=TABLES[frame](table, tmp_path), **columns)
    ascending = {**columns, "score_order": "ascending", "use_aggregator": False}
    found = ndcg.compute(data=TABLES[frame](table, tmp_path), **ascending)
    assert found == {"nDCG": pytest.approx([1 / math.log2(3), 1])}


def test_every_method_rejects_a_column_that_is_best_where_it_is_lowest(
    fresh_metric: MetricFactory,
) -> None:
    table, metric = {"user": ["a"], "rank": [1], "label": [1]}, fresh_metric(keep_in_memory=True)
    explain = partial(metric.explain, got=0.5)
    for method in (metric.report, explain, metric.documents, metric.add_batch, compute):
        with refusal("predictions", "the column 'rank'"):
            method(data=table, **{**BY_USER, "predictions": "rank"})
    with refusal("systems['l2']", "the column 'rank'"):
        metric.compare(
            data=table,
            systems={"l2": "rank", "bm25": "label"},
            references="label",
            query_ids="user",
        )


def test_a_query_to_a_database_runs_once(ndcg: Metric) -> None:
    """Rows come in another order each time it runs, so its columns would not belong together."""
    connection = duckdb.connect()
    connection.execute("set threads to 2")
    connection.register("rows", table_of(400, 50))
    grouped = (
        'select "user", item, avg(score) as score, max(label) as label from rows group by '
        '"user", item'
    )
    once = connection.sql(grouped).to_arrow_table()
    expected = ndcg.compute(data=once, **COLUMNS, k=5)
    for _ in range(5):
        assert ndcg.compute(data=connection.sql(grouped), **COLUMNS, k=5) == pytest.approx(
            expected, rel=1e-12
        )


def test_a_reader_is_read_once_also_to_tell_which_column_has_the_queries() -> None:
    table = pa.table(
        {
            "user_id": ["q1", "q2"],
            "query": ["shoes", "hats"],
            "docno": ["d1", "d1"],
            "score": [0.5, 0.9],
        }
    )
    sides = {"predictions": table.to_reader(), "references": {"q1": {"d1": 1}, "q2": {"d1": 1}}}
    assert compute(**sides, fields={"query": "user_id"}) == {"nDCG": 1.0}
    with refusal("predictions"):
        compute(**{**sides, "predictions": table.to_reader()})


def test_a_row_may_be_a_query_with_its_weight_and_slice(ndcg: Metric) -> None:
    lists = {
        "scores": [[0.9, 0.1], [0.2, 0.3]],
        "labels": [[1, 0], [2, 0]],
        "weight": [1.0, 3.0],
        "new": [True, False],
    }
    expected = ndcg.compute(
        predictions=lists["scores"], references=lists["labels"], sample_weight=[1, 3]
    )
    names = {"predictions": "scores", "references": "labels", "sample_weight": "weight"}
    for frame in (
        pd.DataFrame(lists),
        pl.DataFrame(lists),
        pa.table(lists),
        lists,
        datasets.Dataset.from_dict(lists),
    ):
        assert ndcg.compute(data=frame, **names) == expected
        assert list(ndcg.report(data=frame, **names, by="new").slices) == [False, True]


def test_a_list_that_holds_no_names_is_read_as_values(ndcg: Metric) -> None:
    table, weights = table_of(), list(range(40))
    expected = ndcg.compute(**columns_of(table), sample_weight=weights)
    columns = {**COLUMNS, "references": table["label"]}
    assert ndcg.compute(data=table, **columns, sample_weight=weights) == expected


GOOD = pa.table(
    {
        "user": ["a", "a", "b"],
        "score": [0.9, 0.1, 0.5],
        "label": [1, 0, 1],
        "weight": [1.0, 1.0, 2.0],
    }
)
BY_USER = {"predictions": "score", "references": "label", "query_ids": "user"}


def good(**columns: Any) -> dict[str, Any]:
    return {**GOOD.to_pydict(), **columns}


GOOD_FRAME = GOOD.to_pandas()
MISSPELT = {"predictions": "scores", "query_ids": "users", "references": "clicked"}
ITEMS = {"document_ids": "item"}
WEIGHTS = {"sample_weight": "weight"}
# a frame, arguments in addition to BY_USER, and the argument and places that the error names
Fault = tuple[Any, dict[str, Any], tuple[str, ...]]
FAULTS: list[Fault] = [
    (good(), {"predictions": "scores"}, ("predictions", "data has no column 'scores';")),
    (good(), {"references": "relevance"}, ("references", "data has no column 'relevance';")),
    (good(), ITEMS, ("document_ids", "data has no column 'item';")),
    (good(), MISSPELT, ("predictions, references, query_ids", "data has no columns 'scores',")),
    (good(), dict.fromkeys(BY_USER), ("data",)),
    (good(), {"predictions": None}, ("predictions are missing",)),
    (good(user=["a", None, "b"]), {}, ("query_ids", "row 1")),
    (good(user=[1, None, 2]), {}, ("query_ids", "row 1")),
    (good(item=["x", None, "y"]), ITEMS, ("document_ids", "row 1")),
    (good(item=["x", "x", "y"]), ITEMS, ("document_ids", "query 'a', row 1", "document 'x'")),
    (good(score=[0.9, math.inf, 0.5]), {}, ("predictions", "query 'a', row 1")),
]
OTHER_FAULTS: list[Fault] = [
    (pa.table(good(score=["1_0", "0.1", "0.5"])), {}, ("predictions", "query 'a', row 0")),
    (good(score=["0,9", 0.1, 0.5]), {}, ("predictions", "query 'a', row 0")),
    (pd.DataFrame(good(user=["a", 1, "b"])), {}, ("query_ids",)),
    (good(item=["a", 1, "y"]), ITEMS, ("document_ids",)),
    (pa.table(good(user=[1.5, 2.5, 1.5])), {}, ("query_ids",)),
    (good(score=[0.9]), {}, ("with query_ids, all columns",)),
    (GOOD.append_column("score", GOOD["score"]), {}, ("predictions", "data has several columns")),
    (
        pd.concat([GOOD_FRAME, GOOD_FRAME[["score"]]], axis=1),
        {},
        ("predictions", "data has several columns"),
    ),
    ([[0.9, 0.1]], {}, ("data",)),
    ("rows.parquet", {}, ("data",)),
    (np.ones(2), {}, ("data",)),
    (
        datasets.DatasetDict(test=datasets.Dataset(GOOD)),
        {},
        ("predictions, references, query_ids", "data has no columns"),
    ),
    (datasets.Dataset(GOOD).to_iterable_dataset(), {}, ("data", "IterableDataset")),
    (
        datasets.IterableDataset.from_generator(good),  # which does not know its columns
        {},
        ("data", "IterableDataset"),
    ),
    (good(), {"sample_weight": "w"}, ("sample_weight", "data has no column 'w';")),
    (good(weight=[1.0, 2.0, 2.0]), WEIGHTS, ("sample_weight", "query 'a'")),
    (good(weight=[1.0, None, 2.0]), WEIGHTS, ("sample_weight", "row 1")),
    (pa.table(good(weight=["1", "1", "high"])), WEIGHTS, ("sample_weight", "row 2")),
    (good(weight=[1.0]), WEIGHTS, ("sample_weight and query_ids differ in length, 1 and 3",)),
]


def assert_refused(
    metric: Metric, frame: Callable[[], Any], columns: dict[str, Any], named: tuple[str, ...]
) -> None:
    """Every method refuses a frame alike and keeps the metric's earlier batches."""
    metric.add_batch(predictions=[[0.1, 0.2]], references=[[1, 0]])
    for method in (metric.compute, metric.report, metric.add_batch)[
        : 2 if "sample_weight" in columns else 3
    ]:
        with refusal(*named):
            method(data=frame(), **{**BY_USER, **columns})
        assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx(1 / np.log2(3))}


@pytest.mark.parametrize("frame", TABLES)
@pytest.mark.parametrize(("table", "columns", "named"), FAULTS)
def test_a_fault_is_named_alike_in_every_library(
    fresh_metric: MetricFactory,
    tmp_path: Path,
    table: Any,
    columns: dict[str, Any],
    named: tuple[str, ...],
    frame: str,
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    assert_refused(metric, lambda: TABLES[frame](pa.table(table), tmp_path), columns, named)


@pytest.mark.parametrize(("frame", "columns", "named"), OTHER_FAULTS)
def test_a_frame_without_rankings_is_rejected(
    fresh_metric: MetricFactory, frame: Any, columns: dict[str, Any], named: tuple[str, ...]
) -> None:
    assert_refused(fresh_metric(keep_in_memory=True), lambda: frame, columns, named)


@pytest.mark.parametrize("frame", TABLES)
def test_an_empty_frame_is_nothing_to_score(ndcg: Metric, tmp_path: Path, frame: str) -> None:
    with refusal("predictions and references hold no queries"):
        ndcg.compute(data=TABLES[frame](GOOD[:0], tmp_path), **BY_USER)


def test_a_wrong_column_of_a_system_is_named(ndcg: Metric) -> None:
    names = {"references": "label", "query_ids": "user"}
    with refusal("systems['bm25']", "data has no column 'bm25_score';"):
        ndcg.compare(data=GOOD, systems={"bm25": "bm25_score", "dense": "score"}, **names)


@pytest.mark.slow
def test_rows_shared_by_threads_score_alike_in_every_library(ndcg: Metric) -> None:
    rng = np.random.default_rng(1)
    # more rows than THREADED in ids.py, from which on threads share the work
    rows, users, k = 1_200_000, 80_000, 10
    user = np.concatenate([np.arange(users), rng.integers(0, users, rows - users)])
    score, label = rng.integers(0, 50, rows) / 8, rng.integers(0, 3, rows)
    lacking = rng.random(rows)
    retrieved, judged = lacking < 0.9, lacking > 0.1  # each row has a score or a relevance
    columns = {
        "user": user,
        "score": pa.array(score, mask=~retrieved),
        "label": pa.array(label, mask=~judged),
    }
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
    by_user = np.divide(
        dcg(gain * retrieved, -score, ~retrieved), ideal, out=np.zeros(users), where=ideal > 0
    )
    np.testing.assert_allclose(expected["nDCG@10"], by_user, rtol=1e-12, atol=0)
