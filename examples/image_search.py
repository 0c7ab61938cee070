"""Two image searches over scikit-learn's handwritten digits, scored.

Each of the 1,797 images is a query that ranks all the others by similarity; an image of the
same digit is relevant. One search compares pixels, the other how much ink is in each row and
column of the image.
"""

from pathlib import Path

import evaluate
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
CUTOFFS = [1, 5, 10]


def similarity(features: np.ndarray) -> np.ndarray:
    """Return the cosine of every two rows, shape ``(images, images)``."""
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    return unit @ unit.T


def main() -> None:
    """Print nDCG@1, @5 and @10 of both searches."""
    digits = load_digits()
    ink = np.hstack([digits.images.sum(axis=1), digits.images.sum(axis=2)])
    searches = {"pixels": similarity(digits.data), "ink per row and column": similarity(ink)}

    # A query image is neither a document of its own ranking nor of its ideal.
    itself = np.eye(len(digits.target), dtype=bool)
    relevance = np.ma.masked_array(digits.target[:, np.newaxis] == digits.target, itself)

    ndcg = evaluate.load(str(HERE.parent / "ndcg.py"))
    table = Table(
        "search", *(f"nDCG@{k}" for k in CUTOFFS), title=f"{len(digits.target)} queries over digits"
    )
    for name, scores in searches.items():
        result = ndcg.compute(
            predictions=np.ma.masked_array(scores, itself), references=relevance, k=CUTOFFS
        )
        table.add_row(name, *(f"{value:.4f}" for value in result.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
