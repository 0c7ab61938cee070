"""`ndcg check` imports a function, says which nDCG it computes, and ends with the status that its help promises."""

import json
import sys
from pathlib import Path

import pytest
from shells import Call, Shell
from shells import call as call
from shells import environment as environment
from shells import folder as folder
from shells import shell as shell

RIGHT = """\
import math

def ndcg_at(run, qrels, k):
    grades = [qrels.get(document, 0) for document in sorted(run, key=lambda each: -run[each])]
    dcg, ideal = (
        sum(grade / math.log2(rank + 2) for rank, grade in enumerate(each[:k]))
        for each in (grades, sorted(qrels.values(), reverse=True))
    )
    return dcg / ideal if ideal else 0.0

def hits(run, qrels, k):
    return "many"
"""
TOP_K = RIGHT.replace("sorted(qrels.values(), reverse=True)", "sorted(grades[:k], reverse=True)")


@pytest.fixture(autouse=True)
def _functions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())  # the command adds the folder
    (folder / "right_metrics.py").write_text(RIGHT)
    (folder / "wrong_metrics.py").write_text(TOP_K)
    (folder / "broken_metrics.py").write_text("import nowhere_to_be_found")


def test_a_function_of_a_library_has_status_0(call: Call) -> None:
    status, printed, said = call("check right_metrics.py:ndcg_at")
    assert (status, said) == (0, "")
    assert "The function computes the nDCG of ranx, haystack: all 200 rankings agree." in printed


def test_a_module_is_imported_by_its_name(call: Call) -> None:
    status, printed, _ = call("check right_metrics:ndcg_at -k 5 --cases 40 --seed 3 --form mappings")
    assert status == 0
    assert "all 40 rankings agree" in printed
    assert "nDCG@5|" in printed


def test_a_slip_has_status_1_and_the_smallest_ranking_as_a_table(call: Call) -> None:
    status, printed, _ = call("check wrong_metrics.py:ndcg_at")
    assert status == 1
    header, first = printed.splitlines()[:2]
    assert header.split()[:4] == ["rank", "document", "score", "relevance"]
    assert first.split()[0] == "1"
    assert "with a slip: ideal from the top k retrieved" in printed


def test_another_convention_than_the_one_wanted_has_status_1(call: Call) -> None:
    assert call("check right_metrics.py:ndcg_at --convention ranx")[0] == 0
    assert call("check right_metrics.py:ndcg_at --convention trec_eval")[0] == 1


def test_a_function_that_returns_no_score_has_status_2(call: Call) -> None:
    status, printed, _ = call("check right_metrics.py:hits")
    assert status == 2
    assert "The function returned no score for any of 200 rankings." in printed


def test_a_function_may_use_pandas(shell: Shell, folder: Path) -> None:
    """Other commands keep pyarrow from importing it."""
    (folder / "with_pandas.py").write_text(f"import pandas\n{RIGHT}")
    found = shell("ndcg check with_pandas.py:ndcg_at --cases 40")
    assert (found.returncode, found.stderr) == (0, "")
    assert "The function computes the nDCG of ranx, haystack" in found.stdout


WITH_CLASSES = """\
from __future__ import annotations
from dataclasses import dataclass
from right_metrics import ndcg_at

@dataclass
class Metric:
    base: int = 2

    def ndcg(self, run, qrels, k):
        return ndcg_at(run, qrels, k)

metric = Metric()
"""


def test_a_method_of_an_object_is_a_function(call: Call, folder: Path) -> None:
    (folder / "random.py").write_text(WITH_CLASSES)
    status, printed, _ = call("check random.py:metric.ndcg --cases 40")
    assert status == 0
    assert "The function computes the nDCG of ranx, haystack" in printed
    assert call("check random.py:nothing")[2] == "ndcg check: random.py has no function nothing; it has Metric\n"
    import random

    assert not hasattr(random, "metric")


@pytest.mark.parametrize("error", ["SystemExit(1)", "KeyboardInterrupt", "GeneratorExit"])
def test_an_error_of_the_function_is_not_one_of_the_command(call: Call, folder: Path, error: str) -> None:
    (folder / "raising.py").write_text(f"def ndcg(run, qrels, k):\n    raise {error}\n")
    status, printed, said = call("check raising.py:ndcg --cases 20")
    assert (status, said) == (2, "")
    assert f"It raises {error.partition('(')[0]}: 20 of 20 rankings" in printed


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit"])
def test_an_error_of_an_import_is_bad_input(call: Call, folder: Path, error: str) -> None:
    (folder / "script.py").write_text(f"raise {error}('no')\n")
    said = f"ndcg check: script.py cannot be imported: {error}: no\n"
    assert call("check script.py:ndcg") == (2, "", said)


def test_a_script_that_exits_is_named(call: Call, folder: Path) -> None:
    (folder / "script.py").write_text("import sys\nsys.exit(1)\n")
    status, printed, said = call("check script.py:ndcg")
    assert (status, printed) == (2, "")
    guard = 'if __name__ == "__main__":'
    assert said == f"ndcg check: script.py exits when it is imported; put its calls under {guard}\n"


def test_the_answer_is_json(call: Call) -> None:
    answer = json.loads(call("check wrong_metrics.py:ndcg_at -o json")[1])
    assert answer["matches"][0]["slips"] == ["ideal from the top k retrieved"]
    assert answer["example"]["value"] == 1.0


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("right_metrics.py", "ndcg check: right_metrics.py: must be FILE.py:NAME or package.module:NAME"),
        ("right_metrics.py:ndcg", "ndcg check: right_metrics.py has no function ndcg; it has ndcg_at, hits"),
        *(
            (place, f"ndcg check: {place}: must be FILE.py:NAME or package.module:NAME")
            for place in ("right_metrics.py::ndcg_at", "right_metrics.py:ndcg_at:k", "data/notes.txt:ndcg", ":ndcg")
        ),
        ("nowhere.py:ndcg", "ndcg check: nowhere.py: No such file or directory"),
        (
            "broken_metrics.py:ndcg",
            "ndcg check: broken_metrics.py cannot be imported: ModuleNotFoundError: "
            "No module named 'nowhere_to_be_found'",
        ),
        (
            "no_such_module:ndcg",
            "ndcg check: no_such_module cannot be imported: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        (
            "right_metrics.py:ndcg_at -k 5,10",
            "ndcg check: -k must be one cutoff, since the function is called once for each ranking",
        ),
        (
            "right_metrics.py:ndcg_at --cases 0",
            "ndcg check: --cases must be an integer, at least 1 and at most 100,000; got 0",
        ),
    ],
)
def test_a_function_that_cannot_be_called_ends_in_one_sentence(call: Call, place: str, error: str) -> None:
    status, printed, said = call(f"check {place}")
    assert (status, printed) == (2, "")
    assert said == f"{error}\n"
