"""Files that are damaged, of another format, or hold rows without a meaning."""

import gzip
import io
import json
import math
import zipfile
from typing import Any

import pyarrow as pa
from refusals import File, Row, refused, warned
from sources import as_arrow, as_parquet

from ndcg import compute, read_qrels, read_run
from ndcg.files import reader
from ndcg.files.content import Limits

RUN, QRELS = {"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": 1, "b": 0}}
GOOD_RUN, GOOD_QRELS = "q Q0 good 1 1.5 tag\n", "q 0 good 1\n"
TREC_RUN = File("run.txt", "q Q0 a 1 2 tag\nq Q0 b 2 1 tag\n")
CSV = "qid,docid,score\nq,d,1\n"
JUDGED = "Question;Doc ID;Similarity;Verdict\nq;d;0,91;Irrelevant\n"  # as a spreadsheet writes it
RECORD = {"query-id": "q", "corpus-id": "d", "score": 1.0}
OBJECT = '{"qid": "q", "docid": "d", "score": 1}\n'
FRACTION = '{"qid": "q", "docid": 2.5, "score": 1}'
NINES = "9" * 5000
LONG = "x" * 500_000
LETOR = "2 qid:10 1:0.3\n0 qid:11 1:.2\n"


def run(name: str, content: str | bytes, *places: str, **options: Any) -> Row:
    """The row of a run in a file that is refused."""
    sides = {"predictions": File(name, content), "references": QRELS}
    return refused(compute, "predictions", name, *places, **sides, **options)


def qrels(name: str, content: str | bytes, *places: str, **options: Any) -> Row:
    """The row of a qrels file that is refused."""
    sides = {"predictions": RUN, "references": File(name, content)}
    return refused(compute, "references", name, *places, **sides, **options)


def trec_run(lines: str | bytes, number: int = 0) -> Row:
    """The row of a run whose line of this number is refused."""
    return run("run.txt", lines, *([f"line {number}"] if number else []))


def trec_qrels(lines: str | bytes, number: int = 0) -> Row:
    """The row of qrels whose line of this number is refused."""
    return qrels("qrels.txt", lines, *([f"line {number}"] if number else []))


def zipped(name: str, content: str) -> bytes:
    """An archive with one file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return archive.getvalue()


def parquet(*rows: dict[str, Any]) -> bytes:
    """A table of rows."""
    return as_parquet(pa.Table.from_pylist(list(rows)))


def arrow(opened: Any) -> bytes:
    """A table of Arrow that is cut short."""
    return as_arrow(opened, pa.Table.from_pylist([RECORD] * 9))[:-200]


RUN_LINES: dict[str, Row] = {
    "a column too few": trec_run(f"{GOOD_RUN}\nq Q0 d 1 1.5\n", 3),
    "one column": trec_run(f"{GOOD_RUN}q\n", 2),
    "a document twice": trec_run(f"# a comment\n{GOOD_RUN}q Q0 good 2 1 tag\n", 3),
    "a document twice, with tabs": trec_run(f"{GOOD_RUN}q\tx  good 1 1.5 other\n", 2),
    "a decimal comma": trec_run(f"{GOOD_RUN}q Q0 d 1 1,5 tag\n", 2),
    "no number": trec_run(f"{GOOD_RUN}q Q0 d 1 high tag\n", 2),
    "a hexadecimal number": trec_run(f"{GOOD_RUN}q Q0 d 1 0x10 tag\n", 2),
    "NA": trec_run(f"{GOOD_RUN}q Q0 d 1 NA tag\n", 2),
    "nan": trec_run(f"{GOOD_RUN}q Q0 d 1 nan tag\n", 2),
    "a number that is not finite in 64 bits": trec_run(f"{GOOD_RUN}q Q0 d 1 1e400 tag\n", 2),
    "a NUL byte": trec_run(f"{GOOD_RUN}q Q0 b\0 1 1 tag\n", 2),
    "a NUL byte in a comment": trec_run(f"# comment\n#\0\n{GOOD_RUN}", 2),
    "an id that is not UTF-8": trec_run(f"{GOOD_RUN}q Q0 dé 1 1 tag\n".encode("latin-1"), 2),
    "a line of more than a mebibyte": trec_run(f"{GOOD_RUN}#{'y' * (1 << 20)}\n", 2),
    "a long cell": trec_run(f"{GOOD_RUN}q Q0 d 1 {LONG} tag\n", 2),
    "a long id twice": trec_run(f"{LONG} Q0 {LONG} 1 1 tag\n" * 2, 2),
    "bytes": trec_run(bytes(range(256)) * 9, 1),
    "qrels": trec_run(GOOD_QRELS, 1),
    "nothing": trec_run(""),
    "comments": trec_run("# only\n# comments\n"),
    "commas without a header": trec_run("q1, Q0, d1, 1, 2.5, tag\n"),
    "lines as the path": refused(
        compute, "predictions", predictions=GOOD_RUN * 500, references=QRELS
    ),
}

QRELS_LINES: dict[str, Row] = {
    "a column too many": trec_qrels(f"{GOOD_QRELS}q 0 d 1 more\n", 2),
    "a column too few": trec_qrels(f"{GOOD_QRELS}q 0 d\n", 2),
    "other columns than the first line": trec_qrels("q1 d1 1\nq1 0 d3 2\n", 2),
    "a document twice": trec_qrels(f"{GOOD_QRELS}q 0 good 0\n", 2),
    "no number": trec_qrels(f"{GOOD_QRELS}q 0 d high\n", 2),
    "a relevance that is not finite": trec_qrels(f"{GOOD_QRELS}q 0 d -inf\n", 2),
    "a run": trec_qrels(GOOD_RUN, 1),
    "nothing": trec_qrels("\n"),
    "commas without a header": trec_qrels("q1, d1, 1\n"),
    "commas without a header, with an iteration": trec_qrels("q1, 0, d1, 1\n"),
    "a log of ratings with times": trec_qrels("196\t242\t3\t881250949\n186\t302\t3\t891717742\n"),
    "a log of clicks": trec_qrels("1 1193 978300760\n1 661 978302109\n"),
    "a log of ratings with colons": trec_qrels(
        "196::242::3::881250949\n186::302::3::891717742\n", 1
    ),
    "swapped, with a run": refused(
        compute,
        "predictions",
        "qrels.txt",
        "line 1",
        predictions=File("qrels.txt", GOOD_QRELS),
        references=File("run.txt", GOOD_RUN),
    ),
    "no query in common": refused(
        compute, "predictions", predictions=TREC_RUN, references=File("qrels.txt", "p 0 d 1\n")
    ),
}

CSV_FILES: dict[str, Row] = {
    "no document": run("a.csv", "qid,text,score\nq,x,1\n"),
    "semicolons, no document": run("a.csv", "qid;text;score\nq;x;1\n"),
    "no header": run("a.csv", "q1,d1,0.5\n"),
    "a name twice": run("a.csv", "qid,qid,docid,score\nq,q,d,1\n"),
    "a name in two spellings": run("a.csv", "qid,QID,docid,score\nq,q,d,1\n"),
    "carriage returns": run("a.csv", "qid,docid,score\rq,d,1\rq,e,1\r", "line 1"),
    "a NUL byte": run("a.csv", b"qid,\0\1\2,score\n", "line 1"),
    "a cell too few": run("a.csv", f"\n{CSV}q,e\n", "line 4"),
    "text as a score": run("a.csv", f"{CSV}q,e,high\n", "line 3"),
    "NA beside numbers": qrels("a.csv", "qid,docid,label\nq,a,2\nq,b,NA\n", "line 3"),
    "null of a database beside numbers": qrels(
        "a.csv", "qid,docid,label\nq,a,2\nq,b,\\N\n", "line 3"
    ),
    "a dash beside labels": qrels("a.csv", "qid,docid,label\nq,a,-\nq,b,yes\n", "line 2"),
    "null as text in JSON": qrels(
        "a.json",
        '[{"qid": "q", "docid": "a", "label": 2}, {"qid": "q", "docid": "b", "label": "null"}]',
        "record 1 (from 0)",
    ),
    "a decimal comma": run("a.csv", "qid;docid;score\nq;d;1\nq;e;0,5\n", "line 3"),
    "text as a relevance beside others": qrels(
        "a.csv", "qid,docid,reference,verdicts\nq,d,A text.,1\n", "line 2"
    ),
    "a line for Excel alone": run("a.csv", "sep=;\nqid;docid;score\nq;d;1\n"),
    "a decimal comma and a mark of thousands": run(
        "a.csv", "qid;docid;score\nq;d;18.964,84\n", "line 2"
    ),
    "names of its own, a decimal comma and another encoding": run(
        "a.csv", "frage;docid;score\nwie gen\xfcgend;d;0,5\n".encode("cp1252")
    ),
    "a decimal comma beside words": refused(
        compute,
        "predictions",
        "a.csv",
        "line 2",
        predictions=File("a.csv", JUDGED),
        references=File("a.csv", JUDGED),
    ).when_scored(),
    "a decimal comma in quotes": run("a.csv", f'{CSV}q,e,"-,5e3"\n', "line 3"),
    "a thousands separator": run("a.csv", f'{CSV}q,e,"1,204"\n', "line 3"),
    "inf": run("a.csv", "qid,docid,score\nq,d,inf\n", "line 2"),
    "an empty id": run("a.csv", f"{CSV}q,,1\n", "line 3"),
    "an id of spaces": run("a.csv", f"{CSV}q,  ,1\n", "line 3"),
    "a document twice": run("a.csv", f"{CSV}\nq,d,1\n", "line 4"),
    "a document twice, with spaces": run("a.csv", f'{CSV}q," d",2\n', "line 3"),
    "a query in the first row of its block": run("a.csv", f"{CSV},e,2\n,f,1\n", "line 3"),
    "rows without cells": run("a.csv", f"{CSV},,\np,d,1\n", "line 3"),
    "the header again": run("a.csv", f"{CSV}qid,docid,score\n", "line 3"),
    "columns without names": run("a.csv", "qid;docid;score;;\nq;d;1;;\n"),
    "a title above the header": run("a.csv", "Scores of May,,\nqid,docid,score\n"),
    "a quoted cell that continues": run("a.csv", f'{CSV}q,"e\nf",1\n', "line 3"),
    "an id that is not UTF-8": run("a.csv", b"qid,docid,score\nq,d\xe9,1\n", "line 2"),
    "no rows": run("a.csv", "qid,docid,score\n"),
    "no score in any row": run("a.csv", "qid,docid,score\nq,d,\n"),
    "a score of a model beside grades": qrels("a.csv", "qid,docid,score,stars\nq,a,0.9,2\n"),
    "judges' words": qrels("a.csv", "qid,docid,relevance\nq,a,yes\nq,b,no\n", "line 2"),
    "a label without a gain": qrels(
        "a.csv", "qid,docid,label\nq,a,no\nq,b,Relevnt\n", "line 3", gain={"relevant": 3, "no": 0}
    ).when_scored(),
    "labels without gains": qrels(
        "a.csv",
        "qid,docid,label\nq,a,No\nq,b,no\nq,c,Relevant\nq,d,7\nq,e,\n",
        "line 2",
        gain={"relevant": 3, "no": 0},
    ).when_scored(),
    "a run without scores": refused(
        compute,
        "predictions",
        "a.csv",
        predictions=File("a.csv", "qid,docid,relevance\nq,a,1\n"),
        references={"q": {"a": 1}},
    ),
}

JSON_FILES: dict[str, Row] = {
    "cut short": run("a.json", '{"q":\n{"d": 1', "line 2, column 8"),
    "a number in place of documents": run("a.json", '{"q": {"d": 1}, "r": 2}'),
    "a key twice": run("a.json", '{"q": {"d": 1, "d": 1}}'),
    "text as a score": run("a.json", '{"q": {"d": "1"}}'),
    "nan": run("a.json", '{"q": {"d": NaN}}'),
    "a score that would be rounded": run("a.json", '{"q": {"d": 9007199254740993}}'),
    "a score of 400 digits": run("a.json", f'{{"q": {{"d": 1{"0" * 400}}}}}'),
    "an id that is not UTF-8": run("a.json", '{"q": {"\\ud800": 1}}'),
    "no queries": run("a.json", "{}"),
    "an integer of 5,000 digits": run("a.json", f'{{"q": {{"d": 1,\n"e": {NINES}}}}}'),
    "nested too deep": run("a.json", '{"q":' * 100_000),
    "a list of numbers": run("a.json", "[1]", "record 0 (from 0)"),
    "a list of truth values": run("a.json", "[true]", "record 0 (from 0)"),
    "hits after many lists of ids": run(
        "a.jsonl", '["d"]\n' * 600 + '[{"id": "d", "score": 1}]\n', "line 601", "query 600"
    ),
    "a fraction as an id": run("a.json", f"[{OBJECT},{FRACTION}]", "record 1 (from 0)"),
    "one query": run("a.json", '{"d1": 0.5, "d2": 2}', "query 'd1'"),
    "three levels": run("a.json", json.dumps({"en": {"test": RUN, "dev": RUN}})),
    "a table by its index": run("a.json", json.dumps({"query_id": {"0": 1}, "doc_id": {"0": 2}})),
    "a table by its rows": run(
        "a.json", json.dumps({"0": {"query_id": 1, "doc_id": 2, "score": 3}})
    ),
    "columns beside rows": run(
        "a.json",
        json.dumps({"columns": ["qid", "docid", "score"], "data": [[1, 2, 0.5]]}),
    ),
    "rows without names": run(
        "a.json", '[["q", "d", 0.5]]', "record 0 (from 0)", "query 0, position 2"
    ),
    "a record without a field": run("a.jsonl", OBJECT + '{"qid": "q", "docid": "e"}', "line 2"),
    "UTF-16": run("a.json", '{"q": {"d": 1}}'.encode("utf-16")),
    "fields of its own": run("a.json", json.dumps([{"case": "q", "hits": [{"key": "a"}]}])),
    "lines, cut short": run("a.jsonl", OBJECT + '{"qid"', "line 2"),
    "lines, no query": run(
        "a.jsonl", OBJECT + '\n{"qid": null, "docid": "d", "score": 1}', "line 3"
    ),
    "lines, a document twice": run("a.jsonl", f"{OBJECT}\n{OBJECT}", "line 3"),
    "lines, a query twice": run("a.jsonl", '{"q": {"d": 1}}\n{"q": {"e": 1}}', "line 2"),
    "lines, a query without documents before it": run(
        "a.jsonl", '{"qid": "q"}\n{"qid": "q", "hits": [{"id": "a", "score": 1}]}\n', "line 2"
    ),
    "lines, not UTF-8": run(
        "a.jsonl", (OBJECT + OBJECT.replace('"d"', '"é"')).encode("latin-1"), "line 2"
    ),
    "lines, an integer of 5,000 digits": run(
        "a.jsonl", f'{{"q": {{"d": 1}}}}\n{{"p": {{"e": {NINES}}}}}', "line 2"
    ),
    "lines, fields of its own beside integers": refused(  # which the file alone does not tell
        compute,
        "predictions",
        "a.jsonl",
        predictions=File("a.jsonl", '{"case": 7, "hits": [{"key": 8, "sim": 1}]}\n'),
        references={7: {8: 1}},
    ).when_scored(),
    "lines, fields of its own": run("a.jsonl", '{"case": "q", "hits": [{"key": "a", "sim": 1}]}\n'),
}

PARQUET_FILES: dict[str, Row] = {
    "no document": run(
        "a.parquet", parquet(RECORD, {**RECORD, "corpus-id": None}), "row 1 (from 0)"
    ),
    "nan": run("a.parquet", parquet(RECORD, {**RECORD, "score": math.nan}), "row 1 (from 0)"),
    "a document twice": run("a.parquet", parquet(RECORD, RECORD), "row 1 (from 0)"),
    "ids of floats": run("a.parquet", parquet({**RECORD, "query-id": 1.5})),
    "text as a score": run("a.parquet", parquet({**RECORD, "score": "high"}), "row 0 (from 0)"),
    "names of its own": run("a.parquet", parquet({"member": "q", "film": "a", "stars": 1.0})),
    "no rows": run("a.parquet", as_parquet(pa.table({"qid": [], "docid": [], "score": []}))),
    "cut short": run("a.parquet", parquet(RECORD)[:-200]).quoting("cut short: "),
    "an Arrow file, cut short": run("a.arrow", arrow(pa.ipc.new_file)).quoting("cut short: "),
    "an Arrow stream, cut short": run("a.arrow", arrow(pa.ipc.new_stream)).quoting("cut short: "),
}

OTHER_FORMATS: dict[str, Row] = {
    "TFRecord": run("a.tfrecord", b"\x0a\0\0\0\0\0\0\0abcd\x01\x02"),
    "ORC": run("a.orc", b"ORC\x11\0\0\n\6\x12\4"),
    "ZIP": run("a.csv", zipped("run.csv", CSV)),
    "Excel": run("a.xlsx", zipped("xl/workbook.xml", "<workbook/>")),
    "UTF-16": run("a.csv", CSV.encode("utf-16")),
    "UTF-32": run("a.txt", GOOD_RUN.encode("utf-32")),
    "YAML": run("a.yaml", "q:\n  d: 1.5\n"),
    "bzip2": run("a.txt.bz2", b"BZh91AY&SY"),
    "xz": run("a.txt.xz", b"\xfd7zXZ\0\0\4"),
    "npz": run("a.npz", zipped("scores.npy", "\x93NUMPY")),
    "npy": run("a.npy", b"\x93NUMPY\1\0v\0{'descr': '<f8'}"),
    "a gzip file that is cut": run("a.gz", gzip.compress(b"q Q0 d 1 1 tag\n" * 99)[:30]),
    "a missing file": refused(
        compute, "predictions", "a.txt", predictions="a.txt", references=QRELS
    ),
    "a missing file to read": refused(read_run, "a.txt", path="a.txt"),
    "a format that is not known": refused(read_run, "format", path="a.txt", format="yaml"),
    "another format than said": refused(
        read_qrels, "a.txt", "line 1, column 1", path=File("a.txt", GOOD_QRELS), format="json"
    ),
}

LETOR_FILES: dict[str, Row] = {
    "a row without a query": qrels("train.letor", "2 qid:10 1:1\n1 1:1\n", "line 2"),
    "no number": qrels("train.letor", "2 qid:10 1:1\n\nx qid:10 1:1\n", "line 3"),
    "a decimal comma": qrels("train.letor", "2 qid:10 1:1\n0,5 qid:10 1:1\n", "line 2"),
    "a NUL byte": qrels("train.letor", "2 qid:10 1:1\n#\0\n", "line 2"),
    "nan": qrels("train.letor", "2 qid:10 1:1\nnan qid:10 1:1\n", "line 2"),
    "an empty query": qrels("train.letor", "2 qid:10 1:1\n1 qid: 1:1\n", "line 2"),
    "a query that is not UTF-8": qrels("train.letor", b"2 qid:10 1:1\n1 qid:\xff 1:1\n", "line 2"),
    "a carriage return": qrels("train.letor", "2 qid:10 1:1\n1 qid:1\r2 1:1\n", "line 2"),
    "a line of more than a mebibyte": qrels(
        "train.letor", f"2 qid:10 1:1\n1 qid:1 {'1:1 ' * (1 << 18)}\n", "line 2"
    ),
    "a label without a gain": qrels("train.letor", "good qid:1 1:.3\nbad qid:1 1:.5\n", "line 1"),
    "several labels": qrels("train.letor", "1,2 1:.3\n", "line 1"),
    "a negative relevance": refused(
        compute,
        "references",
        "train.letor",
        "line 2",
        "query '10', document '1'",
        predictions=[0.5, 0.25],
        references=File("train.letor", "2 qid:10 1:1\n-1 qid:10 1:1\n"),
    ).when_scored(),
    "too few scores": refused(
        compute, "predictions", predictions=[0.5], references=File("train.letor", LETOR)
    ),
    "lists of scores": refused(
        compute,
        "predictions",
        "row 0",
        predictions=[[0.5, 0.25]],
        references=File("train.letor", LETOR),
    ),
    "documents with ids": refused(
        compute, "predictions", predictions=RUN, references=File("train.letor", LETOR)
    ),
    "two scores in a line": run("scores.txt", ".5\n.3 .2\n", "line 2"),
    "a score that is no number": run("scores.txt", ".5\nabc\n", "line 2"),
    "a score of inf": run("scores.txt", ".5\ninf\n", "line 2"),
    "scores of RankLib with their rows": refused(
        compute,
        "predictions",
        "scores.txt",
        "line 1",
        predictions=File("scores.txt", "10\t0\t0.5\n11\t0\t0.5\n"),
        references=File("train.letor", LETOR),
    ).when_scored(),
    "LETOR as the scores": run("scores.txt", "2 qid:10 1:1\n"),
    "scores beside qrels": refused(
        compute, "predictions", predictions=File("scores.txt", ".5\n.1\n"), references=QRELS
    ),
    "scores to read": refused(read_run, "scores.txt", path=File("scores.txt", ".5\n.1\n")),
}

WARNINGS: dict[str, Row] = {
    "hits in another order than their scores": warned(
        compute,
        "a.jsonl",
        "query 'q'",
        predictions=File(
            "a.jsonl", '{"qid": "q", "hits": [{"id": "a", "score": 1}, {"id": "b", "score": 2}]}\n'
        ),
        references=QRELS,
    ),
    "a point that marks thousands": warned(
        compute,
        "a.csv",
        predictions=File("a.csv", "qid,docid,score\nq,a,1.340\nq,b,980\nq,c,1\n"),
        references=QRELS,
    ),
}

MOST = {"bytes": 9, "uncompressed": 9, "rows": 2, "queries": 1, "columns": 2}
LIMITED: dict[str, Row] = {
    f"of {name}": refused(
        reader.read_columns,
        "a.csv",
        path=File("a.csv", f"{CSV}q,e,1\np,e,1\n"),
        kind="run",
        limits=Limits(**{name: most}),
    )
    for name, most in MOST.items()
}

ROWS: dict[str, Row] = {
    f"{group}: {name}": row
    for group, rows in {
        "run": RUN_LINES,
        "qrels": QRELS_LINES,
        "CSV": CSV_FILES,
        "JSON": JSON_FILES,
        "Parquet": PARQUET_FILES,
        "other": OTHER_FORMATS,
        "LETOR": LETOR_FILES,
        "limit": LIMITED,
        "warning": WARNINGS,
    }.items()
    for name, row in rows.items()
}
