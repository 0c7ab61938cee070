"""Documents that take no rank and are in no ideal: the same as if neither side had them, in every form with ids."""

import datetime
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
from conftest import NOTHING_IN_COMMON
from evaluate import Metric
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

Side = dict[Any, dict[Any, float]]

# "a" of q1 is excluded before the highest rank, "z" of q1 would be in the ideal, q3 loses all its documents
RUN: Side = {"q1": {"a": 3, "b": 2, "c": 2}, "q2": {"x": 2, "y": 1}, "q3": {"a": 1}}
QRELS: Side = {"q1": {"a": 3, "c": 1, "z": 2}, "q2": {"y": 1, "a": 1}, "q3": {"a": 1}}
EXCLUDE = {"q1": ["a", "z"], "q2": {"x"}, "q3": ("a", "b"), "of no query": ["y"]}
LEFT = {"q1": {"b": 2, "c": 2}, "q2": {"y": 1}, "q3": {}}, {"q1": {"c": 1}, "q2": {"y": 1, "a": 1}, "q3": {}}

NAMED = {"predictions": "score", "references": "label", "query_ids": "user", "document_ids": "item"}


def rows(run: Side, qrels: Side) -> pd.DataFrame:
    """Return the outer join of both sides, a row per document."""
    documents = [(query, each) for query in qrels for each in dict.fromkeys([*run.get(query, {}), *qrels[query]])]
    frame = pd.DataFrame(documents, columns=["user", "item"])
    frame["score"] = [run.get(query, {}).get(each) for query, each in documents]
    frame["label"] = [qrels[query].get(each) for query, each in documents]
    return frame


def pairs(exclude: dict[Any, Any]) -> pd.DataFrame:
    """Return a row for each document to exclude, one of them twice, as a user may have seen a film twice."""
    found = [(query, each) for query, documents in exclude.items() for each in documents]
    return pd.DataFrame([*found, *found[:1]], columns=["user", "item"])


def duckdb_relation(frame: pd.DataFrame) -> Any:
    import duckdb

    return duckdb.from_arrow(pa.table(frame))


def lazy_frame(frame: pd.DataFrame) -> Any:
    import polars

    return polars.from_pandas(frame).lazy()


FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "categories": lambda frame: frame.astype({"user": "category", "item": "category"}),
    "Polars": lazy_frame,
    "Arrow": pa.table,
    "DuckDB": duckdb_relation,
    "datasets": datasets.Dataset.from_pandas,
}
FORMATS: dict[str, Callable[[], dict[str, Any]]] = {
    "mappings": lambda: {"predictions": RUN, "references": QRELS, "exclude": EXCLUDE},
    "mappings of arrays": lambda: {
        "predictions": RUN,
        "references": QRELS,
        "exclude": {query: np.array(list(documents)) for query, documents in EXCLUDE.items()},
    },
    "rows": lambda: {"data": rows(RUN, QRELS), **NAMED, "exclude": EXCLUDE},
    "columns": lambda: {**{argument: rows(RUN, QRELS)[name] for argument, name in NAMED.items()}, "exclude": EXCLUDE},
    **{
        name: lambda make=make: {"data": make(rows(RUN, QRELS)), **NAMED, "exclude": make(pairs(EXCLUDE))}
        for name, make in FRAMES.items()
    },
}


@pytest.fixture
def expected(ndcg: Metric) -> list[float]:
    predictions, references = LEFT
    return ndcg.compute(predictions=predictions, references=references, k=2, use_aggregator=False)["nDCG@2"]


@pytest.mark.parametrize("format_", FORMATS)
def test_excluded_documents_are_as_if_neither_side_had_them(ndcg: Metric, format_: str, expected: list[float]) -> None:
    # q1: tied documents of which one is relevant; q2: one of two relevant; q3: nothing is left
    discount = 1 / np.log2(3)
    assert expected == pytest.approx([(1 + discount) / 2, 1 / (1 + discount), 0])
    inputs = FORMATS[format_]()
    assert ndcg.compute(**inputs, k=2, use_aggregator=False)["nDCG@2"] == expected
    report = ndcg.report(**inputs, k=2)
    assert report.queries["nDCG@2"].to_pylist() == expected
    assert report.signature == ndcg.signature(k=2, exclude=EXCLUDE) != ndcg.signature(k=2)
    ndcg.add_batch(**inputs)
    assert ndcg.compute(k=2, use_aggregator=False)["nDCG@2"] == expected
    system = inputs.pop("predictions")
    comparison = ndcg.compare(systems={"a": system, "b": system}, **inputs, k=2)
    assert comparison.queries["nDCG@2"].to_pylist() == expected * 2
    assert comparison.signature == report.signature


@pytest.mark.parametrize("as_list", [list, set, tuple, np.array])
def test_every_query_of_ranked_ids_has_a_list_to_exclude(ndcg: Metric, as_list: Callable[[Any], Any]) -> None:
    ranked, relevant = [[7, 5, 3], [2, 1]], [{5: 1, 7: 1, 9: 2}, {1: 1}]
    found = ndcg.compute(
        predictions=ranked, references=relevant, exclude=[as_list([7, 9]), as_list([2])], use_aggregator=False
    )
    assert found == {"nDCG": [1.0, 1.0]}


def test_a_query_is_skipped_if_it_is_missing_from_the_predictions_or_all_of_it_is_excluded(ndcg: Metric) -> None:
    without_q2 = {query: documents for query, documents in RUN.items() if query != "q2"}
    for inputs in ({"predictions": without_q2, "references": QRELS}, {"data": rows(without_q2, QRELS), **NAMED}):
        values = ndcg.compute(**inputs, exclude=EXCLUDE, missing="skip", use_aggregator=False)["nDCG"]
        assert [np.isnan(value) for value in values] == [False, True, True]  # of q3 all documents are excluded
        assert ndcg.compute(**inputs, exclude=EXCLUDE, use_aggregator=False)["nDCG"] == [values[0], 0, 0]


# each query keeps three documents, so that scikit-learn can score them
EVEN_RUN: Side = {
    "q1": {"a": 4, "b": 3, "c": 2, "d": 1},
    "q2": {"b": 1, "c": 2, "a": 3},
    "q3": {"c": 3, "b": 2, "a": 2},
}
EVEN_QRELS: Side = {
    "q1": {"a": 0, "b": 1, "c": 3, "d": 2},
    "q2": {"b": 1, "c": 0, "a": 0},
    "q3": {"c": 0, "b": 1, "a": 2},
}
EVEN_EXCLUDE = {"q1": ["a"], "of no query": ["c"]}
ODD_EXCLUDE = {"q1": ["a"], "q2": ["c"]}


def in_even_formats(folder: Path, exclude: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rankings that scikit-learn can score, with documents to exclude, in every form with ids."""
    frame, files = rows(EVEN_RUN, EVEN_QRELS), {}
    for name, content in {"predictions": EVEN_RUN, "references": EVEN_QRELS, "exclude": exclude}.items():
        files[name] = folder / f"{name}.json"
        files[name].write_text(json.dumps(content))
    return {
        "mappings": {"predictions": EVEN_RUN, "references": EVEN_QRELS, "exclude": exclude},
        "files": files,
        "a file and mappings": {**files, "references": EVEN_QRELS, "exclude": exclude},
        "columns": {**{argument: frame[name] for argument, name in NAMED.items()}, "exclude": exclude},
        "rows in another order": {"data": frame[::-1], **NAMED, "exclude": exclude},
        "rows and a file": {"data": frame, **NAMED, "exclude": files["exclude"]},
        **{name: {"data": make(frame), **NAMED, "exclude": make(pairs(exclude))} for name, make in FRAMES.items()},
        "ranked ids": {
            "predictions": [sorted(of, key=of.get, reverse=True) for of in EVEN_RUN.values()],
            "references": list(EVEN_QRELS.values()),
            "exclude": [list(exclude.get(query, ())) for query in EVEN_RUN],
        },
    }


EVEN_FORMATS = ["mappings", "files", "a file and mappings", "columns", "rows in another order", "rows and a file"]


@pytest.mark.parametrize("format_", [*EVEN_FORMATS, *FRAMES, "ranked ids"])
def test_scikit_learn_gets_rankings_without_the_excluded_documents(ndcg: Metric, tmp_path: Path, format_: str) -> None:
    inputs = in_even_formats(tmp_path, EVEN_EXCLUDE)[format_]
    score = [[3, 2, 1], [1, 2, 3], [3, 2, 1] if format_ == "ranked ids" else [3, 2, 2]]
    for k in (None, 2):
        expected = pytest.approx(ndcg_score([[1, 3, 2], [1, 0, 0], [0, 1, 2]], score, k=k), rel=1e-12)
        assert list(ndcg.compute(**inputs, k=k, engine="sklearn").values()) == [expected]
        ndcg.add_batch(**inputs)
        assert list(ndcg.compute(k=k, engine="sklearn").values()) == [expected]
    inputs = in_even_formats(tmp_path, ODD_EXCLUDE)[format_]
    needs = 'engine="sklearn": scikit-learn needs lists of the same length, not empty; query'
    with pytest.raises(ValueError, match=f"^{needs}"):
        ndcg.compute(**inputs, engine="sklearn")


def by_query(document: str) -> dict[str, list[str]]:
    return {"q": [document]}


THREE_ROWS = {"query_ids": ["q"] * 3, "document_ids": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("inputs", "exclude"),
    [
        ({"predictions": {"q": {"a": 3, "b": 1}}, "references": {"q": {"a": 1, "b": 0, "c": 1}}}, by_query),
        ({"predictions": {"q": {"a": 3, "b": 1, "c": 2}}, "references": {"q": {"a": 1, "b": 0}}}, by_query),
        ({"predictions": [3, 1, None], "references": [1, 0, 1], **THREE_ROWS}, by_query),
        ({"predictions": [3, 1, -np.inf], "references": [1, 0, 1], **THREE_ROWS}, by_query),
        ({"predictions": [["a", "b"]], "references": [{"a": 1, "b": 0, "c": 1}]}, lambda document: [[document]]),
    ],
    ids=["not retrieved", "not judged", "row of None", "row of -inf", "not in a ranked list"],
)
def test_scikit_learn_gets_no_document_that_only_one_side_knows(
    ndcg: Metric, inputs: dict[str, Any], exclude: Callable[[str], Any]
) -> None:
    without_c = {"exclude": exclude("c"), "engine": "sklearn"}
    assert ndcg.compute(**inputs, **without_c) == {"nDCG": ndcg_score([[1, 0]], [[3, 1]])}
    with pytest.raises(ValueError, match=r'engine="sklearn" does not support None, -inf or masked values; leave'):
        ndcg.compute(**inputs, exclude=exclude("b"), engine="sklearn")


NOTHING = [
    ("a.json", "{}"),
    ("a.json", "[]"),
    ("a.json", '{"q1": []}'),
    ("a.csv", "user,item\n"),
    ("a.txt", "# none\n"),
]


@pytest.mark.parametrize(
    "exclude", [{}, {"q1": []}, {"of no query": []}, pairs({}), {"q1": ["of no query"]}, *NOTHING], ids=str
)
def test_nothing_to_exclude_changes_nothing(ndcg: Metric, tmp_path: Path, exclude: Any) -> None:
    for sides in (SMALL, SMALL_ROWS):  # a query of another type
        assert ndcg.compute(**sides, exclude={"q": ["a"], 7: ["b"]}) == {"nDCG": 1.0}
    if isinstance(exclude, tuple):
        (tmp_path / exclude[0]).write_text(exclude[1])
        (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
        exclude = tmp_path / exclude[0]
        both = {"predictions": RUN, "references": tmp_path / "qrels.json"}
        assert ndcg.compute(**both, exclude=exclude) == ndcg.compute(**MAPPINGS)
        assert ndcg.compute(**MAPPINGS, exclude=exclude) == ndcg.compute(**MAPPINGS)
    assert ndcg.compute(**ROWS, exclude=exclude) == ndcg.compute(**ROWS)


grades = st.dictionaries(st.integers(0, 5), st.integers(0, 3), max_size=5)
ids = st.sets(st.integers(0, 6), max_size=4)


@NOTHING_IN_COMMON
@given(st.lists(st.tuples(grades, grades, ids), min_size=1, max_size=4), st.sampled_from([None, 1, 2]))
@settings(max_examples=60, deadline=None)
def test_any_exclusion_equals_removal(queries: list[Any], k: int | None) -> None:
    from conftest import ROOT

    ndcg = evaluate.load(str(ROOT / "ndcg.py"))
    run, qrels = ({at: side[which] for at, side in enumerate(queries)} for which in (0, 1))
    exclude = {at: side[2] for at, side in enumerate(queries)}
    left = [
        {query: {each: value for each, value in documents.items() if each not in exclude[query]}
         for query, documents in side.items()}
        for side in (run, qrels)
    ]  # fmt: skip
    expected = ndcg.compute(predictions=left[0], references=left[1], k=k, use_aggregator=False)
    assert ndcg.compute(predictions=run, references=qrels, exclude=exclude, k=k, use_aggregator=False) == expected
    frame = rows(run, qrels)
    if set(frame["user"]) == set(run):  # a query without a document has no row
        assert ndcg.compute(data=frame, **NAMED, exclude=exclude, k=k, use_aggregator=False) == expected


TIME, DAY = datetime.datetime(2020, 1, 1), datetime.date(2020, 1, 1)
NEXT = {datetime.datetime: datetime.datetime(2020, 1, 2), datetime.date: datetime.date(2020, 1, 2)}


@pytest.mark.parametrize("kinds", [("s", "ns"), ("ns", "us"), ("us", "us"), ("date32", "date64"), ("date64", "date32")])
@pytest.mark.parametrize("column", ["q", "d"])
def test_times_are_the_same_in_any_unit(ndcg: Metric, kinds: tuple[str, str], column: str) -> None:
    of, at = [pa.timestamp(each) if "date" not in each else getattr(pa, each)() for each in kinds], TIME
    if "date" in kinds[0]:
        at = DAY
    other = NEXT[type(at)]
    both = {"q": pa.array([at, at], of[0]), "d": pa.array(["x", "y"])}
    if column == "d":
        both = {"q": pa.array(["a", "a"]), "d": pa.array([at, other], of[0])}
    excluded = {"q": pa.array([at], of[1]), "d": pa.array(["x"])}
    if column == "d":
        excluded = {"q": pa.array(["a"]), "d": pa.array([at], of[1])}
    named = {"predictions": "s", "references": "r", "query_ids": "q", "document_ids": "d"}
    data = pa.table({**both, "s": [0.9, 0.5], "r": [0, 1]})
    assert ndcg.compute(data=data, **named) == {"nDCG": pytest.approx(1 / np.log2(3))}
    assert ndcg.compute(data=data, **named, exclude=pa.table(excluded)) == {"nDCG": 1.0}


@pytest.mark.parametrize(
    ("kind", "other"),
    [("timestamp[us]", "timestamp[us, tz=UTC]"), ("timestamp[us]", "date32"), ("int64", "string"), ("int64", "binary")],
)
def test_ids_of_another_kind_are_rejected(ndcg: Metric, kind: str, other: str) -> None:
    known = {"int64": pa.int64(), "string": pa.string(), "binary": pa.binary(), "date32": pa.date32()}
    known |= {"timestamp[us]": pa.timestamp("us"), "timestamp[us, tz=UTC]": pa.timestamp("us", "UTC")}
    values = {"int64": [7, 8], "string": ["7"], "binary": [b"7"], "date32": [DAY]}
    ids = [pa.array(values.get(each, [TIME]), known[each])[:1] for each in (kind, other)]
    data = pa.table({"q": ["a"], "d": ids[0], "s": [0.9], "r": [1]})
    named = {"predictions": "s", "references": "r", "query_ids": "q", "document_ids": "d"}
    with pytest.raises(ValueError, match=r"^exclude: ids of documents are of another type, such as "):
        ndcg.compute(data=data, **named, exclude=pa.table({"q": ["a"], "d": ids[1]}))


SMALL = {"predictions": {"q": {"a": 0.9, "b": 0.5}}, "references": {"q": {"b": 1}}}
SMALL_ROWS = {"predictions": [0.9, 0.5], "references": [0, 1], "query_ids": ["q", "q"], "document_ids": ["a", "b"]}


@pytest.mark.parametrize("sides", [SMALL, SMALL_ROWS], ids=["mappings", "rows"])
@pytest.mark.parametrize(
    "documents", [["b", 7], {"a", 7, "c", "d"}, (7, "a"), {7: 1, "a": 2}, np.array(["a", 7], object)]
)
def test_ids_of_another_type_than_the_rankings_are_rejected(ndcg: Metric, sides: Any, documents: Any) -> None:
    problem = "exclude: ids of documents are of another type, such as 7 in exclude, 'a' in the rankings; give both"
    with pytest.raises(ValueError, match=f"^{problem}"):
        ndcg.compute(**sides, exclude={"q": documents})


@pytest.mark.parametrize(
    ("documents", "wrong"),
    [
        ([7.0], "7.0"),
        (["a", None], "None"),
        ({math.nan}, "nan"),
        ([True], "True"),
        ([("a", 1)], r"\('a', 1\)"),
        (np.ma.array([7, 8], mask=[False, True]), "None"),
    ],
)
@pytest.mark.parametrize("sides", [SMALL, SMALL_ROWS], ids=["mappings", "rows"])
def test_values_that_are_not_ids_cannot_be_excluded(ndcg: Metric, sides: Any, documents: Any, wrong: str) -> None:
    with pytest.raises(ValueError, match=f"^exclude: query 'q': must hold ids, text or integers; got {wrong}$"):
        ndcg.compute(**sides, exclude={"q": documents})
    with pytest.raises(ValueError, match=r"^exclude: query None is neither text nor an integer, as ids must be; give"):
        ndcg.compute(**sides, exclude={None: ["a"], "q": ["a"]})


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64, None])
def test_integers_that_no_row_can_hold_exclude_nothing(ndcg: Metric, kind: Any) -> None:
    mappings = {"predictions": {1: {5: 0.9, 6: 0.5}}, "references": {1: {6: 1}}}
    ids = [5, 6] if kind is None else np.array([5, 6], kind)
    rows = {"predictions": [0.9, 0.5], "references": [0, 1], "query_ids": [1, 1], "document_ids": ids}
    for sides in (mappings, rows):
        exclude = {1: [5, 2**70, -(2**63), 2**63], 2**70: [6], -1: [6]}
        assert ndcg.compute(**sides, exclude=exclude) == {"nDCG": 1.0}
        assert ndcg.compute(**sides, exclude={1: [2**70]}) == {"nDCG": pytest.approx(1 / math.log2(3))}


def test_the_error_speaks_of_files_only_if_the_ids_to_exclude_are_in_one(ndcg: Metric, tmp_path: Path) -> None:
    problem = "exclude: no query is in the references; ids are such as {} in exclude, {} in the references; {}"
    hint = "give both the same type"
    for sides in (SMALL, SMALL_ROWS):
        with pytest.raises(ValueError, match=f"^{re.escape(problem.format(repr(b'q'), repr('q'), hint))}$"):
            ndcg.compute(**sides, exclude={b"q": ["a"]})
    (tmp_path / "seen.txt").write_text("7 5\n")
    by_integers = {"predictions": {7: {5: 0.9, 6: 0.5}}, "references": {7: {6: 1}}}
    hint += ": ids of files are text, so read the file and give its DataFrame"
    with pytest.raises(ValueError, match=f"^{re.escape(problem.format(repr('7'), 7, hint))}$"):
        ndcg.compute(**by_integers, exclude=tmp_path / "seen.txt")


@pytest.mark.parametrize("make", [pd.Series, pa.array, lambda ids: pa.chunked_array([ids]), np.array])
def test_ids_of_a_query_may_be_a_column(ndcg: Metric, make: Callable[[Any], Any], expected: list[float]) -> None:
    exclude = {query: make(list(documents)) for query, documents in EXCLUDE.items()}
    for inputs in (MAPPINGS, ROWS):
        assert ndcg.compute(**inputs, exclude=exclude, k=2, use_aggregator=False) == {"nDCG@2": expected}


MAPPINGS = {"predictions": RUN, "references": QRELS}
ROWS = {"data": rows(RUN, QRELS), **NAMED}
SEEN = {
    "pairs": "q1 a\nq1 z\nq1 a\nq2 x\nq3 a\n",
    "a.csv": "user,item,time\nq1,a,5\nq1,z,6\nq1,a,7\nq2,x,8\nq3,a,9\n",
    "a.tsv": "user_id\titem_id\nq1\ta\nq1\tz\nq2\tx\nq3\ta\n",
    "a.json": json.dumps({query: list(documents) for query, documents in EXCLUDE.items()}),
    "b.json": json.dumps({query: dict.fromkeys(documents, 5) for query, documents in EXCLUDE.items()}),
    "records.json": pairs(EXCLUDE).to_json(orient="records"),
    "a.jsonl": pairs(EXCLUDE).to_json(orient="records", lines=True),
    "b.jsonl": "".join(f"{json.dumps({query: list(documents)})}\n" for query, documents in EXCLUDE.items()),
}


@pytest.mark.parametrize("name", [*SEEN, "a.parquet", "a.arrow"])
def test_a_file_names_documents_to_exclude(ndcg: Metric, tmp_path: Path, name: str, expected: list[float]) -> None:
    path = tmp_path / name
    if name in SEEN:
        path.write_text(SEEN[name])
    elif name == "a.parquet":
        pairs(EXCLUDE).to_parquet(path)
    else:
        pa.feather.write_feather(pairs(EXCLUDE), path)
    for inputs in (MAPPINGS, ROWS, FORMATS["pandas"]()):
        found = ndcg.compute(**{**inputs, "exclude": path}, k=2, use_aggregator=False)
        assert found == {"nDCG@2": expected}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a", "q1 a\nq2\n", "line 2: 1 column; ids alone are 2: query document"),
        ("a", "q1 a b\n", "line 1: 3 columns; ids alone are 2: query document"),
        ("a", "q1 0 a 1\n", "line 1: 4 columns; ids alone are 2: query document"),
        ("a.csv", "user,item\nq1,\n", "line 2: has no document; give each row its id"),
        ("a.csv", "user,film\nq1,a\n", "no column holds the document; name it document_id, or as"),
        ("a.json", '{"q1": ["a"], "q2": "x"}', "query 'q2': must be a list of ids; got 'x'"),
        ("a.json", '{"q1": [["a"]]}', r"the document \['a'\] is neither text nor an integer, as ids must be"),
        ("a.jsonl", '{"user": "q1", "item": null}\n', "line 1: has no document; give each row its id"),
    ],
)
def test_a_faulty_file_of_documents_to_exclude_is_rejected(
    ndcg: Metric, tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^exclude: {path}: (.*: )?{message}"):
        ndcg.compute(**MAPPINGS, exclude=path)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")  # of PySpark
@pytest.mark.xdist_group("spark")
def test_spark_excludes_the_rows_of_another_frame(ndcg: Metric, expected: list[float]) -> None:
    from conftest import spark_session

    session = spark_session()
    inputs = {name: value for name, value in ROWS.items() if name != "data"}
    documents = [tuple(row) for row in rows(RUN, QRELS).astype(object).replace(np.nan, None).to_numpy()]
    frame = session.createDataFrame(documents, "user string, item string, score double, label double")
    seen = session.createDataFrame([tuple(row) for row in pairs(EXCLUDE).to_numpy()], "user string, item string")
    found = ndcg.compute(data=frame, **inputs, exclude=seen, k=2, use_aggregator=False).collect()
    assert [row["nDCG@2"] for row in sorted(found)] == expected
    means = ndcg.compute(data=frame, **inputs, exclude=seen, k=2, missing="skip")
    assert means == {"nDCG@2": pytest.approx(np.mean(expected[:2]))}  # of q3 nothing is left
    renamed = seen.withColumnRenamed("item", "film")
    padded = {**inputs, "judged_only": True, "missing": "skip", "use_aggregator": False, "k": 2}
    values = [row["nDCG@2"] for row in sorted(ndcg.compute(data=frame, **padded).collect())]
    assert values == ndcg.compute(**{**ROWS, **padded})["nDCG@2"]
    for exclude, message in (
        (pairs(EXCLUDE), "exclude: must be a Spark DataFrame if data is one; got DataFrame"),
        (renamed, "exclude: must have one column 'item', which document names; there are user, film"),
        (
            session.createDataFrame([("q1", 1)], "user string, item int"),
            "exclude: column 'item' is of type int, and in the rankings string; give both the same type",
        ),
        (
            session.createDataFrame([(1.5, "a")], "user double, item string"),
            "exclude: column 'user' is of type double, and in the rankings string; give both the same type",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            ndcg.compute(data=frame, **inputs, exclude=exclude)
    with pytest.raises(ValueError, match="exclude needs one row per document; name the columns of ids"):
        ndcg.compute(data=frame, **{**inputs, "document_ids": None}, exclude=seen)


RANKED = {"predictions": [["a", "b"], ["c"]], "references": [["a"], ["c"]]}
FORM = r"exclude must be {query: ids}, a file, or, together with data, a DataFrame with columns of the same names; got "
ANOTHER_TYPE = (
    r"exclude: ids of documents are of another type, such as 1 in exclude, '[abc]' in the rankings; give both "
)
REFUSED: dict[str, tuple[dict[str, Any], Any, str]] = {
    "a number": (MAPPINGS, 5, FORM + "5"),
    "lists by position": (MAPPINGS, [["a"]], FORM),
    "text for a list": (MAPPINGS, {"q1": "a"}, r"exclude: query 'q1': must be a list or a set of ids; got 'a'"),
    "a number for a list": (ROWS, {"q1": 5}, r"exclude: query 'q1': must be a list or a set of ids; got 5"),
    "lists of lists": (MAPPINGS, {"q1": [["a"]]}, r"exclude: query 'q1': must hold ids, text or integers; got"),
    "ids of another type": (MAPPINGS, {"q1": [1]}, ANOTHER_TYPE),
    "ids of another type in rows": (ROWS, pairs({"q1": [1]}), ANOTHER_TYPE),
    "other queries": (MAPPINGS, {1: ["a"]}, r"exclude: no query is in the references; ids are such as 1 in"),
    "other queries in rows": (ROWS, {1: ["a"]}, r"exclude: no query is in the references; ids are such as 1 in"),
    "a null": (ROWS, pairs({"q1": [None]}), r"exclude: row 0 is None; give each row an id"),
    "a column of another name": (
        ROWS,
        pairs({"q1": ["a"]}).rename(columns={"user": "users"}),
        r"query_ids: exclude has no column 'user'; it has 'users', 'item'; did you mean \"users\"\?",
    ),
    "a frame beside mappings": (
        MAPPINGS,
        pairs(EXCLUDE),
        r"exclude: is a DataFrame, but query_ids and document_ids name",
    ),
    "rows without documents": (
        {**ROWS, "document_ids": None},
        EXCLUDE,
        r"exclude: documents have no ids; give query_ids and document_ids, mappings, or ranked ids",
    ),
    "scores by position": (
        {"predictions": [[2, 1]], "references": [[0, 1]]},
        {0: [1]},
        r"exclude: documents have no ids",
    ),
    "ranked ids and too few lists": (RANKED, [["a"]], r"exclude holds 1 queries and predictions 2; give a list of ids"),
    "ranked ids and a mapping": (RANKED, {0: ["a"]}, r"exclude: got {0: \['a'\]}, but the predictions are ranked ids"),
    "ranked ids and a file": (
        RANKED,
        Path(__file__).parent / "seen.csv",
        r"exclude: .*seen.csv: No such file or directory$",
    ),
    "ranked ids and none": (RANKED, [["a"], None], r"exclude: query 1: must be a list or a set of ids; got None"),
    "ranked ids and integers": (RANKED, [[1], [2]], ANOTHER_TYPE),
    "nothing beside it": ({}, EXCLUDE, r"exclude without predictions and references: give them to add_batch with"),
    "no file": (MAPPINGS, "seen.csv", r"exclude: seen.csv: No such file or directory; if it names a column"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_exclusions_that_are_not_possible_are_rejected_and_nothing_added_is_lost(ndcg: Metric, case: str) -> None:
    inputs, exclude, message = REFUSED[case]
    ndcg.add(prediction=[2, 1], reference=[0, 1])
    with pytest.raises(ValueError, match="^" + message):
        ndcg.compute(**inputs, exclude=exclude)
    assert ndcg.compute() == {"nDCG": pytest.approx(1 / np.log2(3))}
