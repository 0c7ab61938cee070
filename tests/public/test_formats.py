"""One ranking problem in every format that people hold rankings in: the same floats, to the last bit."""

import datetime
import math
import random
from collections.abc import Callable, Iterator
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
    OPTIONS,
    QUERY_OPTIONS,
    RAGGED_FORMS,
    RAGGED_RELEVANCES,
    RAGGED_SCORES,
    ROWS_FORMS,
    SQUARE_RELEVANCES,
    SQUARE_SCORES,
    STRING_IDS,
    FlatForm,
    Inputs,
    Values,
    duckdb,
    filled,
    flat_table,
    in_hex,
    mappings_and_files,
    of_lists,
    pd,
    pl,
    torch_tensor,
    values,
    written,
)

SECOND = 1 / math.log2(2 + 1)  # the nDCG of one relevant document at the second rank

spark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore"),  # of PySpark
]


# --- Every format at every entry point -------------------------------------------------------------------------------


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


ENTRY_POINTS: dict[str, Callable[[evaluate.Metric, Inputs], Values]] = {
    "compute": lambda metric, inputs: values(metric, **inputs),
    "add_batch": by_batches,
    "report": by_report,
    "compare": by_comparison,
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize("format_", EVERY_INPUT)
def test_every_format_scores_as_lists(
    fresh_metric: MetricFactory, tmp_path: Path, format_: str, entry_point: str
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    expected = of_lists(metric, RAGGED_SCORES, RAGGED_RELEVANCES)
    assert ENTRY_POINTS[entry_point](metric, EVERY_INPUT[format_](tmp_path)) == expected


CLOSE_SCORES = [*RAGGED_SCORES[:2], [7.0000001, *RAGGED_SCORES[2][1:]], *RAGGED_SCORES[3:]]  # 7 as a 32-bit float
IN_32_BITS = {"Arrow large lists", "Arrow list views", "Arrow chunks", "a Polars table"}


@pytest.fixture
def close_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The problem of every format with one score that only 64-bit floats tell from those it was tied with."""
    flat = [CLOSE_SCORES[query][position] for query, position in every_form.FLAT_ORDER]
    monkeypatch.setattr(every_form, "RAGGED_SCORES", CLOSE_SCORES)
    monkeypatch.setattr(every_form, "FLAT_SCORES", flat)


@pytest.mark.usefixtures("close_scores")
@pytest.mark.parametrize("format_", EVERY_INPUT)
def test_scores_of_every_format_may_be_compared_as_32_bit_floats(
    fresh_metric: MetricFactory, tmp_path: Path, format_: str
) -> None:
    metric = fresh_metric(keep_in_memory=True)
    tied, apart = (of_lists(metric, scores, RAGGED_RELEVANCES) for scores in (RAGGED_SCORES, CLOSE_SCORES))
    by_docid = of_lists(metric, RAGGED_SCORES, RAGGED_RELEVANCES, ties="docid")
    assert len({str(each) for each in (tied, apart, by_docid)}) == 3
    as_they_are = values(metric, **EVERY_INPUT[format_](tmp_path))
    is_single = format_.startswith(("by position", "flat")) and format_.partition(": ")[2] in IN_32_BITS
    assert as_they_are in ([tied, apart] if is_single else [apart])
    assert values(metric, **EVERY_INPUT[format_](tmp_path), score_dtype="float32") == tied
    metric.add_batch(**EVERY_INPUT[format_](tmp_path))
    assert values(metric, score_dtype="float32") == tied
    in_order = {**EVERY_INPUT[format_](tmp_path), "ties": "docid", "score_dtype": "float32"}
    if not format_.startswith("flat"):
        assert values(metric, **in_order) == by_docid
    else:  # without ids of documents
        problem = r"^document_ids are missing: .* have the same score in float32, and ties="
        with pytest.raises(ValueError, match=problem):
            metric.compute(**in_order)


@pytest.mark.parametrize("format_", ["mappings", "files", "flat"])
def test_32_bit_ties_are_ordered_by_document_ids_next_to_excluded_documents(
    ndcg: evaluate.Metric, tmp_path: Path, format_: str
) -> None:
    run, qrels = {"q": {"d3": 5.0, "d2": 1.00000001, "d1": 1.0}}, {"q": {"d3": 0, "d2": 0, "d1": 1}}
    inputs: Inputs = {"predictions": run, "references": qrels}
    if format_ == "files":
        inputs = {"predictions": written(tmp_path / "run", run, "run")}
        inputs["references"] = written(tmp_path / "qrels", qrels, "qrels")
    elif format_ == "flat":
        inputs = {name: [*side["q"].values()] for name, side in inputs.items()}
        inputs |= {"query_ids": ["q"] * 3, "document_ids": [*run["q"]]}
    found = ndcg.compute(**inputs, exclude={"q": ["d3"]}, ties="docid", score_dtype="float32")
    assert found["nDCG"] == pytest.approx(SECOND)  # d2, the higher id, ranks first


@pytest.mark.usefixtures("close_scores")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"ties": ties, "score_dtype": dtype}, marks=spark)
        for ties in ("average", "docid")
        for dtype in ("given", "float32")
    ],
    ids=str,
)
def test_a_dataframe_of_spark_scores_as_lists(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    frame = spark_session().createDataFrame(flat_table())
    found = ndcg.compute(data=frame, **COLUMNS, **OPTIONS, **options).toArrow().sort_by("query").drop_columns("query")
    scores = RAGGED_SCORES if options["score_dtype"] == "float32" else CLOSE_SCORES
    assert in_hex(found.to_pydict()) == of_lists(ndcg, scores, RAGGED_RELEVANCES, ties=options["ties"])


@pytest.mark.parametrize("format_", [list, np.array, pa.array], ids=["lists", "NumPy", "Arrow"])
def test_large_integers_are_compared_exactly_or_as_32_bit_floats(
    fresh_metric: MetricFactory, ndcg: evaluate.Metric, format_: Any
) -> None:
    predictions, references = [[2**24 + 1, 2**24], [2**60 + 1, 2**60]], [[1, 0], [0, 1]]
    sides = {"predictions": format_(predictions), "references": references, "use_aggregator": False}
    assert ndcg.compute(**sides)["nDCG"] == pytest.approx([1, SECOND])
    assert ndcg.compute(**sides, score_dtype="float32")["nDCG"] == pytest.approx([(1 + SECOND) / 2] * 2)


# --- By position -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", EVERY_FORM)
def test_equally_long_lists_in_every_format_score_alike_at_once_and_in_batches(
    fresh_metric: MetricFactory, format_: str
) -> None:
    metric = fresh_metric()
    scores, relevances = EVERY_FORM[format_](SQUARE_SCORES), EVERY_FORM[format_](SQUARE_RELEVANCES)
    expected = of_lists(metric, SQUARE_SCORES, SQUARE_RELEVANCES)
    assert of_lists(metric, scores, relevances) == expected
    assert of_lists(metric, scores, SQUARE_RELEVANCES) == expected
    assert of_lists(metric, SQUARE_SCORES, relevances) == expected
    assert of_lists(metric, scores, np.array(SQUARE_RELEVANCES, np.int8)) == expected
    for _ in range(2):
        metric.add_batch(predictions=scores, references=relevances)
    assert values(metric) == {name: 2 * each for name, each in expected.items()}


@pytest.mark.parametrize("format_", [name for name in RAGGED_FORMS if name != "masked NumPy, padded"])
def test_lists_of_several_lengths_in_every_format_score_against_lists(ndcg: evaluate.Metric, format_: str) -> None:
    expected = of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)
    assert of_lists(ndcg, RAGGED_FORMS[format_](RAGGED_SCORES), RAGGED_RELEVANCES) == expected
    assert of_lists(ndcg, RAGGED_SCORES, RAGGED_FORMS[format_](RAGGED_RELEVANCES)) == expected


@pytest.mark.parametrize("format_", ROWS_FORMS)
def test_rows_of_every_library_score_as_lists(ndcg: evaluate.Metric, format_: str) -> None:
    sides = filled(RAGGED_SCORES), filled(RAGGED_RELEVANCES)
    assert of_lists(ndcg, *map(EVERY_FORM[format_], sides)) == of_lists(ndcg, *sides)


@pytest.mark.parametrize(
    "rows", [([0.9, 0.1], np.array([0.2])), (np.array([0.9, 0.1]), [0.2]), ([0.9, 0.1], pa.array([0.2]))]
)
def test_a_list_may_hold_lists_arrays_and_columns_in_any_order(ndcg: evaluate.Metric, rows: Any) -> None:
    assert of_lists(ndcg, list(rows), [[0, 1], [1]]) == of_lists(ndcg, [[0.9, 0.1], [0.2]], [[0, 1], [1]])


def test_masked_arrays_in_a_column_keep_their_masks(ndcg: evaluate.Metric) -> None:
    scores, references = (RAGGED_FORMS["masked NumPy rows"](side) for side in (RAGGED_SCORES, RAGGED_RELEVANCES))
    expected = of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)
    for column in (pd.Series, lambda rows: pd.DataFrame({"x": rows})):
        assert of_lists(ndcg, column(scores), column(references)) == expected
        assert of_lists(ndcg, column(scores), RAGGED_RELEVANCES) == expected
    assert of_lists(ndcg, RAGGED_SCORES, pl.Series(references, dtype=pl.Object)) == expected


def test_columns_of_one_shuffled_dataset_stay_aligned(ndcg: evaluate.Metric) -> None:
    pytest.importorskip("torch")
    scores, relevances = filled(RAGGED_SCORES), filled(RAGGED_RELEVANCES)
    data = datasets.Dataset.from_dict({"p": scores, "r": relevances, "row": range(len(scores))}).shuffle(seed=2)
    rows = list(data["row"])
    assert rows != sorted(rows)
    expected = of_lists(ndcg, [scores[row] for row in rows], [relevances[row] for row in rows])
    for format_ in (None, "numpy", "torch"):
        formatted = data.with_format(format_)
        assert of_lists(ndcg, formatted["p"], formatted["r"]) == expected


def test_low_precision_scores_are_compared_as_they_are(ndcg: evaluate.Metric) -> None:
    for score, expected in (([[1.0, 1.0078125]], 1.0), ([[1.0, 1.001]], 0.5)):  # neighbors in bfloat16; rounded alike
        assert ndcg.compute(predictions=torch_tensor("bfloat16")(score), references=[[0, 1]], k=1) == {
            "nDCG@1": expected
        }


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_tensor_may_hold_minus_infinity_and_no_nan(ndcg: evaluate.Metric, dtype: str) -> None:
    tensor = torch_tensor(dtype)([[1.0, -math.inf]])
    assert of_lists(ndcg, tensor, [[1, 2]]) == of_lists(ndcg, [[1.0, None]], [[1, 2]])
    tensor = torch_tensor(dtype)([[1.0, 2.0], [0.5, math.nan]])
    with pytest.raises(ValueError, match=r"^predictions: query 1, position 1: nan is not a score"):
        ndcg.compute(predictions=tensor, references=[[1, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"^references: query 1, position 1: nan is not a relevance"):
        ndcg.compute(predictions=[[1, 0], [0, 1]], references=tensor)


def test_relevance_may_be_true_or_false(ndcg: evaluate.Metric) -> None:
    expected = {"nDCG": pytest.approx((SECOND + 1) / 2)}
    assert ndcg.compute(predictions=[[0.9, 0.1], [0.3]], references=[[False, True], [True]]) == expected
    flat = {"predictions": [0.9, 0.1, 0.3], "references": np.array([False, True, True]), "query_ids": [1, 1, 2]}
    assert ndcg.compute(**flat) == expected
    masked = np.ma.masked_array([[False, True, False], [True, True, True]], [[0, 0, 1], [0, 1, 1]])
    scores = np.ma.masked_array([[0.9, 0.1, 0], [0.3, 0, 0]], masked.mask)
    assert ndcg.compute(predictions=scores, references=masked) == expected


@pytest.mark.parametrize("kind", [pa.null(), pa.float64()])
def test_a_column_may_be_all_missing(ndcg: evaluate.Metric, kind: pa.DataType) -> None:
    missing = pa.array([None, None], kind)
    assert ndcg.compute(predictions=missing, references=[1, 0], query_ids=[1, 1]) == {"nDCG": 0}
    assert ndcg.compute(predictions=pa.array([[None], []], pa.list_(kind)), references=[[1], []]) == {"nDCG": 0}


# --- Queries of a database, and transformed datasets -----------------------------------------------------------------


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
    metric = fresh_metric()

    def pair() -> dict[str, Any]:
        return dict(zip(("predictions", "references"), several(p=[[0.5, 0.25]] * 2, r=[[1, 0]] * 2), strict=True))

    for method in (metric.compute, metric.add_batch, metric.report):
        with pytest.raises(ValueError, match=r"^references: is a separate database query .*, as predictions is.*data="):
            method(**pair())
        for side in (["predictions"], ["references"], ["predictions", "references"]):  # in a list
            in_lists = {name: [each] if name in side else [[1, 0]] for name, each in pair().items()}
            with pytest.raises(ValueError, match=f"^{side[0]}: query 0: is a query to a database .*run it first"):
                method(**in_lists)
    ids, score = several(q=["a", "b"], p=[0.5, 0.25])
    with pytest.raises(ValueError, match=r"^query_ids: is a separate database query .*, as predictions is"):
        metric.compute(predictions=score, references=[1, 0], query_ids=ids)
    systems = {"a": pair()["predictions"], "b": [[0.5, 0.25]] * 2}
    with pytest.raises(ValueError, match=r"^references: is a separate database query .*, as systems\['a'\] is"):
        metric.compare(systems=systems, references=pair()["references"])
    with pytest.raises(ValueError, match=r"^sample_weight: is a separate database query"):
        of_lists(metric, [[0.5, 0.25]] * 2, [[1, 0]] * 2, sample_weight=several(w=[1, 2])[0])
    assert len(metric) == 0


def test_one_query_of_a_database_is_read_once(ndcg: evaluate.Metric) -> None:
    score, relevance = relations(p=[[0.25, 0.5]] * 2, r=[[1, 0]] * 2)
    assert ndcg.compute(predictions=score, references=[[1, 0]] * 2) == {"nDCG": pytest.approx(SECOND)}
    assert ndcg.compute(predictions=[[0.25, 0.5]] * 2, references=relevance) == {"nDCG": pytest.approx(SECOND)}
    (reader,) = readers(p=[[0.25, 0.5]] * 2)  # which can be read only once
    assert ndcg.compute(predictions=reader, references=reader) == {"nDCG": 1.0}


@pytest.mark.parametrize("format_", [None, "python", "numpy", "torch", "jax", "polars", "pandas", "arrow"])
def test_a_datasets_column_means_what_slicing_it_gives(ndcg: evaluate.Metric, format_: str | None) -> None:
    pytest.importorskip(format_ if format_ in ("torch", "jax") else "datasets")
    # float32, which NumPy's, torch's and JAX's formats give, holds both scores as one
    data = datasets.Dataset.from_dict({"p": [[1.0, 1.0 + 2**-30]], "r": [[0, 1]]}).with_format(format_)
    expected = {"nDCG": pytest.approx(1.0 if format_ not in ("numpy", "torch", "jax") else (1 + SECOND) / 2)}
    assert ndcg.compute(predictions=data["p"], references=data["r"]) == expected
    assert ndcg.compute(predictions=data["p"][:], references=data["r"][:]) == expected


def test_a_datasets_column_is_transformed_and_has_fields(fresh_metric: MetricFactory) -> None:
    metric, data = fresh_metric(), datasets.Dataset.from_dict({"p": [[1.0, 2.0, 3.0]], "r": [[0, 0, 1]]})
    assert metric.compute(predictions=data["p"], references=data["r"]) == {"nDCG": 1.0}

    def turn(batch: dict[str, list[list[float]]]) -> dict[str, list[list[float]]]:
        return {**batch, **({"p": [[-score for score in row] for row in batch["p"]]} if "p" in batch else {})}

    backwards, last = data.with_transform(turn), {"nDCG": 1 / math.log2(3 + 1)}
    assert metric.compute(predictions=backwards["p"], references=backwards["r"]) == last
    metric.add_batch(predictions=backwards["p"], references=backwards["r"])
    assert metric.compute() == last
    nested = datasets.Dataset.from_dict({"of": [{"p": [1.0, 2.0], "r": [1, 0]}]})["of"]
    assert metric.compute(predictions=nested["p"], references=nested["r"]) == {"nDCG": pytest.approx(SECOND)}


def test_columns_of_pandas_with_other_indexes_are_rejected(fresh_metric: MetricFactory) -> None:
    """Rows are taken in their order, so a column that was sorted or filtered alone would give a wrong number."""
    frame = pd.DataFrame({"q": ["a", "a", "b", "b"], "p": [0.5, 0.25, 0.125, 0.75], "r": [1, 0, 1, 0]})
    metric = fresh_metric()
    columns = {"predictions": frame["p"], "references": frame["r"], "query_ids": frame["q"]}
    expected = {"nDCG": pytest.approx((1 + SECOND) / 2, rel=1e-12)}
    assert metric.compute(**columns) == expected
    for name, column in columns.items():
        other = "references" if name == "predictions" else name
        problem = f"^{other}: its index differs from the index of predictions, .*; join both"
        for moved in (column[::-1], column.rename(lambda row: row + 1)):
            for method in (metric.compute, metric.add_batch, metric.report):
                with pytest.raises(ValueError, match=problem):
                    method(**{**columns, name: moved})
    assert metric.compute(**{**columns, "references": frame["r"].to_numpy()}) == expected
    assert metric.compute(**{name: column.copy() for name, column in columns.items()}) == expected


# --- Flat, with query_ids --------------------------------------------------------------------------------------------


def all_ids() -> Iterator[Any]:
    for kind, ids, formats in (("integers", CODES, INTEGER_IDS), ("strings", NAMES, STRING_IDS)):
        yield from (pytest.param(format_, ids, id=f"{kind}: {name}") for name, format_ in formats.items())


@pytest.mark.parametrize(("format_", "ids"), [*all_ids()])
def test_query_ids_of_every_format_group_the_rows(ndcg: evaluate.Metric, format_: FlatForm, ids: list[Any]) -> None:
    expected = of_lists(ndcg, RAGGED_SCORES, RAGGED_RELEVANCES)
    assert of_lists(ndcg, FLAT_SCORES, FLAT_RELEVANCES, query_ids=format_(ids)) == expected


@pytest.mark.parametrize("format_", FULL_FLAT_FORMS)
def test_flat_rankings_in_every_format_score_as_lists(ndcg: evaluate.Metric, format_: str) -> None:
    flat = map(FULL_FLAT_FORMS[format_], filled([FLAT_SCORES, FLAT_RELEVANCES]))
    expected = of_lists(ndcg, filled(RAGGED_SCORES), filled(RAGGED_RELEVANCES))
    assert of_lists(ndcg, *flat, query_ids=CODES) == expected


def test_queries_are_in_the_order_of_their_first_rows_and_rows_keep_theirs(ndcg: evaluate.Metric) -> None:
    flat = {"scores": [1, 2, 1, 1, 1], "relevances": [0, 1, 1, 2, 0], "query_ids": ["z", "a", "z", "a", "z"]}
    rows = {"scores": [[1, 1, 1], [2, 1]], "relevances": [[0, 1, 0], [1, 2]]}
    for ties in ("first", "last", "average"):
        assert of_lists(ndcg, **flat, ties=ties) == of_lists(ndcg, **rows, ties=ties)


def test_sorted_query_ids_score_as_unsorted_ones(ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(5)
    codes = np.sort(rng.integers(0, 40, 1000))
    columns = rng.integers(0, 9, 1000) / 4, rng.integers(0, 4, 1000)
    order = np.concatenate([np.unique(codes, return_index=True)[1], rng.permutation(1000)])
    order = order[np.sort(np.unique(order, return_index=True)[1])]  # the queries first occur in the same order
    in_order = of_lists(ndcg, *columns, query_ids=codes)
    assert of_lists(ndcg, *(column[order] for column in columns), query_ids=codes[order]) == in_order


def test_query_ids_may_be_integers_of_all_64_bits(ndcg: evaluate.Metric) -> None:
    expected = of_lists(ndcg, [0.5, 1.0, 0.25], [1, 0, 1], query_ids=["a", "a", "b"])
    for ids in ([2**63, 2**63, 1], np.array([2**63, 2**63, 1], np.uint64), np.array([5, 5, 1], ">i4")):
        assert of_lists(ndcg, [0.5, 1.0, 0.25], [1, 0, 1], query_ids=ids) == expected


def test_a_nan_of_pandas_is_a_missing_value(ndcg: evaluate.Metric) -> None:
    expected = of_lists(ndcg, [[0.5, None, 1.0]], [[1, 0, 2]])
    assert of_lists(ndcg, pd.Series([0.5, math.nan, 1.0]), [1, 0, 2], query_ids=pd.Series([1, 1, 1])) == expected


# --- By ids ----------------------------------------------------------------------------------------------------------


# a run and qrels, the nDCG of each query of the qrels
BY_IDS: dict[str, tuple[Any, Any, list[float]]] = {
    "every query of the references counts, in their order": (
        {"only-here": {"a": 1.0}, "q2": {"a": 1.0, "b": 2.0}},
        {"q3": {"a": 1}, "q2": {"a": 1, "b": 2}, "q1": {"b": 0}},
        [0.0, 1.0, 0.0],
    ),
    "a document that was not retrieved counts in the ideal only": (
        {"q": {"b": 1.0}},
        {"q": {"a": 3, "b": 1, "c": 2}},
        [1 / (3 + 2 * SECOND + 1 / math.log2(3 + 1))],
    ),
    "an unjudged document takes a rank only": ({"q": {"x": 9.0, "a": 2.0, "y": 1.0}}, {"q": {"a": 3}}, [SECOND]),
    "a query with no ranking": ({"p": {"a": 1.0}}, {"q": {"a": 1}, "p": {"a": 1}}, [0.0, 1.0]),
}  # fmt: skip


@pytest.mark.parametrize("rule", BY_IDS)
def test_mappings_and_files_are_joined_by_ids(ndcg: evaluate.Metric, tmp_path: Path, rule: str) -> None:
    run, qrels, expected = BY_IDS[rule]
    for predictions, references in mappings_and_files(tmp_path, run, qrels):
        found = ndcg.compute(predictions=predictions, references=references, use_aggregator=False)
        assert found == {"nDCG": pytest.approx(expected, rel=1e-15, abs=0)}
        mean = ndcg.compute(predictions=predictions, references=references)
        assert mean == {"nDCG": pytest.approx(sum(expected) / len(expected))}


def test_excluded_documents_are_counted_alike_in_mappings_files_and_rows(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run, qrels = {"q": {"a": 3.0, "b": 2.0}, "p": {"a": 1.0}}, {"q": {"a": 1, "b": 1, "c": 1}, "p": {"a": 1}}
    rows = {"predictions": [3.0, 2.0, None, 1.0], "references": [1, 1, 1, 1], "query_ids": ["q", "q", "q", "p"]}
    formats = [dict(zip(rows, sides, strict=False)) for sides in mappings_and_files(tmp_path, run, qrels)]
    for inputs in [*formats, {**rows, "document_ids": ["a", "b", "c", "a"]}]:
        counts = ndcg.report(**inputs, exclude={"q": ["a", "c"]}).counts
        assert (counts["excluded_retrieved"], counts["excluded_judged"]) == (1, 2)


@pytest.mark.parametrize("ties", ["average", "docid"])
def test_queries_without_documents_count(ndcg: evaluate.Metric, tmp_path: Path, ties: str) -> None:
    assert ndcg.compute(predictions={}, references={"q": {"a": 1}}) == {"nDCG": 0.0}
    for predictions, references in mappings_and_files(tmp_path, {"q": {"a": 1.0}}, {"q": {"a": 1}}):
        assert ndcg.compute(predictions=predictions, references={"q": {}}, ties=ties) == {"nDCG": 0.0}
        assert ndcg.compute(predictions={"q": {}}, references=references, ties=ties) == {"nDCG": 0.0}
        for run, qrels in (({"r": {}}, references), (predictions, {"r": {}}), ({"r": {"a": 1.0}}, references)):
            with pytest.raises(ValueError, match=r"^predictions: no query is in the references.*'[qr]'.*'[qr]'"):
                ndcg.compute(predictions=run, references=qrels, ties=ties)


def test_none_in_a_mapping_is_as_if_left_out(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    run = {"q1": {"a": None, "b": 2.0, "x": None, "y": 1.0}, "q2": {"a": None}}
    qrels = {"q1": {"a": 1, "b": 2, "y": None, "z": None}, "q2": {"a": 1}, "q3": {"a": None}}
    without = {"q1": {"b": 2.0, "y": 1.0}, "q2": {}}, {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {}}
    expected = of_lists(ndcg, [[None, 2.0, 1.0], [None], []], [[1, 2, None], [1], []])
    for predictions in (run, without[0], written(tmp_path / "run", without[0], "run")):
        assert of_lists(ndcg, predictions, qrels) == expected
    assert of_lists(ndcg, *without) == expected
    without_q3 = {name: each[:2] for name, each in expected.items()}  # a file holds no query without documents
    assert of_lists(ndcg, run, written(tmp_path / "qrels", without[1], "qrels")) == without_q3


@pytest.mark.parametrize("value", [1, 2.5])
def test_a_masked_value_in_a_mapping_is_missing(ndcg: evaluate.Metric, value: float) -> None:
    masked = np.ma.masked
    run = {"q": {"a": masked, "b": value, "c": 0}}
    assert ndcg.compute(predictions=run, references={"q": {"a": 0, "b": 1, "c": masked}}) == {"nDCG": 1.0}
    assert ndcg.compute(predictions=run, references={"q": {"a": value, "b": 0, "c": masked}}) == {"nDCG": 0.0}


def test_mappings_may_hold_numbers_of_every_kind(ndcg: evaluate.Metric) -> None:
    expected = of_lists(ndcg, [[0.5, 1.0]], [[2, 1]])
    for number in (float, np.float32, np.float16, np.float64):
        for whole in (int, float, np.int8, np.uint64):
            assert of_lists(ndcg, {3: {1: number(0.5), 2: number(1)}}, {3: {1: whole(2), 2: whole(1)}}) == expected


@pytest.mark.parametrize("judged", [[1, 0], [1.5, None], [np.int64(3), 0], [np.float64(0.5), 2], [True, 2], [300, 0]])
def test_numbers_of_long_mappings_are_those_of_short_ones(ndcg: evaluate.Metric, judged: list[Any]) -> None:
    # several thousand numbers are read at once by the types that they have, fewer one by one
    for unjudged in ({}, {"c": 0.7}):
        sides = {"a": 0.5, "b": 0.9, **unjudged}, dict(zip("ab", judged, strict=True))
        few = of_lists(ndcg, *({"q0": side} for side in sides))
        many = of_lists(ndcg, *({f"q{query}": side for query in range(2000)} for side in sides))
        assert many == {name: each * 2000 for name, each in few.items()}


def test_big_integers_by_id_are_compared_exactly(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    noon = 1_790_000_000_000_000_001  # in nanoseconds, which float64 holds to the next 256
    expected = {"nDCG": pytest.approx(SECOND / (2 + SECOND), rel=1e-15)}
    run = {"q": {"a": noon, "b": noon + 1, "x": 0}}
    assert ndcg.compute(predictions=run, references={"q": {"a": 1, "b": 0, "c": 2}}) == expected
    assert ndcg.compute(predictions=[[noon, noon + 1, 0, None]], references=[[1, 0, None, 2]]) == expected
    big = {"q": {"a": 2**53 + 1, "b": 2**53}}
    assert ndcg.compute(predictions={"q": {"a": 3, "b": 2, "x": 1}}, references=big) == {"nDCG": 1.0}
    qrels = written(tmp_path / "qrels", {"q": {"a": 1, "b": 0}}, "qrels")
    with pytest.raises(ValueError, match=r"^predictions: query 'q', document 'a': 9007199254740993 may be rounded"):
        ndcg.compute(predictions=big, references=qrels)


def test_the_tied_document_with_the_higher_id_ranks_first_by_docid(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    ranked = ["🥇", "é", "a", "Z", "9", "10"]  # by UTF-8: 10 < 9 < Z < a < é < 🥇
    run = {"q": dict.fromkeys(["9", "🥇", "a", "10", "é", "Z"], 1.0)}
    for rank, relevant in enumerate(ranked, 1):
        for predictions, references in mappings_and_files(tmp_path, run, {"q": {relevant: 1}}):
            found = ndcg.compute(predictions=predictions, references=references, ties="docid")
            assert found == {"nDCG": pytest.approx(1 / math.log2(rank + 1), rel=1e-15)}, relevant
    for higher, lower in (("9", "10"), (9, 10), ("a", 3), ("é", "d"), (9, 100)):
        for ids in ([higher, lower], [lower, higher]):
            found = ndcg.compute(
                predictions={"q": dict.fromkeys(ids, 1.0)}, references={"q": {higher: 1}}, ties="docid"
            )
            assert found == {"nDCG": 1.0}
            relevances, kinds = [int(id_ == higher) for id_ in ids], {*map(type, ids)}
            if len(kinds) == 1:
                flat = {"query_ids": [4, 4], "document_ids": ids, "ties": "docid"}
                assert ndcg.compute(predictions=[1, 1], references=relevances, **flat) == {"nDCG": 1.0}
    by_position = ndcg.compute(predictions=[[1, 1, 2, 1]], references=[[1, 0, 0, 2]], ties="docid")
    run, qrels = ({"q": dict(zip("abcd", side, strict=True))} for side in ([1, 1, 2, 1], [1, 0, 0, 2]))
    assert ndcg.compute(predictions=run, references=qrels, ties="docid") == by_position


def test_ids_of_every_kind_score_alike_in_mappings_rows_and_ranked_lists(ndcg: evaluate.Metric) -> None:
    day = datetime.datetime(2026, 1, 1)
    days = day, day.replace(day=2)
    for a, b in (("a", "b"), (1, 2), (np.int64(1), 2), (b"a", b"b"), days, [each.date() for each in days]):
        expected = {"nDCG": pytest.approx(SECOND)}
        rows = {"predictions": [2.0, 1.0], "references": [0, 1], "query_ids": [a, a], "document_ids": [a, b]}
        assert ndcg.compute(predictions={a: {a: 2.0, b: 1.0}}, references={a: {b: 1}}) == expected
        assert ndcg.compute(**rows) == expected
        assert ndcg.compute(predictions=[[a, b]], references=[{b}]) == expected
        assert ndcg.compute(**rows, exclude={a: [a]}) == {"nDCG": 1.0}


def test_flat_columns_with_document_ids_are_ranked_as_trec_eval_does(ndcg: evaluate.Metric) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = random.Random(10)
    # tied scores; ids that text orders otherwise than numbers
    rows = [(f"q{q}", f"d{d}", rng.choice([0.5, 1.0, 2.0]), rng.choice([0, 1, 3])) for q in range(3) for d in range(12)]
    run, qrels = ({q: {row[1]: row[at] for row in rows if row[0] == q} for q, *_ in rows} for at in (2, 3))
    of_trec = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "ndcg_cut.5"}).evaluate(run)
    for column in (list, pa.array, np.array):
        rng.shuffle(rows)
        names = "query_ids", "document_ids", "predictions", "references"
        flat = {name: column(list(side)) for name, side in zip(names, zip(*rows, strict=True), strict=True)}
        scored = ndcg.compute(**flat, convention="trec_eval", k=[5, None], use_aggregator=False)
        queries = list(dict.fromkeys(q for q, *_ in rows))
        for name, of_one in (("nDCG@5", "ndcg_cut_5"), ("nDCG", "ndcg")):
            assert scored[name] == pytest.approx([of_trec[q][of_one] for q in queries], rel=1e-12)
        report = ndcg.report(**flat, convention="trec_eval", k=5)
        assert report.queries["nDCG@5"].to_pylist() == pytest.approx(scored["nDCG@5"], rel=1e-12)
        systems = {"one": flat.pop("predictions"), "other": [-score for _, _, score, _ in rows]}
        compared = ndcg.compare(systems=systems, **flat, convention="trec_eval", k=5)
        assert compared.scores["one"]["nDCG@5"].value == pytest.approx(report.scores["nDCG@5"].value, rel=1e-12)
