"""The addresses with which the page is opened, and the defaults of their missing parts."""

import urllib.parse
from typing import Any

import pytest

from page.choices import CHOICES, CONVENTIONS, bar_of, convention_of, parse_link, query_of, symbols

ROWS = [("a", "0", "2"), ("b", "1", "1")]


@pytest.mark.parametrize(
    ("parameters", "unread"),
    [
        ({"rel": ",".join("1" * 501)}, "rel"),
        ({"rel": "1\n2"}, "rel"),
        ({"rel": "0,1", "ids": "a"}, "ids"),
        ({"rel": "0,1", "scores": "1,2,3"}, "scores"),
    ],
    ids=["too many", "two lines", "a name too few", "a score too many"],
)
def test_columns_that_do_not_fit_are_not_read(parameters: dict[str, str], unread: str) -> None:
    rows, *_, found = parse_link(parameters, ROWS)
    assert found == [unread]
    assert rows == (ROWS if unread == "rel" else [["d1", "0", "2"], ["d2", "1", "1"]])


@pytest.mark.parametrize(
    ("parameters", "unread"),
    [
        ({"k": "x"}, []),
        ({"k": "9" * 999}, []),
        ({"convention": "none", "gain": "<b>", "log_base": "e"}, ["convention", "log_base", "gain"]),
    ],
    ids=str,
)
def test_missing_parts_of_an_address_have_their_defaults(parameters: dict[str, str], unread: list[str]) -> None:
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
        [
            "1, 3",
            10,
            "exponential",
            "jarvelin",
            "truncated",
            "float32",
            "docid",
            "nan",
            "keep",
            "skip",
            "true",
            "ascending",
        ],
        [
            "",
            2.5,
            "linear",
            "log",
            "judged",
            "given",
            "average",
            "perfect_if_empty",
            "clip",
            "empty",
            "false",
            "descending",
        ],
    ],
    ids=str,
)
def test_an_address_restores_the_bar_and_the_rows(bar: list[Any]) -> None:
    for rows in (ROWS, [("a, b", "", "2"), ('"q"&', "1", ""), ("=", "x", "0")], [("d1", "", "1")]):
        query, whole = query_of(rows, "custom", *bar)
        found, convention, read, unread = parse_link(dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), [])
        assert (whole, unread) == (True, [])
        assert (found, read) == ([list(row) for row in rows], bar)
        assert convention == convention_of(*bar[2:])


def test_an_address_is_short() -> None:
    textbook = [(f"d{at + 1}", relevance, f"{6 - at}") for at, relevance in enumerate("323012")]
    assert query_of(textbook, "sklearn", *bar_of("sklearn")) == ("rel=3,2,3,0,1,2&k=10", True)
    assert query_of([("d1", "1", "2")], "sklearn", *bar_of("sklearn")) == ("rel=1&scores=2&k=10", True)
    assert query_of([("a" * 4000, "1", "1")], "sklearn", *bar_of("sklearn")) == ("k=10", False)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_an_address_names_the_convention_that_was_chosen(name: str) -> None:
    query, _ = query_of(ROWS, name, *bar_of(name))
    _, convention, bar, _ = parse_link(dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), [])
    assert (convention, bar) == (name, bar_of(name))
    changed = [*bar_of(name)[:-2], "true", "ascending"]
    assert f"convention={name}" in query_of(ROWS, name, *changed)[0] or name == "sklearn"


@pytest.mark.parametrize(("name", "value"), [(name, each) for name in ("gain", "discount") for each in CHOICES[name]])
def test_the_formula_has_symbols_for_each_gain_and_discount(name: str, value: str) -> None:
    plain = {"gain": "linear", "discount": "log", "log_base": 2.0, "k": [10]}
    others = {symbols({**plain, name: each}) for each in CHOICES[name] if each != value}
    assert symbols({**plain, name: value}) not in others
