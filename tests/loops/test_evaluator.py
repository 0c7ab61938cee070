"""The evaluator of sentence-transformers: the numbers of its own, graded relevance, intervals, chunks, training."""

import csv
import gc
import pickle
import re
import sys
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest
from datasets import Dataset
from sklearn.metrics import ndcg_score

from ndcg.loops import evaluator

torch = pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")
from sentence_transformers import (  # noqa: E402
    CrossEncoder,
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    SparseEncoder,
)
from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator  # noqa: E402
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator  # noqa: E402
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss  # noqa: E402
from sentence_transformers.sentence_transformer.modules import StaticEmbedding  # noqa: E402
from sentence_transformers.sparse_encoder.evaluation import SparseInformationRetrievalEvaluator  # noqa: E402
from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from tokenizers.models import WordLevel  # noqa: E402
from tokenizers.pre_tokenizers import Whitespace  # noqa: E402
from tokenizers.processors import TemplateProcessing  # noqa: E402
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast  # noqa: E402
from transformers.utils import logging as transformers_logging  # noqa: E402

# which PyTorch gives once in a process, wherever that comes first
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = [f"w{number}" for number in range(80)]
RNG = np.random.default_rng(0)
QUERIES = {f"q{number}": " ".join(RNG.choice(WORDS, 4)) for number in range(30)}
CORPUS = {f"d{number}": " ".join(RNG.choice(WORDS, 12)) for number in range(150)}
GRADES = {
    query: {str(document): int(RNG.integers(0, 4)) for document in RNG.choice(list(CORPUS), 12, replace=False)}
    for query in QUERIES
}
RELEVANT = {query: {document for document, grade in of.items() if grade} for query, of in GRADES.items()}


def tokenizer() -> PreTrainedTokenizerFast:
    """One token a word."""
    made = Tokenizer(WordLevel({word: at for at, word in enumerate(SPECIAL + WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    names = {name.strip("[]").lower() + "_token": name for name in SPECIAL}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **names)


def bi_encoder(**how: Any) -> SentenceTransformer:
    torch.manual_seed(0)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer(), embedding_dim=16)], device="cpu", **how)


def sparse_encoder() -> SparseEncoder:
    torch.manual_seed(0)
    weight = torch.rand(len(SPECIAL + WORDS))
    return SparseEncoder(modules=[SparseStaticEmbedding(tokenizer(), weight=weight)], device="cpu")


@pytest.fixture(scope="module")
def reranker_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A BERT of one layer with random weights, as `CrossEncoder` loads it."""
    folder = tmp_path_factory.mktemp("reranker")
    transformers_logging.disable_progress_bar()
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(SPECIAL + WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    yield folder
    transformers_logging.enable_progress_bar()


@pytest.fixture
def reranker(reranker_folder: Path) -> CrossEncoder:
    return CrossEncoder(str(reranker_folder), device="cpu")


def judged(grades: Mapping[str, Mapping[str, int]] = GRADES, corpus: Mapping[str, str] = CORPUS) -> np.ndarray:
    """The grade of every document for every query, 0 if it has none."""
    return np.array([[of.get(document, 0) for document in corpus] for of in grades.values()])


def similarity(model: Any, corpus: Mapping[str, str] = CORPUS) -> np.ndarray:
    """The score of every document for every query."""
    embeddings = (model.encode_query(list(QUERIES.values())), model.encode_document(list(corpus.values())))
    return model.similarity(*embeddings).numpy()


# --- The numbers of its own evaluators ---


def test_a_model_that_finds_nothing_relevant_is_not_warned_of_since_all_ids_are_in_the_corpus(
    ndcg: evaluate.Metric,
) -> None:
    worst = similarity(bi_encoder()).argmin(axis=1)
    relevant = {query: {list(CORPUS)[at]} for query, at in zip(QUERIES, worst, strict=True)}
    evaluator = ndcg.sentence_transformers_evaluator(queries=QUERIES, corpus=CORPUS, relevant_docs=relevant, k=1)
    assert evaluator(bi_encoder())["nDCG@1"] == 0


@pytest.mark.parametrize("chunk", [7, 1000])
@pytest.mark.parametrize("repeats", [1, 3], ids=["no ties", "every text three times"])
@pytest.mark.parametrize(
    ("model", "own"),
    [(bi_encoder, InformationRetrievalEvaluator), (sparse_encoder, SparseInformationRetrievalEvaluator)],
)
def test_on_binary_relevance_it_equals_the_evaluator_of_the_library(
    ndcg: evaluate.Metric, model: Any, own: Any, repeats: int, chunk: int
) -> None:
    corpus = {f"{document}-{copy}": text for document, text in CORPUS.items() for copy in range(repeats)}
    relevant = {query: {f"{document}-0" for document in of} for query, of in RELEVANT.items()} | {"q0": set()}
    theirs = own(QUERIES, corpus, relevant, ndcg_at_k=[3, 10], name="dev", corpus_chunk_size=chunk)
    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, corpus, relevant, [3, 10], name="dev", corpus_chunk_size=chunk, convention="sentence_transformers"
    )
    expected, found = theirs(model()), ours(model())
    for k in (3, 10):
        (name,) = (each for each in expected if each.endswith(f"_ndcg@{k}"))
        assert found[f"dev_nDCG@{k}"] == pytest.approx(expected[name], abs=1e-9)
    assert ours.report.counts["left_out"] == 1


def test_a_reranker_has_the_number_that_its_own_evaluator_has(ndcg: evaluate.Metric, reranker: CrossEncoder) -> None:
    candidates = {query: list(dict.fromkeys([*RELEVANT[query], *list(CORPUS)[:20]])) for query in QUERIES}
    samples = [
        {
            "query": QUERIES[query],
            "positive": [CORPUS[document] for document in RELEVANT[query]],
            "documents": [CORPUS[document] for document in candidates[query]],
        }
        for query in QUERIES
    ]
    expected = CrossEncoderRerankingEvaluator(samples, at_k=10)(reranker)
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, RELEVANT, candidates=candidates, corpus_chunk_size=50)
    assert ours(reranker)["nDCG@10"] == pytest.approx(expected["ndcg@10"], abs=1e-9)


# --- Graded relevance, options, intervals, slices ---


@pytest.mark.parametrize("model", [bi_encoder, sparse_encoder])
def test_graded_relevance_is_scored_as_sklearn_does_on_the_whole_corpus(ndcg: evaluate.Metric, model: Any) -> None:
    scores = similarity(model())
    scores = scores - 1e-6 * np.argsort(np.argsort(list(CORPUS)))  # of equal scores the lowest id comes first
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=[5, 20], ties="first")
    found = ours(model())
    assert found["nDCG@5"] == pytest.approx(ndcg_score(judged(), scores, k=5), abs=1e-9)
    assert found["nDCG@20"] == pytest.approx(ndcg_score(judged(), scores, k=20), abs=1e-9)


def test_graded_candidates_are_reranked_as_sklearn_scores_them(ndcg: evaluate.Metric, reranker: CrossEncoder) -> None:
    candidates = {query: set(of) for query, of in GRADES.items()}
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=5, candidates=candidates)
    expected = [
        ndcg_score([list(of.values())], [reranker.predict([(QUERIES[query], CORPUS[each]) for each in of])], k=5)
        for query, of in GRADES.items()
    ]
    assert ours(reranker)["nDCG@5"] == pytest.approx(np.mean(expected), abs=1e-9)


def test_a_whole_corpus_is_ranked_without_a_cutoff(ndcg: evaluate.Metric) -> None:
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=None)
    assert ours(bi_encoder())["nDCG"] == pytest.approx(ndcg_score(judged(), similarity(bi_encoder())), abs=1e-9)
    assert all(len(documents) == len(CORPUS) for documents in ours.run.values())


def test_a_call_returns_the_figures_of_the_report_on_the_run(ndcg: evaluate.Metric) -> None:
    languages = {query: "de" if int(query[1:]) % 3 else "en" for query in QUERIES}
    how: dict[str, Any] = {"k": [5, 10], "measures": ["nDCG", "DCG"], "gain": "exponential", "by": languages}
    weight = np.arange(1, len(QUERIES) + 1)
    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, CORPUS, GRADES, **how, sample_weight=weight, confidence=0.9, name="dev"
    )
    assert ours.primary_metric == "dev_nDCG@5"
    found = ours(bi_encoder())
    report = ndcg.report(predictions=ours.run, references=GRADES, **how, sample_weight=weight, confidence=0.9)
    assert ours.report == report
    assert found == {f"dev_{name}": value for name, value in report.flat().items()}
    assert all(type(value) is float for value in found.values())


def test_excluded_documents_take_no_rank_in_the_evaluator(ndcg: evaluate.Metric) -> None:
    first = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=3)
    first(bi_encoder())
    exclude = {query: list(documents)[:2] for query, documents in first.run.items()}
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=5, exclude=exclude)
    places = list(CORPUS)
    expected = []
    for query, row, relevance in zip(QUERIES, similarity(bi_encoder()), judged(), strict=True):
        left = [places.index(document) for document in exclude[query]]
        expected.append(ndcg_score([np.delete(relevance, left)], [np.delete(row, left)], k=5))
    assert ours(bi_encoder())["nDCG@5"] == pytest.approx(np.mean(expected), abs=1e-9)


def by_rank(queries: Any, documents: Any) -> Any:
    """Scores that fall with the number of the document, one less for each two documents."""
    return -(torch.arange(len(documents)) // 2).float().repeat(len(queries), 1)


def test_judged_documents_below_the_cutoff_are_in_a_condensed_list(ndcg: evaluate.Metric) -> None:
    corpus = {f"d{rank:02}": "w1" for rank in range(1, 21)}
    relevant = {query: {f"d{rank}": 1 for rank in range(11, 17)} for query in ("q1", "q2")}
    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, corpus, relevant, k=5, judged_only=True, score_function=by_rank
    )
    assert ours(bi_encoder())["nDCG@5"] == 1.0  # the first five documents that are judged are relevant
    assert list(ours.run["q1"]) == list(corpus)[:6] + list(corpus)[10:16]


def test_judged_documents_below_the_cutoff_are_in_an_ideal_over_the_retrieved(ndcg: evaluate.Metric) -> None:
    corpus = {f"d{rank}": "w1" for rank in range(1, 6)}
    relevant = {query: {"d1": 1, "d4": 3, "d5": 2} for query in ("q1", "q2")}
    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, corpus, relevant, k=2, ideal="retrieved", ties="first", score_function=by_rank
    )
    assert ours(bi_encoder())["nDCG@2"] == pytest.approx(1 / (3 + 2 / np.log2(3)), rel=1e-12)


def test_documents_that_are_ignored_take_no_rank(ndcg: evaluate.Metric) -> None:
    corpus = {f"d{rank:02}": "w1" for rank in range(1, 21)}
    labels = {f"d{rank:02}": -1 for rank in range(1, 7)} | {f"d{rank:02}": 1 for rank in range(7, 13)}
    relevant = {"q1": labels, "q2": {"d01": 2, "d02": 2}}
    ours = ndcg.sentence_transformers_evaluator(QUERIES, corpus, relevant, k=3, ignore_index=-1, score_function=by_rank)
    assert ours(bi_encoder())["nDCG@3"] == 1.0


@pytest.mark.parametrize("depth", [20, 50_000], ids=["in two chunks", "in one"])
def test_documents_that_tie_as_32_bit_floats_at_the_cutoff_are_in_the_run(ndcg: evaluate.Metric, depth: int) -> None:
    def falling(queries: Any, documents: Any) -> Any:  # sigmoids in 64 bits, which are all 1 in 32
        numbers = torch.tensor([int(text[1:]) for text in documents], dtype=torch.float64)
        return torch.sigmoid(20 - numbers / 1000).repeat(len(queries), 1)

    class Texts:  # in place of a model
        def encode_query(self, texts: list[str], **how: Any) -> list[str]:
            return texts

        encode_document = encode_query

    corpus = {f"d{rank:02}": f"w{rank}" for rank in range(1, 31)}
    relevant = {"q1": {"d30": 1}, "q2": {"d01": 1}}
    for how, kept in (({"convention": "pytrec_eval"}, 30), ({"convention": "pytrec_eval", "score_dtype": "given"}, 2)):
        ours = ndcg.sentence_transformers_evaluator(
            QUERIES, corpus, relevant, k=2, **how, score_function=falling, corpus_chunk_size=depth
        )
        run = ours.search.run(Texts())
        assert [len(documents) for documents in run.values()] == [kept, kept]
        every = dict(zip(corpus, falling(["q"], list(corpus.values()))[0].tolist(), strict=True))
        whole = ndcg.compute(predictions=dict.fromkeys(relevant, every), references=relevant, k=2, **how)
        assert ndcg.compute(predictions=run, references=relevant, k=2, **how) == whole
    assert whole == {"nDCG@2": 0.5}


def test_scores_may_be_integers(ndcg: evaluate.Metric) -> None:
    def as_integers(queries: Any, documents: Any) -> Any:
        return by_rank(queries, documents).long()

    corpus, relevant = {f"d{rank:02}": "w1" for rank in range(1, 21)}, {"q1": {"d02": 1}, "q2": {"d01": 1}}
    ours = ndcg.sentence_transformers_evaluator(QUERIES, corpus, relevant, k=5, score_function=as_integers)
    assert ours(bi_encoder())["nDCG@5"] == pytest.approx((1 / np.log2(3) + 1) / 2)


@pytest.mark.parametrize("how", [{"k": 5}, {"k": 5, "judged_only": True, "convention": "pytrec_eval"}])
def test_the_nearest_document_ranks_first_by_its_distance(ndcg: evaluate.Metric, how: Any) -> None:
    def distances(queries: Any, documents: Any) -> Any:
        return torch.cdist(queries, documents).round(decimals=2)  # with ties

    def similarities(queries: Any, documents: Any) -> Any:
        return -distances(queries, documents)

    def evaluated(score_function: Any, **more: Any) -> Any:
        more |= {"score_function": score_function, "corpus_chunk_size": 40, **how}
        ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, **more)
        return ours, ours(bi_encoder())

    nearest, scores = evaluated(distances, score_order="ascending")
    assert scores == evaluated(similarities)[1]
    assert all(list(of.values()) == sorted(of.values()) for of in nearest.run.values())


@pytest.mark.parametrize("ids", [None, 5, "d01"])
def test_exclusions_of_a_query_are_a_list_of_ids(ndcg: evaluate.Metric, ids: Any) -> None:
    with pytest.raises(ValueError, match=r"^exclude: query 'q1': must be a list or a set of ids; got"):
        ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=5, exclude={"q1": ids})


@pytest.mark.parametrize("how", [{}, {"judged_only": True}, {"ideal": "retrieved"}, {"ideal": "truncated"}], ids=str)
@pytest.mark.parametrize("ties", ["average", "first", "last", "best", "worst", "docid"])
def test_scores_of_some_documents_equal_those_in_the_whole_ranking(
    ndcg: evaluate.Metric, ties: str, how: dict[str, Any]
) -> None:
    def rounded(queries: Any, documents: Any) -> Any:
        return (queries.double() @ documents.double().T).round()

    exclude = {query: list(of)[:2] for query, of in GRADES.items()}
    shared = {"exclude": exclude, "measures": ["nDCG", "DCG", "IDCG"], "ties": ties, **how}
    whole, ours = (
        ndcg.sentence_transformers_evaluator(
            QUERIES, CORPUS, GRADES, k, corpus_chunk_size=40, score_function=rounded, **shared
        )
        for k in (None, [1, 7])
    )
    whole(bi_encoder())
    found = ours(bi_encoder())
    assert max(map(len, ours.run.values())) < len(CORPUS)
    for name, value in ndcg.compute(predictions=whole.run, references=GRADES, k=[1, 7], **shared).items():
        assert found[name] == pytest.approx(value, rel=1e-12)


# --- Candidates ---


@pytest.mark.parametrize("chunk", [9, 1000])
def test_the_run_of_a_retriever_is_what_a_reranker_reranks(
    ndcg: evaluate.Metric, reranker: CrossEncoder, chunk: int
) -> None:
    retriever = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=20)
    retriever(bi_encoder())
    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, CORPUS, GRADES, k=10, candidates=retriever.run, corpus_chunk_size=chunk
    )
    found = ours(reranker)
    for query, documents in ours.run.items():
        scores = reranker.predict([(QUERIES[query], CORPUS[document]) for document in retriever.run[query]])
        assert documents == pytest.approx(dict(zip(retriever.run[query], scores.tolist(), strict=True)), abs=1e-6)
        assert list(documents.values()) == sorted(documents.values(), reverse=True)
    assert found["nDCG@10"] == ndcg.compute(predictions=ours.run, references=GRADES, k=10)["nDCG@10"]


@pytest.mark.parametrize("chunk", [9, 1000])
def test_a_retriever_ranks_only_the_candidates_that_are_given(ndcg: evaluate.Metric, chunk: int) -> None:
    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, CORPUS, GRADES, k=5, candidates=GRADES, corpus_chunk_size=chunk
    )
    scores = dict(zip(QUERIES, similarity(bi_encoder()), strict=True))
    places = {document: at for at, document in enumerate(CORPUS)}
    expected = [
        ndcg_score([list(of.values())], [[scores[query][places[each]] for each in of]], k=5)
        for query, of in GRADES.items()
    ]
    assert ours(bi_encoder())["nDCG@5"] == pytest.approx(np.mean(expected), abs=1e-9)
    assert all(documents.keys() <= GRADES[query].keys() for query, documents in ours.run.items())


def test_a_query_without_candidates_is_missing_from_the_run(ndcg: evaluate.Metric, reranker: CrossEncoder) -> None:
    documents = {query: list(CORPUS)[:9] for query in QUERIES if query != "q3"}
    asked = {"candidates": documents, "k": 5}
    for model in (bi_encoder(), reranker):
        empty = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, **asked)
        skipped = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, **asked, missing="skip")
        number = len(QUERIES)
        assert empty(model)["nDCG@5"] == pytest.approx(skipped(model)["nDCG@5"] * (number - 1) / number, rel=1e-12)
        assert set(empty.run) == set(documents)


# --- Chunks and memory ---


@pytest.mark.parametrize("copies", [1, 4], ids=["no ties", "ties across chunks"])
@pytest.mark.parametrize("chunk", [1, 7, 10, 149])
def test_the_run_is_the_same_whatever_the_chunks(ndcg: evaluate.Metric, chunk: int, copies: int) -> None:
    corpus = {f"{document}-{copy}": text for copy in range(copies) for document, text in CORPUS.items()}
    relevant = {query: {f"{document}-0": grade for document, grade in of.items()} for query, of in GRADES.items()}
    how = {"score_function": lambda queries, documents: (queries.double() @ documents.double().T * 2**20).round()}
    whole, cut = (
        ndcg.sentence_transformers_evaluator(QUERIES, corpus, relevant, corpus_chunk_size=size, **how)
        for size in (1000, chunk)
    )
    assert whole(bi_encoder()) == cut(bi_encoder())
    assert [list(each.items()) for each in whole.run.values()] == [list(each.items()) for each in cut.run.values()]
    for documents in cut.run.values():
        ranked = sorted(documents, key=lambda document, scores=documents: (-scores[document], document))
        assert list(documents) == ranked


def test_only_one_chunk_of_the_corpus_and_k_documents_of_each_query_are_kept(ndcg: evaluate.Metric) -> None:
    chunk, k = 20, 5
    chunks: list[weakref.ref[Any]] = []
    matrices: list[weakref.ref[Any]] = []
    alive: list[tuple[int, int]] = []

    def score_function(queries: Any, documents: Any) -> Any:
        assert len(documents) <= chunk
        alive.append((sum(each() is not None for each in chunks), sum(each() is not None for each in matrices)))
        scores = queries @ documents.T
        chunks.append(weakref.ref(documents))
        matrices.append(weakref.ref(scores))
        return scores

    widths = []
    highest = evaluator._highest_columns

    def counted(scores: Any, *how: Any) -> Any:
        widths.append(scores.shape[1])
        return highest(scores, *how)

    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, CORPUS, GRADES, k=k, corpus_chunk_size=chunk, score_function=score_function
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_highest_columns", counted)
        gc.disable()  # what is counted is not left to it
        try:
            ours(bi_encoder())
        finally:
            gc.enable()
    assert len(alive) == -(-len(CORPUS) // chunk)
    assert set(alive) == {(0, 0)}  # when a chunk is scored, the one before is gone
    assert max(widths) <= chunk + k
    assert {len(documents) for documents in ours.run.values()} == {k}


def test_a_bounded_number_of_tied_documents_is_kept(ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    def alike(queries: Any, documents: Any) -> Any:
        return torch.zeros(len(queries), len(documents))

    monkeypatch.setattr(evaluator, "TIED", 4)
    ours = ndcg.sentence_transformers_evaluator(
        QUERIES, CORPUS, GRADES, k=5, corpus_chunk_size=20, score_function=alike
    )
    ours(bi_encoder())
    assert all(list(documents) == sorted(CORPUS)[: 5 + 4] for documents in ours.run.values())


# --- How models are called ---


def test_prompts_are_put_before_queries_and_documents(ndcg: evaluate.Metric) -> None:
    model = bi_encoder(prompts={"ask": "w1 w2 "})
    how = {"query_prompt_name": "ask", "corpus_prompt": "w7 ", "truncate_dim": 8, "score_function": "euclidean"}
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=7, **how)
    queries = model.encode([f"w1 w2 {text}" for text in QUERIES.values()], truncate_dim=8)
    documents = model.encode([f"w7 {text}" for text in CORPUS.values()], truncate_dim=8)
    scores = -np.linalg.norm(queries[:, None].astype(float) - documents, axis=2)
    assert ours(model)["nDCG@7"] == pytest.approx(ndcg_score(judged(), scores, k=7), abs=1e-9)
    config = {name: value for name, value in how.items() if name != "score_function"}
    assert ours.get_config_dict() == {"signature": ours.report.signature, **config}


def test_a_sparse_embedding_may_be_cut_to_its_highest_dimensions(ndcg: evaluate.Metric) -> None:
    model = sparse_encoder()
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, k=150, max_active_dims=3, ties="average")
    embeddings = [
        encode(list(texts.values()), max_active_dims=3)
        for encode, texts in ((model.encode_query, QUERIES), (model.encode_document, CORPUS))
    ]
    scores = model.similarity(*embeddings).numpy()
    assert ours(model)["nDCG@150"] == pytest.approx(ndcg_score(judged(), scores), abs=1e-9)


def test_the_prompt_of_queries_is_that_of_a_rerankers_pairs(ndcg: evaluate.Metric, reranker: CrossEncoder) -> None:
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, candidates=GRADES, query_prompt="w5 w6 ")
    ours(reranker)
    pairs = [(QUERIES["q0"], CORPUS[document]) for document in ours.run["q0"]]
    expected = reranker.predict(pairs, prompt="w5 w6 ").tolist()
    assert list(ours.run["q0"].values()) == pytest.approx(expected, abs=1e-6)


# --- Training, files and cards ---


def test_a_trainer_evaluates_by_it_and_keeps_the_best_model(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    model = bi_encoder()
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, name="dev", gain="exponential")
    pairs = [(QUERIES[query], CORPUS[each]) for query, of in GRADES.items() for each, grade in of.items() if grade == 3]
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path),
        max_steps=6,
        per_device_train_batch_size=16,
        learning_rate=0.5,
        eval_strategy="steps",
        eval_steps=2,
        save_steps=2,
        load_best_model_at_end=True,
        metric_for_best_model=ours.primary_metric,
        eval_on_start=True,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
    )
    trainer = SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict(dict(zip(("anchor", "positive"), zip(*pairs, strict=True), strict=True))),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=ours,
    )
    trainer.train()
    logged = [each["eval_dev_nDCG@10"] for each in trainer.state.log_history if "eval_dev_nDCG@10" in each]
    assert len(logged) == 4
    assert trainer.state.best_metric == max(logged) > logged[0]
    final = ours(model)
    assert final["dev_nDCG@10"] == max(logged)
    with (tmp_path / "eval" / "nDCG_evaluation_dev_results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["nDCG@10"]) for row in rows] == logged
    assert [row["steps"] for row in rows] == ["0", "2", "4", "6"]
    assert list(rows[0]) == ["epoch", "steps", "nDCG@10", "nDCG@10/low", "nDCG@10/high"]

    assert model.model_card_data.eval_results_dict[ours] == final
    assert [each["Step"] for each in model.model_card_data.training_logs if "dev_nDCG@10" in each] == [0, 2, 4, 6, -1]
    model.save_pretrained(str(tmp_path / "saved"))
    card = (tmp_path / "saved" / "README.md").read_text(encoding="utf-8")
    assert f"| **nDCG@10**   | **{final['dev_nDCG@10']:.4f}** |".replace(" ", "") in card.replace(" ", "")
    assert ours.report.signature in card


def test_an_evaluated_model_is_pickled_as_for_other_processes(ndcg: evaluate.Metric) -> None:
    model = bi_encoder()
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, by=dict.fromkeys(QUERIES, "all"), name="dev")
    found = ours(model)
    copy = pickle.loads(pickle.dumps(model))
    ((evaluator_of_copy, results),) = copy.model_card_data.eval_results_dict.items()
    assert results == found
    assert (evaluator_of_copy.report, evaluator_of_copy.run) == (ours.report, ours.run)
    assert evaluator_of_copy(copy) == found


def test_no_file_is_written_unless_asked_for(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, write_csv=False)
    ours(bi_encoder(), str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_evaluators_of_one_name_write_other_columns_into_other_files(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    model = bi_encoder()
    evaluators = [
        ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, name="dev", **how)
        for how in ({"k": 5}, {"k": [5, 10]}, {"k": 5, "measures": "DCG"}, {"k": 5, "gain": "exponential"})
    ]
    (tmp_path / "nDCG_evaluation_dev_results.csv").touch()  # left by a full disk
    for step in (1, 2):
        for each in evaluators:
            each(model, str(tmp_path), steps=step)
    written = {path.name: path.read_text("utf-8").splitlines() for path in tmp_path.iterdir()}
    assert {name: [len(row.split(",")) for row in rows] for name, rows in written.items()} == {
        "nDCG_evaluation_dev_results.csv": [5] * 5,
        "nDCG_evaluation_dev_results_2.csv": [8] * 3,
        "nDCG_evaluation_dev_results_3.csv": [5] * 3,
    }


@pytest.mark.parametrize("name", ["BeIR/nq", "../dev", "a:b", "a\\b", "a\0b"])
def test_a_name_may_have_characters_that_no_file_name_has(ndcg: evaluate.Metric, tmp_path: Path, name: str) -> None:
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, name=name)
    assert ours.primary_metric == f"{name}_nDCG@10"
    ours(bi_encoder(), str(tmp_path / "eval"))
    (path,) = tmp_path.rglob("*.csv")
    assert path == tmp_path / "eval" / f"nDCG_evaluation_{re.sub(r'[^a-zA-Z.]', '-', name)}_results.csv"


# --- Errors ---


def changed(**grades: Any) -> dict[str, Any]:
    return {**GRADES, **grades}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": {}}, "queries is empty; give at least one entry"),
        ({"corpus": {}}, "corpus is empty; give at least one entry"),
        ({"relevant_docs": {}}, "relevant_docs is empty; give at least one entry"),
        ({"corpus": list(CORPUS.values())}, "corpus must be a mapping of ids to text; got list"),
        (
            {"relevant_docs": changed(q99={"d1": 1})},
            "relevant_docs: query 'q99' is not in queries \\(1 such queries\\); give its text, or remove it",
        ),
        (
            {"relevant_docs": changed(q2={"d1": 1, "x": 2})},
            "relevant_docs: query 'q2', document 'x': is not in corpus; give its text there, or remove it",
        ),
        ({"relevant_docs": changed(q2="d1")}, "relevant_docs: query 'q2': must hold ids of documents; got 'd1'"),
        ({"relevant_docs": changed(q2={"d1": np.nan})}, "relevant_docs: query 'q2', document 'd1': nan is not a "),
        ({"relevant_docs": changed(q2={"d1": -1})}, "relevant_docs: query 'q2', document 'd1': .*-1"),
        ({"candidates": {"q1": ["d1", "x"]}}, "candidates: query 'q1', document 'x': is not in corpus; "),
        ({"candidates": ["d1"]}, "candidates must be a mapping of ids to ids of documents; got list"),
        ({"exclude": ["d1"]}, "exclude must be a mapping of ids to ids of documents; got list"),
        ({"corpus": {**CORPUS, 7: "w1"}}, "corpus: ids must be all text or all integers"),
        ({"corpus_chunk_size": 0}, "corpus_chunk_size must be a positive integer; got 0"),
        ({"corpus_chunk_size": 1.5}, "corpus_chunk_size must be a positive integer; got 1.5"),
        ({"batch_size": True}, "batch_size must be a positive integer; got True"),
        ({"truncate_dim": -1}, "truncate_dim must be a positive integer; got -1"),
        ({"max_active_dims": 0}, "max_active_dims must be a positive integer; got 0"),
        ({"queries": {**QUERIES, "q1": None}}, "queries: 'q1': must be a string; got None"),
        ({"corpus": {**CORPUS, "d1": 3}}, "corpus: 'd1': must be a string; got 3"),
        ({"candidates": {1: ["d1"]}}, "candidates: query 1 is not in queries .*; ids are compared with their types"),
        ({"candidates": {}}, "candidates: no query of relevant_docs has any; give {query: ids}"),
        ({"by": {"q1": "de"}}, "by: query 'q0' is missing"),
        ({"sample_weight": [1, 2]}, "sample_weight must hold one weight for each of 30 queries; got 2"),
    ],
)
def test_inputs_that_cannot_be_scored_are_rejected_before_a_model_is_trained(
    ndcg: evaluate.Metric, arguments: dict[str, Any], message: str
) -> None:
    given = {"queries": QUERIES, "corpus": CORPUS, "relevant_docs": GRADES, **arguments}
    with pytest.raises(ValueError, match=f"^{message}"):
        ndcg.sentence_transformers_evaluator(**given)


def test_judgments_that_change_later_change_nothing(ndcg: evaluate.Metric) -> None:
    judgments = {query: dict(of_query) for query, of_query in GRADES.items()}
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, judgments)
    model = bi_encoder()
    before = ours(model)
    judgments["q1"].clear()
    assert ours(model) == before


def test_a_reranker_needs_documents_and_one_score_for_a_pair(
    ndcg: evaluate.Metric, reranker: CrossEncoder, reranker_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES)
    with pytest.raises(ValueError, match=r"^candidates are missing, and a reranker needs them; give \{query: ids\}"):
        ours(reranker)
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, candidates=GRADES)
    monkeypatch.setattr(reranker, "predict", lambda pairs, **how: np.zeros((len(pairs), 3)))
    with pytest.raises(ValueError, match=r"^model: gives 3 scores for a pair, but a reranker gives one"):
        ours(reranker)


def test_a_score_that_is_not_a_number_is_rejected_with_its_place(ndcg: evaluate.Metric) -> None:
    def broken(queries: Any, documents: Any) -> Any:
        scores = queries @ documents.T
        scores[4, 17] = torch.nan
        return scores

    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, score_function=broken)
    document = sorted(CORPUS)[17]
    with pytest.raises(ValueError, match=f"^predictions: query 'q4', document '{document}': nan is not a score"):
        ours(bi_encoder())


@pytest.mark.parametrize(
    ("score_function", "got"),
    [
        (lambda queries, documents: None, "NoneType"),
        (lambda queries, documents: (queries @ documents.T).numpy(), "ndarray"),
        (lambda queries, documents: documents @ queries.T, "(150, 30)"),
    ],
    ids=["nothing", "an array", "documents and queries"],
)
def test_scores_that_are_not_of_queries_and_documents_are_rejected(
    ndcg: evaluate.Metric, score_function: Any, got: str
) -> None:
    ours = ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, score_function=score_function)
    with pytest.raises(
        ValueError, match=r"^score_function: must return a tensor .* of shape \(30, 150\); got "
    ) as error:
        ours(bi_encoder())
    assert str(error.value).endswith(got)


def test_a_name_is_a_text(ndcg: evaluate.Metric) -> None:
    with pytest.raises(ValueError, match=r"^name must be a string; got 3$"):
        ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES, name=3)


def test_without_sentence_transformers_the_error_says_what_to_install(
    ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator._evaluator_class.cache_clear()
    monkeypatch.setitem(sys.modules, "sentence_transformers.base.evaluation", None)
    with pytest.raises(ImportError, match=r'needs sentence-transformers, .*: pip install "sentence-transformers>=6"$'):
        ndcg.sentence_transformers_evaluator(QUERIES, CORPUS, GRADES)
