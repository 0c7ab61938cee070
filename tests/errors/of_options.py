"""Options with values that they do not have, and options that a method does not have."""

import math
from typing import Any

import numpy as np
from refusals import METHODS, Made, Row, refused

import ndcg
from ndcg import compare, compute, lightgbm_metric, report, signature, xgboost_metric

TWO: dict[str, Any] = {"predictions": [[2, 1], [1, 2]], "references": [[1, 0], [0, 1]]}
HUGE = 10**5000  # an integer that Python does not print


def by_sklearn(argument: str, *places: str, **inputs: Any) -> Row:
    """The row of a call that the engine of scikit-learn refuses."""
    return refused(compute, argument, *places, **inputs, engine="sklearn")


ROWS: dict[str, Row] = {
    # k and measures
    "k: 0": refused(compute, "k", **TWO, k=0),
    "k: no integer": refused(compute, "k", **TWO, k=3.0),
    "k: True": refused(compute, "k", **TWO, k=True),
    "k: a list with 0": refused(compute, "k", **TWO, k=[1, 0]),
    "k: a matrix": refused(compute, "k", **TWO, k=[[1]]),
    "k: a million values": refused(compute, "k", **TWO, k=[[*range(10**6)]]),
    "k: too large to print": refused(signature, "k", k=HUGE),
    "k: empty": refused(compute, "k", **TWO, k=[]),
    "k: none for an endless ideal": refused(compute, "k", **TWO, k=[3, None], ideal="full"),
    "k: none for a convention with an endless ideal": refused(
        compute, "k", **TWO, convention="rectools"
    ),
    "k: too large for an endless ideal": refused(compute, "k", **TWO, k=10**9, ideal="full"),
    "k: beside a cutoff of a measure": refused(
        compute, "k", **TWO, measures=["nDCG@5", "DCG@3"], k=10
    ),
    "measures: another case": refused(compute, "measures", **TWO, measures="NDCG"),
    "measures: one that is unknown": refused(
        compute, "measures", **TWO, measures=["nDCG", "recall"]
    ),
    "measures: another case, with a cutoff": refused(
        compute, "measures", **TWO, measures="ndcg@10"
    ),
    "measures: that of trec_eval": refused(compute, "measures", **TWO, measures="ndcg_cut_10"),
    "measures: empty": refused(compute, "measures", **TWO, measures=[]),
    "measures: cutoff 0": refused(compute, "measures", **TWO, measures="nDCG@0"),
    "measures: a cutoff of 5,000 digits": refused(
        compute, "measures", **TWO, measures="nDCG@" + "9" * 5000
    ),
    "measures: a list": refused(compute, "measures", **TWO, measures=[["nDCG"]]),
    # the options of scoring
    "convention: misspelt": refused(compute, "convention", **TWO, convention="lightgmb"),
    "convention: another name": refused(compute, "convention", **TWO, convention="scikit-learn"),
    "convention: another case": refused(compute, "convention", **TWO, convention="TREC_EVAL"),
    "gain: the beginning of a word": refused(compute, "gain", **TWO, gain="exp"),
    "gain: no number": refused(compute, "gain", **TWO, gain=[0, "1"]),
    "gain: nan": refused(compute, "gain", **TWO, gain=[0, math.nan]),
    "gain: a number": refused(compute, "gain", **TWO, gain=2),
    "gain: text of a million characters": refused(compute, "gain", **TWO, gain=["x" * 10**6]),
    "gain: no labels": refused(compute, "gain", **TWO, gain={}),
    "gain: None as a label": refused(compute, "gain", **TWO, gain={None: 1}),
    "gain: text as the gain of a label": refused(compute, "gain", **TWO, gain={"yes": "3"}),
    "gain: a label twice": refused(compute, "gain", **TWO, gain={"1": 3, True: 2}),
    "gain: fewer gains than relevances": refused(
        compute, "gain", **TWO, gain=lambda relevance: relevance[:-1]
    ),
    "gain: complex numbers": refused(compute, "gain", **TWO, gain=lambda relevance: relevance + 1j),
    "gain: masked numbers": refused(
        compute, "gain", **TWO, gain=lambda values: np.ma.masked_less(values, 1)
    ),
    "gain: lists of several lengths": refused(
        compute, "gain", **TWO, gain=lambda relevance: [[1], [1, 2]]
    ),
    "gain: a tensor with a gradient": refused(
        compute, "gain", **TWO, gain=Made(lambda: with_gradient)
    ).quoting("a Tensor"),
    "gain: none for any label": refused(signature, "gain", gain=np.array([0.0, 1.0]).take).quoting(
        "gain "
    ),
    "discount: misspelt": refused(compute, "discount", **TWO, discount="reciprocl"),
    "discount: empty": refused(compute, "discount", **TWO, discount=[]),
    "discount: rises": refused(compute, "discount", **TWO, discount=[1, 0.5, 0.7]),
    "discount: nan": refused(compute, "discount", **TWO, discount=[1, math.nan]),
    "discount: 0 at rank 1": refused(compute, "discount", **TWO, discount=[0, 0]),
    "discount: fewer ranks than count": refused(compute, "discount", **TWO, discount=[1.0]),
    "discount: a function that rises": refused(
        compute, "discount", **TWO, discount=lambda ranks: ranks
    ),
    "discount: a negative function": refused(
        compute, "discount", **TWO, discount=lambda ranks: 1.0 - ranks
    ),
    "discount: a function of 0": refused(
        compute, "discount", **TWO, discount=lambda ranks: 0.0 * ranks
    ),
    "discount: an infinite function": refused(
        compute, "discount", **TWO, discount=lambda ranks: ranks + math.inf
    ),
    "discount: a function of one number": refused(
        compute, "discount", **TWO, discount=lambda ranks: 1.0
    ),
    "discount: a tensor with a gradient": refused(
        compute, "discount", **TWO, discount=Made(lambda: with_gradient)
    ).quoting("a Tensor"),
    "log_base: 1": refused(compute, "log_base", **TWO, log_base=1.0),
    "log_base: text": refused(compute, "log_base", **TWO, log_base="2"),
    "log_base: text of a million characters": refused(
        compute, "log_base", **TWO, log_base="x" * 10**6
    ),
    "log_base: below that of a discount": refused(
        compute, "log_base", **TWO, discount="jarvelin", log_base=0.5
    ),
    "log_base: below that of a convention": refused(
        compute, "log_base", **TWO, convention="lenskit", log_base=0.5
    ),
    "ties: misspelt": refused(compute, "ties", **TWO, ties="avergae"),
    "ties: a number": refused(compute, "ties", **TWO, ties=1),
    "ties: a million values": refused(compute, "ties", **TWO, ties=[*range(10**6)]),
    "ignore_ties: no flag": refused(compute, "ignore_ties", **TWO, ignore_ties="yes"),
    "ignore_ties: beside other ties": refused(
        compute, "ignore_ties", **TWO, ignore_ties=True, ties="first"
    ),
    "zero_division: a word": refused(compute, "zero_division", **TWO, zero_division="warn"),
    "zero_division: inf": refused(compute, "zero_division", **TWO, zero_division=math.inf),
    "ideal: misspelt": refused(compute, "ideal", **TWO, ideal="retreived"),
    "negative_relevance: unknown": refused(
        compute, "negative_relevance", **TWO, negative_relevance="ignore"
    ),
    "score_dtype: unknown": refused(compute, "score_dtype", **TWO, score_dtype="float16"),
    "score_order: unknown": refused(compute, "score_order", **TWO, score_order="lowest"),
    "duplicates: unknown": refused(compute, "duplicates", **TWO, duplicates="first"),
    "exclude_from: unknown": refused(compute, "exclude_from", **TWO, exclude_from="qrels"),
    "missing: unknown": refused(compute, "missing", **TWO, missing="drop"),
    "judged_only: no flag": refused(compute, "judged_only", **TWO, judged_only="yes"),
    "ignore_index: nan": refused(compute, "ignore_index", **TWO, ignore_index=math.nan),
    "ignore_index: text": refused(compute, "ignore_index", **TWO, ignore_index="-100"),
    "use_aggregator: no flag": refused(compute, "use_aggregator", **TWO, use_aggregator="no"),
    "engine: unknown": refused(compute, "engine", **TWO, engine="torch"),
    "score_order: of an unknown system": refused(
        compare,
        "a system in score_order",
        systems={"bm25": {}, "l2": {}},
        references={},
        score_order={"dense": "ascending"},
    ),
    # the engine of scikit-learn
    "sklearn: a measure": by_sklearn("engine", **TWO, measures="DCG"),
    "sklearn: a gain": by_sklearn("engine", **TWO, gain="exponential"),
    "sklearn: several options, of which the first is named": by_sklearn(
        "engine", **TWO, gain="exponential", discount="reciprocal", ideal="retrieved"
    ),
    "sklearn: a convention": by_sklearn("engine", **TWO, convention="ranx"),
    "sklearn: values of queries": by_sklearn("engine", **TWO, use_aggregator=False),
    "sklearn: lists of several lengths": by_sklearn(
        "engine", predictions=[[1, 2], [1]], references=[[1, 0], [1]]
    ),
    "sklearn: a document not retrieved": by_sklearn(
        "predictions", "query 0, position 1", predictions=[[1, None]], references=[[1, 0]]
    ),
    "sklearn: a masked score": by_sklearn(
        "predictions",
        "query 0, position 1",
        predictions=np.ma.MaskedArray([[1, 2]], [[0, 1]]),
        references=[[1, 0]],
    ),
    "sklearn: a document not judged": by_sklearn(
        "references", "query 0, position 1", predictions=[[1, 2]], references=[[1, None]]
    ),
    "sklearn: nan as a score": by_sklearn(
        "predictions", "query 0, position 1", predictions=[[1, math.nan]], references=[[1, 0]]
    ),
    "sklearn: a negative relevance": by_sklearn(
        "references",
        "query 1, position 1",
        predictions=[[2, 1], [1, 2]],
        references=[[1, 0], [0, -1]],
    ),
    "sklearn: other numbers of queries": by_sklearn(
        "predictions", predictions=[[1, 2]], references=[[1, 0]] * 2
    ),
    "sklearn: a weight of text": by_sklearn(
        "sample_weight", "query 0", **TWO, sample_weight=["1", 1]
    ),
    "sklearn: a weight of 0 for every query": by_sklearn(
        "sample_weight", **TWO, sample_weight=[0, 0]
    ),
    "sklearn: one document": by_sklearn("engine", predictions=[[1]], references=[[1]]),
    "sklearn: no queries": by_sklearn("predictions", predictions=[], references=[]),
    "sklearn: an overflow": by_sklearn("engine", predictions=[[3, 2, 1]], references=[[1e308] * 3]),
    # options that a method does not have
    **{
        f"an unknown option of {method}": refused(
            getattr(ndcg, method), f"{method} has no option alpha", **inputs, alpha=1
        )
        for method, inputs in METHODS.items()
    },
    "an unknown option of a long name": refused(
        report, "report has no option xxx", **TWO, **{"x" * 10**6: 1}
    ),
    "an option that is nearly another": refused(
        report, "report has no option gian", **TWO, gian="linear"
    ),
    "an option in another case": refused(report, "report has no option Ties", **TWO, Ties="first"),
    "an option that is misspelt": refused(
        report, "report has no option zero_devision", **TWO, zero_devision=1
    ),
    "a mask": refused(compute, "compute has no option mask", **TWO, mask=[[1, 0]]),
    "an option of report": refused(compute, "compute has no option by", **TWO, by=[1, 2]),
    "an option of compare": refused(report, "report has no option baseline", **TWO, baseline="a"),
    "an option of a test": refused(
        report, "report has no option alternative", **TWO, alternative="less"
    ),
    "a seed": refused(report, "report has no option seed", **TWO, seed=7),
    "an option of explain": refused(
        compare, "compare has no option got", systems={}, references={}, got=1
    ),
    "an option of LightGBM": refused(
        lightgbm_metric, "lightgbm_metric has no option label_gain", label_gain=[0, 1]
    ),
    "an option of LightGBM in compute": refused(
        compute, "compute has no option label_gain", **TWO, label_gain=[0, 1]
    ),
    "an option of XGBoost in report": refused(
        report, "report has no option exp_gain", **TWO, exp_gain=True
    ),
    "an option of XGBoost": refused(
        xgboost_metric, "xgboost_metric has no option ndcg_exp_gain", ndcg_exp_gain=1
    ),
    "an option of CatBoost, type": refused(
        compute, "compute has no option type", **TWO, type="Exp"
    ),
    "an option of CatBoost, denominator": refused(
        compute, "compute has no option denominator", **TWO, denominator=1
    ),
    "an option of CatBoost, top": refused(compute, "compute has no option top", **TWO, top=10),
}


def with_gradient(values: Any) -> Any:
    """A function of PyTorch that is to be trained."""
    import torch

    return torch.tensor(2.0, requires_grad=True) / torch.tensor(values)
