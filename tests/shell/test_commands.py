"""The commands print and save what the functions of Python return, and an error is one sentence."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from evaluate import Metric
from shells import (
    MAIN,
    QRELS,
    QUERIES,
    TREC,
    WORSE,
    Call,
    json_lines,
    pipe_of,
    saved_report,
    standard_input,
    write,
)
from shells import call as call
from shells import folder as folder

OTHER = dict.fromkeys(QUERIES, MAIN["q0"])


@pytest.mark.parametrize(
    ("run", "how", "expected"),
    [("results.test", "--missing skip", "out.test.aq"), ("results.trunc", "", "out.test.aqc")],
)
def test_trec_eval_prints_the_same_for_its_own_test_files(
    call: Call, run: str, how: str, expected: str
) -> None:
    rows = [line.split() for line in (TREC / expected).read_text().splitlines()]
    names = {
        measure: "nDCG" + measure.removeprefix("ndcg").replace("_cut_", "@") for measure, *_ in rows
    }
    how = f"-q --convention trec_eval {how} -m {','.join(names.values())}"
    status, printed, _ = call(f"score {TREC}/qrels.test.gz {TREC}/{run}.gz {how}")
    header, *lines = (line.split() for line in printed.partition("\n\n")[0].splitlines())
    found = {
        (line[0], name): value
        for line in lines
        for name, value in zip(header[1:], line[1:], strict=True)
    }
    assert (status, len(rows)) == (0, 40)
    assert found == {(query, names[measure]): value for measure, query, value in rows}


@pytest.mark.parametrize("exclude_from", ["both", "run"])
def test_score_saves_the_report(call: Call, folder: Path, ndcg: Metric, exclude_from: str) -> None:
    seen = {query: ["d1", "d2"] for query in QUERIES}
    (folder / "seen.json").write_text(json.dumps(seen))
    excluding = f"--exclude seen.json --exclude-from {exclude_from}"
    printed = call(f"score qrels.txt main.txt -m nDCG@5,DCG@3 {excluding} -o json")[1]
    how = {"measures": ["nDCG@5", "DCG@3"], "exclude": seen, "exclude_from": exclude_from}
    report = ndcg.report(predictions=MAIN, references=QRELS, **how)
    assert saved_report(printed) == report.to_dict()
    for command in (
        "audit qrels.txt main.txt",
        "compare qrels.txt worse.txt main.txt",
        "explain qrels.txt main.txt",
    ):
        saved = json.loads(call(f"{command} -m nDCG@5 {excluding} -o json")[1])
        score = saved["scores"].get("main", saved["scores"])
        value = score["sklearn"] if command.startswith("explain") else score["nDCG@5"]["value"]
        assert value == pytest.approx(report.scores["nDCG@5"].value)


LESS = {"baseline": "main", "alternative": "less", "corrected_over": "all"}


@pytest.mark.parametrize(
    ("command", "how"),
    [
        (
            (
                "qrels.txt main.txt worse.txt -k 3,5 --seed 3 --confidence 0.9 --alternative less "
                "--corrected-over all"
            ),
            {"k": [3, 5], "seed": 3, "confidence": 0.9, **LESS},
        ),
        ("qrels.txt main.txt worse.txt other.txt --pairs all", {}),
        ("--reports main.json worse.json --alternative less --corrected-over all", LESS),
        ("--reports main.json worse.json --unpaired", {"baseline": "main", "paired": False}),
    ],
)
def test_compare_saves_and_prints_the_comparison(
    call: Call, folder: Path, ndcg: Metric, command: str, how: dict[str, Any]
) -> None:
    write(other=OTHER)
    runs = {
        name: run
        for name, run in (("main", MAIN), ("worse", WORSE), ("other", OTHER))
        if name in command
    }
    if "--reports" in command:
        for name in runs:
            (folder / f"{name}.json").write_text(call(f"score qrels.txt {name}.txt -o json")[1])
        reports = {
            name: ndcg.report(predictions=run, references=QRELS) for name, run in runs.items()
        }
        found = ndcg.compare_reports(reports, **how)
    else:
        found = ndcg.compare(systems=runs, references=QRELS, **how)
    status, printed, said = call(f"compare {command} -o json")
    assert (status, json.loads(printed), said) == (0, found.to_dict(), "")
    assert call(f"compare {command} -o latex -p 2")[1] == found.to_latex(2) + "\n"
    pairs = [(pair.system, pair.other) for pair in found.pairs]
    assert [
        (row["run"], row["baseline"]) for row in json_lines(call(f"compare {command} -o jsonl")[1])
    ] == pairs
    text = call(f"compare {command}")[1]
    table = text.partition("queries that lost most")[0]
    assert all(f"{one} – {other}" in table for one, other in pairs) is ("--pairs all" in command)
    of_unpaired = ("independent samples" in text, "won–tied–lost" not in text)
    assert of_unpaired == ("--unpaired" in command,) * 2


def test_scores_of_several_runs_stand_side_by_side(call: Call, ndcg: Metric) -> None:
    printed = call("score qrels.txt main.txt worse.txt -k 5 -p 3")[1]
    lines = [re.split(r" {2,}", line) for line in printed.splitlines()[:3]]
    expected = [["run", "queries", "nDCG@5", "95% interval"]]
    for name, run in (("main", MAIN), ("worse", WORSE)):
        score = ndcg.report(predictions=run, references=QRELS, k=5).scores["nDCG@5"]
        expected.append([name, "40", f"{score.value:.3f}", f"{score.low:.3f} – {score.high:.3f}"])
    assert lines == expected


def test_every_mean_says_of_how_many_queries_it_is(call: Call, folder: Path) -> None:
    write(qrels=QRELS | {query: dict.fromkeys(QRELS[query], 0) for query in QUERIES[:6]})
    (folder / "by.csv").write_text(
        "\n".join([f"q{at},{'de' if at < 10 else 'en'}" for at in range(40)])
    )
    how = "--zero-division nan -m nDCG@5,DCG@5 --by by.csv"
    expected = {
        ("nDCG@5", None): (34, 6),
        ("DCG@5", None): (40, 0),
        ("nDCG@5", "de"): (4, 6),
        ("DCG@5", "de"): (10, 0),
    }
    expected |= {("nDCG@5", "en"): (30, 0), ("DCG@5", "en"): (30, 0)}
    for command, header, line in (
        (
            "score qrels.txt main.txt",
            "run +queries +nDCG@5 +95% interval +queries +DCG@5 +95% interval",
            "main +de",
        ),
        ("compare qrels.txt main.txt worse.txt", "slice +queries +.*", "de"),
    ):
        printed = call(f"{command} {how}")[1]
        for pattern in (f"^{header}$", "^main +34 of 40 .* 40 ", f"^{line} +4 of 10 "):
            assert re.search(pattern, printed, re.MULTILINE)
        assert "Excluded from a mean: 6 of 40 queries, with no relevant documents." in printed
        rows = json_lines(call(f"{command} {how} -o jsonl")[1])
        assert expected == {
            (row["measure"], row.get("slice")): (row["queries"], row["left_out"]) for row in rows
        }
    assert re.search(
        r"^nDCG +34 of 40 ", call("audit qrels.txt main.txt --zero-division nan")[1], re.MULTILINE
    )


def test_an_interval_that_is_missing_is_an_empty_cell_of_tsv(call: Call, folder: Path) -> None:
    (folder / "by.csv").write_text(
        "".join(f"{query},{'one' if query == 'q0' else 'rest'}\n" for query in QUERIES)
    )
    header, *rows = (
        line.split("\t")
        for line in call("score qrels.txt main.txt -k 5 --by by.csv -o tsv")[1].splitlines()
    )
    (of_one,) = (dict(zip(header, row, strict=True)) for row in rows if "one" in row)
    assert [of_one[name] for name in ("low", "high", "standard_error")] == ["", "", ""]
    assert float(of_one["value"]) >= 0


def test_a_query_that_misses_nothing_is_among_the_lowest_without_documents(
    call: Call, folder: Path
) -> None:
    write(qrels={"q1": {"a": 1}}, low={"q1": {"a": 2}})
    table = call("score qrels.txt low.txt --worst 1")[1].split("\n\n")[1]
    assert re.split(r" {2,}", table.splitlines()[-1].strip()) == ["q1", "1.0000", "–"]


def test_the_lowest_queries_are_shown_with_what_they_miss_and_what_ranks_before(
    call: Call, folder: Path
) -> None:
    qrels = {
        "q1": {"a": 3, "b": 1, "c": 0, "z": 2},
        "q2": {"a": 1},
        "q3": {"a": 0},
        "q4": {"a": 1, "b": 0},
    }
    low = {
        "q1": {"c": 9, "u": 8, "b": 7, "a": 5, "d": 5},
        "q2": {"x": 2, "a": 1},
        "q3": {"a": 1},
        "q4": {"b": 2, "u": 1},
    }
    write(qrels=qrels, low=low)
    command = "score qrels.txt low.txt -k 2 --worst"
    printed = call(f"{command} 2")[1]
    assert [re.split(r" {2,}", line.strip()) for line in printed.split("\n\n")[1].splitlines()] == [
        ["lowest queries of low", "nDCG@2", "documents", "id", "relevance", "rank"],
        ["q1", "0.0000", "missed", "a", "3", "4–5"],
        ["missed", "z", "2", "not retrieved"],
        ["missed", "b", "1", "3"],
        ["before", "c", "0", "1"],
        ["before", "u", "unjudged", "2"],
        ["q4", "0.0000", "missed", "a", "1", "not retrieved"],
        ["before", "b", "0", "1"],
        ["before", "u", "unjudged", "2"],
    ]
    assert "missed: the relevant documents that the first ranks miss" in printed
    rows = json_lines(call(f"{command} 2 -o jsonl")[1])
    assert [
        (row["query"], row["kind"], row["document"], row["rank"], row["last_rank"])
        for row in rows[:3]
    ] == [
        ("q1", "missed", "a", 4, 5),
        ("q1", "missed", "z", None, None),
        ("q1", "missed", "b", 3, 3),
    ]
    assert json.loads(call(f"{command} 2 -o json")[1])["worst"] == rows
    assert call(f"{command} 0") == call("score qrels.txt low.txt -k 2")
    found = {(row["query"], row["kind"]) for row in json_lines(call(f"{command} all -o jsonl")[1])}
    kinds = {(query, kind) for query in ("q1", "q4") for kind in ("missed", "before")}
    assert found == kinds | {("q2", "before")}  # q3 has no relevant documents
    rows = json_lines(call("score qrels.txt low.txt --worst 5 -o jsonl")[1])
    of_whole_list = {(row["kind"], row["document"]) for row in rows if row["query"] == "q1"}
    assert of_whole_list == {("missed", "z"), ("before", "c"), ("before", "u"), ("before", "d")}


@pytest.mark.parametrize(("options", "n"), [("", 5), ("--worst 3", 3), ("--worst all", None)])
def test_compare_names_the_queries_that_lost_and_gained_most(
    call: Call, folder: Path, ndcg: Metric, options: str, n: int | None
) -> None:
    printed = call(f"compare qrels.txt main.txt worse.txt -k 5 {options}")[1]
    found = ndcg.compare(
        systems={"main": MAIN, "worse": WORSE}, references=QRELS, k=5, baseline="main"
    )
    for table, did, only in zip(
        printed.split("\n\n")[2:4], ("lost", "gained"), ("losses", "gains"), strict=True
    ):
        header, *lines = table.splitlines()
        assert header.startswith(f"queries that {did} most in nDCG@5 ")
        most = found.differences("worse", "main", n=n, only=only).to_pylist()
        assert [line.split()[0] for line in lines] == [row["query"] for row in most]
        assert [line.split()[-1] for line in lines] == [f"{row['difference']:+.4f}" for row in most]


def test_no_queries_are_named_where_none_is_asked_for_or_none_differs(
    call: Call, folder: Path
) -> None:
    command = "compare qrels.txt main.txt worse.txt --worst 0"
    assert "queries that lost most" not in call(command)[1]
    assert call(f"{command} -o jsonl") == call("compare qrels.txt main.txt worse.txt -o jsonl")
    write(again=MAIN)
    for format_ in ("jsonl", "tsv"):
        assert call(f"compare qrels.txt main.txt again.txt --worst all -o {format_}") == (0, "", "")


@pytest.mark.parametrize(("worst", "n"), [("4", 4), ("all", None)])
def test_programs_get_the_queries_that_lost_and_that_gained_most(
    call: Call, ndcg: Metric, worst: str, n: int | None
) -> None:
    command = f"compare qrels.txt main.txt worse.txt -m nDCG@5,DCG@3 --worst {worst} -o jsonl"
    measures, systems = ["nDCG@5", "DCG@3"], {"main": MAIN, "worse": WORSE}
    found = ndcg.compare(systems=systems, references=QRELS, measures=measures, baseline="main")
    expected = []
    for measure in measures:
        losses, gains = (
            found.differences("worse", "main", measure, n, only) for only in ("losses", "gains")
        )
        for row in [*losses.to_pylist(), *reversed(gains.to_pylist())]:
            names = {"measure": measure, "run": "worse", "baseline": "main", "query": row["query"]}
            values = {
                "value": row["worse"],
                "baseline_value": row["main"],
                "difference": row["difference"],
            }
            expected.append(names | values)
    assert json_lines(call(command)[1]) == expected


@pytest.mark.parametrize("command", ["score", "compare", "gate", "audit", "explain"])
def test_no_document_in_common_is_said_on_standard_error(
    call: Call, folder: Path, command: str
) -> None:
    other = {
        query: {f"doc-{document}": score for document, score in run.items()}
        for query, run in MAIN.items()
    }
    write(other=other)
    runs = "other.txt" if command in ("audit", "explain") else "main.txt other.txt"
    name = "run" if command == "explain" else "other"
    first = (
        "first retrieved: query 'q0', document 'doc-d0'; first judged: query 'q0', document 'd0'"
    )
    hint = "check that both sides have the same ids"
    said = f"ndcg {command}: {name}: no document was both retrieved and judged; {first}; {hint}\n"
    assert call(f"{command} qrels.txt {runs} -k 5 -o json")[2] == said


def test_an_error_about_a_negative_relevance_names_its_first_line_for_every_run(
    call: Call, folder: Path
) -> None:
    negative = {query: QRELS[query] | {"d4": -1} for query in ("q7", "q3", "q30")}
    write(qrels=QRELS | negative, few=MAIN | {"q3": {"d0": 1}})
    problem = (
        f"qrels.txt: line {3 * 12 + 5}: query 'q3', document 'd4': the relevance -1 is negative; "
        "--negative-relevance clip counts it as gain 0, as --convention trec_eval does, "
        "--negative-relevance keep as it is; if nobody could judge it, leave it out of the qrels\n"
    )
    for command in (
        "score qrels.txt few.txt main.txt",
        "compare qrels.txt main.txt few.txt",
        "audit qrels.txt few.txt",
        (
            "gate qrels.txt main.txt few.txt --missing empty --convention trec_eval "
            "--negative-relevance raise"
        ),
    ):
        assert call(command) == (2, "", f"ndcg {command.split()[0]}: {problem}")
    for name, excluded in (("all.json", negative), ("some.json", ("q3", "q30"))):
        (folder / name).write_text(json.dumps({query: ["d4"] for query in excluded}))
    for allowed in ("--convention trec_eval", "--ignore-index -1", "--exclude all.json"):
        assert call(f"score qrels.txt main.txt {allowed}")[0] == 0
    assert (
        call("score qrels.txt main.txt --exclude all.json --exclude-from run")[2]
        == f"ndcg score: {problem}"
    )
    assert (
        f"line {7 * 12 + 5}: query 'q7'" in call("score qrels.txt main.txt --exclude some.json")[2]
    )


def test_audit_counts_the_judgments_behind_a_score(call: Call, folder: Path, ndcg: Metric) -> None:
    run = {
        query: dict.fromkeys(documents, 1.0) for query, documents in MAIN.items() if query != "q7"
    }
    run |= {"q0": MAIN["q0"], "q1": run["q1"] | {"unjudged": 2.0}, "other": {"d1": 1}}
    qrels = QRELS | {"q2": dict.fromkeys(QRELS["q2"], 0)}
    write(qrels=qrels, run=run)
    rows = {
        row["finding"]: row for row in json_lines(call("audit qrels.txt run.txt -k 5 -o jsonl")[1])
    }
    score = ndcg.report(predictions=run, references=qrels, k=5).scores["nDCG@5"]
    found = {(finding, row["value"]) for finding, row in rows.items()}
    figures = {
        ("worst", score.worst),
        ("best", score.best),
        ("random order", score.random_order),
        ("unjudged", 1),
    }
    assert {(f"{name} nDCG@5", value) for name, value in figures} <= found
    assert {
        ("judged", 40),
        ("all documents relevant", 0),
        ("affected by ties (nDCG@5)", 37),
    } <= found  # all but 3
    one = {"missing from the run": "q7", "only in the run": "other", "no relevant documents": "q2"}
    assert {name: (rows[name]["value"], rows[name]["queries"]) for name in one} == {
        n: (1, q) for n, q in one.items()
    }


def test_explain_names_the_convention_that_gives_a_score(call: Call, ndcg: Metric) -> None:
    scores = ndcg.compute(predictions=MAIN, references=QRELS, k=5, convention="lightgbm")
    number = f"{scores['nDCG@5']:.6f}"
    command = f"explain qrels.txt main.txt -k 5 --got {number}"
    found = ndcg.explain(predictions=MAIN, references=QRELS, k=5, got=number)
    assert json.loads(call(f"{command} -o json")[1]) == json.loads(json.dumps(found.to_dict()))
    assert "lightgbm" in found.matches
    assert call(command)[1].startswith("\n".join(str(found).splitlines()[:5]))


def test_explain_names_options_as_arguments_of_the_shell(call: Call, ndcg: Metric) -> None:
    inputs = {"predictions": MAIN, "references": QRELS}
    number = ndcg.compute(**inputs, k=5, discount="reciprocal", judged_only=True)["nDCG@5"]
    way = ndcg.explain(**inputs, k=5, got=f"{number:.6f}").combinations[0]
    printed = call(f"explain qrels.txt main.txt -k 5 --got {number:.6f}")[1]
    assert f" gives {number:.6g} ({way.flags}).\n" in printed
    assert "convention=" not in printed
    assert "True" not in printed


def test_explain_takes_the_values_that_trec_eval_prints_from_files_and_pipes(
    call: Call, folder: Path
) -> None:
    content = (TREC / "out.test.aq").read_bytes()
    lines = content.splitlines(keepends=True)
    for name, written in {
        "of_all.txt": content,
        "of_all.gz": gzip.compress(content),
        "at_10.txt": b"".join(each for each in lines if b"cut_10 " in each),
        "cuts.txt": b"".join(lines[1:10]),
    }.items():
        (folder / name).write_bytes(written)
    command = f"explain {TREC}/qrels.test.gz {TREC}/results.test.gz --zero-division 0 -o json --got"
    expected = call(f"{command} at_10.txt -k 10")
    assert {"trec_eval", "pytrec_eval"} <= set(json.loads(expected[1])["matches"])
    for got in ("of_all.txt -m nDCG@10", "of_all.gz -m nDCG -k 10", "at_10.txt"):
        assert call(f"{command} {got}") == expected
    with pipe_of(content) as pipe:
        assert call(f"{command} {pipe} -k 10") == expected
    with pipe_of(gzip.compress(content)) as pipe, standard_input(pipe):
        assert call(f"{command} - -k 10") == expected
    said = call(f"{command} cuts.txt")[2]
    assert said.startswith("ndcg explain: got: cuts.txt: holds nDCG@5 and nDCG@10 and ")
    assert said.endswith(", not nDCG; choose -m nDCG@5 or -k 5\n")


@pytest.mark.parametrize("format_", ["tsv", "jsonl", "json"])
def test_explain_takes_the_values_that_score_prints(call: Call, folder: Path, format_: str) -> None:
    printed = call(
        f"score qrels.txt main.txt -q -m nDCG@3,nDCG@5,DCG --convention lightgbm -o {format_}"
    )[1]
    (folder / "values").write_text(printed)
    found = json.loads(call("explain qrels.txt main.txt -m nDCG@5 --got values -o json")[1])
    assert (found["measure"], "lightgbm" in found["matches"], "sklearn" in found["matches"]) == (
        "nDCG@5",
        True,
        False,
    )


@pytest.mark.parametrize(
    ("command", "panels"),
    [
        ("score qrels.txt main.txt", 2),  # the mean, and the values of the queries
        ("compare qrels.txt main.txt worse.txt", 2),
    ],
)
def test_a_plot_is_saved_in_addition_to_the_table(
    call: Call, folder: Path, command: str, panels: int
) -> None:
    assert call(f"{command} --plot figure.svg") == call(command)
    assert (folder / "figure.svg").read_text().count('<g id="axes_') == panels


def test_a_plot_is_of_one_run(call: Call) -> None:
    said = "ndcg score: --plot draws one run; ndcg compare --plot draws several\n"
    assert call("score qrels.txt main.txt worse.txt --plot figure.svg")[::2] == (2, said)


@pytest.mark.parametrize("name", ["x.gif", "."])
def test_a_plot_is_a_picture_of_three_kinds(call: Call, folder: Path, name: str) -> None:
    before = sorted(folder.iterdir())
    said = f"ndcg score: --plot {name}: must end in .png, .svg or .pdf\n"
    assert call(f"score qrels.txt main.txt --plot {name}")[::2] == (2, said)
    assert sorted(folder.iterdir()) == before


SCORE = "score qrels.txt main.txt"
REPORTS = "compare --reports main.json"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (f"{REPORTS} main.json", "main.json "),
        (f"{REPORTS} other.json", "--reports: 'main' and 'other' "),
        (f"{REPORTS} fewer.json", "--reports: "),
        (f"{REPORTS} main.txt", "main.txt: "),
        (f"{REPORTS} fewer.json -k 5", "--reports: -k "),
        (f"{REPORTS} fewer.json --exclude qrels.txt", "--reports: --exclude "),
        (f"{REPORTS} fewer.json --signature", "--signature "),
    ],
)
def test_reports_that_cannot_be_compared_are_refused_by_their_files_or_options(
    call: Call, folder: Path, command: str, problem: str
) -> None:
    write(fewer_qrels={query: QRELS[query] for query in QUERIES[1:]})
    (folder / "main.json").write_text(call(f"{SCORE} -o json")[1])
    (folder / "other.json").write_text(call(f"{SCORE} --gain exponential -o json")[1])
    (folder / "fewer.json").write_text(call("score fewer_qrels.txt worse.txt -o json")[1])
    status, printed, said = call(command)
    assert (status, printed, said.count("\n")) == (2, "", 1)
    assert said.startswith(f"ndcg compare: {problem}")


def test_the_ideal_needs_no_run(call: Call, ndcg: Metric) -> None:
    status, printed, _ = call("score qrels.txt -m IDCG@2,IDCG -o json")
    assert (status, json.loads(printed)["scores"]) == (
        0,
        ndcg.compute(references=QRELS, measures=["IDCG@2", "IDCG"]),
    )
