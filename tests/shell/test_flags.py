"""The commands have the same arguments as Python, and the help names them."""

import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from evaluate import Metric
from shells import MAIN, QRELS, Call
from shells import call as call
from shells import folder as folder

from ndcg.explanations import forms
from ndcg.measure import arguments, conventions, options
from ndcg.shell import flags
from ndcg.statistics import comparing

OPTIONS: dict[str, tuple[str, Any]] = {
    "k": ("-k 3,all", [3, None]),
    "measures": ("-m CG@2,IDCG", ["CG@2", "IDCG"]),
    "convention": ("--convention lightgbm", "lightgbm"),
    "gain": ("--gain 0,2,5", [0, 2, 5]),
    "discount": ("--discount reciprocal", "reciprocal"),
    "log_base": ("--log-base 3", 3),
    "ideal": ("--ideal truncated", "truncated"),
    "score_dtype": ("--score-dtype float32", "float32"),
    "score_order": ("--score-order ascending", "ascending"),
    "ties": ("--ties worst", "worst"),
    "zero_division": ("--zero-division nan", float("nan")),
    "negative_relevance": ("--negative-relevance clip", "clip"),
    "judged_only": ("-J", True),
    "duplicates": ("--duplicates best", "best"),
    "exclude_from": ("--exclude-from run", "run"),
    "ignore_index": ("--ignore-index 1", 1),
    "missing": ("--missing skip", "skip"),
}


def test_every_option_of_python_is_one_of_the_shell() -> None:
    assert set(OPTIONS) == set(options.OF_COMPUTE) - {"ignore_ties", "use_aggregator", "engine"}


@pytest.mark.parametrize(
    "argument",
    [each for each in flags.ARGUMENTS[flags.SCORING] if each.words],
    ids=lambda argument: argument.name,
)
def test_the_words_of_an_option_are_those_of_python(argument: flags.Argument) -> None:
    with pytest.raises(ValueError, match=f"^{argument.name} must be ") as error:
        options.Options.parse(**{argument.name: "nosuch"})
    words = str(error.value).partition("; got")[0]
    assert list(argument.words) == re.findall(r'"(\w+)"', words)


def test_the_forms_of_a_checked_function_are_those_of_python_in_the_shell_and_in_its_page() -> None:
    (argument,) = (each for each in flags.ARGUMENTS[""] if each.name == "form")
    assert sorted(argument.words) == sorted(forms.FORMS)
    rows = re.findall(
        r"^\| (`\"\w+\"`.*?) \| .* \|$", (ROOT / "docs" / "slips.md").read_text(), re.MULTILINE
    )
    assert sorted(re.findall(r"\w+", "".join(rows))) == sorted(forms.FORMS)


def test_defaults_are_those_of_python() -> None:
    python = {
        name: each.default for name, each in inspect.signature(comparing.compare).parameters.items()
    }
    tests = ("alternative", "margin", "corrected_over", "confidence", "seed")
    parsed = vars(flags.parser().parse_args(["compare", "qrels.txt", "main.txt", "worse.txt"]))
    assert {name: parsed[name] for name in tests} == {name: python[name] for name in tests}
    assert [parsed[name] for name in options.OF_COMPUTE if name in parsed] == [None] * 17


@pytest.mark.parametrize("name", OPTIONS)
def test_options_mean_what_they_mean_in_python(call: Call, ndcg: Metric, name: str) -> None:
    words, value = OPTIONS[name]
    report = ndcg.report(predictions=MAIN, references=QRELS, **{name: value})
    saved = json.loads(call(f"score qrels.txt main.txt {words} -o json")[1])
    assert (saved["signature"], saved["scores"]) == (report.signature, report.to_dict()["scores"])


OF_SCORE = {
    **{name: words for name, (words, _) in OPTIONS.items()},
    "by": "--by by.txt",
    "worst": "--worst 2",
    "by_query": "-q",
    "places": "-p 2",
    "confidence": "--confidence .9",
    "plot": "--plot plot.svg",
    "output": "-o json",
    "signature": "--signature",
    "exclude": "--exclude one.txt",
    "format": "--format trec",
    "query": "",
    "document": "",
    "score": "",
    "relevance": "",
}


def test_a_command_of_score_becomes_a_preview_by_one_word(call: Call, folder: Path) -> None:
    (folder / "by.txt").write_text("".join(f"{query} en\n" for query in QRELS))
    (folder / "one.txt").write_text("".join(f"{query} d1\n" for query in QRELS))
    names: set[str] = set()
    for group in flags.ARGUMENTS.values():
        names |= {argument.name for argument in group if "score" in argument.commands}
    assert names - set(flags.POSITIONAL) == set(OF_SCORE)
    for words in OF_SCORE.values():
        status, text, said = call(f"preview qrels.txt main.txt {words}")
        assert (status, bool(text), said) == (0, True, ""), words
    assert not (folder / "plot.svg").exists()


@pytest.mark.parametrize(
    "command",
    [
        "score none.txt none.txt",
        "compare 1.txt 2.txt 3.txt",
        "gate 1.txt 2.txt 3.txt",
        "audit 1.txt 2.txt",
        "preview 1.txt 2.txt",
    ],
)
def test_every_command_prints_the_signature_without_reading_files(call: Call, command: str) -> None:
    signature = options.signature(measures=["nDCG@3", "CG"], ties="worst", exclude=[])
    command += " -m nDCG@3,CG --ties worst --exclude none.txt --signature"
    assert call(command) == (0, f"{signature}\n", "")
    assert signature in call(f"{command} -o tsv")[1]
    assert json.loads(call(f"{command} -o json")[1]) == {"signature": signature}


def test_help_names_every_word_that_an_option_knows(call: Call) -> None:
    status, text, _ = call("score --help")
    engines = arguments.OPTIONS["engine"].words  # for Python only
    words = {
        word
        for option in arguments.OPTIONS.values()
        for word in option.words
        if option.words != engines
    }
    words |= {"perfect_if_empty", *flags.FORMATS}
    assert (status, words - set(re.findall(r"\w+", text))) == (0, set())
    assert "options that you do not set follow the convention" in " ".join(text.split())
    assert "follow the convention" not in call("explain --help")[1]  # which compares conventions
    for name in conventions.CONVENTIONS:
        assert (
            flags.parser().parse_args(["score", "qrels", "run", "--convention", name]).convention
            == name
        )


def test_the_error_for_an_unknown_command_lists_the_commands(call: Call) -> None:
    status, _, said = call("scor qrels.txt main.txt")
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("ndcg: ")
    assert all(command in said for command in flags.COMMAND_HELP)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (
            "score qrels.txt -k 10 main.txt worse.txt",
            {"qrels": "qrels.txt", "runs": ["main.txt", "worse.txt"]},
        ),
        (
            "score qrels.txt main.txt -k 10 worse.txt",
            {"qrels": "qrels.txt", "runs": ["main.txt", "worse.txt"]},
        ),
        ("score -k 10 qrels.txt", {"qrels": "qrels.txt", "runs": []}),
        ("score -k 10 -- qrels.txt -run.txt", {"qrels": "qrels.txt", "runs": ["-run.txt"]}),
        ("compare qrels.txt base.txt -k 10 run.txt", {"baseline": "base.txt", "runs": ["run.txt"]}),
        (
            "gate qrels.txt -k 10 base.txt --any-drop run.txt",
            {"baseline": "base.txt", "run": "run.txt"},
        ),
        ("gate qrels.txt -k 10 run.txt", {"baseline": None, "run": "run.txt"}),
        ("gate - run.txt -k 10", {"qrels": "-", "baseline": None, "run": "run.txt"}),
    ],
)
def test_options_may_stand_between_files(command: str, files: dict[str, Any]) -> None:
    parsed = vars(flags.parser().parse_args(shlex.split(command)))
    assert {name: parsed[name] for name in files} == files
    assert parsed["k"] == [10]


def test_shells_complete_commands_and_options(call: Call) -> None:
    pytest.importorskip("shtab")
    status, script, _ = call("--print-completion bash")
    assert status == 0
    assert all(word in script for word in (*flags.COMMAND_HELP, "--max-drop", "trec_eval"))
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
    status, _, said = call("--print-completion fish-and-chips")
    assert (status, said.startswith("ndcg: --print-completion supports bash, zsh")) == (2, True)


def test_completion_names_the_package_it_needs(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)  # importing it fails
    said = "ndcg: --print-completion needs shtab: pip install shtab; see ndcg --help\n"
    assert call("--print-completion bash") == (2, "", said)


def test_the_version_is_that_of_the_package(call: Call) -> None:
    assert call("--version")[1] == f"ndcg {options.__version__}\n"


@pytest.mark.parametrize("command", flags.COMMAND_HELP)
def test_examples_of_the_help_can_be_parsed(command: str) -> None:
    parser = flags.parser()
    examples = re.findall(
        rf"ndcg ({command} [^>\n]*?)(?: {{2,}}.*| > .*)?$", flags.COMMAND_HELP[command][2], re.M
    )
    assert examples
    for example in examples:
        assert parser.parse_args(shlex.split(example)).command == command
