"""`scorer`, `lightgbm_metric` and `xgboost_metric`, called by the libraries, have their scores."""

import copy
import pickle
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import sklearn
from evaluate import Metric
from refusals import refusal
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning"
)  # of the oldest LightGBM and XGBoost


class Rows(NamedTuple):
    """Documents with features, labels and queries, and the number of documents of each query."""

    x: np.ndarray
    y: np.ndarray
    queries: np.ndarray
    lengths: np.ndarray


def make_rows(labels: int = 4, shortest: int = 1, all_relevant: bool = False) -> Rows:
    """60 queries of up to 19 documents, one after the other; some have nothing relevant."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(shortest, 20, 60)
    x = rng.normal(size=(lengths.sum(), 5))
    y = np.clip((x[:, 0] + x[:, 1] ** 2 + rng.normal(size=len(x)) - 1).round(), 0, labels).astype(
        int
    )
    if all_relevant:
        y[np.cumsum(lengths) - 1] = 2
    return Rows(x, y, np.repeat(np.arange(len(lengths)), lengths), lengths)


@pytest.fixture
def _routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def mean_of_queries(model: Any, method: str, rows: Rows, part: np.ndarray, k: int) -> float:
    """scikit-learn's number of each query, averaged."""
    scores = getattr(model, method)(rows.x[part])
    scores = scores[:, 1] if scores.ndim == 2 else scores
    of_query = [rows.queries[part] == query for query in np.unique(rows.queries[part])]
    return float(
        np.mean([ndcg_score([rows.y[part][each]], [scores[each]], k=k) for each in of_query])
    )


# --- scikit-learn ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize(
    ("model", "method", "labels"),
    [
        (Ridge(), "predict", 4),
        (make_pipeline(StandardScaler(), LogisticRegression()), "decision_function", 1),
        (RandomForestClassifier(5, random_state=0), "predict_proba", 1),
    ],
    ids=["regressor", "pipeline", "classifier of probabilities"],
)
def test_each_fold_has_the_mean_over_its_queries(
    ndcg: Metric, model: Any, method: str, labels: int
) -> None:
    rows = make_rows(labels=labels, shortest=2)
    folds = list(GroupKFold(3).split(rows.x, rows.y, rows.queries))
    expected = [
        mean_of_queries(clone(model).fit(rows.x[train], rows.y[train]), method, rows, test, k=5)
        for train, test in folds
    ]
    scorer = ndcg.scorer(k=5).set_score_request(groups=True)
    params = {"groups": rows.queries}
    found = cross_validate(
        model, rows.x, rows.y, scoring=scorer, cv=GroupKFold(3), params=params, error_score="raise"
    )
    assert found["test_score"].tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize(
    "options",
    [{"k": 10, "convention": "lightgbm"}, {"measures": "DCG@3", "gain": [0, 1, 3, 7, 15]}],
    ids=str,
)
def test_rows_of_a_query_may_be_anywhere_and_queries_have_names(
    ndcg: Metric, options: dict[str, Any]
) -> None:
    rows, order = make_rows(), np.random.default_rng(1).permutation(len(make_rows().y))
    model = Ridge().fit(rows.x, rows.y)
    names = np.array([f"query {query}" for query in rows.queries])
    scorer = ndcg.scorer(**options)
    value = scorer(model, rows.x, rows.y, groups=rows.queries)
    inputs = {"predictions": model.predict(rows.x), "references": rows.y, "query_ids": rows.queries}
    assert [value] == list(ndcg.compute(**inputs, **options).values())
    # of LightGBM's, ties are in the order of the rows
    assert value == pytest.approx(
        scorer(model, rows.x[order], rows.y[order], groups=names[order]), rel=1e-12
    )


@pytest.mark.usefixtures("_routing")
def test_it_is_cloned_copied_and_pickled_as_for_several_processes(ndcg: Metric) -> None:
    rows, scorer = (
        make_rows(),
        ndcg.scorer(k=3, convention="lightgbm").set_score_request(groups=True),
    )
    model = Ridge().fit(rows.x, rows.y)
    search = clone(GridSearchCV(Ridge(), {"alpha": [1]}, scoring={"first": scorer}))
    expected = scorer(model, rows.x, rows.y, groups=rows.queries)
    for other in (
        search.scoring["first"],
        copy.deepcopy(scorer),
        pickle.loads(pickle.dumps(scorer)),
    ):
        assert other(model, rows.x, rows.y, groups=rows.queries) == expected
        assert "k=3, convention=lightgbm" in repr(other)


@pytest.mark.usefixtures("_routing")
def test_the_weight_of_a_row_is_that_of_its_query(ndcg: Metric) -> None:
    rows = make_rows()
    weight = np.random.default_rng(1).random(len(rows.lengths))
    scorer = ndcg.scorer(k=3).set_score_request(groups=True, sample_weight=True)
    model = Ridge().fit(rows.x, rows.y)
    found = scorer(model, rows.x, rows.y, groups=rows.queries, sample_weight=weight[rows.queries])
    values = [
        ndcg.compute(predictions=[model.predict(rows.x[of])], references=[rows.y[of]], k=3)[
            "nDCG@3"
        ]
        for of in (rows.queries == query for query in range(len(weight)))
    ]
    assert found == pytest.approx((weight * values).sum() / weight.sum(), rel=1e-12)
    weights, several = weight[rows.queries], rows.lengths.argmax()
    weights[np.flatnonzero(rows.queries == several)[-1]] = 7
    with refusal("sample_weight", f"query {several}"):
        scorer(model, rows.x, rows.y, groups=rows.queries, sample_weight=weights)


def test_without_groups_a_row_of_several_labels_is_a_query(ndcg: Metric) -> None:
    x, y = (
        np.random.default_rng(0).normal(size=(30, 6)),
        np.random.default_rng(1).integers(0, 4, (30, 6)),
    )
    assert ndcg.scorer(k=3)(Fixed(), x, y) == pytest.approx(ndcg_score(y, x, k=3))


def test_without_groups_a_column_of_labels_is_rejected(ndcg: Metric) -> None:
    rows = make_rows()
    with refusal("groups are missing"):
        ndcg.scorer(k=3)(Ridge().fit(rows.x, rows.y), rows.x, rows.y)
    how: dict[str, Any] = {"cv": GroupKFold(3), "error_score": "raise"}
    with refusal("groups are missing"):  # without routing they reach the folds alone
        cross_validate(
            Ridge(), rows.x, rows.y, scoring=ndcg.scorer(k=3), groups=rows.queries, **how
        )
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(ValueError, match="groups"),
    ):
        # from scikit-learn, or from the scorer if scikit-learn passes none on
        cross_validate(
            Ridge(),
            rows.x,
            rows.y,
            scoring=ndcg.scorer(k=3),
            params={"groups": rows.queries},
            **how,
        )


class Fixed(BaseEstimator):  # type: ignore[misc]
    """A model whose features are its scores."""

    def predict(self, scores: np.ndarray) -> np.ndarray:
        return scores


@pytest.mark.usefixtures("_routing")
def test_masked_documents_are_not_retrieved_or_not_judged(ndcg: Metric) -> None:
    scores, labels = np.array([0.9, 0.1, 0.5]), np.array([3, 1, 0])
    masked = [np.ma.array(values, mask=[1, 0, 0]) for values in (scores, labels)]
    for x, y in ((masked[0], labels), (scores, masked[1])):
        expected = ndcg.compute(predictions=x[None], references=y[None])["nDCG"]
        assert expected != ndcg.compute(predictions=scores[None], references=labels[None])["nDCG"]
        assert ndcg.scorer()(Fixed(), x, y, groups=[1, 1, 1]) == expected
        assert ndcg.scorer()(Fixed(), x[None], y[None]) == expected


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize(
    ("x", "groups", "error"),
    [
        (np.arange(3), [0, 0], "with groups, all columns must be flat and have the same length"),
        (np.arange(3), np.array([np.nan, 0, 0]), "groups must be integers or strings, one per row"),
        (np.arange(3), [0, "1", "1"], "groups must be all text or all integers"),
        (
            np.arange(3),
            np.ma.array([0, 1, 1], mask=[1, 0, 0]),
            "groups: row 0 is empty; give each row an id",
        ),
        (
            np.eye(3),
            [0, 1, 1],
            r"predictions: .* shape \(3, 3\) for labels of shape .*a classifier of two classes",
        ),
    ],
)
def test_an_error_names_the_groups_or_the_scores(
    ndcg: Metric, x: Any, groups: Any, error: str
) -> None:
    with pytest.raises(ValueError, match=error):
        ndcg.scorer(k=3)(Fixed(), x, np.array([1, 0, 2]), groups=groups)


def test_several_results_are_rejected_before_any_training(ndcg: Metric) -> None:
    message = (
        "a scorer has one result; got nDCG@1, nDCG@5; give a dict of scorers, scoring={'nDCG@1': "
    )
    with pytest.raises(ValueError, match=message):
        ndcg.scorer(k=[1, 5])


# --- LightGBM -------------------------------------------------------------------------------------

QUIET: dict[str, Any] = {
    "verbose": -1,
    "num_threads": 1,
    "num_leaves": 7,
    "min_data_in_leaf": 5,
    "deterministic": True,
}


@pytest.mark.peers
@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_finds_its_own_number_at_every_round(ndcg: Metric, weighted: bool) -> None:
    import lightgbm

    rows = make_rows(all_relevant=weighted)  # else LightGBM adds 1 for a query whatever its weight
    weight = np.random.default_rng(1).random(len(rows.y)) if weighted else None
    data = lightgbm.Dataset(rows.x, rows.y, group=rows.lengths, weight=weight)
    rounds: dict[str, dict[str, list[float]]] = {}
    own = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [1, 5], **QUIET}
    metric = ndcg.lightgbm_metric(k=[1, 5], convention="lightgbm")
    how = {"valid_sets": [data], "callbacks": [lightgbm.record_evaluation(rounds)], "feval": metric}
    model = lightgbm.train(own, data, 8, **how)
    assert all(
        is_higher_better is True for *_, is_higher_better in metric(model.predict(rows.x), data)
    )
    found = rounds["training"]
    assert list(found) == ["ndcg@1", "ndcg@5", "nDCG@1", "nDCG@5"]
    for k in (1, 5):
        assert found[f"nDCG@{k}"] == pytest.approx(
            found[f"ndcg@{k}"], rel=1e-6 if weighted else 1e-12
        )


@pytest.mark.parametrize(
    ("scores", "group", "weight", "error"),
    [
        ([3, 2, 1], None, None, r"lightgbm_metric: the data has no groups.*Dataset\(group=...\)"),
        (
            [3, 2, 1],
            [2, 2],
            None,
            "lightgbm_metric: the groups and the labels differ in the number of rows, 4 and 3;",
        ),
        (
            [3, 2, 1],
            [4, -1],
            None,
            r"lightgbm_metric: groups must be numbers of rows, .*; got array\(\[ 4, -1\]\)",
        ),
        (
            [3, 2, 1],
            [1.5, 1.5],
            None,
            "lightgbm_metric: groups must be numbers of rows, one per query",
        ),
        (
            [3, 2, 1],
            [[2, 1]],
            None,
            "lightgbm_metric: groups must be numbers of rows, one per query",
        ),
        (
            [3, 2, 1],
            [2, 1],
            [1.0],
            "lightgbm_metric: the groups and the weights differ in the number of rows, 3 and 1;",
        ),
        (
            np.zeros((3, 2)),
            [3],
            None,
            r"predictions: .* gives scores of shape \(3, 2\) for labels of shape \(3,\)",
        ),
    ],
    ids=str,
)
def test_data_whose_groups_or_scores_do_not_fit_is_rejected(
    ndcg: Metric, scores: Any, group: Any, weight: Any, error: str
) -> None:
    given = (None if each is None else np.array(each) for each in (scores, weight, group))
    with pytest.raises(ValueError, match=f"^{error}"):
        ndcg.lightgbm_metric(k=2)(np.array([1, 0, 2]), *given)


# --- XGBoost --------------------------------------------------------------------------------------

RANKING: dict[str, Any] = {"objective": "rank:ndcg", "max_depth": 2, "nthread": 1, "seed": 0}


@pytest.mark.peers
@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_finds_its_own_number(ndcg: Metric, weighted: bool) -> None:
    import xgboost

    rows = make_rows(
        all_relevant=weighted
    )  # else XGBoost adds 1 as LightGBM does, and refuses a sum above 1
    weight = np.random.default_rng(1).random(len(rows.lengths)) if weighted else None
    data = xgboost.DMatrix(rows.x, rows.y, qid=rows.queries, weight=weight)
    rounds: dict[str, dict[str, list[float]]] = {}
    metric = ndcg.xgboost_metric(k=[1, 5], convention="xgboost")
    how = {
        "evals": [(data, "train")],
        "custom_metric": metric,
        "evals_result": rounds,
        "verbose_eval": False,
    }
    model = xgboost.train({**RANKING, "eval_metric": ["ndcg@1", "ndcg@5"]}, data, 8, **how)
    found = rounds["train"]
    assert list(found) == ["ndcg@1", "ndcg@5", "ndcg.nDCG@1", "ndcg.nDCG@5"]
    for k, (name, value) in zip((1, 5), metric(model.predict(data), data), strict=True):
        assert name == f"ndcg.nDCG@{k}"  # XGBoost maximizes what begins so, if it stops early
        assert value == pytest.approx(found[f"ndcg@{k}"][-1], rel=1e-6 if weighted else 1e-12)
        assert found[name] == pytest.approx(found[f"ndcg@{k}"], abs=6e-7)  # six decimals


@pytest.mark.peers
def test_the_error_for_xgboost_without_queries_says_how_to_pass_them(ndcg: Metric) -> None:
    import xgboost

    rows, metric = make_rows(), ndcg.xgboost_metric(k=5)
    data = xgboost.DMatrix(rows.x, rows.y)
    with pytest.raises(
        ValueError, match=r"xgboost_metric: the DMatrix has no qid.*DMatrix\(..., qid=...\)"
    ):
        xgboost.train({"nthread": 1}, data, 2, evals=[(data, "train")], custom_metric=metric)
    ranker = xgboost.XGBRanker(n_estimators=2, n_jobs=1, eval_metric=metric)
    problem = r"xgboost_metric: XGBRanker.*weights a query.*xgboost.train\(custom_metric=...\)"
    with pytest.raises(ValueError, match=problem):
        ranker.fit(
            rows.x, rows.y, qid=rows.queries, eval_set=[(rows.x, rows.y)], eval_qid=[rows.queries]
        )
