"""Shared by the tests of the command line: runs, their files in a folder, and running commands."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from ndcg.shell import command_line

Call = Callable[..., tuple[int, str, str]]  # a command, to its status, output and errors
Shell = Callable[[str], subprocess.CompletedProcess[str]]

TREC = ROOT / "tests" / "trec_eval"
RNG = np.random.default_rng(0)
QUERIES = [f"q{query}" for query in range(40)]
QRELS = {
    query: {f"d{document}": int(RNG.integers(0, 3)) for document in range(12)} for query in QUERIES
}
MAIN = {
    query: {
        document: round(0.5 * relevance + RNG.normal(), 2) for document, relevance in judged.items()
    }
    for query, judged in QRELS.items()
}
WORSE = {
    query: {
        document: round(score - 0.3 * QRELS[query][document] * RNG.random(), 2)
        for document, score in run.items()
    }
    for query, run in MAIN.items()
}
BY = {query: "en" if at % 3 else "de" for at, query in enumerate(QUERIES)}
LINES = [f"{query},{value}" for query, value in BY.items()]


def trec(mapping: dict[str, dict[str, Any]], kind: str) -> str:
    form = "{} 0 {} {}\n" if kind == "qrels" else "{} Q0 {} 1 {} tag\n"
    return "".join(
        form.format(query, *row)
        for query, documents in mapping.items()
        for row in documents.items()
    )


def write(**sides: dict[str, dict[str, Any]]) -> None:
    """Write TREC files into the current folder: judgments if a name ends in qrels, else runs."""
    for name, mapping in sides.items():
        Path(f"{name}.txt").write_text(trec(mapping, "qrels" if name.endswith("qrels") else "run"))


def json_lines(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands run: qrels, a run and one that is worse."""
    monkeypatch.chdir(tmp_path)
    write(qrels=QRELS, main=MAIN, worse=WORSE)
    return tmp_path


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command here; return its status, its output and its standard error."""

    def run(command: str, *more: object) -> tuple[int, str, str]:
        try:
            status = command_line.main([*shlex.split(command), *map(str, more)])
        except SystemExit as exit_:
            status = int(str(exit_.code))
        output = capsys.readouterr()
        return status, output.out, output.err

    return run


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes in which `ndcg` is a command."""
    command = tmp_path_factory.mktemp("bin") / "ndcg"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ndcg "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def shell(environment: dict[str, str], folder: Path) -> Shell:
    """Run a script of bash in which `ndcg` is a command."""

    def run(script: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-c", script]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    return run


@contextmanager
def pipe_of(content: bytes) -> Iterator[str]:
    """The path of a pipe with some content, as bash makes one of `<(cat file)`."""
    reader, writer = os.pipe()
    os.write(writer, content)  # less than a pipe holds
    os.close(writer)
    yield f"/dev/fd/{reader}"
    os.close(reader)


@contextmanager
def standard_input(path: str | Path) -> Iterator[None]:
    """Make a file or a pipe the standard input of this process."""
    before = os.dup(0)
    file = os.open(path, os.O_RDONLY)
    os.dup2(file, 0)
    yield
    os.dup2(before, 0)
    os.close(before)
    os.close(file)


def saved_report(text: str) -> dict[str, Any]:
    """The JSON that `score -o json` saves, with another digest of the judgments."""
    saved: dict[str, Any] = json.loads(text)
    assert re.fullmatch("[0-9a-f]{16}", saved.pop("judgments"))
    return saved
