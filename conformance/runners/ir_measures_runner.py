"""ir_measures: its nDCG is trec_eval's with `-c`, so a query that the run lacks counts as 0."""

from typing import Any

import ir_measures
from lists import NotSupportedError

MODULE = "ir_measures"
PRESETS = ("trec_eval",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query that it returns; trec_eval's relevances are integers."""
    return {each.query_id: each.value for each in ir_measures.iter_calc(*_arguments(case))}


def mean(case: dict[str, Any], preset: str) -> float:
    """Return the mean nDCG."""
    (value,) = ir_measures.calc_aggregate(*_arguments(case)).values()
    return float(value)


def _arguments(case: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the measures, the qrels and the run."""
    if any(judged and max(judged.values()) < 0 for judged in case["qrels"].values()):
        raise NotSupportedError("trec_eval may never return if all that is judged is negative")
    measure = ir_measures.nDCG if case["k"] is None else ir_measures.nDCG @ case["k"]
    run = {
        query: {each: float(value) for each, value in documents.items()}
        for query, documents in case["run"].items()
    }
    return [measure], case["qrels"], run
