"""The measure of PyTorch tensors, computed where they lie: the meaning of `measure_queries`.

Only the highest scores and gains of a query are sought, with no loop over queries, and added in
float64: values equal NumPy's to about 1e-15, not to the last bit.

Invalid values are left to `measure_queries`, which raises its error. To tell, a block of queries
reads a few numbers from the device, once; nothing else waits for it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .messages import raise_unless_of_values
from .scoring import MeasureDefinition, sign, similar_lengths

if TYPE_CHECKING:
    from torch import Tensor

# documents per block: enough to keep a device busy, few enough to fit beside a model
TENSOR_BLOCK = 1 << 24
TENSOR_PADDING = 1 << 18  # padding documents that are worth accepting for one block fewer


class UndecidedError(Exception):
    """Only `measure_queries` can tell the values, or what is wrong.

    A value is invalid, a sum may overflow, integer scores are too large for float64, a gain is no
    function of tensors, or there are no documents.
    """


def measure_tensors(
    relevance: "Tensor",
    score: "Tensor",
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: "Tensor | None" = None,
    retrieved: "Tensor | None" = None,
    measures: Sequence[str] = ("nDCG",),
    **options: Any,
) -> "dict[str, Tensor]":
    """Return the values of every query at every cutoff, by measure as ``(cutoffs, queries)``.

    The values are float64. The arguments are as in `measure_queries`, but tensors on one device,
    except for the offsets. The gain may be a function of tensors; the discount is computed by
    NumPy.

    Raises:
        UndecidedError: only `measure_queries` can tell.
    """
    import torch

    if not score.numel():
        raise UndecidedError
    if score.dtype == torch.int64 and ((score > 2**53) | (score < -(2**53))).any():
        raise UndecidedError
    if offsets is None:
        queries, longest = score.shape
    else:
        lengths = np.diff(offsets)
        queries, longest = len(lengths), int(lengths.max())
    definition = MeasureDefinition.of(longest, measures=measures, **options)
    weight = torch.tensor(definition.weight.copy(), device=score.device)
    cutoffs = torch.tensor([k or longest for k in definition.cutoffs], device=score.device)
    # A row for a rank and a column for a cutoff: 1 where the rank counts.
    within = (torch.arange(len(weight), device=score.device)[:, None] < cutoffs).double()
    weights = {"CG": within, "DCG": within * weight[:, None]}
    values = {measure: weight.new_empty(len(cutoffs), queries) for measure in measures}
    with torch.no_grad():
        for rows, block in _blocks(relevance, score, judged, retrieved, offsets=offsets):
            block_values = _measured(block, definition, weights)
            for measure in measures:
                values[measure][:, rows] = block_values[measure]
    return values


class _Rankings(NamedTuple):
    """A block of queries of the same length, or padded to it: tensors of (queries, documents)."""

    relevance: "Tensor"  # 0 if not judged
    score: "Tensor"  # a float, -inf if not retrieved
    judged: "Tensor | None"  # None: all of them


def _blocks(
    relevance: Any,
    score: Any,
    judged: Any,
    retrieved: Any,
    *,
    offsets: NDArray[np.int64] | None,
) -> "Iterator[tuple[Any, _Rankings]]":
    """Yield rankings in blocks of queries, and where the results of a block go."""
    import torch

    def mask_of(mask: Any, index: Any, otherwise: Any = None) -> Any:
        return otherwise if mask is None else mask[index]

    if offsets is None:
        step = max(1, TENSOR_BLOCK // score.shape[1])
        for first in range(0, len(score), step):
            rows = slice(first, first + step)
            masks = (mask_of(judged, rows), mask_of(retrieved, rows))
            yield rows, _block(relevance[rows], score[rows], *masks)
        return
    lengths = np.diff(offsets)
    for queries in similar_lengths(lengths, TENSOR_BLOCK, TENSOR_PADDING):
        # One transfer to the device instead of three.
        places = np.stack([queries, offsets[queries], lengths[queries]])
        query, start, length = torch.tensor(places, device=score.device)
        position = torch.arange(max(int(lengths[queries[0]]), 1), device=score.device)
        index = (start[:, None] + position).clamp_(max=len(score) - 1)
        is_there = position < length[:, None]
        is_judged = is_there & mask_of(judged, index, True)
        is_retrieved = is_there & mask_of(retrieved, index, True)
        yield query, _block(relevance[index], score[index], is_judged, is_retrieved)


def _block(relevance: Any, score: Any, judged: Any, retrieved: Any) -> _Rankings:
    """Return a block, without the values of documents that are not judged or not retrieved."""
    import torch

    if relevance.dtype == torch.bool:
        relevance = relevance.byte()
    if judged is not None:
        relevance = relevance.where(judged, 0)
    if not score.is_floating_point():
        score = score.double()
    if retrieved is not None:
        score = score.masked_fill(~retrieved, -math.inf)
    return _Rankings(relevance, score, judged)


def _measured(
    block: _Rankings, definition: MeasureDefinition, weights: "Mapping[str, Tensor]"
) -> "dict[str, Tensor]":
    """Return the values of a block's queries, or raise an `UndecidedError`.

    The weights of CG and DCG have a row for a rank and a column for a cutoff.
    """
    import torch

    relevance, score, _ = block
    ranks = min(len(weights["DCG"]), score.shape[1])
    values, gain_of = _by_gain(block, definition)
    extremes = torch.stack(relevance.aminmax()).double()  # nan if any is
    lowest, highest = gain_of(torch.stack(values.aminmax()))
    # every sum, of any sign, is below this
    bound = torch.maximum(-lowest, highest) * max(score.shape[1], len(definition.weight))
    bound *= max(1.0, float(np.abs(definition.weight).max()))
    valid = extremes.isfinite().all() & (score.amax() < math.inf)
    valid &= bound < torch.finfo(torch.float64).max
    if definition.negative_relevance == "raise":
        valid &= extremes[0] >= 0
    sums = {}
    if definition.needs("nDCG", "IDCG"):
        ideal = _ideal(block, values, gain_of, ranks, definition)
        if definition.ideal == "full":
            sums["IDCG"] = ideal[:, :1] * weights["DCG"].sum(0)
        else:
            sums["IDCG"] = ideal @ weights["DCG"][:ranks]
    if definition.needs("nDCG", "DCG", "CG"):
        ranked = _ranked(score, values, gain_of, ranks, definition.ties, valid)
        sums |= {name: ranked @ weight[:ranks] for name, weight in weights.items()}
    elif not valid:
        raise UndecidedError
    if "nDCG" in definition.measures:
        ratio = sums["DCG"] / sums["IDCG"]
        ratio = ratio.where(lowest < 0, ratio.clamp(max=1))  # only rounding makes it exceed 1
        empty: Any = definition.zero_division
        if isinstance(empty, str):
            # Perfect if nothing was retrieved, and there was nothing to find.
            not_empty = (score > -math.inf).any(1) | (gain_of(values.amax(1)) > 0)
            empty = (~not_empty).double()[:, None]
        sums["nDCG"] = ratio.where(sign(definition.weight) * sums["IDCG"] > 0, empty)
    return {name: by_query.T for name, by_query in sums.items()}


# Gains


def _exponential(relevance: "Tensor") -> "Tensor":
    """Return 2**r - 1."""
    small = (relevance * math.log(2)).expm1()  # for small r the subtraction loses digits
    return (relevance.exp2() - 1).where(relevance.abs() >= 0.5, small)


TENSOR_GAINS: "dict[str, Callable[[Tensor], Tensor]]" = {
    "linear": lambda relevance: relevance,
    "exponential": _exponential,
    "binary": lambda relevance: (relevance > 0).double(),
}


def _by_gain(
    block: _Rankings, definition: MeasureDefinition
) -> "tuple[Tensor, Callable[[Tensor], Tensor]]":
    """Return values of documents that rise with their gains, and the function to gains.

    A gain that is a word never falls as the relevance grows, so it is applied after sorting, to the
    few documents that count. By a list or a function, the values are the gains, NaN for labels
    without one.
    """
    import torch

    relevance, gain = block.relevance, definition.gain
    clip = definition.negative_relevance == "clip"

    def clipped(values: "Tensor") -> "Tensor":
        values = values.double()
        return values.clamp(min=0) if clip else values

    if isinstance(gain, str):
        gain_of_word = TENSOR_GAINS[gain]
        return relevance, lambda values: gain_of_word(clipped(values))
    labels = clipped(relevance)
    if callable(gain):
        gains = _answer(gain, labels.reshape(-1)).reshape(labels.shape)
    else:
        table = torch.tensor(np.asarray(gain, np.float64), device=labels.device)
        is_label = (labels >= 0) & (labels < len(table)) & (labels == labels.floor())
        gains = table[labels.where(is_label, 0).long()].where(is_label, math.nan)
    if clip:
        gains = gains.where(relevance >= 0, 0)
    if block.judged is not None:
        gains = gains.where(block.judged, 0)
    return gains, torch.Tensor.double


def _answer(function: Callable[[Any], Any], relevance: "Tensor") -> "Tensor":
    """Return what the user's function returns for relevances: as many real numbers.

    One relevance is tried first, since a loop over all of them takes long on a device.
    """
    for labels in (relevance[:1], relevance):
        try:
            answer = function(labels.clone())  # which the function may modify
        except BaseException as error:  # NumPy computes it, or says what is wrong
            raise_unless_of_values(error)
            raise UndecidedError from error
        expected = (labels.shape, labels.device, False)
        if type(answer) is not type(labels) or _kind(answer) != expected:
            raise UndecidedError
    gains: Tensor = answer.double()
    return gains


def _kind(values: "Tensor") -> tuple[Any, ...]:
    return values.shape, values.device, values.is_complex()


# Ranks


def _top(values: "Tensor", count: int) -> "tuple[Tensor, Tensor]":
    """Return the highest values in descending order, and their positions; NaN is the highest."""
    if 4 * count < values.shape[1]:
        return values.topk(count)
    # To sort is faster than to select so many.
    highest, position = values.sort(descending=True)
    return highest[:, :count], position[:, :count]


def _ideal(
    block: _Rankings,
    values: "Tensor",
    gain_of: "Callable[[Tensor], Tensor]",
    ranks: int,
    definition: MeasureDefinition,
) -> "Tensor":
    import torch

    score, counted = block.score, block.judged
    if definition.ideal == "retrieved":
        counted = score > -math.inf
        if block.judged is not None:
            counted &= block.judged
    elif isinstance(definition.gain, str) and definition.negative_relevance != "keep":
        counted = None  # documents that are not judged have the lowest gain, 0
    if counted is not None:
        if not values.is_floating_point():
            values = values.double()
        values = values.masked_fill(~counted, -math.inf)
    highest = _top(values, ranks)[0]
    ideal = gain_of(highest).where(highest > -math.inf, 0)
    if definition.ideal == "truncated":
        retrieved = (score > -math.inf).sum(1, keepdim=True)
        ideal = ideal.where(torch.arange(ranks, device=score.device) < retrieved, 0)
    return ideal


def _ranked(
    score: "Tensor",
    values: "Tensor",
    gain_of: "Callable[[Tensor], Tensor]",
    ranks: int,
    ties: str,
    valid: "Tensor",
) -> "Tensor":
    """Return the gain at ranks 1..``ranks`` by descending score, if all values are valid."""
    import torch

    if ties != "average":
        position = _order(score, values, ties)[:, :ranks]
        is_retrieved = score.gather(1, position) > -math.inf
        if not valid:
            raise UndecidedError
        return gain_of(values.gather(1, position)).where(is_retrieved, 0)
    top, position = _top(score, min(ranks + 1, score.shape[1]))
    gains = gain_of(values.gather(1, position)).where(top > -math.inf, 0)
    falling = -top
    start = torch.searchsorted(falling, falling, out_int32=True)
    end = torch.searchsorted(falling, falling, out_int32=True, right=True)
    size = (end - start).where(top > -math.inf, 1)
    last = top[:, ranks - 1 : ranks]
    # A tie of the last rank and the next.
    crosses = (top[:, ranks:] == last).any(1) & (last[:, 0] > -math.inf)
    # The only wait for the device.
    is_valid, largest, crossing = torch.stack([valid, size.max(), crosses.sum()]).tolist()
    if not is_valid:
        raise UndecidedError
    if largest > 1:
        gains = _mean_of_ties(gains, start, end, size, largest)
    gains = gains[:, :ranks]
    if crossing:
        # The documents of these ties that are beyond the cutoff share in the mean, too.
        rows = crosses.byte().topk(crossing).indices
        tied = score[rows] == last[rows]
        mean = gain_of(values[rows]).where(tied, 0).sum(1, keepdim=True)
        mean = mean / tied.sum(1, keepdim=True)
        gains[rows] = mean.where(top[rows, :ranks] == last[rows], gains[rows])
    return gains


def _mean_of_ties(
    gains: "Tensor", start: "Tensor", end: "Tensor", size: "Tensor", largest: int
) -> "Tensor":
    """Return the mean gain of documents with the same score, from ``start`` to ``end``.

    Sums from the start of a tie double their length in every step, so their order never depends on
    the device.
    """
    import torch

    position = torch.arange(gains.shape[1], device=gains.device, dtype=start.dtype) - start
    step = 1
    while step < largest:
        before = gains[:, :-step].where(position[:, step:] >= step, 0)
        gains = torch.cat([gains[:, :step], gains[:, step:] + before], 1)
        step *= 2
    return gains.gather(1, (end - 1).long()) / size


def _order(score: "Tensor", values: "Tensor", ties: str) -> "Tensor":
    """Return the positions of documents by descending score; ties by their positions or values."""
    score = score + 0.0  # no -0.0, which some devices rank below 0
    if ties == "first":
        return score.argsort(descending=True, stable=True)
    if ties == "last":
        return score.shape[1] - 1 - score.flip(1).argsort(descending=True, stable=True)
    order = values.argsort(descending=ties == "best", stable=True)
    return order.gather(1, score.gather(1, order).argsort(descending=True, stable=True))
