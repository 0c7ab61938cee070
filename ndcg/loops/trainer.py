"""The metric for `transformers.Trainer(compute_metrics=...)`."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from ..inputs.columns import read_flat_column
from ..inputs.ids import encode_ids
from ..inputs.reading import Inputs
from ..inputs.sources import plain, plain_in_order
from ..measure.messages import InputError, mark, must_be, shown
from ..measure.options import AGGREGATION_OPTIONS, Cutoffs, Options, ScoringOptions
from ..measure.ties import Array, Mask
from ..scores.means import mean
from ..scores.queries import NOTHING_TO_SCORE, concatenated_parts, measure_inputs
from .meter import array_of_ids, check_lengths, concatenated, read_rows


class TrainerMetrics:
    """A function of a Trainer's predictions and labels, for a whole set or batch by batch.

    Without ``query_ids``, every row of the predictions is a query and its columns are the
    documents. With it, every row is a document with one score, and ``query_ids`` is a column of the
    evaluation set, or a function from the model's inputs to the query of every row, which needs
    ``TrainingArguments(include_for_metrics=["inputs"])``.

    In a batch-wise evaluation, only the results of queries are kept, or one score, label and id per
    document. If it is interrupted, ``reset`` drops its batches.
    """

    def __init__(self, options: Options, query_ids: Any, references: Any, main_input: str) -> None:
        """Store the options and the queries of documents."""
        self.columns = None
        if query_ids is not None and not callable(query_ids):
            self.columns = _Columns.read(query_ids, references)
        elif references is not None:
            raise ValueError(
                "references are the labels in the order of query_ids; give query_ids as a column, "
                "too"
            )
        self.options, self.query_ids, self.main_input = options, query_ids, main_input
        self._batches: list[Any] = []
        self._rows = 0

    def reset(self) -> None:
        """Drop the batches of an evaluation that was interrupted."""
        self._batches, self._rows = [], 0

    def __call__(self, evaluation: Any, compute_result: bool | None = None) -> dict[str, Any]:
        """Add predictions, and return the results unless more batches follow.

        Args:
            evaluation: a `transformers.EvalPrediction`, or its predictions and labels as a pair. If
                a model has several outputs, the first is used.
            compute_result: False for a batch that is not the last, True for the last
                (`batch_eval_metrics=True`); None for a whole set.

        Raises:
            ValueError: predictions, labels and query ids do not match.
        """
        if compute_result is None:
            self.reset()
        with ExitStack() as after:
            after.callback(self.reset)
            for batch in _batches(*_outputs(evaluation)):
                self._add(*batch)
            if compute_result is not False:
                return self._result()
            after.pop_all()  # the batches are kept
        return {}

    def _result(self) -> dict[str, Any]:
        if not self._batches:
            raise ValueError(NOTHING_TO_SCORE)
        if self.query_ids is None:
            values = concatenated_parts(self._batches)
        else:
            columns = list(concatenated(self._batches))
            if self.columns is not None:
                columns.append(self.columns.ids_of(columns[1]))
            values = measure_inputs(Inputs(*columns), self.options)
        return {name: mean(name, by_query) for name, by_query in values.items()}

    def _add(self, predictions: Any, label_ids: Any, inputs: Any) -> None:
        """Store the values of a batch that the result needs."""
        scores, labels = _first("predictions", predictions), _first("labels", label_ids)
        if self.query_ids is None:
            self._add_queries(scores, labels)
            return
        columns = {"predictions": _array(scores), "references": _array(labels)}
        if self.columns is None:
            columns["query_ids"] = _array(array_of_ids(self.query_ids(self._main(inputs))))
        self._batches.append(read_rows(columns, self.options.ignore_index))

    def _add_queries(self, scores: Any, labels: Any) -> None:
        if scores.shape == (*labels.shape, 1):
            # Of a model with one output for a document.
            scores = scores[..., 0]
        if scores.ndim != 2 or scores.shape != labels.shape:
            raise ValueError(
                "trainer_metrics needs one row per query and one column per document on both "
                f"sides, or query_ids=; got predictions of shape {tuple(scores.shape)} and labels "
                f"of {tuple(labels.shape)}"
            )
        if not len(scores):
            return  # a batch may be empty, for example the last one of a process
        values = measure_inputs(Inputs(scores, labels), self.options, self._rows)
        self._batches.append(values)
        self._rows += len(scores)

    def _main(self, inputs: Any) -> Array:
        if inputs is None:
            raise ValueError(
                "query_ids need the inputs: set "
                'TrainingArguments(include_for_metrics=["inputs"])'
                ", and give the whole EvalPrediction"
            )
        if not isinstance(inputs, Mapping):
            return _array(inputs)
        # In batch-wise evaluations the Trainer passes all inputs.
        if self.main_input not in inputs:
            raise ValueError(
                f"main_input={shown(self.main_input)} is not among the inputs: {', '.join(inputs)}"
            )
        return _array(inputs[self.main_input])


class _Columns(NamedTuple):
    """The queries and labels of an evaluation set, a row per document, in its order."""

    ids: pa.Array  # the query of every row
    labels: Array  # the label of every row, in the type of the column
    known: Mask  # whether every row has a label

    @classmethod
    def read(cls, query_ids: Any, references: Any) -> "_Columns":
        """Read columns of any supported library."""
        if isinstance(query_ids, (str, int, Mapping)):
            column = "a column with an id per row, such as data['query']"
            allowed = f"a function of the model's main input, or {column}"
            raise must_be("query_ids", allowed, query_ids)
        if references is None:
            needs = "query_ids as a column need references, the labels in the same order"
            hint = "pass, for example, references=data['label']"
            raise ValueError(f"{needs}, to check the order of rows; {hint}")
        codes, distinct = encode_ids("query_ids", plain_in_order("query_ids", query_ids))
        column = plain_in_order("references", references)
        try:
            labels, _, present, _ = read_flat_column(
                "references", column, lambda _, row: f"row {row}"
            )
        except InputError as error:
            if "gain" not in error.options:
                raise
            hint = "give the numbers of the labels, and gain by these numbers"
            raise InputError(
                f"{mark('references')} hold text, which no model receives; {hint}"
            ) from None
        check_lengths("query_ids and references", {"query_ids": codes, "references": labels})
        known = present
        if known is None:
            known = labels == labels  # nan is a missing label
        return cls(pa.DictionaryArray.from_arrays(codes, distinct), labels, known)

    def ids_of(self, labels: Array) -> pa.Array:
        """Return the ids of rows, whose labels must be the labels of the set, in its order."""
        if len(labels) != len(self.ids):
            hint = "give the column of the evaluated set, with all its rows (docs/training.md)"
            lengths = f"{len(self.ids)} and {len(labels)}"
            raise ValueError(f"query_ids and the evaluation differ in length, {lengths}; {hint}")
        differs = _differ(labels, self.labels) & self.known
        if differs.any():
            row = int(differs.argmax())
            # As Python's numbers, which an error shows without their type.
            evaluated = shown(labels[row : row + 1].tolist()[0])
            listed = shown(self.labels[row : row + 1].tolist()[0])
            shuffled = "do not shuffle or group it (docs/training.md)"
            hint = f"give the columns of the set that is evaluated, and {shuffled}"
            raise ValueError(
                f"query_ids: row {row} has the label {evaluated}, but in references {listed}; "
                f"{hint}"
            )
        return self.ids


def _differ(evaluated: Array, labels: Array) -> Mask:
    """Return which evaluated labels cannot be the listed ones, even rounded to 32 or 16 bits.

    >>> _differ(np.array([200, 200]), np.array([200, 201])).tolist()
    [False, True]
    >>> _differ(np.float16([0.1, 0.1]), np.array([0.1, 0.1001])).tolist()
    [False, True]
    """
    differ = np.asarray(evaluated != labels, bool)
    if evaluated.dtype.kind not in "fO":
        return differ
    with np.errstate(over="ignore"):
        single = labels.astype(np.float32)
        half = single.astype(np.float16)
    # bfloat16 is the upper half of a float32, rounded half to even.
    bits = single.view(np.uint32)
    bfloat16 = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    differ &= (evaluated != np.stack([single, half, bfloat16])).all(axis=0)
    return differ


NOT_IN_TRAINER = (*AGGREGATION_OPTIONS, "missing")  # every row of the output has labels


def trainer_metrics(
    k: Cutoffs = None,
    *,
    query_ids: Any = None,
    references: Any = None,
    main_input: str = "input_ids",
    ignore_index: float | None = -100,
    **options: Unpack[ScoringOptions],
) -> TrainerMetrics:
    """Return the function for `transformers.Trainer(compute_metrics=...)`.

    It works for whole evaluation sets and, with `TrainingArguments(batch_eval_metrics=True)`, batch
    by batch, without keeping the predictions. The Trainer reports the results as `eval_nDCG@10`.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        query_ids: None if a row of the model's output is a query and its columns are documents. If
            a row is one document: the column of the evaluation set with the query id of every row,
            together with `references`; or a function that accepts the model's main input (an array)
            and returns the query id of every row. The function needs
            `TrainingArguments(include_for_metrics=["inputs"])`, and with batches a single process:
            the Trainer does not gather the inputs of several.
        references: with such a column, the column of the labels in the same order. An evaluation
            with different labels, for example on another set or with shuffled rows, is rejected.
        main_input: the name of the model's main input.
        ignore_index: the label that marks padding; the Trainer also uses it to pad batches to equal
            width.
        **options: the options of `compute`, except `sample_weight`, `missing`, `use_aggregator` and
            `engine`.

    Raises:
        ValueError: an option that `compute` rejects, or columns that cannot be read.

    >>> metrics = trainer_metrics(k=1)
    >>> metrics((np.array([[.9, .1, -100]]), np.array([[1, 0, -100]])))  # as an EvalPrediction
    {'nDCG@1': 1.0}
    """
    parsed = Options.for_method(
        trainer_metrics, k, {"ignore_index": ignore_index, **options}, lacks=NOT_IN_TRAINER
    )
    return TrainerMetrics(parsed, query_ids, references, main_input)


def _outputs(evaluation: Any) -> tuple[Any, Any, Any]:
    if hasattr(evaluation, "label_ids"):
        # The result of Trainer.predict has no inputs.
        return evaluation.predictions, evaluation.label_ids, getattr(evaluation, "inputs", None)
    # A third value could be the inputs or the losses.
    if isinstance(evaluation, (tuple, list)) and len(evaluation) == 2:
        return evaluation[0], evaluation[1], None
    raise ValueError(
        "trainer_metrics needs an EvalPrediction, or its predictions and labels as a pair; got "
        f"{shown(evaluation)}"
    )


def _batches(predictions: Any, labels: Any, inputs: Any) -> list[tuple[Any, Any, Any]]:
    """Return the predictions, labels and inputs of every batch; a whole set is one batch."""
    if not isinstance(predictions, list):
        return [(predictions, labels, inputs)]
    # Lists of batches, because of eval_do_concat_batches=False.
    if inputs is None:
        inputs = [None] * len(predictions)
    counts = [len(predictions), len(labels), len(inputs)]
    if not predictions or len(set(counts)) > 1:
        needs = "predictions, labels and inputs must come in the same batches, at least one"
        raise ValueError(f"{needs}; got {counts[0]}, {counts[1]} and {counts[2]}")
    return list(zip(predictions, labels, inputs, strict=True))


def _first(argument: str, outputs: Any) -> Any:
    """Return the first of a model's outputs, an array, or a tensor on any device."""
    output = outputs
    if isinstance(outputs, tuple):
        if not outputs:
            raise ValueError(
                f"{argument} are an empty tuple; the model must return its scores, the data its "
                "labels"
            )
        output = outputs[0]
    if hasattr(output, "detach"):
        # A tensor stays on its device, where it may be scored.
        return output
    return np.asanyarray(output)


def _array(values: Any) -> Array:
    """Return a tensor, or anything that NumPy can read, as an array on the CPU."""
    if hasattr(values, "detach"):
        values = plain("outputs", values)
    return np.asanyarray(values)
