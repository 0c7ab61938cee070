"""Decimals are numbers everywhere; so is text of a number, but in lists, where it is an id."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from refusals import refusal

import ndcg

RUN = {"q": {"a": 0.9, "b": 0.1, "c": 0.5}}
QRELS = {"q": {"a": 0, "b": 3, "c": 1}}
SIDES: dict[str, tuple[str, Any]] = {
    "predictions": ("score", RUN),
    "references": ("relevance", QRELS),
}
EXPECTED = ndcg.compute(predictions=RUN, references=QRELS)
Rows = list[dict[str, Any]]


def saved(name: str, write: Callable[[Path, Rows], Any]) -> Callable[[Rows, Path], Path]:
    def side(rows: Rows, folder: Path) -> Path:
        write(folder / name, rows)
        return folder / name

    return side


def hits(rows: Rows) -> Rows:
    fields = [{name: value for name, value in row.items() if name != "query_id"} for row in rows]
    return [{"query_id": "q", "hits": fields}]


TABLES: dict[str, Callable[[Rows, Path], Any]] = {
    "records": lambda rows, _: rows,
    "mappings": lambda rows, _: {"q": dict(list(row.values())[1:] for row in rows)},
    "hits": lambda rows, _: hits(rows),
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "Polars": lambda rows, _: pl.DataFrame(rows),
    "Arrow": lambda rows, _: pa.Table.from_pylist(rows),
    "a dict of columns": lambda rows, _: {name: [row[name] for row in rows] for name in rows[0]},
    "Parquet": saved(
        "t.parquet", lambda path, rows: pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    ),
    "CSV": saved("t.csv", lambda path, rows: pd.DataFrame(rows).to_csv(path, index=False)),
}
JSON: dict[str, Callable[[Rows, Path], Any]] = {  # which has no decimals
    "JSON": saved("t.json", lambda path, rows: path.write_text(json.dumps(rows))),
    "JSON Lines": saved(
        "t.jsonl", lambda path, rows: path.write_text("\n".join(map(json.dumps, rows)))
    ),
    "JSON of hits": saved("t.json", lambda path, rows: path.write_text(json.dumps(hits(rows)))),
}


def rows_of(argument: str, kind: Callable[[Any], Any]) -> Rows:
    name, side = SIDES[argument]
    return [
        {"query_id": "q", "doc_id": document, name: kind(value)}
        for document, value in side["q"].items()
    ]


def decimal(value: float) -> Decimal:
    return Decimal(str(value))


@pytest.mark.parametrize("argument", SIDES)
@pytest.mark.parametrize("kind", [decimal, str], ids=["decimals", "text"])
@pytest.mark.parametrize("table", {**TABLES, **JSON})
@pytest.mark.filterwarnings("ignore:.*the scores rank its hits:UserWarning")
def test_a_value_of_a_table_may_be_a_decimal_or_text(
    table: str, kind: Callable[[Any], Any], argument: str, tmp_path: Path
) -> None:
    if kind is decimal and table in JSON:
        return
    side = {**TABLES, **JSON}[table](rows_of(argument, kind), tmp_path)
    assert ndcg.compute(**{"predictions": RUN, "references": QRELS, argument: side}) == EXPECTED


@pytest.mark.parametrize("argument", SIDES)
@pytest.mark.parametrize("table", {**TABLES, **JSON})
@pytest.mark.filterwarnings("ignore:.*the scores rank its hits:UserWarning")
def test_other_text_is_refused_on_both_sides(table: str, argument: str, tmp_path: Path) -> None:
    rows = rows_of(argument, str)
    rows[1][SIDES[argument][0]] = "1_0"  # which only Python takes for a number
    with refusal(argument):
        ndcg.compute(
            **{
                "predictions": RUN,
                "references": QRELS,
                argument: {**TABLES, **JSON}[table](rows, tmp_path),
            }
        )


@pytest.mark.parametrize("argument", SIDES)
def test_decimals_are_numbers_in_lists_mappings_and_columns(argument: str) -> None:
    _, side = SIDES[argument]
    values = {document: decimal(value) for document, value in side["q"].items()}
    assert (
        ndcg.compute(**{"predictions": RUN, "references": QRELS, argument: {"q": values}})
        == EXPECTED
    )
    lists = {"predictions": [list(RUN["q"].values())], "references": [list(QRELS["q"].values())]}
    assert ndcg.compute(**{**lists, argument: [list(values.values())]}) == EXPECTED
    arrow = pa.array([list(values.values())])
    assert ndcg.compute(**{**lists, argument: arrow}) == EXPECTED
    flat = {side: rows[0] for side, rows in lists.items()}
    column = pa.array(list(values.values()))
    assert ndcg.compute(**{**flat, argument: column}, query_ids=["q"] * 3) == EXPECTED


@pytest.mark.parametrize("argument", SIDES)
def test_text_is_an_id_and_no_number_in_lists(argument: str) -> None:
    _, side = SIDES[argument]
    texts = {document: str(value) for document, value in side["q"].items()}
    lists = {"predictions": [list(RUN["q"].values())], "references": [list(QRELS["q"].values())]}
    with refusal("references"):
        ndcg.compute(**{**lists, argument: [list(texts.values())]})


def test_columns_of_a_database_may_be_sums_of_integers() -> None:
    rows = "(VALUES ('a', 9, 0), ('b', 1, 3), ('c', 5, 1)) AS rows (document, score, relevance)"
    sums = "'q' AS query_id, document AS doc_id, sum(score) AS score, sum(relevance) AS relevance"
    table = duckdb.sql(f"SELECT {sums} FROM {rows} GROUP BY document")
    assert table.types[2:] == ["HUGEINT", "HUGEINT"]
    assert (
        ndcg.compute(predictions=RUN, references=table.project("query_id, doc_id, relevance"))
        == EXPECTED
    )
    columns = {"predictions": "score", "references": "relevance", "query_ids": "query_id"}
    assert ndcg.compute(data=table, **columns) == EXPECTED


def test_whole_decimals_keep_all_their_digits() -> None:
    near, at = Decimal(2**53 + 1), Decimal(2**53)  # one float of 64 bits
    first = {"nDCG": 1.0}
    for scores in ([near, at], pa.array([near, at]), [f"{near}", f"{at}"]):
        assert ndcg.compute(predictions=scores, references=[1, 0], query_ids=["q", "q"]) == first
    for scores in (
        [Decimal(2**64 + 1), Decimal("0.5")],
        pa.array([Decimal(2**64 + 1), Decimal("0.5")]),
    ):
        with refusal("predictions", "query 'q', row 0"):
            ndcg.compute(predictions=scores, references=[1, 0], query_ids=["q", "q"])


@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity"])
@pytest.mark.parametrize("argument", SIDES)
def test_decimals_that_are_no_numbers_are_refused(argument: str, value: str) -> None:
    sides = {
        "predictions": [0.5, 0.25],
        "references": [1, 0],
        argument: [Decimal(value), Decimal(1)],
    }
    with refusal(argument, "query 'q', row 0"):
        ndcg.compute(**sides, query_ids=["q", "q"])


def test_padding_may_be_a_decimal_or_text() -> None:
    expected = ndcg.compute(predictions=[0.2, 0.1], references=[0, 1], query_ids=["q"] * 2)
    for padding, relevances in ((Decimal(-100), [Decimal(0), Decimal(1)]), ("-100", ["0", "1"])):
        flat = {
            "predictions": [0.9, 0.2, 0.1],
            "references": [padding, *relevances],
            "query_ids": ["q"] * 3,
        }
        assert ndcg.compute(**flat, ignore_index=-100) == expected


def test_weights_may_be_decimals() -> None:
    rankings = {"predictions": [[0.9, 0.1], [0.1, 0.9]], "references": [[1, 0], [1, 0]]}
    expected = ndcg.compute(**rankings, sample_weight=[0.5, 1])
    for weights in ([Decimal("0.5"), Decimal(1)], pa.array([Decimal("0.5"), Decimal("1.0")])):
        assert ndcg.compute(**rankings, sample_weight=weights) == expected
