"""Rax's `ndcg_metric`, all queries of a case at once, padded to one length and masked."""

from typing import Any

import jax.numpy as jnp
import rax
from lists import lists

MODULE = "rax"
PRESETS = ("rax",)
TOLERANCE = 2e-6  # it computes in 32 bits
LENGTHS = (
    12,
    120,
)  # to which lists are padded: as few as possible, since JAX compiles its code for each


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query; a query that the run lacks is fully masked and skipped."""
    values, counted = _measured(case, reduce_fn=lambda values, where=None: (values, where))
    found = zip(case["qrels"], values.tolist(), counted.tolist(), strict=True)
    return {query: value for query, value, counts in found if counts}


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG over the lists that are not masked whole."""
    return float(_measured(case))


def _measured(case: dict[str, Any], **how: Any) -> Any:
    """Return the values of Rax for all lists."""
    scores, relevance, where = [], [], []
    longest = max(map(len, case["run"].values()), default=0)
    length = next(each for each in LENGTHS if each >= longest)
    for query in case["qrels"]:
        lacks = query not in case["run"] or not (case["run"][query] or case["qrels"][query])
        row = ([], []) if lacks else lists(case, query)
        padding = length - len(row[0])
        scores.append([*row[0], *[0.0] * padding])
        relevance.append([*map(float, row[1]), *[0.0] * padding])
        where.append([True] * len(row[0]) + [False] * padding)
    arrays = jnp.asarray(scores), jnp.asarray(relevance)
    return rax.ndcg_metric(*arrays, where=jnp.asarray(where), topn=case["k"], **how)
