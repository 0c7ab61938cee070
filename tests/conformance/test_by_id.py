"""Rankings by ids score as in trec_eval: pytrec_eval and ir_measures on random runs and qrels."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLE
from evaluate import Metric

ir_measures, pytrec_eval = (pytest.importorskip(name) for name in ("ir_measures", "pytrec_eval"))
pytestmark = pytest.mark.peers

CUTOFFS = [1, 5, 10, 100]
OPTIONS: dict[str, Any] = {"ties": "docid", "negative_relevance": "clip", "use_aggregator": False}
SEEDS = range(25)

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def generated(seed: int) -> tuple[Run, Qrels]:
    """Ties; unjudged, unretrieved and negatively judged documents; queries of one side only."""
    rng = np.random.default_rng(seed)
    queries = int(rng.integers(1, 30))
    longest = int(rng.choice([3, 12, 60, 250]))
    levels = int(rng.choice([1, 3, 20, 1000]))  # of scores; few make many ties
    lowest, highest = int(rng.choice([-2, 0])), int(rng.integers(1, 5))
    run: Run = {}
    qrels: Qrels = {}
    for query in rng.permutation(queries):
        known = rng.permutation(2 * longest)[: rng.integers(1, 2 * longest + 1)]
        ids = [f"{'dDé9'[document % 4]}{document}" for document in known.tolist()]
        retrieved, judged = (
            rng.random(len(ids)) < rng.uniform(0.2, 1),
            rng.random(len(ids)) < rng.uniform(0.2, 1),
        )
        # eighths of small numbers, which float32 holds exactly: trec_eval keeps scores as those
        scores = (rng.integers(-levels, levels, len(ids)) / 8).tolist()
        relevances = rng.integers(lowest, highest + 1, len(ids)).tolist()
        if rng.random() < 0.85 and retrieved.any():
            run[f"q{query}"] = {
                id_: score
                for id_, score, is_in in zip(ids, scores, retrieved, strict=True)
                if is_in
            }
        relevances[int(judged.argmax())] = int(
            rng.integers(0, highest + 1)
        )  # pytrec_eval 0.5.11 hangs if all are negative
        if rng.random() < 0.85 and judged.any():
            qrels[f"q{query}"] = {
                id_: value
                for id_, value, is_in in zip(ids, relevances, judged, strict=True)
                if is_in
            }
    run["shared"], qrels["shared"] = (
        {"a": 1.0, "b": 1.0, "c": 0.5},
        {"a": 1, "c": 2, "d": 1, "e": -1},
    )
    return run, qrels


def of_pytrec_eval(run: Run, qrels: Qrels) -> dict[str, list[float]]:
    """The values of all queries of the qrels by measure; 0 if pytrec_eval has none."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, {"ndcg", "ndcg_cut." + ",".join(map(str, CUTOFFS))}
    )
    scored = evaluator.evaluate(run)
    assert scored.keys() == run.keys() & qrels.keys()
    names = {"nDCG": "ndcg", **{f"nDCG@{k}": f"ndcg_cut_{k}" for k in CUTOFFS}}
    return {
        name: [scored[query][theirs] if query in scored else 0.0 for query in qrels]
        for name, theirs in names.items()
    }


def assert_equal(actual: dict[str, list[float]], expected: dict[str, list[float]]) -> None:
    assert actual.keys() == expected.keys()
    for name, each in expected.items():
        assert actual[name] == pytest.approx(each, rel=1e-9, abs=1e-9), name


def files(folder: Path, run: Run, qrels: Qrels) -> dict[str, Path]:
    """Both as TREC files; the lines of a query are not next to each other."""
    rng = np.random.default_rng(len(run))
    lines = [
        f"{query} Q0 {id_} 0 {score!r} tag"
        for query, each in run.items()
        for id_, score in each.items()
    ]
    rng.shuffle(lines)
    (folder / "run.trec").write_text("\n".join(lines), encoding="utf-8")
    lines = [
        f"{query} 0 {id_} {value}" for query, each in qrels.items() for id_, value in each.items()
    ]
    (folder / "qrels.txt").write_text("\n".join(lines), encoding="utf-8")
    return {"predictions": folder / "run.trec", "references": folder / "qrels.txt"}


@pytest.mark.parametrize("seed", SEEDS)
def test_mappings_and_trec_files_score_as_pytrec_eval_scores_them(
    ndcg: Metric, tmp_path: Path, seed: int
) -> None:
    run, qrels = generated(seed)
    paths = files(tmp_path, run, qrels)
    actual = ndcg.compute(**paths, k=[None, *CUTOFFS], **OPTIONS)
    assert_equal(actual, of_pytrec_eval(run, qrels))
    with (
        paths["predictions"].open(encoding="utf-8") as run_lines,
        paths["references"].open(encoding="utf-8") as lines,
    ):
        assert_equal(
            actual, of_pytrec_eval(pytrec_eval.parse_run(run_lines), pytrec_eval.parse_qrel(lines))
        )
    assert ndcg.compute(predictions=run, references=qrels, k=[None, *CUTOFFS], **OPTIONS) == actual


@pytest.mark.parametrize("hashes", [1, 5])
@pytest.mark.parametrize("seed", SEEDS[:5])
def test_files_with_ids_that_share_hashes_score_as_mappings(
    ndcg: Metric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, hashes: int
) -> None:
    hashes_of = BUNDLE.hashes_of
    monkeypatch.setattr(BUNDLE, "hashes_of", lambda ids: hashes_of(ids) % np.uint64(hashes))
    run, qrels = generated(seed)
    expected = ndcg.compute(predictions=run, references=qrels, k=[None, *CUTOFFS], **OPTIONS)
    paths = files(tmp_path, run, qrels)
    for predictions, references in product(
        (run, paths["predictions"]), (qrels, paths["references"])
    ):
        assert (
            ndcg.compute(
                predictions=predictions, references=references, k=[None, *CUTOFFS], **OPTIONS
            )
            == expected
        )


def without_negative(qrels: Qrels) -> Qrels:
    """The qrels as trec_eval's judged_only reads them: a negative judgment counts as unjudged."""
    return {
        query: {id_: value for id_, value in each.items() if value >= 0}
        for query, each in qrels.items()
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_only_the_judged_score_as_ir_measures_scores_them(
    ndcg: Metric, tmp_path: Path, seed: int
) -> None:
    run, qrels = generated(seed)
    judged = without_negative(qrels)
    expected: dict[str, list[float]] = {}
    for k in CUTOFFS:
        measure = ir_measures.nDCG(judged_only=True) @ k
        by_query = {
            each.query_id: each.value for each in ir_measures.iter_calc([measure], qrels, run)
        }
        assert run.keys() & qrels.keys() <= by_query.keys() <= qrels.keys()
        expected[f"nDCG@{k}"] = [by_query.get(query, 0.0) for query in qrels]
    options = {"k": CUTOFFS, "judged_only": True, **OPTIONS}
    assert_equal(ndcg.compute(predictions=run, references=judged, **options), expected)
    # files hold no query without documents
    held = [query for query in qrels if judged[query]]
    expected = {
        name: [each[list(qrels).index(query)] for query in held] for name, each in expected.items()
    }
    assert_equal(ndcg.compute(**files(tmp_path, run, judged), **options), expected)


def test_a_document_judged_minus_1_was_judged_unlike_in_trec_eval(ndcg: Metric) -> None:
    run, qrels = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": -1, "b": 1}}
    measure = ir_measures.nDCG(judged_only=True) @ 10
    assert ir_measures.calc_aggregate([measure], qrels, run) == {measure: 1.0}
    options = {"k": 10, "judged_only": True, "ties": "docid", "negative_relevance": "clip"}
    actual = ndcg.compute(predictions=run, references=qrels, **options)
    assert actual == {"nDCG@10": pytest.approx(1 / math.log2(3), rel=1e-15)}
    assert ndcg.compute(predictions=run, references=without_negative(qrels), **options) == {
        "nDCG@10": 1.0
    }
