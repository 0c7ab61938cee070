"""Saved results that are not what `to_dict` gave."""

from typing import Any

from refusals import Made, Row, refused

from ndcg import Report, report

SIDE = {query: {"x": 1.0} for query in "abc"}


def saved() -> dict[str, Any]:
    """A report of three queries as it is saved."""
    return report(predictions=SIDE, references=SIDE, sample_weight=[1, 2, 1]).to_dict()


def queries(**columns: list[Any]) -> Row:
    """The row of a saved report in which columns of the queries were changed."""
    values = Made(lambda: {**saved(), "queries": {**saved()["queries"], **columns}})
    return refused(Report.from_dict, "values", values=values)


def entry(name: str, value: Any) -> Row:
    """The row of a saved report of which an entry was changed."""
    return refused(Report.from_dict, "values", values=Made(lambda: {**saved(), name: value}))


ROWS: dict[str, Row] = {
    "a negative weight": queries(weight=[1.0, -1.0, 1.0]),
    "no weight": queries(weight=[1.0, None, 1.0]),
    "an nDCG above 1": queries(nDCG=[1.0, 1.7, 0.5]),
    "a worst nDCG below 0": queries(**{"worst nDCG": [1.0, 0.5, -1.0]}),
    "a query twice": queries(query=["a", "b", "a"]),
    "weights of 0": queries(weight=[0.0, 0.0, 0.0]),
    "text as the notes": entry("notes", "abc"),
    "text as the signature": entry("signature", "abc"),
    "the signature of version 1": entry("signature", "nDCG|v:1.2.0"),
}
