"""Score tensors on the accelerator where they lie.

The host scores everything else, with the same result: tensors on the CPU, small ones, formats with
document ids, options that need the host, and all that is invalid, since its errors name the query
and the position.
"""

import sys
from collections.abc import Mapping
from contextlib import suppress
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inputs.columns import in_both, offsets_of
from ..inputs.reading import Inputs
from ..measure.messages import mark, warn
from ..measure.options import Options
from ..measure.tensors import UndecidedError, measure_tensors
from .doubts import COMPARED, doubt_if_swapped

if TYPE_CHECKING:
    from torch import Tensor

# From so many documents an accelerator is faster than copying them to the host.
ON_DEVICE_FROM = 1 << 16
NARROW_TENSORS = ("float16", "bfloat16", "float32")  # scores that float32 represents exactly
FLOAT_TENSORS = (*NARROW_TENSORS, "float64")
INTEGER_TENSORS = ("uint8", "int8", "int16", "int32", "int64")
NUMBER_TENSORS = (*FLOAT_TENSORS, *INTEGER_TENSORS, "bool")
ROW_OF_TABLE = 3  # columns of a table: a matrix with so few may be one, which the host refuses


class Placed(NamedTuple):
    """Rankings on an accelerator, as `measure_tensors` accepts them."""

    relevance: "Tensor"
    score: "Tensor"
    kept: "Tensor | None"  # False for padding; None if there is none
    offsets: NDArray[np.int64] | None = None  # as in `Rankings`; None for a row per query
    order: "Tensor | slice" = slice(None)  # the queries in the order of their first rows

    def ranked(self) -> Any:
        """Return which queries have a retrieved document."""
        retrieved = in_both(self.score > -np.inf, self.kept)
        if self.offsets is None:
            return retrieved.any(1)
        import torch

        retrieved_before = torch.cat([retrieved.new_zeros(1), retrieved]).cumsum(0)
        before = retrieved_before[torch.tensor(self.offsets, device=retrieved.device)]
        return before[1:] > before[:-1]


def accelerator_of(values: Any) -> Any:
    """Return the accelerator on which a PyTorch tensor lies; None for anything else.

    Only CUDA and ROCm are used, since other accelerators may have no 64-bit floats.
    """
    torch = sys.modules.get("torch")
    if torch is None or type(values) is not torch.Tensor:
        return None
    if values.layout != torch.strided or values.is_nested:
        return None
    return values.device if values.device.type == "cuda" else None


def measure_on_device(
    inputs: Inputs, options: Options, mask: Any = None
) -> dict[str, NDArray[np.float64]] | None:
    """Return the values of all queries by result; None if the host must compute them.

    The mask is True or 1 for a document, False or 0 for padding.
    """
    tensors = [inputs.predictions, inputs.references]
    tensors += [side for side in (inputs.query_ids, mask) if side is not None]
    if None in map(accelerator_of, tensors) or not _can_score(inputs, options, tensors):
        return None
    import torch

    # The host may have the memory that the device lacks.
    with suppress(torch.cuda.OutOfMemoryError, UndecidedError), torch.no_grad():
        return _measured(_placed(inputs, mask, options), options)
    return None


def _can_score(inputs: Inputs, options: Options, tensors: list[Any]) -> bool:
    """Return whether a device can score tensors: predictions, references, query ids and a mask.

    They have a row per query and a column per document or, with query ids, a row per document.
    """
    score = inputs.predictions
    places = {(accelerator_of(tensor), tensor.shape) for tensor in tensors}
    if len(places) > 1:
        return False
    if score.numel() < ON_DEVICE_FROM or _need_host(inputs, options):
        return False
    # Integers may be ids, which the host refuses, and the lowest one has no negative.
    exact = FLOAT_TENSORS if options.score_dtype == "given" else NARROW_TENSORS
    if _type(score) not in exact:
        return False
    if not set(map(_type, tensors)).issubset(NUMBER_TENSORS):
        return False
    if inputs.query_ids is None:
        return bool(score.ndim == 2 and score.shape[1] > ROW_OF_TABLE)
    return score.ndim == 1 and _type(inputs.query_ids) in INTEGER_TENSORS


def _need_host(inputs: Inputs, options: Options) -> bool:
    """Return whether inputs or options name what a device does not know.

    It knows documents by their positions, queries by their order, and no labels.
    """
    others = (inputs.document_ids, inputs.exclude, options.labels)
    if set(map(type, others)) != {NoneType} or options.ties == "docid":
        return True
    return isinstance(inputs.sample_weight, Mapping) or abs(options.ignore_index or 0) > 2**53


def _type(values: Any) -> str:
    return str(values.dtype).removeprefix("torch.")


def _placed(inputs: Inputs, mask: Any, options: Options) -> Placed:
    """Return the rankings of tensors."""
    score, relevance = inputs.predictions, inputs.references
    if options.score_order != "descending":
        score = -score  # inf, of a document that was not retrieved, becomes -inf
    if inputs.query_ids is not None:
        # Rows of a query become contiguous, queries in the order of their ids.
        ids, order = inputs.query_ids.sort(stable=True)
        _, lengths = ids.unique_consecutive(return_counts=True)
        score, relevance = score[order], relevance[order]
        kept = _without_padding(relevance, None, options.ignore_index)
        by_first_row = order[lengths.cumsum(0) - lengths].argsort()
        return Placed(relevance, score, kept, offsets_of(lengths.cpu().numpy()), by_first_row)
    kept = None
    if mask is not None:
        kept = mask != 0
        # Numbers other than 0 and 1 are an error, which the host raises.
        if (kept != mask).any():
            raise UndecidedError
    return Placed(relevance, score, _without_padding(relevance, kept, options.ignore_index))


def _without_padding(relevance: Any, kept: Any, ignore_index: float | None) -> Any:
    """Return a mask without the documents of `ignore_index`, rounded to the type of relevances."""
    if ignore_index is None:
        return kept
    if relevance.is_floating_point():
        ignore_index = float(relevance.new_tensor(ignore_index))
    return in_both(relevance.double() != ignore_index, kept)


def _warn_if_swapped(score: Any, relevance: Any) -> None:
    sides = (score, relevance)
    first_documents = (side.reshape(-1)[:COMPARED].double().cpu().numpy() for side in sides)
    doubt = doubt_if_swapped(*first_documents)
    if doubt:
        warn(f"{mark('predictions')}: {doubt}")


def _measured(rankings: Placed, options: Options) -> dict[str, NDArray[np.float64]]:
    """Return the values of queries, copied to the host."""
    import torch

    relevance, score, kept, offsets, order = rankings
    measured = measure_tensors(
        relevance, score, offsets, judged=kept, retrieved=kept, **options.scoring
    )
    values = torch.stack([measured[measure][row] for _, measure, row in options.results])
    if options.missing != "empty":
        ranked = rankings.ranked()
        if options.missing == "raise" and not ranked.all():
            raise UndecidedError
        values.masked_fill_(~ranked, np.nan)
    if not options.is_order_given:
        _warn_if_swapped(score, relevance)
    return dict(zip(options.names, values[:, order].cpu().numpy(), strict=True))
