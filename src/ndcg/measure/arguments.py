"""What the doors take, each said once: the arguments that hold rankings, and the options that a number depends on.

Parsing, signatures, docstrings and the description that `evaluate` shows are made from these tables. The help of the
command line and the fields of the page take their sentences and words from them, and a test compares README and docs.
The room needs no NumPy, so that `ndcg --help` answers at once.
"""

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from .conventions import CONVENTIONS

Door = TypeVar("Door", bound=Callable[..., Any])

WIDTH = 108  # of lines in docstrings


class NamedDiscount(NamedTuple):
    """A discount that has a name: what the gain at rank i is multiplied by.

    Attributes:
        formula: of rank i, with b for the base of the logarithm.
        base_above: what the base must be above; None if the formula has no logarithm.
    """

    formula: str
    base_above: float | None = None


class Option(NamedTuple):
    """An option of `compute`.

    Attributes:
        meaning: what it decides.
        words: that it may be, each with what it stands for.
        besides: what else it may be.
        default: what signatures show; None where a convention chooses, or where nothing is asked for.
        usual: what None stands for, if it is neither of these.
        said_as: its name in the signature of a number; empty if it has none of its own there.
        unsaid: the values that the signature leaves out.
    """

    meaning: str
    words: Mapping[str, str] = {}
    besides: str = ""
    default: Any = None
    usual: Any = None
    said_as: str = ""
    unsaid: tuple[Any, ...] = ()

    @property
    def is_flag(self) -> bool:
        """Whether it is True or False."""
        return isinstance(self.default, bool)


# Besides a row here, a discount is a function of the same name in scoring.py.
DISCOUNTS = {
    "log": NamedDiscount("1 / log_b(i + 1)", base_above=0),
    "reciprocal": NamedDiscount("1 / i"),
    "jarvelin": NamedDiscount("1 / max(1, log_b(i))", base_above=1),
}
GAINS = {"linear": "the relevance r", "exponential": "2^r - 1", "binary": "1 where r > 0"}
MEASURES = ("nDCG", "DCG", "IDCG", "CG")
IDEALS = {
    "judged": "all judged documents",
    "truncated": "as many of these as were retrieved",
    "retrieved": "those retrieved alone",
    "full": "at every rank up to the cutoff one with the highest gain of the query",
}
TIES = {
    "average": "the expectation over all orders of tied documents",
    "first": "the one first in the input ranks first",
    "last": "the one last in the input ranks first",
    "best": "the order that scores highest",
    "worst": "the order that scores lowest",
}
RIGHTLY_EMPTY = "rightly_empty"

OPTIONS: dict[str, Option] = {
    "k": Option("the cutoff, how many ranks count, or a list of cutoffs; `None` (default) for the whole list"),
    "ignore_ties": Option(
        "order documents of equal score, the last in the input first, rather than average over their orders, which is "
        '`ties="last"`',
        default=False,
    ),
    "measures": Option(
        "what to compute, one or several",
        dict.fromkeys(MEASURES, ""),
        'each also with a cutoff of its own, such as `"nDCG@10"`',
        default="nDCG",
    ),
    "convention": Option(
        'whose number to report: `"sklearn"` (default), `"trec_eval"`, `"ranx"`, `"lightgbm"`, ... '
        "(docs/conventions.md lists them). It chooses `gain`, `discount`, `ideal`, `ties`, `zero_division`, "
        "`negative_relevance` and `missing` where you leave them out; the defaults named below are scikit-learn's",
        default="sklearn",
    ),
    "gain": Option(
        "what a document of relevance r is worth",
        GAINS,
        "a list of the gains of label 0, 1, 2, ..., or a function from an array of relevances to their gains",
        said_as="gain",
    ),
    "discount": Option(
        "what the gain at rank i is multiplied by",
        {name: discount.formula for name, discount in DISCOUNTS.items()},
        "a list of the discounts of rank 1, 2, 3, ..., or a function from an array of ranks to their discounts",
        said_as="discount",
        unsaid=("log",),
    ),
    "log_base": Option("base b of the discount's logarithm; default 2", usual=2.0, said_as="log"),
    "ideal": Option("which documents the ideal ranking has", IDEALS, said_as="ideal", unsaid=("judged",)),
    "ties": Option(
        "how documents of equal score are ordered",
        TIES
        | {
            "docid": "descending document ids, as trec_eval has it; lists by position have none, so the last in the "
            "input ranks first; flat inputs with `query_ids` are refused if a tie would decide and `document_ids` are "
            "missing"
        },
        said_as="ties",
    ),
    "zero_division": Option(
        "nDCG of a query with nothing relevant, whose ideal DCG is 0: a number (default 0.0); `nan` leaves such "
        f'queries out of the mean; `"{RIGHTLY_EMPTY}"` is 1 if no judged document has a gain above 0 and nothing was '
        "retrieved, else 0",
        said_as="empty",
    ),
    "negative_relevance": Option(
        "what becomes of a negative relevance",
        {"raise": "an error", "clip": "its gain is 0", "keep": "it counts as it is"},
        said_as="negative",
    ),
    "judged_only": Option(
        "leave out documents that were not judged before ranking; else they keep their ranks, with gain 0",
        default=False,
        said_as="unjudged",
    ),
    "ignore_index": Option(
        "the reference that marks padding, for instance -100; default: none", said_as="ignored", unsaid=(None,)
    ),
    "missing": Option(
        "what a judged query is worth that the predictions lack, by ids or because none of its rows has a score",
        {
            "empty": "nothing was retrieved",
            "skip": "left out of the mean, as trec_eval does without `-c`; so are queries without any document, such "
            "as lists that are padding throughout",
            "raise": "an error",
        },
        said_as="missing",
        unsaid=("empty", "raise"),
    ),
    "use_aggregator": Option(
        "the mean over queries (default) or, if False, a list with one value per query", default=True
    ),
    "engine": Option(
        "what computes",
        {"numpy": "this metric", "sklearn": "`sklearn.metrics.ndcg_score` itself, which knows its own options only"},
        default="numpy",
    ),
}

ARGUMENTS = {
    "predictions": (
        "the score of each document of each query; higher ranks first. Nested lists (ragged too), a 2-D array or "
        "tensor (a masked array too), a list of 1-D arrays, a column of lists (Arrow, datasets, Polars, pandas, "
        "DuckDB), with `query_ids` flat scores, a mapping `{query: {document: score}}`, the path of a file of one, or "
        "for each query a list of document ids, best first. `None`, a masked value or `-inf` marks a document that was "
        "not retrieved: it has no rank, but counts in the ideal."
    ),
    "references": (
        "the relevance of the same documents in the same order, 0 for irrelevant; or a mapping "
        "`{query: {document: relevance}}`, the path of a file of one, or for each query the ids of relevant documents "
        "(a list, a set, or `{id: relevance}`). `None`, a masked value or, by ids, a document that is missing was not "
        "judged: it has a rank, with gain 0, and does not count in the ideal."
    ),
    "sample_weight": "one non-negative weight per query for the mean; default: all equal.",
    "query_ids": "for flat predictions and references, the id of each document's query.",
    "document_ids": (
        'with `query_ids`, the id of each document, for `ties="docid"`; a document that a query has twice is refused.'
    ),
    "data": (
        "a frame of pandas, Polars, Arrow, DuckDB, datasets or Spark; then the arguments that hold rankings or weights "
        "may be names of its columns."
    ),
    "exclude": (
        "documents that take no rank and are in no ideal, such as items seen in training: `{query: ids}`, of ranked "
        "ids a list of ids for each query, a frame whose columns have the names of those of `data`, or a file."
    ),
    "by": (
        "a value per query (text, an integer or a boolean; None for none), such as its language: the queries that "
        "share one are scored as a slice. In the order of the queries, or `{query: value}`."
    ),
}


def default_of(name: str) -> Any:
    """Return the value of an option that is left out.

    >>> default_of("ties"), default_of("log_base"), default_of("k")
    ('average', 2.0, None)
    """
    option = OPTIONS[name]
    return getattr(CONVENTIONS["sklearn"], name, option.default if option.usual is None else option.usual)


def text_of(name: str) -> str:
    """Return what an argument or an option is, in sentences.

    >>> text_of("discount").partition(", a list")[0]
    'what the gain at rank i is multiplied by: `"log"` (default, 1 / log_b(i + 1)), `"reciprocal"` (1 / i), \
`"jarvelin"` (1 / max(1, log_b(i)))'
    """
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    option = OPTIONS[name]
    words = []
    for word, stands_for in option.words.items():
        notes = [note for note in ("default" * (word == default_of(name)), stands_for) if note]
        words.append(f'`"{word}"`' + f" ({'; '.join(notes) if ';' in stands_for else ', '.join(notes)})" * bool(notes))
    listed = ", ".join([*words, *([option.besides] if option.besides else [])])
    flag = f"; default {option.default}" if option.default is False else ""
    return f"{option.meaning}{': ' if listed else ''}{listed}{flag}."


def lines_of(*names: str, indent: str = "    ") -> str:
    """Return a paragraph for each argument or option, as docstrings have them under `Args:`."""
    return "\n".join(
        textwrap.fill(
            f"{name}{' (`bool`)' * (name in OPTIONS and OPTIONS[name].is_flag)}: {text_of(name)}",
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for name in names
    )


def describes_arguments(door: Door) -> Door:
    """Put the text of an argument in the docstring of a function, where a line of it has `name: {name}`."""

    def text(line: re.Match[str]) -> str:
        return lines_of(line[2], indent=line[1])

    door.__doc__ = re.sub(r"^( *)(\w+): \{\2\}$", text, door.__doc__ or "", flags=re.MULTILINE)
    return door
