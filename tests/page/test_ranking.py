"""One ranking: read with care, and every figure of the picture adds up to the metric's scores."""

import math
import operator
from dataclasses import replace
from itertools import permutations
from typing import Any

import evaluate
import pytest
from conftest import NOTHING_IN_COMMON
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

from page.ranking import Document, Ranking, ranking_of
from page.settings import Settings

DOCUMENTS = st.lists(
    st.tuples(st.sampled_from([None, 0.0, 1.0, 2.0, 3.0]), st.sampled_from([None, 1.0, 2.0, 3.0])),
    min_size=1,
    max_size=8,
)


def with_options(k: int | None, **words: str) -> dict[str, Any]:
    """The options at one cutoff, with some of the page's words."""
    chosen = Settings("all" if k is None else f"{k}")
    for name, word in words.items():
        chosen = chosen.with_word(name, word)
    return chosen.drawn


def of_documents(*documents: tuple[float | None, float | None], **words: Any) -> Ranking:
    """A ranking of documents d1, d2, ... by their relevance and score."""
    named = [Document(f"d{at}", *values) for at, values in enumerate(documents, 1)]
    return Ranking(tuple(named), with_options(**{"k": 10, **words}))


def relevance(*values: float, k: int = 10) -> Ranking:
    """A ranking of documents by their relevance in its order."""
    size = len(values)
    return of_documents(*((value, float(size - at)) for at, value in enumerate(values)), k=k)


# --- What each document adds ----------------------------------------------------------------------


@NOTHING_IN_COMMON
@pytest.mark.parametrize("ties", ["average", "first", "last", "best", "worst", "docid"])
@settings(max_examples=40)
@given(documents=DOCUMENTS, k=st.sampled_from([1, 2, 3, 10, None]), others=st.booleans())
def test_what_documents_add_sums_up_to_the_measures(
    ndcg: evaluate.Metric, ties: str, documents: list[Any], k: int | None, others: bool
) -> None:
    words = {"ties": ties}
    if others:
        words |= {"gain": "exponential", "log_base": "10", "judged_only": "true"}
    ranking = of_documents(*documents, k=k, **words)
    measures = ["DCG", "IDCG"]
    dcg, ideal = ndcg.compute(**ranking.sides, **ranking.options, measures=measures).values()
    assert sorted(step.at for step in ranking.steps) == [*range(len(documents))]
    assert sum(step.added for step in ranking.steps) == pytest.approx(dcg)
    assert sum(step.added for step in ranking.ideal) == pytest.approx(ideal)
    assert ranking.ideal_sum == pytest.approx(ideal)


@given(
    values=st.lists(st.integers(0, 3), min_size=1, max_size=8), k=st.integers(1, 9), data=st.data()
)
def test_gains_at_the_discounts_of_their_places_sum_up_to_the_score_of_any_order(
    ndcg: evaluate.Metric, values: list[float], k: int, data: st.DataObject
) -> None:
    """The browser sums them in the same way while a reader holds a card."""
    ranking = relevance(3, *values, k=k)
    order = data.draw(st.permutations(range(len(ranking.documents))))
    gains = {step.at: step.gain for step in ranking.steps}
    discounts = ranking.discounts[:k]
    dcg = sum(gains[at] * discount for at, discount in zip(order, discounts, strict=False))
    ideal = ranking.ideal_sums[min(k, len(order)) - 1]
    (score,) = ranking.with_order(order).scores.values()
    assert dcg / ideal == pytest.approx(score)


@given(values=st.lists(st.integers(0, 3), min_size=2, max_size=9))
def test_the_ideal_order_keeps_equal_documents_in_the_order_that_is_shown(
    values: list[float],
) -> None:
    ranking = relevance(*values)
    expected = sorted(range(len(values)), key=lambda at: -values[at])  # sorted is stable
    assert [step.at for step in ranking.ideal] == expected
    turned = replace(ranking, order=tuple(reversed(range(len(values)))))
    expected = sorted(turned.order or (), key=lambda at: -values[at])
    assert [step.at for step in turned.ideal] == expected


def test_tied_documents_show_all_ranks_that_they_share() -> None:
    steps = of_documents((2, 1), (None, 1), (1, 2)).steps
    assert [(step.rank, step.at) for step in steps] == [("1", 2), ("2–3", 0), ("2–3", 1)]
    shared = (1 / math.log2(3) + 1 / 2) / 2
    assert [step.discount for step in steps] == pytest.approx([1, shared, shared])


@pytest.mark.parametrize(("ties", "rank"), [("average", "2–3"), ("docid", "3"), ("first", "2")])
def test_documents_with_close_scores_are_tied_as_32_bit_floats(ties: str, rank: str) -> None:
    documents = (2, 1 + 1e-9), (None, 1), (1, 2)
    ranking = of_documents(*documents, k=None, ties=ties, score_dtype="float32")
    assert {step.at: step.rank for step in ranking.steps}[0] == rank


def test_documents_without_a_rank_come_last_with_nothing() -> None:
    ranking = of_documents((2, None), (None, 3), (1, 2), k=None, judged_only="true")
    assert [(step.at, step.rank, step.added) for step in ranking.steps] == [
        (2, "1", 1.0),
        (0, "", 0),
        (1, "", 0),
    ]


def test_an_order_of_the_reader_replaces_that_of_the_scores_and_keeps_ties_of_neighbors() -> None:
    ranking = of_documents((0, 5), (1, 5), (2, 1))
    assert [step.rank for step in ranking.steps] == ["1–2", "1–2", "3"]
    moved = replace(ranking, order=(2, 0, 1))
    assert [(step.at, step.rank) for step in moved.steps] == [
        (2, "1"),
        (0, "2–3"),
        (1, "2–3"),
    ]
    turned = replace(ranking, order=(1, 0, 2))
    assert [(step.at, step.rank) for step in turned.steps] == [
        (1, "1–2"),
        (0, "1–2"),
        (2, "3"),
    ]
    apart = replace(ranking, order=(0, 2, 1))
    assert [step.rank for step in apart.steps] == ["1", "2", "3"]
    without = replace(ranking, order=(2,)).steps
    assert [(step.at, step.rank) for step in without] == [(2, "1"), (1, ""), (0, "")]


# --- The scale ------------------------------------------------------------------------------------


@given(values=st.lists(st.integers(0, 3), min_size=1, max_size=3), k=st.integers(1, 5))
def test_the_scale_has_the_worst_order_and_the_mean_of_all_orders(
    values: list[float], k: int
) -> None:
    ranking = relevance(3, *values, k=k)
    random = ranking.estimate.random_order
    scores = []
    for order in permutations(range(len(ranking.documents))):
        scores += ranking.with_order(order).scores.values()
    assert ranking.worst == pytest.approx(min(scores))
    assert random == pytest.approx(sum(scores) / len(scores))
    # the mean gain times the sum of the discounts, over the ideal DCG
    gains = [3, *values]
    discounts = [1 / math.log2(rank + 1) for rank in range(1, min(k, len(gains)) + 1)]
    ideal = sum(map(operator.mul, sorted(gains, reverse=True), discounts))
    assert random == pytest.approx(sum(gains) / len(gains) * sum(discounts) / ideal)
    assert not ranking.estimate.tied


def test_the_scale_has_the_worst_and_the_best_order_of_tied_documents(
    ndcg: evaluate.Metric,
) -> None:
    ranking = of_documents((3, 9), (0, 5), (1, 5), (2, 5), (0, 1))
    ends = [ndcg.compute(**ranking.sides, k=10, ties=ties)["nDCG@10"] for ties in ("worst", "best")]
    assert [ranking.estimate.worst, ranking.estimate.best] == pytest.approx(ends)


# --- Reading --------------------------------------------------------------------------------------


def read(*rows: tuple[str, str, str], **words: str) -> Ranking:
    return ranking_of(rows, with_options(10, **words))


@pytest.mark.parametrize("cell", ["1_000", "\u0661", "0x10", "1,000", "nan", "inf"])
def test_a_cell_is_a_number_where_a_file_would_hold_one(cell: str) -> None:
    with refusal("row 2"):
        read(("a", "1", "2"), ("b", cell, "1"))


@pytest.mark.parametrize(
    ("cell", "number"), [("0,95", "0.95"), (",5", "0.5"), ("-1,25", "-1.25"), ("2,0", "2")]
)
def test_a_decimal_comma_is_a_point(cell: str, number: str) -> None:
    assert read(("a", "1", cell)) == read(("a", "1", number))


def test_relevances_may_be_labels() -> None:
    rows = ("a", "no", "2"), ("b", "yes", "1"), ("c", "", "0.5")
    ranking = read(*rows, gain="yes=2,partly=1,no=0")
    assert [each.relevance for each in ranking.documents] == ["no", "yes", None]
    (score,) = ranking.scores.values()
    assert score == pytest.approx(1 / math.log2(3))
    with pytest.raises(
        ValueError,
        match=r"^row 1: relevance must be a number up to 1e.100; got 'no'; .* for labels, set Gain",
    ):
        read(*rows)
    with pytest.raises(ValueError, match=r"^row 1: 'no' is a label without a gain"):
        read(*rows, gain="yes=2,bad=0")


def test_levels_are_labels_too() -> None:
    ranking = read(("a", "1", "2"), ("b", "2", "1"), gain="0,0,1")
    assert list(ranking.scores.values()) == pytest.approx([1 / math.log2(3)])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "^there is no document$"),
        ([("", "", "")], "^there is no document$"),
        ([(f"{at}", "1", "1") for at in range(501)], "^501 documents; here at most 500 are shown$"),
        ([("a", "1e101", "1")], "row 1: relevance must be a number up to 1e.100; got '1e101'"),
        ([("a", "1", "1"), ("a", "1", "0")], "'a' is listed twice; name each once"),
        (
            [("a", "1", "x")],
            "^row 1: score must be a number up to 1e.100; got 'x'; leave it empty if it was not ",
        ),
        ([("a", "-2", "1")], r"^row 1 \(a\): relevance −2 is negative; "),
    ],
)
def test_rows_that_are_no_ranking_are_one_sentence(rows: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(*rows)
