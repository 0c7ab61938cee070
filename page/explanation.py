"""The same data under the convention of every library, and whose a paper's score may be."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .html import is_number, listed
from .metric import Options, ndcg, tables
from .paste import DECIMAL_COMMA
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
WITHOUT_DIGITS = re.compile(r"\s*([01])\.?\s*(@.*)?")
# above 1, but rather a DCG than a percentage
NO_SIGN = re.compile(r"\s*([2-9]|10|[1-9]\.\d+)\s*")
ALLOWED = re.compile(r"[-+\d.eE%@, ]+|nan")  # never the path of a file of the server


def libraries(
    name: str, sides: Sides, got: str, settings: Settings, names: Words = NO_WORDS
) -> dict[str, Any]:
    """Return the scores of some data under every convention, and whose a paper's score is."""
    answer, score = None, None
    try:
        explanation = explanation_of(sides, score_of(got), settings.drawn)
        score = explanation.got
    except ValueError as problem:
        answer = {"headline": in_words(problem, names), "is_fault": True}
        explanation = explanation_of(sides, None, settings.drawn)
    strip = strip_of(explanation.scores)
    data = {"name": name, "measure": explanation.measure, "strip": strip, "answer": answer}
    if score is None:
        return {**data, "got": ""}
    shown = f"{score}"
    # not in percent or among several
    if is_number(got) and float(got) == score:
        # a number does not hold the zeros at the end of what was typed
        shown = got
        subject = got + explanation.subject.removeprefix(explanation.reported)
        explanation = replace(explanation, reported=got, subject=subject)
    answer = answer_of(explanation, got, names)
    return {**data, "got": shown, "place": strip.axis.place(score), "answer": answer}


def answer_of(explanation: Any, got: str, names: Words) -> dict[str, Any]:
    """Return one of three answers: these conventions; only this; or that it cannot be told."""
    if NO_SIGN.fullmatch(got) and explanation.percent:
        problem = f"{got} is above 1, the highest nDCG. If it is a percentage, write {got}%."
        return {"headline": problem, "is_fault": True}
    headline, *details = [in_words(remark, names) for remark in explanation.remarks()]
    verdict = explanation.answer
    if verdict.kind == "cause":
        headline = f"No convention, but this: {headline}"
    elif verdict.kind == "unknown" and not verdict.fits:
        headline = f"It cannot be told. {headline}"
    elif verdict.kind == "unknown":
        decide, *details = details
        headline = f"{_doubtful(explanation)} {decide}"
    return {"headline": headline, "details": details, "is_fault": False}


def _doubtful(explanation: Any) -> str:
    """Return what would explain a score, and how well it would explain that of another ranking."""
    by_chance, settings = explanation.answer.by_chance, explanation.answer.settings
    fits = f"{settings:,} other settings"
    if explanation.matches:
        fits = listed(explanation.matches, most=len(explanation.matches))
    elif settings == 1:
        fits = "One other setting"
    chance = f"the score of another ranking would fit about {by_chance:.0f} too"
    if by_chance < 1:
        chance = f"{by_chance:.0%} of the scores of other rankings would fit too"
    return f"{fits} would explain {explanation.reported}, but so may chance: {chance}."


def score_of(got: str) -> str | None:
    """Return the score, or scores, of the field; None if it is empty.

    Raises:
        ValueError: a comma is in place of a point, or a score has no digits after it, to which
            most conventions round.
    """
    text = got.strip()
    if DECIMAL_COMMA.fullmatch(text):
        point = text.replace(",", ".")
        raise ValueError(f"Write {point}: a comma separates scores, as in 0.31@5,0.283@10.")
    for part in text.split(","):
        if match := WITHOUT_DIGITS.fullmatch(part):
            digits = f"write the digits that it has, such as 0.97 or {match[1]}.00"
            raise ValueError(f"Nearly every convention rounds to {match[1]}: {digits}.")
    return text or None


def explanation_of(sides: Sides, got: Any, options: Options) -> Any:
    """Return the explanation of a reported score, which is never read from a file of the server."""
    if isinstance(got, str) and "\n" not in got and not ALLOWED.fullmatch(got):
        several = "an nDCG, such as 0.5921, or several, such as 0.31@5,0.283@10"
        raise tables.InputError(f"{tables.mark('got')} must be {several}; got {got[:40]!r}")
    # what no convention sets is part of the question; its usual values go without saying
    known = {}
    for name, word in OTHERS.items():
        usual = option_of(name, word)
        if name in options and options[name] != usual.get(name):
            known[name] = options[name]
    if labels_of(options) is not None:
        known["gain"] = options["gain"]
    if not _has_cutoffs(got):
        known["k"] = largest_cutoff(options["k"])
    return ndcg.explain(**sides, **known, got=got)


def _has_cutoffs(got: Any) -> bool:
    if isinstance(got, str):
        return "@" in got
    return isinstance(got, Mapping) and any(str(name).startswith("nDCG") for name in got)
