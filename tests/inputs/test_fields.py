"""Names of fields: what has an unknown name is never taken for granted, and `fields=` names it, wherever it is read."""

import json
import math
import re
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import METRIC
from pyarrow import parquet

import ndcg
from ndcg.inputs import fields, hit_reader, objects
from ndcg.inputs import hits as recognized
from ndcg.shell.command_line import main

RUN = {"q": ["a", "b", "c"]}  # best first
GRADES = {"a": 1, "b": 3, "c": 2}
SURENESS = {"b": 1, "a": 2, "c": 0}  # in another order
VALUE = (1 + 3 / math.log2(3) + 2 / 2) / (3 + 2 / math.log2(3) + 1 / 2)
SECOND = 1 / math.log2(3)  # nDCG of one relevant document at rank 2

Source = Callable[[Path, list[dict[str, Any]]], Any]


def of_file(name: str, content: Callable[[list[dict[str, Any]]], str]) -> Source:
    def write(folder: Path, hits: list[dict[str, Any]]) -> Any:
        (folder / name).write_text(content(hits))
        return folder / name

    return write


def in_parquet(folder: Path, hits: list[dict[str, Any]]) -> Any:
    parquet.write_table(pa.Table.from_pylist([{"query_id": "q", "hits": hits}]), folder / "hits.parquet")
    return folder / "hits.parquet"


# the same hits of query q from every source of objects
SOURCES: dict[str, Source] = {
    "a mapping": lambda folder, hits: {"q": hits},
    "objects": lambda folder, hits: {"q": [SimpleNamespace(**hit) for hit in hits]},
    "named tuples": lambda folder, hits: {"q": [namedtuple("Hit", hit)(**hit) for hit in hits]},
    "a response": lambda folder, hits: {"q": {"took": "1 ms", "hits": hits}},
    "objects with their query": lambda folder, hits: [{"query_id": "q", "hits": hits}],
    "a list under a name of its own": lambda folder, hits: [{"query_id": "q", "my_things": hits}],
    "such a list by query": lambda folder, hits: {"q": {"note": "text", "my_things": hits}},
    "a list in an object": lambda folder, hits: [{"query_id": "q", "output": {"my_things": hits}}],
    "JSON": of_file("hits.json", lambda hits: json.dumps({"q": hits}, indent=1)),
    "JSON Lines": of_file("hits.jsonl", lambda hits: json.dumps({"question_id": "q", "chunks": hits}) + "\n"),
    "Parquet": in_parquet,
}


def score(predictions: Any, references: Any, **how: Any) -> float:
    return float(METRIC.compute(predictions=predictions, references=references, **how)["nDCG"])


def graded(name: str) -> list[dict[str, Any]]:
    return [{"chunk_id": document, name: grade} for document, grade in GRADES.items()]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["grade", "relevance_grade", "isRelevant", "Judgement"])
def test_a_known_name_is_read_in_any_spelling(tmp_path: Path, source: str, name: str) -> None:
    assert score(RUN, SOURCES[source](tmp_path, graded(name))) == pytest.approx(VALUE)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("stars", (1, 3, 2)),
        ("gain", (0.5, 1.5, 1.0)),
        ("opinion", (False, True, False)),
        ("clicked", (None, None, 1)),
        ("my_grade", ("1", "3", "2")),
        ("judged", ("irrelevant", "relevant", "partially relevant")),
        ("assessment", ("off topic", "on point", "so so")),
        ("gold_label", ("none", "high", "low")),
    ],
)
def test_grades_under_an_unknown_name_are_an_error_that_shows_the_call(
    tmp_path: Path, source: str, name: str, values: Any
) -> None:
    hits = [{"id": document, name: value} for document, value in zip(GRADES, values, strict=True)]
    gold = SOURCES[source](tmp_path, hits)
    problem = rf"^references: .*no relevance under a known name, but its hits have '{name}'"
    with pytest.raises(ValueError, match=problem) as said:
        score(RUN, gold)
    assert f"give fields={{'relevance': '{name}'}}, or fields={{'relevance': None}} if each" in str(said.value)
    assert score(RUN, gold, fields={"relevance": None}) == pytest.approx(1.0)


@pytest.mark.parametrize("source", SOURCES)
def test_grades_in_an_object_or_of_several_judges_are_an_error(tmp_path: Path, source: str) -> None:
    gold = SOURCES[source](tmp_path, [{"id": each, "review": {"grade": grade}} for each, grade in GRADES.items()])
    with pytest.raises(
        ValueError, match=r"its hits have 'review\.grade'; give fields=\{'relevance': 'review\.grade'\}"
    ):
        score(RUN, gold)
    assert score(RUN, gold, fields={"relevance": "review.grade"}) == pytest.approx(VALUE)
    deeper = {"eval": {"llm": {"grade": 0}}}
    lists = {"votes": [0, 2], "opinions": [{"stars": 0, "by": "ann"}], "grades": [1, 0]}
    for name, grades in {**lists, "decision": "off-topic", "eval": deeper["eval"]}.items():
        gold = SOURCES[source](tmp_path, [{"id": each, name: grades} for each in GRADES])
        with pytest.raises(ValueError, match=rf"no relevance under a known name, but its hits have .*'{name}"):
            score(RUN, gold)
        assert score(RUN, gold, fields={"relevance": None}) == 1.0
    gold = SOURCES[source](tmp_path, [{"id": each, "relevance": [grade, 0]} for each, grade in GRADES.items()])
    with pytest.raises(ValueError, match=r"the relevance (\[1, 0\]|array\(\[1, 0\]\)) of a hit is not a number"):
        score(RUN, gold)


UNJUDGING: dict[str, Any] = {
    "token_ids": [1, 2],
    "years": [1999],
    "embedding": [0.1, 0.2],
    "labels": ["news"],
    "references": ["p1"],
    "answers": [{"text": "x", "answer_start": 3}],
    "entities": [{"name": "x", "count": 2}],
    "meta": {"split_id": 0, "split_idx_start": 120},
    "score": None,  # as Haystack writes documents
    "heading": {"level": 2},
    "char_start": 120,
    "n_tokens": 512,
    "created_at": 1_700_000_000.5,
}


@pytest.mark.parametrize("name", UNJUDGING)
@pytest.mark.parametrize("source", SOURCES)
def test_what_describes_a_document_is_no_relevance(tmp_path: Path, source: str, name: str) -> None:
    gold = SOURCES[source](tmp_path, [{"id": "b", "text": "x", name: UNJUDGING[name]}])
    assert score({"q": ["a", "b"]}, gold) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", SOURCES)
def test_fields_name_the_relevance_and_the_document(tmp_path: Path, source: str) -> None:
    hits = [{"chunk_id": document.upper(), "paper": document, "stars": grade} for document, grade in GRADES.items()]
    gold = SOURCES[source](tmp_path, hits)
    assert score(RUN, gold, fields={"relevance": "stars", "document": "paper"}) == pytest.approx(VALUE)
    with pytest.raises(ValueError, match=r"no field is called starz; its hits have .*; did you mean 'stars'\?$"):
        score(RUN, gold, fields={"relevance": "starz", "document": "paper"})


@pytest.mark.parametrize("source", SOURCES)
def test_text_beside_an_id_is_no_relevance(tmp_path: Path, source: str) -> None:
    hits = [{"id": "b", "title": "A title", "url": "https://b", "page": 7}]
    assert score({"q": ["a", "b"]}, SOURCES[source](tmp_path, hits)) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("first", [0, None])
def test_a_null_relevance_is_not_judged_wherever_it_stands(tmp_path: Path, source: str, first: int | None) -> None:
    gold = SOURCES[source](tmp_path, [{"id": "a", "relevance": first}, {"id": "b", "relevance": 2}])
    assert score({"q": ["a", "b"]}, gold) == pytest.approx(SECOND)
    gold = SOURCES[source](tmp_path, [{"id": "a", "relevance": 2}, {"id": "b", "relevance": first}])
    assert score({"q": ["b", "a"]}, gold) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", SOURCES)
def test_a_null_score_is_not_retrieved(tmp_path: Path, source: str) -> None:
    run = SOURCES[source](tmp_path, [{"id": "b", "score": None}, {"id": "c", "score": 0.5}, {"id": "a", "score": 0.9}])
    with pytest.warns(UserWarning, match="the scores rank its hits in another order"):
        assert score(run, {"q": {"c": 1, "b": 1}}) == pytest.approx(SECOND / (1 + SECOND))


@pytest.mark.parametrize("source", SOURCES)
def test_a_score_under_an_unknown_name_that_contradicts_the_order_is_an_error(tmp_path: Path, source: str) -> None:
    hits = [{"id": "a", "rerank_score": 0.2}, {"id": "b", "rerank_score": 0.9}]
    run = SOURCES[source](tmp_path, hits)
    with pytest.raises(
        ValueError, match=r"no score under a known name, but its hits have 'rerank_score'; give fields="
    ):
        score(run, {"q": {"a": 1}})
    with pytest.warns(UserWarning, match="the scores rank its hits in another order"):
        assert score(run, {"q": {"a": 1}}, fields={"score": "rerank_score"}) == pytest.approx(SECOND)
    assert score(run, {"q": {"a": 1}}, fields={"score": None}) == 1.0
    assert score(SOURCES[source](tmp_path, hits[::-1]), {"q": {"a": 1}}) == pytest.approx(SECOND)  # it falls


@pytest.mark.parametrize("source", SOURCES)
def test_two_names_for_the_document_that_disagree_are_an_error(tmp_path: Path, source: str) -> None:
    hits = [{"doc_id": "d", "chunk_id": "a"}, {"doc_id": "d", "chunk_id": "b"}]
    run = SOURCES[source](tmp_path, hits)
    with pytest.raises(ValueError, match=r"'doc_id' and 'chunk_id' name its documents in different ways; say which"):
        score(run, {"q": {"b": 1}})
    assert score(run, {"q": {"b": 1}}, fields={"document": "chunk_id"}) == pytest.approx(SECOND)
    chunks = SOURCES[source](tmp_path, [{"doc_id": "d", "id": "a"}, {"doc_id": "d", "id": "b"}])
    with pytest.raises(ValueError, match="'id' and 'doc_id' name its documents in different ways"):
        score(chunks, {"q": {"b": 1}})
    alike = SOURCES[source](tmp_path, [{"doc_id": "a", "chunk_id": "1"}, {"doc_id": "b", "chunk_id": "2"}])
    assert score(alike, {"q": {"b": 1}}) == pytest.approx(SECOND)


LOG = pd.DataFrame(
    {"user_id": [1, 1, 1, 1], "query": list("xxyy"), "doc_id": list("abcd"), "score": [0.9, 0.8, 0.7, 0.6]}
)
CLICKS = LOG[["user_id", "query", "doc_id"]].assign(label=[0, 1, 0, 1])


def as_frame(folder: Path, frame: pd.DataFrame, name: str) -> Any:
    return frame


def as_csv(folder: Path, frame: pd.DataFrame, name: str) -> Any:
    frame.to_csv(folder / f"{name}.csv", index=False)
    return folder / f"{name}.csv"


def as_records(folder: Path, frame: pd.DataFrame, name: str) -> Any:
    return frame.to_dict("records")


def as_json(folder: Path, frame: pd.DataFrame, name: str) -> Any:
    frame.to_json(folder / f"{name}.json", orient="records")
    return folder / f"{name}.json"


def as_json_lines(folder: Path, frame: pd.DataFrame, name: str) -> Any:
    frame.to_json(folder / f"{name}.jsonl", orient="records", lines=True)
    return folder / f"{name}.jsonl"


def as_parquet(folder: Path, frame: pd.DataFrame, name: str) -> Any:
    frame.to_parquet(folder / f"{name}.parquet")
    return folder / f"{name}.parquet"


TABLES = [as_frame, as_csv, as_records, as_json, as_json_lines, as_parquet]


@pytest.mark.parametrize("table", TABLES)
def test_two_names_for_the_query_that_group_rows_differently_are_an_error(tmp_path: Path, table: Any) -> None:
    sides = table(tmp_path, LOG, "log"), table(tmp_path, CLICKS, "clicks")
    with pytest.raises(ValueError, match=r"'user_id' and 'query' name its queries in different ways"):
        score(*sides)
    assert score(*sides, fields={"query": "query"}) == pytest.approx(SECOND)
    if table is not as_records:
        assert score(*sides, query_ids="query") == pytest.approx(SECOND)
        with pytest.raises(ValueError, match=r"no column is called qeury; .*did you mean 'query'\?"):
            score(*sides, query_ids="qeury")
    alike = LOG.assign(user_id=LOG["query"]), CLICKS.assign(user_id=CLICKS["query"])
    sides = table(tmp_path, alike[0], "log"), table(tmp_path, alike[1], "clicks")
    assert score(*sides) == pytest.approx(SECOND)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_of_two_columns_has_its_values_by_fields(tmp_path: Path, table: Any) -> None:
    run, gold = LOG[["query", "doc_id"]], CLICKS[CLICKS["label"] == 1][["query", "doc_id"]]
    sides = table(tmp_path, run, "run"), table(tmp_path, gold, "gold")
    with pytest.raises(ValueError, match="no column holds the score"):
        score(*sides)
    assert score(*sides, fields={"score": None, "relevance": None}) == pytest.approx(SECOND)


@pytest.mark.parametrize("table", TABLES)
def test_a_score_is_no_relevance_beside_another_number(tmp_path: Path, table: Any) -> None:
    gold = LOG.drop(columns="user_id").assign(stars=[0, 1, 0, 1])
    sides = table(tmp_path, LOG.drop(columns="user_id"), "log"), table(tmp_path, gold, "gold")
    with pytest.raises(ValueError, match=r"'score' may be that of a model, and beside it are 'stars'; give fields"):
        score(*sides)
    assert score(*sides, fields={"relevance": "stars"}) == pytest.approx(SECOND)


@pytest.mark.parametrize("table", TABLES)
def test_a_pair_names_the_fields_of_both_sides(tmp_path: Path, table: Any) -> None:
    names = {"query": "reader", "doc_id": "book", "score": "liking"}
    run = LOG.drop(columns="user_id").rename(columns=names)
    gold = CLICKS.drop(columns="user_id").rename(columns={"query": "member", "doc_id": "title", "label": "bought"})
    fields = {"query": ("reader", "member"), "document": ("book", "title"), "score": "liking", "relevance": "bought"}
    assert score(table(tmp_path, run, "a"), table(tmp_path, gold, "b"), fields=fields) == pytest.approx(SECOND)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"gain": "x"}, r"^fields: 'gain' is not a field; the fields are query, document, score, relevance$"),
        ({"documents": "x"}, r"^fields: 'documents' is not a field; did you mean 'document'\?$"),
        ({"query": 3}, "^fields: query must be the name of a field, a pair of names .* or None; got 3$"),
        ({"score": ("a", "b")}, r"^fields: score must be the name of a field or None; got \('a', 'b'\)$"),
        ({"document": None}, "^fields: document must be the name of a field, since each document has an id; got None$"),
        (["score"], r"^fields must map query, document, score, relevance to names of fields; got \['score'\]$"),
    ],
)
def test_faulty_fields_are_named(fields: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        score({"q": [{"id": "a"}]}, {"q": {"a": 1}}, fields=fields)


def by_batch(**how: Any) -> float:
    batch = {name: how.pop(name) for name in ("predictions", "references", "fields")}
    METRIC.add_batch(**batch)
    return float(METRIC.compute(**how)["nDCG"])


ENTRY_POINTS: dict[str, Callable[..., float]] = {
    "compute": lambda **how: float(ndcg.compute(**how)["nDCG"]),
    "the metric": lambda **how: float(METRIC.compute(**how)["nDCG"]),
    "add_batch": by_batch,
    "report": lambda **how: float(ndcg.report(**how).scores["nDCG"].value),
    "explain": lambda **how: float(ndcg.explain(**how).scores["sklearn"] or 0),
    "documents": lambda **how: float(
        sum(row["gain"] * row["discount"] for row in ndcg.documents(**how).to_pylist()) / (3 + 2 / math.log2(3) + 1 / 2)
    ),
}


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_fields_mean_the_same_at_every_entry_point(entry: str) -> None:
    run = {"q": [{"paper": document, "sureness": at} for document, at in SURENESS.items()]}
    gold = {"q": [{"paper": document, "stars": grade} for document, grade in GRADES.items()]}
    fields = {"document": "paper", "score": "sureness", "relevance": "stars"}
    assert ENTRY_POINTS[entry](predictions=run, references=gold, fields=fields) == pytest.approx(VALUE)


def test_compare_reads_each_system_by_fields() -> None:
    run = {query: [{"paper": document, "sureness": at} for document, at in SURENESS.items()] for query in "qr"}
    gold = {query: [{"paper": document, "stars": grade} for document, grade in GRADES.items()] for query in "qr"}
    fields = {"document": "paper", "score": "sureness", "relevance": "stars"}
    found = ndcg.compare(systems={"a": run, "b": {"q": ["b"], "r": ["a"]}}, references=gold, fields=fields)
    assert found.scores["a"]["nDCG"].value == pytest.approx(VALUE)


def test_the_shell_names_fields_of_hits_by_its_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chunks = [{"paper": document, "sureness": at} for document, at in SURENESS.items()]
    (tmp_path / "run.jsonl").write_text(json.dumps({"case": "q", "found": chunks}) + "\n")
    rows = "".join(f"q,{document},{grade}\n" for document, grade in GRADES.items())
    (tmp_path / "gold.csv").write_text("task,item,stars\n" + rows)
    flags = ["--query", "case,task", "--document", "paper,item", "--score", "sureness", "--relevance", "stars"]
    main(["score", str(tmp_path / "gold.csv"), str(tmp_path / "run.jsonl"), "-m", "nDCG", *flags])
    assert f"{VALUE:.4f}" in capsys.readouterr().out


@pytest.mark.parametrize("source", ["TREC", "a mapping", "a mapping in JSON", "ranked ids"])
@pytest.mark.parametrize("argument", ["query_ids", "fields"])
def test_a_name_beside_sides_without_fields_is_an_error(tmp_path: Path, source: str, argument: str) -> None:
    mapping = {"q": {"a": 0.9, "b": 0.8}}
    (tmp_path / "run").write_text("q Q0 a 1 .9 x\nq Q0 b 2 .8 x\n")
    (tmp_path / "run.json").write_text(json.dumps(mapping))
    runs = {"TREC": tmp_path / "run", "a mapping": mapping, "a mapping in JSON": tmp_path / "run.json"}
    run, name = runs.get(source, {"q": ["a", "b"]}), "case" if argument == "query_ids" else {"query": "case"}
    with pytest.raises(ValueError, match=rf"^{argument}=.*case.* names a column or a field, but neither side has"):
        score(run, {"q": {"a": 1}}, **{argument: name})
    frame = pd.DataFrame({"case": ["q"], "query_id": ["other"], "document_id": ["b"], "relevance": [1]})
    assert score(run, frame, **{argument: name}) == pytest.approx(SECOND)
    with pytest.raises(ValueError, match="'case'} names a column or a field, but the run has none"):
        score(run, frame, fields={"query": ("case", "query_id")})


def test_a_table_of_excluded_documents_has_no_relevance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in (("qrels", "q 0 a 1\n"), ("run", "q Q0 a 1 .9 x\n"), ("seen.csv", "query_id,doc_id\nq,z\n")):
        (tmp_path / name).write_text(text)
    qrels, run, seen = (str(tmp_path / name) for name in ("qrels", "run", "seen.csv"))
    problem = "names a column or a field, but the references have none"
    with pytest.raises(ValueError, match=problem):
        score(run, qrels, exclude=seen, fields={"relevance": "stars"})
    assert main(["score", qrels, run, "--exclude", seen, "--relevance", "stars"]) == 2
    assert f"--relevance stars {problem}" in capsys.readouterr().err


@pytest.mark.parametrize("run", [{"q": []}, [[]], None])
def test_names_are_no_error_beside_a_side_without_documents(run: Any) -> None:
    hits = [{"id": "a", "stars": 2}]
    gold: Any = [hits] if isinstance(run, list) else {"q": hits}
    measure = "IDCG" if run is None else "nDCG"
    found = METRIC.compute(
        predictions=run, references=gold, measures=measure, fields={"score": "s", "relevance": "stars"}
    )
    assert found == {measure: 2.0 if run is None else 0.0}


ONE_SIDED = {"frame": pd.DataFrame, "records": list, "hits": lambda rows: {"q": rows}}


@pytest.mark.parametrize("form", ONE_SIDED)
def test_a_name_that_one_side_lacks_is_an_error_that_shows_the_pair(form: str) -> None:
    make = ONE_SIDED[form]
    run = make([{"query_id": "q", "paper": document, "score": 3 - at} for at, document in enumerate("abc")])
    gold = make([{"query_id": "q", "doc_id": document, "grade": grade} for document, grade in GRADES.items()])
    pair = {"document": ("paper", "doc_id")}
    said = rf"^references: .*called paper; .*; if only the run has it, give a pair, fields={re.escape(str(pair))}"
    with pytest.raises(ValueError, match=said):
        score(run, gold, fields={"document": "paper"})
    assert score(run, gold, fields=pair) == pytest.approx(VALUE)


@pytest.mark.parametrize("source", ["a list", "JSON Lines", "Parquet", "a frame"])
def test_a_list_of_ids_under_an_unknown_name_is_an_error_that_shows_the_call(tmp_path: Path, source: str) -> None:
    rows = [{"query_id": "q", "expected_passages": ["b"]}]
    (tmp_path / "gold.jsonl").write_text(json.dumps(rows[0]) + "\n")
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "gold.parquet")
    paths = {"JSON Lines": tmp_path / "gold.jsonl", "Parquet": tmp_path / "gold.parquet"}
    gold = paths.get(source, pd.DataFrame(rows) if source == "a frame" else rows)
    call = {"document": "expected_passages"}
    with pytest.raises(ValueError, match=rf"a list under 'expected_passages'.*give fields={re.escape(str(call))}$"):
        score({"q": ["a", "b"]}, gold)
    assert score({"q": ["a", "b"]}, gold, fields=call) == pytest.approx(SECOND)


LOG_OF_ITS_OWN = {"ticket": "q", "pieces": [{"paper": "a", "gap": 0.1}, {"paper": "b", "gap": 0.3}]}


@pytest.mark.parametrize("source", ["dicts", "objects", "JSON Lines", "Parquet"])
def test_a_log_with_names_of_its_own_is_read_in_as_many_steps_as_it_has_names(tmp_path: Path, source: str) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(LOG_OF_ITS_OWN) + "\n")
    parquet.write_table(pa.Table.from_pylist([LOG_OF_ITS_OWN]), tmp_path / "log.parquet")
    pieces = [SimpleNamespace(**piece) for piece in LOG_OF_ITS_OWN["pieces"]]
    log = {
        "dicts": [LOG_OF_ITS_OWN],
        "objects": [SimpleNamespace(ticket="q", pieces=pieces)],
        "JSON Lines": tmp_path / "log.jsonl",
        "Parquet": tmp_path / "log.parquet",
    }[source]
    fields: dict[str, Any] = {}
    for problem, more in (
        (r"the hits in 'pieces' have 'paper', 'gap'; give fields={'query': 'ticket', 'document': '...'}", "document"),
        ("no score under a known name, but its hits have 'gap'; .* or fields={'score': 'gap'} if that is", "score"),
    ):
        with pytest.raises(ValueError, match=problem):
            score(log, {"q": {"a": 1}}, **({"fields": fields} if fields else {}))
        fields |= {"query": "ticket", "document": "paper"} if more == "document" else {"score": "gap"}
    assert score(log, {"q": {"a": 1}}, fields=fields, score_order="ascending") == 1.0
    with pytest.warns(UserWarning, match='if the lowest score is best, give score_order="ascending"'):
        assert score(log, {"q": {"a": 1}}, fields=fields) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", ["a frame", "records", "Parquet", "JSON Lines"])
def test_fields_may_name_columns_of_lists(tmp_path: Path, source: str) -> None:
    rows = [
        {"shopper": "u", "skus": ["a", "b"], "logits": [0.9, 0.8]},
        {"shopper": "v", "skus": ["c"], "logits": [0.1]},
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "run.parquet")
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = {"Parquet": tmp_path / "run.parquet", "JSON Lines": tmp_path / "run.jsonl"}
    run = paths.get(source, pd.DataFrame(rows) if source == "a frame" else rows)
    with pytest.raises(ValueError, match=r"'shopper'.*fields={'query': 'shopper', 'document': 'skus'}"):
        score(run, {"u": {"b": 1}, "v": {"c": 1}})
    fields = {"query": "shopper", "document": "skus", "score": "logits"}
    assert score(run, {"u": {"b": 1}, "v": {"c": 1}}, fields=fields) == pytest.approx((SECOND + 1) / 2)


@pytest.mark.parametrize("form", ["records", "JSON", "JSON Lines"])
@pytest.mark.parametrize("more", [["x"], [{"x": 1}]])
def test_a_list_beside_the_document_of_a_record_is_no_list_of_documents(tmp_path: Path, form: str, more: Any) -> None:
    rows = [{"query_id": "q", "doc_id": each, "score": at, "tags": more} for at, each in enumerate("ba")]
    (tmp_path / "run.json").write_text(json.dumps(rows))
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = {"records": rows, "JSON": tmp_path / "run.json", "JSON Lines": tmp_path / "run.jsonl"}[form]
    assert score(run, {"q": {"b": 1}}) == pytest.approx(SECOND)


# The same list twice, gaps, integers


@pytest.mark.parametrize("kind", ["hits", "retrieved_ids"])
def test_a_query_on_two_lines_is_an_error(tmp_path: Path, kind: str) -> None:
    lines = [{"query_id": "q", kind: ["a"]}, {"query_id": "r", kind: ["b"]}, {"query_id": "q", kind: ["c"]}]
    (tmp_path / "run.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(ValueError, match=r"run.jsonl: line 3: query 'q' is in line 1 already; give each query once$"):
        score(tmp_path / "run.jsonl", {"q": {"a": 1}, "r": {"b": 1}})
    parquet.write_table(pa.Table.from_pylist(lines), tmp_path / "run.parquet")
    with pytest.raises(ValueError, match=r"row 2 \(from 0\): query 'q' is in row 0 \(from 0\) already; give each"):
        score(tmp_path / "run.parquet", {"q": {"a": 1}, "r": {"b": 1}})
    hits = [{"query_id": line["query_id"], "hits": [{"id": "a"}]} for line in lines]
    with pytest.raises(ValueError, match=r"^predictions: query 'q' is in row 0 and in row 2; give each query once$"):
        score(hits, {"q": {"a": 1}, "r": {"b": 1}})


def test_a_query_twice_in_query_ids_of_ranked_ids_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^query_ids: query 'q1' is in row 0 and in row 2; give each query once$"):
        score([[1, 3], [2, 9], [5, 6]], {"q1": {5: 1}, "q2": {2: 1}}, query_ids=["q1", "q2", "q1"])
    with pytest.raises(
        ValueError, match=r"^query_ids: a set has no order of its own; give a list, an id for each row$"
    ):
        score([[1, 3], [2, 9]], {"q1": {5: 1}, "q2": {2: 1}}, query_ids={"q1", "q2"})


def test_gaps_in_ranks_are_told() -> None:
    ranks, relevant = {"q": {"d1": 1, "d3": 3}}, {"q": {"d3": 1}}
    with pytest.warns(UserWarning, match="query 'q': no document has a rank between 1 and 3, so those below move up"):
        assert score(ranks, relevant, score_order="ascending") == pytest.approx(SECOND)
    whole = {"q": {"d1": 1, "x": 2, "d3": 3}}
    assert score(whole, relevant, score_order="ascending") == pytest.approx(1 / 2)


def test_lists_of_integers_on_both_sides_are_ids_if_they_cannot_be_grades() -> None:
    ids = [[7 * row + at for at in (0, 11, 23)] for row in range(10)]
    with pytest.raises(ValueError, match="hold other whole numbers in each place of a query, as ids are"):
        score(ids, [row[::-1] for row in ids])
    scores = [[1, 2, 3]] * 10  # ranks and grades within the length of a query
    assert score(scores, [[0, 1, 2]] * 10) == 1.0
    assert score({"q": [7, 9, 8]}, {"q": [9]}) == pytest.approx(SECOND)  # a list in a mapping holds ids


def test_labels_beside_matrices_of_scores_and_ids_are_by_position() -> None:
    how = {"predictions": [[0.9, 0.5]], "document_ids": [[7, 9]], "references": [[0, 2]]}
    assert ndcg.compute(**how) == {"nDCG": pytest.approx(SECOND)}


def test_tuples_of_a_user_an_item_and_a_value_are_no_queries() -> None:
    with pytest.raises(ValueError, match=r"a user, an item and a value, such as \(1, 10, 1.5\) and \(1, 11, 1\)"):
        score([(1, 10, 1.5)], [(1, 11, 1)])
    of_first = (1 + 1 / 2 * (SECOND + 1 / 2)) / (1 + SECOND)  # with a tie at ranks 2 and 3
    assert score([(0, 0, 1), ()], [(0, 1, 1), ()]) == pytest.approx(of_first / 2)


@pytest.mark.parametrize("name", ["distances", "Distances"])
def test_distances_beside_ids_rank_in_ascending_order(name: str) -> None:
    run = {"ids": [["x", "w"]], name: [[0.3, 0.1]]}
    with pytest.warns(UserWarning, match="the scores rank its hits in another order than they are in"):
        assert score(run, [{"w"}], score_order="ascending") == 1.0


def test_a_score_that_contradicts_a_rank_is_an_error_in_ascending_order() -> None:
    run = {"q": [{"id": "a", "rank": 1, "score": 0.9}, {"id": "b", "rank": 2, "score": 0.5}]}
    with pytest.raises(ValueError, match="'rank' and 'score' rank its hits in different orders, lowest first"):
        score(run, {"q": {"b": 1}}, score_order="ascending")
    assert score(run, {"q": {"b": 1}}, score_order="ascending", fields={"score": "rank"}) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("grade", [{"score": 0, "by": "ann"}, [0, 1]])
def test_a_relevance_that_is_no_number_is_an_error(tmp_path: Path, source: str, grade: Any) -> None:
    gold = SOURCES[source](tmp_path, [{"id": "a", "grade": grade}, {"id": "b", "grade": grade}])
    with pytest.raises(ValueError, match=r"the relevance .* of a hit is not a number; give a number$"):
        score({"q": ["a", "b"]}, gold)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("value", ["1_0", "\uff11", "1,5", "0x1"])
def test_text_that_only_python_takes_for_a_number_is_an_error(tmp_path: Path, source: str, value: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|has a decimal comma"):
        score({"q": {"b": 2, "a": 1}}, SOURCES[source](tmp_path, [{"id": "a", "relevance": value}]))
    with pytest.raises(ValueError, match=r"is not a number|has a decimal comma"):
        score(SOURCES[source](tmp_path, [{"id": "a", "score": value}]), {"q": {"a": 1}})


@pytest.mark.parametrize("table", TABLES)
def test_a_weight_is_no_relevance_beside_another_number(tmp_path: Path, table: Any) -> None:
    gold = CLICKS.drop(columns="user_id").rename(columns={"label": "gain"}).assign(weight=[1.0, 1.0, 1.0, 1.0])
    sides = table(tmp_path, LOG.drop(columns="user_id"), "log"), table(tmp_path, gold, "gold")
    with pytest.raises(ValueError, match=r"'weight' may be that of a model, and beside it are 'gain'; give fields="):
        score(*sides)
    assert score(*sides, fields={"relevance": "gain"}) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", ["objects with their query", "JSON Lines"])
def test_an_empty_list_under_a_name_of_its_own_is_nothing_retrieved(tmp_path: Path, source: str) -> None:
    rows = [
        {"query_id": "q", "found": [], "gold": [{"id": "z"}]},
        {"query_id": "r", "found": [{"id": "b"}], "gold": []},
    ]
    if source == "JSON Lines":
        (tmp_path / "run.jsonl").write_text("\n".join(json.dumps({**row, "gold": None}) for row in rows))
        run: Any = tmp_path / "run.jsonl"
    else:
        run = [{**row, "gold": None} for row in rows]
    assert score(run, {"q": {"z": 1}, "r": {"b": 1}}) == pytest.approx(0.5)


@pytest.mark.parametrize("source", SOURCES)
def test_references_with_scores_are_read(tmp_path: Path, source: str) -> None:
    gold = SOURCES[source](tmp_path, [{"id": document, "score": grade} for document, grade in GRADES.items()])
    assert score(RUN, gold) == pytest.approx(VALUE)


@pytest.mark.parametrize("source", ["dicts", "objects", "JSON", "JSON Lines", "Parquet"])
def test_queries_under_an_unknown_name_in_another_order_are_an_error_that_shows_the_call(
    tmp_path: Path, source: str
) -> None:
    judged = [{"case": f"c{at}", "hits": [{"id": f"d{at}", "relevance": 1}]} for at in range(3)]
    found = [{"case": f"c{at}", "hits": [{"id": "d9"}, {"id": f"d{at}"}]} for at in (1, 0, 2)]

    def given(name: str, rows: list[dict[str, Any]]) -> Any:
        path = tmp_path / name
        if source == "Parquet":
            parquet.write_table(pa.Table.from_pylist(rows), path)
        elif source.startswith("JSON"):
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            path.write_text(json.dumps(rows) if source == "JSON" else lines)
        else:
            return [SimpleNamespace(**row) for row in rows] if source == "objects" else rows
        return path

    run, qrels = given("run", found), given("qrels", judged)
    with pytest.raises(ValueError, match=r"no query .* but 'case', in the references in another order; give fields="):
        score(run, qrels)
    with pytest.raises(ValueError, match=r"no query .* but 'case', not all in the references; give fields="):
        score(given("less", found[:2]), qrels)
    assert score(run, qrels, fields={"query": "case"}) == pytest.approx(SECOND)
    by_id = {f"c{at}": {f"d{at}": 1} for at in range(3)}
    with pytest.raises(ValueError, match=r"; if 'case' names the query, give fields={'query': 'case'}$"):
        score(run, by_id)
    assert score(run, by_id, fields={"query": "case"}) == pytest.approx(SECOND)
    assert score(given("sorted", sorted(found, key=lambda row: row["case"])), qrels) == pytest.approx(SECOND)
    in_place = [{**row, "case": "c0"} for row in found]  # no ids of queries, since they are not distinct
    assert score(given("alike", in_place), qrels) == pytest.approx(SECOND / 3)
    assert score(run, qrels, fields={"query": None}) == pytest.approx(SECOND / 3)


TRACES = [
    {"input": {"user": "u2"}, "output": {"items": ["a", "b"], "found": [{"key": "a"}, {"key": "b"}]}, "error": None},
    {"input": {"user": "u1"}, "output": {"items": ["b", "a"], "found": [{"key": "b"}, {"key": "a"}]}, "error": None},
]


@pytest.mark.parametrize("source", ["dicts", "objects", "JSON", "JSON Lines"])
@pytest.mark.parametrize(
    ("left", "document", "shown"),
    [("items", "output.items", "output.items"), ("found", "key", "...")],
)
def test_paths_name_what_is_in_objects_of_a_trace(
    tmp_path: Path, source: str, left: str, document: str, shown: str
) -> None:
    traces = [{**trace, "output": {left: trace["output"][left]}} for trace in TRACES]
    (tmp_path / "traces.json").write_text(json.dumps(traces))
    (tmp_path / "traces.jsonl").write_text("".join(json.dumps(trace) + "\n" for trace in traces))
    given = {
        "dicts": traces,
        "objects": [SimpleNamespace(**trace) for trace in traces],
        "JSON": tmp_path / "traces.json",
        "JSON Lines": tmp_path / "traces.jsonl",
    }[source]
    judged = {"u1": {"a": 1}, "u2": {"b": 1}}
    call = f"give fields={{'query': 'input.user', 'document': '{shown}'}}"
    with pytest.raises(ValueError, match=re.escape(call)):
        score(given, judged)
    fields = {"query": "input.user", "document": document}
    assert score(given, judged, fields=fields) == pytest.approx(SECOND)


def test_scores_stand_beside_the_list_that_a_path_names() -> None:
    log = [{"case": "q", "output": {"items": ["a", "b"], "sureness": [0.1, 0.9]}}]
    fields = {"query": "case", "document": "output.items"}
    with pytest.raises(
        ValueError, match=r"beside its ids are 'sureness'; give fields={'score': None} if .* 'sureness'"
    ):
        score(log, {"q": {"a": 1}}, fields=fields)
    with pytest.warns(UserWarning, match="the scores rank its hits in another order"):
        assert score(log, {"q": {"a": 1}}, fields={**fields, "score": "output.sureness"}) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", ["dicts", "JSON Lines"])
@pytest.mark.parametrize("name", ["grades", "Grades", "review.marks", "output.marks"])
def test_fields_name_the_values_of_a_list_of_ids_wherever_they_are(tmp_path: Path, source: str, name: str) -> None:
    output = {"items": ["a", "b"], "marks": {"a": 0, "b": 1}}
    log = [{"query": "q", "output": output, "review": {"marks": [0, 1]}, "grades": [0, 1], "marks": [2, 2]}]
    (tmp_path / "log.jsonl").write_text(json.dumps(log[0]))
    gold = log if source == "dicts" else tmp_path / "log.jsonl"
    fields = {"document": "output.items", "relevance": name}
    assert score({"q": ["a", "b"]}, gold, fields=fields) == pytest.approx(SECOND)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "grade",
            "no field is called grade; its object has 'query', 'ids', 'grades', 'notes.a', 'marks'; did you mean",
        ),
        ("review.grades", "no field is called review.grades; its object has "),
        ("notes", "notes holds {'a': 'x'}, which is no relevance for each id"),
        ("marks", "marks holds None, which is no relevance for each id"),
    ],
)
def test_values_of_a_list_of_ids_that_fields_name_must_be_there(name: str, said: str) -> None:
    gold = [{"query": "q", "ids": ["a", "b"], "grades": [0, 1], "notes": {"a": "x"}, "marks": None}]
    with pytest.raises(ValueError, match=rf"^references: query 'q': {re.escape(said)}"):
        score({"q": ["a", "b"]}, gold, fields={"relevance": name})


def test_a_list_of_ids_beside_a_list_of_other_objects_is_an_error_that_shows_the_call() -> None:
    log = [{"topic_id": "q", "references": ["b", "a"], "answer": [{"text": "x", "citations": [0]}]}]
    with pytest.raises(ValueError, match=r"a list under 'references', .* give fields={'document': 'references'}"):
        score(log, {"q": {"a": 1}})
    assert score(log, {"q": {"a": 1}}, fields={"document": "references"}) == pytest.approx(SECOND)


def test_an_error_beside_a_list_of_ids_names_the_query() -> None:
    with pytest.raises(ValueError, match=r"^references: query 'q': no relevance .* beside its ids are 'gains'"):
        score({"q": ["a", "b"]}, {"q": {"ids": ["a", "b"], "gains": [1, 3]}})


ONE_LOG = {  # a log with what was retrieved and what is relevant, and the names of both lists
    "ids": ({"retrieved": ["a", "b"], "relevant": ["b"]}, ("retrieved", "relevant")),
    "hits": ({"hits": [{"id": "a"}, {"id": "b"}], "gold": [{"id": "b"}]}, ("hits.id", "gold.id")),
    "hits and ids": (
        {"hits": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}], "gold": ["b"]},
        ("hits.id", "gold"),
    ),
    "objects": (
        {"chunks": [{"id": "a"}, {"id": "b"}], "expected": {"chunks": [{"id": "b"}]}},
        ("chunks.id", "expected.chunks.id"),
    ),
}


@pytest.mark.parametrize("source", ["dicts", "objects", "JSON Lines", "Parquet"])
@pytest.mark.parametrize("log", ONE_LOG)
def test_one_log_on_both_sides_needs_the_names_of_its_lists(tmp_path: Path, source: str, log: str) -> None:
    row, pair = {"query_id": "q", **ONE_LOG[log][0]}, ONE_LOG[log][1]
    (tmp_path / "log.jsonl").write_text(json.dumps(row) + "\n")
    parquet.write_table(pa.Table.from_pylist([row]), tmp_path / "log.parquet")
    given = {
        "dicts": [row],
        "objects": [SimpleNamespace(**row)],
        "JSON Lines": tmp_path / "log.jsonl",
        "Parquet": tmp_path / "log.parquet",
    }[source]
    call = f"fields={{'document': {pair[1]!r}}}, or {{'document': {pair!r}}} if the run is in the same log"
    with pytest.raises(ValueError, match=rf"references: .*say which are relevant, {re.escape(call)}$"):
        score(given, given)
    assert score(given, given, fields={"document": pair}) == pytest.approx(SECOND)
    if log == "hits and ids":
        with pytest.raises(ValueError, match="are the same column of the same table"):
            score(given, given, fields={"document": pair[0]})
    else:
        with pytest.warns(UserWarning, match="these are the documents of the references too, .* name the list of each"):
            assert score(given, given, fields={"document": pair[0]}) == 1.0


def test_a_log_with_names_of_its_own_for_both_lists_is_told_the_pair() -> None:
    log = [{"query": "q", "found": ["a", "b"], "gold": ["b"]}]
    call = "give the lists of the run and of the references, such as fields={'document': ('found', 'gold')}"
    with pytest.raises(ValueError, match=re.escape(call)):
        score(log, log)
    run, gold = ([{"query": "q", name: log[0][name]}] for name in ("found", "gold"))
    for name in ("found", "gold"):
        with pytest.raises(ValueError, match=re.escape(call)):
            score(run, gold, fields={"document": name})
    for sides in ((log, log), (run, gold)):
        assert score(*sides, fields={"document": ("found", "gold")}) == pytest.approx(SECOND)


def test_a_known_score_settles_which_of_two_lists_counts() -> None:
    hits = [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}]
    assert score([{"query": "q", "hits": hits, "context_ids": ["b", "a"]}], {"q": {"a": 1}}) == 1.0


def test_a_log_with_known_names_of_both_lists_is_read_as_both_sides() -> None:
    log = [{"query": "q", "retrieved_ids": ["a", "b"], "relevant_ids": ["b"]}]
    assert score(log, log) == pytest.approx(SECOND)
    log = [{"query": "q", "retrieved_ids": ["a", "b"], "relevant_ids": ["b", "a"]}]
    assert score(log, log) == 1.0


@pytest.mark.parametrize(
    ("lists", "pair"),
    [
        ({"retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"]}, ("retrieved_ids", "reranked_ids")),
        ({"hits": [{"id": "a"}, {"id": "b"}], "last": [{"id": "b"}, {"id": "a"}]}, ("hits.id", "last.id")),
    ],
)
def test_two_rankings_of_the_same_documents_are_an_error_that_shows_the_call(lists: Any, pair: tuple[str, str]) -> None:
    run = [{"query": "q", **lists}]
    call = f"say which one counts, fields={{'document': {pair[0]!r}}} or {{'document': {pair[1]!r}}}"
    with pytest.raises(ValueError, match=re.escape(call)):
        score(run, {"q": {"a": 1}})
    assert score(run, {"q": {"a": 1}}, fields={"document": pair[0]}) == 1.0
    assert score(run, {"q": {"a": 1}}, fields={"document": pair[1]}) == pytest.approx(SECOND)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"labels": [0, 1]}, SECOND),
        ({"verdicts": {"a": 0, "b": 1}}, "beside its ids are 'verdicts'"),
        ({"judged": [{"id": "b", "grade": 1}]}, "may be those in 'documents' or in 'judged'"),
        ({"tags": ["x", "y"]}, 1.0),
    ],
)
def test_grades_beside_a_list_of_hits_are_read_or_an_error(more: Any, found: Any) -> None:
    gold = [{"query": "q", "documents": [{"id": "a"}, {"id": "b"}], **more}]
    if isinstance(found, float):
        assert score({"q": ["a", "b"]}, gold) == pytest.approx(found)
    else:
        with pytest.raises(ValueError, match=found):
            score({"q": ["a", "b"]}, gold)


def test_grades_beside_a_list_of_relevant_ids_are_an_error() -> None:
    gold = [{"query": "q", "relevant_ids": ["a", "b"], "judgments": [{"id": "a", "grade": 3}, {"id": "b", "grade": 1}]}]
    with pytest.raises(ValueError, match="may be those in 'relevant_ids' or in 'judgments'"):
        score({"q": ["a", "b"]}, gold)
    graded = score({"q": ["b", "a"]}, gold, fields={"document": "judgments.id"})
    assert graded == pytest.approx((1 + 3 * SECOND) / (3 + SECOND))


@pytest.mark.parametrize(
    ("of_run", "of_qrels"),
    [("queryText", "query_text"), ("span.query_id", "span.query_id"), ("case", "case")],
)
def test_the_order_of_queries_is_compared_under_any_spelling_and_path(of_run: str, of_qrels: str) -> None:
    def named(path: str, value: Any) -> dict[str, Any]:
        outer, _, name = path.rpartition(".")
        return {outer: {name: value}} if outer else {name: value}

    run = [{**named(of_run, at), "hits": [{"id": f"d{at}"}]} for at in (2, 1)]
    gold = [{**named(of_qrels, str(at)), "hits": [{"id": f"d{at}"}]} for at in (1, 2)]
    names = of_run if of_run == of_qrels else (of_run, of_qrels)
    call = f"in the references in another order; give fields={{'query': {names!r}}}"
    with pytest.raises(ValueError, match=re.escape(call)):
        score(run, gold)


def test_arrays_of_ids_in_records_are_documents() -> None:
    log = [{"case": "q", "ids": np.array(["b", "a"])}]
    assert score(log, {"q": {"a": 1}}, fields={"query": "case"}) == pytest.approx(SECOND)


def test_a_record_of_an_unknown_query_is_an_error_that_shows_the_call() -> None:
    rows = [{"span": "q", "document_id": "b"}, {"span": "q", "document_id": "a"}]
    with pytest.raises(ValueError, match=r"give the name of its query, fields={'query': 'span'}"):
        score(rows, {"q": {"a": 1}})
    assert score(rows, {"q": {"a": 1}}, fields={"query": "span", "score": None}) == pytest.approx(SECOND)


@pytest.mark.spark
def test_rows_of_spark_are_objects() -> None:
    from pyspark.sql import Row

    users = [Row(user="q", recommendations=[Row(item="b", rating=0.9), Row(item="a", rating=0.5)])]
    assert score(users, {"q": {"a": 1}}) == pytest.approx(SECOND)
    rows = [Row(user="q", item="b", rating=0.9), Row(user="q", item="a", rating=0.5)]
    assert score(rows, {"q": {"a": 1}}, fields={"score": "rating"}) == pytest.approx(SECOND)


def test_no_value_means_the_same_from_memory_and_files(tmp_path: Path) -> None:
    for run in ({"q": [("a", 0.3), ("b", 0.9)]}, {"q": {"a": 0.3, "b": 0.9}}):
        (tmp_path / "run.json").write_text(json.dumps(run))
        assert score(run, {"q": {"b": 1}}, fields={"score": None}) == pytest.approx(SECOND)
    (tmp_path / "run.json").write_text(json.dumps({"q": [{"id": "a", "score": 0.3}, {"id": "b", "score": 0.9}]}))
    assert score(tmp_path / "run.json", {"q": {"b": 1}}, fields={"score": None}) == pytest.approx(SECOND)


def test_hits_without_scores_are_read_about_as_fast_as_those_with() -> None:
    """Each query looks for known names once, and not in each hit."""
    calls = 0

    def plain(name: str) -> str:
        nonlocal calls
        calls += 1
        return fields.plain_name(name)

    hits = [{"id": str(at), "text": "a title", "kind": "b"} for at in range(500)]
    with pytest.MonkeyPatch.context() as patch:
        for reader in (hit_reader, recognized, objects):
            patch.setattr(reader, "plain_name", plain)
        assert ndcg.compute(predictions={"q": hits}, references={"q": {"0": 1}}) == {"nDCG": 1.0}
    assert calls < 2_000


def test_fields_beside_data_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^fields are for rankings given as arguments; with data, name its columns"):
        ndcg.compute(data=LOG, predictions="score", references="score", query_ids="query", fields={"score": "score"})
