"""The place Understand, as its first answer has it: readable before any script."""

import html
import json
import re
from typing import Any
from urllib.parse import urlencode

import evaluate
import pytest
from visitor import look

from page.settings import CHOICES, CONVENTIONS, LABELS, said

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

SCORE = "<small>score</small> "
FIRST = {"predictions": [[6, 5, 4, 3, 2, 1]], "references": [[0, 3, 3, 2, 2, 1]]}


def test_the_first_answer_has_the_number_the_scale_and_both_orders(ndcg: evaluate.Metric) -> None:
    page = look()
    (score,) = ndcg.report(**FIRST, k=10).scores.values()
    assert page.value == f"{score.value:.3f}" == "0.754"
    worst = ndcg.compute(predictions=[[1, 2, 3, 4, 5, 6]], references=[[3, 3, 2, 2, 1, 0]])["nDCG"]
    label = f"worst order {worst:.3f}, random order {score.random_order:.3f}, ideal 1"
    assert page.found('class="scale".*?\\s+aria-label="On a scale from 0 to 1: (.*?)"') == [label]
    assert page.found('aria-label="(.*?), rank 1, ') == ["Honey cake recipe"]
    assert "Search: how do bees make honey" in page.text
    assert "Drag the cake to the last place." in page.text


def test_every_negative_number_has_a_minus_sign() -> None:
    page = look("?rel=3,-1,2&scores=3,2,-1&negative_relevance=keep")
    assert page.found(r'class="grade">(.*?)<')[:3] == ["3", "−1", "2"]
    assert page.found(r'class="product">(.*?) ×') == ["3", "−1", "2"]
    assert page.found(f"{SCORE}(.*?)<") == ["3", "2", "−1"]


def test_each_option_has_its_choices_with_the_scores_that_they_give(ndcg: evaluate.Metric) -> None:
    page = look()
    for name, words in CHOICES.items():
        if name == "missing":  # of other queries
            continue
        for word in words:
            shown = f"{LABELS[name]}: {word}"
            options: dict[str, Any] = {name: {"true": True, "false": False}.get(word, word)}
            if name == "zero_division" and word != "perfect_if_empty":
                options = {name: float(word)}
            score = f"{ndcg.compute(**FIRST, k=10, **options)['nDCG@10']:.3f}"
            text = html.escape(said(name, word))
            beside = rf">{re.escape(text)}(?: \({score}\)|</[ab]> <small>{score}</small>)<"
            assert re.search(beside, page.source), shown
    assert "9 more settings, with the score that each choice would give" in page.text
    assert LABELS["missing"] not in page.text


def test_a_choice_keeps_the_ranking_and_the_name_of_the_convention(ndcg: evaluate.Metric) -> None:
    given = {"predictions": [[3, 2, 1]], "references": [[1, 0, 2]]}
    options = {"convention": "trec_eval", "ideal": "full"}
    value = f"{ndcg.compute(**given, k=10, **options)['nDCG@10']:.3f}"
    page = look("?rel=1,0,2&convention=trec_eval").follow("all of the highest gain")
    assert page.value == value
    assert page.found('<option selected title=".*?">(.*?)</option>') == ["trec_eval"]


def test_several_cutoffs_have_their_scores_and_the_largest_is_drawn(ndcg: evaluate.Metric) -> None:
    page = look("?k=1, 3")
    scores = ndcg.compute(**FIRST, k=[1, 3])
    assert page.value == f"{scores['nDCG@3']:.3f}"
    assert f"nDCG@1 {scores['nDCG@1']:.3f}" in page.text
    assert page.found('class="cut"[^>]*?\\s+aria-valuenow="(\\d+)"') == ["3"]


def test_every_number_is_listed_and_the_ideal_sums_up_within_the_cutoff(
    ndcg: evaluate.Metric,
) -> None:
    page = look("?k=3")
    rows = re.findall(r"(?s)<tr>(.*?)</tr>", page.part("folds"))
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in rows if "<td>" in row]
    sums = ndcg.compute(**FIRST, k=3, measures=["DCG", "IDCG"])
    assert sum(float(row[5]) for row in cells) == pytest.approx(sums["DCG@3"], abs=2e-3)
    assert sum(float(row[6]) for row in cells) == pytest.approx(sums["IDCG@3"], abs=2e-3)
    assert [row[1] for row in cells][:2] == ["Honey cake recipe", "From nectar to honey"]


def test_the_order_of_a_reader_is_scored_and_marked_and_the_score_of_the_engine_stays() -> None:
    page = look("?rel=0,1,2&scores=9.5,9.5,3&order=3*,1,2")
    assert page.found('aria-label="(d\\d), rank ([\\d–]+)') == [
        ("d3", "1"),
        ("d1", "2–3"),
        ("d2", "2–3"),
    ]
    assert page.source.count("<em>moved</em>") == 1
    assert page.found(f"{SCORE}(.*?)<") == ["3", "9.5", "9.5"]
    (tied,) = page.found('class="of-ties" title="the worst and the best order of the tied: (.*?)"')
    assert tied == "0.950 to 1.000"


def test_the_solved_ranking_says_so_and_what_a_random_order_scores() -> None:
    page = look("?order=2,3,4,5,6,1*")
    assert page.value == "1.000"
    assert "1 is the most: no order of these documents is better." in page.text
    assert "A random order would have had 0.848" in page.text


@pytest.mark.parametrize(
    ("query", "title", "said"),
    [
        ("order=2,3,1*,4,5,6&k=2", "Solved", "A line that is not level makes no difference here."),
        ("order=2,3,4,5,6", "Solved", "A random order would have had 0.908"),  # without the cake
        ("grade=1:3", "Your ranking", "This is your own ranking."),
    ],
)
def test_beside_the_figure_stands_what_is_true_of_it(query: str, title: str, said: str) -> None:
    thread = look(f"?{query}").says("thread")
    assert title in thread
    assert said in thread


def test_labels_are_pasted_alone() -> None:
    judged = look("?paste=yes no maybe&gain=yes=2,maybe=1,no=0")
    assert judged.found(r'class="grade">(.*?)<')[:3] == ["yes", "no", "maybe"]


def test_a_text_that_is_no_ranking_stays_in_its_box_beside_the_fault() -> None:
    page = look("?paste=a 1%0Ab 2 3")
    assert page.found(r"(?s)<textarea[^>]*>(.*?)</textarea>") == ["a 1\nb 2 3"]
    assert page.found(r'<p class="problem" role="status">(.*?);')[0].startswith("The ranking was")
    assert '<details id="own" open>' in page.source


@pytest.mark.parametrize("query", ["rel=1", "rel=0.5,2", "rel=3,,0&ids=7,8,9&scores=2.5,,1", ""])
def test_the_box_holds_the_ranking_that_is_shown(query: str) -> None:
    page = look(f"?{query}")
    (text,) = page.found(r"(?s)<textarea[^>]*>(.*?)</textarea>")
    assert ("score" in text) == ("scores" in query)
    again = look(f"?{urlencode({'paste': text})}")
    assert again.found(r'data-score="(.*?)"') == page.found(r'data-score="(.*?)"')
    assert again.found('aria-label="(.*?, rank .*?)"') == page.found('aria-label="(.*?, rank .*?)"')


def test_what_ndcg_stands_for_is_said_on_the_first_screen() -> None:
    assert "nDCG@10: normalized discounted cumulative gain, top 10" in look().text


def test_of_many_relevant_documents_those_stay_that_the_ideal_order_has_above_the_cutoff() -> None:
    figure = look(f"?rel={','.join(f'{at % 4}' for at in range(400))}&k=5").part("figure")
    left = figure.partition('class="right"')[0]
    shown = re.findall(r'(?<!folded-away)">\s*<span class="rank">(\d+)', left)
    assert shown == ["1", "2", "3", "4", "5", "8", "12", "16", "20"]


def test_a_long_ranking_is_folded_below_the_cutoff_unless_relevant(ndcg: evaluate.Metric) -> None:
    relevance = [0] * 40
    relevance[29] = 2  # retrieved at rank 30
    relevance[39] = 1  # not retrieved
    scores = [f"{100 - at}" for at in range(35)] + [""] * 5
    query = f"?rel={','.join(map(str, relevance))}&scores={','.join(scores)}"
    page = look(f"{query}&k=5")
    figure = page.part("figure")
    shown = re.findall(
        r'data-score="[^"]*"(?: class="[^"]*?( folded-away)?")?>\s*<span class="rank">(\d*)', figure
    )
    assert [rank for is_folded, rank in shown if not is_folded] == [*"12345", "30", ""]
    assert len(shown) == 40
    assert "29 more below the cutoff, which add nothing show" in page.text
    assert "4 more show" in page.text
    assert "folded-away" not in page.follow("show").source
    assert page.value == look(f"{query}&k=5&all=shown").value
    assert (
        "folded-away"
        not in look(query.replace("?rel=0,", "?rel=1,") + "&k=all")
        .part("figure")
        .partition('class="tray"')[0]
    )


def test_documents_that_were_missed_or_are_removed_stand_apart() -> None:
    page = look("?rel=2,,1&scores=3,2,&ids=a,b,c")
    tray = page.part("figure").partition('class="tray"')[2]
    assert re.findall('aria-label="(\\w), no rank', tray) == ["c"]
    assert 'class="card unjudged"' in page.source
    removed = look("?rel=2,,1&scores=3,2,&ids=a,b,c&judged_only=true")
    assert "Removed, since not judged" in removed.text


def test_scores_stand_only_where_they_matter() -> None:
    assert SCORE not in look().source
    assert SCORE in look("?step=ties").source
    assert SCORE in look("?rel=1,2&scores=0.9,0.1").source
    assert SCORE not in look("?rel=0.5,2.25").source  # the reader gave none


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 2 3 0 1 2", "0.961"),
        ("a 0 1\nb 1 2", "1.000"),
        ("q1 0 a 0\nq1 0 b 1", "0.631"),
        ("doc;rel\na;0\nb;1", "0.631"),
    ],
)
def test_a_pasted_ranking_is_shown(text: str, value: str) -> None:
    page = look(f"?{urlencode({'paste': text, 'step': 'ties'})}")
    assert page.notes == []
    assert page.value == value
    assert "Your ranking" in page.text
    assert page.follow("Back to the example").value == "0.754"


def test_what_no_document_answers_has_no_ideal() -> None:
    page = look("?rel=0,0")
    assert "No document is relevant, so there is no ideal to divide by" in page.text
    assert "÷" not in page.text
    assert 'class="scale"' not in page.source
    assert look("?rel=0,0&zero_division=nan").value == "no score"


def test_the_browser_gets_what_it_needs_to_sum_any_order(ndcg: evaluate.Metric) -> None:
    (data,) = look("?k=3&rel=1,0,2").found('data-live="(.*?)"')
    live = json.loads(data)
    given = {"predictions": [[3, 2, 1]], "references": [[1, 0, 2]]}
    ideals = [ndcg.compute(**given, k=k, measures="IDCG")[f"IDCG@{k}"] for k in (1, 2, 3)]
    assert live["ideals"] == pytest.approx(ideals)
    assert (live["cutoff"], live["base"], live["averages"]) == (3, [0, 1, 2], True)


def test_every_convention_can_be_chosen_and_says_its_library() -> None:
    page = look()
    choices = dict(page.found('<option(?: selected)? title="(.*?)">(.*?)</option>'))
    assert {*choices.values()} == {*CONVENTIONS}
    assert "" not in choices
