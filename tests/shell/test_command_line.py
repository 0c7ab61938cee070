"""The command line gives the package's numbers, says in one sentence what is wrong, and fails when a run is worse."""

import argparse
import csv
import doctest
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import evaluate
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from conftest import ROOT

from ndcg.measure import options
from ndcg.shell import arguments, command_line, commands, output, sides

TREC = ROOT / "tests" / "trec_eval"
RNG = np.random.default_rng(0)
QUERIES = [f"q{query}" for query in range(40)]
QRELS = {query: {f"d{document}": int(RNG.integers(0, 3)) for document in range(12)} for query in QUERIES}
MAIN = {
    query: {document: round(0.5 * relevance + RNG.normal(), 2) for document, relevance in judged.items()}
    for query, judged in QRELS.items()
}
WORSE = {
    query: {document: round(score - 0.3 * QRELS[query][document] * RNG.random(), 2) for document, score in run.items()}
    for query, run in MAIN.items()
}


def trec(mapping: dict[str, dict[str, Any]], kind: str) -> str:
    form = "{} 0 {} {}\n" if kind == "qrels" else "{} Q0 {} 1 {} tag\n"
    return "".join(form.format(query, *row) for query, documents in mapping.items() for row in documents.items())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands run: qrels, a run and one that is worse."""
    for name, mapping in (("qrels", QRELS), ("main", MAIN), ("worse", WORSE)):
        (tmp_path / f"{name}.txt").write_text(trec(mapping, name))
    monkeypatch.chdir(tmp_path)
    return tmp_path


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command here; return its status, what it prints and what it says on standard error."""

    def run(command: str, *more: object) -> tuple[int, str, str]:
        try:
            status = command_line.main([*shlex.split(command), *map(str, more)])
        except SystemExit as exit_:
            status = int(str(exit_.code))
        output = capsys.readouterr()
        return status, output.out, output.err

    return run


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is installed, and its command."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "src" / "ndcg", folder / "ndcg", ignore=shutil.ignore_patterns("__pycache__"))
    command = folder / "ndcg-command" / "ndcg"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(folder))} exec {sys.executable} -m ndcg "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.fixture
def shell(site: Path, folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a script of bash in which `ndcg` is a command."""

    def run(script: str, **how: Any) -> subprocess.CompletedProcess[str]:
        environment = environment_of(site)
        return subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, **how
        )

    return run


def saved_report(text: str) -> dict[str, Any]:
    """What `score -o json` saves, but for the digits of the judgments."""
    saved: dict[str, Any] = json.loads(text)
    assert re.fullmatch("[0-9a-f]{16}", saved.pop("judgments"))
    return saved


def environment_of(site: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{site / 'ndcg-command'}{os.pathsep}{os.environ['PATH']}"}


# Numbers


@pytest.mark.parametrize(
    ("run", "how", "expected"),
    [("results.test", "--missing skip", "out.test.aq"), ("results.trunc", "", "out.test.aqc")],
)
def test_trec_eval_prints_the_same_for_its_own_test_files(call: Call, run: str, how: str, expected: str) -> None:
    rows = [line.split() for line in (TREC / expected).read_text().splitlines()]
    names = {measure: "nDCG" + measure.removeprefix("ndcg").replace("_cut_", "@") for measure, *_ in rows}
    command = (
        f"score {TREC}/qrels.test.gz {TREC}/{run}.gz -q --convention trec_eval {how} -m {','.join(names.values())}"
    )
    status, printed, _ = call(command)
    header, *lines = (line.split() for line in printed.partition("\n\n")[0].splitlines())
    found = {(line[0], name): value for line in lines for name, value in zip(header[1:], line[1:], strict=True)}
    assert status == 0
    assert len(rows) == 40
    assert found == {(query, names[measure]): value for measure, query, value in rows}


def test_score_saves_the_report(call: Call, ndcg: evaluate.Metric) -> None:
    status, printed, _ = call("score qrels.txt main.txt -m nDCG@5,DCG@3 -o json")
    report = ndcg.report(predictions=MAIN, references=QRELS, measures=["nDCG@5", "DCG@3"])
    assert status == 0
    assert saved_report(printed) == report.to_dict()


def test_scores_of_several_runs_stand_side_by_side(call: Call, ndcg: evaluate.Metric) -> None:
    _, printed, _ = call("score qrels.txt main.txt worse.txt -k 5 -p 3")
    lines = [re.split(r" {2,}", line) for line in printed.splitlines()[:3]]
    assert lines[0] == ["run", "queries", "nDCG@5", "95% interval"]
    for (name, queries, mean, interval), run in zip(lines[1:], (MAIN, WORSE), strict=True):
        score = ndcg.report(predictions=run, references=QRELS, k=5).scores["nDCG@5"]
        assert [queries, mean, interval] == ["40", f"{score.value:.3f}", f"{score.low:.3f} – {score.high:.3f}"]
        assert name == ("main" if run is MAIN else "worse")


def test_programs_read_the_same_numbers_in_every_format(call: Call) -> None:
    how = "score qrels.txt main.txt -k 5 -q -o"
    lines = [json.loads(line) for line in call(f"{how} jsonl")[1].splitlines()]
    assert [line["query"] for line in lines] == [*QUERIES, "all"]
    rows = list(csv.DictReader(io.StringIO(call(f"{how} tsv")[1]), delimiter="\t"))
    assert [float(row["nDCG@5"]) for row in rows] == [line["nDCG@5"] for line in lines]
    markdown = [line for line in call(f"{how} markdown")[1].splitlines() if line.startswith("| q")]
    assert markdown[1:] == [f"| {line['query']} | {line['nDCG@5']:.4f} |" for line in lines[:-1]]
    latex = re.findall(r"^(\S+) & (\S+) \\\\$", call(f"{how} latex")[1], re.MULTILINE)
    assert latex[1:] == [(line["query"], f"{line['nDCG@5']:.4f}") for line in lines]


OPTIONS: dict[str, tuple[str, Any]] = {
    "k": ("-k 3,all", [3, None]),
    "measures": ("-m CG@2,IDCG", ["CG@2", "IDCG"]),
    "convention": ("--convention lightgbm", "lightgbm"),
    "gain": ("--gain 0,2,5", [0, 2, 5]),
    "discount": ("--discount reciprocal", "reciprocal"),
    "log_base": ("--log-base 3 -m DCG", 3),
    "ideal": ("--ideal truncated", "truncated"),
    "ties": ("--ties worst", "worst"),
    "zero_division": ("--zero-division nan", float("nan")),
    "negative_relevance": ("--negative-relevance clip", "clip"),
    "judged_only": ("-J", True),
    "ignore_index": ("--ignore-index 1", 1),
    "missing": ("--missing skip", "skip"),
}


def test_every_option_of_python_is_one_of_the_shell() -> None:
    assert set(OPTIONS) == set(options.OF_COMPUTE) - {"ignore_ties", "use_aggregator", "engine"}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_mean_what_they_mean_in_python(call: Call, ndcg: evaluate.Metric, name: str) -> None:
    words, value = OPTIONS[name]
    given = {name: value, **({"measures": "DCG"} if name == "log_base" else {})}
    report = ndcg.report(predictions=MAIN, references=QRELS, **given)
    saved = json.loads(call(f"score qrels.txt main.txt {words} -o json")[1])
    assert saved["signature"] == report.signature
    assert saved["scores"] == {each: score._asdict() for each, score in report.scores.items()}
    assert call(f"score qrels.txt main.txt {words} --signature")[1] == report.signature + "\n"


def test_help_names_every_word_that_an_option_knows(call: Call) -> None:
    status, text, _ = call("score --help")
    assert status == 0
    from ndcg.measure import conventions, scoring

    words = {*scoring.TIES, *scoring.IDEALS, *scoring.DISCOUNTS, "docid", "linear", "exponential", "binary"}
    words |= {"clip", "keep", "raise", "empty", "skip", "rightly_empty", *arguments.FORMATS} - {"junit"}
    assert not words - set(re.findall(r"\w+", text))
    choices = next(action for action in parsers()["score"]._actions if action.dest == "convention").choices
    assert tuple(choices or ()) == tuple(conventions.CONVENTIONS)


def parsers() -> dict[str, argparse.ArgumentParser]:
    (chosen,) = (each for each in arguments.parser()._actions if isinstance(each, argparse._SubParsersAction))
    return dict(chosen.choices)


def test_excluded_documents_take_no_rank(call: Call, folder: Path, ndcg: evaluate.Metric) -> None:
    seen = {query: ["d1", "d2"] for query in QUERIES}
    (folder / "seen.json").write_text(json.dumps(seen))
    saved = saved_report(call("score qrels.txt main.txt --exclude seen.json -o json")[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, exclude=seen).to_dict()


def test_compare_saves_the_comparison(call: Call, ndcg: evaluate.Metric) -> None:
    how = "--alternative less --seed 3 --resamples 999 --confidence 0.9 --corrected-over all"
    status, printed, _ = call(f"compare qrels.txt main.txt worse.txt -k 3,5 {how} -o json")
    found = ndcg.compare(
        systems={"main": MAIN, "worse": WORSE},
        references=QRELS,
        k=[3, 5],
        baseline="main",
        alternative="less",
        seed=3,
        resamples=999,
        confidence=0.9,
        corrected_over="all",
    )
    assert status == 0
    assert json.loads(printed) == found.to_dict()
    assert call(f"compare qrels.txt main.txt worse.txt -k 3,5 {how} -o latex")[1] == found.to_latex() + "\n"
    assert call(f"compare qrels.txt main.txt worse.txt -k 3,5 {how} -o latex -p 2")[1] == found.to_latex(2) + "\n"


def test_compare_names_the_queries_that_differ_most(call: Call, ndcg: evaluate.Metric) -> None:
    _, printed, _ = call("compare qrels.txt main.txt worse.txt -k 5")
    found = ndcg.compare(systems={"main": MAIN, "worse": WORSE}, references=QRELS, k=5, baseline="main")
    table = printed.split("\n\n")[2].splitlines()[1:]
    most = found.differences("worse", "main", n=5).to_pylist()
    assert [line.split()[0] for line in table] == [row["query"] for row in most]
    assert [line.split()[-1] for line in table] == [f"{row['difference']:+.4f}" for row in most]


BY = {query: "en" if at % 3 else "de" for at, query in enumerate(QUERIES)}
LINES = [f"{query},{value}" for query, value in BY.items()]


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "with a header.csv": "\n".join(["query_id,language", *LINES]),
        "plain.csv": "\n".join(LINES),
        "tabs.tsv": "\n".join(LINES).replace(",", "\t"),
        "spaces": "\n".join(LINES).replace(",", " "),
        "mapping.json": json.dumps(BY),
    }.items(),
)
def test_slices_are_read_from_files(call: Call, folder: Path, ndcg: evaluate.Metric, name: str, content: str) -> None:
    (folder / name).write_text(content)
    saved = saved_report(call("score qrels.txt main.txt -k 5 -o json --by", name)[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()


def test_slices_come_through_pipes_and_compressed_like_other_files(shell: Any, folder: Path) -> None:
    (folder / "by.csv").write_text("\n".join(LINES).replace(",", " , "))
    expected = shell("gzip -k by.csv; ndcg score qrels.txt main.txt -k 5 -o jsonl --by by.csv")
    assert (expected.returncode, expected.stderr) == (0, "")
    assert [json.loads(line).get("slice") for line in expected.stdout.splitlines()] == [None, "de", "en"]
    score = "ndcg score qrels.txt main.txt -k 5 -o jsonl --by"
    for words in (
        f"{score} by.csv.gz",
        f"{score} <(cat by.csv)",
        f"cat by.csv | {score} -",
        f"{score} /dev/stdin < by.csv.gz",
    ):
        found = shell(words)
        assert (found.returncode, found.stdout, found.stderr) == (0, expected.stdout, "")


@pytest.mark.parametrize("queries", [40, 40_000], ids=["small", "larger than a block of Arrow"])
def test_a_mapping_has_no_columns(call: Call, folder: Path, queries: int) -> None:
    (folder / "qrels.json").write_text(json.dumps({f"q{query}": QRELS["q0"] for query in range(queries)}))
    said = "ndcg score: --by nosuch: neither a file nor a column of qrels.json, which has none\n"
    assert call("score qrels.json main.txt --by nosuch") == (2, "", said)


@pytest.mark.parametrize("form", ["csv", "padded csv", "parquet", "jsonl", "json"])
def test_slices_and_ids_are_read_from_columns_of_the_qrels(
    call: Call, folder: Path, ndcg: evaluate.Metric, form: str
) -> None:
    rows = [
        {"member": query, "film": document, "stars": stars, "lang": BY[query]}
        for query, judged in QRELS.items()
        for document, stars in judged.items()
    ]
    path = folder / f"table.{form.split()[-1]}"
    if path.suffix == ".csv":
        comma = "," if form == "csv" else ", "
        lines = (comma.join(map(str, row.values())) for row in rows)
        path.write_text("\n".join([comma.join(rows[0]), *lines]))
    elif form == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif form == "json":
        path.write_text(json.dumps(rows))
    else:
        pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    names = "--query member --document film --label stars --by lang"
    saved = saved_report(call(f"score {path} main.txt -k 5 -o json {names}")[1])
    assert saved == ndcg.report(predictions=MAIN, references=QRELS, k=5, by=BY).to_dict()
    assert call(f"score {path} main.txt {names.replace('lang', 'genre')}")[2].endswith(
        f"--by genre: neither a file nor a column of {path}, which has 'member', 'film', 'stars', 'lang'\n"
    )


def test_audit_finds_what_a_score_rests_on(call: Call, folder: Path, ndcg: evaluate.Metric) -> None:
    run = {query: dict.fromkeys(documents, 1.0) for query, documents in MAIN.items()}
    del run["q7"]
    run |= {"q0": MAIN["q0"], "other": {"d1": 1}}
    run["q1"] = run["q1"] | {"unjudged": 2.0}
    (folder / "run.txt").write_text(trec(run, "run"))
    (folder / "qrels.txt").write_text(trec(QRELS | {"q2": dict.fromkeys(QRELS["q2"], 0)}, "qrels"))
    rows = {
        row["finding"]: row for row in map(json.loads, call("audit qrels.txt run.txt -k 5 -o jsonl")[1].splitlines())
    }
    assert {name: rows[name]["value"] for name in list(rows)[:5]} == {
        "judged": 40,
        "missing from the run": 1,
        "only in the run": 1,
        "nothing relevant": 1,
        "nothing irrelevant": 0,
    }
    named = [rows[name]["queries"] for name in ("missing from the run", "only in the run", "nothing relevant")]
    assert named == ["q7", "other", "q2"]
    assert rows["affected by ties (nDCG@5)"]["value"] == 37  # all but q0, q2 and q7
    assert rows["unjudged nDCG@5"]["value"] == 1
    qrels = QRELS | {"q2": dict.fromkeys(QRELS["q2"], 0)}
    score = ndcg.report(predictions=run, references=qrels, k=5).scores["nDCG@5"]
    assert [rows[f"{name} nDCG@5"]["value"] for name in ("worst", "best", "chance")] == pytest.approx(
        [score.worst, score.best, score.chance]
    )


def test_explain_says_whose_number_it_is(call: Call, ndcg: evaluate.Metric) -> None:
    number = f"{ndcg.compute(predictions=MAIN, references=QRELS, k=5, convention='lightgbm')['nDCG@5']:.6f}"
    status, printed, _ = call(f"explain qrels.txt main.txt -k 5 --got {number} -o json")
    found = ndcg.explain(predictions=MAIN, references=QRELS, k=5, got=number)
    assert status == 0
    assert json.loads(printed) == json.loads(json.dumps(found.to_dict()))
    assert "lightgbm" in found.matches
    text = call(f"explain qrels.txt main.txt -k 5 --got {number}")[1]
    assert text.startswith("\n".join(str(found).splitlines()[:5]))


@pytest.mark.parametrize(("name", "shown"), [("query.txt", "query.txt"), ("difference", "./difference")])
def test_a_run_may_have_the_name_of_a_column(call: Call, folder: Path, name: str, shown: str) -> None:
    (folder / "worse.txt").rename(folder / name)
    status, printed, _ = call(f"compare qrels.txt main.txt {name} -o json")
    assert status == 0
    assert {pair["system"] for pair in json.loads(printed)["pairs"]} == {shown}


@pytest.mark.parametrize("command", ["score qrels.txt main.txt", "compare qrels.txt main.txt worse.txt"])
def test_a_figure_is_saved_besides(call: Call, folder: Path, command: str) -> None:
    assert call(f"{command} --plot figure.svg")[0] == 0
    assert "<svg" in (folder / "figure.svg").read_text()


# The gate


def test_the_gate_fails_only_for_a_fall_that_is_large_and_significant(call: Call, ndcg: evaluate.Metric) -> None:
    found = ndcg.compare(
        systems={"worse": WORSE, "main": MAIN}, references=QRELS, k=5, baseline="main", alternative="less"
    ).pairs[0]
    assert found.difference < -0.02
    assert found.p < 0.05
    status, printed, _ = call("gate qrels.txt main.txt worse.txt -k 5 -o json")
    (row,) = json.loads(printed)["measures"]
    assert status == 1
    assert row["regression"]
    for name in ("difference", "low", "high", "p", "p_holm"):
        assert row[name] == pytest.approx(getattr(found, name), abs=1e-12)
    assert call("gate qrels.txt main.txt worse.txt -k 5 --max-drop", -found.difference)[0] == 0
    assert call("gate qrels.txt main.txt worse.txt -k 5 --alpha", found.p / 2)[0] == 0
    assert call("gate qrels.txt worse.txt main.txt -k 5")[0] == 0


def test_a_saved_result_stands_for_the_baseline(call: Call, folder: Path) -> None:
    (folder / "saved.json").write_text(call("score qrels.txt main.txt -m nDCG@5,DCG -o json")[1])
    names = "nDCG@5,DCG --confidence 0.9"
    status, printed, _ = call(f"gate qrels.txt saved.json worse.txt -m {names} -o jsonl")
    assert status == 1
    assert printed == call(f"gate qrels.txt main.txt worse.txt -m {names} -o jsonl")[1]


def test_a_saved_result_of_other_choices_queries_or_judgments_is_refused(call: Call, folder: Path) -> None:
    saved = json.loads(call("score qrels.txt main.txt -k 5 -o json")[1])
    (folder / "saved.json").write_text(json.dumps(saved))
    status, _, said = call("gate qrels.txt saved.json worse.txt -k 10")
    assert status == 2
    assert saved["signature"] in said
    assert saved["signature"].replace("@5", "@10") in said
    for changed, problem in (
        ({query: QRELS[query] for query in QUERIES[1:]}, "was saved with other queries: 1 query ('q0') only there"),
        (QRELS | {"q1": QRELS["q1"] | {"new": 0}}, "query 'q1' has 12 judged documents there, but 13 in qrels.txt"),
        (QRELS | {"q1": dict.fromkeys(QRELS["q1"], 2)}, "relevant documents there, but 12 in qrels.txt"),
    ):
        (folder / "qrels.txt").write_text(trec(changed, "qrels"))
        status, _, said = call("gate qrels.txt saved.json worse.txt -k 5")
        assert status == 2
        assert said.startswith("ndcg gate: saved.json: ")
        assert problem in said


def test_a_run_that_lacks_queries_of_the_baseline_never_passes(call: Call, folder: Path) -> None:
    (folder / "saved.json").write_text(call("score qrels.txt main.txt -k 5 -o json")[1])
    (folder / "part.txt").write_text(trec({query: QRELS[query] for query in QUERIES[2:]}, "run"))
    for baseline in ("saved.json", "main.txt"):
        status, _, said = call(f"gate qrels.txt {baseline} part.txt -k 5")
        assert status == 2
        assert said.startswith(
            f"ndcg gate: part.txt: is missing 2 queries ('q0', 'q1') that {baseline} ranks; --missing"
        )
    assert call("gate qrels.txt main.txt part.txt -k 5 --missing empty")[0] == 0


@pytest.mark.parametrize("form", ["text", "json", "junit"])
@pytest.mark.parametrize("side", ["qrels", "runs"])
def test_a_gate_that_cannot_fail_is_refused(call: Call, folder: Path, form: str, side: str) -> None:
    few = QUERIES[:4]
    if side == "qrels":
        (folder / "qrels.txt").write_text(trec({query: QRELS[query] for query in few}, "qrels"))
    else:
        for name, run in (("main", MAIN), ("worse", WORSE)):
            (folder / f"{name}.txt").write_text(trec({query: run[query] for query in few}, "run"))
    status, printed, said = call(f"gate qrels.txt main.txt worse.txt -o {form}")
    assert (status, printed) == (2, "")  # .5 ** 4 is more than .05
    assert "with 4 ranked queries no fall can be significant at this level, so the gate could never fail" in said


@pytest.mark.parametrize("relevance", [0, 3], ids=["other grades", "higher grades"])
def test_a_saved_result_of_other_judgments_is_no_baseline(call: Call, folder: Path, relevance: int) -> None:
    other = {
        query: {d: (2 * r) % 3 if not relevance else r * relevance for d, r in each.items()}
        for query, each in QRELS.items()
    }
    (folder / "other.txt").write_text(trec(other, "qrels"))
    (folder / "saved.json").write_text(call("score other.txt main.txt -o json")[1])
    status, _, said = call("gate qrels.txt saved.json worse.txt")
    assert status == 2
    assert (
        said == "ndcg gate: saved.json: was saved with other judgments than qrels.txt; score both with the same qrels\n"
    )


def test_the_same_judgments_in_another_order_are_the_same(call: Call, folder: Path) -> None:
    lines = (folder / "qrels.txt").read_text().splitlines()
    (folder / "sorted.txt").write_text("\n".join(sorted(lines, reverse=True)))
    (folder / "saved.json").write_bytes(b"\xef\xbb\xbf" + call("score sorted.txt main.txt -o json")[1].encode())
    assert call("gate qrels.txt saved.json main.txt")[0] == 0


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "mean": lambda held: held["scores"]["nDCG"].update(value=0.1),
    "values": lambda held: held["queries"].update(nDCG=[0.0] * len(QUERIES)),
    "values of most queries": lambda held: held["queries"].update(nDCG=[0.1] + [None] * (len(QUERIES) - 1)),
    "no column of values": lambda held: held["queries"].pop("nDCG"),
    "no column of queries": lambda held: held["queries"].pop("query"),
    "no counts": lambda held: held["queries"].pop("retrieved"),
    "negative counts": lambda held: held["queries"].update(retrieved=[-1] * len(QUERIES)),
    "no judgments": lambda held: held.pop("judgments"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_saved_result_that_was_changed_is_no_baseline(call: Call, folder: Path, change: str) -> None:
    held = json.loads(call("score qrels.txt main.txt -o json")[1])
    CHANGES[change](held)
    (folder / "saved.json").write_text(json.dumps(held))
    status, printed, said = call("gate qrels.txt saved.json worse.txt")
    assert (status, printed) == (2, "")
    assert said.startswith("ndcg gate: saved.json: ")
    assert said.endswith("save it again\n")


PART = {query: dict.fromkeys(judged, 0) if at % 3 == 0 else judged for at, (query, judged) in enumerate(QRELS.items())}
NEGATIVE = {
    query: {document: -relevance for document, relevance in judged.items()} if at % 3 == 0 else judged
    for at, (query, judged) in enumerate(QRELS.items())
}
NO_VALUE = "--zero-division nan --negative-relevance keep"


@pytest.mark.parametrize("baseline", ["main.txt", "saved.json"])
@pytest.mark.parametrize("qrels", [PART, NEGATIVE], ids=["nothing relevant", "negative"])
def test_each_mean_of_the_gate_is_over_the_queries_that_have_a_value_of_its_measure(
    call: Call, folder: Path, ndcg: evaluate.Metric, qrels: dict[str, dict[str, int]], baseline: str
) -> None:
    (folder / "qrels.txt").write_text(trec(qrels, "qrels"))
    how = {"zero_division": float("nan"), "negative_relevance": "keep"}
    for names in (["nDCG@10", "DCG@10"], ["DCG@10"], ["DCG@10", "nDCG@3", "IDCG"]):
        command = f"qrels.txt main.txt {NO_VALUE} -m {','.join(names)} -o json"
        (folder / "saved.json").write_text(call(f"score {command}")[1])
        found = json.loads(call(f"gate qrels.txt {baseline} worse.txt {NO_VALUE} -m {','.join(names)} -o json")[1])
        expected = ndcg.compare(
            systems={"main": MAIN, "worse": WORSE},
            references=qrels,
            measures=names,
            baseline="main",
            alternative="less",
            corrected_over="all",
            **how,
        )
        assert [row["measure"] for row in found["measures"]] == names
        for row, pair in zip(found["measures"], expected.pairs, strict=True):
            assert row["queries"] == (40 - 14 if pair.measure.startswith("nDCG") else 40)
            for name in ("difference", "low", "high", "p", "p_holm"):
                assert row[name] == pytest.approx(getattr(pair, name), abs=1e-12)
            for side, run in (("baseline", "main"), ("run", "worse")):
                assert row[side] == expected.scores[run][pair.measure].value


@pytest.mark.parametrize("baseline", ["main.txt", "saved.json"])
def test_values_of_any_size_have_a_verdict(call: Call, folder: Path, baseline: str) -> None:
    large = {query: {document: 1e200 * each for document, each in judged.items()} for query, judged in QRELS.items()}
    (folder / "qrels.txt").write_text(trec(large, "qrels"))
    (folder / "saved.json").write_text(call("score qrels.txt main.txt -m DCG@10 -o json")[1])
    status, printed, said = call(f"gate qrels.txt {baseline} worse.txt -m DCG@10")
    assert (status, said) == (1, "")
    row = printed.splitlines()[1]
    assert re.fullmatch(r"DCG@10 +\d\.\d{4}e\+200  \d\.\d{4}e\+200  -\d\.\d{4}e\+199 .* regression", row)
    assert call("gate qrels.txt worse.txt main.txt -m DCG@10")[0] == 0


def test_a_measure_that_too_few_queries_have_is_refused(call: Call, folder: Path) -> None:
    few = {query: judged if at < 4 else dict.fromkeys(judged, 0) for at, (query, judged) in enumerate(QRELS.items())}
    (folder / "qrels.txt").write_text(trec(few, "qrels"))
    status, _, said = call("gate qrels.txt main.txt worse.txt --zero-division nan -m nDCG,DCG")
    assert status == 2
    assert "with 4 ranked queries no fall can be significant at this level, so the gate could never fail" in said


@pytest.mark.parametrize(
    "kind", [OverflowError, RecursionError, TypeError, KeyError, ZeroDivisionError, AssertionError]
)
@pytest.mark.parametrize("command", ["gate qrels.txt main.txt worse.txt", "score qrels.txt main.txt"])
def test_an_error_that_nobody_expects_is_no_regression(
    call: Call, monkeypatch: pytest.MonkeyPatch, command: str, kind: type[Exception]
) -> None:
    def fail(_: argparse.Namespace) -> None:
        raise kind("so it is")

    monkeypatch.setattr(commands, "answer", fail)
    status, printed, said = call(command)
    assert (status, printed) == (2, "")
    *traceback, sentence = said.splitlines()
    assert traceback[0].startswith("Traceback")
    assert re.fullmatch(
        rf"ndcg: {kind.__name__}: '?so it is'?; this is a bug, please report it with the lines above", sentence
    )


def test_a_lack_of_memory_is_no_bug(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: argparse.Namespace) -> None:
        raise MemoryError

    monkeypatch.setattr(commands, "answer", fail)
    assert call("gate qrels.txt main.txt worse.txt") == (2, "", "ndcg gate: not enough memory\n")


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "deep": (lambda _: '{"signature": ' + "[" * 10**5 + "]" * 10**5 + "}", "nests objects too deep"),
    "long integer": (lambda _: '{"signature": ' + "1" * 5000 + "}", "holds an integer of 5,000 digits"),
    "large value": (
        lambda text: re.sub(r'"value": [\d.]+', '"value": 1' + "0" * 400, text, count=1),
        "is not the result of one run",
    ),
    "large count": (
        lambda text: re.sub(r'("judged": \[\s*)12', r"\g<1>1" + "0" * 40, text),
        "is not the result of one run",
    ),
    "twice": (lambda text: text.replace('"scores"', '"signature": "x", "scores"', 1), "'signature' is there twice"),
    "cut short": (lambda text: text[:-100], "not JSON"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_saved_result_is_bad_input(call: Call, folder: Path, damage: str) -> None:
    change, problem = DAMAGES[damage]
    (folder / "saved.json").write_text(change(call("score qrels.txt main.txt -o json")[1]))
    status, printed, said = call("gate qrels.txt saved.json worse.txt")
    assert (status, printed) == (2, "")
    assert said.startswith("ndcg gate: saved.json: ")
    assert problem in said
    assert said.count("\n") == 1


def test_a_saved_result_may_be_compressed_or_come_through_a_pipe(shell: Any) -> None:
    made = shell("ndcg score qrels.txt main.txt -o json > saved.json; gzip -k saved.json")
    assert (made.returncode, made.stderr) == (0, "")
    expected = shell("ndcg gate qrels.txt main.txt worse.txt -o jsonl")
    assert expected.returncode == 1
    for words in (
        "ndcg gate qrels.txt saved.json.gz worse.txt",
        "ndcg gate qrels.txt <(cat saved.json) worse.txt",
        "cat saved.json.gz | ndcg gate qrels.txt - worse.txt",
        "ndcg gate qrels.txt /dev/stdin worse.txt < saved.json",
    ):
        found = shell(f"{words} -o jsonl")
        assert (found.returncode, found.stdout, found.stderr) == (1, expected.stdout, "")


def test_a_saved_result_is_no_run(call: Call, folder: Path) -> None:
    for runs, name in (("main.txt", "one.json"), ("main.txt worse.txt", "two.json")):
        (folder / name).write_text(call(f"score qrels.txt {runs} -o json")[1])
    several = "two.json: contains the results of 2 runs, 'main', 'worse'; save only the one to compare with"
    assert call("gate qrels.txt two.json worse.txt") == (2, "", f"ndcg gate: {several}\n")
    problem = "is a saved result, which holds no documents; give the file that was scored"
    for name in ("one.json", "two.json"):
        for command in ("score qrels.txt {}", "score {} main.txt", "gate qrels.txt main.txt {}"):
            status, printed, said = call(command.format(name))
            assert (status, printed, said) == (2, "", f"ndcg {command.split()[0]}: {name}: {problem}\n")


def test_a_margin_that_no_fall_exceeds_is_refused(call: Call) -> None:
    assert call("gate qrels.txt main.txt worse.txt --max-drop 8")[0] == 2
    assert call("gate qrels.txt main.txt worse.txt --max-drop 8 -m DCG")[0] == 0


def test_the_name_of_trec_eval_is_answered_with_ours(call: Call) -> None:
    for name in ("ndcg_cut_10", "ndcg_cut.10"):
        said = f"ndcg score: measures: {name} is nDCG@10 here\n"
        assert call(f"score qrels.txt main.txt -m {name}") == (2, "", said)


def test_junit_has_a_case_for_each_measure(call: Call) -> None:
    status, printed, _ = call("gate qrels.txt main.txt worse.txt -m nDCG@5,IDCG@5 -o junit")
    suite = ElementTree.fromstring(printed)
    failures = {case.get("name"): case.findall("failure") for case in suite}
    assert status == 1
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert failures["IDCG@5"] == []
    assert [str(each.get("message"))[:16] for each in failures["nDCG@5"]] == ["nDCG@5 falls by "]


# What is wrong


BAD = {
    "score qrels.txt none.txt": "none.txt: No such file or directory",
    "score qrels.txt empty.txt": "empty.txt: holds no scores; give at least one query with a document",
    "gate qrels.txt main.txt other.txt": "other.txt: has no query in common with qrels.txt: its first query "
    "is 'x0', that of qrels.txt is 'q0'",
    "score qrels.txt line.txt": "line.txt: line 3: the score '2.x' is not a number",
    "audit qrels.txt twice.txt": "twice.txt: line 3: document 'd0' of query 'q0' is in line 1 already",
    "compare qrels.txt main.txt part.txt": "part: no ranking for query 'q1', which 'main' has (39 such queries); "
    "--missing empty counts it as having retrieved nothing there, --missing skip leaves the query out for all systems",
    "score qrels.txt table.csv --query member": "table.csv: no column is called member; the file has "
    "'user', 'item', 'score'",
    "score qrels.txt main.txt --by by.txt": "by.txt: line 2: 3 columns; give a query and its slice",
    "gate qrels.txt broken.json main.txt": "broken.json: line 1, column 18: not JSON: Expecting ',' delimiter",
    "gate qrels.txt two.json main.txt": "two.json: is not the result of one run as ndcg score -o json has saved it, "
    "whole and unchanged; save it again",
    "score qrels.txt main.txt --ties avrage": 'ties must be one of "average", "first", "last", "best", "worst", '
    '"docid"; got \'avrage\'; did you mean "average"?',
    "score qrels.txt main.txt -k ten": "argument -k: must be numbers of ranks, such as 10 or 5,10,all; got 'ten'; "
    "see ndcg score --help",
    "gate qrels.txt main.txt worse.txt --alpha 5": "alpha must be between 0 and 1, such as 0.05; got 5.0",
    "gate qrels.txt main.txt worse.txt --alpha nan": "alpha must be between 0 and 1, such as 0.05; got nan",
    "gate qrels.txt main.txt worse.txt --max-drop inf": "max_drop must be a finite number, at least 0, in units of the "
    "measure; got inf",
    "gate qrels.txt main.txt worse.txt --max-drop nan": "max_drop must be a finite number, at least 0, in units of the "
    "measure; got nan",
    "gate qrels.txt main.txt worse.txt --resamples 1": "resamples must be an integer, at least 2 and at most "
    "100,000,000; got 1",
    "gate qrels.txt main.txt worse.txt --seed -1": "seed must be an integer, at least 0; got -1",
    "compare qrels.txt main.txt worse.txt --alternative greater --margin nan": "margin must be a finite number, at "
    "least 0, in units of the measure; got nan",
    **{
        f"{command} --confidence nan": "confidence must be between 0 and 1, such as 0.95; got nan"
        for command in (
            "score qrels.txt main.txt",
            "compare qrels.txt main.txt worse.txt",
            "gate qrels.txt main.txt worse.txt",
        )
    },
    "score qrels.txt main.txt -p 17": "places must be an integer, at least 0 and at most 16; got 17",
    "score qrels.txt - --by -": "standard input, -, can be read only once; give the other files by their names",
    "score qrels.txt - --exclude /dev/stdin": "standard input, -, can be read only once; give the other files by their "
    "names",
    "score qrels.txt main.txt --by long.txt": "long.txt: line 1: field larger than field limit (131072)",
    "score qrels.txt main.txt --by twice.json": "twice.json: 'q0' is there twice in one object, {'q0': 'fr'}; give "
    "each id once",
    "score qrels.txt main.txt --by deep.json": "deep.json: nests objects too deep",
    "score qrels.txt": "the following arguments are required: RUN; see ndcg score --help",
    "score - -": "standard input, -, can be read only once; give the other files by their names",
    "score qrels.txt main.txt main.txt": "main.txt: is given twice; give each run once",
    "score qrels.txt main.txt -k 3 --discount 1,.5": ("discount lists 2 ranks, but 3 count; list more, or give -k 2"),
    "score qrels.txt main.txt -o junit": "only ndcg gate writes -o junit; take another format",
    "gate qrels.txt main.txt main.txt -o junit --signature": "--signature has no test cases for -o junit; take another "
    "format",
    "score qrels.txt main.txt worse.txt --plot a.svg": "--plot shows one run; use ndcg compare for several",
    "explain qrels.txt main.txt -k 5,10": "-k must be one cutoff, since a score has one",
}


@pytest.mark.parametrize("command", BAD)
def test_bad_input_is_told_in_a_sentence_with_the_file_and_the_line(call: Call, folder: Path, command: str) -> None:
    lines = trec(MAIN, "run").splitlines(keepends=True)
    for name, content in {
        "empty.txt": "",
        "other.txt": trec({f"x{at}": run for at, run in enumerate(MAIN.values())}, "run"),
        "line.txt": "".join(lines[:2]) + "q0 Q0 d2 1 2.x tag\n",
        "twice.txt": "".join([*lines[:2], lines[0]]),
        "part.txt": "".join(lines[:3]),
        "table.csv": "user,item,score\nq0,d1,2\n",
        "by.txt": "q0 en\nq1 de fr\n",
        "long.txt": "q" * 200_000,
        "twice.json": '{"q0": "en", "q0": "fr"}',
        "deep.json": '{"q0": ' + "[" * 10**5,
        "broken.json": '{"signature": "x"',
        "two.json": '{"signature": "x", "scores": {}}',
    }.items():
        (folder / name).write_text(content)
    status, printed, said = call(command)
    assert (status, printed) == (2, "")
    assert said == f"ndcg {command.split()[0]}: {BAD[command]}\n"


def test_an_unknown_command_is_told_which_there_are(call: Call) -> None:
    status, _, said = call("scor qrels.txt main.txt")
    assert status == 2
    assert said.startswith("ndcg: ")
    assert said.count("\n") == 1
    assert all(command in said for command in arguments.COMMAND_HELP)


# Terminals and pipes


def test_a_terminal_gets_tables_of_rich(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = call("score qrels.txt main.txt -k 5")[1]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    rich = call("score qrels.txt main.txt -k 5")[1]
    assert "───" in rich
    lines = [line.split() for line in re.sub(r"\x1b\[[\d;]*m", "", rich).splitlines() if "─" not in line]
    assert [line for line in lines if line] == [line.split() for line in plain.splitlines() if line]
    monkeypatch.setitem(sys.modules, "rich", None)  # importing it fails
    assert call("score qrels.txt main.txt -k 5")[1] == plain


def test_standard_input_is_read_where_a_file_is_called_dash(shell: Any, call: Call) -> None:
    found = shell("gzip -c main.txt | ndcg score qrels.txt - -k 5 -o json")
    assert found.stderr == ""
    assert json.loads(found.stdout) == json.loads(call("score qrels.txt main.txt -k 5 -o json")[1])


def test_a_reader_that_has_seen_enough_ends_it_quietly(shell: Any) -> None:
    found = shell("ndcg score qrels.txt main.txt -q | head -1; echo ${PIPESTATUS[0]}; ndcg --help | head -1")
    assert found.stdout == "query    nDCG\n0\nusage: ndcg [-h] [--version] [--print-completion SHELL] COMMAND ...\n"
    assert found.stderr == ""


@pytest.mark.parametrize("form", ["text", "junit"])
@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("gate qrels.txt main.txt worse.txt", 1),
        ("gate qrels.txt main.txt main2.txt", 0),
        ("score qrels.txt none.txt", 2),
    ],
)
@pytest.mark.parametrize("output", ["| true", ">&-", "2>&-", "2> /dev/full"])
def test_the_status_stands_wherever_the_output_goes(
    shell: Any, folder: Path, command: str, status: int, output: str, form: str
) -> None:
    shutil.copy(folder / "main.txt", folder / "main2.txt")
    form = "" if command.startswith("score") else f"-o {form}"
    found = shell(f"ndcg {command} {form} {output}; echo status ${{PIPESTATUS[0]}}")
    assert found.stdout.splitlines()[-1] == f"status {status}"
    assert "Traceback" not in found.stderr


def test_a_full_disk_is_bad_input(shell: Any) -> None:
    found = shell("ndcg gate qrels.txt main.txt worse.txt > /dev/full")
    assert (found.returncode, found.stderr) == (2, "ndcg gate: the output: No space left on device\n")


def test_ids_that_do_not_print_are_spelled_out(call: Call, folder: Path) -> None:
    odd = "a\x1b[31mb\x00"
    (folder / "qrels.json").write_text(json.dumps({odd: {"d": 1}, "q\t2\n": {"d": 1}}))
    (folder / "run.json").write_text(json.dumps({odd: {"d": 1.0}, "q\t2\n": {"d": 1.0}}))
    for form in ("text", "latex", "markdown"):
        printed = call(f"score qrels.json run.json -q -o {form}")[1]
        assert printed.replace("\n", "").isprintable()
    printed = call("score qrels.json run.json -q -o tsv")[1]
    assert [len(line.split("\t")) for line in printed.splitlines()] == [printed.splitlines()[0].count("\t") + 1] * 4
    assert "q\\t2\\n\t" in printed


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "tsv", "jsonl", "json"])
def test_no_format_has_control_characters(call: Call, folder: Path, form: str) -> None:
    odd = ["a\x1b[31mb", "b\x9b2J", "c\x7f"]
    for name, value in (("qrels", 1), ("run", 1.0)):
        (folder / f"{name}.json").write_text(json.dumps({query: {query: value, "d": 0} for query in odd}))
    for command in ("score qrels.json run.json -q", "compare qrels.json run.json main.json --missing empty"):
        shutil.copy(folder / "run.json", folder / "main.json")
        status, printed, said = call(f"{command} -o {form}")
        assert (status, said) == (0, "")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", printed)
    if form == "json":
        assert set(json.loads(printed)["queries"]["query"]) == set(odd)


def test_no_sentence_has_control_characters(call: Call) -> None:
    assert call("score 'a\x1b[31m.txt' main.txt")[2] == "ndcg score: a\\x1b[31m.txt: No such file or directory\n"
    assert "\x1b" not in call("score qrels.txt main.txt 'a\x1b[31m' --b\x1bad")[2]


@pytest.mark.parametrize("name", ["x.gif", "."])
def test_a_plot_is_a_picture_of_three_kinds(call: Call, folder: Path, name: str) -> None:
    before = sorted(folder.iterdir())
    status, _, said = call(f"score qrels.txt main.txt --plot {name}")
    assert (status, said) == (2, f"ndcg score: --plot {name}: must end in .png, .svg or .pdf\n")
    assert sorted(folder.iterdir()) == before


def test_an_interrupt_ends_it_with_status_130(site: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "ndcg", "score", "qrels.txt", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(site)}, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin is not None
        process.stdin.write(trec(MAIN, "run")[:100].encode())
        process.stdin.flush()
        time.sleep(2)  # by when it reads what comes no more
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
    assert (process.returncode, output, errors) == (130, b"", b"")


@pytest.mark.parametrize("error", ["ImportError('advice')", "SyntaxError('no unicodedata')", "ValueError", "None"])
@pytest.mark.parametrize("module", ["numpy", "pyarrow.compute", "scipy.special"])
def test_an_interrupt_stays_one_whatever_a_library_makes_of_it(
    site: Path, folder: Path, module: str, error: str
) -> None:
    script = f"""
        import signal, sys
        from importlib.abc import MetaPathFinder

        class Interrupted(MetaPathFinder):
            def find_spec(self, name, *_):
                if name == {module!r}:
                    sys.meta_path.remove(self)
                    try:
                        signal.raise_signal(signal.SIGINT)
                    except KeyboardInterrupt:
                        if {error}:
                            raise {error} from None  # as modules of C do

        sys.meta_path.insert(0, Interrupted())
        from ndcg.__main__ import main
        sys.exit(main(["gate", "qrels.txt", "main.txt", "worse.txt"]))
    """
    command = [sys.executable, "-c", "\n".join(line[8:] for line in script.splitlines())]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr) == (130, "", "")


def test_an_interrupt_goes_to_the_handler_that_a_program_has(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "answer", lambda _: signal.raise_signal(signal.SIGINT) or ANSWER)
    came: list[int] = []
    default = signal.getsignal(signal.SIGINT)
    assert call("score qrels.txt main.txt")[0] == 130
    assert signal.getsignal(signal.SIGINT) is default
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        assert call("score qrels.txt main.txt")[:2] == (0, "signature\n")
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert call("score qrels.txt main.txt")[:2] == (0, "signature\n")
    finally:
        signal.signal(signal.SIGINT, default)
    assert came == [signal.SIGINT]


ANSWER = output.Listing([], [], "signature", [], {})


def test_help_imports_neither_numpy_nor_pyarrow_and_a_score_nothing_heavy(site: Path, folder: Path) -> None:
    script = """
        import sys
        from ndcg.__main__ import main
        try:
            main(["--help"])
        except SystemExit:
            pass
        heavy = {"numpy", "pyarrow", "dataclasses"} & sys.modules.keys()
        sys.argv = ["ndcg", "score", "qrels.txt", "main.txt", "-k", "10"]
        assert main() == 0
        for name in ("evaluate", "datasets", "pandas", "scipy.stats", "matplotlib", "tqdm", "rich"):
            if sys.modules.get(name):
                heavy.add(name)
        print(sorted(heavy))
    """
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", "\n".join(line[8:] for line in script.splitlines())]
    process = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines()[-1] == "[]"


def test_shells_complete_commands_and_options(call: Call) -> None:
    pytest.importorskip("shtab")
    status, script, _ = call("--print-completion bash")
    assert status == 0
    assert all(word in script for word in (*arguments.COMMAND_HELP, "--max-drop", "trec_eval"))
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
    status, _, said = call("--print-completion fish-and-chips")
    assert status == 2
    assert said.startswith("ndcg: --print-completion knows bash, zsh")


def test_completion_names_what_it_needs(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)  # importing it fails
    status, _, said = call("--print-completion bash")
    assert status == 2
    assert said == 'ndcg: --print-completion needs shtab: pip install shtab, or "ndcg[cli]"; see ndcg --help\n'


def test_a_terminal_without_dashes_gets_question_marks(shell: Any) -> None:
    found = shell("PYTHONIOENCODING=ascii ndcg score qrels.txt main.txt -k 5")
    assert (found.returncode, found.stderr) == (0, "")
    assert re.search(r"0\.\d{4} \? 0\.\d{4}", found.stdout)


def test_the_version_is_that_of_the_package(call: Call) -> None:
    assert call("--version")[1] == f"ndcg {options.__version__}\n"


# What the documentation shows


def test_examples_in_docstrings_are_true() -> None:
    for module in (commands, output, sides):
        failed, attempted = doctest.testmod(module)
        assert failed == 0
        assert attempted >= 1


def test_the_page_shows_what_its_commands_print(site: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 7
    for block in blocks:
        script = "\n".join(
            f"printf '%s\\n' {shlex.quote(line)}\n{line[2:]}" for line in block.splitlines() if line.startswith("$ ")
        )
        found = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env=environment_of(site),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert found.stdout == block


@pytest.mark.parametrize("command", arguments.COMMAND_HELP)
def test_examples_of_the_help_can_be_parsed(command: str) -> None:
    parser = arguments.parser()
    examples = re.findall(rf"ndcg ({command} [^>\n]*?)(?: {{2,}}.*| > .*)?$", arguments.COMMAND_HELP[command][2], re.M)
    assert examples
    for example in examples:
        assert parser.parse_args(shlex.split(example)).command == command


def test_the_example_of_a_gate_fails_and_tells_the_summary_why(site: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    environment = {**environment_of(site), "GITHUB_STEP_SUMMARY": str(summary)}
    command = [str(ROOT / "examples" / "gate.sh")]
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (1, "")
    assert summary.read_text() == found.stdout
    assert re.search(r"^\| nDCG@10 \|.*\| regression \|$", found.stdout, re.MULTILINE)
