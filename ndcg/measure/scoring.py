"""The measure: CG, DCG, IDCG and nDCG of every query, from plain arrays.

For a query with documents ranked by descending score, rank ``i`` from 1:

    CG@k   = sum of gain(relevance_i) over i <= k
    DCG@k  = sum of gain(relevance_i) * discount(i) over i <= k, by default 1 / log_b(i + 1)
    IDCG@k = DCG@k of all judged documents in descending order of gain
    nDCG@k = DCG@k / IDCG@k

(Järvelin & Kekäläinen, ACM TOIS 2002; exponential gain: Burges et al., ICML 2005.) Documents with
equal scores share their ranks, so each of them counts with the mean gain of its group: the
expectation over all orders of the group (McSherry & Najork, ECIR 2008). That is why the code speaks
of *the gain at a rank*.

Each block of queries goes through three steps: the gain of every document; the gain
at ranks 1..k in the order of the scores; the gain at ranks 1..k in the ideal order.
Every measure is a sum over the last two.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .messages import InputError, in_short, mark, raise_unless_of_values
from .ties import Floats, Mask, grid_height, ideal_gains, ranked_gains

Gain = str | Sequence[float] | NDArray[Any] | Callable[[Floats], Any]
Discount = str | Sequence[float] | NDArray[Any] | Callable[[NDArray[np.int64]], Any]

Output = TypeVar("Output")

# Scores per block: enough to make the cost of NumPy calls and of switching threads negligible, few
# enough to fit into the last-level cache.
SCORES_AT_A_TIME = 1 << 18
PADDING = 1 << 13  # padding documents that are worth accepting for one block fewer
# Freeing an array this large (31 MiB) raises glibc's mmap threshold, so later blocks reuse memory
# instead of faulting it in page by page.
np.empty(31 << 17)
# What libraries write in place of the relevance of a document that pads a list: PyTorch and the
# Trainer of transformers -100, TensorFlow Ranking and allRank -1.
PADDING_LABELS = (-100, -1)
_KEEP = mark("negative_relevance", "keep", said='"keep"')
_COUNT_NEGATIVE = (
    f"{mark('negative_relevance', 'clip')} counts it as gain 0, as "
    f"{mark('convention', 'trec_eval')} does, {_KEEP} as it is"
)
NOT_A_RELEVANCE = (
    f"{{value}} is not a relevance{mark('None', before='; ', after=' marks one not judged')}"
)


class InvalidRankingError(InputError):
    """A value that is not valid in the array "relevance" or "score", and its place.

    Queries and positions are numbered from 0; without a position, the whole query is meant.
    """

    def __init__(
        self, array: str, query: int, position: int | None, problem: str, hint: str = ""
    ) -> None:
        super().__init__(problem, array, f"query {query}", position=position, hint=hint)
        self.array, self.query = array, query


class MeasureDefinition(NamedTuple):
    """The values to compute for every query, as `measure_queries` describes them."""

    measures: frozenset[str]
    cutoffs: Sequence[int | None]
    weight: Floats  # the discount of each rank, stored from the last rank to the first
    gain: Gain
    ideal: str
    ties: str
    zero_division: float | str
    negative_relevance: str

    @classmethod
    def of(
        cls,
        longest: int,
        *,
        measures: Sequence[str] = ("nDCG",),
        cutoffs: Sequence[int | None] = (None,),
        gain: Gain = "linear",
        discount: Discount = "log",
        log_base: float = 2.0,
        ideal: str = "judged",
        ties: str = "average",
        zero_division: float | str = 0.0,
        negative_relevance: str = "raise",
    ) -> "MeasureDefinition":
        """Return the definition for queries of which the longest has so many documents."""
        ranks = max(
            (k or longest) if ideal == "full" else min(k or longest, longest) for k in cutoffs
        )
        weight = discounts(ranks, log_base, discount)[::-1].copy()[::-1]
        return cls(
            frozenset(measures),
            cutoffs,
            weight,
            gain,
            ideal,
            ties,
            zero_division,
            negative_relevance,
        )

    def needs(self, *measures: str) -> bool:
        """Return whether any of these measures was requested."""
        return not self.measures.isdisjoint(measures)


class _Block(NamedTuple):
    """Queries of the same length, or padded to it: every array is (queries, documents)."""

    queries: slice | NDArray[np.intp]  # where their results go
    relevance: NDArray[Any]  # 0 if not judged
    score: NDArray[Any]  # -inf if not retrieved
    judged: Mask | None  # None: all of them

    def query(self, row: int) -> int:
        """Return the index, among all queries, of a row of this block."""
        return (
            self.queries.start + row if isinstance(self.queries, slice) else int(self.queries[row])
        )

    def invalid(self, array: str, at: Mask, problem: str, hint: str = "") -> InvalidRankingError:
        """Return the error for the first document that the mask ``at`` marks."""
        row, position = (int(index[0]) for index in np.nonzero(at))
        value = getattr(self, array)[row, position].item()
        return InvalidRankingError(
            array, self.query(row), position, problem.format(value=value), hint
        )


def discounts(ranks: int, log_base: float = 2.0, discount: Discount = "log") -> Floats:
    """Return the discount of ranks 1..``ranks``: the factor of the gain at each rank.

    ``"log"`` is that of Burges et al. (2005), ``"jarvelin"`` that of Järvelin & Kekäläinen (2002).
    A sequence has the discounts of rank 1, 2, 3, …; a function returns the discounts of an array of
    ranks.
    """
    rank = np.arange(1, ranks + 1)
    if isinstance(discount, str):
        return np.asarray(DISCOUNT_FUNCTIONS[discount](rank, log_base))
    if callable(discount):
        values = _answer("discount", "ranks", discount, rank)
        if (problem := not_discounts(values)) is not None:
            raise InputError(
                f"the result of the function for ranks 1 to {ranks} {problem}", "discount"
            )
        return values
    if len(discount) < ranks:
        raise InputError(
            f"{mark('discount')} lists {len(discount)} ranks, but {ranks} count; "
            f"list more, or give {mark('k', len(discount))}"
        )
    return np.asarray(discount[:ranks], np.float64)


DISCOUNT_FUNCTIONS: dict[str, Callable[[NDArray[np.int64], float], Floats]] = {
    "log": lambda rank, log_base: 1.0 / (np.log(rank + 1) / np.log(log_base)),
    "reciprocal": lambda rank, log_base: 1.0 / rank,
    "jarvelin": lambda rank, log_base: 1.0 / np.maximum(1, np.log(rank) / np.log(log_base)),
}


def not_discounts(values: Floats) -> str | None:
    """Return the reason why values cannot be the discounts of ranks 1, 2, 3, …; None if they can.

    If a discount rose, descending gains would not be the ideal order.

    >>> not_discounts(np.array([1.0, 0.5, 0.7]))
    'rises from 0.5 at rank 2 to 0.7 at rank 3'
    """
    if not np.isfinite(values).all() or (values < 0).any():
        rank = int(np.argmin(np.isfinite(values) & (values >= 0))) + 1
        return f"is {values[rank - 1]} at rank {rank}; discounts are finite and not negative"
    if values.size and values[0] == 0:
        return "is 0 at rank 1, so nothing counts"
    if (rises := np.flatnonzero(values[1:] > values[:-1])).size:
        rank = int(rises[0]) + 1
        return f"rises from {values[rank - 1]} at rank {rank} to {values[rank]} at rank {rank + 1}"
    return None


def measure_queries(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
    measures: Sequence[str] = ("nDCG",),
    **options: Any,
) -> dict[str, Floats]:
    """Return the values of every query at every cutoff: for each measure an array of shape ``(cutoffs, queries)``.

    Relevance and score are real numbers of shape ``(queries, documents)``; or 1-D, query after
    query, with ``offsets``, which are the start of each query and the end of the last one. Higher
    scores rank first; ``-inf`` is the same as not retrieved. A document that is not ``judged`` has
    a rank with gain 0, and is not in the ideal; one that is not ``retrieved`` has no rank, but is
    in the ideal; None marks all of them. A cutoff is a positive integer, or None for all ranks. The
    options are those of `MeasureDefinition.of`, checked as options of ``compute``.

    An `InvalidRankingError` tells that a value is NaN or infinite, a relevance is not allowed or
    has no gain, or a sum overflows.

    >>> measures = ["nDCG", "DCG", "IDCG", "CG"]
    >>> found = measure_queries(np.array([[3, 2, 3, 0, 1, 2]]), np.array([[6, 5, 4, 3, 2, 1]]), measures=measures)
    >>> {name: float(values[0, 0].round(3)) for name, values in found.items()}
    {'nDCG': 0.961, 'DCG': 6.861, 'IDCG': 7.141, 'CG': 11.0}
    """
    if score.dtype.kind in "iu":
        score = _exact_in_float64(score)
    longest = (
        score.shape[1] if offsets is None else int((offsets[1:] - offsets[:-1]).max(initial=0))
    )
    definition = MeasureDefinition.of(longest, measures=measures, **options)
    shape = len(definition.cutoffs), len(relevance) if offsets is None else len(offsets) - 1
    values = {measure: np.empty(shape) for measure in measures}
    measure_block = partial(_measure_block, into=values, definition=definition)
    # If a grid is searched, little more than its column maxima is read, so a block can be larger.
    size = SCORES_AT_A_TIME * max(1, min(grid_height(longest, len(definition.weight) + 1), 4))
    blocks = _blocks(relevance, score, offsets, judged, retrieved, size)
    if score.size > 2 * size:
        in_threads(measure_block, list(blocks))
    else:
        for block in blocks:
            measure_block(block)
    return values


def _measure_block(
    read: Callable[[], _Block], *, into: Mapping[str, Floats], definition: MeasureDefinition
) -> None:
    """Put the measures of a block's queries into the arrays of all queries."""
    block, weight = read(), definition.weight
    ranks = min(len(weight), block.score.shape[1])
    with np.errstate(all="ignore"):  # values that are not finite are rejected, with their place
        gains, lowest = _gains(block, definition.gain, definition.negative_relevance)
        ranked, ideal = _gains_at_ranks(block, ranks, gains, lowest, definition)
        sums = _discounted_sums(ranked, ideal, ranks, definition)
        if definition.ideal == "full" and "IDCG" in sums:
            highest = ideal[:, 0] if ranks else np.zeros(len(ideal))
            sums["IDCG"] = np.stack(
                [_sum_of_equal(highest, weight[: k or ranks]) for k in definition.cutoffs]
            )
        _refuse_overflow(block, sums)
        if "nDCG" in definition.measures:
            zero_division = definition.zero_division
            empty = (
                _perfect_if_empty(block, gains) if isinstance(zero_division, str) else zero_division
            )
            sums["nDCG"] = ratio(sums["DCG"], sums["IDCG"], lowest < 0, sign(weight), empty)
    for measure, values in into.items():
        values[:, block.queries] = sums[measure]


def _exact_in_float64(score: NDArray[Any]) -> NDArray[Any]:
    """Return integers that float64 can tell apart: if any is beyond 2**53, their ranks, with their signs.

    Signs are kept because they determine the order in which tied gains are summed.
    """
    if not score.size or max(-int(score.min()), int(score.max())) <= 2**53:
        return score
    distinct, order = np.unique(score, return_inverse=True)
    return np.asarray(order.reshape(score.shape) - np.searchsorted(distinct, 0))


def are_padding_labels(negative: Sequence[float] | NDArray[Any]) -> bool:
    """Return whether negative relevances may be padding: all are the same label, which some library pads with.

    >>> are_padding_labels([-1, -1]), are_padding_labels([-1, -2]), are_padding_labels([-3.0])
    (True, False, False)
    """
    labels = np.unique(negative)
    return len(labels) == 1 and labels[0] in PADDING_LABELS


def hint_of_negative(negative: NDArray[Any]) -> str:
    """Return how to score negative relevances: without them, if they may be padding, or with some gain."""
    if are_padding_labels(negative):
        return (
            f"{mark('ignore_index', int(negative[0]), after=' removes padding; ')}{_COUNT_NEGATIVE}"
        )
    return f"{_COUNT_NEGATIVE}{mark('ignore_index', before='; ', after=' removes padding')}"


def in_threads(
    work: Callable[..., Output], *over: Sequence[Any], threads: int | None = None
) -> list[Output]:
    """Return the result of a function for each item, computed in as many threads as the process may use."""
    if len(over[0]) < 2 or threads == 1:
        return list(map(work, *over))
    with ThreadPoolExecutor(threads or _threads()) as pool:
        return list(pool.map(work, *over))


def _threads() -> int:
    """Return the number of threads: the number of CPUs of the process, or OMP_NUM_THREADS."""
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if setting.isdecimal() and int(setting):
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_queries(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
    gain: Gain = "linear",
    negative_relevance: str = "keep",
) -> None:
    """Raise the error of ``measure_queries`` for documents that are invalid whatever else their query contains.

    By default, these are the documents that no combination of options could score.
    """
    for read in _blocks(relevance, score, offsets, judged, retrieved):
        block = read()
        with np.errstate(all="ignore"):  # values that are not finite are rejected, with their place
            _refuse(block, block.score, _gains(block, gain, negative_relevance)[0], gain)


def _blocks(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None,
    judged: Mask | None,
    retrieved: Mask | None,
    size: int = SCORES_AT_A_TIME,
) -> Iterator[Callable[[], _Block]]:
    """Cut queries into blocks of about ``size`` scores, ragged ones longest first; yield a function to read each."""
    if offsets is not None:
        lengths = offsets[1:] - offsets[:-1]
        documents = int(lengths[0]) if len(lengths) else 0
        if (lengths == documents).all():
            shape = (len(lengths), documents)
            relevance, score = relevance.reshape(shape), score.reshape(shape)
            judged = None if judged is None else judged.reshape(shape)
            retrieved = None if retrieved is None else retrieved.reshape(shape)
            offsets = None
    if offsets is None:
        queries, documents = score.shape
        step = max(1, size // max(documents, 1))
        for start in range(0, queries, step):
            rows = slice(start, min(start + step, queries))
            yield partial(_block, rows, relevance, score, judged, retrieved)
        return
    for queries_of_block in similar_lengths(lengths, size, PADDING):
        starts = offsets[queries_of_block]
        yield partial(
            _padded,
            queries_of_block,
            starts,
            lengths[queries_of_block],
            relevance,
            score,
            judged,
            retrieved,
        )


def similar_lengths(
    lengths: NDArray[np.int64], size: int, padding: int
) -> Iterator[NDArray[np.intp]]:
    """Yield the queries of each block of about ``size`` documents, longest first.

    A block has as many queries as fit with little padding: less than an eighth, or less than
    another block would cost.
    """
    order, start = np.argsort(-lengths, kind="stable"), 0
    while start < len(order):
        block = order[start : start + max(1, size // max(int(lengths[order[start]]), 1))]
        cells = int(lengths[block[0]]) * np.arange(1, len(block) + 1)
        within = cells - np.cumsum(lengths[block]) <= np.maximum(cells // 8, padding)
        block = block if within.all() else block[: int(np.argmin(within))]
        start += len(block)
        yield block


def _block(
    rows: slice,
    relevance: NDArray[Any],
    score: NDArray[Any],
    judged: Mask | None,
    retrieved: Mask | None,
) -> _Block:
    """Return the block of queries of the same length."""
    known = None if judged is None else judged[rows]
    return _Block(
        rows,
        relevance[rows] if known is None else np.where(known, relevance[rows], 0),
        score[rows] if retrieved is None else np.where(retrieved[rows], score[rows], -np.inf),
        known,
    )


def _padded(
    queries: NDArray[np.intp],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    relevance: NDArray[Any],
    score: NDArray[Any],
    judged: Mask | None,
    retrieved: Mask | None,
) -> _Block:
    """Pad queries to the length of the first, the longest, with documents that are neither judged nor retrieved."""
    longest = int(lengths[0])
    narrow = np.min_scalar_type(longest)  # faster to compare
    beyond = np.arange(longest, dtype=narrow) >= lengths.astype(narrow)[:, np.newaxis]
    last = len(score) - longest
    first = np.minimum(starts, last)
    late = np.flatnonzero(
        first < starts
    )  # queries too close to the end to be read as rows of this length

    def padded(values: NDArray[Any]) -> NDArray[Any]:
        whole = np.ascontiguousarray(values)
        rows: NDArray[Any] = np.ndarray(
            (last + 1, longest), whole.dtype, whole, strides=whole.strides * 2
        )[first]
        for row in late:
            rows[row, : lengths[row]] = values[starts[row] : starts[row] + lengths[row]]
        return rows

    relevance, score = padded(relevance), padded(score)
    if score.dtype.kind != "f":
        score = score.astype(np.float64)
    known = ~beyond if judged is None else padded(judged) & ~beyond
    np.copyto(relevance, relevance.dtype.type(0), where=beyond if judged is None else ~known)
    np.copyto(score, -np.inf, where=beyond if retrieved is None else beyond | ~padded(retrieved))
    return _Block(queries, relevance, score, known)


def _gains_at_ranks(
    block: _Block, ranks: int, gains: Floats, lowest: float, definition: MeasureDefinition
) -> tuple[Floats, Floats]:
    """Return the gain at ranks 1..``ranks`` as scored and in the ideal, as (queries, ranks).

    If no measure needs the ranking or the ideal, its array has 0 ranks.
    """
    # float32 is read twice as fast, without loss
    score = (
        block.score
        if block.score.dtype == np.float32
        else block.score.astype(np.float64, copy=False)
    )
    ideal = ranked = gains[:, :0]
    if needs_ideal := definition.needs("nDCG", "IDCG"):
        ideal = _ideal_at_ranks(block, ranks, score, gains, lowest, definition.ideal)
    if definition.needs("nDCG", "DCG", "CG"):
        ranked, highest = ranked_gains(score, gains, ranks, definition.ties)
    else:
        highest = float(score.max(initial=-np.inf))
    whole = needs_ideal and definition.ideal not in ("retrieved", "truncated")
    most = ideal[:, :1].max(initial=0) if whole else gains.max(initial=0)
    if ranks and not (highest < np.inf and most < np.inf and lowest > -np.inf):
        _refuse(
            block, score, gains, definition.gain
        )  # NaN and infinity sort first, so these checks find them
    return ranked, ideal


def _ideal_at_ranks(
    block: _Block, ranks: int, score: Floats, gains: Floats, lowest: float, of: str
) -> Floats:
    """Return the gain at ranks 1..``ranks`` in the ideal, as (queries, ranks)."""
    counted = (
        block.judged if lowest < 0 else None
    )  # otherwise unjudged documents have the lowest gain, 0
    if of == "retrieved":
        counted = score > -np.inf if block.judged is None else block.judged & (score > -np.inf)
    if counted is None:
        ideal = ideal_gains(gains, ranks, lowest)
    else:
        ideal = ideal_gains(np.where(counted, gains, -np.inf), ranks, -np.inf)
        ideal[ideal == -np.inf] = 0  # fewer documents than ranks
    if of == "truncated":
        ideal[np.arange(ranks) >= (score > -np.inf).sum(axis=1, keepdims=True)] = 0
    return ideal


def _refuse(block: _Block, score: Floats, gains: Floats, gain: Gain) -> None:
    """Raise the error for a score, a relevance or a gain that is not a finite number, if there is one."""
    if (invalid := np.isnan(score) | (score == np.inf)).any():
        none = mark("None", before="; ", after=" or -inf marks one not retrieved")
        raise block.invalid("score", invalid, f"{{value}} is not a score{none}")
    if (invalid := ~np.isfinite(gains)).any():
        if not np.isfinite(block.relevance[invalid]).all():
            problem = NOT_A_RELEVANCE
        elif isinstance(gain, str) or callable(gain):
            problem = "the gain of relevance {value} is not a finite number"
        else:
            problem = f"the label {{value}} has no gain: {mark('gain')} lists the labels 0 to {len(gain) - 1}"
        raise block.invalid("relevance", invalid, problem)


def _refuse_overflow(block: _Block, sums: Mapping[str, Floats]) -> None:
    """Raise the error for a query whose sum overflows, if there is one."""
    for name, values in sums.items():
        if not np.isfinite(values).all():
            query = block.query(int(np.argmin(np.isfinite(values).all(axis=0))))
            raise InvalidRankingError(
                "relevance", query, None, f"{name} overflows; scale the gains"
            )


def _gains(block: _Block, gain: Gain, negative_relevance: str) -> tuple[Floats, float]:
    """Return the gain of every document, 0 for unjudged ones and padding, and the lowest gain.

    NaN marks relevances without a gain.
    """
    is_linear = isinstance(gain, str) and gain == "linear"
    is_single = is_linear and block.relevance.dtype == np.float32  # twice as fast to read and sort
    relevance = block.relevance if is_single else block.relevance.astype(np.float64, copy=False)
    lowest = float(relevance.min(initial=0))
    if not lowest > -np.inf:
        raise block.invalid("relevance", ~np.isfinite(relevance), NOT_A_RELEVANCE)
    negative = relevance < 0 if lowest < 0 and negative_relevance != "keep" else None
    if negative is not None:
        if negative_relevance == "raise":
            hint = hint_of_negative(relevance[negative])
            raise block.invalid("relevance", negative, "the relevance {value} is negative", hint)
        relevance, lowest = np.maximum(relevance, 0), 0.0
    if isinstance(gain, str):
        gains = GAIN_FUNCTIONS[gain](relevance)
        return gains, lowest if gain == "linear" else float(gains.min(initial=0))
    if callable(gain):
        if not np.isfinite(relevance).all():
            raise block.invalid("relevance", ~np.isfinite(relevance), NOT_A_RELEVANCE)
        judged = np.ones(relevance.shape, bool) if block.judged is None else block.judged
        gains = np.zeros(relevance.shape)
        gains[judged] = _answer("gain", "relevances", gain, relevance[judged])
    else:
        gains = _labelled(relevance, np.asarray(gain, np.float64))
        if block.judged is not None:
            gains[~block.judged] = 0
    if negative is not None:
        gains[negative] = 0
    return gains, float(gains.min(initial=0))


def _exponential(relevance: Floats) -> Floats:
    """Return 2**r - 1, without losing digits for small r."""
    gains = np.exp2(relevance) - 1
    low = (np.abs(relevance) < 0.5) & (relevance != 0)
    if low.any():
        gains[low] = np.expm1(relevance[low] * np.log(2))
    return gains


GAIN_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda relevance: relevance,
    "exponential": _exponential,
    "binary": lambda relevance: (relevance > 0) + 0 * relevance,  # NaN for an infinite relevance
}


def _answer(
    option: str, places: str, function: Callable[[NDArray[Any]], Any], values: NDArray[Any]
) -> Floats:
    """Return what the user's function for an option returns for an array: one number for each value."""
    if not values.size:
        return values.astype(np.float64)
    answer = function(values)
    problem = f"{option} gets an array of {places} and must return an array of as many numbers"
    try:
        numbers = np.asarray(answer)
    except ValueError:
        numbers = np.empty(0, object)  # lists of different lengths
    except BaseException as error:
        raise_unless_of_values(error)
        unread = f"it returned a {type(answer).__name__} that NumPy cannot read ({in_short(error)})"
        raise ValueError(f"{problem}: {unread}") from error
    if np.ma.is_masked(answer):
        raise ValueError(f"{problem}: some of those it returned are masked")
    if numbers.shape != values.shape or numbers.dtype.kind not in "biuf":
        raise ValueError(
            f"{problem}: for shape {values.shape} it returned {numbers.dtype} of shape {numbers.shape}"
        )
    return numbers.astype(np.float64)


def _labelled(relevance: Floats, table: Floats) -> Floats:
    """Return the gains of labels 0, 1, 2, … from a table."""
    known = (relevance >= 0) & (relevance < len(table)) & (relevance == np.floor(relevance))
    return np.where(known, table[np.where(known, relevance, 0).astype(np.intp)], np.nan)


def _discounted_sums(
    ranked: Floats, ideal: Floats, ranks: int, definition: MeasureDefinition
) -> dict[str, Floats]:
    """Return CG, DCG and IDCG, as far as the measures need them, at each cutoff: (cutoffs, queries)."""
    sums, discount = {}, definition.weight[:ranks]
    cutoffs = [min(k or ranks, ranks) for k in definition.cutoffs]
    if "CG" in definition.measures:
        sums["CG"] = _sums(ranked, np.ones(ranks)[::-1], cutoffs)
    if definition.needs("nDCG", "DCG"):
        sums["DCG"] = _sums(ranked, discount, cutoffs)
    if definition.needs("nDCG", "IDCG"):
        sums["IDCG"] = _sums(ideal, discount, cutoffs)
    return sums


def sign(discount: Floats) -> float:
    """Return -1 if a discount makes all sums negative, as with a logarithm to a base below 1; else 1."""
    return math.copysign(1, discount.sum())


def _perfect_if_empty(block: _Block, gains: Floats) -> Floats:
    """Return 1 for each query without a gain above 0 for which nothing was retrieved, 0 for others.

    The ideal DCG cannot tell: if nothing was retrieved, a truncated ideal is empty even if there
    was something to find.
    """
    return np.where((block.score > -np.inf).any(axis=1) | (gains > 0).any(axis=1), 0.0, 1.0)


def ratio(
    dcg: Floats, idcg: Floats, negative: bool, sign: float, zero_division: float | Floats
) -> Floats:
    """Return nDCG; if any gain is negative, it may be above 1 or below 0."""
    values = dcg / idcg
    if not negative:
        np.minimum(values, 1, out=values)  # only rounding makes it exceed 1
    return np.where(sign * idcg > 0, values, zero_division)


def _sum_of_equal(gains: Floats, weight: Floats) -> Floats:
    """Return the weighted sum of a gain that is the same at all ranks, for each query, added as in ``_sums``."""
    step = max(1, SCORES_AT_A_TIME // max(len(weight), 1))
    parts = (gains[start : start + step, np.newaxis] for start in range(0, len(gains), step))
    return np.concatenate(
        [
            _sums(part.repeat(len(weight), axis=1)[:, ::-1], weight, [len(weight)])[0]
            for part in parts
        ]
    )


def _sums(gains: Floats, weight: Floats, cutoffs: Sequence[int]) -> Floats:
    """Return the weighted sums of each query's gains up to each cutoff, added rank by rank.

    In this order, zeros at the end of a padded list do not change the rounding. ``einsum`` uses it
    if both arrays are stored from the last rank to the first, except for a single query, which is
    therefore passed twice.
    """
    sums, rows = np.empty((len(cutoffs), len(gains))), gains
    if len(gains) == 1:
        last_first = np.ascontiguousarray(gains[0, ::-1])
        rows = np.ndarray((2, last_first.size), gains.dtype, last_first, 0, (0, gains.itemsize))[
            :, ::-1
        ]
    for into, k in zip(sums, cutoffs, strict=True):
        into[:] = np.einsum("qk,k->q", rows[:, :k], weight[:k])[: len(gains)]
    return sums
