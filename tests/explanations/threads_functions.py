"""Functions that compute nDCG as public reports describe it, written from their words and not from the table of slips.

Each is named after its thread; `WRITTEN` says which slips it should be found to make.
"""

from collections.abc import Callable, Mapping, Sequence
from math import log, log2
from typing import Any

Run = Mapping[str, float]


def order_of(run: Run) -> list[str]:
    """Return the documents as a sort by score leaves them, best first."""
    return [document for document, _ in sorted(run.items(), key=lambda item: item[1], reverse=True)]


def gains_of(run: Run, qrels: Run) -> list[float]:
    return [qrels.get(document, 0) for document in order_of(run)]


def dcg_of(gains: Sequence[float]) -> float:
    return sum(gain / log2(at + 2) for at, gain in enumerate(gains))


def descending(gains: Any) -> list[float]:
    return sorted(gains, reverse=True)


def over(dcg: float, ideal: float) -> float:
    return dcg / ideal if ideal > 0 else 0.0


def sorts_the_top_k(run: Run, qrels: Run, k: int) -> float:
    """karlhigley/ranking-metrics-torch#1: the ideal sorts the labels that are in the top k."""
    top = gains_of(run, qrels)[:k]
    return over(dcg_of(top), dcg_of(descending(top)))


def sorts_the_candidates(run: Run, qrels: Run, k: int) -> float:
    """NTMC-Community/MatchZoo#598: the ideal is over the candidate list only."""
    gains = [2**gain - 1 for gain in gains_of(run, qrels)]
    return over(dcg_of(gains[:k]), dcg_of(descending(gains)[:k]))


def ideal_over_everything(run: Run, qrels: Run, k: int) -> float:
    """lenskit/lenskit#869: DCG over the top n, IDCG over all test ratings of the user."""
    return over(dcg_of(gains_of(run, qrels)[:k]), dcg_of(descending(qrels.values())))


def k_ones(run: Run, qrels: Run, k: int) -> float:
    """ireval/cwl#20: divided by the sum of the discounts of k documents of the top grade."""
    return over(dcg_of(gains_of(run, qrels)[:k]), dcg_of([max(qrels.values(), default=0)] * k))


def same_weight_twice(run: Run, qrels: Run, k: int) -> float:
    """lenskit/lkpy#417: log2 of the rank from the second on, so the first two ranks weigh the same."""

    def dcg(gains: Sequence[float]) -> float:
        return sum(gain / (log2(rank) if rank > 1 else 1) for rank, gain in enumerate(gains, 1))

    return over(dcg(gains_of(run, qrels)[:k]), dcg(descending(qrels.values())[:k]))


def as_long_as_the_answer(run: Run, qrels: Run, k: int) -> float:
    """mlflow/mlflow#24541: the ideal has min(k, number of retrieved) documents."""
    gains = gains_of(run, qrels)[:k]
    return over(dcg_of(gains), dcg_of(descending(qrels.values())[: len(gains)]))


def hit_or_not(run: Run, qrels: Run, k: int) -> float:
    """apache/spark#36843: relevance is whether a document is in the set of relevant ones."""
    hits = [float(gain > 0) for gain in gains_of(run, qrels)]
    return over(dcg_of(hits[:k]), dcg_of([1.0] * min(k, sum(gain > 0 for gain in qrels.values()))))


def drops_unjudged(run: Run, qrels: Run, k: int) -> float:
    """alphagov/search-api#2195: documents without a rating are ignored."""
    gains = [qrels[document] for document in order_of(run) if document in qrels]
    return over(dcg_of(gains[:k]), dcg_of(descending(qrels.values())[:k]))


def listed_order(run: Run, qrels: Run, k: int) -> float:
    """spiceai/spiceai#12191: iterates the keys of a map without sorting them by score."""
    gains = [qrels.get(document, 0) for document in run]
    return over(dcg_of(gains[:k]), dcg_of(descending(qrels.values())[:k]))


def best_of_ties(run: Run, qrels: Run, k: int) -> float:
    """elixir-nx/scholar#360: documents with equal scores are ordered by relevance."""
    documents = sorted(run, key=lambda each: (-run[each], -qrels.get(each, 0)))
    gains = [qrels.get(document, 0) for document in documents]
    return over(dcg_of(gains[:k]), dcg_of(descending(qrels.values())[:k]))


def place_in_truth(run: Run, qrels: Run, k: int) -> float:
    """THUDM/ComiRec#6: the discount of a hit is that of its place in the list of true items."""
    top = set(order_of(run)[:k])
    truth = [document for document, relevance in qrels.items() if relevance > 0]
    dcg = sum(qrels[document] / log2(at + 2) for at, document in enumerate(truth[:k]) if document in top)
    return over(dcg, dcg_of(descending(qrels.values())[:k]))


def flags_over_grades(run: Run, qrels: Run, k: int) -> float:
    """RapidFireAI/rapidfireai#261: gains of 0 and 1 over an ideal of grades."""
    hits = [float(gain > 0) for gain in gains_of(run, qrels)]
    return over(dcg_of(hits[:k]), dcg_of(descending(qrels.values())[:k]))


def grades_over_flags(run: Run, qrels: Run, k: int) -> float:
    """SeaseLtd/rated-ranking-evaluator#71: the gains of the ideal are too small, 1 for each relevant document."""
    ones = [float(gain > 0) for gain in qrels.values()]
    return over(dcg_of(gains_of(run, qrels)[:k]), dcg_of(descending(ones)[:k]))


def always_perfect(run: Run, qrels: Run, k: int) -> float:
    """maciejkula/rustlearn#52: the ideal is that of the documents in the order of the run."""
    dcg = dcg_of(gains_of(run, qrels)[:k])
    return over(dcg, dcg)


def unsorted_ideal(run: Run, qrels: Run, k: int) -> float:
    """xuehaiping/CSCE670_NCF#20: the labels are not sorted for the ideal."""
    return over(dcg_of(gains_of(run, qrels)[:k]), dcg_of([*qrels.values()][:k]))


def judgments_twice(run: Run, qrels: Run, k: int) -> float:
    """joaopalotti/trectools#52: duplicate rows of the qrels each take a rank of the ideal."""
    return over(dcg_of(gains_of(run, qrels)[:k]), dcg_of(descending([*qrels.values()] * 2)[:k]))


def one_too_deep(run: Run, qrels: Run, k: int) -> float:
    """yihong-chen/neural-collaborative-filtering#2: ranks from 1, and 2 added to them once more in the DCG."""
    dcg = sum(gain / log2(rank + 2) for rank, gain in enumerate(gains_of(run, qrels)[:k], 1))
    return over(dcg, dcg_of(descending(qrels.values())[:k]))


def order_lost(run: Run, qrels: Run, k: int) -> float:
    """RUCAIBox/RecBole#120: the ranks were stored as booleans, so each hit has the first one's discount."""
    return over(sum(gains_of(run, qrels)[:k]), sum(descending(qrels.values())[:k]))


def dcg_of_all(run: Run, qrels: Run, k: int) -> float:
    """lenskit/lkpy#309: positions are looked up before the list is cut."""
    return over(dcg_of(gains_of(run, qrels)), dcg_of(descending(qrels.values())[:k]))


def ignores_k(run: Run, qrels: Run, k: int) -> float:
    """Lightning-AI/torchmetrics#1952: top_k made no difference."""
    return over(dcg_of(gains_of(run, qrels)), dcg_of(descending(qrels.values())))


def zero_if_short(run: Run, qrels: Run, k: int) -> float:
    """jongwook/spark-ranking-metrics#2: lists shorter than k score 0."""
    value = over(dcg_of(gains_of(run, qrels)[:k]), dcg_of(descending(qrels.values())[:k]))
    return 0.0 if max(len(run), len(qrels)) < k else value


def needs_k_judgments(run: Run, qrels: Run, k: int) -> float:
    """o19s/quepid#234: 0 until k documents are rated."""
    value = over(dcg_of(gains_of(run, qrels)[:k]), dcg_of(descending(qrels.values())[:k]))
    return value if len(qrels) >= k else 0.0


def zeros_for_the_rest(run: Run, qrels: Run, k: int) -> float:
    """mlflow/mlflow#24553: judged documents that were not retrieved get the score 0."""
    return over(
        dcg_of(gains_of({**run, **{each: 0.0 for each in qrels if each not in run}}, qrels)[:k]),
        dcg_of(descending(qrels.values())[:k]),
    )


def wrong_way_round(run: Run, qrels: Run, k: int) -> float:
    """THUIR/T2Ranking#2: relevance is given as scores, and scores as relevance."""
    return over(dcg_of(gains_of(qrels, run)[:k]), dcg_of(descending(run.values())[:k]))


def one_for_empty(run: Run, qrels: Run, k: int) -> float:
    """allegro/allRank#25: a query with no relevant documents is perfect."""
    ideal = dcg_of(descending(qrels.values())[:k])
    return dcg_of(gains_of(run, qrels)[:k]) / ideal if ideal else 1.0


WRITTEN: dict[Callable[..., float], tuple[str, ...]] = {
    sorts_the_top_k: ("ideal from the top k retrieved",),
    sorts_the_candidates: ("ideal from all that was retrieved",),
    ideal_over_everything: ("ideal not cut at k",),
    k_ones: ("ideal of k relevant documents",),
    same_weight_twice: ("equal weights at ranks 1 and 2",),
    as_long_as_the_answer: ("ideal cut at the length of the result list",),
    hit_or_not: (),  # the definition of Spark and others
    drops_unjudged: ("unjudged documents removed",),
    listed_order: ("documents in the order of the input",),
    best_of_ties: ("ties in the model's favor",),
    place_in_truth: ("discount from the place in the truth",),
    flags_over_grades: ("DCG with binary gain, ideal with graded gain",),
    grades_over_flags: ("ideal with binary gain, DCG with graded gain",),
    always_perfect: ("ideal in the order of the run",),
    unsorted_ideal: ("ideal in the order of the qrels",),
    judgments_twice: ("judgments counted twice in the ideal",),
    one_too_deep: ("DCG one rank too deep",),
    order_lost: ("no discount",),
    dcg_of_all: ("DCG not cut at k",),
    ignores_k: ("nothing cut at k",),
    zero_if_short: ("0 if lists are shorter than k",),
    needs_k_judgments: ("0 until k documents are judged",),
    zeros_for_the_rest: ("unretrieved documents with the score 0",),
    wrong_way_round: ("scores and relevance swapped",),
    one_for_empty: ("no relevant documents scored 1",),
}


# Faults that are not in the table


def discount_table_of_12(run: Run, qrels: Run, k: int) -> float:
    """Have weights for 12 ranks only: those below weigh nothing."""
    return over(dcg_of(gains_of(run, qrels)[: min(k, 12)]), dcg_of(descending(qrels.values())[: min(k, 12)]))


def cube(run: Run, qrels: Run, k: int) -> float:
    """Have a gain of r to the power of 3."""
    return over(
        dcg_of([gain**3 for gain in gains_of(run, qrels)[:k]]),
        dcg_of(descending(gain**3 for gain in qrels.values())[:k]),
    )


def root(run: Run, qrels: Run, k: int) -> float:
    """Take the square root of the score."""
    return over(dcg_of(gains_of(run, qrels)[:k]), dcg_of(descending(qrels.values())[:k])) ** 0.5


def natural_after_the_third(run: Run, qrels: Run, k: int) -> float:
    """Have another base of the logarithm from rank 4 on."""

    def dcg(gains: Sequence[float]) -> float:
        return sum(gain / (log2(at + 2) if at < 3 else log(at + 2) * 2) for at, gain in enumerate(gains))

    return over(dcg(gains_of(run, qrels)[:k]), dcg(descending(qrels.values())[:k]))


def longer_than_8_is_wrong(run: Run, qrels: Run, k: int) -> float:
    """Swap the first two documents of lists of more than 8."""
    gains = gains_of(run, qrels)
    if len(gains) > 8:
        gains[:2] = gains[1::-1]
    return over(dcg_of(gains[:k]), dcg_of(descending(qrels.values())[:k]))


UNKNOWN: tuple[Callable[..., float], ...] = (
    discount_table_of_12,
    cube,
    root,
    natural_after_the_third,
    longer_than_8_is_wrong,
)
