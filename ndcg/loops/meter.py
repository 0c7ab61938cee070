"""The metric for a PyTorch loop: batch by batch, in one process or in several.

For whole queries, only exact sums are kept, so the mean does not depend on how queries are split
into batches and processes. Rows of single documents are kept, because the rest of a query may come
later.
"""

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import length_hint
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..inputs.columns import is_padding, logits_hint
from ..inputs.reading import Inputs
from ..inputs.sources import settled
from ..measure.messages import InputError, in_short, mark, shown
from ..measure.options import Cutoffs, Options, QueryOptions
from ..measure.ties import Array
from ..scores.devices import measure_on_device
from ..scores.means import mean
from ..scores.queries import NOTHING_TO_SCORE, Values, check_rows, measure_inputs

MeterRows = tuple[Array, ...]  # the scores, labels and queries of documents
# By result: the number of queries with a value, and the parts of their sum.
Sums = dict[str, tuple[int, list[float]]]


class MeterState(NamedTuple):
    """The state of a meter after the batches so far."""

    sums: Sums
    rows: tuple[MeterRows, ...]


class Meter:
    """The mean over queries that come in batches."""

    def __init__(self, options: Options) -> None:
        """Store the options."""
        self.options = options
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._state = MeterState({}, ())

    def update(self, scores: Any, labels: Any, mask: Any = None, query_ids: Any = None) -> None:
        """Add a batch; a batch that is rejected adds nothing.

        Args:
            scores: the `predictions` of `compute`: a row per query and a column per document, or
                with `query_ids` one score per document. Tensors on any device and with any float
                type, arrays, or lists, which may differ in length.
            labels: the `references` of `compute`, in the same shape.
            mask: True or 1 for a document, False or 0 for padding, with the shape of the scores.
            query_ids: the query of every document. Its other documents may be in other batches, and
                in other processes unless `ties` depends on their order. All rows are then kept.
                Conditions on all rows of a query, such as `missing="raise"`, are checked by
                `compute`.

        Raises:
            ValueError: as in `compute`; or the mask has the wrong shape or values.
        """
        if query_ids is None:
            # Tensors on an accelerator are scored there, without a copy.
            values = measure_on_device(Inputs(scores, labels), self.options, mask)
            if values is not None:
                self._add(values)
                return
        columns = {"scores": scores, "labels": labels, "mask": mask, "query_ids": query_ids}
        scores, labels, mask, query_ids = settled(columns).values()
        if mask is not None:
            scores, labels, query_ids = _without_padding(scores, labels, mask, query_ids)
        if _is_empty(scores) and _is_empty(labels):
            return  # for example the last batch of a process
        if query_ids is None:
            self._add(measure_inputs(Inputs(scores, labels), self.options))
        else:
            self._add_rows(scores, labels, query_ids)

    def _add(self, values: Values) -> None:
        self._state = self._state._replace(sums=_added(self._state.sums, _exact_sums(values)))

    def _add_rows(self, scores: Any, labels: Any, query_ids: Any) -> None:
        columns = {
            "predictions": np.asanyarray(scores),
            "references": np.asanyarray(labels),
            "query_ids": np.asanyarray(array_of_ids(query_ids)),
        }
        batch = read_rows(columns, self.options.ignore_index)
        check_rows(Inputs(*batch), self.options)  # the queries may have more rows in later batches
        rows = self._state.rows
        if rows and _types(rows[-1]) != _types(batch):
            # The types of all batches must fit together.
            check_rows(Inputs(*concatenated([*rows, batch])), self.options)
        self._state = self._state._replace(rows=(*rows, batch))

    def compute(self) -> dict[str, float]:
        """Return the mean over the queries of all processes since the last reset, in every process.

        If `torch.distributed` is initialized, all of its processes must call it.

        Raises:
            ValueError: there are no queries, or none has a value; the processes have different
                options.
            RuntimeError: a process has died, or has not called it within the timeout of the process
                group.
        """
        sums_of_processes, rows_of_processes = zip(*self._of_all_processes(), strict=True)
        sums = _added(*sums_of_processes)
        if any(rows_of_processes):
            rows = self._whole(rows_of_processes)
            # Sorted rows have an order of their own; that of each batch was looked at.
            options = replace(self.options, is_order_given=True)
            sums = _added(sums, _exact_sums(measure_inputs(Inputs(*rows), options)))
        if not sums:
            raise ValueError(NOTHING_TO_SCORE)
        means = {}
        for name, (queries, parts) in sums.items():
            # Without a value, `mean` raises its error.
            values = [math.fsum(parts) / queries] if queries else []
            means[name] = mean(name, np.array(values))
        return means

    def _of_all_processes(self) -> list[MeterState]:
        # A program that has several processes has imported it, and a build without it has none.
        distributed = sys.modules.get("torch.distributed.distributed_c10d")
        if distributed is None or not distributed.is_initialized():
            return [self._state]
        gathered: list[Any] = [None] * distributed.get_world_size()
        try:
            distributed.all_gather_object(gathered, (self.options.signature(), self._state))
        except RuntimeError as error:
            problem = f"the meters of {len(gathered)} processes could not combine their states"
            raise RuntimeError(
                f"{problem}; each must call compute, and one may have died ({in_short(error)})"
            ) from error
        signatures, states = zip(*gathered, strict=True)
        distinct = dict.fromkeys(signatures)
        if len(distinct) > 1:
            problem = "processes score by different options; give all the same"
            raise ValueError(f"{problem}: {', '.join(distinct)}")
        return list(states)

    def _whole(self, processes: Sequence[Sequence[MeterRows]]) -> MeterRows:
        """Return the rows of all processes, in an order that does not depend on their split."""
        rows = concatenated(list(chain.from_iterable(processes)))
        if self.options.ties not in ("first", "last"):
            # By query, then by label: any order of the processes gives the same one.
            order = np.lexsort([_sortable(column) for column in rows[1::-1]])
            return tuple(column[order] for column in rows)
        # In the order of rows, a query in two processes would depend on which comes first.
        seen: set[Any] = set()
        for batches in processes:
            ids: set[Any] = set()
            for _, _, query_ids in batches:
                ids.update(query_ids.tolist())
            if both := seen & ids:
                problem = f"two processes have rows of query {shown(min(both, key=str))}"
                hint = f"give one process all rows of a query, or use {mark('ties', 'average')}"
                ties = mark("ties", self.options.ties)
                raise InputError(f"{ties} needs an order of rows, and {problem}; {hint}")
            seen |= ids
        return rows


def meter(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Meter:
    """Return a meter for a loop.

    It has `update(scores, labels, mask)` for every batch, `compute()` and `reset()`.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`.

    Raises:
        ValueError: an option that `compute` rejects.

    >>> batches = meter(k=2)
    >>> batches.update([[.9, .4, .1]], [[0, 1, 2]])
    >>> scores, labels = [[.3, .2, 0], [.5, .1, .7]], [[1, 0, 0], [2, 0, 1]]
    >>> batches.update(scores, labels, mask=[[1, 1, 0], [1, 1, 1]])
    >>> {name: round(value, 4) for name, value in batches.compute().items()}
    {'nDCG@2': 0.6998}
    """
    return Meter(Options.for_method(meter, k, options))


def exact_parts(numbers: Iterable[float]) -> list[float]:
    """Return a few numbers that have exactly the same sum as the given ones."""
    rest = list(numbers)
    parts = []
    while part := math.fsum(rest):  # correctly rounded
        parts.append(part)
        rest.append(-part)
    return parts


def _exact_sums(values: Values) -> Sums:
    sums: Sums = {}
    for name, by_query in values.items():
        numbers = by_query[~np.isnan(by_query)].tolist()
        sums[name] = len(numbers), numbers
    return _added(sums)


def _added(*several: Sums) -> Sums:
    """Add sums, and return them in few parts."""
    total: Sums = {}
    for name, (queries, parts) in chain.from_iterable(sums.items() for sums in several):
        before, parts_before = total.get(name, (0, []))
        total[name] = before + queries, [*parts_before, *parts]
    for name, (queries, parts) in total.items():
        try:
            total[name] = queries, exact_parts(parts)
        except OverflowError:
            raise ValueError(f"{name}: the sum over queries overflows; scale the gains") from None
    return total


def _is_empty(side: Any) -> bool:
    if hasattr(side, "shape"):  # a sparse matrix has no length
        return bool(side.shape[:1] == (0,))
    # A single number has no length, and is refused later.
    return length_hint(side, 1) == 0


def array_of_ids(ids: Any) -> Any:
    """Return ids as an array, in which those of a list keep their types."""
    if hasattr(ids, "dtype"):
        return ids
    return np.array(ids, object)


def _without_padding(
    scores: Any, labels: Any, mask: Any, query_ids: Any
) -> tuple[Array, Array, Any]:
    """Return scores, labels and ids, with padding masked, or with ids removed."""
    scores, labels, mask = _of_one_shape(scores=scores, labels=labels, mask=mask)
    if np.ma.is_masked(mask):
        raise ValueError("mask: must not be a masked array; give False or 0 for padding")
    if not np.isin(mask, (0, 1)).all():
        raise ValueError(
            f"mask: must be True or 1 for a document, False or 0 for padding; got {shown(mask)}"
        )
    is_document = mask.astype(bool)
    if query_ids is None:
        scores = np.ma.array(scores, mask=~is_document)
        labels = np.ma.array(labels, mask=~is_document)
        return scores, labels, None
    query_ids = array_of_ids(query_ids)
    if np.shape(query_ids) != mask.shape:
        raise ValueError(
            "query_ids and mask must have the same shape, with one id per document; got query_ids "
            f"of {np.shape(query_ids)} and a mask of {mask.shape}"
        )
    return scores[is_document], labels[is_document], query_ids[is_document]


def _of_one_shape(**sides: Any) -> list[Array]:
    """Return arrays of the same shape; lists that differ in length are refused."""
    arrays = []
    for name, side in sides.items():
        try:
            arrays.append(np.asanyarray(side))
        except ValueError:
            raise ValueError(
                f"{name}: lists of different lengths have no padding, so they take no mask; pad "
                "them, or omit the mask"
            ) from None
    scores, labels, mask = arrays
    if not scores.shape == labels.shape == mask.shape:
        raise ValueError(
            f"mask, scores and labels must have the same shape; got a mask of {mask.shape}, scores "
            f"of {scores.shape} and labels of {labels.shape}"
        )
    return arrays


def _types(rows: MeterRows) -> list[Any]:
    """Return the types of columns; for a column of objects, the types of the objects."""
    types: list[Any] = []
    for column in rows:
        if column.dtype == object:
            types.append(set(map(type, column.tolist())))
        else:
            types.append(column.dtype.kind)
    return types


def _sortable(column: Array) -> Array:
    """Return a column that can be sorted: objects, of which some may be None, by their ranks."""
    if column.dtype != object:
        return column
    values = sorted(set(column.tolist()), key=lambda value: (value is not None, value))
    ranks = {value: rank for rank, value in enumerate(values)}
    return np.array(list(map(ranks.get, column.tolist())))


def read_rows(columns: Mapping[str, Array], ignore_index: float | None) -> MeterRows:
    """Return copies of the columns of documents, so that batches can be freed."""
    flat = {}
    for name, values in columns.items():
        # Of shape (n,) or (n, 1), as some models return scores.
        if values.shape[:1] != (values.size,):
            problem = f"must be one per document; got shape {values.shape}"
            raise ValueError(f"with query_ids, {name} {problem}{logits_hint(name, values)}")
        if np.ma.is_masked(values):
            problem = "must not be masked; label padding as ignore_index does"
            raise ValueError(f"with query_ids, {name} {problem}")
        flat[name] = values.reshape(-1)
    check_lengths("with query_ids, predictions, references and ids", flat)
    flat["references"] = _wide(flat["references"], ignore_index)
    return tuple(np.array(column) for column in flat.values())


def check_lengths(sides: str, columns: Mapping[str, Any]) -> None:
    """Raise an error unless columns of documents have the same length."""
    if len(set(map(len, columns.values()))) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise ValueError(f"{sides} are one per document; got {lengths}")


def _wide(labels: Array, ignore_index: float | None) -> Array:
    """Return float labels as float64, since types of batches may differ.

    Padding is sought in the type of the batch, in which its label may be rounded.
    """
    padding = is_padding(labels, ignore_index)
    if padding is None or labels.dtype.kind not in "fV":
        return labels
    wide = np.array(labels, np.float64)  # a copy
    wide[padding] = ignore_index
    return wide


def concatenated(batches: Sequence[MeterRows]) -> MeterRows:
    """Concatenate rows; columns of several types become objects.

    A common type would change ids and scores.
    """
    columns = []
    for arrays in zip(*batches, strict=True):
        kind = object if len({array.dtype.kind for array in arrays}) > 1 else None
        columns.append(np.concatenate(arrays, dtype=kind))
    return tuple(columns)
