"""The options of the page: what they are called, in controls and in messages, and as Python."""

import ast
from typing import Any

import pytest
from conftest import ROOT

from page.metric import ndcg, tables
from page.settings import (
    CALLED,
    CHOICES,
    CONVENTIONS,
    LABELS,
    Settings,
    in_words,
    option_of,
    said,
    snippet,
)

SOURCES = [path.read_text() for path in (ROOT / "ndcg").rglob("*.py")]
CALLS = [each for source in SOURCES if "mark(" in source for each in ast.walk(ast.parse(source))]
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
    value = said.removeprefix("in Python: ")
    assert in_words(tables.mark(name, value, "--flags", said="in Python or the shell")) == said


@pytest.mark.parametrize("name", CHOICES)
def test_a_message_has_the_choices_of_the_page(name: str) -> None:
    for choice in CHOICES[name]:
        (value,) = option_of(name, choice).values()
        assert in_words(tables.mark(name, value)) == f'{LABELS[name]} set to "{said(name, choice)}"'


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_settings_of_a_convention_are_those_of_the_metric(convention: str) -> None:
    settings = Settings("5", convention)
    assert ndcg.signature(**settings.options) == ndcg.signature(k=5, convention=convention)
    assert ndcg.signature(**settings.python) == ndcg.signature(k=5, convention=convention)


def test_a_word_that_the_convention_has_anyway_is_no_choice() -> None:
    settings = Settings("10", "lightgbm").with_word("gain", "binary")
    assert settings.chosen == {"gain": "binary"}
    assert settings.with_word("gain", "exponential").chosen == {}
    assert settings.convention == "lightgbm"


@pytest.mark.parametrize(
    "settings",
    [
        Settings("3", "rax", {"log_base": "10"}),
        Settings("1, 3", "sklearn", {"zero_division": "nan", "judged_only": "true"}),
        Settings("all", "sklearn", {"gain": "0=0, 1=5"}),
    ],
    ids=str,
)
def test_the_code_that_is_shown_computes_the_same(settings: Settings) -> None:
    given: dict[str, Any] = {"predictions": [[2.0, 1.0]], "references": [[0, 1]]}
    _, begin, call = snippet(given, settings).partition("ndcg.compute(")
    assert eval(begin + call, {"ndcg": ndcg}) == ndcg.compute(**given, **settings.options)
