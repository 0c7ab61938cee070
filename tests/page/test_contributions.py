"""The contributions that the page shows for a ranking add up to the metric's scores."""

import math
from typing import Any

import evaluate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from page.contributions import STEPS, Ranking, place_discounts, steps

DOCUMENTS = st.lists(
    st.tuples(st.sampled_from([None, 0, 1, 2, 3]), st.sampled_from([None, 1.0, 2.0, 3.0])),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("ties", ["average", "first", "last", "best", "worst", "docid"])
@settings(max_examples=40)
@given(documents=DOCUMENTS, k=st.sampled_from([1, 2, 3, 10, None]), others=st.booleans())
def test_contributions_add_up_to_the_measures(
    ndcg: evaluate.Metric, ties: str, documents: list[tuple[Any, Any]], k: int | None, others: bool
) -> None:
    names = [f"d{at}" for at in range(len(documents))]
    ranking = Ranking(names, [r for r, _ in documents], [s for _, s in documents])
    options = {"ties": ties} | (
        {"gain": "exponential", "log_base": 10.0, "judged_only": True} if others else {}
    )
    table = steps(ranking, options, k)
    dcg, ideal = ndcg.compute(
        **ranking.given(options), **options, k=k, measures=["DCG", "IDCG"]
    ).values()
    assert list(table.columns) == STEPS
    assert sorted(table["document"]) == sorted(names)
    assert table["contribution"].sum() == pytest.approx(dcg)
    assert table["ideal"].sum() == pytest.approx(ideal)
    assert table["loss"].sum() == pytest.approx(ideal - dcg, abs=1e-9)


@given(
    relevance=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    k=st.integers(1, 9),
    data=st.data(),
)
def test_gains_at_the_discounts_of_their_places_sum_up_to_the_score_of_any_order(
    ndcg: evaluate.Metric, relevance: list[float | None], k: int, data: st.DataObject
) -> None:
    """The browser sums them in the same way while a reader holds a card."""
    size, options = len(relevance) + 1, {"ties": "average", "k": [k]}
    scores: list[float | None] = sorted(
        data.draw(st.lists(st.floats(0, 9), min_size=size, max_size=size)), reverse=True
    )
    ranking = Ranking([f"d{at}" for at in range(size)], [3, *relevance], scores)
    ranks = steps(ranking, options, k)
    gains = dict(zip(ranks["document"], ranks["gain"], strict=True))
    moved = ranking.reordered(data.draw(st.permutations(ranking.documents)), [])
    discounts = place_discounts(ranks, options, k)
    dcg = sum(
        gains[document] * discount
        for document, discount in zip(moved.documents, discounts, strict=True)
    )
    assert [dcg / ranks["ideal"].sum()] == pytest.approx(
        [*ndcg.compute(**moved.inputs, k=k).values()]
    )


def test_tied_documents_show_all_ranks_that_they_share() -> None:
    table = steps(Ranking(["a", "b", "c"], [2, None, 1], [1, 1, 2]), {}, None)
    rows = [["1", "c", "1"], ["2–3", "a", "2"], ["2–3", "b", "not judged"]]
    assert table[["rank", "document", "relevance"]].values.tolist() == rows
    shared = (1 / math.log2(3) + 1 / 2) / 2
    assert table["discount"].tolist() == pytest.approx([1, shared, shared])


@pytest.mark.parametrize(("ties", "rank"), [("average", "2–3"), ("docid", "3"), ("first", "2")])
def test_documents_with_close_scores_are_tied_as_32_bit_floats(
    ndcg: evaluate.Metric, ties: str, rank: str
) -> None:
    ranking, options = (
        Ranking(["a", "b", "c"], [2, None, 1], [1 + 1e-9, 1, 2]),
        {"ties": ties, "score_dtype": "float32"},
    )
    table = steps(ranking, options, None)
    assert table.set_index("document")["rank"]["a"] == rank
    expected = ndcg.compute(**ranking.given(options), **options, measures="DCG")["DCG"]
    assert table["contribution"].sum() == pytest.approx(expected)


def test_documents_without_a_rank_come_last_and_say_why() -> None:
    ranking = Ranking(["a", "b", "c"], [2, None, 1], [None, 3, 2])
    table = steps(ranking, {"judged_only": True}, None)
    assert table["rank"].tolist() == ["1", "not retrieved", "removed"]
    assert table["document"].tolist() == ["c", "a", "b"]
