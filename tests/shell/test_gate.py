"""The gate fails if a run is worse, never by chance alone, and takes no baseline that it cannot trust."""

import gzip
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from evaluate import Metric
from shells import MAIN, QRELS, QUERIES, WORSE, Call, pipe_of, standard_input, trec
from shells import call as call
from shells import environment as environment
from shells import folder as folder


def test_the_gate_fails_only_for_a_fall_that_is_large_and_significant(call: Call, ndcg: Metric) -> None:
    how = {"systems": {"worse": WORSE, "main": MAIN}, "references": QRELS, "k": 5, "baseline": "main"}
    (found,) = ndcg.compare(**how, alternative="less").pairs
    assert (found.difference < -0.02, found.p < 0.05) == (True, True)
    status, printed, _ = call("gate qrels.txt main.txt worse.txt -k 5 -o json")
    (row,) = json.loads(printed)["measures"]
    verdict = f"dropped by {-found.difference:.4f}".rstrip("0") + ": significant"
    assert (status, row["regression"], row["verdict"]) == (1, True, verdict)
    for name in ("difference", "p", "p_holm"):
        assert row[name] == pytest.approx(getattr(found, name), abs=1e-12)
    assert call("gate qrels.txt main.txt worse.txt -k 5 --max-drop", -found.difference)[0] == 0
    assert call("gate qrels.txt main.txt worse.txt -k 5 --alpha", found.p / 2)[0] == 0
    assert call("gate qrels.txt worse.txt main.txt -k 5")[0] == 0


def drop(folder: Path, differing: int, queries: int = 20) -> None:
    """Write qrels and two runs, of which one loses all of its score in some queries."""
    qrels = {f"q{at}": {"a": 1} for at in range(queries)}
    worse = {query: {"b" if at < differing else "a": 1} for at, query in enumerate(qrels)}
    for name, side in (("qrels", qrels), ("main", qrels), ("worse", worse)):
        (folder / f"{name}.txt").write_text(trec(side, "qrels" if name == "qrels" else "run"))


PROVEN, UNPROVEN, NONE = (
    "Regression: nDCG of worse dropped by more than 0.01.",
    "Not failed: nDCG of worse dropped by more than 0.01, but not significantly.",
    "No regression: no mean of worse dropped by more than {}.",
)


@pytest.mark.parametrize(
    ("differing", "options", "status", "verdict", "summary"),
    [
        (5, "", 1, "dropped by 0.25: significant", PROVEN),
        (4, "", 0, "dropped by 0.2, which 4 differing queries cannot prove: not failed", UNPROVEN),
        (1, "", 0, "dropped by 0.05, which 1 differing query cannot prove: not failed", UNPROVEN),
        (4, "--alpha 0.0625", 1, "dropped by 0.2: significant", PROVEN),
        (4, "--any-drop", 1, "dropped by 0.2, more than 0.01", PROVEN),
        (4, "--alpha 1", 1, "dropped by 0.2, more than 0.01", PROVEN),
        (8, "--alpha 0", 0, "dropped by 0.4, which 8 differing queries cannot prove: not failed", UNPROVEN),
        (4, "--max-drop 0.2", 0, "did not drop by more than 0.2", NONE.format(0.2)),
        (0, "--any-drop", 0, "did not drop by more than 0.01", NONE.format(0.01)),
    ],
)
def test_a_verdict_says_whether_a_mean_fell_and_whether_so_few_queries_can_prove_it(
    call: Call, folder: Path, differing: int, options: str, status: int, verdict: str, summary: str
) -> None:
    drop(folder, differing)
    found, printed, said = call(f"gate qrels.txt main.txt worse.txt {options}")
    assert (found, said) == (status, "")
    assert re.search(rf"^nDCG +20 .* {re.escape(verdict)}$", printed, re.MULTILINE)
    assert printed.split("\n\n")[1].startswith(f"{summary}\nA regression is a drop of the mean by more than ")
    whole = json.loads(call(f"gate qrels.txt main.txt worse.txt {options} -o json")[1])
    (row,) = whole["measures"]
    assert (row["verdict"], row["differing"], row["regression"]) == (verdict, differing, bool(status))
    assert whole["regression"] is bool(status)
    note = {"--alpha 0": "so that this gate never fails"}.get(options, "It takes 5 to be at most 0.05")
    assert (note in printed) is (summary == UNPROVEN)


def test_a_fall_that_enough_queries_do_not_prove_is_not_failed(call: Call, folder: Path) -> None:
    qrels = {f"q{at}": {"a": 1} for at in range(20)}
    sides = {"main": range(6, 20), "worse": (0, 1, *range(8, 18))}  # 6 queries differ, four of them for the worse
    (folder / "qrels.txt").write_text(trec(qrels, "qrels"))
    for name, right in sides.items():
        (folder / f"{name}.txt").write_text(
            trec({f"q{at}": {"a" if at in right else "b": 1} for at in range(20)}, "run")
        )
    status, printed, _ = call("gate qrels.txt main.txt worse.txt")
    assert status == 0
    assert "dropped by 0.1, which 6 differing queries do not prove: not failed" in printed
    assert "p (Holm) is at least" not in printed


def test_the_smallest_possible_p_value_is_corrected_for_the_measures(call: Call, folder: Path) -> None:
    drop(folder, 5)
    printed = call("gate qrels.txt main.txt worse.txt -m nDCG,DCG")[1]
    note = "with 5 queries that differ, p (Holm) is at least 0.0625. It takes 6 to be at most 0.05"
    assert [f"{name}: {note}" in printed for name in ("nDCG", "DCG")] == [True, True]
    assert "Not failed: nDCG, DCG of worse dropped by more than 0.01" in printed


def test_the_interval_of_a_gate_is_one_sided_as_its_test(call: Call, ndcg: Metric) -> None:
    how = {"systems": {"worse": WORSE, "main": MAIN}, "references": QRELS, "k": 5, "baseline": "main"}
    for level in (0.95, 0.8):
        (row,) = json.loads(call(f"gate qrels.txt main.txt worse.txt -k 5 -o json --confidence {level}")[1])["measures"]
        assert row["low"] is None
        assert row["high"] == pytest.approx(ndcg.compare(**how, confidence=2 * level - 1).pairs[0].high, abs=1e-12)
        printed = call(f"gate qrels.txt main.txt worse.txt -k 5 --confidence {level}")[1]
        assert f"one-sided {100 * level:g}% interval" in printed
        assert f" up to {row['high']:+.4f} " in printed


def test_a_threshold_alone_needs_no_number_of_queries(call: Call, folder: Path) -> None:
    drop(folder, 1, queries=2)
    assert call("gate qrels.txt main.txt worse.txt")[0] == 2
    assert call("gate qrels.txt main.txt worse.txt --any-drop")[0] == 1
    assert call("gate qrels.txt main.txt main.txt --any-drop")[0] == 2  # given twice
    assert call("gate qrels.txt worse.txt main.txt --any-drop")[0] == 0


def test_a_saved_result_of_other_options_is_rejected(call: Call, folder: Path) -> None:
    (folder / "saved.json").write_text(call("score qrels.txt main.txt -k 5 -o json")[1])
    signature = json.loads((folder / "saved.json").read_text())["signature"]
    status, _, said = call("gate qrels.txt saved.json worse.txt -k 10")
    assert (status, signature in said, signature.replace("@5", "@10") in said) == (2, True, True)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({query: QRELS[query] for query in QUERIES[1:]}, "was saved with other queries: 1 query ('q0') only in the "
         "saved result"),
        (QRELS | {"q1": QRELS["q1"] | {"new": 0}}, "query 'q1' has 12 judged documents there, but 13 in qrels.txt"),
        (QRELS | {"q1": dict.fromkeys(QRELS["q1"], 2)}, "relevant documents there, but 12 in qrels.txt"),
        *(
            ({query: {d: factor * r % above for d, r in each.items()} for query, each in QRELS.items()},
             "with other judgments than qrels")
            for factor, above in ((2, 3), (3, 9))
        ),
    ],
    ids=["a query less", "a document more", "other grades", "grades exchanged", "higher grades"],
)  # fmt: skip
def test_a_saved_result_of_other_judgments_is_rejected(
    call: Call, folder: Path, changed: dict[str, Any], problem: str
) -> None:
    (folder / "saved.json").write_text(call("score qrels.txt main.txt -k 5 -o json")[1])
    (folder / "qrels.txt").write_text(trec(changed, "qrels"))
    status, _, said = call("gate qrels.txt saved.json worse.txt -k 5")
    assert status == 2
    assert said.startswith("ndcg gate: saved.json: ")
    assert problem in said


def test_a_run_that_is_missing_queries_of_the_baseline_never_passes(call: Call, folder: Path) -> None:
    (folder / "saved.json").write_text(call("score qrels.txt main.txt -k 5 -o json")[1])
    (folder / "part.txt").write_text(trec({query: QRELS[query] for query in QUERIES[2:]}, "run"))
    for baseline in ("saved.json", "main.txt"):
        status, _, said = call(f"gate qrels.txt {baseline} part.txt -k 5")
        assert status == 2
        assert said.startswith(
            f"ndcg gate: part.txt: is missing 2 queries ('q0', 'q1') that {baseline} ranks; --missing"
        )
    assert call("gate qrels.txt main.txt part.txt -k 5 --missing empty")[0] == 0


FEW = {query: QRELS[query] for query in QUERIES[:4]}
NOTHING = {query: dict.fromkeys(judged, 0) for query, judged in QRELS.items()}


@pytest.mark.parametrize("format_", ["text", "json"])
@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({"qrels": FEW}, ""),
        ({name: {query: run[query] for query in FEW} for name, run in (("main", MAIN), ("worse", WORSE))}, ""),
        ({"qrels": NOTHING | FEW}, "--zero-division nan -m nDCG,DCG"),
    ],
    ids=["judged", "ranked", "with a value"],
)
def test_a_gate_that_cannot_fail_is_rejected(
    call: Call, folder: Path, format_: str, files: dict[str, Any], options: str
) -> None:
    for name, side in files.items():
        (folder / f"{name}.txt").write_text(trec(side, name))
    status, printed, said = call(f"gate qrels.txt main.txt worse.txt {options} -o {format_}")
    assert (status, printed) == (2, "")  # .5 ** 4 is more than .05
    assert "with 4 ranked queries no drop can be significant at this level, so the gate could never fail" in said


@pytest.mark.parametrize("names", [["nDCG@10", "DCG@10"], ["DCG@10"], ["DCG@10", "nDCG@3", "IDCG"]])
@pytest.mark.parametrize("baseline", ["main.txt", "saved.json"])
@pytest.mark.parametrize("factor", [0, -1], ids=["nothing relevant", "negative"])
def test_a_mean_of_the_gate_is_over_the_queries_with_a_value(
    call: Call, folder: Path, ndcg: Metric, factor: int, baseline: str, names: list[str]
) -> None:
    qrels = {
        query: {document: (1 if at % 3 else factor) * relevance for document, relevance in judged.items()}
        for at, (query, judged) in enumerate(QRELS.items())
    }
    (folder / "qrels.txt").write_text(trec(qrels, "qrels"))
    how = f"--zero-division nan --negative-relevance keep -m {','.join(names)} -o json"
    (folder / "saved.json").write_text(call(f"score qrels.txt main.txt {how}")[1])
    rows = json.loads(call(f"gate qrels.txt {baseline} worse.txt {how}")[1])["measures"]
    expected = ndcg.compare(
        systems={"main": MAIN, "worse": WORSE},
        references=qrels,
        measures=names,
        baseline="main",
        alternative="less",
        corrected_over="all",
        zero_division=float("nan"),
        negative_relevance="keep",
    )
    assert [row["measure"] for row in rows] == names
    for row, pair in zip(rows, expected.pairs, strict=True):
        assert row["queries"] == {"n": 40 - 14}.get(pair.measure[0], 40)
        for name in ("difference", "p", "p_holm"):
            assert row[name] == pytest.approx(getattr(pair, name), abs=1e-12)
        means = [expected.scores[run][pair.measure].value for run in ("main", "worse")]
        assert [row["baseline"], row["run"]] == means


@pytest.mark.parametrize("baseline", ["main.txt", "saved.json"])
def test_values_of_any_size_have_a_verdict(call: Call, folder: Path, baseline: str) -> None:
    large = {query: {document: 1e200 * each for document, each in judged.items()} for query, judged in QRELS.items()}
    (folder / "qrels.txt").write_text(trec(large, "qrels"))
    (folder / "saved.json").write_text(call("score qrels.txt main.txt -m DCG@10 -o json")[1])
    status, printed, said = call(f"gate qrels.txt {baseline} worse.txt -m DCG@10")
    assert (status, said) == (1, "")
    row = printed.splitlines()[1]
    assert re.fullmatch(
        r"DCG@10 +40  \d\.\d{4}e\+200  \d\.\d{4}e\+200  -\d\.\d{4}e\+199 .* dropped by \S+e\+199: significant", row
    )
    assert call("gate qrels.txt worse.txt main.txt -m DCG@10")[0] == 0


WHOLE = "is not the result of one run, whole and unchanged, as saved by ndcg score -o json; save it again\n"


def without(*path: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        whole = json.loads(text)
        (whole[path[0]] if path[1:] else whole).pop(path[-1])
        return json.dumps(whole)

    return change


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "deep": (lambda _: '{"signature": ' + "[" * 10**5 + "]" * 10**5 + "}", "nests objects too deep"),
    "long integer": (lambda _: '{"signature": ' + "1" * 5000 + "}", "holds an integer of 5,000 digits"),
    "large value": (lambda text: re.sub(r'"value": [\d.]+', '"value": 1' + "0" * 400, text, count=1), WHOLE),
    "large count": (lambda text: re.sub(r'("judged": \[\s*)12', r"\g<1>1" + "0" * 40, text), WHOLE),
    "negative count": (lambda text: re.sub(r'("retrieved": \[\s*)12', r"\g<1>-1", text), WHOLE),
    "twice": (lambda text: text.replace('"scores"', '"signature": "x", "scores"', 1), "'signature' appears twice"),
    "cut short": (lambda text: text[:-100], "not JSON"),
    "no column of values": (without("queries", "nDCG"), WHOLE),
    "no column of queries": (without("queries", "query"), WHOLE),
    "no counts": (without("queries", "retrieved"), WHOLE),
    "no judgments": (without("judgments"), "save it again\n"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_saved_result_is_not_a_baseline(call: Call, folder: Path, damage: str) -> None:
    change, problem = DAMAGES[damage]
    (folder / "saved.json").write_text(change(call("score qrels.txt main.txt -o json")[1]))
    status, printed, said = call("gate qrels.txt saved.json worse.txt")
    assert (status, printed, said.count("\n")) == (2, "", 1)
    assert said.startswith("ndcg gate: saved.json: ")
    assert problem in said


def test_a_saved_result_stands_for_the_baseline_compressed_or_through_a_pipe_too(call: Call, folder: Path) -> None:
    lines = (folder / "qrels.txt").read_text().splitlines()
    (folder / "sorted.txt").write_text("\n".join(sorted(lines, reverse=True)))
    how = "-m nDCG@5,DCG --confidence 0.9"
    content = b"\xef\xbb\xbf" + call(f"score qrels.txt main.txt {how} -o json")[1].encode()
    (folder / "saved.json").write_bytes(content)
    (folder / "saved.json.gz").write_bytes(gzip.compress(content))
    command = f"gate qrels.txt {{}} worse.txt {how} -o jsonl"
    expected = call(command.format("main.txt"))
    assert (expected[0], expected[2]) == (1, "")
    assert call(f"gate sorted.txt saved.json worse.txt {how}")[0] == 1  # its judgments are the same
    assert [call(command.format(name)) for name in ("saved.json", "saved.json.gz")] == [expected] * 2
    with pipe_of(content) as pipe:
        assert call(command.format(pipe)) == expected
    with pipe_of(gzip.compress(content)) as pipe, standard_input(pipe):
        assert call(command.format("-")) == expected
    with standard_input("saved.json"):
        assert call(command.format("/dev/stdin")) == expected


def test_a_saved_result_is_not_a_run(call: Call, folder: Path) -> None:
    for runs, name in (("main.txt", "one.json"), ("main.txt worse.txt", "two.json")):
        (folder / name).write_text(call(f"score qrels.txt {runs} -o json")[1])
    several = "two.json: contains the results of 2 runs, 'main', 'worse'; save only the one to compare with"
    assert call("gate qrels.txt two.json worse.txt") == (2, "", f"ndcg gate: {several}\n")
    problem = "is a saved result, which holds no documents; give the file that was scored"
    for name in ("one.json", "two.json"):
        for command in ("score qrels.txt {}", "score {} main.txt", "gate qrels.txt main.txt {}"):
            status, printed, said = call(command.format(name))
            assert (status, printed, said) == (2, "", f"ndcg {command.split()[0]}: {name}: {problem}\n")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        *((f"--alpha={each}", "--alpha must be from 0 to 1, such as 0.05; got ") for each in ("-0.1", "1.1", "nan")),
        ("--max-drop 8", ""),
        ("--confidence 0.5", "--confidence must be above 0.5, since the interval of a gate is one-sided; got 0.5"),
    ],
)
def test_criteria_that_decide_nothing_are_rejected(call: Call, options: str, error: str) -> None:
    status, printed, said = call(f"gate qrels.txt main.txt worse.txt {options}")
    assert (status, printed) == (2, "")
    assert said.startswith(f"ndcg gate: {error}")
    for names in ("DCG", "nDCG,DCG"):
        assert call(f"gate qrels.txt main.txt worse.txt --max-drop 8 -m {names}")[0] == 0


def test_the_example_of_a_gate_fails_and_tells_the_summary_why(environment: dict[str, str], tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    found = subprocess.run(
        [str(ROOT / "examples" / "gate.sh")],
        cwd=tmp_path,
        env={**environment, "GITHUB_STEP_SUMMARY": str(summary)},
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stderr) == (1, "")
    assert summary.read_text() == found.stdout
    assert re.search(r"^\| nDCG@10 \|.*\| dropped by 0\.\d+: significant \|$", found.stdout, re.MULTILINE)
