"""`scorer`, `lightgbm_metric` and `xgboost_metric` as the libraries call them, compared with their own scores."""

import copy
import pickle
from collections.abc import Iterator
from typing import Any, NamedTuple

import evaluate
import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of the oldest LightGBM and XGBoost


class Rows(NamedTuple):
    """Documents with their features, labels and queries, and the number of documents of each query."""

    x: np.ndarray
    y: np.ndarray
    queries: np.ndarray
    lengths: np.ndarray


def make_rows(queries: int = 60, seed: int = 0, labels: int = 4, shortest: int = 1) -> Rows:
    """Queries of up to 19 documents, one after the other; some have nothing relevant."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(shortest, 20, queries)
    x = rng.normal(size=(lengths.sum(), 5))
    noisy = x[:, 0] + x[:, 1] ** 2 + rng.normal(size=len(x)) - 1
    return Rows(x, np.clip(noisy.round(), 0, labels).astype(int), np.repeat(np.arange(queries), lengths), lengths)


@pytest.fixture
def _routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def mean_of_queries(model: Any, method: str, rows: Rows, part: np.ndarray, k: int) -> float:
    """scikit-learn's number of each query, averaged."""
    scores = getattr(model, method)(rows.x[part])
    scores = scores[:, 1] if scores.ndim == 2 else scores
    of_query = [rows.queries[part] == query for query in np.unique(rows.queries[part])]
    return float(np.mean([ndcg_score([rows.y[part][each]], [scores[each]], k=k) for each in of_query]))


# --- scikit-learn ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize(
    ("model", "method", "labels"),
    [
        (Ridge(), "predict", 4),
        (make_pipeline(StandardScaler(), LogisticRegression()), "decision_function", 1),
        (LinearSVC(), "decision_function", 1),
        (RandomForestClassifier(5, random_state=0), "predict_proba", 1),
    ],
    ids=["regressor", "pipeline", "classifier-of-decisions", "classifier-of-probabilities"],
)
def test_each_fold_has_the_mean_over_its_queries(ndcg: evaluate.Metric, model: Any, method: str, labels: int) -> None:
    rows = make_rows(labels=labels, shortest=2)
    folds = list(GroupKFold(3).split(rows.x, rows.y, rows.queries))
    expected = [
        mean_of_queries(clone(model).fit(rows.x[train], rows.y[train]), method, rows, test, k=5)
        for train, test in folds
    ]
    scorer = ndcg.scorer(k=5).set_score_request(groups=True)
    params = {"groups": rows.queries}
    found = cross_validate(model, rows.x, rows.y, scoring=scorer, cv=GroupKFold(3), params=params, error_score="raise")
    assert found["test_score"].tolist() == pytest.approx(expected, rel=1e-12)
    again = cross_val_score(model, rows.x, rows.y, scoring=scorer, cv=folds, params=params)
    assert again.tolist() == found["test_score"].tolist()


@pytest.mark.usefixtures("_routing")
def test_rows_of_a_query_may_lie_anywhere_and_queries_have_names(ndcg: evaluate.Metric) -> None:
    rows, order = make_rows(), np.random.default_rng(1).permutation(len(make_rows().y))
    model = Ridge().fit(rows.x, rows.y)
    scorer = ndcg.scorer(k=5)
    names = np.array([f"query {query}" for query in rows.queries])
    value = scorer(model, rows.x, rows.y, groups=rows.queries)
    assert value == pytest.approx(scorer(model, rows.x[order], rows.y[order], groups=names[order]), rel=1e-12)
    computed = ndcg.compute(predictions=model.predict(rows.x), references=rows.y, query_ids=rows.queries, k=5)
    assert computed == {"nDCG@5": value}


@pytest.mark.usefixtures("_routing")
def test_a_dict_of_scorers_gives_several_numbers_in_several_processes(ndcg: evaluate.Metric) -> None:
    rows = make_rows()
    options: dict[str, dict[str, Any]] = {
        "first": {"k": 1},
        "of LightGBM": {"k": 10, "convention": "lightgbm"},
        "DCG": {"measures": "DCG@3", "gain": [0, 1, 3, 7, 15]},
    }
    scoring = {name: ndcg.scorer(**each).set_score_request(groups=True) for name, each in options.items()}
    folds = list(GroupKFold(3).split(rows.x, rows.y, rows.queries))
    how = {"scoring": scoring, "cv": folds, "params": {"groups": rows.queries}, "error_score": "raise"}
    found = cross_validate(Ridge(), rows.x, rows.y, n_jobs=2, **how)
    for name, each in options.items():
        for (train, test), value in zip(folds, found[f"test_{name}"], strict=True):
            scores = Ridge().fit(rows.x[train], rows.y[train]).predict(rows.x[test])
            inputs = {"predictions": scores, "references": rows.y[test], "query_ids": rows.queries[test]}
            assert [value] == list(ndcg.compute(**inputs, **each).values())


@pytest.mark.usefixtures("_routing")
def test_it_is_cloned_copied_and_pickled(ndcg: evaluate.Metric) -> None:
    rows, scorer = make_rows(), ndcg.scorer(k=3, convention="lightgbm").set_score_request(groups=True)
    model = Ridge().fit(rows.x, rows.y)
    search = clone(GridSearchCV(Ridge(), {"alpha": [1]}, scoring=scorer))
    expected = scorer(model, rows.x, rows.y, groups=rows.queries)
    for other in (search.scoring, copy.deepcopy(scorer), pickle.loads(pickle.dumps(scorer))):
        assert other(model, rows.x, rows.y, groups=rows.queries) == expected
    assert "k=3, convention=lightgbm" in repr(search.scoring)


@pytest.mark.usefixtures("_routing")
def test_the_weight_of_a_row_is_that_of_its_query(ndcg: evaluate.Metric) -> None:
    rows = make_rows()
    weight = np.random.default_rng(1).random(len(rows.lengths))
    scorer = ndcg.scorer(k=3).set_score_request(groups=True, sample_weight=True)
    model = Ridge().fit(rows.x, rows.y)
    found = scorer(model, rows.x, rows.y, groups=rows.queries, sample_weight=weight[rows.queries])
    values = [
        ndcg.compute(predictions=[model.predict(rows.x[of])], references=[rows.y[of]], k=3)["nDCG@3"]
        for of in (rows.queries == query for query in range(len(weight)))
    ]
    assert found == pytest.approx((weight * values).sum() / weight.sum(), rel=1e-12)
    several = rows.lengths.argmax()
    weights = weight[rows.queries]
    weights[np.flatnonzero(rows.queries == several)[-1]] = 7
    with pytest.raises(
        ValueError, match=f"sample_weight: query {several} is 7.0 in row .* all rows of a query the same"
    ):
        scorer(model, rows.x, rows.y, groups=rows.queries, sample_weight=weights)


class Columns(BaseEstimator):
    """Scores several documents of each row, by its features."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> "Columns":
        self.fitted_ = True
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return x


def test_without_groups_a_row_of_several_labels_is_a_query(ndcg: evaluate.Metric) -> None:
    x, y = np.random.default_rng(0).normal(size=(30, 6)), np.random.default_rng(1).integers(0, 4, (30, 6))
    found = cross_val_score(Columns(), x, y, scoring=ndcg.scorer(k=3), cv=3)
    assert found.tolist() == pytest.approx([ndcg_score(y[at : at + 10], x[at : at + 10], k=3) for at in (0, 10, 20)])


def test_without_groups_a_column_of_labels_is_rejected(ndcg: evaluate.Metric) -> None:
    rows = make_rows()
    with pytest.raises(ValueError, match=r"groups are missing.*enable metadata routing, scorer.set_score_request"):
        ndcg.scorer(k=3)(Ridge().fit(rows.x, rows.y), rows.x, rows.y)
    how: dict[str, Any] = {"groups": rows.queries, "cv": GroupKFold(3)}
    with pytest.raises(ValueError, match="groups are missing"):  # without routing they reach the folds alone
        cross_validate(Ridge(), rows.x, rows.y, scoring=ndcg.scorer(k=3), error_score="raise", **how)


@pytest.mark.usefixtures("_routing")
def test_documents_that_are_masked_are_not_retrieved_or_not_judged(ndcg: evaluate.Metric) -> None:
    class Fixed(BaseEstimator):  # type: ignore[misc]
        def predict(self, scores: np.ndarray) -> np.ndarray:
            return scores

    scores, labels = np.array([0.9, 0.1, 0.5]), np.array([3, 1, 0])
    masked = [np.ma.array(side, mask=[1, 0, 0]) for side in (scores, labels)]
    for x, y in ((masked[0], labels), (scores, masked[1])):
        expected = ndcg.compute(predictions=x[None], references=y[None])["nDCG"]
        assert expected != ndcg.compute(predictions=scores[None], references=labels[None])["nDCG"]
        assert ndcg.scorer()(Fixed(), x, y, groups=[1, 1, 1]) == expected
        assert ndcg.scorer()(Fixed(), x[None], y[None]) == expected


@pytest.mark.usefixtures("_routing")
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (lambda queries: queries[:-1], "with groups, all columns must be flat and have the same length"),
        (lambda queries: np.where(queries == 0, np.nan, queries), "groups must be integers or strings, one per row"),
        (lambda queries: [0, *map(str, queries[1:].tolist())], "groups must be all text or all integers"),
        (lambda queries: np.ma.array(queries, mask=queries == 0), "groups: row 0 is None; give each row an id"),
    ],
    ids=["too few", "nan", "text and integers", "masked"],
)
def test_an_error_names_the_groups(ndcg: evaluate.Metric, groups: Any, message: str) -> None:
    rows = make_rows()
    with pytest.raises(ValueError, match=message):
        ndcg.scorer(k=3)(Ridge().fit(rows.x, rows.y), rows.x, rows.y, groups=groups(rows.queries))


@pytest.mark.usefixtures("_routing")
def test_groups_that_are_not_requested_are_an_error(ndcg: evaluate.Metric) -> None:
    rows, scorer = make_rows(), ndcg.scorer(k=3)
    how: dict[str, Any] = {"cv": GroupKFold(3), "params": {"groups": rows.queries}, "error_score": "raise"}
    with pytest.raises(
        ValueError, match="groups"
    ):  # from scikit-learn, or from the scorer if scikit-learn passes none on
        cross_validate(Ridge(), rows.x, rows.y, scoring=scorer, **how)


@pytest.mark.usefixtures("_routing")
def test_a_score_for_each_of_many_classes_is_rejected(ndcg: evaluate.Metric) -> None:
    rows = make_rows()
    model = LogisticRegression().fit(rows.x, rows.y)
    message = rf"predictions: .* shape \({len(rows.y)}, 5\) for labels of shape .*a classifier of two classes"
    with pytest.raises(ValueError, match=message):
        ndcg.scorer(k=3)(model, rows.x, rows.y, groups=rows.queries)


def test_several_results_are_rejected_before_any_training(ndcg: evaluate.Metric) -> None:
    message = "a scorer has one result; got nDCG@1, nDCG@5; give a dict of scorers, scoring={'nDCG@1': "
    with pytest.raises(ValueError, match=message):
        ndcg.scorer(k=[1, 5])


# --- LightGBM --------------------------------------------------------------------------------------------------------

QUIET: dict[str, Any] = {"verbose": -1, "num_threads": 1, "num_leaves": 7, "min_data_in_leaf": 5, "deterministic": True}


def by_query(lengths: Any, values: Any) -> list[np.ndarray]:
    return np.split(np.asarray(values), np.cumsum(lengths)[:-1])


@pytest.mark.peers
@pytest.mark.usefixtures("_routing")
def test_a_grid_search_over_lightgbm_picks_the_model_that_a_loop_picks(ndcg: evaluate.Metric) -> None:
    from lightgbm import LGBMRanker

    class Ranker(LGBMRanker):  # type: ignore[misc]
        """Takes the query of each row, as folds cut it; LightGBM takes the number of rows of each query."""

        def fit(self, x: np.ndarray, y: np.ndarray, groups: np.ndarray) -> "Ranker":
            return super().fit(x, y, group=np.unique(groups, return_counts=True)[1])  # type: ignore[no-any-return]

    rows = make_rows(90)
    grid = {"num_leaves": [2, 4, 15], "n_estimators": [3, 10]}
    fixed = {"min_child_samples": 5, "n_jobs": 1, "verbose": -1}
    folds = list(GroupKFold(3).split(rows.x, rows.y, rows.queries))
    means = {}
    for leaves in grid["num_leaves"]:
        for trees in grid["n_estimators"]:
            values = []
            for train, test in folds:
                model = LGBMRanker(num_leaves=leaves, n_estimators=trees, **fixed)
                model.fit(rows.x[train], rows.y[train], group=np.unique(rows.queries[train], return_counts=True)[1])
                lengths = np.unique(rows.queries[test], return_counts=True)[1]
                lists = by_query(lengths, model.predict(rows.x[test])), by_query(lengths, rows.y[test])
                values.append(ndcg.compute(predictions=lists[0], references=lists[1], k=10)["nDCG@10"])
            means[leaves, trees] = np.mean(values)
    search = GridSearchCV(
        Ranker(**fixed).set_fit_request(groups=True),
        grid,
        scoring=ndcg.scorer(k=10).set_score_request(groups=True),
        cv=GroupKFold(3),
        error_score="raise",
    )
    search.fit(rows.x, rows.y, groups=rows.queries)
    found = {
        (each["num_leaves"], each["n_estimators"]): mean
        for each, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    }
    assert found == pytest.approx(means, rel=1e-12)
    assert len(set(means.values())) == len(means)
    best = max(means, key=lambda each: means[each])
    assert search.best_params_ == {"num_leaves": best[0], "n_estimators": best[1]}


@pytest.mark.peers
@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_finds_its_own_number_at_every_round(ndcg: evaluate.Metric, weighted: bool) -> None:
    import lightgbm

    rows = make_rows()
    weight = np.random.default_rng(1).random(len(rows.y)) if weighted else None
    if weighted:  # else it has a number of its own, as below
        rows.y[np.cumsum(rows.lengths) - 1] = 2
    data = lightgbm.Dataset(rows.x, rows.y, group=rows.lengths, weight=weight)
    rounds: dict[str, dict[str, list[float]]] = {}
    lightgbm.train(
        {"objective": "lambdarank", "metric": "ndcg", "eval_at": [1, 5], **QUIET},
        data,
        8,
        valid_sets=[data],
        feval=ndcg.lightgbm_metric(k=[1, 5], convention="lightgbm"),
        callbacks=[lightgbm.record_evaluation(rounds)],
    )
    found = rounds["training"]
    assert list(found) == ["ndcg@1", "ndcg@5", "nDCG@1", "nDCG@5"]
    for k in (1, 5):
        assert found[f"nDCG@{k}"] == pytest.approx(found[f"ndcg@{k}"], rel=1e-6 if weighted else 1e-12)


@pytest.mark.peers
def test_lightgbm_adds_1_for_a_query_with_nothing_relevant_whatever_its_weight(ndcg: evaluate.Metric) -> None:
    import lightgbm

    rows = make_rows()
    weight = np.random.default_rng(1).uniform(0.1, 1, len(rows.lengths))
    data = lightgbm.Dataset(rows.x, rows.y, group=rows.lengths, weight=weight[rows.queries])
    how = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], **QUIET}
    model = lightgbm.train(how, data, 5, valid_sets=[data])
    own = model.best_score["training"]["ndcg@5"]
    scores = model.predict(rows.x)
    lists = {"predictions": by_query(rows.lengths, scores), "references": by_query(rows.lengths, rows.y)}
    values = np.array(ndcg.compute(**lists, k=5, convention="lightgbm", use_aggregator=False)["nDCG@5"])
    empty = np.array([not labels.any() for labels in lists["references"]])
    assert own == pytest.approx(((weight * values)[~empty].sum() + empty.sum()) / weight.sum(), rel=1e-6)
    ((_, found, _),) = ndcg.lightgbm_metric(k=5, convention="lightgbm")(scores, data)
    assert found == pytest.approx((weight * values).sum() / weight.sum(), rel=1e-6)
    assert found < 1 < own


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")  # before 4.7 there was no other
@pytest.mark.parametrize("seed", range(3))
def test_lightgbm_stops_where_it_stops_by_itself_tree_for_tree(ndcg: evaluate.Metric, seed: int) -> None:
    from lightgbm import LGBMRanker, early_stopping

    train, held_out = make_rows(seed=seed), make_rows(seed=seed + 10)

    def trees(function: Any, **parameters: Any) -> tuple[int, Any]:
        model = LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1, min_child_samples=5, num_leaves=7, **parameters)
        model.fit(
            train.x,
            train.y,
            group=train.lengths,
            eval_set=[(held_out.x, held_out.y)],
            eval_group=[held_out.lengths],
            eval_at=[5],
            eval_metric=function,
            callbacks=[early_stopping(4, verbose=False)],
        )
        return model.best_iteration_, model.booster_.dump_model()["tree_info"]

    own = trees("ndcg")
    assert 1 < own[0] < 56
    assert trees(ndcg.lightgbm_metric(k=5, convention="lightgbm"), metric="None") == own


@pytest.mark.peers
def test_lightgbm_stops_by_any_convention(ndcg: evaluate.Metric) -> None:
    import lightgbm

    train, held_out = make_rows(seed=1), make_rows(seed=11)
    data = lightgbm.Dataset(train.x, train.y, group=train.lengths)
    valid = lightgbm.Dataset(held_out.x, held_out.y, group=held_out.lengths, reference=data)
    values = []

    def by_hand(environment: Any) -> None:
        scores = environment.model.predict(held_out.x, num_iteration=environment.iteration + 1)
        lists = by_query(held_out.lengths, scores), by_query(held_out.lengths, held_out.y)
        values.append(ndcg.compute(predictions=lists[0], references=lists[1], k=5, zero_division=np.nan)["nDCG@5"])

    metric = ndcg.lightgbm_metric(k=5, zero_division=np.nan)
    stop = lightgbm.early_stopping(4, verbose=False)
    how = {"objective": "lambdarank", "metric": "None", **QUIET}
    model = lightgbm.train(how, data, 60, valid_sets=[valid], feval=metric, callbacks=[by_hand, stop])
    assert model.best_iteration == np.argmax(values) + 1
    assert model.best_score["valid_0"]["nDCG@5"] == pytest.approx(max(values), rel=1e-12)


@pytest.mark.peers
def test_the_error_for_lightgbm_without_groups_says_how_to_pass_them(ndcg: evaluate.Metric) -> None:
    import lightgbm

    rows = make_rows()
    data = lightgbm.Dataset(rows.x, rows.y)
    with pytest.raises(ValueError, match=r"lightgbm_metric: the data has no groups.*Dataset\(group=...\)"):
        lightgbm.train({**QUIET, "metric": "None"}, data, 2, valid_sets=[data], feval=ndcg.lightgbm_metric(k=5))


@pytest.mark.parametrize(
    ("group", "weight", "message"),
    [
        ([2], None, "the groups hold 2 rows, the labels 3; give all"),
        ([2, 2], None, "the groups hold 4 rows, the labels 3; give all"),
        ([4, -1], None, r"groups must be numbers of rows, one per query; got array\(\[ 4, -1\]\)"),
        ([1.5, 1.5], None, "groups must be numbers of rows, one per query"),
        ([[2, 1]], None, "groups must be numbers of rows, one per query"),
        ([2, 1], [1.0], "the groups hold 3 rows, the weights 1; give all"),
    ],
    ids=str,
)
def test_groups_of_other_rows_than_those_of_the_data_are_rejected(
    ndcg: evaluate.Metric, group: Any, weight: Any, message: str
) -> None:
    metric = ndcg.lightgbm_metric(k=2)
    labels, scores = np.array([1, 0, 2]), np.array([0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=f"^lightgbm_metric: {message}"):
        metric(labels, scores, None if weight is None else np.array(weight), np.array(group))


def test_scores_of_several_classes_are_rejected(ndcg: evaluate.Metric) -> None:
    message = r"predictions: must be one score for each row; got scores of shape \(3, 2\) for labels of shape \(3,\)"
    with pytest.raises(ValueError, match=message):
        ndcg.lightgbm_metric(k=5)(np.array([1, 0, 0]), np.zeros((3, 2)), None, np.array([3]))


# --- XGBoost ---------------------------------------------------------------------------------------------------------

RANKING: dict[str, Any] = {"objective": "rank:ndcg", "max_depth": 2, "nthread": 1, "seed": 0}


@pytest.mark.peers
@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_finds_its_own_number(ndcg: evaluate.Metric, weighted: bool) -> None:
    import xgboost

    rows = make_rows()
    weight = np.random.default_rng(1).random(len(rows.lengths)) if weighted else None
    if weighted:  # else it adds 1 for each query with nothing relevant, as LightGBM, and refuses a sum above 1
        rows.y[np.cumsum(rows.lengths) - 1] = 2
    data = xgboost.DMatrix(rows.x, rows.y, qid=rows.queries, weight=weight)
    rounds: dict[str, dict[str, list[float]]] = {}
    metric = ndcg.xgboost_metric(k=[1, 5], convention="xgboost")
    model = xgboost.train(
        {**RANKING, "eval_metric": ["ndcg@1", "ndcg@5"]},
        data,
        8,
        evals=[(data, "train")],
        custom_metric=metric,
        evals_result=rounds,
        verbose_eval=False,
    )
    found = rounds["train"]
    assert list(found) == ["ndcg@1", "ndcg@5", "ndcg.nDCG@1", "ndcg.nDCG@5"]
    for k, (name, value) in zip((1, 5), metric(model.predict(data), data), strict=True):
        assert name == f"ndcg.nDCG@{k}"
        assert value == pytest.approx(found[f"ndcg@{k}"][-1], rel=1e-6 if weighted else 1e-12)
        assert found[name] == pytest.approx(found[f"ndcg@{k}"], abs=6e-7)  # six decimals


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(3))
def test_xgboost_stops_where_it_stops_by_itself_tree_for_tree(ndcg: evaluate.Metric, seed: int) -> None:
    import xgboost

    train, held_out = make_rows(seed=seed), make_rows(seed=seed + 10)
    data = xgboost.DMatrix(train.x, train.y, qid=train.queries)
    valid = xgboost.DMatrix(held_out.x, held_out.y, qid=held_out.queries)

    def trees(metric: Any, **parameters: Any) -> tuple[int, list[str]]:
        model = xgboost.train(
            {**RANKING, **parameters},
            data,
            60,
            evals=[(valid, "valid")],
            custom_metric=metric,
            early_stopping_rounds=4,
            verbose_eval=False,
        )
        return model.best_iteration, model.get_dump(with_stats=True)

    own = trees(None, eval_metric="ndcg@5")
    assert 0 < own[0] < 55
    assert trees(ndcg.xgboost_metric(k=5, convention="xgboost"), disable_default_eval_metric=1) == own


@pytest.mark.peers
def test_the_error_for_xgboost_without_queries_says_how_to_pass_them(ndcg: evaluate.Metric) -> None:
    import xgboost

    rows, metric = make_rows(), ndcg.xgboost_metric(k=5)
    data = xgboost.DMatrix(rows.x, rows.y)
    with pytest.raises(ValueError, match=r"xgboost_metric: the DMatrix has no qid.*DMatrix\(..., qid=...\)"):
        xgboost.train({"nthread": 1}, data, 2, evals=[(data, "train")], custom_metric=metric)
    ranker = xgboost.XGBRanker(n_estimators=2, n_jobs=1, eval_metric=metric)
    with pytest.raises(
        ValueError, match=r"xgboost_metric: XGBRanker.*weights each.*xgboost.train\(custom_metric=...\)"
    ):
        ranker.fit(rows.x, rows.y, qid=rows.queries, eval_set=[(rows.x, rows.y)], eval_qid=[rows.queries])


@pytest.mark.peers
@pytest.mark.usefixtures("_routing")
def test_xgboosts_ranker_is_cross_validated_by_its_queries(ndcg: evaluate.Metric) -> None:
    from xgboost import XGBRanker

    rows = make_rows(shortest=2)
    model = XGBRanker(n_estimators=5, max_depth=2, n_jobs=1)
    expected = [
        mean_of_queries(clone(model).fit(rows.x[a], rows.y[a], qid=rows.queries[a]), "predict", rows, b, k=5)
        for a, b in GroupKFold(3).split(rows.x, rows.y, rows.queries)
    ]
    found = cross_val_score(
        model.set_fit_request(qid=True),
        rows.x,
        rows.y,
        scoring=ndcg.scorer(k=5).set_score_request(groups="qid"),
        cv=GroupKFold(3).set_split_request(groups="qid"),
        params={"qid": rows.queries},
        error_score="raise",
    )
    assert found.tolist() == pytest.approx(expected, rel=1e-12)
