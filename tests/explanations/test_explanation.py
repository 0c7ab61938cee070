"""`explain` scores rankings under every convention, and shows the effect of each choice."""

import json
import math
from collections.abc import Callable, Iterable
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import NUMBERS, RELEVANCE, SCORES
from refusals import refusal

from ndcg.explanations.evidence import UNLIKELY
from ndcg.explanations.explanation import DECIDE, Scorer, Verdict, explain, explained
from ndcg.explanations.reported import Reported
from ndcg.explanations.slip_terms import Queries, Query, in_order
from ndcg.explanations.slips import SLIPS, slip_named
from ndcg.inputs.reading import Inputs
from ndcg.measure.conventions import CHOICES, CONVENTIONS
from ndcg.scores.compute import compute

CARD: dict[str, Any] = {"predictions": SCORES, "references": RELEVANCE}
RUN = {"q1": {"d1": 1.0, "d2": 1.0, "d3": 0.2}, "q2": {"d9": 1.0}, "q4": {"d1": 2.0}}
QRELS = {"q1": {"d1": 1, "d3": 2}, "q2": {"d1": 0}, "q3": {"d1": 1}}


def files(folder: Path) -> dict[str, Any]:
    run, qrels = folder / "bm25.run", folder / "qrels"
    run.write_text(
        "".join(f"{q} Q0 {d} 0 {score} x\n" for q, of in RUN.items() for d, score in of.items())
    )
    qrels.write_text(
        "".join(f"{q} 0 {d} {grade}\n" for q, of in QRELS.items() for d, grade in of.items())
    )
    return {"predictions": run, "references": qrels}


FORMS: dict[str, Any] = {
    "lists": lambda _: CARD,
    "mappings": lambda _: {"predictions": RUN, "references": QRELS},
    "files": files,
    "a frame": lambda _: {
        "data": pd.DataFrame(
            {"q": [1, 1, 2, 2], "d": [4, 3, 2, 1], "s": [0.5, 0.5, 0.1, 0.2], "r": [0, 1, 0, 2]}
        ),
        "predictions": "s",
        "references": "r",
        "query_ids": "q",
        "document_ids": "d",
    },
}


# The numbers


@pytest.mark.parametrize(
    "option", [{"discount": [1.0, 0.5, 0.25]}, {"gain": np.array([0.0, 1.0, 3.0, 9.0])}]
)
def test_slips_are_tried_on_options_that_are_lists(
    ndcg: evaluate.Metric, option: dict[str, Any]
) -> None:
    inputs = {"predictions": [[2, 1, 3, 4]], "references": [[1, 0, 2, 3]], "k": 3}
    dcg = ndcg.compute(**inputs, **option, measures="DCG")["DCG@3"]
    slips = ndcg.explain(**inputs, **option, got=f"{dcg:.6f}").slips
    assert "DCG called nDCG" in [slip for slip, _ in slips]


@pytest.mark.parametrize("form", FORMS)
def test_every_convention_has_the_number_of_compute(
    ndcg: evaluate.Metric, tmp_path: Path, form: str
) -> None:
    inputs = FORMS[form](tmp_path)
    how = {"k": 2, "sample_weight": [1 + query for query in range(2 if form == "a frame" else 3)]}
    found = ndcg.explain(**inputs, **how)
    assert (found.measure, found.errors) == ("nDCG@2", {})
    assert found.scores == {
        name: ndcg.compute(**inputs, **how, convention=name)["nDCG@2"] for name in CONVENTIONS
    }


def test_an_option_that_is_given_holds_for_every_convention(ndcg: evaluate.Metric) -> None:
    options = {"ties": "best", "gain": [0, 1, 3, 9], "log_base": 3, "judged_only": True}
    scores = {
        name: ndcg.compute(**CARD, k=3, convention=name, **options)["nDCG@3"]
        for name in CONVENTIONS
    }
    assert ndcg.explain(**CARD, k=3, **options).scores == scores


def test_a_convention_without_a_number_says_why(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(predictions=[[2, 1], [1, 2]], references=[[1, -1], [0, 1]])
    clipped = [name for name, each in CONVENTIONS.items() if each.negative_relevance == "raise"]
    assert (
        set(found.errors)
        == {name for name, number in found.scores.items() if number is None}
        == set(clipped)
    )
    assert found.errors["rectools"].startswith('k must be given for convention="rectools"')
    assert found.errors["sklearn"].startswith(
        "references: query 0, position 1: the relevance -1 is negative"
    )
    assert str(found).count("the relevance -1 is negative") == 1
    with refusal("nDCG"):
        ndcg.explain(predictions=[[2, 1]], references=[[0, 0]], zero_division=math.nan)


def test_a_missing_query_may_be_rejected(ndcg: evaluate.Metric) -> None:
    with refusal("predictions", "query 'q3'"):
        ndcg.explain(predictions=RUN, references=QRELS, k=2, missing="raise")


def test_an_ideal_too_long_for_memory_is_rejected_alone(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(predictions=[[1, 2]], references=[[0, 1]], k=10**15)
    assert list(found.errors) == ["rectools"]


@pytest.mark.parametrize("convention", ["sklearn", "ignite", "lightgbm"])
def test_the_convention_of_a_number_is_found(ndcg: evaluate.Metric, convention: str) -> None:
    found = ndcg.explain(**CARD, got=NUMBERS[convention])
    exact = ndcg.compute(**CARD, convention=convention)["nDCG"]
    assert convention in found.matches
    assert {round(found.scores[name], 4) for name in found.matches} == {NUMBERS[convention]}
    assert found.signature == ndcg.signature(convention=found.matches[0])
    assert convention in ndcg.explain(**CARD, got=exact).matches
    assert convention in ndcg.explain(**CARD, got=float(np.float32(exact))).matches
    assert ndcg.explain(**CARD, got=exact + 1e-5).matches == ()


# The search


RUNS = np.random.default_rng(3)
SEARCHED_QUERIES = [f"q{at}" for at in range(60)]
SEARCHED_QRELS = {
    query: {
        f"d{at}": int(RUNS.integers(0, 4)) * (position % 9 > 0)
        for at in RUNS.choice(60, 15, replace=False)
    }
    for position, query in enumerate(SEARCHED_QUERIES)
}
SEARCHED_RUN = {
    query: {
        f"d{at}": float(np.round(RUNS.normal(), 1)) for at in RUNS.choice(60, 30, replace=False)
    }
    for query in SEARCHED_QUERIES[:55]
}
SEARCHED: dict[str, Any] = {"predictions": SEARCHED_RUN, "references": SEARCHED_QRELS}


def slip_values(name: str, inputs: dict[str, Any], **options: Any) -> Any:
    """The nDCG@10 of each query with a slip."""
    run, qrels = inputs["predictions"], inputs["references"]
    queries = (
        Query(run.get(each, {}), judged, 10, each not in run) for each, judged in qrels.items()
    )
    return slip_named(name).scores(Queries(queries), options)


def mean_effects(
    names: Iterable[str], score_with: Callable[[frozenset[str]], float]
) -> dict[str, float]:
    """The effect of changing each, over all orders of changing them."""
    effects = dict.fromkeys(names, 0.0)
    orders = list(permutations(effects))
    for order, name in product(orders, effects):
        before = frozenset(order[: order.index(name)])
        effects[name] += (score_with(before | {name}) - score_with(before)) / len(orders)
    return effects


def test_a_score_that_no_convention_has_is_searched_in_all_combinations(
    ndcg: evaluate.Metric,
) -> None:
    how = {"gain": "exponential", "ideal": "retrieved", "zero_division": math.nan}
    got = round(ndcg.compute(**SEARCHED, k=10, **how)["nDCG@10"], 5)
    found = ndcg.explain(**SEARCHED, k=10, got=got)
    assert found.matches == ()
    for each in found.combinations:
        assert ndcg.compute(**SEARCHED, **each.options) == {
            "nDCG@10": pytest.approx(each.score, abs=1e-12)
        }
        assert each.score == pytest.approx(got, abs=5e-6)
    changes = [len(each.changed) for each in found.combinations]
    assert changes == sorted(changes)
    assert found.remarks()[0].startswith(f"It cannot be told what gives {got}: ")
    assert ", and chance alone gives 0." in found.remarks()[0]


# What is told


def drawn(seed: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Rankings of 20 queries, and the nDCG@5 and nDCG@20 of another system on them."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 4, (20, 30)) * (rng.random((20, 30)) < 0.3)
    grades[::9] = 0
    systems = [np.round(0.4 * grades + rng.normal(size=grades.shape), 1).tolist() for _ in range(2)]
    other = ndcg_of({"predictions": systems[1], "references": grades.tolist()})
    return {"predictions": systems[0], "references": grades.tolist()}, other


def ndcg_of(inputs: dict[str, Any], **options: Any) -> dict[str, float]:
    return compute(**inputs, measures=["nDCG@5", "nDCG@20"], **options)


def told(
    scores: dict[str, float], digits: int, inputs: dict[str, Any], names: Iterable[str]
) -> Verdict:
    got = {name: f"{scores[name]:.{digits}f}" for name in names}
    found = explain(**inputs, got=got, missing="empty", judged_only=False)
    assert found.answer is not None
    return found.answer


ONE, TWO = ["nDCG@5"], ["nDCG@5", "nDCG@20"]


@pytest.mark.parametrize(
    ("options", "digits", "names", "kind"),
    [
        ({"convention": "lightgbm"}, 1, ONE, "unknown"),
        ({"convention": "lightgbm"}, 2, ONE, "unknown"),
        ({"convention": "lightgbm"}, 2, TWO, "unknown"),
        ({"convention": "lightgbm"}, 3, TWO, "conventions"),
        ({"convention": "lightgbm"}, 4, ONE, "conventions"),
        ({"discount": "reciprocal", "ties": "last"}, 3, ONE, "unknown"),
        ({"discount": "reciprocal", "ties": "last"}, 6, ONE, "cause"),
        ({"discount": "reciprocal", "ties": "last"}, 4, TWO, "cause"),
    ],
)
def test_what_gives_a_score_is_told_if_chance_alone_would_not(
    options: dict[str, Any], digits: int, names: list[str], kind: str
) -> None:
    inputs, _ = drawn(1)
    answer = told(ndcg_of(inputs, **options), digits, inputs, names)
    assert answer.kind == kind
    assert (answer.by_chance <= UNLIKELY) == (kind != "unknown")
    assert answer.settings >= 1
    if kind == "cause":
        assert "but discount=reciprocal" in answer.fits[0].definition


@pytest.mark.slow
def test_scores_of_other_systems_have_no_cause() -> None:
    """But for a few by chance, as benchmarks/EXPLANATIONS.md shows."""
    named = 0
    for seed in range(2):
        inputs, other = drawn(seed)
        for digits, names in ((3, ONE), (4, ONE), (4, TWO)):
            named += told(other, digits, inputs, names).kind != "unknown"
    assert named <= 1


def test_several_scores_of_rankings_that_are_scored_once_are_explained_like_one() -> None:
    inputs, other = drawn(1)
    known: dict[str, Any] = {"missing": "empty", "judged_only": False}
    scorer = Scorer(Inputs(**inputs).settled(), 5, known)
    for digits in (3, 6):
        got = {"nDCG@5": f"{other['nDCG@5']:.{digits}f}"}
        again = explained(scorer, Reported.read(got, None))
        assert again.to_dict() == explain(**inputs, got=got, **known).to_dict()


def test_options_with_the_fewest_changes_are_the_cause(ndcg: evaluate.Metric) -> None:
    known = {"missing": "empty", "gain": "linear"}
    got = ndcg.compute(**SEARCHED, k=10, **known, ties="last", zero_division=1.0)["nDCG@10"]
    found = ndcg.explain(**SEARCHED, got={"nDCG@10": f"{got:.6f}"}, **known)
    assert found.answer.kind == "cause"
    fewest = min(len(each.changed) for each in found.combinations)
    simplest = [each for each in found.combinations if len(each.changed) == fewest]
    assert [fit.definition for fit in found.answer.fits] == list(map(str, simplest))
    assert found.answer.by_chance <= found.by_chance
    assert "settings with so few changes." in str(found)


def test_a_score_that_chance_explains_names_no_options_in_its_signature(
    ndcg: evaluate.Metric,
) -> None:
    for got in (0.59, 0.79):
        found = ndcg.explain(**CARD, k=10, got=got)
        assert (found.answer.kind, found.signature, found.between) == ("unknown", "", None)
        assert found.remarks()[0].startswith(f"It cannot be told what gives {got}: ")
        assert found.remarks()[1] == DECIDE


def test_values_of_few_queries_may_be_a_chance(ndcg: evaluate.Metric) -> None:
    """A tenth of all nearby values match the two digits of one query; 0 and 1 say nothing."""
    inputs = {"predictions": [[1, 1, 2], [3, 2, 1]], "references": [[1, 2, 0], [1, 0, 0]]}
    values = ndcg.compute(**inputs, use_aggregator=False)["nDCG"]
    assert values[1] == 1
    assert ndcg.explain(**inputs, got=[f"{value:.2f}" for value in values]).answer.kind == "unknown"
    assert (
        ndcg.explain(**inputs, got=[f"{value:.5f}" for value in values]).answer.kind
        == "conventions"
    )
    perfect = {"predictions": [[3, 2, 1]] * 2, "references": [[1, 0, 0]] * 2}
    found = ndcg.explain(**perfect, got=[1.0, 1.0])
    assert found.answer.kind == "unknown"


RNG = np.random.default_rng(9)
OF_TEN = [f"q{number}" for number in range(10)]
OF_TEN_QRELS = {q: {f"d{d}": int(RNG.integers(0, 3)) for d in range(12)} for q in OF_TEN}
OF_TEN_RUN = {q: {f"d{d}": round(float(RNG.random()), 1) for d in range(4, 18)} for q in OF_TEN}


def test_slips_are_found_on_values_without_the_queries_that_the_run_lacks() -> None:
    """Queries that have 0 or no value in any case are not counted as alike."""
    run = {query: OF_TEN_RUN[query] for query in OF_TEN[3:]}
    inputs = {"predictions": run, "references": OF_TEN_QRELS, "k": 10}
    reverse = {q: {d: -score for d, score in documents.items()} for q, documents in run.items()}
    inputs_of_values = {**inputs, "predictions": reverse, "missing": "skip"}
    values = compute(**inputs_of_values, use_aggregator=False)["nDCG@10"]
    got = dict(list(zip(OF_TEN, values, strict=True))[3:])
    found = explain(**inputs, got=got)
    assert found.answer is not None
    assert found.answer.kind == "cause"
    assert ("ascending order", "sklearn, but missing=skip") in found.slips
    got = dict.fromkeys(got, 0.123)
    assert "unjudged documents" not in str(explain(**inputs, got=got))


def test_a_score_above_1_that_nothing_gives_is_a_percentage() -> None:
    inputs = {"predictions": OF_TEN_RUN, "references": OF_TEN_QRELS, "k": 10}
    found = explain(**inputs, got="1.0592")
    assert (found.got, found.percent) == (0.010592, True)
    assert "Your score was read as a percentage: 1.0592% is 0.010592." in str(found)


def test_values_of_queries_above_1_count_as_evidence() -> None:
    rng = np.random.default_rng(8)
    inputs = {"predictions": rng.random((30, 12)), "references": rng.integers(0, 4, (30, 12))}
    dcg = compute(**inputs, k=10, measures="DCG", use_aggregator=False)["DCG@10"]
    found = explain(**inputs, k=10, got=dcg)
    assert found.answer is not None
    assert (found.answer.kind, found.slips[0][0]) == ("cause", "DCG called nDCG")


# The search


SATURATED: dict[str, Any] = {  # sigmoids that differ in 64 bits, nearly all of which are 1 in 32
    "references": SEARCHED_QRELS,
    "predictions": {
        query: {
            each: 1 / (1 + math.exp(-20 - score - at / 1000))
            for at, (each, score) in enumerate(run.items())
        }
        for query, run in SEARCHED_RUN.items()
    },
    "k": 10,
}


def test_scores_compared_as_32_bit_floats_are_found(ndcg: evaluate.Metric) -> None:
    (value,) = ndcg.compute(
        **SATURATED, gain="exponential", ideal="retrieved", score_dtype="float32"
    ).values()
    found = ndcg.explain(**SATURATED, got=round(value, 6))
    assert found.combinations
    for each in found.combinations:
        assert (CONVENTIONS[each.convention].options | each.changed)["score_dtype"] == "float32"
        assert each.score == pytest.approx(value, abs=1e-6)
    tried = [
        ndcg.explain(**SATURATED, got=0.123456, score_dtype=each).tried
        for each in ("given", "float32")
    ]
    assert tried[1] == tried[0] * 6  # the orders of ties, of which there are none in 64 bits
    assert found.tried == sum(tried)


def test_the_convention_that_compares_32_bit_floats_is_named_by_its_score(
    ndcg: evaluate.Metric,
) -> None:
    got = round(ndcg.compute(**SATURATED, convention="pytrec_eval")["nDCG@10"], 6)
    found = ndcg.explain(**SATURATED, got=got, between=("sklearn", "pytrec_eval"))
    assert found.matches == ("pytrec_eval", "beir", "mteb")
    (by_dtype,) = (each for each in found.choices if each.name == "score_dtype")
    assert by_dtype[1:3] == ("given", "float32")
    assert by_dtype.effect != 0


def test_a_convention_at_another_cutoff_is_found(ndcg: evaluate.Metric) -> None:
    got = round(ndcg.compute(**SEARCHED, k=20, convention="trec_eval")["nDCG@20"], 6)
    found = ndcg.explain(**SEARCHED, k=10, got=got)
    first = found.combinations[0]
    assert (first.convention, first.changed, str(first)) == (
        "trec_eval",
        {"k": 20},
        "trec_eval, but k=20",
    )
    assert (first.call, first.flags) == (
        "convention='trec_eval', k=20",
        "--convention trec_eval -k 20",
    )
    assert found.signature == ndcg.signature(**first.options)


def test_scores_by_name_are_explained_at_the_first_cutoff(ndcg: evaluate.Metric) -> None:
    got = ndcg.compute(**CARD, k=[1, 2])
    assert ndcg.explain(**CARD, got=got).measure == "nDCG@1"
    assert ndcg.explain(**CARD, got={"nDCG@2": got["nDCG@2"]}).measure == "nDCG@2"


@pytest.mark.slow
def test_scores_at_two_cutoffs_leave_fewer_combinations_than_one(ndcg: evaluate.Metric) -> None:
    known = {"judged_only": False, "ties": "average", "zero_division": 0.0, "log_base": 2}
    scores = ndcg.compute(
        **SEARCHED, measures=["nDCG@5", "nDCG@10"], gain="exponential", discount="reciprocal"
    )
    got = {name: round(value, 3) for name, value in scores.items()}
    both = ndcg.explain(**SEARCHED, got=got, **known)
    one = ndcg.explain(**SEARCHED, k=10, got=got["nDCG@10"], **known)
    assert 0 < len(both.combinations) < len(one.combinations)
    text = f"{got['nDCG@5']}@5,{got['nDCG@10']}@10"
    assert ndcg.explain(**SEARCHED, got=text, **known).combinations == both.combinations
    only = ndcg.explain(**SEARCHED, k=10, got=got, **known)
    assert (
        only.combinations
        == ndcg.explain(**SEARCHED, got={"nDCG@10": got["nDCG@10"]}, **known).combinations
    )
    with refusal("got"):
        ndcg.explain(**SEARCHED, k=3, got=got)


@pytest.mark.parametrize(
    ("zero", "missing", "known"),
    [
        (0.0, "skip", False),
        (1.0, "empty", False),
        (math.nan, "skip", False),
        (math.nan, "empty", True),
        ("perfect_if_empty", "empty", True),
    ],
)
def test_a_slip_is_found_whatever_a_query_with_nothing_relevant_counts(
    ndcg: evaluate.Metric, zero: float | str, missing: str, known: bool
) -> None:
    slip, how = "ideal from the top k retrieved", {"zero_division": zero, "missing": missing}
    values = slip_values(slip, SEARCHED, convention="lightgbm", **how)
    got = [None if math.isnan(value) else value for value in values]
    given = how if known else {"missing": missing}
    found = ndcg.explain(**SEARCHED, k=10, got=got, **given, discount="log", judged_only=False)
    changed = "" if known or zero == 1.0 else f", but zero_division={zero}"  # LightGBM's is 1
    assert (slip, f"lightgbm{changed}") in found.slips


def test_queries_that_differ_from_the_nearest_combination_are_named_with_their_common_trait(
    ndcg: evaluate.Metric,
) -> None:
    how = {"gain": "exponential", "discount": "reciprocal", "ties": "first", "zero_division": 1.0}
    values = ndcg.compute(**SEARCHED, k=10, **how, use_aggregator=False)["nDCG@10"]
    missing = dict.fromkeys(SEARCHED_QUERIES[55:], 0.5)
    found = ndcg.explain(
        **SEARCHED, k=10, got={**dict(zip(SEARCHED_QUERIES, values, strict=True)), **missing}
    )
    assert found.combinations == found.slips == ()
    assert found.nearest is not None
    (nearest,) = ndcg.compute(**SEARCHED, **found.nearest.options, use_aggregator=False).values()
    assert nearest[:55] == pytest.approx(values[:55])
    assert found.disagreeing == tuple(missing)
    nearest = (
        f"The nearest combination is {found.nearest}. Queries that differ from it: 5 (q55, q56, "
        "q57, q58, q59)."
    )
    assert nearest in str(found)
    assert found.in_common[0].startswith(
        f"5 of the 5 queries that differ from {found.nearest} have no place in the run"
    )


def test_the_nearest_combination_is_described_by_tied_and_by_empty_queries(
    ndcg: evaluate.Metric,
) -> None:
    """Ties are broken by something that is not in the data; the values of other queries agree."""
    rng = np.random.default_rng(1)
    whole = {
        query: {each: round(score) for each, score in run.items()}
        for query, run in SEARCHED_RUN.items()
    }
    tied = [query for at, query in enumerate(whole) if at % 3 == 0]
    run = {
        query: whole[query] if query in tied else in_order(documents)
        for query, documents in whole.items()
    }
    shuffled = {
        query: {each: score + rng.uniform(0, 0.5) for each, score in of.items()}
        for query, of in run.items()
    }
    got = ndcg.compute(predictions=shuffled, references=SEARCHED_QRELS, k=10, use_aggregator=False)[
        "nDCG@10"
    ]
    found = ndcg.explain(predictions=run, references=SEARCHED_QRELS, k=10, got=got)
    assert set(found.disagreeing) <= set(tied)
    assert "have documents with equal scores; of the" in found.in_common[0]
    assert found.to_dict()["in_common"] == list(found.in_common)


def test_values_of_queries_may_be_missing_if_programs_leave_them_out(ndcg: evaluate.Metric) -> None:
    values = ndcg.compute(**SEARCHED, k=10, convention="trec_eval", use_aggregator=False)["nDCG@10"]
    got = {
        query: value
        for query, value in zip(SEARCHED_QUERIES, values, strict=True)
        if query in SEARCHED_RUN
    }
    assert "pytrec_eval" in ndcg.explain(**SEARCHED, k=10, got=got).matches
    with refusal("got", "query 'q1'"):
        ndcg.explain(
            **SEARCHED, k=10, got={query: value for query, value in got.items() if query != "q1"}
        )
    with refusal("got"):
        ndcg.explain(**SEARCHED, k=10, got={**got, "x": 0.5})


CLOSE_RUN = {
    query: {
        each: score + float(RUNS.integers(0, 9) * 10.0 ** -RUNS.choice([3, 5, 7, 9]))
        for each, score in of.items()
    }
    for query, of in list(SEARCHED_RUN.items())[35:]
}
CLOSE_QRELS = {query: SEARCHED_QRELS[query] for query in SEARCHED_QUERIES[35:]}
for at, query in enumerate(CLOSE_RUN):
    if at % 5 == 0:  # fewer documents than the cutoff
        CLOSE_RUN[query] = dict(list(CLOSE_RUN[query].items())[:6])
        CLOSE_QRELS[query] = dict(list(CLOSE_QRELS[query].items())[:4])
CLOSE: dict[str, Any] = {"predictions": CLOSE_RUN, "references": CLOSE_QRELS}
OWN_SLIPS = [
    pytest.param(slip, marks=[pytest.mark.slow] * (at % 4 > 0))
    for at, slip in enumerate(slip.name for slip in SLIPS if not slip.is_option)
]
# on these rankings, which have no ties, no scores of 0 and no documents named after queries
WITHOUT_EFFECT = {
    "negative relevance removed",
    "run cut at k before everything else",
    "ties by ascending document id",
    "documents with the score 0 not retrieved",
    "the query's own document left out of the run",
}
KNOWN = {"gain": "linear", "discount": "log", "judged_only": False}  # so that less is searched


@pytest.mark.parametrize("slip", OWN_SLIPS)
def test_a_slip_that_no_option_makes_is_found_in_values_and_in_a_mean(
    ndcg: evaluate.Metric, slip: str
) -> None:
    values = slip_values(slip, CLOSE, convention="sklearn")
    for got in (values.tolist(), f"{values.mean():.7f}"):
        found = ndcg.explain(**CLOSE, k=10, got=got, **KNOWN)
        named = f": {slip}." in str(found) and slip in [name for name, _ in found.slips]
        assert (
            named or found.matches or found.combinations
        )  # an option makes the same of these rankings
        assert "sklearn" not in found.matches or slip in WITHOUT_EFFECT


def test_a_querys_own_document_left_out_of_the_run_is_a_slip(ndcg: evaluate.Metric) -> None:
    """As in BEIR, which leaves it in the ideal."""
    run = {query: {query: 9.0, **documents} for query, documents in SEARCHED_RUN.items()}
    qrels = {query: {**judged, query: 1} for query, judged in SEARCHED_QRELS.items()}
    inputs = {"predictions": run, "references": qrels, "k": 10}
    exclude = {query: [query] for query in run}
    values = ndcg.compute(
        **inputs, convention="trec_eval", exclude=exclude, exclude_from="run", use_aggregator=False
    )["nDCG@10"]
    found = ndcg.explain(**inputs, got=values, **KNOWN)
    assert found.slips == (("the query's own document left out of the run", "trec_eval"),)
    assert found.combinations == ()


def test_slips_on_a_convention_come_before_combinations_that_change_more(
    ndcg: evaluate.Metric,
) -> None:
    found = ndcg.explain(**SEARCHED, k=10, got=f"{slip_values('no discount', SEARCHED).mean():.3f}")
    assert (found.matches, found.answer.kind) == ((), "unknown")
    names = [name for name, _ in found.slips]
    few = sum(len(each.changed) <= 1 for each in found.combinations)
    assert few < len(found.combinations)
    assert [fit.slip for fit in found.answer.fits[few:]][: names.index("no discount") + 1] == names[
        : names.index("no discount") + 1
    ]
    ways = [line for line in found.remarks() if " would give " in line]
    assert ways == found.remarks()[2 : 2 + len(ways)]
    assert [" would give it" in way for way in ways] == [False] + [True] * (len(ways) - 1)


def test_a_mean_above_1_may_be_a_dcg(ndcg: evaluate.Metric) -> None:
    dcg = ndcg.compute(**SEARCHED, k=10, measures="DCG")["DCG@10"]
    assert dcg > 1
    found = ndcg.explain(**SEARCHED, k=10, got=f"{dcg:.5f}", **KNOWN)
    assert ("DCG called nDCG", "sklearn") in found.slips
    assert (found.got, found.percent) == (round(dcg, 5), False)
    assert found.remarks()[0] == f"sklearn with a slip gives {dcg:g}: DCG called nDCG."
    assert found.answer.kind == "cause"
    assert ("DCG called nDCG", "sklearn") not in ndcg.explain(
        **SEARCHED, k=10, got=f"{dcg:.5f}%", **KNOWN
    ).slips


def test_a_slip_shares_the_difference_from_scikit_learn_with_the_options_of_its_convention(
    ndcg: evaluate.Metric,
) -> None:
    """The effects are the mean over all orders of changing the options and making the slip."""
    weight = [1.0, 2.0, 0.5]
    inputs = {**CARD, "sample_weight": weight, "k": 3}
    slip = slip_named("DCG one rank too deep")
    queries = Queries(
        Query(dict(enumerate(s)), dict(enumerate(r)), 3)
        for s, r in zip(SCORES, RELEVANCE, strict=True)
    )
    lightgbm = {name: CONVENTIONS["lightgbm"].options[name] for name in CHOICES}
    got = slip.scores(queries, lightgbm)
    found = ndcg.explain(**inputs, got=got)
    assert found.slips == ((slip.name, "lightgbm"),)
    assert found.between == ("sklearn", "lightgbm with a slip")
    names = ("gain", "ties", "zero_division", "slip")
    assert tuple(each.name for each in found.choices) == names
    assert found.choices[-1][:3] == ("slip", "none", slip.name)

    @cache
    def score_with(changed: frozenset[str]) -> float:
        options = {
            **CONVENTIONS["sklearn"].options,
            **{name: lightgbm[name] for name in changed - {"slip"}},
        }
        if "slip" in changed:
            return float(np.average(slip.scores(queries, options), weights=weight))
        return float(ndcg.compute(**inputs, **options)["nDCG@3"])

    effects = {each.name: each.effect for each in found.choices}
    assert effects == pytest.approx(mean_effects(names, score_with), abs=1e-12)
    assert found.to_dict()["choices"][-1] == {**found.choices[-1]._asdict()}
    assert f"slip | none | {slip.name} |" in found.to_markdown()
    asked = ndcg.explain(**inputs, got=got, between=("sklearn", "lightgbm"))
    assert "slip" not in [each.name for each in asked.choices]


def test_a_score_that_no_combination_gives_is_called_unknown(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(**CARD, k=3, got="0.123456789")
    assert found.combinations == found.slips == ()
    assert "the nearest is trec_eval" in str(found)
    assert f"None of {found.tried:,} combinations of options gives it." in str(found)


# The effect of each option


@settings(max_examples=5)
@given(st.permutations(sorted(set(CONVENTIONS) - {"rectools"})), st.integers(0, 2**32 - 1))
def test_the_effect_of_an_option_is_the_mean_over_all_orders_of_changing_them(
    ndcg: evaluate.Metric, names: list[str], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores, relevance = rng.integers(0, 3, (5, 4)).tolist(), rng.integers(0, 3, (5, 4)).tolist()
    one, other = CONVENTIONS[names[0]].options, CONVENTIONS[names[1]].options
    differ = [name for name in CHOICES if repr(one[name]) != repr(other[name])]
    inputs = {"predictions": scores, "references": relevance, "k": 3}

    @cache
    def score_with(changed: frozenset[str]) -> float:
        options = {**one, **{name: other[name] for name in changed}}
        return float(ndcg.compute(**inputs, **options)["nDCG@3"])

    found = ndcg.explain(**inputs, between=names[:2])
    effects = {each.name: each.effect for each in found.choices}
    assert effects == pytest.approx(mean_effects(differ, score_with), abs=1e-12)


def test_by_default_the_difference_is_that_from_scikit_learn(ndcg: evaluate.Metric) -> None:
    assert ndcg.explain(**CARD).between is None
    assert ndcg.explain(**CARD, got=0.9829).between == ("sklearn", "lightgbm")
    assert ndcg.explain(**CARD, got=0.6582).between == (
        "sklearn",
        "llama_index",
    )  # that differs least, of many
    assert ndcg.explain(**CARD, got=0.87).between is None
    assert ndcg.explain(**CARD, got=0.5921).between is None
    refused = {"predictions": [[2, 1]], "references": [[1, -1]]}
    clipped = ndcg.explain(**refused, k=2, got="1.0000")
    assert (clipped.between, clipped.signature) == (
        None,
        ndcg.signature(k=2, convention=clipped.matches[0]),
    )


def test_a_signature_holds_the_options_given_and_the_convention(ndcg: evaluate.Metric) -> None:
    inputs = {
        "predictions": RUN,
        "references": QRELS,
        "exclude": {"q1": ["d1"]},
        "sample_weight": [1, 2, 3],
    }
    of_all = {"k": 2, "sample_weight": [1], "exclude": {}}
    found = ndcg.explain(**inputs, k=2, between=["recbole", "lenskit"])
    assert found.signature == ndcg.signature(**of_all, convention="lenskit")
    assert ndcg.explain(**inputs, k=2).signature == ndcg.signature(**of_all)
    got = ndcg.explain(**inputs, k=2).scores["gdeval"]
    assert ndcg.explain(**inputs, k=2, got=got).signature.endswith("|weights:given|excluded:given")


# How it is shown


def test_it_is_shown_as_tables_and_in_words(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(**CARD, got=0.9829)
    text = str(found)
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["conventions", "nDCG", "difference", "from", "yours"]
    assert lines[1] == [
        "lightgbm,",
        "xgboost,",
        "allrank",
        "0.9829",
        "+0.0000",
        "match",
    ]  # the nearest first
    assert lines[2] == ["sentence_transformers,", "recommenders,", "cornac", "0.9874", "+0.0045"]
    assert ["zero_division", "0", "1", "+0.3333"] in lines
    assert ["total", "+0.3908"] in lines
    assert "lightgbm, xgboost, allrank give 0.9829." in text
    assert "| lightgbm, xgboost, allrank | 0.9829 |" in found.to_markdown()
    assert "<td>lightgbm, xgboost, allrank</td><td>0.9829</td>" in found._repr_html_()


def test_a_table_has_a_row_for_each_value(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(**CARD)
    ((header, *rows),) = found.tables()
    assert header == ["conventions", "nDCG"]
    names = [name for row in rows for name in row[0].split(", ")]
    assert sorted(names) == sorted(set(CONVENTIONS) - {"rectools"})  # which needs a cutoff
    assert len({value for _, value in rows}) == len(rows)
    for conventions, value in rows:
        for name in conventions.split(", "):
            assert value == f"{found.scores[name]:.4f}"


def test_json_holds_it(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(**CARD, got=0.9744, between=["sklearn", "ignite"])
    held = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert held["scores"]["ignite"] == found.scores["ignite"]
    assert held["matches"] == ["ignite"]
    assert held["choices"][2] == {**found.choices[2]._asdict(), "after": "nan"}
    assert set(held) == set(vars(found))


def test_a_plot_has_a_dot_for_each_convention(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(**CARD, k=3, got=0.9865)
    (axes,) = found.plot().axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    names = [label.get_text() for label in axes.get_yticklabels()]
    shown = {name: dot.get_xdata()[0] for name, dot in zip(names, dots, strict=True)}
    assert shown == found.scores
    filled = {
        name
        for name, dot in zip(names, dots, strict=True)
        if dot.get_markerfacecolor() == dot.get_color()
    }
    assert filled == set(found.matches) == {"lightgbm", "xgboost", "allrank"}
    (line,) = (line for line in axes.lines if line.get_marker() != "o")
    assert list(line.get_xdata()) == [0.9865] * 2


# Rejected input


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"got": "high"},
            r"^got must be an nDCG, such as 0\.5921, or in percent, .* or a file .*; got 'high'",
        ),
        ({"got": math.nan}, "^got must be an nDCG"),
        ({"got": 101}, "^got must be an nDCG"),
        ({"got": True}, "^got must be an nDCG"),
        ({"got": "0e400"}, "^got must have digits after the point"),
        ({"got": "1e2000000000"}, "^got must be an nDCG"),
        ({"got": [0.5]}, "^got: must hold one value per query, 3 in all; got 1$"),
        (
            {"got": {1: 0.5}},
            r"^got: query 0 is missing \(2 such queries\); give the value of each query",
        ),
        ({"got": {"nDCG@10": 0.5}, "k": 10.0}, "^k must be a positive integer"),
        ({"got": {"nDCG@10": 0.5}, "k": [5, 10]}, "^k must be one cutoff"),
        ({"got": [0.5, 0.5, "high"]}, "^got must hold a number for each query; got 'high'$"),
        ({"got": [0.5, 0.5, "1e400"]}, "^got must hold a number for each query; got '1e400'$"),
        ({"got": "0.3@x"}, "^got must be an nDCG, .* got '0.3@x'$"),
        ({"between": ["sklearn", "rectools"]}, "^between: rectools has no score: k must be given"),
        ({"between": "ranx"}, "^between must be the names of two conventions; got 'ranx'"),
        ({"between": ["ranx"]}, "^between must be the names of two conventions"),
        ({"between": ["ranx", "lightgmb"]}, '^between must be one of .*did you mean "lightgbm"'),
        ({"k": [1, 2]}, "^k must be one cutoff"),
        ({"convention": "ranx"}, "explain has no option convention"),
        ({"tie": "first"}, "explain has no option tie; did you mean ties"),
        ({"gain": "linaer"}, "^gain must be .*did you mean"),
        ({"sample_weight": [1]}, "^sample_weight must hold one weight per query, 3 in all"),
        ({"predictions": [], "references": []}, "hold no queries"),
    ],
    ids=str,
)
def test_wrong_arguments_are_rejected_by_name(
    ndcg: evaluate.Metric, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=problem):
        ndcg.explain(**{**CARD, **options})
