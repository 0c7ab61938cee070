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
    said = f"ndcg score: {name}: has the columns {THERE}, but not 'genre'\n"
    assert call(f"score qrels.txt main.txt -k 5 --by {name}:genre") == (2, "", said)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_the_name_of_a_column_is_answered_with_an_example(call: Call, folder: Path, name: str) -> None:
    (folder / name).write_bytes(TABLES[name])
    problem = f"{name}: has the columns {THERE}; choose the one of slices, such as {name}:title"
    assert call(f"score qrels.txt main.txt -k 5 --by {name}") == (2, "", f"ndcg score: {problem}\n")


@pytest.mark.parametrize(
    ("content", "problem"),
    {
        "q0,en,1\n": "slices: line 1: 3 columns, none of which is called a query; give a query and its slice, or name "
        "the columns, such as query_id",
        "qid,x,y\nq0,a\n": "slices: line 2: 2 columns; the first line has 3",
        "q0\n": "slices: line 1: 1 column, none of which is called a query; give a query and its slice, or name the "
        "columns, such as query_id",
        "": "slices: holds no slices",
        "qid,y\nq0,en\nq0,de": "slices: row 1 (from 0): query 'q0' is in slice 'de', but in 'en' before; give each "
        "query one slice",
        "[]": "slices: has no column of queries; name it query_id",
        '[{"topics": "q0", "y": "en"}]': "slices: has no column of queries; name it query_id",
        '{"q0": "en"}': "slices: maps queries to slices, so it has no column 'y'; give slices",
    }.items(),
)
def test_a_file_of_slices_without_the_column_is_rejected(call: Call, folder: Path, content: str, problem: str) -> None:
    (folder / "slices").write_text(content)
    assert call("score qrels.txt main.txt -k 5 --by slices:y") == (2, "", f"ndcg score: {problem}\n")


@pytest.mark.parametrize("content", ["\n".join(LINES), json.dumps(BY)], ids=["lines", "JSON"])
def test_utf16_is_rejected_by_name(call: Call, folder: Path, content: str) -> None:
    (folder / "by").write_bytes(content.encode("utf-16"))
    said = "ndcg score: by: is text in UTF-16; save the file in UTF-8\n"
    assert call("score qrels.txt main.txt --by by") == (2, "", said)


@pytest.mark.parametrize("by", ["topics.csv:language", "language"])
def test_python_takes_the_same_names_of_slices_next_to_files(folder: Path, ndcg: Metric, by: str) -> None:
    rows = [f"{query},{d},{r},{BY[query]}" for query, judged in QRELS.items() for d, r in judged.items()]
    (folder / "topics.csv").write_text("\n".join(["query,document,relevance,language", *rows]))
    found = ndcg.report(predictions="main.txt", references="topics.csv", k=5, by=by)
    assert found.to_dict() == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()
    with pytest.raises(
        ValueError, match=r"^by: topics.csv: has the columns .*, but not 'x', and there is no such file$"
    ):
        ndcg.report(predictions="main.txt", references="topics.csv", by="x")


@pytest.mark.parametrize("length", [2, 2 << 20], ids=["small", "larger than a block of Arrow"])
def test_a_mapping_has_no_columns(call: Call, folder: Path, length: int) -> None:
    (folder / "qrels.json").write_text(json.dumps({"q0": QRELS["q0"], "q1": {"d" * length: 1}}))
    said = "ndcg score: qrels.json: has no columns, and there is no file 'nosuch'\n"
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
        f"{name}: has the columns 'member', 'film', 'stars', 'lang', but not 'genre', and there is no such file\n"
    )
