"""Rankings without a meaning are rejected: one line that names the argument and the place, and nothing is added."""

import math
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from every_form import Inputs, duckdb_ids, jnp, mappings_and_files, pd, pl, polars_lists, torch, written

SECOND = 1 / math.log2(2 + 1)  # the nDCG of one relevant document at the second rank
TWO_ROWS: Inputs = {"predictions": [0.5, 1.0], "references": [1, 0], "query_ids": ["q", "q"]}


def refuses(method: Callable[..., Any], problem: str, inputs: Inputs, of_length: int = 400) -> None:
    """The error begins with the problem and is one short line."""
    with pytest.raises(ValueError, match=f"^{problem}") as caught:
        method(**inputs)
    assert len(str(caught.value)) < of_length
    assert "\n" not in str(caught.value)


# --- Scores and relevances -------------------------------------------------------------------------------------------


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


def an_endless_list() -> list[Any]:
    endless: list[Any] = [0.5]
    endless.append(endless)
    return endless


# two scores of a query, and its nDCG if the second document, which is not relevant, ranks first; None: rejected
STRANGE_SCORES: dict[str, tuple[Callable[[], Any], float | None]] = {
    "scalars with gradients": (lambda: [torch.tensor(value, requires_grad=True) for value in (0.5, 1.0)], SECOND),
    "bfloat16 scalars": (lambda: [torch.tensor(value, dtype=torch.bfloat16) for value in (0.5, 1.0)], SECOND),
    "JAX bfloat16 scalars": (lambda: [jnp.array(value, jnp.bfloat16) for value in (0.5, 1.0)], SECOND),
    "0-d arrays": (lambda: [np.array(0.5), np.array(1.0)], SECOND),
    "a masked value": (lambda: [0.5, np.ma.masked], 1.0),
    "a bfloat16 tensor with a gradient": (lambda: torch.tensor([0.5, 1.0]).bfloat16().requires_grad_(), SECOND),
    "a lazily negative tensor": (lambda: (-torch.tensor([0.5, 1.0]))._neg_view(), SECOND),
    "pandas sparse": (lambda: pd.Series(pd.arrays.SparseArray([0.5, 1.0])), SECOND),
    "a sparse tensor": (lambda: torch.tensor([0.5, 1.0]).to_sparse(), None),
    "a tensor without data": (lambda: torch.tensor([0.5, 1.0]).to("meta"), None),
    "one-element tensors": (lambda: [np.array([0.5]), np.array([1.0])], None),
    "pandas text": (lambda: pd.Series([0.5, "x"]), None),
    "pandas periods": (lambda: pd.Series(pd.period_range("2026", periods=2, freq="D")), None),
    "Polars Int128": (lambda: pl.Series([1, 2], dtype=pl.Int128), None),
    "decimals": (lambda: [Decimal("0.5"), Decimal(1)], None),
    "Arrow decimals": (lambda: pa.array([Decimal("0.5"), Decimal("1.0")]), None),
    "dates": (lambda: np.array(["2026-01-01", "2026-01-02"], "M8[D]"), None),
    "unreadable numbers": (lambda: [Unreadable(), Unreadable()], None),
    "an unreadable array": (Unreadable, None),
    "an unreadable stream": (UnreadableStream, None),
    "an unreadable capsule": (UnreadableCapsule, None),
    "an endless list": (an_endless_list, None),
    "a million numbers for one": (lambda: [[*range(10**6)], 1.0], None),
    "a text of 5 MB": (lambda: ["x" * 5_000_000, 1.0], None),
}


@pytest.mark.parametrize("argument", ["rows", "a list", "a mapping", "references", "sample_weight"])
@pytest.mark.parametrize("strange", STRANGE_SCORES)
def test_strange_values_are_numbers_or_rejected_by_their_argument(
    ndcg: evaluate.Metric, strange: str, argument: str
) -> None:
    make, expected = STRANGE_SCORES[strange]
    values = make()
    if argument == "a list":
        inputs: Inputs = {"predictions": [values], "references": [[1, 0]]}
    elif argument == "a mapping":
        documents = {"a": values[0], "b": values[1]} if isinstance(values, list) else {"a": values, "b": 1.0}
        inputs = {"predictions": {"q": documents}, "references": {"q": {"a": 1, "b": 0}}}
        expected = expected if isinstance(values, list) else None  # a column is not a number
    elif argument == "references":
        # the relevances are 0.5 and 1, ranked best; masked: only the second document, unjudged, is before the first
        inputs = {**TWO_ROWS, "references": values}
        expected = expected and (SECOND if strange == "a masked value" else 1.0)
    elif argument == "sample_weight":  # the mean of 1 and 0, weighted by 0.5 and 1
        inputs = {**TWO_ROWS, "query_ids": ["q", "p"], "sample_weight": values}
        expected = 1 / 3 if expected and strange != "a masked value" else None
    else:
        inputs = {**TWO_ROWS, "predictions": values}
    if expected is None:
        refuses(ndcg.compute, f"({argument if argument in inputs else 'predictions'}|query 0: )", inputs)
    else:
        assert ndcg.compute(**inputs) == {"nDCG": pytest.approx(expected, rel=1e-15)}


@pytest.mark.parametrize(
    ("inputs", "argument"),
    [
        ({"k": [[*range(10**6)]]}, "k"),
        ({"ties": [*range(10**6)]}, "ties"),
        ({"gain": ["x" * 10**6]}, "gain"),
        ({"log_base": "x" * 10**6}, "log_base"),
        ({**TWO_ROWS, "query_ids": ["q" * 10**6] * 2, "predictions": [math.nan, 1]}, "predictions"),
        ({"predictions": {"q" * 10**6: {"a": 1}}, "references": {"p" * 10**6: {"a": 1}}}, "predictions"),
        ({"predictions": {"q": {"d" * 10**6: math.nan}}, "references": {"q": {"a": 1}}}, "predictions"),
        (
            {"predictions": "".join(f"q Q0 d{at} 1 {at} tag\n" for at in range(10_000))},
            r"predictions: 'q Q0 d0 1 0 tag\\n.*…': File name too long$",
        ),
    ],
)
def test_messages_are_short_whatever_is_wrong(ndcg: evaluate.Metric, inputs: Inputs, argument: str) -> None:
    refuses(ndcg.compute, argument, {"predictions": [[1, 2]], "references": [[1, 0]], **inputs}, of_length=500)


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
@pytest.mark.parametrize("options", [{"score_dtype": "float32"}, {"convention": "xgboost"}], ids=str)
def test_a_score_too_large_for_32_bit_floats_is_named(
    ndcg: evaluate.Metric, inputs: Inputs, place: str, options: dict[str, Any]
) -> None:
    ndcg.compute(**inputs)
    refuses(ndcg.compute, f"predictions: {place}: {TOO_LARGE}", {**inputs, **options})


@pytest.mark.parametrize(
    "inputs",
    [
        {"predictions": [[1, 1e39, 0]], "references": [[1, -100, 0]]},
        {"predictions": np.ma.MaskedArray([[1, 1e39, 0]], [[False, True, False]]), "references": [[1, 0, 0]]},
        {**TWO_ROWS, "predictions": [1, 1e39], "document_ids": ["a", "b"], "exclude": {"q": ["b"]}},
        {"predictions": [[1, -math.inf, -1e30]], "references": [[1, 0, 0]]},
    ],
    ids=["padding", "masked", "excluded", "minus infinity"],
)
def test_a_score_may_be_too_large_for_32_bit_floats_where_it_does_not_count(
    ndcg: evaluate.Metric, inputs: Inputs
) -> None:
    assert ndcg.compute(**inputs, score_dtype="float32", ignore_index=-100) == {"nDCG": 1.0}


# --- Tables ----------------------------------------------------------------------------------------------------------

TABLES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "Polars": lambda columns: pl.DataFrame(columns),
    "Arrow": pa.table,
    "Arrow batch": lambda columns: pa.record_batch(columns),
    "DuckDB": lambda columns: duckdb_ids(columns["score"]).select(
        '1 AS "user", row_number() OVER () AS item, ids AS score'
    ),
    "datasets": datasets.Dataset.from_dict,
    "a dict": dict,
    "an array of records": lambda columns: np.rec.fromarrays(list(columns.values()), names=list(columns)),
    "a structured array": lambda columns: np.array(
        list(zip(*columns.values(), strict=True)), [(name, np.asarray(side).dtype) for name, side in columns.items()]
    ),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_beside_lists_or_itself_is_rejected(ndcg: evaluate.Metric, table: str) -> None:
    frame = TABLES[table]({"user": [1, 1, 2], "item": [7, 8, 7], "score": [0.5, 0.25, 1.0]})
    lists = [[0.5, 0.25], [1.0]]
    for predictions, references, problem in (
        (frame, frame, "predictions and references are the same column of the same table"),
        (frame, lists, "predictions are by ids and references by position"),
        (lists, frame, "predictions are by position .* and references by ids"),
    ):
        refuses(ndcg.compute, problem, {"predictions": predictions, "references": references})


@pytest.mark.parametrize("argument", ["query_ids", "document_ids", "sample_weight"])
def test_a_table_where_a_column_belongs_is_rejected_by_its_argument(ndcg: evaluate.Metric, argument: str) -> None:
    table = pa.table({"user": [1, 2], "item": [3, 4]})
    problem = rf"{argument}: must be one column; got a table of columns \['user', 'item'\]"
    refuses(ndcg.compute, problem, {**TWO_ROWS, "document_ids": ["a", "b"], argument: table})


# --- Flat columns ----------------------------------------------------------------------------------------------------

THREE: Inputs = {"predictions": [1, 2, 3], "references": [1, 0, 1], "query_ids": ["q", "q", "p"]}
NO_CATEGORIES = pa.chunked_array([], pa.dictionary(pa.int32(), pa.string()))
LENGTHS = "with query_ids, all columns must be flat .*; got predictions {}, references {}, query_ids {}"


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({"predictions": [1, 2]}, LENGTHS.format(2, 3, 3)),
        ({"references": [1]}, LENGTHS.format(3, 1, 3)),
        ({"query_ids": ["a", "a"]}, LENGTHS.format(3, 3, 2)),
        ({"query_ids": [1, 1, 2, 2]}, LENGTHS.format(3, 3, 4)),
        ({"query_ids": []}, LENGTHS.format(3, 3, 0)),
        ({"document_ids": ["a"]}, LENGTHS.format(3, 3, 3) + ", document_ids 1 rows"),
        ({"references": np.ones((1, 3))}, "references must be flat"),
        ({"predictions": [[1], [2], [3]]}, "predictions must be flat"),
        ({"predictions": pa.array([[1], [2], [3]])}, "predictions must be flat"),
        ({"predictions": [1, "high", 3]}, "predictions: query 'q', row 1: 'high' is not a"),
        ({"references": [1, 0, "low"]}, "references: query 'p', row 2: 'low' is not a"),
        ({"predictions": [1, math.nan, 3]}, "predictions: query 'q', row 1: nan"),
        ({"predictions": [1, 2, math.inf]}, "predictions: query 'p', row 2: inf"),
        ({"references": [1, 0, -1]}, "references: query 'p', row 2: the relevance -1"),
        ({"predictions": [1, 2, 3, "x"]}, "predictions: row 3: 'x' is not a number"),  # beyond the ids
        ({"predictions": [1, 2, 3, 4, "x"]}, "predictions: row 4: 'x' is not a number"),
        ({"query_ids": None, "document_ids": ["a", "b", "c"]}, "document_ids are for flat .*; give query_ids too"),
        (
            {"predictions": pa.array([0.5]), "references": pa.array([1.0]), "query_ids": None},
            "predictions must be a column of lists, one per query; got double; for a row per document give query_ids$",
        ),
        (
            {"predictions": [], "references": [], "query_ids": NO_CATEGORIES},
            "predictions and references hold no queries",
        ),
    ],
)
def test_flat_rankings_without_a_meaning_are_rejected_by_row(
    ndcg: evaluate.Metric, inputs: Inputs, problem: str
) -> None:
    refuses(ndcg.compute, problem, {**THREE, **inputs})


def times(values: list[int], kind: pa.DataType) -> Callable[[], Any]:
    return lambda: pa.array([*values, 1], kind)


CANNOT_BE_SHOWN = "hold times that cannot be shown .*as text"
KINDS = "must be integers or strings"
# three ids, and how they are rejected
NOT_IDS: dict[str, tuple[Callable[[], Any], str]] = {
    "None": (lambda: ["a", None, "b"], ".*row 1"),
    "None among integers": (lambda: [1, 1, None], ".*row 2"),
    "None in Arrow": (lambda: pa.array([None, "a", "b"]), ".*row 0"),
    "None in categories": (lambda: pd.Series(["a", "b", None], dtype="category"), ".*row 2"),
    "masked": (lambda: np.ma.MaskedArray([1, 1, 2], [0, 1, 0]), ".*row 1"),
    "floats": (lambda: [1.0, 1.0, 2.0], KINDS),
    "truth values": (lambda: [True, False, True], KINDS),
    "categories of floats": (lambda: pa.array([1.5, 1.5, 2.0]).dictionary_encode(), KINDS),
    "NumPy floats": (lambda: np.array([1.0, 1.0, 2.0]), KINDS),
    "nan in pandas": (lambda: pd.Series([1.0, None, 2.0]), ""),
    "integers and strings": (
        lambda: [1, "a", 2],
        ".*all text or all integers of at most 64 bits; got 1 in row 0 and 'a' in",
    ),
    "2-D": (lambda: [["a", "a", "b"]], ""),
    "a 2-D array": (lambda: np.array([[1, 1, 2]]), ".*2-D"),
    "a column": (lambda: np.array([[1], [1], [2]]), ".*2-D"),
    "a number": (lambda: 5, ""),
    "text": (lambda: "abc", f"{KINDS}, .*; got the text 'abc'; give the col"),
    "an integer beyond 64 bits": (lambda: [2**70, 1, 1], ""),
    "an integer of 5,000 digits": (lambda: [10**5000, 1, 1], ""),
    "tuples": (lambda: [("a", 1), ("a", 1), ("b", 1)], ""),
    "UUIDs": (lambda: [uuid.UUID(int=at) for at in range(3)], ""),
    "Arrow UUIDs": (lambda: pa.array([bytes([at]) * 16 for at in range(3)], pa.uuid()), ""),
    "decimals": (lambda: [Decimal(1), Decimal(2), Decimal(3)], ""),
    "pandas periods": (lambda: pd.Series(pd.period_range("2026", periods=3, freq="D")), ""),
    "pandas intervals": (lambda: pd.Series(pd.interval_range(0, 3)), ""),
    "pandas mixed": (lambda: pd.Series([1, "a", 2], dtype=object), ""),
    "Polars Int128": (lambda: pl.Series([1, 2, 3], dtype=pl.Int128), ""),
    "a sparse tensor": (lambda: torch.tensor([0.5, 1.0, 1.0]).to_sparse(), ""),
    "lone surrogates": (lambda: ["\ud800", "b", "b"], ""),
    "NumPy's lone surrogates": (lambda: np.array(["\ud800", "b", "b"]), ""),
    "long doubles": (lambda: np.array([1, 2, 3], np.longdouble), ""),
    "unreadable": (Unreadable, ""),
    "a time": (times([2**62, 1], pa.timestamp("s")), CANNOT_BE_SHOWN),
    "a time in UTC": (times([-(2**62), 1], pa.timestamp("s", "UTC")), CANNOT_BE_SHOWN),
    "a time in no zone": (times([1, 2], pa.timestamp("s", "Mars/Phobos")), CANNOT_BE_SHOWN),
    "32-bit dates": (times([2**30, 1], pa.date32()), CANNOT_BE_SHOWN),
    "64-bit dates": (times([1, 2**62], pa.date64()), CANNOT_BE_SHOWN),
    "categories of times": (
        lambda: pa.chunked_array([pa.array([1, 1, 2**62], pa.timestamp("s")).dictionary_encode()]),
        CANNOT_BE_SHOWN,
    ),
}


@pytest.mark.parametrize("argument", ["query_ids", "document_ids"])
@pytest.mark.parametrize("values", NOT_IDS)
def test_values_that_are_not_ids_are_rejected_by_their_argument(
    fresh_metric: MetricFactory, values: str, argument: str
) -> None:
    make, problem = NOT_IDS[values]
    inputs, metric = {**THREE, argument: make()}, fresh_metric()
    if argument == "document_ids" and values == "text":
        problem = ""
    for method in (metric.compute, metric.add_batch, metric.report):
        refuses(method, f"{argument}:? {problem}", inputs)
    if problem == CANNOT_BE_SHOWN:
        refuses(metric.compute, f"{argument}: {problem}", {**inputs, "ties": "docid"})
    assert len(metric) == 0


def test_flat_columns_without_document_ids_are_rejected_where_docid_decides(ndcg: evaluate.Metric) -> None:
    flat = {"predictions": [1, 2, 1, 2, 2], "references": [1, 0, 1, 2, 0], "query_ids": ["p", "q", "p", "q", "p"]}
    problem = "document_ids are missing: query 'q', row 1 and query 'q', row 3 have the same score"
    for options in ({"ties": "docid"}, {"convention": "trec_eval"}):
        for relevances in ([1, 0, 1, 2, 0], [1, 2, 1, 0, 0]):
            refuses(ndcg.compute, problem, {**flat, "references": relevances, **options})
    # if all tied documents are alike, padding, or not retrieved, their order does not matter
    for column, value in (("predictions", 3), ("references", 0), ("references", -100), ("predictions", None)):
        inputs = {**flat, column: [value if at == 3 else each for at, each in enumerate(flat[column])]}
        in_order = ndcg.compute(**inputs, ties="docid", ignore_index=-100)
        backwards = {name: side[::-1] for name, side in inputs.items()}
        assert ndcg.compute(**backwards, ties="docid", ignore_index=-100) == in_order
    expected = {"nDCG": pytest.approx(0.5 * (SECOND + 0.5) / (1 + SECOND))}
    assert ndcg.compute(**{**flat, "predictions": [1, -math.inf, 1, -math.inf, 2]}, ties="docid") == expected
    unjudged = {**flat, "references": [1, None, 1, 0, 0], "ties": "docid"}
    assert ndcg.compute(**unjudged, judged_only=True) == expected
    refuses(ndcg.compute, "document_ids are missing: query 'q', row 1", unjudged)


@pytest.mark.parametrize("ties", ["average", "docid"])
def test_a_document_twice_in_a_query_is_rejected_with_its_place(fresh_metric: MetricFactory, ties: str) -> None:
    flat = {"predictions": [1, 2, 3, 4], "references": [1, 0, 1, 2], "query_ids": ["p", "q", "q", "p"]}
    metric, problem = fresh_metric(), "document_ids: query 'q', row 2: document 'a' is in row 1 already"
    refuses(metric.compute, problem, {**flat, "document_ids": ["a", "a", "a", "b"], "ties": ties})
    refuses(metric.add_batch, problem, {**flat, "document_ids": ["a", "a", "a", "b"]})
    assert len(metric) == 0
    metric.add_batch(**flat, document_ids=["a", "a", "b", "b"])
    assert len(metric) == 2


@pytest.mark.parametrize("options", [{"ties": "docid"}, {"convention": "trec_eval"}], ids=str)
def test_batches_keep_no_document_ids(fresh_metric: MetricFactory, options: dict[str, str]) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions={"q": {"b": 1, "a": 1}}, references={"q": {"a": 1}})
    refuses(metric.compute, 'ties="docid": .* batches .* keep no document ids', options)
    assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx((1 + SECOND) / 2)}


# --- Mappings and files ----------------------------------------------------------------------------------------------

# one side, and how it is rejected beside a mapping and beside a file
BAD_SIDES: dict[str, tuple[str, Any, str]] = {
    "a nan score": ("predictions", {"q": {"b": math.nan}}, "query 'q', document 'b': nan"),
    "a nan score not judged": ("predictions", {"q": {"z": math.nan}}, "query 'q', document 'z': nan"),
    "an infinite score": ("predictions", {"q": {"b": math.inf}}, "query 'q', document 'b': inf"),
    "a score of text": ("predictions", {"q": {"b": "1"}}, "query 'q', document 'b': '1'"),
    "a score that is a list": ("predictions", {"q": {"b": [1]}}, r"query 'q', document 'b': \[1\]"),
    "a complex score": ("predictions", {"q": {"b": 1j}}, "query 'q', document 'b': 1j"),
    "a nan relevance": ("references", {"q": {"b": math.nan}}, "query 'q', document 'b': nan"),
    "an infinite relevance": ("references", {"q": {"b": math.inf}}, "query 'q', document 'b': inf"),
    "a relevance of text": ("references", {"q": {"z": "2"}}, "query 'q', document 'z': '2'"),
    "a negative relevance": ("references", {"q": {"b": -1}}, "query 'q', document 'b': the relevance -1"),
    "one not retrieved": ("references", {"q": {"a": 1, "z": -1}}, "query 'q', document 'z': the relevance -1"),
    "a run of scores alone": ("predictions", {"q": [0.5, 0.25]}, "query 'q'"),
    "a run of numbers": ("predictions", {"q": 1}, "query 'q'"),
    "relevances alone": ("references", {"q": [0.5, 1.5]}, "query 'q'"),
    "no query in common": ("predictions", {"Q": {"a": 1}, "7": {"a": 1}}, "no query is in the references"),
}


@pytest.mark.parametrize("ties", ["average", "docid"])
@pytest.mark.parametrize("bad", BAD_SIDES)
def test_values_that_a_mapping_may_not_hold_are_rejected_by_query_and_document(
    ndcg: evaluate.Metric, tmp_path: Path, bad: str, ties: str
) -> None:
    argument, side, problem = BAD_SIDES[bad]
    run, qrels = {"p": {"a": 1, "b": 1}, "q": {"a": 0.5, "b": 0.5}}, {"p": {"a": 1}, "q": {"a": 1, "b": 0}}
    for predictions, references in mappings_and_files(tmp_path, run, qrels):
        inputs = {"predictions": predictions, "references": references, argument: side, "ties": ties}
        refuses(ndcg.compute, f"{argument}: {problem}", inputs)


def test_a_nan_relevance_and_no_queries_are_rejected_in_mappings(ndcg: evaluate.Metric) -> None:
    run = {"q": {"a": 0.5}}
    problem = "references: query 'q', document 'z': nan"
    refuses(ndcg.compute, problem, {"predictions": run, "references": {"q": {"a": 1, "z": math.nan}}})
    refuses(ndcg.compute, ".*references hold no queries", {"predictions": run, "references": {}})


def test_ids_that_no_file_can_hold_are_rejected_next_to_one(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    file = written(tmp_path / "run", {"1": {"1": 1.0}}, "run")
    for ids, what in (
        ({1: {"1": 1}}, "query"),
        ({"1": {1: 1}}, "query '1': document"),
        ({"1": {None: 1}}, ".*document"),
    ):
        problem = f"references: {what} ids must be strings"
        refuses(ndcg.compute, problem, {"predictions": file, "references": ids})
    escaped = b"d\xe9".decode("utf-8", "surrogateescape")
    files = {"predictions": file, "references": written(tmp_path / "qrels", {"1": {"1": 1}}, "qrels")}
    problem = re.escape(
        "must be Unicode text, as in a file; got 'd\\udce9', which UTF-8 cannot encode; decode ids in their own "
        "encoding, without errors='surrogateescape'"
    )
    for argument in files:
        documents, query = {"1": {"1": 1}, "2": {"a": 1, escaped: 2}}, {escaped: {"1": 1}}
        refuses(ndcg.compute, f"{argument}: query '2': document ids {problem}", {**files, argument: documents})
        refuses(ndcg.compute, f"{argument}: query ids {problem}", {**files, argument: query})
    both = {"predictions": {"q": {"a": 2.0, escaped: 1.0}}, "references": {"q": {"a": 0, escaped: 1}}}
    assert ndcg.compute(**both) == {"nDCG": pytest.approx(SECOND, rel=1e-15)}


@pytest.mark.parametrize("ids", [(1, "1"), ("1", 1), (b"1", "1")])
def test_document_ids_of_two_types_that_never_meet_are_rejected(ndcg: evaluate.Metric, ids: tuple[Any, Any]) -> None:
    kinds = [type(each).__name__ for each in ids]
    problem = f"predictions: no document .* ids are {kinds[0]} in the .*, {kinds[1]} in the"
    refuses(ndcg.compute, problem, {"predictions": {"q": {ids[0]: 1.0}}, "references": {"q": {ids[1]: 1}}})


def test_ids_in_one_argument_and_positions_in_the_other_are_rejected(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    metric = fresh_metric()
    sides = mappings_and_files(tmp_path, {"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 1, "b": 0}})[:2]
    for method in (metric.compute, metric.add_batch):
        for predictions, references in sides:
            for lists in ([[1, 0]], np.array([[1, 0]]), pa.array([[1, 0]]), polars_lists([[1, 0]])):
                problem = "predictions are by ids and references by position"
                refuses(method, problem, {"predictions": predictions, "references": lists})
                problem = "predictions are by position .* and references by ids"
                refuses(method, problem, {"predictions": lists, "references": references})
            by_ids = {"predictions": predictions, "references": references, "query_ids": [1, 1]}
            refuses(method, "query_ids are for flat predictions and references", by_ids)
    assert len(metric) == 0


# --- Keys that are not ids -------------------------------------------------------------------------------------------

# each key, and how errors show it
NOT_KEYS: dict[str, Any] = {
    "nan": math.nan,
    "None": None,
    "1.5": 1.5,
    "True": True,
    "('a', 1)": ("a", 1),
    "np.float64(nan)": np.float64("nan"),
    "Decimal('1')": Decimal(1),
    "UUID('00000000-0000-0000-0000-000000000001')": uuid.UUID(int=1),
}
NEITHER = "is neither text nor an integer, as ids must be; give others as text$"


def mappings_of(query: Any, document: Any) -> Inputs:
    """Mappings that share a query and a document."""
    run, qrels = {"a": 0.5, document: 1.0}, {"a": 1, document: 1}
    return {"predictions": {"p": {"a": 1.0}, query: run}, "references": {"p": {"a": 1}, query: qrels}}


def compared(metric: evaluate.Metric, predictions: Any, references: Any) -> Any:
    return metric.compare(systems={"one": predictions, "other": predictions}, references=references)


ENTRY_POINTS: dict[str, Callable[..., Any]] = {
    "compute": lambda metric, **inputs: metric.compute(**inputs),
    "compute, by the order of ids": lambda metric, **inputs: metric.compute(**inputs, ties="docid"),
    "values": lambda metric, **inputs: metric.compute(**inputs, use_aggregator=False),
    "report": lambda metric, **inputs: metric.report(**inputs),
    "explain": lambda metric, **inputs: metric.explain(**inputs, got=0.5),
    "add_batch": lambda metric, **inputs: metric.add_batch(**inputs),
    "compare": compared,
    "exclude": lambda metric, **inputs: metric.compute(**inputs, exclude={"p": ["b", "a"]}),
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize("key", NOT_KEYS)
def test_a_mapping_with_keys_that_are_not_ids_is_rejected_at_every_entry_point(
    ndcg: evaluate.Metric, key: str, entry_point: str
) -> None:
    call, good = ENTRY_POINTS[entry_point], mappings_of("q", "b")
    of_document, of_query = mappings_of("q", NOT_KEYS[key]), mappings_of(NOT_KEYS[key], "b")
    for argument in ("predictions", "references"):
        of_system = r"systems\['one'\]: " if entry_point == "compare" else ""
        for what, bad in (
            (f"query {re.escape(key)}", of_query),
            (f"query 'q': document {re.escape(key)}", of_document),
        ):
            if entry_point == "exclude" and bad is of_document:  # the kinds of documents are compared first
                continue
            inputs = {"metric": ndcg, **good, argument: bad[argument]}
            refuses(call, f"({of_system})?{argument}: {what} {NEITHER}", inputs)
    assert len(ndcg) == 0


@pytest.mark.parametrize("key", NOT_KEYS)
def test_values_that_are_not_ids_are_rejected_in_columns_and_ranked_lists(ndcg: evaluate.Metric, key: str) -> None:
    value = NOT_KEYS[key]
    flat = {**TWO_ROWS, "document_ids": ["a", "b"]}
    for argument in ("query_ids", "document_ids"):
        refuses(ndcg.compute, argument, {**flat, argument: [value, value]})
    with pytest.raises(ValueError, match=r"^query_ids|^with query_ids"):
        ndcg.meter().update([0.5, 1.0], [1, 0], query_ids=[value, value])
    problem = f"query 0, position 1: an id must be text or an integer; got {re.escape(key)}; "
    refuses(ndcg.compute, f"predictions: {problem}", {"predictions": [["a", value]], "references": [{"a"}]})
    refuses(ndcg.compute, f"references: {problem}", {"predictions": [["a"]], "references": [{"a": 1, value: 1}]})
