"""The notes: their texts, and when they appear."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluate import Metric
from systems import RELEVANCE, SYSTEMS

from ndcg.statistics import pairs as room
from ndcg.statistics.notes import notes_on_tests


@pytest.mark.parametrize(
    ("queries", "options"),
    [(9, {}), (10, {"sample_weight": [1] * 9 + [0]}), (11, {"zero_division": math.nan}), (10, {})],
)
def test_few_queries_are_noted(ndcg: Metric, queries: int, options: dict[str, Any]) -> None:
    references = RELEVANCE[:queries] * (np.arange(queries) < 9)[:, np.newaxis]  # nothing is relevant to the others
    systems = {name: SYSTEMS[name][:queries] for name in ("bm25", "dense")}
    few = "Few queries (9): below 10, intervals and tests may be wrong more often than their levels say."
    for system in systems.values():
        found = ndcg.report(predictions=system, references=references, **options).notes
        assert (few in found) is (queries == 9 or bool(options))
    found = ndcg.compare(systems=systems, references=references, **options).notes
    assert (few in found) is (queries == 9 or bool(options))


def test_a_few_heavy_queries_are_noted_as_few(ndcg: Metric) -> None:
    weight = [100, *[1] * 59]
    counted = (100 + 59) ** 2 / (100**2 + 59)
    note = f"Few queries (60, which count as {counted:.1f} by their weights): below 10, "
    report = ndcg.report(predictions=SYSTEMS["bm25"], references=RELEVANCE, sample_weight=weight)
    assert any(each.startswith(note) for each in report.notes)


@pytest.mark.parametrize(
    ("predictions", "references"),
    [([[3, 2, None], [1, 2]], [[1, 0, None], [1, 0]]), ([[3, None], [1, 2]], [[1, None], [1, 0]])],
)
def test_a_cutoff_beyond_the_longest_query_is_noted(ndcg: Metric, predictions: Any, references: Any) -> None:
    found = ndcg.report(predictions=predictions, references=references, k=[1, 2, 3]).notes
    assert [note for note in found if "has no effect" in note] == [
        "The cutoff 3 has no effect: no query has more than 2 retrieved or judged documents."
    ]


def test_a_score_that_may_be_chance_is_noted(ndcg: Metric) -> None:
    rng = np.random.default_rng(0)
    relevance = rng.integers(0, 2, (40, 8))
    systems = {"random": rng.normal(size=(40, 8)), "good": relevance + rng.normal(size=(40, 8))}
    reversed_scores = -systems["good"]
    how = {"references": relevance, "measures": ["nDCG", "IDCG", "CG"]}
    of_random = ndcg.report(predictions=systems["random"], **how)
    chance = f"the mean of all orders of the same documents is {of_random.scores['nDCG'].random_order:.4f}"
    assert of_random.notes == (f"nDCG may be no better than a random order: {chance}.",)
    assert f"nDCG may be no better than a random order: {chance}." in str(of_random)
    assert ndcg.report(predictions=systems["good"], **how).notes == ()
    below = (f"nDCG is worse than a random order: {chance}. Do higher scores rank first?",)
    assert ndcg.report(predictions=reversed_scores, **how).notes == below
    assert ndcg.compare(systems=systems, **how).notes == (f"random: {of_random.notes[0]}",)


@pytest.mark.parametrize(
    ("predictions", "references", "number"),
    [
        ([[2, 1], [2, 1]], [[1, 2], [1, 0]], 1),
        ([[2, 1], [2, None]], [[1, 2], [1, 3]], 2),
        ([[2, 1], [2, None]], [[1, 2], [1, 0]], 1),  # an irrelevant one that was not retrieved
        ([[2, 1], [2, 1]], [[1, None], [None, None]], 0),  # not judged: of gain 0
        ([[None, None], [2, 1]], [[1, 1], [0, 0]], 0),
    ],
)
def test_queries_without_negatives_are_counted(ndcg: Metric, predictions: Any, references: Any, number: int) -> None:
    inputs = {"predictions": predictions, "references": references}
    report = ndcg.report(**inputs)
    assert report.counts["all_relevant"] == number
    note = f"In {number} of 2 queries all documents are relevant, so that any order of them scores high."
    assert (note in report.notes) is (number > 0)
    unjudged = any(None in row for row in references)
    assert ndcg.report(**inputs, judged_only=True).counts["all_relevant"] == number + unjudged


def test_notes_are_about_all_systems(ndcg: Metric) -> None:
    systems = {"short": [[1] + [None] * 9] * 10, "long": [list(range(10))] * 10}
    (note,) = ndcg.compare(systems=systems, references=[[1] + [None] * 9] * 10, k=5).notes
    assert note.startswith("long: nDCG@5 is worse than a random order")


def differing(queries: int, systems: int = 3, all_queries: int = 20) -> dict[str, Any]:
    """Systems that differ from each other, all in the same few queries."""
    ranked = [np.arange(9.0)] * all_queries
    scores = {
        str(at): [np.roll(row, at + query % 2) if query < queries else row for query, row in enumerate(ranked)]
        for at in range(systems)
    }
    return {"systems": scores, "references": [[0] * 7 + [1, 3]] * all_queries}


@pytest.mark.parametrize(
    ("queries", "options", "note"),
    [
        (6, {}, "3 of 3 pairs cannot be significant: with 6 queries that differ, p corrected for 3 is at least "
         "0.0938. A significant result needs 7 queries that differ, or fewer pairs, as with a baseline."),
        (7, {}, None),
        (6, {"alternative": "greater"}, None),
        (5, {"baseline": "0"}, "2 of 2 pairs cannot be significant: with 5 queries that differ, p corrected for 2 "
         "is at least 0.1250. A significant result needs 7 queries that differ, or fewer pairs."),
        (6, {"baseline": "0", "measures": ["nDCG", "DCG"], "corrected_over": "all"}, "4 of 4 pairs cannot be "
         "significant: with 6 queries that differ, p corrected for 4 is at least 0.1250. A significant result needs "
         "8 queries that differ, or fewer pairs."),
        (0, {}, None)
    ],
    ids=str
)  # fmt: skip
def test_a_correction_that_cannot_reach_the_level_is_noted(
    ndcg: Metric, queries: int, options: dict[str, Any], note: str | None
) -> None:
    comparison = ndcg.compare(**differing(queries), **options)
    assert {pair.wins + pair.losses for pair in comparison.pairs} == {queries}
    assert comparison.notes == (() if note is None else (note,))


def test_one_pair_of_few_queries_is_noted(ndcg: Metric) -> None:
    (note,) = ndcg.compare(**differing(5, systems=2)).notes
    assert note.endswith(
        "with 5 queries that differ, p is at least 0.0625. A significant result needs 6 queries that differ."
    )


def test_too_few_permutations_for_many_pairs_are_noted(ndcg: Metric) -> None:
    (pair,) = ndcg.compare(**differing(40, systems=2, all_queries=40)).pairs
    pairs = [pair._replace(p=0.5, p_holm=1.0, permutations=10_000)] * 528
    (note,) = notes_on_tests(pairs, room.Testing(), None)
    assert "with this number of permutations, p corrected for 528 is at least 0.0528. A significant" in note
    assert note.endswith("A significant result needs fewer pairs, as with a baseline.")


def test_p_values_too_near_to_the_level_are_noted(ndcg: Metric) -> None:
    (pair,) = ndcg.compare(**differing(40, systems=2, all_queries=40)).pairs
    error = math.sqrt(0.05 * 0.95 / 2**20)
    for p, noted in (
        (0.05 - 1.9 * error, True),
        (0.05 + 1.9 * error, True),
        (0.05 - 2.1 * error, False),
        (0.051, False),
    ):
        found = notes_on_tests([pair._replace(p=p, p_holm=p)], room.Testing(), None)
        assert found == ["1 of 1 corrected p-values lie within two standard errors of 0.05: all permutations "
                         "might put them on the other side."] * noted  # fmt: skip


@pytest.mark.parametrize(("queries", "noted"), [(10, True), (11, False)])
def test_queries_without_negatives_are_noted_from_a_tenth_on(ndcg: Metric, queries: int, noted: bool) -> None:
    references = [[1, 2], *[[1, 0]] * (queries - 1)]
    notes = ndcg.report(predictions=[[2, 1]] * queries, references=references).notes
    assert any(each.startswith(f"In 1 of {queries} queries ") for each in notes) is noted


RUN = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 1, "b": 2}}
QRELS = {"q1": {"a": 1, "d": 2}, "q2": {"b": 1}}
NONE = "No document was excluded: exclude has none that is retrieved or judged; "


@pytest.mark.parametrize("format_", ["mappings", "files", "flat", "one file"])
@pytest.mark.parametrize(
    ("exclude", "retrieved", "judged"),
    [
        ({"q1": ["a", "b", "d"], "q3": ["a"]}, 2, 2),
        ({"q1": ["c"], "q2": ["a"]}, 2, 0),
        ({"q1": ["A", "7"], "q2": ["c"]}, 0, 0),
    ],
)
def test_excluded_documents_are_counted_and_noted(
    ndcg: Metric, tmp_path: Path, format_: str, exclude: dict[str, list[str]], retrieved: int, judged: int
) -> None:
    sides: dict[str, Any] = {"predictions": RUN, "references": QRELS}
    if format_ in ("files", "one file"):
        for name, side in list(sides.items())[format_ == "one file" :]:
            (tmp_path / f"{name}.json").write_text(json.dumps(side))
            sides[name] = tmp_path / f"{name}.json"
    if format_ == "flat":
        rows = sorted({(query, d) for side in (RUN, QRELS) for query, documents in side.items() for d in documents})
        sides = {
            "predictions": [RUN[query].get(d) for query, d in rows],
            "references": [QRELS[query].get(d) for query, d in rows],
            "query_ids": [query for query, _ in rows],
            "document_ids": [d for _, d in rows],
        }
    report = ndcg.report(**sides, exclude=exclude)
    assert (report.counts["excluded_retrieved"], report.counts["excluded_judged"]) == (retrieved, judged)
    note = f"Excluded documents: {retrieved} retrieved and {judged} judged." if retrieved else NONE
    assert [each.startswith(note) for each in report.notes if "xcluded" in each] == [True]
    assert ndcg.Report.from_dict(json.loads(json.dumps(report.to_dict()))).counts == report.counts
    assert "excluded_retrieved" not in ndcg.report(**sides).counts
    if format_ == "mappings":
        systems = {"one": RUN, "other": {query: {"a": 1.0} for query in RUN}}
        notes = ndcg.compare(systems=systems, references=QRELS, exclude=exclude).notes
        assert any(each.startswith(f"one: {note}") for each in notes)


def test_queries_that_a_run_is_missing_are_noted(ndcg: Metric) -> None:
    qrels = {f"q{at}": {"d1": 1, "d2": 0} for at in range(40)}
    run = {"q0": {"d1": 2.0, "d2": 1.0}, "q1": {"d1": 1.0}}
    missing = "38 of 40 judged queries are missing from the run and "
    found = ndcg.report(predictions=run, references=qrels, k=2)
    assert f'{missing}counted as 0; missing="skip" skips them.' in found.notes
    assert "1 other query has fewer than 2 retrieved documents." in found.notes
    skipping = ndcg.report(predictions=run, references=qrels, k=2, missing="skip")
    assert f"{missing}excluded from the mean." in skipping.notes
    whole = {query: {"d1": 1.0, "d2": 0.5} for query in qrels}
    notes = ndcg.report(predictions=whole, references=qrels, k=2).notes
    assert not any("missing" in note or "fewer than" in note for note in notes)
    both = ndcg.compare(systems={"some": run, "all": whole}, references=qrels, k=2, missing="empty").notes
    assert [note for note in both if "missing" in note] == [f'some: {missing}counted as 0; missing="skip" skips them.']


def test_queries_with_few_retrieved_documents_are_noted(ndcg: Metric) -> None:
    qrels = {f"q{at}": {"d1": 1, "d2": 0, "d3": 2} for at in range(40)}
    run = {query: {"d1": 3.0, "d2": 2.0, "d3": 1.0} for query in qrels} | {"q0": {"d1": 1.0}, "q1": {"d1": 1.0}}
    found = ndcg.report(predictions=run, references=qrels, k=[1, 2, 3])
    few = [note for note in found.notes if "fewer than" in note]
    assert few == ["2 queries have fewer than 3 retrieved documents."]  # of the largest cutoff
    judged_alone = {query: {"d1": 1} for query in qrels}  # of which the run has all, so that it is complete
    assert not any("fewer than" in note for note in ndcg.report(predictions=run, references=judged_alone, k=3).notes)
