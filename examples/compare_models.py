"""Is the better model surely better? Three models that search scikit-learn's digits, compared.

Each of 899 images is a query that ranks 898 others by similarity; an image of the same digit is
relevant. The models see pixels, their 10 principal components, or what a linear discriminant
analysis has learned to tell the digits of the searched images apart. The comparison says how far
the others are from the pixels, and whether that could be chance.
"""

from pathlib import Path

import evaluate
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

HERE = Path(__file__).resolve().parent
QUERIES = 899


def similarity(queries: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """Return the cosine of every query with every document."""

    def normalized(rows: np.ndarray) -> np.ndarray:
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    return normalized(queries) @ normalized(documents).T


def main() -> None:
    """Print the comparison of the three models."""
    digits = load_digits()
    queries, documents = digits.data[:QUERIES], digits.data[QUERIES:]
    labels = digits.target[QUERIES:]
    pca = PCA(10, random_state=0).fit(documents)
    lda = LinearDiscriminantAnalysis().fit(documents, labels)
    systems = {
        "pixels": similarity(queries, documents),
        "principal components": similarity(pca.transform(queries), pca.transform(documents)),
        "discriminants": similarity(lda.transform(queries), lda.transform(documents)),
    }
    ndcg = evaluate.load(str(HERE.parent / "ndcg.py"))
    relevance = digits.target[:QUERIES, np.newaxis] == labels
    print(ndcg.compare(systems=systems, references=relevance, k=[5, 10], baseline="pixels"))


if __name__ == "__main__":
    main()
