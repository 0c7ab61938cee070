"""What both places draw: bars, lines between two orders, and the dots of a strip."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visitor import look

from page.picture import Axis, lines_between, strip_of
from page.ranking import Document, Ranking
from page.settings import Settings

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open


def drawn(*relevance: Any, scores: Any = None) -> tuple[list[Any], list[Any]]:
    """The documents of a ranking and of its ideal order."""
    values = scores or range(len(relevance), 0, -1)
    names = [f"d{at}" for at in range(1, len(relevance) + 1)]
    ranking = Ranking(tuple(map(Document, names, relevance, values)), Settings().drawn)
    return ranking.ranked, ranking.ideal


def test_a_band_is_as_wide_as_the_discount_and_a_bar_as_gain_times_discount() -> None:
    lefts, rights = look("?rel=1,2").source.split('class="right"')
    widths = r'class="bar"[^>]*><i style="width:(.*?)%"></i><b style="width:(.*?)%">'
    (_, first), (band, second) = re.findall(widths, lefts)
    assert [float(band), float(first), float(second)] == pytest.approx([63.09, 50, 63.09])
    assert [float(bar) for _, bar in re.findall(widths, rights)] == pytest.approx([100, 31.55])


@pytest.mark.parametrize(
    ("relevance", "shown"),
    [
        ("0,2", [("", 0, 3), ("", 2, 3)]),  # three dots at least, so that three can be chosen
        ("0,4", [("", 0, 4), ("", 4, 4)]),
        ("0,5", [("0", 0, 0), ("5", 0, 0)]),
        ("0.5,2", [("0.5", 0, 0), ("2", 0, 0)]),
        (",1", [("not judged", 0, 0), ("", 1, 3)]),
    ],
)
def test_relevance_is_dots_where_dots_can_show_it(relevance: str, shown: list[Any]) -> None:
    lefts, _ = look(f"?rel={relevance}").source.split('class="right"')
    grades = []
    for grade in re.findall(r'class="grade">(.*?)</span>', lefts):
        text = re.sub("<.*?>", "", grade)
        grades.append((text, grade.count('class="on"'), grade.count("<i")))
    assert grades == shown


def test_tied_documents_are_marked() -> None:
    left, _ = drawn(2, 0, 1, scores=[2, 1, 1])
    assert [(step.document.name, step.rank, step.is_tied) for step in left] == [
        ("d1", "1", False),
        ("d2", "2–3", True),
        ("d3", "2–3", True),
    ]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8).filter(any))
def test_a_line_joins_both_places_of_each_document(relevance: list[int]) -> None:
    left, right = drawn(*relevance)
    lines = lines_between(left, right)
    assert {(line.at, line.left, line.right) for line in lines} == {
        (step.at, left.index(step), [other.at for other in right].index(step.at)) for step in left
    }
    # all lines are level in the ideal order
    if relevance == sorted(relevance, reverse=True):
        assert all(line.left == line.right for line in lines)


def test_a_document_that_only_one_order_has_gets_a_short_line() -> None:
    left, right = drawn(None, 1, 2, scores=[3, 2, None])
    lines = {line.at: line for line in lines_between(left, right)}
    assert (lines[0].left, lines[0].ends) == (0, (0, 0.25))  # not judged: not in the ideal
    assert (lines[2].right, lines[2].ends) == (0, (0.75, 1))  # not retrieved
    assert (lines[1].left, lines[1].right, lines[1].ends) == (1, 1, (0, 1))


def test_a_line_has_a_kind_only_if_the_score_changes() -> None:
    left, right = drawn(0, 1, 0, 2)
    kinds = {line.at: line.kind for line in lines_between(left, right)}
    assert kinds == {0: "same", 1: "same", 2: "same", 3: "gained"}
    turned = {line.at: line.kind for line in lines_between(right, left)}
    assert turned == {0: "same", 1: "same", 2: "same", 3: "lost"}


@given(st.lists(st.floats(-1, 2), min_size=1, max_size=5))
def test_an_axis_ends_at_0_and_1_unless_values_go_beyond(values: list[float]) -> None:
    axis = Axis.over(values)
    assert (axis.low, axis.high) == (min(0, *values), max(1, *values))
    assert all(-1e-9 <= axis.place(value) <= 1 + 1e-9 for value in values)


def test_scores_that_look_the_same_share_a_dot() -> None:
    strip = strip_of({"a": 0.5001, "b": 0.5, "c": 0.25, "d": None, "e": 0.5006})
    assert [(dot.names, dot.value) for dot in strip.dots] == [
        (["c"], 0.25),
        (["b", "a"], 0.5),
        (["e"], 0.5006),
    ]
    assert strip.without == ["d"]
