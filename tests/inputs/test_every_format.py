"""Every format from every source: tables, records, hits and ranked ids score as the mappings that they hold."""

import json
import math
import re
import sqlite3
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import datasets
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg import compare, compute, documents, explain, report

RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d7": 0.7, "d3": 0.1}, "q2": {"d5": 0.6, "d4": 0.5}}
QRELS = {"q1": {"d1": 3, "d2": 0, "d3": 1, "d9": 2}, "q2": {"d4": 1, "d5": 0}}
Side = dict[str, dict[str, Any]]


def rows(side: Side, value: str) -> list[dict[str, Any]]:
    """One dict for each query and document."""
    return [{"qid": query, "docno": each, value: number} for query, of in side.items() for each, number in of.items()]


def columns(side: Side, value: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows(side, value)] for name in ("qid", "docno", value)}


def pandas_frame(side: Side, value: str) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows(side, value), columns=["qid", "docno", value])


def duckdb_relation(side: Side, value: str) -> Any:
    frame = pa.table(columns(side, value))  # noqa: F841 - DuckDB finds it by its name
    return pytest.importorskip("duckdb").sql("SELECT * FROM frame")


def named_tuples(side: Side, value: str) -> list[Any]:
    kind = namedtuple("Row", ["query_id", "doc_id", value])  # type: ignore[misc]
    return [kind(*row.values()) for row in rows(side, value)]


def data_classes(side: Side, value: str) -> list[Any]:
    @dataclass
    class Scored:
        query_id: str
        doc_id: str
        score: float

    @dataclass
    class Judged:
        query_id: str
        doc_id: str
        relevance: int

    return [(Scored if value == "score" else Judged)(*row.values()) for row in rows(side, value)]


def sql_rows(side: Side, value: str) -> list[Any]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute(f"CREATE TABLE t (qid TEXT, docno TEXT, {value} REAL)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [tuple(row.values()) for row in rows(side, value)])
    return connection.execute("SELECT * FROM t").fetchall()


def hits(item: Callable[[str, Any, str], Any]) -> Callable[[Side, str], Any]:
    """Lists of hits by query; each hit is made of a document, its value, and the name of the value."""
    return lambda side, value: {q: [item(each, number, value) for each, number in of.items()] for q, of in side.items()}


TABLES: dict[str, Callable[[Side, str], Any]] = {
    "pandas": pandas_frame,
    "Polars": lambda side, value: pl.DataFrame(columns(side, value), schema=["qid", "docno", value]),
    "Polars, lazy": lambda side, value: pl.DataFrame(columns(side, value)).lazy(),
    "Arrow": lambda side, value: pa.table(columns(side, value)),
    "DuckDB": duckdb_relation,
    "datasets": lambda side, value: datasets.Dataset.from_dict(columns(side, value)),
    "a structured array": lambda side, value: np.array(
        [tuple(row.values()) for row in rows(side, value)], [("qid", "U9"), ("docno", "U9"), (value, "f8")]
    ),
    "a dict of columns": columns,
}
RECORDS: dict[str, Callable[[Side, str], Any]] = {
    "dicts": rows,
    "a generator of dicts": lambda side, value: (row for row in rows(side, value)),
    "named tuples": named_tuples,
    "an iterator of named tuples": lambda side, value: iter(named_tuples(side, value)),
    "data classes": data_classes,
    "rows of SQLite": sql_rows,
}
HITS: dict[str, Callable[[Side, str], Any]] = {
    "dicts": hits(lambda each, number, value: {"id": each, value: number}),
    "responses": lambda side, value: {
        query: {"took": 3, "hits": {"total": 4, "hits": [{"_id": each, value: number} for each, number in of.items()]}}
        for query, of in side.items()
    },
    "objects": hits(lambda each, number, value: SimpleNamespace(id=each, payload={}, **{value: number})),
    "nodes": hits(lambda each, number, value: SimpleNamespace(node=SimpleNamespace(node_id=each), **{value: number})),
    "metadata": hits(lambda each, number, value: {"metadata": {"id": each}, value: number}),
    "pairs": hits(lambda each, number, _: (each, float(number))),
    "documents and scores": hits(
        lambda each, number, _: (SimpleNamespace(id=None, metadata={"id": each}), float(number))
    ),
    "lists of ids and scores": lambda side, value: {
        query: {"doc_ids": list(of), f"{value}s": list(of.values())} for query, of in side.items()
    },
    "values within documents": lambda side, value: {
        query: {each: {value: number} for each, number in of.items()} for query, of in side.items()
    },
    "answers to several queries": lambda side, value: {
        "took": 3,
        "responses": [
            {"query_id": query, "hits": {"hits": [{"_id": each, value: number} for each, number in of.items()]}}
            for query, of in side.items()
        ],
    },
    "requests of _rank_eval": lambda side, value: {
        "requests": [
            {"id": query, "request": {}, "ratings": [{"_id": each, value: number} for each, number in of.items()]}
            for query, of in side.items()
        ]
    },
    "a response of Vespa": lambda side, value: {
        query: {"root": {"id": "toplevel", "children": [{"id": each, value: number} for each, number in of.items()]}}
        for query, of in side.items()
    },
    "objects of Weaviate": hits(lambda each, number, value: {"title": "", "_additional": {"id": each, value: number}}),
    "results of Azure": lambda side, value: {
        query: {"value": [{"id": each, value: number} for each, number in of.items()]} for query, of in side.items()
    },
    "candidates of RankLLM": lambda side, value: [
        {"query": {"qid": query, "text": ""}, "candidates": [{"docid": d, value: number} for d, number in of.items()]}
        for query, of in side.items()
    ],
    "queries in a list": lambda side, value: [
        {"query_id": query, "hits": [{"id": each, value: number} for each, number in of.items()]}
        for query, of in side.items()
    ],
}
EVERY = {
    f"{kind}: {name}": make
    for kind, of in (("table", TABLES), ("records", RECORDS), ("hits", HITS))
    for name, make in of.items()
}
IN_JSON = [
    name
    for name in EVERY
    if name.split(": ")[1]
    in (
        "dicts",
        "responses",
        "metadata",
        "lists of ids and scores",
        "values within documents",
        "queries in a list",
        "answers to several queries",
        "requests of _rank_eval",
        "a response of Vespa",
        "objects of Weaviate",
        "results of Azure",
        "candidates of RankLLM",
        "a dict of columns",
    )
]
EXPECTED = compute(predictions=RUN, references=QRELS, k=10)


@pytest.mark.parametrize("references", ["mapping", "same"])
@pytest.mark.parametrize("name", EVERY)
def test_every_format_scores_as_mappings(name: str, references: str) -> None:
    qrels = QRELS if references == "mapping" else EVERY[name](QRELS, "relevance")
    assert compute(predictions=EVERY[name](RUN, "score"), references=qrels, k=10) == EXPECTED


@pytest.mark.parametrize("name", IN_JSON)
@pytest.mark.parametrize("lines", [False, True])
def test_every_format_of_json_scores_as_in_memory(name: str, lines: bool, tmp_path: Path) -> None:
    paths = []
    for side, value in ((RUN, "score"), (QRELS, "relevance")):
        content = EVERY[name](side, value)
        is_list = lines and isinstance(content, list)
        text = "\n".join(map(json.dumps, content)) if is_list else json.dumps(content)
        paths.append(tmp_path / f"{value}.json")
        paths[-1].write_text(text)
    assert compute(predictions=paths[0], references=paths[1], k=10) == EXPECTED


@pytest.mark.parametrize("name", [*(f"table: {each}" for each in TABLES), "records: dicts", "hits: responses"])
def test_every_entry_point_reads_them(name: str) -> None:
    inputs = {"predictions": EVERY[name](RUN, "score"), "references": EVERY[name](QRELS, "relevance")}
    (value,) = EXPECTED.values()
    assert report(**inputs, k=10).scores["nDCG@10"].value == value
    made = {"a": EVERY[name](RUN, "score"), "b": EVERY[name](RUN, "score")}
    assert compare(systems=made, references=EVERY[name](QRELS, "relevance"), k=10).scores["a"]["nDCG@10"].value == value
    inputs = {"predictions": EVERY[name](RUN, "score"), "references": EVERY[name](QRELS, "relevance")}
    assert explain(**inputs, k=10, got=value).scores["trec_eval"] == value
    inputs = {"predictions": EVERY[name](RUN, "score"), "references": EVERY[name](QRELS, "relevance")}
    assert documents(**inputs).num_rows == 7


ids = st.sampled_from(["a", "b", "c", "d", "e"])
sides = st.dictionaries(ids, st.dictionaries(ids, st.integers(0, 4), min_size=1), min_size=1)


@settings(max_examples=60, deadline=None)
@given(sides, sides, st.sampled_from([name for name in EVERY if "DuckDB" not in name and "structured" not in name]))
def test_random_rankings_score_the_same_in_every_format(run: Side, qrels: Side, name: str) -> None:
    if run.keys().isdisjoint(qrels):
        return
    run = {query: {each: number + 0.5 for each, number in of.items()} for query, of in run.items()}
    how = {"use_aggregator": False, "ties": "last"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some hits are in another order than their scores
        got = compute(predictions=EVERY[name](run, "score"), references=EVERY[name](qrels, "relevance"), **how)
        assert got == compute(predictions=run, references=qrels, **how)


POSITIONS = {
    "lists": lambda rows: rows,
    "JSON": json.dumps,
    "JSON Lines": lambda rows: "\n".join(map(json.dumps, rows)),
    "JSON Lines of hits": lambda rows: "\n".join(json.dumps({"hits": [{"id": each} for each in row]}) for row in rows),
    "JSON Lines of ids": lambda rows: "\n\n".join(json.dumps({"doc_ids": row}) for row in rows),
}


@pytest.mark.parametrize("references", POSITIONS)
@pytest.mark.parametrize("predictions", POSITIONS)
def test_queries_without_names_are_matched_by_position(
    predictions: str, references: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", 64)  # bytes of a part, so that a file has many
    run = [["d2", "d1"], [], *([f"document-{query}-{at}" for at in range(9)] for query in range(30))]
    relevant = [["d1"], ["d9"], *([row[at % 9]] for at, row in enumerate(run[2:])), ["unasked"]]
    for rows, queries in ((relevant[:-1], 32), (relevant, 33)):
        sides: list[Any] = [run, rows]
        for at, name in enumerate((predictions, references)):
            sides[at] = POSITIONS[name](sides[at])
            if name != "lists":
                (tmp_path / f"{at}.txt").write_text(sides[at])
                sides[at] = tmp_path / f"{at}.txt"
        if queries > len(run):
            with pytest.raises(ValueError, match=r"^predictions hold 32 queries and references 33; give both for"):
                compute(predictions=sides[0], references=sides[1])
        else:
            got = compute(predictions=sides[0], references=sides[1], use_aggregator=False)
            assert got == compute(predictions=run, references=rows, use_aggregator=False)


def test_queries_without_documents_are_counted_in_each_part_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", 8)  # bytes of a part
    run = [["d1"], [], [], [], [], ["d2", "d3"], []]
    (tmp_path / "run.jsonl").write_text("\n".join(map(json.dumps, run)))
    (tmp_path / "objects.jsonl").write_text("\n".join(json.dumps({"ids": row}) for row in run))
    relevant = [["d1"], ["d9"], ["d9"], ["d9"], ["d9"], ["d3"], ["d9"]]
    for name in ("run.jsonl", "objects.jsonl"):
        found = compute(predictions=tmp_path / name, references=relevant, use_aggregator=False)
        assert found == {"nDCG": [1.0, 0.0, 0.0, 0.0, 0.0, pytest.approx(1 / math.log2(3)), 0.0]}


def test_answers_of_elasticsearch_and_chroma_are_read_by_position(tmp_path: Path) -> None:
    chroma = {"ids": [list(of) for of in RUN.values()], "distances": [[0.1] * len(of) for of in RUN.values()]}
    search = {"responses": [{"hits": {"hits": [{"_id": each} for each in of]}} for of in RUN.values()]}
    path = tmp_path / "answers.json"
    for answers in (chroma, search):
        path.write_text(json.dumps(answers))
        for predictions in (answers, path):
            assert compute(predictions=predictions, references=list(QRELS.values()), k=10) == EXPECTED


def test_the_details_of_rank_eval_are_read_from_its_file(tmp_path: Path) -> None:
    details = {q: {"hits": [{"hit": {"_id": each, "_score": s}} for each, s in of.items()]} for q, of in RUN.items()}
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"metric_score": 0.4, "details": details, "failures": {}}))
    assert compute(predictions=path, references=QRELS, k=10) == EXPECTED


def test_names_of_queries_are_in_both_files_or_in_neither(tmp_path: Path) -> None:
    lines = ['{"query_id": "q1", "hits": [{"id": "d1"}]}', '{"hits": [{"id": "d1"}]}', '{"query_id": "q2", "hits": []}']
    path = tmp_path / "run.jsonl"
    for order, problem in ((1, "line 2: names no query; give"), (-1, "line 2: names a query, but the ones before it")):
        path.write_text("\n".join(lines[:2][::order]))
        with pytest.raises(ValueError, match=f"^predictions: {path}: {problem}"):
            compute(predictions=path, references=QRELS)
    path.write_text("\n".join(lines[1:]))
    with pytest.raises(ValueError, match=f"^predictions: {path}: line 2: names a query, but the ones before it"):
        compute(predictions=path, references=QRELS)
    path.write_text(lines[1])
    with pytest.raises(ValueError, match=r"^predictions: the file names no queries, which the other side does; name"):
        compute(predictions=path, references=QRELS)


SINGLE = "for a single query, wrap it in a list"
ROWS = (
    "in place of the documents of each query; give a table with names of columns, such as pd.DataFrame(rows, columns="
)
HIT = {"id": "d2", "score": 0.9}
# predictions, references, and the beginning of the error
OTHERS: dict[str, tuple[Any, Any, str]] = {
    "scores of one query": (
        RUN["q1"],
        QRELS["q1"],
        f"predictions: query 'd2': is the number 0.9, not documents; {SINGLE}",
    ),
    "ids of one query": (["d2", "d1"], [{"d1"}], f"predictions: query 0: is the text 'd2', not documents; {SINGLE}"),
    "judgments of one query": (
        [["d2"]],
        {"d1": 3},
        f"references: query 'd1': is the number 3, not documents; {SINGLE}",
    ),
    "hits of one query": (
        [HIT],
        [{"d1"}],
        f"predictions: query 0: is the hit {HIT}; give a list of hits for each query",
    ),
    "a hit for each query": ({"q1": HIT}, QRELS, f"predictions: query 'q1': is the hit {HIT}; give a list of hits for"),
    "hits under an unknown name": (
        {"q1": {"retrievalResults": [HIT]}},
        QRELS,
        "predictions: query 'q1': holds 'retrievalResults' in place of documents, and no list of hits under a",
    ),
    "hits without an id": (
        {"q1": [{"uri": "d2", "score": 0.9}]},
        QRELS,
        "predictions: query 'q1', position 0: the hit has no id under a known name, but 'uri', 'score'; name it id",
    ),
    "two matrices": (
        (np.ones((2, 3)), np.ones((2, 3), int)),
        [{1}, {2}],
        "predictions: holds two matrices, as of scores and of ids; give the scores as predictions and the ids as",
    ),
    "rows of text": (
        [("q1", "d2", 0.9)],
        [("q1", "d1", 3)],
        f"predictions: holds rows such as ('q1', 'd2', 0.9) {ROWS}",
    ),
    "rows beside mappings": ([(1, 2, 0.9)], {1: {2: 3}}, f"predictions: holds rows such as (1, 2, 0.9) {ROWS}"),
    "rows of two ids": (
        [("q1", "d2"), ("q1", "d1"), ("q2", "d4")],
        [("q1", "d1"), ("q1", "d9"), ("q2", "d4")],
        "both sides hold rows of a user and an item, and each would be a query of two documents; give {user: [items]}",
    ),
    "an open file": (StringIO("q1 Q0 d2 1 0.9 t"), QRELS, "predictions: is an open file (StringIO); give its path"),
    "lines of a file": (
        ["q1 Q0 d2 1 0.9 t"],
        QRELS,
        f"predictions: query 0: is the text 'q1 Q0 d2 1 0.9 t', not documents; {SINGLE}; for the lines of a file, give",
    ),
    "JSON as text": (
        json.dumps(RUN),
        QRELS,
        "predictions: is JSON as text; give json.loads of it, or the path of a file",
    ),
    "relevances alone": (
        None,
        [[3, 2, 0]],
        "predictions are missing; give predictions and references together; if the references are in rank order, give "
        'ranks as predictions, with score_order="ascending"',
    ),
    "a frame of users and items": (
        pl.DataFrame({"a": [0.9], "b": [0.1]}),
        [[1, 0]],
        "predictions: no column holds the query or the document or the score; name them query_id and document_id and "
        "score, or as docs/inputs.md says; the table has 'a', 'b'; or name the columns by query_ids= and "
        "document_ids=; if each row is a query, give its column of lists, or an array",
    ),
    "clicks": (
        RUN,
        pa.table({"user_id": ["q1"], "item_id": ["d1"], "time": [7]}),
        "references: no column holds the relevance; name it relevance, or as docs/inputs.md says; the table has "
        "'user_id', 'item_id', 'time'; if each row is one relevant document, add a column of 1",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_ranking_is_refused_with_the_call_that_is_meant(name: str) -> None:
    predictions, references, message = OTHERS[name]
    with pytest.raises(ValueError) as error:  # noqa: PT011 - each message is above
        compute(predictions=predictions, references=references)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("group", [[3, 1], [3, 4], [0, 3, 4]])
def test_sizes_and_ends_of_groups_are_refused_with_the_ids_that_are_meant(group: list[int]) -> None:
    with pytest.raises(
        ValueError, match=r"query_ids \d rows; for sizes of groups give numpy\.repeat\(range\(len\(sizes\)\), "
    ):
        compute(predictions=[0.1, 0.2, 0.3, 0.4], references=[1, 0, 1, 0], query_ids=group)


def test_a_table_beside_columns_is_refused_with_both_as_tables() -> None:
    run, qrels = columns(RUN, "score"), columns(QRELS, "relevance")
    with pytest.raises(ValueError, match=r"predictions=run, references=qrels, without data$"):
        compute(data=run, predictions="score", references=qrels, query_ids="qid", document_ids="docno")
    assert compute(predictions=run, references=qrels, query_ids="qid", document_ids="docno", k=10) == EXPECTED


@pytest.mark.parametrize(
    ("hit", "problem"),
    [({"score": 0.7}, "has no id (the first has id)"), ({"id": "d3"}, "has no score (the first has score)")],
)
def test_a_hit_that_lacks_something_is_named_with_its_query(hit: Any, problem: str, tmp_path: Path) -> None:
    hits = [{"id": "d1", "score": 0.9}, hit]
    path = tmp_path / "run.jsonl"
    for first, second in (
        ({"query_id": "q0", "hits": hits[:1]}, {"query_id": "q1", "hits": hits}),
        ({"q0": ["d1"]}, {"q1": hits}),
    ):
        path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
        place = f"line 2: query 'q1', position 1: the hit {re.escape(problem)}"
        with pytest.raises(ValueError, match=f"^predictions: {path}: {place}$"):
            compute(predictions=path, references=QRELS)
    for predictions, references, query in ({"q1": hits}, QRELS, "'q1'"), ([hits], [{"d1"}], "0"):
        with pytest.raises(
            ValueError, match=rf"^predictions: query {query}, position 1: the hit {re.escape(problem)}$"
        ):
            compute(predictions=predictions, references=references)


@pytest.mark.parametrize("order", ["descending", "ascending"])
def test_integers_beyond_2_53_keep_their_order_where_scores_are_missing(order: str) -> None:
    score = [2**53 + 1, 2**53, None, 2**53 + 2, None]
    table = {"qid": ["q"] * 5, "docno": list("abcde"), "score": pa.array(score, pa.int64())}
    found = compute(predictions=pa.table(table), references={"q": {"a": 1, "c": 1}}, score_order=order)
    ranked = {"q": dict(zip("abd", (1, 0, 2), strict=True))}
    assert found == compute(predictions=ranked, references={"q": {"a": 1, "c": 1}}, score_order=order)
    assert found["nDCG"] == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("name", [*TABLES, "dicts"])
def test_a_negative_relevance_of_a_table_is_named_by_its_row(name: str) -> None:
    qrels = {**TABLES, **RECORDS}[name]({"q1": {"d1": 3, "d2": -2}}, "relevance")
    with pytest.raises(
        ValueError, match=r"^references: row 1: query 'q1', document 'd2': the relevance -2 is negative"
    ):
        compute(predictions=RUN, references=qrels)


LABELS, MODEL = [[1, 0, 0], [1, 0, 0]], [[0.8, 0.9, 0.1], [0.5, 0.6, 0.05]]
BY_ID = [{f"q{at}": dict(zip("abc", row, strict=True)) for at, row in enumerate(rows)} for rows in (LABELS, MODEL)]


@pytest.mark.parametrize(("labels", "scores"), [(LABELS, MODEL), (np.array(LABELS), np.array(MODEL)), BY_ID])
def test_labels_as_predictions_and_scores_as_references_get_a_warning(labels: Any, scores: Any) -> None:
    with pytest.warns(
        UserWarning, match=r"^predictions: hold only 0 and 1, and the references fractions; the scores of"
    ):
        compute(predictions=labels, references=scores)
    compute(predictions=scores, references=labels)
    compute(predictions=labels, references=labels)


def test_every_cell_of_formats_and_sources_has_an_example() -> None:
    text = (Path(__file__).parents[2] / "docs" / "inputs.md").read_text()
    table = text[text.index("| format | looks like") :].partition("\n\n")[0].splitlines()
    sources = [cell.strip() for cell in table[0].strip("|").split("|")][2:]
    named = set()
    for line in table[2:]:
        name, _, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        name = name[1:].partition("]")[0]
        named |= {f"{name}, {source}" for source, cell in zip(sources, cells, strict=True) if cell != "–"}
    assert {each for each in named if not each.endswith("Spark")} == set(
        re.findall(r'\.\.\.     "([^"]+, [^"]+)": \{', text)
    )
