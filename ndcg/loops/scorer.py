"""The metric for scikit-learn, LightGBM and XGBoost: to select models and to stop training."""

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from ..inputs.columns import offsets_of
from ..inputs.reading import Inputs
from ..inputs.sources import is_sparse
from ..measure.messages import imported, renamed, shown, worded
from ..measure.options import Cutoffs, Options, QueryOptions
from ..measure.ties import Array
from ..scores.frames import from_frame
from ..scores.results import score_inputs
from .meter import array_of_ids


def scorer(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Any:
    """Return a scikit-learn scorer, for `scoring=` in `cross_validate` and `GridSearchCV`.

    It ranks by `decision_function`, else `predict_proba`, else `predict`. Rows are documents, and
    `groups` has the query of every row: enable metadata routing, request them with
    `scorer.set_score_request(groups=True)` and pass them as `params={"groups": groups}`. Pass
    `sample_weight`, which has the weight of the query in every row, in the same way. Without
    `groups`, a row of a 2-D `y` is a query, and its columns are documents; a 1-D `y` is rejected.

    Args:
        k: the cutoff.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`.

    Raises:
        ValueError: an option that `compute` rejects; or several results, since a scorer has one.
        ImportError: scikit-learn is not installed.
    """
    names = Options.for_method(scorer, k, options).names
    if len(names) > 1:
        raise ValueError(
            f"a scorer has one result; got {', '.join(names)}; give a dict of scorers, "
            f"scoring={{{names[0]!r}: ndcg.scorer(...), ...}}"
        )
    metrics = imported("sklearn.metrics", "scorer", "scikit-learn", "scikit-learn")
    methods = ("decision_function", "predict_proba", "predict")
    return metrics.make_scorer(ndcg, response_method=methods, k=k, **options)


def ndcg(
    y_true: Any, y_score: Any, *, groups: Any = None, sample_weight: Any = None, **options: Any
) -> float:
    """Return the result for a model's scores, called as scikit-learn calls a scorer's function."""
    labels, predicted = _array(y_true), _array(y_score)
    if groups is None:
        inputs = _by_position(predicted, labels, sample_weight)
    else:
        inputs = _grouped(predicted, labels, groups, sample_weight)
    try:
        (result,) = score_inputs(inputs, Options.parse(**options)).values()
    except ValueError as error:
        raise ValueError(worded(error, renamed({"query_ids": "groups"}))) from None
    return float(result)  # type: ignore[arg-type]


def _array(side: Any) -> Any:
    return side if is_sparse(side) else np.asanyarray(side)


def _check_shapes(predicted: Any, labels: Any) -> None:
    if predicted.shape != labels.shape:
        models = "by a ranker, a regressor or a classifier of two classes"
        hint = f"one score per label is needed: {models}"
        raise ValueError(
            f"predictions: the model gives scores of shape {predicted.shape} for labels of shape "
            f"{labels.shape}; {hint}"
        )


def _by_position(predicted: Any, labels: Any, sample_weight: Any) -> Inputs:
    """Return inputs of a row per query."""
    if labels.ndim != 2:
        request = "enable metadata routing, scorer.set_score_request(groups=True)"
        hint = f'{request}, and pass params={{"groups": groups}}'
        raise ValueError(
            f"groups are missing, so the queries of rows are unknown; {hint}. Only a 2-D y, with "
            "one row per query, needs no groups"
        )
    _check_shapes(predicted, labels)
    if sample_weight is not None:
        # Without its index, which is that of the labels.
        sample_weight = np.asanyarray(sample_weight)
    return Inputs(predicted, labels, sample_weight=sample_weight)


def _grouped(predicted: Any, labels: Any, groups: Any, sample_weight: Any) -> Inputs:
    """Return inputs of a row per document, with the query in groups."""
    _check_shapes(predicted, labels)
    columns = {"y_score": predicted, "y_true": labels, "groups": array_of_ids(groups)}
    weight = None
    if sample_weight is not None:
        weight = "sample_weight"
        columns[weight] = sample_weight
    return from_frame(columns, Inputs("y_score", "y_true", "groups", sample_weight=weight))


def lightgbm_metric(
    k: Cutoffs = None, **options: Unpack[QueryOptions]
) -> Callable[..., list[tuple[str, float, bool]]]:
    """Return a function for `LGBMRanker.fit(eval_metric=...)` and for `lightgbm.train(feval=...)`.

    Queries are the groups of the data. The weight of a query is the mean of its rows' weights, as
    in LightGBM.

    Args:
        k: the cutoff or cutoffs.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`;
            `convention="lightgbm"` gives LightGBM's own score.

    Raises:
        ValueError: an option that `compute` rejects.

    >>> metric = lightgbm_metric(k=1, convention="lightgbm")
    >>> metric(np.array([1, 0, 0]), np.array([.1, .9, .5]), None, np.array([2, 1]))
    [('nDCG@1', 0.5, True)]
    """
    return partial(_for_lightgbm, Options.for_method(lightgbm_metric, k, options))


def _for_lightgbm(
    options: Options, labels: Any, predictions: Any, weight: Any = None, group: Any = None
) -> list[tuple[str, float, bool]]:
    """Return the results with their names, and True because higher is better."""
    if hasattr(predictions, "get_group"):
        # lightgbm.train passes the scores first, then the Dataset.
        data, predictions = predictions, labels
        labels, weight, group = data.get_label(), data.get_weight(), data.get_group()
    if group is None:
        raise ValueError(
            "lightgbm_metric: the data has no groups, so its queries are unknown; give "
            "Dataset(group=...), or eval_group=... to LGBMRanker.fit"
        )
    # LightGBM has lengths of groups, XGBoost, below, where they begin.
    lengths = np.asarray(group)
    if lengths.dtype.kind not in "iu" or lengths.ndim != 1 or lengths.min(initial=0) < 0:
        raise ValueError(
            f"lightgbm_metric: groups must be numbers of rows, one per query; got {shown(group)}"
        )
    _check_rows(lengths, "labels", labels)
    if weight is not None:
        _check_rows(lengths, "weights", weight)
        query = np.repeat(np.arange(len(lengths)), lengths)
        weight = np.bincount(query, weight, len(lengths)) / np.maximum(lengths, 1)
    results = _results(options, predictions, labels, offsets_of(lengths), weight)
    return [(name, value, True) for name, value in results.items()]


def _check_rows(lengths: Array, name: str, column: Any) -> None:
    rows = lengths.sum()
    if len(column) != rows:
        counts = f"the groups and the {name} differ in the number of rows, {rows} and {len(column)}"
        raise ValueError(f"lightgbm_metric: {counts}; give all")


def xgboost_metric(
    k: Cutoffs = None, **options: Unpack[QueryOptions]
) -> Callable[..., list[tuple[str, float]]]:
    """Return a function for `xgboost.train(custom_metric=...)`, with a `DMatrix` that has `qid`.

    Its results are called `ndcg.nDCG@10`, since early stopping infers from the first letters of a
    name whether higher is better. XGBoost keeps six decimals of a result.

    Args:
        k: the cutoff or cutoffs.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`;
            `convention="xgboost"` gives XGBoost's own score.

    Raises:
        ValueError: an option that `compute` rejects.
    """
    return partial(_for_xgboost, Options.for_method(xgboost_metric, k, options))


def _for_xgboost(options: Options, predictions: Any, data: Any) -> list[tuple[str, float]]:
    if not hasattr(data, "get_uint_info"):
        weights = "weights a query by its number of documents"
        problem = f"XGBRanker(eval_metric=...) passes single queries and {weights}"
        raise ValueError(f"xgboost_metric: {problem}; train with xgboost.train(custom_metric=...)")
    begins = data.get_uint_info("group_ptr")
    if len(begins) < 2:
        problem = "the DMatrix has no qid, so its queries are unknown"
        raise ValueError(f"xgboost_metric: {problem}; give DMatrix(..., qid=...)")
    weight = data.get_weight()
    if not len(weight):  # XGBoost returns an empty array for data without weights
        weight = None
    results = _results(options, predictions, data.get_label(), begins, weight)
    return [(f"ndcg.{name}", value) for name, value in results.items()]


def _results(
    options: Options,
    predictions: Array,
    labels: Array,
    begins: Array,
    weight: Any,
) -> dict[str, Any]:
    """Return the results of queries with contiguous rows, with one score for every row."""
    predictions, labels = np.asanyarray(predictions), np.asanyarray(labels)
    _check_shapes(predictions, labels)
    offsets = pa.array(begins, pa.int32())
    score_lists = pa.ListArray.from_arrays(offsets, pa.array(predictions))
    label_lists = pa.ListArray.from_arrays(offsets, pa.array(labels))
    return score_inputs(Inputs(score_lists, label_lists, sample_weight=weight), options)
