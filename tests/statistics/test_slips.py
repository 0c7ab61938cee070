"""Every slip yields another score than the right one, as its threads say, and none passes the conformance kit."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from ndcg.measure.conventions import CONVENTIONS
from ndcg.statistics.questions import random_rankings
from ndcg.statistics.slip_terms import Queries, Query, Slip, in_order, query_scores
from ndcg.statistics.slips import SLIPS, slip_named

VECTORS = json.loads((ROOT / "conformance" / "vectors.json").read_text(encoding="utf-8"))
LOG = [1 / math.log2(rank + 1) for rank in range(1, 30)]


def of(slip: str, run: Mapping[str, float], qrels: Mapping[str, float], k: int | None, **options: Any) -> float:
    return float(slip_named(slip).scores(Queries([Query(run, qrels, k)]), options)[0])


def right(run: Mapping[str, float], qrels: Mapping[str, float], k: int | None, **options: Any) -> float:
    return float(query_scores([Query(run, qrels, k)], options)[0])


FIVE = {f"d{at}": score for at, score in enumerate([0.1, 0.2, 0.3, 4, 70])}
GRADES = {f"d{at}": grade for at, grade in enumerate([10, 0, 0, 1, 5])}
TRUTH = {f"t{at}": 1 for at in range(5)}

# Rankings of the threads, each with the score that was reported, that of the slip, and the right one.
REPORTED = [
    ("karlhigley/ranking-metrics-torch#1", "ideal from the top k retrieved", FIVE, GRADES, 3, {}, 1.0, 0.4124),
    (
        "xiangwang1223/neural_graph_collaborative_filtering#34",
        "ideal from the top k retrieved",
        in_order(["a", "x", "b"]),
        {"a": 1, "b": 1, "c": 1},
        3,
        {},
        0.9197,
        (1 + LOG[2]) / sum(LOG[:3]),
    ),
    ("spiceai/spiceai#12277", "ideal from the top k retrieved", {"a": 1}, {"a": 1, "b": 1}, 10, {}, 1.0, 0.6131),
    (
        "Marker-Inc-Korea/AutoRAG#386",
        "ideal from the top k retrieved",
        in_order(["a", "x"]),
        {"a": 1, "b": 1, "c": 1},
        3,
        {},
        1.0,
        0.469,
    ),
    ("supermemoryai/memorybench#67", "ideal from the top k retrieved", {"t0": 1}, TRUTH, 5, {}, 1.0, 0.3392),
    (
        "apache/spark#12461",
        "ideal from the top k retrieved",
        in_order("abxc"),
        {"a": 1, "b": 1, "c": 1, "y": 1},
        4,
        {},
        0.967,
        (1 + LOG[1] + LOG[3]) / sum(LOG[:4]),
    ),
    ("mlflow/mlflow#24541", "ideal cut at the length of the result list", {"t0": 1}, TRUTH, 5, {}, 1.0, 0.339),
    (
        "elastic/elasticsearch#154362",
        "ideal cut at the length of the result list",
        {"t0": 1},
        dict.fromkeys(TRUTH, 3),
        10,
        {},
        1.0,
        1 / sum(LOG[:5]),
    ),
    (
        "baekenough/second-brain#256",
        "ideal cut at the length of the result list",
        {"a": 1},
        {"a": 1, "b": 1},
        10,
        {},
        1.0,
        0.613147,
    ),
    ("OpenAgentHQ/openagent-eval#223", "equal weights at ranks 1 and 2", in_order("xa"), {"a": 1}, 10, {}, 1.0, 0.6309),
    (
        "OpenAgentHQ/openagent-eval#223",
        "equal weights at ranks 1 and 2",
        in_order("xya"),
        {"a": 1},
        10,
        {},
        0.6309,
        0.5,
    ),
    (
        "CCRI-POPROX/poprox-recommender#15",
        "equal weights at ranks 1 and 2",
        in_order("xya"),
        {"a": 1},
        10,
        {},
        0.6309,
        0.5,
    ),
    ("usnistgov/trec_eval#22", "ties by document id", {"b": 1, "a": 1}, {"b": 1}, 10, {}, 1.0, (1 + LOG[1]) / 2),
    ("usnistgov/trec_eval#22", "ties by document id", {"b": 1, "c": 1}, {"b": 1}, 10, {}, 0.6309, (1 + LOG[1]) / 2),
    (
        "cvangysel/pytrec_eval#56",
        "ties by document id",
        {"d1": 1, "d2": 1, "d3": 1},
        {"d3": 1},
        10,
        {"ties": "first"},
        1.0,
        0.5,
    ),
    (
        "lightgbm-org/LightGBM#2091",
        "ties in the order of the input",
        {"a": 1, "b": 1},
        {"b": 1},
        10,
        {},
        LOG[1],
        (1 + LOG[1]) / 2,
    ),
    (
        "elixir-nx/scholar#360",
        "ties in the model's favor",
        dict.fromkeys(GRADES, 1),
        GRADES,
        None,
        {},
        1.0,
        0.690979,
    ),
    (
        "elixir-nx/scholar#360",
        "ties in the model's favor",
        dict(zip(GRADES, [1, 1, 1, 0.5, 0.5], strict=True)),
        GRADES,
        None,
        {},
        (10 + LOG[3] * 5 + LOG[4]) / (10 + 5 * LOG[1] + LOG[2]),
        0.699812,
    ),
    (
        "THUDM/ComiRec#6",
        "discount from the place in the truth",
        in_order("xya"),
        {"a": 1, "b": 1},
        3,
        {},
        0.6131,
        0.3066,
    ),
    (
        "RapidFireAI/rapidfireai#261",
        "DCG with binary gain, ideal with graded gain",
        in_order("ab"),
        {"a": 3, "b": 3},
        10,
        {},
        0.333,
        1.0,
    ),
    (
        "yihong-chen/neural-collaborative-filtering#2",
        "DCG one rank too deep",
        in_order("ab"),
        {"a": 1},
        10,
        {},
        0.6309,
        1.0,
    ),
    ("RUCAIBox/RecBole#120", "no discount", in_order("xya"), {"a": 1}, 3, {}, 1.0, 0.5),
    (
        "lenskit/lkpy#309",
        "DCG not cut at k",
        in_order(["2", "3", "1"]),
        {"1": 3, "2": 5, "3": 4},
        2,
        {"discount": "jarvelin"},
        (5 + 4 + 3 / math.log2(3)) / 9,
        1.0,
    ),
    (
        "recommenders-team/recommenders#1749",
        "graded relevance read as 0 or 1",
        in_order("abcdef"),
        {"a": 3, "b": 2, "c": 3, "e": 1, "f": 2, "g": 3, "h": 2},
        6,
        {},
        None,
        0.785,
    ),
    ("catboost/benchmarks#19", "no relevant documents scored 1", in_order("ab"), {"a": 0, "b": 0}, 10, {}, 1.0, 0.0),
    ("maciejkula/rustlearn#52", "ideal in the order of the run", in_order("xa"), {"a": 1}, 10, {}, 1.0, 0.6309),
    (
        "huggingface/sentence-transformers#1349",
        "graded relevance read as 0 or 1",
        in_order("ab"),
        {"a": 1, "b": 3},
        10,
        {},
        1.0,
        (1 + 3 * LOG[1]) / (3 + LOG[1]),
    ),
    (
        "geek-ai/irgan#13",
        "graded relevance read as 0 or 1",
        in_order("ab"),
        {"a": 1, "b": 2},
        10,
        {},
        1.0,
        (1 + 2 * LOG[1]) / (2 + LOG[1]),
    ),
]


@pytest.mark.parametrize(
    ("thread", "slip", "run", "qrels", "k", "options", "wrong", "correct"),
    REPORTED,
    ids=[f"{at}-{row[0]}" for at, row in enumerate(REPORTED)],
)
def test_a_thread_has_the_score_of_its_slip(
    thread: str,
    slip: str,
    run: dict[str, float],
    qrels: dict[str, float],
    k: int | None,
    options: dict[str, Any],
    wrong: float | None,
    correct: float,
) -> None:
    assert thread in slip_named(slip).threads
    if wrong is not None:
        assert of(slip, run, qrels, k, **options) == pytest.approx(wrong, abs=6e-4)
    assert right(run, qrels, k, **options) == pytest.approx(correct, abs=6e-4)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_a_slip_has_another_score_than_some_convention(slip: Slip) -> None:
    queries = random_rankings(300, 5, "mappings", 1)
    queries = [
        query._replace(qrels={document: grade - 1 if at % 9 == 0 else grade for document, grade in query.qrels.items()})
        for at, query in enumerate(queries)
    ]
    queries.append(Query({"a": 1 + 1e-9, "b": 1}, {"b": 1}, 5))  # equal in 32 bits
    how = {"negative_relevance": "keep"}
    assert any(
        not np.allclose(
            slip.scores(Queries(queries), {"convention": name, **how}),
            query_scores(queries, {"convention": name, **how}),
            equal_nan=True,
        )
        for name in CONVENTIONS
    )
    assert slip.name[0].islower() or slip.name.startswith(("DCG", "0"))
    assert slip.meaning.endswith(".")


def test_names_and_threads_of_slips_stand_once() -> None:
    names = [slip.name for slip in SLIPS]
    assert len(set(names)) == len(names)
    for slip in SLIPS:
        assert len(set(slip.threads)) == len(slip.threads)


ASKED = ("sklearn", "lightgbm", "trec_eval", "rectools")


@pytest.mark.parametrize("convention", ASKED)
def test_without_a_slip_every_case_of_the_kit_passes(convention: str) -> None:
    assert not fails_a_case(Slip("", ""), convention)


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_no_slip_passes_the_conformance_kit(slip: Slip) -> None:
    """A case of the kit has another nDCG by the slip than the kit says, under some convention."""
    assert any(fails_a_case(slip, convention) for convention in ASKED)


def fails_a_case(slip: Slip, convention: str) -> bool:
    queries, expected = [], []
    for case in VECTORS["cases"]:
        (known,) = (each for each in case["expected"] if convention in each["under"])
        for name, values in known.get("queries", {}).items():
            run = case["run"].get(name, {})
            queries.append(Query({document: run[document] for document in run}, case["qrels"][name], case["k"]))
            expected.append(values["nDCG"])
    with_values = [at for at, value in enumerate(expected) if value is not None]
    queries, wanted = [queries[at] for at in with_values], [expected[at] for at in with_values]
    assert len(queries) > 300
    found = slip.scores(Queries(queries), {"convention": convention})
    return not np.allclose(found, wanted, rtol=0, atol=VECTORS["tolerance"], equal_nan=True)


def test_two_slips_at_once_are_one_after_the_other() -> None:
    query = Query(in_order("xab"), {"a": 2, "b": 3, "c": 3}, 2)
    both = slip_named("graded relevance read as 0 or 1").over(slip_named("ideal from the top k retrieved"))
    assert float(both.scores(Queries([query]), {})[0]) == pytest.approx(LOG[1])


# --- docs/slips.md ---------------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "slips.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| ([^|]+) \| ([^|]+\.) \| `([^`]+)` \| ([\d.]+|no score) \| ([\d.]+) \| ([^|]+) \|$", PAGE, re.MULTILINE
)


def query_of(ranking: str) -> Query:
    """The query that a cell of the table shows."""
    retrieved, _, unretrieved = ranking.partition(" + ")
    run, qrels = {}, {}
    for level, group in enumerate(retrieved.split()):
        for grade in re.split("[=≈]", group):
            document = f"d{len(run) + 1}"
            run[document] = 100 - level - 1e-9 * ("≈" in group) * len(run)
            if grade != "?":
                qrels[document] = int(grade)
    qrels |= {f"unretrieved {at}": int(grade) for at, grade in enumerate(unretrieved.split())}
    return Query(run, qrels, 3)


def test_the_page_has_a_row_for_each_slip_the_most_frequently_reported_first() -> None:
    assert [row[0].lower() for row in ROWS] == [
        slip.name.lower() for slip in sorted(SLIPS, key=lambda slip: -len(slip.threads))
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_page_shows_the_slip(row: tuple[str, ...]) -> None:
    name, meaning, ranking, wrong, right_score, reported = row
    slip = next(slip for slip in SLIPS if slip.name.lower() == name.lower())
    assert meaning == slip.meaning
    assert reported.partition(",")[0] == (str(len(slip.threads)) if slip.threads else "–")
    assert not slip.threads or slip.threads[0] in reported
    by_lightgbm = slip.name in ("linear gain", "no relevant documents scored 0")
    options = {"convention": "lightgbm"} if by_lightgbm else {"negative_relevance": "keep"}
    found = float(slip.scores(Queries([query_of(ranking)]), options)[0])
    assert ("no score" if math.isnan(found) else f"{found:.4f}") == wrong
    assert f"{float(query_scores([query_of(ranking)], options)[0]):.4f}" == right_score


def test_the_test_to_paste_passes_for_the_right_ndcg_and_fails_for_every_slip() -> None:
    (code,) = re.findall(r"```python\n(def test_ndcg.*?)```", PAGE, re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(code, namespace)

    def passes(score: Any) -> bool:
        namespace["my_ndcg"] = lambda run, qrels, k: float(score(Query(run, qrels, k)))
        try:
            namespace["test_ndcg"]()
        except AssertionError:
            return False
        return True

    assert passes(lambda query: query_scores([query], {})[0])
    same = {"linear gain", "no relevant documents scored 0", "negative relevance removed"}  # as scikit-learn does
    missed = [slip.name for slip in SLIPS if passes(lambda query, slip=slip: slip.scores(Queries([query]), {})[0])]
    assert set(missed) == same
