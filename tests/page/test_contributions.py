"""The contributions that the page shows for a ranking add up to the metric's scores."""

import math
from typing import Any

import evaluate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from page.contributions import STEPS, Ranking, steps

TEXTBOOK = Ranking([f"d{at}" for at in range(6)], [3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1])
DOCUMENTS = st.lists(
    st.tuples(st.sampled_from([None, 0, 1, 2, 3]), st.sampled_from([None, 1.0, 2.0, 3.0])), min_size=1, max_size=8
)
OPTIONS: list[dict[str, Any]] = [
    {"ties": ties, "gain": gain, "log_base": base, "judged_only": judged_only}
    for ties in ("average", "first", "last", "best", "worst", "docid")
    for gain, base, judged_only in (("linear", 2.0, False), ("exponential", 10.0, True))
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@settings(max_examples=30)
@given(documents=DOCUMENTS, k=st.sampled_from([1, 2, 3, 10, None]))
def test_contributions_add_up_to_the_measures(
    ndcg: evaluate.Metric, options: dict[str, Any], documents: list[tuple[Any, Any]], k: int | None
) -> None:
    names = [f"d{at}" for at in range(len(documents))]
    ranking = Ranking(names, [r for r, _ in documents], [s for _, s in documents])
    table = steps(ranking, options, k)
    values = ndcg.compute(**ranking.given(options), **options, k=k, measures=["DCG", "IDCG"])
    dcg, ideal = values.values()
    assert list(table.columns) == STEPS
    assert sorted(table["document"]) == sorted(names)
    assert table["contribution"].sum() == pytest.approx(dcg)
    assert table["ideal"].sum() == pytest.approx(ideal)
    assert table["loss"].sum() == pytest.approx(ideal - dcg, abs=1e-9)


def test_tied_documents_show_all_ranks_that_they_share() -> None:
    table = steps(Ranking(["a", "b", "c"], [2, None, 1], [1, 1, 2]), {}, None)
    assert table[["rank", "document", "relevance"]].values.tolist() == [
        ["1", "c", "1"],
        ["2–3", "a", "2"],
        ["2–3", "b", "not judged"],
    ]
    shared = (1 / math.log2(3) + 1 / 2) / 2
    assert table["discount"].tolist() == pytest.approx([1, shared, shared])


@pytest.mark.parametrize("options", [{"ties": "average"}, {"ties": "docid"}, {"convention": "xgboost"}], ids=str)
def test_documents_with_close_scores_are_tied_as_32_bit_floats(ndcg: evaluate.Metric, options: dict[str, Any]) -> None:
    ranking = Ranking(["a", "b", "c"], [2, None, 1], [1 + 1e-9, 1, 2])
    settings = {**ndcg.CONVENTIONS[options.get("convention", "sklearn")].options, **options, "score_dtype": "float32"}
    settings.pop("convention", None)
    ranked = {"average": "2–3", "docid": "3", "first": "2"}[settings["ties"]]
    table = steps(ranking, settings, None)
    assert table.set_index("document")["rank"]["a"] == ranked
    expected = ndcg.compute(**ranking.given(settings), **settings, measures="DCG")["DCG"]
    assert table["contribution"].sum() == pytest.approx(expected)


def test_documents_without_a_rank_come_last_and_say_why() -> None:
    ranking = Ranking(["a", "b", "c"], [2, None, 1], [None, 3, 2])
    table = steps(ranking, {"judged_only": True}, None)
    assert table["rank"].tolist() == ["1", "not retrieved", "removed"]
    assert table["document"].tolist() == ["c", "a", "b"]
