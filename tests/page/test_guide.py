"""The six steps: their texts are true of their rankings."""

import math
import re
import urllib.parse

import evaluate
import pytest

from page.address import shown_at
from page.choices import bar_of, query_of
from page.guide import QUERY, RELEVANCE, STEPS, guide_html, is_begun_with, query_of_documents, rows_at, take_step
from page.ranking import ranking_of


def scored(ndcg: evaluate.Metric, rows: list[list[str]], **options: object) -> float:
    value: float = ndcg.compute(**ranking_of(rows).inputs, k=10, **options)["nDCG@10"]
    return value


def moved(rows: list[list[str]], one: int, other: int) -> list[list[str]]:
    """The rows with two documents swapped, and the scores left in place."""
    documents = [row[:2] for row in rows]
    documents[one], documents[other] = documents[other], documents[one]
    return [[*document, row[2]] for document, row in zip(documents, rows, strict=True)]


def test_a_swap_changes_the_score_unless_the_relevance_is_the_same(ndcg: evaluate.Metric) -> None:
    rows = STEPS["discount"].rows
    now = (2 / math.log2(3) + 3 / 2) / (3 + 2 / math.log2(3))
    assert scored(ndcg, rows) == pytest.approx(now)
    assert scored(ndcg, moved(rows, 1, 2)) == pytest.approx((3 / math.log2(3) + 2 / 2) / (3 + 2 / math.log2(3)))
    assert scored(ndcg, moved(rows, 0, 2)) == 1
    assert scored(ndcg, moved(rows, 0, 3)) == pytest.approx(now)


def test_the_worst_order_gets_more_than_half(ndcg: evaluate.Metric) -> None:
    rows = STEPS["ideal"].rows
    assert scored(ndcg, rows) > 0.5
    assert scored(ndcg, [[row[0], row[1], f"{at}"] for at, row in enumerate(rows)]) == 1


def test_tied_documents_share_their_ranks_and_other_rules_can_be_lucky(ndcg: evaluate.Metric) -> None:
    rows = STEPS["ties"].rows
    shared = sum(1 / math.log2(rank + 1) for rank in (2, 3, 4)) / 3
    ideal = 3 + 2 / math.log2(3) + 1 / 2
    assert scored(ndcg, rows) == pytest.approx((3 + 3 * shared) / ideal)
    assert scored(ndcg, rows, ties="first") != scored(ndcg, rows)


def test_missing_relevant_documents_lower_the_score(ndcg: evaluate.Metric) -> None:
    rows = STEPS["missing"].rows
    missed, unjudged = [row[0] for row in rows if not row[2]], [row[0] for row in rows if not row[1]]
    assert (missed, unjudged) == (["How honey is made", "Honey bees at work"], ["Bees in town"])
    assert all(f"“{each}”" in STEPS["missing"].text for each in (*missed, *unjudged))
    assert scored(ndcg, rows) < scored(ndcg, [*rows[:4], [*rows[4][:2], "5"], rows[5]])
    ideal = 3 + 2 / math.log2(3) + 2 / 2 + 1 / math.log2(5) + 1 / math.log2(6)  # of all but d3
    assert scored(ndcg, rows) == pytest.approx((2 + 1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert scored(ndcg, rows, judged_only=True) == pytest.approx((2 + 1 / math.log2(3) + 1 / 2) / ideal)


def test_the_answer_to_each_guess_is_what_the_metric_says(ndcg: evaluate.Metric) -> None:
    gain, discount, missing = (STEPS[name].rows for name in ("gain", "discount", "missing"))
    graded = [*gain[:3], [gain[3][0], "3", "3"], *gain[4:]]
    retrieved = [*missing[:4], [*missing[4][:2], "5"], missing[5]]
    ties, last = STEPS["ties"].rows, STEPS["exponential"].rows
    scores = {
        "gain": [scored(ndcg, gain), scored(ndcg, graded)],
        "discount": [scored(ndcg, discount), scored(ndcg, moved(discount, 0, 2)), scored(ndcg, moved(discount, 1, 2))],
        "ideal": [scored(ndcg, STEPS["ideal"].rows)],
        "ties": [scored(ndcg, ties), *(scored(ndcg, ties, ties=each) for each in ("worst", "best"))],
        "missing": [scored(ndcg, missing), scored(ndcg, retrieved), scored(ndcg, missing, judged_only=True)],
        "exponential": [scored(ndcg, last, gain="exponential"), scored(ndcg, last)],
    }
    assert scores.keys() == STEPS.keys()
    for name, expected in scores.items():
        assert re.findall(r"\d\.\d{4}", STEPS[name].answer) == [f"{each:.4f}" for each in expected], name
    assert scores["exponential"][0] < scores["exponential"][1]
    gains = [2 ** int(relevance) - 1 for _, relevance, _ in last]
    assert gains[-1] == sum(gains) / 2


@pytest.mark.parametrize("name", ["", *STEPS])
def test_each_step_ranks_documents_of_the_one_search_that_its_text_calls_by_their_titles(name: str) -> None:
    rows = rows_at(name)
    assert [RELEVANCE[document] for document, _, _ in rows] == [row[1] for row in rows]
    assert query_of_documents(row[0] for row in rows) == QUERY
    if name:
        step = STEPS[name]
        titles = re.findall("“(.*?)”", f"{step.text} {step.guess} {step.choices} {step.answer}")
        assert {*titles} <= {row[0] for row in rows}
    assert query_of_documents([*RELEVANCE, "d1"]) == ""


@pytest.mark.parametrize("name", STEPS)
def test_each_step_has_an_address_of_its_own(name: str) -> None:
    step, table, *_ = shown_at({"step": name})
    assert step == name
    assert is_begun_with(table.value["data"], name)
    assert query_of(None, "sklearn", *bar_of("sklearn")) == ("k=10", True)
    query, _ = query_of([["d1", "1", "1"]], "sklearn", *bar_of("sklearn"))
    step, table, *_ = shown_at({"step": name, **dict(urllib.parse.parse_qsl(query))})
    assert (step, table.value["data"]) == (name, [["d1", "1", "1"]])
    assert guide_html(name).count("aria-current=step") == 1


def test_a_step_that_is_open_closes() -> None:
    class Event:
        name = "ties"

    assert take_step("", Event()) == ["ties", STEPS["ties"].rows, ""]  # type: ignore[arg-type]
    assert take_step("ties", Event())[0] == ""  # type: ignore[arg-type]
