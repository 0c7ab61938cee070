"""What some formats hold and others do not; see inputs/test_every_source.py for all of them."""

import datetime
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from refusals import refusal
from sources import (
    RAGGED,
    RAGGED_FORMS,
    Inputs,
    duckdb,
    mappings_and_files,
    of_lists,
    pd,
    pl,
    torch_tensor,
    written,
)

MOSTLY_MISSING = pytest.mark.filterwarnings(
    "ignore:.*(missing from the run|no query has a score):UserWarning"
)
SECOND = 1 / math.log2(2 + 1)  # the nDCG of one relevant document at the second rank


def test_scores_tied_as_32_bit_floats_need_the_ids_of_documents(ndcg: evaluate.Metric) -> None:
    flat = {"predictions": [7.0000001, 7.0], "references": [0, 1], "query_ids": ["q", "q"]}
    assert ndcg.compute(**flat, ties="docid") == {"nDCG": pytest.approx(SECOND)}
    with refusal("document_ids are missing"):
        ndcg.compute(**flat, ties="docid", score_dtype="float32")


def test_32_bit_ties_are_ordered_by_document_ids_next_to_excluded_documents(
    ndcg: evaluate.Metric,
) -> None:
    ids, rows = ["d3", "d2", "d1"], {"predictions": [5.0, 1.00000001, 1.0], "references": [0, 0, 1]}
    mappings = {name: {"q": dict(zip(ids, side, strict=True))} for name, side in rows.items()}
    for inputs in (mappings, {**rows, "query_ids": ["q"] * 3, "document_ids": ids}):
        found = ndcg.compute(**inputs, exclude={"q": ["d3"]}, ties="docid", score_dtype="float32")
        assert found["nDCG"] == pytest.approx(SECOND)  # d2, the higher id, ranks first


@pytest.mark.parametrize("format_", [list, np.array, pa.array], ids=["lists", "NumPy", "Arrow"])
def test_large_integers_are_compared_exactly_or_as_32_bit_floats(
    ndcg: evaluate.Metric, format_: Any
) -> None:
    predictions, references = [[2**24 + 1, 2**24], [2**60 + 1, 2**60]], [[1, 0], [0, 1]]
    sides = {"predictions": format_(predictions), "references": references, "use_aggregator": False}
    assert ndcg.compute(**sides)["nDCG"] == pytest.approx([1, SECOND])
    assert ndcg.compute(**sides, score_dtype="float32")["nDCG"] == pytest.approx(
        [(1 + SECOND) / 2] * 2
    )


# --- By position ----------------------------------------------------------------------------------


def test_masked_arrays_in_a_column_keep_their_masks(ndcg: evaluate.Metric) -> None:
    scores, references = (RAGGED_FORMS["masked NumPy rows"](side) for side in RAGGED)
    expected = of_lists(ndcg, *RAGGED)
    for column in (pd.Series, lambda rows: pd.DataFrame({"x": rows})):
        assert of_lists(ndcg, column(scores), column(references)) == expected
        assert of_lists(ndcg, column(scores), RAGGED.relevances) == expected
    assert of_lists(ndcg, RAGGED.scores, pl.Series(references, dtype=pl.Object)) == expected


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_tensor_may_hold_minus_infinity_and_no_nan(ndcg: evaluate.Metric, dtype: str) -> None:
    make = torch_tensor(dtype)
    assert of_lists(ndcg, make([[1.0, -math.inf]]), [[1, 2]]) == of_lists(
        ndcg, [[1.0, None]], [[1, 2]]
    )
    inputs = {"predictions": [[1, 0], [0, 1]], "references": [[1, 0], [0, 1]]}
    for argument in ("predictions", "references"):
        with refusal(argument, "query 1, position 1"):
            ndcg.compute(**{**inputs, argument: make([[1.0, 2.0], [0.5, math.nan]])})


def test_relevance_may_be_true_or_false(ndcg: evaluate.Metric) -> None:
    expected = {"nDCG": pytest.approx((SECOND + 1) / 2)}
    assert (
        ndcg.compute(predictions=[[0.9, 0.1], [0.3]], references=[[False, True], [True]])
        == expected
    )
    flat = {
        "predictions": [0.9, 0.1, 0.3],
        "references": np.array([False, True, True]),
        "query_ids": [1, 1, 2],
    }
    assert ndcg.compute(**flat) == expected
    masked = np.ma.masked_array([[False, True, False], [True, True, True]], [[0, 0, 1], [0, 1, 1]])
    scores = np.ma.masked_array([[0.9, 0.1, 0], [0.3, 0, 0]], masked.mask)
    assert ndcg.compute(predictions=scores, references=masked) == expected


@MOSTLY_MISSING
@pytest.mark.parametrize("kind", [pa.null(), pa.float64()])
def test_a_column_may_be_all_missing(ndcg: evaluate.Metric, kind: pa.DataType) -> None:
    missing = pa.array([None, None], kind)
    assert ndcg.compute(predictions=missing, references=[1, 0], query_ids=[1, 1]) == {"nDCG": 0}
    assert ndcg.compute(
        predictions=pa.array([[None], []], pa.list_(kind)), references=[[1], []]
    ) == {"nDCG": 0}


# --- Queries of a database, and transformed datasets ----------------------------------------------


def relations(**columns: list[Any]) -> list[Any]:
    """One query of a DuckDB table for each of its columns."""
    table = duckdb.connect().from_arrow(pa.table(columns))
    return [table.project(name) for name in columns]


def readers(**columns: list[Any]) -> list[Any]:
    return [pa.table({name: values}).to_reader() for name, values in columns.items()]


@pytest.mark.parametrize("several", [relations, readers])
def test_two_queries_of_a_database_have_no_common_order(
    fresh_metric: MetricFactory, several: Callable[..., list[Any]]
) -> None:
    metric, lists = fresh_metric(), [[1, 0]] * 2

    def pair() -> Inputs:
        return dict(
            zip(("predictions", "references"), several(p=[[0.5, 0.25]] * 2, r=lists), strict=True)
        )

    for method in (metric.compute, metric.add_batch, metric.report):
        with refusal("references"):
            method(**pair())
        for side in ("predictions", "references"):
            with refusal(side, "query 0"):
                method(**{"predictions": [[1, 0]], "references": [[1, 0]], side: [pair()[side]]})
    ids, score = several(q=["a", "b"], p=[0.5, 0.25])
    with refusal("query_ids"):
        metric.compute(predictions=score, references=[1, 0], query_ids=ids)
    with refusal("references"):
        metric.compare(
            systems={"a": pair()["predictions"], "b": lists}, references=pair()["references"]
        )
    with refusal("sample_weight"):
        metric.compute(predictions=lists, references=lists, sample_weight=several(w=[1, 2])[0])
    assert len(metric) == 0


@pytest.mark.parametrize(
    "format_", [None, "python", "numpy", "torch", "jax", "polars", "pandas", "arrow"]
)
def test_a_datasets_column_means_what_slicing_it_gives(
    ndcg: evaluate.Metric, format_: str | None
) -> None:
    pytest.importorskip(format_ if format_ in ("torch", "jax") else "datasets")
    # float32, which NumPy's, torch's and JAX's formats give, holds both scores as one
    data = datasets.Dataset.from_dict({"p": [[1.0, 1.0 + 2**-30]], "r": [[0, 1]]}).with_format(
        format_
    )
    expected = {
        "nDCG": pytest.approx(1.0 if format_ not in ("numpy", "torch", "jax") else (1 + SECOND) / 2)
    }
    assert ndcg.compute(predictions=data["p"], references=data["r"]) == expected
    assert ndcg.compute(predictions=data["p"][:], references=data["r"][:]) == expected


def test_a_datasets_column_is_transformed_and_has_fields(fresh_metric: MetricFactory) -> None:
    metric, data = (
        fresh_metric(),
        datasets.Dataset.from_dict({"p": [[1.0, 2.0, 3.0]], "r": [[0, 0, 1]]}),
    )
    assert metric.compute(predictions=data["p"], references=data["r"]) == {"nDCG": 1.0}

    def turn(batch: dict[str, list[list[float]]]) -> dict[str, list[list[float]]]:
        return {
            **batch,
            **({"p": [[-score for score in row] for row in batch["p"]]} if "p" in batch else {}),
        }

    backwards, last = data.with_transform(turn), {"nDCG": 1 / math.log2(3 + 1)}
    assert metric.compute(predictions=backwards["p"], references=backwards["r"]) == last
    metric.add_batch(predictions=backwards["p"], references=backwards["r"])
    assert metric.compute() == last
    nested = datasets.Dataset.from_dict({"of": [{"p": [1.0, 2.0], "r": [1, 0]}]})["of"]
    assert metric.compute(predictions=nested["p"], references=nested["r"]) == {
        "nDCG": pytest.approx(SECOND)
    }


def test_columns_of_pandas_with_other_indexes_are_rejected(fresh_metric: MetricFactory) -> None:
    """Rows are taken in order, so a column sorted or filtered alone would give a wrong number."""
    frame = pd.DataFrame(
        {"q": ["a", "a", "b", "b"], "p": [0.5, 0.25, 0.125, 0.75], "r": [1, 0, 1, 0]}
    )
    metric = fresh_metric()
    columns = {"predictions": frame["p"], "references": frame["r"], "query_ids": frame["q"]}
    expected = {"nDCG": pytest.approx((1 + SECOND) / 2, rel=1e-12)}
    assert metric.compute(**columns) == expected
    for name, column in columns.items():
        other = "references" if name == "predictions" else name
        for moved in (column[::-1], column.rename(lambda row: row + 1)):
            for method in (metric.compute, metric.add_batch, metric.report):
                with refusal(other):
                    method(**{**columns, name: moved})
    assert metric.compute(**{**columns, "references": frame["r"].to_numpy()}) == expected


# --- Flat, with query_ids -------------------------------------------------------------------------


def test_queries_are_in_the_order_of_their_first_rows_and_rows_keep_theirs(
    ndcg: evaluate.Metric,
) -> None:
    flat = {
        "scores": [1, 2, 1, 1, 1],
        "relevances": [0, 1, 1, 2, 0],
        "query_ids": ["z", "a", "z", "a", "z"],
    }
    rows = {"scores": [[1, 1, 1], [2, 1]], "relevances": [[0, 1, 0], [1, 2]]}
    for ties in ("first", "last", "average"):
        assert of_lists(ndcg, **flat, ties=ties) == of_lists(ndcg, **rows, ties=ties)


def test_many_grouped_rows_score_as_scattered_ones(ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(5)
    codes, scores, relevances = (
        np.repeat(np.arange(40), 25),
        rng.integers(0, 9, 1000) / 4,
        rng.integers(0, 4, 1000),
    )
    scattered = np.argsort(
        np.tile(np.arange(25), 40), kind="stable"
    )  # the queries first occur in the same order
    expected = of_lists(ndcg, scores[scattered], relevances[scattered], query_ids=codes[scattered])
    assert of_lists(ndcg, scores, relevances, query_ids=codes) == expected


def test_query_ids_may_be_integers_of_all_64_bits(ndcg: evaluate.Metric) -> None:
    expected = of_lists(ndcg, [0.5, 1.0, 0.25], [1, 0, 1], query_ids=["a", "a", "b"])
    for ids in (
        [2**63, 2**63, 1],
        np.array([2**63, 2**63, 1], np.uint64),
        np.array([5, 5, 1], ">i4"),
    ):
        assert of_lists(ndcg, [0.5, 1.0, 0.25], [1, 0, 1], query_ids=ids) == expected


def test_a_nan_of_pandas_is_a_missing_value(ndcg: evaluate.Metric) -> None:
    expected = of_lists(ndcg, [[0.5, None, 1.0]], [[1, 0, 2]])
    assert (
        of_lists(ndcg, pd.Series([0.5, math.nan, 1.0]), [1, 0, 2], query_ids=pd.Series([1, 1, 1]))
        == expected
    )


# --- By ids ---------------------------------------------------------------------------------------


FIRST_OF_THREE = 1 / (3 + 2 * SECOND + 1 / math.log2(3 + 1))  # two of which were not retrieved
# a run and qrels, and the nDCG of each query of the qrels, in their order
BY_IDS: list[tuple[Any, Any, list[float]]] = [
    (
        {"no": {"a": 1.0}, "q": {"a": 1.0, "b": 2.0}},
        {"r": {"a": 1}, "q": {"a": 1, "b": 2}, "s": {"b": 0}},
        [0, 1, 0],
    ),
    ({"q": {"b": 1.0}}, {"q": {"a": 3, "b": 1, "c": 2}}, [FIRST_OF_THREE]),
    ({"q": {"x": 9.0, "a": 2.0, "y": 1.0}}, {"q": {"a": 3}}, [SECOND]),
]


@MOSTLY_MISSING
@pytest.mark.parametrize(("run", "qrels", "expected"), BY_IDS)
def test_mappings_and_files_are_joined_by_ids(
    ndcg: evaluate.Metric, tmp_path: Path, run: Any, qrels: Any, expected: list[float]
) -> None:
    for predictions, references in mappings_and_files(tmp_path, run, qrels):
        sides = {"predictions": predictions, "references": references}
        assert ndcg.compute(**sides, use_aggregator=False) == {
            "nDCG": pytest.approx(expected, rel=1e-15, abs=0)
        }
        assert ndcg.compute(**sides) == {"nDCG": pytest.approx(sum(expected) / len(expected))}


def test_excluded_documents_are_counted_alike_in_mappings_files_and_rows(
    ndcg: evaluate.Metric, tmp_path: Path
) -> None:
    run, qrels = (
        {"q": {"a": 3.0, "b": 2.0}, "p": {"a": 1.0}},
        {"q": {"a": 1, "b": 1, "c": 1}, "p": {"a": 1}},
    )
    rows = {
        "predictions": [3.0, 2.0, None, 1.0],
        "references": [1, 1, 1, 1],
        "query_ids": ["q", "q", "q", "p"],
    }
    formats = [
        dict(zip(rows, sides, strict=False)) for sides in mappings_and_files(tmp_path, run, qrels)
    ]
    for inputs in [*formats, {**rows, "document_ids": ["a", "b", "c", "a"]}]:
        counts = ndcg.report(**inputs, exclude={"q": ["a", "c"]}).counts
        assert (counts["excluded_retrieved"], counts["excluded_judged"]) == (1, 2)


@MOSTLY_MISSING
@pytest.mark.parametrize("ties", ["average", "docid"])
def test_queries_without_documents_count(ndcg: evaluate.Metric, tmp_path: Path, ties: str) -> None:
    assert ndcg.compute(predictions={}, references={"q": {"a": 1}}) == {"nDCG": 0.0}
    for predictions, references in mappings_and_files(tmp_path, {"q": {"a": 1.0}}, {"q": {"a": 1}}):
        assert ndcg.compute(predictions=predictions, references={"q": {}}, ties=ties) == {
            "nDCG": 0.0
        }
        assert ndcg.compute(predictions={"q": {}}, references=references, ties=ties) == {
            "nDCG": 0.0
        }
        for run, qrels in (
            ({"r": {}}, references),
            (predictions, {"r": {}}),
            ({"r": {"a": 1.0}}, references),
        ):
            with refusal("predictions", "no query"):
                ndcg.compute(predictions=run, references=qrels, ties=ties)


@pytest.mark.parametrize("missing", [None, np.ma.masked], ids=["None", "masked"])
def test_a_missing_value_in_a_mapping_is_as_if_left_out(
    ndcg: evaluate.Metric, tmp_path: Path, missing: Any
) -> None:
    run = {"q1": {"a": missing, "b": 2.0, "x": missing, "y": 1.0}, "q2": {"a": missing}}
    qrels = {
        "q1": {"a": 1, "b": 2, "y": missing, "z": missing},
        "q2": {"a": 1},
        "q3": {"a": missing},
    }
    without = (
        {"q1": {"b": 2.0, "y": 1.0}, "q2": {}},
        {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {}},
    )
    expected = of_lists(ndcg, [[None, 2.0, 1.0], [None], []], [[1, 2, None], [1], []])
    for predictions in (run, without[0], written(tmp_path / "run", without[0], "run")):
        assert of_lists(ndcg, predictions, qrels) == expected
    without_q3 = {
        name: each[:2] for name, each in expected.items()
    }  # a file holds no query without documents
    assert of_lists(ndcg, run, written(tmp_path / "qrels", without[1], "qrels")) == without_q3


@pytest.mark.parametrize(
    "judged", [[1, 0], [1.5, None], [np.int64(3), 0], [np.float64(0.5), 2], [True, 2], [300, 0]]
)
def test_numbers_of_long_mappings_are_those_of_short_ones(
    ndcg: evaluate.Metric, judged: list[Any]
) -> None:
    # several thousand numbers are read at once by the types that they have, fewer one by one
    for unjudged in ({}, {"c": 0.7}):
        sides = {"a": 0.9, "b": 0.5, **unjudged}, dict(zip("ab", judged, strict=True))
        few = of_lists(ndcg, *({"q0": side} for side in sides))
        assert few == of_lists(ndcg, [[*sides[0].values()]], [[*judged, *[None] * len(unjudged)]])
        many = of_lists(ndcg, *({f"q{query}": side for query in range(2000)} for side in sides))
        assert many == {name: each * 2000 for name, each in few.items()}


def test_big_integers_by_id_are_compared_exactly(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    noon = 1_790_000_000_000_000_001  # in nanoseconds, which float64 holds to the next 256
    expected = {"nDCG": pytest.approx(SECOND / (2 + SECOND), rel=1e-15)}
    run = {"q": {"a": noon, "b": noon + 1, "x": 0}}
    assert ndcg.compute(predictions=run, references={"q": {"a": 1, "b": 0, "c": 2}}) == expected
    assert (
        ndcg.compute(predictions=[[noon, noon + 1, 0, None]], references=[[1, 0, None, 2]])
        == expected
    )
    big = {"q": {"a": 2**53 + 1, "b": 2**53}}
    assert ndcg.compute(predictions={"q": {"a": 3, "b": 2, "x": 1}}, references=big) == {
        "nDCG": 1.0
    }
    qrels = written(tmp_path / "qrels", {"q": {"a": 1, "b": 0}}, "qrels")
    assert ndcg.compute(predictions=big, references=qrels) == {"nDCG": 1.0}


def test_the_tied_document_with_the_higher_id_ranks_first_by_docid(
    ndcg: evaluate.Metric, tmp_path: Path
) -> None:
    ranked = ["🥇", "é", "a", "Z", "9", "10"]  # by UTF-8: 10 < 9 < Z < a < é < 🥇
    run = {"q": dict.fromkeys(["9", "🥇", "a", "10", "é", "Z"], 1.0)}
    for rank, relevant in enumerate(ranked, 1):
        for predictions, references in mappings_and_files(tmp_path, run, {"q": {relevant: 1}}):
            found = ndcg.compute(predictions=predictions, references=references, ties="docid")
            assert found == {"nDCG": pytest.approx(1 / math.log2(rank + 1), rel=1e-15)}, relevant


def test_text_ranks_before_integers_and_positions_in_the_order_of_ids(
    ndcg: evaluate.Metric,
) -> None:
    for ids in (["a", 3], [3, "a"]):
        sides = {"predictions": {"q": dict.fromkeys(ids, 1.0)}, "references": {"q": {"a": 1}}}
        assert ndcg.compute(**sides, ties="docid") == {"nDCG": 1.0}
    by_position = ndcg.compute(predictions=[[1, 1, 2, 1]], references=[[1, 0, 0, 2]], ties="docid")
    run, qrels = (
        {"q": dict(zip("abcd", side, strict=True))} for side in ([1, 1, 2, 1], [1, 0, 0, 2])
    )
    assert ndcg.compute(predictions=run, references=qrels, ties="docid") == by_position


def test_ids_of_every_kind_score_alike_in_mappings_rows_and_ranked_lists(
    ndcg: evaluate.Metric,
) -> None:
    day = datetime.datetime(2026, 1, 1)
    days = day, day.replace(day=2)
    for a, b in (
        ("a", "b"),
        (1, 2),
        (np.int64(1), 2),
        (b"a", b"b"),
        days,
        [each.date() for each in days],
    ):
        expected = {"nDCG": pytest.approx(SECOND)}
        rows = {
            "predictions": [2.0, 1.0],
            "references": [0, 1],
            "query_ids": [a, a],
            "document_ids": [a, b],
        }
        assert ndcg.compute(predictions={a: {a: 2.0, b: 1.0}}, references={a: {b: 1}}) == expected
        assert ndcg.compute(**rows) == expected
        assert ndcg.compute(predictions=[[a, b]], references=[{b}]) == expected
        assert ndcg.compute(**rows, exclude={a: [a]}) == {"nDCG": 1.0}
