"""Every argument and option of the public functions, described once.

Parsing, signatures, docstrings and the description that `evaluate` shows are made from these
tables. So are the help of the command line and the labels on the page, and a test compares the
README and docs with them. This module does not import NumPy, so that `ndcg --help` is fast.
"""

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from .conventions import CONVENTIONS

Described = TypeVar("Described", bound=Callable[..., Any])

WIDTH = 108  # the width of lines in docstrings


class NamedDiscount(NamedTuple):
    """A discount that has a name: the factor of the gain at rank i."""

    formula: str  # the discount of rank i, with b for the base of the logarithm
    base_above: float = -math.inf  # a bound that the base must exceed; -inf without a logarithm


class Option(NamedTuple):
    """An option of `compute`."""

    meaning: str  # a phrase on the effect of the option
    words: Mapping[str, str] = {}  # the words it accepts, with their meanings
    others: str = ""  # the other values it accepts
    default: Any = None  # the default in Python; None if the convention chooses the value
    usual: Any = None  # what None means, if no convention sets the option
    said_as: str = ""  # its name in the signature of a score; empty if the signature omits it
    unsaid: tuple[Any, ...] = ()  # the values at which the signature omits it

    @property
    def is_flag(self) -> bool:
        """Whether the option is True or False."""
        return isinstance(self.default, bool)


# The formats that `read_run`, `read_qrels` and the command line may be given.
FILE_FORMATS = ("trec", "csv", "tsv", "json", "jsonl", "parquet", "arrow", "letor")

# What settings of other libraries are called here: hints for errors about unknown options.
OF_LIBRARIES = {
    "label_gain": "LightGBM's label_gain is gain=[0, 1, 3, 7, ...], by label; its default is "
    'gain="exponential"',
    **dict.fromkeys(
        ("exp_gain", "ndcg_exp_gain"),
        'XGBoost\'s ndcg_exp_gain is gain="exponential" if it is true, else gain="linear"',
    ),
    "type": 'CatBoost\'s type=Exp is gain="exponential", and its type=Base is gain="linear"',
    "denominator": 'CatBoost\'s denominator=Position is discount="reciprocal", LogPosition '
    'discount="log"',
    "top": "CatBoost's top is k",
}

# A new discount is a row here and one of DISCOUNT_FUNCTIONS in scoring.py.
DISCOUNTS = {
    "log": NamedDiscount("1 / log_b(i + 1)", base_above=0),
    "reciprocal": NamedDiscount("1 / i"),
    "jarvelin": NamedDiscount("1 / max(1, log_b(i))", base_above=1),
}
GAINS = {"linear": "r", "exponential": "2^r - 1", "binary": "1 if r > 0, else 0"}
MEASURES = ("nDCG", "DCG", "IDCG", "CG")
IDEALS = {
    "judged": "all judged documents",
    "truncated": "the best of these, as many as were retrieved",
    "retrieved": "only retrieved documents",
    "full": "a document with the highest gain of the query at every rank up to the cutoff",
}
TIES = {
    "average": "the expected value over all their orders",
    "first": "the first in the input ranks first",
    "last": "the last in the input ranks first",
    "best": "the order with the highest value",
    "worst": "the order with the lowest value",
}
PERFECT_IF_EMPTY = "perfect_if_empty"

OPTIONS: dict[str, Option] = {
    "k": Option(
        "the cutoff: how many ranks count; a list gives several; `None` (default) for the whole "
        "list"
    ),
    "ignore_ties": Option(
        "rank documents with equal scores by position, the last first, instead of averaging over "
        'their orders: the same as `ties="last"`',
        default=False,
    ),
    "measures": Option(
        "one or several measures to compute",
        dict.fromkeys(MEASURES, ""),
        'a measure may have a cutoff, such as `"nDCG@10"`',
        default="nDCG",
    ),
    "convention": Option(
        "which library's definition of nDCG to use: "
        '`"sklearn"` (default), `"trec_eval"`, `"ranx"`, `"lightgbm"`, ... (docs/conventions.md '
        "lists them). It sets `gain`, `discount`, `ideal`, `score_dtype`, `ties`, `zero_division`, "
        "`negative_relevance` and `missing`, unless you set them; the defaults below are "
        "scikit-learn's",
        default="sklearn",
    ),
    "gain": Option(
        "the gain of a document with relevance r",
        GAINS,
        'the gains of labels, text, numbers or flags, as in `{"relevant": 3, "partially": 1, '
        '"not relevant": 0}` or, for a relevance level of 2, `{0: 0, 1: 0, 2: 1}`; a list of the '
        "gains of label 0, 1, 2, ...; or a function from an array of relevances to their gains",
        said_as="gain",
    ),
    "discount": Option(
        "the factor of the gain at rank i",
        {name: discount.formula for name, discount in DISCOUNTS.items()},
        "a list of the discounts of rank 1, 2, 3, ..., or a function from an array of ranks to "
        "their discounts",
        said_as="discount",
        unsaid=("log",),
    ),
    "log_base": Option(
        "the base b of the discount's logarithm; default 2", usual=2.0, said_as="log"
    ),
    "ideal": Option(
        "the documents in the ideal ranking", IDEALS, said_as="ideal", unsaid=("judged",)
    ),
    "score_dtype": Option(
        "the type in which scores are compared",
        {
            "given": "the type in which they are given",
            "float32": "32-bit floats, in which close scores are tied, as in pytrec_eval, XGBoost "
            "and TorchMetrics",
        },
        said_as="scores",
        unsaid=("given",),
    ),
    "score_order": Option(
        "which scores rank first",
        {
            "descending": "the highest, as of similarities",
            "ascending": "the lowest, as of distances, losses and ranks; `inf`, not `-inf`, marks "
            "a document that was not retrieved",
        },
        usual="descending",
        said_as="order",
        unsaid=("descending",),
    ),
    "ties": Option(
        "the order of documents with equal scores",
        TIES
        | {
            "docid": "descending document ids, as in trec_eval; lists without ids are ranked as by "
            "`last`; flat inputs with `query_ids` are rejected if a tie matters and `document_ids` "
            "are missing"
        },
        said_as="ties",
    ),
    "zero_division": Option(
        "the nDCG of a query with no relevant documents (its ideal DCG is 0): a value (default "
        "0.0); `nan` excludes such queries from the mean; "
        f'`"{PERFECT_IF_EMPTY}"` gives 1 if no judged document has a gain above 0 and nothing was '
        "retrieved, else 0",
        said_as="empty",
    ),
    "negative_relevance": Option(
        "how to treat a negative relevance",
        {"raise": "an error", "clip": "gain 0", "keep": "used as it is"},
        said_as="negative",
    ),
    "judged_only": Option(
        "remove unjudged documents, before ranking; otherwise they keep their ranks and have gain "
        "0",
        default=False,
        said_as="unjudged",
    ),
    "duplicates": Option(
        "how to treat a document that a run lists several times for a query, such as by its chunks",
        {"raise": "an error", "best": "it counts once, at its best rank"},
        default="raise",
        said_as="duplicates",
        unsaid=("raise",),
    ),
    "exclude_from": Option(
        "where the documents in `exclude` are removed",
        {
            "both": "from rankings and ideals",
            "run": "from rankings only, so that judged ones count in the ideal, as in BEIR",
        },
        default="both",
        said_as="excluded_from",
        unsaid=("both",),
    ),
    "ignore_index": Option(
        "the reference that marks padding, for example -100; default: none",
        said_as="ignored",
        unsaid=(None,),
    ),
    "missing": Option(
        "how to score a judged query that is missing from the predictions, or that has documents "
        "but no scores in them (an empty list of ids is not missing)",
        {
            "empty": "as if nothing was retrieved",
            "skip": "excluded from the mean, as in trec_eval without `-c`; so are queries with no "
            "documents on either side, such as fully padded lists",
            "raise": "an error",
        },
        said_as="missing",
        unsaid=("empty", "raise"),
    ),
    "use_aggregator": Option(
        "the mean over queries (default), or with False a list of the values of queries",
        default=True,
    ),
    "engine": Option(
        "the implementation",
        {
            "numpy": "this metric",
            "sklearn": "`sklearn.metrics.ndcg_score` itself, which has fewer options",
        },
        default="numpy",
    ),
}

ARGUMENTS = {
    "predictions": (
        "the scores of documents by query; higher scores rank first. Nested lists (ragged "
        "too), a 2-D array or tensor (masked arrays too), a list of 1-D arrays, a column of lists "
        "(Arrow, datasets, Polars, pandas, DuckDB), flat scores with `query_ids`, a mapping "
        "`{query: {document: score}}`, the path of a run file, or a list of document ids per "
        "query, best first, also as `{query: ids}`. `None`, a masked value or `-inf` marks a "
        "document that was not retrieved: it has no rank, but counts in the ideal. The measure "
        "IDCG needs no predictions."
    ),
    "references": (
        "the relevance of the same documents in the same order, 0 for irrelevant; or a mapping "
        "`{query: {document: relevance}}`, the path of a qrels file, or the ids of the relevant "
        "documents of every query (a list, a set, or `{id: relevance}`; also by query). `None`, a "
        "masked value or a missing id marks a document that was not judged: it has a rank, with "
        "gain 0, and does not count in the ideal."
    ),
    "sample_weight": (
        "the weights of queries in the mean, not negative, in the order of the references, or by "
        "query: `{query: weight}` or a pandas Series with the ids of queries in its index; by "
        "default all queries count the same."
    ),
    "query_ids": "the queries of the documents, for flat predictions and references.",
    "document_ids": (
        'the ids of the documents, next to `query_ids`, for `ties="docid"`; a query may have a '
        "document only once."
    ),
    "data": (
        "a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation or a Hugging Face "
        "Dataset; the arguments that hold rankings or weights may then be names of its columns."
    ),
    "exclude": (
        "documents to remove from rankings and ideals, such as items that a user has already seen: "
        "`{query: ids}`, a list of ids per query if predictions are ids, a DataFrame whose id "
        "columns have standard names, or those of `data`, or the path of a file. With "
        '`exclude_from="run"`, judged ones stay in the ideals.'
    ),
    "fields": (
        'the names of fields and columns of tables, records, hits and files: `{"query": ..., '
        '"document": ..., "score": ..., "relevance": ...}`; a name, a pair of names (in the '
        "predictions, in the references), or `None` if there is none: without scores the order "
        "counts, without relevances every document is relevant. Names that are known need not be "
        "given (docs/inputs.md lists them)."
    ),
    "by": (
        "the slices of queries (text, an integer or a boolean; None for none), such as their "
        "language: queries with the same value are also scored as a slice. In the order of the "
        "queries, or by query, as `sample_weight`; with `data`, the name of its column, or of "
        "several, whose values are joined."
    ),
}


def default_of(name: str) -> Any:
    """Return the value of an option that is not set."""
    option = OPTIONS[name]
    return getattr(
        CONVENTIONS["sklearn"], name, option.default if option.usual is None else option.usual
    )


def numbers_in(text: str) -> list[float] | str:
    """Return the numbers of text such as "1,0.5", or a name as it is."""
    try:
        return list(map(float, text.split(",")))
    except ValueError:
        return text


def number_in(text: str) -> float | str:
    """Return the number that text is, or a name as it is."""
    try:
        return float(text)
    except ValueError:
        return text


def gain_in(text: str) -> dict[str, float | str] | list[float] | str:
    """Return the gains that text in the shell or on the page gives: by label, a list, or a name.

    >>> gain_in("relevant=3,not relevant=0"), gain_in("0,1,3"), gain_in("linear")
    ({'relevant': 3.0, 'not relevant': 0.0}, [0.0, 1.0, 3.0], 'linear')
    """
    pairs = [part.rpartition("=") for part in text.split(",")]
    if not any(equals for _, equals, _ in pairs):
        return numbers_in(text)
    return {label: number_in(gain) for label, _, gain in pairs}


def text_of_gain(gains: Mapping[Any, Any]) -> str:
    """Return the gain of every label as `gain_in` reads it.

    >>> text_of_gain({"relevant": 3, "not relevant": "..."})
    'relevant=3,not relevant=...'
    """
    return ",".join(f"{label}={gain}" for label, gain in gains.items())


def text_of(name: str) -> str:
    """Return the description of an argument or an option."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    option = OPTIONS[name]
    values = []
    for word, meaning in option.words.items():
        notes = []
        if word == default_of(name):
            notes.append("default")
        if meaning:
            notes.append(meaning)
        separator = ", "
        if ";" in meaning:  # which has commas
            separator = "; "
        text = f'`"{word}"`'
        if notes:
            text += f" ({separator.join(notes)})"
        values.append(text)
    if option.others:
        values.append(option.others)
    text = option.meaning
    if values:
        text += f": {', '.join(values)}"
    if option.default is False:
        text += f"; default {option.default}"
    return f"{text}."


def lines_of(*names: str, indent: str = "    ") -> str:
    """Return a paragraph for every argument or option, for the section `Args:` of a docstring."""
    paragraphs = []
    for name in names:
        title = name
        if name in OPTIONS and OPTIONS[name].is_flag:
            title += " (`bool`)"
        paragraph = textwrap.fill(
            f"{title}: {text_of(name)}",
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        paragraphs.append(paragraph)
    return "\n".join(paragraphs)


def describes_arguments(function: Described) -> Described:
    """Replace every line `name: {name}` in a function's docstring with the description of it."""

    def text(line: re.Match[str]) -> str:
        return lines_of(line[2], indent=line[1])

    function.__doc__ = re.sub(
        r"^( *)(\w+): \{\2\}$", text, function.__doc__ or "", flags=re.MULTILINE
    )
    return function
