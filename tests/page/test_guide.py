"""The six steps: their texts are true of their rankings."""

import math
import re
import urllib.parse
from types import SimpleNamespace
from typing import Any

import evaluate
import pytest

from page.address import shown_at
from page.choices import bar_of, options_of, query_of
from page.guide import (
    QUERY,
    RELEVANCE,
    STEPS,
    guide_html,
    is_begun_with,
    query_of_documents,
    rows_at,
    take_step,
)
from page.ranking import ranking_of

OPTIONS = options_of(*bar_of("sklearn"))


def scored(ndcg: evaluate.Metric, rows: list[list[str]], **options: object) -> float:
    value: float = ndcg.compute(**ranking_of(rows, OPTIONS).inputs, k=10, **options)["nDCG@10"]
    return value


def moved(rows: list[list[str]], one: int, other: int) -> list[list[str]]:
    """The rows with two documents swapped, and the scores left in place."""
    documents = [row[:2] for row in rows]
    documents[one], documents[other] = documents[other], documents[one]
    return [[*document, row[2]] for document, row in zip(documents, rows, strict=True)]


def test_the_answer_to_each_guess_is_what_the_metric_says(ndcg: evaluate.Metric) -> None:
    gain, discount, ideal, ties, missing, last = (step.rows for step in STEPS.values())
    graded = [*gain[:3], [gain[3][0], "3", "3"], *gain[4:]]
    retrieved = [*missing[:4], [*missing[4][:2], "5"], missing[5]]
    scores = {
        "gain": [scored(ndcg, gain), scored(ndcg, graded)],
        "discount": [
            scored(ndcg, discount),
            scored(ndcg, moved(discount, 0, 2)),
            scored(ndcg, moved(discount, 1, 2)),
        ],
        "ideal": [scored(ndcg, ideal)],
        "ties": [
            scored(ndcg, ties),
            *(scored(ndcg, ties, ties=each) for each in ("worst", "best")),
        ],
        "missing": [
            scored(ndcg, missing),
            scored(ndcg, retrieved),
            scored(ndcg, missing, judged_only=True),
        ],
        "exponential": [scored(ndcg, last, gain="exponential"), scored(ndcg, last)],
    }
    assert scores.keys() == STEPS.keys()
    for name, expected in scores.items():
        assert re.findall(r"\d\.\d{4}", STEPS[name].answer) == [
            f"{each:.4f}" for each in expected
        ], name


def test_what_a_text_says_of_its_ranking_is_true(ndcg: evaluate.Metric) -> None:
    discount, ideal, ties, missing, last = (step.rows for step in list(STEPS.values())[1:])
    # ranks 1 and 4 are equally relevant
    assert scored(ndcg, moved(discount, 0, 3)) == pytest.approx(scored(ndcg, discount))
    # the worst order gets more than half, and the reverse everything
    assert (
        0.5
        < scored(ndcg, ideal)
        < scored(ndcg, [[*row[:2], f"{at}"] for at, row in enumerate(ideal)])
        == 1
    )
    # ranks 2 to 4 share the mean of their discounts
    shared = sum(1 / math.log2(rank + 1) for rank in (2, 3, 4)) / 3
    assert scored(ndcg, ties) == pytest.approx((3 + 3 * shared) / (3 + 2 / math.log2(3) + 1 / 2))
    missed, unjudged = (
        [row[0] for row in missing if not row[2]],
        [row[0] for row in missing if not row[1]],
    )
    assert (missed, unjudged) == (["How honey is made", "Honey bees at work"], ["Bees in town"])
    assert all(f"“{each}”" in STEPS["missing"].text for each in (*missed, *unjudged))
    # one more relevant document raises the DCG of this order by more than that of the best
    gain = STEPS["gain"].rows
    graded = [*gain[:3], [gain[3][0], "3", gain[3][2]], *gain[4:]]
    sums = [
        ndcg.compute(**ranking_of(rows, {}).inputs, measures=["DCG", "IDCG"])
        for rows in (gain, graded)
    ]
    rises = [f"{sums[1][name] - sums[0][name]:.2f}" for name in ("DCG", "IDCG")]
    assert re.findall(r"\d\.\d{2}\b", STEPS["gain"].answer) == rises == ["1.29", "1.24"]
    # half of all gains are in the last place
    gains = [2 ** int(relevance) - 1 for _, relevance, _ in last]
    assert gains[-1] == sum(gains) / 2


@pytest.mark.parametrize("name", ["", *STEPS])
def test_each_step_ranks_documents_of_the_one_search_that_its_text_calls_by_their_titles(
    name: str,
) -> None:
    rows = rows_at(name)
    assert [RELEVANCE[document] for document, _, _ in rows] == [row[1] for row in rows]
    assert query_of_documents(row[0] for row in rows) == QUERY
    titles = re.findall("“(.*?)”", " ".join(map(str, STEPS[name][1:5]))) if name else []
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
    event: Any = SimpleNamespace(name="ties")
    assert take_step("", event) == ["ties", STEPS["ties"].rows, ""]
    assert take_step("ties", event)[0] == ""
