"""Documents listed several times in a run: `duplicates="best"` counts each at its best rank."""

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
from refusals import refusal

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
    {"exclude": {"q0": ["d1", "d2"], "q1": ["d0"]}, "exclude_from": "run"},
    {"score_dtype": "float32", "exclude": {"q0": ["d3"]}, "judged_only": True},
]


def rankings(
    random: np.random.Generator, ascending: bool, ranked: bool = False
) -> tuple[list[Row], Qrels]:
    """The rows of a run with repeated documents, some of them tied, and judgments.

    Rows are best first if they are ranked, else in any order.
    """
    rows: list[Row] = []
    qrels: Qrels = {}
    for query in range(random.integers(1, 4)):
        scores = np.sort(random.integers(0, 6, 9) / 2)
        if not ascending:
            scores = scores[::-1]
        documents = random.integers(0, 5, 9)
        order = np.arange(9) if ranked else random.permutation(9)
        rows += [(f"q{query}", f"d{documents[rank]}", float(scores[rank])) for rank in order]
        judged = random.permutation(7)[:5]
        qrels[f"q{query}"] = {f"d{document}": int(random.integers(0, 4)) for document in judged}
    return rows, qrels


def by_hand(rows: list[Row], ascending: bool, last: bool) -> list[Row]:
    """The best row of each document; of equal scores, the first or the last."""
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        before = best.get(row[:2])
        is_better = before is None or (row[2] < before[2] if ascending else row[2] > before[2])
        if is_better or (last and before is not None and row[2] == before[2]):
            best[row[:2]] = row
    kept = set(map(id, best.values()))
    return [row for row in rows if id(row) in kept]


def by_query(rows: list[Row]) -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for query, document, score in rows:
        found.setdefault(query, []).append((document, score))
    return found


def table(rows: list[Row]) -> dict[str, list[Any]]:
    return dict(
        zip(("query_id", "document_id", "score"), map(list, zip(*rows, strict=True)), strict=True)
    )


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
        {
            "query_id": query,
            "hits": [{"doc_id": document, "score": score} for document, score in of],
        }
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
    "JSON Lines": saved(
        "run.jsonl",
        lambda path, rows: json_lines(path, pd.DataFrame(table(rows)).to_dict("records")),
    ),
    "JSON Lines of hits": saved("run.jsonl", lambda path, rows: json_lines(path, hits(rows))),
    "Parquet": saved(
        "run.parquet", lambda path, rows: pa.parquet.write_table(pa.table(table(rows)), path)
    ),
}
RANKED: dict[str, Callable[[list[Row], Path], Any]] = {  # in their order
    "ranked ids": lambda rows, _: [
        [document for document, _ in of] for of in by_query(rows).values()
    ],
    "ranked ids by query": lambda rows, _: {
        q: [document for document, _ in of] for q, of in by_query(rows).items()
    },
}


def flat(rows: list[Row], qrels: Qrels, random: np.random.Generator) -> dict[str, Any]:
    """The arguments of flat rows, judged documents that the run lacks included, in any order."""
    retrieved = {row[:2] for row in rows}
    judged = [(query, document) for query, of in qrels.items() for document in of]
    lacking = [(*pair, None) for pair in judged if pair not in retrieved]
    joined = [*lacking, *rows]
    queries = list(qrels)
    random.shuffle(queries)
    joined.sort(key=lambda row: queries.index(row[0]))
    query_ids, document_ids, scores = map(list, zip(*joined, strict=True))
    relevance = [qrels[query].get(document) for query, document, _ in joined]
    ids = {"query_ids": query_ids, "document_ids": document_ids}
    return {"predictions": scores, "references": relevance, **ids}


def check_format(name: str, random: np.random.Generator, folder: Path) -> None:
    """A format gives what it gives with each document's best row alone, under each option."""
    ranked = name in RANKED
    ascending = bool(random.integers(2)) and not ranked
    rows, qrels = rankings(random, ascending, ranked)
    references = list(qrels.values()) if name == "ranked ids" else qrels
    for options in OPTIONS:
        how = {"use_aggregator": False, "measures": ["nDCG", "DCG", "IDCG"], **options}
        if name == "ranked ids" and "exclude" in options:
            how["exclude"] = [options["exclude"].get(query, []) for query in qrels]
        if ascending:
            how["score_order"] = "ascending"
        once = by_hand(rows, ascending, options.get("ties") == "last" and not ranked)
        if name == "flat rows":
            calls = [flat(each, qrels, random) for each in (once, rows)]
        else:
            form = {**FORMATS, **RANKED}[name]
            calls = [
                {"predictions": form(each, folder), "references": references}
                for each in (once, rows)
            ]
        if not ranked:  # whose order counts, not their scores
            calls.insert(
                0,
                {
                    "predictions": {q: dict(of) for q, of in by_query(once).items()},
                    "references": qrels,
                },
            )
        found = [package.compute(**call, **how, duplicates="best") for call in calls]
        values = [{measure: sorted(of) for measure, of in each.items()} for each in found]
        assert all(each == pytest.approx(values[0], rel=1e-12) for each in values[1:]), options


@pytest.mark.parametrize("name", [*FORMATS, *RANKED, "flat rows"])
@pytest.mark.filterwarnings("ignore:.*the scores rank its hits:UserWarning")
def test_a_document_counts_once_at_its_best_rank(name: str, tmp_path: Path) -> None:
    for seed in range(2):
        check_format(name, np.random.default_rng(seed), tmp_path)


@pytest.mark.parametrize("name", {**FORMATS, **RANKED})
def test_a_repeated_document_is_an_error_that_names_the_option(name: str, tmp_path: Path) -> None:
    rows = [("q", "a", 2.0), ("q", "b", 1.5), ("q", "a", 1.0)]
    references: Any = [{"a": 1}] if name == "ranked ids" else {"q": {"a": 1}}
    run = {**FORMATS, **RANKED}[name](rows, tmp_path)
    with pytest.raises(ValueError, match="duplicates=") as caught:
        package.compute(predictions=run, references=references)
    assert caught.value.argument == "predictions"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name", ["TREC", "CSV", "JSON", "JSON Lines", "JSON Lines of hits", "Parquet"]
)
@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.filterwarnings("ignore:.*the scores rank its hits:UserWarning")
def test_a_file_is_read_with_each_document_once(name: str, ascending: bool, tmp_path: Path) -> None:
    rows, _ = rankings(np.random.default_rng(0), ascending)
    order = "ascending" if ascending else "descending"
    for ties in ("first", "last"):
        once = {
            query: dict(of)
            for query, of in by_query(by_hand(rows, ascending, ties == "last")).items()
        }
        read = package.read_run(
            FORMATS[name](rows, tmp_path), score_order=order, duplicates="best", ties=ties
        )
        assert [(query, [*of.items()]) for query, of in read.items()] == [
            (q, [*of.items()]) for q, of in once.items()
        ]


def test_flat_rows_of_a_document_count_once_if_they_have_one_relevance() -> None:
    flat = {
        "query_ids": ["q"] * 4,
        "document_ids": ["a", "b", "a", "c"],
        "references": [1, 0, 1, 2],
    }
    once = package.compute(predictions=[3, 2, 1], references=[1, 0, 2], query_ids=["q"] * 3)
    assert package.compute(**flat, predictions=[3, 2, 2, 1], duplicates="best") == once
    assert package.compute(**flat, predictions=[1, 2, 3, 0], duplicates="best") == once
    flat["references"] = [1, 0, 2, 2]
    with refusal("references", "query 'q', row 2", "document 'a'"):
        package.compute(**flat, predictions=[3, 2, 2, 1], duplicates="best")
    del flat["document_ids"]
    with refusal("duplicates"):
        package.compute(**flat, predictions=[3, 2, 2, 1], duplicates="best")


def test_matrices_of_scores_and_ids_list_a_document_once() -> None:
    matrices = {"predictions": np.array([[0.9, 0.8, 0.7]]), "document_ids": np.array([[4, 4, 2]])}
    found = package.compute(**matrices, references=[{2: 1}], duplicates="best")
    assert found == package.compute(predictions=[[4, 2]], references=[{2: 1}])


def test_two_judgments_of_a_document_stay_an_error(tmp_path: Path) -> None:
    rows = [("q", "a", 2.0), ("q", "b", 1.5), ("q", "a", 1.0)]
    for form in (FORMATS["pandas"], FORMATS["CSV"], FORMATS["pairs"]):
        with refusal("references"):
            package.compute(
                predictions={"q": {"a": 1}}, references=form(rows, tmp_path), duplicates="best"
            )


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
    assert package.explain(
        predictions=run, references=qrels, duplicates="best", got=float(mean)
    ).matches
    ndcg.add_batch(predictions=run, references=qrels, duplicates="best")
    assert ndcg.compute(duplicates="best")["nDCG"] == pytest.approx(mean)
