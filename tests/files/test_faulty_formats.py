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


TABLE_HEADER = "qid,docid,score\nq,d,1\n"
ONE_LINE = '{"qid": "q", "docid": "d", "score": 1}\n'
FRACTION = ONE_LINE.replace('"d"', "2.5")
LATIN = (ONE_LINE + ONE_LINE.replace('"d"', '"é"')).encode("latin-1")
NO_LINE_QUERY = '\n{"qid": null, "docid": "d", "score": 1}'
MTEB = json.dumps({"en": {"test": AS_MAPPING, "dev": AS_MAPPING}, "de": {"test": AS_MAPPING}})
TFRECORD = b"\x0a\0\0\0\0\0\0\0abcd\x01\x02"
NINES = "9" * 5000
ROW = {"query-id": "q", "corpus-id": "d", "score": 1.0}
IS_ZIP = "is a ZIP archive or an Excel workbook; give the file that is in it, or save the sheet as CSV"
LONG_INTEGER = (
    "holds an integer of {} digits, {}…, more than 4,300; write ids as text, and numbers as float64 holds them"
)
OF_NINES = LONG_INTEGER.format("5,000", "999999999")
NO_DOCUMENT = "no column holds the document; name it document_id, or as docs/inputs.md says; the file has "
NO_SCORES = "holds no scores; give at least one query with a document"
NO_HEADER = "has no header: the first line is 'q1', 'd1', '0.5'; name the columns there, such as query_id,document_id"
GOES_ON = "line 3: has a quoted cell that continues on the next line; put each row on a single line"
NO_LIST = "line 1: query 'r': must be an object {document: score}, a list of ids or hits; got 2"
NO_VALUE = "document 'd' of query 'q' has no score; give it one, or remove it"
IS_NO_ID = "is neither text nor an integer, as ids must be"
NO_COLUMNS = "no column holds the query or the document; name them query_id and document_id, or as docs/inputs.md says"
IN_TWO = "document 'd' of query 'q' is in line {} already"
DIGITS = "of document 'd' of query 'q' has more digits than float64 holds"
# the ending of the file's name, its content, and the beginning of the error
FAULTY_FILES: list[tuple[str, str | bytes, str]] = [
    ("csv", "qid,text,score\nq,x,1\n", NO_DOCUMENT + "'qid', 'text', 'score'"),
    ("csv", "qid;text;score\nq;x;1\n", NO_DOCUMENT + "'qid', 'text', 'score'"),
    ("csv", "q1,d1,0.5\n", NO_HEADER),
    ("tfrecord", TFRECORD, "is a TFRecord file; read it by TensorFlow, and give the arrays that it holds"),
    ("orc", b"ORC\x11\0\0\n\6\x12\4", "is an ORC file; save it as Parquet, or give pyarrow.orc.read_table(path)"),
    ("csv", "qid,QID,docid,score\nq,q,d,1\n", "two columns are called qid; remove one"),
    ("csv", "qid,docid,score\rq,d,1\rq,e,1\r", "line 1: holds a carriage return; end lines in a line feed, with or"),
    ("csv", b"qid,\0\1\2,score\n", "line 1: holds a NUL byte, which no text does; save the file in UTF-8"),
    ("csv", zipped("run.csv", TABLE_HEADER), IS_ZIP),
    ("xlsx", zipped("xl/workbook.xml", "<workbook/>"), IS_ZIP),
    ("txt", zipped("run.txt", "q Q0 d 1 1 tag\n"), IS_ZIP),
    ("csv", f"\n{TABLE_HEADER}q,e\n", "line 4: 2 columns; the header has 3: qid docid score"),
    ("csv", f"{TABLE_HEADER}q,e,high\n", "line 3: the score 'high' is not a number"),
    ("csv", "qid;docid;score\nq;d;1\nq;e;0,5\n", "line 3: the score '0,5' has a decimal comma; write a point"),
    ("csv", f'{TABLE_HEADER}q,e,"-,5e3"\n', "line 3: the score '-,5e3' has a decimal comma; write a point"),
    ("csv", "qid,docid,score\nq,d,inf\n", "line 2: the score 'inf' is not finite"),
    ("csv", f"{TABLE_HEADER}q,,1\n", "line 3: has no document; give each row its id"),
    ("csv", f"{TABLE_HEADER}q,  ,1\n", "line 3: has no document; give each row its id"),
    ("csv", f"{TABLE_HEADER}\nq,d,1\n", "line 4: " + IN_TWO.format(2)),
    ("csv", f'{TABLE_HEADER}q," d",2\n', "line 3: " + IN_TWO.format(2)),
    ("csv", f'{TABLE_HEADER}q,"e\nf",1\n', GOES_ON),
    ("csv", b"qid,docid,score\nq,d\xe9,1\n", "line 2: document 'd�' is not text in UTF-8; save the file in UTF-8"),
    ("csv", "qid,docid,score\n", NO_SCORES),
    ("json", '{"q":\n{"d": 1', "line 2, column 8: not JSON: Expecting ',' delimiter"),
    ("json", '{"q": {"d": 1}, "r": 2}', NO_LIST),
    ("json", '{"q": {"d": 1, "d": 1}}', "line 1: 'd' appears twice in one object, {'d': 1}; give each id once"),
    ("json", '{"q": {"d": "1"}}', "line 1: the score '1' of document 'd' of query 'q' is not a number"),
    ("json", '{"q": {"d": NaN}}', "line 1: the score nan of document 'd' of query 'q' is not finite"),
    ("json", '{"q": {"d": 9007199254740993}}', f"line 1: the score 9007199254740993 {DIGITS}"),
    ("json", f'{{"q": {{"d": 1{"0" * 400}}}}}', f"line 1: the score 1{'0' * 98}… {DIGITS}"),
    ("json", '{"q": {"\\ud800": 1}}', f"line 1: the document '�' {IS_NO_ID}"),
    ("json", "{}", NO_SCORES),
    ("json", f'{{"q": {{"d": 1,\n"e": {NINES}}}}}', "line 2: " + OF_NINES),
    ("jsonl", f'{{"q": {{"d": 1}}}}\n{{"q": {{"e": {NINES}}}}}', "line 2: " + OF_NINES),
    ("json", '{"q":' * 100_000, "nests objects too deep"),
    ("json", "[1]", "record 0 (from 0): 1 is neither a JSON object nor a list"),
    ("json", f"[{ONE_LINE},{FRACTION}]", f"record 1 (from 0): the document 2.5 {IS_NO_ID}"),
    ("json", MTEB, "line 1: holds 3 rankings: ['en']['test'], ['en']['dev'], ['de']['test']; read it by json.load and"),
    ("json", '{"d1": 0.5, "d2": 2}', "holds one query without its id; give {query: {document: value}}"),
    ("jsonl", ONE_LINE + '{"qid"', "line 2: not JSON: Expecting ':' delimiter, at column 7"),
    ("jsonl", ONE_LINE + NO_LINE_QUERY, "line 3: has no query; give each row its id"),
    ("jsonl", f"{ONE_LINE}\n{ONE_LINE}", "line 3: " + IN_TWO.format(1)),
    ("jsonl", '{"q": {"d": 1}}\n{"q": {"e": 1, "d": 1}}', "line 2: " + IN_TWO.format(1)),
    ("jsonl", LATIN, "line 2: is not text in UTF-8; save the file in UTF-8"),
    ("parquet", parquet_of([*RECORDS, {**ROW, "corpus-id": None}]), "row 3 (from 0): has no document; give each"),
    ("parquet", parquet_of([ROW, {**ROW, "score": math.nan}]), "row 1 (from 0): the score nan of document 'd' of"),
    ("parquet", parquet_of([ROW, ROW]), "row 1 (from 0): document 'd' of query 'q' is in row 0 (from 0) already"),
    ("parquet", parquet_of([{**ROW, "query-id": 1.5}]), "the column 'query-id' holds double; ids are text or integers"),
    ("parquet", parquet_of([{**ROW, "score": "high"}]), "row 0 (from 0): the score 'high' of document 'd' of query"),
    ("parquet", parquet_of([{"q": "q", "score": 1.0}]), f"{NO_COLUMNS}; the file has 'q', 'score'"),
    ("parquet", as_parquet(TABLE[:0]), NO_SCORES),
]  # fmt: skip


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


@pytest.mark.parametrize(("ending", "content", "problem"), FAULTY_FILES, ids=lambda value: str(value)[:30])
def test_a_fault_in_any_format_is_named_with_its_file_and_place(
    filled: Metric, write: Write, ending: str, content: str | bytes, problem: str
) -> None:
    path = write(content, f"a.{ending}")
    message = refused("run", path)
    assert message.startswith(f"{path}: {problem}")
    assert refused_by_metric(filled, "run", path).startswith(f"predictions: {message}")  # the names to give follow
    assert_nothing_was_added(filled)


@pytest.mark.parametrize("form", ["file.parquet", "file.arrow", "stream.arrow"])
def test_a_table_that_is_cut_short_is_rejected(write: Write, form: str) -> None:
    path = write(FORMS[form][:-200], form)
    assert refused("run", path).startswith(f"{path}: cannot be read, so it may be damaged or cut short: ")
