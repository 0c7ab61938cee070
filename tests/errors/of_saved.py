"""Saved results that are not what `to_dict` gave, and reports that cannot be compared."""

import json
from typing import Any

from refusals import File, Made, Row, refused

from ndcg import Report, compare_reports, report

SIDE = {query: {"x": 1.0} for query in "abc"}


def saved(**options: Any) -> dict[str, Any]:
    """A report of three queries as it is saved."""
    return report(predictions=SIDE, references=SIDE, **options).to_dict()


def changed(columns: dict[str, list[Any]], **options: Any) -> Made:
    """A saved report in which columns of the queries were changed."""

    def make() -> dict[str, Any]:
        values = saved(**options)
        return {**values, "queries": {**values["queries"], **columns}}

    return Made(make)


def of_version(version: str) -> str:
    """The signature of a report that a version saved."""
    options, name, _ = saved()["signature"].partition("|v:")
    return f"{options}{name}{version}"


WEIGHTS = [1, 2, 1]
PLAIN, WEIGHTED = Made(saved), Made(lambda: saved(sample_weight=WEIGHTS))


def queries(**columns: list[Any]) -> Row:
    """The row of a saved report in which columns of the queries were changed."""
    return refused(Report.from_dict, "values", values=changed(columns, sample_weight=WEIGHTS))


def entry(name: str, value: Any) -> Row:
    """The row of a saved report of which an entry was changed."""
    return refused(Report.from_dict, "values", values=Made(lambda: {**saved(), name: value}))


def compared(argument: str, *places: str, a: Any = PLAIN, b: Any = PLAIN, **options: Any) -> Row:
    """The row of two reports that cannot be compared."""
    return refused(compare_reports, argument, *places, reports={"a": a, "b": b}, **options)


READ: dict[str, Row] = {
    "a negative weight": queries(weight=[1.0, -1.0, 1.0]),
    "no weight": queries(weight=[1.0, None, 1.0]),
    "an nDCG above 1": queries(nDCG=[1.0, 1.7, 0.5]),
    "a worst nDCG below 0": queries(**{"worst nDCG": [1.0, 0.5, -1.0]}),
    "a query twice": queries(query=["a", "b", "a"]),
    "weights of 0": queries(weight=[0.0, 0.0, 0.0]),
    "text as the notes": entry("notes", "abc"),
    "text as the signature": entry("signature", "abc"),
    "the signature of version 1": entry("signature", "nDCG|v:1.2.0"),
    "the signature of version 4": entry("signature", "nDCG|v:4.0.0"),
    "no number as the version": entry("signature", "nDCG|v:x"),
}

COMPARED: dict[str, Row] = {
    "one report": refused(compare_reports, "reports", reports={"a": PLAIN}),
    "other options": compared("reports", b=Made(lambda: saved(k=5, ties="best"))),
    "weights of one": compared("reports", b=WEIGHTED),
    "other weights": compared(
        "reports", a=WEIGHTED, b=Made(lambda: saved(sample_weight=[1, 2, 3]))
    ),
    "another version": compared(
        "reports", b=Made(lambda: {**saved(), "signature": of_version("3.999.0")})
    ).quoting("the version "),
    "another query": compared("reports", b=changed({"query": ["a", "b", "d"]})),
    "a missing file": compared("", "no.json", b="no.json"),
    "a file that is not JSON": compared(
        "", "broken.json", "line 1, column 2", b=File("broken.json", "{")
    ).quoting("Expecting "),
    "a file with several reports": compared(
        "reports['b']",
        "several.json",
        b=Made(lambda: File("several.json", json.dumps({"x": saved(), "y": saved()}))),
    ),
    "a changed report": compared("reports['b']", b=Made(lambda: {**saved(), "notes": 7})),
    "a number": compared("reports['b']", b=7),
    "an empty report": compared("reports['b']", b={}),
    "no flag": compared("paired", paired="no"),
    "independent samples with weights": compared("reports", a=WEIGHTED, b=WEIGHTED, paired=False),
    "independent samples with ids of two types": compared(
        "reports", b=changed({"query": [1, 2, 3]}), paired=False
    ),
    "an independent sample of one query": compared(
        "a",
        a=Made(lambda: report(predictions=[[2, 1]], references=[[0, 1]])),
        b=Made(lambda: report(predictions=[[2, 1]] * 2, references=[[0, 1]] * 2)),
        paired=False,
    ),
}

ROWS: dict[str, Row] = {
    f"{group}: {name}": row
    for group, rows in {"read": READ, "compared": COMPARED}.items()
    for name, row in rows.items()
}
