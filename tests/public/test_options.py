"""Every option at every method: what is refused and how, what is described, what is signed."""

import inspect
import math
import re
from functools import partial
from typing import Any

import evaluate
import numpy as np
import pytest
from conftest import METRIC
from refusals import METHODS, refusal

TWO: dict[str, Any] = {"predictions": [[2, 1], [1, 2]], "references": [[1, 0], [0, 1]]}

# --- Rejected -------------------------------------------------------------------------------------

# options that the engine of scikit-learn does not have
FOREIGN_TO_SKLEARN: list[dict[str, Any]] = [
    {"measures": "DCG"},
    {"measures": ["nDCG", "CG"]},
    {"gain": "exponential"},
    {"convention": "ranx"},
    {"discount": "reciprocal"},
    {"ideal": "judged"},
    {"ignore_index": -100},
    {"judged_only": True},
    {"missing": "skip"},
    {"log_base": 10},
    {"score_dtype": "given"},
    {"ties": "first"},
    {"zero_division": 1.0},
    {"negative_relevance": "keep"},
    {"use_aggregator": False},
]
NO_CUTOFF = [0, -1, 3.0, True, np.True_, "3", math.nan, {3}, np.timedelta64(3, "s"), np.array(5)]
NO_CUTOFFS: list[Any] = [[], [1, 0], [1, True], [[1]], np.array([1.0])]
NO_BASE = [0, -2, 1.0, True, math.nan, math.inf, "2", [2], 2j, 10**400, np.timedelta64(2, "s")]
NINES = ["nDCG@" + "9" * digits for digits in (19, 5000)]
NO_MEASURE = ["NDCG", "ndcg@10", "nDCG@0", "nDCG@", "nDCG@²", *NINES]
# values that an option does not take; those of one query after the place that the error names
BAD_VALUES: dict[str, list[Any]] = {
    "k": [*NO_CUTOFF, *NO_CUTOFFS],
    "sample_weight": [[0, 0], [1, 1, 1], [1], [], 1, "ab", {0: 1, 1: 1}, np.ones((2, 1))],
    "sample_weight: query 0": [[math.nan, 1], ["1", 1], [None, 1], [10**400, 1], [1j, 1]],
    "sample_weight: query 1": [[1, -1], [1, math.inf]],
    "log_base": NO_BASE,
    "ignore_ties": ["yes", 1, None],
    "ties": ["avergae", 1],
    "measures": [*NO_MEASURE, [], ["nDCG", "recall"], [["nDCG"]]],
    "discount": ["reciprocl", [], [1, 0.5, 0.7], [1, math.nan], [0, 0]],
    "gain": ["exp", [], [0, math.nan], [0, "1"], [[0, 1]], [[0], [1, 2]], 2, np.array(2)],
    "zero_division": ["warn", math.inf, True],
    "ideal": ["retreived"],
    "negative_relevance": ["ignore"],
    "use_aggregator": ["no", None],
    "engine": ["torch", None],
}
# options that a method does not take together, and the one that the error names
BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    *(
        ({named.partition(":")[0]: value}, named)
        for named, values in BAD_VALUES.items()
        for value in values
    ),
    ({"ignore_ties": True, "ties": "first"}, "ignore_ties"),
    ({"measures": ["nDCG@5", "DCG@3"], "k": 10}, "k"),
    ({"discount": "jarvelin", "log_base": 0.5}, "log_base"),
    ({"ideal": "full", "k": [3, None]}, "k"),
    ({"convention": "rectools"}, "k"),
    *(({**options, "engine": "sklearn"}, "engine") for options in FOREIGN_TO_SKLEARN),
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
NAMES = [*inspect.signature(METRIC.compute).parameters]
OPTIONS = ["k", *NAMES[NAMES.index("ignore_ties") :]]


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("value", [HUGE, [HUGE], "x" * 10**6, ["x"] * 10**6, 10**400], ids=range(5))
def test_a_value_of_any_size_is_rejected_in_few_words(
    ndcg: evaluate.Metric, name: str, value: Any
) -> None:
    with refusal(name):
        ndcg.signature(**{name: value})


def test_an_option_that_the_metric_lacks_is_named(ndcg: evaluate.Metric) -> None:
    with refusal("compute has no option by"):
        ndcg.compute(**TWO, by=[1, 2])


# `compute` has tests of its own.
OTHER_METHODS = sorted(METHODS.keys() - {"compute"})


# `explain` has no measures and no engine.
@pytest.mark.parametrize("method", [name for name in OTHER_METHODS if name != "explain"])
def test_a_rejected_option_is_named_by_every_method_before_it_scores(
    ndcg: evaluate.Metric, method: str
) -> None:
    parameters = inspect.signature(getattr(ndcg, method)).parameters
    known = {*parameters, *OPTIONS} - {"sample_weight", "missing"}
    known -= {"engine", "use_aggregator"} - parameters.keys()
    refused = [(options, named) for options, named in BAD_OPTIONS if options.keys() <= known]
    assert len(refused) > 50
    for options, named in refused:
        with refusal(*named.split(": ")):
            getattr(ndcg, method)(**METHODS[method] | options)


# --- Described ------------------------------------------------------------------------------------


def test_every_option_is_described(ndcg: evaluate.Metric) -> None:
    parameters = inspect.signature(type(ndcg).compute).parameters
    arguments = re.findall(
        r"^    (\w+)\b.*?:", ndcg.inputs_description.partition("Returns:")[0], re.MULTILINE
    )
    assert arguments == [name for name in parameters if name != "self"]
    assert ndcg.inputs_description in ndcg.compute.__doc__


@pytest.mark.parametrize("method", OTHER_METHODS)
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
