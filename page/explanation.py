"""The same data under the convention of every library, and whose a paper's score may be."""

import re
from collections.abc import Mapping
from typing import Any

from .metric import Options, ndcg, tables
from .picture import strip_of
from .settings import (
    NO_WORDS,
    OTHERS,
    Settings,
    Words,
    in_words,
    labels_of,
    largest_cutoff,
    option_of,
)

Sides = Mapping[str, Any]  # arguments of `explain`: predictions, references, ...
USUAL = {name: option_of(name, word).get(name) for name, word in OTHERS.items()}
ALLOWED = re.compile(r"[-+\d.eE%@, ]+|nan")  # never the path of a file of the server


def libraries(
    name: str, sides: Sides, got: str, settings: Settings, names: Words = NO_WORDS
) -> dict[str, Any]:
    """Return the scores of some data under every convention, and whose a paper's score is."""
    data: dict[str, Any] = {"name": name, "got": "", "answer": None}
    try:
        explanation = explanation_of(sides, got.strip() or None, settings.drawn)
    except ValueError as problem:
        data["answer"] = {"headline": in_words(problem, names), "is_fault": True}
        explanation = explanation_of(sides, None, settings.drawn)
    data["measure"], data["strip"] = explanation.measure, strip_of(explanation.scores)
    if explanation.got is not None:
        data["got"] = f"{explanation.got}"
        data["place"] = data["strip"].axis.place(explanation.got)
        data["answer"] = answer_of(explanation, names)
    return data


def answer_of(explanation: Any, names: Words) -> dict[str, Any]:
    """Return one of three answers: these conventions; only this; or that it cannot be told."""
    headline, *details = [in_words(remark, names) for remark in explanation.remarks()]
    if explanation.answer.kind == "cause":
        headline = f"No convention, but this: {headline}"
    if explanation.answer.kind == "unknown" and explanation.answer.fits:
        decide, *details = details
        headline = f"{headline} {decide}"
    return {"headline": headline, "details": details, "is_fault": False}


def explanation_of(sides: Sides, got: Any, options: Options) -> Any:
    """Return the explanation of a reported score, which is never read from a file of the server."""
    if isinstance(got, str) and "\n" not in got and not ALLOWED.fullmatch(got):
        several = "an nDCG, such as 0.5921, or several, such as 0.31@5,0.283@10"
        raise tables.InputError(f"{tables.mark('got')} must be {several}; got {got[:40]!r}")
    # what no convention sets is part of the question; its usual values go without saying
    known = {
        name: options[name] for name, usual in USUAL.items() if options.get(name, usual) != usual
    }
    if labels_of(options) is not None:
        known["gain"] = options["gain"]
    # cutoffs may be named with their scores
    if not re.search("@|nDCG", f"{got}"):
        known["k"] = largest_cutoff(options["k"])
    return ndcg.explain(**sides, **known, got=got)
