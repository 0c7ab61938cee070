"""Slices are read from files, pipes and columns."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from evaluate import Metric
from every_form import as_parquet
from shells import BY, LINES, MAIN, QRELS, Call, pipe_of, saved_report, standard_input
from shells import call as call
from shells import folder as folder


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "with a header.csv": "\n".join(["query_id,language", *LINES]),
        "plain.csv": "\n".join(LINES),
        "tabs.tsv": "\n".join(LINES).replace(",", "\t"),
        "spaces": "\n".join(LINES).replace(",", " "),
        "mapping.json": json.dumps(BY),
    }.items(),
)
def test_slices_are_read_from_files(call: Call, folder: Path, ndcg: Metric, name: str, content: str) -> None:
    (folder / name).write_text(content)
    saved = saved_report(call("score qrels.txt main.txt -k 5 -o json --by", name)[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()


def test_slices_come_through_pipes_and_compressed_like_other_files(call: Call, folder: Path) -> None:
    content = "\n".join(LINES).replace(",", " , ").encode()
    (folder / "by.csv").write_bytes(content)
    (folder / "by.csv.gz").write_bytes(gzip.compress(content))
    command = "score qrels.txt main.txt -k 5 -o jsonl --by"
    expected = call(f"{command} by.csv")
    assert [json.loads(line).get("slice") for line in expected[1].splitlines()] == [None, "de", "en"]
    assert call(f"{command} by.csv.gz") == expected
    with pipe_of(content) as pipe:
        assert call(f"{command} {pipe}") == expected
    with pipe_of(content) as pipe, standard_input(pipe):
        assert call(f"{command} -") == expected
    with standard_input("by.csv.gz"):
        assert call(f"{command} /dev/stdin") == expected
    table = "\n".join(["topic,rank,language", *(line.replace(",", ",1,") for line in LINES)]).encode()
    with pipe_of(table) as pipe, standard_input(pipe):
        assert call(f"{command}=-:language") == expected


TOPICS = [{"title": f"text, of {query}", "language": value, "qid": query} for query, value in BY.items()]
ROWS = [list(TOPICS[0]), *(list(row.values()) for row in TOPICS)]
TABLES: dict[str, bytes] = {
    "topics.tsv": "\n".join(map("\t".join, ROWS)).encode(),
    "topics.csv": "\n".join(map(";".join, ROWS)).encode(),
    "topics.txt": "\n".join(map("\t".join, ROWS)).encode(),
    "topics.jsonl": "\n".join(map(json.dumps, TOPICS)).encode(),
    "topics.json": json.dumps(TOPICS).encode(),
    "a.parquet": as_parquet(pa.Table.from_pylist(TOPICS)),
}
THERE = "'title', 'language', 'qid'"


@pytest.mark.parametrize("name", TABLES)
def test_a_column_of_a_table_of_queries_is_chosen_by_its_name(
    call: Call, folder: Path, ndcg: Metric, name: str
) -> None:
    (folder / name).write_bytes(TABLES[name])
    saved = saved_report(call(f"score qrels.txt main.txt -k 5 -o json --by {name}:language")[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()
    said = f"ndcg score: --by {name}:genre: not a column of {name}, which has {THERE}\n"
    assert call(f"score qrels.txt main.txt -k 5 --by {name}:genre") == (2, "", said)


@pytest.mark.parametrize(
    "example",
    ["topics.tsv:title", "topics.csv:title", "topics.txt:title", "topics.jsonl:language", "a.parquet:language"],
)
def test_a_table_without_the_name_of_a_column_is_answered_with_an_example(
    call: Call, folder: Path, example: str
) -> None:
    name = example.partition(":")[0]
    (folder / name).write_bytes(TABLES[name])
    problem = f"{name}: has the columns {THERE}; choose the one of slices, such as --by {example}"
    assert call(f"score qrels.txt main.txt -k 5 --by {name}") == (2, "", f"ndcg score: {problem}\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    {
        "q0,en,1\n": "by: has no header with a column of queries: line 1 is 'q0', 'en', '1'; name the columns there, "
        "such as query_id",
        "qid,x,y\nq0,a\n": "by: line 2: 2 columns; the first line has 3",
        "q0\n": "by: line 1: 1 column; give a query and its slice",
        '{"q0": "en"}': "--by by:y: by maps queries to slices; give --by by",
    }.items(),
)
def test_a_file_of_slices_without_the_column_is_rejected(call: Call, folder: Path, content: str, problem: str) -> None:
    (folder / "by").write_text(content)
    by = "by" if content == "q0\n" else "by:y"
    assert call(f"score qrels.txt main.txt -k 5 --by {by}") == (2, "", f"ndcg score: {problem}\n")


@pytest.mark.parametrize("content", ["\n".join(LINES), json.dumps(BY)], ids=["lines", "JSON"])
def test_utf16_is_rejected_by_name(call: Call, folder: Path, content: str) -> None:
    (folder / "by").write_bytes(content.encode("utf-16"))
    said = "ndcg score: by: is text in UTF-16; save the file in UTF-8\n"
    assert call("score qrels.txt main.txt --by by") == (2, "", said)


@pytest.mark.parametrize("length", [2, 2 << 20], ids=["small", "larger than a block of Arrow"])
def test_a_mapping_has_no_columns(call: Call, folder: Path, length: int) -> None:
    (folder / "qrels.json").write_text(json.dumps({"q0": QRELS["q0"], "q1": {"d" * length: 1}}))
    said = "ndcg score: --by nosuch: neither a file nor a column of qrels.json, which has none\n"
    assert call("score qrels.json main.txt --by nosuch") == (2, "", said)


JUDGED = [
    {"member": query, "film": document, "stars": stars, "lang": BY[query]}
    for query, judged in QRELS.items()
    for document, stars in judged.items()
]
CELLS = [list(JUDGED[0]), *(list(map(str, row.values())) for row in JUDGED)]


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "table.csv": "\n".join(map(",".join, CELLS)).encode(),
        "padded.csv": "\n".join(map(", ".join, CELLS)).encode(),
        "table.jsonl": "\n".join(map(json.dumps, JUDGED)).encode(),
        "table.json": json.dumps(JUDGED).encode(),
        "table.parquet": as_parquet(pa.Table.from_pylist(JUDGED)),
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_slices_and_ids_are_read_from_columns_of_the_qrels(
    call: Call, folder: Path, ndcg: Metric, name: str, content: bytes
) -> None:
    (folder / name).write_bytes(content)
    names = "--query member --document film --relevance stars --by lang"
    saved = saved_report(call(f"score {name} main.txt -k 5 -o json {names}")[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()
    assert call(f"score {name} main.txt {names.replace('lang', 'genre')}")[2].endswith(
        f"--by genre: neither a file nor a column of {name}, which has 'member', 'film', 'stars', 'lang'\n"
    )
