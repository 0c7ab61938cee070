"""The examples print what scikit-learn finds on the same rankings."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Processes
from sklearn.datasets import load_digits
from sklearn.metrics import ndcg_score

CUTOFFS = (1, 5, 10)


def table_rows(text: str) -> dict[str, list[str]]:
    """The rows of a table of Rich or Markdown by their first cells."""
    lines = ([cell.strip() for cell in re.split("[│┃|]", line)[1:-1]] for line in text.splitlines())
    return {cells[0]: cells[1:] for cells in lines if cells}


def card_figures() -> dict[str, str]:
    """The figures of each ranking in the card's first table."""
    rows = re.findall(r"^\| .*\| ([^|]+) \| (0\.\d{4}[^|]*) \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    return dict(rows)


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
    printed, expected = table_rows("\n".join(lines)), expected_rows()
    assert {name: printed[name] for name in expected} == expected
    assert {name: card_figures()[name] for name in expected} == {name: row[-1] for name, row in expected.items()}


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
    assert any("1,048,576 permutations" in line for line in lines)


def expected_means() -> dict[str, list[str]]:
    """The users of MovieLens-100K by group: how many, and the means of both recommenders."""
    folder = Path(pytest.importorskip("recbole", reason="make demo installs the ratings").__file__).parent
    with (folder / "dataset_example" / "ml-100k" / "ml-100k.inter").open() as lines:
        ratings = [tuple(map(int, row)) for row in list(csv.reader(lines, delimiter="\t"))[1:]]
    cut = np.quantile([time for *_, time in ratings], 0.8)
    stars, relevance = np.zeros((943, 1682)), np.zeros((943, 1682))
    for user, film, given, time in ratings:
        if time <= cut:
            stars[user - 1, film - 1] = given
        else:
            relevance[user - 1, film - 1] = given >= 4
    liked, rated, asked = stars >= 4, (stars > 0).sum(axis=1), relevance.sum(axis=1) > 0
    left, values, right = np.linalg.svd(liked, full_matrices=False)
    popularity = np.tile(liked.sum(axis=0), (943, 1))
    factorization = (left[:, :10] * values[:10]) @ right[:10]
    factorization[~liked.any(axis=1)] = popularity[0]
    groups = {
        "all, seen films too": (0, asked),
        "all": (stars, asked),
        "no ratings yet": (stars, asked & (rated == 0)),
        "1 to 99 ratings": (stars, asked & (rated > 0) & (rated < 100)),
        "100 ratings or more": (stars, asked & (rated > 99)),
    }
    return {
        name: [str(users.sum())]
        + [
            f"{ndcg_score(relevance[users], np.where(seen, -1e9, scores)[users], k=10):.4f}"
            for scores in (popularity, factorization)
        ]
        for name, (seen, users) in groups.items()
    }


def test_movies_prints_the_scores_that_sklearn_finds_for_each_group(processes: Processes, tmp_path: Path) -> None:
    expected = expected_means()
    output = processes.start_example("movies", tmp_path).output()
    printed, card = table_rows(output), card_figures()
    assert {name: [cell.split(" ")[0] for cell in printed[name]] for name in expected} == expected
    assert printed["all"][1:] == [card["popularity"], card["factorization"]]
    intervals = [list(map(float, cell[:-1].replace("(", "– ").split("–"))) for cell in printed["all"][1:]]
    assert all(low < mean < high for mean, low, high in intervals)
    difference, p = re.findall(r"all: (-?[\d.]+) .* p = ([\d.]+);", output)[0]
    assert float(difference) == pytest.approx(intervals[1][0] - intervals[0][0], abs=1e-4)
    assert f"[p = {p}]" in (ROOT / "README.md").read_text("utf-8")


def test_mteb_tasks_compares_models_task_by_task(processes: Processes, tmp_path: Path) -> None:
    for model, scores in (("a", (0.5, 0.6, 0.8)), ("b", (0.4, 0.3, 0.7))):
        folder = tmp_path / "results" / model
        folder.mkdir(parents=True)
        (folder / "model_meta.json").write_text(json.dumps({"name": f"org/{model}"}))
        for task, score in zip(("X", "Y", "Z"), scores, strict=True):
            subsets = [
                {"ndcg_at_10": score + at, "languages": [language]} for at, language in ((-0.1, "deu"), (0.1, "eng"))
            ]
            (folder / f"{task}.json").write_text(json.dumps({"task_name": task, "scores": {"test": subsets}}))
        (folder / "Only here.json").write_text(json.dumps({"task_name": model, "scores": {"test": subsets}}))
    printed = processes.run(
        """
        import runpy, sys
        sys.argv = ["mteb_tasks.py", folder]
        runpy.run_path(example, run_name="__main__")
        """,
        example=str(ROOT / "examples" / "mteb_tasks.py"),
        folder=str(tmp_path / "results"),
    )
    assert re.search(r"^a  org/a +3 +0\.6333 ", printed, re.MULTILINE)
    assert re.search(r"^org/a – org/b +nDCG@10 +\+0\.1667 .* 0\.2500 .* 3–0–0$", printed, re.MULTILINE)
    assert "multilingual" in printed
