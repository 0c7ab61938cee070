"""The measure: CG, DCG, IDCG and nDCG of every query, from plain arrays.

For a query with documents ranked by descending score, rank ``i`` from 1:

    CG@k   = sum of gain(relevance_i) over i <= k
    DCG@k  = sum of gain(relevance_i) * discount(i) over i <= k, by default 1 / log_b(i + 1)
    IDCG@k = DCG@k of all judged documents in descending order of gain
    nDCG@k = DCG@k / IDCG@k

(Järvelin & Kekäläinen, ACM TOIS 2002; exponential gain: Burges et al., ICML 2005.) Documents with
equal scores share their ranks, so a document counts with the mean gain of its group: the
expectation over all orders of the group (McSherry & Najork, ECIR 2008). That is why the code speaks
of *the gain at a rank*.

Every block of queries goes through three steps: the gain of every document; the gain
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
from .ties import Array, Floats, Mask, grid_height, ideal_gains, ranked_gains

Gain = str | Sequence[float] | Array | Callable[[Floats], Any]
Discount = str | Sequence[float] | Array | Callable[[NDArray[np.int64]], Any]

Output = TypeVar("Output")

# Scores per block: enough to make the cost of NumPy calls and of switching threads negligible, few
# enough to fit into the last-level cache.
SCORES_AT_A_TIME = 1 << 18
EVERY = np.array(True)  # the mask of every document, which NumPy broadcasts
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
# By ids there is no padding, and a document that is not judged keeps its rank.
NEGATIVE_BY_ID = (
    f"{_COUNT_NEGATIVE}; if nobody could judge it, leave it out of the {mark('references')}"
)
_NONE = mark("None", before="; ", after=" marks one not judged")
NOT_A_RELEVANCE = f"{{value}} is not a relevance{_NONE}"


class InvalidRankingError(InputError):
    """A value that is not valid in the array "relevance" or "score", and its place.

    Queries and positions are numbered from 0; without a position, the whole query is meant.
    """

    def __init__(
        self,
        array: str,
        query: int,
        position: int | None,
        problem: str,
        hint: str = "",
        hint_by_id: str = "",  # in its place if documents have ids
    ) -> None:
        super().__init__(problem, array, f"query {query}", position=position, hint=hint)
        self.array, self.query = array, query
        self.hint_by_id = hint_by_id


class MeasureDefinition(NamedTuple):
    """The values to compute for every query, as `measure_queries` describes them."""

    measures: frozenset[str]
    cutoffs: Sequence[int | None]
    weight: Floats  # the discount of every rank, stored from the last rank to the first
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
        ranks = max(k or longest for k in cutoffs)
        if ideal != "full":  # a full ideal has more ranks than there are documents
            ranks = min(ranks, longest)
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


class _Documents(NamedTuple):
    """The documents of all queries, as `measure_queries` describes them."""

    relevance: Array
    score: Array
    judged: Mask | None
    retrieved: Mask | None


class _Block(NamedTuple):
    """Queries of the same length, or padded to it: every array is (queries, documents)."""

    queries: slice | NDArray[np.intp]  # where their results go
    relevance: Array  # 0 if not judged
    score: Array  # -inf if not retrieved
    judged: Mask  # or EVERY

    def query(self, row: int) -> int:
        """Return the index, among all queries, of a row of this block."""
        if isinstance(self.queries, slice):
            return int(self.queries.start) + row
        return int(self.queries[row])

    def invalid(self, array: str, marked: Mask, problem: str, *hints: str) -> InvalidRankingError:
        """Return the error for the first document that a mask marks."""
        row, position = (int(index[0]) for index in np.nonzero(marked))
        value = getattr(self, array)[row, position].item()
        query = self.query(row)
        return InvalidRankingError(array, query, position, problem.format(value=value), *hints)


def discounts(ranks: int, log_base: float = 2.0, discount: Discount = "log") -> Floats:
    """Return the discount of ranks 1..``ranks``: the factor of the gain at every rank.

    ``"log"`` is that of Burges et al. (2005), ``"jarvelin"`` that of Järvelin & Kekäläinen (2002).
    A sequence has the discounts of rank 1, 2, 3, …; a function returns the discounts of an array of
    ranks.
    """
    rank = np.arange(1, ranks + 1)
    if isinstance(discount, str):
        return np.asarray(DISCOUNT_FUNCTIONS[discount](rank, log_base))
    if callable(discount):
        values = _answer("discount", "ranks", discount, rank)
        check_discounts(values, f"the result of the function for ranks 1 to {ranks}")
        return values
    if len(discount) < ranks:
        raise InputError(
            f"{mark('discount')} ends at rank {len(discount)}, but {ranks} ranks count; "
            f"list more, or give {mark('k', len(discount))}"
        )
    return np.asarray(discount[:ranks], np.float64)


DISCOUNT_FUNCTIONS: dict[str, Callable[[NDArray[np.int64], float], Floats]] = {
    "log": lambda rank, log_base: 1.0 / (np.log(rank + 1) / np.log(log_base)),
    "reciprocal": lambda rank, log_base: 1.0 / rank,
    "jarvelin": lambda rank, log_base: 1.0 / np.maximum(1, np.log(rank) / np.log(log_base)),
}


def check_discounts(values: Floats, said: str) -> None:
    """Raise an error for values that cannot be the discounts of ranks 1, 2, 3, and so on.

    If a discount rose, descending gains would not be the ideal order.
    """
    before = np.append(np.finfo(np.float64).max, values)[:-1]
    are_valid = (values >= 0) & (values <= before)
    if not are_valid.all():
        rank = int(np.argmin(are_valid)) + 1
        rule = "discounts are finite, not negative, and none is above the one before"
        raise InputError(f"{said} has {values[rank - 1]} at rank {rank}; {rule}", "discount")
    if (values[:1] == 0).any():
        raise InputError(f"{said} has 0 at rank 1, so nothing counts", "discount")


def measure_queries(
    relevance: Array,
    score: Array,
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
    measures: Sequence[str] = ("nDCG",),
    **options: Any,
) -> dict[str, Floats]:
    """Return the values of every query at every cutoff, by measure as ``(cutoffs, queries)``.

    Relevance and score are real numbers of shape ``(queries, documents)``; or 1-D, query after
    query, with ``offsets``, which are the start of every query and the end of the last one. Higher
    scores rank first; ``-inf`` is the same as not retrieved. A document that is not ``judged`` has
    a rank with gain 0, and is not in the ideal; one that is not ``retrieved`` has no rank, but is
    in the ideal; None marks all of them. A cutoff is a positive integer, or None for all ranks. The
    options are the ones of `MeasureDefinition.of`, checked as options of ``compute``.

    An `InvalidRankingError` tells that a value is NaN or infinite, a relevance is not allowed or
    has no gain, or a sum overflows.

    >>> relevance, score = np.array([[3, 2, 3, 0, 1, 2]]), np.array([[6, 5, 4, 3, 2, 1]])
    >>> measures = ["nDCG", "DCG", "IDCG", "CG"]
    >>> by_measure = measure_queries(relevance, score, measures=measures)
    >>> {name: float(values[0, 0].round(3)) for name, values in by_measure.items()}
    {'nDCG': 0.961, 'DCG': 6.861, 'IDCG': 7.141, 'CG': 11.0}
    """
    if score.dtype.kind in "iu":
        score = _exact_in_float64(score)
    queries, longest = _shape(score, offsets)
    definition = MeasureDefinition.of(longest, measures=measures, **options)
    shape = (len(definition.cutoffs), queries)
    values = {measure: np.empty(shape) for measure in measures}
    measure_block = partial(_measure_block, into=values, definition=definition)
    # If a grid is searched, little more than its column maxima is read, so a block can be larger.
    size = SCORES_AT_A_TIME * max(1, min(grid_height(longest, len(definition.weight) + 1), 4))
    documents = _Documents(relevance, score, judged, retrieved)
    blocks = _blocks(documents, offsets, (queries, longest), size)
    threads = None if score.size > 2 * size else 1
    in_threads(measure_block, list(blocks), threads=threads)
    return values


def _measure_block(
    read: Callable[[], _Block], *, into: Mapping[str, Floats], definition: MeasureDefinition
) -> None:
    block = read()
    weight = definition.weight
    ranks = min(len(weight), block.score.shape[1])
    with np.errstate(all="ignore"):  # values that are not finite are rejected, with their place
        gains, lowest = _gains(block, definition.gain, definition.negative_relevance)
        ranked, ideal = _gains_at_ranks(block, ranks, gains, lowest, definition)
        sums = _discounted_sums(ranked, ideal, ranks, definition)
        if definition.ideal == "full" and "IDCG" in sums:
            # The highest gain at every rank up to the cutoff, which may exceed the documents.
            highest = ideal[:, :1].sum(axis=1)  # 0 without documents
            cutoffs = [k or ranks for k in definition.cutoffs]
            sums["IDCG"] = _sums_of_equal(highest, weight, cutoffs)
        for name, values in sums.items():
            if not np.isfinite(values).all():
                query = block.query(int(np.argmin(np.isfinite(values).all(axis=0))))
                problem = f"{name} overflows; scale the gains"
                raise InvalidRankingError("relevance", query, None, problem)
        if "nDCG" in definition.measures:
            empty: Any = definition.zero_division
            if isinstance(empty, str):
                empty = _perfect_if_empty(block, gains)
            sums["nDCG"] = ratio(sums["DCG"], sums["IDCG"], lowest < 0, sign(weight), empty)
    for measure, values in into.items():
        values[:, block.queries] = sums[measure]


def _exact_in_float64(score: Array) -> Array:
    """Return integers that float64 can tell apart: if any is beyond 2**53, their ranks with signs.

    Signs are kept because they determine the order in which tied gains are summed.
    """
    if not score.size or max(-int(score.min()), int(score.max())) <= 2**53:
        return score
    distinct, order = np.unique(score, return_inverse=True)
    return np.asarray(order.reshape(score.shape) - np.searchsorted(distinct, 0))


def hint_of_negative(negative: Array) -> str:
    """Return how to score negative relevances: as padding, if they may be it, or with some gain."""
    labels = np.unique(negative)
    if len(labels) == 1 and labels[0] in PADDING_LABELS:
        padding = mark("ignore_index", int(negative[0]), after=" removes it if it is padding; ")
        return f"{padding}{_COUNT_NEGATIVE}"
    return f"{_COUNT_NEGATIVE}{mark('ignore_index', before='; ', after=' removes padding')}"


def in_threads(
    work: Callable[..., Output], *over: Sequence[Any], threads: int | None = None
) -> list[Output]:
    """Return the result of a function for every item, in as many threads as the process may use."""
    if len(over[0]) < 2 or threads == 1:
        return list(map(work, *over))
    with ThreadPoolExecutor(threads or _threads()) as pool:
        return list(pool.map(work, *over))


def _threads() -> int:
    """Return OMP_NUM_THREADS, else the number of CPUs that the process may use."""
    # OpenMP allows a list, with a number for every level of nested threads.
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if setting.isdecimal() and int(setting):
        return int(setting)
    if hasattr(os, "sched_getaffinity"):  # only on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_queries(
    relevance: Array,
    score: Array,
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
    gain: Gain = "linear",
    negative_relevance: str = "keep",
) -> None:
    """Raise the error of ``measure_queries`` for documents that no query may contain.

    By default, these are the documents that no combination of options could score.
    """
    documents = _Documents(relevance, score, judged, retrieved)
    for read in _blocks(documents, offsets, _shape(score, offsets)):
        block = read()
        with np.errstate(all="ignore"):  # values that are not finite are rejected, with their place
            gains, _ = _gains(block, gain, negative_relevance)
            _refuse(block, block.score, gains, gain)


def _shape(score: Array, offsets: NDArray[np.int64] | None) -> tuple[int, int]:
    """Return how many queries there are, and how many documents the longest of them has."""
    if offsets is None:
        queries, longest = score.shape
        return queries, longest
    return len(offsets) - 1, int((offsets[1:] - offsets[:-1]).max(initial=0))


def _blocks(
    documents: _Documents,
    offsets: NDArray[np.int64] | None,
    shape: tuple[int, int],
    size: int = SCORES_AT_A_TIME,
) -> Iterator[Callable[[], _Block]]:
    """Cut queries into blocks of about ``size`` scores; yield functions that read them.

    Ragged queries are cut longest first. The shape is what `_shape` returns.
    """
    queries, longest = shape
    if offsets is not None:
        if documents.score.size < queries * longest:
            lengths = offsets[1:] - offsets[:-1]
            for block in similar_lengths(lengths, size, PADDING):
                yield partial(_padded, documents, block, offsets[block], lengths[block])
            return
        arrays: Any = (None if array is None else array.reshape(shape) for array in documents)
        documents = _Documents(*arrays)
    step = max(1, size // max(longest, 1))
    for start in range(0, queries, step):
        yield partial(_block, documents, slice(start, min(start + step, queries)))


def similar_lengths(
    lengths: NDArray[np.int64], size: int, padding: int
) -> Iterator[NDArray[np.intp]]:
    """Yield the queries of every block of about ``size`` documents, longest first.

    A block has as many queries as fit with little padding: less than an eighth, or less than
    another block would cost.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]])
        block = order[start : start + max(1, size // max(longest, 1))]
        cells = longest * np.arange(1, len(block) + 1)
        is_dense = cells - np.cumsum(lengths[block]) <= np.maximum(cells // 8, padding)
        if not is_dense.all():
            block = block[: int(np.argmin(is_dense))]
        start += len(block)
        yield block


def _block(documents: _Documents, rows: slice) -> _Block:
    relevance, score, judged, retrieved = documents
    relevance, score = relevance[rows], score[rows]
    is_judged = EVERY
    if judged is not None:
        is_judged = judged[rows]
        relevance = np.where(is_judged, relevance, 0)
    if retrieved is not None:
        score = np.where(retrieved[rows], score, -np.inf)
    return _Block(rows, relevance, score, is_judged)


def _padded(
    documents: _Documents,
    queries: NDArray[np.intp],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> _Block:
    """Pad queries to the length of the first, the longest; padding is not judged or retrieved."""
    longest = int(lengths[0])
    narrow = np.min_scalar_type(longest)  # faster to compare
    beyond = np.arange(longest, dtype=narrow) >= lengths.astype(narrow)[:, np.newaxis]
    relevance, score, judged, retrieved = documents
    last_start = len(score) - longest
    read_from = np.minimum(starts, last_start)
    # Queries that are too close to the end to be read as rows of this length.
    too_late = np.flatnonzero(read_from < starts)

    def padded(values: Array) -> Array:
        whole = np.ascontiguousarray(values)
        # A view in which row i has the values from i on, so that one index copies all queries.
        shape, strides = (last_start + 1, longest), whole.strides * 2
        rows: Array = np.ndarray(shape, whole.dtype, whole, strides=strides)[read_from]
        for row in too_late:
            rows[row, : lengths[row]] = values[starts[row] : starts[row] + lengths[row]]
        return rows

    relevance, score = padded(relevance), padded(score)
    if score.dtype.kind != "f":
        score = score.astype(np.float64)
    is_judged, unretrieved = ~beyond, beyond
    if judged is not None:
        is_judged &= padded(judged)
    if retrieved is not None:
        unretrieved |= ~padded(retrieved)
    np.copyto(relevance, relevance.dtype.type(0), where=~is_judged)
    np.copyto(score, -np.inf, where=unretrieved)
    return _Block(queries, relevance, score, is_judged)


def _gains_at_ranks(
    block: _Block, ranks: int, gains: Floats, lowest: float, definition: MeasureDefinition
) -> tuple[Floats, Floats]:
    """Return the gain at ranks 1..``ranks`` as scored and in the ideal, as (queries, ranks).

    If no measure needs the ranking or the ideal, its array has 0 ranks.
    """
    score = block.score
    if score.dtype != np.float32:  # float32 is read twice as fast, without loss
        score = score.astype(np.float64, copy=False)
    ideal = ranked = gains[:, :0]
    highest_gains = gains
    if definition.needs("nDCG", "IDCG"):
        ideal = _ideal_at_ranks(block, ranks, score, gains, lowest, definition.ideal)
        if definition.ideal in ("judged", "full"):
            highest_gains = ideal[:, :1]  # faster to read
    if definition.needs("nDCG", "DCG", "CG"):
        ranked, highest_score = ranked_gains(score, gains, ranks, definition.ties)
    else:
        highest_score = float(score.max(initial=-np.inf))
    # NaN and infinity sort first, so this finds them.
    are_finite = (
        highest_score < np.inf and -np.inf < lowest <= highest_gains.max(initial=0) < np.inf
    )
    if ranks and not are_finite:
        _refuse(block, score, gains, definition.gain)
    return ranked, ideal


def _ideal_at_ranks(
    block: _Block, ranks: int, score: Floats, gains: Floats, lowest: float, documents: str
) -> Floats:
    """Return the gain at ranks 1..``ranks`` in the ideal of some documents, as (queries, ranks)."""
    counted = None
    if documents == "retrieved":
        counted = block.judged & (score > -np.inf)
    elif lowest < 0:  # otherwise unjudged documents have the lowest gain, 0
        counted = block.judged
    if counted is None:
        ideal = ideal_gains(gains, ranks, lowest)
    else:
        ideal = ideal_gains(np.where(counted, gains, -np.inf), ranks, -np.inf)
        ideal[ideal == -np.inf] = 0  # fewer documents than ranks
    if documents == "truncated":
        ideal[np.arange(ranks) >= (score > -np.inf).sum(axis=1, keepdims=True)] = 0
    return ideal


def _refuse(block: _Block, score: Floats, gains: Floats, gain: Gain) -> None:
    """Raise the error for a score, a relevance or a gain that is not a finite number, if any."""
    invalid = np.isnan(score) | (score == np.inf)
    if invalid.any():
        unretrieved = mark("None", before="; ", after=" or -inf marks one not retrieved")
        raise block.invalid("score", invalid, f"{{value}} is not a score{unretrieved}")
    invalid = ~np.isfinite(gains)
    if not invalid.any():
        return
    if not np.isfinite(block.relevance[invalid]).all():
        problem = NOT_A_RELEVANCE
    elif isinstance(gain, str) or callable(gain):
        problem = "the gain of relevance {value} is not a finite number"
    else:
        labels = f"{mark('gain')} lists the labels 0 to {len(gain) - 1}"
        problem = f"the label {{value}} has no gain: {labels}"
    raise block.invalid("relevance", invalid, problem)


def _gains(block: _Block, gain: Gain, negative_relevance: str) -> tuple[Floats, float]:
    """Return the gain of every document, 0 for unjudged ones and padding, and the lowest gain.

    NaN marks relevances without a gain.
    """
    is_linear = isinstance(gain, str) and gain == "linear"
    relevance = block.relevance
    if not is_linear or relevance.dtype != np.float32:
        # Only float32 stays as it is, twice as fast to read and sort.
        relevance = relevance.astype(np.float64, copy=False)
    lowest = float(relevance.min(initial=0))
    if not lowest > -np.inf:
        raise block.invalid("relevance", ~np.isfinite(relevance), NOT_A_RELEVANCE)
    counted = block.judged
    if lowest < 0 and negative_relevance != "keep":
        negative = relevance < 0
        if negative_relevance == "raise":
            problem = "the relevance {value} is negative"
            hint = hint_of_negative(relevance[negative])
            raise block.invalid("relevance", negative, problem, hint, NEGATIVE_BY_ID)
        counted = counted & ~negative
        relevance, lowest = np.maximum(relevance, 0), 0.0
    if isinstance(gain, str):
        gains = GAIN_FUNCTIONS[gain](relevance)
    elif callable(gain):
        if not np.isfinite(relevance).all():
            raise block.invalid("relevance", ~np.isfinite(relevance), NOT_A_RELEVANCE)
        counted = np.broadcast_to(counted, relevance.shape)
        gains = np.zeros(relevance.shape)
        gains[counted] = _answer("gain", "relevances", gain, relevance[counted])
    else:
        gains = _gains_from_table(relevance, np.asarray(gain, np.float64))
        gains[~counted] = 0
    if not is_linear:
        lowest = float(gains.min(initial=0))
    return gains, lowest


def _exponential(relevance: Floats) -> Floats:
    """Return 2**r - 1."""
    gains = np.exp2(relevance) - 1
    # For small r the subtraction loses digits.
    low = (np.abs(relevance) < 0.5) & (relevance != 0)
    if low.any():
        gains[low] = np.expm1(relevance[low] * np.log(2))
    return gains


GAIN_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda relevance: relevance,
    "exponential": _exponential,
    "binary": lambda relevance: (relevance > 0) + 0 * relevance,  # NaN for an infinite relevance
}


def _answer(option: str, places: str, function: Callable[[Array], Any], values: Array) -> Floats:
    """Return what the user's function for an option returns for an array: a number per value."""
    if not values.size:
        return values.astype(np.float64)
    problem = f"{option} gets an array of {places} and must return an array of as many numbers"
    try:
        answer = function(values)
    except (TypeError, ValueError) as error:  # as of a function of one number
        hint = "numpy.vectorize makes such a function of one for a single number"
        raised = f"it raised {type(error).__name__} ({in_short(error)})"
        raise ValueError(f"{problem}: {raised}; {hint}") from error
    try:
        numbers = np.asarray(answer)
    except BaseException as error:
        raise_unless_of_values(error)
        raise ValueError(
            f"{problem}: it returned a {type(answer).__name__} that NumPy cannot read "
            f"({in_short(error)})"
        ) from error
    if np.ma.is_masked(answer):
        raise ValueError(f"{problem}: some of them are masked")
    if numbers.shape != values.shape or numbers.dtype.kind not in "biuf":
        raise ValueError(
            f"{problem}: for shape {values.shape} it returned {numbers.dtype} of shape "
            f"{numbers.shape}"
        )
    return numbers.astype(np.float64)


def _gains_from_table(relevance: Floats, table: Floats) -> Floats:
    """Return the gains of labels 0, 1, 2, … from a table; NaN for other labels."""
    is_label = (relevance >= 0) & (relevance < len(table)) & (relevance == np.floor(relevance))
    labels = np.where(is_label, relevance, 0).astype(np.intp)
    return np.where(is_label, table[labels], np.nan)


def _discounted_sums(
    ranked: Floats, ideal: Floats, ranks: int, definition: MeasureDefinition
) -> dict[str, Floats]:
    """Return CG, DCG and IDCG, if a measure needs them, at every cutoff: (cutoffs, queries)."""
    sums = {}
    discount = definition.weight[:ranks]
    cutoffs = [min(k or ranks, ranks) for k in definition.cutoffs]
    if "CG" in definition.measures:
        no_discount = np.ones(ranks)[::-1]  # stored from the last rank to the first, as in `_sums`
        sums["CG"] = _sums(ranked, no_discount, cutoffs)
    if definition.needs("nDCG", "DCG"):
        sums["DCG"] = _sums(ranked, discount, cutoffs)
    if definition.needs("nDCG", "IDCG"):
        sums["IDCG"] = _sums(ideal, discount, cutoffs)
    return sums


def sign(discount: Floats) -> float:
    """Return -1 if a discount makes all sums negative, as a log base below 1 does; else 1."""
    # The first rank tells, since all have one sign; without documents there is none.
    return math.copysign(1, next(iter(discount), 1))


def _perfect_if_empty(block: _Block, gains: Floats) -> Floats:
    """Return 1 for every query without a gain above 0 for which nothing was retrieved, else 0.

    The ideal DCG cannot tell: if nothing was retrieved, a truncated ideal is empty even if there
    was something to find.
    """
    not_empty = (block.score > -np.inf).any(axis=1) | (gains > 0).any(axis=1)
    return np.where(not_empty, 0.0, 1.0)


def ratio(
    dcg: Floats, idcg: Floats, negative: bool, sign: float, zero_division: float | Floats
) -> Floats:
    """Return nDCG; if any gain is negative, it may be above 1 or below 0."""
    values = dcg / idcg
    if not negative:
        np.minimum(values, 1, out=values)  # only rounding makes it exceed 1
    return np.where(sign * idcg > 0, values, zero_division)


def _sums_of_equal(gains: Floats, weight: Floats, cutoffs: Sequence[int]) -> Floats:
    """Return the weighted sums of a gain that is the same at all ranks of a query, as `_sums`."""
    step = max(1, SCORES_AT_A_TIME // max(len(weight), 1))
    sums = []
    for start in range(0, len(gains), step):
        # Added as by `_sums` elsewhere, so that values agree to the last bit.
        at_ranks = gains[start : start + step, np.newaxis].repeat(len(weight), axis=1)
        sums.append(_sums(at_ranks[:, ::-1], weight, cutoffs))
    return np.concatenate(sums, axis=1)


def _sums(gains: Floats, weight: Floats, cutoffs: Sequence[int]) -> Floats:
    """Return the weighted sums of every query's gains up to every cutoff, added rank by rank.

    In this order, zeros at the end of a padded list do not change the rounding. ``einsum`` uses it
    if both arrays are stored from the last rank to the first, except for a single query, which is
    therefore passed twice.
    """
    queries = len(gains)
    sums = np.empty((len(cutoffs), queries))
    if queries == 1:
        last_first = np.ascontiguousarray(gains[0, ::-1])
        strides = (0, gains.itemsize)
        gains = np.ndarray((2, last_first.size), gains.dtype, last_first, 0, strides)[:, ::-1]
    for row, k in enumerate(cutoffs):
        sums[row] = np.einsum("qk,k->q", gains[:, :k], weight[:k])[:queries]
    return sums
