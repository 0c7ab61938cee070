"""The picture of a ranking: its advice, its bars, and what moving its cards makes of the table."""

import re
from typing import Any

import evaluate
import pytest

from page.choices import bar_of, options_of
from page.contributions import Ranking, scores_of, steps
from page.picture import advice, picture
from page.ranking import ranking_of, reordered

TEXTBOOK = Ranking([f"d{at}" for at in range(1, 7)], [3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1])
OPTIONS = options_of(*bar_of("sklearn"))


def drawn(ranking: Ranking, **changed: Any) -> str:
    options = {**OPTIONS, **changed}
    return picture(ranking, steps(ranking, options, options["k"][0]), {"nDCG@10": 0.5}, options, "", 0)


def test_the_advice_is_the_swap_that_adds_most(ndcg: evaluate.Metric) -> None:
    found = advice(TEXTBOOK, TEXTBOOK.documents, OPTIONS)
    scores = {}
    for one in range(6):
        for other in range(one):
            relevance = [*TEXTBOOK.relevance]
            relevance[one], relevance[other] = relevance[other], relevance[one]
            swapped = ndcg.compute(predictions=[TEXTBOOK.score], references=[relevance], k=10)["nDCG@10"]
            scores[f"swap d{other + 1} and d{one + 1}"] = swapped
    assert found is not None
    assert found.text == max(scores, key=scores.__getitem__)
    now = ndcg.compute(**TEXTBOOK.inputs, k=10)["nDCG@10"]
    assert found.adds == pytest.approx(scores[found.text] - now)


@pytest.mark.parametrize("ties", ["average", "docid"])
def test_a_document_that_was_missed_is_to_be_retrieved_first(ties: str) -> None:
    ranking = Ranking(["a", "b"], [3, 1], [None, 1])
    found = advice(ranking, ["b"], {**OPTIONS, "ties": ties})
    assert found is not None
    assert (found.text, found.documents) == ("retrieve a at rank 1", ("a",))


@pytest.mark.parametrize("ties", ["first", "last", "average", "docid", "best", "worst"])
def test_following_the_advice_adds_what_it_says_until_there_is_none(ties: str) -> None:
    options = {**OPTIONS, "ties": ties}
    ranking = Ranking([f"d{at}" for at in range(1, 7)], [3, 0, 1, 2, 3, 2], [9, 5, 5, 5, 5, None])
    for _ in range(20):
        rows = steps(ranking, options, 10)
        ranked = [row["document"] for row in rows.to_dict("records") if row["rank"][0].isdigit()]
        found = advice(ranking, ranked, options)
        if found is None:
            return
        missed = [each for each in ranking.documents if each not in ranked]
        one, *others = found.documents
        if others:
            swapped = {one: others[0], others[0]: one}
            order = [swapped.get(each, each) for each in ranked]
        else:
            order = [one, *ranked]
            missed.remove(one)
        followed = ranking_of(reordered(ranking, order, missed))
        before, after = scores_of([ranking, followed], options)
        assert after - before == pytest.approx(found.adds)
        ranking = followed
    pytest.fail(f"with ties={ties!r} the advice has no end")


def test_the_best_order_needs_no_advice() -> None:
    assert advice(Ranking(["a", "b"], [2, 1], [2, 1]), ["a", "b"], OPTIONS) is None


def test_bars_are_as_long_as_gain_and_discounted_gain() -> None:
    html = drawn(Ranking(["a", "b"], [1, 2], [2, 1]))
    own, ideal = html.split("class='ideal'")
    # the gain of 2 is the whole width
    assert re.findall(r"width:([\d.]+)%", own) == ["50", "50", "100", "63.09"]
    assert re.findall(r"width:([\d.]+)%", ideal) == ["100", "100", "50", "31.55"]


def test_documents_that_are_tied_missed_or_not_judged_are_marked() -> None:
    html = drawn(Ranking(["a", "b", "<i>"], [2, None, 1], [1, 1, None]))
    assert html.count("data-tied='1–2'") == 2
    assert "<div class='card unjudged' data-term='document b'>" in html
    tray = html.partition("class='tray'")[2].partition("</div></section>")[0]
    assert re.findall("data-document='(.*?)'", tray) == ["&lt;i&gt;"]
    assert "<i>b" not in html


def test_no_swap_helps_among_tied_documents_while_they_are_tied() -> None:
    assert "No swap helps while documents are tied." in drawn(Ranking(["a", "b"], [0, 1], [1, 1]))
    assert "No swap helps." in drawn(Ranking(["a", "b"], [2, 1], [2, 1]))


def test_scores_stay_at_their_ranks_when_documents_move() -> None:
    rows = reordered(Ranking(["a", "b", "c"], [0, None, 2], [9, 9, 1]), ["c", "a", "b"], [])
    assert rows == [["c", "2", "9"], ["a", "0", "9"], ["b", "", "1"]]


def test_a_document_that_is_retrieved_now_scores_between_its_neighbors() -> None:
    ranking = Ranking(["a", "b", "c"], [0, 1, 2], [4, 2, None])
    for order, scores in (("cab", ["5", "4", "2"]), ("acb", ["4", "3", "2"]), ("abc", ["4", "2", "1"])):
        assert [row[2] for row in reordered(ranking, list(order), [])] == scores
    assert reordered(ranking, ["b"], ["a", "c"]) == [["b", "1", "2"], ["a", "0", ""], ["c", "2", ""]]
    assert reordered(ranking, ["c"], ["b"])[1] == ["a", "0", "4"]  # which was not named


def test_where_the_lowest_score_ranks_first_cards_keep_to_that_order() -> None:
    ranking = Ranking(["a", "b", "c"], [0, 1, 2], [2, 4, None])
    for order, scores in (("bac", ["2", "4", "5"]), ("cba", ["1", "2", "4"]), ("bca", ["2", "3", "4"])):
        assert [row[2] for row in reordered(ranking, list(order), [], "ascending")] == scores
    options = {**OPTIONS, "score_order": "ascending"}
    assert advice(Ranking(["a", "b"], [1, 0], [1, 2]), ["a", "b"], options) is None
    assert advice(Ranking(["a", "b"], [1, 0], [2, 1]), ["b", "a"], options).text == "swap b and a"


@pytest.mark.parametrize("ranked", [["a", "a"], ["x"]], ids=str)
def test_cards_of_another_table_are_rejected(ranked: list[str]) -> None:
    with pytest.raises(ValueError, match="The table has other documents now; move the cards again"):
        reordered(Ranking(["a", "b"], [0, 1], [2, 1]), ranked, [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "100%"),
        (0.9961, "99.6%"),
        (0.99996, "100%"),
        (0.9994, "99.9%"),
        (0.3, "30%"),
        (0.004, "0.4%"),
        (0.0, "0%"),
    ],
)
def test_a_share_is_all_or_nothing_only_if_it_is(value: float, text: str) -> None:
    ranking = Ranking(["a", "b"], [1, 2], [2, 1])
    html = picture(ranking, steps(ranking, OPTIONS, 10), {"nDCG@10": value}, OPTIONS, "", 0)
    since = ", since less relevant documents are above more relevant ones" if value < 1 else ""
    assert f">{text} of what the best order would score{since}." in html


def test_the_picture_says_why_an_order_is_not_the_best() -> None:
    inverted, missed = Ranking(["a", "b"], [0, 1], [2, 1]), Ranking(["a", "b"], [2, 1], [2, None])
    assert "score, since less relevant documents are above more relevant ones. " in drawn(inverted)
    assert "score, since relevant documents were not retrieved. " in drawn(missed)
    both = Ranking(["a", "b", "c"], [0, 1, 2], [2, 1, None])
    assert "above more relevant ones and relevant documents were not retrieved. " in drawn(both)
    assert "score, since documents of different relevance are tied. " in drawn(Ranking(["a", "b"], [1, 2], [1, 1]))
