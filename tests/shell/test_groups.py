"""Slices are read from files, pipes and columns."""

import gzip
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from evaluate import Metric
from refusals import refusal
from shells import (
    BY,
    LINES,
    MAIN,
    QRELS,
    QUERIES,
    WORSE,
    Call,
    json_lines,
    pipe_of,
    saved_report,
    standard_input,
)
from shells import call as call
from shells import folder as folder
from sources import as_parquet

SCORE = "score qrels.txt main.txt -k 5"
TOPICS = [
    {"title": f"text, of {query}", "language": value, "qid": query} for query, value in BY.items()
]
ROWS = [list(TOPICS[0]), *(list(row.values()) for row in TOPICS)]
TABLES: dict[str, bytes] = {
    "topics.tsv": "\n".join(map("\t".join, ROWS)).encode(),
    "topics.csv": "\n".join(map(";".join, ROWS)).encode(),
    "topics.jsonl": "\n".join(map(json.dumps, TOPICS)).encode(),
    "topics.json": json.dumps(TOPICS).encode(),
    "a.parquet": as_parquet(pa.Table.from_pylist(TOPICS)),
}
FILES: dict[str, bytes] = {
    **{f"{name}:language": content for name, content in TABLES.items()},
    "header.csv": "\n".join(["query_id,language", *LINES]).encode(),
    "plain.csv": "\n".join(LINES).encode(),
    "spaces": "\n".join(LINES).replace(",", " ").encode(),
    "mapping.json": json.dumps(BY).encode(),
}


@pytest.mark.parametrize("by", FILES)
def test_slices_are_read_from_files(call: Call, folder: Path, ndcg: Metric, by: str) -> None:
    (folder / by.partition(":")[0]).write_bytes(FILES[by])
    saved = saved_report(call(f"{SCORE} -o json --by {by}")[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()


@pytest.mark.parametrize("name", TABLES)
def test_of_several_columns_one_of_the_table_is_needed(call: Call, folder: Path, name: str) -> None:
    (folder / name).write_bytes(TABLES[name])
    there = f"ndcg score: {name}: has the columns 'title', 'language', 'qid'"
    for by in (f"{name}:genre", name):
        words = f"{there}; choose the one of slices, FILE:COLUMN; got '{by}'\n"
        assert call(f"{SCORE} --by {by}") == (2, "", words)


def test_slices_come_through_pipes_and_compressed_like_other_files(
    call: Call, folder: Path
) -> None:
    content = "\n".join(LINES).replace(",", " , ").encode()
    (folder / "by.csv").write_bytes(content)
    (folder / "by.csv.gz").write_bytes(gzip.compress(content))
    command = f"{SCORE} -o jsonl --by"
    expected = call(f"{command} by.csv")
    rows = json_lines(expected[1])
    assert [(row.get("slice"), row.get("slices")) for row in rows] == [
        (None, None),
        ("de", None),
        ("en", None),
        (None, 2),
    ]
    with pipe_of(content) as pipe:
        assert call(f"{command} {pipe}") == expected
    with standard_input("by.csv.gz"):
        assert call(f"{command} /dev/stdin") == expected
    table = "\n".join(
        ["topic,rank,language", *(line.replace(",", ",1,") for line in LINES)]
    ).encode()
    with pipe_of(table) as pipe, standard_input(pipe):
        assert call(f"{command}=-:language") == expected


@pytest.mark.parametrize("by", ["topics.csv:language", "language"])
def test_python_takes_the_same_names_of_slices_next_to_files(
    folder: Path, ndcg: Metric, by: str
) -> None:
    rows = [
        f"{query},{d},{r},{BY[query]}" for query, judged in QRELS.items() for d, r in judged.items()
    ]
    (folder / "topics.csv").write_text("\n".join(["query,document,relevance,language", *rows]))
    inputs = {"predictions": "main.txt", "references": "topics.csv", "k": 5}
    expected = ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY)
    assert ndcg.report(**inputs, by=by).to_dict() == expected.to_dict()
    with refusal("by", "topics.csv"):
        ndcg.report(**inputs, by="x")


@pytest.mark.parametrize("length", [2, 2 << 20], ids=["small", "larger than a block of Arrow"])
def test_a_mapping_has_no_columns(call: Call, folder: Path, length: int) -> None:
    (folder / "qrels.json").write_text(json.dumps({"q0": QRELS["q0"], "q1": {"d" * length: 1}}))
    status, printed, said = call("score qrels.json main.txt --by nosuch")
    assert (status, printed) == (2, "")
    assert said.startswith("ndcg score: qrels.json: ")


JUDGED = [
    {"member": query, "film": document, "stars": stars, "lang": BY[query]}
    for query, judged in QRELS.items()
    for document, stars in judged.items()
]
CELLS = [list(JUDGED[0]), *(list(map(str, row.values())) for row in JUDGED)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("padded.csv", "\n".join(map(", ".join, CELLS)).encode()),
        ("table.jsonl", "\n".join(map(json.dumps, JUDGED)).encode()),
        ("table.parquet", as_parquet(pa.Table.from_pylist(JUDGED))),
    ],
    ids=["CSV", "JSON Lines", "Parquet"],
)
def test_slices_and_ids_are_read_from_columns_of_the_qrels(
    call: Call, folder: Path, ndcg: Metric, name: str, content: bytes
) -> None:
    (folder / name).write_bytes(content)
    command = (
        f"score {name} main.txt -k 5 -o json --query member --document film --relevance stars --by"
    )
    saved = saved_report(call(f"{command} lang")[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()
    (folder / "topics.csv").write_bytes(TABLES["topics.csv"])  # whose queries have a known name
    assert saved_report(call(f"{command} topics.csv:language")[1]) == saved
    rows = (
        f"{query},{document},{score}"
        for query, run in MAIN.items()
        for document, score in run.items()
    )
    (folder / "run.csv").write_text("\n".join(["reader,film,score", *rows]))
    pair = command.replace("main.txt", "run.csv").replace("--query member", "--query reader,member")
    assert saved_report(call(f"{pair} lang")[1]) == saved


def test_the_mean_of_slices_is_in_every_output(call: Call, folder: Path, ndcg: Metric) -> None:
    by = {**BY, QUERIES[-1]: None}
    (folder / "by.json").write_text(json.dumps(by))
    command = "qrels.txt main.txt worse.txt -k 5,10 --by by.json"
    reports = {
        name: ndcg.report(predictions=run, references=QRELS, k=[5, 10], by=by)
        for name, run in (("main", MAIN), ("worse", WORSE))
    }
    saved = json.loads(call(f"score {command} -o json")[1])
    rows = [row for row in json_lines(call(f"score {command} -o jsonl")[1]) if "slices" in row]
    printed = call(f"score {command}")[1]
    for name, report in reports.items():
        means = report.mean_of_slices.scores
        assert saved[name]["mean_of_slices"]["scores"] == {
            each: score._asdict() for each, score in means.items()
        }
        for measure, score in means.items():
            (row,) = (row for row in rows if (row["run"], row["measure"]) == (name, measure))
            figures = {
                "slices": 2,
                "queries": 39,
                "left_out": 0,
                "value": score.value,
                "low": score.low,
            }
            assert row.items() >= figures.items()
        cells = [
            f"{score.value:.4f}  {score.low:.4f} – {score.high:.4f}" for score in means.values()
        ]
        assert re.search(
            rf"^{name} +mean of slices +39  {'   '.join(cells)}$", printed, re.MULTILINE
        )
    comparison = ndcg.compare(
        systems={"main": MAIN, "worse": WORSE}, references=QRELS, k=[5, 10], by=by, baseline="main"
    )
    pairs = comparison.mean_of_slices.pairs
    found = [row for row in json_lines(call(f"compare {command} -o jsonl")[1]) if "slices" in row]
    assert [(row["measure"], row["slices"], row["difference"]) for row in found] == [
        (pair.measure, 2, pair.difference) for pair in pairs
    ]
    printed = call(f"compare {command} -o markdown")[1]
    for pair in pairs:
        assert (
            f"| mean of slices | 39 | {pair.measure} | worse | {pair.difference:+.4f} |" in printed
        )
