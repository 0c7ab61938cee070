"""Every row of the table of errors: what its sentence names, and its words, as in the snapshot."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusals import LONGEST, File, Row, given, named_by, said_by, sentence
from table import ERRORS, snapshot

import ndcg

WORDS = snapshot()


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(row: Row, method: Callable[..., Any] | None = None) -> Any:
    """What a row's call says; skips the row if the library that it needs is not installed."""
    try:
        return said_by(row, method)
    except ModuleNotFoundError as error:
        pytest.skip(str(error))


def test_the_snapshot_has_the_sentence_of_each_row() -> None:
    assert list(WORDS) == list(ERRORS), "run make messages"


OF_SPARK = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore"),  # of PySpark
]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=OF_SPARK if name.startswith("spark/") else [], id=name)
        for name in ERRORS
    ],
)
def test_an_error_names_its_argument_and_place_in_one_sentence(name: str) -> None:
    row = ERRORS[name]
    problem = said(row)
    assert named_by(problem, row.argument) == (row.argument, *row.places)
    text = sentence(problem, row)
    flag = " ARGS=--spark" if name.startswith("spark/") else ""
    assert text == WORDS[name], f"run make messages{flag}, and read what changed"
    assert text.isprintable()
    assert len(text) < LONGEST


# Other entry points


BY_ID = "JSON of the form {query: object}"  # names queries where there is no `query_ids`
ADDED = inspect.signature(ndcg.NDCG.add_batch).parameters.keys()
RANKINGS = {
    name: row
    for name, row in ERRORS.items()
    if row.method is ndcg.compute and not name.startswith(("options/", "spark/"))
}
BATCHES = {
    name for name, row in RANKINGS.items() if row.inputs.keys() <= ADDED and not row.is_of_scoring
}
FILES = {
    name
    for name, row in RANKINGS.items()
    if isinstance(row.inputs.get(row.argument), File) and row.places and not row.is_of_scoring
}
REPORTS = {
    name
    for name, row in RANKINGS.items()
    if row.inputs.keys() >= {"predictions", "references"} and "measures" not in row.inputs
}


def add_batch(name: str) -> None:
    """A batch is refused in the same words, and adds nothing."""
    row, metric = ERRORS[name], ndcg.NDCG()
    metric.add_batch(predictions=[[2, 1]], references=[[0, 1]])
    assert sentence(said(row, metric.add_batch), row) == WORDS[name]
    if not row.is_warning:
        assert len(metric) == 1


def read_file(name: str) -> None:
    """A function that reads a file refuses it in the same words, but leaves out the argument.

    That documents or scores lack on the other side is not known to it, and it has no `query_ids`.
    """
    row = ERRORS[name]
    read = {"predictions": ndcg.read_run, "references": ndcg.read_qrels}[row.argument]
    file = given(row.inputs[row.argument])
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the snapshot has its words
        read(file)
    words = WORDS[name].removeprefix(f"{row.argument}: ")
    assert sentence(caught.value, row) == words.replace("query_ids=[...] names", f"{BY_ID} names")


def report(name: str) -> None:
    row = ERRORS[name]
    assert sentence(said(row, ndcg.report), row) == WORDS[name]


@pytest.mark.parametrize("name", sorted({*BATCHES, *FILES, *REPORTS}))
def test_other_entry_points_refuse_in_the_same_words(name: str) -> None:
    if name in BATCHES:
        add_batch(name)
    if name in FILES:
        read_file(name)
    if name in REPORTS:
        report(name)
