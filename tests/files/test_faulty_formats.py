"""Malformed JSON, CSV and Parquet files are rejected by file and place."""

import io
import json
import math
import re
import zipfile

import pytest
from evaluate import Metric
from every_form import as_parquet
from file_helpers import (
    AS_MAPPING,
    FORMS,
    RECORDS,
    TABLE,
    Write,
    assert_nothing_was_added,
    parquet_of,
    refused,
    refused_by_metric,
)
from file_helpers import filled as filled
from file_helpers import write as write

from ndcg.files.content import parse_json


def zipped(name: str, content: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return archive.getvalue()


IS_ZIP = "is a ZIP archive or an Excel workbook; give the file that is in it, or save the sheet as CSV"
LONG_INTEGER = (
    "holds an integer of {} digits, {}…, more than 4,300; write ids as text, and numbers as float64 holds them"
)
NO_DOCUMENT = "no column holds the document; name it document_id, or as docs/inputs.md says; the file has "
# each fault, after the format of its file: the contents, and the words of the error
FAULTY_FILES: dict[str, tuple[str | bytes, str]] = {
    "csv: no document": ("qid,text,score\nq,x,1\n", NO_DOCUMENT + "'qid', 'text', 'score'"),
    "csv: no header": (
        "q1,d1,0.5\n",
        (
            "has no header: the first line is 'q1', 'd1', '0.5'; name the columns there, such as "
            "query_id,document_id,score, or rank in place of score if the lowest is best"
        ),
    ),
    "tfrecord: of TensorFlow": (
        b"\x0a\0\0\0\0\0\0\0abcd\x01\x02",
        "is a TFRecord file; read it by TensorFlow, and give the arrays that it holds",
    ),
    "csv: two columns": ("qid,QID,docid,score\nq,q,d,1\n", "two columns are called qid; remove one"),
    "csv: carriage returns only": (
        "qid,docid,score\rq,d,1\rq,e,1\r",
        "line 1: holds a carriage return; end lines in a line feed, with or without one before it",
    ),
    "csv: NUL": (b"qid,\0\1\2,score\n", "line 1: holds a NUL byte, which no text does; save the file in UTF-8"),
    "csv: a ZIP archive": (zipped("run.csv", "qid,docid,score\nq,d,1\n"), IS_ZIP),
    "xlsx: a workbook": (zipped("xl/workbook.xml", "<workbook/>"), IS_ZIP),
    "txt: a ZIP archive": (zipped("run.txt", "q Q0 d 1 1 tag\n"), IS_ZIP),
    "csv: columns": ("\nqid,docid,score\nq,d,1\nq,e\n", "line 4: 2 columns; the header has 3: qid docid score"),
    "csv: no number": ("qid,docid,score\nq,d,1\nq,e,high\n", "line 3: the score 'high' is not a number"),
    "csv: a decimal comma": (
        "qid;docid;score\nq;d;1\nq;e;0,5\n",
        "line 3: the score '0,5' has a decimal comma; write a point",
    ),
    "csv: a decimal comma in quotes": (
        'qid,docid,score\nq,d,"-,5e3"\n',
        "line 2: the score '-,5e3' has a decimal comma; write a point",
    ),
    "csv: semicolons without columns": ("qid;text;score\nq;x;1\n", NO_DOCUMENT + "'qid', 'text', 'score'"),
    "csv: no value": ("qid,docid,score\nq,d,\n", "line 2: the score '' is not a number"),
    "csv: infinite": ("qid,docid,score\nq,d,inf\n", "line 2: the score 'inf' is not finite"),
    "csv: no id": ("qid,docid,score\nq,d,1\nq,,1\n", "line 3: has no document; give each row its id"),
    "csv: spaces for an id": ("qid,docid,score\nq,d,1\nq,  ,1\n", "line 3: has no document; give each row its id"),
    "csv: twice": ("qid,docid,score\nq,d,1\n\nq,d,1\n", "line 4: document 'd' of query 'q' is in line 2 already"),
    "csv: goes on": (
        'qid,docid,score\nq,d,1\nq,"e\nf",1\n',
        "line 3: has a quoted cell that continues on the next line; put each row on a single line",
    ),
    "csv: Latin-1": (
        b"qid,docid,score\nq,d\xe9,1\n",
        "line 2: document 'd�' is not text in UTF-8; save the file in UTF-8",
    ),
    "csv: only a header": ("qid,docid,score\n", "holds no scores; give at least one query with a document"),
    "json: cut": ('{"q":\n{"d": 1', "line 2, column 8: not JSON: Expecting ',' delimiter"),
    "json: not all": (
        '{"q": {"d": 1}, "r": 2}',
        "line 1: query 'r': must be an object {document: score}, a list of ids or hits; got 2",
    ),
    "json: twice": ('{"q": {"d": 1, "d": 1}}', "line 1: 'd' appears twice in one object, {'d': 1}; give each id once"),
    "json: no number": ('{"q": {"d": "1"}}', "line 1: the score '1' of document 'd' of query 'q' is not a number"),
    "json: null": ('{"q": {"d": null}}', "line 1: document 'd' of query 'q' has no score; give it one, or remove it"),
    "json: nan": ('{"q": {"d": NaN}}', "line 1: the score nan of document 'd' of query 'q' is not finite"),
    "json: digits": (
        '{"q": {"d": 9007199254740993}}',
        "line 1: the score 9007199254740993 of document 'd' of query 'q' has more digits than float64 holds",
    ),
    "json: beyond": (
        '{"q": {"d": 1' + "0" * 400 + "}}",
        f"line 1: the score 1{'0' * 98}… of document 'd' of query 'q' has more digits than float64 holds",
    ),
    "json: surrogate": (
        '{"q": {"\\ud800": 1}}',
        "line 1: the document '�' is neither text nor an integer, as ids must be",
    ),
    "json: empty": ("{}", "holds no scores; give at least one query with a document"),
    "json: a long integer": (
        '{"q": {"d": 1,\n"e": ' + "9" * 5000 + "}}",
        "line 2: " + LONG_INTEGER.format("5,000", "999999999"),
    ),
    "jsonl: a long integer": (
        '{"q": {"d": 1}}\n{"q": {"e": ' + "9" * 5000 + "}}",
        "line 2: " + LONG_INTEGER.format("5,000", "999999999"),
    ),
    "json: deep": ('{"q":' * 100_000, "nests objects too deep"),
    "json: a number": ("[1]", "record 0 (from 0): 1 is neither a JSON object nor a list"),
    "json: a record": (
        '[{"qid": 1, "docid": 2, "score": 1},\n{"qid": 1, "docid": 2.5, "score": 1}]',
        "record 1 (from 0): the document 2.5 is neither text nor an integer, as ids must be",
    ),
    "json: MTEB": (
        json.dumps({"en": {"test": AS_MAPPING, "dev": AS_MAPPING}, "de": {"test": AS_MAPPING}}),
        (
            "line 1: holds 3 rankings: ['en']['test'], ['en']['dev'], ['de']['test']; read "
            "it by json.load and give one, such as file['en']['test']"
        ),
    ),
    "jsonl: cut": (
        '{"qid": "q", "docid": "d", "score": 1}\n{"qid"',
        "line 2: not JSON: Expecting ':' delimiter, at column 7",
    ),
    "jsonl: null": (
        '{"qid": "q", "docid": "d", "score": 1}\n\n{"qid": null, "docid": "d", "score": 1}',
        "line 3: has no query; give each row its id",
    ),
    "jsonl: twice": (
        '{"qid": "q", "docid": "d", "score": 1}\n\n{"qid": "q", "docid": "d", "score": 1}',
        "line 3: document 'd' of query 'q' is in line 1 already",
    ),
    "jsonl: twice in two": (
        '{"q": {"d": 1}}\n{"q": {"e": 1, "d": 1}}',
        "line 2: document 'd' of query 'q' is in line 1 already",
    ),
    "jsonl: Latin-1": (
        b'{"qid": "q", "docid": "d", "score": 1}\n{"qid": "\xe9", "docid": "d", "score": 1}',
        "line 2: is not text in UTF-8; save the file in UTF-8",
    ),
    "parquet: null": (
        parquet_of([*RECORDS, {"query-id": "q", "corpus-id": None, "score": 1.0}]),
        "row 3 (from 0): has no document; give each row its id",
    ),
    "parquet: no value": (
        parquet_of([*RECORDS, {"query-id": "q", "corpus-id": "d", "score": None}]),
        "row 3 (from 0): document 'd' of query 'q' has no score; give it one, or remove it",
    ),
    "parquet: nan": (
        parquet_of([*RECORDS, {"query-id": "q", "corpus-id": "d", "score": math.nan}]),
        "row 3 (from 0): the score nan of document 'd' of query 'q' is not finite",
    ),
    "json: one query": (b'{"d1": 0.5, "d2": 2}', "holds one query without its id; give {query: {document: value}}"),
    "parquet: twice": (
        parquet_of([*RECORDS, RECORDS[0]]),
        "row 3 (from 0): document 'd1' of query 'q1' is in row 0 (from 0) already",
    ),
    "parquet: floats": (
        parquet_of([{"query-id": 1.5, "corpus-id": "d", "score": 1.0}]),
        "the column 'query-id' holds double; ids are text or integers, so convert it",
    ),
    "parquet: text": (
        parquet_of([{"query-id": "q", "corpus-id": "d", "score": "1"}]),
        "the column 'score' holds string; it must hold numbers, so convert it",
    ),
    "parquet: columns": (
        parquet_of([{"q": "q", "score": 1.0}]),
        "no column holds the query or the document; name them query_id and document_id, or as docs/inputs.md says; "
        "the file has 'q', 'score'",
    ),
    "parquet: no rows": (as_parquet(TABLE[:0]), "holds no scores; give at least one query with a document"),
}


def test_json_is_parsed_with_a_byte_order_mark_and_with_values_that_are_not_finite() -> None:
    assert parse_json('\ufeff{"q":\r\n{"d": 0.5}}'.encode()) == {"q": {"d": 0.5}}
    assert str(parse_json(json.dumps([math.nan, math.inf, -math.inf]).encode())) == "[nan, inf, -inf]"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"q": {"d": 1,\n"d": 2}}', "'d' appears twice in one object, {'d': 2}; give each id once"),
        (b'[[{"name": 1, "name": 1}]]', "'name' appears twice in one object, {'name': 1}; give each id once"),
        (b'{"q":' * 100_000, "nests objects too deep"),
        (b"[" * 100_000, "nests objects too deep"),
        (b'{"d": 1' + b"0" * 4300 + b"}", LONG_INTEGER.format("4,301", "100000000")),
        ('{"q": "é"}'.encode("latin-1"), "is not text in UTF-8; save the file in UTF-8"),
        ('{"q": 1}'.encode("utf-16"), "is text in UTF-16; save the file in UTF-8"),
        (b'{"q":\n1', "Expecting ',' delimiter: line 2 column 2 (char 7)"),
        (b"", "Expecting value: line 1 column 1 (char 0)"),
    ],
    ids=lambda value: str(value[:30]),
)
def test_json_that_cannot_be_parsed_is_a_value_error(text: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        parse_json(text)


@pytest.mark.parametrize("fault", FAULTY_FILES)
def test_a_fault_in_any_format_is_named_with_its_file_and_place(filled: Metric, write: Write, fault: str) -> None:
    content, problem = FAULTY_FILES[fault]
    path = write(content, f"a.{fault.partition(':')[0]}")
    assert refused("run", path) == f"{path}: {problem}"
    assert refused_by_metric(filled, "run", path) == f"predictions: {path}: {problem}"
    assert_nothing_was_added(filled)


@pytest.mark.parametrize("form", ["file.parquet", "file.arrow", "stream.arrow"])
def test_a_table_that_is_cut_short_is_rejected(write: Write, form: str) -> None:
    path = write(FORMS[form][:-200], form)
    assert refused("run", path).startswith(f"{path}: cannot be read, so it may be damaged or cut short: ")
