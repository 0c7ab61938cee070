"""`explain` scores rankings under every convention, and shows the effect of each choice."""

import json
import math
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import NUMBERS, RELEVANCE, SCORES

from ndcg.explanations.combination import Combination
from ndcg.explanations.slip_terms import Queries, Query, Slip, in_order
from ndcg.explanations.slips import SLIPS, slip_named
from ndcg.measure.conventions import CHOICES, CONVENTIONS

CARD: dict[str, Any] = {"predictions": SCORES, "references": RELEVANCE}
RUN = {"q1": {"d1": 1.0, "d2": 1.0, "d3": 0.2}, "q2": {"d9": 1.0}, "q4": {"d1": 2.0}}
QRELS = {"q1": {"d1": 1, "d3": 2}, "q2": {"d1": 0}, "q3": {"d1": 1}}


def files(folder: Path) -> dict[str, Any]:
    run, qrels = folder / "bm25.run", folder / "qrels"
    run.write_text("".join(f"{q} Q0 {d} 0 {score} x\n" for q, of in RUN.items() for d, score in of.items()))
    qrels.write_text("".join(f"{q} 0 {d} {grade}\n" for q, of in QRELS.items() for d, grade in of.items()))
    return {"predictions": run, "references": qrels}


FORMS: dict[str, Any] = {
    "lists": lambda _: CARD,
    "mappings": lambda _: {"predictions": RUN, "references": QRELS},
    "files": files,
    "ranked ids": lambda _: {"predictions": [["a", "b"], [], ["c"]], "references": [["b", "c"], ["a"], []]},
    "a frame": lambda _: {
        "data": pd.DataFrame({"q": [1, 1, 2, 2], "d": [4, 3, 2, 1], "s": [0.5, 0.5, 0.1, 0.2], "r": [0, 1, 0, 2]}),
        "predictions": "s",
        "references": "r",
        "query_ids": "q",
        "document_ids": "d",
    },
}


# The numbers


@pytest.mark.parametrize(
    "option", [{"gain": [0, 1, 3, 9]}, {"discount": [1.0, 0.5, 0.25]}, {"gain": np.array([0.0, 1.0, 3.0, 9.0])}]
)
def test_slips_are_tried_on_options_that_are_lists(ndcg: evaluate.Metric, option: dict[str, Any]) -> None:
    inputs = {"predictions": [[2, 1, 3, 4]], "references": [[1, 0, 2, 3]], "k": 3}
    dcg = ndcg.compute(**inputs, **option, measures="DCG")["DCG@3"]
    slips = ndcg.explain(**inputs, **option, got=f"{dcg:.6f}").slips
    assert "DCG called nDCG" in [slip for slip, _ in slips]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_convention_has_the_number_of_compute(
    ndcg: evaluate.Metric, tmp_path: Path, form: str, weighted: bool
) -> None:
    inputs = FORMS[form](tmp_path)
    queries = len(ndcg.compute(**inputs, use_aggregator=False)["nDCG"])
    weight = [1 + query for query in range(queries)] if weighted else None
    found = ndcg.explain(**inputs, k=2, sample_weight=weight)
    assert found.measure == "nDCG@2"
    assert found.errors == {}
    assert found.scores == {
        name: ndcg.compute(**inputs, k=2, sample_weight=weight, convention=name)["nDCG@2"] for name in CONVENTIONS
    }


def test_an_option_that_is_given_holds_for_every_convention(ndcg: evaluate.Metric) -> None:
    options = {"ties": "best", "gain": [0, 1, 3, 9], "log_base": 3, "judged_only": True}
    found = ndcg.explain(**CARD, k=3, **options)
    for name, number in found.scores.items():
        assert number == ndcg.compute(**CARD, k=3, convention=name, **options)["nDCG@3"]
    assert ndcg.explain(**CARD, k=3, **{name: CONVENTIONS["ranx"].options[name] for name in CHOICES}).scores == {
        name: ndcg.compute(**CARD, k=3, convention="ranx")["nDCG@3"] for name in CONVENTIONS
    }


def test_a_convention_without_a_number_says_why(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(predictions=[[2, 1], [1, 2]], references=[[1, -1], [0, 1]])
    clipped = [name for name, each in CONVENTIONS.items() if each.negative_relevance == "raise"]
    assert set(found.errors) == {name for name, number in found.scores.items() if number is None} == set(clipped)
    assert found.errors["rectools"].startswith('k must be given for convention="rectools"')
    assert found.errors["sklearn"].startswith("references: query 0, position 1: the relevance -1 is negative")
    assert str(found).count("the relevance -1 is negative") == 1
    with pytest.raises(ValueError, match=r"^nDCG: no query of positive weight has a value"):
        ndcg.explain(predictions=[[2, 1]], references=[[0, 0]], zero_division=math.nan)


# The reported score


def test_a_missing_query_may_be_rejected(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match=r"^predictions: query 'q3' is missing"):
        ndcg.explain(predictions=RUN, references=QRELS, k=2, missing="raise")


def test_an_ideal_too_long_for_memory_is_rejected_alone(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(predictions=[[1, 2]], references=[[0, 1]], k=10**15)
    assert list(found.errors) == ["rectools"]
    with pytest.raises(
        ValueError, match=r'^k must be at most 1,000,000 for ideal="full", since its ideal has k documents'
    ):
        ndcg.compute(predictions=[[1, 2]], references=[[0, 1]], ideal="full", k=[1, 10**30])


@pytest.mark.parametrize("convention", NUMBERS)
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
    query: {f"d{at}": int(RUNS.integers(0, 4)) * (position % 9 > 0) for at in RUNS.choice(60, 15, replace=False)}
    for position, query in enumerate(SEARCHED_QUERIES)
}
SEARCHED_RUN = {
    query: {f"d{at}": float(np.round(RUNS.normal(), 1)) for at in RUNS.choice(60, 30, replace=False)}
    for query in SEARCHED_QUERIES[:55]
}
SEARCHED: dict[str, Any] = {"predictions": SEARCHED_RUN, "references": SEARCHED_QRELS}


def as_options(combination: Any, k: int | None) -> dict[str, Any]:
    changed = dict(combination.changed)
    return {"k": changed.pop("k", k), "convention": combination.convention, **changed}


def test_a_score_that_no_convention_has_is_searched_in_all_combinations(ndcg: evaluate.Metric) -> None:
    how = {"gain": "exponential", "ideal": "retrieved", "zero_division": math.nan}
    got = round(ndcg.compute(**SEARCHED, k=10, **how)["nDCG@10"], 5)
    found = ndcg.explain(**SEARCHED, k=10, got=got)
    assert found.matches == ()
    assert found.combinations
    for each in found.combinations:
        options = as_options(each, 10)
        (value,) = ndcg.compute(**SEARCHED, **options).values()
        assert value == pytest.approx(got, abs=5e-6)
        assert value == pytest.approx(each.score, abs=1e-12)
    changes = [len(each.changed) for each in found.combinations]
    assert changes == sorted(changes)
    assert f"{len(found.combinations):,} of {found.tried:,} combinations of options give it" in str(found)


SATURATED = {  # sigmoids that differ in 64 bits, nearly all of which are 1 in 32
    query: {document: 1 / (1 + math.exp(-20 - score - at / 1000)) for at, (document, score) in enumerate(run.items())}
    for query, run in SEARCHED_RUN.items()
}


def test_scores_compared_as_32_bit_floats_are_found(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": SATURATED, "references": SEARCHED_QRELS}
    how = {"k": 10, "gain": "exponential", "ideal": "retrieved"}
    for score_dtype in ("given", "float32"):
        (value,) = ndcg.compute(**inputs, **how, score_dtype=score_dtype).values()
        found = ndcg.explain(**inputs, k=10, got=round(value, 6))
        assert found.combinations
        for each in found.combinations:
            options = CONVENTIONS[each.convention].options | each.changed
            assert options["score_dtype"] == score_dtype
            assert ndcg.compute(**inputs, **as_options(each, 10)) == {"nDCG@10": pytest.approx(value, abs=1e-6)}
    known = {each: ndcg.explain(**inputs, k=10, got=0.123456, score_dtype=each).tried for each in ("given", "float32")}
    assert known["float32"] == known["given"] * 6  # the orders of ties, of which there are none in 64 bits
    assert found.tried == sum(known.values())


def test_the_convention_that_compares_32_bit_floats_is_named_by_its_score(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": SATURATED, "references": SEARCHED_QRELS}
    got = round(ndcg.compute(**inputs, k=10, convention="pytrec_eval")["nDCG@10"], 6)
    found = ndcg.explain(**inputs, k=10, got=got, between=("sklearn", "pytrec_eval"))
    assert found.matches == ("pytrec_eval", "beir", "mteb")
    by_dtype = next(each for each in found.choices if each.name == "score_dtype")
    assert by_dtype[1:3] == ("given", "float32")
    assert by_dtype.effect != 0
    assert sum(each.effect for each in found.choices) == pytest.approx(
        found.scores["pytrec_eval"] - found.scores["sklearn"]
    )


def test_conventions_that_compare_32_bit_floats_give_no_score_for_larger_scores(
    ndcg: evaluate.Metric,
) -> None:
    found = ndcg.explain(predictions=[[1e39, 1, 2]], references=[[1, 0, 2]], got=0.5)
    assert {"xgboost", "rax"} <= found.errors.keys()
    assert "sklearn" not in found.errors


def test_a_convention_at_another_cutoff_is_found(ndcg: evaluate.Metric) -> None:
    got = round(ndcg.compute(**SEARCHED, k=20, convention="trec_eval")["nDCG@20"], 6)
    first = ndcg.explain(**SEARCHED, k=10, got=got).combinations[0]
    assert (first.convention, first.changed) == ("trec_eval", {"k": 20})
    assert str(first) == "trec_eval, but k=20"
    assert first.call == "convention='trec_eval', k=20"
    assert first.flags == "--convention trec_eval -k 20"
    found = ndcg.explain(**SEARCHED, k=10, got=got)
    assert found.signature == ndcg.signature(**first.options)


@pytest.mark.parametrize("seed", range(6))
def test_the_value_of_each_query_leaves_only_combinations_with_these_values(ndcg: evaluate.Metric, seed: int) -> None:
    rng = np.random.default_rng(seed)
    how = {
        "gain": str(rng.choice(["linear", "exponential", "binary"])),
        "discount": str(rng.choice(["log", "reciprocal", "jarvelin"])),
        "ideal": str(rng.choice(["judged", "retrieved", "truncated"])),
        "ties": str(rng.choice(["average", "first", "best", "docid"])),
        "judged_only": bool(rng.integers(2)),
    }
    values = ndcg.compute(**SEARCHED, k=10, **how, use_aggregator=False)["nDCG@10"]
    found = ndcg.explain(**SEARCHED, k=10, got=dict(zip(SEARCHED_QUERIES, values, strict=True)))
    if found.matches:
        return
    assert found.combinations
    for each in found.combinations:
        again = ndcg.compute(**SEARCHED, **as_options(each, 10), use_aggregator=False)
        (others,) = again.values()
        assert others == pytest.approx(values, abs=1e-5, nan_ok=True)


def test_scores_by_name_are_explained_at_the_first_cutoff(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": SCORES, "references": RELEVANCE}
    got = ndcg.compute(**inputs, k=[1, 2])
    assert ndcg.explain(**inputs, got=got).measure == "nDCG@1"
    assert ndcg.explain(**inputs, got={"nDCG@2": got["nDCG@2"]}).measure == "nDCG@2"


def test_scores_at_two_cutoffs_leave_fewer_combinations_than_one(ndcg: evaluate.Metric) -> None:
    how = {"gain": "exponential", "discount": "reciprocal"}
    scores = ndcg.compute(**SEARCHED, measures=["nDCG@5", "nDCG@10"], **how)
    got = {name: round(value, 3) for name, value in scores.items()}
    both = ndcg.explain(**SEARCHED, got=got)
    one = ndcg.explain(**SEARCHED, k=10, got=got["nDCG@10"])
    assert 0 < len(both.combinations) <= len(one.combinations)
    text = ",".join(f"{value}@{name.partition('@')[2]}" for name, value in got.items())
    assert ndcg.explain(**SEARCHED, got=text).combinations == both.combinations
    with pytest.raises(ValueError, match=r"^k=3 and got=.* both give cutoffs"):
        ndcg.explain(**SEARCHED, k=3, got=got)


@pytest.mark.parametrize("missing", ["empty", "skip"])
@pytest.mark.parametrize(
    ("zero", "known"),
    [(zero, known) for zero in (0.0, 1.0, math.nan) for known in (False, True)] + [("perfect_if_empty", True)],
)
def test_a_slip_is_found_whatever_a_query_with_nothing_relevant_counts(
    ndcg: evaluate.Metric, zero: float | str, missing: str, known: bool
) -> None:
    slip = slip_named("ideal from the top k retrieved")
    queries = Queries(
        Query(SEARCHED_RUN.get(each, {}), judged, 10, each not in SEARCHED_RUN)
        for each, judged in SEARCHED_QRELS.items()
    )
    how = {"zero_division": zero, "missing": missing}
    values = slip.scores(queries, {"convention": "lightgbm", **how})
    got = [None if math.isnan(value) else value for value in values]
    found = ndcg.explain(**SEARCHED, k=10, got=got, **(how if known else {"missing": missing}))
    changed = "" if known or zero == 1.0 else f", but zero_division={zero}"  # LightGBM's is 1
    assert (slip.name, f"lightgbm{changed}") in found.slips


@pytest.mark.parametrize(("chance", "doubtful"), [(0.09, False), (0.11, True), (math.nan, False)])
def test_a_single_match_is_called_doubtful_if_chance_may_give_it(
    ndcg: evaluate.Metric, chance: float, doubtful: bool
) -> None:
    found = ndcg.explain(**CARD, k=10, got=0.123)
    combination = Combination("sklearn", {"ties": "last"}, 0.5)
    one = replace(found, matches=(), combinations=(combination,), by_chance=chance)
    assert ("would show whether it is the right one." in str(one)) == doubtful


def test_queries_that_differ_from_the_nearest_combination_are_named_with_their_common_trait(
    ndcg: evaluate.Metric,
) -> None:
    how = {"gain": "exponential", "discount": "reciprocal", "ties": "first", "zero_division": 1.0}
    values = ndcg.compute(**SEARCHED, k=10, **how, use_aggregator=False)["nDCG@10"]
    missing = dict.fromkeys(SEARCHED_QUERIES[55:], 0.5)
    found = ndcg.explain(**SEARCHED, k=10, got={**dict(zip(SEARCHED_QUERIES, values, strict=True)), **missing})
    assert found.combinations == found.slips == ()
    assert found.nearest is not None
    (nearest,) = ndcg.compute(**SEARCHED, **found.nearest.options, use_aggregator=False).values()
    assert nearest[:55] == pytest.approx(values[:55])
    assert found.disagreeing == tuple(missing)
    assert f"The nearest combination is {found.nearest}: 5 queries differ from it: q55, q56, q57, q58, q59" in str(
        found
    )
    assert found.in_common[0] == (
        f"5 of the 5 queries that differ from {found.nearest} have no place in the run; of the 55 that agree, 0 do."
    )


def test_the_nearest_combination_is_described_by_tied_and_by_empty_queries(ndcg: evaluate.Metric) -> None:
    """Ties that are broken by something that is not in the data: the values of other queries agree."""
    rng = np.random.default_rng(1)
    whole = {query: {each: round(score) for each, score in run.items()} for query, run in SEARCHED_RUN.items()}
    tied = [query for at, query in enumerate(whole) if at % 3 == 0]
    run = {query: whole[query] if query in tied else in_order(documents) for query, documents in whole.items()}
    shuffled = {query: {each: score + rng.uniform(0, 0.5) for each, score in of.items()} for query, of in run.items()}
    got = ndcg.compute(predictions=shuffled, references=SEARCHED_QRELS, k=10, use_aggregator=False)["nDCG@10"]
    found = ndcg.explain(predictions=run, references=SEARCHED_QRELS, k=10, got=got)
    assert set(found.disagreeing) <= set(tied)
    assert "have documents with equal scores; of the" in found.in_common[0]
    assert found.to_dict()["in_common"] == list(found.in_common)


def test_values_of_queries_may_be_missing_if_programs_leave_them_out(ndcg: evaluate.Metric) -> None:
    values = ndcg.compute(**SEARCHED, k=10, convention="trec_eval", use_aggregator=False)["nDCG@10"]
    got = {query: value for query, value in zip(SEARCHED_QUERIES, values, strict=True) if query in SEARCHED_RUN}
    assert "pytrec_eval" in ndcg.explain(**SEARCHED, k=10, got=got).matches
    with pytest.raises(ValueError, match=r"^got: query 'q1' is missing \(1 such queries\)"):
        ndcg.explain(**SEARCHED, k=10, got={query: value for query, value in got.items() if query != "q1"})
    with pytest.raises(ValueError, match=r"^got: query 'x' is not in the references$"):
        ndcg.explain(**SEARCHED, k=10, got={**got, "x": 0.5})


CLOSE_RUN = {
    query: {each: score + float(RUNS.integers(0, 9) * 10.0 ** -RUNS.choice([3, 5, 7, 9])) for each, score in of.items()}
    for query, of in list(SEARCHED_RUN.items())[35:]
}
CLOSE_QRELS = {query: SEARCHED_QRELS[query] for query in SEARCHED_QUERIES[35:]}
for at, query in enumerate(CLOSE_RUN):
    if at % 5 == 0:  # fewer documents than the cutoff
        CLOSE_RUN[query] = dict(list(CLOSE_RUN[query].items())[:6])
        CLOSE_QRELS[query] = dict(list(CLOSE_QRELS[query].items())[:4])
CLOSE: dict[str, Any] = {"predictions": CLOSE_RUN, "references": CLOSE_QRELS}
OWN_SLIPS = [slip for slip in SLIPS if not slip.is_option]
WITHOUT_EFFECT = {  # on these rankings, which have no ties and no scores of 0
    "negative relevance removed",
    "run cut at k before everything else",
    "ties by ascending document id",
    "documents with the score 0 not retrieved",
}
KNOWN = {"gain": "linear", "discount": "log", "judged_only": False}  # so that less is searched


@pytest.mark.parametrize("slip", OWN_SLIPS, ids=lambda slip: slip.name)
def test_a_slip_that_no_option_makes_is_found_in_values_and_in_a_mean(ndcg: evaluate.Metric, slip: Slip) -> None:
    queries = Queries(Query(CLOSE_RUN.get(each, {}), judged, 10) for each, judged in CLOSE_QRELS.items())
    values = slip.scores(queries, {"convention": "sklearn"})
    for got in (values.tolist(), f"{values.mean():.7f}"):
        found = ndcg.explain(**CLOSE, k=10, got=got, **KNOWN)
        same = found.matches or found.combinations  # an option makes the same of these rankings
        assert slip.name in [name for name, _ in found.slips] or same
        if slip.name not in WITHOUT_EFFECT:
            assert "sklearn" not in found.matches
        if not same:
            assert f": {slip.name}." in str(found)
        if found.slips and not found.matches:
            (first, name), got_mean = found.slips[0], float(got) if isinstance(got, str) else values.mean()
            comma = "," if "but" in name else ""
            assert found.between == ("sklearn", f"{name}{comma} with a slip")
            assert {each.name: each[1:3] for each in found.choices}["slip"] == ("none", first)
            assert found.got == pytest.approx(got_mean)
            effects = sum(each.effect for each in found.choices)
            assert effects == pytest.approx(found.got - found.scores["sklearn"], abs=1e-6)


def test_slips_on_a_convention_come_before_combinations_that_change_more(ndcg: evaluate.Metric) -> None:
    slip = slip_named("no discount")
    queries = Queries(Query(SEARCHED_RUN.get(each, {}), SEARCHED_QRELS[each], 10) for each in SEARCHED_QUERIES)
    found = ndcg.explain(**SEARCHED, k=10, got=f"{slip.scores(queries, {}).mean():.3f}")
    assert found.matches == ()
    few = sum(len(each.changed) <= 1 for each in found.combinations)
    assert few < len(found.combinations)
    names = [name for name, _ in found.slips]
    ways = [line for line in found.remarks() if " gives " in line]
    assert ways == found.remarks()[: len(ways)]
    assert [" gives it" in way for way in ways] == [False] + [True] * (len(ways) - 1)
    assert ["with a slip" in way for way in ways] == [few <= at < few + len(names) for at in range(len(ways))]
    assert "no discount" in names


def test_a_mean_above_1_may_be_a_dcg(ndcg: evaluate.Metric) -> None:
    dcg = ndcg.compute(**SEARCHED, k=10, measures="DCG")["DCG@10"]
    assert dcg > 1
    found = ndcg.explain(**SEARCHED, k=10, got=f"{dcg:.5f}", **KNOWN)
    assert ("DCG called nDCG", "sklearn") in found.slips
    assert (found.got, found.percent) == (round(dcg, 5), False)
    assert found.remarks() == [f"sklearn with a slip gives {dcg:g}: DCG called nDCG."]
    assert ("DCG called nDCG", "sklearn") not in ndcg.explain(**SEARCHED, k=10, got=f"{dcg:.5f}%", **KNOWN).slips


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.5]])
def test_a_slip_shares_the_difference_from_scikit_learn_with_the_options_of_its_convention(
    ndcg: evaluate.Metric, weight: list[float] | None
) -> None:
    """The effects are the mean over all orders of changing the options and making the slip."""
    inputs = {**CARD, "sample_weight": weight, "k": 3}
    slip = slip_named("DCG one rank too deep")
    queries = Queries(Query(dict(enumerate(s)), dict(enumerate(r)), 3) for s, r in zip(SCORES, RELEVANCE, strict=True))
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
        options = {**CONVENTIONS["sklearn"].options, **{name: lightgbm[name] for name in changed - {"slip"}}}
        if "slip" in changed:
            return float(np.average(slip.scores(queries, options), weights=weight))
        return float(ndcg.compute(**inputs, **options)["nDCG@3"])

    orders = list(permutations(names))
    for each in found.choices:
        befores = [frozenset(order[: order.index(each.name)]) for order in orders]
        effect = np.mean([score_with(before | {each.name}) - score_with(before) for before in befores])
        assert each.effect == pytest.approx(effect, abs=1e-12)
    assert found.to_dict()["choices"][-1] == {**found.choices[-1]._asdict()}
    assert f"slip | none | {slip.name} |" in found.to_markdown()
    asked = ndcg.explain(**inputs, got=got, between=("sklearn", "lightgbm"))
    assert "slip" not in [each.name for each in asked.choices]


def test_a_score_that_no_combination_gives_is_called_unknown(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(**CARD, k=3, got="0.123456789")
    assert found.combinations == found.slips == ()
    assert "the nearest is trec_eval" in str(found)
    assert f"None of {found.tried:,} combinations of options gives it." in str(found)


@pytest.mark.parametrize(
    ("got", "error"),
    [
        ([0.5], r"^got: 1 values for 60 queries; give the value of each query$"),
        ({"q0": 0.5}, r"^got: query 'q1' is missing \(\d+ such queries\); give the value of each query"),
        ("0.3@x", r"^got must be scores with their cutoffs, such as 0.31@5,0.283@10; got '0.3@x'$"),
        ([0.5] * 59 + ["high"], r"^got must hold a number for each query; got 'high'$"),
    ],
)
def test_reports_that_cannot_be_read_are_rejected(ndcg: evaluate.Metric, got: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        ndcg.explain(**SEARCHED, got=got)


# The effect of each option


def test_two_options_share_their_joint_effect(ndcg: evaluate.Metric) -> None:
    def number(**options: Any) -> float:
        return ndcg.compute(**CARD, **options)["nDCG"]

    found = ndcg.explain(**CARD, between=["trec_eval", "ignite"], ties="first", missing="empty")
    neither, both = number(ties="first"), number(ties="first", gain="exponential", zero_division=math.nan)
    gain, empty = number(ties="first", gain="exponential"), number(ties="first", zero_division=math.nan)
    assert found.between == ("trec_eval", "ignite")
    assert [each[:3] for each in found.choices[:1]] == [("gain", "linear", "exponential")]
    assert [each.name for each in found.choices] == ["gain", "score_dtype", "zero_division"]
    by_gain, by_dtype, by_empty = (each.effect for each in found.choices)
    assert by_dtype == 0  # no scores are close
    assert by_gain == pytest.approx(((gain - neither) + (both - empty)) / 2)
    assert by_empty == pytest.approx(((empty - neither) + (both - gain)) / 2)


@settings(max_examples=10)
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

    orders = list(permutations(differ))
    adds = dict.fromkeys(differ, 0.0)
    for order in orders:
        for at, name in enumerate(order):
            before, after = score_with(frozenset(order[:at])), score_with(frozenset(order[: at + 1]))
            adds[name] += (after - before) / len(orders)
    found = ndcg.explain(**inputs, between=names[:2])
    assert {each.name: each.effect for each in found.choices} == pytest.approx(adds, abs=1e-12)
    difference = found.scores[names[1]] - found.scores[names[0]]
    assert sum(each.effect for each in found.choices) == pytest.approx(difference, abs=1e-12)


def test_by_default_the_difference_is_that_from_scikit_learn(ndcg: evaluate.Metric) -> None:
    assert ndcg.explain(**CARD).between is None
    assert ndcg.explain(**CARD, got=0.9829).between == ("sklearn", "lightgbm")
    assert ndcg.explain(**CARD, got=0.6582).between == ("sklearn", "llama_index")  # that differs least, of many
    assert ndcg.explain(**CARD, got=0.87).between is None
    assert ndcg.explain(**CARD, got=0.5921).between is None
    refused = {"predictions": [[2, 1]], "references": [[1, -1]]}
    clipped = ndcg.explain(**refused, k=2, got=1)
    assert (clipped.between, clipped.signature) == (None, ndcg.signature(k=2, convention=clipped.matches[0]))


def test_a_signature_holds_the_options_given_and_the_convention(ndcg: evaluate.Metric) -> None:
    inputs = {"predictions": RUN, "references": QRELS, "exclude": {"q1": ["d1"]}, "sample_weight": [1, 2, 3]}
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
    lines = text.splitlines()
    assert lines[0].split() == ["convention", "nDCG", "difference", "from", "yours"]
    assert [line.split() for line in (*lines[1:5], lines[27])] == [  # the nearest first
        ["lightgbm", "0.9829", "+0.0000", "match"],
        ["xgboost", "0.9829", "+0.0000", "match"],
        ["allrank", "0.9829", "+0.0000", "match"],
        ["sentence_transformers", "0.9874", "+0.0045"],
        ["mteb", "0.5306", "-0.4523"],
    ]
    assert [line.split() for line in lines if line.startswith(("zero_division", "total"))] == [
        ["zero_division", "0", "1", "+0.3333"],
        ["total", "+0.3908"],
    ]
    assert "0.9829 is the nDCG of lightgbm, xgboost and allrank." in text
    assert "| lightgbm | 0.9829 |" in found.to_markdown()
    assert "<td>lightgbm</td><td>0.9829</td>" in found._repr_html_()


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
    filled = {name for name, dot in zip(names, dots, strict=True) if dot.get_markerfacecolor() == dot.get_color()}
    assert filled == set(found.matches) == {"lightgbm", "xgboost", "allrank"}
    (line,) = (line for line in axes.lines if line.get_marker() != "o")
    assert list(line.get_xdata()) == [0.9865] * 2


# Rejected input


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        (
            {"got": "high"},
            ValueError,
            r"^got must be an nDCG, such as 0\.5921, or in percent, .* or a file .*; got 'high'",
        ),
        ({"got": math.nan}, ValueError, "^got must be an nDCG"),
        ({"got": math.inf}, ValueError, "^got must be an nDCG"),
        ({"got": 101}, ValueError, "^got must be an nDCG"),
        ({"got": True}, ValueError, "^got must be an nDCG"),
        ({"got": [0.5]}, ValueError, "^got: 1 values for 3 queries; give the value of each query$"),
        ({"got": "0e400"}, ValueError, "^got must be an nDCG"),
        ({"got": "1e2000000000"}, ValueError, "^got must be an nDCG"),
        ({"between": ["sklearn", "rectools"]}, ValueError, "^between: rectools has no score: k must be given"),
        ({"k": 10**15, "convention": "rectools"}, TypeError, "explain has no option convention"),
        ({"between": "ranx"}, ValueError, "^between must be the names of two conventions; got 'ranx'"),
        ({"between": ["ranx"]}, ValueError, "^between must be the names of two conventions"),
        ({"between": ["ranx", "lightgmb"]}, ValueError, '^between must be one of .*did you mean "lightgbm"'),
        ({"k": [1, 2]}, ValueError, "^k must be one cutoff"),
        ({"convention": "ranx"}, TypeError, "explain has no option convention"),
        ({"measures": "DCG"}, TypeError, "explain has no option measures"),
        ({"tie": "first"}, TypeError, "explain has no option tie; did you mean ties"),
        ({"gain": "linaer"}, ValueError, "^gain must be one of"),
        ({"sample_weight": [1]}, ValueError, "^sample_weight must hold one weight for each of 3 queries"),
        ({"references": [[1]]}, ValueError, "^predictions hold 3 queries"),
        ({"predictions": [], "references": []}, ValueError, "hold no queries"),
        ({"predictions": [[math.nan, 1]], "references": [[1, 2]]}, ValueError, "^predictions: query 0, position 0"),
    ],
    ids=str,
)
def test_values_that_are_not_numbers_or_choices_are_rejected(
    ndcg: evaluate.Metric, options: dict[str, Any], error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        ndcg.explain(**{**CARD, **options})
