"""The examples print the scores of other code on the same data: scikit-learn, and plain Python."""

import csv
import importlib.util
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Processes
from forks import free_port
from sklearn.datasets import load_digits
from sklearn.metrics import ndcg_score


def table(output: str) -> list[list[str]]:
    """The rows of a table of Rich or Markdown."""
    lines = (re.split("[│┃|]", line)[1:-1] for line in output.splitlines())
    return [[cell.strip() for cell in cells] for cells in lines if cells]


def table_rows(output: str) -> dict[str, list[str]]:
    """The rows by their first cells."""
    return {name: cells for name, *cells in table(output)}


def card_figures() -> dict[str, str]:
    """The figures of each ranking in the card's first table."""
    rows = re.findall(
        r"^\| .*\| ([^|]+) \| (0\.\d{4}[^|]*) \|$",
        (ROOT / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )
    return dict(rows)


def test_image_search_prints_the_scores_that_sklearn_finds(
    processes: Processes, tmp_path: Path
) -> None:
    """Each digit is a query over all the others, with its own place cut out of every array."""
    output = processes.start_example("image_search", tmp_path).output()
    assert re.findall(r"nDCG@\d+", output)[:3] == ["nDCG@1", "nDCG@5", "nDCG@10"]
    digits = load_digits()
    others = ~np.eye(len(digits.target), dtype=bool)
    same = (digits.target[:, None] == digits.target)[others].reshape(len(others), -1)
    printed, card = table_rows(output), card_figures()
    for name, features in (
        ("pixels", digits.data),
        (
            "ink per row and column",
            np.hstack([digits.images.sum(axis=1), digits.images.sum(axis=2)]),
        ),
    ):
        unit = features / np.linalg.norm(features, axis=1)[:, None]
        expected = f"{ndcg_score(same, (unit @ unit.T)[others].reshape(same.shape), k=10):.4f}"
        assert printed[name][-1] == card[name] == expected


def test_compare_models_prints_the_scores_that_sklearn_finds_and_who_is_better(
    processes: Processes, tmp_path: Path
) -> None:
    lines = processes.start_example("compare_models", tmp_path).output().splitlines()
    digits = load_digits()
    unit = digits.data / np.linalg.norm(digits.data, axis=1, keepdims=True)
    similarity, same = unit[:899] @ unit[899:].T, digits.target[:899, None] == digits.target[899:]
    systems, pairs = (lines.index("") + 1, lines.index("", lines.index("") + 1))
    pixels = next(line for line in lines if line.startswith("a  pixels"))
    assert re.findall(r"[01]\.\d{4}", pixels)[::3] == [
        f"{ndcg_score(same, similarity, k=k):.4f}" for k in (5, 10)
    ]
    compared = [line.split("  ")[0] for line in lines[systems + 1 : pairs]]
    assert compared == ["principal components – pixels", "discriminants – pixels"] * 2
    assert any("1,048,576 permutations" in line for line in lines)


def film_ratings() -> tuple[np.ndarray, np.ndarray]:
    """The stars of MovieLens-100K in the first 80 % of the time, and the films liked later."""
    folder = Path(
        pytest.importorskip("recbole", reason="make demo installs the ratings").__file__
    ).parent
    with (folder / "dataset_example" / "ml-100k" / "ml-100k.inter").open() as lines:
        ratings = [tuple(map(int, row)) for row in list(csv.reader(lines, delimiter="\t"))[1:]]
    cut = np.quantile([time for *_, time in ratings], 0.8)
    stars, relevance = np.zeros((943, 1682)), np.zeros((943, 1682))
    for user, film, given, time in ratings:
        if time <= cut:
            stars[user - 1, film - 1] = given
        else:
            relevance[user - 1, film - 1] = given >= 4
    return stars, relevance


def test_movies_prints_the_scores_that_sklearn_finds_for_each_group(
    processes: Processes, tmp_path: Path
) -> None:
    stars, relevance = film_ratings()
    liked, rated, asked = stars >= 4, (stars > 0).sum(axis=1), relevance.sum(axis=1) > 0
    left, values, right = np.linalg.svd(liked, full_matrices=False)
    popularity = np.tile(liked.sum(axis=0), (943, 1))
    factorization = (left[:, :10] * values[:10]) @ right[:10]
    factorization[~liked.any(axis=1)] = popularity[0]
    output = processes.start_example("movies", tmp_path).output()
    printed, card = table_rows(output), card_figures()
    for name, seen, users in (
        ("all, seen films too", np.zeros_like(stars), asked),
        ("all", stars, asked),
        ("no ratings yet", stars, asked & (rated == 0)),
        ("1 to 99 ratings", stars, asked & (rated > 0) & (rated < 100)),
        ("100 ratings or more", stars, asked & (rated > 99)),
    ):
        unseen = [np.where(seen, -1e9, scores)[users] for scores in (popularity, factorization)]
        means = [f"{ndcg_score(relevance[users], scores, k=10):.4f}" for scores in unseen]
        assert [cell.split(" ")[0] for cell in printed[name]] == [str(users.sum()), *means]
    assert printed["all"][1:] == [card["popularity"], card["factorization"]]
    p = re.findall(r"all: .* p = ([\d.]+);", output)[0]
    assert f"[p = {p}]" in (ROOT / "README.md").read_text("utf-8")


def test_mteb_tasks_compares_models_task_by_task(processes: Processes, tmp_path: Path) -> None:
    for model, scores in (("a", (0.5, 0.6, 0.8)), ("b", (0.4, 0.3, 0.7))):
        folder = tmp_path / "results" / model
        folder.mkdir(parents=True)
        (folder / "model_meta.json").write_text(json.dumps({"name": f"org/{model}"}))
        for task, score in zip(("X", "Y", "Z"), scores, strict=True):
            means = {"deu": score - 0.1, "eng": score + 0.1}
            subsets = [
                {"ndcg_at_10": mean, "languages": [language]} for language, mean in means.items()
            ]
            (folder / f"{task}.json").write_text(
                json.dumps({"task_name": task, "scores": {"test": subsets}})
            )
        (folder / "Only here.json").write_text(
            json.dumps({"task_name": model, "scores": {"test": subsets}})
        )
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
    assert re.search(
        r"^org/a – org/b +nDCG@10 +\+0\.1667 .* 0\.2500 .* 3–0–0$", printed, re.MULTILINE
    )
    assert "multilingual" in printed


# --- Examples whose data a test makes again -------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An example's working and temporary folder, in which it leaves nothing behind."""
    folder = tmp_path / "folder"
    folder.mkdir()
    yield folder
    assert not [path for path in folder.iterdir() if not path.name.startswith("torch")]


def load(name: str) -> ModuleType:
    """An example as a module, for the data it makes."""
    spec = importlib.util.spec_from_file_location(
        f"example_{name}", ROOT / "examples" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mean_ndcg(queries: list[tuple[list[float], list[int]]], k: int) -> float:
    """scikit-learn's mean over queries; those of one document, which it rejects, by hand."""
    values = []
    for scores, relevance in queries:
        several = len(scores) > 1
        values.append(
            ndcg_score([relevance], [scores], k=k) if several else float(relevance[0] > 0)
        )
    return math.fsum(values) / len(values)


@pytest.mark.training
@pytest.mark.xdist_group("torch")
def test_the_trainer_logs_a_rising_ndcg_from_that_of_the_untrained_model(
    training_processes: Processes, folder: Path
) -> None:
    import torch

    header, *rows = table(training_processes.start_example("trainer_loop", folder).output())
    assert header == ["step", "eval_nDCG@10"]
    assert [int(step) for step, _ in rows] == [0, 20, 40, 60, 80, 100]
    values = [float(value) for _, value in rows]
    assert all(0 < value <= 1 for value in values)
    assert values[-1] > values[0] + 0.1

    example = load("trainer_loop")
    torch.manual_seed(0)
    model, rng = example.Ranker(example.RankerConfig()), np.random.default_rng(1)
    example.make_queries(1000, rng)
    queries = []
    for query in example.make_queries(200, rng):
        with torch.no_grad():
            scores = model(torch.from_numpy(query["features"]))["logits"]
        queries.append((scores.tolist(), query["labels"].tolist()))
    assert len({len(relevance) for _, relevance in queries}) > 10
    assert rows[0][1] == f"{mean_ndcg(queries, 10):.4f}"


@pytest.mark.training
@pytest.mark.xdist_group("torch")
def test_the_trainer_of_pairs_logs_the_ndcg_of_its_predictions(
    training_processes: Processes, folder: Path
) -> None:
    import torch
    from transformers import PreTrainedConfig

    output = training_processes.start_example("pair_trainer", folder).output()
    _, (_, before), (_, after), (_, computed) = table(output)
    assert after == computed
    assert float(after) > float(before) + 0.1

    example = load("pair_trainer")
    torch.manual_seed(0)
    rows = example.make_pairs(np.arange(1697, 1797), 1)
    with torch.no_grad():
        scores = example.PairScorer(PreTrainedConfig())(torch.tensor(rows["features"]))["logits"]
    scores, relevance = (
        scores.reshape(100, 10).tolist(),
        np.reshape(rows["label"], (100, 10)).astype(int).tolist(),
    )
    assert rows["query"][::10] == [*range(1697, 1797)]
    assert before == f"{mean_ndcg(list(zip(scores, relevance, strict=True)), 10):.4f}"


def read_lines(path: Path, value: int) -> dict[str, dict[str, float]]:
    columns: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text().splitlines():
        cells = line.split(" ")
        columns[cells[0]][cells[2]] = float(cells[value])
    return columns


@pytest.mark.slow  # the search is in plain Python
def test_the_searches_score_as_their_files_say(
    processes: Processes, folder: Path, tmp_path: Path
) -> None:
    header, *rows = table(processes.start_example("search_run", folder).output())
    assert header == ["search", "ties", "nDCG@1", "nDCG@5", "nDCG@10"]
    example = load("search_run")
    documents, queries, relevance = example.read_docstrings()
    example.write_qrels(tmp_path / "qrels.txt", relevance)
    qrels = read_lines(tmp_path / "qrels.txt", 3)
    assert qrels.keys() == queries.keys()
    expected = []
    for name, scores in example.search(list(documents.values()), list(queries.values())).items():
        example.write_run(tmp_path / "run.trec", scores, list(documents))
        run = read_lines(tmp_path / "run.trec", 4)
        lists: dict[str, list[Any]] = {"average": [], "docid": []}
        for query, grades in qrels.items():
            found = sorted(
                run[query], key=lambda document: (run[query][document], document), reverse=True
            )
            # Documents not found stand last, behind ten that nobody looks for: beyond every cutoff.
            ranked = [
                *found,
                *[None] * 10,
                *(document for document in grades if document not in run[query]),
            ]
            relevances = [int(grades.get(document, 0)) for document in ranked]
            order = [-1.0 - rank for rank in range(len(ranked))]
            lists["average"].append(
                ([run[query][each] for each in found] + order[len(found) :], relevances)
            )
            lists["docid"].append((order, relevances))
        expected += [
            [name, ties, *(f"{mean_ndcg(lists[ties], k):.4f}" for k in (1, 5, 10))]
            for ties in lists
        ]
    assert rows == expected


def test_the_search_is_bm25() -> None:
    example = load("search_run")
    documents = [
        "the cat sat",
        "the dog sat on the cat cat",
        "a bird sang of the dog and the cat",
        "fish swim",
    ]
    queries = ["cat", "dog cat", "fish swim swim", "bird unknown"]
    texts = [re.findall(r"\w\w+", document) for document in documents]
    average = sum(map(len, texts)) / len(texts)

    def bm25(word: str, text: list[str]) -> float:
        having, often = sum(word in other for other in texts), text.count(word)
        idf = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        return idf * often * 2.2 / (often + 1.2 * (1 - 0.75 + 0.75 * len(text) / average))

    expected = [
        [sum(bm25(word, text) for word in {*query.split()}) for text in texts] for query in queries
    ]
    searches = example.search(documents, queries)
    np.testing.assert_allclose(searches["BM25"], expected, rtol=1e-12)
    assert searches["words in common"].tolist() == [
        [1, 1, 1, 0],
        [1, 2, 2, 0],
        [0, 0, 0, 2],
        [0, 0, 1, 0],
    ]


def test_the_recommenders_score_as_each_users_list_does(processes: Processes, folder: Path) -> None:
    header, *rows = table(processes.start_example("recommender", folder).output())
    assert header == ["recommender", "nDCG@10"]
    example = load("recommender")
    rng = np.random.default_rng(0)
    known, asked = example.simulate(rng)
    assert (np.diff(asked.user) < 0).any()
    expected = []
    for name, scores in example.recommend(known, asked, rng).items():
        lists: dict[int, tuple[list[float], list[int]]] = defaultdict(lambda: ([], []))
        for user, score, stars in zip(
            asked.user.tolist(), scores.tolist(), asked.stars.tolist(), strict=True
        ):
            lists[user][0].append(score)
            lists[user][1].append(stars)
        expected.append([name, f"{mean_ndcg(list(lists.values()), 10):.4f}"])
    assert rows == expected
    values = [float(value) for _, value in rows]
    assert values == sorted(values)


@pytest.mark.training
@pytest.mark.xdist_group("torch")
def test_two_processes_score_each_held_out_query_once(
    training_processes: Processes, folder: Path
) -> None:
    """They get the variables that torchrun sets."""
    import torch

    meeting = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": f"{free_port()}"}
    first, second = (
        training_processes.start_example(
            "distributed", folder, RANK=rank, LOCAL_RANK=rank, **meeting
        )
        for rank in "01"
    )
    header, *rows = table(first.output())
    assert second.output() == ""
    assert header == ["epoch", "nDCG@10", "queries of process 0"]
    assert [(epoch, share) for epoch, _, share in rows] == [
        (str(epoch), "101") for epoch in range(4)
    ]
    values = [float(value) for _, value, _ in rows]
    assert values[-1] > values[0] + 0.3

    example = load("distributed")
    ranker, held_out = example.make_ranker(), example.make_queries(201, seed=2)
    with torch.no_grad():
        queries = [
            (ranker(features[None])[0].tolist(), labels.tolist()) for features, labels in held_out
        ]
    assert rows[0][1] == f"{mean_ndcg(queries, 10):.6f}"


def test_the_log_of_a_retriever_is_scored_by_document_and_gated(
    processes: Processes, tmp_path: Path
) -> None:
    chunks = [
        {"doc_id": each, "score": score}
        for each, score in (("terms", 0.9), ("terms", 0.8), ("faq", 0.6))
    ]
    (tmp_path / "log.jsonl").write_text(
        json.dumps({"question_id": "refunds", "chunks": chunks}) + "\n"
    )
    judged = (
        "question_id,doc_id,label\n"
        "refunds,terms,partially\n"
        "refunds,faq,relevant\n"
        "refunds,sso,relevant\n"
    )
    (tmp_path / "judged.csv").write_text(judged)
    command = [str(ROOT / "examples/rag_log.py"), "log.jsonl", "judged.csv"]
    command += ["--metric", str(ROOT / "ndcg.py"), "--at-least"]
    script = """
    import os, runpy, sys
    os.chdir(folder)
    sys.argv = command
    end = "passed"
    try:
        runpy.run_path(command[0], run_name="__main__")
    except SystemExit as error:
        end = error.code
    print(end)
    """
    value = (1 + 3 / math.log2(3)) / (3 + 3 / math.log2(3) + 1 / 2)
    for least, end in ((0.4, "passed"), (0.6, "nDCG@5 is below 0.6")):
        printed = processes.run(script, folder=str(tmp_path), command=[*command, str(least)])
        assert printed.splitlines()[-1] == end
        assert f"refunds: {value:.3f}, not in the first 5: sso" in printed
