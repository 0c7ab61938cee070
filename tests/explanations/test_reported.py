"""How reported scores are read: digits, and values of queries in files, pipes and mappings."""

import gzip
import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pyarrow as pa
import pytest
from conftest import ranx_sides
from reference import RELEVANCE, SCORES
from refusals import refusal
from sources import as_parquet

from ndcg.explanations.reported import Reported
from ndcg.inputs.reading import read
from ndcg.measure.conventions import CONVENTIONS
from ndcg.statistics.report import report

CARD: dict[str, Any] = {"predictions": SCORES, "references": RELEVANCE}

# Digits


@pytest.mark.parametrize(
    ("got", "number", "matches"),
    [
        (0.59, 0.59, True),  # .5921 to two digits
        (0.5920, 0.592, True),  # which Python writes with three digits
        ("0.5920", 0.592, False),
        ("0.5921", 0.5921, True),
        (59.2, 0.592, True),
        ("59.21 %", 0.5921, True),
        ("0.5%", 0.005, False),
        (np.float32(0.5920910239), 0.5920910239, True),
        (np.array(0.5921), 0.5921, True),
        (Decimal("0.5920"), 0.592, False),
        (1, 1.0, False),
    ],
    ids=str,
)
def test_a_number_matches_to_the_digits_that_it_has(
    ndcg: evaluate.Metric, got: Any, number: float, matches: bool
) -> None:
    found = ndcg.explain(**CARD, got=got)
    assert found.got == pytest.approx(number, abs=1e-7)
    assert ("sklearn" in found.matches) == matches


EXACT = 0.5920910237072634  # scikit-learn's nDCG of these rankings


@pytest.mark.parametrize(
    ("got", "matches"),
    [
        (EXACT, True),
        (EXACT + 5e-7, True),
        (EXACT + 2e-6, False),
        (f"{100 * EXACT + 5e-5}%", True),
        (f"{100 * EXACT + 2e-4}%", False),
        ({"nDCG": EXACT + 2e-6}, False),
        (np.float32(EXACT) + np.float32(5e-7), True),  # computed in 32 bits
        (float(np.float32(EXACT) + np.float32(5e-7)), True),
        (str(np.float32(EXACT) + np.float32(5e-7)), True),
        (100 * float(np.float32(EXACT) + np.float32(5e-7)), True),
        (f"{EXACT + 5e-7:.7f}", True),
        (f"{EXACT + 2e-6:.10f}", False),
    ],
    ids=str,
)
def test_a_score_of_many_digits_may_differ_by_what_32_bits_lose(
    ndcg: evaluate.Metric, got: Any, matches: bool
) -> None:
    assert ("sklearn" in ndcg.explain(**CARD, got=got).matches) == matches


@pytest.mark.parametrize("decimals", [2, 3, 5])
def test_rounded_values_match_in_any_number_of_bits(ndcg: evaluate.Metric, decimals: int) -> None:
    import torch

    values = ndcg.compute(**CARD, use_aggregator=False)["nDCG"]
    rounded = [round(value, decimals) for value in values]
    singles = [np.float32(value) for value in rounded]
    for got in (
        rounded,
        singles,
        np.array(singles),
        np.array(singles).tolist(),
        torch.tensor(rounded),
    ):
        assert "sklearn" in ndcg.explain(**CARD, got=got).matches


@pytest.mark.parametrize("of", [float, np.float32])
def test_so_may_the_values_of_queries(ndcg: evaluate.Metric, of: Callable[[float], Any]) -> None:
    values = ndcg.compute(**CARD, use_aggregator=False)["nDCG"]
    for scale, matches in ((1, True), (5, False)):
        got = [of(value + scale * 5e-7 * (value > 0)) for value in values]
        assert ("sklearn" in ndcg.explain(**CARD, got=got).matches) == matches


def test_a_score_read_as_a_percentage_says_so(ndcg: evaluate.Metric) -> None:
    found = ndcg.explain(**CARD, got="59.21 %")
    assert found.percent == found.to_dict()["percent"] is True
    assert "Your score was read as a percentage: 59.21% is 0.5921." in str(found)
    assert "percentage" not in str(ndcg.explain(**CARD, got=0.5921))


@pytest.mark.filterwarnings("ignore:.*queries have one document each:UserWarning")
@pytest.mark.parametrize(
    ("values", "half_unit"),
    [
        ([0.1234, 0.5, 1.0], 0.5e-4),  # 0.5 stands for 0.5000
        ([0.63, 0.5], 0.5e-2),
        ([1.0, 0.25, None], 0),  # these have as few digits if all are kept
        (["1.0000", "0.5000"], 0.5e-4),  # text says how many were kept
        (["1.0", "0.0"], 0),
        ([2 / 3, 0.5], 0.5e-16),
        ([Decimal("0.630"), 1.0], 0.5e-3),
        ([0.4375, 0.4], 0.5e-4),  # although 0.4375 may be exact
        ([None, math.nan], 0),
        (np.float32([0.592, 0.5]), 0.5e-3),
        (np.float32([0.592, 0.5]).tolist(), 0.5e-3),
        (np.float16([0.592, 0.5]), 0.5e-3),
    ],
    ids=str,
)
def test_values_of_queries_match_to_half_a_unit_of_the_last_digit_and_what_32_bits_lose(
    values: Any, half_unit: float
) -> None:
    rankings = read([[1.0]] * len(values), [[1]] * len(values))
    evidence = Reported.read(values, None).evidence(rankings)
    assert evidence.tolerance == pytest.approx([half_unit + 1e-6], rel=1e-5)


# Files


RUN, QRELS = {"a": {"x": 1.0, "y": 2.0}, "b": {"y": 1.0}}, {"a": {"x": 1}, "b": {"x": 0}}
QUERIES = (
    '{"queries": {"query": ["a", "b"], "nDCG": [0.9, 0.25], "nDCG@10": [0.75, null]}, '
    '"signature": "nDCG|v:1"}'
)
OF_ONE_MEASURE = {
    "trec_eval": "map    \ta\t0.1\nndcg_cut_10\ta\t0.75\nndcg_cut_10\tall\t0.5\nrunid\tall\tbm25\n",
    "ir_measures": "a\tnDCG@10\t0.75\nb\tnDCG@10\tNone\nall\tnDCG@10\t1",
    "pytrec_eval": '{"a": {"map": 0.1, "nDCG@10": 0.75},\n "b": {"map": 0.1, "nDCG@10": null}}',
}
WITHOUT_NAMES = {"lines": "a 0.75\nb None\n", "table": "query_id;value\na ; 0.75\nb ; None\n"}
OF_SEVERAL_MEASURES = {
    "trec_eval": (
        "ndcg\ta\t0.9\nndcg\tb\t0.25\nndcg\tall\t0.5\nndcg_cut_10\ta\t0.75\nndcg_cut_10\tall\t0.5\n"
    ),
    "score -q": (
        "run\tquery\tnDCG\tnDCG@10\nbm25\ta\t0.9\t0.75\nbm25\tb\t0.25\t\nbm25\tall\t0.5\t0.5"
    ),
    "score -q as JSON lines": (
        '{"run": "bm25", "query": "a", "nDCG": 0.9, "nDCG@10": 0.75}\n'
        '{"run": "bm25", "query": "b", "nDCG": 0.25, "nDCG@10": null}\n'
        '{"run": "bm25", "query": "all", "nDCG": 0.5}'
    ),
    "score -q as JSON": QUERIES,
}


@pytest.mark.parametrize(
    ("content", "k", "expected"),
    [
        *(
            (each, 10, {"a": 0.75, "b": None})
            for each in (*OF_ONE_MEASURE.values(), *WITHOUT_NAMES.values())
        ),
        *((each, 10, {"a": 0.75, "b": None}) for each in OF_SEVERAL_MEASURES.values()),
        *((each, None, {"a": 0.9, "b": 0.25}) for each in OF_SEVERAL_MEASURES.values()),
    ],
)
def test_a_file_of_a_program_is_read_at_the_cutoff_that_is_given(
    tmp_path: Path, content: str, k: int | None, expected: dict[str, float | None]
) -> None:
    path = tmp_path / "values"
    path.write_text(content)
    reported = Reported.read(path, k)
    values = {
        query: None if value is None else float(value) for query, value in reported.values.items()
    }
    assert ({"b": None, **values}, reported.k) == (expected, k)
    text = Reported.read(content + "\n", k)
    assert (text.values, text.k) == (reported.values, k)


@pytest.mark.parametrize(
    "name", ["nDCG@10", "ndcg@10", "NDCG@10", "ndcg_at_10", "ndcg_cut_10", "ndcg_cut.10", "nDCG_10"]
)
def test_an_ndcg_has_the_names_of_programs(name: str) -> None:
    for got in (
        {name: 0.5921},
        {name: 0.5921, "map@10": 0.2},
        f"{name}: 0.5921",
        f"{name} 0.5921\nmap 0.2",
    ):
        reported = Reported.read(got, None)
        assert list(map(float, reported.given.values())) == [0.5921]
        assert (list(reported.given), reported.k) == ([(10,)], 10)


@pytest.mark.parametrize("name", ["nDCG", "ndcg", "NDCG"])
def test_an_ndcg_without_a_cutoff_is_that_of_the_whole_list(name: str) -> None:
    assert Reported.read({name: 0.5921, "map": 0.2}, None).given == {(None,): 0.5921}


def test_two_names_of_an_ndcg_with_one_value_are_one() -> None:
    assert Reported.read({"ndcg@10": 0.59, "NDCG@10": "0.590"}, None).given == {(10,): 0.59}
    with refusal("got"):
        Reported.read({"ndcg@10": 0.59, "ndcg_cut_10": 0.6}, None)


BEIR = {
    "ndcg": {"NDCG@1": 0.75, "NDCG@10": 0.5921},
    "map": {"MAP@1": 0.1},
    "recall": {"Recall@1": 0.1},
}
OF_SUBSET = {
    "ndcg_at_1": 0.75,
    "ndcg_at_10": 0.5921,
    "map_at_1": 0.1,
    "nauc_ndcg_at_10_max": math.nan,
}
OF_SUBSET |= {"main_score": 0.5921, "hf_subset": "default", "languages": ["eng-Latn"]}
MTEB = {
    "dataset_revision": "a1",
    "task_name": "T",
    "mteb_version": "2.26",
    "scores": {"test": [OF_SUBSET]},
}
MEANS: dict[str, Any] = {
    "BEIR's file": json.dumps(BEIR, indent=4),
    "what BEIR returns": tuple(BEIR.values()),
    "BEIR's log": (
        "2026-11-28 14:26:48 - For evaluation, we ignore identical query and document ids\n"
        "2026-11-28 14:26:48 - \n\n"
        "2026-11-28 14:26:48 - NDCG@1: 0.7500\n"
        "2026-11-28 14:26:48 - NDCG@10: 0.5921\n"
        "2026-11-28 14:26:48 - \n\n"
        "2026-11-28 14:26:48 - MAP@1: 0.1000\n"
    ),
    "MTEB's file": json.dumps(MTEB, indent=2),
    "a subset of MTEB": OF_SUBSET,
    "trec_eval": (
        "runid                 \tall\tbm25\n"
        "num_q                 \tall\t2\n"
        "map                   \tall\t0.2\n"
        "ndcg_cut_1            \tall\t0.7500\n"
        "ndcg_cut_10           \tall\t0.5921\n"
    ),
    "ir_measures": "nDCG@1\t0.7500\nnDCG@10\t0.5921\nAP\t0.2000\n",
    "ranx": {"ndcg@1": 0.75, "ndcg@10": 0.5921, "map": 0.2},
}


@pytest.mark.parametrize("content", MEANS.values(), ids=MEANS)
def test_the_means_of_programs_are_scores_at_several_cutoffs(tmp_path: Path, content: Any) -> None:
    forms = [content]
    if isinstance(content, str):
        (tmp_path / "means").write_text(content)
        forms.append(tmp_path / "means")
    for got in forms:
        means = Reported.read(got, None)
        assert {cutoff: float(value) for cutoff, value in means.given.items()} == {
            (1,): 0.75,
            (10,): 0.5921,
        }
        assert {cutoff: float(value) for cutoff, value in Reported.read(got, 10).given.items()} == {
            (10,): 0.5921
        }
        with refusal("got"):
            Reported.read(got, 5)


def of_elasticsearch(query: str, score: float, details: dict[str, Any]) -> dict[str, Any]:
    unrated = [{"_index": "films", "_id": "7"}]
    return {
        query: {
            "metric_score": score,
            "unrated_docs": unrated,
            "hits": [],
            "metric_details": details,
        }
    }


NORMALIZED = {"dcg": {"dcg": 3.0, "ideal_dcg": 4.0, "normalized_dcg": 0.75, "unrated_docs": 1}}
NOTHING_RELEVANT = {"dcg": {"dcg": 0.0, "unrated_docs": 1}}
RANK_EVAL = {
    "metric_score": 0.375,
    "details": of_elasticsearch("a", 0.75, NORMALIZED)
    | of_elasticsearch("b", 0.0, NOTHING_RELEVANT),
    "failures": {},
}
GDEVAL = (
    "runid,topic,ndcg@10,err@10\n"
    "bm25,a,0.75000,0.03750\n"
    "bm25,b,0.00000,0.1\n"
    "bm25,amean,0.37500,0.06875\n"
)
OF_QUERIES: dict[str, Any] = {
    "Elasticsearch": RANK_EVAL,
    "Elasticsearch's JSON": json.dumps(RANK_EVAL, indent=1),
    "gdeval": GDEVAL,
    "ranx": {"ndcg@10": {"a": 0.75, "b": 0.0}, "map": {"a": 0.1, "b": 0.2}},
}


@pytest.mark.parametrize("content", OF_QUERIES.values(), ids=OF_QUERIES)
def test_the_values_of_queries_of_programs_are_read(content: Any) -> None:
    reported = Reported.read(content, 10)
    assert {query: float(value) for query, value in reported.values.items()} == {
        "a": 0.75,
        "b": 0.0,
    }
    assert reported.k == 10


PEER_RUN = {"a": {"x": 1.0, "y": 2.0}, "b": {"y": 1.0, "b": 2.0}, "c": {"x": 2.0, "y": 1.0}}
PEER_QRELS = {"a": {"x": 1}, "b": {"y": 1, "b": 1}, "c": {"x": 2, "y": 3}}


@pytest.mark.peers
@pytest.mark.xdist_group("ranx")  # which compiles its functions for seconds
@pytest.mark.filterwarnings("ignore")  # of Numba
def test_what_ranx_ir_measures_and_pytrec_eval_return_is_read(ndcg: evaluate.Metric) -> None:
    import ir_measures
    import pytrec_eval
    import ranx

    inputs = {"predictions": PEER_RUN, "references": PEER_QRELS}
    of_ranx = ranx.evaluate(*ranx_sides(PEER_RUN, PEER_QRELS), ["ndcg@10", "map"])
    measures = [ir_measures.nDCG @ 10, ir_measures.AP]
    means = ir_measures.calc_aggregate(measures, PEER_QRELS, PEER_RUN)
    of_measures = {str(name): mean for name, mean in means.items()}
    by_query = pytrec_eval.RelevanceEvaluator(PEER_QRELS, {"ndcg_cut.10", "map"}).evaluate(PEER_RUN)
    for got in (of_ranx, of_measures, by_query):
        assert "trec_eval" in ndcg.explain(**inputs, k=10, got=got).matches


@pytest.mark.parametrize("text", ["0.31@5,0.283@10", " 0.31@5 , 0.283@10 "])
def test_means_may_come_before_their_cutoffs(text: str) -> None:
    given = Reported.read(text, None).given
    assert {cutoff: float(mean) for cutoff, mean in given.items()} == {(5,): 0.31, (10,): 0.283}


def test_a_mean_may_follow_its_name_and_an_equals_sign() -> None:
    for text in ("nDCG@10 = 0.5708", "ndcg@10=0.5708", "NDCG@10: 0.5708"):
        assert dict(Reported.read(text, None).given) == {(10,): "0.5708"}


@pytest.mark.peers
def test_what_beir_returns_saves_and_logs_is_read(
    ndcg: evaluate.Metric, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It leaves document b of query b out of the run."""
    from beir.retrieval.evaluation import EvaluateRetrieval
    from beir.util import save_results

    run = {query: dict(documents) for query, documents in PEER_RUN.items()}
    with caplog.at_level("INFO"):
        returned = EvaluateRetrieval.evaluate(PEER_QRELS, run, [1, 10])
    save_results(str(tmp_path / "results.json"), *returned)
    logged = "".join(f"2026-11-28 14:26:48 - {record.message}\n" for record in caplog.records)
    inputs = {"predictions": PEER_RUN, "references": PEER_QRELS}
    for got in (returned, returned[0], tmp_path / "results.json", logged):
        assert set(Reported.read(got, None).given) == {(1,), (10,)}
        excluded = {"exclude": {"b": ["b"]}, "exclude_from": "run"}
        assert "beir" in ndcg.explain(**inputs, **excluded, got=got).matches
        ((slip, _),) = ndcg.explain(**inputs, got=got).slips
        assert slip == "the query's own document left out of the run"


@pytest.mark.peers
@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
def test_what_gdeval_prints_is_read(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    """Its topics are numbers."""
    topics = {"a": 1, "b": 2, "c": 3}
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(
        "".join(
            f"{topics[q]} 0 {d} {grade}\n"
            for q, of in PEER_QRELS.items()
            for d, grade in of.items()
        )
    )
    run.write_text(
        "".join(
            f"{topics[q]} Q0 {d} 0 {score} bm25\n"
            for q, of in PEER_RUN.items()
            for d, score in of.items()
        )
    )
    script = str(files("ir_measures") / "bin" / "gdeval.pl")
    command = ["perl", script, str(qrels), str(run), "2"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.startswith("runid,topic,ndcg@2,err@2\n")
    for k in (None, 2):
        assert "gdeval" in ndcg.explain(predictions=run, references=qrels, got=printed, k=k).matches


@pytest.mark.peers
def test_the_files_of_mteb_are_read(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, make_score_dict
    from mteb.results.task_result import TaskResult

    measured = calculate_retrieval_scores(PEER_RUN, PEER_QRELS, [1, 10])
    means = dict(zip(("ndcg", "_map", "recall", "precision"), measured[1:5], strict=True))
    others: dict[str, Any] = {
        name: {} for name in ("mrr", "naucs", "naucs_mrr", "hit_rate", "task_scores")
    }
    scores = {**make_score_dict(**means, **others), "main_score": 0.5, "hf_subset": "default"}
    result = TaskResult(
        dataset_revision="a1",
        task_name="T",
        mteb_version="2",
        evaluation_time=1.0,
        kg_co2_emissions=None,
        scores={"test": [{**scores, "languages": ["eng-Latn"]}]},
    )
    result.to_disk(tmp_path / "T.json")
    found = ndcg.explain(predictions=PEER_RUN, references=PEER_QRELS, got=tmp_path / "T.json")
    assert "mteb" in found.matches
    assert set(Reported.read(tmp_path / "T.json", None).given) == {(1,), (10,)}


def test_values_are_read_from_parquet(tmp_path: Path) -> None:
    (tmp_path / "values").write_bytes(
        as_parquet(pa.table({"query": ["a", "b"], "nDCG@10": [0.75, None]}))
    )
    assert Reported.read(tmp_path / "values", 10).values == {"a": 0.75, "b": None}


@pytest.mark.parametrize("content", OF_ONE_MEASURE.values(), ids=OF_ONE_MEASURE)
def test_the_only_ndcg_of_a_file_needs_no_cutoff(
    ndcg: evaluate.Metric, tmp_path: Path, content: str
) -> None:
    (tmp_path / "values").write_text(content)
    assert (
        ndcg.explain(predictions=RUN, references=QRELS, got=tmp_path / "values").measure
        == "nDCG@10"
    )


def test_mappings_of_programs_are_read_like_their_files(ndcg: evaluate.Metric) -> None:
    inputs: dict[str, Any] = {"predictions": RUN, "references": QRELS}
    saved = report(**inputs, k=[1, 10]).to_dict()
    by_measure = {
        "a": {"ndcg_cut_1": 0.0, "ndcg_cut_10": 0.6309},
        "b": {"ndcg_cut_1": 0.0, "ndcg_cut_10": 0.0},
    }
    for got in (saved, by_measure):
        assert "trec_eval" in ndcg.explain(**inputs, k=10, got=got).matches


@pytest.mark.parametrize("name", [None, "nDCG@10", "value"])
@pytest.mark.parametrize("as_file", [False, True])
def test_a_series_of_pandas_is_read_by_its_index(name: str | None, as_file: bool) -> None:
    import pandas as pd

    values = pd.Series([0.25, 0.5], index=["b", "a"], name=name)
    got = values.to_csv() if as_file else values
    numbers = {query: float(value) for query, value in Reported.read(got, 10).values.items()}
    assert numbers == {"b": 0.25, "a": 0.5}


def test_files_of_values_may_be_compressed_or_pipes(tmp_path: Path) -> None:
    content = WITHOUT_NAMES["lines"].encode()
    expected = Reported.read(WITHOUT_NAMES["lines"], None)
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    (tmp_path / "a@10.txt").write_bytes(pa.compress(content, "zstd", asbytes=True))
    for name in ("a.gz", "a@10.txt"):
        assert (
            Reported.read(tmp_path / name, None)
            == Reported.read(str(tmp_path / name), None)
            == expected
        )
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    assert Reported.read(f"/dev/fd/{reader}", None) == expected
    os.close(reader)


def test_a_number_is_never_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "0.5").write_text("a 1")
    assert Reported.read("0.5", None).words == "0.5"


def test_ids_of_values_that_equal_those_of_queries_are_the_same() -> None:
    rankings = read({1: {"d": 1.0}, 2: {"d": 1.0}}, {1: {"d": 1}, 2: {"d": 1}})
    for values in ({1.0: 0.5, 2.0: 1.0}, {"1": 0.5, "2": 1.0}, {2: 1.0, 1: 0.5}):
        assert Reported.read(values, None).evidence(rankings).scores.tolist() == [0.5, 1.0]


EMPTY = {
    "predictions": {"a": {"d": 2.0, "e": 1.0}, "b": {"d": 1.0}},
    "references": {"a": {"e": 1}, "b": {"d": 0}},
}


@pytest.mark.parametrize(
    "lines",
    [
        *(
            "a 0.6309\nb nan\n",
            "a\t0.6309\nb\tNone\n",
            "a,0.6309\nb,null\n",
            "a 0.6309\nb NaN",
            "a,0.6309\nb,\n",
        ),
        *('{"a": 0.6309, "b": null}', '{"a": 0.6309, "b": NaN}', "[0.6309, null]", "0.6309\n-\n"),
        *("\ufeffa 0.6309\nb -\n", '\ufeff {"a": 0.6309, "b": null}'),
    ],
)
def test_a_file_of_values_may_say_that_a_query_has_none(
    ndcg: evaluate.Metric, tmp_path: Path, lines: str
) -> None:
    path = tmp_path / "values"
    path.write_text(lines)
    found = ndcg.explain(**EMPTY, k=10, got=path)
    assert found.matches
    assert all(math.isnan(CONVENTIONS[name].zero_division) for name in found.matches)
