"""Uploads: the page reads the metric's formats, within limits; an error is one sentence that names the file."""

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from page import results
from page.metric import ndcg
from page.results import check_size, read_batch, read_groups, read_upload

RUN = {"q1": {"d1": 2.0, "ä": 1.5}, "q2": {"d1": -3.0}}
QRELS = {"q1": {"d1": 1, "x": 0}, "q2": {"d2": 2}}


def rows(values: Any) -> list[tuple[str, str, Any]]:
    return [(query, document, value) for query, documents in values.items() for document, value in documents.items()]


def table(values: Any, name: str) -> pa.Table:
    return pa.table(dict(zip(("query", "document", name), zip(*rows(values), strict=True), strict=True)))


def trec(values: Any, name: str) -> bytes:
    layout = "{} Q0 {} 1 {} tag\n" if name == "score" else "{} 0 {} {}\n"
    return "".join(layout.format(*row) for row in rows(values)).encode()


def jsonl(values: Any, name: str) -> bytes:
    return "".join(
        json.dumps(dict(zip(("qid", "docid", name), row, strict=True))) + "\n" for row in rows(values)
    ).encode()


def written(write: Callable[[pa.Table, Any], None], values: Any, name: str) -> bytes:
    sink = pa.BufferOutputStream()
    write(table(values, name), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


FORMS: dict[str, Callable[[Any, str], bytes]] = {
    "file.trec": trec,
    "file.txt.gz": lambda values, name: gzip.compress(trec(values, name)),
    "file.txt.zst": lambda values, name: pa.compress(trec(values, name), "zstd", asbytes=True),
    "file.json": lambda values, name: json.dumps(values).encode(),
    "mteb.json": lambda values, name: json.dumps({"mteb_model_meta": {}, "default": {"test": values}}).encode(),
    "file.jsonl": jsonl,
    "file.csv": lambda values, name: written(pa.csv.write_csv, values, name),
    "file.tsv": lambda values, name: written(pa.csv.write_csv, values, name).replace(b",", b"\t"),
    "file.parquet": lambda values, name: written(pa.parquet.write_table, values, name),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "values", "name"), [("run", RUN, "score"), ("qrels", QRELS, "relevance")])
def test_the_page_reads_what_the_metric_reads(tmp_path: Path, form: str, kind: str, values: Any, name: str) -> None:
    (tmp_path / form).write_bytes(FORMS[form](values, name))
    read = {"run": ndcg.read_run, "qrels": ndcg.read_qrels}[kind]
    assert read_upload(str(tmp_path / form), kind) == read(tmp_path / form) == values


WRONG: dict[str, tuple[str, bytes, str]] = {
    "a value that is no number": ("a.trec", b"q1 Q0 d1 1 high tag\n", "line 1: the score 'high' is not a number"),
    "a document twice": ("a.csv", b"query,document,score\nq,d,1\nq,d,2\n", "line 3: document 'd' of query 'q'"),
    "no JSON": ("a.json", b'{"q": {"d": 1}', "line 1, column 15: not JSON"),
    "too deep": ("a.json", b'{"q":' * 100_000, "nests objects too deep"),
    "half a gzip": ("a.json.gz", gzip.compress(b'{"q": {"d": 1}}' * 99)[:-20], "Truncated"),
    "no Parquet": ("a.parquet", b"PAR1", "Parquet"),
    "nothing": ("a.trec", b"", "holds no scores"),
    "a name of several lines": ("a\nb\x1b.trec", b"", "holds no scores"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_error_is_one_sentence_with_the_name_of_the_file(tmp_path: Path, case: str) -> None:
    name, content, message = WRONG[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_upload(str(tmp_path / name), "run")
    assert str(caught.value).startswith(name.replace("\n", "\ufffd").replace("\x1b", "\ufffd") + ": ")
    assert str(tmp_path) not in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("read", [lambda path: read_upload(path, "run"), read_batch])
def test_nothing_is_opened_but_a_file(tmp_path: Path, read: Callable[[str], Any]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "link", "pipe", "nothing"):
        with pytest.raises(ValueError, match=f"^{name}: is not a file$"):
            read(str(tmp_path / name))


def test_the_limits_of_the_page_hold_in_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ({"bytes": 10}, {"uncompressed": 10}, {"rows": 2}, {"queries": 1}):
        monkeypatch.setattr(results, "LIMITS", ndcg.Limits(**limit))
        for form, content in FORMS.items():
            (tmp_path / form).write_bytes(content(RUN, "score"))
            with pytest.raises(ValueError, match=f"^{form}: holds more than"):
                read_upload(str(tmp_path / form), "run")


def test_lists_without_documents_count_as_queries() -> None:
    with pytest.raises(ValueError, match="holds more than 20,000 queries"):
        check_size([[]] * 20_001)


def test_a_batch_comes_as_json_or_as_csv(tmp_path: Path) -> None:
    lists = {"predictions": [[1, 2], [None]], "references": [[1, 0], [1]], "weights": [1, 2]}
    (tmp_path / "a.json").write_text(json.dumps({**lists, "other": 1}))
    assert read_batch(str(tmp_path / "a.json")) == lists
    flat = {"predictions": [1.5, None], "references": [0, 1], "query_ids": ["007", "2026-11-21"]}
    for name, delimiter in (("a.csv", ","), ("a.tsv", "\t")):
        lines = (
            ("Query_id", '"prediction"', "other", "reference"),
            ("007", "1.5", "x", "0"),
            ("2026-11-21", "", "", "1"),
        )
        (tmp_path / name).write_text("\ufeff" + "\r\n".join(map(delimiter.join, lines)), encoding="utf-8")
        assert read_batch(str(tmp_path / name)) == flat


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no predictions; it needs predictions and references"),
        (b"a,b\n1,2\n", "has no predictions"),
        (b"prediction,reference", "has no predictions"),
        (b"prediction,reference\n2026-01-01,1\n", "2026-01-01"),
        (b"prediction,reference\n1,2,3\n", "Expected 2 columns, got 3"),
        (b"prediction,prediction\n1,2\n", "prediction"),
        (b"," * 99, "holds more than 50 columns"),
        (b"x" * 1_000_000, "has no predictions"),
        (b'"a\nb"' + b",c" * 99 + b"\n", "has no predictions"),
        (b"PAR1\xff", "is not text in UTF-8; give CSV or JSON"),
        (b'{"predictions": []}', "has no references"),
        (b'{"predictions": 1, "references": []}', "predictions must be a list; got int"),
        (b'{"predictions": [', "line 1, column 18: not JSON"),
        (b"[1]", "must hold an object"),
        (b'{"predictions":' + b"[" * 100_000, "nests lists too deep"),
        (b" " * 20_000_001, "holds more than 20,000,000 bytes"),
        (b"prediction,reference\n" + b"1,1\n" * 500_001, "holds more than 500,000 rows"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_batch_that_cannot_be_read_is_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(ValueError, match=f"^b: .*{message}") as caught:
        read_batch(str(tmp_path / "b"))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1,de\nq2,fr,x\n", "line 2: 3 columns; the first line has 2"),
        (
            "q1,de\nq2,fr\nq1,fr\n",
            "row 2 (from 0): query 'q1' is in slice 'fr', but in 'de' before; give each query one",
        ),
        ("q1,de\n", "has no group for query 'q2' (1 such queries)"),
        ("q1," + "d" * 200_000, "line 1: field larger than field limit"),
    ],
    ids=["three columns", "two groups", "no group", "a long cell"],
)
def test_groups_that_do_not_fit_are_rejected(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"groups.csv: {said}")):
        read_groups(str(path), ["q1", "q2"])


@pytest.mark.parametrize("text", ["query,group\nq1,de\nq2,fr\n", "q1\tde\nq2\tfr\n", "q1,de\n\nq2,fr\nq3,it"])
def test_groups_are_read_by_query(tmp_path: Path, text: str) -> None:
    path = tmp_path / "groups.txt"
    path.write_text(text)
    assert read_groups(str(path), ["q2", "q1"]) == {"q2": "fr", "q1": "de"}
