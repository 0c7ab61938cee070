"""The links that the page is opened by, and what stands in place of what they lack."""

import urllib.parse
from typing import Any

import pytest

from page.choices import RIGHTLY_EMPTY, bar_of, convention_of, link_to, parse_link

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
    rows, convention, bar, found = parse_link(parameters, ROWS)
    assert found == unread
    assert rows == ROWS
    assert convention == "sklearn"
    assert bar == ["9" * 200 if "9" in parameters.get("k", "") else parameters.get("k", "10"), *bar_of("sklearn")[1:]]


@pytest.mark.parametrize(
    "bar",
    [
        bar_of("sklearn"),
        bar_of("lightgbm"),
        ["1, 3", 10, "exponential", "jarvelin", "truncated", "docid", "left out", "keep", "skip", "removed"],
        ["", 2.5, "linear", "log", "judged", "average", RIGHTLY_EMPTY, "clip", "empty", "gain 0"],
    ],
    ids=str,
)
def test_a_link_restores_the_bar_and_the_rows(bar: list[Any]) -> None:
    link, whole = link_to("http://localhost/?k=7", ROWS, *bar)
    address, _, query = link.partition("?")
    rows, convention, found, unread = parse_link(dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), [])
    assert (address, whole, unread) == ("http://localhost/", True, [])
    assert (rows, found) == ([list(row) for row in ROWS], bar)
    assert convention == convention_of(*bar[2:-1])


def test_a_link_names_the_convention_rather_than_what_it_sets() -> None:
    link, _ = link_to("http://localhost/", [], *bar_of("lightgbm"))
    assert link == "http://localhost/?k=10&convention=lightgbm&ranking=%5B%5D"
