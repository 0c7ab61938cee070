"""JSON, CSV, Parquet and Arrow files, and tables as pandas writes them, are read alike."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from evaluate import Metric
from file_helpers import (
    AS_MAPPING,
    FORMS,
    KINDS,
    QRELS_READ,
    READERS,
    RECORDS,
    Write,
    assert_refused,
    parquet_of,
    piped,
)
from file_helpers import write as write
from refusals import refusal
from sources import PACKED, as_arrow, as_parquet

from ndcg import Limits, compute
from ndcg.files import reader

NO_QRELS = ("file.txt", "tagged.txt")  # runs of TREC


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize(
    ("form", "kind"),
    [
        *((each, "run") for each in FORMS),
        *((each, "qrels") for each in FORMS if each not in NO_QRELS),
    ],
)
@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_every_format_of_the_same_rankings_has_the_same_rows(
    write: Write, monkeypatch: pytest.MonkeyPatch, form: str, packed: str, kind: str, chunk: int
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", chunk)
    for name in (form + packed, "unnamed"):
        columns = reader.read_columns(write(PACKED[packed](FORMS[form]), name), kind)
        assert (columns.query.tolist(), columns.query_ids.to_pylist()) == ([0, 0, 1], ["q1", "7"])
        assert columns.document.to_pylist() == ["d1", "d2", "d1"]
        assert columns.value.tolist() == [2.5, -1.0, 0.25]
        assert (columns.query.dtype, columns.value.dtype) == (np.int64, np.float64)


@pytest.mark.parametrize(
    "form", ["file.txt", "file.csv", "file.json", "file.jsonl", "file.parquet", "stream.arrow"]
)
def test_every_format_may_be_a_pipe(tmp_path: Path, form: str) -> None:
    writer = piped(FORMS[form], tmp_path / form)
    assert reader.read_run(tmp_path / form) == AS_MAPPING
    writer.join()


def test_qrels_may_have_three_columns(write: Write) -> None:
    assert reader.read_qrels(write("# q d r\nq1 d1 1\nq1\td3  2\nq2 d1 0\n")) == QRELS_READ


def test_integer_ids_of_tables_are_their_decimal_text(write: Write) -> None:
    numbered = [{**each, "corpus-id": int(each["corpus-id"][1:])} for each in RECORDS]
    expected = {"q1": {"1": 2.5, "2": -1.0}, "7": {"1": 0.25}}
    for name, content in {
        "a.json": json.dumps(numbered).encode(),
        "a.parquet": as_parquet(pa.Table.from_pylist(numbered)),
        "a.arrow": as_arrow(pa.ipc.new_file, pa.Table.from_pylist(numbered)),
    }.items():
        assert reader.read_run(write(content, name)) == expected


TABLE_NAMES = {"run": "query-id{0}corpus-id{0}score", "qrels": "qid{0}docid{0}relevance"}
PADDED_ROWS = {  # of two documents of a query, as people and programs write them
    "spaces after commas": ("{header}\nq 1, d1, 2\nq 1, d2, 1\n", ", "),
    "spaces before commas": ("{header}\nq 1 ,d1 ,2\nq 1 ,d2 ,1 \n", " ,"),
    "some rows only": ("{header}\nq 1,d1,2\nq 1 , d2,1\n", ","),
    "columns of one width": ("{header}\n  q 1  ,  d1  ,  2\n  q 1  ,  d2  ,  1\n", "  ,  "),
    "tabs": ("{header}\n\tq 1,\td1,2\nq 1\t,d2\t,1\n", ",\t"),
    "quotes after spaces": ('"{header}"\n"q 1", "d1", 2\n"q 1" , "d2" , "1"\n', '", "'),
    "spaces in quotes": ('"{header}"\n" q 1","d1 ",2\n"q 1 "," d2 ",1\n', '"," '),
    "columns that nobody reads": (
        '{header},text\nq 1, d1, 2, "a, ""b"" c"\nq 1,d2,1, 3" disk\n',
        ",",
    ),
    "TSV": ("{header}\nq 1 \t d1 \t 2\nq 1\td2\t1\n", "\t "),
    "TSV with quotes": ('{header}\nq 1\t "d1"\t2\nq 1\t"d2" \t1\n', "\t"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", PADDED_ROWS)
def test_spaces_around_a_cell_of_csv_and_tsv_are_removed(
    write: Write, rows: str, kind: str
) -> None:
    content, delimiter = PADDED_ROWS[rows]
    path = write(content.format(header=TABLE_NAMES[kind].format(delimiter)), "a.csv")
    assert READERS[kind](path) == {"q 1": {"d1": 2, "d2": 1}}


@pytest.mark.parametrize("kind", KINDS)
def test_spaces_are_part_of_ids_that_nothing_but_their_type_delimits(
    write: Write, kind: str
) -> None:
    assert READERS[kind](write('{" q": {"d ": 1}}', "a.json")) == {" q": {"d ": 1}}
    name = "score" if kind == "run" else "relevance"
    row = {"qid": " q", "docid": "d ", name: 1}
    assert READERS[kind](write(json.dumps(row), "a.jsonl")) == {" q": {"d ": 1}}
    assert READERS[kind](write(parquet_of([row]), "a.parquet")) == {" q": {"d ": 1}}


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("topic,docno,score", "q,d,2"),
        ("uid,itemId,score", "q,d,2"),
        ("userId,item-id,score", "q,d,2"),
        ("qid,pid,score", "q,d,2"),
        ("q_id,doc_id,score", "q,d,2"),
        ("User ID,Item ID,Score", "q,d,2"),
    ],
)
def test_columns_have_the_names_that_people_use(write: Write, header: str, row: str) -> None:
    assert reader.read_run(write(f"{header}\n{row}\n", "a.csv")) == {"q": {"d": 2.0}}


def test_an_id_is_chosen_before_a_text_and_a_judgment_before_a_score(write: Write) -> None:
    path = write("query,qid,document,item_id,score,label\nwhat?,q1,a text,d1,0.5,2\n", "a.csv")
    assert reader.read_run(path) == {"q1": {"d1": 0.5}}
    assert reader.read_qrels(path) == {"q1": {"d1": 2}}


@pytest.mark.parametrize(
    "content", ["q Q0 d 1 x t\n", "query,document,score\nq,d,x\n"], ids=["TREC", "CSV"]
)
def test_lines_are_counted_over_chunks_of_empty_lines(
    write: Write, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr("ndcg.files.content.CHUNK", 1 << 12)
    empty = 2 * (1 << 12) + 7
    path = write("\n" * empty + content)
    assert_refused("run", path, f"line {empty + content.count(chr(10))}")


PANDAS_ROWS = {
    "run": [(1, 10, 0.9), (1, 11, 0.5), (2, 10, 0.2), (2, 11, 0.8)],
    "qrels": [(1, 10, 0), (1, 11, 1), (2, 10, 1), (2, 11, 0)],
}
KNOWN = {"run": ["query_id", "doc_id", "score"], "qrels": ["query_id", "doc_id", "relevance"]}
SPELT = {"run": ["userId", "item-id", "prediction"], "qrels": ["userId", "item-id", "Rating"]}
SCORED = {"nDCG": pytest.approx([1 / math.log2(3)] * 2)}


def frames_of(names: dict[str, list[str]]) -> list[Any]:
    pd = pytest.importorskip("pandas")
    return [pd.DataFrame(rows, columns=names[kind]) for kind, rows in PANDAS_ROWS.items()]


@pytest.mark.parametrize(
    ("names", "indent"), [(KNOWN, None), (SPELT, 1)], ids=["known", "in other spellings"]
)
def test_records_of_pandas_are_read_as_their_table(
    ndcg: Metric, write: Write, names: dict[str, list[str]], indent: int | None
) -> None:
    texts = [frame.to_json(orient="records", indent=indent) for frame in frames_of(names)]
    run, qrels = (write(text, f"{at}.json") for at, text in enumerate(texts))
    assert ndcg.read_run(run) == {"1": {"10": 0.9, "11": 0.5}, "2": {"10": 0.2, "11": 0.8}}
    assert ndcg.read_qrels(qrels) == {"1": {"10": 0, "11": 1}, "2": {"10": 1, "11": 0}}
    assert ndcg.compute(predictions=run, references=qrels, use_aggregator=False) == SCORED
    in_memory = dict(zip(("predictions", "references"), map(json.loads, texts), strict=True))
    assert ndcg.compute(**in_memory, use_aggregator=False) == SCORED


@pytest.mark.parametrize(
    "rankings",
    [
        {"q1": {"item": 0.5, "word": 1.0}, "q2": {"item": 0.25}},  # documents
        {"data": {"d1": 0.5}, "columns": {"d2": 0.25}},
    ],
)
def test_words_that_name_columns_may_be_ids(ndcg: Metric, write: Write, rankings: Any) -> None:
    assert reader.read_run(write(json.dumps(rankings))) == rankings
    last = {query: {min(documents, key=documents.get): 1} for query, documents in rankings.items()}
    values = ndcg.compute(predictions=rankings, references=last, use_aggregator=False)["nDCG"]
    assert values == pytest.approx([1 / math.log2(len(rankings[query]) + 1) for query in last])


NAMED_BY_OTHERS = {
    "comma.csv": b"member,film,stars\nann,alien,2.5\nbob,brazil,-1\n",
    "tab.tsv": b"member\tfilm\tstars\nann\talien\t2.5\nbob\tbrazil\t-1\n",
    "lines.jsonl": (
        b'{"member":"ann","film":"alien","stars":2.5}\n'
        b'{"member":"bob","film":"brazil","stars":-1}\n'
    ),
    "table.parquet": as_parquet(
        pa.table({"member": ["ann", "bob"], "film": ["alien", "brazil"], "stars": [2.5, -1]})
    ),
}


@pytest.mark.parametrize("name", NAMED_BY_OTHERS)
def test_columns_of_any_name_are_read_by_the_names_given(write: Write, name: str) -> None:
    path = write(NAMED_BY_OTHERS[name], name)
    columns = reader.read_columns(
        path, "run", fields={"query": "member", "document": "Film", "score": "stars"}
    )
    assert columns.query_ids.to_pylist() == ["ann", "bob"]
    assert columns.document.to_pylist() == ["alien", "brazil"]
    assert columns.value.tolist() == [2.5, -1]
    with refusal("", str(path)):
        reader.read_columns(
            path, "run", fields={"query": "user", "document": "film", "score": "stars"}
        )


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").write_text("")
    rows = [{"qid": "q1", "docno": "d2", "score": 0.9}, {"qid": "q1", "docno": "d1", "score": 0.8}]
    for part, records in enumerate((rows[:1], rows[1:])):
        (tmp_path / f"part-0000{part}.snappy.parquet").write_bytes(
            as_parquet(pa.Table.from_pylist(records))
        )
    assert reader.read_run(tmp_path) == {"q1": {"d2": 0.9, "d1": 0.8}}
    (tmp_path / "part-00002.parquet").write_bytes(
        as_parquet(pa.Table.from_pylist([{**rows[0], "docno": "d2"}]))
    )
    with refusal(f"{tmp_path}: row 2 (from 0)"):
        reader.read_run(tmp_path)
    with pytest.raises(OSError, match="directory"):
        reader.read_run(tmp_path, Limits(rows=9))
    responses = tmp_path / "responses"
    responses.mkdir()
    (responses / "q1.json").write_text("{}")
    with refusal("", str(responses)):
        reader.read_run(responses)


LISTS = pa.table(
    {"retrieved_doc_ids": [["d2", "d1"], ["d4"]], "relevant_ids": [["d1", "d9"], ["d4"]]}
)
OF_LISTS = (
    {"q1": {"d2": -1, "d1": -2}, "q2": {"d4": -1}},
    {"q1": {"d1": 1, "d9": 1}, "q2": {"d4": 1}},
)


@pytest.mark.parametrize("name", ["table.parquet", "table.feather"])
def test_a_row_of_parquet_or_arrow_may_have_the_ids_of_a_query(write: Write, name: str) -> None:
    as_file = as_parquet if name.endswith("parquet") else partial(as_arrow, pa.ipc.new_file)
    unnamed = write(as_file(LISTS), name)
    by_order = {"query": None}
    assert compute(predictions=unnamed, references=unnamed, fields=by_order) == compute(
        predictions=OF_LISTS[0], references=OF_LISTS[1]
    )
    named = write(as_file(LISTS.append_column("query_id", pa.array(["q1", "q2"]))), name)
    assert (reader.read_run(named), reader.read_qrels(named)) == OF_LISTS
    hits = pa.table(
        {"qid": ["q1"], "hits": [[{"id": "d2", "score": 0.9}, {"id": "d1", "score": 0.8}]]}
    )
    assert reader.read_run(write(as_file(hits), name)) == {"q1": {"d2": 0.9, "d1": 0.8}}
    twice = write(as_file(pa.table({"qid": ["q0", "q1"], "ids": [["d3"], ["d2", "d2"]]})), name)
    assert_refused("run", twice, "row 1 (from 0)", "query 'q1', position 1")
