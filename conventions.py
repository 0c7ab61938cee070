"""Whose nDCG: the choices that libraries make when they say nDCG, as data.

A convention is a set of values for the options of ``NDCG.compute``. Each is that of one
library, and where the library can be installed a test runs it on the same rankings
(tests/conformance/test_libraries.py). What no option can express is told as a quirk.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple


class Convention(NamedTuple):
    """What a library means by nDCG.

    Attributes:
        library: whose it is, as people call it.
        meaning: one sentence on what its choices do to the number.
        gain: as in ``compute``, like the following.
        discount: of the ranks.
        ties: of documents with equal scores.
        zero_division: the nDCG of a query with nothing relevant; nan leaves it out of the mean.
        negative_relevance: what becomes of a negative relevance.
        quirks: what its numbers depend on besides.
    """

    library: str
    meaning: str
    gain: str = "linear"
    ties: str = "average"
    zero_division: float = 0.0
    negative_relevance: str = "raise"
    discount: str = "log"
    quirks: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``compute`` that it sets.

        >>> CONVENTIONS["lightgbm"].options
        {'gain': 'exponential', 'discount': 'log', 'ties': 'first', 'zero_division': 1.0, 'negative_relevance': 'raise'}
        """
        names = ("gain", "discount", "ties", "zero_division", "negative_relevance")
        return {name: getattr(self, name) for name in names}


CONVENTIONS: dict[str, Convention] = {
    "sklearn": Convention(
        "scikit-learn `ndcg_score`",
        "Tied documents share their ranks, so the order of the input does not matter; a query with nothing relevant "
        "pulls the mean down.",
        quirks="It refuses one-document queries, and `ignore_ties=True` orders ties in no fixed way.",
    ),
    "trec_eval": Convention(
        "trec_eval `ndcg`, `ndcg_cut` (pytrec_eval, ir_measures)",
        "Tied documents are ordered by their ids, the highest first, which is arbitrary but the same for everyone.",
        ties="docid",
        negative_relevance="clip",
        quirks="Scores are held as 32-bit floats, so scores that differ from the eighth digit on are tied. Queries "
        "that the run lacks are left out of the mean unless it is called with `-c`.",
    ),
    "ranx": Convention(
        "ranx `ndcg`",
        "Tied documents stay in the order of the run, so what wrote the run decides.",
        ties="first",
        negative_relevance="clip",
        quirks="A relevance below 1 counts as 0. Lists of 16 documents and more are sorted by an unstable algorithm, "
        "so their ties are in no fixed order.",
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
        negative_relevance="keep",
        quirks="It computes in 32-bit floats, in which close scores are tied. A query whose relevances add up to 0 "
        "counts as one with nothing relevant.",
    ),
    "ignite": Convention(
        "PyTorch-Ignite `NDCG`",
        "Queries with nothing relevant are left out, so the mean is over fewer queries than were asked.",
        gain="exponential",
        ties="first",
        zero_division=math.nan,
        negative_relevance="clip",
        quirks="A relevance below 1 counts as 0. It computes in 32-bit floats.",
    ),
    "rax": Convention(
        "Rax `ndcg_metric`",
        "Exponential gain, and tied documents in the order of the input.",
        gain="exponential",
        ties="first",
        negative_relevance="keep",
        quirks="It computes in 32-bit floats unless JAX is told otherwise. Where the ideal DCG is negative, it "
        "divides by it.",
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
        ties="first",
        zero_division=1.0,
        quirks="`ndcg` without a cutoff may stop at rank 32, the pairs its ranking objectives sample by default: ask "
        "here for `k=32`. Scores are held as 32-bit floats. `ndcg_exp_gain=False` is the linear gain.",
    ),
    "catboost": Convention(
        "CatBoost `NDCG`",
        "Of tied documents the least relevant ranks first, so ties never help; a query with nothing relevant counts "
        "as perfect.",
        ties="worst",
        zero_division=1.0,
        negative_relevance="keep",
        quirks='`NDCG:type=Exp` is `gain="exponential"`.',
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
        quirks="The relevances that PySpark lets one give as a third column do not change its number.",
    ),
    "elasticsearch": Convention(
        "Elasticsearch `_rank_eval` `dcg` with `normalize`",
        "Exponential gain, over the hits in the engine's order.",
        gain="exponential",
        ties="first",
        quirks="The ideal has as many documents as there were hits, so a short answer scores higher.",
    ),
}


def convention_table(values: Mapping[str, float]) -> str:
    """Markdown: what each convention chooses, and its number for one example.

    Args:
        values: the nDCG of the example under the name of each convention.

    >>> print(convention_table({"sklearn": .5921}).splitlines()[0])
    | `convention=` | whose | nDCG | gain | ties | nothing relevant | negative |
    """
    lines = [
        "| `convention=` | whose | nDCG | gain | ties | nothing relevant | negative |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, value in values.items():
        chosen = CONVENTIONS[name]
        empty = "left out" if math.isnan(chosen.zero_division) else f"{chosen.zero_division:g}"
        settings = f"{chosen.gain} | {chosen.ties} | {empty} | {chosen.negative_relevance}"
        lines.append(f'| `"{name}"` | {chosen.library} | {value:.4f} | {settings} |')
    return "\n".join(lines)


def convention_notes() -> str:
    """Markdown: a line on each convention, its meaning and its quirks.

    >>> print(convention_notes().splitlines()[-1][:52])
    - `"elasticsearch"`: Exponential gain, over the hits
    """
    return "\n".join(
        f'- `"{name}"`: {each.meaning}' + f" {each.quirks}" * bool(each.quirks) for name, each in CONVENTIONS.items()
    )
