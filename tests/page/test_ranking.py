"""The table of one ranking: its columns and cells."""

import pandas as pd
import pytest

from page.choices import bar_of
from page.ranking import Shown, ranking_of, rows_of, score_ranking, table_of, take_edit

BAR = bar_of("sklearn")
RANKING = [["a", "0", "2"], ["b", "1", "1"]]  # nDCG: 1 / log2(3) = 0.6309


def score_of(table: pd.DataFrame) -> str:
    return str(score_ranking(table, 0, *BAR)[0])


def test_columns_are_read_by_their_headers_in_any_order() -> None:
    table = table_of(RANKING)
    assert "0.6309" in score_of(table)
    for headers in (["score", "document", "relevance"], ["relevance", "score", "document"]):
        assert rows_of(table[headers]) == RANKING
        assert score_of(table[headers]) == score_of(table)


@pytest.mark.parametrize(
    "table",
    [
        table_of(RANKING).drop(columns="relevance"),
        table_of(RANKING).drop(columns="document"),
        table_of(RANKING).assign(**{"Header 4": ""}),
        table_of(RANKING).rename(columns={"relevance": "grade"}),
        table_of(RANKING)[["document", "score", "score"]],
        pd.DataFrame(RANKING),
    ],
    ids=lambda table: ", ".join(map(str, table.columns)),
)
def test_a_table_of_other_columns_has_no_score(table: pd.DataFrame) -> None:
    found = ", ".join(map(str, table.columns))
    score, *others = score_ranking(table, 0, *BAR)
    assert f"The table must have the columns document, relevance, score; it has {found}." in score
    assert others == [None] * (len(Shown._fields) - 1)


@pytest.mark.parametrize("cell", ["1_000", "\u0661", "0x10", "1,000"])
def test_a_cell_is_a_number_where_a_file_would_hold_one(cell: str) -> None:
    score, *_ = score_ranking(table_of([["a", cell, "2"], *RANKING]), 0, *BAR)
    assert f"Row 1: relevance {cell!r} is not a number" in score.replace("&#x27;", "'")


@pytest.mark.parametrize(("cell", "number"), [("0,95", "0.95"), (",5", "0.5"), ("-1,25", "-1.25"), ("2,0", "2")])
def test_a_decimal_comma_is_a_point(cell: str, number: str) -> None:
    assert ranking_of([["a", "1", cell]]) == ranking_of([["a", "1", number]])


def test_a_negative_relevance_is_rejected_by_its_row_and_the_fields_of_the_page() -> None:
    error = score_of(table_of([*RANKING, ["d6", "-2", "0"]]))
    assert "Row 3 (d6): relevance −2 is negative. Set Negative relevance to clip or keep." in error


def test_the_picture_and_the_steps_are_of_the_largest_cutoff() -> None:
    for cutoffs, drawn in (("1, 2", 2), ("2, 1", 2), ("1, all", None)):
        steps = score_ranking(table_of(RANKING), 0, cutoffs, *BAR[1:])[3]
        assert steps == score_ranking(table_of(RANKING), 0, "" if drawn is None else str(drawn), *BAR[1:])[3]


def test_an_edit_of_the_cards_gives_them_an_order_and_relevance() -> None:
    class Event:
        ranked, missed, grades, edits = ["b"], ["a"], {"b": 3.0}, 7

    rows, edits, *shown = take_edit(Event(), table_of(RANKING), *BAR)  # type: ignore[arg-type]
    assert (rows, edits) == ([["b", "3", "1"], ["a", "0", ""]], 7)
    assert shown == [*score_ranking(table_of(rows), 7, *BAR)]
    assert "data-edits='7'" in shown[0]
