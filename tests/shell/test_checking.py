"""`ndcg check` imports a function, names the nDCG it computes, and exits as its help says."""

import json
import random
import sys
from pathlib import Path

import pytest
from shells import Call
from shells import call as call
from shells import folder as folder

from ndcg.shell import command_line

RIGHT = """\
import math

def ndcg_at(run, qrels, k):
    grades = [qrels.get(document, 0) for document in sorted(run, key=lambda each: -run[each])]
    dcg, ideal = (
        sum(grade / math.log2(rank + 2) for rank, grade in enumerate(each[:k]))
        for each in (grades, sorted(qrels.values(), reverse=True))
    )
    return dcg / ideal if ideal else 0.0

def of_full_lists(run, qrels, k):
    if len(run) < k:
        raise ValueError("too few documents")
    return ndcg_at(run, qrels, k)

def hits(run, qrels, k):
    return "many"
"""
TOP_K = RIGHT.replace("sorted(qrels.values(), reverse=True)", "sorted(grades[:k], reverse=True)")
WITH_CLASSES = """\
from __future__ import annotations
from dataclasses import dataclass
from neighbor import ndcg_at

@dataclass
class Metric:
    base: int = 2

    def ndcg(self, run, qrels, k):
        return ndcg_at(run, qrels, k)

metric = Metric()
"""


@pytest.fixture(autouse=True)
def _functions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())  # the command adds the folder
    (folder / "right_metrics.py").write_text(RIGHT)
    (folder / "wrong_metrics.py").write_text(TOP_K)
    (folder / "broken_metrics.py").write_text("import nowhere_to_be_found")
    (folder / "library").mkdir()
    (folder / "library" / "neighbor.py").write_text(RIGHT)
    (folder / "library" / "random.py").write_text(WITH_CLASSES)


@pytest.mark.parametrize(
    ("arguments", "expected", "words"),
    [
        (
            "right_metrics.py:ndcg_at",
            0,
            ["computes the nDCG of ranx, haystack: all 200 rankings agree."],
        ),
        (
            "right_metrics:ndcg_at -k 5 --cases 40 --seed 3 --form mappings",
            0,
            ["all 40 rankings agree", "nDCG@5|"],
        ),
        ("right_metrics.py:ndcg_at --convention ranx --cases 40", 0, []),
        ("right_metrics.py:ndcg_at --convention trec_eval --cases 40", 1, []),
        (
            "right_metrics.py:of_full_lists",
            3,
            ["It raises ValueError: 188 of 326 rankings, such as too few documents for run"],
        ),
        (
            "right_metrics.py:of_full_lists --convention ranx",
            3,
            ["Only 138 of 326 rankings can be compared: "],
        ),
        ("right_metrics.py:hits", 2, ["The function returned no score for any of 200 rankings."]),
        (
            "library/random.py:metric.ndcg --cases 40",
            0,
            ["The function computes the nDCG of ranx, haystack"],
        ),
    ],
)
def test_the_status_says_whether_the_function_computes_the_ndcg_of_a_library(
    call: Call, arguments: str, expected: int, words: list[str]
) -> None:
    status, printed, said = call(f"check {arguments}")
    assert (status, said) == (expected, "")
    assert [each for each in words if each not in printed] == []
    assert sys.modules["random"] is random  # a file of that name hides no module


def test_a_slip_has_status_1_and_the_smallest_ranking_as_a_table(call: Call) -> None:
    status, printed, _ = call("check wrong_metrics.py:ndcg_at --cases 40")
    assert status == 1
    header, first = printed.splitlines()[:2]
    assert header.split()[:3] == ["document", "score", "relevance"]
    assert first.split()[1:3] == ["1.0000", "1"]
    assert "with a slip: ideal from the top k retrieved" in printed
    answer = json.loads(call("check wrong_metrics.py:ndcg_at --cases 40 -o json")[1])
    assert answer["matches"][0]["slips"] == ["ideal from the top k retrieved"]
    assert answer["example"]["value"] == 1.0


def test_a_function_may_use_pandas(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other commands keep pyarrow from importing it."""
    (folder / "with_pandas.py").write_text(f"import pandas\n{RIGHT}")
    monkeypatch.setattr(sys, "meta_path", sys.meta_path.copy())
    monkeypatch.setattr(sys, "argv", ["ndcg", "check", "with_pandas.py:ndcg_at", "--cases", "40"])
    monkeypatch.delitem(sys.modules, "pandas")
    assert command_line.main() == 0


PLACE = "must be FILE.py:NAME or package.module:NAME"
NO_MODULE = "cannot be imported: ModuleNotFoundError: No module named"


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("right_metrics.py", f"right_metrics.py: {PLACE}"),
        ("right_metrics.py:ndcg_at:k", f"right_metrics.py:ndcg_at {NO_MODULE}"),
        ("data/notes.txt:ndcg", f"data/notes.txt {NO_MODULE} 'data/notes'"),
        (
            "right_metrics.py:ndcg",
            "right_metrics.py has no function ndcg; it has hits, ndcg_at, of_full_lists",
        ),
        (
            "library/random.py:nothing",
            "library/random.py has no function nothing; it has dataclass, ndcg_at",
        ),
        ("nowhere.py:ndcg", "nowhere.py: No such file or directory"),
        ("broken_metrics.py:ndcg", f"broken_metrics.py {NO_MODULE} 'nowhere_to_be_found'"),
        ("no_such_module:ndcg", f"no_such_module {NO_MODULE} 'no_such_module'"),
        (
            "right_metrics.py:ndcg_at -k 5,10",
            "-k must be one cutoff, since the function is called once per ",
        ),
        (
            "right_metrics.py:ndcg_at --cases 0",
            "--cases must be an integer, at least 1 and at most 100,000; got 0",
        ),
        ("interrupting.py:ndcg", "interrupting.py cannot be imported: KeyboardInterrupt: no"),
        (
            "exiting.py:ndcg",
            'exiting.py exits when it is imported; put its calls under if __name__ == "__main__":',
        ),
    ],
)
def test_a_function_that_cannot_be_called_ends_in_one_sentence(
    call: Call, folder: Path, place: str, error: str
) -> None:
    (folder / "interrupting.py").write_text("raise KeyboardInterrupt('no')")
    (folder / "exiting.py").write_text("raise SystemExit(1)")
    status, printed, said = call(f"check {place}")
    assert (status, printed, said.count("\n")) == (2, "", 1)
    assert said.startswith(f"ndcg check: {error}")
