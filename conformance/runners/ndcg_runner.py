"""nDCG itself, the package: `pip install .` in a clone of its repository. It knows every preset."""

import math
from typing import Any

import ndcg

MODULE = "ndcg"
PRESETS: tuple[str, ...] = ()  # all
TOLERANCE = 1e-12


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query that has one; an option that the case refuses is an error."""
    how = {"k": case["k"], "convention": preset, "use_aggregator": False}
    (values,) = ndcg.compute(predictions=case["run"], references=case["qrels"], **how).values()
    by_query = zip(case["qrels"], values, strict=True)
    return {query: value for query, value in by_query if not math.isnan(value)}


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG; without a query that has one, this is an error."""
    (value,) = ndcg.compute(
        predictions=case["run"], references=case["qrels"], k=case["k"], convention=preset
    ).values()
    return float(value)


def sums(case: dict[str, Any], preset: str) -> dict[str, dict[str, float]]:
    """Return the CG, DCG and IDCG of each query."""
    how = {
        "k": case["k"],
        "convention": preset,
        "use_aggregator": False,
        "measures": ["CG", "DCG", "IDCG"],
    }
    values = ndcg.compute(predictions=case["run"], references=case["qrels"], **how).values()
    of_queries = zip(case["qrels"], *values, strict=True)
    return {query: dict(zip(how["measures"], each, strict=True)) for query, *each in of_queries}
