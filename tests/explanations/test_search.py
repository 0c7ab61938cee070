"""The search of options: its findings, options that decide which queries count, chance matches."""

from typing import Any

import evaluate
import numpy as np
import pytest
from test_fuzz_explanations import Case, check

from ndcg.explanations.evidence import NEAR, Evidence, Tried

UNRETRIEVED = {"predictions": [[0.9, None], [0.9, 0.5, 0.1]], "references": [[0, 2], [0, 3, 1]]}
ONE_UNRETRIEVED = {"predictions": [[0.9, None]], "references": [[0, 2]]}
UNJUDGED = {"predictions": [[0.3, 0.3, 0.7], [0.9]], "references": [[1, 0, None], [None]]}
HUGE = {"predictions": [[1e39, 1, 1, 2]], "references": [[1, 0, 2, -1]]}
LISTS = {"predictions": [[4, 1, 3, 2], [1, 2, 3, 4]], "references": [[0, 3, 1, 2], [2, 0, 1, 0]]}
OF_RAX = {"gain": "exponential", "ties": "first", "negative_relevance": "keep"}


@pytest.mark.parametrize("kind", ["mean", "values"])
@pytest.mark.parametrize(
    ("inputs", "options", "known"),
    [
        # a query without an ideal by this option alone
        (
            UNRETRIEVED,
            {"k": 2, "gain": "exponential", "discount": "jarvelin", "ideal": "retrieved"},
            {},
        ),
        (UNRETRIEVED, {"k": 2, "ideal": "retrieved", "zero_division": 1.0}, {}),
        (ONE_UNRETRIEVED, {"k": 2, "ideal": "retrieved", "zero_division": 1.0}, {}),
        # a query without documents by this option alone
        (UNJUDGED, {"k": 2, "judged_only": True}, {}),
        (HUGE, {"k": 3, "discount": "reciprocal", **OF_RAX}, {}),  # no score in Rax's 32 bits
        (LISTS, {"k": 3, "ideal": "full"}, {"discount": [1.0, 0.5, 0.25]}),  # none of rank 4
        (
            LISTS,
            {"k": 3, "gain": "exponential", "ideal": "full"},
            {"log_base": 0.5},
        ),  # too low for jarvelin
        (LISTS, {"k": 10**7, "discount": "reciprocal"}, {}),  # no full ideal is as long
    ],
)
def test_options_are_found_that_change_which_queries_count_or_have_a_score(
    inputs: dict[str, Any], options: dict[str, Any], known: dict[str, Any], kind: str
) -> None:
    how = {name: value for name, value in {**options, **known}.items() if name != "k"}
    checked = check(Case(inputs, None, how, known, [options["k"]], options["k"], kind))
    assert checked is not None
    returned, wrong, has_options = checked
    assert returned
    assert (wrong, has_options) == ([], True)


def test_a_combination_without_a_score_is_no_match(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(predictions=[[0.9, 0.5]], references=[[0, 2]], got=[0.0])
    for each in found.combinations:
        (value,) = ndcg.compute(
            predictions=[[0.9, 0.5]], references=[[0, 2]], **each.options
        ).values()
        assert value == 0


def test_options_that_change_nothing_are_not_named(ndcg: evaluate.Metric) -> None:
    (score,) = ndcg.compute(**LISTS, k=4, ideal="full", gain="exponential").values()
    found = ndcg.explain(**LISTS, got=f"{score:.6f}")
    assert found.combinations
    assert all(
        set(each.changed) <= {"gain", "discount", "ideal", "k"} for each in found.combinations
    )


def test_why_options_were_not_tried_is_said_of_a_convention_that_has_them(
    ndcg: evaluate.Metric,
) -> None:
    found = ndcg.explain(**HUGE, got=0.123456)
    assert '1e+39 is too large for score_dtype="float32"' in str(found)
    assert {"xgboost", "rax"} <= found.errors.keys()
    rows = {"predictions": [1, 1, 0], "references": [0, 1, 2], "query_ids": [1, 1, 1]}
    assert 'ties="docid"' in ndcg.explain(**rows, got=0.123456).errors["trec_eval"]


def tried(scores: Any, changes: Any) -> Tried:
    settings = Tried()
    settings.add(np.array(scores, float), np.array(changes))
    return settings


@pytest.mark.parametrize(
    ("reported", "digits"),
    [([0.5], 2), ([0.98], 3), ([0.01], 3), ([0.4, 0.6], 2), ([0.02, 0.5], 2)],
)
def test_matches_by_chance_are_as_many_as_match_scores_near_the_reported_ones(
    reported: list[float], digits: int
) -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(0, 1, (20_000, len(reported))) ** 1.5
    half_unit = 0.5 * 10.0**-digits
    half_units = np.full(len(reported), half_unit)
    evidence = Evidence(np.array(reported), half_units, half_units)
    lowest, highest = (
        np.maximum(0, np.subtract(reported, NEAR)),
        np.minimum(1, np.add(reported, NEAR)),
    )
    others = rng.uniform(lowest, highest, (1000, len(reported))).round(digits)
    counted = [
        np.count_nonzero((np.abs(scores - each) <= half_unit).all(axis=1)) for each in others
    ]
    predicted = tried(scores, np.zeros(len(scores))).by_chance(evidence)
    assert predicted == pytest.approx(np.mean(counted), rel=0.1)


def test_settings_with_the_same_scores_count_once_and_those_with_more_changes_if_asked() -> None:
    settings = tried([[0.51], [0.51], [0.52], [0.53], [np.nan]], [0, 1, 1, 2, 0])
    evidence = Evidence(np.array([0.5]), np.array([0.005]), np.array([0.005]))
    by_chance = [settings.by_chance(evidence, most) for most in (0, 1, 2)]
    assert by_chance == pytest.approx([1 * 0.01 / 0.1, 2 * 0.01 / 0.1, 3 * 0.01 / 0.1])
    assert len(settings) == 4


def test_the_predicted_matches_are_as_many_as_are_found(ndcg: evaluate.Metric) -> None:
    rng = np.random.default_rng(0)
    inputs = {
        "predictions": rng.integers(0, 9, (20, 12)).tolist(),
        "references": rng.integers(0, 4, (20, 12)).tolist(),
    }
    reported = [f"{got:.2f}" for got in rng.uniform(0.4, 0.8, 12)]
    answers = [
        ndcg.explain(**inputs, got=got, gain="linear", missing="empty").answer for got in reported
    ]
    answers = [
        each for each in answers if each.fits and each.fits[0].definition not in ndcg.CONVENTIONS
    ]
    matches = sum(each.settings for each in answers)
    assert matches > 20
    assert sum(each.by_chance for each in answers) == pytest.approx(matches, rel=0.25)
