"""Whose nDCG: the choices that libraries make when they say nDCG, as data.

A convention is a set of values for the options of ``NDCG.compute``. Each is that of one
library, and where the library can be installed a test runs it on the same rankings
(tests/conformance/test_libraries.py). What no option can express is told as a quirk.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

# What a convention chooses.
CHOICES = ("gain", "discount", "ideal", "score_dtype", "ties", "zero_division", "negative_relevance", "missing")


class Convention(NamedTuple):
    """What a library means by nDCG.

    Attributes:
        library: whose it is, as people call it.
        meaning: one sentence on what its choices do to the number.
        gain: as in ``compute``, like the following.
        discount: of the ranks.
        ideal: which documents the ideal ranking has.
        score_dtype: the type in which scores are compared.
        ties: of documents with equal scores.
        zero_division: the nDCG of a query with nothing relevant; nan leaves it out of the mean.
        negative_relevance: what becomes of a negative relevance.
        missing: what becomes of a judged query that the run lacks.
        quirks: what its numbers depend on besides.
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
        "Tied documents share their ranks, so the order of the input does not matter; a query with nothing relevant "
        "pulls the mean down.",
        quirks="It refuses one-document queries, and `ignore_ties=True` orders ties in no fixed way. A query with "
        "nothing relevant counts as 0 up to version 1.9; a later one may leave it out, which is `zero_division=nan`.",
    ),
    "trec_eval": Convention(
        "trec_eval `ndcg`, `ndcg_cut` (pytrec_eval, ir_measures)",
        "Tied documents are ordered by their ids, the highest first, which is arbitrary but the same for everyone.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        quirks="Scores are 32-bit floats up to version 9.0.8; from 10.0 on they are 64-bit floats, which is "
        '`score_dtype="given"`. Queries that the run lacks count as 0 with `-c`; without it, they are '
        'left out of the mean, which is `missing="skip"`, and 10.0 fails.',
    ),
    "pytrec_eval": Convention(
        "pytrec_eval `ndcg`, `ndcg_cut`, averaged over the queries that it returns",
        "As trec_eval, but queries that the run lacks are left out of the mean, so a run that answers easy queries "
        "only scores high.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
    ),
    "beir": Convention(
        "BEIR `EvaluateRetrieval.evaluate`",
        "pytrec_eval's number, rounded to five digits.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="A document whose id is the query's takes no rank: `exclude={query: [query] for query in run}`, where "
        "such a document is not judged relevant.",
    ),
    "mteb": Convention(
        "MTEB retrieval tasks, `ndcg_at_k`",
        "pytrec_eval's number, rounded to five digits.",
        score_dtype="float32",
        ties="docid",
        negative_relevance="clip",
        missing="skip",
        quirks="Tasks with `ignore_identical_ids` drop a document whose id is the query's, as BEIR does.",
    ),
    "gdeval": Convention(
        "gdeval.pl `ndcg@k` of TREC's web tracks",
        "trec_eval's order of ties with exponential gain; queries with nothing relevant are left out, and so are those "
        "that the run lacks.",
        gain="exponential",
        ties="docid",
        zero_division=math.nan,
        negative_relevance="clip",
        missing="skip",
        quirks="It prints five digits, and refuses relevances above 4.",
    ),
    "ranx": Convention(
        "ranx `ndcg`",
        "Tied documents stay in the order of the run, so what wrote the run decides.",
        ties="first",
        negative_relevance="clip",
        quirks="A relevance counts as its integer part. Lists of 16 documents and more are sorted by an unstable "
        "algorithm, so their ties are in no fixed order.",
    ),
    "ranx_burges": Convention(
        "ranx `ndcg_burges`",
        "Exponential gain, which puts highly relevant documents far above the others.",
        gain="exponential",
        ties="first",
        negative_relevance="clip",
        quirks="As ranx `ndcg`.",
    ),
    "torchmetrics": Convention(
        "TorchMetrics `RetrievalNormalizedDCG`",
        "scikit-learn's definition, with a policy for queries with nothing relevant: `empty_target_action` "
        '`"neg"` is `zero_division=0` (the default), `"pos"` 1, `"skip"` nan.',
        score_dtype="float32",
        negative_relevance="keep",
        quirks="It computes in 32-bit floats. A query whose relevances add up to 0 counts as one with nothing "
        "relevant. Where the ideal DCG is negative, it divides by it.",
    ),
    "ignite": Convention(
        "PyTorch-Ignite `NDCG`",
        "Queries with nothing relevant are left out, so the mean is over fewer queries than were asked.",
        gain="exponential",
        ties="first",
        zero_division=math.nan,
        negative_relevance="clip",
        quirks="A relevance below 1 counts as 0. It computes in 32-bit floats, but ranks scores as they are given.",
    ),
    "rax": Convention(
        "Rax `ndcg_metric`",
        "Exponential gain, and tied documents in the order of the input.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        negative_relevance="keep",
        missing="skip",
        quirks="It computes in 32-bit floats; with `jax_enable_x64` scores are compared as they are given, which is "
        '`score_dtype="given"`. Where the ideal DCG is negative, it divides by it. Lists that are masked whole are '
        "left out, which `missing` says.",
    ),
    "lightgbm": Convention(
        "LightGBM `ndcg`",
        "A query with nothing relevant counts as perfect, which lifts the mean where many are.",
        gain="exponential",
        ties="first",
        zero_division=1.0,
        quirks="Labels are the integers 0 to 30, with `label_gain` for other gains.",
    ),
    "xgboost": Convention(
        "XGBoost `ndcg`",
        "As LightGBM: a query with nothing relevant counts as perfect; `ndcg@10-` is `zero_division=0`.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        zero_division=1.0,
        quirks="`ndcg` without a cutoff may stop at rank 32, the pairs its ranking objectives sample by default: ask "
        "here for `k=32`. `ndcg_exp_gain=False` is the linear gain.",
    ),
    "tf_ranking": Convention(
        "TensorFlow Ranking `NDCGMetric`",
        "Exponential gain, and tied documents in random order: the mean over all orders is what to expect.",
        gain="exponential",
        score_dtype="float32",
        missing="skip",
        quirks="It computes in 32-bit floats. A label below 0 is padding: give it as `ignore_index`. Lists that are "
        "padding throughout are left out, which `missing` says.",
    ),
    "allrank": Convention(
        "allRank `ndcg`",
        "A query with nothing relevant counts as perfect, which lifts the mean where many are.",
        gain="exponential",
        score_dtype="float32",
        ties="first",
        zero_division=1.0,
        quirks="A label of -1 is padding: give `ignore_index=-1`. Its models score in 32-bit floats, in which it "
        'computes; it ranks a tensor of 64-bit floats as given, which is `score_dtype="given"`. Lists of more than 16 '
        "documents are sorted by an unstable algorithm, so their ties are in no fixed order.",
    ),
    "catboost": Convention(
        "CatBoost `NDCG`",
        "Of tied documents the least relevant ranks first, so ties never help; a query with nothing relevant counts "
        "as perfect.",
        ties="worst",
        zero_division=1.0,
        negative_relevance="keep",
        quirks='`NDCG:type=Exp` is `gain="exponential"`. Relevances are held as 32-bit floats.',
    ),
    "sentence_transformers": Convention(
        "sentence-transformers `InformationRetrievalEvaluator`",
        "Documents are relevant or not, and queries with nothing relevant are left out.",
        gain="binary",
        ties="first",
        zero_division=math.nan,
        negative_relevance="clip",
        quirks="From version 6 on tied documents rank by ascending id: list them in that order. Its rerankers are "
        "scored by scikit-learn.",
    ),
    "spark": Convention(
        "Spark `RankingMetrics.ndcgAt`",
        "Documents are relevant or not; whatever ranked their ids has ordered the ties.",
        gain="binary",
        ties="first",
        negative_relevance="clip",
        quirks="The relevances that PySpark lets one give as a third column do not change its number. With those that "
        "Scala takes the gain is exponential, and the ideal is the order in which the relevant documents are listed.",
    ),
    "elasticsearch": Convention(
        "Elasticsearch `_rank_eval` `dcg` with `normalize`",
        "Exponential gain, over the hits in the engine's order.",
        gain="exponential",
        ideal="truncated",
        ties="first",
        quirks="Documents that nobody judged have gain 0, or that of `unknown_doc_rating`.",
    ),
    "mlflow": Convention(
        "MLflow `ndcg_at_k`",
        "The ideal is no longer than the answer, so a short answer scores higher, and an empty one to a query with "
        "nothing relevant is perfect.",
        gain="binary",
        ideal="truncated",
        ties="first",
        zero_division="rightly_empty",
        quirks="A document that is retrieved twice counts twice, as two documents.",
    ),
    "haystack": Convention(
        "Haystack `DocumentNDCGEvaluator`",
        "The scores of the expected documents are their gains; the order is that of the retrieved ones.",
        ties="first",
        negative_relevance="keep",
        quirks="There is no cutoff: all that was retrieved counts.",
    ),
    "llama_index": Convention(
        "LlamaIndex `NDCG`",
        "Documents are expected or not; all that was retrieved counts.",
        gain="binary",
        ties="first",
        quirks="It has no cutoff: give no `k`. It refuses a query for which nothing is expected or nothing retrieved.",
    ),
    "lenskit": Convention(
        "LensKit `NDCG`",
        "The discount of the first papers, the same for the first two ranks; users without recommendations are left "
        "out.",
        gain="binary",
        discount="jarvelin",
        ties="first",
        missing="skip",
        quirks="A user without test items has none, which `RunAnalysis` counts as 0. "
        '`gain="rating"` is `gain="linear"`; without it, an item rated 0 counts as relevant too.',
    ),
    "recommenders": Convention(
        "Recommenders `ndcg_at_k`",
        "Items are rated or not, whatever the rating, and users who rated nothing are left out.",
        gain="binary",
        ties="first",
        zero_division=math.nan,
        quirks='`score_type="raw"` is `gain="linear"`, `"exp"` is `"exponential"`; the base of its logarithm does not '
        "matter. An item rated 0 counts as relevant too.",
    ),
    "recbole": Convention(
        "RecBole `NDCG`",
        "Items are relevant or not.",
        gain="binary",
        ties="first",
        quirks="It is handed the best k of all items, so every user has k. Version 1.2.1 asks for `np.float`, which "
        "NumPy lacks from 1.24 on.",
    ),
    "cornac": Convention(
        "Cornac `NDCG`",
        "Items are relevant or not, and users without relevant items are left out.",
        gain="binary",
        ties="first",
        zero_division=math.nan,
    ),
    "rectools": Convention(
        "RecTools `NDCG`",
        "The ideal has k relevant items, whether or not there are as many, so few can score 1; users without relevant "
        "items are left out.",
        gain="binary",
        ideal="full",
        ties="first",
        zero_division=math.nan,
        quirks='`divide_by_achievable=True` is `ideal="judged"`.',
    ),
    "evidently": Convention(
        "Evidently `NDCG`",
        "Users with nothing relevant are left out.",
        zero_division=math.nan,
        negative_relevance="keep",
        quirks="Tied items share one rank, the mean of theirs rounded down, which no order of ties gives.",
    ),
}


def convention_table(values: Mapping[str, float]) -> str:
    """Markdown: what each convention chooses, and its number for one example.

    Args:
        values: the nDCG of the example under the name of each convention.

    >>> print(convention_table({"sklearn": .5921}).splitlines()[0])
    | `convention=` | whose | nDCG | gain | discount | ideal | scores | ties | nothing relevant | negative | missing |
    """
    heads = ("gain", "discount", "ideal", "scores", "ties", "nothing relevant", "negative", "missing")
    lines = [f"| `convention=` | whose | nDCG | {' | '.join(heads)} |", "|---" * (3 + len(heads)) + "|"]
    for name, value in values.items():
        chosen = {**CONVENTIONS[name].options, "zero_division": empty_text(CONVENTIONS[name].zero_division)}
        settings = " | ".join(chosen.values())
        lines.append(f'| `"{name}"` | {CONVENTIONS[name].library} | {value:.4f} | {settings} |')
    return "\n".join(lines)


def empty_text(zero_division: float | str) -> str:
    """Return in words what a query with nothing relevant is worth.

    >>> empty_text(math.nan), empty_text(1.0), empty_text("rightly_empty")
    ('left out', '1', '1 if nothing was retrieved, else 0')
    """
    if isinstance(zero_division, str):
        return "1 if nothing was retrieved, else 0"
    return "left out" if math.isnan(zero_division) else f"{zero_division:g}"


def convention_notes() -> str:
    """Markdown: a line on each convention, its meaning and its quirks.

    >>> print(convention_notes().splitlines()[-1].partition(" are")[0])
    - `"evidently"`: Users with nothing relevant
    """
    return "\n".join(
        f'- `"{name}"`: {each.meaning}' + f" {each.quirks}" * bool(each.quirks) for name, each in CONVENTIONS.items()
    )
