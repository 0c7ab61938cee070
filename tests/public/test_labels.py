"""Judgments in words: `gain={label: gain}` equals the gains themselves in every source."""

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from refusals import refusal

import ndcg as package
from ndcg.measure.options import Options
from ndcg.shell.command_line import main

GAIN = {"relevant": 3, "not relevant": 0, "partially": 1.5, 0.5: 0.25, True: 7}
LABELS: list[Any] = list(GAIN)
WORDS = LABELS[:3]
Side = dict[str, dict[str, Any]]


def rankings(random: np.random.Generator, labels: list[Any]) -> tuple[Side, Side]:
    """A run with ties and judgments with labels, in which some documents are on one side only."""
    run: Side = {}
    qrels: Side = {}
    for query in range(random.integers(1, 5)):
        scored = {
            f"d{each}": float(random.integers(0, 6)) / 2 + 0.25
            for each in random.permutation(8)[:6]
        }
        run[f"q{query}"] = scored
        judged = random.permutation(9)[: random.integers(1, 8)]
        qrels[f"q{query}"] = {f"d{each}": labels[random.integers(len(labels))] for each in judged}
    return run, qrels


def rows(side: Side, value: str) -> dict[str, list[Any]]:
    """The columns of a side."""
    found = [(query, document, each) for query, of in side.items() for document, each in of.items()]
    return dict(
        zip(("query_id", "document_id", value), map(list, zip(*found, strict=True)), strict=True)
    )


def aligned(run: Side, qrels: Side) -> tuple[list[list[Any]], list[list[Any]]]:
    """Both sides by position, with None for what only the other side has."""
    documents = {
        query: [*run[query], *(each for each in qrels[query] if each not in run[query])]
        for query in qrels
    }
    return tuple(  # type: ignore[return-value]
        [[side[query].get(each) for each in of] for query, of in documents.items()]
        for side in (run, qrels)
    )


def saved(
    name: str, write: Callable[[Path, Side], Any]
) -> Callable[[Side, Side, Path], dict[str, Any]]:
    """The qrels in a file, beside a mapping as JSON."""

    def inputs(run: Side, qrels: Side, folder: Path) -> dict[str, Any]:
        (folder / "run.json").write_text(json.dumps(run))
        write(folder / name, qrels)
        return {"predictions": folder / "run.json", "references": folder / name}

    return inputs


def as_lines(side: Side, line: str) -> str:
    columns = rows(side, "label").values()
    return "".join(line.format(*row) for row in zip(*columns, strict=True))


def flat(run: Side, qrels: Side, column: Callable[[list[Any]], Any]) -> dict[str, Any]:
    scores, labels = aligned(run, qrels)
    ids = [query for query, row in enumerate(scores) for _ in row]
    return {
        "predictions": [*chain(*scores)],
        "references": column([*chain(*labels)]),
        "query_ids": ids,
    }


SOURCES: dict[str, Callable[[Side, Side, Path], dict[str, Any]]] = {
    "mappings": lambda run, qrels, _: {"predictions": run, "references": qrels},
    "excluded": lambda run, qrels, _: {
        "predictions": run,
        "references": qrels,
        "exclude": {"q0": ["nothing"]},
    },
    "lists": lambda run, qrels, _: dict(
        zip(("predictions", "references"), aligned(run, qrels), strict=True)
    ),
    "flat": lambda run, qrels, _: flat(run, qrels, list),
    "records": lambda run, qrels, _: {
        "predictions": pd.DataFrame(rows(run, "score")).to_dict("records"),
        "references": pd.DataFrame(rows(qrels, "label")).to_dict("records"),
    },
    "hits": lambda run, qrels, _: {
        "predictions": run,
        "references": {
            q: [{"id": d, "relevance": each} for d, each in of.items()] for q, of in qrels.items()
        },
    },
    "lists of ids": lambda run, qrels, _: {
        "predictions": run,
        "references": [
            {"query_id": q, "doc_ids": [*of], "labels": [*of.values()]} for q, of in qrels.items()
        ],
    },
    "JSON": saved("qrels.json", lambda path, qrels: path.write_text(json.dumps(qrels))),
    "JSON Lines of hits": saved(
        "qrels.jsonl",
        lambda path, qrels: path.write_text(
            "".join(
                json.dumps(
                    {"query_id": q, "hits": [{"id": d, "label": each} for d, each in of.items()]}
                )
                + "\n"
                for q, of in qrels.items()
            )
        ),
    ),
    "JSON Lines of records": saved(
        "qrels.jsonl",
        lambda path, qrels: path.write_text(
            "".join(
                json.dumps(row) + "\n"
                for row in pd.DataFrame(rows(qrels, "label")).to_dict("records")
            )
        ),
    ),
    "CSV": saved(
        "qrels.csv",
        lambda path, qrels: path.write_text(
            "query_id,document_id,label\n" + as_lines(qrels, '{},{}, "{}" \n')
        ),
    ),
    "TSV": saved(
        "qrels.tsv",
        lambda path, qrels: path.write_text(
            "query_id\tdocument_id\tlabel\n" + as_lines(qrels, "{}\t{}\t{}\n")
        ),
    ),
}
OF_WORDS: dict[str, Callable[[Side, Side, Path], dict[str, Any]]] = {  # columns with one type
    "NumPy": lambda run, qrels, _: {
        "predictions": aligned(run, qrels)[0],
        "references": [np.array(row, object) for row in aligned(run, qrels)[1]],
    },
    "Arrow lists": lambda run, qrels, _: dict(
        zip(("predictions", "references"), map(pa.array, aligned(run, qrels)), strict=True)
    ),
    "flat Arrow": lambda run, qrels, _: flat(run, qrels, pa.array),
    "categories": lambda run, qrels, _: flat(
        run, qrels, lambda column: pd.Series(column, dtype="category")
    ),
    "pandas": lambda run, qrels, _: {
        "predictions": pd.DataFrame(rows(run, "score")),
        "references": pd.DataFrame(rows(qrels, "label")),
    },
    "Polars": lambda run, qrels, _: {
        "predictions": pl.DataFrame(rows(run, "score")),
        "references": pl.DataFrame(rows(qrels, "label")).with_columns(
            pl.col("label").cast(pl.Categorical)
        ),
    },
    "Parquet": saved(
        "qrels.parquet",
        lambda path, qrels: pa.parquet.write_table(pa.table(rows(qrels, "label")), path),
    ),
    "TREC": saved(
        "qrels.txt",
        lambda path, qrels: path.write_text(
            as_lines(qrels, "{} 0 {} {}\n").replace("not relevant", "not_relevant")
        ),
    ),
}
EVERY_SOURCE = {**{name: (source, LABELS) for name, source in SOURCES.items()}}
EVERY_SOURCE |= {name: (source, WORDS) for name, source in OF_WORDS.items()}


def values_of(inputs: dict[str, Any], **options: Any) -> dict[str, list[float]]:
    options = {"measures": ["nDCG@3", "DCG", "IDCG"], "use_aggregator": False, **options}
    if str(inputs["references"]).endswith(".txt"):
        options["gain"] = {str(label).replace(" ", "_"): gain for label, gain in GAIN.items()}
    found: dict[str, list[float]] = package.compute(**inputs, **options)
    return found


def check_source(name: str, random: np.random.Generator, folder: Path) -> None:
    """Labels in one source give the values that their gains give."""
    source, labels = EVERY_SOURCE[name]
    run, qrels = rankings(random, labels)
    gains: Side = {
        query: {document: GAIN[label] for document, label in of.items()}
        for query, of in qrels.items()
    }
    assert values_of(source(run, qrels, folder), gain=GAIN) == values_of(
        {"predictions": run, "references": gains}
    )


@pytest.mark.parametrize("name", EVERY_SOURCE)
def test_labels_give_what_their_gains_give(name: str, tmp_path: Path) -> None:
    for seed in range(5):
        check_source(name, np.random.default_rng(seed), tmp_path)


@pytest.mark.parametrize("name", ["JSON", "JSON Lines of hits", "CSV", "TSV", "Parquet"])
def test_a_file_of_labels_is_read_as_the_labels(name: str, tmp_path: Path) -> None:
    run, qrels = rankings(np.random.default_rng(0), WORDS)
    read = package.read_qrels(EVERY_SOURCE[name][0](run, qrels, tmp_path)["references"], gain=GAIN)
    assert read == qrels
    scored = values_of({"predictions": run, "references": read}, gain=GAIN)
    assert scored == values_of({"predictions": run, "references": qrels}, gain=GAIN)


@pytest.mark.parametrize("gain", [{"partially": 1, "no": 0}, None], ids=["misspelt", "no gains"])
@pytest.mark.parametrize("name", EVERY_SOURCE)
def test_a_label_without_a_gain_is_an_error_in_every_source(
    name: str, gain: Any, tmp_path: Path
) -> None:
    run, qrels = {"q": {"a": 1.0, "b": 0.5}}, {"q": {"b": "partially", "a": "Partialy"}}
    inputs = EVERY_SOURCE[name][0](run, qrels, tmp_path) | {"exclude": None}
    with refusal("references"):
        package.compute(**inputs, gain=gain)


MISSPELT: Side = {"q1": {"a": "no", "b": "Relevnt"}, "q2": {"a": "no"}}
BY_ID = {"predictions": {"q1": {"a": 1.0, "b": 0.5}, "q2": {"a": 1.0}}, "references": MISSPELT}
BY_POSITION = {"predictions": [[1.0, 0.5], [1.0]], "references": [["no", "Relevnt"], ["no"]]}
CODES = {0: 0, 2: 3}  # of labels in loops whose labels are numbers


def batches(gain: Any, **batch: Any) -> None:
    metric = package.NDCG()
    metric.add_batch(**batch, gain=gain)
    metric.compute(gain=gain)


def updated(metric: Any) -> None:
    metric.update(BY_POSITION["predictions"], BY_POSITION["references"])
    metric.compute()


def in_trainer(**options: Any) -> None:
    transformers = pytest.importorskip("transformers")
    scores, labels = np.array([[1.0, 0.5], [0.2, 0.1]]), np.array([[0, 1], [2, 0]])
    if options:
        scores, labels = scores.ravel(), labels.ravel()
    package.trainer_metrics(gain=CODES, **options)(transformers.EvalPrediction(scores, labels))


def with_columns() -> None:
    in_trainer(query_ids=["q1", "q1", "q2", "q2"], references=["no", "Relevnt", "yes", "no"])


def scored_by(gain: Any) -> None:
    from sklearn.linear_model import LinearRegression

    features = np.array([[1.0, 0.5], [0.2, 0.3]])
    model = LinearRegression().fit(features, features)
    package.scorer(gain=gain)(model, features, np.array([["no", "Relevnt"], ["no", "no"]], object))


def boosted(gain: Any) -> None:
    package.lightgbm_metric(gain=gain)(
        np.array([0.0, 1.0]), np.array([0.1, 0.2]), None, np.array([2])
    )


def evaluated(gain: Any) -> None:
    pytest.importorskip("sentence_transformers")
    package.sentence_transformers_evaluator(
        {"q1": "x", "q2": "y"}, {"a": "x", "b": "y"}, MISSPELT, gain=gain
    )


def in_torchmetrics(gain: Any) -> None:
    pytest.importorskip("torchmetrics")
    updated(package.torchmetrics_metric(gain=gain))


IN_TORCH = pytest.mark.xdist_group("torch")  # which takes seconds to import
IN_MAPPING, IN_LIST = "query 'q1', document 'b'", "query 0, position 1"
SYSTEMS = dict.fromkeys("xy", BY_ID["predictions"])
# each entry point, and the place that its error names after the references
ENTRY_POINTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "compute": (lambda gain: package.compute(**BY_ID, gain=gain), IN_MAPPING),
    "evaluate's metric": (lambda gain: package.NDCG().compute(**BY_POSITION, gain=gain), IN_LIST),
    "a batch": (lambda gain: batches(gain, **BY_POSITION), IN_LIST),
    "a batch by ids": (lambda gain: batches(gain, **BY_ID), IN_MAPPING),
    "the ideal": (
        lambda gain: package.compute(references=MISSPELT, measures="IDCG", gain=gain),
        IN_MAPPING,
    ),
    "report": (lambda gain: package.report(**BY_ID, gain=gain), IN_MAPPING),
    "compare": (
        lambda gain: package.compare(systems=SYSTEMS, references=MISSPELT, gain=gain),
        IN_MAPPING,
    ),
    "documents": (lambda gain: package.documents(**BY_ID, gain=gain), IN_MAPPING),
    "explain": (lambda gain: package.explain(**BY_ID, gain=gain, got=0.5), IN_MAPPING),
    "meter": (lambda gain: updated(package.meter(gain=gain)), IN_LIST),
    "torchmetrics": (in_torchmetrics, IN_LIST),
    "trainer": (lambda _: in_trainer(), IN_LIST),
    "LightGBM": (lambda _: boosted(CODES), IN_LIST),
    "scorer": (scored_by, IN_LIST),
    "evaluator": (evaluated, IN_MAPPING),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[IN_TORCH] * (name in ("torchmetrics", "trainer", "evaluator")))
        for name in ENTRY_POINTS
    ],
)
def test_every_entry_point_names_the_place_of_an_unknown_label(name: str) -> None:
    call, place = ENTRY_POINTS[name]
    with refusal("relevant_docs" if name == "evaluator" else "references", place):
        call({"relevant": 3, "no": 0})


@pytest.mark.parametrize("command", ["score", "compare", "gate", "audit", "explain"])
def test_every_command_names_an_unknown_label(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.json"
    qrels.write_text("query_id,document_id,label\n" + as_lines(MISSPELT, "{},{},{}\n"))
    run.write_text(json.dumps(BY_ID["predictions"]))
    (tmp_path / "other.json").write_text(run.read_text())
    others = [str(tmp_path / "other.json")] if command in ("compare", "gate") else []
    runs = [str(run), *others] + ["--got=0.5"] * (command == "explain")
    for options, line in ((["--gain=relevant=3,no=0"], 3), ([], 2)):
        assert main([command, str(qrels), *runs, *options]) == 2
        assert capsys.readouterr().err.startswith(f"ndcg {command}: {qrels}: line {line}: ")


@IN_TORCH
def test_the_column_of_a_trainer_has_labels_as_the_model_receives_them() -> None:
    with refusal("references hold text"):
        with_columns()


def test_the_numbers_from_0_are_a_list_of_gains() -> None:
    assert (
        Options.parse(gain={2: 1, 0: 0, True: 0}).signature()
        == Options.parse(gain=[0, 0, 1]).signature()
    )
    assert (
        Options.parse(gain={"0": 0, "1": 5}).signature() == Options.parse(gain=[0, 5]).signature()
    )
    assert "gain:a%7Cb=1,no=0|" in Options.parse(gain={"no": 0, "a|b": 1}).signature()


@pytest.mark.parametrize(
    ("gain", "places"),
    [
        ({}, ()),
        ({None: 1}, ("a label",)),
        ({"yes": "3"}, ("the gain of 'yes'",)),
        ({"1": 3, True: 2}, ("the label True",)),
    ],
)
def test_wrong_gains_are_rejected(gain: Any, places: tuple[str, ...]) -> None:
    with refusal("gain", *places):
        Options.parse(gain=gain)


def test_a_negative_gain_of_a_label_is_kept_and_padding_is_no_label() -> None:
    scores = [[3, 2, 1]]
    gains = package.compute(
        predictions=scores, references=[[0, 2, None]], gain=[-1, 0, 1], measures="DCG"
    )
    assert gains == {"DCG": pytest.approx(-1 + 1 / np.log2(3))}
    harmful = {"harmful": -1, "helpful": 1}
    inputs = {"predictions": scores, "references": [["harmful", "helpful", -100]]}
    assert package.compute(**inputs, gain=harmful, measures="DCG", ignore_index=-100) == gains


def test_every_method_takes_labels(ndcg: evaluate.Metric) -> None:
    run, words, gain = (
        [[3, 2, 1], [1, 2, 3]],
        [["no", "yes", "no"], ["yes", "no", "no"]],
        {"yes": 2, "no": 0},
    )
    grades = [[0, 2, 0], [2, 0, 0]]
    mean = package.compute(predictions=run, references=grades)["nDCG"]
    assert package.report(predictions=run, references=words, gain=gain).scores["nDCG"].value == mean
    assert (
        package.compare(systems={"a": run, "b": run}, references=words, gain=gain)
        .scores["a"]["nDCG"]
        .value
        == mean
    )
    assert package.documents(predictions=run, references=words, gain=gain)["gain"].to_pylist() == [
        0,
        2,
        0,
        0,
        0,
        2,
    ]
    explanation = package.explain(predictions=run, references=words, gain=gain, got=mean)
    assert explanation.matches[0] == "sklearn"
    meter = package.meter(gain=gain)
    meter.update(run, words)
    assert meter.compute() == {"nDCG": mean}
    ndcg.add_batch(predictions=run[:1], references=words[:1], gain=gain)
    ndcg.add(prediction=run[1], reference=words[1], gain=gain)
    with refusal("gain"):
        ndcg.compute()
    assert ndcg.compute(gain=gain) == {"nDCG": mean}
    with refusal("references", "query 0, position 1", "'yes'"):
        ndcg.add_batch(predictions=run[:1], references=words[:1], gain={"no": 0})
    with refusal("gain"):
        ndcg.add_batch(predictions=run[:1], references=grades[:1], gain="binary")
