"""The conventions as data: the page describes them correctly. The libraries are in conformance/."""

import math
import re

import evaluate
import pytest
from conftest import ROOT
from reference import RELEVANCE, SCORES
from refusals import refusal

from ndcg.measure.conventions import CONVENTIONS, empty_text

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")


def test_the_page_describes_the_conventions_correctly(ndcg: evaluate.Metric) -> None:
    values = {
        name: ndcg.compute(predictions=SCORES, references=RELEVANCE, k=6, convention=name)["nDCG@6"]
        for name in CONVENTIONS
    }
    heads = "gain | discount | ideal | scores | ties | no relevant documents | negative | missing"
    table = [f"| `convention=` | library | nDCG | {heads} |", "|---" * 11 + "|"]
    for name, value in sorted(values.items(), key=lambda item: item[1]):
        convention = CONVENTIONS[name]
        chosen = convention.options | {"zero_division": empty_text(convention.zero_division)}
        cells = [f'`"{name}"`', convention.library, f"{value:.4f}", *chosen.values()]
        table.append(f"| {' | '.join(cells)} |")
    assert "\n".join(table) in PAGE, table
    notes = [
        f'- `"{name}"`: {convention.meaning} {convention.quirks}'.rstrip()
        for name, convention in CONVENTIONS.items()
    ]
    assert "\n".join(notes) in PAGE, notes


def test_the_card_the_docs_and_the_page_count_the_conventions() -> None:
    assert f"[conventions of {len(CONVENTIONS)} libraries](docs/conventions.md)" in README
    pages = [*ROOT.glob("page/*.py"), *ROOT.glob("page/templates/*.html")]
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *pages):
        text = path.read_text(encoding="utf-8")
        for count in re.findall(r"\b(\d+) (?:libraries|conventions)\b", text):
            assert int(count) == len(CONVENTIONS), path


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_convention_is_the_options_that_it_lists(ndcg: evaluate.Metric, name: str) -> None:
    inputs = {"predictions": SCORES, "references": RELEVANCE, "k": [1, 3, 6]}
    options = CONVENTIONS[name].options
    assert ndcg.compute(**inputs, convention=name) == ndcg.compute(**inputs, **options)
    assert ndcg.signature(k=6, convention=name) == ndcg.signature(k=6, **options)


def test_scikit_learn_is_the_default(ndcg: evaluate.Metric) -> None:
    assert ndcg.signature(convention="sklearn") == ndcg.signature()
    assert CONVENTIONS["sklearn"].options == {
        "gain": "linear",
        "discount": "log",
        "ideal": "judged",
        "score_dtype": "given",
        "ties": "average",
        "zero_division": 0.0,
        "negative_relevance": "raise",
        "missing": "empty",
    }


def test_an_option_that_is_given_wins_over_the_convention(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": SCORES, "references": RELEVANCE, "convention": "lightgbm"}
    by_query = ndcg.compute(**inputs, use_aggregator=False)["nDCG"]
    assert by_query[:2] == [1.0, 1.0]
    last = pytest.approx(1 / math.log2(3))
    assert ndcg.compute(**inputs, use_aggregator=False, zero_division=0.25)["nDCG"] == [
        1.0,
        0.25,
        by_query[2],
    ]
    assert ndcg.compute(**inputs, use_aggregator=False, ties="last")["nDCG"][0] == last
    assert ndcg.compute(**inputs, use_aggregator=False, ignore_ties=True)["nDCG"][0] == last
    with refusal("references", "query 0, position 1"):
        ndcg.compute(predictions=[[1, 2]], references=[[1, -1]], convention="lightgbm")
    clipped = {"convention": "lightgbm", "negative_relevance": "clip"}
    assert ndcg.compute(predictions=[[2, 1]], references=[[1, -1]], **clipped) == {"nDCG": 1.0}
