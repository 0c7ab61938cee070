"""Rankings without a meaning are rejected: one line that names the argument and the place, and nothing is added."""

import math
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import MetricFactory
from every_form import FRAMES, Frame, Inputs, jnp, mappings_and_files, pd, pl, polars_lists, torch, written

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


class UnreadableCapsule:
    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("the capsule is lost")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


# 0.5 and 1 in types that are seldom used for scores
STRANGE_NUMBERS: dict[str, Callable[[], Any]] = {
    "scalars with gradients": lambda: [torch.tensor(value, requires_grad=True) for value in (0.5, 1.0)],
    "bfloat16 scalars": lambda: [torch.tensor(value, dtype=torch.bfloat16) for value in (0.5, 1.0)],
    "JAX bfloat16 scalars": lambda: [jnp.array(value, jnp.bfloat16) for value in (0.5, 1.0)],
    "0-d arrays": lambda: [np.array(0.5), np.array(1.0)],
    "a bfloat16 tensor with a gradient": lambda: torch.tensor([0.5, 1.0]).bfloat16().requires_grad_(),
    "a lazily negative tensor": lambda: (-torch.tensor([0.5, 1.0]))._neg_view(),
    "pandas sparse": lambda: pd.Series(pd.arrays.SparseArray([0.5, 1.0])),
}


@pytest.mark.parametrize("strange", STRANGE_NUMBERS)
def test_numbers_may_be_of_strange_types(ndcg: evaluate.Metric, strange: str) -> None:
    values = STRANGE_NUMBERS[strange]()
    for inputs, expected in (
        ({**TWO_ROWS, "predictions": values}, SECOND),
        ({"predictions": [values], "references": [[1, 0]]}, SECOND),
        ({**TWO_ROWS, "references": values}, 1.0),
        ({**TWO_ROWS, "query_ids": ["q", "p"], "sample_weight": values}, 1 / 3),  # of 1 and 0
    ):
        assert ndcg.compute(**inputs) == {"nDCG": pytest.approx(expected, rel=1e-15)}


@pytest.mark.parametrize("strange", [name for name in STRANGE_NUMBERS if "scalars" in name or "arrays" in name])
def test_numbers_in_mappings_may_be_of_strange_types(ndcg: evaluate.Metric, strange: str) -> None:
    run = dict(zip("ab", STRANGE_NUMBERS[strange](), strict=True))
    assert ndcg.compute(predictions={"q": run}, references={"q": {"a": 1, "b": 0}}) == {"nDCG": pytest.approx(SECOND)}


NOT_NUMBERS: dict[str, Callable[[], Any]] = {
    "a sparse tensor": lambda: torch.tensor([0.5, 1.0]).to_sparse(),
    "a tensor without data": lambda: torch.tensor([0.5, 1.0]).to("meta"),
    "one-element arrays": lambda: [np.array([0.5]), np.array([1.0])],
    "pandas text": lambda: pd.Series([0.5, "x"]),
    "pandas periods": lambda: pd.Series(pd.period_range("2026", periods=2, freq="D")),
    "Polars Int128": lambda: pl.Series([1, 2], dtype=pl.Int128),
    "dates": lambda: np.array(["2026-01-01", "2026-01-02"], "M8[D]"),
    "unreadable numbers": lambda: [Unreadable(), Unreadable()],
    "an unreadable array": Unreadable,
    "an unreadable capsule": UnreadableCapsule,
}


@pytest.mark.parametrize("strange", NOT_NUMBERS)
def test_values_that_are_not_numbers_are_rejected_by_their_argument(ndcg: evaluate.Metric, strange: str) -> None:
    values = NOT_NUMBERS[strange]()
    first = values[0] if isinstance(values, list) else values
    for argument in ("predictions", "references", "sample_weight"):
        refuses(ndcg.compute, argument, {**TWO_ROWS, "query_ids": ["q", "p"], argument: values})
    refuses(ndcg.compute, "(predictions|query 0): ", {"predictions": [values], "references": [[1, 0]]})
    mappings = {"predictions": {"q": {"a": first, "b": 1.0}}, "references": {"q": {"a": 1, "b": 0}}}
    refuses(ndcg.compute, "predictions: query 'q', document 'a': ", mappings)


@pytest.mark.parametrize(
    ("inputs", "argument"),
    [
        ({"k": [[*range(10**6)]]}, "k"),
        ({"ties": [*range(10**6)]}, "ties"),
        ({"gain": ["x" * 10**6]}, "gain"),
        ({"log_base": "x" * 10**6}, "log_base"),
        ({**TWO_ROWS, "query_ids": ["q" * 10**6] * 2, "predictions": [math.nan, 1]}, "predictions"),
        ({**TWO_ROWS, "predictions": ["x" * 10**6, 1]}, "predictions"),
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
def test_a_score_too_large_for_32_bit_floats_is_named(ndcg: evaluate.Metric, inputs: Inputs, place: str) -> None:
    ndcg.compute(**inputs)
    for options in ({"score_dtype": "float32"}, {"convention": "xgboost"}):
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

RECORDS: dict[str, Frame] = {"an array of records": lambda table, _: table.to_pandas().to_records(index=False)}
TABLE = pa.table({"user": [1, 1, 2], "item": [7, 8, 7], "score": [0.5, 0.25, 1.0]})


@pytest.mark.parametrize("form", [*FRAMES.values(), *RECORDS.values()], ids=[*FRAMES, *RECORDS])
def test_a_table_beside_lists_is_rejected(ndcg: evaluate.Metric, form: Frame, tmp_path: Path) -> None:
    lists = [[0.5, 0.25], [1.0]]
    by_position = {"predictions": lists, "references": form(TABLE, tmp_path)}
    refuses(ndcg.compute, "predictions are by position .* and references by ids", by_position)
    by_ids = {"predictions": form(TABLE, tmp_path), "references": lists}
    refuses(ndcg.compute, "predictions are by ids and references by position", by_ids)


@pytest.mark.parametrize("table", [TABLE, TABLE.to_pydict()])
def test_a_table_beside_itself_is_rejected(ndcg: evaluate.Metric, table: Any) -> None:
    problem = "predictions and references are the same column of the same table"
    refuses(ndcg.compute, problem, {"predictions": table, "references": table})


@pytest.mark.parametrize("one_pass", [TABLE.to_reader, lambda: (row for row in TABLE.to_pylist())])
def test_a_reader_or_generator_that_is_passed_twice_is_rejected(
    ndcg: evaluate.Metric, one_pass: Callable[[], Any]
) -> None:
    rows = one_pass()
    problem = f"references are the same {type(rows).__name__}, which can be read only once"
    refuses(ndcg.compute, f"predictions and {problem}", {"predictions": rows, "references": rows})
    refuses(ndcg.compare, rf"systems\['a'\] and {problem}", {"systems": {"a": rows, "b": TABLE}, "references": rows})


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
        ({"query_ids": []}, LENGTHS.format(3, 3, 0)),
        ({"query_ids": "abc"}, "query_ids must be integers or strings, .*; got the text 'abc'; give the col"),
        ({"document_ids": ["a"]}, LENGTHS.format(3, 3, 3) + ", document_ids 1 rows"),
        ({"references": np.ones((1, 3))}, "references must be flat"),
        ({"predictions": [[1], [2], [3]]}, "predictions must be flat"),
        ({"predictions": [1, "high", 3]}, "predictions: query 'q', row 1: 'high' is not a"),
        ({"references": [1, 0, "low"]}, "references: query 'p', row 2: 'low' is not a"),
        ({"predictions": [1, math.nan, 3]}, "predictions: query 'q', row 1: nan"),
        ({"predictions": [1, 2, math.inf]}, "predictions: query 'p', row 2: inf"),
        ({"references": [1, 0, -1]}, "references: query 'p', row 2: the relevance -1"),
        ({"predictions": [1, 2, 3, "x"]}, "predictions: row 3: 'x' is not a number"),  # beyond the ids
        ({"query_ids": None, "document_ids": ["a", "b", "c"]}, "document_ids are for flat .*; give query_ids too"),
        (
            {"predictions": pa.array([0.5]), "references": pa.array([1.0]), "query_ids": None},
            "predictions must be a column of lists, one per query; got double; for a row per document give query_ids$",
        ),
        ({"predictions": [], "references": [], "query_ids": NO_CATEGORIES}, "predictions and references hold no que"),
    ],
)
def test_flat_rankings_without_a_meaning_are_rejected_by_row(
    ndcg: evaluate.Metric, inputs: Inputs, problem: str
) -> None:
    refuses(ndcg.compute, problem, {**THREE, **inputs})


CANNOT_BE_SHOWN = "hold times that cannot be shown .*as text"
KINDS = "must be integers or strings"
# three ids, and how they are rejected
NOT_IDS: dict[str, tuple[Callable[[], Any], str]] = {
    "None": (lambda: ["a", None, "b"], ".*row 1"),
    "None in Arrow": (lambda: pa.array([None, "a", "b"]), ".*row 0"),
    "None in categories": (lambda: pd.Series(["a", "b", None], dtype="category"), ".*row 2"),
    "masked": (lambda: np.ma.MaskedArray([1, 1, 2], [0, 1, 0]), ".*row 1"),
    "floats": (lambda: [1.0, 1.0, 2.0], KINDS),
    "truth values": (lambda: [True, False, True], KINDS),
    "categories of floats": (lambda: pa.array([1.5, 1.5, 2.0]).dictionary_encode(), KINDS),
    "NumPy floats": (lambda: np.array([1.0, 1.0, 2.0]), KINDS),
    "nan in pandas": (lambda: pd.Series([1.0, None, 2.0]), ""),
    "integers and strings": (lambda: [1, "a", 2], ".*all text or all integers .*; got 1 in row 0 and 'a' in"),
    "2-D": (lambda: [["a", "a", "b"]], ""),
    "a 2-D array": (lambda: np.array([[1, 1, 2]]), ".*2-D"),
    "a number": (lambda: 5, ""),
    "text": (lambda: "abc", ""),
    "an integer beyond 64 bits": (lambda: [2**70, 1, 1], ""),
    "tuples": (lambda: [("a", 1), ("a", 1), ("b", 1)], ""),
    "UUIDs": (lambda: [uuid.UUID(int=at) for at in range(3)], ""),
    "Arrow UUIDs": (lambda: pa.array([bytes([at]) * 16 for at in range(3)], pa.uuid()), ""),
    "decimals": (lambda: [Decimal(1), Decimal(2), Decimal(3)], ""),
    "pandas periods": (lambda: pd.Series(pd.period_range("2026", periods=3, freq="D")), ""),
    "pandas mixed": (lambda: pd.Series([1, "a", 2], dtype=object), ""),
    "a sparse tensor": (lambda: torch.tensor([0.5, 1.0, 1.0]).to_sparse(), ""),
    "lone surrogates": (lambda: ["\ud800", "b", "b"], ""),
    "unreadable": (Unreadable, ""),
    "a time": (lambda: pa.array([2**62, 1, 1], pa.timestamp("s")), CANNOT_BE_SHOWN),
    "a time in no zone": (lambda: pa.array([1, 2, 1], pa.timestamp("s", "Mars/Phobos")), CANNOT_BE_SHOWN),
    "dates": (lambda: pa.array([1, 2**62, 1], pa.date64()), CANNOT_BE_SHOWN),
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
    for method in (metric.compute, metric.add_batch, partial(metric.compute, ties="docid")):
        refuses(method, f"{argument}:? {problem}", inputs)
    assert len(metric) == 0


def test_flat_columns_without_document_ids_are_rejected_where_docid_decides(ndcg: evaluate.Metric) -> None:
    flat = {"predictions": [1, 2, 1, 2, 2], "references": [1, 0, 1, 2, 0], "query_ids": ["p", "q", "p", "q", "p"]}
    problem = "document_ids are missing: query 'q', row 1 and query 'q', row 3 have the same score"
    for relevances in ([1, 0, 1, 2, 0], [1, 2, 1, 0, 0]):
        refuses(ndcg.compute, problem, {**flat, "references": relevances, "convention": "trec_eval"})
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


def test_a_document_twice_in_a_query_is_rejected_with_its_place(fresh_metric: MetricFactory) -> None:
    flat = {"predictions": [1, 2, 3, 4], "references": [1, 0, 1, 2], "query_ids": ["p", "q", "q", "p"]}
    metric, problem = fresh_metric(), "document_ids: query 'q', row 2: document 'a' is in row 1 already"
    for method in (metric.compute, metric.add_batch, partial(metric.compute, ties="docid")):
        refuses(method, problem, {**flat, "document_ids": ["a", "a", "a", "b"]})
    assert len(metric) == 0
    metric.add_batch(**flat, document_ids=["a", "a", "b", "b"])
    assert len(metric) == 2


def test_batches_keep_no_document_ids(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions={"q": {"b": 1, "a": 1}}, references={"q": {"a": 1}})
    refuses(metric.compute, 'ties="docid": .* batches .* keep no document ids', {"convention": "trec_eval"})
    assert len(metric) == 1
    assert metric.compute() == {"nDCG": pytest.approx((1 + SECOND) / 2)}


# --- Mappings and files ----------------------------------------------------------------------------------------------

# one side, and how it is rejected beside a mapping and beside a file
BAD_SIDES: list[tuple[str, Any, str]] = [
    ("predictions", {"q": {"b": math.nan}}, "query 'q', document 'b': nan"),
    ("predictions", {"q": {"z": math.nan}}, "query 'q', document 'z': nan"),  # which is not judged
    ("predictions", {"q": {"b": math.inf}}, "query 'q', document 'b': inf"),
    ("predictions", {"q": {"b": "1"}}, "query 'q', document 'b': '1'"),
    ("predictions", {"q": {"b": [1]}}, r"query 'q', document 'b': \[1\]"),
    ("predictions", {"q": {"b": 1j}}, "query 'q', document 'b': 1j"),
    ("predictions", {"q": [0.5, 0.25]}, "query 'q'"),
    ("predictions", {"q": 1}, "query 'q'"),
    ("predictions", {"Q": {"a": 1}, "7": {"a": 1}}, "no query is in the references"),
    ("references", {"q": {"b": math.nan}}, "query 'q', document 'b': nan"),
    ("references", {"q": {"a": 1, "z": math.nan}}, "query 'q', document 'z': nan"),
    ("references", {"q": {"b": math.inf}}, "query 'q', document 'b': inf"),
    ("references", {"q": {"z": "2"}}, "query 'q', document 'z': '2'"),
    ("references", {"q": {"b": -1}}, "query 'q', document 'b': the relevance -1"),
    ("references", {"q": {"a": 1, "z": -1}}, "query 'q', document 'z': the relevance -1"),  # which is not retrieved
    ("references", {"q": [0.5, 1.5]}, "query 'q'"),
]


@pytest.mark.parametrize("ties", ["average", "docid"])
@pytest.mark.parametrize(("argument", "side", "problem"), BAD_SIDES)
def test_values_that_a_mapping_may_not_hold_are_rejected_by_query_and_document(
    ndcg: evaluate.Metric, tmp_path: Path, argument: str, side: Any, problem: str, ties: str
) -> None:
    run, qrels = {"p": {"a": 1, "b": 1}, "q": {"a": 0.5, "b": 0.5}}, {"p": {"a": 1}, "q": {"a": 1, "b": 0}}
    for predictions, references in mappings_and_files(tmp_path, run, qrels):
        inputs = {"predictions": predictions, "references": references, argument: side, "ties": ties}
        refuses(ndcg.compute, f"{argument}: {problem}", inputs)


def test_mappings_of_no_queries_are_rejected(ndcg: evaluate.Metric) -> None:
    refuses(ndcg.compute, ".*references hold no queries", {"predictions": {"q": {"a": 0.5}}, "references": {}})


def test_ids_that_are_not_text_are_rejected_next_to_a_file(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    file = written(tmp_path / "run", {"1": {"1": 1.0}}, "run")
    for qrels, problem in (
        (
            {1: {"1": 1}},
            "predictions: query ids are of another type than in the references: '1' in the predictions, 1 in",
        ),
        ({"1": {1: 1}}, "predictions: document ids are of another type than in the references: '1' in the"),
        ({"1": {None: 1}}, "references: query '1': document None is neither text nor an integer"),
    ):
        refuses(ndcg.compute, problem, {"predictions": file, "references": qrels})


def test_ids_that_no_file_can_hold_are_rejected_next_to_one(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    escaped = b"d\xe9".decode("utf-8", "surrogateescape")
    files: Inputs = {
        "predictions": written(tmp_path / "run", {"1": {"1": 1.0}}, "run"),
        "references": written(tmp_path / "qrels", {"1": {"1": 1}}, "qrels"),
    }
    problem = re.escape("must be Unicode text, as in a file; got 'd\\udce9', which UTF-8 cannot encode; decode ids in ")
    for argument in files:
        documents, query = {"1": {"1": 1}, "2": {"a": 1, escaped: 2}}, {escaped: {"1": 1}}
        refuses(ndcg.compute, f"{argument}: query '2': document ids {problem}", {**files, argument: documents})
        refuses(ndcg.compute, f"{argument}: query ids {problem}", {**files, argument: query})
    both = {"predictions": {"q": {"a": 2.0, escaped: 1.0}}, "references": {"q": {"a": 0, escaped: 1}}}
    assert ndcg.compute(**both) == {"nDCG": pytest.approx(SECOND, rel=1e-15)}


@pytest.mark.parametrize(("one", "other"), [(1, "1"), ("1", 1), (b"1", "1")])
def test_document_ids_of_two_types_that_never_meet_are_rejected(ndcg: evaluate.Metric, one: Any, other: Any) -> None:
    types = f"{one!r} in the predictions, {other!r} in the references"
    problem = f"predictions: document ids are of another type than in the references: {types}"
    refuses(ndcg.compute, problem, {"predictions": {"q": {one: 1.0}}, "references": {"q": {other: 1}}})


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


@pytest.mark.parametrize("ties", ["average", "docid"])
@pytest.mark.parametrize("key", NOT_KEYS)
def test_a_mapping_with_keys_that_are_not_ids_is_rejected(ndcg: evaluate.Metric, key: str, ties: str) -> None:
    good, of_query, of_document = (
        mappings_of("q", "b"),
        mappings_of(NOT_KEYS[key], "b"),
        mappings_of("q", NOT_KEYS[key]),
    )
    for argument in good:
        for bad, place in ((of_query, "query"), (of_document, "query 'q': document")):
            problem = f"{argument}: {place} {re.escape(key)} {NEITHER}"
            refuses(ndcg.compute, problem, {**good, argument: bad[argument], "ties": ties})


ENTRY_POINTS: dict[str, Callable[..., Any]] = {
    "values": lambda metric, **inputs: metric.compute(**inputs, use_aggregator=False),
    "report": lambda metric, **inputs: metric.report(**inputs),
    "explain": lambda metric, **inputs: metric.explain(**inputs, got=0.5),
    "add_batch": lambda metric, **inputs: metric.add_batch(**inputs),
    "exclude": lambda metric, **inputs: metric.compute(**inputs, exclude={"p": ["b", "a"]}),
    "compare": lambda metric, predictions, references: metric.compare(
        systems={"one": predictions, "other": predictions}, references=references
    ),
}


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_a_mapping_with_keys_that_are_not_ids_is_rejected_at_every_entry_point(
    ndcg: evaluate.Metric, entry_point: str
) -> None:
    good, bad = mappings_of("q", "b"), mappings_of(1.5, "b")
    for argument in good:
        problem = rf"(systems\['one'\]: )?{argument}: query 1.5 {NEITHER}"
        refuses(ENTRY_POINTS[entry_point], problem, {"metric": ndcg, **good, argument: bad[argument]})
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
