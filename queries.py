"""The value of every query, and their mean.

Rankings are read and scored part by part, so that copies of them stay small. What is wrong with
them is said in the user's terms: the argument, the query and the position.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from .files import read_columns
from .options import ComputeOptions, Options, is_real
from .rankings import Rankings, is_query, number, parts, plain, read, shown
from .scoring import InvalidRankingError, check_queries, score_queries

Values = dict[str, NDArray[np.float64]]

NO_QUERIES = "predictions and references hold no queries; there is nothing to score"


def compute(
    *,
    predictions: Any,
    references: Any,
    k: Any = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    **options: Unpack[ComputeOptions],
) -> dict[str, float | list[float]]:
    """Return nDCG (Järvelin and Kekäläinen, 2002), or DCG, IDCG and CG: the mean over queries or each query's value.

    Args:
        predictions: the score of each document of each query, higher ranks first: nested lists,
            arrays, tensors, columns of lists, `{query: {document: score}}` or the path of a file
            of them; with `query_ids` flat scores. `None` marks a document that was not retrieved.
        references: the relevance of the same documents in the same order, or by their ids; or
            the path of a file of them. `None` marks a document that was not judged.
        k: the cutoff, how many ranks count, or several; None for the whole list.
        sample_weight: one weight per query for the mean.
        query_ids: for flat predictions and references, the id of each document's query.
        document_ids: with `query_ids`, the id of each document.
        **options: `measures`, `convention`, `gain`, `log_base`, `ties`, `ignore_ties`,
            `zero_division`, `negative_relevance`, `judged_only`, `ignore_index`,
            `use_aggregator` and `engine`, as the metric card describes them.

    Returns:
        A value for each measure and cutoff under its name, such as `nDCG@10`: a float from 0 to 1
        for nDCG, or with `use_aggregator=False` a list with the value of each query.

    Raises:
        ValueError: names the option, or the argument, query and position at fault.
        TypeError: an unknown option; names the nearest or all there are.

    >>> compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]], k=3)
    {'nDCG@3': 0.4123818817534531}
    """
    parsed = Options.of_method(compute, k, options, lacks=())
    return scores(predictions, references, query_ids, document_ids, options=parsed, sample_weight=sample_weight)


def scores(
    predictions: Any,
    references: Any,
    query_ids: Any = None,
    document_ids: Any = None,
    *,
    options: Options,
    sample_weight: Any = None,
) -> dict[str, float | list[float]]:
    """Return the mean over queries under the name of each result, or a list of all queries' values.

    Raises:
        ValueError: names the argument, query and position at fault.
    """
    if options.engine == "sklearn":
        return _scores_by_sklearn(predictions, references, query_ids, document_ids, options, sample_weight)
    values = query_values(predictions, references, query_ids, document_ids, options=options)
    weight = weights(sample_weight, len(next(iter(values.values()))))
    if not options.use_aggregator:
        return {name: each.tolist() for name, each in values.items()}
    return {name: mean(name, each, weight) for name, each in values.items()}


def query_values(
    predictions: Any, references: Any, query_ids: Any = None, document_ids: Any = None, *, options: Options
) -> Values:
    """Return the values of all queries under the name of each result."""

    def score(part: Rankings) -> Values:
        scored = score_queries(**part.arrays(), **options.scoring)
        return {name: scored[measure][row] for name, measure, row in options.results()}

    return describe_queries(score, predictions, references, query_ids, document_ids, options)


def describe_queries(
    describe: Callable[[Rankings], dict[str, NDArray[Any]]],
    predictions: Any,
    references: Any,
    query_ids: Any,
    document_ids: Any,
    options: Options,
) -> dict[str, NDArray[Any]]:
    """Return columns, by name, with a row for each query, which a function makes of each part of the rankings."""
    described: list[dict[str, NDArray[Any]]] = []
    queries = 0
    bar = None
    with ExitStack() as until_done:
        sides = from_file("predictions", predictions), from_file("references", references)
        for part in parts(*sides, query_ids=query_ids, document_ids=document_ids, **options.reading):
            if described and bar is None:
                bar = until_done.enter_context(progress(len(predictions), "Scoring", " queries", initial=queries))
            with user_terms(part, queries):
                described.append(describe(part))
            queries += part.queries
            if bar is not None:
                bar.update(part.queries)
    if not queries:
        raise ValueError(NO_QUERIES)
    return {name: np.concatenate([each[name] for each in described]) for name in described[0]}


def checked_rankings(predictions: Any, references: Any, **how: Any) -> Rankings:
    """Return rankings as `rankings.read` does, files too, if some choice of options could score them."""
    rankings = read(from_file("predictions", predictions), from_file("references", references), **how)
    with user_terms(rankings):
        check_queries(**rankings.arrays())
    return rankings


def from_file(argument: str, side: Any) -> Any:
    """Return what a file holds, if an argument is the path of one: qrels for the references, else a run."""
    if not isinstance(side, (str, os.PathLike)):
        return side
    kind = "qrels" if argument == "references" else "run"
    try:
        return read_columns(side, kind)
    except OSError as error:
        problem = f"cannot be read as a {kind} file: {error.strerror or error}"
        path = os.fsdecode(side)
        name = path if path.isprintable() and len(path) <= 500 else shown(path)  # it may be a file's content
        raise ValueError(f"{argument}: {name}: {problem}") from None
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


@contextmanager
def user_terms(rankings: Rankings, first_query: int = 0) -> Iterator[None]:
    """Translate errors of the kernel into the user's terms.

    Args:
        rankings: what is scored.
        first_query: the index of their first query among all queries.
    """
    try:
        yield
    except InvalidRankingError as error:
        argument = {"relevance": "references", "score": "predictions"}[error.array]
        if rankings.place is not None:
            place = rankings.place(error.query, error.position)
            raise ValueError(f"{argument}: {place}: {error.problem}") from None
        placed = InvalidRankingError(argument, first_query + error.query, error.position, error.problem)
        raise ValueError(str(placed)) from None


def weights(sample_weight: Any, queries: int) -> NDArray[np.float64] | None:
    """Return a weight for each query, or None if none are given.

    They are scaled by a power of two to at most 1, so that no sum of them overflows.
    """
    if sample_weight is None:
        return None
    if is_query(sample_weight):
        kind = type(sample_weight).__name__
        problem = "whose rows may come in another order than the queries; give a column of the table with the rankings"
        raise ValueError(f"sample_weight: is a query of its own ({kind}), {problem}")
    given = plain("sample_weight", sample_weight)
    if isinstance(given, Mapping):
        raise ValueError("sample_weight must be a sequence of weights in the order of the queries; got a mapping")
    given = given if isinstance(given, (list, tuple)) else np.asanyarray(given)
    found = f"shape {np.shape(given)}" if isinstance(given, np.ndarray) and given.ndim != 1 else len(given)
    if found != queries:
        raise ValueError(f"sample_weight must hold one weight for each of {queries} queries; got {found}")
    numbers = given
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "biuf" or np.ma.is_masked(given):
        numbers = list(map(number, given))
        for query, value in enumerate(numbers):
            if not is_real(value) and not isinstance(value, (bool, np.bool_)):
                raise ValueError(f"sample_weight: query {query}: must be a number; got {shown(given[query])}")
    weight = np.asarray(numbers, np.float64)
    invalid = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if invalid.size:
        query = int(invalid[0])
        raise ValueError(f"sample_weight: query {query}: must be finite and not negative; got {weight[query]}")
    if not weight.any():
        raise ValueError("sample_weight is 0 for every query; give at least one query a weight")
    return np.asarray(np.ldexp(weight, -np.frexp(weight.max())[1]))


def mean(name: str, values: NDArray[np.float64], weight: NDArray[np.float64] | None = None) -> float:
    """Return the mean of a result over the queries that have a value.

    Raises:
        ValueError: no query has one, or their sum overflows.
    """
    if np.isnan(values).any():
        valued = ~np.isnan(values)
        values, weight = values[valued], None if weight is None else weight[valued]
    if not values.size or (weight is not None and not weight.any()):
        problem = "no query of positive weight has anything relevant, and zero_division=nan leaves out the others"
        raise ValueError(f"{name}: {problem}; give a number for zero_division")
    with np.errstate(over="ignore"):
        found = float(values.mean() if weight is None else np.average(values, weights=weight))
    if not math.isfinite(found):
        raise ValueError(f"{name}: the sum over queries overflows; scale the gains")
    return found


def progress(total: int, doing: str, unit: str, initial: int = 0) -> Any:
    """Return a progress bar for what takes over two seconds: on a terminal, unless those of datasets are disabled."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return nullcontext(SimpleNamespace(update=lambda done: None))
    datasets = sys.modules.get("datasets")
    disable = True if datasets and datasets.are_progress_bars_disabled() else None  # None: on a terminal only
    return tqdm(total=total, desc=doing, unit=unit, initial=initial, delay=2, leave=False, disable=disable)


def _scores_by_sklearn(
    predictions: Any, references: Any, query_ids: Any, document_ids: Any, options: Options, sample_weight: Any
) -> dict[str, float | list[float]]:
    """Return what `sklearn.metrics.ndcg_score` itself answers."""
    try:
        from sklearn.metrics import ndcg_score
    except ImportError:
        raise ImportError('engine="sklearn" needs scikit-learn: pip install scikit-learn, or "ndcg[sklearn]"') from None
    rankings = checked_rankings(predictions, references, query_ids=query_ids, document_ids=document_ids)
    if not rankings.queries:
        raise ValueError(NO_QUERIES)
    weight = weights(sample_weight, rankings.queries)
    relevance, score = _arrays_for_sklearn(rankings)
    how = {"sample_weight": weight, "ignore_ties": options.ties == "last"}
    result: dict[str, float | list[float]] = {}
    for name, _, row in options.results():
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(ndcg_score(relevance, score, k=options.cutoffs[row], **how))
        if not math.isfinite(value):
            raise ValueError(
                f'engine="sklearn": {name}: sums overflow in scikit-learn; scale the relevances or weights'
            )
        result[name] = value
    return result


def _arrays_for_sklearn(rankings: Rankings) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return relevance and score in two dimensions.

    Raises:
        ValueError: scikit-learn has no place for what the rankings hold.
    """
    if rankings.judged is not None or rankings.retrieved is not None:
        raise ValueError('engine="sklearn": scikit-learn has no place for None or masked values')
    relevance, score = rankings.relevance, rankings.score
    if rankings.offsets is not None:
        lengths = np.diff(rankings.offsets)
        different = np.flatnonzero(lengths != lengths[0])
        if different.size:
            query = int(different[0])
            raise ValueError(
                f'engine="sklearn": scikit-learn needs lists of one length; query {query} has {lengths[query]} '
                f"documents, query 0 has {lengths[0]}"
            )
        relevance, score = (values.reshape(rankings.queries, -1) for values in (relevance, score))
    for query, position in np.argwhere(relevance < 0)[:1].tolist():
        problem = f"the relevance {relevance[query, position]} is negative, which scikit-learn refuses"
        with user_terms(rankings):
            raise InvalidRankingError("relevance", query, position, problem)
    return relevance, score.astype(np.int8) if score.dtype == bool else score  # it takes the scores' negatives
