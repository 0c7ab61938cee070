"""nDCG for `evaluate`: the metric that `evaluate.load` loads.

It declares the metric, checks the options once at the door, hands the rankings to the
kernel and names the results. How rankings are read and scored is in the modules it imports.
"""

import difflib
import hashlib
import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeVar

import datasets
import evaluate
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .batches import Batch, Batches
from .conventions import CONVENTIONS
from .rankings import Columns, Rankings, is_query, number, parts, plain, read, settled, shown, to_arrow
from .report import Comparison, Pair, Report, Resampling, Score
from .scoring import MEASURES, TIES, Gain, InvalidRankingError, check_queries, score_queries
from .significance import Intervals, bootstrap, differences, holm, paired_tests
from .spark import Job, arranged, by_query, code_of, means
from .store import Store as Store
from .trainer import TrainerMetrics
from .trec import read_columns, read_qrels, read_run

__version__ = "1.0.0"

Result = TypeVar("Result")

_DESCRIPTION = """\
Normalized discounted cumulative gain (nDCG): how good a ranking is, from 0 to 1. Each
document has a graded relevance; its gain counts the less the further down the ranking puts
it, and the sum is divided by that of the ideal ranking. Equal to
`sklearn.metrics.ndcg_score`, tied scores included, and made for ragged lists, documents
not retrieved or not judged, several cutoffs, and DCG, IDCG and CG besides.
"""

_CITATION = """\
@article{jarvelin2002cumulated,
  title   = {Cumulated gain-based evaluation of {IR} techniques},
  author  = {J{\\"a}rvelin, Kalervo and Kek{\\"a}l{\\"a}inen, Jaana},
  journal = {ACM Transactions on Information Systems},
  volume  = {20},
  number  = {4},
  pages   = {422--446},
  year    = {2002}
}
@inproceedings{mcsherry2008computing,
  title     = {Computing information retrieval performance measures efficiently in the presence of tied scores},
  author    = {McSherry, Frank and Najork, Marc},
  booktitle = {Advances in Information Retrieval (ECIR)},
  pages     = {414--421},
  year      = {2008}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: the score of each document of each query; higher ranks first. Nested lists
        (ragged too), a 2-D array or tensor (a masked array too), a list of 1-D arrays, a column
        of lists (Arrow, datasets, Polars, pandas, DuckDB), with `query_ids` flat scores, a
        mapping `{query: {document: score}}` or the path of a TREC run. `None`, a masked value or
        `-inf` marks a document that was not retrieved: it has no rank, but counts in the ideal.
    references: the relevance of the same documents in the same order, 0 for irrelevant; or a
        mapping `{query: {document: relevance}}` or the path of TREC qrels. `None`, a masked value
        or, by ids, a document that is missing was not judged: it has a rank, with gain 0, and
        does not count in the ideal.
    k (`int`, `None` or a list of these): the cutoff, how many ranks count; `None` (default)
        for the whole list.
    sample_weight: one non-negative weight per query for the mean; default: all equal.
    ignore_ties (`bool`): order documents of equal score, the last in the input first, rather
        than average over their orders; the same as `ties="last"`.
    measures: one or several of `"nDCG"` (default), `"DCG"`, `"IDCG"`, `"CG"`.
    convention: whose number to report: `"sklearn"` (default), `"trec_eval"`, `"ranx"`,
        `"lightgbm"`, ... (docs/conventions.md lists them). It decides what `gain`, `ties`,
        `zero_division` and `negative_relevance` are where they are not given; the defaults
        named below are scikit-learn's.
    gain: `"linear"` (default, the relevance r), `"exponential"` (2^r - 1), `"binary"` (1 where
        r > 0), a list of the gains of label 0, 1, 2, ..., or a function from an array of
        relevances to their gains.
    log_base (`float`): base of the discount's logarithm; default 2.
    ties: `"average"` (default; the expectation over all orders of tied documents), `"first"`
        or `"last"` (the one first or last in the input ranks first), `"best"` or `"worst"`
        (the order that scores highest or lowest), `"docid"` (as trec_eval: descending document
        ids; lists by position have none, so the last in the input ranks first; flat inputs with
        `query_ids` are refused if a tie would decide and `document_ids` are missing).
    zero_division (`float`): nDCG of a query with nothing relevant; default 0.0. `nan` leaves
        such queries out of the mean.
    negative_relevance: `"raise"` (default), `"clip"` (gain 0) or `"keep"`.
    judged_only (`bool`): leave out documents that were not judged before ranking; default False.
    ignore_index: the reference that marks padding, for instance -100; default: none.
    query_ids: for flat predictions and references, the id of each document's query.
    document_ids: with `query_ids`, the id of each document, for `ties="docid"`; a document that
        a query has twice is refused.
    use_aggregator (`bool`): the mean over queries (default) or, if False, a list with one
        value per query.
    engine: `"numpy"` (default) or `"sklearn"`, which hands the batch to
        `sklearn.metrics.ndcg_score` itself and knows only its options.

Returns:
    A dict: `{"nDCG": ...}`, `{"nDCG@10": ...}`, with several measures and cutoffs one entry
    for each, measures outer, cutoffs inner. Values are floats, nDCG between 0 and 1.

Examples:
    >>> ndcg = evaluate.load("ndcg.py")  # from a clone; from the Hub: evaluate.load("<user>/nDCG")
    >>> ndcg.compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]])
    {'nDCG': 0.6956940443813076}

    The top three only, then several cutoffs and measures at once:

    >>> ndcg.compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]], k=3)
    {'nDCG@3': 0.4123818817534531}
    >>> ndcg.compute(predictions=[[3, 2, 1]], references=[[0, 0, 2]], k=[1, 3], measures=["DCG", "nDCG"])
    {'DCG@1': 0.0, 'DCG@3': 1.0, 'nDCG@1': 0.0, 'nDCG@3': 0.5}

    Two documents share the first rank, one of them relevant; the other way of counting
    puts the last of them first:

    >>> ndcg.compute(predictions=[[1, 1, 0, 0, 0]], references=[[1, 0, 0, 0, 0]], k=1)
    {'nDCG@1': 0.5}
    >>> ndcg.compute(predictions=[[1, 1, 0, 0, 0]], references=[[1, 0, 0, 0, 0]], k=1, ignore_ties=True)
    {'nDCG@1': 0.0}

    Lists of different lengths, with a relevant document that was not retrieved; one value
    per query:

    >>> ndcg.compute(predictions=[[.9, None], [.5]], references=[[1, 1], [1]], use_aggregator=False)
    {'nDCG': [0.6131471927654585, 1.0]}
"""


@dataclass(frozen=True)
class Options:
    """How to read and score, checked."""

    cutoffs: tuple[int | None, ...]
    measures: tuple[str, ...]
    gain: Gain
    log_base: float
    ties: str
    zero_division: float
    negative_relevance: str
    judged_only: bool
    ignore_index: float | None

    @classmethod
    def parse(
        cls,
        *,
        k: Any = None,
        ignore_ties: Any = False,
        measures: Any = "nDCG",
        convention: Any = "sklearn",
        gain: Any = None,
        log_base: Any = None,
        ties: Any = None,
        zero_division: Any = None,
        negative_relevance: Any = None,
        judged_only: Any = False,
        ignore_index: Any = None,
        use_aggregator: Any = True,
        engine: Any = "numpy",
    ) -> "Options":
        """Check the arguments of `NDCG.compute`; None stands for the convention's choice.

        Raises:
            ValueError: names the option, what it was and what it may be.
        """
        _choice("engine", engine, ("numpy", "sklearn"))
        if not _flag("use_aggregator", use_aggregator) and engine == "sklearn":
            raise ValueError('engine="sklearn": scikit-learn answers with the mean only, not use_aggregator=False')
        names = _several("measures", measures, lambda name: _choice("measures", name, MEASURES))
        foreign = {
            "measures": None if names == ("nDCG",) else measures,
            "convention": None if _choice("convention", convention, tuple(CONVENTIONS)) == "sklearn" else convention,
            "gain": gain,
            "log_base": log_base,
            "ties": ties,
            "zero_division": zero_division,
            "negative_relevance": negative_relevance,
            "judged_only": True if _flag("judged_only", judged_only) else None,
            "ignore_index": ignore_index,
        }
        for name, value in foreign.items():
            if engine == "sklearn" and value is not None:
                raise ValueError(
                    f'engine="sklearn": sklearn.metrics.ndcg_score has no option {name}; got {shown(value)}'
                )
        if _flag("ignore_ties", ignore_ties) and ties not in (None, "last"):
            raise ValueError(
                f'ignore_ties=True means ties="last", but ties={shown(ties)} was given too; give one of the two'
            )
        chosen = CONVENTIONS[convention]
        if ties is None:
            ties = "last" if ignore_ties else chosen.ties
        if negative_relevance is None:
            negative_relevance = chosen.negative_relevance
        return cls(
            cutoffs=_several("k", k, _cutoff),
            measures=names,
            gain=_gain(chosen.gain if gain is None else gain),
            log_base=_log_base(2.0 if log_base is None else log_base),
            ties=_choice("ties", ties, (*TIES, "docid")),
            zero_division=_zero_division(chosen.zero_division if zero_division is None else zero_division),
            negative_relevance=_choice("negative_relevance", negative_relevance, ("raise", "clip", "keep")),
            judged_only=bool(judged_only),
            ignore_index=_ignore_index(ignore_index),
        )

    @property
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of `rankings.read`."""
        by_docid = self.ties == "docid"
        return {"judged_only": self.judged_only, "ignore_index": self.ignore_index, "by_docid": by_docid}

    @property
    def scoring(self) -> dict[str, Any]:
        """The keyword arguments of `scoring.score_queries`."""
        options = {name: value for name, value in vars(self).items() if name not in self.reading}
        return {**options, "ties": "last" if self.ties == "docid" else self.ties}

    def names(self) -> Iterator[tuple[str, str, int]]:
        """The name of each result, with its measure and the index of its cutoff."""
        for measure in self.measures:
            for row, k in enumerate(self.cutoffs):
                yield _at(measure, k), measure, row

    @property
    def signature(self) -> str:
        """Every choice that the numbers depend on, in one line."""
        choices = {
            "gain": _gain_name(self.gain),
            "log": _number(self.log_base),
            "ties": self.ties,
            "empty": _number(self.zero_division),
            "negative": self.negative_relevance,
            "unjudged": "removed" if self.judged_only else "0",
            **({} if self.ignore_index is None else {"ignored": _number(self.ignore_index)}),
            "v": __version__,
        }
        return "|".join(["+".join(name for name, _, _ in self.names()), *(f"{a}:{b}" for a, b in choices.items())])


def _hint(name: str, known: Sequence[str]) -> str:
    """Return the known name that a wrong one is nearly, or nothing."""
    by_name = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name[:100].lower(), by_name, 1)
    return by_name[near[0]] if near else ""


def _several(name: str, value: Any, check: Callable[[Any], Any]) -> tuple[Any, ...]:
    """One value or a sequence of them, each checked, repeats dropped."""
    several = isinstance(value, (list, tuple, range)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    values = value if several else [value]
    if not len(values):
        raise ValueError(f"{name} is empty; give at least one value")
    return tuple(dict.fromkeys(check(each) for each in values))


def _is_real(value: Any) -> bool:
    """Whether it is a number that float64 can hold, near enough; a bool is none."""
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _cutoff(k: Any) -> int | None:
    if k is not None and (not _is_real(k) or not isinstance(k, Integral) or int(k) < 1):
        raise ValueError(f"k must be a positive integer, None for the whole list, or a list of these; got {shown(k)}")
    return None if k is None else int(k)


def _choice(name: str, value: Any, choices: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        near = _hint(value, choices) if isinstance(value, str) else ""
        hint = f'; did you mean "{near}"?' if near else ""
        allowed = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f"{name} must be one of {allowed}; got {shown(value)}{hint}")
    return str(value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {shown(value)}")
    return bool(value)


def _log_base(value: Any) -> float:
    if not _is_real(value) or not 0 < float(value) < math.inf or float(value) == 1:
        raise ValueError(f"log_base must be a positive number other than 1; got {shown(value)}")
    return float(value)


def _zero_division(value: Any) -> float:
    if not _is_real(value) or math.isinf(float(value)):
        meaning = "a finite number, or nan to leave queries with nothing relevant out of the mean"
        raise ValueError(f"zero_division must be {meaning}; got {shown(value)}")
    return float(value)


def _ignore_index(value: Any) -> float | None:
    if value is not None and (not _is_real(value) or not math.isfinite(value)):
        raise ValueError(f"ignore_index must be a finite number, the reference of padding, or None; got {shown(value)}")
    if value is None or isinstance(value, Integral):
        return None if value is None else int(value)
    return float(value)


def _gain(value: Any) -> Gain:
    if isinstance(value, str):
        return _choice("gain", value, ("linear", "exponential", "binary"))
    if callable(value):
        function: Callable[[NDArray[np.float64]], Any] = value
        return function
    sequence = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    table = np.array(value, np.float64) if sequence and all(map(_is_real, value)) else np.empty(0)
    if not table.size or not np.isfinite(table).all():
        meaning = '"linear", "exponential", "binary", a list of the finite gains of labels 0, 1, 2, ... or a function'
        raise ValueError(f"gain must be {meaning}; got {shown(value)}")
    return table


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _gain_name(gain: Gain) -> str:
    """A name that two gains share if they are the same; a function goes by the gains of some labels."""
    if isinstance(gain, str):
        return gain
    if not callable(gain):
        return ",".join(map(_number, gain))
    gains: list[str] = []
    answered = False
    with np.errstate(all="ignore"):
        for label in (*range(-2, 33), 100, 1000, *(0.1 * tenth for tenth in range(1, 50))):
            try:
                gains.append(repr(np.asarray(gain(np.array([label], np.float64)), np.float64).tolist()))
                answered = True
            except Exception as error:  # noqa: BLE001 - whatever it is, this label has no gain
                gains.append(type(error).__name__)
    if not answered:
        raise ValueError(f"gain {shown(gain)} knows none of the labels 0, 1, 2, ... by which a signature names it")
    return f"function#{hashlib.sha256(' '.join(gains).encode()).hexdigest()[:8]}"


def ndcg_score(
    references: Any,
    predictions: Any,
    options: Options,
    sample_weight: Any = None,
    query_ids: Any = None,
    use_aggregator: bool = True,
    document_ids: Any = None,
) -> dict[str, float | list[float]]:
    """`sklearn.metrics.ndcg_score` for rankings of any form, every measure and cutoff.

    Returns:
        Under the name of each result its mean over queries, or all queries' values.

    Raises:
        ValueError: names the argument, query and position at fault.
    """
    values = _values(references, predictions, options, query_ids, document_ids)
    weight = None if sample_weight is None else _weights(sample_weight, len(next(iter(values.values()))))
    if not use_aggregator:
        return {name: each.tolist() for name, each in values.items()}
    return {name: _mean(name, each, weight) for name, each in values.items()}


def _values(
    references: Any, predictions: Any, options: Options, query_ids: Any = None, document_ids: Any = None
) -> dict[str, NDArray[np.float64]]:
    """Under the name of each result the values of all queries."""

    def score(part: Rankings) -> dict[str, NDArray[np.float64]]:
        scored = score_queries(**part.arrays(), **options.scoring)
        return {name: scored[measure][row] for name, measure, row in options.names()}

    return _by_query(references, predictions, options, query_ids, document_ids, score)


NO_QUERIES = "predictions and references hold no queries; there is nothing to score"


def _by_query(
    references: Any,
    predictions: Any,
    options: Options,
    query_ids: Any,
    document_ids: Any,
    describe: Callable[[Rankings], dict[str, NDArray[Any]]],
) -> dict[str, NDArray[Any]]:
    """What there is to say of each query, part by part of the input: columns by name."""
    described: list[dict[str, NDArray[Any]]] = []
    queries = 0
    bar = None
    with ExitStack() as until_done:
        sides = _from_file(predictions, "run"), _from_file(references, "qrels")
        for part in parts(*sides, query_ids=query_ids, document_ids=document_ids, **options.reading):
            if described and bar is None:
                bar = until_done.enter_context(_progress(len(predictions), "Scoring", " queries", initial=queries))
            with _Places(part, queries):
                described.append(describe(part))
            queries += part.queries
            if bar is not None:
                bar.update(part.queries)
    if not queries:
        raise ValueError(NO_QUERIES)
    return {name: np.concatenate([each[name] for each in described]) for name in described[0]}


def _details(
    references: Any, predictions: Any, options: Options, query_ids: Any = None, document_ids: Any = None
) -> dict[str, NDArray[Any]]:
    """The columns of a report's table of queries; `query` only where they have ids, `ideal` to know the empty ones."""

    def describe(part: Rankings) -> dict[str, NDArray[Any]]:
        arrays = part.arrays()
        how = {**options.scoring, "measures": tuple(dict.fromkeys([*options.measures, "IDCG"]))}
        by_ties = {ties: score_queries(**arrays, **{**how, "ties": ties}) for ties in {how["ties"], "worst", "best"}}
        scored = by_ties[how["ties"]]
        columns: dict[str, NDArray[Any]] = part.counts()
        if part.query_ids is not None:
            ids = part.query_ids.to_pylist() if isinstance(part.query_ids, pa.Array) else part.query_ids
            columns["query"] = np.fromiter(ids, object, part.queries)
        for name, measure, row in options.names():
            columns[name] = scored[measure][row]
            values = np.stack([each[measure][row] for each in by_ties.values()])
            columns[f"worst {name}"], columns[f"best {name}"] = values.min(axis=0), values.max(axis=0)
        unjudged = np.zeros((len(options.cutoffs), part.queries))
        if part.judged is not None:  # the gain of one for each of them, summed up to the cutoff
            arrays |= {"relevance": np.where(part.judged, 0.0, 1.0), "judged": None}
            # of tied documents those not judged, without gain, come last in the best order
            ties = {"best": "worst", "worst": "best"}.get(how["ties"], how["ties"])
            how |= {"measures": ("CG",), "gain": "linear", "ties": ties}
            unjudged = score_queries(**arrays, **how)["CG"]
        columns |= {_at("unjudged", k): each for k, each in zip(options.cutoffs, unjudged, strict=True)}
        columns["ideal"] = (scored["IDCG"] * math.copysign(1, math.log(options.log_base))).max(axis=0)
        return columns

    return _by_query(references, predictions, options, query_ids, document_ids, describe)


def _at(name: str, k: int | None) -> str:
    return name if k is None else f"{name}@{k}"


def _table(columns: dict[str, NDArray[Any]]) -> pa.Table:
    """The table of a report: ids or indices first, missing values as nulls."""
    queries = len(columns["ideal"])
    ids = columns["query"].tolist() if "query" in columns else list(range(queries))
    whole = all(isinstance(each, Integral) and not isinstance(each, bool) for each in ids)
    if whole and all(-(2**63) <= int(each) < 2**63 for each in ids):
        ids = list(map(int, ids))
    else:  # as text, in which what is no Unicode is spelled out
        ids = [str(each).encode("utf-8", "backslashreplace").decode() for each in ids]
    kept = {name: column for name, column in columns.items() if name not in ("query", "ideal", "retrieved and judged")}
    return pa.table(
        {
            "query": pa.array(ids),
            **{name: pa.array(column, from_pandas=True) for name, column in kept.items()},
        }
    )


def _scores(
    columns: dict[str, NDArray[Any]],
    options: Options,
    weight: NDArray[np.float64] | None,
    intervals: Intervals,
    first: int = 0,
) -> dict[str, Score]:
    """The scores of a system whose intervals stand from `first` on."""
    scores = {}
    counted = slice(None) if weight is None else weight > 0
    retrieved = columns["retrieved"][counted]
    for at, (name, _, row) in enumerate(options.names(), start=first):
        k = options.cutoffs[row]
        worst, best = columns[f"worst {name}"], columns[f"best {name}"]
        scores[name] = Score(
            value=_mean(name, columns[name], weight),
            low=float(intervals.low[at]),
            high=float(intervals.high[at]),
            standard_error=float(intervals.standard_error[at]),
            worst=_mean(name, worst, weight),
            best=_mean(name, best, weight),
            tied=int(np.count_nonzero(differences(best[counted], worst[counted]) > 0)),
            ranked=int(np.minimum(retrieved, retrieved if k is None else min(k, 2**62)).sum()),
            unjudged=float(columns[_at("unjudged", k)][counted].sum()),
        )
    return scores


def _notes(systems: Sequence[dict[str, NDArray[Any]]], options: Options) -> tuple[str, ...]:
    longest = max(int(columns[name].max()) for columns in systems for name in ("retrieved", "judged"))
    notes = [
        f"The cutoff {k} cuts nothing off: no query has more than {longest} documents retrieved, or judged."
        for k in options.cutoffs
        if k is not None and k > longest
    ]
    met = [columns["retrieved and judged"].any() for columns in systems if columns["retrieved"].any()]
    if systems[0]["judged"].any() and not all(met):
        notes.append("No document was both retrieved and judged: are the ids of documents the same on both sides?")
    return tuple(notes)


def _options(method: Callable[..., Any], k: Any, options: Mapping[str, Any], lacks: Sequence[str] = ()) -> Options:
    """Check the options of a method that takes its own and those of `compute`, but for those it lacks.

    Raises:
        ValueError: what `Options.parse` refuses.
        TypeError: an option that the method does not have; names the nearest or all it has.
    """
    own = [name for name, each in inspect.signature(method).parameters.items() if each.kind != each.VAR_KEYWORD]
    of_compute = [name for name in inspect.signature(Options.parse).parameters if name not in lacks]
    known = list(dict.fromkeys([*own, *of_compute]))
    for name in options:
        if name not in known:
            near = "" if name in lacks else _hint(name, known)
            hint = f"did you mean {near}?" if near else f"it has {', '.join(known)}"
            raise TypeError(f"{method.__name__} has no option {name[:100]}; {hint}")
    return Options.parse(k=k, **options)


# These methods score each query, and say themselves what becomes of the values.
PER_QUERY = ("use_aggregator", "engine")


def _system_names(systems: Any, baseline: Any) -> list[str]:
    if not isinstance(systems, Mapping) or len(systems) < 2:
        found = f"{len(systems)}" if isinstance(systems, Mapping) else type(systems).__name__
        raise ValueError(f"systems must map the names of at least two systems to their predictions; got {found}")
    for name in systems:
        if not isinstance(name, str) or not name.isprintable() or name in ("", "query", "difference"):
            problem = 'must be a string of printable characters, other than "query" and "difference"'
            raise ValueError(f"systems: a name {problem}; got {shown(name)}")
    if baseline is not None:
        _choice("baseline", baseline, tuple(systems))
    return list(systems)


def _same_queries(rankings: dict[str, Any], references: Any) -> None:
    """Raise an error if, by ids, a system has no ranking for a judged query that another ranks."""

    def queries(side: Any) -> set[Any] | None:
        if isinstance(side, Columns):
            return set(side.query_ids.to_pylist())
        return set(side) if isinstance(side, Mapping) else None

    judged = queries(references)
    if judged is None:
        return
    ranked = {name: found & judged for name, side in rankings.items() if (found := queries(side)) is not None}
    for name, own in ranked.items():
        if lacking := set().union(*ranked.values()) - own:
            query = min(lacking, key=str)
            other = next(each for each, theirs in ranked.items() if query in theirs)
            problem = f"no ranking for query {shown(query)}, which {shown(other)} has ({len(lacking)} such queries)"
            hint = (
                "if it retrieved nothing there, give it an empty ranking, {} (read_run makes a mapping of a file), "
                "or leave the query out of the references"
            )
            raise ValueError(f"systems[{shown(name)}]: {problem}; {hint}")


def _of_system(
    name: str, predictions: Any, references: Any, options: Options, query_ids: Any, document_ids: Any
) -> dict[str, NDArray[Any]]:
    """The details of one of several systems."""
    try:
        return _details(references, predictions, options, query_ids, document_ids)
    except ValueError as error:
        raise ValueError(f"systems[{shown(name)}]: {error}") from None


def _scaled(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of (systems, results, queries) as rows, each result divided by a power of two near its largest."""
    largest = np.nan_to_num(np.abs(values)).max(axis=(0, 2))
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    return (values / scale[:, np.newaxis]).reshape(-1, values.shape[2]), scale


def _progress(total: int, doing: str = "Resampling", unit: str = " resamples", initial: int = 0) -> Any:
    """Return a bar for what takes a few seconds, shown on a terminal only and unless those of datasets are disabled."""
    how = {"delay": 2, "leave": False, "disable": None}
    return datasets.utils.tqdm(total=total, desc=doing, unit=unit, initial=initial, **how)


def _resampling(confidence: Any, resamples: Any, seed: Any) -> Resampling:
    if not _is_real(confidence) or not 0 < float(confidence) < 1:
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95; got {shown(confidence)}")
    # more resamples would not fit into memory
    for name, value, least, most in (("resamples", resamples, 2, 10**8), ("seed", seed, 0, math.inf)):
        if not _is_real(value) or not isinstance(value, Integral) or not least <= int(value) <= most:
            upper = "" if most == math.inf else f" and at most {most:,}"
            raise ValueError(f"{name} must be an integer, at least {least}{upper}; got {shown(value)}")
    return Resampling(float(confidence), int(resamples), int(seed))


def _from_file(side: Any, kind: str, argument: str = "") -> Any:
    """What a TREC file holds, if the argument is the path of one."""
    if not isinstance(side, (str, os.PathLike)):
        return side
    argument = argument or ("predictions" if kind == "run" else "references")
    try:
        return Columns(*read_columns(side, kind))
    except OSError as error:
        problem = f"cannot be read as a TREC {kind} file: {error.strerror or error}"
        path = os.fsdecode(side)
        name = path if path.isprintable() and len(path) <= 500 else shown(path)  # it may be a file's content
        raise ValueError(f"{argument}: {name}: {problem}") from None
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


class _Places:
    """Turns the kernel's word on a value without a place into the metric's."""

    def __init__(self, rankings: Rankings, first_query: int = 0) -> None:
        self.rankings, self.first_query = rankings, first_query

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, InvalidRankingError):
            argument = {"relevance": "references", "score": "predictions"}[error.array]
            if self.rankings.place is not None:
                place = self.rankings.place(error.query, error.position)
                raise ValueError(f"{argument}: {place}: {error.problem}") from None
            error = InvalidRankingError(argument, self.first_query + error.query, error.position, error.problem)
            raise ValueError(str(error)) from None


def _weights(sample_weight: Any, queries: int) -> NDArray[np.float64]:
    """Return the weights, scaled by a power of two to at most 1, so that no sum of them overflows."""
    if is_query(sample_weight):
        kind = type(sample_weight).__name__
        problem = "whose rows may come in another order than the queries; give a column of the table with the rankings"
        raise ValueError(f"sample_weight: is a query of its own ({kind}), {problem}")
    weights = plain("sample_weight", sample_weight)
    if isinstance(weights, Mapping):
        raise ValueError("sample_weight must be a sequence of weights in the order of the queries; got a mapping")
    weights = weights if isinstance(weights, (list, tuple)) else np.asanyarray(weights)
    found = f"shape {np.shape(weights)}" if isinstance(weights, np.ndarray) and weights.ndim != 1 else len(weights)
    if found != queries:
        raise ValueError(f"sample_weight must hold one weight for each of {queries} queries; got {found}")
    if not isinstance(weights, np.ndarray) or weights.dtype.kind not in "biuf" or np.ma.is_masked(weights):
        given, weights = weights, list(map(number, weights))
        for query, value in enumerate(weights):
            if not _is_real(value) and not isinstance(value, (bool, np.bool_)):
                raise ValueError(f"sample_weight: query {query}: must be a number; got {shown(given[query])}")
    weight = np.asarray(weights, np.float64)
    invalid = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if invalid.size:
        query = int(invalid[0])
        raise ValueError(f"sample_weight: query {query}: must be finite and not negative; got {weight[query]}")
    if not weight.any():
        raise ValueError("sample_weight is 0 for every query; give at least one query a weight")
    return np.asarray(np.ldexp(weight, -np.frexp(weight.max())[1]))


def _mean(name: str, values: NDArray[np.float64], weight: NDArray[np.float64] | None) -> float:
    """The mean over the queries that have a value."""
    if np.isnan(values).any():
        valued = ~np.isnan(values)
        values, weight = values[valued], None if weight is None else weight[valued]
    if not values.size or (weight is not None and not weight.any()):
        problem = "no query of positive weight has anything relevant, and zero_division=nan leaves out the others"
        raise ValueError(f"{name}: {problem}; give a number for zero_division")
    with np.errstate(over="ignore"):
        mean = float(values.mean() if weight is None else np.average(values, weights=weight))
    if not math.isfinite(mean):
        raise ValueError(f"{name}: the sum over queries overflows; scale the gains")
    return mean


def _ndcg_score_of_sklearn(
    references: Any,
    predictions: Any,
    options: Options,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
) -> dict[str, float | list[float]]:
    """What `sklearn.metrics.ndcg_score` itself answers."""
    try:
        from sklearn.metrics import ndcg_score as sklearn_ndcg_score
    except ImportError:
        raise ImportError('engine="sklearn" needs scikit-learn: pip install scikit-learn') from None
    predictions, references, query_ids, document_ids = settled(
        predictions=predictions, references=references, query_ids=query_ids, document_ids=document_ids
    )
    sides = _from_file(predictions, "run"), _from_file(references, "qrels")
    rankings = read(*sides, query_ids=query_ids, document_ids=document_ids)
    if not rankings.queries:
        raise ValueError(NO_QUERIES)
    weight = None if sample_weight is None else _weights(sample_weight, rankings.queries)
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
    with _Places(rankings):
        check_queries(relevance, score)
        for query, position in np.argwhere(relevance < 0)[:1].tolist():
            problem = f"the relevance {relevance[query, position]} is negative, which scikit-learn refuses"
            raise InvalidRankingError("relevance", query, position, problem)
    score = score.astype(np.int8) if score.dtype == bool else score  # it takes the scores' negatives
    how = {"sample_weight": weight, "ignore_ties": options.ties == "last"}
    result: dict[str, float | list[float]] = {}
    for name, _, row in options.names():
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(sklearn_ndcg_score(relevance, score, k=options.cutoffs[row], **how))
        if not math.isfinite(value):
            raise ValueError(
                f'engine="sklearn": {name}: sums overflow in scikit-learn; scale the relevances or weights'
            )
        result[name] = value
    return result


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class NDCG(Batches, evaluate.Metric):
    """nDCG, DCG, IDCG and CG of rankings.

    Batches are kept as Arrow lists on disk (in memory with `keep_in_memory`) until `compute`
    scores them all; a `compute` of inputs alone touches neither.
    """

    def _info(self) -> evaluate.MetricInfo:
        lists = datasets.Sequence(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=datasets.Features({"predictions": lists, "references": lists}),
            license="MIT",
            reference_urls=[
                "https://doi.org/10.1145/582415.582418",
                "https://doi.org/10.1007/978-3-540-78646-7_38",
                "https://scikit-learn.org/stable/modules/generated/sklearn.metrics.ndcg_score.html",
            ],
        )

    def add_batch(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        query_ids: Any = None,
        ignore_index: Any = None,
        document_ids: Any = None,
    ) -> None:
        """Add whole queries, to be scored by a later `compute`. A refused batch adds nothing.

        A query that was added before, by its id, is refused: its documents belong into one batch.
        """
        ids = {"query_ids": query_ids, "document_ids": document_ids}
        self._add(partial(self._read, predictions, references, **ids, ignore_index=_ignore_index(ignore_index)))

    def add(
        self, *, prediction: Any = None, reference: Any = None, predictions: Any = None, references: Any = None
    ) -> None:
        """Add one query: the scores of its documents and their relevance.

        `predictions` and `references` are the same by the names that `evaluate.combine` uses.
        """
        if prediction is None and reference is None:
            prediction, reference = predictions, references
        elif predictions is not None or references is not None:
            raise ValueError("give one query as prediction and reference or as predictions and references, not as both")
        self._add(partial(self._read, [prediction], [reference]))

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        k: Any = None,
        sample_weight: Any = None,
        ignore_ties: bool = False,
        measures: Any = "nDCG",
        convention: str = "sklearn",
        gain: Any = None,
        log_base: float | None = None,
        ties: str | None = None,
        zero_division: float | None = None,
        negative_relevance: str | None = None,
        judged_only: bool = False,
        ignore_index: float | None = None,
        query_ids: Any = None,
        document_ids: Any = None,
        use_aggregator: bool = True,
        engine: str = "numpy",
    ) -> dict[str, float | list[float]] | None:
        """Score the queries given and those added before.

        A call that raises leaves the queries added before as they were. With several
        processes the result is that of all of them, in process 0, and None in the others.
        """
        options = Options.parse(
            k=k,
            ignore_ties=ignore_ties,
            measures=measures,
            convention=convention,
            gain=gain,
            log_base=log_base,
            ties=ties,
            zero_division=zero_division,
            negative_relevance=negative_relevance,
            judged_only=judged_only,
            ignore_index=ignore_index,
            use_aggregator=use_aggregator,
            engine=engine,
        )
        how = {"options": options, "sample_weight": sample_weight, "use_aggregator": use_aggregator, "engine": engine}
        score = partial(self._compute, **how)
        return self._over_all(predictions, references, query_ids, options, score, document_ids)

    def _over_all(
        self,
        predictions: Any,
        references: Any,
        query_ids: Any,
        options: Options,
        score: Callable[..., Result],
        document_ids: Any = None,
    ) -> Result | None:
        """What `score` makes of the queries given and those added before; None in processes other than 0."""
        given = predictions is not None or references is not None
        for name, ids in (("query_ids", query_ids), ("document_ids", document_ids)):
            if ids is not None and not given:
                raise ValueError(f"{name} without predictions and references: give them to add_batch with the batch")
        if given and self.num_process == 1 and not self._holds_batches():
            return score(predictions, references, query_ids=query_ids, document_ids=document_ids)
        if options.ties == "docid":
            problem = "batches and several processes keep no document ids"
            hint = 'where documents are in ascending order of their ids, ties="last" is the same'
            raise ValueError(f'ties="docid": {problem}; {hint}')
        ids = {"query_ids": query_ids, "document_ids": document_ids}
        read = partial(self._read, predictions, references, **ids, ignore_index=options.ignore_index) if given else None

        def check(predictions: Any, references: Any) -> None:
            _values(references, predictions, options)

        return self._score(read, check, score, options.ignore_index)

    def _compute(
        self,
        predictions: Any,
        references: Any,
        options: Options,
        sample_weight: Any = None,
        use_aggregator: bool = True,
        engine: str = "numpy",
        query_ids: Any = None,
        document_ids: Any = None,
    ) -> dict[str, float | list[float]]:
        if engine == "sklearn":
            return _ndcg_score_of_sklearn(references, predictions, options, sample_weight, query_ids, document_ids)
        return ndcg_score(references, predictions, options, sample_weight, query_ids, use_aggregator, document_ids)

    def report(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        k: Any = None,
        sample_weight: Any = None,
        query_ids: Any = None,
        document_ids: Any = None,
        confidence: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
        **options: Any,
    ) -> Report | None:
        """Score as `compute` does, and say how sure the scores are and what they rest on.

        Args:
            predictions: as in `compute`; without any, the batches added before are reported on,
                and are then done with.
            references: likewise.
            k: the cutoff or cutoffs.
            sample_weight: one weight per query for the mean.
            query_ids: for flat predictions and references.
            document_ids: with `query_ids`.
            confidence: of the intervals, between 0 and 1.
            resamples: how often the bootstrap draws the queries anew.
            seed: of the random numbers; the same seed gives the same report.
            **options: of `compute`, but `use_aggregator` and `engine`.

        Returns:
            The report; None in processes other than 0.

        Raises:
            ValueError: what `compute` refuses, and fewer than two queries.
            ImportError: SciPy is missing.

        >>> report = evaluate.load("ndcg.py").report(
        ...     predictions=[[3, 2, 1], [1, 1, 2], [1, 2, 3]], references=[[2, 1, 0], [1, 0, 0], [0, 0, 1]], k=[1, 3]
        ... )
        >>> report.scores["nDCG@3"].value.__round__(4), report.scores["nDCG@3"].tied
        (0.8552, 1)
        """
        resampling = _resampling(confidence, resamples, seed)
        parsed = _options(self.report, k, options, PER_QUERY)
        signature = self.signature(k, sample_weight=sample_weight, **options)

        def score(predictions: Any, references: Any, query_ids: Any = None, document_ids: Any = None) -> Report:
            columns = _details(references, predictions, parsed, query_ids, document_ids)
            queries = len(columns["ideal"])
            weight = None if sample_weight is None else _weights(sample_weight, queries)
            values, scale = _scaled(np.stack([[columns[name] for name, _, _ in parsed.names()]]))
            with _progress(resampling.resamples) as bar:
                found = bootstrap(values, weight, **resampling.drawing, advance=bar.update)
            intervals = Intervals(*(each * scale for each in found))
            return Report(
                signature=signature,
                scores=_scores(columns, parsed, weight, intervals),
                counts={
                    "queries": queries,
                    "nothing_relevant": int(np.count_nonzero(columns["ideal"] <= 0)),
                    "nothing_retrieved": int(np.count_nonzero(columns["retrieved"] == 0)),
                },
                queries=_table(columns),
                resampling=resampling,
                notes=_notes([columns], parsed),
            )

        return self._over_all(predictions, references, query_ids, parsed, score, document_ids)

    def compare(
        self,
        *,
        systems: Mapping[str, Any],
        references: Any,
        k: Any = None,
        baseline: str | None = None,
        sample_weight: Any = None,
        query_ids: Any = None,
        document_ids: Any = None,
        confidence: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
        **options: Any,
    ) -> Comparison:
        """Which of several systems ranks better on the same queries, and how sure that is.

        Each pair of systems, or each system and the baseline, is compared query by query: the
        difference with its bootstrap interval, a paired randomisation test and a paired t-test,
        both also corrected by Holm for all pairs of a measure.

        Args:
            systems: the predictions of each system by its name, in any form of `compute`.
            references: the relevances that all of them are scored by.
            k: the cutoff or cutoffs.
            baseline: the system to compare all others with; None for each with each.
            sample_weight: one weight per query for the means.
            query_ids: for flat predictions and references.
            document_ids: with `query_ids`.
            confidence: of the intervals, between 0 and 1.
            resamples: how often queries are drawn, and exchanged between systems.
            seed: of the random numbers; the same seed gives the same comparison.
            **options: of `compute`, but `use_aggregator` and `engine`.

        Raises:
            ValueError: what `compute` refuses, with the system's name; fewer than two systems or
                queries; systems with rankings of different queries; an unknown baseline.
            ImportError: SciPy is missing.

        >>> comparison = evaluate.load("ndcg.py").compare(
        ...     systems={"a": [[3, 2, 1], [1, 2, 3]], "b": [[1, 2, 3], [1, 3, 2]]},
        ...     references=[[2, 1, 0], [0, 0, 1]],
        ... )
        >>> [(pair.system, pair.other, round(pair.difference, 4), pair.p) for pair in comparison.pairs]
        [('a', 'b', 0.3746, 0.5)]
        """
        resampling = _resampling(confidence, resamples, seed)
        parsed = _options(self.compare, k, options, PER_QUERY)
        names = _system_names(systems, baseline)
        runs = {
            f"systems[{shown(name)}]": _from_file(systems[name], "run", f"systems[{shown(name)}]") for name in names
        }
        references, query_ids, document_ids, *runs_read = settled(
            references=_from_file(references, "qrels"), query_ids=query_ids, document_ids=document_ids, **runs
        )
        rankings = dict(zip(names, runs_read, strict=True))
        _same_queries(rankings, references)
        described = {
            name: _of_system(name, rankings[name], references, parsed, query_ids, document_ids) for name in names
        }
        table = {name: _table(columns) for name, columns in described.items()}
        queries = len(next(iter(described.values()))["ideal"])
        weight = None if sample_weight is None else _weights(sample_weight, queries)
        results = [name for name, _, _ in parsed.names()]
        several = len(results)
        values, scale = _scaled(np.stack([[columns[name] for name in results] for columns in described.values()]))
        others = [(at, of) for at in range(len(names)) for of in range(at + 1, len(names))]
        if baseline is not None:
            others = [(at, names.index(baseline)) for at in range(len(names)) if names[at] != baseline]
        pairs = [(at * several + row, of * several + row) for row in range(several) for at, of in others]
        with _progress(2 * resampling.resamples) as bar:
            resampled = bootstrap(values, weight, pairs, **resampling.drawing, advance=bar.update)
            scales = np.concatenate([np.tile(scale, len(names)), np.repeat(scale, len(others))])
            intervals = Intervals(*(each * scales for each in resampled))
            drawing = {"resamples": resampling.resamples, "seed": resampling.seed}
            tests = paired_tests(values, weight, pairs, **drawing, advance=bar.update)
        scores = {
            name: _scores(columns, parsed, weight, intervals, at * several)
            for at, (name, columns) in enumerate(described.items())
        }
        found = []
        for row, result in enumerate(results):
            of_measure = range(row * len(others), (row + 1) * len(others))
            p_holm, p_t_holm = (holm(each[of_measure]) for each in (tests.randomization, tests.t_test))
            for at, (system, other) in enumerate(others):
                pair = of_measure[at]
                plus, minus = pairs[pair]
                difference = differences(values[plus], values[minus])[slice(None) if weight is None else weight > 0]
                mean = [np.array(scores[names[each]][result].value) for each in (system, other)]
                found.append(
                    Pair(
                        measure=result,
                        system=names[system],
                        other=names[other],
                        difference=float(differences(*mean)),
                        low=float(intervals.low[len(values) + pair]),
                        high=float(intervals.high[len(values) + pair]),
                        standard_error=float(intervals.standard_error[len(values) + pair]),
                        p=float(tests.randomization[pair]),
                        p_holm=float(p_holm[at]),
                        p_t=float(tests.t_test[pair]),
                        p_t_holm=float(p_t_holm[at]),
                        wins=int((difference > 0).sum()),
                        ties=int((difference == 0).sum()),
                        losses=int((difference < 0).sum()),
                    )
                )
        return Comparison(
            signature=self.signature(k, sample_weight=sample_weight, **options),
            scores=scores,
            pairs=tuple(found),
            baseline=baseline,
            queries=pa.concat_tables(
                each.select(["query", *results]).add_column(0, "system", pa.array([name] * queries, pa.string()))
                for name, each in table.items()
            ),
            resampling=resampling._replace(exact=bool(tests.exact.all())),
            notes=_notes(list(described.values()), parsed),
        )

    def compute_spark(
        self,
        df: Any,
        *,
        prediction: str,
        reference: str,
        query: str | None = None,
        document: str | None = None,
        sample_weight: str | None = None,
        k: Any = None,
        use_aggregator: bool = True,
        **options: Any,
    ) -> Any:
        """Score a Spark DataFrame where its rows are, as `compute` scores what is in memory.

        A row is a document, with the id of its query, or, where `prediction` and `reference` are
        arrays, a query. A null prediction marks a document that was not retrieved, a null
        reference one that was not judged: so the full outer join of a run and qrels is scored
        as it is, each query that only the run has as one with nothing relevant. The executors
        need NumPy and pyarrow only. Works in classic and Spark Connect sessions.

        Args:
            df: the DataFrame; its rows in any order.
            prediction: the column of scores.
            reference: the column of relevances.
            query: the column of query ids, integers or strings; needed where a row is a document.
            document: the column of document ids, for `ties="docid"`; then a document that a query
                has twice is refused.
            sample_weight: the column of weights, the same in all rows of a query.
            k: the cutoff or cutoffs.
            use_aggregator: the means over all queries (default) or, if False, a DataFrame with a
                row for each query: its id, and its values in columns named as the results.
            **options: of `compute`, but `engine` and `query_ids`. Rows have no order, so `ties`
                may be `"first"` or `"last"` only in arrays.

        Returns:
            The means by name, as of `compute`, or the DataFrame, which is computed when it is used.

        Raises:
            ValueError: what `compute` refuses, with the id of the query; a column that is missing
                or of a wrong type. Of a DataFrame of values, when it is used, as Spark's error.
            ImportError: PySpark is missing.

        >>> from pyspark.sql import SparkSession  # doctest: +SKIP
        >>> df = SparkSession.builder.getOrCreate().createDataFrame(  # doctest: +SKIP
        ...     [("q", 3.0, 2), ("q", 2.0, 0), ("q", 1.0, 1)], "query string, score double, relevance int"
        ... )
        >>> ndcg = evaluate.load("ndcg.py")
        >>> ndcg.compute_spark(df, query="query", prediction="score", reference="relevance", k=2)  # doctest: +SKIP
        {'nDCG@2': 0.7601875334318685}
        """
        parsed = _options(self.compute_spark, k, options, PER_QUERY)
        frame = arranged(
            df,
            query=query,
            prediction=prediction,
            reference=reference,
            document=document,
            sample_weight=sample_weight,
            ties=parsed.ties,
        )
        sources = code_of(read), code_of(score_queries)
        job = Job(sources, parsed.reading, parsed.scoring, tuple(parsed.names()))
        if not _flag("use_aggregator", use_aggregator):
            if query is None:
                raise ValueError("query must name the column of query ids where every query's values are asked for")
            return by_query(frame, job)
        found = means(frame, job)
        if found is None:
            raise ValueError("the DataFrame holds no queries; there is nothing to score")
        return {name: _mean(name, np.array([value]), None) for name, value in found.items()}

    def trainer_metrics(
        self,
        k: Any = None,
        *,
        query_ids: Callable[[NDArray[Any]], Any] | None = None,
        main_input: str = "input_ids",
        ignore_index: float | None = -100,
        **options: Any,
    ) -> TrainerMetrics:
        """The function for `transformers.Trainer(compute_metrics=...)`.

        It serves whole evaluation sets and, with `TrainingArguments(batch_eval_metrics=True)`,
        batches: then no predictions are kept. The Trainer reports the results as
        `eval_nDCG@10`.

        Args:
            k: the cutoff or cutoffs, as in `compute`.
            query_ids: None where each row of the model's output is a query and its columns are
                documents. Where each row is one document: a function that gets the model's
                main input, an array, and returns the query id of each row. It needs
                `TrainingArguments(include_for_metrics=["inputs"])`, and with batches a single
                process: the Trainer does not gather the inputs of several.
            main_input: the name of the model's main input.
            ignore_index: the label of padding, which the Trainer itself uses to make
                batches of one width.
            **options: of `compute`, but `sample_weight`, `use_aggregator` and `engine`.

        Raises:
            ValueError: an option that `compute` refuses.

        >>> metrics = evaluate.load("ndcg.py").trainer_metrics(k=1)
        >>> from transformers import EvalPrediction  # doctest: +SKIP
        >>> metrics(EvalPrediction(np.array([[.9, .1, -100]]), np.array([[1, 0, -100]])))  # doctest: +SKIP
        {'nDCG@1': 1.0}
        """
        parsed = _options(self.trainer_metrics, k, {"ignore_index": ignore_index, **options}, PER_QUERY)

        def score(predictions: Any, references: Any, query_ids: Any) -> dict[str, NDArray[np.float64]]:
            return _values(references, predictions, parsed, query_ids)

        def mean(values: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
            return {name: _mean(name, each, None) for name, each in values.items()}

        return TrainerMetrics(score, mean, query_ids, main_input)

    def signature(self, k: Any = None, *, sample_weight: Any = None, **options: Any) -> str:
        """Every choice that a score depends on, in one line: scores compare if their signatures are equal.

        Args:
            k: the cutoff or cutoffs, as in `compute`.
            sample_weight: weights of the queries; the signature says whether there are any.
            **options: of `compute`.

        >>> evaluate.load("ndcg.py").signature(k=10)
        'nDCG@10|gain:linear|log:2|ties:average|empty:0|negative:raise|unjudged:0|v:1.0.0'
        """
        parsed = _options(self.signature, k, options)
        return parsed.signature + "|weights:given" * (sample_weight is not None)

    @staticmethod
    def read_run(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
        """The scores of a TREC run file: `{query: {document: score}}`."""
        return read_run(path)

    @staticmethod
    def read_qrels(path: str | os.PathLike[str]) -> dict[str, dict[str, int]]:
        """The relevances of a TREC qrels file: `{query: {document: relevance}}`."""
        return read_qrels(path)

    def _read(
        self,
        predictions: Any,
        references: Any,
        query_ids: Any = None,
        document_ids: Any = None,
        ignore_index: float | None = None,
    ) -> Batch:
        """Return queries as a batch, if they can be scored."""
        for name, values in (("predictions", predictions), ("references", references)):
            if values is None:
                raise ValueError(f"{name} are missing; give predictions and references together")
        predictions, references = _from_file(predictions, "run"), _from_file(references, "qrels")
        ids_of_rows = {"query_ids": query_ids, "document_ids": document_ids}
        rankings = read(predictions, references, **ids_of_rows, ignore_index=ignore_index)
        with _Places(rankings):
            check_queries(**rankings.arrays())
        return self._batch(*to_arrow(rankings), rankings.query_ids)


# For who has only the loaded metric: `from_dict` reads them back.
NDCG.Report, NDCG.Comparison = Report, Comparison
