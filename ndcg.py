"""nDCG for Hugging Face `evaluate`: the metric that `evaluate.load` opens.

`make bundle` writes this file from ndcg/metric.py, and the modules that it needs into
ndcg_bundle.py: read and edit the package instead.
"""

if not __package__:
    raise ImportError(
        "this is the file that evaluate.load opens: "
        "load it with evaluate, or import the package ndcg"
    )

import marshal
from importlib.util import cache_from_source
from pathlib import Path

from filelock import FileLock


def require_whole_copies() -> None:
    """Remove copies of this file and the bundle that a full disk cut off.

    Evaluate never copies them again. The same holds for their compiled code, which Python cuts off
    without an error (python/cpython#126606).

    Raises:
        ImportError: a copy was cut off.
    """
    end = b"# the end, by which a copy is known to be whole"
    files = Path(__file__), Path(__file__).with_name("ndcg_bundle.py")
    folder, remedy = files[0].parent, "it is deleted now: make space"

    def cut_off() -> list[Path]:
        def is_whole(file: Path) -> bool:
            return file.exists() and file.read_bytes().rstrip().endswith(end)

        return [file for file in files if not is_whole(file)]

    if cut := cut_off():
        try:
            # evaluate copies under this lock, perhaps in another process right now
            with FileLock(f"{folder.parent}.lock"):
                for file in (cut := cut_off()):
                    file.unlink(missing_ok=True)
        except OSError:
            remedy = f"delete the folder {folder}"
        if cut:
            problem = "was cut off when evaluate copied it, as on a full disk"
            raise ImportError(f"{cut[0]} {problem}; {remedy}, and load the metric again")
    for file in files:
        compiled = Path(cache_from_source(str(file)))
        try:
            marshal.loads(compiled.read_bytes()[16:])  # noqa: S302
        except OSError:  # there is none
            pass
        except (EOFError, ValueError, TypeError):
            compiled.unlink(missing_ok=True)


if __package__.startswith("evaluate_modules."):
    require_whole_copies()

import datasets
import evaluate
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, Unpack

from .ndcg_bundle import (
    Batch,
    Batches,
    CONVENTIONS,
    Check,
    Comparison,
    ComputeOptions,
    Cutoffs,
    Explanation,
    InputError,
    Inputs,
    Limits,
    NothingExcludedError,
    OPTIONS,
    Options,
    QueryOptions,
    Report,
    Resampling,
    SIDES,
    SLIPS,
    Traits,
    check,
    checked_rankings,
    compare,
    compare_reports,
    compute,
    compute_spark,
    documents,
    explain,
    from_files,
    from_frame,
    has_text_labels,
    in_ascending_order,
    is_spark,
    lightgbm_metric,
    lines_of,
    mark,
    measure_inputs,
    meter,
    named_parameters,
    preview,
    read_qrels,
    read_run,
    refuse_unknown,
    report,
    report_on,
    score_inputs,
    scorer,
    sentence_transformers_evaluator,
    shows_options,
    signature,
    torchmetrics_metric,
    trainer_metrics,
    xgboost_metric,
)

Result = TypeVar("Result")

# Arguments of rankings in addition to predictions and references.
IDS = (*Inputs._fields[2:5], "fields")

_DESCRIPTION = """\
Normalized discounted cumulative gain (nDCG) rates a ranking from 0 to 1. Each document has a
graded relevance; the lower it ranks, the less its gain counts. The sum of the discounted gains
is divided by that of the ideal ranking. The result equals `sklearn.metrics.ndcg_score`, also
for tied scores. Lists may differ in length, documents may be unretrieved or unjudged, and
there are several cutoffs, as well as DCG, IDCG and CG.
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
  title     = {Computing information retrieval performance measures efficiently in the presence \
of tied scores},
  author    = {McSherry, Frank and Najork, Marc},
  booktitle = {Advances in Information Retrieval (ECIR)},
  pages     = {414--421},
  year      = {2008}
}
"""

_GIVEN = (
    "predictions",
    "references",
    "k",
    "sample_weight",
    "query_ids",
    "document_ids",
    "data",
    "exclude",
    "fields",
)
_KWARGS_DESCRIPTION = f"""
Args:
{lines_of(*_GIVEN, *(name for name in OPTIONS if name not in _GIVEN))}
"""
_KWARGS_DESCRIPTION += """
Returns:
    A dict: `{"nDCG": ...}`, `{"nDCG@10": ...}`. With several measures and cutoffs, it has
    an entry for every combination: all cutoffs of the first measure, then of the second. Values are
    floats, nDCG between 0 and 1.

Examples:
    >>> ndcg = evaluate.load("ndcg.py")  # from a clone; from the Hub: evaluate.load("<user>/nDCG")
    >>> ndcg.compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]])
    {'nDCG': 0.6956940443813076}

    Only the first three ranks; then several cutoffs and measures:

    >>> ndcg.compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]], k=3)
    {'nDCG@3': 0.4123818817534531}
    >>> ndcg.compute(
    ...     predictions=[[3, 2, 1]], references=[[0, 0, 2]], k=[1, 3], measures=["DCG", "nDCG"]
    ... )
    {'DCG@1': 0.0, 'DCG@3': 1.0, 'nDCG@1': 0.0, 'nDCG@3': 0.5}

    Two documents are tied at the first rank, and one of them is relevant; with ignore_ties, the
    last of them ranks first:

    >>> ndcg.compute(predictions=[[1, 1, 0, 0, 0]], references=[[1, 0, 0, 0, 0]], k=1)
    {'nDCG@1': 0.5}
    >>> ndcg.compute(
    ...     predictions=[[1, 1, 0, 0, 0]], references=[[1, 0, 0, 0, 0]], k=1, ignore_ties=True
    ... )
    {'nDCG@1': 0.0}

    Lists of different lengths, with a relevant document that was not retrieved, and one value
    per query:

    >>> ndcg.compute(predictions=[[.9, None], [.5]], references=[[1, 1], [1]], use_aggregator=False)
    {'nDCG': [0.6131471927654585, 1.0]}
"""


with_arguments = evaluate.utils.file_utils.add_end_docstrings(_KWARGS_DESCRIPTION)


class Arguments(str):
    """Text that evaluate appends to docstrings; it works even if `python -OO` has removed them."""

    def __radd__(self, docstring: str | None) -> str:
        return (docstring or "") + str(self)


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class NDCG(Batches, evaluate.Metric):
    """nDCG, DCG, IDCG and CG of rankings.

    Batches are kept as Arrow lists on disk (in memory with `keep_in_memory`) until `compute`
    scores them all. Without batches, `compute` uses neither disk nor Arrow.
    """

    def _info(self) -> evaluate.MetricInfo:
        lists = datasets.Sequence(datasets.Value("float64"))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=Arguments(_KWARGS_DESCRIPTION),
            features=datasets.Features({"predictions": lists, "references": lists}),
            license="MIT",
            reference_urls=[
                "https://doi.org/10.1145/582415.582418",
                "https://doi.org/10.1007/978-3-540-78646-7_38",
                "https://scikit-learn.org/stable/modules/generated/sklearn.metrics.ndcg_score.html",
            ],
        )

    @with_arguments
    def add_batch(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        query_ids: Any = None,
        ignore_index: Any = None,
        score_order: Any = None,
        document_ids: Any = None,
        data: Any = None,
        exclude: Any = None,
        exclude_from: str = "both",
        fields: Any = None,
        gain: Any = None,
        duplicates: str = "raise",
    ) -> None:
        """Add whole queries, to be scored by a later `compute`.

        A batch that is rejected adds nothing. With `query_ids`, add all documents of a query in one
        batch; a query that was already added is rejected. `exclude` may cover the whole data set:
        it need not have queries of every batch, as long as it has some. `score_order` is the same
        for all batches; `compute` needs it only for its predictions. `gain` is needed only
        for labels that are text, `{label: gain}`, the same as in `compute`. `duplicates` is as in
        `compute`. `exclude_from` is the same for all batches.
        """
        options = _options_of_batch(
            exclude_from=exclude_from,
            ignore_index=ignore_index,
            score_order=score_order,
            gain=gain,
            duplicates=duplicates,
        )
        inputs = Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields)
        self._add(lambda: self._read(from_frame(data, inputs), options))

    @with_arguments
    def add(
        self,
        *,
        prediction: Any = None,
        reference: Any = None,
        predictions: Any = None,
        references: Any = None,
        score_order: Any = None,
        exclude: Any = None,
        exclude_from: str = "both",
        gain: Any = None,
        duplicates: str = "raise",
    ) -> None:
        """Add one query: the scores of its documents, or their ids, best first; their relevance.

        `predictions` and `references` are other names for these arguments, which `evaluate.combine`
        uses. `exclude` lists the ids of documents to remove from this query; without ids, it is an
        error. `exclude_from`, `gain` and `duplicates` are as in `add_batch`.
        """
        if prediction is None and reference is None:
            prediction, reference = predictions, references
        elif predictions is not None or references is not None:
            raise ValueError(
                "give one query as prediction and reference or as predictions and references, not "
                "as both"
            )
        if isinstance(exclude, Mapping):
            raise ValueError(
                "exclude: must be a list or a set of ids; give {query: ids} to add_batch or compute"
            )
        excluded = None if exclude is None else [exclude]
        options = _options_of_batch(
            score_order=score_order,
            exclude_from=exclude_from,
            gain=gain,
            duplicates=duplicates,
        )
        self._add(partial(self._read, Inputs([prediction], [reference], exclude=excluded), options))

    @with_arguments
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
        fields: Any = None,
        **options: Unpack[ComputeOptions],
    ) -> Any:
        """Score the queries of this call and of the batches before.

        If a call raises an error, the queries added before are kept. With several processes,
        process 0 returns the result for all of them, and the others return None.
        """
        inputs = Inputs(
            predictions, references, query_ids, document_ids, exclude, sample_weight, fields=fields
        )
        sides = {"data": data, "predictions": predictions, "references": references}
        spark_side = next((name for name, side in sides.items() if is_spark(side)), None)
        if spark_side is not None:
            if self.num_process > 1 or self._holds_batches():
                problem = "a Spark DataFrame cannot be scored together with batches"
                raise InputError(problem, spark_side, hint="call compute without them")
            if type(self)._compute is not NDCG._compute:
                problem = "a Spark DataFrame is not scored by _compute, which this class overrides"
                hint = "call compute_spark, or collect the rankings"
                raise InputError(problem, spark_side, hint=hint)
            return compute(
                **inputs.rankings,
                k=k,
                sample_weight=sample_weight,
                data=data,
                fields=fields,
                **options,
            )
        known: dict[str, Any] = {**options}
        if not known.keys() <= OPTIONS.keys():
            # The `_compute` of a subclass may have other options.
            for name in named_parameters(self._compute).keys() - OPTIONS.keys():
                known.pop(name, None)
            refuse_unknown(known, self.compute)

        def score(inputs: Inputs, **changed: Any) -> Any:
            arguments = {"k": k, **inputs._asdict()}
            sides = {side: arguments.pop(side) for side in SIDES}
            # The `_compute` of a subclass need not accept what is not given.
            given = {name: value for name, value in arguments.items() if value is not None}
            return self._compute(**sides, **given, **{**options, **changed})

        inputs = from_frame(data, inputs)
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
        fields: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Return the result for the rankings of one call, or of all batches and processes.

        `compute` calls it by keyword, with its options. Predictions and references are the
        arguments of one call, unchanged, or Arrow columns of lists if there are batches. A subclass
        may override it, accept more options and add to the result. `engine="sklearn"` calls
        `sklearn.metrics.ndcg_score` instead.
        """
        parsed = Options.parse(k=k, ignore_ties=ignore_ties, **options)
        inputs = Inputs(
            predictions, references, query_ids, document_ids, exclude, sample_weight, fields=fields
        )
        return score_inputs(inputs, parsed)

    def _score_all(
        self, score: Callable[..., Result], inputs: Inputs, parse: Callable[[], Options]
    ) -> Result | None:
        """Score the queries of this call and of the batches before; only process 0 has a result.

        Batches are stored with the highest score first, and scored in the order in which they were
        added, so that the options and the signature agree with them.

        Do not call this with `**`: after such a call Python runs signal handlers at a point where
        the batches are scored and gone but the caller does not have the result yet.
        """
        given = inputs.predictions is not None or inputs.references is not None
        for name in IDS:
            if getattr(inputs, name) is not None and not given:
                hint = "give them to add_batch with the batch"
                raise ValueError(f"{name} without predictions and references: {hint}")
        if given and self.num_process == 1 and not self._holds_batches():
            return score(inputs)
        options = parse()
        if options.ties == "docid":
            problem = "it is not available with batches or several processes"
            last = mark("ties", "last")
            hint = f"if documents are in ascending order of id, {last} gives the same result"
            ties = mark("ties", "docid")
            raise InputError(f"{problem}, which keep no document ids", ties, hint=hint)
        if options.missing != "empty":
            missing = mark("missing", options.missing)
            problem = "batches and several processes do not record which queries are missing"
            raise InputError(f"{missing}: {problem} from a run; compute a run at once")
        if options.score_order == "ascending":
            self._check_same("score_order", options.score_order)
        if options.exclude_from == "run":
            self._check_same("exclude_from", options.exclude_from)
        traits = self._state.traits
        is_ascending = (traits.score_order or options.score_order) == "ascending"
        read = partial(self._read, inputs, options) if given else Batch

        def score_columns(columns: Inputs) -> Result:
            columns = columns._replace(sample_weight=inputs.sample_weight, by=inputs.by)
            if options.labels is None and has_text_labels(columns.references):
                raise ValueError(
                    "gain is missing: the batches hold labels in text; give the gain that "
                    "add_batch got"
                )
            if not is_ascending:
                # Who gave it with a batch gets no warning of scores in another order.
                given = {"score_order": "descending"} if traits.is_order_given else {}
                return score(columns, **given)
            columns = columns._replace(predictions=in_ascending_order(columns.predictions))
            return score(columns, score_order="ascending")

        check = partial(measure_inputs, options=replace(options, score_order="descending"))
        return self._score(read, check, score_columns, options.ignore_index)

    # With python -OO there is no docstring.
    @evaluate.utils.file_utils.add_end_docstrings(inspect.getdoc(report) or "")
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
        fields: Any = None,
        confidence: float = 0.95,
        **options: Unpack[QueryOptions],
    ) -> Report | None:
        """Report on the queries of this call and of the batches before, then drop them.

        Processes other than 0 get None.
        """
        resampling = Resampling.parse(confidence)
        parsed = Options.for_method(self.report, k, options)
        inputs = Inputs(
            predictions, references, query_ids, document_ids, exclude, sample_weight, by, fields
        )
        inputs = from_frame(data, inputs)

        def score(inputs: Inputs, **changed: Any) -> Report:
            is_order_given = parsed.is_order_given or "score_order" in changed
            options = replace(parsed, is_order_given=is_order_given, **changed)
            return report_on(inputs, options=options, resampling=resampling)[0]

        return self._score_all(score, inputs, lambda: parsed)

    check = staticmethod(check)
    compare = staticmethod(compare)
    compare_reports = staticmethod(compare_reports)
    documents = staticmethod(documents)
    explain = staticmethod(explain)
    preview = staticmethod(preview)
    compute_spark = staticmethod(compute_spark)
    signature = staticmethod(signature)
    trainer_metrics = staticmethod(trainer_metrics)
    meter = staticmethod(meter)
    torchmetrics_metric = staticmethod(torchmetrics_metric)
    scorer = staticmethod(scorer)
    lightgbm_metric = staticmethod(lightgbm_metric)
    xgboost_metric = staticmethod(xgboost_metric)
    sentence_transformers_evaluator = staticmethod(sentence_transformers_evaluator)
    read_run = staticmethod(read_run)
    read_qrels = staticmethod(read_qrels)

    def _read(self, inputs: Inputs, options: Options) -> Batch:
        """Return queries as a batch, if they can be scored."""
        reading: dict[str, Any] = {**options.sides, "labels": None}
        if options.labels is not None:
            # Labels in text are stored as numbers, to which `compute` gives their gains.
            reading["labels"] = options.labels.as_numbers
        # Settled, so that a stream can be read again.
        inputs = from_files(inputs, **reading).settled(**reading)
        reading["ignore_index"] = options.ignore_index
        reading["exclude_from"] = options.exclude_from
        order = options.score_order, options.is_order_given
        if inputs.exclude is None:
            rankings = checked_rankings(inputs, **reading)
            return self._batch(rankings, Traits(*order, "", None, rankings.unmatched))
        self._check_same("exclude_from", options.exclude_from)
        unmatched = ""
        try:
            rankings = checked_rankings(inputs, **reading)
        except NothingExcludedError as error:
            # Nothing in this batch; `compute` raises the error if it is so in all batches.
            unmatched = str(error)
            rankings = checked_rankings(inputs._replace(exclude=None), **reading)
        traits = Traits(*order, options.exclude_from, unmatched, rankings.unmatched)
        return self._batch(rankings, traits)


def _options_of_batch(**given: Any) -> Options:
    """Return the options of a batch, in which `gain` only names the labels."""
    options = Options.parse(**given)
    if given["gain"] is not None and options.labels is None:
        raise ValueError("gain: batches need it only for labels that are text; give it to compute")
    return options


# With these, a loaded metric lists conventions and slips, restores saved results, and limits the
# files it reads.
NDCG.CONVENTIONS, NDCG.SLIPS, NDCG.Limits = CONVENTIONS, SLIPS, Limits
NDCG.Report, NDCG.Comparison, NDCG.Explanation, NDCG.Check = Report, Comparison, Explanation, Check

# the end, by which a copy is known to be whole
