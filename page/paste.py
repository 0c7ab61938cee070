"""Pasted text: a ranking as relevance, as cells or as lines of one query; lists of ids as a run."""

import math
import re

HEADS = {
    "query": ("query", "qid", "query-id"),
    "document": ("document", "doc", "docid", "doc-id", "id", "corpus-id"),
    "relevance": ("relevance", "rel", "grade", "label"),
    "score": ("score",),
}
NAMES = {head: name for name, heads in HEADS.items() for head in heads}
BEIR = ["query-id", "corpus-id", "score"]  # which is the relevance
TREC = {4: ["query", "", "document", "relevance"], 6: ["query", "", "document", "", "score", ""]}
HOW = 'Paste relevance, such as "3 2 3 0 1 2", or a line per document: its id, relevance and score.'
DECIMAL_COMMA = re.compile(r"(?a)[+-]?(0?,\d+|\d+,(?!\d{3}$)\d+)")  # not that of thousands
ID_LIST = re.compile(r"""\s*([^\s{["']\S*):\s+(\S.*)""")


def pasted_rows(text: str) -> list[list[str]]:
    """Return rows of document, relevance and score from pasted text.

    Numbers alone are the relevance in the order of the ranking, two columns of them relevance and score. Else a
    line has a document, its relevance and its score, as far as they are there; or it is one of TREC's or BEIR's, of
    qrels or of a run. A first line may name the columns.
    """
    lines = [line.strip() for line in text.strip().strip("[]").splitlines() if line.strip()]
    # a comma between cells is none of a number, and where tabs or semicolons are, a comma in a number is
    between = (
        r"[\t;]|\s+" if re.search(r"[\t;]", text) and re.search(r"\d,\d", text) else r"\t|[,;]|\s+"
    )
    cells = [
        [each.strip(" \"'") for each in re.split(between, line) if each.strip()] for line in lines
    ]
    if not cells:
        raise ValueError(HOW)
    if len(cells) == 1 or all(len(row) == 1 for row in cells):
        flat = [each for row in cells for each in row]
        return _rows({"relevance" if all(map(_is_cell, flat)) else "document": flat}, len(flat))
    first = [each.lower().replace("_", "-") for each in cells[0]]
    if NAMES.keys() >= set(first):
        columns = (
            ["query", "document", "relevance"] if first == BEIR else [NAMES[each] for each in first]
        )
        cells = cells[1:]
    else:
        columns = _columns(cells)
    named = [each for each in columns if each]
    for at, row in enumerate(cells, 1):
        if len(row) != len(columns) or len(set(named)) < len(named):
            raise ValueError(f"Line {at} has {len(row)} cells, the first line {len(first)}. {HOW}")
    by_name = dict(zip(columns, map(list, zip(*cells, strict=True)), strict=True))
    queries = list(dict.fromkeys(by_name.get("query", [])))
    if len(queries) > 1:
        problem = (
            f"These lines are of {len(queries):,} queries, such as {queries[0]} and {queries[1]}"
        )
        raise ValueError(
            f"{problem}. Paste one of them here, or all of them in the tab Search runs."
        )
    return _rows(by_name, len(cells))


def ids_as_run(text: str) -> str:
    """Return lists of ids, best first, a query per line such as "q1: d3 d1 d7", as a TREC run; other text as it is."""
    lists = [ID_LIST.fullmatch(line) for line in text.splitlines() if line.strip()]
    run = []
    for found in lists:
        if found is None:
            return text
        ids = re.split(r"[\s,;]+", found[2].strip())
        run += [
            f"{found[1]} Q0 {document} {at + 1} {len(ids) - at} pasted\n"
            for at, document in enumerate(ids)
        ]
    return "".join(run)


def _columns(cells: list[list[str]]) -> list[str]:
    """Return the names of columns without a first line that names them."""
    width = len(cells[0])
    of_query = len({row[0] for row in cells}) == 1 or not any(_is_cell(row[1]) for row in cells)
    if width == 3 and of_query:
        return ["query", "document", "relevance"]
    if width == 2 and all(_is_cell(each) for row in cells for each in row):
        return ["relevance", "score"]
    return TREC.get(width, ["document", "relevance", "score"][:width])


def _rows(columns: dict[str, list[str]], size: int) -> list[list[str]]:
    """Return the rows of columns; the documents and scores that are not there are the usual ones."""
    usual = {
        "document": [f"d{at}" for at in range(1, size + 1)],
        "relevance": [""] * size,
        "score": [f"{at}" for at in range(size, 0, -1)],
    }
    rows = zip(*(columns.get(name) or default for name, default in usual.items()), strict=True)
    return [[document, *("" if each == "-" else each for each in row)] for document, *row in rows]


def with_point(cell: str) -> str:
    """Return a cell in which a decimal comma, as in 0,95, is a point."""
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def _is_cell(text: str) -> bool:
    """Return whether text is a number, or a dash that stands for none."""
    try:
        return text == "-" or math.isfinite(float(with_point(text)))
    except ValueError:
        return False
