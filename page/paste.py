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
    lines = map(str.strip, text.strip().strip("[]").splitlines())
    cells = _cells([*filter(None, lines)])
    if not cells:
        raise ValueError(f"there is no document; {HOW}")
    if len(cells) == 1 or set(map(len, cells)) == {1}:
        flat = [*filter(None, itertools.chain(*cells))]
        is_relevance = all(_is_cell(cell) or cell in labels for cell in flat)
        name = "relevance" if is_relevance else "document"
        return _rows({name: flat}, len(flat))
    width = len(cells[0])
    columns, rows = _with_names(cells)
    names = [*filter(None, columns)]
    if len(set(names)) < len(names):
        raise ValueError(f"the first line names a column twice; {HOW}")
    if len(columns) != width:
        raise ValueError(f"no ranking has lines of {width} cells; {HOW}")
    for line, row in enumerate(rows, 1 + len(cells) - len(rows)):
        if len(row) != width:
            raise ValueError(f"line {line} has {len(row)} cells, the first line {width}; {HOW}")
    by_name = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
    queries = list(dict.fromkeys(by_name.get("query", [])))
    if len(queries) > 1:
        some = f"these lines are of {len(queries):,} queries, such as {queries[0]} and {queries[1]}"
        raise ValueError(f"{some}: paste one of them here, or all of them in Compare")
    return _rows(by_name, len(rows))


def _cells(lines: list[str]) -> list[list[str]]:
    """Return the cells of lines, between the first of tab, semicolon and comma that all have."""
    spaced = [[cell.strip("\"',;") for cell in line.split()] for line in lines]
    # numbers with decimal commas, such as 3,5 2,0
    if len(lines) == 1 and len(spaced[0]) > 1 and all(map(_is_cell, spaced[0])):
        return spaced
    for mark in "\t;,":
        if lines and all(mark in line for line in lines):
            return [
                _without_empty_ends([cell.strip(" \"'") for cell in row])
                for row in csv.reader(lines, delimiter=mark, skipinitialspace=True)
            ]
    return _with_joined_names(spaced)


def _with_joined_names(cells: list[list[str]]) -> list[list[str]]:
    """Return cells between spaces, with names of several words, as in "Honey cake 0 6", as one."""
    # a single line is a list
    if len(cells) < 2:
        return cells
    rows = cells
    has_header = _is_header(cells[0])
    if has_header:
        rows = cells[1:]
    is_even = len(set(map(len, cells))) == 1
    if is_even and (has_header or _is_trec(rows) or _are_judgments(rows)):
        return cells
    # a name may end with a number; more of them are something else
    counts = set(map(_count_of_last_numbers, rows))
    if any(all(map(_is_cell, row)) for row in rows) or max(counts) > 3:
        return cells
    # the relevance and the score, if all lines have both
    count = min(*counts, 2)
    if count == 0 or (count == 1 and max(counts) > 1):
        return cells
    joined = [[" ".join(row[:-count]), *row[-count:]] for row in rows]
    return [*cells[: len(cells) - len(rows)], *joined]


def _is_header(row: list[str]) -> bool:
    """Return whether a row has names of columns only."""
    return NAMES.keys() >= set(map(_column, row))


def _column(cell: str) -> str:
    return cell.lower().replace("_", "-")


def _is_trec(rows: list[list[str]]) -> bool:
    """Return whether even lines are of TREC's qrels or of a run, by their second cells."""
    if len(rows[0]) not in TREC:
        return False
    second = rows[0][1]
    return (second == "Q0" or _is_cell(second)) and {row[1] for row in rows} == {second}


def _are_judgments(rows: list[list[str]]) -> bool:
    """Return whether even lines are a query, a document and its relevance: a query repeats."""
    queries = {row[0] for row in rows}
    return len(rows[0]) == 3 and len(queries) < len(rows)


def _count_of_last_numbers(row: list[str]) -> int:
    """Return how many of the last cells, after a name, are numbers or dashes."""
    return len(list(itertools.takewhile(_is_cell, reversed(row[1:]))))


def _without_empty_ends(cells: list[str]) -> list[str]:
    """Return the cells without empty ones at both ends, as a comma after the last cell makes."""
    while cells and not cells[0]:
        cells = cells[1:]
    while cells and not cells[-1]:
        cells = cells[:-1]
    return cells


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
        for rank, document in enumerate(ids, 1):
            run.append(f"{match[1]} Q0 {document} {rank} {len(ids) - rank + 1} pasted\n")
    return "".join(run)


def tag_of(text: str) -> str:
    """Return the tag of a TREC run, which names it; nothing for other text.

    >>> tag_of("q1 Q0 d3 1 0.9 bm25"), tag_of("q1 0 d3 1")
    ('bm25', '')
    """
    cells = text.strip().partition("\n")[0].split()
    return cells[5] if len(cells) == 6 and cells[1] == "Q0" else ""


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
    if width == 3:
        # three cells are a document, its relevance and its score, or BEIR's qrels: the second
        # ones are ids then, or all lines are of one query
        is_one_query = len({row[0] for row in cells}) == 1
        if is_one_query or not any(_is_cell(row[1]) for row in cells):
            return ["query", "document", "relevance"]
    if width == 2 and all(map(_is_cell, itertools.chain(*cells))):
        return ["relevance", "score"]
    return TREC.get(width, ["document", "relevance", "score"][:width])


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
    return [f"d{rank}" for rank in range(1, size + 1)], list(map(str, range(size, 0, -1)))


def with_point(cell: str) -> str:
    """Return a cell in which a decimal comma, as in 0,95, is a point."""
    if DECIMAL_COMMA.fullmatch(cell):
        return cell.replace(",", ".")
    return cell


def _is_cell(text: str) -> bool:
    """Return whether text is a number, or stands for none: it is empty or a dash."""
    return text in ("", "-") or is_number(with_point(text))
