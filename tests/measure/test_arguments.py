"""Each option means what its row says, and the card, docs, page, types and kit say the same."""

import inspect
import json
import math
import re
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import evaluate
import numpy as np
import pytest
from conftest import ROOT
from refusals import refusal

from ndcg.measure import options
from ndcg.measure.arguments import (
    ARGUMENTS,
    DISCOUNTS,
    GAINS,
    OPTIONS,
    default_of,
    describes_arguments,
    lines_of,
    text_of,
)
from ndcg.measure.conventions import CHOICES, CONVENTIONS
from ndcg.measure.scoring import DISCOUNT_FUNCTIONS, GAIN_FUNCTIONS

WORDED = [name for name, option in OPTIONS.items() if option.words]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONVENTIONS_PAGE = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "conformance" / "schema.json").read_text(encoding="utf-8"))
SECTIONS = {
    "gain": "Gains",
    "discount": "Discounts",
    "ideal": "Ideals",
    "score_dtype": "Scores",
    "ties": "Ties",
}
SECTIONS["score_order"] = "Scores"


def row_of_readme(name: str) -> str:
    (row,) = re.findall(rf"^\| \*\*{name}\*\* \| (.*) \|$", README, re.MULTILINE)
    return str(row)


def words_in(hint: Any) -> set[str]:
    """The words that a type allows, also as members of a union or of a sequence."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {word for each in get_args(hint) for word in words_in(each)}


# --- The rows agree with the computation ----------------------------------------------------------


def test_every_named_discount_and_gain_has_a_function() -> None:
    assert [*DISCOUNTS] == [*DISCOUNT_FUNCTIONS]
    assert [*GAINS] == [*GAIN_FUNCTIONS]


@pytest.mark.parametrize("name", DISCOUNTS)
def test_a_discount_is_its_formula(name: str) -> None:
    ranks, base = np.arange(1, 50), 3.0
    known: dict[str, Any] = {
        **vars(math),
        "log_b": lambda x: math.log(x, base),
        "max": max,
        "min": min,
    }
    formula = DISCOUNTS[name].formula.replace("^", "**")
    expected = [eval(formula, known, {"i": rank}) for rank in ranks.tolist()]
    assert DISCOUNT_FUNCTIONS[name](ranks, base) == pytest.approx(expected, rel=1e-14)
    depends = (
        DISCOUNT_FUNCTIONS[name](ranks, base).tolist()
        != DISCOUNT_FUNCTIONS[name](ranks, base + 1).tolist()
    )
    assert depends == (DISCOUNTS[name].base_above >= 0) == ("log_b" in DISCOUNTS[name].formula)


@pytest.mark.parametrize("name", [name for name, each in DISCOUNTS.items() if each.base_above > 0])
def test_a_base_that_a_discount_cannot_have_is_rejected_from_conventions_too(
    ndcg: evaluate.Metric, name: str
) -> None:
    convention = next(each for each, chosen in CONVENTIONS.items() if chosen.discount == name)
    for how in ({"discount": name}, {"convention": convention}):
        with refusal("log_base"):
            ndcg.compute(predictions=[[2, 1]], references=[[0, 1]], log_base=0.5, **how)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_default_is_what_leaving_an_option_out_gives(name: str) -> None:
    asked = {"k": 3} if name == "measures" else {}
    assert options.Options.parse(**asked) == options.Options.parse(
        **{**asked, name: default_of(name)}
    )


@pytest.mark.parametrize("name", WORDED)
def test_each_word_of_a_row_is_taken_and_no_other(name: str) -> None:
    for word in OPTIONS[name].words:
        options.Options.parse(**{name: word}, k=3 if word == "full" else None)
    with refusal(name):
        options.Options.parse(**{name: "linaer"})


def test_the_first_rank_is_a_cutoff() -> None:
    assert (
        options.Options.parse(k=1).cutoffs
        == options.Options.parse(measures="nDCG@1").cutoffs
        == (1,)
    )
    assert options.Options.parse(measures="nDCG@1").names == ["nDCG@1"]


def test_padding_is_marked_by_a_finite_number() -> None:
    for value in (-100, 0, -99.5, np.float32(7)):
        parsed = options.Options.parse(ignore_index=value).ignore_index
        assert (parsed, type(parsed)) == (value, int if isinstance(value, int) else float)
    for nothing in (math.nan, math.inf, "-100", True):
        with refusal("ignore_index"):
            options.Options.parse(ignore_index=nothing)


def test_options_that_were_checked_before_are_the_same_object() -> None:
    assert options.Options.parse(k=7, ties="best") is options.Options.parse(k=7, ties="best")
    assert options.Options.parse(k=True + 0) == options.Options.parse(k=1)
    with refusal("k must be a positive integer"):  # True is not 1
        options.Options.parse(k=True)
    zeros = [options.Options.parse(zero_division=zero).zero_division for zero in (0.0, -0.0)]
    assert [math.copysign(1, float(zero)) for zero in zeros] == [1.0, -1.0]


def test_an_unknown_option_is_rejected() -> None:
    with refusal("unknown option gian;"):
        options.Options.parse(gian="linear")


# --- Everything else that says the same -----------------------------------------------------------


@pytest.mark.parametrize("described_by", [row_of_readme, text_of])
@pytest.mark.parametrize("name", OPTIONS)
def test_the_readme_and_the_help_say_the_words_and_the_default_of_an_option(
    name: str, described_by: Callable[[str], str]
) -> None:
    text, default = described_by(name), default_of(name)
    assert [word for word in OPTIONS[name].words if f'"{word}"' not in text] == []
    if isinstance(default, str):
        assert f'`"{default}"` (default' in text or (
            name == "convention" and "the defaults below are" in text
        )
    elif default is not None:
        in_words = (
            f"efault `{default}`",
            f"`{default}` by default",
            f"`{default}` (default)",
            f"default {default:g}",
        )
        of_flag = "(default), or with False" if default else "; default False."
        assert any(
            each in text for each in (*in_words, *([of_flag] if described_by is text_of else []))
        )


@pytest.mark.parametrize("name", SECTIONS)
def test_the_page_on_conventions_describes_each_value_of_an_option(name: str) -> None:
    section = CONVENTIONS_PAGE.partition(f"\n## {SECTIONS[name]}\n")[2].partition("\n## ")[0]
    assert [word for word in OPTIONS[name].words if f'`"{word}"`' not in section] == []


@pytest.mark.parametrize("name", [*ARGUMENTS, *OPTIONS])
def test_the_description_that_evaluate_shows_has_every_argument(
    ndcg: evaluate.Metric, name: str
) -> None:
    if name != "by":  # of report and compare
        assert lines_of(name) in ndcg.inputs_description


@pytest.mark.parametrize("name", [name for name in WORDED if name != "measures"])
def test_type_checkers_accept_the_values_of_an_option_only(name: str) -> None:
    assert words_in(get_type_hints(options.ComputeOptions)[name]) == set(OPTIONS[name].words)


def test_type_checkers_accept_existing_options_only(ndcg: evaluate.Metric) -> None:
    hints = get_type_hints(options.ComputeOptions)
    assert set(hints) | {"k"} == set(OPTIONS)
    assert set(get_args(options.Measure)) == set(OPTIONS["measures"].words)
    of_compute = inspect.signature(type(ndcg).compute).parameters
    assert {name: of_compute[name].default for name in OPTIONS} == {
        n: each.default for n, each in OPTIONS.items()
    }


@pytest.mark.xdist_group("page")  # which takes seconds to import
def test_the_page_offers_the_words_of_an_option() -> None:
    from page import api, settings

    for name in set(WORDED) & set(settings.CHOICES):
        lacks = {"missing": {"raise"}}.get(name, set())
        assert set(settings.CHOICES[name]) == set(OPTIONS[name].words) - lacks
    assert set(api.OPTIONS) - {"per_query"} == {"k", "convention", "log_base", *settings.CHOICES}
    assert set(settings.CHOICES) - {"duplicates", "judged_only", "score_order"} == set(CHOICES)


@pytest.mark.parametrize("name", ["gain", "discount", "ideal", "score_dtype", "ties"])
def test_the_conformance_kit_asks_for_existing_values_only(name: str) -> None:
    assert set(SCHEMA["$defs"]["options"]["properties"][name]["enum"]) <= set(OPTIONS[name].words)


# --- How they are shown ---------------------------------------------------------------------------


def test_a_docstring_shows_the_text_of_an_argument_where_it_asks_for_it() -> None:
    def function(exclude: Any, other: Callable[..., Any]) -> None:
        """Do something.

        Args:
            exclude: {exclude}
            other: {other} stays.
        """

    shown = inspect.getdoc(describes_arguments(function)) or ""
    assert (
        " ".join(shown.split())
        == f"Do something. Args: exclude: {ARGUMENTS['exclude']} other: {{other}} stays."
    )


@pytest.mark.parametrize("name", OPTIONS)
def test_the_help_of_an_option_is_one_line_that_ends(name: str) -> None:
    assert re.fullmatch(r"[^\n]+\.", text_of(name))
