"""Functions of nDCG as the world writes them, and what `check` should find.

`SLIPS` are written from the words of public reports, not from the table of slips. `KINDS` are
minimal functions of what public code does, each with the verdict as `verdict` in test_check.py
writes it: the status, the form, the first definition, and whether the order of ties is fixed.
`MUTANTS` are right functions with one change that no library makes.
"""

import math
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

from ndcg.explanations.slip_terms import Query

Function = Callable[..., float]
Documents = Mapping[str, float]


def by_score(run: Documents) -> list[str]:
    return sorted(run, key=lambda document: -run[document])


def grades(run: Documents, qrels: Documents) -> list[float]:
    return [qrels.get(document, 0) for document in by_score(run)]


def hits(ids: Sequence[str], relevant: Iterable[str]) -> list[float]:
    return [float(document in relevant) for document in ids]


def ordered(scores: Sequence[float], relevance: Sequence[float]) -> list[float]:
    return [relevance[at] for at in sorted(range(len(scores)), key=lambda at: -scores[at])]


def best(gains: Iterable[float]) -> list[float]:
    return sorted(gains, reverse=True)


def log_discount(rank: int) -> float:
    return 1 / log2(rank + 1)


def dcg(gains: Iterable[float], discount: Callable[[int], float] = log_discount) -> float:
    return sum(gain * discount(rank) for rank, gain in enumerate(gains, 1))


def over(one: float, other: float, empty: float = 0.0) -> float:
    return one / other if other > 0 else empty


def ratio(gains: Iterable[float], ideal: Iterable[float], empty: float = 0.0) -> float:
    return over(dcg(gains), dcg(ideal), empty)


def usual(run: Documents, qrels: Documents, k: int | None) -> float:
    return ratio(grades(run, qrels)[:k], best(qrels.values())[:k])


def of_mappings(
    gains: Callable[[Documents, Documents, int], Iterable[float]],
    ideal: Callable[[Documents, Documents, int], Iterable[float]] = lambda run, qrels, k: best(
        qrels.values()
    )[:k],
    discount: Callable[[int], float] = log_discount,
) -> Function:
    return lambda run, qrels, k: over(
        dcg(gains(run, qrels, k), discount), dcg(ideal(run, qrels, k), discount)
    )


def of_gain(gain: Callable[[float], float]) -> Function:
    """The usual nDCG with another gain."""
    return of_mappings(
        lambda run, qrels, k: map(gain, grades(run, qrels)[:k]),
        lambda run, qrels, k: best(map(gain, qrels.values()))[:k],
    )


def of_order(order: Callable[[Documents], Iterable[str]]) -> Function:
    """The usual nDCG with another order of the documents."""
    return of_mappings(
        lambda run, qrels, k: [qrels.get(document, 0) for document in order(run)][:k]
    )


def of_discount(discount: Callable[[int], float]) -> Function:
    return of_mappings(lambda run, qrels, k: grades(run, qrels)[:k], discount=discount)


def of_ideal(ideal: Callable[[Documents, Documents, int], Iterable[float]]) -> Function:
    return of_mappings(lambda run, qrels, k: grades(run, qrels)[:k], ideal)


def of_ranks(ranks: Callable[[Sequence[float], int], Any]) -> Function:
    """The usual nDCG of two arrays, with positions of documents by rank."""

    def function(scores: Any, relevance: Any, k: int) -> float:
        scores, relevance = np.asarray(scores), np.asarray(relevance)
        return ratio(relevance[ranks(scores, k)][:k].tolist(), best(relevance.tolist())[:k])

    return function


def query_of(ranking: str, k: int | None = 3) -> Query:
    """The query that a cell of the table in docs/slips.md shows."""
    retrieved, _, unretrieved = ranking.partition(" + ")
    run: dict[str, float] = {}
    qrels: dict[str, float] = {}
    own_document = None
    for level, group in enumerate(retrieved.split()):
        for grade in re.split("[=≈]", group):
            document = f"d{len(run) + 1}"
            run[document] = 0 if "*" in grade else 100 - level - 1e-9 * ("≈" in group) * len(run)
            if grade.endswith("q"):
                own_document = document
            if grade.strip("*q") != "?":
                qrels[document] = int(grade.strip("*q"))
    qrels |= {f"unretrieved {at}": int(grade) for at, grade in enumerate(unretrieved.split())}
    return Query(run, qrels, k, name=own_document)


# --- Slips, as the threads describe them, of mappings ---------------------------------------------

CUT: Function = lambda run, qrels, k: grades(run, qrels)[:k]  # noqa: E731
SLIPS: dict[str, Function] = {
    "ideal from the top k retrieved": of_ideal(lambda run, qrels, k: best(grades(run, qrels)[:k])),
    "ideal from all that was retrieved": of_ideal(
        lambda run, qrels, k: best(grades(run, qrels))[:k]
    ),
    "ideal not cut at k": of_ideal(lambda run, qrels, k: best(qrels.values())),
    "ideal of k relevant documents": of_ideal(lambda run, qrels, k: [max(qrels.values())] * k),
    "equal weights at ranks 1 and 2": of_discount(lambda rank: 1 / max(1, log2(rank))),
    "ideal cut at the length of the result list": of_ideal(
        lambda run, qrels, k: best(qrels.values())[: min(k, len(run))]
    ),
    "unjudged documents removed": of_mappings(
        lambda run, qrels, k: [qrels[each] for each in by_score(run) if each in qrels][:k]
    ),
    "documents in the order of the input": of_order(lambda run: run),
    "ties in the model's favor": of_mappings(
        lambda run, qrels, k: [
            -grade for _, grade in sorted((-run[each], -qrels.get(each, 0)) for each in run)
        ][:k]
    ),
    "discount from the place in the truth": of_mappings(
        lambda run, qrels, k: [
            qrels[each] * (each in by_score(run)[:k])
            for each in [each for each in qrels if qrels[each]][:k]
        ]
    ),
    "DCG with binary gain, ideal with graded gain": of_mappings(
        lambda run, qrels, k: [min(grade, 1) for grade in CUT(run, qrels, k)]
    ),
    "ideal with binary gain, DCG with graded gain": of_ideal(
        lambda run, qrels, k: best(min(grade, 1) for grade in qrels.values())[:k]
    ),
    "ideal in the order of the run": of_ideal(CUT),
    "ideal in the order of the qrels": of_ideal(lambda run, qrels, k: [*qrels.values()][:k]),
    "judgments counted twice in the ideal": of_ideal(
        lambda run, qrels, k: best([*qrels.values()] * 2)[:k]
    ),
    "DCG one rank too deep": of_mappings(lambda run, qrels, k: [0, *CUT(run, qrels, k)]),
    "natural logarithm in the DCG only": lambda run, qrels, k: usual(run, qrels, k) / math.log(2),
    "no discount": of_discount(lambda rank: 1),
    "DCG not cut at k": of_mappings(lambda run, qrels, k: grades(run, qrels)),
    "nothing cut at k": lambda run, qrels, k: usual(run, qrels, None),
    "0 if lists are shorter than k": lambda run, qrels, k: (
        usual(run, qrels, k) * (max(len(run), len(qrels)) >= k)
    ),
    "0 until k documents are judged": lambda run, qrels, k: (
        usual(run, qrels, k) * (len(qrels) >= k)
    ),
    "unretrieved documents with the score 0": lambda run, qrels, k: usual(
        {**run, **{each: 0.0 for each in qrels if each not in run}}, qrels, k
    ),
    "no relevant documents scored 1": lambda run, qrels, k: (
        usual(run, qrels, k) if any(qrels.values()) else 1.0
    ),
    "unretrieved documents ranked last": of_mappings(
        lambda run, qrels, k: [
            *grades(run, qrels),
            *(qrels[each] for each in qrels if each not in run),
        ][:k]
    ),
    "ascending order": of_order(lambda run: sorted(run, key=lambda each: run[each])),
    "ideal cut one rank too deep": of_ideal(lambda run, qrels, k: best(qrels.values())[: k + 1]),
    "cutoff one rank too deep": lambda run, qrels, k: usual(run, qrels, k + 1),
    "DCG called nDCG": lambda run, qrels, k: dcg(CUT(run, qrels, k)),
    "relevance level 2": of_gain(lambda grade: int(grade >= 2)),
    "gain r^2": of_gain(lambda grade: grade**2),
    "ties by ascending document id": of_order(
        lambda run: sorted(run, key=lambda each: (-run[each], each))
    ),
    "documents with the score 0 not retrieved": lambda run, qrels, k: usual(
        {each: score for each, score in run.items() if score}, qrels, k
    ),
    "gain 2^r, also of unjudged documents": of_mappings(
        lambda run, qrels, k: [2**grade for grade in CUT(run, qrels, k)],
        lambda run, qrels, k: [2**grade for grade in best(qrels.values())[:k]],
    ),
}


# --- Kinds of functions: every form, and what else public code does -------------------------------


def first_hit(ids: Sequence[str], relevant: Iterable[str], k: int) -> float:
    return next(
        (log_discount(rank) for rank, hit in enumerate(hits(ids, relevant)[:k], 1) if hit), 0.0
    )


def as_one_array(gains: Sequence[float], k: int) -> float:
    return float(
        np.dot(gains[:k], [log_discount(rank) for rank in range(1, k + 1)])
    )  # raises on fewer than k


def in_place_of_k(
    scores: Sequence[float], relevance: Sequence[float], log_base: int = 2, k: int = 10
) -> float:
    gains = ordered(scores, relevance)
    return over(
        *(dcg(each[:k], lambda rank: math.log(log_base, rank + 1)) for each in (gains, best(gains)))
    )


def shuffled(scores: Any, k: int) -> Any:
    order = np.random.permutation(len(scores))
    return order[np.argsort(-scores[order], kind="stable")]


UNSTABLE = {
    "np.argsort(y)[::-1]": of_ranks(lambda scores, k: np.argsort(scores)[::-1]),
    "np.argsort(-y)": of_ranks(lambda scores, k: np.argsort(-scores)),
    "shuffled": of_ranks(shuffled),
}
SETS: dict[str, tuple[Function, str]] = {
    "right": (
        lambda ids, relevant, k: ratio(hits(ids, relevant)[:k], [1] * min(k, len(relevant))),
        "0 sets: sklearn",
    ),
    "top k": (
        lambda ids, relevant, k: ratio(hits(ids, relevant)[:k], best(hits(ids, relevant)[:k])),
        "1 sets: sklearn, ideal from the top k retrieved",
    ),
    "not cut": (
        lambda ids, relevant, k: ratio(hits(ids, relevant)[:k], [1] * len(relevant)),
        "1 sets: sklearn, ideal not cut at k",
    ),
    "relevant first": (
        lambda relevant, ids, k: ratio([0, *hits(ids, relevant)[:k]], [1] * min(k, len(relevant))),
        "1 sets: sklearn, DCG one rank too deep",
    ),
    "place in the truth": (
        lambda ids, relevant, k: ratio(hits(relevant[:k], ids[:k]), [1] * min(k, len(relevant))),
        "1 ids: sklearn, discount from the place in the truth",
    ),
    "first hit": (first_hit, "1 sets: sklearn, only the first relevant document"),
    "first hit, whole ideal": (
        lambda ids, relevant, k: over(
            first_hit(ids, relevant, k), dcg([1] * min(k, len(relevant)))
        ),
        "1 sets: sklearn, DCG of the first relevant document only",
    ),
    "hit rate": (
        lambda ids, relevant, k: float(any(hits(ids, relevant)[:k])),
        "1 sets: sklearn, ideal in the order of the run",
    ),
    "not cut, one rank too deep": (
        lambda ids, relevant, k: ratio([0, *hits(ids, relevant)[:k]], [1] * len(relevant)),
        "1 sets: sklearn, ideal not cut at k, DCG one rank too deep",
    ),
    "reciprocal rank": (
        lambda ids, relevant, k: next(
            (1 / rank for rank, hit in enumerate(hits(ids, relevant)[:k], 1) if hit), 0.0
        ),
        "1 sets: sklearn, discount 1 / rank, only the first relevant document",
    ),
    "raises below k": (
        lambda ids, relevant, k: over(
            as_one_array(hits(ids, relevant), k), as_one_array(best(hits(ids, relevant)), k)
        ),
        "3 sets: sklearn, ideal from all that was retrieved",
    ),
    "raises below 2k": (
        lambda ids, relevant, k: ratio(
            [ids[at] in relevant for at in range(2 * k)][:k], [1] * min(k, len(relevant))
        ),
        "3 sets: sklearn",
    ),
}
KINDS: dict[str, tuple[Function, str]] = {
    "mappings": (usual, "0 mappings: ranx"),
    "lists": (
        lambda scores, relevance, k: ratio(ordered(scores, relevance)[:k], best(relevance)[:k]),
        "0 lists: ranx",
    ),
    "arrays": (of_ranks(lambda scores, k: (-scores).argsort(kind="stable")), "0 lists: ranx"),
    "ranked": (
        lambda ids, qrels, k: ratio(
            [qrels.get(each, 0) for each in ids[:k]], best(qrels.values())[:k]
        ),
        "0 ranked: sklearn",
    ),
    "relevance first": (
        lambda relevance, scores, k: ratio(
            ordered(scores, relevance)[:k], best(ordered(scores, relevance)[:k])
        ),
        "1 lists: ranx, ideal from the top k retrieved",
    ),
    "k first": (lambda k, run, qrels: usual(run, qrels, k), "0 mappings: ranx"),
    "log_base before k": (in_place_of_k, "0 lists: ranx"),
    "ideal of the top k in one array": (
        lambda run, qrels, k: over(
            as_one_array(grades(run, qrels), k), as_one_array(best(grades(run, qrels)), k)
        ),
        "3 mappings: ranx, ideal from all that was retrieved",
    ),
    **{
        name: (function, "0 lists: sklearn, ties in no order")
        for name, function in UNSTABLE.items()
    },
    "np.argsort, ideal of the top k": (
        lambda scores, relevance, k: (lambda top: ratio(top, best(top)))(
            [relevance[at] for at in np.argsort(scores)[::-1][:k]]
        ),
        "1 lists: sklearn, ideal from the top k retrieved, ties in no order",
    ),
    "ln in the DCG": (
        lambda run, qrels, k: usual(run, qrels, k) / math.log(2),
        "1 mappings: ranx, natural logarithm in the DCG only",
    ),
    "log10 in the DCG": (
        lambda run, qrels, k: usual(run, qrels, k) * math.log2(10),
        "1 mappings: 3.3219 ranx",
    ),
    "half": (lambda run, qrels, k: usual(run, qrels, k) / 2, "1 mappings: 0.5 ranx"),
    "percent, top k": (
        lambda run, qrels, k: 100 * ratio(CUT(run, qrels, k), best(CUT(run, qrels, k))),
        "1 mappings: 100 ranx, ideal from the top k retrieved",
    ),
    "percent, no decimals": (
        lambda run, qrels, k: round(100 * usual(run, qrels, k)),
        "1 mappings: 100 ranx",
    ),
    "two slips and nan": (
        lambda run, qrels, k: (lambda top: ratio(top, best(top), math.nan))(
            [g**2 for g in CUT(run, qrels, k)]
        ),
        "1 mappings: ignite, ideal from the top k retrieved, gain r^2",
    ),
    "not cut, one decimal": (
        lambda run, qrels, k: round(ratio(CUT(run, qrels, k), best(qrels.values())), 1),
        "1 mappings: ranx, ideal not cut at k",
    ),
    "ties by id in 64 bits": (
        of_order(lambda run: sorted(run, key=lambda each: (run[each], each), reverse=True)),
        "1 mappings: sklearn, ties by document id",
    ),
    "always 0": (lambda run, qrels, k: 0.0, "1 mappings: unknown"),
    "noise": (
        lambda run, qrels, k: usual(run, qrels, k) + random.random() / 100,
        "1 mappings: unknown",
    ),
    **{f"sets: {name}": each for name, each in SETS.items()},
}

# --- Idioms of public code: functions that are called in other ways -------------------------------


def of_queries(y_true: Any, y_score: Any, query_ids: Any, k: int = 10) -> float:
    rows = [np.asarray(query_ids) == query for query in np.unique(query_ids)]
    values = [
        ratio(ordered(y_score[each], y_true[each])[:k], best(y_true[each])[:k]) for each in rows
    ]
    return sum(values) / len(values)


def of_groups(y_true: Any, y_pred: Any, group: Any, k: int = 10) -> float:
    ends = np.cumsum(group)[:-1]
    gains = [np.exp2(each) - 1 for each in np.split(y_true, ends)]
    values = [
        ratio(ordered(scores, each)[:k], best(each)[:k], 1.0)
        for scores, each in zip(np.split(y_pred, ends), gains, strict=True)
    ]
    return sum(values) / len(values)


def of_rows(y_true: Any, y_score: Any, k: int = 10) -> list[float]:
    assert y_true.ndim == 2
    return [
        ratio(ordered(scores, labels)[:k], best(labels)[:k])
        for scores, labels in zip(y_score, y_true, strict=True)
    ]


def of_tensors(scores: Any, labels: Any, k: int = 10) -> Any:
    import torch

    top = scores.sort(dim=1, descending=True, stable=True).indices[:, :k]
    discount = 1 / torch.log2(torch.arange(2.0, k + 2, dtype=torch.float64))[: top.shape[1]]
    dcgs = [
        (each * discount).sum(dim=1)
        for each in (labels.gather(1, top), labels.sort(dim=1, descending=True).values[:, :k])
    ]
    return (dcgs[0] / dcgs[1].clamp(min=1e-9)).mean()


def of_one_item(ranklist: Sequence[str], gt_item: str, k: int = 10) -> float:
    return next(
        (log_discount(rank) for rank, item in enumerate(ranklist[:k], 1) if item == gt_item), 0.0
    )


def of_columns(truth: Any, ranked: Any, k: int = 10) -> float:
    return ratio(truth[ranked[:k]].tolist(), best(truth)[:k])


def of_id_lists(actual: Any, predicted: Any, k: int = 10) -> float:
    pairs = [*zip(predicted, actual, strict=True)]
    return sum(SETS["right"][0](ids, relevant, k) for ids, relevant in pairs) / len(pairs)


def of_labels(y_true: Any, y_score: Any, k: int = 10) -> float:
    return ratio(ordered(y_score, y_true)[:k], [1] * min(k, int(sum(y_true))))


def of_runs(qrels: Any, run: Any, k: int = 10) -> float:
    return sum(usual(run[query], judged, k) for query, judged in qrels.items()) / len(qrels)


def of_rank(rank: int | None, k: int) -> float:
    return 0.0 if rank is None or rank > k else log_discount(rank)


def of_lists_by_user(recommended: Any, truth: Any, k: int = 10) -> float:
    return sum(
        SETS["right"][0](recommended[user], relevant, k) for user, relevant in truth.items()
    ) / len(truth)


def of_ranked_runs(run: Any, qrels: Any, k: int = 10) -> float:
    queries = [(run[query], judged) for query, judged in qrels.items()]
    values = [
        ratio([judged.get(each, 0) for each in ids[:k]], best(judged.values())[:k])
        for ids, judged in queries
    ]
    return sum(values) / len(values)


IDIOMS: dict[str, tuple[Function, str]] = {
    "the rank of the relevant item": (of_rank, "0 rank: sklearn"),
    "one relevant item of each query": (
        lambda actual, predicted, topk: (
            sum(map(of_one_item, predicted, actual, [topk] * len(actual))) / len(actual)
        ),
        "0 items: sklearn",
    ),
    "lists of ids by user": (of_lists_by_user, "0 set_runs: sklearn"),
    "ranked ids by query": (of_ranked_runs, "0 ranked_runs: sklearn"),
    "pairs of an id and its score": (
        lambda ranked, qrels, k=10: usual({pair[0]: pair[1] + 0.0 for pair in ranked}, qrels, k),
        "0 scored_ids: ranx",
    ),
    "pairs of a score and its relevance": (
        lambda pairs, k=10: of_rows(
            *(np.array([column]) for column in [*zip(*pairs, strict=True)][::-1]), k
        )[0],
        "0 pairs: ranx",
    ),
    "relevance before and after": (
        lambda original, reranked, k: ratio(reranked[:k], best(original)[:k]),
        "0 ideal: sklearn",
    ),
    "query ids": (of_queries, "0 queries: ranx"),
    "sizes of groups": (of_groups, "0 groups: lightgbm"),
    "a value for each row": (of_rows, "0 rows: ranx"),
    "a batch of tensors": (of_tensors, "0 tensor_rows: ranx"),
    "one relevant item": (of_one_item, "0 item: sklearn"),
    "the ideal's relevance": (
        lambda golden, current, k: ratio(current[:k], best(golden)[:k]),
        "0 ideal: sklearn",
    ),
    "relevance by column": (of_columns, "0 columns: sklearn"),
    "lists of ids": (of_id_lists, "0 id_lists: sklearn"),
    "lists of ids, predicted first": (
        lambda predicted, actual, k: of_id_lists(actual, predicted, k),
        "0 id_lists: sklearn",
    ),
    "labels of 0 and 1": (of_labels, "1 lists: unknown"),
    "exponential gain over linear": (
        lambda ids, qrels, k: ratio(
            [2 ** qrels.get(each, 0) - 1 for each in ids[:k]], best(qrels.values())[:k]
        ),
        "1 ranked: unknown",
    ),
    "no cutoff": (
        lambda y_true, y_score: ratio(ordered(y_score, y_true), best(y_true)),
        "0 lists: ranx",
    ),
    "a whole run": (of_runs, "0 runs: ranx"),
    "hits and relevant ids": (
        lambda hits, k, truth: ratio(hits[:k], [1] * min(k, len(truth))),
        "0 hits: sklearn",
    ),
    "the sum of a batch": (
        lambda test_data, hits, k: sum(
            ratio(row[:k], [1] * min(k, len(each)))
            for row, each in zip(hits, test_data, strict=True)
        ),
        "1 hit_rows: 2 sklearn",
    ),
    "an ideal of as many as were returned": (
        lambda recommended, relevant, k: ratio(
            hits(recommended, relevant)[:k], [1] * min(k, len(recommended))
        ),
        "1 sets: sklearn, ideal of as many relevant documents as were retrieved",
    ),
    "not divided": (
        lambda ids, relevant, k: dcg(hits(ids, relevant)[:k]),
        "1 sets: sklearn, DCG called nDCG",
    ),
}


# --- Right functions with one change --------------------------------------------------------------


def of_positions(ranks: Callable[[Any], Any]) -> Function:
    """The DCG of documents at ranks that are computed from an array of scores."""
    return lambda scores, relevance, k: over(
        sum(
            grade * log_discount(rank)
            for grade, rank in zip(relevance, ranks(np.array(scores)), strict=True)
            if rank <= k
        ),
        dcg(best(relevance)[:k]),
    )


MUTANTS: dict[str, Function] = {
    "r^3": of_gain(lambda grade: grade**3),
    "ideal in ascending order": of_ideal(lambda run, qrels, k: sorted(qrels.values())[:k]),
    "exponential gain over linear": of_mappings(
        lambda run, qrels, k: [2**grade - 1 for grade in grades(run, qrels)[:k]]
    ),
    "sqrt(r)": of_gain(math.sqrt),
    "3^r - 1": of_gain(lambda grade: 3**grade - 1),
    "1 - nDCG": lambda run, qrels, k: 1 - usual(run, qrels, k),
    "DCG / (IDCG + 0.001)": lambda run, qrels, k: (
        dcg(grades(run, qrels)[:k]) / (dcg(best(qrels.values())[:k]) + 0.001)
    ),
    "at most 3": of_gain(lambda grade: min(grade, 3)),
    "relevant from 3 on": of_gain(lambda grade: grade >= 3),
    "exponential from 3 on": of_gain(lambda grade: 2**grade - 1 if grade > 2 else grade),
    "discounts of 8 ranks": of_discount(lambda rank: log_discount(rank) * (rank <= 8)),
    "ln from rank 4 on": of_discount(
        lambda rank: log_discount(rank) if rank < 4 else 1 / (2 * math.log(rank + 1))
    ),
    "1 / sqrt(rank)": of_discount(lambda rank: rank**-0.5),
    "rounded discounts": of_discount(lambda rank: round(log_discount(rank), 4)),
    "empty 0.5": lambda run, qrels, k: usual(run, qrels, k) if any(qrels.values()) else 0.5,
    "k - 2": lambda run, qrels, k: usual(run, qrels, max(k - 2, 1)),
    "DCG of k + 1": of_mappings(lambda run, qrels, k: grades(run, qrels)[: k + 1]),
    "ideal of k - 1": of_ideal(lambda run, qrels, k: best(qrels.values())[: k - 1]),
    "ideal of at least 2": of_ideal(
        lambda run, qrels, k: [*best(qrels.values()), 1][: max(2, min(k, len(qrels)))]
    ),
    "ideal of 2k retrieved": of_ideal(lambda run, qrels, k: best(grades(run, qrels)[: 2 * k])[:k]),
    "30 documents": of_order(lambda run: by_score(dict([*run.items()][:30]))),
    "last two swapped": of_order(lambda run: [*by_score(run)[:-2], *by_score(run)[:-3:-1]]),
    "positive scores": of_order(
        lambda run: by_score({each: score for each, score in run.items() if score >= 0})
    ),
    "integer scores": of_order(
        lambda run: by_score({each: int(score) for each, score in run.items()})
    ),
    "scores to 1 decimal": of_order(
        lambda run: by_score({each: round(score, 1) for each, score in run.items()})
    ),
    "one of each tie": of_order(lambda run: {run[each]: each for each in by_score(run)}.values()),
    "unjudged count 1": of_mappings(
        lambda run, qrels, k: [qrels.get(each, 1) for each in by_score(run)][:k]
    ),
    "at most 0.95": lambda run, qrels, k: min(usual(run, qrels, k), 0.95),
    "0 if the first is unjudged": lambda run, qrels, k: (
        usual(run, qrels, k) * ({*by_score(run)[:1]} <= {*qrels})
    ),
    "dense ranks": of_positions(
        lambda scores: [len({*scores[scores > each]}) + 1 for each in scores]
    ),
    "worst rank of ties": of_positions(lambda scores: [(scores >= each).sum() for each in scores]),
    "no first hit": lambda ids, relevant, k: ratio(
        [0, *hits(ids, relevant)[1:k]], [1] * min(k, len(relevant))
    ),
    "first item twice": lambda ranklist, gt_item, k=10: of_one_item(
        [*ranklist[:1], *ranklist], gt_item, k
    ),
    "query ids ignored": lambda y_true, y_score, query_ids, k: ratio(
        ordered(y_score, y_true)[:k], best(y_true)[:k]
    ),
    "root of a batch": lambda y_true, y_score, k: np.sqrt(of_rows(y_true, y_score, k)),
    "groups of r^3": lambda y_true, y_pred, group, k: of_queries(
        y_true**3, y_pred, np.repeat([1, 2], group), k
    ),
    "columns without the first": lambda truth, ranked, k: of_columns(truth, ranked[1:], k),
    "lists of ids, k - 2": lambda actual, predicted, k: of_id_lists(
        actual, predicted, max(k - 2, 1)
    ),
    "a run of r^3": lambda qrels, run, k: of_runs(
        {
            query: {each: grade**3 for each, grade in judged.items()}
            for query, judged in qrels.items()
        },
        run,
        k,
    ),
    "hits over their number": lambda hits, k, truth: dcg(hits[:k]) / max(1, sum(hits[:k])),
    "no cutoff, r^3": lambda y_true, y_score: of_rows(
        np.array([y_true]) ** 3, np.array([y_score]), 10**3
    )[0],
    "golden r^3": lambda golden, current, k: ratio(
        current[:k], best(grade**3 for grade in golden)[:k]
    ),
    "ideal of 5": lambda ids, relevant, k: ratio(
        hits(ids, relevant)[:k], [1] * min(k, len(relevant), 5)
    ),
}
