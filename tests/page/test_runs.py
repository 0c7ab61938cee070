"""Uploaded runs: their names, their results, what the tab shows of them, and a query of theirs as a ranking."""

import base64
import html
import io
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from conftest import NOTHING_IN_COMMON

from page import results
from page.choices import CONVENTIONS, DOCUMENTS, LINKED, bar_of, options_of
from page.contributions import Ranking
from page.events import MendableError
from page.metric import ndcg
from page.queries import EXTREMES, query_bars, side_by_side
from page.results import RUNS, read_files, results_of, rows_of_query, run_names
from page.runs import Shown, show_results, take_choice, take_offer

BAR = bar_of("sklearn")


def test_runs_are_named_by_their_files_each_by_a_name_of_its_own() -> None:
    paths = ["1/bm25.run", "2/bm25.txt.gz", "3/bm25.CSV", "4/.run", "5/bm25.jsonl.zst", "6/v1.2"]
    assert run_names(paths) == dict(
        zip(["bm25", "bm25 (2)", "bm25 (3)", ".run", "bm25 (4)", "v1.2"], paths, strict=True)
    )


def written(folder: Path, **texts: str) -> dict[str, str]:
    """The paths of files with these texts, by their names."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: str(folder / name) for name in texts}


def files(folder: Path, runs: dict[str, dict[str, list[str]]], qrels: dict[str, dict[str, int]]) -> tuple[str, Any]:
    """The paths of qrels, and of runs that list the documents of each query."""
    judged = "".join(f"{query} 0 {d} {r}\n" for query, documents in qrels.items() for d, r in documents.items())
    texts = {
        name: "".join(f"{q} Q0 {d} 1 {-at} t\n" for q, documents in run.items() for at, d in enumerate(documents))
        for name, run in runs.items()
    }
    paths = written(folder, qrels=judged, **texts)
    return paths.pop("qrels"), tuple(paths.values())


QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 2}, "q3": {"a": 1}}
TWO = {"x": {"q1": ["a", "b"], "q2": ["a"]}, "y": {"q1": ["b"], "q3": ["z"], "q4": ["a"]}}


def test_results_are_those_of_the_metric(tmp_path: Path) -> None:
    qrels, runs = files(tmp_path, TWO, QRELS)
    found = results_of(qrels, runs, None, ("1,10", *BAR[1:]))
    for at, run in enumerate("xy"):
        given = {"predictions": runs[at], "references": qrels, "k": [1, 10]}
        assert {name: score.value for name, score in found.scores[run].items()} == pytest.approx(ndcg.compute(**given))
        for name, values in ndcg.compute(**given, use_aggregator=False).items():
            assert found.values[name, run].tolist() == pytest.approx(values)
    assert found.values.index.tolist() == ["q1", "q2", "q3"]
    assert found.missing == {"x": ["q3"], "y": ["q2"]}
    assert found.audit == {"x": [3, 2, 0], "y": [3, 3, 1]}
    alone = results_of(qrels, runs[:1], None, ("1,10", *BAR[1:]))
    assert alone.values["nDCG@10", "x"].tolist() == found.values["nDCG@10", "x"].tolist()
    assert alone.pairs == ()


def test_runs_of_distances_are_shown_as_runs_of_scores_once_the_lowest_ranks_first(tmp_path: Path) -> None:
    qrels, runs = files(tmp_path, TWO, QRELS)
    expected = show_results("{}", qrels, [*runs], None, *BAR)
    texts = {Path(run).name: Path(run).read_text() for run in runs}
    distances = written(tmp_path, **{name: text.replace(" -", " ") for name, text in texts.items()})
    found = show_results("{}", qrels, [*distances.values()], None, *BAR[:-1], "ascending")
    assert found.view == expected.view
    assert found.beside == expected.beside
    assert "order:ascending" in found.signature


def test_the_same_run_twice_is_said_to_be_the_same(tmp_path: Path) -> None:
    qrels, runs = files(tmp_path, {"x": TWO["x"], "y": TWO["y"], "again": TWO["x"]}, QRELS)
    assert results_of(qrels, runs, None, tuple(BAR)).same == {"again": "x"}
    assert "again and x are the same run." in show_results("{}", qrels, [*runs], None, *BAR).view


def test_a_negative_relevance_is_counted_and_one_press_counts_it_as_0(tmp_path: Path) -> None:
    qrels, runs = files(tmp_path, TWO, {"q1": {"a": 1, "b": -1}, "q2": {"b": -2}})
    for some in (runs, runs[:1]):
        with pytest.raises(MendableError) as found:
            results_of(qrels, some, None, tuple(BAR))
        said = "qrels: line 2: query 'q1', document 'b': the relevance -1 is negative (2 such judgments)."
        assert str(found.value) == said
        mended = after_offer(found.value.offer, qrels, runs)
        assert results_of(qrels, runs, None, tuple(mended["bar"])).pairs


def test_distances_are_ranked_lowest_first_by_one_press(tmp_path: Path) -> None:
    lines = "query,document,distance\nq1,b,0.1\nq1,a,0.5\nq2,a,0.3\n"
    paths = written(tmp_path, **{"qrels": "q1 0 a 1\nq1 0 b 2\nq2 0 a 1\n", "l2.csv": lines})
    with pytest.raises(MendableError) as found:
        results_of(paths["qrels"], (paths["l2.csv"],), None, tuple(BAR))
    assert str(found.value) == "l2.csv: the column 'distance' is best where it is lowest."
    mended = after_offer(found.value.offer, paths["qrels"], [paths["l2.csv"]])
    (scores,) = results_of(paths["qrels"], (paths["l2.csv"],), None, tuple(mended["bar"])).scores.values()
    assert scores["nDCG@10"].value == 1


def after_offer(offer: tuple[str, str, str], qrels: str, runs: Any) -> dict[str, Any]:
    """The files, the convention and the bar after a button was pressed."""
    event = SimpleNamespace(name=offer[0], choice=offer[1])
    qrels_file, run_files, convention, *bar = take_offer(event, qrels, [*runs], "sklearn", *BAR)
    return {"qrels": qrels_file, "runs": run_files, "convention": convention, "bar": bar}


@pytest.mark.parametrize("convention", ["trec_eval", "ranx"])
def test_an_offer_of_a_convention_makes_its_choices(convention: str) -> None:
    after = after_offer(("convention", convention, ""), "qrels", ["run"])
    assert ndcg.signature(**options_of(*after["bar"])) == ndcg.signature(k=10, convention=convention)
    assert after["convention"] in CONVENTIONS
    assert (after["qrels"], after["runs"]) == ("qrels", ["run"])


def test_an_offer_of_an_option_keeps_the_others() -> None:
    after = after_offer(("missing", "skip", ""), "qrels", ["run"])
    assert after["bar"] == [value if name != "missing" else "skip" for name, value in zip(LINKED, BAR, strict=True)]


def test_a_run_uploaded_as_qrels_is_noticed(tmp_path: Path) -> None:
    trec = written(tmp_path, qrels="q 0 a 1\nq 0 b 0\n", run="q Q0 a 1 2.5 t\n", other="q Q0 b 1 0.5 t\n")
    table = written(tmp_path, beir="query-id\tcorpus-id\tscore\nq\ta\t1\n", json='{"q": {"a": 0.5, "b": 0.1}}')

    def offered(qrels_file: str, *run_files: str) -> str:
        with pytest.raises(MendableError, match="in each other's place") as found:
            results_of(qrels_file, run_files, None, tuple(BAR))
        name, at, _ = found.value.offer
        assert name == "swap"
        return at

    assert offered(trec["run"], trec["qrels"]) == "0"
    assert offered(trec["run"], trec["other"], trec["qrels"]) == "1"
    assert offered(trec["run"], table["beir"]) == "0"
    assert offered(table["json"], trec["qrels"]) == "0"
    with pytest.raises(ValueError, match=r"^run: line 1: 6 columns; .*swapped\?$") as problem:
        results_of(trec["run"], (trec["other"],), None, tuple(BAR))
    assert not isinstance(problem.value, MendableError)
    assert results_of(table["json"], (table["beir"],), None, tuple(BAR)).scores  # each could be either
    with pytest.raises(MendableError) as found:
        results_of(trec["run"], (trec["other"], trec["qrels"]), None, tuple(BAR))
    after = after_offer(found.value.offer, trec["run"], (trec["other"], trec["qrels"]))
    assert (after["qrels"], after["runs"]) == (trec["qrels"], [trec["other"], trec["run"]])


def test_runs_are_limited_in_number_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, (run, _) = files(tmp_path, TWO, QRELS)
    assert len(read_files(qrels, [run] * RUNS)[1]) == RUNS == 20
    with pytest.raises(ValueError, match=r"^21 runs; at most 20 are compared\."):
        read_files(qrels, [run] * 21)
    for unit, most in (("bytes", Path(run).stat().st_size * 3), ("rows", 9)):  # of three runs
        monkeypatch.setattr(results, "TOGETHER", {"bytes": 10**9, "rows": 10**9, unit: most})
        read_files(qrels, [run] * 3)
        with pytest.raises(ValueError, match=f"^The runs hold more than {most} {unit} together"):
            read_files(qrels, [run] * 4)


def test_the_tab_shows_samples_until_it_has_files() -> None:
    shown = show_results("{}", None, None, None, *BAR)
    assert "These are two sample runs." in shown.view
    assert "is missing from dense and counts as 0" in shown.view
    assert "<h2 role='status'>dense is better than bm25.</h2>" in shown.view
    for half in (("qrels", None), (None, ["run"])):
        assert (
            show_results("{}", *half, None, *BAR).view == "<p class='note'>Upload the qrels and at least one run.</p>"
        )


def test_an_error_is_shown_in_place_of_the_results() -> None:
    view, *others = show_results("{}", None, None, None, "x", *BAR[1:])
    assert "'x' is not a cutoff" in html.unescape(view)
    assert others == [None] * (len(Shown._fields) - 1)


def test_all_numbers_are_those_of_the_comparison(tmp_path: Path) -> None:
    qrels, runs = files(tmp_path, TWO, QRELS)
    groups = written(tmp_path, groups="q1,de\nq2,fr\nq3,de\n")["groups"]
    shown = show_results("{}", qrels, [*runs], groups, *BAR)
    by = {"q1": "de", "q2": "fr", "q3": "de"}
    found = ndcg.compare(systems=dict(zip("xy", runs, strict=True)), references=qrels, k=10, missing="empty", by=by)
    *tables, audit = (
        [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", table, re.DOTALL)]
        for table in re.findall("<table.*?</table>", shown.numbers.replace("&nbsp;", " "), re.DOTALL)
    )
    assert tables == [table[1:] for table in found.tables()]
    assert any("de" in row for table in tables for row in table)
    assert audit == [["x", "3", "2", "0", "1", "0", "0 of 3"], ["y", "3", "3", "1", "1", "0", "1 of 2"]]
    coded = re.findall("download='(.*?)' href='.*?base64,(.*?)'", shown.numbers)
    summary, queries = (pd.read_csv(io.BytesIO(base64.b64decode(data))) for _, data in coded)
    (pair,) = found.pairs
    assert summary["low_holm"].dropna().tolist() == pytest.approx([pair.low_holm], abs=1e-12)
    assert summary["value"].dropna().tolist() == pytest.approx([found.scores[run]["nDCG@10"].value for run in "xy"])
    assert queries["x nDCG@10"].tolist() == pytest.approx(found.queries.to_pandas()["nDCG@10"][:3].tolist())
    assert shown.signature == found.signature
    assert "\\begin{tabular}" in shown.latex
    assert found.to_markdown() in shown.markdown


@pytest.mark.parametrize(
    ("size", "said"),
    [
        # 4 queries that differ have 2^4 permutations, of which 2 are as extreme
        (4, "1 of 1 pairs cannot be significant: with 4 queries that differ, p is at least 0.1250."),
        (8, ""),
    ],
)
def test_too_few_queries_are_told(tmp_path: Path, size: int, said: str) -> None:
    queries = [f"q{at}" for at in range(size)]
    runs = {"x": {q: ["a", "b"] for q in queries}, "y": {q: ["b", "a"] for q in queries}}
    qrels, paths = files(tmp_path, runs, {q: {"a": 1} for q in queries})
    view = show_results("{}", qrels, [*paths], None, *BAR).view
    assert said in view
    assert ("cannot be significant" in view) == bool(said)


def test_one_query_is_shown_without_intervals(tmp_path: Path) -> None:
    qrels, runs = files(tmp_path, {"bad": {"q1": ["a", "b"]}, "good": {"q1": ["b", "a"]}}, {"q1": {"a": 1, "b": 2}})
    shown = show_results("{}", qrels, [*runs], None, *BAR)
    assert "One query cannot tell the 2 runs apart." in shown.view
    assert "good has nDCG@10 1.000, bad 0.860. Intervals and tests need more than one query." in shown.view
    assert "Query q1" in shown.beside


def test_a_query_opens_with_what_was_retrieved_and_what_was_missed() -> None:
    qrels = {"q": {"a": 2.0, "missed": 1.0, **{f"m{at}": 0.0 for at in range(DOCUMENTS)}}}
    rows, what = rows_of_query({"q": {"x": 1.5, "a": 2.0}}, qrels, "q", "one", "descending")
    assert rows[:3] == [["a", "2", "2"], ["x", "", "1.5"], ["missed", "1", ""]]
    assert len(rows) == DOCUMENTS
    assert what == f"Query q by one, {DOCUMENTS} of {DOCUMENTS + 3} documents"
    rows, what = rows_of_query({"p": {"x": 1.0}}, qrels, "q", "two", "descending")
    assert rows[0] == ["a", "2", ""]
    assert what.startswith("Query q by two")


@NOTHING_IN_COMMON
@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("runs", [["other"], ["other", "same"]])
def test_a_warning_says_that_a_run_has_no_document_in_common_with_the_qrels(
    tmp_path: Path, queries: int, runs: list[str]
) -> None:
    lines = {"qrels": "q{} 0 7 1\n", "other": "q{} Q0 doc7 1 0.5 t\n", "same": "q{} Q0 7 1 0.5 t\n"}
    paths = written(tmp_path, **{name: "".join(map(line.format, range(queries))) for name, line in lines.items()})
    shown = show_results("{}", paths["qrels"], [paths[name] for name in runs], None, *BAR)
    ids = "first retrieved: query 'q0', document 'doc7'; first judged: query 'q0', document '7'"
    assert html.escape(f"No document was both retrieved and judged; {ids}") in shown.view


def test_a_choice_is_kept_until_another_one() -> None:
    def chosen(now: str, name: str, choice: str) -> str:
        return take_choice(now, SimpleNamespace(name=name, choice=choice))

    assert chosen('{"measure": "nDCG@1"}', "other", "x") == '{"measure": "nDCG@1", "other": "x"}'
    assert chosen('{"measure": "nDCG@1", "other": "x"}', "base", "y") == '{"measure": "nDCG@1", "base": "y"}'


def test_bars_have_their_ends_named_and_gains_on_top() -> None:
    size = 40
    values = pd.Series({f"q{at}": 1 - at / 16 for at in range(size)}) / 2  # of which 16 are gains
    values["<i>"] = math.nan
    shown = query_bars(values.sample(frac=1, random_state=0), ("x", "y"), "nDCG", {"x": [], "y": ["q39"]}, "q0")
    named, folded = re.sub("<details>.*</details>", "", shown), re.search("<details>.*</details>", shown)
    assert folded
    ends = [*range(EXTREMES), *range(size - EXTREMES, size)]
    assert re.findall("data-query='q(.*?)'", named) == list(map(str, ends))
    assert re.findall("data-query='q(.*?)'", folded[0]) == list(map(str, range(EXTREMES, size - EXTREMES)))
    assert f"<summary>{size - 2 * EXTREMES} more<" in folded[0]
    places = [tuple(map(float, each)) for each in re.findall("style='left:(.*?)%;width:(.*?)%'", named)]
    widest = 23 / 16  # of the last
    for at, (left, width) in zip(ends, places, strict=True):
        value = (1 - at / 16) / widest
        assert width == pytest.approx(50 * abs(value), abs=0.1)
        assert left == pytest.approx(50 if value > 0 else 50 - width, abs=0.1)
    assert "← y better on 23<" in shown
    assert ">x better on 16 →" in shown
    assert re.findall("class=chosen.*?Open query (.*?)'", shown) == ["q0"]
    assert re.findall(">(q[^<]*)</button> <small>missing", shown) == ["q39"]
    assert "<i>" not in shown


def test_few_queries_and_those_of_one_run_are_all_named_and_the_worst_come_first() -> None:
    shown = query_bars(pd.Series({"a": 0.5, "b": 0.25, "c": math.nan}), ("x",), "nDCG", {"x": ["b"]})
    assert re.findall("data-query='(.)'.*?left:(.*?)%;width:(.*?)%.*?number'>(.*?)<", shown) == [
        ("b", "0", "50", "0.250"),
        ("a", "0", "100", "0.500"),
    ]
    assert "<details>" not in shown


def test_a_document_says_where_the_other_run_has_it() -> None:
    rankings = {
        "x": Ranking(["a", "<b>", "c"], [3.0, None, 1.0], [2.0, 1.0, None]),
        "y": Ranking(["<b>", "c", "a"], [None, 1.0, 3.0], [2.0, 1.0, 0.5]),
    }
    sums = {"x": {"nDCG@2": 0.9, "DCG@2": 3.0, "IDCG@2": 3.6}, "y": {"nDCG@2": 0.1, "DCG@2": 0.6, "IDCG@2": 3.6}}
    html = side_by_side("<q>", rankings, sums, options_of("3", *bar_of("sklearn")[1:]))
    up, down = [("up", f"↑ {rank} there") for rank in (3, 2)], ("down", "↓ 1 there")
    where = [up[0], down, up[1], ("up", "not there"), down]
    assert re.findall("<small class='(.*?)'>(.*?)</small>", html) == where
    assert "Relevant, not retrieved: c (relevance 1)" in html
    assert re.findall("<h3>(.*?)</h3><p>(.*?) <", html) == [
        ("x: nDCG@2 0.9000", "DCG 3.0000 ÷ ideal 3.6000"),
        ("y: nDCG@2 0.1000", "DCG 0.6000 ÷ ideal 3.6000"),
    ]
    assert re.findall("aria-label='(relevance .*?|not judged)'>(.*?)</span>", html)[:2] == [
        ("relevance 3", "<i class=on></i>" * 3),
        ("not judged", "not judged"),
    ]
    assert not {"<b>", "<q>"} & set(re.findall("<.*?>", html))


def test_a_query_that_is_missing_from_a_run_says_so() -> None:
    rankings = {"x": Ranking(["a"], [1.0], [2.0]), "y": Ranking(["a"], [1.0], [None])}
    found = {"nDCG": 1.0, "DCG": 1.0, "IDCG": 1.0}
    html = side_by_side("q", rankings, {"x": found, "y": dict.fromkeys(found, math.nan)}, options_of("", *BAR[1:]))
    assert html.count("This query is missing from y: nothing was retrieved.") == 1
    assert "missing from x" not in html
    assert "<h3>y: nDCG skipped</h3>" in html


def test_documents_that_share_ranks_have_the_one_in_the_middle() -> None:
    one = Ranking(["a", "b", "c"], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0])
    other = one._replace(score=[3.0, 2.0, 2.0])
    sums = {"nDCG": 1.0, "DCG": 1.0, "IDCG": 1.0}
    html = side_by_side("q", {"one": one, "two": other}, {"one": sums, "two": sums}, options_of("", *BAR[1:]))
    where = [("same", "1 there"), ("up", "↑ 2–3 there"), ("down", "↓ 2–3 there")]
    where += [("same", "1 there"), ("down", "↓ 2 there"), ("up", "↑ 3 there")]
    assert re.findall("<small class='(.*?)'>(.*?)</small>", html) == where
    assert html.count("<li class='tied' data-tied='2–3'>") == 2


def test_the_numbers_of_a_query_are_of_all_its_documents(tmp_path: Path) -> None:
    """Only a part of them is drawn: up to the cutoff, and those tied with one there."""
    size = DOCUMENTS + 100
    qrels = {"q": {f"d{at}": at % 4 for at in range(size)}, "p": {"d1": 1}}
    qrels_file, runs = files(tmp_path, {"run": {"q": [f"d{at * 7 % size}" for at in range(size)]}}, qrels)
    shown = show_results('{"measure": "nDCG@5"}', qrels_file, [*runs], None, "5", *BAR[1:])
    assert shown.beside.count("<span class='card") == 5
    found = ndcg.compute(predictions=runs[0], references={"q": qrels["q"]}, k=5, measures=["nDCG", "DCG", "IDCG"])
    assert f"run: nDCG@5 {found['nDCG@5']:.4f}" in shown.beside
    assert f"DCG {found['DCG@5']:.4f} ÷ ideal {found['IDCG@5']:.4f}" in shown.beside
