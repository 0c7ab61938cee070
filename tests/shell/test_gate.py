"""The gate fails if a run is worse, never by chance alone, and takes no doubtful baseline."""

import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import ROOT
from evaluate import Metric
from shells import MAIN, QRELS, QUERIES, WORSE, Call, json_lines, pipe_of, standard_input, write
from shells import call as call
from shells import environment as environment
from shells import folder as folder

GATE = "gate qrels.txt main.txt worse.txt"


def save(call: Call, options: str = "", runs: str = "main.txt", name: str = "saved.json") -> None:
    """Save the scores of runs."""
    Path(name).write_text(call(f"score qrels.txt {runs} {options} -o json")[1])


def test_the_gate_fails_only_for_a_fall_that_is_large_and_significant(
    call: Call, ndcg: Metric
) -> None:
    how = {
        "systems": {"worse": WORSE, "main": MAIN},
        "references": QRELS,
        "k": 5,
        "baseline": "main",
    }
    (found,) = ndcg.compare(**how, alternative="less").pairs
    assert (found.difference < -0.02, found.p < 0.05) == (True, True)
    status, printed, _ = call(f"{GATE} -k 5 -o json")
    (row,) = json.loads(printed)["measures"]
    verdict = f"dropped by {-found.difference:.4f}".rstrip("0") + ": significant"
    assert (status, row["regression"], row["verdict"]) == (1, True, verdict)
    assert call(f"{GATE} -k 5 --max-drop", -found.difference)[0] == 0
    assert call(f"{GATE} -k 5 --alpha", found.p / 2)[0] == 0
    assert call("gate qrels.txt worse.txt main.txt -k 5")[0] == 0


def write_drop(differing: int, queries: int = 20) -> None:
    """Write qrels and two runs, of which one loses all of its score in some queries."""
    qrels = {f"q{at}": {"a": 1} for at in range(queries)}
    write(qrels=qrels, main=qrels, worse=qrels | {f"q{at}": {"b": 1} for at in range(differing)})


PROVEN, UNPROVEN, NONE = (
    "Regression: nDCG of worse dropped by more than 0.01.",
    "Not failed: nDCG of worse dropped by more than 0.01, but not significantly.",
    "No regression: no mean of worse dropped by more than {}.",
)
NEEDED, NEVER = "It takes 5 to be at most 0.05", "so that this gate never fails"


@pytest.mark.parametrize(
    ("differing", "options", "status", "verdict", "summary", "note"),
    [
        (5, "", 1, "dropped by 0.25: significant", PROVEN, ""),
        (
            4,
            "",
            0,
            "dropped by 0.2, which 4 differing queries cannot prove: not failed",
            UNPROVEN,
            NEEDED,
        ),
        (
            1,
            "",
            0,
            "dropped by 0.05, which 1 differing query cannot prove: not failed",
            UNPROVEN,
            NEEDED,
        ),
        (4, "--alpha 0.0625", 1, "dropped by 0.2: significant", PROVEN, ""),
        (4, "--any-drop", 1, "dropped by 0.2, more than 0.01", PROVEN, ""),
        (4, "--alpha 1", 1, "dropped by 0.2, more than 0.01", PROVEN, ""),
        (
            8,
            "--alpha 0",
            0,
            "dropped by 0.4, which 8 differing queries cannot prove: not failed",
            UNPROVEN,
            NEVER,
        ),
        (4, "--max-drop 0.2", 0, "did not drop by more than 0.2", NONE.format(0.2), ""),
        (0, "--any-drop", 0, "did not drop by more than 0.01", NONE.format(0.01), ""),
    ],
)
def test_a_verdict_says_whether_a_mean_fell_and_whether_so_few_queries_can_prove_it(
    call: Call, differing: int, options: str, status: int, verdict: str, summary: str, note: str
) -> None:
    write_drop(differing)
    found, printed, said = call(f"{GATE} {options}")
    assert (found, said) == (status, "")
    assert re.search(rf"^nDCG +20 .* {re.escape(verdict)}$", printed, re.MULTILINE)
    assert printed.split("\n\n")[1].startswith(
        f"{summary}\nA regression is a drop of the mean by more than "
    )
    assert [each for each in (NEEDED, NEVER) if each in printed] == [note] * bool(note)
    whole = json.loads(call(f"{GATE} {options} -o json")[1])
    (row,) = whole["measures"]
    assert (row["verdict"], row["differing"], row["regression"]) == (
        verdict,
        differing,
        bool(status),
    )
    assert whole["regression"] is bool(status)


def test_a_fall_that_enough_queries_do_not_prove_is_not_failed(call: Call) -> None:
    write_drop(0)
    main, worse = (
        range(6, 20),
        (0, 1, *range(8, 18)),
    )  # 6 queries differ, four of them for the worse
    write(**{
        name: {f"q{at}": {"a" if at in right else "b": 1} for at in range(20)}
        for name, right in (("main", main), ("worse", worse))
    })  # fmt: skip
    status, printed, _ = call(GATE)
    assert status == 0
    assert "dropped by 0.1, which 6 differing queries do not prove: not failed" in printed
    assert "p (Holm) is at least" not in printed


def test_the_smallest_possible_p_value_is_corrected_for_the_measures(call: Call) -> None:
    write_drop(5)
    printed = call(f"{GATE} -m nDCG,DCG")[1]
    note = "with differences in 5 of 20 queries, p (Holm) is at least 0.0625. "
    note += "It takes 6 to be at most 0.05"
    assert [f"{name}: {note}" in printed for name in ("nDCG", "DCG")] == [True, True]
    assert "Not failed: nDCG, DCG of worse dropped by more than 0.01" in printed


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_interval_of_a_gate_is_one_sided_as_its_test(
    call: Call, ndcg: Metric, level: float
) -> None:
    systems = {"worse": WORSE, "main": MAIN}
    how = {"references": QRELS, "k": 5, "baseline": "main", "confidence": 2 * level - 1}
    expected = ndcg.compare(systems=systems, **how).pairs[0].high
    (row,) = json.loads(call(f"{GATE} -k 5 -o json --confidence {level}")[1])["measures"]
    assert (row["low"], row["high"]) == (None, pytest.approx(expected, abs=1e-12))
    printed = call(f"{GATE} -k 5 --confidence {level}")[1]
    assert f"one-sided {100 * level:g}% interval" in printed
    assert f" up to {row['high']:+.4f} " in printed


def mean_of(call: Call, run: str, options: str, measure: str = "nDCG@5") -> dict[str, float]:
    """The figures of a mean as `ndcg score` saves them."""
    figures: dict[str, float] = json.loads(call(f"score qrels.txt {run} {options} -o json")[1])[
        "scores"
    ][measure]
    return figures


@pytest.mark.parametrize("files", ["worse.txt", "main.txt worse.txt", "saved.json worse.txt"])
@pytest.mark.parametrize(
    ("beside", "is_low"), [(-1e-4, False), (0, False), (1e-9, True), (1e-4, True), (0.2, True)]
)
def test_a_mean_below_the_threshold_fails_with_its_interval(
    call: Call, files: str, beside: float, is_low: bool
) -> None:
    """Whatever the baseline says: the drop is no regression here."""
    save(call, "-k 5")
    score = mean_of(call, "worse.txt", "-k 5")
    least = score["value"] + beside
    options = f"-k 5 --at-least {least!r}"
    if files != "worse.txt":
        options += " --max-drop 0.5"
    interval = f"(95% interval {score['low']:.4f} – {score['high']:.4f})"
    status, printed, said = call(f"gate qrels.txt {files} {options}")
    assert (status, said) == (is_low, "")
    if is_low:
        # as many digits as tell the mean from the threshold
        mean = f"{score['value']:.4f}"
        mean = mean if float(mean) < least else f"{score['value']:.15g}"
        summary = f"Too low: nDCG@5 of worse is {mean} {interval}, below {least:.15g}."
        verdict = f"is {mean} {interval}, below {least:.15g}"
    else:
        summary = f"High enough: no mean of worse is below {least:.15g}."
        verdict = f"is {score['value']:.4f} {interval}, at least {least:.15g}"
    assert printed.split("\n\n")[-1].startswith(f"{summary}\n")
    whole = json.loads(call(f"gate qrels.txt {files} {options} -o json")[1])
    (row,) = whole["means"]
    assert (whole["at_least"], whole["too_low"], whole.get("regression", False)) == (
        least,
        is_low,
        False,
    )
    expected = {
        "run": score["value"],
        "low": score["low"],
        "high": score["high"],
        "queries": 40,
        "left_out": 0,
    }
    assert row == {
        "measure": "nDCG@5",
        **expected,
        "at_least": least,
        "too_low": is_low,
        "verdict": verdict,
    }
    assert json_lines(call(f"gate qrels.txt {files} {options} -o jsonl")[1])[-1] == row
    report = ElementTree.fromstring(call(f"gate qrels.txt {files} {options} -o junit")[1])
    case = report.findall("testcase")[-1]
    assert (case.get("name"), report.get("failures")) == (
        f"nDCG@5 at least {least:.15g}",
        str(int(is_low)),
    )
    failure, passed = case.find("failure"), case.find("system-out")
    if is_low:
        assert (failure.get("message"), summary in failure.text) == (f"nDCG@5 {verdict}", True)
    else:
        assert passed.text == f"nDCG@5 {verdict}"


def test_a_run_may_fail_for_its_drop_and_for_its_mean(call: Call) -> None:
    write_drop(8)
    whole = json.loads(call(f"{GATE} -m nDCG,DCG --at-least 0.7 -o json")[1])
    assert (whole["regression"], whole["too_low"]) == (True, True)
    status, printed, _ = call(f"{GATE} -m nDCG,CG --at-least 0.5")
    assert status == 1  # for the drop alone
    assert printed.split("\n\n")[2].startswith(
        "High enough: no mean of worse is below 0.5.\nRegression: nDCG, CG of worse"
    )
    cases = ElementTree.fromstring(call(f"{GATE} --at-least 0.7 -o junit")[1])
    assert [case.get("name") for case in cases] == ["nDCG", "nDCG at least 0.7"]
    assert cases.get("failures") == "2"
    rows = call(f"{GATE} --at-least 0.7 -o tsv")[1].splitlines()
    assert len({row.count("\t") for row in rows}) == 1
    low = call("gate qrels.txt worse.txt -m nDCG,DCG --at-least 0.7")[1]
    interval = r"0\.6000 \(95% interval 0\.\d{4} – 0\.\d{4}\)"
    unbounded = r"0\.6000 \(95% interval -?\d\.\d{4} – \d\.\d{4}\)"
    assert re.search(
        rf"^Too low: nDCG of worse is {interval}; DCG of worse is {unbounded}, below 0.7\.$",
        low,
        re.M,
    )


def test_a_threshold_is_for_the_mean_that_score_prints(call: Call) -> None:
    """Which a query that only the baseline lacks does not change."""
    write(part={query: MAIN[query] for query in QUERIES[5:]})
    for options in ("-k 5 --missing skip", "-k 5 --missing empty"):
        score = mean_of(call, "worse.txt", options)
        for files in ("worse.txt", "part.txt worse.txt"):
            (row,) = json.loads(
                call(f"gate qrels.txt {files} {options} --at-least 0.1 -o json")[1]
            )["means"]
            assert (row["run"], row["low"], row["queries"]) == (
                score["value"],
                score["low"],
                score["queries"],
            )


def test_one_query_has_a_threshold_without_an_interval(call: Call) -> None:
    write(qrels={"q1": {"a": 1}}, run={"q1": {"b": 2, "a": 1}})
    status, printed, _ = call("gate qrels.txt run.txt --at-least 0.7")
    assert status == 1
    assert (
        "Too low: nDCG of run is 0.6309 (a single query has no interval), below 0.7.\n" in printed
    )
    assert (
        json.loads(call("gate qrels.txt run.txt --at-least 0.6 -o json")[1])["means"][0]["low"]
        is None
    )


@pytest.mark.parametrize(
    "convention", ["trec_eval", "pytrec_eval"]
)  # count missing queries as 0, and skip them
def test_without_a_baseline_no_query_may_be_missing(
    call: Call, folder: Path, convention: str
) -> None:
    write(part={query: MAIN[query] for query in QUERIES[2:]})
    command = f"gate qrels.txt part.txt --convention {convention} --at-least 0.1"
    problem = (
        "part.txt: is missing 2 queries ('q0', 'q1') of qrels.txt; --missing empty counts them "
        "as 0, "
    )
    assert call(command) == (2, "", f"ndcg gate: {problem}--missing skip skips them\n")
    for missing, queries in (("empty", 40), ("skip", 38)):
        (row,) = json.loads(call(f"{command} --missing {missing} -o json")[1])["means"]
        assert row["queries"] == queries
    (folder / "empty.json").write_text(json.dumps({**MAIN, "q0": {}}))
    assert call(command.replace("part.txt", "empty.json"))[0] == 0


def test_a_drop_without_a_test_needs_no_number_of_queries(call: Call) -> None:
    write_drop(1, queries=2)
    assert call(GATE)[0] == 2
    for measures in ("nDCG", "nDCG,DCG,CG,nDCG@1,DCG@1"):
        assert call(f"{GATE} --any-drop -m {measures}")[0] == 1
    assert call("gate qrels.txt worse.txt main.txt --any-drop")[0] == 0


@pytest.mark.parametrize("names", [["nDCG@10", "DCG@10"], ["DCG@10"]])
@pytest.mark.parametrize("baseline", ["main.txt", "saved.json"])
@pytest.mark.parametrize("factor", [0, -1], ids=["nothing relevant", "negative"])
def test_a_mean_of_the_gate_is_over_the_queries_with_a_value(
    call: Call, ndcg: Metric, factor: int, baseline: str, names: list[str]
) -> None:
    qrels = QRELS | {
        query: {d: factor * each for d, each in QRELS[query].items()} for query in QUERIES[::3]
    }
    write(qrels=qrels)
    how = f"--zero-division nan --negative-relevance keep -m {','.join(names)}"
    save(call, how)
    rows = json.loads(call(f"gate qrels.txt {baseline} worse.txt {how} -o json")[1])["measures"]
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


def test_a_saved_result_stands_for_the_baseline_compressed_or_through_a_pipe_too(
    call: Call, folder: Path
) -> None:
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
    assert [call(command.format(name)) for name in ("saved.json", "saved.json.gz")] == [
        expected
    ] * 2
    with pipe_of(content) as pipe:
        assert call(command.format(pipe)) == expected
    with pipe_of(gzip.compress(content)) as pipe, standard_input(pipe):
        assert call(command.format("-")) == expected


# Rejections


@pytest.mark.parametrize(
    ("options", "changed", "problem"),
    [
        ("-k 10", {}, "was saved with nDCG@5.*, but worse.txt is scored with nDCG@10"),
        (
            "-k 5",
            {"new": {"a": 1}},
            r"was saved with other queries: no query only in .*, 1 query \('new'\) only in ",
        ),
        (
            "-k 5",
            {"q1": QRELS["q1"] | {"new": 0}},
            "was saved with other judgments than qrels",
        ),
        (
            "-k 5",
            {"q1": dict.fromkeys(QRELS["q1"], 2)},
            "was saved with other judgments than qrels",
        ),
        (
            "-k 5",
            {"q1": {d: 2 * r % 3 for d, r in QRELS["q1"].items()}},
            "was saved with other judgments than qrels",
        ),
    ],
    ids=["other options", "a query more", "a document more", "other grades", "grades exchanged"],
)
def test_a_saved_result_of_other_options_or_judgments_is_rejected(
    call: Call, options: str, changed: dict[str, Any], problem: str
) -> None:
    save(call, "-k 5")
    write(qrels=QRELS | changed)
    status, _, said = call(f"gate qrels.txt saved.json worse.txt {options}")
    assert status == 2
    assert re.match(f"ndcg gate: saved.json: {problem}", said)


@pytest.mark.parametrize("baseline", ["saved.json", "main.txt"])
def test_a_run_that_is_missing_queries_of_the_baseline_never_passes(
    call: Call, baseline: str
) -> None:
    save(call)
    write(part={query: QRELS[query] for query in QUERIES[2:]})
    status, _, said = call(f"gate qrels.txt {baseline} part.txt")
    problem = f"part.txt: is missing 2 queries ('q0', 'q1') that {baseline} ranks; --missing"
    assert (status, said.startswith(f"ndcg gate: {problem}")) == (2, True)
    assert call(f"gate qrels.txt {baseline} part.txt --missing empty")[0] == 0


@pytest.mark.parametrize("baseline", ["saved.json", "main.txt"])
@pytest.mark.parametrize("options", ["", "--missing empty", "--missing skip"])
def test_a_query_with_an_empty_list_is_not_missing(
    call: Call, folder: Path, baseline: str, options: str
) -> None:
    """As in `ndcg score`: it counts as 0, even with --missing skip, unlike a missing query."""
    empty = {**MAIN, "q0": {}, "q1": {}}
    (folder / "empty.json").write_text(json.dumps(empty))
    save(call, options)
    status, printed, said = call(
        f"gate qrels.txt {baseline} empty.json --any-drop -o json {options}"
    )
    (row,) = json.loads(printed)["measures"]
    means = [
        json.loads(call(f"score qrels.txt {run} -o json {options}")[1])
        for run in ("main.txt", "empty.json")
    ]
    assert [row["baseline"], row["run"]] == [mean["scores"]["nDCG"]["value"] for mean in means]
    assert (status, said, row["queries"]) == (1, "", len(QUERIES))
    del empty["q2"]
    (folder / "empty.json").write_text(json.dumps(empty))
    if not options:
        status, _, said = call(f"gate qrels.txt {baseline} empty.json")
        assert (status, "is missing 1 query ('q2') that" in said) == (2, True)
    findings = json_lines(call("audit qrels.txt empty.json -o jsonl")[1])
    assert [row["queries"] for row in findings if row["finding"] == "missing from the run"] == [
        "q2"
    ]


FEW = {query: QRELS[query] for query in QUERIES[:4]}
NOTHING = {query: dict.fromkeys(judged, 0) for query, judged in QRELS.items()}


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({"qrels": FEW}, ""),
        (
            {
                name: {query: run[query] for query in FEW}
                for name, run in (("main", MAIN), ("worse", WORSE))
            },
            "",
        ),
        ({"qrels": NOTHING | FEW}, "--zero-division nan -m nDCG,DCG"),
    ],
    ids=["judged", "ranked", "with a value"],
)
def test_a_gate_that_cannot_fail_is_rejected(
    call: Call, files: dict[str, Any], options: str
) -> None:
    write(**files)
    status, printed, said = call(f"{GATE} {options}")
    assert (status, printed) == (2, "")  # .5 ** 4 is more than .05
    assert (
        "with 4 ranked queries no drop can be significant at this level, so the gate could "
        "never fail"
    ) in said


WHOLE = (
    "is not the result of one run, whole and unchanged, as saved by ndcg score -o json; save "
    "it again\n"
)


@pytest.mark.parametrize(
    ("pattern", "new", "problem"),
    [
        (r"(?s).*", '{"signature": ' + "[" * 10**5, "nests objects too deep"),
        (r"(?s).*", '{"signature": ' + "1" * 5000 + "}", "value has 5000 digits"),
        (r"(?s).{100}$", "", "not JSON"),
        (r'"scores"', '"signature": "x", "scores"', "'signature' appears twice"),
        (r'("judged": \[\s*)12', r"\g<1>1" + "0" * 40, WHOLE),
        (r'("retrieved": \[\s*)12', r"\g<1>-1", WHOLE),
        (r'"retrieved"', '"x"', WHOLE),
        (r'"nDCG": \[', '"x": [', WHOLE),
        (r'"judgments"', '"x"', "was saved with other judgments"),
    ],
    ids=lambda value: value[:20],
)
def test_a_damaged_saved_result_is_not_a_baseline(
    call: Call, folder: Path, pattern: str, new: str, problem: str
) -> None:
    saved = call("score qrels.txt main.txt -o json")[1]
    (folder / "saved.json").write_text(re.sub(pattern, new, saved, count=1))
    status, printed, said = call("gate qrels.txt saved.json worse.txt")
    assert (status, printed, said.count("\n")) == (2, "", 1)
    assert said.startswith("ndcg gate: saved.json: ")
    assert problem in said


@pytest.mark.parametrize(("version", "status"), [("2.1.0", 1), ("3.999.0", 2), ("4.0.0", 2)])
def test_a_baseline_may_be_of_another_version_with_the_same_scores(
    call: Call, folder: Path, version: str, status: int
) -> None:
    write_drop(8)
    saved = call("score qrels.txt main.txt -o json")[1]
    (folder / "saved.json").write_text(saved.replace("v:3.0.0", f"v:{version}"))
    assert call("gate qrels.txt saved.json worse.txt")[0] == status


def test_a_saved_result_is_not_a_run(call: Call) -> None:
    save(call, name="one.json")
    save(call, runs="main.txt worse.txt", name="two.json")
    several = "two.json: is not the result of one run, whole and unchanged, as saved by ndcg score"
    assert call("gate qrels.txt two.json worse.txt")[2].startswith(f"ndcg gate: {several}")
    problem = "is a saved result, which holds no documents; give the file that was scored"
    for name in ("one.json", "two.json"):
        for command in ("score qrels.txt {}", "score {} main.txt", "gate qrels.txt main.txt {}"):
            said = f"ndcg {command.split()[0]}: {name}: {problem}\n"
            assert call(command.format(name)) == (2, "", said)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        *(
            (f"--alpha={each}", "--alpha must be from 0 to 1, such as 0.05; got ")
            for each in ("-0.1", "1.1", "nan")
        ),
        (
            "--max-drop 1",
            "--max-drop 1: nDCG is at most 1, so the gate could never fail; give a smaller value",
        ),
        (
            "--confidence 0.5",
            "--confidence must be above 0.5, since the interval of a gate is one-sided; got 0.5",
        ),
        *(
            (f"--at-least={each}", "--at-least must be a number above 0, such as 0.6; ")
            for each in ("nan", "inf", "0", "-1")
        ),
        (
            "--at-least 60",
            "--at-least 60: nDCG is at most 1, so the gate would always fail; give a smaller value",
        ),
        (
            "--at-least 2 -m DCG,nDCG@5",
            "--at-least 2: nDCG is at most 1, so the gate would always fail; ",
        ),
    ],
)
def test_criteria_that_decide_nothing_are_rejected(call: Call, options: str, error: str) -> None:
    status, printed, said = call(f"{GATE} {options}")
    assert (status, printed) == (2, "")
    assert said.startswith(f"ndcg gate: {error}")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("", "give BASELINE before RUN, or the least mean that passes by --at-least"),
        (
            "--at-least 0.5 --any-drop",
            "--any-drop compares with a baseline; give BASELINE before RUN",
        ),
        (
            "--at-least 0.5 --max-drop 0.01",
            "--max-drop compares with a baseline; give BASELINE before RUN",
        ),
        (
            "--at-least 0.5 --alpha 0.5",
            "--alpha compares with a baseline; give BASELINE before RUN",
        ),
    ],
)
def test_a_gate_without_a_baseline_needs_a_threshold_and_no_other_criterion(
    call: Call, options: str, error: str
) -> None:
    assert call(f"gate qrels.txt worse.txt {options}") == (2, "", f"ndcg gate: {error}\n")


def test_a_measure_without_a_bound_may_drop_by_more_than_1(call: Call) -> None:
    for names in ("DCG", "nDCG,DCG"):
        assert call(f"{GATE} --max-drop 8 -m {names}")[0] == 0
    assert [
        call(f"gate qrels.txt main.txt -m DCG --at-least {least}")[0] for least in (2, 200)
    ] == [0, 1]


def test_a_gate_says_that_a_run_is_the_baseline(call: Call) -> None:
    write(again=MAIN)
    note = "Both systems have the same value in every query: again – main. Are they the same run?"
    assert note in call("gate qrels.txt main.txt again.txt -k 5,10")[1].splitlines()
    assert json.loads(call("gate qrels.txt main.txt again.txt -o json")[1])["notes"][0] == note


def test_the_example_of_a_gate_fails_and_tells_the_summary_why(
    environment: dict[str, str], tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    env = {**environment, "GITHUB_STEP_SUMMARY": str(summary)}
    command = [str(ROOT / "examples" / "gate.sh")]
    found = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (1, "")
    assert summary.read_text() == found.stdout
    assert re.search(
        r"^\| nDCG@10 \|.*\| dropped by 0\.\d+: significant \|$", found.stdout, re.MULTILINE
    )
