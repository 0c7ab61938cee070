"""nDCG for `evaluate`: the metric that `evaluate.load` loads.

It declares the metric, checks the options once at the door, hands the rankings to the
kernel and names the results. How rankings are read and scored is in the modules it imports.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, TypeVar

import datasets
import evaluate
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .batches import Batch, Batches
from .conventions import CONVENTIONS as CONVENTIONS
from .options import Options, choice, is_real, result_name, signature
from .queries import checked_rankings, describe_queries, from_file, mean, progress, query_values, scores, weights
from .rankings import Columns, Rankings, read, settled, shown, to_arrow
from .report import Comparison, Pair, Report, Resampling, Score
from .scoring import score_queries
from .significance import Intervals, bootstrap, differences, holm, paired_tests
from .spark import Job, arranged, by_query, code_of, means
from .store import Store as Store
from .trainer import TrainerMetrics
from .trec import read_qrels, read_run

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
        `"lightgbm"`, ... (the metric card lists them). It decides what `gain`, `ties`,
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


def _details(
    predictions: Any, references: Any, query_ids: Any = None, document_ids: Any = None, *, options: Options
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
        columns |= {result_name("unjudged", k): each for k, each in zip(options.cutoffs, unjudged, strict=True)}
        columns["ideal"] = (scored["IDCG"] * math.copysign(1, math.log(options.log_base))).max(axis=0)
        return columns

    return describe_queries(describe, predictions, references, query_ids, document_ids, options)


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
            value=mean(name, columns[name], weight),
            low=float(intervals.low[at]),
            high=float(intervals.high[at]),
            standard_error=float(intervals.standard_error[at]),
            worst=mean(name, worst, weight),
            best=mean(name, best, weight),
            tied=int(np.count_nonzero(differences(best[counted], worst[counted]) > 0)),
            ranked=int(np.minimum(retrieved, retrieved if k is None else min(k, 2**62)).sum()),
            unjudged=float(columns[result_name("unjudged", k)][counted].sum()),
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


def _system_names(systems: Any, baseline: Any) -> list[str]:
    if not isinstance(systems, Mapping) or len(systems) < 2:
        found = f"{len(systems)}" if isinstance(systems, Mapping) else type(systems).__name__
        raise ValueError(f"systems must map the names of at least two systems to their predictions; got {found}")
    for name in systems:
        if not isinstance(name, str) or not name.isprintable() or name in ("", "query", "difference"):
            problem = 'must be a string of printable characters, other than "query" and "difference"'
            raise ValueError(f"systems: a name {problem}; got {shown(name)}")
    if baseline is not None:
        choice("baseline", baseline, tuple(systems))
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
    name: str, predictions: Any, references: Any, query_ids: Any, document_ids: Any, options: Options
) -> dict[str, NDArray[Any]]:
    """The details of one of several systems."""
    try:
        return _details(predictions, references, query_ids, document_ids, options=options)
    except ValueError as error:
        raise ValueError(f"systems[{shown(name)}]: {error}") from None


def _scaled(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of (systems, results, queries) as rows, each result divided by a power of two near its largest."""
    largest = np.nan_to_num(np.abs(values)).max(axis=(0, 2))
    scale = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    return (values / scale[:, np.newaxis]).reshape(-1, values.shape[2]), scale


def _resampling(confidence: Any, resamples: Any, seed: Any) -> Resampling:
    if not is_real(confidence) or not 0 < float(confidence) < 1:
        raise ValueError(f"confidence must be between 0 and 1, such as 0.95; got {shown(confidence)}")
    # more resamples would not fit into memory
    for name, value, least, most in (("resamples", resamples, 2, 10**8), ("seed", seed, 0, math.inf)):
        if not is_real(value) or not isinstance(value, Integral) or not least <= int(value) <= most:
            upper = "" if most == math.inf else f" and at most {most:,}"
            raise ValueError(f"{name} must be an integer, at least {least}{upper}; got {shown(value)}")
    return Resampling(float(confidence), int(resamples), int(seed))


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
        ignore_index = Options.parse(ignore_index=ignore_index).ignore_index
        self._add(partial(self._read, predictions, references, query_ids, document_ids, ignore_index))

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
        score = partial(scores, options=options, sample_weight=sample_weight)
        return self._score_all(score, predictions, references, query_ids, document_ids, options)

    def _score_all(
        self,
        score: Callable[..., Result],
        predictions: Any,
        references: Any,
        query_ids: Any,
        document_ids: Any,
        options: Options,
    ) -> Result | None:
        """Return what a function makes of the queries given and those added before; None in processes other than 0."""
        given = predictions is not None or references is not None
        for name, ids in (("query_ids", query_ids), ("document_ids", document_ids)):
            if ids is not None and not given:
                raise ValueError(f"{name} without predictions and references: give them to add_batch with the batch")
        if given and self.num_process == 1 and not self._holds_batches():
            return score(predictions, references, query_ids, document_ids)
        if options.ties == "docid":
            problem = "batches and several processes keep no document ids"
            hint = 'where documents are in ascending order of their ids, ties="last" is the same'
            raise ValueError(f'ties="docid": {problem}; {hint}')
        inputs = (predictions, references, query_ids, document_ids, options.ignore_index)
        read = partial(self._read, *inputs) if given else None
        return self._score(read, partial(query_values, options=options), score, options.ignore_index)

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
        parsed = Options.of_method(self.report, k, options)
        signature = parsed.signature(weighted=sample_weight is not None)

        def score(predictions: Any, references: Any, query_ids: Any = None, document_ids: Any = None) -> Report:
            columns = _details(predictions, references, query_ids, document_ids, options=parsed)
            queries = len(columns["ideal"])
            weight = weights(sample_weight, queries)
            values, scale = _scaled(np.stack([[columns[name] for name, _, _ in parsed.names()]]))
            with progress(resampling.resamples, "Resampling", " resamples") as bar:
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

        return self._score_all(score, predictions, references, query_ids, document_ids, parsed)

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
        parsed = Options.of_method(self.compare, k, options)
        names = _system_names(systems, baseline)
        runs = {f"systems[{shown(name)}]": from_file(f"systems[{shown(name)}]", systems[name]) for name in names}
        references, query_ids, document_ids, *runs_read = settled(
            references=from_file("references", references), query_ids=query_ids, document_ids=document_ids, **runs
        )
        rankings = dict(zip(names, runs_read, strict=True))
        _same_queries(rankings, references)
        described = {
            name: _of_system(name, rankings[name], references, query_ids, document_ids, parsed) for name in names
        }
        table = {name: _table(columns) for name, columns in described.items()}
        queries = len(next(iter(described.values()))["ideal"])
        weight = weights(sample_weight, queries)
        results = [name for name, _, _ in parsed.names()]
        several = len(results)
        values, scale = _scaled(np.stack([[columns[name] for name in results] for columns in described.values()]))
        others = [(at, of) for at in range(len(names)) for of in range(at + 1, len(names))]
        if baseline is not None:
            others = [(at, names.index(baseline)) for at in range(len(names)) if names[at] != baseline]
        pairs = [(at * several + row, of * several + row) for row in range(several) for at, of in others]
        with progress(2 * resampling.resamples, "Resampling", " resamples") as bar:
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
            signature=parsed.signature(weighted=sample_weight is not None),
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
        parsed = Options.of_method(self.compute_spark, k, {"use_aggregator": use_aggregator, **options})
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
        if not parsed.use_aggregator:
            if query is None:
                raise ValueError("query must name the column of query ids where every query's values are asked for")
            return by_query(frame, job)
        found = means(frame, job)
        if found is None:
            raise ValueError("the DataFrame holds no queries; there is nothing to score")
        return {name: mean(name, np.array([value])) for name, value in found.items()}

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
        parsed = Options.of_method(self.trainer_metrics, k, {"ignore_index": ignore_index, **options})

        def score(predictions: Any, references: Any, query_ids: Any) -> dict[str, NDArray[np.float64]]:
            return query_values(predictions, references, query_ids, options=parsed)

        def means_of(values: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
            return {name: mean(name, each) for name, each in values.items()}

        return TrainerMetrics(score, means_of, query_ids, main_input)

    signature = staticmethod(signature)

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
        ids = {"query_ids": query_ids, "document_ids": document_ids}
        rankings = checked_rankings(predictions, references, **ids, ignore_index=ignore_index)
        return self._batch(*to_arrow(rankings), rankings.query_ids)


# For who has only the loaded metric: `from_dict` reads them back.
NDCG.Report, NDCG.Comparison = Report, Comparison
