"""What is pasted as a ranking, and the rows that it makes."""

import pytest

from page.paste import pasted_rows

NUMBERED = [["d1", "3", "3"], ["d2", "2", "2"], ["d3", "0", "1"]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("3 2 0", NUMBERED),
        ("3, 2, 0\n", NUMBERED),
        ("[3, 2, 0]", NUMBERED),
        ("3\n2\n0", NUMBERED),
        ("3\t2\t0", NUMBERED),
        ("3 - 0", [NUMBERED[0], ["d2", "", "2"], NUMBERED[2]]),
        ("a\t3\nb\t2", [["a", "3", "2"], ["b", "2", "1"]]),
        ("a 3 0.5\nb 2 -", [["a", "3", "0.5"], ["b", "2", ""]]),
        ("1,0.2\n0,0.9", [["d1", "1", "0.2"], ["d2", "0", "0.9"]]),
        ("score;docid;rel\n0.5;a;3\n0.1;b;0", [["a", "3", "0.5"], ["b", "0", "0.1"]]),
        ("x\ny", [["x", "", "2"], ["y", "", "1"]]),
        ("['x', 'y']", [["x", "", "2"], ["y", "", "1"]]),
    ],
    ids=repr,
)
def test_what_people_have_becomes_rows(text: str, rows: list[list[str]]) -> None:
    assert pasted_rows(text) == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Paste relevance"),
        ("a 1\nb 2 3", "Line 2 has 3 cells, the first line 2"),
        ("a 1 2 3\nb 2 3 4", "Line 1 has 4"),
    ],
    ids=["nothing", "lines unlike each other", "too many cells"],
)
def test_what_is_no_ranking_says_what_to_paste(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pasted_rows(text)
