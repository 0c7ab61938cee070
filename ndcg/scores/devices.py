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
from ..measure.messages import mark, warn
from ..measure.options import Options
from ..measure.tensors import measure_tensors
from .doubts import COMPARED, doubt_if_swapped

if TYPE_CHECKING:
    from torch import Tensor

# From so many documents an accelerator is faster than copying them to the host.
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
    query_ids: "Tensor | None" = None  # the id of every query
    order: "Tensor | None" = None  # the queries in the order of their first rows

    def ranked(self) -> "Tensor":
        """Return which queries have a retrieved document."""
        retrieved = self.score > -np.inf
        if self.kept is not None:
            retrieved = retrieved & self.kept
        if self.offsets is None:
            return retrieved.any(1)
        import torch

        until = torch.cat([retrieved.new_zeros(1), retrieved]).cumsum(0)
        until = until[torch.tensor(self.offsets, device=until.device)]
        return until[1:] > until[:-1]


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
    inputs: Inputs, options: Options, mask: Any = None, names: list[Any] | None = None
) -> dict[str, NDArray[np.float64]] | None:
    """Return the values of all queries by result; None if the host must compute them.

    The ids of queries are added to `names`. The mask is True or 1 for a document, False or 0 for
    padding.
    """
    score, relevance, query_ids = inputs.predictions, inputs.references, inputs.query_ids
    sides = [score, relevance]
    if mask is not None:
        sides.append(mask)
    devices = set(map(accelerator_of, sides))
    if query_ids is not None:
        devices.add(accelerator_of(query_ids))
    if None in devices or len(devices) > 1:
        return None
    if not _can_score(inputs, options, sides):
        return None
    import torch

    # The host may have the memory that the device lacks.
    with suppress(torch.cuda.OutOfMemoryError), torch.no_grad():
        placed = _placed(score, relevance, query_ids, mask, options)
        return _measured(placed, options, names)
    return None


def _can_score(inputs: Inputs, options: Options, sides: list[Any]) -> bool:
    """Return whether a device can score tensors: predictions, references and perhaps a mask."""
    score = inputs.predictions
    if score.numel() < ON_DEVICE_FROM:
        return False
    # A device knows documents by their positions only.
    if inputs.document_ids is not None or inputs.exclude is not None or options.ties == "docid":
        return False
    if not set(map(_type, sides)).issubset(NUMBER_TENSORS):
        return False
    if not _has_exact_types(options, _type(score)):
        return False
    if inputs.query_ids is None:
        return _are_rows(sides)
    has_mask = len(sides) > 2
    return not has_mask and _are_columns(score, inputs.references, inputs.query_ids)


def _has_exact_types(options: Options, score_type: str) -> bool:
    """Return whether options change no value that the types of tensors could not hold."""
    if abs(options.ignore_index or 0) > 2**53:
        return False
    if options.score_dtype != "given" and score_type not in NARROW_TENSORS:
        return False
    if options.score_order == "descending":
        return True
    # Ascending scores are negated, and the lowest integer has no negative.
    return score_type not in (*INTEGER_TENSORS, "bool")


def _are_rows(sides: list[Any]) -> bool:
    """Return whether tensors have a row per query, and neither a row per document nor ids."""
    score, relevance = sides[:2]
    if score.ndim != 2 or score.shape[1] <= ROW_OF_TABLE:
        return False
    if any(side.shape != score.shape for side in sides):
        return False
    # Integers on both sides may be ids, which the host refuses.
    return not {_type(score), _type(relevance)}.issubset(INTEGER_TENSORS)


def _are_columns(score: Any, relevance: Any, query_ids: Any) -> bool:
    """Return whether tensors have a row per document, with the integer id of its query."""
    if query_ids.ndim != 1 or _type(query_ids) not in INTEGER_TENSORS:
        return False
    # A model may give its scores as a matrix of one column.
    shapes = (query_ids.shape, (*query_ids.shape, 1))
    return score.shape in shapes and relevance.shape in shapes


def _type(values: Any) -> str:
    return str(values.dtype).removeprefix("torch.")


def _placed(
    score: Any, relevance: Any, query_ids: Any, mask: Any, options: Options
) -> Placed | None:
    """Return the rankings of tensors; None if the mask is no mask."""
    if options.score_order != "descending":
        score = -score  # inf, of a document that was not retrieved, becomes -inf
    kept = None
    if mask is not None:
        kept = mask != 0
        # Numbers other than 0 and 1 are an error, which the host raises.
        if (kept != mask).any():
            return None
    if query_ids is None:
        return Placed(relevance, score, _without_padding(relevance, kept, options.ignore_index))
    # Rows of a query become contiguous, queries in the order of their ids.
    ids, order = query_ids.sort(stable=True)
    ids, lengths = ids.unique_consecutive(return_counts=True)
    score, relevance = score.reshape(-1)[order], relevance.reshape(-1)[order]
    kept = _without_padding(relevance, None, options.ignore_index)
    by_first_row = order[lengths.cumsum(0) - lengths].argsort()
    return Placed(relevance, score, kept, offsets_of(lengths.cpu().numpy()), ids, by_first_row)


def _without_padding(relevance: Any, kept: Any, ignore_index: float | None) -> Any:
    """Return a mask without the documents of `ignore_index`, rounded to the type of relevances."""
    if ignore_index is None:
        return kept
    import torch

    if relevance.dtype == torch.bool:
        relevance = relevance.byte()
    ignored = torch.tensor(ignore_index, dtype=torch.float64).to(relevance.dtype)
    if float(ignored) != ignore_index and not relevance.is_floating_point():
        return kept  # no integer of this type
    if kept is None:
        return relevance != ignored
    return kept & (relevance != ignored)


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
    values = torch.stack([measured[measure][row] for _, measure, row in options.results])
    if options.missing != "empty":
        ranked = rankings.ranked()
        if options.missing == "raise" and not ranked.all():
            return None
        values.masked_fill_(~ranked, np.nan)
    if order is not None:
        values = values[:, order]
        if names is not None and query_ids is not None:
            names += query_ids[order].tolist()
    first = (side.reshape(-1)[:COMPARED].double().cpu().numpy() for side in (score, relevance))
    doubt = "" if options.is_order_given else doubt_if_swapped(*first)
    if doubt:
        warn(f"{mark('predictions')}: {doubt}")
    return dict(zip(options.names, values.cpu().numpy(), strict=True))
