"""The picture of a ranking: its advice, its bars, and what moving its cards makes of the table."""

import re
from itertools import combinations
from typing import Any

import evaluate
import pytest

from page.choices import bar_of, options_of
from page.contributions import Ranking, scores_of, steps
from page.picture import advice, picture
from page.ranking import ranking_of, reordered

TEXTBOOK = Ranking([f"d{at}" for at in range(1, 7)], [3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1])
OPTIONS = options_of(*bar_of("sklearn"))


def two(relevance: list[Any], score: list[Any]) -> Ranking:
    return Ranking(["a", "b"], relevance, score)


def drawn(ranking: Ranking, value: float = 0.5) -> str:
    return picture(ranking, steps(ranking, OPTIONS, 10), {"nDCG@10": value}, OPTIONS, "", 0)


def test_the_advice_is_the_swap_that_adds_most(ndcg: evaluate.Metric) -> None:
    scores = {}
    for one, other in combinations(range(6), 2):
        relevance = [*TEXTBOOK.relevance]
        relevance[one], relevance[other] = relevance[other], relevance[one]
        swapped = ndcg.compute(predictions=[TEXTBOOK.score], references=[relevance], k=10)[
            "nDCG@10"
        ]
        scores[f"swap d{one + 1} and d{other + 1}"] = swapped
    found = advice(TEXTBOOK, TEXTBOOK.documents, OPTIONS)
    assert found is not None
    assert found.text == max(scores, key=scores.__getitem__)
    assert found.adds == pytest.approx(
        scores[found.text] - ndcg.compute(**TEXTBOOK.inputs, k=10)["nDCG@10"]
    )


@pytest.mark.parametrize(
    ("ranking", "ranked", "changed", "text"),
    [
        (two([3, 1], [None, 1]), "b", {}, "retrieve a at rank 1"),
        (two([3, 1], [None, 1]), "b", {"ties": "docid"}, "retrieve a at rank 1"),
        (two([2, 1], [2, 1]), "ab", {}, None),
        (two([1, 0], [1, 2]), "ab", {"score_order": "ascending"}, None),
        (two([1, 0], [2, 1]), "ba", {"score_order": "ascending"}, "swap b and a"),
    ],
)
def test_the_advice_is_to_retrieve_or_to_swap_if_that_adds_anything(
    ranking: Ranking, ranked: str, changed: dict[str, str], text: str | None
) -> None:
    found = advice(ranking, [*ranked], {**OPTIONS, **changed})
    assert (found and found.text) == text


@pytest.mark.parametrize("ties", ["first", "last", "average", "docid", "best", "worst"])
def test_following_the_advice_adds_what_it_says_until_there_is_none(ties: str) -> None:
    options = {**OPTIONS, "ties": ties}
    ranking = TEXTBOOK._replace(relevance=[3, 0, 1, 2, 3, 2], score=[9, 5, 5, 5, 5, None])
    for _ in range(20):
        rows = steps(ranking, options, 10)
        ranked = rows["document"][rows["rank"].str[0].str.isdigit()].tolist()
        found = advice(ranking, ranked, options)
        if found is None:
            return
        one, other = found.documents[0], found.documents[-1]  # of one to retrieve, the same
        turned = {one: other, other: one}
        order = [turned.get(each, each) for each in ([] if one in ranked else [one]) + ranked]
        missed = [each for each in ranking.documents if each not in order]
        followed = ranking_of(reordered(ranking, order, missed), OPTIONS)
        before, after = scores_of([ranking, followed], options)
        assert after - before == pytest.approx(found.adds)
        ranking = followed
    pytest.fail(f"with ties={ties!r} the advice has no end")


def test_bars_are_as_long_as_gain_and_discounted_gain() -> None:
    own, ideal = drawn(two([1, 2], [2, 1])).split("class='ideal'")
    # the gain of 2 is the whole width
    assert re.findall(r"width:([\d.]+)%", own) == ["50", "50", "100", "63.09"]
    assert re.findall(r"width:([\d.]+)%", ideal) == ["100", "100", "50", "31.55"]


def test_large_numbers_have_a_power_of_ten() -> None:
    html = drawn(two([1e9, 12345.678], [1, 2]))
    assert re.findall(r"<b>([^<]*)</b><small>DCG", html) == ["6.309e+08", "1.000e+09"]
    assert re.findall(r"data-term='(?:dcg|ideal)'>([\d.e+]+)</span>", html) == [
        "12345.68",
        "6.309e+08",
        "1.000e+09",
        "7789.26",
    ]


def test_documents_that_are_tied_missed_or_not_judged_are_marked() -> None:
    html = drawn(Ranking(["a", "b", "<i>"], [2, None, 1], [1, 1, None]))
    assert html.count("data-tied='1–2'") == 2
    assert "<div class='card unjudged' data-term='document b'>" in html
    tray = html.partition("class='tray'")[2].partition("</div></section>")[0]
    assert re.findall("data-document='(.*?)'", tray) == ["&lt;i&gt;"]
    assert "<i>b" not in html


INVERTED, MISSED, TIED = two([1, 2], [2, 1]), two([2, 1], [2, None]), two([1, 2], [1, 1])
BEST = "of what the best order would score"
SINCE = f"{BEST}, since less relevant documents are above more relevant ones"


@pytest.mark.parametrize(
    ("ranking", "value", "said"),
    [
        (INVERTED, 1.0, f">100% {BEST}."),
        (INVERTED, 0.9961, f">99.6% {SINCE}. "),
        (INVERTED, 0.99996, f">100% {SINCE}. "),
        (INVERTED, 0.3, f">30% {SINCE}. "),
        (INVERTED, 0.004, f">0.4% {SINCE}. "),
        (INVERTED, 0.0, f">0% {SINCE}. "),
        (MISSED, 0.5, "score, since relevant documents were not retrieved. "),
        (TIED, 0.5, "score, since documents of different relevance are tied. "),
        (
            Ranking([*"abc"], [0, 1, 2], [2, 1, None]),
            0.5,
            f"{SINCE} and relevant documents were not retrieved. ",
        ),
        (TIED, 0.5, "No swap helps while documents are tied."),
        (two([2, 1], [2, 1]), 0.5, "No swap helps."),
    ],
)
def test_the_picture_says_how_good_an_order_is_and_why_not_better(
    ranking: Ranking, value: float, said: str
) -> None:
    assert said in drawn(ranking, value)


@pytest.mark.parametrize(
    ("first", "scores", "ranked", "missed", "expected"),
    [
        ("descending", [9, 9, 1], "cab", "", "c 2 9, a 0 9, b 1 1"),  # scores stay at their ranks
        (
            "descending",
            [4, 2, None],
            "cab",
            "",
            "c 2 5, a 0 4, b 1 2",
        ),  # a document that is retrieved now gets one
        ("descending", [4, 2, None], "acb", "", "a 0 4, c 2 3, b 1 2"),
        ("descending", [4, 2, None], "abc", "", "a 0 4, b 1 2, c 2 1"),
        ("descending", [4, 2, None], "b", "ac", "b 1 2, a 0 , c 2 "),
        ("descending", [4, 2, None], "c", "b", "c 2 1, a 0 4, b 1 "),  # a was not named
        ("ascending", [2, 4, None], "bac", "", "b 1 2, a 0 4, c 2 5"),
        ("ascending", [2, 4, None], "cba", "", "c 2 1, b 1 2, a 0 4"),
        ("ascending", [2, 4, None], "bca", "", "b 1 2, c 2 3, a 0 4"),
    ],
)
def test_moved_documents_get_the_scores_of_their_ranks(
    first: str, scores: list[Any], ranked: str, missed: str, expected: str
) -> None:
    rows = reordered(Ranking([*"abc"], [0, 1, 2], scores), [*ranked], [*missed], first)
    assert ", ".join(map(" ".join, rows)) == expected


@pytest.mark.parametrize("ranked", [["a", "a"], ["x"]], ids=str)
def test_cards_of_another_table_are_rejected(ranked: list[str]) -> None:
    with pytest.raises(ValueError, match="The table has other documents now; move the cards again"):
        reordered(two([0, 1], [2, 1]), ranked, [])
