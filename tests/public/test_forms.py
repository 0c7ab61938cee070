"""One ranking problem in every form that people hold rankings in: the same floats, to the last bit."""

import datetime
import itertools
import math
import random
import re
import sys
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import datasets
import evaluate
import every_form
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import MetricFactory, spark_session
from every_form import (
    CODES,
    COLUMNS,
    EVERY_FORM,
    EVERY_INPUT,
    FLAT_RELEVANCES,
    FLAT_SCORES,
    FULL_FLAT_FORMS,
    INTEGER_IDS,
    NAMES,
    RAGGED_FORMS,
    RAGGED_RELEVANCES,
    RAGGED_SCORES,
    ROWS_FORMS,
    SQUARE_RELEVANCES,
    SQUARE_SCORES,
    STRING_IDS,
    FlatForm,
    Form,
    Inputs,
    Rows,
    by_ids,
    duckdb_ids,
    filled,
    flat_table,
    polars_lists,
    torch_tensor,
    written,
)

QUERY_OPTIONS: dict[str, Any] = {
    "k": [1, 3, None],
    "measures": ["nDCG", "DCG", "IDCG", "CG"],
    "gain": "exponential",
}
OPTIONS = {**QUERY_OPTIONS, "use_aggregator": False}

Values = dict[str, list[str]]  # every measure of every query, to the last bit


def values(metric: evaluate.Metric, **inputs: Any) -> Values:
    return in_hex(metric.compute(**{**OPTIONS, **inputs}))


def in_hex(columns: dict[str, list[float]]) -> Values:
    return {name: [value.hex() for value in each] for name, each in columns.items()}


def of_lists(metric: evaluate.Metric, scores: Rows, relevances: Rows) -> Values:
    return values(metric, predictions=scores, references=relevances)


# --- Every form, every way of scoring --------------------------------------------------------------------------------


def by_batches(metric: evaluate.Metric, inputs: Inputs) -> Values:
    metric.add_batch(predictions=[[1.0]], references=[[1]])
    metric.add_batch(**inputs)
    return {name: each[1:] for name, each in values(metric).items()}


def by_report(metric: evaluate.Metric, inputs: Inputs) -> Values:
    found = metric.report(**inputs, **QUERY_OPTIONS)
    return in_hex({name: found.queries[name].to_pylist() for name in found.scores})


def by_comparison(metric: evaluate.Metric, inputs: Inputs) -> Values:
    predictions = inputs.pop("predictions")
    found = metric.compare(systems={"a": predictions, "b": predictions}, **inputs, **QUERY_OPTIONS)
    of_one = found.queries.filter(pc.field("system") == "a")
    return in_hex(of_one.select(found.measures).to_pydict())


WAYS: dict[str, Callable[[evaluate.Metric, Inputs], Values]] = {
    "compute": lambda metric, inputs: values(metric, **inputs),
    "add_batch": by_batches,
    "report": by_report,
    "compare": by_comparison,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", EVERY_INPUT)
def test_every_form_scores_the_same_in_every_way(
    fresh_metric: MetricFactory, tmp_path: Path, form: str, way: str
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    expected = of_lists(metric, RAGGED_SCORES, RAGGED_RELEVANCES)
    assert WAYS[way](metric, EVERY_INPUT[form](tmp_path)) == expected


CLOSE_SCORES = [*RAGGED_SCORES[:2], [7.0000001, *RAGGED_SCORES[2][1:]], *RAGGED_SCORES[3:]]  # 7 as a 32-bit float
IN_32_BITS = {"Arrow large lists", "Arrow list views", "Arrow chunks", "a Polars table"}


@pytest.fixture
def close_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problem of every form with one score that only 64-bit floats tell from those it was tied with."""
    flat = [CLOSE_SCORES[query][position] for query, position in every_form.FLAT_ORDER]
    monkeypatch.setattr(every_form, "RAGGED_SCORES", CLOSE_SCORES)
    monkeypatch.setattr(every_form, "FLAT_SCORES", flat)


@pytest.mark.usefixtures("close_scores")
@pytest.mark.parametrize("form", EVERY_INPUT)
def test_every_form_has_its_scores_compared_as_32_bit_floats(
    fresh_metric: MetricFactory, tmp_path: Path, form: str
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    tied, apart = (of_lists(metric, scores, RAGGED_RELEVANCES) for scores in (RAGGED_SCORES, CLOSE_SCORES))
    assert tied != apart
    given = values(metric, **EVERY_INPUT[form](tmp_path))
    is_single = form.startswith(("by position", "flat")) and form.partition(": ")[2] in IN_32_BITS
    assert given in ([tied, apart] if is_single else [apart])
    assert values(metric, **EVERY_INPUT[form](tmp_path), score_dtype="float32") == tied
    metric.add_batch(**EVERY_INPUT[form](tmp_path))
    assert values(metric, score_dtype="float32") == tied


@pytest.mark.usefixtures("close_scores")
@pytest.mark.parametrize("form", EVERY_INPUT)
def test_every_form_has_32_bit_ties_ordered_by_document_ids(ndcg: evaluate.Metric, tmp_path: Path, form: str) -> None:
    by_docid = values(ndcg, predictions=RAGGED_SCORES, references=RAGGED_RELEVANCES, ties="docid")
    assert by_docid != values(ndcg, predictions=CLOSE_SCORES, references=RAGGED_RELEVANCES, ties="docid")
    how = {**EVERY_INPUT[form](tmp_path), "ties": "docid", "score_dtype": "float32"}
    if form.startswith("flat"):  # which has no ids of documents
        with pytest.raises(
            ValueError, match=r"^document_ids are missing: .* have the same score in float32, and ties="
        ):
            ndcg.compute(**how)
    else:
        assert values(ndcg, **how) == by_docid


@pytest.mark.parametrize("form", ["mappings", "files", "flat"])
def test_32_bit_ties_are_ordered_by_document_ids_next_to_excluded_documents(
    ndcg: evaluate.Metric, tmp_path: Path, form: str
) -> None:
    scores, relevance = {"d1": 1.0, "d2": 1.00000001, "d3": 5.0}, {"d1": 1, "d2": 0, "d3": 0}
    sides: dict[str, Any] = {"predictions": {"q": scores}, "references": {"q": relevance}}
    if form == "files":
        sides = {"predictions": str(tmp_path / "run"), "references": str(tmp_path / "qrels")}
        rows = [f"q Q0 {document} 1 {score} tag\n" for document, score in [*scores.items()][::-1]]
        (tmp_path / "run").write_text("".join(rows), encoding="utf-8")
        (tmp_path / "qrels").write_text("".join(f"q 0 {each} {grade}\n" for each, grade in relevance.items()))
    elif form == "flat":
        flat = {"predictions": [*scores.values()][::-1], "references": [*relevance.values()][::-1]}
        sides = {**flat, "query_ids": ["q"] * 3, "document_ids": [*scores][::-1]}
    found = ndcg.compute(**sides, exclude={"q": ["d3"]}, ties="docid", score_dtype="float32")
    assert found["nDCG"] == pytest.approx(1 / np.log2(3))  # d2, the higher id, ranks first


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # of PySpark
@pytest.mark.usefixtures("close_scores")
@pytest.mark.parametrize("ties", ["average", "docid"])
def test_a_dataframe_of_spark_has_its_scores_compared_as_32_bit_floats(ndcg: evaluate.Metric, ties: str) -> None:
    frame = spark_session().createDataFrame(flat_table())
    found = ndcg.compute(data=frame, **COLUMNS, **OPTIONS, ties=ties, score_dtype="float32")
    expected = values(ndcg, predictions=RAGGED_SCORES, references=RAGGED_RELEVANCES, ties=ties)
    assert in_hex(found.toArrow().sort_by("query").drop_columns("query").to_pydict()) == expected


TOO_LARGE = r'1e\+39 is too large for score_dtype="float32"; scale the scores, or compare them as they are by score_dt'


@pytest.mark.parametrize(
    ("inputs", "place"),
    [
        ({"predictions": [[1], [2, 1e39]], "references": [[1], [0, 1]]}, "query 1, position 1"),
        ({"predictions": np.array([[1, 1e39]]), "references": np.array([[0, 1]])}, "query 0, position 1"),
        ({"predictions": [1, 1e39], "references": [0, 1], "query_ids": ["p", "q"]}, "query 'q', row 1"),
        ({"predictions": {"q": {"a": 1, "b": 1e39}}, "references": {"q": {"a": 1}}}, "query 'q', document 'b'"),
    ],
    ids=["lists", "array", "flat", "mappings"],
)
@pytest.mark.parametrize("how", [{"score_dtype": "float32"}, {"convention": "xgboost"}], ids=str)
def test_a_score_too_large_for_32_bit_floats_is_named(
    ndcg: evaluate.Metric, inputs: Inputs, place: str, how: dict[str, Any]
) -> None:
    ndcg.compute(**inputs)
    with pytest.raises(ValueError, match=rf"^predictions: {place}: {TOO_LARGE}"):
        ndcg.compute(**inputs, **how)


def test_a_score_too_large_for_32_bit_floats_does_not_matter_where_it_does_not_count(ndcg: evaluate.Metric) -> None:
    how = {"score_dtype": "float32", "ignore_index": -100}
    assert ndcg.compute(predictions=[[1, 1e39, 0]], references=[[1, -100, 0]], **how) == {"nDCG": 1.0}
    masked = np.ma.MaskedArray([[1, 1e39, 0]], [[False, True, False]])
    assert ndcg.compute(predictions=masked, references=[[1, 0, 0]], **how) == {"nDCG": 1.0}
    flat = {"predictions": [1, 1e39], "references": [1, 0], "query_ids": ["q", "q"], "document_ids": ["a", "b"]}
    assert ndcg.compute(**flat, **how, exclude={"q": ["b"]}) == {"nDCG": 1.0}
    assert ndcg.compute(predictions=[[1, -math.inf, -1e30]], references=[[1, 0, 0]], **how) == {"nDCG": 1.0}


@pytest.mark.parametrize("form", [list, np.array, pa.array], ids=["lists", "NumPy", "Arrow"])
def test_integers_beyond_those_of_32_bit_floats_are_compared_as_such(ndcg: evaluate.Metric, form: Any) -> None:
    predictions, references = [[2**24 + 1, 2**24], [2**60 + 1, 2**60]], [[1, 0], [0, 1]]
    sides = {"predictions": list(map(form, predictions)), "references": references}
    if form is pa.array:
        sides["predictions"] = pa.array(predictions)
    half = (1 + 1 / math.log2(3)) / 2
    assert ndcg.compute(**sides, use_aggregator=False)["nDCG"] == pytest.approx([1, 1 / math.log2(3)])
    assert ndcg.compute(**sides, score_dtype="float32", use_aggregator=False)["nDCG"] == pytest.approx([half, half])


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # of PySpark
def test_a_dataframe_of_spark_scores_the_same(ndcg: evaluate.Metric) -> None:
    frame = spark_session().createDataFrame(flat_table())
    found = ndcg.compute(data=frame, **COLUMNS, **OPTIONS).toArrow().sort_by("query").drop_columns("query")
    assert in_hex(found.to_pydict()) == of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)


# --- By position -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", EVERY_FORM)
def test_equally_long_lists_in_every_form_score_the_same_at_once_and_in_batches(
    fresh_metric: MetricFactory, form: str
) -> None:
    metric = fresh_metric()
    scores, relevances = EVERY_FORM[form](SQUARE_SCORES), EVERY_FORM[form](SQUARE_RELEVANCES)
    expected = of_lists(metric, SQUARE_SCORES, SQUARE_RELEVANCES)
    assert values(metric, predictions=scores, references=relevances) == expected
    assert values(metric, predictions=scores, references=SQUARE_RELEVANCES) == expected
    assert values(metric, predictions=SQUARE_SCORES, references=relevances) == expected
    assert values(metric, predictions=scores, references=np.array(SQUARE_RELEVANCES, np.int8)) == expected
    for _ in range(2):
        metric.add_batch(predictions=scores, references=relevances)
    assert values(metric) == {name: 2 * each for name, each in expected.items()}


@pytest.mark.parametrize("form", [form for form in RAGGED_FORMS if form != "masked NumPy, padded"])
def test_ragged_lists_in_every_form_score_against_lists(ndcg: evaluate.Metric, form: str) -> None:
    expected = of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)
    assert values(ndcg, predictions=RAGGED_FORMS[form](RAGGED_SCORES), references=RAGGED_RELEVANCES) == expected
    assert values(ndcg, predictions=RAGGED_SCORES, references=RAGGED_FORMS[form](RAGGED_RELEVANCES)) == expected


@pytest.mark.parametrize("form", ROWS_FORMS)
def test_ragged_rows_of_every_library_score_the_same(ndcg: evaluate.Metric, form: str) -> None:
    scores, relevances = filled(RAGGED_SCORES), filled(RAGGED_RELEVANCES)
    expected = of_lists(ndcg, scores, relevances)
    assert values(ndcg, predictions=EVERY_FORM[form](scores), references=EVERY_FORM[form](relevances)) == expected


def test_columns_of_one_shuffled_dataset_stay_aligned(ndcg: evaluate.Metric) -> None:
    pytest.importorskip("torch")
    scores, relevances = filled(RAGGED_SCORES), filled(RAGGED_RELEVANCES)
    data = datasets.Dataset.from_dict({"p": scores, "r": relevances, "row": range(len(scores))}).shuffle(seed=2)
    rows = list(data["row"])
    assert rows != sorted(rows)
    expected = of_lists(ndcg, [scores[row] for row in rows], [relevances[row] for row in rows])
    for form in (None, "numpy", "torch"):
        formatted = data.with_format(form)
        assert values(ndcg, predictions=formatted["p"], references=formatted["r"]) == expected


def test_a_low_precision_score_is_compared_as_it_is(ndcg: evaluate.Metric) -> None:
    import torch

    # of neighbors in bfloat16 the higher ranks first
    close = torch.tensor([[1.0, 1.0078125]], dtype=torch.bfloat16)
    assert ndcg.compute(predictions=close, references=[[0, 1]], k=1) == {"nDCG@1": 1.0}
    # scores that bfloat16 rounds to the same value are tied
    rounded = torch.tensor([[1.0, 1.001]], dtype=torch.bfloat16)
    assert ndcg.compute(predictions=rounded, references=[[0, 1]], k=1) == {"nDCG@1": 0.5}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_nan_in_a_tensor_is_rejected_at_its_place(ndcg: evaluate.Metric, dtype: str) -> None:
    tensor = torch_tensor(dtype)([[1.0, 2.0], [0.5, math.nan]])
    with pytest.raises(ValueError, match=r"^predictions: query 1, position 1: nan is not a score"):
        ndcg.compute(predictions=tensor, references=[[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"^references: query 1, position 1: nan is not a relevance"):
        ndcg.compute(predictions=[[1, 0], [0, 1]], references=tensor)


def test_minus_infinity_in_a_tensor_is_a_document_not_retrieved(ndcg: evaluate.Metric) -> None:
    expected = of_lists(ndcg, [[1.0, None]], [[1, 2]])
    for dtype in ("float32", "bfloat16", "float16"):
        tensor = torch_tensor(dtype)([[1.0, -math.inf]])
        assert values(ndcg, predictions=tensor, references=[[1, 2]]) == expected


def polars_frame(columns: dict[str, list[Any]]) -> Any:
    import polars as pl

    return pl.DataFrame(columns)


def pandas_frame(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas", minversion="3").DataFrame(columns)


TABLES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pandas_frame,
    "Polars": polars_frame,
    "Arrow": pa.table,
    "Arrow batch": lambda columns: pa.record_batch(columns),
    "DuckDB": lambda columns: duckdb_ids(columns["score"]).select('1 AS "user", 2 AS item, ids AS score'),
    "datasets": datasets.Dataset.from_dict,
    "a dict": dict,
    "an array of records": lambda columns: np.rec.fromarrays(list(columns.values()), names=list(columns)),
    "a structured array": lambda columns: np.array(
        list(zip(*columns.values(), strict=True)), [(name, np.asarray(side).dtype) for name, side in columns.items()]
    ),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_of_users_items_and_scores_leads_to_query_ids(ndcg: evaluate.Metric, table: str) -> None:
    frame = TABLES[table]({"user": [1, 1, 2], "item": [7, 8, 7], "score": [0.5, 0.25, 1.0]})
    lists = [[0.5, 0.25], [1.0]]
    for inputs in (
        {"predictions": frame, "references": frame},
        {"predictions": frame, "references": lists},
        {"predictions": lists, "references": frame},
        {"predictions": frame, "references": [1, 0, 1], "query_ids": [1, 1, 2]},
    ):
        argument = next(name for name, side in inputs.items() if side is frame)
        with pytest.raises(ValueError, match=rf"^{argument}: .*(user|item).* query_ids and document_ids"):
            ndcg.compute(**inputs)


@pytest.mark.parametrize("name", ["query_ids", "document_ids", "sample_weight"])
def test_a_table_where_a_column_belongs_is_rejected_by_its_argument(ndcg: evaluate.Metric, name: str) -> None:
    inputs = {"predictions": [0.5, 1.0], "references": [1, 0], "query_ids": ["q", "q"], "document_ids": ["a", "b"]}
    with pytest.raises(ValueError, match=rf"^{name}: must be one column; got a table of columns \['user', 'item'\]"):
        ndcg.compute(**{**inputs, name: pa.table({"user": [1, 2], "item": [3, 4]})})


SECOND = 1 / math.log2(3)  # the nDCG of one relevant document at the second rank


# --- Queries of a database, and transformed datasets -----------------------------------------------------------------


def relations(**columns: list[Any]) -> list[Any]:
    """One query of a DuckDB table for each of its columns."""
    import duckdb

    table = duckdb.connect().from_arrow(pa.table(columns))
    return [table.project(name) for name in columns]


def readers(**columns: list[Any]) -> list[Any]:
    return [pa.table({name: values}).to_reader() for name, values in columns.items()]


@pytest.mark.parametrize("several", [relations, readers])
def test_two_queries_have_no_common_order(fresh_metric: MetricFactory, several: Callable[..., list[Any]]) -> None:
    metric = fresh_metric()
    for method in (metric.compute, metric.add_batch, metric.report):
        score, relevance = several(p=[[0.5, 0.25]] * 2, r=[[1, 0]] * 2)
        with pytest.raises(
            ValueError, match=r"^references: is a separate database query .*, as predictions is.*data=relation"
        ):
            method(predictions=score, references=relevance)
    ids, score = several(q=["a", "b"], p=[0.5, 0.25])
    with pytest.raises(ValueError, match=r"^query_ids: is a separate database query .*, as predictions is"):
        metric.compute(predictions=score, references=[1, 0], query_ids=ids)
    score, relevance = several(p=[[0.5, 0.25]] * 2, r=[[1, 0]] * 2)
    with pytest.raises(ValueError, match=r"^references: is a separate database query .*, as systems\['a'\] is"):
        metric.compare(systems={"a": score, "b": [[0.5, 0.25]] * 2}, references=relevance)
    with pytest.raises(ValueError, match=r"^sample_weight: is a separate database query"):
        metric.compute(predictions=[[0.5, 0.25]] * 2, references=[[1, 0]] * 2, sample_weight=several(w=[1, 2])[0])
    assert len(metric) == 0


def test_one_query_is_read_once(ndcg: evaluate.Metric) -> None:
    score, relevance = relations(p=[[0.25, 0.5]] * 2, r=[[1, 0]] * 2)
    assert ndcg.compute(predictions=score, references=[[1, 0]] * 2) == {"nDCG": pytest.approx(SECOND, rel=1e-15)}
    assert ndcg.compute(predictions=[[0.25, 0.5]] * 2, references=relevance) == {
        "nDCG": pytest.approx(SECOND, rel=1e-15)
    }
    (reader,) = readers(p=[[0.25, 0.5]] * 2)  # which can be read only once
    assert ndcg.compute(predictions=reader, references=reader) == {"nDCG": 1.0}


@pytest.mark.parametrize("form", [None, "python", "numpy", "torch", "jax", "polars", "pandas", "arrow"])
def test_a_datasets_column_means_what_slicing_it_gives(ndcg: evaluate.Metric, form: str | None) -> None:
    pytest.importorskip(form if form in ("torch", "jax") else "datasets")
    # float32, which NumPy's, torch's and JAX's formats give, holds both scores as one
    data = datasets.Dataset.from_dict({"p": [[1.0, 1.0 + 2**-30]], "r": [[0, 1]]}).with_format(form)
    expected = 1.0 if form not in ("numpy", "torch", "jax") else (1 + 1 / math.log2(3)) / 2
    for inputs in (
        {"predictions": data["p"], "references": data["r"]},
        {"predictions": data["p"][:], "references": data["r"][:]},
    ):
        assert ndcg.compute(**inputs) == {"nDCG": pytest.approx(expected, rel=1e-15)}


def test_a_datasets_column_is_transformed(fresh_metric: MetricFactory) -> None:
    data = datasets.Dataset.from_dict({"p": [[1.0, 2.0, 3.0]], "r": [[0, 0, 1]]})
    metric = fresh_metric()
    assert metric.compute(predictions=data["p"], references=data["r"]) == {"nDCG": 1.0}

    def turn(batch: dict[str, list[list[float]]]) -> dict[str, list[list[float]]]:
        sides = batch.items()
        return {name: [[-score for score in row] for row in side] if name == "p" else side for name, side in sides}

    backwards = data.with_transform(turn)
    last = {"nDCG": 1 / math.log2(4)}
    assert metric.compute(predictions=backwards["p"], references=backwards["r"]) == last
    metric.add_batch(predictions=backwards["p"], references=backwards["r"])
    assert metric.compute() == last
    data.set_transform(turn)
    assert metric.compute(predictions=data["p"], references=data["r"]) == last


def test_columns_of_pandas_with_other_indexes_are_rejected(fresh_metric: MetricFactory) -> None:
    """Rows are taken in their order, so a column that was sorted or filtered alone would give a wrong number."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"q": ["a", "a", "b", "b"], "p": [0.5, 0.25, 0.125, 0.75], "r": [1, 0, 1, 0]})
    metric = fresh_metric()
    columns = {"predictions": frame["p"], "references": frame["r"], "query_ids": frame["q"]}
    expected = {"nDCG": pytest.approx((1 + 1 / math.log2(3)) / 2, rel=1e-12)}
    assert metric.compute(**columns) == expected
    for name, column in columns.items():
        for moved in (column[::-1], column.rename(lambda row: row + 1)):
            other = "references" if name == "predictions" else name
            for method in (metric.compute, metric.add_batch, metric.report):
                with pytest.raises(
                    ValueError, match=f"^{other}: its index differs from the index of predictions, .*; join both"
                ):
                    method(**{**columns, name: moved})
    assert metric.compute(**{**columns, "references": frame["r"].to_numpy()}) == expected
    assert metric.compute(**{name: column.copy() for name, column in columns.items()}) == expected


def test_masked_arrays_in_a_column_of_pandas_keep_their_masks(ndcg: evaluate.Metric) -> None:
    pandas = pytest.importorskip("pandas")

    def masked(rows: Rows) -> list[Any]:
        missing = [[value is None for value in row] for row in rows]
        return [np.ma.array(row, mask=each) for row, each in zip(filled(rows), missing, strict=True)]

    scores, references = masked(RAGGED_SCORES), masked(RAGGED_RELEVANCES)
    expected = of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)
    for form in (pandas.Series, lambda rows: pandas.DataFrame({"x": rows})):
        assert values(ndcg, predictions=form(scores), references=form(references)) == expected
        assert values(ndcg, predictions=form(scores), references=RAGGED_RELEVANCES) == expected
    polars = pytest.importorskip("polars")
    column = polars.Series(references, dtype=polars.Object)
    assert values(ndcg, predictions=RAGGED_SCORES, references=column) == expected


@pytest.mark.parametrize("kind", ["relation", "reader"])
@pytest.mark.parametrize("sides", [("predictions",), ("references",), ("predictions", "references")])
def test_queries_to_a_database_in_a_list_are_rejected(
    fresh_metric: MetricFactory, kind: str, sides: tuple[str, ...]
) -> None:
    duckdb = pytest.importorskip("duckdb")
    given: dict[str, Any] = {"predictions": [[0.9, 0.1]], "references": [(1, 0)]}
    for side in sides:
        relation = duckdb.sql("SELECT unnest([0.5, 1.0]) AS x")
        given[side] = [relation if kind == "relation" else pa.table({"x": [0.5, 1.0]}).to_reader()]
    metric = fresh_metric()
    for method in (metric.compute, metric.add_batch):
        with pytest.raises(ValueError, match=f"^{sides[0]}: query 0: is a query to a database .*run it first"):
            method(**given)
    assert len(metric) == 0


def test_flat_columns_without_query_ids_lead_to_these(ndcg: evaluate.Metric) -> None:
    flat = pa.array([0.5, 0.25])
    with pytest.raises(ValueError, match=r"one per query; got double; for a row per document give query_ids$"):
        ndcg.compute(predictions=flat, references=flat)
    with pytest.raises(
        ValueError, match=r"^query_ids must be integers or strings, .*; got the text 'user'; give the col"
    ):
        ndcg.compute(predictions=flat, references=flat, query_ids="user")


def test_a_field_of_a_datasets_column_is_a_column(ndcg: evaluate.Metric) -> None:
    data = datasets.Dataset.from_dict({"of": [{"p": [1.0, 2.0], "r": [1, 0]}]})
    assert ndcg.compute(predictions=data["of"]["p"], references=data["of"]["r"]) == {"nDCG": pytest.approx(SECOND)}


# --- Odd inputs: a number, or an error that names the argument -------------------------------------------------------


class Unreadable:
    """An array of a library that cannot convert it."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("the device is lost")


class UnreadableStream:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise OSError("the stream is lost")


class UnreadableCapsule:
    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("the capsule is lost")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def torch_scalars(**how: Any) -> Callable[[], Any]:
    def form() -> Any:
        import torch

        return [
            torch.tensor(value, **{name: getattr(torch, str(each), each) for name, each in how.items()})
            for value in (0.5, 1.0)
        ]

    return form


def jax_scalars() -> Any:
    import jax.numpy as jnp

    return [jnp.array(0.5, jnp.bfloat16), jnp.array(1.0, jnp.bfloat16)]


def torch_made(make: Callable[[Any], Any]) -> Callable[[], Any]:
    def form() -> Any:
        import torch

        return make(torch.tensor([0.5, 1.0]))

    return form


def pandas_made(make: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: make(pytest.importorskip("pandas", minversion="3"))


def polars_int128() -> Any:
    import polars as pl

    return pl.Series([1, 2], dtype=pl.Int128)


# two scores of a query, and its nDCG if the second document, which is not relevant, ranks first; None: rejected
ODD_SCORES: dict[str, tuple[Callable[[], Any], float | None]] = {
    "scalars with gradients": (torch_scalars(requires_grad=True), SECOND),
    "bfloat16 scalars": (torch_scalars(dtype="bfloat16"), SECOND),
    "JAX bfloat16 scalars": (jax_scalars, SECOND),
    "0-d arrays": (lambda: [np.array(0.5), np.array(1.0)], SECOND),
    "a masked value": (lambda: [0.5, np.ma.masked], 1.0),
    "a bfloat16 tensor with a gradient": (torch_made(lambda tensor: tensor.bfloat16().requires_grad_()), SECOND),
    "a lazily negative tensor": (torch_made(lambda tensor: (-tensor)._neg_view()), SECOND),
    "pandas sparse": (pandas_made(lambda pd: pd.Series(pd.arrays.SparseArray([0.5, 1.0]))), SECOND),
    "a sparse tensor": (torch_made(lambda tensor: tensor.to_sparse()), None),
    "a tensor without data": (torch_made(lambda tensor: tensor.to("meta")), None),
    "one-element tensors": (lambda: [np.array([0.5]), np.array([1.0])], None),
    "pandas text": (pandas_made(lambda pd: pd.Series([0.5, "x"])), None),
    "pandas periods": (pandas_made(lambda pd: pd.Series(pd.period_range("2026", periods=2, freq="D"))), None),
    "Polars Int128": (polars_int128, None),
    "decimals": (lambda: [Decimal("0.5"), Decimal(1)], None),
    "Arrow decimals": (lambda: pa.array([Decimal("0.5"), Decimal("1.0")]), None),
    "dates": (lambda: np.array(["2026-01-01", "2026-01-02"], "M8[D]"), None),
    "unreadable numbers": (lambda: [Unreadable(), Unreadable()], None),
    "an unreadable array": (Unreadable, None),
    "an unreadable stream": (UnreadableStream, None),
    "an unreadable capsule": (UnreadableCapsule, None),
    "an endless list": (lambda: (endless := [0.5], endless.append(endless))[0], None),
    "a million numbers for one": (lambda: [[*range(10**6)], 1.0], None),
    "a text of 5 MB": (lambda: ["x" * 5_000_000, 1.0], None),
}


@pytest.mark.parametrize("form", ["flat", "row", "mapping", "references", "sample_weight"])
@pytest.mark.parametrize("odd", ODD_SCORES)
def test_odd_values_are_numbers_or_rejected_by_their_argument(ndcg: evaluate.Metric, odd: str, form: str) -> None:
    make, expected = ODD_SCORES[odd]
    values = make()
    argument = form if form in ("references", "sample_weight") else "predictions"
    inputs: dict[str, Any] = {"predictions": [0.5, 1.0], "references": [1, 0], "query_ids": ["q", "q"]}
    if form in ("flat", "references"):
        inputs[argument] = values
    elif form == "sample_weight":
        inputs |= {"query_ids": ["q", "p"], "sample_weight": values}
    elif form == "row":
        inputs = {"predictions": [values], "references": [[1, 0]]}
    else:
        documents = {"a": values[0], "b": values[1]} if isinstance(values, list) else {"a": values, "b": 1.0}
        inputs = {"predictions": {"q": documents}, "references": {"q": {"a": 1, "b": 0}}}
        expected = expected if isinstance(values, list) else None  # a column is not a number
    if expected is None or (form == "sample_weight" and odd == "a masked value"):
        with pytest.raises(ValueError, match=rf"^({argument}|query 0: )") as caught:
            ndcg.compute(**inputs)
        assert len(str(caught.value)) < 400
        assert "\n" not in str(caught.value)
    elif form == "references":
        # the relevances are 0.5 and 1, ranked best; masked: only the second document, unjudged, is before the first
        expected = SECOND if odd == "a masked value" else 1.0
        assert ndcg.compute(**inputs) == {"nDCG": pytest.approx(expected, rel=1e-15)}
    elif form == "sample_weight":  # the mean of 1 and 0, weighted by 0.5 and 1
        assert ndcg.compute(**inputs) == {"nDCG": pytest.approx(1 / 3, rel=1e-15)}
    else:
        # of a single document retrieved, the relevant one, nothing ranks before it
        assert ndcg.compute(**inputs) == {"nDCG": pytest.approx(expected, rel=1e-15)}


ODD_IDS: dict[str, Callable[[], Any]] = {
    "UUIDs": lambda: [uuid.UUID(int=1), uuid.UUID(int=2)],
    "Arrow UUIDs": lambda: pa.array([b"a" * 16, b"b" * 16], pa.uuid()),
    "decimals": lambda: [Decimal(1), Decimal(2)],
    "pandas periods": pandas_made(lambda pd: pd.Series(pd.period_range("2026", periods=2, freq="D"))),
    "pandas intervals": pandas_made(lambda pd: pd.Series(pd.interval_range(0, 2))),
    "pandas mixed": pandas_made(lambda pd: pd.Series([1, "a"], dtype=object)),
    "Polars Int128": polars_int128,
    "a sparse tensor": torch_made(lambda tensor: tensor.to_sparse()),
    "lone surrogates": lambda: ["\ud800", "b"],
    "NumPy's lone surrogates": lambda: np.array(["\ud800", "b"]),
    "long doubles": lambda: np.array([1, 2], np.longdouble),
    "unreadable": Unreadable,
    "an integer of 5,000 digits": lambda: [10**5000, 1],
}


@pytest.mark.parametrize("argument", ["query_ids", "document_ids"])
@pytest.mark.parametrize("odd", ODD_IDS)
def test_odd_ids_are_rejected_by_their_argument(ndcg: evaluate.Metric, odd: str, argument: str) -> None:
    inputs = {"predictions": [0.5, 1.0], "references": [1, 0], "query_ids": ["q", "q"], "document_ids": ["a", "b"]}
    with pytest.raises(ValueError, match=rf"^{argument}") as caught:
        ndcg.compute(**{**inputs, argument: ODD_IDS[odd]()})
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"k": [[*range(10**6)]]}, "k"),
        ({"ties": [*range(10**6)]}, "ties"),
        ({"gain": ["x" * 10**6]}, "gain"),
        ({"log_base": "x" * 10**6}, "log_base"),
        ({"query_ids": ["q" * 10**6] * 2, "predictions": [math.nan, 1], "references": [1, 0]}, "predictions"),
        ({"predictions": {"q" * 10**6: {"a": 1}}, "references": {"p" * 10**6: {"a": 1}}}, "predictions"),
        ({"predictions": {"q": {"d" * 10**6: math.nan}}, "references": {"q": {"a": 1}}}, "predictions"),
    ],
)
def test_messages_are_short_whatever_is_wrong(ndcg: evaluate.Metric, options: dict[str, Any], argument: str) -> None:
    with pytest.raises(ValueError, match=f"^{argument}") as caught:
        ndcg.compute(**{"predictions": [[1, 2]], "references": [[1, 0]], **options})
    assert len(str(caught.value)) < 500


# --- Flat, with query_ids --------------------------------------------------------------------------------------------


def all_ids() -> Iterator[tuple[str, Any]]:
    for kind, ids, forms in (("integers", CODES, INTEGER_IDS), ("strings", NAMES, STRING_IDS)):
        for form in forms:
            yield f"{kind}: {form}", (forms[form], ids)


@pytest.mark.parametrize(("form", "ids"), [pytest.param(*each, id=name) for name, each in all_ids()])
def test_query_ids_of_every_form_group_the_rows(ndcg: evaluate.Metric, form: FlatForm, ids: list[Any]) -> None:
    expected = of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)
    flat = {"predictions": FLAT_SCORES, "references": FLAT_RELEVANCES}
    assert values(ndcg, **flat, query_ids=form(ids)) == expected


@pytest.mark.parametrize("form", FULL_FLAT_FORMS)
def test_flat_rankings_in_every_form_score_as_lists(ndcg: evaluate.Metric, form: str) -> None:
    scores, relevances = filled([FLAT_SCORES, FLAT_RELEVANCES])
    flat = {"predictions": FULL_FLAT_FORMS[form](scores), "references": FULL_FLAT_FORMS[form](relevances)}
    expected = of_lists(ndcg, filled(RAGGED_SCORES), filled(RAGGED_RELEVANCES))
    assert values(ndcg, **flat, query_ids=CODES) == expected


def test_queries_are_in_the_order_of_their_first_rows_and_rows_keep_theirs(ndcg: evaluate.Metric) -> None:
    flat = {"predictions": [1, 2, 1, 1, 1], "references": [0, 1, 1, 2, 0], "query_ids": ["z", "a", "z", "a", "z"]}
    rows = {"predictions": [[1, 1, 1], [2, 1]], "references": [[0, 1, 0], [1, 2]]}
    for ties in ("first", "last", "average"):
        assert values(ndcg, **flat, ties=ties) == values(ndcg, **rows, ties=ties)


def test_sorted_query_ids_score_as_unsorted_ones(ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(5)
    codes = np.sort(rng.integers(0, 40, 1000))
    scores, relevances = rng.integers(0, 9, 1000) / 4, rng.integers(0, 4, 1000)
    order = np.concatenate([np.unique(codes, return_index=True)[1], rng.permutation(1000)])
    order = order[np.sort(np.unique(order, return_index=True)[1])]  # the queries first occur in the same order
    in_order = values(ndcg, predictions=scores, references=relevances, query_ids=codes)
    assert values(ndcg, predictions=scores[order], references=relevances[order], query_ids=codes[order]) == in_order


def ids_of_nan() -> Any:
    pd = pytest.importorskip("pandas", minversion="3")

    return pd.Series([1.0, None, 2.0])


def categories_of_none() -> Any:
    pd = pytest.importorskip("pandas", minversion="3")

    return pd.Series(["a", "b", None], dtype="category")


REJECTED_IDS: dict[str, tuple[Any, str]] = {
    "too few": (["a", "a"], "predictions 3, references 3, query_ids 2"),
    "too many": ([1, 1, 2, 2], "predictions 3, references 3, query_ids 4"),
    "none at all": ([], "predictions 3, references 3, query_ids 0"),
    "None": (["a", None, "b"], "row 1"),
    "None among integers": ([1, 1, None], "row 2"),
    "None in Arrow": (pa.array([None, "a", "b"]), "row 0"),
    "None in categories": (categories_of_none, "row 2"),
    "masked": (np.ma.MaskedArray([1, 1, 2], [0, 1, 0]), "row 1"),
    "floats": ([1.0, 1.0, 2.0], "integers or strings"),
    "truth values": ([True, False, True], "integers or strings"),
    "categories of floats": (pa.array([1.5, 1.5, 2.0]).dictionary_encode(), "integers or strings"),
    "NumPy floats": (np.array([1.0, 1.0, 2.0]), "integers or strings"),
    "nan in pandas": (ids_of_nan, ""),
    "integers and strings": (
        [1, "a", 2],
        "all text or all integers of at most 64 bits; got 1 in row 0 and 'a' in",
    ),
    "2-D": ([["a", "a", "b"]], ""),
    "a 2-D array": (np.array([[1, 1, 2]]), "2-D"),
    "a column": (np.array([[1], [1], [2]]), "2-D"),
    "a number": (5, ""),
    "text": ("abc", ""),
    "an integer beyond 64 bits": ([2**70, 1, 1], ""),
    "tuples": ([("a", 1), ("a", 1), ("b", 1)], ""),
}


@pytest.mark.parametrize("rejected", REJECTED_IDS)
def test_values_that_are_not_query_ids_are_rejected_by_name_and_add_nothing(
    fresh_metric: MetricFactory, rejected: str
) -> None:
    ids, problem = REJECTED_IDS[rejected]
    inputs = {"predictions": [0.5, 1.0, 0.25], "references": [1, 0, 1], "query_ids": ids() if callable(ids) else ids}
    metric = fresh_metric()
    for method in (metric.compute, metric.add_batch):
        with pytest.raises(ValueError, match="query_ids.*" + re.escape(problem)) as caught:
            method(**inputs)
        assert "\n" not in str(caught.value)
    assert len(metric) == 0


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"predictions": [1, 2], "references": [1, 0, 1]}, "predictions 2, references 3, query_ids 3 rows"),
        ({"predictions": [1, 2, 3], "references": [1]}, "predictions 3, references 1, query_ids 3 rows"),
        ({"predictions": [1, 2, 3], "references": np.ones((1, 3))}, "references must be flat"),
        ({"predictions": [[1], [2], [3]], "references": [1, 0, 1]}, "predictions must be flat"),
        ({"predictions": pa.array([[1], [2], [3]]), "references": [1, 0, 1]}, "predictions must be flat"),
        ({"predictions": [1, "high", 3], "references": [1, 0, 1]}, "predictions: query 'q', row 1: 'high' is not a"),
        ({"predictions": [1, 2, 3], "references": [1, 0, "low"]}, "references: query 'p', row 2: 'low' is not a"),
        ({"predictions": [1, math.nan, 3], "references": [1, 0, 1]}, "predictions: query 'q', row 1: nan"),
        ({"predictions": [1, 2, math.inf], "references": [1, 0, 1]}, "predictions: query 'p', row 2: inf"),
        ({"predictions": [1, 2, 3], "references": [1, 0, -1]}, "references: query 'p', row 2: the relevance -1"),
    ],
)
def test_flat_rankings_without_a_meaning_are_rejected_by_row(
    ndcg: evaluate.Metric, inputs: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        ndcg.compute(**inputs, query_ids=["q", "q", "p"])


@pytest.mark.parametrize("extra", [0, 1])
def test_a_row_beyond_the_query_ids_is_named_by_its_number(ndcg: evaluate.Metric, extra: int) -> None:
    scores: list[Any] = [0.1, 0.2, *[0.3] * extra, "x"]
    with pytest.raises(ValueError, match=f"^predictions: row {2 + extra}: 'x' is not a number"):
        ndcg.compute(predictions=scores, references=[0] * len(scores), query_ids=["q", "p"])


# --- By ids ----------------------------------------------------------------------------------------------------------


def test_mappings_score_against_files_and_files_against_mappings(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run, qrels = by_ids(RAGGED_SCORES), by_ids(RAGGED_RELEVANCES)
    run_file, qrels_file = written(tmp_path / "run", run, "run"), written(tmp_path / "qrels", qrels, "qrels")
    expected = of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)
    for predictions in (run, run_file, str(run_file)):
        for references in (qrels, qrels_file, str(qrels_file)):
            assert values(ndcg, predictions=predictions, references=references) == expected


def test_a_query_that_was_added_before_is_rejected_by_its_id(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    batches = [["ann", "bob"], ["cid", "dan", "eve"], ["fay"], [7, -1], [-2]]
    for batch in batches:
        metric.add_batch(predictions=[1.0] * len(batch), references=[1] * len(batch), query_ids=batch)
    for again in ("ann", "bob", "cid", "eve", "fay", 7, -1, -2):
        with pytest.raises(
            ValueError, match=rf"^query {again!r} was added before; add all documents of a query in one"
        ):
            metric.add_batch(
                predictions=[1, 1], references=[1, 0], query_ids=[8 if again == 7 else type(again)(9), again]
            )
    with pytest.raises(ValueError, match=r"^query 'ann' was added before"):
        metric.compute(predictions={"ann": {"a": 1}}, references={"ann": {"a": 1}})
    assert len(metric) == 9
    metric.add_batch(predictions=[[1, 2]], references=[[1, 0]])  # by position, nobody knows
    assert metric.compute()["nDCG"] == pytest.approx((9 + 1 / math.log2(3)) / 10)
    metric.add_batch(predictions=[1], references=[1], query_ids=["ann"])  # the next evaluation
    assert metric.compute() == {"nDCG": 1.0}


def both(tmp_path: Path, run: Any, qrels: Any) -> list[tuple[Any, Any]]:
    """The mappings, and the same as files."""
    files = written(tmp_path / "run", run, "run"), written(tmp_path / "qrels", qrels, "qrels")
    return [(run, qrels), files, (run, files[1]), (files[0], qrels)]


def test_every_query_of_the_references_counts_in_their_order(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run = {"only in the run": {"a": 1.0}, "q2": {"a": 1.0, "b": 2.0}}
    qrels = {"q3": {"a": 1}, "q2": {"a": 1, "b": 2}, "q1": {"b": 0}}
    run = {query.replace(" ", "-"): documents for query, documents in run.items()}
    for predictions, references in both(tmp_path, run, qrels):
        # nothing was retrieved for q3, the ranking of q2 is ideal, nothing is relevant for q1
        result = ndcg.compute(predictions=predictions, references=references, use_aggregator=False)
        assert result == {"nDCG": [0.0, 1.0, 0.0]}
        assert ndcg.compute(predictions=predictions, references=references) == {"nDCG": pytest.approx(1 / 3)}


def test_a_document_not_retrieved_counts_in_the_ideal_only(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    for predictions, references in both(tmp_path, {"q": {"b": 1.0}}, {"q": {"a": 3, "b": 1, "c": 2}}):
        result = ndcg.compute(predictions=predictions, references=references)
        assert result == {"nDCG": pytest.approx(1 / (3 + 2 / math.log2(3) + 1 / 2), rel=1e-15)}


def test_an_unjudged_document_takes_a_rank_only(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    for predictions, references in both(tmp_path, {"q": {"x": 9.0, "a": 2.0, "y": 1.0}}, {"q": {"a": 3}}):
        result = ndcg.compute(predictions=predictions, references=references)
        assert result == {"nDCG": pytest.approx(1 / math.log2(3), rel=1e-15)}


def test_none_in_a_mapping_is_as_if_left_out(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run = {"q1": {"a": None, "b": 2.0, "x": None, "y": 1.0}, "q2": {"a": None}}
    qrels = {"q1": {"a": 1, "b": 2, "y": None, "z": None}, "q2": {"a": 1}, "q3": {"a": None}}
    plain_run = {"q1": {"b": 2.0, "y": 1.0}, "q2": {}}
    plain_qrels = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {}}
    expected = of_lists(ndcg, [[None, 2.0, 1.0], [None], []], [[1, 2, None], [1], []])
    assert values(ndcg, predictions=plain_run, references=plain_qrels) == expected
    assert values(ndcg, predictions=run, references=qrels) == expected
    run_file, qrels_file = (
        written(tmp_path / "run", plain_run, "run"),
        written(tmp_path / "qrels", plain_qrels, "qrels"),
    )
    assert values(ndcg, predictions=run_file, references=qrels) == expected
    without_q3 = {name: each[:2] for name, each in expected.items()}  # a file holds no query without documents
    assert values(ndcg, predictions=run, references=qrels_file) == without_q3


def test_mappings_may_hold_numbers_of_every_kind_and_ids_of_any_one_kind(ndcg: evaluate.Metric) -> None:
    expected = of_lists(ndcg, [[0.5, 1.0]], [[2, 1]])
    for number in (float, np.float32, np.float16, np.float64):
        for whole in (int, float, np.int8, np.uint64):
            run, qrels = {3: {1: number(0.5), 2: number(1)}}, {3: {1: whole(2), 2: whole(1)}}
            assert values(ndcg, predictions=run, references=qrels) == expected


def test_big_integers_by_id_are_compared_exactly_next_to_documents_not_retrieved(ndcg: evaluate.Metric) -> None:
    noon = 1_790_000_000_000_000_001  # in nanoseconds, which float64 holds to the next 256
    run = {"q": {"a": noon, "b": noon + 1, "x": 0}}
    ideal = 2 + 1 / math.log2(3)
    expected = {"nDCG": pytest.approx((1 / math.log2(3)) / ideal, rel=1e-15)}
    assert ndcg.compute(predictions=run, references={"q": {"a": 1, "b": 0, "c": 2}}) == expected
    assert ndcg.compute(predictions=[[noon, noon + 1, 0, None]], references=[[1, 0, None, 2]]) == expected
    big = {"q": {"a": 2**53 + 1, "b": 2**53}}
    assert ndcg.compute(predictions={"q": {"a": 3, "b": 2, "x": 1}}, references=big) == {"nDCG": 1.0}


@pytest.mark.parametrize("value", [1, 2.5])
def test_a_masked_value_in_a_mapping_is_missing(ndcg: evaluate.Metric, value: float) -> None:
    masked = np.ma.masked
    run = {"q": {"a": masked, "b": value, "c": 0}}
    assert ndcg.compute(predictions=run, references={"q": {"a": 0, "b": 1, "c": masked}}) == {"nDCG": 1.0}
    qrels = {"q": {"a": value, "b": 0, "c": masked}}
    assert ndcg.compute(predictions=run, references=qrels) == {"nDCG": 0.0}


def test_the_tied_document_with_the_higher_id_ranks_first_by_docid(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    # of the order of UTF-8: 10 < 9 < Z < a < é < 🥇
    ids = ["9", "🥇", "a", "10", "é", "Z"]
    ranked = ["🥇", "é", "a", "Z", "9", "10"]
    run = {"q": dict.fromkeys(ids, 1.0)}
    for relevant in ids:
        expected = 1 / math.log2(ranked.index(relevant) + 2)
        for predictions, references in both(tmp_path, run, {"q": {relevant: 1}}):
            result = ndcg.compute(predictions=predictions, references=references, ties="docid")
            assert result == {"nDCG": pytest.approx(expected, rel=1e-15)}, relevant


def test_big_integers_next_to_a_file_are_not_rounded_into_a_tie(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run, qrels = {"q": {"a": 2**53 + 1, "b": 2**53}}, {"q": {"a": 1, "b": 0}}
    assert ndcg.compute(predictions=run, references=qrels) == {"nDCG": 1.0}
    try:
        result = ndcg.compute(predictions=run, references=written(tmp_path / "qrels", qrels, "qrels"))
    except ValueError as error:
        assert str(error).startswith("predictions: query 'q', document 'a'")  # noqa: PT017 - either is right
    else:
        assert result == {"nDCG": 1.0}


BAD_SIDES: dict[str, tuple[dict[str, Any], str]] = {
    "a nan score": ({"predictions": {"q": {"b": math.nan}}}, "predictions: query 'q', document 'b': nan"),
    "a nan score not judged": ({"predictions": {"q": {"z": math.nan}}}, "predictions: query 'q', document 'z': nan"),
    "an infinite score": ({"predictions": {"q": {"b": math.inf}}}, "predictions: query 'q', document 'b': inf"),
    "a score of text": ({"predictions": {"q": {"b": "1"}}}, "predictions: query 'q', document 'b': '1'"),
    "a score that is a list": ({"predictions": {"q": {"b": [1]}}}, "predictions: query 'q', document 'b': [1]"),
    "a complex score": ({"predictions": {"q": {"b": 1j}}}, "predictions: query 'q', document 'b': 1j"),
    "a nan relevance": ({"references": {"q": {"b": math.nan}}}, "references: query 'q', document 'b': nan"),
    "a nan relevance not retrieved": (
        {"references": {"q": {"a": 1, "z": math.nan}}},
        "references: query 'q', document 'z': nan",
    ),
    "an infinite relevance": ({"references": {"q": {"b": math.inf}}}, "references: query 'q', document 'b': inf"),
    "a relevance of text": ({"references": {"q": {"z": "2"}}}, "references: query 'q', document 'z': '2'"),
    "a negative relevance": ({"references": {"q": {"b": -1}}}, "references: query 'q', document 'b': the relevance -1"),
    "a negative relevance not retrieved": (
        {"references": {"q": {"a": 1, "z": -1}}},
        "references: query 'q', document 'z': the relevance -1",
    ),
    "a run of scores alone": ({"predictions": {"q": [0.5, 0.25]}}, "predictions: query 'q'"),
    "a run of numbers": ({"predictions": {"q": 1}}, "predictions: query 'q'"),
    "relevances alone": ({"references": {"q": [0.5, 1.5]}}, "references: query 'q'"),
    "no query in common": ({"predictions": {"Q": {"a": 1}, "7": {"a": 1}}}, "predictions: no query"),
    "no queries": ({"references": {}}, "references hold no queries"),
}


@pytest.mark.parametrize("ties", ["average", "docid"])
@pytest.mark.parametrize("bad", BAD_SIDES)
def test_values_that_a_mapping_may_not_hold_are_rejected_by_query_and_document(
    ndcg: evaluate.Metric, bad: str, ties: str
) -> None:
    sides, problem = BAD_SIDES[bad]
    inputs: dict[str, Any] = {
        "predictions": {"p": {"a": 1, "b": 1}, "q": {"a": 0.5, "b": 0.5}},
        "references": {"p": {"a": 1}, "q": {"a": 1, "b": 0}},
    }
    with pytest.raises(ValueError, match=re.escape(problem)) as caught:
        ndcg.compute(**{**inputs, **sides}, ties=ties)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "bad", [bad for bad in BAD_SIDES if bad not in ("no queries", "a nan relevance not retrieved")]
)
def test_a_mapping_next_to_a_file_is_rejected_in_the_same_words(
    ndcg: evaluate.Metric, tmp_path: Path, bad: str
) -> None:
    ((argument, side),) = BAD_SIDES[bad][0].items()
    run, qrels = {"q": {"a": 0.5, "b": 0.25}}, {"q": {"a": 1, "b": 0}}
    inputs: dict[str, Any] = {
        "predictions": written(tmp_path / "run", run, "run"),
        "references": written(tmp_path / "qrels", qrels, "qrels"),
    }
    with pytest.raises(ValueError, match=re.escape(BAD_SIDES[bad][1])):
        ndcg.compute(**{**inputs, argument: side})


def test_files_without_a_query_in_common_are_rejected(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    for predictions, references in both(tmp_path, {"301": {"a": 1.0}}, {"q301": {"a": 1}}):
        with pytest.raises(ValueError, match=r"^predictions: no query is in the references.*'301'.*'q301'"):
            ndcg.compute(predictions=predictions, references=references)


def test_ids_that_are_not_strings_are_rejected_next_to_a_file(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run = written(tmp_path / "run", {"1": {"1": 1.0}}, "run")
    for ids, what in (({1: {"1": 1}}, "query"), ({"1": {1: 1}}, "document"), ({"1": {None: 1}}, "document")):
        with pytest.raises(ValueError, match=f"^references: (query '1': )?{what} ids must be strings"):
            ndcg.compute(predictions=run, references=ids)


def test_ids_that_no_file_can_hold_are_rejected_next_to_one(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    escaped = b"d\xe9".decode("utf-8", "surrogateescape")
    run = {"q1": {"a": 1.0}, "q2": {"a": 2.0, escaped: 1.0}}
    qrels = {"q1": {"a": 1}, "q2": {"a": 0, escaped: 1}}
    sides = {
        "predictions": (run, written(tmp_path / "qrels", {"q1": {"a": 1}}, "qrels")),
        "references": (qrels, written(tmp_path / "run", {"q1": {"a": 1.0}}, "run")),
    }
    problem = (
        "must be Unicode text, as in a file; got 'd\\udce9', which UTF-8 cannot encode; decode ids in their own "
        "encoding, without errors='surrogateescape'"
    )
    for argument, (side, file) in sides.items():
        other = ({"predictions", "references"} - {argument}).pop()
        with pytest.raises(ValueError, match=re.escape(f"{argument}: query 'q2': document ids {problem}")):
            ndcg.compute(**{argument: side, other: file})
        with pytest.raises(ValueError, match=re.escape(f"{argument}: query ids {problem}")):
            ndcg.compute(**{argument: {escaped: side["q1"]}, other: file})
    both_mappings = ndcg.compute(predictions=run, references=qrels, use_aggregator=False)
    assert both_mappings["nDCG"] == pytest.approx([1.0, 1 / math.log2(3)], rel=1e-15)


@pytest.mark.parametrize("ties", ["average", "docid"])
def test_queries_without_documents_count_next_to_a_file_as_in_mappings(
    ndcg: evaluate.Metric, tmp_path: Path, ties: str
) -> None:
    for predictions, references in both(tmp_path, {"q": {"a": 1.0}}, {"q": {"a": 1}}):
        assert ndcg.compute(predictions=predictions, references={"q": {}}, ties=ties) == {"nDCG": 0.0}
        assert ndcg.compute(predictions={"q": {}}, references=references, ties=ties) == {"nDCG": 0.0}
        with pytest.raises(ValueError, match=r"^predictions: no query is in the references"):
            ndcg.compute(predictions={"r": {}}, references=references, ties=ties)
        with pytest.raises(ValueError, match=r"^predictions: no query is in the references"):
            ndcg.compute(predictions=predictions, references={"r": {}}, ties=ties)


def test_the_content_of_a_file_is_not_a_path(ndcg: evaluate.Metric) -> None:
    content = "".join(f"q Q0 d{at} 1 {at} tag\n" for at in range(10_000))
    with pytest.raises(ValueError, match=r"^predictions: 'q Q0 d0 1 0 tag\\n.*…': File name too long$") as caught:
        ndcg.compute(predictions=content, references={"q": {"d1": 1}})
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_a_run_of_no_queries_retrieved_nothing(ndcg: evaluate.Metric) -> None:
    assert ndcg.compute(predictions={}, references={"q": {"a": 1}}) == {"nDCG": 0.0}


# --- Mixed forms -----------------------------------------------------------------------------------------------------


def test_ids_on_one_side_and_positions_on_the_other_are_rejected(fresh_metric: MetricFactory, tmp_path: Path) -> None:
    run, qrels = {"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 1, "b": 0}}
    positions = [[[1, 0]], np.array([[1, 0]]), pa.array([[1, 0]]), polars_lists([[1, 0]])]
    metric = fresh_metric()
    for method in (metric.compute, metric.add_batch):
        for by_position in positions:
            for predictions in (run, written(tmp_path / "run", run, "run")):
                with pytest.raises(ValueError, match=r"^predictions are by ids and references by position"):
                    method(predictions=predictions, references=by_position)
            for references in (qrels, written(tmp_path / "qrels", qrels, "qrels")):
                with pytest.raises(ValueError, match=r"^predictions are by position .* and references by ids"):
                    method(predictions=by_position, references=references)
        for side in ((run, qrels), (tmp_path / "run", tmp_path / "qrels")):
            with pytest.raises(ValueError, match=r"^query_ids are for flat predictions and references"):
                method(predictions=side[0], references=side[1], query_ids=[1, 1])
    assert len(metric) == 0


def test_documents_by_position_are_in_the_order_of_their_ids_for_docid(ndcg: evaluate.Metric) -> None:
    scores, relevance = [1, 1, 2, 1], [1, 0, 0, 2]
    by_id = [{"q": dict(zip("abcd", side, strict=True))} for side in (scores, relevance)]
    expected = ndcg.compute(predictions=by_id[0], references=by_id[1], ties="docid")
    assert ndcg.compute(predictions=[scores], references=[relevance], ties="docid") == expected


def test_flat_columns_with_document_ids_are_ranked_as_trec_eval_does(ndcg: evaluate.Metric) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = random.Random(10)
    # tied scores; ids that text orders otherwise than numbers
    rows = [(f"q{q}", f"d{d}", rng.choice([0.5, 1.0, 2.0]), rng.choice([0, 1, 3])) for q in range(3) for d in range(12)]
    run = {q: {d: score for each, d, score, _ in rows if each == q} for q, *_ in rows}
    qrels = {q: {d: relevance for each, d, _, relevance in rows if each == q} for q, *_ in rows}
    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut.5"}).evaluate(run)
    for _ in range(5):
        rng.shuffle(rows)
        query_ids, document_ids, scores, relevances = zip(*rows, strict=True)
        flat = {"predictions": scores, "references": relevances, "query_ids": query_ids, "document_ids": document_ids}
        for column in (list, pa.array, np.array):
            inputs = {name: column(list(side)) for name, side in flat.items()}
            scored = ndcg.compute(**inputs, convention="trec_eval", k=[5, None], use_aggregator=False)
            in_order = list(dict.fromkeys(query_ids))
            assert scored["nDCG@5"] == pytest.approx([found[q]["ndcg_cut_5"] for q in in_order], rel=1e-12)
            assert scored["nDCG"] == pytest.approx([found[q]["ndcg"] for q in in_order], rel=1e-12)
        report = ndcg.report(**flat, convention="trec_eval", k=5)
        assert report.queries["nDCG@5"].to_pylist() == pytest.approx(scored["nDCG@5"], rel=1e-12)
        systems = {"one": scores, "other": [-score for score in scores]}
        sides = {name: side for name, side in flat.items() if name != "predictions"}
        compared = ndcg.compare(systems=systems, **sides, convention="trec_eval", k=5)
        assert compared.scores["one"]["nDCG@5"].value == pytest.approx(report.scores["nDCG@5"].value, rel=1e-12)


def test_integers_as_document_ids_are_ordered_as_text(ndcg: evaluate.Metric) -> None:
    flat = {"predictions": [1, 1, 1], "query_ids": [4, 4, 4], "ties": "docid", "k": 1}
    for document_ids in ([9, 10, 100], ["9", "10", "100"]):
        first = [ndcg.compute(**flat, references=each, document_ids=document_ids) for each in ([1, 0, 0], [0, 1, 1])]
        assert first == [{"nDCG@1": 1.0}, {"nDCG@1": 0.0}]


def test_flat_columns_without_document_ids_are_rejected_where_docid_decides(ndcg: evaluate.Metric) -> None:
    flat = {"predictions": [1, 2, 1, 2, 2], "references": [1, 0, 1, 2, 0], "query_ids": ["p", "q", "p", "q", "p"]}
    for options in ({"ties": "docid"}, {"convention": "trec_eval"}):
        with pytest.raises(
            ValueError, match=r"^document_ids are missing: query 'q', row 1 and query 'q', row 3 have the same score"
        ):
            ndcg.compute(**flat, **options)
    # if all tied documents are alike, padding, or not retrieved, their order does not matter
    for column, row, value in (
        ("predictions", 3, 3),
        ("references", 3, 0),
        ("references", 3, -100),
        ("predictions", 3, None),
    ):
        given = {**flat, column: [value if at == row else each for at, each in enumerate(flat[column])]}
        in_order = ndcg.compute(**given, ties="docid", ignore_index=-100)
        backwards = {name: side[::-1] for name, side in given.items()}
        assert ndcg.compute(**backwards, ties="docid", ignore_index=-100) == in_order
    unretrieved = {**flat, "predictions": [1, -math.inf, 1, -math.inf, 2]}
    assert ndcg.compute(**unretrieved, ties="docid") == {"nDCG": pytest.approx(0.5 * (SECOND + 0.5) / (1 + SECOND))}
    unjudged = {**flat, "references": [1, None, 1, 0, 0]}
    assert ndcg.compute(**unjudged, ties="docid", judged_only=True) == {
        "nDCG": pytest.approx(0.5 * (SECOND + 0.5) / (1 + SECOND))
    }
    with pytest.raises(ValueError, match=r"^document_ids are missing: query 'q', row 1"):
        ndcg.compute(**unjudged, ties="docid")


@pytest.mark.parametrize("ties", ["average", "docid"])
def test_a_document_twice_in_a_query_is_rejected_with_its_place(fresh_metric: MetricFactory, ties: str) -> None:
    flat = {"predictions": [1, 2, 3, 4], "references": [1, 0, 1, 2], "query_ids": ["p", "q", "q", "p"]}
    metric = fresh_metric()
    place = r"^document_ids: query 'q', row 2: document 'a' is in row 1 already"
    with pytest.raises(ValueError, match=place):
        metric.compute(**flat, document_ids=["a", "a", "a", "b"], ties=ties)
    with pytest.raises(ValueError, match=place):
        metric.add_batch(**flat, document_ids=["a", "a", "a", "b"])
    assert len(metric) == 0
    metric.add_batch(**flat, document_ids=["a", "a", "b", "b"])
    assert len(metric) == 2


def test_document_ids_without_query_ids_or_of_another_length_are_rejected(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match=r"^document_ids are for flat predictions and references; give query_ids too"):
        ndcg.compute(predictions=[[1, 2]], references=[[1, 0]], document_ids=["a", "b"])
    with pytest.raises(ValueError, match="predictions 2, references 2, query_ids 2, document_ids 1 rows"):
        ndcg.compute(predictions=[1, 2], references=[1, 0], query_ids=[1, 1], document_ids=["a"])


@pytest.mark.parametrize("options", [{"ties": "docid"}, {"convention": "trec_eval"}], ids=str)
def test_batches_keep_no_document_ids(fresh_metric: MetricFactory, options: dict[str, str]) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions={"q": {"b": 1, "a": 1}}, references={"q": {"a": 1}})
    with pytest.raises(ValueError, match=r'^ties="docid": .* batches .* keep no document ids'):
        metric.compute(**options)
    assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx((1 + 1 / math.log2(3)) / 2)}


# --- Padding ---------------------------------------------------------------------------------------------------------

LEFT_OUT_SCORES = [[0.5, 2.25], [7.0], [1.0, 1.0, 0.25], []]
LEFT_OUT_RELEVANCES = [[1, 2], [0], [0, 3, 1], []]


def padded(rows: Rows, value: Any) -> Rows:
    """Padded on the right, but the last query, which is all padding."""
    return [[*row, *[value] * (3 - len(row))] for row in rows]


@pytest.mark.parametrize("score", [0.0, 99.0, -99.0, -100, 1e30, math.nan, math.inf, -math.inf, None])
@pytest.mark.parametrize(
    "form", ["lists", "NumPy", "PyTorch bfloat16", "PyTorch float32", "JAX float32", "Arrow lists"]
)
def test_padding_is_as_if_left_out_whatever_its_score(ndcg: evaluate.Metric, form: str, score: Any) -> None:
    scores = padded(LEFT_OUT_SCORES, score)
    if score is not None:
        scores = EVERY_FORM[form](scores)
    references = EVERY_FORM[form](padded(LEFT_OUT_RELEVANCES, -100))
    expected = of_lists(ndcg, LEFT_OUT_SCORES, LEFT_OUT_RELEVANCES)
    assert values(ndcg, predictions=scores, references=references, ignore_index=-100) == expected


def test_padding_in_the_middle_and_next_to_missing_values_is_left_out(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    predictions = [[9.0, 0.5, math.nan, None, 2.0, None], [-100.0, 1.0]]
    references = [[-100, 1, -100, 2, None, -100], [1, -100]]
    expected = of_lists(metric, [[0.5, None, 2.0], [-100.0]], [[1, 2, None], [1]])
    assert values(metric, predictions=predictions, references=references, ignore_index=-100) == expected
    metric.add_batch(predictions=predictions, references=references, ignore_index=-100)
    assert values(metric) == expected


def test_padding_is_left_out_of_flat_rankings_and_mappings(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    expected = of_lists(ndcg, [[0.5, 1.0]], [[1, 0]])
    flat = {"predictions": [0.5, math.nan, 1.0], "references": [1, -100, 0], "query_ids": ["q"] * 3}
    assert values(ndcg, **flat, ignore_index=-100) == expected
    run, qrels = {"q": {"a": 0.5, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "b": -100, "c": 0}}
    for predictions, references in both(tmp_path, run, qrels):
        assert values(ndcg, predictions=predictions, references=references, ignore_index=-100) == expected


FLOATS = (np.float16, np.float32, np.float64)
MARKS = (1e30, -99.9, np.float64(1e30), np.float32(-99.9), 1000.1)


@pytest.mark.parametrize(
    ("dtype", "ignore_index"),
    [(np.int8, -1), (np.uint8, 255), (np.float32, -1.0), (float, 0.5), *itertools.product(FLOATS, MARKS)],
)
def test_padding_is_compared_in_the_type_of_the_references(
    ndcg: evaluate.Metric, dtype: Any, ignore_index: float
) -> None:
    with np.errstate(over="ignore"):  # in float16, 1e30 is infinite
        references = np.array(padded(LEFT_OUT_RELEVANCES, ignore_index)).astype(dtype)
    expected = of_lists(ndcg, LEFT_OUT_SCORES, LEFT_OUT_RELEVANCES)
    predictions = padded(LEFT_OUT_SCORES, 3.0)
    assert values(ndcg, predictions=predictions, references=references, ignore_index=ignore_index) == expected


@pytest.mark.parametrize("ignore_index", [1e30, 1e9, -99.9, -100])
@pytest.mark.parametrize("library", ["torch", "ml_dtypes"])
@pytest.mark.parametrize("rows", [False, True])
def test_padding_is_compared_in_bfloat16_too(
    fresh_metric: MetricFactory, library: str, ignore_index: float, rows: bool
) -> None:
    bfloat16 = pytest.importorskip(library).bfloat16
    given = padded(LEFT_OUT_RELEVANCES, ignore_index)
    references = sys.modules["torch"].tensor(given, dtype=bfloat16) if library == "torch" else np.array(given, bfloat16)
    references = list(references) if rows else references
    metric, predictions = fresh_metric(), padded(LEFT_OUT_SCORES, 3.0)
    expected = of_lists(metric, LEFT_OUT_SCORES, LEFT_OUT_RELEVANCES)
    assert values(metric, predictions=predictions, references=references, ignore_index=ignore_index) == expected
    metric.add_batch(predictions=predictions, references=references, ignore_index=ignore_index)
    assert values(metric) == expected


@pytest.mark.parametrize("first", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("second", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("ignore_index", [-99.9, np.float64(-99.9), -100])
def test_padding_means_the_same_in_batches_of_several_types(
    fresh_metric: MetricFactory, first: Any, second: Any, ignore_index: float
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    references = np.array(padded(LEFT_OUT_RELEVANCES, float(ignore_index))).astype(first)
    metric.add_batch(predictions=padded(LEFT_OUT_SCORES, 3.0), references=references)
    metric.add_batch(predictions=[[1.0, 2.0]], references=np.array([[1, 0]], second))
    expected = of_lists(fresh_metric(), [*LEFT_OUT_SCORES, [1.0, 2.0]], [*LEFT_OUT_RELEVANCES, [1, 0]])
    assert values(metric, ignore_index=ignore_index) == expected


def rows_of(first: Any, second: Any) -> Form:
    """The rows by turns in either of two forms."""
    return lambda rows: [(second if at % 2 else first)(row) for at, row in enumerate(rows)]


def with_a_null(row: list[Any]) -> Any:
    return pa.array([*row, None], pa.float32())


def bfloat16_tensor(values: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.tensor(values, dtype=torch.bfloat16)


def bfloat16_array(values: Any) -> Any:
    return np.array(values, pytest.importorskip("ml_dtypes").bfloat16)


def of_scalars(*kinds: Any) -> Form:
    return lambda row: [kinds[at % len(kinds)](value) for at, value in enumerate(row)]


MIXED_ROWS = {
    "float32 and float64": rows_of(np.float32, np.float64),
    "float16 and float32": rows_of(np.float16, np.float32),
    "float32 and int8 or float64": rows_of(
        np.float32, lambda row: np.array(row, np.int8 if max(map(abs, row)) < 5 else float)
    ),
    "float32 and lists": rows_of(np.float32, list),
    "float32 and objects": rows_of(np.float32, lambda row: np.array(row, object)),
    "masked float32 and float64": rows_of(lambda row: np.ma.array(row, np.float32), np.float64),
    "Arrow float32 and float64": rows_of(lambda row: pa.array(row, pa.float32()), np.float64),
    "Arrow float32 with a null and lists": rows_of(with_a_null, lambda row: [*row, None]),
    "Arrow float32 with a null": rows_of(with_a_null, with_a_null),
    "PyTorch bfloat16 and float64": rows_of(bfloat16_tensor, np.float64),
    "PyTorch bfloat16 and lists": rows_of(bfloat16_tensor, list),
    "ml_dtypes bfloat16 and float32": rows_of(bfloat16_array, np.float32),
    "both bfloat16": rows_of(bfloat16_tensor, bfloat16_array),
    "scalars of float32": rows_of(of_scalars(np.float32), of_scalars(np.float32)),
    "scalars of float32 and floats": rows_of(of_scalars(np.float32, float), list),
    "scalars of several types": rows_of(of_scalars(np.float32, np.float64, np.float16), of_scalars(np.float32)),
    "tensors of bfloat16": rows_of(of_scalars(bfloat16_tensor, float), list),
    "scalars of bfloat16": rows_of(of_scalars(bfloat16_array, bfloat16_array, float), list),
}


@pytest.mark.parametrize("ignore_index", [1e30, -99.9, -100])
@pytest.mark.parametrize("form", MIXED_ROWS)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # float16 holds 1e30 as infinite
def test_padding_is_compared_in_the_type_of_each_row_and_number(
    fresh_metric: MetricFactory, form: str, ignore_index: float
) -> None:
    """As many queries end in padding and in a document not judged, which no form may take for one."""
    rows = [[1, 2, ignore_index], [0, ignore_index, 3], [ignore_index] * 3, [4, 0, 1]]
    references = MIXED_ROWS[form](rows)
    width = len(references[0])
    scores = [[2.0, 1.0, 3.0, 4.0][:width]] * 4
    left = [[each is not ignore_index for each in row] + [True] * (width - 3) for row in rows]
    expected = of_lists(
        fresh_metric(),
        [
            [score for score, kept in zip(row, each, strict=True) if kept]
            for row, each in zip(scores, left, strict=True)
        ],
        [[*(each for each in row if each is not ignore_index), *[None] * (width - 3)] for row in rows],
    )
    metric = fresh_metric()
    assert values(metric, predictions=scores, references=references, ignore_index=ignore_index) == expected
    metric.add_batch(predictions=scores, references=references, ignore_index=ignore_index)
    assert values(metric) == expected


@pytest.mark.parametrize("kind", [np.float32, bfloat16_tensor, bfloat16_array])
def test_padding_of_flat_rankings_and_mappings_is_compared_in_its_own_type(
    ndcg: evaluate.Metric, tmp_path: Path, kind: Any
) -> None:
    expected = of_lists(ndcg, [[0.5, 1.0]], [[1, 0]])
    for references in (kind([1, 1e30, 0]), [1, kind(1e30), 0.0], [kind(1), kind(1e30), kind(0)]):
        flat = {"predictions": [0.5, 9.0, 1.0], "references": references, "query_ids": ["q"] * 3}
        assert values(ndcg, **flat, ignore_index=1e30) == expected
    run, qrels = {"q": {"a": 0.5, "b": 2.0, "c": 1.0}}, {"q": {"a": 1, "b": kind(1e30), "c": 0}}
    file = tmp_path / "run"
    file.write_text("".join(f"q Q0 {document} 0 {score} run\n" for document, score in run["q"].items()))
    for predictions in (run, file):
        assert values(ndcg, predictions=predictions, references=qrels, ignore_index=1e30) == expected


@pytest.mark.parametrize("kind", [np.float32, bfloat16_tensor, bfloat16_array])
def test_padding_is_compared_in_its_own_type_for_several_systems(ndcg: evaluate.Metric, kind: Any) -> None:
    systems = {"a": [[3.0, 1.0, 2.0]] * 2, "b": [[1.0, 3.0, 2.0]] * 2}
    own, exact = (
        ndcg.compare(systems=systems, references=references, ignore_index=1e30)
        for references in (kind([[1, 0, 1e30]] * 2), [[1, 0, 1e30]] * 2)
    )
    assert own == exact


def test_without_ignore_index_padding_is_rejected_as_a_relevance(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match=r"^references: query 1, position 1: the relevance -100"):
        ndcg.compute(
            predictions=padded(LEFT_OUT_SCORES, 0.0), references=padded([[1, 2, 0], [0]], -100) + [[0] * 3] * 2
        )
    with pytest.raises(ValueError, match=r"^predictions: query 0, position 1: nan"):
        ndcg.compute(predictions=[[1, math.nan]], references=[[1, 2]], ignore_index=-100)


def test_all_padding_is_a_query_with_nothing_relevant(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": [[1.0, 2.0], [1.0, 2.0]], "references": [[-100, -100], [0, 1]], "ignore_index": -100}
    for zero_division in (0.0, 1.0):
        result = ndcg.compute(**inputs, zero_division=zero_division, use_aggregator=False)
        assert result == {"nDCG": [zero_division, 1.0]}
    assert ndcg.compute(**inputs, zero_division=math.nan) == {"nDCG": 1.0}


@pytest.mark.parametrize("value", ["-100", math.nan, math.inf, True, [-100], None])
def test_an_ignore_index_that_is_not_a_number_is_rejected(ndcg: evaluate.Metric, value: Any) -> None:
    if value is None:
        assert ndcg.compute(predictions=[[1, 0]], references=[[1, 0]], ignore_index=None) == {"nDCG": 1.0}
        return
    with pytest.raises(ValueError, match=r"^ignore_index must be"):
        ndcg.compute(predictions=[[1, 0]], references=[[1, 0]], ignore_index=value)


# --- Only the judged -------------------------------------------------------------------------------------------------


def test_only_the_judged_are_ranked_as_if_the_others_were_dropped(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    scores = [[3.0, 2.0, 2.0, None, 1.0, 2.0], [5.0, 4.0], [1.0, 2.0]]
    relevances = [[None, 1, None, 3, 2, 0], [None, None], [1, 0]]
    expected = of_lists(ndcg, [[2.0, None, 1.0, 2.0], [], [1.0, 2.0]], [[1, 3, 2, 0], [], [1, 0]])
    for form in RAGGED_FORMS:
        if form != "masked NumPy, padded":  # which is not as wide
            inputs = {"predictions": RAGGED_FORMS[form](scores), "references": RAGGED_FORMS[form](relevances)}
            assert values(ndcg, **inputs, judged_only=True) == expected, form
            assert values(ndcg, **inputs) != expected, form
    flat = {"predictions": [each for row in scores for each in row], "query_ids": [0] * 6 + [1] * 2 + [2] * 2}
    flat["references"] = [each for row in relevances for each in row]
    assert values(ndcg, **flat, judged_only=True) == expected
    run, qrels = by_ids(scores), by_ids(relevances)
    assert values(ndcg, predictions=run, references=qrels, judged_only=True) == expected
    qrels = {"q0": qrels["q0"], "q2": qrels["q2"]}  # a file holds no query without documents
    expected = {name: [each[0], each[2]] for name, each in expected.items()}
    for predictions, references in both(tmp_path, run, qrels):
        assert values(ndcg, predictions=predictions, references=references, judged_only=True) == expected


def test_only_the_judged_of_a_random_run_are_ranked(ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(8)
    scores = np.ma.MaskedArray(rng.integers(0, 12, (50, 30)) / 4, rng.random((50, 30)) < 0.2)
    relevances = np.ma.MaskedArray(rng.integers(0, 4, (50, 30)), rng.random((50, 30)) < 0.4)
    by_hand = [
        [list(side) for side in zip(*[(s, r) for s, r in zip(*rows, strict=True) if r is not None], strict=True)]
        for rows in zip(scores.tolist(), relevances.tolist(), strict=True)
    ]
    dropped = {"predictions": [s for s, _ in by_hand], "references": [r for _, r in by_hand]}
    for ties in ("average", "first", "last", "best", "worst"):
        actual = values(ndcg, predictions=scores, references=relevances, judged_only=True, ties=ties)
        assert actual == values(ndcg, **dropped, ties=ties), ties


def test_only_the_judged_of_batches_are_ranked(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=[[3.0, 2.0]], references=[[None, 1]])
    assert metric.compute(judged_only=True) == {"nDCG": 1.0}
    metric.add_batch(predictions=[[3.0, 2.0]], references=[[None, 1]])
    assert metric.compute() == {"nDCG": pytest.approx(1 / math.log2(3), rel=1e-15)}


def test_only_the_judged_and_padding_together(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": [[3.0, 2.0, 1.0, 9.0]], "references": [[None, 0, 1, -100]]}
    expected = of_lists(ndcg, [[2.0, 1.0]], [[0, 1]])
    assert values(ndcg, **inputs, judged_only=True, ignore_index=-100) == expected


def test_a_score_that_is_not_a_number_is_also_rejected_for_unjudged_documents(fresh_metric: MetricFactory) -> None:
    metric, message = fresh_metric(), "query 0, position 1: nan is not a score"
    inputs = {"predictions": [[3.0, math.nan, 1.0]], "references": [[1, None, 0]]}
    for options in ({}, {"ignore_index": -100}):
        with pytest.raises(ValueError, match=message):
            metric.compute(**inputs, judged_only=True, **options)
    padded = {"predictions": [[3.0, math.nan, 1.0]], "references": [[1, -100, 0]]}
    assert metric.compute(**padded, judged_only=True, ignore_index=-100) == {"nDCG": 1.0}


@pytest.mark.parametrize("argument", ["query_ids", "document_ids"])
@pytest.mark.parametrize(
    "ids",
    [
        pa.array([2**62, 1], pa.timestamp("s")),
        pa.array([-(2**62), 1], pa.timestamp("s", "UTC")),
        pa.array([1, 2], pa.timestamp("s", "Mars/Phobos")),
        pa.array([2**30, 1], pa.date32()),
        pa.array([1, 2**62], pa.date64()),
        pa.chunked_array([pa.array([1, 2**62], pa.timestamp("s")).dictionary_encode()]),
    ],
    ids=lambda ids: str(ids.type),
)
def test_times_that_cannot_be_shown_are_rejected_as_ids(fresh_metric: MetricFactory, argument: str, ids: Any) -> None:
    metric = fresh_metric()
    given = {"predictions": [0.5, 1.0], "references": [1, 0], "query_ids": ["q", "q"], argument: ids}
    for options in ({}, {"ties": "docid"}):
        for method in (metric.compute, metric.report):
            with pytest.raises(ValueError, match=rf"^{argument}: hold times that cannot be shown .*as text"):
                method(**given, **options)
    with pytest.raises(ValueError, match=f"^{argument}: hold times that cannot be shown"):
        metric.add_batch(**given)


@pytest.mark.parametrize("ignore_index", [2**63, -(2**70), 1e30])
@pytest.mark.parametrize("form", [list, np.array, pa.array, pa.chunked_array])
def test_no_bool_is_padding_that_is_a_large_number(
    ndcg: evaluate.Metric, form: Callable[[Any], Any], ignore_index: float
) -> None:
    references = form([pa.array([[True, False]])]) if form is pa.chunked_array else form([[True, False]])
    assert ndcg.compute(predictions=[[2.0, 1.0]], references=references, ignore_index=ignore_index) == {"nDCG": 1.0}
    assert ndcg.compute(predictions=[[2.0, 1.0]], references=references, ignore_index=1) == {"nDCG": 0.0}


def test_document_ids_are_ordered_as_text_by_docid(ndcg: evaluate.Metric) -> None:
    for ids in (("9", "10"), (9, 10), ("a", 3), ("é", "d")):
        for run in (dict.fromkeys(ids, 1.0), dict.fromkeys(ids[::-1], 1.0)):
            result = ndcg.compute(predictions={"q": run}, references={"q": {ids[0]: 1}}, ties="docid", k=1)
            assert result == {"nDCG@1": 1.0}  # the first of each is the higher


def test_a_nan_of_pandas_is_a_missing_value(ndcg: evaluate.Metric) -> None:
    pd = pytest.importorskip("pandas", minversion="3")

    scores, users = pd.Series([0.5, math.nan, 1.0]), pd.Series([1, 1, 1])
    actual = ndcg.compute(predictions=scores, references=[1, 0, 2], query_ids=users, measures=["DCG", "IDCG"])
    assert actual == ndcg.compute(predictions=[[0.5, None, 1.0]], references=[[1, 0, 2]], measures=["DCG", "IDCG"])


def test_query_ids_may_be_integers_of_all_64_bits(ndcg: evaluate.Metric) -> None:
    flat = {"predictions": [0.5, 1.0, 0.25], "references": [1, 0, 1]}
    expected = values(ndcg, **flat, query_ids=["a", "a", "b"])
    for ids in ([2**63, 2**63, 1], np.array([2**63, 2**63, 1], np.uint64), np.array([5, 5, 1], ">i4")):
        assert values(ndcg, **flat, query_ids=ids) == expected


def test_categories_without_chunks_hold_no_queries(ndcg: evaluate.Metric) -> None:
    ids = pa.chunked_array([], pa.dictionary(pa.int32(), pa.string()))
    with pytest.raises(ValueError, match="hold no queries"):
        ndcg.compute(predictions=[], references=[], query_ids=ids)


@pytest.mark.parametrize(
    "rows", [([0.9, 0.1], np.array([0.2])), (np.array([0.9, 0.1]), [0.2]), ([0.9, 0.1], pa.array([0.2]))]
)
def test_a_list_may_hold_lists_arrays_and_columns_in_any_order(ndcg: evaluate.Metric, rows: Any) -> None:
    assert values(ndcg, predictions=list(rows), references=[[0, 1], [1]]) == values(
        ndcg, predictions=[[0.9, 0.1], [0.2]], references=[[0, 1], [1]]
    )


@pytest.mark.parametrize("ids", [(1, "1"), ("1", 1), (b"1", "1")])
def test_document_ids_of_two_types_that_never_meet_are_rejected(ndcg: evaluate.Metric, ids: tuple[Any, Any]) -> None:
    kinds = [type(each).__name__ for each in ids]
    with pytest.raises(
        ValueError, match=rf"^predictions: no document .* ids are {kinds[0]} in the .*, {kinds[1]} in the"
    ):
        ndcg.compute(predictions={"q": {ids[0]: 1.0}}, references={"q": {ids[1]: 1}})


def test_relevance_may_be_true_or_false_in_ragged_lists(ndcg: evaluate.Metric) -> None:
    expected = {"nDCG": (1 / math.log2(3) + 1) / 2}
    lists = {"predictions": [[0.9, 0.1], [0.3]], "references": [[False, True], [True]]}
    assert ndcg.compute(**lists) == pytest.approx(expected)
    flat = {"predictions": [0.9, 0.1, 0.3], "references": np.array([False, True, True]), "query_ids": [1, 1, 2]}
    assert ndcg.compute(**flat) == pytest.approx(expected)
    masked = np.ma.masked_array([[False, True, False], [True, True, True]], [[0, 0, 1], [0, 1, 1]])
    scores = np.ma.masked_array([[0.9, 0.1, 0], [0.3, 0, 0]], masked.mask)
    assert ndcg.compute(predictions=scores, references=masked) == pytest.approx(expected)


# --- Values that are not ids -----------------------------------------------------------------------------------------

# each value that is not an id, and how errors show it
NO_IDS: dict[str, Any] = {
    "nan": math.nan,
    "None": None,
    "1.5": 1.5,
    "True": True,
    "('a', 1)": ("a", 1),
    "np.float64(nan)": np.float64("nan"),
    "Decimal('1')": Decimal(1),
    "UUID('00000000-0000-0000-0000-000000000001')": uuid.UUID(int=1),
}
NEITHER = "is neither text nor an integer, as ids must be; give others as text"


def mappings_of(query: Any, document: Any) -> dict[str, Any]:
    """Mappings that share a query, and a document that one has, on both sides."""
    run, qrels = {"a": 0.5, document: 1.0}, {"a": 1, document: 1}
    return {"predictions": {"p": {"a": 1.0}, query: run}, "references": {"p": {"a": 1}, query: qrels}}


MAPPING_DOORS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "compute": lambda metric, inputs: metric.compute(**inputs),
    "compute, by the order of ids": lambda metric, inputs: metric.compute(**inputs, ties="docid"),
    "values": lambda metric, inputs: metric.compute(**inputs, use_aggregator=False),
    "report": lambda metric, inputs: metric.report(**inputs),
    "explain": lambda metric, inputs: metric.explain(**inputs, got=0.5),
    "add_batch": lambda metric, inputs: metric.add_batch(**inputs),
    "exclude": lambda metric, inputs: metric.compute(**inputs, exclude={"p": ["b", "a"]}),
}


@pytest.mark.parametrize("door", MAPPING_DOORS)
@pytest.mark.parametrize("value", NO_IDS)
def test_a_mapping_with_keys_that_are_not_ids_is_rejected_at_every_door(
    ndcg: evaluate.Metric, value: str, door: str
) -> None:
    of_query = mappings_of(NO_IDS[value], "b")
    of_document = mappings_of("q", NO_IDS[value])
    for argument in ("predictions", "references"):
        good = mappings_of("q", "b")
        with pytest.raises(ValueError, match=f"^{argument}: query {re.escape(value)} {NEITHER}$"):
            MAPPING_DOORS[door](ndcg, {**good, argument: of_query[argument]})
        if door == "exclude":  # which compares the kinds of documents first
            continue
        with pytest.raises(ValueError, match=f"^{argument}: query 'q': document {re.escape(value)} {NEITHER}$"):
            MAPPING_DOORS[door](ndcg, {**good, argument: of_document[argument]})
    assert len(ndcg) == 0


@pytest.mark.parametrize("value", NO_IDS)
def test_systems_with_keys_that_are_not_ids_are_rejected(ndcg: evaluate.Metric, value: str) -> None:
    good, bad = mappings_of("q", "b"), mappings_of("q", NO_IDS[value])
    systems = {"one": good["predictions"], "other": bad["predictions"]}
    problem = rf"^systems\['other'\]: predictions: query 'q': document {re.escape(value)} {NEITHER}$"
    with pytest.raises(ValueError, match=problem):
        ndcg.compare(systems=systems, references=good["references"])


@pytest.mark.parametrize("value", NO_IDS)
def test_ids_of_other_doors_follow_the_same_rule(ndcg: evaluate.Metric, value: str) -> None:
    no_id = NO_IDS[value]
    flat = {"predictions": [0.5, 1.0], "references": [1, 0], "query_ids": ["q", "q"], "document_ids": ["a", "b"]}
    for argument in ("query_ids", "document_ids"):
        with pytest.raises(ValueError, match=f"^{argument}"):
            ndcg.compute(**{**flat, argument: [no_id, no_id]})
    with pytest.raises(ValueError, match=r"^query_ids|^with query_ids"):
        ndcg.meter().update([0.5, 1.0], [1, 0], query_ids=[no_id, no_id])
    ranked = f"query 0, position 1: an id must be text or an integer; got {re.escape(value)}; "
    with pytest.raises(ValueError, match=f"^predictions: {ranked}"):
        ndcg.compute(predictions=[["a", no_id]], references=[{"a"}])
    with pytest.raises(ValueError, match=f"^references: {ranked}"):
        ndcg.compute(predictions=[["a"]], references=[{"a": 1, no_id: 1}])


def test_ids_of_every_kind_score_alike_in_mappings_rows_and_ranked_lists(ndcg: evaluate.Metric) -> None:
    day = datetime.datetime(2026, 1, 1)
    for first, second in (("a", "b"), (1, 2), (np.int64(1), 2), (b"a", b"b"), (day, day.replace(day=2))):
        for by in (lambda each: each, lambda each: getattr(each, "date", lambda: each)()):
            a, b = by(first), by(second)
            expected = {"nDCG": pytest.approx(1 / math.log2(3))}
            rows = {"predictions": [2.0, 1.0], "references": [0, 1], "query_ids": [a, a], "document_ids": [a, b]}
            assert ndcg.compute(predictions={a: {a: 2.0, b: 1.0}}, references={a: {b: 1}}) == expected
            assert ndcg.compute(**rows) == expected
            assert ndcg.compute(predictions=[[a, b]], references=[{b}]) == expected
            assert ndcg.compute(**rows, exclude={a: [a]}) == {"nDCG": 1.0}


@pytest.mark.parametrize("judged", [[1, 0], [1.5, None], [np.int64(3), 0], [np.float64(0.5), 2], [True, 2], [300, 0]])
def test_numbers_of_long_mappings_are_those_of_short_ones(ndcg: evaluate.Metric, judged: list[Any]) -> None:
    # several thousand numbers are read at once by the types that they have, fewer one by one
    def side(queries: int, values: list[Any]) -> dict[str, Any]:
        return {f"q{query}": dict(zip(("a", "b"), values, strict=True)) for query in range(queries)}

    for unjudged in (0, 1):
        run = {query: {**each, **dict.fromkeys("c" * unjudged, 0.7)} for query, each in side(2000, [0.5, 0.9]).items()}
        few = values(ndcg, predictions={"q0": run["q0"]}, references=side(1, judged))
        many = values(ndcg, predictions=run, references=side(2000, judged))
        assert many == {name: each * 2000 for name, each in few.items()}
