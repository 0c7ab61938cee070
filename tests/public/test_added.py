"""Queries added before they are scored: by batch, one by one, from several processes; refusals."""

import json
import math
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest
from conftest import ROOT, MetricFactory, Processes, lean_environment
from refusals import refusal
from test_options import BAD_OPTIONS, TWO

EXAMPLE: dict[str, Any] = {
    "predictions": [[0.1, 0.2, 0.3, 4, 70]],
    "references": [[10, 0, 0, 1, 5]],
}
SECOND = 1 / math.log2(2 + 1)  # the nDCG of one relevant document at the second rank
TWO_OF_THREE = (SECOND + 1 / math.log2(3 + 1)) / (1 + SECOND)  # of two at ranks 2 and 3


# --- Accepted -------------------------------------------------------------------------------------


def random_rankings(
    seed: int, queries: int
) -> tuple[list[list[float | None]], list[list[float | None]]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, queries)
    scores = [[None if rng.random() < 0.1 else rng.normal() for _ in range(n)] for n in lengths]
    relevances = [
        [None if rng.random() < 0.1 else float(rng.integers(0, 4)) for _ in range(n)]
        for n in lengths
    ]
    return scores, relevances


@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_batches_and_single_queries_score_as_all_at_once(
    fresh_metric: MetricFactory, keep_in_memory: bool
) -> None:
    scores, relevances = random_rankings(seed=1, queries=40)
    options: dict[str, Any] = {
        "k": [1, 5, None],
        "measures": ["nDCG", "CG"],
        "use_aggregator": False,
    }
    metric = fresh_metric(keep_in_memory=keep_in_memory)
    expected = metric.compute(predictions=scores, references=relevances, **options)
    for _ in range(2):  # a computed metric starts afresh
        assert len(metric) == 0
        metric.add_batch(predictions=scores[:20], references=relevances[:20])
        metric.add(prediction=scores[20], reference=relevances[20])
        metric.add(predictions=scores[21], references=relevances[21])
        assert len(metric) == 22
        metric.add_batch(predictions=[], references=[])
        metric.add_batch(predictions=scores[22:30], references=relevances[22:30])
        assert len(metric) == 30
        assert (
            metric.compute(predictions=scores[30:], references=relevances[30:], **options)
            == expected
        )


def test_nothing_touches_the_disk_at_once_or_in_memory(
    fresh_metric: MetricFactory, tmp_path: Path
) -> None:
    at_once, in_memory = fresh_metric(), fresh_metric(keep_in_memory=True)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    at_once.compute(
        predictions=np.random.default_rng(0).random((50, 50)),
        references=np.eye(50),
        k=[1, 10],
    )
    with refusal("predictions", "query 0, position 0"):
        at_once.compute(predictions=[[math.nan]], references=[[1]])
    in_memory.add_batch(**EXAMPLE)
    in_memory.compute()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_two_metrics_of_one_experiment_do_not_mix_their_queries(
    fresh_metric: MetricFactory,
) -> None:
    one, other = fresh_metric(), fresh_metric()
    one.add_batch(predictions=[[2, 1]], references=[[1, 0]])
    other.add_batch(predictions=[[1, 2]], references=[[1, 0]])
    one.add_batch(predictions=[[2, 1]], references=[[1, 0]])
    assert one.compute(use_aggregator=False) == {"nDCG": [1.0, 1.0]}
    assert other.compute() == {"nDCG": pytest.approx(SECOND, rel=1e-14)}


def test_compute_needs_something_to_score(fresh_metric: MetricFactory) -> None:
    metric = fresh_metric()
    with refusal("there is nothing to score:"):
        metric.compute()
    metric.add_batch(predictions=[], references=[])
    with refusal("predictions and references"):
        metric.compute()


# --- Rejected: the message names the place, and earlier batches are still there -------------------

NOT_EVEN_STORED: list[tuple[dict[str, Any], str]] = [
    ({"predictions": [[2, 1], [1, math.nan]]}, "predictions: query 1, position 1"),
    ({"predictions": np.array([[2, np.nan], [1, 2]])}, "predictions: query 0, position 1"),
    ({"references": [[1, 0], [math.nan, 1]]}, "references: query 1, position 0"),
    ({"predictions": [[2, 1], [math.inf, 2]]}, "predictions: query 1, position 0"),
    ({"references": [[1, -math.inf], [0, 1]]}, "references: query 0, position 1"),
    ({"predictions": [[2, 1]]}, "predictions"),
    ({"references": [[1, 0], [0, 1, 0]]}, ": query 1"),
    ({"references": [[1, "bad"], [0, 1]]}, "references: query 0, position 1"),
    ({"references": [[1, 0], "01"]}, "references: query 1"),
    ({"predictions": "12"}, "predictions"),
    ({"predictions": np.array([["2", "1"], ["1", "2"]])}, "references"),
    ({"predictions": [2, 1]}, "predictions: query 0"),
    ({"references": np.array([1, 0])}, "references"),
    ({"predictions": np.ones((2, 2, 1))}, "predictions"),
    ({"references": [[1, 0], None]}, "references: query 1"),
    ({"references": None}, "references"),
    ({"predictions": None}, "predictions"),
]
NOT_SCORED: list[tuple[dict[str, Any], str]] = [
    (
        {"references": [[1, 0], [0, -1]]},
        "references: query 1, position 1",
    ),
    (
        {"references": [[1, 5000], [0, 1]], "gain": "exponential"},
        "references: query 0, position 1",
    ),
    (
        {"references": [[1, 0], [1.7e308, 1.7e308]], "measures": "CG"},
        "references: query 1",
    ),
    (
        {"references": [[1, 0], [7, 1]], "gain": lambda r: np.where(r == 7, np.inf, r)},
        "references: query 1, position 0",
    ),
    ({"references": [[1, 0], [5, 0]], "gain": [0, 1, 3]}, "references: query 1, position 0"),
]


@pytest.fixture
def with_batches(fresh_metric: MetricFactory) -> evaluate.Metric:
    """A metric that holds one batch and one query."""
    metric = fresh_metric()
    metric.add_batch(predictions=[[2, 1, 0], [1, 2]], references=[[0, 1, 1], [2, None]])
    metric.add(prediction=[3.5], reference=[1])
    return metric


def is_as_before(metric: evaluate.Metric) -> bool:
    """Whether it still scores as the fixture's metric does, and may go on."""
    expected = pytest.approx([TWO_OF_THREE, SECOND, 1.0], rel=1e-14)
    length = len(metric)
    values = metric.compute(use_aggregator=False)["nDCG"]
    return (length, len(metric)) == (3, 0) and values == expected


@pytest.mark.parametrize(("arguments", "named"), NOT_EVEN_STORED)
def test_inputs_without_a_meaning_are_rejected_and_change_nothing(
    with_batches: evaluate.Metric, tmp_path: Path, arguments: dict[str, Any], named: str
) -> None:
    for refuse in (with_batches.compute, with_batches.add_batch):
        with refusal(*named.split(": ")):
            refuse(**{**TWO, **arguments})
    assert not list(tmp_path.rglob("*.arrow"))
    assert is_as_before(with_batches)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (
            {"prediction": [1, math.nan], "reference": [1, 0]},
            "predictions: query 0, position 1",
        ),
        ({"prediction": [1, 2], "reference": [0]}, ": query 0"),
        ({"prediction": [1, "x"], "reference": [1, 0]}, "predictions: query 0, position 1"),
        ({"prediction": "xy", "reference": [1, 0]}, "predictions: query 0"),
        ({"prediction": 1.0, "reference": 0.0}, "predictions: query 0"),
        ({"prediction": [[1, 2]], "reference": [1]}, "references"),
        ({"prediction": [1, 2]}, "references"),
        ({"reference": [1, 2]}, "predictions"),
        ({}, "predictions"),
    ],
)
def test_a_rejected_query_changes_nothing(
    with_batches: evaluate.Metric, query: dict[str, Any], named: str
) -> None:
    with refusal(*named.split(": ")):
        with_batches.add(**query)
    assert is_as_before(with_batches)


@pytest.mark.parametrize(("arguments", "named"), NOT_SCORED)
def test_rankings_that_the_options_do_not_allow_are_rejected_and_batches_stay(
    ndcg: evaluate.Metric, with_batches: evaluate.Metric, arguments: dict[str, Any], named: str
) -> None:
    with refusal(*named.split(": ")):
        ndcg.compute(**{**TWO, **arguments})
    in_batches = re.sub(r"query (\d)", lambda query: f"query {int(query[1]) + 3}", named)
    with refusal(*in_batches.split(": ")):
        with_batches.compute(**{**TWO, **arguments})
    assert is_as_before(with_batches)


@pytest.mark.parametrize(("arguments", "named"), NOT_SCORED)
@pytest.mark.parametrize("keep_in_memory", [False, True])
def test_a_rejected_compute_of_batches_keeps_them(
    fresh_metric: MetricFactory, keep_in_memory: bool, arguments: dict[str, Any], named: str
) -> None:
    metric, options = fresh_metric(keep_in_memory=keep_in_memory), {**TWO, **arguments}
    metric.add_batch(predictions=options.pop("predictions"), references=options.pop("references"))
    for _ in range(2):
        with refusal(*named.split(": ")):
            metric.compute(**options)
    metric.add_batch(predictions=[[1]], references=[[1]])
    values = metric.compute(use_aggregator=False, negative_relevance="keep", k=1, measures="DCG")[
        "DCG@1"
    ]
    assert (len(values), values[2]) == (3, 1.0)


def test_rejected_options_change_nothing(with_batches: evaluate.Metric) -> None:
    options_of_any_number = [each for each in BAD_OPTIONS if "sample_weight" not in each[0]]
    for options, named in [
        *options_of_any_number,
        ({"sample_weight": [1, 1]}, "sample_weight must hold one weight per query, 3 in all"),
    ]:
        with refusal(*named.split(": ")):
            with_batches.compute(**options)
    with refusal("sample_weight must hold one weight per query, 5 in all"):
        with_batches.compute(**TWO, sample_weight=[1, 1])
    assert is_as_before(with_batches)


def test_an_unknown_option_is_named_and_changes_nothing(with_batches: evaluate.Metric) -> None:
    for method, unknown in (
        (with_batches.compute, {"top_k": 10}),
        (partial(with_batches.compute, **TWO), {"top_k": 10}),
        (partial(with_batches.add_batch, **TWO), {"scores": [[1]]}),
        (partial(with_batches.add, prediction=[1], reference=[1]), {"score": [1]}),
    ):
        with pytest.raises(TypeError, match=min(unknown)):
            method(**unknown)
    assert is_as_before(with_batches)


def test_an_error_in_a_gain_function_changes_nothing(with_batches: evaluate.Metric) -> None:
    def gain(relevance: np.ndarray) -> np.ndarray:
        raise KeyError("no such grade")

    with pytest.raises(KeyError, match="grade"):
        with_batches.compute(gain=gain)
    assert is_as_before(with_batches)


@pytest.mark.parametrize(
    "gain",
    [
        lambda relevance: relevance[:-1],
        lambda relevance: [[1], [1, 2]],
        lambda relevance: ["3"] * len(relevance),
        lambda relevance: relevance + 1j,
        lambda relevance: np.ma.masked_less(relevance, 1),
    ],
)
def test_a_gain_function_without_a_number_for_each_is_named_and_changes_nothing(
    ndcg: evaluate.Metric, with_batches: evaluate.Metric, gain: Any
) -> None:
    with refusal("gain"):
        ndcg.compute(**TWO, gain=gain)
    with refusal("gain"):
        with_batches.compute(gain=gain)
    assert is_as_before(with_batches)


def test_add_takes_prediction_or_predictions_not_both(with_batches: evaluate.Metric) -> None:
    with refusal("give one query"):
        with_batches.add(prediction=[1, 2], reference=[0, 1], predictions=[2, 1], references=[0, 1])
    assert is_as_before(with_batches)


def test_a_mean_of_nothing_is_rejected(ndcg: evaluate.Metric, fresh_metric: MetricFactory) -> None:
    irrelevant = {"predictions": [[2, 1], [1, 2]], "references": [[0, 0], [1, 0]]}
    with refusal("nDCG"):
        ndcg.compute(**irrelevant, zero_division=math.nan, sample_weight=[1, 0])
    metric = fresh_metric()
    metric.add_batch(predictions=[[2, 1]], references=[[0, 0]])
    with refusal("nDCG@3"):
        metric.compute(k=3, zero_division=math.nan)
    assert metric.compute(zero_division=1.0) == {"nDCG": 1.0}


def test_only_a_sum_that_is_asked_for_may_not_overflow(ndcg: evaluate.Metric) -> None:
    huge = {"predictions": [[2.0, 1.0]] * 3, "references": [[1e308, 1e308]] * 3}
    with refusal("DCG"):
        ndcg.compute(**huge, measures="DCG")
    with refusal("references", "query 0"):
        ndcg.compute(**huge, measures="CG")
    assert ndcg.compute(**huge) == {"nDCG": pytest.approx(1.0)}
    assert ndcg.compute(**huge, measures="DCG", use_aggregator=False)["DCG"][0] == pytest.approx(
        1e308 * (1 + SECOND)
    )


def test_integers_that_float64_would_round_are_scored_at_once_and_rejected_for_storage(
    ndcg: evaluate.Metric, with_batches: evaluate.Metric
) -> None:
    big = {"predictions": [[2**53, 2**53 + 1]], "references": [[0, 1]]}
    assert ndcg.compute(**big) == {"nDCG": 1.0}
    for refuse in (with_batches.add_batch, with_batches.compute):
        with refusal("predictions"):
            refuse(**big)
    assert is_as_before(with_batches)


# --- Several processes ----------------------------------------------------------------------------

PROCESS = """
import json
import evaluate

results = []
for number, (act, share) in enumerate(scenarios):
    processes = {"process_id": process_id, "num_process": num_process}
    experiment = f"experiment-{number}"
    metric = evaluate.load(
        path, cache_dir=cache, timeout=500, experiment_id=experiment, **processes
    )
    inputs = {"predictions": [p for p, _ in share], "references": [r for _, r in share]}
    if act == "one batch, stored":
        metric.add_batch(**inputs)
        inputs = {}
    elif act == "one query after the other":
        for prediction, reference in share:
            metric.add(prediction=prediction, reference=reference)
        inputs = {}
    elif act == "half stored, half given":
        metric.add_batch(**{name: values[:1] for name, values in inputs.items()})
        inputs = {name: values[1:] for name, values in inputs.items()}
    results.append(metric.compute(**inputs, k=[1, 3, None], use_aggregator=False))
print(json.dumps(results))
"""


def test_four_processes_on_one_cache_give_the_result_of_one(
    ndcg: evaluate.Metric, processes: Processes
) -> None:
    scores, relevances = random_rankings(seed=3, queries=37)
    queries = list(zip(scores, relevances, strict=True))
    shares = [queries[:20], queries[20:21], queries[21:30], queries[30:]]
    scenarios = [
        ("one batch, stored", shares),
        ("one batch, stored", [queries[:20], queries[20:36], [], queries[36:]]),
        ("one query after the other", shares),
        ("one batch, given", shares),
        ("half stored, half given", shares),
    ]
    for process in range(4):
        its_own = [(act, each[process]) for act, each in scenarios]
        processes.start(PROCESS, process_id=process, num_process=4, scenarios=its_own)
    results = [json.loads(process.output()) for process in processes.running]
    expected = ndcg.compute(
        predictions=scores, references=relevances, k=[1, 3, None], use_aggregator=False
    )
    assert results == [[expected] * 5, *[[None] * 5] * 3]
    assert not [path for path in processes.cache.rglob("*") if path.is_file()]


HOMELESS = """
import sys
import ndcg

print(ndcg.compute(predictions=[[2, 1]], references=[[1, 0]]))
try:
    import evaluate

    metric = evaluate.load("ndcg.py")
    metric.add_batch(predictions=[[2, 1]], references=[[1, 0]])
    print(metric.compute())
except OSError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("has_hf_home", [False, True], ids=["without HF_HOME", "with HF_HOME"])
def test_evaluate_needs_a_home_that_can_be_written_and_the_package_does_not(
    tmp_path: Path, has_hf_home: bool
) -> None:
    """A file in place of the home folder, since permissions do not stop the root of a container."""
    home = tmp_path / "home"
    home.touch()
    environment = {}
    for name, value in lean_environment(HOME=str(home)).items():
        if not name.startswith("HF_") and name != "XDG_CACHE_HOME":
            environment[name] = value
    environment["HF_HUB_OFFLINE"] = "1"
    if has_hf_home:
        environment["HF_HOME"] = str(tmp_path / "hf")
    command = [sys.executable, "-c", HOMELESS]
    printed = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert printed[0] == "{'nDCG': 1.0}"
    if has_hf_home:
        assert printed[1:] == ["{'nDCG': 1.0}"]
    else:
        assert str(home / ".cache") in printed[1]
