"""Documents that a run lists several times: `duplicates="best"` counts each once, at its best rank."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import ndcg as package

Row = tuple[str, str, float]
Qrels = dict[str, dict[str, int]]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"ties": "first"},
    {"ties": "last"},
    {"ties": "docid"},
    {"ties": "worst", "k": 3},
    {"judged_only": True},
    {"exclude": {"q0": ["d1", "d2"], "q1": ["d0"]}},
    {"score_dtype": "float32", "exclude": {"q0": ["d3"]}, "judged_only": True},
]


def rankings(random: np.random.Generator, ascending: bool) -> tuple[list[Row], Qrels]:
    """The rows of a run, best first, in which queries list documents repeatedly, also with ties; and judgments."""
    rows: list[Row] = []
    qrels: Qrels = {}
    for query in range(random.integers(1, 4)):
        scores = np.sort(random.integers(0, 6, 9) / 2)
        names = [f"d{each}" for each in random.integers(0, 5, 9)]
        rows += [
            (f"q{query}", *row) for row in zip(names, map(float, scores if ascending else scores[::-1]), strict=True)
        ]
        qrels[f"q{query}"] = {f"d{each}": int(random.integers(0, 4)) for each in random.permutation(7)[:5]}
    return rows, qrels


def by_hand(rows: list[Row], last: bool) -> list[Row]:
    """The rows without the later occurrences of a document; of equal scores, the one that ranks first is kept."""
    best: dict[tuple[str, str], int] = {}
    for at, (query, document, score) in enumerate(rows):
        before = best.setdefault((query, document), at)
        if last and rows[before][2] == score:
            best[query, document] = at
    return [row for at, row in enumerate(rows) if at in set(best.values())]


def by_query(rows: list[Row]) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for query, document, score in rows:
        found.setdefault(query, []).append((document, score))
    return found


def table(rows: list[Row]) -> dict[str, list[Any]]:
    return dict(zip(("query_id", "document_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


def saved(name: str, write: Callable[[Path, list[Row]], Any]) -> Callable[[list[Row], Path], Any]:
    def run(rows: list[Row], folder: Path) -> Path:
        write(folder / name, rows)
        return folder / name

    return run


def lines(line: str) -> Callable[[Path, list[Row]], Any]:
    head = {"{},{},{}\n": "query_id,document_id,score\n"}.get(line, "")
    return lambda path, rows: path.write_text(head + "".join(line.format(*row) for row in rows))


def json_lines(path: Path, objects: list[Any]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))


def hits(rows: list[Row]) -> list[dict[str, Any]]:
    return [
        {"query_id": query, "hits": [{"doc_id": document, "score": score} for document, score in of]}
        for query, of in by_query(rows).items()
    ]


FORMATS: dict[str, Callable[[list[Row], Path], Any]] = {
    "pandas": lambda rows, _: pd.DataFrame(table(rows)),
    "Arrow": lambda rows, _: pa.table(table(rows)),
    "records": lambda rows, _: pd.DataFrame(table(rows)).to_dict("records"),
    "hits": lambda rows, _: hits(rows),
    "hits by query": lambda rows, _: {each["query_id"]: each["hits"] for each in hits(rows)},
    "pairs": lambda rows, _: by_query(rows),
    "TREC": saved("run.trec", lines("{} Q0 {} 1 {} x\n")),
    "CSV": saved("run.csv", lines("{},{},{}\n")),
    "JSON": saved("run.json", lambda path, rows: path.write_text(json.dumps(hits(rows)))),
    "JSON Lines": saved("run.jsonl", lambda path, rows: json_lines(path, pd.DataFrame(table(rows)).to_dict("records"))),
    "JSON Lines of hits": saved("run.jsonl", lambda path, rows: json_lines(path, hits(rows))),
    "Parquet": saved("run.parquet", lambda path, rows: pa.parquet.write_table(pa.table(table(rows)), path)),
}
RANKED: dict[str, Callable[[list[Row], Path], Any]] = {  # in their order
    "ranked ids": lambda rows, _: [[document for document, _ in of] for of in by_query(rows).values()],
    "ranked ids by query": lambda rows, _: {q: [document for document, _ in of] for q, of in by_query(rows).items()},
}


def check_format(name: str, random: np.random.Generator, folder: Path) -> None:
    """One format gives what it gives without the later occurrences, under each of the options."""
    ascending = bool(random.integers(2)) and name not in RANKED
    rows, qrels = rankings(random, ascending)
    references = list(qrels.values()) if name == "ranked ids" else qrels
    form = {**FORMATS, **RANKED}[name]
    for options in OPTIONS:
        how = {"use_aggregator": False, "measures": ["nDCG", "DCG"], "references": references, **options}
        if name == "ranked ids" and "exclude" in options:
            how["exclude"] = [options["exclude"].get(query, []) for query in qrels]
        if ascending:
            how["score_order"] = "ascending"
        once = by_hand(rows, options.get("ties") == "last" and name not in RANKED)
        expected = package.compute(predictions=form(once, folder), **how)
        assert package.compute(predictions=form(rows, folder), duplicates="best", **how) == expected, options


@pytest.mark.parametrize("name", {**FORMATS, **RANKED})
@pytest.mark.filterwarnings("ignore:predictions:UserWarning")
def test_a_document_counts_once_at_its_best_rank(name: str, tmp_path: Path) -> None:
    for seed in range(4):
        check_format(name, np.random.default_rng(seed), tmp_path)


@pytest.mark.parametrize("name", {**FORMATS, **RANKED})
def test_a_repeated_document_is_an_error_that_names_the_option(name: str, tmp_path: Path) -> None:
    rows = [("q", "a", 2.0), ("q", "b", 1.5), ("q", "a", 1.0)]
    references: Any = [{"a": 1}] if name == "ranked ids" else {"q": {"a": 1}}
    problem = 'document .a.* already; give it once for a query, or duplicates="best" to count it once, at its best rank'
    with pytest.raises(ValueError, match=f"^predictions: .*{problem}"):
        package.compute(predictions={**FORMATS, **RANKED}[name](rows, tmp_path), references=references)


@pytest.mark.parametrize("name", ["TREC", "CSV", "JSON", "JSON Lines", "JSON Lines of hits", "Parquet"])
@pytest.mark.parametrize("ascending", [False, True])
def test_a_file_is_read_with_each_document_once(name: str, ascending: bool, tmp_path: Path) -> None:
    rows, _ = rankings(np.random.default_rng(0), ascending)
    order = "ascending" if ascending else "descending"
    for ties in ("first", "last"):
        once = {query: dict(of) for query, of in by_query(by_hand(rows, ties == "last")).items()}
        read = package.read_run(FORMATS[name](rows, tmp_path), score_order=order, duplicates="best", ties=ties)
        assert [(query, [*of.items()]) for query, of in read.items()] == [(q, [*of.items()]) for q, of in once.items()]


def test_flat_rows_of_a_document_count_once_if_they_have_one_relevance() -> None:
    flat = {"query_ids": ["q"] * 4, "document_ids": ["a", "b", "a", "c"], "references": [1, 0, 1, 2]}
    once = package.compute(predictions=[3, 2, 1], references=[1, 0, 2], query_ids=["q"] * 3)
    assert package.compute(**flat, predictions=[3, 2, 2, 1], duplicates="best") == once
    assert package.compute(**flat, predictions=[1, 2, 3, 0], duplicates="best") == once
    flat["references"] = [1, 0, 2, 2]
    problem = "references: query 'q', row 2: document 'a' has another relevance than in row 0; give it one"
    with pytest.raises(ValueError, match=f"^{problem}$"):
        package.compute(**flat, predictions=[3, 2, 2, 1], duplicates="best")
    del flat["document_ids"]
    with pytest.raises(ValueError, match=r'^duplicates="best" needs document_ids'):
        package.compute(**flat, predictions=[3, 2, 2, 1], duplicates="best")


def test_matrices_of_scores_and_ids_list_a_document_once() -> None:
    matrices = {"predictions": np.array([[0.9, 0.8, 0.7]]), "document_ids": np.array([[4, 4, 2]])}
    found = package.compute(**matrices, references=[{2: 1}], duplicates="best")
    assert found == package.compute(predictions=[[4, 2]], references=[{2: 1}])


def test_two_judgments_of_a_document_stay_an_error(tmp_path: Path) -> None:
    rows = [("q", "a", 2.0), ("q", "b", 1.5), ("q", "a", 1.0)]
    for form in (FORMATS["pandas"], FORMATS["CSV"], FORMATS["pairs"]):
        with pytest.raises(ValueError, match=r"^references: .* already; give it once for a query$"):
            package.compute(predictions={"q": {"a": 1}}, references=form(rows, tmp_path), duplicates="best")


def test_every_method_takes_the_option(ndcg: evaluate.Metric) -> None:
    rows = [("q", "a", 2.0), ("q", "a", 1.5), ("q", "b", 1.0), ("r", "b", 1.0)]
    run, qrels = pd.DataFrame(table(rows)), {"q": {"b": 1}, "r": {"b": 1}}
    mean = (1 / np.log2(3) + 1) / 2
    found = package.report(predictions=run, references=qrels, duplicates="best")
    assert found.scores["nDCG"].value == pytest.approx(mean)
    assert "|duplicates:best|" in found.signature
    found = package.compare(systems={"a": run, "b": run}, references=qrels, duplicates="best")
    assert found.scores["b"]["nDCG"].value == pytest.approx(mean)
    assert package.documents(predictions=run, references=qrels, duplicates="best").num_rows == 3
    assert package.explain(predictions=run, references=qrels, duplicates="best", got=float(mean)).matches
    ndcg.add_batch(predictions=run, references=qrels, duplicates="best")
    assert ndcg.compute(duplicates="best")["nDCG"] == pytest.approx(mean)
