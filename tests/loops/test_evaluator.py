"""The evaluator of embedding models has the library's scores, one chunk of the corpus at a time."""

import csv
import gc
import pickle
import re
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Dataset
from evaluate import Metric
from refusals import refusal
from sklearn.metrics import ndcg_score

from ndcg.loops import evaluator

pytestmark = [
    pytest.mark.xdist_group("torch"),  # which takes seconds to import
    # which PyTorch gives once in a process, wherever that comes first
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning"),
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = [f"w{number}" for number in range(80)]
RNG = np.random.default_rng(0)
QUERIES = {f"q{number}": " ".join(RNG.choice(WORDS, 4)) for number in range(30)}
CORPUS = {f"d{number}": " ".join(RNG.choice(WORDS, 12)) for number in range(150)}
GRADES = {
    query: {
        str(document): int(RNG.integers(0, 4))
        for document in RNG.choice(list(CORPUS), 12, replace=False)
    }
    for query in QUERIES
}
RELEVANT = {
    query: {document for document, grade in of.items() if grade} for query, of in GRADES.items()
}


def tokenizer() -> Any:
    """One token a word."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(
        WordLevel({word: at for at, word in enumerate(SPECIAL + WORDS)}, unk_token="[UNK]")
    )
    made.pre_tokenizer = Whitespace()
    templates = {"single": "[CLS] $A [SEP]", "pair": "[CLS] $A [SEP] $B:1 [SEP]:1"}
    made.post_processor = TemplateProcessing(
        **templates, special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {name.strip("[]").lower() + "_token": name for name in SPECIAL}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **names)


def bi_encoder(**options: Any) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(0)
    return SentenceTransformer(
        modules=[StaticEmbedding(tokenizer(), embedding_dim=16)], device="cpu", **options
    )


def sparse_encoder() -> Any:
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding

    torch.manual_seed(0)
    weight = torch.rand(len(SPECIAL + WORDS))
    return SparseEncoder(modules=[SparseStaticEmbedding(tokenizer(), weight=weight)], device="cpu")


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A BERT of one layer with random weights, as `CrossEncoder` loads it."""
    torch = pytest.importorskip("torch")
    sentence_transformers = pytest.importorskip("sentence_transformers")
    from transformers import BertConfig, BertForSequenceClassification
    from transformers.utils import logging as transformers_logging

    folder = tmp_path_factory.mktemp("reranker")
    transformers_logging.disable_progress_bar()
    torch.manual_seed(0)
    layers = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
    }
    sizes = {"vocab_size": len(SPECIAL + WORDS), "max_position_embeddings": 64, "num_labels": 1}
    BertForSequenceClassification(
        BertConfig(**layers, **sizes, initializer_range=0.5)
    ).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    yield sentence_transformers.CrossEncoder(str(folder), device="cpu")
    transformers_logging.enable_progress_bar()


Make = Callable[..., Any]


@pytest.fixture
def make(ndcg: Metric) -> Make:
    """Makes an evaluator of the texts above, unless it is given others."""
    texts = {"queries": QUERIES, "corpus": CORPUS, "relevant_docs": GRADES}
    return lambda **arguments: ndcg.sentence_transformers_evaluator(**texts | arguments)


def judged() -> np.ndarray:
    """The grade of every document for every query, 0 if it has none."""
    return np.array([[of.get(document, 0) for document in CORPUS] for of in GRADES.values()])


def similarity(model: Any) -> np.ndarray:
    """The score of every document for every query."""
    return model.similarity(
        model.encode_query([*QUERIES.values()]), model.encode_document([*CORPUS.values()])
    ).numpy()


# --- Scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("repeats", [1, 3], ids=["no ties", "every text three times"])
@pytest.mark.parametrize("model", [bi_encoder, sparse_encoder])
def test_binary_relevance_has_the_score_of_the_library_s_own_evaluator(
    make: Make, model: Any, repeats: int
) -> None:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.sparse_encoder.evaluation import SparseInformationRetrievalEvaluator

    library = (
        InformationRetrievalEvaluator
        if model is bi_encoder
        else SparseInformationRetrievalEvaluator
    )
    corpus = {
        f"{document}-{copy}": text for document, text in CORPUS.items() for copy in range(repeats)
    }
    relevant = {query: {f"{document}-0" for document in of} for query, of in RELEVANT.items()} | {
        "q0": set()
    }
    shared = {"corpus": corpus, "relevant_docs": relevant, "name": "dev", "corpus_chunk_size": 40}
    ours = make(k=[3, 10], convention="sentence_transformers", **shared)
    expected, found = library(QUERIES, ndcg_at_k=[3, 10], **shared)(model()), ours(model())
    for k in (3, 10):
        (name,) = (each for each in expected if each.endswith(f"_ndcg@{k}"))
        assert found[f"dev_nDCG@{k}"] == pytest.approx(expected[name], abs=1e-9)
    assert ours.report.counts["left_out"] == 1


def test_a_reranker_has_the_score_of_the_library_s_own_evaluator(make: Make, reranker: Any) -> None:
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator

    candidates = {
        query: list(dict.fromkeys([*RELEVANT[query], *list(CORPUS)[:20]])) for query in QUERIES
    }
    samples = [
        {
            "query": QUERIES[query],
            "positive": [*map(CORPUS.get, RELEVANT[query])],
            "documents": [*map(CORPUS.get, candidates[query])],
        }
        for query in QUERIES
    ]
    expected = CrossEncoderRerankingEvaluator(samples, at_k=10)(reranker)
    ours = make(relevant_docs=RELEVANT, candidates=candidates, corpus_chunk_size=50)
    assert ours(reranker)["nDCG@10"] == pytest.approx(expected["ndcg@10"], abs=1e-9)


@pytest.mark.parametrize("model", [bi_encoder, sparse_encoder])
def test_graded_relevance_has_the_score_of_sklearn_on_the_whole_corpus(
    make: Make, model: Any
) -> None:
    scores = similarity(model())
    found = make(k=[5, 20], ties="first")(model())
    in_order = scores - 1e-6 * np.argsort(
        np.argsort(list(CORPUS))
    )  # of equal scores the lowest id comes first
    for k in (5, 20):
        assert found[f"nDCG@{k}"] == pytest.approx(ndcg_score(judged(), in_order, k=k), abs=1e-9)
    ours = make(k=None)
    assert ours(model())["nDCG"] == pytest.approx(ndcg_score(judged(), scores), abs=1e-9)
    assert all(len(documents) == len(CORPUS) for documents in ours.run.values())


def test_a_call_returns_the_figures_of_the_report_on_the_run(ndcg: Metric, make: Make) -> None:
    languages = {query: "de" if int(query[1:]) % 3 else "en" for query in QUERIES}
    options: dict[str, Any] = {
        "k": [5, 10],
        "measures": ["nDCG", "DCG"],
        "gain": "exponential",
        "by": languages,
    }
    options |= {"sample_weight": np.arange(1, len(QUERIES) + 1), "confidence": 0.9}
    ours = make(**options, name="dev")
    assert ours.primary_metric == "dev_nDCG@5"
    found = ours(bi_encoder())
    assert ours.report == ndcg.report(predictions=ours.run, references=GRADES, **options)
    assert found == {f"dev_{name}": value for name, value in ours.report.flat().items()}
    assert all(type(value) is float for value in found.values())


class Texts:
    """In place of a model, its embeddings are the texts."""

    def encode_query(self, texts: list[str], **options: Any) -> list[str]:
        return texts

    encode_document = encode_query


@pytest.mark.parametrize("chunk", [20, 50_000], ids=["in two chunks", "in one"])
def test_documents_that_tie_as_32_bit_floats_at_the_cutoff_are_in_the_run(
    ndcg: Metric, make: Make, chunk: int
) -> None:
    import torch

    def falling(queries: Any, documents: Any) -> Any:  # sigmoids in 64 bits, which are all 1 in 32
        numbers = torch.tensor([int(text[1:]) for text in documents], dtype=torch.float64)
        return torch.sigmoid(20 - numbers / 1000).repeat(len(queries), 1)

    corpus = {f"d{rank:02}": f"w{rank}" for rank in range(1, 31)}
    relevant = {"q1": {"d30": 1}, "q2": {"d01": 1}}
    shared = {
        "relevant_docs": relevant,
        "corpus": corpus,
        "score_function": falling,
        "corpus_chunk_size": chunk,
    }
    every = dict(zip(corpus, falling(["q"], list(corpus.values()))[0].tolist(), strict=True))
    for score_dtype, kept in ((None, 30), ("given", 2)):
        options = {"k": 2, "convention": "pytrec_eval", "score_dtype": score_dtype}
        run = make(**shared, **options).search.run(Texts())
        assert [len(documents) for documents in run.values()] == [kept, kept]
        whole = ndcg.compute(
            predictions=dict.fromkeys(relevant, every), references=relevant, **options
        )
        assert ndcg.compute(predictions=run, references=relevant, **options) == whole
    assert whole == {"nDCG@2": 0.5}


def test_the_nearest_document_ranks_first_by_its_distance(make: Make) -> None:
    import torch

    def distances(queries: Any, documents: Any) -> Any:
        return torch.cdist(queries, documents).round(decimals=2)  # with ties

    shared = {"k": 5, "judged_only": True, "corpus_chunk_size": 40}
    nearest = make(score_function=distances, score_order="ascending", **shared)
    similar = make(score_function=lambda *both: -distances(*both), **shared)
    assert nearest(bi_encoder()) == similar(bi_encoder())
    assert all(list(of.values()) == sorted(of.values()) for of in nearest.run.values())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"judged_only": True},
        {"ideal": "retrieved"},
        {"ideal": "truncated"},
        {"ignore_index": 1},
        {"exclude_from": "run"},
    ],
    ids=str,
)
@pytest.mark.parametrize("ties", ["average", "first", "last", "best", "worst", "docid"])
def test_the_run_has_the_scores_of_the_whole_ranking(
    ndcg: Metric, make: Make, ties: str, options: dict[str, Any]
) -> None:
    """It holds only documents that can change the score, with judged ones below the cutoff."""

    def rounded(queries: Any, documents: Any) -> Any:
        return (queries.double() @ documents.double().T).round().long()

    exclude = {query: list(of)[:2] for query, of in GRADES.items()}
    options = {"exclude": exclude, "measures": ["nDCG", "DCG", "IDCG"], "ties": ties, **options}
    whole, ours = (
        make(k=k, corpus_chunk_size=40, score_function=rounded, **options) for k in (None, [1, 7])
    )
    whole(bi_encoder())
    found = ours(bi_encoder())
    assert max(map(len, ours.run.values())) < len(CORPUS)
    for name, value in ndcg.compute(
        predictions=whole.run, references=GRADES, k=[1, 7], **options
    ).items():
        assert found[name] == pytest.approx(value, rel=1e-12)


def test_a_model_that_finds_nothing_relevant_gives_no_warning(make: Make) -> None:
    worst = similarity(bi_encoder()).argmin(axis=1)
    relevant = {query: {list(CORPUS)[at]} for query, at in zip(QUERIES, worst, strict=True)}
    assert make(relevant_docs=relevant, k=1)(bi_encoder())["nDCG@1"] == 0


# --- Candidates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", [None, "w5 w6 "])
def test_the_run_of_a_retriever_is_what_a_reranker_reranks(
    make: Make, reranker: Any, prompt: str | None
) -> None:
    retriever = make(k=20)
    retriever(bi_encoder())
    ours = make(k=10, candidates=retriever.run, corpus_chunk_size=9, query_prompt=prompt)
    ours(reranker)
    for query, documents in ours.run.items():
        pairs = [(QUERIES[query], CORPUS[document]) for document in retriever.run[query]]
        scores = reranker.predict(pairs, prompt=prompt)
        assert documents == pytest.approx(
            dict(zip(retriever.run[query], scores.tolist(), strict=True)), abs=1e-6
        )
        assert list(documents.values()) == sorted(documents.values(), reverse=True)


def test_only_candidates_are_ranked(make: Make) -> None:
    scores = dict(zip(QUERIES, similarity(bi_encoder()), strict=True))
    places = {document: at for at, document in enumerate(CORPUS)}
    ours = make(k=5, candidates=GRADES, corpus_chunk_size=9)
    expected = [
        ndcg_score([list(of.values())], [[scores[query][places[each]] for each in of]], k=5)
        for query, of in GRADES.items()
    ]
    assert ours(bi_encoder())["nDCG@5"] == pytest.approx(np.mean(expected), abs=1e-9)
    assert all(documents.keys() <= GRADES[query].keys() for query, documents in ours.run.items())


def test_a_query_without_candidates_is_missing_from_the_run(make: Make, reranker: Any) -> None:
    documents = {query: list(CORPUS)[:9] for query in QUERIES if query != "q3"}
    for model in (bi_encoder(), reranker):
        empty, skipped = (
            make(k=5, candidates=documents, missing=missing) for missing in (None, "skip")
        )
        assert empty(model)["nDCG@5"] == pytest.approx(
            skipped(model)["nDCG@5"] * 29 / 30, rel=1e-12
        )
        assert set(empty.run) == set(documents)


# --- Chunks and memory ----------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [7, 149])
def test_the_run_is_the_same_whatever_the_chunks(make: Make, chunk: int) -> None:
    corpus = {f"{document}-{copy}": text for copy in range(4) for document, text in CORPUS.items()}
    relevant = {
        query: {f"{document}-0": grade for document, grade in of.items()}
        for query, of in GRADES.items()
    }
    shared = {"corpus": corpus, "relevant_docs": relevant}
    shared["score_function"] = lambda queries, documents: (
        queries.double() @ documents.double().T * 2**20
    ).round()
    whole, cut = (make(corpus_chunk_size=size, **shared) for size in (1000, chunk))
    assert whole(bi_encoder()) == cut(bi_encoder())
    assert [list(each.items()) for each in whole.run.values()] == [
        list(each.items()) for each in cut.run.values()
    ]
    for documents in cut.run.values():
        ranked = sorted(
            documents, key=lambda document, scores=documents: (-scores[document], document)
        )
        assert list(documents) == ranked


def test_only_one_chunk_of_the_corpus_and_k_documents_of_each_query_are_kept(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Any]] = []
    alive, widths = [], []
    highest = evaluator._highest_columns

    def score_function(queries: Any, documents: Any) -> Any:
        alive.append(sum(each() is not None for each in made))
        scores = queries @ documents.T
        made.extend(map(weakref.ref, (documents, scores)))
        return scores

    def highest_of_few(scores: Any, *others: Any) -> Any:
        widths.append(scores.shape[1])
        return highest(scores, *others)

    ours = make(k=5, corpus_chunk_size=20, score_function=score_function)
    monkeypatch.setattr(evaluator, "_highest_columns", highest_of_few)
    gc.disable()  # memory must be free without it
    try:
        ours(bi_encoder())
    finally:
        gc.enable()
    assert alive == [0] * 8  # when a chunk is scored, the one before is gone
    assert max(widths) <= 20 + 5
    assert {len(documents) for documents in ours.run.values()} == {5}


def test_a_bounded_number_of_tied_documents_is_kept(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(evaluator, "TIED", 4)
    ours = make(
        k=5, corpus_chunk_size=20, score_function=lambda *both: torch.zeros(*map(len, both))
    )
    ours(bi_encoder())
    assert all(list(documents) == sorted(CORPUS)[: 5 + 4] for documents in ours.run.values())


# --- How models are called ------------------------------------------------------------------------


def test_prompts_are_put_before_queries_and_documents(make: Make) -> None:
    model = bi_encoder(prompts={"ask": "w1 w2 "})
    options = {"query_prompt_name": "ask", "corpus_prompt": "w7 ", "truncate_dim": 8}
    ours = make(k=7, score_function="euclidean", **options)
    queries = model.encode([f"w1 w2 {text}" for text in QUERIES.values()], truncate_dim=8)
    documents = model.encode([f"w7 {text}" for text in CORPUS.values()], truncate_dim=8)
    scores = -np.linalg.norm(queries[:, None].astype(float) - documents, axis=2)
    assert ours(model)["nDCG@7"] == pytest.approx(ndcg_score(judged(), scores, k=7), abs=1e-9)
    assert ours.get_config_dict() == {"signature": ours.report.signature, **options}


def test_a_sparse_embedding_may_be_cut_to_its_highest_dimensions(make: Make) -> None:
    model = sparse_encoder()
    texts = ((model.encode_query, QUERIES), (model.encode_document, CORPUS))
    embeddings = [encode(list(each.values()), max_active_dims=3) for encode, each in texts]
    expected = ndcg_score(judged(), model.similarity(*embeddings).numpy())
    assert make(k=150, max_active_dims=3)(model)["nDCG@150"] == pytest.approx(expected, abs=1e-9)


# --- Training, files and cards --------------------------------------------------------------------


def test_a_trainer_keeps_the_best_model_and_its_card_the_scores(make: Make, tmp_path: Path) -> None:
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    model, ours = bi_encoder(), make(name="dev", gain="exponential")
    pairs = [
        (QUERIES[query], CORPUS[each])
        for query, of in GRADES.items()
        for each, grade in of.items()
        if grade == 3
    ]
    quiet = {
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": True,
        "dataloader_pin_memory": False,
    }
    steps = {
        "max_steps": 6,
        "eval_strategy": "steps",
        "eval_steps": 2,
        "save_steps": 2,
        "eval_on_start": True,
    }
    best = {
        "load_best_model_at_end": True,
        "metric_for_best_model": ours.primary_metric,
        "learning_rate": 0.5,
    }
    arguments = SentenceTransformerTrainingArguments(str(tmp_path), **quiet, **steps, **best)
    data = Dataset.from_list([{"anchor": query, "positive": document} for query, document in pairs])
    loss = MultipleNegativesRankingLoss(model)
    trainer = SentenceTransformerTrainer(
        model, arguments, train_dataset=data, loss=loss, evaluator=ours
    )
    trainer.train()
    logged = [
        each["eval_dev_nDCG@10"] for each in trainer.state.log_history if "eval_dev_nDCG@10" in each
    ]
    assert len(logged) == 4
    assert trainer.state.best_metric == max(logged) > logged[0]
    final = ours(model)
    with (tmp_path / "eval" / "nDCG_evaluation_dev_results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["nDCG@10"]) for row in rows] == logged
    assert [row["steps"] for row in rows] == ["0", "2", "4", "6"]
    assert list(rows[0]) == ["epoch", "steps", "nDCG@10", "nDCG@10/low", "nDCG@10/high"]
    assert model.model_card_data.eval_results_dict[ours] == final
    assert [
        each["Step"] for each in model.model_card_data.training_logs if "dev_nDCG@10" in each
    ] == [0, 2, 4, 6, -1]
    model.save_pretrained(str(tmp_path / "saved"))
    card = (tmp_path / "saved" / "README.md").read_text(encoding="utf-8")
    assert f"| **nDCG@10**   | **{final['dev_nDCG@10']:.4f}** |".replace(" ", "") in card.replace(
        " ", ""
    )
    assert ours.report.signature in card


def test_an_evaluated_model_can_be_pickled(make: Make) -> None:
    model, ours = bi_encoder(), make(by=dict.fromkeys(QUERIES, "all"), name="dev")
    found = ours(model)
    copy = pickle.loads(pickle.dumps(model))
    ((evaluator_of_copy, results),) = copy.model_card_data.eval_results_dict.items()
    assert results == found == evaluator_of_copy(copy)
    assert (evaluator_of_copy.report, evaluator_of_copy.run) == (ours.report, ours.run)


def test_evaluators_of_one_name_write_different_columns_into_different_files(
    make: Make, tmp_path: Path
) -> None:
    model = bi_encoder()
    options = (
        {"k": 5},
        {"k": [5, 10]},
        {"k": 5, "measures": "DCG"},
        {"k": 5, "gain": "exponential"},
    )
    evaluators = [
        *(make(name="dev", **each) for each in options),
        make(name="silent", write_csv=False),
    ]
    (tmp_path / "nDCG_evaluation_dev_results.csv").touch()  # left by a full disk
    for step in (1, 2):
        for each in evaluators:
            each(model, str(tmp_path), steps=step)
    rows = {path.name: path.read_text("utf-8").splitlines() for path in tmp_path.iterdir()}
    assert {name: [len(row.split(",")) for row in of_file] for name, of_file in rows.items()} == {
        "nDCG_evaluation_dev_results.csv": [5] * 5,
        "nDCG_evaluation_dev_results_2.csv": [8] * 3,
        "nDCG_evaluation_dev_results_3.csv": [5] * 3,
    }


@pytest.mark.parametrize("name", ["../dev", "a:b\\c\0d"])
def test_a_name_may_have_characters_that_no_file_name_has(
    make: Make, tmp_path: Path, name: str
) -> None:
    make(name=name)(bi_encoder(), str(tmp_path / "eval"))
    (path,) = tmp_path.rglob("*.csv")
    assert (
        path
        == tmp_path / "eval" / f"nDCG_evaluation_{re.sub(r'[^a-zA-Z.]', '-', name)}_results.csv"
    )


def test_judgments_that_change_later_change_nothing(make: Make) -> None:
    judgments, model = {query: dict(of) for query, of in GRADES.items()}, bi_encoder()
    ours = make(relevant_docs=judgments)
    before = ours(model)
    judgments["q1"].clear()
    assert ours(model) == before


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"queries": {}}, "relevant_docs: query 'q0'"),
        ({"corpus": {}}, "relevant_docs: query 'q0', document 'd35'"),
        ({"corpus": list(CORPUS.values())}, "corpus"),
        (
            {"relevant_docs": {"q99": {"d1": 1}}},
            "relevant_docs: query 'q99'",
        ),
        (
            {"relevant_docs": {"q2": {"d1": 1, "x": 2}}},
            "relevant_docs: query 'q2', document 'x'",
        ),
        (
            {"relevant_docs": {"q2": "d1"}},
            "relevant_docs: query 'q2'",
        ),
        (
            {"relevant_docs": {"q2": {"d1": np.nan}}},
            "relevant_docs: query 'q2', document 'd1'",
        ),
        ({"relevant_docs": {"q2": {"d1": -1}}}, "relevant_docs: query 'q2', document 'd1'"),
        (
            {"candidates": {"q1": ["d1", "x"]}},
            "candidates: query 'q1', document 'x'",
        ),
        (
            {"candidates": ["d1"]},
            "candidates",
        ),
        (
            {"candidates": {1: ["d1"]}},
            "candidates: query 1",
        ),
        ({"candidates": {}}, "candidates"),
        ({"exclude": ["d1"]}, "exclude"),
        ({"exclude": {"q1": "d01"}}, "exclude: query 'q1'"),
        ({"corpus": {**CORPUS, 7: "w1"}}, "corpus"),
        ({"corpus_chunk_size": 0}, "corpus_chunk_size"),
        ({"batch_size": True}, "batch_size"),
        ({"truncate_dim": -1}, "truncate_dim"),
        ({"max_active_dims": 0}, "max_active_dims"),
        ({"queries": {**QUERIES, "q1": None}}, "queries"),
        ({"corpus": {**CORPUS, "d1": 3}}, "corpus"),
        ({"by": {"q1": "de"}}, "by: query 'q0'"),
        (
            {"sample_weight": [1, 2]},
            "sample_weight",
        ),
    ],
)
def test_arguments_that_cannot_be_scored_are_rejected_before_a_model_is_trained(
    make: Make, arguments: dict[str, Any], named: str
) -> None:
    pytest.importorskip("sentence_transformers")
    with refusal(*named.split(": ")):
        make(**arguments)


def test_a_reranker_needs_candidates_and_one_score_for_a_pair(
    make: Make, reranker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refusal("candidates"):
        make()(reranker)
    monkeypatch.setattr(reranker, "predict", lambda pairs, **options: np.zeros((len(pairs), 3)))
    with refusal("model"):
        make(candidates=GRADES)(reranker)


def not_a_number(queries: Any, documents: Any) -> Any:
    scores = queries @ documents.T
    scores[4, 17] = np.nan
    return scores


@pytest.mark.parametrize(
    ("score_function", "named"),
    [
        (
            lambda queries, documents: None,
            ("score_function",),
        ),
        (
            lambda queries, documents: (queries @ documents.T).numpy(),
            ("score_function",),
        ),
        (lambda queries, documents: documents @ queries.T, ("score_function",)),
        (
            not_a_number,
            ("predictions", f"query 'q4', document '{sorted(CORPUS)[17]}'"),
        ),
    ],
    ids=["nothing", "an array", "documents and queries", "nan"],
)
def test_scores_that_do_not_rank_the_documents_are_rejected(
    make: Make, score_function: Any, named: tuple[str, ...]
) -> None:
    with refusal(*named):
        make(score_function=score_function)(bi_encoder())


def test_without_sentence_transformers_the_error_says_what_to_install(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator._evaluator_class.cache_clear()
    monkeypatch.setitem(sys.modules, "sentence_transformers.base.evaluation", None)
    with pytest.raises(
        ImportError,
        match=r'needs sentence-transformers, .*: pip install "sentence-transformers>=6"$',
    ):
        make()
