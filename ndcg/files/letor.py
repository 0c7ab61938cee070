"""Read LETOR, as LightGBM, XGBoost and RankLib do, and files of its scores, a number a line."""

import math
import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from .content import LINE, NO_TEXT, NUMBER, ROWS, FilePart, id_table, shown_cell

EXAMPLE = "2 qid:10 1:0.3 2:1"
FEATURE = re.compile(rb"[0-9]+:[-+.0-9eE]+")
SVMLIGHT = re.compile(rb"[-+.0-9eE]+(,[0-9]+)*")


def is_row(line: bytes, kind: str) -> bool:
    """Return whether the first line of a file is a row of LETOR or, in a run, a score alone.

    >>> is_row(b"2 qid:10 1:0.3", "qrels"), is_row(b"q1 0 d1 2", "qrels"), is_row(b"0.5", "run")
    (True, False, True)
    """
    label, *cells = line.partition(b"#")[0].split(None, 2) or [b""]
    if not cells:
        return kind == "run" and NUMBER.fullmatch(label) is not None
    if cells[0].startswith(b"qid:"):
        if kind == "qrels":
            return True
        problem = "is of LETOR, whose first column is the relevance; give the file as references, and the scores of"
        problem += " its rows in an array or in a file, one a line"
    elif SVMLIGHT.fullmatch(label) and all(map(FEATURE.fullmatch, b" ".join(cells).split())):
        problem = f"is of SVMlight without queries; give each line its query, as in {EXAMPLE}, or give labels, scores"
        problem += " and query_ids as arrays"
    else:
        return False
    raise ValueError(f"the line {shown_cell(line)} {problem}")


def from_rows(chunks: Iterable[bytes], kind: str) -> Iterator[FilePart]:
    """Yield the rows of LETOR or, of a run, of a file of scores; a row is a document."""
    for chunk in chunks:
        yield _parsed(chunk.removesuffix(b"\n").split(b"\n"), kind == "qrels")


def _parsed(lines: list[bytes], have_queries: bool) -> FilePart:
    numbers: list[int] = []
    queries: list[str] = []
    values: list[float] = []
    problem = ""
    for number, line in enumerate(lines):
        cells = line.partition(b"#")[0].split(None, 2)
        if not cells:
            continue
        numbers.append(number)
        if problem := _problem(line, cells, have_queries):
            break
        values.append(float(cells[0]))
        queries.append(cells[1][4:].decode() if have_queries else "")
    at = np.array([*numbers, *([] if problem else [len(lines)])], np.int64)
    columns = pa.array(queries, pa.string()), pa.nulls(len(queries), pa.string()), pa.array(values, pa.float64())
    table = id_table(*columns) if values else ROWS.empty_table()
    return FilePart(table, len(lines), at, problem, counted="document", total=len(values), has_fields=False)


def _problem(line: bytes, cells: list[bytes], have_queries: bool) -> str:
    """Return the error in a line; empty if there is none."""
    if len(line) > LINE:
        return f"is longer than {LINE:,} bytes; give each document a line of its own"
    for mark, words in NO_TEXT.items():
        if mark in line and mark in line.removesuffix(b"\r"):
            return words
    if have_queries and (len(cells) < 2 or not cells[1].startswith(b"qid:") or cells[1] == b"qid:"):
        return f"{shown_cell(line)} has no qid after the label; a line is such as {EXAMPLE}"
    if not have_queries and len(cells) > 1:
        return f"{shown_cell(line)} is not a score alone, as the first line is"
    name = "relevance" if have_queries else "score"
    if not NUMBER.fullmatch(cells[0]):
        return f"the {name} {shown_cell(cells[0])} is not a number"
    if not math.isfinite(float(cells[0].partition(b"(")[0])):
        return f"the {name} {shown_cell(cells[0])} is not finite"
    try:
        cells[have_queries].decode()
    except UnicodeDecodeError:
        return f"query {shown_cell(cells[1][4:])} is not text in UTF-8; save the file in UTF-8"
    return ""
