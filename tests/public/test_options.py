"""Every option at every method: what is refused and how, what is described, what is signed."""

import inspect
import math
import re
from functools import partial
from typing import Any

import evaluate
import numpy as np
import pytest
from refusals import refusal

TWO: dict[str, Any] = {"predictions": [[2, 1], [1, 2]], "references": [[1, 0], [0, 1]]}

# --- Rejected -------------------------------------------------------------------------------------

FOREIGN_TO_SKLEARN: list[dict[str, Any]] = [
    *({"measures": measures} for measures in ("DCG", ["nDCG", "CG"])),
    *(
        {"gain": "exponential"},
        {"convention": "ranx"},
        {"discount": "reciprocal"},
        {"ideal": "judged"},
    ),
    *(
        {"ignore_index": -100},
        {"judged_only": True},
        {"missing": "skip"},
        {"log_base": 10},
        {"score_dtype": "given"},
    ),
    *(
        {"ties": "first"},
        {"zero_division": 1.0},
        {"negative_relevance": "keep"},
        {"use_aggregator": False},
    ),
]
# a value that an option does not take, and the option and the place that the error names
BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    *(
        ({"k": k}, "k")
        for k in (0, -1, 3.0, True, np.True_, "3", math.nan, {3}, np.timedelta64(3, "s"))
    ),
    *(({"k": k}, "k") for k in ([1, 0], [1, True], [[1]], np.array([1.0]), np.array(5))),
    ({"k": []}, "k"),
    ({"sample_weight": [1, -1]}, "sample_weight: query 1"),
    ({"sample_weight": [math.nan, 1]}, "sample_weight: query 0"),
    ({"sample_weight": [1, math.inf]}, "sample_weight: query 1"),
    ({"sample_weight": [0, 0]}, "sample_weight"),
    *(({"sample_weight": weight}, "sample_weight") for weight in ([1, 1, 1], [1], [], 1, "ab")),
    (
        {"sample_weight": {0: 1, 1: 1}},
        "sample_weight",
    ),
    ({"sample_weight": np.ones((2, 1))}, "sample_weight"),
    ({"sample_weight": ["1", 1]}, "sample_weight: query 0"),
    ({"sample_weight": [None, 1]}, "sample_weight: query 0"),
    ({"sample_weight": [10**400, 1]}, "sample_weight: query 0"),
    ({"sample_weight": [1j, 1]}, "sample_weight: query 0"),
    *(
        ({"log_base": base}, "log_base")
        for base in (
            0,
            -2,
            1.0,
            True,
            math.nan,
            math.inf,
            "2",
            [2],
            2j,
            10**400,
            np.timedelta64(2, "s"),
        )
    ),
    ({"ignore_ties": True, "ties": "first"}, "ignore_ties"),
    *(({"ignore_ties": each}, "ignore_ties") for each in ("yes", 1, None)),
    ({"ties": "avergae"}, "ties"),
    ({"ties": 1}, "ties"),
    ({"measures": "NDCG"}, "measures"),
    ({"measures": ["nDCG", "recall"]}, "measures"),
    ({"measures": []}, "measures"),
    (
        {"measures": "nDCG@0"},
        "measures",
    ),
    *(({"measures": "nDCG@" + k}, "measures") for k in ("", "²", "9" * 19, "9" * 5000)),
    ({"measures": "ndcg@10"}, "measures"),
    (
        {"measures": ["nDCG@5", "DCG@3"], "k": 10},
        "k",
    ),
    ({"measures": [["nDCG"]]}, "measures"),
    (
        {"discount": "reciprocl"},
        "discount",
    ),
    ({"discount": []}, "discount"),
    (
        {"discount": [1, 0.5, 0.7]},
        "discount",
    ),
    ({"discount": [1, math.nan]}, "discount"),
    ({"discount": [0, 0]}, "discount"),
    (
        {"discount": "jarvelin", "log_base": 0.5},
        "log_base",
    ),
    ({"gain": "exp"}, "gain"),
    *(
        ({"gain": gain}, "gain")
        for gain in ([], [0, math.nan], [0, "1"], [[0, 1]], [[0], [1, 2]], 2, np.array(2))
    ),
    ({"zero_division": "warn"}, "zero_division"),
    *(({"zero_division": value}, "zero_division") for value in (math.inf, True)),
    (
        {"ideal": "retreived"},
        "ideal",
    ),
    (
        {"ideal": "full", "k": [3, None]},
        "k",
    ),
    (
        {"convention": "rectools"},
        "k",
    ),
    ({"negative_relevance": "ignore"}, "negative_relevance"),
    *(({"use_aggregator": each}, "use_aggregator") for each in ("no", None)),
    ({"engine": "torch"}, "engine"),
    ({"engine": None}, "engine"),
    *(({**each, "engine": "sklearn"}, "engine") for each in FOREIGN_TO_SKLEARN),
]


@pytest.mark.parametrize(
    ("options", "named"), BAD_OPTIONS, ids=[f"{options}"[:60] for options, _ in BAD_OPTIONS]
)
def test_a_rejected_option_is_named(
    ndcg: evaluate.Metric, options: dict[str, Any], named: str
) -> None:
    with refusal(*named.split(": ")):
        ndcg.compute(**TWO, **options)


HUGE = 10**5000  # an integer that Python does not print
SHARED = {
    "ignore_ties",
    "measures",
    "convention",
    "gain",
    "discount",
    "log_base",
    "ties",
    "zero_division",
}
SHARED |= {
    "ideal",
    "score_dtype",
    "score_order",
    "negative_relevance",
    "judged_only",
    "ignore_index",
}
SHARED |= {"duplicates", "exclude_from"}
OPTIONS = sorted({"k", "missing", "use_aggregator", "engine", *SHARED})


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("value", [HUGE, [HUGE], "x" * 10**6, ["x"] * 10**6, 10**400], ids=range(5))
def test_a_value_of_any_size_is_rejected_in_few_words(
    ndcg: evaluate.Metric, name: str, value: Any
) -> None:
    with pytest.raises(ValueError, match=rf"^{name} .*; got ") as caught:
        ndcg.signature(**{name: value})
    assert len(str(caught.value)) < 500


ROWS = {
    "references",
    "k",
    "sample_weight",
    "query_ids",
    "document_ids",
    "data",
    "exclude",
    "fields",
    "missing",
}
OF_METHODS: dict[str, set[str]] = {
    "report": {"predictions", "by", "confidence", *ROWS},
    "compare": {"systems", "baseline", "by", "confidence", "seed", *ROWS}
    | {"alternative", "margin", "corrected_over"},
    "compute_spark": {
        "df",
        "prediction",
        "reference",
        "query",
        "document",
        "sample_weight",
        "exclude",
    }
    | {"k", "use_aggregator", "missing"},
    "trainer_metrics": {"k", "query_ids", "references", "main_input", "ignore_index"},
    "sentence_transformers_evaluator": {
        "queries",
        "corpus",
        "relevant_docs",
        "k",
        "candidates",
        "exclude",
    }
    | {
        "sample_weight",
        "by",
        "confidence",
        "name",
        "batch_size",
        "corpus_chunk_size",
        "score_function",
    }
    | {
        "truncate_dim",
        "max_active_dims",
        "query_prompt",
        "query_prompt_name",
        "corpus_prompt",
        "corpus_prompt_name",
    }
    | {"show_progress_bar", "write_csv", "missing"},
    "meter": {"k", "ignore_index", "missing"},
    "torchmetrics_metric": {"k", "ignore_index", "missing"},
    "scorer": {"k", "ignore_index", "missing"},
    "lightgbm_metric": {"k", "ignore_index", "missing"},
    "xgboost_metric": {"k", "ignore_index", "missing"},
    "signature": {"k", "sample_weight", "exclude", "missing", "use_aggregator", "engine"},
}
REQUIRED = {
    "compare": {"systems": {}, "references": {}},
    "compute_spark": {"df": None, "prediction": "p", "reference": "r"},
    "sentence_transformers_evaluator": {
        "queries": {},
        "corpus": {},
        "relevant_docs": {},
        "k": None,
    },
}


@pytest.mark.parametrize("unknown", ["alpha", "x" * 10**6], ids=["short", "long"])
@pytest.mark.parametrize("method", OF_METHODS)
def test_an_unknown_option_is_answered_with_those_of_the_method(
    ndcg: evaluate.Metric, method: str, unknown: str
) -> None:
    with pytest.raises(
        TypeError, match=f"^{method} has no option {unknown[:100]}; it has "
    ) as caught:
        getattr(ndcg, method)(**{**REQUIRED.get(method, {}), unknown: 1})
    listed = str(caught.value).partition("; it has ")[2].split(", ")
    assert len(listed) == len(set(listed))
    assert set(listed) == OF_METHODS[method] | SHARED


@pytest.mark.parametrize(
    ("method", "option", "where"),
    [
        ("compute", "by", "report and compare have it"),
        ("report", "baseline", "compare has it"),
        ("compare", "got", "explain has it"),
        (
            "compute",
            "label_gain",
            r"LightGBM's label_gain is gain=\[0, 1, 3, 7, ...\], by label; its default is .*",
        ),
        ("lightgbm_metric", "label_gain", r"LightGBM's label_gain is gain=.*"),
        (
            "report",
            "exp_gain",
            r'XGBoost\'s ndcg_exp_gain is gain="exponential" if it is true, else gain="linear"',
        ),
        ("xgboost_metric", "ndcg_exp_gain", "XGBoost's ndcg_exp_gain is .*"),
        (
            "compare",
            "type",
            r'CatBoost\'s type=Exp is gain="exponential", and its type=Base is gain="linear"',
        ),
        (
            "compute",
            "denominator",
            r'CatBoost\'s denominator=Position is discount="reciprocal", LogPosition .*',
        ),
        ("compute", "top", "CatBoost's top is k"),
    ],
)
def test_an_option_of_another_method_is_answered_with_that_method(
    ndcg: evaluate.Metric, method: str, option: str, where: str
) -> None:
    with pytest.raises(TypeError, match=f"^{method} has no option {option}; {where}$"):
        getattr(ndcg, method)(**{**REQUIRED.get(method, {}), option: 1})


@pytest.mark.parametrize(
    ("wrong", "meant"), [("gian", "gain"), ("Ties", "ties"), ("zero_devision", "zero_division")]
)
def test_an_option_that_is_nearly_one_of_the_method_is_answered_with_that(
    ndcg: evaluate.Metric, wrong: str, meant: str
) -> None:
    with pytest.raises(TypeError, match=rf"^report has no option {wrong}; did you mean {meant}\?$"):
        ndcg.report(**{wrong: 1})


@pytest.mark.parametrize("method", OF_METHODS)
def test_a_rejected_option_is_named_by_every_method_before_it_scores(
    ndcg: evaluate.Metric, method: str
) -> None:
    known, required = (
        OF_METHODS[method] | SHARED,
        {**REQUIRED, "report": {"predictions": [], "references": []}},
    )
    problems = [
        each for each in BAD_OPTIONS if "sample_weight" not in each[0] and each[0].keys() <= known
    ]
    assert len(problems) > 50
    for options, named in problems:
        with refusal(*named.split(": ")):
            getattr(ndcg, method)(**{**required.get(method, {}), **options})


# --- Described ------------------------------------------------------------------------------------


def test_every_option_is_described(ndcg: evaluate.Metric) -> None:
    parameters = inspect.signature(type(ndcg).compute).parameters
    arguments = re.findall(
        r"^    (\w+)\b.*?:", ndcg.inputs_description.partition("Returns:")[0], re.MULTILINE
    )
    assert arguments == [name for name in parameters if name != "self"]
    assert ndcg.inputs_description in ndcg.compute.__doc__


@pytest.mark.parametrize("method", OF_METHODS)
def test_help_describes_every_argument_of_a_method(ndcg: evaluate.Metric, method: str) -> None:
    function = getattr(ndcg, method)
    described = re.findall(r"^    \**(\w+): ", inspect.getdoc(function) or "", re.MULTILINE)
    assert set(inspect.signature(function).parameters) <= set(described)


# --- The signature --------------------------------------------------------------------------------

SIGNATURE = "nDCG@10|gain:linear|log:2|ties:average|empty:0|negative:raise|unjudged:0|v:3.0.0"
DIFFERENT: list[dict[str, Any]] = [
    *({"k": k} for k in (5, [5, 10])),
    {"measures": "DCG"},
    *({"gain": gain} for gain in ("exponential", "binary", [0, 1, 3], [0, 1, 4], np.sqrt, np.cbrt)),
    *(
        {"gain": gain}
        for gain in (lambda r: r**2, lambda r: r**3, partial(np.power, 2), partial(np.power, 3))
    ),
    *({"gain": np.vectorize({0: 0.0, 1: gain}.__getitem__)} for gain in (1.0, 2.0)),
    *({"ignore_index": value} for value in (0, -100)),
    *({"log_base": base} for base in (3, math.e)),
    *(
        {"discount": discount}
        for discount in ("reciprocal", "jarvelin", [1, 0.5], lambda ranks: 1 / ranks**2)
    ),
    {"discount": "jarvelin", "log_base": 3},
    *({"ideal": ideal} for ideal in ("truncated", "retrieved")),
    *({"zero_division": value} for value in ("perfect_if_empty", 1, 0.1, math.nan)),
    *(
        {"score_dtype": "float32"},
        {"ties": "first"},
        {"ignore_ties": True},
        {"negative_relevance": "clip"},
    ),
    *({"judged_only": True}, {"sample_weight": [1, 2]}, {"exclude": {"q": ["d"]}}),
]


def test_a_signature_names_every_choice(ndcg: evaluate.Metric) -> None:
    assert ndcg.signature(k=10) == SIGNATURE
    assert ndcg.signature(k=[1, None], measures=["nDCG", "DCG"]).startswith(
        "nDCG@1+nDCG+DCG@1+DCG|gain:"
    )


def test_other_choices_have_other_signatures(ndcg: evaluate.Metric) -> None:
    signatures = [ndcg.signature(**{"k": 10, **options}) for options in [{}, *DIFFERENT]]
    assert len(set(signatures)) == len(signatures)


@pytest.mark.parametrize(
    "options",
    [
        {"gain": "linear"},
        {"log_base": 2.0},
        {"discount": "log"},
        {"ties": "average", "zero_division": 0.0, "negative_relevance": "raise"},
        {"use_aggregator": False},  # options of transport and speed do not change the results
        {"engine": "sklearn"},
        {"k": np.int64(10)},
        {"convention": "sklearn"},
        {"convention": "lightgbm", "gain": "linear", "ties": "average", "zero_division": False + 0},
    ],
    ids=str,
)
def test_equal_choices_have_one_signature_however_they_are_given(
    ndcg: evaluate.Metric, options: dict[str, Any]
) -> None:
    assert ndcg.signature(**{"k": 10, **options}) == SIGNATURE
    assert ndcg.signature(k=10, ignore_ties=True) == ndcg.signature(k=10, ties="last")


def test_a_gain_function_has_one_signature_however_it_is_written(ndcg: evaluate.Metric) -> None:
    class Squared:
        def __call__(self, relevance: Any) -> Any:
            return np.square(relevance)

    squares = [
        lambda r: r**2,
        np.square,
        Squared(),
        np.vectorize(lambda r: r * r),
        lambda r: [x**2 for x in r],
    ]
    assert len({ndcg.signature(gain=each) for each in squares}) == 1


def test_a_log_base_without_a_logarithm_is_not_in_the_signature(ndcg: evaluate.Metric) -> None:
    assert ndcg.signature(discount="reciprocal", log_base=3) == ndcg.signature(
        discount="reciprocal"
    )
    assert "|discount:reciprocal|ties:" in ndcg.signature(discount="reciprocal")
    assert "|discount:jarvelin|log:2|" in ndcg.signature(discount="jarvelin")


def test_a_gain_without_labels_has_no_signature(ndcg: evaluate.Metric) -> None:
    with refusal("gain"):
        ndcg.signature(gain=np.array([0.0, 1.0]).take)  # which takes no floats
