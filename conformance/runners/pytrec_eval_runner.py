"""pytrec_eval, trec_eval in Python. It averages nothing; a query that it omits is left out."""

from typing import Any

import pytrec_eval
from lists import NotSupportedError

MODULE = "pytrec_eval"
PRESETS = ("pytrec_eval",)
TOLERANCE = 1e-9


def score(case: dict[str, Any], preset: str) -> dict[str, float]:
    """Return the nDCG of each query that it returns; trec_eval's relevances are integers."""
    if any(judged and max(judged.values()) < 0 for judged in case["qrels"].values()):
        raise NotSupportedError("trec_eval may never return if all that is judged is negative")
    measure = "ndcg" if case["k"] is None else f"ndcg_cut.{case['k']}"
    run = {
        query: {each: float(value) for each, value in documents.items()}
        for query, documents in case["run"].items()
    }
    found = pytrec_eval.RelevanceEvaluator(case["qrels"], {measure}).evaluate(run)
    return {query: values[measure.replace(".", "_")] for query, values in found.items()}
