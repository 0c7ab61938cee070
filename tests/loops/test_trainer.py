"""`trainer_metrics` gives a Trainer the score of `compute`, whole or by batches, or an error."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import MetricFactory, Processes
from evaluate import Metric
from forks import free_port
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refusal

pytestmark = pytest.mark.xdist_group("torch")  # which takes seconds to import
Rows = list[dict[str, np.ndarray]]
Options = dict[str, Any]
Make = Callable[..., Any]


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    return pytest.importorskip("torch")


# --- Data and trainers ----------------------------------------------------------------------------


def make_queries() -> Rows:
    """13 queries of 1 to 30 documents, with ties, and some with nothing relevant."""
    rng = np.random.default_rng(0)
    queries = []
    for _ in range(13):
        documents = int(rng.integers(1, 31))
        features = rng.integers(-3, 4, (documents, 4)).astype(np.float32)
        queries.append(
            {"features": features, "labels": rng.integers(0, 4, documents) * (rng.random() < 0.8)}
        )
    return queries


def make_pairs() -> Rows:
    """Rows in no order: the id of the query first, a text of any length, then the features."""
    rows = [
        {
            "features": np.array([100 + number, *[0] * (number % 3), *features], np.float32),
            "labels": label,
        }
        for number, query in enumerate(QUERIES)
        for features, label in zip(query["features"], query["labels"], strict=True)
    ]
    return [rows[row] for row in np.random.default_rng(0).permutation(len(rows))]


QUERIES = make_queries()
PAIRS = make_pairs()


def query_of(features: np.ndarray) -> np.ndarray:
    assert isinstance(features, np.ndarray)
    return features[:, 0].astype(int)


def columns(rows: Rows) -> dict[str, list[int]]:
    """The query and the label of each row."""
    ids, labels = [int(row["features"][0]) for row in rows], [int(row["labels"]) for row in rows]
    return {"query_ids": ids, "references": labels}


def by_hand(metric: Metric, rows: Rows, bf16: bool = False, **options: Any) -> dict[str, float]:
    """The score of queries or of pairs, by the weights of the model."""
    scores = [row["features"][..., -4:] @ np.float32([1.0, -1.0, 0.5, 2.0]) for row in rows]
    if bf16:
        scores = [
            sys.modules["torch"].as_tensor(each).bfloat16().float().numpy() for each in scores
        ]
    are_pairs = rows[0]["features"].ndim == 1
    sides = columns(rows) if are_pairs else {"references": [row["labels"] for row in rows]}
    return metric.compute(
        predictions=[*map(float, scores)] if are_pairs else scores, **sides, **options
    )


@pytest.fixture
def make_trainer(tmp_path: Path, torch: ModuleType) -> Make:
    """A Trainer on the CPU whose batches hold 4 examples: queries or rows of documents."""
    from trainer_model import Scorer, ScorerConfig, pad, pad_pairs
    from transformers import PrinterCallback, Trainer, TrainingArguments

    def make(
        compute_metrics: Any,
        outputs: str = "plain",
        eval_dataset: Any = None,
        preprocess: Any = None,
        **arguments: Any,
    ) -> Any:
        data = eval_dataset or QUERIES
        fixed = {
            "disable_tqdm": True,
            "dataloader_pin_memory": False,
            "use_cpu": True,
            "report_to": "none",
        }
        trainer = Trainer(
            model=Scorer(ScorerConfig(outputs=outputs)),
            args=TrainingArguments(
                str(tmp_path), **fixed, **{"per_device_eval_batch_size": 4, **arguments}
            ),
            data_collator=pad_pairs if np.ndim(data[0]["features"]) == 1 else pad,
            eval_dataset=data,
            compute_metrics=compute_metrics,
            preprocess_logits_for_metrics=preprocess,
        )
        trainer.remove_callback(PrinterCallback)
        return trainer

    return make


def results_of(logged: dict[str, float], prefix: str = "eval_") -> dict[str, float]:
    """The results of the metric, as it names them."""
    return {name.removeprefix(prefix): value for name, value in logged.items() if "CG" in name}


EVALUATIONS: dict[str, dict[str, Any]] = {
    "whole": {},
    "batches": {"batch_eval_metrics": True},
    "accumulated": {"eval_accumulation_steps": 2},
    "not concatenated": {"eval_do_concat_batches": False},
}
every_evaluation = pytest.mark.parametrize("arguments", EVALUATIONS.values(), ids=EVALUATIONS)
whole_or_batches = pytest.mark.parametrize(
    "arguments", list(EVALUATIONS.values())[:2], ids=["whole", "batches"]
)

# --- In a Trainer ---------------------------------------------------------------------------------


@every_evaluation
@pytest.mark.parametrize("outputs", ["plain", "column", "tuple", "column bf16 tuple"])
def test_an_evaluation_has_the_score_of_its_queries(
    ndcg: Metric, make_trainer: Make, arguments: Options, outputs: str
) -> None:
    trainer = make_trainer(ndcg.trainer_metrics(k=10), outputs, **arguments)
    assert results_of(trainer.evaluate()) == by_hand(ndcg, QUERIES, k=10, bf16="bf16" in outputs)


@whole_or_batches
@pytest.mark.parametrize(
    "options",
    [
        {
            "k": [1, None],
            "measures": ["DCG", "nDCG"],
            "gain": [0, 1, 3, 8],
            "log_base": 3,
            "ties": "worst",
        },
        {"k": 10, "zero_division": float("nan")},
    ],
)
def test_options_mean_what_they_mean_in_compute(
    ndcg: Metric, make_trainer: Make, arguments: Options, options: Options
) -> None:
    # batches of one query: with zero_division=nan some of them have no value at all
    trainer = make_trainer(
        ndcg.trainer_metrics(**options), per_device_eval_batch_size=1, **arguments
    )
    assert results_of(trainer.evaluate()) == by_hand(ndcg, QUERIES, **options)


@every_evaluation
@pytest.mark.parametrize("outputs", ["plain", "column bf16 tuple"])
@pytest.mark.parametrize("source", ["model's inputs", "columns of the set"])
def test_rows_of_documents_are_grouped_by_query(
    ndcg: Metric, make_trainer: Make, source: str, outputs: str, arguments: Options
) -> None:
    by_inputs = {"query_ids": query_of, "main_input": "features"}
    metrics = ndcg.trainer_metrics(
        k=10, **(by_inputs if source == "model's inputs" else columns(PAIRS))
    )
    trainer = make_trainer(
        metrics, outputs, eval_dataset=PAIRS, include_for_metrics=["inputs"], **arguments
    )
    expected = by_hand(ndcg, PAIRS, "bf16" in outputs, k=10)
    assert results_of(trainer.evaluate()) == results_of(trainer.evaluate()) == expected
    queries = by_hand(ndcg, QUERIES, "bf16" in outputs, k=10)
    assert expected["nDCG@10"] == pytest.approx(
        queries["nDCG@10"], rel=1e-12
    )  # the queries are in another order


@whole_or_batches
def test_two_logits_are_scored_by_their_difference(
    ndcg: Metric, make_trainer: Make, arguments: Options
) -> None:
    metrics = ndcg.trainer_metrics(k=10, **columns(PAIRS))
    difference = {"preprocess": lambda logits, labels: logits[:, 1] - logits[:, 0]}
    trainer = make_trainer(metrics, "two logits", PAIRS, **difference, **arguments)
    assert results_of(trainer.evaluate()) == by_hand(ndcg, PAIRS, k=10)


def test_the_predictions_of_one_logit_can_be_scored_in_every_function(
    ndcg: Metric, fresh_metric: MetricFactory, torch: ModuleType
) -> None:
    predictions, rows = SCORES[:, None], {"references": LABELS, "query_ids": INPUTS[:, 0]}
    for column in (predictions, torch.from_numpy(predictions), np.ma.MaskedArray(predictions)):
        assert ndcg.compute(predictions=column, **rows, k=1) == HALF
    assert (
        ndcg.compare(systems=dict.fromkeys("ab", predictions), **rows, k=1)
        .scores["a"]["nDCG@1"]
        .value
        == 0.5
    )
    metric = fresh_metric(keep_in_memory=True)
    metric.add_batch(predictions=predictions, **rows)
    assert metric.compute(k=1) == HALF


def test_the_error_for_two_logits_says_how_to_make_one_score(
    ndcg: Metric, make_trainer: Make
) -> None:
    hint = "give the difference of two logits, logits[..., 1] - logits[..., 0], in a Trainer by "
    got = re.escape(
        f"got shape ({len(PAIRS)}, 2); {hint}preprocess_logits_for_metrics (docs/training.md)"
    )
    trainer = make_trainer(
        ndcg.trainer_metrics(k=10, **columns(PAIRS)), "two logits", eval_dataset=PAIRS
    )
    with pytest.raises(
        ValueError, match=f"^with query_ids, predictions must be one per document; {got}$"
    ):
        trainer.evaluate()
    with pytest.raises(
        ValueError,
        match=f"^predictions must be flat, one number per document; {got}$",
    ):
        ndcg.compute(predictions=np.zeros((len(PAIRS), 2)), **columns(PAIRS))


TRAINER = """
import json, os, sys
import evaluate, torch
sys.path.insert(0, folder)
os.environ |= {"RANK": f"{rank}", "LOCAL_RANK": f"{rank}", "WORLD_SIZE": "2"}
os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{port}", "OMP_NUM_THREADS": "1"}
from trainer_model import Scorer, ScorerConfig, pad_pairs
from transformers import Trainer, TrainingArguments

ndcg, logged = evaluate.load(path, cache_dir=cache), []
for evaluation in evaluations:
    quiet = {"report_to": "none", "disable_tqdm": True, "use_cpu": True}
    arguments = TrainingArguments(cache, per_device_eval_batch_size=4, **quiet, **evaluation)
    metrics = ndcg.trainer_metrics(k=10, **columns)
    inputs = {"eval_dataset": rows, "data_collator": pad_pairs, "compute_metrics": metrics}
    logged.append(Trainer(Scorer(ScorerConfig()), arguments, **inputs).evaluate())
print(json.dumps([arguments.world_size, *logged]))
# threads that still run when Python ends may abort the process
torch.distributed.destroy_process_group()
"""


@pytest.mark.training
def test_two_processes_fill_up_the_last_batch_and_score_each_row_once(
    ndcg: Metric, training_processes: Processes, torch: ModuleType
) -> None:
    """21 rows in batches of 4 end in batches of 4 and 1, and the last one is filled up to 4."""
    rows = PAIRS[:21]
    names = {
        "folder": str(Path(__file__).parent),
        "port": free_port(),
        "rows": rows,
        "columns": columns(rows),
        "evaluations": [EVALUATIONS["whole"], EVALUATIONS["batches"]],
    }
    started = [training_processes.start(TRAINER, rank=rank, **names) for rank in range(2)]
    expected = by_hand(ndcg, rows, k=10)
    for process in started:
        # the Trainer prints its evaluations before
        size, *logged = json.loads(process.output().splitlines()[-1])
        assert size == 2
        assert [results_of(each) for each in logged] == [expected, expected]


OTHER_LENGTHS = "query_ids and the evaluation differ in length"


@whole_or_batches
@pytest.mark.parametrize(
    ("evaluated", "trainer", "named"),
    [
        (
            PAIRS[:-1],
            {},
            f"{OTHER_LENGTHS}, {len(PAIRS)} and {len(PAIRS) - 1};",
        ),
        (
            [*PAIRS, PAIRS[0]],
            {},
            f"{OTHER_LENGTHS}, {len(PAIRS)} and {len(PAIRS) + 1};",
        ),
        (
            PAIRS,
            {"dataloader_drop_last": True},
            f"{OTHER_LENGTHS}, {len(PAIRS)} and {len(PAIRS) // 4 * 4};",
        ),
        (PAIRS[::-1], {}, "query_ids: row 0 has the label"),
    ],
    ids=["a row less", "a row more", "the last batch left out", "another order"],
)
def test_another_set_or_order_of_rows_is_rejected(
    ndcg: Metric,
    make_trainer: Make,
    arguments: Options,
    evaluated: Rows,
    trainer: Options,
    named: str,
) -> None:
    metrics = ndcg.trainer_metrics(k=10, **columns(PAIRS))
    with refusal(named):
        make_trainer(metrics, eval_dataset=evaluated, **trainer, **arguments).evaluate()
    assert results_of(make_trainer(metrics, eval_dataset=PAIRS, **arguments).evaluate()) == by_hand(
        ndcg, PAIRS, k=10
    )


# --- Called with what a Trainer passes ------------------------------------------------------------


def evaluation(predictions: Any, labels: Any, inputs: Any = None) -> SimpleNamespace:
    """What a Trainer passes, as `transformers.EvalPrediction`."""
    return SimpleNamespace(predictions=predictions, label_ids=labels, inputs=inputs)


def of_lists(predictions: Any, labels: Any, inputs: Any = None) -> SimpleNamespace:
    return evaluation(np.array(predictions), np.array(labels), inputs)


SCORES, LABELS = np.array([0.3, 0.4, 0.5, 0.1]), np.array([1, 0, 2, 1])
INPUTS = np.array([[0, 1], [0, 2], [1, 3], [1, 4]])
GOOD_ROWS = evaluation(SCORES, LABELS, INPUTS)
GOOD_LISTS = of_lists([[0.2, 0.1], [0.3, 0.4]], [[1, 0], [1, 0]])
HALF = {"nDCG@1": 0.5}  # of either


@settings(max_examples=30)
@given(st.data())
def test_batches_of_any_width_score_as_the_whole_to_the_last_bit(
    ndcg: Metric, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    batches = []
    for shape in data.draw(
        st.lists(st.tuples(st.integers(1, 5), st.integers(2, 60)), min_size=1, max_size=6)
    ):
        labels = np.where(rng.random(shape) < 0.3, -100, rng.integers(0, 3, shape))
        batches.append((rng.normal(size=shape).round(1).astype(np.float32), labels))
    widest = max(labels.shape[1] for _, labels in batches)

    def together(arrays: list[np.ndarray]) -> np.ndarray:
        fill = [
            np.pad(each, ((0, 0), (0, widest - each.shape[1])), constant_values=-100)
            for each in arrays
        ]
        return np.concatenate(fill)

    metrics = ndcg.trainer_metrics(k=data.draw(st.sampled_from([None, 1, [3, None]])))
    for batch in batches[:-1]:
        assert metrics(evaluation(*batch), compute_result=False) == {}
    result = metrics(evaluation(*batches[-1]), compute_result=True)
    assert result == metrics(evaluation(*map(together, zip(*batches, strict=True))))


def test_padding_may_have_another_label(ndcg: Metric) -> None:
    scores, labels = np.array([[0.9, 0.1, 5.0], [0.3, 0.2, 0.1]]), np.array([[0, 1, -1], [1, 0, 2]])
    expected = ndcg.compute(
        predictions=[[0.9, 0.1], [0.3, 0.2, 0.1]], references=[[0, 1], [1, 0, 2]]
    )
    assert ndcg.trainer_metrics(ignore_index=-1)(evaluation(scores, labels)) == expected
    with refusal("references", "query 0, position 2"):
        ndcg.trainer_metrics()(evaluation(scores, labels))
    with refusal("references", "query 0, position 1"):
        ndcg.trainer_metrics(ignore_index=None)(of_lists([[1.0, 1.0]], [[1, -100]]))
    rows = evaluation(SCORES, np.array([1, -100, 2, 1]), INPUTS)
    assert ndcg.trainer_metrics(k=1, query_ids=query_of)(rows) == {"nDCG@1": 1.0}


@pytest.mark.parametrize(
    "ids",
    [
        [["a", "a"], ["b", "b"]],
        [
            np.array([2**53, 2**53]),
            np.array([2**53 + 1] * 2, np.uint64),
        ],  # as float64 all would be 2**53
    ],
)
def test_the_ids_of_queries_may_be_any_that_compute_takes(ndcg: Metric, ids: list[Any]) -> None:
    batches = iter(ids)
    metrics = ndcg.trainer_metrics(k=1, query_ids=lambda inputs: next(batches))
    assert metrics(evaluation(SCORES[:2], LABELS[:2], INPUTS), compute_result=False) == {}
    assert metrics(evaluation(SCORES[2:], LABELS[2:], INPUTS), compute_result=True) == HALF


@pytest.mark.parametrize(
    "ids", [[["1"] * 4, [1] * 4], [[1] * 4, ["1"] * 4], [["1", "1", 1, 1]], [3], [None]], ids=str
)
def test_ids_that_mix_types_or_are_not_one_per_row_are_rejected(
    ndcg: Metric, ids: list[Any]
) -> None:
    batches = iter(ids)
    metrics = ndcg.trainer_metrics(k=1, query_ids=lambda inputs: next(batches))
    for _ in ids[1:]:
        metrics(GOOD_ROWS, compute_result=False)
    with pytest.raises(ValueError, match="query_ids"):
        metrics(GOOD_ROWS, compute_result=True)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float64"])
def test_the_function_of_queries_gets_the_main_input_as_an_array(
    ndcg: Metric, torch: ModuleType, dtype: str
) -> None:
    scores, labels, ids = (torch.from_numpy(each) for each in (SCORES, LABELS, INPUTS))
    scores = scores.to(getattr(torch, dtype))  # half-precision scores are compared as they are
    metrics = ndcg.trainer_metrics(k=1, query_ids=query_of)
    named = ndcg.trainer_metrics(k=1, query_ids=query_of, main_input="pixel_values")
    batch = {"attention_mask": torch.ones(4), "input_ids": ids}
    assert metrics(evaluation(scores, labels, batch), compute_result=True) == HALF
    assert named(evaluation(scores, labels, {"pixel_values": ids}), compute_result=True) == HALF
    assert named(GOOD_ROWS) == HALF


def test_a_label_missing_from_the_column_comes_from_the_collator(ndcg: Metric) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=[5, 5, 3, 3], references=[1, None, 2, 1])
    assert metrics(evaluation(SCORES, np.array([1, -100, 2, 1]))) == {"nDCG@1": 1.0}
    assert metrics(evaluation(SCORES, LABELS)) == HALF


CLOSE = [(201, 200), (2**53, 2**53 + 1), (1.0, 1.01), (201.0, 200.0), (256.0, 255.0), (0.0, 1e-3)]


@pytest.mark.parametrize(("label", "reference"), [*CLOSE, *(pair[::-1] for pair in CLOSE)])
def test_labels_of_other_rows_are_rejected_however_close_they_are(
    ndcg: Metric, label: float, reference: float
) -> None:
    metrics = ndcg.trainer_metrics(
        query_ids=["a", "a"], references=np.array([reference, reference])
    )
    with refusal("query_ids", f"row 1 has the label {label}, but in references {reference};"):
        metrics(of_lists([0.5, 0.25], [reference, label]))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@settings(max_examples=30)
@given(labels=st.lists(st.floats(0, 60_000), min_size=1, max_size=9))
def test_labels_may_be_rounded_to_the_type_of_a_model(
    ndcg: Metric, torch: ModuleType, dtype: str, labels: list[float]
) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=["a"] * len(labels), references=labels)
    rounded = torch.tensor(labels, dtype=torch.float64 if dtype == "float64" else torch.float32)
    assert metrics(
        evaluation(0.5 - np.arange(len(labels)), rounded.to(getattr(torch, dtype)))
    ).keys() == {"nDCG@1"}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float32"])
@pytest.mark.parametrize("ignore_index", [-99.9, 300.3, -100])
def test_padding_is_compared_in_the_type_of_the_labels(
    ndcg: Metric, torch: ModuleType, dtype: str, ignore_index: float
) -> None:
    rows = [[1.0, 0.0, ignore_index], [0.0, 1.0, ignore_index]]
    labels, scores = (
        torch.tensor(rows, dtype=getattr(torch, dtype)),
        np.array([[2.0, 1.0, 3.0], [2.0, 1.0, 3.0]]),
    )
    metrics = ndcg.trainer_metrics(k=1, ignore_index=ignore_index)
    for compute_result in (None, True):
        assert metrics(evaluation(scores, labels), compute_result=compute_result) == HALF
    metrics = ndcg.trainer_metrics(k=1, query_ids=lambda inputs: inputs, ignore_index=ignore_index)
    batches = [
        (scores[0], labels[0], np.zeros(3, int)),
        (scores[1], np.array(rows[1]), np.ones(3, int)),
    ]
    for first, last in (batches, batches[::-1]):
        assert metrics(evaluation(*first), compute_result=False) == {}
        assert metrics(evaluation(*last), compute_result=True) == HALF


@pytest.mark.parametrize(
    ("good", "options"), [(GOOD_LISTS, {}), (GOOD_ROWS, {"query_ids": query_of})]
)
def test_a_batch_may_be_empty(ndcg: Metric, good: SimpleNamespace, options: Options) -> None:
    metrics = ndcg.trainer_metrics(k=1, **options)
    empty = SimpleNamespace(
        **{name: None if each is None else each[:0] for name, each in vars(good).items()}
    )
    for *batches, last in ([good, empty], [empty, good], [empty, good, empty]):
        for batch in batches:
            assert metrics(batch, compute_result=False) == {}
        assert metrics(last, compute_result=True) == HALF
    for compute_result in (None, True):
        with refusal("predictions and references"):
            metrics(empty, compute_result=compute_result)


@settings(max_examples=20)
@given(data=st.data())
def test_a_pair_of_predictions_and_labels_scores_as_their_evaluation(
    ndcg: Metric, data: st.DataObject
) -> None:
    transformers = pytest.importorskip("transformers")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    by_rows = data.draw(st.booleans())
    shape = 12 if by_rows else (3, 4)
    scores, labels = rng.integers(0, 5, shape) / 4, rng.choice([-100, 0, 1, 2], shape)
    outputs = (scores, rng.random(shape)) if data.draw(st.booleans()) else scores
    columns = {"query_ids": np.arange(12) // 4, "references": labels} if by_rows else {}
    metrics = ndcg.trainer_metrics(k=2, **columns)
    expected = metrics(transformers.EvalPrediction(outputs, labels))
    predicted = transformers.trainer_utils.PredictionOutput(outputs, labels, {})
    for pair in ((outputs, labels), [outputs, labels], predicted):
        assert metrics(pair) == expected
        assert metrics(pair, compute_result=True) == expected


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"query_ids": [1, 1, 2]}, "query_ids"),
        ({"query_ids": [1, 1, 2], "references": [1, 0]}, "query_ids"),
        ({"query_ids": [1, None, 2], "references": [1, 0, 1]}, "query_ids: row 1"),
        (
            {"query_ids": [1.5, 1.0, 2.0], "references": [1, 0, 1]},
            "query_ids",
        ),
        ({"query_ids": [[1], [2]], "references": [1, 0]}, "query_ids"),
        (
            {"query_ids": [1, 1, 2], "references": ["a", "b", "c"]},
            "references",
        ),
        ({"query_ids": [1, 1, 2], "references": [[1], [0], [1]]}, "references"),
        (
            {"query_ids": "query", "references": "label"},
            "query_ids",
        ),
        ({"query_ids": {"query": [1]}, "references": [1]}, "query_ids"),
        ({"references": [1, 0, 1]}, "references"),
        (
            {"query_ids": query_of, "references": [1, 0, 1]},
            "references",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arguments_that_do_not_fit_are_rejected_before_any_training(
    ndcg: Metric, arguments: Options, named: str
) -> None:
    with refusal(*named.split(": ")):
        ndcg.trainer_metrics(**arguments)


SAME = "must come in the same batches, at least one; got"
BAD_LISTS = [
    (of_lists([[1.0, 2.0]], [[1, 0, 0]]), r"\(1, 2\).*\(1, 3\)"),
    (of_lists([1.0, 2.0], [1, 0]), r"query_ids="),
    (of_lists([[[1.0, 2.0]]], [[1]]), r"\(1, 1, 2\)"),
    (of_lists([[1.0, 2.0]], [[1, -3]]), "references: query 0, position 1.*-3"),
    (of_lists([[1.0, np.nan]], [[1, 0]]), "predictions: query 0, position 1.*nan"),
    (evaluation((), LABELS), "^predictions are an empty tuple"),
    (evaluation(SCORES, ()), "^labels are an empty tuple"),
    (evaluation([SCORES] * 3, [LABELS] * 2), f"{SAME} 3, 2 and 3$"),
    (
        evaluation([SCORES] * 2, [LABELS] * 2, [INPUTS]),
        f"{SAME} 2, 2 and 1$",
    ),
    (evaluation([SCORES] * 2, LABELS), f"{SAME} 2, 4 and 2$"),
    (evaluation([], []), f"{SAME} 0, 0 and 0$"),
    (
        GOOD_LISTS.predictions,
        "needs an EvalPrediction, or its predictions and labels as a pair; got array",
    ),
    ((*vars(GOOD_LISTS).values(),), "as a pair; got .{10,99}$"),
]
BAD_ROWS = [
    (of_lists([0.1, 0.2], [1], INPUTS[:2]), "predictions 2.*references 1"),
    # of one length together, but every pair after the second is wrong
    (
        evaluation([SCORES[:3], SCORES[:2]], [LABELS[:2], LABELS[:3]], [INPUTS[:3]] * 2),
        "predictions 3, references 2",
    ),
    (of_lists([0.1, 0.2], [1, 0], INPUTS[:3]), "query_ids 3"),
    (of_lists([[0.1, 0.2]], [1], INPUTS[:1]), "predictions"),
    (of_lists([0.1, 0.2], [[1, 0], [0, 1]], INPUTS[:2]), "references"),
    (of_lists([0.1, np.nan], [1, 0], INPUTS[:2]), "predictions.*nan"),
    (of_lists([0.1, 0.2], [1, 0]), r'set TrainingArguments\(include_for_metrics=\["inputs"\]'),
    ((SCORES, LABELS), "and give the whole EvalPrediction$"),
    (of_lists([0.1, 0.2], [1, 0], {"features": INPUTS[:2]}), "main_input='input_ids'.*features"),
    (
        evaluation(np.ma.array(SCORES, mask=[0, 1, 0, 0]), LABELS, INPUTS),
        "predictions must not be masked",
    ),
]
ERRORS = [
    *((bad, error, GOOD_LISTS, {}) for bad, error in BAD_LISTS),
    *((bad, error, GOOD_ROWS, {"query_ids": query_of}) for bad, error in BAD_ROWS),
]


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize(
    ("bad", "error", "good", "options"), ERRORS, ids=[error for _, error, *_ in ERRORS]
)
def test_an_error_names_the_place_and_leaves_no_batch_behind(
    ndcg: Metric, bad: Any, error: str, good: Any, options: Options, before: int
) -> None:
    metrics = ndcg.trainer_metrics(k=1, **options)
    for _ in range(before):
        metrics(good, compute_result=False)
    with pytest.raises(ValueError, match=error.replace("query 0", f"query {2 * before}")):
        metrics(bad, compute_result=True)
    assert held(metrics) == 0
    assert metrics(good) == HALF


def test_an_error_names_the_row_of_the_evaluation_whatever_the_batches(ndcg: Metric) -> None:
    scores, labels = np.tile([0.5, 0.25], (9, 1)), np.tile([1, 0], (9, 1))
    labels[7, 1] = -2
    metrics = ndcg.trainer_metrics(k=2)
    cuts = [slice(0, 3), slice(3, 3), slice(3, 6), slice(6, 9)]
    for _ in range(2):  # the second evaluation begins again at row 0
        with refusal("references", "query 7, position 1"):
            metrics(evaluation([scores[each] for each in cuts], [labels[each] for each in cuts]))
        for each in cuts[:-1]:
            metrics(evaluation(scores[each], labels[each]), compute_result=False)
        with refusal("references", "query 7, position 1"):
            metrics(evaluation(scores[cuts[-1]], labels[cuts[-1]]), compute_result=False)


# --- What is kept ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt(), KeyError("no id")])
def test_an_error_in_a_function_of_the_user_leaves_no_batch_behind(
    ndcg: Metric, error: BaseException
) -> None:
    def failing(inputs: np.ndarray) -> np.ndarray:
        raise error

    metrics = ndcg.trainer_metrics(k=1, query_ids=query_of)
    metrics(GOOD_ROWS, compute_result=False)
    metrics.query_ids = failing
    with pytest.raises(type(error)):
        metrics(GOOD_ROWS, compute_result=False)
    assert held(metrics) == 0


def test_reset_forgets_the_batches_of_an_evaluation_that_broke_off(ndcg: Metric) -> None:
    metrics = ndcg.trainer_metrics(k=1, query_ids=[5, 5, 3, 3], references=LABELS)
    first, last = evaluation(SCORES[:2], LABELS[:2]), evaluation(SCORES[2:], LABELS[2:])
    metrics(first, compute_result=False)
    metrics.reset()
    metrics(first, compute_result=False)
    assert metrics(last, compute_result=True) == HALF
    assert metrics(evaluation(SCORES, LABELS)) == HALF


def held(metrics: Any) -> int:
    """The bytes of the arrays of all batches, with the memory they are views of."""
    memory = {}
    for batch in metrics._batches:
        for array in batch.values() if isinstance(batch, dict) else batch:
            owner = array
            while getattr(owner, "base", None) is not None:
                owner = owner.base
            memory[id(owner)] = owner.nbytes
    return sum(memory.values())


@pytest.mark.parametrize(
    ("options", "shape", "of_labels", "numbers"),
    [
        ({}, (16, 1000), (16, 1000), 2),  # a value for each of two cutoffs
        ({"query_ids": lambda inputs: inputs[:, 0]}, (16,), (16,), 3),  # a score, a label and an id
        ({"query_ids": lambda inputs: inputs[:, 0]}, (16, 1), (16,), 3),
    ],
)
def test_each_row_leaves_a_few_numbers_between_batches(
    ndcg: Metric, torch: ModuleType, options: Options, shape: Any, of_labels: Any, numbers: int
) -> None:
    metrics = ndcg.trainer_metrics(k=[1, 10], **options)
    for batch in range(1, 4):
        inputs = {
            "input_ids": torch.randint(0, 3, (16, 512)),
            "attention_mask": torch.ones(16, 512),
        }
        last = evaluation(
            (torch.rand(shape), torch.rand(16, 512)), torch.randint(0, 3, of_labels), inputs
        )
        metrics(last, compute_result=False)
        assert 0 < held(metrics) <= batch * 16 * numbers * 8
    metrics(last, compute_result=True)
    assert held(metrics) == 0


def test_functions_of_one_metric_share_neither_batches_nor_those_of_the_metric(
    fresh_metric: MetricFactory,
) -> None:
    metric = fresh_metric()
    metric.add_batch(predictions=[[1, 2]], references=[[1, 0]])
    first, second = metric.trainer_metrics(k=1), metric.trainer_metrics(k=1)
    first(GOOD_LISTS, compute_result=False)
    assert second(GOOD_LISTS, compute_result=True) == HALF
    assert metric.compute(k=1) == {"nDCG@1": 0.0}


def test_predictions_and_labels_are_left_as_they_are(ndcg: Metric, torch: ModuleType) -> None:
    scores, labels = (
        torch.tensor([[0.1, 0.2, 9.0]], requires_grad=True),
        torch.tensor([[1, 0, -100]]),
    )
    before = scores.detach().clone(), labels.clone()
    assert ndcg.trainer_metrics(k=1)(evaluation(scores, labels), compute_result=True) == {
        "nDCG@1": 0.0
    }
    assert torch.equal(scores, before[0])
    assert torch.equal(labels, before[1])
