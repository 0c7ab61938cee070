"""What people paste as a ranking: relevance in a line, cells of a spreadsheet, ids of documents, a list."""

import math
import re

HEADS = {"document": 0, "doc": 0, "docid": 0, "id": 0, "relevance": 1, "rel": 1, "grade": 1, "label": 1, "score": 2}
HOW = 'Paste relevance, such as "3 2 3 0 1 2", or a line per document: its id, relevance and score.'


def pasted_rows(text: str) -> list[list[str]]:
    """Return rows of document, relevance and score from pasted text.

    Numbers alone are the relevance in the order of the ranking, two columns of them relevance and score. Else a
    line has a document, its relevance and its score, as far as they are there; a first line may name the columns.

    Raises:
        ValueError: The lines have no such form.
    """
    lines = [line.strip() for line in text.strip().strip("[]").splitlines() if line.strip()]
    cells = [[each.strip(" \"'") for each in re.split(r"\t|[,;]|\s+", line) if each.strip()] for line in lines]
    if not cells:
        raise ValueError(HOW)
    if len(cells) == 1 or all(len(row) == 1 for row in cells):
        flat = [each for row in cells for each in row]
        columns = [[], flat] if all(map(_is_cell, flat)) else [flat]
        return _rows(columns, len(flat))
    heads = [HEADS.get(each.lower()) for each in cells[0]]
    if None not in heads:
        order, cells = [each or 0 for each in heads], cells[1:]
    else:
        numbers = len(cells[0]) == 2 and all(_is_cell(each) for row in cells for each in row)
        order = [1, 2] if numbers else [0, 1, 2][: len(cells[0])]
    for at, row in enumerate(cells, 1):
        if len(row) != len(order) or len(set(order)) < len(order):
            raise ValueError(f"Line {at} has {len(row)} cells, the first line {len(heads)}. {HOW}")
    by_name = dict(zip(order, map(list, zip(*cells, strict=True)), strict=True))
    return _rows([by_name.get(at, []) for at in range(3)], len(cells))


def _rows(columns: list[list[str]], size: int) -> list[list[str]]:
    """Return the rows of columns; the documents and scores that are not there are the usual ones."""
    documents, relevance, scores = [*columns, [], [], []][:3]
    return [
        list(row)
        for row in zip(
            documents or [f"d{at}" for at in range(1, size + 1)],
            ["" if each == "-" else each for each in relevance] or [""] * size,
            ["" if each == "-" else each for each in scores] or [f"{at}" for at in range(size, 0, -1)],
            strict=True,
        )
    ]


def _is_cell(text: str) -> bool:
    """Return whether text is a number, or a dash that stands for none."""
    try:
        return text == "-" or math.isfinite(float(text))
    except ValueError:
        return False
