"""Compute the value of every query, and the mean.

Rankings are read and scored in parts, so that copies of them stay small. Errors name the argument, the query and the
position, as the user knows them.
"""

import math
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing, nullcontext
from types import NoneType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.content import FileError, MissingFileError
from ..files.groups import read_groups
from ..files.reader import read_columns
from ..inputs.columns import number, read_flat_column
from ..inputs.exclusion import Pairs, are_excluded
from ..inputs.hashes import Columns
from ..inputs.ids import encode_ids
from ..inputs.rankings import Rankings
from ..inputs.reading import Inputs, parts, read, refuse_same_column
from ..inputs.slices import Slices, crossed, in_order_of_ids, read_slices
from ..inputs.sources import check_order, has_labels, is_sparse, named_columns, plain_in_order, settled
from ..measure.messages import missing_library, shown, warn
from ..measure.options import Options, is_real
from ..measure.scoring import IS_NEGATIVE, InvalidRankingError, check_queries, in_threads, measure_queries

Values = dict[str, NDArray[np.float64]]
Notify = Callable[[str], None]  # called with `Rankings.unmatched` if no document was both retrieved and judged

COMPARED = 1000  # documents that tell whether both sides are swapped
LABELS_FIRST = "hold only 0 and 1, and the references fractions; the scores of a model are predictions"
NOTHING_TO_SCORE = "predictions and references hold no queries; there is nothing to score"


def score_inputs(inputs: Inputs, options: Options) -> dict[str, float | list[float]]:
    """Return the mean over queries under the name of each result, or a list with the value of each query."""
    if options.engine == "sklearn":
        return _score_by_sklearn(inputs, options)
    names: list[Any] = []
    values = measure_inputs(inputs, options, names=names)
    weight = weights(inputs.sample_weight, len(next(iter(values.values()))), names or None)
    if not options.use_aggregator:
        return {name: each.tolist() for name, each in values.items()}
    return {name: mean(name, each, weight) for name, each in values.items()}


def measure_inputs(inputs: Inputs, options: Options, first_query: int = 0, names: list[Any] | None = None) -> Values:
    """Return the values of all queries under the name of each result; errors count queries from `first_query` on.

    The ids of the queries are added to `names` if the weights may be in another order.
    """
    parts: list[list[NDArray[np.float64]]] = []
    have_ids = isinstance(inputs.sample_weight, Mapping) or has_labels(inputs.sample_weight)
    with closing(counted_parts(inputs, options, first_query)) as rankings:
        for part, before in rankings:
            with UserTerms(part, before):
                values = measure_rankings(part, options)
            if have_ids and names is not None and part.query_ids is not None:
                names += part.names()
            parts.append([values[measure][row] for _, measure, row in options.results])
    columns = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    return dict(zip(options.names, columns, strict=True))


def measure_rankings(part: Rankings, options: Options, **other: Any) -> Values:
    """Return the values of each measure, of shape ``(cutoffs, queries)``: nan for a query that is skipped.

    Arguments of the kernel in `other` override the options.
    """
    measured = measure_queries(**part.arrays(), **{**options.scoring, **other})
    if options.missing == "skip":
        skipped = part.lacking()
        for values in measured.values():
            values[:, skipped] = np.nan
    return measured


def describe_queries(
    describe: Callable[[Rankings], dict[str, NDArray[Any]]],
    inputs: Inputs,
    options: Options,
    piece: int,
    notify: Notify,
) -> dict[str, NDArray[Any]]:
    """Return the columns that a function computes from pieces of the rankings, by name, with a row for each query.

    A piece has about `piece` documents. `notify` is called if no document was both retrieved and judged.
    """

    def in_user_terms(each: Rankings, before: int) -> dict[str, NDArray[Any]]:
        with UserTerms(each, before):
            return describe(each)

    described: list[dict[str, NDArray[Any]]] = []
    with closing(counted_parts(inputs, options, notify=notify)) as rankings:
        for part, before in rankings:
            pieces = list(part.pieces(piece))
            starts = before + np.cumsum([0, *(each.queries for each in pieces[:-1])])
            described += in_threads(in_user_terms, pieces, starts.tolist())
    if len(described) == 1:
        return described[0]
    return {name: np.concatenate([each[name] for each in described]) for name in described[0]}


def warn_unmatched(unmatched: str) -> None:
    """Warn that no document was both retrieved and judged."""
    warn(f"predictions: {unmatched}")


def counted_parts(
    inputs: Inputs, options: Options, first_query: int = 0, notify: Notify = warn_unmatched
) -> Generator[tuple[Rankings, int], None, None]:
    """Yield rankings part by part, with the index of their first query; show a progress bar from the second on.

    Once all are scored, `notify` is called if no document was both retrieved and judged.
    """
    before, bar = 0, None
    unmatched: set[str] = set()
    with ExitStack() as until_done:
        inputs = from_files(inputs, options.score_order).settled(options.score_order)
        refuse_negative(inputs.references, inputs.exclude, options)
        for part in parts(inputs, first_query=first_query, **options.reading):
            if before and bar is None:
                total = inputs.predictions.shape[0] if is_sparse(inputs.predictions) else len(inputs.predictions)
                bar = until_done.enter_context(progress(total, "Scoring", " queries", initial=before))
            if not before and _are_swapped(part.score[:COMPARED], part.relevance[:COMPARED]):
                warn(f"predictions: {LABELS_FIRST}")
            if options.missing == "raise":
                refuse_missing(part, before)
            if part.unmatched is not None:
                unmatched.add(part.unmatched)
            yield part, first_query + before
            before += part.queries
            if bar is not None:
                bar.update(part.queries)
    if not before:
        raise ValueError(NOTHING_TO_SCORE)
    if first := min(unmatched, default=""):  # empty if any part has such a document
        notify(first)


def _are_swapped(score: NDArray[Any], relevance: NDArray[Any]) -> bool:
    """Return whether the scores of documents are labels, 0 and 1, and their relevances are fractions, as scores are."""
    if not ((score == 0) | (score == 1)).all() or len(np.unique(score)) < 2:
        return False
    return bool(((relevance >= 0) & (relevance <= 1)).all() and np.mean(relevance % 1 > 0) > 0.5)


def refuse_negative(references: Any, exclude: Any, options: Options) -> None:
    """Raise an error for the first row of a file or table with a negative relevance, unless the options allow it."""
    if not isinstance(references, Columns) or references.place is None or options.negative_relevance != "raise":
        return
    negative = references.value < 0
    if options.ignore_index is not None:
        negative &= references.value != options.ignore_index
    if negative.any() and exclude is not None:
        negative &= ~are_excluded(references, exclude)
    for row in np.flatnonzero(negative)[:1].tolist():
        query, document = references.query_ids[int(references.query[row])], references.document[row]
        pair = f"query {shown(query.as_py())}, document {shown(document.as_py())}"
        problem = IS_NEGATIVE.format(value=f"{references.value[row]:g}")
        raise ValueError(f"references: {references.place(row)}: {pair}: {problem}")


def refuse_missing(rankings: Rankings, first_query: int = 0) -> None:
    """Raise an error for the first query that is missing from rankings, with the number of them."""
    missing = rankings.missing
    if not missing.any():
        return
    at = int(missing.argmax())
    query = f"query {first_query + at}" if rankings.place is None else rankings.place(at, None)
    hint = 'missing="empty" counts such queries as having retrieved nothing, missing="skip" skips them'
    raise ValueError(f"predictions: {query} is missing ({int(missing.sum())} such queries); {hint}")


def from_frame(data: Any, inputs: Inputs) -> Inputs:
    """Return inputs, with names of columns replaced by the columns of a DataFrame."""
    nothing_named = data is None and inputs.exclude is None and inputs.by is None
    return inputs if nothing_named else Inputs(**columns_of(data, inputs._asdict()))


def columns_of(data: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments, with names of columns replaced by the columns of a DataFrame, or of a file for `by`.

    In a column of `sample_weight` or `by`, each row has the value of its query. `by` may name several columns.
    """
    named = {name: value for name, value in arguments.items() if name != "exclude"}
    by_names = _several_names(named["by"]) if data is not None else {}
    if by_names:
        del named["by"]
        named |= by_names
    columns = dict(zip(named, named_columns(data, **named), strict=True))
    if by_names:
        columns["by"] = crossed([columns.pop(name) for name in by_names])
    if (query_ids := columns["query_ids"]) is not None:
        for name, of_queries in _BY_QUERY.items():
            if columns[name] is not arguments[name]:
                columns[name] = of_queries(*settled(query_ids=query_ids, **{name: columns[name]}))
    if data is None and _is_path(columns["by"]):
        qrels_file = arguments["references"] if _is_path(arguments["references"]) else None
        columns["by"] = from_file("by", columns["by"], qrels_file=qrels_file)
    return {**columns, "exclude": _excluded_pairs(arguments["exclude"], arguments)}


def _several_names(by: Any) -> dict[str, str]:
    """Return the names of several columns of slices by their places; none for the values of queries."""
    if not isinstance(by, (list, tuple)) or not 1 < len(by) == len(set(map(str, by))) < 9:
        return {}
    return {f"by[{at}]": name for at, name in enumerate(by)} if all(isinstance(name, str) for name in by) else {}


def _excluded_pairs(exclude: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the documents to exclude; of a DataFrame, the columns with the names of `query_ids` and `document_ids`."""
    names = {name: arguments[name] for name in ("query_ids", "document_ids")}
    if not any(hasattr(type(exclude), each) for each in ("columns", "column_names", "schema")):  # not a DataFrame
        return exclude
    if not all(isinstance(name, str) for name in names.values()):
        problem = "is a DataFrame, but query_ids and document_ids name no columns; name the columns of data and exclude"
        raise ValueError(f"exclude: {problem}, or give {{query: ids}}")
    return Pairs(*named_columns(exclude, "exclude", **names))


def _weights_by_query(query_ids: Any, rows: Any) -> NDArray[np.float64]:
    """Return the weight of each query, from a column with a weight in each row."""

    def place(_: int, row: int | None) -> str:
        return f"row {row}"

    column = read_flat_column("sample_weight", rows, place)
    if column.present is not None:
        row = int(np.flatnonzero(~column.present)[0])
        raise ValueError(f"sample_weight: row {row} is missing; give every row the weight of its query")
    values = np.asarray(column.values, np.float64)
    return values[_first_rows("sample_weight", query_ids, values, lambda row: str(values[row]))]


def _slices_by_query(query_ids: Any, rows: Any) -> Slices:
    """Return the slice of each query, from a column with a slice in each row."""
    values, code = read_slices(rows)
    return Slices(values, code[_first_rows("by", query_ids, code, lambda row: shown(values[code[row]]))])


_BY_QUERY: dict[str, Callable[[Any, Any], Any]] = {"sample_weight": _weights_by_query, "by": _slices_by_query}


def _first_rows(argument: str, query_ids: Any, values: NDArray[Any], text: Callable[[int], str]) -> NDArray[np.int64]:
    """Return the first row of each query, if all of its rows have the same value."""
    code, ids = encode_ids("query_ids", query_ids)
    if len(values) != len(code):
        raise ValueError(f"{argument} has {len(values)} rows and query_ids {len(code)}; give both for every row")
    first = np.zeros(len(ids), np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    if (other := np.flatnonzero(values != values[first][code])).size:
        row = int(other[0])
        query, before = shown(ids[int(code[row])].as_py()), int(first[code[row]])
        noun = {"sample_weight": "weight", "by": "slice"}[argument]
        raise ValueError(
            f"{argument}: query {query} is {text(row)} in row {row} and {text(before)} in row {before}; "
            f"give all rows of a query the same {noun}"
        )
    return first


def checked_rankings(inputs: Inputs, **how: Any) -> Rankings:
    """Read rankings, also from files, and check that some combination of options could score them."""
    rankings = read(**from_files(inputs, how.get("score_order", "descending")).rankings, **how)
    with UserTerms(rankings):
        check_queries(**rankings.arrays())
    return rankings


def from_files(inputs: Inputs, score_order: str = "descending") -> Inputs:
    """Replace paths of files of rankings by the contents of the files."""
    if not any(map(_is_path, inputs[:5])):
        return inputs
    read = {name: from_file(name, side, score_order) for name, side in inputs.rankings.items()}
    run, qrels = read["predictions"], read["references"]
    are_files = _is_path(inputs.predictions) and _is_path(inputs.references)
    if are_files and os.fspath(inputs.predictions) == os.fspath(inputs.references):
        refuse_same_column("predictions", run, qrels)
    return inputs._replace(**read)


def _is_path(side: Any) -> bool:
    return type(side) not in (NoneType, list, dict) and isinstance(side, (str, os.PathLike))


def from_file(argument: str, side: Any, score_order: str = "descending", qrels_file: Any = None) -> Any:
    """Return the contents of a file if an argument is its path; ids of rows are never in a file."""
    if not _is_path(side) or argument in ("query_ids", "document_ids"):
        return side
    kind = {"references": "qrels", "exclude": "exclude"}.get(argument, "run")
    try:
        if argument == "by":
            return read_groups(os.fspath(side), qrels_file)
        return read_columns(os.path.expanduser(side), kind, score_order=score_order)
    except FileError as error:
        if isinstance(side, str) and side.lstrip().startswith(("{", "[")):
            raise ValueError(f"{argument}: is JSON as text; give json.loads of it, or the path of a file") from None
        error.argument = f"{argument}: "
        if isinstance(error, MissingFileError) and os.sep not in error.filename:
            error.strerror = f"{error.strerror}; if it names a column, give its DataFrame as data"
        raise
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


def check_rows(inputs: Inputs, options: Options) -> None:
    """Check flat rows of queries that may have more rows elsewhere, for errors that no other row could correct."""
    rankings = read(**inputs.rankings, **options.reading)
    with UserTerms(rankings):
        check_queries(**rankings.arrays(), gain=options.gain, negative_relevance=options.negative_relevance)


class UserTerms:
    """A context that rewrites errors of the kernel with the user's names for queries and arguments.

    The first of the rankings' queries has the index `first_query` among all queries.
    """

    def __init__(self, rankings: Rankings, first_query: int = 0) -> None:
        self.rankings, self.first_query = rankings, first_query

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, InvalidRankingError):
            return
        argument = {"relevance": "references", "score": "predictions"}[error.array]
        if self.rankings.place is not None:
            place = self.rankings.place(error.query, error.position)
            raise ValueError(f"{argument}: {place}: {error.problem}") from None
        query = self.first_query + error.query
        raise ValueError(str(InvalidRankingError(argument, query, error.position, error.problem))) from None


def weights(sample_weight: Any, queries: int, query_ids: Any = None) -> NDArray[np.float64] | None:
    """Return a weight for each query, from a sequence or a mapping of their ids, or None without weights.

    Weights are divided by a power of two, so that each is at most 1 and no sum overflows.
    """
    if sample_weight is None:
        return None
    check_order("sample_weight", sample_weight, query_ids, "give sample_weight.to_dict()")
    if isinstance(sample_weight, Mapping):
        sample_weight = in_order_of_ids("sample_weight", sample_weight, query_ids, "a weight")
    given = plain_in_order("sample_weight", sample_weight)
    given = given if isinstance(given, (list, tuple)) else np.asanyarray(given)
    shape = f"shape {np.shape(given)}" if isinstance(given, np.ndarray) and given.ndim != 1 else len(given)
    if shape != queries:
        raise ValueError(f"sample_weight must hold one weight for each of {queries} queries; got {shape}")
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
    """Return the mean of a result over the queries that have a value; it is an error if none has."""
    if weight is None and values.size:  # nearly always accurate enough
        with np.errstate(over="ignore"):
            value = float(values.mean())
        if math.isfinite(value):
            return value
    valued = ~np.isnan(values)
    values, weight = values[valued], None if weight is None else weight[valued]
    if not values.size or (weight is not None and not weight.any()):
        problem = "no query of positive weight has a value: zero_division=nan excludes those with no relevant documents"
        hint = 'zero_division=0, or missing="empty", gives them one'
        raise ValueError(f'{name}: {problem}, missing="skip" those that are missing from the predictions; {hint}')
    with np.errstate(over="ignore"):
        value = float(np.average(values, weights=weight))
    if not math.isfinite(value):
        raise ValueError(f"{name}: the sum over queries overflows; scale the gains")
    return value


def progress(total: int, doing: str, unit: str, initial: int = 0) -> Any:
    """Return a progress bar for work that takes over two seconds, on a terminal, unless datasets has disabled them."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return nullcontext(SimpleNamespace(update=lambda done: None))
    datasets = sys.modules.get("datasets")
    disable = True if datasets and datasets.are_progress_bars_disabled() else None  # None shows it on a terminal only
    return tqdm(total=total, desc=doing, unit=unit, initial=initial, delay=2, leave=False, disable=disable)


def _score_by_sklearn(inputs: Inputs, options: Options) -> dict[str, float | list[float]]:
    """Return the results of `sklearn.metrics.ndcg_score` itself."""
    try:
        from sklearn.metrics import ndcg_score
    except ImportError:
        raise missing_library('engine="sklearn"', "scikit-learn", "scikit-learn") from None
    rankings = checked_rankings(inputs)
    if not rankings.queries:
        raise ValueError(NOTHING_TO_SCORE)
    weight = weights(inputs.sample_weight, rankings.queries, rankings.query_ids)
    relevance, score = _arrays_for_sklearn(rankings)
    how = {"sample_weight": weight, "ignore_ties": options.ties == "last"}
    result: dict[str, float | list[float]] = {}
    for name, _, row in options.results:
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(ndcg_score(relevance, score, k=options.cutoffs[row], **how))
        if not math.isfinite(value):
            raise ValueError(
                f'engine="sklearn": {name}: sums overflow in scikit-learn; scale the relevances or weights'
            )
        result[name] = value
    return result


def _arrays_for_sklearn(rankings: Rankings) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return relevance and score in two dimensions, without documents that are neither judged nor retrieved.

    Some formats leave excluded documents in place like this.
    """
    relevance, score = rankings.relevance, rankings.score
    retrieved = (score > -np.inf if rankings.retrieved is None else rankings.retrieved & (score > -np.inf)).reshape(-1)
    judged = np.ones(relevance.size, bool) if rankings.judged is None else rankings.judged.reshape(-1)
    offsets = rankings.offsets
    begins = np.arange(rankings.queries + 1) * relevance.shape[1] if offsets is None else offsets
    missing = 'engine="sklearn" does not support None, -inf or masked values; leave the document out or use "numpy"'
    negative = 'the relevance {value} is negative, which engine="sklearn" does not support'
    for array, values, invalid, problem in (
        ("score", score, judged & ~retrieved, missing),
        ("relevance", relevance, retrieved & ~judged, missing),
        ("relevance", relevance, judged & (relevance.reshape(-1) < 0), negative),
    ):
        if invalid.any():
            at = int(invalid.argmax())
            query = int(np.searchsorted(begins, at, side="right")) - 1
            with UserTerms(rankings):
                value = values.reshape(-1)[at]
                raise InvalidRankingError(array, query, at - int(begins[query]), problem.format(value=value))
    if offsets is not None or not judged.all():
        lengths = np.diff(np.append(0, np.cumsum(judged))[begins])
        for query in np.flatnonzero((lengths != lengths[0]) | (lengths == 0))[:1].tolist():
            name = f"query {query}" if rankings.place is None else rankings.place(query, None)
            lengths_text = f"{name} has {lengths[query]} documents, the first query {lengths[0]}"
            raise ValueError(
                f'engine="sklearn": scikit-learn needs lists of the same length, not empty; {lengths_text}'
            )
        relevance, score = (each.reshape(-1)[judged].reshape(rankings.queries, -1) for each in (relevance, score))
    return relevance, score.astype(np.int8) if score.dtype == bool else score  # scikit-learn negates the scores
