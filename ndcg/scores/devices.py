"""Score tensors on the accelerator where they lie.

The host scores everything else, with the same result: tensors on the CPU, small ones, formats with
document ids, options that need the host, and all that is invalid, since its errors name the query
and the position.
"""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.columns import offsets_of
from ..inputs.reading import Inputs
from ..measure.options import Options
from ..measure.tensors import measure_tensors
from .swapped import COMPARED, warn_if_swapped

if TYPE_CHECKING:
    from torch import Tensor

# documents from which an accelerator is faster than copying them to the host
ON_DEVICE_FROM = 1 << 16
NARROW_TENSORS = ("float16", "bfloat16", "float32")  # scores that float32 represents exactly
INTEGER_TENSORS = ("uint8", "int8", "int16", "int32", "int64")
NUMBER_TENSORS = (*NARROW_TENSORS, *INTEGER_TENSORS, "float64", "bool")
ROW_OF_TABLE = 3  # columns of a table: a matrix with so few may be one, which the host refuses


class Placed(NamedTuple):
    """Rankings on an accelerator, as `measure_tensors` accepts them."""

    relevance: "Tensor"
    score: "Tensor"
    kept: "Tensor | None"  # False for padding; None if there is none
    offsets: NDArray[np.int64] | None = None  # as in `Rankings`; None for a row per query
    query_ids: "Tensor | None" = None  # the id of each query
    order: "Tensor | None" = None  # the queries in the order of their first rows

    def ranked(self) -> "Tensor":
        """Return which queries have a retrieved document."""
        retrieved = (
            self.score > -np.inf if self.kept is None else (self.score > -np.inf) & self.kept
        )
        if self.offsets is None:
            return retrieved.any(1)
        import torch

        until = torch.cat([retrieved.new_zeros(1), retrieved]).cumsum(0)
        until = until[torch.tensor(self.offsets, device=until.device)]
        return until[1:] > until[:-1]


def accelerator_of(values: Any) -> Any:
    """Return the accelerator on which a PyTorch tensor lies; None for anything else.

    Other accelerators than those of CUDA and ROCm may have no 64-bit floats.
    """
    torch = sys.modules.get("torch")
    if (
        torch is None
        or type(values) is not torch.Tensor
        or values.layout != torch.strided
        or values.is_nested
    ):
        return None
    return values.device if values.device.type == "cuda" else None


def measure_on_device(
    inputs: Inputs, options: Options, mask: Any = None, names: list[Any] | None = None
) -> dict[str, NDArray[np.float64]] | None:
    """Return the values of all queries under the name of each result; None if the host must compute them.

    The ids of queries are added to `names`. The mask is True or 1 for a document, False or 0 for
    padding.
    """
    sides = (inputs.predictions, inputs.references)
    given = [*sides, *(each for each in (inputs.query_ids, mask) if each is not None)]
    devices = set(map(accelerator_of, given))
    if len(devices) > 1 or None in devices or not _can_score(inputs, options, mask):
        return None
    import torch

    with suppress(torch.cuda.OutOfMemoryError), torch.no_grad():
        return _measured(_placed(*sides, inputs.query_ids, mask, options), options, names)
    return None


def _can_score(inputs: Inputs, options: Options, mask: Any) -> bool:
    """Return whether tensors on a device have a format and options that it can score."""
    score, relevance, query_ids, document_ids, exclude, *_ = inputs
    types = [_type(side) for side in (score, relevance)]
    if score.numel() < ON_DEVICE_FROM or document_ids is not None or exclude is not None:
        return False
    if not {*types} <= {*NUMBER_TENSORS}:
        return False
    if abs(options.ignore_index or 0) > 2**53 or options.ties == "docid":
        return False
    if options.score_dtype != "given" and types[0] not in NARROW_TENSORS:
        return False
    if options.score_order != "descending" and types[0] in (*INTEGER_TENSORS, "bool"):
        return False
    if mask is not None and (mask.shape != score.shape or _type(mask) not in NUMBER_TENSORS):
        return False
    if query_ids is None:
        # they may be ids, which the host refuses
        are_integers = all(each in INTEGER_TENSORS for each in types)
        return (
            score.ndim == 2
            and score.shape == relevance.shape
            and score.shape[1] > ROW_OF_TABLE
            and not are_integers
        )
    shapes = (query_ids.shape, (*query_ids.shape, 1))
    is_flat = query_ids.ndim == 1 and score.shape in shapes and relevance.shape in shapes
    return is_flat and mask is None and _type(query_ids) in INTEGER_TENSORS


def _type(values: Any) -> str:
    return str(values.dtype).removeprefix("torch.")


def _placed(
    score: Any, relevance: Any, query_ids: Any, mask: Any, options: Options
) -> Placed | None:
    """Return the rankings of tensors; None if the mask is no mask."""
    if options.score_order != "descending":
        score = -score  # inf, of a document that was not retrieved, becomes -inf
    kept = None if mask is None else mask != 0
    if mask is not None and _type(mask) != "bool" and (kept & (mask != 1)).any():
        return None
    if query_ids is None:
        return Placed(relevance, score, _without_padding(relevance, kept, options.ignore_index))
    ids, order = query_ids.sort(stable=True)
    ids, lengths = ids.unique_consecutive(return_counts=True)
    score, relevance = score.reshape(-1)[order], relevance.reshape(-1)[order]
    kept = _without_padding(relevance, None, options.ignore_index)
    by_first_row = order[lengths.cumsum(0) - lengths].argsort()
    return Placed(relevance, score, kept, offsets_of(lengths.cpu().numpy()), ids, by_first_row)


def _without_padding(relevance: Any, kept: Any, ignore_index: float | None) -> Any:
    """Return a mask without the documents whose relevance is `ignore_index`, rounded to the type of the relevances."""
    if ignore_index is None:
        return kept
    import torch

    if relevance.dtype == torch.bool:
        relevance = relevance.byte()
    ignored = torch.tensor(ignore_index, dtype=torch.float64).to(relevance.dtype)
    if float(ignored) != ignore_index and not relevance.is_floating_point():
        return kept  # no integer of this type
    return relevance != ignored if kept is None else kept & (relevance != ignored)


def _measured(
    rankings: Placed | None, options: Options, names: list[Any] | None
) -> dict[str, NDArray[np.float64]] | None:
    """Return the values of queries, copied to the host; None as in `measure_on_device`."""
    import torch

    if rankings is None:
        return None
    relevance, score, kept, offsets, query_ids, order = rankings
    measured = measure_tensors(
        relevance, score, offsets, judged=kept, retrieved=kept, **options.scoring
    )
    if measured is None:
        return None
    found = torch.stack([measured[measure][row] for _, measure, row in options.results])
    if options.missing != "empty":
        ranked = rankings.ranked()
        if options.missing == "raise" and not ranked.all():
            return None
        found.masked_fill_(~ranked, np.nan)
    if order is not None:
        found = found[:, order]
        if names is not None and query_ids is not None:
            names += query_ids[order].tolist()
    warn_if_swapped(
        *(side.reshape(-1)[:COMPARED].double().cpu().numpy() for side in (score, relevance))
    )
    return dict(zip(options.names, found.cpu().numpy(), strict=True))
