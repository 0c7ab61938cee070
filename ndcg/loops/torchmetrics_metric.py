"""The metric for torchmetrics: in a `MetricCollection`, logged by Lightning, or alone."""

from collections.abc import Callable
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

import numpy as np

from ..inputs.reading import Inputs
from ..measure.messages import imported, must_be
from ..measure.options import Cutoffs, Options, QueryOptions
from ..scores.queries import measure_inputs
from .meter import check_lengths

if TYPE_CHECKING:
    from torch import Tensor


def torchmetrics_metric(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Any:
    """Return a `torchmetrics.Metric`.

    It has `update(preds, target, indexes=None)` for every batch, `compute()` and `reset()`.

    Without `indexes`, `preds` and `target` have a row for every query and a column for every
    document. With `indexes`, they have one number for every document, and `indexes` has the id of
    its query, an integer. `compute` returns the mean over the queries of all batches and processes:
    a tensor for one result, a dict of tensors for several, nan if no query has a value.

    Of whole queries only sums are kept. Rows with `indexes` are kept until `reset`, because other
    rows of a query may be in later batches or other processes. If `ties` depends on the order of
    rows, it is that of the batches, one process after the other.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`;
            `ignore_index` is the label of padding.

    Raises:
        ValueError: an option that `compute` rejects.
        ImportError: torchmetrics is not installed.
    """
    parsed = Options.for_method(torchmetrics_metric, k, options)
    return _metric_class()(parsed)


def restored_metric() -> Any:
    """Return a metric without a state, which pickle and copy then set."""
    kind = _metric_class()
    return kind.__new__(kind)


@cache
def _metric_class() -> Any:
    packages = "torch torchmetrics"
    library = imported("torchmetrics", "torchmetrics_metric", "torchmetrics", packages)
    return type(NDCGMetric.__name__, (NDCGMetric, library.Metric), {"__doc__": NDCGMetric.__doc__})


class NDCGMetric:
    """The mean of nDCG, DCG, IDCG or CG over queries; `_metric_class` adds the base class."""

    add_state: Callable[..., None]  # of the base class
    device: Any
    sums: "Tensor"
    counts: "Tensor"
    higher_is_better = True
    is_differentiable = False
    full_state_update = False
    # All processes must gather the same types. Up to version 2.1 the states had other names, so old
    # checkpoints are rejected.
    rows = MappingProxyType({"scores": "float64", "labels": "float64", "queries": "int64"})

    def __init__(self, options: Options) -> None:
        import torch

        super().__init__()
        self.options = options
        results = len(options.names)
        self.add_state("sums", torch.zeros(results, dtype=torch.float64), dist_reduce_fx="sum")
        self.add_state("counts", torch.zeros(results, dtype=torch.int64), dist_reduce_fx="sum")
        for name in self.rows:
            self.add_state(name, [], dist_reduce_fx="cat")
        # A MetricCollection updates only one of several metrics whose states are equal after the
        # first batch.
        self.add_state("identity", torch.tensor([*uuid4().bytes]), dist_reduce_fx="max")

    def update(self, preds: "Tensor", target: "Tensor", indexes: "Tensor | None" = None) -> None:
        """Add a batch; a batch that is rejected adds nothing."""
        if indexes is None:
            if len(preds) or len(target):
                self.sums, self.counts = self._added(Inputs(preds, target))
            return
        given = {"preds": preds, "target": target, "indexes": indexes}
        batch = {name: column.detach().reshape(-1) for name, column in given.items()}
        check_lengths("with indexes, preds, target and indexes", batch)
        if indexes.is_floating_point():
            raise must_be("indexes", "integers, the id of each document's query", indexes.dtype)
        labels = _with_exact_padding(batch["target"], self.options.ignore_index)
        scores, labels = _as_floats("preds", batch["preds"]), _as_floats("target", labels)
        columns = (scores, labels, batch["indexes"].long())
        for name, column in zip(self.rows, columns, strict=True):
            getattr(self, name).append(column)

    def compute(self) -> Any:
        """Return the mean over all queries since the last reset."""
        import torch

        columns = []
        for name in self.rows:
            column = getattr(self, name)
            # A sync has concatenated it already, and nothing concatenates an empty list.
            if isinstance(column, list):
                column = torch.cat([self._no_rows(name), *column])
            columns.append(column)
        sums, counts = self.sums, self.counts
        if len(columns[0]):
            sums, counts = self._added(Inputs(*columns))
        means = sums / counts
        if len(means) == 1:
            return means[0]
        return dict(zip(self.options.names, means, strict=True))

    def sync(self, *args: Any, **options: Any) -> None:
        """Gather the states of all processes."""
        for name in self.rows:
            column = getattr(self, name)
            if isinstance(column, list) and not column:
                column.append(self._no_rows(name))
        super().sync(*args, **options)  # type: ignore[misc]

    def _no_rows(self, name: str) -> "Tensor":
        """Return a column without numbers, in the type that it has in all processes."""
        import torch

        return torch.empty(0, dtype=getattr(torch, self.rows[name]), device=self.device)

    def set_dtype(self, dst_type: Any) -> Any:
        """Leave the states as they are, since in fewer bits different ids may be the same."""
        return self

    def _added(self, inputs: Inputs) -> "tuple[Tensor, Tensor]":
        values = np.stack(list(measure_inputs(inputs, self.options).values()))
        sums = self.sums.new_tensor(np.nansum(values, axis=1))
        counts = self.counts.new_tensor((~np.isnan(values)).sum(axis=1))
        return self.sums + sums, self.counts + counts

    def __reduce__(self) -> tuple[Any, ...]:
        return restored_metric, (), self.__getstate__()


def _with_exact_padding(labels: "Tensor", ignore_index: float | None) -> "Tensor":
    """Return float labels as float64, with `ignore_index` itself where their type rounds it."""
    if ignore_index is None or not labels.is_floating_point():
        return labels
    rounded = labels.new_tensor(float(ignore_index))
    return labels.double().masked_fill(labels == rounded, float(ignore_index))


def _as_floats(argument: str, numbers: "Tensor") -> "Tensor":
    """Return numbers as float64, which must not round them."""
    if numbers.is_floating_point():
        return numbers.double()
    if numbers.is_complex() or (numbers.long().abs() > 2**53).any():
        raise ValueError(
            f"with indexes, {argument} must be real numbers, and integers at most 2**53; got "
            f"{numbers.dtype}"
        )
    return numbers.double()
