"""The same data by each convention: a score, or why there is none."""

import re

from page.choices import LEFT_OUT, bar_of
from page.differences import CARD_EXAMPLE, SOURCES, compare_conventions
from page.metric import ndcg
from page.ranking import EXAMPLES, FIRST, table_of


def rows(table: str) -> dict[str, list[str]]:
    found = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", table, re.DOTALL)]
    return {name: cells for name, *cells in filter(None, found)}


def test_each_convention_has_its_number_or_says_why_not() -> None:
    inputs = [table_of(EXAMPLES[FIRST]), "[[1, 2], [1, 2]]", "[[0, 0], [0, -1]]", "", ""]
    note, table = compare_conventions(SOURCES[2], *inputs, *bar_of("lightgbm"))
    assert note == "<p class='note'>By the choices made above, nDCG@10 is refused: a relevance is negative.</p>"
    found = rows(table)
    assert found["sklearn"][0] == found["lightgbm"][0] == "refused: a relevance is negative"
    assert found["lightgbm"][1] == "these are the choices made above"
    assert found["ranx"][0] == "0.0000"
    assert found["ignite"][0] == "none: all queries are left out"
    assert "negative_relevance=clip: 1.0000" in found["ignite"][1]


def test_of_two_reasons_against_a_score_the_one_that_is_left_counts() -> None:
    inputs = [table_of(EXAMPLES[FIRST]), "[[1, 2]]", "[[0, -1]]", "", ""]
    bar = bar_of("sklearn")
    for negative, reason in (("raise", "refused: a relevance is negative"), ("clip", "none: all queries are left out")):
        note, _ = compare_conventions(SOURCES[2], *inputs, *bar[:6], LEFT_OUT, negative, *bar[-2:])
        assert f"is {reason}." in note


def test_the_example_of_the_card_is_scored_by_each() -> None:
    inputs = [table_of(EXAMPLES[FIRST]), "", "", "", ""]
    _, table = compare_conventions(SOURCES[0], *inputs, *bar_of("sklearn"))
    for name, (score, _) in rows(table).items():
        assert score == f"{ndcg.compute(**CARD_EXAMPLE, k=10, convention=name)['nDCG@10']:.4f}"
