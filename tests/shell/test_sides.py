"""Files are read once, also from standard input, and runs have names."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from shells import WORSE, Call, pipe_of, standard_input
from shells import call as call
from shells import folder as folder


@pytest.mark.parametrize(
    ("name", "shown"), [("query.txt", "query.txt"), ("difference", "./difference")]
)
def test_a_run_may_have_the_name_of_a_column(
    call: Call, folder: Path, name: str, shown: str
) -> None:
    (folder / "worse.txt").rename(folder / name)
    printed = call(f"compare qrels.txt main.txt {name} -o json")[1]
    assert {pair["system"] for pair in json.loads(printed)["pairs"]} == {shown}


def test_a_run_may_have_an_order_of_its_own(call: Call, folder: Path) -> None:
    rows = [
        f"{query},{document},{-score}"
        for query, run in WORSE.items()
        for document, score in run.items()
    ]
    (folder / "near.csv").write_text("\n".join(["query,document,distance", *rows]))
    found = json.loads(
        call("compare qrels.txt main.txt near.csv --score-order near=ascending -o json")[1]
    )
    expected = json.loads(call("compare qrels.txt main.txt worse.txt -o json")[1])
    assert found["scores"] == {
        "main": expected["scores"]["main"],
        "near": expected["scores"]["worse"],
    }


def test_standard_input_is_read_where_a_file_is_called_dash(call: Call, folder: Path) -> None:
    expected = json.loads(call("score qrels.txt main.txt -k 5 -o json")[1])
    with pipe_of(gzip.compress((folder / "main.txt").read_bytes())) as pipe, standard_input(pipe):
        assert json.loads(call("score qrels.txt - -k 5 -o json")[1]) == expected


def test_a_folder_of_parquet_files_is_a_run(call: Call, folder: Path) -> None:
    (folder / "parts").mkdir()
    table = pa.table({"qid": ["q0"], "docno": ["d0"], "score": [0.5]})
    pyarrow.parquet.write_table(table, folder / "parts" / "part-0.parquet")
    (folder / "judged.txt").write_text("q0 0 d0 1\n")
    for name in ("parts", "parts/"):
        printed = call(f"score judged.txt {name} -o tsv")[1].splitlines()[1]
        assert printed.split("\t")[:5] == ["parts", "nDCG", "1", "0", "1.0"]
