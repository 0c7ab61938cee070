"""Uploads: the page reads the metric's formats, within limits.

An error is one sentence that names the file.
"""

import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from refusals import refusal
from sources import FILES as EITHER_SIDE
from sources import PACKED
from sources import QRELS_FILES as QRELS
from sources import RUN_FILES as RUNS

from page import reading
from page.batch import read_batch
from page.metric import ndcg
from page.reading import read_groups, read_upload

RUN = {"q1": {"d1": 2.0, "ä": 1.5}, "q2": {"d1": -3.0}}
# Arrow files do not say how much they unpack to
FORMS = {name: write for name, write in EITHER_SIDE.items() if not name.endswith(".arrow")}


@pytest.mark.parametrize(("kind", "forms"), [("run", RUNS), ("judgments", QRELS)])
def test_the_page_reads_what_the_metric_reads(
    tmp_path: Path, kind: str, forms: dict[str, Any]
) -> None:
    read = {"run": ndcg.read_run, "judgments": ndcg.read_qrels}[kind]
    for name, write in {**forms, **FORMS}.items():
        for ending, pack in PACKED.items():
            path = tmp_path / f"{name}{ending}"
            path.write_bytes(pack(write(RUN)))
            assert read_upload(str(path), kind, {}) == read(path) == RUN, path.name


@pytest.mark.parametrize(
    "limit", [{"bytes": 10}, {"uncompressed": 10}, {"rows": 2}, {"queries": 1}]
)
def test_the_limits_of_the_page_hold_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: dict[str, int]
) -> None:
    monkeypatch.setattr(reading, "LIMITS", ndcg.Limits(**limit))
    for name, write in {**RUNS, **FORMS}.items():
        (tmp_path / name).write_bytes(write(RUN))
        with refusal(name):
            read_upload(str(tmp_path / name), "run", {})


READERS = {
    "run": lambda path: read_upload(path, "run", {}),
    "judgments": lambda path: read_upload(path, "judgments", {}),
    "batch": read_batch,
    "groups": read_groups,
}


@pytest.mark.parametrize("role", READERS)
def test_nothing_is_opened_but_a_file(tmp_path: Path, role: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "link", "pipe", "nothing"):
        with pytest.raises(ValueError, match=f"^{name}: is not a file$"):
            READERS[role](str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("a.trec", b"q1 Q0 d1 1 high tag\n", ["line 1"]),
        ("a.txt", b"0.5\n", []),
        ("a.csv", b"query,document,score\nq,d,1\nq,d,2\n", ["line 3", "document 'd' of query 'q'"]),
        ("a.json", b'{"q": {"d": 1}', ["line 1, column 15"]),
        ("a.json", b'{"q":' * 100_000, []),
        ("a.json.gz", gzip.compress(b'{"q": {"d": 1}}' * 99)[:-20], []),
        ("a.parquet", b"PAR1", []),
        ("a.csv", b"," * 99, []),
        ("a\nb\x1b.trec", b"", []),
    ],
    ids=[
        "text",
        "scores alone",
        "twice",
        "cut short",
        "too deep",
        "truncated",
        "no table",
        "too many columns",
        "empty",
    ],
)
def test_an_error_is_one_sentence_with_the_name_of_the_file(
    tmp_path: Path, name: str, content: bytes, places: list[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    shown = name.replace("\n", "\ufffd").replace("\x1b", "\ufffd")
    with refusal(shown, *places) as caught:
        read_upload(str(tmp_path / name), "run", {})
    sentence = str(caught.value)
    assert str(tmp_path) not in sentence
    assert sentence.isprintable()


@pytest.mark.parametrize(
    "text", ["query,group\nq1,de\nq2,fr\n", "q1\tde\nq2\tfr\n", "q1,de\n\nq2,fr"]
)
def test_groups_are_read_by_query(tmp_path: Path, text: str) -> None:
    (tmp_path / "groups.txt").write_text(text)
    assert read_groups(str(tmp_path / "groups.txt")) == {"q2": "fr", "q1": "de"}


@pytest.mark.parametrize(
    ("text", "line"),
    [("q1,de\nq2,fr,x\n", "line 2"), ("q1," + "d" * 200_000, "line 1")],
    ids=["three columns", "a long cell"],
)
def test_groups_that_cannot_be_read_are_one_sentence(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "groups.csv").write_text(text)
    with refusal("groups.csv", line):
        read_groups(str(tmp_path / "groups.csv"))
