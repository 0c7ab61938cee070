"""The measures by their formulas, one document at a time, with 80 digits: slow, and obvious.

    CG@k   = sum of the gains at ranks 1..k
    DCG@k  = sum of the gains at ranks 1..k, each times the discount of its rank
    IDCG@k = DCG@k of the ideal ranking
    nDCG@k = DCG@k / IDCG@k

Gains are fractions, discounts decimals. Every value, a mean too, is rounded once, to the nearest
64-bit float, so it is the same on every machine. The options are listed in vectors.json, which says
what each of them means.
"""

import itertools
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache
from typing import Any

getcontext().prec = 80
EXACT = 40  # decimal places that are right whatever was added up

Side = Mapping[str, Mapping[str, float]]


class RefusedError(Exception):
    """Why there is no value under these options."""


def score(run: Side, qrels: Side, k: int | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measures of every judged query, None for one that is left out, and the mean nDCG.

    Documents that the run ties are listed in it in the order that ``"first"`` keeps.
    """
    if options["negative"] == "raise" and any(
        r < 0 for judged in qrels.values() for r in judged.values()
    ):
        raise RefusedError("a relevance is negative")
    if options["ideal"] == "full" and k is None:
        raise RefusedError("there is no cutoff, and the ideal has as many documents as it")
    if options["score_dtype"] == "float32":
        run = {query: _in_32_bits(documents) for query, documents in run.items()}
    queries: dict[str, dict[str, Fraction | None] | None] = {}
    for query, judged in qrels.items():
        lacks = query not in run or not (run[query] or judged)
        left_out = lacks and options["missing"] == "skip"
        queries[query] = None if left_out else _measures(run.get(query, {}), judged, k, options)
    exact = [each["nDCG"] for each in queries.values() if each and each["nDCG"] is not None]
    return {
        "queries": {
            query: measures
            and {name: None if value is None else float(value) for name, value in measures.items()}
            for query, measures in queries.items()
        },
        "mean nDCG": float(sum(exact, Fraction(0)) / len(exact)) if exact else None,
    }


def _in_32_bits(documents: Mapping[str, float]) -> dict[str, float]:
    """Return the scores of documents, each rounded to the nearest 32-bit float."""
    try:
        return {
            document: struct.unpack("<f", struct.pack("<f", each))[0]
            for document, each in documents.items()
        }
    except OverflowError:
        raise RefusedError("a score is too large for 32-bit floats") from None


def _measures(
    retrieved: Mapping[str, float],
    judged: Mapping[str, float],
    k: int | None,
    options: Mapping[str, Any],
) -> dict[str, Fraction | None]:
    """Return CG, DCG, IDCG and nDCG of one query, not yet rounded to floats."""
    gains = {document: _gain(relevance, options) for document, relevance in judged.items()}
    ranked = _ranked(retrieved, gains, options["ties"])[:k]
    ideal = _ideal(retrieved, gains, k, options["ideal"])[:k]
    dcg, idcg = _discounted(ranked, options), _discounted(ideal, options)
    ndcg: Fraction | None
    if idcg > 0:
        ndcg = dcg / idcg
    elif options["nothing_relevant"] == "left out":
        ndcg = None
    elif options["nothing_relevant"] == "1 if nothing was retrieved, else 0":
        ndcg = Fraction(not retrieved and all(gain <= 0 for gain in gains.values()))
    else:
        ndcg = Fraction(options["nothing_relevant"])
    return {"CG": sum(ranked, Fraction(0)), "DCG": dcg, "IDCG": idcg, "nDCG": ndcg}


def _gain(relevance: float, options: Mapping[str, Any]) -> Fraction:
    """Return the gain of a judged document."""
    exact = Fraction(relevance)
    if options["negative"] == "clip":
        exact = max(exact, Fraction(0))
    if options["gain"] == "linear":
        return exact
    if options["gain"] == "binary":
        return Fraction(exact > 0)
    whole = exact.denominator == 1
    return (Fraction(2) ** int(exact) if whole else Fraction(Decimal(2) ** Decimal(relevance))) - 1


def _ranked(
    retrieved: Mapping[str, float], gains: Mapping[str, Fraction], ties: str
) -> list[Fraction]:
    """Return the gain at each rank; a document that was not judged has gain 0."""
    documents = sorted(retrieved, reverse=True) if ties == "docid" else list(retrieved)
    documents.sort(key=lambda document: -retrieved[document])  # of equals, the first stays first
    ranked: list[Fraction] = []
    for _, tied in itertools.groupby(documents, key=lambda document: retrieved[document]):
        group = [gains.get(document, Fraction(0)) for document in tied]
        if ties == "average":
            group = [sum(group, Fraction(0)) / len(group)] * len(group)
        elif ties in ("best", "worst"):
            group.sort(reverse=ties == "best")
        elif ties == "last":
            group.reverse()
        ranked += group
    return ranked


def _ideal(
    retrieved: Mapping[str, float], gains: Mapping[str, Fraction], k: int | None, ideal: str
) -> Sequence[Fraction]:
    """Return the gain at each rank of the best possible ranking."""
    judged = sorted(gains.values(), reverse=True)
    if ideal == "truncated":
        return judged[: len(retrieved)]
    if ideal == "retrieved":
        return sorted(
            (gain for document, gain in gains.items() if document in retrieved), reverse=True
        )
    return judged[:1] * (k or 0) if ideal == "full" else judged


def _discounted(gains: Sequence[Fraction], options: Mapping[str, Any]) -> Fraction:
    """Return the sum of gains at ranks 1, 2, 3, …, each times the discount of its rank."""
    terms = (
        Decimal(gain.numerator)
        / Decimal(gain.denominator)
        * _discount(rank, options["discount"], options["log_base"])
        for rank, gain in enumerate(gains, 1)
    )
    return Fraction(round(sum(terms, Decimal(0)), EXACT))


@cache
def _discount(rank: int, discount: str, log_base: int) -> Decimal:
    """Return the factor of the gain at a rank."""
    base = Decimal(log_base).ln()
    if discount == "reciprocal":
        return 1 / Decimal(rank)
    if discount == "jarvelin":
        return 1 / max(Decimal(1), Decimal(rank).ln() / base)
    return base / Decimal(rank + 1).ln()
