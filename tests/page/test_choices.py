"""The links that the page is opened by, and what stands in place of what they lack."""

import pytest

from page.choices import cutoffs_of, parse_link

ROWS = [("a", "0", "2"), ("b", "1", "1")]


@pytest.mark.parametrize(
    "ranking",
    [
        "[[",
        "[1]",
        f'[["a",{"9" * 5000},1]]',
        "[" * 100_000,
        '[["a",1]]',
        '[["a",1,2,3]]',
        "[[]]",
        '{"a":1}',
        "[" + ",".join(['["a",1,2]'] * 501) + "]",
    ],
    ids=lambda text: text[:20],
)
def test_a_link_whose_rows_are_no_documents_is_not_read(ranking: str) -> None:
    rows, *_, unread = parse_link({"ranking": ranking}, ROWS)
    assert unread == ["ranking"]
    assert rows == ROWS


@pytest.mark.parametrize(
    ("parameters", "unread"),
    [
        ({"k": "x"}, []),
        ({"k": "9" * 999}, []),
        ({"convention": "none", "gain": "<b>", "log": "e"}, ["convention", "log", "gain"]),
    ],
    ids=str,
)
def test_what_a_link_lacks_is_as_usual(parameters: dict[str, str], unread: list[str]) -> None:
    rows, convention, (cutoffs, *others), found = parse_link(parameters, ROWS)
    assert found == unread
    assert rows == ROWS
    assert (convention, *others) == ("sklearn", "linear", 2, "average", "0", "raise", "gain 0")
    if "k" in parameters:
        with pytest.raises(ValueError, match="is no cutoff"):
            cutoffs_of(cutoffs)
    else:
        assert cutoffs == "10"
