"""Every format has the same numbers, and none has characters that move the cursor."""

import csv
import io
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from shells import QUERIES, Call
from shells import call as call
from shells import folder as folder


def test_programs_read_the_same_numbers_in_every_format(call: Call) -> None:
    how = "score qrels.txt main.txt -k 5 -q -o"
    lines = [json.loads(line) for line in call(f"{how} jsonl")[1].splitlines()]
    assert [line["query"] for line in lines] == [*QUERIES, "all"]
    rows = list(csv.DictReader(io.StringIO(call(f"{how} tsv")[1]), delimiter="\t"))
    assert [float(row["nDCG@5"]) for row in rows] == [line["nDCG@5"] for line in lines]
    markdown = [line for line in call(f"{how} markdown")[1].splitlines() if line.startswith("| q")]
    assert markdown[1:] == [f"| {line['query']} | {line['nDCG@5']:.4f} |" for line in lines[:-1]]
    latex = re.findall(r"^(\S+) & (\S+) \\\\$", call(f"{how} latex")[1], re.MULTILINE)
    assert latex[1:] == [(line["query"], f"{line['nDCG@5']:.4f}") for line in lines]


def test_junit_has_a_case_for_each_measure(call: Call) -> None:
    suite = ElementTree.fromstring(
        call("gate qrels.txt main.txt worse.txt -m nDCG@5,IDCG@5 -o junit")[1]
    )
    failures = {case.get("name"): case.findall("failure") for case in suite}
    said = {case.get("name"): case.findtext("system-out") for case in suite}
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["2", "1", "0"]
    assert failures["IDCG@5"] == []
    (message,) = (str(each.get("message")) for each in failures["nDCG@5"])
    assert re.fullmatch(r"nDCG@5 dropped by 0\.\d+: significant, p \(Holm\) [<0][.\d]+", message)
    assert said == {"nDCG@5": None, "IDCG@5": "IDCG@5 did not drop by more than 0.01"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("qrels.txt main.txt nothere.txt", "nothere.txt: No such file or directory"),
        (
            "qrels.txt main.txt worse.txt -m IDCG@5 --max-drop -1",
            "--max-drop must be a finite number, at least 0",
        ),
        ("qrels.txt main.txt worse.txt --signature", "--signature has no test cases for -o junit"),
    ],
)
def test_junit_has_an_error_if_a_gate_cannot_decide(
    call: Call, arguments: str, problem: str
) -> None:
    status, printed, said = call(f"gate {arguments} -o junit")
    suite = ElementTree.fromstring(printed)
    (error,) = suite.findall("testcase/error")
    assert status == 2
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["1", "0", "1"]
    assert str(error.get("message")).startswith(problem)
    assert said == f"ndcg gate: {error.get('message')}\n"


def test_a_terminal_gets_tables_of_rich(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = call("score qrels.txt main.txt -k 5")[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    rich = call("score qrels.txt main.txt -k 5")[1]
    assert "───" in rich
    lines = [
        line.split() for line in re.sub(r"\x1b\[[\d;]*m", "", rich).splitlines() if "─" not in line
    ]
    assert [line for line in lines if line] == [line.split() for line in plain.splitlines() if line]
    monkeypatch.setitem(sys.modules, "rich", None)  # importing it fails
    assert call("score qrels.txt main.txt -k 5")[1] == plain


IDS = ["a\x1b[31mb\x00", "b\x9b2J", "c\x7f", "q\t2\n"]


def test_ids_that_do_not_print_are_spelled_out(call: Call, folder: Path) -> None:
    for name, value in (("qrels", 1), ("run", 1.0), ("main", 0.5)):
        (folder / f"{name}.json").write_text(
            json.dumps({query: {query: value, "d": 0} for query in IDS})
        )
    score, compare = "score qrels.json run.json -q", "compare qrels.json run.json main.json"
    for command in (score, compare):
        for format_ in ("text", "markdown", "latex", "tsv", "jsonl", "json"):
            status, printed, said = call(f"{command} -o {format_}")
            assert (status, said) == (0, "")
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", printed)
    header, *rows = call(f"{score} -o tsv")[1].splitlines()
    assert [row.split("\t")[1] for row in rows] == [
        *(each.encode("unicode_escape").decode() for each in IDS),
        "all",
    ]
    assert {row.count("\t") for row in rows} == {header.count("\t")}
    assert json.loads(call(f"{score} -o json")[1])["queries"]["query"] == IDS


@pytest.mark.parametrize("encoding", ["ascii", "cp850"])
def test_a_console_that_has_no_dash_gets_a_hyphen(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    (folder / "qrels.json").write_text(
        json.dumps({"Straße": {"d": 1}, "東": {"d": 1}}), encoding="utf-8"
    )
    terminal = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(terminal, encoding=encoding))
    assert call("score qrels.txt main.txt -k 5")[::2] == (0, "")
    assert re.search(rb"0\.\d{4} - 0\.\d{4}", terminal.getvalue())
    assert call("score qrels.json qrels.json -q")[::2] == (0, "")
    shown = terminal.getvalue().decode(encoding)
    assert re.search(r"^Stra(\?|ß)e +1\.0000\r?\n\? +1\.0000", shown, re.MULTILINE)


def test_a_terminal_of_40_columns_gets_narrow_tables(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = json.loads(call("compare qrels.txt main.txt worse.txt -k 5 -o jsonl")[1])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    for command in (
        "score qrels.txt main.txt -k 5,10",
        "compare qrels.txt main.txt worse.txt -k 5 --worst 2",
    ):
        lines = re.sub(r"\x1b\[[\d;]*m", "", call(command)[1]).splitlines()
        assert not [
            line for line in lines if len(line.rstrip()) > 40 and not line.startswith("Signature")
        ]
    assert "measure: nDCG@5" in lines
    assert f" difference from main  {found['difference']:+.4f}" in lines
    lowest = call("score qrels.txt worse.txt -k 1 --worst 1")[1]
    assert lowest.count("lowest queries of worse: ") == 1  # whose documents follow one another
    assert lowest.count(" documents  ") > 1
