"""Every recipe of docs/recipes.md, on objects of the tool's shape, scores as the mapping does."""

import ast
import json
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from markdown_pages import FENCE, text
from scipy.sparse import csr_array

import ndcg

RUN = {"q1": {"d2": 0.9, "d1": 0.8, "d7": 0.4, "d3": 0.2}, "q2": {"d5": 0.6, "d4": 0.5}}
QRELS = {"q1": {"d1": 3, "d2": 0, "d3": 1, "d9": 2}, "q2": {"d4": 1, "d5": 0}}
QUERIES = list(RUN)
RANKED = {query: list(documents) for query, documents in RUN.items()}
RELEVANT = {"q1": ["d1", "d3", "d9"], "q2": ["d4"]}
SENT = {"q1": ["d1", "d2", "d3", "d7"], "q2": ["d4", "d5"]}  # the texts of a reranker, by their ids
NUMBERS = {"d1": 1, "d2": 2, "d3": 3, "d4": 4, "d5": 5, "d7": 7, "d9": 9}
IDS = np.array([[2, 1, 7, 3], [5, 4, -1, -1]])
SCORES = np.array([[0.9, 0.8, 0.4, 0.2], [0.6, 0.5, -3.4e38, -3.4e38]], np.float32)
SPARSE = csr_array([[0, 3, 0, 1, 0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 1, 0, 0, 0, 0, 0]])


class Shape(NamedTuple):
    """What a recipe needs, in the shape in which the tool has it."""

    names: Mapping[str, Any]  # the names that the recipe uses
    references: Mapping[str, Any] = QRELS  # the judgments as the mapping has them


SHAPES: dict[str, Callable[[Path], list[Shape]]] = {}  # of each recipe of a tool


def shape(tool: str) -> Callable[[Callable[[Path], list[Shape]]], Callable[[Path], list[Shape]]]:
    """Keep a function as the one that makes the objects of a tool."""

    def keep(function: Callable[[Path], list[Shape]]) -> Callable[[Path], list[Shape]]:
        SHAPES[tool] = function
        return function

    return keep


def objects(make: Callable[[str, float], Any]) -> dict[str, list[Any]]:
    """Return an object for each document of each query."""
    return {
        query: [make(document, score) for document, score in documents.items()]
        for query, documents in RUN.items()
    }


def rows_of(rankings: Mapping[str, Mapping[str, Any]], *names: str) -> pd.DataFrame:
    """Return rankings as a table."""
    rows = [
        (query, document, value)
        for query, documents in rankings.items()
        for document, value in documents.items()
    ]
    return pd.DataFrame(rows, columns=names)


# Search engines


@shape("Elasticsearch, OpenSearch")
def elasticsearch(folder: Path) -> list[Shape]:
    stored = ({"title": "t"}, {"title": "t", "doc_id": "x", "score": 3})
    plain, named = [responses_of_elasticsearch(source) for source in stored]
    answer = {"took": 7, "responses": list(plain.values())}
    return [
        Shape({"responses": plain}),
        Shape({"answer": answer, "queries": QUERIES}),
        Shape({"responses": named}),
    ]


def responses_of_elasticsearch(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response for each query, whose hits have a source."""
    hits = objects(
        lambda document, score: {"_index": "i", "_id": document, "_score": score, "_source": source}
    )
    return {
        query: {
            "took": 3,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"total": {"value": 4, "relation": "eq"}, "max_score": 0.9, "hits": found},
        }
        for query, found in hits.items()
    }


@shape("Solr")
def solr(folder: Path) -> list[Shape]:
    documents = objects(
        lambda document, score: {"id": document, "title": ["t"], "popularity": 3, "score": score}
    )
    return [
        Shape(
            {
                "results": {
                    query: SimpleNamespace(docs=docs, hits=4) for query, docs in documents.items()
                }
            }
        )
    ]


@shape("Vespa")
def vespa(folder: Path) -> list[Shape]:
    def hit(document: str, score: float) -> dict[str, Any]:
        stored = {"sddocname": "doc", "documentid": f"id:ns:doc::{document}", "doc_id": document}
        return {
            "id": f"id:ns:doc::{document}",
            "relevance": score,
            "source": "content",
            "fields": stored,
        }

    hits = objects(hit)
    return [
        Shape(
            {
                "responses": {
                    query: SimpleNamespace(hits=of_query) for query, of_query in hits.items()
                }
            }
        )
    ]


@shape("Whoosh")
def whoosh(folder: Path) -> list[Shape]:
    return [Shape({"results": objects(HitOfWhoosh)})]


class HitOfWhoosh:
    """A hit with the stored fields of its document by name, beside its score."""

    def __init__(self, document: str, score: float) -> None:
        self._document, self.score = document, score

    def __getitem__(self, name: str) -> str:
        return {"path": self._document, "title": "a title"}[name]


@shape("Quepid")
def quepid(folder: Path) -> list[Shape]:
    lines = ["Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position"]
    for query, documents in RUN.items():
        lines += [
            f"s,2026-01-02,7,{query},{document},{rank}"
            for rank, document in enumerate(documents, 1)
        ]
    (folder / "snapshot.csv").write_text("\r\n".join(lines))
    rows_of(QRELS, "query", "docid", "rating").to_csv(folder / "ratings.csv", index=False)
    return [Shape({})]


@shape("OpenSearch's judgment lists")
def judgment_lists(folder: Path) -> list[Shape]:
    lists = {
        "name": "judged",
        "judgmentRatings": [
            {
                "query": query,
                "ratings": [
                    {"docId": document, "rating": str(grade)} for document, grade in judged.items()
                ],
            }
            for query, judged in QRELS.items()
        ],
    }
    return [Shape({"run": RUN, "lists": lists})]


# Vector stores


@shape("Qdrant")
def qdrant(folder: Path) -> list[Shape]:
    def point(document: str, score: float) -> Any:
        return SimpleNamespace(
            id=document, version=0, score=score, payload={"title": "t"}, vector=None
        )

    return [
        Shape(
            {
                "responses": {
                    query: SimpleNamespace(points=points)
                    for query, points in objects(point).items()
                }
            }
        )
    ]


class ScoredVector:
    """A hit of Pinecone, which has slots in place of `__dict__`, as msgspec makes them."""

    __slots__ = ("id", "metadata", "score", "values")
    __struct_fields__ = __slots__

    def __init__(self, document: str, score: float) -> None:
        self.id, self.score, self.values, self.metadata = document, score, [], {"genre": "g"}


class QueryResponse:
    """A response of Pinecone."""

    __slots__ = ("matches", "namespace", "usage")
    __struct_fields__ = __slots__

    def __init__(self, matches: list[ScoredVector]) -> None:
        self.matches, self.namespace, self.usage = matches, "", None


@shape("Pinecone")
def pinecone(folder: Path) -> list[Shape]:
    return [
        Shape(
            {
                "responses": {
                    query: QueryResponse(hits) for query, hits in objects(ScoredVector).items()
                }
            }
        )
    ]


@shape("Weaviate")
def weaviate(folder: Path) -> list[Shape]:
    def found(document: str, score: float) -> Any:
        metadata = SimpleNamespace(distance=1 - score, certainty=None, score=0.0, explain_score="")
        stored = {"doc_id": document, "title": "t"}
        return SimpleNamespace(
            uuid="6ba7b810", metadata=metadata, properties=stored, vector={}, collection="Documents"
        )

    return [
        Shape(
            {
                "responses": {
                    query: SimpleNamespace(objects=hits) for query, hits in objects(found).items()
                }
            }
        )
    ]


@shape("Chroma")
def chroma(folder: Path) -> list[Shape]:
    distances = [[1 - score for score in documents.values()] for documents in RUN.values()]
    result = {
        "ids": list(RANKED.values()),
        "distances": distances,
        "metadatas": None,
        "included": ["distances"],
    }
    return [Shape({"result": result, "queries": QUERIES})]


@shape("Redis")
def redis(folder: Path) -> list[Shape]:
    found = {
        query: SimpleNamespace(
            total=len(documents),
            duration=1.2,
            docs=[
                SimpleNamespace(id=document, payload=None, vector_score=str(round(1 - score, 9)))
                for document, score in documents.items()
            ],
            warnings=[],
        )
        for query, documents in RUN.items()
    }
    return [Shape({"results": found})]


@shape("Milvus")
def milvus(folder: Path) -> list[Shape]:
    hits = objects(
        lambda document, score: {"id": document, "distance": score, "entity": {"title": "t"}}
    )
    return [Shape({"results": list(hits.values()), "queries": QUERIES})]


@shape("FAISS")
def faiss(folder: Path) -> list[Shape]:
    found = {"scores": SCORES, "ids": IDS, "queries": QUERIES}
    names = np.array(["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"])
    return [Shape({**found, "qrels": by_number(QRELS)}), Shape({**found, "names": names})]


def by_number(rankings: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[int, Any]]:
    """Return rankings with numbers in place of the ids of documents."""
    return {
        query: {NUMBERS[document]: value for document, value in documents.items()}
        for query, documents in rankings.items()
    }


# Frameworks and rerankers


@shape("LangChain")
def langchain(folder: Path) -> list[Shape]:
    def pair(document: str, score: float) -> Any:
        metadata = {"doc_id": document, "page": 3, "source": "f.pdf"}
        return SimpleNamespace(
            id="9c1", metadata=metadata, page_content="text", type="Document"
        ), score

    results = objects(pair)
    documents = {query: [document for document, _ in pairs] for query, pairs in results.items()}
    return [Shape({"results": results}), Shape({"documents": documents})]


@shape("LlamaIndex")
def llamaindex(folder: Path) -> list[Shape]:
    def chunk(document: str, score: float) -> Any:
        node = SimpleNamespace(
            id_=f"{document}-0", ref_doc_id=document, metadata={"file": "f"}, text="text"
        )
        return SimpleNamespace(node=node, score=score)

    results = objects(chunk)
    results["q1"].insert(2, chunk("d1", 0.7))  # another chunk of a document

    def judged_chunk(document: str, score: float) -> Any:
        node = SimpleNamespace(
            id_=document, relationships={"1": SimpleNamespace(node_id="f", hash="9c1")}
        )
        return SimpleNamespace(node=node, score=score)

    return [Shape({"results": results}), Shape({"results": objects(judged_chunk)})]


@shape("Haystack")
def haystack(folder: Path) -> list[Shape]:
    def document(name: str, score: float) -> Any:
        return SimpleNamespace(
            id=name, content="text", blob=None, meta={"file": "f"}, score=score, embedding=None
        )

    results = {query: {"documents": found} for query, found in objects(document).items()}
    expected = {
        query: [document(name, grade) for name, grade in judged.items()]
        for query, judged in QRELS.items()
    }
    return [Shape({"results": results}), Shape({"results": results, "expected": expected})]


@shape("Cohere")
def cohere(folder: Path) -> list[Shape]:
    responses = {
        query: SimpleNamespace(
            id="r",
            results=[
                SimpleNamespace(index=SENT[query].index(document), relevance_score=score)
                for document, score in documents.items()
            ],
        )
        for query, documents in RUN.items()
    }
    return [Shape({"responses": responses, "sent": SENT})]


@shape("CrossEncoder.rank")
def cross_encoder(folder: Path) -> list[Shape]:
    ranked = {
        query: [
            {"corpus_id": SENT[query].index(document), "score": np.float32(score)}
            for document, score in documents.items()
        ]
        for query, documents in RUN.items()
    }
    return [Shape({"ranked": ranked, "sent": SENT})]


@shape("semantic_search")
def semantic_search(folder: Path) -> list[Shape]:
    corpus = list(NUMBERS)
    hits = objects(lambda document, score: {"corpus_id": corpus.index(document), "score": score})
    return [Shape({"results": list(hits.values()), "queries": QUERIES, "corpus_ids": corpus})]


# Toolkits and data sets


@shape("PyTerrier")
def pyterrier(folder: Path) -> list[Shape]:
    results = rows_of(RUN, "qid", "docno", "score")
    results.insert(1, "docid", [7, 3, 4, 1, 0, 2])
    results["rank"] = [0, 1, 2, 3, 0, 1]
    results["query"] = "words"
    return [Shape({"results": results, "qrels": rows_of(QRELS, "qid", "docno", "label")})]


@shape("ranx")
def ranx(folder: Path) -> list[Shape]:
    run, qrels = (SimpleNamespace(to_dict=lambda side=side: side) for side in (RUN, QRELS))
    return [Shape({"run": run, "qrels": qrels})]


@shape("BEIR")
def beir(folder: Path) -> list[Shape]:
    results = {
        "q1": {"q1": 1.0, **RUN["q1"]},
        "q2": RUN["q2"],
    }  # its first query is a document, too
    return [Shape({"results": results, "qrels": QRELS})]


@shape("MTEB")
def mteb(folder: Path) -> list[Shape]:
    return [
        Shape({"predictions": {"mteb_model_meta": {"model_name": "m"}, "default": {"test": RUN}}})
    ]


@shape("MS MARCO")
def ms_marco(folder: Path) -> list[Shape]:
    run = "".join(
        f"10{query[1]}\t{NUMBERS[document]}\t{rank}\n"
        for query, documents in RUN.items()
        for rank, document in enumerate(documents, 1)
    )
    qrels = "".join(
        f"10{query[1]}\t0\t{NUMBERS[document]}\t{grade}\n"
        for query, documents in QRELS.items()
        for document, grade in documents.items()
    )
    (folder / "run.tsv").write_text(run)
    (folder / "qrels.dev.small.tsv").write_text(qrels)
    return [Shape({})]


# Evaluation and traces


@shape("Ragas")
def ragas(folder: Path) -> list[Shape]:
    samples = [
        SimpleNamespace(
            user_input=f"What is {query}?",
            retrieved_contexts=["text"] * len(found),
            reference_contexts=None,
            retrieved_context_ids=found,
            reference_context_ids=RELEVANT[query],
            response="answer",
        )
        for query, found in RANKED.items()
    ]
    return [Shape({"dataset": SimpleNamespace(samples=samples)}, RELEVANT)]


@shape("DeepEval")
def deepeval(folder: Path) -> list[Shape]:
    def texts(ids: list[str]) -> list[str]:
        return [f"The text of {document}." for document in ids]

    cases = [
        SimpleNamespace(input=query, retrieval_context=texts(found), context=texts(RELEVANT[query]))
        for query, found in RANKED.items()
    ]
    return [Shape({"test_cases": cases}, RELEVANT)]


@shape("LangSmith")
def langsmith(folder: Path) -> list[Shape]:
    hits = objects(
        lambda document, _: {
            "page_content": "text",
            "metadata": {"doc_id": document},
            "type": "Document",
        }
    )
    runs = [
        SimpleNamespace(
            id=f"r-{query}",
            name="retriever",
            inputs={"question": query},
            outputs={"documents": found},
        )
        for query, found in hits.items()
    ]
    examples = [
        SimpleNamespace(id=f"e-{query}", inputs={"question": query}, outputs={"doc_ids": ids})
        for query, ids in RELEVANT.items()
    ]
    return [Shape({"runs": runs, "examples": examples}, RELEVANT)]


@shape("Langfuse")
def langfuse(folder: Path) -> list[Shape]:
    chunks = objects(lambda document, score: {"id": document, "score": score})
    traces = [
        SimpleNamespace(
            id=f"t-{query}", input={"question": query}, output={"chunks": found}, tags=[]
        )
        for query, found in chunks.items()
    ]
    items = [
        SimpleNamespace(
            id=f"i-{query}", input={"question": query}, expected_output={"ids": ids}, metadata=None
        )
        for query, ids in RELEVANT.items()
    ]
    return [Shape({"traces": traces, "items": items}, RELEVANT)]


@shape("MLflow")
def mlflow(folder: Path) -> list[Shape]:
    def found(document: str, score: float) -> dict[str, Any]:
        return {"page_content": "text", "metadata": {"doc_uri": document, "chunk": 7}, "id": None}

    spans = {query: SimpleNamespace(outputs=hits) for query, hits in objects(found).items()}
    columns = {
        "inputs": QUERIES,
        "outputs": list(RANKED.values()),
        "ground_truth": list(RELEVANT.values()),
    }
    return [Shape({"spans": spans}), Shape({"table": pd.DataFrame(columns)}, RELEVANT)]


@shape("Phoenix")
def phoenix(folder: Path) -> list[Shape]:
    documents = rows_of(RUN, "context.span_id", "document", "document_score")
    documents["document_position"] = [0, 1, 2, 3, 0, 1]
    documents["input"] = "words"
    documents = documents.set_index(["context.span_id", "document_position"])
    grades = [QRELS[query].get(document) for query, ids in RANKED.items() for document in ids]
    judged = pd.DataFrame({"relevance": grades, "explanation": "so"}, documents.index)
    retrieved = {
        query: {document: grade for document, grade in judgments.items() if document in RUN[query]}
        for query, judgments in QRELS.items()
    }

    def attributes(document: str, score: float) -> dict[str, Any]:
        return {"document.id": document, "document.score": score, "document.content": "text"}

    spans = pd.DataFrame(
        {
            "name": "retrieve",
            "span_kind": "RETRIEVER",
            "attributes.input.value": QUERIES,
            "attributes.retrieval.documents": list(objects(attributes).values()),
        }
    )
    return [Shape({"documents": documents, "judged": judged}, retrieved), Shape({"spans": spans})]


@shape("promptfoo")
def promptfoo(folder: Path) -> list[Shape]:
    results = []
    for query, found in RANKED.items():
        given = {"query_id": query, "expected": RELEVANT[query]}
        results.append(
            {
                "promptIdx": 0,
                "vars": given,
                "testCase": {"vars": given, "assert": []},
                "response": {"output": found, "cached": False},
                "success": True,
                "score": 1,
            }
        )
    output = {
        "evalId": "e",
        "results": {"version": 3, "prompts": [{"raw": "{{query}}"}], "results": results},
    }
    (folder / "output.json").write_text(json.dumps(output))
    return [Shape({}, RELEVANT)]


# Recommendations


@shape("RecBole")
def recbole(folder: Path) -> list[Shape]:
    rows_of(QRELS, "user_id:token", "item_id:token", "rating:float").to_csv(
        folder / "test.inter", sep="\t", index=False
    )
    tokens = np.array(["[PAD]", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"])
    dataset = SimpleNamespace(iid_field="item_id", id2token=lambda field, ids: tokens[ids])
    scores = np.array([[0.9, 0.8, 0.4, 0.2], [0.6, 0.5, 0.4, 0.3]])
    found = {
        "scores": OnDevice(scores),
        "ids": OnDevice(np.array([[2, 1, 7, 3], [5, 4, 9, 8]])),
        "dataset": dataset,
    }
    return [Shape({**found, "users": QUERIES})]


class OnDevice(NamedTuple):
    """A tensor on a GPU."""

    values: Any

    def cpu(self) -> Any:
        """Return the values in memory."""
        return self.values


@shape("implicit")
def implicit(folder: Path) -> list[Shape]:
    filtered = np.array([[9], [-1]])  # a relevant item, which was bought before
    ids = np.hstack([IDS, filtered])
    lowest = np.full((2, 1), np.finfo(np.float32).min, np.float32)
    scores = np.hstack([SCORES, lowest])
    model = SimpleNamespace(recommend=lambda users, items, **_: (ids[users], scores[users]))
    return [Shape({"model": model, "users": np.array([0, 1]), "train": SPARSE, "test": SPARSE})]


@shape("Surprise")
def surprise(folder: Path) -> list[Shape]:
    prediction = namedtuple("Prediction", "uid iid r_ui est details")
    ratings = {
        query: {document: QRELS[query].get(document, 1) for document in found}
        for query, found in RANKED.items()
    }
    predictions = [
        prediction(query, document, ratings[query][document], score, {"was_impossible": False})
        for query, documents in RUN.items()
        for document, score in documents.items()
    ]
    return [Shape({"predictions": predictions}, ratings)]


@shape("ALS")
def als(folder: Path) -> list[Shape]:
    row = namedtuple("Row", "item rating")
    frame = pd.DataFrame({"user": QUERIES, "recommendations": list(objects(row).values())})
    return [Shape({"recommendations": frame})]


# Spreadsheets


@shape("Excel")
def excel(folder: Path) -> list[Shape]:
    judged = rows_of(QRELS, "Question", "Document", "Grade")
    sheet = rows_of(RUN, "Question", "Document", "Model score").merge(judged, "outer")
    return [Shape({"sheet": sheet})]


# The recipes of the page


def recipes() -> Iterator[tuple[str, list[str]]]:
    """Yield each tool of the page with its blocks of code."""
    for section in text(ROOT / "docs" / "recipes.md").split("\n### ")[1:]:
        tool, _, rest = section.partition("\n")
        yield tool, [block[2] for block in FENCE.finditer(rest) if block[1] == "python"]


RECIPES = dict(recipes())


def test_every_tool_of_the_page_has_its_shape() -> None:
    assert list(RECIPES) == list(SHAPES)


def result_of(block: str, names: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Return the values of each query that a recipe returns, and the options that it gives."""
    given: dict[str, Any] = {}

    def compute(**arguments: Any) -> Any:
        given.update(arguments)
        return ndcg.compute(**arguments, use_aggregator=False)

    namespace = {"ndcg": SimpleNamespace(compute=compute), "numpy": np, "pandas": pd, **names}
    *statements, last = ast.parse(block).body
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(statements, []), "recipe", "exec"), namespace)
    result = eval(compile(ast.Expression(last.value), "recipe", "eval"), namespace)
    return result, {name: value for name, value in given.items() if name == "convention"}


def judgments(folder: Path, names: Mapping[str, Any]) -> list[Any]:
    """Return the judgments in the forms that the page promises, or those of the tool."""
    if "qrels" in names:
        return [names["qrels"]]
    path = folder / "qrels.csv"
    rows_of(QRELS, "query_id", "doc_id", "relevance").to_csv(path, index=False)
    return [QRELS, rows_of(QRELS, "query_id", "doc_id", "relevance"), path]


@pytest.mark.parametrize("tool", RECIPES)
def test_a_recipe_scores_as_the_mapping_does(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shapes = SHAPES[tool](tmp_path)
    for block, (names, references) in zip(RECIPES[tool], shapes, strict=True):
        for qrels in judgments(tmp_path, names):
            result, options = result_of(block, {**names, "qrels": qrels})
            expected = ndcg.compute(
                predictions=RUN, references=references, use_aggregator=False, **options
            )
            np.testing.assert_allclose(
                list(result.values()), list(expected.values()), rtol=1e-12, err_msg=block
            )


def test_models_of_pydantic_are_read_without_a_warning() -> None:
    """Qdrant, LangChain and LlamaIndex return such objects, which warn about `__fields__`."""
    pydantic = pytest.importorskip("pydantic")
    hit = pydantic.create_model("Hit", id=(str, ...), score=(float, ...))
    hits = objects(lambda document, score: hit(id=document, score=score))
    expected = ndcg.compute(predictions=RUN, references=QRELS)
    assert ndcg.compute(predictions=hits, references=QRELS) == expected
