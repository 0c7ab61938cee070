"""Pasted text: a ranking as relevance, as cells or as lines of one query; lists of ids as a run."""

import csv
import itertools
import re
from collections.abc import Container, Sequence

from .html import is_number

HEADS = {
    "query": ("query", "qid", "query-id"),
    "document": ("document", "doc", "docid", "doc-id", "id", "corpus-id", "name", "title"),
    "relevance": ("relevance", "rel", "grade", "label"),
    "score": ("score",),
}
NAMES = {head: name for name, heads in HEADS.items() for head in heads}
BEIR = ["query-id", "corpus-id", "score"]  # of which the score is the relevance
TREC = {
    4: ["query", "", "document", "relevance"],
    6: ["query", "", "document", "", "score", ""],
}
HOW = (
    'write relevances, such as "3 2 3 0 1 2", or a line per document: its name, relevance and score'
)
DECIMAL_COMMA = re.compile(r"(?a)[+-]?(0?,\d+|\d+,(?!\d{3}$)\d+)")  # not that of thousands
ID_LIST = re.compile(r"""\s*([^\s{["']\S*):\s+(\S.*)""")


def pasted_rows(text: str, labels: Container[str] = ()) -> tuple[Sequence[str], ...]:
    """Return rows of document, relevance and score from pasted text.

    Numbers or labels alone are the relevance in the order of the ranking, two columns of numbers
    relevance and score. Otherwise a line has a document, its relevance and its score, as far as
    they are there; or it is a line of TREC's or BEIR's qrels or of a run. A first line may name
    the columns.
    """
    lines = list(filter(None, map(str.strip, text.strip().strip("[]").splitlines())))
    if not lines:
        raise ValueError(f"there is no document; {HOW}")
    cells = _cells(lines)
    # a line alone is a list
    if len(cells) == 1 or set(map(len, cells)) == {1}:
        return _rows_of_list([*filter(None, itertools.chain(*cells))], labels)
    columns, rows = _with_names(cells)
    _refuse_no_table(columns, rows, first_line=1 + len(cells) - len(rows))
    by_name = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    queries = list(dict.fromkeys(by_name.get("query", [])))
    if len(queries) > 1:
        some = f"these lines are of {len(queries):,} queries, such as {queries[0]} and {queries[1]}"
        raise ValueError(f"{some}: paste one of them here, or all of them in Compare")
    return _rows(by_name, len(rows))


def _rows_of_list(cells: list[str], labels: Container[str]) -> tuple[Sequence[str], ...]:
    """Return the rows of a list of relevances, or of documents, in the order of the ranking."""
    is_relevance = all(_is_cell(cell) or cell in labels for cell in cells)
    name = "relevance" if is_relevance else "document"
    return _rows({name: cells}, len(cells))


def _refuse_no_table(columns: list[str], rows: list[list[str]], first_line: int) -> None:
    """Raise an error for a name of two columns, and for a line with more or fewer cells."""
    names = [*filter(None, columns)]
    if len(set(names)) < len(names):
        raise ValueError(f"the first line names a column twice; {HOW}")
    width = len(columns)
    for line, row in enumerate(rows, first_line):
        if len(row) != width:
            raise ValueError(f"line {line} has {len(row)} cells, in place of {width}; {HOW}")


def _cells(lines: list[str]) -> list[list[str]]:
    """Return the cells of lines, between the first of tab, semicolon and comma that all have."""
    for mark in "\t;,":
        if all(mark in line for line in lines):
            # a comma after the last cell makes no empty cell
            stripped = [line.strip(f" {mark}") for line in lines]
            rows = csv.reader(stripped, delimiter=mark, skipinitialspace=True)
            return [[cell.strip(" \"'") for cell in row] for row in rows]
    return _with_joined_names([[cell.strip("\"',;") for cell in line.split()] for line in lines])


def _with_joined_names(cells: list[list[str]]) -> list[list[str]]:
    """Return cells between spaces, with names of several words, as in "Honey cake 0 6", as one."""
    counts = set(map(_count_of_last_numbers, cells))
    if _is_header(cells[0]):
        counts = {len(cells[0]) - 1}
    # relevance and score, or one of them, and perhaps a number that ends the name
    if counts not in ({1}, {2}, {3}) or _is_trec(cells):
        return cells
    count = min(*counts, 2)
    return [[" ".join(row[:-count]), *row[-count:]] for row in cells]


def _is_header(row: list[str]) -> bool:
    """Return whether a row has names of columns only."""
    return NAMES.keys() >= set(map(_column, row))


def _column(cell: str) -> str:
    return cell.lower().replace("_", "-")


def _is_trec(rows: list[list[str]]) -> bool:
    """Return whether lines are of TREC's qrels or of a run, by their second cells."""
    return len(rows[0]) in TREC and all(row[1:2] in (["0"], ["Q0"]) for row in rows)


def _count_of_last_numbers(row: list[str]) -> int:
    """Return how many of the last cells, after a name, are numbers or dashes."""
    return len(list(itertools.takewhile(_is_cell, reversed(row[1:]))))


def ids_as_run(text: str) -> str:
    """Return lists of ids, best first, a query per line such as "q1: d3 d1 d7", as a TREC run.

    Other text stays as it is.
    """
    run = []
    for line in filter(str.strip, text.splitlines()):
        match = ID_LIST.fullmatch(line)
        # a line of another kind, so the text is a file
        if match is None:
            return text
        ids = re.split(r"[\s,;]+", match[2].strip())
        run += [
            f"{match[1]} Q0 {document} {rank} {len(ids) - rank + 1} pasted\n"
            for rank, document in enumerate(ids, 1)
        ]
    return "".join(run)


def tag_of(text: str) -> str:
    """Return the tag of a TREC run, which names it; nothing for other text.

    >>> tag_of("q1 Q0 d3 1 0.9 bm25"), tag_of("q1 0 d3 1")
    ('bm25', '')
    """
    cells = text.strip().partition("\n")[0].split()
    if not _is_trec([cells]):
        return ""
    return "".join(cells[5:])


def _with_names(cells: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns, and the cells without the line of names, if there is one."""
    first = list(map(_column, cells[0]))
    if first == BEIR:
        return ["query", "document", "relevance"], cells[1:]
    if _is_header(first):
        return [NAMES[cell] for cell in first], cells[1:]
    return _columns(cells), cells


def _columns(cells: list[list[str]]) -> list[str]:
    """Return the names of columns without a first line that names them."""
    width = len(cells[0])
    if width == 2 and all(map(_is_cell, itertools.chain(*cells))):
        return ["relevance", "score"]
    if _is_trec(cells):
        return TREC[width]
    return ["document", "relevance", "score"][:width]


def _rows(columns: dict[str, list[str]], size: int) -> tuple[Sequence[str], ...]:
    """Return the rows of columns; documents and scores that are not there are the usual ones."""
    documents, scores = usual_columns(size)
    usual = {"document": documents, "relevance": [""] * size, "score": scores}
    columns = {**usual, **columns}
    for name in ("relevance", "score"):
        # a dash is of a document that was not judged or not retrieved
        columns[name] = ["" if cell == "-" else cell for cell in columns[name]]
    return tuple(zip(columns["document"], columns["relevance"], columns["score"], strict=True))


def usual_columns(size: int) -> tuple[list[str], list[str]]:
    """Return the usual names and scores of documents, which may be left out."""
    names = map("d{}".format, range(1, size + 1))
    return list(names), list(map(str, range(size, 0, -1)))


def with_point(cell: str) -> str:
    """Return a cell in which a decimal comma, as in 0,95, is a point."""
    if DECIMAL_COMMA.fullmatch(cell):
        return cell.replace(",", ".")
    return cell


def _is_cell(text: str) -> bool:
    """Return whether text is a number, or stands for none: it is empty or a dash."""
    return text in ("", "-") or is_number(with_point(text))
