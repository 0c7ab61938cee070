"""Every way in which nDCG is known to go wrong, as one table.

docs/slips.md lists all public reports of every slip.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.ties import Floats
from .slip_terms import Documents, Query, Slip, Term, in_order, ranked

# Slips that change a query, and terms that use them


def _first_relevant(query: Query) -> Query:
    """Keep only the judgment of the first relevant document of the run, else of one it misses."""
    for document in (*ranked(query), *query.qrels):
        relevance = query.qrels.get(document, 0)
        if relevance > 0:
            return query._replace(qrels={document: relevance})
    return query._replace(qrels={})


def _places_in_truth(query: Query) -> Query:
    """Give every hit among the first k the rank that it has in the list of relevant documents."""
    top = set(ranked(query)[: query.k])
    documents = []
    for document in query.relevant:
        # A document that is not a hit leaves its rank to an unknown one.
        documents.append(document if document in top else _another(document))
    return query._replace(run=in_order(documents))


def _another(document: Any) -> Any:
    """Return an id of the same kind that no document has."""
    if isinstance(document, str):
        return f"another {document}"
    # The ids of rankings without ids are positions from 0, so none is negative.
    return ~document


def _top(query: Query) -> list[Any]:
    return ranked(query)[: query.k]


def _with(
    options: Mapping[str, Any] = {}, **fields: Callable[[Query], Any]
) -> Term:  # the default is never changed
    def change(query: Query) -> Query:
        return query._replace(**{name: value(query) for name, value in fields.items()})

    return Term((change,), options)


def _with_scores(change: Callable[[Floats], Any]) -> Term:
    def run(query: Query) -> Documents:
        with np.errstate(over="ignore"):
            scores = change(np.array(list(query.run.values()), np.float64)).tolist()
        return dict(zip(query.run, scores, strict=True))

    return _with(run=run)


def _with_weights(option: str, weights: Callable[[NDArray[np.float64]], Any]) -> Term:
    return Term(options={option: lambda values: weights(np.asarray(values, np.float64))})


def _zero_below_k(
    size: Callable[[Query], int],
) -> Callable[[Sequence[Query], Floats, Floats], Floats]:
    def rule(queries: Sequence[Query], dcg: Floats, ndcg: Floats) -> Floats:
        return np.where([size(query) < (query.k or 0) for query in queries], 0.0, ndcg)

    return rule


def _by_option(
    name: str, meaning: str, reports: tuple[int, str] = (0, ""), **options: str | float
) -> Slip:
    return Slip(name, meaning, reports, both=Term(options=options))


def _rounded_to(decimals: int) -> Slip:
    return Slip(
        f"scores rounded to {decimals} decimals",
        f"Scores that agree to {decimals} decimals are tied, as in files that were written with so "
        "many.",
        both=_with_scores(lambda scores: scores.round(decimals)),
    )


def _in_bits(bits: int, kind: type[np.floating[Any]]) -> Slip:
    return Slip(
        f"scores rounded to {bits} bits",
        f"Scores that are equal in {bits} bits are tied, although they differ in 64.",
        both=_with_scores(
            lambda scores: np.clip(scores.astype(kind), np.finfo(kind).min, np.finfo(kind).max)
        ),
    )


UNCUT = _with(k=lambda query: None)

# The table

# As `exclude={query: [query]}` with `exclude_from="run"`. It takes the id of the query to make it.
OWN_DOCUMENT = Slip(
    "the query's own document left out of the run",
    "A document with the id of its query is removed from the run and stays in the ideal, as in "
    "BEIR.",
    reports=(3, "lightonai/pylate#198"),
    both=_with(
        run=lambda query: {
            document: score for document, score in query.run.items() if document != query.name
        }
    ),
)
SLIPS = (
    Slip(
        "ideal from the top k retrieved",
        "The ideal is the best order of the k documents that were ranked first, not of all that "
        "were judged, so a run that finds one of many relevant documents can score 1.",
        reports=(16, "OpenBMB/ToolBench#184"),
        ideal=_with(
            qrels=lambda query: {document: query.qrels.get(document, 0) for document in _top(query)}
        ),
    ),
    _by_option(
        "ideal from all that was retrieved",
        "The ideal is the best order of the retrieved documents, so relevant documents that the "
        "run misses cost nothing.",
        reports=(3, "o19s/search-metrics#3"),
        ideal="retrieved",
    ),
    _by_option(
        "exponential gain",
        "The gain is 2^r - 1, so that documents of a high grade count more.",
        reports=(3, "Georgetown-IR-Lab/OpenNIR#14"),
        gain="exponential",
    ),
    _by_option(
        "linear gain",
        "The gain is the relevance r.",
        reports=(1, "Georgetown-IR-Lab/OpenNIR#14"),
        gain="linear",
    ),
    Slip(
        "ideal not cut at k",
        "The DCG counts the first k ranks and the ideal all of them, so that a perfect ranking "
        "scores less than 1.",
        reports=(6, "lenskit/lenskit#869"),
        ideal=UNCUT,
    ),
    _by_option(
        "ideal of k relevant documents",
        "The ideal has the query's highest gain at every rank up to k, even if fewer documents are "
        "relevant, so that queries with few relevant documents cannot reach 1.",
        reports=(5, "datawhalechina/torch-rechub#45"),
        ideal="full",
    ),
    Slip(
        "ideal of as many relevant documents as were retrieved",
        "The ideal has the query's highest gain at every rank of the result list up to k, even if "
        "fewer documents are relevant, so that long result lists cannot reach 1.",
        ideal=_with(
            {"ideal": "full"}, k=lambda query: min(query.k or math.inf, max(1, len(query.run)))
        ),
    ),
    _by_option(
        "equal weights at ranks 1 and 2",
        "The discount is 1 / log2(i) from rank 2 on, so ranks 1 and 2 weigh the same.",
        reports=(5, "OpenAgentHQ/openagent-eval#223"),
        discount="jarvelin",
        log_base=2,
    ),
    _by_option(
        "ties by document id",
        "Documents with equal scores are ordered by their ids, the highest first, so the names of "
        "documents decide.",
        reports=(3, "usnistgov/trec_eval#22"),
        ties="docid",
    ),
    _by_option(
        "ideal cut at the length of the result list",
        "The ideal has as many documents as were retrieved, so a short result list is not "
        "penalized for the documents that it omits.",
        reports=(4, "mlflow/mlflow#24541"),
        ideal="truncated",
    ),
    _by_option(
        "graded relevance read as 0 or 1",
        "Every relevant document has the gain 1, so that it does not matter whether the best ones "
        "rank first.",
        reports=(4, "recommenders-team/recommenders#1749"),
        gain="binary",
    ),
    _by_option(
        "unjudged documents removed",
        "Documents without a judgment are taken out before ranking, so those below them move up.",
        reports=(4, "github/CodeSearchNet#226"),
        judged_only=True,
    ),
    _by_option(
        "ties in the order of the input",
        "Documents with equal scores stay in the order of the input, so sorting a file differently "
        "changes the score.",
        reports=(4, "dmlc/xgboost#3050"),
        ties="first",
    ),
    _by_option(
        "ties in the reverse order of the input",
        "Of documents with equal scores the last in the input ranks first, as a reversed ascending "
        "sort leaves them.",
        ties="last",
    ),
    Slip(
        "ties by ascending document id",
        "Documents with equal scores are ordered by their ids, the lowest first, so the names of "
        "documents decide.",
        both=_with(
            run=lambda query: dict(sorted(query.run.items())),
            options={"ties": "first"},
        ),
    ),
    _by_option(
        "ties in the model's favor",
        "Documents with equal scores are ordered by relevance, so a model that gives all documents "
        "the same score is perfect.",
        reports=(2, "elixir-nx/scholar#360"),
        ties="best",
    ),
    _by_option(
        "no relevant documents scored 1",
        "A query with no relevant documents scores 1 and raises the mean.",
        reports=(4, "catboost/benchmarks#19"),
        zero_division=1.0,
    ),
    _by_option(
        "no relevant documents scored 0",
        "A query with no relevant documents scores 0 and lowers the mean.",
        reports=(2, "scikit-learn/scikit-learn#29521"),
        zero_division=0.0,
    ),
    _by_option(
        "no relevant documents skipped",
        "A query with no relevant documents has no value, so it counts in no mean.",
        reports=(3, "joaopalotti/trectools#25"),
        zero_division=float("nan"),
    ),
    Slip(
        "discount from the place in the truth",
        "The discount of a hit comes from its place in the list of relevant documents, not from "
        "its rank in the run.",
        reports=(3, "THUDM/ComiRec#6"),
        dcg=Term((_places_in_truth,)),
    ),
    Slip(
        "DCG with binary gain, ideal with graded gain",
        "The DCG has gains of 0 and 1, the ideal has graded gains, so that a perfect ranking "
        "scores less than 1.",
        reports=(1, "RapidFireAI/rapidfireai#261"),
        dcg=Term(options={"gain": "binary"}),
    ),
    Slip(
        "ideal with binary gain, DCG with graded gain",
        "The ideal has gains of 0 and 1, the DCG has graded gains, so that scores can exceed 1.",
        reports=(1, "SeaseLtd/rated-ranking-evaluator#71"),
        ideal=Term(options={"gain": "binary"}),
    ),
    Slip(
        "documents in the order of the input",
        "The scores are ignored: documents are ranked in the order in which they are listed.",
        reports=(3, "Arize-ai/phoenix#1869"),
        both=_with(run=lambda query: in_order(query.run)),
    ),
    OWN_DOCUMENT,
    Slip(
        "ascending order",
        "The lowest score ranks first, as distances do.",
        both=_with(run=lambda query: {document: -score for document, score in query.run.items()}),
    ),
    Slip(
        "ranks used as scores",
        "The rank of each document is taken for its score, so the last one ranks first.",
        both=_with(
            run=lambda query: {
                document: float(rank) for rank, document in enumerate(ranked(query), start=1)
            }
        ),
    ),
    _in_bits(16, np.float16),
    _in_bits(32, np.float32),
    *map(_rounded_to, range(2, 7)),
    Slip(
        "scores and relevance swapped",
        "The arguments are in the wrong order: scores are taken for relevance and relevance for "
        "scores.",
        reports=(2, "scikit-learn/scikit-learn#27726"),
        both=_with(
            {"negative_relevance": "keep"},
            run=lambda query: query.qrels,
            qrels=lambda query: query.run,
        ),
    ),
    Slip(
        "unretrieved documents with the score 0",
        "Judged documents that were not retrieved take part with the score 0, above documents with "
        "negative scores.",
        reports=(2, "mlflow/mlflow#24553"),
        both=_with(
            run=lambda query: {**dict.fromkeys([*query.run, *query.qrels], 0.0), **query.run}
        ),
    ),
    Slip(
        "documents with the score 0 not retrieved",
        "A score of 0 is read as no score, so such documents have no rank.",
        both=_with(
            run=lambda query: {
                document: score for document, score in query.run.items() if score != 0
            }
        ),
    ),
    Slip(
        "unretrieved documents ranked last",
        "Judged documents that were not retrieved take ranks at the end of the list.",
        both=_with(
            run=lambda query: {
                **dict.fromkeys([*query.run, *query.qrels], min(query.run.values(), default=0) - 1),
                **query.run,
            }
        ),
    ),
    Slip(
        "ideal in the order of the run",
        "The ideal is computed in the order of the run, so the score is 1 unless the DCG is 0.",
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
            qrels=lambda query: {
                **query.qrels,
                **dict(zip(map(_another, query.qrels), query.qrels.values(), strict=True)),
            }
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
        "natural logarithm in the DCG only",
        "The discount is 1 / ln(i + 1) in the DCG and 1 / log2(i + 1) in the ideal, so that a "
        "perfect ranking scores 1.44.",
        dcg=Term(options={"log_base": math.e}),
    ),
    Slip(
        "no discount",
        "Every rank counts the same.",
        reports=(1, "RUCAIBox/RecBole#120"),
        both=_with_weights("discount", np.ones_like),
    ),
    _by_option(
        "discount 1 / rank",
        "The gain is divided by the rank instead of its logarithm.",
        discount="reciprocal",
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
        "The gain is 2^r without the - 1, and documents without a judgment have the relevance 0, "
        "so they count 1.",
        both=_with_weights("gain", np.exp2),
        dcg=_with(qrels=lambda query: {**dict.fromkeys(query.run, 0), **query.qrels}),
    ),
    Slip(
        "relevance level 2",
        "Documents with a relevance of 2 or more have the gain 1, all others 0.",
        both=_with_weights("gain", lambda relevance: relevance >= 2),
    ),
    Slip(
        "gain r^2",
        "The gain is the square of the relevance.",
        both=_with_weights("gain", np.square),
    ),
    Slip(
        "DCG not cut at k",
        "The DCG counts the whole list and the ideal the first k ranks, so that scores can exceed "
        "1.",
        reports=(1, "lenskit/lkpy#309"),
        dcg=UNCUT,
    ),
    Slip(
        "nothing cut at k",
        "The cutoff has no effect.",
        reports=(1, "Lightning-AI/torchmetrics#1952"),
        both=UNCUT,
    ),
    Slip(
        "cutoff one rank too deep",
        "The first k + 1 ranks count.",
        both=_with(k=lambda query: query.k and query.k + 1),
    ),
    Slip(
        "ideal cut one rank too deep",
        "The ideal counts the first k + 1 ranks, the DCG the first k.",
        ideal=_with(k=lambda query: query.k and query.k + 1),
    ),
    Slip(
        "cutoff one rank too short",
        "The first k - 1 ranks count.",
        both=_with(k=lambda query: query.k and max(query.k - 1, 1)),
    ),
    Slip(
        "run cut at k before everything else",
        "Only the first k documents are kept; the ideal, and everything else that depends on the "
        "retrieved documents, is computed from them.",
        both=_with(run=lambda query: {document: query.run[document] for document in _top(query)}),
    ),
    Slip(
        "only the first relevant document",
        "The score is the discount of the first relevant document that was retrieved; all others "
        "count nothing.",
        both=Term((_first_relevant,)),
    ),
    Slip(
        "DCG of the first relevant document only",
        "The DCG ends with the first relevant document, the ideal counts all of them.",
        dcg=Term((_first_relevant,)),
    ),
    Slip(
        "DCG called nDCG",
        "The DCG is not divided by the ideal.",
        rule=lambda queries, dcg, ndcg: dcg,
    ),
    Slip(
        "0 if lists are shorter than k",
        "A query with fewer than k documents retrieved and judged scores 0.",
        reports=(1, "jongwook/spark-ranking-metrics#2"),
        rule=_zero_below_k(lambda query: max(len(query.run), len(query.qrels))),
    ),
    Slip(
        "0 until k documents are judged",
        "A query with fewer than k judgments scores 0.",
        reports=(1, "o19s/quepid#234"),
        rule=_zero_below_k(lambda query: len(query.qrels)),
    ),
    Slip(
        "negative relevance removed",
        "Documents with a negative relevance are taken out, so those below them move up.",
        reports=(1, "tensorflow/ranking#40"),
        both=_with(
            run=lambda query: {
                document: score
                for document, score in query.run.items()
                if query.qrels.get(document, 0) >= 0
            },
            qrels=lambda query: {
                document: relevance for document, relevance in query.qrels.items() if relevance >= 0
            },
        ),
    ),
)


NOT_OPTIONS = [slip for slip in SLIPS if not slip.is_option]
_BY_NAME = {slip.name: slip for slip in SLIPS}


def slip_named(name: str) -> Slip:
    """Return a slip of the table."""
    return _BY_NAME[name]
