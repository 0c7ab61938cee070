"""One catalogue of all sources: each writes given rankings in one form that people hold them in."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

Side = dict[str, dict[str, Any]]  # the value of each document, by query


# Files

QUERY, DOCUMENT, VALUE = "query-id", "corpus-id", "score"  # as in the files of BEIR


def records(side: Side) -> list[dict[str, Any]]:
    """A record for each document of each query."""
    return [
        {QUERY: query, DOCUMENT: document, VALUE: value}
        for query, documents in side.items()
        for document, value in documents.items()
    ]


def as_trec(side: Side, line: str) -> bytes:
    """Lines without a header, each as the pattern says for a query, a document and a value."""
    return "".join(line.format(*record.values()) for record in records(side)).encode()


def as_lines(side: Side, delimiter: str, head: str = "", end: str = "\n") -> bytes:
    """Lines of a table with a header, such as CSV."""
    rows = [(QUERY, DOCUMENT, VALUE), *(record.values() for record in records(side))]
    return (head + "".join(delimiter.join(map(str, row)) + end for row in rows)).encode()


def as_json_lines(objects: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


def as_parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(table, file, row_group_size=2)
    return file.getvalue()


def as_arrow(opened: Callable[..., Any], table: pa.Table) -> bytes:
    """A file or a stream of Arrow, in batches of two rows."""
    file = io.BytesIO()
    with opened(file, table.schema) as writer:
        writer.write_table(table, 2)
    return file.getvalue()


def table_of(side: Side) -> pa.Table:
    return pa.Table.from_pylist(records(side))


def as_quoted_csv(side: Side) -> bytes:
    """A CSV file as pandas writes it, with row numbers, and with names in another spelling."""
    lines = ['"","score","Query_ID","DocID"']
    for number, record in enumerate(records(side), 1):
        lines.append(f'{number},"{record[VALUE]}","{record[QUERY]}","{record[DOCUMENT]}"')
    return "".join(f"{line}\n" for line in lines).encode()


def with_integers(side: Side) -> list[dict[str, Any]]:
    """Records in which the ids of queries that are digits are integers."""
    rows = records(side)
    for row in rows:
        if row[QUERY].isdigit():
            row[QUERY] = int(row[QUERY])
    return rows


def with_categories(side: Side) -> pa.Table:
    """A table in which the queries are a dictionary's codes, in another column."""
    table = table_of(side)
    return table.set_column(0, "user", table[QUERY].combine_chunks().dictionary_encode())


FileWriter = Callable[[Side], bytes]

# Files without names of columns, which tell by their form which side they are.
RUN_FILES: dict[str, FileWriter] = {
    "file.txt": lambda side: as_trec(side, "{} Q0 {} 1 {} tag\n"),
    "tagged.txt": lambda side: as_trec(side, '{} Q0 {} 1 {} my tag,  "#7\n'),
}
QRELS_FILES: dict[str, FileWriter] = {
    "file.txt": lambda side: as_trec(side, "{} 0 {} {}\n"),
    "plain.txt": lambda side: as_trec(side, "{} {} {}\n"),
}
FILES: dict[str, FileWriter] = {  # of either side
    "file.csv": lambda side: as_lines(side, ","),
    "beir.tsv": lambda side: as_lines(side, "\t"),
    "file.json": lambda side: json.dumps(side).encode(),
    "list.json": lambda side: json.dumps(records(side)).encode(),
    "file.jsonl": lambda side: as_json_lines(records(side)),
    "mapping.jsonl": lambda side: as_json_lines([{query: row} for query, row in side.items()]),
    "file.parquet": lambda side: as_parquet(table_of(side)),
    "file.arrow": lambda side: as_arrow(pa.ipc.new_file, table_of(side)),
    "stream.arrow": lambda side: as_arrow(pa.ipc.new_stream, table_of(side)),
}
ODD_FILES: dict[str, FileWriter] = {  # of either side too, seldom written like this
    "crlf.csv": lambda side: as_lines(side, ",", end="\r\n"),
    "blank.csv": lambda side: as_lines(side, ",", head="\n\n", end="\n\n"),
    "mark.csv": lambda side: as_lines(side, ",", head="\ufeff"),
    "quoted.csv": as_quoted_csv,
    "named.txt": lambda side: as_lines(side, ","),
    "beir.txt": lambda side: as_lines(side, "\t"),
    "indented.json": lambda side: json.dumps(side, indent=2).encode(),
    "blank.jsonl": lambda side: as_json_lines(records(side)).replace(b"\n", b"\n\n"),
    "integers.jsonl": lambda side: as_json_lines(with_integers(side)),
    "category.parquet": lambda side: as_parquet(with_categories(side)),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {  # by the end of a file's name
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}

# Ids that look like something else, and numbers in every spelling.
ODD_IDS = [
    *("NA", "null", "NULL", "nan", "N/A", "None", "true", "1e5", "007", "7", "-1", "0x1F"),
    *('"quoted"', '"', "'", 'a"b', "a,b", "a;b", "a\\b", "a#b", "#", "#a", "2024-01-01"),
    *(
        "http://a.b/c?d=e&f#g",
        "dé",
        "文書",
        "🥇",
        "e\u0301",
        "a\u00a0b",
        "9" * 40,
        "x" * 1000,
        "ORC",
    ),
]
SPELLINGS = [
    *("1", "-1", "+1.5", "1.5", ".5", "5.", "-0.25", "1e5", "1E5", "-1.5e-3", "2.5E+10"),
    *("1e-400", "5e-324"),
]


def written(path: Path, side: Side, kind: str) -> Path:
    """A file of TREC; lines of a run are by position, so a query's are not next to each other."""
    files = RUN_FILES if kind == "run" else QRELS_FILES
    lines = files["file.txt"](side).splitlines(keepends=True)
    if kind == "run":
        places = [place for documents in side.values() for place in range(len(documents))]
        lines = [lines[line] for line in np.argsort(places, kind="stable")]
    path.write_bytes(b"".join(lines))
    return path


def mappings_and_files(folder: Path, run: Any, qrels: Any) -> list[tuple[Any, Any]]:
    """Both sides as mappings and as files of TREC, in every combination."""
    files = written(folder / "run", run, "run"), written(folder / "qrels", qrels, "qrels")
    return [(run, qrels), files, (run, files[1]), (files[0], qrels), (run, str(files[1]))]
