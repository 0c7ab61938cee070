"""The commands print and save what the functions of Python return, and an error is one sentence."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from evaluate import Metric
from shells import MAIN, QRELS, QUERIES, TREC, WORSE, Call, pipe_of, saved_report, standard_input, trec
from shells import call as call
from shells import folder as folder


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


def test_score_saves_the_report(call: Call, folder: Path, ndcg: Metric) -> None:
    seen = {query: ["d1", "d2"] for query in QUERIES}
    (folder / "seen.json").write_text(json.dumps(seen))
    status, printed, _ = call("score qrels.txt main.txt -m nDCG@5,DCG@3 --exclude seen.json -o json")
    report = ndcg.report(predictions=MAIN, references=QRELS, measures=["nDCG@5", "DCG@3"], exclude=seen)
    assert status == 0
    assert saved_report(printed) == report.to_dict()


OTHER = dict.fromkeys(QUERIES, MAIN["q0"])
LESS = {"alternative": "less", "corrected_over": "all"}


@pytest.mark.parametrize(
    ("command", "method", "how"),
    [
        (
            "qrels.txt main.txt worse.txt -k 3,5 --seed 3 --confidence 0.9 --alternative less --corrected-over all",
            "compare",
            {"k": [3, 5], "baseline": "main", "seed": 3, "confidence": 0.9, **LESS},
        ),
        ("qrels.txt main.txt worse.txt other.txt --pairs all", "compare", {}),
        (
            "--reports main.json worse.json --alternative less --corrected-over all",
            "compare_reports",
            {"baseline": "main", **LESS},
        ),
        ("--reports main.json worse.json --unpaired", "compare_reports", {"baseline": "main", "paired": False}),
    ],
)
def test_compare_saves_and_prints_the_comparison(
    call: Call, folder: Path, ndcg: Metric, command: str, method: str, how: dict[str, Any]
) -> None:
    (folder / "other.txt").write_text(trec(OTHER, "run"))
    runs = {name: run for name, run in (("main", MAIN), ("worse", WORSE), ("other", OTHER)) if name in command}
    reports = {name: ndcg.report(predictions=run, references=QRELS) for name, run in runs.items()}
    for name in runs:
        (folder / f"{name}.json").write_text(call(f"score qrels.txt {name}.txt -o json")[1])
    inputs = {"compare": {"systems": runs, "references": QRELS}, "compare_reports": {"reports": reports}}
    found = getattr(ndcg, method)(**inputs[method], **how)
    status, printed, said = call(f"compare {command} -o json")
    assert (status, json.loads(printed), said) == (0, found.to_dict(), "")
    assert call(f"compare {command} -o latex")[1] == found.to_latex() + "\n"
    assert call(f"compare {command} -o latex -p 2")[1] == found.to_latex(2) + "\n"
    rows = map(json.loads, call(f"compare {command} -o jsonl")[1].splitlines())
    pairs = [(pair.system, pair.other) for pair in found.pairs]
    assert [(row["run"], row["baseline"]) for row in rows] == pairs
    text = call(f"compare {command}")[1]
    before, *_ = text.partition("queries that lost most")
    assert all(f"{one} – {other}" in before for one, other in pairs) is ("--pairs all" in command)
    assert ("independent samples" in text) is ("won–tied–lost" not in text) is ("--unpaired" in command)
    assert ("without --unpaired" in text) is ("--unpaired" in command)


def test_scores_of_several_runs_stand_side_by_side(call: Call, ndcg: Metric) -> None:
    _, printed, _ = call("score qrels.txt main.txt worse.txt -k 5 -p 3")
    lines = [re.split(r" {2,}", line) for line in printed.splitlines()[:3]]
    assert lines[0] == ["run", "queries", "nDCG@5", "95% interval"]
    for (name, queries, mean, interval), run in zip(lines[1:], (MAIN, WORSE), strict=True):
        score = ndcg.report(predictions=run, references=QRELS, k=5).scores["nDCG@5"]
        assert [queries, mean, interval] == ["40", f"{score.value:.3f}", f"{score.low:.3f} – {score.high:.3f}"]
        assert name == ("main" if run is MAIN else "worse")


def test_every_mean_says_of_how_many_queries_it_is(call: Call, folder: Path) -> None:
    empty = {query: dict.fromkeys(judged, 0) if query in QUERIES[:6] else judged for query, judged in QRELS.items()}
    (folder / "qrels.txt").write_text(trec(empty, "qrels"))
    slices = {query: "de" if at < 10 else "en" for at, query in enumerate(QUERIES)}
    (folder / "by.csv").write_text("\n".join(map(",".join, slices.items())))
    how = "--zero-division nan -m nDCG@5,DCG@5 --by by.csv"
    left = "6 of 40 queries have no relevant documents and are excluded from the mean of nDCG@5."
    every = {("nDCG@5", None): (34, 6), ("DCG@5", None): (40, 0)}
    by_slice = {("nDCG@5", "de"): (4, 6), ("DCG@5", "de"): (10, 0), ("nDCG@5", "en"): (30, 0), ("DCG@5", "en"): (30, 0)}
    for command, header, line in (
        ("score qrels.txt main.txt", "run +queries +nDCG@5 +95% interval +queries +DCG@5 +95% interval", "main +de"),
        ("compare qrels.txt main.txt worse.txt", "slice +queries +.*", "de"),
    ):
        printed = call(f"{command} {how}")[1]
        for pattern in (f"^{header}$", "^main +34 of 40 .* 40 ", f"^{line} +4 of 10 "):
            assert re.search(pattern, printed, re.MULTILINE)
        assert left in printed
        rows = list(map(json.loads, call(f"{command} {how} -o jsonl")[1].splitlines()))
        counts = {(row["measure"], row.get("slice")): (row["queries"], row["left_out"]) for row in rows}
        assert counts == every | by_slice
    assert re.search(r"^nDCG +34 of 40 ", call("audit qrels.txt main.txt --zero-division nan")[1], re.MULTILINE)


@pytest.mark.parametrize(
    "command", ["score", "score -q", "audit", "score -o markdown", "score -o tsv", "score -o json"]
)
def test_one_query_is_scored(call: Call, folder: Path, ndcg: Metric, command: str) -> None:
    (folder / "one.txt").write_text(trec({"q3": QRELS["q3"]}, "qrels"))
    score = ndcg.compute(predictions={"q3": MAIN["q3"]}, references={"q3": QRELS["q3"]})["nDCG"]
    status, printed, said = call(f"{command} one.txt main.txt")
    assert (status, said) == (0, "")
    assert f"{score:.4f}" in re.sub(r"\d\.\d{5,}", lambda number: f"{float(number[0]):.4f}", printed)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("compare qrels.txt main.txt", "give one RUN or more to compare with the baseline; see ndcg compare --help"),
        ("compare qrels.txt main.txt worse.txt --unpaired", "--unpaired compares saved reports of different queries; "),
        ("compare --reports main.json main.json", "main.json is given twice; pass each run once"),
        ("compare --reports main.json other.json", "reports: 'main' and 'other' were made with different options: "),
        ("compare --reports main.json fewer.json", "reports: have different queries: 1 query ('q0') only in main, no "),
        ("compare --reports main.json main.txt", "main.txt: "),
        ("compare --reports main.json fewer.json -k 5", "--reports: -k has no effect on reports, which are scored; "),
        ("compare --reports main.json fewer.json --exclude qrels.txt", "--reports: --exclude has no effect on reports"),
        ("compare --reports main.json fewer.json --signature", "--signature prints the signature of options; saved "),
    ],
)
def test_reports_and_options_that_do_not_fit_are_rejected(call: Call, folder: Path, command: str, problem: str) -> None:
    (folder / "main.json").write_text(call("score qrels.txt main.txt -o json")[1])
    (folder / "other.json").write_text(call("score qrels.txt main.txt --gain exponential -o json")[1])
    (folder / "qrels.txt").write_text(trec({query: QRELS[query] for query in QUERIES[1:]}, "qrels"))
    (folder / "fewer.json").write_text(call("score qrels.txt worse.txt -o json")[1])
    status, printed, said = call(command)
    assert (status, printed, said.count("\n")) == (2, "", 1)
    assert said.startswith(f"ndcg compare: {problem}")
    assert ("; --unpaired compares the means" in said) == ("different queries: 1" in problem)


LOW_QRELS = {"q1": {"a": 3, "b": 1, "c": 0, "z": 2}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"a": 1, "b": 0}}
LOW_RUN = {"q1": {"c": 9, "u": 8, "b": 7, "a": 5, "d": 5}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"b": 2, "u": 1}}


def test_the_lowest_queries_are_shown_with_what_they_miss_and_what_ranks_before(call: Call, folder: Path) -> None:
    (folder / "qrels.txt").write_text(trec(LOW_QRELS, "qrels"))
    (folder / "low.txt").write_text(trec(LOW_RUN, "run"))
    printed = call("score qrels.txt low.txt -k 2 --worst 2")[1]
    rows = [re.split(r" {2,}", line.strip()) for line in printed.split("\n\n")[1].splitlines()]
    assert rows == [
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
    found = list(map(json.loads, call("score qrels.txt low.txt -k 2 --worst 2 -o jsonl")[1].splitlines()))
    assert [(row["query"], row["kind"], row["document"], row["rank"], row["last_rank"]) for row in found[:3]] == [
        ("q1", "missed", "a", 4, 5),
        ("q1", "missed", "z", None, None),
        ("q1", "missed", "b", 3, 3),
    ]
    assert json.loads(call("score qrels.txt low.txt -k 2 --worst 2 -o json")[1])["worst"] == found
    assert call("score qrels.txt low.txt -k 2 --worst 0") == call("score qrels.txt low.txt -k 2")
    assert "q2" in call("score qrels.txt low.txt -k 2 --worst all")[1]  # but not q3, without relevant documents
    assert "q3" not in call("score qrels.txt low.txt -k 2 --worst all")[1]


def test_of_the_whole_list_only_what_was_not_retrieved_is_missed(call: Call, folder: Path) -> None:
    (folder / "qrels.txt").write_text(trec(LOW_QRELS, "qrels"))
    (folder / "low.txt").write_text(trec(LOW_RUN, "run"))
    rows = map(json.loads, call("score qrels.txt low.txt --worst 5 -o jsonl")[1].splitlines())
    kinds = {(row["query"], row["kind"], row["document"]) for row in rows}
    assert {row for row in kinds if row[0] == "q1"} == {
        ("q1", "missed", "z"),
        *(("q1", "before", document) for document in "cud"),
    }


@pytest.mark.parametrize(("options", "n"), [("", 5), ("--worst 3", 3), ("--worst all", None)])
def test_compare_names_the_queries_that_lost_and_gained_most(
    call: Call, folder: Path, ndcg: Metric, options: str, n: int | None
) -> None:
    printed = call(f"compare qrels.txt main.txt worse.txt -k 5 {options}")[1]
    found = ndcg.compare(systems={"main": MAIN, "worse": WORSE}, references=QRELS, k=5, baseline="main")
    for table, did, only in zip(printed.split("\n\n")[2:4], ("lost", "gained"), ("losses", "gains"), strict=True):
        header, *lines = table.splitlines()
        assert header.startswith(f"queries that {did} most in nDCG@5 ")
        most = found.differences("worse", "main", n=n, only=only).to_pylist()
        assert [line.split()[0] for line in lines] == [row["query"] for row in most]
        assert [line.split()[-1] for line in lines] == [f"{row['difference']:+.4f}" for row in most]
    assert "queries that lost most" not in call("compare qrels.txt main.txt worse.txt -k 5 --worst 0")[1]
    (folder / "again.txt").write_text(trec(MAIN, "run"))
    for format_ in ("jsonl", "tsv"):
        assert call(f"compare qrels.txt main.txt again.txt --worst all -o {format_}") == (0, "", "")
        pairs = call(f"compare qrels.txt main.txt worse.txt -o {format_}")
        assert call(f"compare qrels.txt main.txt worse.txt --worst 0 -o {format_}") == pairs


@pytest.mark.parametrize("worst", ["4", "all"])
def test_programs_get_the_queries_that_lost_and_that_gained_most(call: Call, ndcg: Metric, worst: str) -> None:
    command = f"compare qrels.txt main.txt worse.txt -m nDCG@5,DCG@3 --worst {worst} -o"
    rows = list(map(json.loads, call(f"{command} jsonl")[1].splitlines()))
    found = ndcg.compare(
        systems={"main": MAIN, "worse": WORSE}, references=QRELS, measures=["nDCG@5", "DCG@3"], baseline="main"
    )
    expected = []
    for measure in found.measures:
        losses, gains = (
            found.differences("worse", "main", measure, None if worst == "all" else int(worst), only).to_pylist()
            for only in ("losses", "gains")
        )
        for row in [*losses, *reversed(gains)]:
            names = {"measure": measure, "run": "worse", "baseline": "main", "query": row["query"]}
            expected.append(
                {**names, "value": row["worse"], "baseline_value": row["main"], "difference": row["difference"]}
            )
    assert rows == expected
    header, *lines = call(f"{command} tsv")[1].splitlines()
    assert header.split("\t") == list(expected[0])
    assert [line.split("\t") for line in lines] == [list(map(str, row.values())) for row in expected]


@pytest.mark.parametrize("format_", ["text", "json"])
@pytest.mark.parametrize("command", ["score", "compare", "gate", "audit", "explain"])
def test_no_document_in_common_is_said_on_standard_error(call: Call, folder: Path, command: str, format_: str) -> None:
    other = {query: {f"doc-{document}": score for document, score in run.items()} for query, run in MAIN.items()}
    (folder / "other.txt").write_text(trec(other, "run"))
    runs = "other.txt" if command in ("audit", "explain") else "main.txt other.txt"
    cutoff = "-k 5" if command == "explain" else "-m nDCG@5"
    name = "predictions" if command == "explain" else "other"
    first = "first retrieved: query 'q0', document 'doc-d0'; first judged: query 'q0', document 'd0'"
    hint = "check that both sides have the same ids"
    said = f"ndcg {command}: {name}: no document was both retrieved and judged; {first}; {hint}\n"
    assert call(f"{command} qrels.txt {runs} {cutoff} -o {format_}")[2] == said


@pytest.mark.parametrize(
    ("form", "head", "row", "before"),
    [("qrels.txt", "# judgments\n\n", "{} 0 {} {}\n", 2), ("qrels.csv", "query,document,relevance\n", "{},{},{}\n", 1)],
)
def test_an_error_about_a_negative_relevance_names_its_first_line_for_every_run(
    call: Call, folder: Path, form: str, head: str, row: str, before: int
) -> None:
    negative = {query: QRELS[query] | {"d4": -1} for query in ("q7", "q3", "q30")}
    rows = [(query, *judged) for query, of in (QRELS | negative).items() for judged in of.items()]
    (folder / form).write_text(head + "".join(row.format(*each) for each in rows))
    few = {query: dict(list(run.items())[: 1 if query == "q3" else 12]) for query, run in MAIN.items()}
    (folder / "few.txt").write_text(trec(few, "run"))
    problem = (
        f"{form}: line {before + 3 * 12 + 5}: query 'q3', document 'd4': the relevance -1 is negative; "
        "--negative-relevance clip counts it as gain 0, as --convention trec_eval does, --negative-relevance keep as "
        "it is; --ignore-index removes padding\n"
    )
    for command in (
        "score {} main.txt",
        "score {} few.txt main.txt",
        "compare {} main.txt few.txt",
        "audit {} few.txt",
        "gate {} main.txt few.txt --missing empty --convention trec_eval --negative-relevance raise",
    ):
        assert call(command.format(form)) == (2, "", f"ndcg {command.split()[0]}: {problem}")
    for name, excluded in (("all.json", negative), ("some.json", ("q3", "q30"))):
        (folder / name).write_text(json.dumps({query: ["d4"] for query in excluded}))
    for allowed in ("--convention trec_eval", "--negative-relevance clip", "--ignore-index -1", "--exclude all.json"):
        assert call(f"score {form} main.txt {allowed}")[0] == 0
    said = call(f"score {form} main.txt --exclude some.json")[2]
    assert f"line {before + 7 * 12 + 5}: query 'q7'" in said


def test_audit_counts_the_judgments_behind_a_score(call: Call, folder: Path, ndcg: Metric) -> None:
    run = {query: dict.fromkeys(documents, 1.0) for query, documents in MAIN.items() if query != "q7"}
    run |= {"q0": MAIN["q0"], "q1": run["q1"] | {"unjudged": 2.0}, "other": {"d1": 1}}
    qrels = QRELS | {"q2": dict.fromkeys(QRELS["q2"], 0)}
    (folder / "run.txt").write_text(trec(run, "run"))
    (folder / "qrels.txt").write_text(trec(qrels, "qrels"))
    lines = map(json.loads, call("audit qrels.txt run.txt -k 5 -o jsonl")[1].splitlines())
    rows = {row["finding"]: row for row in lines}
    score = ndcg.report(predictions=run, references=qrels, k=5).scores["nDCG@5"]
    for finding, value, queries in (
        ("judged", 40, None),
        ("missing from the run", 1, "q7"),
        ("only in the run", 1, "other"),
        ("no relevant documents", 1, "q2"),
        ("all documents relevant", 0, ""),
        ("unjudged nDCG@5", 1, None),
        ("worst nDCG@5", score.worst, None),
        ("best nDCG@5", score.best, None),
        ("random order nDCG@5", score.random_order, None),
    ):
        assert rows[finding]["value"] == pytest.approx(value)
        assert queries is None or rows[finding]["queries"] == queries
    assert rows["affected by ties (nDCG@5)"]["value"] == 37  # all but q0, q2 and q7


def test_explain_names_the_convention_that_gives_a_score(call: Call, ndcg: Metric) -> None:
    number = f"{ndcg.compute(predictions=MAIN, references=QRELS, k=5, convention='lightgbm')['nDCG@5']:.6f}"
    status, printed, _ = call(f"explain qrels.txt main.txt -k 5 --got {number} -o json")
    found = ndcg.explain(predictions=MAIN, references=QRELS, k=5, got=number)
    assert status == 0
    assert json.loads(printed) == json.loads(json.dumps(found.to_dict()))
    assert "lightgbm" in found.matches
    text = call(f"explain qrels.txt main.txt -k 5 --got {number}")[1]
    assert text.startswith("\n".join(str(found).splitlines()[:5]))


def test_explain_names_options_as_arguments_of_the_shell(call: Call, ndcg: Metric) -> None:
    inputs = {"predictions": MAIN, "references": QRELS}
    number = ndcg.compute(**inputs, k=5, discount="reciprocal", judged_only=True)["nDCG@5"]
    way = ndcg.explain(**inputs, k=5, got=f"{number:.6f}").combinations[0]
    printed = call(f"explain qrels.txt main.txt -k 5 --got {number:.6f}")[1]
    assert f" gives {number:.6g} ({way.flags}).\n" in printed
    assert "convention=" not in printed
    assert "True" not in printed


def test_explain_takes_the_values_that_trec_eval_prints_from_files_and_pipes(call: Call, folder: Path) -> None:
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
    for got in ("of_all.txt -k 10", "of_all.txt -m nDCG@10", "of_all.gz -m nDCG -k 10", "at_10.txt"):
        assert call(f"{command} {got}") == expected
    with pipe_of(content) as pipe:
        assert call(f"{command} {pipe} -k 10") == expected
    with pipe_of(gzip.compress(content)) as pipe, standard_input(pipe):
        assert call(f"{command} - -k 10") == expected
    said = call(f"{command} cuts.txt")[2]
    assert said.startswith("ndcg explain: got: cuts.txt: holds nDCG@5 and nDCG@10 and ")
    assert said.endswith(", not nDCG; choose -m nDCG@5 or -k 5\n")


@pytest.mark.parametrize("form", ["tsv", "jsonl", "json"])
def test_explain_takes_the_values_that_score_prints(call: Call, folder: Path, form: str) -> None:
    printed = call(f"score qrels.txt main.txt -q -m nDCG@3,nDCG@5,DCG --convention lightgbm -o {form}")[1]
    (folder / "values").write_text(printed)
    found = json.loads(call("explain qrels.txt main.txt -m nDCG@5 --got values -o json")[1])
    assert (found["measure"], "lightgbm" in found["matches"], "sklearn" in found["matches"]) == ("nDCG@5", True, False)


@pytest.mark.parametrize(
    "command",
    ["score qrels.txt main.txt", "score qrels.txt main.txt worse.txt", "compare qrels.txt main.txt worse.txt"],
)
def test_a_plot_is_saved_in_addition_to_the_table(call: Call, folder: Path, command: str) -> None:
    assert call(f"{command} --plot figure.svg")[0] == 0
    assert "<svg" in (folder / "figure.svg").read_text()


@pytest.mark.parametrize("name", ["x.gif", "."])
def test_a_plot_is_a_picture_of_three_kinds(call: Call, folder: Path, name: str) -> None:
    before = sorted(folder.iterdir())
    status, _, said = call(f"score qrels.txt main.txt --plot {name}")
    assert (status, said) == (2, f"ndcg score: --plot {name}: must end in .png, .svg or .pdf\n")
    assert sorted(folder.iterdir()) == before


PAIRED = ("compare", "gate")
ONCE = "standard input, -, can be read only once; give the other files by their names"
BAD = {
    "score qrels.txt none.txt": "none.txt: No such file or directory",
    "score qrels.txt empty.txt": "empty.txt: holds no scores; give at least one query with a document",
    "gate qrels.txt main.txt other.txt": "other.txt: has no query in common with qrels.txt: its first query "
    "is 'x0', and the first query of qrels.txt is 'q0'",
    "score qrels.txt line.txt": "line.txt: line 3: the score '2.x' is not a number",
    "audit qrels.txt twice.txt": "twice.txt: line 3: document 'd0' of query 'q0' is in line 1 already",
    "compare qrels.txt main.txt part.txt": "part: no ranking for query 'q1', which 'main' has (39 such queries); "
    "--missing empty counts it as having retrieved nothing there, --missing skip skips the query for all systems",
    "score qrels.txt table.csv --query member": "table.csv: no column is called member; the file has "
    "'user', 'item', 'score'",
    "score qrels.txt main.txt --by by.txt": "by.txt: line 2: 3 columns; the first line has 2",
    "gate qrels.txt broken.json main.txt": "broken.json: line 1, column 18: not JSON: Expecting ',' delimiter",
    "gate qrels.txt two.json main.txt": "two.json: is not the result of one run, whole and unchanged, "
    "as saved by ndcg score -o json; save it again",
    "score qrels.txt main.txt --ties avrage": '--ties must be one of "average", "first", "last", "best", "worst", '
    '"docid"; got \'avrage\'; did you mean "average"?',
    "score qrels.txt main.txt -k ten": "argument -k: must be numbers of ranks, such as 10 or 5,10,all; got 'ten'; "
    "see ndcg score --help",
    "gate qrels.txt main.txt worse.txt --alpha 5": "--alpha must be from 0 to 1, such as 0.05; got 5.0",
    "gate qrels.txt main.txt worse.txt --alpha nan": "--alpha must be from 0 to 1, such as 0.05; got nan",
    "gate qrels.txt main.txt worse.txt --max-drop inf": "--max-drop must be a finite number, at least 0, in units of "
    "the measure; got inf",
    "gate qrels.txt main.txt worse.txt --max-drop nan": "--max-drop must be a finite number, at least 0, in units of "
    "the measure; got nan",
    "gate qrels.txt main.txt worse.txt --seed -1": "--seed must be an integer, at least 0; got -1",
    "compare qrels.txt main.txt worse.txt --alternative greater --margin nan": "--margin must be a finite number, at "
    "least 0, in units of the measure; got nan",
    **{
        f"{command} --confidence nan": "--confidence must be between 0 and 1, such as 0.95; got nan"
        for command in ("score qrels.txt main.txt", *(f"{each} qrels.txt main.txt worse.txt" for each in PAIRED))
    },
    **{
        f"score qrels.txt main.txt -m {name}": f"measures: {name} is nDCG@10 here"
        for name in ("ndcg_cut_10", "ndcg_cut.10")
    },
    "compare qrels.txt main.txt worse.txt --worst -1": "--worst must be an integer, at least 0; got -1",
    "score qrels.txt main.txt -p 17": "--places must be an integer, at least 0 and at most 16; got 17",
    "score qrels.txt - --by -": ONCE,
    "explain qrels.txt - --got -": ONCE,
    "explain qrels.txt main.txt -m DCG": "-m must be nDCG, such as nDCG@10: explain knows no other measure",
    "explain qrels.txt main.txt -m nDCG@5,nDCG@10": "-k must be one cutoff, since a score has one",
    "score qrels.txt - --exclude /dev/stdin": ONCE,
    "score qrels.txt main.txt --by long.txt": "long.txt: line 1: field larger than field limit (131072)",
    "score qrels.txt main.txt --by twice.json": "twice.json: 'q0' appears twice in one object, {'q0': 'fr'}; give "
    "each id once",
    "score qrels.txt main.txt --by deep.json": "deep.json: nests objects too deep",
    "score qrels.txt main.txt --max-drop 3": "unrecognized arguments: --max-drop 3; see ndcg score --help",
    "gate qrels.txt main.txt worse.txt --nosuch": "unrecognized arguments: --nosuch; see ndcg gate --help",
    "score qrels.txt main.txt --gain exp": '--gain must be one of "linear", "exponential", "binary"; got \'exp\'; did '
    'you mean "exponential"?',
    "score negative.txt main.txt": "negative.txt: line 1: query 'q0', document 'd0': the relevance -1 is negative; "
    "--negative-relevance clip counts it as gain 0, as --convention trec_eval does, --negative-relevance keep as it "
    "is; --ignore-index removes padding",
    "score qrels.txt": "the following arguments are required: RUN; see ndcg score --help",
    "score - -": ONCE,
    "score qrels.txt main.txt main.txt": "main.txt is given twice; pass each run once",
    "score qrels.txt main.txt -k 3 --discount 1,.5": ("discount lists 2 ranks, but 3 count; list more, or give -k 2"),
    **{
        f"{command} qrels.txt main.txt -o junit": "only ndcg gate writes -o junit; choose another format"
        for command in ("score", "audit", "explain", "compare worse.txt")
    },
    "explain qrels.txt main.txt -k 5,10": "-k must be one cutoff, since a score has one",
}


@pytest.mark.parametrize("command", BAD)
def test_bad_input_ends_in_a_sentence_with_the_file_and_the_line(call: Call, folder: Path, command: str) -> None:
    lines = trec(MAIN, "run").splitlines(keepends=True)
    for name, content in {
        "empty.txt": "",
        "other.txt": trec({f"x{at}": run for at, run in enumerate(MAIN.values())}, "run"),
        "line.txt": "".join(lines[:2]) + "q0 Q0 d2 1 2.x tag\n",
        "twice.txt": "".join([*lines[:2], lines[0]]),
        "part.txt": "".join(lines[:3]),
        "table.csv": "user,item,score\nq0,d1,2\n",
        "by.txt": "q0 en\nq1 de fr\n",
        "negative.txt": "q0 0 d0 -1\nq1 0 d0 1\n",
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
