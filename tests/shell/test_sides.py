"""Files are read once, also from standard input, and runs have names."""

import json
from pathlib import Path
from typing import Any

import pytest
from shells import Call
from shells import call as call
from shells import environment as environment
from shells import folder as folder
from shells import shell as shell


@pytest.mark.parametrize(("name", "shown"), [("query.txt", "query.txt"), ("difference", "./difference")])
def test_a_run_may_have_the_name_of_a_column(call: Call, folder: Path, name: str, shown: str) -> None:
    (folder / "worse.txt").rename(folder / name)
    status, printed, _ = call(f"compare qrels.txt main.txt {name} -o json")
    assert status == 0
    assert {pair["system"] for pair in json.loads(printed)["pairs"]} == {shown}


def test_standard_input_is_read_where_a_file_is_called_dash(shell: Any, call: Call) -> None:
    found = shell("gzip -c main.txt | ndcg score qrels.txt - -k 5 -o json")
    assert found.stderr == ""
    assert json.loads(found.stdout) == json.loads(call("score qrels.txt main.txt -k 5 -o json")[1])
