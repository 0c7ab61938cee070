"""Names of fields: no unknown name is taken for granted, and `fields=` names it, anywhere."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import METRIC
from refusals import refusal, warning
from sources import HITS, OBJECTS_IN, ROWS_IN, Records, save_csv, save_json, save_lines

import ndcg
from ndcg.inputs import fields, objects
from ndcg.shell.command_line import main

RUN = {"q": ["a", "b", "c"]}  # best first
GRADES = {"a": 1, "b": 3, "c": 2}
SURENESS = {"b": 1, "a": 2, "c": 0}  # in another order
VALUE = (1 + 3 / math.log2(3) + 2 / 2) / (3 + 2 / math.log2(3) + 1 / 2)
SECOND = 1 / math.log2(3)  # nDCG of one relevant document at rank 2


def score(predictions: Any, references: Any, **how: Any) -> float:
    return float(ndcg.compute(predictions=predictions, references=references, **how)["nDCG"])


def refused(predictions: Any, references: Any, **how: Any) -> Any:
    """The error of inputs that are refused."""
    with pytest.raises(ValueError) as said:  # noqa: PT011 - its argument and places are compared
        score(predictions, references, **how)
    return said.value


def assert_asked(
    argument: str, roles: str, listed: str, run: Any, references: Any, **how: Any
) -> None:
    """One error of a side asks about roles, and lists its fields by the ends of their paths."""
    error = refused(run, references, **how)
    assert error.argument == argument
    assert error.roles == roles.split()
    for name in listed.split():
        assert f"{name}' (" in error.fields


def hits_with(name: str, values: Any = (1, 3, 2)) -> Records:
    return [{"id": document, name: value} for document, value in zip(GRADES, values, strict=True)]


# The value of a document


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize("name", ["grade", "relevance_grade", "isRelevant", "Judgement", "score"])
def test_a_known_name_is_read_in_any_spelling(tmp_path: Path, source: str, name: str) -> None:
    assert score(RUN, HITS[source](hits_with(name), tmp_path)) == pytest.approx(VALUE)


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("stars", (1, 3, 2), VALUE),
        ("gain", (0.5, 1.5, 1.0), VALUE),
        ("opinion", (False, True, False), SECOND),
        ("clicked", (None, None, 1), 1 / 2),
        ("my_grade", ("1", "3", "2"), VALUE),
    ],
)
def test_grades_under_an_unknown_name_are_asked_about(
    tmp_path: Path, source: str, name: str, values: Any, expected: float
) -> None:
    gold = HITS[source](hits_with(name, values), tmp_path)
    assert_asked("references", "relevance", f"id {name}", RUN, gold)
    assert score(RUN, gold, fields={"relevance": name}) == pytest.approx(expected)
    assert score(RUN, gold, fields={"relevance": None}) == 1.0


@pytest.mark.parametrize("source", HITS)
def test_words_are_asked_about_twice(tmp_path: Path, source: str) -> None:
    words = ("off topic", "on point", "so so")
    gold = HITS[source](hits_with("assessment", words), tmp_path)
    assert_asked("references", "relevance", "id assessment", RUN, gold)
    named = {"relevance": "assessment"}
    with refusal("references"):
        score(RUN, gold, fields=named)
    gain = dict(zip(words, (1, 3, 2), strict=True))
    assert score(RUN, gold, fields=named, gain=gain) == pytest.approx(VALUE)


@pytest.mark.parametrize("source", HITS)
def test_a_grade_in_an_object_is_read_and_grades_of_several_judges_are_asked_about(
    tmp_path: Path, source: str
) -> None:
    def every(name: str, value: Any) -> Any:
        return HITS[source](hits_with(name, [value] * 3), tmp_path)

    reviews = [{"grade": grade} for grade in GRADES.values()]
    gold = HITS[source](hits_with("review", reviews), tmp_path)
    assert score(RUN, gold) == score(RUN, gold, fields={"relevance": "review.grade"})
    assert score(RUN, gold) == pytest.approx(VALUE)
    assert score(RUN, every("eval", {"llm": {"grade": 0}})) == 0.0
    for name, value, listed in (
        ("votes", [0, 2], "votes"),
        ("opinions", [{"stars": 0, "by": "ann"}], "opinions.stars opinions.by"),
        ("grades", [1, 0], "grades"),
        ("decision", "off-topic", "decision"),
        ("grade", {"score": 0, "by": "ann"}, "grade.score grade.by"),
    ):
        gold = every(name, value)
        assert_asked("references", "relevance", f"id {listed}", RUN, gold)
        assert score(RUN, gold, fields={"relevance": None}) == 1.0
    for name in ("relevance", "grade"):
        with refusal("references"):
            score(RUN, every(name, [1, 0]))


DESCRIPTIONS: dict[str, Any] = {
    "token_ids": [1, 2],
    "years": [1999],
    "embedding": [0.1, 0.2],
    "labels": ["news"],
    "references": ["p1"],
    "answers": [{"text": "x", "answer_start": 3}],
    "entities": [{"name": "x", "count": 2}],
    "meta": {"split_id": 0, "split_idx_start": 120},
    "heading": {"level": 2},
    "char_start": 120,
    "n_tokens": 512,
    "created_at": 1_700_000_000.5,
    "url": "https://b",
    "text": None,
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
@pytest.mark.parametrize("source", HITS)
def test_what_describes_a_document_is_no_relevance(tmp_path: Path, source: str, name: str) -> None:
    hit = {"id": "b", name: DESCRIPTIONS[name], "score": None}  # as Haystack writes documents
    gold = HITS[source]([hit], tmp_path)
    assert_asked("references", "relevance", "id", RUN, gold)
    assert score(RUN, gold, fields={"relevance": None}) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", HITS)
def test_ids_alone_need_no_name(tmp_path: Path, source: str) -> None:
    ids = HITS[source]([{"id": "b"}], tmp_path)
    assert score(RUN, ids) == pytest.approx(SECOND)
    assert score(ids, {"q": {"b": 1}}) == 1.0


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize("first", [0, None])
def test_a_null_relevance_is_not_judged(tmp_path: Path, source: str, first: int | None) -> None:
    gold = HITS[source](hits_with("relevance", (first, 2, None)), tmp_path)
    assert score(RUN, gold) == pytest.approx(SECOND)
    gold = HITS[source](hits_with("relevance", (2, first, None)), tmp_path)
    assert score({"q": ["b", "a"]}, gold) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", HITS)
def test_a_side_without_any_value_is_an_error(tmp_path: Path, source: str) -> None:
    run = HITS[source]([{"id": "b", "score": None}], tmp_path)
    with refusal("predictions"):
        score(run, {"q": {"b": 1}})
    gold = HITS[source]([{"id": "b", "relevance": None}], tmp_path)
    with refusal("references"):
        score({"q": {"b": 0.5}}, gold)


def test_a_mapping_without_any_number_is_an_error() -> None:
    with refusal("predictions"):
        score({"q": {"b": None}}, {"q": {"b": 1}})
    with refusal("references"):
        score({"q": {"b": 0.5}}, {"q": {"b": None}})
    assert score({"q": {"b": None, "a": 0.5}}, {"q": {"a": 0, "b": 1}}) == 0.0  # not retrieved


@pytest.mark.parametrize("source", HITS)
def test_a_hit_without_a_score_among_others_is_an_error(tmp_path: Path, source: str) -> None:
    run = HITS[source](hits_with("score", (0.9, None, 0.5)), tmp_path)
    error = refused(run, {"q": {"b": 1}})
    assert error.argument == "predictions"
    assert "query 'q'" in error.options
    assert score(run, {"q": {"b": 1}}, fields={"score": None}) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize("values", [(0.2, 0.9, 0.1), (0.9, 0.2, 0.1)])
def test_a_score_under_an_unknown_name_is_asked_about(
    tmp_path: Path, source: str, values: Any
) -> None:
    run = HITS[source](hits_with("logit", values), tmp_path)
    assert_asked("predictions", "score", "id logit", run, {"q": {"a": 1}})
    assert score(run, {"q": {"a": 1}}, fields={"score": None}) == 1.0
    named = {"score": "logit"}
    if values[0] > values[1]:
        assert score(run, {"q": {"a": 1}}, fields=named) == 1.0
        return
    run = HITS[source](hits_with("logit", (0.1, 0.2, 0.9)), tmp_path)  # lowest first
    assert score(run, {"q": {"b": 1}}, fields=named) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize("value", ["1_0", "\uff11", "1,5", "0x1"])
def test_text_that_only_python_takes_for_a_number_is_an_error(
    tmp_path: Path, source: str, value: str
) -> None:
    gold = HITS[source]([{"id": "a", "relevance": value}], tmp_path)
    with refusal("references"):
        score(RUN, gold)
    run = HITS[source]([{"id": "a", "score": value}], tmp_path)
    with refusal("predictions"):
        score(run, {"q": {"a": 1}})


# The id of a document


@pytest.mark.parametrize("source", HITS)
def test_fields_name_the_relevance_and_the_document(tmp_path: Path, source: str) -> None:
    hits = [
        {"chunk_id": document.upper(), "paper": document, "stars": grade}
        for document, grade in GRADES.items()
    ]
    gold = HITS[source](hits, tmp_path)
    named = {"relevance": "stars", "document": "paper"}
    assert score(RUN, gold, fields=named) == pytest.approx(VALUE)
    error = refused(RUN, gold, fields={**named, "relevance": "starz"})
    assert (error.argument, error.roles) == ("references", ["relevance"])


@pytest.mark.parametrize("source", HITS)
@pytest.mark.parametrize("documents", ["dd", "de"])
def test_two_full_names_of_the_document_are_asked_about(
    tmp_path: Path, source: str, documents: str
) -> None:
    pairs = list(zip(documents, "ab", strict=True))
    run = HITS[source]([{"doc_id": d, "chunk_id": chunk} for d, chunk in pairs], tmp_path)
    asked = (run, {"q": {"b": 1}})
    assert_asked("predictions", "document score", "doc_id chunk_id", *asked)
    named = {"document": "chunk_id", "score": None}
    assert score(*asked, fields=named) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", HITS)
def test_a_full_name_of_the_document_comes_before_a_bare_one(tmp_path: Path, source: str) -> None:
    chunks = [{"doc_id": "d", "id": "a", "score": 2}, {"doc_id": "e", "id": "b", "score": 1}]
    run = HITS[source](chunks, tmp_path)
    assert score(run, {"q": {"e": 1}}) == pytest.approx(SECOND)
    assert score(run, {"q": {"b": 1}}, fields={"document": "id"}) == pytest.approx(SECOND)
    run = HITS[source]([{**hit, "doc_id": "d"} for hit in chunks], tmp_path)  # of one document
    with refusal("predictions"):
        score(run, {"q": {"b": 1}})


def stored(*pairs: tuple[str, Any]) -> Records:
    """Return hits of a search engine with their own ids, and other ids in what they store."""
    return [
        {"_id": own, "_score": -rank, "_source": {"doc_id": document}}
        for rank, (own, document) in enumerate(pairs)
    ]


# The fields of a named tuple cannot start with an underscore.
@pytest.mark.parametrize("source", sorted(HITS.keys() - {"named tuples"}))
def test_another_id_in_the_source_of_a_hit_is_asked_about(tmp_path: Path, source: str) -> None:
    asked = (HITS[source](stored(("a", "a"), ("b", "d")), tmp_path), {"q": {"b": 1}})
    assert_asked("predictions", "document", "_id _source.doc_id", *asked)
    assert score(*asked, fields={"document": "_id"}) == pytest.approx(SECOND)
    assert score(asked[0], {"q": {"d": 1}}, fields={"document": "doc_id"}) == pytest.approx(SECOND)


def test_the_same_id_in_the_source_of_a_hit_is_not_asked_about() -> None:
    hits = stored(("7", 7), ("8", 8))
    assert score({"q": hits}, {"q": {8: 1}}) == pytest.approx(SECOND)
    assert score({"q": {"hits": hits}}, {"q": {8: 1}}) == pytest.approx(SECOND)
    without_own = stored((None, "a"), (np.nan, "b"))
    assert score({"q": without_own}, {"q": {"b": 1}}) == pytest.approx(SECOND)
    of_numpy = stored((np.str_("a"), "a"), ("b", np.str_("b")))
    assert score({"q": of_numpy}, {"q": {"b": 1}}) == pytest.approx(SECOND)
    judged = [{"_id": "x", "_source": {"doc_id": "b", "relevance": 1}}]  # of an index of judgments
    assert score({"q": ["a", "b"]}, {"q": judged}) == pytest.approx(SECOND)


# Tables


LOG = [
    {"user_id": 1, "query": query, "doc_id": document, "score": value}
    for query, document, value in zip("xxyy", "abcd", (0.9, 0.8, 0.7, 0.6), strict=True)
]
CLICKS = [
    {"user_id": 1, "query": row["query"], "doc_id": row["doc_id"], "label": label}
    for row, label in zip(LOG, (0, 1, 0, 1), strict=True)
]


def columns(rows: Records, *names: str, **more: Any) -> Records:
    """The rows with some columns, and others that all have the same value or name one anew."""
    return [{**{name: row[name] for name in names}, **more} for row in rows]


def renamed(rows: Records, **names: str) -> Records:
    return [{new: row[old] for old, new in names.items()} for row in rows]


def both(table: str, folder: Path, run: Records, gold: Records) -> tuple[Any, Any]:
    return ROWS_IN[table](run, folder / "run"), ROWS_IN[table](gold, folder / "gold")


@pytest.mark.parametrize("table", ROWS_IN)
def test_a_query_beside_its_user_is_asked_about(tmp_path: Path, table: str) -> None:
    sides = both(table, tmp_path, LOG, CLICKS)
    with refusal("predictions"):
        score(*sides)
    error = refused(sides[0], {"x": {"b": 1}, "y": {"d": 1}})
    assert error.roles == ["query"]
    assert score(*sides, fields={"query": "query"}) == pytest.approx(SECOND)
    assert score(*sides, query_ids="query") == pytest.approx(SECOND)
    assert "'qeury'" in str(refused(*sides, query_ids="qeury"))


@pytest.mark.parametrize("table", ROWS_IN)
def test_a_table_of_queries_and_documents_needs_no_values(tmp_path: Path, table: str) -> None:
    ids = columns(LOG, "query", "doc_id"), columns(CLICKS[1::2], "query", "doc_id")
    sides = both(table, tmp_path, *ids)
    assert score(*sides) == pytest.approx(SECOND)
    assert score(*sides, fields={"score": None, "relevance": None}) == pytest.approx(SECOND)


@pytest.mark.parametrize("table", ROWS_IN)
@pytest.mark.parametrize("name", ["score", "weight"])
def test_a_score_or_weight_is_no_relevance_beside_another_number(
    tmp_path: Path, table: str, name: str
) -> None:
    names = {"query": "query", "doc_id": "doc_id", "label": "stars"}
    gold = columns(renamed(CLICKS, **names), "query", "doc_id", "stars", **{name: 1.0})
    sides = both(table, tmp_path, columns(LOG, "query", "doc_id", "score"), gold)
    assert_asked("references", "relevance", f"query doc_id stars {name}", *sides)
    assert score(*sides, fields={"relevance": "stars"}) == pytest.approx(SECOND)
    alone = renamed(CLICKS, query="query", doc_id="doc_id", label=name)  # as in BEIR
    assert score(*both(table, tmp_path, LOG_WITHOUT_USERS, alone)) == pytest.approx(SECOND)


LOG_WITHOUT_USERS = columns(LOG, "query", "doc_id", "score")


@pytest.mark.parametrize("table", ROWS_IN)
def test_a_pair_names_the_fields_of_both_sides(tmp_path: Path, table: str) -> None:
    run = renamed(LOG, query="reader", doc_id="book", score="liking")
    gold = renamed(CLICKS, query="member", doc_id="title", label="bought")
    names = {
        "query": ("reader", "member"),
        "document": ("book", "title"),
        "score": "liking",
        "relevance": "bought",
    }
    assert score(*both(table, tmp_path, run, gold), fields=names) == pytest.approx(SECOND)


@pytest.mark.parametrize("table", [*ROWS_IN, "hits"])
def test_a_name_that_one_side_lacks_leaves_it_its_standard_name(tmp_path: Path, table: str) -> None:
    run = columns(LOG_WITHOUT_USERS[:2], "query", "score")
    run = [{**row, "paper": document} for row, document in zip(run, "ab", strict=True)]
    gold = columns(CLICKS[1:2], "query", "doc_id", "label")
    sides: tuple[Any, Any]
    if table == "hits":
        sides = {"x": columns(run, "paper", "score")}, {"x": columns(gold, "doc_id", "label")}
    else:
        sides = both(table, tmp_path, run, gold)
    assert_asked("predictions", "document", "paper score", *sides)
    for name in ("paper", ("paper", "doc_id")):
        assert score(*sides, fields={"document": name}) == pytest.approx(SECOND)


# Entry points


def by_batch(**how: Any) -> float:
    batch = {name: how.pop(name) for name in ("predictions", "references", "fields")}
    METRIC.add_batch(**batch)
    return float(METRIC.compute(**how)["nDCG"])


def by_documents(**how: Any) -> float:
    rows = ndcg.documents(**how).to_pylist()
    gained = sum(row["gain"] * row["discount"] for row in rows)
    return float(gained / (3 + 2 / math.log2(3) + 1 / 2))


ENTRY_POINTS: dict[str, Callable[..., float]] = {
    "compute": lambda **how: float(ndcg.compute(**how)["nDCG"]),
    "the metric": lambda **how: float(METRIC.compute(**how)["nDCG"]),
    "add_batch": by_batch,
    "report": lambda **how: float(ndcg.report(**how).scores["nDCG"].value),
    "explain": lambda **how: float(ndcg.explain(**how).scores["sklearn"] or 0),
    "documents": by_documents,
}
OWN_NAMES = {"document": "paper", "score": "sureness", "relevance": "stars"}


def own_hits(name: str, values: dict[str, int]) -> Records:
    return [{"paper": document, name: value} for document, value in values.items()]


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_fields_mean_the_same_at_every_entry_point(entry: str) -> None:
    run, gold = {"q": own_hits("sureness", SURENESS)}, {"q": own_hits("stars", GRADES)}
    found = ENTRY_POINTS[entry](predictions=run, references=gold, fields=OWN_NAMES)
    assert found == pytest.approx(VALUE)


def test_compare_reads_each_system_by_fields() -> None:
    run = {query: own_hits("sureness", SURENESS) for query in "qr"}
    gold = {query: own_hits("stars", GRADES) for query in "qr"}
    systems = {"a": run, "b": {"q": ["b"], "r": ["a"]}}
    found = ndcg.compare(systems=systems, references=gold, fields=OWN_NAMES)
    assert found.scores["a"]["nDCG"].value == pytest.approx(VALUE)


def test_the_shell_names_fields_of_hits_by_its_flags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chunks = own_hits("sureness", SURENESS)
    run = save_lines([{"case": "q", "found": chunks}], tmp_path / "run.jsonl")
    rows = [{"task": "q", "item": d, "stars": grade} for d, grade in GRADES.items()]
    gold = save_csv(rows, tmp_path / "gold")
    flags = ["--query", "case,task", "--document", "paper,item"]
    flags += ["--score", "sureness", "--relevance", "stars"]
    main(["score", str(gold), str(run), "-m", "nDCG", *flags])
    assert f"{VALUE:.4f}" in capsys.readouterr().out


# Names that no side has


@pytest.mark.parametrize("source", ["TREC", "a mapping", "a mapping in JSON", "ranked ids"])
@pytest.mark.parametrize("argument", ["query_ids", "fields"])
def test_a_name_beside_sides_without_fields_is_an_error(
    tmp_path: Path, source: str, argument: str
) -> None:
    mapping = {"q": {"a": 0.9, "b": 0.8}}
    trec = tmp_path / "run"
    trec.write_text("q Q0 a 1 .9 x\nq Q0 b 2 .8 x\n")
    run = {
        "TREC": trec,
        "a mapping": mapping,
        "a mapping in JSON": save_json(mapping, tmp_path / "run.json"),
        "ranked ids": {"q": ["a", "b"]},
    }[source]
    how: Any = {argument: "case" if argument == "query_ids" else {"query": "case"}}
    with refusal(argument):
        score(run, {"q": {"a": 1}}, **how)
    row = {"case": "q", "query_id": "other", "document_id": "b", "relevance": 1}
    frame = pd.DataFrame([row])
    assert score(run, frame, **how) == pytest.approx(SECOND)
    with refusal("fields"):
        score(run, frame, fields={"query": ("case", "query_id")})


def test_a_table_of_excluded_documents_has_no_relevance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"qrels": "q 0 a 1\n", "run": "q Q0 a 1 .9 x\n", "seen.csv": "query_id,doc_id\nq,z\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    qrels, run, seen = (str(tmp_path / name) for name in texts)
    with refusal("fields"):
        score(run, qrels, exclude=seen, fields={"relevance": "stars"})
    assert main(["score", qrels, run, "--exclude", seen, "--relevance", "stars"]) == 2
    assert "--relevance stars" in capsys.readouterr().err


def test_lists_of_a_table_whose_index_has_the_query_are_named_by_fields() -> None:
    run = pd.DataFrame({"recs": [["z", "a"], ["b"]]}, index=pd.Index(["q", "p"], name="user"))
    gold = pd.DataFrame({"clicked": [["a"], ["b"]]}, index=run.index)
    fields = {"document": ("recs", "clicked"), "score": None, "relevance": None}
    how = {"fields": {"query": None, **fields}}
    assert score(run, gold, **how) == pytest.approx((SECOND + 1) / 2)
    with refusal("references"):
        score(run, gold[::-1], **how)


def test_a_table_of_excluded_documents_has_standard_names_beside_a_pair() -> None:
    run = [{"reader": "q", "recs": ["z", "a"]}]
    gold = [{"reader": "q", "clicked": ["a"]}]
    seen = pd.DataFrame({"user_id": ["q"], "item_id": ["z"]})
    fields = {"query": ("reader", "reader"), "document": ("recs", "clicked"), "score": None}
    assert score(run, gold, exclude=seen, fields={**fields, "relevance": None}) == 1.0


@pytest.mark.parametrize("run", [{"q": []}, [[]], None])
def test_names_are_no_error_beside_a_side_without_documents(run: Any) -> None:
    hits = [{"id": "a", "stars": 2}]
    gold: Any = [hits] if isinstance(run, list) else {"q": hits}
    measure = "IDCG" if run is None else "nDCG"
    how = {"measures": measure, "fields": {"score": "s", "relevance": "stars"}}
    found = ndcg.compute(predictions=run, references=gold, **how)
    assert found == {measure: 2.0 if run is None else 0.0}


# Logs: objects with lists in them


@pytest.mark.parametrize("source", [*OBJECTS_IN, "a frame"])
def test_a_list_of_ids_under_an_unknown_name_is_asked_about(tmp_path: Path, source: str) -> None:
    gold = ROWS_IN[source]([{"query_id": "q", "expected_passages": ["b"]}], tmp_path / "gold")
    assert_asked("references", "document relevance", "query_id expected_passages", RUN, gold)
    assert score(RUN, gold, fields={"document": "expected_passages"}) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_a_log_with_names_of_its_own_is_read_at_the_second_attempt(
    tmp_path: Path, source: str
) -> None:
    pieces = [{"paper": "a", "gap": 0.1}, {"paper": "b", "gap": 0.3}]
    log = OBJECTS_IN[source]([{"ticket": "q", "pieces": pieces}], tmp_path / "log")
    judged = {"q": {"a": 1}}
    listed = "ticket pieces.paper pieces.gap"
    assert_asked("predictions", "query document score", listed, log, judged)
    names = {"query": "ticket", "document": "paper", "score": "gap"}
    assert score(log, judged, fields=names, score_order="ascending") == 1.0
    assert score(log, judged, fields=names) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", [*OBJECTS_IN, "a frame"])
def test_fields_may_name_columns_of_lists(tmp_path: Path, source: str) -> None:
    rows = [
        {"shopper": "u", "skus": ["a", "b"], "logits": [0.9, 0.8]},
        {"shopper": "v", "skus": ["c"], "logits": [0.1]},
    ]
    run, judged = ROWS_IN[source](rows, tmp_path / "run"), {"u": {"b": 1}, "v": {"c": 1}}
    assert_asked("predictions", "query document score", "shopper skus logits", run, judged)
    names = {"query": "shopper", "document": "skus", "score": "logits"}
    assert score(run, judged, fields=names) == pytest.approx((SECOND + 1) / 2)


@pytest.mark.parametrize("source", [*OBJECTS_IN, "a frame"])
def test_a_list_of_one_value_is_this_value(tmp_path: Path, source: str) -> None:
    choices = {"a": ["Exact"], "b": [], "c": ["Partial"]}  # as of annotation tools
    rows = [
        {"query_id": "q", "doc_id": document, "choice": choice}
        for document, choice in choices.items()
    ]
    qrels = ROWS_IN[source](rows, tmp_path / "qrels")
    how: dict[str, Any] = {"fields": {"relevance": "choice"}, "gain": {"Exact": 3, "Partial": 1}}
    ideal = 3 + 1 / math.log2(3)
    assert score(RUN, qrels, **how) == pytest.approx((3 + 1 / 2) / ideal)
    rows[1]["choice"] = ["Exact", "Partial"]
    with refusal("references"):
        score(RUN, ROWS_IN[source](rows, tmp_path / "qrels"), **how)


@pytest.mark.parametrize("source", HITS)
def test_a_hit_may_have_its_value_in_a_list_of_one(tmp_path: Path, source: str) -> None:
    qrels = HITS[source](hits_with("picked", [[1], [3], [2]]), tmp_path)
    assert score(RUN, qrels, fields={"relevance": "picked"}) == pytest.approx(VALUE)


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_a_list_of_one_value_may_lie_in_lists_of_objects(tmp_path: Path, source: str) -> None:
    rows = [
        {"query_id": "q", "doc_id": document, "annotations": [{"result": [{"value": [grade]}]}]}
        for document, grade in GRADES.items()
    ]
    qrels = OBJECTS_IN[source](rows, tmp_path / "qrels")
    names = {"relevance": "annotations.result.value"}
    assert score(RUN, qrels, fields=names) == pytest.approx(VALUE)


def late(source: str, with_value: Records, folder: Path) -> Any:
    """Objects with ids alone, more than are looked at, before those with a value."""
    first = [{"id": f"d{number}"} for number in range(objects.LOOKED_AT)]
    return HITS[source]([*first, *with_value], folder)


@pytest.mark.parametrize(
    "source", sorted(HITS.keys() - {"Parquet"})
)  # which has nulls for all hits
def test_a_value_that_only_late_hits_have_is_refused(tmp_path: Path, source: str) -> None:
    judged = {"q": {"b": 1}}
    found = late(source, [{"id": "a"}, {"id": "b"}], tmp_path)
    assert score(found, judged) == pytest.approx(1 / math.log2(objects.LOOKED_AT + 3))
    found = late(source, [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.9}], tmp_path)
    with refusal("predictions"):
        score(found, judged)


@pytest.mark.parametrize(
    "source", sorted(OBJECTS_IN.keys() - {"Parquet"})
)  # which has nulls for all rows
def test_a_value_that_only_late_rows_have_is_refused(tmp_path: Path, source: str) -> None:
    first = [{"query_id": "q", "doc_id": f"d{at}"} for at in range(objects.LOOKED_AT)]
    run = {"q": ["d0", "b"]}
    qrels = OBJECTS_IN[source]([*first, {"query_id": "q", "doc_id": "b", "rel": 3}], tmp_path / "a")
    with refusal("references"):
        score(run, qrels)


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_the_first_of_each_list_may_lack_its_value(tmp_path: Path, source: str) -> None:
    gold = [{"id": "a"}, {"id": "b", "rel": 3}, {"id": "c", "rel": 1}]
    queries = [f"q{at}" for at in range(objects.LOOKED_AT)]
    qrels = OBJECTS_IN[source]([{"qid": query, "gold": gold} for query in queries], tmp_path / "q")
    expected = (3 / math.log2(3) + 1 / 2) / (3 + 1 / math.log2(3))
    assert score({query: ["a", "b", "c"] for query in queries}, qrels) == pytest.approx(expected)


@pytest.mark.parametrize("source", sorted(OBJECTS_IN.keys() - {"Parquet"}))
def test_scores_beside_late_lists_of_ids_alone_are_refused(tmp_path: Path, source: str) -> None:
    first = [{"query_id": f"q{at}", "ids": ["d", "e"]} for at in range(objects.LOOKED_AT)]
    last = {"query_id": "q", "ids": ["a", "b"], "scores": [0.1, 0.9]}
    run = OBJECTS_IN[source]([*first, last], tmp_path / "run")
    with refusal("predictions"):
        score(run, {"q": {"b": 1}})


@pytest.mark.parametrize("source", OBJECTS_IN)
@pytest.mark.parametrize("more", [["x"], [{"x": 1}]])
def test_a_list_beside_the_document_of_a_record_is_no_list_of_documents(
    tmp_path: Path, source: str, more: Any
) -> None:
    rows = [
        {"query_id": "q", "doc_id": document, "score": value, "tags": more}
        for document, value in (("b", 0), ("a", 1))
    ]
    run = OBJECTS_IN[source](rows, tmp_path / "run")
    assert score(run, {"q": {"b": 1}}) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_queries_under_an_unknown_name_are_asked_about(tmp_path: Path, source: str) -> None:
    judged = [{"case": f"c{at}", "hits": [{"id": f"d{at}", "relevance": 1}]} for at in range(3)]
    found = [{"case": f"c{at}", "hits": [{"id": "d9"}, {"id": f"d{at}"}]} for at in (1, 0, 2)]
    run = OBJECTS_IN[source](found, tmp_path / "run")
    qrels = OBJECTS_IN[source](judged, tmp_path / "qrels")
    with refusal("predictions"):
        score(run, qrels)
    by_id = {f"c{at}": {f"d{at}": 1} for at in range(3)}
    assert_asked("predictions", "query", "case hits.id", run, by_id)
    assert_asked("references", "query", "case hits.id hits.relevance", by_id, qrels)
    for references in (qrels, by_id):
        assert score(run, references, fields={"query": "case"}) == pytest.approx(SECOND)
    assert score(run, qrels, fields={"query": None}) == pytest.approx(SECOND / 3)


TRACES = {
    "ids": [
        {"input": {"user": "u2"}, "output": {"items": ["a", "b"]}, "error": None},
        {"input": {"user": "u1"}, "output": {"items": ["b", "a"]}, "error": None},
    ],
    "hits": [
        {"input": {"user": "u2"}, "output": {"items": [{"key": "a"}, {"key": "b"}]}},
        {"input": {"user": "u1"}, "output": {"items": [{"key": "b"}, {"key": "a"}]}},
    ],
}


@pytest.mark.parametrize("source", OBJECTS_IN)
@pytest.mark.parametrize(("kind", "path"), [("ids", "output.items"), ("hits", "output.items.key")])
def test_paths_name_what_is_in_objects_of_a_trace(
    tmp_path: Path, source: str, kind: str, path: str
) -> None:
    traces = OBJECTS_IN[source](TRACES[kind], tmp_path / "traces")
    judged = {"u1": {"a": 1}, "u2": {"b": 1}}
    assert_asked("predictions", "document score", f"input.user {path}", traces, judged)
    for document in (path, path.rpartition(".")[2]):
        names = {"query": "input.user", "document": document}
        assert score(traces, judged, fields=names) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_scores_may_stand_beside_the_list_that_a_path_names(tmp_path: Path, source: str) -> None:
    output = {"items": ["a", "b"], "sureness": [0.1, 0.9]}
    log = OBJECTS_IN[source]([{"case": "q", "output": output}], tmp_path / "log")
    names = {"query": "case", "document": "output.items"}
    listed = "output.items output.sureness"
    assert_asked("predictions", "score", listed, log, {"q": {"a": 1}}, fields=names)
    named = score(log, {"q": {"a": 1}}, fields={**names, "score": "output.sureness"})
    assert named == pytest.approx(SECOND)
    assert score(log, {"q": {"a": 1}}, fields={**names, "score": None}) == 1.0


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_scores_of_another_list_of_ids_are_refused(tmp_path: Path, source: str) -> None:
    scored = [{"id": "a", "score": 0.1}, {"id": "b", "score": 0.9}]
    row = {"query_id": "q", "found": [{"id": "a"}, {"id": "b"}], "scored": scored}
    fields = {"document": "found.id", "score": "scored.score"}
    log = OBJECTS_IN[source]([row], tmp_path / "log")
    assert refused(log, {"q": {"a": 1}}, fields=fields).argument == "predictions"
    fields["document"] = "scored.id"
    assert score(log, {"q": {"a": 1}}, fields=fields) == pytest.approx(SECOND)


@pytest.mark.parametrize("source", ["dicts", "JSON Lines"])
@pytest.mark.parametrize("name", ["grades", "Grades", "review.marks", "output.marks"])
def test_fields_name_the_values_of_a_list_of_ids_wherever_they_are(
    tmp_path: Path, source: str, name: str
) -> None:
    output = {"items": ["a", "b"], "marks": {"a": 0, "b": 1}}
    row = {"query": "q", "output": output, "review": {"marks": [0, 1]}, "grades": [0, 1]}
    gold = OBJECTS_IN[source]([{**row, "marks": [2, 2]}], tmp_path / "log")
    names = {"document": "output.items", "relevance": name}
    assert score({"q": ["a", "b"]}, gold, fields=names) == pytest.approx(SECOND)


@pytest.mark.parametrize("name", ["grade", "review.grades", "notes", "marks", "some"])
def test_values_of_a_list_of_ids_that_fields_name_must_be_there(name: str) -> None:
    lists = {"ids": ["a", "b"], "grades": [0, 1], "some": [1]}
    gold = [{"query": "q", **lists, "notes": {"a": "x"}, "marks": None}]
    with refusal("references"):
        score({"q": ["a", "b"]}, gold, fields={"relevance": name})


def test_a_list_of_ids_beside_a_list_of_other_objects_is_asked_about() -> None:
    answer = [{"text": "x", "citations": [0]}]
    log = [{"topic_id": "q", "references": ["b", "a"], "answer": answer}]
    judged = {"q": {"a": 1}}
    assert_asked("predictions", "document score", "topic_id references", log, judged)
    assert score(log, judged, fields={"document": "references"}) == pytest.approx(SECOND)


ONE_LOG = {  # a log with what was retrieved and what is relevant, and the names of both lists
    "ids": ({"retrieved": ["a", "b"], "relevant": ["b"]}, ("retrieved", "relevant")),
    "ids under names of its own": ({"found": ["a", "b"], "gold": ["b"]}, ("found", "gold")),
    "hits": (
        {"hits": [{"id": "a"}, {"id": "b"}], "gold": [{"id": "b"}]},
        ("hits.id", "gold.id"),
    ),
    "hits and ids": (
        {"hits": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}], "gold": ["b"]},
        ("hits.id", "gold"),
    ),
    "objects": (
        {"chunks": [{"id": "a"}, {"id": "b"}], "expected": {"chunks": [{"id": "b"}]}},
        ("chunks.id", "expected.chunks.id"),
    ),
}


@pytest.mark.parametrize("source", OBJECTS_IN)
@pytest.mark.parametrize("name", ONE_LOG)
def test_one_log_on_both_sides_needs_the_names_of_its_lists(
    tmp_path: Path, source: str, name: str
) -> None:
    lists, pair = ONE_LOG[name]
    log = OBJECTS_IN[source]([{"query_id": "q", **lists}], tmp_path / "log")
    if name == "hits and ids":  # the scores are the only values, so they would be both sides
        for fields in (None, {"document": pair[0]}):
            with refusal("predictions and references are the same field"):
                score(log, log, fields=fields)
    else:
        assert {"predictions", "references"} <= {*refused(log, log).options}
        with warning("predictions"):
            assert score(log, log, fields={"document": pair[0]}) == 1.0
    assert score(log, log, fields={"document": pair}) == pytest.approx(SECOND)


def test_one_log_may_hold_the_relevances_of_what_was_retrieved(recwarn: Any) -> None:
    log = [{"query_id": "q", "retrieved_ids": ["a", "b"], "grades": [0, 1], "gold_ids": ["b"]}]
    fields = {"document": "retrieved_ids", "score": None, "relevance": "grades"}
    assert score(log, log, fields=fields) == pytest.approx(SECOND)
    assert not recwarn.list


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_one_log_with_relevant_ids_beside_its_hits_is_asked_about_both_lists(
    tmp_path: Path, source: str
) -> None:
    chunks = [{"id": "a", "similarity": 0.9, "page": 1}, {"id": "b", "similarity": 0.5, "page": 2}]
    row = {"query_id": "q", "chunks": chunks, "gold_ids": ["b"]}
    log = OBJECTS_IN[source]([row], tmp_path / "log")
    said = "fields={'document': ('...', '...'), 'relevance': '...'}"
    assert said in str(refused(log, log))
    fields = {"document": ("chunks.id", "gold_ids"), "relevance": None}
    assert score(log, log, fields=fields) == pytest.approx(SECOND)


PAIR = "fields={'document': ('...', '...')"  # what an error says to write for two lists
CHUNKS = [{"chunk_id": "a", "score": 0.9}, {"chunk_id": "b", "score": 0.5}]


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_a_log_that_is_loaded_twice_is_asked_about_both_lists(tmp_path: Path, source: str) -> None:
    def load(name: str, **others: Any) -> Any:
        row = {"query_id": "q", "chunks": CHUNKS, "relevant_ids": ["b"], **others}
        return OBJECTS_IN[source]([row], tmp_path / name)

    run = load("run")
    assert PAIR in str(refused(run, load("gold")))
    fields = {"document": ("chunks.chunk_id", "relevant_ids")}
    assert score(run, load("gold"), fields=fields) == pytest.approx(SECOND)
    assert "fields={'document': '...'}" in str(refused(run, load("other", split="test")))


@pytest.mark.parametrize("source", OBJECTS_IN)
@pytest.mark.parametrize("slip", [CHUNKS[0], {"chunk_id": "c", "score": None}])
def test_a_log_with_a_slip_is_asked_about_both_lists_too(
    tmp_path: Path, source: str, slip: dict[str, Any]
) -> None:
    row = {"query_id": "q", "chunks": [*CHUNKS, slip], "relevant_ids": ["b"]}
    log = OBJECTS_IN[source]([row], tmp_path / "log")
    error = refused(log, log)
    assert error.argument == "predictions"
    assert PAIR in str(error)


@pytest.mark.parametrize("source", OBJECTS_IN)
def test_lists_that_have_their_names_are_not_asked_about(tmp_path: Path, source: str) -> None:
    log = OBJECTS_IN[source](
        [{"case": "q", "retrieved_ids": ["a"], "relevant_ids": ["b"]}], tmp_path
    )
    assert "fields={'query': '...'}" in str(refused(log, log))


def test_a_list_of_ids_is_among_what_could_be_the_document_of_a_log() -> None:
    spans = [{"kind": "EMBEDDING", "model": "m"}, {"kind": "RETRIEVER", "documents": CHUNKS}]
    log = [{"query_id": "q", "spans": spans, "expected": ["b"]}]
    listed = "the document: 'spans.documents.chunk_id', 'expected', 'spans.kind', 'spans.model'"
    assert listed in str(refused(log, log))


@pytest.mark.parametrize("source", OBJECTS_IN)
@pytest.mark.parametrize("fields", [None, {"relevance": None}])
def test_a_log_that_is_loaded_twice_and_is_both_sides_gets_a_warning(
    tmp_path: Path, source: str, fields: Any
) -> None:
    row = {"query_id": "q", "chunks": CHUNKS, "gold": ["b"]}
    sides = [OBJECTS_IN[source]([row], tmp_path / name) for name in ("run", "gold")]
    with warning("predictions"):
        assert score(*sides, fields=fields) == 1.0


def test_two_logs_of_the_same_fields_may_be_a_run_and_its_references(recwarn: Any) -> None:
    graded = [{**CHUNKS[0], "score": 1}, {**CHUNKS[1], "score": 2}]
    run, gold = ([{"qid": "q", "lang": "en", "chunks": chunks}] for chunks in (CHUNKS, graded))
    assert score(run, gold) == pytest.approx((1 + 2 * SECOND) / (2 + SECOND))
    ranked, relevant = ([{"qid": "q", "lang": "en", "ids": [*ids]}] for ids in ("ab", "b"))
    assert score(ranked, relevant) == pytest.approx(SECOND)
    rows = [{"qid": "q", "docno": document} for document in "ab"]
    assert score(rows, [*reversed(rows)]) == 1.0
    assert not recwarn.list


@pytest.mark.parametrize("source", OBJECTS_IN)
@pytest.mark.parametrize("document", [None, "chunks.id"])
def test_relevances_by_id_hold_all_judged_documents_of_a_log(
    tmp_path: Path, source: str, document: str | None
) -> None:
    chunks = [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}]
    row = {"query_id": "q", "chunks": chunks, "gold": {"b": 1, "c": 1}}
    log = OBJECTS_IN[source]([row], tmp_path / "log")
    fields = {"score": "chunks.score", "relevance": "gold"}
    if document is not None:
        fields["document"] = document
    assert score(log, log, fields=fields) == pytest.approx(SECOND / (1 + SECOND))


@pytest.mark.parametrize("in_files", ["predictions", "references", "exclude", "all"])
def test_one_error_asks_for_the_names_of_tables_and_files_together(
    tmp_path: Path, in_files: str
) -> None:
    frames = {
        "predictions": pd.DataFrame({"reader": ["q"], "book": ["a"], "likely": [0.5]}),
        "references": pd.DataFrame({"reader": ["q"], "book": ["a"], "stars": [1]}),
        "exclude": pd.DataFrame({"reader": ["q"], "book": ["b"]}),
    }
    sides: dict[str, Any] = {}
    for name, frame in frames.items():
        sides[name] = frame
        if in_files in (name, "all"):
            sides[name] = tmp_path / f"{name}.csv"
            frame.to_csv(sides[name], index=False)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - its options are compared
        ndcg.compute(**sides)
    assert {"predictions", "references", "exclude", "fields"} <= {*caught.value.options}


def test_a_pair_names_the_lists_of_two_logs() -> None:
    run, gold = [{"query": "q", "found": ["a", "b"]}], [{"query": "q", "gold": ["b"]}]
    for name, argument in (("found", "references"), ("gold", "predictions")):
        error = refused(run, gold, fields={"document": name})
        assert error.argument == argument
        assert "fields={'document': ('...', '...')" in str(error)
    assert score(run, gold, fields={"document": ("found", "gold")}) == pytest.approx(SECOND)


def test_a_known_score_settles_which_of_two_lists_counts() -> None:
    hits = [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.5}]
    log = [{"query": "q", "hits": hits, "context_ids": ["b", "a"]}]
    assert score(log, {"q": {"a": 1}}) == 1.0


@pytest.mark.parametrize(("relevant", "expected"), [(["b"], SECOND), (["b", "a"], 1.0)])
def test_a_log_with_known_names_of_both_lists_is_read_as_both_sides(
    relevant: list[str], expected: float
) -> None:
    log = [{"query": "q", "retrieved_ids": ["a", "b"], "relevant_ids": relevant}]
    assert score(log, log) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("lists", "pair", "asked"),
    [
        (
            {"retrieved_ids": ["a", "b"], "reranked_ids": ["b", "a"]},
            ("retrieved_ids", "reranked_ids"),
            "score",
        ),
        (
            {"hits": [{"id": "a"}, {"id": "b"}], "last": [{"id": "b"}, {"id": "a"}]},
            ("hits.id", "last.id"),
            "document score",
        ),
    ],
)
def test_two_rankings_of_the_same_documents_are_asked_about(
    lists: Any, pair: tuple[str, str], asked: str
) -> None:
    run = [{"query": "q", **lists}]
    assert_asked("predictions", asked, " ".join(pair), run, {"q": {"a": 1}})
    for document, expected in zip(pair, (1.0, SECOND), strict=True):
        names = {"document": document, "score": None}
        assert score(run, {"q": {"a": 1}}, fields=names) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ({"verdicts": {"a": 0, "b": 1}}, "relevance"),
        ({"judged": [{"id": "b", "grade": 1}]}, "document"),
        ({"tags": ["x", "y"]}, "relevance"),
    ],
)
def test_values_beside_a_list_of_hits_are_asked_about(more: Any, asked: str) -> None:
    gold = [{"query": "q", "documents": [{"id": "a"}, {"id": "b"}], **more}]
    assert_asked("references", asked, "documents.id", {"q": ["a", "b"]}, gold)
    names = {"document": "documents.id", "relevance": None}
    assert score({"q": ["a", "b"]}, gold, fields=names) == 1.0


@pytest.mark.parametrize("fields", [None, {"relevance": "labels"}])
def test_values_under_a_standard_name_beside_a_list_of_hits_are_theirs(fields: Any) -> None:
    gold = [{"query": "q", "documents": [{"id": "a"}, {"id": "b"}], "labels": [0, 1]}]
    assert score({"q": ["a", "b"]}, gold, fields=fields) == pytest.approx(SECOND)


def test_ratings_that_are_predicted_are_no_sign_of_swapped_sides() -> None:
    run = pd.DataFrame({"userId": [1], "recommendations": [[{"movieId": 1, "rating": 4.7}]]})
    rated = pd.DataFrame({"userId": [1], "movieId": [1], "rating": [3.5]})
    assert "swapped" not in refused(run, rated).options
    assert score(run, rated, fields={"score": "recommendations.rating"}) == 1.0


def test_grades_beside_a_list_of_relevant_ids_are_asked_about() -> None:
    judgments = [{"id": "a", "grade": 3}, {"id": "b", "grade": 1}]
    gold = [{"query": "q", "relevant_ids": ["a", "b"], "judgments": judgments}]
    listed = "relevant_ids judgments.id judgments.grade"
    assert_asked("references", "relevance", listed, {"q": ["a", "b"]}, gold)
    graded = score({"q": ["b", "a"]}, gold, fields={"document": "judgments.id"})
    assert graded == pytest.approx((1 + 3 * SECOND) / (3 + SECOND))
    assert score({"q": ["b", "a"]}, gold, fields={"relevance": None}) == 1.0


def test_gains_beside_a_list_of_ids_are_asked_about() -> None:
    gold = {"q": {"ids": ["a", "b"], "gains": [1, 3]}}
    assert_asked("references", "relevance", "ids gains", {"q": ["b", "a"]}, gold)
    assert score({"q": ["b", "a"]}, gold, fields={"relevance": "gains"}) == 1.0


@pytest.mark.parametrize("source", ["objects with their query", "JSON Lines"])
def test_an_empty_list_is_nothing_retrieved(tmp_path: Path, source: str) -> None:
    rows = [{"query_id": "q", "found": []}, {"query_id": "r", "found": [{"id": "b"}]}]
    rows = [{**row, "gold": None} for row in rows]
    run: Any = save_lines(rows, tmp_path / "run.jsonl") if source == "JSON Lines" else rows
    assert score(run, {"q": {"z": 1}, "r": {"b": 1}}) == pytest.approx(0.5)


@pytest.mark.parametrize("array", [np.array, pd.Series, pl.Series, pa.array])
def test_arrays_in_records_are_lists(array: Callable[[list[Any]], Any]) -> None:
    log = [{"case": "q", "ids": array(["b", "a"])}]
    assert score(log, {"q": {"a": 1}}, fields={"query": "case"}) == pytest.approx(SECOND)
    output = {"ids": array(["a", "b"]), "scores": array([0.9, 0.2])}
    run = [{"query_id": "q", "output": output}]
    assert score(run, {"q": {"b": 1}}) == pytest.approx(SECOND)
    scored = [{"query_id": "q", "ids": ["a", "b"], "scores": array([0.9, 0.2])}]
    assert score(scored, {"q": {"b": 1}}) == pytest.approx(SECOND)


def test_arrays_in_records_may_follow_empty_lists() -> None:
    nothing = {"query_id": "p", "ids": [], "scores": []}
    run = [nothing, {"query_id": "q", "ids": np.array(["a", "b"]), "scores": np.array([0.9, 0.2])}]
    assert score(run, {"q": {"b": 1}}) == pytest.approx(SECOND)


def test_the_query_of_a_record_is_asked_about() -> None:
    rows = [{"span": "q", "document_id": "b"}, {"span": "q", "document_id": "a"}]
    assert_asked("predictions", "query score", "span document_id", rows, {"q": {"a": 1}})
    names = {"query": "span", "score": None}
    assert score(rows, {"q": {"a": 1}}, fields=names) == pytest.approx(SECOND)


@pytest.mark.spark
def test_rows_of_spark_are_objects() -> None:
    from pyspark.sql import Row

    items = [Row(item="b", rating=0.9), Row(item="a", rating=0.5)]
    users = [Row(user="q", recommendations=items)]
    assert_asked("predictions", "score", "rating", users, {"q": {"a": 1}})
    rows = [Row(user="q", item="b", rating=0.9), Row(user="q", item="a", rating=0.5)]
    for run in (users, rows):
        assert score(run, {"q": {"a": 1}}, fields={"score": "rating"}) == pytest.approx(SECOND)


# The same query twice, gaps, integers, ranks


@pytest.mark.parametrize(
    ("source", "place"),
    [("JSON Lines", "line 3"), ("Parquet", "row 2 (from 0)"), ("dicts", "predictions")],
)
def test_a_query_in_two_places_is_an_error(tmp_path: Path, source: str, place: str) -> None:
    rows = [
        {"query_id": query, "retrieved_ids": [document]}
        for query, document in zip("qrq", "abc", strict=True)
    ]
    run = OBJECTS_IN[source](rows, tmp_path / "run")
    error = refused(run, {"q": {"a": 1}, "r": {"b": 1}})
    assert (error.argument, error.places[-1]) == ("predictions", place)


def test_query_ids_name_the_queries_of_a_multi_search_in_a_file(tmp_path: Path) -> None:
    answer = {"responses": [{"hits": {"hits": [{"_id": name, "_score": 1.0}]}} for name in "ab"]}
    (tmp_path / "msearch.json").write_text(json.dumps({"took": 3, **answer}))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq2\tb\t1\nq1\tc\t1\n")
    sides = {"predictions": tmp_path / "msearch.json", "references": tmp_path / "qrels.tsv"}
    result = ndcg.report(**sides, query_ids=["q1", "q2"])
    assert result.queries["query"].to_pylist() == ["q2", "q1"]
    assert result.queries["nDCG"].to_pylist() == [1.0, 0.0]
    systems = {"a": sides["predictions"], "b": [["c"], ["b"]]}
    qrels = sides["references"]
    pairs = ndcg.compare(systems=systems, references=qrels, query_ids=["q1", "q2"]).pairs
    assert abs(pairs[0].difference) == 0.5


class Response:
    """What Elasticsearch's client returns: not a mapping, but all else is asked of the body."""

    __slots__ = ("_body",)

    def __init__(self, body: dict[str, Any]) -> None:
        self._body = body

    def __getattr__(self, name: str) -> Any:
        return getattr(self._body, name)

    def __getitem__(self, key: str) -> Any:
        return self._body[key]


class Slotted:
    """A hit without a `__dict__`."""

    __slots__ = ("docid", "score")

    def __init__(self, docid: str, score: float) -> None:
        self.docid, self.score = docid, score


class Private:
    """A hit whose fields are private, beside a method and a property that fails."""

    def __init__(self, docid: str, score: float) -> None:
        self._docid, self._score = docid, score

    def to_dict(self) -> dict[str, Any]:
        return {}

    @property
    def text(self) -> str:
        raise ConnectionError


def test_lists_whose_names_are_numbers_are_read_by_their_name() -> None:
    judged = [{"query_id": "q", "0": ["b", "c"], "1": ["a"]}]
    fields = {"document": "1", "relevance": None}
    assert score({"q": ["b", "a"]}, judged, fields=fields) == pytest.approx(SECOND)


class Fielded:
    """A hit whose class keeps something of its own where named tuples have their names."""

    def __init__(self, docid: str, score: float) -> None:
        self._fields, self.docid, self.score = ("title",), docid, score


class Row(Private):
    """A row of a database, whose class computes the names of its columns."""

    @property
    def _fields(self) -> tuple[str, ...]:
        return ("_docid", "_score")


@pytest.mark.parametrize("hit", [Slotted, Private, Fielded, Row])
def test_hits_have_the_attributes_of_their_class(hit: Any) -> None:
    ranked = [hit("a", 0.4), hit("b", 0.9)]
    with warning("predictions", "query 'q'"):  # about the order of the hits
        assert score({"q": ranked}, {"q": {"a": 1}}) == pytest.approx(SECOND)
    assert score([[(each, 1) for each in ranked[:1]]], [{"a"}]) == 1.0


@pytest.mark.parametrize("value", [None, "vector 0.9 and text 0.1"])
def test_a_field_that_is_always_null_or_text_is_no_other_score(value: Any) -> None:
    hits = [{"id": "a", "score": 0.9, "cross-score": value, "explain-score": value}]
    assert score({"q": hits}, {"q": {"a": 1}}) == 1.0


class Collection:
    """Rankings by keys of a type of their own, as of LensKit, which make a frame."""

    def __init__(self, rows: Records) -> None:
        self._rows = rows

    def keys(self) -> list[tuple[str]]:
        return [(row["user_id"],) for row in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: int) -> Any:
        return list(self._rows)[at]


class Framed(Collection):
    def to_df(self) -> pd.DataFrame:
        return pd.DataFrame(self._rows)


def test_a_collection_that_makes_a_frame_is_read_as_one() -> None:
    run = [{"user_id": "q", "item_id": "a", "score": 0.4, "rank": 1}]
    qrels = [{"user_id": "q", "item_id": "a", "rating": 4.0}]
    assert score(Framed(run), Framed(qrels)) == 1.0
    with refusal("predictions"):
        score([Collection(run)], qrels)


def test_the_response_of_a_client_is_read_as_its_body() -> None:
    answers = [{"hits": {"hits": [{"_id": name, "_score": 1.0}]}} for name in "ab"]
    qrels = {"q1": {"a": 1}, "q2": {"c": 1}}
    run = Response({"took": 3, "responses": answers})
    assert score(run, qrels, query_ids=["q1", "q2"]) == 0.5
    assert score(Response({"q1": answers[0], "q2": answers[1]}), qrels) == 0.5
    assert score({"q1": Response(answers[0]), "q2": Response(answers[1])}, qrels) == 0.5
    assert score(list(map(Response, answers)), qrels, query_ids=["q1", "q2"]) == 0.5


@pytest.mark.parametrize("query_ids", [["q1", "q2", "q1"], {"q1", "q2"}])
def test_query_ids_of_ranked_ids_are_an_id_for_each(query_ids: Any) -> None:
    run = [[1, 3], [2, 9], [5, 6]][: len(query_ids)]
    error = refused(run, {"q1": {5: 1}, "q2": {2: 1}}, query_ids=query_ids)
    assert error.argument == "query_ids"


def test_gaps_in_ranks_are_told() -> None:
    ranks, relevant = {"q": {"d1": 1, "d3": 3}}, {"q": {"d3": 1}}
    with warning("predictions", "query 'q'"):
        assert score(ranks, relevant, score_order="ascending") == pytest.approx(SECOND)
    whole = {"q": {"d1": 1, "x": 2, "d3": 3}}
    assert score(whole, relevant, score_order="ascending") == pytest.approx(1 / 2)


def test_lists_of_integers_on_both_sides_are_ids_if_they_cannot_be_grades() -> None:
    ids = [[7 * row + at for at in (0, 11, 23)] for row in range(10)]
    with refusal("predictions and references hold other whole numbers"):
        score(ids, [row[::-1] for row in ids])
    with refusal("predictions and references hold other whole numbers"):
        score(ids, [[31, 0, 0], *(row[::-1] for row in ids[1:])])  # 0 fills up the first row
    graded = [[31, 0, 0], [0, 31, 0]] * 5
    assert score(ids[:10], graded) == pytest.approx((1 / 2 + SECOND) / 2)
    scores = [[1, 2, 3]] * 10  # ranks and grades within the length of a query
    with warning("predictions"):
        assert score(scores, [[0, 1, 2]] * 10) == 1.0
    assert score({"q": [7, 9, 8]}, {"q": [9]}) == pytest.approx(SECOND)  # ids, in a mapping


def test_labels_beside_matrices_of_scores_and_ids_are_by_position() -> None:
    how = {"predictions": [[0.9, 0.5]], "document_ids": [[7, 9]], "references": [[0, 2]]}
    assert ndcg.compute(**how) == {"nDCG": pytest.approx(SECOND)}


def test_tuples_of_a_user_an_item_and_a_value_are_no_queries() -> None:
    assert "a row of a table" in str(refused([(1, 10, 1.5)], [(1, 11, 1)]))
    of_first = (1 + 1 / 2 * (SECOND + 1 / 2)) / (1 + SECOND)  # with a tie at ranks 2 and 3
    assert score([(0, 0, 1), ()], [(0, 1, 1), ()]) == pytest.approx(of_first / 2)


@pytest.mark.parametrize("name", ["distances", "Distances"])
def test_distances_beside_ids_rank_in_ascending_order(name: str) -> None:
    run = [{"ids": ["x", "w"], name: [0.3, 0.1]}]
    fields = {"query": None}
    assert score(run, [{"w"}], score_order="ascending", fields=fields) == 1.0


def test_a_score_beside_a_rank_is_asked_about_in_ascending_order() -> None:
    run = {"q": [{"id": "a", "rank": 1, "score": 0.9}, {"id": "b", "rank": 2, "score": 0.5}]}
    judged = {"q": {"b": 1}}
    assert score(run, judged) == pytest.approx(SECOND)
    assert_asked("predictions", "score", "rank score", run, judged, score_order="ascending")
    how: Any = {"score_order": "ascending", "fields": {"score": "rank"}}
    assert score(run, judged, **how) == pytest.approx(SECOND)


def test_no_value_means_the_same_from_memory_and_files(tmp_path: Path) -> None:
    for name, run in {
        "pairs": {"q": [("a", 0.3), ("b", 0.9)]},
        "numbers": {"q": {"a": 0.3, "b": 0.9}},
        "hits": {"q": [{"id": "a", "score": 0.3}, {"id": "b", "score": 0.9}]},
    }.items():
        for side in (run, save_json(run, tmp_path / f"{name}.json")):
            assert score(side, {"q": {"b": 1}}, fields={"score": None}) == pytest.approx(SECOND)


def test_names_are_looked_for_once_in_a_side_and_not_in_each_hit() -> None:
    calls = 0
    plain_name = fields.plain_name

    def plain(name: str) -> str:
        nonlocal calls
        calls += 1
        return plain_name(name)

    hits = [{"id": str(at), "text": "a title", "kind": "b"} for at in range(500)]
    with pytest.MonkeyPatch.context() as patch:
        for reader in (fields, objects):
            patch.setattr(reader, "plain_name", plain)
        how: Any = {"references": {"q": {"0": 1}}, "fields": {"score": None}}
        assert ndcg.compute(predictions={"q": hits}, **how) == {"nDCG": 1.0}
    assert 0 < calls < 100


def test_fields_beside_data_are_refused() -> None:
    with refusal("fields are for rankings given as arguments;"):
        ndcg.compute(
            data=pd.DataFrame(LOG),
            predictions="score",
            references="score",
            query_ids="query",
            fields={"score": "score"},
        )


@pytest.mark.parametrize(
    ("argument", "role"), [("predictions", "score"), ("references", "relevance")]
)
def test_a_value_that_fields_names_and_no_hit_has_is_asked_about(argument: str, role: str) -> None:
    run = {"q": [{"id": "a", "score": 0.5}]}
    judged = {"q": [{"id": "a", "label": 1}]}
    assert refused(run, judged, fields={role: "sim"}).argument == argument


def test_a_field_of_a_later_hit_of_a_later_object_is_listed() -> None:
    first = {"query_id": "p", "hits": [{"name": "a", "sim": 0.5}]}
    second = {"query_id": "q", "hits": [*first["hits"], {"name": "b", "meta": {"key": "z"}}]}
    assert "'hits.meta.key' ('z')" in refused([first, second], {"q": {"z": 1}}).fields


@pytest.mark.parametrize("is_file", [False, True])
def test_a_request_to_rate_rankings_is_read_by_the_path_of_its_queries(
    is_file: bool, tmp_path: Path
) -> None:
    rated = {"id": "q", "ratings": [{"_id": "a", "rating": 0}, {"_id": "b", "rating": 1}]}
    request = {"requests": [rated], "metric": {"dcg": {"k": 10}}}
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request))
    references = str(path) if is_file else request
    names = {"query": "requests.id"}
    assert score({"q": ["a", "b"]}, references, fields=names) == pytest.approx(SECOND)
