"""A result notes its doubts: few queries, missing rankings, p-values with a floor, chance."""

import json
import math
from typing import Any

import numpy as np
import pytest
from evaluate import Metric
from systems import RELEVANCE, SYSTEMS


@pytest.mark.parametrize(
    ("queries", "options", "number"),
    [
        (9, {}, "9"),
        (10, {"sample_weight": [1] * 9 + [0]}, "9"),
        (11, {"zero_division": math.nan}, "9"),
        (10, {"sample_weight": [2] + [1] * 9}, "9.31"),
        (10, {}, None),
    ],
)
def test_few_queries_are_noted(
    ndcg: Metric, queries: int, options: dict[str, Any], number: str | None
) -> None:
    references = (
        RELEVANCE[:queries] * (np.arange(queries) < 9)[:, np.newaxis]
    )  # nothing is relevant to the others
    systems = {name: SYSTEMS[name][:queries] for name in ("bm25", "dense")}
    few = (
        f"Few queries ({number}): below 10, intervals and tests may be wrong more often than "
        "their levels say."
    )
    expected = [] if number is None else [few]
    for found in (
        ndcg.report(predictions=systems["bm25"], references=references, **options),
        ndcg.compare(systems=systems, references=references, **options),
    ):
        assert [note for note in found.notes if note.startswith("Few")] == expected


def test_a_score_that_may_be_chance_is_noted(ndcg: Metric) -> None:
    rng = np.random.default_rng(0)
    relevance = rng.integers(0, 2, (40, 8))
    random, good = rng.normal(size=(40, 8)), relevance + rng.normal(size=(40, 8))
    how = {"references": relevance, "measures": ["nDCG", "IDCG", "CG"]}
    mean = ndcg.report(predictions=random, **how).scores["nDCG"].random_order
    chance = f"the mean of all orders of the same documents is {mean:.4f}"
    near = f"nDCG is not clearly better than a random order: {chance}."
    worse = f"nDCG is worse than a random order: {chance}. Do higher scores rank first?"
    alike = np.zeros_like(good)
    for scores, notes in ((random, (near,)), (good, ()), (-good, (worse,)), (alike, (near,))):
        assert ndcg.report(predictions=scores, **how).notes == notes
    assert ndcg.compare(systems={"random": random, "good": good}, **how).notes == (
        f"random: {near}",
    )


@pytest.mark.parametrize(
    ("predictions", "references", "number", "of_judged"),
    [
        ([[2, 1], [2, None]], [[1, 2], [1, 3]], 2, 2),
        ([[2, 1], [2, None]], [[1, 2], [1, 0]], 1, 1),  # an irrelevant one that was not retrieved
        ([[2, 1], [2, 1]], [[1, None], [None, None]], 0, 1),  # not judged: of gain 0
        ([[None, None], [2, 1]], [[1, 1], [0, 0]], 0, 0),
        ([[2, 1]] * 10, [[1, 2], *[[1, 0]] * 9], 1, 1),
    ],
)
def test_queries_whose_documents_are_all_relevant_are_counted(
    ndcg: Metric, predictions: Any, references: Any, number: int, of_judged: int
) -> None:
    inputs = {"predictions": predictions, "references": references}
    assert ndcg.report(**inputs).counts["all_relevant"] == number
    assert ndcg.report(**inputs, judged_only=True).counts["all_relevant"] == of_judged


OVER_ALL = {"baseline": "0", "measures": ["nDCG", "DCG"], "corrected_over": "all"}


def differing(queries: int, systems: int = 3, all_queries: int = 20) -> dict[str, Any]:
    """Systems that differ from each other, all in the same few queries."""
    ranked = [np.arange(9) / 10] * all_queries
    scores = {
        str(at): [
            np.roll(row, at + query % 2) if query < queries else row
            for query, row in enumerate(ranked)
        ]
        for at in range(systems)
    }
    return {
        "systems": scores,
        "references": [[0] * 7 + [1, 3]] * all_queries,
        "score_order": "descending",  # although they rise
    }


@pytest.mark.parametrize(
    ("queries", "systems", "options", "figures"),
    [
        (5, 2, {}, ("1 of 1", "0.0625", 6)),
        (6, 3, {}, ("3 of 3", "0.0938", 7)),
        (7, 3, {}, None),
        (6, 3, {"alternative": "greater"}, None),
        (5, 3, {"baseline": "0"}, ("2 of 2", "0.1250", 7)),
        (6, 3, OVER_ALL, ("4 of 4", "0.1250", 8)),
        (0, 3, {}, None),
    ],
    ids=str,
)
def test_a_correction_that_cannot_reach_the_level_is_noted(
    ndcg: Metric,
    queries: int,
    systems: int,
    options: dict[str, Any],
    figures: tuple[Any, ...] | None,
) -> None:
    comparison = ndcg.compare(**differing(queries, systems), **options)
    note = "{} pairs cannot be significant: p (Holm) is at least {}. "
    note += "A significant result needs {} queries that differ."
    assert {pair.wins + pair.losses for pair in comparison.pairs} == {queries}
    of_tests = [
        each for each in comparison.notes if "in every query" not in each
    ]  # that all three are equal
    assert of_tests == ([] if figures is None else [note.format(*figures)])


RUN = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 1, "b": 2}}
QRELS = {"q1": {"a": 1, "d": 2}, "q2": {"b": 1}}
NONE = "No document was excluded: are the ids in exclude the ids of queries and documents?"


@pytest.mark.parametrize(
    ("exclude", "retrieved", "judged"),
    [
        ({"q1": ["a", "b", "d"], "q3": ["a"]}, 2, 2),
        ({"q1": ["c"], "q2": ["a"]}, 2, 0),
        ({"q1": ["A", "7"], "q2": ["c"]}, 0, 0),
    ],
)
def test_excluded_documents_are_counted_and_noted(
    ndcg: Metric, exclude: dict[str, list[str]], retrieved: int, judged: int
) -> None:
    """tests/public/test_formats.py counts them in files and rows."""
    report = ndcg.report(predictions=RUN, references=QRELS, exclude=exclude)
    assert (report.counts["excluded_retrieved"], report.counts["excluded_judged"]) == (
        retrieved,
        judged,
    )
    note = f"Excluded documents: {retrieved} retrieved and {judged} judged." if retrieved else NONE
    assert [each.startswith(note) for each in report.notes if "xcluded" in each] == [True]
    assert ndcg.Report.from_dict(json.loads(json.dumps(report.to_dict()))).counts == report.counts
    assert "excluded_retrieved" not in ndcg.report(predictions=RUN, references=QRELS).counts
    systems = {"one": RUN, "other": {query: {"a": 1.0} for query in RUN}}
    notes = ndcg.compare(systems=systems, references=QRELS, exclude=exclude).notes
    assert any(each.removeprefix("one: ").startswith(note) for each in notes)


@pytest.mark.parametrize(
    ("exclude", "retrieved", "judged"),
    [
        ({"q1": ["a", "b", "d"], "q3": ["a"]}, 2, 2),
        ({"q1": ["c"], "q2": ["a"]}, 2, 0),
        ({"q1": ["d"]}, 0, 1),
    ],
)
def test_documents_that_are_excluded_from_the_run_only_are_counted_and_noted(
    ndcg: Metric, exclude: dict[str, list[str]], retrieved: int, judged: int
) -> None:
    report = ndcg.report(predictions=RUN, references=QRELS, exclude=exclude, exclude_from="run")
    assert (report.counts["excluded_retrieved"], report.counts["excluded_judged"]) == (
        retrieved,
        judged,
    )
    note = f"Excluded documents: {retrieved} retrieved and 0 judged."
    expected = note if retrieved else NONE
    assert [each for each in report.notes if "xcluded" in each] == [expected]


@pytest.mark.filterwarnings("ignore:.*judged queries are missing from the run:UserWarning")
def test_queries_that_a_run_is_missing_are_noted(ndcg: Metric) -> None:
    qrels = {f"q{at}": {"d1": 1, "d2": 0} for at in range(40)}
    some = {"q0": {"d1": 2.0, "d2": 1.0}, "q1": {"d1": 1.0}}
    whole = {query: {"d1": 1.0, "d2": 0.5} for query in qrels}
    counted, skipped = (
        "38 of 40 judged queries are missing from the run and counted as 0; "
        'missing="skip" skips them.',
        "Excluded from a mean: 38 of 40 queries, missing from the run.",
    )
    short = "Queries with fewer than 2 retrieved documents, and not all judged ones: 1."
    for run, options, expected in (
        (some, {}, [counted, short]),
        (some, {"missing": "skip"}, [skipped, short]),
        (whole, {}, []),
    ):
        notes = ndcg.report(predictions=run, references=qrels, k=2, **options).notes
        assert [note for note in notes if "missing" in note or "fewer than" in note] == expected
    both = ndcg.compare(
        systems={"some": some, "all": whole}, references=qrels, k=2, missing="empty"
    ).notes
    assert [note for note in both if "missing" in note] == [f"some: {counted}"]


@pytest.mark.parametrize(
    ("relevant", "number"),
    [({}, 2), ({"q0": {"d1": 1}}, 1), ({"q0": {"d1": 1}, "q1": {"d1": 1}}, 0)],
    ids=["both lack some", "one has all", "both have all"],
)
def test_queries_with_few_retrieved_documents_are_noted_unless_they_have_all_judged_ones(
    ndcg: Metric, relevant: dict[str, Any], number: int
) -> None:
    qrels = {f"q{at}": {"d1": 1, "d2": 0, "d3": 2} for at in range(40)}
    run = {query: {"d1": 3.0, "d2": 2.0, "d3": 1.0} for query in qrels} | {
        "q0": {"d1": 1.0},
        "q1": {"d1": 1.0},
    }
    found = ndcg.report(predictions=run, references={**qrels, **relevant}, k=[1, 2, 3])
    # of the largest cutoff
    note = "Queries with fewer than 3 retrieved documents, and not all judged ones: "
    assert [each for each in found.notes if "fewer than" in each] == [
        f"{note}{count}." for count in (1, 2) if count == number
    ]


def ranked_as(order: np.ndarray) -> np.ndarray:
    """Scores that rank the documents of each query in an order."""
    scores = np.empty(order.shape)
    np.put_along_axis(scores, order, np.arange(order.shape[1], 0, -1)[np.newaxis] / 10, axis=1)
    return scores


ORDER = np.argsort(-SYSTEMS["dense"], axis=1, kind="stable")
FIRST_THREE_ALIKE = np.concatenate([ORDER[:, :3], ORDER[:, :2:-1]], axis=1)
DENSE = ranked_as(ORDER)


@pytest.mark.parametrize(
    ("systems", "baseline", "pairs"),
    [
        ({"dense": DENSE, "doubled": 2 * DENSE}, None, "dense – doubled"),
        ({"dense": DENSE, "doubled": 2 * DENSE}, "dense", "doubled – dense"),
        ({"dense": DENSE, "same at 3": ranked_as(FIRST_THREE_ALIKE)}, None, None),
        ({**SYSTEMS, "a": SYSTEMS["bm25"]}, None, "bm25 – a"),
        (dict.fromkeys("abc", DENSE), None, "a – b, a – c, b – c"),
    ],
    ids=["two", "with a baseline", "equal in one of two measures", "among others", "three"],
)
def test_systems_with_the_same_value_in_every_query_are_noted(
    ndcg: Metric, systems: dict[str, Any], baseline: str | None, pairs: str | None
) -> None:
    how: dict[str, Any] = {"references": RELEVANCE, "k": [3, 10]}
    found = ndcg.compare(systems=systems, baseline=baseline, **how)
    reports = {name: ndcg.report(predictions=each, **how) for name, each in systems.items()}
    of_reports = ndcg.compare_reports(reports, baseline=baseline)
    note = f"Both systems have the same value in every query: {pairs}. Are they the same run?"
    for notes in (found.notes, of_reports.notes):
        assert [each for each in notes if "in every query" in each] == (
            [] if pairs is None else [note]
        )
    unpaired = ndcg.compare_reports(reports, paired=False).notes  # unpaired queries cannot be equal
    assert [each for each in unpaired if "in every query" in each] == []


@pytest.mark.filterwarnings("ignore:.*the scores are few whole numbers:UserWarning")
def test_a_doubt_about_scores_is_a_note_and_a_sentence(ndcg: Metric) -> None:
    labels, fractions = [[0, 1, 1], [1, 0, 0]], [[0.2, 0.7, 0.1], [0.6, 0.3, 0.9]]
    first, *_ = ndcg.report(predictions=labels, references=fractions).notes
    assert first.startswith("The scores are few whole numbers, ")
    assert first.endswith(".")
