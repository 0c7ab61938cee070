"""LETOR as references: each row is a document, and the predictions are a score for each row."""

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from file_helpers import Write
from file_helpers import write as write
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg import compare, compute, documents, explain, read_qrels, report
from ndcg.shell import command_line

ROWS = (
    "# of a model\n2 qid:10 1:0.3 2:1 # d7\n0 qid:11 1:.2\n1 qid:10\n\n1.5\tqid:11 1:4 # "
    "d1\r\n0 qid:10 3:1\n"
)
SCORES = [0.5, 0.9, 0.7, 0.1, 0.2]
LABELS = {"10": {"0": 2.0, "2": 1.0, "4": 0.0}, "11": {"1": 0.0, "3": 1.5}}
RUN = {query: {row: SCORES[int(row)] for row in of} for query, of in LABELS.items()}
HOW: dict[str, Any] = {"measures": ["nDCG", "IDCG"], "use_aggregator": False}
EXPECTED = compute(predictions=RUN, references=LABELS, **HOW)


@pytest.mark.parametrize(
    "name", ["train.letor", "train.svm", "train.txt", "train", "train.libsvm.gz"]
)
@pytest.mark.parametrize(
    "scores",
    [list, tuple, np.array, pa.array, pl.Series, lambda scores: np.array(scores)[:, None]],
    ids=["list", "tuple", "NumPy", "Arrow", "Polars", "a head with one logit"],
)
def test_scores_are_those_of_the_rows(
    write: Write, scores: Callable[[Any], Any], name: str
) -> None:
    path = write(gzip.compress(ROWS.encode()) if name.endswith(".gz") else ROWS, name)
    assert compute(predictions=scores(SCORES), references=path, **HOW) == EXPECTED
    assert read_qrels(path) == LABELS


def test_every_entry_point_takes_a_file_of_scores(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path, scores = (
        write(ROWS, "train.letor"),
        write("# of a model\n.5\n.9\n7e-1\n\n0.1\n+.2", "scores.txt"),
    )
    both: dict[str, Any] = {"predictions": scores, "references": path}
    assert compute(**both, **HOW) == EXPECTED
    mean = sum(EXPECTED["nDCG"]) / 2
    assert report(**both).scores["nDCG"].value == mean
    assert (
        compare(systems={"file": scores, "list": SCORES}, references=path).pairs[0].difference == 0
    )
    assert explain(**both, got=mean).scores["trec_eval"] == mean
    assert documents(**both)["document"].to_pylist() == ["2", "0", "4", "1", "3"]
    assert command_line.main(["score", str(path), str(scores), "-o", "tsv", "-q"]) == 0
    assert [
        float(line.split("\t")[-1]) for line in capsys.readouterr().out.splitlines()[1:3]
    ] == EXPECTED["nDCG"]
    flat = {"references": [2, 0, 1, 1.5, 0], "query_ids": ["10", "11", "10", "11", "10"]}
    assert compute(predictions=scores, **flat, **HOW) == EXPECTED


def test_a_row_without_a_score_was_not_retrieved(write: Write) -> None:
    path, run = write(ROWS), {"10": {"0": 0.5, "4": 0.2}}
    scores = [0.5, None, None, None, 0.2]
    for how in (HOW, {"missing": "skip"}, {"score_order": "ascending"}):
        assert compute(predictions=scores, references=path, **how) == compute(
            predictions=run, references=LABELS, **how
        )


def test_the_relevance_may_be_a_label(write: Write) -> None:
    path, gain = write("good qid:1 1:.3\nbad qid:1 1:.5 # d\n\nbad qid:2\n"), {"good": 1, "bad": 0}
    assert read_qrels(path, gain=gain) == {"1": {"0": "good", "1": "bad"}, "2": {"2": "bad"}}


def test_the_ids_of_rows_break_ties_as_text(write: Write) -> None:
    path = write("".join(f"{row == 9:d} qid:1\n" for row in range(12)), "train.letor")
    assert compute(predictions=[0.5] * 12, references=path, ties="docid") == {
        "nDCG": 1.0
    }  # "9" ranks above "11"


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_rows_rank_as_their_ids_in_mappings(data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=130))
    scores = [data.draw(st.integers(0, 3)) / 2 for _ in labels]
    queries = [data.draw(st.integers(0, 2)) for _ in labels]
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for row, (query, score, label) in enumerate(zip(queries, scores, labels, strict=True)):
        run.setdefault(f"{query}", {})[f"{row}"] = score
        qrels.setdefault(f"{query}", {})[f"{row}"] = label
    text = "".join(f"{label} qid:{query}\n" for query, label in zip(queries, labels, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.letor")
        path.write_text(text)
        for how in (
            HOW,
            {"ties": "docid", "k": 3},
            {"convention": "mteb", "use_aggregator": False},
        ):
            found = compute(predictions=scores, references=path, **how)
            assert found == compute(predictions=run, references=qrels, **how)


def test_rows_of_many_chunks_are_counted_together(write: Write) -> None:
    rows = np.random.default_rng(4).integers(0, 4, 40_000)
    path = write(
        "".join(
            f"{label} qid:{row % 100} 1:0.25 2:-1e-3 # {'x' * 30}\n"
            for row, label in enumerate(rows)
        )
    )
    assert path.stat().st_size > 2 << 20
    how = {"references": rows, "query_ids": [f"{row % 100}" for row in range(len(rows))]}
    scores = np.random.default_rng(5).random(len(rows))
    assert compute(predictions=scores, references=path, **HOW) == compute(
        predictions=scores, **how, **HOW
    )
