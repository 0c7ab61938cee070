"""Recognize LETOR, as LightGBM, XGBoost and RankLib write it, and files of scores, one a line."""

import re

from ..measure.messages import InputError
from .content import NUMBER, shown_cell

EXAMPLE = "2 qid:10 1:0.3 2:1"
LABEL_AND_QUERY = re.compile(rb"[ \t]*[^ \t#]+[ \t]+qid:")
ROWS_OF = {  # rows without comments, and how they are written as a query, a document and a value
    "qrels": (re.compile(rb"(?m)^([^ \n]+) qid:([^ \n]+)(?: .*)?$"), rb"\2 - \1"),
    "run": (re.compile(rb"(?m)^([^ \n]+)$"), rb"- - \1"),
}


def is_row_of_letor(line: bytes, kind: str) -> bool:
    """Return whether the first line of a file is a row of LETOR or, in a run, a score alone.

    >>> is_row_of_letor(b"2 qid:10 1:0.3", "qrels"), is_row_of_letor(b"q1 0 d1 2", "qrels")
    (True, False)
    """
    if LABEL_AND_QUERY.match(line):
        if kind == "qrels":
            return True
        problem = "is of LETOR, whose first column is the relevance"
        hint = "give the file as references, and the scores of its rows in an array or in a file"
        raise InputError(f"the line {shown_cell(line)} {problem}; {hint}, one a line")
    return kind == "run" and NUMBER.fullmatch(line.partition(b"#")[0].strip()) is not None


def as_qrels(rows: bytes, kind: str) -> bytes:
    """Return rows of LETOR or, of a run, scores as triples of TREC; other lines unchanged.

    >>> as_qrels(b"2 qid:10 1:0.3 2:1", "qrels"), as_qrels(b"0.5", "run"), as_qrels(b"0.5 1", "run")
    (b'10 - 2', b'- - 0.5', b'0.5 1')
    """
    pattern, line = ROWS_OF[kind]
    return pattern.sub(line, rows)


def no_row(line: bytes, kind: str) -> str:
    """Return the error in a line that is no row."""
    if kind == "qrels":
        return f"{shown_cell(line)} has no qid after the label; a line is such as {EXAMPLE}"
    return f"{shown_cell(line)} is not a score alone, as the first line is"
