"""The definition of nDCG in every library, as data.

A convention is a set of values for the options of ``NDCG.compute``, which reproduces one library.
If the library can be installed, a test runs it on the same rankings
(tests/conformance/test_libraries.py). Behavior that no option can express is described in `quirks`.
"""

import math
from typing import Any, NamedTuple

# The options that a convention sets. `log_base` is not one. It scales every DCG, so nDCG, a ratio
# of two, is unchanged. Only with "jarvelin" would it change nDCG, and there the libraries use 2.
CHOICES = (
    "gain",
    "discount",
    "ideal",
    "score_dtype",
    "ties",
    "zero_division",
    "negative_relevance",
    "missing",
)


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
        zero_division: the nDCG of a query with no relevant documents; nan excludes it from the
            mean.
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
        {'gain': 'exponential', 'discount': 'log', 'ideal': 'judged', 'score_dtype': 'given',
         'ties': 'first', 'zero_division': 1.0, 'negative_relevance': 'raise', 'missing': 'empty'}
        """
        return {name: getattr(self, name) for name in CHOICES}


CONVENTIONS: dict[str, Convention] = {
    "sklearn": Convention(
        "scikit-learn `ndcg_score`",
        "Tied documents share their ranks, so the order of the input does not matter. A query with "
        "no relevant documents lowers the mean.",
        quirks="It rejects queries with one document, and `ignore_ties=True` orders ties in no "
        "fixed way. A query with no relevant documents counts as 0 up to version 1.9. A later "
        "version may skip it (`zero_division=nan`).",
    ),
    "trec_eval": Convention(
        "trec_eval `-c` `ndcg`, `ndcg_cut` (ir_measures)",
        "Tied documents are ordered by their ids, the highest first: an arbitrary order, but the "
        "same for everyone.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        quirks="Up to version 9.0.8 scores are stored as 32-bit floats. From version 10.0 on they "
        'are 64-bit floats (`score_dtype="given"`). With `-c`, queries that are missing from the '
        'run count as 0. Without it they are skipped (`missing="skip"`), and version 10.0 fails.',
    ),
    "pytrec_eval": Convention(
        "pytrec_eval `ndcg`, `ndcg_cut`, averaged over the queries that it returns",
        "As in trec_eval, but queries that are missing from the run are skipped, so a run with "
        "only the easy queries has a high score.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="A query without judged documents (`{}`) is not in its result: leave it out of the "
        "references.",
    ),
    "beir": Convention(
        "BEIR `EvaluateRetrieval.evaluate`",
        "pytrec_eval's score, rounded to five digits.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="A document with the same id as the query is dropped from the run, not from the "
        'qrels: use `exclude={query: [query] for query in run}` with `exclude_from="run"`.',
    ),
    "mteb": Convention(
        "MTEB retrieval tasks, `ndcg_at_k`",
        "pytrec_eval's score, rounded to five digits.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="Tasks with `ignore_identical_ids` drop a document with the same id as the query, "
        "as in BEIR.",
    ),
    "gdeval": Convention(
        "gdeval.pl `ndcg@k` of TREC's web tracks",
        "trec_eval's order of ties, with exponential gain. Queries with no relevant documents are "
        "skipped, and so are queries that are missing from the run.",
        gain="exponential",
        ties="docid",
        zero_division=math.nan,
        negative_relevance="clip",
        missing="skip",
        quirks="It prints five digits, and rejects a relevance above 4.",
    ),
    "ranx": Convention(
        "ranx `ndcg`",
        "Tied documents stay in the order of the run, so it depends on the program that wrote the "
        "run.",
        ties="first",
        negative_relevance="clip",
        quirks="A relevance counts as its integer part. Lists of 16 or more documents are sorted "
        "with an unstable algorithm, so their ties are in no fixed order.",
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
        "scikit-learn's definition, with an option for queries with no relevant documents: "
        '`empty_target_action` `"neg"` is `zero_division=0` (the default), `"pos"` is 1, and '
        '`"skip"` is nan.',
        score_dtype="float32",
        negative_relevance="keep",
        quirks="It computes in 32-bit floats. A query with relevance values that add up to 0 "
        "counts as having no relevant documents. If the ideal DCG is negative, it divides by it.",
    ),
    "ignite": Convention(
        "PyTorch-Ignite `NDCG`",
        "Queries with no relevant documents are skipped, so the mean covers fewer queries than the "
        "data.",
        gain="exponential",
        ties="first",
        zero_division=math.nan,
        negative_relevance="clip",
        quirks="A relevance below 1 counts as 0. It computes in 32-bit floats, but compares scores "
        "as given.",
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
        '(`score_dtype="given"`). If the ideal DCG is negative, it divides by it. Fully masked '
        'lists are skipped (`missing="skip"`).',
    ),
    "lightgbm": Convention(
        "LightGBM `ndcg`",
        "A query with no relevant documents counts as perfect, so many such queries raise the "
        "mean.",
        gain="exponential",
        ties="first",
        zero_division=1.0,
        quirks="Labels are the integers 0 to 30; `label_gain=[0, 1, 3]` is `gain=[0, 1, 3]`.",
    ),
    "xgboost": Convention(
        "XGBoost `ndcg`",
        "As in LightGBM, a query with no relevant documents counts as perfect; `ndcg@10-` is "
        "`zero_division=0`.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        zero_division=1.0,
        quirks="`ndcg` without a cutoff may stop at rank 32, the number of pairs that its ranking "
        'objectives sample by default: set `k=32`. `ndcg_exp_gain=False` is `gain="linear"`.',
    ),
    "tf_ranking": Convention(
        "TensorFlow Ranking `NDCGMetric`",
        "The gain is exponential, and tied documents are in random order; the mean over all orders "
        "is its expectation.",
        gain="exponential",
        score_dtype="float32",
        missing="skip",
        quirks="It computes in 32-bit floats. A label below 0 is padding: pass it as "
        '`ignore_index`. Lists that are all padding are skipped (`missing="skip"`).',
    ),
    "allrank": Convention(
        "allRank `ndcg`",
        "A query with no relevant documents counts as perfect, so many such queries raise the "
        "mean.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        zero_division=1.0,
        quirks="A label of -1 is padding: set `ignore_index=-1`. Its models score in 32-bit "
        "floats, in which it computes; a tensor of 64-bit floats is compared as given "
        '(`score_dtype="given"`). Lists of more than 16 documents are sorted with an unstable '
        "algorithm, so their ties are in no fixed order.",
    ),
    "catboost": Convention(
        "CatBoost `NDCG`",
        "The least relevant of several tied documents ranks first, so ties never help. A query "
        "with no relevant documents counts as perfect.",
        ties="worst",
        zero_division=1.0,
        negative_relevance="keep",
        quirks='`type=Exp` is `gain="exponential"`, `denominator=Position` is '
        '`discount="reciprocal"`. Relevance is stored as 32-bit floats.',
    ),
    "sentence_transformers": Convention(
        "sentence-transformers `InformationRetrievalEvaluator`",
        "Relevance is binary, and queries with no relevant documents are skipped.",
        gain="binary",
        ties="first",
        zero_division=math.nan,
        negative_relevance="clip",
        quirks="From version 6 on, tied documents rank by ascending id: list them in that order. "
        "It scores rerankers with scikit-learn.",
    ),
    "spark": Convention(
        "Spark `RankingMetrics.ndcgAt`",
        "Relevance is binary. The input is ranked ids, so their order has already resolved the "
        "ties.",
        gain="binary",
        ties="first",
        negative_relevance="clip",
        quirks="PySpark accepts relevance values as a third column, but they do not change the "
        "score. With relevance values in Scala, the gain is exponential, and the ideal is the "
        "order in which relevant documents are listed.",
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
        "The ideal is no longer than the result list, so a short result list scores higher. An "
        "empty list for a query with no relevant documents is perfect.",
        gain="binary",
        ideal="truncated",
        ties="first",
        zero_division="perfect_if_empty",
        quirks="A duplicate document counts twice, as two documents.",
    ),
    "haystack": Convention(
        "Haystack `DocumentNDCGEvaluator`",
        "The gains are the scores of the expected documents; the retrieved documents set the "
        "order.",
        ties="first",
        negative_relevance="keep",
        quirks="There is no cutoff: all retrieved documents count.",
    ),
    "llama_index": Convention(
        "LlamaIndex `NDCG`",
        "Relevance is binary (expected or not), and all retrieved documents count.",
        gain="binary",
        ties="first",
        quirks="It has no cutoff: do not set `k`. It rejects a query with no expected or no "
        "retrieved documents.",
    ),
    "lenskit": Convention(
        "LensKit `NDCG`",
        "It uses the original discount, which is the same for the first two ranks. Users without "
        "recommendations are skipped.",
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
        quirks='`score_type="raw"` is `gain="linear"`, `"exp"` is `"exponential"`. The base of its '
        "logarithm does not matter. An item rated 0 also counts as relevant.",
    ),
    "recbole": Convention(
        "RecBole `NDCG`",
        "Relevance is binary.",
        gain="binary",
        ties="first",
        quirks="It receives the best k of all items, so every user has k of them. Version 1.2.1 "
        "uses `np.float`, which NumPy 1.24 removed.",
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
        "The ideal has k relevant items even if there are fewer, so few users can reach 1. Users "
        "without relevant items are skipped.",
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
        quirks="Tied items share the same rank, the mean of their ranks rounded down, which no "
        "order of ties gives.",
    ),
}


def empty_text(zero_division: float | str) -> str:
    """Return in words the nDCG of a query with no relevant documents.

    >>> empty_text(math.nan), empty_text(1.0), empty_text("perfect_if_empty")
    ('skipped', '1', '1 if nothing was retrieved, else 0')
    """
    if isinstance(zero_division, str):
        return "1 if nothing was retrieved, else 0"
    if math.isnan(zero_division):
        return "skipped"
    return f"{zero_division:g}"
