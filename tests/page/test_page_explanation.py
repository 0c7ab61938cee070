"""Whose score a paper's is: one of three answers, and no cause that chance explains as well."""

import re
import urllib.parse
from typing import Any

import evaluate
import pytest
from visitor import Page, look, send

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

RELEVANCE, SCORES = [3, 0, 2, None, 1, 2], [9, 8, 5, 5, 5, 1]
GIVEN = {"predictions": [SCORES], "references": [RELEVANCE]}
DATA = "?rel=3,0,2,,1,2&scores=9,8,5,5,5,1"


def asked(got: str, **more: str) -> Page:
    return look(f"{DATA}&{urllib.parse.urlencode({'got': got, **more})}")


def answers(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.found(r'(?s)<div class="answer.*?<b>(.*?)</b>')]


def by_id(ndcg: evaluate.Metric, **options: Any) -> Any:
    ids = [f"d{at}" for at in range(1, 7)]
    run = {"q": dict(zip(ids, SCORES, strict=True))}
    judged = {"q": {d: r for d, r in zip(ids, RELEVANCE, strict=True) if r is not None}}
    return ndcg.explain(predictions=run, references=judged, **options)


def test_each_library_has_its_score_on_the_strip(ndcg: evaluate.Metric) -> None:
    page = look(DATA)
    shown = {}
    part = page.part("libraries").replace("<wbr>", "")
    for score, names in re.findall(r"<li><b>([\d.]+)</b> (.*?)</li>", part):
        shown |= dict.fromkeys(names.split(", "), score)
    expected = by_id(ndcg, k=10).scores
    assert shown == {name: f"{score:.3f}" for name, score in expected.items()}


@pytest.mark.parametrize("address", [DATA, "?tab=compare"])
def test_a_line_joins_each_dot_to_its_names(address: str) -> None:
    strips = look(address).part("libraries").split('class="scores"')[1:]
    assert len(strips) == (2 if "compare" in address else 1)
    for strip in strips:
        dots = [float(left) / 100 for left in re.findall(r'<i style="left:([\d.]+)%"', strip)]
        ends = [float(end) for end in re.findall(r'<line x1="([\d.]+)"', strip)]
        assert ends == pytest.approx(dots, abs=1e-4)
        assert len(ends) == strip.count("<li>") > 1


def test_the_conventions_that_have_the_score_are_named(ndcg: evaluate.Metric) -> None:
    score = f"{ndcg.compute(**GIVEN, k=10, convention='xgboost')['nDCG@10']:.4f}"
    names = ", ".join(by_id(ndcg, k=10, got=score).matches)
    assert answers(asked(score)) == [f"{names} give {score}."]
    assert asked(score).found('class="got" style="left:(.*?)%"') != []


def test_a_cause_is_named_only_if_chance_would_not_do(ndcg: evaluate.Metric) -> None:
    digits = ndcg.compute(**GIVEN, k=10, ideal="full", score_dtype="float32")["nDCG@10"]
    explanation = by_id(ndcg, k=10, got=f"{digits:.7f}")
    (answer,) = answers(asked(f"{digits:.7f}"))
    assert explanation.answer.kind == "cause"
    assert answer.startswith("No convention, but this: ")
    assert 'Ideal set to "all of the highest gain"' in answer
    explanation = by_id(ndcg, k=10, got=f"{digits:.2f}")
    (answer,) = answers(asked(f"{digits:.2f}"))
    assert answer.startswith(f"It cannot be told what gives {digits:.2f}: ")
    assert f" chance alone gives {explanation.answer.by_chance:.2f}. " in answer
    assert answer.endswith(explanation.remarks()[1])


def test_one_cause_alone_is_not_named_if_chance_explains_the_score_as_well(
    ndcg: evaluate.Metric,
) -> None:
    explanation = by_id(ndcg, k=10, got="0.535")
    assert explanation.answer.settings == 1
    assert explanation.answer.by_chance > 1
    (answer,) = answers(asked("0.535"))
    assert answer.startswith("It cannot be told what gives 0.535: 1 setting fits, and chance ")


def test_conventions_that_fit_by_chance_as_well_are_named_with_their_doubt() -> None:
    page = look("?got=0.754")
    (answer,) = answers(page)
    assert answer.startswith("It cannot be told what gives 0.754: sklearn, trec_eval, ")
    assert "catboost, haystack, evidently fit, and chance alone gives 0.03. More digits" in answer


def test_a_score_that_nothing_has_is_told_with_the_nearest() -> None:
    (answer,) = answers(look("?rel=0,1&got=0.77123"))
    assert answer.startswith("No convention gives 0.77123; the nearest is")


def test_scores_at_several_cutoffs_are_explained(ndcg: evaluate.Metric) -> None:
    scores = ndcg.compute(**GIVEN, measures=["nDCG@2", "nDCG@3"], convention="lightgbm")
    got = f"{scores['nDCG@2']:.4f}@2,{scores['nDCG@3']:.4f}@3"
    (answer,) = answers(asked(got))
    assert answer.endswith(" give nDCG@2 0.7872, nDCG@3 0.8179.")
    assert "lightgbm" in answer


def test_percentages_are_read() -> None:
    (answer,) = answers(look("?rel=0,1&got=63.09%25"))
    assert answer.endswith(" give 0.6309.")


@pytest.mark.parametrize(
    ("got", "said"),
    [
        ("many", "The paper's score must be an nDCG, such as 0.5921, or several"),
        ("/etc/passwd", "The paper's score must be an nDCG"),
        ("1", "The paper's score must have digits after the point, such as 1.000"),
        ("0.96@5, 0@10", "The paper's score must have digits after the point"),
        ("0,5921", "The paper's score must be an nDCG, such as 0.5921"),
    ],
)
def test_what_is_no_score_is_said_at_the_field(got: str, said: str) -> None:
    page = asked(got)
    assert answers(page)[0].startswith(said)
    assert 'class="answer fault"' in page.source
    assert page.found('name="got" value="(.*?)"')[-1] == got


def test_a_file_of_the_server_is_never_read() -> None:
    assert answers(asked(__file__[-30:]))[0].startswith("The paper's score must be an nDCG")


def test_several_runs_have_a_strip_and_an_answer_each(ndcg: evaluate.Metric) -> None:
    runs = {"x": "q1: a b\nq2: b a", "y": "q1: b a\nq2: a b c"}
    page = send(**{"qrels.txt": "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"})
    for text in runs.values():
        page = send(page.address, text=text)
    page = look(f"{page.address}&got=0.8155")
    assert len(re.findall('class="scores"', page.source)) == 2
    named = [re.match("(.*?): .* give 0.8155", answer) for answer in answers(page)]
    assert all(named)
    assert len({match[1] for match in named if match}) == 2
