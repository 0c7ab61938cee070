"""The same data under the convention of every library, and whose a paper's score may be."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from .html import is_number
from .metric import ndcg, tables
from .paste import DECIMAL_COMMA
from .picture import Strip, strip_of
from .settings import OTHERS, Settings, gains_by_label, in_words, largest_cutoff, option_of

WITHOUT_DIGITS = re.compile(r"\s*([01])\.?\s*(@.*)?")
# above 1, but rather a DCG than a percentage
NO_SIGN = re.compile(r"\s*([2-9]|10|[1-9]\.\d+)\s*")
ALLOWED = re.compile(r"[-+\d.eE%@, ]+|nan")  # never the path of a file of the server


class Answer(NamedTuple):
    """Whose a score may be: in one sentence, and what it rests on."""

    headline: str
    details: tuple[str, ...] = ()
    is_fault: bool = False


class Libraries(NamedTuple):
    """The scores of some data under the convention of every library."""

    name: str  # of the data; empty for one ranking
    measure: str
    strip: Strip
    got: str  # the paper's score; empty if there is none
    place: float  # of the paper's score on the strip
    answer: Answer | None


def libraries(
    name: str, given: Mapping[str, Any], got: str, settings: Settings, names: Mapping[str, str] = {}
) -> Libraries:
    """Return the scores of some data under every convention, and whose a paper's score is."""
    options = settings.drawn
    answer = None
    try:
        explanation = explanation_of(given, score_of(got), options)
        if explanation.got is not None:
            answer = answer_of(explanation, got, names)
    except ValueError as problem:
        answer = Answer(in_words(problem, names), is_fault=True)
        explanation = explanation_of(given, None, options)
    strip, place, shown = strip_of(explanation.scores), 0.0, ""
    if explanation.got is not None:
        place = strip.scale.place(explanation.got)
        shown = f"{explanation.got}"
        if _is_typed(explanation.got, got):
            shown = got
    return Libraries(name, explanation.measure, strip, shown, place, answer)


def _is_typed(score: float, got: str) -> bool:
    """Return whether a score is in the field as a number, not in percent or among several."""
    return is_number(got) and float(got) == score


def answer_of(explanation: Any, got: str, names: Mapping[str, str]) -> Answer:
    """Return one of three answers: these conventions; only this; or that it cannot be told."""
    if _is_typed(explanation.got, got):
        # a number does not hold the zeros at the end of what was typed
        subject = got + explanation.subject.removeprefix(explanation.reported)
        explanation = replace(explanation, reported=got, subject=subject)
    headline, *details = [in_words(remark, names) for remark in explanation.remarks()]
    verdict = explanation.answer
    if NO_SIGN.fullmatch(got) and explanation.percent:
        problem = f"{got} is above 1, the highest nDCG. If it is a percentage, write {got}%."
        return Answer(problem, is_fault=True)
    if verdict.kind == "cause":
        headline = f"No convention, but this: {headline}"
    elif verdict.kind == "unknown" and not verdict.fits:
        headline = f"It cannot be told. {headline}"
    return Answer(headline, tuple(details))


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


def explanation_of(given: Mapping[str, Any], got: Any, options: Mapping[str, Any]) -> Any:
    """Return the explanation of a reported score, which is never read from a file of the server."""
    if isinstance(got, str) and "\n" not in got and not ALLOWED.fullmatch(got):
        several = "an nDCG, such as 0.5921, or several, such as 0.31@5,0.283@10"
        raise tables.InputError(f"{tables.mark('got')} must be {several}; got {got[:40]!r}")
    # what no convention sets is part of the question; its usual values go without saying
    known = {}
    for name, word in OTHERS.items():
        (usual,) = option_of(name, word).values()
        if options.get(name, usual) != usual:
            known[name] = options[name]
    if gains_by_label(options):
        known["gain"] = options["gain"]
    if not _has_cutoffs(got):
        known["k"] = largest_cutoff(options["k"])
    return ndcg.explain(**given, **known, got=got)


def _has_cutoffs(got: Any) -> bool:
    if isinstance(got, str):
        return "@" in got
    return isinstance(got, Mapping) and any(str(name).startswith("nDCG") for name in got)
