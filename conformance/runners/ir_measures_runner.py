"""ir_measures, whose nDCG is trec_eval's with `-c`: a query that the run lacks counts as 0."""

from typing import Any

import ir_measures
from lists import NotSupportedError

PACKAGE = "ir_measures"
PRESETS = ("trec_eval",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query that it returns; trec_eval's relevances are integers."""
    if any(judged and max(judged.values()) < 0 for judged in case["qrels"].values()):
        raise NotSupportedError("trec_eval may never return where all that is judged is negative")
    measure = ir_measures.nDCG if case["k"] is None else ir_measures.nDCG @ case["k"]
    run = {query: {each: float(value) for each, value in documents.items()} for query, documents in case["run"].items()}
    return {each.query_id: each.value for each in ir_measures.iter_calc([measure], case["qrels"], run)}
