"""Two text searches over scikit-learn's documentation, scored from TREC files.

Each public class and function of scikit-learn is a document: what its docstring says after the
first line. That first line is a query. The document it came from has relevance 2, those that its
authors list under "See Also" have relevance 1. One search ranks by BM25; the other counts the
words that query and document share, so that many documents tie.
"""

import inspect
import re
import tempfile
from pathlib import Path

import evaluate
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.discovery import all_estimators, all_functions

HERE = Path(__file__).resolve().parent
CUTOFFS = [1, 5, 10]
DEPTH = 100  # documents per query in a run
HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def read_docstrings() -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    """Return the documents' texts, the queries' texts and the relevances, each by name."""
    documents, queries, related = {}, {}, {}
    for name, thing in [*all_estimators(), *all_functions()]:
        summary, _, body = (inspect.getdoc(thing) or "").partition("\n\n")
        before, *sections = HEADING.split(body)
        by_heading = dict(zip(sections[::2], sections[1::2], strict=True))
        related[name] = re.findall(
            r"^(?:\w+\.)*(\w+)", by_heading.pop("See Also", ""), re.MULTILINE
        )
        queries[name] = summary
        documents[name] = "\n".join([before, *by_heading.values()])
    qrels = {
        name: {other: 1 for other in related[name] if other in documents} | {name: 2}
        for name in queries
    }
    return documents, queries, qrels


def bm25(counts: csr_array, k1: float = 1.2, b: float = 0.75) -> csr_array:
    """Return the BM25 weight of each word in each document, shape ``(documents, words)``."""
    length = counts.sum(axis=1)
    having = (counts > 0).sum(axis=0)
    idf = np.log1p((len(length) - having + 0.5) / (having + 0.5))
    weights = counts.tocoo()
    document, word = weights.coords
    saturation = weights.data + k1 * (1 - b + b * length / length.mean())[document]
    return csr_array(
        (idf[word] * weights.data * (k1 + 1) / saturation, (document, word)), shape=counts.shape
    )


def search(documents: list[str], queries: list[str]) -> dict[str, np.ndarray]:
    """Return the scores of each search, shape ``(queries, documents)``."""
    vectorizer = CountVectorizer()
    counts = csr_array(vectorizer.fit_transform(documents).astype(float))
    words = csr_array(vectorizer.transform(queries) > 0).astype(float)
    return {
        "BM25": (words @ bm25(counts).T).toarray(),
        "words in common": (words @ (counts > 0).astype(float).T).toarray(),
    }


def write_run(path: Path, scores: np.ndarray, names: list[str]) -> None:
    """Write the documents with the highest scores of every query, as a TREC run."""
    with path.open("w") as file:
        for query, row in zip(names, scores, strict=True):
            best_first = np.argsort(-row, kind="stable")[:DEPTH]
            retrieved = best_first[row[best_first] > 0]
            for rank, document in enumerate(retrieved, 1):
                file.write(f"{query} Q0 {names[document]} {rank} {row[document]} {path.stem}\n")


def write_qrels(path: Path, qrels: dict[str, dict[str, int]]) -> None:
    """Write the relevances, as TREC qrels."""
    with path.open("w") as file:
        for query, grades in qrels.items():
            for name, grade in grades.items():
                file.write(f"{query} 0 {name} {grade}\n")


def main() -> None:
    """Print nDCG@1, @5 and @10 of both searches, with ties averaged and as in trec_eval."""
    documents, queries, qrels = read_docstrings()
    ndcg = evaluate.load(str(HERE.parent / "ndcg.py"))
    table = Table(
        "search",
        "ties",
        *(f"nDCG@{k}" for k in CUTOFFS),
        title=f"{len(queries)} queries over docstrings",
    )
    with tempfile.TemporaryDirectory() as folder:
        run_path, qrels_path = Path(folder, "run.trec"), Path(folder, "qrels.txt")
        write_qrels(qrels_path, qrels)
        for name, scores in search(list(documents.values()), list(queries.values())).items():
            write_run(run_path, scores, list(documents))
            for ties in ("average", "docid"):
                result = ndcg.compute(
                    predictions=run_path, references=qrels_path, k=CUTOFFS, ties=ties
                )
                table.add_row(name, ties, *(f"{value:.4f}" for value in result.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
