"""Every format from every source: tables, records, hits and ranked ids score as the mappings that they hold."""

import json
import math
import re
import sqlite3
import warnings
from collections import namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass
from functools import partial
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
EXPECTED = compute(predictions=RUN, references=QRELS, k=10)
Side = dict[str, dict[str, Any]]
Format = Callable[[Side, str], Any]  # of a side and the name of its values


def rows(side: Side, value: str) -> list[dict[str, Any]]:
    """One dict for each query and document."""
    return [{"qid": query, "docno": each, value: number} for query, of in side.items() for each, number in of.items()]


def columns(side: Side, value: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows(side, value)] for name in ("qid", "docno", value)}


def duckdb_relation(side: Side, value: str) -> Any:
    frame = pa.table(columns(side, value))  # noqa: F841 - DuckDB finds it by its name
    return pytest.importorskip("duckdb").sql("SELECT * FROM frame")


def named_tuples(side: Side, value: str) -> list[Any]:
    kind = namedtuple("Row", ["query_id", "doc_id", value])  # type: ignore[misc]
    return [kind(*row.values()) for row in rows(side, value)]


def sql_rows(side: Side, value: str) -> list[Any]:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute(f"CREATE TABLE t (qid TEXT, docno TEXT, {value} REAL)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [tuple(row.values()) for row in rows(side, value)])
    return connection.execute("SELECT * FROM t").fetchall()


def hits(item: Callable[[str, Any, str], Any]) -> Format:
    """Lists of hits by query; each hit is made of a document, its value, and the name of the value."""
    return lambda side, value: {q: [item(each, number, value) for each, number in of.items()] for q, of in side.items()}


def answers(answer: Callable[[str, list[dict[str, Any]]], Any], key: str = "id") -> Callable[[Side, str], list[Any]]:
    """An answer for each query, made of the query and its hits, whose ids have the given name."""
    return lambda side, value: [answer(q, [{key: each, value: of[each]} for each in of]) for q, of in side.items()]


def by_query(answer: Callable[[list[dict[str, Any]]], Any], key: str = "id") -> Format:
    """A mapping of queries to answers, each made of the query's hits."""
    return lambda side, value: dict(zip(side, answers(lambda _, found: answer(found), key)(side, value), strict=True))


TABLES: dict[str, Format] = {
    "pandas": lambda side, value: pytest.importorskip("pandas").DataFrame(columns(side, value)),
    "Polars": lambda side, value: pl.DataFrame(columns(side, value), schema=["qid", "docno", value]),
    "Polars, lazy": lambda side, value: pl.DataFrame(columns(side, value)).lazy(),
    "Arrow": lambda side, value: pa.table(columns(side, value)),
    "DuckDB": duckdb_relation,
    "datasets": lambda side, value: datasets.Dataset.from_dict(columns(side, value)),
    "a structured array": lambda side, value: np.array(
        [tuple(row.values()) for row in rows(side, value)], [("qid", "U9"), ("docno", "U9"), (value, "f8")]
    ),
    "a dict of columns": columns,
    "dicts": rows,
}
# these can be written as JSON, too
IN_JSON: dict[str, Format] = {
    "a dict of columns": columns,
    "dicts": rows,
    "hits": by_query(lambda found: found),
    "hits of metadata": hits(lambda each, number, value: {"metadata": {"id": each}, value: number}),
    "responses": by_query(lambda found: {"took": 3, "hits": {"total": 4, "hits": found}}, key="_id"),
    "lists of ids and scores": lambda side, value: {
        query: {"doc_ids": list(of), f"{value}s": list(of.values())} for query, of in side.items()
    },
    "values within documents": lambda side, value: {
        query: {each: {value: number} for each, number in of.items()} for query, of in side.items()
    },
    "answers to several queries": lambda side, value: {
        "took": 3,
        "responses": answers(lambda q, found: {"query_id": q, "hits": {"hits": found}}, key="_id")(side, value),
    },
    "requests of _rank_eval": lambda side, value: {
        "requests": answers(lambda q, found: {"id": q, "request": {}, "ratings": found}, key="_id")(side, value)
    },
    "a response of Vespa": by_query(lambda found: {"root": {"id": "toplevel", "children": found}}),
    "objects of Weaviate": hits(lambda each, number, value: {"title": "", "_additional": {"id": each, value: number}}),
    "points of Qdrant": by_query(lambda found: {"result": {"points": found}, "status": "ok", "time": 0.1}),
    "results of Azure": by_query(lambda found: {"value": found}),
    "candidates of RankLLM": answers(lambda q, found: {"query": {"qid": q, "text": ""}, "candidates": found}, "docid"),
    "queries in a list": answers(lambda q, found: {"query_id": q, "hits": found}),
}
EVERY: dict[str, Format] = {
    **TABLES,
    **IN_JSON,
    "a generator of dicts": lambda side, value: (row for row in rows(side, value)),
    "named tuples": named_tuples,
    "an iterator of named tuples": lambda side, value: iter(named_tuples(side, value)),
    "data classes": lambda side, value: [
        make_dataclass("Row", ["query_id", "doc_id", value])(*row.values()) for row in rows(side, value)
    ],
    "rows of SQLite": sql_rows,
    "objects": hits(lambda each, number, value: SimpleNamespace(id=each, payload={}, **{value: number})),
    "nodes": hits(lambda each, number, value: SimpleNamespace(node=SimpleNamespace(node_id=each), **{value: number})),
    "pairs": hits(lambda each, number, _: (each, float(number))),
    "documents and scores": hits(
        lambda each, number, _: (SimpleNamespace(id=None, metadata={"id": each}), float(number))
    ),
}


@pytest.mark.parametrize("references", [lambda qrels, _: qrels, None], ids=["mapping", "same"])
@pytest.mark.parametrize("name", EVERY)
def test_every_format_scores_as_mappings(name: str, references: Format | None) -> None:
    qrels = (references or EVERY[name])(QRELS, "relevance")
    assert compute(predictions=EVERY[name](RUN, "score"), references=qrels, k=10) == EXPECTED


@pytest.mark.parametrize("table", [pl.DataFrame, pl.LazyFrame, pa.table], ids=lambda each: each.__name__)
def test_each_row_of_a_table_may_have_the_lists_of_a_query(table: Callable[[Any], Any]) -> None:
    run, qrels = (
        table(
            {
                "qid": list(side),
                "doc_ids": list(map(list, side.values())),
                f"{value}s": [[*of.values()] for of in side.values()],
            }
        )
        for side, value in ((RUN, "score"), (QRELS, "relevance"))
    )
    assert compute(predictions=run, references=qrels, k=10) == EXPECTED


def as_lines(content: Any) -> str:
    """JSON with a line for each object of a list."""
    return "\n".join(map(json.dumps, content if isinstance(content, list) else [content]))


@pytest.mark.parametrize("name", IN_JSON)
@pytest.mark.parametrize("as_text", [json.dumps, as_lines])
def test_every_format_of_json_scores_as_in_memory(name: str, as_text: Callable[[Any], str], tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(as_text(IN_JSON[name](RUN, "score")))
    (tmp_path / "qrels.json").write_text(as_text(IN_JSON[name](QRELS, "relevance")))
    assert compute(predictions=tmp_path / "run.json", references=tmp_path / "qrels.json", k=10) == EXPECTED


@pytest.mark.parametrize("name", ["Polars, lazy", "DuckDB", "a structured array", "dicts", "responses"])
def test_every_entry_point_reads_them(name: str) -> None:
    run, qrels = (partial(EVERY[name], *side) for side in ((RUN, "score"), (QRELS, "relevance")))
    (value,) = EXPECTED.values()
    assert report(predictions=run(), references=qrels(), k=10).scores["nDCG@10"].value == value
    assert compare(systems={"a": run(), "b": run()}, references=qrels(), k=10).scores["a"]["nDCG@10"].value == value
    assert explain(predictions=run(), references=qrels(), k=10, got=value).scores["trec_eval"] == value
    assert documents(predictions=run(), references=qrels()).num_rows == 7


ids = st.sampled_from(["a", "b", "c", "d", "e"])
sides = st.dictionaries(ids, st.dictionaries(ids, st.integers(0, 4), min_size=1), min_size=1)


@settings(max_examples=40)
@given(sides, sides, st.sampled_from([name for name in EVERY if name not in ("DuckDB", "a structured array")]))
def test_random_rankings_score_the_same_in_every_format(run: Side, qrels: Side, name: str) -> None:
    qrels["a"] = run["a"] = {"a": 1}  # a query in common
    run = {query: {each: number + 0.5 for each, number in of.items()} for query, of in run.items()}
    how = {"use_aggregator": False, "ties": "last"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some hits are in another order than their scores
        got = compute(predictions=EVERY[name](run, "score"), references=EVERY[name](qrels, "relevance"), **how)
        assert got == compute(predictions=run, references=qrels, **how)


POSITIONS: dict[str, Callable[[Any], Any]] = {
    "lists": lambda rows: rows,
    "JSON": json.dumps,
    "JSON Lines": as_lines,
    "JSON Lines of hits": lambda rows: as_lines([{"hits": [{"id": each} for each in row]} for row in rows]),
    "JSON Lines of ids": lambda rows: as_lines([{"doc_ids": row} for row in rows]).replace("\n", "\n\n"),
}


def by_position(name: str, rows: Any, path: Path) -> Any:
    """Lists, or the path of a file with them."""
    content = POSITIONS[name](rows)
    if content is rows:
        return rows
    path.write_text(content)
    return path


@pytest.mark.parametrize("chunk", [8, 64])  # bytes of a part, so that a file has many
@pytest.mark.parametrize("references", POSITIONS)
@pytest.mark.parametrize("predictions", POSITIONS)
def test_queries_without_names_are_matched_by_position(
    predictions: str, references: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    ranked = [[f"document-{query}-{at}" for at in range(9)] for query in range(9)]
    run = [["d2", "d1"], [], [], [], *ranked, []]
    relevant = [["d1"], ["d9"], ["d9"], ["d9"], *([row[at]] for at, row in enumerate(ranked)), ["d9"]]
    got = by_position(predictions, run, tmp_path / "run")
    found = compute(
        predictions=got, references=by_position(references, relevant, tmp_path / "qrels"), use_aggregator=False
    )
    assert found == {"nDCG": pytest.approx([1 / math.log2(3), 0, 0, 0, *(1 / math.log2(at + 2) for at in range(9)), 0])}
    more = by_position(references, [*relevant, ["unasked"]], tmp_path / "qrels")
    with pytest.raises(ValueError, match=r"^predictions hold 14 queries and references 15; give both for"):
        compute(predictions=got, references=more)


ANSWERS: dict[str, Any] = {
    "Chroma": {"ids": list(map(list, RUN.values())), "distances": [[0.1] * len(of) for of in RUN.values()]},
    "Chroma, asked once for each query": [{"ids": [list(of)], "distances": [[0.1] * len(of)]} for of in RUN.values()],
    "Qdrant": {"result": [{"points": [{"id": each} for each in of]} for of in RUN.values()], "status": "ok"},
    "Elasticsearch": {"responses": [{"hits": {"hits": [{"_id": each} for each in of]}} for of in RUN.values()]},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_without_queries_are_read_by_position(name: str, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text(json.dumps(ANSWERS[name]))
    for predictions in (ANSWERS[name], tmp_path / "answers.json"):
        assert compute(predictions=predictions, references=list(QRELS.values()), k=10) == EXPECTED


def test_the_details_of_rank_eval_are_read_from_its_file(tmp_path: Path) -> None:
    details = {q: {"hits": [{"hit": {"_id": each, "_score": s}} for each, s in of.items()]} for q, of in RUN.items()}
    path = tmp_path / "answer.json"
    path.write_text(json.dumps({"metric_score": 0.4, "details": details, "failures": {}}))
    assert compute(predictions=path, references=QRELS, k=10) == EXPECTED


NAMED_LINE, UNNAMED_LINE = '{"query_id": "q1", "hits": [{"id": "d1"}]}', '{"hits": [{"id": "d1"}]}'


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([NAMED_LINE, UNNAMED_LINE], "{path}: line 2: names no query; give"),
        ([UNNAMED_LINE, NAMED_LINE], "{path}: line 2: names a query, but the ones before it"),
        ([UNNAMED_LINE, '{"query_id": "q2", "hits": []}'], "{path}: line 2: names a query, but the ones before it"),
        ([UNNAMED_LINE], "the file names no queries, which the other side does; name"),
    ],
)
def test_names_of_queries_are_in_both_files_or_in_neither(tmp_path: Path, lines: list[str], problem: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=f"^predictions: {problem.format(path=path)}"):
        compute(predictions=path, references=QRELS)


HIT = {"id": "d2", "score": 0.9}
ROWS = (
    "in place of the documents of each query; give a table with names of columns, such as pd.DataFrame(rows, columns="
)
PAIRS = [("q1", "d2"), ("q1", "d1"), ("q2", "d4")]
CLICKS = pa.table({"user_id": ["q1"], "item_id": ["d1"], "time": [7]})
WRAP = "for a single query, wrap it in a list"
NO_COLUMN = (
    "predictions: no column holds the query or the document or the score; name them query_id and document_id and "
    "score, or as docs/inputs.md says; the table has 'a', 'b'; or give their names, fields={'query': '...', "
    "'document': '...', 'score': '...'}; if each row is a query, give its column of lists, or an array"
)
# predictions, references, and the beginning of the error
OTHERS: list[tuple[Any, Any, str]] = [
    (RUN["q1"], QRELS["q1"], f"predictions: query 'd2': is the number 0.9, not documents; {WRAP}"),
    (["d2", "d1"], [{"d1"}], f"predictions: query 0: is the text 'd2', not documents; {WRAP}"),
    ([["d2"]], {"d1": 3}, f"references: query 'd1': is the number 3, not documents; {WRAP}"),
    ([HIT], [{"d1"}], f"predictions: query 0: is the hit {HIT}; give a list of hits for each query"),
    ({"q1": HIT}, QRELS, f"predictions: query 'q1': is the hit {HIT}; give a list of hits for"),
    ([[{"index": 3, "score": 0.9}]], [[1, 0, 2]], "predictions: query 0: the index 3 is not that of a candidate, 0 to"),
    ({"q1": [{"index": -1}]}, {"q1": [1, 0]}, "predictions: query 'q1': the index -1 is not that of a candidate"),
    ({"q1": {"a": [{"uri": 1}], "b": [{"uri": 2}]}}, QRELS, "predictions: query 'q1': holds 'a' in place of documents"),
    ({"q1": {"a": [HIT], "b": [HIT]}}, QRELS, "predictions: holds lists under 'a' and 'b'"),
    ({"q1": [{"uri": "d2"}]}, QRELS, "predictions: query 'q1', position 0: the hit has no id under a known"),
    ((np.ones((2, 3)), np.ones((2, 3), int)), [{1}, {2}], "predictions: holds two matrices, as of scores and of ids"),
    ([("q1", "d2", 0.9)], [("q1", "d1", 3)], f"predictions: holds rows such as ('q1', 'd2', 0.9) {ROWS}"),
    ([(1, 2, 0.9)], {1: {2: 3}}, f"predictions: holds rows such as (1, 2, 0.9) {ROWS}"),
    (PAIRS, PAIRS, "both sides hold rows of a user and an item, and each would be a query of two documents; give"),
    (StringIO("q1 Q0 d2 1 0.9 t"), QRELS, "predictions: is an open file (StringIO); give its path"),
    (["q 0 d 1"], QRELS, f"predictions: query 0: is the text 'q 0 d 1', not documents; {WRAP}; for the lines"),
    (json.dumps(RUN), QRELS, "predictions: is JSON as text; give json.loads of it, or the path of a file"),
    (None, [[3, 2, 0]], "predictions are missing; give predictions and references together; only"),
    (pl.DataFrame({"a": [0.9], "b": [0.1]}), [[1, 0]], NO_COLUMN),
    ({"qid": ["q1"], "name": ["d1"], "score": [0.9], "k": 7}, QRELS, "predictions: no column holds the document;"),
    (RUN, CLICKS, "references: no column holds the relevance; name it relevance, or as docs/inputs"),
]  # fmt: skip


@pytest.mark.parametrize(("predictions", "references", "message"), OTHERS)
def test_what_is_no_ranking_is_refused_with_the_call_that_is_meant(
    predictions: Any, references: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        compute(predictions=predictions, references=references)


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
    found = [{"id": "d1", "score": 0.9}, hit]
    path = tmp_path / "run.jsonl"
    for lines in (
        [{"query_id": "q0", "hits": found[:1]}, {"query_id": "q1", "hits": found}],
        [{"q0": ["d1"]}, {"q1": found}],
    ):
        path.write_text(as_lines(lines))
        place = f"line 2: query 'q1', position 1: the hit {re.escape(problem)}"
        with pytest.raises(ValueError, match=f"^predictions: {path}: {place}$"):
            compute(predictions=path, references=QRELS)
    for predictions, references, query in ({"q1": found}, QRELS, "'q1'"), ([found], [{"d1"}], "0"):
        with pytest.raises(
            ValueError, match=rf"^predictions: query {query}, position 1: the hit {re.escape(problem)}$"
        ):
            compute(predictions=predictions, references=references)


@pytest.mark.parametrize("order", ["descending", "ascending"])
def test_integers_beyond_2_53_keep_their_order_where_scores_are_missing(order: str) -> None:
    score = [2**53 + 1, 2**53, None, 2**53 + 2, None]
    table = {"qid": ["q"] * 5, "docno": list("abcde"), "score": pa.array(score, pa.int64())}
    found = compute(predictions=pa.table(table), references={"q": {"a": 1, "c": 1}}, score_order=order)
    assert found["nDCG"] == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("name", TABLES)
def test_a_negative_relevance_of_a_table_is_named_by_its_row(name: str) -> None:
    qrels = TABLES[name]({"q1": {"d1": 3, "d2": -2}}, "relevance")
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


@pytest.mark.parametrize(
    ("field", "values", "problem"),
    [
        ("score", [1, 2], "the scores rank its hits in another order than they are in, and the scores count"),
        ("rank", [2, 1], "its hits are in another order than their ranks, and their order counts"),
    ],
)
def test_hits_in_another_order_than_their_scores_or_ranks_get_a_warning(
    tmp_path: Path, field: str, values: list[int], problem: str
) -> None:
    hits = [{"id": document, field: value} for document, value in zip(["d1", "d2"], values, strict=True)]
    (tmp_path / "run.json").write_text(json.dumps({"q1": hits}))
    for predictions, place in (({"q1": hits}, "predictions"), (tmp_path / "run.json", tmp_path / "run.json")):
        with pytest.warns(UserWarning, match=re.escape(f"{place}: query 'q1': {problem}")):
            compute(predictions=predictions, references=QRELS)
    compute(predictions={"q1": hits[::-1]}, references=QRELS)


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
