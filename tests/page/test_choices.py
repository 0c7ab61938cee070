"""The addresses with which the page is opened, the defaults of their missing parts, and the words of messages."""

import ast
import urllib.parse
from typing import Any

import pytest
from conftest import ROOT

from page.choices import (
    CALLED,
    CHOICES,
    CONVENTIONS,
    LABELS,
    WORDS,
    bar_of,
    convention_of,
    in_words,
    option_of,
    options_of,
    parse_link,
    query_of,
    symbols,
)
from page.metric import tables

ROWS = [("a", "0", "2"), ("b", "1", "1")]
BAR = bar_of("sklearn")


def read(query: str) -> tuple[Any, str, list[Any], list[str]]:
    return parse_link(dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), [])


@pytest.mark.parametrize(
    ("parameters", "rows", "bar", "unread"),
    [
        ({"rel": ",".join("1" * 501)}, ROWS, BAR, ["rel"]),
        ({"rel": "1\n2"}, ROWS, BAR, ["rel"]),
        ({"rel": "0,1", "ids": "a"}, [["d1", "0", "2"], ["d2", "1", "1"]], BAR, ["ids"]),
        ({"rel": "0,1", "scores": "1,2,3"}, [["d1", "0", "2"], ["d2", "1", "1"]], BAR, ["scores"]),
        ({"k": "x"}, ROWS, ["x", *BAR[1:]], []),
        ({"k": "9" * 999}, ROWS, ["9" * 200, *BAR[1:]], []),
        (
            {"convention": "none", "gain": "<b>", "log_base": "e"},
            ROWS,
            BAR,
            ["convention", "log_base", "gain"],
        ),
        ({"log_base": "inf"}, ROWS, BAR, ["log_base"]),
        ({"gain": "a=1, b=x"}, ROWS, BAR, ["gain"]),
    ],
)
def test_what_an_address_lacks_or_cannot_have_is_as_usual(
    parameters: dict[str, str], rows: Any, bar: list[Any], unread: list[str]
) -> None:
    assert parse_link(parameters, ROWS) == (rows, "sklearn", bar, unread)


@pytest.mark.parametrize("at", range(max(map(len, CHOICES.values()))))
def test_an_address_restores_the_bar_and_the_rows(at: int) -> None:
    choices = [words[at % len(words)] for words in CHOICES.values()]
    for bar in (["1, 3", 10, *choices], ["", 2.5, *choices]):
        for rows in (
            ROWS,
            [("a, b", "", "2"), ('"q"&', "1", ""), ("=", "x", "0")],
            [("d1", "", "1")],
        ):
            query, whole = query_of(rows, "custom", *bar)
            assert whole
            assert read(query) == ([list(row) for row in rows], convention_of(*choices), bar, [])


@pytest.mark.parametrize("name", CONVENTIONS)
def test_an_address_names_the_convention_that_was_chosen(name: str) -> None:
    assert read(query_of(ROWS, name, *bar_of(name))[0])[1:3] == (name, bar_of(name))
    query, _ = query_of(ROWS, name, *bar_of(name)[:-3], "best", "true", "ascending")
    assert (f"convention={name}" in query) == (name != "sklearn")


def test_an_address_has_gains_by_label() -> None:
    bar = [*BAR[:2], "relevant=3, not relevant=0", *BAR[3:]]
    query, _ = query_of(ROWS, "custom", *bar)
    assert read(query)[1:] == ("custom", bar, [])
    assert options_of(*bar)["gain"] == {"relevant": 3, " not relevant": 0}
    assert options_of(*bar[:2], "0,1,3", *bar[3:])["gain"] == {"0": 0, "1": 1, "2": 3}


def test_an_address_is_short() -> None:
    textbook = [(f"d{at + 1}", relevance, f"{6 - at}") for at, relevance in enumerate("323012")]
    assert query_of(textbook, "sklearn", *BAR) == ("rel=3,2,3,0,1,2&k=10", True)
    assert query_of([("d1", "1", "2")], "sklearn", *BAR) == ("rel=1&scores=2&k=10", True)
    assert query_of([("a" * 4000, "1", "1")], "sklearn", *BAR) == ("k=10", False)


@pytest.mark.parametrize("name", ["gain", "discount"])
def test_the_formula_has_symbols_for_each_gain_and_discount(name: str) -> None:
    plain = {"gain": "linear", "discount": "log", "log_base": 2.0, "k": [10]}
    assert len({symbols({**plain, name: each}) for each in CHOICES[name]}) == len(CHOICES[name])


CALLS = [
    each for path in (ROOT / "ndcg").rglob("*.py") for each in ast.walk(ast.parse(path.read_text()))
]
MARKS = [
    each.args[0]
    for each in CALLS
    if isinstance(each, ast.Call) and ast.unparse(each.func) == "mark"
]
MARKED = {each.value for each in MARKS if isinstance(each, ast.Constant)} | {
    *tables.OPTIONS,
    *tables.ARGUMENTS,
}
VALUES = {
    "path": "run.txt",
    "systems": "bm25",
    "options": "in Python: k=5",
}  # marks of which the value is said


@pytest.mark.parametrize("name", sorted(MARKED - {*VALUES}))
def test_a_message_calls_an_option_as_the_page_does_or_says_that_it_is_of_python(name: str) -> None:
    assert name in CALLED
    words = tables.OPTIONS[name].words if name in tables.OPTIONS else ()
    for values in ([], [None], [{"a": 1}], *([word] for word in words)):
        said = in_words(tables.mark(name, *values))
        assert said.startswith("in Python: ") or (f"{name}=" not in said and "_" not in said)


@pytest.mark.parametrize(("name", "said"), VALUES.items())
def test_a_message_has_the_name_of_a_file_or_a_run_and_the_call_that_gives_a_score(
    name: str, said: str
) -> None:
    assert (
        in_words(
            tables.mark(
                name, said.removeprefix("in Python: "), "--flags", said="in Python or the shell"
            )
        )
        == said
    )


@pytest.mark.parametrize("name", CHOICES)
def test_a_message_has_the_choices_of_the_page(name: str) -> None:
    for choice in CHOICES[name]:
        (value,) = option_of(name, choice).values()
        assert (
            in_words(tables.mark(name, value))
            == f'{LABELS[name]} set to "{WORDS.get((name, choice), choice)}"'
        )
