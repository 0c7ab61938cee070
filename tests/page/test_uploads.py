"""Uploads: every form gives the same mappings, and what is wrong is one sentence that names the file."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from page import uploads
from page.uploads import UploadError, read_columns, read_upload

RUN = {"q1": {"d1": 2.0, "ä": 1.5}, "q2": {"d1": -3.0}}
QRELS = {"q1": {"d1": 1, "x": 0}, "q2": {"d2": 2}}


def table(values: Any, name: str) -> pa.Table:
    rows = [(query, document, value) for query, documents in values.items() for document, value in documents.items()]
    return pa.table(dict(zip(("query", "document", name), zip(*rows, strict=True), strict=True)))


def trec(values: Any, name: str) -> str:
    lines = [(query, document, value) for query, documents in values.items() for document, value in documents.items()]
    if name == "score":
        return "".join(f"{query} Q0 {document} 1 {value} tag\n" for query, document, value in lines)
    return "".join(f"{query} 0 {document} {value}\n" for query, document, value in lines)


FORMS: dict[str, Callable[[Path, Any, str], None]] = {
    "file.trec": lambda path, values, name: path.write_text(trec(values, name), encoding="utf-8") and None,
    "file.txt.gz": lambda path, values, name: path.write_bytes(gzip.compress(trec(values, name).encode())) and None,
    "file.json": lambda path, values, name: path.write_text(json.dumps(values)) and None,
    "file.JSON": lambda path, values, name: path.write_text(json.dumps(values)) and None,
    "file.csv": lambda path, values, name: pyarrow.csv.write_csv(table(values, name), path),
    "file.parquet": lambda path, values, name: pyarrow.parquet.write_table(table(values, name), path),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "values", "name"), [("run", RUN, "score"), ("qrels", QRELS, "relevance")])
def test_every_form_gives_the_same(tmp_path: Path, form: str, kind: str, values: Any, name: str) -> None:
    FORMS[form](tmp_path / form, values, name)
    assert read_upload(str(tmp_path / form), kind) == values


WRONG: dict[str, tuple[str, bytes, str]] = {
    "a value that is no number": ("a.trec", b"q1 Q0 d1 1 high tag\n", "line 1.*high"),
    "a document twice": ("a.trec", b"q1 Q0 d1 1 1 tag\nq1 Q0 d1 1 2 tag\n", "line 2"),
    "a document twice in a table": (
        "a.csv",
        b"query,document,score\nq,d,1\nq,d,2\n",
        "line 3: document 'd' of query 'q'",
    ),
    "a missing value": ("a.csv", b"query,document,score\nq,d,\nq,e,2\n", "line 2: a value is missing"),
    "a missing column": ("a.csv", b"query,doc,value\nq,d,1\n", "no column 'document_id'.*it has doc, query, value"),
    "text for numbers": ("a.csv", b"query,document,score\nq,d,high\n", "column 'score' must hold numbers"),
    "a query twice": ("a.json", b'{"q": {"a": 1}, "q": {"b": 2}}', "'q' is there twice in one object"),
    "a document twice in JSON": ("a.json", b'{"q": {"a": 1, "b": 3, "a": 9}}', "'a' is there twice in one object"),
    "no JSON": ("a.json", b'{"q": {"d": 1}', "line 1, column 15: not JSON"),
    "another JSON": ("a.json", b"[1]", "must be an object"),
    "another JSON within": ("a.json", b'{"q": [1]}', "query 'q': must be an object"),
    "text in JSON": ("a.json", b'{"q": {"d": "1"}}', "document 'd': '1' is not a number"),
    "a truth value in JSON": ("a.json", b'{"q": {"d": true}}', "True is not a number"),
    "no Unicode": ("a.json", b"\xff\xfe{", "a.json"),
    "no gzip": ("a.json.gz", b"{}", "a.json.gz"),
    "half a gzip": ("a.json.gz", gzip.compress(b'{"q": {"d": 1}}' * 99)[:-20], "a.json.gz"),
    "no Parquet": ("a.parquet", b"PAR1", "a.parquet"),
    "nothing": ("a.trec", b"", "a.trec"),
    "too many columns": ("a.csv", b"," * 99, "100 columns; three are read"),
    "a column twice": ("a.csv", b"query,Query ,document,score\nq,q,d,1\n", "two columns 'query'"),
    "many columns after an empty line": ("a.csv", b"\n" + b"c," * 99_999 + b"c\n1\n", "100,000 columns"),
    "many columns on two lines": ("a.csv", b'"a\nb"' + b",c" * 99 + b"\n", "100 columns"),
    "a column twice after an empty line": ("a.csv", b"\nquery,query,document,score\nq,q,d,1\n", "two columns 'query'"),
    "half a character": ("a.json", b'{"q": {"\\ud800": 1}}', "an id must be Unicode"),
    "no documents": ("a.json", b'{"q": {}}', "it holds no documents"),
    "too deep": ("a.json", b'{"q":' * 100_000, "a.json"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, case: str) -> None:
    name, content, message = WRONG[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UploadError, match=message) as caught:
        read_upload(str(tmp_path / name), "run")
    assert str(caught.value).startswith(f"{name}: ")
    assert str(tmp_path) not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("BYTES", 10, "more than 0 MB"),
        ("ROWS", 2, "3 rows, more than the 2 of this page"),
        ("QUERIES", 1, "2 queries, more than the 1"),
    ],
)
def test_every_limit_holds_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, message: str
) -> None:
    monkeypatch.setattr(uploads, limit, value)
    for form, write in FORMS.items():
        write(tmp_path / form, RUN, "score")
        with pytest.raises(UploadError, match=re.escape(message)):
            read_upload(str(tmp_path / form), "run")


def test_what_is_packed_is_not_unpacked_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "UNPACKED", 1_000_000)
    (tmp_path / "a.run.gz").write_bytes(gzip.compress(b"\0" * 10_000_000))
    assert (tmp_path / "a.run.gz").stat().st_size < 20_000
    with pytest.raises(UploadError, match="unpacked it has more than 1 MB"):
        read_upload(str(tmp_path / "a.run.gz"), "run")


def test_parquet_is_not_unpacked_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "UNPACKED", 1_000_000)
    same = pa.DictionaryArray.from_arrays(pa.array(np.zeros(5000, np.int32)), ["q" * 3000])
    table = pa.table({"query": same, "document": list(map(str, range(5000))), "score": np.ones(5000)})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", store_schema=False, compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    with pytest.raises(UploadError, match="unpacked it has more than 1 MB"):
        read_upload(str(tmp_path / "a.parquet"), "run")


def test_lines_may_end_as_on_old_macs_and_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_bytes(b"query,document,score\rq,d,1\rq,e,2\r")
    assert read_upload(str(tmp_path / "a.csv"), "run") == {"q": {"d": 1, "e": 2}}
    monkeypatch.setattr(uploads, "ROWS", 1)
    with pytest.raises(UploadError, match="rows, more than the 1"):
        read_upload(str(tmp_path / "a.csv"), "run")


def test_lists_without_documents_count_as_queries(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"predictions": [[]] * 20_001, "references": []}))
    with pytest.raises(UploadError, match="20,001 queries, more than the 20,000"):
        read_columns(str(tmp_path / "a.json"))


def test_a_batch_comes_as_json_or_as_a_table(tmp_path: Path) -> None:
    lists = {"predictions": [[1, 2], [None]], "references": [[1, 0], [1]], "weights": [1, 2]}
    (tmp_path / "a.json").write_text(json.dumps({**lists, "other": 1}))
    assert read_columns(str(tmp_path / "a.json")) == lists
    (tmp_path / "a.csv").write_text("query_id,prediction,reference\na,1.5,0\nb,,1\n")
    flat = {"predictions": [1.5, None], "references": [0, 1], "query_ids": ["a", "b"]}
    assert read_columns(str(tmp_path / "a.csv")) == flat
    for name, content, message in (
        ("b.txt", "1", "give JSON, CSV or Parquet"),
        ("b.json", '{"predictions": []}', "no references"),
        ("b.json", '{"predictions": 1, "references": []}', "predictions must be a list; got int"),
        ("b.csv", "prediction,reference\n2020-01-01,1\n", "predictions must be numbers or text, not dates"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(UploadError, match=f"^{name}: .*{message}"):
            read_columns(str(tmp_path / name))


def test_ids_in_a_table_are_text_whatever_they_look_like(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query,document,score\n007,2026-11-21,1\n7,1.0,2\n")
    found = read_upload(str(tmp_path / "a.csv"), "run")
    assert found == {"007": {"2026-11-21": 1}, "7": {"1.0": 2}}
    (tmp_path / "b.csv").write_text("query_id,prediction,reference\n2026-11-21,1,0\n2026-11-21,2,1\n")
    assert read_columns(str(tmp_path / "b.csv"))["query_ids"] == ["2026-11-21"] * 2


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_line_of_a_table_may_be_as_long_as_the_file(tmp_path: Path, delimiter: str) -> None:
    long = "x" * 2_500_000
    rows = [("query", "document", "score"), ("007", "d", "1"), ("007", long, "2"), ("08", "d", "3")]
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    path = tmp_path / ("a.csv" if delimiter == "," else "a.tsv")
    for content in (text, "\ufeff" + text):
        path.write_text(content, encoding="utf-8")
        found = read_upload(str(path), "run")
        assert found == {"007": {"d": 1, long: 2}, "08": {"d": 3}}
