"""Frames whose columns are named: weights, systems, queries to a database, and the names that are refused."""

from pathlib import Path
from typing import Any

import datasets
import duckdb
import evaluate
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from conftest import MetricFactory
from forms import COLUMNS, FRAMES


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
def test_a_column_weighs_the_queries(ndcg: evaluate.Metric, tmp_path: Path, frame: str) -> None:
    table = table_of()
    users = list(dict.fromkeys(table["user"].to_pylist()))
    weights = [int(user.removeprefix("user ")) % 7 for user in users]
    expected = ndcg.compute(**columns_of(table), k=5, sample_weight=weights)
    assert expected != ndcg.compute(**columns_of(table), k=5)
    assert ndcg.compute(data=FRAMES[frame](table, tmp_path), **COLUMNS, k=5, sample_weight="weight") == expected


def test_systems_may_be_columns(ndcg: evaluate.Metric) -> None:
    how: dict[str, Any] = {"k": 5, "resamples": 50}
    table = table_of()
    given = {name: side for name, side in columns_of(table).items() if name != "predictions"}
    expected = ndcg.compare(systems={"a": table["score"], "b": table["other"]}, **given, **how)
    names = {name: column for name, column in COLUMNS.items() if name != "predictions"}
    assert ndcg.compare(data=table, systems={"a": "score", "b": "other"}, **names, **how) == expected


def test_a_query_to_a_database_runs_once(ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a query come in another order each time it runs: its columns would not belong together."""
    connection = duckdb.connect()
    connection.execute("set threads to 2")
    connection.register("rows", table_of(400, 50))
    grouped = 'select "user", item, avg(score) as score, max(label) as label from rows group by "user", item'
    once = connection.sql(grouped).to_arrow_table()
    expected = ndcg.compute(data=once, **COLUMNS, k=5)
    for _ in range(5):
        assert ndcg.compute(data=connection.sql(grouped), **COLUMNS, k=5) == pytest.approx(expected, rel=1e-12)


def test_a_row_may_be_a_query(ndcg: evaluate.Metric) -> None:
    lists = {"scores": [[0.9, 0.1], [0.2, 0.3]], "labels": [[1, 0], [2, 0]], "weight": [1.0, 3.0]}
    expected = ndcg.compute(predictions=lists["scores"], references=lists["labels"], sample_weight=[1, 3])
    for frame in (pd.DataFrame(lists), pl.DataFrame(lists), pa.table(lists), lists, datasets.Dataset.from_dict(lists)):
        names = {"predictions": "scores", "references": "labels", "sample_weight": "weight"}
        assert ndcg.compute(data=frame, **names) == expected


def test_what_is_no_name_is_taken_as_it_is(ndcg: evaluate.Metric) -> None:
    table = table_of()
    expected = ndcg.compute(**columns_of(table), k=5)
    columns = {**COLUMNS, "references": table["label"]}
    assert ndcg.compute(data=table, **columns, k=5) == expected
    weights = list(range(40))
    assert ndcg.compute(data=table, **COLUMNS, sample_weight=weights) == ndcg.compute(
        **columns_of(table), sample_weight=weights
    )


GOOD = pa.table({"user": ["a", "a", "b"], "score": [0.9, 0.1, 0.5], "label": [1, 0, 1], "weight": [1.0, 1.0, 2.0]})
BY_USER = {"predictions": "score", "references": "label", "query_ids": "user"}


@pytest.mark.parametrize(
    ("data", "columns", "message"),
    [
        (
            GOOD,
            {"predictions": "scores"},
            r"predictions: data has no column 'scores'; it has 'user', 'score', 'label', "
            r"'weight'; did you mean \"score\"\?",
        ),
        (GOOD, {"references": "relevance"}, "references: data has no column 'relevance'; it has"),
        (GOOD, {"document_ids": "item"}, "document_ids: data has no column 'item'; it has"),
        (GOOD, {"sample_weight": "w"}, "sample_weight: data has no column 'w'; it has"),
        (GOOD, dict.fromkeys(BY_USER), "data: no argument names one of its columns, which are 'user', 'score', "),
        (GOOD, {"predictions": None}, "predictions are missing|predictions must"),
        (GOOD.append_column("score", GOOD["score"]), {}, "predictions: data has several columns 'score'"),
        (
            pd.concat([GOOD.to_pandas(), GOOD.to_pandas()[["score"]]], axis=1),
            {},
            "predictions: data has several columns",
        ),
        ([[0.9, 0.1]], {}, r"data must be a frame with named columns; got \[\[0.9, 0.1\]\]; give a frame of pandas"),
        ("rows.parquet", {}, "data must be a frame with named columns; got 'rows.parquet'"),
        (np.ones((3, 2)), {}, "data must be a frame with named columns; got array"),
        (
            datasets.DatasetDict(test=datasets.Dataset(GOOD)),
            {},
            "predictions: data has no column 'score'; it has 'test'",
        ),
        (datasets.Dataset(GOOD).to_iterable_dataset(), {}, "data: IterableDataset has no rows that can be counted"),
        ({**GOOD.to_pydict(), "score": [0.9]}, {}, "all are flat and of one length"),
        (
            GOOD.set_column(3, "weight", pa.array([1.0, 2.0, 2.0])),
            {"sample_weight": "weight"},
            r"sample_weight: query 'a': is 2.0 in row 1 and 1.0 in row 0; give all rows of a query one weight",
        ),
        (
            GOOD.set_column(3, "weight", pa.array([1.0, None, 2.0])),
            {"sample_weight": "weight"},
            "sample_weight: row 1: is missing; give every row the weight of its query",
        ),
        (GOOD.set_column(0, "user", pa.array(["a", None, "b"])), {}, "query_ids: row 1: is None; give each row an id"),
        (
            GOOD.append_column("item", pa.array(["x", "x", "y"])),
            {"document_ids": "item"},
            "document_ids: query 'a', row 1: document 'x' is in row 0 already",
        ),
    ],
)
def test_a_wrong_frame_is_refused_and_what_was_added_is_kept(
    fresh_metric: MetricFactory, data: Any, columns: dict[str, Any], message: str
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=[[0.1, 0.2]], references=[[1, 0]])
    with pytest.raises(ValueError, match=message):
        metric.compute(data=data, **{**BY_USER, **columns})
    if "sample_weight" not in columns:
        with pytest.raises(ValueError, match=message):
            metric.add_batch(data=data, **{**BY_USER, **columns})
    assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx(1 / np.log2(3))}


def test_an_empty_frame_is_nothing_to_score(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match="hold no queries; there is nothing to score"):
        ndcg.compute(data=GOOD[:0], **BY_USER)


def test_a_wrong_column_of_a_system_is_named(ndcg: evaluate.Metric) -> None:
    names = {"references": "label", "query_ids": "user"}
    with pytest.raises(ValueError, match=r"systems\['bm25'\]: data has no column 'bm25_score'; it has 'user', "):
        ndcg.compare(data=GOOD, systems={"bm25": "bm25_score", "dense": "score"}, **names)


def test_three_million_rows_score_alike_in_every_library(ndcg: evaluate.Metric) -> None:
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
