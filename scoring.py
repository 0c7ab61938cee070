"""The measure: CG, DCG, IDCG and nDCG of every query, from plain arrays.

For a query whose documents are ranked by descending score, rank ``i`` from 1:

    CG@k   = sum of gain(relevance_i) over i <= k
    DCG@k  = sum of gain(relevance_i) / log_b(i + 1) over i <= k
    IDCG@k = DCG@k of all judged documents in descending order of gain
    nDCG@k = DCG@k / IDCG@k

(Järvelin & Kekäläinen, ACM TOIS 2002; exponential gain: Burges et al., ICML 2005.)
Documents of equal score share their ranks, so each of them counts with the mean
gain of its group: the expectation over all orders of the group (McSherry & Najork,
ECIR 2008). That is why the kernel below speaks of *the gain at a rank*.

Each block of queries goes through three steps: the gain of every document; the gain
at ranks 1..k in the order of the scores; the gain at ranks 1..k in the ideal order.
Every measure is a sum over the last two.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Gain = str | Sequence[float] | NDArray[Any] | Callable[[Floats], Any]

MEASURES = ("nDCG", "DCG", "IDCG", "CG")
TIES = ("average", "first", "last", "best", "worst")

# Scores in one block: large enough that NumPy's call overhead vanishes, small enough
# that a block stays in a core's cache from its first pass to its last.
BLOCK = 1 << 16


class InvalidRankingError(ValueError):
    """A value that has no place in a ranking, and where it stands.

    Attributes:
        array: ``"relevance"`` or ``"score"``.
        query: index of the query, from 0.
        position: index of the document in that query, from 0; None for the whole query.
        problem: what is wrong and how to mend it.
    """

    def __init__(self, array: str, query: int, position: int | None, problem: str) -> None:
        self.array, self.query, self.position, self.problem = array, query, position, problem
        place = f"query {query}" if position is None else f"query {query}, position {position}"
        super().__init__(f"{array}: {place}: {problem}")


class _Block(NamedTuple):
    """Queries of one length, or padded to one: every array is (queries, documents)."""

    queries: slice | NDArray[np.intp]  # where their results belong
    relevance: NDArray[Any]
    score: NDArray[Any]
    judged: Mask | None  # None: all of them
    retrieved: Mask | None

    def query(self, row: int) -> int:
        """The index, among all queries, of a row of this block."""
        return self.queries.start + row if isinstance(self.queries, slice) else int(self.queries[row])

    def invalid(self, array: str, at: Mask, problem: str) -> InvalidRankingError:
        """The error for the first document that the mask ``at`` marks."""
        row, position = (int(index[0]) for index in np.nonzero(at))
        value = getattr(self, array)[row, position].item()
        return InvalidRankingError(array, self.query(row), position, problem.format(value=value))


def discounts(ranks: int, log_base: float = 2.0) -> Floats:
    """The discount ``1 / log_b(i + 1)`` of ranks ``i`` = 1..``ranks``.

    >>> discounts(3).round(4).tolist()
    [1.0, 0.6309, 0.5]
    """
    return np.asarray(1.0 / (np.log(np.arange(2, ranks + 2)) / np.log(log_base)))


def score_queries(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
    measures: Sequence[str] = ("nDCG",),
    cutoffs: Sequence[int | None] = (None,),
    gain: Gain = "linear",
    log_base: float = 2.0,
    ties: str = "average",
    zero_division: float = 0.0,
    negative_relevance: str = "raise",
) -> dict[str, Floats]:
    """Score every query at every cutoff.

    Args:
        relevance: real numbers, shape ``(queries, documents)``; or 1-D, query after query,
            with ``offsets``.
        score: real numbers in the shape of ``relevance``; higher ranks first. ``-inf``
            marks a document that was not retrieved: it has no rank but counts in the ideal.
        offsets: for 1-D arrays, where each query begins and the last one ends: shape
            ``(queries + 1,)``, as Arrow lays out lists.
        judged: False where a document was not judged (its relevance is not looked at): it
            keeps its rank, with gain 0, and is no part of the ideal. None: all are judged.
        retrieved: False where a document was not retrieved (its score is not looked at).
            None: all are. Neither judged nor retrieved is padding.
        measures: of ``"nDCG"``, ``"DCG"``, ``"IDCG"``, ``"CG"``.
        cutoffs: ranks that count, each a positive integer or None for all.
        gain: ``"linear"`` (r), ``"exponential"`` (2**r - 1), a sequence that gives the gain
            of label 0, 1, 2, …, or a function from an array of relevances to their gains.
        log_base: base of the discount's logarithm, positive and not 1.
        ties: ``"average"``: the expectation over all orders; ``"first"``, ``"last"``: the
            document that comes first or last in the input ranks first; ``"best"``,
            ``"worst"``: the order with the highest or lowest DCG.
        zero_division: the nDCG of a query whose ideal DCG is not positive.
        negative_relevance: ``"raise"``, ``"clip"`` (gain 0) or ``"keep"``.

    Returns:
        Per measure, an array of shape ``(cutoffs, queries)``.

    Raises:
        InvalidRankingError: NaN or infinite where neither has a meaning, a negative relevance
            not allowed, a label without a gain, a gain or a sum that overflows.

    >>> relevance, score = np.array([[3, 2, 3, 0, 1, 2]]), np.array([[6, 5, 4, 3, 2, 1]])
    >>> {name: float(values[0, 0].round(3)) for name, values in
    ...  score_queries(relevance, score, measures=MEASURES).items()}
    {'nDCG': 0.961, 'DCG': 6.861, 'IDCG': 7.141, 'CG': 11.0}
    """
    queries = len(relevance) if offsets is None else len(offsets) - 1
    scores = {measure: np.zeros((len(cutoffs), queries)) for measure in measures}
    if score.dtype.kind in "iu" and score.size and max(-int(score.min()), int(score.max())) > 2**53:
        # float64 cannot tell these apart; their ranks among themselves can
        score = np.unique(score, return_inverse=True)[1].reshape(score.shape)
    for block in _blocks(relevance, score, offsets, judged, retrieved):
        documents = block.score.shape[1]
        ranks = max((min(k or documents, documents) for k in cutoffs), default=0)
        ranked, ideal, negative = _gains_at_ranks(block, ranks, gain, ties, negative_relevance)
        discount = discounts(ranks, log_base)
        for row, k in enumerate(cutoffs):
            values = _measures_at(min(k or ranks, ranks), ranked, ideal, discount, measures, zero_division, negative)
            for name in values.keys() - {"nDCG"}:
                if (overflown := ~np.isfinite(values[name])).any():
                    query = block.query(int(np.flatnonzero(overflown)[0]))
                    raise InvalidRankingError("relevance", query, None, "the sum of its gains overflows; scale them")
            for measure in measures:
                scores[measure][row, block.queries] = values[measure]
    return scores


def check_queries(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
) -> None:
    """Raise what ``score_queries`` raises for values that no choice of options could score.

    >>> check_queries(np.array([[1.0]]), np.array([[np.nan]]))
    Traceback (most recent call last):
    scoring.InvalidRankingError: score: query 0, position 0: nan is not a score; None or -inf marks one not retrieved
    """
    for block in _blocks(relevance, score, offsets, judged, retrieved):
        _scores(block)
        _gains(block, "linear", "keep")


def _blocks(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None,
    judged: Mask | None,
    retrieved: Mask | None,
) -> Iterator[_Block]:
    """Cut the queries into blocks; ragged ones by falling length, so that little is padded."""
    if offsets is not None:
        lengths = np.diff(offsets)
        documents = int(lengths[0]) if len(lengths) else 0
        if (lengths == documents).all():
            shape = (len(lengths), documents)
            relevance, score = relevance.reshape(shape), score.reshape(shape)
            judged = None if judged is None else judged.reshape(shape)
            retrieved = None if retrieved is None else retrieved.reshape(shape)
            offsets = None
    if offsets is None:
        queries, documents = score.shape
        step = max(1, BLOCK // max(documents, 1))
        for start in range(0, queries, step):
            rows = slice(start, min(start + step, queries))
            yield _Block(
                rows,
                relevance[rows],
                score[rows],
                None if judged is None else judged[rows],
                None if retrieved is None else retrieved[rows],
            )
        return
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        documents = int(lengths[order[start]])
        members = order[start : start + max(1, BLOCK // max(documents, 1))]
        start += len(members)
        columns = np.arange(documents)
        inside = columns < lengths[members, np.newaxis]
        index = np.where(inside, offsets[members, np.newaxis] + columns, 0)
        yield _Block(
            members,
            np.where(inside, relevance[index], 0),
            score[index],
            inside if judged is None else inside & judged[index],
            inside if retrieved is None else inside & retrieved[index],
        )


def _gains_at_ranks(
    block: _Block, ranks: int, gain: Gain, ties: str, negative_relevance: str
) -> tuple[Floats, Floats, bool]:
    """The gain at ranks 1..``ranks`` of each query as scored, in the ideal, and if any is negative."""
    score, retrieved = _scores(block)
    gains = _gains(block, gain, negative_relevance)
    negative = bool(gains.size and gains.min() < 0)
    ranked = gains if retrieved is None else np.where(retrieved, gains, 0)
    if negative and block.judged is not None:
        gains = np.where(block.judged, gains, -np.inf)
    ideal = _ideal_gains(gains, ranks)
    return (
        _ranked_gains(score, ranked, ranks, ties),
        np.where(ideal > -np.inf, ideal, 0) if negative else ideal,
        negative,
    )


def _scores(block: _Block) -> tuple[Floats, Mask | None]:
    """The scores, -inf where not retrieved, and where they are not; None if all are retrieved."""
    score = block.score.astype(np.float64, copy=False)
    if block.retrieved is not None:
        score = np.where(block.retrieved, score, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(score.sum()):
            return score, None
    if (invalid := np.isnan(score) | (score == np.inf)).any():
        raise block.invalid("score", invalid, "{value} is not a score; None or -inf marks one not retrieved")
    return score, score > -np.inf


def _gains(block: _Block, gain: Gain, negative_relevance: str) -> Floats:
    """The gain of every document: 0 for the unjudged and for padding."""
    relevance = block.relevance.astype(np.float64, copy=False)
    if block.judged is not None:
        relevance = np.where(block.judged, relevance, 0)
    if not relevance.size:
        return relevance
    low, high = relevance.min(), relevance.max()  # NaN if any is
    if not (-np.inf < low and high < np.inf):
        invalid = ~np.isfinite(relevance)
        raise block.invalid("relevance", invalid, "{value} is not a relevance; None marks one not judged")
    clipped = None
    if low < 0 and negative_relevance == "raise":
        hint = 'negative_relevance="clip" counts it as gain 0, "keep" as it is'
        raise block.invalid("relevance", relevance < 0, "the relevance {value} is negative; " + hint)
    if low < 0 and negative_relevance == "clip":
        clipped = relevance < 0
        relevance = np.maximum(relevance, 0)
    if isinstance(gain, str) and gain == "linear":
        gains = relevance
    elif isinstance(gain, str):
        with np.errstate(over="ignore"):
            gains = np.exp2(relevance) - 1
    else:
        judged = np.ones(relevance.shape, bool) if block.judged is None else block.judged
        gains = np.zeros(relevance.shape)
        if callable(gain):
            gains[judged] = gain(relevance[judged])
        else:
            table = np.asarray(gain, np.float64)
            known = (relevance >= 0) & (relevance < len(table)) & (relevance == np.floor(relevance))
            if not known.all():
                problem = f"the label {{value}} has no gain: gain lists the labels 0 to {len(table) - 1}"
                raise block.invalid("relevance", ~known, problem)
            gains[judged] = table[relevance[judged].astype(np.intp)]
    if gains is not relevance and not np.isfinite(gains).all():
        raise block.invalid("relevance", ~np.isfinite(gains), "the gain of relevance {value} is not a finite number")
    return gains if clipped is None else np.where(clipped, 0, gains)


def _ideal_gains(gains: Floats, ranks: int) -> Floats:
    """The ``ranks`` highest gains of each query, in descending order."""
    documents = gains.shape[1]
    if ranks < documents:
        gains = np.partition(gains, documents - ranks, axis=1)[:, documents - ranks :]
    return np.asarray(np.sort(gains, axis=1)[:, ::-1])


def _ranked_gains(score: Floats, gains: Floats, ranks: int, ties: str) -> Floats:
    """The gain at ranks 1..``ranks`` of each query, in descending order of score.

    Values are sorted rather than indices, which SIMD does several times faster: the
    lowest bits of each score, as many as it takes to number the documents, make way for
    the document's position. One more document than ``ranks`` is sorted, to see if a tie
    reaches across the cutoff. Only neighbours that agree in all the bits kept can be tied
    or out of order; for their queries the true scores are compared.
    """
    queries, documents = score.shape
    if ties in ("best", "worst"):
        order = np.argsort(-gains if ties == "best" else gains, axis=1)
        score, gains = np.take_along_axis(score, order, axis=1), np.take_along_axis(gains, order, axis=1)
        ties = "first"
    sorted_ranks = min(ranks + 1, documents)
    low_bits = (1 << max(documents - 1, 0).bit_length()) - 1
    keys = np.maximum(score, np.finfo(np.float64).min) + 0.0  # -inf has no bits to spare; -0.0 equals 0.0
    bits = keys.view(np.int64)
    bits &= ~low_bits
    positions = np.arange(documents)[:: -1 if ties == "first" else 1]
    # A float of negative sign falls as its bits grow. That is of no matter to ties averaged.
    turned = (keys < 0) * low_bits if ties != "average" and (keys < 0).any() else None
    bits |= positions if turned is None else positions ^ turned
    if sorted_ranks < documents:
        keys.partition(documents - sorted_ranks, axis=1)
    keys = np.sort(keys[:, documents - sorted_ranks :], axis=1)[:, ::-1]
    bits = keys.view(np.int64)
    position = bits & low_bits
    if turned is not None:
        position ^= (keys < 0) * low_bits
    if ties == "first":
        position = documents - 1 - position
    close = (bits[:, 1:] ^ bits[:, :-1]).view(np.uint64) <= low_bits
    rows = np.flatnonzero(close.any(axis=1))
    top = position + np.arange(0, queries * documents, documents)[:, np.newaxis] if documents else position
    result = gains.take(top[:, :ranks])
    if rows.size:
        result[rows] = _settle(score[rows], gains[rows], position[rows], ranks, ties)
    return result


def _settle(score: Floats, gains: Floats, position: NDArray[np.int64], ranks: int, ties: str) -> Floats:
    """The gain at ranks 1..``ranks`` where some scores are tied or nearly so.

    ``position`` holds the documents found at the first ranks, right but for the order of
    nearly equal scores: one beyond ``ranks``, unless there are no more.
    """
    documents = score.shape[1]
    found = np.take_along_axis(score, position[:, :ranks], axis=1)
    last = found[:, -1:]  # a view: what is mended below, it sees
    above = (score > last).sum(axis=1)
    wrong = np.flatnonzero((found[:, 1:] > found[:, :-1]).any(axis=1) | (above != (found > last).sum(axis=1)))
    if wrong.size:
        if ties == "last":  # stable on the reversed input, so that of equals the last comes first
            order = documents - 1 - np.argsort(-score[wrong, ::-1], axis=1, kind="stable")
        else:
            order = np.argsort(-score[wrong], axis=1, kind="stable")
        position[wrong] = order[:, : position.shape[1]]
        found[wrong] = np.take_along_axis(score[wrong], order[:, :ranks], axis=1)
    at_rank = np.take_along_axis(gains, position[:, :ranks], axis=1)
    if ties != "average":
        return at_rank
    first = np.ones(at_rank.shape, bool)  # of its group
    first[:, 1:] = found[:, 1:] != found[:, :-1]
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=first.size)
    total, count = np.add.reduceat(at_rank.ravel(), starts), sizes.astype(np.float64)
    tied = score == last
    group = np.cumsum(first.sum(axis=1)) - 1  # the last of each query, which may reach across the cutoff
    total[group], count[group] = np.where(tied, gains, 0).sum(axis=1), tied.sum(axis=1)
    return np.asarray(np.repeat(total / count, sizes).reshape(at_rank.shape))


def _measures_at(
    k: int,
    ranked: Floats,
    ideal: Floats,
    discount: Floats,
    measures: Sequence[str],
    zero_division: float,
    negative: bool,
) -> dict[str, Floats]:
    """The measures of each query at cutoff ``k``."""
    values = {}
    with np.errstate(over="ignore", invalid="ignore"):
        if "CG" in measures:
            values["CG"] = _sum(ranked[:, :k])
        if "DCG" in measures or "nDCG" in measures:
            values["DCG"] = _sum(ranked[:, :k] * discount[:k])
        if "IDCG" in measures or "nDCG" in measures:
            values["IDCG"] = _sum(ideal[:, :k] * discount[:k])
        if "nDCG" in measures:
            best = values["IDCG"]
            positive = best * discount[0] > 0 if k else np.zeros(best.shape, bool)
            ratio = np.divide(values["DCG"], best, out=np.full(best.shape, float(zero_division)), where=positive)
            if not negative:  # rounding alone takes it above 1
                np.minimum(ratio, 1.0, out=ratio, where=positive)
            values["nDCG"] = ratio
    return values


def _sum(values: Floats) -> Floats:
    """The sum of each row from its first rank on, so that trailing zeros do not change its rounding."""
    return np.cumsum(values, axis=1)[:, -1] if values.shape[1] else np.zeros(len(values))
