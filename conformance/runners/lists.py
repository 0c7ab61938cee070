"""Cases by ids, as lists for libraries that score by position."""

from typing import Any


class NotSupportedError(Exception):
    """Why a library cannot be asked for the value of a case."""


def lists(case: dict[str, Any], query: str) -> tuple[list[float], list[float]]:
    """Return a query's scores and relevances in the order of the run; 0 for unjudged documents."""
    if query not in case["run"]:
        raise NotSupportedError("a query that is missing from the run")
    run, judged = case["run"][query], case["qrels"][query]
    if not run:
        raise NotSupportedError("a query for which nothing was retrieved")
    if judged.keys() - run.keys():
        raise NotSupportedError("a judged document that was not retrieved")
    if run.keys() - judged.keys() and min(judged.values(), default=0) < 0:
        raise NotSupportedError(
            "an unjudged document, which 0 puts above the negative ones of the ideal"
        )
    documents = case["order"][query]
    return [float(run[each]) for each in documents], [judged.get(each, 0) for each in documents]


def joined(case: dict[str, Any], queries: list[str]) -> tuple[list[float], list[float], list[int]]:
    """Return scores and relevances of some queries, one after the other, and their lengths."""
    ranked = [lists(case, query) for query in queries]
    scores = [score for scores, _ in ranked for score in scores]
    return (
        scores,
        [grade for _, grades in ranked for grade in grades],
        [len(scores) for scores, _ in ranked],
    )
