"""Excluded documents take no rank and are in no ideal: each score is as if neither side had them.

If they are excluded from the run only, the judged ones stay in the ideals.
"""

import datetime
import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ALL_EXCLUDED, NOTHING_IN_COMMON, MetricFactory
from evaluate import Metric
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal
from sklearn.metrics import ndcg_score
from sources import TABLES, as_parquet

Side = dict[Any, dict[Any, float]]

# "a" of q1 is excluded before the highest rank, "z" of q1 would be in the ideal, q3 loses all its
# documents
RUN: Side = {"q1": {"a": 3, "b": 2, "c": 2}, "q2": {"x": 2, "y": 1}, "q3": {"a": 1}}
QRELS: Side = {"q1": {"a": 3, "c": 1, "z": 2}, "q2": {"y": 1, "a": 1}, "q3": {"a": 1}}
EXCLUDE = {"q1": ["a", "z"], "q2": {"x"}, "q3": ("a", "b"), "of no query": ["y"]}
DISCOUNT = 1 / np.log2(3)
# q1: tied documents of which one is relevant; q2: one of two relevant; q3: nothing is left
EXPECTED = [pytest.approx((1 + DISCOUNT) / 2), pytest.approx(1 / (1 + DISCOUNT)), 0]
NAMED = {"predictions": "score", "references": "label", "query_ids": "user", "document_ids": "item"}


def rows(run: Side, qrels: Side) -> pd.DataFrame:
    """The outer join of both sides, a row per document."""
    documents = [
        (query, each)
        for query in qrels
        for each in dict.fromkeys([*run.get(query, {}), *qrels[query]])
    ]
    frame = pd.DataFrame(documents, columns=["user", "item"])
    frame["score"] = [run.get(query, {}).get(each) for query, each in documents]
    frame["label"] = [qrels[query].get(each) for query, each in documents]
    return frame


def pairs(exclude: dict[Any, Any]) -> pd.DataFrame:
    """A row for each document to exclude, one of them twice, like a film somebody saw twice."""
    found = [(query, each) for query, documents in exclude.items() for each in documents]
    return pd.DataFrame([*found, *found[:1]], columns=["user", "item"])


def file(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder / name

    return write


def table(side: Side, value: str) -> pd.DataFrame:
    """A row for each document of one side."""
    cells = [
        (query, document, number)
        for query, documents in side.items()
        for document, number in documents.items()
    ]
    return pd.DataFrame(cells, columns=["query_id", "doc_id", value])


MAPPINGS = {"predictions": RUN, "references": QRELS}
ROWS = {"data": rows(RUN, QRELS), **NAMED}
SIDES = {
    "mappings": MAPPINGS,
    "rows": ROWS,
    "columns": {of: rows(RUN, QRELS)[name] for of, name in NAMED.items()},
    "two tables": {"predictions": table(RUN, "score"), "references": table(QRELS, "relevance")},
}
LISTS = {query: list(documents) for query, documents in EXCLUDE.items()}
SOURCES: dict[str, Callable[[Path], Any]] = {
    "lists, sets and tuples": lambda _: EXCLUDE,
    "NumPy": lambda _: {query: np.array(documents) for query, documents in LISTS.items()},
    "pandas": lambda _: {query: pd.Series(documents) for query, documents in LISTS.items()},
    "Arrow, chunks": lambda _: {
        query: pa.chunked_array([documents]) for query, documents in LISTS.items()
    },
    "pairs": file("pairs", "q1 a\nq1 z\nq1 a\nq2 x\nq3 a\n"),
    "CSV": file("a.csv", "user,item,time\nq1,a,5\nq1,z,6\nq1,a,7\nq2,x,8\nq3,a,9\n"),
    "JSON of lists": file("a.json", json.dumps(LISTS)),
    "JSON of mappings": file(
        "b.json", json.dumps({query: dict.fromkeys(each, 5) for query, each in LISTS.items()})
    ),
    "JSON lines of mappings": file(
        "b.jsonl", "\n".join(json.dumps({query: each}) for query, each in LISTS.items())
    ),
    "Parquet": file("a.parquet", as_parquet(pa.Table.from_pandas(pairs(EXCLUDE)))),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("sides", SIDES)
def test_documents_to_exclude_are_read_from_memory_and_files(
    ndcg: Metric, tmp_path: Path, sides: str, source: str
) -> None:
    found = ndcg.compute(
        **SIDES[sides], exclude=SOURCES[source](tmp_path), k=2, use_aggregator=False
    )
    assert found == {"nDCG@2": EXPECTED}


CATEGORIES = {"user": "category", "item": "category"}
EVERY_FRAME = {**TABLES, "pandas categories": lambda table, _: table.to_pandas().astype(CATEGORIES)}


@pytest.mark.parametrize("frame", EVERY_FRAME)
def test_frames_of_every_library_name_documents_to_exclude(
    ndcg: Metric, tmp_path: Path, frame: str
) -> None:
    (tmp_path / "seen").mkdir()
    data = EVERY_FRAME[frame](
        pa.Table.from_pandas(rows(RUN, QRELS), preserve_index=False), tmp_path
    )
    exclude = EVERY_FRAME[frame](
        pa.Table.from_pandas(pairs(EXCLUDE), preserve_index=False), tmp_path / "seen"
    )
    assert ndcg.compute(data=data, **NAMED, exclude=exclude, k=2, use_aggregator=False) == {
        "nDCG@2": EXPECTED
    }


@pytest.mark.parametrize("sides", [MAPPINGS, ROWS], ids=["mappings", "rows"])
def test_every_entry_point_excludes_documents(ndcg: Metric, sides: dict[str, Any]) -> None:
    inputs = {**sides, "exclude": EXCLUDE}
    report = ndcg.report(**inputs, k=2)
    assert report.queries["nDCG@2"].to_pylist() == EXPECTED
    assert report.signature == ndcg.signature(k=2, exclude=EXCLUDE) != ndcg.signature(k=2)
    ndcg.add_batch(**inputs)
    assert ndcg.compute(k=2, use_aggregator=False)["nDCG@2"] == EXPECTED
    system = inputs.pop("predictions")
    comparison = ndcg.compare(systems={"a": system, "b": system}, **inputs, k=2)
    assert comparison.queries["nDCG@2"].to_pylist() == EXPECTED * 2
    assert comparison.signature == report.signature


# q1: the ideal has a relevance of 3 and 2, the run only 1, tied with an unjudged document; q2: as
# before; q3: the only relevant document has no rank
OF_RUN = [
    pytest.approx((1 + DISCOUNT) / 2 / (3 + 2 * DISCOUNT)),
    pytest.approx(1 / (1 + DISCOUNT)),
    0,
]


@pytest.mark.parametrize("sides", SIDES)
def test_every_entry_point_excludes_documents_from_the_run_only(
    ndcg: Metric, fresh_metric: MetricFactory, sides: str
) -> None:
    inputs = {**SIDES[sides], "exclude": EXCLUDE, "exclude_from": "run"}
    assert ndcg.compute(**inputs, k=2, use_aggregator=False) == {"nDCG@2": OF_RUN}
    report = ndcg.report(**inputs, k=2)
    assert report.queries["nDCG@2"].to_pylist() == OF_RUN
    explained = ndcg.explain(**inputs, k=2)
    assert explained.scores["sklearn"] == pytest.approx(report.scores["nDCG@2"].value)
    documents = ndcg.documents(**inputs, queries=["q1"], k=2).to_pylist()
    assert {row["document"]: (row["relevance"], row["rank"]) for row in documents} == {
        "b": (None, 1),
        "c": (1.0, 1),
        "a": (3.0, None),
        "z": (2.0, None),
    }
    batches = fresh_metric()
    batches.add_batch(**inputs)
    assert batches.compute(k=2, use_aggregator=False) == {"nDCG@2": OF_RUN}
    system = inputs.pop("predictions")
    comparison = ndcg.compare(systems={"a": system, "b": system}, **inputs, k=2)
    assert comparison.queries["nDCG@2"].to_pylist() == OF_RUN * 2
    signatures = {report.signature, comparison.signature, explained.signature}
    assert signatures == {ndcg.signature(k=2, exclude=EXCLUDE, exclude_from="run")}
    assert ndcg.signature(k=2, exclude=EXCLUDE) not in signatures


def test_the_signature_tells_where_documents_are_excluded_only_if_there_are_any(
    ndcg: Metric,
) -> None:
    assert ndcg.signature(exclude_from="run") == ndcg.signature()
    assert ndcg.signature(exclude={}, exclude_from="both") == ndcg.signature(exclude={})
    assert "|excluded_from:run|" in ndcg.signature(exclude={}, exclude_from="run")
    reports = {
        of: ndcg.report(**MAPPINGS, exclude=EXCLUDE, exclude_from=of) for of in ("both", "run")
    }
    with refusal("reports"):
        ndcg.compare_reports(reports)


def test_ranked_ids_and_single_queries_lose_documents_of_the_run_only(
    ndcg: Metric, fresh_metric: MetricFactory
) -> None:
    ranked = {
        "predictions": [[7, 5], [2, 1]],
        "references": [{5: 1, 7: 1}, {1: 1}],
        "exclude": [[7], {2}],
    }
    expected = {"nDCG": [pytest.approx(1 / (1 + DISCOUNT)), 1.0]}
    assert ndcg.compute(**ranked, exclude_from="run", use_aggregator=False) == expected
    batches = fresh_metric()
    for prediction, reference, exclude in zip(*ranked.values(), strict=True):
        batches.add(prediction=prediction, reference=reference, exclude=exclude, exclude_from="run")
    assert batches.compute(use_aggregator=False) == expected


def test_batches_that_exclude_documents_from_other_sides_are_refused(
    fresh_metric: MetricFactory,
) -> None:
    batches = fresh_metric()
    batches.add_batch(**MAPPINGS, exclude=EXCLUDE)
    batches.add_batch(predictions={"p": {"a": 1}}, references={"p": {"a": 1}})
    before, more = len(batches), {"predictions": {"o": {"a": 1}}, "references": {"o": {"a": 1}}}
    for call in (
        lambda: batches.add_batch(**more, exclude={"o": ["a"]}, exclude_from="run"),
        lambda: batches.add(prediction=["a"], reference=["a"], exclude=["a"], exclude_from="run"),
        lambda: batches.compute(**more, exclude={"o": ["a"]}, exclude_from="run"),
        lambda: batches.compute(exclude_from="run"),
        lambda: batches.report(exclude_from="run"),
    ):
        with refusal("exclude_from"):
            call()
        assert len(batches) == before
    assert batches.compute(k=2, use_aggregator=False) == {"nDCG@2": [*EXPECTED, 1.0]}


def test_batches_without_exclusions_take_any_side(fresh_metric: MetricFactory) -> None:
    batches = fresh_metric()
    batches.add_batch(**MAPPINGS, exclude_from="run")
    batches.add_batch(
        predictions={"p": {"a": 1}},
        references={"p": {"a": 1}},
        exclude={"p": []},
        exclude_from="both",
    )
    assert len(batches.compute(exclude_from="both", use_aggregator=False)["nDCG"]) == 4


def test_a_document_that_is_excluded_from_the_run_may_not_have_a_negative_relevance(
    ndcg: Metric, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 a -2\nq 0 b 1\n")
    run = {"q": {"a": 2.0, "b": 1.0}}
    path = tmp_path / "qrels.txt"
    for qrels, places in ((path, (str(path), "line 1")), ({"q": {"a": -2, "b": 1}}, ())):
        inputs = {"predictions": run, "references": qrels, "exclude": {"q": ["a"]}}
        assert ndcg.compute(**inputs) == {"nDCG": 1.0}
        with refusal("references", *places, "query 'q', document 'a'"):
            ndcg.compute(**inputs, exclude_from="run")


def test_no_warning_says_that_nothing_is_in_common_if_all_of_it_is_excluded_from_the_run(
    ndcg: Metric,
) -> None:
    inputs = {
        "predictions": {"q": {"a": 2, "x": 1}},
        "references": {"q": {"a": 1, "b": 1}},
        "exclude": {"q": ["a"]},
    }
    frame = {
        "data": rows(inputs["predictions"], inputs["references"]),
        **NAMED,
        "exclude": inputs["exclude"],
    }
    for each in (inputs, frame):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ndcg.compute(**each, exclude_from="run") == {"nDCG": 0.0}


@pytest.mark.parametrize("exclude_from", ["both", "run"])
@pytest.mark.parametrize("seen", [["a", "b"], ["b"]])
def test_a_warning_says_that_all_judged_documents_are_excluded(
    ndcg: Metric, exclude_from: str, seen: list[str]
) -> None:
    run, qrels = {"q": {"a": 2, "x": 1}}, {"q": {"a": 1, "b": 1}}
    frame = {"data": rows(run, qrels), **NAMED}
    for sides in ({"predictions": run, "references": qrels}, frame):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            ndcg.compute(**sides, exclude={"q": seen}, exclude_from=exclude_from)
        said = [
            warned for warned in caught if "judged document (2) is excluded" in str(warned.message)
        ]
        assert len(said) == len(caught) == len(seen) - 1


@pytest.mark.parametrize(("users", "unknown", "warnings_"), [(5, 1000, 1), (5, 0, 0), (4, 1000, 0)])
@pytest.mark.parametrize("sides", ["mappings", "columns", "files"])
def test_a_warning_says_that_no_document_to_exclude_is_known(
    ndcg: Metric, tmp_path: Path, sides: str, users: int, unknown: int, warnings_: int
) -> None:
    run = {user: dict.fromkeys(range(10 * user, 10 * user + 10), 0.5) for user in range(users)}
    qrels = {user: {10 * user: 1} for user in range(users)}
    # Items that another user retrieved: a recommender may leave out seen ones by itself.
    first = {user: 40 - 10 * user + unknown for user in run}
    seen = {user: list(range(start, start + 5)) for user, start in first.items()}
    inputs: dict[str, Any] = {"predictions": run, "references": qrels, "exclude": seen}
    if sides == "columns":
        inputs = {"data": rows(run, qrels), **NAMED, "exclude": pairs(seen)}
    if sides == "files":
        for name, side in inputs.items():
            values = {user: dict.fromkeys(documents, 1) for user, documents in side.items()}
            inputs[name] = tmp_path / f"{name}.json"
            inputs[name].write_text(json.dumps(values))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        ndcg.compute(**inputs)
    assert len(caught) == warnings_


@pytest.mark.parametrize("first", [0, "q0"], ids=["numbers from 0", "ids of queries"])
def test_ids_are_in_no_doubt_beside_documents_to_exclude(ndcg: Metric, first: Any) -> None:
    queries = range(6) if first == 0 else [f"q{at}" for at in range(6)]
    run: Side = {query: {first: 3, 1: 2, 2: 1} for query in queries}
    if first != 0:
        run = {query: {query: 3, "x": 2, "y": 1} for query in queries}
    judged, seen = list(run[queries[0]])[1:]
    qrels: Side = {query: {judged: 1, 7 if first == 0 else "z": 1} for query in queries}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ndcg.compute(
            predictions=run, references=qrels, exclude={query: [seen] for query in queries}
        )


@pytest.mark.parametrize(("last", "seen", "gaps"), [(3, "b", 0), (4, "x", 1)])
def test_an_excluded_document_is_no_gap_in_ranks(
    ndcg: Metric, last: int, seen: str, gaps: int
) -> None:
    ids = {"query_ids": ["q"] * 3, "document_ids": ["a", "b", "c"]}
    qrels = {"q": {"c": 1}}
    for sides in (
        {"predictions": {"q": {"a": 1, "b": 2, "c": last}}, "references": qrels},
        {
            "predictions": {"qid": ["q"] * 3, "docid": ["a", "b", "c"], "rank": [1, 2, last]},
            "references": qrels,
        },
        {"predictions": [1, 2, last], "references": [0, 0, 1], **ids},
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            ndcg.compute(**sides, exclude={"q": [seen]}, score_order="ascending")
        assert len(caught) == gaps


@pytest.mark.parametrize("as_list", [list, set, tuple, np.array])
def test_every_query_of_ranked_ids_has_a_list_to_exclude(
    ndcg: Metric, as_list: Callable[[Any], Any]
) -> None:
    ranked = {"predictions": [[7, 5, 3], [2, 1]], "references": [{5: 1, 7: 1, 9: 2}, {1: 1}]}
    found = ndcg.compute(**ranked, exclude=[as_list([7, 9]), as_list([2])], use_aggregator=False)
    assert found == {"nDCG": [1.0, 1.0]}


def test_a_query_is_skipped_if_it_is_missing_from_the_predictions_or_all_of_it_is_excluded(
    ndcg: Metric,
) -> None:
    without_q2 = {query: documents for query, documents in RUN.items() if query != "q2"}
    for inputs in (
        {"predictions": without_q2, "references": QRELS},
        {"data": rows(without_q2, QRELS), **NAMED},
    ):
        values = ndcg.compute(**inputs, exclude=EXCLUDE, missing="skip", use_aggregator=False)[
            "nDCG"
        ]
        assert [np.isnan(value) for value in values] == [
            False,
            True,
            True,
        ]  # of q3 all documents are excluded
        assert ndcg.compute(**inputs, exclude=EXCLUDE, use_aggregator=False)["nDCG"] == [
            values[0],
            0,
            0,
        ]


ROW_IDS = {"query_ids": ["q"] * 3, "document_ids": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("inputs", "of_query"),
    [
        (
            {"predictions": {"q": {"a": 3, "b": 1}}, "references": {"q": {"a": 1, "b": 0, "c": 1}}},
            "q",
        ),
        (
            {"predictions": {"q": {"a": 3, "b": 1, "c": 2}}, "references": {"q": {"a": 1, "b": 0}}},
            "q",
        ),
        ({"predictions": [3, 1, None], "references": [1, 0, 1], **ROW_IDS}, "q"),
        ({"predictions": [3, 1, -np.inf], "references": [1, 0, 1], **ROW_IDS}, "q"),
        ({"predictions": [["a", "b"]], "references": [{"a": 1, "b": 0, "c": 1}]}, None),
    ],
    ids=["not retrieved", "not judged", "row of None", "row of -inf", "not in a ranked list"],
)
def test_scikit_learn_gets_no_document_that_only_one_side_knows(
    ndcg: Metric, inputs: dict[str, Any], of_query: str | None
) -> None:
    without_c, without_b = ({of_query: [each]} if of_query else [[each]] for each in "cb")
    expected = {"nDCG": ndcg_score([[1, 0]], [[3, 1]])}
    assert ndcg.compute(**inputs, exclude=without_c, engine="sklearn") == expected
    ndcg.add_batch(**inputs, exclude=without_c)
    assert ndcg.compute(engine="sklearn") == expected
    with pytest.raises(ValueError, match="engine="):
        ndcg.compute(**inputs, exclude=without_b, engine="sklearn")


THREE = {"q1": {"a": 4, "b": 3, "c": 2}, "q2": {"a": 1, "b": 2, "c": 3}}
THREE_ROWS = rows(THREE, THREE)
IN_LISTS = [THREE["q1"], {"x": 1, "y": 2, "z": 3}]  # other documents, since fields have one name


def excluded_in_lists(excluded: dict[str, list[str]]) -> list[list[str]]:
    return [excluded["q1"], [{"b": "y"}[document] for document in excluded["q2"]]]


@pytest.mark.parametrize(
    ("sides", "made"),
    [
        ({"predictions": THREE, "references": THREE}, dict),
        ({"data": THREE_ROWS[::-1], **NAMED}, dict),
        ({"data": THREE_ROWS, **NAMED}, pairs),
        ({"predictions": [list("abc"), list("zyx")], "references": IN_LISTS}, excluded_in_lists),
    ],
    ids=["mappings", "rows in another order", "frames", "ranked ids"],
)
def test_scikit_learn_needs_as_many_documents_of_each_query(
    ndcg: Metric, sides: Any, made: Any
) -> None:
    found = ndcg.compute(**sides, exclude=made({"q1": ["c"], "q2": ["b"]}), engine="sklearn", k=1)
    assert found == {"nDCG@1": 1.0}
    with refusal("engine"):
        ndcg.compute(**sides, exclude=made({"q1": ["c"], "q2": []}), engine="sklearn")


SMALL = {"predictions": {"q": {"a": 0.9, "b": 0.5}}, "references": {"q": {"b": 1}}}
SMALL_ROWS = {
    "predictions": [0.9, 0.5],
    "references": [0, 1],
    "query_ids": ["q", "q"],
    "document_ids": ["a", "b"],
}
NOTHING = [{}, {"q1": []}, {"of no query": []}, {"q1": ["of no query"]}]
EMPTY_FILES = {
    "a.json": "{}",
    "b.json": "[]",
    "c.json": '{"q1": []}',
    "a.csv": "user,item\n",
    "a.txt": "# none\n",
}


def test_nothing_to_exclude_changes_nothing(ndcg: Metric, tmp_path: Path) -> None:
    for name, content in {**EMPTY_FILES, "qrels": json.dumps(QRELS)}.items():
        (tmp_path / name).write_text(content)
    for inputs in (MAPPINGS, ROWS, {"predictions": RUN, "references": tmp_path / "qrels"}):
        for exclude in (*NOTHING, *(tmp_path / name for name in EMPTY_FILES)):
            assert ndcg.compute(**inputs, exclude=exclude) == ndcg.compute(**inputs)
    assert ndcg.compute(**ROWS, exclude=pairs({})) == ndcg.compute(**ROWS)


# of rows with a relevance and no score
MOSTLY_MISSING = pytest.mark.filterwarnings("ignore:.*missing from the run:UserWarning")
grades = st.dictionaries(st.integers(0, 5), st.integers(0, 3), max_size=5)
ids = st.sets(st.integers(0, 6), max_size=4)


@NOTHING_IN_COMMON
@MOSTLY_MISSING
@ALL_EXCLUDED
@given(
    st.lists(st.tuples(grades, grades, ids), min_size=1, max_size=4), st.sampled_from([None, 1, 2])
)
@settings(max_examples=40)
def test_any_exclusion_equals_removal(ndcg: Metric, queries: list[Any], k: int | None) -> None:
    run, qrels, exclude = (
        {at: side[which] for at, side in enumerate(queries)} for which in range(3)
    )
    left = [
        {query: {each: value for each, value in documents.items() if each not in exclude[query]}
         for query, documents in side.items()}
        for side in (run, qrels)
    ]  # fmt: skip
    expected = ndcg.compute(predictions=left[0], references=left[1], k=k, use_aggregator=False)
    assert (
        ndcg.compute(predictions=run, references=qrels, exclude=exclude, k=k, use_aggregator=False)
        == expected
    )
    frame = rows(run, qrels)
    if set(frame["user"]) == set(run):  # a query without a document has no row
        assert (
            ndcg.compute(data=frame, **NAMED, exclude=exclude, k=k, use_aggregator=False)
            == expected
        )


@NOTHING_IN_COMMON
@MOSTLY_MISSING
@ALL_EXCLUDED
@given(
    st.lists(st.tuples(grades, grades, ids), min_size=1, max_size=4),
    st.sampled_from(
        [{}, {"k": 2}, {"judged_only": True}, {"missing": "skip"}, {"ideal": "truncated"}]
    ),
)
@settings(max_examples=40)
def test_any_exclusion_from_the_run_equals_removal_from_it(
    ndcg: Metric, queries: list[Any], options: dict[str, Any]
) -> None:
    run, qrels, exclude = (
        {at: side[which] for at, side in enumerate(queries)} for which in range(3)
    )
    left = {
        query: {each: score for each, score in documents.items() if each not in exclude[query]}
        for query, documents in run.items()
    }
    options = {**options, "zero_division": 0.25, "use_aggregator": False}

    def values(**inputs: Any) -> list[str]:
        (found,) = ndcg.compute(**inputs, **options).values()
        return list(map(str, found))  # nan, of a query that is skipped, is equal to nan

    expected = values(predictions=left, references=qrels)
    of_run = {"exclude": exclude, "exclude_from": "run"}
    assert values(predictions=run, references=qrels, **of_run) == expected
    frame = rows(run, qrels)
    if (
        set(frame["user"]) == set(run) and "missing" not in options
    ):  # no row tells that a list is empty
        assert values(data=frame, **NAMED, **of_run) == expected


DAY, TIME = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
NEXT = {DAY: datetime.date(2020, 1, 2), TIME: datetime.datetime(2020, 1, 2)}
S, MS, US, NS = map(pa.timestamp, ("s", "ms", "us", "ns"))


@pytest.mark.parametrize(
    ("at", "kind", "other"),
    [
        (TIME, S, NS),
        (TIME, NS, US),
        (TIME, US, US),
        (DAY, pa.date32(), pa.date64()),
        (DAY, pa.date64(), pa.date32()),
    ],
    ids=str,
)
def test_times_are_the_same_in_any_unit(
    ndcg: Metric, at: Any, kind: pa.DataType, other: pa.DataType
) -> None:
    values = {"score": [0.9, 0.5], "label": [0, 1]}
    for data, exclude in (
        (
            {"user": pa.array([at, at], kind), "item": ["x", "y"]},
            {"user": pa.array([at], other), "item": ["x"]},
        ),
        (
            {"user": ["a", "a"], "item": pa.array([at, NEXT[at]], kind)},
            {"user": ["a"], "item": pa.array([at], other)},
        ),
    ):
        table = pa.table({**data, **values})
        assert ndcg.compute(data=table, **NAMED) == {"nDCG": pytest.approx(DISCOUNT)}
        assert ndcg.compute(data=table, **NAMED, exclude=pa.table(exclude)) == {"nDCG": 1.0}


@pytest.mark.parametrize("sides", [SMALL, SMALL_ROWS], ids=["mappings", "rows"])
@pytest.mark.parametrize("exclude", [{None: ["a"], "q": ["a"]}, {b"q": ["a"]}], ids=str)
def test_queries_to_exclude_from_have_ids_of_the_rankings(
    ndcg: Metric, sides: Any, exclude: Any
) -> None:
    with refusal("exclude"):
        ndcg.compute(**sides, exclude=exclude)


OTHER_TYPES = (["b", 7], {"a", 7, "c", "d"}, {7: 1, "a": 2}, np.array(["a", 7], object))
NO_IDS = ([7.0], ["a", None], {math.nan}, [True], [("a", 1)], np.ma.array([7, 8], mask=[0, 1]))


@pytest.mark.parametrize("sides", [SMALL, SMALL_ROWS], ids=["mappings", "rows"])
@pytest.mark.parametrize(
    ("ids", "places"),
    [*((ids, []) for ids in OTHER_TYPES), *((values, ["query 'q'"]) for values in NO_IDS)],
)
def test_values_that_are_not_ids_of_the_rankings_cannot_be_excluded(
    ndcg: Metric, sides: Any, ids: Any, places: list[str]
) -> None:
    with refusal("exclude", *places):
        ndcg.compute(**sides, exclude={"q": ids})


@pytest.mark.parametrize(
    ("document", "excluded"),
    [
        (pa.array([TIME], US), pa.array([TIME], pa.timestamp("us", "UTC"))),
        (pa.array([TIME], US), pa.array([DAY])),
        (pa.array([7]), pa.array(["7"])),
        (pa.array([7]), pa.array([b"7"])),
    ],
    ids=str,
)
def test_ids_of_another_kind_are_rejected(
    ndcg: Metric, document: pa.Array, excluded: pa.Array
) -> None:
    data = pa.table({"user": ["a"], "item": document, "score": [0.9], "label": [1]})
    with refusal("exclude", "ids of documents"):
        ndcg.compute(data=data, **NAMED, exclude=pa.table({"user": ["a"], "item": excluded}))


def test_the_error_about_ids_of_files_says_that_they_are_text(ndcg: Metric, tmp_path: Path) -> None:
    by_integers = {"predictions": {7: {5: 0.9, 6: 0.5}}, "references": {7: {6: 1}}}
    with refusal("exclude", "no query"):
        ndcg.compute(**by_integers, exclude=file("seen.txt", "7 5\n")(tmp_path))


@pytest.mark.parametrize("sides", [SMALL, SMALL_ROWS], ids=["mappings", "rows"])
def test_queries_with_ids_of_another_type_may_stand_beside_those_that_are_there(
    ndcg: Metric, sides: Any
) -> None:
    assert ndcg.compute(**sides, exclude={"q": ["a"], 7: ["b"]}) == {"nDCG": 1.0}


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64, object])
def test_integers_that_no_row_can_hold_exclude_nothing(ndcg: Metric, kind: Any) -> None:
    ids = {"query_ids": [1, 1], "document_ids": np.array([5, 6], kind)}
    for sides in (
        {"predictions": {1: {5: 0.9, 6: 0.5}}, "references": {1: {6: 1}}},
        {"predictions": [0.9, 0.5], "references": [0, 1], **ids},
    ):
        exclude = {1: [5, 300, -1], 300: [6], -1: [6]}
        assert ndcg.compute(**sides, exclude=exclude) == {"nDCG": 1.0}
        assert ndcg.compute(**sides, exclude={1: [300]}) == {"nDCG": pytest.approx(DISCOUNT)}


@pytest.mark.parametrize(
    ("name", "text", "places"),
    [
        ("a", "q1 a\nq2\n", ["line 2"]),
        ("a", "q1 a b\n", ["line 1"]),
        ("a", "q1 0 a 1\n", ["line 1"]),
        ("a.csv", "user,item\nq1,\n", ["line 2"]),
        ("a.csv", "user,film\nq1,a\n", ["no document"]),
        ("a.json", '{"q1": ["a"], "q2": "x"}', ["no query or document"]),
        ("a.json", '{"q1": [["a"]]}', ["query 'q1', position 0"]),
        ("a.jsonl", '{"user": "q1", "item": "a"}\n{"user": "q1", "item": null}\n', ["line 2"]),
    ],
)
def test_a_faulty_file_of_documents_to_exclude_is_rejected(
    ndcg: Metric, tmp_path: Path, name: str, text: str, places: list[str]
) -> None:
    path = str(file(name, text)(tmp_path))
    with refusal("exclude", path, *places):
        ndcg.compute(**MAPPINGS, exclude=path)


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore")  # of PySpark
@pytest.mark.xdist_group("spark")
def test_spark_excludes_the_rows_of_another_frame(ndcg: Metric) -> None:
    from conftest import spark_session

    session = spark_session()
    inputs = {name: value for name, value in ROWS.items() if name != "data"}
    documents = [
        tuple(row) for row in rows(RUN, QRELS).astype(object).replace(np.nan, None).to_numpy()
    ]
    frame = session.createDataFrame(
        documents, "user string, item string, score double, label double"
    )
    seen = session.createDataFrame(
        [tuple(row) for row in pairs(EXCLUDE).to_numpy()], "user string, item string"
    )
    found = ndcg.compute(data=frame, **inputs, exclude=seen, k=2, use_aggregator=False).collect()
    assert [row["nDCG@2"] for row in sorted(found)] == EXPECTED
    means = ndcg.compute(data=frame, **inputs, exclude=seen, k=2, missing="skip")
    assert means == {
        "nDCG@2": pytest.approx(((1 + DISCOUNT) / 2 + 1 / (1 + DISCOUNT)) / 2)
    }  # of q3 nothing is left
    how = {**inputs, "exclude": seen, "exclude_from": "run", "k": 2}
    found = ndcg.compute(data=frame, **how, use_aggregator=False).collect()
    assert [row["nDCG@2"] for row in sorted(found)] == OF_RUN
    renamed = seen.withColumnRenamed("item", "film")
    padded = {**inputs, "judged_only": True, "missing": "skip", "use_aggregator": False, "k": 2}
    values = [row["nDCG@2"] for row in sorted(ndcg.compute(data=frame, **padded).collect())]
    assert values == ndcg.compute(**{**ROWS, **padded})["nDCG@2"]
    of_integers = session.createDataFrame([("q1", 1)], "user string, item int")
    of_fractions = session.createDataFrame([(1.5, "a")], "user double, item string")
    for exclude, place in (
        (pairs(EXCLUDE), "must be a Spark DataFrame;"),
        (renamed, "document"),
        (of_integers, "column 'item'"),
        (of_fractions, "column 'user'"),
    ):
        with refusal("exclude", place):
            ndcg.compute(data=frame, **inputs, exclude=exclude)
    with refusal("exclude"):
        ndcg.compute(data=frame, **{**inputs, "document_ids": None}, exclude=seen)


TWO_LISTS = {"predictions": [["a", "b"], ["c"]], "references": [["a"], ["c"]]}
NO_IDS = {"predictions": [[2, 1]], "references": [[0, 1]]}
WITHOUT_DOCUMENTS = {**ROWS, "document_ids": None}
# rankings, documents to exclude, and the argument and places that the error names
REFUSED: list[tuple[dict[str, Any], Any, tuple[str, ...]]] = [
    (MAPPINGS, 5, ("exclude",)),
    (MAPPINGS, [["a"]], ("exclude",)),
    (MAPPINGS, {"q1": "a"}, ("exclude", "query 'q1'")),
    (ROWS, {"q1": 5}, ("exclude", "query 'q1'")),
    (MAPPINGS, {"q1": [["a"]]}, ("exclude", "query 'q1'")),
    (MAPPINGS, {"q1": [1]}, ("exclude", "ids of documents")),
    (ROWS, pairs({"q1": [1]}), ("exclude", "ids of documents")),
    (MAPPINGS, {1: ["a"]}, ("exclude", "no query")),
    (ROWS, {1: ["a"]}, ("exclude", "no query")),
    (ROWS, pairs({"q1": [None]}), ("exclude", "row 0")),
    (
        ROWS,
        pairs({"q1": ["a"]}).rename(columns={"user": "users"}),
        ("query_ids", "exclude has no column 'user';"),
    ),
    (WITHOUT_DOCUMENTS, EXCLUDE, ("exclude", "documents")),
    (NO_IDS, {0: [1]}, ("exclude", "documents")),
    (TWO_LISTS, [["a"]], ("exclude and predictions differ in the number of queries",)),
    (TWO_LISTS, {0: ["a"]}, ("exclude",)),
    (TWO_LISTS, Path("seen.csv"), ("exclude", "seen.csv")),
    (TWO_LISTS, [["a"], None], ("exclude", "query 1")),
    (TWO_LISTS, [[1], [2]], ("exclude", "ids of documents")),
    ({}, EXCLUDE, ("exclude without predictions and references",)),
    (MAPPINGS, "seen.csv", ("exclude", "seen.csv")),
]


@pytest.mark.parametrize(("inputs", "exclude", "named"), REFUSED)
def test_exclusions_that_are_not_possible_are_rejected_and_nothing_added_is_lost(
    ndcg: Metric, inputs: dict[str, Any], exclude: Any, named: tuple[str, ...]
) -> None:
    ndcg.add(prediction=[2, 1], reference=[0, 1])
    with refusal(*named):
        ndcg.compute(**inputs, exclude=exclude)
    assert ndcg.compute() == {"nDCG": pytest.approx(1 / np.log2(3))}
