"""The metric as `transformers.Trainer(compute_metrics=...)` calls it."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = dict[str, NDArray[np.float64]]


class TrainerMetrics:
    """A function of a Trainer's predictions and labels, for a whole set or batch by batch.

    Without ``query_ids`` every row of the predictions is a query, its columns the documents.
    With it every row is a document (of one score), and ``query_ids`` tells its query from the
    model's inputs, which ``TrainingArguments(include_for_metrics=["inputs"])`` passes on.

    Batch by batch only the results of queries are kept, or one score, label and id per document.
    """

    def __init__(
        self,
        score: Callable[[Any, Any, Any], Values],
        mean: Callable[[Values], dict[str, Any]],
        query_ids: Callable[[NDArray[Any]], Any] | None,
        main_input: str,
    ) -> None:
        """Keep how to score predictions, references and query ids, and how to average the results of queries."""
        self.score, self.mean, self.query_ids, self.main_input = score, mean, query_ids, main_input
        self._batches: list[Any] = []

    def __call__(self, evaluation: Any, compute_result: bool = True) -> dict[str, Any]:
        """Take predictions; the results, if these are the last.

        Args:
            evaluation: a `transformers.EvalPrediction`. Of several outputs of a model the first counts.
            compute_result: False for a batch that is not the last (`batch_eval_metrics=True`).

        Raises:
            ValueError: predictions and labels of shapes that do not belong together.
        """
        scores, labels = _first(evaluation.predictions), _first(evaluation.label_ids)
        try:
            if self.query_ids is None:
                if scores.ndim == 3 and scores.shape[2] == 1 and labels.ndim == 2:
                    scores = scores[..., 0]
                if scores.ndim != 2 or scores.shape != labels.shape:
                    shapes = f"predictions of shape {tuple(scores.shape)} and labels of {tuple(labels.shape)}"
                    problem = "one row per query and one column per document on both sides, or query_ids="
                    raise ValueError(f"trainer_metrics needs {problem}; got {shapes}")
                self._batches.append(self.score(scores, labels, None))
            else:
                self._batches.append(
                    (_flat(scores), _flat(labels), np.asarray(self.query_ids(self._inputs(evaluation))))
                )
            if not compute_result:
                return {}
            if self.query_ids is None:
                values = self._batches
            else:
                values = [self.score(*map(np.concatenate, zip(*self._batches, strict=True)))]
            result = self.mean({name: np.concatenate([each[name] for each in values]) for name in values[0]})
        except BaseException:
            self._batches = []
            raise
        self._batches = []
        return result

    def _inputs(self, evaluation: Any) -> NDArray[Any]:
        """The model's main input."""
        inputs = evaluation.inputs
        if inputs is None:
            raise ValueError('query_ids need the inputs: set TrainingArguments(include_for_metrics=["inputs"])')
        if isinstance(inputs, Mapping):  # batch by batch the Trainer passes them all
            if self.main_input not in inputs:
                raise ValueError(f"main_input={self.main_input!r} is not among the inputs: {', '.join(inputs)}")
            inputs = inputs[self.main_input]
        return _array(inputs)


def _first(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, (tuple, list)) else outputs


def _flat(values: Any) -> NDArray[Any]:
    """One number per row, off the accelerator."""
    array = _array(values)
    return array.reshape(len(array)) if array.size == len(array) else array


def _array(values: Any) -> NDArray[Any]:
    if hasattr(values, "detach"):  # a tensor; NumPy has no bfloat16
        values = values.detach().cpu()
        values = values.float() if values.is_floating_point() else values
    return np.asarray(values)
