"""The example prints what scikit-learn finds on the same rankings."""

import re
from pathlib import Path

import numpy as np
from conftest import Processes
from sklearn.datasets import load_digits
from sklearn.metrics import ndcg_score

CUTOFFS = (1, 5, 10)


def expected_rows() -> dict[str, list[str]]:
    """Each digit as a query over all the others, with its own place cut out of every array."""
    digits = load_digits()
    others = ~np.eye(len(digits.target), dtype=bool)
    same = (digits.target[:, None] == digits.target[None, :])[others].reshape(len(digits.target), -1)
    rows = {}
    for name, features in (
        ("pixels", digits.data),
        ("ink per row and column", np.hstack([digits.images.sum(axis=1), digits.images.sum(axis=2)])),
    ):
        unit = features / np.linalg.norm(features, axis=1)[:, None]
        similarity = (unit @ unit.T)[others].reshape(same.shape)
        rows[name] = [f"{ndcg_score(same, similarity, k=k):.4f}" for k in CUTOFFS]
    return rows


def test_image_search_prints_the_scores_that_sklearn_finds(processes: Processes, tmp_path: Path) -> None:
    lines = processes.start_example("image_search", tmp_path).output().splitlines()
    header = next(line for line in lines if "search" in line)
    assert re.findall(r"nDCG@\d+", header) == [f"nDCG@{k}" for k in CUTOFFS]
    printed = {}
    for line in lines:
        cells = [cell.strip() for cell in re.split("[│┃|]", line) if cell.strip()]
        if len(cells) == 1 + len(CUTOFFS) and re.fullmatch(r"[01]\.\d{4}", cells[1]):
            printed[cells[0]] = cells[1:]
    assert printed == expected_rows()


def test_compare_models_prints_the_scores_that_sklearn_finds_and_who_is_better(
    processes: Processes, tmp_path: Path
) -> None:
    lines = processes.start_example("compare_models", tmp_path).output().splitlines()
    digits = load_digits()
    unit = digits.data / np.linalg.norm(digits.data, axis=1, keepdims=True)
    similarity, same = unit[:899] @ unit[899:].T, digits.target[:899, None] == digits.target[899:]
    systems, pairs = (lines.index("") + 1, lines.index("", lines.index("") + 1))
    pixels = next(line for line in lines if line.startswith("a  pixels"))
    assert re.findall(r"[01]\.\d{4}", pixels)[::3] == [f"{ndcg_score(same, similarity, k=k):.4f}" for k in (5, 10)]
    compared = [line.split("  ")[0] for line in lines[systems + 1 : pairs]]
    assert compared == ["principal components – pixels", "discriminants – pixels"] * 2
    assert any("10,000 exchanges" in line for line in lines)
