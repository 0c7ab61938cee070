"""The modules of ndcg/ in one file, for `evaluate.load`; `make bundle` writes it: read and edit the package."""
import ast
import csv
import datetime
import difflib
import errno
import hashlib
import html
import inspect
import io
import json
import math
import mmap
import numpy as np
import os
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import re
import reprlib
import shlex
import signal
import sys
import tempfile
import textwrap
import threading
import time
import warnings
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC
from decimal import Decimal, InvalidOperation
from filelock import FileLock, Timeout
from functools import cache, cached_property, lru_cache, partial, reduce
from importlib import import_module
from itertools import chain, combinations, compress, count, cycle, filterfalse, groupby, islice, pairwise, permutations, product, repeat
from numbers import Integral, Number, Real
from numpy.typing import NDArray
from operator import attrgetter
from pathlib import Path
from types import NoneType, SimpleNamespace
from typing import Any, BinaryIO, Generic, Literal, NamedTuple, SupportsIndex, TYPE_CHECKING, TypeVar, TypedDict, Unpack
from uuid import uuid4

if TYPE_CHECKING:
    from torch import Tensor


# ndcg/measure/conventions.py: The definition of nDCG in each library, as data.

# The options that a convention sets. `log_base` is not one. It scales every DCG, so nDCG, a ratio of two, is unchanged.
# Only with "jarvelin" would it change nDCG, and there the libraries use 2.
CHOICES = ("gain", "discount", "ideal", "score_dtype", "ties", "zero_division", "negative_relevance", "missing")


class Convention(NamedTuple):
    """The definition of nDCG in a library.

    Attributes:
        library: the library and its function, as people call them.
        meaning: one sentence on the effect of its options.
        gain: the gain, with the same values as in ``compute``, like the following options.
        discount: the discount.
        ideal: the documents in the ideal ranking.
        score_dtype: the type in which scores are compared.
        ties: the order of documents with equal scores.
        zero_division: the nDCG of a query with no relevant documents; nan excludes it from the mean.
        negative_relevance: how a negative relevance is treated.
        missing: how a judged query that is missing from the run is treated.
        quirks: behavior that the options cannot express.
    """

    library: str
    meaning: str
    gain: str = "linear"
    discount: str = "log"
    ideal: str = "judged"
    score_dtype: str = "given"
    ties: str = "average"
    zero_division: float | str = 0.0
    negative_relevance: str = "raise"
    missing: str = "empty"
    quirks: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``compute`` that it sets.

        >>> CONVENTIONS["lightgbm"].options  # doctest: +NORMALIZE_WHITESPACE
        {'gain': 'exponential', 'discount': 'log', 'ideal': 'judged', 'score_dtype': 'given', 'ties': 'first',
         'zero_division': 1.0, 'negative_relevance': 'raise', 'missing': 'empty'}
        """
        return {name: getattr(self, name) for name in CHOICES}


CONVENTIONS: dict[str, Convention] = {
    "sklearn": Convention(
        "scikit-learn `ndcg_score`",
        "Tied documents share their ranks, so the order of the input does not matter. A query with no relevant "
        "documents lowers the mean.",
        quirks="It rejects queries with one document, and `ignore_ties=True` orders ties in no fixed way. A query with "
        "no relevant documents counts as 0 up to version 1.9. A later version may skip it (`zero_division=nan`).",
    ),
    "trec_eval": Convention(
        "trec_eval `-c` `ndcg`, `ndcg_cut` (ir_measures)",
        "Tied documents are ordered by their ids, the highest first: an arbitrary order, but the same for everyone.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        quirks="Up to version 9.0.8 scores are stored as 32-bit floats. From version 10.0 on they are 64-bit floats "
        '(`score_dtype="given"`). With `-c`, queries that are missing from the run count as 0. Without it they are '
        'skipped (`missing="skip"`), and version 10.0 fails.',
    ),
    "pytrec_eval": Convention(
        "pytrec_eval `ndcg`, `ndcg_cut`, averaged over the queries that it returns",
        "As in trec_eval, but queries that are missing from the run are skipped, so a run with only the easy queries "
        "has a high score.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="A query without judged documents (`{}`) is not in its result: leave it out of the references.",
    ),
    "beir": Convention(
        "BEIR `EvaluateRetrieval.evaluate`",
        "pytrec_eval's score, rounded to five digits.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="A document with the same id as the query is dropped from the run, not from the qrels: use "
        '`exclude={query: [query] for query in run}` with `exclude_from="run"`.',
    ),
    "mteb": Convention(
        "MTEB retrieval tasks, `ndcg_at_k`",
        "pytrec_eval's score, rounded to five digits.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="Tasks with `ignore_identical_ids` drop a document with the same id as the query, as in BEIR.",
    ),
    "gdeval": Convention(
        "gdeval.pl `ndcg@k` of TREC's web tracks",
        "trec_eval's order of ties, with exponential gain. Queries with no relevant documents are skipped, and so are "
        "queries that are missing from the run.",
        gain="exponential",
        ties="docid",
        zero_division=math.nan,
        negative_relevance="clip",
        missing="skip",
        quirks="It prints five digits, and rejects a relevance above 4.",
    ),
    "ranx": Convention(
        "ranx `ndcg`",
        "Tied documents stay in the order of the run, so it depends on the program that wrote the run.",
        ties="first",
        negative_relevance="clip",
        quirks="A relevance counts as its integer part. Lists of 16 or more documents are sorted with an unstable "
        "algorithm, so their ties are in no fixed order.",
    ),
    "ranx_burges": Convention(
        "ranx `ndcg_burges`",
        "The gain is exponential, so highly relevant documents count far more than the others.",
        gain="exponential",
        ties="first",
        negative_relevance="clip",
        quirks="Otherwise the same as ranx `ndcg`.",
    ),
    "torchmetrics": Convention(
        "TorchMetrics `RetrievalNormalizedDCG`",
        "scikit-learn's definition, with an option for queries with no relevant documents: `empty_target_action` "
        '`"neg"` is `zero_division=0` (the default), `"pos"` is 1, and `"skip"` is nan.',
        score_dtype="float32",
        negative_relevance="keep",
        quirks="It computes in 32-bit floats. A query with relevance values that add up to 0 counts as having no "
        "relevant documents. If the ideal DCG is negative, it divides by it.",
    ),
    "ignite": Convention(
        "PyTorch-Ignite `NDCG`",
        "Queries with no relevant documents are skipped, so the mean covers fewer queries than the data.",
        gain="exponential",
        ties="first",
        zero_division=math.nan,
        negative_relevance="clip",
        quirks="A relevance below 1 counts as 0. It computes in 32-bit floats, but compares scores as given.",
    ),
    "rax": Convention(
        "Rax `ndcg_metric`",
        "The gain is exponential, and tied documents stay in the order of the input.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        negative_relevance="keep",
        missing="skip",
        quirks="It computes in 32-bit floats. With `jax_enable_x64` it compares scores as given "
        '(`score_dtype="given"`). If the ideal DCG is negative, it divides by it. Fully masked lists are skipped '
        '(`missing="skip"`).',
    ),
    "lightgbm": Convention(
        "LightGBM `ndcg`",
        "A query with no relevant documents counts as perfect, so many such queries raise the mean.",
        gain="exponential",
        ties="first",
        zero_division=1.0,
        quirks="Labels are the integers 0 to 30; `label_gain=[0, 1, 3]` is `gain=[0, 1, 3]`.",
    ),
    "xgboost": Convention(
        "XGBoost `ndcg`",
        "As in LightGBM, a query with no relevant documents counts as perfect; `ndcg@10-` is `zero_division=0`.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        zero_division=1.0,
        quirks="`ndcg` without a cutoff may stop at rank 32, the number of pairs that its ranking objectives sample by "
        'default: set `k=32`. `ndcg_exp_gain=False` is `gain="linear"`.',
    ),
    "tf_ranking": Convention(
        "TensorFlow Ranking `NDCGMetric`",
        "The gain is exponential, and tied documents are in random order; the mean over all orders is its expectation.",
        gain="exponential",
        score_dtype="float32",
        missing="skip",
        quirks="It computes in 32-bit floats. A label below 0 is padding: pass it as `ignore_index`. Lists that are "
        'all padding are skipped (`missing="skip"`).',
    ),
    "allrank": Convention(
        "allRank `ndcg`",
        "A query with no relevant documents counts as perfect, so many such queries raise the mean.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        zero_division=1.0,
        quirks="A label of -1 is padding: set `ignore_index=-1`. Its models score in 32-bit floats, in which it "
        'computes; a tensor of 64-bit floats is compared as given (`score_dtype="given"`). Lists of more than 16 '
        "documents are sorted with an unstable algorithm, so their ties are in no fixed order.",
    ),
    "catboost": Convention(
        "CatBoost `NDCG`",
        "The least relevant of several tied documents ranks first, so ties never help. A query with no relevant "
        "documents counts as perfect.",
        ties="worst",
        zero_division=1.0,
        negative_relevance="keep",
        quirks='`type=Exp` is `gain="exponential"`, `denominator=Position` is `discount="reciprocal"`. Relevance is '
        "stored as 32-bit floats.",
    ),
    "sentence_transformers": Convention(
        "sentence-transformers `InformationRetrievalEvaluator`",
        "Relevance is binary, and queries with no relevant documents are skipped.",
        gain="binary",
        ties="first",
        zero_division=math.nan,
        negative_relevance="clip",
        quirks="From version 6 on, tied documents rank by ascending id: list them in that order. It scores rerankers "
        "with scikit-learn.",
    ),
    "spark": Convention(
        "Spark `RankingMetrics.ndcgAt`",
        "Relevance is binary. The input is ranked ids, so their order has already resolved the ties.",
        gain="binary",
        ties="first",
        negative_relevance="clip",
        quirks="PySpark accepts relevance values as a third column, but they do not change the score. With relevance "
        "values in Scala, the gain is exponential, and the ideal is the order in which relevant documents are listed.",
    ),
    "elasticsearch": Convention(
        "Elasticsearch `_rank_eval` `dcg` with `normalize`",
        "The gain is exponential, over the hits in the engine's order.",
        gain="exponential",
        ideal="truncated",
        ties="first",
        quirks="Unjudged documents have gain 0, or the gain of `unknown_doc_rating`.",
    ),
    "mlflow": Convention(
        "MLflow `ndcg_at_k`",
        "The ideal is no longer than the result list, so a short result list scores higher. An empty list for a query "
        "with no relevant documents is perfect.",
        gain="binary",
        ideal="truncated",
        ties="first",
        zero_division="perfect_if_empty",
        quirks="A duplicate document counts twice, as two documents.",
    ),
    "haystack": Convention(
        "Haystack `DocumentNDCGEvaluator`",
        "The gains are the scores of the expected documents; the retrieved documents set the order.",
        ties="first",
        negative_relevance="keep",
        quirks="There is no cutoff: all retrieved documents count.",
    ),
    "llama_index": Convention(
        "LlamaIndex `NDCG`",
        "Relevance is binary (expected or not), and all retrieved documents count.",
        gain="binary",
        ties="first",
        quirks="It has no cutoff: do not set `k`. It rejects a query with no expected or no retrieved documents.",
    ),
    "lenskit": Convention(
        "LensKit `NDCG`",
        "It uses the original discount, which is the same for the first two ranks. Users without recommendations are "
        "skipped.",
        gain="binary",
        discount="jarvelin",
        ties="first",
        missing="skip",
        quirks="A user without test items has no nDCG, and `RunAnalysis` counts it as 0. "
        '`gain="rating"` is `gain="linear"`; without it, an item rated 0 also counts as relevant.',
    ),
    "recommenders": Convention(
        "Recommenders `ndcg_at_k`",
        "Relevance is binary: every rated item is relevant. Users without rated items are skipped.",
        gain="binary",
        ties="first",
        zero_division=math.nan,
        quirks='`score_type="raw"` is `gain="linear"`, `"exp"` is `"exponential"`. The base of its logarithm does not '
        "matter. An item rated 0 also counts as relevant.",
    ),
    "recbole": Convention(
        "RecBole `NDCG`",
        "Relevance is binary.",
        gain="binary",
        ties="first",
        quirks="It receives the best k of all items, so every user has k of them. Version 1.2.1 uses `np.float`, which "
        "NumPy 1.24 removed.",
    ),
    "cornac": Convention(
        "Cornac `NDCG`",
        "Relevance is binary, and users without relevant items are skipped.",
        gain="binary",
        ties="first",
        zero_division=math.nan,
    ),
    "rectools": Convention(
        "RecTools `NDCG`",
        "The ideal has k relevant items even if there are fewer, so few users can reach 1. Users without relevant "
        "items are skipped.",
        gain="binary",
        ideal="full",
        ties="first",
        zero_division=math.nan,
        quirks='`divide_by_achievable=True` is `ideal="judged"`.',
    ),
    "evidently": Convention(
        "Evidently `NDCG`",
        "Users without relevant items are skipped.",
        zero_division=math.nan,
        negative_relevance="keep",
        quirks="Tied items share the same rank, the mean of their ranks rounded down, which no order of ties gives.",
    ),
}


def convention_table(values: Mapping[str, float]) -> str:
    """Return a Markdown table of the options that each convention sets, and its nDCG of one example."""
    heads = ("gain", "discount", "ideal", "scores", "ties", "no relevant documents", "negative", "missing")
    lines = [f"| `convention=` | library | nDCG | {' | '.join(heads)} |", "|---" * (3 + len(heads)) + "|"]
    for name, value in values.items():
        chosen = {**CONVENTIONS[name].options, "zero_division": empty_text(CONVENTIONS[name].zero_division)}
        settings = " | ".join(chosen.values())
        lines.append(f'| `"{name}"` | {CONVENTIONS[name].library} | {value:.4f} | {settings} |')
    return "\n".join(lines)


def empty_text(zero_division: float | str) -> str:
    """Return in words the nDCG of a query with no relevant documents.

    >>> empty_text(math.nan), empty_text(1.0), empty_text("perfect_if_empty")
    ('skipped', '1', '1 if nothing was retrieved, else 0')
    """
    if isinstance(zero_division, str):
        return "1 if nothing was retrieved, else 0"
    return "skipped" if math.isnan(zero_division) else f"{zero_division:g}"


def convention_notes() -> str:
    """Return a Markdown list with the meaning and the quirks of each convention."""
    return "\n".join(
        f'- `"{name}"`: {each.meaning}' + f" {each.quirks}" * bool(each.quirks) for name, each in CONVENTIONS.items()
    )


# ndcg/measure/arguments.py: Every argument and option of the public functions, described once.

Described = TypeVar("Described", bound=Callable[..., Any])

WIDTH = 108  # the width of lines in docstrings


class NamedDiscount(NamedTuple):
    """A discount that has a name: the factor of the gain at rank i."""

    formula: str  # the discount of rank i, with b for the base of the logarithm
    base_above: float | None = None  # a bound that the base must exceed; None if the formula has no logarithm


class Option(NamedTuple):
    """An option of `compute`."""

    meaning: str  # a phrase on the effect of the option
    words: Mapping[str, str] = {}  # the words it accepts, each with its meaning
    others: str = ""  # the other values it accepts
    default: Any = None  # the default in Python; None if the convention chooses the value
    usual: Any = None  # what None means, if no convention sets the option
    said_as: str = ""  # its name in the signature of a score; empty if the signature omits it
    unsaid: tuple[Any, ...] = ()  # the values at which the signature omits it

    @property
    def is_flag(self) -> bool:
        """Whether the option is True or False."""
        return isinstance(self.default, bool)


# What settings of other libraries are called here: hints for errors about unknown options.
OF_LIBRARIES = {
    "label_gain": 'LightGBM\'s label_gain is gain=[0, 1, 3, 7, ...], by label; its default is gain="exponential"',
    **dict.fromkeys(
        ("exp_gain", "ndcg_exp_gain"),
        'XGBoost\'s ndcg_exp_gain is gain="exponential" if it is true, else gain="linear"',
    ),
    "type": 'CatBoost\'s type=Exp is gain="exponential", and its type=Base is gain="linear"',
    "denominator": 'CatBoost\'s denominator=Position is discount="reciprocal", LogPosition discount="log"',
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
    "k": Option("the cutoff: how many ranks count; a list gives several; `None` (default) for the whole list"),
    "ignore_ties": Option(
        "rank documents with equal scores by position, the last first, instead of averaging over their orders: the "
        'same as `ties="last"`',
        default=False,
    ),
    "measures": Option(
        "one or several measures to compute",
        dict.fromkeys(MEASURES, ""),
        'each may have its own cutoff, such as `"nDCG@10"`',
        default="nDCG",
    ),
    "convention": Option(
        'which library\'s definition of nDCG to use: `"sklearn"` (default), `"trec_eval"`, `"ranx"`, `"lightgbm"`, ... '
        "(docs/conventions.md lists them). It sets `gain`, `discount`, `ideal`, `score_dtype`, `ties`, "
        "`zero_division`, `negative_relevance` and `missing`, unless you set them; the defaults below are "
        "scikit-learn's",
        default="sklearn",
    ),
    "gain": Option(
        "the gain of a document with relevance r",
        GAINS,
        "the gain of each label, text, a number or a flag, as in "
        '`{"relevant": 3, "partially": 1, "not relevant": 0}` or, for a relevance level of 2, `{0: 0, 1: 0, 2: 1}`; a '
        "list of the gains of label 0, 1, 2, ...; or a function from an array of relevances to their gains",
        said_as="gain",
    ),
    "discount": Option(
        "the factor of the gain at rank i",
        {name: discount.formula for name, discount in DISCOUNTS.items()},
        "a list of the discounts of rank 1, 2, 3, ..., or a function from an array of ranks to their discounts",
        said_as="discount",
        unsaid=("log",),
    ),
    "log_base": Option("the base b of the discount's logarithm; default 2", usual=2.0, said_as="log"),
    "ideal": Option("the documents in the ideal ranking", IDEALS, said_as="ideal", unsaid=("judged",)),
    "score_dtype": Option(
        "the type in which scores are compared",
        {
            "given": "the type in which they are given",
            "float32": "32-bit floats, in which close scores are tied, as in pytrec_eval, XGBoost and TorchMetrics",
        },
        said_as="scores",
        unsaid=("given",),
    ),
    "score_order": Option(
        "which scores rank first",
        {
            "descending": "the highest, as of similarities",
            "ascending": "the lowest, as of distances, losses and ranks; `inf`, not `-inf`, marks a document that was "
            "not retrieved",
        },
        usual="descending",
        said_as="order",
        unsaid=("descending",),
    ),
    "ties": Option(
        "the order of documents with equal scores",
        TIES
        | {
            "docid": "descending document ids, as in trec_eval; lists without ids are ranked as by `last`; flat inputs "
            "with `query_ids` are rejected if a tie matters and `document_ids` are missing"
        },
        said_as="ties",
    ),
    "zero_division": Option(
        "the nDCG of a query with no relevant documents (its ideal DCG is 0): a value (default 0.0); `nan` excludes "
        f'such queries from the mean; `"{PERFECT_IF_EMPTY}"` gives 1 if no judged document has a gain above 0 and '
        "nothing was retrieved, else 0",
        said_as="empty",
    ),
    "negative_relevance": Option(
        "how to treat a negative relevance",
        {"raise": "an error", "clip": "gain 0", "keep": "used as it is"},
        said_as="negative",
    ),
    "judged_only": Option(
        "remove unjudged documents, before ranking; otherwise they keep their ranks and have gain 0",
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
            "run": "from rankings only, so that those that are judged count in the ideal, as in BEIR",
        },
        default="both",
        said_as="excluded_from",
        unsaid=("both",),
    ),
    "ignore_index": Option(
        "the reference that marks padding, for example -100; default: none", said_as="ignored", unsaid=(None,)
    ),
    "missing": Option(
        "how to score a judged query that is missing from the predictions, or that has documents but no scores in them "
        "(an empty list of ids is not missing)",
        {
            "empty": "as if nothing was retrieved",
            "skip": "excluded from the mean, as in trec_eval without `-c`; so are queries with no documents on either "
            "side, such as fully padded lists",
            "raise": "an error",
        },
        said_as="missing",
        unsaid=("empty", "raise"),
    ),
    "use_aggregator": Option(
        "the mean over queries (default), or with False a list of the value of each query", default=True
    ),
    "engine": Option(
        "the implementation",
        {"numpy": "this metric", "sklearn": "`sklearn.metrics.ndcg_score` itself, which has only its own options"},
        default="numpy",
    ),
}

ARGUMENTS = {
    "predictions": (
        "the score of each document of each query; higher scores rank first. Nested lists (ragged too), a 2-D array or "
        "tensor (masked arrays too), a list of 1-D arrays, a column of lists (Arrow, datasets, Polars, pandas, "
        "DuckDB), flat scores with `query_ids`, a mapping `{query: {document: score}}`, the path of a run file, or a "
        "list of document ids for each query, best first, also as `{query: ids}`. `None`, a masked value or `-inf` "
        "marks a document that was not retrieved: it has no rank, but counts in the ideal. The measure IDCG needs no "
        "predictions."
    ),
    "references": (
        "the relevance of the same documents in the same order, 0 for irrelevant; or a mapping "
        "`{query: {document: relevance}}`, the path of a qrels file, or the ids of the relevant documents of each "
        "query (a list, a set, or `{id: relevance}`; also by query). `None`, a masked value or a missing id marks a "
        "document that was not judged: it has a rank, with gain 0, and does not count in the ideal."
    ),
    "sample_weight": (
        "the weight of each query in the mean, not negative, in the order of the references, or by query: "
        "`{query: weight}` or a pandas Series with the ids of queries in its index; by default all queries count the "
        "same."
    ),
    "query_ids": "the query of each document, for flat predictions and references.",
    "document_ids": (
        'the id of each document, next to `query_ids`, for `ties="docid"`; a query may have each document only once.'
    ),
    "data": (
        "a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation or a Hugging Face Dataset; the "
        "arguments that hold rankings or weights may then be names of its columns."
    ),
    "exclude": (
        "documents to remove from rankings and ideals, such as items that a user has already seen: `{query: ids}`, a "
        "list of ids for each query if predictions are ids, a DataFrame in which the id columns have the same names as "
        'in `data`, or the path of a file. With `exclude_from="run"`, those that are judged stay in the ideals.'
    ),
    "fields": (
        'the names of fields and columns of tables, records, hits and files: `{"query": ..., "document": ..., '
        '"score": ..., "relevance": ...}`, each a name, a pair of names (in the predictions, in the references), or '
        "`None` if there is none: without scores the order counts, without relevances each document is relevant. Names "
        "that are known need not be given (docs/inputs.md lists them)."
    ),
    "by": (
        "the slice of each query (text, an integer or a boolean; None for none), such as its language: queries with "
        "the same value are also scored as a slice. In the order of the queries, or by query, as `sample_weight`; with "
        "`data`, the name of its column, or of several, whose values are joined."
    ),
}


def default_of(name: str) -> Any:
    """Return the value of an option that is not set."""
    option = OPTIONS[name]
    return getattr(CONVENTIONS["sklearn"], name, option.default if option.usual is None else option.usual)


def numbers_in(text: str) -> list[float] | str:
    """Return the numbers of text such as "1,0.5", or a name as it is."""
    try:
        return list(map(float, text.split(",")))
    except ValueError:
        return text


def number_in(text: str) -> float | str:
    """Return the number that text is, or a name as it is."""
    numbers = numbers_in(text)
    return numbers[0] if isinstance(numbers, list) and len(numbers) == 1 else text


def gain_in(text: str) -> dict[str, float | str] | list[float] | str:
    """Return the gain of each label, the gains of labels 0, 1, 2, ..., or a name, as the shell and the page write them.

    >>> gain_in("relevant=3,not relevant=0"), gain_in("0,1,3"), gain_in("linear")
    ({'relevant': 3.0, 'not relevant': 0.0}, [0.0, 1.0, 3.0], 'linear')
    """
    pairs = [each.rpartition("=") for each in text.split(",")]
    if not any(equals for _, equals, _ in pairs):
        return numbers_in(text)
    return {label: number_in(gain) for label, _, gain in pairs}


def text_of_gain(gains: Mapping[Any, Any]) -> str:
    """Return the gain of each label as `gain_in` reads it.

    >>> text_of_gain({"relevant": 3, "not relevant": "..."})
    'relevant=3,not relevant=...'
    """
    return ",".join(f"{label}={gain}" for label, gain in gains.items())


def text_of(name: str) -> str:
    """Return the description of an argument or an option."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    option = OPTIONS[name]
    words = []
    for word, stands_for in option.words.items():
        notes = [note for note in ("default" * (word == default_of(name)), stands_for) if note]
        words.append(f'`"{word}"`' + f" ({'; '.join(notes) if ';' in stands_for else ', '.join(notes)})" * bool(notes))
    listed = ", ".join([*words, *([option.others] if option.others else [])])
    flag = f"; default {option.default}" if option.default is False else ""
    return f"{option.meaning}{': ' if listed else ''}{listed}{flag}."


def lines_of(*names: str, indent: str = "    ") -> str:
    """Return a paragraph for each argument or option, formatted for the section `Args:` of a docstring."""
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


def describes_arguments(function: Described) -> Described:
    """Replace each line `name: {name}` in a function's docstring with the description of that argument."""

    def text(line: re.Match[str]) -> str:
        return lines_of(line[2], indent=line[1])

    function.__doc__ = re.sub(r"^( *)(\w+): \{\2\}$", text, function.__doc__ or "", flags=re.MULTILINE)
    return function


# ndcg/measure/messages.py: Format values, and the errors of other libraries, for error messages.

_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 102  # 100 characters in quotes


def shown(value: Any) -> str:
    """Return a value as error messages show it: on one line, and shortened if it is long.

    >>> shown("d1"), shown([*range(9)])
    ("'d1'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        text = _BRIEF.repr(value)
    except ValueError:  # Python refuses to print integers with too many digits
        text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else type(value).__name__
    return " ".join(text.splitlines())


def brief(names: Iterable[str], separator: str) -> str:
    """Join names, as many as a message has room for."""
    names = list(names)
    return separator.join(names[:9]) + (f"{separator}…" if len(names) > 9 else "")


Words = Callable[..., str]  # how an entry point writes a mark: of its text in Python, the name, and the values
_MARK = re.compile("\x0e(.*?)\x1f(.*?)\x0f", re.DOTALL)


def mark(name: str, *values: Any, said: str = "", before: str = "", after: str = "") -> str:
    """Mark an option or an argument in a message, with the values that it may have there.

    Each entry point writes marks in its own way by `worded`; Python writes them as in a call, or as `said`. The text
    before and after goes with the mark, which is left out where an entry point has no words for it.
    """
    if _MARK.search(name):
        return name
    texts = (f'"{each}"' if isinstance(each, str) else repr(each) for each in values)
    said = said or (f"{name}={' or '.join(texts)}" if values else name)
    return f"\x0e{visible(said)}\x1f{json.dumps([before, after, name, *values], default=shown)}\x0f"


def of_file(path: str) -> str:
    """Return the path of a file as a place; entry points may write it otherwise."""
    return mark("path", path, said=path)


def worded(message: Any, words: Words = lambda said, *_: said) -> str:
    """Return an error, a warning or a note with its marks as an entry point writes them, as in Python by default.

    >>> worded(f"{mark('k')} must be positive, or give {mark('ties', 'last')}")
    'k must be positive, or give ties="last"'
    """

    def write(found: re.Match[str]) -> str:
        before, after, *name_and_values = json.loads(found[2])
        text = words(found[1], *name_and_values)
        return f"{before}{text}{after}" if text else ""

    return _MARK.sub(write, marked(message))


def marked(message: Any) -> str:
    """Return the text of an error, a warning or a note with its marks."""
    return str(getattr(message, "marked", message))


def renamed(names: Mapping[str, str]) -> Words:
    """Return the words of Python with other names of arguments; one without a name is left out."""
    return lambda said, name, *_: names[name] and names[name] + said[len(name) :] if name in names else said


class Message(str):
    """A warning or a note in the words of Python, which other entry points can word by its marks."""

    marked: str

    def __new__(cls, text: str) -> "Message":
        """Keep the text with its marks, beside the words of Python."""
        message = super().__new__(cls, worded(text))
        message.marked = marked(text)
        return message


class InputError(ValueError):
    """An error about an input: what is wrong, in which argument, and where there.

    The places lead from the argument, or a file, to a query; with a position, the document there is meant.

    >>> print(InputError("the hit has no id", "references", "query 'q1'", position=3))
    references: query 'q1', position 3: the hit has no id
    """

    def __init__(self, problem: str, *places: str, position: int | None = None, hint: str = "") -> None:
        super().__init__(worded(problem))
        self.problem, self.places, self.position, self.hint = problem, places, position, hint

    @property
    def marked(self) -> str:
        """The message with its options marked."""
        places = [mark(each) for each in self.places if each]
        if self.position is not None:
            places[-1:] = [", ".join([*places[-1:], f"position {self.position}"])]
        return "; ".join(filter(None, [": ".join(filter(None, [*places, self.problem])), self.hint]))

    @property
    def options(self) -> list[str]:
        """The names of the arguments and options in the message, in their order."""
        return [json.loads(found[2])[2] for found in _MARK.finditer(self.marked)]

    @property
    def argument(self) -> str:
        """The argument that the message names first."""
        return next(iter(self.options), "")

    def __str__(self) -> str:
        return worded(self)


def within(error: ValueError, *places: str, instead_of: str = "") -> InputError:
    """Return an error with the places around it, or with the first one instead of another."""
    error = error if isinstance(error, InputError) else InputError(str(error))
    error.places = (*places, *(each for each in error.places if each != instead_of))
    return error


def visible(text: str) -> str:
    """Return text with nonprinting characters escaped, so that no id can move a terminal's cursor."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that resembles a wrong one, or the only one that begins with it; else an empty string.

    >>> nearest("Measure", ["measures", "k"]), nearest("exp", ["linear", "exponential"])
    ('measures', 'exponential')
    """
    by_name = {each.lower(): each for each in known}
    wrong = name[:100].lower()
    longer = [each for each in by_name if len(wrong) > 2 and each.startswith(wrong)]
    near = difflib.get_close_matches(wrong, by_name, 1) or longer
    return by_name[near[0]] if len(near) == 1 else ""


def missing_library(feature: str, library: str, packages: str) -> ImportError:
    """Return the error for a missing library that a feature needs, with the packages to install.

    >>> missing_library("plot", "Matplotlib", "matplotlib")
    ImportError('plot needs Matplotlib: pip install matplotlib')
    """
    return ImportError(f"{feature} needs {library}: pip install {packages}")


def warn(problem: str) -> None:  # may have marks
    """Warn about rankings, and point at the line that called this package, directly or through evaluate."""
    own = {__name__.partition(".")[0], "evaluate"}
    level, frame = 2, sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] in own and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(Message(problem), stacklevel=level)


def in_short(error: BaseException) -> str:
    """Return the message of a library's error, on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200].rstrip(".")


def raise_unless_of_values(error: BaseException) -> None:
    """Re-raise an error unless it concerns values; a panic in a Rust library is not an Exception."""
    of_values = isinstance(error, Exception) or type(error).__name__ == "PanicException"
    if isinstance(error, MemoryError) or not of_values:
        raise error


# ndcg/measure/labels.py: Labels in place of relevances, with their gains: `gain={"relevant": 3, "partially": 1, "not relevant": 0}`.

MOST_SHOWN = 6  # labels in a message
OF_TEXT = -(2.0**52)  # the numbers of text are at most this, and whole numbers that float64 tells apart
WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")  # read as an integer, which float64 might round
FLAGS = {"true": 1.0, "false": 0.0}


class Labels(NamedTuple):
    """The gains of labels: each label is a number or text, and text that is a number or a flag is that number."""

    gains: tuple[tuple[str | float, float], ...]

    def numbers(self, values: Iterable[Any]) -> list[Any]:
        """Return values with a number for each text that is a label; other values as they are.

        >>> Labels((("no", 0.0),)).numbers(["1.5", "true", 2, None, "yes"])
        [1.5, 1.0, 2, None, 'yes']
        """
        known: dict[Any, Any] = {label: number_of(label) for label, _ in self.gains if isinstance(label, str)}

        def number(text: str) -> Any:
            label = label_of(text)
            return known.setdefault(text, known.get(label, text) if isinstance(label, str) else label)

        return [number(each) if isinstance(each, str) else each for each in values]

    def gains_of(self, relevance: NDArray[Any]) -> NDArray[np.float64]:
        """Return the gain of each label, in numbers; nan for those that have none.

        >>> Labels(((0.5, 1.0), (2.0, 7.0))).gains_of(np.array([2, 0.5, 1])).tolist()
        [7.0, 1.0, nan]
        """
        known = dict(sorted((number_of(label), gain) for label, gain in self.gains))
        labels, gains = np.array(list(known)), np.array([*known.values()])
        if relevance.dtype.kind == "f":
            with np.errstate(over="ignore"):
                labels = labels.astype(relevance.dtype)
        at = np.minimum(np.searchsorted(labels, relevance), len(labels) - 1)
        return np.where(labels[at] == relevance, gains[at], np.nan)

    def unknown(self, label: Any) -> str:
        """Return what an error says about a label without a gain: the nearest label, and all that have one."""
        names = [each for each, _ in self.gains if isinstance(each, str)]
        near = nearest(label, names) if isinstance(label, str) else ""
        return f"is a label without a gain; {f'did you mean {near!r}? ' if near else ''}{mark('gain')} has {self}"

    @property
    def as_numbers(self) -> "Labels":
        """The same labels, with their numbers in place of gains: how batches keep them."""
        return Labels(tuple((label, number_of(label)) for label, _ in self.gains))

    def __str__(self) -> str:
        return ", ".join(shown(each) if isinstance(each, str) else f"{each:g}" for each, _ in self.gains)

    @property
    def signature(self) -> str:
        """The labels and their gains as the signature of a score has them, without its own marks.

        >>> Labels((("a|b", 0.0), ("relevant", 1.5))).signature
        'a%7Cb=0,relevant=1.5'
        """
        gains = [_measure_labels_plain(gain) for _, gain in self.gains]
        if [label for label, _ in self.gains] == [*range(len(gains))]:  # as a list of gains
            return ",".join(gains)
        names = (label if isinstance(label, str) else _measure_labels_plain(label) for label, _ in self.gains)
        names = (re.sub(r"[|:,=%+]", lambda mark: f"%{ord(mark[0]):02X}", name) for name in names)
        return ",".join(map("=".join, zip(names, gains, strict=True)))


def _measure_labels_plain(number: float) -> str:
    return repr(number).removesuffix(".0")


def label_of(value: Any) -> str | float:
    """Return a label as labels are compared: numbers and flags as floats, also in text, and other text.

    >>> label_of(" relevant"), label_of("2"), label_of(True), label_of("false")
    ('relevant', 2.0, 1.0, 0.0)
    """
    if not isinstance(value, str):
        return float(value)
    text = str(value).strip()
    number = FLAGS.get(text.lower(), number_of_text(text))
    return text if number is None or not math.isfinite(number) else float(number)


def number_of_text(text: str) -> float | None:
    """Return the number that text is; None for other text, such as "1_0", which only Python takes for a number.

    >>> number_of_text("1e3"), number_of_text("20"), number_of_text("1_0"), number_of_text("high")
    (1000.0, 20, None, None)
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        return int(text) if WHOLE.fullmatch(text) else float(text)
    except ValueError:
        return None


def number_of(label: str | float) -> float:
    """Return the number of a label: of text a hash of it, the same in every process."""
    if isinstance(label, float):
        return label
    digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).digest()
    return OF_TEXT - int.from_bytes(digest[:6], "big")


def to_label(values: Iterable[Any]) -> str:
    """Return what an error says about text in place of relevances: the gain to write for labels, if there are any.

    >>> "gain={'relevant': ..., 'no': ...}" in to_label(["relevant", "no", "relevant"])
    True
    """
    seen: dict[str, None] = {}
    for value in values:
        if isinstance(value, str) and isinstance(label := label_of(value), str) and label:
            seen[label] = None
            if len(seen) > MOST_SHOWN:
                break
    if not seen:
        return f"give a number{mark('None', before=' or ')}"
    labels = list(map(shown, seen))[:MOST_SHOWN]
    gains = ", ".join(f"{each}: ..." for each in labels) + ", ..." * (len(seen) > MOST_SHOWN)
    call = mark("gain", {each[1:-1]: "..." for each in labels}, said=f"gain={{{gains}}}")
    return f"for labels, give the gain of each, {call}"


# ndcg/measure/ties.py: Compute the gains at the first ranks of every query, exactly for ties, from arrays of float scores and gains.

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LOWEST = np.finfo(np.float64).min


def ideal_gains(gains: Floats, ranks: int, lowest: float) -> Floats:
    """Return the ``ranks`` highest gains of each query, in descending order, as (queries, ranks).

    In memory, they lie from the last rank to the first. There are at least as many documents as ranks, and no gain is
    below ``lowest``.
    """
    height = grid_height(gains.shape[1], ranks)
    shortlist = _shortlist(gains, ranks, height, exact=True) if height > 1 else None
    ordered: NDArray[np.floating[Any]] = gains.copy() if shortlist is None else gains.take(shortlist)
    beyond = ordered.shape[1] - ranks
    single = ordered.astype(np.float32, copy=False) if lowest >= 0 and beyond else None
    if single is not None and (single is ordered or (single == ordered).all()):
        # exact for grades; as integers, their bits sort in the same order, and faster
        single.view(np.int32).sort(axis=1)
        ordered = single
    else:
        ordered.sort(axis=1)
    return ordered[:, beyond:].astype(np.float64, copy=False)[:, ::-1]


def ranked_gains(score: Floats, gains: Floats, ranks: int, ties: str) -> tuple[Floats, float]:
    """Return the gain at ranks 1..``ranks`` by descending score, and the highest score, except for its last bits.

    A score of ``-inf`` is that of a document without a rank. Ties are ``"average"``, so that documents with equal
    scores share their mean gain (McSherry & Najork, ECIR 2008), or which of them ranks first: ``"first"``, ``"last"``,
    ``"best"`` or ``"worst"``. In memory, the gains lie from the last rank to the first.

    One document more than ``ranks`` is found, to see whether a tie crosses the cutoff.
    """
    if ties not in ("average", "last"):
        score, gains = _last_of_equals_first(score, gains, ties)
    count = min(ranks + 1, score.shape[1])
    if not score.size:
        return np.zeros((len(score), 0)), -np.inf
    keys, numbers, low_bits = _highest_scores(score, count, ties == "average")
    unretrieved = np.empty(0, np.intp)
    lacking = keys[:, 0] < LOWEST / 2  # fewer than count were retrieved, or some scores are extremely low
    if lacking.any():
        unretrieved = np.flatnonzero(keys < LOWEST / 2)
        if np.count_nonzero(score[lacking] > -np.inf) != count * np.count_nonzero(lacking) - unretrieved.size:
            unretrieved, gains = unretrieved[:0], np.where(score > -np.inf, gains, 0)
    bits = keys.view(np.int64).ravel()
    near = np.zeros(keys.shape, bool)  # nearly tied with the next rank: equal in all bits that keys keep
    np.less_equal((bits[1:] ^ bits[:-1]).view(np.uint64), low_bits, out=near.ravel()[1:])
    near[:, :1] = False  # the next rank belongs to another query
    near.put(unretrieved, False)
    if near.any():
        ranked = _settled_gains(score, gains, numbers, near, ranks, ties == "average")
    else:
        ranked = gains.take(numbers).astype(np.float64, copy=False)
    ranked.put(unretrieved, 0)
    return ranked[:, ::-1][:, :ranks], float(keys[:, -1].max())


def _last_of_equals_first(score: Floats, gains: Floats, ties: str) -> tuple[Floats, Floats]:
    """Rearrange the documents so that ranking the last of equal scores first gives the order of ``ties``."""
    if ties == "first":
        return np.ascontiguousarray(score[:, ::-1]), np.ascontiguousarray(gains[:, ::-1])
    order = np.argsort(gains if ties == "best" else -gains, axis=1)
    return np.take_along_axis(score, order, axis=1), np.take_along_axis(gains, order, axis=1)


def _highest_scores(score: Floats, count: int, averaged: bool) -> tuple[Floats, NDArray[np.int64], int]:
    """Return the keys of each query's ``count`` highest scores, ascending, with document numbers and their bits.

    The lowest bits of each score, as many as it takes to number the documents of the block, are replaced with the
    document's number. Only neighbors that agree in all other bits can be tied or out of order.
    """
    height = grid_height(score.shape[1], count) if averaged else 0
    shortlist = _shortlist(score, count, height) if height > 1 else None
    numbers = np.arange(score.size).reshape(score.shape) if shortlist is None else shortlist
    keys = np.add(score if shortlist is None else score.take(shortlist), 0.0, dtype=np.float64)  # no -0.0
    np.maximum(keys, LOWEST, out=keys)  # the bits of -inf cannot hold a number
    # The bits of a negative float grow as it falls. If ties are not averaged, their order matters, so the numbers are
    # inverted, with a spare bit that keeps the result from being -0.0.
    turned = not averaged and np.signbit(keys).any()
    low_bits = _low_bits(2 * score.size if turned else score.size)
    bits = keys.view(np.int64)
    bits &= ~low_bits
    bits |= numbers ^ np.signbit(keys) * low_bits if turned else numbers
    beyond = keys.shape[1] - count
    if few := 4 * count < keys.shape[1]:
        keys.partition(beyond, axis=1)
        keys = np.ascontiguousarray(keys[:, beyond:])
    keys.sort(axis=1)
    if not few:
        keys = np.ascontiguousarray(keys[:, beyond:])
    numbers = keys.view(np.int64) & low_bits
    if turned:
        numbers ^= np.signbit(keys) * low_bits
    return keys, numbers, low_bits


def _settled_gains(
    score: Floats, gains: Floats, numbers: NDArray[np.int64], near: Mask, ranks: int, averaged: bool
) -> Floats:
    """Return the gains of the numbered documents, the best last, with equal and nearly equal scores resolved.

    ``near`` marks those with nearly the same score as the one before.
    """
    crossing = np.flatnonzero(near[:, 1]) if numbers.shape[1] > ranks else np.empty(0, np.intp)
    members, tied = _sort_near(score, numbers, near)
    ranked = gains.take(numbers).astype(np.float64, copy=False)
    if averaged:
        ranked.ravel()[members] = _mean_of_groups(ranked.ravel()[members], ~tied)
    if crossing.size:
        rows = slice(None) if crossing.size == len(score) else crossing
        near_scores = score.take(numbers[rows, 1:])
        mean, above = _group_at_cutoff(score[rows], gains[rows], near_scores[:, 0])
        if averaged:
            ranked[rows, 1:] = np.where(near_scores == near_scores[:, :1], mean[:, np.newaxis], ranked[rows, 1:])
        missed = crossing[above != (near_scores > near_scores[:, :1]).sum(axis=1)]  # near ties split in the wrong place
        if missed.size:
            whole, _ = ranked_gains(score[missed], gains[missed], score.shape[1], "average" if averaged else "last")
            ranked[missed, 1:] = whole[:, :ranks][:, ::-1]
    return ranked


def _sort_near(score: Floats, numbers: NDArray[np.int64], near: Mask) -> tuple[slice | NDArray[np.intp], Mask]:
    """Sort the numbers of documents with nearly equal scores by their exact scores; overwrite both arrays.

    Returned are the positions, in the flat array, of documents that are nearly tied with a neighbor, and which of these
    have exactly the score of the one before.
    """
    tied = near.ravel()
    member = tied.copy()  # every document in a run of near ties, including the first
    member[:-1] |= tied[1:]
    members = slice(None) if 4 * np.count_nonzero(member) > member.size else np.flatnonzero(member)
    exact, tied = score.take(numbers.ravel()[members]), tied[members]
    falls = 1 + np.flatnonzero(tied[1:] & (exact[1:] < exact[:-1]))
    if falls.size:  # sort these runs; documents of equal scores keep their order
        run = np.cumsum((~tied).astype(np.intp))
        unsorted = np.zeros(run[-1] + 1, bool)
        unsorted[run[falls]] = True
        places = np.flatnonzero(unsorted.take(run))
        order = places[np.lexsort((exact[places], run[places]))]
        sorted_numbers = numbers.ravel()[members]
        sorted_numbers[places], exact[places] = sorted_numbers[order], exact[order]
        numbers.ravel()[members] = sorted_numbers
    tied[1:] &= exact[1:] == exact[:-1]
    return members, tied


def _mean_of_groups(gains: Floats, first: Mask) -> Floats:
    """Return for each document the mean gain of its group; ``first`` marks the starts of groups."""
    group = np.cumsum(first.astype(np.intp))  # numbered from 1; on a mask, cumsum would block other threads
    sizes = np.diff(np.flatnonzero(first), prepend=-1, append=first.size)
    return np.asarray((np.bincount(group, gains) / sizes).take(group))


def _group_at_cutoff(score: Floats, gains: Floats, last: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the mean gain of all documents with the score of the ``last`` at the cutoff, and how many score higher."""
    reached = np.flatnonzero(score >= last[:, np.newaxis])
    row = reached // score.shape[1]
    level = score.take(reached) == last.take(row)
    above = np.bincount(row[~level], minlength=len(last))
    row, reached = row[level], reached[level]
    if (last < 0).any():  # added in the order of their keys, so that sums agree to the last bit
        falling = last.take(row) < 0
        turned = np.concatenate([np.flatnonzero(~falling), np.flatnonzero(falling)[::-1]])
        row, reached = row[turned], reached[turned]
    sums = np.bincount(row, gains.take(reached), minlength=len(last))
    return sums / np.bincount(row, minlength=len(last)), above


def _low_bits(documents: int) -> int:
    """Return a mask of the lowest bits, as many as are needed to number the documents."""
    return (1 << max(documents - 1, 0).bit_length()) - 1


def grid_height(documents: int, count: int) -> int:
    """Return the number of rows of the grid in which the ``count`` highest of ``documents`` are sought."""
    return math.isqrt(documents // (4 * count)) if count else 0


def _shortlist(values: Floats, count: int, height: int, exact: bool = False) -> NDArray[np.int64] | None:
    """Return numbers of documents that include the ``count`` highest values of each row; None if this is uncertain.

    If a row is laid out as a grid, its ``count`` highest values lie in the ``count`` columns with the highest maxima,
    because each of these columns has a value at least as high as any elsewhere. It does not matter which of several
    equal maxima is taken. Nearly equal ones can be mistaken for equal, unless ``exact``.
    """
    queries, documents = values.shape
    width = documents // height
    grid = values[:, : width * height].reshape(queries, height, width)
    keys = np.maximum(grid.max(axis=1) + 0.0, LOWEST, dtype=np.float64)
    bits = keys.view(np.int64)
    low_bits = _low_bits(width)
    if exact and np.bitwise_or.reduce(bits, axis=None) & low_bits:
        return None
    bits &= ~low_bits
    bits |= np.arange(width)
    keys.partition(width - count, axis=1)
    columns = (bits[:, width - count :] & low_bits) + np.arange(queries)[:, np.newaxis] * documents
    shortlist = np.empty((queries, height * count + documents - width * height), np.int64)
    grid_numbers = columns[:, np.newaxis] + np.arange(0, width * height, width)[:, np.newaxis]
    shortlist[:, : height * count] = grid_numbers.reshape(queries, height * count)
    tail = np.arange(width * height, documents)
    np.add(np.arange(queries)[:, np.newaxis] * documents, tail, out=shortlist[:, height * count :])
    return shortlist


# ndcg/measure/scoring.py: The measure: CG, DCG, IDCG and nDCG of every query, from plain arrays.

Gain = str | Sequence[float] | NDArray[Any] | Callable[[Floats], Any]
Discount = str | Sequence[float] | NDArray[Any] | Callable[[NDArray[np.int64]], Any]

Output = TypeVar("Output")

# Scores per block: enough to make the cost of NumPy calls and of switching threads negligible, few enough to fit into
# the last-level cache.
SCORES_AT_A_TIME = 1 << 18
PADDING = 1 << 13  # padding documents that are worth accepting for one block fewer
# Freeing an array this large (31 MiB) raises glibc's mmap threshold, so later blocks reuse memory instead of faulting
# it in page by page.
np.empty(31 << 17)
# What libraries write in place of the relevance of a document that pads a list: PyTorch and the Trainer of transformers
# -100, TensorFlow Ranking and allRank -1.
PADDING_LABELS = (-100, -1)
_KEEP = mark("negative_relevance", "keep", said='"keep"')
_COUNT_NEGATIVE = (
    f"{mark('negative_relevance', 'clip')} counts it as gain 0, as "
    f"{mark('convention', 'trec_eval')} does, {_KEEP} as it is"
)
NOT_A_RELEVANCE = f"{{value}} is not a relevance{mark('None', before='; ', after=' marks one not judged')}"


class InvalidRankingError(InputError):
    """A value that is not valid in the array "relevance" or "score", and its place.

    Queries and positions are numbered from 0; without a position, the whole query is meant.
    """

    def __init__(self, array: str, query: int, position: int | None, problem: str, hint: str = "") -> None:
        super().__init__(problem, array, f"query {query}", position=position, hint=hint)
        self.array, self.query = array, query


class MeasureDefinition(NamedTuple):
    """The values to compute for every query, as `measure_queries` describes them."""

    measures: frozenset[str]
    cutoffs: Sequence[int | None]
    weight: Floats  # the discount of each rank, stored from the last rank to the first
    gain: Gain
    ideal: str
    ties: str
    zero_division: float | str
    negative_relevance: str

    @classmethod
    def of(
        cls,
        longest: int,
        *,
        measures: Sequence[str] = ("nDCG",),
        cutoffs: Sequence[int | None] = (None,),
        gain: Gain = "linear",
        discount: Discount = "log",
        log_base: float = 2.0,
        ideal: str = "judged",
        ties: str = "average",
        zero_division: float | str = 0.0,
        negative_relevance: str = "raise",
    ) -> "MeasureDefinition":
        """Return the definition for queries of which the longest has so many documents."""
        ranks = max((k or longest) if ideal == "full" else min(k or longest, longest) for k in cutoffs)
        weight = discounts(ranks, log_base, discount)[::-1].copy()[::-1]
        return cls(frozenset(measures), cutoffs, weight, gain, ideal, ties, zero_division, negative_relevance)

    def needs(self, *measures: str) -> bool:
        """Return whether any of these measures was requested."""
        return not self.measures.isdisjoint(measures)


class _Block(NamedTuple):
    """Queries of the same length, or padded to it: every array is (queries, documents)."""

    queries: slice | NDArray[np.intp]  # where their results go
    relevance: NDArray[Any]  # 0 if not judged
    score: NDArray[Any]  # -inf if not retrieved
    judged: Mask | None  # None: all of them

    def query(self, row: int) -> int:
        """Return the index, among all queries, of a row of this block."""
        return self.queries.start + row if isinstance(self.queries, slice) else int(self.queries[row])

    def invalid(self, array: str, at: Mask, problem: str, hint: str = "") -> InvalidRankingError:
        """Return the error for the first document that the mask ``at`` marks."""
        row, position = (int(index[0]) for index in np.nonzero(at))
        value = getattr(self, array)[row, position].item()
        return InvalidRankingError(array, self.query(row), position, problem.format(value=value), hint)


def discounts(ranks: int, log_base: float = 2.0, discount: Discount = "log") -> Floats:
    """Return the discount of ranks 1..``ranks``: the factor of the gain at each rank.

    ``"log"`` is that of Burges et al. (2005), ``"jarvelin"`` that of Järvelin & Kekäläinen (2002). A sequence has the
    discounts of rank 1, 2, 3, …; a function returns the discounts of an array of ranks.
    """
    rank = np.arange(1, ranks + 1)
    if isinstance(discount, str):
        return np.asarray(DISCOUNT_FUNCTIONS[discount](rank, log_base))
    if callable(discount):
        values = _measure_scoring_answer("discount", "ranks", discount, rank)
        if (problem := not_discounts(values)) is not None:
            raise InputError(f"the result of the function for ranks 1 to {ranks} {problem}", "discount")
        return values
    if len(discount) < ranks:
        raise InputError(
            f"{mark('discount')} lists {len(discount)} ranks, but {ranks} count; "
            f"list more, or give {mark('k', len(discount))}"
        )
    return np.asarray(discount[:ranks], np.float64)


DISCOUNT_FUNCTIONS: dict[str, Callable[[NDArray[np.int64], float], Floats]] = {
    "log": lambda rank, log_base: 1.0 / (np.log(rank + 1) / np.log(log_base)),
    "reciprocal": lambda rank, log_base: 1.0 / rank,
    "jarvelin": lambda rank, log_base: 1.0 / np.maximum(1, np.log(rank) / np.log(log_base)),
}


def not_discounts(values: Floats) -> str | None:
    """Return the reason why values cannot be the discounts of ranks 1, 2, 3, …; None if they can.

    If a discount rose, descending gains would not be the ideal order.

    >>> not_discounts(np.array([1.0, 0.5, 0.7]))
    'rises from 0.5 at rank 2 to 0.7 at rank 3'
    """
    if not np.isfinite(values).all() or (values < 0).any():
        rank = int(np.argmin(np.isfinite(values) & (values >= 0))) + 1
        return f"is {values[rank - 1]} at rank {rank}; discounts are finite and not negative"
    if values.size and values[0] == 0:
        return "is 0 at rank 1, so nothing counts"
    if (rises := np.flatnonzero(values[1:] > values[:-1])).size:
        rank = int(rises[0]) + 1
        return f"rises from {values[rank - 1]} at rank {rank} to {values[rank]} at rank {rank + 1}"
    return None


def measure_queries(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
    measures: Sequence[str] = ("nDCG",),
    **options: Any,
) -> dict[str, Floats]:
    """Return the values of every query at every cutoff: for each measure an array of shape ``(cutoffs, queries)``.

    Relevance and score are real numbers of shape ``(queries, documents)``; or 1-D, query after query, with ``offsets``,
    which are the start of each query and the end of the last one. Higher scores rank first; ``-inf`` is the same as not
    retrieved. A document that is not ``judged`` has a rank with gain 0, and is not in the ideal; one that is not
    ``retrieved`` has no rank, but is in the ideal; None marks all of them. A cutoff is a positive integer, or None for
    all ranks. The options are those of `MeasureDefinition.of`, checked as options of ``compute``.

    An `InvalidRankingError` tells that a value is NaN or infinite, a relevance is not allowed or has no gain, or a sum
    overflows.

    >>> measures = ["nDCG", "DCG", "IDCG", "CG"]
    >>> found = measure_queries(np.array([[3, 2, 3, 0, 1, 2]]), np.array([[6, 5, 4, 3, 2, 1]]), measures=measures)
    >>> {name: float(values[0, 0].round(3)) for name, values in found.items()}
    {'nDCG': 0.961, 'DCG': 6.861, 'IDCG': 7.141, 'CG': 11.0}
    """
    if score.dtype.kind in "iu":
        score = _exact_in_float64(score)
    longest = score.shape[1] if offsets is None else int((offsets[1:] - offsets[:-1]).max(initial=0))
    definition = MeasureDefinition.of(longest, measures=measures, **options)
    shape = len(definition.cutoffs), len(relevance) if offsets is None else len(offsets) - 1
    values = {measure: np.empty(shape) for measure in measures}
    measure_block = partial(_measure_block, into=values, definition=definition)
    # If a grid is searched, little more than its column maxima is read, so a block can be larger.
    size = SCORES_AT_A_TIME * max(1, min(grid_height(longest, len(definition.weight) + 1), 4))
    blocks = _measure_scoring_blocks(relevance, score, offsets, judged, retrieved, size)
    if score.size > 2 * size:
        in_threads(measure_block, list(blocks))
    else:
        for block in blocks:
            measure_block(block)
    return values


def _measure_block(read: Callable[[], _Block], *, into: Mapping[str, Floats], definition: MeasureDefinition) -> None:
    """Put the measures of a block's queries into the arrays of all queries."""
    block, weight = read(), definition.weight
    ranks = min(len(weight), block.score.shape[1])
    with np.errstate(all="ignore"):  # values that are not finite are rejected, with their place
        gains, lowest = _measure_scoring_gains(block, definition.gain, definition.negative_relevance)
        ranked, ideal = _gains_at_ranks(block, ranks, gains, lowest, definition)
        sums = _discounted_sums(ranked, ideal, ranks, definition)
        if definition.ideal == "full" and "IDCG" in sums:
            highest = ideal[:, 0] if ranks else np.zeros(len(ideal))
            sums["IDCG"] = np.stack([_sum_of_equal(highest, weight[: k or ranks]) for k in definition.cutoffs])
        _refuse_overflow(block, sums)
        if "nDCG" in definition.measures:
            zero_division = definition.zero_division
            empty = _perfect_if_empty(block, gains) if isinstance(zero_division, str) else zero_division
            sums["nDCG"] = ratio(sums["DCG"], sums["IDCG"], lowest < 0, sign(weight), empty)
    for measure, values in into.items():
        values[:, block.queries] = sums[measure]


def _exact_in_float64(score: NDArray[Any]) -> NDArray[Any]:
    """Return integers that float64 can tell apart: if any is beyond 2**53, their ranks, with their signs.

    Signs are kept because they determine the order in which tied gains are summed.
    """
    if not score.size or max(-int(score.min()), int(score.max())) <= 2**53:
        return score
    distinct, order = np.unique(score, return_inverse=True)
    return np.asarray(order.reshape(score.shape) - np.searchsorted(distinct, 0))


def are_padding_labels(negative: Sequence[float] | NDArray[Any]) -> bool:
    """Return whether negative relevances may be padding: all are the same label, which some library pads with.

    >>> are_padding_labels([-1, -1]), are_padding_labels([-1, -2]), are_padding_labels([-3.0])
    (True, False, False)
    """
    labels = np.unique(negative)
    return len(labels) == 1 and labels[0] in PADDING_LABELS


def hint_of_negative(negative: NDArray[Any]) -> str:
    """Return how to score negative relevances: without them, if they may be padding, or with some gain."""
    if are_padding_labels(negative):
        return f"{mark('ignore_index', int(negative[0]), after=' removes padding; ')}{_COUNT_NEGATIVE}"
    return f"{_COUNT_NEGATIVE}{mark('ignore_index', before='; ', after=' removes padding')}"


def in_threads(work: Callable[..., Output], *over: Sequence[Any], threads: int | None = None) -> list[Output]:
    """Return the result of a function for each item, computed in as many threads as the process may use."""
    if len(over[0]) < 2 or threads == 1:
        return list(map(work, *over))
    with ThreadPoolExecutor(threads or _threads()) as pool:
        return list(pool.map(work, *over))


def _threads() -> int:
    """Return the number of threads: the number of CPUs of the process, or OMP_NUM_THREADS."""
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if setting.isdecimal() and int(setting):
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_queries(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: Mask | None = None,
    retrieved: Mask | None = None,
    gain: Gain = "linear",
    negative_relevance: str = "keep",
) -> None:
    """Raise the error of ``measure_queries`` for documents that are invalid whatever else their query contains.

    By default, these are the documents that no combination of options could score.
    """
    for read in _measure_scoring_blocks(relevance, score, offsets, judged, retrieved):
        block = read()
        with np.errstate(all="ignore"):  # values that are not finite are rejected, with their place
            _refuse(block, block.score, _measure_scoring_gains(block, gain, negative_relevance)[0], gain)


def _measure_scoring_blocks(
    relevance: NDArray[Any],
    score: NDArray[Any],
    offsets: NDArray[np.int64] | None,
    judged: Mask | None,
    retrieved: Mask | None,
    size: int = SCORES_AT_A_TIME,
) -> Iterator[Callable[[], _Block]]:
    """Cut queries into blocks of about ``size`` scores, ragged ones longest first; yield a function to read each."""
    if offsets is not None:
        lengths = offsets[1:] - offsets[:-1]
        documents = int(lengths[0]) if len(lengths) else 0
        if (lengths == documents).all():
            shape = (len(lengths), documents)
            relevance, score = relevance.reshape(shape), score.reshape(shape)
            judged = None if judged is None else judged.reshape(shape)
            retrieved = None if retrieved is None else retrieved.reshape(shape)
            offsets = None
    if offsets is None:
        queries, documents = score.shape
        step = max(1, size // max(documents, 1))
        for start in range(0, queries, step):
            rows = slice(start, min(start + step, queries))
            yield partial(_measure_scoring_block, rows, relevance, score, judged, retrieved)
        return
    for queries_of_block in similar_lengths(lengths, size, PADDING):
        starts = offsets[queries_of_block]
        yield partial(_padded, queries_of_block, starts, lengths[queries_of_block], relevance, score, judged, retrieved)


def similar_lengths(lengths: NDArray[np.int64], size: int, padding: int) -> Iterator[NDArray[np.intp]]:
    """Yield the queries of each block of about ``size`` documents, longest first.

    A block has as many queries as fit with little padding: less than an eighth, or less than another block would cost.
    """
    order, start = np.argsort(-lengths, kind="stable"), 0
    while start < len(order):
        block = order[start : start + max(1, size // max(int(lengths[order[start]]), 1))]
        cells = int(lengths[block[0]]) * np.arange(1, len(block) + 1)
        within = cells - np.cumsum(lengths[block]) <= np.maximum(cells // 8, padding)
        block = block if within.all() else block[: int(np.argmin(within))]
        start += len(block)
        yield block


def _measure_scoring_block(
    rows: slice, relevance: NDArray[Any], score: NDArray[Any], judged: Mask | None, retrieved: Mask | None
) -> _Block:
    """Return the block of queries of the same length."""
    known = None if judged is None else judged[rows]
    return _Block(
        rows,
        relevance[rows] if known is None else np.where(known, relevance[rows], 0),
        score[rows] if retrieved is None else np.where(retrieved[rows], score[rows], -np.inf),
        known,
    )


def _padded(
    queries: NDArray[np.intp],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    relevance: NDArray[Any],
    score: NDArray[Any],
    judged: Mask | None,
    retrieved: Mask | None,
) -> _Block:
    """Pad queries to the length of the first, the longest, with documents that are neither judged nor retrieved."""
    longest = int(lengths[0])
    narrow = np.min_scalar_type(longest)  # faster to compare
    beyond = np.arange(longest, dtype=narrow) >= lengths.astype(narrow)[:, np.newaxis]
    last = len(score) - longest
    first = np.minimum(starts, last)
    late = np.flatnonzero(first < starts)  # queries too close to the end to be read as rows of this length

    def padded(values: NDArray[Any]) -> NDArray[Any]:
        whole = np.ascontiguousarray(values)
        rows: NDArray[Any] = np.ndarray((last + 1, longest), whole.dtype, whole, strides=whole.strides * 2)[first]
        for row in late:
            rows[row, : lengths[row]] = values[starts[row] : starts[row] + lengths[row]]
        return rows

    relevance, score = padded(relevance), padded(score)
    if score.dtype.kind != "f":
        score = score.astype(np.float64)
    known = ~beyond if judged is None else padded(judged) & ~beyond
    np.copyto(relevance, relevance.dtype.type(0), where=beyond if judged is None else ~known)
    np.copyto(score, -np.inf, where=beyond if retrieved is None else beyond | ~padded(retrieved))
    return _Block(queries, relevance, score, known)


def _gains_at_ranks(
    block: _Block, ranks: int, gains: Floats, lowest: float, definition: MeasureDefinition
) -> tuple[Floats, Floats]:
    """Return the gain at ranks 1..``ranks`` as scored and in the ideal, as (queries, ranks).

    If no measure needs the ranking or the ideal, its array has 0 ranks.
    """
    # float32 is read twice as fast, without loss
    score = block.score if block.score.dtype == np.float32 else block.score.astype(np.float64, copy=False)
    ideal = ranked = gains[:, :0]
    if needs_ideal := definition.needs("nDCG", "IDCG"):
        ideal = _ideal_at_ranks(block, ranks, score, gains, lowest, definition.ideal)
    if definition.needs("nDCG", "DCG", "CG"):
        ranked, highest = ranked_gains(score, gains, ranks, definition.ties)
    else:
        highest = float(score.max(initial=-np.inf))
    whole = needs_ideal and definition.ideal not in ("retrieved", "truncated")
    most = ideal[:, :1].max(initial=0) if whole else gains.max(initial=0)
    if ranks and not (highest < np.inf and most < np.inf and lowest > -np.inf):
        _refuse(block, score, gains, definition.gain)  # NaN and infinity sort first, so these checks find them
    return ranked, ideal


def _ideal_at_ranks(block: _Block, ranks: int, score: Floats, gains: Floats, lowest: float, of: str) -> Floats:
    """Return the gain at ranks 1..``ranks`` in the ideal, as (queries, ranks)."""
    counted = block.judged if lowest < 0 else None  # otherwise unjudged documents have the lowest gain, 0
    if of == "retrieved":
        counted = score > -np.inf if block.judged is None else block.judged & (score > -np.inf)
    if counted is None:
        ideal = ideal_gains(gains, ranks, lowest)
    else:
        ideal = ideal_gains(np.where(counted, gains, -np.inf), ranks, -np.inf)
        ideal[ideal == -np.inf] = 0  # fewer documents than ranks
    if of == "truncated":
        ideal[np.arange(ranks) >= (score > -np.inf).sum(axis=1, keepdims=True)] = 0
    return ideal


def _refuse(block: _Block, score: Floats, gains: Floats, gain: Gain) -> None:
    """Raise the error for a score, a relevance or a gain that is not a finite number, if there is one."""
    if (invalid := np.isnan(score) | (score == np.inf)).any():
        none = mark("None", before="; ", after=" or -inf marks one not retrieved")
        raise block.invalid("score", invalid, f"{{value}} is not a score{none}")
    if (invalid := ~np.isfinite(gains)).any():
        if not np.isfinite(block.relevance[invalid]).all():
            problem = NOT_A_RELEVANCE
        elif isinstance(gain, str) or callable(gain):
            problem = "the gain of relevance {value} is not a finite number"
        else:
            problem = f"the label {{value}} has no gain: {mark('gain')} lists the labels 0 to {len(gain) - 1}"
        raise block.invalid("relevance", invalid, problem)


def _refuse_overflow(block: _Block, sums: Mapping[str, Floats]) -> None:
    """Raise the error for a query whose sum overflows, if there is one."""
    for name, values in sums.items():
        if not np.isfinite(values).all():
            query = block.query(int(np.argmin(np.isfinite(values).all(axis=0))))
            raise InvalidRankingError("relevance", query, None, f"{name} overflows; scale the gains")


def _measure_scoring_gains(block: _Block, gain: Gain, negative_relevance: str) -> tuple[Floats, float]:
    """Return the gain of every document, 0 for unjudged ones and padding, and the lowest gain.

    NaN marks relevances without a gain.
    """
    is_linear = isinstance(gain, str) and gain == "linear"
    is_single = is_linear and block.relevance.dtype == np.float32  # twice as fast to read and sort
    relevance = block.relevance if is_single else block.relevance.astype(np.float64, copy=False)
    lowest = float(relevance.min(initial=0))
    if not lowest > -np.inf:
        raise block.invalid("relevance", ~np.isfinite(relevance), NOT_A_RELEVANCE)
    negative = relevance < 0 if lowest < 0 and negative_relevance != "keep" else None
    if negative is not None:
        if negative_relevance == "raise":
            hint = hint_of_negative(relevance[negative])
            raise block.invalid("relevance", negative, "the relevance {value} is negative", hint)
        relevance, lowest = np.maximum(relevance, 0), 0.0
    if isinstance(gain, str):
        gains = GAIN_FUNCTIONS[gain](relevance)
        return gains, lowest if gain == "linear" else float(gains.min(initial=0))
    if callable(gain):
        if not np.isfinite(relevance).all():
            raise block.invalid("relevance", ~np.isfinite(relevance), NOT_A_RELEVANCE)
        judged = np.ones(relevance.shape, bool) if block.judged is None else block.judged
        gains = np.zeros(relevance.shape)
        gains[judged] = _measure_scoring_answer("gain", "relevances", gain, relevance[judged])
    else:
        gains = _labelled(relevance, np.asarray(gain, np.float64))
        if block.judged is not None:
            gains[~block.judged] = 0
    if negative is not None:
        gains[negative] = 0
    return gains, float(gains.min(initial=0))


def _measure_scoring_exponential(relevance: Floats) -> Floats:
    """Return 2**r - 1, without losing digits for small r."""
    gains = np.exp2(relevance) - 1
    low = (np.abs(relevance) < 0.5) & (relevance != 0)
    if low.any():
        gains[low] = np.expm1(relevance[low] * np.log(2))
    return gains


GAIN_FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda relevance: relevance,
    "exponential": _measure_scoring_exponential,
    "binary": lambda relevance: (relevance > 0) + 0 * relevance,  # NaN for an infinite relevance
}


def _measure_scoring_answer(option: str, places: str, function: Callable[[NDArray[Any]], Any], values: NDArray[Any]) -> Floats:
    """Return what the user's function for an option returns for an array: one number for each value."""
    if not values.size:
        return values.astype(np.float64)
    answer = function(values)
    problem = f"{option} gets an array of {places} and must return an array of as many numbers"
    try:
        numbers = np.asarray(answer)
    except ValueError:
        numbers = np.empty(0, object)  # lists of different lengths
    except BaseException as error:
        raise_unless_of_values(error)
        unread = f"it returned a {type(answer).__name__} that NumPy cannot read ({in_short(error)})"
        raise ValueError(f"{problem}: {unread}") from error
    if numbers.shape != values.shape or numbers.dtype.kind not in "biuf" or np.ma.is_masked(answer):
        raise ValueError(f"{problem}: for shape {values.shape} it returned {numbers.dtype} of shape {numbers.shape}")
    return numbers.astype(np.float64)


def _labelled(relevance: Floats, table: Floats) -> Floats:
    """Return the gains of labels 0, 1, 2, … from a table."""
    known = (relevance >= 0) & (relevance < len(table)) & (relevance == np.floor(relevance))
    return np.where(known, table[np.where(known, relevance, 0).astype(np.intp)], np.nan)


def _discounted_sums(ranked: Floats, ideal: Floats, ranks: int, definition: MeasureDefinition) -> dict[str, Floats]:
    """Return CG, DCG and IDCG, as far as the measures need them, at each cutoff: (cutoffs, queries)."""
    sums, discount = {}, definition.weight[:ranks]
    cutoffs = [min(k or ranks, ranks) for k in definition.cutoffs]
    if "CG" in definition.measures:
        sums["CG"] = _sums(ranked, np.ones(ranks)[::-1], cutoffs)
    if definition.needs("nDCG", "DCG"):
        sums["DCG"] = _sums(ranked, discount, cutoffs)
    if definition.needs("nDCG", "IDCG"):
        sums["IDCG"] = _sums(ideal, discount, cutoffs)
    return sums


def sign(discount: Floats) -> float:
    """Return -1 if a discount makes all sums negative, as with a logarithm to a base below 1; else 1."""
    return math.copysign(1, discount.sum())


def _perfect_if_empty(block: _Block, gains: Floats) -> Floats:
    """Return 1 for each query without a gain above 0 for which nothing was retrieved, 0 for others.

    The ideal DCG cannot tell: if nothing was retrieved, a truncated ideal is empty even if there was something to find.
    """
    return np.where((block.score > -np.inf).any(axis=1) | (gains > 0).any(axis=1), 0.0, 1.0)


def ratio(dcg: Floats, idcg: Floats, negative: bool, sign: float, zero_division: float | Floats) -> Floats:
    """Return nDCG; if any gain is negative, it may be above 1 or below 0."""
    values = dcg / idcg
    if not negative:
        np.minimum(values, 1, out=values)  # only rounding makes it exceed 1
    return np.where(sign * idcg > 0, values, zero_division)


def _sum_of_equal(gains: Floats, weight: Floats) -> Floats:
    """Return the weighted sum of a gain that is the same at all ranks, for each query, added as in ``_sums``."""
    step = max(1, SCORES_AT_A_TIME // max(len(weight), 1))
    parts = (gains[start : start + step, np.newaxis] for start in range(0, len(gains), step))
    return np.concatenate(
        [_sums(part.repeat(len(weight), axis=1)[:, ::-1], weight, [len(weight)])[0] for part in parts]
    )


def _sums(gains: Floats, weight: Floats, cutoffs: Sequence[int]) -> Floats:
    """Return the weighted sums of each query's gains up to each cutoff, added rank by rank.

    In this order, zeros at the end of a padded list do not change the rounding. ``einsum`` uses it if both arrays are
    stored from the last rank to the first, except for a single query, which is therefore passed twice.
    """
    sums, rows = np.empty((len(cutoffs), len(gains))), gains
    if len(gains) == 1:
        last_first = np.ascontiguousarray(gains[0, ::-1])
        rows = np.ndarray((2, last_first.size), gains.dtype, last_first, 0, (0, gains.itemsize))[:, ::-1]
    for into, k in zip(sums, cutoffs, strict=True):
        into[:] = np.einsum("qk,k->q", rows[:, :k], weight[:k])[: len(gains)]
    return sums


# ndcg/measure/options.py: The options of `compute`, checked once and kept in one object, with the names of results and the signature.

__version__ = "2.1.0"

Measure = Literal["nDCG", "DCG", "IDCG", "CG"]  # or with a cutoff, such as "nDCG@10"
Cutoffs = SupportsIndex | Sequence[SupportsIndex | None] | NDArray[np.integer[Any]] | None
Function = TypeVar("Function", bound=Callable[..., Any])
Computed = TypeVar("Computed")

CUTOFFS = mark("cutoffs", said="None for the whole list, or a list of these")
LONGEST_IDEAL = 10**6  # the most documents in a full ideal

# Checked options are remembered, for loops that score batch after batch.
MOST_REMEMBERED = 256
_REMEMBERED_TYPES = (str, int, bool, type(None))
_REMEMBERED: dict[tuple[Any, ...], "Options"] = {}

# Where to find arguments that people try on other methods: hints for errors about unknown options.
ELSEWHERE = {
    **dict.fromkeys(("by", "confidence"), "report and compare have it"),
    **dict.fromkeys(("systems", "baseline", "alternative", "margin", "corrected_over"), "compare has it"),
    **dict.fromkeys(("got", "between"), "explain has it"),
    **OF_LIBRARIES,
}
# Options that methods with their own aggregation do not accept.
AGGREGATION_OPTIONS = ("use_aggregator", "engine")


class ChosenOptions(TypedDict, total=False):
    """The options that a score depends on, for type checkers."""

    ignore_ties: bool
    gain: (
        Literal["linear", "exponential", "binary"]
        | Sequence[float]
        | Mapping[Any, float]
        | Callable[[NDArray[np.float64]], Any]
        | None
    )
    discount: Literal["log", "reciprocal", "jarvelin"] | Sequence[float] | Callable[[NDArray[np.int64]], Any] | None
    log_base: float | None
    ideal: Literal["judged", "truncated", "retrieved", "full"] | None
    score_dtype: Literal["given", "float32"] | None
    score_order: Literal["descending", "ascending"] | Mapping[str, Literal["descending", "ascending"]] | None
    ties: Literal["average", "first", "last", "best", "worst", "docid"] | None
    zero_division: float | Literal["perfect_if_empty"] | None
    negative_relevance: Literal["raise", "clip", "keep"] | None
    judged_only: bool
    duplicates: Literal["raise", "best"]
    exclude_from: Literal["both", "run"]


class ScoringOptions(ChosenOptions, total=False):
    """The options of every method that scores."""

    measures: Measure | str | Sequence[Measure | str]
    convention: str


class ExplainOptions(ChosenOptions, total=False):
    """The options of `explain`."""

    ignore_index: float | None
    missing: Literal["empty", "skip", "raise"] | None


class QueryOptions(ScoringOptions, ExplainOptions, total=False):
    """The options of methods that read whole queries."""


class ComputeOptions(QueryOptions, total=False):
    """The options of `compute`."""

    use_aggregator: bool
    engine: Literal["numpy", "sklearn"]


class Derived(Generic[Computed]):
    """A property that is computed on first access, like `cached_property`, but without its lock in Python 3.11.

    Spark pickles this class for its workers, and a lock cannot be pickled.
    """

    def __init__(self, compute: Callable[[Any], Computed]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __get__(self, owner: Any, kind: type) -> Computed:
        """Return the value, and store it under the property's name; on the class, return the property itself."""
        value: Any = self
        if owner is not None:
            value = vars(owner).setdefault(self.compute.__name__, self.compute(owner))
        return value  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Options:
    """Checked options: how to read and score rankings, and how to return the values."""

    with_cutoffs: tuple[tuple[str, int | None], ...]  # measures with their cutoffs
    gain: Gain | Labels
    discount: Discount
    log_base: float
    ideal: str
    score_dtype: str
    score_order: str
    ties: str
    zero_division: float | str
    negative_relevance: str
    judged_only: bool
    duplicates: str
    exclude_from: str
    ignore_index: float | None
    missing: str
    use_aggregator: bool
    engine: str

    @classmethod
    def parse(cls, **given: Any) -> "Options":
        """Check the options of `compute`; None means the convention's choice."""
        # only hashable, immutable values; floats are excluded because 0.0 == -0.0
        if not all(type(value) in _REMEMBERED_TYPES for value in given.values()):
            return _parsed_options(given)
        key = tuple((name, type(value), value) for name, value in given.items())
        if (parsed := _REMEMBERED.get(key)) is None:
            parsed = _parsed_options(given)
            if len(_REMEMBERED) >= MOST_REMEMBERED:
                _REMEMBERED.clear()
            _REMEMBERED[key] = parsed
        return parsed

    @classmethod
    def of_method(
        cls, method: Callable[..., Any], k: Any, options: Mapping[str, Any], lacks: Sequence[str] = AGGREGATION_OPTIONS
    ) -> "Options":
        """Check the options of a method that accepts those of `compute`, except some, in addition to its own."""
        refuse_unknown(options, method, lacks)
        return cls.parse(k=k, **options)

    @Derived
    def measures(self) -> tuple[str, ...]:
        """The measures, without cutoffs."""
        return tuple(dict.fromkeys(measure for measure, _ in self.with_cutoffs))

    @Derived
    def cutoffs(self) -> tuple[int | None, ...]:
        """The cutoffs of all measures."""
        return tuple(dict.fromkeys(k for _, k in self.with_cutoffs))

    @Derived
    def results(self) -> tuple[tuple[str, str, int], ...]:
        """The name of each result, its measure, and the index of its cutoff."""
        return tuple((result_name(measure, k), measure, self.cutoffs.index(k)) for measure, k in self.with_cutoffs)

    @property
    def labels(self) -> Labels | None:
        """The labels that references may have in place of relevances, with their gains."""
        return self.gain if isinstance(self.gain, Labels) else None

    @Derived
    def sides(self) -> dict[str, Any]:
        """The keyword arguments of `Inputs.settled` and `from_files`."""
        best = "last" if self.ties == "last" else "first"  # among equal scores
        keep = None if self.duplicates == "raise" else best
        return {"score_order": self.score_order, "labels": self.labels, "keep": keep}

    @Derived
    def reading(self) -> dict[str, Any]:
        """The keyword arguments of `reading.read`."""
        names = ("judged_only", "exclude_from", "ignore_index", "score_dtype")
        return {**{name: getattr(self, name) for name in names}, **self.sides, "by_docid": self.ties == "docid"}

    @Derived
    def scoring(self) -> dict[str, Any]:
        """The keyword arguments of `scoring.measure_queries`."""
        names = ("gain", "discount", "log_base", "ideal", "zero_division", "negative_relevance")
        ties = "last" if self.ties == "docid" else self.ties  # documents are read in ascending order of ids
        chosen = {name: getattr(self, name) for name in names}
        if self.labels is not None:  # each relevance is the gain of its label
            chosen |= {"gain": "linear", "negative_relevance": "keep"}
        return {"measures": self.measures, "cutoffs": self.cutoffs, "ties": ties, **chosen}

    @property
    def names(self) -> list[str]:
        """The names of all results."""
        return [name for name, _, _ in self.results]

    def signature(self, *, weighted: bool = False, excluding: bool = False) -> str:
        """Return every option that the scores depend on, in one line."""
        gain, discount = _function_name("gain", self.gain, LABELS), _function_name("discount", self.discount, RANKS)
        unjudged = "removed" if self.judged_only else "0"
        parts: dict[str, Any] = {**vars(self), "gain": gain, "discount": discount, "judged_only": unjudged}
        if discount not in DISCOUNTS or DISCOUNTS[discount].base_above is None:
            del parts["log_base"]
        if not excluding:  # then no score depends on it
            del parts["exclude_from"]
        choices = {
            option.said_as: each if isinstance(each, str) else _number(each)
            for name, option in OPTIONS.items()
            if option.said_as and (each := parts.get(name)) is not None and each not in option.unsaid
        }
        choices |= {"v": __version__, **dict.fromkeys(["weights"] * weighted + ["excluded"] * excluding, "given")}
        return "|".join(["+".join(self.names), *(f"{a}:{b}" for a, b in choices.items())])


def _parsed_options(given: Mapping[str, Any]) -> Options:
    """Check options: first the convention, then each option by itself, in the order of the table, then all together."""
    if unknown := [name for name in given if name not in OPTIONS]:
        raise TypeError(f"unknown option {unknown[0][:100]}; the options are {', '.join(OPTIONS)}")
    values = {name: given.get(name, option.default) for name, option in OPTIONS.items()}
    convention = CONVENTIONS[_checked_option("convention", values["convention"])]
    checked = {
        name: _checked_option(name, getattr(convention, name, option.usual) if values[name] is None else values[name])
        for name, option in OPTIONS.items()
    }
    cutoffs, measures = checked.pop("k"), checked.pop("measures")
    if values["k"] is not None and all("@" in name for name in measures):
        k, several = (mark(name, values[name], said=f"{name}={shown(values[name])}") for name in ("k", "measures"))
        raise InputError(f"{k} and {several} both give cutoffs; give one of the two")
    if checked.pop("ignore_ties"):
        if values["ties"] not in (None, "last"):
            ties = mark("ties", values["ties"], said=f"ties={shown(values['ties'])}")
            both = f"{mark('ignore_ties', True)} means {mark('ties', 'last')}, but {ties} was given too"
            raise InputError(f"{both}; give one of the two")
        checked["ties"] = "last"
    _refuse_base(checked["log_base"], checked["discount"])
    del checked["convention"]
    options = Options(with_cutoffs=_with_cutoffs(measures, cutoffs), **checked)
    if options.ideal == "full":
        name = "convention" if values["ideal"] is None else "ideal"
        _refuse_endless_ideal(options.cutoffs, mark(name, values[name]))
    if options.engine == "sklearn":
        _refuse_what_sklearn_lacks(values, options)
    return options


def _checked_option(name: str, value: Any) -> Any:
    """Return the checked value of an option."""
    if name in _CHECKS:
        return _CHECKS[name](value)
    option = OPTIONS[name]
    return _flag(name, value) if option.is_flag else choice(name, value, tuple(option.words))


OF_COMPUTE = tuple(OPTIONS)  # the names of all options


def signature(
    k: Cutoffs = None, *, sample_weight: Any = None, exclude: Any = None, **options: Unpack[ComputeOptions]
) -> str:
    """Return every option that a score depends on, in one line; only equal signatures are comparable.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        sample_weight: the weights of the queries; the signature records whether there are any.
        exclude: documents to exclude; the signature records whether there are any.
        **options: the options of `compute`.

    >>> signature(k=10)
    'nDCG@10|gain:linear|log:2|ties:average|empty:0|negative:raise|unjudged:0|v:2.1.0'
    """
    return Options.of_method(signature, k, options, lacks=()).signature(
        weighted=sample_weight is not None, excluding=exclude is not None
    )


def shows_options(function: Function) -> Function:
    """Show the options of `compute` in the signature of a function that accepts them as `**options`."""
    own = inspect.signature(function)
    named = {name: each for name, each in own.parameters.items() if each.kind != each.VAR_KEYWORD}
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=Any)
        for name, option in OPTIONS.items()
        if name not in named
    ]
    vars(function)["__signature__"] = own.replace(parameters=[*named.values(), *options])
    return function


def result_name(measure: str, k: int | None) -> str:
    """Return the name of a measure at a cutoff.

    >>> result_name("nDCG", 10), result_name("nDCG", None)
    ('nDCG@10', 'nDCG')
    """
    return measure if k is None else f"{measure}@{k}"


def measure_of(name: str) -> str:
    """Return the measure of a result by its name.

    >>> measure_of("nDCG@10")
    'nDCG'
    """
    return name.partition("@")[0]


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return a value if it is one of several words; else the error names the nearest one."""
    if not isinstance(value, str) or value not in choices:
        near = nearest(value, choices) if isinstance(value, str) else ""
        hint = f'; did you mean "{near}"?' if near else ""
        allowed = ", ".join(f'"{each}"' for each in choices)
        raise InputError(f"{mark(name)} must be one of {allowed}; got {shown(value)}{hint}")
    return str(value)


def is_real(value: Any) -> bool:
    """Return whether a value is a number in the range of float64; a bool is not."""
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def between_0_and_1(name: str, value: Any, example: float) -> float:
    """Return a level, such as that of an interval, which lies between 0 and 1, and not too close to 1."""
    if not is_real(value) or not (float(value) > 0 and (1 + float(value)) / 2 < 1):
        raise InputError(f"{mark(name)} must be between 0 and 1, such as {example}; got {shown(value)}")
    return float(value)


def in_units(name: str, value: Any) -> float:
    """Return an amount in units of the measure: a finite number, not negative."""
    if not is_real(value) or not 0 <= float(value) < math.inf:
        problem = f"must be a finite number, at least 0, in units of the measure; got {shown(value)}"
        raise InputError(f"{mark(name)} {problem}")
    return float(value)


def whole(name: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return an integer from `least` to `most`."""
    if not is_real(value) or not isinstance(value, Integral) or not least <= int(value) <= most:
        upper = "" if most == math.inf else f" and at most {most:,}"
        raise InputError(f"{mark(name)} must be an integer, at least {least}{upper}; got {shown(value)}")
    return int(value)


def _refuse_endless_ideal(cutoffs: Sequence[int | None], setting: str) -> None:
    """Raise an error for cutoffs at which an ideal of k documents would be infinite or take too much memory."""
    if None in cutoffs:
        problem = f"must be given for {setting}, since its ideal has k documents of the highest gain"
        raise InputError(f"{mark('k')} {problem}")
    if (longest := max(k for k in cutoffs if k is not None)) > LONGEST_IDEAL:
        problem = f"must be at most {LONGEST_IDEAL:,} for {setting}, since its ideal has k documents; got {longest}"
        raise InputError(f"{mark('k')} {problem}")


def refuse_unknown(options: Iterable[str], method: Callable[..., Any], lacks: Sequence[str] = ()) -> None:
    """Raise a TypeError for an option that a method does not have; it names the nearest one, or all options."""
    for name in options:
        if name not in OF_COMPUTE or name in lacks:
            raise _unknown_option(name, method, lacks)


def _unknown_option(name: str, method: Callable[..., Any], lacks: Sequence[str]) -> TypeError:
    """Return the error for an option that a method does not have."""
    own = [own for own, each in inspect.signature(method).parameters.items() if each.kind != each.VAR_KEYWORD]
    of_compute = [each for each in OF_COMPUTE if each not in lacks]
    known = list(dict.fromkeys([*own, *of_compute]))
    near = "" if name in lacks else nearest(name, known)
    hint = ELSEWHERE.get(name) or (f"did you mean {near}?" if near else f"it has {', '.join(known)}")
    return TypeError(f"{method.__name__} has no option {name[:100]}; {hint}")


def _refuse_what_sklearn_lacks(values: Mapping[str, Any], options: Options) -> None:
    """Raise an error for an option that is set but that `sklearn.metrics.ndcg_score` does not have."""
    for name, value in values.items():
        kept = getattr(options, name, value)
        usual = ("nDCG",) if name == "measures" else OPTIONS[name].default
        is_given = value is not None if usual is None else kept != usual
        if is_given and name not in ("k", "ignore_ties", "engine"):
            problem = f"sklearn.metrics.ndcg_score has no option {name}; got {shown(value)}"
            raise InputError(f"{mark('engine', 'sklearn')}: {problem}")


def _measure_options_several(name: str, value: Any, check: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Check a single value or every value of a sequence; return them without duplicates."""
    if not isinstance(value, (list, tuple, range)) and not (isinstance(value, np.ndarray) and value.ndim == 1):
        return (check(value),)
    if not len(value):
        raise InputError(f"{mark(name)} is empty; give at least one value")
    return tuple(dict.fromkeys(map(check, value)))


def _cutoff(k: Any) -> int | None:
    if k is not None and (not is_real(k) or not isinstance(k, Integral) or int(k) < 1):
        raise InputError(f"{mark('k')} must be a positive integer, {CUTOFFS}; got {shown(k)}")
    return None if k is None else int(k)


def _with_cutoffs(names: Sequence[str], cutoffs: Sequence[int | None]) -> tuple[tuple[str, int | None], ...]:
    """Return each measure with every cutoff, or with the one in its name."""
    pairs = []
    for name in names:
        measure, _, own = name.partition("@")
        pairs += [(measure, cutoff) for cutoff in ([int(own)] if own else cutoffs)]
    return tuple(dict.fromkeys(pairs))


def _measure_options_measure(name: Any) -> str:
    measure, at, cutoff = name.partition("@") if isinstance(name, str) else (name, "", "")
    if not at:
        if isinstance(name, str) and (cut := re.fullmatch(r"ndcg_cut[._]([0-9]+)", name)):  # as in trec_eval
            raise InputError(f"{name} is nDCG@{cut[1]} here", "measures")
        return choice("measures", name, MEASURES)
    if not cutoff.isdecimal() or not cutoff.isascii() or len(cutoff) > 18 or int(cutoff) < 1:
        problem = f"must have a positive integer after the @, as in nDCG@10; got {shown(name)}"
        raise InputError(f"{mark('measures')} {problem}")
    return result_name(choice("measures", measure, MEASURES), int(cutoff))


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{mark(name)} must be True or False; got {shown(value)}")
    return bool(value)


def _log_base(value: Any) -> float:
    if not is_real(value) or not 0 < float(value) < math.inf or float(value) == 1:
        raise InputError(f"{mark('log_base')} must be a positive number other than 1; got {shown(value)}")
    return float(value)


def _refuse_base(base: float, discount: Any) -> None:
    """Raise an error for a logarithm base that a discount does not allow."""
    above = DISCOUNTS[discount].base_above if isinstance(discount, str) else None
    if above is not None and base <= above:
        problem = f"must be above {above:g} for {mark('discount', discount)}; got {shown(base)}"
        raise InputError(f"{mark('log_base')} {problem}")


def _zero_division(value: Any) -> float | str:
    if isinstance(value, str) and value == PERFECT_IF_EMPTY:
        return value
    if not is_real(value) or math.isinf(float(value)):
        meaning = (
            f'a finite number, nan to exclude queries with no relevant documents from the mean, or "{PERFECT_IF_EMPTY}"'
        )
        raise InputError(f"{mark('zero_division')} must be {meaning}; got {shown(value)}")
    return float(value)


def _ignore_index(value: Any) -> float | None:
    if value is not None and (not is_real(value) or not math.isfinite(value)):
        allowed = f"a finite number, the reference of padding{mark('None', before=', or ')}"
        raise InputError(f"{mark('ignore_index')} must be {allowed}; got {shown(value)}")
    if value is None or isinstance(value, Integral):
        return None if value is None else int(value)
    return float(value)


def _gain(value: Any) -> Gain | Labels:
    if isinstance(value, str) and value in GAINS:
        return str(value)
    if isinstance(value, Mapping):
        return _gains_by_label(value)
    if callable(value):
        function: Callable[[NDArray[np.float64]], Any] = value
        return function
    table = _listed_numbers(value)
    if table is None:
        words = ", ".join(f'"{each}"' for each in GAINS)
        forms = "in a list or of any labels, {label: gain}, or a function"
        meaning = f"{words}, the finite gains of labels 0, 1, 2, ... {mark('forms of gain', said=forms)}"
        near = nearest(value, GAINS) if isinstance(value, str) else ""
        hint = f'; did you mean "{near}"?' if near else ""
        raise InputError(f"{mark('gain')} must be {meaning}; got {shown(value)}{hint}")
    return table


def _gains_by_label(given: Mapping[Any, Any]) -> Gain | Labels:
    """Return gains by label: as a list if the labels are the numbers 0, 1, 2, ..."""
    gains: dict[str | float, float] = {}
    for label, gain in given.items():
        if not isinstance(label, (str, bool, np.bool_)) and not (is_real(label) and math.isfinite(label)):
            raise InputError(f"a label is text, a finite number or a flag; got {shown(label)}", "gain")
        if not is_real(gain) or not math.isfinite(gain):
            raise InputError(f"the gain of {shown(label)} must be a finite number; got {shown(gain)}", "gain")
        if (plain := label_of(label)) in gains:
            raise InputError(f"the label {shown(label)} is there twice; give each label once", "gain")
        gains[plain] = float(gain)
    if not gains:
        raise InputError(f"{mark('gain')} is empty; give the gain of each label")
    in_order = sorted(gains.items(), key=lambda each: (isinstance(each[0], str), each[0]))
    if [label for label, _ in in_order] == [*range(len(gains))] and not any(isinstance(each, str) for each in given):
        return np.array([gain for _, gain in in_order])
    return Labels(tuple(in_order))


def _discount(value: Any) -> Discount:
    if isinstance(value, str):
        return choice("discount", value, tuple(DISCOUNTS))
    if callable(value):
        function: Callable[[NDArray[np.int64]], Any] = value
        return function
    listed = _listed_numbers(value)
    if listed is None or (problem := not_discounts(listed)):
        words = ", ".join(f'"{each}"' for each in DISCOUNTS)
        meaning = f"{words}, a list of the discounts of rank 1, 2, 3, ... or a function"
        reason = "" if listed is None else f", which {problem}"
        raise InputError(f"{mark('discount')} must be {meaning}; got {shown(value)}{reason}")
    return listed


def _listed_numbers(value: Any) -> NDArray[np.float64] | None:
    """Return a list of finite numbers as an array; None for anything else."""
    sequence = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    table = np.array(value, np.float64) if sequence and all(map(is_real, value)) else np.empty(0)
    return table if table.size and np.isfinite(table).all() else None


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


_CHECKS: dict[str, Callable[[Any], Any]] = {  # other options are flags, or one of the words in their row
    "k": partial(_measure_options_several, "k", check=_cutoff),
    "measures": partial(_measure_options_several, "measures", check=_measure_options_measure),
    "convention": partial(choice, "convention", choices=tuple(CONVENTIONS)),
    "gain": _gain,
    "discount": _discount,
    "log_base": _log_base,
    "zero_division": _zero_division,
    "ignore_index": _ignore_index,
}

LABELS = np.array([*range(-2, 33), 100, 1000, *(0.1 * tenth for tenth in range(1, 50))])
RANKS = np.array([*range(1, 33), 100, 1000])


def _function_name(name: str, value: Gain | Labels | Discount, samples: NDArray[Any]) -> str:
    """Return the name of gains or discounts in a signature: of a function, a hash of its results for some values."""
    if isinstance(value, str):
        return value
    if isinstance(value, Labels):
        return value.signature
    if not callable(value):
        return ",".join(map(_number, value))
    answers: list[str] = []
    answered = False
    with np.errstate(all="ignore"):
        for at in range(len(samples)):
            try:
                answers.append(repr(np.asarray(value(samples[at : at + 1]), np.float64).tolist()))
                answered = True
            except Exception as error:  # noqa: BLE001 - whatever it raises, this value has no result
                answers.append(type(error).__name__)
    if not answered:
        known = "labels 0, 1, 2" if name == "gain" else "ranks 1, 2, 3"
        problem = f"has no value for any of the {known}, ..., so the signature cannot identify it"
        raise InputError(f"{mark(name)} {shown(value)} {problem}")
    return f"function#{hashlib.sha256(' '.join(answers).encode()).hexdigest()[:8]}"


# ndcg/show/json_types.py: Convert results to the types that JSON has.

def without_nan(value: Any, instead: Callable[[float], Any] = lambda number: None) -> Any:
    """Return a value in JSON types: named tuples as dicts, `instead` of numbers that are not finite, others as text."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: without_nan(each, instead) for name, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [without_nan(each, instead) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return instead(value)
    return value if value is None or is_real(value) or isinstance(value, (str, bool)) else str(value)


# ndcg/show/tables.py: Format tables, remarks and a signature for people, as text, Markdown, HTML, LaTeX or in a terminal, and as TSV.

LARGE = 1e15  # larger numbers are shown by their first digits: float64 does not hold all digits before the point
CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]  # characters that move the cursor, or worse
TSV_ESCAPES = {code: repr(chr(code))[1:-1] for code in (*CONTROLS, ord("\\"))}
LATEX_SPECIAL = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}

Table = list[list[str]]  # the header first


FOLDED = 8  # the least width of a terminal table's first column, in characters
RICH_PADDING = 3  # padding of a Rich column, in characters


class Readable:
    """Tables, remarks and the signature of a result, if it has one, in readable formats."""

    signature: str

    def tables(self) -> list[Table]:
        """Return tables of text, the header first; the first column holds names.

        Characters that do not print, which ids may have, are escaped.
        """
        return [[list(map(visible, row)) for row in table] for table in self._tables()]

    def remarks(self) -> list[str]:
        """Return the sentences below the tables; characters that do not print are escaped."""
        return list(map(visible, self._remarks()))

    def _tables(self) -> list[Table]:
        raise NotImplementedError

    def _remarks(self) -> Sequence[str]:
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return tables and notes as Markdown."""
        tables = []
        for table in self.tables():
            header, *rows = ("| " + " | ".join(map(markdown_text, row)) + " |" for row in table)
            tables.append("\n".join([header, "|---" + "|---:" * (len(table[0]) - 1) + "|", *rows]))
        remarks = map(markdown_text, self.remarks())
        signature = [f"Signature: `{visible(self.signature)}`"] if self.signature else []
        return "\n\n".join([*tables, *remarks, *signature])

    def __str__(self) -> str:
        return "\n\n".join([*map(_show_tables_plain, self.tables()), "\n".join(_sentences(self))])

    def _repr_html_(self) -> str:
        """Return the HTML for notebooks."""
        tables = []
        for header, *rows in self.tables():
            cells = ["".join(f"<th>{html.escape(each)}</th>" for each in header)]
            cells += ["".join(f"<td>{html.escape(each)}</td>" for each in row) for row in rows]
            tables.append("<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>")
        remarks = "".join(f"<p>{html.escape(each)}</p>" for each in self.remarks())
        signature = f"<p>Signature: <code>{html.escape(visible(self.signature))}</code></p>" if self.signature else ""
        return "".join(tables) + remarks + signature


def _show_tables_plain(table: Table) -> str:
    """Return a table as plain text."""
    widths = _widths(table)
    rows = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in table)
    return "\n".join("  ".join(row).rstrip() for row in rows)


def _show_tables_records(table: Table) -> str:
    """Return each row of a table as its name and, below it, a line with the heading and value of each cell.

    A row without a name continues the one above.

    >>> print(_records([["run", "queries", "nDCG"], ["bm25", "60", "0.5"]]))
    run: bm25
     queries  60
     nDCG     0.5
    """
    (name, *headings), *rows = table
    width = max(map(len, headings), default=0)
    lines = []
    for first, *cells in rows:
        lines += [f"{name}: {first}"] if first else []
        lines += [f" {heading.ljust(width)}  {cell}" for heading, cell in zip(headings, cells, strict=True) if cell]
    return "\n".join(lines)


def _widths(table: Table) -> list[int]:
    """Return the width of each column in characters."""
    return [max(map(len, column)) for column in zip(*table, strict=True)]


def latex_of(result: Readable) -> str:
    """Return a LaTeX tabular for each table, after comments with the remarks and the signature."""
    lines = [f"% {remark}" for remark in (*result.remarks(), visible(result.signature))]
    for table in result.tables():
        lines += tabular("l" + "r" * (len(table[0]) - 1), [list(map(latex_text, row)) for row in table])
    return "\n".join(lines)


def tabular(columns: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a LaTeX tabular, from its column types and its rows in LaTeX, the header first."""
    header, *body = (" & ".join(row) + " \\\\" for row in rows)
    begin, end = f"\\begin{{tabular}}{{{columns}}}", "\\end{tabular}"
    return [begin, "\\hline", header, "\\hline", *body, "\\hline", end]


def rich_of(result: Readable) -> str:
    """Return tables that fit the terminal; a table that would lose digits is plain text, or one value per line.

    Raises:
        ImportError: Rich is missing.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console(highlight=False)
    with console.capture() as captured:
        for cells in result.tables():
            first, *others = _widths(cells)
            if min(first, FOLDED) + sum(others) + RICH_PADDING * len(cells[0]) > console.width:
                fits = sum([first, *others]) + 2 * len(others) <= console.width
                console.print(Text(f"{_show_tables_plain(cells) if fits else _show_tables_records(cells)}\n"), soft_wrap=True)
                continue
            header, *rows = cells
            table = RichTable(box=box.SIMPLE_HEAD)
            for at, name in enumerate(header):
                table.add_column(Text(name), justify="right" if at else "left", overflow="fold", no_wrap=at > 0)
            for row in rows:
                table.add_row(*map(Text, row))
            console.print(table)
        for sentence in _sentences(result):
            console.print(Text(sentence), soft_wrap=not sentence.endswith("."))  # do not wrap lines to copy
    return captured.get().rstrip("\n")


def tsv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""Return a line with the names of all columns, then a line for each row.

    Control characters are escaped, so that `cut` and `sort` find the columns.

    >>> tsv_of([{"query": "a\tb", "score": 0.5}, {"query": "c", "slice": None}]).split("\n")
    ['query\tscore\tslice', 'a\\tb\t0.5\t', 'c\t\t']
    """
    names = dict.fromkeys(name for row in rows for name in row)
    lines: list[list[Any]] = [list(names), *([row.get(name) for name in names] for row in rows)]
    cells = (["" if each is None else str(each).translate(TSV_ESCAPES) for each in line] for line in lines)
    return "\n".join(map("\t".join, cells))


def _sentences(result: Readable) -> list[str]:
    """Return the sentences below the tables of plain text."""
    return [*result.remarks(), *([f"Signature: {visible(result.signature)}"] if result.signature else [])]


def number_text(value: float | None, places: int = 4, sign: str = "") -> str:
    """Return a number as tables show it, with a sign also before positive ones if that is "+".

    >>> number_text(0.5), number_text(0.25, 2, "+"), number_text(1.5e200), number_text(math.nan)
    ('0.5000', '+0.25', '1.5000e+200', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    return f"{value:{sign}.{places}{'f' if abs(value) < LARGE else 'e'}}"


def interval_text(low: float, high: float, places: int = 4, sign: str = "") -> str:
    """Return an interval, or a range, as tables show it.

    >>> interval_text(0.25, 0.5, 2), interval_text(math.nan, math.nan)
    ('0.25 – 0.50', '–')
    """
    return "–" if math.isnan(low) else f"{number_text(low, places, sign)} – {number_text(high, places, sign)}"


def level_text(confidence: float) -> str:
    """Return the name of an interval.

    >>> level_text(0.95)
    '95% interval'
    """
    return f"{100 * confidence:g}% interval"


def count_text(value: float | None) -> str:
    """Return a number of queries or documents as tables show it; an expected number has decimals.

    >>> count_text(1234567), count_text(12.25), count_text(None)
    ('1,234,567', '12.25', '–')
    """
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}".rstrip("0").rstrip(".")


def counted_text(counted: int | None, queries: int) -> str:
    """Return the number of queries in a mean, with the number of all queries if some are excluded.

    >>> counted_text(300, 300), counted_text(1274, 1300), counted_text(None, 300)
    ('300', '1,274 of 1,300', '–')
    """
    return count_text(counted) + (f" of {count_text(queries)}" if counted not in (None, queries) else "")


def p_text(value: float) -> str:
    """Return a p-value as tables show it.

    >>> p_text(0.04), p_text(0.0001), p_text(0.00009)
    ('0.0400', '0.0001', '<0.0001')
    """
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def cell_text(value: Any, places: int = 4) -> str:
    """Return the cell of a number or an id; an id may also be a number.

    >>> cell_text("q7"), cell_text(7), cell_text(0.5, 2), cell_text(None)
    ('q7', '7', '0.50', '–')
    """
    return number_text(value, places) if value is None or isinstance(value, float) else str(value)


def letter_text(index: int) -> str:
    """Return the letters a, b, ..., z, aa, ab, ...

    >>> [letter_text(index) for index in (0, 25, 26, 701, 702)]
    ['a', 'z', 'aa', 'zz', 'aaa']
    """
    return (letter_text(index // 26 - 1) if index >= 26 else "") + chr(ord("a") + index % 26)


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> print(latex_text("50%_of $x$"))
    50\%\_of \$x\$
    """
    return "".join(LATEX_SPECIAL.get(each, "\\" + each if each in "&%$#_{}" else each) for each in text)


def markdown_text(text: str) -> str:
    r"""Escape text for Markdown.

    >>> print(markdown_text("<b>|_&"))
    \<b\>\|\_\&
    """
    escaped = "".join("\\" + each if each in "\\`*_{}[]<>#|~$&" else each for each in text)
    return " ".join(escaped.split())


# ndcg/inputs/sources.py: Convert values from any library to lists, and to NumPy and Arrow arrays.

ARROW = (pa.Array, pa.ChunkedArray)
DATABASES = ("chdb", "daft", "datafusion", "duckdb", "ibis", "pyspark", "sqlframe")


def settled(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments, with tensors and columns of other libraries converted with ``plain``, each only once."""
    foreign = {name: values for name, values in arguments.items() if not _is_plain(values)}
    if not foreign:
        return dict(arguments)
    queries = {id(values): name for name, values in foreign.items() if is_database_query(values)}
    if len(queries) > 1:
        first, second, *_ = queries.values()
        raise ValueError(
            f"{second}: is a separate database query ({type(arguments[second]).__name__}), as {first} is, and the rows "
            "of two queries come in no common order; give both as columns of one: "
            "data=relation, predictions='score', references='relevance'"
        )
    indexes = {name: values.index for name, values in foreign.items() if _has_index(values)}
    for name, index in indexes.items():
        first = next(iter(indexes))
        if index is not indexes[first] and not index.equals(indexes[first]):
            raise ValueError(
                f"{name}: its index differs from the index of {first}, and rows are matched by position, not by index; "
                "join both tables by query and document first, or give .to_numpy() of each if their order is right"
            )
    converted_by_id: dict[int, Any] = {}
    for name, values in foreign.items():
        if id(values) not in converted_by_id:
            converted_by_id[id(values)] = plain(name, values)
    return {name: converted_by_id.get(id(values), values) for name, values in arguments.items()}


def _is_plain(values: Any) -> bool:
    """Return whether a value is a list, a dict, None or a NumPy array, which need no conversion."""
    kind = type(values)
    return kind in (NoneType, list, tuple, dict) or (kind is np.ndarray and values.dtype.names is None)


def is_database_query(values: Any) -> bool:
    """Return whether reading a value runs or consumes a query, so that its rows have no fixed order."""
    runs = library_of(values).lstrip("_") in DATABASES and hasattr(values, "__arrow_c_stream__")
    return runs or isinstance(values, pa.RecordBatchReader)


def library_of(values: Any) -> str:
    """Return the name of the library that defines the type of a value."""
    return type(values).__module__.partition(".")[0]


def is_spark(values: Any) -> bool:
    """Return whether a value is a Spark DataFrame, classic or Connect."""
    return hasattr(values, "mapInArrow") and library_of(values) == "pyspark"


def listed(side: Any) -> Any:
    """Return a generator as a list; other values unchanged."""
    is_read_once = isinstance(side, Iterator) and not isinstance(side, io.IOBase) and not is_database_query(side)
    return list(side) if is_read_once else side


def is_sparse(values: Any) -> bool:
    """Return whether it is a sparse matrix or array of SciPy."""
    return hasattr(values, "tocsr") and library_of(values) == "scipy"


def _rows_of_sparse(values: Any) -> Any:
    """Return a sparse matrix by rows, with the columns of each ascending and distinct; its own copy if need be."""
    if values.ndim != 2:
        raise ValueError(f"{values.ndim}-D; its rows must be queries, and its columns documents")
    rows = values.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _has_index(values: Any) -> bool:
    """Return whether the rows of a value have an index, as in pandas."""
    return library_of(values) == "pandas" and hasattr(getattr(values, "index", None), "equals")


def values_by_query(argument: str, values: Any, sides: Iterable[Any]) -> Any:
    """Return a pandas column with a value for each query by the ids in its index; other values unchanged.

    An index that only counts the rows has no ids, nor has the index of a side, whose rows are the queries too: their
    values are in the order of the queries.

    >>> values_by_query("by", ["en", "de"], [])
    ['en', 'de']

    Raises:
        ValueError: an id is in the index twice.
    """
    if not _has_index(values):
        return values
    ids = values.index.tolist()
    if ids == list(range(len(ids))):
        return values
    if any(_has_index(side) and values.index.equals(side.index) for side in sides):
        return values
    if not values.index.is_unique:
        again = ids[int(values.index.duplicated().argmax())]
        raise InputError(f"its index has {shown(again)} twice; give one value for each query", argument)
    column = plain(argument, values)
    return dict(zip(ids, column.to_pylist() if isinstance(column, ARROW) else column.tolist(), strict=True))


def plain(argument: str, values: Any) -> Any:
    """Convert a tensor or a column of another library to a NumPy or Arrow array; return other values unchanged."""
    if isinstance(values, (list, tuple)):
        return values
    try:
        array = converted(values)
    except BaseException as error:  # any error of its library gives the reason
        raise_unless_of_values(error)
        problem = f"{type(values).__name__} cannot be read: {in_short(error)}"
        raise InputError(f"{problem}; give lists, a dense NumPy array or an Arrow column", argument) from error
    if isinstance(kind := getattr(array, "type", None), pa.BaseExtensionType):
        raise InputError(f"holds values of the type {kind}; give numbers, or ids as text", argument)
    if names := _field_names(array):
        raise InputError(
            f"must be one column; got a table of columns {shown(names)}. If each row is a document, join both sides "
            "into one table by query and document and give its columns: predictions, references, "
            f"{mark('query_ids')} and {mark('document_ids')}. If each row is a query, give its column of lists",
            argument,
        )
    return array


def plain_in_order(argument: str, values: Any) -> Any:
    """Convert values, one for each query in the order of the queries, as ``plain`` does; a database has no order."""
    if is_database_query(values):
        kind = type(values).__name__
        problem = "so its rows may come in another order than the queries; give a column of the table with the rankings"
        raise InputError(f"is a separate database query ({kind}), {problem}", argument)
    return plain(argument, values)


def converted(values: Any) -> Any:
    """Return values as an array, by the first method that their library has, without importing a library.

    A sparse matrix of SciPy stays sparse.
    """
    if is_sparse(values):
        return _rows_of_sparse(values)
    if isinstance(values, (np.ndarray, *ARROW, Mapping)):
        return values
    if library_of(values) == "torch" and hasattr(values, "detach"):
        return _from_torch(values)
    if library_of(values) == "cupy" and hasattr(values, "get"):
        return values.get()  # a copy to the host, which CuPy never makes by itself
    if hasattr(values, "column_names") and hasattr(values, "with_format"):  # a Dataset
        return converted(values[values.column_names[0]]) if len(values.column_names) == 1 else values
    if hasattr(values, "column_name") and hasattr(values, "__len__"):  # a column of a Hugging Face Dataset
        source = values.source
        if hasattr(source, "format") and source.format["type"] in (None, "arrow"):
            return type(values)(source.with_format("arrow"), values.column_name)[:]
        return converted(values[:])
    if hasattr(values, "__arrow_c_stream__"):
        if (rows := _masked_rows(values)) is not None:
            return rows
        try:
            return _only_column(pa.chunked_array(values))
        except Exception:
            if getattr(values, "ndim", None) != 1:
                raise
            return np.asarray(values)  # a column that Arrow cannot hold, such as a sparse one or one of mixed objects
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    if _has_index(values) and values.ndim == 1 and values.dtype.kind == "f":
        return pa.array(values, from_pandas=True)  # NaN is a missing value, as in newer pandas
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return values


def _from_torch(tensor: Any) -> Any:
    """Return a PyTorch tensor as a NumPy array, copied from the accelerator; a nested one as a list of tensors."""
    if tensor.is_nested:
        return list(tensor.unbind())
    if not tensor.dtype.is_floating_point or str(tensor.dtype) in ("torch.float16", "torch.float32", "torch.float64"):
        return tensor.numpy(force=True)
    widened, like = tensor.float().numpy(force=True).view(Widened), tensor.new_empty(0)
    widened.rounded = lambda number: float(like.new_tensor(float(number)))
    return widened


class Widened(np.ndarray[Any, Any]):
    """Values of a float type that NumPy lacks, as float32, with a function that rounds to the original type."""

    rounded: Callable[[float], float] = float

    def __array_finalize__(self, source: Any) -> None:
        self.rounded = getattr(source, "rounded", float)


def _masked_rows(values: Any) -> list[Any] | None:
    """Return the rows of a column of objects, if some are masked arrays, because Arrow ignores masks."""
    if getattr(values, "ndim", None) == 2 and values.shape[1] == 1 and hasattr(values, "iloc"):
        values = values.iloc[:, 0]
    if str(getattr(values, "dtype", None)).lower() != "object":
        return None
    if isinstance(next(iter(values), None), (str, int)):  # ids; looking at each takes long
        return None
    rows = list(values)
    return rows if any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, rows))) else None


def _field_names(values: Any) -> list[str]:
    """Return the names of the columns of a table; none for anything else."""
    if isinstance(values, ARROW) and pa.types.is_struct(values.type):
        return [field.name for field in values.type]
    if isinstance(values, np.ndarray):
        return list(values.dtype.names or ())
    return list(values.column_names or ()) if hasattr(values, "with_format") else []


def _only_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column of a table with a single column, not counting the pandas index."""
    if not pa.types.is_struct(column.type):
        return column
    fields = [at for at, field in enumerate(column.type) if not field.name.startswith("__index_level_")]
    if len(fields) != 1:
        return column
    return pa.chunked_array([chunk.flatten()[fields[0]] for chunk in column.chunks], column.type.field(fields[0]).type)


# ndcg/measure/interrupts.py: Handle Ctrl-C and other signals while running code that may catch or replace the errors they raise.

INTERRUPTS = {"SIGINT", "SIGTERM", "SIGALRM"} & {*dir(signal)}  # Windows has no alarm


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise, at the end of the block, the error that a signal handler raised in it, such as KeyboardInterrupt.

    It takes precedence over every other outcome, because the interrupted code may catch the error or raise another.
    NumPy, for example, raises an ImportError with advice on how to install it.
    """
    raised: list[BaseException] = []
    before: dict[int, tuple[Any, Any]] = {}

    def watched(handler: Callable[..., Any]) -> Callable[..., Any]:
        def watch(number: int, frame: Any) -> Any:
            try:
                return handler(number, frame)
            except BaseException as error:
                raised.append(error)
                raise

        return watch

    try:
        with suppress(ValueError):  # signals only reach the main thread
            for number in map(signal.Signals.__getitem__, INTERRUPTS):
                if callable(handler := signal.getsignal(number)):
                    before[number] = watched(handler), handler
                    signal.signal(number, before[number][0])
        yield
    finally:
        for caught, (ours, handler) in before.items():
            if signal.getsignal(caught) is ours:
                signal.signal(caught, handler)
        if raised:
            raise raised[0]


# ndcg/scores/progress.py: Show the progress of work that takes long.

_Item = TypeVar("_Item")


def progress(total: int, doing: str, unit: str, initial: int = 0) -> Any:
    """Return a progress bar for work that takes over two seconds, on a terminal, unless datasets has disabled them."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return nullcontext(SimpleNamespace(update=lambda done: None))
    datasets = sys.modules.get("datasets")
    disable = True if datasets and datasets.are_progress_bars_disabled() else None  # None shows it on a terminal only
    return tqdm(total=total, desc=doing, unit=unit, initial=initial, delay=2, leave=False, disable=disable)


def tracked(items: Sequence[_Item], doing: str, unit: str) -> Iterator[_Item]:
    """Yield items, and show how many are done."""
    with progress(len(items), doing, unit) as bar:
        for item in items:
            yield item
            bar.update(1)


# ndcg/inputs/ids.py: Ids: which values are ids, and the ids of rows as indices into the distinct ids.

NO_ID = "is neither text nor an integer, as ids must be"
TO_INTEGERS = "convert ids that are whole numbers to integers, before they become text"
SURROGATE = re.compile("[\ud800-\udfff]")  # the replacement of a byte that is not UTF-8
MAY_BE_FLOAT = re.compile(r"'-?[0-9]+(\.0+)?'$")
FEW_IDS = 1 << 9  # with fewer rows, numbering ids one by one is faster than Arrow
PROBE = 1 << 10  # rows sampled to see whether equal ids are adjacent, or whether inputs share ids
THREADED = 1 << 20  # with more rows, several threads share the work
RowNumbers = NDArray[np.int64]
Order = slice | RowNumbers


def once(kind: str) -> str:
    """Return what an error about a repeated document in a run, or in qrels, says to do.

    >>> print(InputError(once("run")), once("qrels"), sep="; ")
    give it once for a query, or duplicates="best" to count it once, at its best rank; give it once for a query
    """
    best = f", or {mark('duplicates', 'best')} to count it once, at its best rank"
    return "give it once for a query" + best * (kind == "run")


# Kinds


def id_kind(kind: "type | pa.DataType") -> str:
    """Return the kind of ids that a Python or Arrow type represents; an empty string if its values are not ids.

    Ids of the same kind can be equal, whatever their width or unit; ids of two kinds are never equal.
    """
    if isinstance(kind, pa.DataType):
        return ARROW_IDS.get(kind.id, "")
    if kind in USUAL:
        return USUAL[kind]
    if issubclass(kind, (bool, np.timedelta64)) or kind.__name__ == "NaTType":  # would pass for integers and times
        return ""
    for name, kinds in PYTHON_IDS.items():
        if issubclass(kind, kinds):
            return name
    return ""


USUAL = {str: "text", int: "integers", float: ""}  # types of nearly all values
PYTHON_IDS: dict[str, type] = {
    "text": str,
    "integers": Integral,
    "bytes": bytes,
    "times": datetime.datetime,  # checked before dates, because Python counts a datetime as a date
    "dates": datetime.date,
}
ARROW_IDS = {
    pa.string().id: "text",
    pa.large_string().id: "text",
    pa.string_view().id: "text",
    **dict.fromkeys((each.id for each in (pa.int8(), pa.int16(), pa.int32(), pa.int64())), "integers"),
    **dict.fromkeys((each.id for each in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())), "integers"),
    pa.binary().id: "bytes",
    pa.large_binary().id: "bytes",
    pa.timestamp("s").id: "times",
    pa.date32().id: "dates",
    pa.date64().id: "dates",
}


def types_of_no_ids(values: Iterable[Any]) -> set[type]:
    """Return the types of those values that are not ids.

    >>> types_of_no_ids(["a", 7, None])
    {<class 'NoneType'>}
    """
    return {kind for kind in set(map(type, values)) if not id_kind(kind)}


def float_hint(one: str, other: str) -> str:
    """Return the hint for two ids that are the same whole number, but one of them ends in .0.

    >>> float_hint("document '101.0'", "document '7'"), float_hint("document '101'", "document '7'")
    ("; convert ids that are whole numbers to integers, before they become text: '101.0' was a float", '')
    """
    found = [MAY_BE_FLOAT.search(each) for each in (one, other)]
    floats = [each[0] for each in found if each is not None and each[1]]
    return f"; {TO_INTEGERS}: {floats[0]} was a float" if all(found) and len(floats) == 1 else ""


def _other_way(value: Any) -> str:
    """Return advice on what to pass instead of a value that is not an id."""
    is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return f"give {int(value)}" if is_whole else "give others as text"


def check_ids(argument: str, side: Mapping[Any, Any], nested: bool = True) -> None:
    """Raise an error for a key of a mapping, or of a nested mapping, that is not an id.

    >>> try:
    ...     check_ids("references", {"q": {"d": 1, None: 0}})
    ... except ValueError as error:
    ...     print(error)
    references: query 'q': document None is neither text nor an integer, as ids must be; give others as text
    """
    wrong = types_of_no_ids(chain(side, chain.from_iterable(side.values())) if nested else side)
    for query, documents in side.items() if wrong else ():
        if type(query) in wrong:
            raise InputError(f"query {shown(query)} {NO_ID}; {_other_way(query)}", argument)
        for document in documents if nested else ():
            if type(document) in wrong:
                problem = f"document {shown(document)} {NO_ID}; {_other_way(document)}"
                raise InputError(problem, argument, f"query {shown(query)}")


# Ids of rows


class Ids(NamedTuple):
    """The ids of rows, stored once for each run of rows with the same id."""

    distinct: pa.Array  # the distinct ids, in the order of their first rows
    code: RowNumbers  # the id of each run, as an index into these
    starts: RowNumbers | None = None  # the first row of each run, and the number of rows; None if every row is a run

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.code) if self.starts is None else int(self.starts[-1])

    @property
    def codes(self) -> RowNumbers:
        """An index into the distinct ids for each row."""
        return self.code if self.starts is None else np.repeat(self.code, np.diff(self.starts))

    def grouped(self) -> tuple[Order, RowNumbers]:
        """Return a stable order of the rows by id, and the start of each id."""
        if self.starts is not None and len(self.code) == len(self.distinct):
            return slice(None), self.starts
        return grouped(self.codes, len(self.distinct))


def grouped(code: RowNumbers, groups: int) -> tuple[Order, RowNumbers]:
    """Return a stable order of the rows by group, and the start of each group.

    >>> order, offsets = grouped(np.array([1, 0, 1]), 3)
    >>> order.tolist(), offsets.tolist()
    ([1, 0, 2], [0, 1, 3, 3])
    """
    offsets = np.append(0, np.bincount(code, minlength=groups).cumsum())
    if (code[1:] >= code[:-1]).all():
        return slice(None), offsets
    bits = len(code).bit_length()
    if groups.bit_length() + bits < 64:  # sorting numbers is faster than sorting indices
        packed = code << bits
        packed |= np.arange(len(code))
        packed.sort()
        packed &= (1 << bits) - 1
        return packed, offsets
    return np.argsort(code, kind="stable"), offsets


def encode_ids(argument: str, values: Any) -> tuple[RowNumbers, pa.Array]:
    """Return for each row an index into the distinct ids, which are in the order of their first rows."""
    ids = read_ids(argument, values)
    return ids.codes, ids.distinct


def read_ids(argument: str, values: Any) -> Ids:
    """Return the ids of rows."""
    if isinstance(values, (list, tuple)) and (few := _few(values)) is not None:
        return few
    ids = _checked_ids(argument, values)
    if pa.types.is_string_view(ids.type):  # Arrow 21 compares no views
        ids = ids.cast(pa.large_string())
    return _encoded(ids)


def id_column(argument: str, values: Any) -> pa.ChunkedArray:
    """Return the ids of rows as an Arrow column: text as strings, and integers in 64 bits."""
    ids = _checked_ids(argument, values)
    if pa.types.is_null(ids.type):
        ids = ids.cast(pa.string())
    wide = {"text": pa.string(), "bytes": pa.binary(), "integers": pa.int64(), "dates": pa.date32()}
    kind = wide.get(id_kind(ids.type), ids.type)
    ids = ids if ids.type == kind or pa.types.is_uint64(ids.type) else ids.cast(kind)
    return ids if isinstance(ids, pa.ChunkedArray) else pa.chunked_array([ids])


def _checked_ids(argument: str, values: Any) -> "pa.Array | pa.ChunkedArray":
    """Return ids as an Arrow column, each of them an id."""
    ids = _id_column(argument, values)
    if pa.types.is_dictionary(ids.type) and id_kind(ids.type.value_type):
        ids = decoded(ids)
    kind = id_kind(ids.type)
    if ids.null_count:
        row = int(np.flatnonzero(ids.is_null())[0])
        raise InputError(f"row {row} is None; give each row an id", argument)
    if len(ids) and not kind:
        given = shown(str(ids.type))[1:-1]
        numbers = ids.cast(pa.float64()) if pa.types.is_floating(ids.type) else []
        is_whole = len(numbers) and pc.all(pc.equal(numbers, pc.trunc(numbers))).as_py()
        hint = TO_INTEGERS if is_whole else "give others as text"
        raise InputError(f"{mark(argument)} must be integers or strings, one per row; got {given}; {hint}")
    if kind in ("dates", "times"):
        _refuse_hidden(argument, ids)
    return ids


def _few(values: Sequence[Any]) -> Ids | None:
    """Read a few ids that are all text or all integers; return None for others."""
    if not 0 < len(values) <= FEW_IDS or set(map(type, values)) not in ({str}, {int}):
        return None
    index: dict[Any, int] = {}
    code = [index.setdefault(each, len(index)) for each in values]
    try:
        return Ids(pa.array(list(index)), np.array(code))
    except (OverflowError, UnicodeError):  # raised for integers beyond int64, or text that UTF-8 cannot encode
        return None


def _encoded(ids: "pa.Array | pa.ChunkedArray") -> Ids:
    """Encode the ids of all rows or, if equal ids are adjacent, only of the first row of each run."""
    if len(ids) and len(_heads(ids[:PROBE])) <= min(len(ids), PROBE) // 4:
        heads = _heads(ids)
        return _encoded(ids.take(pa.array(heads)))._replace(starts=np.append(heads, len(ids)))
    parts = [part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in _split_rows(ids)]
    encoded = pa.chunked_array(in_threads(pc.dictionary_encode, parts)).unify_dictionaries()
    codes = np.concatenate([part.indices for part in encoded.chunks], dtype=np.int64)
    return Ids(encoded.chunk(0).dictionary, codes)


def _heads(ids: "pa.Array | pa.ChunkedArray") -> RowNumbers:
    """Return the first row of each run of equal ids."""
    if len(ids) < 2:  # there is nothing to compare, and Arrow 21 would crash
        return np.zeros(len(ids), np.int64)

    def changes(after: Any, before: Any) -> RowNumbers:
        return np.asarray(pc.indices_nonzero(pc.not_equal(after, before)).to_numpy().astype(np.int64))

    after, before = _split_rows(ids[1:]), _split_rows(ids[:-1])
    starts = np.cumsum([1, *map(len, after)])[:-1]
    return np.concatenate([[0], *map(np.add, starts, in_threads(changes, after, before))])


def _split_rows(rows: "pa.Array | pa.ChunkedArray") -> "list[pa.Array | pa.ChunkedArray]":
    """Return the rows in a single part, or if there are many, in one part for each thread."""
    step = -(-len(rows) // pa.cpu_count()) if len(rows) > THREADED else max(len(rows), 1)
    return [rows[start : start + step] for start in range(0, len(rows), step)] or [rows]


def decoded(column: "pa.Array | pa.ChunkedArray") -> pa.ChunkedArray:
    """Return the values of a dictionary column, and views of text as strings."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    kind = pa.string() if id_kind(column.type.value_type) == "text" else column.type.value_type
    return pa.chunked_array([chunk.dictionary.cast(kind).take(chunk.indices) for chunk in chunks], kind)


def _id_column(argument: str, ids: Any) -> "pa.Array | pa.ChunkedArray":
    """Return ids as an Arrow column."""
    if isinstance(ids, ARROW):
        return ids
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise InputError(f"{mark(argument)} must be flat, an id for each row; got {ids.ndim}-D")
        if ids.dtype.kind == "T":
            ids = ids.astype(object)  # some versions of pyarrow cannot read NumPy's string type
        elif ids.dtype.kind in "iu":
            ids = ids.astype(ids.dtype.newbyteorder("="), copy=False)
    elif not isinstance(ids, (list, tuple)):
        given = f"the text {shown(ids)}; give the column" if isinstance(ids, str) else type(ids).__name__
        raise InputError(f"{mark(argument)} must be integers or strings, one per row; got {given}")
    try:
        try:
            given = pa.array(ids)
        except OverflowError:
            return pa.array(ids, pa.uint64())
        if id_kind(given.type) in ("bytes", "dates", "times") and isinstance(ids, (list, tuple)):
            _refuse_mixed(argument, ids)  # in Arrow's common type, different ids may be equal
        return given
    except (pa.ArrowException, OverflowError, TypeError, UnicodeError) as error:
        first: dict[type, str] = {}
        for row, each in enumerate(ids):
            if each is not None:
                first.setdefault(type(each), f"{shown(each)} in row {row}")
        given = in_short(error) if len(first) == 1 else " and ".join(list(first.values())[:2])
        if isinstance(error, UnicodeEncodeError):
            problem = f"got {shown(error.object)}, which UTF-8 cannot encode"
            hint = "decode ids in their own encoding, without errors='surrogateescape'"
            raise InputError(f"{mark(argument)} must be Unicode text, as in a file; {problem}; {hint}") from None
        raise InputError(
            f"{mark(argument)} must be all text or all integers of at most 64 bits; got {given}; give all as text"
        ) from None


def _refuse_mixed(argument: str, ids: Sequence[Any]) -> None:
    """Raise an error for ids of two kinds, such as bytes and text, or dates and times."""
    first: dict[str, str] = {}
    for row, each in enumerate(ids):
        if each is not None:
            first.setdefault(id_kind(type(each)), f"{shown(each)} in row {row}")
    if len(first) > 1:
        both = " and ".join(list(first.values())[:2])
        raise InputError(f"{mark(argument)} must be of the same kind; got {both}; give all as text")


def _refuse_hidden(argument: str, ids: "pa.Array | pa.ChunkedArray") -> None:
    """Raise an error for times that Python or Arrow cannot show: years out of range, or an unknown time zone."""
    try:
        for extreme in pc.min_max(ids).values():
            extreme.as_py()
            extreme.cast(pa.string())
    except Exception as error:  # noqa: BLE001 - the library of time zones is one of several
        problem = f"hold times that cannot be shown ({ids.type}): {in_short(error)}"
        raise InputError(f"{problem}; give integers or times as text", argument) from None


# Ids of predictions and references


def family(kind: pa.DataType) -> str:
    """Return the kind of ids of a type, for times with their zone; ids of two families are never equal."""
    name = id_kind(kind)
    return f"{name} of {kind.tz}" if name == "times" else name


def index_among(ids: Any, among: Any) -> RowNumbers:
    """Return the index of each id among other ids of its family, columns or lists; -1 if it is not among them.

    >>> index_among(pa.array([1, 7]), pa.array([5, 7], pa.int8())).tolist()
    [-1, 1]
    """
    if isinstance(ids, list) or isinstance(among, list):
        index = dict(zip(as_list(among), count(), strict=False))
        return np.array([index.get(each, -1) for each in as_list(ids)], np.int64)
    if not len(ids) or not len(among) or family(ids.type) != family(among.type):
        return np.full(len(ids), -1, np.int64)
    values, own = ids, among
    if pa.types.is_timestamp(among.type):
        try:
            values = ids.cast(among.type)
        except pa.ArrowInvalid:  # these have more precision than the others, so none can be equal
            own = among.cast(ids.type)
    else:  # compared as bytes of any width
        through = pa.large_binary() if id_kind(ids.type) == "bytes" else pa.large_string()
        values, own = (each.cast(through).cast(pa.large_binary()) for each in (ids, among))
    return np.asarray(pc.fill_null(pc.index_in(values, own), -1).to_numpy().astype(np.int64))


def as_list(ids: Any) -> list[Any]:
    """Return ids of a column as a list."""
    return ids if isinstance(ids, list) else list(ids.to_pylist())


# Order


def ascending(ids: Iterable[Any]) -> list[Any]:
    r"""Return ids in ascending order of their bytes, as trec_eval compares them: text in UTF-8, other ids as text.

    >>> ascending([b"\xff", b"b"]), ascending([9, 10])
    ([b'b', b'\xff'], [10, 9])
    """
    ids = list(ids)
    if all(id_kind(kind) != "bytes" for kind in set(map(type, ids))):
        return sorted(ids, key=str)  # code points sort like their bytes in UTF-8
    return sorted(ids, key=lambda each: each if isinstance(each, bytes) else str(each).encode("utf-8", "surrogatepass"))


def ordinals(ids: "pa.Array | pa.ChunkedArray") -> RowNumbers:
    """Return the position of each id in the order of `ascending`."""
    if id_kind(ids.type) not in ("text", "bytes"):
        ids = ids.cast(pa.large_string())
    return np.asarray(pc.rank(ids, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64))


# ndcg/inputs/columns.py: Read predictions or references from any library: values, the start of each query, missing values and padding.

# describes a query, by its index, and a document in it, by its position or None
Place = Callable[[int, int | None], str]


class Column(NamedTuple):
    """Predictions or references, query after query."""

    values: NDArray[Any]  # the values of the documents
    offsets: NDArray[np.int64]  # the start of each query, from 0, and the end of the last one
    present: Mask | None = None  # False for a missing value; None if none is missing
    padding: Mask | None = None  # True for a value that marks padding; None if no value can

    def reordered(self, order: Any, offsets: NDArray[np.int64]) -> "Column":
        """Return the documents in another order, and with other offsets."""
        present, padding = (None if mask is None else mask[order] for mask in (self.present, self.padding))
        return Column(self.values[order], offsets, present, padding)

    def without_unretrieved(self, score_order: str) -> "Column":
        """Return the same scores, in ascending order with those missing that mark a document not retrieved, inf."""
        return self if score_order == "descending" else self.only(self.values != np.inf)

    def only(self, present: Mask) -> "Column":
        """Return the same values, but those for which a mask is False are missing."""
        present = present if self.present is None else present & self.present
        return self._replace(present=None if present.all() else present)


def offsets_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of queries of these lengths, and the end of the last one.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.add.accumulate(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def check_queries_equal(predicted: int, referred: int) -> None:
    """Raise an error if predictions and references have different numbers of queries."""
    if predicted != referred:
        counts = f"{mark('predictions')} hold {predicted} queries and references {referred}"
        raise InputError(f"{counts}; give both for every query")


# Formats


def read_column(
    argument: str,
    values: Any,
    ignore_index: float | None = None,
    labels: Labels | None = None,
    place: Place | None = None,
) -> Column:
    """Read values in which each row is a query; text in them is one of the labels."""
    values = _combined(values)
    if isinstance(values, pa.Array):
        return _from_arrow(argument, values, ignore_index, labels, place)
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in TEXTS_AND_OBJECTS:
            return _from_array(argument, values, ignore_index)
        values = values.tolist()  # None if masked
    if not isinstance(values, (list, tuple)):
        raise InputError(
            f"{mark(argument)} must hold one list of documents per query: nested lists, a 2-D array or tensor, a list "
            f"of 1-D arrays, a column of lists, a mapping or a TREC file; got {type(values).__name__}"
        )
    if not (kinds := set(map(type, values))) <= {list, tuple}:
        if not all(issubclass(kind, np.ndarray) for kind in kinds):
            values = [_one_query(f"{argument}: query {query}", row) for query, row in enumerate(values)]
            kinds = set(map(type, values))
        if all(issubclass(kind, np.ndarray) for kind in kinds):
            return _from_arrays(argument, values, ignore_index, labels)
    return _from_lists(argument, values, ignore_index, labels)


def read_flat_column(
    argument: str, values: Any, place: Place, ignore_index: float | None = None, labels: Labels | None = None
) -> Column:
    """Read values in which each row is a document, as if all belonged to one query; text is one of the labels."""
    values = _combined(values)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1:  # from a head with one logit
        values = values.reshape(-1)
    if isinstance(values, pa.Array) and not pa.types.is_nested(values.type):
        if id_kind(value_type(values.type)) == "text":
            values = values.to_pylist()
        else:
            query = pa.LargeListArray.from_arrays([0, len(values)], values)
            return _from_arrow(argument, query, ignore_index, labels, place)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        if values.dtype.kind not in TEXTS_AND_OBJECTS:
            return _from_arrays(argument, [values], ignore_index)
        values = values.tolist()  # None if masked
    flat = f"{mark(argument)} must be flat with {mark('query_ids')}, one number per document"
    if isinstance(values, (list, tuple)):
        if values and (isinstance(values[0], (list, tuple)) or getattr(values[0], "ndim", None)):
            raise InputError(f"{flat}; got lists in a list")
        offsets = offsets_of([len(values)])
        return read_numbers(argument, [values], offsets, place, ignore_index, labels, in_column=True)
    form = f"shape {values.shape}" if isinstance(values, np.ndarray) else getattr(values, "type", type(values).__name__)
    hint = logits_hint(argument, values)
    raise InputError(f"{flat}; got {form}{hint}")


def logits_hint(argument: str, values: Any) -> str:
    """Return the hint for an error on two logits per document; an empty string for other values.

    >>> logits_hint("predictions", np.zeros((8, 1)))
    ''
    """
    if argument != "predictions" or getattr(values, "ndim", 0) != 2 or values.shape[1] != 2:
        return ""
    way = "give the difference of two logits, logits[:, 1] - logits[:, 0]"
    return f"; {way}, in a Trainer by preprocess_logits_for_metrics (docs/training.md)"


def _combined(values: Any) -> Any:
    """Combine the chunks of an Arrow column into one array; return other values unchanged."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


DTYPE = attrgetter("dtype")
TEXTS_AND_OBJECTS = "OUT"  # kinds of types of arrays that are read as lists


def _one_query(argument: str, values: Any) -> Any:
    """Return one query of a list, converted to a NumPy array if it is an array of another library."""
    if is_database_query(values):
        raise InputError(
            f"is a query to a database ({type(values).__name__}), so its rows come in no fixed order; run "
            "it first and give the columns of its table: table = relation.to_arrow_table(); "
            "predictions=[table['score']], references=[table['relevance']]",
            argument,
        )
    values = plain(argument, values)
    if not isinstance(values, ARROW):
        return values
    if not values.null_count:
        return values.to_numpy(zero_copy_only=False)
    if not _is_numeric(values.type):
        return values.to_pylist()
    mask = values.is_null().to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(_filled(values).to_numpy(zero_copy_only=False), mask)


def _from_array(argument: str, values: NDArray[Any], ignore_index: float | None) -> Column:
    """Read a 2-D array, without a copy if its rows are contiguous."""
    if values.ndim != 2:
        shape = f"{values.ndim}-D of shape {values.shape}" + f"; {NOT_NESTED}" * (values.ndim == 1)
        raise InputError(f"{mark(argument)} must be 2-D, one row of documents per query; got {shape}")
    offsets = np.arange(len(values) + 1) * values.shape[1]
    values = np.ravel(values)  # copied only if rows are not adjacent in memory
    present = ~np.ma.getmaskarray(values) if np.ma.is_masked(values) else None
    return Column(numeric_array(argument, values), offsets, present, is_padding(values, ignore_index))


def _from_arrays(
    argument: str, rows: Sequence[NDArray[Any]], ignore_index: float | None, labels: Labels | None = None
) -> Column:
    """Read one 1-D array per query."""
    types_of_rows = list(map(DTYPE, rows))
    are_alike = types_of_rows.count(types_of_rows[0]) == len(types_of_rows)  # hashing types is slow
    first = {
        dtype: types_of_rows.index(dtype)
        for dtype in ([types_of_rows[0]] if are_alike else dict.fromkeys(types_of_rows))
    }  # the queries of these rows
    if any(dtype.kind in TEXTS_AND_OBJECTS for dtype in first):
        return _from_lists(argument, rows, ignore_index, labels)
    if set(dimensions := list(map(attrgetter("ndim"), rows))) != {1}:
        query, wrong = next((query, each) for query, each in enumerate(dimensions) if each != 1)
        raise InputError(f"must be a 1-D array of documents; got {wrong}-D", argument, f"query {query}")
    dtypes = {dtype: numeric_array(f"{argument}: query {query}", rows[query]).dtype for dtype, query in first.items()}
    present, arrays = None, rows
    if set(map(type, rows)) != {np.ndarray} or any(old != new for old, new in dtypes.items()):
        if any(map(np.ma.is_masked, rows)):
            present = ~np.concatenate([np.ma.getmaskarray(row) for row in rows])
        arrays = [np.asarray(row, dtypes[row.dtype]) for row in rows]
    values = arrays[0] if len(arrays) == 1 else _concatenated(arrays, are_alike)
    mixed = len(dtypes) > 1 and values.dtype.kind == "f"
    if mixed and any(array.dtype.kind in "iu" and beyond_2_53(array).any() for array in arrays):
        return _from_lists(argument, rows, ignore_index, labels)
    if ignore_index is None or (set(dtypes) == {values.dtype} and Widened not in set(map(type, rows))):
        padding = is_padding(values, ignore_index)
    else:  # the values have another type than the row
        padding = np.concatenate([is_padding(row, ignore_index) for row in rows])
    return Column(values, offsets_of(np.fromiter(map(len, rows), np.int64)), present, padding)


def _concatenated(arrays: Sequence[Any], are_alike: bool) -> NDArray[Any]:
    """Concatenate arrays; arrays of the same type by their bytes, which is faster if they are short."""
    with suppress(TypeError, BufferError):  # raised for arrays with strides
        if are_alike:
            return np.frombuffer(b"".join(arrays), arrays[0].dtype)
    return np.concatenate(arrays)


def _from_arrow(
    argument: str,
    lists: pa.Array,
    ignore_index: float | None,
    labels: Labels | None = None,
    place: Place | None = None,
) -> Column:
    """Read an Arrow list array, without a copy of its values."""
    if any(test(lists.type) for test in OTHER_LISTS):
        offsets = offsets_of(pc.fill_null(pc.list_value_length(lists), 0).to_pylist())
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), lists.flatten(), mask=lists.is_null())
    if not (pa.types.is_list(lists.type) or pa.types.is_large_list(lists.type)):
        kind = shown(str(lists.type))[1:-1]
        problem = (
            f"must be a column of lists, one per query; got {kind}; for a row per document give {mark('query_ids')}"
        )
        raise InputError(f"{mark(argument)} {problem}")
    if lists.null_count:
        query = int(np.flatnonzero(lists.is_null())[0])
        raise InputError(f"query {query} is None; give a list, empty if nothing was retrieved or judged", argument)
    offsets = lists.offsets.to_numpy().astype(np.int64)
    values = lists.values[offsets[0] : offsets[-1]]
    if pa.types.is_null(values.type):  # all values are missing
        values = values.cast(pa.float64())
    kind = value_type(values.type)
    if pa.types.is_decimal(kind):
        with suppress(pa.ArrowInvalid):  # reading one by one raises the error
            values = without_decimals(values)
    if not _is_numeric(values.type):
        if id_kind(kind) == "text" or pa.types.is_decimal(kind):
            offsets -= offsets[0]
            return read_numbers(argument, [values.to_pylist()], offsets, place or numbered, ignore_index, labels)
        given = shown(str(values.type))[1:-1]
        raise InputError(f"{mark(argument)} must hold numbers; got {given}; convert them to float64")
    present = None
    if values.null_count:
        present = values.is_valid().to_numpy(zero_copy_only=False)
        values = _filled(values)
    array = values.to_numpy(zero_copy_only=False)
    return Column(array, offsets - offsets[0], present, is_padding(array, ignore_index))


def without_decimals(values: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """Return a column of decimals as integers if all are whole, as DuckDB's HUGEINT, else as the nearest floats.

    >>> without_decimals(pa.array([Decimal("0.1"), None])).to_pylist()
    [0.1, None]

    Raises:
        pa.ArrowInvalid: it has integers beyond 2**53 among others that are not whole, or beyond 64 bits.
    """
    for kind in (pa.int64(), pa.uint64()):
        with suppress(pa.ArrowInvalid):
            return values.cast(kind)
    floats = values.cast(pa.string()).cast(pa.float64())  # the nearest, which a direct cast may miss
    if beyond_2_53(pc.drop_null(floats).to_numpy(zero_copy_only=False)).any():
        raise pa.ArrowInvalid("float64 would round integers")
    return floats


NOT_NESTED = f"for a single query, wrap it in a list, for a row per document give {mark('query_ids')}"
OTHER_LISTS = (pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view)


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column, also if it is a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_numeric(kind: pa.DataType) -> bool:
    """Return whether Arrow values of this type are numbers."""
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean))


def _filled(values: "pa.Array | pa.ChunkedArray") -> "pa.Array | pa.ChunkedArray":
    """Return numbers with 0 for nulls."""
    return values.fill_null(False if pa.types.is_boolean(values.type) else 0)


def _from_lists(
    argument: str, rows: Sequence[Any], ignore_index: float | None = None, labels: Labels | None = None
) -> Column:
    """Read nested sequences of numbers and None, and arrays among them."""
    given = rows
    if not set(map(type, rows)) <= {list, tuple}:
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]  # None if masked
        for query, row in enumerate(rows):
            if isinstance(row, (list, tuple)):
                continue
            if isinstance(row, (Real, str)):
                kind = "text" if isinstance(row, str) else "number"
                problem = f"is the {kind} {shown(row)}, not a list of documents; {NOT_NESTED}"
            else:
                problem = f"must be a list of documents; got {type(row).__name__}"
            raise InputError(problem, argument, f"query {query}")
    offsets = offsets_of(np.fromiter(map(len, rows), np.int64))
    column = read_numbers(argument, rows, offsets, ignore_index=ignore_index, labels=labels)
    if column.padding is not None:
        for query, row in enumerate(given):
            if isinstance(row, np.ndarray) and row.dtype != object:
                column.padding[offsets[query] : offsets[query + 1]] = is_padding(row, ignore_index)
    return column


# Numbers


MANY = 1 << 9  # fewer numbers are read faster one by one
OWN: dict[type, type] = {np.int64: int, np.float64: float}  # Python types that equal NumPy types


def numbered(query: int, position: int | None) -> str:
    """Describe a place in rankings that have no ids."""
    return f"query {query}, position {position}"


def read_numbers(
    argument: str,
    rows: Sequence[Sequence[Any]],
    offsets: NDArray[np.int64],
    place: Place = numbered,
    ignore_index: float | None = None,
    labels: Labels | None = None,
    kinds: Set[type] | None = None,
    in_column: bool = False,
) -> Column:
    """Read numbers and None of several queries, one after the other, in lists or tuples of any lengths.

    Text is one of the labels. Without labels, text of a number is this number in the column of a table, but not in a
    list or a mapping, where it may be an id. The types of all numbers are `kinds`, if they are known. It is an error if
    a value would be rounded.
    """
    if offsets[-1] >= MANY and (column := _plain_numbers(rows, offsets, ignore_index, kinds)) is not None:
        return column
    values = list(chain.from_iterable(rows))
    try:
        array = np.array(values)
    except BaseException as error:  # noqa: BLE001 - whatever NumPy or another library raises, some value is not a plain number
        raise_unless_of_values(error)
        array = np.empty(0, object)
    present = None
    if not _holds_all(array):
        array, present = _inputs_columns_one_by_one(argument, values, offsets, place, labels, in_column)
    padding = None if ignore_index is None else _padding_in_list(values, array, ignore_index)
    return Column(array, offsets, present, padding)


def _plain_numbers(
    rows: Sequence[Sequence[Any]], offsets: NDArray[np.int64], ignore_index: float | None, kinds: Set[type] | None
) -> Column | None:
    """Return plain numbers and None, read all at once; None if some have other types or would be rounded.

    NumPy's numbers count as plain among None, since NumPy makes objects of such lists.
    """
    head = list(islice(chain.from_iterable(rows), MANY))
    first = next((value for value in head if value is not None), None)
    if type(first) not in (int, float) and not (type(first) in OWN and None in head):  # bools are not integers here
        return None
    try:
        with np.errstate(all="ignore"):
            try:
                found = kinds or {type(sum(map(sum, rows)))}  # a number of another type changes the type of the sum
            except TypeError:  # because of a None
                found = set(map(type, chain.from_iterable(rows)))
        if kinds or NoneType in found:
            found = {OWN.get(kind, kind) for kind in found}
        if found == {int}:
            with suppress(ValueError):  # integers that do not fit into a byte
                array = np.frombuffer(b"".join(map(bytes, rows)), np.uint8).astype(np.int64)
                return Column(array, offsets, padding=is_padding(array, ignore_index))
        if found <= {int, float, NoneType}:
            kind = pa.float64() if float in found else pa.int64()
            return _from_arrow("", pa.array(rows, pa.large_list(kind)), ignore_index)._replace(offsets=offsets)
    except BaseException as error:  # noqa: BLE001 - reading one by one raises the error
        raise_unless_of_values(error)
    return None


def _holds_all(array: NDArray[Any]) -> bool:
    """Return whether NumPy stored all numbers exactly, although they may have several types."""
    if array.ndim != 1 or array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        return False
    if array.dtype.kind != "f" or float(np.abs(array).max(initial=0)) < 2**53:
        return True
    return not (beyond_2_53(array) | np.isnan(array)).any()  # NumPy turns masked numbers into NaN


def _inputs_columns_one_by_one(
    argument: str,
    given: list[Any],
    offsets: NDArray[np.int64],
    place: Place,
    labels: Labels | None,
    in_column: bool,
) -> tuple[NDArray[Any], Mask | None]:
    """Return numbers as an array, and a mask of those that are not None; reject other values and rounding."""

    def refuse(at: int, problem: str) -> ValueError:
        query = int(np.searchsorted(offsets, at, side="right")) - 1
        return InputError(f"{place(query, int(at - offsets[query]))}: {shown(given[at])} {problem}", argument)

    foreign = {kind for kind in set(map(type, given)) if not _inputs_columns_is_number(kind) and kind is not type(None)}
    values = [number(value) if type(value) in foreign else value for value in given] if foreign else given
    if any(issubclass(kind, str) for kind in foreign):
        if labels is not None:
            values = labels.numbers(values)
        elif in_column:
            values = list(map(as_number, values))
    present = np.array([value is not None for value in values], bool)
    mask = None if present.all() else present
    values = [0 if value is None else value for value in values]
    kinds = set(map(type, values))
    for kind in kinds:
        if not _inputs_columns_is_number(kind):
            at = next(at for at, value in enumerate(values) if type(value) is kind)
            raise refuse(at, _not_a_number(argument, values, values[at], labels))
    if mask is not None and _holds_all(array := np.array(values)):
        return array, mask
    if all(issubclass(kind, Integral) for kind in kinds):
        for dtype in ("int64", "uint64"):
            if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
                return np.array(values, dtype), mask
    try:
        array = np.array(values, np.float64)
    except OverflowError:  # an integer that is too large is rejected below
        array = np.array([value if abs(value) < 2**1023 else math.inf for value in values], np.float64)
    usual = all(issubclass(kind, (float, Integral, np.float32, np.float16)) for kind in kinds)
    for at in np.flatnonzero(beyond_2_53(array) | np.isinf(array)).tolist() if usual else range(len(values)):
        value = int(values[at]) if isinstance(values[at], Integral) else values[at]
        if float(array[at]) != value and value == value:  # and it is not NaN
            raise refuse(at, "would be rounded; give floats, or all integers of at most 64 bits")
    return array, mask


def _not_a_number(argument: str, values: Iterable[Any], value: Any, labels: Labels | None) -> str:
    """Return the reason why a value is refused; of text in place of a relevance, what to write for labels."""
    if not argument.startswith("references") or not isinstance(value, str):
        return f"is not a number; give a number{mark('None', before=' or ')}"
    return f"is not a number; {to_label(values)}" if labels is None else labels.unknown(value)


def _inputs_columns_is_number(kind: type) -> bool:
    return issubclass(kind, Real) and not issubclass(kind, np.timedelta64)


def number(value: Any) -> Any:
    """Convert a Decimal, or a number of another library such as a 0-d tensor, to Python's, and a masked one to None.

    >>> number(np.ma.masked), number(np.array(0.5)), number(Decimal("0.5")), number("0.5")
    (None, 0.5, 0.5, '0.5')
    """
    if isinstance(value, Decimal):
        return whole_or_float(value)
    try:
        array = converted(value)
        if isinstance(array, np.ndarray) and array.ndim == 0:
            return None if np.ma.is_masked(array) else numeric_array("number", array).item()
    except BaseException as error:  # noqa: BLE001 - whatever its library raises, it is not a number
        raise_unless_of_values(error)
    return value


def whole_or_float(value: Decimal) -> float:
    """Return a decimal as an integer if it is whole, so that no digit is lost, else as the nearest float."""
    if value.is_nan():
        return math.nan
    is_whole = value.is_finite() and value == value.to_integral_value()
    return int(value) if is_whole else float(value)


def as_number(value: Any) -> Any:
    """Return text that is a number as this number; other values unchanged.

    >>> as_number("0.5"), as_number("high"), as_number(2)
    (0.5, 'high', 2)
    """
    if not isinstance(value, str):
        return value
    found = number_of_text(value)
    return value if found is None else found


def in_dtype(scores: NDArray[Any], score_dtype: str) -> NDArray[Any]:
    """Return scores in the type in which they are compared; those that are too large for it become infinite.

    >>> in_dtype(np.array([1.00000001, 1.0, 1e39]), "float32").tolist()
    [1.0, 1.0, inf]
    """
    if score_dtype == "given":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(score_dtype, copy=False)


def negated(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores in the opposite order: the negative of each, or the complement of integers too large for that.

    >>> negated(np.array([7, 0], np.uint8)).tolist(), negated(np.array([2**64 - 1, 2**63], np.uint64)).tolist()
    ([-7, 0], [0, 9223372036854775807])
    """
    if scores.dtype.kind == "f":
        return -scores
    fit = int(scores.min(initial=0)) > -(2**63) and int(scores.max(initial=0)) < 2**63
    return -scores.astype(np.int64) if fit else ~scores


def beyond_2_53(values: NDArray[Any]) -> Mask:
    """Return a mask of integers that float64 may not tell apart from their neighbors."""
    if values.dtype.kind == "f":  # narrower floats were not rounded
        size = np.abs(values) if values.dtype == np.float64 else np.zeros(values.shape)
        return np.asarray((size >= 2**53) & (size < math.inf))
    return (values >= 2**53) | (values <= -(2**53))


def numeric_array(argument: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the array without its mask, if its values are real numbers of at most 64 bits."""
    if _is_narrow(values.dtype):
        values = values.astype(np.float32)
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        raise InputError(f"{mark(argument)} must hold real numbers of at most 64 bits; got {values.dtype}")
    return np.asarray(values, values.dtype.newbyteorder("="))


# Padding, compared in the original type of each value


def is_padding(values: NDArray[Any], ignore_index: float | None) -> Mask | None:
    """Return a mask of padding: values equal to `ignore_index`, rounded to their type; None if there is none.

    >>> is_padding(np.array([1, 1e30], np.float32), 1e30).tolist()
    [False, True]
    """
    if ignore_index is None:
        return None
    with np.errstate(over="ignore"):  # a float that is too large for the type becomes infinite
        if isinstance(values, Widened):
            ignore_index = values.rounded(ignore_index)
        elif _is_narrow(values.dtype):
            ignore_index = float(np.asarray(ignore_index, np.float64).astype(values.dtype))
            values = np.asarray(values).astype(np.float32)
        elif values.dtype == bool:  # NumPy compares bools with 64-bit integers only
            values = np.asarray(values).view(np.uint8)
        return np.asarray(np.asarray(values) == ignore_index)


def _padding_in_list(values: list[Any], array: NDArray[Any], ignore_index: float) -> Mask | None:
    """Return the mask of ``is_padding`` for a list, comparing each number in its own type."""
    if set(map(type, values)) <= {bool, int, float, NoneType}:
        return is_padding(array, ignore_index)

    def is_reference(value: Any, number: Any) -> bool:
        if isinstance(value, str):  # a label, or text of a number
            return bool(number == ignore_index)
        if value is None or (_inputs_columns_is_number(type(value)) and not isinstance(value, np.generic)):
            return bool(value == ignore_index)
        return bool(is_padding(np.asanyarray(converted(value)), ignore_index))

    return np.array(list(map(is_reference, values, array.tolist())), bool)


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return whether it is a float type of JAX or TensorFlow whose values float32 represents exactly."""
    return dtype.isbuiltin == 2 and dtype.name.startswith(("bfloat16", "float8"))


# ndcg/inputs/hashes.py: Rows with ids, as in a file or a table; rows with the same query and document are found by sorting hashes.

HASHES_AT_A_TIME = 1 << 16  # rows that are sorted at a time: few enough for the processor's cache
ODD = np.uint64(0x9E3779B97F4A7C15)
UNITS = ["s", "ms", "us", "ns"]  # of times
NO_ROWS: RowNumbers = np.empty(0, np.int64)


class Columns(NamedTuple):
    """One side with ids, one row per document: of a file, a table, or of flat columns."""

    query: RowNumbers  # the query of each row, as an index into `query_ids`
    # the distinct query ids: an Arrow array of a file or table, a list of a mapping
    query_ids: Any
    document: pa.ChunkedArray  # the id of each row's document; or the number of a name
    value: NDArray[Any]  # the score or the relevance of each row; integers only beyond 2**53
    hashes: NDArray[np.uint64]  # the hashes of the document ids, from `hashes_of`
    # a function from the number of a row in its table or file to the words for it
    place_of: Callable[[int], str] | None = None
    numbers: RowNumbers | None = None  # the numbers of these rows in their table or file
    lacking: RowNumbers = NO_ROWS  # the numbers of its rows without a value, which are not here
    positions: int | None = None  # the number of queries without ids, numbered from 0; else None
    are_rows: bool = False  # whether the documents are the rows of LETOR, counted from 0, as text
    present: Mask | None = None  # False for a missing value; None if none is missing
    padding: Mask | None = None  # True for padding in a mapping; None if no value is known to be
    names: Sequence[Any] | None = None  # ids of several kinds, by their numbers; None for one kind
    form: str = ""  # what held the rows
    fields: Mapping[str, str] = {}  # the column of each role

    def place(self, row: int) -> str:
        """Return the words for a row's place in its table or file."""
        if self.place_of is None or self.numbers is None:
            return f"row {row}"
        return self.place_of(int(self.numbers[row]))

    def only(self, kept: Mask) -> "Columns":
        """Return the rows for which a mask is True."""
        present, padding = (None if mask is None else mask[kept] for mask in (self.present, self.padding))
        rows = {name: getattr(self, name)[kept] for name in ("query", "value", "hashes")}
        document = self.document.filter(pa.array(kept))
        numbers = None if self.numbers is None else self.numbers[kept]
        return self._replace(**rows, document=document, present=present, padding=padding, numbers=numbers)

    def retrieved(self, present: Mask | None) -> "Columns":
        """Return the rows of a run that have a score, and the queries that have such rows."""
        if present is None:
            return self
        run = self.only(present)
        used = np.unique(run.query)
        return run._replace(query=np.searchsorted(used, run.query), query_ids=run.query_ids.take(pa.array(used)))

    def documents(self, rows: RowNumbers) -> list[Any]:
        """Return the ids of the documents of some rows."""
        found: list[Any] = self.document.take(pa.array(rows)).to_pylist()
        return found if self.names is None else [self.names[each] for each in found]

    def ordinals(self, rows: RowNumbers) -> RowNumbers:
        """Return the position of each of these rows' documents in the order of their ids."""
        if self.names is None:
            return ordinals(self.document.take(pa.array(rows)))
        rank = dict(zip(ascending(self.names), count(), strict=False))
        return np.array([rank[each] for each in self.documents(rows)], np.int64)

    def query_id(self, index: int) -> Any:
        """Return the id of a query."""
        found = self.query_ids[index]
        return found.as_py() if isinstance(found, pa.Scalar) else found

    def words(self, row: int, show: Callable[[Any], str] = shown) -> tuple[str, str]:
        """Return the ids of the document and of the query of a row, as messages show them."""
        return show(self.documents(np.array([row]))[0]), show(self.query_id(int(self.query[row])))


def repeated_row(columns: Columns) -> tuple[int, int] | None:
    """Return the first row that repeats the query and document of an earlier row, and that earlier row."""
    first, again = same_rows(columns)
    return min(zip(again.tolist(), first.tolist(), strict=True), default=None)


def best_rows(
    columns: Columns, keep: str, ascending: bool, present: Mask | None = None
) -> Mask | None:
    """Return a mask of the best row of each document of a query; None if no document is repeated.

    `keep` tells which of equal scores is the best, the "first" or the "last". A row without a
    score, where `present` is False, is the best only if the document has no other.
    """
    before = first_rows(columns)
    is_again = before != np.arange(len(before))
    if not is_again.any():
        return None
    rows = np.union1d(before[is_again], np.flatnonzero(is_again))
    scores = columns.value[rows]
    lowest_first = scores if ascending else negated(scores)
    in_order = rows if keep == "first" else -rows
    is_lacking = np.zeros(len(rows), bool) if present is None else ~present[rows]
    # A score that is nan comes first, so that it is kept, and refused later.
    keys = (in_order, lowest_first, ~np.isnan(lowest_first), is_lacking, before[rows])
    order = np.lexsort(keys)
    document = before[rows][order]
    is_best = np.ones(len(rows), bool)
    is_best[1:] = document[1:] != document[:-1]
    kept = np.ones(len(columns.query), bool)
    kept[rows[order[~is_best]]] = False
    return kept


def first_rows(*sides: Columns) -> RowNumbers:
    """Return for each row the first row with the same query and document, numbered over all inputs."""
    first, again = same_rows(*sides)
    row = np.arange(sum(len(side.query) for side in sides))
    row[again] = first
    while (row[row] != row).any():  # each row leads to the one before it, and so to the first
        row = row[row]
    return row


def same_rows(*sides: Columns) -> tuple[RowNumbers, RowNumbers]:
    """Return pairs of rows with the same query and document: each row with the next one, numbered over all inputs."""
    query, document = np.concatenate([side.query for side in sides]), _inputs_hashes_together([side.document for side in sides])
    if len(query) <= FEW_IDS:
        return _inputs_hashes_one_by_one(np.arange(len(query)), query, document)
    queries = int(query.max()) + 1
    groups = [grouped(side.query, queries) for side in sides]
    until = np.sum([offsets for _, offsets in groups], axis=0)
    blocks = [0, *(np.flatnonzero(np.diff(until // HASHES_AT_A_TIME)) + 1).tolist(), queries]
    of_one_hash = in_threads(partial(_rows_of_one_hash, sides, groups), blocks[:-1], blocks[1:])
    first, second, common, of_one_query = map(np.concatenate, zip(*of_one_hash, strict=True))

    def are_of_one_document(first: RowNumbers, second: RowNumbers) -> NDArray[np.bool_]:
        return np.asarray(pc.equal(document.take(pa.array(first)), document.take(pa.array(second))).to_numpy())

    several = pa.cpu_count() if len(first) > HASHES_AT_A_TIME else 1
    parts = (np.array_split(rows, several) for rows in (first, second))
    same = np.concatenate(in_threads(are_of_one_document, *parts)) & of_one_query
    if same.all():
        return first, second
    unlike = np.isin(common, common[~same])  # pairs with a hash that different ids share
    settled = _inputs_hashes_one_by_one(np.union1d(first[unlike], second[unlike]), query, document)
    first, second = (
        np.concatenate([rows[~unlike], others]) for rows, others in zip((first, second), settled, strict=True)
    )
    return first, second


def _inputs_hashes_one_by_one(rows: RowNumbers, query: RowNumbers, document: pa.ChunkedArray) -> tuple[RowNumbers, RowNumbers]:
    """Return the pairs of `same_rows` among a few rows."""
    last: dict[tuple[int, Any], int] = {}
    first, second = [], []
    for row, *ids in zip(rows.tolist(), query[rows].tolist(), document.take(pa.array(rows)).to_pylist(), strict=True):
        if (before := last.get(key := tuple(ids))) is not None:
            first.append(before)
            second.append(row)
        last[key] = row
    return np.array(first, np.int64), np.array(second, np.int64)


def _rows_of_one_hash(
    sides: Sequence[Columns], groups: Sequence[tuple[Order, RowNumbers]], start: int, stop: int
) -> tuple[RowNumbers, RowNumbers, NDArray[np.uint64], NDArray[np.bool_]]:
    """Return pairs of rows with equal hashes among some queries, their common bits, and if their queries are equal."""
    rows, queries, keys, before = [], [], [], 0
    for side, (order, offsets) in zip(sides, groups, strict=True):
        span = slice(*offsets[[start, stop]].tolist())
        at = span if isinstance(order, slice) else order[span]
        rows.append(before + (np.arange(span.start, span.stop) if isinstance(at, slice) else at))
        queries.append(side.query[at])
        keys.append(queries[-1].view(np.uint64) * ODD + side.hashes[at])
        before += len(side.query)
    row, query, key = np.concatenate(rows), np.concatenate(queries), np.concatenate(keys)
    of_row = np.uint64((1 << len(key).bit_length()) - 1)
    key &= ~of_row
    key |= np.arange(len(key), dtype=np.uint64)
    key.sort()
    starts = np.flatnonzero((key[1:] ^ key[:-1]) <= of_row)
    pair = [(key[each] & of_row).view(np.int64) for each in (starts, starts + 1)]
    first, second = (row[each] for each in pair)
    return first, second, key[starts] & ~of_row, query[pair[0]] == query[pair[1]]


def _inputs_hashes_together(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the ids of all columns, which are of one kind, in a type that holds each of them."""
    types = {each.type for each in columns if len(each)} or {columns[0].type}
    kind = max(types, key=lambda each: UNITS.index(getattr(each, "unit", "s")))
    if len(types) > 1 and not pa.types.is_timestamp(kind):  # integers with and without a sign
        kind = pa.string()
    return pa.chunked_array([chunk for each in columns if len(each) for chunk in each.cast(kind).chunks], kind)


def digest_of(columns: Columns) -> str:
    """Return a digest of rows that does not depend on their order: a sum over their hashes."""
    of_query = hashes_of(pa.chunked_array([columns.query_ids]))[columns.query]
    value = columns.value.astype(np.float64) + 0.0  # 0.0 for -0.0
    mixed = _mixed((of_query * ODD ^ columns.hashes) * ODD ^ value.view(np.uint64))
    return f"{int(mixed.sum(dtype=np.uint64)):016x}"


def hashes_of(ids: pa.ChunkedArray) -> NDArray[np.uint64]:
    """Return a number of 64 bits for each id, the same for equal ids of any type."""
    if not pa.types.is_string(ids.type) and not pa.types.is_binary(ids.type):
        number = ids.cast(pa.timestamp("s", ids.type.tz), safe=False) if pa.types.is_timestamp(ids.type) else ids
        number = number.cast(pa.int32()) if pa.types.is_date(ids.type) else number
        whole = number if pa.types.is_uint64(number.type) else number.cast(pa.int64())
        return _mixed(whole.to_numpy().astype(np.uint64, copy=False).copy())
    hashes: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
    for chunk in filter(len, ids.chunks):
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = np.append(np.frombuffer(chunk.buffers()[2], np.uint8), np.zeros(8, np.uint8))
        words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))  # the eight bytes that start at each byte
        lengths = np.diff(offsets).astype(np.int64)
        counts = np.maximum((lengths + 7) // 8, 1)
        first = np.cumsum(counts) - counts
        start, at, left = np.zeros(1, np.int64), offsets[:-1], lengths
        if several := counts.max() > 1:
            start = 8 * (np.arange(counts.sum()) - np.repeat(first, counts))  # the position of each word in its id
            at, left = np.repeat(at, counts) + start, np.repeat(lengths, counts) - start
        mixed = words[at]
        mixed <<= 8 * np.maximum(8 - left, 0).view(np.uint64)  # without the bytes of the next id
        mixed ^= start.view(np.uint64) * ODD
        mixed = _mixed(mixed)
        if several:
            mixed = np.add.reduceat(mixed, first)
        hashes.append(np.asarray(mixed ^ lengths.view(np.uint64)))
    return np.concatenate(hashes)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of numbers in place, and return them."""
    for _ in range(2):
        numbers *= ODD
        numbers ^= numbers >> np.uint64(32)
    return numbers


# ndcg/inputs/rankings.py: The input of the kernel: relevances and scores, query after query, and the names of queries.

class Rankings(NamedTuple):
    """Queries and their documents, as the arrays that the kernel accepts."""

    relevance: NDArray[Any]  # the relevance of the documents, query after query
    score: NDArray[Any]  # their scores, in the same order
    # the start of each query, from 0, and the end of the last one: int64 of shape ``(queries + 1,)``
    offsets: NDArray[np.int64]
    judged: Mask | None = None  # False if the relevance is missing; None if none is missing
    retrieved: Mask | None = None  # False if the score is missing; None if none is missing
    # a function that describes a query, by its index, and a document, by its position or None, with their ids; None if
    # they have no ids
    place: Place | None = None
    query_ids: Sequence[Any] | pa.Array | None = None  # the id of each query; None if they have no ids
    # True for each query whose ranking in the predictions leaves no document here, such as an empty list of ids; None
    # if there are none
    answered: Mask | None = None
    # the numbers of documents to exclude that were retrieved and that were judged, for each query, of shape
    # ``(queries, 2)``; None without `exclude`
    excluded: NDArray[np.int64] | None = None
    # the warning that no document was both retrieved and judged, although both sides have ids; empty if one was; None
    # if that is unknown
    unmatched: str | None = None
    # a function from the index of a query to the ids of its documents, in order; rows for flat columns without document
    # ids; None if documents have only positions
    documents: Callable[[int], Sequence[Any]] | None = None

    @classmethod
    def of(cls, score: Column, relevance: Column, **known: Any) -> "Rankings":
        """Return the rankings from predictions and references of the same documents, without padding."""
        if relevance.padding is not None and relevance.padding.any():
            kept = ~relevance.padding
            if relevance.present is not None:
                kept |= ~relevance.present  # a document without a relevance is not padding
            score, relevance = score.only(kept), relevance.only(kept)
        return cls(relevance.values, score.values, score.offsets, relevance.present, score.present, **known)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    def names(self) -> list[Any]:
        """Return the id of each query, or its index."""
        if self.query_ids is None:
            return list(range(self.queries))
        return list(self.query_ids.to_pylist() if isinstance(self.query_ids, pa.Array) else self.query_ids)

    @property
    def missing(self) -> Mask:
        """True for each query that is missing from the predictions: it has documents, but none of them has a score."""
        return ~(self._ranked() | self.empty())

    def lacking(self) -> Mask:
        """Return which queries are missing from the predictions, or have no documents at all."""
        return self.missing | self.empty()

    def only(self, kept: Mask, exclude_from: str = "both") -> "Rankings":
        """Return the same documents, but those for which a mask is False are neither judged nor retrieved.

        If they are excluded from the run only, they stay judged.
        """
        retrieved = kept if self.retrieved is None else kept & self.retrieved
        rankings = self._replace(retrieved=retrieved, answered=self._ranked())
        if exclude_from == "run":
            return rankings
        return rankings._replace(judged=kept if self.judged is None else kept & self.judged)

    def of_judged(self) -> "Rankings":
        """Return the same documents, but unjudged ones count as not retrieved."""
        if self.judged is None:
            return self
        kept = self.judged | ~(self.score < np.inf)  # invalid scores are kept, so that they are rejected
        kept = kept if self.retrieved is None else kept & self.retrieved
        return self._replace(retrieved=None if kept.all() else kept, answered=self._ranked())

    def with_scores_in(self, score_dtype: str) -> "Rankings":
        """Return the same documents with their scores in the type in which they are compared."""
        if score_dtype == "given":
            return self
        score = in_dtype(self.score, score_dtype)
        hint = f"scale the scores, or compare them as they are by {mark('score_dtype', 'given')}"
        problem = f"is too large for {mark('score_dtype', score_dtype)}; {hint}"
        self._refuse_scores(np.isinf(score) & np.isfinite(self.score), problem)
        return self._replace(score=score)

    def with_highest_first(self, score_order: str) -> "Rankings":
        """Return the same documents with scores of which the highest ranks first, not as in `score_order`.

        Scores are negated after they have their type, since the complement of a large integer may be rounded otherwise.
        """
        if score_order == "descending":
            return self
        self._refuse_scores(~(self.score > -np.inf), "is not a score; None or inf marks one not retrieved")
        return self._replace(score=negated(self.score))

    def with_gains(self, labels: Labels) -> "Rankings":
        """Return the same documents, with the gain of each label as its relevance, and 0 for those not judged."""
        gains = labels.gains_of(self.relevance)
        unknown = np.isnan(gains) if self.judged is None else np.isnan(gains) & self.judged
        if unknown.any():
            at = int(unknown.argmax())
            query = int(np.searchsorted(self.offsets, at, side="right")) - 1
            label = float(self.relevance[at])
            problem = (
                f"{label:g} {labels.unknown(label)}" if math.isfinite(label) else NOT_A_RELEVANCE.format(value=label)
            )
            raise InvalidRankingError("relevance", query, at - int(self.offsets[query]), problem)
        return self._replace(relevance=gains if self.judged is None else np.where(self.judged, gains, 0))

    def gap_in_ranks(self) -> str:
        """Return what a warning says about scores that are ranks, lowest first, of which some are missing.

        They are whole numbers from 1, another one for each document of a query. Empty if they are not, or have no gap.
        """
        retrieved = self._of_sides()[0] & (self.score < np.inf)
        score, query = self.score[retrieved], np.repeat(np.arange(self.queries), np.diff(self.offsets))[retrieved]
        if not len(score) or (score < 1).any() or (score != np.trunc(score)).any() or score.min() > 1:
            return ""
        order = np.lexsort((score, query))
        score, query = score[order], query[order]
        follows = query[1:] == query[:-1]
        if (follows & (score[1:] == score[:-1])).any() or not (gaps := follows & (score[1:] > score[:-1] + 1)).any():
            return ""
        at = int(gaps.argmax())
        place = (self.place or numbered)(int(query[at]), None)
        before, after = score[at : at + 2].tolist()
        problem = f"no document has a rank between {before:g} and {after:g}, so those below move up"
        return f"{place}: {problem}; if these are ranks, give each retrieved document, also if nobody judged it"

    def _refuse_scores(self, wrong: Mask, problem: str) -> None:
        """Raise an error for the first retrieved document that a mask marks."""
        wrong = wrong if self.retrieved is None else wrong & self.retrieved
        if wrong.any():
            at = int(wrong.argmax())
            query = int(np.searchsorted(self.offsets, at, side="right")) - 1
            raise InvalidRankingError("score", query, at - int(self.offsets[query]), f"{self.score[at]} {problem}")

    def arrays(self) -> dict[str, Any]:
        """Return the arrays for the kernel, by name."""
        return dict(zip(self._fields[:5], self[:5], strict=True))

    def counts(self) -> dict[str, NDArray[np.int64]]:
        """Return the numbers of documents of each query that were retrieved, judged, and judged relevant."""
        retrieved, judged = self._of_sides()
        return {
            "retrieved": self._sums(retrieved),
            "judged": self._sums(judged),
            "relevant": self._sums(judged & (self.relevance > 0)),
            "retrieved and judged": self._sums(retrieved & judged),
        }

    def queries_of_ties(self) -> NDArray[np.intp]:
        """Return the query of every pair of adjacent retrieved documents with equal scores."""
        retrieved = self._of_sides()[0]
        query = np.repeat(np.arange(self.queries), self.offsets[1:] - self.offsets[:-1])[retrieved]
        score = self.score[retrieved]
        order = np.lexsort((score, query))
        query, score = query[order], score[order]
        return np.asarray(query[1:][(query[1:] == query[:-1]) & (score[1:] == score[:-1])])

    def pieces(self, documents: int) -> Iterator["Rankings"]:
        """Yield the same queries in pieces of about this many documents."""
        cuts = np.flatnonzero(np.diff(np.maximum(self.offsets - 1, 0) // documents)).tolist()
        for start, stop in pairwise(sorted({0, *cuts, self.queries})):
            rows = slice(*self.offsets[[start, stop]].tolist())
            yield Rankings(
                self.relevance[rows],
                self.score[rows],
                self.offsets[start : stop + 1] - self.offsets[start],
                None if self.judged is None else self.judged[rows],
                None if self.retrieved is None else self.retrieved[rows],
                None if self.place is None else partial(_later, self.place, start),
                None if self.query_ids is None else self.query_ids[start:stop],
                None if self.answered is None else self.answered[start:stop],
                None if self.excluded is None else self.excluded[start:stop],
                documents=None if self.documents is None else partial(_of_later, self.documents, start),
            )

    def empty(self) -> Mask:
        """Return which queries have no documents at all, such as lists that are all padding."""
        if self.judged is None or self.retrieved is None:
            return np.asarray(self.offsets[1:] == self.offsets[:-1])
        return np.asarray(self._sums(self.judged | self.retrieved) == 0)

    def matched(self) -> "Rankings":
        """Return the same rankings, with `unmatched`.

        In lists and mappings by ids, this is known only if a query has both retrieved and judged documents. In flat
        columns, there may be no such query because the ids of queries differ.
        """
        if self.excluded is not None and self.excluded.any(axis=0).all():  # ids of both match
            return self._replace(unmatched="")
        for rows in (slice(PROBE), slice(None)):  # almost always, one of the first documents is in both
            retrieved, judged = self._of_sides(rows)
            if (retrieved & judged).any():
                return self._replace(unmatched="")
        has_both = (self._sums(retrieved) > 0) & (self._sums(judged) > 0)
        if has_both.any():
            of_query = np.arange(len(retrieved)) >= self.offsets[has_both.argmax()]
            retrieved, judged = retrieved & of_query, judged & of_query
        elif self.answered is not None or not (retrieved.any() and judged.any()):
            return self
        first = [self._place_of(int(side.argmax())) for side in (retrieved, judged)]
        hint = float_hint(*first) or "; check that both sides have the same ids"
        both = "first retrieved: {}; first judged: {}".format(*first)
        return self._replace(unmatched=f"no document was both retrieved and judged; {both}{hint}")

    def _place_of(self, row: int) -> str:
        """Describe a document."""
        query = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return (self.place or numbered)(query, row - int(self.offsets[query]))

    def _of_sides(self, rows: slice = slice(None)) -> tuple[Mask, Mask]:
        """Return which of some documents were retrieved, and which were judged."""
        retrieved = np.asarray(self.score[rows] != -np.inf)  # nan counts too, and is rejected later
        judged = np.ones(len(retrieved), bool) if self.judged is None else self.judged[rows]
        return retrieved if self.retrieved is None else retrieved & self.retrieved[rows], judged

    def _ranked(self) -> Mask:
        """Return which queries have a ranking in the predictions, even if none of its documents is left."""
        ranked = np.asarray(self._sums(self._of_sides()[0]) > 0)
        return ranked if self.answered is None else ranked | self.answered

    def _sums(self, mask: Mask) -> NDArray[np.int64]:
        until = np.concatenate([[0], np.cumsum(mask)])
        return np.asarray(until[self.offsets[1:]] - until[self.offsets[:-1]])


def _later(place: Place, queries: int, query: int, position: int | None) -> str:
    """Describe a place, with queries counted from a later one."""
    return place(queries + query, position)


def _of_later(documents: Callable[[int], Sequence[Any]], queries: int, query: int) -> Sequence[Any]:
    """Return the documents of a query, with queries counted from a later one."""
    return documents(queries + query)


def to_arrow(rankings: Rankings) -> tuple[pa.Array, pa.Array]:
    """Return predictions and references as Arrow lists, with nulls for missing values.

    Floats, and integers of up to 16 bits, keep their type, in which ``ignore_index`` is compared; others are float64.
    """
    offsets = pa.array(rankings.offsets, pa.int32())
    lists = []
    for argument, numbers, present in (
        ("predictions", rankings.score, rankings.retrieved),
        ("references", rankings.relevance, rankings.judged),
    ):
        narrow = numbers.dtype.itemsize <= (4 if numbers.dtype.kind == "f" else 2)
        try:
            values = pa.array(numbers, mask=None if present is None else ~present)
            values = values if narrow else values.cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise InputError(f"integers beyond 2**53 cannot be stored exactly: {error}", argument) from None
        lists.append(pa.ListArray.from_arrays(offsets, values))
    return lists[0], lists[1]


# ndcg/inputs/fields.py: The names of fields: the standard ones, and those that `fields=` gives.

ROLES = ("query", "document", "score", "relevance")
VALUE = {"run": "score", "qrels": "relevance"}  # the role of the value of a document, by side

# The standard names of each role, in groups: a name of a later group counts only if there is none
# of an earlier one. Where a group has two names of one side, nothing tells which is meant.
Groups = tuple[tuple[str, ...], ...]
# fmt: off
QUERY: Groups = (
    ("query_id", "qid", "topic_id", "question_id", "user_id", "customer_id", "session_id"),
    ("query", "topic", "question", "user", "uid"),
)
QUERY_OF_LISTS: Groups = (*QUERY, ("id",))  # of an object that holds the documents of a query
DOCUMENT: Groups = (
    ("document_id", "doc_id", "docno", "corpus_id", "pid", "passage_id", "chunk_id", "article_id",
     "item_id", "iid", "movie_id", "product_id"),
    ("document", "item"),
)
DOCUMENT_OF_HITS: Groups = (
    DOCUMENT[0], (*DOCUMENT[1], "id", "node_id", "uuid", "object_id", "file_id"),
)
LISTS_OF_IDS: Mapping[str, Groups] = {
    "run": (("retrieved_ids", "retrieved_doc_ids", "retrieved_context_ids"),
            ("ids", "doc_ids", "document_ids", "item_ids")),
    "qrels": (("relevant_ids", "relevant_doc_ids", "ground_truth_doc_ids", "expected_ids",
               "gold_doc_ids", "reference_context_ids"),
              ("ids", "doc_ids", "document_ids", "item_ids")),
    "exclude": (("ids", "doc_ids", "document_ids", "item_ids"),),
}
SCORE: Groups = (
    ("score", "prediction", "est", "sim", "similarity", "relevance_score", "certainty",
     "_rankingscore", "@search.score"),
)
LOWEST_FIRST = ("rank", "position", "distance", "dist", "loss")  # scores if the lowest is best
RELEVANCE: Groups = (
    ("relevance", "rel", "reference", "label", "grade", "judgment", "judgement", "verdict",
     "relevance_label", "relevance_grade", "rating", "r_ui", "relevant", "is_relevant",
     "has_answer"),
    ("weight", "score"),  # which may be those of a model, so nothing else may stand beside the ids
)
LISTS_OF_VALUES: Mapping[str, Groups] = {
    "run": (("scores", "similarities"),),
    "qrels": (("relevances", "relevance", "labels", "ratings", "grades", "judgments",
               "relevance_scores"),),
}
LOWEST_FIRST_LISTS = ("ranks", "distances")
# fmt: on
USERS = ("user_id", "customer_id", "session_id", "user", "uid")  # who may have several queries
ASKED = ("query", "topic", "question")  # what they ask
NAMES_OF_RANKS = re.compile(r"(?:^|[ _-])(rank|position|pos|slot|order|row[ _-]?number)$", re.IGNORECASE)
NAMES_OF_DISTANCES = re.compile(r"(?:^|[ _-])(distance|dist|loss|cost)$", re.IGNORECASE)
START_OF_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
RECBOLE = re.compile(r":(token|float)(_seq)?$")  # the types that RecBole writes after names

ROW_NUMBER = re.compile(r"(Unnamed: \d+)?|__index_level_\d+__")
MOST_FIELDS = 100  # a mapping with more keys is of queries or documents
MOST_LISTED = 40  # fields in an error
_EXAMPLE = reprlib.Repr()
_EXAMPLE.maxstring = _EXAMPLE.maxother = _EXAMPLE.maxlong = 30
_EXAMPLE.maxlist = _EXAMPLE.maxtuple = _EXAMPLE.maxdict = _EXAMPLE.maxset = 2
_EXAMPLE.maxlevel = 2


# Spelling


@lru_cache(1 << 12)
def plain_name(name: Any) -> str:
    """Return a name in the spelling in which names are compared; empty if it is no text.

    >>> plain_name("Query-ID"), plain_name("_id"), plain_name("query_id:token"), plain_name(0)
    ('queryid', 'id', 'queryid', '')
    """
    if not isinstance(name, str):
        return ""
    plain: str = RECBOLE.sub("", name.strip()) if ":" in name else name
    return plain.lower().replace("_", "").replace("-", "").replace(" ", "")


def spelled(names: Iterable[Any], standard: Iterable[str]) -> list[Any]:
    """Return the names that are one of the standard names, in the order of these.

    >>> spelled(["docId", "Query-ID", "score"], ["query_id", "doc_id"])
    ['Query-ID', 'docId']
    """
    by_spelling: dict[str, Any] = {}
    for name in names:
        by_spelling.setdefault(plain_name(name), name)
    present = (by_spelling.get(plain_name(name)) for name in standard)
    return list(dict.fromkeys(name for name in present if name is not None))


def refuse_repeated_names(names: Iterable[Any]) -> None:
    """Raise an error for two columns of one name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"has {count} columns {shown(name)}; give each a name of its own")


def says_lowest_first(name: Any, pattern: re.Pattern[str] = NAMES_OF_DISTANCES) -> bool:
    """Return whether the last word of a name says that the lowest score is best.

    >>> [says_lowest_first(name) for name in ("cosineDistance", "l2_dist", "distance_score")]
    [True, True, False]
    """
    if not isinstance(name, str):
        return False
    last = RECBOLE.sub("", name.strip()).rpartition(".")[2]
    return pattern.search(START_OF_WORD.sub("_", last)) is not None


def refuse_lowest_first(name: Any, argument: str = "") -> None:
    """Raise an error for scores whose name says that the lowest is best, such as "distance"."""
    if says_lowest_first(name) or plain_name(name) in LOWEST_FIRST:
        problem = f"the column {name!r} is best where it is lowest"
        hint = f"give {mark('score_order', 'ascending')}, or another name if the highest is best"
        raise InputError(problem, argument, hint=hint)


# The argument `fields`


class Fields(NamedTuple):
    """The fields of a side, by their names or paths."""

    examples: Mapping[Any, Any]  # an example of what each holds
    last: Mapping[Any, str]  # the last name on the path of each, in the spelling of names

    @classmethod
    def of_table(cls, examples: Mapping[Any, Any]) -> "Fields":
        """Return the columns of a table, of which examples are given, without the row numbers."""
        named = {name: cell for name, cell in examples.items() if not _is_row_number(name)}
        return cls(named, {name: plain_name(name) for name in named})


def _is_row_number(name: Any) -> bool:
    """Return whether a column has the name that pandas writes for the numbers of rows."""
    return isinstance(name, str) and ROW_NUMBER.fullmatch(name) is not None


class Given(NamedTuple):
    """The name or the path that `fields` gives for a role; None if there is no such field."""

    name: str | None
    of_both: bool  # one name for both sides, of which one may lack it


def check_fields(fields: Any) -> dict[str, tuple[str | None, str | None]]:
    """Return `fields` as the name of each role in the run and in the references.

    >>> check_fields({"document": ("docno", "pid"), "relevance": None})
    {'document': ('docno', 'pid'), 'relevance': (None, None)}

    Raises:
        ValueError: it is no mapping, a role is unknown, or a name is no text.
    """
    if fields is None:
        return {}
    if not isinstance(fields, Mapping):
        roles = ", ".join(ROLES)
        raise ValueError(f"fields must map {roles} to names of fields; got {shown(fields)}")
    pairs: dict[str, tuple[str | None, str | None]] = {}
    for role, name in fields.items():
        if role not in ROLES:
            near = nearest(str(role), ROLES)
            hint = f"did you mean {near!r}?" if near else f"the fields are {', '.join(ROLES)}"
            raise ValueError(f"fields: {shown(role)} is not a field; {hint}")
        pairs[role] = _pair(role, name)
    return pairs


def _pair(role: str, name: Any) -> tuple[str | None, str | None]:
    """Return the names of a role in the run and in the references."""
    may_differ = role in ("query", "document")
    pair = name if may_differ and isinstance(name, (list, tuple)) and len(name) == 2 else (name,)
    if not all(part is None or (isinstance(part, str) and part) for part in pair):
        or_pair = ", a pair of names (in the run, in the qrels)" if may_differ else ""
        problem = f"must be the name of a field{or_pair} or None; got {shown(name)}"
        raise InputError(f"{mark('fields', after=': ')}{mark(role)} {problem}")
    if role == "document" and None in pair:
        problem = "must be the name of a field, since each document has an id; got None"
        raise InputError(f"{mark('fields', after=': ')}{mark(role)} {problem}")
    return pair[0], pair[-1]


def with_names_of_columns(fields: Any, **arguments: Any) -> Any:
    """Return `fields` with the names that other arguments give, such as `query_ids="reader"`."""
    named = {role: name for role, name in arguments.items() if isinstance(name, str)}
    if not named or not isinstance(fields, (Mapping, NoneType)):
        return fields
    return {**named, **(fields or {})}


# The names of one side


@dataclass(frozen=True)
class Names:
    """The names that the fields of one side may have, and how its documents are read."""

    kind: str  # "run", "qrels" or "exclude"
    given: Mapping[str, Given]  # what `fields` gives, by role
    score_order: str = "descending"
    labels: Labels | None = None  # what the relevances may be in place of numbers
    # of a document that a run lists several times, its best row is kept, the first or the last of
    # equal scores; None: an error
    keep: str | None = None

    @property
    def value(self) -> str:
        """The role of the value of a document; empty for documents to exclude."""
        return VALUE.get(self.kind, "")

    @property
    def ascending(self) -> bool:
        """Whether the lowest score is best."""
        return self.kind == "run" and self.score_order == "ascending"

    def has_none(self, role: str) -> bool:
        """Return whether `fields` says that there is no field of a role."""
        return role in self.given and self.given[role].name is None

    @property
    def has_no_value(self) -> bool:
        """Whether `fields` says that documents have no score, or no relevance."""
        return self.has_none(self.value)

    def name(self, role: str) -> str | None:
        """Return the name that `fields` gives for a role; None if it gives none."""
        return self.given[role].name if role in self.given else None

    def values(self, in_lists: bool = False) -> Groups:
        """Return the standard names of the values of documents, or of lists of them."""
        if self.kind == "qrels":
            return LISTS_OF_VALUES["qrels"] if in_lists else RELEVANCE
        lowest = LOWEST_FIRST_LISTS if in_lists else LOWEST_FIRST
        (highest,) = LISTS_OF_VALUES["run"] if in_lists else SCORE
        return ((*lowest, *highest),) if self.ascending else (highest,)

    def candidates(self, role: str, fields: Fields, standard: Groups) -> list[Any]:
        """Return the fields that could have a role: the one that `fields` names, or standard ones."""
        if self.has_none(role):
            return []
        name = self.name(role)
        if name is not None:
            named = _called(name, fields)
            if named or not self.given[role].of_both:
                return named
        taken = {given.name for given in self.given.values()}
        for group in standard:
            plain = set(map(plain_name, group))
            present = [path for path, last in fields.last.items() if last in plain]
            present = _with_values([path for path in present if path not in taken], fields)
            if present and role == "query":
                return present + _asked_by_users(present, fields)
            if present:
                return present
        return []


def _with_values(paths: list[Any], fields: Fields) -> list[Any]:
    """Return the fields that are not always null, if there are any."""
    return [path for path in paths if fields.examples[path] is not None] or paths


def _called(name: str, fields: Fields) -> list[Any]:
    """Return the field with this name or path; without one, the fields whose last name it is."""
    if name in fields.last:
        return [name]
    if "." in name:
        return []
    return [path for path, last in fields.last.items() if last == plain_name(name)]


def _asked_by_users(present: Sequence[Any], fields: Fields) -> list[Any]:
    """Return the fields of what a user asks, if those of the user are all: nothing tells which."""
    users = set(map(plain_name, USERS))
    if not all(fields.last[path] in users for path in present):
        return []
    return [path for path, last in fields.last.items() if last in ASKED and path not in present]


def names_of_side(
    kind: str,
    fields: Any = None,
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
) -> Names:
    """Return the names that the fields of one side may have."""
    if fields is None and labels is None and keep is None:
        return _standard_names(kind, score_order)
    given = {}
    for role, pair in check_fields(fields).items():
        is_pair = isinstance(fields[role], (list, tuple))
        given[role] = Given(pair[0 if kind == "run" else 1], not is_pair)
    labels = labels if kind == "qrels" else None
    return Names(kind, given, score_order, labels, keep if kind == "run" else None)


@cache
def _standard_names(kind: str, score_order: str) -> Names:
    return Names(kind, {}, score_order)


def are_names_of_fields(names: Iterable[Any]) -> bool:
    """Return whether names are those of fields, not of queries or documents: two roles have one.

    >>> are_names_of_fields(["query_id", "docno", "x"]), are_names_of_fields(["query", "apple"])
    (True, False)
    """
    present = set(map(plain_name, names))
    roles = (QUERY, DOCUMENT_OF_HITS, (*SCORE, *RELEVANCE))
    return sum(not present.isdisjoint(_plain_names(groups)) for groups in roles) >= 2


@cache
def _plain_names(groups: Groups) -> frozenset[str]:
    return frozenset(plain_name(name) for group in groups for name in group)


# Choosing, and the error of a choice that is not clear


class UnknownFieldError(InputError):
    """No field, or more than one, could have a role.

    Args:
        problems: what is not clear, a sentence each.
        roles: the roles that are not clear.
        chosen: the fields of the roles that are clear.
        fields: all fields, with an example of each.
    """

    def __init__(
        self,
        problems: Sequence[str],
        roles: Sequence[str],
        chosen: Mapping[str, Any],
        fields: str,
    ) -> None:
        super().__init__("")
        self.problems, self.roles, self.chosen, self.fields = problems, roles, chosen, fields
        write = fields_to_write({role: "..." for role in roles})
        self.problem = f"{self.unclear}; {fields}; {write}"

    @property
    def unclear(self) -> str:
        """What is not clear, and what would be read of the rest."""
        clear = [f"the {role} is {shown(field)}" for role, field in self.chosen.items()]
        return "; ".join([*self.problems, *clear])


def chosen_fields(
    candidates: Mapping[str, Sequence[Any]], names: Names, fields: Fields, there: str
) -> dict[str, Any]:
    """Return the field of each role, among its candidates.

    A role that has no field, as `fields` says, is left out. `there` is what has the fields, as an
    error says it.

    Raises:
        UnknownFieldError: a role has no candidate, or more than one.
        InputError: the name of the scores says that the lowest is best.
    """
    chosen: dict[str, Any] = {}
    unclear: dict[str, Sequence[Any]] = {}
    for role, possible in candidates.items():
        if len(possible) == 1:
            chosen[role] = possible[0]
        elif not names.has_none(role):
            unclear[role] = possible
    if unclear:
        problems = _problems(unclear, names, fields)
        listed = f"{there} {listed_fields(fields.examples)}"
        raise UnknownFieldError(problems, list(unclear), chosen, listed)
    if len(set(chosen.values())) < len(chosen):
        raise InputError(f"fields name one field twice: {shown(chosen)}; give each role its own")
    if names.kind == "run" and not names.ascending:
        refuse_lowest_first(chosen.get("score"))
    return chosen


def _problems(unclear: Mapping[str, Sequence[Any]], names: Names, fields: Fields) -> list[str]:
    """Return what is not clear, a sentence each."""
    problems = []
    lacking = []
    for role, possible in unclear.items():
        name = names.name(role)
        if possible:
            several = brief(map(shown, possible), ", ")
            problems.append(f"several fields could be the {role}: {several}")
        elif name is not None:
            near = nearest(name, [field for field in fields.examples if isinstance(field, str)])
            hint = f" (did you mean {near!r}?)" if near else ""
            problems.append(f"no field is called {shown(name)}{hint}")
        else:
            lacking.append(role)
    if lacking:
        *first, last = lacking
        listed = f"{', '.join(first)} or {last}" if first else last
        problems.append(f"no {listed} under a standard name")
    if "score" in lacking:
        lowest = [path for path, last in fields.last.items() if last in LOWEST_FIRST]
        if lowest:
            call = mark("score_order", "ascending")
            problems.append(f"with {call} {shown(lowest[0])} is the score, the lowest first")
    return problems


def fields_to_write(names: Mapping[str, Any]) -> str:
    """Return what an error says to write for roles that are not clear."""
    words = f"give {mark('fields', dict(names))}"
    if "score" in names:
        words += ", or None as the score if the order counts"
    if "relevance" in names:
        words += ", or None as the relevance if each document is relevant"
    return f"{words}; {mark('preview', said='preview(...)')} shows what is read"


def listed_fields(examples: Mapping[Any, Any]) -> str:
    """Return fields with an example of each, as messages show them.

    >>> listed_fields({"case": 1, "hits.id": "d1"})
    "'case' (1), 'hits.id' ('d1')"
    """
    if not examples:
        return "none"
    listed = [f"{shown(field)} ({_inputs_fields_example(value)})" for field, value in examples.items()]
    more = len(listed) - MOST_LISTED
    return ", ".join(listed[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _inputs_fields_example(value: Any) -> str:
    try:
        return " ".join(_EXAMPLE.repr(value).split())
    except Exception:  # noqa: BLE001 - a value that cannot be shown is no reason for another error
        return type(value).__name__


def fields_unknown(
    errors: Mapping[str, UnknownFieldError], are_one: bool = False
) -> InputError:
    """Return one error for the fields that are not clear on several sides, by argument.

    If the sides `are_one`, such as a log, the query has one name and the documents have two.
    """
    first, *others = errors
    if not others and not are_one:
        return within(errors[first], first, instead_of=first)
    roles: dict[str, Any] = {}
    for argument, error in errors.items():
        for role in error.roles:
            are_two = role in roles and argument == "references" and not are_one
            roles[role] = ("...", "...") if are_two else "..."
    if are_one:
        roles["document"] = ("...", "...")
    listed = [error.fields for error in errors.values()]
    sides = []
    for argument, error in errors.items():
        places = [mark(argument), *(place for place in error.places if place != argument)]
        words = error.unclear
        if len(set(listed)) > 1:
            words += f"; {error.fields}"
        sides.append(": ".join([*places, words]))
    if len(set(listed)) == 1:
        sides.append(listed[0])
    write = fields_to_write({role: roles[role] for role in ROLES if role in roles})
    return InputError(f"{'; '.join(sides)}; {write}")


def refuse_unused_fields(fields: Any, runs: Sequence[Any], qrels: Any, exclude: Any, **ids: Any) -> None:
    """Raise an error for a name in `fields` that no side has.

    A side has no fields if it is a file of TREC, a mapping or a list of ids. `ids` are the
    arguments that may give a name in place of `fields`, such as ``query_ids="reader"``.
    """
    for role, pair in check_fields(fields).items():
        of_one_side = {"score": runs, "relevance": [qrels]}.get(role)
        if of_one_side is not None:
            sides = [(pair[0], of_one_side)]
        elif isinstance(fields[role], (list, tuple)):
            sides = [(pair[0], runs), (pair[1], [qrels, exclude])]
        else:
            sides = [(pair[0], [*runs, qrels, exclude])]
        for name, having in sides:
            if name is None or any(_has_field(side, role, name) for side in having):
                continue
            argument = next((key for key, value in ids.items() if value == name), "")
            call = mark(argument, name) if argument else mark("fields", {role: name})
            hint = "files of TREC, mappings and lists tell queries and documents by their places"
            raise InputError(f"{call} names a field, but {_lacking(having, runs, qrels)}; {hint}")


def _has_field(side: Any, role: str, name: str) -> bool:
    """Return whether a side was read from a field of this name or path."""
    path = getattr(side, "fields", {}).get(role)
    if not isinstance(path, str):
        return False
    return path == name or plain_name(path.rpartition(".")[2]) == plain_name(name)


def _lacking(having: Sequence[Any], runs: Sequence[Any], qrels: Any) -> str:
    """Return who lacks a field, as an error says it."""
    if qrels not in having:
        return "the run has none"
    if having[0] is qrels:
        return "the references have none"
    return "neither side has such a field"


# ndcg/inputs/documents.py: The documents of queries by their ids, and the rules for the documents of one query.

DocumentValues = Mapping[Any, Any]  # the values of a query's documents by their ids


@dataclass(frozen=True)
class ById:
    """The values of the documents of each query by their ids."""

    queries: Mapping[Any, DocumentValues]  # by the ids of queries, or by their numbers from 0
    by_position: bool = False  # whether queries have no ids
    form: str = "mappings of documents to numbers"  # what held them
    fields: Mapping[str, str] = field(default_factory=dict)  # the field of each role

    def named(self, argument: str, ids: Sequence[Any]) -> "ById":
        """Return the documents of queries without ids by ids that are given in their order."""
        if len(ids) != len(self.queries):
            problem = f"has {len(ids)} ids for {len(self.queries)} queries; give an id for each"
            raise InputError(problem, argument)
        queries = rows_by_query(argument, ids, list(self.queries.values()))
        return ById(queries, form=self.form, fields=self.fields)


def rows_by_query(argument: str, queries: Sequence[Any], rows: Sequence[Any]) -> dict[Any, Any]:
    """Return the documents of queries by their ids, which must differ."""
    documents = dict(zip(queries, rows, strict=True))
    if len(documents) == len(queries):
        return documents
    first: dict[Any, int] = {}
    for position, query in enumerate(queries):
        before = first.setdefault(query, position)
        if before < position:
            problem = f"query {shown(query)} is in row {before} and in row {position}"
            raise InputError(f"{problem}; give each query once", argument)
    raise AssertionError("ids that are equal have equal hashes")


def documents_of_query(
    ids: Iterable[Any], values: Iterable[Any] | None, names: Names, in_list: bool = False
) -> dict[Any, Any]:
    """Return the values of a query's documents by their ids.

    Without values, the order of a run makes them: they fall by one from rank to rank, or rise. A
    relevance is 1. In a list, each document of a run must have a score if one has.

    >>> documents_of_query(["d2", "d1"], None, Names("run", {}))
    {'d2': -1, 'd1': -2}
    >>> documents_of_query(["d1"], ["0.5"], Names("run", {}))
    {'d1': 0.5}

    Raises:
        InputError: a value is no id, ids are of several kinds, a document is there twice, or only
            some documents have a score.
    """
    ids = list(ids)
    numbers = _by_order(len(ids), names) if values is None else list(map(as_number, values))
    if in_list and names.kind == "run" and None in numbers:
        _refuse_no_score(ids, numbers)
    kinds = set(map(type, ids))
    if len(kinds) > 1 or not kinds <= {str, int}:
        _check_kinds(ids)
    documents = dict(zip(ids, numbers, strict=True))
    if len(documents) == len(ids):
        return documents
    if names.keep is None:
        _refuse_twice(ids, names)
    return _best(ids, numbers, names)


def _by_order(count: int, names: Names) -> list[int]:
    """Return the values of documents that have none."""
    if names.kind != "run":
        return [1] * count
    if names.ascending:
        return list(range(1, count + 1))
    return list(range(-1, -count - 1, -1))


def _refuse_no_score(ids: Sequence[Any], numbers: Sequence[Any]) -> None:
    """Raise an error for a hit without a score."""
    position = numbers.index(None)
    call = mark("fields", {"score": None})
    hint = f"give each document a score, or {call} if the order counts"
    raise InputError(f"document {shown(ids[position])} has no score; {hint}", position=position)


def _check_kinds(ids: Sequence[Any]) -> None:
    """Raise an error for a value that is no id, and for ids of several kinds."""
    wrong = types_of_no_ids(ids)
    first: dict[str, Any] = {}
    for position, document in enumerate(ids):
        if type(document) in wrong:
            problem = f"an id must be text or an integer; got {shown(document)}"
            raise InputError(f"{problem}; give others as text", position=position)
        first.setdefault(id_kind(type(document)), document)
    if len(first) > 1:
        several = " and ".join(map(shown, first.values()))
        raise InputError(f"ids must be of one kind; got {several}; give all as text")


def _refuse_twice(ids: Sequence[Any], names: Names) -> None:
    """Raise an error for the first document that is there twice."""
    first: dict[Any, int] = {}
    for position, document in enumerate(ids):
        before = first.setdefault(document, position)
        if before < position:
            problem = f"document {shown(document)} is in position {before} already"
            raise InputError(f"{problem}; {once(names.kind)}", position=position)


def _best(ids: Sequence[Any], numbers: Sequence[Any], names: Names) -> dict[Any, Any]:
    """Return the best score of each document, at the first of its places with it, or at the last."""
    best: dict[Any, int] = {}
    for position, document in enumerate(ids):
        before = best.setdefault(document, position)
        if _is_better(numbers[position], numbers[before], names):
            best[document] = position
    return {ids[position]: numbers[position] for position in sorted(best.values())}


def _is_better(score: Any, known: Any, names: Names) -> bool:
    """Return whether a score takes the place of one that is known for the same document."""
    score, known = number(score), number(known)
    if not _inputs_documents_is_number(known):
        return known is None  # another value is kept, and refused where values are read
    if score is None:
        return False
    if not _inputs_documents_is_number(score):
        return True
    if score == known:
        return names.keep == "last"
    return bool(score < known if names.ascending else score > known)


def _inputs_documents_is_number(value: Any) -> bool:
    return isinstance(value, Real) and value == value


# ndcg/inputs/exclusion.py: Remove documents, such as items that a user has seen, from rankings and ideals.

class Pairs(NamedTuple):
    """Documents to exclude, a row each, as columns of any library."""

    query_ids: Any  # the id of each row's query
    document_ids: Any  # the id of each row's document


class NothingExcludedError(InputError):
    """No query of `exclude` is in the references, although their ids have the same type."""


def without(
    exclude: Any, run: Columns, qrels: Columns, exclude_from: str = "both"
) -> tuple[Columns, Columns, NDArray[np.int64]]:
    """Return both sides without the excluded documents, and how many of these each query has on each side.

    If they are excluded from the run only, the judgments stay as they are.

    They are excluded as ``{query: ids}``, the ``Pairs`` of a DataFrame, or the ``Columns`` of a file. Their ids must be
    of the type of the rankings' ids, and one of their queries must be in the rankings.
    """
    excluded = _inputs_exclusion_columns(exclude, run, qrels)
    left, counts = [], np.zeros((len(qrels.query_ids), 2), np.int64)
    for at, side in enumerate((run, qrels)):
        mask = _are_among(side, excluded)
        stays = exclude_from == "run" and at == 1
        left.append(side if stays else side.only(~mask))
        known = index_among(side.query_ids, qrels.query_ids)
        counts[known[known >= 0], at] = np.bincount(side.query[mask], minlength=len(known))[known >= 0]
    return left[0], left[1], counts


def are_excluded(rows: Columns, exclude: Any) -> Mask:
    """Return which rows are to be excluded."""
    return _are_among(rows, _inputs_exclusion_columns(exclude, rows, rows))


def _are_among(side: Columns, excluded: Columns) -> Mask:
    """Return which rows have the same query and document as a row to exclude; a document may have several rows."""
    query = index_among(excluded.query_ids, side.query_ids)[excluded.query]
    excluded = excluded._replace(query=query).only(query >= 0)
    count = len(excluded.query)
    return first_rows(excluded, side)[count:] < count


def _inputs_exclusion_columns(exclude: Any, run: Columns, judged: Columns) -> Columns:
    """Return the documents to exclude as columns, without ids that the rankings' columns cannot hold."""
    own = run if len(run.document) else judged
    if isinstance(exclude, ById):
        exclude = exclude.queries
    if isinstance(exclude, Mapping):
        check_ids("exclude", exclude, nested=False)
        by_query = {query: found for query, documents in exclude.items() if (found := _inputs_exclusion_ids(query, documents))}
        queries: Any = list(by_query)
        query = np.repeat(np.arange(len(queries)), list(map(len, by_query.values())))
        documents: Any = list(chain.from_iterable(by_query.values()))
    elif isinstance(exclude, Columns):
        query, queries, documents = exclude[:3]
    elif isinstance(exclude, Pairs):
        # an empty column may have a type that ids cannot have
        of_query, of_document = (ids if len(ids) else [] for ids in settled(exclude._asdict()).values())
        ids, documents = read_ids("exclude", of_query), id_column("exclude", of_document)
        query, queries = ids.codes, ids.distinct
        if len(query) != len(documents):
            lengths = f"{len(query)} query ids and {len(documents)} document ids"
            raise InputError(f"has {lengths}; give both in each row", "exclude")
    else:
        forms = "{query: ids}, a file, or, together with data, a DataFrame with columns of the same names"
        raise InputError(f"{mark('exclude')} must be {forms}; got {shown(exclude)}")
    _check_queries(as_list(queries), as_list(judged.query_ids), isinstance(exclude, Columns))
    _check_documents(documents, own)
    if own.names is not None:
        numbers = index_among(as_list(documents), list(own.names))  # -1 is no document
        documents = pa.chunked_array([pa.array(numbers)])
    elif isinstance(documents, list):
        held = _are_held_by(own.document.type, documents)
        query, documents = query[held], id_column("exclude", list(compress(documents, held)))
    return Columns(query, queries, documents, np.ones(len(query)), hashes_of(documents))


def _are_held_by(kind: pa.DataType, ids: list[Any]) -> Mask:
    """Return which ids a column of this type can hold: ids of its kind, integers in its range, and Unicode text."""
    name = id_kind(kind)
    limits = np.iinfo(kind.to_pandas_dtype()) if name == "integers" else None

    def is_held(each: Any) -> bool:
        if limits is not None and isinstance(each, Integral):
            return bool(limits.min <= int(each) <= limits.max)
        return id_kind(type(each)) == name and not (name == "text" and SURROGATE.search(each))

    return np.array(list(map(is_held, ids)), bool)


def by_position(exclude: Any, queries: int) -> dict[int, Any]:
    """Return ``{query: ids}``, by the position of queries, from a list of ids for each query."""
    rows = exclude.to_pylist() if isinstance(exclude, ARROW) else exclude
    if not isinstance(rows, (list, tuple, np.ndarray)) or isinstance(rows, (Pairs, Columns)):
        given = "a file or a DataFrame" if isinstance(rows, (Pairs, Columns)) else shown(exclude)
        problem = f"got {given}, but the predictions are ranked ids by position"
        raise InputError(f"{problem}; give a list or a set of ids for each query, in the same order", "exclude")
    if len(rows) != queries:
        raise ValueError(f"exclude holds {len(rows)} queries and predictions {queries}; give a list of ids for each")
    return dict(enumerate(rows))


def _inputs_exclusion_ids(query: Any, documents: Any) -> Set[Any]:
    """Return the ids of a query's documents."""
    found = documents
    if not isinstance(found, (list, tuple, Set, Mapping, str, bytes)):
        found = plain("exclude", found)
        found = found.to_pylist() if isinstance(found, ARROW) else found
        found = found.tolist() if isinstance(found, np.ndarray) else found
    if not isinstance(found, (list, tuple, Set, Mapping)):
        raise InputError(f"must be a list or a set of ids; got {shown(documents)}", "exclude", f"query {shown(query)}")
    if wrong := types_of_no_ids(found):
        other = next(each for each in found if type(each) in wrong)
        raise InputError(f"must hold ids, text or integers; got {shown(other)}", "exclude", f"query {shown(query)}")
    return frozenset(found)


def _check_queries(excluded: list[Any], own: list[Any], is_file: bool) -> None:
    """Raise an error if no excluded query is in the rankings.

    It is a NothingExcludedError if the ids have the same type, so that other rankings may have these queries.
    """
    if excluded and own and set(excluded).isdisjoint(own):
        ids = f"{shown(excluded[0])} in {mark('exclude')}, {shown(own[0])} in the {mark('references')}"
        different = id_kind(type(excluded[0])) != id_kind(type(own[0]))
        hint = "; give both the same type" * different
        hint += ": ids of files are text, so read the file and give its DataFrame" * (is_file and different)
        kind = InputError if different else NothingExcludedError
        raise kind(f"no query is in the {mark('references')}; ids are such as {ids}{hint}", "exclude")


def _check_documents(excluded: Any, own: Columns) -> None:
    """Raise an error for documents with another kind of ids than in the rankings, the same in any order of a set."""
    if not len(own.document) or not len(excluded):
        return
    if isinstance(excluded, list) or own.names is not None:
        first = own.documents(np.zeros(1, np.int64))[0]
        kinds = {id_kind(type(each)) for each in own.names} if own.names is not None else {id_kind(own.document.type)}
        excluded = as_list(excluded)
        wrong = {each for each in set(map(type, excluded)) if id_kind(each) not in kinds}
        others = [each for each in excluded if type(each) in wrong]
    else:
        first = own.document[0].as_py()
        others = [excluded[0].as_py()] if family(excluded.type) != family(own.document.type) else []
    if others:
        ids = f"{min(map(shown, others))} in {mark('exclude')}, {shown(first)} in the rankings"
        raise InputError(f"ids of documents are of another type, such as {ids}; give both the same type", "exclude")


# ndcg/inputs/objects.py: Objects and the paths to their fields: dicts, as in JSON, and objects of client libraries.

DEEPEST = 5  # objects within objects
LOOKED_AT = 1 << 10  # objects of a side whose fields are looked at; all are read by the same paths
MOST_SHAPES = 1 << 5  # kinds of objects among these
Keys = tuple[str, ...]


class Field(NamedTuple):
    """A field of objects."""

    keys: Keys  # the names that lead to it from an object
    lists: tuple[int, ...]  # after how many of these keys there is a list of objects
    example: Any
    has_fields: bool  # whether it leads to objects, whose fields have paths of their own

    @property
    def in_list(self) -> bool:
        """Whether the path leads through a list of objects."""
        return len(self.lists) > 0

    @property
    def list_path(self) -> Keys:
        """The path to the innermost list of objects that holds the field."""
        return self.keys[: self.lists[-1]] if self.lists else ()


def is_object(value: Any) -> bool:
    """Return whether a value has fields: a dict, a named tuple, a row of a database, a client's."""
    if isinstance(value, Mapping) or hasattr(value, "_fields") or hasattr(value, "__fields__"):
        return True
    if value is None or isinstance(value, (str, Number, list, tuple, Set, type)):
        return False
    if id_kind(type(value)) or hasattr(value, "__array__") or hasattr(value, "__arrow_c_stream__"):
        return False
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):  # a row of sqlite3 and others
        return True
    return hasattr(value, "__dict__") or hasattr(value, "__dataclass_fields__")


def is_list(value: Any) -> bool:
    """Return whether a value is a list or a tuple without names."""
    return isinstance(value, list) or (isinstance(value, tuple) and not is_object(value))


def fields_of(value: Any) -> Mapping[Any, Any]:
    """Return the fields of an object by their names."""
    if isinstance(value, Mapping):
        return value
    for names in ("_fields", "__fields__", "__dataclass_fields__"):
        if hasattr(value, names):
            return {name: getattr(value, name, None) for name in getattr(value, names)}
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {name: value[name] for name in value.keys()}  # noqa: SIM118 - it may be no mapping
    return {name: field for name, field in vars(value).items() if not callable(field)}


def fields_among(objects: Iterable[Any], start: Keys = ()) -> dict[str, Field]:
    """Return the fields of objects by their paths, which begin with those of `start`.

    >>> fields = fields_among([{"id": 1, "output": {"hits": [{"doc.id": "a"}]}}])
    >>> {path: field.lists for path, field in fields.items()}
    {'id': (), 'output': (), 'output.hits': (2,), 'output.hits.doc.id': (2,)}

    Raises:
        InputError: one is no object.
    """
    examples: dict[Any, Any] = {}
    for position, value in enumerate(islice(objects, LOOKED_AT)):
        if value is not None and not is_object(value):
            problem = f"holds {shown(value)} among objects; give objects alone"
            raise InputError(problem, position=position)
        examples.setdefault(_shape(value, DEEPEST), value)
    examples.pop(None, None)
    fields: dict[str, Field] = {}
    for value in islice(examples.values(), MOST_SHAPES):
        for field in _fields_within(value, (), DEEPEST):
            path = ".".join((*start, *field.keys))
            known = fields.get(path)
            # A list that is empty, or null, in one object may hold objects in another.
            if known is None or (field.has_fields and not known.has_fields):
                fields[path] = field
            elif _inputs_objects_is_empty(known.example) and not _inputs_objects_is_empty(field.example):
                fields[path] = field
    return fields


def leaves(fields: Mapping[str, Field], paths: Iterable[str] | None = None) -> Fields:
    """Return the fields that hold no fields themselves, all or those at some paths."""
    chosen = fields if paths is None else paths
    ends = [path for path in chosen if not fields[path].has_fields]
    examples = {path: fields[path].example for path in ends}
    return Fields(examples, {path: plain_name(fields[path].keys[-1]) for path in ends})


def _inputs_objects_is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (list, tuple, Mapping)) and not value)


def _shape(value: Any, depth: int) -> Any:
    """Return what tells apart objects with other paths: the names of their fields, at any depth."""
    if is_list(value):
        return (list, _shape(_inputs_objects_first(value), depth))
    if depth == 0 or not is_object(value):
        return value is None
    return tuple((name, _shape(field, depth - 1)) for name, field in fields_of(value).items())


def _inputs_objects_first(values: Sequence[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _fields_within(value: Any, keys: Keys, depth: int, lists: tuple[int, ...] = ()) -> Iterator[Field]:
    """Yield the fields of an object at some keys, and those of the objects within."""
    for name, example in fields_of(value).items():
        if not isinstance(name, str):
            continue
        path = (*keys, name)
        first = _inputs_objects_first(example) if is_list(example) else None
        inner, within = example, lists
        if is_object(first):
            inner, within = first, (*lists, len(path))
        has_fields = depth > 1 and is_object(inner) and len(fields_of(inner)) > 0
        yield Field(path, within, example, has_fields)
        if has_fields:
            yield from _fields_within(inner, path, depth - 1, within)


def value_at(value: Any, keys: Keys) -> Any:
    """Return the field at some keys: a list if they lead through one, None if there is none.

    >>> value_at({"hits": [{"id": "a"}, {"id": "b"}]}, ("hits", "id"))
    ['a', 'b']
    """
    for at, key in enumerate(keys):
        if value is None:
            return None
        if is_list(value):
            return values_at(value, keys[at:])
        if isinstance(value, Mapping):
            value = value.get(key)
        elif hasattr(value, "keys"):
            value = value[key] if key in value.keys() else None  # noqa: SIM118 - it may be no mapping
        else:
            value = getattr(value, key, None)
    return value


def values_at(objects: Sequence[Any], keys: Keys) -> list[Any]:
    """Return the field at some keys of each object."""
    if len(keys) == 1 and set(map(type, objects)) == {dict}:  # by far the most frequent, and faster
        (key,) = keys
        return [value.get(key) for value in objects]
    return [value_at(value, keys) for value in objects]


# ndcg/inputs/frame.py: Read whatever has columns with names: DataFrames, tables, databases, Datasets, dicts of columns, and records.

HINT = (
    "give a pandas, Polars or Spark DataFrame, an Arrow table, a DuckDB relation, a Hugging Face Dataset, a dict of "
    "columns, or records"
)


class Frame(NamedTuple):
    """The columns of a table."""

    names: list[Any]
    # a function that returns columns, by their names, whose rows match
    read: Callable[[Collection[Any]], list[Any]]
    # a function that returns the first rows of some columns, without reading all
    head: Callable[[Collection[Any]], list[Any]]


def frame_of(argument: str, value: Any) -> Frame | None:
    """Return the columns of a value; None if it has none with names.

    >>> frame = frame_of("data", [{"qid": "q", "docno": "d"}])
    >>> frame.names, frame.read(["docno"])
    (['qid', 'docno'], [['d']])

    Raises:
        ValueError: it is a table for each split, or its rows cannot be counted.
    """
    _refuse_splits(argument, value)
    if isinstance(value, (list, tuple)):
        return _inputs_frame_records(argument, value)
    if hasattr(value, "collect_schema") and hasattr(value, "collect"):  # a LazyFrame
        return _lazy_frame(value)
    if isinstance(value, ARROW) and pa.types.is_struct(value.type):
        value = pa.Table.from_struct_array(value)
    is_arrow = library_of(value) == "pyarrow" and hasattr(value, "schema")
    if is_arrow and hasattr(value, "to_table"):
        return _dataset_of_files(value)
    names = value.schema.names if is_arrow else _inputs_frame_names_of(value)
    if names is None:
        return None
    if is_database_query(value):
        table = cache(partial(pa.table, value))  # the query runs once
        read = lambda names: _inputs_frame_columns(table(), names)  # noqa: E731
        return Frame(names, read, read)
    if not hasattr(value, "__len__"):
        problem = f"{type(value).__name__} has no rows that can be counted"
        raise ValueError(f"{argument}: {problem}; {HINT}")
    read = partial(_inputs_frame_columns, value)
    return Frame(names, read, read)


def _refuse_splits(argument: str, value: Any) -> None:
    """Raise an error for a table for each split of a Dataset."""
    if type(value).__name__ in ("DatasetDict", "IterableDatasetDict"):
        splits = ", ".join(map(shown, value))
        hint = f"choose a split, such as dataset[{shown(next(iter(value), 'test'))}]"
        raise InputError(f"is a {type(value).__name__} of {splits}; {hint}", argument)


def _lazy_frame(value: Any) -> Frame:
    """Return the columns of a LazyFrame of Polars, which is computed once for all that are read."""

    def read(names: Collection[Any]) -> list[Any]:
        return _inputs_frame_columns(value.select(list({*names})).collect(), names)

    def head(names: Collection[Any]) -> list[Any]:
        return _inputs_frame_columns(value.select(list({*names})).head(1).collect(), names)

    return Frame(value.collect_schema().names(), read, head)


def _dataset_of_files(value: Any) -> Frame:
    """Return the columns of a dataset of Arrow in files."""

    def read(names: Collection[Any]) -> list[Any]:
        return _inputs_frame_columns(value.to_table(columns=list({*names})), names)

    def head(names: Collection[Any]) -> list[Any]:
        return _inputs_frame_columns(value.head(1, columns=list({*names})), names)

    return Frame(value.schema.names, read, head)


def _inputs_frame_names_of(value: Any) -> list[Any] | None:
    """Return the names of columns; None for a value that has none."""
    if isinstance(value, Mapping):
        return list(value)
    if isinstance(value, np.ndarray):
        return None if value.dtype.names is None else list(value.dtype.names)
    names = getattr(value, "column_names", None) or getattr(value, "columns", None)
    if names is None and hasattr(value, "column_names"):  # a Dataset that tells no names
        return []
    return None if names is None or callable(names) else list(names)


def _inputs_frame_columns(table: Any, names: Collection[Any]) -> list[Any]:
    """Return columns of a table by their names."""
    return [table[name] for name in names]


def _inputs_frame_records(argument: str, records: Sequence[Any]) -> Frame | None:
    """Return the fields of records, a list of objects, as columns; None for other lists."""
    if len(records) == 0 or not is_object(records[0]):
        return None

    def read(names: Collection[Any]) -> list[Any]:
        return [_field_of_records(argument, records, name) for name in names]

    return Frame(list(fields_of(records[0])), read, read)


def _field_of_records(argument: str, records: Sequence[Any], name: Any) -> list[Any]:
    """Return a field of all records."""
    if set(map(type, records)) == {dict}:
        with suppress(KeyError):
            return [record[name] for record in records]
    column = []
    for row, record in enumerate(records):
        fields = fields_of(record) if is_object(record) else {}
        if name not in fields:
            has = shown(list(fields) or record)
            problem = f"record {row} has no {name!r}, which the first one has; it has {has}"
            raise InputError(problem, argument)
        column.append(fields[name])
    return column


def named_columns(data: Any, called: str = "data", **arguments: Any) -> list[Any]:
    """Return arguments, with names of columns replaced by the columns of a DataFrame, if there is one.

    Values that are not names are returned unchanged; `called` is the name of the DataFrame in messages.
    """
    if data is None:
        return list(arguments.values())
    if is_spark(data):
        raise ValueError(f"{called}: only compute scores a Spark DataFrame; give its rows, {called}=frame.toArrow()")
    frame = frame_of(called, listed(data))
    if frame is None:
        raise ValueError(f"{called} must be a DataFrame with named columns; got {shown(data)}; {HINT}")
    columns, names = frame.names, {argument: name for argument, name in arguments.items() if isinstance(name, str)}
    if missing := {argument: name for argument, name in names.items() if name not in columns}:
        near = [nearest(name, [each for each in columns if isinstance(each, str)]) for name in missing.values()]
        hint = "; did you mean " + ", ".join(f'"{each}"' for each in near if each) + "?" if any(near) else ""
        lacks = f"column{'s' * (len(missing) > 1)} {', '.join(map(shown, missing.values()))}"
        raise ValueError(f"{', '.join(missing)}: {called} has no {lacks}; it has {_listed(columns)}{hint}")
    for argument, name in names.items():
        if columns.count(name) > 1:
            raise InputError(f"{called} has several columns {shown(name)}; give them names of their own", argument)
    if not names:
        hint = "give predictions and references as their names, which must be text"
        raise ValueError(f"{called}: no argument names one of its columns, which are {_listed(columns)}; {hint}")
    named = [name for name in columns if name in names.values()]
    found = dict(zip(named, frame.read(named), strict=True))
    found = {name: _with_name(column, name) for name, column in found.items()}
    return [found[given] if argument in names else given for argument, given in arguments.items()]


def _with_name(column: Any, name: str) -> Any:
    """Return a column; one whose lowest value may be the best with its name, in a table."""
    says_so = says_lowest_first(name) or says_lowest_first(name, NAMES_OF_RANKS)
    if not says_so or name_of_column(column) == name:
        return column
    with suppress(pa.ArrowException, ValueError):
        return pa.table({name: plain(name, column)})
    return column


def name_of_column(column: Any) -> Any:
    """Return the name of a column of a DataFrame, or of its only one; None for other values."""
    for attribute in ("name", "column_name"):
        if hasattr(column, attribute):
            return getattr(column, attribute)
    for attribute in ("column_names", "columns"):
        names = getattr(column, attribute, None)
        if names is not None and not callable(names) and len(names) == 1:
            return names[0]
    return None


def _listed(columns: list[Any]) -> str:
    """Return the first names of columns, as many as fit into a message."""
    return ", ".join(map(shown, columns[:20])) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")


# ndcg/inputs/no_rankings.py: Refuse what looks like rankings and is something else: rows of a table, ids, ranks as scores.

MANY_DOCUMENTS = 20  # in all queries: so many different numbers are hardly ranks or grades


def refuse_no_rankings(score: Column, relevance: Column) -> None:
    """Raise an error if both sides, lists of the same lengths, hold ids or rows of a table."""
    lengths = np.diff(score.offsets)
    if len(lengths) == 0 or score.present is not None or relevance.present is not None:
        return
    if len(lengths) > 1 and (lengths == 3).all():
        _refuse_triples(score.values.reshape(-1, 3), relevance.values.reshape(-1, 3))
    _check_ids(score, relevance, lengths)


def warn_of_one_document(score: Column) -> None:
    """Warn of queries of one document each, which may be the documents of one query."""
    lengths = np.diff(score.offsets)
    if len(lengths) < 2 or not (lengths == 1).all():
        return
    problem = f"{len(lengths)} queries have one document each, so no order matters"
    hint = f"if these are documents of one query, wrap them in a list, else give {mark('query_ids')}"
    warn(f"{mark('predictions')}: {problem}; {hint}")


def _refuse_triples(rows: NDArray[Any], others: NDArray[Any]) -> None:
    """Raise an error for rows of a user, an item and a value: each would be a query of three.

    Users and items are whole numbers, another pair in each row. Either the rows of both sides have
    the same pairs, as scores and relevances may have in a few queries of small numbers, hardly in
    five queries or with a 10; or both sides have the same users, some of them repeatedly, and only
    the third scores have fractions.
    """
    pairs, other_pairs = rows[:, :2].astype(np.float64), others[:, :2].astype(np.float64)
    are_few = len(pairs) < 5 and (pairs < 10).all()
    if are_few or not _are_distinct(pairs):
        return
    if (pairs == other_pairs).all():
        if (rows == others).all():
            return
    elif not _have_same_users(pairs, other_pairs) or not _have_fractions(rows[:, 2]):
        return
    one, other = (f"({row[0]:.0f}, {row[1]:.0f}, {row[2]:g})" for row in (rows[0], others[0]))
    problem = f"both sides hold rows of a user, an item and a value, such as {one} and {other}"
    hint = (
        "give tables with names of columns, such as "
        'predictions=pd.DataFrame(rows, columns=["user_id", "item_id", "score"])'
    )
    raise ValueError(f"{problem}, and each would be a query of three documents; {hint}")


def _have_same_users(pairs: NDArray[Any], others: NDArray[Any]) -> bool:
    """Return whether both sides have the same users, some of them repeatedly, and other items."""
    users, other_users = np.unique(pairs[:, 0]), np.unique(others[:, 0])
    are_repeated = len(users) < len(pairs)
    return are_repeated and np.array_equal(users, other_users) and _are_distinct(others)


def _have_fractions(values: NDArray[Any]) -> bool:
    return bool(np.mean(values != np.trunc(values)) > 0.5)


def _check_ids(score: Column, relevance: Column, lengths: NDArray[np.int64]) -> None:
    """Raise an error, or warn, for ids on both sides: whole numbers, none of them twice in a query.

    In many documents the highest of each side is above the length of the longest query, which
    ranks and grades are not: that is an error. In few there is no 0, each query has at least three
    documents, and only the scores must go beyond that length: that is a warning.
    """
    sides = (score.values, relevance.values)
    if any(side.dtype.kind not in "iu" or len(side) == 0 for side in sides):
        return
    highest = [side.max() for side in sides]
    are_many = len(score.values) >= MANY_DOCUMENTS
    if are_many and min(highest) <= lengths.max():
        return
    if not are_many and (lengths.min() < 3 or highest[0] <= lengths.max()):
        return
    if not are_many and any((side == 0).any() for side in sides):
        return
    query = np.repeat(np.arange(len(lengths)), lengths)
    for side in sides:
        rows = np.stack([query, side.astype(np.int64)], axis=1)
        if not _are_distinct(rows[side != -1]):  # -1 is no document
            return
    first = [", ".join(map(str, side[: lengths[0]][:5].tolist())) for side in sides]
    problem = "hold other whole numbers in each place of a query, as ids are, such as"
    ids = "give the ids of relevant documents as sets, references=[{...}, ...]"
    words = f"{problem} [{first[0]}, ...] and [{first[1]}, ...]; {ids}"
    if are_many:
        raise ValueError(f"predictions and references {words}; if they are scores, as floats")
    warn(f"{mark('predictions')}: both sides {words}; they are read as scores and relevances")


def _are_distinct(rows: NDArray[Any]) -> bool:
    """Return whether rows are whole numbers, another row each."""
    are_whole = (rows == np.trunc(rows)).all()
    return bool(are_whole) and len(np.unique(rows, axis=0)) == len(rows)


def refuse_counted_ranks(
    argument: str, name: Any, query: NDArray[np.int64], score: NDArray[Any]
) -> None:
    """Raise an error for scores that count from 0 or 1 in each query, under the name of a rank.

    Args:
        argument: the argument that holds the scores.
        name: the name of the column or the field of scores.
        query: the number of each score's query.
        score: the scores.
    """
    if len(score) == 0:
        return
    try:
        score = score.astype(np.float64)
    except (TypeError, ValueError):  # another error says so
        return
    order = np.lexsort((score, query))
    starts = np.flatnonzero(np.diff(query[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    counted = np.arange(len(order)) - np.repeat(starts, lengths)
    if not any((score[order] - counted == first).all() for first in (0, 1)):
        return
    problem = f"the column {name!r} counts from {score.min():g} in each query, as ranks do"
    hint = f"give {mark('score_order', 'ascending')} if the lowest is best, else floats"
    raise InputError(f"{problem}; {hint}", argument)


# ndcg/inputs/joins.py: Join both sides: lists by position, flat rows by the ids of their queries, and others by ids.

# Lists, by position


def join_lists(
    predictions: Any,
    references: Any,
    ignore_index: float | None,
    score_order: str,
    labels: Labels | None = None,
    place: Place | None = None,
) -> Rankings:
    """Return rankings in which each query is a list, with the same documents on both sides.

    `place` describes the place of a label, if queries have other names than their numbers.
    """
    score = read_column("predictions", predictions).without_unretrieved(score_order)
    relevance = read_column("references", references, ignore_index, labels, place)
    check_queries_equal(len(score.offsets) - 1, len(relevance.offsets) - 1)
    if (score.offsets != relevance.offsets).any():
        raise _other_lengths(np.diff(score.offsets), np.diff(relevance.offsets))
    refuse_no_rankings(score, relevance)
    if place is None:
        warn_of_one_document(score)
    return Rankings.of(score, relevance)


def _other_lengths(scored: NDArray[np.int64], judged: NDArray[np.int64]) -> InputError:
    """Return the error for lists of different lengths."""
    query = int(np.flatnonzero(scored != judged)[0])
    problem = f"{scored[query]} predictions and {judged[query]} references"
    none = mark(
        "None",
        before=", ",
        after=" for the score of one not retrieved or the relevance of one not judged",
    )
    ids = "if these are document ids, give the references as sets"
    return InputError(f"query {query}: {problem}; give both for every document{none}; or, {ids}")


# Flat rows


def join_rows(
    predictions: Any,
    references: Any,
    query_ids: Any,
    document_ids: Any = None,
    exclude: Any = None,
    *,
    exclude_from: str = "both",
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    ignore_index: float | None = None,
    labels: Labels | None = None,
    keep: str | None = None,
) -> Rankings:
    """Group rows by query; rows of a query keep their order, except ties with ids of documents."""
    queries = read_ids("query_ids", query_ids)
    documents = None if document_ids is None else id_column("document_ids", document_ids)
    codes, ids = queries.codes, queries.distinct

    def row_of(_: int, row: int | None) -> str:
        if row is None or row >= queries.rows:
            return f"row {row}"
        return f"query {shown(ids[int(codes[row])].as_py())}, row {row}"

    score = read_flat_column("predictions", predictions, row_of).without_unretrieved(score_order)
    relevance = read_flat_column("references", references, row_of, ignore_index, labels)
    _check_lengths(score, relevance, queries, documents)
    if keep is not None and documents is None:
        needed = f"{mark('document_ids')}, the ids by which documents are the same"
        raise InputError(f"{mark('duplicates', 'best')} needs {needed}")
    order, offsets = queries.grouped()
    rows: Columns | None = None
    if documents is not None:
        rows = Columns(codes, ids, documents, score.values, hashes_of(documents))
        if keep is None:
            _refuse_repeated_rows(rows, row_of)
        else:
            best = best_rows(rows, keep, score_order == "ascending", score.present)
            if best is not None:
                _refuse_two_judgments(rows, relevance, row_of)
                order, offsets = grouped(codes[best], len(ids))
                order = np.flatnonzero(best)[order]
        if by_docid:
            order = _sort_ties(order, codes, in_dtype(score.values, score_dtype), rows.ordinals)

    def rows_of(query: int) -> NDArray[np.int64]:
        return np.arange(len(codes))[order][offsets[query] : offsets[query + 1]]

    def place(query: int, position: int | None) -> str:
        name = f"query {shown(ids[query].as_py())}"
        if position is None:
            return name
        row = int(rows_of(query)[position])
        document = "" if rows is None else f", document {rows.words(row)[0]}"
        return f"{name}, row {row}{document}"

    def documents_of(query: int) -> list[Any]:
        of_query = rows_of(query)
        return list(of_query.tolist() if rows is None else rows.documents(of_query))

    def in_order(column: Column) -> Column:
        return column.reordered(order, offsets)

    threads = None if len(codes) > THREADED else 1
    score, relevance = in_threads(in_order, (score, relevance), threads=threads)
    rankings = Rankings.of(score, relevance, place=place, query_ids=ids, documents=documents_of)
    if exclude is None or rows is None:
        return rankings
    kept = ~are_excluded(rows, exclude)[order]
    present = (relevance.present, score.present)
    given = Rankings(relevance.values, score.values, offsets, *present)  # padding too
    before, after = given.counts(), given.only(kept).counts()
    excluded = [before[name] - after[name] for name in ("retrieved", "judged")]
    return rankings.only(kept, exclude_from)._replace(excluded=np.stack(excluded, axis=1))


def _refuse_repeated_rows(rows: Columns, row_of: Callable[[int, int], str]) -> None:
    """Raise an error for a document that a query has in two rows."""
    repeated = repeated_row(rows)
    if repeated is not None:
        row, before = repeated
        again = f"{row_of(0, row)}: document {rows.words(row)[0]}"
        raise InputError(f"{again} is in row {before} already; {once('run')}", "document_ids")


def _refuse_two_judgments(
    rows: Columns, relevance: Column, row_of: Callable[[int, int], str]
) -> None:
    """Raise an error for a document whose rows have different relevances."""
    first, again = same_rows(rows)
    judged = np.ones(len(rows.query), bool) if relevance.present is None else relevance.present
    values = relevance.values
    unlike = judged[first] != judged[again]
    unlike |= judged[first] & (values[first] != values[again])
    if unlike.any():
        at = int(unlike.argmax())
        row, before = int(again[at]), int(first[at])
        problem = f"document {rows.words(row)[0]} has another relevance than in row {before}"
        raise ValueError(f"references: {row_of(0, row)}: {problem}; give it one")


def _check_lengths(score: Column, relevance: Column, queries: Ids, documents: Any) -> None:
    """Raise an error unless all columns have the same number of rows."""
    rows = {
        "predictions": len(score.values),
        "references": len(relevance.values),
        "query_ids": queries.rows,
    }
    if documents is not None:
        rows["document_ids"] = len(documents)
    if len(set(rows.values())) == 1:
        return
    lengths = ", ".join(f"{mark(name)} {length}" for name, length in rows.items())
    outer_join = "an outer join (docs/inputs.md)"
    hint = f"first join tables with different rows by query and document, with {outer_join}"
    if _are_sizes(queries, len(score.values)):
        sizes = "for sizes of groups give numpy.repeat(range(len(sizes)), sizes)"
        hint = f"{sizes}, for their ends numpy.diff(ends) first"
    raise InputError(
        f"with {mark('query_ids')}, all columns must be flat and have the same length, one row per "
        f"document; got {lengths} rows; {hint}"
    )


def _are_sizes(queries: Ids, rows: int) -> bool:
    """Return whether ids of queries are the sizes of the groups of rows, or their ends."""
    if queries.rows >= rows:
        return False
    sizes = queries.distinct.take(pa.array(queries.codes)).to_pylist()
    if not all(isinstance(size, int) for size in sizes):
        return False
    return rows in (sum(sizes), max(sizes, default=0))


def refuse_open_ties(rankings: Rankings, score_dtype: str) -> None:
    """Raise an error if the order of equal scores in flat rows without document ids matters."""
    if rankings.place is None:
        return
    begins = rankings.offsets
    query = np.repeat(np.arange(rankings.queries), begins[1:] - begins[:-1])
    rows = np.arange(len(query))
    if rankings.retrieved is not None:
        rows = rows[rankings.retrieved]
    rows = rows[tied_rows(query[rows], rankings.score[rows])]
    rows = rows[np.lexsort((rankings.score[rows], query[rows]))]
    judged = np.ones(len(query), bool) if rankings.judged is None else rankings.judged
    relevance = np.where(judged, rankings.relevance, 0)
    first, second = rows[:-1], rows[1:]
    are_tied = query[first] == query[second]
    are_tied &= rankings.score[first] == rankings.score[second]
    # NaN is neither above nor equal; it is refused elsewhere.
    unlike = (relevance[first] < relevance[second]) | (relevance[first] > relevance[second])
    unlike |= judged[first] != judged[second]
    if not (are_tied & unlike).any():
        return
    at = int((are_tied & unlike).argmax())
    places = []
    for row in (int(first[at]), int(second[at])):
        places.append(rankings.place(int(query[row]), row - int(begins[query[row]])))
    same = "the same score" if score_dtype == "given" else f"the same score in {score_dtype}"
    docid = f"{mark('ties', 'docid')} (which {mark('convention', 'trec_eval')} means)"
    raise InputError(
        f"{mark('document_ids')} are missing: {places[0]} and {places[1]} have {same}, and {docid} "
        "ranks them by the ids of their documents; give these as "
        f"{mark('document_ids')}, or other ties, such as {mark('ties', 'average')}"
    )


# Mappings, tables and files, by ids


def join_by_id(
    run: ById | Columns,
    qrels: ById | Columns,
    exclude: Any = None,
    *,
    exclude_from: str = "both",
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    ignore_index: float | None = None,
    labels: Labels | None = None,
) -> Rankings:
    """Join both sides: for each judged query, the retrieved documents, then the others."""
    if exclude is None and isinstance(run, ById) and isinstance(qrels, ById):
        return _join_mappings(run, qrels, by_docid, ignore_index, labels)
    rows, judged = _both_columns(run, qrels, ignore_index, labels)
    excluded = None
    if exclude is not None:
        rows, judged, excluded = without(exclude, rows, judged, exclude_from)
    rankings = _join_columns(rows, judged, by_docid, score_dtype, ignore_index)
    rankings = rankings._replace(excluded=excluded)
    if isinstance(qrels, ById) and qrels.by_position:  # its queries have numbers, and no ids
        return rankings._replace(query_ids=None)
    return rankings


def _join_mappings(
    run: ById,
    qrels: ById,
    by_docid: bool,
    ignore_index: float | None,
    labels: Labels | None,
) -> Rankings:
    """Join mappings by their own keys: faster than as columns, above all for a few queries."""
    predictions, references = run.queries, qrels.queries
    if predictions and references and predictions.keys().isdisjoint(references):
        raise _nothing_shared(next(iter(predictions)), next(iter(references)))
    scores: list[Any] = []
    relevances: list[Any] = []
    is_retrieved = bytearray()
    lengths = []
    id_types: set[type] = set()
    value_types: set[type] = {NoneType}
    for query, judged in references.items():
        ranked = predictions.get(query, {})
        id_types.update(map(type, ranked), map(type, judged))
        value_types.update(map(type, judged.values()))
        if by_docid:
            ranked = {document: ranked[document] for document in ascending(ranked)}
        missing = [document for document in judged if document not in ranked]
        scores.extend(ranked.values())
        scores.extend(repeat(0, len(missing)))
        relevances.extend(map(judged.get, ranked))  # None if not judged
        relevances.extend(map(judged.__getitem__, missing))
        is_retrieved += b"\1" * len(ranked) + b"\0" * len(missing)
        lengths.append(len(ranked) + len(missing))
    id_types.update(map(type, predictions), map(type, references))
    if not all(map(id_kind, id_types)):
        check_ids("predictions", predictions)
        check_ids("references", references)
    names = list(references)

    def documents(query: int) -> list[Any]:
        ranked = predictions.get(names[query], {})
        order = ascending(ranked) if by_docid else list(ranked)
        return [*order, *(name for name in references[names[query]] if name not in ranked)]

    def place(query: int, position: int | None) -> str:
        document = "" if position is None else f", document {shown(documents(query)[position])}"
        return f"query {shown(names[query])}{document}"

    offsets = offsets_of(lengths)
    score = read_numbers("predictions", [scores], offsets, place)
    relevance = read_numbers(
        "references", [relevances], offsets, place, ignore_index, labels, value_types
    )
    retrieved = np.frombuffer(is_retrieved, bool)
    both = retrieved if relevance.present is None else retrieved & relevance.present
    if not both.any():
        _refuse_other_kinds_of_ids(predictions, references)
    are_empty = (query in predictions and not predictions[query] for query in references)
    return Rankings.of(
        score.only(retrieved),
        relevance,
        place=place,
        query_ids=None if qrels.by_position else names,
        answered=np.fromiter(are_empty, bool, len(names)),
        documents=documents,
    )


def _refuse_other_kinds_of_ids(predictions: Mapping[Any, Any], references: Mapping[Any, Any]) -> None:
    """Raise an error if the documents of the two sides are of two kinds, such as text and integers."""
    documents = [list(chain(*side.values())) for side in (predictions, references)]
    kinds = [{id_kind(type(document)) for document in side} for side in documents]
    if all(kinds) and kinds[0].isdisjoint(kinds[1]):
        raise _another_kind("document", documents[0][0], documents[1][0])


def _both_columns(
    run: ById | Columns, qrels: ById | Columns, ignore_index: float | None, labels: Labels | None
) -> tuple[Columns, Columns]:
    """Return both sides as columns; of two mappings, only the queries of the references."""
    are_mappings = isinstance(run, ById) and isinstance(qrels, ById)
    if isinstance(run, ById) and isinstance(qrels, ById):
        queries = {query: run.queries[query] for query in qrels.queries if query in run.queries}
        if run.queries and qrels.queries and not queries:
            raise _nothing_shared(next(iter(run.queries)), next(iter(qrels.queries)))
        run = ById(queries)
    if isinstance(run, ById):
        run = _inputs_joins_of_mapping("predictions", run, ignore_index, None, are_mappings)
    if isinstance(qrels, ById):
        qrels = _inputs_joins_of_mapping("references", qrels, ignore_index, labels, are_mappings)
    if run.names is None and qrels.names is None:
        return run, qrels
    ids = [side.documents(np.arange(len(side.query))) for side in (run, qrels)]
    names = list(dict.fromkeys(chain(*ids)))
    return _with_numbers(run, ids[0], names), _with_numbers(qrels, ids[1], names)


def _with_numbers(side: Columns, ids: list[Any], names: list[Any]) -> Columns:
    """Return a side with numbers in place of ids of several kinds."""
    document = pa.chunked_array([pa.array(index_among(ids, names))])
    return side._replace(document=document, hashes=hashes_of(document), names=names)


def _inputs_joins_of_mapping(
    argument: str,
    side: ById,
    ignore_index: float | None,
    labels: Labels | None,
    may_differ: bool,
) -> Columns:
    """Return a mapping as columns; ids may be of several kinds only if they `may_differ`."""
    rows = side.queries
    queries = list(rows)
    lengths = np.fromiter(map(len, rows.values()), np.int64, len(rows))

    def place(query: int, position: int | None) -> str:
        document = list(rows[queries[query]])[position or 0]
        return f"query {shown(queries[query])}, document {shown(document)}"

    values = list(chain.from_iterable(row.values() for row in rows.values()))
    column = read_numbers(argument, [values], offsets_of(lengths), place, ignore_index, labels)
    documents = list(chain.from_iterable(rows.values()))
    if not all(map(id_kind, set(map(type, documents)))):
        check_ids(argument, rows)
    query_ids: Any = queries
    names = None
    try:
        document = id_column(argument, documents)
        if not may_differ:
            query_ids = id_column(f"{argument}: query ids", queries).combine_chunks()
    except ValueError:
        if not may_differ:
            for query, row in rows.items():  # name the query
                id_column(f"{argument}: query {shown(query)}: document ids", list(row))
            raise
        names = documents
        document = pa.chunked_array([pa.array(np.arange(len(documents)))])
    return Columns(
        np.repeat(np.arange(len(lengths)), lengths),
        query_ids,
        document,
        column.values,
        hashes_of(document),
        present=column.present,
        padding=column.padding,
        names=names,
    )


def _nothing_shared(predicted: Any, referred: Any) -> InputError:
    """Return the error for predictions and references without a query in common."""
    in_run = f"{shown(predicted)} in the {mark('predictions')}"
    ids = f"{in_run}, {shown(referred)} in the {mark('references')}"
    hint = float_hint(shown(predicted), shown(referred))
    problem = f"no query is in the {mark('references')}; ids are such as {ids}{hint}"
    return InputError(problem, "predictions")


def _join_columns(
    run: Columns, qrels: Columns, by_docid: bool, score_dtype: str, ignore_index: float | None
) -> Rankings:
    """Join two sides of rows: for each query, first the documents of the run, then the others."""
    _refuse_other_kinds(run, qrels)
    run, known = _with_queries_of(run, qrels)
    queries = len(qrels.query_ids)
    first, second = same_rows(run, qrels)
    second -= len(run.query)
    missed = np.ones(len(qrels.query), bool)
    missed[second] = False
    order, until = grouped(run.query, queries)
    if by_docid:
        order = _sort_ties(order, run.query, in_dtype(run.value, score_dtype), run.ordinals)
    lacked = np.flatnonzero(missed)
    in_order, until_lacked = grouped(qrels.query[lacked], queries)
    lacked = lacked[in_order]
    at = until[qrels.query[lacked] + 1]  # where the documents go that the run lacks
    offsets = until + until_lacked

    def documents(index: int) -> list[Any]:
        rows = np.arange(len(run.query))[order][until[index] : until[index + 1]]
        others = lacked[until_lacked[index] : until_lacked[index + 1]]
        return [*run.documents(rows), *qrels.documents(others)]

    def place(index: int, position: int | None) -> str:
        document = "" if position is None else f", document {shown(documents(index)[position])}"
        return f"query {shown(qrels.query_id(index))}{document}"

    score = run.value[order]
    retrieved = None if run.present is None else run.present[order]
    if len(lacked):
        if retrieved is None:
            retrieved = np.ones(len(score), bool)
        retrieved = np.insert(retrieved, at, False)
        score = np.insert(score, at, 0)
    before = until_lacked[run.query[first]]
    if not isinstance(order, slice):
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first = rank[first]
    rows = np.concatenate([first + before, at + np.arange(len(lacked))])
    judgments = np.concatenate([second, lacked])

    def in_place(values: NDArray[Any]) -> NDArray[Any]:
        in_rows = np.zeros(len(score), values.dtype)
        in_rows[rows] = values[judgments]
        return in_rows

    relevance = in_place(qrels.value)
    judged = np.ones(len(qrels.query), bool) if qrels.present is None else qrels.present
    if qrels.padding is None:
        padding = is_padding(relevance, ignore_index)
    else:
        padding = in_place(qrels.padding)
    answered = np.zeros(queries, bool)
    answered[known[known >= 0]] = True
    answered &= until[1:] == until[:-1]  # queries with an empty list
    return Rankings.of(
        Column(score, offsets, retrieved),
        Column(relevance, offsets, padding=padding).only(in_place(judged)),
        place=place,
        query_ids=qrels.query_ids,
        answered=answered,
        documents=documents,
    )


def _with_queries_of(run: Columns, qrels: Columns) -> tuple[Columns, NDArray[np.int64]]:
    """Return a run with the queries of the references as indices, and that of each of its own."""
    known = index_among(run.query_ids, qrels.query_ids)
    if len(known) and len(qrels.query_ids) and (known < 0).all():
        raise _nothing_shared(run.query_id(0), qrels.query_id(0))
    if (known != np.arange(len(known))).any():
        run = run._replace(query=known[run.query])
    if (known < 0).any():  # skip queries without judgments
        run = run.only(run.query >= 0)
    return run, known


def _refuse_other_kinds(run: Columns, qrels: Columns) -> None:
    """Raise an error for ids of two kinds, such as text and integers."""
    ids = {
        "query": (run.query_ids, qrels.query_ids),
        "document": (run.document, qrels.document),
    }
    for noun, (of_run, of_qrels) in ids.items():
        if isinstance(of_run, list) or not len(of_run) or not len(of_qrels):
            continue  # the ids of mappings are compared by Python
        if family(of_run.type) != family(of_qrels.type):
            raise _another_kind(noun, of_run[0].as_py(), of_qrels[0].as_py())


def _another_kind(noun: str, of_run: Any, of_qrels: Any) -> InputError:
    """Return the error for ids that are text on one side and, say, integers on the other."""
    in_run = f"{shown(of_run)} in the {mark('predictions')}"
    ids = f"{in_run}, {shown(of_qrels)} in the {mark('references')}"
    problem = f"{noun} ids are of another type than in the {mark('references')}: {ids}"
    hint = "give both the same type; ids in files are text"
    return InputError(f"{problem}; {hint}", "predictions")


# The order of rows


def _sort_ties(
    order: Order,
    query: NDArray[np.int64],
    score: NDArray[Any],
    ordinals: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> Order:
    """Return an order by query in which tied rows are sorted by their documents' ordinals."""
    at = tied_rows(query[order], score[order])
    if not len(at):
        return order
    order = np.arange(len(query))[order]
    tied = order[at]
    order[at] = tied[np.lexsort((ordinals(tied), query[tied]))]
    return order


def tied_rows(query: NDArray[np.int64], score: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows of retrieved documents that are tied with another document of their query.

    >>> tied_rows(np.array([0, 0, 0, 1]), np.array([.5, .1, .5, .5])).tolist()
    [0, 2]
    >>> tied_rows(np.array([0, 0, 0, 1]), np.array([.5, .5, .1, .5])).tolist()
    [0, 1]
    """
    same_query = query[1:] == query[:-1]
    are_in_order = (query[1:] > query[:-1]) | (same_query & (score[1:] <= score[:-1]))
    order: Order = slice(None) if are_in_order.all() else np.lexsort((score, query))
    query, score = query[order], score[order]
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    is_tied = np.zeros(len(query), bool)
    is_tied[1:] = same
    is_tied[:-1] |= same
    is_tied &= score > -np.inf
    return np.flatnonzero(is_tied) if isinstance(order, slice) else np.sort(order[is_tied])


# ndcg/inputs/object_reader.py: Read the documents of queries from objects, by paths that are chosen once for all objects of a side.

LAST_RESORT = set(map(plain_name, RELEVANCE[-1]))


class Roles(NamedTuple):
    """Where the objects of a side have the query, the documents and their values."""

    query: Keys | None
    document: Keys
    value: Keys | None
    fields: dict[str, str]  # the path of each role


# Choosing the roles


def roles_of_hits(fields: Mapping[str, Field], names: Names) -> Roles:
    """Return where the hits of a query have the documents and their values."""
    outside = leaves(fields, [path for path, field in fields.items() if not field.in_list])
    documents = names.candidates("document", outside, DOCUMENT_OF_HITS)
    candidates: dict[str, Sequence[Any]] = {"document": documents}
    if names.value:
        candidates |= _values_beside(outside, documents, names)
    return _roles(fields, candidates, names, leaves(fields), "its hits have")


def roles_of_objects(
    objects: Sequence[Any], fields: Mapping[str, Field], names: Names, have_queries: bool
) -> Roles:
    """Return where objects, which are rows or queries, have the query, documents and values.

    The objects may have their queries already, such as those in a mapping by query.
    """
    documents = _inputs_object_reader_documents(fields, names)
    ends = leaves(fields)
    outside = leaves(fields, [path for path, field in fields.items() if _may_be_id(field)])
    are_queries = any(_holds_documents(fields[path]) for path in documents)
    candidates: dict[str, Sequence[Any]] = {}
    if not have_queries:
        standard = QUERY_OF_LISTS if are_queries else QUERY
        candidates["query"] = names.candidates("query", outside, standard)
        documents = [path for path in documents if path not in candidates["query"]]
        if are_queries and "query" not in names.given:
            outside_lists = [path for path in ends.last if not fields[path].in_list]
            if set(outside_lists) <= {*documents, *_beside(fields, documents)}:
                del candidates["query"]  # nothing could name the query: its position does
    candidates["document"] = documents
    if names.value:
        query = candidates.get("query", [])
        candidates |= _inputs_object_reader_values(objects, fields, documents, query, names)
    there = "the objects have"
    return _roles(fields, candidates, names, ends, there)


def _roles(
    fields: Mapping[str, Field],
    candidates: Mapping[str, Sequence[Any]],
    names: Names,
    ends: Fields,
    there: str,
) -> Roles:
    chosen = chosen_fields(candidates, names, ends, there)
    keys = {role: fields[path].keys for role, path in chosen.items()}
    return Roles(keys.get("query"), keys["document"], keys.get(names.value), chosen)


def _may_be_id(field: Field) -> bool:
    """Return whether a field could name the query: a single value outside all lists."""
    is_single = not is_list(field.example) and not isinstance(field.example, (Mapping, Set))
    return is_single and not field.in_list and not field.has_fields


def _holds_documents(field: Field) -> bool:
    """Return whether a field holds several documents: in a list, a set or a mapping."""
    return field.in_list or is_list(field.example) or isinstance(field.example, (Set, Mapping))


def _inputs_object_reader_documents(fields: Mapping[str, Field], names: Names) -> list[str]:
    """Return the fields that could hold the documents."""
    name = names.name("document")
    if name is not None and name in fields and isinstance(fields[name].example, Mapping):
        return [name]  # a mapping of ids to values
    ends = leaves(fields)
    if name is not None:
        return names.candidates("document", ends, ())
    hits = [path for path in ends.last if fields[path].in_list]
    lists = [path for path in ends.last if not fields[path].in_list and _is_list_of_ids(fields[path])]
    rows = [path for path in ends.last if path not in hits and path not in lists]
    # Full names come before bare ones, wherever they stand.
    groups: list[tuple[list[str], Groups]] = [
        (hits, DOCUMENT_OF_HITS), (rows, DOCUMENT), (lists, LISTS_OF_IDS[names.kind]), (lists, DOCUMENT),
    ]
    for level in range(2):
        present: list[str] = []
        for paths, standard in groups:
            present += names.candidates("document", leaves(fields, paths), standard[level : level + 1])
        if present:
            return present
    return []


def _is_list_of_ids(field: Field) -> bool:
    return is_list(field.example) or isinstance(field.example, Set)


def _inputs_object_reader_values(
    objects: Sequence[Any],
    fields: Mapping[str, Field],
    documents: Sequence[str],
    query: Sequence[str],
    names: Names,
) -> dict[str, Sequence[Any]]:
    """Return the fields that could hold the values of the documents; nothing if there need be none."""
    ends = leaves(fields)
    if len(documents) != 1:  # one error names all that is not clear
        return {names.value: names.candidates(names.value, ends, names.values())}
    if names.has_no_value:
        return {}
    document = fields[documents[0]]
    if isinstance(document.example, Mapping) and not document.in_list:
        return {}
    if names.name(names.value) is not None:
        named = names.candidates(names.value, leaves(fields, fields), ())
        if named or not names.given[names.value].of_both:
            return {names.value: named}
    if are_pairs(document.example):
        return {}
    if _is_list_of_ids(document) and not document.in_list:
        return _lists_beside(objects, fields, document, names)
    same_list = [path for path, field in fields.items() if field.list_path == document.list_path]
    beside = leaves(fields, [path for path in same_list if path not in query])
    return _values_beside(beside, documents, names)


def _values_beside(
    ends: Fields, documents: Sequence[str], names: Names
) -> dict[str, Sequence[Any]]:
    """Return the fields that could hold the values, among those of the same object as the id.

    There need be no value if nothing stands beside the id.
    """
    role = names.value
    others = [path for path in ends.last if path not in documents]
    if names.has_no_value or (not others and names.name(role) is None):
        return {}
    values = names.candidates(role, ends, names.values())
    values = [path for path in values if path not in documents]
    return {role: without_model_scores(values, len(others), ends, names)}


def without_model_scores(values: list[Any], others: int, fields: Fields, names: Names) -> list[Any]:
    """Return the candidates for a relevance without a score or a weight that may be a model's.

    It is a relevance, as in the qrels of BEIR, only if nothing else stands beside the ids.
    """
    is_named = names.name("relevance") is not None
    if names.kind != "qrels" or is_named or others == 1:
        return values
    return [path for path in values if fields.last[path] not in LAST_RESORT]


def _beside(fields: Mapping[str, Field], documents: Sequence[str]) -> list[str]:
    """Return the lists and mappings that stand beside a list of ids."""
    if len(documents) != 1 or not _is_list_of_ids(fields[documents[0]]):
        return []
    start = fields[documents[0]].keys[:-1]
    return [
        path
        for path, field in fields.items()
        if field.keys[:-1] == start and not _may_be_id(field)
    ]


def _lists_beside(
    objects: Sequence[Any], fields: Mapping[str, Field], document: Field, names: Names
) -> dict[str, Sequence[Any]]:
    """Return the lists and mappings beside a list of ids that could hold their values.

    Those are as long as the list, or have the ids as keys, in all objects that are looked at.
    There need be none.
    """
    lists_of_ids = {plain_name(name) for groups in LISTS_OF_IDS.values() for name in chain(*groups)}
    ids = values_at(objects, document.keys)
    beside = []
    for path, field in fields.items():
        if field.keys[:-1] != document.keys[:-1] or field is document:
            continue
        if plain_name(field.keys[-1]) in lists_of_ids:
            continue
        values = values_at(objects, field.keys)
        pairs = [pair for pair in zip(ids, values, strict=True) if pair[0] or pair[1]]
        if pairs and all(_could_be_values(value, row, names) for row, value in pairs):
            beside.append(path)
    if not beside:
        return {}
    ends = Fields(
        {path: fields[path].example for path in beside},
        {path: plain_name(fields[path].keys[-1]) for path in beside},
    )
    standard = (*names.values(in_lists=True), *names.values())
    return {names.value: names.candidates(names.value, ends, standard)}


def _could_be_values(values: Any, ids: Any, names: Names) -> bool:
    """Return whether a list is as long as a list of ids, or a mapping has the ids as keys."""
    if not is_list(ids) and not isinstance(ids, Set):
        return False
    if isinstance(values, Mapping):
        return len(values) > 0 and {*ids} <= values.keys()
    if not is_list(values) or len(values) != len(ids):
        return False
    if any(is_list(value) or is_object(value) for value in values):
        return False
    # Text beside what was retrieved is content; beside what is relevant it may be a judge's word.
    return names.kind == "qrels" or not any(isinstance(value, str) for value in values)


# Reading


def are_pairs(row: Any) -> bool:
    """Return whether a query's documents are pairs of an id, or an object, and a value."""
    if not is_list(row) or len(row) == 0 or not is_list(row[0]) or len(row[0]) != 2:
        return False
    return is_object(row[0][0]) or bool(id_kind(type(row[0][0])))


class ListReader:
    """Reads the documents of one query after another, from lists of ids with their values."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.warning = ""  # about the first query whose list is in another order than its values

    def read(
        self, query: Any, ids: Sequence[Any], values: Sequence[Any] | None, ranks: Sequence[Any] = ()
    ) -> dict[Any, Any]:
        """Return the values of a query's documents by their ids; errors name the query."""
        if self.names.kind == "run" and not self.warning:
            problem = contradiction(values, ranks, self.names)
            if problem:
                self.warning = f"query {shown(query)}: {problem}"
        try:
            return documents_of_query(ids, values, self.names, in_list=True)
        except ValueError as error:
            raise within(error, f"query {shown(query)}") from None


def without_value(names: Names) -> Names:
    """Return the names for objects whose values are given beside them."""
    return replace(names, given={**names.given, names.value: Given(None, of_both=False)})


class HitReader:
    """Reads lists of hits, in all of which the fields have the same paths."""

    def __init__(self, hits: Iterable[Any], names: Names) -> None:
        fields = fields_among(hits)
        self.roles = roles_of_hits(fields, names)
        self.ranks = _path_of_ranks(fields, names)
        self.lists = ListReader(names)

    def read(self, query: Any, hits: Sequence[Any]) -> dict[Any, Any]:
        """Return the values of a query's documents by their ids."""
        for position, hit in enumerate(hits):
            if not is_object(hit):
                problem = f"{shown(hit)} is among hits that are objects; give objects alone"
                raise InputError(problem, f"query {shown(query)}", position=position)
        ids = self.ids(hits)
        values = None if self.roles.value is None else values_at(hits, self.roles.value)
        ranks = () if self.ranks is None else values_at(hits, self.ranks)
        return self.lists.read(query, ids, values, ranks)


    def ids(self, hits: Sequence[Any]) -> list[Any]:
        """Return the ids of hits."""
        return values_at(hits, self.roles.document)


def _path_of_ranks(fields: Mapping[str, Field], names: Names) -> Keys | None:
    """Return the path of the ranks of hits, beside their scores; None if they have none."""
    if names.kind != "run" or names.ascending:
        return None
    paths = [field.keys for field in fields.values() if plain_name(field.keys[-1]) == "rank"]
    return paths[0] if len(paths) == 1 else None


def are_equal_beside_ranks(scores: Sequence[Any], ranks: Sequence[Any]) -> bool:
    """Return whether several scores are all equal, but have the ranks 1, 2, 3, ..."""
    if len(scores) < 2 or len(set(scores)) > 1:
        return False
    return sorted(ranks) == list(range(1, len(scores) + 1))


def query_of_equal_scores(queries: Iterable[Any], scores: Iterable[Any], ranks: Iterable[Any]) -> Any:
    """Return the first query of rows whose scores are all equal beside ranks; None if there is none."""
    by_id: dict[Any, tuple[list[Any], list[Any]]] = {}
    for query, score, rank in zip(queries, scores, ranks, strict=True):
        of_scores, of_ranks = by_id.setdefault(query, ([], []))
        of_scores.append(as_number(score))
        of_ranks.append(as_number(rank))
    for query, (of_scores, of_ranks) in by_id.items():
        if all(isinstance(rank, Real) for rank in of_ranks):
            if are_equal_beside_ranks(of_scores, of_ranks):
                return query
    return None


def equal_scores() -> str:
    """Return what a warning says about equal scores beside ranks."""
    call = mark("fields", {"score": None})
    return f"its scores are all equal, but it has ranks from 1; if the order counts, give {call}"


def contradiction(values: Sequence[Any] | None, ranks: Sequence[Any], names: Names) -> str:
    """Return what a warning says about hits whose order and values disagree; empty if they agree.

    Scores that `fields` names may be in any order, but in the opposite one they may be distances.
    """
    scores = [value for value in map(as_number, values or ()) if isinstance(value, Real)]
    places = [rank for rank in map(as_number, ranks) if isinstance(rank, Real)]
    if are_equal_beside_ranks(scores, places):
        return equal_scores()
    if not scores:
        if all(before < after for before, after in pairwise(places)):
            return ""
        hint = f"if the ranks count, give {mark('score_order', 'ascending')}"
        return f"its hits are in another order than their ranks, and their order counts; {hint}"
    best_first = sorted(scores, reverse=not names.ascending)
    if scores == best_first:
        return ""
    if names.name("score") is not None and scores != best_first[::-1]:
        return ""
    hint = f"if the order counts, give {mark('fields', {'score': None})}"
    if not names.ascending:
        hint += f"; if the lowest score is best, give {mark('score_order', 'ascending')}"
    return (
        "the scores rank its hits in another order than they are in, and the scores count; "
        f"{hint}"
    )


class ObjectReader:
    """Reads objects that are rows or queries, in all of which the fields have the same paths."""

    def __init__(self, objects: Sequence[Any], names: Names, have_queries: bool = False) -> None:
        fields = fields_among(objects)
        self.wrapper = _wrapper(fields, names)
        if self.wrapper:
            fields = fields_among(_within_lists(objects, self.wrapper), self.wrapper)
        self.names = names
        looked_at = _within_lists(objects, self.wrapper)[:LOOKED_AT]
        self.roles = roles_of_objects(looked_at, fields, names, have_queries)
        self.are_rows = not _holds_documents(fields[self.roles.fields["document"]])
        self.lists = ListReader(names)
        if self.are_rows and self.roles.query is None and not have_queries:
            problem = "each row needs the id of its query; give the name of its field"
            raise InputError(f"{mark('fields', {'query': None})}: {problem}")

    @property
    def form(self) -> str:
        """What was read, as `preview` says it."""
        if self.are_rows:
            return "objects, a document each"
        return "objects, a query with its documents each"

    @property
    def paths(self) -> dict[str, Keys]:
        """The keys of the fields that are read, by their paths."""
        keys = {
            "query": self.roles.query,
            "document": self.roles.document,
            self.names.value: self.roles.value,
        }
        return {path: keys[role] or () for role, path in self.roles.fields.items()}

    @property
    def are_flat_rows(self) -> bool:
        """Whether the objects are rows whose fields are in no other object."""
        return self.are_rows and all(len(keys) == 1 for keys in self.paths.values())

    def rows(self, objects: Sequence[Any]) -> dict[str, list[Any]]:
        """Return the columns of rows, by their roles."""
        objects = _within_lists(objects, self.wrapper)
        roles = {"query": self.roles.query, "document": self.roles.document}
        roles[self.names.value] = self.roles.value
        return {
            role: values_at(objects, keys) for role, keys in roles.items() if keys is not None
        }

    def queries(self, objects: Sequence[Any], ids: Sequence[Any] | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield each query with its documents; a query without an id has its number from 0."""
        objects = _within_lists(objects, self.wrapper)
        if ids is not None:
            queries = ids
        elif self.roles.query is None:
            queries = range(len(objects))
        else:
            queries = values_at(objects, self.roles.query)
        lists = values_at(objects, self.roles.document)
        for position, (query, row, documents) in enumerate(zip(queries, objects, lists, strict=True)):
            if not id_kind(type(query)):
                problem = f"the query is {shown(query)}, and not an id; give each query an id"
                raise InputError(problem, position=position)
            yield query, self._documents(query, row, documents)

    def _documents(self, query: Any, row: Any, documents: Any) -> dict[Any, Any]:
        """Return the values of the documents of a query by their ids."""
        if documents is None:
            return {}
        if isinstance(documents, Mapping):
            values = None if self.names.has_no_value else list(documents.values())
            return self.lists.read(query, list(documents), values)
        path = self.roles.fields["document"]
        if isinstance(documents, Set) and self.names.kind == "run":
            problem = f"{path} is a set, which has no order; give a list of ids, best first"
            raise InputError(problem, f"query {shown(query)}")
        if not is_list(documents) and not isinstance(documents, Set):
            problem = f"{path} is {shown(documents)}; give a list of ids"
            raise InputError(problem, f"query {shown(query)}")
        ids = list(documents)
        if are_pairs(ids):
            values = None if self.names.has_no_value else [value for _, value in ids]
            return self.lists.read(query, [document for document, _ in ids], values)
        return self.lists.read(query, ids, self._values(query, row, ids))

    def _values(self, query: Any, row: Any, ids: Sequence[Any]) -> Sequence[Any] | None:
        """Return the values of the documents of a query, one for each id."""
        if self.roles.value is None:
            return None
        values = value_at(row, self.roles.value)
        if isinstance(values, Mapping):
            return [values.get(document) for document in ids]
        if values is None and not ids:
            return []
        if not is_list(values) or len(values) != len(ids):
            path = self.roles.fields[self.names.value]
            problem = f"holds {len(ids)} documents, but {path} is {shown(values)}"
            raise InputError(f"{problem}; give a value for each", f"query {shown(query)}")
        return list(values)


def _wrapper(fields: Mapping[str, Field], names: Names) -> Keys:
    """Return the path to the list of objects that hold the queries, if `fields` says so.

    The path of the query leads through this list, such as `cases` for `cases.id`.
    """
    query = fields.get(names.name("query") or "")
    return () if query is None else query.list_path


def _within_lists(objects: Sequence[Any], path: Keys) -> Sequence[Any]:
    """Return the objects in the lists at a path; the objects themselves if there is none."""
    if not path:
        return objects
    inner: list[Any] = []
    for value in values_at(objects, path):
        inner += _flat(value)
    return inner


def _flat(values: Any) -> Iterator[Any]:
    """Yield the objects in lists of any depth."""
    if is_list(values):
        yield from chain.from_iterable(map(_flat, values))
    elif values is not None:
        yield values


# ndcg/inputs/tables.py: Read tables: whatever has named columns, in which each row is a document or has lists of them.

HASHED = 1 << 17  # rows whose ids a thread hashes at a time
FIRST_ROWS = 1 << 10  # rows whose scores are held against their ranks


def table_of(argument: str, side: Any, names: Names) -> Frame | None:
    """Return the columns of a table, or of a dict of columns; None for anything else."""
    if isinstance(side, (list, tuple)):
        return None
    if isinstance(side, Mapping) and not is_dict_of_columns(side, names):
        return None
    frame = frame_of(argument, side)
    if frame is None or len(frame.names) < 2:
        return None
    return frame


def is_dict_of_columns(side: Mapping[Any, Any], names: Names) -> bool:
    """Return whether a mapping has columns by their names, not documents by the ids of queries."""
    for column in side.values():
        is_column = isinstance(column, (list, np.ndarray, *ARROW)) or hasattr(column, "__array__")
        if not is_column:
            return False
    given = [name.name for name in names.given.values() if name.name is not None]
    return are_names_of_fields(side) or (len(given) > 1 and all(name in side for name in given))


# Choosing the columns


def chosen_columns(columns: Fields, names: Names, there: str) -> dict[str, Any]:
    """Return the column of each role.

    A table of two columns, of queries and documents, needs no values.

    Raises:
        UnknownFieldError: a role has no column, or more than one.
    """
    candidates: dict[str, Sequence[Any]] = {
        "query": names.candidates("query", columns, QUERY),
        "document": _inputs_tables_documents(columns, names),
    }
    if names.has_none("query"):
        call = mark("fields", {"query": None})
        raise InputError(f"{call}: each row of a table needs the id of its query; give its column")
    role = names.value
    if role and not names.has_no_value:
        values = names.candidates(role, columns, names.values())
        others = len(columns.last) - 2
        if others > 0 or names.name(role) is not None:
            candidates[role] = without_model_scores(values, others, columns, names)
    return chosen_fields(candidates, names, columns, there)


def _inputs_tables_documents(columns: Fields, names: Names) -> list[Any]:
    """Return the columns that could hold the documents: an id in each row, or a list of them."""
    for level in range(2):
        singular = names.candidates("document", columns, DOCUMENT[level : level + 1])
        lists = names.candidates("document", columns, LISTS_OF_IDS[names.kind][level : level + 1])
        if singular or lists:
            return list(dict.fromkeys([*singular, *lists]))
    return []


def chosen_of_frame(frame: Frame, names: Names) -> dict[str, Any]:
    """Return the name of the column of each role in a frame."""
    refuse_repeated_names(frame.names)
    there = "the table has the columns"
    try:
        return chosen_columns(Fields.of_table(dict.fromkeys(frame.names)), names, there)
    except UnknownFieldError:  # once more, with examples for the error
        return chosen_columns(Fields.of_table(examples_of(frame)), names, there)


def examples_of(frame: Frame) -> dict[Any, Any]:
    """Return the first value of each column, as far as it can be read."""
    examples: dict[Any, Any] = {}
    for name in frame.names:
        examples[name] = "…"
        with suppress(Exception):  # which the values of the columns that are read may raise again
            (column,) = frame.head([name])
            examples[name] = as_python(next(islice(iter(column), 1)))
    return examples


# Reading


def read_table(argument: str, frame: Frame, names: Names) -> Columns | Pairs | list[dict[str, Any]]:
    """Return the rows of a table as columns; as objects if each is a query with its documents."""
    try:
        chosen = chosen_of_frame(frame, names)
    except ValueError as error:
        if isinstance(error, UnknownFieldError) and _has_lists(frame):
            return rows_of_frame(frame)
        raise within(error, argument) from None
    named = {**chosen, **_column_of_ranks(frame, chosen, names)}
    called = {role: f"{argument}: the column {name!r}" for role, name in named.items()}
    columns = settled(dict(zip(called.values(), frame.read(list(named.values())), strict=True)))
    cells = dict(zip(named, columns.values(), strict=True))
    if holds_lists(cells["document"]):
        return rows_of_frame(frame)
    if names.kind == "exclude":
        return Pairs(cells["query"], cells["document"])
    if "rank" in cells:
        _warn_of_ranks(argument, cells)
        del cells["rank"]
    return columns_of_rows(argument, cells, names, chosen, "a table")


def _column_of_ranks(frame: Frame, chosen: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return the column of ranks beside scores, if there is one."""
    if names.kind != "run" or "score" not in chosen:
        return {}
    ranks = [name for name in frame.names if plain_name(name) == "rank"]
    return {"rank": ranks[0]} if len(ranks) == 1 and ranks[0] != chosen["score"] else {}


def _warn_of_ranks(argument: str, cells: Mapping[str, Any]) -> None:
    """Warn of a query with equal scores beside ranks from 1, among the first rows."""
    heads = {role: list_of(column[:FIRST_ROWS]) for role, column in cells.items()}
    query = query_of_equal_scores(heads["query"], heads["score"], heads["rank"])
    if query is not None:
        warn(f"{argument}: query {shown(query)}: {equal_scores()}")


def as_python(cell: Any) -> Any:
    """Return the value of a cell as Python's, if its library can convert it."""
    for method in ("as_py", "to_list", "tolist"):
        if hasattr(cell, method):
            return getattr(cell, method)()
    return cell


def holds_lists(cells: Any) -> bool:
    """Return whether the cells of a column hold several documents each."""
    if isinstance(cells, ARROW):
        return bool(pa.types.is_nested(cells.type))
    first = as_python(next((cell for cell in cells if cell is not None), None))
    return is_list(first) or is_object(first)


def _has_lists(frame: Frame) -> bool:
    """Return whether a column of a table holds lists or objects."""
    return any(is_list(cell) or is_object(cell) for cell in examples_of(frame).values())


def rows_of_frame(frame: Frame) -> list[dict[str, Any]]:
    """Return the rows of a table as objects."""
    columns = settled(dict(zip(frame.names, frame.read(frame.names), strict=True)))
    cells = []
    for column in columns.values():
        cells.append(list(map(as_python, list_of(column))))
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def list_of(column: Any) -> list[Any]:
    """Return a column as a list."""
    if isinstance(column, ARROW):
        return list(column.to_pylist())
    return list(column.tolist() if isinstance(column, np.ndarray) else column)


def columns_of_rows(
    argument: str,
    cells: Mapping[str, Any],
    names: Names,
    fields: Mapping[str, Any],
    form: str,
) -> Columns:
    """Return rows with a document each as columns, without those that have no value."""
    called = {role: f"{argument}: the column {fields.get(role, role)!r}" for role in cells}
    query = read_ids(called["query"], cells["query"])
    document = id_column(called["document"], cells["document"])
    if names.value in cells:
        values = read_values(called[names.value], cells[names.value], names)
    else:
        values = Column(values_by_order(len(document), names), np.zeros(1, np.int64))
    lengths = {"query": query.rows, "document": len(document), names.value: len(values.values)}
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns differ in length: {shown(lengths)}", argument)
    starts = range(0, len(document), HASHED)
    parts = [document[start : start + HASHED] for start in starts] or [document]
    hashes = np.concatenate(in_threads(hashes_of, parts))
    side = Columns(query.codes, query.distinct, document, values.values, hashes)
    side = side._replace(form=form, fields=dict(fields))
    try:
        return checked_rows(side, values.present, names, "row {}".format)
    except InputError as error:
        raise within(error, argument) from None


def checked_rows(
    side: Columns, present: Mask | None, names: Names, place_of: Callable[[int], str]
) -> Columns:
    """Return the rows that have a value, with each document of a query once.

    Of a document that a run repeats, the best row is kept, if `keep` says so.

    Raises:
        InputError: a document is there twice, or no row has a value.
    """
    numbers = np.arange(len(side.query))
    side = side._replace(numbers=numbers, place_of=place_of)
    if names.keep is None and names.kind != "exclude":
        repeated = repeated_row(side)
        if repeated is not None:
            row, before = repeated
            document, query = side.words(row)
            problem = f"document {document} of query {query} is in {side.place(before)} already"
            raise InputError(f"{problem}; {once(names.kind)}", side.place(row))
    if present is not None:
        if len(present) > 0 and not present.any():
            raise InputError(no_values(names))
        side = side.retrieved(present) if names.kind == "run" else side.only(present)
        side = side._replace(lacking=numbers[~present])
    if names.keep is not None:
        best = best_rows(side, names.keep, names.ascending)
        if best is not None:
            side = side.only(best)
    return side


def no_values(names: Names) -> str:
    """Return what an error says about a side of which no document has a score, or a relevance."""
    if names.kind == "run":
        call = mark("fields", {"score": None})
        return f"no document has a score; give scores, or {call} if the order counts"
    call = mark("fields", {"relevance": None})
    return f"no document has a relevance; give relevances, or {call} if each is relevant"


def read_values(called: str, cells: Any, names: Names) -> Column:
    """Return the values of rows; integers only beyond 2**53."""
    column = read_flat_column(called, cells, lambda _, row: f"row {row}", labels=names.labels)
    numbers = column.values
    if numbers.dtype.kind != "f" and not beyond_2_53(numbers).any():
        return column._replace(values=numbers.astype(np.float64))
    return column


def values_by_order(rows: int, names: Names) -> NDArray[np.float64]:
    """Return the values of documents that have none, in the order of their rows.

    >>> values_by_order(3, Names("run", {})).tolist(), values_by_order(2, Names("qrels", {})).tolist()
    ([-1.0, -2.0, -3.0], [1.0, 1.0])
    """
    if names.kind != "run":
        return np.ones(rows)
    ranks = np.arange(1.0, rows + 1)
    return ranks if names.ascending else -ranks


# ndcg/inputs/sides.py: Read one side of rankings: what contains it decides its form, never what its values look like.

SCALARS = (str, bytes, Real)


def read_side(argument: str, side: Any, names: Names) -> Any:
    """Return one side as `ById` or `Columns` if it has ids; numbers by position as they are.

    >>> read_side("predictions", [["d3", "d1"]], Names("run", {})).queries
    {0: {'d3': -1, 'd1': -2}}
    """
    if side is None or isinstance(side, (ById, Columns, Pairs, str)) or is_sparse(side):
        return side
    if isinstance(side, io.IOBase):
        raise InputError(f"is an open file ({type(side).__name__}); give its path", argument)
    if is_spark(side):
        hint = "give both sides as Spark DataFrames, or its rows, frame.toArrow()"
        raise InputError(f"is a Spark DataFrame; {hint}", argument)
    frame = table_of(argument, side, names)
    if frame is not None:
        table = read_table(argument, frame, names)
        if not isinstance(table, list):
            return table
        return objects_by_id(argument, table, names)  # rows that are queries with lists
    if names.kind == "exclude":
        return side
    if isinstance(side, Mapping):
        return _inputs_sides_of_mapping(argument, side, names)
    if names.kind == "run" and not names.ascending:
        refuse_lowest_first(name_of_column(side), argument)
    rows = _rows(plain(argument, side))
    return side if rows is None else _of_list(argument, side, rows, names)


def objects_by_id(
    argument: str, objects: Sequence[Any], names: Names, queries: Sequence[Any] | None = None
) -> ById | Columns:
    """Return the documents of objects that are rows or queries."""
    try:
        reader = ObjectReader(objects, names, have_queries=queries is not None)
        if reader.are_rows:
            cells = reader.rows(objects)
            if queries is not None:
                cells = {"query": list(queries), **cells}
            return columns_of_rows(argument, cells, names, reader.roles.fields, reader.form)
        ids, rows = zip(*reader.queries(objects, queries), strict=True)
    except InputError as error:
        raise within(error, argument, instead_of=argument) from None
    if reader.lists.warning:
        warn(f"{argument}: {reader.lists.warning}")
    by_position = queries is None and reader.roles.query is None
    return ById(rows_by_query(argument, ids, rows), by_position, reader.form, reader.roles.fields)


# Mappings


def _inputs_sides_of_mapping(argument: str, side: Mapping[Any, Any], names: Names) -> ById | Columns:
    """Return the documents of a mapping of queries, or of a single object."""
    if is_single_object(side, names):
        return objects_by_id(argument, [side], names)
    _refuse_tables_by_index(argument, side)
    first = next((row for row in side.values() if not is_empty(row)), None)
    if is_object(first) and not is_mapping_to_values(first):
        return _of_objects(argument, side, names)
    if not names.has_no_value and set(map(type, side.values())) == {dict}:
        firsts = {type(next(iter(documents.values()), None)) for documents in side.values()}
        if all(issubclass(kind, (Real, NoneType)) for kind in firsts):
            return ById(side)
    return _by_query(argument, side.items(), names, by_position=False)


def is_single_object(side: Mapping[Any, Any], names: Names) -> bool:
    """Return whether a mapping is an object with fields, and not a mapping of queries.

    A query has no single value. The path of the query that `fields` gives begins with a key.
    """
    if len(side) > MOST_FIELDS:
        return False
    path = names.name("query")
    if path is not None and any(path == key or path.startswith(f"{key}.") for key in side):
        return True
    if are_names_of_fields(side):
        return True
    are_single = [isinstance(value, SCALARS) for value in side.values()]
    return any(are_single) and not all(are_single)  # all: queries with one id each, refused later


def is_mapping_to_values(row: Any) -> bool:
    """Return whether an object is a mapping of documents to values: all of them are single."""
    if not isinstance(row, Mapping):
        return False
    return not any(is_object(value) or isinstance(value, (list, tuple)) for value in row.values())


def is_ranking(row: Mapping[Any, Any], names: Names) -> bool:
    """Return whether an object is a mapping of documents to numbers, and no record."""
    if not all(isinstance(value, (Real, NoneType)) for value in row.values()):
        return False
    return not are_names_of_fields(row) and not _are_given(row, names)


def are_queries(row: Mapping[Any, Any], names: Names) -> bool:
    """Return whether an object maps queries to their documents: to lists of ids, or to numbers."""
    if is_single_object(row, names) or spelled(row, chain(*LISTS_OF_IDS[names.kind])):
        return False
    for documents in row.values():
        if isinstance(documents, (list, tuple)):
            if len(documents) and is_object(documents[0]):
                return False
        elif documents is not None and not is_mapping_to_values(documents):
            return False
    return True


def _of_objects(argument: str, side: Mapping[Any, Any], names: Names) -> ById | Columns:
    """Return the documents of objects by their queries, such as responses of a client."""
    objects = []
    for query, value in side.items():
        if value is not None and not is_object(value):
            problem = f"must be an object, as those before; got {shown(value)}"
            raise InputError(problem, argument, f"query {shown(query)}")
        objects.append({} if value is None else value)
    return objects_by_id(argument, objects, names, list(side))


def _refuse_tables_by_index(argument: str, side: Mapping[Any, Any]) -> None:
    """Raise an error for {row: {column: cell}} and {column: {row: cell}}, as `to_dict` of pandas."""
    first = next(iter(side.values()), None)
    for mapping in (side, first):
        if not isinstance(mapping, Mapping) or not 1 < len(mapping) < MOST_FIELDS:
            continue
        if are_names_of_fields(mapping) and isinstance(first, Mapping):
            hint = "give the table itself, its records, [{...}, ...], or its columns, {name: [...]}"
            raise InputError(f"holds {shown(dict(mapping))}, a table by its index; {hint}", argument)


# Lists


def _of_list(argument: str, side: Any, rows: Sequence[Any], names: Names) -> Any:
    """Return the documents of a list of queries, or of objects; the side itself if it has numbers."""
    first = next((row for row in rows if not is_empty(row)), None)
    if isinstance(first, np.ndarray) and first.dtype.kind in "OUT":
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
        return _of_list(argument, rows, rows, names)
    if is_list(first) and isinstance(first, tuple) and any(isinstance(cell, str) for cell in first):
        raise _rows_of_table(argument, first, names)
    if len(rows) == 1 and isinstance(first, Mapping) and is_dict_of_columns(first, names):
        return read_side(argument, first, names)
    if is_object(first) and not _are_rankings(argument, rows, names):
        return objects_by_id(argument, list(rows), names)
    if names.labels is not None and _are_ids(first):
        return side  # labels if the other side holds numbers, which both sides together tell
    if isinstance(first, (Set, Mapping)) or _are_ids(first) or are_hits(first) or are_pairs(first):
        return _by_query(argument, enumerate(rows), names, by_position=True)
    return side


def _rows_of_table(argument: str, row: tuple[Any, ...], names: Names) -> InputError:
    """Return the error for a tuple that holds text: a row of a table, and never a query."""
    columns = ", ".join(f'"{role}"' for role in ("query_id", "doc_id", names.value or "..."))
    table = f"a table, such as pandas.DataFrame(rows, columns=[{columns}])"
    problem = f"holds {shown(row)}, a row of a table"
    return InputError(f"{problem}; give {table}, or lists if each is a query", argument)


def _are_rankings(argument: str, rows: Sequence[Any], names: Names) -> bool:
    """Return whether objects are mappings of documents to numbers, one for each query.

    Records have the same names, rankings mostly do not.

    Raises:
        InputError: all have the same text as keys, none of them a standard name.
    """
    rankings = [row for row in rows if isinstance(row, Mapping) and row]
    if not rankings or not all(is_ranking(row, names) for row in rankings):
        return False
    first = rankings[0]
    are_texts = all(isinstance(key, str) for key in first)
    if are_texts and len(rankings) > 1 and len(set(map(frozenset, rankings))) == 1:
        problem = f"holds mappings with the same keys, such as {shown(dict(first))}"
        hint = f"if the keys are documents, give {{query: mapping}}; if fields, {mark('fields')}"
        raise InputError(f"{problem}; {hint}", argument)
    return True


def _are_given(first: Mapping[Any, Any], names: Names) -> bool:
    """Return whether a key is a name that `fields` gives."""
    given = {plain_name(name.name) for name in names.given.values() if name.name is not None}
    return not given.isdisjoint(map(plain_name, first))


def _rows(side: Any) -> Sequence[Any] | None:
    """Return the queries of a side whose documents may have ids; None for numbers."""
    if isinstance(side, (list, tuple)):
        return side
    if isinstance(side, ARROW):
        kind = side.type
        while pa.types.is_nested(kind) and kind.num_fields == 1 and not pa.types.is_struct(kind):
            kind = kind.field(0).type
        has_numbers = kind == side.type or id_kind(kind) in ("", "integers")
        return None if has_numbers and not pa.types.is_struct(kind) else side.to_pylist()
    if isinstance(side, np.ndarray) and side.dtype.kind in "UTO" and side.ndim > 0:
        return side.tolist() if side.ndim > 1 or side.dtype.kind == "O" else None
    return None


# The documents of queries


def is_empty(row: Any) -> bool:
    """Return whether a query has no documents."""
    if row is None:
        return True
    if getattr(row, "ndim", 1) == 0 or not hasattr(row, "__len__"):
        return False
    return len(row) == 0


def _are_ids(row: Any) -> bool:
    """Return whether a query's documents are ids that are never numbers, such as text."""
    if isinstance(row, np.ndarray):
        return row.ndim == 1 and row.dtype.kind in "UT"
    return is_list(row) and len(row) > 0 and id_kind(type(row[0])) not in ("", "integers")


def are_hits(row: Any) -> bool:
    """Return whether a query's documents are objects."""
    return is_list(row) and len(row) > 0 and is_object(row[0])


def _by_query(
    argument: str, queries: Iterable[tuple[Any, Any]], names: Names, by_position: bool
) -> ById:
    """Return the documents of queries by the ids of queries, or by their numbers."""
    rows = {query: _as_row(argument, row) for query, row in queries}
    reader = RowReader(rows.values(), names)
    try:
        documents = {query: reader.documents(query, row) for query, row in rows.items()}
    except ValueError as error:
        raise within(error, argument) from None
    if reader.lists.warning:
        warn(f"{argument}: {reader.lists.warning}")
    return ById(documents, by_position, reader.form, reader.fields)


def _as_row(argument: str, row: Any) -> Any:
    """Return a query's documents as a list, a set or a mapping; an empty list for None."""
    if row is None:
        return []
    if isinstance(row, (list, tuple, Set, Mapping)):
        return row
    row = plain(argument, row)
    if isinstance(row, np.ndarray):
        return row.tolist()
    return row.to_pylist() if isinstance(row, ARROW) else row


class RowReader:
    """Reads the documents of queries: mappings, sets, and lists of ids, of pairs and of hits."""

    def __init__(self, rows: Iterable[Any], names: Names) -> None:
        self.names = names
        self.hits: HitReader | None = None
        self.lists = ListReader(names)
        self.forms: dict[str, None] = {}
        rows = list(rows)
        hits = next((row for row in rows if are_hits(row)), None)
        pairs = next((row for row in rows if are_pairs(row) and is_object(row[0][0])), None)
        if hits is not None:
            objects = chain.from_iterable(row for row in rows if are_hits(row))
            self.hits = HitReader(objects, names)
        elif pairs is not None:
            of_pairs = chain.from_iterable(row for row in rows if are_pairs(row))
            self.hits = HitReader((first for first, *_ in of_pairs), without_value(names))
        if self.hits is not None:
            self.lists = self.hits.lists

    @property
    def form(self) -> str:
        """What was read, as `preview` says it."""
        return " and ".join(self.forms)

    @property
    def fields(self) -> Mapping[str, str]:
        """The field of each role of hits."""
        return {} if self.hits is None else self.hits.roles.fields

    def documents(self, query: Any, row: Any) -> DocumentValues:
        """Return the values of a query's documents by their ids."""
        try:
            return self._documents(query, row)
        except ValueError as error:
            place = f"query {shown(query)}"
            raise within(error, place, instead_of=place) from None

    def _documents(self, query: Any, row: Any) -> DocumentValues:
        if isinstance(row, Mapping):
            self.forms["mappings of documents to numbers"] = None
            return self._of_mapping(row)
        if isinstance(row, Set):
            self.forms["sets of ids"] = None
            if self.names.kind == "run":
                raise InputError("a set has no order; give a list of ids, best first")
            return documents_of_query(row, None, self.names)
        if not isinstance(row, (list, tuple)):
            hint = "give a list of ids or hits, a set, or a mapping of documents to numbers"
            raise InputError(f"got {shown(row)}; {hint}")
        if len(row) == 0:
            return {}
        if self.hits is not None and are_hits(row):
            self.forms["lists of hits"] = None
            return self.hits.read(query, row)
        if are_pairs(row):
            self.forms["lists of pairs"] = None
            return self._of_pairs(query, row)
        self.forms["lists of ids"] = None
        ids = without_filling(row) if self.names.kind == "run" else row
        return documents_of_query(ids, None, self.names)

    def _of_mapping(self, row: Mapping[Any, Any]) -> DocumentValues:
        """Return a mapping of documents to numbers."""
        if not is_mapping_to_values(row):
            raise InputError(f"got {shown(dict(row))}; give {{document: number}} in each query")
        return documents_of_query(row, None, self.names) if self.names.has_no_value else row

    def _of_pairs(self, query: Any, row: Sequence[Any]) -> DocumentValues:
        """Return the documents of pairs of an id, or of an object with one, and a value."""
        for position, pair in enumerate(row):
            if not is_list(pair) or len(pair) != 2:
                hint = "give pairs of an id and a value, or a table with a row for each document"
                raise InputError(f"{shown(pair)} is no pair; {hint}", position=position)
        firsts = [first for first, _ in row]
        values = None if self.names.has_no_value else [value for _, value in row]
        if self.hits is not None and is_object(firsts[0]):
            firsts = list(self.hits.ids(firsts))
        return self.lists.read(query, firsts, values)


def without_filling(ids: Sequence[Any]) -> Sequence[Any]:
    """Return ids without each -1 at the end.

    >>> without_filling([7, 3, -1, -1])
    [7, 3]
    """
    count = len(ids)
    # FAISS fills up a list with -1 where it found fewer documents.
    while count > 0 and type(ids[count - 1]) is int and ids[count - 1] == -1:
        count -= 1
    return ids[:count]


# ndcg/inputs/sparse.py: Read sparse matrices of SciPy, with a row per query and a column per document, on one side or on both.

def join_sparse(predictions: Any, references: Any, ignore_index: float | None, score_order: str) -> Rankings:
    """Return rankings of two sides of which at least one is sparse, as `sources.converted` returns it.

    Stored predictions, zeros too, are the scores of retrieved documents. A label that is not stored is 0. If both sides
    are sparse, documents that are stored on neither side are left out.
    """
    for argument, side in (("predictions", predictions), ("references", references)):
        if is_sparse(side):
            numeric_array(argument, side.data)
    if not (is_sparse(predictions) and is_sparse(references)):
        return _beside_dense(predictions, references, ignore_index, score_order)
    check_queries_equal(predictions.shape[0], references.shape[0])
    if predictions.shape[1] != references.shape[1]:
        raise ValueError(
            f"predictions have {predictions.shape[1]} columns and references {references.shape[1]}; give both one "
            "column for each document, in the same order"
        )
    stored, judged = _places(predictions), _places(references)
    at = np.searchsorted(stored, judged)
    both = stored[np.minimum(at, len(stored) - 1)] == judged if len(stored) else np.zeros(len(judged), bool)
    labels = np.zeros(len(stored), references.dtype)
    labels[at[both]] = references.data[both]
    missed, at = ~both, at[~both]  # documents that are judged only go to their places among the columns
    lacking = np.searchsorted(judged[missed], np.arange(predictions.shape[0] + 1) * predictions.shape[1])
    offsets = predictions.indptr.astype(np.int64) + lacking
    score = Column(np.insert(predictions.data, at, 0), offsets)
    if len(at):
        score = score.only(np.insert(np.ones(len(stored), bool), at, False))
    relevance = _with_padding(np.insert(labels, at, references.data[missed]), offsets, ignore_index)
    columns = np.insert(predictions.indices, at, references.indices[missed])

    def place(query: int, position: int | None) -> str:
        return f"query {query}" + ("" if position is None else f", column {columns[offsets[query] + position]}")

    def documents_of(query: int) -> list[int]:
        found: list[int] = columns[offsets[query] : offsets[query + 1]].tolist()
        return found

    how: dict[str, Any] = {"place": place, "documents": documents_of}
    return Rankings.of(score.without_unretrieved(score_order), relevance, **how)


def _beside_dense(predictions: Any, references: Any, ignore_index: float | None, score_order: str) -> Rankings:
    """Return rankings of which one side is sparse, as if it were an array with a mask of the stored scores."""
    if is_sparse(predictions):
        relevance = read_column("references", references, ignore_index)
        _check_columns("references", relevance, predictions.shape)
        score = Column(_dense(predictions), relevance.offsets, _stored(predictions))
    else:
        score = read_column("predictions", predictions)
        _check_columns("predictions", score, references.shape)
        relevance = _with_padding(_dense(references), score.offsets, ignore_index)
    return Rankings.of(score.without_unretrieved(score_order), relevance)


def dense_pieces(predictions: Any, references: Any, documents: int) -> Iterator[tuple[Any, Any]]:
    """Yield rows of a sparse and a dense side, with so many documents at a time, or one row."""
    sparse, dense = (predictions, references) if is_sparse(predictions) else (references, predictions)
    rows, columns = sparse.shape
    step = max(1, documents // max(1, columns))
    if not hasattr(dense, "__len__") or len(dense) != rows or rows <= step:
        yield predictions, references
        return
    for start, end in pairwise([*range(0, rows, step), rows]):
        yield predictions[start:end], references[start:end]


def _check_columns(argument: str, dense: Column, shape: tuple[int, int]) -> None:
    """Raise an error for a side that has not one value for each place of a sparse side."""
    queries, columns = shape
    other = {"predictions": "references", "references": "predictions"}[argument]
    lengths = np.diff(dense.offsets)
    sides = {argument: len(lengths), other: queries}
    check_queries_equal(sides["predictions"], sides["references"])
    if (wrong := lengths != columns).any():
        query = int(wrong.argmax())
        raise InputError(
            f"query {query}: has {lengths[query]} values beside {columns} columns of sparse {other}; give "
            "one for each column, or a sparse matrix of the same shape",
            argument,
        )


def _places(sparse: Any) -> NDArray[np.int64]:
    """Return the place of each stored value in the flat matrix, in ascending order."""
    rows, columns = sparse.shape
    if rows * columns >= 2**63:
        raise ValueError(f"a sparse matrix of {rows} × {columns} is too large; leave out columns that store nothing")
    starts = np.arange(rows, dtype=np.int64) * columns
    return np.asarray(np.repeat(starts, np.diff(sparse.indptr)) + sparse.indices)


def _dense(sparse: Any) -> NDArray[Any]:
    return np.asarray(sparse.toarray()).ravel()


def _stored(sparse: Any) -> Mask | None:
    """Return a mask of the stored values in the flat matrix; None if all are stored."""
    stored = np.zeros(sparse.shape[0] * sparse.shape[1], bool)
    stored[_places(sparse)] = True
    return None if stored.all() else stored


def _with_padding(labels: NDArray[Any], offsets: NDArray[np.int64], ignore_index: float | None) -> Column:
    return Column(labels, offsets, padding=is_padding(labels, ignore_index))


# ndcg/inputs/together.py: What only both sides together tell: whether integers are ids, and whether the ids fit together.

WRITTEN_LIST = re.compile(r"\s*[\[({].*[\])}]\s*", re.DOTALL)
SEPARATOR = re.compile(r"\s*[,;|]\s*|\s+")
FIRST_IDS = 1 << 10  # ids of mappings that may be lists written as text


def together(inputs: Any, names: Names) -> Any:
    """Return inputs of which both sides have ids, or none has."""
    run = with_ids_of_letor(inputs.predictions, inputs.references, inputs.query_ids)
    inputs = inputs._replace(predictions=run)
    if has_ids(run) and are_lists(inputs.references):
        # Text that may be labels is ids beside ids.
        qrels = read_side("references", inputs.references, names_of_side("qrels"))
        inputs = inputs._replace(references=qrels)
    inputs = _with_document_ids(inputs, names)
    inputs = _beside_sparse_labels(inputs, names)
    if has_ids(inputs.references) and not has_ids(inputs.predictions):
        inputs = _beside_judged_ids(inputs, names)
    elif has_ids(inputs.predictions) and not has_ids(inputs.references):
        inputs = _beside_ranked_ids(inputs)
    inputs = _with_query_ids(inputs)
    if has_ids(inputs.predictions) and has_ids(inputs.references):
        return _checked(inputs)
    return inputs


def has_ids(side: Any) -> bool:
    """Return whether the documents of a side have ids."""
    return isinstance(side, (ById, Columns))


def are_lists(side: Any) -> bool:
    """Return whether a side is a list for each query, in any container.

    >>> are_lists([[1, 0], []]), are_lists(np.zeros((2, 3))), are_lists([1, 0]), are_lists(None)
    (True, True, False, False)
    """
    if isinstance(side, ARROW):
        return bool(pa.types.is_nested(side.type))
    if isinstance(side, np.ndarray) and side.dtype.kind != "O":
        return side.ndim == 2
    if not isinstance(side, (list, tuple, np.ndarray)):
        return False
    return len(side) == 0 or any(isinstance(row, (list, tuple, np.ndarray)) for row in side)


def lists_of(side: Any) -> list[Any]:
    """Return the lists of queries as lists, also from an array or a column."""
    rows = side.to_pylist() if isinstance(side, ARROW) else side
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]


# Scores of the rows of a file


def with_ids_of_letor(run: Any, qrels: Any, query_ids: Any = None) -> Any:
    """Return the scores of the rows of LETOR, if the references are such, with the ids of rows."""
    are_scores = isinstance(run, Columns) and run.are_rows
    are_rows = isinstance(qrels, Columns) and qrels.are_rows
    if are_scores and query_ids is not None:
        return run.value
    if not are_scores and not are_rows:
        return run
    if run is None or (isinstance(run, ById) and not run.queries):
        return run
    if are_scores and run.place_of is None:
        return run
    if not are_rows:
        hint = f"give references as LETOR, or {mark('query_ids')} and references as arrays"
        raise InputError(f"the file has scores without ids; {hint}", "predictions")
    is_one_column = getattr(run, "shape", ())[1:] == (1,)
    if not are_scores and (has_ids(run) or (are_lists(run) and not is_one_column)):
        problem = "the references are rows of LETOR, which have no ids of documents"
        hint = "give a score for each row, in a flat array or in a file, one a line"
        raise InputError(f"{problem}; {hint}", "predictions")
    scores = run.value if are_scores else run
    column = read_flat_column("predictions", scores, lambda _, row: f"row {row}")
    if len(column.values) != len(qrels.query):
        rows = f"{len(column.values)} scores for {len(qrels.query)} rows of the references"
        raise InputError(f"holds {rows}; give one for each row, in their order", "predictions")
    # Without the place of a row in a file, they are known to have their ids already.
    scored = qrels._replace(value=column.values, place_of=None, form="the scores of rows")
    return scored.retrieved(column.present)


# Numbers beside ids


def _with_document_ids(inputs: Any, names: Names) -> Any:
    """Return lists of numbers by the ids that `document_ids` has in the same places."""
    ids = inputs.document_ids
    if has_ids(inputs.predictions) or not are_lists(inputs.predictions) or not are_lists(ids):
        return inputs
    qrels = inputs.references
    if are_lists(qrels) and not has_ids(qrels):
        qrels = _by_ids_beside("references", qrels, ids, names_of_side("qrels"))
    run = _by_ids_beside("predictions", inputs.predictions, ids, names)
    return inputs._replace(predictions=run, references=qrels, document_ids=None)


def _by_ids_beside(argument: str, values: Any, ids: Any, names: Names) -> ById:
    """Return the values of each query by the ids in the same places; the id -1 is no document."""
    rows, lists = lists_of(values), lists_of(ids)
    if len(rows) != len(lists):
        problem = f"hold {len(lists)} queries, and {argument} {len(rows)}"
        raise InputError(f"{mark('document_ids')} {problem}; give both for every query")
    queries = {}
    for query, (row, row_ids) in enumerate(zip(rows, lists, strict=True)):
        place = f"query {query}"
        if row is None or row_ids is None:
            of_lack = argument if row is None else "document_ids"
            raise InputError("is None; give [] if there is no document", of_lack, place)
        if len(row) != len(row_ids):
            problem = f"{len(row_ids)} ids and {len(row)} {argument}"
            raise InputError(f"{problem}; give an id for each value", "document_ids", place)
        kept = [pair for pair in zip(row_ids, row, strict=True) if pair[0] != -1]
        documents = [document for document, _ in kept]
        try:
            queries[query] = documents_of_query(documents, [value for _, value in kept], names)
        except InputError as error:
            raise within(error, "document_ids", place) from None
    return ById(queries, by_position=True, form="lists of numbers with ids in document_ids")


def _beside_judged_ids(inputs: Any, names: Names) -> Any:
    """Return predictions that are numbers with ids, beside references that have ids.

    Integers are ids. Scores are those of the documents 0, 1, 2, ..., if the references are such.
    """
    run, qrels = inputs.predictions, inputs.references
    if is_sparse(run):
        _refuse_other_columns("references", qrels, run.shape[1])
        return inputs._replace(predictions=_by_column(run))
    if not are_lists(run):
        return inputs
    rows = lists_of(run)
    if all(isinstance(value, (int, np.integer)) for row in rows for value in row or ()):
        return inputs._replace(predictions=_inputs_together_ranked(rows, names))
    if not _are_integers(qrels):
        raise _numbers_beside_ids(qrels)
    if isinstance(qrels, ById) and qrels.by_position:
        return inputs._replace(references=_labels_of_columns(qrels, rows))
    columns = max((len(row) for row in rows if row is not None), default=0)
    _refuse_other_columns("references", qrels, columns)
    queries = {query: dict(enumerate(row or ())) for query, row in enumerate(rows)}
    form = "lists of scores of the documents 0, 1, 2, ..."
    return inputs._replace(predictions=ById(queries, by_position=True, form=form))


def _beside_sparse_labels(inputs: Any, names: Names) -> Any:
    """Return lists of integers as ids, if the references are a sparse matrix of other columns."""
    run, qrels = inputs.predictions, inputs.references
    if not is_sparse(qrels) or not are_lists(run) or isinstance(run, ARROW):
        return inputs
    rows = lists_of(run)
    are_integers = all(isinstance(value, (int, np.integer)) for row in rows for value in row or ())
    if not are_integers or any(len(row or ()) == qrels.shape[1] for row in rows):
        return inputs
    return inputs._replace(predictions=_inputs_together_ranked(rows, names))


def _inputs_together_ranked(rows: Sequence[Any], names: Names) -> ById:
    """Return lists of integers as ids, best first."""
    queries = {}
    for query, row in enumerate(rows):
        try:
            queries[query] = documents_of_query(without_filling(list(row or ())), None, names)
        except InputError as error:
            raise within(error, "predictions", f"query {query}") from None
    return ById(queries, by_position=True, form="lists of integers, which are ids beside ids")


def _beside_ranked_ids(inputs: Any) -> Any:
    """Return references that are a sparse matrix by the numbers of columns, beside ids."""
    run, qrels = inputs.predictions, inputs.references
    if is_sparse(qrels):
        _refuse_other_columns("predictions", run, qrels.shape[1])
        return inputs._replace(references=_by_column(qrels))
    if not are_lists(qrels):
        return inputs
    ids = "if these are ids of relevant documents, give sets, [set(row) for row in references]"
    values = "if they are values of the documents 0, 1, 2, ..., [dict(enumerate(row)) for row in references]"
    raise InputError(f"hold lists of numbers beside documents with ids; {ids}; {values}", "references")


def _numbers_beside_ids(qrels: Any) -> InputError:
    """Return the error for scores beside documents with ids."""
    ids = f"give {mark('document_ids')}, the id of each score, or {{query: {{document: score}}}}"
    texts = [document for row in _inputs_together_documents(qrels) for document in row if isinstance(document, str)]
    if texts and isinstance(qrels, ById) and qrels.form == "lists of ids":
        problem = f"hold text such as {shown(texts[0])} beside scores"
        return InputError(f"{problem}; {to_label(texts)}; if they are ids, {ids}", "references")
    return InputError(f"hold scores, and the references ids of documents; {ids}", "predictions")


def _are_integers(side: Any) -> bool:
    """Return whether all ids of a side are integers."""
    if isinstance(side, Columns):
        return bool(pa.types.is_integer(side.document.type))
    ids = chain.from_iterable(_inputs_together_documents(side))
    return all(isinstance(document, (int, np.integer)) for document in ids)


def _labels_of_columns(qrels: ById, rows: Sequence[Any]) -> list[Any]:
    """Return a label for each column of the scores, from the numbers of relevant columns."""
    check_queries_equal(len(rows), len(qrels.queries))
    labels = []
    for query, (row, relevant) in enumerate(zip(rows, qrels.queries.values(), strict=True)):
        columns = len(row or ())
        _refuse_other_columns("references", ById({query: relevant}), columns)
        of_query = np.zeros(columns)
        for column, relevance in relevant.items():
            of_query[column] = relevance
        labels.append(of_query)
    return labels


def _by_column(sparse: Any) -> ById:
    """Return what each query stores in a sparse matrix, by the numbers of the columns."""
    columns, values = sparse.indices.tolist(), sparse.data.tolist()
    queries = {}
    for query, (start, end) in enumerate(pairwise(sparse.indptr.tolist())):
        queries[query] = dict(zip(columns[start:end], values[start:end], strict=True))
    return ById(queries, by_position=True, form="a sparse matrix, by the numbers of its columns")


def _refuse_other_columns(argument: str, side: Any, columns: int) -> None:
    """Raise an error for ids beside a matrix on the other side that are no numbers of its columns."""
    if not isinstance(side, ById):
        return
    lowest = -1 if argument == "predictions" else 0  # -1 is no document
    for query, documents in side.queries.items():
        for document in documents:
            is_number = isinstance(document, (int, np.integer))
            if not is_number or not lowest <= document < columns:
                other = "references" if argument == "predictions" else "scores"
                problem = f"{shown(document)} is not the number of a column of the {other}"
                hint = f"give the ids of the columns as {mark('document_ids')}"
                place = f"query {shown(query)}"
                raise InputError(f"{problem}, 0 to {columns - 1}; {hint}", argument, place)


# The ids of queries


def _with_query_ids(inputs: Any) -> Any:
    """Return queries by position with the ids that `query_ids` has for them."""
    run, qrels, query_ids = inputs[:3]
    if query_ids is None or not isinstance(run, ById) or not run.by_position:
        return inputs
    if isinstance(query_ids, (Set, Mapping)):
        kind = type(query_ids).__name__
        problem = f"a {kind} has no order of its own; give a list, an id for each query"
        raise InputError(problem, "query_ids")
    ids = query_ids.tolist() if isinstance(query_ids, np.ndarray) else as_list(query_ids)
    run = run.named("query_ids", ids)
    if isinstance(qrels, ById) and qrels.by_position:
        qrels = qrels.named("query_ids", ids)
    return inputs._replace(predictions=run, references=qrels, query_ids=None)


def _checked(inputs: Any) -> Any:
    """Return inputs with ids on both sides, of which the queries and the ids fit together."""
    run, qrels = inputs.predictions, inputs.references
    run, qrels = _with_integers(run, qrels), _with_integers(qrels, run)
    _refuse_one_by_position(run, qrels)
    refuse_lists_in_ids("predictions", run, qrels)
    refuse_lists_in_ids("references", qrels, run)
    return inputs._replace(predictions=run, references=qrels)


def _with_integers(side: Any, other: Any) -> Any:
    """Return a file whose queries have no ids with integers for them, as lists beside it have."""
    if not isinstance(side, Columns) or side.positions is None or isinstance(other, Columns):
        return side
    return side._replace(query_ids=side.query_ids.cast(pa.int64()))


def _refuse_one_by_position(run: Any, qrels: Any) -> None:
    """Raise an error if one side names its queries and the other does not, or has more queries."""
    if isinstance(run, ById) and not run.queries:
        return
    counts = [queries_without_ids(side) for side in (run, qrels)]
    if counts[0] is not None and counts[1] is not None:
        check_queries_equal(counts[0], counts[1])
    elif counts[0] is not None or counts[1] is not None:
        argument = "references" if counts[0] is None else "predictions"
        problem = "have no ids of queries, which the other side has"
        hint = f"give {mark('query_ids')}, the query of each list, or {{query: ...}}"
        raise InputError(f"{mark(argument)} {problem}; {hint}")


def queries_without_ids(side: Any) -> int | None:
    """Return the number of queries of a side if they have no ids; None if they have."""
    if isinstance(side, Columns):
        return side.positions
    return len(side.queries) if side.by_position else None


# Ids that hold several


def refuse_lists_in_ids(argument: str, side: Any, other: Any) -> None:
    """Raise an error for ids that are lists written as text, or several ids in one cell."""
    for document in _texts_with_brackets(side):
        if _is_written_list(document):
            problem = f"the id {shown(document)} is a list written as text"
            raise InputError(f"{problem}; give lists, as ast.literal_eval reads them", argument)
    if isinstance(side, Columns):
        _refuse_several_in_cells(argument, side, other)


def _texts_with_brackets(side: Any) -> Iterator[str]:
    """Yield ids that may be lists written as text."""
    if isinstance(side, Columns):
        if _hold_any(side.document, b"[({"):
            has_bracket = pc.match_substring_regex(side.document, r"^\s*[\[({]")
            yield from side.document.filter(has_bracket)[:FIRST_IDS].to_pylist()
        return
    documents = chain.from_iterable(_inputs_together_documents(side))
    for document in islice(documents, FIRST_IDS):
        if isinstance(document, str):
            yield document


def _hold_any(ids: pa.ChunkedArray, characters: bytes) -> bool:
    """Return whether any id holds one of some characters, faster than Arrow's search in each id."""
    if not pa.types.is_string(ids.type):
        return False
    for chunk in ids.chunks:
        text = bytes(chunk.buffers()[2] or b"")
        if any(character in text for character in characters):
            return True
    return False


def _is_written_list(document: str) -> bool:
    """Return whether text is a list, a tuple, a set or a mapping in Python's notation or JSON's.

    >>> _is_written_list("['a', 'b']"), _is_written_list("(1967) [draft]")
    (True, False)
    """
    if not WRITTEN_LIST.fullmatch(document):
        return False
    try:
        return isinstance(ast.literal_eval(document.strip()), (list, tuple, set, dict))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _refuse_several_in_cells(argument: str, side: Columns, other: Any) -> None:
    """Raise an error for a cell that holds several ids, of which one is an id of the other side.

    The others are ids of the other side too, or hold digits: the titles "Paris" and "Paris, Texas"
    are two ids.
    """
    if not _hold_any(side.document, b" \t\n,;|"):
        return
    has_parts = pc.match_substring_regex(side.document, r"[^\s,;|][\s,;|]+[^\s,;|]")
    several = side.document.filter(has_parts)
    if not len(several):
        return
    known = {str(document) for document in _ids_of(other)}
    for document in dict.fromkeys(several.to_pylist()):
        parts = [part for part in SEPARATOR.split(document) if part]
        known_parts = [part for part in parts if part in known]
        if document in known or not known_parts:
            continue
        if all(part in known or any(map(str.isdigit, part)) for part in parts):
            problem = f"the id {shown(document)} holds several ids"
            of_other = f"{shown(known_parts[0])} is one of the other side"
            hint = "give a list of ids in each cell, or a row for each document"
            raise InputError(f"{problem}, of which {of_other}; {hint}", argument)


def _inputs_together_documents(side: Any) -> Iterable[Any]:
    """Return the documents of each query of mappings; nothing for columns."""
    if not isinstance(side, ById):
        return ()
    return (row for row in side.queries.values() if not is_empty(row))


def _ids_of(side: Any) -> Iterable[Any]:
    """Return the ids of all documents of a side."""
    if isinstance(side, Columns):
        return side.document.to_pylist() if side.names is None else side.names
    return chain.from_iterable(_inputs_together_documents(side))


# ndcg/inputs/reading.py: Read rankings in any format as aligned arrays of relevance and score.

# Nested lists and chunked columns are read in parts of about this many documents.
PART = 1 << 20


class Inputs(NamedTuple):
    """Rankings in any format that `read` accepts."""

    predictions: Any  # the scores
    references: Any  # the relevances
    query_ids: Any = None  # the query ids of flat rows, or of lists
    document_ids: Any = None  # the document ids of flat rows
    # documents to exclude: ``{query: ids}``, for ranked ids a list of ids for each query, the
    # ``Pairs`` of a DataFrame, or the ``Columns`` of a file
    exclude: Any = None
    sample_weight: Any = None  # the weight of each query
    by: Any = None  # the slice of each query
    fields: Any = None  # names of fields and columns, as `check_fields` describes them

    @property
    def rankings(self) -> dict[str, Any]:
        """The rankings: all except weights and slices, which belong to queries, and names."""
        return {name: getattr(self, name) for name in Inputs._fields[:5]}

    @property
    def names(self) -> Any:
        """The names of fields, also those that `query_ids` and `document_ids` give."""
        return with_names_of_columns(self.fields, query=self.query_ids, document=self.document_ids)

    @property
    def plain_kind(self) -> str:
        """The `plain_kind` of both sides if they have the same and stand alone; else empty."""
        others = (self.query_ids, self.document_ids, self.exclude, self.fields)
        if any(value is not None for value in others):
            return ""
        kind = plain_kind(self.predictions)
        return kind if kind == plain_kind(self.references) else ""

    def settled(
        self,
        score_order: str = "descending",
        labels: Labels | None = None,
        keep: str | None = None,
    ) -> "Inputs":
        """Return rankings of other libraries as arrays, and what has ids by its ids."""
        check_fields(self.fields)
        kind = self.plain_kind
        if kind == "numbers":
            return self
        if kind == "mappings":
            sides = {"predictions": ById(self.predictions), "references": ById(self.references)}
            return self._replace(**sides)
        runs = {"predictions": self.predictions}
        (inputs,) = settled_systems(runs, self, [score_order], labels, keep)
        return inputs


def plain_kind(side: Any) -> str:
    """Return "numbers" or "mappings" for a side that needs no other reading; else empty.

    Numbers are in an array or in nested lists, mappings are ``{query: {document: number}}``. The
    first query tells.
    """
    if type(side) is np.ndarray:
        return "numbers" if side.dtype.kind in "biuf" else ""
    if type(side) is list:
        has_number = side and type(side[0]) is list and side[0] and type(side[0][0]) in (int, float)
        return "numbers" if has_number else ""
    if type(side) is not dict or set(map(type, side.values())) != {dict}:
        return ""
    first = next(iter(side.values()))
    if not first or not set(map(type, first.values())) <= {int, float, NoneType}:
        return ""
    for keys in (side, first):
        if 1 < len(keys) < MOST_FIELDS and are_names_of_fields(keys):
            return ""
    return "mappings"


def settled_systems(
    runs: Mapping[str, Any],
    inputs: Inputs,
    score_orders: Iterable[str],
    labels: Labels | None = None,
    keep: str | None = None,
) -> list[Inputs]:
    """Return the inputs of each system, settled; all but the predictions are shared, and read once.

    The predictions are by the name of the argument.
    """
    fields = inputs.names
    orders = dict(zip(runs, score_orders, strict=True))
    names = {run: names_of_side("run", fields, orders[run], keep=keep) for run in runs}
    names["references"] = names_of_side("qrels", fields, labels=labels)
    names["exclude"] = names_of_side("exclude", fields)
    others = {"references": inputs.references, "exclude": inputs.exclude}
    ids = {"query_ids": inputs.query_ids, "document_ids": inputs.document_ids}
    refuse_same_iterator({**runs, **others, **ids})
    given = {argument: listed(side) for argument, side in {**runs, **others, **ids}.items()}
    sides = _read_sides({argument: given[argument] for argument in names}, names)
    for run in runs:
        if given[run] is given["references"] and given[run] is not None:
            refuse_same_column(run, sides[run], sides["references"])
    if fields:
        read_runs = [sides[run] for run in runs]
        refuse_unused_fields(fields, read_runs, sides["references"], sides["exclude"], **ids)
    if any(has_ids(side) for side in sides.values()):
        for name, value in ids.items():
            if isinstance(value, str):  # which names a column, as `fields` does
                given[name] = None
    converted = settled({**given, **sides})
    shared = {name: converted[name] for name in (*others, *ids)}
    inputs = inputs._replace(fields=None, **shared)
    systems = []
    for run in runs:
        system = together(inputs._replace(predictions=converted[run]), names[run])
        if orders[run] == "descending":
            _refuse_ranks(run, name_of_column(given[run]), system)
        systems.append(system)
    return systems


def _refuse_ranks(argument: str, name: Any, inputs: Inputs) -> None:
    """Raise an error for scores that count from 0 or 1 in each query, under the name of a rank."""
    run = inputs.predictions
    if has_ids(run):
        name = run.fields.get("score")
    if not says_lowest_first(name, NAMES_OF_RANKS):
        return
    if isinstance(run, Columns):
        query, score = run.query, run.value
    elif isinstance(run, ById):
        rows = list(run.queries.values())
        query = np.repeat(np.arange(len(rows)), list(map(len, rows)))
        score = np.array([value for row in rows for value in row.values()], object)
    elif inputs.query_ids is not None:
        query = encode_ids("query_ids", inputs.query_ids)[0]
        score = read_flat_column(argument, run, numbered).values
    else:
        column = read_column(argument, run)
        query = np.repeat(np.arange(len(column.offsets) - 1), np.diff(column.offsets))
        score = column.values
    if len(query) == len(score):  # else another error says so
        refuse_counted_ranks(argument, name, query, score)


def _read_sides(given: Mapping[str, Any], names: Mapping[str, Names]) -> dict[str, Any]:
    """Return each side, read; one error names the fields that are not clear on all of them."""
    sides: dict[str, Any] = {}
    unknown: dict[str, UnknownFieldError] = {}
    for argument, side in given.items():
        try:
            sides[argument] = read_side(argument, side, names[argument])
        except UnknownFieldError as error:
            unknown[argument] = error
    if unknown:
        runs = [argument for argument in given if argument not in ("references", "exclude")]
        are_one = any(given[run] is given["references"] for run in runs)
        raise fields_unknown(unknown, are_one)
    return sides


def refuse_same_iterator(sides: Mapping[str, Any]) -> None:
    """Raise an error for a generator or a reader as two arguments, which can be read only once."""
    for (one, side), (other, same) in combinations(sides.items(), 2):
        if side is same and isinstance(side, Iterator):
            problem = f"are the same {type(side).__name__}, which can be read only once"
            raise ValueError(f"{one} and {other} {problem}; read it into a list or a table first")


def refuse_same_column(argument: str, run: Any, qrels: Any) -> None:
    """Raise an error for one table on both sides with one column of values, which scores 1.0.

    One list of documents without relevances, which also scores 1.0, is a warning. A row of the
    table must have a score or a relevance.
    """
    if not has_ids(run) or not has_ids(qrels) or not run.fields or not qrels.fields:
        return
    score, relevance = run.fields.get("score"), qrels.fields.get("relevance")
    if score is not None and score == relevance:
        problem = "are the same column of the same table"
        raise ValueError(f"{argument} and references {problem}; name a score and a relevance")
    if relevance is None and run.fields["document"] == qrels.fields["document"]:
        problem = f"these are the documents of the references too, {shown(run.fields['document'])}"
        hint = f"name the list of each, {mark('fields', {'document': ('...', '...')})}"
        warn(f"{argument}: {problem}, each of them relevant; if both are in one log, {hint}")
    if isinstance(run, Columns) and isinstance(qrels, Columns):
        empty = np.intersect1d(run.lacking, qrels.lacking)
        if len(empty):
            words = run.place_of or "row {}".format
            problem = f"{words(int(empty[0]))} has neither a score nor a relevance"
            raise ValueError(f"{argument}: {problem}; give one of them, or leave the row out")


# Both sides together


def read(
    predictions: Any,
    references: Any,
    query_ids: Any = None,
    document_ids: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **how: Any,
) -> Rankings:
    """Align predictions and references, in any format that `compute` describes.

    Documents with the reference `ignore_index`, in the type of each reference, are padding, and
    not part of the ranking. With `by_docid`, documents with equal scores are put in ascending
    order of their ids, compared as strings: a ranking with the last of them first then equals
    trec_eval's. Documents by position have no ids and keep their order. In ascending order of
    scores, ``inf`` marks a document that was not retrieved; ranked ids keep their order.

    In the rankings, the highest score ranks first. Queries are in the order of the references, or,
    in flat columns, in the order of their first rows. Arrays are not copied, except for ragged
    lists of them and to change the type or the order of scores.
    """
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields)
    order = how.get("score_order", "descending")
    return align(inputs.settled(order, how.get("labels"), how.get("keep")), **how)


def align(
    inputs: Inputs,
    *,
    ignore_index: float | None = None,
    exclude_from: str = "both",
    judged_only: bool = False,
    by_docid: bool = False,
    score_dtype: str = "given",
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
    first_query: int = 0,
) -> Rankings:
    """Align predictions and references that are settled, as `read` does."""
    order = {"by_docid": by_docid, "score_dtype": score_dtype, "score_order": score_order}
    how = {"ignore_index": ignore_index, "exclude_from": exclude_from, "labels": labels}
    rankings = _join(inputs, keep=keep, **how, **order)
    if score_order == "ascending" and rankings.place is not None:
        gap = rankings.gap_in_ranks()
        if gap:
            warn(f"{mark('predictions')}: {gap}")
    try:
        rankings = rankings.with_scores_in(score_dtype).with_highest_first(score_order)
        if labels is not None:
            rankings = rankings.with_gains(labels)
    except InvalidRankingError as error:
        argument = {"relevance": "references", "score": "predictions"}[error.array]
        if rankings.place is None:
            place = numbered(first_query + error.query, error.position)
        else:
            place = rankings.place(error.query, error.position)
        raise InputError(f"{place}: {error.problem}", argument) from None
    if rankings.place is not None:
        rankings = rankings.matched()
    if judged_only:
        rankings = rankings.of_judged()
    if by_docid and inputs.query_ids is not None and inputs.document_ids is None:
        refuse_open_ties(rankings, score_dtype)
    return rankings


def _join(inputs: Inputs, keep: str | None = None, **how: Any) -> Rankings:
    """Put predictions and references into the same order of queries and documents."""
    predictions, references, query_ids, document_ids, exclude, *_ = inputs
    how_lists = {name: how[name] for name in ("ignore_index", "score_order", "labels")}
    if inputs.plain_kind == "numbers":
        return join_lists(predictions, references, **how_lists)
    _refuse_missing(predictions, references)
    if has_ids(predictions) and has_ids(references):
        _refuse_ids_of_rows(query_ids, document_ids)
        if isinstance(predictions, ById) and predictions.by_position and exclude is not None:
            exclude = by_position(exclude, len(predictions.queries))
        return join_by_id(predictions, references, exclude, **how)
    if has_ids(predictions) or has_ids(references):
        raise _by_ids_and_by_position(predictions, references, query_ids)
    if exclude is not None and document_ids is None:
        needed = f"{mark('query_ids')} and {mark('document_ids')}, mappings, or ranked ids"
        raise InputError(f"documents have no ids; give {needed}", "exclude")
    is_one_column = getattr(predictions, "shape", ())[1:] == (1,)  # of a head with one logit
    if query_ids is not None and (is_one_column or not are_lists(predictions)):
        return join_rows(*inputs[:5], **how, keep=keep)
    if document_ids is not None:
        _refuse_ids_of_rows(None, document_ids)
    if is_sparse(predictions) or is_sparse(references):
        return join_sparse(predictions, references, how["ignore_index"], how["score_order"])
    rankings = join_lists(predictions, references, **how_lists)
    return rankings if query_ids is None else _with_names(rankings, query_ids)


def _refuse_missing(predictions: Any, references: Any) -> None:
    """Raise an error if one side is not given."""
    if predictions is None:
        hint = f"only the measure IDCG needs no {mark('predictions')}"
        problem = "are missing; give predictions and references together"
        raise InputError(f"{mark('predictions')} {problem}; {hint}")
    if references is None:
        problem = "are missing; give predictions and references together"
        raise InputError(f"{mark('references')} {problem}")


def _by_ids_and_by_position(predictions: Any, references: Any, query_ids: Any) -> InputError:
    """Return the error for documents with ids on one side and numbers by position on the other."""
    kinds = []
    for side in (predictions, references):
        kind = "list" if isinstance(side, list) else type(side).__name__
        kinds.append("by ids" if has_ids(side) else f"by position ({kind})")
    problem = f"{mark('predictions')} are {kinds[0]} and references {kinds[1]}"
    hint = "give both in the same way"
    numbers = references if has_ids(predictions) else predictions
    if isinstance(numbers, (list, tuple)) and not are_lists(numbers):
        hint = "for a single query, wrap it in a list"
    if query_ids is not None:
        two = "give each of two tables as its argument, predictions=run, references=qrels, without data"
        hint += mark("data", said=two, before="; ")
    return InputError(f"{problem}; {hint}")


def _with_names(rankings: Rankings, query_ids: Any) -> Rankings:
    """Return rankings of lists with the ids of their queries."""
    ids = list(rows_by_query("query_ids", as_list(query_ids), range(len(as_list(query_ids)))))
    if len(ids) != rankings.queries:
        problem = f"has {len(ids)} ids for {rankings.queries} queries; give an id for each"
        raise InputError(problem, "query_ids")
    return rankings._replace(query_ids=ids)


def _refuse_ids_of_rows(query_ids: Any, document_ids: Any) -> None:
    """Raise an error for ids of rows next to rankings that are not flat."""
    flat = "for flat predictions and references"
    if query_ids is not None:
        has_ids = "a mapping, a table or a file has ids of its own"
        raise InputError(f"{mark('query_ids')} are {flat}, and for lists; {has_ids}")
    if document_ids is not None:
        problem = f"{mark('document_ids')} are {flat}; give {mark('query_ids')} too"
        raise InputError(problem)


def without_run(inputs: Inputs, score_order: str, labels: Labels | None) -> Inputs:
    """Return inputs without predictions, settled, in which no document was retrieved."""
    inputs = inputs.settled(score_order, labels)
    references = inputs.references
    unretrieved = np.inf if score_order == "ascending" else -np.inf
    if has_ids(references):
        return inputs._replace(predictions=ById({}))
    if inputs.query_ids is not None:
        return inputs._replace(predictions=np.full(len(inputs.query_ids), unretrieved))
    if is_sparse(references):
        return inputs._replace(predictions=np.full(references.shape, unretrieved))
    lengths = np.diff(read_column("references", references, labels=labels).offsets)
    return inputs._replace(predictions=[np.full(length, unretrieved) for length in lengths])


# Parts


def parts(inputs: Inputs, **how: Any) -> Iterator[Rankings]:
    """Align predictions and references, part by part if they are lists or columns of lists."""
    for piece in _pieces(inputs):
        try:
            rankings = align(piece, **how)
        except ValueError:
            if piece is not inputs:  # let the error count all queries
                align(inputs, **how)
            raise
        yield rankings


def _pieces(inputs: Inputs) -> Iterator[Inputs]:
    """Cut inputs that are copied into pieces of about PART documents, so that copies are small."""
    predictions, references = inputs[:2]
    sparse = [is_sparse(side) for side in (predictions, references)]
    if inputs.query_ids is not None or has_ids(references) or all(sparse):
        yield inputs
        return
    if any(sparse):
        for run, qrels in dense_pieces(predictions, references, PART):
            yield inputs._replace(predictions=run, references=qrels)
        return
    documents = _lengths(predictions, references).cumsum()
    if len(documents) < 2 or documents[-1] < PART or len(predictions) != len(references):
        yield inputs
        return
    part = documents // PART
    cuts = (np.flatnonzero(np.diff(part)) + 1).tolist()
    for start, end in pairwise([0, *cuts, len(predictions)]):
        run, qrels = predictions[start:end], references[start:end]
        yield inputs._replace(predictions=run, references=qrels)


def _lengths(predictions: Any, references: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of documents of each query of lists or chunked columns; else nothing."""
    sides = (predictions, references)
    if all(map(_is_column_of_lists, sides)) and any(side.num_chunks > 1 for side in sides):
        lengths = pc.fill_null(pc.list_value_length(predictions), 0)
        return np.asarray(lengths.to_numpy(), np.int64)
    if all(isinstance(side, (list, tuple)) and side for side in sides):
        if all(isinstance(side[0], (list, tuple)) for side in sides):
            with suppress(TypeError):  # a row is no list; reading all rows raises the error
                return np.fromiter(map(len, predictions), np.int64)
    return np.zeros(1, np.int64)


def _is_column_of_lists(side: Any) -> bool:
    if not isinstance(side, pa.ChunkedArray):
        return False
    return bool(pa.types.is_list(side.type) or pa.types.is_large_list(side.type))


def without_padding(table: pa.Table, ignore_index: float) -> pa.Table:
    """Return the columns ``predictions`` and ``references``, of lists, with nulls for padding."""
    rankings = read(table["predictions"], table["references"], ignore_index=ignore_index)
    return pa.table(dict(zip(("predictions", "references"), to_arrow(rankings), strict=True)))


# ndcg/files/content.py: Read the content of files: decompressed and counted bytes, names of columns, rows in parts, and JSON.

CHUNK = 1 << 20  # bytes of a file that are parsed at a time: few enough that their memory is reused
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The beginning of text in UTF-16 or UTF-32: a byte order mark, or ASCII between zero bytes.
UTF_16 = re.compile(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff|(?:[\x01-\x7f]\0){2}|(?:\0[\x01-\x7f]){2}")
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # by their first bytes
NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:e[+-]?[0-9]+)?", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
LINE = 1 << 20  # bytes of the longest line of TREC and CSV files
NUMBER = re.compile(  # numbers that Arrow's parser accepts, finite or not
    rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan(?:\(\w*\))?)", re.IGNORECASE
)
NOT_UTF_8 = "is not text in UTF-8; save the file in UTF-8"
NO_TEXT = {  # characters that no line may contain, and why
    b"\r": "holds a carriage return; end lines in a line feed, with or without one before it",
    b"\0": "holds a NUL byte, which no text does; save the file in UTF-8",
}


class Limits(NamedTuple):
    """How much a file may contain; None for no limit.

    Attributes:
        bytes: the size of the file in bytes.
        uncompressed: the size of its uncompressed content in bytes; a fifth of it for JSON.
        rows: the number of rows, one per query and document.
        queries: the number of distinct queries.
        columns: the number of columns of a table.
    """

    bytes: int | None = None
    uncompressed: int | None = None
    rows: int | None = None
    queries: int | None = None
    columns: int | None = None

    def check(self, name: str, count: int) -> None:
        """Raise an error if a count exceeds its limit."""
        limit = getattr(self, name)
        if limit is not None and count > limit:
            unit = "bytes uncompressed" if name == "uncompressed" else name
            raise ValueError(f"holds more than {limit:,} {unit}, the limit here; give a part of it")


NO_LIMITS = Limits()


class FileError(OSError, ValueError):
    """A file cannot be read: an OSError, like those of `open`, and a ValueError, like all other errors in an argument.

    Its `argument` names the file, with a colon; it is empty in functions that read one file.

    >>> print(FileError(21, "Is a directory", "runs"))
    runs: Is a directory
    """

    argument = ""

    def __str__(self) -> str:
        path = self.filename  # long if somebody passed the content of a file
        name = visible(path) if len(path) <= 500 else shown_cell(path)
        return f"{self.argument}{name}: {self.strerror}"


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class SavedResultError(InputError):
    """A file contains results of `to_dict`, for one run or several, instead of rankings."""

    def __init__(self, value: dict[str, Any]) -> None:
        super().__init__("is a saved result, which holds no documents; give the file that was scored")
        self.value = value


# Bytes


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """Name the file in every error."""
    try:
        yield
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        problem = error.strerror or str(error).splitlines()[0]  # decompression and Parquet give only a message
        raise kind(error.errno, problem, path) from None
    except pa.ArrowException as error:
        problem = "cannot be read, so it may be damaged or cut short"
        raise InputError(f"{problem}: {str(error).splitlines()[0]}", of_file(path)) from None
    except RecursionError:  # raised for values that JSON's parser accepts
        raise InputError("nests objects too deep", of_file(path)) from None
    except InputError as error:
        raise within(error, of_file(path)) from None
    except ValueError as error:
        raise InputError(str(error).splitlines()[0], of_file(path)) from None


class ByteStream(io.RawIOBase):
    """The bytes of a file, up to a limit; `peek` shows the next ones before they are read."""

    def __init__(self, file: Any, limits: Limits, unit: str) -> None:
        self.file, self.unit, self.limits = file, unit, limits
        self.head, self.count = b"", 0

    def readable(self) -> bool:
        """Return True, as pyarrow expects of a file."""
        return True

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        while len(self.head) < size and (more := self._next(size - len(self.head))):
            self.head += more
        return self.head[:size]

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, fewer only at the end, or all of them."""
        if size < 0:
            return b"".join(iter(lambda: self.read(CHUNK), b""))
        chunk, self.head = self.head[:size], self.head[size:]
        return chunk + self._next(size - len(chunk)) if len(chunk) < size else chunk

    def _next(self, size: int) -> bytes:
        chunk: bytes = self.file.read(size) or b""
        self.count += len(chunk)
        self.limits.check(self.unit, self.count)
        return chunk


def read_content(path: str, limits: Limits = NO_LIMITS) -> bytes:
    """Return the bytes that a file or a pipe holds, decompressed if they are compressed."""
    with naming_file(path), open(path, "rb") as file:
        return unpacked_stream(file, limits)[0].read()


def unpacked_stream(file: BinaryIO, limits: Limits) -> tuple[ByteStream, bool]:
    """Return the decompressed bytes of a file, and whether it was compressed."""
    packed = ByteStream(file, limits, "bytes")
    compression = next((name for mark, name in COMPRESSIONS.items() if packed.peek(4).startswith(mark)), None)
    content = pa.CompressedInputStream(pa.PythonFile(packed, "r"), compression) if compression else packed
    return ByteStream(content, limits, "uncompressed"), compression is not None


def check_encoding(start: bytes) -> None:
    r"""Raise an error if the first bytes are text in UTF-16.

    >>> check_encoding("q1".encode("utf-16"))
    Traceback (most recent call last):
    ...
    ValueError: is text in UTF-16; save the file in UTF-8
    """
    if UTF_16.match(start):
        raise ValueError("is text in UTF-16; save the file in UTF-8")


def utf8_text(content: bytes) -> str:
    """Return text in UTF-8, with or without a byte order mark."""
    check_encoding(content[:4])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(NOT_UTF_8) from None


def line_chunks(stream: ByteStream, longest: float) -> Iterator[bytes]:
    """Yield the file in chunks of whole lines, and only the beginning of a line that is too long."""
    rest = b""
    while data := stream.read(CHUNK):
        data = rest + data
        end = data.rfind(b"\n") + 1
        if len(data) - end > longest + 1:  # including a carriage return
            end = len(data)
        rest = data[end:]
        if end:
            yield data[:end]
    if rest:
        yield rest


# Names of columns


def delimiter_of(header: str) -> str:
    """Return the delimiter of a header: a tab if there is one, else a comma or a semicolon, whichever is more frequent.

    >>> delimiter_of("query;document;score, raw"), delimiter_of("query")
    (';', ',')
    """
    if "\t" in header:
        return "\t"
    return ";" if header.count(";") > header.count(",") else ","


# JSON


def parse_json(text: bytes) -> Any:
    """Return the value of JSON in UTF-8, with or without a byte order mark.

    ``NaN`` and ``Infinity``, which Python writes, are floats: the caller rejects them and names their place. Text that
    is not UTF-8, nests too deep, has a name twice in one object or an integer with more digits than Python reads is an
    error, without the name of the file.

    >>> parse_json(b'{"q1": {"d1": 0.5}}')
    {'q1': {'d1': 0.5}}
    """
    decoded = utf8_text(text)
    try:
        return json.loads(decoded, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("nests objects too deep") from None
    except (json.JSONDecodeError, _RepeatedNameError):
        raise
    except ValueError:  # a hook for integers would avoid this, but takes 1.5 times as long
        raise _long_integer(text) from None


class _RepeatedNameError(ValueError):
    """A name appears twice in one JSON object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        problem = f"{shown_cell(name)} appears twice in one object, {shown_cell(found)}; give each id once"
        raise _RepeatedNameError(problem)
    return found


def _long_integer(text: bytes) -> ValueError:
    """Return the error for an integer with more digits than Python reads."""
    limit = sys.get_int_max_str_digits()
    digits = max(re.findall(rb"[0-9]+", text), key=len)
    line = text.count(b"\n", 0, text.index(digits)) + 1
    place = f"line {line}: " if b"\n" in text else ""
    problem = f"holds an integer of {len(digits):,} digits, {digits[:9].decode()}…, more than {limit:,}"
    return ValueError(f"{place}{problem}; write ids as text, and numbers as float64 holds them")


# Words


def shown_cell(cell: Any) -> str:
    """Return a cell as a message shows it, shortened if it is long."""
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", "replace")
    if not isinstance(cell, str):
        return shown_cell(str(cell))[1:-1]
    text = SURROGATE.sub("\N{REPLACEMENT CHARACTER}", cell)
    return repr(text if len(text) <= 100 else text[:99] + "…")


# ndcg/files/detection.py: Tell the format of a file from its first bytes, and refuse files of other kinds by name.

START = 1 << 12  # bytes that tell the format
TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "stream"}
GIVEN_FORMATS = {  # the formats that may be given, and how their files are read
    "trec": "lines",
    "csv": "lines",
    "tsv": "lines",
    "letor": "lines",
    "json": "json",
    "jsonl": "json",
    "parquet": "parquet",
    "arrow": "arrow",
}
OTHER_FILES = {  # files of other kinds, by the bytes that they begin with, and what to do
    rb"(?!\0{3})(?s:.){3}\0{5}": "is a TFRecord file; read it by TensorFlow, and give its arrays",
    rb"PK\x03\x04(?s:.){26}[^\0]*\.npy": "is an archive of NumPy arrays; give numpy.load(path)[name]",
    rb"PK\x03\x04": (
        "is a ZIP archive or an Excel workbook; give the file that is in it, or save the sheet as CSV"
    ),
    rb"\xd0\xcf\x11\xe0": "is an Excel workbook; save the sheet as CSV",
    rb"SQLite format 3\0": (
        "is a SQLite database; give the rows of a query, such as pandas.read_sql(query, connection)"
    ),
    rb"\x93NUMPY": "is a NumPy array; give numpy.load(path)",
    rb"\x80[\x02-\x05]": "is a pickle; load it, and give what it holds",
    rb"Obj\x01": "is an Avro file; save it as Parquet, or give its records",
    rb"\x89HDF": "is an HDF5 file; give the DataFrame or the arrays that it holds",
    rb"ORC(?s:.){0,4}[\0-\x08]": (
        "is an ORC file; save it as Parquet, or give pyarrow.orc.read_table(path)"
    ),
    rb"BZh[1-9]": "is compressed with bzip2; decompress it, or use gzip or Zstandard",
    rb"\xfd7zXZ\0": "is compressed with xz; decompress it, or use gzip or Zstandard",
    rb"---[ \t]*\r?\n|[\w\"'-]+:[ \t]*\r?\n[ \t-]": "is YAML; give yaml.safe_load of it",
}


def check_format(name: str | None) -> str | None:
    """Return the name of a format, which must be known.

    Raises:
        ValueError: it is unknown.
    """
    if name is None or name in GIVEN_FORMATS:
        return name
    near = nearest(str(name), GIVEN_FORMATS)
    hint = f"; did you mean {near!r}?" if near else ""
    known = ", ".join(map(shown, GIVEN_FORMATS))
    raise ValueError(f"{mark('format')} must be one of {known}; got {shown(name)}{hint}")


def form_of(start: bytes, path: str = "", given: str | None = None) -> str:
    """Return how a file that begins with these bytes is read: as a table, "json" or "lines".

    >>> form_of(b"PAR1"), form_of(b' {"q1": {'), form_of(b"q1 Q0 d1 1 0.5 tag")
    ('parquet', 'json', 'lines')
    """
    for beginning, form in TABLES.items():
        if start.startswith(beginning):
            return form
    for beginning, problem in OTHER_FILES.items():
        if re.match(beginning, start):
            raise ValueError(problem)
    if re.search(r"\.ya?ml$", os.path.basename(path).lower()):
        raise ValueError("is YAML; give yaml.safe_load of it")
    text = start.removeprefix(BYTE_ORDER_MARK)
    check_encoding(text)
    if given is not None:
        return GIVEN_FORMATS[given]
    return "json" if text.lstrip()[:1] in (b"{", b"[") else "lines"


# ndcg/files/cells.py: Read small files, such as the slice or the value of each query: a table, JSON, or lines.

class Line(NamedTuple):
    """A line of a small file of text."""

    number: int  # from 1
    text: str
    cells: list[str]  # without the spaces around them


def read_cells(content: bytes) -> Any:
    """Return the content of a small file: a table, the parsed JSON (a list for JSON Lines), or its lines one by one.

    >>> list(read_cells(b"q1, en"))
    [Line(number=1, text='q1, en', cells=['q1', 'en'])]
    """
    form = form_of(content[:START])
    if form == "json":
        return _json_or_lines(content)
    if form == "lines":
        return _lines(utf8_text(content).splitlines())
    if form == "parquet":
        from pyarrow import parquet  # only when it is needed, since the import takes long

        return parquet.read_table(pa.BufferReader(content))
    return (pa.ipc.open_file if form == "arrow" else pa.ipc.open_stream)(content).read_all()


def _lines(lines: Sequence[str]) -> Iterator[Line]:
    """Yield the lines that are not empty, in CSV, TSV or with spaces between the cells."""
    first = next(filter(str.strip, lines), "")
    delimiter = delimiter_of(first) if any(each in first for each in "\t,;") else " "
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row if cell or delimiter != " "]
            if any(cells):
                yield Line(reader.line_num, lines[reader.line_num - 1].strip(), cells)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None


def _json_or_lines(content: bytes) -> Any:
    """Return the value of JSON, or a list with those of JSON Lines; an error names the line."""
    lines = [(number, line) for number, line in enumerate(content.splitlines(), start=1) if line.strip()]
    try:
        are_values = len(lines) > 1 and parse_json(lines[0][1]) is not None
    except ValueError:  # the value goes on in the next lines, or is faulty
        are_values = False
    values = []
    for number, text in lines if are_values else [(0, content)]:
        try:
            values.append(parse_json(text))
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number or error.lineno}: not JSON: {error.msg}") from None
    return values if are_values else values[0]


# ndcg/files/groups.py: Read the slice of each query, such as its language, from a file of queries or from a column of the qrels.

STANDARD_INPUT = "/dev/stdin"


def path_of(file: str) -> str:
    """Return the path of a file; - is standard input."""
    return STANDARD_INPUT if file == "-" else os.path.expanduser(file)


def file_and_column(by: str) -> tuple[str | None, str | None]:
    """Return the file and the column that `by` names: a file, FILE:COLUMN, or a column of the qrels.

    >>> file_and_column("-"), file_and_column("-:language"), file_and_column("language")
    (('-', None), ('-', 'language'), (None, 'language'))
    """

    def is_file(path: str) -> bool:
        return path == "-" or (os.path.exists(path_of(path)) and not os.path.isdir(path_of(path)))

    file, _, column = by.rpartition(":")
    if is_file(by):
        return by, None
    return (file, column) if column and is_file(file) else (None, by)


def read_groups(
    by: str, qrels: str | os.PathLike[str] | None = None, query: str | None = None, limits: Limits = NO_LIMITS
) -> dict[str, Any]:
    """Return the slice of each query, by its id; None for an empty cell.

    They are in a file of queries and their slices (CSV, TSV, two columns with spaces, JSON, JSON Lines, Parquet,
    Arrow), in FILE:COLUMN for one of several columns, or in a column of the qrels.
    """
    file, column = file_and_column(by)
    if file is None and qrels is None:
        raise ValueError(f"{shown(by)} names no file; if it names a column, give its DataFrame as data")
    known = (*QUERY[0], *QUERY[1])
    names = known if query is None else (query, *(known if file is not None else ()))
    path = os.fsdecode(file or qrels or "")
    with naming_file(path):
        found = read_cells(read_content(path_of(path), limits))
        if isinstance(found, Iterator):
            found = _table_of_lines(found, names)
        elif isinstance(found, list):
            found = pa.Table.from_pylist(found if all(isinstance(each, dict) for each in found) else [])
        limits.check("rows", len(found))
        if isinstance(found, pa.Table):
            limits.check("columns", found.num_columns)
            return _one_each(*_files_groups_chosen(found, names, column, file, by))
        if file is None:
            raise ValueError(f"has no columns, and there is no file {shown(by)}")
        if column is not None:
            raise ValueError(f"maps queries to slices, so it has no column {shown(column)}; give {file}")
        return dict(found)


def _files_groups_chosen(
    table: pa.Table, names: Sequence[str], column: str | None, file: str | None, by: str
) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return the columns of queries and of slices; a column is chosen by its name if there are several."""
    own = next(iter(spelled(table.column_names, names)), None)
    others = [name for name in table.column_names if name != own]
    if own is None:
        problem = "" if file else f", and there is no file {shown(by)}"
        raise ValueError(f"has no column of queries{problem}; name it {names[0]}")
    has = f"has the columns {brief(map(shown, table.column_names), ', ')}"
    if column is None and len(others) != 1:
        raise ValueError(f"{has}; choose the one of slices, such as {file}:{others[0] if others else 'language'}")
    column = column or next(iter(others), "")
    if column not in others:
        problem = f"but not {shown(column)}" if file else f"but not {shown(by)}, and there is no such file"
        raise ValueError(f"{has}, {problem}")
    return table[own].cast(pa.string()), table[column]


def _one_each(queries: pa.ChunkedArray, values: pa.ChunkedArray) -> dict[str, Any]:
    """Return the slice of each query, from rows in which queries may repeat."""
    slices: dict[str, Any] = {}
    for row, (query, value) in enumerate(zip(queries.to_pylist(), values.to_pylist(), strict=True)):
        if slices.setdefault(query, value) != value:
            problem = f"query {shown(query)} is in slice {shown(value)}, but in {shown(slices[query])} before"
            raise ValueError(f"row {row} (from 0): {problem}; give each query one slice")
    return slices


def _table_of_lines(lines: Iterator[Line], queries: Sequence[str]) -> pa.Table:
    """Return the cells of lines, in which an empty cell is null; lines of two cells need no header."""
    rows: list[list[str]] = []
    for line in lines:
        if rows and len(line.cells) != len(rows[0]):
            raise ValueError(f"line {line.number}: {_files_groups_columns(len(line.cells))}; the first line has {len(rows[0])}")
        rows.append(line.cells)
    if not rows:
        raise ValueError("holds no slices")
    header, width = rows[0], len(rows[0])
    if spelled(header, queries):
        rows = rows[1:]
    elif width == 2:
        header = [queries[0], "slice"]
    else:
        hint = f"give a query and its slice, or name the columns, such as {queries[0]}"
        raise ValueError(f"line 1: {_files_groups_columns(width)}, none of which is called a query; {hint}")
    columns = list(zip(*rows, strict=True)) or [()] * width
    return pa.table([_whole(pa.array([cell or None for cell in cells], pa.string())) for cells in columns], header)


def _files_groups_columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def _whole(cells: pa.StringArray) -> pa.Array:
    """Return cells of text as integers if each is written as one, so that slices are in the order of their numbers."""
    try:
        numbers = cells.cast(pa.int64())
        return numbers if numbers.cast(pa.string()).equals(cells) else cells
    except pa.ArrowInvalid:
        return cells


# ndcg/files/parts.py: The rows of a file in parts: tables of a query, a document and a value, and what is wrong in them.

TYPE_OF_QUERY = pa.dictionary(pa.int32(), pa.string())
ROWS = pa.schema({"query": TYPE_OF_QUERY, "document": pa.string(), "value": pa.float64()})
NO_NUMBER = float("nan")  # in place of a value that is refused


class ReadRequest(NamedTuple):
    """How to read a file."""

    names: Names  # the kind of file, and the names that its columns and fields may have
    limits: Limits  # how much the file may contain
    format: str | None = None  # the format, if it is given; else the file tells


class FilePart(NamedTuple):
    """Consecutive rows of a file."""

    table: pa.Table  # the columns query, document and value
    span: int  # the number of lines, rows or records of the file in this part
    # the number of each row among these, and of the next one; None if every line is a row
    numbers: NDArray[np.int64] | None = None
    problem: str = ""  # the error in the row after these; empty if there is none
    notice: str = ""  # what a warning says about these rows; empty if there is none
    # the queries whose documents are each in one list, with their numbers: no other list may be
    # of the same query
    lists: Sequence[tuple[str, int]] = ()
    # the ids that the file lacks, "query" or "document", which are numbers from 0 in this part
    counted: str = ""
    total: int = 0  # how many of these numbers there are
    form: str = ""  # what held the rows
    fields: Mapping[str, str] = {}  # the field of each role


def parts_in_threads(
    pool: ThreadPoolExecutor, work: Callable[[bytes], FilePart], chunks: Iterable[bytes]
) -> Iterator[FilePart]:
    """Yield the result of a function for each chunk, in order, computed a few chunks ahead."""
    waiting: deque[Future[FilePart]] = deque()
    for chunk in chunks:
        waiting.append(pool.submit(work, chunk))
        if len(waiting) > pa.cpu_count():
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


# Tables of rows


def id_table(query: pa.Array, document: pa.Array, value: pa.Array | None = None) -> pa.Table:
    """Return rows as a table, with the value 1 if there are no values."""
    values = np.ones(len(query)) if value is None else value
    return pa.table([query.cast(TYPE_OF_QUERY), document, values], schema=ROWS)


def faulty_rows(table: pa.Table) -> NDArray[np.bool_]:
    """Return a mask of rows without an id, or with a value that is no finite number.

    A null is a missing value.
    """
    value = table["value"]
    if value.null_count:
        value = value.fill_null(0)
    faults: NDArray[np.bool_] = ~np.isfinite(value.to_numpy())
    for ids in (table["query"].cast(pa.string()), table["document"]):
        faults |= pc.equal(pc.fill_null(pc.binary_length(ids), 0), 0).to_numpy()
    return faults


def checked_part(
    part: FilePart, cells_of: Callable[[int], Sequence[Any]], names: Names, seen: Iterable[Any]
) -> FilePart:
    """Return the rows before the first faulty one, and the error in that row's cells."""
    faults = faulty_rows(part.table)
    if not faults.any():
        return part
    row = int(faults.argmax())
    problem = problem_in(cells_of(row), names, seen)
    return part._replace(table=part.table[:row], problem=problem)


def problem_in(cells: Sequence[Any], names: Names, seen: Iterable[Any]) -> str:
    """Return the error in the cells of a row, among the values seen."""
    query, document, value = (*cells, None)[:3]
    for name, cell in (("query", query), ("document", document)):
        if cell is None or cell == "":
            return f"has no {name}; give each row its id"
        if not is_id(cell):
            return f"the {name} {shown_cell(cell)} {NO_ID}"
    place = f"document {shown_cell(document)} of query {shown_cell(query)}"
    fault = fault_of(value, names.kind, names.labels, seen)
    return f"the {VALUE[names.kind]} {shown_cell(value)} of {place} {fault}"


def fault_of(value: Any, kind: str, labels: Labels | None, seen: Iterable[Any]) -> str:
    """Return why a value is refused; for text in place of a relevance, also what to write."""
    if isinstance(value, (int, float)):
        return "is not finite" if value - value != 0 else "has more digits than float64 holds"
    if not isinstance(value, str):
        return "is not a number"
    if DECIMAL_COMMA.fullmatch(value):
        return "has a comma; write a point for decimals, and no mark between thousands"
    if kind != "qrels":
        return "is not a number"
    if labels is not None:
        return labels.unknown(value)
    return f"is not a number; {to_label([value, *seen])}"


# Rows of objects


class QueryDocuments(NamedTuple):
    """The documents of a query, in a line or a record of a file."""

    number: int  # of the line or record
    query: Any  # its id; None if it has none
    documents: Mapping[Any, Any]  # the values of the documents by their ids
    are_listed: bool = True  # whether the query may have no other list of documents


def part_of_queries(
    queries: Sequence[QueryDocuments], span: int, names: Names, next_number: int, problem: str = ""
) -> FilePart:
    """Return the documents of queries as rows, and the error in the line of the next number."""
    are_counted = len(queries) > 0 and queries[0].query is None
    ids = [number if item.query is None else item.query for number, item in enumerate(queries)]
    lengths = [len(item.documents) for item in queries]
    documents: list[Any] = []
    values: list[Any] = []
    for item in queries:
        documents.extend(item.documents)
        values.extend(item.documents.values())
    if names.labels is not None:
        values = names.labels.numbers(values)
    rows = np.repeat(np.arange(len(queries)), lengths)
    numbers = np.array([item.number for item in queries], np.int64)[rows]
    texts = pc.dictionary_encode(texts_of_ids(ids))
    query = pa.DictionaryArray.from_arrays(texts.indices.take(pa.array(rows)), texts.dictionary)
    part = FilePart(
        id_table(query, texts_of_ids(documents), floats(values)),
        span,
        np.append(numbers, next_number),
        problem,
        lists=[(str(item.query), item.number) for item in queries if item.are_listed],
        counted="query" if are_counted else "",
        total=len(queries) if are_counted else 0,
    )
    if are_counted:
        part = part._replace(lists=())
    return checked_part(part, lambda row: (ids[rows[row]], documents[row], values[row]), names, values)


def part_of_cells(
    cells: Mapping[str, Sequence[Any]], numbers: Sequence[int], span: int, names: Names
) -> FilePart:
    """Return rows with a document each, of which the columns are given by role."""
    query, document = cells["query"], cells["document"]
    values = list(map(as_number, cells.get(names.value, [1.0] * len(query))))
    if names.labels is not None:
        values = names.labels.numbers(values)
    table = id_table(texts_of_ids(query).dictionary_encode(), texts_of_ids(document), floats(values))
    part = FilePart(table, span, np.array(numbers, np.int64))
    return checked_part(part, lambda row: (query[row], document[row], values[row]), names, values)


def texts_of_ids(ids: Sequence[Any]) -> pa.StringArray:
    """Return ids as text, null for those that are neither text nor integers."""
    if set(map(type, ids)) <= {str}:
        try:
            return pa.array(ids, pa.string())
        except UnicodeEncodeError:
            pass  # one of them is the replacement of bytes that are not UTF-8
    return pa.array([str(value) if is_id(value) else None for value in ids], pa.string())


def is_id(value: Any) -> bool:
    """Return whether a value of JSON may be an id."""
    if isinstance(value, str):
        return SURROGATE.search(value) is None
    return bool(id_kind(type(value)))


def floats(values: Sequence[Any]) -> pa.DoubleArray:
    """Return numbers, null for None, and nan for what is refused: also what float64 would round."""
    if set(map(type, values)) <= {float, type(None)}:
        return pa.array(values, pa.float64())
    return pa.array([None if value is None else _float(value) for value in values], pa.float64())


def _float(value: Any) -> float:
    """Return a number as a float; nan for other values and for an integer that would be rounded."""
    if isinstance(value, Decimal):
        value = whole_or_float(value)
    if not isinstance(value, (int, float)) or not -(2**1023) < value < 2**1023:
        return NO_NUMBER
    return float(value) if value == float(value) else NO_NUMBER


def numerals(cells: pa.Array, labels: Labels | None) -> pa.Array:
    """Return text with the number of each label in place of it, and numbers as Python writes them."""
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    packed = whole.dictionary_encode()
    texts = packed.dictionary.to_pylist()
    numbers = map(as_number, texts) if labels is None else labels.numbers(texts)
    written = [None if number is None else str(number) for number in numbers]
    return pa.array(written, pa.string()).take(packed.indices)


# ndcg/files/json.py: Read JSON and JSON Lines: objects, mappings of queries, lists of ids and of hits, and records.

def from_json(
    stream: ByteStream, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return the unit of places, and the parts of JSON Lines, or of one value in the whole file."""
    chunks = line_chunks(stream, math.inf)
    head = next(chunks) + next(chunks, b"")  # a last line without its end is a chunk of its own
    if request.format != "json" and _are_lines(head):
        values = _first_values(head)
        kind = next((kind_of(value, request.names) for value in values if value), "lists")
        reader = ValueReader(values, kind, request, "JSON Lines")
        parts = parts_in_threads(pool, reader.part_of_lines, chain([head], chunks))
        return "line {}", chain([FilePart(ROWS.empty_table(), 1)], parts)
    try:
        value = parse_json(head + b"".join(chunks))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"{place}: not JSON: {error.msg}") from None
    if _is_saved(value):
        raise SavedResultError(value)
    unit, values = "", [value]
    frame = table_of("", value, request.names)
    if frame is not None:
        unit, values = "row {} (from 0)", rows_of_frame(frame)
    elif isinstance(value, list):
        unit, values = "record {} (from 0)", value
    request.limits.check("rows", len(values))
    if isinstance(value, dict) and frame is None:
        kind = kind_of_whole(value, request.names)
    else:
        kind = next((kind_of(row, request.names) for row in values if row), "lists")
    reader = ValueReader(values[:LOOKED_AT], kind, request, "JSON")
    return unit, iter([reader.part_of_values(list(enumerate(values)), len(values))])


def _are_lines(head: bytes) -> bool:
    """Return whether the first line is a value, and others follow it."""
    line, _, rest = head.lstrip().partition(b"\n")
    if not rest.strip() or not line.startswith((b"{", b"[")):
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # the value continues on the next lines
        return False
    return not _is_saved(value)


def _first_values(head: bytes) -> list[Any]:
    """Return the values in the first lines, up to a faulty one, at which parsing raises the error."""
    values: list[Any] = []
    for line in head.split(b"\n"):
        if len(values) == LOOKED_AT:
            break
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                break
    return values


def _is_saved(value: Any) -> bool:
    """Return whether a value is a result of `to_dict`, or several of them by name."""
    if not isinstance(value, dict):
        return False
    results = [value] if "signature" in value else list(value.values())
    for result in results:
        if not isinstance(result, dict) or not isinstance(result.get("signature"), str):
            return False
        if not isinstance(result.get("scores"), dict):
            return False
    return len(results) > 0


# Values


def _excluded(number: int, value: Mapping[str, Any]) -> list[QueryDocuments]:
    """Return the documents to exclude from each query, which may be repeated."""
    queries = []
    for query, ids in value.items():
        place = f"query {shown_cell(query)}"
        if not isinstance(ids, (list, dict)):
            raise ValueError(f"{place}: must be a list of ids; got {shown_cell(ids)}")
        for document in ids:
            if not is_id(document):
                raise ValueError(f"{place}: the document {shown_cell(document)} {NO_ID}")
        queries.append(QueryDocuments(number, query, dict.fromkeys(ids, 1.0), are_listed=False))
    return queries


class ValueReader:
    """Reads values of JSON, all of one kind.

    | kind | a value |
    |---|---|
    | `objects` | a row or a query, with fields |
    | `responses` | objects by their queries |
    | `queries` | `{query: documents}`: lists of ids, of hits, or mappings to numbers |
    | `rankings` | `{document: number}`, of a query without an id |
    | `lists` | the documents of a query without an id |
    """

    def __init__(self, values: Sequence[Any], kind: str, request: ReadRequest, form: str) -> None:
        names = request.names
        self.names, self.container, self.kind = names, form, kind
        self.objects: ObjectReader | None = None
        self.rows: RowReader | None = None
        alike: list[Any] = [value for value in values if isinstance(value, CONTAINERS[kind])]
        if kind == "objects":
            request.limits.check("columns", len(alike[0]))
            self.objects = ObjectReader(alike, names)
        elif kind == "responses":
            self.objects = ObjectReader(list(alike[0].values()), names, have_queries=True)
        elif names.kind == "exclude":
            pass  # whose documents have no values, and may be repeated
        elif kind == "queries":
            self.rows = RowReader(chain.from_iterable(value.values() for value in alike), names)
        else:
            self.rows = RowReader(alike, names)

    @property
    def are_rows(self) -> bool:
        """Whether each value is an object with a document."""
        return self.objects is not None and self.objects.are_rows

    def _described(self, part: FilePart) -> FilePart:
        """Return a part with what it was read from."""
        form, fields, warning = "", {}, ""
        if self.objects is not None:
            form, fields = self.objects.form, self.objects.roles.fields
            warning = self.objects.lists.warning
        elif self.rows is not None:
            form, fields = self.rows.form, dict(self.rows.fields)
            warning = self.rows.lists.warning
        return part._replace(form=f"{self.container}: {form}", fields=fields, notice=warning)

    # Lines

    def part_of_lines(self, text: bytes) -> FilePart:
        """Return the rows of whole lines."""
        plain = self._plain_records(text)
        if plain is not None:
            return self._described(plain)
        lines = text.removesuffix(b"\n").split(b"\n")
        values: list[tuple[int, Any]] = []
        problem, number = "", len(lines)
        for at, line in enumerate(lines):
            try:
                if line.strip():
                    values.append((at, parse_json(line)))
            except json.JSONDecodeError as error:
                problem, number = f"not JSON: {error.msg}, at column {error.colno}", at
            except ValueError as error:
                problem, number = marked(error), at
            if problem:
                break
        return self.part_of_values(values, len(lines), number, problem)

    def _plain_records(self, text: bytes) -> FilePart | None:
        """Return the rows of flat objects, read by Arrow; None if one is not plain."""
        if self.objects is None or not self.objects.are_flat_rows:
            return None
        from pyarrow import json as arrow_json  # only when it is needed

        columns = list(self.objects.roles.fields.values())
        lines = text.removesuffix(b"\n").count(b"\n") + 1
        types = dict(zip(columns, (pa.string(), pa.string(), pa.float64()), strict=False))
        parse = arrow_json.ParseOptions(
            explicit_schema=pa.schema(types), unexpected_field_behavior="ignore"
        )
        read = arrow_json.ReadOptions(block_size=len(text) + 1, use_threads=False)
        try:
            text.decode()
            source = pa.BufferReader(text)
            parsed = arrow_json.read_json(source, read_options=read, parse_options=parse)
        except (pa.ArrowInvalid, UnicodeError):
            return None  # reading the lines one by one raises the error
        table = id_table(*(parsed[name].combine_chunks() for name in columns))
        value = table["value"]
        if len(value) != lines or value.null_count or faulty_rows(table).any():
            return None
        if pc.max(pc.abs(value)).as_py() >= 2**53:
            return None
        return FilePart(table, lines)

    # Values

    def part_of_values(
        self, values: Sequence[tuple[int, Any]], span: int, number: int = 0, problem: str = ""
    ) -> FilePart:
        """Return the rows of values with their numbers, and the error in the next one, if any."""
        if not problem:
            number = span
        rows: list[tuple[int, Any]] = []
        queries: list[QueryDocuments] = []
        for at, value in values:
            try:
                self._refuse_other_kind(value)
                if self.are_rows and self.kind == "responses":
                    rows += [(at, row) for row in value.values()]
                elif self.are_rows:
                    rows.append((at, self._with_fields(value)))
                else:
                    queries += self._queries(at, value)
            except ValueError as error:
                problem, number = _without_position(error), at
                break
        if not self.are_rows:
            part = part_of_queries(queries, span, self.names, number, problem)
            return self._described(part)
        assert self.objects is not None
        cells = self.objects.rows([row for _, row in rows])
        if self.kind == "responses":
            cells["query"] = list(values[0][1])
        part = part_of_cells(cells, [*(at for at, _ in rows), number], span, self.names)
        return self._described(part if part.problem else part._replace(problem=problem))

    def _refuse_other_kind(self, value: Any) -> None:
        """Raise an error for a value of another kind than the first one."""
        if not isinstance(value, CONTAINERS[self.kind]):
            words = "a list" if self.kind == "lists" else "an object"
            raise ValueError(f"{shown_cell(value)} is not {words}, as the first value is")

    def _with_fields(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a row, which must have each field that is read."""
        assert self.objects is not None
        for path, keys in self.objects.paths.items():
            if keys[0] not in row:
                raise ValueError(f"has no {path!r}, which the first record has")
        return row

    def _queries(self, number: int, value: Any) -> list[QueryDocuments]:
        """Return the queries in a value with their documents."""
        if self.objects is not None and self.kind == "responses":
            objects = [{} if row is None else row for row in value.values()]
            return [
                QueryDocuments(number, query, documents)
                for query, documents in self.objects.queries(objects, list(value))
            ]
        if self.objects is not None:
            has_ids = self.objects.roles.query is not None
            return [
                QueryDocuments(number, query if has_ids else None, documents)
                for query, documents in self.objects.queries([value])
            ]
        if self.rows is None:
            return _excluded(number, value)
        if self.kind != "queries":
            return [QueryDocuments(number, None, self.rows.documents(number, value))]
        return [
            QueryDocuments(number, query, self.rows.documents(query, [] if row is None else row))
            for query, row in value.items()
        ]


CONTAINERS: dict[str, type] = {
    "objects": dict, "responses": dict, "queries": dict, "rankings": dict, "lists": list,
}


def kind_of(value: Any, names: Names) -> str:
    """Return the kind of one of several values, each of which is a query, a row or a mapping."""
    if not isinstance(value, dict):
        return "lists"
    if are_queries(value, names):
        return "queries"
    return "rankings" if is_ranking(value, names) else "objects"


def kind_of_whole(value: dict[str, Any], names: Names) -> str:
    """Return the kind of an object that holds all queries."""
    if is_single_object(value, names):
        return "objects"
    first = next((row for row in value.values() if not is_empty(row)), None)
    return "responses" if is_object(first) and not is_mapping_to_values(first) else "queries"


def _without_position(error: ValueError) -> str:
    """Return the words of an error in a value, which its number places."""
    if isinstance(error, InputError) and not any(error.places):
        error.position = None
    return marked(error)


# ndcg/files/letor.py: Recognize LETOR, as LightGBM, XGBoost and RankLib write it, and files of its scores, a number a line.

EXAMPLE = "2 qid:10 1:0.3 2:1"
FEATURE = re.compile(rb"[0-9]+:[-+.0-9eE]+")
SVMLIGHT = re.compile(rb"[-+.0-9eE]+(,[0-9]+)*")
ROWS_OF = {  # rows without comments, and how they are written as a query, a document and a value
    "qrels": (re.compile(rb"(?m)^([^ \n]+) qid:([^ \n]+)(?: .*)?$"), rb"\2 - \1"),
    "run": (re.compile(rb"(?m)^([^ \n]+)$"), rb"- - \1"),
}


def is_row(line: bytes, kind: str) -> bool:
    """Return whether the first line of a file is a row of LETOR or, in a run, a score alone.

    >>> is_row(b"2 qid:10 1:0.3", "qrels"), is_row(b"q1 0 d1 2", "qrels"), is_row(b"0.5", "run")
    (True, False, True)
    """
    label, *cells = line.partition(b"#")[0].split(None, 2) or [b""]
    if not cells:
        return kind == "run" and NUMBER.fullmatch(label) is not None
    if cells[0].startswith(b"qid:"):
        if kind == "qrels":
            return True
        problem = "is of LETOR, whose first column is the relevance; give the file as references, and the scores of"
        problem += " its rows in an array or in a file, one a line"
    elif SVMLIGHT.fullmatch(label) and all(map(FEATURE.fullmatch, b" ".join(cells).split())):
        problem = f"is of SVMlight without queries; give each line its query, as in {EXAMPLE}, or give labels, scores"
        problem += f" and {mark('query_ids')} as arrays"
    else:
        return False
    raise InputError(f"the line {shown_cell(line)} {problem}")


def as_qrels(rows: bytes, kind: str) -> bytes | None:
    """Return rows of LETOR or, of a run, scores as triples of TREC; None if one is no such row.

    >>> as_qrels(b"2 qid:10 1:0.3 2:1", "qrels"), as_qrels(b"0.5", "run"), as_qrels(b"0.5 1", "run")
    (b'10 - 2', b'- - 0.5', None)
    """
    pattern, line = ROWS_OF[kind]
    found, count = pattern.subn(line, rows)
    return found if count == rows.removesuffix(b"\n").count(b"\n") + 1 else None


def no_row(line: bytes, kind: str) -> str:
    """Return the error in a line that is no row."""
    fault = f"has no qid after the label; a line is such as {EXAMPLE}"
    return f"{shown_cell(line)} {fault if kind == 'qrels' else 'is not a score alone, as the first line is'}"


# ndcg/files/lines.py: Read rows from lines: TREC, CSV and TSV; LETOR is in `letor`.

SAMPLE = 100  # lines
TIME = re.compile(rb"[0-9]{9,}(?:\.0*)?")  # in seconds since 1970, from 1973 on
RATINGS = (
    "give ratings as CSV or TSV with a first line that names the columns, such as "
    "user_id,item_id,rating"
)
FINITE = re.compile(rb"[+-]?[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)
FIRST_LINE = re.compile(rb"(?:[ \t\r]*(?:#[^\n]*)?\n)*+([ \t\r]*[^ \t\r\n#][^\n]*)\n?")
CELL = r'[{1}]*+(?:("(?:[^"\n]|"")*+")[{1}]*+(?=[{0}\n]|\Z)|([^{0}\n]*+))([{0}\n]|\Z)'  # including its end
FLAG = re.compile(rb"(?i)\b(?:true|false)\b")
COMMENT = re.compile(rb"#[^\n]*")
EXTRA = re.compile(rb"(?m)^((?:[^ \n]+ ){5}[^ \n]+) .*$")  # the text after the tag of a run


class _Layout(NamedTuple):
    """How to split the lines of a TREC, CSV or TSV file, and which columns to read."""

    kind: str
    names: Sequence[str]
    delimiter: str
    at: Sequence[int]
    is_letor: bool = False  # whether rows of LETOR, or scores, are to be written in this layout
    fields: Mapping[str, str] = {}  # the column of each role, if the columns have names

    @property
    def words(self) -> str:
        """A description of the contents of a line."""
        who = {6: "a run has", 4: "qrels have", 2: "ids alone are"}.get(len(self.names), "the first line has")
        who = who if self.delimiter == " " else "the header has"
        return f"{who} {len(self.names)}: {brief(self.names, ' ')}"

    @property
    def form(self) -> str:
        """What was read, as `preview` says it."""
        if self.is_letor:
            return "LETOR" if self.kind == "qrels" else "scores, one a line"
        if self.delimiter == " ":
            return "TREC"
        return "TSV" if self.delimiter == "\t" else "CSV"

    def fits(self, cells: Sequence[bytes]) -> bool:
        """Return whether a line of TREC has this layout, apart from its numbers."""
        return len(cells) == len(self.names) or (self.kind == "run" and len(cells) > len(self.names))

    def is_row(self, cells: Sequence[bytes]) -> bool:
        """Return whether a line that begins with ``#`` is a row and not a comment."""
        if len(self.at) == 2:  # lines of ids have no number; a space after the # marks a comment
            return self.fits(cells) and cells[0] != b"#"
        return self.fits(cells) and NUMBER.fullmatch(cells[self.at[2]]) is not None

    @property
    def padding(self) -> str:
        """The characters around a cell of CSV or TSV that are not part of it."""
        return " \t".replace(self.delimiter, "")


RUN = _Layout("run", ("query", "Q0", "document", "rank", "score", "tag"), " ", (0, 2, 4))
QRELS = _Layout("qrels", ("query", "iteration", "document", "relevance"), " ", (0, 2, 3))
PLAIN_QRELS = _Layout("qrels", ("query", "document", "relevance"), " ", (0, 1, 2))
PAIRS = _Layout("exclude", ("query", "document"), " ", (0, 1))
OTHER_SIDE = {len(QRELS.names): (RUN,), len(RUN.names): (QRELS, PLAIN_QRELS)}  # layouts by the number of columns
LETOR = {kind: _Layout(kind, PLAIN_QRELS.names, " ", (0, 1, 2), is_letor=True) for kind in ("run", "qrels")}
LAYOUTS = {"run": (RUN,), "qrels": (QRELS, PLAIN_QRELS), "exclude": (PAIRS,)}


def _cells_of_trec(line: bytes) -> list[bytes]:
    """Return the cells of a line of TREC."""
    return [cell for cell in line.replace(b"\t", b" ").removesuffix(b"\r").split(b" ") if cell]


def from_lines(
    stream: ByteStream, path: str, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return the rows of a TREC, CSV or TSV file, in the format of the first line that is not empty or a comment.

    A line that begins with ``#`` is a comment unless it is a row of TREC. It determines the format only if no other
    line does, because a comment may look like a row of another format.
    """
    chunks = line_chunks(stream, LINE)
    head, layouts, before, notice = b"", LAYOUTS[request.names.kind], 1, ""  # lines are counted from 1
    layout = layouts[0]
    for chunk in chunks:
        head += chunk
        if first := FIRST_LINE.match(head):
            layout = _layout(first[1].removesuffix(b"\r"), head[first.end() :], path, request)
            lines = head[first.start(1) :].split(b"\n", SAMPLE)[:SAMPLE]
            notice = _notice_of_ranks(lines, layout, request)
            if layout.delimiter != " ":
                before += head.count(b"\n", 0, first.end())
                head = head[first.end() :]
            break
        lines = head.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")
        cells = list(map(_cells_of_trec, lines))
        rows = [sum(map(each.is_row, cells)) for each in layouts]
        layout = layouts[rows.index(max(rows))]
        # comments must also be text, in lines of limited length; parsing raises the error
        if any(mark in line for mark in NO_TEXT for line in lines) or max(map(len, lines)) > LINE:
            break
        if not any(rows):
            before += head.count(b"\n")
            head = b""
        elif len(head) >= CHUNK:
            break
    parse = partial(_parse_lines, layout=layout, labels=request.names.labels)
    return "line {}", chain(
        [FilePart(ROWS.empty_table(), before, notice=notice)], parts_in_threads(pool, parse, chain([head], chunks))
    )


def _layout(line: bytes, rows: bytes, path: str, request: ReadRequest) -> _Layout:
    """Return the layout of a file with this first line, and these rows after it."""
    kind, given = request.names.kind, request.format
    if any(mark in line for mark in NO_TEXT):  # the line itself is rejected later, not its columns
        return LAYOUTS[kind][0]
    if given in (None, "letor") and is_row(line, kind):
        return LETOR[kind]
    cells = _cells_of_trec(line)
    has_commas = len(cells) > 1 and all(cell.endswith(b",") for cell in cells[:-1])
    fitting = [layout for layout in LAYOUTS[kind] if not has_commas and layout.fits(cells)]
    if given == "trec":
        return fitting[0] if fitting else LAYOUTS[kind][0]
    for layout in fitting if given is None else ():
        if len(layout.at) > 2 and layout.is_row(cells):
            return layout
    is_named = re.search(r"\.[ct]sv(\.|$)", os.path.basename(path).lower()) or given in ("csv", "tsv")
    header = line.decode("utf-8", "replace")
    delimiter = "," if has_commas and ";" not in header else delimiter_of(header)
    if given == "tsv":
        delimiter = "\t"
    try:
        names = _cells(header, delimiter)
    except csv.Error:
        names = []
    words = [cell.decode("utf-8", "replace") for cell in cells]
    if len(names) == 1 and are_names_of_fields(words):
        listed = brief(words, " ")
        problem = f"the header has spaces between the names, {listed}"
        raise ValueError(f"{problem}; separate columns by commas or tabs")
    if are_names_of_fields(names) or has_commas or (is_named and not fitting):
        return _named_layout(names, rows, delimiter, request)
    return fitting[0] if fitting else LAYOUTS[kind][0]


def _named_layout(
    names: Sequence[str], rows: bytes, delimiter: str, request: ReadRequest
) -> _Layout:
    """Return the layout of a table whose columns have these names."""
    request.limits.check("columns", len(names))  # first, so that no message lists thousands
    _refuse_no_header(names, request)
    refuse_repeated_names(names)
    first = next(_first_cells(rows.splitlines(), delimiter, range(len(names))), [])
    examples = dict(zip(names, [*first, *[None] * len(names)], strict=False))
    chosen = chosen_columns(Fields.of_table(examples), request.names, "the header has")
    at = [names.index(name) for name in chosen.values()]
    return _Layout(request.names.kind, names, delimiter, at, fields=chosen)


def _refuse_no_header(names: Sequence[str], request: ReadRequest) -> None:
    """Raise an error for a first line that is a row: it has a number and no name of a column."""
    given = [name.name for name in request.names.given.values()]
    if any(name in names for name in given) or are_names_of_fields(names):
        return
    if any(map(NUMERAL.fullmatch, names)):
        first = brief(map(shown_cell, names), ", ")
        header = ",".join(filter(None, ("query_id", "doc_id", VALUE.get(request.names.kind))))
        problem = f"has no header: the first line is {first}"
        raise ValueError(f"{problem}; name the columns there, such as {header}")


def _notice_of_ranks(lines: Sequence[bytes], layout: _Layout, request: ReadRequest) -> str:
    """Return what a warning says about the ranks of a run; raise an error for ids with spaces."""
    if layout is RUN:
        rows = [cells for cells in map(_cells_of_trec, lines) if layout.is_row(cells)]
        return _check_ranks(rows, request.names.score_order)
    if layout in (QRELS, PLAIN_QRELS):
        _refuse_no_qrels([cells for cells in map(_cells_of_trec, lines) if layout.is_row(cells)])
        return ""
    if request.names.kind != "run" or "score" not in layout.fields:
        return ""
    ranks = [name for name in layout.names if plain_name(name) == "rank"]
    if len(ranks) != 1 or ranks[0] == layout.fields["score"]:
        return ""
    columns = [layout.fields["query"], layout.fields["score"], ranks[0]]
    at = [layout.names.index(name) for name in columns]
    cells = list(_first_cells(lines[1:], layout.delimiter, at))
    if not cells:
        return ""
    query = query_of_equal_scores(*zip(*cells, strict=True))
    return "" if query is None else f"query {shown(query)}: {equal_scores()}"


def _refuse_no_qrels(rows: Sequence[Sequence[bytes]]) -> None:
    """Raise an error for lines whose last number is a time, or counts from 1 in each query."""
    if {row[1] for row in rows} <= {b"0", b"Q0"}:  # the iterations that qrels have
        return
    line = shown_cell(b" ".join(rows[0]))
    if all(TIME.fullmatch(row[-1]) for row in rows):
        raise ValueError(f"the line {line} ends in a time where qrels have the relevance; {RATINGS}")
    by_query: dict[bytes, list[bytes]] = {}
    for row in rows:
        by_query.setdefault(row[0], []).append(row[-1])
    counts = [[b"%d" % rank for rank in range(1, len(of) + 1)] for of in by_query.values()]
    if max(map(len, counts)) > 3 and counts == list(by_query.values()):
        problem = f"the line {line} ends in a rank where qrels have the relevance"
        raise ValueError(f"{problem}: each query counts from 1; is it a run?")


def _check_ranks(rows: Sequence[Sequence[bytes]], score_order: str) -> str:
    """Return what a warning says about ranks that contradict scores; raise an error for ids with spaces."""
    for row in rows:
        if len(row) > len(RUN.names) and not NUMBER.fullmatch(row[3]) and NUMBER.fullmatch(row[-2]):
            line = shown_cell(b" ".join(row))
            raise ValueError(f"the line {line} has no rank in its fourth column; replace the spaces in ids")
    sign = 1 if score_order == "ascending" else -1
    for before, after in pairwise(rows):
        if before[0] == after[0] and all(FINITE.fullmatch(each[at]) for each in (before, after) for at in (3, 4)):
            ranks, scores = (float(after[at]) - float(before[at]) for at in (3, 4))
            if ranks * scores * sign < 0:
                problem = "the ranks are in another order than the scores, and the scores count, as in trec_eval"
                hint = "" if sign > 0 else f"; if the lowest score is best, give {mark('score_order', 'ascending')}"
                return f"query {shown_cell(before[0])}: {problem}{hint}"
    finite = [row for row in rows if all(FINITE.fullmatch(row[column]) for column in (3, 4))]
    query = query_of_equal_scores(
        [row[0] for row in finite],
        [float(row[4]) for row in finite],
        [float(row[3]) for row in finite],
    )
    return "" if query is None else f"query {shown_cell(query)}: {equal_scores()}"


def _first_cells(rows: Iterable[bytes], delimiter: str, at: Sequence[int]) -> Iterator[list[str]]:
    """Yield the cells of the first rows in some columns, as far as they can be read."""
    for row in rows:
        with suppress(csv.Error, IndexError):  # parsing raises the error
            cells = _cells(row.decode("utf-8", "replace"), delimiter)
            yield [cells[each] for each in at]


def _cells(row: str, delimiter: str) -> list[str]:
    """Return the cells of a row, of CSV or TSV without the spaces around them."""
    if delimiter == " ":
        return row.split(" ")
    return [cell.strip(" \t") for cell in next(csv.reader([row], delimiter=delimiter, skipinitialspace=True))]


def _parse_lines(chunk: bytes, layout: _Layout, labels: Labels | None) -> FilePart:
    """Return the rows of whole lines."""
    text, span, numbers, problem = _plain_lines(chunk, layout)
    rows: list[bytes] = []
    try:
        table = _parse_rows(text, layout, labels)
    except pa.ArrowInvalid:
        if layout is RUN:
            text = EXTRA.sub(rb"\1", text)
        rows = text.removesuffix(b"\n").split(b"\n")
        table = _parseable(rows, layout, labels)
        problem = problem if len(table) == len(rows) else _problem(rows[len(table) :], layout, labels)
    faults = ~np.isfinite(table["value"]) if layout.delimiter == " " else faulty_rows(table)
    if faults.any():
        row = int(faults.argmax())
        table, problem = table[:row], _problem((rows or text.split(b"\n"))[row:], layout, labels)
    counted = "document" if layout.is_letor else ""
    form = layout.form
    total = len(table) if counted else 0
    part = FilePart(table, span, numbers, problem, counted=counted, total=total)
    return part._replace(form=form, fields=layout.fields)


def _plain_lines(text: bytes, layout: _Layout) -> tuple[bytes, int, NDArray[np.int64] | None, str]:
    """Return the rows of whole lines as text, with one space between the columns of TREC.

    Also returned are the number of lines; the number of each row, and of the next line, among the lines, or None if
    every line is a row; and the error in the next line, if the rows end at a line that cannot be parsed.
    """
    problem, spaced = "", layout.delimiter == " "
    if spaced and b"\t" in text:
        text = text.replace(b"\t", b" ")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    for byte, words in NO_TEXT.items():
        if (at := text.find(byte)) >= 0:
            text, problem = text[: text.rfind(b"\n", 0, at) + 1], words
    start = 0
    while len(text) - start > LINE:
        end = text.rfind(b"\n", start, start + LINE + 1)
        if end < 0:
            text = text[:start]
            problem = f"is longer than {LINE:,} bytes; give each document a line of its own"
        start = end + 1
    span = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))  # faster than bytes.count
    span += text != b"" and not text.endswith(b"\n")
    if layout.is_letor and b"#" in text:
        text = COMMENT.sub(b"", text)
    irregular = True
    if spaced:
        white = np.frombuffer(text, np.uint8) <= ord(" ")
        irregular = bool((white[1:] & white[:-1]).any() or white[:1].any() or text.endswith(b" "))
        if irregular:
            while b"  " in text:
                text = text.replace(b"  ", b" ")
            text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip(b" ")
    empty = irregular and (text.startswith(b"\n") or b"\n\n" in text)  # searching for two bytes is slow
    marked = spaced and b"#" in text and (text.startswith(b"#") or b"\n#" in text) and not _are_rows(text, layout)
    if empty or marked:
        lines = text.removesuffix(b"\n").split(b"\n")
        kept = (not (marked and line.startswith(b"#")) or layout.is_row(line.split(b" ")) for line in lines)
        rows = [number for number, (line, is_kept) in enumerate(zip(lines, kept, strict=True)) if line and is_kept]
        text = b"\n".join(lines[number] for number in rows)
        return text, span, np.array([*rows, span], np.int64), problem
    return text, span, None, problem


def _parse_rows(text: bytes, layout: _Layout, labels: Labels | None) -> pa.Table:
    """Return rows as a table."""
    if not text:
        return ROWS.empty_table()
    if layout.is_letor:
        if (written := as_qrels(text, layout.kind)) is None:
            raise pa.ArrowInvalid("a line is no row")
        text = written
    if text.startswith(BYTE_ORDER_MARK):
        text = BYTE_ORDER_MARK + text  # Arrow removes a byte order mark, even in the middle of a file
    is_padded = layout.delimiter != " " and any(mark.encode() in text for mark in layout.padding)
    if is_padded and any(pair.encode() in text for mark in layout.padding for pair in (f'{mark}"', f'"{mark}')):
        # Arrow reads a quote as text unless the cell begins with one
        text = re.sub(CELL.format(layout.delimiter, layout.padding).encode(), rb"\1\2\3", text)
    try:
        return _read_cells(text, layout, is_padded, ROWS.types[2])
    except pa.ArrowInvalid:
        if labels is None and (layout.delimiter == " " or not FLAG.search(text)):
            raise
    return _read_cells(text, layout, is_padded, pa.string(), labels)


def _read_cells(
    text: bytes, layout: _Layout, is_padded: bool, type_of_value: pa.DataType, labels: Labels | None = None
) -> pa.Table:
    """Return rows as a table; values that are read as text may be labels or flags, and empty ones are missing."""
    columns = list(map(str, range(len(layout.names))))
    read = [columns[at] for at in layout.at]
    types = [pa.string() if is_padded else ROWS.types[0], ROWS.types[1], type_of_value]
    are_cells = layout.delimiter != " "
    table = pa.csv.read_csv(
        pa.BufferReader(text),
        read_options=pa.csv.ReadOptions(column_names=columns, block_size=len(text) + 1, use_threads=False),
        parse_options=pa.csv.ParseOptions(
            delimiter=layout.delimiter, quote_char='"' if layout.delimiter != " " and b'"' in text else False
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict(zip(read, types, strict=False)),
            include_columns=read,
            null_values=[""] if are_cells else [],
        ),
    )
    query, document, *value = table.columns
    if value and type_of_value == pa.string():
        cells = numerals(value[0], labels or Labels(()))
        value = [pc.if_else(pc.equal(cells, ""), None, cells).cast(pa.float64())]
    if is_padded:
        query, document = (pc.utf8_trim(ids, characters=layout.padding) for ids in (query, document))
    table = id_table(query, document, *value)
    if b'"' in text and len(table) != text.removesuffix(b"\n").count(b"\n") + 1:
        raise pa.ArrowInvalid("a cell goes on in the next line")
    return table


def _are_rows(text: bytes, layout: _Layout) -> bool:
    """Return whether all lines parse as rows with a value. Checking each line would take ten times as long."""
    try:
        return len(layout.at) > 2 and len(_parse_rows(text, layout, None)) > 0
    except pa.ArrowInvalid:
        return False


def _parseable(rows: list[bytes], layout: _Layout, labels: Labels | None) -> pa.Table:
    """Return the rows before the first that cannot be parsed."""
    good, bad = 0, len(rows) + 1  # rows[:good] can be parsed, rows[:bad] cannot
    table, middle = ROWS.empty_table(), len(rows)
    while bad - good > 1:
        try:
            table, good = _parse_rows(b"\n".join(rows[:middle]), layout, labels), middle
        except pa.ArrowInvalid:
            bad = middle
        middle = (good + bad) // 2
    return table


def _problem(rows: Sequence[bytes], layout: _Layout, labels: Labels | None) -> str:
    """Return the error in the first of these rows, which cannot be parsed."""
    if layout.is_letor:
        if as_qrels(rows[0], layout.kind) is None:
            return no_row(rows[0], layout.kind)
        rows = list(filter(None, (as_qrels(each, layout.kind) for each in rows[:SAMPLE])))
    text = rows[0].decode("utf-8", "surrogateescape")
    cells = text.split(layout.delimiter)
    if layout.delimiter != " " and '"' in text:
        if text.count('"') % 2:
            return "has a quoted cell that continues on the next line; put each row on a single line"
        cells = _cells(text, layout.delimiter)
    if len(cells) != len(layout.names):
        if any("\udc80" <= each <= "\udcff" for each in text):  # such as a picture
            return NOT_UTF_8
        asked = mark("swapped", said="; are the run and the qrels swapped?")
        swapped = asked if layout in OTHER_SIDE.get(len(cells), ()) else ""
        hint = f"; {RATINGS}" if "::" in text else swapped  # as MovieLens separates ratings
        return f"{len(cells)} column{'s' * (len(cells) > 1)}; {layout.words}{hint}"
    for name, at in zip(("query", "document"), layout.at, strict=False):
        if not cells[at].strip(" \t"):
            return f"has no {name}; give each row its id"
        try:
            cells[at].encode()
        except UnicodeEncodeError:
            return f"{name} {shown_cell(cells[at])} {NOT_UTF_8}"
    value = cells[layout.at[2]]
    fault = "is not finite"
    if not NUMBER.fullmatch(value.strip(" ").encode("utf-8", "surrogateescape")):
        seen = chain.from_iterable(_first_cells(rows[:SAMPLE], layout.delimiter, layout.at[2:]))
        fault = fault_of(value.strip(" "), layout.kind, labels, seen)
    return f"the {VALUE[layout.kind]} {shown_cell(value)} {fault}"


# ndcg/files/tables.py: Read tables in files: Parquet, Arrow, and folders of Parquet files.

BATCH = 1 << 16  # rows that are read at a time
FILE_IDS = ("text", "integers", "bytes")  # ids with one spelling as text; a date has many
TYPES_OF_NUMBERS = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_null,
)


class Source(NamedTuple):
    """A table in a file, or in a folder."""

    schema: pa.Schema
    batches: Callable[[Sequence[str] | None], Iterable[pa.RecordBatch]]  # all columns if None
    head: Callable[[], Mapping[str, Any]]  # the first row


def from_table(form: str, file: Any, request: ReadRequest) -> Iterator[FilePart]:
    """Yield the rows of a table; a row may be a query with lists of documents."""
    limits = request.limits
    is_bounded = limits.uncompressed is not None
    if form == "parquet":
        source, check_packed = _parquet(file, limits)
    elif form == "folder":
        source, check_packed = _folder(file), None
    elif is_bounded:
        raise ValueError("is an Arrow file, which does not say how much it unpacks to; give Parquet")
    else:
        source, check_packed = _arrow(form, file), None
    limits.check("columns", len(source.schema.names))
    chosen = _files_tables_chosen(source, request)
    if chosen is None:
        yield from _parts_of_objects(source, request)
        return
    if check_packed is not None:
        source = check_packed(list(chosen.values()))
    uncompressed = 0
    for batch in source.batches(list(chosen.values())):
        batch.validate(full=True)
        cells = [batch[name] for name in chosen.values()]
        if is_bounded:
            uncompressed += sum(map(_unpacked, cells))
            limits.check("uncompressed", uncompressed)
        yield _part_of_columns(cells, request)._replace(form="a table", fields=chosen)


# Sources


def _parquet(file: Any, limits: Limits) -> tuple[Source, Callable[[Sequence[str]], Source] | None]:
    """Return a file of Parquet, and a function that checks how much its columns unpack to."""
    from pyarrow import parquet as arrow_parquet  # only when it is needed: the import takes long

    is_bounded = limits.uncompressed is not None
    # Columns and groups of rows: more are a sign of a file that is made to be large.
    how = {"thrift_container_size_limit": BATCH} if is_bounded else {}
    parquet = arrow_parquet.ParquetFile(file, **how)
    limits.check("rows", parquet.metadata.num_rows)

    def source_of(parquet: Any) -> Source:
        def batches(names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
            yield from parquet.iter_batches(BATCH, columns=names)

        return Source(parquet.schema_arrow, batches, lambda: _first_row(parquet.iter_batches(1)))

    def checked(chosen: Sequence[str]) -> Source:
        _check_packed(parquet.metadata, chosen, limits)
        # Text that is stored once may belong to many rows, so it is unpacked only once.
        packed = arrow_parquet.ParquetFile(
            file, metadata=parquet.metadata, read_dictionary=list(chosen[:2])
        )
        return source_of(packed)

    return source_of(parquet), checked if is_bounded else None


def _folder(path: Any) -> Source:
    """Return the Parquet files of a folder, as Spark writes them, as one table."""
    from pyarrow import dataset as arrow_dataset  # only when it is needed

    folder = arrow_dataset.dataset(path, format="parquet")
    if not folder.files:
        raise IsADirectoryError(errno.EISDIR, "Is a directory without files of Parquet")
    head = lambda: _first_row(folder.head(1).to_batches())  # noqa: E731
    return Source(folder.schema, lambda names: folder.to_batches(columns=names), head)


def _arrow(form: str, file: Any) -> Source:
    """Return a file or a stream of Arrow, which is read once."""
    if form == "arrow":
        reader = pa.ipc.open_file(file)
        batches = map(reader.get_batch, range(reader.num_record_batches))
    else:
        reader = pa.ipc.open_stream(file)
        batches = iter(reader)
    known = list(islice(batches, 1))
    return Source(reader.schema, lambda _: chain(known, batches), lambda: _first_row(known))


def _first_row(batches: Iterable[pa.RecordBatch]) -> Mapping[str, Any]:
    """Return the first row of a table; nothing if it has none."""
    batch = next(iter(batches), None)
    if batch is None or not batch.num_rows:
        return {}
    row: dict[str, Any] = batch.slice(0, 1).to_pylist()[0]
    return row


def _check_packed(metadata: Any, chosen: Sequence[str], limits: Limits) -> None:
    """Raise an error for Parquet columns that exceed a limit when they are unpacked."""
    limits.check("columns", metadata.num_columns)
    chunks = []
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        columns = map(group.column, range(metadata.num_columns))
        chunks += [chunk for chunk in columns if chunk.path_in_schema in chosen]
    limits.check("uncompressed", sum(chunk.total_uncompressed_size for chunk in chunks))
    encodings = chain.from_iterable(chunk.encodings for chunk in chunks)
    if any(encoding.startswith("DELTA") and "BYTE" in encoding for encoding in encodings):
        problem = "holds ids as DELTA_BYTE_ARRAY, which may unpack to any size"
        raise ValueError(f"{problem}; use another encoding")


def _unpacked(column: pa.Array) -> int:
    """Return the number of bytes of a column; a dictionary counts as plain text."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary.cast(pa.string()))
    return pc.sum(lengths.take(column.indices)).as_py() or 0


# Columns


def _files_tables_chosen(source: Source, request: ReadRequest) -> dict[str, str] | None:
    """Return the column of each role; None if each row has lists or objects of documents.

    Raises:
        ValueError: a column is not clear, or one does not hold ids or numbers.
    """
    schema = source.schema
    refuse_repeated_names(schema.names)
    may_have_objects = request.limits.uncompressed is None
    there = "the table has the columns"
    try:
        columns = Fields.of_table(dict.fromkeys(schema.names))
        chosen = chosen_columns(columns, request.names, there)
    except UnknownFieldError:
        if may_have_objects and any(map(pa.types.is_nested, schema.types)):
            return None
        row = source.head()
        columns = Fields.of_table({name: row.get(name) for name in schema.names})
        chosen = chosen_columns(columns, request.names, there)
    if may_have_objects and pa.types.is_nested(schema.field(chosen["document"]).type):
        return None
    for role, name in chosen.items():
        _check_type(schema.field(name), role)
    return chosen


def _check_type(field: pa.Field, role: str) -> None:
    """Raise an error for a column that does not hold ids, or numbers."""
    kind = value_type(field.type)
    if role in ("query", "document"):
        if id_kind(kind) not in FILE_IDS and not pa.types.is_null(kind):
            problem = f"the column {field.name!r} holds {kind}"
            raise ValueError(f"{problem}; ids are text or integers, so convert it")
        return
    is_text = id_kind(kind) == "text"  # numbers, or labels
    if not is_text and not any(is_number(kind) for is_number in TYPES_OF_NUMBERS):
        problem = f"the column {field.name!r} holds {field.type}"
        raise ValueError(f"{problem}; it must hold numbers, so convert it")


def _part_of_columns(cells: Sequence[pa.Array], request: ReadRequest) -> FilePart:
    """Return the rows of a batch of columns: queries, documents and perhaps values."""
    names = request.names
    query, document = (column.cast(value_type(column.type)).cast(pa.string()) for column in cells[:2])
    values = [_numbers(column, names.labels) for column in cells[2:]]
    table = id_table(query, document, *values)
    seen = chain.from_iterable(column.to_pylist() for column in cells[2:])
    return checked_part(FilePart(table, len(table)), partial(_cells_of, cells), names, seen)


def _cells_of(cells: Sequence[pa.Array], row: int) -> list[Any]:
    return [column[row].as_py() for column in cells]


def _numbers(column: pa.Array, labels: Labels | None) -> pa.DoubleArray:
    """Return a column of numbers or labels, nan for other values and what float64 would round."""
    if id_kind(value_type(column.type)) == "text":
        column = numerals(column.cast(pa.string()), labels)
    try:
        if pa.types.is_decimal(value_type(column.type)):
            column = without_decimals(column)
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return floats(list(map(as_number, column.to_pylist())))


# Objects


def _parts_of_objects(source: Source, request: ReadRequest) -> Iterator[FilePart]:
    """Yield the rows of a table whose rows are objects, with lists or objects in them."""
    reader: ValueReader | None = None
    for batch in source.batches(None):
        batch.validate(full=True)
        rows = batch.to_pylist()
        if reader is None:
            reader = ValueReader(rows, "objects", request, "a table")
        yield reader.part_of_values(list(enumerate(rows)), len(rows))


# ndcg/files/reader.py: Read files of rankings as columns and mappings; the format is detected from the content.

JSON_BYTES = 5  # JSON takes this many times more memory as Python objects than as text
JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[\]\[{"])')
OTHERS_UNNAMED = "names a query, but the ones before it do not; name all or none"
OTHERS_NAMED = 'names no query; give each its "query_id"'


def read_columns(
    path: str | os.PathLike[str],
    kind: str,
    limits: Limits = NO_LIMITS,
    fields: Any = None,
    score_order: str = "descending",
    labels: Labels | None = None,
    keep: str | None = None,
    format: str | None = None,  # noqa: A002 - the name of the argument of `read_run`
) -> Columns:
    """Read a file; its errors name the file and the place.

    The kind is ``"run"``, ``"qrels"``, or ``"exclude"`` for ids alone, in which documents may be
    repeated or missing. Columns and fields have the names that `fields` gives, or else standard
    ones. In ascending order, ranks and distances are scores. Text in place of a relevance is one
    of the labels. A document with an empty or null value was not retrieved, or not judged.
    """
    path = os.fsdecode(path)
    names = names_of_side(kind, fields, score_order, labels, keep)
    request = ReadRequest(names, limits, check_format(format))
    parts: list[FilePart] = []
    # The pool is closed here and not by a generator, because after an error a generator may be
    # closed in any thread.
    with (
        naming_file(path),
        _opened(path, limits) as file,
        ThreadPoolExecutor(pa.cpu_count()) as pool,
    ):
        unit, file_parts = _file_parts(file, path, request, pool)
        rows = 0
        for part in _in_sequence(file_parts, unit):
            parts.append(part)
            rows += len(part.table)
            limits.check("rows", rows)
            if part.problem:
                break
        place = _place(parts, unit)
        columns = None
        if rows:
            columns = _joined(parts, request, pool)
            limits.check("queries", len(columns.query_ids))
            columns = checked_rows(columns, columns.present, names, place)
        if parts and parts[-1].problem:
            raise InputError(parts[-1].problem, place(rows))
        if columns is None and kind == "exclude":
            columns = _no_rows()
        if columns is None:
            kinds = "scores" if kind == "run" else "relevances"
            raise ValueError(f"holds no {kinds}; give at least one query with a document")
    notices = [part.notice for part in parts if part.notice]
    if notices:
        warn(f"{path}: {notices[0]}")
    return _described(columns, parts, path, place)


def _described(
    columns: Columns, parts: list[FilePart], path: str, place: Callable[[int], str]
) -> Columns:
    """Return columns with what is known of their file."""
    described = [part for part in parts if part.form]
    counts = dict.fromkeys(("query", "document"), 0)
    for part in parts:
        if part.counted:
            counts[part.counted] += part.total
    return columns._replace(
        present=None,
        place_of=lambda row: f"{of_file(path)}: {place(row)}",
        positions=counts["query"] or None,
        are_rows=counts["document"] > 0,
        form=described[0].form if described else "",
        fields=described[0].fields if described else {},
    )


def read_run(
    path: str | os.PathLike[str],
    limits: Limits = NO_LIMITS,
    score_order: str = "descending",
    *,
    duplicates: str = "raise",
    ties: str | None = None,
    fields: Any = None,
    format: str | None = None,  # noqa: A002 - as in other libraries
) -> dict[str, dict[str, float]]:
    """Return the scores of a run file: ``{query: {document: score}}``.

    Args:
        path: the file, in TREC or another format.
        limits: how much it may hold.
        score_order: with ``"ascending"``, a column of ranks or distances is read as scores, and
            ids without scores have their ranks; then score them with ``"ascending"`` too.
        duplicates: with ``"best"``, a document that a query lists several times has its best
            score, in the first such row, or in the last with ``ties="last"``.
        ties: as in `compute`, for `duplicates`.
        fields: the names of fields and columns, if they are not standard ones.
        format: ``"trec"``, ``"csv"``, ``"tsv"``, ``"json"``, ``"jsonl"``, ``"parquet"``,
            ``"arrow"`` or ``"letor"``; by default the content tells.

    Raises:
        ValueError: as in ``read_columns``.
        FileNotFoundError: there is no such file; this error is also a ValueError.
    """
    options = Options.parse(score_order=score_order, duplicates=duplicates, ties=ties)
    how = {**options.sides, "fields": fields, "format": format}
    columns = read_columns(path, "run", limits, **how)
    if columns.are_rows:
        problem = "has scores alone; give the file and that of LETOR to compute"
        raise InputError(problem, of_file(os.fsdecode(path)))
    return _mapping(columns)


def read_qrels(
    path: str | os.PathLike[str],
    limits: Limits = NO_LIMITS,
    *,
    gain: Any = None,
    fields: Any = None,
    format: str | None = None,  # noqa: A002 - as in other libraries
) -> dict[str, dict[str, Any]]:
    """Return the relevances in a qrels file: ``{query: {document: relevance}}``.

    They are integers if all are integers.

    Args:
        path: the file, in TREC or another format.
        limits: how much it may hold.
        gain: with ``{"relevant": 3, "no": 0}``, relevances may be these labels; score them with
            the same `gain`.
        fields: the names of fields and columns, if they are not standard ones.
        format: the format, as in `read_run`; by default the content tells.

    Raises:
        ValueError: as in ``read_columns``.
        FileNotFoundError: there is no such file; this error is also a ValueError.
    """
    labels = Options.parse(gain=gain).labels
    columns = read_columns(path, "qrels", limits, labels=labels, fields=fields, format=format)
    if labels is not None:
        words = {number: label for label, number in labels.as_numbers.gains}
        return {
            query: {document: words.get(value, value) for document, value in documents.items()}
            for query, documents in _mapping(columns).items()
        }
    are_whole = (columns.value == np.trunc(columns.value)).all()
    if are_whole and np.abs(columns.value).max() < 2**63:
        columns = columns._replace(value=columns.value.astype(np.int64))
    return _mapping(columns)


def _mapping(columns: Columns) -> dict[str, dict[str, Any]]:
    """Return rows as mappings by query."""
    order = np.argsort(columns.query, kind="stable")
    ends = np.cumsum(np.bincount(columns.query, minlength=len(columns.query_ids))).tolist()
    documents = columns.document.take(pa.array(order)).to_pylist()
    values = columns.value[order].tolist()
    starts = [0, *ends][: len(ends)]
    return {
        query: dict(zip(documents[start:end], values[start:end], strict=True))
        for query, start, end in zip(columns.query_ids.to_pylist(), starts, ends, strict=True)
    }


# Parts


def _opened(path: str, limits: Limits) -> AbstractContextManager[BinaryIO | None]:
    """Return an open file; None for a folder of files, if there are no limits."""
    if os.path.isdir(path) and limits == NO_LIMITS:
        return nullcontext()
    return open(path, "rb")


def _file_parts(
    file: BinaryIO | None, path: str, request: ReadRequest, pool: ThreadPoolExecutor
) -> tuple[str, Iterator[FilePart]]:
    """Return what to call a place in the file, and the file's parts."""
    unit_of_tables = "row {} (from 0)"
    limits = request.limits
    if file is None:
        return unit_of_tables, from_table("folder", path, request)
    stream, is_packed = unpacked_stream(file, limits)
    start = stream.peek(START)
    form = form_of(start, path, request.format)
    if form in TABLES.values():
        if is_packed or not file.seekable():
            return unit_of_tables, from_table(form, pa.BufferReader(stream.read()), request)
        limits.check("bytes", file.seek(0, os.SEEK_END))
        file.seek(0)
        return unit_of_tables, from_table(form, file, request)
    if start.startswith(BYTE_ORDER_MARK):
        stream.read(len(BYTE_ORDER_MARK))
    is_named = ".json" in os.path.basename(path).lower() or request.format is not None
    if form == "json" and (JSON.match(start) or is_named):
        if limits.uncompressed is not None:
            stream.limits = limits._replace(uncompressed=limits.uncompressed // JSON_BYTES)
        return from_json(stream, request, pool)
    return from_lines(stream, path, request, pool)


def _in_sequence(parts: Iterator[FilePart], unit: str) -> Iterator[FilePart]:
    """Yield the parts, with numbers over all parts as ids that their file lacks, or with an error.

    Either all queries have ids or none has, and the documents of a query are in one list.
    """
    first: dict[str, int] = {}
    before, ids, counted = 0, 0, None
    for part in parts:
        for query, number in part.lists:
            if query in first:
                raise _in_two_lists(query, first[query], before + number, unit)
            first[query] = before + number
        has_rows = part.total > 0 or len(part.table) > 0
        if has_rows and counted is None:
            counted = part.counted
        if has_rows and part.counted != counted:
            problem = OTHERS_NAMED if part.counted else OTHERS_UNNAMED
            part = part._replace(table=part.table[:0], problem=problem)
        elif part.total and counted:
            part = _numbered_on(part, counted, ids)
        before, ids = before + part.span, ids + part.total
        yield part


def _in_two_lists(query: str, first: int, again: int, unit: str) -> InputError:
    """Return the error for a query whose documents are in two lists."""
    there, here = unit.format(first), unit.format(again)
    words = f"is in {there} already" if there != here else "is there twice"
    return InputError(f"query {shown_cell(query)} {words}; give each query once", here)


def _numbered_on(part: FilePart, counted: str, before: int) -> FilePart:
    """Return a part with numbers as ids that go on after those of the parts before."""
    numbers = np.arange(part.total)
    if counted == "query":
        numbers = part.table["query"].cast(pa.string()).cast(pa.int64()).to_numpy()
    schema = part.table.schema
    column = pa.array(numbers + before).cast(pa.string()).cast(schema.field(counted).type)
    index = schema.get_field_index(counted)
    return part._replace(table=part.table.set_column(index, schema.field(counted), column))


def _joined(parts: list[FilePart], request: ReadRequest, pool: ThreadPoolExecutor) -> Columns:
    """Return the rows of all parts as columns."""
    table = pa.concat_tables([part.table for part in parts]).unify_dictionaries()
    query = np.concatenate([chunk.indices for chunk in table["query"].chunks], dtype=np.int64)
    ids, column = table["query"].chunk(0).dictionary, table["value"]
    present = None
    if column.null_count:
        present = column.is_valid().to_numpy()
        column = column.fill_null(0)
    values = column.to_numpy()
    if request.names.has_no_value or _have_no_values(parts, request):
        values, present = values_by_order(len(query), request.names), None
    hashes = np.empty(len(query), np.uint64)
    ends = np.cumsum([len(part.table) for part in parts]).tolist()

    def write_hashes(part: FilePart, end: int) -> None:
        hashes[end - len(part.table) : end] = hashes_of(part.table["document"])

    deque(pool.map(write_hashes, parts, ends), 0)
    return Columns(query, ids, table["document"], values, hashes, present=present)


def _have_no_values(parts: list[FilePart], request: ReadRequest) -> bool:
    """Return whether a table has the ids of queries and documents alone."""
    fields = next((part.fields for part in parts if part.fields), {})
    is_table = set(fields) == {"query", "document"} and request.names.kind != "exclude"
    return is_table and not any(part.lists for part in parts)


def _no_rows() -> Columns:
    """Return the columns of an empty file."""
    none = pa.array([], pa.string())  # made only when needed: making an array imports pandas
    ids = pa.chunked_array([none])
    return Columns(np.empty(0, np.int64), none, ids, np.empty(0), np.empty(0, np.uint64))


def _place(parts: list[FilePart], unit: str) -> Callable[[int], str]:
    """Return a function that describes the place of a row, or of the row after the last."""
    rows = np.cumsum([0, *(len(part.table) for part in parts)])
    first_rows = rows[: len(parts)].tolist()
    first_numbers = np.cumsum([0, *(part.span for part in parts)]).tolist()
    # The numbers of parts alone are kept, and not their tables, which are large.
    numbers_of_parts: list[NDArray[np.int64] | None] = [part.numbers for part in parts]

    def place(row: int) -> str:
        part = bisect_right(first_rows, row) - 1
        number = row - first_rows[part]
        numbers = numbers_of_parts[part]
        if numbers is not None:
            number = int(numbers[number])
        return unit.format(first_numbers[part] + number)

    return place


# ndcg/files/paths.py: Replace the paths of files, as arguments, by what the files hold.

def from_files(
    inputs: Inputs, score_order: str = "descending", labels: Labels | None = None, keep: str | None = None
) -> Inputs:
    """Replace paths of files of rankings by the contents of the files."""
    if not any(map(is_path, inputs[:5])):
        return inputs
    fields = inputs.names
    read: dict[str, Any] = {}
    unknown: dict[str, UnknownFieldError] = {}
    for name, side in inputs.rankings.items():
        try:
            read[name] = from_file(name, side, score_order, fields, labels, keep)
        except UnknownFieldError as error:
            unknown[name] = error
    if unknown:
        raise fields_unknown(unknown)
    run, qrels = read["predictions"], read["references"]
    are_files = is_path(inputs.predictions) and is_path(inputs.references)
    if are_files and os.fspath(inputs.predictions) == os.fspath(inputs.references):
        refuse_same_column("predictions", run, qrels)
    return inputs._replace(**read)


def from_file(
    argument: str,
    side: Any,
    score_order: str = "descending",
    fields: Any = None,
    labels: Labels | None = None,
    keep: str | None = None,
    qrels_file: Any = None,
) -> Any:
    """Return the contents of a file if an argument is its path; ids of rows are never in a file."""
    if not is_path(side) or argument in ("query_ids", "document_ids"):
        return side
    kind = {"references": "qrels", "exclude": "exclude"}.get(argument, "run")
    try:
        if argument == "by":
            return read_groups(os.fspath(side), qrels_file)
        how: dict[str, Any] = {"fields": fields, "score_order": score_order, "labels": labels, "keep": keep}
        return read_columns(os.path.expanduser(side), kind, **how)
    except FileError as error:
        if isinstance(side, str) and side.lstrip().startswith(("{", "[")):
            raise InputError("is JSON as text; give json.loads of it, or the path of a file", argument) from None
        error.argument = f"{argument}: "
        if isinstance(error, MissingFileError) and os.sep not in error.filename:
            error.strerror = f"{error.strerror}; if it names a column, give its DataFrame as data"
        raise
    except ValueError as error:
        raise within(error, argument) from None


def is_path(side: Any) -> bool:
    """Return whether an argument is the path of a file."""
    return type(side) not in (NoneType, list, dict) and isinstance(side, (str, os.PathLike))


# ndcg/measure/tensors.py: The measure of PyTorch tensors, computed on the device where they lie: the meaning of `measure_queries`.

TENSOR_BLOCK = 1 << 24  # documents per block: enough to keep a device busy, few enough to fit beside a model
TENSOR_PADDING = 1 << 18  # padding documents that are worth accepting for one block fewer


def measure_tensors(
    relevance: "Tensor",
    score: "Tensor",
    offsets: NDArray[np.int64] | None = None,
    *,
    judged: "Tensor | None" = None,
    retrieved: "Tensor | None" = None,
    measures: Sequence[str] = ("nDCG",),
    **options: Any,
) -> "dict[str, Tensor] | None":
    """Return the values of every query at every cutoff: for each measure float64 of shape ``(cutoffs, queries)``.

    The arguments are those of `measure_queries`, as tensors on one device except for the offsets. The gain may be a
    function of tensors; the discount is computed by NumPy.

    None means that only `measure_queries` can tell: a value is invalid, a sum may overflow, integer scores are too
    large for float64, a gain is no function of tensors, or there are no documents.
    """
    import torch

    if not score.numel() or (score.dtype == torch.int64 and ((score > 2**53) | (score < -(2**53))).any()):
        return None
    lengths = None if offsets is None else np.diff(offsets)
    queries, longest = score.shape if lengths is None else (len(lengths), int(lengths.max()))
    definition = MeasureDefinition.of(longest, measures=measures, **options)
    weight = torch.tensor(definition.weight.copy(), device=score.device)
    cutoffs = torch.tensor([k or longest for k in definition.cutoffs], device=score.device)
    within = (torch.arange(len(weight), device=score.device)[:, None] < cutoffs).double()
    values = {measure: weight.new_empty(len(cutoffs), queries) for measure in measures}
    with torch.no_grad():
        for rows, block in _measure_tensors_blocks(relevance, score, judged, retrieved, offsets=offsets):
            measured = _measure_tensors_measured(block, definition, {"CG": within, "DCG": within * weight[:, None]})
            if measured is None:
                return None
            for measure in measures:
                values[measure][:, rows] = measured[measure]
    return values


class _Rankings(NamedTuple):
    """A block of queries of the same length, or padded to it; every tensor is (queries, documents)."""

    relevance: "Tensor"  # 0 if not judged
    score: "Tensor"  # a float, -inf if not retrieved
    judged: "Tensor | None"  # None: all of them


def _measure_tensors_blocks(*sides: Any, offsets: NDArray[np.int64] | None) -> "Iterator[tuple[Any, _Rankings]]":
    """Yield the arguments of `measure_tensors` in blocks of queries, and where the results of each block go."""
    import torch

    score = sides[1]
    if offsets is None:
        step = max(1, TENSOR_BLOCK // score.shape[1])
        for first in range(0, len(score), step):
            rows = slice(first, first + step)
            yield rows, _measure_tensors_block(*(None if side is None else side[rows] for side in sides))
        return
    lengths = np.diff(offsets)
    for queries in similar_lengths(lengths, TENSOR_BLOCK, TENSOR_PADDING):
        of_block = np.stack([queries, offsets[queries], lengths[queries]])
        row, start, length = torch.tensor(of_block, device=score.device)
        position = torch.arange(max(int(lengths[queries[0]]), 1), device=score.device)
        index = (start[:, None] + position).clamp_(max=len(score) - 1)
        inside = position < length[:, None]
        masks = (inside if mask is None else inside & mask[index] for mask in sides[2:])
        yield row, _measure_tensors_block(*(side[index] for side in sides[:2]), *masks)


def _measure_tensors_block(relevance: Any, score: Any, judged: Any, retrieved: Any) -> _Rankings:
    """Return a block, without the values of documents that are not judged or not retrieved."""
    import torch

    relevance = relevance.byte() if relevance.dtype == torch.bool else relevance
    relevance = relevance if judged is None else relevance.where(judged, 0)
    score = score if score.is_floating_point() else score.double()
    return _Rankings(relevance, score if retrieved is None else score.masked_fill(~retrieved, -math.inf), judged)


def _measure_tensors_measured(
    block: _Rankings, definition: MeasureDefinition, weights: "Mapping[str, Tensor]"
) -> "dict[str, Tensor] | None":
    """Return the values of a block's queries; None if any value is invalid.

    The weights of CG and DCG are those of each rank, for every cutoff.
    """
    import torch

    relevance, score, _ = block
    ranks = min(len(weights["DCG"]), score.shape[1])
    if (values_and_gain := _by_gain(block, definition)) is None:
        return None
    values, gain_of = values_and_gain
    extremes = torch.stack(relevance.aminmax()).double()  # nan if any is
    lowest, highest = gain_of(torch.stack(values.aminmax()))
    # every sum, of any sign, is below this
    bound = torch.maximum(-lowest, highest) * max(score.shape[1], len(definition.weight))
    bound *= max(1.0, float(np.abs(definition.weight).max()))
    valid = extremes.isfinite().all() & (score.amax() < math.inf) & (bound < torch.finfo(torch.float64).max)
    if definition.negative_relevance == "raise":
        valid &= extremes[0] >= 0
    sums = {}
    if definition.needs("nDCG", "IDCG"):
        ideal = _ideal(block, values, gain_of, ranks, definition)
        whole = definition.ideal == "full"
        sums["IDCG"] = ideal[:, :1] * weights["DCG"].sum(0) if whole else ideal @ weights["DCG"][:ranks]
    if definition.needs("nDCG", "DCG", "CG"):
        ranked = _measure_tensors_ranked(score, values, gain_of, ranks, definition.ties, valid)
        if ranked is None:
            return None
        sums |= {name: ranked @ weights[name][:ranks] for name in ("CG", "DCG")}
    elif not valid:
        return None
    if "nDCG" in definition.measures:
        ratio = sums["DCG"] / sums["IDCG"]
        ratio = ratio.where(lowest < 0, ratio.clamp(max=1))  # only rounding makes it exceed 1
        empty: Any = definition.zero_division
        if isinstance(empty, str):  # perfect if nothing was retrieved, and there was nothing to find
            found = (score > -math.inf).any(1) | (gain_of(values.amax(1)) > 0)
            empty = (~found).double()[:, None]
        sums["nDCG"] = ratio.where(sign(definition.weight) * sums["IDCG"] > 0, empty)
    return {name: each.T for name, each in sums.items()}


# Gains


def _measure_tensors_exponential(relevance: "Tensor") -> "Tensor":
    """Return 2**r - 1, without losing digits for small r."""
    return (relevance.exp2() - 1).where(relevance.abs() >= 0.5, (relevance * math.log(2)).expm1())


TENSOR_GAINS: "dict[str, Callable[[Tensor], Tensor]]" = {
    "linear": lambda relevance: relevance,
    "exponential": _measure_tensors_exponential,
    "binary": lambda relevance: (relevance > 0).double(),
}


def _by_gain(block: _Rankings, definition: MeasureDefinition) -> "tuple[Tensor, Callable[[Tensor], Tensor]] | None":
    """Return a value of each document that rises with its gain, and the function from values to gains.

    A gain that is a word never falls as the relevance grows, so it is applied after sorting, to the few documents that
    count. By a list or a function, the values are the gains, NaN for labels without one. None is that of `_answer`.
    """
    import torch

    relevance, gain, clip = block.relevance, definition.gain, definition.negative_relevance == "clip"
    if isinstance(gain, str):
        of_word = TENSOR_GAINS[gain]
        return relevance, lambda values: of_word(values.double().clamp(min=0) if clip else values.double())
    labels = relevance.double().clamp(min=0) if clip else relevance.double()
    if callable(gain):
        answer = _measure_tensors_answer(gain, labels.reshape(-1))
        if answer is None:
            return None
        gains = answer.reshape(labels.shape)
    else:
        table = torch.tensor(np.asarray(gain, np.float64), device=labels.device)
        known = (labels >= 0) & (labels < len(table)) & (labels == labels.floor())
        gains = table[labels.where(known, 0).long()].where(known, math.nan)
    gains = gains.where(relevance >= 0, 0) if clip else gains
    return gains if block.judged is None else gains.where(block.judged, 0), torch.Tensor.double


def _measure_tensors_answer(function: Callable[[Any], Any], relevance: "Tensor") -> "Tensor | None":
    """Return what the user's function returns for relevances; None unless it is a tensor of as many numbers.

    One relevance is tried first, since a loop over all of them takes long on a device.
    """
    for given in (relevance[:1], relevance):
        try:
            answer = function(given.clone())
        except BaseException as error:  # noqa: BLE001 - whatever it raises, NumPy computes it, or says what is wrong
            raise_unless_of_values(error)
            return None
        if type(answer) is not type(given) or answer.shape != given.shape or answer.device != given.device:
            return None
    return None if answer.is_complex() else answer.double()


# Ranks


def _top(values: "Tensor", count: int) -> "tuple[Tensor, Tensor]":
    """Return the highest values in descending order, and their positions; NaN is the highest."""
    if 4 * count < values.shape[1]:
        return values.topk(count)
    highest, at = values.sort(descending=True)
    return highest[:, :count], at[:, :count]


def _ideal(
    block: _Rankings, values: "Tensor", gain_of: "Callable[[Tensor], Tensor]", ranks: int, definition: MeasureDefinition
) -> "Tensor":
    """Return the gain at ranks 1..``ranks`` in the ideal."""
    import torch

    score, counted = block.score, block.judged
    if definition.ideal == "retrieved":
        counted = score > -math.inf if counted is None else counted & (score > -math.inf)
    elif isinstance(definition.gain, str) and definition.negative_relevance != "keep":
        counted = None  # documents that are not judged have the lowest gain, 0
    if counted is not None:
        values = (values if values.is_floating_point() else values.double()).masked_fill(~counted, -math.inf)
    highest = _top(values, ranks)[0]
    ideal = gain_of(highest).where(highest > -math.inf, 0)
    if definition.ideal == "truncated":
        found = (score > -math.inf).sum(1, keepdim=True)
        ideal = ideal.where(torch.arange(ranks, device=score.device) < found, 0)
    return ideal


def _measure_tensors_ranked(
    score: "Tensor", values: "Tensor", gain_of: "Callable[[Tensor], Tensor]", ranks: int, ties: str, valid: "Tensor"
) -> "Tensor | None":
    """Return the gain at ranks 1..``ranks`` by descending score; None if values are not valid."""
    import torch

    if ties != "average":
        at = _measure_tensors_order(score, values, ties)[:, :ranks]
        gains = gain_of(values.gather(1, at)).where(score.gather(1, at) > -math.inf, 0)
        return gains if valid else None
    top, at = _top(score, min(ranks + 1, score.shape[1]))
    gains = gain_of(values.gather(1, at)).where(top > -math.inf, 0)
    falling = -top
    start = torch.searchsorted(falling, falling, out_int32=True)
    end = torch.searchsorted(falling, falling, out_int32=True, right=True)
    size = (end - start).where(top > -math.inf, 1)
    last = top[:, ranks - 1 : ranks]
    crosses = (top[:, ranks:] == last).any(1) & (last[:, 0] > -math.inf)  # a tie of the last rank and the next
    is_valid, largest, crossing = torch.stack([valid, size.max(), crosses.sum()]).tolist()  # the only wait
    if not is_valid:
        return None
    if largest > 1:
        gains = _mean_of_ties(gains, start, end, size, largest)
    gains = gains[:, :ranks]
    if crossing:
        rows = crosses.byte().topk(crossing).indices
        tied = score[rows] == last[rows]
        mean = gain_of(values[rows]).where(tied, 0).sum(1, keepdim=True) / tied.sum(1, keepdim=True)
        gains[rows] = mean.where(top[rows, :ranks] == last[rows], gains[rows])
    return gains


def _mean_of_ties(gains: "Tensor", start: "Tensor", end: "Tensor", size: "Tensor", largest: int) -> "Tensor":
    """Return for each document the mean gain of the documents with its score, which lie from ``start`` to ``end``.

    Sums from the start of a tie double their length in each step, so their order never depends on the device.
    """
    import torch

    position = torch.arange(gains.shape[1], device=gains.device, dtype=start.dtype) - start
    step = 1
    while step < largest:
        gains = torch.cat([gains[:, :step], gains[:, step:] + gains[:, :-step].where(position[:, step:] >= step, 0)], 1)
        step *= 2
    return gains.gather(1, (end - 1).long()) / size


def _measure_tensors_order(score: "Tensor", values: "Tensor", ties: str) -> "Tensor":
    """Return the positions of documents by descending score, with ties in the order of their positions or values."""
    score = score + 0.0  # no -0.0, which some devices rank below 0
    if ties == "first":
        return score.argsort(descending=True, stable=True)
    if ties == "last":
        return score.shape[1] - 1 - score.flip(1).argsort(descending=True, stable=True)
    order = values.argsort(descending=ties == "best", stable=True)
    return order.gather(1, score.gather(1, order).argsort(descending=True, stable=True))


# ndcg/scores/swapped.py: Warn about predictions and references that seem to be each other's.

COMPARED = 1000  # documents that tell whether both sides are swapped
LABELS_FIRST = "hold only 0 and 1, and the references fractions; the scores of a model are predictions"


def warn_if_swapped(score: NDArray[Any], relevance: NDArray[Any]) -> None:
    """Warn if the scores of documents are labels, 0 and 1, and their relevances are fractions, as scores are."""
    if not ((score == 0) | (score == 1)).all() or len(np.unique(score)) < 2:
        return
    if ((relevance >= 0) & (relevance <= 1)).all() and np.mean(relevance % 1 > 0) > 0.5:
        warn(f"{mark('predictions')}: {LABELS_FIRST}")


# ndcg/scores/devices.py: Score tensors on the accelerator where they lie.

ON_DEVICE_FROM = 1 << 16  # documents from which an accelerator is faster than copying them to the host
NARROW_TENSORS = ("float16", "bfloat16", "float32")  # scores that float32 represents exactly
INTEGER_TENSORS = ("uint8", "int8", "int16", "int32", "int64")
NUMBER_TENSORS = (*NARROW_TENSORS, *INTEGER_TENSORS, "float64", "bool")
ROW_OF_TABLE = 3  # columns of a table: a matrix with so few may be one, which the host refuses


class Placed(NamedTuple):
    """Rankings on an accelerator, as `measure_tensors` accepts them."""

    relevance: "Tensor"
    score: "Tensor"
    kept: "Tensor | None"  # False for padding; None if there is none
    offsets: NDArray[np.int64] | None = None  # as in `Rankings`; None for a row per query
    query_ids: "Tensor | None" = None  # the id of each query
    order: "Tensor | None" = None  # the queries in the order of their first rows

    def ranked(self) -> "Tensor":
        """Return which queries have a retrieved document."""
        retrieved = self.score > -np.inf if self.kept is None else (self.score > -np.inf) & self.kept
        if self.offsets is None:
            return retrieved.any(1)
        import torch

        until = torch.cat([retrieved.new_zeros(1), retrieved]).cumsum(0)
        until = until[torch.tensor(self.offsets, device=until.device)]
        return until[1:] > until[:-1]


def accelerator_of(values: Any) -> Any:
    """Return the accelerator on which a PyTorch tensor lies; None for anything else.

    Other accelerators than those of CUDA and ROCm may have no 64-bit floats.
    """
    torch = sys.modules.get("torch")
    if torch is None or type(values) is not torch.Tensor or values.layout != torch.strided or values.is_nested:
        return None
    return values.device if values.device.type == "cuda" else None


def measure_on_device(
    inputs: Inputs, options: Options, mask: Any = None, names: list[Any] | None = None
) -> dict[str, NDArray[np.float64]] | None:
    """Return the values of all queries under the name of each result; None if the host must compute them.

    The ids of queries are added to `names`. The mask is True or 1 for a document, False or 0 for padding.
    """
    sides = (inputs.predictions, inputs.references)
    given = [*sides, *(each for each in (inputs.query_ids, mask) if each is not None)]
    devices = set(map(accelerator_of, given))
    if len(devices) > 1 or None in devices or not _can_score(inputs, options, mask):
        return None
    import torch

    with suppress(torch.cuda.OutOfMemoryError), torch.no_grad():
        return _scores_devices_measured(_placed(*sides, inputs.query_ids, mask, options), options, names)
    return None


def _can_score(inputs: Inputs, options: Options, mask: Any) -> bool:
    """Return whether tensors on a device have a format and options that it can score."""
    score, relevance, query_ids, document_ids, exclude, *_ = inputs
    types = [_type(side) for side in (score, relevance)]
    if score.numel() < ON_DEVICE_FROM or document_ids is not None or exclude is not None:
        return False
    if not {*types} <= {*NUMBER_TENSORS}:
        return False
    if abs(options.ignore_index or 0) > 2**53 or options.ties == "docid":
        return False
    if options.score_dtype != "given" and types[0] not in NARROW_TENSORS:
        return False
    if options.score_order != "descending" and types[0] in (*INTEGER_TENSORS, "bool"):
        return False
    if mask is not None and (mask.shape != score.shape or _type(mask) not in NUMBER_TENSORS):
        return False
    if query_ids is None:
        are_integers = all(each in INTEGER_TENSORS for each in types)  # they may be ids, which the host refuses
        return score.ndim == 2 and score.shape == relevance.shape and score.shape[1] > ROW_OF_TABLE and not are_integers
    shapes = (query_ids.shape, (*query_ids.shape, 1))
    is_flat = query_ids.ndim == 1 and score.shape in shapes and relevance.shape in shapes
    return is_flat and mask is None and _type(query_ids) in INTEGER_TENSORS


def _type(values: Any) -> str:
    return str(values.dtype).removeprefix("torch.")


def _placed(score: Any, relevance: Any, query_ids: Any, mask: Any, options: Options) -> Placed | None:
    """Return the rankings of tensors; None if the mask is no mask."""
    if options.score_order != "descending":
        score = -score  # inf, of a document that was not retrieved, becomes -inf
    kept = None if mask is None else mask != 0
    if mask is not None and _type(mask) != "bool" and (kept & (mask != 1)).any():
        return None
    if query_ids is None:
        return Placed(relevance, score, _without_padding(relevance, kept, options.ignore_index))
    ids, order = query_ids.sort(stable=True)
    ids, lengths = ids.unique_consecutive(return_counts=True)
    score, relevance = score.reshape(-1)[order], relevance.reshape(-1)[order]
    kept = _without_padding(relevance, None, options.ignore_index)
    by_first_row = order[lengths.cumsum(0) - lengths].argsort()
    return Placed(relevance, score, kept, offsets_of(lengths.cpu().numpy()), ids, by_first_row)


def _without_padding(relevance: Any, kept: Any, ignore_index: float | None) -> Any:
    """Return a mask without the documents whose relevance is `ignore_index`, rounded to the type of the relevances."""
    if ignore_index is None:
        return kept
    import torch

    if relevance.dtype == torch.bool:
        relevance = relevance.byte()
    ignored = torch.tensor(ignore_index, dtype=torch.float64).to(relevance.dtype)
    if float(ignored) != ignore_index and not relevance.is_floating_point():
        return kept  # no integer of this type
    return relevance != ignored if kept is None else kept & (relevance != ignored)


def _scores_devices_measured(
    rankings: Placed | None, options: Options, names: list[Any] | None
) -> dict[str, NDArray[np.float64]] | None:
    """Return the values of queries, copied to the host; None as in `measure_on_device`."""
    import torch

    if rankings is None:
        return None
    relevance, score, kept, offsets, query_ids, order = rankings
    measured = measure_tensors(relevance, score, offsets, judged=kept, retrieved=kept, **options.scoring)
    if measured is None:
        return None
    found = torch.stack([measured[measure][row] for _, measure, row in options.results])
    if options.missing != "empty":
        ranked = rankings.ranked()
        if options.missing == "raise" and not ranked.all():
            return None
        found.masked_fill_(~ranked, np.nan)
    if order is not None:
        found = found[:, order]
        if names is not None and query_ids is not None:
            names += query_ids[order].tolist()
    warn_if_swapped(*(side.reshape(-1)[:COMPARED].double().cpu().numpy() for side in (score, relevance)))
    return dict(zip(options.names, found.cpu().numpy(), strict=True))


# ndcg/scores/queries.py: Compute the value of every query.

Values = dict[str, NDArray[np.float64]]
Notify = Callable[[str], None]  # called with `Rankings.unmatched` if no document was both retrieved and judged

OF_GAINS = ("gain", "negative_relevance")  # the arguments of the kernel that the gain of a document depends on
NOTHING_TO_SCORE = "predictions and references hold no queries; there is nothing to score"


def measure_inputs(inputs: Inputs, options: Options, first_query: int = 0, names: list[Any] | None = None) -> Values:
    """Return the values of all queries under the name of each result; errors count queries from `first_query` on.

    The ids of the queries are added to `names` if the weights are by these ids.
    """
    names = names if isinstance(inputs.sample_weight, Mapping) else None
    if (measured := measure_on_device(inputs, options, names=names)) is not None:
        return measured
    parts: list[list[NDArray[np.float64]]] = []
    with closing(counted_parts(inputs, options, first_query)) as rankings:
        for part, before in rankings:
            with user_terms(part, before):
                values = measure_rankings(part, options)
            if names is not None and part.query_ids is not None:
                names += part.names()
            parts.append([values[measure][row] for _, measure, row in options.results])
    columns = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    return dict(zip(options.names, columns, strict=True))


def measure_rankings(part: Rankings, options: Options, **other: Any) -> Values:
    """Return the values of each measure, of shape ``(cutoffs, queries)``: nan for a query that is skipped.

    Arguments of the kernel in `other` override the options.
    """
    measured = measure_queries(**part.arrays(), **{**options.scoring, **other})
    if options.missing == "skip":
        skipped = part.lacking()
        for values in measured.values():
            values[:, skipped] = np.nan
    return measured


def describe_queries(
    describe: Callable[[Rankings], dict[str, NDArray[Any]]],
    inputs: Inputs,
    options: Options,
    piece: int,
    notify: Notify,
) -> dict[str, NDArray[Any]]:
    """Return the columns that a function computes from pieces of the rankings, by name, with a row for each query.

    A piece has about `piece` documents. `notify` is called if no document was both retrieved and judged.
    """

    def in_user_terms(each: Rankings, before: int) -> dict[str, NDArray[Any]]:
        with user_terms(each, before):
            return describe(each)

    described: list[dict[str, NDArray[Any]]] = []
    with closing(counted_parts(inputs, options, notify=notify)) as rankings:
        for part, before in rankings:
            pieces = list(part.pieces(piece))
            starts = before + np.cumsum([0, *(each.queries for each in pieces[:-1])])
            described += in_threads(in_user_terms, pieces, starts.tolist())
    if len(described) == 1:
        return described[0]
    return {name: np.concatenate([each[name] for each in described]) for name in described[0]}


def warn_unmatched(unmatched: str) -> None:
    """Warn that no document was both retrieved and judged."""
    warn(f"{mark('predictions')}: {unmatched}")


def counted_parts(
    inputs: Inputs, options: Options, first_query: int = 0, notify: Notify = warn_unmatched
) -> Generator[tuple[Rankings, int], None, None]:
    """Yield rankings part by part, with the index of their first query; show a progress bar from the second on.

    Once all are scored, `notify` is called if no document was both retrieved and judged.
    """
    before, bar = 0, None
    unmatched: set[str] = set()
    with ExitStack() as until_done:
        inputs = from_files(inputs, **options.sides).settled(**options.sides)
        refuse_negative(inputs.references, inputs.exclude, options)
        for part in parts(inputs, first_query=first_query, **options.reading):
            if before and bar is None:
                total = inputs.predictions.shape[0] if is_sparse(inputs.predictions) else len(inputs.predictions)
                bar = until_done.enter_context(progress(total, "Scoring", " queries", initial=before))
            if not before:
                retrieved = part.retrieved
                rows = slice(COMPARED) if retrieved is None else np.flatnonzero(retrieved[:COMPARED])
                warn_if_swapped(part.score[rows], part.relevance[rows])
            if options.missing == "raise":
                refuse_missing(part, before)
            if part.unmatched is not None:
                unmatched.add(part.unmatched)
            yield part, first_query + before
            before += part.queries
            if bar is not None:
                bar.update(part.queries)
    if not before:
        raise ValueError(NOTHING_TO_SCORE)
    if first := min(unmatched, default=""):  # empty if any part has such a document
        notify(first)


def refuse_negative(references: Any, exclude: Any, options: Options) -> None:
    """Raise an error for the first row of a file or table with a negative relevance, unless the options allow it."""
    may_be_negative = options.scoring["negative_relevance"] != "raise"
    if not isinstance(references, Columns) or references.place_of is None or may_be_negative:
        return
    negative = references.value < 0
    if options.ignore_index is not None:
        negative &= references.value != options.ignore_index
    if negative.any() and exclude is not None and options.exclude_from == "both":
        negative &= ~are_excluded(references, exclude)
    for row in np.flatnonzero(negative)[:1].tolist():
        document, query = references.words(row)
        pair = f"query {query}, document {document}"
        problem = f"the relevance {references.value[row]:g} is negative"
        of_file = mark("file", said="references", after=": ")  # for those who need not know the name of the argument
        hint = hint_of_negative(references.value[negative])
        raise InputError(problem, f"{of_file}{references.place(row)}", pair, hint=hint)


def refuse_missing(rankings: Rankings, first_query: int = 0) -> None:
    """Raise an error for the first query that is missing from rankings, with the number of them."""
    missing = rankings.missing
    if not missing.any():
        return
    at = int(missing.argmax())
    query = f"query {first_query + at}" if rankings.place is None else rankings.place(at, None)
    empty, skip = mark("missing", "empty"), mark("missing", "skip")
    hint = f"{empty} counts such queries as having retrieved nothing, {skip} skips them"
    raise InputError(f"{query} is missing ({int(missing.sum())} such queries); {hint}", "predictions")


def checked_rankings(inputs: Inputs, **how: Any) -> Rankings:
    """Read rankings, also from files, and check that some combination of options could score them."""
    sides = {name: how[name] for name in ("score_order", "labels", "keep") if name in how}
    rankings = read(**from_files(inputs, **sides).rankings, **how)
    with user_terms(rankings):
        check_queries(**rankings.arrays())
    return rankings


def check_rows(inputs: Inputs, options: Options) -> None:
    """Check flat rows of queries that may have more rows elsewhere, for errors that no other row could correct."""
    rankings = read(**inputs.rankings, **options.reading)
    with user_terms(rankings):
        check_queries(**rankings.arrays(), **{name: options.scoring[name] for name in OF_GAINS})


@contextmanager
def user_terms(rankings: Rankings, first_query: int = 0) -> Iterator[None]:
    """Rewrite errors of the kernel with the user's names for queries and arguments.

    The first of the rankings' queries has the index `first_query` among all queries.
    """
    try:
        yield
    except InvalidRankingError as error:
        argument = {"relevance": "references", "score": "predictions"}[error.array]
        place, position = f"query {first_query + error.query}", error.position
        if rankings.place is not None:
            place, position = rankings.place(error.query, position), None
        raise InputError(error.problem, argument, place, position=position, hint=error.hint) from None


# ndcg/explanations/slip_terms.py: Slips: ways in which nDCG goes wrong, and their effect on a query.

Documents = Mapping[Any, float]


class Query(NamedTuple):
    """The input of a function that computes nDCG: one query."""

    run: Documents  # the score of each retrieved document
    qrels: Documents  # the relevance of each judged document
    k: int | None  # the cutoff; None for the whole list
    missing: bool = False  # whether the query is missing from the run, rather than having no documents there


Change = Callable[[Query], Query]
REMEMBERED_QUERIES = 100  # scores of more would fill the memory, one array for each definition


class Term(NamedTuple):
    """How a slip computes the DCG, or the value that it is divided by."""

    changes: tuple[Change, ...] = ()  # of the query, one after the other
    options: Mapping[str, Any] = {}  # of `compute`, in place of the convention's
    measure: str = ""  # in place of DCG or IDCG

    def over(self, other: "Term") -> "Term":
        """Return the two slips combined, the other one first."""
        options = {**other.options, **self.options}
        return Term((*other.changes, *self.changes), options, self.measure or other.measure)


UNCHANGED = Term()


class Slip(NamedTuple):
    """A way in which nDCG goes wrong."""

    name: str  # a few words for it
    meaning: str  # one sentence on the computation
    reports: tuple[int, str] = (0, "")  # how many are public, and one thread, `owner/repository#number` on GitHub
    both: Term = UNCHANGED  # how it computes both DCG and IDCG
    dcg: Term = UNCHANGED  # the DCG alone
    ideal: Term = UNCHANGED  # the IDCG alone
    # returns values from DCG and nDCG of queries; None for DCG / IDCG
    rule: Callable[[Sequence[Query], Floats, Floats], Floats] | None = None

    @property
    def is_option(self) -> bool:
        """Whether options of `compute` with plain values give the same result."""
        words = all(isinstance(value, (str, float, bool, int)) for value in self.both.options.values())
        return not self.both.changes and self.dcg == self.ideal == UNCHANGED and self.rule is None and words

    @property
    def reported(self) -> str:
        """A sentence with the number of reports and an example; empty if there are none."""
        number, thread = self.reports
        times = f"{number} times, for example" if number > 1 else "once,"
        return f" It was reported {times} in {thread}." if number else ""

    def over(self, other: "Slip") -> "Slip":
        """Return two slips as one, the other one first."""
        return Slip(
            f"{other.name}; {self.name}",
            f"{other.meaning} {self.meaning}",
            both=self.both.over(other.both),
            dcg=self.dcg.over(other.dcg),
            ideal=self.ideal.over(other.ideal),
            rule=self.rule or other.rule,
        )

    def scores(self, queries: "Queries", options: Mapping[str, Any]) -> Floats:
        """Return the value of each query by options of `compute`, such as a convention, with this slip."""
        if self.dcg == self.ideal == UNCHANGED and self.rule is None:
            return queries.scores(options, "nDCG", self.both)
        dcg = queries.scores(options, "DCG", self.dcg.over(self.both))
        if self.rule is not None:
            return self.rule(queries.changed(()), dcg, queries.scores(options, "nDCG", self.both))
        ideal = queries.scores(options, "IDCG", self.ideal.over(self.both))
        empty: Floats | float | str | None = {**options, **self.both.options}.get("zero_division")
        if not isinstance(empty, float):
            empty = Options.parse(k=1, **{**options, **self.both.options}).zero_division
        if isinstance(empty, str):  # 1 if nothing was retrieved
            empty = np.array([0.0 if query.run else 1.0 for query in queries.changed(self.both.changes)])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(ideal > 0, dcg / ideal, np.where(np.isnan(ideal), np.nan, empty))


class Queries:
    """Queries that are scored by many definitions: changed once for each change, and read once for each way of reading.

    >>> queries = Queries([Query({"a": 2, "b": 1}, {"b": 1}, 2)])
    >>> queries.scores({"convention": "sklearn"}).round(4).tolist()
    [0.6309]
    """

    def __init__(self, queries: Iterable[Query]) -> None:
        self._changed: dict[tuple[Change, ...], Sequence[Query]] = {(): list(queries)}
        self._read: dict[tuple[Any, ...], Rankings] = {}
        self._scores: dict[tuple[Any, ...], Floats] = {}
        self._tied: dict[tuple[Change, ...], Mask] = {}

    def changed(self, changes: tuple[Change, ...]) -> Sequence[Query]:
        """Apply changes to the queries, one after the other."""
        if changes not in self._changed:
            self._changed[changes] = [changes[-1](query) for query in self.changed(changes[:-1])]
        return self._changed[changes]

    def tied(self, changes: tuple[Change, ...]) -> Mask:
        """Return which queries have documents with equal scores after changes."""
        if changes not in self._tied:
            runs = [query.run.values() for query in self.changed(changes)]
            self._tied[changes] = np.array([len(set(run)) < len(run) for run in runs], bool)
        return self._tied[changes]

    def scores(self, options: Mapping[str, Any], measure: str = "nDCG", term: Term = UNCHANGED) -> Floats:
        """Return the value of each query, by its own cutoff; nan for a query that is excluded from the mean."""
        how = {**options, **term.options}
        definition = (term.measure or measure, term.changes)
        few = len(self.changed(())) <= REMEMBERED_QUERIES
        if not few or not all(isinstance(value, Hashable) for value in how.values()):  # a list of gains cannot be a key
            return self._scored(*definition, how)
        key = (*definition, *sorted(how.items()))
        if key not in self._scores:
            self._scores[key] = self._scored(*definition, how)
        return self._scores[key]

    def _scored(self, measure: str, changes: tuple[Change, ...], how: Mapping[str, Any]) -> Floats:
        """Return the value of each query after changes, by options."""
        queries = self.changed(changes)
        values = np.full(len(queries), np.nan)
        for k in {query.k for query in queries}:
            rows = [row for row, query in enumerate(queries) if query.k == k]
            cutoff = k
            if k is None and Options.parse(k=1, **how).ideal == "full":  # which is as long as the longest list then
                cutoff = max(1, *(len(side) for row in rows for side in queries[row][:2]))
            parsed = Options.parse(measures=measure, k=cutoff, **how)
            rankings = self.rankings(rows, changes, parsed)
            with user_terms(rankings):
                values[rows] = next(iter(measure_rankings(rankings, parsed).values()))[0]
        return values

    def rankings(self, rows: Sequence[int], changes: tuple[Change, ...], options: Options) -> Rankings:
        """Return some of the queries as rankings, after changes, as some options read them."""
        key = (changes, *rows, *options.reading.values())
        if key not in self._read:
            queries = self.changed(changes)
            run = {row: queries[row].run for row in rows if queries[row].run or not queries[row].missing}
            self._read[key] = read(run, {row: queries[row].qrels for row in rows}, **options.reading)
        return self._read[key]


def query_scores(queries: Sequence[Query], options: Mapping[str, Any], measure: str = "nDCG") -> Floats:
    """Return the value of each query by options of `compute`."""
    return Queries(queries).scores(options, measure)


def in_order(documents: Iterable[Any]) -> dict[Any, float]:
    """Return scores that fall by 1 from document to document.

    >>> in_order(["b", "a"])
    {'b': -1.0, 'a': -2.0}
    """
    return {document: -float(rank) for rank, document in enumerate(documents, start=1)}


def ranked(query: Query) -> list[Any]:
    """Return the documents of a run, best first; those with equal scores in their order."""
    return sorted(query.run, key=lambda document: -query.run[document])


def queries_by_ids(inputs: Inputs, names: Sequence[Any], k: int | None) -> Iterator[Query]:
    """Yield the queries of mappings or files in some order, with documents by their ids, in the order of the input."""
    run, qrels = (_documents_by_query(side) for side in inputs[:2])
    for name in names:
        yield Query(run.get(name, {}), qrels.get(name, {}), k, name not in run)


def have_ids(inputs: Inputs) -> bool:
    """Return whether both sides are mappings of scores or files, from which no document is excluded."""
    sides = inputs.predictions, inputs.references
    plain = all(
        isinstance(side, Columns)
        or (isinstance(side, Mapping) and all(isinstance(documents, Mapping) for documents in side.values()))
        for side in sides
    )
    return plain and inputs.exclude is None


def _documents_by_query(side: Any) -> dict[Any, dict[Any, float]]:
    if isinstance(side, Mapping):
        return {
            query: {each: float(value) for each, value in documents.items() if value is not None and value > -np.inf}
            for query, documents in side.items()
        }
    names = side.query_ids.to_pylist()
    documents: dict[Any, dict[Any, float]] = {name: {} for name in names}
    rows = zip(side.query.tolist(), side.document.to_pylist(), side.value.tolist(), strict=True)
    for query, document, value in rows:
        if value > -np.inf:
            documents[names[query]][document] = value
    return documents


def queries_of(rankings: Rankings, k: int | None) -> Iterator[Query]:
    """Yield the queries of rankings, with documents by their positions.

    >>> list(queries_of(Rankings(np.array([1, 0]), np.array([0.2, 0.9]), np.array([0, 2])), 10))
    [Query(run={0: 0.2, 1: 0.9}, qrels={0: 1, 1: 0}, k=10, missing=False)]
    """
    size = len(rankings.relevance)
    masks = rankings.judged, rankings.retrieved
    judged, retrieved = (np.ones(size, bool) if mask is None else mask for mask in masks)
    score, relevance = rankings.score.tolist(), rankings.relevance.tolist()
    for (start, end), missing in zip(pairwise(rankings.offsets.tolist()), rankings.lacking().tolist(), strict=True):
        rows = range(start, end)
        run = {row - start: score[row] for row in rows if retrieved[row] and score[row] > -np.inf}
        yield Query(run, {row - start: relevance[row] for row in rows if judged[row]}, k, missing)


# ndcg/explanations/slips.py: Every way in which nDCG is known to go wrong, as one table; docs/slips.md lists all public reports of each.

# Changes of a query, and terms with them


def _first_relevant(query: Query) -> Query:
    """Keep only the judgment of the first relevant document of the run, or of one that it misses."""
    relevant = [document for document in (*ranked(query), *query.qrels) if query.qrels.get(document, 0) > 0]
    return query._replace(qrels={each: query.qrels[each] for each in relevant[:1]})


def _places_in_truth(query: Query) -> Query:
    """Give each hit among the first k the rank that it has in the list of relevant documents."""
    top = set(ranked(query)[: query.k])
    truth = [document for document, relevance in query.qrels.items() if relevance > 0]
    run = in_order(document if document in top else _another(document) for document in truth)
    return query._replace(run=run)


def _with_last(query: Query) -> Query:
    below = min(query.run.values(), default=0.0) - 1
    return query._replace(run={**dict.fromkeys([*query.run, *query.qrels], below), **query.run})


def _another(document: Any) -> Any:
    """Return an id of the same kind that no document has."""
    return f"another {document}" if isinstance(document, str) else ~document


def _cut_at_length(query: Query) -> Query:
    """Cut at the length of the run, if that is shorter than the cutoff."""
    return query._replace(k=max(1, min(len(query.run), query.k or len(query.run))))


def _without_negative(query: Query) -> Query:
    kept = {document: score for document, score in query.run.items() if query.qrels.get(document, 0) >= 0}
    return query._replace(
        run=kept, qrels={each: relevance for each, relevance in query.qrels.items() if relevance >= 0}
    )


def _with(options: Mapping[str, Any] = {}, **changed: Callable[[Query], Any]) -> Term:  # never changed
    """Return a query with another run, other judgments or another cutoff."""
    return Term((lambda query: query._replace(**{name: of(query) for name, of in changed.items()}),), options)


def _with_scores(change: Callable[[Floats], Any]) -> Term:
    """Return scores that were changed together."""

    def changed(query: Query) -> Documents:
        with np.errstate(over="ignore"):
            scores = change(np.array(list(query.run.values()), np.float64)).tolist()
        return dict(zip(query.run, scores, strict=True))

    return _with(run=changed)


def _with_weights(option: str, of: Callable[[NDArray[np.float64]], Any]) -> Term:
    """Return another gain of relevances, or another discount of ranks."""
    return Term(options={option: lambda values: of(np.asarray(values, np.float64))})


def _zero_if(is_short: Callable[[Query, int], bool]) -> Callable[[Sequence[Query], Floats, Floats], Floats]:
    return lambda queries, dcg, ndcg: np.where(
        [query.k is not None and is_short(query, query.k) for query in queries], 0.0, ndcg
    )


def _rounded_to(decimals: int) -> Slip:
    return Slip(
        f"scores rounded to {decimals} decimals",
        f"Scores that agree to {decimals} decimals are tied, as in files that were written with so many.",
        both=_with_scores(lambda scores: scores.round(decimals)),
    )


def _in_bits(bits: int, kind: type[np.floating[Any]]) -> Slip:
    return Slip(
        f"scores rounded to {bits} bits",
        f"Scores that are equal in {bits} bits are tied, although they differ in 64.",
        both=_with_scores(lambda scores: np.clip(scores.astype(kind), np.finfo(kind).min, np.finfo(kind).max)),
    )


UNCUT = _with(k=lambda query: None)

# The table

# It takes ranked ids to make it, in which a document can be listed twice; other forms have no place for it.
DUPLICATES_COUNTED = Slip(
    "a document counted twice",
    "A document that is listed twice counts twice in the DCG and once in the ideal, so that scores exceed 1.",
    reports=(3, "deepset-ai/haystack#11959"),
)
IN_ORDER_OF_INPUT = Slip(
    "documents in the order of the input",
    "The scores are ignored: documents are ranked in the order in which they are listed.",
    reports=(3, "Arize-ai/phoenix#1869"),
    both=_with(run=lambda query: in_order(query.run)),
)
SWAPPED = Slip(
    "scores and relevance swapped",
    "The arguments are in the wrong order: scores are taken for relevance and relevance for scores.",
    reports=(2, "scikit-learn/scikit-learn#27726"),
    both=_with({"negative_relevance": "keep"}, run=lambda query: query.qrels, qrels=lambda query: query.run),
)
SLIPS = (
    Slip(
        "ideal from the top k retrieved",
        "The ideal is the best order of the k documents that were ranked first, not of all that were judged, so a run "
        "that finds one of many relevant documents can score 1.",
        reports=(16, "OpenBMB/ToolBench#184"),
        ideal=_with(qrels=lambda query: {each: query.qrels.get(each, 0) for each in ranked(query)[: query.k]}),
    ),
    Slip(
        "ideal from all that was retrieved",
        "The ideal is the best order of the retrieved documents, so relevant documents that the run misses cost "
        "nothing.",
        reports=(3, "o19s/search-metrics#3"),
        both=Term(options={"ideal": "retrieved"}),
    ),
    Slip(
        "exponential gain",
        "The gain is 2^r - 1, so that documents of a high grade count more.",
        reports=(3, "Georgetown-IR-Lab/OpenNIR#14"),
        both=Term(options={"gain": "exponential"}),
    ),
    Slip(
        "linear gain",
        "The gain is the relevance r.",
        reports=(1, "Georgetown-IR-Lab/OpenNIR#14"),
        both=Term(options={"gain": "linear"}),
    ),
    Slip(
        "ideal not cut at k",
        "The DCG counts the first k ranks and the ideal all of them, so that a perfect ranking scores less than 1.",
        reports=(6, "lenskit/lenskit#869"),
        ideal=UNCUT,
    ),
    Slip(
        "ideal of k relevant documents",
        "The ideal has the query's highest gain at every rank up to k, even if fewer documents are relevant, so that "
        "queries with few relevant documents cannot reach 1.",
        reports=(5, "datawhalechina/torch-rechub#45"),
        both=Term(options={"ideal": "full"}),
    ),
    Slip(
        "ideal of as many relevant documents as were retrieved",
        "The ideal has the query's highest gain at every rank of the result list up to k, even if fewer documents are "
        "relevant, so that long result lists cannot reach 1.",
        ideal=Term((_cut_at_length,), {"ideal": "full"}),
    ),
    Slip(
        "equal weights at ranks 1 and 2",
        "The discount is 1 / log2(i) from rank 2 on, so ranks 1 and 2 weigh the same.",
        reports=(5, "OpenAgentHQ/openagent-eval#223"),
        both=Term(options={"discount": "jarvelin", "log_base": 2}),
    ),
    Slip(
        "ties by document id",
        "Documents with equal scores are ordered by their ids, the highest first, so the names of documents decide.",
        reports=(3, "usnistgov/trec_eval#22"),
        both=Term(options={"ties": "docid"}),
    ),
    Slip(
        "ideal cut at the length of the result list",
        "The ideal has as many documents as were retrieved, so a short result list is not penalized for the documents "
        "that it omits.",
        reports=(4, "mlflow/mlflow#24541"),
        both=Term(options={"ideal": "truncated"}),
    ),
    Slip(
        "graded relevance read as 0 or 1",
        "Every relevant document has the gain 1, so that it does not matter whether the best ones rank first.",
        reports=(4, "recommenders-team/recommenders#1749"),
        both=Term(options={"gain": "binary"}),
    ),
    Slip(
        "unjudged documents removed",
        "Documents without a judgment are taken out before ranking, so those below them move up.",
        reports=(4, "github/CodeSearchNet#226"),
        both=Term(options={"judged_only": True}),
    ),
    Slip(
        "ties in the order of the input",
        "Documents with equal scores stay in the order of the input, so sorting a file differently changes the score.",
        reports=(4, "dmlc/xgboost#3050"),
        both=Term(options={"ties": "first"}),
    ),
    Slip(
        "ties in the reverse order of the input",
        "Of documents with equal scores the last in the input ranks first, as a reversed ascending sort leaves them.",
        both=Term(options={"ties": "last"}),
    ),
    Slip(
        "ties by ascending document id",
        "Documents with equal scores are ordered by their ids, the lowest first, so the names of documents decide.",
        both=_with(run=lambda query: {each: query.run[each] for each in sorted(query.run)}, options={"ties": "first"}),
    ),
    Slip(
        "ties in the model's favor",
        "Documents with equal scores are ordered by relevance, so a model that gives all documents the same score is "
        "perfect.",
        reports=(2, "elixir-nx/scholar#360"),
        both=Term(options={"ties": "best"}),
    ),
    Slip(
        "no relevant documents scored 1",
        "A query with no relevant documents scores 1 and raises the mean.",
        reports=(4, "catboost/benchmarks#19"),
        both=Term(options={"zero_division": 1.0}),
    ),
    Slip(
        "no relevant documents scored 0",
        "A query with no relevant documents scores 0 and lowers the mean.",
        reports=(2, "scikit-learn/scikit-learn#29521"),
        both=Term(options={"zero_division": 0.0}),
    ),
    Slip(
        "no relevant documents skipped",
        "A query with no relevant documents has no value, so it counts in no mean.",
        reports=(3, "joaopalotti/trectools#25"),
        both=Term(options={"zero_division": float("nan")}),
    ),
    Slip(
        "discount from the place in the truth",
        "The discount of a hit comes from its place in the list of relevant documents, not from its rank in the run.",
        reports=(3, "THUDM/ComiRec#6"),
        dcg=Term((_places_in_truth,)),
    ),
    Slip(
        "DCG with binary gain, ideal with graded gain",
        "The DCG has gains of 0 and 1, the ideal has graded gains, so that a perfect ranking scores less than 1.",
        reports=(1, "RapidFireAI/rapidfireai#261"),
        dcg=Term(options={"gain": "binary"}),
    ),
    Slip(
        "ideal with binary gain, DCG with graded gain",
        "The ideal has gains of 0 and 1, the DCG has graded gains, so that scores exceed 1.",
        reports=(1, "SeaseLtd/rated-ranking-evaluator#71"),
        ideal=Term(options={"gain": "binary"}),
    ),
    IN_ORDER_OF_INPUT,
    Slip(
        "ascending order",
        "The lowest score ranks first, as distances do.",
        both=_with(run=lambda query: {each: -score for each, score in query.run.items()}),
    ),
    Slip(
        "ranks used as scores",
        "The rank of each document is taken for its score, so the last one ranks first.",
        both=_with(run=lambda query: {each: float(rank) for rank, each in enumerate(ranked(query), start=1)}),
    ),
    _in_bits(16, np.float16),
    _in_bits(32, np.float32),
    *(_rounded_to(decimals) for decimals in range(2, 7)),
    SWAPPED,
    Slip(
        "unretrieved documents with the score 0",
        "Judged documents that were not retrieved take part with the score 0, above documents with negative scores.",
        reports=(2, "mlflow/mlflow#24553"),
        both=_with(run=lambda query: {**dict.fromkeys([*query.run, *query.qrels], 0.0), **query.run}),
    ),
    Slip(
        "documents with the score 0 not retrieved",
        "A score of 0 is read as no score, so such documents have no rank.",
        both=_with(run=lambda query: {each: score for each, score in query.run.items() if score != 0}),
    ),
    Slip(
        "unretrieved documents ranked last",
        "Judged documents that were not retrieved take ranks at the end of the list.",
        both=Term((_with_last,)),
    ),
    Slip(
        "ideal in the order of the run",
        "The ideal is computed in the order of the run, so the score is always 1.",
        reports=(1, "maciejkula/rustlearn#52"),
        ideal=Term(measure="DCG"),
    ),
    Slip(
        "ideal in the order of the qrels",
        "The ideal is not sorted: it is the DCG of the judgments as they are listed.",
        reports=(1, "xuehaiping/CSCE670_NCF#20"),
        ideal=_with(run=lambda query: in_order(query.qrels))._replace(measure="DCG"),
    ),
    Slip(
        "judgments counted twice in the ideal",
        "Every judgment takes two ranks of the ideal, as if the qrels were read twice.",
        reports=(1, "joaopalotti/trectools#52"),
        ideal=_with(
            qrels=lambda query: {**query.qrels, **{_another(each): value for each, value in query.qrels.items()}}
        ),
    ),
    Slip(
        "DCG one rank too deep",
        "The DCG begins with the discount of rank 2, the ideal with the discount of rank 1.",
        reports=(1, "yihong-chen/neural-collaborative-filtering#2"),
        dcg=_with_weights("discount", lambda rank: 1 / np.log2(rank + 2)),
    ),
    Slip(
        "discount begins at rank 2",
        "The discount is 1 / log2(i + 2) with ranks from 1, in the DCG and in the ideal.",
        both=_with_weights("discount", lambda rank: 1 / np.log2(rank + 2)),
    ),
    Slip(
        "no discount",
        "Every rank counts the same.",
        reports=(1, "RUCAIBox/RecBole#120"),
        both=_with_weights("discount", np.ones_like),
    ),
    Slip(
        "discount 1 / rank",
        "The gain is divided by the rank instead of its logarithm.",
        both=Term(options={"discount": "reciprocal"}),
    ),
    Slip(
        "discount without a logarithm's base",
        "The discount is 1 / (1 + ln i) instead of 1 / log2(i + 1).",
        both=_with_weights("discount", lambda rank: 1 / (1 + np.log(rank))),
    ),
    Slip(
        "gain 2^r",
        "The gain is 2^r without the - 1, so that irrelevant documents also count.",
        both=_with_weights("gain", np.exp2),
    ),
    Slip(
        "gain 2^r, also of unjudged documents",
        "The gain is 2^r without the - 1, and documents without a judgment have the relevance 0, so they count 1.",
        both=_with_weights("gain", np.exp2),
        dcg=_with(qrels=lambda query: {**dict.fromkeys(query.run, 0), **query.qrels}),
    ),
    Slip("gain r^2", "The gain is the square of the relevance.", both=_with_weights("gain", np.square)),
    Slip(
        "DCG not cut at k",
        "The DCG counts the whole list and the ideal the first k ranks, so that scores exceed 1.",
        reports=(1, "lenskit/lkpy#309"),
        dcg=UNCUT,
    ),
    Slip("nothing cut at k", "The cutoff has no effect.", reports=(1, "Lightning-AI/torchmetrics#1952"), both=UNCUT),
    Slip(
        "cutoff one rank too deep", "The first k + 1 ranks count.", both=_with(k=lambda query: query.k and query.k + 1)
    ),
    Slip(
        "cutoff one rank too short",
        "The first k - 1 ranks count.",
        both=_with(k=lambda query: query.k and max(query.k - 1, 1)),
    ),
    Slip(
        "run cut at k before everything else",
        "Only the first k documents are kept; the ideal, and everything else that depends on the retrieved documents, "
        "is computed from them.",
        both=_with(run=lambda query: {each: query.run[each] for each in ranked(query)[: query.k]}),
    ),
    Slip(
        "only the first relevant document",
        "The score is the discount of the first relevant document that was retrieved; all others count nothing.",
        both=Term((_first_relevant,)),
    ),
    Slip(
        "DCG of the first relevant document only",
        "The DCG ends with the first relevant document, the ideal counts all of them.",
        dcg=Term((_first_relevant,)),
    ),
    Slip("DCG called nDCG", "The DCG is not divided by the ideal.", rule=lambda queries, dcg, ndcg: dcg),
    Slip(
        "0 if lists are shorter than k",
        "A query with fewer than k documents retrieved and judged scores 0.",
        reports=(1, "jongwook/spark-ranking-metrics#2"),
        rule=_zero_if(lambda query, k: max(len(query.run), len(query.qrels)) < k),
    ),
    Slip(
        "0 until k documents are judged",
        "A query with fewer than k judgments scores 0.",
        reports=(1, "o19s/quepid#234"),
        rule=_zero_if(lambda query, k: len(query.qrels) < k),
    ),
    Slip(
        "negative relevance removed",
        "Documents with a negative relevance are taken out, so those below them move up.",
        reports=(1, "tensorflow/ranking#40"),
        both=Term((_without_negative,)),
    ),
)


def slip_named(name: str) -> Slip:
    """Return a slip of the table."""
    return next(slip for slip in SLIPS if slip.name == name)


# ndcg/explanations/definitions.py: The definitions of nDCG that explain the answers of a function: conventions, known slips, and constant factors.

VISIBLE = 1e-4  # the least difference that a reader sees
FIRST_ORDERED = 4
MOST_ARRANGEMENTS = 150  # of the tied documents of a ranking
BASES = {2.0: "2", math.e: "e", 10.0: "10"}
FACTORS = {100.0: "The scores are percentages."} | {
    math.log(a) / math.log(b): f"The logarithm has base {BASES[a]} in the DCG and {BASES[b]} in the ideal."
    for a, b in permutations(BASES, 2)
}


class Match(NamedTuple):
    """A definition with which all answers agree.

    Attributes:
        convention: its name.
        slips: the names of the slips on it; empty for the convention itself.
        factor: the factor by which all scores are multiplied.
    """

    convention: str
    slips: tuple[str, ...] = ()
    factor: float = 1.0


class Answers(NamedTuple):
    """The answers of a function."""

    queries: Queries
    values: Floats  # two answers for each, of shape (2, rankings)
    plain: Mask  # which rankings have neither ties nor close scores
    close: Mask  # which have close scores
    tolerance: float  # how far an answer may differ from the value that it was rounded from

    def agree(self, expected: Floats) -> Mask:
        """Return which answers agree with the values of a definition; both answers must."""
        first, second = np.isclose(self.values, expected, rtol=0, atol=self.tolerance, equal_nan=True)
        both: Mask = first & second
        return both


class Definition(NamedTuple):
    """Options and slips, whatever the order of ties and the value of queries with nothing relevant."""

    options: Mapping[str, Any]  # the gain, the discount, the ideal, and whether only judged documents count
    slips: tuple[Slip, ...] = ()  # the slips, the first one first

    def scores(self, queries: Queries, precision: Slip | None = None, order: Slip | None = None) -> Floats:
        """Return the value of each query, nan if its ideal DCG is 0, by a precision of scores and an order of ties."""
        before = None if ASCENDING_ORDER in self.slips else order  # which reverses it
        changes = [each for each in (precision, before, *self.slips, order) if each is not None]
        together = reduce(lambda done, slip: slip.over(done), changes, Slip("", ""))
        return together.scores(queries, {**self.options, "zero_division": math.nan, "negative_relevance": "keep"})

    def tied(self, queries: Queries) -> Mask:
        """Return which queries have ties, before or after the slips."""
        changes = tuple(change for slip in self.slips for change in (*slip.both.changes, *slip.dcg.changes))
        return queries.tied(()) | queries.tied(changes)


class Empty(NamedTuple):
    """The value of a query with nothing relevant."""

    value: float | str  # the value, as in `zero_division`
    factor: float

    def fill(self, expected: Floats, queries: Sequence[Query]) -> Floats:
        """Return values in which this one replaces nan."""
        value: Any = self.value
        if isinstance(value, str):
            value = [not query.run and not any(each > 0 for each in query.qrels.values()) for query in queries]
        return np.where(np.isnan(expected), self.factor * np.asarray(value), expected)


class Fit(NamedTuple):
    """A definition that explains the answers."""

    definition: Definition
    factor: float  # of its values
    # the values of queries with nothing relevant, orders of ties and precisions of scores that agree; empty words for
    # an order or a precision that no ranking shows, or an order that is not fixed
    choices: Sequence[tuple[float | str, str, str]]
    unordered: int = 0  # the number of rankings with ties that no single order explains


# Orders of tied documents


def _in_order(query: Query, documents: Iterable[Any]) -> Query:
    """Return a ranking in which documents with equal scores differ in the last digit, in an order."""
    if len(set(query.run.values())) == len(query.run):
        return query
    run, last = dict(query.run), math.inf
    for document in sorted(documents, key=lambda each: -query.run[each]):
        run[document] = last = min(run[document], math.nextafter(last, -math.inf))
    return query._replace(run=run)


def _explanations_definitions_order(of: Callable[[Query], Iterable[Any]]) -> Slip:
    return Slip("", "", both=Term((lambda query: _in_order(query, of(query)),)))


ORDERS: dict[str, Slip | None] = {
    "first": _explanations_definitions_order(lambda query: query.run),
    "last": _explanations_definitions_order(lambda query: reversed(list(query.run))),
    "docid": _explanations_definitions_order(lambda query: sorted(query.run, reverse=True)),
    "ascending": _explanations_definitions_order(lambda query: sorted(query.run)),
    "best": _explanations_definitions_order(lambda query: sorted(query.run, key=lambda each: -query.qrels.get(each, 0))),
    "worst": _explanations_definitions_order(lambda query: sorted(query.run, key=lambda each: query.qrels.get(each, 0))),
    "average": None,
}


def _arrangements(query: Query) -> list[Query]:
    """Return a ranking with its tied documents in each order that may change its score; none if there are too many.

    >>> [list(each.run.values()) for each in _arrangements(Query({"a": 1.0, "b": 1.0}, {"b": 1}, None))]
    [[0.9999999999999999, 1.0], [1.0, 0.9999999999999999]]
    """
    by_score, groups, count = sorted(query.run, key=lambda each: -query.run[each]), [], 1
    for _, tied in groupby(by_score, key=lambda each: query.run[each]):
        group = list(tied)
        relevant = [each for each in group if query.qrels.get(each, 0) > 0]
        count *= math.perm(len(group), len(relevant))
        groups.append((relevant, [each for each in group if each not in relevant]))
    if count > MOST_ARRANGEMENTS:
        return []
    orders = product(*(list(_orders_of(*group)) for group in groups))
    return [_in_order(query, [document for group in order for document in group]) for order in orders]


def _orders_of(relevant: Sequence[Any], others: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the orders of documents that differ in the ranks of relevant ones."""
    size = len(relevant) + len(others)
    for ranks in permutations(range(size), len(relevant)):
        at, rest = dict(zip(ranks, relevant, strict=True)), iter(others)
        yield [at[rank] if rank in at else next(rest) for rank in range(size)]


# Definitions to try

ASCENDING_ORDER = slip_named("ascending order")
IN_32_BITS, ASCENDING = "scores rounded to 32 bits", "ties by ascending document id"
PRECISIONS: dict[str, Slip | None] = {
    "given": None,
    "float32": slip_named(IN_32_BITS),
    **{slip.name: slip for slip in SLIPS if slip.name.startswith("scores rounded") and slip.name != IN_32_BITS},
}
SLIP_OF_OPTION = {  # of values that conventions have, or that are an order or a precision here
    **{(name, str(value)): slip.name for slip in SLIPS if slip.is_option for name, value in slip.both.options.items()},
    **{("score_dtype", name): slip.name for name, slip in PRECISIONS.items() if slip is not None},
    ("ties", "ascending"): ASCENDING,
}
OTHER_SLIPS = [  # than options, orders and precisions; no ranking has a negative relevance
    slip
    for slip in SLIPS
    if not slip.is_option
    and slip not in (*PRECISIONS.values(), SWAPPED)  # a function may take the relevance first
    and slip.name not in (ASCENDING, "negative relevance removed")
]


def _options(**values: Iterable[Any]) -> list[dict[str, Any]]:
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


GRID = _options(gain=GAINS, discount=DISCOUNTS, ideal=IDEALS, judged_only=(False, True))
OF_CONVENTIONS = [
    options
    for options in GRID
    if any(options.items() <= {**each.options, "judged_only": False}.items() for each in CONVENTIONS.values())
]


@cache
def usual_definitions() -> list[Definition]:
    """Return combinations of options, and each slip on the options of each convention."""
    slips = [Definition(options, (slip,)) for slip in OTHER_SLIPS for options in OF_CONVENTIONS]
    return [*map(Definition, GRID), *slips]


@cache
def rare_definitions() -> list[Definition]:
    """Return each slip on options that differ in one from those of a convention, and two slips at once."""
    one_off = [
        options for options in GRID if min(sum(options[name] != of[name] for name in of) for of in OF_CONVENTIONS) == 1
    ]
    gains = [options for options in OF_CONVENTIONS if (options["discount"], options["ideal"]) == ("log", "judged")]
    pairs = [Definition(options, pair) for pair in combinations(OTHER_SLIPS, 2) for options in gains]
    return [*(Definition(options, (slip,)) for options in one_off for slip in OTHER_SLIPS), *pairs]


# Comparison


def explain_answers(answers: Answers, first: Answers) -> tuple[list[Match], int]:
    """Return the definitions with the fewest slips that explain answers, and how many rankings with ties no order does.

    The first answers, to rankings without ties, rule out most definitions.
    """
    stages = [*product((usual_definitions, rare_definitions), (False, True))]
    for definitions, scaled in tracked(stages, "Comparing", " sets of definitions"):
        factors, known, agree = compared(definitions, first, scaled=scaled)
        rows = np.flatnonzero((agree == known).all(axis=1) & np.isfinite(factors)).tolist()
        if fits := list(_fits([(definitions()[row], float(factors[row])) for row in rows], answers)):
            unordered = min(fit.unordered for fit in fits)
            return _named([fit for fit in fits if fit.unordered == unordered]), unordered
    return [], 0


@lru_cache(maxsize=16)
def expected_values(definitions: Callable[[], Sequence[Definition]], queries: Queries) -> Floats:
    """Return the value of each query by each definition, nan if ties or a query with nothing relevant decide it."""
    return np.array(
        [np.where(definition.tied(queries), np.nan, definition.scores(queries)) for definition in definitions()]
    )


def factors_of(values: Floats, expected: Floats, tolerance: float) -> Floats:
    """Return the factor by which values differ from those of each definition; nan if there is none.

    >>> factors_of(np.array([69.3, 100]), np.array([[0.693, 1], [1, 0.5]]), 0.05).tolist()
    [100.0, nan]
    """
    known = np.isfinite(expected) & np.isfinite(values)
    of = np.where(known, expected, 0)
    with np.errstate(all="ignore"):
        factors = (of * np.where(known, values, 0)).sum(axis=1) / (of**2).sum(axis=1)
    exact = tolerance <= VISIBLE
    for factor in FACTORS:
        factors[np.abs(factors / factor - 1) < (VISIBLE if exact else 0.02)] = factor
    usable = (factors > VISIBLE) & (np.abs(factors - 1) > VISIBLE) & (exact | np.isin(factors, list(FACTORS)))
    return np.where(usable, factors, np.nan)


def compared(
    definitions: Callable[[], Sequence[Definition]], first: Answers, *, scaled: bool
) -> tuple[Floats, Mask, Mask]:
    """Compare answers with definitions, one in each row, whose values may differ by a factor if they are scaled.

    Returns:
        The factors, which of the values are known and have an answer without ties, and which of these agree.
    """
    expected, values = expected_values(definitions, first.queries), first.values[0]
    factors = factors_of(values, expected, first.tolerance) if scaled else np.ones(len(expected))
    known = np.isfinite(expected) & first.plain
    return factors, known, known & (np.abs(values - factors[:, None] * expected) <= first.tolerance)


def _fits(screened: Iterable[tuple[Definition, float]], answers: Answers) -> Iterator[Fit]:
    """Yield the definitions that explain answers; those with the same values explain the same."""
    known: dict[bytes, Fit | None] = {}
    for definition, factor in screened:
        values = (factor * definition.scores(answers.queries)).round(9).tobytes()
        if values not in known:
            known[values] = _fit(definition, factor, answers)
        if (fit := known[values]) is not None:
            yield fit._replace(definition=definition)


def _fit(definition: Definition, factor: float, answers: Answers) -> Fit | None:
    """Return how a definition explains answers; None if it does not."""
    queries = answers.queries.changed(())
    free = answers.plain & ~definition.tied(answers.queries)

    def agreeing(among: Sequence[Empty], rows: Mask, precision: str = "", order: str = "") -> list[Empty]:
        expected = factor * definition.scores(answers.queries, PRECISIONS.get(precision), ORDERS.get(order))
        return [empty for empty in among if answers.agree(empty.fill(expected, queries))[rows].all()]

    emptiness = [Empty(value, each) for value in (0.0, 1.0, math.nan, PERFECT_IF_EMPTY) for each in {1.0, factor}]
    emptiness = agreeing(emptiness, free)
    if not emptiness or not free.any():
        return None
    tied, close = ~free & ~answers.close, ~free & answers.close
    choices = [
        (empty.value, order, precision)
        for order in (ORDERS if tied.any() else [""])
        if (kept := agreeing(emptiness, tied, order=order))
        for precision in (PRECISIONS if close.any() else [""])
        for empty in agreeing(kept, close, precision, order)
    ]
    if choices:
        return Fit(definition, factor, choices)
    if not answers.queries.tied(()).any() or 2 * np.count_nonzero(free) < np.count_nonzero(answers.plain):
        return None
    for empty in emptiness:
        if _has_some_order(definition, factor, answers, tied, "given", empty):
            for precision in PRECISIONS:
                if _has_some_order(definition, factor, answers, close, precision, empty):
                    return Fit(definition, factor, [(empty.value, "", precision)], int(np.count_nonzero(~free)))
    return None


def _has_some_order(
    definition: Definition, factor: float, answers: Answers, rows: Mask, precision: str, empty: Empty
) -> bool:
    """Return whether each answer is the value of its ranking with tied documents in some order."""
    rounded = answers.queries.changed(() if (change := PRECISIONS[precision]) is None else change.both.changes)
    every = np.flatnonzero(rows).tolist()
    for some in (every[:FIRST_ORDERED], every[FIRST_ORDERED:]):  # most definitions fail on the first ones
        in_orders = {row: _arrangements(rounded[row]) for row in some}
        row = np.repeat(some, [len(each) for each in in_orders.values()]).astype(int)
        queries = [query for each in in_orders.values() for query in each]
        if not queries:
            continue
        expected = empty.fill(factor * definition.scores(Queries(queries)), queries)
        agree = np.isclose(answers.values[:, row], expected, rtol=0, atol=answers.tolerance, equal_nan=True)
        if not all((np.bincount(row, each)[row] > 0).all() for each in agree):
            return False
    return True


def _named(fits: Sequence[Fit]) -> list[Match]:
    """Return the conventions that fits amount to, or else the slips on conventions, those reported most often first."""
    found: dict[tuple[Any, ...], Match] = {}
    for fit in fits:
        for match in _explanations_definitions_names_of(fit):
            found.setdefault(match if not match.slips else match[1:], match)
    fewest = min((len(match.slips) for match in found.values()), default=0)
    matches = [match for match in found.values() if len(match.slips) == fewest]
    if not fewest:
        return sorted(matches, key=lambda match: list(CONVENTIONS).index(match.convention))
    return sorted(matches, key=lambda match: -sum(slip_named(name).reports[0] for name in match.slips))


def _explanations_definitions_names_of(fit: Fit) -> Iterator[Match]:
    """Yield the conventions from which a fit differs by slips only."""
    slips = tuple(slip.name for slip in fit.definition.slips)
    for convention, (empty, order, precision) in product(CONVENTIONS, fit.choices):
        own = {**CONVENTIONS[convention].options, "judged_only": False}
        chosen = {**fit.definition.options, "zero_division": empty, "ties": order, "score_dtype": precision}
        differing = [(name, str(value)) for name, value in chosen.items() if str(value) not in ("", str(own[name]))]
        if all(each in SLIP_OF_OPTION for each in differing):
            yield Match(convention, (*(SLIP_OF_OPTION[each] for each in differing), *slips), fit.factor)


# ndcg/explanations/forms.py: The ways in which functions of nDCG are called, as one table: what is passed, and what it shows of a ranking.

NDCGFunction = Callable[..., Any]
Arguments = tuple[Any, ...]
CUTOFF_NAMES = ("k", "top_k", "topk", "top_n", "topn", "at", "at_k", "cutoff", "n", "depth", "limit")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_REPEATED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Shows(NamedTuple):
    """What the arguments of a function can show of a ranking."""

    documents: bool = True  # those that were not judged, and those that were not retrieved
    scores: bool = True  # and with them ties
    grades: bool = True  # of relevance, rather than only which documents are relevant
    several: bool = True  # relevant documents, rather than a single one


class Argument(NamedTuple):
    """An argument of a function."""

    text: str  # what it has
    name: str  # a name for it
    words: str  # parts of the names that code gives it

    def is_hinted_at(self, name: str) -> bool:
        """Return whether the name of a parameter hints at it."""
        return any(word in name.lower() for word in self.words.split())


class Form(NamedTuple):
    """A way of calling a function of nDCG."""

    arguments: tuple[Argument, ...]
    of: Callable[[Query], Arguments]  # returns a ranking as these, in new objects
    shows: Shows
    has_ids: bool = False  # whether documents have ids, which must not matter
    is_batch: bool = False  # whether several rankings are passed: two copies of one
    module: str = ""  # the module that makes the arguments
    must_be_hinted: bool = False  # whether it is only tried if each parameter hints at its argument


_OF_IDS = Shows(scores=False, grades=False)
_OF_LISTS = Shows(documents=False)
_SCORES = Argument("scores", "scores", "score pred output logit prob")
_RELEVANCE = Argument("relevance", "relevance", "true truth label target rel grade gain")
_IDS = Argument("ids", "ids", "rank rec pred retrieved result list top id doc item")
_RELEVANT_SET = Argument("{relevant ids}", "relevant", "relevant actual truth true gold gt pos test")
_RELEVANT = _RELEVANT_SET._replace(text="[relevant ids]")
_HITS = Argument("0 or 1 by rank", "hits", "hit rel")
_BY_RANK = Argument("relevance by rank", "relevance", "rel gain grade hit current pred rank")
_RUN = Argument("{document: score}", "run", "run score pred result ret")
_QRELS = Argument("{document: relevance}", "qrels", "qrel rel true truth label target gold gt judg")
_GROUPS = "query qid group user session"


def _explanations_forms_several(argument: Argument) -> Argument:
    return argument._replace(text=f"[{argument.text}, …]")


def _twice(of: Callable[[Query], Arguments], *join: Callable[[list[Any]], Any]) -> Callable[[Query], Arguments]:
    """Return the arguments of two copies of a ranking, each joined in its own way."""

    def arguments(query: Query) -> Arguments:
        pairs = zip(of(query), of(query), strict=True)
        return tuple(each(list(pair)) for each, pair in zip(cycle(join), pairs, strict=False))

    return arguments


def _lists(query: Query) -> Arguments:
    return [query.run[each] for each in query.run], [query.qrels.get(each) for each in query.run]


def _tensor(values: Any) -> Any:
    return import_module("torch").from_numpy(np.array(values))


def _relevant(query: Query) -> list[Any]:
    return [document for document, relevance in query.qrels.items() if relevance > 0]


def _explanations_forms_ids(query: Query) -> Arguments:
    return ranked(query), _relevant(query)


def _by_rank(query: Query) -> list[float]:
    return [query.qrels.get(each, 0) for each in ranked(query)]


def _hits(query: Query) -> Arguments:
    return _by_rank(query), _relevant(query)


def _explanations_forms_columns(query: Query) -> Arguments:
    column = {document: at for at, document in enumerate({**query.qrels, **query.run})}
    relevance = [query.qrels.get(document, 0) for document in column]
    return np.array([column[each] for each in ranked(query)], int), np.array(relevance)


def _mappings(query: Query) -> Arguments:
    return dict(query.run), dict(query.qrels)


# The ways that tell the fewest facts of a ranking come first.
FORMS = {
    "item": Form(
        (_IDS, Argument("relevant id", "relevant", "item target gt true pos")),
        lambda query: (ranked(query), *_relevant(query)),
        _OF_IDS._replace(several=False),
        has_ids=True,
        must_be_hinted=True,
    ),
    "sets": Form((_IDS, _RELEVANT_SET), lambda query: (ranked(query), set(_relevant(query))), _OF_IDS, has_ids=True),
    "ids": Form((_IDS, _RELEVANT), _explanations_forms_ids, _OF_IDS, has_ids=True),
    "id_lists": Form((_explanations_forms_several(_IDS), _explanations_forms_several(_RELEVANT)), _twice(_explanations_forms_ids, list), _OF_IDS, has_ids=True, is_batch=True),
    "hits": Form((_HITS, _RELEVANT), _hits, _OF_IDS),
    "hit_rows": Form((_explanations_forms_several(_HITS), _explanations_forms_several(_RELEVANT)), _twice(_hits, np.array, list), _OF_IDS, is_batch=True),
    "ranked": Form((_IDS, _QRELS), lambda query: (ranked(query), dict(query.qrels)), Shows(scores=False), has_ids=True),
    "columns": Form(
        (Argument("columns by rank", "ranked", _IDS.words), Argument("relevance by column", "relevance", _QRELS.words)),
        _explanations_forms_columns,
        Shows(scores=False),
    ),
    "ideal": Form(
        (_BY_RANK, Argument("relevance of all, highest first", "ideal", "ideal gold true truth best all")),
        lambda query: (_by_rank(query), sorted(query.qrels.values(), reverse=True)),
        Shows(scores=False),
        must_be_hinted=True,  # scores and relevance may be called so, and then hide what is wrong with scores
    ),
    "mappings": Form((_RUN, _QRELS), _mappings, Shows(), has_ids=True),
    "runs": Form(
        (_RUN._replace(text="{query: {document: score}}"), _QRELS._replace(text="{query: {document: relevance}}")),
        _twice(_mappings, lambda pair: dict(zip(("q1", "q2"), pair, strict=True))),
        Shows(),
        has_ids=True,
        is_batch=True,
    ),
    "lists": Form((_SCORES, _RELEVANCE), _lists, _OF_LISTS),
    "arrays": Form((_SCORES, _RELEVANCE), lambda query: tuple(map(np.array, _lists(query))), _OF_LISTS),
    "tensors": Form((_SCORES, _RELEVANCE), lambda query: tuple(map(_tensor, _lists(query))), _OF_LISTS, module="torch"),
    "rows": Form((_explanations_forms_several(_SCORES), _explanations_forms_several(_RELEVANCE)), _twice(_lists, np.array), _OF_LISTS, is_batch=True),
    "tensor_rows": Form(
        (_explanations_forms_several(_SCORES), _explanations_forms_several(_RELEVANCE)), _twice(_lists, _tensor), _OF_LISTS, is_batch=True, module="torch"
    ),
    "queries": Form(
        (_SCORES, _RELEVANCE, Argument("query ids", "queries", _GROUPS)),
        lambda query: (*_twice(_lists, np.concatenate)(query), np.repeat([1, 2], len(query.run))),
        _OF_LISTS,
        is_batch=True,
    ),
    "groups": Form(
        (_SCORES, _RELEVANCE, Argument("sizes of queries", "sizes", f"{_GROUPS} size")),
        lambda query: (*_twice(_lists, np.concatenate)(query), np.repeat(len(query.run), 2)),
        _OF_LISTS,
        is_batch=True,
    ),
    "relevance": Form((_BY_RANK,), lambda query: (_by_rank(query),), Shows(documents=False, scores=False)),
    "relevance_rows": Form(
        (_explanations_forms_several(_BY_RANK),),
        _twice(lambda query: (_by_rank(query),), np.array),
        Shows(documents=False, scores=False),
        is_batch=True,
    ),
}


class Call(NamedTuple):
    """How a function is called."""

    form: str  # the form of the ranking
    cutoff: int | str | None = 2  # the position or the name of the cutoff, None if the function takes none
    order: tuple[int, ...] = (0, 1)  # of the arguments
    k: int | None = None  # the cutoff that its answers are compared with
    is_binary: bool = False  # whether no relevance is above 1
    keywords: tuple[str, ...] = ()  # the names of the last arguments, if they must be named

    @property
    def shows(self) -> Shows:
        """What it shows of a ranking."""
        shows = FORMS[self.form].shows
        return shows._replace(grades=shows.grades and not self.is_binary)

    @property
    def text(self) -> str:
        """The arguments in words."""
        words = [FORMS[self.form].arguments[at].text for at in self.order]
        if self.cutoff is not None:
            words.insert(self.cutoff if isinstance(self.cutoff, int) else len(words), "k")
        return ", ".join(words)

    def of(self, function: NDCGFunction, arguments: Arguments, k: int | None) -> Any:
        """Return the function's result."""
        ordered, named = [arguments[at] for at in self.order], {}
        if isinstance(self.cutoff, int):
            ordered.insert(self.cutoff, k)
        elif self.cutoff is not None:
            named[self.cutoff] = k
        first = len(ordered) - len(self.keywords)
        return function(*ordered[:first], **dict(zip(self.keywords, ordered[first:], strict=True)), **named)


def possible_calls(function: NDCGFunction, k: int | None, forms: Sequence[str]) -> list[Call]:
    """Return the calls that a function may accept, in some forms; those that its parameters hint at come first.

    A function without a cutoff is asked about whole rankings, and then about a cutoff that it may have of its own.

    >>> [call.text for call in possible_calls(lambda r, k, method=0: 0, 10, ("lists", "relevance"))]
    ['relevance by rank, k']
    """
    hints: dict[Call, int] = {}
    keywords = tuple(each.name for each in _parameters(function) or () if _must_be_named(each))
    is_named = len(forms) == 1
    for (names, cutoff), form in product(accepted_arguments(function, k), forms):
        arguments = FORMS[form].arguments
        if not is_named and (len(arguments) != len(names) or FORMS[form].module not in {"", *sys.modules}):
            continue
        for order in permutations(range(len(arguments))):
            hinted = [arguments[at].is_hinted_at(name) for at, name in zip(order, names, strict=False)]
            if is_named or all(hinted) or not FORMS[form].must_be_hinted:
                for compared_at in dict.fromkeys((k if cutoff is not None else None, k)):
                    hints[Call(form, cutoff, order, compared_at, keywords=keywords)] = sum(hinted)
    return sorted(hints, key=lambda call: -hints[call])


def accepted_arguments(function: NDCGFunction, k: int | None) -> Iterator[tuple[list[str], int | str | None]]:
    """Yield the names of arguments other than the cutoff, and where the cutoff goes: a position, a keyword, or None.

    >>> [*accepted_arguments(lambda scores, relevance, base=2, k=10: 0, 5)]
    [(['scores', 'relevance'], 'k')]
    """
    if (parameters := _parameters(function)) is None:
        yield ["", ""], None if k is None else 2
        return
    kinds = {each.kind for each in parameters}
    positional = [each for each in parameters if each.kind in _POSITIONAL]
    of_cutoff = [each for each in parameters if each.name.lower() in CUTOFF_NAMES and each.kind not in _REPEATED]
    others = [each for each in parameters if _must_be_named(each) or (each in positional and each not in of_cutoff[:1])]
    others.sort(key=lambda each: each.default is not each.empty)  # those that must be given come first
    names, needed = [each.name for each in others], sum(each.default is each.empty for each in others)
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        names, needed = [*names, "", ""], max(2, needed)
    needed = needed or min(2, len(names))
    if needed == 1 and any(each in others for each in positional[1:2]):  # such as y_score=None
        needed = 2
    if of_cutoff:
        is_early = of_cutoff[0] in positional[: needed + 1]
        yield names[:needed], positional.index(of_cutoff[0]) if is_early else of_cutoff[0].name
    elif needed > 2 or (needed == len(others) == 2 and len(names[1]) == 1):  # such as p: the cutoff, or predictions
        yield names[: needed - 1], needed - 1
        yield names[:needed], None
    elif len(others) > 2 and (others[2].default is None or type(others[2].default) is int):
        yield names[:needed], 2
        yield names[:needed], None
    elif inspect.Parameter.VAR_POSITIONAL in kinds:
        yield names[:needed], 2
    else:
        yield names[:needed], "k" if inspect.Parameter.VAR_KEYWORD in kinds else None


def _parameters(function: NDCGFunction) -> list[inspect.Parameter] | None:
    """Return the parameters of a function; None if they are unknown, as of a built-in function."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None


def _must_be_named(each: inspect.Parameter) -> bool:
    is_cutoff = each.name.lower() in CUTOFF_NAMES
    return each.kind is each.KEYWORD_ONLY and each.default is each.empty and not is_cutoff


def arguments_text(query: Query, form: str) -> str:
    """Return a ranking as the arguments of a function, to paste.

    >>> arguments_text(Query({"d1": 2.0}, {"d1": 1}, 3), "lists")
    'scores = [2.0], relevance = [1], k = 3'
    """
    names, values = [each.name for each in FORMS[form].arguments], map(argument_text, FORMS[form].of(query))
    return ", ".join(f"{name} = {value}" for name, value in zip((*names, "k"), (*values, query.k), strict=True))


def argument_text(argument: Any) -> str:
    """Return an argument as text to paste, which shows each change that a function makes; sets in order."""
    if isinstance(argument, set):
        return f"{{{', '.join(sorted(map(repr, argument)))}}}" if argument else "set()"
    return str(argument.tolist() if hasattr(argument, "tolist") else argument)


# ndcg/explanations/random_rankings.py: Small random rankings to ask a function of nDCG about, of kinds that show how definitions differ.

PLAIN_KINDS = (  # without ties
    "whole",  # all documents are judged and retrieved
    "deep",  # at least as many retrieved as the cutoff, and relevant ones that were not retrieved
    "short",  # fewer documents than the cutoff
    "unjudged",  # deep, and some documents were not judged
    "mixed",  # any documents may lack a judgment or a score
    "nothing relevant",
    "deep",
    "whole",
    "mixed",
    "long",  # more than 16 documents
    "few retrieved",  # fewer than the cutoff, and relevant ones that were not retrieved
    "unjudged",
    "nothing retrieved",
    "many relevant",  # more than the cutoff
)
ASKED_KINDS = (*PLAIN_KINDS, "tied", "long tied", "close", "tied", "long tied", "close")
OF_LISTS = {  # in which all documents are judged and retrieved
    **dict.fromkeys(("deep", "unjudged", "mixed"), "whole"),
    **dict.fromkeys(("few retrieved", "nothing retrieved"), "short"),
}
WITHOUT_SCORES = {"tied": "deep", "long tied": "long", "close": "unjudged"}
LONG = (17, 65)  # sorts of many libraries are stable for fewer documents
CLOSE = (3, 4, 5, 6, 7, 12)  # the decimals in which scores differ
_explanations_random_rankings_Columns = tuple[Floats, NDArray[np.int64], Mask, Mask]  # the score and the relevance, retrieved or not, judged or not
TIED_DOCUMENTS = 12  # the most with the same score; one or two of them are relevant, so that all orders can be tried


def kinds_of(shows: Shows) -> tuple[str, ...]:
    """Return the kinds of the rankings that arguments can show, as one after the other is asked."""
    kinds: tuple[str, ...] = ASKED_KINDS
    if not shows.scores:
        kinds = tuple(WITHOUT_SCORES.get(kind, kind) for kind in kinds)
    return tuple(OF_LISTS.get(kind, kind) for kind in kinds) if not shows.documents else kinds


def random_rankings(numbers: Iterable[int], k: int | None, shows: Shows, seed: int, attempt: int = 0) -> list[Query]:
    """Return small random rankings that arguments can show, one for each number, which determines its kind.

    >>> random_rankings([3], 2, Shows(), 0) == random_rankings([2, 3], 2, Shows(), 0)[1:]
    True
    """
    kinds = kinds_of(shows)
    return [
        _random_ranking(np.random.default_rng((seed, number, attempt)), k, shows, kinds[number % len(kinds)], number)
        for number in numbers
    ]


def is_plain(number: int) -> bool:
    """Return whether the ranking of a number has neither ties nor close scores, in any form."""
    return number % len(ASKED_KINDS) < len(PLAIN_KINDS)


@lru_cache(maxsize=16)
def plain_rankings(numbers: tuple[int, ...], k: int | None, shows: Shows, seed: int) -> Queries:
    """Return random rankings, which keep their scores by each definition for the next function."""
    return Queries(random_rankings(numbers, k, shows, seed))


def _random_ranking(rng: "np.random.Generator", k: int | None, shows: Shows, kind: str, number: int) -> Query:
    """Return a ranking with documents of random ids."""
    turn = number // len(ASKED_KINDS)
    if kind in ("tied", "long tied", "close"):
        columns = _with_ties(rng, k or 8, shows, kind, 2 * turn + number % 2)
    else:
        columns = _without_ties(rng, k or 8, shows, kind, turn)
    order = rng.permutation(size := len(columns[0]))
    scores, relevance = (column[order] for column in columns[:2])
    retrieved, judged = (column[order] for column in columns[2:])
    documents = [f"d{each}" for each in rng.permutation(3 * size)[:size] + 1]
    if not shows.several:
        one = int(relevance.argmax() if relevance.any() else rng.integers(size))
        relevance, judged = np.eye(1, size, one, dtype=np.int64)[0], judged | (np.arange(size) == one)
    if not shows.grades and not shows.documents:
        relevance = np.minimum(relevance, 1)
    elif not shows.grades:  # only relevant documents are known
        relevance, judged = np.minimum(relevance, 1), judged & (relevance > 0)
    run = {documents[at]: float(scores[at]) for at in np.flatnonzero(retrieved)}
    listed = np.arange(size) if not shows.documents else rng.permutation(size)
    qrels = {documents[at]: int(relevance[at]) for at in listed if judged[at]}
    query = Query(run, qrels, k)
    return query._replace(run=in_order(ranked(query))) if not shows.scores else query


def _without_ties(rng: "np.random.Generator", cut: int, shows: Shows, kind: str, turn: int) -> _explanations_random_rankings_Columns:
    """Return a ranking in which no two scores are near each other."""
    low, high = {
        "short": (2, max(cut, 3)),
        "long": LONG,
        "many relevant": (cut + 1, 2 * cut + 3),
        **dict.fromkeys(("deep", "unjudged"), (cut + 2, cut + 8)),
    }.get(kind, LONG if kind == "nothing relevant" and turn % 3 == 2 else (2, cut + 6))
    size = int(rng.integers(low, high))
    relevance = rng.integers(0, rng.integers(2, 7), size) * (rng.random(size) < rng.uniform(0.3, 1))
    if kind == "nothing relevant" or (kind == "nothing retrieved" and turn % 2):
        relevance[:] = 0
    if kind == "many relevant":
        relevance = np.maximum(relevance, 1)
    retrieved, judged = np.ones((2, size), bool)
    if shows.documents:
        if kind in ("deep", "unjudged"):
            retrieved[: rng.integers(1, size - cut + 1)] = False
            relevance[~retrieved] = np.maximum(relevance[~retrieved], 1)
        if kind == "few retrieved":
            retrieved[rng.integers(1, size // 2 + 1) :] = False
            relevance = np.maximum(relevance, rng.random(size) < 0.7)
        if kind == "mixed" or (kind == "long" and turn % 2):
            retrieved = rng.random(size) < rng.choice([0.3, 0.7, 0.9])
        if kind in ("unjudged", "mixed", "few retrieved") or (kind == "long" and turn % 2):
            judged = ~retrieved | (rng.random(size) < rng.uniform(0.3, 0.9))
        if kind == "mixed" and turn % 3:  # one document on one side
            (judged if turn % 3 == 1 else retrieved)[:] = False
            one = rng.integers(size)
            judged[one] = retrieved[one] = True
            relevance[one] = max(relevance[one], 1)
        retrieved &= kind != "nothing retrieved"
        judged[rng.integers(size)] |= not judged.any()
    scores = (2 * rng.permutation(2 * size + 8)[:size] - 2 * size - 7) / 16
    if retrieved.all() and turn % 2 == 0:
        scores -= scores[rng.integers(size)]  # so that one is 0
    return scores, relevance, retrieved, judged


def _with_ties(rng: "np.random.Generator", cut: int, shows: Shows, kind: str, number: int) -> _explanations_random_rankings_Columns:
    """Return a ranking with tied documents, at most two of which are relevant, or with close scores."""
    size = int(rng.integers(*{"long tied": LONG, "close": (4, TIED_DOCUMENTS + 1)}.get(kind, (2, cut + 6))))
    relevance = rng.integers(0, rng.integers(2, 7), size) * (rng.random(size) < rng.uniform(0.3, 1))
    tied = np.zeros(size, bool)
    scores = np.array(sorted(rng.permutation(2 * size)[:size], reverse=True)) / 8 + 0.5
    if kind == "close":
        scores[:] = 0.05 + np.arange(size)[::-1] * 10.0 ** -CLOSE[number % len(CLOSE)]
        groups = [(0, size, 2)]
    else:
        lengths = rng.integers(2, min(size, TIED_DOCUMENTS) + 1, 2)
        first = int(rng.integers(0, max(1, min(cut, size - lengths[0] + 1))))
        second = first + int(lengths[0])
        groups = [(first, lengths[0], 1 + number % 2)]
        if number % 2 == 0 and second < size - 1:
            groups.append((second, min(lengths[1], size - second), 1))
    for start, length, relevant in groups:
        group = slice(start, start + length)
        tied[group], relevance[group] = True, 0
        if kind != "close":
            scores[group] = scores[start]
        relevance[start + rng.permutation(length)[:relevant]] = rng.permutation(5)[:relevant] + 1
    retrieved, judged = np.ones((2, size), bool)
    if shows.documents:
        judged = ~tied | (relevance > 0) | (rng.random() < 0.7)
        extra = int(rng.integers(0, 4))  # that were not retrieved
        relevance, scores = np.append(relevance, rng.integers(1, 4, extra)), np.append(scores, np.zeros(extra))
        retrieved, judged = np.append(retrieved, np.zeros(extra, bool)), np.append(judged, np.ones(extra, bool))
        judged |= not (relevance * judged).any()
    return scores, relevance, retrieved, judged


# ndcg/explanations/asking.py: Asking a function of nDCG: for a score, with its side effects; about random rankings; in which form to ask it.

PREFIXES = [letter * times for times in (1, 2, 3) for letter in "efgh"]  # of ids
OF_A_SET = "gives another answer for other ids, since it depends on the order of a set"
FLOAT32 = 2e-6  # the tolerance of a value: some functions compute in 32 bits
NO_VALUE = ("returns nan", "returns None")  # as for a query that is left out of the mean
MOST_DECIMALS = 6  # to which a function may round; with more, FLOAT32 is the tolerance
FIRST_ASKED = (16, 64)  # rankings that tell the form and rule out most definitions; more if few are answered
LEAST_ANSWERS = 6  # of these, and for each kind of rankings
MOST_CALLS = 3
IF_LITTLE_SHOWS = 5  # times as many rankings, if a function rounds to few decimals or answers few


# One ranking


class Answer(NamedTuple):
    """The answer of a function for a ranking."""

    value: float  # the score; nan if there is none
    # the reason for a missing score, such as an error, in words; empty if the function returns a score
    problem: str = ""
    returned: str = ""  # the value that is not a score, or the words of the error, as text
    again: float = math.nan  # the score when it is asked once more, with other ids where these must not matter


class Habit(NamedTuple):
    """A side effect of a function."""

    times: int  # on how many rankings
    size: int  # the number of documents of the smallest of them
    example: str  # the result for that ranking, or else its arguments; empty if the ranking does not matter


class Asker:
    """Asks a function, and records its side effects.

    Attributes:
        habits: the side effects, in words.
    """

    def __init__(self, function: NDCGFunction, call: Call) -> None:
        self.function, self.call, self.form = function, call, FORMS[call.form]
        self.habits: dict[str, Habit] = {}

    def answer(self, query: Query) -> Answer:
        """Ask for one ranking, twice, and count habits."""
        habits: dict[str, str] = {}
        first, second = (self._ask(self.form.of(query), query.k, habits) for _ in range(2))
        unlike = "gives another answer when it is asked twice"
        if self.form.has_ids and _same(first, second):
            second, unlike = self._ask(self.form.of(_renamed(query)), query.k, {}), OF_A_SET
        if not _same(first, second):
            values = ("no score" if math.isnan(each.value) else f"{each.value:.6g}" for each in (first, second))
            habits[unlike] = f"{' and '.join(values)} for {arguments_text(query, self.call.form)}"
        if first.value > 1 + FLOAT32:
            habits["returns a value above 1"] = ""
        if first.value < -FLOAT32:
            habits["returns a value below 0"] = ""
        size = len({*query.run, *query.qrels})
        for habit in sorted(habits):
            self._count(habit, size, habits[habit])
        if first.problem:
            raised = first.problem.startswith("raises")
            ranking = "" if first.returned and not raised else arguments_text(query, self.call.form)
            self._count(first.problem, size, " for ".join(filter(None, (first.returned, ranking))))
        return first._replace(again=second.value)

    def _count(self, habit: str, size: int, example: str) -> None:
        known = self.habits.get(habit, Habit(0, size, example))
        smallest = known if known.size <= size else Habit(0, size, example)
        self.habits[habit] = smallest._replace(times=known.times + 1)

    def once(self, query: Query) -> Answer:
        """Return the answer for a ranking, without counting habits."""
        return self._ask(self.form.of(query), query.k, {})

    def counts_duplicates(self) -> bool:
        """Return whether a function that takes ranked ids counts a document twice that is listed twice."""
        if not self.form.has_ids or self.form.shows.scores or self.form.is_batch:
            return False
        query = Query({}, {"d1": 1, "d2": 0}, 3)
        lists = ["d1", "d2"], ["d1", "d1", "d2"]
        once, twice = (self._ask((ids, self.form.of(query)[1]), 3, {}) for ids in lists)
        return twice.value > once.value + FLOAT32

    def depends_on_sets(self, queries: Sequence[Query]) -> bool:
        """Return whether answers depend on the order of a set, which follows from the ids in it."""
        if not self.form.has_ids:
            return False
        for query in queries:
            self.answer(query)
        if OF_A_SET in self.habits or not self.form.shows.several:
            return OF_A_SET in self.habits
        k = queries[0].k or 1
        half_cut = Query({"d0": 1.0}, {f"d{at}": 1 for at in range(2 * k)}, k)  # if a function cuts the set at k
        one, other = ([self.once(_with_prefix(half_cut, prefix)).value for prefix in PREFIXES] for _ in range(2))
        return np.array_equal(one, other, equal_nan=True) and len(np.unique(one)) > 1

    def _ask(self, arguments: tuple[Any, ...], k: int | None, habits: dict[str, str]) -> Answer:
        before, printed = [argument_text(each) for each in arguments], _Printed()
        with (
            interruptible(),
            redirect_stdout(_text_stream(printed)),
            redirect_stderr(_text_stream(printed)),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            try:
                with np.errstate(all="ignore"):
                    answer = _read_answer(self.call.of(self.function, arguments, k), is_batch=self.form.is_batch)
            except BaseException as error:  # noqa: BLE001  # an error is also an answer, and SystemExit too
                answer = Answer(math.nan, f"raises {type(error).__name__}", in_short(error)[:80])
        if printed.getvalue():
            habits["prints"] = ""
        for each in warned:
            habits[f"warns ({each.category.__name__}: {' '.join(str(each.message).split())[:80]})"] = ""
        if [argument_text(each) for each in arguments] != before:
            habits["changes its arguments"] = ""
        return answer


class _Printed(io.BytesIO):
    """What a function prints, also if it closes its output."""

    def close(self) -> None:
        """Keep what was printed."""


def _text_stream(printed: _Printed) -> io.TextIOWrapper:
    """Return a stream like `sys.stdout`, with its buffer, encoding and other attributes."""
    return io.TextIOWrapper(printed, "utf-8", "replace", write_through=True)


def _same(one: Answer, other: Answer) -> bool:
    return one.value == other.value or (math.isnan(one.value) and math.isnan(other.value))


def _renamed(query: Query) -> Query:
    """Return a ranking with other ids in the same order, of which sets have another order."""
    sides = [set(query.run), {each for each, relevance in query.qrels.items() if relevance > 0}]

    def keeps_order(prefix: str) -> bool:
        names = [[prefix + each for each in side] for side in sides if len(side) > 1]
        return any([*set(each)] == each for each in names)

    return _with_prefix(query, next(filterfalse(keeps_order, PREFIXES), PREFIXES[0]))


def _with_prefix(query: Query, prefix: str) -> Query:
    """Return a ranking whose ids begin with a prefix."""
    run, qrels = ({prefix + each: value for each, value in side.items()} for side in query[:2])
    return query._replace(run=run, qrels=qrels)


def _read_answer(returned: Any, *, is_batch: bool) -> Answer:
    """Read what a function returned."""
    value = _only_value(returned, is_batch=is_batch)
    if value is None:
        return Answer(math.nan, "returns None")
    if isinstance(value, (str, bytes)):
        return Answer(math.nan, "returns text", shown(value))
    no_number = Answer(math.nan, f"returns a value of type {type(value).__name__}, which is not a number", shown(value))
    if isinstance(value, (bool, np.bool_)):
        return no_number
    try:
        number = float(value)
    except (TypeError, ValueError):
        return no_number
    if math.isnan(number):
        return Answer(math.nan, "returns nan")
    return Answer(number) if math.isfinite(number) else Answer(math.nan, "returns infinity")


def _only_value(returned: Any, *, is_batch: bool = False) -> Any:
    """Return the value in an array or tensor of one, or that of both copies in a batch; None if it is masked.

    >>> _only_value(np.array([[0.5]])), _only_value([0.5]), _only_value({"q1": 0.5, "q2": 0.5}, is_batch=True)
    (0.5, [0.5], 0.5)
    """
    with suppress(Exception):  # whatever its library raises, it is not an array of numbers
        array = converted(list(returned.values()) if is_batch and isinstance(returned, Mapping) else returned)
        if isinstance(array, (np.ndarray, *ARROW)) or (is_batch and isinstance(array, list)):
            values = np.ma.asanyarray(array).reshape(-1).tolist()
            if len({*map(str, values)}) == 1 and len(values) <= 1 + is_batch:
                return values[0]
    return returned


# Many rankings


class Asked(NamedTuple):
    """The answers of a function to random rankings."""

    asker: Asker  # asked the function, and knows its side effects
    cases: int  # the number of rankings that it was asked about
    refused: bool  # whether it gave no answer to most of these
    answers: Answers | None = None  # the answers; None if no score is among them


def ask(function: NDCGFunction, call: Call, cases: int, seed: int) -> Asked:
    """Ask about rankings, again about kinds with few answers, and about many more if these answers show little."""
    asker, kinds = Asker(function, call), kinds_of(call.shows)
    rows: list[tuple[int, Query, Answer]] = []
    refused: list[int] = []

    def ask_about(numbers: Sequence[int], attempt: int = 0) -> None:
        queries = random_rankings(numbers, call.k, call.shows, seed, attempt)
        for number, query in tracked([*zip(numbers, queries, strict=True)], "Asking", " rankings"):
            answer = asker.answer(query)
            # A convention may have no value for a query; a function may also leave out one without documents.
            if not answer.problem or (answer.problem in NO_VALUE and query.run):
                rows.append((number, query, answer))
            else:
                refused.append(number)

    def has_refused_most() -> bool:
        return len(refused) > len(rows)

    ask_about(range(cases))
    refused_most_at_first = has_refused_most()
    values = np.array([answer.value for _, _, answer in rows])
    of_kind = Counter(kinds[number % len(kinds)] for number, _, _ in rows)
    few = [number for number in refused if of_kind[kinds[number % len(kinds)]] < LEAST_ANSWERS]
    if np.isfinite(values).any():
        for attempt in (1, 2, 3):
            ask_about(few, attempt)
        if tolerance_of(values) > VISIBLE or refused_most_at_first:
            ask_about(range(cases, cases * IF_LITTLE_SHOWS))
    asked = Asked(asker, len(rows) + len(refused), has_refused_most())
    if not any(math.isfinite(answer.value) for _, _, answer in rows):
        return asked
    values = np.array([[answer.value, answer.again] for _, _, answer in rows]).T
    plain = np.array([is_plain(number) for number, _, _ in rows])
    close = np.array([kinds[number % len(kinds)] == "close" for number, _, _ in rows])
    queries = Queries(query for _, query, _ in rows)
    return asked._replace(answers=Answers(queries, values, plain, close, tolerance_of(values)))


def decimals_of(values: Floats) -> int | None:
    """Return the number of decimals to which values are rounded; None if they are not, or all are the same.

    >>> decimals_of(np.array([0.63, 0.5])), decimals_of(np.float32([0.1, 1])), decimals_of(np.array([1 / 3, 0]))
    (2, 1, None)
    """
    if len(numbers := np.unique(values[np.isfinite(values)])) < 2:
        return None
    rounded = (np.allclose(numbers, numbers.round(each), rtol=1e-7, atol=1e-12) for each in range(MOST_DECIMALS + 1))
    return next((decimals for decimals, same in enumerate(rounded) if same), None)


def tolerance_of(values: Floats) -> float:
    """Return how far a value may differ from the value that it was rounded from.

    >>> tolerance_of(np.array([0.63, 0.5])) > 0.005
    True
    """
    decimals = decimals_of(values)
    return FLOAT32 + (0 if decimals is None else 0.5 * 10.0**-decimals)


# The call


class Explained(NamedTuple):
    """How well the definition that explains the first answers best does so; the higher, the better."""

    completely: bool = False
    exactly: bool = False  # rather than to the decimals to which the function may round
    minus_slips: int = 0  # of a complete explanation
    telling: int = 0  # how many values other than 0 and 1, which many definitions share; 0 if these are few


class Candidate(NamedTuple):
    """A call, and the answers to the first rankings without ties."""

    call: Call
    first: Answers
    explained: Explained
    answered: float  # the share of them that have an answer
    is_varied: bool  # whether the answers differ
    returned: int  # how many of the first rankings raised no error
    depends_on_sets: bool


def likely_calls(function: NDCGFunction, calls: Sequence[Call], seed: int) -> Iterator[Candidate]:
    """Yield those calls of which some definition explains all answers, then those of which one explains most.

    If grades of relevance give values above 1 or none, the last ones have no relevance above 1.
    """
    found = []
    for call in calls:
        candidate = _asked_first(function, call, FIRST_ASKED[0], seed)
        few = 0 < candidate.answered * FIRST_ASKED[0] < LEAST_ANSWERS
        found.append(_asked_first(function, call, FIRST_ASKED[1], seed) if few else candidate)
    if any(each.is_varied for each in found if each.call.form in ("sets", "ids")):  # it finds several relevant ids
        found = [each for each in found if each.call.shows.several]
    # Chance explains few answers to a call with the wrong arguments by a slip or a factor, and those of only 0 or 1
    # or that depend on the order of a set.
    most = max((each.answered for each in found), default=0)
    telling = any(each.explained.telling for each in found)
    by_facts = sorted(found, key=lambda each: list(FORMS).index(each.call.form))
    complete = [
        each
        for each in by_facts
        if each.explained.completely and not each.depends_on_sets and bool(each.explained.telling) == telling
        if not each.explained.minus_slips or 4 * each.answered >= most
    ]
    complete.sort(key=lambda each: each.explained, reverse=True)
    yield from (each for each in complete[:MOST_CALLS] if each.explained[:2] == complete[0].explained[:2])

    def likelihood(each: Candidate) -> tuple[Any, ...]:
        answers = 4 * each.answered >= most
        own = each.answered >= most > 0 and each.depends_on_sets and each.call.form != "sets"  # it makes these sets
        return own, answers and not each.depends_on_sets, each.explained, each.is_varied, most == 0 and each.returned

    # two calls in one form, with the fewest facts if in doubt
    others = sorted((each for each in found if each not in complete), key=likelihood, reverse=True)
    others = [each for each in others if each.call.form == others[0].call.form and each.answered][:2] or others[:1]
    yield from others
    for call, first, *_ in others:
        values = first.values[0]
        if call.shows.grades and ((values > 1 + FLOAT32).any() or first.plain.mean() < 0.5):
            yield _asked_first(function, call._replace(is_binary=True), len(values), seed)


def _asked_first(function: NDCGFunction, call: Call, count: int, seed: int) -> Candidate:
    """Ask about the first rankings without ties: a few of them if none of these has an answer."""
    numbers, asker = tuple(islice(filter(is_plain, range(10**5)), count)), Asker(function, call)
    queries = plain_rankings(numbers, call.k, call.shows, seed)
    answers = [asker.once(query) for query in queries.changed(())]
    values = np.array([answer.value for answer in answers])
    answered = np.isfinite(values)
    first = Answers(queries, values[None], answered, np.zeros(count, bool), tolerance_of(values))
    explained = _explained(first) if answered.any() else Explained()
    of_sets = bool(answered.any()) and asker.depends_on_sets(queries.changed(()))
    is_varied = len(np.unique(values[answered])) > 1
    returned = sum(not answer.problem.startswith("raises") for answer in answers)
    return Candidate(call, first, explained, float(answered.mean()), is_varied, returned, of_sets)


def _explained(first: Answers) -> Explained:
    """Return how well the definition that explains answers best does so."""
    values, answered = first.values[0], first.plain
    varied, flags = len(np.unique(values[answered])) > 1, {0.0, 1.0}.issuperset(values[answered])
    slips = np.array([len(definition.slips) for definition in usual_definitions()])
    expected, best = expected_values(usual_definitions, first.queries), []
    telling = (expected != 0) & (expected != 1)
    for tolerance, scaled in product({FLOAT32, first.tolerance}, (False, True)):
        _, known, agree = compared(usual_definitions, first._replace(tolerance=tolerance), scaled=scaled)
        some = 0 if flags and tolerance > FLOAT32 else (agree & telling).sum(axis=1) - scaled
        complete = varied & (flags | (some > 0)) & (agree == known).all(axis=1) & (known.sum(axis=1) >= LEAST_ANSWERS)
        exact = complete & (tolerance == FLOAT32)
        half = np.count_nonzero(answered & (values != 0) & (values != 1)) / 2
        many = complete | (some >= max(half, LEAST_ANSWERS))
        columns = complete, exact, (-slips - scaled) * complete, some * many
        best.append(max(zip(*(column.tolist() for column in columns), strict=True)))
    return Explained(*max(best))


# ndcg/explanations/properties.py: Find what the queries on which two definitions of nDCG differ have in common.

SHOWN_PROPERTIES = 2  # other properties often follow from these
TELLING = 0.05  # the highest probability that so many queries have a property by chance


def properties_of(rankings: Rankings, k: int | None) -> dict[str, Mask]:
    """Return which queries have each property that definitions of nDCG treat differently.

    >>> rankings = Rankings(np.array([1, 2, 0]), np.array([0.9, 0.9, 0.1]), np.array([0, 2, 3]))
    >>> [name for name, has in properties_of(rankings, None).items() if has.tolist() == [True, False]]
    ['documents with equal scores', 'grades of relevance', 'a relevance above 1']
    """
    counts, lacking = rankings.counts(), rankings.lacking()
    retrieved, judged = counts["retrieved"], counts["judged"]
    query = np.repeat(np.arange(rankings.queries), np.diff(rankings.offsets))
    known = np.ones(len(query), bool) if rankings.judged is None else rankings.judged
    relevance = np.where(known, rankings.relevance, 0)
    highest, lowest = np.full(rankings.queries, -np.inf), np.full(rankings.queries, np.inf)
    relevant = relevance > 0
    np.maximum.at(highest, query[relevant], relevance[relevant])
    np.minimum.at(lowest, query[relevant], relevance[relevant])
    properties = {
        "no place in the run": lacking,
        "no retrieved documents": (retrieved == 0) & ~lacking,
        "no relevant documents": counts["relevant"] == 0,
        "documents with equal scores": np.bincount(rankings.queries_of_ties(), minlength=rankings.queries) > 0,
        "unjudged documents": retrieved > counts["retrieved and judged"],
        "judged documents that were not retrieved": judged > counts["retrieved and judged"],
        "a negative relevance": np.bincount(query, relevance < 0, rankings.queries) > 0,
        "grades of relevance": highest > lowest,
        "a relevance above 1": highest > 1,
    }
    if k is not None:
        properties["more retrieved documents than the cutoff"] = retrieved > k
        properties["fewer retrieved documents than the cutoff"] = (retrieved < k) & (retrieved > 0)
        properties["more relevant documents than the cutoff"] = counts["relevant"] > k
    return properties


def in_common(properties: Mapping[str, Mask], differing: Mask, noun: str, nearest: str) -> Iterator[str]:
    """Yield sentences on the properties of queries that differ from the nearest definition, the most telling first.

    Properties and those that differ are masks of the queries, which `noun` names.
    """
    own, other = int(np.count_nonzero(differing)), int(np.count_nonzero(~differing))
    telling = []
    for name, having in properties.items():
        with_it, others = int(np.count_nonzero(having & differing)), int(np.count_nonzero(having & ~differing))
        chance = _chance_of_as_many(with_it, own, with_it + others, own + other)
        if 2 * with_it > own and chance <= TELLING:
            have = f"{with_it:,} of the {own:,} {noun} that differ from {nearest} have {name}"
            telling.append((chance, f"{have}; of the {other:,} that agree, {others:,} do."))
    yield from (text for _, text in sorted(telling, key=lambda each: each[0])[:SHOWN_PROPERTIES])


def _chance_of_as_many(seen: int, drawn: int, having: int, of_all: int) -> float:
    """Return the probability that at least as many have a property in a random sample of the same size.

    >>> round(_chance_of_as_many(2, 2, 5, 10), 4)  # 5/10 of 4/9
    0.2222
    """

    def log_ways(count: int, chosen: int) -> float:
        return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)

    lacking = of_all - having
    numbers = range(max(seen, drawn - lacking), min(drawn, having) + 1)
    every_way = log_ways(of_all, drawn)
    return math.fsum(math.exp(log_ways(having, each) + log_ways(lacking, drawn - each) - every_way) for each in numbers)


# ndcg/explanations/check.py: The definition that a function of nDCG computes: of which libraries, and with which slips.

DOUBTFUL = 0.2  # of the answers: if no convention agrees with as many, the arguments are probably wrong
NEAREST_SHOWN = 5  # conventions in the table
WITHOUT_ORDER = ("ranx", "ranx_burges", "allrank")  # libraries that order ties of longer lists in no fixed way


WRAPPER = (
    "  def wrapped(run, qrels, k):  # {document: score}, {document: relevance}, the cutoff",
    "      ranking = sorted(run, key=run.get, reverse=True)[:k]",
    "      return my_ndcg([qrels.get(document, 0) for document in ranking], list(qrels.values()))",
)


class Example(NamedTuple):
    """The smallest ranking on which a function and a convention differ.

    Attributes:
        query: the ranking.
        value: the score that the function returns.
        expected: the score by the convention.
        ideal: the ideal DCG by the convention.
        rows: for each document its id, score (None if not retrieved), relevance (None if not judged), gain, discount,
            and the product of the last two.
    """

    query: Query
    value: float
    expected: float
    ideal: float
    rows: tuple[tuple[str, float | None, float | None, float, float, float], ...]


@dataclass(frozen=True)
class Check(Readable):
    """The definition that a function of nDCG computes.

    Attributes:
        signature: the options of the convention that the function computes; empty if it has a slip, is unknown, or if
            the function refused most rankings.
        form: the form in which the function takes rankings.
        k: the cutoff; None if whole rankings were compared.
        cases: the number of rankings that it was asked about.
        answered: the number of these for which it returned a score, or nan or None for no score.
        matches: the definitions with which all answers agree: conventions; or else slips on conventions, the one that
            was reported most often first.
        agreeing: the number of answers that agree with each convention.
        wanted: the convention that the function should compute; empty for any.
        example: the smallest ranking on which the function and the nearest convention differ, if one is near.
        notes: side effects of the function, and the common trait of the rankings that differ.
        unordered: the number of answers for rankings with ties, if no order of tied documents explains them all, but
            each is the score of some order; else 0.
        refused: whether it returned no score for most rankings, so that the others do not show what it computes.
        is_binary: whether it was asked with a relevance of 0 and 1 only, since grades give values above 1 or none.
        called: the calls that were made to find the form, in words, if the best of them explains few answers.
    """

    signature: str
    form: str
    k: int | None
    cases: int
    answered: int
    matches: tuple[Match, ...]
    agreeing: dict[str, int]
    wanted: str = ""
    example: Example | None = None
    notes: tuple[str, ...] = ()
    unordered: int = 0
    refused: bool = False
    is_binary: bool = False
    called: tuple[str, ...] = ()

    @property
    def conventions(self) -> tuple[str, ...]:
        """The conventions that the function computes, for rankings without ties if its order of these is not fixed.

        Empty if it refused most rankings: a few scores that agree do not show what it computes.
        """
        return () if self.refused else self._agreed

    @property
    def _agreed(self) -> tuple[str, ...]:
        """The conventions with which all of its scores agree."""
        return tuple(match.convention for match in self.matches if not match.slips and match.factor == 1)

    @property
    def nearest(self) -> str:
        """The convention that was wanted, or else the one of the first match, or else the one that agrees most."""
        if self.wanted:
            return self.wanted
        if self.matches:
            return self.matches[0].convention
        return max(self.agreeing, key=self.agreeing.__getitem__, default="sklearn")

    @property
    def status(self) -> int:
        """0 if the function computes a convention, or the one that was wanted; 1 if not; 2 if it gave no score.

        3 if it gave no score for most rankings, or computes a convention only for a relevance of 0 and 1.
        """
        if not self.answered:
            return 2
        if self.refused:
            return 3
        wanted = self.wanted in self.conventions and (not self.unordered or self.wanted in WITHOUT_ORDER)
        if not (wanted if self.wanted else self.conventions):
            return 1
        return 3 if self.is_binary else 0

    @property
    def is_doubtful(self) -> bool:
        """Whether the function is probably called in another way: nothing explains its answers."""
        return not self.matches and max(self.agreeing.values(), default=0) < DOUBTFUL * self.answered

    def _tables(self) -> list[Table]:
        tables = []
        if self.example is not None:
            tables = [[["rank", "document", "score", "relevance", "gain", "discount", "product"]]]
            for rank, (document, score, relevance, *numbers) in enumerate(self.example.rows, start=1):
                place = ["–", document, "–"] if score is None else [str(rank), document, f"{score:g}"]
                tables[0].append([*place, "–" if relevance is None else f"{relevance:g}", *map(number_text, numbers)])
        best = sorted(self.agreeing.items(), key=lambda item: -item[1])[:NEAREST_SHOWN]
        counts = [["convention", "rankings that agree"], *([name, f"{count:,}"] for name, count in best)]
        return [*tables, *([counts] if best else [])]

    def _remarks(self) -> list[str]:
        return [*self._verdict(), *self._difference(), *self.notes]

    def _verdict(self) -> Iterator[str]:
        """Yield in words the definition and the slips of the function."""
        if not self.answered:
            yield f"The function returned no score for any of {self.cases:,} rankings."
            yield from self._how_to_wrap()
            return
        if self.is_doubtful:
            most = max(self.agreeing.values())
            yield f"Nothing explains its answers: with any convention, at most {most:,} of {self.answered:,} agree."
            yield from self._how_to_wrap()
        of = f" for which it returned a score, of {self.cases:,}" if self.answered < self.cases else ""
        agree = f"all {self.answered:,} rankings agree{of}"
        if self.unordered:
            agree = f"all {self.answered - self.unordered:,} rankings without ties agree{of}"
        if self.conventions:
            yield f"The function computes the nDCG of {', '.join(self.conventions)}: {agree}."
        if self.refused:
            yield f"The function returned a score for only {self.answered:,} of {self.cases:,} rankings."
            if self._agreed:
                agreed = ", ".join(self._agreed)
                yield f"They agree with the nDCG of {agreed}, but do not show what it computes."
        if self.wanted and self.wanted not in self._agreed:
            count = self.agreeing[self.wanted]
            yield f"It does not compute the nDCG of {self.wanted}: {count:,} of {self.answered:,} rankings agree."
        if not self.matches and not self.is_doubtful:
            count = self.agreeing[self.nearest]
            yield "No convention and no known slip explains it."
            yield f"The nearest convention is {self.nearest}: {count:,} of {self.answered:,} rankings agree."
        yield from self._slips(agree)
        if self.unordered:
            yield (
                f"Its order of tied documents is not fixed: no order explains its scores for the {self.unordered:,} "
                "rankings with ties, but each is the score of some order."
            )

    def _how_to_wrap(self) -> Iterator[str]:
        """Yield in words how the function was called, and how to call it in another way."""
        yield "It probably takes other arguments than those that it was called with, in any order:"
        yield from (f"  ({each})" for each in self.called)
        yield "Wrap it in a function that takes one of these, and check that one, for example:"
        yield from WRAPPER

    def _slips(self, agree: str) -> Iterator[str]:
        """Yield in words the slips and the factor of the function."""
        on_conventions: dict[tuple[Any, ...], list[str]] = {}
        for match in self.matches:
            if match.convention not in self._agreed:
                on_conventions.setdefault(match[1:], []).append(match.convention)
        for at, ((names, factor), conventions) in enumerate(on_conventions.items()):
            slips = [slip_named(name) for name in names]
            times = "" if factor == 1 else f"{factor:.5g} times "
            slip = f" with {'a slip' if len(names) == 1 else 'slips'}: {' and '.join(names)}" if names else ""
            yield f"{'Or it' if at else 'It'} computes {times}the nDCG of {', '.join(conventions)}{slip}: {agree}."
            yield from ([FACTORS[factor]] if factor in FACTORS else [])
            if round(factor, 3) == 2 and FORMS[self.form].is_batch:
                yield "It returns the sum over the rankings, not their mean."
            yield from (f"{slip.meaning}{slip.reported}" for slip in slips)

    def _difference(self) -> Iterator[str]:
        """Yield the sums of the smallest ranking on which the function differs."""
        if (example := self.example) is None:
            return
        name, documents = result_name("nDCG", example.query.k), len(example.rows)
        sums = f"{number_text(math.fsum(row[-1] for row in example.rows))} / {number_text(example.ideal)}"
        returned = "no score" if math.isnan(example.value) else number_text(example.value)
        smallest = f"The smallest ranking on which it differs from {self.nearest} has {documents} document"
        expected = f"{name} of {self.nearest} is {sums} = {number_text(example.expected)}"
        yield f"{smallest}{'s' * (documents != 1)}. {expected}; the function returns {returned}."
        yield arguments_text(example.query, self.form)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        values: dict[str, Any] = without_nan(vars(self))
        if self.example is not None:
            del values["example"]["query"]["missing"]
        return values


def check(
    function: NDCGFunction,
    *,
    k: int | None = 10,
    form: str | None = None,
    convention: str | None = None,
    cases: int = 200,
    seed: int = 0,
) -> Check:
    """Find out which library's nDCG a function computes, or how it goes wrong.

    The function is asked for the nDCG of small random rankings, one query at a time: with ties, unjudged and
    unretrieved documents, graded relevance, no relevant documents, more and fewer documents than the cutoff. It is not
    asked about rankings that its form cannot express.

    Args:
        function: returns the nDCG of one query, from a ranking and the cutoff; if `k` is None, it may take the ranking
            only.
        k: the cutoff; None for the whole list.
        form: how the function takes a ranking, such as "mappings" (`{document: score}`, `{document: relevance}`, k) or
            "sets" (ids of documents, best first, the set of those that are relevant, k); docs/slips.md lists all. By
            default, the form in which some definition explains most answers. The arguments may have another order.
        convention: the convention that the function should compute; by default any.
        cases: the number of rankings.
        seed: the random seed of the rankings.

    Returns:
        What the function computes. `print(result)` says it in words, with the smallest ranking on which the function
        differs from the nearest convention.

    Raises:
        ValueError: names the argument, its value and the allowed ones.
        TypeError: `function` cannot be called.

    >>> import math
    >>> def ndcg_at(run, qrels, k):
    ...     grades = [qrels.get(document, 0) for document in sorted(run, key=run.get, reverse=True)][:k]
    ...     dcg = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades))
    ...     ideal = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(grades, reverse=True)))
    ...     return dcg / ideal if ideal else 0.0
    >>> result = check(ndcg_at)
    >>> result.matches[0].slips
    ('ideal from the top k retrieved',)
    >>> result.example.value, result.example.expected
    (1.0, 0.25)
    """
    if not callable(function):
        raise TypeError(f"function must be a function; got {shown(function)}")
    if inspect.iscoroutinefunction(function):
        raise ValueError("function must return a score, but is async: wrap it in a function that calls asyncio.run")
    if k is not None:
        whole("k", k, 1, 10**3)
    whole("cases", cases, 1, 10**5)
    whole("seed", seed, 0)
    for name, value, words in (("form", form, tuple(FORMS)), ("convention", convention, tuple(CONVENTIONS))):
        if value is not None:
            choice(name, value, words)
    forms = tuple(FORMS) if form is None else (form,)
    calls = possible_calls(function, k, forms)
    if not calls:
        raise ValueError(
            "function must take a ranking and a cutoff; wrap it in a function of (run, qrels, k), which are "
            "{document: score}, {document: relevance} and the cutoff"
        )
    found: list[Check] = []
    for call, first, *_ in likely_calls(function, calls, seed):
        if call.is_binary and any(each.matches for each in found):
            break
        found.append(_compared(ask(function, call, cases, seed), first, convention or ""))
        if _slips(found[-1]) < 2:
            break
    best = min(found, key=_slips)
    if best.k is None and k is not None:
        best = replace(best, notes=("It takes no cutoff, so whole rankings were compared.", *best.notes))
    if best.answered and not best.is_doubtful:
        return best
    return replace(best, called=tuple({each._replace(order=tuple(sorted(each.order))).text: None for each in calls}))


def _slips(result: Check) -> float:
    """Return the fewest slips that explain the answers."""
    return min((len(match.slips) for match in result.matches), default=math.inf)


def _compared(asked: Asked, first: Answers, wanted: str) -> Check:
    """Compare answers with every definition."""
    call, notes = asked.asker.call, [*_explanations_check_notes(asked)]
    result = Check("", call.form, call.k, asked.cases, 0, (), {}, wanted, is_binary=call.is_binary)
    if asked.answers is None:
        return replace(result, notes=tuple(notes))
    rounded, of_0_and_1 = asked.answers.tolerance, {0.0, 1.0}.issuperset(asked.answers.values.flat)
    for tolerance in {FLOAT32: None, rounded: None} if of_0_and_1 else (rounded,):  # some definitions give only these
        answers = asked.answers._replace(tolerance=tolerance)
        shows_nothing = asked.refused and len(np.unique(answers.values)) == 1
        matches, unordered = ([], 0) if shows_nothing else explain_answers(answers, first._replace(tolerance=tolerance))
        if matches:
            break
    queries = answers.queries
    expected = {name: queries.scores({"convention": name}) for name in CONVENTIONS}
    agree = {name: answers.agree(each) for name, each in expected.items()}
    result = replace(
        result,
        answered=len(answers.plain),
        refused=asked.refused,
        matches=tuple(matches),
        unordered=unordered,
        agreeing={name: int(np.count_nonzero(each)) for name, each in agree.items()},
    )
    differing = ~agree[result.nearest]
    if answers.tolerance > VISIBLE:
        decimals = decimals_of(answers.values)
        rounds = f"It rounds to {decimals} decimal{'s' * (decimals != 1)}"
        notes.insert(0, f"{rounds}, which hides differences below {answers.tolerance:g}; ask for more cases.")
    if differing.any() and not result.is_doubtful and not (unordered and result.status == 0):
        visible = differing & _differ_visibly(answers.values[0], expected[result.nearest], answers.tolerance)
        own = compress(queries.changed(()), visible if visible.any() else differing)
        result = replace(result, example=_smallest_example(asked.asker, own, result.nearest, answers.tolerance))
        if not matches:
            properties = properties_of(queries.rankings(range(result.answered), (), Options.parse()), result.k)
            notes[:0] = in_common(properties, differing, "rankings", result.nearest)
    if asked.asker.counts_duplicates():
        notes.append(f"{DUPLICATES_COUNTED.meaning}{DUPLICATES_COUNTED.reported}")
    if result.form == "ids" and OF_A_SET not in asked.asker.habits:
        as_sets = Asker(asked.asker.function, asked.asker.call._replace(form="sets"))
        if as_sets.depends_on_sets(first.queries.changed(())):
            notes.append("If the relevant ids are a set, its answers depend on the order of that set.")
    signature = _signature(result, answers) if result.conventions else ""
    return replace(result, notes=tuple(notes), signature=signature)


def _explanations_check_notes(asked: Asked) -> Iterator[str]:
    """Yield in words how a function was called, and its side effects."""
    call = asked.asker.call
    form = FORMS[call.form]
    if call.cutoff is None and call.k is not None:
        yield f"It takes no cutoff. It was compared with nDCG@{call.k}."
    if call.form in ("relevance", "relevance_rows"):
        lacking = "relevant documents that were not retrieved are not in its ideal"
        yield f"It takes only the relevance of a ranking: unless this has all judged documents, {lacking}."
    if call.is_binary:
        yield "It was asked with a relevance of 0 and 1: with grades, it returns values above 1 or no score."
    if form.is_batch:
        yield f"It takes several rankings at once. It was called with ({call.text}) of two copies of each."
    elif call.order != tuple(range(len(call.order))):
        yield f"It was called with ({call.text})."
    for name, habit in asked.asker.habits.items():
        example = f", such as {habit.example}" if habit.example else ""
        yield f"It {name}: {habit.times:,} of {asked.cases:,} rankings{example}."


def _signature(result: Check, answers: Answers) -> str:
    """Return the options of the first convention that answers agree with, without those that no answer shows."""
    name = result.conventions[0]
    own, seen = CONVENTIONS[name].options, {"v", "log"}
    rows = answers.plain if result.unordered else np.ones(len(answers.plain), bool)
    values = {option: tuple(each.words) for option, each in OPTIONS.items() if option in own and each.words}
    for option, others in {**values, "zero_division": (0.0, 1.0, math.nan), "judged_only": (False, True)}.items():
        chosen = own.get(option, False)
        changed = [
            answers.queries.scores({"convention": name, option: value}) for value in others if str(value) != str(chosen)
        ]
        if not any(answers.agree(each)[rows].all() for each in changed):
            seen.add(OPTIONS[option].said_as)
    endless = result.k is None and own["ideal"] == "full"
    scores, *options = Options.parse(k=1 if endless else result.k, convention=name).signature().split("|")
    return "|".join([scores, *(each for each in options if each.partition(":")[0] in seen)])


def _differ_visibly(values: Floats, expected: Floats, tolerance: float) -> Mask:
    """Return which values differ so much that a reader sees it."""
    return ~np.isclose(values, expected, rtol=0, atol=max(tolerance, VISIBLE), equal_nan=True)


def _smallest_example(asker: Asker, queries: Iterable[Query], convention: str, tolerance: float) -> Example:
    """Return a ranking on which a function differs from a convention, from which nothing can be taken away."""
    options = {"convention": convention}

    def differs(query: Query) -> bool:
        answer = asker.once(query)
        if answer.problem and answer.problem not in NO_VALUE:
            # It raises an error or returns no number, so it has no score that could differ.
            return False
        expected = query_scores([query], options)
        return bool(_differ_visibly(np.array([answer.value]), expected, tolerance).all())

    query = min(queries, key=lambda each: len({*each.run, *each.qrels}))
    while (simpler := next(filter(differs, _simpler(query, asker.call.shows)), None)) is not None:
        query = simpler
    return _explanations_check_example(query, asker.once(query).value, options)


def _simpler(query: Query, shows: Shows) -> Iterator[Query]:
    """Yield rankings with a document less, a judgment less, a smaller cutoff or plainer numbers."""
    for document in {**query.run, **query.qrels}:
        smaller = query._replace(run=_without(query.run, document), qrels=_without(query.qrels, document))
        if smaller.qrels and (shows.several or any(smaller.qrels.values())):
            yield smaller
    if shows.documents:
        yield from (query._replace(run=_without(query.run, document)) for document in query.run)
        if len(query.qrels) > 1 and shows.several:
            yield from (query._replace(qrels=_without(query.qrels, document)) for document in query.qrels)
    if query.k is not None and query.k > 1:
        yield from (query._replace(k=k) for k in (1, query.k - 1))
    for document, relevance in query.qrels.items() if shows.several else ():
        yield from (query._replace(qrels={**query.qrels, document: each}) for each in (0, 1) if relevance > each)
    if shows.scores:
        levels = sorted(set(query.run.values()))
        run = {document: float(levels.index(score) + 1) for document, score in query.run.items()}
        if run != query.run:
            yield query._replace(run=run)


def _without(documents: Mapping[Any, float], one: Any) -> dict[Any, float]:
    return {document: value for document, value in documents.items() if document != one}


def _explanations_check_example(query: Query, value: float, options: Mapping[str, Any]) -> Example:
    """Return a ranking with its sums by a convention."""
    rows = []
    for document in [*ranked(query), *(each for each in query.qrels if each not in query.run)]:
        relevance = query.qrels.get(document)
        gain = product = 0.0
        if relevance is not None:  # the DCG is the sum over documents of the DCG of each alone
            alone = [query._replace(qrels={document: relevance}), Query({document: 1}, {document: relevance}, 1)]
            product, gain = (
                float(query_scores([each], options, measure)[0])
                for each, measure in zip(alone, ("DCG", "CG"), strict=True)
            )
        discount = product / gain if gain else math.nan
        rows.append((str(document), query.run.get(document), relevance, gain, discount, product))
    expected, ideal = (float(query_scores([query], options, measure)[0]) for measure in ("nDCG", "IDCG"))
    return Example(query, value, expected, ideal, tuple(rows))


# ndcg/inputs/slices.py: Slices: the queries with the same value of `by`, such as a language, a segment or a length.

Value = str | int | bool | None
# The Arrow types that values may have, and the types that they are converted to.
TYPES = {
    pa.types.is_string: pa.large_string(),
    pa.types.is_large_string: pa.large_string(),
    pa.types.is_string_view: pa.large_string(),
    pa.types.is_integer: pa.int64(),
    pa.types.is_floating: pa.int64(),  # pandas stores whole numbers as floats if some are missing
    pa.types.is_boolean: pa.bool_(),
    pa.types.is_null: pa.null(),
}


class Slices(NamedTuple):
    """A value for each query."""

    values: list[Value]  # the distinct values, ascending; None, for queries without a slice, is the last
    code: NDArray[np.int64]  # the value of each query, as an index into these


def slices_of(by: Any, query_ids: NDArray[Any] | None, queries: int) -> Slices:
    """Return the slices of queries, from a value for each, by position or by its id."""
    if isinstance(by, Mapping):
        by = in_order_of_ids("by", by, query_ids, "a value, None for no slice")
    slices = by if isinstance(by, Slices) else read_slices(by)
    if len(slices.code) != queries:
        raise ValueError(f"by must hold one value for each of {queries} queries; got {len(slices.code)}")
    return slices


def read_slices(values: Any) -> Slices:
    """Return the slices of a sequence of values, one for each query or row."""
    column = _column(values)
    distinct = pc.unique(column).to_pylist()
    ordered = sorted(each for each in distinct if each is not None) + [None] * (None in distinct)
    code = pc.index_in(column, value_set=pa.array(ordered, column.type))
    return Slices(ordered, code.to_numpy().astype(np.int64))


def crossed(columns: Sequence[Any]) -> list[str]:
    """Return the slices of several columns together.

    >>> crossed([["shoes", "hats"], ["phone", None]]), crossed([["a, b"], ["c"]])
    (['shoes, phone', 'hats, (none)'], ["'a, b', c"])
    """

    def text(value: Value) -> str:
        return shown(value) if isinstance(value, str) and ", " in value else slice_name(value)

    texts = (np.array([text(value) for value in values], object)[code] for values, code in map(read_slices, columns))
    return list(map(", ".join, zip(*texts, strict=False)))


def slice_name(value: Value) -> str:
    """Return the value of a slice as tables show it, on one line.

    >>> slice_name("en"), slice_name(None), slice_name("")
    ('en', '(none)', "''")
    """
    if value is None:
        return "(none)"
    plain = isinstance(value, str) and value.isprintable() and value.strip() and value != "(none)"
    return str(value) if plain else shown(value)


def in_order_of_ids(argument: str, by_id: Mapping[Any, Any], query_ids: Any, what: str) -> list[Any]:
    """Return the values of a mapping by query id, in the order of the queries."""
    if query_ids is None:
        problem = "has an id for each value, but the queries have none; give a sequence in the order of the queries"
        raise InputError(f"{mark(argument)} {problem}")
    check_ids(argument, by_id, nested=False)
    ids = query_ids.to_pylist() if isinstance(query_ids, ARROW) else list(query_ids)
    if lacking := [each for each in ids if each not in by_id]:
        kinds = [{id_kind(type(each)) for each in side} for side in (by_id, ids)]
        if by_id and kinds[0].isdisjoint(kinds[1]):
            types = f"{shown(next(iter(by_id)))} in {argument}, {shown(ids[0])} in the {mark('references')}"
            raise InputError(f"ids of queries are of another type, such as {types}; give both the same type", argument)
        problem = f"query {shown(lacking[0])} is missing ({len(lacking)} such queries)"
        raise InputError(f"{problem}; give each query of the {mark('references')} {what}", argument)
    return [by_id[each] for each in ids]


def _column(values: Any) -> "pa.Array | pa.ChunkedArray":
    """Return values as a column of text, integers of 64 bits, booleans or nulls."""
    values = list(values) if isinstance(values, range) else plain_in_order("by", values)
    if isinstance(values, np.ndarray) and values.ndim == 1:  # a list has None for masked values, but no times
        values = pa.array(values) if values.dtype.kind in "mM" else values.tolist()
    if not isinstance(values, (list, tuple, *ARROW)):
        given = f"shape {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
        raise ValueError(f"by must be a sequence with one value per query, or a mapping by their ids; got {given}")
    try:
        column = values if isinstance(values, ARROW) else pa.array(values, from_pandas=True)
        column = decoded(column) if pa.types.is_dictionary(column.type) else column
        return column.cast(next(target for is_such, target in TYPES.items() if is_such(column.type)))
    except (pa.ArrowException, StopIteration, TypeError, OverflowError, UnicodeError):
        kinds = {type(each).__name__ for each in values if each is not None}
        given = str(values.type) if isinstance(values, ARROW) else " and ".join(sorted(kinds))
        problem = "must be all text, all integers of 64 bits or all booleans, None for no slice"
        raise ValueError(f"by {problem}; got {shown(given)[1:-1]}; give others as text, fractions as ranges") from None


# ndcg/scores/frames.py: Replace names of columns, as arguments, by the columns of a DataFrame; weights and slices have a row per query.

NOT_SIDES = Inputs._fields[2:]
FIRST_QUERIES = 100  # of a table, which tell whether it holds several systems


def from_frame(data: Any, inputs: Inputs) -> Inputs:
    """Return inputs, with names of columns replaced by the columns of a DataFrame."""
    if data is not None and inputs.fields is not None:
        raise ValueError(
            "fields are for rankings given as arguments; with data, name its columns by predictions=, "
            "references=, query_ids= and document_ids="
        )
    others = inputs.exclude, inputs.sample_weight, inputs.by
    nothing_named = data is None and all(value is None for value in others)
    return inputs if nothing_named else Inputs(**columns_of(data, inputs._asdict()))


def columns_of(data: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments, with names replaced by the columns of a DataFrame, or of a file for `by`.

    In a column of `sample_weight` or `by`, each row has the value of its query. `by` may name
    several columns.
    """
    named = {name: value for name, value in arguments.items() if name != "exclude"}
    by_names = _several_names(named["by"]) if data is not None else {}
    if by_names:
        del named["by"]
        named |= by_names
    columns = dict(zip(named, named_columns(data, **named), strict=True))
    if by_names:
        columns["by"] = crossed([columns.pop(name) for name in by_names])
    query_ids = columns["query_ids"]
    if query_ids is not None:
        for name, of_queries in _BY_QUERY.items():
            if columns[name] is not arguments[name]:
                both = settled({"query_ids": query_ids, name: columns[name]})
                columns[name] = of_queries(*both.values())
    if data is not None:
        _refuse_several_systems(data, arguments, query_ids)
        _refuse_empty_rows(columns)
    elif is_path(columns["by"]):
        columns["by"] = _slices_named(columns["by"], arguments)
    sides = [columns[name] for name in columns if name not in _BY_QUERY]
    for name in _BY_QUERY:
        columns[name] = values_by_query(name, columns[name], sides)
    return {**columns, "exclude": _excluded_pairs(data, arguments["exclude"], arguments)}


def _refuse_several_systems(data: Any, arguments: Mapping[str, Any], query_ids: Any) -> None:
    """Raise an error for a table in which the first queries have a document in several rows.

    Its rows are those of several systems, unless the documents have no ids.
    """
    frame = frame_of("data", listed(data))
    if frame is None or query_ids is None or arguments["document_ids"] is not None:
        return
    documents = spelled(frame.names, DOCUMENT[0])
    if len(documents) != 1 or is_database_query(data):
        return
    codes, ids = encode_ids("query_ids", settled({"query_ids": query_ids})["query_ids"])
    first = codes < FIRST_QUERIES
    (column,) = frame.read(documents)
    cells = settled({"data": column})["data"]
    try:
        of_rows = id_column("data", cells)
    except ValueError:
        return  # the column is not asked for
    if len(of_rows) != len(codes):
        return
    of_rows = of_rows.filter(pa.array(first))
    rows = Columns(codes[first], ids, of_rows, np.zeros(int(first.sum())), hashes_of(of_rows))
    repeated = repeated_row(rows)
    if repeated is None:
        return
    numbers = np.flatnonzero(first)
    row, before = (int(numbers[number]) for number in repeated)
    document, query = rows.words(repeated[0])
    problem = f"document {document} of query {query} is in row {before} and in row {row}"
    hint = "give the rows of one system, or name the documents, " + mark("document_ids", documents[0])
    raise InputError(f"{problem}; {hint}", "data")


def _refuse_empty_rows(columns: Mapping[str, Any]) -> None:
    """Raise an error for a row of a table that has neither a score, of any system, nor a relevance."""
    if columns["query_ids"] is None:
        return
    sides = {name: column for name, column in columns.items() if name not in NOT_SIDES}
    empty: NDArray[np.bool_] | None = None
    for name, column in settled(sides).items():
        missing = _missing(column)
        if missing is None:
            return
        if empty is not None and len(empty) != len(missing):
            return  # another error says so
        empty = missing if empty is None else empty & missing
    if empty is not None and empty.any():
        problem = f"row {int(empty.argmax())} has neither a score nor a relevance"
        raise InputError(f"{problem}; give one of them, or leave the row out", "data")


def _missing(column: Any) -> NDArray[np.bool_] | None:
    """Return which values of a column are missing; None if none is."""
    if isinstance(column, ARROW):
        nulls = column.is_null()
        return np.asarray(nulls, bool) if column.null_count else None
    if isinstance(column, (list, tuple)) and None in column:
        return np.array([value is None for value in column], bool)
    return None


def _slices_named(by: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the slice of each query from a column of one of two tables, or else from a file."""
    sides = {name: side for name, side in arguments.items() if name not in NOT_SIDES}
    for argument, side in sorted(sides.items(), key=lambda item: item[0] != "references"):
        frame = None if is_path(side) else frame_of(argument, side)
        if frame is None or by not in frame.names:
            continue
        names = names_of_side("qrels", arguments.get("fields"))
        fields = Fields.of_table(dict.fromkeys(frame.names))
        queries = names.candidates("query", fields, QUERY)
        if len(queries) == 1:
            both = dict(zip(("query_ids", "by"), frame.read([queries[0], by]), strict=True))
            query_ids, values = settled(both).values()
            slices = _slices_by_query(query_ids, values)
            ids = encode_ids("query_ids", query_ids)[1].to_pylist()
            return {query: slices.values[code] for query, code in zip(ids, slices.code.tolist(), strict=True)}
    files = [side for name in ("references", "predictions") if is_path(side := arguments.get(name))]
    return from_file("by", by, qrels_file=files[0] if files else None)


def _several_names(by: Any) -> dict[str, str]:
    """Return the names of several columns of slices by their places; none for the values of queries."""
    if not isinstance(by, (list, tuple)) or not 1 < len(by) == len(set(map(str, by))) < 9:
        return {}
    return {f"by[{at}]": name for at, name in enumerate(by)} if all(isinstance(name, str) for name in by) else {}


def _excluded_pairs(data: Any, exclude: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the documents to exclude; of a DataFrame, the columns with the names of `query_ids` and `document_ids`."""
    names = {name: arguments[name] for name in ("query_ids", "document_ids")}
    if data is None or not any(hasattr(type(exclude), each) for each in ("columns", "column_names", "schema")):
        return exclude  # no DataFrame, or one whose columns have names of their own
    if not all(isinstance(name, str) for name in names.values()):
        problem = "is a DataFrame, but query_ids and document_ids name no columns; name the columns of data and exclude"
        raise InputError(f"{problem}, or give {{query: ids}}", "exclude")
    return Pairs(*named_columns(exclude, "exclude", **names))


def _weights_by_query(query_ids: Any, rows: Any) -> NDArray[np.float64]:
    """Return the weight of each query, from a column with a weight in each row."""

    def place(_: int, row: int | None) -> str:
        return f"row {row}"

    column = read_flat_column("sample_weight", rows, place)
    if column.present is not None:
        row = int(np.flatnonzero(~column.present)[0])
        raise InputError(f"row {row} is missing; give every row the weight of its query", "sample_weight")
    values = np.asarray(column.values, np.float64)
    return values[_first_rows("sample_weight", query_ids, values, lambda row: str(values[row]))]


def _slices_by_query(query_ids: Any, rows: Any) -> Slices:
    """Return the slice of each query, from a column with a slice in each row."""
    values, code = read_slices(rows)
    return Slices(values, code[_first_rows("by", query_ids, code, lambda row: shown(values[code[row]]))])


_BY_QUERY: dict[str, Callable[[Any, Any], Any]] = {"sample_weight": _weights_by_query, "by": _slices_by_query}


def _first_rows(argument: str, query_ids: Any, values: NDArray[Any], text: Callable[[int], str]) -> NDArray[np.int64]:
    """Return the first row of each query, if all of its rows have the same value."""
    code, ids = encode_ids("query_ids", query_ids)
    if len(values) != len(code):
        raise InputError(f"{mark(argument)} has {len(values)} rows and query_ids {len(code)}; give both for every row")
    first = np.zeros(len(ids), np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    if (other := np.flatnonzero(values != values[first][code])).size:
        row = int(other[0])
        query, before = shown(ids[int(code[row])].as_py()), int(first[code[row]])
        noun = {"sample_weight": "weight", "by": "slice"}[argument]
        raise InputError(
            f"query {query} is {text(row)} in row {row} and {text(before)} in row {before}; "
            f"give all rows of a query the same {noun}",
            argument,
        )
    return first


# ndcg/scores/means.py: The mean of a result over queries, and the weight of each query in it.

def mean(name: str, values: NDArray[np.float64], weight: NDArray[np.float64] | None = None) -> float:
    """Return the mean of a result over the queries that have a value; it is an error if none has."""
    if weight is None and values.size:  # nearly always accurate enough
        with np.errstate(over="ignore"):
            value = float(values.mean())
        if math.isfinite(value):
            return value
    valued = ~np.isnan(values)
    values, weight = values[valued], None if weight is None else weight[valued]
    if not values.size or (weight is not None and not weight.any()):
        problem = (
            f"no query of positive weight has a value: {mark('zero_division', math.nan)} excludes those with no "
            f"relevant documents, {mark('missing', 'skip')} those that are missing from the {mark('predictions')}"
        )
        hint = f"{mark('zero_division', 0)}, or {mark('missing', 'empty')}, gives them one"
        raise InputError(f"{problem}; {hint}", name)
    with np.errstate(over="ignore"):
        value = float(np.average(values, weights=weight))
    if not math.isfinite(value):
        raise ValueError(f"{name}: the sum over queries overflows; scale the gains")
    return value


def weights(sample_weight: Any, queries: int, query_ids: Any = None) -> NDArray[np.float64] | None:
    """Return a weight for each query, from a sequence or a mapping of their ids, or None without weights.

    Weights are divided by a power of two, so that each is at most 1 and no sum overflows.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Mapping):
        sample_weight = in_order_of_ids("sample_weight", sample_weight, query_ids, "a weight")
    given = plain_in_order("sample_weight", sample_weight)
    given = given if isinstance(given, (list, tuple)) else np.asanyarray(given)
    shape = f"shape {np.shape(given)}" if isinstance(given, np.ndarray) and given.ndim != 1 else len(given)
    if shape != queries:
        raise InputError(f"{mark('sample_weight')} must hold one weight for each of {queries} queries; got {shape}")
    numbers = given
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "biuf" or np.ma.is_masked(given):
        numbers = list(map(number, given))
        for query, value in enumerate(numbers):
            if not is_real(value) and not isinstance(value, (bool, np.bool_)):
                raise InputError(f"must be a number; got {shown(given[query])}", "sample_weight", f"query {query}")
    weight = np.asarray(numbers, np.float64)
    invalid = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if invalid.size:
        query = int(invalid[0])
        raise InputError(f"must be finite and not negative; got {weight[query]}", "sample_weight", f"query {query}")
    if not weight.any():
        raise InputError(f"{mark('sample_weight')} is 0 for every query; give at least one query a weight")
    return np.asarray(np.ldexp(weight, -np.frexp(weight.max())[1]))


# ndcg/show/drawing.py: Draw results with Matplotlib: values with their intervals, in panels side by side.

IN_A_ROW = 4  # panels
SYMBOLS = "os^vD<>pPX*h"  # of dots, since the ten colors repeat, and some readers do not see all of them
LINES = ("-", "--", ":", "-.")


class Mark(NamedTuple):
    """A value in a plot: a dot on the line of its interval."""

    value: float  # the position of the dot
    low: float  # the lower end of the interval; nan if there is none
    high: float  # the upper end
    filled: bool = True  # whether the dot is filled


def figure_of(
    panels: int, height: float = 4.0, width: float | None = None, *, ax: Any = None, figsize: Any = None
) -> tuple[Any, list[Any]]:
    """Return a figure without a window, with its axes in rows of four; or the user's axes with their figure.

    Height and width are those of a panel in inches, `figsize` that of the whole figure.
    """
    try:
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_library("plot", "Matplotlib", "matplotlib") from None
    if ax is not None:
        axes = np.ravel(np.array(ax, object)).tolist()
        if not all(isinstance(each, Axes) for each in axes) or not 1 <= len(axes) <= panels:
            several = f", or a list of up to {panels}" if panels > 1 else ""
            raise ValueError(f"ax must be Matplotlib Axes{several}; got {shown(ax)}")
        if figsize is not None:
            raise ValueError(
                "figsize sets the size of a new figure, but ax belongs to one already; pass only one of the two"
            )
        return axes[0].figure, axes
    rows, columns = -(-panels // IN_A_ROW), min(panels, IN_A_ROW)
    if figsize is None:
        figsize = columns * ((7 if panels == 1 else 5) if width is None else width), rows * height
    is_pair = isinstance(figsize, (list, tuple)) and len(figsize) == 2
    if not is_pair or not all(is_real(each) and 0 < each < np.inf for each in figsize):
        raise ValueError(f"figsize must be a width and a height in inches, such as (7, 4); got {shown(figsize)}")
    figure = Figure(figsize=figsize, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for unused in axes[panels:]:
        unused.remove()
    return figure, axes[:panels]


def draw_mark(axes: Any, mark: Mark, at: float, color: str, symbol: str = "o", *, upright: bool = False) -> None:
    """Draw a value with its interval at a height, or upright, at a position of the other axis."""
    line, dot = ([mark.low, mark.high], [at, at]), (mark.value, at)
    if upright:
        line, dot = line[::-1], dot[::-1]
    axes.plot(*line, color=color, linewidth=2)
    axes.plot(*dot, symbol, color=color, markerfacecolor=color if mark.filled else axes.get_facecolor())


def draw_rows(axes: Any, rows: Sequence[tuple[str, Sequence[Mark]]], labels: Sequence[str] = ()) -> None:
    """Draw rows of values with their intervals, the first on top; labels name the values of a row in a legend.

    The values of a row are close together, with different colors and symbols.
    """
    for at, (_, marks) in enumerate(rows):
        for number, mark in enumerate(marks):
            height = at + ((number + 0.5) / len(marks) - 0.5) * 0.75
            draw_mark(axes, mark, height, f"C{number}", SYMBOLS[number % len(SYMBOLS)])
    for number, label in enumerate(labels):  # which the first row may lack
        symbol = SYMBOLS[number % len(SYMBOLS)]
        axes.plot([], [], color=f"C{number}", marker=symbol, linewidth=2, label=label.replace("$", r"\$"))
    name_rows(axes, [name for name, _ in rows])


def name_rows(axes: Any, names: Sequence[str], heights: Sequence[float] | None = None) -> None:
    """Label the rows, the first on top, and values sparsely; a dollar sign is not math."""
    heights = range(len(names)) if heights is None else heights
    axes.set_yticks(heights, names)
    for tick in axes.get_yticklabels():
        tick.set_parse_math(False)
    axes.locator_params(axis="x", nbins=5)  # more overlap in a narrow panel
    axes.set_ylim(max(heights) + 0.6, min(heights) - 0.6)


def legend_above(axes: Any) -> None:
    """Add a legend above the axes, where it hides no point."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)


# ndcg/explanations/combination.py: Describe options that give reported scores as a few changes of a convention, for Python and the shell.

class Combination(NamedTuple):
    """Options that give the reported scores.

    Attributes:
        convention: the convention that differs in the fewest options.
        changed: the options that differ from it, with their values; `k` among them if the cutoff is another.
        score: the mean under these options.
        given: the options that the caller set, and the cutoff, unless they are changed.
    """

    convention: str
    changed: dict[str, Any]
    score: float
    given: dict[str, Any] = {}  # noqa: RUF012  # never changed

    @property
    def options(self) -> dict[str, Any]:
        """The options of `compute`."""
        return {"convention": self.convention, **self.given, **self.changed}

    @property
    def call(self) -> str:
        """The options as Python arguments.

        >>> Combination("rectools", {"gain": "exponential", "k": 20}, 0.283).call
        "convention='rectools', gain='exponential', k=20"
        """
        return ", ".join(f"{name}={_python_text(value)}" for name, value in self.options.items())

    @property
    def flags(self) -> str:
        """The options as arguments in the shell.

        >>> Combination("rectools", {"judged_only": True, "k": None}, 0.283).flags
        '--convention rectools --judged-only -k all'
        """
        words = []
        for name, value in self.options.items():
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            if value is not False:
                words.append(flag if value is True else f"{flag} {_shell_text(value)}")
        return " ".join(words)

    @property
    def marked(self) -> str:
        """The combination in words, with its options marked."""
        texts = {name: "the whole list" if value is None else value for name, value in self.changed.items()}
        changed = (mark(name, self.changed[name], said=f"{name}={text}") for name, text in texts.items())
        return f"{self.convention}, but {' and '.join(changed)}" if texts else self.convention

    def __str__(self) -> str:
        return worded(self)


def _python_text(value: Any) -> str:
    return 'float("nan")' if isinstance(value, float) and np.isnan(value) else repr(value)


def _shell_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return shlex.quote(text_of_gain(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(_shell_text, value))
    return "all" if value is None else str(value)


# ndcg/explanations/search.py: Search for combinations of options that give reported scores, and for slips, for papers with their own code.

USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)
SHORT_RANKING = 10  # every cutoff is tried if no ranking has more documents than this
OF_DCG = ("gain", "discount", "negative_relevance", "ties")  # as well as the options that change how rankings are read
AVERAGING = ("zero_division", "missing")
MOST_DOCUMENTS = 100_000  # the most documents for which slips are tried, since these are plain Python
SLIPS_TRIED_ON = ("sklearn", "trec_eval", "ranx", "lightgbm", "spark")
WIDER = 100  # matches by chance are counted in a window this many times as wide as the range of a match
# The options that are searched, with their values. If values cannot differ on some rankings, only the first is tried.
VALUES: dict[str, Sequence[Any]] = {
    "gain": tuple(OPTIONS["gain"].words),
    "discount": tuple(OPTIONS["discount"].words),
    "ideal": tuple(OPTIONS["ideal"].words),
    "score_dtype": tuple(OPTIONS["score_dtype"].words),
    "ties": tuple(OPTIONS["ties"].words),
    "zero_division": (0.0, 1.0, math.nan, PERFECT_IF_EMPTY),
    "negative_relevance": ("clip", "keep"),
    "judged_only": (False, True),
    "missing": ("empty", "skip"),
}


class Evidence(NamedTuple):
    """A reported score, or the reported values of all queries."""

    scores: Floats  # the mean, as an array of one, or the value of each query; nan for a query without one
    precision: float  # the tolerance of a match
    cutoff: tuple[int | None, ...] = ()  # a tuple with the cutoff of the score; empty if it is unknown
    of_queries: bool = False  # whether these are the values of the queries


class Searched(NamedTuple):
    """The rankings, the known options and the evidence of a search."""

    read: Callable[[Options], Rankings]  # returns the rankings under some options
    given: Mapping[str, Any]  # the options that are known
    k: int | None  # the cutoff of the caller
    weight: Floats | None  # the weight of each query
    evidence: Sequence[Evidence]  # the reported scores; a combination must match all of them

    @property
    def of_queries(self) -> Evidence | None:
        """The reported values of queries; None if scores were reported."""
        return next((each for each in self.evidence if each.of_queries), None)

    @property
    def named_cutoffs(self) -> list[int | None]:
        """The cutoffs of the reported scores; none if they are unknown."""
        return list(dict.fromkeys(cutoff for each in self.evidence for cutoff in each.cutoff))

    def values_of(self, name: str) -> Sequence[Any]:
        """Return the values of an option to try."""
        return (self.given[name],) if name in self.given else VALUES[name]

    def reported_of(self, means: Floats, cutoffs: Sequence[int | None]) -> Floats:
        """Select the means to compare with the evidence from those at all cutoffs: a row for each combination."""
        if self.named_cutoffs:
            return means[[cutoffs.index(each.cutoff[0]) for each in self.evidence]][np.newaxis]
        return means[:, np.newaxis]

    def are_near(self, scores: Floats) -> Mask:
        """Return which rows of these means match all evidence."""
        near = [abs(scores[:, at] - each.scores[0]) <= each.precision for at, each in enumerate(self.evidence)]
        return np.asarray(np.all(near, axis=0))

    def has_evidence(self, values: Floats) -> bool:
        """Return whether values of queries match all evidence, at its cutoffs or that of the caller."""
        if self.of_queries is not None:
            return bool(_near(values[0], self.of_queries).all())
        means = _means_of(values, self.weight)
        return bool(self.are_near(self.reported_of(means, self.named_cutoffs or [self.k])).all())


def search(searched: Searched) -> "Matches":
    """Try combinations of the options that are unknown, but only one of those that cannot differ on these rankings."""
    readings, without_score = _readings(searched)
    longest = max((int(np.diff(each.rankings.offsets).max()) for each in readings), default=0)
    cutoffs = {ideal: _cutoffs(searched, ideal, longest) for ideal in searched.values_of("ideal")}
    matches = Matches(searched, without_score)
    total = len(cutoffs) * sum(math.prod(map(len, each.grid.values())) for each in readings)
    with progress(total, "Searching", " options") as bar:
        for reading in readings:
            for scored in _scored_choices(searched, reading, cutoffs):
                matches.add(scored)
                bar.update(1)
    matches.combinations.sort(key=lambda each: (len(each.changed), list(CONVENTIONS).index(each.convention)))
    return matches


class _Reading(NamedTuple):
    """The rankings as some options read them."""

    chosen: dict[str, Any]  # the options that read them
    matter: frozenset[str]  # the options that may change the nDCG of a query
    grid: dict[str, Sequence[Any]]  # the values to try of the other options that the DCG depends on
    rankings: Rankings


class _Scored(NamedTuple):
    """The values of queries under some options."""

    chosen: dict[str, Any]  # the options, except those in `AVERAGING`
    matter: frozenset[str]  # the options that may change the values
    cutoffs: Sequence[int | None]  # the cutoff of each row
    values: Floats  # the nDCG of each query at each cutoff; nan without an ideal DCG
    skipped: Mask  # the queries that `missing="skip"` skips
    perfect: Mask  # the queries that `zero_division="perfect_if_empty"` counts as 1


def _readings(searched: Searched) -> tuple[list[_Reading], dict[str, str]]:
    """Return the distinct readings of the rankings, and the error of each option under which they cannot be read."""
    readings: list[_Reading] = []
    without_score: dict[str, str] = {}

    def read(name: str, chosen: Mapping[str, Any]) -> Rankings | None:
        try:
            return searched.read(Options.parse(k=1, **{**searched.given, **chosen}))
        except ValueError as error:
            without_score[f"{name}={chosen[name]}"] = Message(marked(error))
            return None

    for judged_only in searched.values_of("judged_only"):
        if readings and not properties_of(readings[0].rankings, None)["unjudged documents"].any():
            break
        read_as = []
        for score_dtype in (dtypes := searched.values_of("score_dtype")):
            chosen = {"judged_only": judged_only, "score_dtype": score_dtype}
            if (rankings := read("score_dtype", chosen)) is not None:
                read_as.append((chosen, rankings, len(rankings.queries_of_ties())))
        same = len(read_as) == len(dtypes) and len({ties for *_, ties in read_as}) == 1  # 32 bits can only add ties
        for chosen, rankings, ties in read_as[: 1 if same else None]:
            negative = properties_of(rankings, None)["a negative relevance"]
            idle = {"score_dtype": same, "ties": not ties, "negative_relevance": not negative.any()}
            matter = {name for name in VALUES if name not in AVERAGING and not idle.get(name)}
            grid = {name: searched.values_of(name)[: None if name in matter else 1] for name in OF_DCG}
            if ties and read("ties", {**chosen, "ties": "docid"}) is None:
                grid["ties"] = [each for each in grid["ties"] if each != "docid"]
            readings.append(_Reading(chosen, frozenset(matter), grid, rankings))
    return readings, without_score


def _scored_choices(
    searched: Searched, reading: _Reading, cutoffs: Mapping[str, Sequence[int | None]]
) -> Iterator[_Scored]:
    """Yield the values of queries under each choice of the options that they depend on, at the cutoffs of each ideal.

    The DCG does not depend on the ideal, and the ideal DCG does not depend on ties, so each is summed only once.
    """
    every = list(dict.fromkeys(chain.from_iterable(cutoffs.values())))
    *outer, orders = (reading.grid[name] for name in OF_DCG)
    for choice in product(*outer):
        chosen = {**reading.chosen, **dict(zip(OF_DCG, choice, strict=False))}
        try:
            options = Options.parse(k=1, **{**searched.given, **chosen})
        except ValueError:  # this discount does not allow this base of the logarithm
            continue
        ideals = {ideal: _sums_at(searched, {**chosen, "ideal": ideal}, "IDCG", of) for ideal, of in cutoffs.items()}
        if not any(ideals.values()):
            continue
        skipped, perfect = _skipped_and_perfect(searched, chosen)
        turned = sign(discounts(1, options.log_base, options.discount))
        for ties in orders:
            dcg = _sums_at(searched, {**chosen, "ties": ties}, "DCG", every)
            for ideal, idcg in ideals.items():
                known = [cutoff for cutoff in cutoffs[ideal] if cutoff in dcg and cutoff in idcg]
                if known and (known == cutoffs[ideal] or not searched.named_cutoffs):
                    above, below = (np.stack([each[cutoff] for cutoff in known]) for each in (dcg, idcg))
                    with np.errstate(divide="ignore", invalid="ignore"):
                        values = ratio(above, below, negative=True, sign=turned, zero_division=np.nan)
                    all_chosen = {**chosen, "ideal": ideal, "ties": ties}
                    yield _Scored(all_chosen, reading.matter, known, values, skipped, perfect)


def _sums_at(
    searched: Searched, chosen: Mapping[str, Any], measure: str, cutoffs: Sequence[int | None]
) -> dict[int | None, Floats]:
    """Return the DCG or the ideal DCG of each query at each cutoff at which these options have one."""
    if not cutoffs:
        return {}
    options = Options.parse(measures=[result_name(measure, each) for each in cutoffs], **{**searched.given, **chosen})
    rankings = searched.read(options)
    try:
        sums = measure_queries(**rankings.arrays(), **options.scoring)[measure]
    except ValueError as error:  # the results of the conventions show the error
        if len(cutoffs) == 1 or getattr(error, "position", None) is not None:  # the same error at every cutoff
            return {}
        alone = (_sums_at(searched, chosen, measure, [each]) for each in cutoffs)
        return {cutoff: sums for each in alone for cutoff, sums in each.items()}
    return dict(zip(cutoffs, sums, strict=True))


def _skipped_and_perfect(searched: Searched, chosen: Mapping[str, Any]) -> tuple[Mask, Mask]:
    """Return which queries are missing, and which empty ones count as perfect, according to `compute`."""
    how = {"ideal": "truncated", "zero_division": PERFECT_IF_EMPTY}
    options = Options.parse(k=1, **{**searched.given, **chosen, **how})
    rankings = searched.read(options)
    values = measure_queries(**rankings.arrays(), **options.scoring)["nDCG"][0]
    return rankings.lacking(), (values == 1) & (rankings.counts()["retrieved"] == 0)


_Averaging = tuple[float | str, str, set[str]]  # `zero_division`, `missing`, and those of them that may change a value


def _averagings(searched: Searched, scored: _Scored) -> Iterator[_Averaging]:
    """Yield the ways to count empty and missing queries, but only one of those that cannot differ."""
    empty = np.isnan(scored.values)
    some_skipped, all_empty = bool(scored.skipped.any()), bool(empty[:, scored.skipped].all())
    for at, missing in enumerate(searched.values_of("missing")[: None if some_skipped else 1]):
        filled = bool((empty & ~scored.skipped if missing == "skip" else empty).any())
        for zero in searched.values_of("zero_division")[: None if filled else 1]:
            skips = some_skipped and not (all_empty and isinstance(zero, float) and math.isnan(zero))
            if skips or at == 0:
                matter = {"zero_division": filled, "missing": skips}
                yield zero, missing, {name for name, matters in matter.items() if matters}


class Matches:
    """The combinations that match, and the scores of all that were tried, without the values of queries."""

    def __init__(self, searched: Searched, without_score: Mapping[str, str]) -> None:
        self.searched = searched
        self.without_score = without_score  # options by which the rankings cannot be read, with the error of each
        self.combinations: list[Combination] = []
        self.tried = 0  # how many combinations
        self.nearest: Combination | None = None  # the combination that gives most of the reported values of queries
        self.agreeing: Mask | None = None  # the queries that have the same value under it
        self.distinct: set[int] = set()  # hashes of the values of queries of those that match
        self._scores: list[Floats] = []  # scores of all combinations, a column for each evidence

    @property
    def by_chance(self) -> float:
        """The number that would match by chance, from the scores near the reported one; nan if unknown."""
        return _by_chance(np.concatenate(self._scores), self.searched.evidence) if self._scores else math.nan

    def add(self, scored: _Scored) -> None:
        """Compare values of queries with the reported scores, for each way to count empty and missing queries."""
        searched = self.searched
        for averaging in _averagings(searched, scored):
            values = _averaged(scored, averaging)
            if searched.of_queries is None:
                scores = searched.reported_of(_means_of(values, searched.weight), scored.cutoffs)
                matching = searched.are_near(scores)
                self._scores.append(scores[~np.isnan(scores).any(axis=1)])
                self.tried += len(self._scores[-1])
            else:
                agreeing = _near(values, searched.of_queries)
                self.tried += len(agreeing)
                matching, row = np.all(agreeing, axis=1), int(np.sum(agreeing, axis=1).argmax())
                if self.agreeing is None or np.count_nonzero(agreeing[row]) > np.count_nonzero(self.agreeing):
                    self.agreeing, self.nearest = agreeing[row], self._combination(scored, averaging, row, values)
            for row in np.flatnonzero(matching).tolist():
                self.combinations.append(self._combination(scored, averaging, row, values))
                of_row = values if searched.named_cutoffs else values[row]
                self.distinct.add(hash((of_row.round(9) + 0.0).tobytes()))

    def _combination(self, scored: _Scored, averaging: _Averaging, row: int, values: Floats) -> Combination:
        """Return a combination as changes of the convention that differs from it in the fewest options that matter."""
        (zero, missing, matter), named, given = averaging, self.searched.named_cutoffs, self.searched.given
        k: Any = scored.cutoffs[row] if len(named) <= 1 else named
        options = {**scored.chosen, "zero_division": zero, "missing": missing}
        chosen = {name: options[name] for name in options if name in scored.matter | matter and name not in given}

        def changed(convention: str) -> dict[str, Any]:
            usual = {**CONVENTIONS[convention].options, "judged_only": False}
            return {name: value for name, value in chosen.items() if repr(value) != repr(usual[name])}

        convention = min(CONVENTIONS, key=lambda name: len(changed(name)))
        asked = named or [self.searched.k]
        cutoff = {} if k in (asked, *asked) else {"k": k}
        score = float(_means_of(values[0 if named else row][np.newaxis], self.searched.weight)[0])
        return Combination(convention, changed(convention) | cutoff, score, {**given, "k": k})


def _averaged(scored: _Scored, averaging: _Averaging) -> Floats:
    """Return the values that count in the mean: nan for a query that does not count."""
    zero, missing, _ = averaging
    empty = scored.perfect.astype(np.float64) if isinstance(zero, str) else zero
    averaged = np.where(np.isnan(scored.values), empty, scored.values)
    if missing == "skip":
        averaged[:, scored.skipped] = np.nan
    return averaged


def conventions_with(searched: Searched) -> list[str]:
    """Return the conventions that match all evidence."""
    cutoffs = searched.named_cutoffs or [searched.k]
    names = []
    for name in CONVENTIONS:
        try:
            options = Options.parse(
                measures=[result_name("nDCG", cutoff) for cutoff in cutoffs], **{**searched.given, "convention": name}
            )
            rankings = searched.read(options)
            with user_terms(rankings):
                values = measure_rankings(rankings, options)["nDCG"]
        except ValueError:  # the explanation says why it has no score
            continue
        rows = [row for _, _, row in options.results]
        if searched.has_evidence(values[rows]):
            names.append(name)
    return names


def _near(values: Floats, evidence: Evidence) -> Mask:
    differences = np.abs(values - evidence.scores)
    return np.asarray((differences <= evidence.precision) | (np.isnan(values) & np.isnan(evidence.scores)))


def _means_of(values: Floats, weight: Floats | None) -> Floats:
    """Return the mean at each cutoff over the queries that have a value."""
    shares = np.ones(values.shape[1]) if weight is None else weight
    has_value = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((np.where(has_value, values, 0) @ shares) / (has_value @ shares))


def _by_chance(scores: Floats, evidence: Sequence[Evidence]) -> float:
    """Estimate how many combinations would match by chance: as many as match other scores near the reported ones.

    Scores are counted in a window around the reported ones, without those that match. It is `WIDER` times as wide as
    the range of a match, but at most a standard deviation, since the middle has more scores than the ends; and it is
    as wide as the part of it between the lowest and the highest score. If it is hardly wider than the range of a match,
    as with one digit, all matches may be by chance. Scores have a row for each combination, a column for each evidence.
    """
    if not len(scores):
        return math.nan
    near, wide = np.ones((2, len(scores)), bool)
    near_width = wide_width = 1.0
    for column, each in zip(scores.T, evidence, strict=True):
        reach = max(each.precision, min(WIDER * each.precision, column.std() / 2))
        away = np.abs(column - each.scores[0])
        low, high = column.min() - each.scores[0], column.max() - each.scores[0]
        near, wide = near & (away <= each.precision), wide & (away <= reach)
        near_width *= max(0, min(high, each.precision) - max(low, -each.precision))
        wide_width *= max(0, min(high, reach) - max(low, -reach))
    if wide_width < 2 * near_width or not near_width:
        return float(np.count_nonzero(near))
    return float(np.count_nonzero(wide & ~near) * near_width / (wide_width - near_width))


def _cutoffs(searched: Searched, ideal: str, longest: int) -> list[int | None]:
    """Return the cutoffs to try with an ideal: the known ones, else one of each group that counts the same ranks.

    The caller's comes first, then those next to it, the usual ones, and all cutoffs of short rankings.
    """

    def has_ideal(cutoff: int | None) -> bool:
        try:
            Options.parse(k=cutoff, **{**searched.given, "ideal": ideal})
        except ValueError:  # a full ideal needs a cutoff that is not too large
            return False
        return True

    if named := searched.named_cutoffs:
        return named if all(map(has_ideal, named)) else []
    k = searched.k
    near = [None] if k is None else [each for each in (k, k + 1, k - 1) if each > 0]
    of_short = range(1, SHORT_RANKING + 1) if longest <= SHORT_RANKING else ()
    cutoffs = list(filter(has_ideal, dict.fromkeys([*near, *USUAL_CUTOFFS, *of_short])))
    whole = [each for each in cutoffs if each is None or each >= longest] if ideal != "full" else []
    return [each for each in cutoffs if each not in whole[1:]]


# Slips


class FoundSlip(NamedTuple):
    """A slip that gives the reported scores."""

    slip: Slip
    convention: str  # the convention that it is made on
    changed: dict[str, Any]  # `discount` and `zero_division`, if they differ from the convention's
    as_given: bool  # whether the slip gives the scores only if they are not read as percentages
    score: Callable[[Options], float]  # returns the score with the slip under some options, at the first cutoff

    @property
    def marked(self) -> str:
        """The combination in words, with its options marked."""
        return Combination(self.convention, self.changed, math.nan).marked

    def __str__(self) -> str:
        return worded(self)


class SlipSearch:
    """The rankings as queries that slips can change, and the reported scores."""

    def __init__(self, searched: Searched, inputs: Inputs, as_given: Sequence[Evidence]) -> None:
        # as_given: the scores before they were read as percentages
        self.searched, self.as_given = searched, searched._replace(evidence=as_given)
        # rankings are in descending order in any case, but ids have the scores of the input
        self.given = {name: value for name, value in searched.given.items() if name != "score_order"}
        options = Options.parse(k=searched.k, **searched.given)
        if options.labels is not None:  # the relevances in rankings are the gains of labels
            self.given |= {name: options.scoring[name] for name in OF_GAINS}
        descending = options.score_order == "descending"
        rankings = searched.read(options)
        by_ids = (
            descending and options.labels is None and have_ids(inputs) and searched.given.get("ignore_index") is None
        )
        is_small = len(rankings.relevance) <= MOST_DOCUMENTS
        cutoffs = (searched.named_cutoffs or [searched.k]) if is_small else []
        self.queries = [
            Queries(queries_by_ids(inputs, rankings.names(), k) if by_ids else queries_of(rankings, k)) for k in cutoffs
        ]

    def found(self) -> list[FoundSlip]:
        """Return the slips that give the reported scores, except those that equal an option of `compute`.

        If none does so with the discounts of conventions, the others that have a name are tried on values of queries
        or several scores; a single score would match many of these by chance.
        """
        slips = [*self._found({})]
        is_enough = len(self.queries) > 1 or self.searched.of_queries is not None
        if not slips and is_enough and "discount" not in self.given:
            slips = [each for discount in DISCOUNTS for each in self._found({"discount": discount})]
        return slips

    def _found(self, changed_discount: Mapping[str, str]) -> Iterator[FoundSlip]:
        slips = [slip for slip in SLIPS if not slip.is_option and self.queries]
        for slip in tracked(slips, "Trying", " slips"):
            for convention, changed, values in self._values(slip, changed_discount):
                gives = self.searched.has_evidence(values)
                if gives or self.as_given.has_evidence(values):
                    yield FoundSlip(slip, convention, changed, not gives, partial(self.score, slip))
                    break

    def score(self, slip: Slip, options: Options) -> float:
        """Return the score with a slip, under some options, at the first cutoff."""
        chosen = {name: getattr(options, name) for name in CHOICES}
        chosen |= {name: options.scoring[name] for name in OF_GAINS}
        return mean("nDCG", slip.scores(self.queries[0], {**self.given, **chosen}), self.searched.weight)

    def _values(self, slip: Slip, discount: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any], Floats]]:
        """Yield the values of queries at each cutoff, under each convention and number for empty queries."""
        for convention in SLIPS_TRIED_ON:

            def scores(zero_division: float, convention: str = convention) -> Floats:
                options = {"convention": convention, "zero_division": zero_division, **self.given, **discount}
                return np.array([slip.scores(each, options) for each in self.queries])

            try:
                values = scores(math.nan)
            except ValueError:  # these rankings have no score under the convention
                continue
            empty = np.isnan(values)
            if "zero_division" in self.given or not empty.any():
                yield convention, {**discount}, values
                continue
            usual, missing = (self.given.get(name, getattr(CONVENTIONS[convention], name)) for name in AVERAGING)
            if missing == "skip":
                empty &= ~np.isnan(scores(0.0))
            for zero in dict.fromkeys((usual, 0.0, 1.0, math.nan)):
                changed = {} if zero == usual else {"zero_division": zero}
                yield convention, {**discount, **changed}, np.where(empty, zero, values)


# ndcg/explanations/reported.py: Read reported scores: one score, scores at several cutoffs, or a value per query, with the precision of a match.

HALF_UNIT = 0.5000005  # of the last digit: half of it may be rounded up or down
# The least tolerances, however many digits a score has
OF_32_BITS = 1e-6  # of a score that 32 bits hold, because some libraries compute in these
MEAN_OF_32_BITS = 2e-7  # of any other, which may be the mean of values of 32 bits
REORDERED = 1e-9  # of the convention that comes closest: it may sum in another order
NAMED = re.compile(r"nDCG(@[1-9]\d*)?")
WITHOUT_VALUE = ("nan", "none", "null", "-", "")  # texts that mean that a query has no value
NDCG = re.compile(r"ndcg(?:(?:_cut[_.]|@)([1-9]\d*))?", re.IGNORECASE)  # including trec_eval's name
OTHERS = ("run", "slice", "measure")  # columns that contain neither queries nor values
_Cutoff = tuple[int | None, ...]  # of a score; empty if it is to be found


class _Number(NamedTuple):
    """A score from 0 to 1, or the value of a query."""

    value: float
    precision: float  # half a unit of its last digit
    least: float  # the tolerance of a match, however many digits it has


class Reported(NamedTuple):
    """Scores that somebody reported."""

    given: Mapping[_Cutoff, Any]  # the scores as they were given
    scores: Sequence[_Number]
    percent: bool  # whether a score was given in percent
    values: Any  # the value of each query, in order or by id; None if scores were reported
    k: int | None

    @classmethod
    def read(cls, got: Any, k: Any) -> "Reported":
        """Read the reported scores: a score, scores by name, or the value of each query, also as a file or its lines.

        Raises:
            ValueError: it is not one of these.
        """
        if isinstance(got, str) and "\n" in got:
            got, k = _values_of(got.encode(), k)
        elif _is_file(got):
            path = os.fsdecode(got)
            got, k = _values_of(_content_of(path), k, f"got: {path}")
        elif isinstance(got, str) and "@" in got:
            got = dict(_named_score(each) for each in got.split(","))
        elif isinstance(got, Mapping) and any(isinstance(each, Mapping) for each in got.values()):
            got, k = _values_of(got, k)
        of_names = isinstance(got, Mapping) and bool(got) and all(NAMED.fullmatch(str(name)) for name in got)
        if not of_names and (isinstance(got, (Mapping, list, tuple)) or getattr(got, "ndim", 0) == 1):
            return cls({}, (), False, got, k)
        if of_names and k is not None:
            raise ValueError(f"k={shown(k)} and got={shown(dict(got))} both give cutoffs; give one of the two")
        given: dict[_Cutoff, Any] = {(): got}
        if of_names:
            given = {(int(name[5:]) if name[5:] else None,): each for name, each in got.items()}
        first, *_ = next(iter(given)) or (k,)
        return cls._of(given, first)

    @classmethod
    def _of(cls, given: Mapping[_Cutoff, Any], k: int | None, highest: float = 1) -> "Reported":
        """Return scores, which are percentages if they have a percent sign or are above the highest."""
        scores, are_percents = zip(*(_score(each, highest) for each in given.values()), strict=True)
        return cls(given, scores, any(are_percents), None, k)

    @property
    def words(self) -> str:
        """The scores as text."""
        if self.values is not None:
            return "these values of queries"
        names = [f"{result_name('nDCG', *cutoff)} " if cutoff else "" for cutoff in self.given]
        return " and ".join(f"{name}{score.value:g}" for name, score in zip(names, self.scores, strict=True))

    @property
    def subject(self) -> str:
        """The scores at the beginning of a sentence, with its verb."""
        return f"{self.words[0].replace('t', 'T')}{self.words[1:]} {'is' if len(self.scores) == 1 else 'are'}"

    @property
    def score(self) -> float:
        """The score, or the first of several; nan for the values of queries."""
        return self.scores[0].value if self.scores else math.nan

    def as_given(self) -> "Reported":
        """Return the scores before they were read as percentages, since a DCG may be above 1."""
        return self if self.values is not None else self._of(self.given, self.k, math.inf)

    def evidence(self, rankings: Rankings, *, exact: bool = False) -> list[Evidence]:
        """Return the evidence that a combination of options must match, exactly or as other libraries compute.

        Raises:
            ValueError: the values belong to other queries than those of the rankings.
        """
        if self.values is None:
            return [
                Evidence(np.array([score.value]), max(REORDERED if exact else score.least, score.precision), cutoff)
                for cutoff, score in zip(self.given, self.scores, strict=True)
            ]
        values = self.values
        if isinstance(values, Mapping):
            values = _in_order_of_queries(values, rankings)
        if len(values) != rankings.queries:
            raise InputError(
                f"{len(values)} values for {rankings.queries} queries; give the value of each query", "got"
            )
        scores, are_rounded = zip(*map(_value_of_query, values), strict=True)
        numbers, precisions, tolerances = map(np.array, zip(*scores, strict=True))
        precision = precisions.min() if any(are_rounded) else 0.0  # values such as 0.5 show fewer digits than others
        return [Evidence(numbers, max(REORDERED if exact else tolerances.min(), precision), of_queries=True)]


def _in_order_of_queries(values: Mapping[Any, Any], rankings: Rankings) -> list[Any]:
    """Return the values in the order of the queries; None for queries that programs omit because they have no value."""
    names = rankings.names()
    if names and not isinstance(names[0], str) and all(isinstance(each, str) for each in values):  # values from a file
        values = {int(name) if name.isdecimal() else name: value for name, value in values.items()}
    may_lack = rankings.lacking() | (rankings.counts()["relevant"] == 0)
    missing = [name for name, may in zip(names, may_lack, strict=True) if name not in values and not may]
    if missing:
        some = f"query {shown(missing[0])} is missing ({len(missing)} such queries)"
        none = mark("None", before=", ", after=" for a query without one")
        raise InputError(f"{some}; give the value of each query{none}", "got")
    if unknown := values.keys() - set(names):
        raise InputError(f"query {shown(min(unknown, key=str))} is not in the references", "got")
    return [values.get(name) for name in names]


def _named_score(text: str) -> tuple[str, str]:
    """Return the name and the score of text such as 0.31@5."""
    score, _, cutoff = text.strip().partition("@")
    if NAMED.fullmatch(name := f"nDCG@{cutoff}") is None:
        raise InputError(f"{mark('got')} must be scores with their cutoffs, such as 0.31@5,0.283@10; got {shown(text)}")
    return name, score


def _is_file(got: Any) -> bool:
    """Return whether this is a file or a pipe, and not a number."""
    if not isinstance(got, (str, os.PathLike)) or (isinstance(got, str) and _decimal(got).is_finite()):
        return False
    return os.path.exists(got) and not os.path.isdir(got)


def _value_of_query(value: Any) -> tuple[_Number, bool]:
    """Return the value of a query, and whether its digits show that it was rounded.

    Numbers such as 1.0 and 0.5 may have few digits anyway. The value may be above 1, but is not a percentage.

    >>> [_value_of_query(each)[1] for each in (0.5, "0.5000")]
    [False, True]
    """
    if value is None or (is_real(value) and math.isnan(value)):  # a query without a value
        return _Number(math.nan, math.inf, OF_32_BITS), False
    number, exponent = _decimal(value), _exponent(value)
    if exponent is None or not math.isfinite(float(number)):
        raise InputError(f"{mark('got')} must hold a number for each query; got {shown(value)}")
    fewest = _exponent(float(number))
    may_be_exact = number == Decimal(float(number)) and fewest is not None and exponent >= fewest
    value = float(number)
    return _Number(value, HALF_UNIT * 10.0**exponent, _least_tolerance(value)), not may_be_exact


def _least_tolerance(number: float) -> float:
    """Return how much a score may differ from the same in 64 bits, however many digits it has.

    >>> [_least_tolerance(each) for each in (2 / 3, float(np.float32(2 / 3)), 0.6666667)]
    [2e-07, 1e-06, 1e-06]
    """
    with np.errstate(over="ignore"):
        single = np.float32(number)
    return OF_32_BITS if number in (float(single), float(str(single))) else MEAN_OF_32_BITS


def _decimal(value: Any) -> Decimal:
    """Return a number with all of its original digits; nan if it is not a number."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value  # the number in an array or a tensor
    text = str(plain) if isinstance(plain, (str, Decimal)) else repr(float(plain)) if is_real(plain) else ""
    try:
        return Decimal(text.strip().removesuffix("%"))
    except InvalidOperation:
        return Decimal("nan")


def _exponent(value: Any) -> int | None:
    """Return the power of ten of the last digit of a number; None if it is not a finite number."""
    exponent = _decimal(value).as_tuple().exponent
    return exponent if isinstance(exponent, int) else None


def _score(got: Any, highest: float) -> tuple[_Number, bool]:
    """Return a score, and whether it is a percentage: it has a percent sign, or is above the highest.

    Raises:
        ValueError: it is not a score.
    """
    number, exponent = _decimal(got), _exponent(got)
    if exponent is None or not -300 < exponent < 3 or not -100 <= number <= 100:
        by_query = mark("file of got", said="a file that holds the value of each query", before=", or ")
        file = by_query if isinstance(got, (str, os.PathLike)) else ""
        raise InputError(
            f"{mark('got')} must be an nDCG, such as 0.5921, or in percent, such as 59.21{file}; got {shown(got)}"
        )
    percent = abs(number) > highest or str(got).strip().endswith("%")
    if exponent >= 0 and abs(number) <= 1 and not percent:
        raise InputError(
            f"{mark('got')} must have digits after the point, such as 1.000; many scores round to {shown(got)}"
        )
    scale = 100 if percent else 1
    score, least = float(number / scale), max(_least_tolerance(float(each)) for each in (number, number / scale))
    return _Number(score, HALF_UNIT * 10.0**exponent / scale, least), percent


# The values of queries


class _Row(NamedTuple):
    """A value that somebody reported."""

    query: Any  # the id of its query; None if the values are in the order of the queries
    value: Any  # the value, a number or text
    measure: str | None = None  # the name of the measure; None if it has none
    run: Any = None  # the name of the run; None if it has none


def _content_of(path: str) -> bytes:
    """Return the content of a file or a pipe, which may be compressed; an error names it."""
    try:
        return read_content(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}", "got") from None
    except ValueError as error:
        raise InputError(f"{error}", "got") from None


def _values_of(content: bytes | Mapping[Any, Any], k: Any, name: str = "got") -> tuple[Any, Any]:
    """Return the values of queries in text or a mapping, by query or in order, and their cutoff.

    Text has lines of `query value`, of `measure query value` as printed by trec_eval -q, or of values alone; or it is
    CSV, TSV, JSON or JSON Lines, as written by ndcg score -q. A query without a value has nan, None, null, a dash or
    nothing. A mapping is a saved report or `{query: {measure: value}}`.

    Args:
        content: the text or the mapping.
        k: the cutoff of the nDCG; None for the whole list, or for the cutoff of the only nDCG.
        name: what errors call it.

    Raises:
        ValueError: there is no such nDCG or several, there are several runs, or two values of a query.
    """
    ndcgs: dict[str, list[_Row]] = {}  # by the name that the measure has here; "" without a measure
    others: dict[str, None] = {}
    try:
        for row in _rows_of_text(content) if isinstance(content, bytes) else _rows_of_json(content):
            measure = _ndcg_of(row.measure)
            if measure is None:
                others[str(row.measure)] = None
            else:
                ndcgs.setdefault(measure, []).append(row)
    except ValueError as error:
        hint = "give JSON of values by query, or lines of a query and its value"
        raise InputError(f"{error}; {hint}", name) from None
    asked = result_name("nDCG", k)
    possible = [asked, "", *(ndcgs if k is None and len(ndcgs) == 1 else ())]
    measure = next((each for each in possible if each in ndcgs), None)
    if measure is None:
        there = " and ".join(ndcgs or others) or "no value"
        cutoff = next(iter(ndcgs), "").partition("@")[2]
        call = mark("cutoff of nDCG", int(cutoff) if cutoff else None, said=f"k={cutoff or None}")
        hint = f"; choose {call}" if ndcgs else ""
        raise InputError(f"holds {there}, not {asked}{hint}", name)
    runs = dict.fromkeys(row.run for row in ndcgs[measure])
    if len(runs) > 1:
        raise InputError(f"holds the values of {' and '.join(map(str, runs))}; give those of one run", name)
    cutoff = measure.partition("@")[2]
    return _values_by_query(name, ndcgs[measure]), int(cutoff) if cutoff else k


def _ndcg_of(measure: str | None) -> str | None:
    """Return the name that an nDCG has here, empty for no name; None for another measure.

    >>> _ndcg_of("ndcg_cut_10"), _ndcg_of("ndcg"), _ndcg_of(None), _ndcg_of("map")
    ('nDCG@10', 'nDCG', '', None)
    """
    if measure is None:
        return ""
    found = NDCG.fullmatch(measure)
    return None if found is None else result_name("nDCG", int(found[1]) if found[1] else None)


def _values_by_query(name: str, rows: Iterable[_Row]) -> dict[Any, Any] | list[Any]:
    """Return values by query, or in order if they have no queries; None for a query without one."""
    values: dict[Any, Any] = {}
    alone: list[Any] = []
    for row in rows:
        has_none = isinstance(row.value, str) and row.value.lower() in WITHOUT_VALUE
        value = None if has_none else row.value
        if row.query is None:
            alone.append(value)
        elif repr(values.setdefault(row.query, value)) != repr(value):
            both = f"{shown(values[row.query])} and {shown(value)}"
            raise InputError(f"query {shown(row.query)} has two values, {both}", name)
    if values and alone:
        raise InputError("some values have a query, others none; give each of them its query", name)
    return values or alone


def _rows_of_text(content: bytes) -> Iterator[_Row]:
    """Yield the values in a file or in text."""
    found = read_cells(content)
    if isinstance(found, Iterator):
        yield from _rows_of_lines(found)
    else:
        yield from _rows_of_json(found.to_pylist() if isinstance(found, pa.Table) else found)


def _rows_of_lines(lines: Iterable[Line]) -> Iterator[_Row]:
    """Yield the values in lines, of which the first may be a header."""
    header: list[str] | None = None
    for at, (number, text, cells) in enumerate(lines):
        *others, value = cells
        if header is None and "all" in others:
            continue
        if at == 0 and not _is_value(value):
            header = cells
            continue
        if header is not None and len(cells) == len(header):
            yield from _rows_of_record(dict(zip(header, cells, strict=True)))
            continue
        if len(others) == 2 and NDCG.fullmatch(others[1]):  # ir_measures prints the measure after the query
            others.reverse()
        measure, query = [None, None, *others][-2:]
        if header is not None or len(others) > 2 or not (_is_value(value) or _ndcg_of(measure) is None):
            raise ValueError(f"line {number}: {shown(text)} is not a query and its value")
        yield _Row(query, value, measure)


def _is_value(text: str) -> bool:
    """Return whether text is a finite number, or shows that a query has no value."""
    with suppress(ValueError):
        return text.lower() in WITHOUT_VALUE or math.isfinite(float(text))
    return False


def _rows_of_json(value: Any, run: Any = None) -> Iterator[_Row]:
    """Yield the values in records, a saved report, `{query: {measure: value}}`, `{query: value}`, or a list."""
    if isinstance(value, list):
        for each in value:
            if isinstance(each, Mapping):
                yield from _rows_of_record(each)
            else:
                yield _Row(None, each)
    elif isinstance(columns := value.get("queries"), Mapping):
        for cells in zip(*columns.values(), strict=True):
            yield from _rows_of_record(dict(zip(columns, cells, strict=True)), run)
    else:
        for query, each in value.items():
            if not isinstance(each, Mapping):
                yield _Row(query, each)
            elif isinstance(each.get("queries"), Mapping):  # saved reports by run
                yield from _rows_of_json(each, query)
            else:
                yield from (_Row(query, number, measure) for measure, number in each.items())


def _rows_of_record(record: Mapping[str, Any], run: Any = None) -> Iterator[_Row]:
    """Yield the values in a row of a table: of each nDCG, or else of the only column that may hold them."""
    query = next(iter(spelled(record, (*QUERY[0], *QUERY[1]))), None)
    others = [name for name in record if name != query and plain_name(name) not in OTHERS]
    if query is None and len(others) == 2:
        query = others.pop(0)
    ndcgs = [name for name in others if NDCG.fullmatch(name)]
    if not ndcgs and len(others) != 1:
        raise ValueError(f"the columns are {', '.join(map(shown, record))}; one must be an nDCG, such as nDCG@10")
    query_id = None if query is None else record[query]
    if query_id == "all":
        return
    for name in ndcgs or others:
        measure = name if ndcgs else record.get(next(iter(spelled(record, ("measure",))), ""))
        yield _Row(query_id, record[name], measure, record.get("run", run))


# ndcg/explanations/explanation.py: Find the convention that gives a score: score the rankings under all of them, and explain their differences.

NOT_IN_EXPLAIN = ("measures", "convention", *AGGREGATION_OPTIONS)
SHOWN_COMBINATIONS = 5
LIKELY = 0.1  # with this many matches expected by chance, a single match proves little


class Choice(NamedTuple):
    """A choice in which two conventions differ.

    Attributes:
        name: the name of the option; "slip" for a slip.
        before: its value in the first convention.
        after: its value in the second convention.
        effect: its share of the difference between their scores.
    """

    name: str
    before: Any
    after: Any
    effect: float


@dataclass(frozen=True)
class Explanation(Readable):
    """The score of rankings under every convention, and why two of these scores differ.

    Attributes:
        signature: the signature of the first convention or combination that matches, else of the second in `between`
            if it was given. Without a reported score, the signature of the first convention that has a score; empty if
            nothing matches, or only a slip does.
        measure: the name of the result, such as ``"nDCG@10"``.
        scores: the score under each convention, by its name; None if it has none.
        errors: why a convention has no score, by its name.
        got: the reported score, if one was given.
        percent: whether it was given in percent.
        matches: the conventions that give this score, to its digits.
        reported: the reported scores, in words.
        subject: the same at the beginning of a sentence, with its verb.
        combinations: options that give the reported scores, if no convention does; those that change the fewest options
            of a convention come first.
        tried: the number of combinations that were tried.
        without_score: options that were not tried, such as `ties=docid`, because the rankings have no score under them,
            each with the error.
        distinct: how many of the matching combinations give different values to some query.
        by_chance: how many combinations would match by chance; nan if unknown.
        slips: known slips that give the reported scores, if no convention does, each with a convention, and with
            `zero_division` if that differs from the convention's.
        nearest: the combination that gives most of the reported values of queries, if nothing gives all of them.
        disagreeing: the queries with another value under the nearest combination.
        in_common: the common trait of these queries, in words.
        between: the two conventions with the difference that `choices` explain; the second "with a slip" if no
            convention gives the reported scores and a slip does.
        choices: the options in which they differ, and the slip, with their effects, which add up to the difference.
        notes: sentences with further facts for the reader.
    """

    signature: str
    measure: str
    scores: dict[str, float | None]
    errors: dict[str, str]
    got: float | None = None
    percent: bool = False
    matches: tuple[str, ...] = ()
    reported: str = ""
    subject: str = ""
    combinations: tuple[Combination, ...] = ()
    tried: int = 0
    without_score: Mapping[str, str] = field(default_factory=dict)
    distinct: int = 0
    by_chance: float = math.nan
    slips: tuple[tuple[str, str], ...] = ()
    nearest: Combination | None = None
    disagreeing: tuple[Any, ...] = ()
    in_common: tuple[str, ...] = ()
    between: tuple[str, str] | None = None
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

    def _tables(self) -> list[list[list[str]]]:
        scores = [["convention", self.measure]]
        if self.got is not None:
            scores[0] += ["difference from yours", ""]
        for name, score in self._nearest_first():
            cells = [name, number_text(score)]
            if self.got is not None:
                cells += [number_text(score - self.got, sign="+"), "match" if name in self.matches else ""]
            scores.append(cells)
        tables = [scores]
        if self.between is not None:
            rows = [
                [name, *map(empty_text if name == "zero_division" else str, both), number_text(effect, sign="+")]
                for name, *both, effect in self.choices
            ]
            total = ["total", "", "", number_text(sum(choice.effect for choice in self.choices), sign="+")]
            tables.append([["choice", *self.between, "effect"], *rows, total])
        return tables

    def _remarks(self) -> list[str]:
        conventions: dict[str, list[str]] = {}
        for name, error in self.errors.items():
            conventions.setdefault(error, []).append(name)
        errors = [f"No score under {_enumerated(names)}: {marked(error)}." for error, names in conventions.items()]
        got, percent = self.got or 0.0, []
        if self.percent:
            percent = [f"Your score was read as a percentage: {100 * got:g}% is {got:g}."]
        return list(map(Message, [*self._conclusion(), *percent, *self.notes, *errors]))

    def _conclusion(self) -> Iterator[str]:
        """Yield sentences on the conventions, options or slips that give the score."""
        if self.got is None:
            return
        if self.matches:
            yield f"{self.subject} the {self.measure} of {_enumerated(self.matches)}."
            return
        few = [each for each in self.combinations if len(each.changed) <= 1]
        ways = []
        for each in self.combinations:
            options = mark("options", each.call, each.flags, said=f"{each.call}; in the shell {each.flags}")
            ways.append((marked(each), f" ({options})"))
        ways[len(few) : len(few)] = [(_with_a_slip(marked(name)), f": {slip}") for slip, name in self.slips]
        for at, (way, details) in enumerate(ways[:SHOWN_COMBINATIONS]):
            yield f"{way} gives {'it' if at else self.reported}{details}."
        if self.combinations:
            yield from self._certainty()
        if not ways:
            name, number = self._nearest_first()[0]
            yield f"No convention gives {self.reported}; the nearest is {name}, {number_text(number)}."
            none = f"None of {self.tried:,} combinations of options gives it"
            yield f"{none}. Were other queries or documents scored, weighted or excluded?"
            discount = mark("known discount", said="discount=")
            yield f"To try slips with a discount that is not logarithmic, give {discount}."
        for option, error in self.without_score.items():
            is_shown_below = error in self.errors.values()
            reason = "" if is_shown_below else f": {marked(error)}"
            yield f"Combinations with {mark(*option.split('='), said=option)} have no score{reason}."
        if self.nearest is not None:
            some = ", ".join(map(str, self.disagreeing[:SHOWN_COMBINATIONS]))
            more = ", …" * (len(self.disagreeing) > SHOWN_COMBINATIONS)
            count = len(self.disagreeing)
            differ = "1 query differs" if count == 1 else f"{count:,} queries differ"
            yield f"The nearest combination is {marked(self.nearest)}: {differ} from it: {some}{more}."
            yield from self.in_common

    def _certainty(self) -> Iterator[str]:
        """Yield how many combinations match, and how certain that makes the result."""
        count = len(self.combinations)
        chance = "" if math.isnan(self.by_chance) else f"; by chance, about {self.by_chance:,.1f} would"
        yield f"{count:,} of {self.tried:,} combinations of options give it{chance}."
        if count > 1 and self.distinct == 1:
            yield "These give the same value for every query, so the queries do not distinguish them."
        elif count > 1:
            yield "Scores at more cutoffs, or the value of each query, would distinguish these."
        elif self.by_chance > LIKELY:
            yield "Scores at more cutoffs, or the value of each query, would show whether it is the right one."

    def _nearest_first(self) -> list[tuple[str, float]]:
        """Return the conventions that match first, the others by distance from the reported score, or by their own."""
        known, got = [(name, score) for name, score in self.scores.items() if score is not None], self.got
        if got is None:
            return sorted(known, key=lambda each: each[1])
        return sorted(known, key=lambda each: (each[0] not in self.matches, abs(each[1] - got)))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation in JSON types; a choice that JSON has no type for, such as nan, becomes a string."""
        by_chance = None if math.isnan(self.by_chance) else self.by_chance
        values: dict[str, Any] = without_nan({**vars(self), "by_chance": by_chance}, str)
        return values

    def plot(self) -> Any:
        """Return a Matplotlib figure: a dot for the score under each convention, filled if it equals yours."""
        known = sorted(self._nearest_first(), key=lambda each: each[1])
        figure, (axes,) = figure_of(1, height=1.2 + 0.24 * len(known))
        for at, (name, number) in enumerate(known):
            inside = "C0" if name in self.matches else axes.get_facecolor()
            axes.plot(number, at, "o", color="C0", markerfacecolor=inside)
        axes.set_yticks(range(len(known)), [name for name, _ in known])
        axes.grid(axis="x", alpha=0.3)
        axes.set_xlabel(self.measure)
        if self.got is not None:
            axes.axvline(self.got, color="gray", linewidth=1)
            axes.set_xlabel(f"{self.measure}; line: your score, {self.got:g}; filled: the same to its digits")
        return figure


def _with_a_slip(convention: str) -> str:
    return f"{convention}{',' * (',' in convention)} with a slip"


def explain(
    *,
    predictions: Any,
    references: Any,
    got: Any = None,
    k: SupportsIndex | None = None,
    between: Sequence[str] | None = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **options: Unpack[ExplainOptions],
) -> Explanation:
    """Find the conventions that give a score: score rankings under all of them, and show which options matter.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        got: the nDCG to find, from 0 to 1 or in percent. Its digits decide how close a match must be, so pass "0.5920"
            as a string to keep the last 0. Or scores at several cutoffs, `{"nDCG@5": 0.31, "nDCG@10": 0.283}`; or the
            value of each query, in order, by id, as `{query: {measure: value}}`, or in a file, such as the output of
            trec_eval -q or ndcg score -q.
        k: the cutoff; by default that of `got` if it has one, else the whole list.
        between: two conventions; explain the difference between them. By default scikit-learn's (or the first one that
            has a score) and the one that gives the reported score, or else the first slip that does.
        sample_weight: one weight per query for the mean, in the order of the references or as `{query: weight}`.
        query_ids: the query id of each row, for flat predictions and references.
        document_ids: the document id of each row, with `query_ids`.
        data: a DataFrame; then the arguments above may be names of its columns.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        fields: as in `compute`.
        **options: options of `compute` that are known of the score; they apply under every convention.

    Raises:
        ValueError: as in `compute`, for an error under every convention; `got` is not a score; `between` has an
            unknown convention, or one without a score.

    >>> scores, relevance = [[.5, .5, .2], [.9, .8, .7]], [[1, 0, 0], [0, 0, 0]]
    >>> found = explain(predictions=scores, references=relevance, got=0.9077)
    >>> found.matches, str(found.combinations[0])
    ((), 'sklearn, but zero_division=1.0')
    """
    reported = None if got is None else Reported.read(got, k)
    k = k if reported is None else reported.k
    pair: tuple[str, str] | None = None
    if between is not None:
        if not isinstance(between, (list, tuple)) or len(between) != 2:
            raise InputError(f"{mark('between')} must be the names of two conventions; got {shown(between)}")
        pair = choice("between", between[0], tuple(CONVENTIONS)), choice("between", between[1], tuple(CONVENTIONS))
    parsed = Options.of_method(explain, k, options, lacks=NOT_IN_EXPLAIN)
    if len(parsed.cutoffs) > 1:
        raise InputError(f"{mark('k')} must be one cutoff, since a score has one; got {shown(k)}")
    inputs = from_frame(
        data, Inputs(predictions, references, query_ids, document_ids, exclude, sample_weight, fields=fields)
    )
    scorer = _Scorer(from_files(inputs, **parsed.sides).settled(**parsed.sides), k, options)
    unmatched = next(iter(scorer.rankings.values())).unmatched
    if unmatched:
        warn_unmatched(unmatched)
    scores: dict[str, float | None] = {}
    errors: dict[str, str] = {}
    for name in tracked(list(CONVENTIONS), "Scoring", " conventions"):
        try:
            scores[name] = scorer.score(scorer.options_of(name))
        except ValueError as error:
            scores[name], errors[name] = None, Message(marked(error))
    if all(score is None for score in scores.values()):
        raise InputError(marked(next(iter(errors.values()))))
    for name in pair or ():
        if name in errors:
            raise within(InputError(f"{marked(errors[name])}"), "between", f"{name} has no score")
    first = next(name for name, score in scores.items() if score is not None)
    notes = (f"{unmatched[0].upper()}{unmatched[1:]}.",) if unmatched else ()
    measure = result_name("nDCG", scorer.cutoff)
    explanation = Explanation(scorer.signature(first), measure, scores, errors, notes=notes)
    slip = None
    if reported is not None:
        explanation, slip = _with_matches(explanation, scorer, reported)
    start = scorer.options_of(first if pair is None else pair[0])
    if pair is None and explanation.matches:  # the match that differs in the fewest choices
        pair = (first, min(explanation.matches, key=lambda name: len(_differing(start, scorer.options_of(name)))))
    if pair is not None:
        end, slip = scorer.options_of(pair[1]), None
        signature = explanation.signature if explanation.matches else end.signature(**scorer.given)
    elif slip is not None:
        pair, signature = (first, _with_a_slip(str(slip))), explanation.signature
        end = scorer.options_of(slip.convention, **slip.changed)
    if pair is None or pair[0] == pair[1]:
        return explanation
    try:
        choices = scorer.choices(start, end, slip)
    except ValueError as error:  # raised by a mixture of their options, such as ties by id among scores in 32 bits
        if between is None:
            return explanation
        both = f"some options of {pair[0]} with others of {pair[1]} have no score"
        raise within(error, "between", both) from None
    return replace(explanation, signature=signature, between=pair, choices=choices)


class _Scorer:
    """Score the same rankings under different options, and read them only once."""

    def __init__(self, inputs: Inputs, k: Any, options: Mapping[str, Any]) -> None:
        self.inputs, self.k, self.options = inputs, k, options
        (self.cutoff,) = Options.parse(k=k).cutoffs
        self.given = {"weighted": inputs.sample_weight is not None, "excluding": inputs.exclude is not None}
        self.rankings: dict[tuple[Any, ...], Rankings] = {}
        self.scores: dict[tuple[str, ...], float] = {}
        rankings = self.read(Options.parse(k=k, **options))
        if not rankings.queries:
            raise ValueError(NOTHING_TO_SCORE)
        self.weight: NDArray[np.float64] | None = weights(inputs.sample_weight, rankings.queries, rankings.query_ids)

    def signature(self, convention: str) -> str:
        """Return the signature of a convention."""
        return self.options_of(convention).signature(**self.given)

    def options_of(self, convention: str, **changed: Any) -> Options:
        """Return the options of a convention, overridden by those of the caller and by changes."""
        return Options.parse(k=self.k, convention=convention, **{**self.options, **changed})

    def score(self, options: Options) -> float:
        """Return the nDCG under some options.

        Raises:
            ValueError: the rankings have no nDCG under them.
        """
        key = tuple(repr(getattr(options, name)) for name in CHOICES)
        if key not in self.scores:
            rankings = self.read(options)
            if options.missing == "raise":
                refuse_missing(rankings)
            with user_terms(rankings):
                values = measure_rankings(rankings, options)["nDCG"][0]
            self.scores[key] = mean("nDCG", values, self.weight)
        return self.scores[key]

    def choices(self, before: Options, after: Options, slip: FoundSlip | None = None) -> tuple[Choice, ...]:
        """Return the choices in which two conventions differ, the slip among them, with their effects."""
        values = {name: (getattr(before, name), getattr(after, name)) for name in _differing(before, after)}
        if slip is not None:
            values["slip"] = ("none", slip.slip.name)

        def score(changed: Sequence[str]) -> float:
            options = replace(before, **{name: values[name][1] for name in changed if name != "slip"})
            return slip.score(options) if slip is not None and "slip" in changed else self.score(options)

        return tuple(Choice(name, *both, _shapley_value(name, list(values), score)) for name, both in values.items())

    def read(self, options: Options) -> Rankings:
        """Return the rankings as some options read them; each reading is done once."""
        key = tuple(options.reading.values())
        if key not in self.rankings:
            self.rankings[key] = read(**self.inputs.rankings, **options.reading)
        return self.rankings[key]


def _differing(before: Options, after: Options) -> list[str]:
    """Return the names of the choices in which two conventions differ."""
    return [name for name in CHOICES if repr(getattr(before, name)) != repr(getattr(after, name))]


def _shapley_value(name: str, names: Sequence[str], score: Callable[[Sequence[str]], float]) -> float:
    """Return the Shapley value of a choice: the effect of changing it, averaged over all orders of changing them."""
    others = [each for each in names if each != name]
    return math.fsum(
        (score([*changed, name]) - score(changed)) / (len(names) * math.comb(len(others), size))
        for size in range(len(names))
        for changed in combinations(others, size)
    )


def _with_matches(
    explanation: Explanation, scorer: _Scorer, reported: Reported
) -> tuple[Explanation, FoundSlip | None]:
    """Return an explanation with the conventions that give the reported scores, else with combinations and slips.

    Also return the first of these slips.
    """
    rankings = scorer.read(Options.parse(k=scorer.k, **scorer.options))
    evidence = reported.evidence(rankings)
    given = {name: value for name, value in scorer.options.items() if value is not None}
    if given.pop("ignore_ties", False):
        given["ties"] = "last"
    searched = Searched(scorer.read, given, scorer.cutoff, scorer.weight, evidence)
    exact = searched._replace(evidence=reported.evidence(rankings, exact=True))
    matches = tuple(conventions_with(exact) or conventions_with(searched))
    score = reported.score
    if math.isnan(score):  # if values of queries were reported, the table compares their mean
        score = mean("nDCG", evidence[0].scores, scorer.weight)
    explanation = replace(explanation, got=score, percent=reported.percent, matches=matches)
    explanation = replace(explanation, reported=reported.words, subject=reported.subject)
    if matches:
        return replace(explanation, signature=scorer.signature(matches[0])), None
    found, as_given = search(searched), reported.as_given()
    slips = SlipSearch(searched, scorer.inputs, as_given.evidence(rankings)).found()
    if not found.combinations and slips and all(each.as_given for each in slips):
        explanation = replace(explanation, got=as_given.score, percent=False, reported=as_given.words)
    explanation = replace(
        explanation,
        signature="",
        combinations=tuple(found.combinations),
        distinct=len(found.distinct),
        tried=found.tried,
        without_score=found.without_score,
        by_chance=found.by_chance,
        slips=tuple((each.slip.name, Message(marked(each))) for each in slips),
    )
    if found.combinations:
        signature = Options.parse(**found.combinations[0].options).signature(**scorer.given)
        explanation = replace(explanation, signature=signature)
    elif not slips and found.nearest is not None and found.agreeing is not None:
        ids, differing = rankings.names(), ~found.agreeing
        properties = properties_of(rankings, found.nearest.options["k"])
        explanation = replace(
            explanation,
            nearest=found.nearest,
            disagreeing=tuple(ids[at] for at in np.flatnonzero(differing)),
            in_common=tuple(map(Message, in_common(properties, differing, "queries", marked(found.nearest)))),
        )
    return explanation, slips[0] if slips else None


def _enumerated(names: Sequence[str]) -> str:
    """Return names as an enumeration in words."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ndcg/statistics/significance.py: Confidence intervals of means over queries, and paired tests of the difference of two means.

# Smaller differences, relative to the values, may be due to rounding.
ROUNDING = 1e-12
# The square of a smaller number underflows.
TINY = 2.0**-511
# The least ratio of two weights; below it, the lighter query would be lost in rounding.
LIGHTEST = 1e-12
# With fewer queries, intervals cover less often than their level (benchmarks/SIMULATIONS.md).
FEW = 10
# With up to EXACT queries that differ, the randomization test tries all permutations; with more, it tries 2 ** SAMPLED,
# SIGNS_AT_A_TIME of them at once, so that their sums fit into the processor's cache.
EXACT = 32
SAMPLED = 20
SIGNS_AT_A_TIME = 1 << 14
SIGNS = np.array([[1.0, 1.0], [1.0, -1.0]])  # for a bit of one word (row) and a bit of another (column)
SIGNS_OF_BITS = {1: SIGNS, 2: np.kron(SIGNS, SIGNS), 3: np.kron(SIGNS, np.kron(SIGNS, SIGNS))}
SIGNS_OF_8 = 1.0 - 2.0 * (np.arange(256)[:, np.newaxis] >> np.arange(8) & 1)  # all combinations for up to eight queries
# The level of the test in `power`, and the probability that it detects a difference.
LEVEL = 0.05
POWER = 0.8
MOST_NEEDED = 2.0**40  # a larger number is unknown


class Intervals(NamedTuple):
    """The interval of each mean."""

    low: Floats
    high: Floats
    standard_error: Floats


class Moments(NamedTuple):
    """What the values of a row tell about their mean."""

    mean: float
    standard_error: float  # the larger of two: for a variance independent of the weights, and HC2 for any values
    deviation: float  # the standard deviation of the values
    slope: float  # the relative change of the variance with the mean


class Tests(NamedTuple):
    """The p-values of each difference."""

    randomization: Floats
    t_test: Floats
    exact: NDArray[np.bool_]  # whether the randomization test tried all permutations
    permutations: NDArray[np.int64]  # how many it tried


class Power(NamedTuple):
    """The power of the test of each difference, nan if unknown."""

    min_detectable: Floats  # the smallest difference, from 0 or from the margin, that a t-test of them finds
    queries_needed: Floats  # to detect the observed difference


def differences(one: Floats, other: Floats) -> Floats:
    """Return ``one - other``, with 0 for differences that may be due to rounding."""
    difference = np.asarray(one - other)
    return np.where(np.abs(difference) <= ROUNDING * np.maximum(np.abs(one), np.abs(other)), 0.0, difference)


@dataclass(frozen=True)
class Sample:
    """The values of some rows, such as systems, for the queries that count, and the pairs of rows to compare.

    Attributes:
        values: the values, of shape ``(rows, queries)``, divided by `scale`.
        weight: the weight of each query, relative to the largest.
        pairs: the first row of each pair, then the second of each.
        scale: a power of two near the largest value, so that no sum or square overflows and no digit is lost.
    """

    values: Floats
    weight: Floats
    pairs: NDArray[np.intp]
    scale: float

    @classmethod
    def of(cls, values: Floats, weight: Floats | None = None, pairs: Sequence[tuple[int, int]] = ()) -> "Sample":
        """Return the sample without queries of weight 0, and without those that have no value: nan in all rows.

        With pairs, it is an error if fewer than two queries count.
        """
        scipy_special()
        counted = ~np.isnan(values[0])
        if weight is not None:
            counted &= weight > 0
        if not counted.all():
            values = np.compress(counted, values, axis=1)  # each row is contiguous, and summed as it is alone
            weight = None if weight is None else weight[counted]
        weight = np.ones(values.shape[1]) if weight is None else weight / weight.max(initial=0)
        if pairs and len(weight) < 2:
            hint = f"; {mark('report')} gives the score of one" * len(weight)
            raise InputError(f"a comparison needs at least two queries that have a value; got {len(weight)}{hint}")
        scale = math.ldexp(1.0, math.frexp(np.abs(values).max(initial=0))[1] - 1)
        return cls(values / scale, weight, np.array(pairs, np.intp).reshape(-1, 2).T, scale)

    @cached_property
    def by_query(self) -> Floats:
        """The differences of each pair, query by query."""
        return differences(*self.values.take(self.pairs, axis=0))

    @cached_property
    def effective(self) -> float:
        """How many queries of equal weight would be as precise (Kish, 1965)."""
        return float(self.weight.sum() ** 2 / (self.weight**2).sum())

    @cached_property
    def moments(self) -> list[Moments]:
        """The moments of each row, and then of the differences of each pair (HC2: MacKinnon & White, 1985)."""
        values, share = np.concatenate([self.values, self.by_query]), self.weight / self.weight.sum()
        mean = values[:, 0] + (share * (values - values[:, :1])).sum(axis=1)
        away = values - mean[:, np.newaxis]
        largest = np.abs(away).max(axis=1)
        squares = share * (away / np.where(largest, largest, 1.0)[:, np.newaxis]) ** 2
        sums = np.array([squares, squares * (share / (1 - share)), squares * away]).sum(axis=2)
        moments = []  # plain numbers: for a few rows, arrays take much longer
        for at, size, spread, of_any, cubes in zip(mean.tolist(), largest.tolist(), *sums.tolist(), strict=True):
            square = (size * spread) ** 2
            error = size * math.sqrt(max(spread / (self.effective - 1), of_any))
            moments.append(Moments(at, error, size * math.sqrt(spread), cubes / square if square else 0.0))
        return moments


def intervals(sample: Sample, *, greatest: float = 1.0, confidence: float = 0.95) -> Intervals:
    """Return the intervals of the mean of each row, and then of the difference of each pair.

    The interval of a difference is Student's t, as in the paired t-test. For the interval of a mean, the variance
    depends on the mean: it shrinks towards 0 and the greatest value, as for 0/1 values (Wilson, 1927), or changes with
    the skewness of the values. Each end is the outer one that these two models give.

    Values lie between 0 and `greatest`; a row with values outside has no bound on that side. With fewer than two
    values there are no intervals: they are nan.
    """
    values, greatest = sample.values, greatest / sample.scale
    if len(sample.weight) < 2:
        return Intervals._make(np.full((3, len(values)), np.nan))
    if (lightest := sample.weight.min()) < LIGHTEST:
        problem = f"a weight is {lightest:.0e} of the largest, too far apart for a confidence interval"
        raise ValueError(f"sample_weight: {problem}; give the queries that hardly count a weight of 0")
    bounds = [
        (0.0 if least >= 0 else -math.inf, max(most, greatest) if most <= greatest * (1 + ROUNDING) else math.inf)
        for least, most in zip(values.min(axis=1).tolist(), values.max(axis=1).tolist(), strict=True)
    ]
    for one, other in sample.pairs.T.tolist():
        bounds.append((bounds[one][0] - bounds[other][1], bounds[one][1] - bounds[other][0]))
    ends = [
        (*_interval(moments, within, sample, confidence, of_mean=at < len(values)), moments.standard_error)
        for at, (moments, within) in enumerate(zip(sample.moments, bounds, strict=True))
    ]
    return Intervals._make(np.array(ends).T * sample.scale)


def _interval(
    moments: Moments, bounds: tuple[float, float], sample: Sample, confidence: float, *, of_mean: bool
) -> tuple[float, float]:
    """Return the ends of the interval of a mean, or of a difference, whose error does not depend on the mean.

    The interval contains every mean within Student's t times its standard error of the observed one. The
    square of this error at ``mean + d`` is modeled as that at ``mean`` times ``(1 + rise * d)(1 - fall * d)``.
    """
    student, quantile = scipy_special().stdtrit, (1 + confidence) / 2
    mean, error, _, slope = moments
    if error <= max(ROUNDING * abs(mean), TINY):
        # all values are equal: the share of others at a bound is at most the end of Wilson's interval for 0 of n
        odds = float(student(math.inf, quantile)) ** 2 / sample.effective
        low, high = (mean + (end - mean) * odds / (1 + odds) if math.isfinite(end) else mean for end in bounds)
        return low, high
    gaps, slope = ((mean - bounds[0], bounds[1] - mean), slope) if of_mean else ((math.inf, math.inf), 0.0)
    most = gaps[0] * gaps[1] / sample.effective  # the squared error if every value were at a bound, like 0/1 values
    square = min(error**2, most)
    freedom = (len(sample.weight) - 1) / max(1 - square / most, ROUNDING)
    reach = float(student(freedom, quantile)) ** 2 * square
    rise, fall = (1 / gap if math.isfinite(most) else 0.0 for gap in gaps)
    low, high = _crossings(reach, rise, fall)
    low_skewed, high_skewed = _crossings(reach, max(rise, fall + slope), max(fall, rise - slope))
    return max(mean + min(low, low_skewed), bounds[0]), min(mean + max(high, high_skewed), bounds[1])


def _crossings(reach: float, rise: float, fall: float) -> tuple[float, float]:
    """Return the two ``d`` with ``d**2 == reach * (1 + rise * d) * (1 - fall * d)``."""
    tilt, root = reach * (rise - fall), math.hypot(reach * (rise + fall), 2 * math.sqrt(reach))
    bend = 2 * (1 + reach * rise * fall)
    return (tilt - root) / bend, (tilt + root) / bend


def at_level(
    difference: Floats, ends: Sequence[Floats], error: Floats, freedom: Floats, beyond: float, other: Floats
) -> tuple[Floats, Floats]:
    """Return the ends of Student's t intervals of differences at another level.

    Beyond each end lies the probability `other` instead of `beyond`. If a standard error is 0, the given interval is
    widened in proportion.
    """
    student, known = scipy_special().stdtrit, error > ROUNDING * np.abs(difference)
    reach = student(freedom, 1 - other)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        wider = reach / student(freedom, 1 - beyond)
        below, above = (np.where(known, reach * error, wider * np.abs(end - difference)) for end in ends)
    return difference - below, difference + above


def paired_tests(sample: Sample, *, alternative: str = "two-sided", margin: float = 0.0, seed: int = 0) -> Tests:
    """Test whether the means of two rows differ, for each pair.

    The randomization test exchanges the scores of the two systems in some of the queries, and counts how often the
    means then differ at least as much. With up to 32 queries that differ, it tries all permutations, and the p-value is
    exact. Otherwise it tries a random group of 1,048,576. The t-test uses the contribution of each query to the
    difference of the (weighted) means. With a margin, differences must be symmetric around their mean.
    """
    two_sided, sign, margin = alternative == "two-sided", -1 if alternative == "less" else 1, margin / sample.scale
    shares = (sample.by_query * sign + margin) * sample.weight
    differing = [each[each != 0] for each in shares]
    exact = np.array([len(each) <= EXACT for each in differing])
    p = np.array([_exact_p(each, two_sided) if len(each) <= EXACT else 1.0 for each in differing])
    if not exact.all():
        one, other = sample.pairs[::sign, ~exact]
        p[~exact] = _sampled_p(sample, one, other, margin, two_sided, seed)
    permutations = [2 ** (len(each) if len(each) <= EXACT else SAMPLED) for each in differing]
    return Tests(p, _t_tests(shares, two_sided), exact, np.array(permutations))


def _exact_p(shares: Floats, two_sided: bool) -> float:
    """Return the share of all permutations with a sum at least as extreme as the observed one.

    Each permutation combines one of the first half of the queries with one of the second half.
    """
    half = len(shares) // 2
    one, other = _signed_sums(shares[:half]), _signed_sums(shares[half:])
    total = float(one[0] + other[0])
    one.sort()
    other.sort()
    least = (abs(total) if two_sided else total) - ROUNDING * (one[-1] + other[-1])
    as_great = one.size * other.size - int(other.searchsorted(least - one).sum())
    return min(1.0, (1 + two_sided) * as_great / 2.0 ** len(shares))  # by symmetry, as many are as far below 0


def _signed_sums(shares: Floats) -> Floats:
    """Return the sum of shares with every combination of signs; in the first, all are positive."""
    some = (shares[at : at + 8] for at in range(0, max(len(shares), 1), 8))
    return reduce(np.add.outer, (SIGNS_OF_8[: 1 << len(each), : len(each)] @ each for each in some)).reshape(-1)


def _sampled_p(
    sample: Sample, one: NDArray[np.intp], other: NDArray[np.intp], margin: float, two_sided: bool, seed: int
) -> Floats:
    """Return the share of a random group of permutations with a sum at least as extreme as the observed one.

    Each query gets a random word of SAMPLED bits. Each permutation of the group is also a word: it exchanges the scores
    of those queries whose words have an odd number of bits in common with it. The sums of permutations that differ only
    in the last bits are computed together. The sum of a pair is the difference of the sums of its rows; all rows are
    relative to the first, so that two rows need one sum.

    The share is a valid p-value without a correction, because the permutations form a group, which contains the
    identity (Hemerik & Goeman, TEST 2018; Koning & Hemerik, Biometrika 2024). Any two permutations are independent, so
    its variance is that of a random sample.
    """
    values, weight = sample.values, sample.weight
    words = np.random.default_rng(seed).integers(1 << SAMPLED, size=len(weight))
    last, first = words % SIGNS_AT_A_TIME, words // SIGNS_AT_A_TIME
    used, at = np.unique([one, other], return_inverse=True)
    rows = np.concatenate([values[used[1:]] - values[used[0]], np.ones((int(margin > 0), len(weight)))]) * weight
    pairs = at.reshape(2, -1).T.tolist()

    def distance(sums: Sequence[Any], one: int, other: int) -> Any:
        of_rows = [0.0, *sums]
        difference = of_rows[one] - of_rows[other]
        if margin:
            difference += margin * of_rows[-1]
        return np.abs(difference) if two_sided else difference

    sizes, total = np.abs(values * weight).sum(axis=1), rows.sum(axis=1)
    rounding = ROUNDING * (sizes[one] + sizes[other] + margin * weight.sum())
    least = np.array([distance(total, *pair) for pair in pairs]) - rounding
    as_far = np.zeros(len(pairs), np.int64)
    for word in range((1 << SAMPLED) // SIGNS_AT_A_TIME):
        signs = 1.0 - 2.0 * (np.bitwise_count(first & word) & 1)
        sums = [_walsh_hadamard(np.bincount(last, row * signs, SIGNS_AT_A_TIME)) for row in rows]
        as_far += [np.count_nonzero(distance(sums, *pair) >= bound) for pair, bound in zip(pairs, least, strict=True)]
    return as_far / 2.0**SAMPLED


def _walsh_hadamard(cells: NDArray[Any]) -> NDArray[Any]:
    """Return all signed sums of cells, in any order; the sign depends on the bits that cell and sum share.

    Each product with the signs of three bits adds along these bits and moves the next three to the front.
    """
    bits = int(cells.size).bit_length() - 1
    for at in range(0, bits, 3):
        signs = SIGNS_OF_BITS[min(3, bits - at)]
        cells = (cells.reshape(len(signs), -1).T @ signs).reshape(-1)
    return cells


def _t_tests(shares: Floats, two_sided: bool) -> Floats:
    """Return, for each row, the probability that chance gives a mean at least as extreme.

    The same as `scipy.stats.ttest_1samp`, which warns if all values are the same.
    """
    queries, p_values = shares.shape[1], []
    shares = np.ldexp(shares, -np.frexp(np.abs(shares).max(axis=1, keepdims=True))[1])  # so that no square underflows
    means = shares.sum(axis=1) / queries
    squares = ((shares - means[:, np.newaxis]) ** 2).sum(axis=1)
    for mean, square in zip(means.tolist(), squares.tolist(), strict=True):
        t = mean / math.sqrt(square / (queries - 1) / queries) if square else math.copysign(math.inf, mean)
        p = (1 + two_sided) * scipy_special().stdtr(queries - 1, -abs(t) if two_sided else -t)
        p_values.append(p if mean or square else 1.0)
    return np.array(p_values)


def power(sample: Sample, *, alternative: str = "two-sided", margin: float = 0.0) -> Power:
    """Return the difference that the queries detect, and the number of queries needed to detect the observed one.

    Both are for a paired t-test at the 5% level with 80% power, from the noncentral t distribution. With unequal
    weights, the queries count as their effective number; fewer than two detect nothing.
    """
    two_sided, sign, effective = alternative == "two-sided", -1 if alternative == "less" else 1, sample.effective
    if effective < 2:
        return Power._make(np.full((2, len(sample.by_query)), np.nan))
    found = []
    for mean, _, deviation, _ in sample.moments[len(sample.values) :]:
        is_known = deviation > ROUNDING * abs(mean)
        deviation = deviation * math.sqrt(effective / (effective - 1)) if is_known else math.nan
        effect = (abs(mean) if two_sided else sign * mean + margin / sample.scale) / deviation
        detectable = detectable_t(effective, two_sided) / math.sqrt(effective) * deviation * sample.scale
        found.append((detectable, _queries_needed(effect, two_sided) * len(sample.weight) / effective))
    detectables, needed = np.array(found).reshape(-1, 2).T
    return Power(detectables, np.ceil(needed))


def _queries_needed(effect: float, two_sided: bool) -> float:
    """Return the number of queries with which the t-test detects a mean of `effect` standard deviations, or nan."""
    ndtri = scipy_special().ndtri
    distance = float(ndtri(1 - LEVEL / (1 + two_sided)) + ndtri(POWER))
    if not effect > distance / math.sqrt(MOST_NEEDED):
        return math.nan
    needed = max(2.0, math.ceil((distance / effect) ** 2))  # estimated by a z-test
    while effect * math.sqrt(needed) < detectable_t(needed, two_sided):
        needed += max(1.0, needed // 2**20)
    return needed


@lru_cache(1 << 12)
def detectable_t(queries: float, two_sided: bool) -> float:
    """Return the distance of a mean from 0, in standard errors, at which the t-test detects it with this power."""
    special = scipy_special()
    critical = special.stdtrit(queries - 1, 1 - LEVEL / (1 + two_sided))
    return float(special.nctdtrinc(queries - 1, 1 - POWER, critical))


def falls_beyond(difference: float, max_drop: float) -> bool:
    """Return whether a mean drops by more than `max_drop`, apart from rounding."""
    return -difference > max_drop + ROUNDING


def can_be_significant(queries: int, tests: int, alpha: float) -> bool:
    """Return whether one of several one-sided randomization tests can have a corrected p of at most `alpha`."""
    return 0.5**queries <= alpha / tests


def is_regression(difference: float, p: float, *, max_drop: float, alpha: float) -> bool:
    """Return whether a mean drops by more than `max_drop`, and a one-sided test says so at the level `alpha`."""
    return falls_beyond(difference, max_drop) and p <= alpha


def holm(p_values: Floats) -> Floats:
    """Correct p-values for their number, so that the probability of any false discovery is bounded (Holm, 1979)."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(corrected, 1.0)


@cache
def scipy_special() -> Any:
    """Return SciPy's special functions, which are imported in a third of the time of scipy.stats."""
    try:
        return import_module("scipy.special")
    except ImportError:
        raise missing_library("a confidence interval or a test", "SciPy", "scipy") from None


# ndcg/statistics/measured.py: Compute columns with a row per query, for one or several systems, and scores from these columns.

COUNTS = ("retrieved", "judged", "relevant")
ORDERED = ("worst", "best", "random order")  # of documents; each has a column for each result
# Up to this many documents, sorting them is faster than scoring them in the worst and the best order.
SORTED = 2_000
EXCLUDED = ("excluded retrieved", "excluded judged")  # numbers of documents, with `exclude`
SHOWN = 50  # the most slices in tables and plots
PIECE = 1 << 19  # documents described at a time: few enough that their memory is reused

PerQuery = dict[str, NDArray[Any]]  # columns by name, with a row for each query


class Score(NamedTuple):
    """A mean over queries, its confidence interval, and figures on ties, judgments and a random order.

    Attributes:
        value: the mean.
        low: the lower end of its confidence interval; nan if there is none.
        high: the upper end.
        standard_error: the standard error of the mean.
        worst: the mean under the worst order of all ties.
        best: the mean under the best order of all ties.
        tied: the number of queries with a value that depends on the order of ties.
        ranked: the number of documents within the cutoff, over all queries.
        unjudged: the number of these that were not judged; an expected number if it depends on the order of ties.
        random_order: the expected mean of a random order of the same documents.
        queries: the number of queries in the mean.

    Queries with weight 0, or without a value, are not counted.
    """

    value: float
    low: float
    high: float
    standard_error: float
    worst: float
    best: float
    tied: int
    ranked: int
    unjudged: float
    random_order: float
    queries: int

    def left_out(self, queries: int) -> int:
        """Return the number of queries that are not in the mean."""
        return queries - self.queries

    def cells(self, level: str, places: int = 4, *, queries: int) -> dict[str, str]:
        """Return the cells of tables by their headings; `queries` are all queries, in the mean or not."""
        return {
            "queries": counted_text(self.queries, queries),
            "mean": number_text(self.value, places),
            level: interval_text(self.low, self.high, places),
            "random order": number_text(self.random_order, places),
            "standard error": number_text(self.standard_error, places),
            "min–max over tie orders": interval_text(self.worst, self.best, places),
            "queries affected by ties": count_text(self.tied),
            "unjudged": f"{count_text(self.unjudged)} of {count_text(self.ranked)}",
        }


def mean_cells(rows: Sequence[tuple[Mapping[str, Score], int]], level: str, places: int = 4) -> list[list[list[str]]]:
    """Return the cells of means and their intervals: first the headings, then a list for each row.

    Before each mean is the number of its queries; if all measures of a row have the same number, only before the first.
    """
    alike = all(len({score.queries for score in scores.values()}) == 1 for scores, _ in rows)

    def columns(at: int) -> list[str]:
        return ["queries", "mean", level] if at == 0 or not alike else ["mean", level]

    names = list(rows[0][0])
    cells = [[[name if each == "mean" else each for each in columns(at)] for at, name in enumerate(names)]]
    for scores, queries in rows:
        of_row = [score.cells(level, places, queries=queries) for score in scores.values()]
        cells.append([[of_score[each] for each in columns(at)] for at, of_score in enumerate(of_row)])
    return cells


def mean_table(
    names: Sequence[Sequence[str]], rows: Sequence[tuple[Mapping[str, Score], int]], level: str, places: int = 4
) -> Table:
    """Return a table of means and their intervals: names, then the cells of `mean_cells`, the headings first."""
    cells = mean_cells(rows, level, places)
    return [[*name, *chain.from_iterable(row)] for name, row in zip(names, cells, strict=True)]


class Slice(NamedTuple):
    """The scores of the queries with the same value of `by`.

    Attributes:
        queries: the number of these queries.
        scores: the scores by name; without an interval if fewer than two of the queries have a value.
    """

    queries: int
    scores: dict[str, Score]


class Resampling(NamedTuple):
    """The confidence of the intervals, and the settings of a comparison's randomization test; a report has no test.

    Attributes:
        confidence: the confidence level of the intervals.
        seed: the random seed of the test.
        exact: whether all permutations were tried.
    """

    confidence: float
    seed: int
    exact: bool = False

    @classmethod
    def parse(cls, confidence: Any, seed: Any = 0) -> "Resampling":
        """Check the options of intervals and tests."""
        return cls(between_0_and_1("confidence", confidence, 0.95), whole("seed", seed, 0))

    @property
    def level(self) -> str:
        """The name of the intervals, such as "95% interval"."""
        return level_text(self.confidence)

    def __str__(self) -> str:
        return f"{self.level}s: Wilson-type t for means, Student's t for differences"


def query_columns(inputs: Inputs, options: Options, notify: Notify = warn_unmatched) -> PerQuery:
    """Return the columns of a report's table of queries.

    It has `query` only if queries have ids, and `weight` only if there are weights. `ideal`, the highest IDCG of all
    judged documents, is 0 for queries with no relevant documents. `notify` is called as in `describe_queries`.
    """
    columns = describe_queries(partial(_describe, options), inputs, options, PIECE, notify)
    weight = weights(inputs.sample_weight, len(columns["ideal"]), columns.get("query"))
    return columns if weight is None else {**columns, "weight": weight}


def _describe(options: Options, part: Rankings) -> PerQuery:
    measures = tuple(dict.fromkeys([*options.measures, "IDCG"]))
    chosen = options.scoring["ties"]
    may_tie = len(part.score) > SORTED or len(part.queries_of_ties())
    orders = {chosen, "worst", "best"} if may_tie else {chosen}
    by_ties = {ties: measure_rankings(part, options, measures=measures, ties=ties) for ties in orders}
    found = by_ties[chosen]
    no_order = part._replace(score=np.where(part.score > -np.inf, np.float32(0), np.float32(-np.inf)))
    by_chance = measure_rankings(no_order, options, ties="average")
    columns: PerQuery = part.counts()
    if part.query_ids is not None:
        columns["query"] = np.fromiter(part.names(), object, part.queries)
    for name, measure, row in options.results:
        columns[name] = found[measure][row]
        values = np.stack([each[measure][row] for each in by_ties.values()])
        columns[f"worst {name}"], columns[f"best {name}"] = values.min(axis=0), values.max(axis=0)
        columns[f"random order {name}"] = by_chance[measure][row]
    for k, unjudged in zip(options.cutoffs, _unjudged(options, part), strict=True):
        columns[result_name("unjudged", k)] = unjudged
    is_judged = columns["retrieved and judged"] == columns["retrieved"]
    columns["all relevant"] = is_judged & (columns["relevant"] == columns["judged"]) & (columns["retrieved"] > 0)
    if part.excluded is not None:
        columns |= dict(zip(EXCLUDED, part.excluded.T, strict=True))
    columns["missing"] = part.missing
    ideal = found["IDCG"]
    if options.ideal != "judged" or options.missing == "skip":  # may be 0 although documents are relevant
        how = {**options.scoring, "measures": ("IDCG",), "ideal": "judged"}
        ideal = measure_queries(**part.arrays(), **how)["IDCG"]
    columns["ideal"] = (ideal * sign(discounts(1, options.log_base, options.discount))).max(axis=0)
    return columns


def _unjudged(options: Options, part: Rankings) -> NDArray[np.float64]:
    """Return the unjudged documents within each cutoff, of shape ``(cutoffs, queries)``."""
    if part.judged is None:
        return np.zeros((len(options.cutoffs), part.queries))
    # computed as the CG with gain 1 for unjudged documents and 0 for the others
    arrays = {**part.arrays(), "relevance": np.where(part.judged, 0.0, 1.0), "judged": None}
    ties = options.scoring["ties"]
    # in the best order, unjudged documents rank last among tied ones, since they have no gain
    ties = {"best": "worst", "worst": "best"}.get(ties, ties)
    how = {**options.scoring, "measures": ("CG",), "gain": "linear", "ties": ties}
    return np.asarray(measure_queries(**arrays, **how)["CG"])


def leave_out_alike(columns: Mapping[str, PerQuery], names: Sequence[str]) -> None:
    """Exclude queries that have no value for some system from the means of all, so that all have the same queries.

    A query has no value for a system if the system lacks it and missing queries are skipped, or if the system retrieved
    nothing for it and the ideal depends on the retrieved documents.
    """
    for name in names:
        lacking = np.logical_or.reduce([np.isnan(each[name]) for each in columns.values()])
        if lacking.any():
            for each in columns.values():
                for column in (name, *(f"{order} {name}" for order in ORDERED)):
                    each[column] = np.where(lacking, np.nan, each[column])


def with_slices(columns: PerQuery, parts: Slices) -> PerQuery:
    """Return the columns, with the slice of each query as the first one."""
    return {"slice": np.array(parts.values, object)[parts.code], **columns}


def query_table(columns: PerQuery) -> pa.Table:
    """Return the table of a report: ids or indices first, missing values as nulls."""
    ids = columns.get("query", np.arange(len(columns["ideal"])))
    hidden = ("query", "ideal", "missing", "retrieved and judged", "all relevant", *EXCLUDED)
    kept = {name: column for name, column in columns.items() if name not in hidden}
    return pa.table(
        {"query": _saved_ids(ids), **{name: pa.array(column, from_pandas=True) for name, column in kept.items()}}
    )


def stacked(tables: Mapping[str, pa.Table]) -> pa.Table:
    """Return the tables of queries of systems below each other, with the name of the system in the first column."""
    named = [each.add_column(0, "system", pa.repeat(system, len(each))) for system, each in tables.items()]
    return pa.concat_tables(named, promote_options="default")


def _saved_ids(ids: NDArray[Any]) -> pa.Array:
    """Return ids as 64-bit integers if all of them are, else as text with invalid Unicode escaped."""
    values = ids.tolist()
    kinds = set(map(type, values))
    with suppress(OverflowError, UnicodeError, pa.ArrowException):
        if all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds):
            return pa.array(list(map(int, values)), pa.int64())
        if kinds == {str}:
            return pa.array(values, pa.string())
    return pa.array([str(each).encode("utf-8", "backslashreplace").decode() for each in values])


def query_figures(columns: PerQuery, names: Sequence[str]) -> PerQuery:
    """Return the figures of queries that the scores of a system are made of.

    Those of a result have shape ``(10, queries)``: the value, and nine to be summed, 0 for a query that is not in the
    mean: the value and those in the worst, the best and a random order, times the weight; whether the value depends on
    the order of ties; the numbers of ranked and of unjudged documents; 1; and the weight.
    """
    figures: PerQuery = {name: columns[name] for name in ("ideal", "weight") if name in columns}
    one, none = np.ones(len(columns["ideal"])), np.zeros(len(columns["ideal"]))
    weight, retrieved = columns.get("weight", one), columns.get("retrieved", none)  # 0 for values without rankings
    for name in names:
        _, _, k = name.partition("@")
        orders = [columns[each] for each in (name, *(f"{order} {name}" for order in ORDERED))]
        ranked = np.minimum(retrieved, min(int(k), 2**62)) if k else retrieved
        unjudged = columns.get(result_name("unjudged", int(k) if k else None), none)
        counts = affected_by_ties(orders[1], orders[2]), ranked, unjudged, one, weight
        counted = ~np.isnan(orders[0]) & (weight > 0)
        figures[name] = np.array([orders[0], *np.where(counted, [*(each * weight for each in orders), *counts], 0.0)])
    return figures


def score_system(figures: PerQuery, options: Options, confidence: float) -> dict[str, Score]:
    """Return the scores of a system by name; nan if no query has a value."""
    return {name: score_result(figures, name, confidence) for name in options.names}


def score_result(figures: PerQuery, name: str, confidence: float) -> Score:
    """Return the score of one result."""
    sample = Sample.of(figures[name][:1], figures.get("weight"))
    ends = intervals(sample, greatest=greatest_value(name), confidence=confidence)
    return make_scores(name, figures[name][np.newaxis], ends)[0]


def make_scores(name: str, figures: NDArray[np.float64], ends: Intervals) -> list[Score]:
    """Return the score of each system in one result, from its figures; the first intervals are those of the means."""
    if not (valued := ~np.isnan(figures[0, 0])).all():
        figures = np.compress(valued, figures, axis=2)  # summed as by `compute`
    with np.errstate(over="ignore"):
        sums = figures[:, 1:].sum(axis=2)
    scores = []
    of_systems = zip(figures, sums.tolist(), *(each.tolist() for each in ends), strict=False)
    for rows, (*of_orders, tied, ranked, unjudged, queries, weight), *ends_of_mean in of_systems:
        for row, total in zip(rows[1:], of_orders, strict=False):
            if not math.isfinite(total) and not np.isnan(row).all():
                mean(name, row)  # raises the error
        value, worst, best, random_order = (each / weight if queries else math.nan for each in of_orders)
        low, high, error = (math.nan if math.isnan(each) else each for each in ends_of_mean)  # one nan, equal to itself
        score = Score(
            value=value,
            low=min(low, value),
            high=max(high, value),
            standard_error=error,
            worst=worst,
            best=best,
            tied=int(tied),
            ranked=int(ranked),
            unjudged=unjudged,
            random_order=random_order,
            queries=int(queries),
        )
        scores.append(score)
    return scores


def affected_by_ties(worst: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each query whether its value depends on the order of ties."""
    return differences(best, worst) > 0


def greatest_value(name: str) -> float:
    """Return the greatest value that a query can have in a result."""
    return 1.0 if measure_of(name) == "nDCG" else math.inf


def in_slices(figures: PerQuery, slices: Slices) -> Iterator[tuple[Value, PerQuery]]:
    """Yield the figures of each slice, whose queries keep their order."""
    order, sizes = np.argsort(slices.code, kind="stable"), np.bincount(slices.code, minlength=len(slices.values))
    in_order = {name: each.take(order, axis=-1) for name, each in figures.items()}
    for value, end, size in zip(slices.values, np.cumsum(sizes).tolist(), sizes.tolist(), strict=True):
        yield value, {name: each[..., end - size : end] for name, each in in_order.items()}


# ndcg/statistics/model_cards.py: Export a report: the metadata of model cards for the Hugging Face Hub, and flat scores for experiment trackers.

def flat_scores(report: Any) -> dict[str, float]:
    """Return scores and the ends of their intervals under names that all differ, as trackers log them."""
    flat: dict[str, float] = {}
    for part, _, scores in parts_of(report):
        for name, score in scores.items():
            key = name if part is None else f"{name}/slice={part}"
            own = {key: score.value, f"{key}/low": score.low, f"{key}/high": score.high}
            if both := flat.keys() & own:
                raise ValueError(f"by: two values would be called {shown(min(both))}; give the slices other names")
            flat |= own
    return {key: value for key, value in flat.items() if not math.isnan(value)}


def parts_of(report: Any) -> Iterator[tuple[str | None, int, Mapping[str, Score]]]:
    """Yield the scores of all queries, then of each slice by its name, each with its number of queries."""
    yield None, report.counts["queries"], report.scores
    for value, each in report.slices.items():
        yield slice_name(value), each.queries, each.scores


def model_index(report: Any, model_name: str, dataset: str, task_type: str, **fields: Any) -> list[dict[str, Any]]:
    """Return the `model-index` of a model card, as `Report.to_model_index` describes it."""
    for argument, text in {"model_name": model_name, "dataset": dataset, "task_type": task_type}.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{argument} must be a name; got {shown(text)}")
    try:
        from huggingface_hub import EvalResult
        from huggingface_hub.repocard_data import eval_results_to_model_index
    except ImportError:
        raise missing_library("to_model_index", "huggingface_hub", "huggingface_hub") from None
    fields = {"task_type": task_type, "dataset_type": dataset, "dataset_name": dataset, **fields}
    results = []
    confidence = report.resampling.confidence
    for part, queries, scores in parts_of(report):
        for name, score in scores.items():
            if math.isnan(score.value):
                continue
            interval = {"confidence": confidence, "low": score.low, "high": score.high}
            result = EvalResult(
                **fields,
                metric_type=name.lower(),
                metric_name=name if part is None else f"{name} slice={part}",
                metric_value=score.value,
                metric_args={
                    **({} if math.isnan(score.low) else interval),
                    "queries": score.queries,
                    **({"left_out": left} if (left := score.left_out(queries)) else {}),
                    "signature": report.signature,
                },
            )
            results.append(result)
    return eval_results_to_model_index(model_name, results)


def eval_results(report: Any, dataset: str, task_id: str, measure: str | None, **fields: Any) -> list[dict[str, Any]]:
    """Return the contents of a file in `.eval_results/`, as `Report.to_eval_results` describes it."""
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        library, packages = "huggingface_hub 1.16 or newer", '"huggingface_hub>=1.16"'
        raise missing_library("to_eval_results", library, packages) from None
    scores, confidence = report.scores, report.resampling.confidence
    if measure is None and len(scores) == 1:
        measure = next(iter(scores))
    if not isinstance(measure, str) or measure not in scores:
        raise ValueError(f"measure must be one of {', '.join(map(repr, scores))}; got {shown(measure)}")
    score = scores[measure]
    interval = "" if math.isnan(score.low) else f", {level_text(confidence)} {interval_text(score.low, score.high)}"
    left = f", {count_text(left)} excluded" if (left := score.left_out(report.counts["queries"])) else ""
    count = f"{count_text(score.queries)} {'query' if score.queries == 1 else 'queries'}"
    notes = f"{measure}{interval}, {count}{left}; {report.signature}"
    entry = EvalResultEntry(dataset_id=dataset, task_id=task_id, value=score.value, **{"notes": notes, **fields})
    return eval_result_entries_to_yaml([entry])


# ndcg/statistics/pairs.py: How two systems differ, pair by pair and measure by measure: intervals, tests and their correction.

SIGNIFICANT = 0.05  # the corrected p-value below which a difference is marked
COLUMNS = {"query", "difference"}  # columns of tables that also have one per system, so no system can have these names


class Testing(NamedTuple):
    """The hypotheses of the tests of a comparison.

    Attributes:
        alternative: whether two systems differ ("two-sided"), the first is better ("greater") or worse ("less").
        margin: the amount, in units of the measure, by which the first may still be worse ("greater") or better
            ("less").
        corrected_over: the p-values that Holm's correction covers: those of a "measure", or "all".
        paired: whether all systems have the same queries; else their queries are independent samples.
    """

    alternative: str = "two-sided"
    margin: float = 0.0
    corrected_over: str = "measure"
    paired: bool = True

    @classmethod
    def parse(cls, alternative: Any, margin: Any, corrected_over: Any, paired: Any = True) -> "Testing":
        """Check the options of the tests."""
        choice("alternative", alternative, ("two-sided", "greater", "less"))
        margin = in_units("margin", margin)
        if margin and alternative == "two-sided":
            greater = mark("alternative", "greater", said='"greater"')
            problem = f"{mark('margin', margin)} needs {mark('alternative', 'greater', 'less')}"
            raise InputError(f"{problem}; {greater} asks whether a system is worse by less than the margin")
        over = choice("corrected_over", corrected_over, ("measure", "all"))
        if not isinstance(paired, bool):
            raise InputError(f"{mark('paired')} must be True or False; got {shown(paired)}")
        return cls(alternative, margin, over, paired)

    def families(self, pairs: Sequence["Pair"]) -> list[list[int]]:
        """Return the indices of the pairs in each family: Holm's correction covers the p-values of a family."""
        families: dict[str, list[int]] = {}
        for at, pair in enumerate(pairs):
            families.setdefault("all" if self.corrected_over == "all" else pair.measure, []).append(at)
        return list(families.values())

    def holm(self, pairs: Sequence["Pair"], p_values: Sequence[float]) -> list[float]:
        """Return the p-values of pairs, with Holm's correction in their families."""
        corrected = np.array(p_values, float)
        for family in self.families(pairs):
            corrected[family] = holm(corrected[family])
        return list(map(float, corrected))

    def corrected(self, pairs: Sequence["Pair"], confidence: float) -> list["Pair"]:
        """Return pairs with their corrected p-values, and the intervals that agree with `p_holm`.

        In `pairs`, `low_holm` and `high_holm` are the bounds of a difference. `confidence` is that of `low` and `high`.
        """
        p_holm, p_t_holm = (self.holm(pairs, [getattr(pair, name) for pair in pairs]) for name in ("p", "p_t"))
        low, high = self._intervals(pairs, np.array(p_holm) < SIGNIFICANT, confidence)
        columns = {"p_holm": p_holm, "p_t_holm": p_t_holm, "low_holm": low.tolist(), "high_holm": high.tolist()}
        return [
            pair._replace(**dict(zip(columns, each, strict=True)))
            for pair, each in zip(pairs, zip(*columns.values(), strict=True), strict=True)
        ]

    def _intervals(
        self, pairs: Sequence["Pair"], significant: NDArray[np.bool_], confidence: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of Student's t intervals at the level at which Holm's correction compares p of each pair.

        Holm compares the smallest of m p-values with 0.05 / m, the next with 0.05 / (m - 1), and so on, up to the first
        that is not lower; the remaining pairs get the level of that one. Where the t-test and the randomization test
        disagree about the tested difference, the nearest end of the interval is moved to it.
        """
        p_values = np.array([pair.p for pair in pairs])
        tests = np.ones(len(pairs))
        for family in self.families(pairs):
            smaller = np.searchsorted(np.sort(p_values[family]), p_values[family])
            tests[family] = len(family) - np.minimum(smaller, np.count_nonzero(significant[family]))
        beyond = SIGNIFICANT / tests / (2 if self.alternative == "two-sided" else 1)
        names = ("difference", "low", "high", "low_holm", "high_holm", "standard_error", "degrees_of_freedom")
        difference, *ends, least, greatest, error, freedom = (
            np.array([getattr(pair, name) for pair in pairs], float) for name in names
        )
        low, high = at_level(difference, ends, error, freedom, (1 - confidence) / 2, beyond)
        low, high = np.maximum(low, least), np.minimum(high, greatest)
        tested = self.tested
        if self.alternative != "less":  # a significant difference is above it
            above = significant & (difference > tested)
            low = np.where(above, np.maximum(low, np.nextafter(tested, 2)), np.minimum(low, tested))
        if self.alternative != "greater":
            below = significant & (difference < tested)
            high = np.where(below, np.minimum(high, np.nextafter(tested, -2)), np.maximum(high, tested))
        return low, high

    @property
    def test(self) -> str:
        """The name of the test that `p` is from."""
        return "paired randomization test" if self.paired else "Welch's t-test"

    @property
    def tested(self) -> float:
        """The hypothetical difference that the test compares with."""
        return {"two-sided": 0.0, "greater": -self.margin, "less": self.margin}[self.alternative]

    @property
    def relation(self) -> str:
        """The relation of two systems that a small p-value supports."""
        return "not worse than" if self.margin else "better than"

    def marks(self, system: str, other: str, difference: float) -> tuple[str, str]:
        """Return the system that a small p-value favors, and the other one."""
        ahead = difference > 0 if self.alternative == "two-sided" else self.alternative == "greater"
        return (system, other) if ahead else (other, system)

    def __str__(self) -> str:
        if self.alternative == "two-sided":
            return "do the two differ"
        how = {"greater": ("better", "worse"), "less": ("worse", "better")}[self.alternative]
        return f"is the first not {how[1]} by {self.margin:g} or more" if self.margin else f"is the first {how[0]}"


class Pair(NamedTuple):
    """How two systems differ in one measure.

    Attributes:
        measure: the name of the result, such as ``"nDCG@10"``.
        system: the first system.
        other: the system it is compared with.
        difference: the mean of ``system`` minus the mean of ``other``.
        low: the lower end of its confidence interval.
        high: the upper end.
        low_holm: the lower end of the interval that agrees with `p_holm`: exactly if `p_holm` is below 0.05, it does
            not contain 0; for "greater", lies above 0 or the negative margin; for "less", below 0 or the margin.
        high_holm: the upper end.
        standard_error: the standard error of the difference.
        degrees_of_freedom: those of Student's t in the intervals and the t-test.
        p: the p-value of the randomization test, for the hypothesis of the comparison's `testing`; of Welch's t-test if
            queries are not paired.
        p_holm: the same, with Holm's correction for all pairs of this measure, or of all measures.
        p_t: the p-value of the paired t-test, or of Welch's.
        p_t_holm: the same, corrected.
        wins: the number of queries on which ``system`` scores higher, without those of weight 0; like the next two,
            None if queries are not paired.
        ties: the number on which both score the same, up to rounding.
        losses: the number on which ``system`` scores lower.
        exact: whether the randomization test tried all permutations.
        permutations: the number of permutations that it tried; 0 if queries are not paired.
        min_detectable: the smallest difference, from 0 or from the margin, that a t-test of these queries detects at
            the 5% level with 80% power; None if it is unknown, or if no possible difference is so large.
        queries_needed: the number of queries with which such a test would detect the observed difference; None if no
            number is enough, or if queries are not paired.
    """

    measure: str
    system: str
    other: str
    difference: float
    low: float
    high: float
    low_holm: float
    high_holm: float
    standard_error: float
    degrees_of_freedom: float
    p: float
    p_holm: float
    p_t: float
    p_t_holm: float
    wins: int | None
    ties: int | None
    losses: int | None
    exact: bool
    permutations: int
    min_detectable: float | None
    queries_needed: int | None

    @property
    def p_error(self) -> float:
        """The standard error of `p`; it is 0 if all permutations were tried."""
        return 0.0 if self.exact or not self.permutations else math.sqrt(self.p * (1 - self.p) / self.permutations)

    @property
    def differing(self) -> int:
        """The number of queries on which both score differently; 0 if queries are not paired."""
        return (self.wins or 0) + (self.losses or 0)

    @property
    def queries(self) -> int:
        """The number of queries in the mean difference; 0 if queries are not paired."""
        return self.differing + (self.ties or 0)

    @property
    def has_too_few_queries(self) -> bool:
        """Whether the queries detect no possible difference: differences vary, but `min_detectable` is None."""
        return self.min_detectable is None and self.standard_error > ROUNDING * abs(self.difference)

    @property
    def title(self) -> str:
        """The name of the pair in tables and plots: the names of both systems."""
        return f"{self.system} – {self.other}"

    def turned(self) -> "Pair":
        """Return the same pair with the systems exchanged; p-values stay the same."""
        return self._replace(
            system=self.other,
            other=self.system,
            difference=0.0 - self.difference,
            low=-self.high,
            high=-self.low,
            low_holm=-self.high_holm,
            high_holm=-self.low_holm,
            wins=self.losses,
            losses=self.wins,
        )

    def cells(self, level: str, places: int = 4) -> dict[str, str]:
        """Return the cells of tables by their headings; the heading of the interval is its level."""
        return {
            "difference": number_text(self.difference, places, "+"),
            level: interval_text(self.low, self.high, places, "+"),
            "p": p_text(self.p),
            "p (Holm)": p_text(self.p_holm),
            "p (t-test)": p_text(self.p_t),
            "p (t-test, Holm)": p_text(self.p_t_holm),
            "won–tied–lost": "–".join(map(count_text, (self.wins, self.ties, self.losses))),
            "minimum detectable difference": number_text(self.min_detectable, places),
            "queries needed for the observed difference": count_text(self.queries_needed),
        }


def system_names(systems: Any, baseline: Any, argument: str = "systems", content: str = "predictions") -> list[str]:
    """Return the names of systems: at least two, plain text, and the baseline among them."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        given = f"{len(systems)}" if isinstance(systems, Mapping) else type(systems).__name__
        raise ValueError(f"{argument} must map the names of at least two systems to their {content}; got {given}")
    for name in systems:
        if not isinstance(name, str) or not name.isprintable() or name in {"", *COLUMNS}:
            problem = 'must be a string of printable characters, other than "query" and "difference"'
            raise ValueError(f"{argument}: a name {problem}; got {shown(name)}")
    if baseline is not None:
        choice("baseline", baseline, tuple(systems))
    return list(systems)


# ndcg/statistics/notes.py: Notes: sentences that help the reader of a report or a comparison to interpret its figures.

NAMED_SLICES = 5  # slices in a sentence


def notes_of(columns: PerQuery, options: Options, scores: Mapping[str, Score], unmatched: str | None) -> list[str]:
    """Return the notes on the queries of one system."""
    return [
        *left_out_notes(columns, options),
        *missing_notes(columns, options),
        *short_run_notes(columns, options),
        *exclusion_notes(columns, options),
        *unmatched_notes(columns, unmatched),
        *cutoff_notes(columns, options),
        *few_queries_notes(columns, options),
        *chance_notes(scores, columns),
    ]


def shared_notes(of_systems: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the notes of several systems: once those that all have, then the others with the name of the system."""
    first, *others = of_systems.values()
    shared = [note for note in first if all(note in each for each in others)]
    own = [(name, note) for name, each in of_systems.items() for note in each if note not in shared]
    return [*shared, *(Message(f"{name}: {marked(note)}") for name, note in own)]


def cutoff_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return notes on cutoffs without effect, and on only relevant documents."""
    if "all relevant" not in columns:  # values without rankings
        return []
    longest = max(int(columns[name].max()) for name in ("retrieved", "judged"))
    sentences = [
        f"The cutoff {k} has no effect: no query has more than {longest} retrieved or judged documents."
        for k in options.cutoffs
        if k is not None and k > longest
    ]
    alike = columns["all relevant"]
    if 10 * np.count_nonzero(alike) >= len(alike):
        number = f"{np.count_nonzero(alike):,} of {len(alike):,} queries"
        sentences.append(f"In {number} all documents are relevant, so that any order of them scores high.")
    return sentences


def few_queries_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return a sentence on the number of queries, if it is small."""
    shares = columns.get("weight", np.ones(len(columns["ideal"])))
    fewest = min((shares[~np.isnan(columns[name])] for name in options.names), key=_counted_as)
    if (counted := _counted_as(fewest)) >= FEW:
        return []
    if np.count_nonzero(fewest) == 1:
        return ["A single query says nothing about others: its score has no interval."]
    number = f"{np.count_nonzero(fewest):,}"
    alike = counted > 0.999 * np.count_nonzero(fewest)
    number += "" if alike else f", which count as {counted:.1f} by their weights"
    problem = "intervals and tests may be wrong more often than their levels say"
    return [f"Few queries ({number}): below {FEW}, {problem}."]


def _counted_as(weight: NDArray[np.float64]) -> float:
    """Return the effective number of queries: how many of equal weight would be as precise (Kish, 1965)."""
    return float(weight.sum() ** 2 / (weight**2).sum()) if weight.any() else 0.0


def left_out_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return sentences on the queries that are excluded from all means or from some, and why."""
    queries, run = len(columns["ideal"]), "the run"
    without = {name: np.isnan(columns[name]) for name in options.names}
    skipped, nothing = np.zeros(queries, bool), columns["ideal"] <= 0
    if options.missing == "skip":
        skipped = columns.get("missing", skipped)
    sentences = []
    for applies, how_many, one, several in (
        (skipped, "judged queries", f"is missing from {run} and", f"are missing from {run} and"),
        (nothing & ~skipped, "queries", "has no relevant documents and is", "have no relevant documents and are"),
        (~nothing & ~skipped, "queries", "has an ideal DCG of 0 and is", "have an ideal DCG of 0 and are"),
    ):
        measures: dict[bytes, list[str]] = {}
        for name, lacking in without.items():
            measures.setdefault((lacking & applies).tobytes(), []).append(name)
        for mask, names in measures.items():
            if count := np.count_nonzero(np.frombuffer(mask, bool)):
                measure = "" if len(names) == len(without) else f" of {', '.join(names)}"
                reason = one if count == 1 else several
                sentences.append(f"{count:,} of {queries:,} {how_many} {reason} excluded from the mean{measure}.")
    if "weight" in columns and (count := np.count_nonzero(columns["weight"] == 0)):
        reason = "has a weight of 0 and is" if count == 1 else "have a weight of 0 and are"
        sentences.append(f"{count:,} of {queries:,} queries {reason} excluded from the mean.")
    return sentences


def unmatched_notes(columns: PerQuery, unmatched: str | None = None) -> list[str]:
    """Return a sentence if no document was both retrieved and judged, with ids from both inputs if these are known."""
    if unmatched:
        return [f"{unmatched[0].upper()}{unmatched[1:]}."]
    sides = [columns[name].any() for name in ("retrieved", "judged", "retrieved and judged") if name in columns]
    if sides != [True, True, False]:
        return []
    both = f"{mark('predictions')} and {mark('references')}"
    return [Message(f"No document was both retrieved and judged: do {both} use the same document ids?")]


def exclusion_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return sentences on the number of excluded documents, and on queries that they leave without a relevant one."""
    if EXCLUDED[0] not in columns:
        return []
    retrieved, judged = (int(columns[name].sum()) for name in EXCLUDED)
    is_of_run = options.exclude_from == "run"
    removed = retrieved if is_of_run else retrieved + judged
    if not removed:
        hint = "are its ids the ids of queries and documents?"
        there = "retrieved" if is_of_run else "retrieved or judged"
        return [Message(f"No document was excluded: {mark('exclude')} has none that is {there}; {hint}")]
    if is_of_run:
        still = f"judged, so still in the ideals: {judged:,}"
        return [f"Excluded documents: {retrieved:,} from the run; {still}."]
    sentences = [f"Excluded documents: {retrieved:,} retrieved and {judged:,} judged."]
    normalized = [name for name, measure, _ in options.results if measure == "nDCG"]
    emptied = (columns[EXCLUDED[1]] > 0) & (columns["ideal"] <= 0)
    if count := max((np.count_nonzero(emptied & ~np.isnan(columns[name])) for name in normalized), default=0):
        have, are = ("has", "is") if count == 1 else ("have", "are")
        value, skip = options.scoring["zero_division"], mark("zero_division", math.nan)
        counted = "counted" if isinstance(value, str) else f"counted as {value:g}"
        left = f"{count:,} of {len(emptied):,} queries {have} no relevant document left and {are} {counted}"
        sentences.append(Message(f"{left}; {skip} leaves such queries out of the mean."))
    return sentences


def missing_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return a sentence on missing queries that count in the mean, if there are any."""
    if "missing" not in columns or options.missing == "skip":  # "missing" is unknown for values without rankings
        return []
    count, queries = np.count_nonzero(columns["missing"]), len(columns["ideal"])
    are = f"{count:,} of {queries:,} judged queries {'is' if count == 1 else 'are'} missing from the run and"
    return [Message(f"{are} counted as 0; {mark('missing', 'skip')} skips them.")] if count else []


def short_run_notes(columns: PerQuery, options: Options) -> list[str]:
    """Return a sentence on queries with few retrieved documents, if there are any."""
    if "missing" not in columns:  # values without rankings
        return []
    k = max((k for k in options.cutoffs if k is not None), default=0)
    incomplete = ~columns["missing"] & (columns["judged"] > columns["retrieved and judged"])
    few = np.count_nonzero(incomplete & (columns["retrieved"] < k))
    have = f"{'query has' if few == 1 else 'queries have'} fewer than {k} retrieved documents."
    return [f"{few:,} {'other ' if columns['missing'].any() else ''}{have}"] if few else []


def chance_notes(scores: Mapping[str, Score], columns: PerQuery) -> list[str]:
    """Return a sentence on each score that may be no better than a random order, or is worse."""
    sentences = []
    for name, score in scores.items():
        differs = np.abs(differences(columns[name], columns[f"random order {name}"])) > 0
        if score.low <= score.random_order and differs.any():  # otherwise the order does not matter
            expected = f"the mean of all orders of the same documents is {number_text(score.random_order)}"
            below = f"{name} is worse than a random order: {expected}. Do higher scores rank first?"
            near = f"{name} may be no better than a random order: {expected}."
            sentences.append(near if score.random_order <= score.high else below)
    return sentences


def slice_notes(slices: Mapping[Value, Slice]) -> list[str]:
    """Return a sentence on the slices without an interval, if there are any."""
    without = sum(any(math.isnan(score.low) for score in each.scores.values()) for each in slices.values())
    few = "fewer than two of their queries have a value"
    return [f"{without:,} of {len(slices):,} slices have no interval, since {few}."] if without else []


def small_slices(slices: Mapping[Value, Any]) -> list[str]:
    """Return a sentence on the slices with few queries, if there are any."""
    few = sum(each.queries < FEW for each in slices.values())
    problem = f"have fewer than {FEW} queries: intervals may miss the true value more often than they say"
    return [f"{few:,} of {len(slices):,} slices {problem}."] if few else []


def first_slices(slices: Mapping[Value, Any]) -> list[str]:
    """Return a sentence on the slices that tables omit, if there are any."""
    return [f"The first {SHOWN} of {len(slices):,} slices are shown."] if len(slices) > SHOWN else []


def least_p_values(pairs: Sequence[Pair], testing: Testing) -> list[float]:
    """Return the lowest corrected p-value that each pair could have, from its number of differing queries."""
    if not testing.paired:
        return [0.0] * len(pairs)
    sides = 2 if testing.alternative == "two-sided" else 1
    return testing.holm(pairs, [min(1, (sides if pair.exact else 1) / pair.permutations) for pair in pairs])


def differing_text(least: int, most: int | None = None) -> str:
    """Return the number of queries that differ, in words.

    >>> differing_text(1), differing_text(4), differing_text(3, 5)
    ('1 query that differs', '4 queries that differ', '3 to 5 queries that differ')
    """
    if least == 1 and most is None:
        return "1 query that differs"
    return f"{least:,}{'' if most is None else f' to {most:,}'} queries that differ"


def notes_on_tests(pairs: Sequence[Pair], testing: Testing, baseline: str | None) -> list[str]:
    """Return notes on pairs that cannot be significant, have too few queries, or have p-values close to 0.05."""
    sides = 2 if testing.alternative == "two-sided" else 1
    together = len(testing.families(pairs)[0])
    least = least_p_values(pairs, testing)
    beyond = [(pair, p) for pair, p in zip(pairs, least, strict=True) if p >= SIGNIFICANT and pair.permutations > 1]
    sentences = []
    if beyond:
        counts = sorted({pair.permutations.bit_length() - 1 for pair, _ in beyond})
        few = differing_text(*dict.fromkeys((counts[0], counts[-1])))
        ways = [f"{int(math.log2(together * sides / SIGNIFICANT)) + 1} queries that differ"]
        if not all(pair.exact for pair, _ in beyond):
            few, ways = "this number of permutations", []
        if together > 1:
            ways.append("fewer pairs" + ", as with a baseline" * (baseline is None))
        corrected = f" corrected for {together:,}" if together > 1 else ""
        sentences.append(
            f"{len(beyond):,} of {len(pairs):,} pairs cannot be significant: with {few}, p{corrected} is at "
            f"least {min(p for _, p in beyond):.4f}. A significant result needs {', or '.join(ways)}."
        )
    if too_few := sum(pair.has_too_few_queries for pair in pairs):
        problem = "have too few queries to find any difference with 80% power, even the greatest possible"
        sentences.append(f"{too_few:,} of {len(pairs):,} pairs {problem}.")
    near = [pair for pair in pairs if abs(pair.p_holm - SIGNIFICANT) * pair.p < 2 * pair.p_error * pair.p_holm]
    if near:
        sentences.append(
            f"{len(near):,} of {len(pairs):,} corrected p-values lie within two standard errors of {SIGNIFICANT}: "
            "all permutations might put them on the other side."
        )
    return sentences


def notes_on_slices(
    pairs: Sequence[Pair], testing: Testing, compared: Collection[Value], slices: Sequence[Value]
) -> list[str]:
    """Return notes on the correction of p-values in slices, and on slices that are not compared."""
    sentences = []
    if compared:
        together = len(testing.families(pairs)[0])
        measures = {"all": "all measures", "measure": "a measure"}[testing.corrected_over]
        family = f"{together * len(compared):,} pairs: {together:,} of {measures} in each"
        sentences.append(f"In slices, p-values are corrected by Holm for {family} of {len(compared):,} slices.")
    if left := [slice_name(value) for value in slices if value not in compared]:
        few = f"fewer than two of their queries have a value: {', '.join(left[:NAMED_SLICES])}"
        more = f" and {len(left) - NAMED_SLICES:,} more" if len(left) > NAMED_SLICES else ""
        sentences.append(f"{len(left):,} of {len(slices):,} slices are not compared, since {few}{more}.")
    return sentences


# ndcg/statistics/saved.py: Convert results to JSON and back; what follows from the values of the queries is computed again.

# Figures of a score that depend on documents, so that the values of queries do not determine them.
OF_DOCUMENTS = ("worst", "best", "tied", "ranked", "unjudged", "random_order")


class OldResultError(ValueError):
    """A result that a version saved which this one does not read."""


@contextmanager
def as_saved(kind: str) -> Iterator[None]:
    """Raise a ValueError, never another error, for values that `to_dict` did not return."""
    try:
        yield
    except OldResultError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, pa.ArrowException) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"values must be the result of {kind}.to_dict(), whole and unchanged ({problem})") from error


def table_from_lists(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return a table of queries from plain lists, with values as float64, and text and counts unchanged."""
    arrays = {}
    for name, values in columns.items():
        place = f"queries: {name}"
        if not isinstance(values, (list, tuple)):
            raise ValueError(f"{place}: must be a list; got {shown(values)}")
        if name in COUNTS:
            arrays[name] = pa.array([saved_count(each, place) for each in values], pa.int64())
        elif name in ("system", "query"):
            kinds = {type(each) for each in values}
            if len(kinds) != 1 or not kinds <= ({str, int} if name == "query" else {str}):
                raise ValueError(f"{place}: must be all strings" + " or all integers" * (name == "query"))
            arrays[name] = pa.array(values)
        elif name == "slice":
            arrays[name] = pa.array(values)
        elif name == "weight":
            arrays[name] = pa.array([saved_weight(each, place) for each in values], pa.float64())
        else:
            arrays[name] = pa.array([saved_number(each, place) for each in values], pa.float64(), from_pandas=True)
    return pa.table(arrays)


def saved_number(value: Any, place: str) -> float:
    """Return a saved number, nan for None."""
    if value is None:
        return math.nan
    if not is_real(value) or not math.isfinite(value) or float(value) != value:
        raise ValueError(f"{place}: must be a finite number, or None; got {shown(value)}")
    return float(value)


def saved_weight(value: Any, place: str) -> float:
    """Return a saved weight, which no query lacks."""
    if value is None or not saved_number(value, place) >= 0:
        raise ValueError(f"{place}: must be a number that is not negative; got {shown(value)}")
    return float(value)


def saved_count(value: Any, place: str) -> int:
    """Return a saved number of queries or documents."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{place}: must be a count; got {shown(value)}")
    return value


def saved_notes(notes: Any) -> tuple[str, ...]:
    """Return saved notes."""
    if not isinstance(notes, (list, tuple)) or not all(isinstance(each, str) for each in notes):
        raise ValueError(f"notes: must be a list of strings; got {shown(notes)}")
    return tuple(notes)


def saved_signature(signature: Any) -> tuple[str, Options]:
    """Return a saved signature, and options with its measures."""
    measures, _, version = signature.partition("|v:") if isinstance(signature, str) else ("", "", "")
    if not version:
        raise ValueError(f"signature: must begin with the measures and end with the version; got {shown(signature)}")
    if version.startswith("1."):
        problem = "this version reads results of 2.0 and later"
        raise OldResultError(f"values were saved by version {version}; {problem}: score the rankings again")
    return signature, Options.parse(measures=measures.split("|")[0].split("+"))


def saved_resampling(values: Mapping[str, Any]) -> Resampling:
    """Return the saved options of intervals and tests."""
    return Resampling.parse(values["confidence"], values["seed"])


def choices_in(signature: str) -> dict[str, str]:
    """Return the options in a signature by the names that it uses."""
    measures, *options = signature.split("|")
    return {"measures": measures, **dict(each.split(":", 1) for each in options)}


def with_figures_of_documents(
    scores: Mapping[str, Mapping[str, Score]], saved: Mapping[str, Any]
) -> dict[str, dict[str, Score]]:
    """Return the scores of systems with the saved figures that the values of the queries do not determine."""

    def figures(system: str, name: str) -> dict[str, Any]:
        place, found = f"scores: {system}: {name}", saved[system][name]
        reading = {each: saved_count if each in ("tied", "ranked") else saved_number for each in OF_DOCUMENTS}
        return {each: read(found[each], f"{place}: {each}") for each, read in reading.items()}

    return {
        system: {name: score._replace(**figures(system, name)) for name, score in of_system.items()}
        for system, of_system in scores.items()
    }


def saved_columns(table: pa.Table, names: Sequence[str], signature: str) -> PerQuery:
    """Return the columns of a saved table; columns that values without rankings do not have are nan."""
    if lacking := [name for name in ("query", *names) if name not in table.column_names]:
        raise ValueError(f"queries: has no column {lacking[0]}")
    ids = table["query"].to_pylist()
    if twice := [query for query, count in Counter(ids).items() if count > 1]:
        raise ValueError(f"queries: query {shown(twice[0])} is given {ids.count(twice[0])} times")
    if "weight" in table.column_names and not any(table["weight"].to_pylist()):
        raise ValueError("queries: weight: is 0 for every query")
    columns = {
        each: table[each].to_numpy().copy() for each in table.column_names if each not in ("system", "query", "slice")
    }
    for name, order in product(names, ("", *(f"{order} " for order in ORDERED))):
        values = columns.setdefault(f"{order}{name}", np.full(len(table), np.nan))
        outside = (values < 0) | (values > 1 + ROUNDING)
        if measure_of(name) == "nDCG" and outside.any() and _has_bounds(choices_in(signature)):
            at = int(np.flatnonzero(outside)[0])
            raise ValueError(f"queries: {order}{name}: query {shown(ids[at])}: must be from 0 to 1; got {values[at]}")
    return {**columns, "ideal": np.ones(len(table))}


def _has_bounds(choices: Mapping[str, str]) -> bool:
    """Return whether an nDCG with the options in a signature is from 0 to 1."""
    is_known = choices.get("gain", "linear") in GAINS and choices.get("empty", "0") in ("0", "1", "nan")
    return is_known and choices.get("negative") != "keep"


# ndcg/statistics/report.py: The report on one system: its scores, their intervals, and the counts and notes that a reader needs to judge them.

# The rows of a report's table that counts queries.
COUNTED = {
    "queries": "all",
    "nothing_relevant": "no relevant documents",
    "all_relevant": "all documents relevant",
    "nothing_retrieved": "no documents retrieved",
    "left_out": "excluded from a mean",
}


@dataclass(frozen=True)
class Report(Readable):
    """The scores of one system, their intervals, and the counts and notes that a reader needs to judge them.

    Attributes:
        signature: every option that the scores depend on.
        scores: the scores by name, such as ``"nDCG@10"``.
        counts: the number of ``queries``, and how many of them have no relevant documents (``nothing_relevant``),
            only relevant documents (``all_relevant``: everything that was retrieved or judged is relevant), no
            retrieved documents (``nothing_retrieved``), and how many are excluded from a mean (``left_out``). With
            `exclude` also how many of its documents were retrieved (``excluded_retrieved``) and judged
            (``excluded_judged``; with ``exclude_from="run"`` they stay in the ideals).
        queries: a table with a row per query: ``query`` (its id, or its index), its ``slice`` if there are any, the
            number of documents ``retrieved``, ``judged`` and ``relevant``, and for each score such as ``nDCG@10``
            the query's value under this name (null if it has none), ``worst nDCG@10`` and ``best nDCG@10`` under the
            worst and the best order of ties, ``random order nDCG@10``, the expected value of a random order, and
            ``unjudged@10``, the number of unjudged documents within the cutoff.
        resampling: the confidence of the intervals.
        notes: sentences with further facts for the reader.
        slices: the scores of each slice, by its value of `by`, ascending; queries without a value, None, come last.
    """

    signature: str
    scores: dict[str, Score]
    counts: dict[str, int]
    queries: pa.Table
    resampling: Resampling
    notes: tuple[str, ...] = ()
    slices: dict[Value, Slice] = field(default_factory=dict)

    def _tables(self) -> list[Table]:
        level = self.resampling.level
        queries = self.counts["queries"]
        measures = {name: score.cells(level, queries=queries) for name, score in self.scores.items()}
        header = ["measure", *next(iter(measures.values()))]
        counts = [[text, count_text(self.counts[name])] for name, text in COUNTED.items() if name in self.counts]
        tables = [
            [header, *([name, *cells.values()] for name, cells in measures.items())],
            [["queries", "count"], *counts],
        ]
        if self.slices:
            tables.insert(1, self._slice_table(level))
        return tables

    def _slice_table(self, level: str) -> Table:
        shown = dict(islice(self.slices.items(), SHOWN))
        names = [["slice"], *([slice_name(value)] for value in shown)]
        return mean_table(names, [(each.scores, each.queries) for each in shown.values()], level)

    def _remarks(self) -> list[str]:
        return [f"{self.resampling}.", *first_slices(self.slices), *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict of JSON types."""
        return {
            "signature": self.signature,
            "scores": without_nan(self.scores),
            "counts": self.counts,
            "queries": self.queries.to_pydict(),
            "resampling": self.resampling._asdict(),
            "notes": list(self.notes),
            "slices": [{"slice": value, **without_nan(each)} for value, each in self.slices.items()],
        }

    @classmethod
    @as_saved("Report")
    def from_dict(cls, values: Mapping[str, Any]) -> "Report":
        """Return the report that `to_dict` was called on, from the values of the queries.

        Means, intervals and slices are computed again. The signature, the notes, and the numbers of queries with no
        relevant or only relevant documents are read.

        Raises:
            ValueError: an entry is missing, or has another type or range; names the entry.
        """
        signature, options = saved_signature(values["signature"])
        queries, resampling = table_from_lists(values["queries"]), saved_resampling(values["resampling"])
        columns = saved_columns(queries, options.names, signature)
        by = slices_of(queries["slice"], None, len(queries)) if "slice" in queries.column_names else None
        scores, slices = _scores_and_slices(columns, by, options, resampling)
        counts = {name: saved_count(each, f"counts: {name}") for name, each in values["counts"].items()}
        return cls(
            signature=signature,
            scores=scores,
            counts={**counts, "queries": len(queries), "left_out": _left_out(columns, options)},
            queries=queries,
            resampling=resampling,
            notes=saved_notes(values["notes"]),
            slices=slices,
        )

    def lowest(self, n: int | None = 10, measure: str | None = None) -> pa.Table:
        """Return the queries with the lowest values: ``query``, the value, and the numbers of documents.

        The lowest comes first. Queries without a value or without relevant documents are left out, because no ranking
        could improve them. `documents` lists their documents with their ranks.

        Args:
            n: the number of queries; None for all.
            measure: the name of a score; by default the first.

        Raises:
            ValueError: the measure is unknown, or `n` is negative.
        """
        name = next(iter(self.scores)) if measure is None else choice("measure", measure, tuple(self.scores))
        n = None if n is None else whole("n", n, 0)
        columns = [each for each in ("query", "slice", name, *COUNTS) if each in self.queries.column_names]
        counted = pc.is_valid(self.queries[name])
        if "relevant" in columns:
            counted = pc.and_(counted, pc.greater(self.queries["relevant"], 0))
        table = self.queries.select(columns).filter(counted)
        return table.take(np.argsort(table[name].to_numpy(), kind="stable")[:n])

    def flat(self) -> dict[str, float]:
        """Return the scores as one dict of floats, as experiment trackers log them.

        Next to `nDCG@10`, it has the ends of the interval as `nDCG@10/low` and `nDCG@10/high`, and for a slice such as
        `de` the same three under `nDCG@10/slice=de`. Values and intervals that a slice does not have are omitted.

        Raises:
            ValueError: two values would have the same name, for slices such as `de` and `de/low`.
        """
        return flat_scores(self)

    def to_model_index(
        self, *, model_name: str, dataset: str, task_type: str = "text-ranking", **fields: Any
    ) -> list[dict[str, Any]]:
        """Return the `model-index` of a model card's metadata: every score, also of each slice.

        The `args` of each score contain its interval, the number of queries in the mean (`queries`), the number of
        queries that are excluded from it (`left_out`, if any), and the signature.

        Args:
            model_name: the model's name.
            dataset: the id of the dataset on the Hub.
            task_type: one of the Hub's tasks, such as `"text-ranking"` or `"sentence-similarity"`.
            **fields: fields of `huggingface_hub.EvalResult`, such as `dataset_name`, which is the id by default,
                `dataset_split`, `dataset_revision`, `source_url`.

        Raises:
            ImportError: huggingface_hub is missing.
            ValueError: a name is not a string, or is empty.
        """
        return model_index(self, model_name, dataset, task_type, **fields)

    def to_eval_results(
        self, *, dataset: str, task_id: str, measure: str | None = None, **fields: Any
    ) -> list[dict[str, Any]]:
        """Return the contents of a file in `.eval_results/` of a model's repository: one score, for a leaderboard.

        The notes name the score, its interval, the number of queries in the mean and of those that are excluded from
        it, and the signature.

        Args:
            dataset: the id of the benchmark's dataset on the Hub.
            task_id: one of the benchmark's tasks.
            measure: the score, such as `"nDCG@10"`; None if there is only one.
            **fields: fields of `huggingface_hub.EvalResultEntry`, such as `dataset_revision`, `date`, `source_url`.

        Raises:
            ValueError: a measure that is not in the report.
            ImportError: huggingface_hub is missing or older than 1.16.
        """
        return eval_results(self, dataset, task_id, measure, **fields)

    def plot(self, measure: str | None = None, *, ax: Any = None, figsize: tuple[float, float] | None = None) -> Any:
        """Return a Matplotlib figure of a measure: its means with intervals, its values for all queries, its slices.

        Args:
            measure: a measure, such as ``"nDCG"``, shown at all its cutoffs; by default the first.
            ax: Matplotlib Axes to draw into: one for the means, or a list for the means, the queries and the slices.
                By default a new figure has all of them.
            figsize: width and height of a new figure in inches.

        Raises:
            ValueError: `measure` is not in the report; `ax` or `figsize` has another type.
        """
        measures = list(dict.fromkeys(measure_of(name) for name in self.scores))
        if measure not in (None, *measures, *self.scores):
            raise ValueError(f"{shown(measure)} is not in this report, which has {', '.join(map(repr, measures))}")
        measure = measures[0] if measure is None else measure_of(measure)
        names = [name for name in self.scores if measure_of(name) == measure]
        panels = [self._plot_means, self._plot_queries, *[self._plot_slices] * bool(self.slices)]
        height = max(4.0, 0.3 * min(len(self.slices), SHOWN))
        figure, axes = figure_of(len(panels), height, ax=ax, figsize=figsize)
        for draw, each in zip(panels, axes, strict=False):  # with fewer axes, only the first panels are drawn
            draw(each, names)
        return figure

    def _plot_means(self, axes: Any, names: Sequence[str]) -> None:
        for at, name in enumerate(names):
            draw_mark(axes, _mark_of_mean(self.scores[name]), at, f"C{at}", upright=True)
        axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 4 else 0)
        axes.margins(x=0.3)
        axes.set_ylabel(f"mean, with {self.resampling.level}")
        axes.set_title(f"Mean of {_count_range(self.scores[name] for name in names)} queries")

    def _plot_queries(self, axes: Any, names: Sequence[str]) -> None:
        for at, name in enumerate(names):
            values = self.queries[name].drop_null().sort().to_numpy()
            shares = [100 * (each + 0.5) / len(values) for each in range(len(values))]
            axes.plot(shares, values, linestyle=LINES[at % len(LINES)], label=name)
        axes.set_xlabel("% of the queries, lowest first")
        axes.set_ylabel("value of a query")
        legend_above(axes)

    def _plot_slices(self, axes: Any, names: Sequence[str]) -> None:
        values = islice(self.slices.items(), SHOWN)
        _draw_slices(axes, {value: [each.scores[name] for name in names] for value, each in values}, names)
        axes.set_xlabel(f"mean, with {self.resampling.level}, by slices (and their queries)")


def _count_range(scores: Iterable[Score]) -> str:
    """Return the number of queries in means, as a range if the numbers differ."""
    counts = sorted(score.queries for score in scores)
    return " to ".join(map(count_text, dict.fromkeys((counts[0], counts[-1]))))


def _mark_of_mean(score: Score) -> Mark:
    """Return a mean as plots show it."""
    return Mark(score.value, score.low, score.high)


def plot_reports(reports: Mapping[str, Report]) -> Any:
    """Return a Matplotlib figure of the means of several systems with their intervals, and of their slices.

    The first measure is shown, at each cutoff in a panel; slices follow at its first cutoff.
    """
    one = next(iter(reports.values()))
    first = next(iter(one.scores))
    names = [name for name in one.scores if measure_of(name) == measure_of(first)]
    values = list(islice(one.slices, SHOWN))
    rows = max(len(reports), len(values) * len(reports) / 3)
    figure, axes = figure_of(len(names) + bool(values), 1.4 + 0.3 * rows, 5.0)
    for name, each in zip(names, axes, strict=False):
        draw_rows(each, [(system, [_mark_of_mean(report.scores[name])]) for system, report in reports.items()])
        each.set_xlabel(f"{name}, with {one.resampling.level}")
    if values:
        scores = {value: [report.slices[value].scores[first] for report in reports.values()] for value in values}
        _draw_slices(axes[-1], scores, list(reports))
        axes[-1].set_xlabel(f"{first}, with {one.resampling.level}, by slices (and their queries)")
    return figure


def _draw_slices(axes: Any, scores: Mapping[Value, Sequence[Score]], labels: Sequence[str]) -> None:
    """Draw a row for each slice with its scores, which have labels in a legend."""
    names = (f"{slice_name(value)} ({_count_range(each)})" for value, each in scores.items())
    rows = [(name, list(map(_mark_of_mean, each))) for name, each in zip(names, scores.values(), strict=True)]
    draw_rows(axes, rows, labels)
    legend_above(axes)


def report(
    *,
    predictions: Any,
    references: Any,
    k: Cutoffs = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    by: Any = None,
    fields: Any = None,
    confidence: float = 0.95,
    **options: Unpack[QueryOptions],
) -> Report:
    """Score like `compute`, with confidence intervals and figures that help to judge the scores.

    A single query has a score without an interval.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        k: the cutoff or cutoffs.
        sample_weight: one weight per query for the mean, in the order of the references or as `{query: weight}`.
        query_ids: for flat predictions and references.
        document_ids: the document id of each row, with `query_ids`.
        data: a DataFrame; then the arguments above may be names of its columns.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        by: a value per query (a string, an integer or a boolean; None for none), such as its language; the
            queries with the same value are scored as a slice. In the order of the queries, or `{query: value}`.
        fields: the names of fields and columns, as in `compute`.
        confidence: the confidence level of the intervals, between 0 and 1.
        **options: the options of `compute`, except `use_aggregator` and `engine`.

    Raises:
        ValueError: as in `compute`.
        ImportError: SciPy is missing.

    >>> predictions, references = [[3, 2, 1], [1, 1, 2], [1, 2, 3]], [[2, 1, 0], [1, 0, 0], [0, 0, 1]]
    >>> found = report(predictions=predictions, references=references, k=[1, 3])
    >>> found.scores["nDCG@3"].value.__round__(4), found.scores["nDCG@3"].tied
    (0.8552, 1)
    """
    resampling = Resampling.parse(confidence)
    parsed = Options.of_method(report, k, options)
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude, sample_weight, by, fields)
    return report_on(from_frame(data, inputs), options=parsed, resampling=resampling)


def report_on(inputs: Inputs, *, options: Options, resampling: Resampling, notify: Notify = warn_unmatched) -> Report:
    """Return the report on rankings, once the options are checked; `notify` is called as in `describe_queries`."""
    unmatched: list[str] = []
    columns = query_columns(inputs, options, unmatched.append)
    for each in unmatched:
        notify(each)
    signature = options.signature(weighted=inputs.sample_weight is not None, excluding=inputs.exclude is not None)
    how: dict[str, Any] = {"options": options, "resampling": resampling, "signature": signature}
    return report_of(columns, inputs.by, **how, unmatched="".join(unmatched))


def report_of(
    columns: PerQuery, by: Any, *, options: Options, resampling: Resampling, signature: str, unmatched: str = ""
) -> Report:
    """Return the report on queries from their columns, which may come without rankings."""
    queries = len(columns["ideal"])
    parts = None if by is None else slices_of(by, columns.get("query"), queries)
    scores, slices = _scores_and_slices(columns, parts, options, resampling)
    counts = {"queries": queries}
    excluded = {name.replace(" ", "_"): int(columns[name].sum()) for name in EXCLUDED if name in columns}
    if "retrieved" in columns:
        counts |= {
            "nothing_relevant": int(np.count_nonzero(columns["ideal"] <= 0)),
            "all_relevant": int(np.count_nonzero(columns["all relevant"])),
            "nothing_retrieved": int(np.count_nonzero(columns["retrieved"] == 0)),
        }
    return Report(
        signature=signature,
        scores=scores,
        counts={**counts, "left_out": _left_out(columns, options), **excluded},
        queries=query_table(columns if parts is None else with_slices(columns, parts)),
        resampling=resampling,
        notes=(*notes_of(columns, options, scores, unmatched), *small_slices(slices), *slice_notes(slices)),
        slices=slices,
    )


def _scores_and_slices(
    columns: PerQuery, by: Slices | None, options: Options, resampling: Resampling
) -> tuple[dict[str, Score], dict[Value, Slice]]:
    """Return the scores of all queries, and those of each slice."""
    figures = query_figures(columns, options.names)
    scores = score_system(figures, options, resampling.confidence)
    for name in [name for name, score in scores.items() if not score.queries]:
        mean(name, columns[name], columns.get("weight"))  # raises the error
    parts = () if by is None else in_slices(figures, by)
    return scores, {
        value: Slice(len(own["ideal"]), score_system(own, options, resampling.confidence)) for value, own in parts
    }


def _left_out(columns: PerQuery, options: Options) -> int:
    """Return the number of queries that are excluded from a mean."""
    return int(np.isnan([columns[name] for name in options.names]).any(axis=0).sum())


# ndcg/loops/evaluator.py: The metric as a sentence-transformers evaluator, for bi-encoders, sparse encoders and rerankers.

Run = dict[Any, dict[Any, float]]

NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f]')  # on any system
TIED = 1000  # the most documents per query that are kept because they tie with the last one


class Calls(NamedTuple):
    """The arguments for calling a model and its similarity."""

    query: dict[str, Any]  # the model's arguments for queries and for pairs
    document: dict[str, Any]  # the model's arguments for documents
    embedding: dict[str, Any]  # further arguments of embedding models, for queries and documents
    chunk: int  # the number of documents, or pairs, that are encoded and scored at a time
    # a function of the embeddings of queries and of documents; None for the model's own
    score_function: "Callable[[Any, Any], Tensor] | None"


class Search:
    """Rank a corpus for each query with a model."""

    def __init__(
        self,
        queries: Mapping[Any, Any],
        corpus: Mapping[Any, Any],
        candidates: Mapping[Any, Collection[Any]] | None,
        depth: int | None,
        judged: Mapping[Any, Collection[Any]] | None,
        score_dtype: str,
        score_order: str,
        calls: Calls,
    ) -> None:
        """Store the queries and the documents to rank: the candidates of each query, or the whole corpus.

        For each query `depth` documents are kept, or all, and the `judged` ones at any rank. Scores are compared in
        `score_dtype`, in which documents tie.
        """
        self.queries, self.corpus, self.candidates, self.calls = queries, corpus, candidates, calls
        self.judged, self.score_dtype = judged, score_dtype
        self.sign = {"descending": 1, "ascending": -1}[score_order]  # with it, the highest score ranks first
        ranked = corpus if candidates is None else {each for of_query in candidates.values() for each in of_query}
        try:
            self.documents = sorted(ranked)
        except TypeError:
            raise ValueError("corpus: ids must be all text or all integers") from None
        self.depth = len(self.documents) if depth is None else depth

    def run(self, model: Any) -> Run:
        """Return the documents of each query with their scores, the best first and equal ones by ascending ids."""
        from sentence_transformers import CrossEncoder

        run = self._reranked(model) if isinstance(model, CrossEncoder) else self._retrieved(model)
        return {query: {each: self.sign * score for each, score in _loops_evaluator_ranked(run[query])} for query in run}

    def _reranked(self, model: Any) -> Run:
        if self.candidates is None:
            hint = "give {query: ids}, such as the run of a retriever's evaluator, evaluator.run"
            raise ValueError(f"candidates are missing, and a reranker needs them; {hint}")
        pairs = [(query, document) for query in self.queries for document in self.candidates[query]]
        run: Run = {query: {} for query in self.queries}
        for start in range(0, len(pairs), self.calls.chunk):
            chunk = pairs[start : start + self.calls.chunk]
            texts = [(self.queries[query], self.corpus[document]) for query, document in chunk]
            scores = np.asarray(model.predict(texts, **self.calls.query))
            if scores.ndim > 1:
                problem = f"gives {scores.shape[1]} scores for a pair, but a reranker gives one"
                raise ValueError(f"model: {problem}; make it with num_labels=1")
            for (query, document), score in zip(chunk, scores.tolist(), strict=True):
                run[query][document] = self.sign * score
        return run

    def _retrieved(self, model: Any) -> Run:
        import torch

        calls = self.calls
        score_function = calls.score_function or model.similarity
        queries = model.encode_query(list(self.queries.values()), **calls.query, **calls.embedding)
        scores, places = torch.empty(len(self.queries), 0), torch.empty(len(self.queries), 0, dtype=torch.int64)
        run: Run = {query: {} for query in self.queries}
        for start in range(0, len(self.documents), calls.chunk):
            texts = [self.corpus[each] for each in self.documents[start : start + calls.chunk]]
            similarity = score_function(queries, model.encode_document(texts, **calls.document, **calls.embedding))
            shape = (len(self.queries), len(texts))
            if not isinstance(similarity, torch.Tensor) or similarity.shape != shape:
                got = tuple(similarity.shape) if isinstance(similarity, torch.Tensor) else type(similarity).__name__
                problem = f"must return a tensor of queries and documents, here of shape {shape}; got {got}"
                raise ValueError(f"score_function: {problem}")
            similarity = similarity if similarity.is_floating_point() else similarity.double()
            similarity = self._of_candidates(similarity if self.sign > 0 else -similarity, start)
            for query, row, judged in self._rows(self.judged, start, len(texts)):
                values = similarity[row, judged].tolist()
                run[query] |= {self.documents[start + at]: score for at, score in zip(judged, values, strict=True)}
            similarity, columns = _highest_columns(similarity, self.depth, self.score_dtype)
            both = torch.cat([scores.to(similarity), similarity], dim=1)
            scores, order = _highest_columns(both, self.depth, self.score_dtype)
            places = torch.cat([places.to(columns), columns + start], dim=1).gather(1, order)
        for query, *best in zip(self.queries, scores.tolist(), places.tolist(), strict=True):
            run[query] = {self.documents[at]: score for score, at in zip(*best, strict=True)} | run[query]
        return run

    def _of_candidates(self, scores: "Tensor", start: int) -> "Tensor":
        """Return the scores of a chunk, -inf for documents that are not candidates of the query."""
        if self.candidates is None:
            return scores
        kept = scores.new_full(scores.shape, -np.inf)
        for _, row, columns in self._rows(self.candidates, start, scores.shape[1]):
            kept[row, columns] = scores[row, columns]
        return kept

    def _rows(
        self, of_queries: Mapping[Any, Collection[Any]] | None, start: int, width: int
    ) -> Iterator[tuple[Any, int, list[int]]]:
        """Yield each query with documents in a chunk, its row in the scores, and their columns."""
        if of_queries is None:
            return
        place = {document: at for at, document in enumerate(self.documents[start : start + width])}
        for row, query in enumerate(self.queries):
            if columns := [place[document] for document in of_queries[query] if document in place]:
                yield query, row, columns


def _loops_evaluator_ranked(documents: Mapping[Any, float]) -> list[tuple[Any, float]]:
    """Return retrieved documents with their scores, the highest first and equal ones by ascending ids."""
    retrieved = ((document, score) for document, score in documents.items() if score != -np.inf)
    return sorted(retrieved, key=lambda each: (-each[1], each[0]))


def _highest_columns(scores: "Tensor", k: int, score_dtype: str) -> "tuple[Tensor, Tensor]":
    """Return the k highest scores of each row and their columns, equal scores in the order of the columns.

    Up to `TIED` more scores are returned if they tie with the k-th in the type in which scores are compared, because
    they share its rank. Shorter rows are padded with -inf.
    """
    import torch

    k = min(k, scores.shape[1])
    compared = scores if score_dtype == "given" else scores.to(getattr(torch, score_dtype))
    values, columns = compared.topk(k, dim=1)
    last = values[:, -1:]
    reach = (compared >= last).sum(dim=1, keepdim=True).clamp(k, k + TIED)
    reach[last == -np.inf] = k
    width = int(reach.max())
    if width > k:
        columns = compared.topk(width, dim=1).indices
        tied = reach[:, 0] > k  # topk returns an arbitrary choice of them
        columns[tied] = compared[tied].sort(dim=1, descending=True, stable=True).indices[:, :width]
    columns = columns.sort(dim=1).values
    columns = columns.gather(1, compared.gather(1, columns).argsort(dim=1, descending=True, stable=True))
    values = scores.gather(1, columns)
    values[torch.arange(width, device=values.device) >= reach] = -np.inf
    return values, columns


def sentence_transformers_evaluator(
    queries: Mapping[Any, Any],
    corpus: Mapping[Any, Any],
    relevant_docs: Mapping[Any, Mapping[Any, float] | Collection[Any]],
    k: Cutoffs = 10,
    *,
    candidates: Mapping[Any, Collection[Any]] | None = None,
    exclude: Mapping[Any, Collection[Any]] | None = None,
    sample_weight: Any = None,
    by: Any = None,
    confidence: float = 0.95,
    name: str = "",
    batch_size: int = 32,
    corpus_chunk_size: int = 50_000,
    score_function: "Callable[[Any, Any], Tensor] | Literal['cosine', 'dot', 'euclidean', 'manhattan'] | None" = None,
    truncate_dim: int | None = None,
    max_active_dims: int | None = None,
    query_prompt: str | None = None,
    query_prompt_name: str | None = None,
    corpus_prompt: str | None = None,
    corpus_prompt_name: str | None = None,
    show_progress_bar: bool = False,
    write_csv: bool = True,
    **options: Unpack[QueryOptions],
) -> Any:
    """Return a sentence-transformers evaluator, for `evaluator=` of its trainers or to be called with a model.

    The model is a `SentenceTransformer` or a `SparseEncoder`, which rank the corpus, or a `CrossEncoder`, which
    reranks the `candidates`. A call returns floats by name: `nDCG@10`, the ends of its interval as `nDCG@10/low` and
    `nDCG@10/high`, and `nDCG@10/slice=en` for each slice. The first name is `primary_metric`. The evaluator keeps the
    `report` and the `run`, `{query: {document: score}}`, of its last call. The scores equal those
    of `compute` on the whole ranking of each query: in addition to its k best documents, the run contains up to 1,000
    documents that tie with the last of them (the lowest ids first) and, if `judged_only` or `ideal="retrieved"` is
    set, all judged documents.

    Memory holds only the embeddings of the queries and of one chunk of the corpus, queries × (chunk + k) scores, and
    these documents of each query; with `k=None`, all documents.

    Args:
        queries: the text of each query, by its id.
        corpus: the text of each document, by its id.
        relevant_docs: the relevance of documents, `{query: {document: grade}}`, or `{query: ids}`, with relevance 1.
            Queries that are not in it are skipped.
        k: the cutoff or cutoffs; None for the whole list, or if all `measures` have cutoffs.
        candidates: the documents to rank for each query, `{query: ids}`, such as a `run`; None for the corpus.
            A query without candidates has no ranking; see `missing`.
        exclude: documents to remove from rankings and ideals, `{query: ids}`.
        sample_weight: one weight per query for the mean, in the order of `relevant_docs`.
        by: a value per query, as in `report`, in the order of `relevant_docs` or `{query: value}`.
        confidence: the confidence level of the intervals, between 0 and 1.
        name: a prefix of the names of results, and a part of the name of the CSV file, in which `-` replaces a slash.
        batch_size: the number of texts, or pairs, in a batch of the model.
        corpus_chunk_size: the number of documents, or pairs, that are encoded and scored at a time.
        score_function: a function of the embeddings of queries and of documents, or its name; None for the model's
            similarity. For a function that returns distances, set `score_order="ascending"`.
        truncate_dim: the number of dimensions of a dense embedding; None for all.
        max_active_dims: the most nonzero dimensions of a sparse embedding; None for no limit.
        query_prompt: a prefix of each query, or of each pair in a reranker.
        query_prompt_name: the name of such a prompt in the model.
        corpus_prompt: a prefix of each document.
        corpus_prompt_name: the name of such a prompt in the model.
        show_progress_bar: show the model's progress bar for each chunk.
        write_csv: append the results to a file in the folder that a call, or the trainer, names.
        **options: the options of `compute`, except `use_aggregator` and `engine`.

    Raises:
        ValueError: as in `report`; or an id is not in `queries` or `corpus`.
        ImportError: sentence-transformers or SciPy is missing.
    """
    parsed = Options.of_method(sentence_transformers_evaluator, k, options)
    resampling = Resampling.parse(confidence)
    evaluator_class = _evaluator_class()
    references = _judgments(queries, corpus, relevant_docs)
    if exclude is not None:
        _check_mapping("exclude", exclude)
    ranked = None if candidates is None else _candidates(candidates, queries, corpus, references)
    embedding = _given(truncate_dim=truncate_dim, max_active_dims=max_active_dims)
    _check_settings(name, {"corpus_chunk_size": corpus_chunk_size, "batch_size": batch_size, **embedding})
    prompts = _given(query_prompt=query_prompt, query_prompt_name=query_prompt_name)
    prompts |= _given(corpus_prompt=corpus_prompt, corpus_prompt_name=corpus_prompt_name)
    shared = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
    calls = Calls(
        query={**shared, "prompt": query_prompt, "prompt_name": query_prompt_name},
        document={**shared, "prompt": corpus_prompt, "prompt_name": corpus_prompt_name},
        embedding={"convert_to_tensor": True, **embedding},
        chunk=corpus_chunk_size,
        score_function=_similarity(score_function),
    )
    inputs = Inputs(None, references, exclude=exclude, sample_weight=sample_weight, by=by)
    report_of = _reports(inputs, parsed, resampling)
    texts = {query: queries[query] for query in (references if ranked is None else ranked)}
    kept = _kept(parsed, exclude or {}, references)
    search = Search(texts, corpus, ranked, *kept, parsed.score_dtype, parsed.score_order, calls)
    return evaluator_class(search, report_of, name, write_csv, parsed.names[0], embedding | prompts)


def _judgments(queries: Any, corpus: Any, relevant_docs: Any) -> Run:
    """Return the grades of each query's documents; ids without grades have the grade 1."""
    for argument, side in {"queries": queries, "corpus": corpus, "relevant_docs": relevant_docs}.items():
        _check_mapping(argument, side)
        if not side:
            raise ValueError(f"{argument} is empty; give at least one entry")
    _check_in_corpus("relevant_docs", relevant_docs, corpus)
    if unknown := [query for query in relevant_docs if query not in queries]:
        problem = f"query {shown(unknown[0])} is not in queries ({len(unknown)} such queries)"
        raise ValueError(f"relevant_docs: {problem}; give its text, or remove it")
    for argument, texts in {"queries": queries, "corpus": corpus}.items():
        for each, text in texts.items():
            if text is None or isinstance(text, (int, float)):
                raise ValueError(f"{argument}: {shown(each)}: must be a string; got {shown(text)}")
    return {
        query: dict(each) if isinstance(each, Mapping) else dict.fromkeys(each, 1)
        for query, each in relevant_docs.items()
    }


def _given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are set."""
    return {argument: value for argument, value in arguments.items() if value is not None}


def _check_settings(name: Any, sizes: Mapping[str, Any]) -> None:
    """Raise an error unless the name is a text and all sizes are positive integers."""
    if not isinstance(name, str):
        raise ValueError(f"name must be a string; got {shown(name)}")
    for argument, size in sizes.items():
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{argument} must be a positive integer; got {shown(size)}")


def _similarity(score_function: "Callable[[Any, Any], Tensor] | str | None") -> "Callable[[Any, Any], Tensor] | None":
    """Return the function that sentence-transformers has under a name, and any other value unchanged."""
    if not isinstance(score_function, str):
        return score_function
    from sentence_transformers import SimilarityFunction

    function: Callable[[Any, Any], Tensor] = SimilarityFunction.to_similarity_fn(score_function)
    return function


def _candidates(candidates: Any, queries: Any, corpus: Any, references: Run) -> dict[Any, dict[Any, None]]:
    """Return the documents to rank for each judged query, without duplicates."""
    _check_in_corpus("candidates", candidates, corpus)
    if unknown := [query for query in candidates if query not in queries]:
        problem = f"query {shown(unknown[0])} is not in queries ({len(unknown)} such queries)"
        raise ValueError(f"candidates: {problem}; ids are compared with their types")
    if not candidates.keys() & references:
        raise ValueError("candidates: no query of relevant_docs has any; give {query: ids}")
    return {query: dict.fromkeys(candidates[query]) for query in references if query in candidates}


def _kept(
    options: Options, exclude: Mapping[Any, Collection[Any]], references: Run
) -> tuple[int | None, Mapping[Any, Collection[Any]] | None]:
    """Return the number of documents to keep per query, None for all, and the documents to keep at any rank.

    Excluded and ignored documents have no rank. Judged documents count at any rank if they are in the condensed list or
    the ideal.
    """
    if None in options.cutoffs:
        return None, None
    depth = max(each for each in options.cutoffs if each is not None) + max(map(len, exclude.values()), default=0)
    if options.ignore_index is not None:
        depth += max(list(each.values()).count(options.ignore_index) for each in references.values())
    return depth, references if options.judged_only or options.ideal == "retrieved" else None


def _check_mapping(argument: str, given: Any) -> None:
    """Raise an error for a value that is not a mapping of ids."""
    if not isinstance(given, Mapping):
        holds = "text" if argument in ("queries", "corpus") else "ids of documents"
        raise ValueError(f"{argument} must be a mapping of ids to {holds}; got {type(given).__name__}")
    check_ids(argument, given, nested=False)


def _check_in_corpus(argument: str, given: Any, corpus: Mapping[Any, Any]) -> None:
    """Raise an error for documents, by query, that are not in the corpus, or are not ids."""
    _check_mapping(argument, given)
    for query, documents in given.items():
        if isinstance(documents, str) or not isinstance(documents, Collection):
            raise ValueError(f"{argument}: query {shown(query)}: must hold ids of documents; got {shown(documents)}")
        for document in documents:
            if document not in corpus:
                problem = f"query {shown(query)}, document {shown(document)} is not in corpus"
                raise ValueError(f"{argument}: {problem}; give its text there, or remove it")


def _reports(inputs: Inputs, options: Options, resampling: Resampling) -> Callable[[Run], Report]:
    """Return the function that reports on a run. Errors in the judgments are raised here, before any training."""
    report_of = partial(_report_of, inputs, options, resampling)
    try:
        report_of({query: dict.fromkeys(each, 0.0) for query, each in inputs.references.items()})
    except ValueError as error:
        raise ValueError(worded(error, renamed({"references": "relevant_docs"}))) from None
    return report_of


def _report_of(inputs: Inputs, options: Options, resampling: Resampling, run: Run) -> Report:
    """Return the report on a run. It does not warn if no document was judged, because all ids come from one corpus."""
    inputs = inputs._replace(predictions=run)
    return report_on(inputs, options=options, resampling=resampling, notify=lambda _: None)


class NDCGEvaluator:
    """The report on the documents that a model retrieves or reranks; `_evaluator_class` adds the base class.

    Of the last model, `run` is the ranking, `{query: {document: score}}`, and `report` the report on it.
    """

    prefix_name_to_metrics: Callable[..., Any]  # expected by the base class
    store_metrics_in_model_card_data: Callable[..., None]

    def __init__(
        self,
        search: Search,
        report_of: Callable[[Run], Report],
        name: str,
        write_csv: bool,
        primary: str,
        config: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self.search, self.report_of, self.config = search, report_of, config
        self.name, self.write_csv, self.primary_metric = name, write_csv, primary
        words = "nDCG_evaluation", NOT_IN_FILE_NAMES.sub("-", name), "results.csv"
        self.csv_file = "_".join(filter(None, words))
        self.run: Run | None = None
        self.report: Report | None = None
        self.prefix_name_to_metrics({}, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling: the evaluator is sent to other processes with the model, whose card has its results."""
        return _blank_evaluator, (), self.__dict__

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the results of a model."""
        run = self.search.run(model)
        self.run, self.report = run, self.report_of(run)
        values = self.report.flat()
        if output_path is not None and self.write_csv:
            self._write(output_path, {"epoch": epoch, "steps": steps, **values})
        metrics: dict[str, float] = self.prefix_name_to_metrics(values, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def _write(self, folder: str, row: Mapping[str, float]) -> None:
        """Append a row to the first numbered file with its columns, because other evaluators may have the same name."""
        os.makedirs(folder, exist_ok=True)
        stem, extension = os.path.splitext(os.path.join(folder, self.csv_file))
        for number in count(1):
            path = stem + f"_{number}" * (number > 1) + extension
            with open(path, "a+", encoding="utf-8", newline="") as file:
                file.seek(0)
                columns = next(csv.reader(file), None)
                if columns in (None, list(row)):
                    writer = csv.DictWriter(file, row)
                    if columns is None:
                        writer.writeheader()
                    writer.writerow(row)
                    return

    def get_config_dict(self) -> dict[str, Any]:
        """Return the signature of the scores and the options of the embeddings, for the model card."""
        signature = {} if self.report is None else {"signature": self.report.signature}
        return {**signature, **self.config}


@cache
def _evaluator_class() -> Callable[..., Any]:
    """Return the class of evaluators, with the base class of sentence-transformers."""
    try:
        from sentence_transformers.base.evaluation import BaseEvaluator
    except ImportError:
        library, packages = "sentence-transformers, 6 or newer", '"sentence-transformers>=6"'
        raise missing_library("sentence_transformers_evaluator", library, packages) from None
    return type(NDCGEvaluator.__name__, (NDCGEvaluator, BaseEvaluator), {"__doc__": NDCGEvaluator.__doc__})


def _blank_evaluator() -> Any:
    """Return an evaluator without attributes, for unpickling."""
    made: Any = _evaluator_class()
    return made.__new__(made)


# ndcg/loops/meter.py: The metric for a PyTorch loop: batch by batch, in one process or in several.

MeterRows = tuple[NDArray[Any], ...]  # a score, a label and the query of each document
Sums = dict[str, tuple[int, list[float]]]  # by result: the number of queries with a value, and the parts of their sum


class MeterState(NamedTuple):
    """The state of a meter after the batches so far."""

    sums: Sums
    rows: tuple[MeterRows, ...]


class Meter:
    """The mean over queries that come in batches."""

    def __init__(self, options: Options) -> None:
        """Store the options."""
        self.options = options
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._state = MeterState({}, ())

    def update(self, scores: Any, labels: Any, mask: Any = None, query_ids: Any = None) -> None:
        """Add a batch; a batch that is rejected adds nothing.

        Args:
            scores: the `predictions` of `compute`: a row per query and a column per document, or with `query_ids` one
                score per document. Tensors on any device and with any float type, arrays, or lists, which may differ in
                length.
            labels: the `references` of `compute`, in the same shape.
            mask: True or 1 for a document, False or 0 for padding, with the shape of the scores.
            query_ids: the query of each document. Its other documents may be in other batches, and in other processes
                unless `ties` depends on their order. All rows are then kept. Conditions on all rows of a query, such as
                `missing="raise"`, are checked by `compute`.

        Raises:
            ValueError: as in `compute`; or the mask has the wrong shape or values.
        """
        if query_ids is None:
            values = measure_on_device(Inputs(scores, labels), self.options, mask)
            if values is not None:
                self._add(values)
                return
        given = {"scores": scores, "labels": labels, "mask": mask, "query_ids": query_ids}
        scores, labels, mask, query_ids = settled(given).values()
        if query_ids is not None:
            query_ids = query_ids if hasattr(query_ids, "dtype") else np.array(query_ids, object)
        if mask is not None:
            scores, labels, mask = _of_one_shape(scores=scores, labels=labels, mask=mask)
            is_document = _checked_mask(mask)
            if query_ids is None:
                scores, labels = (np.ma.array(side, mask=~is_document) for side in (scores, labels))
            elif np.shape(query_ids) == mask.shape:
                scores, labels, query_ids = (side[is_document] for side in (scores, labels, query_ids))
            else:
                shapes = f"query_ids of {np.shape(query_ids)} and a mask of {mask.shape}"
                raise ValueError(f"query_ids and mask must have the same shape, with one id per document; got {shapes}")
        if _loops_meter_is_empty(scores) and _loops_meter_is_empty(labels):
            return  # for example the last batch of a process
        sums, rows = self._state
        if query_ids is None:
            self._add(measure_inputs(Inputs(scores, labels), self.options))
        else:
            columns = {"predictions": scores, "references": labels, "query_ids": query_ids}
            batch = read_rows({name: np.asanyarray(each) for name, each in columns.items()}, self.options.ignore_index)
            check_rows(Inputs(*batch), self.options)  # the queries may have more rows in later batches
            if rows and _types(rows[-1]) != _types(batch):  # its types must fit those of earlier batches
                check_rows(Inputs(*concatenated([*rows, batch])), self.options)
            self._state = MeterState(sums, (*rows, batch))

    def _add(self, values: Values) -> None:
        """Add the values of whole queries."""
        self._state = self._state._replace(sums=_added(self._state.sums, _exact_sums(values)))

    def compute(self) -> dict[str, float]:
        """Return the mean over the queries of all processes since the last reset, the same in each process.

        If `torch.distributed` is initialized, each of its processes must call it.

        Raises:
            ValueError: there are no queries, or none has a value; the processes have different options.
            RuntimeError: a process has died, or has not called it within the timeout of the process group.
        """
        states = self._of_all_processes()
        sums = _added(*(state.sums for state in states))
        if any(state.rows for state in states):
            rows = self._whole([state.rows for state in states])
            sums = _added(sums, _exact_sums(measure_inputs(Inputs(*rows), self.options)))
        if not sums:
            raise ValueError(NOTHING_TO_SCORE)
        return {
            name: mean(name, np.array([math.fsum(parts) / queries] if queries else []))
            for name, (queries, parts) in sums.items()
        }

    def _of_all_processes(self) -> list[MeterState]:
        """Return the states of all processes, or of this one if there are no others."""
        distributed = sys.modules.get("torch.distributed")  # imported in every program that has several processes
        if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
            return [self._state]
        gathered: list[Any] = [None] * distributed.get_world_size()
        try:
            distributed.all_gather_object(gathered, (self._signature(), self._state))
        except RuntimeError as error:
            problem = f"the meters of {len(gathered)} processes could not combine their states"
            hint = "each must call compute, and one may have died"
            raise RuntimeError(f"{problem}; {hint} ({in_short(error)})") from error
        signatures, states = zip(*gathered, strict=True)
        if len(different := dict.fromkeys(signatures)) > 1:
            raise ValueError(f"processes score by different options; give all the same: {', '.join(different)}")
        return list(states)

    def _signature(self) -> str:
        """Return the signature, by which processes check that they have the same options."""
        try:
            return self.options.signature()
        except ValueError as error:
            hint = "such a function works in one process only; give a list, or a function that accepts these"
            raise InputError(f"{error}: {hint}") from None

    def _whole(self, processes: Sequence[Sequence[MeterRows]]) -> MeterRows:
        """Return the rows of all processes, in an order that does not depend on how they were split."""
        rows = concatenated(list(chain.from_iterable(processes)))
        if self.options.ties not in ("first", "last"):
            order = np.lexsort([_sortable(column) for column in rows[1::-1]])
            return tuple(column[order] for column in rows)
        seen: set[Any] = set()
        for ids in ({each for _, _, ids in batches for each in ids.tolist()} for batches in processes):
            if both := seen & ids:
                problem = f"two processes have rows of query {shown(min(both, key=str))}"
                hint = f"give one process all rows of a query, or use {mark('ties', 'average')}"
                ties = mark("ties", self.options.ties)
                raise InputError(f"{ties} needs an order of rows, and {problem}; {hint}")
            seen |= ids
        return rows


def meter(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Meter:
    """Return a meter for a loop: `update(scores, labels, mask)` for each batch, `compute()`, `reset()`.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`.

    Raises:
        ValueError: an option that `compute` rejects.

    >>> batches = meter(k=2)
    >>> batches.update([[.9, .4, .1]], [[0, 1, 2]])
    >>> batches.update([[.3, .2, 0], [.5, .1, .7]], [[1, 0, 0], [2, 0, 1]], mask=[[1, 1, 0], [1, 1, 1]])
    >>> {name: round(value, 4) for name, value in batches.compute().items()}
    {'nDCG@2': 0.6998}
    """
    return Meter(Options.of_method(meter, k, options))


def exact_parts(numbers: Iterable[float]) -> list[float]:
    """Return a few numbers that have exactly the same sum as the given ones."""
    rest, parts = list(numbers), []
    while part := math.fsum(rest):  # correctly rounded
        parts.append(part)
        rest.append(-part)
    return parts


def _exact_sums(values: Values) -> Sums:
    """Return the sums over queries that have a value."""
    valued = {name: each[~np.isnan(each)].tolist() for name, each in values.items()}
    return _added({name: (len(each), each) for name, each in valued.items()})


def _added(*several: Sums) -> Sums:
    """Add sums, and return them in few parts."""
    filled = [sums for sums in several if sums]
    total: Sums = {}
    for name in filled[0] if filled else ():
        counts, parts = zip(*(sums[name] for sums in filled), strict=True)
        try:
            total[name] = sum(counts), exact_parts(chain.from_iterable(parts))
        except OverflowError:
            raise ValueError(f"{name}: the sum over queries overflows; scale the gains") from None
    return total


def _loops_meter_is_empty(side: Any) -> bool:
    """Return whether there are no rows."""
    if is_sparse(side):
        return bool(side.shape[0] == 0)
    return hasattr(side, "__len__") and getattr(side, "ndim", 1) > 0 and not len(side)


def _of_one_shape(**sides: Any) -> list[NDArray[Any]]:
    """Return arrays of the same shape; lists that differ in length are refused."""
    arrays = []
    for name, side in sides.items():
        try:
            arrays.append(np.asanyarray(side))
        except ValueError:
            problem = "lists of different lengths have no padding, so they take no mask"
            raise ValueError(f"{name}: {problem}; pad them, or omit the mask") from None
    if len({each.shape for each in arrays}) > 1:
        scores, labels, mask = (each.shape for each in arrays)
        shapes = f"a mask of {mask}, scores of {scores} and labels of {labels}"
        raise ValueError(f"mask, scores and labels must have the same shape; got {shapes}")
    return arrays


def _checked_mask(mask: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of True, False, 1 and 0 as bools."""
    if np.ma.is_masked(mask):
        raise ValueError("mask: must not be a masked array; give False or 0 for padding")
    if mask.dtype.kind not in "biuf" or not np.isin(mask, (0, 1)).all():
        raise ValueError(f"mask: must be True or 1 for a document, False or 0 for padding; got {shown(mask)}")
    return mask.astype(bool)


def _types(rows: MeterRows) -> list[Any]:
    """Return the type of each column; for a column of objects, the types of these."""
    return [set(map(type, each.tolist())) if each.dtype == object else each.dtype.kind for each in rows]


def _sortable(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column that can be sorted: objects, which may include None, are replaced with their ranks."""
    if column.dtype != object:
        return column
    values = sorted(set(column.tolist()), key=lambda each: (each is not None, each))
    ordinal = {each: at for at, each in enumerate(values)}
    return np.array([ordinal[each] for each in column.tolist()])


def read_rows(columns: Mapping[str, NDArray[Any]], ignore_index: float | None) -> MeterRows:
    """Return copies of the columns of documents, one row per document, so that batches can be freed."""
    flat = {name: each.reshape(-1) if each.shape[:1] == (each.size,) else each for name, each in columns.items()}
    for name, column in flat.items():
        if column.ndim != 1:
            hint = logits_hint(name, column)
            raise ValueError(f"with query_ids, {name} must be one per document; got shape {column.shape}{hint}")
        if np.ma.is_masked(column):
            raise ValueError(f"with query_ids, {name} must not be masked; label padding as ignore_index does")
    if len({len(column) for column in flat.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in flat.items())
        raise ValueError(f"with query_ids, predictions, references and ids are one per document; got {lengths}")
    return tuple(np.array(_wide(each, ignore_index) if name == "references" else each) for name, each in flat.items())


def _wide(labels: NDArray[Any], ignore_index: float | None) -> NDArray[Any]:
    """Return float labels as float64, with padding found in their own type, because types of batches may differ."""
    padding = is_padding(labels, ignore_index)
    if padding is None or labels.dtype.kind not in "fV" or labels.dtype == np.float64:
        return labels
    wide = np.asarray(labels, np.float64)
    wide[padding] = ignore_index
    return wide


def concatenated(batches: Sequence[MeterRows]) -> MeterRows:
    """Concatenate rows; columns of several types become objects, since a common type would change ids and scores."""
    return tuple(map(_as_one, zip(*batches, strict=True)))


def _as_one(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    alike = len({each.dtype.kind for each in arrays}) == 1
    return np.concatenate(arrays if alike else [each.astype(object) for each in arrays])


# ndcg/scores/sklearn_engine.py: The engine "sklearn": the results of scikit-learn's own function.

def score_by_sklearn(inputs: Inputs, options: Options) -> dict[str, float | list[float]]:
    """Return the results of `sklearn.metrics.ndcg_score` itself."""
    try:
        from sklearn.metrics import ndcg_score
    except ImportError:
        raise missing_library('engine="sklearn"', "scikit-learn", "scikit-learn") from None
    rankings = checked_rankings(inputs)
    if not rankings.queries:
        raise ValueError(NOTHING_TO_SCORE)
    weight = weights(inputs.sample_weight, rankings.queries, rankings.query_ids)
    relevance, score = _arrays_for_sklearn(rankings)
    how = {"sample_weight": weight, "ignore_ties": options.ties == "last"}
    result: dict[str, float | list[float]] = {}
    for name, _, row in options.results:
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(ndcg_score(relevance, score, k=options.cutoffs[row], **how))
        if not math.isfinite(value):
            problem = "sums overflow in scikit-learn; scale the relevances or weights"
            raise InputError(f"{mark('engine', 'sklearn')}: {name}: {problem}")
        result[name] = value
    return result


def _arrays_for_sklearn(rankings: Rankings) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return relevance and score in two dimensions, without documents that are neither judged nor retrieved.

    Some formats leave excluded documents in place like this.
    """
    relevance, score = rankings.relevance, rankings.score
    retrieved = (score > -np.inf if rankings.retrieved is None else rankings.retrieved & (score > -np.inf)).reshape(-1)
    judged = np.ones(relevance.size, bool) if rankings.judged is None else rankings.judged.reshape(-1)
    offsets = rankings.offsets
    begins = np.arange(rankings.queries + 1) * relevance.shape[1] if offsets is None else offsets
    numpy = mark("engine", "numpy", said='"numpy"')
    lacks = f"does not support None, -inf or masked values; leave the document out or use {numpy}"
    missing = f"{mark('engine', 'sklearn')} {lacks}"
    negative = f"the relevance {{value}} is negative, which {mark('engine', 'sklearn')} does not support"
    for array, values, invalid, problem in (
        ("score", score, judged & ~retrieved, missing),
        ("relevance", relevance, retrieved & ~judged, missing),
        ("relevance", relevance, judged & (relevance.reshape(-1) < 0), negative),
    ):
        if invalid.any():
            at = int(invalid.argmax())
            query = int(np.searchsorted(begins, at, side="right")) - 1
            with user_terms(rankings):
                value = values.reshape(-1)[at]
                raise InvalidRankingError(array, query, at - int(begins[query]), problem.format(value=value))
    if offsets is not None or not judged.all():
        lengths = np.diff(np.append(0, np.cumsum(judged))[begins])
        for query in np.flatnonzero((lengths != lengths[0]) | (lengths == 0))[:1].tolist():
            name = f"query {query}" if rankings.place is None else rankings.place(query, None)
            lengths_text = f"{name} has {lengths[query]} documents, the first query {lengths[0]}"
            raise ValueError(
                f'engine="sklearn": scikit-learn needs lists of the same length, not empty; {lengths_text}'
            )
        relevance, score = (each.reshape(-1)[judged].reshape(rankings.queries, -1) for each in (relevance, score))
    return relevance, score.astype(np.int8) if score.dtype == bool else score  # scikit-learn negates the scores


# ndcg/scores/results.py: The results of an evaluation under their names: means over queries, or the values of queries.

def score_inputs(inputs: Inputs, options: Options) -> dict[str, float | list[float]]:
    """Return the mean over queries under the name of each result, or a list with the value of each query."""
    if options.engine == "sklearn":
        return score_by_sklearn(inputs, options)
    if inputs.predictions is None and inputs.references is not None and options.measures == ("IDCG",):
        if options.ideal in ("retrieved", "truncated"):
            raise InputError(f"{mark('predictions')} are missing, on which {mark('ideal', options.ideal)} depends")
        options = replace(options, missing="empty")
        inputs = without_run(from_files(inputs, **options.sides), options.score_order, options.labels)
    names: list[Any] = []
    values = measure_inputs(inputs, options, names=names)
    weight = weights(inputs.sample_weight, len(next(iter(values.values()))), names or None)
    if not options.use_aggregator:
        return {name: each.tolist() for name, each in values.items()}
    return {name: mean(name, each, weight) for name, each in values.items()}


# ndcg/loops/scorer.py: The metric for scikit-learn, LightGBM and XGBoost, to select models and to stop training early.

def scorer(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Any:
    """Return a scikit-learn scorer, for `scoring=` in `cross_validate` and `GridSearchCV`.

    It ranks by `decision_function`, else `predict_proba`, else `predict`. Rows are documents, and
    `groups` has the query of each row: enable metadata routing, request them with
    `scorer.set_score_request(groups=True)` and pass them as `params={"groups": groups}`. Pass
    `sample_weight`, the weight of each row's query, in the same way. Without `groups`, each row of a 2-D
    `y` is a query and its columns are the documents; a 1-D `y` is rejected.

    Args:
        k: the cutoff.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`.

    Raises:
        ValueError: an option that `compute` rejects; or several results, since a scorer has one.
        ImportError: scikit-learn is not installed.
    """
    names = Options.of_method(scorer, k, options).names
    if len(names) > 1:
        problem = f"a scorer has one result; got {', '.join(names)}"
        raise ValueError(f"{problem}; give a dict of scorers, scoring={{{names[0]!r}: ndcg.scorer(...), ...}}")
    try:
        from sklearn.metrics import make_scorer
    except ImportError:
        raise missing_library("scorer", "scikit-learn", "scikit-learn") from None
    methods = ("decision_function", "predict_proba", "predict")
    return make_scorer(ndcg, response_method=methods, k=k, **options)


def ndcg(y_true: Any, y_score: Any, *, groups: Any = None, sample_weight: Any = None, **options: Any) -> float:
    """Return the result for a model's scores; the arguments are those of a scorer."""
    labels, predicted = (each if is_sparse(each) else np.asanyarray(each) for each in (y_true, y_score))
    if groups is None and labels.ndim != 2:
        how = 'enable metadata routing, scorer.set_score_request(groups=True), and pass params={"groups": groups}'
        problem = "groups are missing, so the query of each row is unknown"
        raise ValueError(f"{problem}; {how}. Only a 2-D y, with one row per query, needs no groups")
    if predicted.shape != labels.shape:
        problem = f"the model gives scores of shape {predicted.shape} for labels of shape {labels.shape}"
        hint = "one score for each label is needed: by a ranker, a regressor or a classifier of two classes"
        raise ValueError(f"predictions: {problem}; {hint}")
    in_order = None if sample_weight is None else np.asanyarray(sample_weight)  # its index is that of the labels
    inputs = Inputs(predicted, labels, sample_weight=in_order)
    if groups is not None:
        groups = groups if hasattr(groups, "dtype") else np.array(groups, object)  # ids keep their types
        frame = {"y_score": predicted, "y_true": labels, "groups": groups, "sample_weight": sample_weight}
        weight = None if sample_weight is None else "sample_weight"
        inputs = from_frame(frame, Inputs("y_score", "y_true", "groups", sample_weight=weight))
    try:
        (result,) = score_inputs(inputs, Options.parse(**options)).values()
    except ValueError as error:
        raise ValueError(worded(error, renamed({"query_ids": "groups"}))) from None
    return float(result)  # type: ignore[arg-type]


def lightgbm_metric(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Callable[..., list[tuple[str, float, bool]]]:
    """Return a function for `LGBMRanker.fit(eval_metric=...)` and for `lightgbm.train(feval=...)`.

    Queries are the groups of the data. The weight of a query is the mean of its rows' weights, as in LightGBM.

    Args:
        k: the cutoff or cutoffs.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`;
            `convention="lightgbm"` gives LightGBM's own score.

    Raises:
        ValueError: an option that `compute` rejects.

    >>> metric = lightgbm_metric(k=1, convention="lightgbm")
    >>> metric(np.array([1, 0, 0]), np.array([.1, .9, .5]), None, np.array([2, 1]))
    [('nDCG@1', 0.5, True)]
    """
    return partial(_for_lightgbm, Options.of_method(lightgbm_metric, k, options))


def _for_lightgbm(
    options: Options, labels: Any, predictions: Any, weight: Any = None, group: Any = None
) -> list[tuple[str, float, bool]]:
    """Return each result with its name, and True because higher is better."""
    if hasattr(predictions, "get_group"):  # lightgbm.train passes the scores first, then the Dataset
        data, predictions = predictions, labels
        labels, weight, group = data.get_label(), data.get_weight(), data.get_group()
    if group is None:
        hint = "give Dataset(group=...), or eval_group=... to LGBMRanker.fit"
        raise ValueError(f"lightgbm_metric: the data has no groups, so its queries are unknown; {hint}")
    lengths = np.asarray(group)
    if lengths.dtype.kind not in "iu" or lengths.ndim != 1 or lengths.min(initial=0) < 0:
        raise ValueError(f"lightgbm_metric: groups must be numbers of rows, one per query; got {shown(group)}")
    rows = {"labels": len(labels), "weights": len(labels) if weight is None else len(weight)}
    for name, number in rows.items():
        if number != lengths.sum():
            raise ValueError(f"lightgbm_metric: the groups hold {lengths.sum()} rows, the {name} {number}; give all")
    if weight is not None:
        query = np.repeat(np.arange(len(lengths)), lengths)
        weight = np.bincount(query, weight, len(lengths)) / np.maximum(lengths, 1)
    results = _results(options, predictions, labels, offsets_of(lengths), weight)
    return [(name, value, True) for name, value in results.items()]


def xgboost_metric(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Callable[..., list[tuple[str, float]]]:
    """Return a function for `xgboost.train(custom_metric=...)`, with a `DMatrix` that has `qid`.

    Its results are called `ndcg.nDCG@10`, since early stopping infers from the first letters of a
    name whether higher is better. XGBoost keeps six decimals of a result.

    Args:
        k: the cutoff or cutoffs.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`;
            `convention="xgboost"` gives XGBoost's own score.

    Raises:
        ValueError: an option that `compute` rejects.
    """
    return partial(_for_xgboost, Options.of_method(xgboost_metric, k, options))


def _for_xgboost(options: Options, predictions: Any, data: Any) -> list[tuple[str, float]]:
    """Return each result with its name."""
    if not hasattr(data, "get_uint_info"):
        problem = "XGBRanker(eval_metric=...) passes single queries and weights each by its number of documents"
        raise ValueError(f"xgboost_metric: {problem}; train with xgboost.train(custom_metric=...)")
    begins = data.get_uint_info("group_ptr")
    if len(begins) < 2:
        raise ValueError(
            "xgboost_metric: the DMatrix has no qid, so its queries are unknown; give DMatrix(..., qid=...)"
        )
    weight = data.get_weight()
    results = _results(options, predictions, data.get_label(), begins, weight if len(weight) else None)
    return [(f"ndcg.{name}", value) for name, value in results.items()]


def _results(
    options: Options, predictions: NDArray[Any], labels: NDArray[Any], begins: NDArray[Any], weight: Any
) -> dict[str, Any]:
    """Return the results of queries with contiguous rows, with one score for each row."""
    predictions, labels = np.asanyarray(predictions), np.asanyarray(labels)
    if predictions.shape != labels.shape:
        problem = f"of shape {predictions.shape} for labels of shape {labels.shape}"
        raise ValueError(f"predictions: must be one score for each row; got scores {problem}")
    lists = (pa.ListArray.from_arrays(pa.array(begins, pa.int32()), pa.array(side)) for side in (predictions, labels))
    return score_inputs(Inputs(*lists)._replace(sample_weight=weight), options)


# ndcg/loops/torchmetrics_metric.py: The metric for torchmetrics: in a `MetricCollection`, logged by Lightning, or alone.

def torchmetrics_metric(k: Cutoffs = None, **options: Unpack[QueryOptions]) -> Any:
    """Return a `torchmetrics.Metric`: `update(preds, target, indexes=None)` for each batch, `compute()`, `reset()`.

    Without `indexes`, `preds` and `target` have a row for each query and a column for each document. With `indexes`,
    they have one number for each document, and `indexes` has the id of its query, an integer. `compute` returns the
    mean over the queries of all batches and processes: a tensor for one result, a dict of tensors for several, nan if
    no query has a value.

    Of whole queries only sums are kept. Rows with `indexes` are kept until `reset`, because other rows of a query may
    be in later batches or other processes. If `ties` depends on the order of rows, it is that of the batches, one
    process after the other.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        **options: the options of `compute`, except `sample_weight`, `use_aggregator` and `engine`; `ignore_index` is
            the label of padding.

    Raises:
        ValueError: an option that `compute` rejects.
        ImportError: torchmetrics is not installed.
    """
    parsed = Options.of_method(torchmetrics_metric, k, options)
    return _metric_class()(parsed)


def restored_metric() -> Any:
    """Return a metric without a state, which pickle and copy then set."""
    kind = _metric_class()
    return kind.__new__(kind)


@cache
def _metric_class() -> Any:
    """Return the class of the metric, created only when torchmetrics is needed."""
    try:
        import torch
        from torchmetrics import Metric
    except ImportError:
        raise missing_library("torchmetrics_metric", "torchmetrics", "torch torchmetrics") from None

    class NDCGMetric(Metric):
        """The mean of nDCG, DCG, IDCG or CG over queries."""

        higher_is_better, is_differentiable, full_state_update = True, False, False
        rows = {"preds": torch.float64, "target": torch.float64, "indexes": torch.int64}  # noqa: RUF012

        def __init__(self, options: Options) -> None:
            super().__init__()
            self.options = options
            results = len(options.names)
            self.add_state("sums", torch.zeros(results, dtype=torch.float64), dist_reduce_fx="sum")
            self.add_state("counts", torch.zeros(results, dtype=torch.int64), dist_reduce_fx="sum")
            for name in self.rows:
                self.add_state(name, [], dist_reduce_fx="cat")
            # A MetricCollection updates only one of several metrics whose states are equal after the first batch.
            self.add_state("identity", torch.tensor([*uuid4().bytes]), dist_reduce_fx="max")

        def update(self, preds: "Tensor", target: "Tensor", indexes: "Tensor | None" = None) -> None:
            """Add a batch; a batch that is rejected adds nothing."""
            if indexes is None:
                if len(preds) or len(target):
                    self.sums, self.counts = self._added(Inputs(preds, target))
                return
            batch = {"preds": preds, "target": target, "indexes": indexes}
            batch = {name: each.detach().reshape(-1) for name, each in batch.items()}
            if len(set(map(len, batch.values()))) > 1:
                shapes = ", ".join(f"{name} {len(each)}" for name, each in batch.items())
                raise ValueError(f"with indexes, preds, target and indexes are one per document; got {shapes}")
            if batch["indexes"].is_floating_point():
                raise ValueError(f"indexes must be integers, the id of each document's query; got {indexes.dtype}")
            for name, kind in self.rows.items():
                getattr(self, name).append(batch[name].to(kind))

        def compute(self) -> Any:
            """Return the mean over all queries since the last reset."""
            rows = [getattr(self, name) for name in self.rows]
            preds, target, indexes = (torch.cat(each) if isinstance(each, list) and each else each for each in rows)
            sums, counts = self.sums, self.counts
            if len(preds):
                sums, counts = self._added(Inputs(preds, target, indexes))
            means = sums / counts
            return means[0] if len(means) == 1 else dict(zip(self.options.names, means, strict=True))

        def sync(self, *args: Any, **options: Any) -> None:
            """Gather the states of all processes; one without rows sends no numbers, in the types of the others."""
            for name, kind in self.rows.items():
                if isinstance(each := getattr(self, name), list) and not each:
                    each.append(torch.empty(0, dtype=kind, device=self.device))
            super().sync(*args, **options)

        def _added(self, inputs: Inputs) -> "tuple[Tensor, Tensor]":
            """Return the sums and counts with those of more queries."""
            values = np.stack(list(measure_inputs(inputs, self.options).values()))
            sums, counts = np.nansum(values, axis=1), (~np.isnan(values)).sum(axis=1)
            return self.sums + torch.from_numpy(sums).to(self.sums), self.counts + torch.from_numpy(counts).to(
                self.counts
            )

        def __reduce__(self) -> tuple[Any, ...]:
            return restored_metric, (), self.__getstate__()

    return NDCGMetric


# ndcg/loops/trainer.py: The metric for `transformers.Trainer(compute_metrics=...)`.

class TrainerMetrics:
    """A function of a Trainer's predictions and labels, for a whole set or batch by batch.

    Without ``query_ids``, every row of the predictions is a query and its columns are the documents. With it, every row
    is a document with one score, and ``query_ids`` is a column of the evaluation set, or a function from the model's
    inputs to the query of each row, which needs ``TrainingArguments(include_for_metrics=["inputs"])``.

    In a batch-wise evaluation, only the results of queries are kept, or one score, label and id per document. If it is
    interrupted, ``reset`` drops its batches.
    """

    def __init__(self, options: Options, query_ids: Any, references: Any, main_input: str) -> None:
        """Store the options and the queries of documents."""
        if not isinstance(main_input, str):
            raise ValueError(f"main_input must be the name of the model's main input; got {shown(main_input)}")
        self.columns = None
        if query_ids is not None and not callable(query_ids):
            self.columns = _loops_trainer_Columns.read(query_ids, references)
        elif references is not None:
            raise ValueError("references are the labels in the order of query_ids; give query_ids as a column, too")
        self.options, self.query_ids, self.main_input = options, query_ids, main_input
        self._batches: list[Any] = []
        self._rows = 0

    def reset(self) -> None:
        """Drop the batches of an evaluation that was interrupted."""
        self._batches, self._rows = [], 0

    def __call__(self, evaluation: Any, compute_result: bool | None = None) -> dict[str, Any]:
        """Add predictions, and return the results unless more batches follow.

        Args:
            evaluation: a `transformers.EvalPrediction`. If a model has several outputs, the first is used.
            compute_result: False for a batch that is not the last, True for the last
                (`batch_eval_metrics=True`); None for a whole set.

        Raises:
            ValueError: predictions, labels and query ids do not match.
        """
        if compute_result is None:
            self.reset()
        predictions, labels, inputs = evaluation.predictions, evaluation.label_ids, evaluation.inputs
        try:
            for batch in _batches(predictions, labels, inputs):
                self._add(*batch)
            if compute_result is False:
                return {}
            values = self._batches
            if not values:
                raise ValueError(NOTHING_TO_SCORE)
            if self.query_ids is not None:
                columns = list(concatenated(self._batches))
                if self.columns is not None:
                    columns.append(self.columns.ids_of(columns[1]))
                values = [measure_inputs(Inputs(*columns), self.options)]
            result = {name: mean(name, np.concatenate([each[name] for each in values])) for name in values[0]}
        except BaseException:
            self.reset()
            raise
        self.reset()
        return result

    def _add(self, predictions: Any, label_ids: Any, inputs: Any) -> None:
        """Store the values of a batch that the result needs."""
        scores, labels = _loops_trainer_first("predictions", predictions), _loops_trainer_first("labels", label_ids)
        if self.query_ids is None:
            if scores.ndim == 3 and scores.shape[2] == 1 and labels.ndim == 2:
                scores = scores[..., 0]
            if scores.ndim != 2 or scores.shape != labels.shape:
                shapes = f"predictions of shape {tuple(scores.shape)} and labels of {tuple(labels.shape)}"
                problem = "one row per query and one column per document on both sides, or query_ids="
                raise ValueError(f"trainer_metrics needs {problem}; got {shapes}")
            if len(scores):  # a batch may be empty, for example the last one of a process
                self._batches.append(measure_inputs(Inputs(scores, labels), self.options, self._rows))
                self._rows += len(scores)
            return
        columns = {"predictions": _array(scores), "references": _array(labels)}
        if self.columns is None:
            ids = self.query_ids(self._main(inputs))
            # a list may contain ids of several types
            columns["query_ids"] = _array(ids) if hasattr(ids, "dtype") else np.array(ids, object)
        self._batches.append(read_rows(columns, self.options.ignore_index))

    def _main(self, inputs: Any) -> NDArray[Any]:
        """Return the model's main input."""
        if inputs is None:
            raise ValueError('query_ids need the inputs: set TrainingArguments(include_for_metrics=["inputs"])')
        if isinstance(inputs, Mapping):  # in batch-wise evaluations the Trainer passes all inputs
            if self.main_input not in inputs:
                raise ValueError(f"main_input={shown(self.main_input)} is not among the inputs: {', '.join(inputs)}")
            inputs = inputs[self.main_input]
        return _array(inputs)


class _loops_trainer_Columns(NamedTuple):
    """The queries and labels of an evaluation set, a row per document, in its order."""

    ids: pa.Array  # the query of each row
    labels: NDArray[Any]  # the label of each row, in the type of the column
    known: Mask  # whether each row has a label

    @classmethod
    def read(cls, query_ids: Any, references: Any) -> "_Columns":
        """Read columns of any supported library."""
        if isinstance(query_ids, (str, int, Mapping)):
            kinds = "a function of the model's main input, or a column with an id for each row, such as data['query']"
            raise ValueError(f"query_ids must be {kinds}; got {shown(query_ids)}")
        if references is None:
            needs = "query_ids as a column need references, the labels in the same order, to check the order of rows"
            raise ValueError(f"{needs}; pass, for example, references=data['label']")
        codes, distinct = encode_ids("query_ids", plain_in_order("query_ids", query_ids))
        column = plain_in_order("references", references)
        try:
            labels, _, present, _ = read_flat_column("references", column, lambda _, row: f"row {row}")
        except InputError as error:
            if "gain" not in error.options:
                raise
            problem = "hold text, which no model receives; give the numbers of the labels, and gain by these numbers"
            raise InputError(f"{mark('references')} {problem}") from None
        if len(codes) != len(labels):
            lengths = f"query_ids {len(codes)}, references {len(labels)}"
            raise ValueError(f"query_ids and references must have the same length, one row per document; got {lengths}")
        known = labels == labels if present is None else present  # nan is a missing label
        return cls(pa.DictionaryArray.from_arrays(codes, distinct), labels, known)

    def ids_of(self, labels: NDArray[Any]) -> pa.Array:
        """Return the ids of rows with these labels, which must be those of the evaluation set, in its order."""
        if len(labels) != len(self.ids):
            rows = f"query_ids has {len(self.ids)} rows, but the evaluation {len(labels)}"
            raise ValueError(f"{rows}; give the column of the evaluated set, with all its rows (docs/training.md)")
        differs = _differ(labels, self.labels) & self.known
        if differs.any():
            row = int(differs.argmax())
            given, known = (shown(side[row : row + 1].tolist()[0]) for side in (labels, self.labels))
            problem = f"row {row} has the label {given}, but in references {known}"
            hint = "give the columns of the set that is evaluated, and do not shuffle or group it (docs/training.md)"
            raise ValueError(f"query_ids: {problem}; {hint}")
        return self.ids


def _differ(given: NDArray[Any], labels: NDArray[Any]) -> Mask:
    """Return a mask of labels that cannot come from these: neither equal nor equal after rounding to 32 or 16 bits.

    >>> _differ(np.array([200, 200]), np.array([200, 201])).tolist()
    [False, True]
    >>> _differ(np.float16([0.1, 0.1]), np.array([0.1, 0.1001])).tolist()
    [False, True]
    """
    differ = np.asarray(given != labels, bool)
    if given.dtype.kind not in "fO":
        return differ
    with np.errstate(over="ignore"):
        single = labels.astype(np.float32)
        half = single.astype(np.float16)
    bits = single.view(np.uint32)
    bfloat16 = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)
    return np.asarray(differ & (given != single) & (given != half) & (given != bfloat16))


NOT_IN_TRAINER = (*AGGREGATION_OPTIONS, "missing")  # every row of the output has labels


def trainer_metrics(
    k: Cutoffs = None,
    *,
    query_ids: Any = None,
    references: Any = None,
    main_input: str = "input_ids",
    ignore_index: float | None = -100,
    **options: Unpack[ScoringOptions],
) -> TrainerMetrics:
    """Return the function for `transformers.Trainer(compute_metrics=...)`.

    It works for whole evaluation sets and, with `TrainingArguments(batch_eval_metrics=True)`, batch by batch, without
    keeping the predictions. The Trainer reports the results as `eval_nDCG@10`.

    Args:
        k: the cutoff or cutoffs, as in `compute`.
        query_ids: None if each row of the model's output is a query and its columns are documents. If each
            row is one document: the column of the evaluation set with the query id of each row, together
            with `references`; or a function that accepts the model's main input (an array) and returns the
            query id of each row. The function needs `TrainingArguments(include_for_metrics=["inputs"])`,
            and with batches a single process: the Trainer does not gather the inputs of several.
        references: with such a column, the column of the labels in the same order. An evaluation with
            different labels, for example on another set or with shuffled rows, is rejected.
        main_input: the name of the model's main input.
        ignore_index: the label that marks padding; the Trainer also uses it to pad batches to equal width.
        **options: the options of `compute`, except `sample_weight`, `missing`, `use_aggregator` and `engine`.

    Raises:
        ValueError: an option that `compute` rejects, or columns that cannot be read.

    >>> metrics = trainer_metrics(k=1)
    >>> from transformers import EvalPrediction  # doctest: +SKIP
    >>> metrics(EvalPrediction(np.array([[.9, .1, -100]]), np.array([[1, 0, -100]])))  # doctest: +SKIP
    {'nDCG@1': 1.0}
    """
    parsed = Options.of_method(trainer_metrics, k, {"ignore_index": ignore_index, **options}, lacks=NOT_IN_TRAINER)
    return TrainerMetrics(parsed, query_ids, references, main_input)


def _batches(predictions: Any, labels: Any, inputs: Any) -> list[tuple[Any, Any, Any]]:
    """Return the predictions, labels and inputs of each batch; a whole set is one batch."""
    sides = {"predictions": predictions, "labels": labels, **({} if inputs is None else {"inputs": inputs})}
    if not any(isinstance(side, list) for side in sides.values()):
        return [(predictions, labels, inputs)]
    # lists of batches, because of eval_do_concat_batches=False
    counts = {name: len(side) if isinstance(side, list) else None for name, side in sides.items()}
    if len(set(counts.values())) > 1 or not predictions:
        counted = ", ".join(f"{name} {'in one piece' if count is None else count}" for name, count in counts.items())
        raise ValueError(f"predictions, labels and inputs must come in the same batches, at least one; got {counted}")
    return list(zip(predictions, labels, repeat(None, len(predictions)) if inputs is None else inputs, strict=True))


def _loops_trainer_first(argument: str, outputs: Any) -> Any:
    """Return the first of a model's outputs, an array, or a tensor on any device."""
    if isinstance(outputs, tuple) and not outputs:
        raise ValueError(f"{argument} are an empty tuple; the model must return its scores, the data its labels")
    output = outputs[0] if isinstance(outputs, tuple) else outputs
    return output if hasattr(output, "detach") else np.asanyarray(output)


def _array(values: Any) -> NDArray[Any]:
    """Return a tensor, or anything that NumPy can read, as an array on the CPU."""
    return np.asanyarray(plain("outputs", values) if hasattr(values, "detach") else values)


# ndcg/scores/batch_file.py: Store tables in a file or in memory. A table is added completely or not at all, even if something interrupts it.

MARK = 8  # bytes at the beginning: the length of the whole file, or 0
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # the end of an Arrow stream, before the next one
TOGETHER = 1000  # rows that were added one by one and are written as one batch


class Contents(NamedTuple):
    """The contents of a store, which are replaced and never modified."""

    rows: int = 0  # the number of rows of all tables
    end: int = MARK  # the end of the valid bytes of the file
    schema: pa.Schema | None = None  # the schema of the last stream in the file
    pending: tuple[pa.Table, ...] = ()  # tables that are not yet in the file
    kept: tuple[pa.Table, ...] = ()  # tables in memory, if the store has no file


class Store:
    """A store of tables.

    They are in a file at a path, which another process reads; or in a nameless file in a folder, for this process
    alone; else in memory.
    """

    def __init__(self, path: str | None = None, folder: str | None = None) -> None:
        self.path = path
        self._file = None
        if path is not None:
            self._file = io.FileIO(path, "w+")
        elif folder is not None:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - open until `close`
        if self._file is not None:
            self._file.truncate(MARK)

    def add(self, contents: Contents, table: pa.Table) -> Contents:
        """Return the contents with a table; if it does not fit into the file, the tables before it are kept."""
        if contents.pending and contents.pending[0].schema != table.schema:
            contents = self._written(contents)
        contents = contents._replace(rows=contents.rows + table.num_rows, pending=(*contents.pending, table))
        return self._written(contents) if table.num_rows > 1 or len(contents.pending) >= TOGETHER else contents

    def tables(self, contents: Contents) -> list[pa.Table]:
        """Return its tables, memory-mapped if they are in the file: one table for each Arrow stream."""
        if self._file is None:
            return [*contents.kept, *contents.pending]
        if not self.is_whole(contents):
            raise self._lost()
        return [*_mapped(self._file, contents.end), *contents.pending]

    def finish(self, contents: Contents) -> None:
        """Write the pending tables, then the mark that tells another process that the file is complete."""
        self._mark(self._append(self._written(contents), []))

    def reopen(self) -> None:
        """Remove the mark, so that more can be added."""
        if self._file is not None and _marked_end(self._file):
            self._mark(0)

    def is_whole(self, contents: Contents) -> bool:
        """Return whether the open file still has all valid bytes, and its path, if it has one, still leads to it."""
        if self._file is None:
            return True
        opened = os.fstat(self._file.fileno())
        try:
            is_same = self.path is None or os.path.samestat(opened, os.stat(self.path))
        except FileNotFoundError:
            return False
        return is_same and opened.st_size >= contents.end

    def _written(self, contents: Contents) -> Contents:
        """Return the contents once all pending tables are in the file, or kept."""
        if not contents.pending:
            return contents
        table = pa.concat_tables(contents.pending)
        if self._file is None:
            return contents._replace(kept=(*contents.kept, table), pending=())
        messages = [batch.serialize() for batch in table.combine_chunks().to_batches()]
        if table.schema != contents.schema:
            ended = [] if contents.schema is None else [END_OF_STREAM]
            messages = [*ended, table.schema.serialize(), *messages]
        end = self._append(contents, messages)
        return contents._replace(end=end, schema=table.schema, pending=())

    def _append(self, contents: Contents, messages: list[Any]) -> int:
        """Write messages after the valid bytes; return their end."""
        if self._file is None or not self.is_whole(contents):
            raise self._lost()
        self._file.truncate(contents.end)
        self._file.seek(contents.end)
        for message in messages:
            left = memoryview(message).cast("B")
            while left:
                left = left[self._file.write(left) :]
        return self._file.tell()

    def _mark(self, end: int) -> None:
        """Write the end of the file at its beginning."""
        if self._file is not None:
            self._file.seek(0)
            self._file.write(end.to_bytes(MARK, "little"))

    def _lost(self) -> ValueError:
        name = self.path or "one without a name"
        problem = f"the cache file was removed, replaced or cut off by another: {name}"
        return ValueError(f"{problem}; its batches are lost: reload the metric and add them again")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):  # unset if the file could not be opened
            self.close()


def is_finished(path: str) -> bool:
    """Return whether a file has the mark; False if there is none."""
    try:
        with io.FileIO(path) as file:
            return _marked_end(file) is not None
    except FileNotFoundError:
        return False


def read_finished(path: str, process: int) -> list[pa.Table]:
    """Return the tables that another process has written, memory-mapped: one for each Arrow stream."""
    problem = "is cut off: the process died before its compute, or another took its place"
    try:
        with io.FileIO(path) as file:
            if end := _marked_end(file):
                return _mapped(file, end)
    except FileNotFoundError:
        problem = "is gone"
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ValueError(f"the cache file of process {process} cannot be read: {path}: {error}") from None
    raise ValueError(f"the cache file of process {process} {problem}: {path}; run all processes again")


def _marked_end(file: io.FileIO) -> int | None:
    """Return the end of a file with a mark, else None; if the mark was only partly written, it names another end."""
    file.seek(0)
    end = int.from_bytes(file.read(MARK), "little")
    return end if end and end == os.fstat(file.fileno()).st_size else None


def _mapped(file: io.FileIO, end: int) -> list[pa.Table]:
    """Return the tables of the streams in the first bytes of a file; they stay valid after it is closed or removed."""
    if end == MARK:
        return []
    source = pa.BufferReader(pa.py_buffer(mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ)).slice(MARK))
    size = end - MARK
    tables = []
    while source.tell() < size:
        tables.append(pa.ipc.open_stream(source).read_all())
    return tables


# ndcg/scores/batches.py: Keep batches until `compute` scores them, in this process and in others.

Result = TypeVar("Result")

SIDES = ["predictions", "references"]
NO_QUERIES = pa.table({side: pa.array([], pa.list_(pa.float64())) for side in SIDES})
LOOK_AGAIN = 0.02  # seconds between checks of another process


class Batch(NamedTuple):
    """Queries that are added together."""

    table: pa.Table = NO_QUERIES  # Arrow lists of scores and relevances, and the ids of the queries
    ids: frozenset[bytes] = frozenset()  # these ids, if the queries have any
    # the order in which the scores were given; those of the table are in descending order
    score_order: str = "descending"
    exclude_from: str = ""  # where documents were excluded; empty without `exclude`
    # the error if `exclude` has none of these queries; empty if it has some; None without `exclude`
    unmatched: str | None = None
    unmatched_ids: str | None = None  # `unmatched` of their rankings


class CacheFile(NamedTuple):
    """A file of a process, and its lock."""

    path: str
    lock: Any


class BatchState(NamedTuple):
    """The state of a metric."""

    pid: int = 0  # the process that added the batches
    # the cache files of the current round of several processes: in process 0 those of all processes, its own first; in
    # the others only their own
    files: tuple[CacheFile, ...] = ()
    store: Any = None  # the store of the batches; None before the first
    contents: Contents = Contents()  # the contents of the store
    ids: tuple[frozenset[bytes], ...] = ()  # the ids of the queries that were added, in sets of falling size
    score_order: str = ""  # as in `Batch`, of all batches of this process; empty before the first
    exclude_from: str = ""  # likewise, of all batches that exclude documents
    unmatched: str | None = None  # as in `Batch`, of all batches together
    unmatched_ids: str | None = None  # as in `Batch`, of the first batch that has any
    added: tuple[pa.Table, ...] = ()  # batches of this process that a `compute` has read but not yet scored
    rest: tuple[tuple[pa.Table, ...], ...] = ()  # the same batches of each other process
    read: tuple[CacheFile, ...] = ()  # the files that they were read from
    handed_over: str | None = None  # the file of the last round, which process 0 removes once it is scored

    @property
    def queries(self) -> int:
        """The number of queries that were added and not yet scored."""
        read: int = sum(table.num_rows for table in chain(self.added, *self.rest))
        return self.contents.rows + read

    def with_batch(self, batch: Batch) -> "BatchState":
        """Add a batch to the store, and return the new state."""
        if not batch.table.num_rows:
            return self
        ids, larger = batch.ids, list(self.ids)
        while ids and larger and len(larger[-1]) <= len(ids):
            ids |= larger.pop()
        contents = self.store.add(self.contents, batch.table)
        return self._replace(
            contents=contents,
            ids=(*larger, ids) if ids else self.ids,
            score_order=batch.score_order,
            exclude_from=self.exclude_from or batch.exclude_from,
            unmatched=_unmatched(self, batch),
            unmatched_ids=self.unmatched_ids or batch.unmatched_ids,
        )


class OwnLock(FileLock):  # type: ignore[misc, valid-type, unused-ignore]
    """A lock that only the process that made it can release; older versions of filelock also release it in a fork."""

    maker = 0  # the process that made it

    def release(self, force: bool = False) -> None:
        """Release the lock, in the process that made it."""
        if self.maker == os.getpid():
            super().release(force)


class Batches:
    """The part of a metric that stores batches and communicates with other processes.

    evaluate also has a protocol for several processes. It is not used, because it scores what a killed process had
    written as if it were complete (`test_evaluates_own_processes_score_the_batches_of_a_killed_one`).

    A round of several processes works as follows. Each process has a lock and, except for process 0, a file that it
    protects:

    1. Process 0 takes the rendez-vous lock and waits until all others have locked their files.
       Then it locks its own file and releases the rendez-vous lock.
    2. Each other process waits until the file of process 0 is locked. It probes that lock only
       while it holds the rendez-vous lock, so that a probe is never mistaken for a process.
    3. All add batches. A process other than 0 hands its batches over: it marks its file as whole
       and releases the lock.
    4. Process 0 takes the locks of the others, reads all files, scores them and removes them. A
       process may begin the next round once its file is gone.
    """

    data_dir: str
    experiment_id: str
    keep_in_memory: bool
    num_process: int
    process_id: int
    timeout: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # nothing here is random, and the seed that evaluate draws would make equal metrics differ between processes
        self.seed = kwargs.get("seed") or 0
        for name in ("compute", "add_batch", "add"):
            # evaluate copies these methods to add to their docstrings, and datasets cannot hash the copies
            vars(self).pop(name, None)
        self._state = BatchState()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        if self._holds_batches():
            raise TypeError("this metric holds batches, which cannot be copied to another process; compute them before")
        return {**self.__dict__, "_state": BatchState(handed_over=self._state.handed_over), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of queries added and not yet computed."""
        return self._state.queries

    def _holds_batches(self) -> bool:
        return self._state.store is not None or bool(self._state.added or self._state.rest)

    def _batch(self, rankings: Rankings, score_order: str) -> Batch:
        """Return queries as a batch, unless one was added before, or batches in another order of scores."""
        self._check_order(score_order)
        predictions, references = to_arrow(rankings)
        ids, column = [], pa.nulls(len(predictions))
        if rankings.query_ids is not None:
            ids = list(map(_spelled, rankings.names()))
            column = pa.array(ids, pa.large_binary())
        table = pa.table([predictions, references, column], [*SIDES, "query_id"])
        batch = Batch(table, frozenset(ids), score_order)
        for added in self._state.ids:
            if again := added & batch.ids:
                query = next(each for each in ids if each in again)
                hint = "add all documents of a query in one batch, or give all rows to compute at once"
                raise ValueError(f"query {_readable_id(query)} was added before; {hint}")
        return batch

    def _check_order(self, score_order: str) -> None:
        """Raise an error if scores in this order do not belong to the batches that were added before."""
        if (before := self._state.score_order or score_order) != score_order:
            problem = f'the batches before were added in "{before}" order, so they cannot be in "{score_order}" order'
            raise ValueError(f"score_order: {problem}; give add_batch the order of each batch, the same for all")

    def _check_exclusion(self, exclude_from: str) -> None:
        """Raise an error if the documents of batches that were added before were excluded from other sides."""
        if (before := self._state.exclude_from or exclude_from) != exclude_from:
            problem = f'the batches before were added with "{before}", so it cannot be "{exclude_from}"'
            hint = f"give it to add_batch with each {mark('exclude')}, the same for all"
            raise InputError(f"{problem}; {hint}", "exclude_from")

    def _alone(self, step: Callable[[], tuple[BatchState, Result]]) -> Result:
        """Run a step, keep the state that it leads to, and return its result.

        Python may run a signal handler at any call, including the one that releases the lock. If the caller does not
        get the result, the metric still has the batches that it came from.
        """
        before = None
        try:
            with self._lock_or_refuse():
                after, result = step()
                before, self._state = self._state, after
        except BaseException:
            if before is not None:
                self._state = before
            raise
        return result

    def _lock_or_refuse(self) -> threading.Lock:
        """Return the lock of this metric, unless another thread has it or another process has added the batches."""
        if self._state.pid not in (0, os.getpid()):
            if self._holds_batches():
                problem = f"this metric holds batches that process {self._state.pid} has added"
                raise RuntimeError(f"{problem}; compute them there, and reload the metric in each process")
            self._state = BatchState()
        if self._lock.locked():
            raise RuntimeError("this metric is in use by another thread; load one for each thread")
        return self._lock

    def _add(self, read: Callable[[], Batch]) -> None:
        """Add the batch that a function reads, completely or not at all."""

        def step() -> tuple[BatchState, None]:
            self._settle()
            batch = read()
            return self._open().with_batch(batch), None

        self._alone(step)

    def _score(
        self,
        read: Callable[[], Batch] | None,
        check: Callable[[Inputs], Any],
        score: Callable[[Inputs], Result],
        ignore_index: float | None,
    ) -> Result | None:
        """Score the queries that `read` returns and those added before; return None in processes other than 0.

        `check` rejects queries that cannot be scored, before they are combined with those of other processes. The
        reference of padding is compared in the type of each batch.
        """

        def step() -> tuple[BatchState, Result | None]:
            handed_over = self._settle()
            batch = Batch() if read is None or handed_over else read()
            if self.num_process > 1 and not self._state.read:
                if batch.table.num_rows:
                    check(Inputs(batch.table["predictions"], batch.table["references"]))
                if self.process_id > 0:
                    return self._state if handed_over else self._hand_over(batch), None
                self._open()
            if read is None and not self._holds_batches():
                raise ValueError("there is nothing to score: give predictions and references, or add batches before")
            state = self._collect()
            _check_distinct([*state.ids, batch.ids], state.rest)
            if self.num_process == 1 and (unmatched := _unmatched(state, batch)):  # other processes may have them
                hint = "reload the metric and add the batches again, with ids that match"
                raise ValueError(f"{unmatched}; the same holds for every batch: {hint}")
            queries = _scores_batches_together([*state.added, batch.table, *chain.from_iterable(state.rest)], ignore_index)
            if (unmatched_ids := state.unmatched_ids or batch.unmatched_ids) and not _have_document_in_common(queries):
                warn(f"{mark('predictions')}: {unmatched_ids}")
            try:
                result = score(Inputs(queries["predictions"], queries["references"]))
            except ValueError as error:
                if not state.queries or type(error) not in (ValueError, InputError):  # one of a subclass of the metric
                    raise
                kept = f"{state.queries} queries added before, which count from 0, are kept"
                raise InputError(f"{marked(error)} ({kept}; to do without them, reload the metric)") from None
            for file in state.read:
                if file.lock.is_locked:  # if not, an interrupted call has removed it, and a new file may have its name
                    Path(file.path).unlink(missing_ok=True)
                    file.lock.release(force=True)
            return BatchState(), result

        return self._alone(step)

    def _open(self) -> BatchState:
        """Return the state with a store, in a round that all processes have begun."""
        state = self._state
        if state.store is not None:
            return state
        if self.num_process == 1:
            store = Store(folder=None if self.keep_in_memory else self.data_dir)
            self._state = state = state._replace(pid=os.getpid(), store=store)
            return state
        if state.read:
            problem = "process 0 has read the batches of all processes and not scored them"
            raise ValueError(f"{problem}; compute them before more are added")
        end = time.monotonic() + self.timeout
        if state.handed_over is not None:
            self._await_scored(state.handed_over, end)
        if not state.files:  # stored before locking, so that an interrupt does not lose the locks
            files = tuple(map(self._file, range(self.num_process) if self.process_id == 0 else [self.process_id]))
            self._state = state = state._replace(pid=os.getpid(), files=files, handed_over=None)
        self._state = state = state._replace(store=self._begin(state.files, end))
        return state

    def _begin(self, files: Sequence[CacheFile], end: float) -> Store:
        """Return the store of this process, once all processes have begun; it has a named file except in process 0."""
        own, *others = files
        rendez_vous = self._file(f"{self.num_process}-rdv").lock
        try:
            if self.process_id == 0 and not own.lock.is_locked:  # if locked, an interrupted call has met the others
                problem = f"another process 0 waits for the others at {rendez_vous.lock_file}"
                _acquire(rendez_vous, end, f"{problem}; give each evaluation an experiment_id of its own")
                for process, file in enumerate(others, 1):
                    self._await(process, end, partial(_has_begun, file))
            problem = f"another metric uses the cache file {own.path}"
            _acquire(own.lock, end, f"{problem}; give each evaluation an experiment_id of its own")
            if self.process_id == 0:
                return Store(folder=self.data_dir)
            store = Store(own.path)
            self._await(0, end, partial(self._process_0_has_begun, rendez_vous))
            return store
        finally:
            rendez_vous.release(force=True)

    def _process_0_has_begun(self, rendez_vous: Any) -> bool:
        try:
            rendez_vous.acquire(timeout=0)
            return _is_locked(self._file(0))
        except Timeout:  # process 0 is waiting for others, or another process is checking
            return False
        finally:
            rendez_vous.release(force=True)

    def _await(self, process: int, end: float, begun: Callable[[], bool]) -> None:
        """Wait until a process has begun."""
        while not begun():
            if time.monotonic() > end:
                problem = f"not all of the {self.num_process} processes have begun within {self.timeout} seconds"
                raise ValueError(f"{problem}; each must add a batch or compute: process {process} has not, or has died")
            time.sleep(LOOK_AGAIN)

    def _await_scored(self, path: str, end: float) -> None:
        """Wait until process 0 has scored the batches that this process handed over in the last round."""
        while os.path.exists(path):
            if time.monotonic() > end:
                problem = f"process 0 has not computed the last round within {self.timeout} seconds"
                raise ValueError(f"{problem}: {path} is still there; compute in all processes")
            time.sleep(LOOK_AGAIN)

    def _hand_over(self, batch: Batch) -> BatchState:
        """Hand the batches, including a last one, over to process 0."""
        state = self._open().with_batch(batch)
        state.store.finish(state.contents)
        state.files[0].lock.release(force=True)
        return BatchState(handed_over=state.files[0].path)

    def _settle(self) -> bool:
        """Return whether process 0 has this process's file although the call that handed it over was interrupted.

        If not, this process takes the file back and removes the mark, because it may die before its next batches are
        written.
        """
        state = self._state
        if self.process_id == 0 or state.store is None:
            return False
        path, lock = state.files[0]
        if not lock.is_locked and not self._has_again(state):
            self._state = BatchState(handed_over=path)
            return True
        state.store.reopen()
        return False

    def _has_again(self, state: BatchState) -> bool:
        """Return whether this process got its lock back before process 0 read its file."""
        lock = state.files[0].lock
        try:
            lock.acquire(timeout=0)
        except Timeout:  # process 0 is reading the file
            return False
        if not state.store.is_whole(state.contents):
            lock.release(force=True)
            return False
        return True

    def _collect(self) -> BatchState:
        """Read the batches of this process and of the others; return the state with them, without a store."""
        state = self._state
        if state.store is None:
            return state
        others = state.files[1:]
        end = time.monotonic() + self.timeout
        try:
            for process, file in enumerate(others, 1):
                problem = f"process {process} has not called compute within {self.timeout} seconds of process 0"
                problem = f"{problem}, or has died in it; its batches are in {file.path}"
                _acquire(file.lock, end, problem)
            added = (*state.added, *state.store.tables(state.contents))
            rest = tuple(tuple(read_finished(file.path, process)) for process, file in enumerate(others, 1))
        except BaseException:
            for file in others:
                file.lock.release(force=True)
            raise
        read = state._replace(added=added, rest=rest, read=(*state.read, *state.files))
        self._state = read._replace(files=(), store=None, contents=Contents(), handed_over=None)
        return self._state

    def _file(self, process: int | str) -> CacheFile:
        """Return the cache file of a process, or the one with a name."""
        name = f"{self.num_process}-{process}" if isinstance(process, int) else process
        path = os.path.join(self.data_dir, f"{self.experiment_id}-{name}.arrow")
        lock = OwnLock(f"{path}.lock", thread_local=False)
        lock.maker = os.getpid()
        return CacheFile(path, lock)


def _acquire(lock: Any, end: float, problem: str) -> None:
    """Acquire a lock, unless this process has it already."""
    try:
        if not lock.is_locked:
            lock.acquire(timeout=max(0, end - time.monotonic()))
    except Timeout:
        raise ValueError(problem) from None


def _has_begun(file: CacheFile) -> bool:
    """Return whether another process has locked its file and removed what a killed run left in it."""
    return _is_locked(file) and not is_finished(file.path)


def _is_locked(file: CacheFile) -> bool:
    """Return whether another process holds the lock."""
    try:
        file.lock.acquire(timeout=0)
    except Timeout:
        return True
    finally:
        file.lock.release(force=True)
    return False


def _spelled(query: Any) -> bytes:
    """Return an id as bytes, which are equal if the ids are: hexadecimal digits, or text after a mark for its type."""
    kind = id_kind(type(query))
    if kind == "text":
        text: bytes = query.encode("utf-8", "surrogatepass")  # str() would drop a NUL at the end of NumPy's text
        return b"'" + text
    if kind == "integers":
        return b"%x" % int(query)
    if kind == "bytes":
        return b'"' + bytes(query)
    moment = query.astimezone(UTC) if getattr(query, "tzinfo", None) else query
    return b"@" + str(moment).encode()


def _readable_id(spelled: bytes) -> str:
    """Return an id as a message shows it."""
    mark, rest = spelled[:1], spelled[1:]
    if mark == b'"':
        return shown(rest)
    return shown(rest.decode("utf-8", "surrogatepass") if mark in (b"'", b"@") else int(spelled, 16))


def _unmatched(*batches: Batch | BatchState) -> str | None:
    """Return the error if `exclude` has no query of any batch; empty if it has one; None without `exclude`."""
    return min((each.unmatched for each in batches if each.unmatched is not None), default=None)


def _have_document_in_common(queries: pa.Table) -> bool:
    """Return whether a document of any batch was both retrieved and judged."""
    score, relevance = (pc.list_flatten(queries[side]) for side in SIDES)
    return bool(pc.any(pc.and_(pc.not_equal(score, -math.inf), pc.is_valid(relevance))).as_py())


def _check_distinct(own: Sequence[frozenset[bytes]], rest: Sequence[Sequence[pa.Table]]) -> None:
    """Raise an error for a query that two processes have added."""
    seen = [(0, ids) for ids in own]
    for process, tables in enumerate(rest, 1):
        columns = (table["query_id"] for table in tables)
        ids = frozenset(chain.from_iterable(each.to_pylist() for each in columns if each.type != pa.null()))
        for other, before in seen:
            if both := before & ids:
                problem = f"query {_readable_id(min(both))} was added by process {other} and by process {process}"
                raise ValueError(f"{problem}; add all documents of a query in one process, one batch")
        seen.append((process, ids))


def in_ascending_order(predictions: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return lists of scores that are stored in descending order as they were given.

    >>> in_ascending_order(pa.chunked_array([[[-0.5, None]]])).to_pylist()
    [[0.5, None]]
    """
    lists = (
        pa.ListArray.from_arrays(chunk.offsets, pc.negate(chunk.values.cast(pa.float64())))
        for chunk in predictions.chunks
    )
    return pa.chunked_array(lists, pa.list_(pa.float64()))


def has_text_labels(references: pa.ChunkedArray) -> bool:
    """Return whether lists of relevances hold the numbers of labels in text."""
    values = pc.list_flatten(references)
    lowest = pc.min(values).as_py() if pa.types.is_float64(values.type) else None  # narrower ones are no labels
    return lowest is not None and bool(lowest <= OF_TEXT)


def _scores_batches_together(tables: Sequence[pa.Table], ignore_index: float | None) -> pa.Table:
    """Concatenate predictions and references of tables, without padding; if their types differ, in the wider one."""
    filled = [table.select(SIDES) for table in tables if table.num_rows] or [NO_QUERIES]
    schema = pa.schema([(side, _widest({table[side].type for table in filled})) for side in SIDES])
    return pa.concat_tables(
        (table if ignore_index is None or table.schema == schema else without_padding(table, ignore_index)).cast(schema)
        for table in filled
    )


def _widest(kinds: set[pa.DataType]) -> pa.DataType:
    """Return the type of the lists; if there are several, float64 if it is among them, else float32."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return pa.list_(pa.float64() if pa.list_(pa.float64()) in kinds else pa.float32())


# ndcg/scores/spark.py: Score Spark DataFrames, for rankings that do not fit on one machine.

def compute_spark(
    df: Any,
    *,
    prediction: str,
    reference: str,
    query: str | None = None,
    document: str | None = None,
    sample_weight: str | None = None,
    exclude: Any = None,
    k: Cutoffs = None,
    use_aggregator: bool = True,
    **options: Unpack[QueryOptions],
) -> Any:
    """Score a Spark DataFrame on its executors, as `compute` scores rankings in memory.

    Each row is a document with the id of its query or, if `prediction` and `reference` are arrays, a query. A null
    prediction marks a document that was not retrieved, a null
    reference a document that was not judged. So the full outer join of a run and qrels can be scored directly; a query
    that is only in the run then has no relevant documents. The executors
    need only NumPy and pyarrow. It works in classic and Spark Connect sessions.

    Args:
        df: the DataFrame; its rows in any order.
        prediction: the column of scores.
        reference: the column of relevances.
        query: the column of query ids, integers or strings; needed if a row is a document.
        document: the column of document ids, for `ties="docid"`; then a document that appears
            twice in a query is rejected.
        sample_weight: the column of weights, the same in all rows of a query.
        exclude: a DataFrame in which the id columns have the same names as `query` and `document`:
            documents to remove from rankings and ideals, or, with `exclude_from="run"`, from rankings only.
        k: the cutoff or cutoffs.
        use_aggregator: the means over all queries (default) or, if False, a DataFrame with a
            row for each query: its id, and its values in columns with the names of the results.
        **options: the options of `compute`, except `engine`. Rows have no order, so `ties` may be
            `"first"` or `"last"` only in arrays.

    Returns:
        The means by name, as in `compute`, or the DataFrame, which is computed when it is used.

    Raises:
        ValueError: as in `compute`, with the id of the query; or a column is missing or has a wrong
            type. For a DataFrame of values, Spark raises the error when the DataFrame is used.
        ImportError: PySpark is missing.

    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> df = SparkSession.builder.getOrCreate().createDataFrame(  # doctest: +SKIP
    ...     [("q", 3.0, 2), ("q", 2.0, 0), ("q", 1.0, 1)], "query string, score double, relevance int"
    ... )
    >>> compute_spark(df, query="query", prediction="score", reference="relevance", k=2)  # doctest: +SKIP
    {'nDCG@2': 0.7601875334318685}
    """
    parsed = Options.of_method(compute_spark, k, {"use_aggregator": use_aggregator, **options}, lacks=("engine",))
    columns = {"query": query, "prediction": prediction, "reference": reference, "document": document}
    if parsed.score_order == "descending":
        refuse_lowest_first(prediction, "prediction")
    frame = prepare(df, {**columns, "sample_weight": sample_weight}, parsed.ties, exclude)
    if parsed.duplicates == "best" and document is None:
        needed = "the ids of documents: name their column as document"
        raise InputError(f"{mark('duplicates', 'best')} needs {needed}")
    if not parsed.use_aggregator:
        if query is None:
            raise InputError(f"query must name the column of query ids if {mark('use_aggregator', False)}")
        return by_query(frame, parsed)
    return {name: mean(name, np.array([value])) for name, value in means(frame, parsed).items()}


def joined(
    predictions: Any, references: Any, query_ids: Any, document_ids: Any, score_order: Any, fields: Any = None
) -> Any:
    """Return one DataFrame with the columns of two: predictions, references, and the ids of queries and documents.

    Queries without judgments are left out, as where rankings are joined by ids.
    """
    fields = with_names_of_columns(fields, query=query_ids, document=document_ids)
    sides = []
    for argument, kind, frame in (("predictions", "run", predictions), ("references", "qrels", references)):
        if not is_spark(frame):
            raise InputError(f"must be a Spark DataFrame, as the other side is; got {shown(frame)}", argument)
        names = names_of_side(kind, fields, score_order or "descending")

        def cells(of: Sequence[str], frame: Any = frame) -> Iterator[Any]:
            return iter(frame.select(*map(_quoted, of)).limit(1 << 16).collect())

        try:
            try:
                at = chosen_columns(frame.columns, names, cells, "the table")
            except UnknownFieldError:
                frame = _with_a_row_for_each_document(frame, kind, score_order)
                at = chosen_columns(frame.columns, names, cells, "the table")
        except ValueError as error:
            raise within(error, argument) from None
        as_ids = zip(at, ("query_ids", "document_ids", argument), strict=True)
        sides.append(frame.select([frame[_quoted(frame.columns[each])].alias(name) for each, name in as_ids]))
    run, qrels = sides
    for name in ("query_ids", "document_ids"):
        types = [side.schema[name].dataType.simpleString() for side in sides]
        if _kind_of_ids(types[0]) != _kind_of_ids(types[1]):
            raise ValueError(f"{name} are {types[0]} in the predictions and {types[1]} in the references; cast one")
    run = run.join(qrels.select("query_ids").distinct(), "query_ids", "left_semi")
    both = run.join(qrels, ["query_ids", "document_ids"], "full")
    return both.select("predictions", "references", "query_ids", "document_ids")


def _with_a_row_for_each_document(frame: Any, kind: str, score_order: Any) -> Any:
    """Return a table with the structs of its arrays, as from ALS, or the ids in these, in rows; others unchanged."""
    for column, of in frame.dtypes:
        others = [_quoted(name) for name in frame.columns if name != column]
        if of.startswith("array<struct<"):
            rows = frame.selectExpr(*others, f"inline({_quoted(column)})")
            is_als = kind == "run" and "score" not in rows.columns
            return rows.withColumnRenamed("rating", "score") if is_als else rows
        if of.startswith("array<") and of[6:-1] in ID_TYPES:
            rows = frame.selectExpr(*others, f"posexplode({_quoted(column)}) as (rank, document_id)")
            best_first = "rank" if score_order == "ascending" else "-rank"
            value = f"{best_first} as score" if kind == "run" else "1 as relevance"
            return rows.selectExpr(*others, "document_id", value)
    return frame


def means(frame: Any, options: Options) -> dict[str, float]:
    """Return the mean of each result over all queries in the result of `prepare`: nan if no query has a value.

    Of the errors of the executors, the first in alphabetical order is raised.
    """
    schema = "queries long, scale double, sums array<double>, weights array<double>, nulls array<int>, problem string"
    rows = frame.mapInArrow(_travelling(_weighted_sums, options), schema).collect()
    if problems := sorted(row.problem for row in rows if row.problem):
        raise ValueError(problems[0])
    results = {}
    scale = max((row.scale for row in rows), default=1.0)
    if not scale:
        raise InputError(f"{mark('sample_weight')} is 0 for every query; give at least one query a weight")
    for at, name in enumerate(options.names):
        total, weight = (math.fsum(row[side][at] * (row.scale / scale) for row in rows) for side in ("sums", "weights"))
        results[name] = total / weight if weight else math.nan
    if not sum(row.queries for row in rows):
        raise ValueError("the DataFrame holds no queries; there is nothing to score")
    nulls = {each for row in rows for each in row.nulls}
    if 0 not in nulls and {1, 2} <= nulls:
        hint = "if they are of two tables that were joined, check that both have the same ids"
        warn(f"no row has both a prediction and a reference; {hint}")
    return results


def by_query(frame: Any, options: Options) -> Any:
    """Return a DataFrame with the values of every query in the result of `prepare`, computed when it is used."""
    kind = frame.schema["query"].dataType.simpleString()
    columns = [f"query {kind}", *(f"`{name}` double" for name in options.names)]
    return frame.mapInArrow(_travelling(_scores_spark_values, options), ", ".join(columns))


def prepare(frame: Any, columns: Mapping[str, str | None], ties: str, exclude: Any = None) -> Any:
    """Return the columns that the executors read, with a row for each query; `columns` names them by argument.

    If a row was a document, `missing` has a number for each document of the query, because Spark's lists omit nulls:
    bit i is set if the i-th column of lists was null.
    """
    try:
        from pyspark.sql import functions
    except ImportError:
        raise missing_library("compute_spark", "PySpark", "pyspark") from None
    given = {name: column for name, column in columns.items() if column is not None}
    nested = _are_nested(frame, given)
    chosen = frame.select([functions.col(_quoted(column)).alias(name) for name, column in given.items()])
    if exclude is not None and (nested or "document" not in given):
        raise ValueError("exclude needs one row per document; name the columns of ids as query and document")
    if nested:
        if "document" in given:
            raise ValueError(
                "document needs one row per document; in arrays, put the documents in ascending order of id instead"
            )
        return chosen
    if "query" not in given:
        raise ValueError("query must name the column of query ids if each row is a document")
    if ties == "docid" and "document" not in given:
        raise ValueError('ties="docid" needs the ids of documents: name their column as document')
    if ties in ("first", "last"):
        raise ValueError(
            f'ties="{ties}": rows of a DataFrame have no order; use "average", "docid" with document, or arrays'
        )
    if "document" in given:
        chosen = chosen.withColumn("document", functions.col("document").cast("string"))
    if exclude is not None:
        chosen = chosen.join(_excluded_rows(exclude, frame, given), ["query", "document"], "left")
    kinds = {name: kind for name, kind in chosen.dtypes if name != "query"}
    lists = [f"collect_list(coalesce({name}, cast(0 as {kind}))) as {name}" for name, kind in kinds.items()]
    missing = " + ".join(f"if({name} is null, {1 << bit}, 0)" for bit, name in enumerate(kinds))
    lists.append(f"collect_list(cast({missing} as tinyint)) as missing")
    return chosen.groupBy("query").agg(*map(functions.expr, lists))


def _excluded_rows(exclude: Any, frame: Any, given: Mapping[str, str]) -> Any:
    """Return the documents to exclude: the ids of query and document, and a column of true."""
    from pyspark.sql import functions

    if not hasattr(exclude, "mapInArrow"):
        raise InputError(f"must be a Spark DataFrame if data is one; got {type(exclude).__name__}", "exclude")
    ids = {name: given[name] for name in ("query", "document")}
    for name, column in ids.items():
        if exclude.columns.count(column) != 1:
            there = ", ".join(exclude.columns)
            raise InputError(f"must have one column {shown(column)}, which {name} names; there are {there}", "exclude")
        types = [each.schema[column].dataType.simpleString() for each in (exclude, frame)]
        if _kind_of_ids(types[0]) != _kind_of_ids(types[1]):
            both = f"{types[0]}, and in the rankings {types[1]}"
            raise InputError(f"column {shown(column)} is of type {both}; give both the same type", "exclude")
    columns = [functions.col(_quoted(column)).alias(name) for name, column in ids.items()]
    pairs = exclude.select(columns).withColumn("document", functions.col("document").cast("string")).distinct()
    return pairs.withColumn("excluded", functions.lit(True))


def _are_nested(frame: Any, given: Mapping[str, Any]) -> bool:
    """Return whether predictions and references are arrays; raise an error for a missing column or a wrong type."""
    if not hasattr(frame, "mapInArrow"):
        raise ValueError(f"df must be a Spark DataFrame; got {type(frame).__name__}")
    wrong = {name: column for name, column in given.items() if column not in frame.columns}
    if wrong:
        got = ", ".join(shown(each) if isinstance(each, str) else type(each).__name__ for each in wrong.values())
        names = f"{' and '.join(wrong)} must name {'a column' if len(wrong) == 1 else 'columns'}"
        raise ValueError(f"{names} of the DataFrame; got {got}, and there are {', '.join(frame.columns)}")
    for name, column in given.items():
        if frame.columns.count(column) > 1:
            raise ValueError(f"{name}: the DataFrame has several columns {shown(column)}; give them names of their own")
    types = {name: frame.schema[column].dataType.simpleString() for name, column in given.items()}
    nested = bool(types["prediction"].startswith("array<"))
    for name in ("prediction", "reference"):
        inner = types[name].removeprefix("array<").removesuffix(">")
        if inner == "string" and name == "reference":  # labels
            inner = "double"
        if inner not in NUMBERS or types[name].startswith("array<") != nested:
            problem = "both must be numbers, or both arrays of numbers; cast decimals to double"
            if types[name].startswith("array<struct<"):
                problem = "for documents with their scores, give two tables, predictions=run, references=qrels"
            raise ValueError(
                f"{name}: column {shown(given[name])} is of type {types[name]}, "
                f"prediction of {types['prediction']}; {problem}"
            )
    if types.get("sample_weight", "double") not in NUMBERS:
        raise InputError(
            f"column {shown(given['sample_weight'])} must hold numbers; got {types['sample_weight']}", "sample_weight"
        )
    for name in ("query", "document"):
        if types.get(name, "string") not in ID_TYPES:
            hint = "; cast whole numbers to bigint" if types[name] in ("float", "double") else ""
            problem = f"must hold integers, strings, dates or timestamps; got {types[name]}{hint}"
            raise ValueError(f"{name}: column {shown(given[name])} {problem}")
    return nested


NUMBERS = ("boolean", "tinyint", "smallint", "int", "bigint", "float", "double")
INTEGERS = ("tinyint", "smallint", "int", "bigint")
ID_TYPES = (*INTEGERS, "string", "date", "timestamp", "timestamp_ntz")


def _kind_of_ids(of: str) -> str:
    return "integer" if of in INTEGERS else of


# On executors


def _travelling(function: Callable[..., Any], options: Options) -> Callable[[Iterable[pa.RecordBatch]], Iterator[Any]]:
    """Return a function that Spark pickles with the modules it needs, because executors do not have the package."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__.removesuffix(".scores.spark")])
    return partial(function, options)


def _quoted(column: str) -> str:
    return f"`{column.replace('`', '``')}`"


def _scores_spark_values(options: Options, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield every query with its values."""
    for table in _tables(batches):
        queries, values, _ = _scores_spark_measure(options, table)
        yield pa.record_batch([queries, *map(pa.array, values)], ["query", *options.names])


def _weighted_sums(options: Options, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield sums over queries, with weights of at most 1 and their scale, and errors as text."""
    for table in _tables(batches):
        row: dict[str, Any] = {"queries": 0, "scale": 0.0, "sums": [0.0], "weights": [0.0], "nulls": []}
        try:
            _, measured, weight = _scores_spark_measure(options, table)
            valued = [~np.isnan(values) for values in measured]
            row["queries"] = len(weight)
            row["scale"] = float(weight.max())
            weight = weight / (row["scale"] or 1.0)
            row["sums"] = [float(np.sum((values * weight)[had])) for values, had in zip(measured, valued, strict=True)]
            row["weights"] = [float(np.sum(weight[had])) for had in valued]
            if "missing" in table.column_names:  # 1: the prediction is null, 2: the reference
                row["nulls"] = np.unique(pc.list_flatten(table["missing"]).to_numpy() & 3).tolist()
        except ValueError as problem:
            row["problem"] = str(problem)
        yield pa.RecordBatch.from_pylist([row], SUMS)


SUMS = pa.schema(
    {
        "queries": pa.int64(),
        "scale": pa.float64(),
        "sums": pa.list_(pa.float64()),
        "weights": pa.list_(pa.float64()),
        "nulls": pa.list_(pa.int32()),
        "problem": pa.string(),
    }
)


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Combine batches until they have `PART` documents."""
    pending: list[pa.RecordBatch] = []
    documents = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        pending.append(batch)
        documents += pc.sum(pc.list_value_length(batch["prediction"])).as_py() or 0
        if documents >= PART:
            yield pa.Table.from_batches(pending)
            pending, documents = [], 0
    if pending:
        yield pa.Table.from_batches(pending)


def _scores_spark_measure(
    options: Options, table: pa.Table
) -> tuple[pa.Array | None, list[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the ids of queries, the values of each result, and the weights."""
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    queries = columns.get("query")
    begins = np.arange(table.num_rows)
    if queries is not None and queries.null_count:
        raise ValueError("query: a row has no query id; give each one")
    nested = "missing" not in columns
    if not nested:
        offsets = np.append(0, np.cumsum(pc.list_value_length(columns["missing"]), dtype=np.int64))
        begins = offsets[:-1]
        columns = _scores_spark_documents(columns)
        if "document" in columns:
            columns = _in_order_of_ids(columns, np.diff(offsets))
            if options.duplicates == "best":
                columns, offsets = _without_repeats(columns, offsets, options.score_order == "ascending")
                begins = offsets[:-1]
            _refuse_repeats(queries, columns["document"], begins)
        lists = {name: pa.LargeListArray.from_arrays(offsets, columns[name]) for name in ("prediction", "reference")}
        columns.update(lists)
    sides, weight = [columns["prediction"], columns["reference"]], columns.get("sample_weight")

    def place(query: int) -> str:
        if queries is None:
            return "a row (name a query column to learn which)"
        return f"query {shown(queries[query].as_py())}"

    _refuse_unlike(sides, place)
    weights = np.ones(len(begins)) if weight is None else _weights(weight, begins, place)
    try:
        how = options.ignore_index, options.score_order, options.labels
        rankings = join_lists(sides[0], sides[1], *how, lambda query, _: place(query))
        if "excluded" in columns:
            excluded = pc.fill_null(columns["excluded"], False).to_numpy(zero_copy_only=False)
            rankings = rankings.only(~excluded, options.exclude_from)
        rankings = rankings.with_scores_in(options.score_dtype).with_highest_first(options.score_order)
        rankings = rankings if options.labels is None else rankings.with_gains(options.labels)
        if options.missing == "raise":
            refuse_missing(rankings._replace(place=lambda query, _: place(query)))
        values = measure_rankings(rankings.of_judged() if options.judged_only else rankings, options)
    except InvalidRankingError as error:
        argument = {"relevance": "reference", "score": "prediction"}[error.array]
        raise InputError(error.problem, argument, place(error.query), hint=error.hint) from None
    except InputError as error:  # text in place of a relevance
        raise within(error, "reference", instead_of="references") from None
    return queries, [np.asarray(values[measure][row]) for _, measure, row in options.results], weights


def _scores_spark_documents(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Return the columns with a row for each document, with the nulls that `missing` records."""
    missing = columns["missing"].flatten().to_numpy()
    lists = {name: each.flatten() for name, each in columns.items() if name not in ("query", "missing")}
    if missing.any():
        for bit, name in enumerate(lists):
            lists[name] = pc.if_else(pa.array(missing & (1 << bit) == 0), lists[name], None)
    return lists


def _in_order_of_ids(columns: Mapping[str, pa.Array], lengths: NDArray[np.int64]) -> dict[str, pa.Array]:
    """Return the columns with the documents of each query in ascending order of their ids."""
    keys = {"query": np.repeat(np.arange(len(lengths)), lengths), "document": columns["document"]}
    order = pc.sort_indices(pa.table(keys), sort_keys=[(key, "ascending") for key in keys])
    return {name: each.take(order) for name, each in columns.items()}


def _without_repeats(
    columns: dict[str, pa.Array], offsets: NDArray[np.int64], ascending: bool
) -> tuple[dict[str, pa.Array], NDArray[np.int64]]:
    """Return the columns, in order of ids, with the best row of each document, and the offsets of queries."""
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    document, reference = columns["document"], columns["reference"]
    same = np.zeros(len(query), bool)
    same[1:] = _are_equal(document) & (query[1:] == query[:-1])
    if (unlike := same[1:] & ~_are_equal(reference)).any():
        named = shown(document[int(unlike.argmax())].as_py())
        raise ValueError(f"reference: document {named} has several relevances in a query; give it one")
    score = columns["prediction"].cast(pa.float64())
    score = pc.fill_null(score if ascending else pc.negate(score), np.inf).to_numpy(zero_copy_only=False)
    order = np.lexsort((score, ~np.isnan(score), np.cumsum(~same)))
    best = order[np.flatnonzero(~same)]
    kept = np.bincount(query[best], minlength=len(offsets) - 1)
    return {name: each.take(pa.array(best)) for name, each in columns.items()}, np.append(0, np.cumsum(kept))


def _are_equal(values: pa.Array) -> NDArray[np.bool_]:
    """Return whether each value equals the one before it, or both are null."""
    one, other = values[1:], values[:-1]
    nulls = pc.and_(one.is_null(), other.is_null())
    return np.asarray(pc.fill_null(pc.equal(one, other), nulls).to_numpy(zero_copy_only=False))


def _refuse_unlike(sides: list[pa.Array], place: Callable[[int], str]) -> None:
    """Raise an error for a query that lacks one of its lists, or has lists of different lengths."""
    for name, side in zip(("prediction", "reference"), sides, strict=True):
        if side.null_count:
            query = int(np.argmax(side.is_null().to_numpy(zero_copy_only=False)))
            raise ValueError(f"{name}: {place(query)} is null; give an array, empty if there is no document")
    lengths = [pc.list_value_length(side).to_numpy() for side in sides]
    if (lengths[0] != lengths[1]).any():
        query = int(np.argmax(lengths[0] != lengths[1]))
        raise ValueError(
            f"{place(query)}: {lengths[0][query]} predictions and {lengths[1][query]} references; give both for every "
            "document, null for the score of one not retrieved or the relevance of one not judged"
        )


def _weights(weight: pa.Array, begins: NDArray[np.int64], place: Callable[[int], str]) -> NDArray[np.float64]:
    """Return the weight of each query, which must be the same in all of its rows."""
    values = weight.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)  # NaN if missing
    lengths = np.diff(np.append(begins, len(values)))
    weights = np.asarray(values[begins])
    if (wrong := ~((values >= 0) & (values < math.inf))).any():
        row = int(np.argmax(wrong))
        query = int(np.searchsorted(begins, row, "right")) - 1
        raise InputError(
            f"{place(query)}: must be finite and not negative in every row; got {weight[row].as_py()}", "sample_weight"
        )
    if (unlike := values != np.repeat(weights, lengths)).any():
        row = int(np.argmax(unlike))
        query = int(np.searchsorted(begins, row, "right")) - 1
        problem = f"must be the same in all rows of a query; got {weights[query]} and {values[row]}"
        raise InputError(f"{place(query)}: {problem}", "sample_weight")
    return weights


def _refuse_repeats(queries: pa.Array, documents: pa.Array, begins: NDArray[np.int64]) -> None:
    """Raise an error for a document that appears twice in a query, or has no id."""
    same = np.zeros(len(documents), bool)
    same[1:] = pc.fill_null(pc.equal(documents[1:], documents[:-1]), False).to_numpy(zero_copy_only=False)
    same[begins] = False
    for wrong, problem in (
        (same, f"appears twice; {once('run')}"),
        (documents.is_null().to_numpy(zero_copy_only=False), "has no id"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            query = queries[int(np.searchsorted(begins, row, side="right")) - 1].as_py()
            raise InputError(f"document {shown(documents[row].as_py())} {problem}", "document", f"query {shown(query)}")


# ndcg/scores/compute.py: The function `compute` of the package, for rankings in memory, in files, in DataFrames or on Spark.

@shows_options
@describes_arguments
def compute(
    *,
    predictions: Any = None,
    references: Any = None,
    k: Cutoffs = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **options: Unpack[ComputeOptions],
) -> Any:
    """Return nDCG (Järvelin and Kekäläinen, 2002), or DCG, IDCG and CG: the mean over queries or each query's value.

    Args:
        predictions: {predictions}
        references: {references}
        k: {k}
        sample_weight: {sample_weight}
        query_ids: {query_ids}
        document_ids: {document_ids}
        data: {data}
        exclude: {exclude}
        fields: {fields}
        **options: `measures`, `convention`, `gain`, `discount`, `log_base`, `ideal`, `score_dtype`, `score_order`,
            `ties`, `ignore_ties`, `zero_division`, `negative_relevance`, `judged_only`, `duplicates`,
            `exclude_from`, `ignore_index`, `missing`, `use_aggregator` and `engine`, as the metric card describes them.

    Returns:
        A value for each measure and cutoff under its name, such as `nDCG@10`: a float from 0 to 1
        for nDCG, or with `use_aggregator=False` a list with the value of each query. For a Spark
        DataFrame, the values of queries are a DataFrame, as in `compute_spark`.

    Raises:
        ValueError: an option or a ranking is invalid; names the option, or the argument, query and position.
        TypeError: an option is unknown; names the nearest, or all options.

    >>> compute(predictions=[[.1, .2, .3, 4, 70]], references=[[10, 0, 0, 1, 5]], k=3)
    {'nDCG@3': 0.4123818817534531}
    """
    if is_spark(predictions) or is_spark(references):
        data = joined(predictions, references, query_ids, document_ids, options.get("score_order"), fields)
        predictions, references, query_ids, document_ids = data.columns
    if is_spark(data):
        columns = {"prediction": predictions, "reference": references, "query": query_ids, "document": document_ids}
        how: dict[str, Any] = {**columns, "exclude": exclude, **options}
        return compute_spark(data, **how, sample_weight=sample_weight, k=k)
    parsed = Options.of_method(compute, k, options, lacks=())
    inputs = Inputs(predictions, references, query_ids, document_ids, exclude, sample_weight, fields=fields)
    return score_inputs(from_frame(data, inputs), parsed)


# ndcg/scores/documents.py: List the documents of a query with their ranks and what each adds to DCG.

def documents(
    *,
    predictions: Any,
    references: Any,
    queries: Iterable[Any] | None = None,
    k: Cutoffs = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    fields: Any = None,
    **options: Unpack[QueryOptions],
) -> pa.Table:
    """Return the documents of queries in the order of their ranks, then those that were not retrieved.

    The columns are ``query``; ``document``: its id, or its position without ids; ``relevance``: null if it was not
    judged; ``rank``: null if it was not retrieved; ``last_rank``: the last of the ranks that it shares with documents
    of equal score; ``gain``; and ``discount``: the mean over its ranks, 0 beyond the cutoff. DCG@k is the sum of gain
    times discount.

    Args:
        predictions: as in `compute`.
        references: as in `compute`.
        queries: the ids of the queries, or their indices if they have none; None for all.
        k: the cutoff.
        query_ids: as in `compute`.
        document_ids: as in `compute`.
        data: as in `compute`.
        exclude: as in `compute`; these documents are left out, or, with `exclude_from="run"`, have no rank.
        fields: as in `compute`.
        **options: the options of `compute`, except `use_aggregator` and `engine`.

    Raises:
        ValueError: as in `compute`; or there are several cutoffs, or a query is unknown.

    >>> found = documents(predictions={"q": {"a": 2, "b": 1}}, references={"q": {"b": 3, "c": 1}}, k=1)
    >>> for row in found.select(["document", "relevance", "rank", "discount"]).to_pylist():
    ...     print(*row.values())
    a None 1 1.0
    b 3.0 2 0.0
    c 1.0 None 0.0
    """
    parsed = Options.of_method(documents, k, options)
    if len(parsed.cutoffs) > 1:
        raise ValueError(f"k must be one cutoff, since a document has one discount; got {shown(parsed.cutoffs)}")
    wanted = None if queries is None else dict.fromkeys(queries)
    inputs = from_frame(data, Inputs(predictions, references, query_ids, document_ids, exclude, fields=fields))
    found: dict[Any, pa.Table] = {}
    with closing(counted_parts(inputs, parsed)) as parts:
        for part, before in parts:
            names = [before + at for at in range(part.queries)] if part.query_ids is None else part.names()
            with user_terms(part, before):
                check_queries(**part.arrays(), **{name: parsed.scoring[name] for name in OF_GAINS})
            found |= {
                query: _documents_of(part, at, query, parsed)
                for at, query in enumerate(names)
                if wanted is None or query in wanted
            }
    if unknown := [query for query in wanted or () if query not in found]:
        raise ValueError(f"queries: {shown(unknown[0])} is not a query of the references ({len(unknown)} such queries)")
    return pa.concat_tables([found[query] for query in wanted or found], promote_options="permissive")


def _documents_of(part: Rankings, at: int, query: Any, options: Options) -> pa.Table:
    """Return the rows of a query, by its index in rankings."""
    start, stop = part.offsets[at : at + 2].tolist()
    rows = slice(start, stop)
    score = part.score[rows]
    retrieved = score > -np.inf if part.retrieved is None else part.retrieved[rows] & (score > -np.inf)
    judged = np.ones(stop - start, bool) if part.judged is None else part.judged[rows]
    gain = _scores_documents_gains(part, rows, judged, options)
    order = _scores_documents_ranked(score, gain, np.flatnonzero(retrieved), options.scoring["ties"])
    first, last = np.arange(len(order)), np.arange(1, len(order) + 1)  # each document's rank from 0, and the next rank
    if options.ties == "average":
        new = np.ones(len(order), bool)
        new[1:] = score[order][1:] != score[order][:-1]
        group, begins = np.cumsum(new) - 1, np.flatnonzero(new)
        first, last = begins[group], np.append(begins[1:], len(order))[group]
    (k,) = options.cutoffs
    counted = len(order) if k is None else min(k, len(order))
    sums = np.append(0, np.cumsum(discounts(counted, options.log_base, options.discount)))
    discount = (sums[np.minimum(last, counted)] - sums[np.minimum(first, counted)]) / (last - first)
    missed = np.flatnonzero(judged & ~retrieved)
    missed = missed[np.argsort(-gain[missed], kind="stable")]
    listed = np.concatenate([order, missed])
    ids = list(range(stop - start)) if part.documents is None else part.documents(at)
    nothing = [None] * len(missed)
    return pa.table(
        {
            "query": [query] * len(listed),
            "document": [ids[each] for each in listed.tolist()],
            "relevance": pa.array(part.relevance[rows][listed].astype(float), mask=~judged[listed]),
            "rank": pa.array([*(first + 1).tolist(), *nothing], pa.int64()),
            "last_rank": pa.array([*last.tolist(), *nothing], pa.int64()),
            "gain": gain[listed],
            "discount": np.append(discount, np.zeros(len(missed))),
        }
    )


def _scores_documents_gains(part: Rankings, rows: slice, judged: Mask, options: Options) -> Floats:
    """Return the gain of each document, as the CG of a query with this document alone."""
    count = rows.stop - rows.start
    alone = part.relevance[rows], np.zeros(count), np.arange(count + 1)
    how = {name: options.scoring[name] for name in OF_GAINS}
    found = measure_queries(*alone, judged=judged, measures=("CG",), **how)
    return np.asarray(found["CG"][0])


def _scores_documents_ranked(score: NDArray[Any], gain: Floats, retrieved: NDArray[np.intp], ties: str) -> NDArray[np.intp]:
    """Return the positions of retrieved documents, best first."""
    last_first = {"best": gain, "worst": -gain, "last": np.arange(len(score))}.get(ties, -np.arange(len(score)))
    return retrieved[np.lexsort((last_first[retrieved], score[retrieved]))[::-1]]


# ndcg/statistics/welch.py: The difference of the means of two independent samples of queries, by Welch's t (1947).

def welch(
    samples: Sequence[Floats],
    intervals: Sequence[tuple[float, float]],
    *,
    confidence: float = 0.95,
    alternative: str = "two-sided",
    margin: float = 0.0,
) -> dict[str, Any]:
    """Return the interval of the difference of two means and Welch's test of it, under the names of a `Pair`.

    The result equals that of `scipy.stats.ttest_ind` with ``equal_var=False``, unless neither sample has any variance.
    Then p is that of the permutation test, and the interval follows from those of the means (Newcombe, Statistics in
    Medicine 1998). Each sample has at least two values.
    """
    student, two_sided = scipy_special(), alternative == "two-sided"
    size = np.ldexp(1.0, np.frexp(max(np.abs(each).max() for each in samples))[1] - 1)  # no square overflows
    means = [float((each / size).mean()) for each in samples]
    variances = [float((each / size).var(ddof=1)) / len(each) for each in samples]
    difference, error = means[0] - means[1], math.sqrt(sum(variances))
    beyond = difference - {"two-sided": 0.0, "greater": -margin, "less": margin}[alternative] / size
    if error <= ROUNDING * max(map(abs, means)):
        (low, high), (low_other, high_other) = ([end / size for end in ends] for ends in intervals)
        below = math.hypot(means[0] - low, high_other - means[1])
        above = math.hypot(high - means[0], means[1] - low_other)
        freedom, detected = min(map(len, samples)) - 1.0, math.nan
        is_beyond = {"two-sided": beyond != 0, "greater": beyond > 0, "less": beyond < 0}[alternative]
        p = min(1.0, (1 + two_sided) / math.comb(sum(map(len, samples)), len(samples[0]))) if is_beyond else 1.0
    else:
        squares = (each**2 / (len(sample) - 1) for each, sample in zip(variances, samples, strict=True))
        freedom = error**4 / sum(squares)
        below = above = float(student.stdtrit(freedom, (1 + confidence) / 2)) * error
        t = beyond / error
        tail = {"two-sided": -abs(t), "greater": -t, "less": t}[alternative]
        p = (1 + two_sided) * float(student.stdtr(freedom, tail))
        detected = detectable_t(freedom + 1, two_sided) * error
    figures = {"difference": difference, "low": difference - below, "high": difference + above, "standard_error": error}
    scaled = {name: float(value * size) for name, value in {**figures, "min_detectable": detected}.items()}
    return {**scaled, "degrees_of_freedom": freedom, "p": p}


# ndcg/statistics/contest.py: Compute the scores and pairs of several systems, for all queries and for slices.

ScoresAndPairs = tuple[dict[str, dict[str, Score]], list[Pair]]  # scores by system and name, and pairs


class ComparedSlice(NamedTuple):
    """How systems differ on the queries with the same value of `by`.

    Attributes:
        queries: the number of these queries.
        scores: the scores by system, then by name.
        pairs: the pairs, by measure; Holm's correction covers the p-values of all slices.
    """

    queries: int
    scores: dict[str, dict[str, Score]]
    pairs: tuple[Pair, ...]


class Contest(NamedTuple):
    """The settings of a comparison: options, baseline, intervals and tests."""

    options: Options
    baseline: str | None
    resampling: Resampling
    testing: Testing

    def results(self, columns: Mapping[str, PerQuery]) -> ScoresAndPairs:
        """Return the scores and pairs of systems, from the figures of their queries, before Holm's correction."""
        compared = self._compared if self.testing.paired else self._compared_samples
        by_name = {name: compared(name, columns) for name in self.options.names}
        scores = {system: {name: of_name[system] for name, (of_name, _) in by_name.items()} for system in columns}
        return scores, [pair for _, pairs in by_name.values() for pair in pairs]

    def _compared(self, name: str, columns: Mapping[str, PerQuery]) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result."""
        systems, of_systems = list(columns), np.array([each[name] for each in columns.values()])
        rows = [(systems.index(one), systems.index(other)) for one, other in self._opponents(systems)]
        values, greatest = of_systems[:, 0], greatest_value(name)
        sample = Sample.of(values, columns[systems[0]].get("weight"), rows)
        ends = intervals(sample, greatest=greatest, confidence=self.resampling.confidence)
        scores = make_scores(name, of_systems, ends)
        how: dict[str, Any] = {"alternative": self.testing.alternative, "margin": self.testing.margin}
        tests, powers = paired_tests(sample, **how, seed=self.resampling.seed), power(sample, **how)
        least, queries, pairs = np.fmin.reduce(values, axis=1).tolist(), len(sample.weight), []
        arrays = (*(each[len(systems) :] for each in ends), *tests, *powers)
        of_pairs = zip(rows, sample.by_query, *(each.tolist() for each in arrays), strict=True)
        for (one, other), by_query, low, high, error, p, p_t, exact, permutations, detectable, needed in of_pairs:
            difference = float(differences(scores[one].value, scores[other].value))
            bound = math.inf if min(least[one], least[other]) < 0 else greatest  # as of negative relevances
            wins, losses = (int(np.count_nonzero(each)) for each in (by_query > 0, by_query < 0))
            pair = Pair(
                measure=name,
                system=systems[one],
                other=systems[other],
                difference=difference,
                low=min(difference, low),
                high=max(difference, high),
                low_holm=-bound,
                high_holm=bound,
                standard_error=error,
                degrees_of_freedom=queries - 1,
                p=p,
                p_holm=p,
                p_t=p_t,
                p_t_holm=p_t,
                wins=wins,
                ties=queries - wins - losses,
                losses=losses,
                exact=exact,
                permutations=permutations,
                min_detectable=detectable if detectable <= self.testing.margin + bound else None,
                queries_needed=None if math.isnan(needed) else int(needed),
            )
            pairs.append(pair)
        return dict(zip(systems, scores, strict=True)), pairs

    def _compared_samples(self, name: str, columns: Mapping[str, PerQuery]) -> tuple[dict[str, Score], list[Pair]]:
        """Return the scores and pairs of one result of systems with different queries."""
        confidence, testing = self.resampling.confidence, self.testing
        scores = {system: score_result(each, name, confidence) for system, each in columns.items()}
        samples = {system: each[name][0][~np.isnan(each[name][0])] for system, each in columns.items()}
        pairs = []
        for systems in self._opponents(columns):
            of_both = [samples[system] for system in systems]
            for system, sample in zip(systems, of_both, strict=True):
                if len(sample) < 2:
                    raise ValueError(f"{system}: a comparison needs at least two queries that have a value; got 1")
            ends = [(scores[system].low, scores[system].high) for system in systems]
            bound = math.inf if min(each.min() for each in of_both) < 0 else greatest_value(name)
            found = welch(of_both, ends, confidence=confidence, alternative=testing.alternative, margin=testing.margin)
            figures = {
                **found,
                "low": max(found["low"], -bound),
                "high": min(found["high"], bound),
                "low_holm": -bound,
                "high_holm": bound,
                **dict.fromkeys(("p_holm", "p_t", "p_t_holm"), found["p"]),
                **dict.fromkeys(("wins", "ties", "losses", "queries_needed"), None),
                "exact": False,
                "permutations": 0,
            }
            if not found["min_detectable"] <= testing.margin + bound:
                figures["min_detectable"] = None
            pairs.append(Pair(name, *systems, **figures))
        return scores, pairs

    def _opponents(self, systems: Iterable[str]) -> list[tuple[str, str]]:
        """Return each pair of systems, or each system with the baseline."""
        if self.baseline is None:
            return list(combinations(systems, 2))
        return [(system, self.baseline) for system in systems if system != self.baseline]


def results_of(columns: Mapping[str, PerQuery], slices: Slices | None, contest: Contest) -> dict[str, Any]:
    """Return the scores, the pairs and the slices of a comparison, and its options of intervals and tests."""
    figures = {system: query_figures(each, contest.options.names) for system, each in columns.items()}
    scores, pairs = contest.results(figures)
    pairs = contest.testing.corrected(pairs, contest.resampling.confidence)
    return {
        "scores": scores,
        "pairs": tuple(pairs),
        "resampling": contest.resampling._replace(exact=all(pair.exact for pair in pairs)),
        "slices": {} if slices is None else _compared_slices(contest, slices, figures),
    }


def _compared_slices(contest: Contest, slices: Slices, figures: Mapping[str, PerQuery]) -> dict[Value, ComparedSlice]:
    """Return the comparison of each slice in which every system has at least two values of each measure.

    The p-values and intervals of all slices are corrected together.
    """
    by_slice: dict[Value, tuple[int, ScoresAndPairs]] = {}
    with progress(len(slices.values), "Comparing", " slices") as bar:
        for of_systems in zip(*(in_slices(each, slices) for each in figures.values()), strict=True):
            value, first = of_systems[0]
            if min(np.count_nonzero(first[name][-1]) for name in contest.options.names) > 1:
                own = {system: each for system, (_, each) in zip(figures, of_systems, strict=True)}
                by_slice[value] = len(first["ideal"]), contest.results(own)
            bar.update(1)
    pairs = [pair for _, (_, of_slice) in by_slice.values() for pair in of_slice]
    corrected = iter(contest.testing.corrected(pairs, contest.resampling.confidence))
    return {
        value: ComparedSlice(queries, scores, tuple(islice(corrected, len(of_slice))))
        for value, (queries, (scores, of_slice)) in by_slice.items()
    }


# ndcg/statistics/plots.py: Draw comparisons: the means of systems beside the best or a baseline, slices, and the difference of each query.

EXTREMES = 5  # queries with the greatest gains, and with the greatest losses, that have a labeled row


def pairs_with(reference: str, pairs: Iterable[Pair], measure: str) -> dict[str, Pair]:
    """Return the pairs of one system in a measure, by the name of the other system."""
    of_measure = [pair for pair in pairs if pair.measure == measure and reference in pair[1:3]]
    return {pair.other if pair.system == reference else pair.system: pair for pair in of_measure}


def plot_means(
    axes: Any, scores: Mapping[str, Mapping[str, Score]], pairs: Mapping[str, Pair], measure: str, testing: Testing
) -> None:
    """Draw a row for each system: its mean, on the interval of its difference from the reference.

    `pairs` has, under the name of each other system, its pair with the reference.
    """
    (reference,) = scores.keys() - pairs.keys()
    mean = scores[reference][measure].value
    axes.axvline(mean, color="C0", linewidth=1.5)
    draw_mark(axes, Mark(mean, mean, mean), list(scores).index(reference), "C0")
    figures = {reference: number_text(mean)}
    for at, system in enumerate(scores):
        if system == reference:
            continue
        value, pair = scores[system][measure].value, pairs[system]
        seen, tested = (pair, testing.tested) if pair.system == system else (pair.turned(), -testing.tested)
        draw_mark(axes, Mark(value, mean + seen.low_holm, mean + seen.high_holm, _is_significant(pair)), at, "C1")
        p = p_text(pair.p_holm)
        p = f"< {p[1:]}" if p.startswith("<") else f"= {p}"
        figures[system] = f"{number_text(value)}  {number_text(seen.difference, sign='+')}  p {p}"
        if testing.margin:
            axes.plot([mean + tested] * 2, [at - 0.5, at + 0.5], color="gray", linestyle="dashed", linewidth=1)
    name_rows(axes, list(scores))
    beside = axes.secondary_yaxis("right")
    beside.set_yticks(range(len(scores)), [figures[system] for system in scores])
    beside.tick_params(length=0)
    axes.margins(x=0.08)
    axes.grid(axis="x", alpha=0.3)
    lines = [
        measure,
        f"lines: intervals of the difference from {reference}",
        f"filled: p < {SIGNIFICANT}; p and intervals corrected by Holm",
        *([] if testing.alternative == "two-sided" else [f"p: {testing}?"]),
    ]
    axes.set_xlabel("\n".join(lines), parse_math=False)


def plot_slices(axes: Any, slices: Slices, compared: Mapping[Any, ComparedSlice], reference: str, measure: str) -> None:
    """Draw a row for each slice with the systems' differences from the reference, empty if it has no intervals."""
    rows: list[tuple[str, list[Mark]]] = []
    systems: list[str] = []
    for value, size in list(zip(slices.values, np.bincount(slices.code).tolist(), strict=True))[:SHOWN]:
        pairs = pairs_with(reference, compared[value].pairs, measure) if value in compared else {}
        systems = list(pairs) or systems
        seen = [pair if pair.system == system else pair.turned() for system, pair in pairs.items()]
        name = f"{slice_name(value)} ({count_text(seen[0].queries if seen else size)}{'' if seen else ', no interval'})"
        marks = [Mark(pair.difference, pair.low_holm, pair.high_holm, _is_significant(pair)) for pair in seen]
        rows.append((name, marks))
    draw_rows(axes, rows, systems)
    axes.axvline(0, color="gray", linewidth=1)
    axes.grid(axis="x", alpha=0.3)
    lines = [f"difference in {measure} from {reference}", "by slices (and their queries)", "corrected over all slices"]
    axes.set_xlabel("\n".join(lines), parse_math=False)
    legend_above(axes)


def plot_queries(axes: Any, ids: Sequence[Any], difference: Floats, label: str) -> None:
    """Draw the difference of each query, the greatest on top; the most extreme ones have labeled rows."""
    order = np.argsort(-difference, kind="stable")[: np.count_nonzero(~np.isnan(difference))]
    difference, names = difference[order], [str(ids[at]) for at in order.tolist()]
    middle = slice(EXTREMES, -EXTREMES) if len(names) > 3 * EXTREMES else slice(0, 0)
    height = np.arange(len(names), dtype=float)
    between = len(names[middle])
    if between:  # they share as many rows as the queries at one end
        height[middle] = EXTREMES * (1 + (np.arange(between) + 0.5) / between) - 0.5
        height[-EXTREMES:] = np.arange(2 * EXTREMES, 3 * EXTREMES)
    named = np.delete(np.arange(len(names)), middle)
    axes.barh(height[named], difference[named], color=np.where(difference[named] > 0, "C0", "C1"), height=0.7)
    for color, side in (("C0", np.maximum), ("C1", np.minimum)) if between else ():
        axes.fill_betweenx(height[middle], 0, side(difference[middle], 0), step="mid", color=color, linewidth=0)
    rows = {height[at]: names[at] for at in named.tolist()}
    if between:
        rows[1.5 * EXTREMES - 0.5] = f"{between:,} more"
    name_rows(axes, list(rows.values()), list(rows))
    axes.axvline(0, color="gray", linewidth=1)
    higher, lower = np.count_nonzero(difference > 0), np.count_nonzero(difference < 0)
    axes.set_xlabel(label, parse_math=False)
    axes.set_title(f"higher on {higher:,}, equal on {len(names) - higher - lower:,}, lower on {lower:,}", size="medium")


def _is_significant(pair: Pair) -> bool:
    return pair.p_holm < SIGNIFICANT


# ndcg/statistics/comparison.py: The comparison of several systems on the same queries, with intervals and tests.

SHARED = ("query", "slice", "weight")  # columns of queries that all systems share
PLACES = 16  # the most decimal places, since float64 holds no more digits
ONE_SIDED = (
    "Tests are one-sided and intervals two-sided: the interval that agrees with a test at the 5% level is the 90% "
    "interval."
)
WELCH = "Wilson-type t for means, Welch's t for differences"
INDEPENDENT = (
    "The queries of the systems count as independent samples: the difficulty of the queries does not "
    "cancel out, so it takes more queries to find a difference than with the same queries."
)


@dataclass(frozen=True)
class Comparison(Readable):
    """A comparison of several systems, on the same queries or on different ones.

    Attributes:
        signature: every option that the scores depend on.
        scores: the scores by system, then by name.
        pairs: the pairs of systems with their differences, by measure.
        baseline: the system that all others are compared with, or None for every pair.
        queries: a table with a row per system and query: ``system``, ``query``, its ``slice`` and ``weight`` if there
            are any, and the query's value of each measure.
        resampling: the confidence of the intervals, and the options of the test.
        testing: the hypotheses of the tests.
        notes: sentences with further facts for the reader.
        slices: the comparison of each slice with at least two queries, by its value of `by`, ascending; queries
            without a value, None, come last.
    """

    signature: str
    scores: dict[str, dict[str, Score]]
    pairs: tuple[Pair, ...]
    baseline: str | None
    queries: pa.Table
    resampling: Resampling
    testing: Testing
    notes: tuple[str, ...] = ()
    slices: dict[Value, ComparedSlice] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """The number of queries of each system, including those without a value."""
        return {each["values"]: each["counts"] for each in pc.value_counts(self.queries["system"]).to_pylist()}

    @property
    def measures(self) -> list[str]:
        """The names of the results, such as ``"nDCG@10"``."""
        return list(next(iter(self.scores.values())))

    def _require_pairs(self, what: str) -> None:
        """Raise an error if the systems have different queries, which cannot be compared one by one."""
        if not self.testing.paired:
            raise ValueError(f"{what}: the systems have different queries, which cannot be compared one by one")

    def _of(self, system: str) -> pa.Table:
        """Return the rows of a system in the table of queries."""
        return self.queries.filter(pc.equal(self.queries["system"], system))

    def differences(
        self,
        system: str,
        other: str,
        measure: str | None = None,
        n: int | None = 10,
        only: Literal["losses", "gains"] | None = None,
    ) -> pa.Table:
        """Return the queries on which two systems differ most: ``query``, both values and the ``difference``.

        The greatest difference comes first. Queries on which both have the same value are omitted.

        Args:
            system: the first system.
            other: the system it is compared with.
            measure: the name of a result; by default the first.
            n: the number of queries; None for all that differ.
            only: "losses", the queries on which the first system scores lower, or "gains", on which it scores higher.

        Raises:
            ValueError: a system or measure is unknown, `n` is negative, `only` has another value, or the systems have
                different queries.
        """
        self._require_pairs("differences")
        measure = self.measures[0] if measure is None else measure
        n = None if n is None else whole("n", n, 0)
        if only is not None:
            choice("only", only, ("losses", "gains"))
        for name, known in ((system, list(self.scores)), (other, list(self.scores)), (measure, self.measures)):
            if name not in known:
                raise ValueError(f"{shown(name)} is not in this comparison, which has {', '.join(map(repr, known))}")
        one, another = (self._of(each) for each in (system, other))
        values = [each[measure].to_numpy() for each in (one, another)]
        difference = differences(*values)
        size = {"losses": -difference, "gains": difference, None: np.abs(difference)}[only]
        order = np.argsort(-size, kind="stable")
        order = order[size[order] > 0][:n]
        columns = [one["query"].take(pa.array(order)), *(each[order] for each in (*values, difference))]
        return pa.table(columns, ["query", system, other, "difference"])

    def _letters(self) -> dict[str, str]:
        return {system: letter_text(at) for at, system in enumerate(self.scores)}

    def _better_than(self, system: str, measure: str) -> str:
        """Return the letters of the systems that this one is significantly better than, or not worse than."""
        letters = self._letters()
        beaten = []
        for pair in self.pairs:
            if pair.measure == measure and pair.p_holm < SIGNIFICANT:
                ahead, behind = self.testing.marks(pair.system, pair.other, pair.difference)
                if ahead == system:
                    beaten.append(letters[behind])
        return " ".join(sorted(beaten, key=lambda letter: (len(letter), letter)))

    def _tables(self) -> list[Table]:
        level = self.resampling.level
        tests, samples = ["difference", level, "p", "p (Holm)"], ["minimum detectable difference"]
        if self.testing.paired:
            tests += ["p (t-test)", "p (t-test, Holm)", "won–tied–lost"]
            samples.append("queries needed for the observed difference")
        return [
            self._system_table(level),
            _pair_table("pair", self.pairs, tests, level),
            _pair_table("pair, at 80% power", self.pairs, samples, level),
            *([self._slice_table(level)] if self.slices else []),
            *query_tables(self, 3),
        ]

    def _system_table(self, level: str) -> Table:
        header, *rows = mean_cells([(scores, self.counts[name]) for name, scores in self.scores.items()], level)
        table = [["system", *(text for cells in header for text in (*cells, self.testing.relation))]]
        for (system, letter), row in zip(self._letters().items(), rows, strict=True):
            marked = zip(row, self.measures, strict=True)
            marks = [text for cells, name in marked for text in (*cells, self._better_than(system, name))]
            table.append([f"{letter}  {system}", *marks])
        return table

    def _slice_table(self, level: str) -> Table:
        columns = ["difference", level, "p", "p (Holm)"]
        table = [["slice", "queries", "pair", "measure", *columns]]
        for value, each in islice(self.slices.items(), SHOWN):
            _, *rows = _pair_table("pair", each.pairs, columns, level)
            counts = [counted_text(pair.queries, each.queries) for pair in each.pairs]
            table += [[slice_name(value), count, *row] for count, row in zip(counts, rows, strict=True)]
        return table

    def _exactness(self) -> str:
        """Return the number of pairs with an exact p, and the precision of p for the others."""
        pairs = [*self.pairs, *(pair for each in self.slices.values() for pair in each.pairs)]
        sampled = [pair for pair in pairs if not pair.exact]
        if not sampled:
            return "all permutations: exact"
        error = max(each.p_error for each in sampled)
        text = f"{sampled[0].permutations:,} permutations: standard error of p at most {error:.1g}"
        exact = len(pairs) - len(sampled)
        return f"exact for {exact:,} of {len(pairs):,}; for the others {text}" if exact else text

    def _remarks(self) -> list[str]:
        over = {"measure": "the pairs of a measure", "all": "all pairs of all measures"}[self.testing.corrected_over]
        if self.testing.paired:
            test = f"the paired randomization test ({self._exactness()}); p (t-test): from the paired t-test. Both are"
        else:
            test = "Welch's t-test, which is"
        intervals = str(self.resampling) if self.testing.paired else f"{self.resampling.level}s: {WELCH}"
        return [
            f"{intervals}. p: {self.testing}? From {test} also corrected by Holm for {over}; intervals are not. "
            f"One system is {self.testing.relation} another if p (Holm) < {SIGNIFICANT}.",
            *([] if self.testing.paired else [INDEPENDENT]),
            *([] if self.testing.alternative == "two-sided" else [ONE_SIDED]),
            *first_slices(self.slices),
            *self.notes,
        ]

    def to_latex(self, places: int = 4) -> str:
        """Return the scores of the systems as a LaTeX table, after comments with the remarks and the signature.

        A superscript names the systems that one is significantly better than (with a margin, not
        worse than), with a corrected p below 0.05; the highest score of each measure is bold. The caption says so.

        Args:
            places: the number of decimal places.

        Raises:
            ValueError: `places` is not an integer from 0 to 16.
        """
        places = whole("places", places, 0, PLACES)
        best = {name: max(scores[name].value for scores in self.scores.values()) for name in self.measures}
        rows = [["", "System", *map(latex_text, self.measures)]]
        for system, letter in self._letters().items():
            cells = [f"$^{{{letter}}}$", latex_text(system)]
            for name in self.measures:
                value = self.scores[system][name].value
                text = number_text(value, places)
                text = f"\\textbf{{{text}}}" if value == best[name] else text
                beaten = self._better_than(system, name).replace(" ", "")
                cells.append(text + (f"$^{{{beaten}}}$" if beaten else ""))
            rows.append(cells)
        comments = [f"% {remark}" for remark in (*self.remarks(), visible(self.signature))]
        table = tabular("ll" + "c" * len(self.measures), rows)
        return "\n".join([*comments, "\\begin{table}", "\\centering", self._caption(), *table, "\\end{table}"])

    def _caption(self) -> str:
        """Return the caption of the LaTeX table: what it shows, and what its marks mean."""
        family = len(self.testing.families(self.pairs)[0])
        of_what = {"measure": "of a measure", "all": "of all measures"}[self.testing.corrected_over]
        corrected = f", corrected by Holm for {family:,} pairs {of_what}" if family > 1 else ""
        queries = sorted(set(self.counts.values()))
        counts = " to ".join(map(count_text, dict.fromkeys((queries[0], queries[-1]))))
        what = f"{latex_text(', '.join(self.measures))} of {counts} queries. Bold: the highest."
        marks = f"Superscripts: the systems that one is {self.testing.relation}, by letter"
        return f"\\caption{{{what} {marks} ({self.testing.test}, $p < {SIGNIFICANT}${corrected}).}}"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dict of JSON types."""
        return {
            "signature": self.signature,
            "scores": without_nan(self.scores),
            "pairs": without_nan(self.pairs),
            "baseline": self.baseline,
            "queries": self.queries.to_pydict(),
            "resampling": self.resampling._asdict(),
            "notes": list(self.notes),
            "testing": self.testing._asdict(),
            "slices": [{"slice": value, **without_nan(each)} for value, each in self.slices.items()],
        }

    @classmethod
    @as_saved("Comparison")
    def from_dict(cls, values: Mapping[str, Any]) -> "Comparison":
        """Return the comparison that `to_dict` was called on, from the values of the queries.

        Means, pairs and slices are computed again. The signature, the notes, and the figures of a score that depend on
        documents are read.

        Raises:
            ValueError: an entry is missing, or has another type or range; names the entry.
        """
        signature, options = saved_signature(values["signature"])
        resampling, testing = saved_resampling(values["resampling"]), Testing.parse(*Testing(**values["testing"]))
        queries = table_from_lists(values["queries"])
        tables = {
            name: queries.filter(pc.equal(queries["system"], name)) for name in queries["system"].unique().to_pylist()
        }
        first = tables[system_names(tables, values["baseline"])[0]]
        shared = [name for name in SHARED if name in first.column_names]
        if testing.paired and any(each.select(shared) != first.select(shared) for each in tables.values()):
            raise ValueError("queries: must be the same for each system")
        columns = {system: saved_columns(table, options.names, signature) for system, table in tables.items()}
        slices = slices_of(first["slice"], None, len(first)) if "slice" in shared else None
        results = results_of(columns, slices, Contest(options, values["baseline"], resampling, testing))
        of_slices = {each["slice"]: each["scores"] for each in values["slices"]}
        return cls(
            signature=signature,
            baseline=values["baseline"],
            queries=queries,
            notes=saved_notes(values["notes"]),
            testing=testing,
            pairs=results["pairs"],
            resampling=results["resampling"],
            scores=with_figures_of_documents(results["scores"], values["scores"]),
            slices={
                value: each._replace(scores=with_figures_of_documents(each.scores, of_slices[value]))
                for value, each in results["slices"].items()
            },
        )

    def plot(
        self,
        measure: str | None = None,
        *,
        queries: bool = False,
        ax: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Return a Matplotlib figure of the systems' means, with intervals of their differences from the baseline.

        Without a baseline, the differences are from the system with the highest mean. There is a panel for each cutoff,
        and a last one for the slices, at the first cutoff. The intervals agree with `p_holm`.

        Args:
            measure: a measure, such as ``"nDCG"``, at all its cutoffs, or a result, such as ``"nDCG@10"``; by default
                the first measure.
            queries: instead, show how much each system differs on each query, in a panel per system, at the first
                cutoff.
            ax: Matplotlib Axes to draw into, or a list of these for several panels. By default a new figure has all
                panels.
            figsize: width and height of a new figure in inches.

        Raises:
            ValueError: the measure is unknown; `ax` or `figsize` has another type.
        """
        wanted = measure_of(self.measures[0]) if measure is None else measure
        names = [name for name in self.measures if wanted in (name, measure_of(name))]
        if not names:
            raise ValueError(f"{shown(measure)} is not in this comparison, which has {', '.join(self.measures)}")
        panels = self._query_panels(names[0]) if queries else self._mean_panels(names)
        rows = 15 if queries else max(len(self.scores), min(len(self.slices), SHOWN) * len(self.scores) / 3)
        width = 5 if queries else 4.8 + max(map(len, self.scores)) / 13
        figure, axes = figure_of(len(panels), 1.8 + 0.3 * rows, width, ax=ax, figsize=figsize)
        for draw, each in zip(panels, axes, strict=False):  # with fewer axes, only the first panels are drawn
            draw(each)
        return figure

    def _mean_panels(self, names: Sequence[str]) -> list[Callable[[Any], None]]:
        """Return the functions that draw the means of each result, with systems sorted by the first, and the slices."""
        ordered = sorted(self.scores.items(), key=lambda each: -each[1][names[0]].value)
        panels: list[Callable[[Any], None]] = []
        for name in names:
            pairs = pairs_with(self._reference(name), self.pairs, name)
            panels.append(partial(plot_means, scores=dict(ordered), pairs=pairs, measure=name, testing=self.testing))
        if self.slices:
            first, reference = self._of(next(iter(self.scores))), self._reference(names[0])
            slices = slices_of(first["slice"], None, len(first))
            panels.append(lambda axes: plot_slices(axes, slices, self.slices, reference, names[0]))
        return panels

    def _query_panels(self, name: str) -> list[Callable[[Any], None]]:
        """Return the functions that draw how much each other system differs from the reference, query by query."""
        self._require_pairs("queries=True")
        reference = self._reference(name)
        base = self._of(reference)
        ids, values = base["query"].to_pylist(), base[name].to_numpy()
        panels: list[Callable[[Any], None]] = []
        for system in (each for each in self.scores if each != reference):
            difference = differences(self._of(system)[name].to_numpy(), values)
            what = f"{name} of {system}\nminus that of {reference}"
            panels.append(partial(plot_queries, ids=ids, difference=difference, label=what))
        return panels

    def _reference(self, name: str) -> str:
        """Return the system from which plots show differences: the baseline, else the best system."""
        return self.baseline or max(self.scores, key=lambda system: self.scores[system][name].value)


def query_rows(
    comparison: Comparison, pair: Pair, n: int | None, only: Literal["losses", "gains"]
) -> list[tuple[Any, float, float, float]]:
    """Return the queries on which the first system of a pair loses or gains most: query, both values, difference."""
    table = comparison.differences(pair.system, pair.other, pair.measure, n, only)
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def query_tables(comparison: Comparison, n: int | None, places: int = 4) -> list[Table]:
    """Return the tables of queries that lost most, and that gained most, in the first measure, if there are any."""
    sides: dict[str, Literal["losses", "gains"]] = {"lost": "losses", "gained": "gains"}
    if n == 0 or not comparison.testing.paired:
        return []
    tables = []
    for did, only in sides.items():
        table = [[f"queries that {did} most in {comparison.measures[0]}", "pair", "first", "second", "difference"]]
        for pair in (pair for pair in comparison.pairs if pair.measure == comparison.measures[0]):
            for query, *values, difference in query_rows(comparison, pair, n, only):
                cells = (number_text(each, places) for each in values)
                table.append([str(query), pair.title, *cells, number_text(difference, places, "+")])
        tables.append(table)
    return [table for table in tables if len(table) > 1]


def _pair_table(name: str, pairs: Iterable[Pair], columns: Sequence[str], level: str) -> Table:
    """Return a table of pairs with some of their columns, and a name for the first column."""
    cells = ((pair, pair.cells(level)) for pair in pairs)
    rows = [[pair.title, pair.measure, *(of_pair[column] for column in columns)] for pair, of_pair in cells]
    return [[name, "measure", *columns], *rows]


# ndcg/statistics/comparing.py: Compare systems by their rankings: what each input is, and which queries count.

def compare(
    *,
    systems: Mapping[str, Any],
    references: Any,
    k: Cutoffs = None,
    baseline: str | None = None,
    sample_weight: Any = None,
    query_ids: Any = None,
    document_ids: Any = None,
    data: Any = None,
    exclude: Any = None,
    by: Any = None,
    fields: Any = None,
    confidence: float = 0.95,
    seed: int = 0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    margin: float = 0.0,
    corrected_over: Literal["measure", "all"] = "measure",
    **options: Unpack[QueryOptions],
) -> Comparison:
    """Compare several systems on the same queries, with intervals and tests.

    Each pair of systems, or each system and the baseline, is compared query by query: the
    difference with its interval, a paired randomization test and a paired t-test, both also with
    Holm's correction.

    Args:
        systems: the predictions of each system by its name, in any format that `compute` accepts.
        references: the relevances, the same for all systems.
        k: the cutoff or cutoffs.
        baseline: the system to compare all others with; None for every pair.
        sample_weight: one weight per query for the means, in the order of the references or as `{query: weight}`.
        query_ids: the query id of each row, for flat predictions and references.
        document_ids: the document id of each row, with `query_ids`.
        data: a DataFrame; then the arguments above, and each system's predictions, may be names of its columns.
        exclude: documents to remove from rankings and ideals, as in `compute`.
        by: a value per query, as in `report`; the queries with the same value are compared as a slice, with
            p-values corrected for all slices.
        fields: the names of fields and columns, as in `compute`.
        confidence: the confidence level of the intervals, between 0 and 1.
        seed: the random seed; the same seed gives the same comparison.
        alternative: the hypothesis of the tests: the systems differ ("two-sided"), the first is better
            ("greater"), or it is worse ("less").
        margin: with "greater", test whether the first is worse by less than this (non-inferiority); with "less",
            whether it is better by less than this; in units of the measure.
        corrected_over: correct p-values for all pairs of a "measure" at one cutoff, or for "all".
        **options: the options of `compute`, except `use_aggregator` and `engine`. By default a judged query that is
            missing from one system but not from another is an error; `missing="skip"` skips it for all systems.
            `score_order` may be of single systems, as in `{"l2": "ascending"}`.

    Raises:
        ValueError: as in `compute`, with the system's name; or there are fewer than two systems or
            queries; systems have rankings of different queries; the baseline is unknown.
        ImportError: SciPy is missing.

    >>> comparison = compare(
    ...     systems={"a": [[3, 2, 1], [1, 2, 3]], "b": [[1, 2, 3], [1, 3, 2]]},
    ...     references=[[2, 1, 0], [0, 0, 1]],
    ... )
    >>> [(pair.system, pair.other, round(pair.difference, 4), pair.p) for pair in comparison.pairs]
    [('a', 'b', 0.3746, 0.5)]
    """
    resampling = Resampling.parse(confidence, seed)
    testing = Testing.parse(alternative, margin, corrected_over)
    order = options.get("score_order")
    parsed = Options.of_method(compare, k, {**options, "score_order": None} if isinstance(order, Mapping) else options)
    names = system_names(systems, baseline)
    orders = _orders(order, names) if isinstance(order, Mapping) else dict.fromkeys(names, parsed.score_order)
    runs = {_argument(name): systems[name] for name in names}
    shared = Inputs(None, references, query_ids, document_ids, exclude, sample_weight, by, fields)._asdict()
    arguments = columns_of(data, {**runs, **shared})
    runs = {name: arguments.pop(_argument(name)) for name in names}
    inputs = Inputs(**arguments)
    same_queries = options.get("missing") is None and parsed.missing == "empty"
    by_system = {name: replace(parsed, score_order=each) for name, each in orders.items()}
    columns, unmatched = _columns_of_systems(runs, inputs, by_system, same_queries)
    if unmatched:
        warn(f"{', '.join(map(_marked_argument, unmatched))}: {next(iter(unmatched.values()))}")
    said = orders.values() if len(set(orders.values())) > 1 else [orders[names[0]]]  # one, or one for each system
    parsed = replace(parsed, score_order=",".join(said))
    signature = parsed.signature(weighted=inputs.sample_weight is not None, excluding=exclude is not None)
    slices = None
    if inputs.by is not None:
        first = next(iter(columns.values()))
        slices = slices_of(inputs.by, first.get("query"), len(first["ideal"]))
    comparison = comparison_of(columns, slices, Contest(parsed, baseline, resampling, testing), signature)
    of_systems = {
        name: notes_of(each, parsed, comparison.scores[name], unmatched.get(name)) for name, each in columns.items()
    }
    return replace(comparison, notes=(*comparison.notes, *shared_notes(of_systems)))


def comparison_of(
    columns: Mapping[str, PerQuery], slices: Slices | None, contest: Contest, signature: str, notes: Sequence[str] = ()
) -> Comparison:
    """Return the comparison of systems from the columns of their queries, with notes on the tests before others."""
    results = results_of(columns, slices, contest)
    of_tests = notes_on_tests(results["pairs"], contest.testing, contest.baseline)
    if slices is not None:
        of_slices = notes_on_slices(results["pairs"], contest.testing, results["slices"], slices.values)
        of_tests = [*of_tests, *small_slices(results["slices"]), *of_slices]
        columns = {name: with_slices(each, slices) for name, each in columns.items()}
    tables = {name: query_table(each) for name, each in columns.items()}
    kept = [name for name in (*SHARED, *contest.options.names) if name in next(iter(tables.values())).column_names]
    return Comparison(
        signature=signature,
        baseline=contest.baseline,
        queries=stacked({name: each.select(kept) for name, each in tables.items()}),
        notes=(*of_tests, *notes),
        testing=contest.testing,
        **results,
    )


def _orders(score_order: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """Return the order of each system's scores, from the orders that are given by system."""
    for name in score_order:
        choice(f"a system in {mark('score_order')}", name, names)
    return {name: Options.parse(score_order=score_order.get(name)).score_order for name in names}


def _argument(system: str) -> str:
    """Return a system's predictions as errors name them."""
    return f"systems[{shown(system)}]"


def _marked_argument(system: str) -> str:
    """Return a system's predictions as each entry point names them."""
    return mark("systems", system, said=_argument(system))


def _columns_of_systems(
    runs: Mapping[str, Any], inputs: Inputs, options: Mapping[str, Options], same_queries: bool
) -> tuple[dict[str, PerQuery], dict[str, str]]:
    """Return the columns of queries for each system, and `Rankings.unmatched` of some; each input is read once.

    The options of the systems differ only in the order of scores. With `same_queries`, a judged query that only some
    systems rank is an error.
    """
    shared, *_ = options.values()
    inputs = from_files(inputs, labels=shared.labels)
    refuse_negative(inputs.references, inputs.exclude, shared)
    orders = [options[name].score_order for name in runs]
    read = {
        _argument(name): from_file(_argument(name), side, order, inputs.names, keep=shared.sides["keep"])
        for (name, side), order in zip(runs.items(), orders, strict=True)
    }
    systems = settled_systems(read, inputs, orders, shared.labels, shared.sides["keep"])
    columns: dict[str, PerQuery] = {}
    unmatched: dict[str, str] = {}
    for name, system in zip(runs, systems, strict=True):
        try:
            columns[name] = query_columns(system, options[name], partial(unmatched.__setitem__, name))
        except ValueError as error:
            shared_by_all = ("references", "query_ids", "document_ids", "exclude", "sample_weight", "file")
            if isinstance(error, InputError) and error.argument in shared_by_all:
                raise
            raise within(error, _marked_argument(name)) from None
    if same_queries:
        _refuse_lacking_queries(columns)
    leave_out_alike(columns, shared.names)
    if shared.missing == "skip":  # for all systems
        missing = np.logical_or.reduce([each["missing"] for each in columns.values()])
        columns = {name: {**each, "missing": missing} for name, each in columns.items()}
    return columns, unmatched


def _refuse_lacking_queries(columns: Mapping[str, PerQuery]) -> None:
    """Raise an error for a system without a ranking for a judged query that another system ranks."""
    missing = {name: each["missing"] for name, each in columns.items()}
    ranked = ~np.logical_and.reduce(list(missing.values()))
    for name, each in columns.items():
        if (lacking := np.flatnonzero(missing[name] & ranked)).size:
            at = int(lacking[0])
            query = shown(each["query"][at]) if "query" in each else at
            other = next(other for other, lacks in missing.items() if not lacks[at])
            problem = f"no ranking for query {query}, which {shown(other)} has ({lacking.size} such queries)"
            hint = (
                f"{mark('missing', 'empty')} counts it as having retrieved nothing there, {mark('missing', 'skip')} "
                "skips the query for all systems"
            )
            raise InputError(f"{problem}; {hint}", _marked_argument(name))


# ndcg/statistics/comparing_reports.py: Compare reports: query by query, or of different queries as independent samples.

NAMED_QUERIES = 5  # named in a message
SAID_AS = {"weights": "sample_weight", "excluded": "exclude", "v": "the version"}  # names in signatures


class OtherQueriesError(ValueError):
    """Reports have different queries."""


def compare_reports(
    reports: Mapping[str, Any],
    *,
    baseline: str | None = None,
    paired: bool = True,
    confidence: float = 0.95,
    seed: int = 0,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    margin: float = 0.0,
    corrected_over: Literal["measure", "all"] = "measure",
) -> Comparison:
    """Compare reports as `compare` compares systems, without their rankings.

    Args:
        reports: for each system its report, the result of the report's `to_dict`, or the path of a JSON file with that.
        baseline: the system to compare all others with; None for every pair.
        paired: whether the reports have the same queries. If not, their queries are independent samples, such as the
            sessions before and after a release, and the interval and the test are Welch's. Only large differences can
            be found then, because the difficulty of the queries varies as well.
        confidence: the confidence level of the intervals, between 0 and 1.
        seed: the random seed of the paired test, as in `compare`.
        alternative: the hypothesis of the tests, as in `compare`.
        margin: the margin of the tests, as in `compare`.
        corrected_over: the p-values that are corrected together, as in `compare`.

    Raises:
        ValueError: the reports were made with different options, or, with `paired`, of different queries, weights or
            slices; without it, they have weights; a file is not a saved report; as in `compare`.

    >>> from ndcg import report
    >>> before = report(predictions=[[1, 2], [2, 1], [1, 2]], references=[[1, 0], [1, 0], [0, 1]])
    >>> after = report(predictions=[[2, 1], [2, 1], [2, 1]], references=[[1, 0], [1, 0], [0, 1]])
    >>> (pair,) = compare_reports({"after": after, "before": before}).pairs
    >>> pair.difference, pair.wins, pair.ties, pair.losses
    (0.0, 1, 1, 1)
    """
    resampling = Resampling.parse(confidence, seed)
    testing = Testing.parse(alternative, margin, corrected_over, paired)
    names = system_names(reports, baseline, "reports", "reports")
    read = {name: _report(name, reports[name]) for name in names}
    signature = _same_signature(read)
    if paired:
        try:
            tables = same_queries(read)
        except OtherQueriesError as error:
            hint = f"{mark('paired', False)} compares the means of different queries, as independent samples"
            raise InputError(f"have different queries: {error}; {hint}", "reports") from None
    else:
        tables = {name: report.queries for name, report in read.items()}
        if "weight" in next(iter(tables.values())).column_names:
            problem = f"have weights, which {mark('paired', False)} does not support; score both without weights"
            raise InputError(problem, "reports")
    options = Options.parse(measures=list(read[names[0]].scores))
    columns = {name: _statistics_comparing_reports_columns(table, options, signature) for name, table in tables.items()}
    if paired:
        leave_out_alike(columns, options.names)
    contest = Contest(options, baseline, resampling, testing)
    slices = _same_slices(tables) if paired else None
    return comparison_of(columns, slices, contest, signature=signature, notes=_statistics_comparing_reports_notes(read, tables, paired))


def _report(name: str, report: Any) -> Report:
    """Return a report that was passed as a report, as its dict, or as the path of a JSON file."""
    place, values = f"reports[{shown(name)}]", report
    if isinstance(report, (str, os.PathLike)):
        path = os.fspath(report)
        place = f"{place}: {path}"
        with naming_file(path):
            try:
                values = parse_json(read_content(path))
            except json.JSONDecodeError as error:
                raise ValueError(f"is not a report saved as JSON: {error}") from None
    elif hasattr(report, "to_dict"):  # also a report from another copy of this package
        values = report.to_dict()
    if not isinstance(values, Mapping):
        problem = "must be a report, the result of its to_dict, or the path of a JSON file with that result"
        raise ValueError(f"{place}: {problem}; got {shown(values)}")
    if "signature" not in values and all(isinstance(each, Mapping) for each in values.values()):
        raise ValueError(f"{place}: holds the reports of {some_of(values, 'system')}; give one of them")
    try:
        return Report.from_dict(values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _same_signature(reports: Mapping[str, Report]) -> str:
    """Return the signature of all reports; if they differ, the error names the options."""
    (first, signature), *others = ((name, report.signature) for name, report in reports.items())
    one = choices_in(signature)
    names = {**SAID_AS, **{option.said_as: option_name for option_name, option in OPTIONS.items()}}
    omitted = {option.said_as: str(option.unsaid[0]) for option in OPTIONS.values() if option.unsaid}
    for name, each in others:
        other = choices_in(each)
        if differing := [key for key in {**one, **other} if one.get(key) != other.get(key)]:
            values = ([side.get(key, omitted.get(key, "not given")) for side in (one, other)] for key in differing)
            sides = (f"{names.get(key, key)} ({a} and {b})" for key, (a, b) in zip(differing, values, strict=True))
            problem = f"{shown(first)} and {shown(name)} were made with different options: {', '.join(sides)}"
            raise InputError(f"{problem}; score both with the same options", "reports")
    return signature


def same_queries(reports: Mapping[str, Report]) -> dict[str, pa.Table]:
    """Return the tables of queries of reports, all in the order of the first."""
    (first, report), *others = reports.items()
    ids = report.queries["query"].to_pylist()
    tables = {first: report.queries}
    for name, other in others:
        place = {query: at for at, query in enumerate(other.queries["query"].to_pylist())}
        lacking, extra = [each for each in ids if each not in place], place.keys() - set(ids)
        if lacking or extra:
            only = (some_of(lacking, "query"), some_of(extra, "query"))
            raise OtherQueriesError(f"{only[0]} only in {first}, {only[1]} only in {name}")
        tables[name] = table = other.queries.take([place[each] for each in ids])
        if "weight" in table.column_names and table["weight"] != report.queries["weight"]:
            differs = np.flatnonzero(table["weight"].to_numpy() != report.queries["weight"].to_numpy())
            problem = f"query {shown(ids[int(differs[0])])} has different weights in {shown(first)} and {shown(name)}"
            raise InputError(f"{problem}; score both with the same weights", "reports")
    return tables


def _same_slices(tables: Mapping[str, pa.Table]) -> Slices | None:
    """Return the slices of the queries, if all reports have the same."""
    columns = [table["slice"] if "slice" in table.column_names else None for table in tables.values()]
    if columns[0] is None or any(each is None or each != columns[0] for each in columns):
        return None
    return slices_of(columns[0], None, len(columns[0]))


def _statistics_comparing_reports_columns(table: pa.Table, options: Options, signature: str) -> PerQuery:
    """Return the columns of a report's queries."""
    return {**saved_columns(table, options.names, signature), "query": np.array(table["query"].to_pylist(), object)}


def _statistics_comparing_reports_notes(reports: Mapping[str, Report], tables: Mapping[str, pa.Table], paired: bool) -> list[str]:
    """Return the notes of reports, those that all share without names, and notes on what differs."""
    notes: list[str] = []
    first = next(iter(tables.values()))
    if paired and "judged" in first.column_names:
        for name, table in tables.items():
            alike = [table[each].to_numpy() == first[each].to_numpy() for each in ("judged", "relevant")]
            if differing := int(np.count_nonzero(~np.logical_and(*alike))):
                have = "query has" if differing == 1 else "queries have"
                notes.append(f"{name}: {differing:,} {have} other judgments than in {next(iter(tables))}.")
    if not paired and len({frozenset(table["query"].to_pylist()) for table in tables.values()}) == 1:
        with_pairs = mark("paired", True, said="with paired=True")
        notes.append(Message(f"All reports have the same queries: {with_pairs}, smaller differences can be found."))
    if any("slice" in table.column_names for table in tables.values()) and (not paired or not _same_slices(tables)):
        reason = "the reports have different ones" if paired else "the queries are not paired"
        notes.append(f"Slices are not compared, since {reason}.")
    return [*notes, *shared_notes({name: each.notes for name, each in reports.items()})]


def some_of(names: Collection[Any], noun: str) -> str:
    """Return text with the number of queries or systems, and the first of them.

    >>> some_of(["q2", "q1"], "query"), some_of([], "system")
    ("2 queries ('q1', 'q2')", 'no system')
    """
    if not names:
        return f"no {noun}"
    first = ", ".join(map(shown, sorted(names, key=str)[:NAMED_QUERIES]))
    nouns = noun if len(names) == 1 else {"query": "queries"}.get(noun, f"{noun}s")
    return f"{len(names):,} {nouns} ({first}{', …' * (len(names) > NAMED_QUERIES)})"


# the end, by which a copy is known to be whole
