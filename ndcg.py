"""nDCG for Hugging Face `evaluate`: the metric that `evaluate.load` opens.

It describes the metric and defines its class. The code that does the work is in src/ndcg; evaluate
gets it as one file, ndcg_bundle.py, since every file beside this one costs a request.
"""

if not __package__:
    raise ImportError("this is the file that evaluate.load opens: load it with evaluate, or import the package ndcg")

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, Unpack

import datasets
import evaluate

from .ndcg_bundle import (
    CONVENTIONS,
    OPTIONS,
    SLIPS,
    Batch,
    Batches,
    Check,
    Comparison,
    ComputeOptions,
    Cutoffs,
    Explanation,
    Inputs,
    Limits,
    NothingExcludedError,
    Options,
    QueryOptions,
    Report,
    Resampling,
    check,
    checked_rankings,
    compare,
    compute,
    compute_spark,
    explain,
    from_files,
    from_frame,
    is_spark,
    join_tasks,
    lightgbm_metric,
    lines_of,
    meter,
    query_values,
    read_mteb,
    read_qrels,
    read_run,
    refuse_unknown,
    report,
    report_on,
    scorer,
    scores,
    sentence_transformers_evaluator,
    settled,
    shows_options,
    signature,
    to_arrow,
    trainer_metrics,
    xgboost_metric,
)

Result = TypeVar("Result")

IDS = Inputs._fields[2:]  # what rankings may have besides predictions and references

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

_GIVEN = ("predictions", "references", "k", "sample_weight", "query_ids", "document_ids", "data", "exclude")
_KWARGS_DESCRIPTION = f"""
Args:
{lines_of(*_GIVEN, *(name for name in OPTIONS if name not in _GIVEN))}
"""
_KWARGS_DESCRIPTION += """
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
        data: Any = None,
        exclude: Any = None,
    ) -> None:
        """Add whole queries, to be scored by a later `compute`; a refused batch adds nothing.

        With `query_ids`, add all documents of a query in one batch; a query already added is refused.
        `exclude` may cover the whole data set: a batch may have none of its queries, as long as some batch has.
        """
        ignore_index = Options.parse(ignore_index=ignore_index).ignore_index
        inputs = Inputs(predictions, references, query_ids, document_ids, exclude)
        self._add(lambda: self._read(from_frame(data, inputs)[0], ignore_index))

    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        predictions: Any = None,
        references: Any = None,
        exclude: Any = None,
    ) -> None:
        """Add one query: the scores of its documents, or their ids, best first, and their relevance.

        `predictions` and `references` are the same by the names that `evaluate.combine` uses. `exclude` holds
        the ids of documents that take no rank in this query; without ids of documents it is an error.
        """
        if prediction is None and reference is None:
            prediction, reference = predictions, references
        elif predictions is not None or references is not None:
            raise ValueError("give one query as prediction and reference or as predictions and references, not as both")
        if isinstance(exclude, Mapping):
            raise ValueError("exclude: must be a list or a set of ids; give {query: ids} to add_batch or compute")
        excluded = None if exclude is None else [exclude]
        self._add(partial(self._read, Inputs([prediction], [reference], exclude=excluded)))

    @shows_options
    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        k: Cutoffs = None,
        sample_weight: Any = None,
        query_ids: Any = None,
        document_ids: Any = None,
        data: Any = None,
        exclude: Any = None,
        **options: Unpack[ComputeOptions],
    ) -> Any:
        """Score the queries given and those added before.

        A call that raises leaves the queries added before as they were. With several
        processes the result is that of all of them, in process 0, and None in the others.
        """
        inputs = Inputs(predictions, references, query_ids, document_ids, exclude)
        if is_spark(data):
            if self.num_process > 1 or self._holds_batches():
                raise ValueError("data: a DataFrame of Spark is scored on its own, not together with batches")
            if type(self)._compute is not NDCG._compute:
                problem = "a DataFrame of Spark is not scored by _compute, which this class overrides"
                raise ValueError(f"data: {problem}; call compute_spark, or collect the rankings")
            return compute(**inputs._asdict(), k=k, sample_weight=sample_weight, data=data, **options)
        known: Any = options
        if not options.keys() <= OPTIONS.keys():
            own = self._own_options()
            known = {name: each for name, each in options.items() if name in OPTIONS or name not in own}
            refuse_unknown(known, self.compute)
        inputs, weight = from_frame(data, inputs, sample_weight)
        given: dict[str, Any] = {**options}
        for name, value in (("k", k), ("sample_weight", weight)):
            if value is not None:
                given[name] = value

        def score(inputs: Inputs) -> Any:
            ids = {name: each for name, each in zip(IDS, inputs[2:], strict=True) if each is not None}
            return self._compute(predictions=inputs.predictions, references=inputs.references, **ids, **given)

        return self._score_all(score, inputs, partial(Options.parse, k=k, **known))

    @shows_options
    def _compute(
        self,
        predictions: Any,
        references: Any,
        k: Cutoffs = None,
        sample_weight: Any = None,
        ignore_ties: bool = False,
        *,
        query_ids: Any = None,
        document_ids: Any = None,
        exclude: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Return the result for rankings: those of one call, or of all batches and processes.

        `compute` calls it by keyword, with the options that it was given. Predictions and references come as they
        were given to one call, or as Arrow columns of lists if there are batches. A subclass may override it, take
        options of its own and add to what it returns. `engine="sklearn"` asks `sklearn.metrics.ndcg_score` instead.
        """
        parsed = Options.parse(k=k, ignore_ties=ignore_ties, **options)
        inputs = Inputs(predictions, references, query_ids, document_ids, exclude)
        return scores(inputs, sample_weight=sample_weight, options=parsed)

    def _own_options(self) -> set[str]:
        """Return the names of options that a subclass's `_compute` adds to those of the metric."""
        own = inspect.signature(self._compute).parameters.values()
        return {each.name for each in own if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}

    def _score_all(
        self, score: Callable[[Inputs], Result], inputs: Inputs, parse: Callable[[], Options]
    ) -> Result | None:
        """Return what a function makes of the queries given and those added before; None in processes other than 0.

        Whoever calls it gives no `**`: after such a call Python runs the handlers of signals, when
        the batches are scored and gone, but the result is not yet the caller's.
        """
        given = inputs.predictions is not None or inputs.references is not None
        for name, side in zip(IDS, inputs[2:], strict=True):
            if side is not None and not given:
                raise ValueError(f"{name} without predictions and references: give them to add_batch with the batch")
        if given and self.num_process == 1 and not self._holds_batches():
            return score(inputs)
        options = parse()
        if options.ties == "docid":
            problem = "batches and several processes keep no document ids"
            hint = 'where documents are in ascending order of their ids, ties="last" is the same'
            raise ValueError(f'ties="docid": {problem}; {hint}')
        if options.missing != "empty":
            problem = "batches and several processes do not know which queries a run lacks"
            raise ValueError(f'missing="{options.missing}": {problem}; compute each run at once')
        read = partial(self._read, inputs, options.ignore_index) if given else None
        return self._score(read, partial(query_values, options=options), score, options.ignore_index)

    @evaluate.utils.file_utils.add_end_docstrings(inspect.getdoc(report))
    def report(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        k: Cutoffs = None,
        sample_weight: Any = None,
        query_ids: Any = None,
        document_ids: Any = None,
        data: Any = None,
        exclude: Any = None,
        by: Any = None,
        confidence: float = 0.95,
        **options: Unpack[QueryOptions],
    ) -> Report | None:
        """Report on the queries given and those added before, then done with; None in processes other than 0."""
        resampling = Resampling.parse(confidence)
        parsed = Options.of_method(self.report, k, options)
        inputs = Inputs(predictions, references, query_ids, document_ids, exclude)
        inputs, weight, by = from_frame(data, inputs, sample_weight, by=by)
        score = partial(report_on, sample_weight=weight, by=by, options=parsed, resampling=resampling)
        return self._score_all(score, inputs, lambda: parsed)

    check = staticmethod(check)
    compare = staticmethod(compare)
    explain = staticmethod(explain)
    compute_spark = staticmethod(compute_spark)
    signature = staticmethod(signature)
    trainer_metrics = staticmethod(trainer_metrics)
    meter = staticmethod(meter)
    scorer = staticmethod(scorer)
    lightgbm_metric = staticmethod(lightgbm_metric)
    xgboost_metric = staticmethod(xgboost_metric)
    sentence_transformers_evaluator = staticmethod(sentence_transformers_evaluator)
    read_run = staticmethod(read_run)
    read_qrels = staticmethod(read_qrels)
    read_mteb = staticmethod(read_mteb)
    join_tasks = staticmethod(join_tasks)

    def _read(self, inputs: Inputs, ignore_index: float | None = None) -> Batch:
        """Return queries as a batch, if they can be scored."""
        inputs = Inputs(*settled(**from_files(inputs)._asdict()))  # so that a stream can be read again
        unmatched = None if inputs.exclude is None else ""
        try:
            rankings = checked_rankings(inputs, ignore_index=ignore_index)
        except NothingExcludedError as error:  # not in this batch; `compute` raises it if in none
            rankings, unmatched = checked_rankings(inputs._replace(exclude=None), ignore_index=ignore_index), str(error)
        return self._batch(*to_arrow(rankings), rankings.query_ids)._replace(unmatched=unmatched)


# With these a loaded metric lists conventions and slips, reads back what `to_dict` gave, and bounds what it reads.
NDCG.CONVENTIONS, NDCG.SLIPS, NDCG.Limits = CONVENTIONS, SLIPS, Limits
NDCG.Report, NDCG.Comparison, NDCG.Explanation, NDCG.Check = Report, Comparison, Explanation, Check
