"""The steps: their texts are true of their rankings, short, and answer nothing before the guess."""

import math
import re

import evaluate
import pytest
from visitor import look

from page.guide import (
    FIRST_RANKING,
    LESSONS,
    OPENING,
    QUERY,
    RELEVANCE,
    STEPS,
    query_of_documents,
)
from page.ranking import ranking_of
from page.settings import CONVENTIONS, Settings

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

USUAL = Settings().drawn
WORDS = 45  # of a step at most


def scored(ndcg: evaluate.Metric, rows: list[list[str]], **options: object) -> float:
    value: float = ndcg.compute(**ranking_of(rows, USUAL).sides, k=10, **options)["nDCG@10"]
    return value


def moved(rows: list[list[str]], one: int, other: int) -> list[list[str]]:
    """The rows with two documents swapped, and the scores left in place."""
    documents = [row[:2] for row in rows]
    documents[one], documents[other] = documents[other], documents[one]
    return [[*document, row[2]] for document, row in zip(documents, rows, strict=True)]


def doubled(rows: list[list[str]]) -> list[list[str]]:
    """The rows with twice the relevance."""
    return [[row[0], f"{2 * int(row[1])}", row[2]] for row in rows]


def test_the_answer_to_each_guess_is_what_the_metric_says(ndcg: evaluate.Metric) -> None:
    gain, discount, ideal, ties, missing, last, _ = (step.rows for step in LESSONS.values())
    retrieved = [*missing[:4], [*missing[4][:2], "5"], missing[5]]
    tied = ranking_of(ties, USUAL).by_id
    by_library = list(ndcg.explain(**tied, k=10).scores.values())
    report = ndcg.report(**ranking_of(ideal, USUAL).sides, k=10)
    scores = {
        "gain": [scored(ndcg, doubled(gain))],
        "discount": [
            scored(ndcg, discount),
            scored(ndcg, moved(discount, 0, 2)),
            scored(ndcg, moved(discount, 1, 2)),
        ],
        "ideal": [scored(ndcg, ideal), report.scores["nDCG@10"].random_order],
        "ties": [scored(ndcg, ties, ties=each) for each in ("worst", "best", "average")],
        "missing": [
            scored(ndcg, missing),
            scored(ndcg, retrieved),
            scored(ndcg, missing, judged_only=True),
        ],
        "exponential": [scored(ndcg, last, gain="exponential"), scored(ndcg, last)],
        "libraries": [min(by_library), max(by_library)],
    }
    assert scores.keys() == LESSONS.keys()
    for name, expected in scores.items():
        numbers = re.findall(r"\d\.\d{3}", LESSONS[name].answer)
        assert numbers == [f"{each:.3f}" for each in expected], name
    assert len({f"{score:.3f}" for score in by_library}) == 9
    assert LESSONS["libraries"].choices[0] == "Nine"
    assert f"{len(CONVENTIONS)} libraries" == LESSONS["libraries"].title


def test_what_a_text_says_of_its_ranking_is_true(ndcg: evaluate.Metric) -> None:
    gain, discount, ideal, ties, missing, last, _ = (step.rows for step in LESSONS.values())
    # the ideal order is the reverse of the worst
    assert scored(ndcg, [[*row[:2], f"{at}"] for at, row in enumerate(ideal)]) == 1
    # ranks 2 to 4 share the mean of their discounts
    shared = sum(1 / math.log2(rank + 1) for rank in (2, 3, 4)) / 3
    assert scored(ndcg, ties) == pytest.approx((3 + 3 * shared) / (3 + 2 / math.log2(3) + 1 / 2))
    missed = [row[0] for row in missing if not row[2]]
    unjudged = [row[0] for row in missing if not row[1]]
    assert (missed, unjudged) == (["How honey is made", "Honey bees at work"], ["Bees in town"])
    # twice the gain doubles the sum of this order, and that of the best
    sums = [
        ndcg.compute(**ranking_of(rows, USUAL).sides, measures=["DCG", "IDCG"])
        for rows in (gain, doubled(gain))
    ]
    assert sums[1] == {name: pytest.approx(2 * value) for name, value in sums[0].items()}
    # the discounts that are named are those of ranks 2 and 3
    assert (
        re.findall(r"\d\.\d{2}\b", LESSONS["discount"].text)
        == [f"{1 / math.log2(3):.2f}"]
        == ["0.63"]
    )
    # half of all gains are in the last place
    gains = [2 ** int(relevance) - 1 for _, relevance, _ in last]
    assert gains[-1] == sum(gains) / 2
    assert scored(ndcg, discount) < scored(ndcg, moved(discount, 1, 2)) < 1


def test_one_drag_of_the_first_card_to_the_last_place_solves_the_first_ranking(
    ndcg: evaluate.Metric,
) -> None:
    first, *others = FIRST_RANKING
    rows = [[*row[:2], f"{-at}"] for at, row in enumerate([*others, first])]
    assert "cake" in first[0]
    assert scored(ndcg, rows) == 1 > scored(ndcg, FIRST_RANKING) + 0.2


@pytest.mark.parametrize("name", ["", *LESSONS])
def test_each_step_ranks_documents_of_the_one_search_that_its_text_calls_by_their_titles(
    name: str,
) -> None:
    rows = STEPS[name].rows
    assert [RELEVANCE[document] for document, _, _ in rows] == [row[1] for row in rows]
    assert query_of_documents(row[0] for row in rows) == QUERY
    titles = re.findall("“(.*?)”", " ".join(map(str, LESSONS[name][1:5]))) if name else []
    assert {*titles} <= {row[0] for row in rows}
    assert query_of_documents([*RELEVANCE, "d1"]) == ""


@pytest.mark.parametrize("name", LESSONS)
def test_a_step_is_short_and_asks_one_guess(name: str) -> None:
    step = LESSONS[name]
    assert len(step.text.split()) <= WORDS
    assert len(step.answer.split()) <= WORDS
    assert len(step.guess.split("?")) == 2
    assert len(OPENING.split()) <= WORDS


@pytest.mark.parametrize("name", LESSONS)
def test_nothing_on_the_screen_answers_the_guess(name: str) -> None:
    page = look(f"?step={name}")
    assert LESSONS[name].guess in page.text
    assert LESSONS[name].answer[:20] not in page.text
    numbers = {*re.findall(r"0\.\d{3}", LESSONS[name].answer)}
    if name != "ideal":  # which asks for the score
        numbers.discard(page.value)
    assert not numbers & {*re.findall(r"\d\.\d{3}", page.source)}
    right, wrong = LESSONS[name].choices
    assert page.found('class="button" href="[^"]*guess=[^"]*"( aria-current)?') == ["", ""]
    answered = page.follow(right)
    assert f"Right. {LESSONS[name].answer}" in answered.text
    assert LESSONS[name].answer in page.follow(wrong).text
    assert "Not quite" in page.follow(wrong).text
    assert 'class="answer wrong"' in page.follow(wrong).source
    assert 'class="answer wrong"' not in answered.source
    assert re.search(r"Lesson \d of \d, with a list of its own", page.says("thread"))


@pytest.mark.parametrize("change", ["k=2", "order=2*,1,3,4", "grade=1:3", "gain=exponential"])
def test_a_lesson_that_was_changed_says_that_its_text_is_about_how_it_began(change: str) -> None:
    says = "the text is about how the lesson began"
    answer = LESSONS["ideal"].choices[0]
    page = look(f"?step=ideal&{change}")
    assert says in page.text
    # a guess is about the lesson as it began
    assert page.follow(answer).address == look("?step=ideal").follow(answer).address
    assert says not in page.follow("Begin again").text
    assert says not in look("?step=ideal").text


def test_the_number_is_hidden_where_it_is_the_answer() -> None:
    page = look("?step=ideal")
    assert page.value == "?"
    assert 'class="scale"' not in page.source
    assert page.follow("More than half").value == "0.614"


@pytest.mark.parametrize("is_answered", [True, False])
def test_the_steps_lead_from_the_start_to_the_libraries_and_back(is_answered: bool) -> None:
    page, onward, titles = look(), "Next: ", []
    for lesson in LESSONS.values():
        page = page.follow(f"{onward}{lesson.title}")
        titles.append(re.findall(r"(\d of \d)", page.says("thread"))[0])
        assert "Next: " not in page.says("thread")
        if is_answered:
            page = page.follow(lesson.choices[0])
            assert "Skip to " not in page.says("thread")
        else:
            onward = "Skip to "
    assert titles == [f"{at} of {len(LESSONS)}" for at in range(1, len(LESSONS) + 1)]
    assert page.follow("Back").says("thread").startswith("Exponential gain")
    page = page.follow("Next: the start" if is_answered else "Skip to the start")
    assert page.says("thread").startswith("How good is this order?")
